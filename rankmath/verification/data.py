"""The data of a statement that is not about networks: checked by what the statement declares of its arrays."""

from __future__ import annotations

import operator
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from inspect import Parameter, Signature
from keyword import iskeyword

import numpy as np

from rankmath.formula.printed import latex_letter
from rankmath.linalg.masks import as_mask
from rankmath.linalg.rationals import exact_array
from rankmath.validation import Array, ArrayLike, InvalidArgument, Number, as_array, short
from rankmath.verification.instance import ArrayInstance

COMPARED = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
_NONE = Parameter.empty
_CONDITION = re.compile(r"(?P<axis>[a-z]?) ?(?P<sign>[<>]=?) (?P<limit>-?\d+)")


_WORDS = {"double": 0, "whole": 0, "even": 0, "stochastic": 1, "no zero row": 1, "independent rows": 2}
_AXES = re.compile(r"(mask [A-Za-z]\w*|([A-Za-z]\w*|[1-9]\d*)( ([A-Za-z]\w*|[1-9]\d*))*)?")


def check_declared(arrays: object) -> None:
    """Refuse what `Declared` cannot read.

    >>> check_declared({"c": "m, >= 0, m > 1, whole", "M": "mask m = causal"})
    >>> check_declared({"c": "m, >0"})
    Traceback (most recent call last):
    ...
    rankmath.InvalidArgument: arrays: '>0' given for c; allowed are > 0, m >= 2 and the like (whole numbers, with \
blanks), double, whole, even, stochastic, no zero row and independent rows
    """
    if not isinstance(arrays, Mapping):
        raise InvalidArgument(f"arrays: {short(arrays)} given; names with their axes, as in {{'E': 'n m'}}, are needed")
    known: set[str] = set()
    for name, declared in arrays.items():
        if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
            raise InvalidArgument(f"arrays: the name {short(name)} given; a name such as 'E' is needed")
        if not isinstance(declared, str):
            raise InvalidArgument(f"arrays: {short(declared)} given for {name}; axes in a text, as 'n m', are needed")
        axes, *conditions = (part.strip() for part in declared.partition(" = ")[0].split(","))
        if not _AXES.fullmatch(axes):
            raise InvalidArgument(
                f"arrays: the axes {short(axes)} given for {name}; letters or numbers with blanks between them, as "
                "'n m', 'mask n' or, for a number, nothing, are needed"
            )
        known.update(axes.split())
        for condition in conditions:
            found = _CONDITION.fullmatch(condition)
            if not found and condition not in _WORDS:
                words = f"{', '.join([*_WORDS][:-1])} and {[*_WORDS][-1]}"
                like = "> 0, m >= 2 and the like (whole numbers, with blanks)"
                raise InvalidArgument(f"arrays: {condition!r} given for {name}; allowed are {like}, {words}")
            if _WORDS.get(condition, 0) > len(axes.split()):
                what = "a number" if not axes else "a vector"
                raise InvalidArgument(f"arrays: {condition!r} given for {name}, {what}; it is said of what has rows")
            if found and found["axis"] and found["axis"] not in known:
                raise InvalidArgument(f"arrays: {condition!r} given for {name}; there is no axis {found['axis']}")


