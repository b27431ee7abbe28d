"""A formula about named arrays: what is not about a network. Files of claims import from here what they register."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from fractions import Fraction
from typing import Any, Protocol, Self

import numpy as np

from rankmath.arithmetic.protocol import System
from rankmath.formula.evaluate import NUMBERS, Numbers, Scalar, Truth
from rankmath.formula.grids import Grid, OneByOne, Values
from rankmath.formula.language import FUNCTIONS, defined, predicate, quantity
from rankmath.formula.numbers import Signed
from rankmath.formula.rational import Own, fraction, function, is_rational, rational
from rankmath.formula.run import threshold
from rankmath.formula.text import Text, joined, rounded
from rankmath.validation import Array, InvalidArgument, Undecided

__all__ = ["ArrayRun", "Scalar", "Truth", "defined", "predicate", "quantity"]


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

    def number(self, x: Array) -> Scalar:
        """A value (over the batch, in float64) as a number."""
        return x if self.A.unbounded else Signed.of(x)

    def letter(self, name: str) -> Fraction | Scalar:
        if name == "x_star":
            return threshold(self.numbers)
        if name == "n":
            return Fraction(self.rows)
        return self.entry(name)

    def shape(self, name: str) -> tuple[int, ...]:
        """That of an array, without the axis of a batch."""
        return tuple(np.shape(self[name])[1 if self.instance.is_batch else 0 :])

    def entry(self, name: str, *places: int) -> Fraction | Scalar:
        """A number among the arrays, or at these places of one, exact where it was given so."""
        if name not in self.instance.arrays:
            raise InvalidArgument(f"claim: {name} given; it is of networks, and the arrays are {', '.join(self.names)}")
        shape = self.shape(name)
        if len(places) != len(shape) or any(place >= end for place, end in zip(places, shape, strict=True)):
            asked = f"{name}{list(places)}" if places else name
            raise InvalidArgument(f"arrays: {name} of shape {shape} given; {asked} is no number of it")
        array: Array = np.asarray(self[name])
        value = array[(..., *places)]
        entry: object = value[()]
        if isinstance(entry, Fraction | int | np.integer):
            return Fraction(int(entry)) if isinstance(entry, np.integer) else Fraction(entry)
        return self.number(self.A.asarray(value)) if not self.A.unbounded else self.A.constant(float(value))

    @property
    def names(self) -> list[str]:
        """Those of the arrays."""
        return [*self.instance.arrays]

    @property
    def rows(self) -> int:
        """Rows of the first matrix (or sequence of matrices) among the arrays: what an index i runs over."""
        if not self._has_rows:
            raise InvalidArgument(f"claim: n given; it counts rows, and no array has any: {', '.join(self.names)}")
        return next(shape[-2] for shape in map(self.shape, self.instance.arrays) if len(shape) >= 2)

    def switch(self, name: str, word: str) -> bool:
        raise InvalidArgument(f"given: {name} == {word}; it is of networks, and the arrays are {', '.join(self.names)}")

    def by_text(self, name: str, arguments: tuple[Any, ...]) -> Scalar:
        """A definition: of all instances at once, or one by one, and exactly where text and numbers are rational."""
        entry = FUNCTIONS[name]
        places, exact = tuple(parameter.name for parameter in entry.parameters), is_rational(entry.text)
        if not exact if self.A.unbounded else not self._is_exact(arguments):
            with suppress(OneByOne):
                return self._at_once(entry.text, dict(zip(places, map(self._values, arguments), strict=True)))
        if self.instance.is_batch:
            members = self.memory.setdefault(
                "members", [ArrayRun(self.A, self.instance.select(i)) for i in range(len(self.instance))]
            )
            return joined([run.by_text(name, arguments) for run in members], self.A.unbounded)
        n = self.rows if self._has_rows else None
        if exact:
            own = self.memory.setdefault("own", Own())
            found = function(entry.text, places)(own, n, *(self._read(part, rational) for part in arguments))
            return Truth(found, "in exact rationals") if entry.value == "truth" else fraction(found)
        if not self.A.unbounded:
            return rounded(lambda B: ArrayRun(B, self.instance).by_text(name, arguments))
        # Equal eigenvalues are told apart by exact arithmetic alone.
        numbers = _fractions if "moduli(" in entry.text else self._lifted
        env = dict(zip(places, (self._read(part, numbers) for part in arguments), strict=True))
        try:
            found = Text(self.A, {}).read(entry.text, {"n": None if n is None else Fraction(n), **env})
        except Undecided:
            found = None if entry.value == "truth" else self.A.constant(np.nan)
        return Truth(found) if entry.value == "truth" else found

    def _at_once(self, text: str, given: dict[str, Values]) -> Scalar:
        """The definition over the whole batch; a truth that doubles do not tell is for others."""
        env = given | ({"n": Values(np.array([self.rows]))} if self._has_rows else {})
        grid = Grid(self.A)
        found = grid.number(grid.read(text, env))
        x, top, size = found.x, found.top, len(self.instance)
        if found.is_truth:
            assert top is not None
            if not (self.A.unbounded or (x | top).all()):
                raise OneByOne("not decided in doubles")
            said = np.broadcast_to(x, (size,))
            return Truth(said if self.instance.is_batch else (True if x.all() else False if top.all() else None))
        x = np.broadcast_to(x, (size,)) if self.instance.is_batch else x[0]
        if self.A.unbounded:
            return x
        number = Signed.of(x)
        if top is None:
            return number
        with np.errstate(divide="ignore"):
            log = np.log(np.broadcast_to(top, (size,)) if self.instance.is_batch else top[0])
        return Signed(number.sign, number.log, np.maximum(number.log, log))

    @property
    def _has_rows(self) -> bool:
        return any(len(self.shape(name)) >= 2 for name in self.instance.arrays)

    def _values(self, given: Any) -> Values:
        """A number, or an array or a row of one, with the batch as its first axis."""
        if isinstance(given, Signed):
            with np.errstate(over="ignore"):
                return Values(np.atleast_1d(given.floats()), (), np.atleast_1d(np.exp(given.top)))
        name, *places = given if isinstance(given, tuple) else (given,)
        if not isinstance(name, str):
            if isinstance(name, Fraction | int) and name == int(name):
                return Values(np.array([int(name)]))
            value = self.numbers.lift(name) if isinstance(name, Fraction) else name
            return self._values(value) if isinstance(value, Signed) else Values(np.array([value], dtype=object))
        key = ("values", name)
        if key not in self.memory:
            raw = np.asarray(self[name])
            raw = raw if self.instance.is_batch else raw[None]
            self.memory[key] = Values(self.A.asarray(raw) if self.A.unbounded else raw.astype(float))
        found: Values = self.memory[key]
        return Values(found.x[:, *places]) if places else found

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


def _fractions(value: Any) -> Any:
    return [_fractions(part) for part in value] if isinstance(value, list) else Fraction(value)


defined(
    "osc(v: array)",
    "max(v[i] for i in range(len(v))) - min(v[i] for i in range(len(v)))",
    "largest minus least entry of a vector, or of a row of a matrix",
    by_name=True,
)
defined("count(v: array)", "len(v)", "how many entries a vector has", example="count(v) >= 1")
defined("form_size(B: array)", "spectral(B)", "spectral norm of a matrix")
defined(
    "least_value(lam: array)", "min(lam[i] for i in range(len(lam)))", "least entry", example="least_value(lam) <= 1"
)
defined(
    "positive_stochastic(A: array)",
    "all(A[i][j] > 0 for i in range(n) for j in range(n)) and"
    " all(sum(A[i][j] for j in range(n)) == 1 for i in range(n))",
    "every entry is positive, and every row sums to 1 exactly",
)
