"""A derivation as a theorem with its proof: the claim with its hypotheses, then line by line what follows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankmath.certificates.certificate import Certificate
from rankmath.checker.lemmas import lemma_table, usable_statements
from rankmath.claims import statements
from rankmath.decide.prover.reading import read_as
from rankmath.formula import read_term
from rankmath.formula.printing import latex
from rankmath.formula.prose import formulas
from rankmath.formula.terms import Letter, Relation, walk
from rankmath.report.fragments import LOOSE, in_words, label, notation, of_its_own, stated, told_once, written_out
from rankmath.report.latex import breakable, code, identifier
from rankmath.verification.statement import Statement

_OVER = {"h": "all heads", "l": "all layers", "i": "all tokens", "k": "all blocks"}
_FOLDED = {"sum": "adding {of} over {over}", "prod": "multiplying {of} over {over}"}
_FOLDED |= {
    "max": "the maximum of both sides of {of} over {over}",
    "min": "the minimum of both sides of {of} over {over}",
}
_TERM = {"max": "a maximum is at least each of its terms", "min": "a minimum is at most each of its terms"}
_TERM |= {"sum": "a sum of numbers that are not negative is at least each of them"}


def derived(certificate: Certificate) -> str:
    """Theorem and proof of a derivation that the checker accepts."""
    entry = statements().get(certificate.statement) or of_its_own(certificate)
    lines = certificate.data["lines"]
    relations = [_relation(line["says"]) for line in lines]
    told, more = code(certificate.claim), ""
    if entry is not None:
        claim = (r"\begin{flushleft}", *stated(entry), r"\end{flushleft}")
        told = "\n".join((told_once(notation(entry), certificate.id), *claim, *in_words(entry)))
        new = {said: shown for relation in relations for shown, said in Statement("line", relation).meanings}
        for _, said in entry.meanings:
            new.pop(said, None)
        more = "".join(f"Here {breakable(shown)}: {formulas(said)}.\n" for said, shown in new.items())
    for quantity, other, why in read_as((certificate.claim, *certificate.given)):
        if latex(quantity) != latex(other):
            more += f"Here {breakable(f'{latex(quantity)} = {latex(other)}')}: {why}.\n"
    steps = "\n".join(
        rf"  \item[({number})] {breakable(latex(relation))}, {_reason(line)}."
        for number, (line, relation) in enumerate(zip(lines, relations, strict=True), start=1)
    )
    letters = {term.name for relation in relations for term in walk(relation) if isinstance(term, Letter)}
    places = [f"{word} ${letter}$" for letter, word in (("l", "layer"), ("h", "head")) if letter in letters]
    free = f", each line for every {' and '.join(places)} in it" if places else ""
    return written_out(rf"""\begin{{theorem}}{label(certificate.id)}{LOOSE}
{told}
\end{{theorem}}
\begin{{proof}}{LOOSE}
{more}Line by line{free}:
\begin{{itemize}}\raggedright
{steps}
\end{{itemize}}
{_rests(lines)}The derivation is certificate {identifier(certificate.id)}; the command {code("rankmath check FILE")}
works out every line of it again.
\end{{proof}}""")


def _relation(says: str) -> Relation:
    says = says.replace("[1 + l", "[l + 1")  # as people write it
    left, sign, right = says.partition(" <= ") if " <= " in says else says.partition(" < ")
    return Relation(sign.strip(), *(read_term(side, free=("l", "h")) for side in (left, right)))


def _rests(lines: Iterable[Mapping[str, Any]]) -> str:
    """The theorems of Coq behind the lemmas and statements that are used."""
    used = sorted({line["name"] for line in lines if line["by"] in ("lemma", "statement")})
    theorems = {name: lemma_table()[name].coq if name in lemma_table() else usable_statements()[name] for name in used}
    shown = [f"{_named(name)} is {code(theorem)}" for name, theorem in theorems.items() if theorem]
    return f"Each lemma is a theorem of Coq in rankmath's folder proofs/coq: {'; '.join(shown)}.\n" if shown else ""


def _named(name: str) -> str:
    """A lemma without the words it is read at: they stand in the line itself."""
    return code(name.partition("[")[0])


def _reason(entry: Mapping[str, Any]) -> str:
    rule, name, how = entry["by"], entry.get("name", ""), entry.get("how", "")
    of = [_part(part, rule) for part in entry.get("of", ())]
    if rule == "lemma":
        why = lemma_table()[name].why
        return f"by the lemma {_named(name)}" + (f" ({_why(why)})" if why else "")
    if rule == "statement":
        return f"by {code(name)}, a theorem of rankmath's"
    if rule == "hypothesis":
        return "which is given"
    if rule == "fold":
        word, _, index = name.partition("_")
        return _FOLDED[word].format(of=of[0], over=_OVER[index])
    if rule == "term":
        return f"since {_TERM[name.partition('_')[0]]}"
    if rule == "cases":
        return f"by {_listed(of)}, one for each term of ${latex(read_term(name, free=('l', 'h')))}$"
    if rule == "power":
        return f"by {of[0]} to the power ${latex(read_term(how, free=('l', 'h')))}$"
    if rule == "box":
        return f"by intervals, within the bounds of {_listed(of)}" if of else "by intervals"
    if rule == "layers":
        return f"by {of[0]} in one layer after the other"
    if rule == "product":
        return f"by {_listed(of)}, factor by factor" if of else "which is clear"
    return f"adding {_listed(of)}" if len(of) > 1 else f"by {of[0]}" if of else "which is clear"


def _part(part: Any, rule: str) -> str:
    number, weight = part if isinstance(part, Sequence) else (part, "1")
    if weight in ("1", "0"):
        return f"({number})"
    shown = latex(read_term(weight, free=("l", "h")))
    return f"({number}) to the power ${shown}$" if rule == "product" else f"${shown}$ times ({number})"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _why(why: str) -> str:
    """The reason of a lemma as it is typed, with its signs as mathematics."""
    typed = why.replace("<=", "≤").replace("epsilon", "ε").replace("^T", "ᵀ")
    parts = re.split(r"sqrt\((\w+)\)|sqrt (\w)\b", typed)
    roots = (
        rf"$\sqrt{{\mathrm{{{word}}}}}$" if word else rf"$\sqrt{{{letter}}}$"
        for word, letter in zip(parts[1::3], parts[2::3], strict=True)
    )
    return "".join(text for pair in zip(map(formulas, parts[::3]), (*roots, ""), strict=True) for text in pair)