@dataclass(frozen=True)
class Declared:
    """Makes an instance of what a user hands over.

    Each array is declared by its axes and by conditions on its entries: ``"E": "n m"`` is a matrix,
    ``"c": "m, m >= 2"`` a vector of at least two entries with as many entries as E has columns, ``"T": ", > 0"`` a
    positive number, ``"mask n = causal"`` a mask of n tokens, the causal one where none is given. Other conditions:
    `double` (also where others are exact), `whole`, `even`, `stochastic` (rows ≥ 0 that sum to 1),
    `no zero row`, `independent rows`.

    >>> Declared({"E": "n m", "c": "m"}, exact=True)([[1, 2]], [3, 4, 5])
    Traceback (most recent call last):
    ...
    rankmath.InvalidArgument: c: shape (3,) given; it must be (2), no axis empty
    """

    arrays: Mapping[str, str]
    exact: bool

    @cached_property
    def __signature__(self) -> Signature:
        kind, texts = Parameter.POSITIONAL_OR_KEYWORD, self.arrays.items()
        return Signature([Parameter(name, kind, default=text.partition(" = ")[2] or _NONE) for name, text in texts])

    def __call__(self, *given: ArrayLike, **named: ArrayLike) -> ArrayInstance:
        bound = self.__signature__.bind(*given, **named)
        bound.apply_defaults()
        lengths: dict[str, int] = {}
        return ArrayInstance({name: self._checked(name, bound.arguments[name], lengths) for name in self.arrays})

    def _checked(self, name: str, value: ArrayLike, lengths: dict[str, int]) -> Array:
        axes, *conditions = (part.strip() for part in self.arrays[name].partition(" = ")[0].split(","))
        letters = axes.split()
        if "mask" in letters:
            count = lengths.get(letters[-1])
            if count is None and np.ndim(value) != 2:
                raise InvalidArgument(f"{name}: {value!r} given; a square matrix of 0 and 1 is needed")
            matrix = np.asarray(value) != 0 if isinstance(value, (list, tuple, np.ndarray)) else value
            return as_mask(matrix, count or len(value)).allowed
        shape = tuple(int(letter) if letter.isdigit() else lengths.get(letter) for letter in letters)
        if not self.exact or "double" in conditions:
            array = as_array(name, value, ndim=len(shape), shape=shape)
        else:
            array = exact_array(name, value, shape) if shape else rational(name, value)
        for letter, length in zip(letters, np.shape(array), strict=True):
            if not letter.isdigit() and lengths.setdefault(letter, length) != length:
                raise InvalidArgument(f"{name}: shape {np.shape(array)} given; it must be ({', '.join(letters)})")
        for condition in conditions:
            self._demand(name, array, condition, lengths)
        return array

    @staticmethod
    def _demand(name: str, array: Array, condition: str, lengths: Mapping[str, int]) -> None:
        found = _CONDITION.fullmatch(condition)
        entries: list[Number] = np.asarray(array, dtype=object).ravel().tolist()
        if found is not None:
            of, limit = COMPARED[found["sign"]], int(found["limit"])
            axis = found["axis"]
            wrong = [number for number in ([lengths[axis]] if axis else entries) if not of(number, limit)]
            wrong = [f"{axis} = {number}" for number in wrong] if axis else wrong
        elif condition in ("whole", "even"):
            wrong = [number for number in entries if Fraction(number) % (1 + (condition == "even"))]
        elif condition == "double":
            wrong = []
        elif condition == "stochastic":
            sums = np.asarray(array).sum(axis=-1).ravel().tolist()
            wrong = [number for number in entries if number < 0] + [total for total in sums if total != 1]
        elif condition == "independent rows":
            wrong = ["a matrix"] if np.linalg.matrix_rank(array) < len(array) else []
        else:
            assert condition == "no zero row", condition
            wrong = [] if np.any(array != 0, axis=-1).all() else ["a zero row"]
        if wrong:
            raise InvalidArgument(f"{name}: {wrong[0]} given; {condition} is needed")


_SIGNS = {"<": "<", ">": ">", ">=": r"\ge "}


