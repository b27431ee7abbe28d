"""The search for a derivation.

Most quantities are non-negative and most facts are products of powers, so in logarithms they are linear: a linear
program finds which lemmas, to which powers, give the claim. Sums are shared out term by term by a second program;
maxima by cases; folds over heads by facts that hold for every head; all layers from one. Nothing here is trusted:
every step is handed to the rules of `rankmath.checker.derivation`.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from typing import Any, NamedTuple

from rankmath.checker.boxes import MOST_VARIABLES, constant_bounds
from rankmath.checker.derivation import (
    FIRST_LAYER,
    WHOLE_NETWORK,
    Derivation,
    Line,
    line_key,
    one_layer,
    oriented,
    single_relations,
)
from rankmath.checker.intervals import Rejected, Undecided
from rankmath.checker.lemmas import lemma_table, usable_statements
from rankmath.checker.monomials import (
    INDEX_ENDS,
    ONE,
    Atom,
    Base,
    Frozen,
    Mono,
    Poly,
    Tree,
    as_product,
    at_time,
    atoms_in,
    compared_to_one,
    expanded,
    folded,
    freeze,
    nodes,
    normal,
    of_atom,
    placed,
    plus,
    poly_text,
    power_of,
    product_of,
    raised,
    rational,
    read_tree,
    rebuilt,
    times,
)
from rankmath.checker.network_claims import NETWORK_CLAIMS
from rankmath.decide.prover.programs import combination, shares


@lru_cache(maxsize=1)
def growing() -> frozenset[str]:
    """Functions that grow, by the lemma that says so: its claim is f(x) <= f(y).

    >>> sorted(growing())
    ['exp', 'expc', 'log', 'tanh']
    """
    found = (re.fullmatch(r"(\w+)\(x\) <= \1\(y\)", lemma.text) for lemma in lemma_table().values())
    return frozenset(match[1] for match in found if match is not None)


class Places(NamedTuple):
    """Times, layers and heads, as texts, and the arrays that facts may speak of (None: all)."""

    times: tuple[str, ...]
    layers: tuple[str, ...]
    heads: tuple[str, ...]
    arrays: frozenset[str] | None = None


_VARIABLES = frozenset("xyzfg")
_DEEPEST = 3
#: What a strict fact is taken to be better by where the goal is strict, in logarithms.
_MARGIN = 1e-4
#: A side times this is too small, so that the least constant is found, also one below 1.
SMALL = Fraction(1, 10**6)
#: How long a line by a registered statement counts, where one by a lemma counts 1.
_LONG = 40.0
#: Sizes of tokens that are carried through all layers.
_SIZES = (
    "diameter(X[L], 1)",
    "diameter(X[L], 2)",
    "diameter(X[L], inf)",
    "mu(X[L])",
    "residual(X[L], inf)",
    "residual(X[L], one)",
    "residual(X[L], composite)",
    "longest(X[L])",
    "norm(X[L], inf)",
    "norm(X[L], max)",
    "norm(X[L], frobenius)",
)


def _log(value: Fraction) -> float:
    """log of a positive fraction of any size."""
    return math.log(value.numerator) - math.log(value.denominator)


class OutOfTime(Exception):
    """The time allowed is used up."""


@dataclass(eq=False)
class FoundLine:
    """A line and how it follows; `of` are earlier steps with their powers or weights."""

    line: Line
    by: str
    name: str = ""
    at: dict[str, str] = field(default_factory=dict)
    of: list[tuple[FoundLine, Fraction | str]] = field(default_factory=list)
    how: str = ""
    body: str = ""
    needs: list[FoundLine] = field(default_factory=list)  # lines that its hypotheses or signs rest on

    def __post_init__(self) -> None:
        self._vector: tuple[dict[Atom, Fraction], float] | None = None
        (self.lc, self.left), (self.rc, self.right) = as_product(self.line.left), as_product(self.line.right)
        self.atoms = {base for table in (self.left, self.right) for base in table if isinstance(base, Atom)}

    @property
    def usable(self) -> bool:
        return self.lc > 0 and self.rc > 0

    @property
    def vector(self) -> tuple[dict[Atom, Fraction], float]:
        """Exponents of left/right, and the logarithm of the constant that it is at most."""
        if self._vector is None:
            out: dict[Atom, Fraction] = {}
            constant = _log(self.rc) - _log(self.lc)
            for table, sign in ((self.left, 1), (self.right, -1)):
                for base, e in table.items():
                    if isinstance(base, int):
                        constant -= sign * float(e) * math.log(base)
                    else:
                        out[base] = out.get(base, Fraction(0)) + sign * e
            self._vector = {base: e for base, e in out.items() if e}, constant
        return self._vector


def _constant(pairs: Iterable[tuple[Fraction | int, Fraction]]) -> Poly:
    out = rational(1)
    for c, e in pairs:
        out = times(out, raised(rational(c), e))
    return out


def _inside(atom: Atom, found: set[Atom]) -> None:
    """Atoms in the arguments of an atom."""
    if atom.kind in ("letter", "quantity"):
        return
    for part in atom.args:
        for mono, _ in part:
            for base, _ in mono:
                if isinstance(base, Atom) and base not in found:
                    found.add(base)
                    _inside(base, found)


def _splitted(poly: Poly) -> tuple[Poly, Poly]:
    return {m: c for m, c in poly.items() if c > 0}, {m: -c for m, c in poly.items() if c < 0}


class Search:
    """The search for one claim: what is assumed, which facts there are, what was proved on the way."""

    def __init__(
        self,
        claim: str,
        given: Sequence[str],
        *,
        key: str = "",
        seconds: float = 10.0,
        without: Iterable[str] = (),
        statements: bool = True,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.work = Derivation(claim, given, key)
        self.key, self.without, self.statements = key, frozenset(without), statements
        self.until, self.stop, self._looked = time.thread_time() + seconds, stop, 0.0
        self.signs: list[FoundLine] = []
        self.memory: dict[tuple[Frozen, Frozen, bool], FoundLine | None] = {}
        self.trying: set[tuple[Frozen, Frozen]] = set()
        self.unsettled: dict[tuple[Frozen, Frozen], int] = {}
        self.failed: dict[tuple[Frozen, Frozen], int] = {}  # with how many signs known
        self.instances: dict[tuple[str, tuple[tuple[str, str], ...]], list[FoundLine]] = {}
        self.pools: dict[Places, list[FoundLine]] = {}
        self.plain_pools: dict[Places, list[FoundLine]] = {}
        self._assumed = [side for line in self.work.hypotheses for side in (line.left, line.right)]

    def _in_time(self) -> None:
        now = time.perf_counter()
        if now - self._looked < 0.02:  # asking for the thread's time is slow on some systems
            return
        self._looked = now
        if time.thread_time() > self.until or self.stop():
            raise OutOfTime

    # -- places

    def places(self, polys: Iterable[Poly]) -> Places:
        """Times, layers and heads that occur, as texts."""
        times_, layers, heads = set(), set(), set()
        polys = list(polys)
        for poly in [*polys, *self._assumed]:
            for kind, places in _items(poly):
                if kind == "X":
                    times_.add(places[0])
                else:
                    layers.add(places[0])
                    heads.add(places[1] if len(places) > 1 else "0")
        # Other heads than those named matter where a layer's output does.
        folds = any(x.kind == "fold" and x.name[-1] == "h" for poly in polys for x in atoms_in(poly))
        every_head = not times_ <= {"0"} or folds or "h" in heads
        whole = [int(t) for t in (times_ or {"0"}) if t.isdigit()]
        times_ |= {str(t) for t in whole}
        layers |= {str(t) for t in range(min(whole), max(whole))} if whole else set()
        for layer in [x for x in layers if x.isdigit()]:
            times_ |= {layer, str(int(layer) + 1)} if int(layer) < self.work.layers else set()
        if "L" in times_ and "L" not in self.work.fixed:
            layers.add("l")
        if layers & {"l"} or times_ & {"l", "1 + l"}:
            layers.add("l")
            times_ |= {"l", "1 + l"}
        if "H" in self.work.fixed:
            heads = {str(i) for i in range(min(int(self.work.fixed["H"]), 4))}
        elif every_head or not heads:
            heads.add("h")
        arrays = self._arrays(polys)
        if arrays == frozenset("X"):
            times_ = {place for poly in (*polys, *self._assumed) for _, (place, *_) in _items(poly)}
        kept = tuple(sorted(t for t in times_ if not t.isdigit() or int(t) <= self.work.layers))
        return Places(kept, tuple(sorted(layers)), tuple(sorted(heads)), arrays)

    def _arrays(self, polys: Sequence[Poly]) -> frozenset[str] | None:
        """The arrays that a proof speaks of: where there is one alone, at one time, no other array bounds it."""
        polys = [*polys, *self._assumed]
        quantities = [x for poly in polys for x in atoms_in(poly) if x.kind == "quantity"]
        found = {item for x in quantities for item in _items_of(x)}
        kinds = frozenset(kind for kind, _ in found)
        apart = len(found) <= 1 or "X" not in kinds
        return kinds if apart and all(map(_items_of, quantities)) else None

    # -- facts

    def facts(self, where: Places) -> list[FoundLine]:
        """Lemmas, registered statements and hypotheses at these places."""
        if where in self.pools:
            return self.pools[where]
        times_, layers, heads, arrays = where
        found: list[FoundLine] = []
        self.pools[where] = found
        for line in self.work.hypotheses:
            found += self._hypothesis_at(line, layers, heads)
        for name, entry in lemma_table().items():
            free, spoken = _letters_and_arrays(entry.text)
            if free & _VARIABLES or name in self.without or not entry.coq:
                continue
            if arrays is not None and not spoken <= arrays:
                continue
            places = {"t": times_, "l": layers, "h": heads}
            if "k" in free and self.work.window is not None:
                places["k"] = (poly_text(self.work.window),)
            ranges = [(x, places[x]) for x in places if x in free]
            for values in product(*(r for _, r in ranges)):
                found += self.lemma(name, {str(x): v for (x, _), v in zip(ranges, values, strict=True)})
        later: list[tuple[str, dict[str, str]]] = []
        for key in usable_statements() if self.statements and arrays is None else ():
            if key in self.without or key == self.key:
                continue
            for at in self._statement_places(key, times_, layers):
                steps = self._statement(key, at)
                if steps is None:
                    later.append((key, at))
                else:
                    found += steps
        for key, at in later:
            found += self._statement(key, at, prove=True) or []
        return found

    def products(self, where: Places) -> list[FoundLine]:
        """The facts both of whose sides are positive products."""
        return [step for step in self.facts(where) if step.usable]

    def _hypothesis_at(self, line: Line, layers: Sequence[str], heads: Sequence[str]) -> Iterator[FoundLine]:
        base = FoundLine(self._moved(line), "hypothesis")
        yield base
        letters = {
            x for side in (line.left, line.right) for m in side for b, _ in m if isinstance(b, Atom) for x in b.letters
        }
        ranges = [(x, r) for x, r in (("l", layers), ("h", heads)) if x in letters]
        for values in product(*(r for _, r in ranges)) if ranges else ():
            at = {x: v for (x, _), v in zip(ranges, values, strict=True) if v != x}
            if at:
                made = self._put(base, at)
                if made is not None:
                    yield made

    def _put(self, step: FoundLine, at: dict[str, str]) -> FoundLine | None:
        left, right = step.line.left, step.line.right
        for index, value in at.items():
            place = normal(read_tree(value), self.work.fixed)
            left, right = placed(left, index, place), placed(right, index, place)
        return self._checked(FoundLine(Line(left, right, step.line.strict), "put", at=at, of=[(step, "")]))

    def _moved(self, line: Line) -> Line:
        """The line with its negative terms on the other side, where a side is no positive product."""
        for side in (line.left, line.right):
            if not side or as_product(side)[0] <= 0:
                pos, neg = _splitted(expanded(plus(line.right, line.left, -1)))
                return Line(neg, pos, line.strict)
        return line

    def lemma(self, name: str, at: dict[str, str], needs: Sequence[FoundLine] = ()) -> list[FoundLine]:
        """The lines that a lemma gives at a place, where its hypotheses hold."""
        key = name, tuple(sorted(at.items()))
        if key in self.instances:
            return self.instances[key]
        self._in_time()
        out: list[FoundLine] = []
        entry = lemma_table()[name]
        if name in self.without or not entry.coq:  # what Coq has not proved is not used
            return out
        try:
            self.work.demand_meant(name, [entry.text, *entry.given])
            for text in entry.given:
                self.work._demand_met(self.work.instance(text, at), name)
            for relation in single_relations(self.work.instance(entry.text, at)):
                for line in oriented(relation, self.work.fixed):
                    if line.left != line.right:
                        out.append(FoundLine(self._moved(line), "lemma", name, at, needs=list(needs)))
        except Rejected:
            pass
        self.instances[key] = out
        return out

    def _statement_places(self, key: str, times_: Sequence[str], layers: Sequence[str]) -> Iterator[dict[str, str]]:
        trees = [read_tree(text) for text in (NETWORK_CLAIMS[key][1], *NETWORK_CLAIMS[key][2])]
        used = {node[1] for tree in trees for node in nodes(tree) if node[0] in ("call", "let")}
        for layer in layers:
            if used & (WHOLE_NETWORK | {"K"}) and not (self.work.fixed.get("L") == 1 and layer == "0"):
                continue
            if used & FIRST_LAYER and layer != "0":
                continue
            yield {"layer": layer}
        if "L" in times_ or "L" in self.work.fixed:
            yield {}

    def _statement(self, key: str, at: dict[str, str], *, prove: bool = False) -> list[FoundLine] | None:
        """The lines of a registered statement at a place; None where a hypothesis is to be proved first."""
        self._in_time()
        _, text, hypotheses = NETWORK_CLAIMS[key]
        fixed, trees = self.work.fixed, [read_tree(part) for part in (text, *hypotheses)]
        if "layer" in at:
            trees = [one_layer(tree, read_tree(at["layer"])) for tree in trees]
            fixed = {**fixed, "L": Fraction(1)}
        needs: list[FoundLine] = []
        try:
            self.work.demand_meant(key, hypotheses)
        except Rejected:
            return []
        for tree in trees[1:]:
            try:
                self.work._demand_met(tree, key, fixed)
            except Rejected:
                numeric = tree[0] in ("rel", "all") and not (tree[0] == "rel" and tree[2][0] == "let")
                if not numeric:
                    return []
                if not prove:
                    return None
                for relation in single_relations(tree):
                    try:
                        wanted = oriented(relation, fixed)
                    except Rejected:
                        return []
                    for line in wanted:
                        if line.strict:
                            return []
                        step = self.le(line.left, line.right, 2)
                        if step is None:
                            return []
                        self.learn(step)
                        needs.append(step)
        out = []
        for relation in single_relations(trees[0]):
            try:
                for line in oriented(relation, fixed):
                    out.append(FoundLine(self._moved(line), "statement", key, at, needs=list(needs)))
            except Rejected:
                continue
        return out

    def _checked(self, step: FoundLine) -> FoundLine | None:
        """The step, where the checker's rule accepts it."""
        self._in_time()
        work, line = self.work, step.line
        try:
            match step.by:
                case "lemma":
                    work.lemma(line, step.name, step.at)
                case "statement":
                    work.statement(line, step.name, step.at)
                case "product":
                    work.product(line, [(s.line, Fraction(w)) for s, w in step.of])
                case "sum":
                    work.sum(line, [(s.line, normal(read_tree(str(w)), work.fixed)) for s, w in step.of])
                case "fold":
                    work.fold(line, step.of[0][0].line, step.name)
                case "put":
                    work.put(line, step.of[0][0].line, step.at)
                case "term":
                    index = step.name[-1]
                    work.term(line, step.name, normal(read_tree(step.body), work.fixed), step.at[index])
                case "power":
                    work.power(line, step.of[0][0].line, normal(read_tree(step.how), work.fixed))
                case "cases":
                    work.cases(line, normal(read_tree(step.name), work.fixed), [s.line for s, _ in step.of])
                case "box":
                    work.box(line, [s.line for s, _ in step.of])
                case "layers":
                    work.layers_rule(line, step.of[0][0].line, step.how)
        except Rejected:
            return None
        return step

    def learn(self, step: FoundLine) -> None:
        """Keep a line for signs and hypotheses."""
        key = line_key(step.line.left, step.line.right)
        if key not in self.work.known or (step.line.strict and not self.work.known[key]):
            self.work._learn(step.line)
            self.signs.append(step)

    # -- signs

    def settle_signs(self, atoms: Iterable[Base]) -> None:
        """Prove that sums with negative terms are not negative, where that is needed."""
        for atom in atoms:
            if not isinstance(atom, Atom):
                continue
            if atom.kind not in ("letter", "quantity") and not self.work.nonnegative(atom):
                inner: set[Atom] = set()
                _inside(atom, inner)
                self.settle_signs(x for x in inner if x.kind == "sum")
            if atom.kind == "sum" and not self.work.nonnegative(atom):
                pos, neg = _splitted(dict(atom.args[0]))
                key = freeze(neg), freeze(pos)
                if neg and key not in self.trying and self.unsettled.get(key) != len(self.signs):
                    step = self.le(neg, pos, 2)
                    if step is not None:
                        self.learn(step)
                    else:
                        self.unsettled[key] = len(self.signs)

    def settle_meaning(self) -> None:
        """Prove that what the claim divides by is positive, and what it takes roots of not negative."""
        for node in nodes(self.work.claim):
            if node[0] == "**":
                self.settle_signs(as_product(normal(node[2], self.work.fixed))[1])
        for base, positive in list(self.work.parts_with_meaning()):
            self.settle_signs([base])
            if positive and isinstance(base, Atom) and base.kind == "quantity":
                self._settle_positive(base)
            if positive and isinstance(base, Atom) and base.kind == "sum" and not self.work.positive(base):
                pos, neg = _splitted(dict(base.args[0]))
                step = self.goal(Line(neg, pos, True)) if neg else None
                if step is not None:
                    self.learn(step)

    def _settle_positive(self, atom: Atom) -> None:
        """Learn the lemma that says that a quantity is positive, if there is one."""
        me = of_atom(atom)
        times_, layers, heads, _ = self.places([me])
        for name, entry in lemma_table().items():
            if entry.text.startswith("0 < ") and entry.text[4:].partition("(")[0] == atom.name:
                free = _letters_and_arrays(entry.text)[0]
                places = {x: values for x, values in (("t", times_), ("l", layers), ("h", heads)) if x in free}
                for values in product(*places.values()):
                    for step in self.lemma(name, dict(zip(places, values, strict=True))):
                        if step.line.right == me:
                            self.learn(step)
                            return

    # -- facts from what an atom is

    def structure(self, atoms: Iterable[Atom], layers: Sequence[str], heads: Sequence[str]) -> list[FoundLine]:
        out: list[FoundLine] = []
        seen: set[Atom] = set()
        todo = list(atoms)
        while todo and len(seen) < 300:
            atom = todo.pop()
            if atom in seen:
                continue
            seen.add(atom)
            new = [step for step in self._about(atom, layers, heads) if step.usable]
            out += new
            todo += [x for step in new for x in step.atoms if x.kind not in ("letter", "quantity")]
        return out

    def _about(self, atom: Atom, layers: Sequence[str], heads: Sequence[str]) -> Iterator[FoundLine]:
        me = of_atom(atom)
        if atom.kind == "function":
            u = dict(atom.args[0])
            self.settle_signs([atom])
            names = {
                "tanh": ("tanh-one", "tanh-id"),
                "tanhc": ("tanhc-one", "tanhc"),
                "exp": ("exp-one", "exp-e", "exp-line"),
                "expc": ("expc-one", "expc-exp"),
                "log": ("log-line", "log-one", "log-e"),
                "floor": ("floor-high",),
                "abs": ("abs-high", "abs-minus", "abs-id", "abs-neg"),
            }[atom.name]
            for name in names:
                yield from self.lemma(name, {"x": poly_text(u)})
            yield from self._numbers(atom)
            if atom.name == "log":
                yield from self.lemma("log-e", {"x": f"sqrt({poly_text(u)})"})
            if atom.name == "exp":
                yield from self.lemma("exp-line", {"x": f"-({poly_text(u)})"})
        elif atom.kind in ("max", "min") and len(atom.args) <= 3:
            for order in permutations(atom.args):
                if order[1:] == tuple(sorted(order[1:], key=lambda p: poly_text(dict(p)))):
                    name = f"{atom.kind}-member" + ("-3" if len(order) == 3 else "")
                    yield from self.lemma(name, {x: poly_text(dict(p)) for x, p in zip("xyz", order, strict=False)})
        elif atom.kind == "fold" and atom.name == "prod_l":  # each factor is at most the largest
            body = dict(atom.args[0])
            most = folded("max_l", body)
            term = FoundLine(Line(body, most), "term", "max_l", {"l": "l"}, body=poly_text(body))
            if self._checked(term) is not None:
                step = FoundLine(Line(me, folded("prod_l", most)), "fold", "prod_l", of=[(term, "")])
                if self._checked(step) is not None:
                    yield step
        elif atom.kind == "fold" and not atom.name.startswith("prod"):
            kind, _, index = atom.name.partition("_")
            body = dict(atom.args[0])
            for value in {"l": layers, "h": heads}.get(index, ()):
                one = placed(body, index, normal(read_tree(value), self.work.fixed))
                left, right = (me, one) if kind == "min" else (one, me)
                step = FoundLine(Line(left, right), "term", atom.name, {index: value}, body=poly_text(body))
                if self._checked(step) is not None:
                    yield step
            if kind == "sum" and index == "h":
                yield from self.lemma("max-heads", {"f": poly_text(body)})
                if all(e % 2 == 0 for mono in body for _, e in mono) and list(body.values()) == [1]:
                    yield from self.lemma("square-heads", {"f": poly_text(raised(body, Fraction(1, 2)))})
        elif atom.kind == "sum":
            pos, neg = _splitted(dict(atom.args[0]))
            if not neg:
                for mono, c in pos.items():
                    yield from self._plain_sum({mono: c}, me)
                if 2 <= len(pos) <= 3 and all(self.work._mono_nonnegative(m) for m in pos):
                    at = {x: poly_text({m: c}) for x, (m, c) in zip("xyz", pos.items(), strict=False)}
                    for step in self.lemma("am-gm" if len(pos) == 2 else "am-gm-3", at):
                        yield step
            elif all(self.work._mono_nonnegative(m) for m in neg):
                yield from self._plain_sum(me, pos)
                if len(pos) >= 2 and len(pos) + len(neg) <= 4:
                    for mono, c in pos.items():
                        rest = {m: x for m, x in pos.items() if m != mono}
                        less = self.le(neg, rest, 2)
                        if less is not None:
                            self.settle_signs([atom])
                            made = FoundLine(Line({mono: c}, me), "sum", of=[(less, "1")])
                            if self._checked(made) is not None:
                                yield made

    def _numbers(self, atom: Atom) -> Iterator[FoundLine]:
        """What a function is between at a number; and where its argument is at most a number, the function there."""
        me, u = of_atom(atom), dict(atom.args[0])
        if all(isinstance(base, int) for mono in u for base, _ in mono):
            try:
                ends = constant_bounds(me)
            except (Rejected, Undecided):
                return
            low, high = (Fraction(f(x * 10**4), 10**4) for f, x in zip((math.floor, math.ceil), ends, strict=True))
            for line in (Line(me, rational(high)), Line(rational(low), me)) if low > 0 else (Line(me, rational(high)),):
                step = self._checked(FoundLine(line, "box"))
                if step is not None:
                    yield step
        elif atom.name in growing() and self._assumed:
            step = self.bound(u, rational(1), _DEEPEST, light=True)
            if step is not None:
                self.learn(step)
                at = {"x": poly_text(u), "y": poly_text(step.line.right)}
                yield from self.lemma(f"{atom.name}-grows", at, [step])

    def _boxed(self, left: Poly, right: Poly, depth: int) -> FoundLine | None:
        """A relation of few numbers that lie within bounds."""
        atoms = {x for side in (left, right) for x in atoms_in(side)}
        numbers = sorted((x for x in atoms if x.kind in ("letter", "quantity")), key=str)
        if any(x.kind not in ("letter", "quantity", "function", "sum") for x in atoms) or len(numbers) > MOST_VARIABLES:
            return None
        if depth > 1 or not any(x.kind == "function" for x in atoms):
            return None
        of: list[tuple[FoundLine, Fraction | str]] = []
        for me in map(of_atom, numbers):
            above, below = (self.bound(a, b, 2, light=True) for a, b in ((me, rational(1)), (rational(1), me)))
            if above is None:
                return None
            of += [(step, "") for step in (above, below) if step is not None]
        return self._checked(FoundLine(Line(left, right), "box", of=of))

    def _plain_sum(self, left: Poly, right: Poly) -> Iterator[FoundLine]:
        step = FoundLine(Line(left, right), "sum")
        if self._checked(step) is not None:
            yield step

    def monotone(self, pool: Sequence[Atom], goal: set[Atom], depth: int) -> list[FoundLine]:
        """tanh(u) <= tanh(v) and the like, and sums against sums, with proofs of their own."""
        if depth >= 2:
            return []
        out: list[FoundLine] = []
        groups: dict[str, list[Atom]] = {}
        for atom in pool:
            if atom.kind == "function" and atom.name in growing():
                groups.setdefault(atom.name, []).append(atom)
        for name, group in groups.items():
            for v in [atom for atom in group if atom in goal]:
                for u in group:
                    for a, b in ((u, v), (v, u)) if u != v else ():
                        x, y = dict(a.args[0]), dict(b.args[0])
                        out += self._compared(name, x, y, depth)
        sums = [atom for atom in pool if atom.kind == "sum"]
        for s in [atom for atom in sums if atom in goal] if len(sums) <= 90 else ():
            for other in sums:
                if other == s or not _arrays_of(other) & _arrays_of(s):
                    continue
                for a, b in ((other, s), (s, other)):
                    step = self.bounded(dict(a.args[0]), dict(b.args[0]), depth + 1, light=True)
                    if step is not None:
                        # the same line, with the sums as factors
                        out.append(step)
        return [step for step in out if step.usable]

    def _compared(self, name: str, x: Poly, y: Poly, depth: int) -> list[FoundLine]:
        step = self.bound(x, y, depth + 1)
        if step is None:
            return []
        top = step.line.right
        at = {"x": poly_text(x), "y": poly_text(top)}
        out: list[FoundLine] = []
        if top == y:
            self.learn(step)
            out += self.lemma(f"{name}-grows", at, [step])
            if name == "tanh":
                out += self.lemma("tanh-concave", at, [step])
        elif name == "tanh":  # x <= c*y with c > 1: tanh(x) <= tanh(c*y), and y*tanh(c*y) <= c*y*tanh(y)
            self.learn(step)
            out += self.lemma("tanh-grows", at, [step])
            out += self.lemma("tanh-concave", {"x": poly_text(y), "y": poly_text(top)})
        return out

    # -- the program in logarithms

    def best(
        self, left: Poly, right: Poly, depth: int, *, tight: bool = False, light: bool = False
    ) -> FoundLine | None:
        """left <= right as a product of facts; with `tight`, left <= c*right with the least c that they give.

        `light`: by facts about letters and quantities alone, which is fast.
        """
        key = freeze(left), freeze(right), tight or light
        if key in self.memory:
            return self.memory[key]
        if key[:2] in self.trying or depth > 6 or (light and self.failed.get(key[:2]) == len(self.signs)):
            return None
        self._in_time()
        self.trying.add(key[:2])
        try:
            found = self._best(left, right, depth, tight, light)
        finally:
            self.trying.discard(key[:2])
        if found is not None or not light:
            self.memory[key] = found
        else:  # it may be found when more is known
            self.failed[key[:2]] = len(self.signs)
        return found

    def _best(self, left: Poly, right: Poly, depth: int, tight: bool, light: bool) -> FoundLine | None:
        (c1, a), (c2, b) = as_product(left), as_product(right)
        if c1 <= 0 or c2 <= 0:
            return None
        goal_atoms = {base for base in (*a, *b) if isinstance(base, Atom)}
        self.settle_signs(goal_atoms)
        if not all(self.work.nonnegative(base) for base in goal_atoms):
            return None
        where = self.places([left, right])
        if light:
            return self._solve(left, right, _pruned(self._plain(where), goal_atoms), tight)
        return self._solve(left, right, self._gathered(left, right, depth, where, goal_atoms), tight)

    def _gathered(self, left: Poly, right: Poly, depth: int, where: Places, goal_atoms: set[Atom]) -> list[FoundLine]:
        """The facts of which a product may give left <= right."""
        a = as_product(left)[1]
        facts = _pruned(self.products(where), goal_atoms)
        atoms = _ordered(goal_atoms, facts)
        facts = facts + self.structure(atoms, where.layers, where.heads)
        facts = _pruned(facts, goal_atoms)
        facts = facts + self.monotone(_ordered(goal_atoms, facts), goal_atoms, depth)
        facts = facts + self._lifted(facts, goal_atoms)
        if depth == 0 and "L" in where.times:
            below = not any("X[L]" in x.text for x in a if isinstance(x, Atom))
            facts = facts + self._inductions(goal_atoms, a if below else as_product(right)[1], below=below)
        return self._with_signs(facts)

    def _differences(self, left: Poly, right: Poly, depth: int) -> FoundLine | None:
        """By facts q <= s and s <= q, for differences s of the goal, with what stands beside them, and quantities q of
        the same arrays."""
        sides = as_product(left), as_product(right)
        goal = {x for _, table in sides for x in table if isinstance(x, Atom)}
        if depth or min(c for c, _ in sides) <= 0 or not all(map(self.work.nonnegative, goal)):
            return None
        where, further = self.places([left, right]), []
        named = {q for step in self.products(where) for q in step.atoms if q.kind == "quantity"}
        for (_, table), up in zip(sides, (False, True), strict=True):
            for s, e in table.items():
                if not isinstance(s, Atom) or s.kind != "sum" or all(c > 0 for _, c in s.args[0]):
                    continue
                beside = {x: y / e for x, y in table.items() if isinstance(x, Atom) and _arrays_of(x) == _arrays_of(s)}
                factor, mono = product_of({x: y for x, y in beside.items() if x.kind in ("sum", "function")})
                whole = expanded({mono: factor}) if len(mono) > 1 else dict(s.args[0])
                same = [q for q in sorted(named, key=str) if _arrays_of(q) == _arrays_of(s)][:16]
                pairs = [(of_atom(q), whole) for q in same]
                for layer in {places[0] for kind, places in _items(of_atom(s)) if kind != "X"}:
                    for q in [q for q in goal if q.kind == "quantity" and {kind for kind, _ in _items_of(q)} == {"X"}]:
                        now, new = (at_time(of_atom(q), normal(read_tree(f"{layer}{x}"), {})) for x in ("", " + 1"))
                        pairs.append((new, times(now, {mono: factor})))
                for low, high in pairs if up == (e > 0) else [(high, low) for low, high in pairs]:
                    step = self._linear(low, high, 2)
                    if step is not None and step.usable:  # as a product, as the goal has it
                        (x, top), (y, bottom) = product_of(step.left), product_of(step.right)
                        line = Line({top: step.lc * x}, {bottom: step.rc * y})
                        further.append(FoundLine(line, "sum", of=[(step, "1")]))
        if not further:
            return None
        return self._solve(
            left, right, self._with_signs([*self._gathered(left, right, 0, where, goal), *further]), False
        )

    def strictly(self, left: Poly, right: Poly) -> FoundLine | None:
        """left < right: as a product of facts some of which are strict, or because something positive fits between."""
        where = self.places([left, right])
        atoms = {x for side in (left, right) for x in as_product(side)[1] if isinstance(x, Atom)}
        self.settle_signs(atoms)
        for fact in self.facts(where):  # what is at least a positive number is positive
            if fact.by in ("hypothesis", "put") and fact.usable and not any(isinstance(x, Atom) for x in fact.left):
                above = self._checked(FoundLine(Line({}, fact.line.right, True), "sum", of=[(fact, "1")]))
                if above is not None:
                    self.learn(above)
        if all(self.work.nonnegative(x) for x in atoms) and as_product(left)[0] > 0 and as_product(right)[0] > 0:
            found = self._solve(left, right, self._gathered(left, right, 0, where, atoms), False, strict=True)
            if found is not None:
                return found
        named = {q for step in self.facts(where) for q in step.atoms if q.kind == "quantity"}
        between = [of_atom(q) for q in sorted(named, key=str) if self.work.positive(q)][:8]
        n = of_atom(Atom("letter", "n"))
        for gap in [x for q in between for x in (q, times(n, q))]:
            step = self.le(plus(left, gap), right, 1)
            made = None if step is None else FoundLine(Line(left, right, True), "sum", of=[(step, "1")])
            if made is not None and self._checked(made) is not None:
                return made
        return None

    def _plain(self, where: Places) -> list[FoundLine]:
        """The facts that are products of letters and quantities."""
        if where not in self.plain_pools:
            kinds = ("letter", "quantity")
            found = [step for step in self.products(where) if all(x.kind in kinds for x in step.atoms)]
            self.plain_pools[where] = self._with_signs(found)
        return self.plain_pools[where]

    def _with_signs(self, facts: Sequence[FoundLine]) -> list[FoundLine]:
        good: list[FoundLine] = []
        sign: dict[Atom, bool] = {}
        for step in facts:
            for atom in step.atoms:
                if atom not in sign:
                    self.settle_signs([atom])
                    sign[atom] = self.work.nonnegative(atom)
            if all(sign[atom] for atom in step.atoms):
                good.append(step)
        return good

    def _lifted(self, facts: Sequence[FoundLine], goal: set[Atom]) -> list[FoundLine]:
        """Facts to a power with letters, such as L."""
        out: list[FoundLine] = []
        for exponent in dict.fromkeys(atom.args[1] for atom in sorted(goal, key=str) if atom.kind == "power"):
            power = dict(exponent)
            if not self.work.nonnegative_poly(power):
                continue
            for step in facts:
                if step.by == "power" or any(atom.kind == "power" for atom in step.atoms):
                    continue
                try:
                    line = Line(power_of(step.line.left, power), power_of(step.line.right, power))
                except Rejected:
                    continue
                made = FoundLine(line, "power", of=[(step, "")], how=poly_text(power))
                if made.usable and made.line.left != made.line.right:
                    out.append(made)
            for p in (2, 3, 5):
                base = FoundLine(Line(rational(1), rational(p)), "sum")
                out.append(
                    FoundLine(
                        Line(rational(1), power_of(rational(p), power)), "power", of=[(base, "")], how=poly_text(power)
                    )
                )
        return out

    def _inductions(self, goal: set[Atom], bound: dict[Base, Fraction], *, below: bool) -> list[FoundLine]:
        """Q(X[L]) <= prod_l(G)·Q(X[0]), G the factors of the bound's products, where one layer has it."""
        gain = rational(1)
        for atom, e in bound.items():
            if isinstance(atom, Atom) and (
                (atom.kind == "fold" and atom.name == "prod_l")
                or (atom.kind == "power" and dict(atom.args[1]) == of_atom(Atom("letter", "L")))
            ):
                gain = times(gain, raised(dict(atom.args[0]), e))
        out: list[FoundLine] = []
        letter = {x: normal(read_tree(x), {}) for x in ("l", "l + 1", "0")}
        named = [of_atom(x) for x in sorted(goal, key=str) if x.kind == "quantity" and ("X[L]" in x.text)]
        first = [
            at_time(of_atom(x), of_atom(Atom("letter", "L"))) for x in goal if "X[0]" in x.text and x.kind == "quantity"
        ]
        sizes = [*named, *first, *(normal(read_tree(text), self.work.fixed) for text in _SIZES)]
        for size in {freeze(x): x for x in sizes}.values():
            new, now, start = (at_time(size, letter[x]) for x in ("l + 1", "l", "0"))
            if below:
                step, line = self.le(times(gain, now), new, 1), Line(times(folded("prod_l", gain), start), size)
            else:
                step, line = self.le(new, times(gain, now), 1), Line(size, times(folded("prod_l", gain), start))
            if step is not None:
                out.append(FoundLine(line, "layers", of=[(step, "")], how="below" if below else "product"))
                if size in named or size in first:  # most often this is the one
                    break
        return [step for step in out if self._checked(step) is not None]

    def _solve(
        self, left: Poly, right: Poly, facts: Sequence[FoundLine], tight: bool, *, strict: bool = False
    ) -> FoundLine | None:
        (c1, a), (c2, b) = as_product(left), as_product(right)
        if min(c1, c2) <= 0:  # a side without a logarithm: what it follows from is no product of facts
            return None
        goal: dict[Base, Fraction] = {}
        for table, sign in ((a, 1), (b, -1)):
            for base, e in table.items():
                if isinstance(base, Atom):
                    goal[base] = goal.get(base, Fraction(0)) + sign * e
        goal = {base: e for base, e in goal.items() if e}
        log_goal = _log(c1) - _log(c2)
        log_goal += sum(float(e) * math.log(p) for p, e in a.items() if isinstance(p, int))
        log_goal -= sum(float(e) * math.log(p) for p, e in b.items() if isinstance(p, int))
        reached, parents = self._reachable({base for base, e in a.items() if e > 0}, facts)
        # Folds are reached by lines that are made below, if at all.
        wanted = {x for x in goal if isinstance(x, Atom)}
        for x in list(wanted):
            _inside(x, wanted)
        reached |= {x for x in wanted if x.kind == "fold"}
        for x in [x for x in a if isinstance(x, Atom) and x.kind == "fold" and x.name[:3] in ("sum", "max")]:
            # Some term of it is positive, and with it whatever bounds every term.
            inside, _ = self._reachable({base for mono, _ in x.args[0] for base, e in mono if e > 0}, facts)
            reached |= {y for y in inside if isinstance(y, Atom) and x.name[-1] not in y.letters}
        if not all(self.work.positive(base, reached) for base in (*a, *b)):
            return None
        kept: list[FoundLine] = []
        least: dict[Any, float] = {}
        for step in facts:
            vector, constant = step.vector
            constant -= _MARGIN * (strict and step.line.strict)
            if not vector or not all(self.work.positive(x, reached) for x in step.atoms):
                continue
            key = tuple(sorted((x.text, e) for x, e in vector.items()))
            if least.get(key, math.inf) <= constant + 1e-15:
                continue
            least[key] = constant
            kept.append(step)
        columns: list[dict[Any, Fraction]] = [dict(step.vector[0]) for step in kept]
        costs = [step.vector[1] - _MARGIN * (strict and step.line.strict) for step in kept]
        kinds: list[tuple[int, int]] = [(-1, j) for j in range(len(kept))]
        rules = self._fold_rules(facts, set(goal))
        inner_facts: dict[Mono, list[int]] = {}
        everything = list(facts)
        for r, (name, top, bottom, outer) in enumerate(rules):
            column: dict[Any, Fraction] = dict(outer)
            for mono, sign in ((top, -1), (bottom, 1)):
                for base, e in mono:
                    column[r, base] = column.get((r, base), Fraction(0)) + sign * e
            columns.append({row: e for row, e in column.items() if e})
            costs.append(0.0)
            kinds.append((r, -1))
            index = name[-1]
            if top not in inner_facts:  # of the line for one index the left side is this product alone
                there, _ = self._reachable({base for base, e in top if e > 0}, facts)
                inner_facts[top] = [
                    j for j, step in enumerate(everything) if all(self.work.positive(x, there) for x in step.atoms)
                ]
            for j in inner_facts[top]:
                step = everything[j]
                if any(index in x.letters for x in step.vector[0]):
                    columns.append({((r, x) if index in x.letters else x): e for x, e in step.vector[0].items()})
                    costs.append(step.vector[1])
                    kinds.append((r, j))
        # Of two proofs the one by lemmas is preferred: it reads better than one by a theorem, and Coq has its file.
        lengths = [_LONG if r < 0 and kept[j].by == "statement" else 1.0 for r, j in kinds]
        for place, (r, j) in enumerate(kinds):  # what is only supposed is used as little as can be, slack first
            if r < 0 and kept[j].by == "supposed":
                lengths[place] = 1000.0 + 100.0 * math.exp(float(kept[j].how))
        most = None if tight else -log_goal - _MARGIN * strict
        found = combination(columns, costs, dict(goal), at_most=most, lengths=lengths)
        if found is None:
            return None
        used = self._used(found, kinds, kept, everything, rules)
        if used is None:
            return None
        pairs: list[tuple[Fraction | int, Fraction]] = [(c1, Fraction(1)), (c2, Fraction(-1))]
        pairs += [(p, e) for p, e in a.items() if isinstance(p, int)]
        pairs += [(p, -e) for p, e in b.items() if isinstance(p, int)]
        for step, power in used:
            pairs += [(step.rc, power), (step.lc, -power)]
            pairs += [(p, e * power) for p, e in step.right.items() if isinstance(p, int)]
            pairs += [(p, -e * power) for p, e in step.left.items() if isinstance(p, int)]
        try:
            fits = compared_to_one(pairs) <= 0
            if not fits and not tight:
                return None
            bound = right if fits else times(_constant(pairs), right)
        except Rejected:
            return None
        of: list[tuple[FoundLine, Fraction | str]] = list(used)
        needed = {x for step, _ in used for x in step.atoms} | goal.keys()
        have: set[FoundLine] = {step for step, _ in used}
        todo = [x for x in needed if isinstance(x, Atom)]
        while todo:  # lines that show atoms to be positive, to the power 0
            parent = parents.get(todo.pop())
            if parent is not None and parent not in have:
                have.add(parent)
                of.append((parent, Fraction(0)))
                todo += parent.atoms
        trimmed = [pair for pair in of if pair[1] != 0]
        for attempt in (trimmed, of):
            step = FoundLine(Line(left, bound, strict), "product", of=list(attempt))
            if self._checked(step) is not None:
                return step
        return None

    def _reachable(self, start: set[Base], facts: Sequence[FoundLine]) -> tuple[set[Base], dict[Base, FoundLine]]:
        """The atoms that are positive because those of the left side are, and the fact that shows each."""
        reached = set(start)
        parents: dict[Base, FoundLine] = {}
        for base in list(reached):
            reached |= set(self.work._factors_inside(base))
        waiting = list(facts)
        while True:
            rest, changed = [], False
            for step in waiting:
                fine = all(self.work.positive(x, reached) for x in step.left)
                if fine and all(e > 0 or self.work.positive(x, reached) for x, e in step.right.items()):
                    new = {x for x, e in step.right.items() if e > 0 and not self.work.positive(x, reached)}
                    new |= {y for x in new for y in self.work._factors_inside(x) if y not in reached}
                    for x in new:
                        parents[x] = step
                    reached |= new
                    changed = changed or bool(new)
                else:
                    rest.append(step)
            waiting = rest
            if not changed:
                return reached, parents

    def _fold_rules(
        self, facts: Sequence[FoundLine], goal: set[Base]
    ) -> list[tuple[str, Mono, Mono, dict[Atom, Fraction]]]:
        """red(f) <= M·red(g), with g = 1 too, from f <= M·g for every index: M is found by the program."""
        wanted: set[Atom] = {x for x in goal if isinstance(x, Atom)}
        for x in list(wanted):
            _inside(x, wanted)
        atoms = {x for step in facts for x in step.vector[0]} | wanted
        wanted |= {x for step in facts if step.name == "square-heads" for x in step.vector[0]}
        out: list[tuple[str, Mono, Mono, dict[Atom, Fraction]]] = []
        for name in ("sum_h", "max_h", "max_l", "min_h", "min_l", "sum_l"):
            group = [x for x in sorted(atoms, key=str) if x.kind == "fold" and x.name == name]
            group = [x for x in group if len(x.args[0]) == 1]
            end = Atom("letter", INDEX_ENDS[name[-1]])
            for f in group:
                top = f.args[0][0][0]
                for g in [x for x in group if x in wanted and x != f]:
                    out.append((name, top, g.args[0][0][0], {f: Fraction(1), g: Fraction(-1)}))
                if name[:3] == "min":
                    out.append((name, ONE, top, {f: Fraction(-1)}))
                elif name[:3] == "sum":
                    out.append((name, top, ONE, {f: Fraction(1), end: Fraction(-1)}))
                else:
                    out.append((name, top, ONE, {f: Fraction(1)}))
        return out[:60]

    def _used(
        self,
        found: dict[int, Fraction],
        kinds: Sequence[tuple[int, int]],
        facts: Sequence[FoundLine],
        everything: Sequence[FoundLine],
        rules: Sequence[tuple[str, Mono, Mono, dict[Atom, Fraction]]],
    ) -> list[tuple[FoundLine, Fraction]] | None:
        """The facts of a solution; a rule over an index becomes a line that holds for every index, and its fold."""
        used: list[tuple[FoundLine, Fraction]] = []
        inner: dict[int, list[tuple[FoundLine, Fraction]]] = {}
        for j, power in found.items():
            r, k = kinds[j]
            if r < 0:
                used.append((facts[k], power))
            elif k >= 0:
                inner.setdefault(r, []).append((everything[k], power))
        for j, power in found.items():
            r, k = kinds[j]
            if r < 0 or k >= 0:
                continue
            name, top, bottom, _ = rules[r]
            index = name[-1]
            table: dict[Base, Fraction] = dict(top)
            pairs: list[tuple[Fraction | int, Fraction]] = []
            for step, mu in inner.get(r, []):
                share = mu / power
                for side, sign in ((step.left, -1), (step.right, 1)):
                    for base, e in side.items():
                        if isinstance(base, int):
                            pairs.append((base, sign * e * share))
                        else:
                            table[base] = table.get(base, Fraction(0)) + sign * e * share
                pairs += [(step.rc, share), (step.lc, -share)]
            table = {base: e for base, e in table.items() if e}
            free = {base: e for base, e in table.items() if not (isinstance(base, Atom) and index in base.letters)}
            if product_of({base: e for base, e in table.items() if base not in free})[1] != bottom:
                return None
            factor, mono = product_of(table)
            right = times(_constant(pairs), {mono: factor})
            line = Line({top: Fraction(1)}, right)
            body = FoundLine(line, "product", of=[(step, mu / power) for step, mu in inner.get(r, [])])
            if self._checked(body) is None:
                return None
            try:
                step = FoundLine(
                    Line(self.work._folded(name, line.left), self.work._folded(name, line.right)),
                    "fold",
                    name,
                    of=[(body, "")],
                )
            except Rejected:
                return None
            if self._checked(step) is None or not step.usable:
                return None
            used.append((step, power))
        return used

    # -- goals

    def le(self, left: Poly, right: Poly, depth: int = 0) -> FoundLine | None:
        """A proof of left <= right, or None."""
        self._in_time()
        key = freeze(left), freeze(right), False
        direct = FoundLine(Line(left, right), "sum")
        if self._checked(direct) is not None:
            return direct
        if not left:
            self.settle_signs(x for x in as_product(right)[1])
            return self._checked(direct)
        if key[:2] in self.trying:
            return None
        steps: tuple[Callable[[Poly, Poly, int], FoundLine | None], ...] = (
            self._plainly,
            self._layer_by_layer,
            self._vanishing,
            self._directly,
            self.best,
            self._boxed,
            self._linear,
            self._cleared,
            self._by_cases,
            self._inverted,
            self._rooted,
            self._through,
            self._differences,
        )
        for attempt in steps[: 6 if depth >= _DEEPEST else None]:
            try:
                found = attempt(left, right, depth)
            except Rejected:
                continue
            if found is not None:
                return found
        return None

    def bound(self, left: Poly, right: Poly, depth: int, *, light: bool = False) -> FoundLine | None:
        """left <= c·right for the least c that is found; the line has c in it."""
        if left == right:
            return FoundLine(Line(left, right), "sum")
        try:
            found = self.best(left, right, depth, tight=True, light=light)
        except Rejected:
            found = None
        if found is not None or depth > 4 or light:
            return found
        exponents = {
            e
            for side in (left, right)
            for x, e in as_product(side)[1].items()
            if isinstance(x, Atom) and x.kind == "sum" and e > 0
        }
        if not exponents:
            return None
        e = min(exponents)
        try:
            a, b = expanded(raised(left, 1 / e)), expanded(raised(right, 1 / e))
        except Rejected:
            return None
        if len(a) == 1 and len(b) == 1:
            return None
        step = self.bounded(a, b, depth + 1)
        if step is None:
            return None
        factor = times(step.line.right, raised(b, -1)) if e != 1 else rational(1)
        if e == 1:
            return step
        if any(isinstance(x, Atom) for m in factor for x, _ in m):
            return None
        made = FoundLine(Line(left, times(raised(factor, e), right)), "product", of=[(step, e)])
        return self._checked(made)

    def bounded(self, left: Poly, right: Poly, depth: int, *, light: bool = False) -> FoundLine | None:
        """A sum of terms <= c times another, c rational: each on the left is shared out over those on the right."""
        if any(c < 0 for c in (*left.values(), *right.values())) or len(left) * len(right) > 16 or depth > 4:
            return None
        if len(left) == 1 and len(right) == 1:
            return self.best(left, right, depth, tight=True, light=light)
        table = self._pairs(left, right, depth, light)
        if table is None:
            return None
        # Least theta with sum_j x_ij = 1 and sum_i x_ij c_ij <= theta: by halving, on a program without theta.
        best: tuple[Fraction, dict[int, Fraction]] | None = None
        low, high = Fraction(0), max(c for _, c in table.values()) * len(left)
        cells = list(table)
        theta = high
        for _ in range(40):
            found = self._assigned(cells, table, left, right, theta)
            if found is not None:
                best, high = (theta, found), theta
            else:
                low = theta
            if high - low < high / 10**6:
                break
            theta = (low + high) / 2
        if best is None:
            return None
        simple = best[0].limit_denominator(1000)
        for theta in (simple, best[0]):
            found = self._assigned(cells, table, left, right, theta) if theta > 0 else None
            if found is not None:
                of: list[tuple[FoundLine, Fraction | str]] = [(table[cells[k]][0], str(x)) for k, x in found.items()]
                made = FoundLine(Line(left, times(rational(theta), right)), "sum", of=of)
                if self._checked(made) is not None:
                    return made
        return None

    def _pairs(
        self, left: Poly, right: Poly, depth: int, light: bool
    ) -> dict[tuple[Mono, Mono], tuple[FoundLine, Fraction]] | None:
        table: dict[tuple[Mono, Mono], tuple[FoundLine, Fraction]] = {}
        for m, c in left.items():
            for q, e in right.items():
                step = self.bound({m: c}, {q: e * SMALL}, depth, light=light)
                if step is not None:
                    ratio = _above(times(step.line.right, raised({q: e}, -1)))
                    if ratio is not None:
                        table[m, q] = step, ratio
            if not any((m, q) in table for q in right):
                return None
        return table

    def _assigned(
        self,
        cells: Sequence[tuple[Mono, Mono]],
        table: dict[tuple[Mono, Mono], tuple[FoundLine, Fraction]],
        left: Poly,
        right: Poly,
        theta: Fraction,
    ) -> dict[int, Fraction] | None:
        columns: list[dict[Any, Fraction]] = []
        for m, q in cells:
            columns.append({("left", m): Fraction(1), ("right", q): table[m, q][1]})
        room: dict[Any, Fraction] = {("left", m): Fraction(1) for m in left}
        room |= {("right", q): theta for q in right}
        return shares(columns, room, [1.0] * len(cells), frozenset(("left", m) for m in left))

    def _plainly(self, left: Poly, right: Poly, depth: int) -> FoundLine | None:
        """A relation of sums as a sum of facts as they are."""
        return self._linear(left, right, depth, compare=False) if len(left) + len(right) > 2 else None

    def _linear(self, left: Poly, right: Poly, depth: int, *, compare: bool = True) -> FoundLine | None:
        """right − left as a sum of facts: shared out term by term, with facts that are sums themselves."""
        difference = expanded(plus(right, left, -1))
        pos, neg = _splitted(difference)
        plain = self._checked(FoundLine(Line(left, right), "sum"))
        if plain is not None or not difference:
            return plain
        where = self.places([left, right])
        columns: list[dict[Any, Fraction]] = []
        steps: list[tuple[FoundLine, str]] = []
        rows = set(difference)
        near: dict[Mono, None] = {}  # terms that one fact brings beside those of the goal
        for _ in range(2):
            new = set(rows)
            for step in self._sums_among(where, rows, neg):
                if any(step is old for old, _ in steps):
                    continue
                change = expanded(plus(step.line.right, step.line.left, -1))
                columns.append(dict(change))
                steps.append((step, "1"))
                new |= set(change)
                if rows == set(difference):
                    near |= {m: None for m in change if m not in rows}
            rows = new
        for step, weight, change in self._weighted(rows):
            columns.append(change)
            steps.append((step, poly_text(weight)))
        if not steps and len(pos) == 1 and len(neg) == 1 and (neg, pos) == (left, right):
            return None
        tops, bottoms = list(neg), list(pos)
        extra = list(near)[:12]
        pairs = [(m, q) for m in tops for q in bottoms]
        pairs += [(m, q) for m in tops for q in extra] + [(m, q) for m in extra for q in (*bottoms, *tops)]
        if len(tops) * len(bottoms) > 30 or depth > 3:
            pairs = []
        # First the facts as they are, which costs little; then with comparisons of single terms.
        for chosen in ([], pairs[:60]) if compare else ([],):
            for m, q in [pair for pair in chosen if pair[0] != pair[1]]:
                a, b = {m: abs(difference.get(m, Fraction(1)))}, {q: abs(difference.get(q, Fraction(1)))}
                pair = self.bound(a, times(rational(SMALL), b), depth + 1)
                ratio = _above(times(pair.line.right, raised(b, -1))) if pair is not None else None
                if pair is not None and ratio is not None:
                    columns.append({q: ratio * b[q], m: -a[m]})
                    steps.append((pair, "1"))
            signed = frozenset(
                m
                for m in {*difference, *(m for column in columns for m in column)}
                if not self.work._mono_nonnegative(m)
            )
            room: dict[Any, Fraction] = dict(difference)
            lengths = [
                0.1 * len(c) + (_LONG if step.by == "statement" else 1.0)
                for c, (step, _) in zip(columns, steps, strict=True)
            ]
            found = shares(columns, room, lengths, signed) if steps else None
            if found is not None:
                of: list[tuple[FoundLine, Fraction | str]] = [
                    (steps[j][0], str(x) if steps[j][1] == "1" else f"{x}*{steps[j][1]}") for j, x in found.items()
                ]
                return self._checked(FoundLine(Line(left, right), "sum", of=of))
        return None

    def _weighted(self, rows: set[Mono]) -> Iterator[tuple[FoundLine, Poly, dict[Any, Fraction]]]:
        """Facts about absolute values in the terms that occur, times the rest of the term."""
        for mono in rows:
            for atom, e in mono:
                if not (isinstance(atom, Atom) and atom.name == "abs" and e == 1 and len(mono) > 1):
                    continue
                weight = times({mono: Fraction(1)}, raised(of_atom(atom), -1))
                for step in self._log_facts({((atom, Fraction(1)),)}):
                    change = expanded(times(weight, plus(step.line.right, step.line.left, -1)))
                    yield step, weight, dict(change)

    def _sums_among(self, where: Places, rows: set[Mono], tops: Poly) -> list[FoundLine]:
        """Facts that are sums, all of whose terms but one are among these, or but two of one that bounds a top."""
        out = []
        for step in [*self.facts(where), *self._log_facts(rows)]:
            change = expanded(plus(step.line.right, step.line.left, -1))
            if len(change) != 2 or any(_is_plain(m) or not self.work._mono_nonnegative(m) for m in change):
                outside = [m for m in change if m not in rows and m != ONE]
                most = 2 if any(m in tops for m in change) else 1
                if len(outside) <= most and any(m in rows for m in change if m != ONE):
                    out.append(step)
        return out[:80]

    def _log_facts(self, rows: set[Mono]) -> list[FoundLine]:
        """Lemmas about the logarithms that occur."""
        out: list[FoundLine] = []
        logs = {x for m in rows for x, _ in m if isinstance(x, Atom) and x.kind == "function"}
        for base in [base for atom in logs for base in as_product(dict(atom.args[0]))[1]]:
            if isinstance(base, Atom) and base.kind == "quantity" and not self.work.positive(base):
                self._settle_positive(base)
        for atom in logs:
            u = dict(atom.args[0])
            names = {
                "log": ("log-line", "log-one", "log-e"),
                "exp": ("exp-line",),
                "tanh": ("tanh-one", "tanh-id"),
                "abs": ("abs-high", "abs-minus", "abs-id", "abs-neg"),
            }.get(atom.name, ())
            for name in names:
                out += self.lemma(name, {"x": poly_text(u)})
            out += self._numbers(atom)
            if atom.name == "exp":
                out += self.lemma("exp-line", {"x": f"-({poly_text(u)})"})
            for other in logs:
                if other != atom and other.name == atom.name and atom.name in growing():
                    step = self.le(u, dict(other.args[0]), 2)
                    if step is not None:
                        self.learn(step)
                        at = {"x": poly_text(u), "y": poly_text(dict(other.args[0]))}
                        out += self.lemma(f"{atom.name}-grows", at, [step])
            for other in logs if atom.name == "log" else ():
                v = dict(other.args[0])
                if other.name == "log" and atom.text < other.text:
                    for name, low, high in (("", times(u, v), rational(1)), ("-low", rational(1), times(u, v))):
                        step = self.le(low, high, _DEEPEST)
                        if step is not None:
                            self.learn(step)
                            out += self.lemma(f"log-product{name}", {"x": poly_text(u), "y": poly_text(v)}, [step])
        return out

    def _vanishing(self, left: Poly, right: Poly, depth: int) -> FoundLine | None:
        """A sum is at most 0 where every term has a factor that is: no product of lines shows it, for 0 has no
        logarithm."""
        given = [line.left for line in self.work.hypotheses if not line.right]
        if depth or not (given or self.work.fixed.get("n") == 1):  # of what else a 0 is known is not looked for
            return None
        goal = {base for poly in (left, *given) for mono in poly for base, _ in mono if isinstance(base, Atom)}
        where = self.places([left, *given])
        zeros: dict[Base, FoundLine] = {}
        for step in self.facts(where):
            if not step.line.right and len(step.line.left) == 1 and list(step.left.values()) == [1]:
                zeros.setdefault(next(iter(step.left)), step)

        def to_zero(poly: Poly) -> list[tuple[FoundLine, Fraction | str]] | None:
            """Lines z <= 0 with weights that make the polynomial at most 0."""
            of: list[tuple[FoundLine, Fraction | str]] = []
            for mono, c in poly.items():
                zero = next((zeros[base] for base, e in mono if base in zeros and e >= 1), None)
                if zero is None:
                    return None
                of.append((zero, poly_text(times({mono: c}, raised(zero.line.left, -1)))))
            return of

        if not zeros:
            return None
        self.settle_signs(goal)
        facts = self._gathered(left, left, depth, where, goal)
        before = -1
        while before != len(zeros):
            before = len(zeros)
            for step in facts:
                (base, e), *others = step.left.items() or [(1, Fraction(0))]
                if others or e != 1 or base in zeros or (of := to_zero(step.line.right)) is None:
                    continue
                made = self._checked(FoundLine(Line(step.line.left, {}), "sum", of=[(step, "1"), *of]))
                if made is not None:
                    zeros[base] = made
        found = to_zero(left)
        return self._checked(FoundLine(Line(left, right), "sum", of=found)) if found else None

    def _cleared(self, left: Poly, right: Poly, depth: int) -> FoundLine | None:
        """Both sides times the sums in their denominators."""
        if depth >= 2:
            return None
        factor = rational(1)
        for side in (left, right):
            for mono in side:
                for base, e in mono:
                    if isinstance(base, Atom) and base.kind == "sum" and e < 0 and self.work.positive(base):
                        part = raised(of_atom(base), -e)
                        factor = part if factor == rational(1) else times(factor, part) if part != factor else factor
        if factor == rational(1):
            return None

        def cleared(side: Poly) -> Poly:
            out: Poly = {}
            for mono, c in side.items():
                out = plus(out, times({mono: c}, factor))
            return out

        step = self.le(cleared(left), cleared(right), depth + 1)
        if step is None:
            return None
        if len(left) == 1 and len(right) == 1:
            return self._checked(FoundLine(Line(left, right), "product", of=[(step, Fraction(1))]))
        made = FoundLine(Line(left, right), "sum", of=[(step, poly_text(raised(factor, -1)))])
        return self._checked(made)

    def _by_cases(self, left: Poly, right: Poly, depth: int) -> FoundLine | None:
        """A maximum on the left or a minimum on the right, member by member."""
        for side, kind in ((left, "max"), (right, "min")):
            for atom, e in _atoms_of(side):
                want = kind if e > 0 else {"max": "min", "min": "max"}[kind]
                members: list[Poly] = []
                if atom.kind == want:
                    members = [dict(part) for part in atom.args]
                elif atom.kind == "fold" and atom.name == f"{want}_h":
                    members = [dict(atom.args[0])]
                elif atom.kind == "function" and atom.name == "abs" and depth < 2:
                    inner = dict(atom.args[0])
                    members = [inner, times(rational(-1), inner)]
                if not members:
                    continue
                of: list[tuple[FoundLine, Fraction | str]] = []
                for member in members:

                    def change(x: Atom, atom: Atom = atom, member: Poly = member) -> Poly | None:
                        return member if x == atom else None

                    step = self.le(rebuilt(left, change), rebuilt(right, change), depth + 1)
                    if step is None:
                        break
                    of.append((step, ""))
                else:
                    return self._checked(FoundLine(Line(left, right), "cases", atom.text, of=of))
        return None

    def _inverted(self, left: Poly, right: Poly, depth: int) -> FoundLine | None:
        """exp(x) <= y from x <= log(y), and the like."""
        for side, other, names in (
            (left, right, {"exp": ("exp-under", "log"), "log": ("log-under", "exp")}),
            (right, left, {"exp": ("under-exp", "log"), "log": ("under-log", "exp")}),
        ):
            c, table = as_product(side)
            atom, e = next(iter(table.items()), (None, Fraction(0)))
            if c != 1 or len(table) != 1 or e != 1 or not isinstance(atom, Atom) or atom.name not in names:
                continue
            if atom.kind != "function" or depth > 1:
                continue
            name, inverse = names[atom.name]
            inner = dict(atom.args[0])
            try:
                turned = normal(read_tree(f"{inverse}({poly_text(other)})"), self.work.fixed)
                low, high = (inner, turned) if side is left else (turned, inner)
                step = self.le(low, high, depth + 1)
            except Rejected:
                continue
            if step is None:
                continue
            self.learn(step)
            x, y = (inner, other) if side is left else (other, inner)
            if atom.name == "log":
                x, y = (inner, right) if side is left else (left, inner)
            for found in self.lemma(name, {"x": poly_text(x), "y": poly_text(y)}, [step]):
                if line_key(found.line.left, found.line.right) == line_key(left, right):
                    return found
        return None

    def _rooted(self, left: Poly, right: Poly, depth: int) -> FoundLine | None:
        """A root of a sum: both sides to the power that removes it."""
        if depth >= 2:
            return None
        c, table = as_product(left)
        roots = [e for x, e in table.items() if isinstance(x, Atom) and x.kind == "sum" and e > 0 and e != 1]
        c2, table2 = as_product(right)
        roots += [e for x, e in table2.items() if isinstance(x, Atom) and x.kind == "sum" and e > 0 and e != 1]
        if not roots or c <= 0 or c2 <= 0:
            return None
        e = roots[0]
        step = self.le(expanded(raised(left, 1 / e)), expanded(raised(right, 1 / e)), depth + 1)
        if step is None:
            return None
        return self._checked(FoundLine(Line(left, right), "product", of=[(step, e)]))

    def _layer_by_layer(self, left: Poly, right: Poly, depth: int) -> FoundLine | None:
        """Q(X[k]) against Q(X[j]), k > j + 1: a line for each layer between, by the factors that speak of it."""
        (c1, a), (c2, b) = as_product(left), as_product(right)
        if depth or c1 <= 0 or c2 <= 0:
            return None
        sizes: dict[Atom, Fraction] = {}
        for sign, table in ((1, a), (-1, b)):
            for x, e in table.items():
                if isinstance(x, Atom) and x.kind == "quantity" and {kind for kind, _ in _items_of(x)} == {"X"}:
                    sizes[x] = sizes.get(x, Fraction(0)) + sign * e
        times_ = {int(place): x for x in sizes for _, place in _items_of(x) if place.isdigit()}
        if len(times_) != 2 or len(sizes) != 2 or max(times_) - min(times_) < 2:
            return None
        first, last = min(times_), max(times_)
        e = sizes[times_[last]]
        size, up = of_atom(times_[last]), e > 0  # up: at the last time it is bounded from above
        if at_time(size, rational(first)) != of_atom(times_[first]) or sizes[times_[first]] != -e or abs(e) != 1:
            return None
        count = last - first
        gains = [rational(1)] * count
        rest: dict[Base, Fraction] = {x: y for x, y in b.items() if x not in sizes}
        for x, y in a.items():
            if x not in sizes:
                rest[x] = rest.get(x, Fraction(0)) - y
        if not up:
            rest = {x: -y for x, y in rest.items()}
        whole = raised(rational(c2 / c1 if up else c1 / c2), Fraction(1, count))
        even = set(whole) <= {ONE}
        for x, y in rest.items():
            of: Poly = {((x, Fraction(1)),): Fraction(1)}
            spoken = {places[0] for _, places in _items(of)}
            layers = [int(place) - first for place in spoken if place.isdigit()]
            if len(spoken) == 1 and layers and 0 <= layers[0] < count:
                gains[layers[0]] = times(gains[layers[0]], raised(of, y))
            else:
                gains = [times(gain, raised(of, y / count)) for gain in gains]
        gains = [times(gain, whole) for gain in gains] if even else [times(gains[0], raised(whole, count)), *gains[1:]]
        at = [at_time(size, rational(first + k)) for k in range(count + 1)]
        of_steps: list[tuple[FoundLine, Fraction | str]] = []
        for k, gain in enumerate(gains):
            low, high = (at[k + 1], times(gain, at[k])) if up else (times(gain, at[k]), at[k + 1])
            step = self.le(low, high, 1)
            if step is None:
                return None
            of_steps.append((step, Fraction(1)))
        return self._checked(FoundLine(Line(left, right), "product", of=of_steps))

    def _directly(self, left: Poly, right: Poly, depth: int) -> FoundLine | None:
        """By one fact about the tokens of the goal, and what is left, which speaks of no tokens."""
        (c1, a), (c2, b) = as_product(left), as_product(right)
        if depth > 1 or c1 <= 0 or c2 <= 0:
            return None

        def tokens(*tables: tuple[dict[Base, Fraction], int]) -> dict[Base, Fraction]:
            out: dict[Base, Fraction] = {}
            for table, sign in tables:
                for x, e in table.items():
                    if isinstance(x, Atom) and any(kind == "X" for kind, _ in _items(of_atom(x))):
                        out[x] = out.get(x, Fraction(0)) + sign * e
            return {x: e for x, e in out.items() if e}

        mine = tokens((a, 1), (b, -1))
        if len(mine) < 2:
            return None
        tried = 0
        for step in self.products(self.places([left, right])):
            if tried < 4 and step.by in ("lemma", "hypothesis") and tokens((step.left, 1), (step.right, -1)) == mine:
                tried += 1
                swap = times(step.line.right, raised(step.line.left, -1))
                low, high = times(left, swap), right
                if tokens((as_product(low)[1], 1), (as_product(high)[1], -1)):
                    continue
                (x, low_table), (y, high_table) = as_product(low), as_product(high)
                table = dict(low_table)
                for base, e in high_table.items():
                    table[base] = table.get(base, Fraction(0)) - e
                above, below = ({z: sign * e for z, e in table.items() if sign * e > 0} for sign in (1, -1))
                (x2, top), (y2, bottom) = product_of(above), product_of(below)
                rest = self.le(expanded({top: x * x2}), expanded({bottom: y * y2}), depth + 1)
                if rest is None:
                    continue
                made = FoundLine(Line(left, right), "product", of=[(step, Fraction(1)), (rest, Fraction(1))])
                if self._checked(made) is not None:
                    return made
        return None

    def _through(self, left: Poly, right: Poly, depth: int) -> FoundLine | None:
        """One fact that brings a sum, on the left or on the right; then the rest."""
        if depth > 1:
            return None
        (c1, a), (c2, b) = as_product(left), as_product(right)
        if c1 <= 0 or c2 <= 0:
            return None
        tried = 0
        for step in self.products(self.places([left, right])):
            for side, table, mine in (("left", step.left, a), ("right", step.right, b)):
                atoms = [(x, e) for x, e in table.items() if isinstance(x, Atom)]
                if len(atoms) != 1 or tried > 8:
                    continue
                (atom, e) = atoms[0]
                other = step.right if side == "left" else step.left
                if mine.get(atom, 0) <= 0 or e <= 0 or atom.kind != "quantity":
                    continue
                if not any(isinstance(x, Atom) and x.kind in ("sum", "min", "max") for x in other):
                    continue
                tried += 1
                power = mine[atom] / e
                up, down = (step.line.right, step.line.left) if side == "left" else (step.line.left, step.line.right)
                swap = times(raised(up, power), raised(down, -power))
                sides = (times(left, swap), right) if side == "left" else (left, times(right, swap))
                rest = self.le(*sides, depth + 1)
                if rest is None:
                    continue
                made = FoundLine(Line(left, right), "product", of=[(step, power), (rest, Fraction(1))])
                if self._checked(made) is not None:
                    return made
        return None

    # -- all layers at once

    def through_layers(self, left: Poly, right: Poly) -> FoundLine | None:
        """q(X[L]) <= C^((k^L − 1)/(k − 1))·q(X[0])^(k^L) from one layer."""
        c, table = as_product(left)
        if c != 1 or len(table) != 1 or "L" in self.work.fixed:
            return None
        ((atom, e),) = table.items()
        if not isinstance(atom, Atom) or e != 1 or "L" not in atom.letters:
            return None
        start = at_time(left, {})
        for k in (3, 2):
            last = normal(read_tree(f"{k}**L"), {})
            lead = power_of(start, last)
            rest = times(right, raised(lead, -1))
            c2, powers = as_product(rest)
            exponent = freeze(as_frozen_exponent(plus(last, rational(1), -1)))
            gain, fine = rational(1), c2 == 1
            for x, y in powers.items():
                if isinstance(x, Atom) and x.kind == "power" and x.args[1] == exponent:
                    gain = times(gain, raised(dict(x.args[0]), y * (k - 1)))
                else:
                    fine = False
            if not fine:
                continue
            new, now = (at_time(left, normal(read_tree(x), {})) for x in ("l + 1", "l"))
            step = self.le(new, times(gain, raised(now, k)), 0)
            if step is not None:
                return self._checked(FoundLine(Line(left, right), "layers", of=[(step, "")], how=f"power {k}"))
        return None

    def _summed(self, left: Poly, right: Poly) -> FoundLine | None:
        """q(X[L]) <= q(X[0]) + sum_l(G), from one layer."""
        c, table = as_product(left)
        if c != 1 or list(table.values()) != [1] or "L" in self.work.fixed or len(right) < 2:
            return None
        (atom,) = table
        if not isinstance(atom, Atom) or atom.kind != "quantity" or "L" not in atom.letters:
            return None
        end = Atom("letter", "L")
        gain: Poly = {}
        for mono, c in plus(right, at_time(left, {}), -1).items():
            folds = [(x, e) for x, e in mono if isinstance(x, Atom) and (x == end or x.name == "sum_l")]
            if len(folds) != 1 or folds[0][1] != 1:
                return None
            x = folds[0][0]
            body = rational(1) if x == end else dict(x.args[0])
            gain = plus(gain, times({tuple(part for part in mono if part[0] != x): c}, body))
        new, now = (at_time(left, normal(read_tree(x), {})) for x in ("l + 1", "l"))
        step = self.le(new, plus(now, gain), 0)
        return step and self._checked(FoundLine(Line(left, right), "layers", of=[(step, "")], how="sum"))

    def _said(self, left: Poly, right: Poly) -> FoundLine | None:
        """A fact that says this as it stands."""
        wanted = line_key(left, right)
        found = (x for x in self.facts(self.places([left, right])) if line_key(x.line.left, x.line.right) == wanted)
        return next(found, None)

    def quantities_near(self, goal: Line) -> list[Atom]:
        """The quantities of a goal, and of the facts that share one with it; none that depends on an index."""
        mine = {x for side in (goal.left, goal.right) for x in atoms_in(side) if x.kind == "quantity"}
        facts = [step for step in self._plain(self.places([goal.left, goal.right])) if step.atoms & mine]
        found = dict.fromkeys(sorted(mine, key=str))
        found |= dict.fromkeys(x for step in facts for x in sorted(step.atoms, key=str) if x.kind == "quantity")
        return [x for x in found if not x.letters & INDEX_ENDS.keys()][:40]

    def suppose(self, goal: Line, pairs: Iterable[tuple[Atom, Atom, int, float]]) -> list[FoundLine]:
        """Those of the lines a <= c·b by which, with facts, the goal would be proved; the lightest first."""
        supposed = [
            FoundLine(Line(of_atom(a), times(rational(c), of_atom(b))), "supposed", a.text, how=repr(w), body=b.text)
            for a, b, c, w in pairs
        ]
        where = self.places([goal.left, goal.right])
        mine = FoundLine(goal, "supposed").atoms.union(*(x.atoms for x in supposed))
        facts = _pruned(self.products(where), mine)
        step = self._solve(goal.left, goal.right, [*self._with_signs(facts), *supposed], tight=False)
        return [] if step is None else [part for part, _ in step.of if part.by == "supposed"]

    def goal(self, line: Line) -> FoundLine | None:
        """A proof of one relation of the claim."""
        found: FoundLine | None = None
        for attempt in (self._said, self.through_layers, self._summed, self.le):
            try:
                found = found or attempt(line.left, line.right)
            except Rejected:
                continue
            except OutOfTime:
                return None
        if found is None or not line.strict:
            return found
        strict = FoundLine(
            Line(line.left, line.right, True), found.by, found.name, found.at, found.of, found.how, found.body
        )
        try:
            return self._checked(strict) or self.strictly(line.left, line.right)
        except (Rejected, OutOfTime):
            return None


