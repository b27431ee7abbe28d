"""wu2024:4.3.1: two causal tokens that need not collapse: equilibria and multipliers."""

import math
from fractions import Fraction

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import NotIssued, certify_arrays
from rankmath.formula.arrays import ArrayRun, Truth, predicate
from rankmath.validation import Array, Number
from rankmath.verification.claim import ArrayInstance, Rng, Verdict, exact_batch, proved
from rankmath.verification.papers import WU


@predicate(
    "two_token_equilibria(w: array)",
    latex=r"\text{{with }}n=d=2,\text{{ the causal mask, }}W_{{QK}}=0,\ "
    r"W_V=\begin{{pmatrix}}1&{0}\\0&1\end{{pmatrix}},\ X_0=(0,1),"
    r"\text{{ token }}1\text{{ rests exactly at }}(0,1),(-\tfrac1{0},s),(-\tfrac1{0},-s)"
    r"\text{{, with multipliers }}\tfrac12,1+s,1-s,\ s=\sqrt{{1-{0}^{{-2}}}}",
    because="all solutions of an equation, by computer algebra",
)
def two_token_equilibria(run: ArrayRun, w: str) -> Truth:
    """beside a first token at (0, 1), under the causal mask, W_QK = 0 and W_V = [[1, w], [0, 1]], the second
    token rests
    at (0, 1), (−1/w, s) and (−1/w, −s), s = √(1 − 1/w²), with multipliers ½, 1 + s, 1 − s, and nowhere else;
    by exact algebra"""
    import sympy as sp

    from rankmath.equilibria.wu2024 import two_token_example

    example = two_token_example(run[w])
    number, s = example.w, sp.sqrt(1 - 1 / example.w**2)
    fixed = all(_is_second_token(example.W_V, e.x, e.multiplier) for e in example.equilibria)
    claimed = [sp.Rational(1, 2), 1 + s, 1 - s]
    multipliers = all(sp.expand(e.multiplier - m) == 0 for e, m in zip(example.equilibria, claimed, strict=True))
    # (e₂ + x)W_V is parallel to x only where this cross product vanishes: x₁ = 0 or x₁ = −1/w.
    x1, x2 = sp.symbols("x1 x2")
    y = (sp.Matrix([[x1, x2 + 1]])) * example.W_V
    only = sp.expand(y[0] * x2 - y[1] * x1 + x1 * (1 + number * x1)) == 0
    stable = [e.is_stable for e in example.equilibria] == [True, False, True]
    points = ", ".join(str(tuple(e.x)) for e in example.equilibria)
    holds = bool(fixed and multipliers and only and stable)
    return Truth(holds, f"w = {number}: {points}, multipliers ½, 1 + s, 1 − s with s = {s}")


def _is_second_token(W_V: Array, x: Array, multiplier: Number) -> bool:
    """x on the circle, (e₂ + x)W_V = λx with λ > 0, and the multiplier is the derivative along the tangent."""
    import sympy as sp

    pulled = (x + sp.Matrix([[0, 1]])) * W_V
    scale = sp.expand(pulled.dot(x))
    tangent = sp.Matrix([[-x[1], x[0]]])
    derivative = sp.expand((tangent * W_V * tangent.T)[0] - scale * multiplier)
    unit = sp.expand(x.dot(x)) == 1
    return bool(unit and (pulled - scale * x).expand().is_zero_matrix and scale.is_positive and derivative == 0)


def certify(instance: ArrayInstance, verdict: Verdict) -> Certificate:
    """The three equilibria and their multipliers, where s is rational."""
    w: Fraction = instance["w"]
    square = 1 - 1 / w**2
    s = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    if s**2 != square:
        raise NotIssued(f"wu2024:4.3.1: sqrt(1 - 1/w^2) is not rational at w = {w}")
    return certify_arrays("wu2024:4.3.1", {"w": w, "s": s})


def draw_two_tokens(rng: Rng, size: int) -> ArrayInstance:
    """w = 5/3 first, then rationals, half of them with a rational s."""
    numbers = [Fraction(5, 3)]
    while len(numbers) < size:
        t = Fraction(int(rng.integers(11, 100)), 10)
        numbers.append((t + 1 / t) / 2 if rng.random() < 0.5 else t)
    return exact_batch("rational w", w=numbers[:size])


wu2024_4_3_1 = proved(
    "wu2024:4.3.1",
    "two_token_equilibria(w)",
    given="w > 1",
    arrays={"w": ", > 1"},
    title="Two tokens that need not collapse: equilibria and multipliers",
    source=f"{WU}, section 4.3.1",
    truth="proofs/wu2024_3.tex",
    draws=(draw_two_tokens,),
    certificate=certify,
    share=0.03,
    notes="The map is X ↦ LN(AXW_V), A_ij = 1/(i + 1) for j ≤ i, LN the division of every token by its norm; a "
    "multiplier is its derivative along the circle. The sum of opposite tokens is 0, which LN does not divide.",
)
