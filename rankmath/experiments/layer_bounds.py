"""How much of a network's collapse each theorem says, layer by layer: `layer_bounds`.

For attention alone, on tokens measured at layer l−1, each bound of layer l in its own quantity:

- own:diameter (ℓ₂): Δ' ≤ Δ Σ_h ‖W_h‖₂ tanh(‖W_QK,h‖₂ Δ²/(4√d_qk));
- dong2021:2.3, as printed in 2021 (γ = 1), about the token mean: r' ≤ (4Hβ/√d_qk) r³, r = ‖res‖_{1,∞}, β = max_h
  ‖W_QK,h‖₁‖W_h‖_{1,∞};
- wu2024:1 on the complete mask, its constant explicit and summed over heads: μ' ≤ √(n/2) Σ_h ‖W_h‖₂ (1 − ε_h) μ,
  ε_h = min P_h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rankmath.attention.plain import attention_matrices, check_one_sequence
from rankmath.dynamics.columns import _sigma, _whole
from rankmath.dynamics.trace import layers_centred
from rankmath.linalg.norms import composite
from rankmath.model.network import Attention, Network
from rankmath.validation import ArrayLike, Floats, InvalidArgument

KEYS = ("own:diameter", "dong2021:2.3", "wu2024:1")


@dataclass(frozen=True)
class LayerBound:
    """One theorem along the layers, natural logarithms, float64.

    Attributes
    ----------
    key : the theorem.
    measured : (L+1,) its quantity at every layer, the input first.
    step : (L,) its bound of layer l from what is measured at layer l−1.
    whole : (L,) its bound of layer l from the input alone.
    """

    key: str
    measured: tuple[float, ...]
    step: tuple[float, ...]
    whole: tuple[float, ...]

    @property
    def vacuous(self) -> tuple[bool, ...]:
        """Layers at which the step's bound does not say that anything shrinks."""
        return tuple(bound >= before for bound, before in zip(self.step, self.measured[:-1], strict=True))

    @property
    def share(self) -> tuple[float, ...]:
        """The part of the measured fall of the logarithm that the step's bound says; nan where nothing falls."""
        falls = [after - before for before, after in zip(self.measured[:-1], self.measured[1:], strict=True)]
        said = [bound - before for bound, before in zip(self.step, self.measured[:-1], strict=True)]
        return tuple(s / f if f < 0 else math.nan for s, f in zip(said, falls, strict=True))


def layer_bounds(net: Network, X: ArrayLike) -> tuple[LayerBound, ...]:
    """The three bounds on a network of attention alone, every token seeing every token.

    Examples
    --------
    >>> net = Network.random(tokens=6, dim=4, heads=2, layers=3, seed=0, head_dim=2)
    >>> for bound in layer_bounds(net, 0.1 * net.random_input(seed=1)):
    ...     print(bound.key, all(b >= a for b, a in zip(bound.step, bound.measured[1:])), bound.vacuous)
    own:diameter True (False, False, False)
    dong2021:2.3 True (True, False, False)
    wu2024:1 True (True, True, True)
    """
    from rankmath.arithmetic.float64 import Float64
    from rankmath.dynamics.trace import trace

    X = check_one_sequence(net, X, "layer_bounds")
    if not net.is_pure or any(a.mask_for(len(X)) is not None or a.position is not None for a in net.attentions):
        raise InvalidArgument("net: only attention alone, without mask and position term, has these bounds")
    states = list(layers_centred(Float64(X), net, X))
    run, n = trace(net, X), len(X)
    spreads = [_sigma(t) + math.log(composite(t.residual)) if t.residual.any() else -math.inf for t in states]
    measured = dict(zip(KEYS, (run.log_diameter.tolist(), spreads, run.log_residual.tolist()), strict=True))
    steps: dict[str, list[float]] = {key: [] for key in KEYS}
    wholes: dict[str, list[float]] = {key: [] for key in KEYS}
    for l, attention in enumerate(net.attentions):
        P = attention_matrices(
            Network.from_layers([net.sublayers[l]]), _whole(states[l])[0] * math.exp(_whole(states[l])[1])
        )
        sizes = _sizes(attention)
        for key in KEYS:
            steps[key].append(_step(key, measured[key][l], sizes, attention, P[0], n))
            before = wholes[key][-1] if wholes[key] else measured[key][0]
            # From the input alone nothing is known of later attention but that it is positive.
            known = P[0] if l == 0 else np.zeros_like(P[0])
            wholes[key].append(_step(key, before, sizes, attention, known, n))
    return tuple(LayerBound(key, tuple(measured[key]), tuple(steps[key]), tuple(wholes[key])) for key in KEYS)


@dataclass(frozen=True)
class _Sizes:
    W: Floats
    W_QK: Floats
    beta: float


def _sizes(attention: Attention) -> _Sizes:
    """Spectral norms of W_h and W_QK,h, and β."""
    W, W_QK, beta = [], [], 0.0
    for h in range(attention.heads):
        query = attention.query[h] if attention.key is None else attention.query[h] @ attention.key[h].T
        value = attention.value[h] if attention.output is None else attention.value[h] @ attention.output[h]
        W.append(_spectral(attention.value[h], None if attention.output is None else attention.output[h]))
        W_QK.append(_spectral(attention.query[h], None if attention.key is None else attention.key[h].T))
        beta = max(beta, float(np.abs(query).sum(axis=0).max()) * float(composite(value)))
    return _Sizes(np.asarray(W), np.asarray(W_QK), beta)


def _spectral(left: Floats, right: Floats | None) -> float:
    """‖left right‖₂ by the triangular factors of either."""
    if right is None:
        return float(np.linalg.norm(left, 2))
    first, second = np.linalg.qr(left)[1], np.linalg.qr(right.T)[1]
    return float(np.linalg.norm(first @ second.T, 2))


def _step(key: str, log_size: float, sizes: _Sizes, attention: Attention, P: Floats, n: int) -> float:
    root = math.sqrt(attention.d_qk)
    if log_size == -math.inf:
        return -math.inf
    if key == "own:diameter":
        logs = [
            math.log(w) + _log_tanh(math.log(q / (4 * root)) + 2 * log_size)
            for w, q in zip(sizes.W, sizes.W_QK, strict=True)
            if w and q
        ]
        return log_size + float(np.logaddexp.reduce(logs)) if logs else -math.inf
    if key == "dong2021:2.3":
        factor = 4 * attention.heads * sizes.beta / root
        return 3 * log_size + math.log(factor) if factor else -math.inf
    total = float((sizes.W * (1 - P.min(axis=(1, 2)))).sum()) * math.sqrt(n / 2)
    return log_size + math.log(total) if total else -math.inf


def _log_tanh(log_x: float) -> float:
    """log tanh(e^{log_x}), also where e^{log_x} leaves a double."""
    return log_x if log_x < -20 else math.log(math.tanh(math.exp(log_x))) if log_x < 3 else 0.0
