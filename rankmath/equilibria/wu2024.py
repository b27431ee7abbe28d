"""Wu et al. 2024 in exact arithmetic: the two-token example, equilibria of every rank, and where steps break.

All numbers are sympy's: integers, rationals, square roots. Tokens are rows; attention is causal with W_QK = 0
unless said otherwise, so row i of A is (1/i, …, 1/i, 0, …).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy as sp

from rankmath.linalg.masks import Mask
from rankmath.validation import Floats, InvalidArgument, Number, as_count

# Tokens and dimensions of a construction, as many as the checker reads.
LARGEST = 256


@dataclass(frozen=True)
class ExactEquilibrium:
    """Unit rows X with A X W_V = D X, exactly; ``scales`` is the diagonal of D and ``minor_at`` a nonzero minor.

    >>> equilibrium = shift_equilibrium(3, 3, 3, 5)
    >>> equilibrium.is_equilibrium(), equilibrium.minor()
    (True, 1/125)
    """

    X: sp.ImmutableMatrix
    W_V: sp.ImmutableMatrix
    W_QK: sp.ImmutableMatrix
    mask: Mask
    scales: tuple[sp.Expr, ...]
    minor_at: tuple[tuple[int, ...], tuple[int, ...]]

    def attention(self, digits: int | None = None) -> sp.ImmutableMatrix:
        """A, as exact expressions or to so many digits."""
        X = self.X if digits is None else self.X.evalf(digits)
        logits = X * self.W_QK * X.T
        n = self.mask.n
        E = sp.Matrix(n, n, lambda i, j: sp.exp(logits[i, j]) if self.mask.allowed[i, j] else 0)
        return sp.ImmutableMatrix(n, n, lambda i, j: E[i, j] / sum(E[i, :]))

    def defect(self, digits: int | None = None) -> sp.Matrix:
        """A X W_V − D X, zero at an equilibrium; as exact expressions or to so many digits."""
        X, D = self.X, sp.diag(*self.scales)
        if digits is not None:
            X, D = X.evalf(digits), D.evalf(digits)
        return self.attention(digits) * X * self.W_V - D * X

    def is_equilibrium(self) -> bool:
        """Decided by exact algebra: A X W_V = D X, D > 0, unit rows. Meant for W_QK = 0."""
        if not self.W_QK.is_zero_matrix:
            raise InvalidArgument("W_QK: not zero; the exponentials of attention are not decided by algebra")
        units = all(sp.expand(self.X.row(i).dot(self.X.row(i))) == 1 for i in range(self.X.rows))
        return units and self.defect().expand().is_zero_matrix and all(scale.is_positive for scale in self.scales)

    def minor(self) -> sp.Expr:
        """The minor on the rows and columns of ``minor_at``, whose order is the rank."""
        rows, columns = self.minor_at
        block = self.X.extract(list(rows), list(columns[::-1]))
        k = len(rows)
        reversal = (-1) ** (k * (k - 1) // 2)
        # W3 is triangular once its columns are reversed: no expansion of nested roots is needed.
        det = sp.prod(block[i, i] for i in range(k)) if block.is_lower else block.det(method="berkowitz")
        return sp.expand(reversal * det)

    def floats(self) -> tuple[Floats, Floats, Floats]:
        """X, W_V, W_QK as doubles."""
        X, W_V, W_QK = (np.array(M.tolist(), dtype=float) for M in (self.X, self.W_V, self.W_QK))
        return X, W_V, W_QK

    def latex(self) -> str:
        """X and W_V for a paper."""
        return f"X^* = {sp.latex(self.X)}, \\qquad W_V = {sp.latex(self.W_V)}"


def exact_number(name: str, value: Number) -> sp.Expr:
    """An int, float (the dyadic it is), Fraction, or real sympy number; a ValueError for anything else.

    >>> exact_number("w", Fraction(5, 3)), exact_number("w", 0.5)
    (5/3, 1/2)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, str)) or not isinstance(value, (int, float, Fraction, sp.Expr)):
        raise InvalidArgument(f"{name}: a {type(value).__name__} given; a number is needed")
    if isinstance(value, float):
        number = sp.Rational(*value.as_integer_ratio()) if math.isfinite(value) else sp.nan
    else:
        number = sp.sympify(value)
    if not (number.is_number and number.is_real):
        raise InvalidArgument(f"{name}: {value} given; a finite real number is needed")
    return number


