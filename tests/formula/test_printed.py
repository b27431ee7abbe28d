"""What is printed is what is evaluated: a reader that knows only the printed conventions agrees with the code.

Places count from 0; v_{i}, M_{ij} are entries and P^{(s)}_{ij} one of matrix s; #v is how many there are; min, max
and sum reach over one product; "for all" over all before it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import reduce
from math import floor, isqrt
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb

from rankmath.arithmetic.balls import Balls, ball, precision
from rankmath.claims import statements
from rankmath.formula.arrays import ArrayRun
from rankmath.formula.evaluate import Truth
from rankmath.formula.language import FUNCTIONS
from rankmath.formula.printed import conventions, printed
from rankmath.formula.printing import latex
from rankmath.formula.terms import Call, Item, Letter, walk
from rankmath.formula.text import Text
from rankmath.validation import InvalidArgument
from rankmath.verification.instance import ArrayInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement

Meaning = Callable[[dict[str, Any]], Any]
_TOKEN = re.compile(
    r"\\text\{ *([^}]*?) *\}|\\(?:operatorname|mathrm)\{([\w-]+)\}|\\[bB]ig[lr]([(|)\[\]])"
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
# Digits of what is not a fraction, and how close two such numbers may come before nothing is said of their order.
_DIGITS, _CLOSE = 60, 1e-25


class Unclear(ArithmeticError):
    """Two numbers are too close to be told apart."""


def related(sign: str, a: Any, b: Any) -> bool:
    if isinstance(a, mpmath.mpf) or isinstance(b, mpmath.mpf):
        a, b = mpmath.mpmathify(a), mpmath.mpmathify(b)
        size = max(abs(a), abs(b))
        if not abs(a - b) > _CLOSE * size:
            if sign in ("<", ">", "ne"):
                raise Unclear
            return True
        if size < mpmath.mpf(10) ** (5 - _DIGITS):
            raise Unclear
    return _RELATIONS[sign](a, b)


def of_entries(function: Callable[[Any], Any], x: Any) -> Any:
    return np.vectorize(function, otypes=[object])(x) if isinstance(x, np.ndarray) else function(x)


def root(x: Any) -> Any:
    if isinstance(x, Fraction) and x >= 0:
        exact = Fraction(*map(isqrt, x.as_integer_ratio()))
        if exact * exact == x:
            return exact
    return mpmath.sqrt(mpmath.mpmathify(x))


def power(base: Any, exponent: Any) -> Any:
    exponent = Fraction(exponent)
    if isinstance(base, np.ndarray):
        return reduce(np.dot, [base] * int(exponent), exactly(np.eye(len(base), dtype=int)))
    if exponent.denominator == 1 and (base != 0 or exponent >= 0):
        return base**exponent.numerator if not isinstance(base, int) else Fraction(base) ** exponent.numerator
    return mpmath.mpmathify(base) ** mpmath.mpmathify(exponent)


def times(a: Any, b: Any) -> Any:
    return a @ b if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) else a * b


def softmax(x: Any) -> Any:
    if np.ndim(x) == 2:
        return np.array([softmax(row) for row in x], dtype=object)
    powers = of_entries(lambda v: mpmath.exp(mpmath.mpmathify(v)), x)
    return powers / powers.sum()


def mp(M: Any) -> Any:
    return mpmath.matrix([[mpmath.mpmathify(x) for x in row] for row in M])


def spectral(M: Any) -> Any:
    gram = mp(M.T @ M) if M.shape[0] >= M.shape[1] else mp(M @ M.T)
    return mpmath.sqrt(max(0, *mpmath.eigsy(gram, eigvals_only=True), 0))


def eigenvalues(M: Any) -> list[Any]:
    """The roots of the characteristic polynomial of a rational matrix, to many digits."""
    import sympy

    x = sympy.Symbol("x")
    exact = sympy.Matrix(len(M), len(M), [sympy.Rational(v.numerator, v.denominator) for v in M.ravel()])
    roots = []
    for factor, count in sympy.factor_list(exact.charpoly(x).as_expr(), x)[1]:
        roots += [mpmath.mpmathify(z) for z in sympy.Poly(factor, x).nroots(n=30, maxsteps=500)] * count
    return roots


def moduli(M: Any) -> Any:
    found = mpmath.eig(mp(M), left=False, right=False)
    return np.array(sorted((abs(x) for x in found), reverse=True), dtype=object)


def real_ones(M: Any) -> list[Any]:
    return [x.real for x in eigenvalues(M) if abs(x.imag) < _CLOSE]


#: What is printed by a word, by other code than the library's.
WORDS: dict[str, Callable[..., Any]] = {
    "softmax": softmax,
    "moduli": moduli,
    "ordered": lambda v: np.array(sorted(v, key=mpmath.mpmathify), dtype=object),
    "lambert": lambda x: mpmath.lambertw(x).real,
    "cholesky": lambda M: np.array(mpmath.cholesky(mp(M)).tolist(), dtype=object),
    "det": lambda M: mpmath.det(mp(M)) if len(M) > 1 else M[0][0],
    "solve": lambda M, b: np.array(list(mpmath.lu_solve(mp(M), mpmath.matrix([[x] for x in b]))), dtype=object),
    "real-eigenvalues": lambda M: Fraction(len(real_ones(M))),
    "positive-eigenvalues": lambda M: Fraction(len({mpmath.nstr(x, 20) for x in real_ones(M) if x > 0})),
    "rank": lambda M: Fraction(_rank(M)),
}


class Reader:
    """LaTeX to its meaning: a function of what the letters stand for."""

    def __init__(
        self, tex: str, defined: Mapping[str, Callable[..., Any]] | None = None, subscripts: bool = False
    ) -> None:
        self.defined = {**WORDS, **(defined or {})}
        tex = tex.replace(r"\|", r"\parallel ").replace("x^*", r"\mathrm{xstar}")
        tex = re.sub(r"\b([a-z])_\{([12])\}(?=[ =}*,\\]|$)", r"\\mathrm{\1_\2}", tex) if subscripts else tex
        spaced = re.sub(r"\bW_\{(V|QK)\}", r"\\mathrm{W_\1}", tex)
        spaced = spaced.replace(r"\quad\text{for all }", r"\text{for each}")
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
        found = self.clauses()
        lets: list[tuple[str, Meaning]] = []
        while self.has("with") or (lets and self.has(",")):
            letter = self.next()
            self.need("=")
            lets.append((letter, self.sum()))
        self.need("end")

        def with_letters(env: dict[str, Any]) -> Any:
            for letter, value in lets:
                env = {**env, letter: value(env)}
            return found(env)

        return with_letters

    def definition(self) -> tuple[str, Callable[..., Any]]:
        """A name(letters) = what it is."""
        name = self.next()
        self.need("(")
        letters = [self.next()]
        while self.has(","):
            letters.append(self.next())
        self.need(")", "=")
        meaning = self.meaning()
        return name, lambda n, *values: meaning({"n": n, **dict(zip(letters, values, strict=True))})

    def clauses(self) -> Meaning:
        parts = [self.clause()]
        while self.has(";"):
            parts.append(self.clause())
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
            signs.append(self.next())
            terms.append(self.sum())

        def holds(env: dict[str, Any]) -> bool:
            values = [term(env) for term in terms]
            return all(related(sign, a, b) for sign, a, b in zip(signs, values, values[1:], strict=False))

        return holds if signs else terms[0]

    def sum(self) -> Meaning:
        parts = [(-1 if self.has("-") else 1, self.product())]
        while self.tokens[0] in ("+", "-"):
            parts.append((1 if self.next() == "+" else -1, self.product()))
        if len(parts) == 1 and parts[0][0] == 1:
            return parts[0][1]
        return lambda env: reduce(lambda a, b: a + b, (sign * part(env) for sign, part in parts))

    def product(self) -> Meaning:
        parts, signs = [self.power()], []
        while self.tokens[0] in ("*", "/"):
            signs.append(self.next())
            parts.append(self.power())
        if len(parts) == 1:
            return parts[0]

        def found(env: dict[str, Any]) -> Any:
            value = parts[0](env)
            for sign, part in zip(signs, parts[1:], strict=True):
                value = times(value, part(env)) if sign == "*" else divided(value, part(env))
            return value

        return found

    def power(self) -> Meaning:
        if self.has("e", "^"):
            exponent = self.group()
            return lambda env: mpmath.exp(mpmath.mpmathify(exponent(env)))
        base = self.base()
        while self.has("^"):
            if self.has("{", "mathsf", "T", "}"):
                base = lambda env, base=base: base(env).T  # type: ignore[misc]  # noqa: E731
                continue
            exponent = self.group()
            base = lambda env, base=base, exponent=exponent: power(base(env), exponent(env))  # type: ignore[misc]  # noqa: E731
        return base

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
                inner = self.clauses()
                if self.has("cdots"):  # from the last matrix, P^{(#P-1)}, to the first, or from the first
                    letter = self.next()
                    self.need("^", "{", "(")
                    backwards = self.has("0")
                    if not backwards:
                        self.need("#", letter, "-", "1")
                    self.need(")", "}", ")")
                    return self.entry(lambda env: reduce(lambda a, b: b @ a if backwards else a @ b, inner(env)))
                self.need(")")
                return self.entry(inner)
            case "[":
                inner = self.clause()
                self.need("]", "_", "{")
                rows = self.reach()
                columns = self.reach() if self.has("mid") else None
                self.need("}")

                def listed(env: dict[str, Any]) -> Any:
                    if columns is None:
                        found = [inner(at) for at in rows(env)]
                        return exactly_as(found)
                    return exactly_as([[inner(at) for at in columns(row)] for row in rows(env)])

                return self.entry(listed)
            case "frac" | "tfrac":
                above, below = self.group(), self.group()
                return lambda env: divided(above(env), below(env))
            case "sqrt":
                inner = self.group()
                return lambda env: root(inner(env))
            case "log" | "tanh" | "sin" | "cos":
                inner, function = self.group("(", ")"), getattr(mpmath, token)
                return lambda env: function(mpmath.mpmathify(inner(env)))
            case "parallel":
                inner = self.clause()
                self.need("parallel", "_", "2")
                return lambda env: spectral(inner(env))
            case "I":
                self.need("_", "{")
                first = self.sum()
                self.has(",")
                second = self.sum()
                self.need("}")
                return lambda env: Fraction(int(first(env) == second(env)))
            case "|":
                inner = self.clause()
                self.need("|")
                return lambda env: abs(inner(env))
            case "infty":
                return lambda env: mpmath.inf
            case "pi":
                return lambda env: +mpmath.pi
            case "int":
                self.need("_")
                start = self.group()
                self.need("^")
                end, body = self.group(), self.power()
                self.need("*", "d")
                variable = self.next()

                def area(env: dict[str, Any]) -> Any:
                    ends = [mpmath.mpmathify(place(env)) for place in (start, end)]
                    with mpmath.workdps(36):
                        return mpmath.quad(lambda x: mpmath.mpmathify(body({**env, variable: x})), ends)

                return area
            case "lfloor":
                inner = self.clause()
                self.need("rfloor")
                return lambda env: Fraction(floor(inner(env)))
            case "#":
                letter = self.next()
                array = self.entry(lambda env: env[letter])
                return lambda env: Fraction(len(array(env)))
            case "sum" | "prod" | "min" | "max" if self.has("_", "{"):
                reach = self.reach()
                self.need("}")
                body = self.product()
                if token == "prod":
                    return lambda env: reduce(times, (body(inner) for inner in reach(env)), Fraction(1))
                if token == "sum":
                    return lambda env: sum((body(inner) for inner in reach(env)), Fraction(0))
                pick: Any = min if token == "min" else max
                return lambda env: pick((body(inner) for inner in reach(env)), default=None, key=mpmath.mpmathify)
            case "min" | "max":
                self.need("(")
                parts = [self.sum()]
                while self.has(","):
                    parts.append(self.sum())
                self.need(")")
                choose: Any = min if token == "min" else max
                return lambda env: choose((part(env) for part in parts), key=mpmath.mpmathify)
        if token in self.defined and self.has("("):
            parts = [self.sum()]
            while self.has(","):
                parts.append(self.sum())
            self.need(")")
            function, own = self.defined[token], token not in WORDS
            return self.entry(lambda env: function(*([env["n"]] if own else []), *(part(env) for part in parts)))
        if self.has("^", "{", "("):
            place = self.sum()
            self.need(")", "}")
            # The first factor of a product of all matrices stands for all.
            if self.tokens[0] == "cdots":
                return lambda env: env[token] if place(env) in (0, len(env[token]) - 1) else None
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
            return reduce(lambda part, place: part[place], at, array(env))

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
                [x - row[column] / pivot[column] * y for x, y in zip(row, pivot, strict=True)] for row in rows[found:]
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
            cuts = [
                {
                    name: array[(slice(3),) * (np.ndim(array) - 2) + (slice(m),) * min(np.ndim(array), 2)]
                    if np.ndim(array)
                    else array
                    for name, array in whole.items()
                }
                for m in range(1, min(side, 3) + 1)
            ]
            if sum(map(np.size, whole.values())) <= 80:
                cuts.append(whole)
            for cut in cuts:
                yield ArrayInstance(cut)
                for name, array in cut.items():
                    if not np.ndim(array) and Fraction(array).denominator == 1:
                        yield from (ArrayInstance({**cut, name: array + step}) for step in (-1, 1))
                for name, array in cut.items():
                    places = list(np.ndindex(np.shape(array))) if np.ndim(array) else []
                    for place in (places[int(k)] for k in rng.permutation(len(places))[:4]):
                        yield ArrayInstance({**cut, name: moved(array, place, rng)})


def moved(array: Any, place: tuple[int, ...], rng: np.random.Generator) -> Any:
    """One entry made 0, 1/3 or −1; the other one in a mask, and one more or less among whole numbers."""
    found, values = array.copy(), set(array.ravel())
    choices = [Fraction(0), Fraction(1, 3), Fraction(-1)]
    if all(x.denominator == 1 for x in values):
        choices = [found[place] + 1, found[place] - 1] if values - {0, 1} else [1 - found[place]]
    found[place] = choices[int(rng.integers(len(choices)))]
    return found


def exactly_as(values: Any) -> Any:
    """A list of numbers, or of lists of them, as an array; of no rows, an empty one."""
    found = np.empty(
        (len(values), *(() if not values or not isinstance(values[0], list) else (len(values[0]),))), object
    )
    for k, value in enumerate(values):
        found[k] = value
    return found


def divided(a: Any, b: Any) -> Any:
    if isinstance(a, np.ndarray):
        return of_entries(lambda x: divided(x, b), a)
    if isinstance(b, mpmath.mpf) or isinstance(a, mpmath.mpf):
        return mpmath.mpmathify(a) / mpmath.mpmathify(b)
    return Fraction(a) / b


def rows_of(instance: ArrayInstance) -> int:
    return next((np.shape(a)[-2] for a in instance.arrays.values() if np.ndim(a) > 1), 0)


def lists(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def arguments(name: str, statement: Statement, instance: ArrayInstance) -> Iterator[list[Any]]:
    """Arrays, or their rows, as the statement hands them over; every number from 1 to one more than there are
    rows; every place."""
    parts = (statement.claimed, *statement.hypotheses, *statement.defined.values())
    call = next(t for part in parts for t in walk(part) if isinstance(t, Call) and t.function == name)
    choices: list[list[Any]] = []
    for parameter, term in zip(FUNCTIONS[name].parameters, call.terms, strict=True):
        if isinstance(term, Item):
            choices.append([(term.array, i) for i in range(len(instance.arrays[term.array]))])
        elif parameter.kind == "array":
            assert isinstance(term, Letter)
            choices.append([term.name])
        elif parameter.kind == "number":
            choices.append([Fraction(k) for k in range(1, max(rows_of(instance), 2) + 2)])
        else:
            choices.append(list(range(rows_of(instance))))
    yield from map(list, itertools.product(*choices))


#: So many values of a function are compared.
ENOUGH = 40
#: Numbers whose code is for arrays of a kind: symmetric cosines, stochastic rows.
MEANT_FOR = {"closing", "closing_usa", "stationary_mean"}


#: What a computation raises on arrays that do not fit (the sum over an empty axis is an int, which is no ball).
#: What a reader of print cannot read is an AssertionError, and is never passed over.
UNFIT = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)


def refused(statement: Statement, instance: ArrayInstance) -> bool:
    """Whether the library does not take these arrays: shapes that do not fit, or what a claim is not about."""
    try:
        statement.instance(**instance.arrays)
    except (InvalidArgument, TypeError, ValueError, ZeroDivisionError):
        return True
    return False


def parted(name: str, statement: Statement, text: str, drawn: int = 1) -> list[str]:
    """Where the code of a function parts from this text, read by the library or by a reader of its print."""
    entry, found = FUNCTIONS[name], []
    names = [parameter.name for parameter in entry.parameters]
    shown = [token(parameter) for parameter in names]
    meaning = Reader(printed(text, names, *(latex(Letter(parameter)) for parameter in names))).meaning()
    seen = 0
    printed_only = "integral(" in text or "sin(" in text  # no reader of definitions has these
    for instance in around(statement, np.random.default_rng(0), 3 * drawn if printed_only else drawn):
        run = ArrayRun(Balls(), instance)
        for given in arguments(name, statement, instance) if seen < (3 if printed_only else ENOUGH) else ():
            values = [value_of(instance, part) for part in given]
            n = {"n": Fraction(rows_of(instance))}
            if names == ["sizes"]:  # which is printed as the pair of letters that it is
                n = {letter: Fraction(size) for letter, size in zip("nd", values[0], strict=False)}
            try:
                coded = entry.evaluate(run, *given)  # type: ignore[misc]
                by_print = meaning({**n, **dict(zip(shown, values, strict=True))})
                given_names = {**n, **dict(zip(names, map(lists, values), strict=True))}
                by_text = by_print if printed_only else Text(Balls(), {}).read(text, given_names)
            except Unclear:
                continue
            except UNFIT:
                if refused(statement, instance):
                    continue
                raise
            seen += 1
            if same(coded, by_text) and same(coded, by_print):
                continue
            if name not in MEANT_FOR or not refused(statement, instance):
                found.append(f"{name}{tuple(given)} at {instance.arrays}: {coded}, {by_text}, {by_print}")
    assert seen >= 3, seen
    return found


def token(name: str) -> str:
    """A letter as the reader sees it."""
    return Reader(latex(Letter(name))).next()


def value_of(instance: ArrayInstance, part: Any) -> Any:
    """An array, a row of one, or a number."""
    if isinstance(part, tuple):
        return instance.arrays[part[0]][part[1]]
    return instance.arrays[part] if isinstance(part, str) else Fraction(part)


def same(coded: Any, read: Any) -> bool:
    """Whether the code's ball or fraction is what was read: a truth, a fraction, a ball, or many digits."""
    if isinstance(coded, Truth):
        assert read is None or isinstance(read, bool | np.bool_)
        return coded.holds is None or read is None or bool(coded.holds) == bool(read)
    if isinstance(coded, Fraction | int) and isinstance(read, Fraction | int):
        return bool(coded == read)
    found = coded if isinstance(coded, arb) else ball(Fraction(coded))
    if not found.is_finite():
        return True
    if isinstance(read, mpmath.mpf):
        middle = mpmath.mpmathify(found.mid().str(70, radius=False))
        return bool(abs(middle - read) <= float(found.rad()) + _CLOSE * max(1, abs(read)))
    return bool(found.overlaps(read if isinstance(read, arb) else ball(Fraction(read))))


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
    with precision(256), mpmath.workdps(_DIGITS):
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
    with precision(256), mpmath.workdps(_DIGITS):
        assert parted(name, USES[name], text.replace(right, wrong)) != []


