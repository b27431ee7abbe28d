"""Normal forms of terms: signed sums of products of powers of atoms. Needs the standard library alone.

A polynomial is {monomial: coefficient}, a monomial a sorted tuple of (atom, exponent) with rational exponents. An
atom is a letter, a quantity, a function, a sum inside a product, a fold over an index; a prime number is one where
it stands under a root. Two terms with one normal form are equal wherever both have a meaning.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from math import isqrt, lcm
from typing import Any, TypeAlias

from rankmath.checker.intervals import Rejected
from rankmath.checker.reading import demand, demand_numbers, short
from rankmath.definitions.attributes import never_negative
from rankmath.definitions.entries import ENTRIES
from rankmath.definitions.hypotheses import ALIASES

#: What an index runs to, and what each fold over one is.
INDEX_ENDS = {"l": "L", "h": "H", "i": "n", "k": "K"}
FOLDS = ("sum", "prod", "max", "min")
NATURAL = frozenset(["n", "d", "H", "L", "r", "in_degree", "K"])
POSITIVE_LETTERS = NATURAL | {"d_qk", "x_star"}
_ONE_ARGUMENT = ("exp", "log", "tanh", "abs", "floor", "expc", "tanhc")
_MAX_TERMS = 400

Tree = tuple[Any, ...]
Mono = tuple[tuple["Base", Fraction], ...]
Poly = dict[Mono, Fraction]
Frozen = tuple[tuple[Mono, Fraction], ...]


class Atom:
    """A factor that is no product: told from others by its canonical text."""

    __slots__ = ("_hash", "args", "kind", "letters", "name", "text")

    def __init__(self, kind: str, name: str, args: tuple[Any, ...] = ()) -> None:
        self.kind, self.name, self.args = kind, name, args
        self.text = _atom_text(self)
        self._hash = hash(self.text)
        found: set[str] = {name} if kind == "letter" else set()
        for arg in args:
            found |= _letters_in(arg)
        self.letters = frozenset(found - {name[-1]}) if kind == "fold" else frozenset(found)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Atom) and self.text == other.text)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self.text


Base: TypeAlias = int | Atom


def _letters_in(arg: Any) -> set[str]:
    """Free letters of an argument: a frozen polynomial, an item, or a word."""
    if isinstance(arg, str):
        return set()
    if arg and arg[0] == "item":
        return {x for index in arg[2:] for x in _letters_in(index)}
    return {x for mono, _ in arg for base, _ in mono if isinstance(base, Atom) for x in base.letters}


# -- reading -------------------------------------------------------------------------------------------------

_RELATION_SIGNS = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=="}
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


@lru_cache(maxsize=20_000)
def read_tree(text: str) -> Tree:
    """A formula or term as nested tuples."""
    demand(len(text) <= 20_000, "a formula of more than 20000 characters")
    demand_numbers(text)
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Rejected(f"{short(text)} is no formula") from None
    return _tree(node, text)


def _tree(node: Any, text: str) -> Tree:
    kind = type(node)
    if kind is ast.BoolOp and type(node.op) is ast.And:
        return ("and", *(_tree(part, text) for part in node.values))
    if kind is ast.Compare and all(type(op) in _RELATION_SIGNS for op in node.ops):
        sides = [_tree(part, text) for part in (node.left, *node.comparators)]
        signs = [_RELATION_SIGNS[type(op)] for op in node.ops]
        parts = [("rel", sign, a, b) for sign, a, b in zip(signs, sides, sides[1:], strict=False)]
        return parts[0] if len(parts) == 1 else ("and", *parts)
    if kind is ast.Constant and type(node.value) in (int, float):
        return ("num", Fraction(ast.get_source_segment(text, node) or str(node.value)))
    if kind is ast.UnaryOp and type(node.op) is ast.USub:
        return ("*", ("num", Fraction(-1)), _tree(node.operand, text))
    if kind is ast.BinOp and type(node.op) in _SIGNS:
        return (_SIGNS[type(node.op)], _tree(node.left, text), _tree(node.right, text))
    if kind is ast.Name:
        return ("let", ALIASES.get(node.id, node.id))
    if kind is ast.Subscript and type(node.value) is ast.Name:
        indices = node.slice.elts if type(node.slice) is ast.Tuple else [node.slice]
        return ("item", node.value.id, *(_tree(part, text) for part in indices))
    if kind is ast.Call and type(node.func) is ast.Name and not node.keywords:
        name = node.func.id
        if name.startswith("all_"):
            demand(len(node.args) == 1, f"{name} takes one formula")
            return ("all", name[4:], _tree(node.args[0], text))
        return ("call", name, *(_tree(part, text) for part in node.args))
    raise Rejected(f"{short(ast.unparse(node))} is not in the language")


def fold_index(name: str) -> str:
    """The index of a fold such as sum_h, or nothing."""
    kind, _, index = name.partition("_")
    return index if kind in FOLDS and index in INDEX_ENDS else ""


def tree_with(tree: Tree, letters: Mapping[str, Tree]) -> Tree:
    """Letters replaced by trees; an index that is bound inside is left alone."""
    if tree[0] == "let":
        return letters.get(tree[1], tree)
    if tree[0] == "num":
        return tree
    bound = tree[1] if tree[0] == "all" else fold_index(tree[1]) if tree[0] == "call" else ""
    if bound in letters:
        letters = {name: part for name, part in letters.items() if name != bound}
    if tree[0] == "call" and tree[1] == "recursion" and len(tree) == 5:
        inner = {name: part for name, part in letters.items() if name not in ("l", tree[2][1])}
        return ("call", "recursion", tree[2], tree_with(tree[3], letters), tree_with(tree[4], inner))
    return tuple(tree_with(part, letters) if isinstance(part, tuple) else part for part in tree)


def nodes(tree: Tree) -> Iterable[Tree]:
    """The tree and everything in it."""
    yield tree
    for part in tree:
        if isinstance(part, tuple):
            yield from nodes(part)


# -- arithmetic ----------------------------------------------------------------------------------------------

ONE: Mono = ()


def rational(value: Fraction | int) -> Poly:
    return {ONE: Fraction(value)} if value else {}


def of_atom(atom: Atom) -> Poly:
    return {((atom, Fraction(1)),): Fraction(1)}


def freeze(poly: Poly) -> Frozen:
    return tuple(sorted(poly.items(), key=lambda item: (len(item[0]), [(_base_key(base), e) for base, e in item[0]])))


def _base_key(base: Base) -> tuple[int, str]:
    return (0, f"{base:09d}") if isinstance(base, int) else (1, base.text)


@lru_cache(maxsize=4096)
def _primes(number: int) -> tuple[tuple[int, int], ...]:
    found, p = [], 2
    while number > 1:
        if p * p > number:
            p = number
        power = 0
        while number % p == 0:
            number, power = number // p, power + 1
        if power:
            found.append((p, power))
        p += 1
        demand(p < 100_000 or number <= 1 or p == number, "a number with large prime factors under a root")
    return tuple(found)


def _with_primes(table: Mapping[Base, Fraction], c: Fraction, e: Fraction = Fraction(1)) -> dict[Base, Fraction]:
    """The factors of a product, and of c > 0 to the power e the primes."""
    out = dict(table)
    for number, side in ((c.numerator, 1), (c.denominator, -1)):
        for p, k in _primes(number):
            out[p] = out.get(p, Fraction(0)) + side * k * e
    return out


def product_of(exponents: Mapping[Base, Fraction]) -> tuple[Fraction, Mono]:
    """The product of powers of bases: whole powers of primes go to the coefficient."""
    coefficient, kept = Fraction(1), []
    for base, exponent in exponents.items():
        if isinstance(base, int):
            whole = exponent.numerator // exponent.denominator
            coefficient *= Fraction(base) ** whole
            exponent -= whole
        if exponent:
            kept.append((base, exponent))
    kept.sort(key=lambda item: _base_key(item[0]))
    return coefficient, tuple(kept)


def plus(a: Poly, b: Poly, sign: int = 1) -> Poly:
    out = dict(a)
    for mono, c in b.items():
        value = out.get(mono, 0) + sign * c
        if value:
            out[mono] = value
        else:
            out.pop(mono, None)
    return out


def as_product(poly: Poly) -> tuple[Fraction, dict[Base, Fraction]]:
    """A polynomial as one product; a sum becomes an atom, after its common factor is taken out."""
    if not poly:
        return Fraction(0), {}
    if len(poly) == 1:
        ((mono, c),) = poly.items()
        return c, dict(mono)
    tables = [dict(mono) for mono in poly]
    bases = {base for table in tables for base in table}
    common = {base: min(table.get(base, Fraction(0)) for table in tables) for base in bases}
    rest: Poly = {}
    for mono, c in poly.items():
        table = dict(mono)
        for base, exponent in common.items():
            table[base] = table.get(base, Fraction(0)) - exponent
        factor, bare = product_of(table)
        rest = plus(rest, {bare: c * factor})
    ordered = freeze(rest)
    lead = next((c for _, c in ordered if c > 0), None)
    scale = lead if lead is not None else ordered[0][1]
    atom = Atom("sum", "+", (freeze({mono: c / scale for mono, c in rest.items()}),))
    out: dict[Base, Fraction] = {base: exponent for base, exponent in common.items() if exponent}
    out[atom] = Fraction(1)
    return scale, out


def times(a: Poly, b: Poly) -> Poly:
    """The product; sums become factors and are not multiplied out."""
    if a == {ONE: 1}:
        return b
    if b == {ONE: 1}:
        return a
    if not a or not b:
        return {}
    if len(b) == 1 and set(b) == {ONE}:
        return {mono: c * b[ONE] for mono, c in a.items()}
    if len(a) == 1 and set(a) == {ONE}:
        return {mono: c * a[ONE] for mono, c in b.items()}
    (c, table), (c2, other) = as_product(a), as_product(b)
    table = dict(table)
    for base, exponent in other.items():
        table[base] = table.get(base, Fraction(0)) + exponent
    factor, mono = product_of(table)
    return {mono: c * c2 * factor}


def raised(poly: Poly, exponent: Fraction | int) -> Poly:
    """A rational power. Where an atom may be negative, the root of its even power is no power of it: refused."""
    e = Fraction(exponent)
    if e == 0:
        return rational(1)
    c, table = as_product(poly)
    if c == 0:
        demand(e > 0, "zero is divided by")
        return {}
    if e.denominator != 1:
        demand(c > 0, "a root of a negative number")
        for base, k in table.items():
            safe = k.numerator % 2 == 1 or isinstance(base, int) or shape_nonnegative(base)
            demand(safe, f"a root of an even power of {base}, which may be negative")
    sign = -1 if c < 0 and e.numerator % 2 else 1
    out: dict[Base, Fraction] = {base: k * e for base, k in table.items()}
    if e.denominator != 1:
        out = _with_primes(out, c, e)
    demand(e.denominator != 1 or abs(e) <= 64, "a power above 64")
    factor, mono = product_of(out)
    return {mono: sign * factor * (abs(c) ** int(e) if e.denominator == 1 else 1)}


def expanded(poly: Poly) -> Poly:
    """Sums to whole powers up to 4 multiplied out."""
    if not any(isinstance(b, Atom) and b.kind == "sum" for mono in poly for b, _ in mono):
        return poly
    out: Poly = {}
    todo = list(poly.items())
    steps = 0
    while todo:
        steps += 1
        demand(steps <= 4 * _MAX_TERMS, "too many terms to multiply out")
        mono, c = todo.pop()
        hit = next(
            (b for b, e in mono if isinstance(b, Atom) and b.kind == "sum" and e.denominator == 1 and 1 <= e <= 4), None
        )
        if hit is None:
            out = plus(out, {mono: c})
            continue
        rest = dict(mono)
        rest[hit] -= 1
        for inner, c2 in hit.args[0]:
            table = dict(rest)
            for base, e in inner:
                table[base] = table.get(base, Fraction(0)) + e
            factor, made = product_of(table)
            todo.append((made, c * c2 * factor))
    return out


def shape_nonnegative(atom: Atom) -> bool:
    """Whether an atom is never negative by what it is, without any hypothesis."""
    kind = atom.kind
    if kind == "letter":
        return atom.name in POSITIVE_LETTERS or atom.name in INDEX_ENDS
    if kind == "quantity":
        return atom.name in ENTRIES and never_negative(ENTRIES[atom.name])
    if kind == "function" and atom.name == "log":
        return len(atom.args[0]) == 1 and atom.args[0][0][1] >= 1 and _is_natural(atom.args[0])
    if kind == "function" and atom.name in ("exp", "expc", "tanhc", "abs"):
        return True
    each = (all(c > 0 and _mono_shape_nonnegative(m) for m, c in part) for part in atom.args)
    if kind == "max":
        return any(each)
    if kind == "power" or (kind == "function" and atom.name in ("tanh", "floor")):
        return next(each)
    return kind in ("sum", "min", "fold") and all(each)


def _mono_shape_nonnegative(mono: Mono) -> bool:
    return all(
        isinstance(base, int) or shape_nonnegative(base) or (e.denominator == 1 and e.numerator % 2 == 0)
        for base, e in mono
    )


def _is_natural(inner: Frozen) -> bool:
    """A product of whole powers of numbers that are at least 1: its logarithm is not negative."""
    ((mono, _),) = inner
    return all(isinstance(b, Atom) and b.kind == "letter" and b.name in NATURAL and e > 0 for b, e in mono)


# -- from trees ----------------------------------------------------------------------------------------------


def normal(tree: Tree, fixed: Mapping[str, Fraction]) -> Poly:
    """The normal form of a term; `fixed` letters are numbers."""
    kind = tree[0]
    if kind == "num":
        return rational(tree[1])
    if kind == "let":
        return rational(fixed[tree[1]]) if tree[1] in fixed else of_atom(Atom("letter", tree[1]))
    if kind in ("+", "-"):
        return plus(normal(tree[1], fixed), normal(tree[2], fixed), 1 if kind == "+" else -1)
    if kind == "*":
        return times(normal(tree[1], fixed), normal(tree[2], fixed))
    if kind == "/":
        return times(normal(tree[1], fixed), raised(normal(tree[2], fixed), -1))
    if kind == "**":
        base, exponent = normal(tree[1], fixed), normal(tree[2], fixed)
        return raised(base, exponent.get(ONE, Fraction(0))) if set(exponent) <= {ONE} else power_of(base, exponent)
    demand(kind == "call", "a number is needed where a formula stands")
    name, args = tree[1], tree[2:]
    if name == "sqrt" and len(args) == 1:
        return raised(normal(args[0], fixed), Fraction(1, 2))
    if name in _ONE_ARGUMENT and len(args) == 1:
        return function_of(name, normal(args[0], fixed))
    if name in ("max", "min"):
        return extreme_of(name, [normal(part, fixed) for part in args])
    index = fold_index(name)
    if index:
        demand(len(args) == 1, f"{name} takes one term")
        end = fixed.get(INDEX_ENDS[index])
        if end is None:
            return folded(name, normal(args[0], fixed))
        demand(1 <= end <= 12, f"{name} over more than twelve places")
        parts = [normal(tree_with(args[0], {index: ("num", Fraction(i))}), fixed) for i in range(int(end))]
        if name[:3] in ("max", "min"):
            return extreme_of(name[:3], parts)
        out = parts[0]
        for part in parts[1:]:
            out = plus(out, part) if name.startswith("sum") else times(out, part)
        return out
    if name == "recursion":
        demand(len(args) == 3 and args[0][0] == "let", "recursion takes a letter, a start and a step")
        return _recursion(args[0][1], normal(args[1], fixed), args[2], fixed)
    return _quantity_of(name, args, fixed)


def _recursion(letter: str, start: Poly, step_tree: Tree, fixed: Mapping[str, Fraction]) -> Poly:
    """b after L steps: step by step where L is a number; else where b is only multiplied, added to, or raised."""
    taken = letter in fixed or letter in POSITIVE_LETTERS or letter in INDEX_ENDS or letter == "skip"
    demand(not taken, f"{short(letter)} has a meaning already")
    b, step = Atom("letter", letter), normal(step_tree, fixed)
    if "L" in fixed:
        demand(fixed["L"] <= 12, "a recursion of more than twelve steps")
        for layer in range(int(fixed["L"])):
            now, one = start, placed(step, "l", rational(layer))
            start = rebuilt(one, lambda x, now=now: now if x == b else None)  # type: ignore[misc]
        return start
    with_b = {mono: c for mono, c in step.items() if any(x == b for x, _ in mono)}
    rest = {mono: c for mono, c in step.items() if mono not in with_b}
    inside = {x for x in bases_of(step) if x != b and letter in x.letters}
    demand(len(with_b) == 1 and not inside, "a recursion without a closed form")
    ((mono, c),) = with_b.items()
    k, gain = dict(mono)[b], {tuple((x, e) for x, e in mono if x != b): c}
    if k == 1 and not rest:
        return times(start, folded("prod_l", gain))
    if k == 1 and gain == rational(1):
        return plus(start, folded("sum_l", rest))
    free = all("l" not in x.letters for x in bases_of(gain))
    demand(k > 1 and k.denominator == 1 and not rest and free, "a recursion without a closed form")
    last = power_of(rational(k), of_atom(Atom("letter", "L")))
    exponent = times(plus(last, rational(1), -1), rational(Fraction(1) / (k - 1)))
    return times(power_of(gain, exponent), power_of(start, last))


def extreme_of(name: str, parts: Iterable[Poly]) -> Poly:
    args = sorted({freeze(part) for part in parts}, key=lambda part: poly_text(dict(part)))
    demand(bool(args), f"{name} of nothing")
    if len(args) == 1:
        return dict(args[0])
    if all(set(dict(part)) <= {ONE} for part in args):
        values = [dict(part).get(ONE, Fraction(0)) for part in args]
        return rational(max(values) if name == "max" else min(values))
    return of_atom(Atom(name, name, tuple(args)))


def function_of(name: str, inner: Poly) -> Poly:
    if name == "exp":
        out = rational(1)
        for mono, c in expanded(inner).items():
            out = times(out, raised(of_atom(Atom("function", "exp", (freeze({mono: Fraction(1)}),))), c))
        return out
    if name == "log":
        return _logarithm(inner)
    if name == "abs":
        c, table = as_product(inner)
        if all(isinstance(base, int) or shape_nonnegative(base) for base in table):
            return {product_of(table)[1]: abs(c)} if c else {}
        factor, mono = product_of(table)
        return times(rational(abs(c) * factor), of_atom(Atom("function", "abs", (freeze({mono: Fraction(1)}),))))
    if not inner and name in ("tanh", "floor"):
        return {}
    if not inner and name in ("expc", "tanhc"):
        return rational(1)
    if name == "floor" and set(inner) == {ONE}:
        return rational(inner[ONE].numerator // inner[ONE].denominator)
    return of_atom(Atom("function", name, (freeze(inner),)))


def _logarithm(inner: Poly) -> Poly:
    """log of a product, split at the factors that are positive by what they are."""
    c, table = as_product(inner)
    demand(c != 0, "the logarithm of zero")
    out: Poly = {}
    rest: dict[Base, Fraction] = {}
    if c > 0:
        c, table = Fraction(1), _with_primes(table, c)
    for base, e in table.items():
        if isinstance(base, int) or shape_positive(base):
            if isinstance(base, Atom) and base.kind == "function" and base.name == "exp":
                out = plus(out, times(rational(e), dict(base.args[0])))
                continue
            of = rational(base) if isinstance(base, int) else of_atom(base)
            out = plus(out, times(rational(e), of_atom(Atom("function", "log", (freeze(of),)))))
        else:
            rest[base] = e
    if rest or c != 1:
        factor, mono = product_of(rest)
        out = plus(out, of_atom(Atom("function", "log", (freeze({mono: factor * c}),))))
    return out


def shape_positive(atom: Atom) -> bool:
    """Whether an atom is positive by what it is."""
    if atom.kind == "letter":
        return atom.name in POSITIVE_LETTERS
    if atom.kind == "quantity":
        return atom.name in ENTRIES and ENTRIES[atom.name].sign == ">"
    return atom.kind == "function" and atom.name in ("exp", "expc", "tanhc")


def power_of(base: Poly, exponent: Poly) -> Poly:
    """base**exponent for an exponent with letters: one factor for each factor of the base."""
    x, table = as_product(exponent)
    factor, mono = product_of(table)
    if not x or mono == ONE:
        return raised(base, x * factor)
    c, bases = as_product(base)
    demand(c > 0, "a power of what is not positive")
    bases = _with_primes(bases, c)
    out = rational(1)
    for b, y in bases.items():
        demand(isinstance(b, int) or y.numerator % 2 == 1 or shape_nonnegative(b), "a power of an even power")
        of = rational(b) if isinstance(b, int) else of_atom(b)
        atom = Atom("power", "**", (freeze(of), freeze({mono: Fraction(1)})))
        out = times(out, raised(of_atom(atom), x * factor * y))
    return out


def folded(name: str, inner: Poly) -> Poly:
    """sum_h(p) and the like, with what does not depend on the index taken out."""
    kind, _, index = name.partition("_")
    count = of_atom(Atom("letter", INDEX_ENDS[index]))
    if not inner:
        return {}

    def parted(table: Mapping[Base, Fraction]) -> tuple[dict[Base, Fraction], dict[Base, Fraction]]:
        tied: dict[Base, Fraction] = {b: e for b, e in table.items() if isinstance(b, Atom) and index in b.letters}
        return {b: e for b, e in table.items() if b not in tied}, tied

    if kind == "sum":
        out: Poly = {}
        for mono, c in inner.items():
            free, tied = parted(dict(mono))
            body = of_atom(Atom("fold", name, (freeze({product_of(tied)[1]: Fraction(1)}),))) if tied else count
            factor, bare = product_of(free)
            out = plus(out, times({bare: c * factor}, body))
        return out
    c, table = as_product(inner)
    free, tied = parted(table)
    factor, bare = product_of(free)
    outer = {bare: c * factor}
    if not tied:
        return outer if kind != "prod" else power_of(outer, count)
    if kind == "prod":
        out = rational(1) if outer == {ONE: 1} else power_of(outer, count)
        for b, e in tied.items():
            assert isinstance(b, Atom)
            demand(e.numerator % 2 == 1 or shape_nonnegative(b) or e.denominator == 1, "a product of roots")
            out = times(out, raised(of_atom(Atom("fold", name, (freeze(of_atom(b)),))), e))
        return out
    # A factor that may be negative cannot be taken out of a maximum.
    if c < 0 or not all(isinstance(b, int) or shape_nonnegative(b) for b in free):
        return of_atom(Atom("fold", name, (freeze(inner),)))
    return times(outer, of_atom(Atom("fold", name, (freeze({product_of(tied)[1]: Fraction(1)}),))))


def _quantity_of(name: str, args: tuple[Tree, ...], fixed: Mapping[str, Fraction]) -> Poly:
    """A quantity with its arguments in normal form; those that are others by definition become these."""
    parts: list[Any] = []
    for arg in args:
        if arg[0] == "item":
            parts.append(("item", arg[1], *(freeze(normal(place, fixed)) for place in arg[2:])))
        elif arg[0] == "let" and arg[1] not in fixed and arg[1] not in POSITIVE_LETTERS | set(INDEX_ENDS):
            parts.append(arg[1])
        else:
            poly = normal(arg, fixed)
            parts.append(poly_text(poly) if set(poly) <= {ONE} else freeze(poly))
    return quantity_made(name, tuple(parts))


def quantity_made(name: str, parts: tuple[Any, ...]) -> Poly:
    last = parts[-1] if parts else ""
    if name == "operator_norm" and last in ("1", "2", "inf"):
        name, parts = "norm", (parts[0], {"1": "inf", "2": "2", "inf": "1"}[last])
    elif name == "form_norm" and last in ("1", "2"):
        name, parts = "norm", (parts[0], {"1": "max", "2": "2"}[last])
    elif name == "residual" and last == "frobenius":
        name, parts = "mu", parts[:1]
    if name == "norm" and len(parts) == 2:
        if parts[1] == "composite":
            both = times(quantity_made("norm", (parts[0], "1")), quantity_made("norm", (parts[0], "inf")))
            return raised(both, Fraction(1, 2))
        if parts[1] == "inf" and parts[0][:2] == ("item", "P"):
            return rational(1)  # every row of the attention sums to 1
    return of_atom(Atom("quantity", name, parts))


def bases_of(poly: Poly) -> Iterator[Atom]:
    """The atoms that are factors of a polynomial's terms."""
    return (base for mono in poly for base, _ in mono if isinstance(base, Atom))


