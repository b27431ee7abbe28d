"""Statements as data: for every key the hypotheses and the conclusion, and the definitions they rest on.

All of it is text in the language of `rankmath.checker.kernel`: Python's arithmetic and relations, conditions and
loops, `@` for the matrix product, and the primitives of the kernel. Definitions are frozen under the format's
version: a changed definition needs a new one. Tokens are the rows of a matrix.
"""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass, field, replace
from typing import Any

from rankmath.checker.kernel import FUNCTIONS, OPERATIONS, Definitions, formula
from rankmath.checker.reading import MAX_SIDE, demand
from rankmath.checker.rules import RULES
from rankmath.definitions.entries import ENTRIES, Entry, lines
from rankmath.definitions.layer import ACTIVATIONS, CAPS, GRAPHS, LAYERNORMS, layer_text
from rankmath.definitions.quantities import HELPERS

MAX_LAYERS = 128
MAX_HEADS = 64
MAX_SUBLAYERS = 8
MAX_MAPS = 4
MAX_LINES = 32  # supporting lines for one residual


def definitions(text: str, known: Definitions | None = None) -> dict[str, tuple[tuple[str, ...], ast.expr]]:
    """The definitions of a text, after those known; nothing is defined twice."""
    result = {**(known or {})}
    for name, parameters, body in lines(text):
        demand(name not in {*result, *FUNCTIONS, *OPERATIONS}, f"{name} is defined twice")
        result[name] = (parameters, formula(body))
    return result


# What every statement may use.
COMMON = GRAPHS + ENTRIES["norm"].line

# Where one of these is not shown, what holds of a network is empty, and why.
NETWORK_TELLING = {
    "layernorm == none or d >= 2": "in dimension 1 LayerNorm keeps nothing of a token but its sign",
    "not layernorm == column or any(max(abs(X[0][i] - X[0][j])) > 0 and max(abs(X[0][j] - X[0][k])) > 0 and"
    " max(abs(X[0][i] - X[0][k])) > 0 for i in range(n) for j in range(i) for k in range(j))": (
        "of two kinds of tokens LayerNorm over columns keeps nothing but signs"
    ),
    "not layernorm == sphere or any(max(abs(x - X[0][0])) > 0 and max(abs(x + X[0][0])) > 0 for x in X[0])": (
        "of tokens on one line through 0 the sphere keeps nothing but signs"
    ),
    "any(len(mixing(l)) > 0 for l in range(L))": "no token averages values that differ",
    "any(max(abs(row)) > 0 for l in range(L) if len(mixing(l)) > 0"
    " for row in without(l, 0) - without(l, averages(l)))": "attention carries nothing",
}


@dataclass(frozen=True)
class Statement:
    """One statement: its claim and hypotheses as text, what may be shown of it, what a certificate must hold."""

    says: str
    claim: str
    given: tuple[str, ...]
    kinds: tuple[str, ...]
    data: dict[str, Any]
    define: str = ""
    hints: dict[str, Any] = field(default_factory=dict)
    # Conditions on the hints: what the method needs, no part of the statement.
    method: tuple[str, ...] = ()
    # Fields of the data that may be there, and what each adds to the claim and to the conditions.
    extra: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    # What is proved on paper and not computed here.
    relies: tuple[str, ...] = ()
    # Sentences about numbers of the data, said of a certificate that was accepted and has them.
    shows: dict[str, str] = field(default_factory=dict)
    # Where these fail the statement is true and empty: such an instance is refused.
    telling: tuple[str, ...] = ()
    # Whether the statement is that some instance violates the claim: then one that does shows the statement.
    denies: bool = False


_ROW = {"columns": "d", "rows": "n"}
# x -> f(x W_in + b_in) W_out + b_out, plus x where skip is 1.
_MLP = {"W_in": "d m", "b_in": "m", "W_out": "m d", "b_out": "d", "skip": "number"}
# The one-line form of a layer: LayerNorm(f(skip X + attention)), with one mask, one d_qk and one skip.
ONE_LINE_DATA = {
    "X": "n d",
    "d_qk": "number",
    "skip": "number",
    "mask": "n n",
    "layernorm": ("none", "sphere", "column"),
    "centers?": ["d", MAX_LAYERS],
    "layers": [
        {
            "heads": [{"W_QK": "d d", "W": "d d", "key_bias": "d"}, MAX_HEADS],
            "bias": "d",
            "mlp?": {**_MLP, "activation": ("relu", "tanh")},
        },
        MAX_LAYERS,
    ],
}
# Any sequence of sublayers: the fields that `rankmath.definitions.layer` names, those with "?" where they are.
_ATTENTION: dict[str, Any] = {
    "query": ["d k", MAX_HEADS],
    "key?": ["d k", MAX_HEADS],
    "value": ["d v", MAX_HEADS],
    "output?": ["v d", MAX_HEADS],
}
_ATTENTION |= {"key_bias?": ["d", MAX_HEADS], "bias?": "d", "d_qk": "number", "mask?": "n n", "softcap?": "number"}
_ATTENTION |= {"position?": ["n n", MAX_HEADS], "b_Q?": ["k", MAX_HEADS], "b_K?": ["k", MAX_HEADS]}
_ATTENTION |= {"rotary?": {"cos": "n p", "sin": "n p"}, "qk_norm?": {"gains": ["k", 2], "every": "s", "eps": "number"}}


def sublayer_data() -> dict[str, Any]:
    """The shape of the data of a network of sublayers, with the kinds of maps that the tables have by now."""
    norm = {"kind": (*LAYERNORMS, "column"), "eps": "number", "gain?": "d", "offset?": "d"}
    mlp = {**_MLP, "activation": tuple(ACTIVATIONS), "W_gate?": "d m", "b_gate?": "m"}
    maps = [{"attention?": {**_ATTENTION, "cap?": tuple(CAPS)}, "mlp?": mlp}, MAX_MAPS]
    sublayer = {"maps?": maps, "skip": "number", "before?": norm, "behind?": norm, "after?": norm}
    return {"X": "n d", "centers?": ["d", MAX_LAYERS], "layers": [[sublayer, MAX_SUBLAYERS], MAX_LAYERS]}


def network_data(data: Any) -> dict[str, Any]:
    """The shape of these data of a network; the mask of the one-line form is a matrix, or the word "complete"."""
    if type(data) is not dict or "layernorm" not in data:
        return sublayer_data()
    return {**ONE_LINE_DATA, "mask": ("complete",)} if type(data.get("mask")) is str else ONE_LINE_DATA


# Functions of numbers that a claim may name beside the quantities.
CLAIM_FUNCTIONS = {"sqrt", "exp", "log", "tanh", "abs", "floor", "expc", "tanhc"}
# sum_l(term) is sum(term for l in range(L)), and so on.
CLAIM_REACH = {"l": "range(L)", "h": "range(H)", "i": "range(n)", "k": "range(K)", "p": "[1, 2, inf]"}
CLAIM_LOOPS = {
    f"{verb}_{letter}": (verb, letter)
    for verb in ("sum", "prod", "max", "min", "all")
    for letter in CLAIM_REACH
    if letter != "p" or verb == "all"
}
# Kind, and how many indices.
CLAIM_ARRAYS = {"X": ("tokens", 1), **dict.fromkeys(("P", "P0"), ("attention", 2))}
CLAIM_ARRAYS |= dict.fromkeys(("W", "W_QK"), ("weight", 2))
CLAIM_NUMBERS = {"n", "d", "H", "L", "d_qk", "skip", "x_star", "r", "in_degree", "K", "kv_heads"}
CLAIM_NUMBERS |= {"tokens", "dim", "heads", "layers"}
# A residual's hint is named "X[l] inf" or "X[l] composite": a center, and weights on columns and rows.
NETWORK_HINTS = {"*": {"center?": "d", "lines?": [_ROW, MAX_LINES]}}
_BOTH, _HOLDS, _VIOLATES, _EXISTS = ("holds", "violates"), ("holds",), ("violates",), ("exists",)


