"""Layers that violate bounds of Dong et al. 2021, in closed form: one number each for kinds of equal tokens.

The bound of 2021, for L layers of H heads and without any hypothesis, is

    ‖res(SAN(X))‖_{1,∞} ≤ (4βH/√d_qk)^{(3^L−1)/2} ‖res(X)‖_{1,∞}^{3^L},   β = max ‖W_QK,h‖₁ ‖W_h‖_{1,∞},

and in 2023 a factor γ stands before β, read as γ_* = max √(Σ_i D_ii · max_j q_j / max_i D_ii), with D_ii ≤ x*.

`TokenKinds`  one head, γ = 1, residual about any center: 3563 tokens, the fewest that any layer has (few_tokens).
`MeanKinds`   one head, γ = 1, residual about the mean of the tokens: 31 058 tokens.
`LoneQuery`   one head, γ_* but without D_ii ≤ x*: 1900 tokens of width 2.

All have one layer; `rankmath.claims.dong2021_two_heads` has those with two heads. Proofs in
proofs/dong2021v1.tex and proofs/dong2021_2_3.tex.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankmath.model.network import Network
from rankmath.validation import InvalidArgument, Number, as_count

#: A function of floats, of balls or of exact numbers.
Map: TypeAlias = Callable[[Number], Number]

Floats = NDArray[np.float64]

_MOST_TOKENS = 10**9
_LARGEST_LOGIT = 256
_WIDEST = 4096


def _exact(name: str, value: object, *, positive: bool = False) -> Fraction:
    """An int or Fraction as a Fraction from 0 to 256."""
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        raise InvalidArgument(f"{name}: a {type(value).__name__} given; an exact number (int or Fraction) is needed")
    if not 0 <= value <= _LARGEST_LOGIT or (positive and not value):
        above = "a positive number" if positive else "a number of at least 0"
        raise InvalidArgument(f"{name}: a number out of range given; {above} and at most {_LARGEST_LOGIT} is needed")
    return Fraction(value)


def least(numbers: Iterable[Number]) -> Number:
    """The least of floats or balls."""
    return reduce(lambda a, b: min(a, b) if isinstance(a, float) else a.min(b), numbers)


@dataclass(frozen=True)
class Kinds(ABC):
    """A layer given by a few exact numbers; `square` bounds (left side/right side)² of the bound from below."""

    @abstractmethod
    def square(self, number: Map, exp: Map) -> Number:
        """A lower bound of the squared ratio over `number`s, whose exponential is `exp`."""

    @property
    @abstractmethod
    def tokens(self) -> int:
        """n."""

    @property
    @abstractmethod
    def width(self) -> int:
        """d."""

    @abstractmethod
    def network(self) -> Network:
        """The layer itself."""

    @abstractmethod
    def input(self) -> Floats:
        """X."""

    def ratio(self) -> float:
        """A lower bound of left side/right side, in float64: above 1 the bound is violated.

        >>> counterexample().ratio() > 1, about_the_mean().ratio() > 1, lone_query().ratio() > 1
        (True, True, True)
        """
        return math.sqrt(self.square(float, lambda x: math.exp(float(x))))

    def certified_ratio(self, *, bits: int = 128) -> Fraction:
        """A rational number that the ratio certainly reaches: the lower end of a ball.

        >>> all(kinds.certified_ratio() > 1 for kinds in (counterexample(), about_the_mean(), lone_query()))
        True
        """
        from rankmath.arithmetic.balls import ball, precision

        with precision(as_count("bits", bits, least=32, most=2**16)):
            mantissa, exponent = self.square(ball, lambda x: ball(x).exp()).sqrt().lower().man_exp()
        return int(mantissa) * Fraction(2) ** int(exponent)

    def data(self) -> dict[str, Number]:
        """The instance as a certificate holds it: whole numbers and Fractions."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    def _check(self, counts: dict[str, int], numbers: tuple[str, ...]) -> None:
        for name, fewest in counts.items():
            value = as_count(name, getattr(self, name), least=fewest, most=_MOST_TOKENS)
            object.__setattr__(self, name, value)
        for name in numbers:
            object.__setattr__(
                self, name, _exact(name, getattr(self, name), positive=name in ("gain", "logit", "entry"))
            )

    def _written(self, widest: int = _WIDEST) -> None:
        if max(self.width, self.tokens) > widest:
            raise InvalidArgument(f"tokens: {self.tokens} of width {self.width} given; written out up to {widest}")


