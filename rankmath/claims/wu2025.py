"""wu2025:4.1 to 4.4: where attention goes under causal, window, prefix and decay masks; and our sharper forms."""

from fractions import Fraction
from functools import partial

import numpy as np

from rankmath.formula.arrays import ArrayRun, Truth, defined, predicate
from rankmath.linalg.rationals import exact_array
from rankmath.validation import Bools, Objects
from rankmath.verification.claim import ArrayInstance, Rng, exact_batch, proved, refuted
from rankmath.verification.papers import OWN, WU_BIAS

# -- rollouts ----------------------------------------------------------------------------------------------


def _window(n: int, w: int) -> Bools:
    i, j = np.indices((n, n))
    return (j <= i) & (i - j < w)


def _prefix(n: int, k: int) -> Bools:
    i, j = np.indices((n, n))
    return j < np.maximum(k, i + 1)


defined("steps(P: array)", "len(P)", "the number of layers", example="steps(P) >= 1")
defined(
    "share(P: array, j: number)",
    "max(sum(rollout(P)[m][k] for k in range(n) if k == j) for m in range(n))",
    "largest weight of a token on the token of this number over all layers; the first has number 0, and beyond the "
    "last it is 0",
    example="share(P, 1) <= 1",
)
defined(
    "tail(P: array, j: number)",
    "max(sum(rollout(P)[m][k] for k in range(j, n)) for m in range(n))",
    "largest weight of a token on all tokens from this number on, over all layers; the first has number 0, and "
    "beyond the last it is 0",
    example="tail(P, 1) <= 1",
)
defined(
    "windowed(P: array, w: number)",
    "all(P[s][i][j] > 0 if 0 <= i - j < w else P[s][i][j] == 0 for s in range(len(P)) for i in range(n) for j "
    "in range(n))",
    "every token sees itself and the w − 1 before it, as far as there are any, and no other; w = n is the causal mask",
    example="windowed(P, 2)",
)
defined(
    "least_within(P: array, w: number)",
    "min(P[s][i][j] for s in range(len(P)) for i in range(n) for j in range(n) if 0 <= i - j < w)",
    "least attention within the window, over all layers",
    example="least_within(P, 2) > 0",
)
defined(
    "prefixed(P: array, k: number)",
    "all(P[s][i][j] > 0 if j <= i or j < k else P[s][i][j] == 0 for s in range(len(P)) for i in range(n) for "
    "j in range(n))",
    "every token sees itself, the tokens before it and the first k tokens, and no other; counted from 0",
    example="prefixed(P, 2)",
)
defined(
    "least_prefixed(P: array, k: number)",
    "min(P[s][i][j] for s in range(len(P)) for i in range(n) for j in range(n) if j <= i or j < k)",
    "least attention of a token to one that it sees under the mask with this prefix, over all layers",
    example="least_prefixed(P, 2) > 0",
)
defined(
    "prefix_floor(P: array, k: number)",
    "min(rollout(P)[i][j] for i in range(n) for j in range(n) if j < k)",
    "least weight on a token of the prefix over all layers",
    example="prefix_floor(P, 1) > 0",
)


def draw_layers(rng: Rng, size: int, *, mask: str, extreme: bool = False) -> ArrayInstance:
    """Layers of rationals on a mask; `extreme`: ε on all that is seen, the rest of every row on its own token."""
    n, length = int(rng.integers(2, 5)), int(rng.integers(1, 7))
    w = int(rng.integers(2, n + 1)) if mask == "window" and not extreme else n
    k = int(rng.integers(1, n)) if mask == "prefix" else 1
    allowed = _prefix(n, k) if mask == "prefix" else _window(n, w)
    found = []
    for _ in range(size):
        if extreme:
            layers: Objects = np.full((length, n, n), Fraction(1, int(rng.integers(n + 1, 4 * n)))) * allowed
            layers = layers + np.eye(n, dtype=int) * (1 - layers.sum(axis=-1, keepdims=True))
        else:
            layers = exact_array("P", rng.integers(1, 30, (length, n, n)) * allowed, (length, n, n))
            layers = layers / layers.sum(axis=-1, keepdims=True)
        found.append(layers)
    width = {"causal": {}, "prefix": {"prefix": [k] * size}, "window": {"w": [w] * size}}[mask]
    return exact_batch("extreme" if extreme else "random", P=found, **width)


_DRAWS = {
    mask: (partial(draw_layers, mask=mask, extreme=True), partial(draw_layers, mask=mask))
    for mask in ("causal", "window", "prefix")
}
_REACH = {"eps": "least_within(P, w)", "reach": "-floor(-(n - 1)/(w - 1))"}
_READ = "from third-party text, which counts tokens from 1"
_BOUNDED = (
    "Where ε stays above a positive number, as with bounded logits, the weight behind the first token tends to 0 "
    "with depth."
)
_BEHIND = _BOUNDED.replace("first token", "prefix")