# -- whole claims --------------------------------------------------------------------------------------------


def _whole() -> list[Statement]:
    """Statements about arrays of whose claim every function is printed from a definition."""
    plain = {"max", "min", "floor", "abs", "sqrt", "exp", "log", "tanh", "expc", "tanhc"}
    return [
        statement
        for statement in statements().values()
        if statement.arrays
        and all(name in plain or name[:4] == "all_" or FUNCTIONS[name].text for name in statement.functions)
    ]


def read_claim(statement: Statement, instance: ArrayInstance) -> str:
    """The outcome by what is printed: definitions, premises, letters, conclusion."""
    env = {token(name): value for name, value in instance.arrays.items()}
    env["n"] = env.get("n", Fraction(rows_of(instance)))
    definitions = {FUNCTIONS[name].definition for name in statement.functions}
    shown = [shown for shown, _ in statement.meanings if shown in definitions]
    defined = dict(Reader(line).definition() for line in shown)
    env["xstar"] = mpmath.findroot(lambda x: mpmath.exp(x) - 1 - 2 * x, 1.256)

    def read(tex: str) -> Meaning:
        some = r"\text{for some of these, }"
        return Reader(tex.removeprefix(some), defined, subscripts="_{" in "".join(statement.letters)).meaning()

    for letter in statement.letters:
        name, _, tex = letter.partition("=")
        env[Reader(name, subscripts=True).next()] = later(read(tex), dict(env))
    data = [premise for premise in statement.premises if r"\in" in premise]
    if not are(data, env) or not all(read(part.strip("$"))(env) for part in statement.premises if part not in data):
        return "NOT_APPLICABLE"
    return "HOLDS" if all(read(part)(env) for part in statement.conclusion) else "VIOLATED"


