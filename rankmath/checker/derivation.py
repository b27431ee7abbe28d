"""Derivations: a claim from lemmas, line by line. Needs the standard library alone, and searches nothing.

A line says `left <= right` (or `<`) and how it follows: it is an instance of a lemma, of a registered statement
or a hypothesis; a product of powers of lines; a sum of lines; a line folded over an index, put at a place, raised
to a power, or carried through all layers; all cases of a maximum; or true of all numbers within bounds.
A line with a free l or h holds for every layer and every head. Quantities may be zero: see `Derivation.product`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rankmath.checker.boxes import bounds_of, demand_on_box
from rankmath.checker.intervals import Rejected, Undecided
from rankmath.checker.lemmas import lemma_table, usable_statements
from rankmath.checker.monomials import (
    INDEX_ENDS,
    ONE,
    Atom,
    Base,
    Frozen,
    Poly,
    Tree,
    as_product,
    at_time,
    atoms_in,
    bases_of,
    compared_to_one,
    constant_sign,
    constants_apart,
    expanded,
    extreme_of,
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
    rational,
    read_tree,
    rebuilt,
    shape_nonnegative,
    shape_positive,
    times,
    tree_with,
)
from rankmath.checker.network_claims import NETWORK_CLAIMS
from rankmath.checker.reading import demand, in_time, short
from rankmath.definitions.hypotheses import SWITCHES, UNPRINTED

#: What each word for the mask implies beside itself and `any`.
_MASKS = {"none": ("complete", "padding"), "complete": ("none", "padding"), "causal": ("causal_window",)}
#: Words of a lemma whose text speaks of how logits are made of tokens.
_OF_LOGITS = ("W_QK", "delta(", "gamma(", "q_max(", "q_min(")
#: LayerNorms of which a lemma says what the tokens behind them are.
_OWN_NORMS = ("sphere", "column")
#: Quantities of the whole network, and of its first layer: statements with them are not read at a single layer.
WHOLE_NETWORK = frozenset(["product_norm", "height", "section", "contraction", "lipschitz", "normalised_norm"])
WHOLE_NETWORK |= {"repeat_gap", "repeat_share", "repeat_reach", "moved", "mu_before", "linear_gap", "least_root"}
WHOLE_NETWORK |= {"largest_root", "root_growth", "second_norm", "second_least", "scaling_values"}
FIRST_LAYER = frozenset(["jacobian_norm", "influence", "last_share", "is_last"])
MAX_DERIVED = 5000
_EXPONENT_WORDS = ("1", "2", "inf")
_PLACES = {True: "is divided by and may be zero", False: "stands under a root and may be negative"}


@dataclass(frozen=True)
class Line:
    """left <= right, or left < right."""

    left: Poly
    right: Poly
    strict: bool = False

    @property
    def text(self) -> str:
        return f"{poly_text(self.left)} {'<' if self.strict else '<='} {poly_text(self.right)}"


def line_key(left: Poly, right: Poly) -> Frozen:
    """What left <= right says, whichever side its terms stand on and whatever positive number multiplies it."""
    found = freeze(expanded(plus(right, left, -1)))
    scale = abs(found[0][1]) if found else Fraction(1)
    return tuple((mono, c / scale) for mono, c in found)


def oriented(tree: Tree, fixed: Mapping[str, Fraction]) -> list[Line]:
    """A relation as lines; an equation is two."""
    demand(tree[0] == "rel", "a relation is needed")
    a, b = normal(tree[2], fixed), normal(tree[3], fixed)
    if tree[1] == "==":
        return [Line(a, b), Line(b, a)]
    return [Line(a, b, tree[1] == "<")] if tree[1] in ("<=", "<") else [Line(b, a, tree[1] == ">")]


def one_layer(tree: Tree, layer: Tree) -> Tree:
    """A formula about a network, read of the one layer at `layer`: its input is X[layer]."""
    zero = ("num", Fraction(0))
    if tree[0] == "let" and tree[1] == "L":
        return ("num", Fraction(1))
    if tree[0] == "num":
        return tree
    if (tree[0] == "call" and tree[1] in ("sum_l", "prod_l", "max_l", "min_l")) or tree[:2] == ("all", "l"):
        return one_layer(tree_with(tree[2], {"l": zero}), layer)
    if tree[0] == "call" and tree[1] == "recursion":
        return one_layer(tree_with(tree_with(tree[4], {"l": zero}), {tree[2][1]: tree[3]}), layer)
    if tree[0] == "item":
        return ("item", tree[1], ("+", layer, one_layer(tree[2], zero)), *tree[3:])
    return tuple(one_layer(part, layer) if isinstance(part, tuple) else part for part in tree)


def single_relations(tree: Tree) -> Iterator[Tree]:
    """The relations of a formula; what holds for every l or h keeps these as free letters."""
    if tree[0] == "and":
        for part in tree[1:]:
            yield from single_relations(part)
    elif tree[:2] == ("all", "p"):
        for word in _EXPONENT_WORDS:
            yield from single_relations(tree_with(tree[2], {"p": read_tree(word)}))
    elif tree[0] == "all":
        yield from single_relations(tree[2])
    elif tree[0] == "rel":
        yield tree


def meant(texts: Sequence[str], statement: bool = False) -> dict[str, str]:
    """The switches that a lemma depends on and does not name, with what it takes them to be."""
    # What is said of the matrix W_QK alone is no matter of logits.
    places = any(place in text for text in texts for place in ("X[", "P[", "P0["))
    logits = places and any(word in text for text in texts for word in _OF_LOGITS)
    # Attention reads X[l] itself: no norm and no MLP stands in front of it.
    reads = logits and any("X[" in text for text in texts)
    own = any(f"layernorm == {kind}" in text for text in texts for kind in _OWN_NORMS)
    found = {**UNPRINTED, "mlp": "mlp == none"} if reads else dict(UNPRINTED)
    depends = {"norm_at": reads or own, "mlp": reads}
    return {
        switch: default
        for switch, default in found.items()
        if (statement or depends.get(switch, logits)) and not any(text.startswith(f"{switch} ==") for text in texts)
    }


class Derivation:
    """The hypotheses of a claim, and the lines derived so far."""

    def __init__(self, claim: str, given: Sequence[str], key: str = "", deadline: float = float("inf")) -> None:
        self.claim, self.key, self.deadline = read_tree(claim), key, deadline
        self.words = {"bias": "any", "query_bias": "any"}
        self.words |= {name: text.split(" == ")[1] for name, text in UNPRINTED.items()}
        self._said: set[str] = set()
        self.window: Poly | None = None
        self.fixed: dict[str, Fraction] = {}
        self.predicates: set[Tree] = set()
        self.lines: list[Line] = []
        self.known: dict[Frozen, bool] = {}
        self.used: dict[str, str] = {}
        self._above_zero: set[Base] = set()
        self._signs: dict[Atom, bool] = {}  # of atoms, as far as the lines so far tell
        relations: list[Tree] = []
        for text in given:
            self._assume(read_tree(text), relations)
        self.layers, self.heads = self._sizes([self.claim, *relations])
        self.hypotheses = [line for tree in relations for line in self._hypothesis_lines(tree)]
        for line in self.hypotheses:
            self._learn(line)

    # -- hypotheses

    def _assume(self, tree: Tree, relations: list[Tree]) -> None:
        if tree[0] == "and":
            for part in tree[1:]:
                self._assume(part, relations)
        elif tree[0] == "rel" and tree[1] == "==" and tree[2][0] == "let" and tree[2][1] in SWITCHES:
            name, word = tree[2][1], tree[3][1]
            demand(name not in self._said or self.words[name] == word, f"two words for {name}")
            self.words[name] = word
            self._said.add(name)
            if tree[3][0] == "call":  # a mask with a number
                size = normal(tree[3][2], {})
                demand(self.window in (None, size), "two sizes of a window")
                self.window = size
        elif (
            tree[0] == "rel"
            and tree[1] == "=="
            and tree[2][0] == "let"
            and tree[2][1] in ("n", "d", "H", "L", "skip")
            and set(normal(tree[3], {})) <= {ONE}
        ):
            name, value = tree[2][1], normal(tree[3], {}).get(ONE, Fraction(0))
            demand(self.fixed.get(name, value) == value, f"two values of {name}")
            demand(name == "skip" or (value.denominator == 1 and 1 <= value <= 64), f"{name} is a number from 1 to 64")
            self.fixed[name] = value
        elif any(part[0] != "rel" for part in self._formulas(tree)):
            self.predicates.add(tree)
        else:
            words = [node[1] for node in nodes(tree) if node[0] == "let"]
            demand(not set(words) & set(SWITCHES), "a switch stands alone in its hypothesis")
            relations.append(tree)

    def _hypothesis_lines(self, tree: Tree) -> Iterator[Line]:
        for relation in single_relations(tree):
            try:
                yield from oriented(relation, self.fixed)
            except Rejected:  # a hypothesis without a normal form is not used
                continue

    def _sizes(self, trees: Iterable[Tree]) -> tuple[int, int]:
        """How many layers and heads there are at least: as many as are named."""
        layers, heads = 1, 1
        for tree in trees:
            for node in nodes(tree):
                if node[0] == "item":
                    places = [normal(part, self.fixed) for part in node[2:]]
                    numbers = [int(p.get(ONE, Fraction(0))) if set(p) <= {ONE} else -1 for p in places]
                    layers = max(layers, numbers[0] + (0 if node[1] == "X" else 1))
                    heads = max(heads, numbers[1] + 1 if len(numbers) > 1 else 1)
        named = int(self.fixed.get("L", 0)), int(self.fixed.get("H", 0))
        demand(not named[0] or named[0] >= layers, "more layers are named than there are")
        demand(not named[1] or named[1] >= heads, "more heads are named than there are")
        return max(layers, named[0]), max(heads, named[1])

    def _learn(self, line: Line) -> None:
        key = line_key(line.left, line.right)
        self.known[key] = self.known.get(key, False) or line.strict
        self._signs.clear()
        if line.strict and len(key) == 1 and len(key[0][0]) == 1 and key[0][1] > 0:
            ((base, e),) = key[0][0]
            if e.numerator % 2 or self.nonnegative(base):  # the square of what is negative is positive too
                self._above_zero.add(base)

    def knows(self, left: Poly, right: Poly, strict: bool = False) -> bool:
        """Whether left <= right (or <) is a line, or clear from the signs of its terms."""
        difference = expanded(plus(right, left, -1))
        found = self.known.get(line_key(left, right))
        if found is not None and (found or not strict):
            return True
        if not difference:
            return not strict
        try:
            return self._termwise(difference, strict)
        except Rejected:
            return False

    # -- signs

    def nonnegative(self, atom: Base) -> bool:
        """Whether an atom is never negative, by what it is or by a line."""
        if isinstance(atom, int):
            return True
        if atom not in self._signs:
            self._signs[atom] = self._is_nonnegative(atom)
        return self._signs[atom]

    def _is_nonnegative(self, atom: Atom) -> bool:
        if shape_nonnegative(atom) or freeze(of_atom(atom)) in self.known:
            return True
        kind = atom.kind
        if kind == "sum":
            poly = dict(atom.args[0])
            return line_key({}, poly) in self.known or self._all_nonnegative(poly)
        if kind == "function" and atom.name == "log":
            return self.knows(rational(1), dict(atom.args[0]))
        if kind == "power" or (kind == "function" and atom.name in ("tanh", "floor")):
            return self.nonnegative_poly(dict(atom.args[0]))
        each = (self.nonnegative_poly(dict(part)) for part in atom.args if kind in ("max", "min", "fold"))
        return any(each) if kind == "max" else kind in ("min", "fold") and all(each)

    def _mono_nonnegative(self, mono: Iterable[tuple[Base, Fraction]]) -> bool:
        return all((e.denominator == 1 and e.numerator % 2 == 0) or self.nonnegative(base) for base, e in mono)

    def _all_nonnegative(self, poly: Poly) -> bool:
        return all(c > 0 and self._mono_nonnegative(mono) for mono, c in poly.items())

    def nonnegative_poly(self, poly: Poly) -> bool:
        if self._all_nonnegative(poly) or line_key({}, poly) in self.known:
            return True
        c, table = as_product(poly)
        return c > 0 and self._mono_nonnegative(table.items())

    def positive(self, atom: Base, assumed: set[Base] | frozenset[Base] = frozenset()) -> bool:
        """Whether an atom is positive where those assumed are."""
        if isinstance(atom, int) or atom in assumed or shape_positive(atom) or atom in self._above_zero:
            return True
        if atom.kind in ("letter", "quantity"):
            return False
        if atom.kind == "fold":  # what is assumed of one place is not assumed of all
            assumed = {a for a in assumed if isinstance(a, int) or atom.name[-1] not in a.letters}
        each = (self.positive_poly(dict(part), assumed) for part in atom.args)
        if atom.kind == "max":
            return any(each)
        if atom.kind == "power" or (atom.kind == "function" and atom.name in ("tanh", "abs")):
            return next(each)
        return atom.kind in ("sum", "min", "fold") and all(each)

    def positive_poly(self, poly: Poly, assumed: set[Base] | frozenset[Base] = frozenset()) -> bool:
        if self.known.get(line_key({}, poly)):
            return True
        return self._all_nonnegative(poly) and any(
            all(self.positive(base, assumed) for base, _ in mono) for mono in poly
        )

    def demand_denominators(self, poly: Poly) -> None:
        """Nothing is divided by that may be zero, here or inside an atom, and no logarithm is taken of it."""
        self._positive_powers(poly)
        for atom in atoms_in(poly):
            parts = [dict(part) for part in atom.args] if atom.kind not in ("letter", "quantity") else []
            if atom.kind == "power":
                fine = self.nonnegative_poly(parts[1]) or self.positive_poly(parts[0])
                demand(fine, f"{atom} may divide by zero")
            if atom.name == "log":
                demand(self.positive_poly(parts[0]), f"{atom} may be the logarithm of zero")
            for part in parts:
                self._positive_powers(part)

    # -- lines from elsewhere

    def _place(self, name: str, text: str) -> Tree:
        """The value of t, l, h or layer: a place that exists."""
        tree = read_tree(text)
        poly = normal(tree, self.fixed)
        if set(poly) <= {ONE}:
            value = poly.get(ONE, Fraction(0))
            most = self.heads - 1 if name == "h" else self.layers if name == "t" else self.layers - 1
            demand(value.denominator == 1 and 0 <= value <= most, f"there need be no {name} = {text}")
            return tree
        allowed = {"h": ("h",), "t": ("l", "l + 1", "L"), "l": ("l",), "layer": ("l",)}[name]
        demand(any(poly == normal(read_tree(word), self.fixed) for word in allowed), f"{text} is no place for {name}")
        return tree

    def instance(self, text: str, at: Mapping[str, str]) -> Tree:
        """The formula of a lemma with its letters put at places and terms."""
        demand(set(at) <= {"t", "l", "h", *"xyzfgk"}, "at: t, l, h, x, y, z, f, g and k have places")
        letters = {
            name: self._place(name, value) if name in ("t", "l", "h") else read_tree(value)
            for name, value in at.items()
        }
        return tree_with(read_tree(text), letters)

    def lemma(self, line: Line, name: str, at: Mapping[str, str]) -> None:
        """An instance of a lemma whose hypotheses hold here."""
        demand(name in lemma_table(), f"there is no lemma {short(name)}")
        entry = lemma_table()[name]
        self.demand_meant(name, [entry.text, *entry.given])
        sized = tree_with(read_tree(entry.text), {"k": read_tree("0")}) != read_tree(entry.text)
        own = self.window is not None and normal(read_tree(at.get("k", "0")), {}) == self.window
        demand(own or not (sized or "k" in at), "k: the number of the mask is needed")
        for text in entry.given:
            self._demand_met(self.instance(text, at), name)
        self._demand_says(self.instance(entry.text, at), line, name, self.fixed)
        self.used[name] = entry.coq

    def demand_meant(self, name: str, texts: Sequence[str]) -> None:
        """What is meant where nothing is said: of statements all of it, of lemmas what their terms depend on."""
        for switch, default in meant(texts, name in usable_statements()).items():
            demand(f"{switch} == {self.words.get(switch)}" == default, f"{name} needs {default}")

    def statement(self, line: Line, name: str, at: Mapping[str, str]) -> None:
        """An instance of a registered statement, of the whole network or of one layer of it."""
        demand(name in usable_statements(), f"{short(name)} is no statement that is registered as proved")
        order = list(NETWORK_CLAIMS)
        demand(
            self.key not in order or order.index(name) < order.index(self.key),
            f"{name} is registered after {self.key}, which is to be derived",
        )
        _, text, hypotheses = NETWORK_CLAIMS[name]
        self.demand_meant(name, hypotheses)
        trees, fixed = [read_tree(part) for part in (text, *hypotheses)], self.fixed
        if "layer" in at:
            used = {node[1] for tree in trees for node in nodes(tree) if node[0] in ("call", "let")}
            only = self.fixed.get("L") == 1 and at["layer"] == "0"
            demand(only or not used & (WHOLE_NETWORK | {"K"}), f"{name} speaks of the whole network")
            demand(at["layer"] == "0" or not used & FIRST_LAYER, f"{name} speaks of the first layer")
            layer = self._place("layer", at["layer"])
            trees = [one_layer(tree, layer) for tree in trees]
            fixed = {**self.fixed, "L": Fraction(1)}
        letters = {index: self._place(index, value) for index, value in at.items() if index in ("l", "h")}
        for tree in trees[1:]:
            self._demand_met(tree, name, fixed)
        self._demand_says(trees[0], line, name, fixed, letters)
        self.used[name] = usable_statements()[name]

    def _demand_says(
        self,
        tree: Tree,
        line: Line,
        name: str,
        fixed: Mapping[str, Fraction],
        letters: Mapping[str, Tree] | None = None,
    ) -> None:
        wanted = line_key(line.left, line.right)
        for relation in single_relations(tree):
            try:
                for found in oriented(tree_with(relation, letters or {}), fixed):
                    if line_key(found.left, found.right) == wanted and (found.strict or not line.strict):
                        return
            except Rejected:
                continue
        raise Rejected(f"{name} does not say {line.text}")

    def _demand_met(self, tree: Tree, name: str, fixed: Mapping[str, Fraction] | None = None) -> None:
        """A hypothesis of a lemma holds here: it is one of the claim's, or a line above."""
        fixed = self.fixed if fixed is None else fixed
        if tree[0] == "and":
            for part in tree[1:]:
                self._demand_met(part, name, fixed)
        elif any(part[0] != "rel" for part in self._formulas(tree)):
            demand(tree in self.predicates, f"{name} needs {self._formulas(tree)[0][1]}")
        elif tree[0] == "rel" and tree[2][0] == "let" and tree[2][1] in SWITCHES:
            have, word = self.words.get(tree[2][1]), tree[3][1]
            fine = have is not None and (word in ("any", have) or word in _MASKS.get(have, ()))
            if fine and tree[3][0] == "call" and tree[3][2] != ("let", "k"):  # not a window of any size
                fine = word == have and self.window == normal(tree[3][2], {})
            demand(fine, f"{name} needs {tree[2][1]} == {word}")
        else:
            for relation in single_relations(tree):
                for wanted in oriented(relation, fixed):
                    met = self.knows(wanted.left, wanted.right, wanted.strict)
                    demand(met, f"{name} needs {wanted.text}")

    def hypothesis(self, line: Line) -> None:
        wanted = line_key(line.left, line.right)
        for found in self.hypotheses:
            if line_key(found.left, found.right) == wanted and (found.strict or not line.strict):
                return
        raise Rejected(f"no hypothesis says {line.text}")

    # -- rules

    def _cited(self, number: Any) -> Line:
        demand(type(number) is int and 1 <= number <= len(self.lines), f"line {short(number)} does not stand above")
        return self.lines[int(number) - 1]

    def product(self, line: Line, of: Sequence[tuple[Line, Fraction]]) -> None:
        """left/right is the product of the cited left/right to their powers, times a constant that is at most 1.

        All atoms are non-negative. If the left side is 0 there is nothing to show. Otherwise its factors are
        positive, so is the right side of every line whose left side is, and so on: every atom that occurs must be
        reached, so nothing is cancelled that may be 0.
        """
        sides = [as_product(line.left), as_product(line.right)]
        facts = [(as_product(cited.left), as_product(cited.right), power, cited) for cited, power in of]
        for c, table in (*sides, *(side for fact in facts for side in fact[:2])):
            demand(c > 0, "a side of a product that is not positive")
            for base in table:
                demand(self.nonnegative(base), f"{base} may be negative")
        assumed: set[Base] = {base for base, e in sides[0][1].items() if e > 0}
        waiting = list(facts)
        while True:
            ready = [
                fact
                for fact in waiting
                if all(self.positive(base, assumed) for base in fact[0][1])
                and all(e > 0 or self.positive(base, assumed) for base, e in fact[1][1].items())
            ]
            if not ready:
                break
            waiting = [fact for fact in waiting if fact not in ready]
            for fact in ready:
                assumed |= {base for base, e in fact[1][1].items() if e > 0}
                assumed |= {b for base in list(assumed) for b in self._factors_inside(base)}
        tables = [sides[0][1], sides[1][1], *(side[1] for fact in facts for side in fact[:2])]
        for table in tables:
            for base in table:
                demand(self.positive(base, assumed), f"{base} may be zero where it is cancelled")
        balance: dict[Base, Fraction] = {}
        constants: list[tuple[Fraction | int, Fraction]] = []

        def count(side: tuple[Fraction, dict[Base, Fraction]], power: Fraction) -> None:
            constants.append((side[0], power))
            for base, e in side[1].items():
                if isinstance(base, int):
                    constants.append((base, e * power))
                else:
                    balance[base] = balance.get(base, Fraction(0)) + e * power

        count(sides[0], Fraction(1))
        count(sides[1], Fraction(-1))
        for left, right, power, _ in facts:
            demand(power >= 0, "a negative power of a line")
            count(left, -power)
            count(right, power)
        left_over = [base for base, e in balance.items() if e]
        demand(not left_over, f"the powers of {left_over[:1]} do not add up")
        sign = compared_to_one(constants)
        demand(sign <= 0, "the constant is too small")
        if line.strict:
            demand(sign < 0 or any(cited.strict and power > 0 for _, _, power, cited in facts), "nothing is strict")
            never_zero = any(all(self.positive(base) for base in table) for _, table in sides)
            demand(never_zero, "both sides may be zero")

    def _factors_inside(self, base: Base) -> Iterator[Base]:
        """What is positive because an atom is: the base of a power, the argument of tanh, a fold's factors."""
        if isinstance(base, Atom) and (base.kind == "power" or base.name in ("tanh", "prod_l", "min_l", "min_h")):
            poly = dict(base.args[0])
            if base.kind == "power" and not self.positive_poly(dict(base.args[1])):
                return  # 0 to the power 0 is 1
            if len(poly) == 1 and base.kind in ("power", "function", "fold"):
                ((mono, c),) = poly.items()
                if c > 0 and self._mono_nonnegative(mono):
                    yield from (inner for inner, e in mono if e > 0)

    def sum(self, line: Line, of: Sequence[tuple[Line, Poly]]) -> None:
        """right − left is a sum of the cited right − left, each times a non-negative weight, and of terms that
        are not negative."""
        rest, strict = plus(line.right, line.left, -1), False
        for cited, weight in of:
            demand(not weight or self.nonnegative_poly(weight), f"the weight {poly_text(weight)} may be negative")
            self.demand_denominators(weight)
            for sign, side in ((-1, cited.right), (1, cited.left)):
                for mono, c in side.items():
                    rest = plus(rest, times({mono: c}, weight), sign)
            strict = strict or (cited.strict and set(weight) == {ONE})
        rest = expanded(rest)
        demand(self._termwise(rest, line.strict and not strict), f"what is left, {poly_text(rest)}, may be negative")

    def _termwise(self, poly: Poly, strict: bool) -> bool:
        """Whether every term is non-negative; some term positive, where it is to be strict."""
        some = False
        self.demand_denominators(poly)
        for mono, c in constants_apart(poly).items():
            if constant_sign(c) <= 0 or not self._mono_nonnegative(mono):
                return False
            some = some or all(self.positive(base) for base, _ in mono)
        return some or not strict

    def fold(self, line: Line, cited: Line, name: str) -> None:
        """A line that holds for every value of an index, summed, multiplied or maximised over it."""
        kind, _, index = name.partition("_")
        demand(kind in ("sum", "prod", "max", "min") and index in ("l", "h"), f"{short(name)} is no fold")
        if kind == "prod":
            demand(self.nonnegative_poly(cited.left) or not cited.left, "a product of what may be negative")
        found = [self._folded(name, side) for side in (cited.left, cited.right)]
        demand(line_key(*found) == line_key(line.left, line.right), f"the fold says {poly_text(found[0])} <= …")
        demand(cited.strict or not line.strict, "nothing is strict")

    def _folded(self, name: str, poly: Poly) -> Poly:
        end = INDEX_ENDS[name[-1]]
        if end not in self.fixed:
            return folded(name, poly)
        parts = [placed(poly, name[-1], rational(i)) for i in range(int(self.fixed[end]))]
        if name[:3] in ("max", "min"):
            return extreme_of(name[:3], parts)
        out = parts[0]
        for part in parts[1:]:
            out = plus(out, part) if name[:3] == "sum" else times(out, part)
        return out

    def put(self, line: Line, cited: Line, at: Mapping[str, str]) -> None:
        """A line that holds for every value of an index, at one value."""
        left, right = cited.left, cited.right
        for index, text in at.items():
            demand(index in ("l", "h"), f"{short(index)} is no index")
            value = normal(self._place(index, text), self.fixed)
            left, right = placed(left, index, value), placed(right, index, value)
        demand(line_key(left, right) == line_key(line.left, line.right), "at that place it says something else")
        demand(cited.strict or not line.strict, "nothing is strict")

    def term(self, line: Line, name: str, body: Poly, at: str) -> None:
        """A term is at most the maximum and the sum over an index, at least the minimum."""
        kind, _, index = name.partition("_")
        demand(kind in ("sum", "max", "min") and index in ("l", "h") and INDEX_ENDS[index] not in self.fixed, "no term")
        one, all_of = placed(body, index, normal(self._place(index, at), self.fixed)), folded(name, body)
        demand(kind != "sum" or self.nonnegative_poly(body), "terms of a sum may be negative")
        left, right = (all_of, one) if kind == "min" else (one, all_of)
        demand(line_key(left, right) == line_key(line.left, line.right), "that is no term of it")
        demand(not line.strict, "nothing is strict")

    def power(self, line: Line, cited: Line, exponent: Poly) -> None:
        """Both sides to a power that is not negative and may have letters."""
        demand(self.nonnegative_poly(exponent), "the exponent may be negative")
        demand(self.nonnegative_poly(cited.left), "a power of what may be negative")
        left, right = power_of(cited.left, exponent), power_of(cited.right, exponent)
        self.product(line, [(Line(left, right), Fraction(1))])
        demand(not line.strict, "nothing is strict")

    def cases(self, line: Line, atom: Poly, cited: Sequence[Line]) -> None:
        """A maximum or minimum is one of its members, an absolute value the number or its negative: in every case
        the line holds."""
        c, table = as_product(atom)
        demand(c == 1 and list(table.values()) == [1], "one atom is needed for cases")
        (which,) = table
        assert isinstance(which, Atom)
        if which.kind in ("max", "min"):
            members = [dict(part) for part in which.args]
        elif which.kind == "function" and which.name == "abs":
            members = [dict(which.args[0]), times(rational(-1), dict(which.args[0]))]
        else:
            demand(which.kind == "fold" and which.name[:3] in ("max", "min"), "cases of what is no maximum")
            index = which.name[-1]
            letters = {x for side in (line.left, line.right) for base in bases_of(side) for x in base.letters}
            demand(index not in letters, f"{index} has a meaning already")
            members = [dict(which.args[0])]
        demand(len(members) == len(cited), "a case is missing")
        # Under a fold over l each l has its own case, and what is put there must not be taken for its l.
        folds = [base for side in (line.left, line.right) for base in atoms_in(side) if base.kind == "fold"]
        bound = {base.name[-1] for base in folds}
        for base in folds:
            apart = base.name[-1] != which.name[-1] or which not in atoms_in(dict(base.args[0]))
            demand(which.kind != "fold" or apart, f"{which} stands under a fold over its own index")
        demand(not which.letters & bound, f"{which} has another value at every place")
        for member, found in zip(members, cited, strict=True):

            def change(atom: Atom, member: Poly = member) -> Poly | None:
                return member if atom == which else None

            left, right = rebuilt(line.left, change), rebuilt(line.right, change)
            demand(line_key(left, right) == line_key(found.left, found.right), "a case says something else")
            demand(found.strict or not line.strict, "nothing is strict")

    def box(self, line: Line, cited: Sequence[Line]) -> None:
        """A relation of at most three numbers that holds wherever they lie within the bounds that lines give."""
        mine = {x for side in (line.left, line.right) for x in atoms_in(side) if x.kind in ("letter", "quantity")}
        signs: list[tuple[Poly, Poly]] = [({}, of_atom(x)) for x in mine if self.nonnegative(x)]
        try:
            found = bounds_of([*signs, *((other.left, other.right) for other in cited)])
            ends = {x: pair for x, pair in found.items() if x in mine}
            demand_on_box(line.left, line.right, line.strict, ends, self.deadline)
        except Undecided as why:
            raise Rejected(str(why)) from None

    def layers_rule(self, line: Line, cited: Line, how: str) -> None:
        """From a layer to all: Q(X[l + 1]) <= G(l)·Q(X[l]) gives Q(X[L]) <= prod_l(G)·Q(X[0]), and so from below;
        with a sum in the place of the product; and from Q(X[l + 1]) <= C·Q(X[l])^k follows
        Q(X[L]) <= C^((k^L − 1)/(k − 1))·Q(X[0])^(k^L)."""
        letter = {name: normal(read_tree(name), {}) for name in ("l", "l + 1", "L", "0")}
        demand("L" not in self.fixed, "the number of layers is known")
        upper = how != "below"
        goal, start = (line.left, line.right) if upper else (line.right, line.left)
        new, bound = (cited.left, cited.right) if upper else (cited.right, cited.left)
        for base in atoms_in(goal):
            demand(not base.letters & {"l", "h"} and base.kind != "fold", "a size that depends on the layer")
        now = {name: at_time(goal, place) for name, place in letter.items()}
        demand(now["L"] == goal and now["0"] != goal, "a size of the tokens X[L] is needed")
        demand(all(not isinstance(b, Atom) or "L" not in b.letters for m in now["0"] for b, _ in m), "L is elsewhere")
        demand(new == now["l + 1"], "that is no line about one layer")
        demand(self.nonnegative_poly(goal) and not line.strict, "a size that may be negative")
        if how == "sum":
            gain = plus(bound, now["l"], -1)
            wanted = plus(now["0"], folded("sum_l", gain))
        else:
            self._positive_powers(bound)
            (c, table), (c2, part) = as_product(bound), as_product(now["l"])
            k = _exact_fraction(how.split()[1]) if how.startswith("power ") else Fraction(1)
            demand(k >= 1 and k.denominator == 1, "a whole power is needed")
            for factor_of, e in part.items():
                table[factor_of] = table.get(factor_of, Fraction(0)) - k * e
            factor, mono = product_of({x: e for x, e in table.items() if e})
            gain = {mono: c * factor / c2 ** int(k)}
            self._positive_powers(gain)
            demand(self.nonnegative_poly(gain), "a factor that may be negative")
            if how.startswith("power "):
                demand(k > 1, "a power above 1 is needed")
                between = self.nonnegative_poly(now["l"]) and self.nonnegative_poly(now["0"])
                demand(between, "a size that may be negative in a layer between: its power does not grow with it")
                fixed_factor = all("l" not in x.letters for x in bases_of(gain))
                demand(fixed_factor, "the factor depends on the layer")
                last = normal(read_tree(f"{k}**L"), {})
                exponent = times(plus(last, rational(1), -1), rational(1 / (k - 1)))
                wanted = times(power_of(gain, exponent), power_of(now["0"], last))
            else:
                demand(how in ("product", "below"), f"{short(how)} is no way through the layers")
                wanted = times(folded("prod_l", gain), now["0"])
        demand(line_key(start, wanted) == (), f"through all layers it says {poly_text(wanted)}")

    def _positive_powers(self, poly: Poly) -> None:
        for mono in poly:
            for base, e in mono:
                demand(e > 0 or self.positive(base), f"{base} is divided by and may be zero")

    # -- a derivation

    def add(self, entry: Any) -> Line:
        """Check one line and keep it."""
        in_time(self.deadline)
        demand(type(entry) is dict and type(entry.get("says")) is str, "a line says something")
        tree = read_tree(entry["says"])
        demand(tree[0] == "rel" and tree[1] in ("<=", "<"), "a line says left <= right or left < right")
        line = Line(normal(tree[2], self.fixed), normal(tree[3], self.fixed), tree[1] == "<")
        by, at, of = entry.get("by"), entry.get("at", {}), entry.get("of", [])
        demand(set(entry) <= {"says", "by", "at", "of", "name", "how", "body"}, "a line has a field that is not known")
        demand(type(at) is dict and all(type(x) is str for pair in at.items() for x in pair), "at: places are needed")
        demand(type(of) is list and len(of) <= 200, "of: a list of lines is needed")
        name, how = entry.get("name", ""), entry.get("how", "")
        demand(type(name) is str and type(how) is str, "name, how: texts are needed")
        # Normal forms have the rules of roots and quotients, so whatever is read must have a meaning before.
        self.demand_meaning(tree)
        for letter, text in at.items():
            if letter in "xyzfg":
                self.demand_meaning(read_tree(text))

        def term(text: str) -> Poly:
            self.demand_meaning(read_tree(text))
            return normal(read_tree(text), self.fixed)

        def pairs() -> list[tuple[Line, str]]:
            for part in of:
                demand(type(part) is list and len(part) == 2 and type(part[1]) is str, "of: [line, weight] is needed")
            return [(self._cited(part[0]), part[1]) for part in of]

        def only() -> Line:
            demand(len(of) == 1, "one line is needed")
            return self._cited(of[0])

        if by == "lemma":
            self.lemma(line, name, at)
        elif by == "statement":
            self.statement(line, name, at)
        elif by == "hypothesis":
            self.hypothesis(line)
        elif by == "product":
            self.product(line, [(cited, _exact_fraction(weight)) for cited, weight in pairs()])
        elif by == "sum":
            self.sum(line, [(cited, term(weight)) for cited, weight in pairs()])
        elif by == "fold":
            self.fold(line, only(), name)
        elif by == "put":
            self.put(line, only(), at)
        elif by == "term":
            demand(type(entry.get("body")) is str and set(at) == {name[-1:]}, "body, at: needed")
            self.term(line, name, term(entry["body"]), at[name[-1:]])
        elif by == "power":
            self.power(line, only(), term(how))
        elif by == "cases":
            self.cases(line, term(name), [self._cited(number) for number in of])
        elif by == "box":
            self.box(line, [self._cited(number) for number in of])
        elif by == "layers":
            self.layers_rule(line, only(), how)
        else:
            raise Rejected(f"{short(by)} is no rule")
        self.demand_denominators(line.left)
        self.demand_denominators(line.right)
        self.lines.append(line)
        self._learn(line)
        return line

    def goals(self) -> list[Line]:
        """What is to be derived: every relation of the claim."""
        found = []
        relations = list(single_relations(self.claim))
        counted = sum(node[0] == "rel" for node in nodes(self.claim))
        demand(bool(relations) and counted <= len(relations), "the claim has a part that is no relation")
        calls = [n for n in nodes(self.claim) if n[0] == "call" and n in self._formulas(self.claim)]
        demand(not calls, "the claim has a predicate")
        for relation in relations:
            found += oriented(relation, self.fixed)
        return found

    def parts_with_meaning(self) -> Iterator[tuple[Base, bool]]:
        """What the claim divides by or takes the logarithm of (it must be positive), and what it takes roots of."""
        for relation in single_relations(self.claim):
            yield from self._meaning(relation)

    def demand_meaning(self, tree: Tree) -> None:
        """Nothing is divided by that may be zero, and no root is taken of what may be negative."""
        for base, positive in self._meaning(tree):
            fine = self.positive(base) if positive else self.nonnegative(base)
            demand(fine, f"{base} {_PLACES[positive]}")

    def _meaning(self, tree: Tree) -> Iterator[tuple[Base, bool]]:
        for node in nodes(tree):
            of = {"/": 2, "**": 1}.get(node[0], 2 if node[:2] in (("call", "log"), ("call", "sqrt")) else 0)
            if of:
                yield from self._meaning_of(node, of)

    def _meaning_of(self, node: Tree, of: int) -> Iterator[tuple[Base, bool]]:
        exponent = normal(node[2], self.fixed) if node[0] == "**" else rational(1)
        c, table = as_product(normal(node[of], self.fixed))
        if node[0] == "**" and set(exponent) <= {ONE} and exponent.get(ONE, Fraction(0)).denominator == 1:
            if exponent.get(ONE, Fraction(0)) >= 0:
                return
            exponent = rational(-1)
        zero = node[1] == "sqrt" or (node[0] == "**" and self.nonnegative_poly(exponent))
        demand(c > 0 or (c == 0 and zero), "a division by zero, or a root of a negative number")
        yield from ((base, not zero) for base in table)

    def _formulas(self, tree: Tree) -> list[Tree]:
        if tree[0] == "and":
            return [found for part in tree[1:] for found in self._formulas(part)]
        return self._formulas(tree[2]) if tree[0] == "all" else [tree]

    def demand_proved(self) -> None:
        """Every relation of the claim is a line, and the claim has a meaning wherever its hypotheses hold."""
        for base, positive in self.parts_with_meaning():
            fine = self.positive(base) if positive else self.nonnegative(base)
            demand(fine, f"{base} in the claim may be {'zero' if positive else 'negative'}")
        for goal in self.goals():
            known = self.known.get(line_key(goal.left, goal.right))
            demand(known is not None and (known or not goal.strict), f"it is not derived that {goal.text}")