def atoms_in(poly: Poly) -> Iterator[Atom]:
    """These, and the atoms inside of them."""
    for base in bases_of(poly):
        yield base
        for arg in base.args if base.kind not in ("letter", "quantity") else ():
            yield from atoms_in(dict(arg))


def rebuilt(poly: Poly, change: Callable[[Atom], Poly | None]) -> Poly:
    """The polynomial with atoms replaced, also inside of others; outer ones are handed to `change` first."""

    def inside(arg: Any) -> Any:
        if isinstance(arg, str):
            return arg
        if arg and arg[0] == "item":
            return ("item", arg[1], *(freeze(rebuilt(dict(index), change)) for index in arg[2:]))
        return freeze(rebuilt(dict(arg), change))

    def made(atom: Atom) -> Poly:
        found = change(atom)
        if found is not None:
            return found
        if atom.kind == "letter":
            return of_atom(atom)
        args = tuple(map(inside, atom.args))
        if atom.kind == "sum":
            return dict(args[0])
        if atom.kind == "function":
            return function_of(atom.name, dict(args[0]))
        if atom.kind in ("max", "min"):
            return extreme_of(atom.kind, map(dict, args))
        if atom.kind == "fold":
            return folded(atom.name, dict(args[0]))
        if atom.kind == "power":
            return power_of(dict(args[0]), dict(args[1]))
        parts = (
            poly_text(dict(a)) if isinstance(a, tuple) and a[:1] != ("item",) and set(dict(a)) <= {ONE} else a
            for a in args
        )
        return quantity_made(atom.name, tuple(parts))

    out: Poly = {}
    for mono, c in poly.items():
        term = rational(c)
        for base, e in mono:
            of: Poly = {((base, e),): Fraction(1)} if isinstance(base, int) else raised(made(base), e)
            term = times(term, of)
        out = plus(out, term)
    return out