_DATA = re.compile(
    r"\$(?P<name>.+?)\\in(?P<layers>\(?)(?:\\mathbb\{(?P<kind>[RZ])\}|(?P<binary>\\\{0,1\\\}))"
    r"(?:\^\{(?P<axes>[^}]*)\})?(?:\)\^\{t\})?(?P<rest>.*)\$"
)


def are(data: list[str], env: dict[str, Any]) -> bool:
    """Whether arrays are what is printed of them: numbers, vectors, matrices, sequences of matrices."""
    lengths: dict[str, int] = {}
    for line in data:
        found = _DATA.fullmatch(line)
        assert found is not None, line
        array = env[Reader(found["name"]).next()]
        axes = ["t"] * bool(found["layers"]) + (found["axes"].split(r"\times ") if found["axes"] else [])
        entries = list(array.ravel()) if np.ndim(array) else [array]
        if np.ndim(array) != len(axes) or 0 in np.shape(array):
            return False
        for axis, length in zip(axes, np.shape(array), strict=True):
            if (int(axis) if axis.isdigit() else lengths.setdefault(axis, length)) != length:
                return False
        if found["kind"] == "Z" and any(x.denominator != 1 for x in entries):
            return False
        if found["binary"] and any(x not in (0, 1) for x in entries):
            return False
        for said in filter(None, re.sub(r"\\text\{([^}]*)\}", r"\1", found["rest"]).split(", ")):
            if not _SAID[said](array) if said in _SAID else not compared(said, entries, lengths):
                return False
    return True


