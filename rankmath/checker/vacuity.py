"""Certificates that say nothing are refused here: true, and empty. It only refuses, and need not be trusted.

Networks in which attention does nothing, and claims of one's own that would be decided so for any arrays.
"""

from __future__ import annotations

import ast
import functools
import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from rankmath.checker.intervals import Interval, Rejected, Undecided, compare
from rankmath.checker.kernel import PRECISIONS, Evaluator, formula
from rankmath.checker.network import name_of, sides, spelled
from rankmath.checker.reading import demand, in_time
from rankmath.checker.statements import NETWORK_TELLING
from rankmath.definitions.entries import ENTRIES

_EMPTY = "as far as is seen: so this instance would say nothing of the claim"


def demand_substance(data: Mapping[str, Any], kind: str, deadline: float, own: bool = False) -> None:
    """Two tokens differ, and of what holds some W is not 0. (More is asked of that: `demand_not_empty`.)

    A claim that does not exclude one token alone is violated by one where it fails there; one that a file words itself
    (`own`), as a < b, by equal tokens too.
    """
    if data["n"] == 1:
        demand(kind == "violates", "data.X: one token alone; two are needed")
        return
    first, *others = data["input"]
    sphere = data["layernorm"] == "sphere" and data["norm_at"] == "after"
    equal = all(_parallel(first, row, deadline) if sphere else first == row for row in others)
    demand(not equal or (own and kind == "violates"), "data.X: all tokens are equal: the instance says nothing")
    some = any(x for a in _attentions(data["blocks"]) for W in a["value"] for row in W for x in row)
    demand(some or kind != "holds", "data.layers: every W is 0, attention carries nothing: the instance says nothing")


def _attentions(blocks: list[Any]) -> list[dict[str, Any]]:
    return [f for layer in blocks for part in layer for f in part["maps"] if f["kind"] == "attending"]


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
# What joins arrays of the network may be any number; what is known of it for all arrays stands for it, where
# `share` is any number of [0, 1], A the array it is asked of, and w the words behind that.
_RESIDUALS = {
    "inf": "max(diameter(A, 1)/2, share*min(norm(A, inf), diameter(A, 1), sqrt(d)*mu(A)))",
    "composite": "share*min(norm(A, composite), about_mean(A))",  # which hints would narrow
}


class _Unknown(ast.NodeTransformer):
    """A claim in which every quantity that joins arrays of the network is a name for any number that it may be.

    One for each place: of `delta(P[l, h], mean)` the name `unknown_0` stands for all, and unknown_0[l, h] for this.
    """

    def __init__(self, work: Evaluator) -> None:
        self.names: dict[str, str] = {}
        self.sizes: dict[str, list[int]] = {}
        self.shares: set[str] = set()
        self.own: dict[tuple[str, tuple[int, ...]], Any] = {}
        self.work = work

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """X[L] and X[0 + 1] may be one: places are numbers, if no letter of a loop stands in them."""
        return ast.Subscript(node.value, ast.Tuple([self.place(place) for place in _places(node)]))

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
        known = ENTRIES[name].known if name in ENTRIES else ""
        if known == "any" or (name == "form_norm" and word not in (("1", "2") if signs else ("1", "2", "inf"))):
            return self.named(node)
        bound = _RESIDUALS.get(word, "") if known == "residual" else known
        if not bound:
            return node
        share = self.named(node, share=True)
        parts = {"share": share, **dict(zip("Aw", node.args, strict=False))}
        found: ast.expr = self.visit(_Renamed(parts).visit(formula(bound)))
        return found

    def named(self, node: ast.Call, share: bool = False) -> ast.expr:
        array, sizes = (node.args[0] if node.args else None, {letter: int(self.work.data[letter]) for letter in "nLH"})
        places = _places(array) if isinstance(array, ast.Subscript) else [array] if array else []
        kind = name_of(array.value) if isinstance(array, ast.Subscript) else ""
        words = [kind, *(ast.dump(argument) for argument in node.args[1:])]
        name = self.names.setdefault(" ".join([name_of(node.func), *words]), f"unknown_{len(self.names)}")
        reach = [sizes["L"] + 1] if kind == "X" else [sizes["L"], sizes["H"]] if kind else [sizes["n"]]
        self.sizes[name] = reach[: len(places)]
        at = tuple(int(str(place.value)) for place in places if isinstance(place, ast.Constant))
        if share:
            self.shares.add(name)
        elif len(at) == len(places):
            value = f"middle({ast.unparse(spelled(node, sizes['L']))})"
            try:
                self.own[name, at] = self.work.value(formula(value), {})
            except (Rejected, Undecided):  # a part that decided nothing, or a number too small to be written
                in_time(self.work.deadline)
        whole: ast.expr = ast.Name(name)
        return ast.Subscript(whole, ast.Tuple(places)) if places else whole

    def drawn(self, choose: Callable[..., Any], lucky: Callable[[], bool], kept: Callable[[str], bool]) -> Any:
        """A number for every name and place, the same at all places or not; some are those of the network."""

        def table(name: str, once: Any, at: tuple[int, ...]) -> Any:
            if len(at) < len(self.sizes[name]):
                return [table(name, once, (*at, place)) for place in range(self.sizes[name][len(at)])]
            in_time(self.work.deadline)
            own = (name, at) in self.own and kept(name)
            return self.own[name, at] if own else number(name) if once is None else once

        def number(name: str) -> Any:
            return choose(_LARGE[:2]) if name in self.shares else choose()

        return {name: table(name, number(name) if lucky() else None, ()) for name in self.sizes}


