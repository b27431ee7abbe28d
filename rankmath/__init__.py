"""rankmath: is a statement about attention and rank collapse true? With the proof.

Names are loaded on first use, so that ``import rankmath`` costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from rankmath.version import __version__

# name -> module that defines it; the public interface, in one place.
_HOME: dict[str, str] = {
    "all_ranks": "rankmath.counterexamples.equilibria",
    "attention_matrices": "rankmath.dynamics.plain",
    "basins": "rankmath.dynamics.limits",
    "bound": "rankmath.symbolic.bounds",
    "campaign": "rankmath.campaign.run",
    "Certificate": "rankmath.certify.certificate",
    "certify": "rankmath.statements.engine",
    "certify_equilibrium": "rankmath.counterexamples.certify_equilibrium",
    "check": "rankmath.certify.checker",
    "decay": "rankmath.dynamics.decay",
    "depth_to_tolerance": "rankmath.symbolic.depth",
    "diameter": "rankmath.linalg.diameters",
    "dobrushin": "rankmath.linalg.stochastic",
    "exact_product": "rankmath.linalg.stochastic",
    "exact_residual_bounds": "rankmath.linalg.exact_residuals",
    "find_equilibria": "rankmath.counterexamples.equilibria_search",
    "forward": "rankmath.dynamics.plain",
    "hilbert_distance": "rankmath.linalg.stochastic",
    "is_row_stochastic": "rankmath.linalg.stochastic",
    "isolated_ranks": "rankmath.counterexamples.equilibria",
    "LayerNorm": "rankmath.network",
    "layernorm_equilibrium": "rankmath.counterexamples.equilibria",
    "limit": "rankmath.dynamics.limits",
    "Mask": "rankmath.linalg.masks",
    "MLP": "rankmath.network",
    "mu": "rankmath.linalg.diameters",
    "Network": "rankmath.network",
    "oscillation": "rankmath.linalg.stochastic",
    "Outcome": "rankmath.statements.verdict",
    "path_counts": "rankmath.dynamics.paths",
    "path_sums": "rankmath.dynamics.paths",
    "path_term": "rankmath.dynamics.paths",
    "reference_trace": "rankmath.dynamics.reference",
    "residual": "rankmath.linalg.residuals",
    "residual_lower_bound": "rankmath.linalg.residuals",
    "row_softmax": "rankmath.linalg.softmax",
    "Statement": "rankmath.statements.statement",
    "stable_cycle": "rankmath.counterexamples.equilibria_cycles",
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
    for part, module in vars(sys.modules.get(f"rankmath.{name}", ModuleType(name))).items():
        if isinstance(module, ModuleType):
            setattr(value, part, module)
    return value


def __dir__() -> list[str]:
    return __all__


class _Package(ModuleType):
    """`rm.certify`, `rm.campaign` and `rm.statements` stay functions when rooms of these names are imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _HOME and isinstance(value, ModuleType):
            value.__class__ = _Room
        else:
            super().__setattr__(name, value)


class _Room(ModuleType):
    """A room that shares its name with a function: ``import rankmath.certify.checker as c`` asks the function."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        function = vars(sys.modules["rankmath"]).get(self.__name__.rpartition(".")[2])
        if function is not None and isinstance(value, ModuleType):
            setattr(function, name, value)


sys.modules[__name__].__class__ = _Package
