"""From text to a formula: parsed with Python's grammar of expressions, never evaluated.

What is not in the language is refused with its position, the nearest names and the allowed ones.
"""

from __future__ import annotations

import ast
import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import NoReturn, TypeVar

from rankmath.definitions.entries import ENTRIES, Parameter
from rankmath.definitions.hypotheses import ALIASES, MASKS, OTHER_NAMES, SWITCHES, allowed
from rankmath.formula.language import ARRAYS, FUNCTIONS, LETTERS, Function
from rankmath.formula.terms import (
    ARITHMETIC,
    EXPONENTS,
    INDICES,
    Call,
    Every,
    Formula,
    Item,
    Letter,
    Number,
    Operation,
    Relation,
    Term,
    both,
    negative,
    over,
    quotient,
    walk,
)
from rankmath.validation import InvalidArgument

#: What is typed for signs that are not in the language.
_TYPED = {"≤": "<=", "≥": ">=", "·": "*", "−": "-", "²": "^2", "√": "sqrt(…)", "∞": "inf"}
_TYPED |= {"μ": "mu", "µ": "mu", "γ": "gamma", "δ": "delta", "ε": "epsilon"}
_LATEX = {
    "le": "<=",
    "leq": "<=",
    "ge": ">=",
    "geq": ">=",
    "lt": "<",
    "gt": ">",
    "cdot": "*",
    "times": "*",
    "frac": "/",
}
_LATEX |= {"mathrm": "the name alone", "operatorname": "the name alone", "infty": "inf", "land": "and", "wedge": "and"}
#: Words between formulas that the language does not have.
_CONNECTIVES = ("or", "not", "implies", "iff", "if", "then", "when", "unless", "where", "given")
#: Longer claims, deeper ones and longer numbers are refused.
MOST_CHARACTERS = 20_000
#: The functions of the language itself, without those that single claims bring: what is proposed must not depend on
#: which of them are loaded.
OWN: set[str] = set()
_MOST_DEPTH = 100
_MOST_DIGITS = 400
# Exponents and powers of numbers beyond these are refused: no bound needs them, and exact ones fill the memory.
_MOST_EXPONENT = 10_000
_MOST_BITS = 20_000

_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_RELATIONS: dict[type[ast.cmpop], str] = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=="}
_IN_AN_INDEX = (Number, Letter, Operation)
_NORM_AT = re.compile(rf"(\b(?:layer)?norm *== *(?:{'|'.join(SWITCHES['layernorm'])})) (?= *(?:before|after)\b)")
# Letters whose values need not be whole.
_NO_INDEX = (Letter("d_qk"), Letter("skip"), Letter("x_star"))
T = TypeVar("T")


def read_formula(text: str, letters: Iterable[str] = ()) -> Formula:
    """The formula that `text` says; `letters` are names defined beside it (arrays and letters of a claim's own).

    >>> print(read_formula("diameter(X[1], p=1) <= norm(W[0,0], inf) * diameter(X[0], 1) / 2"))
    diameter(X[1], 1) <= norm(W[0, 0], inf)*diameter(X[0], 1)/2
    >>> read_formula("dobrushim(P[0, 0]) <= 1")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    rankmath.InvalidArgument: claim, column 1: no function 'dobrushim' in the language; did you mean 'dobrushin'...
    """
    reader = _Reader(text, letters)
    return reader.formula(reader.tree)


def read_term(text: str, letters: Iterable[str] = (), *, free: Iterable[str] = ()) -> Term:
    """The term that `text` says; `free` indices may stand in it unbound, for a formula that binds them.

    >>> print(read_term("max_l(sum_h(norm(W[l,h], 2)))"))
    max_l(sum_h(norm(W[l, h], 2)))
    """
    reader = _Reader(text, letters)
    reader.free = frozenset(free)
    return reader.term(reader.tree, "number")