# -- statements with data of their own -----------------------------------------------------------------------

_SANDWICH = """
q = softmax(logits, weights)
P(i) = softmax(logits + E[i], weights)
D(i) = max(E[i]) - min(E[i])
"""
_SANDWICH_CLAIM = (
    "all(D(i) == 0 or (1 - D(i))*q[j] <= P(i)[j] and P(i)[j] <= (1 + 2*D(i))*q[j] for i in range(n) for j in range(m))"
)
_SANDWICH_GIVEN = ("m >= 2", "all(w > 0 for w in weights)", "max(D(i) for i in range(n)) > 0")
_SANDWICH_DATA = {"weights?": "m", "logits?": "m", "E": "n m"}
_TV_DATA = {"weights?": "m", "logits?": "m", "g": "m"}
_TV_GIVEN = ("m >= 2", "all(w > 0 for w in weights)", "max(g) - min(g) > 0")
_TV = """
q = softmax(logits, weights)
p = softmax(logits + g, weights)
"""
_PATHS = """
A(l, h) = P[l, h] if h < H else identity(n)
V(l, h) = W[l, h] if h < H else skip * identity(d)
Y[i] = X if i == 0 else sum(A(i - 1, h) @ Y[i - 1] @ V(i - 1, h) for h in range(F)) + [bias[i - 1] for j in
    range(n)]
head(t, l) = floor(t / F**l) - F*floor(t / F**(l + 1))
path(t) = chain([A(L - 1 - l, head(t, L - 1 - l)) for l in range(L)]) @ X @ chain([V(l, head(t, l)) for l
    in range(L)])
values(l) = sum(V(l, h) for h in range(F))
averages(l, h, p) = any(p[j]*p[k] > 0 and max(abs(B[j] - B[k])) > 0 for B in [Y[l] @ W[l, h]] for j in range(n)
    for k in range(j))
drift = sum(bias[l] @ chain([identity(d) if k == l else values(k) for k in range(l, L)]) for l in range(L))
"""
# An average of tokens that differ, and paths with attention (the last is all skips) that add up.
_PATHS_TELLING = (
    "any(abs(X[i][a] - X[0][a]) > 0 for i in range(n) for a in range(d))",
    "any(averages(l, h, p) for l in range(L) for h in range(H) for p in P[l, h])",
    "any(abs(x) > 0 for row in sum(path(t) for t in range(F**L - F + H)) for x in row)",
)
_PATHS_GIVEN = ("n >= 2", "all(stochastic(P[l, h]) for l in range(L) for h in range(H))", "F**L <= 4096")
_PATHS_CLAIM = "Y[L] == sum(path(t) for t in range(F**L)) + [drift for j in range(n)] and Y[L] == output"
_PATHS_DATA = {
    "X": "n d",
    "layers": [{"heads": [{"P": "n n", "W": "d d"}, MAX_HEADS], "bias": "d"}, MAX_LAYERS],
    "output": "n d",
}
_STEP = """
eps = min(a for row in A for a in row if a > 0)
G = A @ T(A)
"""
_MOVED = """
P = [softmax(row, [1 for j in range(n)]) for row in Z @ M @ T(Z)]
tilt(i) = Z[i] @ G @ T(Z)
mean(i) = P[i] @ tilt(i)
moved(i) = sum(P[i][j]*(tilt(i)[j] - mean(i))*(Z[j] @ V) for j in range(n))
spread = max(length((Z[i] - Z[j]) @ V, 2) for i in range(n) for j in range(i))
"""
_FLOW = """
alpha = min(min(row) for row in C)
rho = exp(0 - beta*(1 - alpha))
P = [softmax(row, [1 for j in range(n)]) for row in beta*C]
closing_usa(i, j) = sum(exp(beta*C[i][k])*(C[k][j] - alpha*C[k][i]) + exp(beta*C[j][k])*(C[k][i] - alpha*C[k][j])
    for k in range(n))/n
closing(i, j) = sum(P[i][k]*(C[k][j] - alpha*C[k][i]) + P[j][k]*(C[k][i] - alpha*C[k][j]) for k in range(n))
"""
_FLOW_GIVEN = (
    "n >= 2",
    "C == T(C)",
    "all(C[i][i] == 1 and all(abs(c) <= 1 for c in C[i]) for i in range(n))",
    "alpha >= 0 and alpha < 1",
    "beta >= 0",
)
_FLOW_RELIES = (
    "that cosines have this speed where C is semidefinite, so that tokens have them: proofs/geshkovski2023.tex",
)
_SHIFT = """
z = [x[i] + (1 if i == d - 1 else 0) for i in range(d)]
y = [z[i] + (w*z[i - 1] if i > 0 else 0) for i in range(d)]
"""
_TWO_TOKENS = """
V = [[1, w], [0, 1]]
points = [[0, 1], [0 - 1/w, s], [0 - 1/w, 0 - s]]
multipliers = [1/2, 1 + s, 1 - s]
y(x) = ([0, 1] + x) @ V
c(x) = x @ y(x)
tangent(x) = [0 - x[1], x[0]]
"""
_KINDS = """
s = exp(sink_logit)
u = exp(gain) - 1
g = [exp(c[0]) for c in guards]
fall = [exp(0 - c[1]) for c in guards]
A = sum(a[0]*exp(a[1]) for a in active)
S = s + A + g[0] + g[1] + idle
G = [S + u*g[i] - (1 - fall[i])*s for i in range(2)]
o = [fall[i]*s/G[i] for i in range(2)]
k = (A*abs(1/G[0] - 1/G[1]) + abs((u + 1)*g[0]/G[0] - g[0]/G[1]) + abs((u + 1)*g[1]/G[1] - g[1]/G[0]))/2
count(i) = active[i][0] if i < m else idle + 1 if i == m else 1
value(i) = s/(S + u*exp(active[i][1])) if i < m else s/S if i == m else o[i - m - 1]
columns(x) = sum(count(i)*abs(value(i) - x) for i in range(m + 3))
rows(x) = (abs(x - o[0]) + abs(x - o[1]))/2 + k
"""
# Tokens +-f, +-e_i, +-g and zeros, of mean 0; pairs are e^c and e^-c.
_MEAN_KINDS = """
rise = exp(gain)
fall = exp(0 - gain)
s = [exp(sink_logit), exp(0 - sink_logit)]
a = [exp(active_logit), exp(0 - active_logit)]
g = [exp(guard_logit), exp(0 - guard_logit)]
moved(v) = (rise - 1)*v[0] + (fall - 1)*v[1]
back(v) = (fall - 1)*v[0] + (rise - 1)*v[1]
S = s[0] + s[1] + active*(a[0] + a[1]) + g[0] + g[1] + idle
totals = [S, S + moved(a), S + back(a), S + moved(g) + back(s), S + back(g) + moved(s)]
counts = [idle + 2, active, active, 1, 1]
n = 2*active + idle + 4
level(v, i) = (v[0] - v[1])/totals[i]
up(v, i) = (rise*v[0] - fall*v[1])/totals[i]
down(v, i) = (fall*v[0] - rise*v[1])/totals[i]
f(i) = level(s, i) if i < 3 else down(s, 3) if i == 3 else up(s, 4)
e(i) = level(a, i)
o(i) = level(g, i) if i < 3 else up(g, 3) if i == 3 else down(g, 4)
active_gain = up(a, 1) - e(1) + down(a, 2) - e(2)
f_mean = sum(counts[i]*f(i) for i in range(5))/n
e_mean = sum(counts[i]*e(i) for i in range(5))/n + active_gain/n
o_mean = sum(counts[i]*o(i) for i in range(5))/n
column = sum(counts[i]*abs(f(i) - f_mean) for i in range(5))
row = abs(f(3) - f_mean) + active*abs(e(3) - e_mean) + abs(o(3) - o_mean)
"""
_LONE_QUERY = """
n = idle + 2
moved = exp(gain)/(n - 1 + exp(gain)) - 1/n
"""
_FOUR_KEYS = """
n = idle + 5
width = 4*columns
A = entry + 2
row = 4*columns*entry + 2
product = min(A*(row - (width*A - row)/(n - 2)), row**2*n/(4*width)) if n*row >= 2*width*A else A*row/2
z = exp(key_logit)
q = z/(4*z + idle + 1)
Z = 2*z*(exp(gain) + exp(0 - gain)) + idle + 1
change = min(z*exp(gain)/Z - q, q - z*exp(0 - gain)/Z)
"""
_COUNT = "floor({0}) == {0}"

