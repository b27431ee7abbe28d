"""Evaluation of a formula on one instance or a batch, in any arithmetic, and the verdict that follows from it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial, reduce
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankmath.definitions.entries import ENTRIES, Parameter
from rankmath.definitions.hypotheses import ALIASES, SWITCHES
from rankmath.formula.language import ARRAYS, FUNCTIONS
from rankmath.formula.numbers import BEYOND, FLOAT_MARGIN, Signed, ball_expc, ball_tanhc
from rankmath.formula.terms import (
    ARITHMETIC,
    EXPONENTS,
    INDICES,
    Both,
    Call,
    Every,
    Formula,
    Item,
    Letter,
    Number,
    Operation,
    Relation,
    Term,
    walk,
)
from rankmath.validation import Array, InvalidArgument

_SAME_ON_A_LINE = ("diameter", "operator_norm", "form_norm")

#: A number of the arithmetic that runs: exact wherever it can be, else Signed, a ball or an mpf.
Scalar: TypeAlias = Any
#: Values of indices, of exponents and of letters that a recursion binds.
Names: TypeAlias = Mapping[str, Scalar]


class NoSuchPlace(InvalidArgument, IndexError):
    """An index of a claim that a network does not have."""


class Numbers(Protocol):
    """One number system."""

    name: str

    def lift(self, value: Fraction) -> Scalar: ...
    def from_log(self, log: Array) -> Scalar: ...
    def power(self, base: Scalar, exponent: Fraction) -> Scalar: ...
    def apply(self, function: str, x: Scalar) -> Scalar: ...
    def larger(self, a: Scalar, b: Scalar) -> Scalar: ...
    def smaller(self, a: Scalar, b: Scalar) -> Scalar: ...


class FloatNumbers:
    """Signed logarithms of doubles, over a batch."""

    name = "float64"

    def lift(self, value: Fraction) -> Signed:
        return Signed.exact(value)

    def from_log(self, log: Array) -> Signed:
        return Signed.positive(log)

    def power(self, base: Signed, exponent: Fraction) -> Signed:
        return base.power(exponent)

    def apply(self, function: str, x: Signed) -> Signed:
        found: Signed = getattr(x, {"log": "logarithm", "abs": "__abs__"}.get(function, function))()
        return found

    def larger(self, a: Signed, b: Signed) -> Signed:
        return a.max(b)

    def smaller(self, a: Signed, b: Signed) -> Signed:
        return a.min(b)


def _each(function: Callable[..., Scalar], *batch: Scalar) -> Array:
    """A function of numbers, of each of a batch."""
    return np.frompyfunc(function, len(batch), 1)(*batch)


class BallNumbers:
    """Arb's balls, or batches of them: every result an enclosure."""

    name = "balls"

    def lift(self, value: Fraction) -> Scalar:
        from rankmath.arithmetic.balls import ball

        return ball(value)

    def from_log(self, log: Array) -> Scalar:
        return self.apply("exp", log)

    def power(self, base: Scalar, exponent: Fraction) -> Scalar:
        if isinstance(base, np.ndarray):
            return _each(lambda x: self.power(x, exponent), base)
        if exponent.denominator == 1 and 0 < exponent <= 16 and base.contains(0):
            return math.prod([abs(base) if exponent % 2 == 0 else base] * int(exponent))  # Arb's power is nan
        if exponent.denominator == 1:
            # Halving keeps an even power of a wide ball from going below zero.
            return base**exponent.numerator if exponent % 2 else (abs(base)) ** exponent.numerator
        if exponent.denominator == 2:
            return base.nonnegative_part().sqrt() ** exponent.numerator if not base < 0 else base.sqrt()
        return base ** self.lift(exponent)

    def apply(self, function: str, x: Scalar) -> Scalar:
        if isinstance(x, np.ndarray):
            return _each(lambda entry: self.apply(function, entry), x)
        match function:
            case "sqrt":
                return x.nonnegative_part().sqrt() if not x < 0 else x.sqrt()
            case "expc":
                return ball_expc(x)
            case "tanhc":
                return ball_tanhc(x)
            case "log" if x.is_zero():
                return x.nan()  # no number is the logarithm of 0
            case "abs":
                return abs(x)
            case _:
                return getattr(x, function)()

    def larger(self, a: Scalar, b: Scalar) -> Scalar:
        return _each(lambda x, y: x.max(y), a, b)

    def smaller(self, a: Scalar, b: Scalar) -> Scalar:
        return _each(lambda x, y: x.min(y), a, b)