def _more_than(name: str, value: Number, least: sp.Expr | int) -> sp.Expr:
    number = exact_number(name, value)
    if not (number - least).is_positive:
        raise InvalidArgument(f"{name}: {number} given; a number greater than {least} is needed")
    return number


# -- W3: one W_V, every rank ------------------------------------------------------------------------------------


def shift_matrix(dim: int, w: Number) -> sp.ImmutableMatrix:
    """W_V = I + wS, S the ones on the superdiagonal.

    >>> shift_matrix(2, 3)
    Matrix([
    [1, 3],
    [0, 1]])
    """
    number = exact_number("w", w)
    return sp.ImmutableMatrix(
        dim, dim, lambda a, b: sp.Integer(1) if a == b else number if b == a + 1 else sp.Integer(0)
    )


def shift_equilibrium(
    tokens: int, dim: int, rank: int, w: Number = None, signs: Sequence[int] | None = None
) -> ExactEquilibrium:
    """The equilibrium of a given rank under the causal mask and W_V = I + wS, w > tokens − 1 (W3).

    With m = n − k + 1, the first m tokens are e_d; token m + 1 is −(m/w) e_{d−1} ± √(1 − m²/w²) e_d; each later one
    is its predecessor shifted left and divided by −w, completed by ±√(1 − 1/w²) e_d. The minor on the last k tokens
    (token m first) and the last k coordinates is triangular up to order, of modulus m^{k−1} w^{−k(k−1)/2}.

    Parameters
    ----------
    w : defaults to tokens + 1.
    signs : the k − 1 signs of the last coordinates; by default they alternate, which keeps neighbouring coordinates
        of one sign.

    Examples
    --------
    >>> shift_equilibrium(2, 2, 2, Fraction(5, 3)).X
    Matrix([
    [   0,    1],
    [-3/5, -4/5]])
    """
    n, d, k = _sizes(tokens, dim, rank)
    number = _more_than("w", n + 1 if w is None else w, n - 1)
    flips = [(-1) ** (i + 1) for i in range(k - 1)] if signs is None else list(signs)
    if len(flips) != k - 1 or any(sign not in (1, -1) for sign in flips):
        raise InvalidArgument(f"signs: {signs} given; {k - 1} entries 1 or -1 are needed")
    m = n - k + 1
    last = [sp.Integer(0)] * (d - 1) + [sp.Integer(1)]
    rows = [list(last) for _ in range(m)]
    scales = [sp.Integer(1)] * m
    for step, sign in enumerate(flips):
        pull = m if step == 0 else 1
        row = [-x * pull / number for x in rows[-1][1:]]
        row.append(sign * sp.sqrt(1 - pull**2 / number**2))
        rows.append(row)
        scales.append(sp.Rational(1, m + 1 + step))
    minor_at = tuple(range(m - 1, n)), tuple(range(d - k, d))
    weights = shift_matrix(d, number), sp.ImmutableMatrix.zeros(d, d)
    return ExactEquilibrium(sp.ImmutableMatrix(rows), *weights, Mask.causal(n), tuple(scales), minor_at)


def rational_full_rank(tokens: int, dim: int, t: int | None = None) -> ExactEquilibrium:
    """W3 of full rank n in rationals: w = (t + 1/t)/2 makes √(1 − 1/w²) = (t² − 1)/(t² + 1); t defaults to 2n.

    >>> rational_full_rank(2, 2, 3).X
    Matrix([
    [   0,    1],
    [-3/5, -4/5]])
    """
    n = as_count("tokens", tokens, most=LARGEST)
    t = as_count("t", 2 * n if t is None else t, least=2)
    return shift_equilibrium(n, dim, n, sp.Rational(t * t + 1, 2 * t))


