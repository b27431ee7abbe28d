"""wu2024:anisotropy: the equilibria of every rank are anisotropic."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from rankmath.formula.arrays import ArrayRun, Scalar, quantity
from rankmath.formula.run import scalar_function
from rankmath.linalg import norms
from rankmath.validation import Floats, Number, as_array, as_count
from rankmath.verification.claim import ArrayInstance, Rng, proved
from rankmath.verification.papers import WU


@dataclass(frozen=True, eq=False)
class ShiftInstance(ArrayInstance):
    """The equilibrium of W_V = I + wS of a given rank on `tokens` tokens; an adversary turns w."""

    tokens: int = 2
    rank: int = 2
    alternating: bool = True

    def select(self, index: int) -> "ShiftInstance":
        return replace(self, arrays={"w": self["w"][index]}, is_batch=False) if self.is_batch else self

    def vector(self) -> Floats:
        return np.asarray(self["w"], dtype=float).ravel()

    def at(self, vector: Floats) -> "ShiftInstance":
        return replace(self, arrays={"w": vector.reshape(np.shape(self["w"]))})


def anisotropy_instance(tokens: int, rank: int, w: float, alternating: bool = True) -> "ShiftInstance":
    """n tokens of rank k, 2 ≤ k ≤ n, and the number w; last coordinates of alternating signs, or all positive."""
    n = as_count("tokens", tokens, least=2)
    k = as_count("rank", rank, least=2, most=n)
    return ShiftInstance({"w": as_array("w", w, ndim=0)}, tokens=n, rank=k, alternating=bool(alternating))


@quantity(
    "spectral_gap(w: array)",
    latex=r"n-\|X\|_2^2",
    because="of an equilibrium that is built row by row",
    example="spectral_gap(w) >= 0",
)
def spectral_gap(run: ArrayRun, w: str) -> Scalar:
    """n − ‖X‖₂², X the equilibrium of rank k of n tokens in k dimensions under the causal mask, W_QK = 0 and
    W_V = I + wS, S with ones on the superdiagonal: the first n − k + 1 tokens are (0, …, 0, 1), then one is
    (−px_1/w, …, −px_{k−1}/w, ±√(1 − p²/w²)), x_0, …, x_{k−1} the entries of the one before it, p = n − k + 1 for
    the first of these and 1 for the others, with the signs + or by turns − and +"""
    A, shift = run.A, run.instance
    assert isinstance(shift, ShiftInstance)
    n, k = shift.tokens, shift.rank
    m = n - k + 1
    number = A.constant(float(shift["w"])) if A.unbounded else np.asarray(shift["w"], dtype=float)
    row: list[Number] = [0 * number] * (k - 1) + [0 * number + 1]
    rows = [row] * m
    for step in range(k - 1):
        pull = m if step == 0 else 1
        # Where w ≤ n − 1 there is no such token: the hypothesis fails, and any number will do.
        inside = 1 - pull * pull / (number * number)
        last = scalar_function(A, A.sqrt, inside if A.unbounded else np.maximum(inside, 0.0))
        row = [*(-x * pull / number for x in row[1:]), -last if shift.alternating and step % 2 == 0 else last]
        rows.append(row)
    gram = np.asarray([[sum(x * y for x, y in zip(p, q, strict=True)) for q in rows] for p in rows])
    largest = norms.symmetric_extremes(gram if A.unbounded else np.moveaxis(gram, (0, 1), (-2, -1)), A)[1]
    return run.number(n - largest)


@quantity(
    "shift_tokens(w: array)",
    latex="n",
    because="a size of what is built, which is no array",
    example="shift_tokens(w) >= 2",
)
def shift_tokens(run: ArrayRun, w: str) -> Fraction:
    """the number of tokens, at least 2"""
    assert isinstance(run.instance, ShiftInstance)
    return Fraction(run.instance.tokens)


@quantity(
    "shift_rank(w: array)",
    latex="k",
    because="a size of what is built, which is no array",
    example="shift_rank(w) >= 2",
)
def shift_rank(run: ArrayRun, w: str) -> Fraction:
    """the rank of the equilibrium, from 2 to n"""
    assert isinstance(run.instance, ShiftInstance)
    return Fraction(run.instance.rank)


def draw_anisotropy(rng: Rng, size: int) -> "ShiftInstance":
    n = int(rng.integers(2, 9))
    k = n if rng.random() < 0.5 else int(rng.integers(2, n + 1))
    w = (n - 1) * (1 + 10.0 ** rng.uniform(-3, 1, size))
    return ShiftInstance({"w": w}, "shift", True, tokens=n, rank=k, alternating=bool(rng.random() < 0.5))


def barely_wide(rng: Rng) -> Iterator[ShiftInstance]:
    """Two tokens with w near 1: nearly orthogonal, and the bound nearly attained."""
    for w in (1.1, 1 + 1e-8):
        yield ShiftInstance({"w": np.asarray(w)}, "two tokens", tokens=2, rank=2)


wu2024_anisotropy = proved(
    "wu2024:anisotropy",
    "spectral_gap(w) <= ((shift_tokens(w) - shift_rank(w) + 1)**2 + shift_rank(w) - 2)/w**2",
    given="w > shift_tokens(w) - 1",
    arrays={"w": ""},
    title="Anisotropy of the equilibria of every rank from two on",
    source=f"{WU}, section 4, at full rank; the form for rank k is ours",
    instance=anisotropy_instance,
    draws=(draw_anisotropy,),
    extremal=barely_wide,
    share=0.5,
    notes="n and k, 2 ≤ k ≤ n, are given beside w. So ‖X‖_F²/‖X‖₂² ≤ n/(n − (m² + k − 2)/w²), m = n − k + 1.",
)