#: What is said of arrays in words.
_SAID: dict[str, Callable[[Any], bool]] = {
    "even": lambda m: bool(m % 2 == 0),
    "row-stochastic": lambda P: bool((P >= 0).all() and (P.sum(axis=-1) == 1).all()),
    "not zero": lambda x: bool((x != 0).any()),
    "no row zero": lambda Y: bool((Y != 0).any(axis=-1).all()),
    "rows linearly independent": lambda X: _rank(X) == len(X),
}


def compared(said: str, entries: list[Any], lengths: Mapping[str, int]) -> bool:
    """Entries, a number by its letter, or the length of an axis against a limit."""
    match = re.fullmatch(r"(.*?)(<|>|\\ge )(\d+)", said)
    assert match is not None, said
    sign = {r"\ge ": "ge"}.get(match[2], match[2])
    values = [lengths[match[1]]] if match[1] in lengths else entries
    return all(_RELATIONS[sign](value, int(match[3])) for value in values)


def later(meaning: Meaning, env: dict[str, Any]) -> Any:
    """The value, or none where there is none: outside the hypotheses."""
    try:
        return meaning(env)
    except (ZeroDivisionError, ValueError, IndexError):
        return None


@pytest.mark.parametrize("statement", _whole(), ids=lambda statement: statement.key)
def test_a_claim_says_in_print_what_it_is_judged_by(statement: Statement) -> None:
    outcomes: set[str] = set()
    integrals = any("integral(" in FUNCTIONS[name].text for name in statement.functions)
    drawn = (instance for seed in (1, 2, 3) for instance in around(statement, np.random.default_rng(seed), 1))
    for number, instance in enumerate(drawn):
        if number > (2 if integrals else 20) and outcomes & {"HOLDS", "VIOLATED"}:
            break
        try:
            with mpmath.workdps(_DIGITS):
                printed_outcome = read_claim(statement, instance)
            outcome = judge(statement, instance, "balls").outcome.name
        except Unclear:
            continue
        except UNFIT:
            if refused(statement, instance):
                continue
            raise
        if outcome not in ("UNDECIDED", printed_outcome):
            assert printed_outcome == "NOT_APPLICABLE", instance.arrays
            assert refused(statement, instance), instance.arrays
        # A proved claim is true as it is printed, of what the library refuses too.
        if statement.status == "proved" and statement.quantifier == "all":
            assert printed_outcome != "VIOLATED", instance.arrays
        outcomes.add(outcome)
    assert outcomes & {"HOLDS", "VIOLATED"}


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


