"""A derivation as a theorem of Coq: every line an assertion, proved by the lemma or the rule that it names.

The words are those of proofs/coq/Network.v, the lemmas those of Lemmas.v, the rules those of Derivation.v. Coq
finds the powers of a product again, by linear arithmetic in logarithms.
"""

from __future__ import annotations

import ast
import math
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from rankmath.certificates.coq_words import (
    BINDERS,
    BOUNDS,
    NOT_IN_COQ,
    SIZES,
    NoCoq,
    Printer,
    Row,
    by_letters,
    demand_powers,
    demand_words,
    exponents,
    header,
    hypotheses_meant,
    hypothesis,
    identifier,
    lemma_rows,
    letters,
    parsed,
    proposition,
    spoken_of,
    statement_rows,
)
from rankmath.checker.boxes import bounds_of
from rankmath.checker.derivation import Derivation, Line, line_key, one_layer, oriented, single_relations
from rankmath.checker.monomials import (
    Atom,
    Poly,
    Tree,
    as_product,
    at_time,
    atoms_in,
    expanded,
    normal,
    of_atom,
    plus,
    poly_text,
    product_of,
    read_tree,
    rebuilt,
    times,
    tree_with,
)
from rankmath.files import proofs_folder

_INDICES = ("l", "h", "i")
_ORDER = ("t", "l", "h")
#: What a theorem is about beside the network, with the name of what is known of it.
_GIVEN = {"r": "Hr", "x_star": "Hx", "center": "Hc"}
PRIMES = (2, 3, 5, 7)


def _free(text: str) -> list[str]:
    used = letters([text])
    return [index for index in _INDICES if index in used]


def _forall(indices: Sequence[str]) -> str:
    return "".join(f"forall {index}, {BOUNDS[index]} -> " for index in indices)


def _intros(indices: Sequence[str]) -> str:
    return f"intros {' '.join(f'{index} B{index}' for index in indices)}. " if indices else ""


def _numbers(texts: Sequence[str]) -> str:
    """ln of the whole numbers of some formulas from ln of primes, and bounds of these."""
    found = {int(number) for text in texts for number in re.findall(r"\b\d+\b", text)}
    todo, lines, primes = sorted(found, reverse=True), [], set()
    done: set[int] = set()
    while todo:
        number = todo.pop()
        if number < 2 or number in done:
            continue
        done.add(number)
        prime = next(p for p in range(2, number + 1) if number % p == 0)
        primes.add(prime)
        if prime == number:
            continue
        rest = number // prime
        lines.append(f"pose proof (ln_split {prime} {rest} {number} ltac:(lra) ltac:(lra) ltac:(lra)).")
        todo.append(rest)
    lines += [f"pose proof ln{prime}." for prime in sorted(primes & set(PRIMES))]
    for prime in sorted(primes - set(PRIMES)):
        low = math.floor(math.log(prime) * 10**6)
        lines.append(f"assert ({low} / 1000000 <= ln {prime} <= {low + 1} / 1000000) by interval with (i_prec 40).")
    return " ".join(lines)


def _in_primes(text: str, where: str = "") -> str:
    """Tactics that write the composite numbers of a term as products."""
    composite = {int(m) for m in re.findall(r"\b\d+\b", text)} - {0, 1, *PRIMES}
    return "".join(f"replace {m} with ({_as_primes(m)}){where} by lra. " for m in sorted(composite))


def _as_primes(number: int) -> str:
    prime = next(p for p in range(2, number + 1) if number % p == 0)
    return str(number) if prime == number else f"{prime} * {_as_primes(number // prime)}"


class _Placed(ast.NodeTransformer):
    """Indices that are not bound by a fold put at the first place."""

    def __init__(self, indices: frozenset[str]) -> None:
        self.indices = indices

    def visit_Call(self, node: ast.Call) -> ast.AST:
        bound = node.func.id[-1:] if isinstance(node.func, ast.Name) and node.func.id[-2:-1] == "_" else ""
        arguments = [_Placed(self.indices - {bound}).visit(part) for part in node.args]
        return ast.Call(node.func, arguments, [])

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(0) if node.id in self.indices else node


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _factors(node.left) + _factors(node.right)
    return [node]