def _sizes(tokens: int, dim: int, rank: int) -> tuple[int, int, int]:
    n = as_count("tokens", tokens, most=LARGEST)
    d = as_count("dim", dim, most=LARGEST)
    return n, d, as_count("rank", rank, most=min(n, d))


# -- one W_V, every rank, complete mask -------------------------------------------------------------------------


def balanced_tokens(tokens: int, rank: int) -> sp.ImmutableMatrix:
    """n unit vectors spanning R^k, 2 ≤ k ≤ n − 1, each the direction of Σ_j exp(β⟨x_i, x_j⟩) x_j for every β > 0.

    Orthogonal groups of sum zero, each invariant under symmetries that fix x_i and no other line: for k ≤ n/2 one
    regular polygon and k − 2 antipodal pairs, else one regular simplex and n − k − 1 antipodal pairs.

    >>> balanced_tokens(4, 2)
    Matrix([
    [ 1,  0],
    [ 0,  1],
    [-1,  0],
    [ 0, -1]])
    """
    n = as_count("tokens", tokens, least=3, most=LARGEST)
    k = as_count("rank", rank, least=2, most=n - 1)
    if 2 * k <= n:
        corners = n - 2 * (k - 2)
        angles = [2 * sp.pi * sp.Rational(j, corners) for j in range(corners)]
        group = [[sp.cos(angle), sp.sin(angle)] for angle in angles]
    else:
        group = simplex(n - 2 * (n - k - 1)).tolist()
    pairs = k - len(group[0])
    rows = [[*row, *[sp.Integer(0)] * pairs] for row in group]
    for p in range(pairs):
        axis = [sp.Integer(int(a == len(group[0]) + p)) for a in range(k)]
        rows += [axis, [-x for x in axis]]
    return sp.ImmutableMatrix(rows)


def simplex(corners: int) -> sp.ImmutableMatrix:
    """The regular simplex: m unit vectors in R^{m−1} with mutual products −1/(m − 1).

    >>> S = simplex(4)
    >>> (S * S.T).applyfunc(sp.simplify)[0, :]
    Matrix([[1, -1/3, -1/3, -1/3]])
    """
    m = as_count("corners", corners, least=2)
    rows = []
    for i in range(m):
        row = []
        for a in range(m - 1):
            # Coordinate a separates corner a from the corners after it.
            height = sp.sqrt(sp.Rational(m * (m - a - 1), (m - 1) * (m - a)))
            row.append(height if a == i else -height / (m - a - 1) if a < i else sp.Integer(0))
        rows.append(row)
    return sp.ImmutableMatrix(rows)


