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
from pathlib import Path
from typing import Any

from rankmath.certificates.coq_words import (
    NoCoq,
    Printer,
    header,
    hypotheses_meant,
    identifier,
    lemma_rows,
    letters,
    parsed,
)
from rankmath.checker.boxes import bounds_of
from rankmath.checker.derivation import Derivation, Line, line_key, oriented
from rankmath.checker.monomials import (
    Atom,
    Poly,
    as_product,
    atoms_in,
    expanded,
    normal,
    of_atom,
    plus,
    poly_text,
    read_tree,
    rebuilt,
    times,
)
from rankmath.files import proofs_folder

_INDICES = ("l", "h")
_BOUNDS = {"l": "(l < layers N)%nat", "h": "(h < heads N)%nat"}
_SIZES = {"n": "tokens N", "d": "dim N", "H": "heads N", "L": "layers N"}
_ORDER = ("t", "l", "h")
PRIMES = (2, 3, 5, 7)


def _hypothesis(text: str) -> str:
    """A hypothesis of the claim: sizes as natural numbers, and a quantifier where it holds for all l or h."""
    node = parsed(text)
    match node:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()], comparators=[ast.Constant(value=int(value))]) if (
            name in _SIZES
        ):
            return f"{_SIZES[name]} = {value}%nat"
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in ("all_l", "all_h"):
            index = name[-1]
            return f"(forall {index}, {_BOUNDS[index]} -> {_hypothesis(ast.unparse(inner))})"
    return Printer().formula(node)


def _free(text: str) -> list[str]:
    used = letters([text])
    return [index for index in _INDICES if index in used]


def _forall(indices: Sequence[str]) -> str:
    return "".join(f"forall {index}, {_BOUNDS[index]} -> " for index in indices)


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


class _Replaced(ast.NodeTransformer):
    """Nodes that read `old` replaced by `new`."""

    def __init__(self, old: str, new: ast.expr) -> None:
        self.old, self.new = old, new

    def generic_visit(self, node: ast.AST) -> ast.AST:
        return self.new if isinstance(node, ast.expr) and ast.unparse(node) == self.old else super().generic_visit(node)


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


def _with(node: ast.expr, old: str, new: str) -> ast.expr:
    made = _Replaced(old, parsed(new)).visit(parsed(ast.unparse(node)))
    assert isinstance(made, ast.expr)
    return made


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


