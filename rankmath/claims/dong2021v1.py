"""Dong et al. 2021, Theorems 2.2 and 2.3 as first printed, and readings of the revision: refuted."""

from collections.abc import Callable

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import issue
from rankmath.claims.dong2021_2_3 import BETA, DRAWS, GAMMA, READING, SINGLE_DRAWS, SMALL_LOGITS, antipodal_pair
from rankmath.claims.dong2021_many_tokens import Kinds, about_the_mean, counterexample, lone_query
from rankmath.claims.dong2021_two_heads import four_keys, two_tokens
from rankmath.formula.arrays import Scalar
from rankmath.formula.language import fast
from rankmath.formula.run import Run, scalar_function
from rankmath.linalg.norms import composite
from rankmath.verification.claim import refuted
from rankmath.verification.papers import DONG, OWN


def exhibit(key: str, make: Callable[[], Kinds]) -> Callable[[], Certificate]:
    """The certificate of a layer given by a few numbers, decided in balls first."""

    def build() -> Certificate:
        kinds = make()
        return issue(Certificate(key, "violates", kinds.data()), decided=kinds.certified_ratio() > 1)

    return build


@fast("about_mean", of="tokens")
def about_mean(run: Run, X: tuple[str, int]) -> Scalar:
    A, tokens = run.A, run.tokens[X[1]]
    R = tokens.residual - A.sum(tokens.residual, axis=-2) / tokens.residual.shape[-2]
    size = composite(R, A)
    return run.from_log(scalar_function(A, A.log, size) if A.unbounded else run.scaled(tokens, size))


_START = "residual(X[0], composite)**(3**L)"

dong2021v1_2_2 = refuted(
    "dong2021v1:2.2",
    f"residual(X[L], composite) <= (4*beta/sqrt(d_qk))**((3**L - 1)/2)*{_START}",
    where={"beta": BETA},
    given="heads == 1",
    title="Doubly exponential collapse, one head (2021 form)",
    source=f"{DONG}, Theorem 2.2, first version: γ = 1, no hypothesis; revised by the authors in 2023",
    draws=SINGLE_DRAWS,
    extremal=antipodal_pair,
    exhibit=exhibit("dong2021v1:2.2", counterexample),
    share=0.1,
    cost=3,
    notes="A layer with 3563 tokens and a query bias refutes it, for the center that is least in the 1-, the ∞- or "
    "the composite norm; about the mean see dong2021v1:2.2-mean. In the composite norm, as here, it is true up to "
    "3562 tokens.",
)

dong2021v1_2_2_mean = refuted(
    "dong2021v1:2.2-mean",
    "about_mean(X[L]) <= (4*beta/sqrt(d_qk))**((3**L - 1)/2)*about_mean(X[0])**(3**L)",
    where={"beta": BETA},
    given="heads == 1",
    title="Doubly exponential collapse about the mean, one head (2021 form)",
    source=f"{DONG}, Theorem 2.2, first version, with the residual about the mean, as in the authors' code",
    draws=SINGLE_DRAWS,
    extremal=antipodal_pair,
    exhibit=exhibit("dong2021v1:2.2-mean", about_the_mean),
    share=0.1,
)

dong2021v1_2_3 = refuted(
    "dong2021v1:2.3",
    f"residual(X[L], composite) <= (4*beta*H/sqrt(d_qk))**((3**L - 1)/2)*{_START}",
    where={"beta": BETA},
    title="Doubly exponential collapse, many heads (2021 form)",
    source=f"{DONG}, Theorem 2.3, first version: γ = 1, no hypothesis; revised by the authors in 2023",
    draws=DRAWS,
    extremal=antipodal_pair,
    exhibit=exhibit("dong2021v1:2.3", two_tokens),
    share=0.1,
    cost=3,
    notes="Two heads and two tokens refute it with the mean as the center, which is a least one in the 1-, the ∞- and "
    "the composite norm.",
)

unstated_large_logits = refuted(
    "unstated:large-logits",
    f"residual(X[L], composite) <= (4*gamma_star*beta/sqrt(d_qk))**((3**L - 1)/2)*{_START}",
    where={"gamma_star": GAMMA, "beta": BETA},
    given="heads == 1",
    title="Doubly exponential collapse, one head, without small logits: a claim that nobody makes",
    source=f"{OWN}; nobody states it: Theorem 2.2 of {DONG}, 2023 revision, without D_ii ≤ x*, which the authors "
    "ask for in their Lemma A.3",
    truth="proofs/dong2021_2_3.tex",
    draws=SINGLE_DRAWS,
    extremal=antipodal_pair,
    exhibit=exhibit("unstated:large-logits", lone_query),
    share=0.1,
    cost=3,
    notes="The hypothesis of the authors' lemma cannot be dropped. γ_* is our reading of γ: dong2021:2.2.",
)

dong2021_2_3_printed = refuted(
    "dong2021:2.3-printed",
    f"residual(X[L], composite) <= (4*gamma_star*beta*H/sqrt(d_qk))**((3**L - 1)/2)*{_START}",
    where={"gamma_star": GAMMA, "beta": BETA},
    given=SMALL_LOGITS,
    title="Doubly exponential collapse, many heads (2023 form with βH)",
    source=f"{DONG}, Theorem 2.3, 2023 revision, with γ read as γ_*",
    truth="proofs/dong2021_2_3.tex",
    draws=DRAWS,
    extremal=antipodal_pair,
    exhibit=exhibit("dong2021:2.3-printed", four_keys),
    share=0.1,
    cost=3,
    notes=f"False for every γ that depends on the attention alone. {READING}",
)
