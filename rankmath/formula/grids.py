"""A definition over arrays, for all instances of a batch and all places of its loops at once, in any arithmetic.

A value is an array: its first axis is the batch, then comes one axis for each loop that it depends on, then its own
axes, those of a vector or a matrix. So a definition costs as many operations on arrays as it has signs. In doubles a
number carries the size of the largest summand that went into it, as in `Signed`: what rounding may have cost is a
fraction of that.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from rankmath.arithmetic.protocol import System
from rankmath.attention.softmax import softmax
from rankmath.formula.evaluate import NUMBERS
from rankmath.formula.numbers import FLOAT_MARGIN
from rankmath.formula.printed import lets
from rankmath.formula.text import pi
from rankmath.linalg.norms import spectral
from rankmath.validation import Array


class OneByOne(Exception):
    """A definition asks for what is worked out for one instance at a time."""


@dataclass(frozen=True, eq=False, slots=True)
class Values:
    """Numbers, with the axes of these loops in their order; or truths, where `x` is what certainly holds."""

    x: Array
    loops: tuple[int, ...] = ()
    #: The largest summand, in doubles; None where nothing was rounded. Of truths what certainly does not hold.
    top: Array | None = None

    @property
    def own(self) -> int:
        """How many axes are its own."""
        return int(self.x.ndim) - 1 - len(self.loops)

    @property
    def size(self) -> Array:
        """The largest summand."""
        return np.abs(self.x) if self.top is None else self.top

    @property
    def is_whole(self) -> bool:
        """Whether these are places and counts."""
        return bool(self.x.dtype.kind == "i")

    @property
    def is_truth(self) -> bool:
        return bool(self.x.dtype.kind == "b")


Env: TypeAlias = Mapping[str, Values]

_NAMES: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_PLAIN: dict[str, Callable[[Array, Array], Array]] = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
_RELATIONS: dict[type[ast.cmpop], Callable[[Array, Array], Array]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}


def _gap(v: Values) -> Array:
    """How much larger a summand was than the number itself."""
    return 1.0 if v.top is None else v.top / np.abs(v.x)


def _is_one_more(node: ast.expr) -> bool:
    """Whether this is 1 + x."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and ast.unparse(node.left) == "1"


def _lambert(x: Array) -> Array:
    from scipy.special import lambertw

    return np.asarray(lambertw(x).real)


#: The largest summand of what an operation makes of doubles, or of what a function does.
_SIZES: dict[str, Callable[[Values, Values, Array], Array]] = {
    "+": lambda a, b, x: np.maximum(a.size, b.size),
    "-": lambda a, b, x: np.maximum(a.size, b.size),
    "*": lambda a, b, x: np.maximum(a.size * np.abs(b.x), np.abs(a.x) * b.size),
    "/": lambda a, b, x: np.maximum(a.size / np.abs(b.x), np.abs(x) * _gap(b)),
}
_FUNCTIONS: dict[str, tuple[Callable[[Array], Array], Callable[[Values, Array], Array]]] = {
    "exp": (np.exp, lambda a, x: x * np.maximum(1.0, a.size)),
    "log": (np.log, lambda a, x: np.maximum(np.abs(x), _gap(a))),
    "log1p": (np.log1p, lambda a, x: np.maximum(np.abs(x), a.size / (1 + a.x))),
    "tanh": (np.tanh, lambda a, x: np.maximum(np.abs(x), a.size * (1 - x * x))),
    "sin": (np.sin, lambda a, x: np.maximum(np.abs(x), a.size)),
    "cos": (np.cos, lambda a, x: np.maximum(np.abs(x), a.size)),
    "abs": (np.abs, lambda a, x: a.size),
    "lambert": (_lambert, lambda a, x: x * _gap(a)),
}


def _together(*parts: Values) -> list[Values]:
    """The same values, with the axes of all loops of all of them."""
    first = parts[0]
    if all(part.loops == first.loops and part.x.ndim == first.x.ndim for part in parts):
        return list(parts)
    loops = tuple(sorted({loop for part in parts for loop in part.loops}))
    own = max(part.own for part in parts)

    def fitted(a: Array, part: Values) -> Array:
        lengths = dict(zip(part.loops, a.shape[1:], strict=False))
        rest = a.shape[1 + len(part.loops) :]
        return a.reshape(len(a), *[lengths.get(loop, 1) for loop in loops], *[1] * (own - len(rest)), *rest)

    return [
        part
        if part.loops == loops and part.own == own
        else Values(fitted(part.x, part), loops, None if part.top is None else fitted(part.top, part))
        for part in parts
    ]


