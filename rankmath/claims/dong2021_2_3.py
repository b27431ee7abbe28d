"""dong2021:2.2 and 2.3: doubly exponential collapse of the residual in ‖·‖_{1,∞}; also 3.2, with a map
after each layer."""

from collections.abc import Iterator

import numpy as np

from rankmath.claims import own_diameter
from rankmath.claims.own_gamma_free import three_keys
from rankmath.formula.evaluate import Subject, sides
from rankmath.model.network import LIPSCHITZ, MLP, Network
from rankmath.validation import Number
from rankmath.verification.claim import NetworkInstance, ours, proved
from rankmath.verification.draws import Rng, moderate_tokens, networks, outlier_tokens, small_tokens
from rankmath.verification.papers import DONG, OWN

SHAPES = ((2, 1, 1, 1), (3, 2, 1, 1), (5, 2, 2, 1), (6, 3, 1, 2), (4, 3, 2, 2))
DRAWS = tuple(networks(t, shapes=SHAPES) for t in (small_tokens, moderate_tokens, outlier_tokens))
SINGLE_DRAWS = tuple(
    networks(t, shapes=tuple(shape for shape in SHAPES if shape[2] == 1))
    for t in (small_tokens, moderate_tokens, outlier_tokens)
)

#: γ_*, the value of γ with which the printed argument closes; B, which sums the heads norm by norm.
GAMMA = "max_l(max_h(gamma(P[l,h])))"
B = "max_l(sqrt(sum_h(norm(W_QK[l,h], 1)*norm(W[l,h], 1))*sum_h(norm(W_QK[l,h], 1)*norm(W[l,h], inf))))"
BETA = "max_l(max_h(norm(W_QK[l,h], 1)*norm(W[l,h], composite)))"
SMALL_LOGITS = "all_l(max_h(delta(P[l,h], composite)) <= x_star)"
READING = (
    "γ is in the 2023 revision a term that depends on the attention entries; its printed definition was not available "
    "to us: we read it as γ_*, with which the argument closes."
)


def antipodal_pair(rng: Rng) -> Iterator[NetworkInstance]:
    """±a with small a: the one-layer bound is loose by a factor of four only; then the tight family of one head."""
    for a in (0.3, 0.1):
        ones = np.ones((1, 1, 1, 1))
        yield NetworkInstance(Network.from_arrays(ones, ones), np.asarray([[a], [-a]]), "two tokens")
    yield three_keys(10, 2.0**-10)
    yield three_keys(60, 2.0**-12)


def antipodal_pair_with_map(rng: Rng) -> Iterator[NetworkInstance]:
    """The same pair, followed by tanh of small arguments: nearly the identity, of constant one."""
    unit = np.ones((1, 1))
    for a in (0.3, 0.1):
        ones = np.ones((1, 1, 1, 1))
        net = Network.from_arrays(ones, ones, mlp=MLP(unit / 64, unit * 64, activation="tanh"))
        yield NetworkInstance(net, np.asarray([[a], [-a]]), "two tokens and a map")


def looser_than_diameter(run: Subject) -> dict[str, Number]:
    """log of (looseness of the bound)/(looseness of own:diameter in ℓ₁) on the same instances."""
    found = []
    for formula in (dong2021_2_3.expanded, own_diameter.own_diameter.expanded):
        side = next(iter(sides(formula, run)))
        with np.errstate(invalid="ignore"):  # a residual that is exactly zero has no looseness
            found.append(side.right.log - side.left.log)
    with np.errstate(invalid="ignore"):
        return {"own:diameter is tighter on the same instances by a median factor of": found[0] - found[1]}


dong2021_2_3 = proved(
    "dong2021:2.3",
    "residual(X[L], composite) <= (4*gamma_star*B/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0], composite)**(3**L)",
    where={"gamma_star": GAMMA, "B": B},
    given=SMALL_LOGITS,
    title="Doubly exponential collapse, many heads (2023 form, heads summed norm by norm)",
    source=f"{DONG}, Theorem 2.3, 2023 revision, repaired: B in place of βH",
    draws=DRAWS,
    extremal=antipodal_pair,
    compare=looser_than_diameter,
    share=0.15,
    cost=5,
    notes="With βH in place of B it is false: dong2021:2.3-printed. γ is read as in dong2021:2.2.",
)

dong2021_2_2 = proved(
    "dong2021:2.2",
    "residual(X[L], composite) <= (4*gamma_star*beta/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0], composite)**(3**L)",
    where={"gamma_star": GAMMA, "beta": BETA},
    given=("heads == 1", SMALL_LOGITS),
    title="Doubly exponential collapse, one head (2023 form)",
    source=f"{DONG}, Theorem 2.2, 2023 revision",
    draws=SINGLE_DRAWS,
    extremal=antipodal_pair,
    supremum="sqrt(32/27)/4",
    compare=looser_than_diameter,
    share=0.15,
    cost=5,
    notes="It falls with depth where 0 < cr² < 1, c what is in brackets, with suprema over all layers, and r the "
    f"residual of the input. {READING}",
)

own_composite = ours(
    "own:composite",
    "residual(X[L], composite) <= (2*gamma_star*B/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0], composite)**(3**L)",
    where={"gamma_star": GAMMA, "B": B},
    given=SMALL_LOGITS,
    source=f"{OWN}, after Theorem 2.3 of {DONG}",
    title="Doubly exponential collapse with half of the constant of dong2021:2.3",
    draws=DRAWS,
    extremal=antipodal_pair,
    share=0.1,
    cost=5,
)

dong2021_3_2 = proved(
    "dong2021:3.2",
    "residual(X[L], composite) <= (4*gamma_star*B*lambda_f/sqrt(d_qk))**((3**L - "
    "1)/2)*residual(X[0], composite)**(3**L)",
    where={"gamma_star": GAMMA, "B": B, "lambda_f": "max_l(lipschitz(l))"},
    given=("mlp == any", SMALL_LOGITS),
    title="Doubly exponential collapse with a Lipschitz map after every layer",
    source=f"{DONG}, section 3.2, repaired as dong2021:2.3: B in place of βH; λ is an explicit composite Lipschitz "
    "constant",
    truth="proofs/dong2021_3.tex",
    draws=tuple(networks(small_tokens, shapes=SHAPES, mlp=f) for f in LIPSCHITZ),
    extremal=antipodal_pair_with_map,
    share=0.1,
    cost=3,
    notes="γ is read as in dong2021:2.2.",
)
