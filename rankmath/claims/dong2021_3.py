"""dong2021:3.1 and 3.3: skip connections can keep the residual; column LayerNorm is a right multiplication."""

import numpy as np

from rankmath.formula.arrays import Scalar
from rankmath.formula.language import fast
from rankmath.formula.numbers import Signed
from rankmath.formula.run import Run, exponent
from rankmath.linalg import norms
from rankmath.verification.claim import ALL_TOKENS, NetworkInstance, Rng, networks, proved
from rankmath.verification.draws import moderate_tokens
from rankmath.verification.papers import DONG


def draw_conserved_block(rng: Rng, size: int) -> NetworkInstance:
    """d = d₁ + d₂: W reads the first block and writes the second, with β from 1e-6 up."""
    d1, d2 = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    shape = (int(rng.integers(2, 6)), d1 + d2, int(rng.integers(1, 3)), int(rng.integers(1, 5)))
    batch = networks(moderate_tokens, shapes=(shape,), log_weights=(-6.0, 0.5), skip=1.0)(rng, size)
    W = np.array(batch.net.value)
    W[..., d1:, :] = 0
    W[..., :, :d1] = 0
    bias = np.array(batch.net.bias)
    bias[..., :d1] = 0
    X = np.array(batch.X)
    X[..., d1:] = 0
    return NetworkInstance(batch.net.replace(value=W, bias=bias), X, "conserved block")


dong2021_3_1 = proved(
    "dong2021:3.1",
    "residual(X[L], frobenius) >= residual(X[0], frobenius)",
    given=("skip == 1", "mask == any", "disjoint_blocks()"),
    title="Skip connections of disjoint blocks",
    source=f"{DONG}, section 3.1: infinitely many such networks exist; this family of them is ours",
    draws=(draw_conserved_block,),
)


@fast("normalised_norm")
def normalised_norm(run: Run, W: tuple[str, int, int], p: str) -> Scalar:
    if run.net.norm_kind == "sphere":  # without it the input would be another
        return run.by_text("normalised_norm", (W, p))
    A = run.A
    before = run.memory.setdefault("without LayerNorm", Run(A, run.net.replace(norm=None), run.X))
    tokens = before.tokens[1]
    R = tokens.residual
    deviation = A.sqrt(A.sum(R * R, axis=-2) / R.shape[-2])  # (..., 1, d), in units of e^σ
    scaled = run.weight(*W) / A.nonzero(deviation)
    size = norms.induced_norm(scaled, exponent(p), A)
    if A.unbounded:
        return size
    log_unit = tokens.log_residual.to_float()[..., 0, 0]
    # Where nothing is left to normalise any unit will do.
    return Signed.of(size) / Signed.positive(np.where(np.isfinite(log_unit), log_unit, 0.0))


dong2021_3_3 = proved(
    "dong2021:3.3",
    "all_p(diameter(X[1], p) <= sum_h(normalised_norm(W[0,h], p)"
    "*tanh(form_norm(W_QK[0,h], p)*diameter(X[0], p)**2/(4*sqrt(d_qk))))*diameter(X[0], p))",
    given=("layernorm == column", "layers == 1"),
    title="One layer with column LayerNorm: the diameter",
    source=f"{DONG}, section 3.3; the bound is ours",
    draws=tuple(networks(t, shapes=((2, 2, 1, 1), (4, 3, 2, 1), (6, 2, 1, 1)), norm="column") for t in ALL_TOKENS[:3]),
    notes="Column LayerNorm with ε = 0 makes of X, up to a constant row, Σ_h P_h X W_h S⁻¹; with ε > 0 the diameter "
    "is no larger. S depends on the tokens, so this is no collapse: with ε = 0 a column that is not constant is "
    "√n away from its mean after every layer.",
)