def _plain(value: Number) -> Number:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return int(value) if value == int(value) else value


def _layer(logits: Floats, W: Floats, key_bias: Floats) -> Network:
    """One head with W_QK/√d_qk = `logits`; √d_qk is a power of 2 and d_qk ≥ d, so W_QK factors through the keys."""
    root = 2 ** math.ceil(math.log2(len(W)) / 2)
    return Network.from_arrays((root * logits)[None, None], W[None, None], root**2, (root * key_bias)[None, None])


# -- one head, any center --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TokenKinds(Kinds):
    """One head, W = I: one *sink* f, *active* tokens e_i of several kinds, two *guards* g_1, g_2, `idle` tokens 0.

    f, the e_i, g_1, g_2 are the unit vectors of ℝ^d. W_QK/√d_qk is `gain` = w on the diagonal, but 0 at f, and −a_k
    at (g_k, f), a_1 + a_2 ≤ w: an active token adds w to its own logit; a guard does, and takes a_k from the sink's.
    The key bias gives each column of the logits its common part, 0 for idle tokens; `active` lists (count, logit),
    `guards` lists (logit, a_k).

    >>> kinds = TokenKinds(active=((3, 2), (1, 1)), idle=5, gain=2, sink_logit=4, guards=((3, 1), (2, 1)))
    >>> kinds.tokens, kinds.width, kinds.ratio() < 1
    (12, 7, True)
    """

    active: tuple[tuple[int, Fraction], ...]
    idle: int
    gain: Fraction
    sink_logit: Fraction
    guards: tuple[tuple[Fraction, Fraction], ...]

    def __post_init__(self) -> None:
        kinds = tuple((as_count("active", m, most=_MOST_TOKENS), _exact("active", c)) for m, c in self.active)
        if not kinds:
            raise InvalidArgument("active: no kind given; at least one (count, logit) is needed")
        object.__setattr__(self, "active", kinds)
        self._check({"idle": 0}, ("gain", "sink_logit"))
        guards = tuple((_exact("guards", c), _exact("guards", a)) for c, a in self.guards)
        if len(guards) != 2 or sum(a for _, a in guards) > self.gain:
            raise InvalidArgument(
                f"guards: {self.guards} given; two of (logit, fall) are needed, with falls that sum to `gain` at most"
            )
        object.__setattr__(self, "guards", guards)

    @property
    def tokens(self) -> int:
        return self.width + self.idle

    @property
    def width(self) -> int:
        return 3 + sum(count for count, _ in self.active)

    def square(self, number: Map, exp: Map) -> Number:
        """min F/(16w²) over the values x of column f; F(x) ≤ ‖·‖₁‖·‖_∞ about every center with f-entry x.

        F(x) = h(x)((|x − φ_1| + |x − φ_2|)/2 + κ). h(x) sums |value − x| over column f: β for idle tokens and the sink,
        v_a for active ones, φ_k for the guards; κ is half the distance of the guards' rows in the other columns, so
        that the mean of their distances from the center is at least the second factor. Both factors are affine
        between those values, so F is least at one of them.
        """
        s, u = exp(self.sink_logit), exp(self.gain) - 1
        weights = [exp(logit) for _, logit in self.active]
        counts = [count for count, _ in self.active]
        (g1, fall1), (g2, fall2) = ((exp(logit), exp(-fall)) for logit, fall in self.guards)
        seen = sum(m * z for m, z in zip(counts, weights, strict=True))
        total = s + seen + g1 + g2 + self.idle
        G1, G2 = total + u * g1 - (1 - fall1) * s, total + u * g2 - (1 - fall2) * s
        low1, low2 = fall1 * s / G1, fall2 * s / G2
        own1, own2 = abs((u + 1) * g1 / G1 - g1 / G2), abs((u + 1) * g2 / G2 - g2 / G1)
        apart = (seen * abs(1 / G1 - 1 / G2) + own1 + own2) / 2
        values = [s / (total + u * z) for z in weights] + [s / total, low1, low2]
        rows = list(zip([*counts, self.idle + 1, 1, 1], values, strict=True))
        products = [
            sum(m * abs(v - x) for m, v in rows) * ((abs(x - low1) + abs(x - low2)) / 2 + apart) for x in values
        ]
        return least(products) / (16 * number(self.gain) ** 2)

    def network(self) -> Network:
        """The layer, exactly where its numbers are short dyadics; up to 4096 tokens.

        >>> from rankmath.attention.plain import forward
        >>> kinds = TokenKinds(active=((3, 2),), idle=5, gain=2, sink_logit=4, guards=((3, 1), (3, 1)))
        >>> e = math.exp
        >>> expected = e(4) / (e(4) + 3 * e(2) + 2 * e(3) + 5)
        >>> bool(abs(forward(kinds.network(), kinds.input())[-1, 0] - expected) < 1e-15)
        True
        """
        self._written()
        logits = float(self.gain) * np.eye(self.width)
        logits[0, 0] = 0.0
        logits[-2:, 0] = [-float(fall) for _, fall in self.guards]
        bias = [self.sink_logit, *(c for m, c in self.active for _ in range(m)), *(c for c, _ in self.guards)]
        return _layer(logits, np.eye(self.width), np.array([float(c) for c in bias]))

    def input(self) -> Floats:
        """X: the sink, the active tokens, the guards, the idle tokens, one a row."""
        return np.eye(self.tokens, self.width)


