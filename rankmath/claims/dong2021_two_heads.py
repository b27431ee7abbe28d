"""Two heads that violate the bound of Dong et al. 2021 and its revision of 2023, in closed form.

`TwoHeads`    γ = 1 and γ_* alike: two tokens of width 65 536.
`FourKeys`    γ_* with D_ii ≤ x*: five tokens of width 15 876, 400 of width 5952, 6000 of width 3928.

The bounds and γ_* are those of `rankmath.claims.dong2021_many_tokens`; proofs in proofs/dong2021v1.tex and
proofs/dong2021_2_3.tex.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rankmath.claims.dong2021_many_tokens import Floats, Kinds, Map, least
from rankmath.model.network import Network
from rankmath.validation import InvalidArgument, Number

_WIDEST_FACTOR = 1024


@dataclass(frozen=True)
class TwoHeads(Kinds):
    """Two heads, two tokens ±e_1 of width d = side²; both heads have W_QK/√d_qk = `logit` · e_1 e_1ᵀ and no bias.

    W_1 = e_1 e_1ᵀ keeps e_1, W_2 = e_1(1, …, 1)/side spreads it: ‖W_1‖_{1,∞} = ‖W_2‖_{1,∞} = 1, but
    ‖W_1 + W_2‖_{1,∞} = (side + 1)/√side. D_ii = 2 logit, q = (½, ½), γ_* = 1.

    >>> heads = TwoHeads(side=4, logit=Fraction(1, 2))
    >>> heads.tokens, heads.width
    (2, 16)
    """

    side: int
    logit: Fraction

    def __post_init__(self) -> None:
        self._check({"side": 1}, ("logit",))

    @property
    def tokens(self) -> int:
        return 2

    @property
    def width(self) -> int:
        return self.side**2

    def square(self, number: Map, exp: Map) -> Number:
        """(side + 1)²/(256 side) · (tanh(w)/w)², the square of the ratio: 0 is the best center on both sides."""
        w = number(self.logit)
        tanh = (exp(self.logit) - exp(-self.logit)) / (exp(self.logit) + exp(-self.logit))
        return (tanh / w) ** 2 * (self.side + 1) ** 2 / (256 * self.side)

    def network(self) -> Network:
        """The layer in factors, d_qk = 1; up to side 1024.

        >>> from rankmath.attention.plain import forward
        >>> heads = TwoHeads(side=4, logit=Fraction(1, 2))
        >>> bool(abs(forward(heads.network(), heads.input())[0, 1] - math.tanh(0.5) / 4) < 1e-15)
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


def two_tokens() -> TwoHeads:
    """The layer with the fewest tokens for two heads: violates `dong2021v1:2.3` and `dong2021:2.3-printed`.

    >>> two_tokens().width, two_tokens().certified_ratio() > 1
    (65536, True)
    """
    return TwoHeads(side=256, logit=Fraction(1, 16))


@dataclass(frozen=True)
class FourKeys(Kinds):
    """Two heads: a query e_0, keys e_1, e_2, −e_3, −e_4 and `idle` zeros in ℝ^d, d = 4 `columns`, d_qk ≥ 2.

    Both heads have W_QK/√d_qk = `gain` · e_0(e_1 + … + e_4)ᵀ, and the query bias W_K b_Q/√d_qk = `key_logit` ·
    (e_1 + e_2 − e_3 − e_4) adds `key_logit` to the logits of the four keys. W_1
    sends each of e_1, …, e_4 to `columns` coordinates of its own with entries `entry` = x, columns · x² ≤ 1; W_2
    sends all four to one coordinate with entries ½. So ‖W_1‖_{1,∞} ≤ 1 = ‖W_2‖_{1,∞}, D_00 = 2 gain, γ_*² = max
    q.

    >>> keys = FourKeys(columns=4, entry=Fraction(1, 2), idle=3, gain=Fraction(1, 8), key_logit=20)
    >>> keys.tokens, keys.width
    (8, 16)
    """

    columns: int
    entry: Fraction
    idle: int
    gain: Fraction
    key_logit: Fraction

    def __post_init__(self) -> None:
        self._check({"columns": 2, "idle": 0}, ("entry", "gain", "key_logit"))
        if self.columns * self.entry**2 > 1:
            raise InvalidArgument(f"entry: {self.entry} given; at most 1/√columns is needed, columns = {self.columns}")
        if self.gain > Fraction(5, 8):
            raise InvalidArgument(f"gain: {self.gain} given; at most 5/8 is needed, so that D = 2 gain ≤ 5/4 < x*")

    @property
    def tokens(self) -> int:
        return 5 + self.idle

    @property
    def width(self) -> int:
        return 4 * self.columns

    def square(self, number: Map, exp: Map) -> Number:
        """δ²Λ/(64w²q), δ the least change of a key's weight in the query's row and q the keys' common weight.

        Λ bounds ‖·‖₁‖·‖_∞ of the row (x, …, x, x + 2) above n − 1 ≥ 4 zero rows from below, about every center.
        """
        x, n, M = number(self.entry), self.tokens, self.width
        z = exp(self.key_logit)
        q = z / (4 * z + self.idle + 1)
        total = 2 * z * (exp(self.gain) + exp(-self.gain)) + self.idle + 1
        change = least([z * exp(self.gain) / total - q, q - z * exp(-self.gain) / total])
        row, column = M * x + 2, x + 2
        candidates = [column * row / 2 + 0 * x]
        if n >= 2 * M * (self.entry + 2) / (M * self.entry + 2):
            candidates = [column * (row - (M * column - row) / (n - 2)), row**2 * n / (4 * M)]
        return change**2 * least(candidates) / (64 * number(self.gain) ** 2 * q)

    def network(self) -> Network:
        """The layer written out; up to width 4096."""
        self._written()
        d, c = self.width, self.columns
        W_QK = np.zeros((1, 2, d, d))
        W_QK[:, :, 0, 1:5] = float(self.gain)
        W = np.zeros((1, 2, d, d))
        for key in range(4):
            W[0, 0, 1 + key, key * c : (key + 1) * c] = float(self.entry)
        W[0, 1, 1:5, 0] = 0.5
        bias = np.zeros((1, 2, d))
        bias[:, :, 1:5] = float(self.key_logit) * np.array([1.0, 1.0, -1.0, -1.0])
        return Network.from_arrays(W_QK, W, 1, bias)

    def input(self) -> Floats:
        """X: the query, the keys, the idle tokens, one a row."""
        X = np.zeros((self.tokens, self.width))
        X[np.arange(5), np.arange(5)] = 1.0, 1.0, 1.0, -1.0, -1.0
        return X


def four_keys(idle: int = 5995) -> FourKeys:
    """The layer of this family with the least width that violates `dong2021:2.3-printed`, for so many idle tokens.

    >>> [(keys.tokens, keys.width) for keys in map(four_keys, (0, 395, 995, 5995))]
    [(5, 15876), (400, 5952), (1000, 4420), (6000, 3928)]
    """
    low, high = 4, 2**14
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _four_keys(middle, idle).certified_ratio() > 1 else (middle, high)
    return _four_keys(high, idle)


def _four_keys(columns: int, idle: int) -> FourKeys:
    entry = Fraction(math.isqrt(4**30 // columns), 2**30)
    return FourKeys(columns, entry, idle, Fraction(1, 256), Fraction(64))
