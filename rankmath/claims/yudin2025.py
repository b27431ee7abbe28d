"""yudin2025: the derivatives of softmax and of attention, bounded by the two largest shares."""

from collections.abc import Iterator

from rankmath.claims.castin2024 import FIRST_LAYER, LAYERS, ONE_LAYER, close_tokens
from rankmath.claims.folk_softmax_gradient import LOGITS, draw_logits
from rankmath.formula.arrays import defined
from rankmath.verification.claim import Instance, Rng, networks, proved
from rankmath.verification.draws import clustered_tokens, moderate_tokens
from rankmath.verification.papers import OWN, YUDIN

defined(
    "top_share(c: array, T: array, k: number)",
    "p = softmax(c/T); ordered(p)[len(p) - k] if k <= len(p) else 0",
    "the k-th largest entry of p = softmax(c/T), k = 1 the largest; 0 where there are fewer entries",
    example="top_share(c, T, 1) <= 1",
    by_name=True,
)


def one_above(rng: Rng) -> Iterator[Instance]:
    """One logit above others that nearly agree, and others far below."""
    for gap, T in ((0.5, 1.0), (2.0, 0.5), (1.0, 3.0)):
        yield yudin2025_softmax.instance([gap * T, T * 2.0**-24, 0.0, 0.0, -60 * T], T)


yudin2025_softmax = proved(
    "yudin2025:softmax",
    "softmax_slope(c, T) <= top_share(c, T, 1)*(1 - top_share(c, T, 1) + top_share(c, T, 2))/T",
    given="T > 0",
    arrays=LOGITS,
    title="Derivative of softmax, by its two largest shares, as we read it",
    source=f"{YUDIN}, from public code that quotes the bound; the temperature, the proof and the case of equality "
    "are ours",
    draws=(draw_logits,),
    extremal=one_above,
    sharp=True,
    share=0.5,
    notes="Attained where all shares but the largest are equal. It implies own:softmax-gradient.",
)

# In dimension one a sparse W_QK is often 0, and the bounds are equalities.
_DRAWS = tuple(
    networks(tokens, shapes=LAYERS[3:], log_weights=(-1.0, 0.5), biases=False)
    for tokens in (clustered_tokens, moderate_tokens)
)
_SIZE = {"a": "norm(W_QK[0,0], 2)/sqrt(d_qk)", "kappa": "top_shares(P[0,0])"}

yudin2025_attention = proved(
    "yudin2025:attention",
    "jacobian_norm() <= norm(W[0,0], 2)*(norm(P[0,0], 2) + 2*a*kappa*norm(X[0], 2)**2)",
    given=ONE_LAYER,
    where=_SIZE,
    title="Derivative of attention, by the two largest shares of its rows",
    source=f"{YUDIN}, from public code that quotes the bound; the proof is ours",
    draws=_DRAWS,
    extremal=close_tokens,
    share=0.05,
    notes="own:attention-shares is never more.",
)

own_attention_shares = proved(
    "own:attention-shares",
    "jacobian_norm() <= norm(W[0,0], 2)*(norm(P[0,0], 2) + a*kappa*c*(c + norm(X[0], 2)))",
    given=FIRST_LAYER,
    where={**_SIZE, "c": "centred_norm(X[0])"},
    title="Derivative of attention, by the two largest shares of its rows and the spread of tokens",
    source=f"{OWN}, after {YUDIN}",
    draws=_DRAWS,
    extremal=close_tokens,
    sharp=True,
    share=0.05,
    notes="Never more than yudin2025:attention. As tokens come together at a point it tends to ‖W‖₂, the norm of the "
    "derivative there.",
)