class MultiprecisionNumbers:
    """mpmath at the precision of the context: not rigorous."""

    name = "mpmath"

    @cached_property
    def functions(self) -> Any:
        """The module with functions of such numbers."""
        import mpmath

        return mpmath

    def lift(self, value: Fraction) -> Scalar:
        return self.functions.mpf(value.numerator) / value.denominator

    def from_log(self, log: Array) -> Scalar:
        return self.functions.exp(log)

    def power(self, base: Scalar, exponent: Fraction) -> Scalar:
        return base**exponent.numerator if exponent.denominator == 1 else base ** self.lift(exponent)

    def apply(self, function: str, x: Scalar) -> Scalar:
        known = self.functions
        if function in ("expc", "tanhc"):
            return self.lift(Fraction(1)) if x == 0 else (known.expm1(x) if function == "expc" else known.tanh(x)) / x
        return abs(x) if function == "abs" else getattr(known, function)(x)

    def larger(self, a: Scalar, b: Scalar) -> Scalar:
        return max(a, b)

    def smaller(self, a: Scalar, b: Scalar) -> Scalar:
        return min(a, b)


class Doubles(MultiprecisionNumbers):
    """Doubles one by one, as they are."""

    name = "float64"
    functions = math

    def lift(self, value: Fraction) -> float:
        return value.numerator / value.denominator

    def apply(self, function: str, x: float) -> float:
        return float(super().apply(function, x))


NUMBERS: dict[str, Numbers] = {
    system.name: system for system in (FloatNumbers(), BallNumbers(), MultiprecisionNumbers())
}


class Subject(Protocol):
    """What a formula is about: an instance carried through one arithmetic."""

    numbers: Numbers
    #: Values of terms without free names, and of quantities by their arguments.
    memory: dict[Hashable, Scalar]
    #: Whether tokens have one coordinate.
    on_a_line: bool

    def letter(self, name: str) -> Fraction | Scalar: ...
    def switch(self, name: str, word: str) -> bool: ...


@dataclass(frozen=True)
class Truth:
    """What a predicate says: yes, no, or (None) not decided, one answer or one for each of a batch; and why."""

    holds: bool | NDArray[np.bool_] | None
    reason: str = ""


@dataclass(frozen=True)
class Side:
    """One relation on one instance: left ≤ right (`strict`: <, `equal`: =), or the truth of a predicate."""

    formula: Formula
    left: Scalar = None
    right: Scalar = None
    strict: bool = False
    equal: bool = False
    truth: Truth | None = None


def sides(formula: Formula, subject: Subject, names: Names | None = None) -> Iterator[Side]:
    """The relations a formula consists of, evaluated; quantifiers are written out."""
    names = names or {}
    match formula:
        case Both(formulas=formulas):
            for part in formulas:
                yield from sides(part, subject, names)
        case Every(index="p", formula=inner) if subject.on_a_line and _same_on_a_line(formula):
            yield from list(sides(inner, subject, {**names, "p": EXPONENTS[0]})) * len(EXPONENTS)
        case Every(index=index, formula=inner):
            places: Iterable[str | int] = EXPONENTS if index == "p" else range(_end(subject, index))
            for place in places:
                yield from sides(inner, subject, {**names, index: place})
        case Relation(operator="==", left=Letter(name=switch), right=Letter(name=word)) if switch in SWITCHES:
            yield Side(formula, truth=Truth(subject.switch(switch, word)))
        case Relation(operator=operator, left=left, right=right):
            first, second = value(left, subject, names), value(right, subject, names)
            if operator in (">=", ">"):
                first, second = second, first
            yield Side(formula, first, second, strict=operator in ("<", ">"), equal=operator == "==")
        case Call():
            yield Side(formula, truth=value(formula, subject, names))


def _same_on_a_line(formula: Formula) -> bool:
    """Whether p occurs only in what all p have alike in one dimension, where all ℓ_p are one."""
    known = _LINES.get(id(formula))
    if known is None:
        p = Letter("p")
        calls = [term for term in walk(formula) if isinstance(term, Call) and p in term.terms]
        if len(_LINES) >= _MOST_CODES:
            _LINES.clear()
        known = _LINES[id(formula)] = (formula, all(term.function in _SAME_ON_A_LINE for term in calls))
    return known[1]