def _places(node: ast.Subscript) -> list[ast.expr]:
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def _label(node: ast.Subscript) -> str:
    """X[1] and P[0, 0] as they are written; X[ and P[ where letters stand in their places."""
    fixed = all(isinstance(place, ast.Constant) for place in _places(node))
    return f"{name_of(node.value)}[" + (", ".join(map(ast.unparse, _places(node))) + "]" if fixed else "")


class _Renamed(ast.NodeTransformer):
    def __init__(self, terms: Mapping[str, ast.expr]) -> None:
        self.terms = terms

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.terms.get(node.id, node)


def _own(work: Evaluator, array: str) -> list[list[Fraction]] | None:
    """An array of the network in fractions, if they are not too long."""
    found = work.value(formula(f"[[middle(x) for x in row] for row in {array}]"), {})
    return found if all(type(x) is Fraction for row in found for x in row) else None


def _any_network(
    work: Evaluator,
    choose: Callable[..., Any],
    drawn: random.Random,
    own: Callable[[str], tuple[Any, bool]],
    least: Fraction,
) -> Evaluator:
    """An evaluator for which tokens, attention and weights are any arrays of their kind, or as `own` says.

    That is one of the network or None, and whether it is to stay as it is. Entries differ by `least` at least.
    """
    data, number = work.data, drawn.randint
    n, d, layers, heads = (int(data[size]) for size in "ndLH")

    def array(name: str, rows: int) -> list[list[Fraction]]:
        (about, kept), center, scale = own(name), choose(), choose() or least
        in_time(work.deadline)
        if about is None:
            return [[center + scale * (number(-3, 3) + 7 * (i == j == 0)) for j in range(d)] for i in range(rows)]
        scale = max(abs(x) for row in about for x in row) * drawn.choice([Fraction(0), Fraction(1, 64)])
        factor, scale = (Fraction(1), 0) if kept else (drawn.choice([Fraction(1), Fraction(number(1, 64), 8)]), scale)
        return [[factor * x + scale * number(-3, 3) for x in row] for row in about]

    def attention(name: str) -> list[list[Fraction]]:
        peaks = 10 * number(0, 2)
        in_time(work.deadline)
        rows = [[x * 2 ** (peaks * number(0, 2)) for x in row] for row in _attentions(data["blocks"])[0]["mask"]]
        return [[x / sum(row) for x in row] for row in own(name)[0] or rows]

    every = [[f"[{l}, {h}]" for h in range(heads)] for l in range(layers)]
    tokens = [array(f"X[{l}]", n) for l in range(layers + 1)]
    arrays = {name: [[array(name + at, d) for at in hs] for hs in every] for name in ("W", "W_QK")}
    arrays["X"] = [
        work.apply("normed", [data["blocks"][l - 1][-1]["after"], Y]) if l else work.apply("entered", [Y])
        for l, Y in enumerate(tokens)
    ]
    arrays |= {name: [[attention(name + at) for at in hs] for hs in every] for name in ("P", "P0")}
    return _with(work, PRECISIONS[0], **arrays)


def demand_not_empty(claim: str, work: Evaluator) -> None:
    """Of a network of which something holds: attention averages what differs, and something is left.

    Of a claim that speaks of tokens alone, up to the last layer that it speaks of.
    """
    named = [node for node in ast.walk(_Unknown(work).visit(formula(claim))) if isinstance(node, ast.Subscript)]
    places = [_places(node)[0] for node in named]
    layers = {int(str(place.value)) for place in places if isinstance(place, ast.Constant)}
    every = all(isinstance(place, ast.Constant) for place in places)
    if {name_of(node.value) for node in named} == {"X"} and every and layers != {0}:
        work = _with(work, work.bits, L=Fraction(max(layers)))
        moved = len(layers - {0}) > 1 or work.data.get("skip") == 0 or _moved(work)
        demand(moved, f"data: these tokens would be the same without attention, {_EMPTY}")
    for text, why in NETWORK_TELLING.items():
        demand(_shown(text, work), f"data: {why}, {_EMPTY}")
    left = _shown("any(max(abs(x - X[L][0])) > 0 for x in X[L])", work) or _outlive(work)
    demand(left, f"data: a layer leaves no two tokens that differ, {_EMPTY}")


def _with(work: Evaluator, bits: int, **data: Any) -> Evaluator:
    """The same with these data, also in place of what is defined."""
    defined = {name: body for name, body in work.defined.items() if name not in data}
    return Evaluator(defined, {**work.data, **data}, work.hints, bits, work.deadline)


