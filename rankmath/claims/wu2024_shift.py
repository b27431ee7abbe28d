"""Wu et al. 2024, the values W_V = I + wS under the causal mask: equilibria of every rank, and Lemma 13."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import certify_invariant_set, certify_two_tokens, issue
from rankmath.claims.draws import Rng
from rankmath.claims.instance import ArrayInstance
from rankmath.claims.quantities import (
    log,
    log_positive,
    sqrt,
    symmetric_extremes,
)
from rankmath.claims.statement import Evaluation, Exact, Hypothesis, Side, Statement
from rankmath.claims.verdict import Outcome, Verdict
from rankmath.claims.wu2024_masks import PAPER
from rankmath.linalg.rationals import exact_matrix
from rankmath.validation import InvalidArgument, as_array, as_count

# -- 4.3.1: two tokens -------------------------------------------------------------------------------------


def rational(name: str, value: Any) -> Fraction:
    from rankmath.equilibria.wu2024 import exact_number

    number = exact_number(name, value)
    if not number.is_Rational:
        raise InvalidArgument(f"{name}: {number} given; a rational number is needed")
    return Fraction(int(number.p), int(number.q))


def two_token_instance(w: Any) -> ArrayInstance:
    """w > 1, rational."""
    number = rational("w", w)
    if number <= 1:
        raise InvalidArgument(f"w: {number} given; a number greater than 1 is needed")
    return ArrayInstance({"w": boxed([number])[0]})


def boxed(numbers: list[Any]) -> np.ndarray[Any, Any]:
    box = np.empty(len(numbers), dtype=object)
    box[:] = numbers
    return box


def decide_two_tokens(instance: ArrayInstance) -> Exact:
    """Token 2 beside (0, 1) rests at (0, 1) and (−1/w, ±s), with multipliers ½ and 1 ± s, and nowhere else."""
    import sympy as sp

    from rankmath.equilibria.wu2024 import two_token_example

    example = two_token_example(instance["w"])
    w, s = example.w, sp.sqrt(1 - 1 / example.w**2)
    fixed = all(_is_second_token(example.W_V, e.x, e.multiplier) for e in example.equilibria)
    claimed = [sp.Rational(1, 2), 1 + s, 1 - s]
    multipliers = all(sp.expand(e.multiplier - m) == 0 for e, m in zip(example.equilibria, claimed, strict=True))
    # (e₂ + x)W_V is parallel to x only where this cross product vanishes: x₁ = 0 or x₁ = −1/w.
    x1, x2 = sp.symbols("x1 x2")
    y = (sp.Matrix([[x1, x2 + 1]])) * example.W_V
    only = sp.expand(y[0] * x2 - y[1] * x1 + x1 * (1 + w * x1)) == 0
    stable = [e.is_stable for e in example.equilibria] == [True, False, True]
    points = ", ".join(str(tuple(e.x)) for e in example.equilibria)
    holds = bool(fixed and multipliers and only and stable)
    return Exact(holds, f"w = {w}: {points}, multipliers ½, 1 + s, 1 − s with s = {s}")


def _is_second_token(W_V: Any, x: Any, multiplier: Any) -> bool:
    """x on the circle, (e₂ + x)W_V = λx with λ > 0, and the multiplier is the derivative along the tangent."""
    import sympy as sp

    pulled = (x + sp.Matrix([[0, 1]])) * W_V
    scale = sp.expand(pulled.dot(x))
    tangent = sp.Matrix([[-x[1], x[0]]])
    derivative = sp.expand((tangent * W_V * tangent.T)[0] - scale * multiplier)
    unit = sp.expand(x.dot(x)) == 1
    return bool(unit and (pulled - scale * x).expand().is_zero_matrix and scale.is_positive and derivative == 0)


def certify_second_token(instance: ArrayInstance, verdict: Verdict) -> Certificate:
    """The three equilibria and their multipliers, where s is rational."""
    return certify_two_tokens(instance["w"])


def draw_two_tokens(rng: Rng, size: int) -> ArrayInstance:
    """w = 5/3 first, then rationals, half of them with a rational s."""
    numbers = [Fraction(5, 3)]
    while len(numbers) < size:
        t = Fraction(int(rng.integers(11, 100)), 10)
        numbers.append((t + 1 / t) / 2 if rng.random() < 0.5 else t)
    return ArrayInstance({"w": boxed(numbers[:size])}, "rational w", is_batch=True)


# -- 3: all ranks under one W_V ----------------------------------------------------------------------------


def shift_instance(tokens: int, dim: int, w: Any) -> ArrayInstance:
    """n tokens, dimension d and w > n − 1, rational."""
    n, d, number = as_count("tokens", tokens), as_count("dim", dim), rational("w", w)
    if number <= n - 1:
        raise InvalidArgument(f"w: {number} given; a number greater than tokens − 1 = {n - 1} is needed")
    return ArrayInstance({"sizes": np.asarray([n, d]), "w": boxed([number])[0]})


def decide_all_ranks(instance: ArrayInstance) -> Exact:
    """For k = 1 … min(n, d): A X W_V = D X, D > 0, unit rows, k of them distinct, a minor of order k not zero."""
    from rankmath.equilibria.wu2024 import shift_equilibrium

    (n, d), w = (int(k) for k in instance["sizes"]), instance["w"]
    for k in range(1, min(n, d) + 1):
        equilibrium = shift_equilibrium(n, d, k, w)
        distinct = len({tuple(row) for row in equilibrium.X.tolist()})
        if not (equilibrium.is_equilibrium() and distinct == k and equilibrium.minor() != 0):
            return Exact(False, f"rank {k} fails for n = {n}, d = {d}, w = {w}")
    return Exact(True, f"ranks 1 to {min(n, d)} under one W_V, n = {n}, d = {d}, w = {w}, exact algebra")


def exhibit_every_rank(tokens: int = 6, dim: int = 5, w: int = 7) -> Certificate:
    """Equilibria of all ranks under one W_V, each proved in balls, in one certificate."""
    from rankmath.equilibria.certify import certify_equilibrium
    from rankmath.equilibria.wu2024 import shift_equilibrium

    proofs = []
    for k in range(1, min(tokens, dim) + 1):
        X, W_V, W_QK = shift_equilibrium(tokens, dim, k, w).floats()
        proofs.append(certify_equilibrium(X, W_V, W_QK, "causal", rank=k).certificate())
    resting = ("tokens", "radius", "rank")
    data = {name: value for name, value in proofs[0].data.items() if name not in resting}
    data["equilibria"] = [{name: proof.data[name] for name in resting} for proof in proofs]
    hints = {"equilibria": [proof.hints for proof in proofs]}
    return issue(Certificate("wu2024:3", "exists", data, hints), decided=True)


def draw_shifts(rng: Rng, size: int) -> ArrayInstance:
    """n = 6, d = 5 first."""
    sizes, numbers = [(6, 5)], [Fraction(7)]
    while len(sizes) < size:
        n = int(rng.integers(1, 7))
        sizes.append((n, int(rng.integers(1, 7))))
        numbers.append(n - 1 + Fraction(int(rng.integers(1, 50)), 10))
    return ArrayInstance({"sizes": np.asarray(sizes[:size]), "w": boxed(numbers[:size])}, "shift", is_batch=True)


# -- L13: a set that is not invariant -----------------------------------------------------------------------


def cone_instance(x: Any, w: Any, *, log_concave: bool) -> ArrayInstance:
    """An exact unit vector of the lemma's set {x ≤ 0, x_{d−1} ≤ −1/w}; `log_concave`: with the added hypothesis."""
    [row] = exact_matrix("x", [list(x)])
    number = rational("w", w)
    if len(row) < 2 or number <= 1:
        raise InvalidArgument(
            f"x, w: {len(row)} coordinates and w = {number} given; at least 2 and w > 1 are needed"
        )
    if sum(v * v for v in row) != 1:
        raise InvalidArgument("x: not of norm 1; an exact unit vector is needed")
    if max(row) > 0 or row[-2] > -1 / number:
        raise InvalidArgument("x: not in the set x ≤ 0, x_{d−1} ≤ −1/w of the lemma")
    if log_concave and not _is_log_concave(row):
        raise InvalidArgument("x: |x_1|, …, |x_{d−1}| is not log-concave without gaps")
    return ArrayInstance({"x": boxed(row), "w": boxed([number])[0]})