def _end(subject: Subject, index: str) -> int:
    """How far an index runs."""
    key = ("end", index)
    if key not in subject.memory:
        subject.memory[key] = int(subject.letter(INDICES[index]))
    end: int = subject.memory[key]
    return end


#: A term made ready: its value for a subject and the names that are bound.
Code: TypeAlias = Callable[[Subject, Names], Scalar]
#: Letters that a recursion may bind, to numbers that have no hash.
_RECURSIVE = frozenset("abcstuvxyz")


def value(term: Term, subject: Subject, names: Names) -> Scalar:
    """The value of a term: a Fraction wherever it is exact."""
    return code(term)(subject, names)


# Terms by their ids, kept so that no id is used again: to hash a whole term takes longer.
_CODES: dict[int, tuple[Term, Code]] = {}
_LINES: dict[int, tuple[Formula, bool]] = {}
_MOST_CODES = 2**14


def code(term: Term) -> Code:
    """The term as a function. Equal terms are one function, and are worked out once for each subject and place."""
    known = _CODES.get(id(term))
    if known is None:
        if len(_CODES) >= _MOST_CODES:
            _CODES.clear()
        known = _CODES[id(term)] = (term, _code(term))
    return known[1]


@lru_cache(maxsize=_MOST_CODES)
def _code(term: Term) -> Code:
    match term:
        case Number(value=number):
            return lambda subject, names: number
        case Letter(name=name):
            said = ALIASES.get(name, name)
            return lambda subject, names: names[name] if name in names else subject.letter(said)
        case Operation(operator="neg", terms=(inner,)):
            minus = code(inner)
            return lambda subject, names: -minus(subject, names)
        case Operation(operator=operator, terms=(left, right)):
            first, second = code(left), code(right)
            return _remembered(
                term,
                lambda subject, names: _operate(
                    operator, first(subject, names), second(subject, names), subject.numbers
                ),
            )
        case Call():
            return _remembered(term, _call(term))
        case Item(index=index):
            return partial(_member, term, [code(part) for part in index])
    raise TypeError(f"{term} has no value")


def _member(item: Item, places: list[Code], subject: Any, names: Names) -> Scalar:
    """An entry of an array; claims about networks have none."""
    return subject.entry(item.array, *_whole(item, places, subject, names))


def _whole(item: Item, places: list[Code], subject: Subject, names: Names) -> list[int]:
    """Places in an array of a claim's own: from its end, as Python counts, there are none."""
    found = [at(subject, names) for at in places]
    if not all(type(at) in (int, Fraction) and at >= 0 and at == int(at) for at in found):
        raise InvalidArgument(f"claim: {item} given; whole numbers from 0 are needed as places")
    return list(map(int, found))


def _remembered(term: Term, work: Code) -> Code:
    """The same, looked up in the subject's memory if no recursion can change it."""
    free = sorted({part.name for part in walk(term) if isinstance(part, Letter)} & {*INDICES, "p", *_RECURSIVE})
    if not _RECURSIVE.isdisjoint(free):
        return work

    def known(subject: Subject, names: Names) -> Scalar:
        key = (work, *[names.get(name) for name in free])
        memory = subject.memory
        if key not in memory:
            memory[key] = work(subject, names)
        return memory[key]

    return known


def _operate(operator: str, a: Scalar, b: Scalar, numbers: Numbers) -> Scalar:
    a, b = (Fraction(x) if isinstance(x, int) else x for x in (a, b))
    exact = type(a) is Fraction and type(b) is Fraction  # isinstance asks an abstract class, which takes longer
    if operator == "**":
        return _power(a, b, numbers)
    if not exact:
        a, b = _lifted(a, numbers), _lifted(b, numbers)
    if operator == "/" and exact and b == 0:
        return numbers.lift(Fraction(1)) / numbers.lift(Fraction(0))
    return ARITHMETIC[operator](a, b)


def _power(a: Scalar, b: Scalar, numbers: Numbers) -> Scalar:
    if type(b) is Fraction:
        if type(a) is Fraction and b.denominator == 1 and abs(b) < 4096 and (a != 0 or b >= 0):
            return a**b.numerator
        return numbers.power(_lifted(a, numbers), b)
    return real_power(_lifted(a, numbers), b, numbers)


