"""shi2022:layernorm: what LayerNorm does to the spread of tokens, as printed and closer."""

from collections.abc import Iterator

import numpy as np

from rankmath.formula.arrays import defined
from rankmath.verification.claim import ArrayInstance, Rng, ours, proved
from rankmath.verification.papers import SHI

defined(
    "normed_mu(Y: array)",
    "U = [[Y[i][a]/sqrt(sum(Y[i][b]**2 for b in range(len(Y[0])))) for a in range(len(Y[0]))] for i in range(n)]; "
    "sqrt(sum((U[i][a] - sum(U[j][a] for j in range(n))/n)**2 for i in range(n) for a in range(len(Y[0]))))",
    "Frobenius norm about their mean of the rows, each divided by its ℓ₂ norm",
    by_name=True,
)
defined(
    "row_mu(Y: array)",
    "sqrt(sum((Y[i][a] - sum(Y[j][a] for j in range(n))/n)**2 for i in range(n) for a in range(len(Y[0]))))",
    "Frobenius norm of the rows about their mean",
    by_name=True,
)
defined(
    "length_mu(Y: array)",
    "l = [sqrt(sum(Y[i][a]**2 for a in range(len(Y[0])))) for i in range(n)]; sqrt(sum((l[i] - sum(l[j] for j in "
    "range(n))/n)**2 for i in range(n)))",
    "root of the sum of the squares of the rows' ℓ₂ norms about their mean",
    example="length_mu(Y) <= row_mu(Y)",
    by_name=True,
)
defined(
    "least_length(Y: array, k: layer)",
    "ordered([sqrt(sum(Y[i][a]**2 for a in range(len(Y[0])))) for i in range(n)])[k]",
    "the least ℓ₂ norm of a row (k = 0), or the least but one (k = 1), and so on",
    example="least_length(Y, 0) >= 0",
    by_name=True,
)


def draw_rows(rng: Rng, size: int) -> ArrayInstance:
    """Tokens of lengths that differ much or little, in a cap or all around."""
    n, d = int(rng.integers(3, 7)), int(rng.integers(2, 5))
    Y = 10.0 ** rng.uniform(-2, 0.5, (size, 1, 1)) * rng.standard_normal((size, n, d)) + rng.standard_normal(
        (size, 1, d)
    )
    return ArrayInstance({"Y": Y * 10.0 ** rng.uniform(-0.5, 0.5, (size, n, 1))}, "random", is_batch=True)


def one_length(rng: Rng) -> Iterator[ArrayInstance]:
    """Tokens of nearly one length: LayerNorm divides them all by it."""
    for off in (1e-2, 1e-7):
        angles = np.asarray([0.0, 0.5, 1.25, 2.0])
        scale = 3.0 * (1 + off * np.asarray([0.0, 0.3, -0.2, 1.0]))
        yield ArrayInstance({"Y": scale[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=-1)}, "one length")


shi2022_layernorm = proved(
    "shi2022:layernorm",
    "normed_mu(Y) <= row_mu(Y)/r_1",
    where={"r_1": "least_length(Y, 0)"},
    given="r_1 > 0",
    arrays={"Y": "n d, n >= 2, no zero row"},
    title="Spread of tokens after LayerNorm, by the least length",
    source=f"{SHI}, the factor of LayerNorm, as we read it: the distance to tokens that are all equal grows by at "
    "most 1/σ, σ the least length of a token (its deviation, where LayerNorm also subtracts each token's mean)",
    draws=(draw_rows,),
    extremal=one_length,
    sharp=True,
    share=0.5,
)

own_layernorm = ours(
    "own:layernorm",
    "normed_mu(Y)**2 <= (row_mu(Y)**2 - length_mu(Y)**2)/(r_1*r_2)",
    where={"r_1": "least_length(Y, 0)", "r_2": "least_length(Y, 1)"},
    given=("n >= 2", "r_1 > 0"),
    arrays={"Y": "n d, n >= 2, no zero row"},
    title="Spread of tokens after LayerNorm",
    draws=(draw_rows,),
    extremal=one_length,
    sharp=True,
    share=0.5,
    notes="An equality for two tokens, and for tokens of one length.",
)
