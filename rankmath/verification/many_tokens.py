"""The 2021 form of Dong et al.'s bound is false: two families, in closed form and in balls.

The claim, for L layers of H heads and without any hypothesis, is

    ‖res(SAN(X))‖_{1,∞} ≤ (4βH/√d_qk)^{(3^L−1)/2} ‖res(X)‖_{1,∞}^{3^L},   β = max ‖W_QK,h‖₁ ‖W_h‖_{1,∞}.

`TokenKinds` refutes it for L = H = 1 with a few thousand tokens of four kinds. `TwoHeads` refutes it for L = 1,
H = 2 with two tokens; there the ratio of the two sides has no bound, so no factor γ that depends on the attention
saves the form with several heads. The proofs, and the proof that one head and at most 512 tokens
never violate the claim, are in proofs/dong2021v1.tex.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankmath.model.network import Network
from rankmath.validation import InvalidArgument, as_count

Floats = NDArray[np.float64]

#: Two guards: towards a single one a center could move.
GUARDS = 2
_MOST_TOKENS = 10**9
_LARGEST_LOGIT = 256
_WIDEST_FUSED = 4096
_WIDEST_FACTOR = 1024


def _exact(name: str, value: Any, *, positive: bool = False) -> Fraction:
    """An int or Fraction as a Fraction from 0 to 256."""
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        raise InvalidArgument(
            f"{name}: a {type(value).__name__} given; an exact number (int or Fraction) is needed"
        )
    if not 0 <= value <= _LARGEST_LOGIT or (positive and not value):
        above = "a positive number" if positive else "a number of at least 0"
        raise InvalidArgument(
            f"{name}: a number out of range given; {above} and at most {_LARGEST_LOGIT} is needed"
        )
    return Fraction(value)


class Levels(NamedTuple):
    """What the rows of the output hold, by kind, as floats or balls.

    plain, active, guard : β, α, φ, the f-entry of an idle token (and of the sink), of an active token, of a guard.
    separation : κ, a guard's weight on itself less its weight on the other guard.
    """

    plain: Any
    active: Any
    guard: Any
    separation: Any


@dataclass(frozen=True)
class TokenKinds:
    """One layer, one head, four kinds of tokens, W_V = I: an instance for `dong2021v1:2.2`.

    The tokens are one *sink* f, `active` tokens e_i, two *guards* g_1, g_2 and `idle` tokens 0, with
    f, e_1, …, e_m, g_1, g_2 the unit vectors of ℝ^{m+3}. W_QK/√d_qk is `gain` on the span of the e_i and g_k
    and 0 on f, so an active token or a guard adds `gain` to its own logit and to no other. The key bias
    gives each column of the logits its common part, 0 for idle tokens.

    Examples
    --------
    >>> kinds = TokenKinds(active=3, idle=5, gain=2, sink_logit=4, active_logit=2, guard_logit=3)
    >>> kinds.tokens, kinds.width, kinds.ratio() < 1
    (11, 6, True)
    """

    active: int
    idle: int
    gain: Fraction
    sink_logit: Fraction
    active_logit: Fraction
    guard_logit: Fraction

    def __post_init__(self) -> None:
        for name, least in (("active", 1), ("idle", 0)):
            value = as_count(name, getattr(self, name), least=least, most=_MOST_TOKENS)
            object.__setattr__(self, name, value)
        for name in ("gain", "sink_logit", "active_logit", "guard_logit"):
            object.__setattr__(self, name, _exact(name, getattr(self, name), positive=name == "gain"))

    @property
    def tokens(self) -> int:
        """n: the sink, the active tokens, the guards, the idle tokens."""
        return 1 + self.active + GUARDS + self.idle

    @property
    def width(self) -> int:
        """d: one coordinate for each token that is not idle."""
        return 1 + self.active + GUARDS

    def levels(self, exp: Callable[[Fraction], Any]) -> Levels:
        """The closed form of the output, over the numbers `exp` returns.

        With the weights s = e^{sink − active}, g = e^{guard − active}, z = e^{−active} relative to an active
        token's, their sum S = s + m + 2g + pz over all tokens and the surplus u = e^{gain} − 1:
        β = s/S, α = s/(S + u), φ = s/(S + ug), κ = ug/(S + ug).

        Examples
        --------
        >>> kinds = TokenKinds(active=3, idle=5, gain=2, sink_logit=4, active_logit=2, guard_logit=3)
        >>> at = kinds.levels(math.exp)
        >>> at.guard < at.active < at.plain
        True
        """
        return _levels(
            self.active,
            self.idle * exp(-self.active_logit),
            exp(self.sink_logit - self.active_logit),
            exp(self.guard_logit - self.active_logit),
            exp(self.gain) - 1,
        )

    def ratio(self) -> float:
        """‖res(SA(X))‖_{1,∞} / ((4β/√d_qk)‖res(X)‖³_{1,∞}) bounded from below over every center, in float64.

        ‖res(X)‖_{1,∞} = 1 and β/√d_qk = gain, so this is √(least of `center_products`)/(4 gain).

        Examples
        --------
        >>> counterexample().ratio() > 1
        True
        """
        products = center_products(self.active, self.idle, self.levels(math.exp))
        return math.sqrt(min(products)) / (4 * float(self.gain))

    def ratio_ball(self, *, bits: int = 128) -> Any:
        """The number `ratio` rounds, as a ball of python-flint."""
        from rankmath.arithmetic.balls import ball, precision

        with precision(as_count("bits", bits, least=32, most=2**16)):
            products = center_products(self.active, self.idle, self.levels(lambda x: ball(x).exp()))
            return reduce(lambda a, b: a.min(b), products).sqrt() / (4 * ball(self.gain))

    def certified_ratio(self, *, bits: int = 128) -> Fraction:
        """A rational number the ratio of the two sides certainly reaches: the lower end of `ratio_ball`.

        Examples
        --------
        >>> counterexample().certified_ratio() > 1
        True
        """
        mantissa, exponent = self.ratio_ball(bits=bits).lower().man_exp()
        return int(mantissa) * Fraction(2) ** int(exponent)

    def network(self) -> Network:
        """The layer, exactly where its parameters are short dyadics; up to 4096 coordinates.

        d_qk is a power of 4 and at least d, so √d_qk is exact and W_QK factors through d_qk columns.

        Examples
        --------
        >>> from rankmath.attention.plain import forward
        >>> kinds = TokenKinds(active=3, idle=5, gain=2, sink_logit=4, active_logit=2, guard_logit=3)
        >>> net, X = kinds.network(), kinds.input()
        >>> bool(abs(forward(net, X)[-1, 0] - kinds.levels(math.exp).plain) < 1e-15)
        True
        """
        if self.width > _WIDEST_FUSED:
            raise InvalidArgument(
                f"active: {self.active} given; weights are written out up to width {_WIDEST_FUSED}"
            )
        root = 2 ** math.ceil(math.log2(self.width) / 2)
        on_itself = np.full(self.width, root * float(self.gain))
        on_itself[0] = 0.0
        logits = [self.sink_logit] + [self.active_logit] * self.active + [self.guard_logit] * GUARDS
        key_bias = root * np.array([float(c) for c in logits])
        return Network.from_arrays(
            np.diag(on_itself)[None, None], np.eye(self.width)[None, None], root**2, key_bias[None, None]
        )

    def input(self) -> Floats:
        """X: the sink, the active tokens, the guards, the idle tokens, one a row."""
        return np.eye(self.tokens, self.width)

    def data(self) -> dict[str, int | str]:
        """The instance as a certificate holds it: whole numbers and fractions."""
        exact = {name: str(getattr(self, name)) for name in ("gain", "sink_logit", "active_logit", "guard_logit")}
        return {"active": self.active, "guards": GUARDS, "idle": self.idle, **exact}


def _levels(active: Any, all_idle: Any, sink: Any, guard: Any, surplus: Any) -> Levels:
    total = sink + active + GUARDS * guard + all_idle
    for_guards = total + surplus * guard
    return Levels(sink / total, sink / (total + surplus), sink / for_guards, surplus * guard / for_guards)


def center_products(active: Any, idle: Any, at: Levels) -> tuple[Any, Any, Any]:
    """h(x)(|x − φ| + κ) at x = φ, α, β: the least of them is ≤ ‖SA(X) − 1cᵀ‖₁ ‖SA(X) − 1cᵀ‖_∞ for every c.

    h(x) = (p + 1)|β − x| + m|α − x| + 2|φ − x| is the sum of column f when c has the f-entry x, and the two guards'
    rows are on average at least |x − φ| + κ away from c. Both factors are linear between φ, α and β, so
    their product is least at one of these.

    Examples
    --------
    >>> center_products(1, 1, Levels(plain=3, active=2, guard=1, separation=5))
    (25, 24, 35)
    """

    def product(x: Any) -> Any:
        column = (idle + 1) * abs(at.plain - x) + active * abs(at.active - x) + GUARDS * abs(at.guard - x)
        return column * (abs(x - at.guard) + at.separation)

    return product(at.guard), product(at.active), product(at.plain)


def optimise(tokens: int, *, denominator: int = 256) -> TokenKinds:
    """The instance of `TokenKinds` with `tokens` tokens and the largest ratio found, its logits over `denominator`.

    The least of three smooth functions is maximised as a smooth program (SLSQP), first with a real number of
    active tokens, then for the whole numbers next to it. An idle token gets e^−32 of an active token's weight.

    Examples
    --------
    >>> kinds = optimise(4000)
    >>> kinds.tokens, kinds.ratio() > 1
    (4000, True)
    """
    tokens = as_count("tokens", tokens, least=8, most=10**7)
    denominator = as_count("denominator", denominator, most=2**40)
    others = tokens - 1 - GUARDS
    start = (math.log(tokens) + 1, math.log(tokens) / 2, math.log(tokens) + 2, 0.39 * others)
    relaxed = _best(others, start, (1.0, others - 1.0))
    candidates = []
    for active in {math.floor(relaxed[3]), math.ceil(relaxed[3])}:
        sink, guard, gain, _ = _best(others, (*relaxed[:3], float(active)), (active, active))
        logits = (Fraction(round(x * denominator), denominator) for x in (gain, 32 + sink, 32, 32 + guard))
        candidates.append(TokenKinds(active, others - active, *logits))
    return max(candidates, key=TokenKinds.ratio)


def _best(others: int, start: tuple[float, ...], active: tuple[float, float]) -> tuple[float, ...]:
    """Relative sink and guard logits, gain and number of active tokens with the largest ratio, in float64."""
    from scipy.optimize import Bounds, NonlinearConstraint, minimize

    def logs(v: Floats) -> Floats:
        sink, guard, gain, m = (float(x) for x in v[:4])
        at = _levels(m, 0.0, math.exp(sink), math.exp(guard), math.expm1(gain))
        return np.asarray(np.log(center_products(m, others - m, at)) - 2 * math.log(4 * gain))

    def below_all(v: Floats) -> Floats:
        return np.asarray(logs(v) - v[4])

    def minus_height(v: Floats) -> float:
        return -float(v[4])

    top = 2 * math.log(others) + 10
    bounds = Bounds(np.array([0.0, 0.0, 1.0, active[0], -np.inf]), np.array([top, top, top, active[1], np.inf]))
    constraint = NonlinearConstraint(below_all, 0.0, np.inf)
    v: Floats = np.array([*start, 0.0])
    for _ in range(3):  # again from its own result: one pass may stop short of the kink
        v[4] = logs(v).min()
        v = minimize(minus_height, v, method="SLSQP", bounds=bounds, constraints=constraint, tol=1e-14).x
    return tuple(float(x) for x in v[:4])


def smallest_tokens(*, denominator: int = 256, most: int = 10**5) -> TokenKinds:
    """The certified counterexample of `TokenKinds` with the fewest tokens that `optimise` finds.

    One more idle token only adds to h, so the best ratio grows with the number of tokens, and bisection
    finds where it passes 1.
    """
    high = as_count("most", most, least=8, most=10**7)
    found = optimise(high, denominator=denominator)
    if found.certified_ratio() <= 1:
        raise InvalidArgument(f"most: {high} given; no counterexample with so few tokens was found")
    low = 7
    while high - low > 1:
        middle = (low + high) // 2
        kinds = optimise(middle, denominator=denominator)
        if kinds.certified_ratio() > 1:
            high, found = middle, kinds
        else:
            low = middle
    return found


def counterexample() -> TokenKinds:
    """The committed instance that refutes `dong2021v1:2.2`: what `smallest_tokens` returns.

    Examples
    --------
    >>> counterexample().tokens
    3684
    """
    return TokenKinds(
        active=1444,
        idle=2237,
        gain=Fraction(673, 64),
        sink_logit=Fraction(10565, 256),
        active_logit=Fraction(32),
        guard_logit=Fraction(4571, 128),
    )


@dataclass(frozen=True)
class TwoHeads:
    """One layer, two heads, two tokens ±e_1 of width d = side²: an instance for `dong2021v1:2.3`.

    Both heads have W_QK/√d_qk = `logit` · e_1e_1ᵀ and no bias, so they attend alike. W_1 = e_1e_1ᵀ keeps e_1,
    W_2 = e_1(1, …, 1)/side spreads it: ‖W_1‖_{1,∞} = ‖W_2‖_{1,∞} = 1, ‖W_1 + W_2‖_{1,∞} = (side + 1)/√side.

    Examples
    --------
    >>> heads = TwoHeads(side=4, logit=Fraction(1, 2))
    >>> heads.tokens, heads.width
    (2, 16)
    """

    side: int
    logit: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "side", as_count("side", self.side, most=2**64))
        object.__setattr__(self, "logit", _exact("logit", self.logit, positive=True))

    @property
    def tokens(self) -> int:
        return 2

    @property
    def width(self) -> int:
        return self.side**2

    def ratio(self) -> float:
        """‖res(SA(X))‖_{1,∞} / ((4βH/√d_qk)‖res(X)‖³_{1,∞}) in float64: (side + 1)/(16√side) · tanh(logit)/logit.

        Both residuals are exact: for two tokens ±u the center 0 minimises either norm.

        Examples
        --------
        >>> two_tokens().ratio() > 1, TwoHeads(side=10**8, logit=Fraction(1, 4)).ratio() > 600
        (True, True)
        """
        x = float(self.logit)
        return (self.side + 1) / (16 * math.sqrt(self.side)) * math.tanh(x) / x

    def certified_ratio(self) -> Fraction:
        """A rational number the ratio certainly reaches, from tanh(x) ≥ x − x³/3; integers decide, nothing rounds.

        Examples
        --------
        >>> two_tokens().certified_ratio()
        Fraction(197119, 196608)
        """
        root = Fraction(math.isqrt(self.side * 4**32 - 1) + 1, 2**32)
        return max(Fraction(0), Fraction(self.side + 1) / (16 * root) * (1 - self.logit**2 / 3))

    def network(self) -> Network:
        """The layer in factors, d_qk = 1; up to side 1024.

        Examples
        --------
        >>> from rankmath.attention.plain import forward
        >>> heads = TwoHeads(side=4, logit=Fraction(1, 2))
        >>> Y = forward(heads.network(), heads.input())
        >>> bool(abs(Y[0, 1] - math.tanh(0.5) / 4) < 1e-15)
        True
        """
        if self.side > _WIDEST_FACTOR:
            raise InvalidArgument(f"side: {self.side} given; weights are written out up to side {_WIDEST_FACTOR}")
        first = np.zeros((1, 2, self.width, 1))
        first[:, :, 0] = 1.0
        W_O = np.zeros((1, 2, 1, self.width))
        W_O[0, 0, 0, 0] = 1.0
        W_O[0, 1] = 1 / self.side
        return Network.from_qkvo(float(self.logit) * first, first, first, W_O)

    def input(self) -> Floats:
        """X = (e_1, −e_1)ᵀ."""
        X = np.zeros((2, self.width))
        X[:, 0] = 1.0, -1.0
        return X

    def data(self) -> dict[str, int | str]:
        """The instance as a certificate holds it: a whole number and a fraction."""
        return {"side": self.side, "logit": str(self.logit)}


def two_tokens() -> TwoHeads:
    """The committed instance that refutes `dong2021v1:2.3` with two heads and two tokens of width 65 536.

    Examples
    --------
    >>> two_tokens().tokens, two_tokens().width
    (2, 65536)
    """
    return TwoHeads(side=256, logit=Fraction(1, 16))
