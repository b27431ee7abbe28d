"""A derivation as a person reads it, in words; report/derivations.py has it as LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rankmath.checker.lemmas import lemma_table
from rankmath.formula.reader import read_formula
from rankmath.formula.terms import Call, Item, Letter, Number, Term, walk

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
    "box": "by intervals within the bounds of",
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
        f"{entry['says']} ({entry.get('name', 'by ' + _parts(entry) if entry.get('of') else 'clear')})"
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
    if entry["by"] == "box" and not entry.get("of"):
        return "by intervals"
    of = _parts(entry)
    rule = _RULES[entry["by"]].format(how=entry.get("how", ""), name=entry.get("name", ""))
    return f"{rule} {of}".strip() if of else "term by term"


def _parts(entry: Mapping[str, Any]) -> str:
    return " and ".join(_part(part, entry["by"]) for part in entry.get("of", ()))


def _part(part: Any, rule: str) -> str:
    if not isinstance(part, Sequence):
        return f"({part})"
    number, weight = part
    if weight in ("1", "0"):
        return f"({number})"
    return f"({number}) to the power {weight}" if rule == "product" else f"{weight} times ({number})"


def read_as(texts: Iterable[str]) -> Iterator[tuple[Term, Term, str]]:
    """The quantities of claims that a derivation reads as others, as these, and why they are equal.

    >>> for quantity, other, why in read_as(["norm(P[0,0], inf)*residual(X[1], frobenius) <= 1"]):
    ...     print(f"{quantity} = {other}: {why}")
    norm(P[0, 0], inf) = 1: no weight is negative, and every row sums to 1
    residual(X[1], frobenius) = mu(X[1]): the mean of the rows is nearest to them
    """
    calls = (term for text in texts for term in walk(read_formula(text)) if isinstance(term, Call) and term.terms)
    for call in dict.fromkeys(calls):
        first, last = call.terms[0], str(call.terms[-1])
        if (call.function, last) == ("residual", "frobenius"):
            yield call, Call("mu", (first,)), "the mean of the rows is nearest to them"
        elif (call.function, last) == ("norm", "inf") and isinstance(first, Item) and first.array == "P":
            yield call, Number(Fraction(1)), "no weight is negative, and every row sums to 1"
        elif (call.function, last) in _ANOTHER_NORM:
            yield call, Call("norm", (first, _ANOTHER_NORM[call.function, last])), "by definition"


#: The norms of the language that are norms of a matrix under another name.
_ANOTHER_NORM: dict[tuple[str, str], Term] = {
    ("operator_norm", "1"): Letter("inf"),
    ("operator_norm", "2"): Number(Fraction(2)),
    ("operator_norm", "inf"): Number(Fraction(1)),
    ("form_norm", "1"): Letter("max"),
    ("form_norm", "2"): Number(Fraction(2)),
}


def lines_of(proof: FoundProof) -> Iterator[str]:
    """What a terminal shows of a proof."""
    for quantity, other, why in read_as((proof.claim, *proof.given)):
        yield f"Here {quantity} = {other}: {why}."
    yield from in_sentences(proof)
    if names := ", ".join(sorted(proof.lemmas)):
        yield f"rests on {names}: theorems of proofs/coq"