def _is_log_concave(row: list[Fraction]) -> bool:
    """u_b u_{c+1} ≤ u_{b+1} u_c for b < c < d − 1, u = |x|: no internal zeros."""
    u = [abs(v) for v in row[:-1]]
    return all(u[b] * u[c + 1] <= u[b + 1] * u[c] for c in range(len(u) - 1) for b in range(c))


def decide_invariance(instance: ArrayInstance, *, log_concave: bool) -> Exact:
    """Whether the image of x is in the set again, in exact rationals."""
    from rankmath.equilibria.wu2024 import lemma_thirteen_step

    step = lemma_thirteen_step(instance["x"].tolist(), instance["w"])
    y, w = [Fraction(int(v.p), int(v.q)) for v in step.y], Fraction(instance["w"])
    kept = step.ends_inside and (not log_concave or _is_log_concave(y))
    left, right = float(w**2 * y[-2] ** 2), float(sum(v * v for v in y))
    return Exact(bool(kept), f"exact rationals: w²y_{{d−1}}² = {left:.6g} against ‖y‖² = {right:.6g}")


def certify_invariance(instance: ArrayInstance, verdict: Verdict) -> Certificate:
    """The verdict on one vector of the set, in the checker's hands."""
    kind: Literal["holds", "violates"] = "holds" if verdict.outcome == Outcome.HOLDS else "violates"
    return certify_invariant_set(instance["x"], instance["w"], kind=kind)