def counterexample() -> TokenKinds:
    """The committed layer: violates `dong2021v1:2.2` about every center, with the fewest tokens possible.

    The values of column f follow h(x)(x + κ − (φ_1 + φ_2)/2) = 16w²; proofs/dong2021v1.tex says why.

    >>> counterexample().tokens
    3563
    """
    counts = (*[20] * 16, 18, 1184)
    logits = (
        *(3484, 3583, 3636, 3680, 3711, 3741, 3764, 3787, 3806),
        *(3826, 3843, 3861, 3877, 3894, 3909, 3926, 3940, 3949),
    )
    return TokenKinds(
        active=tuple((m, Fraction(c, 128)) for m, c in zip(counts, logits, strict=True)),
        idle=2038,
        gain=Fraction(1335, 128),
        sink_logit=Fraction(40),
        guards=((Fraction(4283, 128), Fraction(548, 128)), (Fraction(4043, 128), Fraction(787, 128))),
    )


# -- one head, the mean ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MeanKinds(Kinds):
    """One head and W = I: ±f, `active` pairs ±e_i, ±g, and `idle` tokens 0, so that the mean of the tokens is 0.

    W_QK/√d_qk is `gain` = w on the diagonal, but 0 at f, and −w at (g, f). The key bias b gives the token v the
    common logit ⟨v, b⟩: `sink_logit` for f and its negative for −f, and so on.

    >>> kinds = MeanKinds(active=3, idle=2, gain=2, sink_logit=4, active_logit=2, guard_logit=3)
    >>> kinds.tokens, kinds.width
    (12, 5)
    """

    active: int
    idle: int
    gain: Fraction
    sink_logit: Fraction
    active_logit: Fraction
    guard_logit: Fraction

    def __post_init__(self) -> None:
        self._check({"active": 1, "idle": 0}, ("gain", "sink_logit", "active_logit", "guard_logit"))

    @property
    def tokens(self) -> int:
        return 4 + 2 * self.active + self.idle

    @property
    def width(self) -> int:
        return 2 + self.active

    def square(self, number: Map, exp: Map) -> Number:
        """(sum of column f)(sum of the row of g)/(128w²), both about the mean: ‖X‖₁ = 2 and ‖X‖_∞ = 1."""
        m, w = self.active, self.gain
        rise, fall = exp(w), exp(-w)
        s, t = exp(self.sink_logit), exp(-self.sink_logit)
        a, b = exp(self.active_logit), exp(-self.active_logit)
        g, k = exp(self.guard_logit), exp(-self.guard_logit)
        up, down = rise - 1, fall - 1
        total = s + t + m * (a + b) + g + k + self.idle
        # Totals of a plain row, of e_i, of −e_i, of g, of −g, and how many rows there are of each kind.
        totals = (
            total,
            total + up * a + down * b,
            total + down * a + up * b,
            total + up * g + down * k + down * s + up * t,
            total + down * g + up * k + up * s + down * t,
        )
        counts = (self.idle + 2, m, m, 1, 1)

        def deviation(plain: Number, own: dict[int, Number], single: bool) -> tuple[list[Number], Number]:
            """A coordinate in each kind of row, and its mean; `own`: rows whose logits there differ."""
            entries = [own[kind] if kind in own and not single else plain / T for kind, T in enumerate(totals)]
            amount = sum(c * y for c, y in zip(counts, entries, strict=True))
            if single:
                amount = amount + sum(y - plain / totals[kind] for kind, y in own.items())
            return entries, amount / self.tokens

        f, f_mean = deviation(
            s - t, {3: (s * fall - t * rise) / totals[3], 4: (s * rise - t * fall) / totals[4]}, False
        )
        e, e_mean = deviation(a - b, {1: (a * rise - b * fall) / totals[1], 2: (a * fall - b * rise) / totals[2]}, True)
        o, o_mean = deviation(
            g - k, {3: (g * rise - k * fall) / totals[3], 4: (g * fall - k * rise) / totals[4]}, False
        )
        column = sum(c * abs(y - f_mean) for c, y in zip(counts, f, strict=True))
        row = abs(f[3] - f_mean) + m * abs(e[3] - e_mean) + abs(o[3] - o_mean)
        return column * row / (128 * number(w) ** 2)

    def network(self) -> Network:
        """The layer, exactly where its numbers are short dyadics; up to 4096 tokens."""
        self._written()
        logits = float(self.gain) * np.eye(self.width)
        logits[0, 0] = 0.0
        logits[-1, 0] = -float(self.gain)
        bias = [self.sink_logit, *[self.active_logit] * self.active, self.guard_logit]
        return _layer(logits, np.eye(self.width), np.array([float(c) for c in bias]))

    def input(self) -> Floats:
        """X: f, the e_i, g, their negatives, the idle tokens, one a row."""
        unit = np.eye(self.width)
        return np.concatenate([unit, -unit, np.zeros((self.idle, self.width))])