def _factored(node: ast.expr) -> ast.expr:
    """A sum with the factors that all its terms have taken out: what the rule for products takes as one factor."""
    terms: list[tuple[str, list[str]]] = []

    def collect(part: ast.expr, sign: str) -> None:
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add | ast.Sub):
            collect(part.left, sign)
            collect(part.right, sign if isinstance(part.op, ast.Add) else {"+": "-", "-": "+"}[sign])
        else:
            terms.append((sign, [ast.unparse(factor) for factor in _factors(part)]))

    collect(node, "+")
    common = [text for text in terms[0][1] if all(text in factors for _, factors in terms)]
    if len(terms) < 2 or not common:
        return node
    for _, factors in terms:
        for text in common:
            factors.remove(text)
    inside = " ".join(f"{sign} {'*'.join(factors) or '1'}" for sign, factors in terms).removeprefix("+ ")
    return parsed("*".join([f"({inside})", *common]))


def _both(proofs: Sequence[str]) -> str:
    """Tactics for a conjunction from those for its parts."""
    *rest, proof = proofs
    for how in reversed(rest):
        proof = f"split. {{ {how} }} {proof}"
    return proof


def _quotient(above: Poly, below: Poly, power: int) -> Poly:
    """above/below^power, of two products."""
    (c, table), (c2, part) = as_product(above), as_product(below)
    for base, e in part.items():
        table[base] = table.get(base, Fraction(0)) - power * e
    factor, mono = product_of({base: e for base, e in table.items() if e})
    return {mono: c * factor / c2**power}