def exhibit_leaving() -> Certificate:
    """(−4/5, 0, −3/5, 0) with w = 4."""
    return certify_invariant_set([Fraction(-4, 5), 0, Fraction(-3, 5), 0], 4)


def rational_unit_vectors(rng: Rng, size: int, d: int, w: Fraction, *, log_concave: bool) -> np.ndarray[Any, Any]:
    """Unit vectors of the lemma's set by inverse stereographic projection."""
    found: list[np.ndarray[Any, Any]] = []
    while len(found) < size:
        u = np.sort(rng.integers(0, 60, d)) if log_concave and rng.random() < 0.5 else rng.integers(0, 60, d)
        t = [Fraction(int(v), 60) for v in u[:-1]]
        square = sum((v * v for v in t), Fraction(0))
        row = [-2 * v / (1 + square) for v in t] + [-abs(1 - square) / (1 + square)]
        if row[-2] <= -1 / w and (not log_concave or _is_log_concave(row)):
            found.append(boxed(row))
    return np.stack(found)


def draw_cone(rng: Rng, size: int, *, log_concave: bool) -> ArrayInstance:
    d = int(rng.integers(2, 7)) if log_concave else int(rng.integers(4, 7))
    w = Fraction(int(rng.integers(15, 60)), 10)
    vectors = rational_unit_vectors(rng, size, d, w, log_concave=log_concave)
    return ArrayInstance({"x": vectors, "w": boxed([w] * size)}, f"dimension {d}", is_batch=True)


