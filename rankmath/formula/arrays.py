"""A formula about named arrays: what is not about a network. Files of claims import from here what they register."""
# mypy: implicit-reexport

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from typing import Any, Protocol, Self

import numpy as np

from rankmath.arithmetic.protocol import System
from rankmath.formula.evaluate import NUMBERS, Numbers, Scalar, Truth
from rankmath.formula.language import FUNCTIONS, defined, predicate, quantity  # noqa: F401
from rankmath.formula.numbers import Signed
from rankmath.formula.rational import Own, fraction, function, rational
from rankmath.formula.run import threshold, unbox
from rankmath.formula.text import joined
from rankmath.validation import Array


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
        """A definition over rational numbers, exactly; each of a batch by itself."""
        if self.instance.is_batch:
            members = self.memory.setdefault(
                "members", [ArrayRun(self.A, self.instance.select(i)) for i in range(len(self.instance))]
            )
            return joined([run.by_text(name, arguments) for run in members], self.A.unbounded)
        entry = FUNCTIONS[name]
        n = self.rows if any(np.ndim(array) >= 2 for array in self.instance.arrays.values()) else None
        own = self.memory.setdefault("own", Own())
        defined = function(entry.text, tuple(parameter.name for parameter in entry.parameters))
        found = defined(own, n, *(self._rational(given) for given in arguments))
        return Truth(found, "in exact rationals") if entry.value == "truth" else fraction(found)

    def _rational(self, given: str | tuple[Any, ...] | Fraction | int) -> Any:
        """A number, or an array (or a row of one) as lists of the fractions that its entries are."""
        name, *places = given if isinstance(given, tuple) else (given,)
        if not isinstance(name, str):
            return rational(name)
        key = ("rational", name)
        if key not in self.memory:
            self.memory[key] = rational(np.asarray(self[name]).tolist())
        found = self.memory[key]
        for place in places:
            found = found[place]
        return found


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


@quantity(
    "osc(v: array)",
    text="max(v[i] for i in range(len(v))) - min(v[i] for i in range(len(v)))",
    by_name=True,
    example="osc(v) >= 0",
)
def osc(run: ArrayRun, v: str | tuple[str, int]) -> Scalar:
    """largest minus least entry of a vector, or of a row of a matrix"""
    A = run.A
    row = run.array(v)[..., None, :]
    return run.number(unbox(A.max(row, axis=-1) + A.max(-row, axis=-1)))


@quantity("count(v: array)", text="len(v)", example="count(v) >= 1")
def count(run: ArrayRun, v: str) -> int:
    """how many entries a vector has"""
    return int(np.shape(run[v])[-1])


defined(
    "positive_stochastic(A: array)",
    "all(A[i][j] > 0 for i in range(n) for j in range(n)) and"
    " all(sum(A[i][j] for j in range(n)) == 1 for i in range(n))",
    "every entry is positive, and every row sums to 1 exactly",
)