STATEMENTS: dict[str, Statement] = {
    "seed:closure": Statement(
        "a product of two or more row-stochastic matrices is row-stochastic",
        "stochastic(chain(factors)) and chain(factors) == product",
        ("len(factors) >= 2 and all(len(F[0]) >= 2 for F in factors)", "all(stochastic(F) for F in factors)"),
        _HOLDS,
        {"factors": ["r c", MAX_SIDE], "product": "r c"},
        telling=(
            "any(x > 0 and x < 1 for F in factors for row in F for x in row)",
            "sum(0 if len(F) == len(F[0]) and F == identity(len(F)) else 1 for F in factors) >= 2",
        ),
    ),
    "dong2021:2.1": Statement(
        "the layers' output Y[L] is the sum of P_path X W_path over all paths (one head a layer), plus 1 b^T",
        _PATHS_CLAIM,
        _PATHS_GIVEN,
        _HOLDS,
        _PATHS_DATA,
        _PATHS + "F = H",
        telling=_PATHS_TELLING,
    ),
    "dong2021:2.1-skip": Statement(
        "with a skip of factor skip, one head P = I, W = skip I more in every layer, Y[L] is the sum over all "
        "paths, plus 1 b^T",
        _PATHS_CLAIM,
        (*_PATHS_GIVEN, "abs(skip) > 0"),
        _HOLDS,
        {**_PATHS_DATA, "skip": "number"},
        _PATHS + "F = H + 1",
        telling=_PATHS_TELLING,
    ),
    "dong2021:A.3": Statement(
        "(1 - D_i) q_j <= P_ij <= (1 + 2 D_i) q_j, where D_i = max E_i - min E_i <= x* in every row",
        _SANDWICH_CLAIM,
        (*_SANDWICH_GIVEN, "all(D(i) <= x_star for i in range(n))"),
        _BOTH,
        _SANDWICH_DATA,
        _SANDWICH,
    ),
    "dong2021v1:A.3": Statement(
        "(1 - D_i) q_j <= P_ij <= (1 + 2 D_i) q_j, whatever D_i = max E_i - min E_i",
        _SANDWICH_CLAIM,
        _SANDWICH_GIVEN,
        _BOTH,
        _SANDWICH_DATA,
        _SANDWICH,
    ),
    "dong2021:norm": Statement(
        "sqrt(|A|_1 |A|_inf) breaks the triangle inequality",
        "norm(A + B, composite) <= norm(A, composite) + norm(B, composite)",
        (),
        _VIOLATES,
        {"A": "n d", "B": "n d"},
        denies=True,
    ),
    "dong2021v1:2.2": Statement(
        "one layer, one head, no smallness: |res SA(X)|_{1,inf} <= (4 |W_QK|_1 |W|_{1,inf}/sqrt(d_qk)) |res "
        "X|_{1,inf}^3, res about a center that is least in the 1-, the inf- or the composite norm",
        "any(columns(value(i)) * rows(value(i)) <= 16*gain**2 for i in range(m + 3))",
        (
            "all(len(a) == 2 for a in active)",
            "all(floor(a[0]) == a[0] and a[0] >= 1 and abs(a[1]) <= 1000 for a in active)",
            _COUNT.format("idle") + " and idle >= 0",
            "gain > 0",
            "max(abs(gain), abs(sink_logit), abs(guards[0][0]), abs(guards[1][0])) <= 1000",
            "guards[0][1] >= 0 and guards[1][1] >= 0 and guards[0][1] + guards[1][1] <= gain",
        ),
        _VIOLATES,
        {"active": "m pair", "guards": "pair pair", **dict.fromkeys(("idle", "gain", "sink_logit"), "number")},
        _KINDS,
        relies=(
            (
                "that these numbers decide it for 1 sink, 2 guards, `idle` idle and the active tokens, for every "
                "center: proofs/dong2021v1.tex, Theorem v1-kinds"
            ),
        ),
    ),
    "dong2021v1:2.2-mean": Statement(
        "one layer, one head, no smallness: |SA(X) - mean|_{1,inf} <= (4 |W_QK|_1 |W|_{1,inf}/sqrt(d_qk))"
        " |X - mean|_{1,inf}^3, both about the mean of the tokens",
        "column*row <= 128*gain**2",
        (
            _COUNT.format("active") + " and active >= 1",
            _COUNT.format("idle") + " and idle >= 0",
            "gain > 0",
            "max(abs(gain), abs(sink_logit), abs(active_logit), abs(guard_logit)) <= 1000",
        ),
        _VIOLATES,
        dict.fromkeys(("active", "idle", "gain", "sink_logit", "active_logit", "guard_logit"), "number"),
        _MEAN_KINDS,
        relies=("that these numbers decide it for tokens +-f, +-e_i, +-g and zeros: proofs/dong2021v1.tex",),
    ),
    "unstated:large-logits": Statement(
        "one layer, one head, gamma but no smallness: |res SA(X)|_{1,inf} <= (4 gamma beta/sqrt(d_qk)) |res "
        "X|_{1,inf}^3",
        "n*moved**2 <= 16*gain**2",
        (_COUNT.format("idle") + " and idle >= 2", "gain > 0", "gain <= 1000"),
        _VIOLATES,
        {"idle": "number", "gain": "number"},
        _LONE_QUERY,
        relies=("that these numbers decide it for the tokens e_0, e_1 and zeros: proofs/dong2021_2_3.tex",),
    ),
    "dong2021:2.3-printed": Statement(
        "one layer, two heads, D <= x*: |res SA(X)|_{1,inf} <= (4 gamma beta H/sqrt(d_qk)) |res X|_{1,inf}^3 with H = "
        "2 and beta = max_h |W_QK,h|_1 |W_h|_{1,inf}",
        "change**2*product <= 64*gain**2*q",
        (
            _COUNT.format("columns") + " and columns >= 2",
            _COUNT.format("idle") + " and idle >= 0",
            "entry > 0 and columns*entry**2 <= 1",
            "gain > 0 and 2*gain <= 5/4",
            "key_logit >= 0 and key_logit <= 1000",
        ),
        _VIOLATES,
        dict.fromkeys(("columns", "entry", "idle", "gain", "key_logit"), "number"),
        _FOUR_KEYS,
        method=("change > 0",),
        relies=("that these numbers decide it for these tokens: proofs/dong2021_2_3.tex, Proposition four-keys",),
    ),
}
_HEADS = Statement(
    "one layer, two heads: |res SA(X)|_{1,inf} <= (4 beta H/sqrt(d_qk)) |res X|_{1,inf}^3 with H = 2 and"
    " beta = max_h |W_QK,h|_1 |W_h|_{1,inf}",
    "(side + 1)**2 * (1 - logit**2/3)**2 <= 256*side",
    (_COUNT.format("side") + " and side >= 1", "logit > 0", "2*logit <= 1"),
    _VIOLATES,
    {"side": "number", "logit": "number"},
    relies=(
        (
            "that this inequality decides it for two tokens of width side^2: proofs/dong2021v1.tex, Theorem v1-heads, "
            "and proofs/dong2021_2_3.tex, Proposition two-heads"
        ),
    ),
)
STATEMENTS["dong2021v1:2.3"] = _HEADS
STATEMENTS |= {
    "own:tv": Statement(
        "p_j ~ q_j e^(g_j) is within tanh(osc(g)/4) of q in total variation",
        "sum(abs(p - q))/2 <= tanh((max(g) - min(g))/4)",
        _TV_GIVEN,
        _BOTH,
        _TV_DATA,
        _TV,
    ),
    "own:tv-variant": Statement(
        "p_j ~ q_j e^(g_j) is within tanh(osc(g)/c) of q in total variation, c = `constant`",
        "sum(abs(p - q))/2 <= tanh((max(g) - min(g))/constant)",
        (*_TV_GIVEN, "constant > 0"),
        _VIOLATES,
        {**_TV_DATA, "constant": "number"},
        _TV,
    ),
    "wu2024:4.3.1": Statement(
        "beside X_1 = (0, 1) the second of two causal tokens, W_QK = 0, W_V = [[1, w], [0, 1]], rests at (0, 1), "
        "(-1/w, s), (-1/w, -s) with multipliers 1/2, 1 + s, 1 - s",
        "all(x @ x == 1 and c(x) > 0 and y(x) == c(x)*x for x in points) and all(tangent(points[i]) @ V @ "
        "tangent(points[i]) == multipliers[i]*c(points[i]) for i in range(3))",
        ("w > 1", "s > 0", "s**2 == 1 - 1/w**2"),
        _HOLDS,
        {"w": "number", "s": "number"},
        _TWO_TOKENS,
        relies=("that it rests nowhere else: proofs/wu2024_3.tex",),
    ),
    "wu2024:L13": Statement(
        "unit vectors x with x_i < 0 for i <= d-2, x_(d-1) <= -1/w, sum_(i<=d-2) (x_i/x_(d-1))^2 <= sqrt(w^2-1) keep "
        "x_(d-1) <= -1/w under x -> y/|y|, y = (x + e_d)(I + wS)",
        "y[d - 2] < 0 and w**2 * y[d - 2]**2 >= y @ y",
        (
            "d >= 3",
            "w > 1",
            "x @ x == 1",
            "all(x[i] < 0 for i in range(d - 2))",
            "w*x[d - 2] <= -1",
            "sum((x[i]/x[d - 2])**2 for i in range(d - 2)) <= sqrt(w**2 - 1)",
        ),
        _BOTH,
        {"x": "d", "w": "number"},
        _SHIFT,
    ),
    "wu2024:2-step": Statement(
        "1 - phi(1) <= (1 - n eps^2)(1 - phi(0)) with n eps < 1, phi the least cosine of two tokens, eps the least "
        "attention on an edge, the mask strongly connected of radius 1, X(0) = W_V = I, A the attention",
        "all(G[i][j]**2 >= n**2 * eps**4 * G[i][i] * G[j][j] for i in range(n) for j in range(i))",
        ("n >= 2", "stochastic(A)", "connected(A)", "reached(A, 1)", "n*eps < 1"),
        _BOTH,
        {"A": "n n"},
        _STEP,
    ),
}