class DerivationPrinter:
    """The theorem of one derivation."""

    def __init__(self, claim: str, given: Sequence[str], lines: Sequence[Mapping[str, Any]]) -> None:
        self.claim, self.given, self.lines = claim, [by_letters(text) for text in given], lines
        self.rows = {row["name"]: row for row in (*lemma_rows(), *statement_rows())}
        self.printer, self.now = Printer(), 0
        self.work = Derivation(claim, given)
        self.fixed, self.meant = self.work.fixed, hypotheses_meant(self.work.words)
        texts = [claim, *self.given, *(str(entry["says"]) for entry in lines)]
        self.bridged = demand_words(texts, self.work.words) or any(entry["by"] == "statement" for entry in lines)
        demand_powers([claim, *self.given], self._positive)
        self.about = spoken_of([*texts, *self._cited_texts()])

    def _positive(self, text: str) -> bool:
        return self.work.positive_poly(normal(read_tree(text), self.fixed))

    def _cited_texts(self) -> list[str]:
        """The texts of the lemmas and statements that the lines cite."""
        rows = [self.rows.get(str(entry.get("name"))) for entry in self.lines if entry["by"] in ("lemma", "statement")]
        return [text for row in rows if row is not None for text in (row["claim"], *row["given"])]

    # -- lines

    def says(self, number: int) -> str:
        return str(self.lines[number - 1]["says"])

    def cited(self, number: int, indices: Sequence[str]) -> str:
        """The line `number` at the places l and h of the line that cites it, at the first where that has none."""
        free = _free(self.says(number))
        places = "".join(f" {x} B{x}" if x in indices else " 0%nat ltac:(place)" for x in free)
        return f"(F{number}{places})"

    def cited_text(self, number: int, indices: Sequence[str]) -> str:
        """What the line says at those places."""
        missing = frozenset(_free(self.says(number))) - set(indices)
        return ast.unparse(_Placed(missing).visit(parsed(self.says(number)))) if missing else self.says(number)

    def line(self, number: int) -> str:
        self.now = number
        entry = self.lines[number - 1]
        text = str(entry["says"])
        free = _free(text)
        said = self.printer.formula(parsed(text))
        proof = getattr(self, f"by_{entry['by']}", self.by_other)(entry, free)
        known = " ".join(
            f"pose proof {self.cited(k, free)}."
            for k in range(1, number)
            if _free(self.says(k)) and set(_free(self.says(k))) <= set(free)
        )
        steps = " ".join(part for part in (_intros(free).strip(), known, proof) if part)
        return f"  assert (F{number} : {_forall(free)}{said}).\n  {{ {steps} }}"

    def by_other(self, entry: Mapping[str, Any], free: Sequence[str]) -> str:
        raise NoCoq(f"Coq has nothing for the rule {entry['by']}")

    def by_lemma(self, entry: Mapping[str, Any], free: Sequence[str]) -> str:
        name, at = str(entry["name"]), {str(k): str(v) for k, v in entry.get("at", {}).items()}
        if name not in self.rows:
            raise NoCoq(f"the lemma {name} has no theorem")
        row = self.rows[name]
        arguments = self._arguments(row, at, "N", "Hp", "met")
        unfold = f" {self._in_sizes()}".rstrip()
        for k, text in enumerate(self.given):
            if (match := re.fullmatch(r"skip == (-?[\d./]+)", text)) and "skip" in row["claim"]:
                value = self.printer.term(parsed(match[1]))
                unfold += f" rewrite ?G{k} in Q; rewrite ?(Rabs_pos_eq {value}), ?(Rabs_left1 {value}) in Q by lra."
                unfold += " rewrite ?Rmult_0_l, ?Rplus_0_l in Q."
        if any(value.startswith("-(") for value in at.values()):
            unfold += " rewrite ?exp_Ropp in Q."
        numbers = _numbers([str(entry["says"]), row["claim"]])
        return f"{numbers} pose proof (L_{identifier(name)} {' '.join(arguments)}) as Q.{unfold} same Q."

    def _arguments(self, row: Row, at: Mapping[str, str], network: str, proper: str, met: str) -> list[str]:
        """What a theorem of a lemma or a statement is applied to: places, terms, and proofs of its hypotheses."""
        arguments, functions = [network, proper], letters([row["claim"], *row["given"]]) & set("fg")
        for line in header(row)[1:]:
            match re.match(r"forall ([\w ]+?)(?: : ([^,]*))?,", line):
                case None:
                    arguments.append(f"ltac:({met})")
                case found if found[1] in _ORDER:
                    arguments += [self.printer.place(parsed(at.get(found[1], found[1]))), "ltac:(place)"]
                case found if found[1] == "center" and network != "N":
                    place = network.split(" ", 2)[2].rstrip(")")
                    arguments += [f"(from_layer {place} center)", f"(at_centers N {place} center ltac:(place) Hc)"]
                case found if found[1] in _GIVEN:
                    arguments += [found[1], _GIVEN[found[1]]]
                case found if found[2]:
                    for letter in found[1].split():
                        inner = Printer(bound=("h",) if functions else ()).term(parsed(at[letter]))
                        arguments.append(f"(fun h : nat => {inner})" if letter in functions else inner)
                case found:
                    raise NoCoq(f"{row['name']} speaks of {found[1]}")
        return arguments

    def by_statement(self, entry: Mapping[str, Any], free: Sequence[str]) -> str:
        """A registered statement about the network, or about one of its layers as a network of one layer."""
        name, at = str(entry["name"]), {str(k): str(v) for k, v in entry.get("at", {}).items()}
        if name not in self.rows:
            raise NoCoq(f"{name} has no theorem about these networks: {NOT_IN_COQ.get(name, 'it is not registered')}")
        row, layer = self.rows[name], at.get("layer")
        tree, fixed = read_tree(row["claim"]), self.fixed
        network, proper, met = "N", "Hp", "met"
        if layer is not None:
            tree, fixed = one_layer(tree, read_tree(layer)), {**fixed, "L": Fraction(1)}
            if self.fixed.get("L") != 1:
                place = self.printer.place(parsed(layer))
                network, proper, met = f"(at_layer N {place})", f"(at_proper N {place} Hp ltac:(place))", "met_at"
        places: dict[str, str] = {index: at[index] for index in ("l", "h") if index in at}
        trees: dict[str, Tree] = {index: read_tree(text) for index, text in places.items()}
        (line,) = oriented(read_tree(str(entry["says"])), self.fixed)
        wanted = line_key(line.left, line.right)
        whole = f"(S_{identifier(name)} {' '.join(self._arguments(row, at, network, proper, met))})"
        found = self._leaves(parsed(row["claim"]), whole, {**places, "l": "0"} if layer is not None else places)
        for relation, (proof, equation) in zip(single_relations(tree), found, strict=True):
            for side, said in enumerate(oriented(tree_with(relation, trees), fixed)):
                if line_key(said.left, said.right) == wanted and (said.strict or not line.strict):
                    of = f"({['Req_le', 'Req_ge'][side]} _ _ {proof})" if equation else proof
                    numbers = _numbers([str(entry["says"]), row["claim"]])
                    return f"{numbers} pose proof {of} as Q. {self._in_sizes()}same Q."
        raise NoCoq(f"{name} does not say {line.text}")

    def _leaves(self, node: ast.expr, proof: str, places: Mapping[str, str]) -> list[tuple[str, bool]]:
        """The relations of a claim in their order, as proofs from one of the claim; whether they are equations."""
        match node:
            case ast.BoolOp(op=ast.And(), values=parts):
                return self._projected(parts, proof, places)
            case ast.Call(func=ast.Name(id="all_p"), args=[inner]):
                return self._projected(exponents(inner), proof, places)
            case ast.Call(func=ast.Name(id=name), args=[inner]) if name[:4] == "all_":
                place = self.printer.place(parsed(places.get(name[-1], name[-1])))
                within = "Nat.lt_0_1" if name[-1] == "l" and "at_layer" in proof else "ltac:(place)"
                return self._leaves(inner, f"({proof} {place} {within})", places)
            case ast.Compare(left=left, ops=ops, comparators=rights) if len(ops) > 1:
                pairs = zip([left, *rights], ops, rights, strict=False)
                return self._projected([ast.Compare(a, [op], [b]) for a, op, b in pairs], proof, places)
        return [(proof, isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq))]

    def _projected(self, parts: Sequence[ast.expr], proof: str, places: Mapping[str, str]) -> list[tuple[str, bool]]:
        found = []
        for number, part in enumerate(parts):
            last = number == len(parts) - 1
            found += self._leaves(part, proof if last else f"(proj1 {proof})", places)
            proof = f"(proj2 {proof})"
        return found

    def _in_sizes(self) -> str:
        """Tactics that write what Q says with the sizes and the skip that are given, and of the layer it is about."""
        sizes = "; ".join(f"rewrite ?{fact} in Q" for fact in self.sizes())
        unfold = "at_words Q. " if self.bridged else ""
        if sizes:
            unfold += f"{sizes}; cbn [sum maxi minf prodf Nat.sub] in Q; change (INR 1) with 1 in Q; "
            unfold += "rewrite ?Rplus_0_l in Q. "
        return unfold

    def sizes(self) -> list[str]:
        return [f"E{match[1]}" for text in self.given if (match := re.fullmatch(r"([ndHL]) == \d+", text))]

    def by_hypothesis(self, entry: Mapping[str, Any], free: Sequence[str]) -> str:
        arguments = "".join(f" {index} B{index}" for index in free)
        tries = " | ".join(f"same (G{k}{arguments}) | same G{k}" for k, _ in self.hypotheses())
        return f"first [{tries}]."

    def by_product(self, entry: Mapping[str, Any], free: Sequence[str]) -> str:
        numbers = [int(part[0]) for part in entry.get("of", [])]
        facts = " ".join(
            f"assert (C{k} : fact ({self.product(self.cited_text(k, free))})) by cite {self.cited(k, free)}."
            for k in numbers
        )
        constants = _numbers([str(entry["says"]), *(self.says(k) for k in numbers)])
        return f"{facts} {constants} enough ({self.product(str(entry['says']))}) by lra. by_product."

    def product(self, text: str) -> str:
        """The line with both sides as products."""
        node = parsed(text)
        assert isinstance(node, ast.Compare)
        sign = "<" if isinstance(node.ops[0], ast.Lt) else "<="
        return f"{self.printer.term(_factored(node.left))} {sign} {self.printer.term(_factored(node.comparators[0]))}"

    def by_power(self, entry: Mapping[str, Any], free: Sequence[str]) -> str:
        number, exponent = int(entry["of"][0]), self.printer.natural(parsed(str(entry["how"])))
        if exponent is None:
            raise NoCoq(f"Coq has nothing for the power {entry['how']}")
        node = parsed(self.says(number))
        assert isinstance(node, ast.Compare)
        left, right = self.printer.term(node.left), self.printer.term(node.comparators[0])
        constants = _numbers([str(entry["says"]), self.says(number)])
        return (
            f"assert (C : fact ({left} ^ {exponent} <= {right} ^ {exponent})) by "
            f"(apply pow_incr; split; [nonneg|pose proof {self.cited(number, free)}; lra]). {constants} by_product."
        )

    def by_sum(self, entry: Mapping[str, Any], free: Sequence[str]) -> str:
        """The cited lines times their weights; what is left of the difference is not negative, term by term."""
        parts = []
        (line,) = oriented(read_tree(str(entry["says"])), self.fixed)
        rest = plus(line.right, line.left, -1)
        for k, (number, weight) in enumerate(entry.get("of", [])):
            text, cited = self.cited_text(int(number), free), self.cited(int(number), free)
            term, node = self.printer.term(parsed(str(weight))), parsed(text)
            assert isinstance(node, ast.Compare)
            left, right = self.printer.term(node.left), self.printer.term(node.comparators[0])
            parts.append(
                f"assert (W{k} : 0 <= {term} * ({right} - {left})) by "
                f"(apply Rmult_le_pos; [nonneg|pose proof {cited}; lra])."
            )
            (found,) = oriented(read_tree(text), self.fixed)
            for sign, side in ((-1, found.right), (1, found.left)):
                for mono, c in side.items():
                    rest = plus(rest, times({mono: c}, normal(read_tree(str(weight)), self.fixed)), sign)
        rest = expanded(rest)
        if not rest and [weight for _, weight in entry.get("of", [])] == ["1"]:  # one line in another form
            return f"same {self.cited(int(entry['of'][0][0]), free)}."
        for k, (mono, c) in enumerate(rest.items()):
            if mono and c > 0:
                above = line.strict and all(self.work.positive(base) for base, _ in mono)
                less, proof = ("<", "posi") if above else ("<=", "nonneg")
                parts.append(f"assert (R{k} : 0 {less} {self.printer.term(parsed(poly_text({mono: c})))}) by {proof}.")
        return f"{' '.join(parts)} by_sum."

    def by_fold(self, entry: Mapping[str, Any], free: Sequence[str]) -> str:
        kind, index = str(entry["name"]).split("_")
        cited = self.cited(int(entry["of"][0]), [*free, index])
        bound = f"assert (B{index} : {BOUNDS[index]}) by lia; "
        step = {
            "sum": self._summed(int(entry["of"][0]), index, cited),
            "max": f"apply maxi_lub; intros {index} M; {bound}pose proof {cited} as Q; below_max {index} Q",
            "min": f"apply minf_mono; intros {index} M; {bound}pose proof {cited} as Q; same Q",
            "prod": f"apply prodf_le; intros {index} B{index}; split; [nonneg|pose proof {cited} as Q; same Q]",
        }[kind]
        return f"{step}."

    def _summed(self, number: int, index: str, cited: str) -> str:
        """The sum of both sides, where constants stand outside of it as the line has them."""
        node = parsed(self.says(number))
        assert isinstance(node, ast.Compare)
        end = {"l": "layers N", "h": "heads N"}[index]
        left, right = (f"(fun {index} : nat => {self.printer.term(side)})" for side in (node.left, node.comparators[0]))
        inside = f"intros {index} B{index}; pose proof {cited} as Q"
        first = f"into_sums; apply sum_le; {inside}; same Q"
        return (
            f"first [solve [{first}] | pose proof (sum_le ({end}) {left} {right} ltac:({inside}; lra)) as C; "
            "cbv beta in C; out_of_sums C; same C]"
        )

    def by_put(self, entry: Mapping[str, Any], free: Sequence[str]) -> str:
        number = int(entry["of"][0])
        at = {str(k): str(v) for k, v in entry["at"].items()}
        places = " ".join(
            f"{self.printer.place(parsed(at.get(index, index)))} ltac:(place)" for index in _free(self.says(number))
        )
        return f"pose proof (F{number} {places}) as Q. same Q."

    def by_term(self, entry: Mapping[str, Any], free: Sequence[str]) -> str:
        kind, index = str(entry["name"]).split("_")
        inner = Printer(bound=(index,)).term(parsed(str(entry["body"])))
        place = self.printer.place(parsed(str(entry["at"][index])))
        end = {"l": "layers N", "h": "heads N"}[index]
        body = f"(fun {index} : nat => {inner})"
        theorem = {
            "max": f"maxi_ub ({end} - 1) {body} {place} ltac:(lia)",
            "min": f"minf_le ({end} - 1) {body} {place} ltac:(lia)",
            "sum": f"sum_term_le ({end}) {body} {place} ltac:(intros; nonneg) ltac:(place)",
        }[kind]
        return f"pose proof ({theorem}) as Q. cbv beta in Q. same Q."

    def by_cases(self, entry: Mapping[str, Any], free: Sequence[str]) -> str:
        """One case after the other: of a maximum or minimum each member, of an absolute value x and -x."""
        node = parsed(str(entry["name"]))
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        kind, _, index = node.func.id.partition("_")
        of = [int(number) for number in entry["of"]]
        if index:
            body = self.printer.term(node).removeprefix("(").removesuffix(")")
            theorem = {"max": "maxi_is", "min": "minf_is"}[kind]
            arguments = body.partition(" ")[2]
            place = f"destruct ({theorem} {arguments}) as [{index} [M E]]. rewrite E. "
            bound = f"assert (B{index} : {BOUNDS[index]}) by lia. "
            return f"{place}{bound}pose proof {self.cited(of[0], [*free, index])} as Q. same Q."
        if kind == "abs":
            members = [self.printer.term(node.args[0])]
        else:
            members = [self.printer.term(part) for part in node.args]
        steps = []
        for k in range(len(of) - 1):
            whole = f"R{kind} {members[0]}" if kind == "abs" else self._extreme(kind, members[k:])
            steps.append(f"pattern ({whole}); apply {kind}_cases; cbv beta; [same {self.cited(of[k], free)}|]")
        return f"{'. '.join(steps)}. same {self.cited(of[-1], free)}."

    @staticmethod
    def _extreme(kind: str, members: Sequence[str]) -> str:
        *rest, text = members
        for part in reversed(rest):
            text = f"(R{kind} {part} {text})"
        return text[1:-1]

    def by_box(self, entry: Mapping[str, Any], free: Sequence[str]) -> str:
        """The numbers that vary as letters of their own, within their bounds; coq-interval proves what it says."""
        (line,) = oriented(read_tree(str(entry["says"])), self.fixed)
        sides = (line.left, line.right)
        atoms = sorted({x for side in sides for x in atoms_in(side) if x.kind in ("letter", "quantity")}, key=str)
        letter = {atom: of_atom(Atom("letter", name)) for atom, name in zip(atoms, "xyz", strict=False)}
        low, high = (self.printer.term(parsed(poly_text(rebuilt(side, letter.get)))) for side in sides)
        cited = [int(number) for number in entry.get("of", [])]
        known = [oriented(read_tree(self.cited_text(k, free)), self.fixed)[0] for k in cited]
        signs: list[tuple[Poly, Poly]] = [({}, of_atom(x)) for x in atoms]
        bounds = bounds_of([*signs, *((found.left, found.right) for found in known)])
        names = [name for _, name in zip(atoms, "xyz", strict=False)]
        told = [
            f"{self.printer._fraction(a)} <= {name} <= {self.printer._fraction(b)}"
            for name, (a, b) in zip(names, (bounds[x] for x in atoms), strict=True)
        ]
        bisect = "".join(f"i_bisect {name}, " for name in names)
        relation = "<" if line.strict else "<="
        said = "".join(f"forall {name} : R, {bound} -> " for name, bound in zip(names, told, strict=True))
        terms = " ".join(f"{self.printer.term(parsed(str(x)))} ltac:(split; within)" for x in atoms)
        facts = " ".join(f"pose proof {self.cited(k, free)}." for k in cited)
        return (
            f"assert (I : {said}{low} {relation} {high}). {{ intros. rewrite ?tanh_exp2. "
            f"apply Rminus_{'lt' if line.strict else 'le'}. interval with ({bisect}i_prec 40). }} "
            f"{facts} pose proof (I {terms}) as Q. same Q."
        ).replace("(I )", "I")

    def by_layers(self, entry: Mapping[str, Any], free: Sequence[str]) -> str:
        """From a layer to all, by the theorems of Derivation.v about q(l), the size after l layers."""
        how, number = str(entry["how"]), int(entry["of"][0])
        (cited,) = oriented(read_tree(self.says(number)), self.fixed)
        (line,) = oriented(read_tree(str(entry["says"])), self.fixed)
        goal, bound = (line.right, cited.left) if how == "below" else (line.left, cited.right)
        power = int(how.split()[1]) if how.startswith("power ") else 1
        places = {name: at_time(goal, normal(read_tree(name), {})) for name in ("l", "t")}
        gain = plus(bound, places["l"], -1) if how == "sum" else _quotient(bound, places["l"], power)
        q, g = (self.printer.term(parsed(poly_text(part))) for part in (places["t"], gain))
        step = f"ltac:(intros l Bl; pose proof (F{number} l Bl) as Q; same Q)"
        if how == "sum":
            return (
                f"pose proof (chain_sum (fun t : nat => {q}) (fun l : nat => {g}) (layers N) {step}) as C. "
                "cbv beta in C. same C."
            )
        if power > 1:
            # Under a power with a letter the logarithm of 4 is no number: 2 * 2 stands in its place.
            primes = _in_primes(g, " in C")
            exponent = f"(({power} ^ layers N - 1) / {power - 1})"
            same_power = f"ltac:(replace (INR {power}) with {power} by (simpl; ring); field)"
            return (
                f"pose proof (chain_power (fun t : nat => {q}) {g} {power} (layers N) {exponent} "
                f"ltac:(nonneg) ltac:(intros; nonneg) ltac:(lia) ltac:(lia) {step} "
                f"{same_power}) as C. cbv beta in C. {primes}same C."
            )
        theorem = "chain_below" if how == "below" else "chain_product"
        factors = self._factors_of(goal if how == "below" else line.left, line)
        # A factor that is a difference is not negative by what is known of every layer.
        known = " | ".join(f"not_negative ({fact})" for fact in self._known_of_layers())
        sign = f"first [nonneg | {known}]" if known else "nonneg"
        return (
            f"pose (q := fun t : nat => {q}). pose (g := fun l : nat => {g}). "
            f"pose proof ({theorem} q g (layers N) ltac:(intros l Bl; unfold g; {sign}) "
            f"ltac:(intros l Bl; unfold q, g; pose proof (F{number} l Bl) as Q; same Q)) as C. "
            f"rewrite (prodf_ext (layers N) g (fun l => {factors})) in C by (intros; unfold g; eqn). "
            f"rewrite ?prodf_mult, ?prodf_const, ?pow1 in C. unfold q in C. same C."
        )

    def _known_of_layers(self) -> list[str]:
        """Hypotheses and lines that hold for every layer, as proofs at layer l."""
        given = [f"G{k} l Bl" for k, text in self.hypotheses() if text.startswith(f"(forall l, {BOUNDS['l']}")]
        lines = range(1, self.now)
        return given + [f"F{k} l Bl" for k in lines if _free(self.says(k)) == ["l"]]

    def _factors_of(self, goal: Poly, line: Line) -> str:
        """What is multiplied over the layers, as the line has it: the body of its product, and its powers of L."""
        other = line.left if goal == line.right else line.right
        inner, constant = "1", []

        def collect(node: ast.AST, over: bool) -> None:
            nonlocal inner
            match node:
                case ast.Call(func=ast.Name(id="prod_l"), args=[body]):
                    inner = Printer(bound=("l",)).term(body)
                case ast.Call(
                    func=ast.Name(id="sqrt"), args=[ast.BinOp(left=base, op=ast.Pow(), right=ast.Name(id="L"))]
                ):
                    collect(parsed(f"sqrt({ast.unparse(base)})**L"), over)
                case ast.BinOp(left=base, op=ast.Pow(), right=ast.Name(id="L")):
                    constant.append(f"(1 / {self.printer.term(base)})" if over else self.printer.term(base))
                case ast.BinOp(left=left, op=ast.Div(), right=right):
                    collect(left, over)
                    collect(right, not over)
                case _:
                    for child in ast.iter_child_nodes(node):
                        collect(child, over)

        collect(parsed(poly_text(other)), False)
        return " * ".join([f"({inner})", *constant])

    # -- the claim

    def proof_of(self, node: ast.expr) -> str:
        """Tactics that prove the claim, or a part of it, from the lines."""
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                return _both([self.proof_of(part) for part in values])
            case ast.Call(func=ast.Name(id="all_p"), args=[inner]):
                return _both([self.proof_of(part) for part in exponents(inner)])
            case ast.Call(func=ast.Name(id=name), args=[inner]) if name[:4] == "all_" and name[4:] in BOUNDS:
                return f"{_intros([name[-1]])}{self.proof_of(inner)}"
            case ast.Compare(left=left, ops=ops, comparators=rights) if len(ops) > 1:
                pairs = zip([left, *rights], ops, rights, strict=False)
                return _both([self.proof_of(ast.Compare(a, [op], [b])) for a, op, b in pairs])
        text = ast.unparse(node)
        lines = [self._line_of(goal) for goal in oriented(read_tree(text), self.fixed)]
        numbers = _numbers([text, *(self.says(number) for number in lines)])
        if any(str(entry.get("how", "")).startswith("power ") for entry in self.lines):
            numbers = _in_primes(text) + numbers
        if sizes := self.sizes():
            numbers = f"rewrite {', '.join(f'?{fact}' for fact in sizes)}; cbn [sum maxi minf prodf Nat.sub]. {numbers}"
        numbers = f"{self._reciprocals(node)}{numbers}"
        ends = [f"pose proof {self.cited(number, _free(text))} as Q. {numbers} same Q." for number in lines]
        return ends[0] if len(ends) == 1 else "apply Rle_antisym. " + " ".join(f"{{ {end} }}" for end in ends)

    def _reciprocals(self, node: ast.expr) -> str:
        """Tactics that write exp(-x) as 1/exp(x), as lines have it."""
        found = []
        for part in ast.walk(node):
            match part:
                case ast.Call(func=ast.Name(id="exp"), args=[inner]):
                    poly = normal(read_tree(ast.unparse(inner)), self.fixed)
                    if as_product(poly)[0] == -1:
                        old, new = self.printer.term(inner), self.printer.term(parsed(poly_text(plus({}, poly, -1))))
                        found.append(f"replace (exp {old}) with (/ exp {new}) by (rewrite <- exp_Ropp; f_equal; eqn). ")
        return "".join(dict.fromkeys(found))

    def _line_of(self, goal: Line) -> int:
        """The number of the line that says what is to be shown."""
        wanted = line_key(goal.left, goal.right)
        for number in range(len(self.lines), 0, -1):
            (found,) = oriented(read_tree(self.says(number)), self.fixed)
            if line_key(found.left, found.right) == wanted and (found.strict or not goal.strict):
                return number
        raise NoCoq(f"no line says {goal.text}")

    # -- the theorem

    def hypotheses(self) -> list[tuple[int, str]]:
        printed = [(k, hypothesis(text)) for k, text in enumerate(self.given)]
        return [(k, text) for k, text in printed if text]

    def named(self) -> list[str]:
        """As many layers and heads as are named by numbers."""
        texts = [self.claim, *self.given, *(str(entry["says"]) for entry in self.lines)]
        layers, heads = 1, 1
        for text in texts:
            layers = max([layers, *(int(k) for k in re.findall(r"X\[(\d+)\]", text))])
            layers = max([layers, *(int(k) + 1 for k in re.findall(r"[WKP]\[(\d+),", text))])
            heads = max([heads, *(int(k) + 1 for k in re.findall(r"[WKP]\[[^,\]]*, (\d+)\]", text))])
        found = [("layers N", layers), ("heads N", heads)]
        return [f"({size} >= {least})%nat" for size, least in found if least > 1]

    def theorem(self, name: str) -> str:
        hypotheses, named = self.hypotheses(), self.named()
        body = "\n".join(self.line(number) for number in range(1, len(self.lines) + 1))
        claim = parsed(self.claim)
        said, proof = proposition(claim), self.proof_of(claim)
        lines = [
            "forall N, proper N ->",
            *(BINDERS[word] for word in self.about),
            *(f"{text} ->" for text in (*self.meant, *named)),
            *(f"{text} ->" for _, text in hypotheses),
        ]
        about = [name for word in self.about for name in (word, _GIVEN[word])]
        names = ["N", "Hp", *about, *(f"S{k}" for k in range(len(self.meant))), *(f"M{k}" for k in range(len(named)))]
        names += [f"G{k}" for k, _ in hypotheses]
        sizes = [
            f"pose proof G{k} as E{match[1]}."
            for k, text in enumerate(self.given)
            if (match := re.fullmatch(r"([HL]) == \d+", text))
        ] + [
            f"assert (E{match[1]} : INR ({SIZES[match[1]]}) = {match[2]}) by (rewrite G{k}; simpl; lra)."
            for k, text in enumerate(self.given)
            if (match := re.fullmatch(r"([nd]) == (\d+)", text))
        ]
        start = f"  intros {' '.join(names)}. begin N Hp. {' '.join(sizes)}"
        whole = "\n  ".join([*lines, said])
        return f"Theorem {name} :\n  {whole}.\nProof.\n{start}\n{body}\n  {proof}\nQed.\n"


