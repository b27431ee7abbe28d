"""What is printed is what is evaluated: a reader that knows only the printed conventions agrees with the code.

Places count from 0; v_{i}, M_{ij} are entries and P^{(s)}_{ij} one of matrix s; #v is how many there are; min, max
and sum reach over one product; "for all" over all before it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import reduce
from math import floor
from typing import Any

import numpy as np
import pytest

from rankmath.arithmetic.balls import Balls, ball, precision
from rankmath.claims import statements
from rankmath.formula.arrays import ArrayRun
from rankmath.formula.evaluate import Truth
from rankmath.formula.language import FUNCTIONS
from rankmath.formula.printed import printed
from rankmath.formula.printing import latex
from rankmath.formula.terms import Call, Letter, walk
from rankmath.formula.text import Text
from rankmath.verification.instance import ArrayInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement

Meaning = Callable[[dict[str, Any]], Any]
_TOKEN = re.compile(
    r"\\text\{ *([^}]*?) *\}|\\(?:operatorname|mathrm)\{(\w+)\}|\\[bB]ig[lr]([(|)])"
    r"|\\([A-Za-z]+|#)|(\d+|[A-Za-z]|\S)"
)
_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "=": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
    "ge": lambda a, b: a >= b,
    "ne": lambda a, b: a != b,
}


class Reader:
    """LaTeX to its meaning: a function of what the letters stand for."""

    def __init__(self, tex: str) -> None:
        spaced = tex.replace(r"\quad\text{for all }", r"\text{for each}")
        for command, sign in ((r",\quad ", ";"), (r"\ ", " "), (r"\,", "*"), (r"\cdot ", "*")):
            spaced = spaced.replace(command, sign)
        self.tokens = ["".join(filter(None, found.groups())) for found in _TOKEN.finditer(spaced)] + ["end"]

    def next(self) -> str:
        return self.tokens.pop(0)

    def has(self, *tokens: str) -> bool:
        """Whether these come next; then they are taken."""
        if self.tokens[: len(tokens)] != list(tokens):
            return False
        del self.tokens[: len(tokens)]
        return True

    def need(self, *tokens: str) -> None:
        assert self.has(*tokens), (tokens, self.tokens)

    def meaning(self) -> Meaning:
        parts = [self.clause()]
        while self.has(";"):
            parts.append(self.clause())
        self.need("end")
        return parts[0] if len(parts) == 1 else lambda env: all(part(env) for part in parts)

    def clause(self) -> Meaning:
        body = self.joined("or", any, lambda: self.joined("and", all, self.cases))
        for word, pick in (("for all", all), ("for some", any)):
            if self.has(word):
                reach = self.reach()
                return lambda env, pick=pick: pick(body(inner) for inner in reach(env))  # type: ignore[misc]
        if self.has("for each"):
            letter = self.next()
            return lambda env: all(body({**env, letter: Fraction(k)}) for k in range(int(env["n"])))
        return body

    def joined(self, word: str, pick: Callable[[Any], bool], part: Callable[[], Meaning]) -> Meaning:
        parts = [part()]
        while self.has(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else lambda env: pick(one(env) for one in parts)

    def cases(self) -> Meaning:
        first = self.relation()
        if not self.has("where"):
            return first
        test = self.joined("or", any, lambda: self.joined("and", all, self.relation))
        self.need(", else")
        second = self.relation()
        return lambda env: (first if test(env) else second)(env)

    def relation(self) -> Meaning:
        terms, signs = [self.sum()], []
        while self.tokens[0] in _RELATIONS:
            signs.append(_RELATIONS[self.next()])
            terms.append(self.sum())

        def holds(env: dict[str, Any]) -> bool:
            values = [term(env) for term in terms]
            return all(sign(a, b) for sign, a, b in zip(signs, values, values[1:], strict=False))

        return holds if signs else terms[0]

    def sum(self) -> Meaning:
        parts = [(-1 if self.has("-") else 1, self.product())]
        while self.tokens[0] in ("+", "-"):
            parts.append((1 if self.next() == "+" else -1, self.product()))
        if len(parts) == 1 and parts[0][0] == 1:
            return parts[0][1]
        return lambda env: sum((sign * part(env) for sign, part in parts), Fraction(0))

    def product(self) -> Meaning:
        parts = [self.power()]
        while self.has("*"):
            parts.append(self.power())
        if len(parts) == 1:
            return parts[0]
        return lambda env: reduce(lambda a, b: a * b, (part(env) for part in parts))

    def power(self) -> Meaning:
        base = self.base()
        if not self.has("^"):
            return base
        exponent = self.group()
        return lambda env: base(env) ** int(exponent(env))

    def group(self, opening: str = "{", closing: str = "}") -> Meaning:
        self.need(opening)
        inner = self.clause()
        self.need(closing)
        return inner

    def base(self) -> Meaning:
        token = self.next()
        if token.isdigit():
            return lambda env: Fraction(token)
        match token:
            case "(":
                inner = self.clause()
                if self.has("cdots"):  # from the last matrix, which was read as P^{(#P-1)}, to the first
                    self.next()
                    self.need("^", "{", "(", "0", ")", "}", ")")
                    return self.entry(lambda env: reduce(lambda whole, layer: layer @ whole, inner(env)))
                self.need(")")
                return inner
            case "frac" | "tfrac":
                above, below = self.group(), self.group()
                return lambda env: Fraction(above(env)) / below(env)
            case "|":
                inner = self.clause()
                self.need("|")
                return lambda env: abs(inner(env))
            case "lfloor":
                inner = self.clause()
                self.need("rfloor")
                return lambda env: Fraction(floor(inner(env)))
            case "#":
                letter = self.next()
                return lambda env: Fraction(len(env[letter]))
            case "rank":
                inner = self.group("(", ")")
                return lambda env: Fraction(_rank(inner(env)))
            case "sum" | "min" | "max" if self.has("_", "{"):
                reach = self.reach()
                self.need("}")
                body = self.product()
                if token == "sum":
                    return lambda env: sum((body(inner) for inner in reach(env)), Fraction(0))
                pick: Any = min if token == "min" else max
                return lambda env: pick((body(inner) for inner in reach(env)), default=None)
            case "min" | "max":
                self.need("(")
                parts = [self.sum()]
                while self.has(","):
                    parts.append(self.sum())
                self.need(")")
                return lambda env: (min if token == "min" else max)(part(env) for part in parts)
        if self.has("^", "{", "("):
            place = self.sum()
            self.need(")", "}")
            # The first factor of a product of all matrices stands for all.
            if self.tokens[0] == "cdots":
                return lambda env: env[token] if place(env) == len(env[token]) - 1 else None
            return self.entry(lambda env: env[token][int(place(env))])
        return self.entry(lambda env: env[token])

    def entry(self, array: Meaning) -> Meaning:
        if not self.has("_", "{"):
            return array
        places = [self.sum()]
        while not self.has("}"):
            self.has(",")
            places.append(self.sum())

        def found(env: dict[str, Any]) -> Any:
            at = [int(place(env)) for place in places]
            assert min(at) >= 0
            return array(env)[tuple(at)]

        return found

    def reach(self) -> Callable[[dict[str, Any]], Iterator[dict[str, Any]]]:
        """Ranges ``a <= i,j < b`` of new letters one after the other, and conditions."""
        steps: list[tuple[list[str], Meaning, Meaning]] = []
        while not steps or self.has(","):
            before, bound = list(self.tokens), {letter for letters, *_ in steps for letter in letters}
            first, (sign, letter, after) = self.sum(), self.tokens[:3]
            if sign != "le" or not letter.isalpha() or letter in bound or after not in ("<", "le", ","):
                self.tokens = before
                steps.append(([], first, self.joined("or", any, lambda: self.joined("and", all, self.relation))))
                continue
            self.need("le")
            letters = [self.next()]
            while self.has(","):
                letters.append(self.next())
            more, last = int(self.next() == "le"), self.sum()
            steps.append((letters, first, lambda env, more=more, last=last: last(env) + more))  # type: ignore[misc]

        def run(env: dict[str, Any], left: list[tuple[list[str], Meaning, Meaning]]) -> Iterator[dict[str, Any]]:
            if not left:
                yield env
                return
            (letters, first, last), *rest = left
            if not letters:
                yield from run(env, rest) if last(env) else ()
                return
            span = range(int(first(env)), int(last(env)))
            for places in itertools.product(span, repeat=len(letters)):
                yield from run({**env, **dict(zip(letters, map(Fraction, places), strict=True))}, rest)

        return lambda env: run(env, steps)


def _rank(M: Any) -> int:
    """By elimination in fractions."""
    rows, found = [list(map(Fraction, row)) for row in M], 0
    for column in range(len(rows[0])):
        pivot = next((row for row in rows[found:] if row[column]), None)
        if pivot is not None:
            rows.remove(pivot)
            rows.insert(found, pivot)
            found += 1
            rows[found:] = [
                [x - row[column] / pivot[column] * y for x, y in zip(row, pivot, strict=True)]
                for row in rows[found:]
            ]
    return found


# -- instances at boundaries ---------------------------------------------------------------------------------


def exactly(array: Any) -> Any:
    """An array of fractions."""
    found = np.empty(np.shape(array), dtype=object)
    found[...] = np.vectorize(Fraction, otypes=[object])(np.asarray(array, dtype=object))
    return found if found.ndim else found[()]


def around(statement: Statement, rng: np.random.Generator, drawn: int) -> Iterator[ArrayInstance]:
    """What the statement draws, cut to 1, 2, … rows and columns; and one entry made 0, 1/3 or −1, a number ±1."""
    for draw in statement.draws:
        for member in range(drawn):
            instance = draw(rng, drawn).select(member)
            assert isinstance(instance, ArrayInstance)
            whole = {name: exactly(array) for name, array in instance.arrays.items()}
            side = max((np.shape(array)[-1] for array in whole.values() if np.ndim(array)), default=1)
            for m in range(1, side + 1):
                cut = {
                    name: array[(slice(3),) * (np.ndim(array) - 2) + (slice(m),) * min(np.ndim(array), 2)]
                    if np.ndim(array)
                    else array
                    for name, array in whole.items()
                }
                yield ArrayInstance(cut)
                for name, array in cut.items():
                    if not np.ndim(array) and Fraction(array).denominator == 1:
                        yield from (ArrayInstance({**cut, name: array + step}) for step in (-1, 1))
                for name, array in cut.items():
                    places = list(np.ndindex(np.shape(array))) if np.ndim(array) else []
                    for place in (places[int(k)] for k in rng.permutation(len(places))[:6]):
                        moved = array.copy()
                        moved[place] = (Fraction(0), Fraction(1, 3), Fraction(-1))[int(rng.integers(3))]
                        yield ArrayInstance({**cut, name: moved})


def rows_of(instance: ArrayInstance) -> int:
    return next((np.shape(a)[-2] for a in instance.arrays.values() if np.ndim(a) > 1), 0)


def lists(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def arguments(name: str, statement: Statement, instance: ArrayInstance) -> Iterator[list[Any]]:
    """Arrays as the statement hands them over, and every number from 1 to one more than there are rows."""
    parts = (statement.claimed, *statement.hypotheses, *statement.defined.values())
    call = next(t for part in parts for t in walk(part) if isinstance(t, Call) and t.function == name)
    choices: list[list[Any]] = []
    for parameter, term in zip(FUNCTIONS[name].parameters, call.terms, strict=True):
        if parameter.kind == "array":
            assert isinstance(term, Letter)
            choices.append([term.name])
        else:
            choices.append([Fraction(k) for k in range(1, rows_of(instance) + 2)])
    yield from map(list, itertools.product(*choices))


def parted(name: str, statement: Statement, text: str, drawn: int = 1) -> list[str]:
    """Where the code of a function parts from this text, read by the library or by a reader of its print."""
    entry, found = FUNCTIONS[name], []
    names = [parameter.name for parameter in entry.parameters]
    meaning = Reader(printed(text, names, *(latex(Letter(parameter)) for parameter in names))).meaning()
    seen = 0
    for instance in around(statement, np.random.default_rng(0), drawn):
        run = ArrayRun(Balls(), instance)
        for given in arguments(name, statement, instance):
            values = [instance.arrays[part] if isinstance(part, str) else part for part in given]
            env = dict(zip(names, values, strict=True)) | {"n": Fraction(rows_of(instance))}
            try:
                coded = entry.evaluate(run, *given)  # type: ignore[misc]
            except ZeroDivisionError:  # entries that must be positive were moved: nothing is said
                continue
            except ValueError:  # the largest of no numbers: in print too
                if meaning(env) is not None:
                    found.append(f"{name}{tuple(given)} at {instance.arrays}: no value in the code alone")
                continue
            by_text = Text(Balls(), {}).read(text, {key: lists(value) for key, value in env.items()})
            by_print = meaning(env)
            seen += 1
            if not same(coded, by_text) or not same(coded, by_print):
                found.append(f"{name}{tuple(given)} at {instance.arrays}: {coded}, {by_text}, {by_print}")
    assert seen >= 4
    return found


def same(coded: Any, read: Any) -> bool:
    if isinstance(coded, Truth):
        assert isinstance(read, bool | np.bool_)
        return bool(coded.holds) == bool(read)
    if isinstance(coded, Fraction | int):
        return bool(coded == read)
    return bool(coded.overlaps(ball(Fraction(read)))) and float(coded.rad()) <= 1e-30


def _uses() -> dict[str, Statement]:
    """Every function with a definition as text, and a statement that uses it."""
    found: dict[str, Statement] = {}
    for statement in statements().values():
        if statement.arrays:
            for name in statement.functions:
                if FUNCTIONS[name].text:
                    found.setdefault(name, statement)
    return found


USES = _uses()


@pytest.mark.parametrize("name", sorted(USES))
def test_what_is_printed_of_a_function_is_what_is_evaluated(name: str) -> None:
    with precision(256):
        assert parted(name, USES[name], FUNCTIONS[name].text) == []


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("prefixed", "j <= i or j < k", "j <= max(i, k)"),
        ("windowed", "0 <= i - j < w", "0 <= i - j <= w"),
        ("least_prefixed", "j < k", "j <= k"),
        ("decay_constant", "range(1, n)", "range(n)"),
        ("decay_tightness", "for k in range(i + 1) if not k == j", "for k in range(n) if not k == j"),
        ("share", "k == j", "k == j - 1"),
        ("tail", "range(j, n)", "range(j + 1, n)"),
        ("distinct", "range(i)", "range(i + 1)"),
        ("decreasing", "len(mu) >= 2", "len(mu) >= 1"),
        ("cosines", "abs(C[i][j]) <= 1", "abs(C[i][j]) < 1"),
    ],
)
def test_a_wrong_definition_is_seen(name: str, right: str, wrong: str) -> None:
    text = FUNCTIONS[name].text
    assert right in text
    with precision(256):
        assert parted(name, USES[name], text.replace(right, wrong)) != []


# -- whole claims --------------------------------------------------------------------------------------------


def _whole() -> list[Statement]:
    """Statements about exact arrays of whose claim every function is printed from a definition."""
    plain = {"max", "min", "floor", "abs"}
    return [
        statement
        for statement in statements().values()
        if statement.exact and all(name in plain or FUNCTIONS[name].text for name in statement.functions)
    ]


def read_claim(statement: Statement, instance: ArrayInstance) -> str:
    """The outcome by what is printed: premises, letters, conclusion."""
    env = dict(instance.arrays) | {"n": Fraction(rows_of(instance))}
    if not all(Reader(premise.strip("$")).meaning()(env) for premise in statement.premises):
        return "NOT_APPLICABLE"
    for letter in statement.letters:
        name, _, tex = letter.partition("=")
        env[Reader(name).next()] = Reader(tex).meaning()(env)
    return "HOLDS" if all(Reader(part).meaning()(env) for part in statement.conclusion) else "VIOLATED"


@pytest.mark.parametrize("statement", _whole(), ids=lambda statement: statement.key)
def test_a_claim_says_in_print_what_it_is_judged_by(statement: Statement) -> None:
    outcomes = set()
    for instance in around(statement, np.random.default_rng(1), 1):
        try:
            outcome = judge(statement, instance, "balls").outcome.name
        except ZeroDivisionError:  # entries that must be positive were moved: nothing is said
            continue
        assert read_claim(statement, instance) == outcome, instance.arrays
        outcomes.add(outcome)
    assert "HOLDS" in outcomes


def test_the_claims_whose_print_parted_once_are_read() -> None:
    keys = {statement.key for statement in _whole()}
    assert {
        "wu2025:4.1",
        "wu2025:4.2",
        "wu2025:4.3",
        "wu2025:4.4",
        "own:position-bias-prefix",
        "own:alibi-decay",
    } <= keys