# -- neighbours ----------------------------------------------------------------------------------------------

STATEMENTS |= {
    "own:zero-grad": Statement(
        "token i of softmax(Z M Z^T) Z V moves along G by at most diam(Z V) osc_j(z_i G z_j^T)/4",
        "all(length(moved(i), 2) <= spread*(max(tilt(i)) - min(tilt(i)))/4 for i in range(n))",
        ("n >= 2", "spread > 0"),
        _BOTH,
        {"Z": "n d", "M": "d d", "V": "d m", "G": "d d"},
        _MOVED,
        telling=("any(max(tilt(i)) - min(tilt(i)) > 0 for i in range(n))",),
    ),
    "own:flow-step": Statement(
        "the symmetric C, 1 on its diagonal and nowhere above, has at its least entries alpha a speed of at least"
        " that of two clusters of one size, or of entries that are all alike: the speed is that of the cosines C of"
        " tokens that flow on the sphere, x_i' = sum_k P_ik (x_k - <x_k, x_i> x_i), P = softmax(beta C)",
        "all(C[i][j] > alpha or closing(i, j) >= 2*rho*(1 - alpha)*min((1 + alpha)/(1 + rho),"
        " (1 + (n - 1)*alpha)/(1 + (n - 1)*rho)) for i in range(n) for j in range(i))",
        _FLOW_GIVEN,
        _BOTH,
        {"C": "n n", "beta": "number"},
        _FLOW,
        relies=_FLOW_RELIES,
    ),
    "own:flow-step-usa": Statement(
        "the symmetric C, 1 on its diagonal and nowhere above, has at its least entries alpha a speed of at least"
        " that of entries that are all alike: the speed is that of the cosines C of tokens that flow on the sphere,"
        " x_i' = sum_k e^(beta C_ik) (x_k - <x_k, x_i> x_i)/n",
        "all(C[i][j] > alpha or closing_usa(i, j) >= 2*exp(beta*alpha)*(1 - alpha)*(1 + (n - 1)*alpha)/n"
        " for i in range(n) for j in range(i))",
        _FLOW_GIVEN,
        _BOTH,
        {"C": "n n", "beta": "number"},
        _FLOW,
        relies=_FLOW_RELIES,
    ),
}

# -- LayerNorm equilibria ------------------------------------------------------------------------------------