def declared_in_words(arrays: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each array and what is assumed of it; an upper limit on a size is the library's, not the claim's.

    >>> dict(declared_in_words({"P": "t n n, stochastic, n <= 64", "a": ", > 0, < 1"}))
    {'P': 'an array t × n × n, stochastic', 'a': 'a number, > 0, < 1'}
    >>> dict(declared_in_words({"c": "n", "E": "n m, no zero row"}))
    {'c': 'a vector of n numbers', 'E': 'an array n × m, no zero row'}
    """
    for name, declared in arrays.items():
        axes, *conditions = (part.strip() for part in declared.partition(" = ")[0].split(","))
        shape = re.sub("^mask × (.*)", r"a mask of \1 tokens: \1 × \1, of 0 and 1", " × ".join(axes.split()))
        count = len(axes.split())
        shape = f"a vector of {shape} numbers" if count == 1 else f"an array {shape}" if "mask" not in axes else shape
        shape = (shape if axes else "a number") + (", in words λ" if name == "skip" else "")
        shown = (part for part in conditions if not re.match(r"[a-z]? ?<= |double", part))
        # A vector has no rows.
        said = ("not zero" if part == "no zero row" and " " not in axes else part for part in shown)
        yield name, ", ".join((shape, *said))


def printed_data(arrays: Mapping[str, str], given: Collection[str]) -> Iterator[str]:
    r"""What the arrays are, in LaTeX, one after the other, but what is given elsewhere.

    An upper limit on a size is the library's, not the claim's.

    >>> print(*printed_data({"P": "t n n, stochastic, n >= 2", "w": ", whole, >= 2"}, ["n >= 2"]))
    P\in(\mathbb{R}^{n\times n})^{t}\text{, }t\ge 1\text{, row-stochastic} w\in\mathbb{Z}\text{, }w\ge 2
    >>> print(*printed_data({"M": "mask n = causal"}, []))
    M\in\{0,1\}^{n\times n}
    """
    told: set[str] = set()  # axes that the claim counts over, and of which there is one at least
    for name, declared in arrays.items():
        axes, *conditions = (part.strip() for part in declared.partition(" = ")[0].split(","))
        letter, letters = latex_letter(name), axes.split()
        if letters[:1] == ["mask"]:
            yield rf"{letter}\in\{{0,1\}}^{{{letters[1]}\times {letters[1]}}}"
            continue
        kind = r"\mathbb{Z}" if {"whole", "even"} & set(conditions) else r"\mathbb{R}"
        size = r"\times ".join(letters[-2:])
        shown = f"{kind}^{{{size}}}" if letters else kind
        more = r"\times ".join(letters[:-2])
        shown = f"({shown})^{{{more}}}" if more else shown
        said = [rf"{axis}\ge 1" for axis in letters[:-2] if axis not in told]
        told.update(letters[:-2])
        for condition in conditions:
            if {form.format(name) for form in _GIVEN_BY.get(condition, ())} & {*given}:
                continue
            found = _CONDITION.fullmatch(condition)
            if found is None:
                word = "not zero" if condition == "no zero row" and len(letters) == 1 else _SAID.get(condition, "")
                said += [rf"\text{{{word}}}"] if word else []
            elif found["sign"] in _SIGNS and f"{found['axis'] or name} {found['sign']} {found['limit']}" not in given:
                of = found["axis"] or (letter if not letters else r"\text{entries }")
                said.append(f"{of}{_SIGNS[found['sign']]}{found['limit']}")
        yield rf"{letter}\in{shown}" + "".join(rf"\text{{, }}{part}" for part in said).replace(
            r"\text{, }\text{", r"\text{, "
        )


#: Hypotheses that say what a condition says.
_GIVEN_BY = {
    "stochastic": ("row_stochastic({})", "positive_stochastic({})"),
    "> 0": ("positive_stochastic({})", "bottom({}) > 0", "sees_predecessor(allowed, {})"),
    "< 1": ("sees_predecessor(allowed, {})",),
}
_SAID = {
    "even": "even",
    "stochastic": "row-stochastic",
    "no zero row": "no row zero",
    "independent rows": "rows linearly independent",
}


# -- exact ---------------------------------------------------------------------------------------------------


def rational(name: str, value: Number) -> Fraction:
    """A rational number, or an InvalidArgument that names it."""
    from rankmath.equilibria.wu2024 import exact_number

    number = exact_number(name, value)
    if not number.is_Rational:
        raise InvalidArgument(f"{name}: {number} given; a rational number is needed")
    return Fraction(int(number.p), int(number.q))


def exact_batch(label: str, **arrays: ArrayLike) -> ArrayInstance:
    """A batch of exact data, each array with one leading axis."""
    exact = {name: exact_array(name, value, (None,) * np.ndim(value)) for name, value in arrays.items()}
    return ArrayInstance(exact, label, is_batch=True)