def draw_leaving(rng: Rng, size: int) -> ArrayInstance:
    """(−4/5, −0.001, −3/5, −0.001), turned exactly onto the sphere, in dimensions 4 and up; w = 4."""
    from rankmath.equilibria.wu2024 import lemma_thirteen_counterexample

    step = lemma_thirteen_counterexample(int(rng.integers(4, 7)))
    x = boxed([Fraction(int(v.p), int(v.q)) for v in step.x])
    return ArrayInstance({"x": x[None], "w": boxed([Fraction(4)])}, "leaving", is_batch=True)


# -- anisotropy --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ShiftInstance(ArrayInstance):
    """The equilibrium of W_V = I + wS of a given rank on `tokens` tokens; an adversary turns w."""

    tokens: int = 2
    rank: int = 2
    alternating: bool = True

    def select(self, index: int) -> ShiftInstance:
        return replace(self, arrays={"w": self["w"][index]}, is_batch=False) if self.is_batch else self

    def at(self, vector: np.ndarray[Any, Any]) -> ShiftInstance:
        return replace(self, arrays={"w": vector.reshape(np.shape(self["w"]))})


def anisotropy_instance(tokens: int, rank: int, w: float, alternating: bool = True) -> ShiftInstance:
    """n tokens of rank k, 2 ≤ k ≤ n, and the number w; last coordinates of alternating signs, or all positive."""
    n = as_count("tokens", tokens, least=2)
    k = as_count("rank", rank, least=2, most=n)
    return ShiftInstance({"w": as_array("w", w, ndim=0)}, tokens=n, rank=k, alternating=bool(alternating))


def evaluate_anisotropy(A: Any, instance: ShiftInstance) -> Evaluation:
    """‖X‖_F²/‖X‖₂² ≤ n/(n − (m² + k − 2)/w²), m = n − k + 1, in the form n − ‖X‖₂² ≤ (m² + k − 2)/w²."""
    n, k = instance.tokens, instance.rank
    m = n - k + 1
    w = A.constant(float(instance["w"])) if A.unbounded else np.asarray(instance["w"], dtype=float)
    row: list[Any] = [0 * w] * (k - 1) + [0 * w + 1]
    rows = [row] * m
    for step in range(k - 1):
        pull = m if step == 0 else 1
        # Where w ≤ n − 1 there is no such token: the hypothesis fails, and any number will do.
        inside = 1 - pull * pull / (w * w)
        last = sqrt(A, inside if A.unbounded else np.maximum(inside, 0.0))
        row = [*(-x * pull / w for x in row[1:]), -last if instance.alternating and step % 2 == 0 else last]
        rows.append(row)
    gram = np.asarray([[sum(x * y for x, y in zip(p, q, strict=True)) for q in rows] for p in rows])
    largest = symmetric_extremes(A, gram if A.unbounded else np.moveaxis(gram, (0, 1), (-2, -1)))[1]
    rhs = log(A, A.constant(m * m + k - 2)) - 2 * log(A, w)
    wide = Hypothesis("w > n − 1", Side(log(A, A.constant(n - 1)), log(A, w)))
    return Evaluation([Side(log_positive(A, n - largest), rhs)], [wide])


def draw_anisotropy(rng: Rng, size: int) -> ShiftInstance:
    n = int(rng.integers(2, 9))
    k = n if rng.random() < 0.5 else int(rng.integers(2, n + 1))
    w = (n - 1) * (1 + 10.0 ** rng.uniform(-3, 1, size))
    return ShiftInstance({"w": w}, "shift", True, tokens=n, rank=k, alternating=bool(rng.random() < 0.5))


def barely_wide(rng: Rng) -> Iterator[ShiftInstance]:
    """Two tokens with w near 1: nearly orthogonal, and the bound nearly attained."""
    for w in (1.1, 1.0001):
        yield ShiftInstance({"w": np.asarray(w)}, "two tokens", tokens=2, rank=2)