_LAYER = {"W_V": "d d", "W_QK": "d d", "d_qk": "number", "mask": "n n", "norm": ("sphere", "standard")}
_RESTING = {"tokens": "n d", "radius": "number", "rank": "number"}
_RESTING_DATA = {
    **_LAYER,
    **_RESTING,
    "attracting?": {"R": "N N", "radius": "number", "rate": "number"},
    "unstable?": {"growth": "number"},
}
_RESTING_HINTS: dict[str, Any] = {"clusters": "n", "support": "k d", "preconditioner": "m m", "pivots": ["p", MAX_SIDE]}
_RESTING_HINTS |= {"S?": "N N", "form?": "N N", "direction?": "N"}
# F(X) = N(A(X) X W_V): N divides a token by its length; standard LayerNorm first subtracts the mean (a projection
# after W_V) and divides by the deviation, length/sqrt(d). With clusters of equal tokens one of each is kept, of
# whose entries those in the support are the unknowns. The mean token is subtracted from keys and values, and added
# again, as attention sums to 1 and ignores a common logit: it only narrows the intervals.
_RESTING_DEFINED = """
k = len(support)
sent = W_V if norm_kind == sphere else W_V @ (identity(d) - [[1/d for j in range(d)] for i in range(d)])
scale = 1 if norm_kind == sphere else sqrt(d)
layer(X, shares) = [scale * unit(y) for y in seen(X, X - rows(sum(tokens) / n, len(X)), shares)]
seen(X, Z, shares) = averaged(X @ (W_QK / sqrt(d_qk)) @ T(Z), shares, Z @ sent)
    + rows(sum(tokens) / n @ sent, len(X))
rows(v, k) = [v for j in range(k)]
leader(c) = min(i for i in range(n) if clusters[i] == c)
share(i) = [sum(mask[i][j] for j in range(n) if clusters[j] == c) / sum(mask[i]) for c in range(k)]
start = [tokens[leader(c)] for c in range(k)]
shares = [share(leader(c)) for c in range(k)]
carried = [[1 if abs(w) > 0 else 0 for w in row] for row in W_V]
fed = shares @ support @ carried
places = [[c, a] for c in range(k) for a in range(d) if support[c][a] == 1]
number(c, a) = sum(sum(support[b]) for b in range(c)) + sum(support[c][b] for b in range(a))
unknowns = [start[p[0]][p[1]] for p in places]
filled(v) = [[v[number(c, a)] if support[c][a] == 1 else 0 for a in range(d)] for c in range(k)]
moved(v) = layer(filled(v), shares)
displacement(v) = [moved(v)[p[0]][p[1]] - v[number(p[0], p[1])] for p in places]
box = around(start, radius * support)
minor = [[box[p[0]][q[1]] for q in pivots] for p in pivots]
most = min(k, sum(max(c) for c in T(support)), d if norm_kind == sphere else d - 1, matrix_rank(W_V))
map(X) = layer(X, mask)
everywhere = [box[clusters[i]] for i in range(n)]
J = jacobian(map, everywhere)
"""
_DIFFER = "differ(j, k) = max(abs(tokens[j] - tokens[k])) > 0\n"
# A contraction of |R^-1 .| on X + R z, |z| <= rho.
_DRAWN = """
N = n * d
room = 1 - norm(identity(N) - S @ R, frobenius)
basin = around(tokens, [[rho * length(R[d*i + a], 2) for a in range(d)] for i in range(n)])
slope = S @ jacobian(map, basin) @ R
middle_slope = round(middle(slope))
target = lower(room * rate - norm(slope - middle_slope, frobenius))
drift = length(S @ (flat(map(tokens)) - flat(tokens)), 2)
"""
_RESTING_DEFINED += _DRAWN + _DIFFER
_RESTING_METHOD = (
    "binary(support)",
    (
        "all(any(clusters[i] == c for i in range(n)) for c in range(k)) and all(any(clusters[i] == c for c in "
        "range(k)) for i in range(n))"
    ),
    "all(tokens[i] == tokens[leader(clusters[i])] and share(i) == share(leader(clusters[i])) for i in range(n))",
    "norm_kind == sphere or all(s == 1 for row in support for s in row)",
    "all(support[c][a] == 1 or start[c][a] == 0 and fed[c][a] == 0 for c in range(k) for a in range(d))",
    "len(pivots) == rank and all(len(p) == 2 for p in pivots)",
    "all(any(p[0] == c for c in range(k)) and any(p[1] == a for a in range(d)) for p in pivots)",
    "all(pivots[i][0] < pivots[j][0] or pivots[i][0] > pivots[j][0] for i in range(len(pivots)) for j in range(i))",
    "all(pivots[i][1] < pivots[j][1] or pivots[i][1] > pivots[j][1] for i in range(len(pivots)) for j in range(i))",
)
_RESTING_GIVEN = ("n >= 2", "d >= 2", "d_qk > 0", "binary(mask)", "all(sum(row) > 0 for row in mask)", "radius > 0")
# A token sees another; and two that differ, unless all rest in one line.
_SEES = (
    "any(mask[i][j] > 0 for i in range(n) for j in range(n) if i < j or i > j)",
    "rank == 1 or any((T(mask) @ mask)[j][k] > 0 and differ(j, k) for j in range(n) for k in range(j))",
)
_RESTING_CLAIM = (
    "unique_zero(displacement, unknowns, radius, preconditioner) and shown(rank == most) and nonsingular(minor)"
)
_ATTRACTING = (
    (
        "shown(room > 0 and target > 0 and positive_definite(target**2 * identity(N) - T(middle_slope) @ middle_slope) "
        "and drift < room*(1 - rate)*rho and sqrt(N) * radius * norm(S, frobenius) < room * rho)"
    ),
    ("len(R) == N", "len(S) == N", "rho > 0", "rate > 0", "rate < 1"),
)
_UNSTABLE = (
    "shown(positive_definite(T(J) @ form @ J - growth**2 * form))",
    ("growth >= 1", "len(form) == N", "form == T(form)", "direction @ form @ direction > 0"),
)
_RELIES_RESTING = (
    (
        "that equal tokens with equal shares, and zeros that nothing feeds, stay so, and that a fixed point has rank "
        "at most `most`: proofs/stable_complete.tex, first lemma"
    ),
)
_RELIES_ATTRACTING = (
    "that a contraction of |R^-1 .| on the set X + R z, |z| <= rho, that maps it into itself draws every start in "
    "it: Banach's fixed point theorem"
)


_SHOWS = {
    "radius": "{norm_kind} LayerNorm: exactly one equilibrium, with these clusters and zeros, within {radius} of"
    " the tokens, entry by entry; its rank is {rank}",
    "rho": "all starts X + R z, |z|_2 <= {rho}, converge to it: a layer contracts |R^-1 .|_2 by {rate} there",
    "growth": "it is unstable: the spectral radius of the layer's derivative there is more than {growth}",
}


def _resting(says: str, kinds: tuple[str, ...], *more: str, attracts: bool = True) -> Statement:
    """An equilibrium statement: existence and rank; attraction, if the statement says so or the data do."""
    denied = kinds == _VIOLATES
    extra: dict[str, tuple[str, tuple[str, ...]]] = {} if denied else {"unstable": _UNSTABLE}
    if not attracts:
        extra["attracting"] = _ATTRACTING
    claim = f"{_RESTING_CLAIM} and {_ATTRACTING[0]}" if attracts else _RESTING_CLAIM
    data = {name: shape for name, shape in _RESTING_DATA.items() if not name.endswith("?") or name[:-1] in extra}
    if attracts:
        data["attracting"] = _RESTING_DATA["attracting?"]
    return Statement(
        says,
        f"not ({claim})" if denied else claim,
        (*_RESTING_GIVEN, *more),
        kinds,
        data,
        _RESTING_DEFINED,
        _RESTING_HINTS,
        (*_RESTING_METHOD, *_ATTRACTING[1]) if attracts else _RESTING_METHOD,
        extra,
        (*_RELIES_RESTING, _RELIES_ATTRACTING) if attracts else _RELIES_RESTING,
        _SHOWS,
        _SEES,
    )


