"""mpmath: any number of digits, unbounded exponents, rounding to nearest (not rigorous)."""

import mpmath
import numpy as np

from rankmath.arithmetic.objects import ObjectArithmetic, entrywise
from rankmath.validation import Array, Floats, InvalidArgument, Number


class Multiprecision(ObjectArithmetic):
    """Arrays of mpf in a context of their own; mpmath's global precision is left alone.

    >>> A = Multiprecision(dps=30)
    >>> print(A.context.nstr(A.exp(A.asarray([[1.0]]))[0, 0], 29))
    2.7182818284590452353602874714
    """

    name = "mpmath"

    def __init__(self, dps: int) -> None:
        self.context = context = mpmath.mp.clone()
        context.dps = dps
        self.zero, self.one = context.mpf(0), context.mpf(1)
        #: A factor "somewhere in [0, 1]": mpmath takes one.
        self.between = self.zero
        self.exp = entrywise(context.exp)
        self.log = entrywise(lambda x: context.log(x) if x > 0 else context.ninf)
        self.sqrt = entrywise(context.sqrt)
        self.abs = entrywise(abs)
        self.tanh = entrywise(context.tanh)
        self.erfc = entrywise(context.erfc)
        self.cosh = entrywise(context.cosh)
        self.sinh = entrywise(context.sinh)
        self.expm1_of_temporary = entrywise(self._expm1)
        self.exp_of_temporary = self.exp

    @property
    def root_two(self) -> Number:
        return self.context.sqrt(2)

    @property
    def root_two_pi(self) -> Number:
        return self.context.sqrt(2 * self.context.pi)

    def constant(self, value: Number) -> Number:
        return self.context.mpf(value)

    def asarray(self, value: Array) -> Array:
        return entrywise(self.context.mpf)(np.asarray(value, dtype=object))

    def expm1_average(self, left: Array, right: Array, q: Array, values: Array, offsets: Array | None = None) -> Array:
        try:
            return super().expm1_average(left, right, q, values, offsets)
        except ZeroDivisionError:
            raise InvalidArgument(
                f"dps: {self.context.dps} digits leave nothing of attention as saturated as this network's; "
                "more may, and 'float64' and 'balls' take it apart"
            ) from None

    def product(self, a: Array, b: Array) -> Array:
        columns, fdot = b.T.tolist(), self.context.fdot
        out = np.empty((a.shape[0], b.shape[1]), dtype=object)
        for i, row in enumerate(a.tolist()):
            out[i] = [fdot(row, column) for column in columns]
        return out

    def maximum(self, a: Array, b: Array) -> Array:
        return np.maximum(a, b)

    def choose(self, u: Array, if_positive: Array, otherwise: Array) -> Array:
        return np.where(self.certainly_positive(u), if_positive, otherwise)

    def scaled_floats(self, a: Array) -> Floats:
        """`a` divided by its largest magnitude, as doubles."""
        largest = max((abs(x) for x in a.flat), default=self.zero)
        if largest == 0:
            return np.zeros(a.shape)
        return np.asarray([float(x / largest) for x in a.flat]).reshape(a.shape)

    def certainly_positive(self, a: Array) -> Array:
        return np.asarray(a > 0, dtype=bool)

    def vanishes(self, a: Array, size: Array) -> Array:
        """Whether `a`, a difference of numbers of the given size, is zero to rounding."""
        return np.asarray(a <= size * self.context.ldexp(1, 8 - self.context.prec), dtype=bool)

    def bits(self) -> int:
        return int(self.context.prec)

    def float_and_exponent(self, x: Number) -> tuple[float, int]:
        """x as float · 2^exponent, with exponent 0 wherever a double holds x."""
        if not self.context.isfinite(x) or not x or self.context.mag(x) <= 1000:
            return float(x), 0
        exponent = int(self.context.mag(x)) - 512
        return float(self.context.ldexp(x, -exponent)), exponent

    def upper_exponent(self, a: Array) -> int:
        """An integer b with every |entry| ≤ 2^b."""
        return max(int(self.context.mag(x)) if x else -(10**18) for x in a.flat)

    def error_ball(self, exponent: int) -> Number:
        """What a ball would add for an error of up to 2^exponent: nothing, mpmath rounds it away."""
        return self.zero

    def _expm1(self, x: Number) -> Number:
        # mpmath's own expm1 works by raising precision to meet the cancellation; a tiny x needs none of it.
        if x and self.context.mag(x) < -self.context.prec:
            return x
        return self.context.expm1(x)