def about_the_mean() -> MeanKinds:
    """The committed layer that violates `dong2021v1:2.2` with residuals about the mean on both sides.

    >>> about_the_mean().tokens
    31058
    """
    return MeanKinds(
        active=13974,
        idle=3106,
        gain=Fraction(3412, 256),
        sink_logit=Fraction(10611, 256),
        active_logit=Fraction(30),
        guard_logit=Fraction(8606, 256),
    )


# -- one head, without smallness -------------------------------------------------------------------------------


@dataclass(frozen=True)
class LoneQuery(Kinds):
    """One head, W = I, d = 2, d_qk = 1, no bias: tokens e_0, e_1 and `idle` zeros, W_QK = `gain` · e_0 e_1ᵀ.

    D_00 = gain, the other D_ii are 0 and q is uniform, so γ_* = 1/√n.

    >>> LoneQuery(idle=8, gain=Fraction(3)).tokens
    10
    """

    idle: int
    gain: Fraction

    def __post_init__(self) -> None:
        self._check({"idle": 2}, ("gain",))

    @property
    def tokens(self) -> int:
        return self.idle + 2

    @property
    def width(self) -> int:
        return 2

    def square(self, number: Map, exp: Map) -> Number:
        """nΔ²/(16w²), Δ = e^w/(n − 1 + e^w) − 1/n: one row differs from n − 1 ≥ 3 equal ones by Δ in column 1."""
        n = self.tokens
        moved = exp(self.gain) / (n - 1 + exp(self.gain)) - 1 / number(n)
        return n * moved**2 / (16 * number(self.gain) ** 2)

    def network(self) -> Network:
        W_QK = np.array([[[[0.0, float(self.gain)], [0.0, 0.0]]]])
        return Network.from_arrays(W_QK, np.eye(2)[None, None], 1)

    def input(self) -> Floats:
        return np.eye(self.tokens, 2)


def lone_query() -> LoneQuery:
    """The committed layer that violates Theorem 2.2 of 2023 with γ_* where D_ii ≤ x* is left out.

    >>> lone_query().tokens
    1900
    """
    return LoneQuery(idle=1898, gain=Fraction(39, 4))