_SPHERE, _UNMASKED = "norm_kind == sphere", "all(m == 1 for row in mask for m in row)"
_UNIFORM = "all(w == 0 for row in W_QK for w in row)"
_CAUSAL = ("all(mask[i][j] == (1 if j <= i else 0) for i in range(n) for j in range(n))", _UNIFORM, _SPHERE)
STATEMENTS |= {
    "own:layernorm-equilibrium": _resting(
        "self-attention with LayerNorm has exactly one equilibrium, with these clusters and zeros, within `radius` of "
        "the tokens, and its rank is `rank`",
        _EXISTS,
        attracts=False,
    ),
    "own:stable-complete": _resting(
        "without a mask, tokens on the sphere have an equilibrium of full rank that attracts every start X + R "
        "z, |z| <= rho",
        _EXISTS,
        _SPHERE,
        _UNMASKED,
        "rank == min(n, d)",
    ),
    "own:stable-causal": _resting(
        "two causal tokens on the sphere, W_QK = 0, W_V = c I + [[a, w], [0, 1]] (a direct sum), 0 < c < a < 1, w > 0, "
        "w^2 > a(2 - a), have an equilibrium of rank two that attracts every start X + R z, |z| <= rho",
        _EXISTS,
        *_CAUSAL,
        "n == 2 and rank == 2",
        "W_V[d-2][d-2] > 0 and W_V[d-2][d-2] < 1 and W_V[d-2][d-1] > 0",
        "W_V[d-2][d-1]**2 > W_V[d-2][d-2] * (2 - W_V[d-2][d-2])",
        "d == 2 or W_V[0][0] > 0 and W_V[0][0] < W_V[d-2][d-2]",
        "all(W_V[i][j] == (1 if i == d - 1 else W_V[0][0] if i < d - 2 else W_V[i][j]) if i == j else"
        " i == d - 2 and j == d - 1 or W_V[i][j] == 0 for i in range(d) for j in range(d))",
    ),
    "wu2024:conjecture": _resting(
        "under a connected undirected mask with self-loops no equilibrium of tokens on the sphere with rank "
        "above one attracts",
        _VIOLATES,
        _SPHERE,
        "mask == T(mask) and connected(mask)",
        "rank >= 2",
    ),
    "unstated:ln-sphere": _resting(
        "tokens that attend alike to all that they see, and that every layer divides by their norms, collapse, from "
        "every start in some neighbourhood",
        _VIOLATES,
        _SPHERE,
        _UNIFORM,
        "rank >= 2",
    ),
}
# One W_V for all ranks: the members are equilibria of one layer, each checked as own:layernorm-equilibrium.
STATEMENTS["wu2024:3"] = replace(
    STATEMENTS["own:layernorm-equilibrium"],
    says="under the causal mask, on the sphere, W_QK = 0, one W_V = I + wS with w > n - 1 has equilibria of every"
    " rank 1, .., min(n, d)",
    given=(
        *_RESTING_GIVEN,
        *_CAUSAL,
        "W_V[0][1] > n - 1",
        "all(W_V[i][j] == (1 if i == j else W_V[0][1] if j == i + 1 else 0) for i in range(d) for j in range(d))",
        "ranks == [i + 1 for i in range(min(n, d))]",
    ),
    data={**_LAYER, "equilibria": [_RESTING, MAX_SIDE]},
    hints={"equilibria": [_RESTING_HINTS, MAX_SIDE]},
    extra={},
)

# A whole block: X' = N(Y + s(Y up) down), Y = skip X + the sum of the heads, s(x) = x/(1 + e^-x).
_BLOCK_DEFINED = """
scale = 1 if norm_kind == sphere else sqrt(d)
k = n
centring = identity(d) if norm_kind == sphere else identity(d) - [[1/d for j in range(d)] for i in range(d)]
mixed(X) = skip * X + sum(averaged(X @ W_QK[h] @ T(X), mask, X) @ W_V[h] for h in range(len(W_V)))
silu(Z) = [[x / (1 + exp(0 - x)) for x in z] for z in Z]
map(X) = [scale * unit(y) for y in (mixed(X) + silu(mixed(X) @ up) @ down) @ centring]
displacement(v) = flat(map([[v[d*i + a] for a in range(d)] for i in range(n)])) - v
box = around(tokens, radius)
minor = [[box[p[0]][q[1]] for q in pivots] for p in pivots]
"""
_BLOCK_DATA: dict[str, Any] = {**_RESTING, "W_V": ["d d", MAX_HEADS], "W_QK": ["d d", MAX_HEADS], "skip": "number"}
_BLOCK_DATA |= {"up": "d e", "down": "e d", "mask": "n n", "norm": ("sphere", "standard")}
_BLOCK_DATA |= {"attracting": _RESTING_DATA["attracting?"]}
STATEMENTS["own:stable-block"] = Statement(
    "a block with these heads, this skip and this MLP has exactly one equilibrium within `radius` of the tokens, of"
    " full rank, and it attracts every start X + R z, |z| <= rho",
    f"unique_zero(displacement, flat(tokens), radius, preconditioner) and nonsingular(minor) and {_ATTRACTING[0]}",
    (
        "n >= 2",
        "d >= 2",
        "len(W_V) == len(W_QK)",
        "skip >= 0",
        "binary(mask)",
        "all(sum(row) > 0 for row in mask)",
        "radius > 0",
        "rank == min(n, d if norm_kind == sphere else d - 1)",
    ),
    _EXISTS,
    _BLOCK_DATA,
    _BLOCK_DEFINED + _DRAWN + _DIFFER,
    {name: _RESTING_HINTS[name] for name in ("preconditioner", "pivots")} | {"S": "N N"},
    (*_RESTING_METHOD[5:], *_ATTRACTING[1]),
    {},
    (_RELIES_ATTRACTING,),
    _SHOWS,
    (*_SEES, "any(abs(x) > 0 for row in mixed(tokens) - skip*tokens for x in row)"),
)

# With rotary positions: entries 2j and 2j + 1 of queries X W_QK and keys X are turned by the tables of their place.
STATEMENTS["own:stable-rotary"] = replace(
    STATEMENTS["own:stable-block"],
    says="a block with these heads, rotary positions that move its logits, this skip and this MLP has exactly one"
    " equilibrium within `radius` of the tokens, of full rank, and it attracts every start X + R z, |z| <= rho",
    given=(*STATEMENTS["own:stable-block"].given, "len(cos[0]) == floor(d/2)"),
    data={**STATEMENTS["own:stable-block"].data, "cos": "n f", "sin": "n f"},
    define=_BLOCK_DEFINED.replace("X @ W_QK[h] @ T(X)", "turned(X @ W_QK[h]) @ T(turned(X))")
    + """
turned(Q) = [[x for j in range(floor((d + 1)/2)) for x in ([Q[i][2*j]*cos[i][j] - Q[i][2*j + 1]*sin[i][j],
    Q[i][2*j + 1]*cos[i][j] + Q[i][2*j]*sin[i][j]] if 2*j + 1 < d else [Q[i][2*j]])] for i in range(n)]
"""
    + _DRAWN
    + _DIFFER,
    telling=(
        *STATEMENTS["own:stable-block"].telling,
        (
            "any(abs(x) > 0 for row in mask * (turned(tokens @ W_QK[0]) @ T(turned(tokens))"
            " - tokens @ W_QK[0] @ T(tokens)) for x in row)"
        ),
    ),
)

# -- attraction in a weighted maximum norm (rule 6) ------------------------------------------------------------

_CONTRACTING_DATA: dict[str, Any] = {**_LAYER, "tokens": "n d", "rank": "number", "ball": "number", "rate": "number"}
_CONTRACTING_DATA |= {"spectrum?": {"values": "n d", "within": "number"}}
_CONTRACTING_HINTS = {"weights": "n d", "size": "number", "bits": "number", "support": "n d", "pivots": ["p", MAX_SIDE]}
_CONTRACTING_HINTS |= {"spectral_weights?": "n d", "spectral_bits?": "number", "core?": "number"}
_CONTRACTING_DEFINED = """
carried = [[1 if abs(w) > 0 else 0 for w in row] for row in W_V]
fed = mask @ support @ carried
used = sum(max(c) for c in T(support))
box = around(tokens, size * weights)
minor = [[box[p[0]][q[1]] for q in pivots] for p in pivots]
"""
_CONTRACTING_GIVEN = (
    "n >= 2",
    "d_qk == 1",
    "norm_kind == sphere",
    "binary(mask)",
    "all(sum(row) > 0 for row in mask)",
    "ball > 0",
)
_CONTRACTING_METHOD = (
    "binary(support)",
    "all(support[i][a] == 1 or tokens[i][a] == 0 and fed[i][a] == 0 for i in range(n) for a in range(d))",
    "len(pivots) == rank and all(len(p) == 2 for p in pivots)",
    "all(any(p[0] == i for i in range(n)) and any(p[1] == a for a in range(d)) for p in pivots)",
    "all(pivots[i][0] < pivots[j][0] or pivots[i][0] > pivots[j][0] for i in range(len(pivots)) for j in range(i))",
    "all(pivots[i][1] < pivots[j][1] or pivots[i][1] > pivots[j][1] for i in range(len(pivots)) for j in range(i))",
    "all(ball <= size * w for row in weights for w in row)",
)
_CONTRACTING_CLAIM = (
    "rank == used and nonsingular(minor) and contracts(tokens, W_QK, W_V, mask, weights, size, rate, bits)"
)
_RESOLVED = (
    "resolves(tokens, W_QK, W_V, mask, weights, core, rate, values, within, spectral_weights, spectral_bits)",
    ("within > 0", "core >= 0 and core <= size"),
)
_RELIES_CONTRACTING = (
    (
        "that a contraction of a box into itself draws every start in it to one fixed point (Banach), that discs "
        "of row sums hold the eigenvalues (Gershgorin), and that zeros that nothing feeds stay so: "
        "proofs/stable_every_n.tex"
    ),
)