class DerivationPrinter:
    """The theorem of one derivation."""

    def __init__(self, claim: str, given: Sequence[str], lines: Sequence[Mapping[str, Any]]) -> None:
        self.claim, self.given, self.lines = claim, list(given), lines
        self.rows = {row["name"]: row for row in lemma_rows()}
        self.printer = Printer()
        self.work = Derivation(claim, given)
        self.fixed, self.meant = self.work.fixed, hypotheses_meant(self.work.words)

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
        raise NoCoq(f"no Coq for the rule {entry['by']}")

    def by_lemma(self, entry: Mapping[str, Any], free: Sequence[str]) -> str:
        name, at = str(entry["name"]), {str(k): str(v) for k, v in entry.get("at", {}).items()}
        if name not in self.rows:
            raise NoCoq(f"the lemma {name} has no theorem")
        row = self.rows[name]
        arguments, functions = ["N", "Hp"], letters([row["claim"], *row["given"]]) & set("fg")
        for line in header(row)[1:]:
            match re.match(r"forall ([\w ]+?)(?: : ([^,]*))?,", line):
                case None:
                    arguments.append("ltac:(met)")
                case found if found[1] in _ORDER:
                    arguments += [self.printer.place(parsed(at.get(found[1], found[1]))), "ltac:(place)"]
                case found if found[2]:
                    for letter in found[1].split():
                        inner = Printer(bound=("h",) if functions else ()).term(parsed(at[letter]))
                        arguments.append(f"(fun h : nat => {inner})" if letter in functions else inner)
                case found:
                    raise NoCoq(f"the lemma {name} speaks of {found[1]}")
        sizes = "; ".join(f"rewrite ?{fact} in Q" for fact in self.sizes())
        unfold = f" {sizes}; cbn [sum maxi minf prodf Nat.sub] in Q; change (INR 1) with 1 in Q." if sizes else ""
        for k, text in enumerate(self.given):
            if (match := re.fullmatch(r"skip == (-?[\d./]+)", text)) and "skip" in row["claim"]:
                value = self.printer.term(parsed(match[1]))
                unfold += f" rewrite ?G{k} in Q; rewrite ?(Rabs_pos_eq {value}), ?(Rabs_left1 {value}) in Q by lra."
                unfold += " rewrite ?Rmult_0_l, ?Rplus_0_l in Q."
        if any(value.startswith("-(") for value in at.values()):
            unfold += " rewrite ?exp_Ropp in Q."
        numbers = _numbers([str(entry["says"]), row["claim"]])
        return f"{numbers} pose proof (L_{identifier(name)} {' '.join(arguments)}) as Q.{unfold} same Q."

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
            raise NoCoq(f"no Coq for the power {entry['how']}")
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
        bound = f"assert (B{index} : {_BOUNDS[index]}) by lia; "
        step = {
            "sum": f"into_sums; apply sum_le; intros {index} B{index}; pose proof {cited} as Q; same Q",
            "max": f"apply maxi_lub; intros {index} M; {bound}pose proof {cited} as Q; below_max {index} Q",
            "min": f"apply minf_mono; intros {index} M; {bound}pose proof {cited} as Q; same Q",
            "prod": f"apply prodf_le; intros {index} B{index}; split; [nonneg|pose proof {cited} as Q; same Q]",
        }[kind]
        return f"{step}."

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
            bound = f"assert (B{index} : {_BOUNDS[index]}) by lia. "
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
        how, number = str(entry["how"]), int(entry["of"][0])
        step, goal = parsed(self.says(number)), parsed(str(entry["says"]))
        assert isinstance(step, ast.Compare)
        assert isinstance(goal, ast.Compare)
        new, bound = step.left, step.comparators[0]
        through, theorem = goal.comparators[0], "chain_product"
        if how == "below":
            new, bound, through, theorem = bound, new, goal.left, "chain_below"
        size = re.sub(r"\b1 \+ l\b|\bl \+ 1\b", "t", ast.unparse(new))
        now = size.replace("X[t]", "X[l]")
        if how == "sum" or how.startswith("power "):
            return self._sum_or_power(how, number, size, now, bound)
        gain = _with(bound, now, "1")
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

        collect(through, False)
        factor = " * ".join([f"({inner})", *constant])
        q, g = self.printer.term(parsed(size)), Printer(bound=("l",)).term(gain)
        split = "rewrite ?prodf_mult, ?prodf_const, ?pow1 in C"
        return (
            f"pose (q := fun t : nat => {q}). pose (g := fun l : nat => {g}). "
            f"pose proof ({theorem} q g (layers N) ltac:(intros l Bl; unfold g; nonneg) "
            f"ltac:(intros l Bl; unfold q, g; pose proof (F{number} l Bl) as Q; same Q)) as C. "
            f"rewrite (prodf_ext (layers N) g (fun l => {factor})) in C by (intros; unfold g; eqn). "
            f"{split}. unfold q in C. same C."
        )

    def _sum_or_power(self, how: str, number: int, size: str, now: str, bound: ast.expr) -> str:
        q, layer = self.printer.term(parsed(size)), f"pose proof (F{number} l Bl) as Q; same Q"
        if how == "sum":
            g = Printer(bound=("l",)).term(_with(bound, now, "0"))
            return (
                f"pose proof (chain_sum (fun t : nat => {q}) (fun l : nat => {g}) (layers N) "
                f"ltac:(intros l Bl; {layer})) as C. cbv beta in C. same C."
            )
        k = how.split()[1]
        factor = self.printer.term(_with(bound, now, "1"))
        # Under a power with a letter the logarithm of 4 is no number: 2 * 2 stands in its place.
        primes = _in_primes(factor, " in C")
        exponent = f"(({k} ^ layers N - 1) / {int(k) - 1})"
        return (
            f"pose proof (chain_power (fun t : nat => {q}) {factor} {k} (layers N) {exponent} "
            f"ltac:(nonneg) ltac:(intros; nonneg) ltac:(lia) ltac:(lia) ltac:(intros l Bl; {layer}) "
            f"ltac:(replace (INR {k}) with {k} by (simpl; ring); field)) as C. cbv beta in C. {primes}same C."
        )

    # -- the claim

    def claim_of(self, node: ast.expr) -> tuple[str, str]:
        """The claim or a part of it as a proposition, and the tactic that proves it from the lines."""
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                return self._all_of([self.claim_of(part) for part in values])
            case ast.Call(func=ast.Name(id="all_p"), args=[inner]):
                parts = [_with(inner, "p", word) for word in ("1", "2", "inf")]
                return self._all_of([self.claim_of(part) for part in parts])
            case ast.Call(func=ast.Name(id=name), args=[inner]) if name in ("all_l", "all_h"):
                said, proof = self.claim_of(inner)
                return f"forall {name[-1]}, {_BOUNDS[name[-1]]} -> {said}", f"{_intros([name[-1]])}{proof}"
            case ast.Compare(left=left, ops=ops, comparators=rights) if len(ops) > 1:
                pairs = zip([left, *rights], ops, rights, strict=False)
                return self._all_of([self.claim_of(ast.Compare(a, [op], [b])) for a, op, b in pairs])
        text = ast.unparse(node)
        lines = [self._line_of(goal) for goal in oriented(read_tree(text), self.fixed)]
        numbers = _numbers([text, *(self.says(number) for number in lines)])
        if any(str(entry.get("how", "")).startswith("power ") for entry in self.lines):
            numbers = _in_primes(text) + numbers
        if sizes := self.sizes():
            numbers = f"rewrite {', '.join(f'?{fact}' for fact in sizes)}; cbn [sum maxi minf prodf Nat.sub]. {numbers}"
        numbers = f"{self._reciprocals(node)}{numbers}"
        ends = [f"pose proof {self.cited(number, _free(text))} as Q. {numbers} same Q." for number in lines]
        proof = ends[0] if len(ends) == 1 else "apply Rle_antisym. " + " ".join(f"{{ {end} }}" for end in ends)
        return self.printer.formula(node), proof

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

    @staticmethod
    def _all_of(parts: Sequence[tuple[str, str]]) -> tuple[str, str]:
        *rest, (said, proof) = parts
        for other, how in reversed(rest):
            said, proof = f"({other}) /\\ ({said})", f"split. {{ {how} }} {proof}"
        return said, proof

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
        printed = [(k, _hypothesis(text)) for k, text in enumerate(self.given)]
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
        said, proof = self.claim_of(parsed(self.claim))
        lines = [
            "forall N, proper N ->",
            *(f"{text} ->" for text in (*self.meant, *named)),
            *(f"{text} ->" for _, text in hypotheses),
        ]
        names = ["N", "Hp", *(f"S{k}" for k in range(len(self.meant))), *(f"M{k}" for k in range(len(named)))]
        names += [f"G{k}" for k, _ in hypotheses]
        sizes = [
            f"pose proof G{k} as E{match[1]}."
            for k, text in enumerate(self.given)
            if (match := re.fullmatch(r"([HL]) == \d+", text))
        ] + [
            f"assert (E{match[1]} : INR ({_SIZES[match[1]]}) = {match[2]}) by (rewrite G{k}; simpl; lra)."
            for k, text in enumerate(self.given)
            if (match := re.fullmatch(r"([nd]) == (\d+)", text))
        ]
        start = f"  intros {' '.join(names)}. begin N Hp. {' '.join(sizes)}"
        whole = "\n  ".join([*lines, said])
        return f"Theorem {name} :\n  {whole}.\nProof.\n{start}\n{body}\n  {proof}\nQed.\n"


