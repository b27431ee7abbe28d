r"""A definition as text, printed in LaTeX: every expression in one way, so that what is printed reads back.

The conventions: places are counted from 0. ``v_{i}`` and ``M_{ij}`` are entries, ``P^{(s)}_{ij}`` is an entry of
matrix s of a sequence, ``\#v`` is how many entries, rows or matrices there are. ``\min``, ``\max`` and ``\sum``
reach over one product; "for all" and "for some" over everything before them; "where" and "else" over one relation.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache

_OR, _AND, _CASES, _RELATION, _REDUCTION, _SUM, _PRODUCT, _POWER, _ATOM = range(9)
_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: r"\le ",
    ast.Gt: ">",
    ast.GtE: r"\ge ",
    ast.Eq: "=",
}
_REACHES = {"all": r"\text{ for all }", "any": r"\text{ for some }"}
_FRESH = "ijkmpqsuv"


@cache
def parsed(body: str) -> ast.expr:
    """The tree of a definition."""
    return ast.parse(body, mode="eval").body


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
        case ast.BinOp(op=ast.Mult()):
            return _PRODUCT
        case ast.BinOp(op=ast.Pow()):
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

    Examples
    --------
    >>> print(printed("max(v[i] for i in range(k, len(v)))", ("v", "k"), "v", "i + 1"))
    \max_{i + 1\le j<\#v} v_{j}
    """
    tree = parsed(body)
    shown = dict(zip(parameters, arguments, strict=True))
    used = set(re.findall(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])", " ".join(arguments)))
    own = [node.target.id for node in ast.walk(tree) if isinstance(node, ast.comprehension)]  # type: ignore[attr-defined]
    free = iter(letter for letter in _FRESH if letter not in {*used, *own})
    for name in dict.fromkeys(own):
        shown[name] = next(free) if name in used else name
    return _Printer(shown).show(tree)


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
                return self.shown.get(name, name)
            case ast.Subscript():
                return self.entry(node)
            case ast.Call(func=ast.Name(name), args=[ast.GeneratorExp() as loop]) if name in _REACHES:
                reach = rf"{_REACHES[name]}{self.reach(loop.generators)}"
                split = isinstance(loop.elt, ast.BoolOp) and all(level(part) > _AND for part in loop.elt.values)
                return self.inside(loop.elt, _OR if split else _CASES) + reach
            case ast.Call(func=ast.Name(name), args=[ast.GeneratorExp() as loop]):
                return rf"\{name}_{{{self.reach(loop.generators)}}} {self.inside(loop.elt, _PRODUCT)}"
            case ast.Call(func=ast.Name(name), args=arguments):
                return self.call(name, arguments)
            case ast.BoolOp(op=op, values=parts):
                joint, least = (r"\text{ and }", _AND) if isinstance(op, ast.And) else (r"\text{ or }", _OR)
                apart = isinstance(op, ast.And) and any(level(part) == _AND for part in parts)
                return (r",\quad " if apart else joint).join(
                    self.inside(part, least + (not apart)) for part in parts
                )
            case ast.IfExp(test=test, body=body, orelse=orelse):
                first, second = (self.inside(part, _RELATION) for part in (body, orelse))
                return rf"{first}\text{{ where }}{self.inside(test, _OR)}\text{{, else }}{second}"
            case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
                return rf"{self.inside(left, _REDUCTION)}\ne {self.inside(right, _REDUCTION)}"
            case ast.Compare(left=left, ops=ops, comparators=rest):
                tail = (
                    _SIGNS[type(op)] + self.inside(side, _REDUCTION) for op, side in zip(ops, rest, strict=True)
                )
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
                return f"{self.inside(left, _SUM)}{sign}{self.inside(right, _PRODUCT)}"
            case ast.Mult():
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
            case "matrix_rank":
                return rf"\operatorname{{rank}}({parts[0]})"
            case "rollout":
                return rf"({parts[0]}^{{(\#{parts[0]}-1)}}\cdots {parts[0]}^{{(0)}})"
        raise TypeError(f"{name} is not printed")

    def entry(self, node: ast.expr) -> str:
        places: list[str] = []
        while isinstance(node, ast.Subscript):
            places.insert(0, self.show(node.slice))
            node = node.value
        base = self.show(node)
        if len(places) == 3:
            base = f"{base}^{{({places.pop(0)})}}"
        elif "_" in base and not base.endswith(")"):
            base = f"({base})"
        return f"{base}_{{{('' if all(len(place) == 1 for place in places) else ',').join(places)}}}"

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
