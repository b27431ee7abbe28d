"""A formula about named arrays: what is not about a network. Files of claims import from here what they register."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any, Protocol, Self

import numpy as np

from rankmath.arithmetic.protocol import System
from rankmath.formula import doubles
from rankmath.formula.evaluate import NUMBERS, Numbers, Scalar, Truth
from rankmath.formula.language import FUNCTIONS, defined, predicate, quantity
from rankmath.formula.numbers import Signed
from rankmath.formula.rational import Own, fraction, function, is_rational, rational
from rankmath.formula.run import threshold, unbox
from rankmath.formula.text import Text, joined
from rankmath.validation import Array, Undecided

__all__ = ["ArrayRun", "Scalar", "Truth", "column", "defined", "farthest", "predicate", "quantity", "unbox"]


class Arrays(Protocol):
    """Named arrays, each with one leading axis where they are a batch."""

    @property
    def arrays(self) -> dict[str, Array]: ...
    @property
    def is_batch(self) -> bool: ...
    def __len__(self) -> int: ...
    def select(self, index: int) -> Self: ...


class ArrayRun:
    """Named arrays in one arithmetic."""

    on_a_line = False

    def __init__(self, A: System, instance: Arrays) -> None:
        self.A, self.instance = A, instance
        self.numbers: Numbers = NUMBERS[A.name]
        self.memory: dict[Hashable, Scalar] = {}

    def __getitem__(self, name: str) -> Array:
        """The array as it was given."""
        return self.instance.arrays[name]

    def array(self, name: str | tuple[str, int]) -> Array:
        """The array, or its row with an index, in the arithmetic."""
        if isinstance(name, tuple):
            raw, index = np.asarray(self[name[0]]), name[1:]
            return self.A.asarray(raw[:, *index] if self.instance.is_batch else raw[index])
        return self.A.asarray(np.asarray(self[name]))

    def number(self, x: Array) -> Scalar:
        """A value (over the batch, in float64) as a number."""
        return x if self.A.unbounded else Signed.of(x)

    def from_log(self, log: Array) -> Scalar:
        return self.numbers.from_log(log)

    def letter(self, name: str) -> Fraction | Scalar:
        if name == "x_star":
            return threshold(self.numbers)
        if name == "n":
            return Fraction(self.rows)
        value = np.asarray(self[name])
        entry: object = value[()]
        if isinstance(entry, Fraction | int | np.integer):
            return Fraction(int(entry)) if isinstance(entry, np.integer) else Fraction(entry)
        return self.number(self.A.asarray(value)) if not self.A.unbounded else self.A.constant(float(value))

    @property
    def rows(self) -> int:
        """Rows of the first matrix (or sequence of matrices) among the arrays: what an index i runs over."""
        lead = 1 if self.instance.is_batch else 0
        return int(next(np.shape(a)[-2] for a in self.instance.arrays.values() if np.ndim(a) - lead >= 2))

    def switch(self, name: str, word: str) -> bool:
        raise KeyError(name)

    def by_text(self, name: str, arguments: tuple[Any, ...]) -> Scalar:
        """A definition. In doubles: a number of every instance of a batch at once. Else one by one: exactly where the
        text is about rational numbers, or in the arithmetic."""
        entry, lead = FUNCTIONS[name], 1 if self.instance.is_batch else 0
        places, exact = tuple(parameter.name for parameter in entry.parameters), is_rational(entry.text)
        n = self.rows if any(np.ndim(array) - lead >= 2 for array in self.instance.arrays.values()) else None
        if not self.A.unbounded and entry.value == "number" and not (exact and self._is_exact(arguments)):
            own = self.memory.setdefault("own doubles", Own(doubles.ALGEBRA))
            with np.errstate(all="ignore"):  # outside the hypotheses there may be no such number
                found = doubles.function(entry.text, places)(own, n, *map(self._doubles, arguments))
            whole = np.broadcast_to(found, len(self.instance))
            return self.number(whole if lead else whole[0])
        if self.instance.is_batch:
            members = self.memory.setdefault(
                "members", [ArrayRun(self.A, self.instance.select(i)) for i in range(len(self.instance))]
            )
            return joined([run.by_text(name, arguments) for run in members], self.A.unbounded)
        if not exact:
            # Equal eigenvalues are told apart by exact arithmetic alone.
            numbers = _fractions if "moduli(" in entry.text else self._lifted
            given = dict(zip(places, (self._read(part, numbers) for part in arguments), strict=True))
            try:
                return Text(self.A, {}).read(entry.text, {"n": None if n is None else Fraction(n), **given})
            except Undecided:
                return self.A.constant(np.nan)
        own = self.memory.setdefault("own", Own())
        found = function(entry.text, places)(own, n, *(self._read(part, rational) for part in arguments))
        return Truth(found, "in exact rationals") if entry.value == "truth" else fraction(found)

    def _is_exact(self, arguments: tuple[Any, ...]) -> bool:
        """Whether an array that is given is not of doubles, or there is none."""
        names = [part[0] if isinstance(part, tuple) else part for part in arguments]
        return not all(np.asarray(self[name]).dtype == float for name in names if isinstance(name, str))

    def _read(self, given: Any, numbers: Callable[[Any], Any]) -> Any:
        """A number, or an array (or a row of one) as lists of numbers of the kind that its entries are."""
        name, *places = given if isinstance(given, tuple) else (given,)
        if not isinstance(name, str):
            return numbers(name) if isinstance(name, Fraction) else name
        key = (numbers, name)
        if key not in self.memory:
            self.memory[key] = numbers(np.asarray(self[name]).tolist())
        found = self.memory[key]
        for place in places:
            found = found[place]
        return found

    def _lifted(self, value: Any) -> Any:
        return self.A.asarray(np.asarray(value, dtype=object)).tolist() if isinstance(value, list) else Fraction(value)

    def _doubles(self, given: Any) -> Any:
        """A number, or an array (or a row of one) with the batch, if need be of one, as its last axis."""
        name, *places = given if isinstance(given, tuple) else (given,)
        if not isinstance(name, str):
            return name.floats() if isinstance(name, Signed) else int(name) if name == int(name) else float(name)
        array = np.asarray(self[name], dtype=float)
        return np.moveaxis(array if self.instance.is_batch else array[None], 0, -1)[tuple(places)]


def _fractions(value: Any) -> Any:
    return [_fractions(part) for part in value] if isinstance(value, list) else Fraction(value)


def column(run: ArrayRun, name: str) -> Array:
    """A vector as a column, (..., m, 1)."""
    return run.A.asarray(np.asarray(run[name])[..., :, None])


def farthest(A: System, rows: Array) -> Array:
    """The largest ℓ₂ distance of two rows, a number (or one for each of a batch)."""
    first, second = np.triu_indices(rows.shape[-2], 1)
    if first.size == 0:
        return unbox(A.sum(A.sum(0 * rows, axis=-1), axis=-2))
    gaps = rows[..., first, :] - rows[..., second, :]
    return unbox(A.sqrt(A.max(A.sum(gaps * gaps, axis=-1), axis=-2)))


defined(
    "osc(v: array)",
    "max(v[i] for i in range(len(v))) - min(v[i] for i in range(len(v)))",
    "largest minus least entry of a vector, or of a row of a matrix",
    by_name=True,
)
defined("count(v: array)", "len(v)", "how many entries a vector has", example="count(v) >= 1")
defined("form_size(B: array)", "spectral(B)", "spectral norm of a matrix")
defined(
    "least_value(lam: array)",
    "min(lam[i] for i in range(len(lam)))",
    "least entry",
    example="least_value(lam) <= first_value(lam)",
)
defined(
    "positive_stochastic(A: array)",
    "all(A[i][j] > 0 for i in range(n) for j in range(n)) and"
    " all(sum(A[i][j] for j in range(n)) == 1 for i in range(n))",
    "every entry is positive, and every row sums to 1 exactly",
)