class _Reader:
    def __init__(self, text: str, letters: Iterable[str]) -> None:
        if not isinstance(text, str):
            raise InvalidArgument(f"claim: a {type(text).__name__} given; a line of text is needed")
        self.text, self.letters = text, frozenset(letters)
        self.bound: list[str] = []
        self.free: frozenset[str] = frozenset()
        self.depth = 0
        if len(text) > MOST_CHARACTERS:
            raise InvalidArgument(f"claim: {len(text)} characters given; at most {MOST_CHARACTERS} are read")
        if not text.strip():
            raise InvalidArgument("claim: empty; a relation such as 'mu(X[1]) <= mu(X[0])' is needed")
        for column, letter in enumerate(text, start=1):
            # Look-alikes would be read as other names, and what is behind a # not at all.
            if not letter.isascii() or letter == "#":
                hint = f"; write {_TYPED[letter]}" if letter in _TYPED else ""
                name = unicodedata.name(letter, "unnamed")
                raise InvalidArgument(f"claim, column {column}: {letter!r} ({name}) is not in the language{hint}")
        # One line without blanks around it, in which ^ is a power; `columns` says where each sign was typed.
        signs = [(sign, place) for place, typed in enumerate(text, 1) for sign in (typed if typed != "^" else "**")]
        while signs[0][0].isspace():
            del signs[0]
        self.text = "".join(" " if sign.isspace() else sign for sign, _ in signs).rstrip()
        self.columns = [*(place for _, place in signs[: len(self.text)]), len(text.rstrip()) + 1]
        # norm == rms before is one word: its blank becomes a dot, which Python's grammar reads.
        self.text = _NORM_AT.sub(r"\1.", self.text)
        try:
            self.tree = ast.parse(self.text, mode="eval").body
        except SyntaxError as error:
            place = self.columns[min(error.offset or len(self.columns), len(self.columns)) - 1]
            if latex := re.search(r"\\([A-Za-z]*)", self.text):
                place, word = self.columns[latex.start()], latex[1]
                hint = f"write {_LATEX.get(word, word)}" if word else "see `rankmath quantities`"
                raise InvalidArgument(
                    f"claim, column {place}: {latex[0]} is LaTeX, which is not read; {hint}"
                ) from None
            hint = _written(self.text, (error.offset or 1) - 1)
            raise InvalidArgument(f"claim, column {place}: {error.msg}; {hint}") from None
        except (ValueError, RecursionError, MemoryError):
            raise InvalidArgument(f"claim: nested too deeply; {_MOST_DEPTH} levels are allowed") from None

    def refuse(self, node: ast.AST, words: str) -> NoReturn:
        raise InvalidArgument(f"claim, column {self.columns[getattr(node, 'col_offset', 0)]}: {words}")

    def unknown(self, node: ast.AST, what: str, name: str, allowed: Iterable[str]) -> NoReturn:
        choices = sorted(allowed)
        told = _telling_of(name) if what == "function" else []
        small = name.lower()
        begun = [choice for choice in choices if len(name) > 2 and choice.lower().startswith(small)][:3]
        near = [choice for choice in choices if choice.lower() == small] or begun
        near = near or difflib.get_close_matches(name, choices, 3, cutoff=0.75 if told else 0.6)
        if what == "letter" and (switched := _switched(name)):
            hint = f"did you mean {switched}?"
        elif near:
            hint = f"did you mean {' or '.join(map(repr, near))}?"
        else:
            listed = "`rankmath quantities` lists them" if what == "function" else f"there are {', '.join(choices)}"
            if what == "letter":
                listed += f", and the switches {', '.join(SWITCHES)}; --sharpen takes a letter for a constant"
            hint = f"what tells of it: {', '.join(told)}" if told else listed
        self.refuse(node, f"no {what} {name!r} in the language; {hint}")

    # -- formulas ------------------------------------------------------------------------------------------

    def formula(self, node: ast.expr) -> Formula:
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                return both(*(self.formula(part) for part in values))
            case ast.Compare(left=left, ops=ops, comparators=rights):
                return self.comparison(node, [left, *rights], ops)
            case ast.Call(func=ast.Name(id=name)) if name.startswith(("all_", "any_")) and name in FUNCTIONS:
                return self.quantified(node, *name.split("_"))
            case ast.Call(func=ast.Name(id=name)) if (entry := FUNCTIONS.get(name)) and entry.value == "truth":
                found = self.call(node)
                assert isinstance(found, Call)
                return found
            case ast.BoolOp(op=ast.Or()) | ast.UnaryOp(op=ast.Not()):
                self.refuse(node, _no_connective("or" if isinstance(node, ast.BoolOp) else "not"))
            case _:
                switched = _switched(node.id) if isinstance(node, ast.Name) else ""
                hint = f"did you mean {switched}?" if switched else "two terms with <=, <, >=, > or == are needed"
                self.refuse(node, f"{self.source(node)!r} is no relation; {hint}")

    def quantified(self, node: ast.Call, word: str, index: str) -> Formula:
        if len(node.args) != 1 or node.keywords:
            self.refuse(node, f"{word}_{index} takes one formula")
        inner = self.bind(node, index, lambda: self.formula(node.args[0]))
        if word == "all":
            return Every(index, inner)
        while isinstance(inner, Every) and inner.index != "p" and isinstance(inner.formula, Relation):
            inner = over(inner.index, inner.formula, some=False)
        if not isinstance(inner, Relation):
            self.refuse(node, f"any_{index} takes one relation; two terms with <=, <, >=, > or == are needed")
        return over(index, inner, some=True)

    def comparison(self, node: ast.AST, terms: list[ast.expr], ops: list[ast.cmpop]) -> Formula:
        relations: list[Formula] = []
        for left, op, right in zip(terms, ops, terms[1:], strict=False):
            symbol = _RELATIONS.get(type(op))
            if symbol is None:
                self.refuse(node, "only <=, <, >=, > and == relate two terms")
            name = left.id if isinstance(left, ast.Name) else ""
            switch = OTHER_NAMES.get(name, name)
            if switch == "layernorm" and isinstance(right, ast.Attribute):
                place = Relation("==", Letter("norm_at"), Letter(right.attr))
                relations += [self.comparison(node, [left, right.value], [op]), place]
            elif switch in SWITCHES:
                word = self.source(right).replace(" ", "") if isinstance(right, ast.Call) else ""
                word = word if word and allowed(switch, word) else self.word(right, self.words_of(switch))
                if symbol != "==":
                    self.refuse(node, f"{switch} is compared by == with {', '.join(SWITCHES[switch])}")
                relations.append(Relation("==", Letter(switch), Letter(word)))
            else:
                relations.append(Relation(symbol, self.term(left, "number"), self.term(right, "number")))
        return both(*relations)

    def words_of(self, switch: str) -> tuple[str, ...]:
        with_number = [f"{name}(NUMBER)" for name, (text, _) in MASKS.items() if "k" in text]
        return (*SWITCHES[switch], *(with_number if switch == "mask" else []))

    # -- terms ---------------------------------------------------------------------------------------------

    def term(self, node: ast.expr, kind: str, words: tuple[str, ...] = ()) -> Term:
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            self.refuse(node, f"nested more than {_MOST_DEPTH} deep")
        try:
            return self._term(node, kind, words)
        finally:
            self.depth -= 1

    def _term(self, node: ast.expr, kind: str, words: tuple[str, ...]) -> Term:
        if kind == "word":
            found = self.word(node, words)
            return Number(Fraction(found)) if found.isdigit() else Letter(found)
        if kind in ("tokens", "weight", "attention", "matrix"):
            return self.array(node, kind)
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return self.number(node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return negative(self.term(operand, kind))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                first, second = self.term(left, kind), self.term(right, kind)
                symbol = _OPERATORS[type(op)]
                if symbol == "/" and _exact(second) == 0:
                    self.refuse(node, "division by zero")
                if symbol == "**":
                    self.check_power(node, _exact(first), _exact(second))
                return quotient(first, second) if symbol == "/" else Operation(symbol, (first, second))
            case ast.Name(id=name):
                return self.letter(node, name)
            case ast.Call():
                return self.call(node)
            case ast.Subscript():
                if isinstance(node.value, ast.Name) and node.value.id in self.letters:
                    return self.item(node)
                self.refuse(node, f"{self.source(node)!r} is an array; a number is needed here, such as a norm of it")
            case _:
                self.refuse(node, f"{self.source(node)!r} is not in the language")

    def check_power(self, node: ast.AST, base: Fraction | None, exponent: Fraction | None) -> None:
        if exponent is None:
            return
        if abs(exponent) > _MOST_EXPONENT:
            self.refuse(node, f"an exponent beyond ±{_MOST_EXPONENT}")
        if base == 0 and exponent < 0:
            self.refuse(node, "division by zero")
        if base is not None and base < 0 and exponent.denominator > 1:
            self.refuse(node, f"{self.source(node)!r} given; a number of at least 0 is needed below a root")
        if base is not None and _bits(base) * abs(exponent) > _MOST_BITS:
            self.refuse(node, f"a power of more than {_MOST_BITS} bits")

    def source(self, node: ast.AST) -> str:
        found = ast.get_source_segment(self.text, node) or ""
        return found if len(found) <= 60 else found[:57] + "..."

    def number(self, node: ast.Constant) -> Number:
        digits = (ast.get_source_segment(self.text, node) or str(node.value)).replace("_", "")
        if len(digits) > _MOST_DIGITS:
            self.refuse(node, f"a number of {len(digits)} characters; {_MOST_DIGITS} are allowed")
        power = re.fullmatch(r"[\d.]*[eE][+-]?(\d+)", digits)
        if power and int(power[1]) > _MOST_DIGITS:
            self.refuse(node, f"a number of more than {_MOST_DIGITS} digits")
        try:
            value = Fraction(digits)
        except ValueError:
            self.refuse(node, f"{digits!r} is no number of the language; write 12, 0.5, 1e-3 or 1/3")
        if max(len(str(value.numerator)), len(str(value.denominator))) > _MOST_DIGITS:  # it is printed as a fraction
            self.refuse(node, f"a number of more than {_MOST_DIGITS} digits")
        return Number(value)

    def letter(self, node: ast.AST, name: str) -> Term:
        name = ALIASES.get(name, name)
        if name in self.bound or name in self.free or name in self.letters or name in LETTERS:
            return Letter(name)
        if name in INDICES or name == "p":
            reduction = "all_p(…)" if name == "p" else f"sum_{name}(…), max_{name}(…), all_{name}(…) or any_{name}(…)"
            self.refuse(node, f"the index {name} is free; it is bound by {reduction}")
        if name in ARRAYS:
            self.refuse(
                node, f"{name} is an array; write {name}[{', '.join(['l', 'h'][: ARRAYS[name]])}] inside a quantity"
            )
        self.unknown(node, "letter", name, {*LETTERS, *ALIASES, *self.letters, *self.bound})

    def word(self, node: ast.expr, allowed: tuple[str, ...]) -> str:
        match node:
            case ast.Name(id=name):
                found = name
            case ast.Constant(value=str() as value):
                found = value
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                found = str(value)
            case _:
                found = self.source(node)
        # The ℓ₁ norm has one name for people, and two in texts that are frozen: norm(M, 1), residual(X[l], one).
        other = {"1": "one", "one": "1"}.get(found)
        found = other if other in allowed and found not in allowed else found
        if found in allowed or (found == "p" and "p" in (*self.bound, *self.free) and set(EXPONENTS) <= set(allowed)):
            return found
        self.refuse(node, f"{found!r} given; allowed are {', '.join(allowed)}")

    def array(self, node: ast.expr, kind: str) -> Item:
        wanted = {"tokens": ("X",), "weight": ("W", "W_QK"), "attention": ("P", "P0")}.get(kind, tuple(ARRAYS))
        name = node.value.id if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) else None
        if name not in wanted:
            examples = " or ".join(f"{a}[{', '.join(['l', 'h'][: ARRAYS[a]])}]" for a in wanted)
            self.refuse(node, f"{self.source(node)!r} given; {examples} is needed here")
        assert isinstance(node, ast.Subscript)
        return self.item(node)

    def item(self, node: ast.Subscript) -> Item:
        assert isinstance(node.value, ast.Name)
        name = node.value.id
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name in ARRAYS and len(indices) != ARRAYS[name]:
            self.refuse(node, f"{name} takes {ARRAYS[name]} indices, {len(indices)} given")
        found = tuple(self.term(index, "number") for index in indices)
        for index, term in zip(indices, found, strict=True):
            value = _exact(term)
            whole = value is None or (value.denominator == 1 and 0 <= value <= _MOST_EXPONENT)
            fits = all(isinstance(t, _IN_AN_INDEX) and t not in _NO_INDEX for t in walk(term))
            if name in ARRAYS and not (whole and fits):
                self.refuse(index, f"{self.source(index)!r} is no index; 0, 1, 2, …, l, h, L and H are")
        return Item(name, found if name not in ARRAYS else tuple(map(_folded, found)))

    # -- functions -----------------------------------------------------------------------------------------

    def call(self, node: ast.Call) -> Call:
        if not isinstance(node.func, ast.Name):
            self.refuse(node, f"{self.source(node.func)!r} is no function of the language")
        name = node.func.id
        entry = FUNCTIONS.get(name)
        if entry is None:
            self.unknown(node, "function", name, OWN | set(ENTRIES))
        if name == "recursion":
            return self.recursion(node)
        if entry.variadic:
            if not node.args or node.keywords:
                self.refuse(node, f"{name} takes one number or more")
            return Call(name, tuple(self.term(argument, "number") for argument in node.args))
        index = name.partition("_")[2]
        if index in INDICES and name.partition("_")[0] in ("sum", "prod", "max", "min"):
            [body] = self.arguments(node, entry)
            return Call(name, (self.bind(node, index, lambda: self.term(body, "number")),))
        given = self.arguments(node, entry)
        terms = tuple(self.argument(x, parameter) for x, parameter in zip(given, entry.parameters, strict=True))
        value = _exact(terms[0]) if name in ("sqrt", "log") else None
        if value is not None and (value < 0 or (value == 0 and name == "log")):
            needed = "a number of at least 0" if name == "sqrt" else "a positive number"
            self.refuse(node, f"{self.source(node)!r} given; {needed} is needed in {name}")
        return Call(name, terms)

    def argument(self, node: ast.expr, parameter: Parameter) -> Term:
        if parameter.kind == "array":
            if isinstance(node, ast.Name) and node.id in self.letters:
                return Letter(node.id)
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in self.letters:
                return self.item(node)
            self.refuse(node, f"{self.source(node)!r} given; an array of the instance is needed here")
        found = self.term(node, parameter.kind, parameter.words)
        if parameter.by_place and isinstance(found, Item) and found.array != parameter.name:
            self.refuse(node, f"{self.source(node)!r} given; an array {parameter.name} is needed here")
        return found

    def arguments(self, node: ast.Call, entry: Function) -> list[ast.expr]:
        """Positional and named arguments, in order."""
        names = [parameter.name for parameter in entry.parameters]
        found = dict(zip(names, node.args, strict=False))
        if len(node.args) > len(names):
            self.refuse(node, f"{entry.name}({', '.join(names)}): {len(node.args)} arguments given")
        for keyword in node.keywords:
            if keyword.arg not in names or keyword.arg in found:
                self.refuse(node, f"{entry.name}({', '.join(names)}): {keyword.arg!r} is not expected")
            found[keyword.arg] = keyword.value
        missing = [name for name in names if name not in found]
        if missing:
            self.refuse(node, f"{entry.name}({', '.join(names)}): {', '.join(missing)} missing, as in {entry.example}")
        return [found[name] for name in names]

    def recursion(self, node: ast.Call) -> Call:
        if len(node.args) != 3 or node.keywords or not isinstance(node.args[0], ast.Name):
            self.refuse(node, "recursion(b, start, step) takes a new letter and two terms")
        name = node.args[0].id
        if name in LETTERS or name in ARRAYS or name in INDICES:
            self.refuse(node.args[0], f"{name!r} has a meaning of its own; take another letter")
        start = self.term(node.args[1], "number")
        self.bound.append(name)
        step = self.bind(node, "l", lambda: self.term(node.args[2], "number"))
        self.bound.pop()
        return Call("recursion", (Letter(name), start, step))

    def bind(self, node: ast.AST, index: str, read: Callable[[], T]) -> T:
        if index in self.bound:
            self.refuse(node, f"the index {index} is bound twice; max_{index} or min_{index} says any or all")
        self.bound.append(index)
        try:
            return read()
        finally:
            self.bound.remove(index)


