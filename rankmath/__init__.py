"""rankmath: is a statement about attention and rank collapse true? With the proof.

Names are loaded on first use, so that ``import rankmath`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rankmath.version import __version__

# name -> module that defines it; the public interface, in one place.
_HOME: dict[str, str] = {
    "LayerNorm": "rankmath.network",
    "MLP": "rankmath.network",
    "Mask": "rankmath.linalg.masks",
    "Network": "rankmath.network",
    "Outcome": "rankmath.statements.verdict",
    "Statement": "rankmath.statements.statement",
    "all_ranks": "rankmath.counterexamples.equilibria",
    "attention_matrices": "rankmath.dynamics.plain",
    "Certificate": "rankmath.certify.certificate",
    "bound": "rankmath.symbolic.bounds",
    "certify": "rankmath.statements.engine",
    "certify_equilibrium": "rankmath.counterexamples.certify_equilibrium",
    "check": "rankmath.certify.checker",
    "decay": "rankmath.dynamics.decay",
    "depth_to_tolerance": "rankmath.symbolic.depth",
    "diameter": "rankmath.linalg.diameters",
    "dobrushin": "rankmath.linalg.stochastic",
    "exact_product": "rankmath.linalg.stochastic",
    "exact_residual_bounds": "rankmath.linalg.exact_residuals",
    "forward": "rankmath.dynamics.plain",
    "layernorm_equilibrium": "rankmath.counterexamples.equilibria",
    "mu": "rankmath.linalg.diameters",
    "path_counts": "rankmath.dynamics.paths",
    "path_sums": "rankmath.dynamics.paths",
    "path_term": "rankmath.dynamics.paths",
    "hilbert_distance": "rankmath.linalg.stochastic",
    "is_row_stochastic": "rankmath.linalg.stochastic",
    "oscillation": "rankmath.linalg.stochastic",
    "reference_trace": "rankmath.dynamics.reference",
    "residual": "rankmath.linalg.residuals",
    "residual_lower_bound": "rankmath.linalg.residuals",
    "row_softmax": "rankmath.linalg.softmax",
    "statements": "rankmath.statements.registry",
    "total_variation": "rankmath.linalg.stochastic",
    "trace": "rankmath.dynamics.trace",
    "verify": "rankmath.statements.engine",
    "verify_statement": "rankmath.statements.engine",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'rankmath' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