wu2025_4_1 = proved(
    "wu2025:4.1",
    "all_i(share(P, i + 1) <= (1 - (i + 1)*eps)**(steps(P) - 1))",
    given=("n >= 2", "windowed(P, n)"),
    where={"eps": "least_within(P, n)"},
    arrays={"P": "t n n, stochastic"},
    title="Attention to the first token under the causal mask, as we read it",
    source=f"{WU_BIAS}, Theorem 4.1, {_READ}: C(1 - (j - 1)ε)^t after t + 1 layers; that C = 1 will do is ours",
    draws=_DRAWS["causal"][::-1],
    share=0.25,
    notes=_BOUNDED,
)

wu2025_4_2 = proved(
    "wu2025:4.2",
    "all_i(share(P, i + 1)**(2*reach)*(1 - (i + 1)*eps**reach)**reach <= (1 - (i + 1)*eps**reach)**(steps(P) - 1))",
    given=("n >= 2", "w >= 2", "windowed(P, w)"),
    where=_REACH,
    arrays={"P": "t n n, stochastic", "w": ", whole, >= 2"},
    title="Attention to the first token under a sliding window, as we read it",
    source=f"{WU_BIAS}, Theorem 4.2, {_READ}: C(1 - (j - 1)ε^r)^(t/2r) after t + 1 layers, r the reach; "
    "that C = (1 - (j - 1)ε^r)^(-1/2) will do is ours",
    draws=_DRAWS["window"][::-1],
    share=0.25,
    notes=_BOUNDED,
)

own_position_bias = proved(
    "own:position-bias",
    "all_i(tail(P, i + 1) <= (1 - (i + 1)*eps**reach)**floor(steps(P)/reach))",
    given=("n >= 2", "w >= 2", "windowed(P, w)"),
    where=_REACH,
    arrays={"P": "t n n, stochastic", "w": ", whole, >= 2"},
    title="Attention to the first token under a window, with a rate",
    source=f"{OWN}, after Theorems 4.1 and 4.2 of {WU_BIAS}",
    draws=_DRAWS["window"],
    sharp=True,
    share=0.6,
    notes=f"Attained under the causal mask, w = n. {_BOUNDED}",
)

wu2025_4_3 = proved(
    "wu2025:4.3",
    "all_i(share(P, prefix + i) <= max(0, 1 - (i + 1)*eps)**(steps(P) - 1)) and prefix_floor(P, prefix) > 0",
    given=("prefix >= 1", "prefix <= n", "prefixed(P, prefix)"),
    where={"eps": "least_prefixed(P, prefix)"},
    arrays={"P": "t n n, stochastic", "prefix": ", whole, >= 1"},
    title="Attention to the prefix under a prefix mask, as we read it",
    source=f"{WU_BIAS}, Theorem 4.3, {_READ}: C(1 - (j - K)ε)^t after t + 1 layers beyond the prefix of K tokens, "
    "a positive limit inferior on it",
    draws=_DRAWS["prefix"][::-1],
    share=0.25,
    notes=f"That the prefix keeps ε at every depth is own:position-bias-prefix. {_BEHIND}",
)

own_position_bias_prefix = proved(
    "own:position-bias-prefix",
    "all_i(tail(P, prefix + i) <= max(0, 1 - (prefix + i)*eps)**steps(P)) and prefix_floor(P, prefix) >= eps",
    given=("prefix >= 1", "prefix <= n", "prefixed(P, prefix)"),
    where={"eps": "least_prefixed(P, prefix)"},
    arrays={"P": "t n n, stochastic", "prefix": ", whole, >= 1"},
    title="Attention to the prefix, with a rate",
    source=f"{OWN}, after Theorem 4.3 of {WU_BIAS}",
    draws=_DRAWS["prefix"],
    sharp=True,
    share=0.6,
    notes=_BEHIND,
)

# -- decay with distance (ALiBi) ---------------------------------------------------------------------------