def real_power(base: Scalar, exponent: Scalar, numbers: Numbers) -> Scalar:
    """e^(exponent · log base); 0 to a positive power is 0."""
    if isinstance(base, np.ndarray) or isinstance(exponent, np.ndarray):
        return _each(lambda x, y: real_power(x, y, numbers), base, exponent)
    if numbers.name == "balls" and base == 0 and exponent > 0:
        return base
    return numbers.apply("exp", numbers.apply("log", base) * exponent)


def _lifted(x: Scalar, numbers: Numbers) -> Scalar:
    return numbers.lift(x) if type(x) is Fraction else x


def _call(term: Call) -> Code:
    function, terms = term.function, term.terms
    kind, _, index = function.partition("_")
    if function == "recursion":
        letter, start, step = terms
        assert isinstance(letter, Letter)
        return partial(_recursion, letter.name, code(start), code(step))
    if index in INDICES and kind in ("sum", "prod", "max", "min"):
        body = code(terms[0])
        return lambda subject, names: _reduced(
            kind, [body(subject, {**names, index: place}) for place in range(_end(subject, index))], subject.numbers
        )
    if function in ("min", "max"):
        parts = [code(part) for part in terms]
        return lambda subject, names: _reduced(function, [part(subject, names) for part in parts], subject.numbers)
    if FUNCTIONS[function].evaluate is None:
        return partial(_applied, function, code(terms[0]))
    return _measured(term)


def _recursion(letter: str, start: Code, step: Code, subject: Subject, names: Names) -> Scalar:
    found = start(subject, names)
    for l in range(_end(subject, "l")):
        found = step(subject, {**names, letter: found, "l": l})
    return found


def _applied(function: str, argument: Code, subject: Subject, names: Names) -> Scalar:
    x = argument(subject, names)
    if type(x) is Fraction and function in ("floor", "abs"):
        return Fraction(math.floor(x)) if function == "floor" else abs(x)
    return subject.numbers.apply(function, _lifted(x, subject.numbers))


def _measured(term: Call) -> Code:
    """A quantity, which the subject remembers by its arguments."""
    read = FUNCTIONS[term.function]
    parts = [_argument(part, parameter, term) for part, parameter in zip(term.terms, read.parameters, strict=True)]
    of_arrays = any(parameter.kind == "array" for parameter in read.parameters)

    def measure(subject: Subject, names: Names) -> Scalar:
        entry = FUNCTIONS[term.function]
        if entry is not read:  # a user's file has defined it anew
            return _measured(term)(subject, names)
        evaluate = entry.evaluate
        assert evaluate is not None
        if of_arrays:
            evaluate = partial(_of_arrays, term, evaluate)
        arguments = tuple([part(subject, names) for part in parts])
        place = (term.function, arguments)
        try:
            known = place in subject.memory
        except (TypeError, ValueError):  # a number of a batch has no hash, nor has a ball
            return evaluate(subject, *arguments)
        if not known:
            subject.memory[place] = evaluate(subject, *arguments)
        return subject.memory[place]

    return measure


def _of_arrays(call: Call, evaluate: Callable[..., Scalar], subject: Any, *arguments: Any) -> Scalar:
    """A quantity of arrays, or in words that these have not the axes, or the place, that it is about."""
    try:
        return evaluate(subject, *arguments)
    except (TypeError, ValueError, IndexError) as error:
        if isinstance(error, InvalidArgument):
            raise
        given = [argument[0] if isinstance(argument, tuple) else argument for argument in arguments]
        shapes = [f"{name} of shape {subject.shape(name)}" for name in given if isinstance(name, str)]
        entry = FUNCTIONS[call.function]
        raise InvalidArgument(
            f"arrays: {' and '.join(shapes)} given; {call} has no value there, {entry.name} is: {entry.meaning}"
        ) from error