def as_frozen_exponent(poly: Poly) -> Poly:
    """The exponent as a power's atom has it: one product without its number."""
    _, table = as_product(poly)
    return {product_of(table)[1]: Fraction(1)}


def _above(poly: Poly) -> Fraction | None:
    """A rational at least as large as a constant, close to it."""
    if not poly or len(poly) != 1:
        return None
    ((mono, c),) = poly.items()
    if any(isinstance(x, Atom) for x, _ in mono):
        return None
    if not mono:
        return c
    value = float(c)
    for p, e in mono:
        assert isinstance(p, int)
        value *= p ** float(e)
    return Fraction(value * (1 + 1e-12)).limit_denominator(10**9) + Fraction(1, 10**9)


def _is_plain(mono: Mono) -> bool:
    return any(isinstance(x, Atom) and x.kind == "function" for x, _ in mono)


def _atoms_of(poly: Poly) -> list[tuple[Atom, Fraction]]:
    found = [(x, e) for mono in poly for x, e in mono if isinstance(x, Atom)]
    _, table = as_product(poly)
    return [*found, *((x, e) for x, e in table.items() if isinstance(x, Atom) and (x, e) not in found)]


def _arrays_of(atom: Atom) -> set[str]:
    """The weights and attentions an atom speaks of; X, where it speaks of none."""
    found = {str((name, places)) for name, places in _items(of_atom(atom)) if name != "X"}
    return found or {name for name, _ in _items(of_atom(atom))}