def _folded(term: Term) -> Term:
    """An index of numbers alone as one number."""
    return term if (value := _exact(term)) is None else Number(value)


def _written(text: str, place: int) -> str:
    """How the language writes what stands at this place, where that is a sign of another one."""
    if text.startswith(("=>", "=<"), place):
        return f"write {text[place + 1]}="
    if text.startswith("=", place):
        before = text[:place].rstrip()[-1:]
        return f"write {before}= without a blank" if before in ("<", ">") else "equality is written =="
    if text.startswith(";", place):
        return "hypotheses stand between commas"
    if close := re.search(r"(?<![\w.])(\d+(?:\.\d+)?)(?![eE][-+]?\d)([A-Za-z_]+)", text):
        return f"a product is written {close[1]}*{close[2]}"
    if word := re.match(r"(exist|some|there (?:is|are|exists?))\b", text):
        return f"did you mean exists in the place of {word[1]!r}?"
    if word := re.search(rf"(?<![\w.])({'|'.join(_CONNECTIVES)})\b(?! *[(=])", text):
        return _no_connective(word[1])
    if re.match(r"[A-Za-z_(]", text[place:]) and re.search(r"[\w)\]] +$|[)\]]$", text[:place]):
        return "a product is written with *"
    return "a relation between terms is needed"