def complete_equilibrium(tokens: int, dim: int, rank: int) -> ExactEquilibrium:
    """An equilibrium of the given rank under the complete mask; W_V and W_QK do not depend on the rank.

    W_V = diag(1, …, 1, ½), W_QK = βI with β the bit length of n, at least log(n + 1). Rank 1: equal tokens. Ranks
    2 … n − 1: `balanced_tokens` in the first coordinates. Rank n: a regular simplex z_i lifted,
    x_i = sin θ z_i + cos θ e_d with sin²θ = (n − 1) log(n + 1)/(nβ).

    Ranks up to min(n, d) exist; for ranks 2 … n − 1 equal to d the last coordinate is used too, and W_V = I.

    >>> equilibrium = complete_equilibrium(3, 3, 3)
    >>> max(abs(x) for x in equilibrium.defect(digits=30)) < 1e-28
    True
    """
    n, d, k = _sizes(tokens, dim, rank)
    beta = n.bit_length()
    mean_scale = sp.Rational(1, 2) if d >= n else sp.Integer(1)
    W_V = sp.ImmutableMatrix(sp.diag(*[sp.Integer(1)] * (d - 1), mean_scale))
    if k == 1:
        inner = sp.ImmutableMatrix([[sp.Integer(1)]] * n)
    elif k < n:
        inner = balanced_tokens(n, k)
    else:
        inner = simplex(n) * sp.sqrt(sp.Rational(n - 1, n * beta) * sp.log(n + 1))
    rows = [[*row, *[sp.Integer(0)] * (d - len(row))] for row in inner.tolist()]
    if k == n > 1:
        lift = sp.sqrt(1 - sp.Rational(n - 1, n * beta) * sp.log(n + 1))
        rows = [[*row[:-1], lift] for row in rows]
    X = sp.ImmutableMatrix(rows)
    W_QK, scales = sp.ImmutableMatrix(beta * sp.eye(d)), _complete_scales(X, W_V, beta)
    return ExactEquilibrium(X, W_V, W_QK, Mask.complete(n), scales, _complete_minor(n, d, k))


def _complete_scales(X: sp.ImmutableMatrix, W_V: sp.ImmutableMatrix, beta: int) -> tuple[sp.Expr, ...]:
    """D_i = ⟨x_i, (A X W_V)_i⟩."""
    cosines, values = X * X.T, X * W_V * X.T
    scales = []
    for i in range(X.rows):
        weights = [sp.exp(beta * cosines[i, j]) for j in range(X.rows)]
        scales.append(sum(weight * values[j, i] for j, weight in enumerate(weights)) / sum(weights))
    return tuple(scales)