def _argument(term: Term, parameter: Parameter, call: Call) -> Code:
    kind = parameter.kind
    if kind == "word":
        assert isinstance(term, Letter | Number)
        word = term.name if isinstance(term, Letter) else str(term.value)
        return lambda subject, names: names.get(word, word)
    if kind == "array" and isinstance(term, Letter):
        name = term.name
        return lambda subject, names: name
    if isinstance(term, Item) and (kind == "array" or term.array in ARRAYS):
        array, parts, item = term.array, [code(part) for part in term.index], term
        if kind == "array":
            return lambda subject, names: (array, *_whole(item, parts, subject, names))
        return lambda subject, names: (array, *_place(item, parts, subject, names))
    assert kind != "array"
    found = code(term)
    return partial(_numbered, call, index_of(call.function, parameter.name), found) if kind == "layer" else found


def index_of(function: str, parameter: str) -> str:
    """The index that a whole number in a quantity is a value of, as far as its definition says so."""
    if parameter == "l" or function not in ENTRIES:
        return parameter if function in ENTRIES else ""
    body = ENTRIES[function].body
    if f"range(K)[{parameter}]" in body:
        return "k"
    of_token = rf"\brange\(n\)\[{parameter}\]|\bP(\[[^\]]*\])*\[{parameter}\]"
    return "i" if re.search(of_token, body) else ""


def _numbered(call: Call, index: str, code: Code, subject: Subject, names: Names) -> int:
    """The whole number in a quantity: that of a layer, a token or a block of layers is one that the network has.

    Unlike `NoSuchPlace` this leaves searches to go on with larger networks.
    """
    found = code(subject, names)
    whole = type(found) in (int, Fraction) and found == int(found)
    if index and not (whole and 0 <= found < _end(subject, index)):
        end, (what, several) = _end(subject, index), _COUNTED[index]
        has = f"{end} {several if end != 1 else what}"
        shown = found if type(found) in (int, Fraction) else "of this number"
        raise InvalidArgument(
            f"net: {call} asked for; there is no {what} {shown}: the network has {has}, counted from 0"
        )
    if not whole:
        raise InvalidArgument(f"claim: {call} given; a whole number is needed in it")
    return int(found)


_COUNTED = {"l": ("layer", "layers"), "i": ("token", "tokens"), "k": ("block of layers", "blocks of layers")}


def _place(term: Item, parts: list[Code], subject: Subject, names: Names) -> list[int]:
    """The indices of an array of a network: whole numbers for which it has one."""
    found = [part(subject, names) for part in parts]
    ends = [_end(subject, "l") + (term.array == "X"), _end(subject, "h")]
    places = list(map(int, found))
    if all(map(_within, found, places, ends)):
        return places
    place = f"{term.array}[{', '.join(map(str, found))}]"
    raise NoSuchPlace(f"{term}: no {place} in a network of {ends[1]} heads and {_end(subject, 'l')} layers")


def _within(x: Scalar, place: int, end: int) -> bool:
    return bool(0 <= place < end and x == place)


def _reduced(kind: str, parts: list[Scalar], numbers: Numbers) -> Scalar:
    if not all(type(part) is Fraction or isinstance(part, int) for part in parts):
        parts = [_lifted(Fraction(part) if isinstance(part, int) else part, numbers) for part in parts]
        pick = {"max": numbers.larger, "min": numbers.smaller}
    else:
        pick = {"max": lambda a, b: max(a, b), "min": lambda a, b: min(a, b)}
    return reduce({"sum": ARITHMETIC["+"], "prod": ARITHMETIC["*"], **pick}[kind], parts)


# -- verdicts ----------------------------------------------------------------------------------------------


def certain(side: Side) -> bool:
    """Whether the relation holds, and no rounding had a part in it."""
    if side.truth is not None:
        return side.truth.holds is True
    if not (type(side.left) is Fraction and type(side.right) is Fraction):
        return False
    return bool(side.left == side.right if side.equal else side.left <= side.right and not side.strict)


@dataclass(frozen=True)
class Judged:
    """What is known of one relation over a batch: certainly below or above, and both sides as logarithms."""

    below: NDArray[np.bool_]
    above: NDArray[np.bool_]
    log_left: NDArray[np.float64]
    log_right: NDArray[np.float64]


