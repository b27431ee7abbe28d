r"""A definition as text, printed in LaTeX: every expression in one way, so that what is printed reads back.

The conventions: places are counted from 0. ``v_{i}`` and ``M_{ij}`` are entries, ``M_{i}`` is a row,
``P^{(s)}_{ij}`` an entry of matrix s of a sequence, ``\#v`` is how many entries, rows or matrices there are,
``I`` the identity. ``\min``, ``\max`` and ``\sum`` reach over one product; "for all" and "for some" over all
that is before them; "where" and "else" over one relation; "with" says what letters stand for. ``[v_i]_{0\le
i<n}`` is a vector, ``[M_{ij}]_{0\le i<n\mid 0\le j<m}`` a matrix by rows and columns. The softmax of a matrix
is that of its rows. The rest is named in words: `WORDED`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from functools import cache

_OR, _AND, _CASES, _RELATION, _REDUCTION, _SUM, _PRODUCT, _POWER, _ATOM = range(9)
_SIGNS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: r"\le ", ast.Gt: ">", ast.GtE: r"\ge ", ast.Eq: "="}
_REACHES = {"all": r"\text{ for all }", "any": r"\text{ for some }"}
_LETTERS = {"d_qk": "d_{qk}", "in_degree": r"\Delta_{\mathrm{in}}", "x_star": "x^*", "inf": r"\infty", "pi": r"\pi"}
_LETTERS |= {"Delta": r"\Delta", "epsilon": r"\varepsilon", "phi": r"\varphi", "lam": r"\lambda", "skip": r"\lambda"}
_LETTERS |= {"eps": r"\varepsilon", "eta": r"\eta", "sizes": "(n,d)"}
_GREEK = ("alpha", "beta", "gamma", "delta", "kappa", "theta", "rho", "tau", "mu", "nu", "omega", "sigma", "lambda")
#: A pair of letters, not an array.
_PAIR = re.compile(r"\(\w(,\w)+\)")
_FRESH = "ijkmpqsuvabcefghlt"

#: Functions of a definition that are printed by a word, and what the word says.
WORDED = {
    "softmax": "e to the entries over their sum; of a matrix row by row",
    "moduli": "the absolute values of the eigenvalues with their multiplicities, the largest first",
    "ordered": "the entries, the least first",
    "lambert": "Lambert's function: the y ≥ 0 with ye^y = x",
    "cholesky": "of a matrix S: the lower triangular G with a positive diagonal and GGᵀ = S",
    "det": "the determinant",
    "solve": "of a matrix S and a column r: the column y with Sy = r",
    "positive_eigenvalues": "how many different eigenvalues are real and positive",
    "real_eigenvalues": "how many eigenvalues are real, with their multiplicities",
}


def latex_letter(name: str) -> str:
    """A letter in LaTeX.

    >>> latex_letter("gamma"), latex_letter("d_qk"), latex_letter("b_0")
    ('\\\\gamma', 'd_{qk}', 'b_{0}')
    """
    if name in _LETTERS:
        return _LETTERS[name]
    stem, _, rest = name.partition("_")
    shown = rf"\{stem}" if stem in _GREEK else _LETTERS.get(stem, stem)
    if len(stem) > 1 and stem not in _GREEK and stem not in _LETTERS:
        shown = rf"\mathrm{{{stem}}}"
    if rest in ("star",):
        return f"{shown}_*"
    return f"{shown}_{{{rest}}}" if rest else shown


_COUNTED = "the number of entries, rows or matrices of v; places are counted from 0"
_ENTRIES = "the entry of v in place i, and in row i and column j of a matrix M"
_PLACES = f"{_ENTRIES}; places are counted from 0"
_LISTED = "the vector, or by rows and columns the matrix, of these entries"
_PROJECTED = "1 where i = j, else 0"
#: What is said of notation.
NOTATION = {*WORDED.values(), _COUNTED, _PLACES, _ENTRIES, _LISTED, _PROJECTED}


def conventions(body: str) -> list[tuple[str, str, str]]:
    """The notation that a definition uses: a name for it, how it is printed, and what it says.

    >>> conventions("max(softmax(c)[j] for j in range(len(c)))")[0]
    ('softmax', '\\\\operatorname{softmax}', 'e to the entries over their sum; of a matrix row by row')
    """
    named, tree = lets(body)
    nodes = [node for part in (*(value for _, value in named), tree) for node in ast.walk(part)]
    called = {node.func.id: None for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    found = [(name, rf"\operatorname{{{name.replace('_', '-')}}}", WORDED[name]) for name in called if name in WORDED]
    if called.keys() & {"len", "chain", "rollout"}:
        found.append(("#", r"\#v", _COUNTED))
    elif any(isinstance(node, ast.Subscript) and not _is_told(node, nodes) for node in nodes):
        found.append(("places", r"v_{i},\ M_{ij}", _PLACES))
    if "identity" in called:
        found.append(("I", "I_{ij}", _PROJECTED))
    if any(isinstance(node, ast.ListComp) for node in nodes):
        found.append(("[]", r"[\cdots]_{i\mid j}", _LISTED))
    return found


def said_once(found: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Notation by its names, which says once that places are counted from 0."""
    twice = {"#", "places"} <= found.keys()
    return {name: (shown, _ENTRIES if twice and name == "places" else said) for name, (shown, said) in found.items()}


