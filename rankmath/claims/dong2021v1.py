"""The first version of Dong et al. 2021, Theorems 2.2 and 2.3 without γ and hypotheses, and readings of
the revision: refuted."""

from __future__ import annotations

from functools import partial

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import issue
from rankmath.claims.dong2021_2_3 import BETA, DRAWS, GAMMA, READING, SINGLE_DRAWS, SMALL_LOGITS, antipodal_pair
from rankmath.verification.many_tokens import counterexample, two_tokens
from rankmath.verification.papers import DONG
from rankmath.verification.statement import Statement


def exhibit_token_kinds() -> Certificate:
    """One head, a few thousand tokens of four kinds; the numbers of proofs/dong2021v1.tex."""
    kinds = counterexample()
    return issue(Certificate("dong2021v1:2.2", "violates", kinds.data()), decided=kinds.certified_ratio() > 1)


def exhibit_two_heads(key: str) -> Certificate:
    """Two heads, two tokens ±e₁, integers decide."""
    heads = two_tokens()
    return issue(Certificate(key, "violates", heads.data()), decided=heads.certified_ratio() > 1)


_START = "residual(X[0], composite)**(3**L)"

dong2021v1_2_2 = Statement(
    "dong2021v1:2.2",
    f"residual(X[L], composite) <= (4*beta/sqrt(d_qk))**((3**L - 1)/2)*{_START}",
    where={"beta": BETA},
    given="heads == 1",
    title="Doubly exponential collapse, one head (2021 form)",
    source=f"{DONG}, Theorem 2.2, first version: γ = 1, no hypothesis",
    status="refuted",
    truth="proofs/dong2021v1.tex",
    draws=SINGLE_DRAWS,
    extremal=antipodal_pair,
    exhibit=exhibit_token_kinds,
    share=0.1,
    cost=3,
)

dong2021v1_2_3 = Statement(
    "dong2021v1:2.3",
    f"residual(X[L], composite) <= (4*beta*H/sqrt(d_qk))**((3**L - 1)/2)*{_START}",
    where={"beta": BETA},
    title="Doubly exponential collapse, many heads (2021 form)",
    source=f"{DONG}, Theorem 2.3, first version: γ = 1, no hypothesis",
    status="refuted",
    truth="proofs/dong2021v1.tex",
    draws=DRAWS,
    extremal=antipodal_pair,
    exhibit=partial(exhibit_two_heads, "dong2021v1:2.3"),
    share=0.1,
    cost=3,
)

dong2021_2_3_printed = Statement(
    "dong2021:2.3-printed",
    f"residual(X[L], composite) <= (4*gamma_star*beta*H/sqrt(d_qk))**((3**L - 1)/2)*{_START}",
    where={"gamma_star": GAMMA, "beta": BETA},
    given=SMALL_LOGITS,
    title="Doubly exponential collapse, many heads (2023 form with βH)",
    source=f"{DONG}, Theorem 2.3, 2023 revision, with γ read as γ_*",
    status="refuted",
    truth="proofs/dong2021_2_3.tex",
    draws=DRAWS,
    extremal=antipodal_pair,
    exhibit=partial(exhibit_two_heads, "dong2021:2.3-printed"),
    share=0.1,
    cost=3,
    notes=f"False for every γ that depends on the attention alone. {READING}",
)