def _exact_fraction(text: str) -> Fraction:
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise Rejected(f"{short(text)} is no fraction") from None
    demand(max(abs(value.numerator), value.denominator) <= 10_000, "a power with more than four digits")
    return value


def check_derivation(content: Mapping[str, Any], words: list[str], deadline: float) -> tuple[str, str]:
    """The verdict on a certificate of kind `derivation`: its data are the lines; every relation of the claim is one."""
    data = content["data"]
    demand(type(data) is dict and set(data) == {"lines"}, "data: the lines are needed, and nothing else")
    lines = data["lines"]
    demand(type(lines) is list and 1 <= len(lines) <= MAX_DERIVED, f"data.lines: 1 to {MAX_DERIVED} lines are needed")
    demand(content["hints"] == {}, "hints: a derivation has none")
    work = Derivation(content["claim"], content["given"], content["statement"], deadline)
    words.append(f"claim: {content['claim']}")
    words.append(f"given: {', '.join(content['given']) or 'nothing'}")
    for number, entry in enumerate(lines, start=1):
        try:
            line = work.add(entry)
        except Rejected as why:
            raise Rejected(f"line {number}: {why}") from None
        words.append(f"{number}. {line.text}  [{_how(entry)}]")
    work.demand_proved()
    words.append(f"derived from {len(work.used)} lemmas and statements:")
    for name, theorem in sorted(work.used.items()):
        words.append(f"  {name}: {'Coq: ' + theorem if theorem else 'no theorem in Coq yet'}")
    return "accept", ""


def _how(entry: Mapping[str, Any]) -> str:
    at = ", ".join(f"{name} = {value}" for name, value in entry.get("at", {}).items())
    of = ", ".join(
        f"({part[0]})" + (f"^{part[1]}" if entry["by"] == "product" and part[1] != "1" else "")
        if isinstance(part, list)
        else f"({part})"
        for part in entry.get("of", [])
    )
    name = str(entry.get("name", ""))
    shown = {"lemma": name, "statement": name, "hypothesis": "given"}.get(entry["by"], f"{entry['by']} {name}".strip())
    return shown + (f" at {at}" if at else "") + (f" of {of}" if of else "")
