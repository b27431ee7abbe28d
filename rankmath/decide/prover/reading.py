"""A derivation as a person reads it: in words, and as LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankmath.checker.lemmas import lemma_table
from rankmath.formula import read_formula, read_term
from rankmath.formula.printing import latex
from rankmath.formula.terms import Relation

if TYPE_CHECKING:
    from rankmath.decide.prover.proof import FoundProof

_RULES = {
    "product": "multiplying",
    "sum": "adding",
    "fold": "over all heads or layers",
    "put": "in particular",
    "term": "since a maximum or a sum is at least its terms",
    "power": "to the power {how}",
    "cases": "in every case of {name}",
    "layers": "layer by layer",
}


def in_sentences(proof: FoundProof) -> list[str]:
    """The proof in a few lines: what it starts from, what it multiplies or adds, what follows.

    Lines that only say that a number is not negative are named at the end.
    """
    lines, cited = list(proof.lines), _cited(proof.lines)
    out = []
    for number, entry in enumerate(lines, start=1):
        if number not in cited and number < len(lines) and entry["by"] in ("lemma", "hypothesis", "sum"):
            continue
        out.append(f"({number}) {entry['says']}, {_reason(entry)}.")
    if out:
        out[-1] = f"{out[-1][:-1]}: the claim."
    signs = [
        f"{entry['says']} ({entry.get('name', 'clear')})"
        for number, entry in enumerate(lines, start=1)
        if number not in cited and number < len(lines) and entry["by"] in ("lemma", "hypothesis", "sum")
    ]
    return [f"Note {'; '.join(signs)}.", *out] if signs else out


def _cited(lines: Sequence[Mapping[str, Any]]) -> set[int]:
    return {part[0] if isinstance(part, Sequence) else part for entry in lines for part in entry.get("of", ())}


def _reason(entry: Mapping[str, Any]) -> str:
    at = ", ".join(f"{name} = {value}" for name, value in entry.get("at", {}).items() if len(value) < 30)
    if entry["by"] == "lemma":
        lemma = lemma_table()[entry["name"]]
        return f"by {entry['name']}" + (f" ({lemma.why})" if lemma.why else f" at {at}" if at else "")
    if entry["by"] == "statement":
        return f"by {entry['name']}" + (f" at {at}" if at else "")
    if entry["by"] == "hypothesis":
        return "which is given"
    of = " and ".join(_part(part, entry["by"]) for part in entry.get("of", ()))
    rule = _RULES[entry["by"]].format(how=entry.get("how", ""), name=entry.get("name", ""))
    return f"{rule} {of}".strip() if of else "term by term"


def _part(part: Any, rule: str) -> str:
    if not isinstance(part, Sequence):
        return f"({part})"
    number, weight = part
    if weight in ("1", "0"):
        return f"({number})"
    return f"({number}) to the power {weight}" if rule == "product" else f"{weight} times ({number})"


def in_latex(proof: FoundProof, label: str = "claim") -> str:
    """A proposition with its proof; lemmas and statements are cited by their labels of the appendix."""
    given = r",\ ".join(latex(read_formula(part)) for part in proof.given)
    claim = latex(read_formula(proof.claim))
    rows = []
    for number, entry in enumerate(proof.lines, start=1):
        why = _latex_reason(entry)
        rows.append(rf"  {latex(_relation(entry['says']))} &&\text{{{why}}} \tag{{{number}}}")
    body = " \\\\\n".join(rows)
    rests = ", ".join(rf"\texttt{{{name.replace('_', chr(92) + '_')}}}" for name in sorted(proof.lemmas.values()))
    return "\n".join(
        (
            rf"\begin{{proposition}}\label{{{label}}}",
            rf"Let ${given}$. Then ${claim}$." if given else rf"${claim}$.",
            r"\end{proposition}",
            r"\begin{proof}",
            r"\begin{align*}",
            body,
            r"\end{align*}",
            rf"The lemmas are proved in Coq: {rests}.",
            r"\end{proof}",
            "",
        )
    )


def _relation(says: str) -> Relation:
    left, sign, right = says.partition(" <= ") if " <= " in says else says.partition(" < ")
    return Relation(sign.strip(), *(read_term(side, free=("l", "h")) for side in (left, right)))


def _latex_reason(entry: Mapping[str, Any]) -> str:
    if entry["by"] == "statement":
        return rf"by \ref{{{entry['name']}}}"
    if entry["by"] == "lemma":
        why = lemma_table()[entry["name"]].why
        return f"{entry['name']}" + (
            f" ({why})" if why and why.isascii() and "_" not in why and "^" not in why else ""
        )
    if entry["by"] == "hypothesis":
        return "given"
    of = ", ".join(_latex_part(part, entry["by"]) for part in entry.get("of", ()))
    return {"product": "product of ", "sum": "sum of "}.get(entry["by"], f"{entry['by']}: ") + of if of else "clear"


def _latex_part(part: Any, rule: str) -> str:
    if not isinstance(part, Sequence):
        return f"({part})"
    number, weight = part
    if weight in ("1", "0"):
        return f"({number})"
    return rf"$({number})^{{{weight}}}$" if rule == "product" else f"({number}) weighted"


def lines_of(proof: FoundProof) -> Iterator[str]:
    """What a terminal shows of a proof."""
    yield from in_sentences(proof)
    if names := ", ".join(sorted(proof.lemmas)):
        yield f"rests on {names}: theorems of proofs/coq"


__all__ = ["in_latex", "in_sentences", "lines_of"]