def derivation_file(claim: str, given: Sequence[str], lines: Sequence[Mapping[str, Any]], name: str = "claim") -> str:
    """The Coq file of a derivation: compiled against proofs/coq it proves the claim."""
    printer = DerivationPrinter(claim, given, lines)
    printed = printer.theorem(name)
    comment = f"(** {claim}\n    given {', '.join(given) or 'nothing'}. *)".replace("*(", "* (")
    head = (
        "Require Import Reals Lra Lia Psatz.\n"
        "From Rankmath Require Import Definitions Functions Norms Masks Quantities Lemmas_functions Network Lemmas"
        " Derivation.\nLocal Open Scope R_scope."
    )
    if printer.bridged:
        more = "dong2021 Lemmas_layer Network Lemmas\n  Derivation Bridge Registered"
        head = head.replace("Network Lemmas Derivation", more)
    elif "x_star" in printer.about:
        head = head.replace("Lemmas_functions", "Lemmas_functions dong2021")
    if "interval with" in printed:
        head = head.replace("\nLocal", "\nFrom Rankmath Require Import IntervalZ.\nLocal")
    return f"{comment}\n{head}\n\n{printed}"


def compiled(path: Path, seconds: float = 300.0) -> str:
    """What Coq says of a derivation's file, in words; why it was not asked, where it is not at hand."""
    coqc, folder = shutil.which("coqc"), proofs_folder() / "coq"
    if coqc is None:
        return "not machine-checked: coqc is not installed"
    if not all((folder / f"{name}.vo").is_file() for name in ("Lemmas", "Registered")):
        return f"not machine-checked: make -C {folder} compiles what it rests on"
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        shutil.copy(path, Path(work) / "claim.v")
        command = [coqc, "-q", "-R", str(folder), "Rankmath", "-w", "none", "claim.v"]
        try:
            done = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return f"not machine-checked: Coq did not end within {seconds:g} s"
    if done.returncode:
        return f"not machine-checked, Coq refuses the file: {' '.join(done.stderr.split())[:200]}"
    return f"machine-checked: compiled by Coq in {time.monotonic() - began:.0f} s"