def derivation_file(claim: str, given: Sequence[str], lines: Sequence[Mapping[str, Any]], name: str = "claim") -> str:
    """The Coq file of a derivation: compiled against proofs/coq it proves the claim."""
    printed = DerivationPrinter(claim, given, lines).theorem(name)
    comment = f"(** {claim}\n    given {', '.join(given) or 'nothing'}. *)".replace("*(", "* (")
    head = (
        "Require Import Reals Lra Lia Psatz.\n"
        "From Rankmath Require Import Definitions Functions Norms Masks Quantities Lemmas_functions Network Lemmas"
        " Derivation.\nLocal Open Scope R_scope."
    )
    if "interval with" in printed:
        head = head.replace("\nLocal", "\nFrom Rankmath Require Import IntervalZ.\nLocal")
    return f"{comment}\n{head}\n\n{printed}"


def compiled(path: Path, seconds: float = 300.0) -> str:
    """What Coq says of a derivation's file, in words; why it was not asked, where it is not at hand."""
    coqc, folder = shutil.which("coqc"), proofs_folder() / "coq"
    if coqc is None:
        return "not compiled: coqc is not installed"
    if not all((folder / f"{name}.vo").is_file() for name in ("Lemmas", "Derivation")):
        return f"not compiled: make -C {folder} compiles what it rests on"
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        shutil.copy(path, Path(work) / "claim.v")
        command = [coqc, "-q", "-R", str(folder), "Rankmath", "-w", "none", "claim.v"]
        try:
            done = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return f"not compiled: Coq did not end within {seconds:g} s"
    if done.returncode:
        return f"refused by Coq: {' '.join(done.stderr.split())[:200]}"
    return f"compiled by Coq in {time.monotonic() - began:.0f} s"