def _contracting(says: str, *more: str) -> Statement:
    return Statement(
        says,
        _CONTRACTING_CLAIM,
        (*_CONTRACTING_GIVEN, *more),
        _EXISTS,
        _CONTRACTING_DATA,
        _CONTRACTING_DEFINED + _DIFFER,
        _CONTRACTING_HINTS,
        _CONTRACTING_METHOD,
        {"spectrum": _RESOLVED},
        _RELIES_CONTRACTING,
        telling=("d >= 2", *_SEES),
    )


_ATTRACTS = (
    "attracts every start within `ball` of the tokens in every entry, at the rate `rate` in a weighted maximum norm"
)
_IS_CAUSAL = "all(mask[i][j] == (1 if j <= i else 0) for i in range(n) for j in range(n))"
STATEMENTS |= {
    "own:stable-equilibrium": _contracting(
        f"tokens on the sphere have exactly one equilibrium near the stored ones, of rank `rank`; it {_ATTRACTS}"
    ),
    "own:stable-causal-every-n": _contracting(
        "under the causal mask, with W_QK the ones above the diagonal and row i of W_V mu_i e_i - mu_{i-1} e_{i-1},"
        f" mu decreasing, tokens rest at the identity, of rank n, which {_ATTRACTS}",
        _IS_CAUSAL,
        "n == d and rank == n",
        "all(W_QK[i][j] == (1 if j > i else 0) for i in range(n) for j in range(n))",
        "all(W_V[i][j] == (W_V[i][i] if j == i else 0 - W_V[j][j] if j == i - 1 else 0)"
        " for i in range(n) for j in range(n))",
        "all(W_V[i][i] > 0 and (i == 0 or W_V[i][i] < W_V[i - 1][i - 1]) for i in range(n))",
        "tokens == identity(n)",
    ),
    "own:stable-complete-every-n": _contracting(
        f"where every token sees itself and its predecessor, tokens have an equilibrium of full rank that {_ATTRACTS}",
        "n == d and rank == n",
        "all(mask[i][i] == 1 and (i == 0 or mask[i][i - 1] == 1) for i in range(n))",
    ),
    "own:stable-rank-two-every-n": _contracting(
        f"without a mask tokens have an equilibrium of rank two that {_ATTRACTS}", _UNMASKED, "rank == 2"
    ),
    "wu2024:3-measure": _contracting(
        "under the causal mask a set of starts of positive measure, all within `ball` of the tokens, does not "
        "collapse: they converge to an equilibrium of rank above one",
        _IS_CAUSAL,
        "rank >= 2",
    ),
}
# One weight pair for all ranks: each member is checked as own:stable-equilibrium.
STATEMENTS["own:stable-every-rank"] = replace(
    STATEMENTS["own:stable-equilibrium"],
    says="one weight pair has equilibria of every rank 1, .., n, each of which attracts every start near it",
    given=(*_CONTRACTING_GIVEN, "n == d", "ranks == [i + 1 for i in range(n)]"),
    data={
        **_LAYER,
        "equilibria": [{field: _CONTRACTING_DATA[field] for field in ("tokens", "rank", "ball", "rate")}, MAX_SIDE],
    },
    hints={"equilibria": [{k: v for k, v in _CONTRACTING_HINTS.items() if not k.endswith("?")}, MAX_SIDE]},
    extra={},
    shows={
        "ball": "an equilibrium of rank {rank} attracts every start within {ball} of its tokens in every entry, at"
        " the rate {rate} in a weighted maximum norm"
    },
)

# -- neighbouring papers, and what is often said ---------------------------------------------------------------

STATEMENTS |= {
    "wang2022:1": Statement(
        "for a positive row-stochastic A with stationary distribution pi and z with A^t z never 0, the part of A^t"
        " z off the constants vanishes against its mean",
        "abs(pi @ z) > 0",
        (
            "n >= 2",
            "stochastic(A) and all(a > 0 for row in A for a in row)",
            "pi @ A == pi and sum(pi) == 1",
            "any(abs(x) > 0 for x in chain([A for i in range(n)]) @ z)",
        ),
        _VIOLATES,
        {"A": "n n", "z": "n", "pi": "n"},
        relies=("that the ratio tends to 0 only where pi z is not 0: proofs/wang2022.tex",),
    ),
    "contranorm2023:2": Statement(
        "H with singular values sigma, not all equal, has a smaller effective rank than (1 + s) H - s H H^T H if"
        " 1 + (1 - max(sigma)^2) s > 0",
        "erank(sigma) < erank(moved)",
        ("s > 0", "min(sigma) > 0", "min(sigma) < max(sigma)", "1 + (1 - max(sigma)**2)*s > 0"),
        _VIOLATES,
        {"sigma": "m", "s": "number"},
        "moved = abs(sigma*(1 + s - s*sigma**2))\nerank(v) = exp(0 - sum(x/sum(v)*log(x/sum(v)) for x in v))\n",
        relies=("that these are the singular values after the step: proofs/contranorm2023.tex",),
    ),
    "folk:alibi-theta": Statement(
        "two causal tokens with equal logits and decay a = e^(-m): the second keeps c of itself over t + 1 layers, "
        "as it does over one",
        "(1/(1 + a))**(t + 1) >= c",
        ("a > 0 and a < 1", "c > 0 and (1 + a)*c <= 1", "t >= 0 and floor(t) == t"),
        _VIOLATES,
        dict.fromkeys(("a", "c", "t"), "number"),
    ),
    "folk:spectrum-real": Statement(
        "a positive row-stochastic A has real eigenvalues: where A^2 u + p A u + q u = 0, u not 0, x^2 + p x + q"
        " has a real root",
        "p**2 >= 4*q",
        (
            "stochastic(A) and all(a > 0 for row in A for a in row)",
            "any(abs(x) > 0 for x in u)",
            "A @ (A @ u) + p*(A @ u) + q*u == [0 for i in range(n)]",
        ),
        _VIOLATES,
        {"A": "n n", "u": "n", "p": "number", "q": "number"},
        relies=("that A has eigenvalues among the roots of x^2 + p x + q: proofs/folk_spectrum.tex",),
    ),
    "folk:softmax-rank": Statement(
        "attention with one-dimensional queries q and keys log x has rank at most 1",
        "matrix_rank(P) <= 1",
        ("n >= 2", "all(t > 0 for t in x)", "all(floor(t) == t for t in q)"),
        _VIOLATES,
        {"q": "n", "x": "n"},
        "P = [[x[j]**q[i]/sum(x[k]**q[i] for k in range(n)) for j in range(n)] for i in range(n)]\n",
    ),
    "folk:entropy-order": Statement(
        "T logits of norm at most sigma give attention of entropy at least c T sigma e^(-sigma), at most log T",
        "c*T*sigma*exp(0 - sigma) <= log(1 + (T - 1)*beta) + sigma*sqrt(T*(T - 1))*beta/(1 + (T - 1)*beta)",
        ("T >= 2 and floor(T) == T", "sigma > 0 and sigma <= 1000", "c > 0 and c*T*sigma*exp(0 - sigma) <= log(T)"),
        _VIOLATES,
        dict.fromkeys(("T", "sigma", "c"), "number"),
        "beta = exp(0 - sigma*sqrt(T/(T - 1)))\n",
        relies=("that the right side is the least entropy, and attained: proofs/zhai2023.tex",),
    ),
    "folk:softmax-gradient": Statement(
        "the derivative of c -> p = softmax(c/T) has spectral norm at most min(1/(4T), sqrt(2))",
        "norm(J, 2) <= min(1/(4*T), sqrt(2))",
        ("m >= 2", "T > 0"),
        _VIOLATES,
        {"c": "m", "T": "number"},
        "p = softmax(c/T, [1 for j in range(m)])\n"
        "J = [[p[i]*((1 if i == j else 0) - p[j])/T for j in range(m)] for i in range(m)]\n",
    ),
}