class Grid:
    """A reader of definitions over arrays in one arithmetic.

    >>> from rankmath.arithmetic.float64 import Float64
    >>> grid, v = Grid(Float64(np.zeros(1))), Values(np.array([[3.0, 4.0], [1.0, 0.0]]))
    >>> grid.read("sqrt(sum(v[i]**2 for i in range(len(v))))", {"v": v}).x
    array([5., 1.])
    """

    def __init__(self, A: System) -> None:
        self.A, self.numbers = A, NUMBERS[A.name]
        self._loops = 0

    def read(self, text: str, env: Env) -> Values:
        """The value of a definition, with what its letters stand for."""
        named, body = lets(text)
        with np.errstate(all="ignore"):  # outside the hypotheses there may be no such number
            for name, node in named:
                env = {**env, name: self.value(node, env)}
            return self.value(body, env)

    def value(self, node: ast.expr, env: Env) -> Values:
        if type(node) is ast.Name and node.id in env:
            return env[node.id]
        return _MEANING[type(node)](self, node, env)

    def called(self, node: Any, env: Env) -> Values:
        name, arguments = node.func.id, node.args
        if type(arguments[0]) is ast.GeneratorExp:
            return self._reduced(name, arguments[0].elt, arguments[0].generators, env)
        if name == "log" and _is_one_more(arguments[0]):  # 1 + x would lose a small x
            return self._apply("log1p", self.value(arguments[0].right, env))
        return self._call(name, [self.value(argument, env) for argument in arguments])

    def between(self, node: Any, env: Env) -> Values:
        sign, left, right = type(node.op), self.value(node.left, env), self.value(node.right, env)
        return self._product(left, right) if sign is ast.MatMult else self._operate(_NAMES[sign], left, right)

    def signed(self, node: Any, env: Env) -> Values:
        found = self.value(node.operand, env)
        return _negated(found) if type(node.op) is ast.Not else Values(-found.x, found.loops, found.top)

    def compared(self, node: Any, env: Env) -> Values:
        sides = [self.value(side, env) for side in (node.left, *node.comparators)]
        return _all(*map(self._related, map(type, node.ops), sides, sides[1:]))

    def joined(self, node: Any, env: Env) -> Values:
        truths = [self.value(part, env) for part in node.values]
        return _all(*truths) if type(node.op) is ast.And else _negated(_all(*map(_negated, truths)))

    def constant(self, name: str) -> Values:
        if name != "pi":
            raise OneByOne(name)
        if not self.A.unbounded:
            return Values(np.array([math.pi]), (), np.array([math.pi]))
        return Values(self.A.asarray(np.array([0])) + pi(self.A))

    def number(self, v: Values) -> Values:
        """Places and counts as numbers of the arithmetic."""
        if not v.is_whole:
            return v
        return Values(self.A.asarray(v.x) if self.A.unbounded else v.x.astype(float), v.loops)

    # -- one number from one or two ------------------------------------------------------------------------

    def _operate(self, sign: str, a: Values, b: Values) -> Values:
        if sign == "**":
            return self._power(a, b)
        whole = a.is_whole and b.is_whole
        if sign == "/" and whole:
            a, whole = self.number(a), False
        a, b = _together(a, b)
        x = _PLAIN[sign](a.x, b.x)
        return Values(x, a.loops, None if whole or self.A.unbounded else _SIZES[sign](a, b, x))

    def _power(self, a: Values, b: Values) -> Values:
        a, b = _together(self.number(a), b)
        if self.A.unbounded:
            power = self.numbers.power
            raise_: Any = (lambda x, k: power(x, Fraction(int(k)))) if b.is_whole else operator.pow
            return Values(np.frompyfunc(raise_, 2, 1)(a.x, b.x), a.loops)
        x = a.x ** b.x.astype(float)
        # A root of noise is noise.
        slope = np.abs(b.x) * a.size * np.maximum(np.abs(a.x), 1e-16 * a.size) ** (b.x - 1.0)
        return Values(x, a.loops, np.maximum(np.abs(x), slope))

    def _apply(self, name: str, v: Values) -> Values:
        """A function of numbers, entry by entry."""
        if name == "abs" and v.is_whole:
            return Values(np.abs(v.x), v.loops)
        v = self.number(v)
        if self.A.unbounded and name != "lambert" and (name == "sqrt" or name in _FUNCTIONS):
            return Values(np.frompyfunc(lambda x: self.numbers.apply(name, x), 1, 1)(v.x), v.loops)
        if name == "sqrt":
            return self._power(v, Values(np.array([0.5])))
        if name not in _FUNCTIONS or self.A.unbounded:
            raise OneByOne(name)
        if name == "abs":
            return Values(np.abs(v.x), v.loops, v.top)
        function, size = _FUNCTIONS[name]
        x = function(v.x)
        return Values(x, v.loops, size(v, x))

    def _related(self, relation: type[ast.cmpop], a: Values, b: Values) -> Values:
        a, b = _together(a, b)
        x, y = a.x, b.x
        if relation is ast.Eq:
            yes, no = x == y, (x < y) | (x > y)
        else:
            yes, no = _RELATIONS[relation](x, y), _RELATIONS[_OPPOSITE[relation]](x, y)
        yes, no = np.asarray(yes, dtype=bool), np.asarray(no, dtype=bool)
        if not self.A.unbounded and not (a.top is None and b.top is None):
            size = np.maximum(a.size, b.size)
            clear = (np.abs(x - y) > FLOAT_MARGIN * size) | (size == 0)
            yes, no = yes & clear, no & clear
        return Values(yes, a.loops, no)

    def cases(self, node: Any, env: Env) -> Values:
        test = self.value(node.test, env)
        assert test.top is not None
        if test.x.all() or test.top.all():
            return self.value(node.body if test.x.all() else node.orelse, env)
        body, orelse = self.value(node.body, env), self.value(node.orelse, env)
        test, a, b = _together(test, *self._alike(body, orelse))
        assert test.top is not None
        if a.is_truth:
            assert a.top is not None
            assert b.top is not None
            yes, no = ((test.x & p) | (test.top & q) for p, q in ((a.x, b.x), (a.top, b.top)))
            return Values(yes, test.loops, no)
        unknown = ~(test.x | test.top)
        x: Array = np.where(test.x, a.x, b.x)
        if unknown.any():
            x = np.where(unknown, self._unknown(), x)
        return Values(x, test.loops, None if self.A.unbounded or a.is_whole else np.where(test.x, a.size, b.size))

    def _alike(self, *parts: Values) -> list[Values]:
        """Numbers of the arithmetic unless all are places and counts, or truths."""
        whole = all(part.is_whole for part in parts)
        return [part if whole or part.is_truth else self.number(part) for part in parts]

    def _unknown(self) -> Any:
        return self.A.constant(math.nan) if self.A.unbounded else math.nan

    # -- arrays --------------------------------------------------------------------------------------------

    def item(self, v: Values, place: Values) -> Values:
        """The entry, or row, at a place; not a number where there is none."""
        places, axis, length = _whole(place), 1 + len(v.loops), v.x.shape[1 + len(v.loops)]
        within = (places >= 0) & (places < length)
        if len(places) == 1 and len(place.loops) <= 1 and place.loops[:1] not in [(loop,) for loop in v.loops]:
            loops = tuple(sorted((*v.loops, *place.loops)))

            def taken(a: Array) -> Array:
                found = a.take(places[0], axis, mode="clip")
                to = 1 + loops.index(place.loops[0]) if place.loops else axis
                return found if to == axis else np.moveaxis(found, axis, to)
        else:
            at, v = _together(Values(np.clip(places, 0, length - 1), place.loops), v)
            loops, axis = v.loops, 1 + len(v.loops)

            def taken(a: Array) -> Array:
                return np.take_along_axis(a, at.x, axis).squeeze(axis)

        found = Values(taken(v.x), loops, None if v.top is None else taken(v.top))
        if within.all():
            return found
        here, found = _together(Values(within, place.loops), self.number(found))
        return Values(np.where(here.x, found.x, self._unknown()), found.loops, found.top)

    def _product(self, a: Values, b: Values) -> Values:
        """Of matrices; a vector is a column on the right."""
        a, b = map(self.number, (a, b))
        column = b.own == 1
        if column:
            b = Values(b.x[..., None], b.loops, None if b.top is None else b.top[..., None])
        a, b = _together(a, b)
        x = self.A.matmul(a.x, b.x)
        top = None if self.A.unbounded else np.abs(a.x) @ b.size + a.size @ np.abs(b.x)
        return Values(x[..., 0] if column else x, a.loops, top if top is None or not column else top[..., 0])

    def _call(self, name: str, given: list[Values]) -> Values:
        first = given[0]
        if name in ("max", "min") and len(given) > 1:
            given = _together(*self._alike(*given))
            stacked: list[Array] = [
                np.stack(np.broadcast_arrays(*(getattr(v, part) for v in given)), -1) for part in ("x", "size")
            ]
            return self._over(name, Values(stacked[0], given[0].loops, None if self.A.unbounded else stacked[1]), (-1,))
        match name:
            case "len":
                return Values(np.array([first.x.shape[1 + len(first.loops)]]))
            case "identity":
                return Values(np.eye(int(_whole(first)[0]), dtype=int)[None])
            case "T":
                top = None if first.top is None else np.swapaxes(first.top, -1, -2)
                return Values(np.swapaxes(first.x, -1, -2), first.loops, top)
            case "softmax":
                first = self.number(first)
                x = softmax(self.A, first.x + 0)
                top = None if self.A.unbounded else x * np.maximum(1.0, first.size.max(axis=-1, keepdims=True))
                return Values(x, first.loops, top)
        if first.own == 0:
            return self._apply(name, first)
        if name == "spectral" and self.A.unbounded and not first.loops:
            return Values(np.array([spectral(M, self.A) for M in first.x], dtype=object))
        if name not in _OF_ARRAYS or self.A.unbounded:
            raise OneByOne(name)
        x = _OF_ARRAYS[name](first.x)
        if name == "ordered":
            return Values(x, first.loops, np.take_along_axis(first.size, np.argsort(first.x, axis=-1), -1))
        lengths = np.sqrt((first.size**2).sum(axis=-1))
        size = lengths.prod(axis=-1) if name == "det" else np.sqrt((lengths**2).sum(axis=-1))
        return Values(x, first.loops, size[..., None] + 0 * x if name == "moduli" else size)

    # -- loops ---------------------------------------------------------------------------------------------

    def _bound(self, loops: Sequence[ast.comprehension], env: Env) -> tuple[Env, Values, list[Values]]:
        """The letters of loops, each along an axis of its own, and where they are within ranges and conditions."""
        within, letters = _ALWAYS, []
        for loop in loops:
            assert isinstance(loop.iter, ast.Call)
            assert isinstance(loop.target, ast.Name)
            *start, end = (self.value(bound, env) for bound in loop.iter.args)
            low, high = (Values(_whole(bound), bound.loops) for bound in (start[0] if start else _ZERO, end))
            letter = Values(np.arange(int(low.x.min()), int(high.x.max()))[None], (self._loops,))
            self._loops += 1
            letters.append(letter)
            env = {**env, loop.target.id: letter}
            for bound, relation in ((low, ast.GtE), (high, ast.Lt)):
                if bound.x.size > 1 and (bound.x != bound.x.flat[0]).any():
                    within = _all(within, self._related(relation, letter, bound))
            for test in loop.ifs:
                within = _all(within, self.value(test, env))
        return env, within, letters

    def _reduced(self, name: str, element: ast.expr, loops: Sequence[ast.comprehension], env: Env) -> Values:
        if name not in _REDUCED:
            raise OneByOne(name)
        env, within, letters = self._bound(loops, env)
        found = self.value(element, env)
        if name == "all":
            found = _negated(_all(within, _negated(found)))
        elif name == "any":
            found = _all(within, found)
        numbers = [letter.loops[0] for letter in letters]
        found, within, *letters = _together(found, within, *letters)
        shape = np.broadcast_shapes(*(v.x.shape for v in (found, within, *letters)))
        x, top = _broadcast(found.x, shape), None if found.top is None else _broadcast(found.top, shape)
        if not found.is_truth and not within.x.all():
            nothing = {"sum": 0, "prod": 1, "max": -math.inf, "min": math.inf}[name]
            x = np.where(within.x, x, self.A.constant(nothing) if self.A.unbounded else nothing)
            top = None if top is None else np.where(within.x, top, 1 if name == "prod" else 0)
            assert within.top is not None
            if (unknown := ~(within.x | within.top)).any():
                x = np.where(unknown, self._unknown(), x)
        return self._over(name, Values(x, found.loops, top), tuple(1 + found.loops.index(loop) for loop in numbers))

    def _over(self, name: str, v: Values, axes: tuple[int, ...]) -> Values:
        """The sum, the largest and the like along these axes."""
        loops = tuple(loop for place, loop in enumerate(v.loops, 1) if place not in axes)
        if v.is_truth:
            assert v.top is not None
            if name == "all":
                return Values(v.x.all(axis=axes), loops, v.top.any(axis=axes))
            return Values(v.x.any(axis=axes), loops, v.top.all(axis=axes))
        x: Array = v.x
        if name in ("max", "min") and not all(x.shape[axis] for axis in axes):  # of no number there is no largest
            shape = [length for axis, length in enumerate(x.shape) if axis not in axes]
            return Values(np.full(shape, self._unknown()), loops)
        if self.A.unbounded and not v.is_whole:
            for axis in sorted(axes, reverse=True):
                if name in ("max", "min"):
                    sign = 1 if name == "max" else -1
                    x = (sign * self.A.max(sign * x, axis=axis)).squeeze(axis)
                else:
                    x = (np.add if name == "sum" else np.multiply).reduce(x, axis=axis)
            return Values(x, loops)
        x = getattr(x, name)(axis=axes)
        if v.is_whole or (v.top is None and name in ("max", "min")):
            return Values(x, loops)
        if name == "sum":
            return Values(x, loops, v.size.max(axis=axes, initial=0.0))
        if name == "prod":
            return Values(x, loops, np.abs(x) * (v.size / np.abs(v.x)).max(axis=axes, initial=1.0))
        chosen = v.x == np.expand_dims(x, axes)
        return Values(x, loops, np.where(chosen, v.size, 0.0).max(axis=axes, initial=0.0))

    def listed(self, node: Any, env: Env) -> Values:
        """A vector or a matrix: what was an axis of the loops is the first of its own."""
        env, within, letters = self._bound(node.generators, env)
        if not within.x.all():
            raise OneByOne("a list whose length differs")
        outer = letters[0].loops[0]
        found, *letters = _together(self.value(node.elt, env), *letters)
        shape = np.broadcast_shapes(*(v.x.shape for v in (found, *letters)))
        kept = tuple(loop for loop in found.loops if loop < outer)
        lead, rest = shape[: 1 + len(kept)], shape[1 + len(found.loops) :]
        merged = [None if a is None else _broadcast(a, shape).reshape(*lead, -1, *rest) for a in (found.x, found.top)]
        return Values(merged[0], kept, merged[1])


