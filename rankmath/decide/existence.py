"""Does a network with a property exist? A witness of the claim is a counterexample of its negation."""

from __future__ import annotations

from dataclasses import replace

from rankmath.certificates.certificate import Certificate
from rankmath.formula.terms import Both, Every, Formula, Item, Relation, negated, over, walk
from rankmath.validation import InvalidArgument
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome


def negation(statement: Statement) -> Statement:
    """The claim that no network has what `statement` says some network has.

    One inequality is negated; whatever else the claim asks for becomes a hypothesis.

    >>> some = Statement("mine:x", "exists diameter(X[1], 2) > 2*diameter(X[0], 2) and norm(W[0,0], 2) <= 1")
    >>> print(negation(some).claim_text, "given", negation(some).given_texts[-1])
    diameter(X[1], 2) <= 2*diameter(X[0], 2) given norm(W[0, 0], 2) <= 1
    """
    whole = statement.expanded
    parts: list[Formula] = []
    for part in whole.formulas if isinstance(whole, Both) else (whole,):
        if isinstance(part, Relation) and part.operator == "==":
            parts += [Relation(operator, part.left, part.right) for operator in ("<=", ">=")]
        else:
            parts.append(_one_relation(part))
    told = [part for part in parts if isinstance(part, Relation) and any(isinstance(t, Item) for t in walk(part))]
    if not told:
        raise InvalidArgument(f"claim: {statement.claim_text} given; exists needs an inequality about X, W, W_QK or P")
    rest = tuple(part for part in parts if part is not told[0])
    return replace(
        statement, formula=negated(told[0]), given=(*statement.hypotheses, *rest), where={}, quantifier="all"
    )


def _one_relation(part: Formula) -> Formula:
    """all_h(…) of a relation as one relation of the largest or least value."""
    if isinstance(part, Every) and part.index != "p":
        inner = _one_relation(part.formula)
        if isinstance(inner, Relation):
            return over(part.index, inner, some=False)
    return part


def certificate_at(statement: Statement, instance: NetworkInstance) -> Certificate:
    """The certificate of a claim at a network, as balls decide it; also where only some network is to meet it."""
    from rankmath.certificates.issue import NotIssued, certify_claim

    verdict = judge(replace(statement, quantifier="all"), instance, "balls")
    if verdict.outcome not in (Outcome.HOLDS, Outcome.VIOLATED):
        raise NotIssued(verdict.reason)
    wording = statement.key, statement.claim_text, statement.given_texts
    kind = "exists" if statement.quantifier == "some" and verdict.outcome == Outcome.HOLDS else verdict.kind
    return certify_claim(*wording, instance.net, instance.X, kind)