def _complete_minor(n: int, d: int, k: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if k == n:
        return tuple(range(n)), (*range(n - 1), d - 1)
    group = 2 if 2 * k <= n else 2 * k - n + 1
    first_pair = n - 2 * (k - group)
    return (*range(min(group, k)), *range(first_pair, n, 2)), tuple(range(k))


# -- W4.3.1: two tokens -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SecondToken:
    """An equilibrium of token 2 while token 1 rests at (0, 1): (e₂ + x) W_V = 2·scale·x, and its multiplier."""

    x: sp.ImmutableMatrix
    scale: sp.Expr
    multiplier: sp.Expr

    @property
    def is_stable(self) -> bool:
        """Whether |multiplier| < 1."""
        return bool(abs(self.multiplier) < 1)


@dataclass(frozen=True)
class TwoTokens:
    """W4.3.1: causal mask, W_QK = 0, W_V = [[1, w], [0, 1]], token 1 at (0, 1)."""

    w: sp.Expr
    W_V: sp.ImmutableMatrix
    collapsed: SecondToken
    unstable: SecondToken
    stable: SecondToken

    @property
    def equilibria(self) -> tuple[SecondToken, SecondToken, SecondToken]:
        """All equilibria of token 2: the collapsed one, the unstable one, the stable one."""
        return self.collapsed, self.unstable, self.stable


def two_token_example(w: Number) -> TwoTokens:
    """The three equilibria of token 2 for w > 1, with their multipliers (W4.3.1).

    (0, 1) with multiplier ½, (−1/w, s) with 1 + s, (−1/w, −s) with 1 − s, s = √(1 − 1/w²). There are no others:
    x W_V + e₂ = λx forces λ = 1 or x₁ = 0, and then x = (0, 1), (0, −1) being sent to 0.

    >>> example = two_token_example(Fraction(5, 3))
    >>> [tuple(e.x) for e in example.equilibria], [e.multiplier for e in example.equilibria]
    ([(0, 1), (-3/5, 4/5), (-3/5, -4/5)], [1/2, 9/5, 1/5])
    """
    number = _more_than("w", w, 1)
    W_V = shift_matrix(2, number)
    s = sp.sqrt(1 - 1 / number**2)
    points = [(sp.Integer(0), sp.Integer(1)), (-1 / number, s), (-1 / number, -s)]
    collapsed, unstable, stable = (_second_token(W_V, sp.ImmutableMatrix([point])) for point in points)
    return TwoTokens(w=number, W_V=W_V, collapsed=collapsed, unstable=unstable, stable=stable)


def _second_token(W_V: sp.ImmutableMatrix, x: sp.ImmutableMatrix) -> SecondToken:
    pulled = (x + sp.Matrix([[0, 1]])) * W_V
    double_scale = sp.expand((pulled * x.T)[0])
    # On the tangent line of the circle the derivative of x ↦ xW_V is tr W_V − x W_V xᵀ.
    multiplier = sp.expand((W_V.trace() - (x * W_V * x.T)[0]) / double_scale)
    return SecondToken(x=x, scale=double_scale / 2, multiplier=multiplier)


# -- O8: an exponentially stable causal equilibrium --------------------------------------------------------------


@dataclass(frozen=True)
class StableCausal:
    """O8: two tokens, causal, W_QK = 0; the eigenvalues are those on both tangent spaces, with repetition."""

    equilibrium: ExactEquilibrium
    eigenvalues: tuple[sp.Expr, ...]

    @property
    def spectral_radius(self) -> sp.Expr:
        """The largest modulus of an eigenvalue."""
        return sp.Max(*(abs(x) for x in self.eigenvalues))


def stable_causal_example(a: Number = 0.5, w: Number = 1, c: Number = None, dim: int = 2) -> StableCausal:
    """W_V = c I_{d−2} ⊕ [[a, w], [0, 1]], 0 < c < a < 1, w² > a(2 − a): rank 2 and exponentially stable (O8).

    X₁ = e_d, X₂ = p e_{d−1} + q e_d with q the smaller root of w²(1 − q²) = (1 + (1 − a)q)², which lies in
    (−1, a − 1), and p = −(1 + (1 − a)q)/w. Eigenvalues a, c on token 1 and (1 + q)/a, c/a on token 2.

    Parameters
    ----------
    c : defaults to a/2; of no effect in two dimensions.

    Examples
    --------
    >>> example = stable_causal_example()
    >>> example.equilibrium.X.row(1), example.eigenvalues
    (Matrix([[-3/5, -4/5]]), (1/2, 2/5))
    """
    d = as_count("dim", dim, least=2, most=LARGEST)
    a, w = exact_number("a", a), exact_number("w", w)
    c = a / 2 if c is None else exact_number("c", c)
    if not (a.is_positive and (1 - a).is_positive):
        raise InvalidArgument(f"a: {a} given; a number strictly between 0 and 1 is needed")
    if not (c.is_positive and (a - c).is_positive):
        raise InvalidArgument(f"c: {c} given; a number strictly between 0 and a = {a} is needed")
    if not (w**2 - a * (2 - a)).is_positive:
        raise InvalidArgument(f"w: {w} given; a number with w² > a(2 − a) = {a * (2 - a)} is needed")
    q = (-(1 - a) - abs(w) * sp.sqrt(w**2 - a * (2 - a))) / (w**2 + (1 - a) ** 2)
    p = -(1 + (1 - a) * q) / w
    rest = [sp.Integer(0)] * (d - 2)
    W_V = sp.diag(*[c] * (d - 2), sp.Matrix([[a, w], [0, 1]]))
    X = sp.ImmutableMatrix([[*rest, 0, 1], [*rest, sp.expand(p), sp.expand(q)]])
    weights, scales = (sp.ImmutableMatrix(W_V), sp.ImmutableMatrix.zeros(d, d)), (sp.Integer(1), a / 2)
    equilibrium = ExactEquilibrium(X, *weights, Mask.causal(2), scales, ((0, 1), (d - 2, d - 1)))
    return StableCausal(equilibrium, (a, *[c] * (d - 2), sp.expand((1 + q) / a), *[c / a] * (d - 2)))