_MEANING: dict[type[ast.expr], Callable[[Grid, Any, Env], Values]] = {
    ast.Constant: lambda grid, node, env: Values(np.array([node.value])),
    ast.Name: lambda grid, node, env: grid.constant(node.id),
    ast.Subscript: lambda grid, node, env: grid.item(grid.value(node.value, env), grid.value(node.slice, env)),
    ast.Call: Grid.called,
    ast.BinOp: Grid.between,
    ast.UnaryOp: Grid.signed,
    ast.Compare: Grid.compared,
    ast.BoolOp: Grid.joined,
    ast.IfExp: Grid.cases,
    ast.ListComp: Grid.listed,
}
_REDUCED = ("sum", "prod", "max", "min", "all", "any")
_ALWAYS = Values(np.array([True]), (), np.array([False]))
_ZERO = Values(np.array([0]))
_OF_ARRAYS: dict[str, Callable[[Array], Array]] = {
    "spectral": lambda M: np.linalg.svdvals(M)[..., 0],
    "det": np.linalg.det,
    "moduli": lambda M: np.sort(np.abs(np.linalg.eigvals(M)), axis=-1)[..., ::-1],
    "ordered": lambda v: np.sort(v, axis=-1),
}


def _broadcast(a: Array, shape: tuple[int, ...]) -> Array:
    return a if a.shape == shape else np.broadcast_to(a, shape)


def _negated(v: Values) -> Values:
    assert v.top is not None
    return Values(v.top, v.loops, v.x)


def _all(*truths: Values) -> Values:
    """What holds where all of them do."""
    first, *rest = _together(*truths)
    yes: Array = first.x
    no: Array = first.top
    for part in rest:
        yes, no = yes & part.x, no | part.top
    return Values(yes, first.loops, no)


def _whole(v: Values) -> Array:
    """Places and counts; a range up to a number ends with the last place below it."""
    if v.is_whole:
        return v.x
    x = np.asarray(v.x, dtype=float)
    if not np.isfinite(x).all():
        raise OneByOne("a place that is no number")
    return np.ceil(x).astype(int)