def _items(poly: Poly) -> Iterator[tuple[str, list[str]]]:
    """Arrays and their places, as texts, anywhere in a polynomial."""
    for mono in poly:
        for base, _ in mono:
            if not isinstance(base, Atom):
                continue
            for arg in base.args:
                if isinstance(arg, str):
                    continue
                if arg and arg[0] == "item":
                    yield arg[1], [poly_text(dict(index)) for index in arg[2:]]
                else:
                    yield from _items(dict(arg))


def _items_of(atom: Atom) -> set[tuple[str, str]]:
    """The arrays of a quantity, each with its first place."""
    return {(kind, places[0]) for kind, places in _items(of_atom(atom))}


@lru_cache(maxsize=1024)
def _letters_and_arrays(text: str) -> tuple[set[str], set[str]]:
    tree = read_tree(text)
    return _free_letters(tree), {node[1] for node in nodes(tree) if node[0] == "item"}


def _free_letters(tree: Tree) -> set[str]:
    if tree[0] == "let":
        return {tree[1]}
    if tree[0] == "num":
        return set()
    found = set().union(*(_free_letters(part) for part in tree if isinstance(part, tuple)), set())
    bound = tree[1] if tree[0] == "all" else tree[1].partition("_")[2] if tree[0] == "call" else ""
    return found - {bound} if bound in INDEX_ENDS else found