def _no_connective(word: str) -> str:
    return f"the language has no {word!r}: formulas are joined by and, hypotheses stand in given"


def hypotheses_in(text: str) -> list[str]:
    """The hypotheses of a line, with commas between them; commas inside brackets belong to one.

    >>> hypotheses_in("heads == 1, diameter(X[0], 2) <= 1")
    ['heads == 1', 'diameter(X[0], 2) <= 1']
    """
    joined: list[str] = []
    for part in (piece.strip() for piece in text.split(",")):
        if joined and joined[-1].count("(") + joined[-1].count("[") > joined[-1].count(")") + joined[-1].count("]"):
            joined[-1] += ", " + part
        elif part:
            joined.append(part)
    return joined


def _own() -> list[Function]:
    return [entry for name, entry in FUNCTIONS.items() if name in OWN]


#: Other words for the positions that rotations give.
_ALSO = {"rope": "rotary", "RoPE": "rotary", "rms_norm": "rms", "RMSNorm": "rms"}


def _switched(name: str) -> str:
    """A value of a switch as a hypothesis; nothing for any other word, or one that several switches have.

    >>> _switched("rotary"), _switched("rope"), _switched("causal"), _switched("any")
    ('positions == rotary', 'positions == rotary', 'mask == causal', '')
    """
    value = _ALSO.get(name, name)
    having = [switch for switch, values in SWITCHES.items() if value in values]
    return f"{having[0]} == {value}" if len(having) == 1 else ""


def _telling_of(name: str) -> list[str]:
    """Functions that take the word as an argument, as norm(M, frobenius), or else those whose meaning has it."""
    by_word = [
        f"{entry.name}({', '.join(name if name in p.words else p.name for p in entry.parameters)})"
        for entry in _own()
        if any(name in p.words for p in entry.parameters)
    ]
    spoken = name.replace("_", " ").lower()
    return by_word or [entry.name for entry in _own() if len(name) > 3 and spoken in entry.meaning.lower()][:6]


def _exact(term: Term) -> Fraction | None:
    """The value of a term of rational numbers alone; its powers have been found small."""
    match term:
        case Number(value=value):
            return value
        case Operation(operator="neg", terms=(inner,)):
            found = _exact(inner)
            return None if found is None else -found
        case Operation(operator=operator, terms=(left, right)):
            a, b = _exact(left), _exact(right)
            if a is None or b is None or max(_bits(a), _bits(b)) > _MOST_BITS:
                return None
            if operator == "**":
                return a**b.numerator if b.denominator == 1 else None
            return None if operator == "/" and b == 0 else Fraction(ARITHMETIC[operator](a, b))
    return None


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())