defined(
    "spread(E: array)",
    "max(E[i][j] for i in range(n) for j in range(i + 1))/min(E[i][j] for i in range(n) for j in range(i + 1))",
    "largest over least of E_ij = e^(I_ij) on the causal mask, I the logits without decay",
    example="spread(E) >= 1",
)
defined(
    "decay_constant(E: array, a: array)",
    "max(E[i][j]/sum(E[i][k]*a**(i - k) for k in range(i + 1)) for i in range(1, n) for j in range(i + 1))",
    "least C with A_ij ≤ C e^(−(i−j)m) for all j ≤ i and all tokens i after the first, which has number 0; "
    "E_ij = e^(I_ij), A_ij = e^(I_ij − (i − j)m)/Σ_{k≤i} e^(I_ik − (i − k)m), a = e^(−m), m > 0",
    example="decay_constant(E, a) > 0",
)
defined(
    "decay_tightness(E: array, a: array)",
    "max(E[i][j]*a**(i - j)/sum(E[i][k]*a**(i - k) for k in range(i + 1))*(1 + min(E[p][q] for p in range(n) "
    "for q in range(p + 1))/max(E[p][q] for p in range(n) for q in range(p + 1))*sum(a**(j - k) for k in "
    "range(i + 1) if not k == j)) for i in range(1, n) for j in range(i + 1))",
    "largest A_ij(1 + e^(I_min − I_max) Σ_{k≤i, k≠j} e^((k−j)m)) over j ≤ i and all tokens i after the first, "
    "which has number 0, where the logits I_ij, j ≤ i, lie between I_min and I_max, E_ij = e^(I_ij), a = "
    "e^(−m), m > 0 and A_ij = e^(I_ij − (i − j)m)/Σ_{k≤i} e^(I_ik − (i − k)m)",
    example="decay_tightness(E, a) > 0",
)


def draw_decay(rng: Rng, size: int) -> ArrayInstance:
    """Random logits of a given range, and one large logit among least ones."""
    n = int(rng.integers(2, 6))
    matrices, decays = [], []
    for k in range(size):
        E = rng.integers(1, 20, (n, n))
        if k % 2:
            E = np.ones((n, n), dtype=int)
            i = int(rng.integers(0, n))
            E[i, int(rng.integers(0, i + 1))] = int(rng.integers(1, 20))
        matrices.append(E)
        decays.append(Fraction(int(rng.integers(1, 20)), 20))
    return exact_batch("decay", E=matrices, a=decays)


wu2025_4_4 = proved(
    "wu2025:4.4",
    "decay_constant(E, a) <= spread(E)/(1 + a)",
    given="n >= 2",
    arrays={"E": "n n, > 0, n >= 2", "a": ", > 0, < 1"},
    title="Attention by distance under a decay mask, as we read it",
    source=f"{WU_BIAS}, Lemma 4.4 on ALiBi, {_READ}; for all tokens but the first, which sees itself alone",
    draws=(draw_decay,),
    share=0.5,
)

own_decay = proved(
    "own:alibi-decay",
    "decay_tightness(E, a) <= 1",
    given="n >= 2",
    arrays={"E": "n n, > 0, n >= 2", "a": ", > 0, < 1"},
    title="Attention with a decay mask, for a range of logits",
    source=f"{OWN}, after Lemma 4.4 of {WU_BIAS}",
    draws=(draw_decay,),
    share=0.5,
    sharp=True,
    notes="Attained for every i and j.",
)


@predicate(
    "kept(a: array, c: array)", latex=r"(1+{0})^{{-(t+1)}}\ge {1}\text{{ for all }}t\ge0", because="about every t ≥ 0"
)
def kept(run: ArrayRun, a: str, c: str) -> Truth:
    """the second of two tokens with equal logits and decay a = e^(−m) keeps at least c of itself at every depth"""
    depth = _too_deep(Fraction(run.letter(a)), Fraction(run.letter(c)))
    return Truth(False, f"not after {depth + 1} layers")


def _too_deep(a: Fraction, c: Fraction) -> int:
    """The first t with (1 + a)^−(t+1) < c."""
    t, weight = 0, 1 / (1 + a)
    while weight >= c:
        t, weight = t + 1, weight / (1 + a)
    return t


def draw_constants(rng: Rng, size: int) -> ArrayInstance:
    """A free decay, and constants from 1/10 down to 10⁻⁹."""
    a = [Fraction(int(k), 20) for k in rng.integers(2, 19, size)]
    return exact_batch("constants", a=a, c=[Fraction(1, 10 ** int(k)) for k in rng.integers(1, 10, size)])


folk_alibi_theta = refuted(
    "folk:alibi-theta",
    "kept(a, c)",
    given=("a > 0", "a < 1", "c > 0", "(1 + a)*c <= 1"),
    arrays={"a": "", "c": ""},
    title="Order of rollouts under a decay mask, uniform in depth",
    source="often read, with no one source; where constants may depend on depth nothing is said here",
    draws=(draw_constants,),
    share=0.2,
    # Too little is left after 52 layers.
    exhibit={"a": Fraction(1, 2), "c": Fraction(1, 10**9), "t": _too_deep(Fraction(1, 2), Fraction(1, 10**9))},
    notes="At distance 0 the order would be that of 1, but after t layers (1 + a)^(−t) is kept. Rates: "
    "own:position-bias.",
)
