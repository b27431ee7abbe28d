"""Certificates that say nothing are refused here: true, and empty. It only refuses, and need not be trusted.

Networks in which attention does nothing, and claims of one's own that would be decided so for any arrays.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from rankmath.checker.intervals import Interval, Rejected, Undecided, compare
from rankmath.checker.kernel import PRECISIONS, Evaluator, formula
from rankmath.checker.network import name_of, spelled
from rankmath.checker.reading import demand, in_time
from rankmath.checker.statements import NETWORK_TELLING


def demand_substance(data: Mapping[str, Any], deadline: float) -> None:
    """Two tokens differ. (More is asked of what holds: `demand_not_empty`.)"""
    demand(data["n"] >= 2, "data.X: one token alone; two are needed")
    first, *others = data["input"]
    sphere = data["layernorm"] == "sphere"
    equal = all(_parallel(first, row, deadline) if sphere else first == row for row in others)
    demand(not equal, "data.X: all tokens are equal: the instance says nothing")


def _parallel(u: list[Fraction], v: list[Fraction], deadline: float) -> bool:
    """Whether two tokens are one on the sphere: v = c u for a c > 0. (Sums of long fractions would take long.)"""
    c = next((y / x for x, y in zip(u, v, strict=True) if x), Fraction(0))
    for x, y in zip(u, v, strict=True):
        in_time(deadline)
        if c * x != y:
            return False
    return c > 0


# Small numbers, and large ones, up to one that no formula can write.
_SMALL = (Fraction(0), Fraction(1, 2**40), Fraction(1, 4))
_LARGE = (Fraction(3, 4), Fraction(1), Fraction(2**40), Interval(1, 1, 2**9, 128), Interval(1, 1, 2**999, 128))
# What joins arrays of the network may be any number; what is known of it for all arrays stands for it.
_JOINING = {"delta", "logit_range", "repeat_gap", "repeat_reach", "section", "normalised_norm", "jacobian_norm"}
_BOUNDED = {
    "influence": "share*jacobian_norm()",
    "gamma": "share*sqrt(n)",
    "q_max": "(1 + share*(n - 1))/n",
    "q_min": "(share + 1/2**50)/(1 + 1/2**49)/n",
    "repeat_share": "(share + 1/2**50)/(1 + 1/2**49)",
}


class _Unknown(ast.NodeTransformer):
    """A claim in which every quantity that joins arrays of the network is a name for any number that it may be."""

    def __init__(self, work: Evaluator) -> None:
        self.names: dict[str, str] = {}
        self.shares: set[str] = set()
        self.work = work

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """X[L] and X[0 + 1] may be one: places are numbers, if no letter of a loop stands in them."""
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return ast.Subscript(node.value, ast.Tuple([self.place(place) for place in places]))

    def place(self, node: ast.expr) -> ast.expr:
        try:
            return ast.Constant(int(self.work.value(node, {})))
        except (Rejected, Undecided):
            in_time(self.work.deadline)
            return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name, word = name_of(node.func), ast.unparse(node.args[-1]) if node.args else ""
        if name == "repeat_gap" and ast.unparse(node.args[0]) == "X[0,]":
            return ast.Constant(0)
        signs = self.work.data["d"] > 6  # of which there are too many
        if name in _JOINING or (name == "form_norm" and word not in (("1", "2") if signs else ("1", "2", "inf"))):
            return self.named(node)
        if name == "residual" and word in ("inf", "composite"):  # which hints would narrow: about 0 it is the norm
            share = self.named(node)
            self.shares.add(share.id)
            return ast.BinOp(share, ast.Mult(), ast.Call(ast.Name("norm"), node.args, []))
        if name in _BOUNDED:
            share = self.named(node)
            self.shares.add(share.id)
            bound: ast.expr = self.visit(_Renamed({"share": share.id}).visit(formula(_BOUNDED[name])))
            return bound
        return node

    def named(self, node: ast.Call) -> ast.Name:
        return ast.Name(self.names.setdefault(ast.dump(node), f"unknown_{len(self.names)}"))


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names[node.id]) if node.id in self.names else node


def _any_network(work: Evaluator, choose: Callable[..., Any], number: Callable[..., int]) -> Evaluator:
    """An evaluator for which tokens, attention and weights are any arrays of their kind."""
    data = work.data
    n, d, layers, heads = (int(data[size]) for size in "ndLH")

    def array(rows: int) -> list[list[Fraction]]:
        center, scale = choose(), choose()
        in_time(work.deadline)
        return [[center + scale * number(-3, 3) for _ in range(d)] for _ in range(rows)]

    def attention() -> list[list[Fraction]]:
        peaks = 10 * number(0, 2)
        in_time(work.deadline)
        rows = [[x * 2 ** (peaks * number(0, 2)) for x in row] for row in data["edges"]]
        return [[x / sum(row) for x in row] for row in rows]

    every, tokens = [range(heads)] * layers, [array(n) for _ in range(layers + 1)]
    drawn = {name: [[array(d) for _ in hs] for hs in every] for name in ("W", "W_QK")}
    drawn["X"] = [
        work.apply("on_sphere", [work.apply("over_columns", [Y]) if l else Y]) for l, Y in enumerate(tokens)
    ]
    drawn["P"] = [[attention() for _ in hs] for hs in every]
    defined = {name: body for name, body in work.defined.items() if name not in ("X", "P")}
    return Evaluator(defined, {**data, **drawn}, work.hints, PRECISIONS[0], work.deadline)


def demand_not_empty(work: Evaluator) -> None:
    """Of a network of which something holds: attention averages what differs, and something is left."""
    for text, why in NETWORK_TELLING.items():
        demand(_shown(text, work), f"data: {why}, as far as is seen: it says nothing")
    left = _shown("any(max(abs(x - X[L][0])) > 0 for x in X[L])", work) or _outlive(work)
    demand(left, "data: a layer leaves no two tokens that differ, as far as is seen: it says nothing")


def _shown(text: str, work: Evaluator) -> bool:
    try:
        return work.truth(formula(text)) is True
    except Undecided:
        return False


def _outlive(work: Evaluator) -> bool:
    """Whether every layer leaves tokens that differ, if those that have come close are drawn apart before the next.

    Where a collapse is real they differ by too little for any number of bits.
    """
    defined = {name: body for name, body in work.defined.items() if name != "X"}
    Y = work.value(formula("X[0]"), {})
    for l in range(int(work.data["L"])):
        for bits in PRECISIONS:
            here = Evaluator(defined, {**work.data, "X": [Y] * (l + 1)}, work.hints, bits, work.deadline)
            try:
                made = {"l": Fraction(l), "Y": here.apply("sent", [Fraction(l)])}
                made["Y"] = here.value(formula("on_sphere(over_columns(mapped(l, Y)))"), made)
            except Undecided:
                continue
            width = here.value(formula("max(max(abs(y - Y[0])) for y in Y)"), made)
            if compare(">", width, Fraction(0)):
                break
        else:
            return False
        made["t"] = Fraction(2) ** -min(0, int(Interval.of(width, bits).size()))
        Y = here.value(formula("[round(middle(mean_of(Y) + t*(y - mean_of(Y)))) for y in Y]"), made)
    return True


def demand_not_known_before(texts: Sequence[str], kind: str, work: Evaluator) -> None:
    """Of a claim, the last text, that no table has: with other arrays it would be decided otherwise.

    One that holds must fail for some, and one that fails must not fail for all; of those that meet the hypotheses,
    where some do.
    """
    unknown, drawn = _Unknown(work), random.Random(0)
    *given, claim = (spelled(unknown.visit(formula(text)), int(work.data["L"])) for text in texts)
    otherwise, met = False, 0
    for k in range(64):  # few quantities that are large, half of them, or most
        few = (1 / 8, 1 / 4, 1 / 2, 3 / 4)[k % 4]

        def choose(large: Sequence[Any] = _LARGE, few: float = few) -> Any:
            return drawn.choice(large if drawn.random() < few else _SMALL)

        env = {name: choose(_LARGE[:2]) if name in unknown.shares else choose() for name in unknown.names.values()}
        try:
            here = _any_network(work, choose, drawn.randint)
        except (Rejected, Undecided):  # no length to divide by
            in_time(work.deadline)
            continue
        meets = all(_truth(text, here, env) for text in given)
        if meets or not otherwise:
            truth = _truth(claim, here, env)
            # That two numbers are equal is seldom seen, and may be where it is not refuted.
            other = truth is False if kind == "holds" else truth or (truth is None and "==" in texts[-1])
            if meets and other:
                return
            otherwise, met = bool(otherwise or other), met + meets
    said = "and its hypotheses alone decide it" if otherwise else "and would be decided so whatever its arrays are"
    asked = {relation for text in texts[:-1] for relation in _relations(formula(text), True)}
    told = _relations(formula(texts[-1]), kind == "holds")
    demand(otherwise and met < 4 and not told <= asked, f"claim: it says nothing of the network, {said}")


_OPPOSITE = {"Lt": "GtE", "GtE": "Lt", "LtE": "Gt", "Gt": "LtE"}


def _relations(node: ast.expr, true: bool) -> set[str]:
    """The relations that a formula joins, as texts, or their opposites; a > b is b < a."""
    if isinstance(node, ast.BoolOp):
        return {text for part in node.values for text in _relations(part, true)}
    if not isinstance(node, ast.Compare) or len(node.ops) > 1:
        return {ast.dump(node)}
    relation, sides = type(node.ops[0]).__name__, [ast.dump(node.left), ast.dump(node.comparators[0])]
    relation = relation if true else _OPPOSITE.get(relation, "")
    return {
        f"{sides[1]} {relation.replace('Gt', 'Lt')} {sides[0]}"
        if "Gt" in relation
        else " ".join((sides[0], relation, sides[1]))
    }


def _truth(tree: ast.expr, work: Evaluator, env: Mapping[str, Any]) -> bool | None:
    """None where it has no value: 1/0, the root of a negative number, and the like."""
    try:
        found: bool | None = work.value(tree, env)
    except (Rejected, Undecided):
        in_time(work.deadline)
        return None
    return found