STATEMENTS["folk:affine-rank"] = Statement(
    "LayerNorm of single tokens, which multiplies the centred token i by s[i] up to one common factor, leaves the"
    " affine rank of their set",
    "matrix_rank(from_first(normed)) == matrix_rank(from_first(X))",
    (
        "n >= 2",
        "all(x > 0 for x in s)",
        "all(sum(centred(i)**2) > 0 for i in range(n))",
        "all(s[i]**2*sum(centred(i)**2) == s[0]**2*sum(centred(0)**2) for i in range(n))",
    ),
    _VIOLATES,
    {"X": "n d", "s": "n"},
    """
centred(i) = X[i] - sum(X[i])/d
normed = [s[i]*centred(i) for i in range(n)]
from_first(Y) = [Y[i] - Y[0] for i in range(1, n)]
""",
)

# -- tokens that flow on the sphere in continuous time --------------------------------------------------------

# x_i' = y_i - <x_i, y_i> x_i, y_i = sum_j a_ij V x_j; with c (1 - |x_i|^2) x_i more it is a field in all of space,
# and <x_i, x_i'> = (1 - |x_i|^2)(<x_i, y_i> + c |x_i|^2): where the last factor is positive zeros are on the
# sphere, where c counts for nothing. `form` is that of a Lyapunov function: where form J is negative definite over
# the box, J the derivative, the zero in it attracts every start near it, those on the sphere too. c is `inward`.
_SINK_DEFINED = """
tilts(X) = beta * (X @ T(Q) @ T(X @ T(K)))
sent(X) = averaged(tilts(X), mask, X @ T(V)) if normalised == 1 else (mask * exp(tilts(X)) / n) @ (X @ T(V))
arrive(X, Y) = [Y[i] + (inward - X[i] @ Y[i] - inward*(X[i] @ X[i]))*X[i] for i in range(n)]
tokens_of(v) = [[v[d*i + a] for a in range(d)] for i in range(n)]
flow(X) = arrive(X, sent(X))
velocity(v) = flat(flow(tokens_of(v)))
box = around(tokens, radius)
pulls = [box[i] @ sent(box)[i] + inward*(box[i] @ box[i]) for i in range(n)]
J = jacobian(velocity, flat(box))
"""
_SINK_CLAIM = (
    "unique_zero(velocity, flat(tokens), radius, preconditioner) and shown(all(y > 0 for y in pulls)"
    " and positive_definite(form) and positive_definite(0 - form @ J))"
)
_SINK_GIVEN = ("binary(mask)", "all(sum(row) > 0 for row in mask)", "normalised == 0 or normalised == 1", "radius > 0")
_SINK_DATA = {"V": "d d", "Q": "e d", "K": "e d", "beta": "number", "mask": "n n", "normalised": "number"}
_SINK_DATA |= {"tokens": "n d", "radius": "number"}
_SINK_HINTS = {"preconditioner": "N N", "form": "N N", "inward": "number"}
_SINK_METHOD = ("form == T(form)", "len(form) == n*d")
_SINK_SHOWS = {
    "radius": "the speed is 0 at exactly one place whose coordinates are within {radius} of the tokens', every token"
    " has length 1 there, and a quadratic form of the distance from it falls along the flow: it attracts"
}
_SINK_RELIES = ("that a zero with such a Lyapunov function attracts every start near it: Lyapunov's theorem",)
STATEMENTS |= {
    "own:flow-sink": Statement(
        "the flow x_i' = P(sum_j a_ij V x_j) on the sphere has exactly one equilibrium within `radius` of the"
        " tokens, and it attracts every start near it",
        _SINK_CLAIM,
        _SINK_GIVEN,
        _EXISTS,
        _SINK_DATA,
        _SINK_DEFINED,
        _SINK_HINTS,
        _SINK_METHOD,
        relies=_SINK_RELIES,
        shows=_SINK_SHOWS,
        telling=("d >= 2", "any(mask[i][j] == 1 for i in range(n) for j in range(n) if not i == j)"),
    )
}
_TWO_CLUSTERS = Statement(
    "causal flow x_k' = P(sum_(j<=k) a_kj V x_j) on the sphere, a the softmax of beta <Q x_k, K x_j>, V with d"
    " distinct positive eigenvalues: from almost every start every token tends to xi or -xi, xi the unit"
    " eigenvector of the largest",
    f"not ({_SINK_CLAIM} and shown(any((x @ vectors[0])**2 < vectors[0] @ vectors[0] for x in box)))",
    (
        *_SINK_GIVEN,
        _IS_CAUSAL,
        "normalised == 1",
        "beta >= 0",
        "all(l > 0 for l in values) and all(values[i] > values[i + 1] for i in range(d - 1))",
        "all(V @ vectors[i] == values[i]*vectors[i] and any(abs(x) > 0 for x in vectors[i]) for i in range(d))",
    ),
    _VIOLATES,
    {**_SINK_DATA, "values": "d", "vectors": "d d"},
    _SINK_DEFINED,
    _SINK_HINTS,
    _SINK_METHOD,
    relies=(*_SINK_RELIES, "that an open set of such starts has positive measure: proofs/karagodin2024.tex"),
    shows={
        **_SINK_SHOWS,
        "vectors": "a token of that equilibrium does not lie along the eigenvector of the largest eigenvalue",
    },
)
STATEMENTS |= {
    "karagodin2024:two-clusters": _TWO_CLUSTERS,
    "karagodin2024:two-clusters-symmetric": replace(
        _TWO_CLUSTERS,
        says=_TWO_CLUSTERS.says.replace("V with d", "V symmetric with d"),
        given=(*_TWO_CLUSTERS.given, "V == T(V)"),
    ),
}

_SHARED = definitions(RULES + COMMON)
DEFINED = {key: definitions(statement.define, _SHARED) for key, statement in STATEMENTS.items()}


def defined_network() -> Definitions:
    """All that a claim about a network may rest on: the layer, and every quantity that has an entry by now."""
    return _defined_network(tuple(entry for entry in ENTRIES.values() if entry.name != "norm"), layer_text())


@functools.lru_cache(maxsize=4)
def _defined_network(entries: tuple[Entry, ...], layer: str) -> Definitions:
    return definitions(layer + HELPERS + "".join(entry.line for entry in entries), _SHARED)
