"""The first version of Dong, Cordonnier and Loukas 2021: claims without the later hypotheses, refuted.

`dong2021:2.3-printed` stands here too: the 2023 form with the printed βH, which two heads refute.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import certify_sandwich, issue
from rankmath.claims.dong2021 import (
    COMPOSITE_DRAWS,
    PAPER,
    SINGLE_DRAWS,
    antipodal_pair,
    certify_sandwich_instance,
    draw_sandwich,
    evaluate_composite,
    evaluate_sandwich,
    sandwich_instance,
)
from rankmath.claims.draws import Rng
from rankmath.claims.instance import ArrayInstance, network_instance
from rankmath.claims.many_tokens import counterexample, two_tokens
from rankmath.claims.statement import Statement


def exhibit_token_kinds() -> Certificate:
    """One head, a few thousand tokens of four kinds; the numbers of proofs/dong2021v1.tex."""
    kinds = counterexample()
    return issue(Certificate("dong2021v1:2.2", "violates", kinds.data()), decided=kinds.certified_ratio() > 1)


def exhibit_two_heads(key: str) -> Certificate:
    """Two heads, two tokens ±e₁, integers decide."""
    heads = two_tokens()
    return issue(Certificate(key, "violates", heads.data()), decided=heads.certified_ratio() > 1)


def exhibit_saturated() -> Certificate:
    """D = 3 and q_0 = 10⁻⁴: P_0/q_0 is 20.05, more than 1 + 2D = 7."""
    return certify_sandwich(
        np.asarray([[3, 0]]), weights=np.asarray([1, 9999]), hypothesis=False, kind="violates", decided=True
    )


def beyond_threshold(rng: Rng) -> Iterator[ArrayInstance]:
    """Nearly all the weight on one key, D beyond x*."""
    for D in (1.2565, 2.0, 5.0):
        yield ArrayInstance({"c": np.asarray([0.0, -40.0]), "E": np.asarray([[0.0, D]])}, "beyond the threshold")


STATEMENTS = (
    Statement(
        key="dong2021v1:A.3",
        title="Sandwich lemma without a hypothesis",
        claim=r"(1-D_{ii})q_j\le P_{ij}\le(1+2D_{ii})q_j",
        source=f"{PAPER}, Lemma A.3, first version",
        status="refuted",
        truth="proofs/dong2021_A_3.tex",
        instance=sandwich_instance,
        evaluate=partial(evaluate_sandwich, hypothesis=False),
        draws=(partial(draw_sandwich, log_scale=(-1.0, 0.7)),),
        extremal=beyond_threshold,
        certificate=partial(certify_sandwich_instance, hypothesis=False),
        exhibit=exhibit_saturated,
    ),
    Statement(
        key="dong2021v1:2.2",
        title="Doubly exponential collapse, one head (2021 form)",
        claim=r"\|\mathrm{res}(X^L)\|_{1,\infty}\le(4\beta/\sqrt{d_{qk}})^{(3^L-1)/2}\|\mathrm{res}(X)\|_{1,\infty}^{3^L}",
        source=f"{PAPER}, Theorem 2.2, first version: γ = 1, no hypothesis",
        status="refuted",
        truth="proofs/dong2021v1.tex",
        instance=network_instance,
        evaluate=partial(evaluate_composite, gamma=False, printed=True, heads=1),
        draws=SINGLE_DRAWS,
        extremal=antipodal_pair,
        exhibit=exhibit_token_kinds,
        share=0.1,
        cost=3,
    ),
    Statement(
        key="dong2021v1:2.3",
        title="Doubly exponential collapse, many heads (2021 form)",
        claim=r"\|\mathrm{res}(X^L)\|_{1,\infty}\le(4\beta H/\sqrt{d_{qk}})^{(3^L-1)/2}"
        r"\|\mathrm{res}(X)\|_{1,\infty}^{3^L}",
        source=f"{PAPER}, Theorem 2.3, first version: γ = 1, no hypothesis",
        status="refuted",
        truth="proofs/dong2021v1.tex",
        instance=network_instance,
        evaluate=partial(evaluate_composite, gamma=False, printed=True),
        draws=COMPOSITE_DRAWS,
        extremal=antipodal_pair,
        exhibit=partial(exhibit_two_heads, "dong2021v1:2.3"),
        share=0.1,
        cost=3,
    ),
    Statement(
        key="dong2021:2.3-printed",
        title="Doubly exponential collapse, many heads (2023 form as printed)",
        claim=r"\|\mathrm{res}(X^L)\|_{1,\infty}\le(4\gamma_*\beta H/\sqrt{d_{qk}})^{(3^L-1)/2}"
        r"\|\mathrm{res}(X)\|_{1,\infty}^{3^L},\quad\beta=\max\|W_{QK,h}\|_1\|W_h\|_{1,\infty}",
        source=f"{PAPER}, Theorem 2.3, 2023 revision, with γ read as γ_*",
        status="refuted",
        truth="proofs/dong2021_2_3.tex",
        instance=network_instance,
        evaluate=partial(evaluate_composite, printed=True),
        draws=COMPOSITE_DRAWS,
        extremal=antipodal_pair,
        exhibit=partial(exhibit_two_heads, "dong2021:2.3-printed"),
        share=0.1,
        cost=3,
    ),
)