STATEMENTS = (
    Statement(
        key="wu2024:4.3.1",
        title="Two tokens that need not collapse: equilibria and multipliers",
        claim=r"n=d=2,\ \text{causal},\ W_{QK}=0,\ W_V=\begin{pmatrix}1&w\\0&1\end{pmatrix},\ w>1,\ X_1=(0,1):\ "
        r"X_2\in\{(0,1),(-\tfrac1w,s),(-\tfrac1w,-s)\}\text{ with multipliers }\tfrac12,1+s,1-s,"
        r"\quad s=\sqrt{1-w^{-2}}",
        source=f"{PAPER}, section 4.3.1",
        status="proved",
        truth="proofs/wu2024_3.tex",
        instance=two_token_instance,
        decide=decide_two_tokens,
        draws=(draw_two_tokens,),
        certificate=certify_second_token,
        share=0.03,
    ),
    Statement(
        key="wu2024:3",
        title="One value matrix with equilibria of every rank",
        claim=r"\text{causal},\ W_{QK}=0,\ W_V=I+wS,\ w>n-1:\ \forall\,1\le k\le\min(n,d)\ \exists X:\ "
        r"\mathrm{LN}(AXW_V)=X,\ \operatorname{rank}X=k",
        source=f"{PAPER}, Theorem 3",
        status="proved",
        truth="proofs/wu2024_3.tex",
        instance=shift_instance,
        decide=decide_all_ranks,
        draws=(draw_shifts,),
        exhibit=exhibit_every_rank,
        exhibit_refutes=False,
        share=0.03,
        cost=2,
    ),
    Statement(
        key="wu2024:L13",
        title="An invariant set of the second token, as printed",
        claim=r"\{x\in S^{d-1}:x\le0,\ x_{d-1}\le-\tfrac1w\}\text{ is invariant under }"
        r"x\mapsto\mathrm{LN}((x+e_d)(I+wS))",
        source=f"{PAPER}, Lemma 13",
        status="refuted",
        truth="proofs/wu2024_3.tex",
        instance=partial(cone_instance, log_concave=False),
        decide=partial(decide_invariance, log_concave=False),
        draws=(draw_leaving, partial(draw_cone, log_concave=False)),
        certificate=certify_invariance,
        exhibit=exhibit_leaving,
        share=0.05,
        notes="False from dimension 4 on; true in dimensions 2 and 3, and under wu2024:L13-repaired.",
    ),
    Statement(
        key="wu2024:L13-repaired",
        title="An invariant set of the second token, with log-concave coordinates",
        claim=r"\{x\in S^{d-1}:x\le0,\ x_{d-1}\le-\tfrac1w,\ |x_1|,\dots,|x_{d-1}|\text{ log-concave}\}"
        r"\text{ is invariant under }x\mapsto\mathrm{LN}((x+e_d)(I+wS)),\ w>1",
        source="this library; Lemma 13 of Wu, Ajorlou, Wang, Jegelka and Jadbabaie 2024 for d = 3",
        status="proved",
        truth="proofs/wu2024_L13.tex",
        instance=partial(cone_instance, log_concave=True),
        decide=partial(decide_invariance, log_concave=True),
        draws=(partial(draw_cone, log_concave=True),),
        share=0.1,
        notes="Two coordinates are always log-concave, so dimensions 2 and 3 need no hypothesis.",
    ),
    Statement(
        key="wu2024:anisotropy",
        title="The equilibria of every rank are anisotropic",
        claim=r"\frac{\|X\|_F^2}{\|X\|_2^2}\le\frac n{n-(m^2+k-2)/w^2},\ m=n-k+1;\quad"
        r"\text{at full rank }\frac n{n-(n-1)/w^2}",
        source=f"{PAPER}, section 4, at full rank; the form for rank k is ours",
        status="proved",
        truth="proofs/wu2024_anisotropy.tex",
        instance=anisotropy_instance,
        evaluate=evaluate_anisotropy,
        draws=(draw_anisotropy,),
        extremal=barely_wide,
        share=0.5,
    ),
)
