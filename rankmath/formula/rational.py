"""A definition over rational numbers as a Python function, made of its text: nobody writes it a second time.

Only definitions of a file of claims come here, never the text of a certificate or of a person's line.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, reduce
from operator import mul
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat


def divided(a: fmpq | int, b: fmpq | int) -> fmpq:
    return fmpq(a) / b


def raised(a: fmpq | int, b: fmpq | int) -> fmpq:
    if isinstance(b, fmpq) and b.q != 1:
        raise ArithmeticError(f"{a} to the power {b} is not rational")
    return fmpq(a) ** int(b)


def at(rows: list[Any], place: int) -> Any:
    if place < 0:
        raise IndexError(f"there is no place {place}")  # Python would count from the end
    return rows[place]


def _product(A: list[Any], B: list[Any]) -> list[Any]:
    """Of matrices; a vector is a column on the right."""
    if isinstance(B[0], list):
        return _matrix(A, B)
    return [row[0] for row in _matrix(A, [[x] for x in B])]


def _matrix(*factors: list[Any]) -> list[Any]:
    return reduce(mul, map(fmpq_mat, factors)).tolist()


def real_eigenvalues(M: fmpq_mat, *, positive: bool) -> int:
    """How many: different and positive ones, or real ones with their multiplicities."""
    roots: Any = M.charpoly().numer().complex_roots()
    real = [(root.real, count) for root, count in roots if root.imag.is_zero()]
    return sum(x > 0 for x, _ in real) if positive else sum(count for _, count in real)


#: Algebra that a text leaves to its reader.
_ALGEBRA: dict[str, Callable[..., Any]] = {
    "@": _product,
    "T": lambda M: [list(column) for column in zip(*M, strict=True)],
    "identity": lambda n: [[fmpq(i == j) for j in range(int(n))] for i in range(int(n))],
    "mpower": lambda M, k: (fmpq_mat(M) ** max(0, int(k))).tolist(),
    "chain": lambda matrices: _matrix(*matrices),
    "rollout": lambda layers: _matrix(*reversed(layers)),
    "solve": lambda M, b: [row[0] for row in fmpq_mat(M).solve(fmpq_mat([[x] for x in b])).tolist()],
    "matrix_rank": lambda M: fmpq_mat(M).rank(),
    "real_eigenvalues": lambda M: real_eigenvalues(fmpq_mat(M), positive=False),
    "positive_eigenvalues": lambda M: real_eigenvalues(fmpq_mat(M), positive=True),
}
_PLAIN: dict[str, Any] = {
    **{f.__name__: f for f in (abs, all, any, at, divided, len, max, min, raised, sum)},
    "prod": math.prod,
    "range": lambda *ends: range(*map(int, ends)),
}


class _Rational(ast.NodeTransformer):
    """Quotients and powers are fractions, places are not negative; algebra is asked of `own`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        sides: list[ast.expr] = [node.left, node.right]
        match node.op:
            case ast.Div():
                return ast.Call(ast.Name("divided", ast.Load()), sides, [])
            case ast.Pow():
                return ast.Call(ast.Name("raised", ast.Load()), sides, [])
            case ast.MatMult():
                return ast.Call(ast.Name("own", ast.Load()), [ast.Constant("@"), *sides], [])
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Name | ast.Constant):
            return node
        return ast.Call(ast.Name("at", ast.Load()), [node.value, node.slice], [])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        assert isinstance(node.func, ast.Name)
        if node.func.id in _PLAIN:
            return node
        return ast.Call(ast.Name("own", ast.Load()), [ast.Constant(node.func.id), *node.args], [])


class Own:
    """What a text leaves to its reader; what was worked out once for the same arrays is not worked out again."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Any, tuple[Any, ...]]] = {}

    def __call__(self, name: str, *values: Any) -> Any:
        key = (name, *(id(value) if isinstance(value, list | np.ndarray) else value for value in values))
        if key not in self._known:
            self._known[key] = (_ALGEBRA[name](*values), values)
        return self._known[key][0]


@lru_cache(maxsize=1024)
def function(text: str, names: tuple[str, ...]) -> Callable[..., Any]:
    """The definition as a function of `own`, n and its arguments: rational numbers, or lists of them or of lists.

    >>> function("v[0]/sum(v[i] for i in range(len(v)))", ("v",))(Own(), None, rational([1, 0.5]))
    2/3
    """
    *lines, last = ast.parse(text.strip()).body
    assert isinstance(last, ast.Expr)
    made = ast.parse(f"def defined({', '.join(dict.fromkeys(('own', 'n', *names)))}): pass")
    assert isinstance(made.body[0], ast.FunctionDef)
    made.body[0].body = [_Rational().visit(line) for line in (*lines, ast.Return(last.value))]
    found: dict[str, Any] = {"__builtins__": {}, **_PLAIN}
    exec(compile(ast.fix_missing_locations(made), "<definition>", "exec"), found)
    defined: Callable[..., Any] = found["defined"]
    return defined


@lru_cache(maxsize=1024)
def is_rational(text: str) -> bool:
    """Whether the text is about rational numbers: no roots, exponentials and the like."""
    called = (node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return all(getattr(name, "id", "") in (*_PLAIN, *_ALGEBRA) for name in called)


def rational(value: Any) -> Any:
    """A number, or numbers in lists, as the rational numbers that they are."""
    return [rational(x) for x in value] if isinstance(value, list) else fmpq(*map(int, value.as_integer_ratio()))


def fraction(value: fmpq | int) -> Fraction:
    """The other way."""
    return Fraction(int(value.p), int(value.q)) if isinstance(value, fmpq) else Fraction(value)