def test_every_claim_about_arrays_is_read_or_says_why_not() -> None:
    """What is not read has a quantity without a definition as text, and that says why in a line."""
    read = {statement.key for statement in _whole()}
    for key, statement in statements().items():
        if statement.arrays and key not in read:
            assert any(FUNCTIONS[name].because for name in statement.functions), key
    assert not [name for name, entry in FUNCTIONS.items() if bool(entry.because) and bool(entry.text)]


#: A place that no printed range explains: v_{1}, M_{0,j}, x_{n-1}; not P_{0}^{l,h}, a name, nor b_{l+1}, a recursion.
_PLACE = re.compile(r"(?:\)|\}|(?<![A-Za-z\\])[A-Za-z])_\{(?!l\+)[^{}\\]*\d[^{}\\]*\}(?!\^)")


@pytest.mark.parametrize("key", statements())
def test_a_printed_place_comes_with_the_sentence_on_how_places_are_counted(key: str) -> None:
    """Else the 1 of moduli(P)_1, the largest first, would be taken for the largest."""
    entry = statements()[key]
    shown = [*entry.premises, *entry.conclusion, *entry.letters, *(tex for tex, _ in entry.meanings)]
    assert sum("places are counted from 0" in said for _, said in entry.meanings) <= 1
    if any(_PLACE.search(tex) for tex in shown):
        assert any("counted from 0" in said for _, said in entry.meanings)


def test_the_count_is_told_where_no_printed_range_begins_with_it() -> None:
    told = {body: [name for name, _, _ in conventions(body)] for body in ("v[1]", "v[k]", "v[n - 1]", "sizes[0]")}
    assert told == {"v[1]": ["places"], "v[k]": ["places"], "v[n - 1]": ["places"], "sizes[0]": []}
    assert [name for name, _, _ in conventions("sum(v[i] for i in range(n))")] == []
    assert [name for name, _, _ in conventions("sum(v[i] for i in range(1, n))")] == ["places"]
    assert [name for name, _, _ in conventions("v[len(v) - 1]")] == ["#"], "said once"
    assert [name for name, _, _ in conventions("rollout(P)")] == ["#"], "its places are printed with #"