def judged(side: Side, size: int, numbers: Numbers) -> Judged:
    """The relation over a batch of `size`: decided only where rounding cannot have decided it."""
    if side.truth is not None:
        holds, empty = side.truth.holds, np.full(size, np.nan)
        if holds is None:
            return Judged(np.full(size, False), np.full(size, False), empty, empty)
        yes = np.broadcast_to(np.asarray(holds, dtype=bool), (size,))
        return Judged(yes, ~yes, empty, empty)
    left, right = side.left, side.right
    if all(type(x) is Fraction or isinstance(x, int) for x in (left, right)):
        below = left == right if side.equal else (left < right if side.strict else left <= right)
        logs = [np.full(size, float(Signed.exact(Fraction(x)).log) if x >= 0 else np.nan) for x in (left, right)]
        return Judged(np.full(size, below), np.full(size, not below), logs[0], logs[1])
    computed = not (type(right) is Fraction or isinstance(right, int))
    left, right = (_lifted(Fraction(x) if isinstance(x, int) else x, numbers) for x in (left, right))
    if isinstance(left, Signed):
        known = _judged_floats(left, right, side, size)
        # Above a bound that comes out as 0 what is left may be rounding's alone: of W_Q W_Kᵀ = 0, for one.
        return replace(known, above=known.above & (right.sign != 0)) if computed else known
    judge = _judged_ball if numbers.name == "balls" else _judged_multiprecision
    below, above = judge(left, right, side)
    logs = [np.full(size, _log_middle(x, numbers)) for x in (left, right)]
    return Judged(np.full(size, below), np.full(size, above), logs[0], logs[1])


def is_number(side: Side, size: int) -> NDArray[np.bool_]:
    """Over a batch of `size`, whether both sides are numbers as far as they tell; negative ones are, without a log."""

    def told(x: Fraction | Scalar) -> bool | NDArray[np.bool_]:
        if isinstance(x, Signed):
            return ~np.isnan(x.log)
        if isinstance(x, np.ndarray):
            each: NDArray[np.bool_] = _each(told, x).astype(bool)
            return each
        return isinstance(x, Fraction | int) or bool(x.is_finite() if hasattr(x, "is_finite") else x == x)

    return np.broadcast_to(told(side.left) & told(side.right), (size,))


def _judged_floats(left: Signed, right: Signed, side: Side, size: int) -> Judged:
    difference = left - right
    with np.errstate(invalid="ignore", divide="ignore"):
        margin = difference.top + np.log(FLOAT_MARGIN * np.maximum(1.0, np.abs(difference.top)))
        clear = difference.log > margin
        below = clear & (difference.sign < 0)
        above = clear & (difference.sign > 0)
        if not side.strict and not side.equal:
            nothing = left.top == -np.inf  # and not the 0 that rounding made of summands
            below = below | (nothing & (right.sign >= 0) & ~np.isnan(right.log))
        if side.equal:
            below, above = np.zeros_like(below), below | above
    logs = [np.where(x.sign > 0, x.log, np.where(x.sign == 0, -np.inf, np.nan)) for x in (left, right)]
    shaped = [x if x.shape == (size,) else np.broadcast_to(x, (size,)) for x in (below, above, *logs)]
    return Judged(*shaped)


def _judged_ball(left: Scalar, right: Scalar, side: Side) -> tuple[Scalar, Scalar]:
    if side.equal:
        return left == right, (left < right) | (left > right)
    if side.strict:
        return left < right, left >= right
    return left <= right, left > right


def _judged_multiprecision(left: Scalar, right: Scalar, side: Side) -> tuple[bool, bool]:
    """Beyond the margin of doubles: linear programs are solved in them."""
    import mpmath

    size = max(abs(left), abs(right))
    close = bool(abs(left - right) <= size * FLOAT_MARGIN)
    if left == 0 and right >= 0 and not side.strict and not side.equal:
        return True, False
    if close or mpmath.isnan(left) or mpmath.isnan(right):
        return False, False
    return bool(left < right) and not side.equal, bool(left > right) or side.equal


def _log_middle(x: Scalar, numbers: Numbers) -> Scalar:
    """The logarithm of a number, or of each of a batch, for the reader."""
    if isinstance(x, np.ndarray):
        return _each(lambda entry: _log_middle(entry, numbers), x).astype(float)
    if numbers.name == "mpmath":
        import mpmath

        return max(float(mpmath.log(x)), BEYOND) if x > 0 else (-math.inf if x == 0 else math.nan)
    if x.is_zero():
        return -math.inf
    middle = x.mid()
    return max(float(middle.log().mid()), BEYOND) if x.is_finite() and middle > 0 else math.nan