def _is_told(entry: ast.Subscript, nodes: list[ast.AST]) -> bool:
    """Whether the range that is printed with a letter says that places are counted from 0, or no place is printed."""
    if isinstance(entry.value, ast.Name) and _PAIR.fullmatch(_LETTERS.get(entry.value.id, "")):
        return True
    ranges = {ast.unparse(loop.target): loop.iter for loop in nodes if isinstance(loop, ast.comprehension)}
    over = ranges.get(ast.unparse(entry.slice))
    return isinstance(over, ast.Call) and len(over.args) == 1


@cache
def parsed(body: str) -> ast.expr:
    """The tree of a definition, without what its letters stand for."""
    return lets(body)[1]


@cache
def lets(body: str) -> tuple[tuple[tuple[str, ast.expr], ...], ast.expr]:
    """What the letters of a definition stand for, one after the other, and what it says of them.

    >>> [name for name, _ in lets("S = sum(v[i] for i in range(len(v))); v[0]/S")[0]]
    ['S']
    """
    *named, last = ast.parse(body.strip()).body
    assert isinstance(last, ast.Expr)
    found = [(line.targets[0].id, line.value) for line in named]  # type: ignore[attr-defined]
    return tuple(found), last.value


def level(node: ast.expr) -> int:
    """How tightly what is printed for an expression holds together."""
    match node:
        case ast.BoolOp(op=ast.Or()):
            return _OR
        case ast.BoolOp() | ast.Call(func=ast.Name("all" | "any")):
            return _AND
        case ast.IfExp():
            return _CASES
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return _RELATION
        case ast.Call(args=[ast.GeneratorExp()]):
            return _REDUCTION
        case ast.BinOp(op=ast.Add() | ast.Sub()) | ast.UnaryOp():
            return _SUM
        case ast.BinOp(op=ast.Mult() | ast.MatMult()):
            return _PRODUCT
        case ast.BinOp(op=ast.Pow()) | ast.Call(func=ast.Name("exp" | "T" | "mpower")):
            return _POWER
        case _:
            return _ATOM


def stands_apart(body: str) -> bool:
    """Whether a definition is to be set in brackets inside a product or a sum.

    >>> stands_apart("max(v[i] for i in range(len(v)))"), stands_apart("len(v)")
    (True, False)
    """
    return level(parsed(body)) < _POWER


def printed(body: str, parameters: Iterable[str], *arguments: str) -> str:
    r"""The definition at printed arguments; its own letters make way for those of the arguments.

    >>> print(printed("max(v[i] for i in range(k, len(v)))", ("v", "k"), "v", "i + 1"))
    \max_{i + 1\le j<\#v} v_{j}
    """
    named, tree = lets(body)
    shown = dict(zip(parameters, arguments, strict=True))
    used = set(re.findall(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])", " ".join(arguments)))
    loops = [node for part in (*(value for _, value in named), tree) for node in ast.walk(part)]
    own = [node.target.id for node in loops if isinstance(node, ast.comprehension)]  # type: ignore[attr-defined]
    own += [name for name, _ in named]
    free = iter(letter for letter in _FRESH if letter not in {*used, *own})
    for name in dict.fromkeys(own):
        shown[name] = next(free) if name in used else name
    printer = _Printer(shown)
    stand = r",\ ".join(f"{shown[name]}={printer.inside(value, _REDUCTION)}" for name, value in named)
    return printer.show(tree) + (rf"\text{{ with }}{stand}" if named else "")


