"""dong2021:2.1: the output as a sum over all paths through heads and, with skips, around them."""

from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np

from rankmath.attention.paths import path_counts
from rankmath.attention.plain import attention_matrices
from rankmath.certificates.certificate import Certificate, Data
from rankmath.certificates.issue import issue, stochastic_rationals
from rankmath.formula.arrays import ArrayRun, Truth, predicate
from rankmath.linalg.rationals import to_flint
from rankmath.model.network import Network
from rankmath.validation import ArrayLike, InvalidArgument, NumpyArray, Objects
from rankmath.verification.claim import ArrayInstance, Rng, Verdict, network_instance, proved
from rankmath.verification.draws import rational_stochastic
from rankmath.verification.papers import DONG

_MOST_PATHS = 4096
_ARRAYS = {"X": "n d", "P": "L H n n, stochastic", "W": "L H d d", "bias": "L d", "skip": ""}


@predicate(
    "sum_of_paths(X: array, P: array, W: array, bias: array, skip: array)",
    latex=r"X^L=\sum_{{\text{{paths}}}}P_{{\mathrm{{path}}}}{0}W_{{\mathrm{{path}}}}+\mathbf1b^{{\mathsf T}}",
    because="the layers are a recursion, and the sum runs over sequences of heads",
)
def sum_of_paths(run: ArrayRun, X: str, P: str, W: str, bias: str, skip: str) -> Truth:
    """X^{l+1} = λX^l + Σ_h P^l_h X^l W^l_h + 1·bias_l for l = 0, …, L − 1 makes X^L the sum over all paths
    (h_0, …, h_{L−1}) of P^{L−1}_{h_{L−1}} ⋯ P^0_{h_0} X W^0_{h_0} ⋯ W^{L−1}_{h_{L−1}} plus one row bᵀ for all
    tokens, where each h_l is one of the H heads or the skip connection (for which P = I and W = λI), and C(L,
    k)H^k paths go through k heads"""
    lam, (L, H), n = run.letter(skip), run[P].shape[:2], len(run[X])
    Ps, Ws = ([[to_flint(head) for head in layer] for layer in run[name]] for name in (P, W))
    # The bias of a layer is one row for all tokens.
    biases = [to_flint([row] * n) for row in run[bias]]
    tokens, scale = to_flint(run[X]), to_flint([[lam]])[0, 0]
    layered, common = tokens, 0 * tokens
    for l in range(L):
        layered = sum((Ps[l][h] * layered * Ws[l][h] for h in range(H)), layered * scale + biases[l])
        common = sum((common * Ws[l][h] for h in range(H)), common * scale + biases[l])
    total, seen = common, [0] * (L + 1)
    for path in product(range(0 if lam else 1, H + 1), repeat=L):
        along = tokens
        for l, h in enumerate(path):
            along = along * scale if h == 0 else Ps[l][h - 1] * along * Ws[l][h - 1]
        total = total + along
        seen[sum(h > 0 for h in path)] += 1
    counted = seen == path_counts(L, H, skip=bool(lam))
    reason = f"{sum(seen)} paths, exact rationals" + ("" if counted else f", but counts {seen}")
    return Truth(bool(total == layered) and counted, reason)


def path_instance(net: Network, X: ArrayLike) -> ArrayInstance:
    """The network's attention matrices, rounded to rationals whose rows sum to one exactly, and its other weights.

    The identity holds for any row-stochastic matrices in the place of the P's, so rounding them changes nothing.
    """
    checked = network_instance(net, X)
    net = checked.net
    if checked.X.ndim != 2 or net.norm is not None or any(net.mlp):
        raise InvalidArgument("net: the path decomposition is for one sequence and a network without MLP and LayerNorm")
    if (net.heads + 1) ** net.layers > _MOST_PATHS:
        raise InvalidArgument(
            f"net: {net.heads + 1}^{net.layers} paths; enumeration in rationals takes {_MOST_PATHS} at most"
        )
    bias = np.zeros((net.layers, net.dim)) if net.bias is None else net.bias
    P = stochastic_rationals(attention_matrices(net, checked.X))
    arrays = {"X": checked.X, "P": P, "W": net.W, "bias": bias, "skip": np.asarray(net.skip)}
    return ArrayInstance({name: _fractions(array) for name, array in arrays.items()})


def plain_path_instance(net: Network, X: ArrayLike) -> ArrayInstance:
    """The same for a network without skips: with them, `dong2021:2.1-skip` is the statement."""
    if getattr(net, "skip", 0):
        raise InvalidArgument(f"net: a skip factor of {net.skip} given; dong2021:2.1 has none, use dong2021:2.1-skip")
    return path_instance(net, X)


def _fractions(array: NumpyArray) -> Objects:
    boxed = np.empty(np.shape(array), dtype=object)
    for place, entry in np.ndenumerate(np.asarray(array, dtype=object)):
        boxed[place] = Fraction(entry)
    return boxed


def draw_paths(rng: Rng, size: int, *, skips: bool) -> ArrayInstance:
    """Small integers and rational stochastic matrices; with skips λ = ±1/2, ±1, ±3/2."""
    n, d, H, L = (int(k) for k in rng.integers(1, 4, 4))

    def small(*shape: int) -> Objects:
        return _fractions(rng.integers(-9, 10, (size, *shape)))

    Ps = np.empty((size, L, H, n, n), dtype=object)
    for place in np.ndindex(size, L, H):
        Ps[place] = rational_stochastic(rng, n)
    factors = rng.choice([-3, -2, -1, 1, 2, 3], size) if skips else np.zeros(size, dtype=int)
    arrays = {"X": small(n, d), "P": Ps, "W": small(L, H, d, d), "bias": small(L, d), "skip": _fractions(factors) / 2}
    return ArrayInstance(arrays, "random", is_batch=True)


def certify(instance: ArrayInstance, verdict: Verdict, *, skips: bool) -> Certificate:
    """The layers' output is the sum over all paths, exactly."""
    X, P, W, bias, skip = (instance[name] for name in _ARRAYS)
    layers = [
        {"heads": [{"P": P_h, "W": W_h} for P_h, W_h in zip(P_l, W_l, strict=True)], "bias": b}
        for P_l, W_l, b in zip(P, W, bias, strict=True)
    ]
    output = X
    for P_l, W_l, b in zip(P, W, bias, strict=True):
        output = sum((P_h @ output @ W_h for P_h, W_h in zip(P_l, W_l, strict=True)), b + skip * output)
    key = "dong2021:2.1-skip" if skips else "dong2021:2.1"
    data: dict[str, Data] = {"X": X, "layers": layers, "output": output}
    return issue(Certificate(key, "holds", data | ({"skip": np.asarray(skip).item()} if skips else {})))


dong2021_2_1 = proved(
    "dong2021:2.1",
    "sum_of_paths(X, P, W, bias, skip)",
    given="skip == 0",
    arrays=_ARRAYS,
    title="Path decomposition",
    source=f"{DONG}, Theorem 2.1",
    instance=plain_path_instance,
    draws=(partial(draw_paths, skips=False),),
    certificate=partial(certify, skips=False),
    share=0.25,
)

dong2021_2_1_skip = proved(
    "dong2021:2.1-skip",
    "sum_of_paths(X, P, W, bias, skip)",
    arrays=_ARRAYS,
    title="Path decomposition with skip connections, and path counts",
    source=f"{DONG}, section 3.1; any factor λ of the skip connection is ours",
    instance=path_instance,
    draws=(partial(draw_paths, skips=True),),
    certificate=partial(certify, skips=True),
    share=0.25,
)