def _ordered(goal: set[Atom], facts: Sequence[FoundLine]) -> list[Atom]:
    out = dict.fromkeys(sorted(goal, key=str))
    for step in facts:
        out |= dict.fromkeys(sorted(step.atoms, key=str))
    return list(out)


def _pruned(facts: Sequence[FoundLine], goal: set[Atom]) -> list[FoundLine]:
    """Without facts that no combination can use: an atom of theirs stands on one side in all, and not in the goal.

    Atoms made of others, and those inside of them, may come and go by other rules, and are left alone.
    """
    safe = set(goal)
    for atom in list(goal):
        _inside(atom, safe)
    for step in facts:
        for atom in step.atoms:
            if atom.kind not in ("letter", "quantity") and atom not in safe:
                safe.add(atom)
                _inside(atom, safe)
    # Facts by the atom and the side it stands on; what is removed leaves others alone.
    sides: dict[Atom, tuple[set[int], set[int]]] = {}
    for j, step in enumerate(facts):
        for atom, e in step.vector[0].items():
            sides.setdefault(atom, (set(), set()))[e.numerator > 0].add(j)
    kept = set(range(len(facts)))
    todo = [atom for atom in sides if atom not in safe and not atom.letters & {"l", "L"}]
    while todo:
        below, above = sides[todo.pop()]
        if bool(below) != bool(above):
            for j in [*below, *above]:
                kept.discard(j)
                for atom, e in facts[j].vector[0].items():
                    sides[atom][e.numerator > 0].discard(j)
                    if atom not in safe and not atom.letters & {"l", "L"}:
                        todo.append(atom)
    return [facts[j] for j in sorted(kept)]