def named(name: str, arguments: Iterable[str]) -> str:
    r"""A quantity at printed arguments by its name alone.

    >>> print(named("least_length", ("Y", "0")))
    \operatorname{least-length}(Y, 0)
    """
    return rf"\operatorname{{{name.replace('_', '-')}}}({', '.join(arguments)})"


class _Printer:
    """Names as they are shown."""

    def __init__(self, shown: dict[str, str]) -> None:
        self.shown = shown

    def inside(self, node: ast.expr, least: int) -> str:
        """What is printed, in brackets where it would come apart."""
        found = self.show(node)
        loose = level(node)
        if isinstance(node, ast.Name) and re.search(r"[^_^({]\s*[+-]|^-|\\,|\\cdot|\\frac", found):
            loose = _SUM
        return found if loose >= least else f"({found})"

    def show(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=value):
                return str(value)
            case ast.Name(id=name):
                return self.shown.get(name, _LETTERS.get(name, name))
            case ast.Subscript():
                return self.entry(node)
            case ast.Call(func=ast.Name(name), args=[ast.GeneratorExp() as loop]) if name in _REACHES:
                reach = rf"{_REACHES[name]}{self.reach(loop.generators)}"
                split = isinstance(loop.elt, ast.BoolOp) and all(level(part) > _AND for part in loop.elt.values)
                return self.inside(loop.elt, _OR if split else _CASES) + reach
            case ast.Call(func=ast.Name("integral"), args=[ast.GeneratorExp(elt=elt, generators=[loop])]):
                first, last = map(self.show, loop.iter.args)  # type: ignore[attr-defined]
                return rf"\int_{{{first}}}^{{{last}}} {self.inside(elt, _ATOM)}\,\mathrm{{d}}{self.show(loop.target)}"
            case ast.Call(func=ast.Name(name), args=[ast.GeneratorExp() as loop]):
                return rf"\{name}_{{{self.reach(loop.generators)}}} {self.inside(loop.elt, _PRODUCT)}"
            case ast.ListComp(elt=ast.ListComp() as inner, generators=loops):
                rows, columns = self.reach(loops), self.reach(inner.generators)
                return rf"\bigl[{self.show(inner.elt)}\bigr]_{{{rows}\mid {columns}}}"
            case ast.ListComp(elt=elt, generators=loops):
                return rf"\bigl[{self.show(elt)}\bigr]_{{{self.reach(loops)}}}"
            case ast.Call(func=ast.Name(name), args=arguments):
                return self.call(name, arguments)
            case ast.BoolOp(op=op, values=parts):
                joint, least = (r"\text{ and }", _AND) if isinstance(op, ast.And) else (r"\text{ or }", _OR)
                if isinstance(op, ast.Or) and any(level(part) == _AND for part in parts):
                    least = _AND
                apart = isinstance(op, ast.And) and any(level(part) == _AND for part in parts)
                return (r",\quad " if apart else joint).join(self.inside(part, least + (not apart)) for part in parts)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                first, second = (self.inside(part, _RELATION) for part in (body, orelse))
                return rf"{first}\text{{ where }}{self.inside(test, _OR)}\text{{, else }}{second}"
            case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
                return rf"{self.inside(left, _REDUCTION)}\ne {self.inside(right, _REDUCTION)}"
            case ast.Compare(left=left, ops=ops, comparators=rest):
                tail = (_SIGNS[type(op)] + self.inside(side, _REDUCTION) for op, side in zip(ops, rest, strict=True))
                return self.inside(left, _REDUCTION) + "".join(tail)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return f"-{self.inside(inner, _PRODUCT)}"
            case ast.BinOp(left=left, op=op, right=right):
                return self.operation(op, left, right)
        raise TypeError(f"{ast.unparse(node)} is not printed")

    def operation(self, op: ast.operator, left: ast.expr, right: ast.expr) -> str:
        match op:
            case ast.Add() | ast.Sub():
                sign = "+" if isinstance(op, ast.Add) else "-"
                nothing = sign == "-" and isinstance(left, ast.Constant) and left.value == 0
                return f"{'' if nothing else self.inside(left, _SUM)}{sign}{self.inside(right, _PRODUCT)}"
            case ast.Mult() | ast.MatMult():
                return rf"{self.inside(left, _PRODUCT)}\,{self.inside(right, _POWER)}"
            case ast.Div():
                return rf"\frac{{{self.show(left)}}}{{{self.show(right)}}}"
            case ast.Pow():
                raised = isinstance(left, ast.Subscript | ast.Call | ast.BinOp)
                base = f"({self.show(left)})" if raised else self.inside(left, _ATOM)
                return f"{base}^{{{self.show(right)}}}"
        raise TypeError(f"{type(op).__name__} is not printed")

    def call(self, name: str, arguments: list[ast.expr]) -> str:
        parts = [self.show(part) for part in arguments]
        match name:
            case "len":
                return rf"\#{parts[0]}"
            case "abs":
                return rf"\bigl|{parts[0]}\bigr|"
            case "min" | "max":
                return rf"\{name}({', '.join(parts)})"
            case "sqrt":
                return rf"\sqrt{{{parts[0]}}}"
            case "exp":
                return f"e^{{{parts[0]}}}"
            case "log" | "sin" | "cos":
                return rf"\{name}({parts[0]})"
            case "spectral":
                return rf"\|{parts[0]}\|_2"
            case "identity":
                return "I"
            case "T":
                return rf"{self.inside(arguments[0], _ATOM)}^{{\mathsf T}}"
            case "mpower":
                return rf"{self.inside(arguments[0], _ATOM)}^{{{parts[1]}}}"
            case "chain":
                return rf"({parts[0]}^{{(0)}}\cdots {parts[0]}^{{(\#{parts[0]}-1)}})"
            case "matrix_rank":
                return rf"\operatorname{{rank}}({parts[0]})"
            case "rollout":
                return rf"({parts[0]}^{{(\#{parts[0]}-1)}}\cdots {parts[0]}^{{(0)}})"
        if name in WORDED:
            return named(name, parts)
        raise TypeError(f"{name} is not printed")

    def entry(self, node: ast.expr) -> str:
        places: list[str] = []
        while isinstance(node, ast.Subscript):
            places.insert(0, self.show(node.slice))
            node = node.value
        base = self.show(node)
        if _PAIR.fullmatch(base) and places[0].isdigit():
            return base[1:-1].split(",")[int(places[0])]
        if len(places) == 3:
            base = f"{base}^{{({places.pop(0)})}}"
        elif ("_" in base and not base.endswith(")")) or level(node) < _ATOM:
            base = f"({base})"
        letters = all(len(place) == 1 and place.isalpha() for place in places)
        return f"{base}_{{{('' if letters else ',').join(places)}}}"

    def reach(self, loops: list[ast.comprehension]) -> str:
        """The ranges of letters, those of one range together, and the conditions on them."""
        found: list[str] = []
        held: list[str] = []
        for at, loop in enumerate(loops):
            assert isinstance(loop.target, ast.Name)
            assert isinstance(loop.iter, ast.Call)
            *first, end = loop.iter.args
            start = self.show(first[0]) if first else "0"
            match end:
                case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=1)):
                    until = rf"\le {self.show(left)}"
                case _:
                    until = f"<{self.inside(end, _SUM)}"
            held.append(self.shown[loop.target.id])
            after = loops[at + 1 : at + 2]
            if not loop.ifs and after and ast.dump(after[0].iter) == ast.dump(loop.iter):
                continue
            found.append(rf"{start}\le {','.join(held)}{until}")
            held = []
            found += [self.show(test) for test in loop.ifs]
        return r",\ ".join(found)


class OwnForm(_Printer):
    """Relations of the checker: products of vectors and matrices with a dot, other functions by their names."""

    def operation(self, op: ast.operator, left: ast.expr, right: ast.expr) -> str:
        if isinstance(op, ast.MatMult):
            return rf"{self.inside(left, _PRODUCT)}\cdot {self.inside(right, _POWER)}"
        return super().operation(op, left, right)

    def call(self, name: str, arguments: list[ast.expr]) -> str:
        parts = [self.show(part) for part in arguments]
        if name == "norm":
            return rf"\|{parts[0]}\|_{{{parts[1]}}}"
        try:
            return super().call(name, arguments)
        except TypeError:
            return named(name, parts)