def _moved(work: Evaluator) -> bool:
    """Whether the last tokens are others than without attention, where that has a meaning."""

    def idle(f: dict[str, Any]) -> dict[str, Any]:
        values = [[[Fraction(0) for _ in row] for row in V] for V in f["value"]] if f["kind"] == "attending" else []
        return {**f, "value": values} if values else f

    blocks = [[{**part, "maps": [*map(idle, part["maps"])]} for part in layer] for layer in work.data["blocks"]]
    try:
        Y = _with(work, work.bits, blocks=blocks).value(formula("X[L]"), {})
    except (Rejected, Undecided):
        in_time(work.deadline)
        return True
    return work.value(formula("any(max(abs(x)) > 0 for x in X[L] - Y)"), {"Y": Y}) is True


def _shown(text: str, work: Evaluator) -> bool:
    try:
        return work.truth(formula(text)) is True
    except Undecided:
        return False


def _outlive(work: Evaluator) -> bool:
    """Whether every layer leaves tokens that differ, if those that have come close are drawn apart before the next.

    Where a collapse is real they differ by too little for any number of bits.
    """
    Y = work.value(formula("X[0]"), {})
    for l in range(int(work.data["L"])):
        for bits in PRECISIONS:
            here = _with(work, bits, X=[Y] * (l + 1))
            try:
                made = {"l": Fraction(l)}
                made["Y"] = here.value(formula("stage[l, len(blocks[l])]"), made)
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


def demand_of_the_network(claim: str) -> None:
    """Of a claim that fails: it speaks of arrays, for numbers alone are refuted by no network."""
    named = any(isinstance(node, ast.Name) and node.id in ENTRIES for node in ast.walk(formula(claim)))
    demand(named, "claim: it says nothing of the network: it speaks of none of its arrays")


def demand_not_known_before(texts: Sequence[str], work: Evaluator) -> None:
    """Of a claim that holds, the last text, that no table has: it would fail for some other arrays.

    Of those that meet the hypotheses, where some do.
    """
    unknown, drawn, own = _Unknown(work), random.Random(0), functools.cache(functools.partial(_own, work))
    *given, claim = (spelled(unknown.visit(formula(text)), int(work.data["L"])) for text in texts)
    named = [_label(node) for node in ast.walk(claim) if isinstance(node, ast.Subscript)]
    named = [*named, *unknown.sizes] or ["X[", "P[", "W"]
    # Tokens that are equal tell x > 0 from nothing, and of x < 2*x they tell nothing.
    least = _SMALL[0] if any(map(_bare, sides(formula(texts[-1])))) else _SMALL[1]
    otherwise, met, few, k, changed = False, 0, 0.0, 0, ""

    def choose(large: Sequence[Any] = _LARGE) -> Any:
        return drawn.choice(large if drawn.random() < few else _SMALL)

    def lucky() -> bool:
        return drawn.random() < 1 / 2

    def kept(name: str) -> bool:
        return k >= 128 and not name.startswith(changed)

    def staying(name: str) -> bool:
        return kept(name) or (k < 128 and lucky())

    def near(array: str) -> tuple[Any, bool]:
        return own(array) if kept(array) or (k >= 64 and lucky()) else None, kept(array)

    # Few quantities that are large, half of them, or most; then some near the network's, then all but one its own.
    for k in range(192):
        few, changed = (1 / 8, 1 / 4, 1 / 2, 3 / 4)[k % 4], drawn.choice(named)
        env = unknown.drawn(choose, lucky, staying)
        try:
            here = _any_network(work, choose, drawn, near, least)
        except (Rejected, Undecided):  # no length to divide by
            in_time(work.deadline)
            continue
        meets = all(_truth(text, here, env) for text in given)
        if meets or not otherwise:
            other = _truth(claim, here, env) is False
            if meets and other:
                return
            otherwise, met = otherwise or other, met + meets
            if met >= 64:
                break
    tried = "no arrays of these sizes that were tried decide it otherwise"
    said = "its hypotheses alone decide it" if otherwise else tried
    asked = {relation for text in texts[:-1] for relation in _relations(formula(text))}
    told = _relations(formula(texts[-1]))
    demand(otherwise and met < 4 and not told <= asked, f"claim: it may say nothing of the network: {said}")


def _bare(side: ast.expr) -> bool:
    return not any(isinstance(node, (ast.Subscript, ast.Call)) for node in ast.walk(side))


def _relations(node: ast.expr) -> set[str]:
    """The relations that a formula joins, as texts; a > b is b < a."""
    if isinstance(node, ast.BoolOp):
        return {text for part in node.values for text in _relations(part)}
    if not isinstance(node, ast.Compare) or len(node.ops) > 1:
        return {ast.dump(node)}
    relation, sides = type(node.ops[0]).__name__, [ast.dump(node.left), ast.dump(node.comparators[0])]
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