def placed(poly: Poly, index: str, value: Poly) -> Poly:
    """The polynomial with a free index put at a value."""

    def change(atom: Atom) -> Poly | None:
        if atom.kind == "letter":
            return value if atom.name == index else None
        return of_atom(atom) if index not in atom.letters else None

    return rebuilt(poly, change)


def at_time(poly: Poly, time: Poly) -> Poly:
    """The polynomial with all tokens X[...] taken at one time."""
    place = freeze(time)

    def change(atom: Atom) -> Poly | None:
        if atom.kind == "quantity" and any(isinstance(a, tuple) and a[:2] == ("item", "X") for a in atom.args):
            parts = (("item", "X", place) if isinstance(a, tuple) and a[:2] == ("item", "X") else a for a in atom.args)
            return quantity_made(atom.name, tuple(parts))
        return None

    return rebuilt(poly, change)


# -- constants -----------------------------------------------------------------------------------------------


def _root_bounds(p: int, exponent: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """p**exponent for 0 < exponent < 1, from below and above, to about so many bits."""
    k = exponent.denominator
    value = p**exponent.numerator << (bits * k)
    low = isqrt(value) if k == 2 else _integer_root(value, k)
    return Fraction(low, 1 << bits), Fraction(low + 1, 1 << bits)


def _integer_root(value: int, k: int) -> int:
    demand(k <= 64, "a root of an order above 64")
    low, high = 0, 1 << (value.bit_length() // k + 1)
    while low < high - 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**k <= value else (low, middle)
    return low


def constant_sign(poly: Poly) -> int:
    """The sign of a sum of roots of rationals: exact for one term, by bounds for several, 0 where these do not tell."""
    if len(poly) <= 1:
        return 0 if not poly else (1 if next(iter(poly.values())) > 0 else -1)
    for bits in (64, 256):
        low = high = Fraction(0)
        for mono, c in poly.items():
            bounds = (Fraction(1), Fraction(1))
            for base, e in mono:
                if not isinstance(base, int):
                    raise Rejected("a constant has letters")
                a, b = _root_bounds(base, e, bits)
                bounds = bounds[0] * a, bounds[1] * b
            low, high = low + c * bounds[0 if c > 0 else 1], high + c * bounds[1 if c > 0 else 0]
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
    return 0


def compared_to_one(powers: Iterable[tuple[Fraction | int, Fraction]]) -> int:
    """The sign of Π c^e − 1, exactly, for positive rationals c."""
    pairs = [(Fraction(c), e) for c, e in powers if c != 1]
    k = lcm(1, *(e.denominator for _, e in pairs))
    demand(k <= 10_000 and all(abs(e * k) <= 20_000 for _, e in pairs), "a constant with too large powers")
    above = below = 1
    for c, e in pairs:
        power = int(e * k)
        top, bottom = (c.numerator, c.denominator) if power > 0 else (c.denominator, c.numerator)
        above, below = above * top ** abs(power), below * bottom ** abs(power)
    return (above > below) - (above < below)


def constants_apart(poly: Poly) -> dict[Mono, Poly]:
    """The coefficient of every product of atoms, as a sum of roots."""
    out: dict[Mono, Poly] = {}
    for mono, c in poly.items():
        atoms = tuple((b, e) for b, e in mono if isinstance(b, Atom))
        roots = tuple((b, e) for b, e in mono if isinstance(b, int))
        out[atoms] = plus(out.get(atoms, {}), {roots: c})
    return {mono: c for mono, c in out.items() if c}


# -- printing ------------------------------------------------------------------------------------------------


def _arg_text(arg: Any) -> str:
    if isinstance(arg, str):
        return arg
    if arg and arg[0] == "item":
        return f"{arg[1]}[{', '.join(poly_text(dict(index)) for index in arg[2:])}]"
    return poly_text(dict(arg))


def _atom_text(atom: Atom) -> str:
    if atom.kind == "letter":
        return atom.name
    shown = [_arg_text(arg) for arg in atom.args]
    if atom.kind == "sum":
        return f"({shown[0]})"
    if atom.kind == "power":
        return f"({shown[0]})**({shown[1]})"
    return f"{atom.name}({', '.join(shown)})"


def _factor_text(base: Base, e: Fraction) -> str:
    text = str(base)
    if e == 1:
        return text if isinstance(base, int) or base.kind != "power" else f"({text})"
    if e == Fraction(1, 2):
        return f"sqrt({text[1:-1] if isinstance(base, Atom) and base.kind == 'sum' else text})"
    bare = f"({text})" if isinstance(base, Atom) and base.kind == "power" else text
    return f"{bare}**{e}" if e.denominator == 1 else f"{bare}**({e})"


def mono_text(mono: Mono, c: Fraction = Fraction(1)) -> str:
    """A product as text, c > 0."""
    above = [str(c.numerator)] if c.numerator != 1 else []
    below = [str(c.denominator)] if c.denominator != 1 else []
    for base, e in mono:
        (above if e > 0 else below).append(_factor_text(base, abs(e)))
    top = "*".join(above) or "1"
    if not below:
        return top
    return f"{top}/{below[0]}" if len(below) == 1 else f"{top}/({'*'.join(below)})"


def poly_text(poly: Poly) -> str:
    """A polynomial as text that reads back to it."""
    out = ""
    # A term that is added comes first, so that no line begins with a minus where it need not.
    terms = sorted(freeze(poly), key=lambda item: item[1] < 0)
    for mono, c in terms:
        shown = mono_text(mono, abs(c))
        if not out:
            out = shown if c > 0 else f"-{shown}"
        else:
            out += f" + {shown}" if c > 0 else f" - {shown}"
    return out or "0"
