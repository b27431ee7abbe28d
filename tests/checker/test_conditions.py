"""Every condition of every statement refuses, by itself, what lies just outside of it.

Each case changes data that meet all conditions, at the border where there is one: 0 for > 0, a little more than the
limit for <=. The condition that is named is the first that fails: were it dropped or wider, none or another would.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from rankmath.certificates.certificate import Certificate
from rankmath.checker.statements import STATEMENTS

ABOVE = "1048576001*2^-20"  # 1000 and 2^-20
TINY = "1*2^-60"
Case = tuple[str, dict[str, Any]]


def eye(n: int) -> list[list[int]]:
    return [[int(i == j) for j in range(n)] for i in range(n)]


def causal(n: int) -> list[list[int]]:
    return [[int(j <= i) for j in range(n)] for i in range(n)]


def ones(n: int, d: int) -> list[list[int]]:
    return [[1] * d for _ in range(n)]


def layers(*heads: tuple[Any, Any], count: int = 1) -> list[Any]:
    return [{"heads": [{"P": P, "W": W} for P, W in heads], "bias": [0]} for _ in range(count)]


HALF = [["1/2", "1/2"], [0, 1]]
PATHS = {"X": [[1], [2]], "layers": layers((HALF, [[1]]), count=2), "output": [["7/4"], [2]]}
LOGITS = {"E": [[0, 1], [1, 0]], "weights": [1, 1]}
FLOW = {"C": [[1, "1/2"], ["1/2", 1]], "beta": 1}
KINDS = {"active": [[1204, 30]], "gain": 10, "guards": [[33, 4], [31, 6]], "idle": 2038, "sink_logit": 40}
MEAN = {"active": 13974, "active_logit": 30, "gain": 13, "guard_logit": 33, "idle": 3106, "sink_logit": 41}
LAYER = {"W_V": [["1/2", 1], [0, 1]], "W_QK": [[0, 0], [0, 0]], "d_qk": 1, "mask": causal(2), "norm": "sphere"}
RESTING = {**LAYER, "tokens": [[0, 1], ["-3/5", "-4/5"]], "radius": "1*2^-48", "rank": 2}
RESTING |= {"hints.clusters": [0, 1], "hints.support": [[0, 1], [1, 1]], "hints.preconditioner": eye(3)}
RESTING |= {"hints.pivots": [[0, 1], [1, 0]]}
COMPLETE = {**RESTING, "mask": ones(2, 2), "hints.support": ones(2, 2), "hints.preconditioner": eye(4)}
DRAWN = {"attracting": {"R": eye(4), "radius": "1/8", "rate": "1/2"}, "hints.S": eye(4)}
GROWING = {"unstable": {"growth": 1}, "hints.form": eye(4), "hints.direction": [1, 0, 0, 0]}
SHIFT = {**LAYER, "W_V": [[1, 2], [0, 1]]}
SHIFT["equilibria"] = [
    {name: {**RESTING, "rank": rank}[name] for name in ("tokens", "radius", "rank")} for rank in (1, 2)
]
SHIFT["hints.equilibria"] = [
    {name[6:]: part for name, part in RESTING.items() if name.startswith("hints.")} | {"pivots": [[0, 1], [1, 0]][:k]}
    for k in (1, 2)
]
BLOCK = {name: part for name, part in RESTING.items() if name not in ("d_qk", "hints.clusters", "hints.support")}
BLOCK |= {"W_V": [eye(2)], "W_QK": [eye(2)], "skip": 0, "up": [[0], [0]], "down": [[0, 0]], "mask": ones(2, 2)} | DRAWN
BLOCK["hints.preconditioner"] = eye(4)
DESIGN = {"W_QK": [[0, 1, 1], [0, 0, 1], [0, 0, 0]], "W_V": [[1, 0, 0], [-1, "1/2", 0], [0, "-1/2", "1/4"]]}
DESIGN |= {"ball": "1*2^-26", "d_qk": 1, "mask": causal(3), "norm": "sphere", "rank": 3, "rate": "7/8"}
DESIGN |= {"tokens": eye(3), "hints.bits": 207, "hints.pivots": [[0, 0], [1, 1], [2, 2]], "hints.size": "1*2^-26"}
DESIGN |= {"hints.support": causal(3), "hints.weights": [[1, 2, 1], [19, 1, 2], [221, 19, 1]]}
SPECTRUM = {"spectrum": {"values": ones(3, 3), "within": "1*2^-24"}, "hints.core": TINY}
SPECTRUM |= {"hints.spectral_weights": ones(3, 3), "hints.spectral_bits": 278}
MEMBER = {name: DESIGN[name] for name in ("tokens", "rank", "ball", "rate")}
GUIDE = {name[6:]: part for name, part in DESIGN.items() if name.startswith("hints.")}
FAMILY = {name: DESIGN[name] for name in ("W_QK", "W_V", "d_qk", "mask", "norm")}
FAMILY |= {"equilibria": [{**MEMBER, "rank": k} for k in (1, 2, 3)]}
FAMILY |= {"hints.equilibria": [{**GUIDE, "pivots": GUIDE["pivots"][:k]} for k in (1, 2, 3)]}
SINK = {"V": [[2, -2], [0, 1]], "Q": [[0, 0]], "K": [[0, 0]], "beta": 1, "mask": causal(2), "normalised": 1}
SINK |= {"tokens": [[1, 0], ["-4/5", "3/5"]], "radius": "1*2^-40"}
SINK |= {"hints.preconditioner": eye(4), "hints.form": eye(4), "hints.inward": 1}
TOP = {**SINK, "values": [2, 1], "vectors": [[1, 0], [2, 1]]}

#: Data that meet all conditions.
BASE: dict[str, dict[str, Any]] = {
    "seed:closure": {"factors": [HALF, [[0, 1], [1, 0]]], "product": [["1/2", "1/2"], [1, 0]]},
    "dong2021:2.1": PATHS,
    "dong2021:2.1-skip": {**PATHS, "skip": 1},
    "dong2021:A.3": LOGITS,
    "dong2021v1:A.3": LOGITS,
    "dong2021v1:2.2": KINDS,
    "dong2021v1:2.2-mean": MEAN,
    "unstated:large-logits": {"gain": 10, "idle": 1898},
    "dong2021:2.3-printed": {"columns": 982, "entry": "1/32", "gain": "1/256", "idle": 5995, "key_logit": 64},
    "dong2021v1:2.3": {"logit": "1/16", "side": 256},
    "own:tv": {"g": [1, 0], "weights": [1, 1]},
    "own:tv-variant": {"g": [2, 0], "weights": [1, 1], "constant": 5},
    "wu2024:4.3.1": {"s": "4/5", "w": "5/3"},
    "wu2024:L13": {"w": 2, "x": ["-4/7", "-1/7", "-4/7", "-4/7"]},
    "wu2024:2-step": {"A": [["3/7", "4/7"], ["4/7", "3/7"]]},
    "own:zero-grad": {"Z": [[1], [2]], "M": [[0]], "V": [[1]], "G": [[1]]},
    "own:flow-step": FLOW,
    "own:flow-step-usa": FLOW,
    "own:flow-sink": SINK,
    "karagodin2024:two-clusters": TOP,
    "karagodin2024:two-clusters-symmetric": {**TOP, "V": [[2, 0], [0, 1]], "vectors": eye(2)},
    "own:layernorm-equilibrium": RESTING | GROWING,
    "own:stable-complete": COMPLETE | DRAWN,
    "own:stable-causal": RESTING | DRAWN,
    "wu2024:conjecture": COMPLETE | DRAWN,
    "unstated:ln-sphere": RESTING | DRAWN,
    "wu2024:3": SHIFT,
    "own:stable-block": BLOCK,
    "own:stable-rotary": BLOCK | {"cos": [[1], ["3/5"]], "sin": [[0], ["4/5"]]},
    "own:stable-equilibrium": DESIGN | SPECTRUM,
    "own:stable-causal-every-n": DESIGN,
    "own:stable-complete-every-n": DESIGN,
    "own:stable-rank-two-every-n": DESIGN
    | {"mask": ones(3, 3), "rank": 2, "hints.pivots": [[0, 0], [1, 1]], "hints.support": ones(3, 3)},
    "wu2024:3-measure": DESIGN,
    "own:stable-every-rank": FAMILY,
    "wang2022:1": {"A": [["2/3", "1/3"], ["1/2", "1/2"]], "pi": ["3/5", "2/5"], "z": [2, -3]},
    "contranorm2023:2": {"s": 1, "sigma": ["7/5", "1/2"]},
    "folk:alibi-theta": {"a": "1/2", "c": "1/2", "t": 51},
    "folk:spectrum-real": {
        "A": [["1/10", "4/5", "1/10"], ["1/10", "1/10", "4/5"], ["4/5", "1/10", "1/10"]],
        "p": "7/10",
        "q": "49/100",
        "u": [1, -1, 0],
    },
    "folk:softmax-rank": {"q": [0, 1], "x": [1, 2]},
    "folk:entropy-order": {"T": 2, "c": "1/10000000000", "sigma": 60},
    "folk:softmax-gradient": {"T": 1, "c": [0, 0]},
    "folk:affine-rank": {"X": [[1, -1, 0], ["1/2", 0, "-1/2"], [0, 1, -1]], "s": [1, 2, 1]},
}

_SEES = "any(mask[i][j] > 0 for i in range(n) for j in range(n) if"
_DIFFER = "rank == 1 or any((T(mask) @ mask)[j][k] > 0 and differ(j, k)"
_OF_TOKENS = ("spectrum.values", "hints.weights", "hints.support", "hints.spectral_weights")
_WHOLE = "floor({0}) == {0} and {0} >= {1}"
_SOFTMAX: list[Case] = [
    ("m >= 2", {"E": [[7]], "weights": [1]}),
    ("all(w > 0 for w in weights)", {"weights": [0, 1]}),
    ("max(D(i) for i in range(n)) > 0", {"E": [[7, 7], [1, 1]]}),
]
_TV: list[Case] = [
    ("m >= 2", {"g": [1], "weights": [1]}),
    ("all(w > 0 for w in weights)", {"weights": [1, 0]}),
    ("max(g) - min(g) > 0", {"g": [3, 3]}),
]
_PATHS: list[Case] = [
    ("n >= 2", {"X": [[1]], "layers": layers(([[1]], [[1]])), "output": [[1]]}),
    ("all(stochastic(P[l, h])", {"layers.1.heads.0.P": [[1, 0], [0, "1/2"]]}),
    ("all(stochastic(P[l, h])", {"layers.1.heads.0.P": [[1, 0], ["-1/2", "3/2"]]}),
    ("F**L <= 4096", {"layers": layers((eye(2), [[1]]), (eye(2), [[1]]), count=13)}),
    ("any(abs(X[i][a] - X[0][a]) > 0", {"X": [[2], [2]]}),
    ("any(averages(l, h, p) for l in range(L)", {"layers": layers((eye(2), [[1]]), count=2)}),
    ("any(averages(l, h, p) for l in range(L)", {"layers.0.heads.0.W": [[0]], "layers.1.heads.0.W": [[0]]}),
]
_FLOW: list[Case] = [
    ("n >= 2", {"C": [[1]]}),
    ("C == T(C)", {"C": [[1, "1/2"], ["1/3", 1]]}),
    ("all(C[i][i] == 1", {"C": [[1, "1/2"], ["1/2", "3/4"]]}),
    ("all(C[i][i] == 1", {"C": [[1, "-5/4"], ["-5/4", 1]]}),
    ("alpha >= 0 and alpha < 1", {"C": [[1, f"-{TINY}"], [f"-{TINY}", 1]]}),
    ("alpha >= 0 and alpha < 1", {"C": [[1, 1], [1, 1]]}),
    ("beta >= 0", {"beta": f"-{TINY}"}),
]
_SINK: list[Case] = [
    ("binary(mask)", {"mask.1.0": 2}),
    ("all(sum(row) > 0 for row in mask)", {"mask.0.0": 0}),
    ("normalised == 0 or normalised == 1", {"normalised": "1/2"}),
    ("radius > 0", {"radius": 0}),
    ("form == T(form)", {"hints.form.0.1": TINY}),
    ("len(form) == n*d", {"hints.form": eye(3), "hints.preconditioner": eye(3)}),
]
_LINE = {"V": [[1]], "Q": [[0]], "K": [[0]], "tokens": [[1], [1]], "hints.form": eye(2)}
_TOP: list[Case] = [
    ("all(mask[i][j] == (1 if j <= i else 0)", {"mask": ones(2, 2)}),
    ("normalised == 1", {"normalised": 0}),
    ("beta >= 0", {"beta": f"-{TINY}"}),
    ("all(l > 0 for l in values)", {"values": [2, 0]}),
    ("all(l > 0 for l in values)", {"values": [1, 1]}),
    ("all(V @ vectors[i] == values[i]*vectors[i]", {"values": [3, 1]}),
    ("all(V @ vectors[i] == values[i]*vectors[i]", {"vectors.1": [0, 0]}),
]
_RESTING: list[Case] = [
    ("n >= 2", {"tokens": [[0, 1]], "mask": [[1]], "hints.clusters": [0]}),
    ("d >= 2", {"tokens": [[1], [1]], "W_V": [[1]], "W_QK": [[1]], "hints.support": [[1], [1]]}),
    ("d_qk > 0", {"d_qk": 0}),
    ("binary(mask)", {"mask": [[1, 0], [2, 1]]}),
    ("all(sum(row) > 0 for row in mask)", {"mask": [[0, 0], [1, 1]]}),
    ("radius > 0", {"radius": 0}),
    ("binary(support)", {"hints.support": [[0, 1], [2, 1]]}),
    ("all(any(clusters[i] == c", {"hints.clusters": [1, 1]}),
    ("all(any(clusters[i] == c", {"hints.clusters": [0, 2], "hints.support": [[0, 1]]}),
    ("all(tokens[i] == tokens[leader(", {"hints.clusters": [0, 0], "hints.support": [[1, 1]], "mask": ones(2, 2)}),
    (
        "all(tokens[i] == tokens[leader(",
        {"tokens": [[0, 1], [0, 1], [1, 0]], "hints.clusters": [0, 0, 1], "mask": causal(3)[::-1]},
    ),
    ("norm_kind == sphere or all(s == 1", {"norm": "standard"}),
    ("all(support[c][a] == 1 or start[c][a] == 0", {"tokens": [[TINY, 1], ["-3/5", "-4/5"]]}),
    ("all(support[c][a] == 1 or start[c][a] == 0", {"W_V": [["1/2", 1], [1, 1]]}),
    ("len(pivots) == rank and all(len(p) == 2", {"hints.pivots": [[0, 1]]}),
    ("len(pivots) == rank and all(len(p) == 2", {"hints.pivots": [[0, 1, 0], [1, 0, 0]]}),
    ("all(any(p[0] == c for c in range(k))", {"hints.pivots": [[0, 1], [2, 0]]}),
    ("all(any(p[0] == c for c in range(k))", {"hints.pivots": [[0, 1], [1, 2]]}),
    ("all(pivots[i][0] < pivots[j][0] or", {"hints.pivots": [[1, 1], [1, 0]]}),
    ("all(pivots[i][1] < pivots[j][1] or", {"hints.pivots": [[0, 1], [1, 1]]}),
]
_DRAWN: list[Case] = [
    ("len(R) == N", {"attracting.R": eye(3), "hints.S": eye(3)}),
    ("rho > 0", {"attracting.radius": 0}),
    ("rate > 0", {"attracting.rate": 0}),
    ("rate < 1", {"attracting.rate": 1}),
]
_GROWING: list[Case] = [
    ("growth >= 1", {"unstable.growth": "1023/1024"}),
    ("len(form) == N", {"hints.form": eye(3), "hints.direction": [1, 0, 0]}),
    ("form == T(form)", {"hints.form.0.1": TINY}),
    ("direction @ form @ direction > 0", {"hints.direction": [0] * 4}),
]
_ALONE: dict[str, Any] = {"tokens": [[1, 0, 0]], "mask": [[1]], "spectrum.values": [[0, 0, 0]]}
_ALONE |= {f"hints.{name}": [[1, 1, 1]] for name in ("weights", "support", "spectral_weights")}
_CONTRACTING: list[Case] = [
    ("n >= 2", _ALONE),
    ("d_qk == 1", {"d_qk": 2}),
    ("norm_kind == sphere", {"norm": "standard"}),
    ("binary(mask)", {"mask.2.0": 2}),
    ("all(sum(row) > 0 for row in mask)", {"mask.0.0": 0}),
    ("ball > 0", {"ball": 0}),
    ("binary(support)", {"hints.support.2.0": 2}),
    ("all(support[i][a] == 1 or tokens[i][a] == 0", {"tokens.0.1": TINY}),
    ("all(support[i][a] == 1 or tokens[i][a] == 0", {"hints.support.2.0": 0}),
    ("len(pivots) == rank and all(len(p) == 2", {"hints.pivots": [[0, 0], [1, 1]]}),
    ("len(pivots) == rank and all(len(p) == 2", {"hints.pivots": [[0, 0, 0], [1, 1, 1], [2, 2, 2]]}),
    ("all(any(p[0] == i for i in range(n))", {"hints.pivots.2": [3, 2]}),
    ("all(any(p[0] == i for i in range(n))", {"hints.pivots.2": [2, 3]}),
    ("all(pivots[i][0] < pivots[j][0] or", {"hints.pivots.2": [1, 2]}),
    ("all(pivots[i][1] < pivots[j][1] or", {"hints.pivots.2": [2, 1]}),
    ("all(ball <= size * w", {"ball": "1025*2^-36"}),
]
_WIDE = {"tokens": [[0, 0, 1], [0, 1, 0]], "W_QK": [[0] * 3] * 3, "hints.support": ones(2, 3)}
_STABLE = "W_V[d-2][d-2] > 0 and W_V[d-2][d-2] < 1"
_SHAPE = "all(W_V[i][j] == (1 if i == d - 1"
_C_BELOW_A = "d == 2 or W_V[0][0] > 0 and W_V[0][0] < W_V[d-2][d-2]"
_MASKED = "all(mask[i][j] == (1 if j <= i else 0)"
_FEWER: dict[str, Any] = {"tokens": eye(3)[:2], "mask": causal(2), "hints.weights": ones(2, 3)}
_FEWER |= {"hints.support": causal(3)[:2], "rank": 2, "hints.pivots": [[0, 0], [1, 1]]}
_FEW = {"mask": causal(2), "equilibria": [{**member, "tokens": eye(3)[:2]} for member in FAMILY["equilibria"]]}
_FEW["hints.equilibria"] = [
    {**guide, "weights": ones(2, 3), "support": ones(2, 3)} for guide in FAMILY["hints.equilibria"]
]

_BLOCK = [
    ("n >= 2", {"tokens": [[0, 1]], "mask": [[1]]}),
    ("d >= 2", {"tokens": [[1], [1]], "W_V": [[[1]]], "W_QK": [[[1]]], "up": [[0]], "down": [[0]]}),
    ("len(W_V) == len(W_QK)", {"W_V": [eye(2), eye(2)]}),
    ("skip >= 0", {"skip": f"-{TINY}"}),
    ("binary(mask)", {"mask.0.1": 2}),
    ("all(sum(row) > 0 for row in mask)", {"mask.0": [0, 0]}),
    ("radius > 0", {"radius": 0}),
    ("rank == min(n, d if norm_kind == sphere", {"rank": 1, "hints.pivots": [[0, 0]]}),
    ("rank == min(n, d if norm_kind == sphere", {"norm": "standard"}),
    (_SEES, {"mask": eye(2)}),
    ("any(abs(x) > 0 for row in mixed(tokens)", {"W_V": [[[0, 0], [0, 0]]]}),
]
CASES: dict[str, list[Case]] = {
    "seed:closure": [
        ("len(factors) >= 2 and", {"factors": [eye(2)]}),
        ("len(factors) >= 2 and", {"factors": [[[1], [1]], [[1]]], "product": [[1], [1]]}),
        ("all(stochastic(F)", {"factors.1": [[1, 0], [0, "1/2"]]}),
        ("all(stochastic(F)", {"factors.1": [[1, 0], ["-1/2", "3/2"]]}),
        ("any(x > 0 and x < 1 for F in factors", {"factors.0": [[1, 0], [1, 0]]}),
        ("sum(0 if len(F) == len(F[0]) and F == identity(len(F))", {"factors.1": eye(2)}),
    ],
    "dong2021:2.1": [*_PATHS, ("any(abs(x) > 0 for row in sum(path(t)", {"layers.1.heads.0.W": [[0]]})],
    "dong2021:2.1-skip": [*_PATHS, ("abs(skip) > 0", {"skip": 0})],
    "dong2021:A.3": [*_SOFTMAX, ("all(D(i) <= x_star", {"E": [[0, 1], ["2513/2000", 0]]})],
    "dong2021v1:A.3": _SOFTMAX,
    "dong2021v1:2.2": [
        ("all(len(a) == 2", {"active": [[1, 2, 3]], "guards": [[33, 4, 0], [31, 6, 0], [0, 0, 0]]}),
        *(
            ("all(floor(a[0]) == a[0] and", {"active": [pair]})
            for pair in (["3/2", 1], [0, 1], [1, ABOVE], [1, f"-{ABOVE}"])
        ),
        *((_WHOLE.format("idle", 0), {"idle": k}) for k in ("1/2", -1)),
        ("gain > 0", {"gain": 0}),
        *(("max(abs(gain), abs(sink_logit), abs(guard", {name: ABOVE}) for name in ("gain", "sink_logit")),
        *(
            ("max(abs(gain), abs(sink_logit), abs(guard", {"guards": guards})
            for guards in ([[ABOVE, 4], [31, 6]], [[33, 4], [f"-{ABOVE}", 6]])
        ),
        *(
            ("guards[0][1] >= 0 and guards[1][1]", {"guards": guards})
            for guards in ([[33, -1], [31, 6]], [[33, 4], [31, -1]], [[33, 4], [31, "193/32"]])
        ),
    ],
    "dong2021v1:2.2-mean": [
        *((_WHOLE.format("active", 1), {"active": k}) for k in ("3/2", 0)),
        *((_WHOLE.format("idle", 0), {"idle": k}) for k in ("1/2", -1)),
        ("gain > 0", {"gain": 0}),
        *(
            ("max(abs(gain), abs(sink_logit), abs(act", {name: ABOVE})
            for name in MEAN
            if name not in ("active", "idle")
        ),
    ],
    "unstated:large-logits": [
        *((_WHOLE.format("idle", 2), {"idle": k}) for k in ("5/2", 1)),
        ("gain > 0", {"gain": 0}),
        ("gain <= 1000", {"gain": ABOVE}),
    ],
    "dong2021:2.3-printed": [
        *((_WHOLE.format("columns", 2), {"columns": k}) for k in ("5/2", 1)),
        *((_WHOLE.format("idle", 0), {"idle": k}) for k in ("1/2", -1)),
        ("entry > 0 and columns*entry**2 <= 1", {"entry": 0}),
        ("entry > 0 and columns*entry**2 <= 1", {"columns": 1025}),
        ("gain > 0 and 2*gain <= 5/4", {"gain": 0}),
        ("gain > 0 and 2*gain <= 5/4", {"gain": "655361*2^-20"}),
        ("key_logit >= 0 and key_logit <= 1000", {"key_logit": f"-{TINY}"}),
        ("key_logit >= 0 and key_logit <= 1000", {"key_logit": ABOVE}),
    ],
    "dong2021v1:2.3": [
        *((_WHOLE.format("side", 1), {"side": k}) for k in ("3/2", 0)),
        ("logit > 0", {"logit": 0}),
        ("2*logit <= 1", {"logit": "524289*2^-20"}),
    ],
    "own:tv": _TV,
    "own:tv-variant": [*_TV, ("constant > 0", {"constant": 0})],
    "wu2024:4.3.1": [("w > 1", {"w": 1, "s": 0}), ("s > 0", {"s": "-4/5"}), ("s**2 == 1 - 1/w**2", {"s": "3/5"})],
    "wu2024:L13": [
        ("d >= 3", {"x": ["-3/5", "-4/5"]}),
        ("w > 1", {"w": 1}),
        ("x @ x == 1", {"x.3": "-3/7"}),
        ("all(x[i] < 0", {"x": [0, "-3/5", "-4/5"]}),
        ("w*x[d - 2] <= -1", {"w": "1791*2^-10"}),
        ("sum((x[i]/x[d - 2])**2", {"w": "9/4", "x": ["-7/9", "-4/9", "-4/9"]}),
    ],
    "wu2024:2-step": [
        ("n >= 2", {"A": [[1]]}),
        ("stochastic(A)", {"A.0.0": "4/7"}),
        ("connected(A)", {"A": [["1/2", "1/2"], [0, 1]]}),
        ("reached(A, 1)", {"A": [["1/2", "1/2", 0], [0, "1/2", "1/2"], ["1/2", 0, "1/2"]]}),
        ("n*eps < 1", {"A": [["1/2", "1/2"], ["1/2", "1/2"]]}),
    ],
    "own:zero-grad": [
        ("n >= 2", {"Z": [[1]]}),
        ("spread > 0", {"V": [[0]]}),
        ("any(max(tilt(i)) - min(tilt(i)) > 0", {"G": [[0]]}),
    ],
    "own:flow-step": _FLOW,
    "own:flow-step-usa": _FLOW,
    "folk:affine-rank": [
        ("n >= 2", {"X": [[1, -1, 0]], "s": [1]}),
        ("all(x > 0 for x in s)", {"s": [1, -2, 1]}),
        ("all(sum(centred(i)**2) > 0", {"X.1": [3, 3, 3]}),
        ("all(s[i]**2*sum(centred(i)**2) == s[0]**2", {"s": [1, 1, 1]}),
    ],
    "own:flow-sink": [
        *_SINK,
        ("d >= 2", {**_LINE, "hints.preconditioner": eye(2)}),
        ("any(mask[i][j] == 1", {"mask": eye(2)}),
    ],
    "karagodin2024:two-clusters": [*_SINK, *_TOP],
    "karagodin2024:two-clusters-symmetric": [*_SINK, *_TOP, ("V == T(V)", {"V.0.1": -2, "vectors.1": [2, 1]})],
    "own:layernorm-equilibrium": [
        *_RESTING,
        *_GROWING,
        (_SEES, {"mask": eye(2)}),
        (_DIFFER, {"mask": [[0, 1], [1, 0]]}),
        (_DIFFER, {"mask": ones(2, 2), "tokens": [[0, 1], [0, 1]]}),
    ],
    "own:stable-complete": [
        *_DRAWN,
        ("norm_kind == sphere", {"norm": "standard"}),
        ("all(m == 1 for row in mask", {"mask.0.1": 0}),
        ("rank == min(n, d)", {"rank": 1}),
    ],
    "own:stable-causal": [
        (_MASKED, {"mask": ones(2, 2)}),
        ("all(w == 0 for row in W_QK", {"W_QK.1.0": TINY}),
        ("norm_kind == sphere", {"norm": "standard"}),
        ("n == 2 and rank == 2", {"tokens": ones(3, 2), "mask": causal(3), "hints.clusters": [0, 1, 1]}),
        ("n == 2 and rank == 2", {"rank": 1}),
        (_STABLE, {"W_V.0.0": 0}),
        (_STABLE, {"W_V.0.0": 1}),
        (_STABLE, {"W_V.0.1": -1}),
        ("W_V[d-2][d-1]**2 > W_V[d-2][d-2]", {"W_V": [["1/5", "3/5"], [0, 1]]}),
        (_C_BELOW_A, {"W_V": [[0, 0, 0], [0, "1/2", 1], [0, 0, 1]], **_WIDE}),
        (_C_BELOW_A, {"W_V": [["1/2", 0, 0], [0, "1/2", 1], [0, 0, 1]], **_WIDE}),
        (_SHAPE, {"W_V": [["1/2", 1], [TINY, 1]]}),
        (_SHAPE, {"W_V": [["1/2", 1], [0, 2]]}),
        (_SHAPE, {"W_V": [["1/4", 0, TINY], [0, "1/2", 1], [0, 0, 1]], **_WIDE}),
        (_SHAPE, {"W_V": [["1/4", 0, 0], [TINY, "1/2", 1], [0, 0, 1]], **_WIDE}),
    ],
    "wu2024:conjecture": [
        ("norm_kind == sphere", {"norm": "standard"}),
        (
            "mask == T(mask) and connected(mask)",  # a directed cycle is connected
            {"mask": [[1, 1, 0], [0, 1, 1], [1, 0, 1]], "tokens": ones(3, 2), "hints.clusters": [0, 1, 1]},
        ),
        ("mask == T(mask) and connected(mask)", {"mask": eye(2)}),
        ("rank >= 2", {"rank": 1}),
    ],
    "unstated:ln-sphere": [("all(w == 0 for row in W_QK", {"W_QK.1.0": TINY}), ("rank >= 2", {"rank": 1})],
    "wu2024:3": [
        ("W_V[0][1] > n - 1", {"W_V.0.1": 1}),
        ("all(W_V[i][j] == (1 if i == j else W_V[0][1]", {"W_V.1.0": TINY}),
        ("ranks == [i + 1", {"equilibria.0.rank": 2}),
    ],
    "own:stable-block": _BLOCK,
    "own:stable-rotary": [
        ("n >= 2", {**_BLOCK[0][1], "cos": [[1]], "sin": [[0]]}),
        *_BLOCK[1:],
        ("len(cos[0]) == floor(d/2)", {"cos": ones(2, 2), "sin": ones(2, 2)}),
        ("any(abs(x) > 0 for row in mask * (turned(tokens @ W_QK[0])", {"cos": ones(2, 1), "sin": [[0], [0]]}),
    ],
    "own:stable-equilibrium": [
        *_CONTRACTING,
        (_SEES, {"mask": eye(3)}),
        ("d >= 2", {**dict.fromkeys(("tokens", *_OF_TOKENS), ones(3, 1)), "W_V": [[1]], "W_QK": [[1]]}),
        ("within > 0", {"spectrum.within": 0}),
        ("core >= 0 and core <= size", {"hints.core": f"-{TINY}"}),
        ("core >= 0 and core <= size", {"hints.core": "1025*2^-36"}),
    ],
    "own:stable-causal-every-n": [
        (_MASKED, {"mask": ones(3, 3)}),
        ("n == d and rank == n", {"rank": 2}),
        ("n == d and rank == n", _FEWER),
        ("all(W_QK[i][j] == (1 if j > i", {"W_QK.1.1": 1}),
        ("all(W_V[i][j] == (W_V[i][i] if j == i", {"W_V.2.0": TINY}),
        ("all(W_V[i][i] > 0 and", {"W_V.2.2": 0}),
        ("all(W_V[i][i] > 0 and", {"W_V": [[1, 0, 0], [-1, 1, 0], [0, -1, "1/4"]]}),
        ("tokens == identity(n)", {"tokens.0.0": -1}),
    ],
    "own:stable-complete-every-n": [
        ("n == d and rank == n", {"rank": 2}),
        ("n == d and rank == n", _FEWER),
        ("all(mask[i][i] == 1 and", {"mask.1.1": 0}),
        ("all(mask[i][i] == 1 and", {"mask.1.0": 0}),
    ],
    "own:stable-rank-two-every-n": [("all(m == 1 for row in mask", {"mask.0.1": 0}), ("rank == 2", {"rank": 3})],
    "wu2024:3-measure": [(_MASKED, {"mask": ones(3, 3)}), ("rank >= 2", {"rank": 1})],
    "own:stable-every-rank": [("n == d", _FEW), ("ranks == [i + 1", {"equilibria.0.rank": 2})],
    "wang2022:1": [
        ("n >= 2", {"A": [[1]], "pi": [1], "z": [1]}),
        ("stochastic(A) and all(a > 0", {"A.0.0": "1/3"}),
        ("stochastic(A) and all(a > 0", {"A": [[1, 0], ["1/2", "1/2"]], "pi": [1, 0]}),
        ("pi @ A == pi and sum(pi) == 1", {"pi": ["1/2", "1/2"]}),
        ("pi @ A == pi and sum(pi) == 1", {"pi": ["6/5", "4/5"]}),
        ("any(abs(x) > 0 for x in chain(", {"z": [0, 0]}),
    ],
    "contranorm2023:2": [
        ("s > 0", {"s": 0}),
        ("min(sigma) > 0", {"sigma": ["7/5", 0]}),
        ("min(sigma) < max(sigma)", {"sigma": [1, 1]}),
        ("1 + (1 - max(sigma)**2)*s > 0", {"s": "25/24"}),
    ],
    "folk:alibi-theta": [
        *(("a > 0 and a < 1", {"a": a}) for a in (0, 1)),
        *(("c > 0 and (1 + a)*c <= 1", {"c": c}) for c in (0, "699051*2^-20")),
        *(("t >= 0 and floor(t) == t", {"t": t}) for t in (-1, "1/2")),
    ],
    "folk:spectrum-real": [
        ("stochastic(A) and all(a > 0", {"A.0.0": "1/5"}),
        ("stochastic(A) and all(a > 0", {"A": [[0, 1, 0], [0, 0, 1], [1, 0, 0]], "p": 1, "q": 1}),
        ("any(abs(x) > 0 for x in u)", {"u": [0, 0, 0]}),
        ("A @ (A @ u) + p*(A @ u) + q*u ==", {"q": "1/2"}),
    ],
    "folk:softmax-rank": [
        ("n >= 2", {"q": [1], "x": [1]}),
        ("all(t > 0 for t in x)", {"x": [1, 0]}),
        ("all(floor(t) == t for t in q)", {"q": [0, "1/2"]}),
    ],
    "folk:entropy-order": [
        *(("T >= 2 and floor(T) == T", {"T": T}) for T in (1, "5/2")),
        *(("sigma > 0 and sigma <= 1000", {"sigma": x}) for x in (0, ABOVE)),
        *(("c > 0 and c*T*sigma*exp(0 - sigma) <= log(T)", {"c": c}) for c in (0, 10**24)),
    ],
    "folk:softmax-gradient": [("m >= 2", {"c": [0]}), ("T > 0", {"T": 0})],
}

#: Conditions that nothing in a certificate that can be read breaks by itself, and why.
IMPLIED = {"len(S) == N": "R and S are read as matrices of one size", "change > 0": "it follows from gain > 0"}


def edited(base: dict[str, Any], change: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Data and hints with the places that are named by their paths changed."""
    parts: dict[str, Any] = {"hints": {}}
    for path, value in (base | change).items():
        *before, last = path.split(".")
        inner: Any = parts
        for step in before:
            inner = inner[int(step) if isinstance(inner, list) else step]
        inner[int(last) if isinstance(inner, list) else last] = copy.deepcopy(value)
    return {name: part for name, part in parts.items() if name != "hints"}, parts["hints"]


def reason(key: str, change: dict[str, Any]) -> str:
    data, hints = edited(BASE[key], change)
    return Certificate(key, STATEMENTS[key].kinds[0], data, hints).check().reason


@pytest.mark.parametrize("key", CASES)
def test_each_condition_refuses_by_itself(key: str) -> None:
    for text, change in CASES[key]:
        assert reason(key, change).startswith(f"a condition fails: {text}"), (text, change, reason(key, change))


@pytest.mark.parametrize("key", BASE)
def test_the_data_that_are_changed_meet_all_conditions(key: str) -> None:
    assert not reason(key, {}).startswith("a condition")


def test_no_condition_is_left_out() -> None:
    """Each is refused under one key at least that has it."""
    refused = {text for cases in CASES.values() for text, _ in cases}

    def conditions() -> Iterator[str]:
        for statement in STATEMENTS.values():
            extra = (text for _, texts in statement.extra.values() for text in texts)
            yield from (*statement.given, *statement.telling, *statement.method, *extra)

    assert {text for text in conditions() if not text.startswith(tuple(refused))} == set(IMPLIED)


#: Refutations on either side of the border, and whether the claim is broken there.
BORDERS: dict[str, list[tuple[dict[str, Any], bool]]] = {
    # (s + 1)^2 (1 - l^2/3)^2 > 256 s: from s = 254 on, where 255^2/254 = 256.004
    "dong2021v1:2.3": [
        ({"side": 254, "logit": "1/209"}, True),
        ({"side": 254, "logit": "1/208"}, False),
        ({"side": 253, "logit": "1/256"}, False),
    ],
    "dong2021:2.3-printed": [({"entry": "17132239*2^-29"}, True), ({"entry": "17132239*2^-29", "columns": 981}, False)],
    "wu2024:2-step": [
        ({"A": [["1/3"] * 3, ["33/100", "67/100", 0], ["33/100", 0, "67/100"]]}, True),
        ({"A": [["1/9", 0, "8/9"], ["1/3", "2/3", 0], ["1/3", "5/9", "1/9"]]}, False),
    ],
    "wang2022:1": [({"z": [2, -3]}, True), ({"z": [1, -1]}, False)],  # pi z = 0 and 1/5
    # The circulant of (4/5, b, c) has p^2 - 4q = -3(b - c)^2.
    "folk:spectrum-real": [
        ({"A": [["4/5", b, c], [c, "4/5", b], [b, c, "4/5"]], "p": "-7/5", "q": q}, broken)
        for b, c, q, broken in (("11/100", "9/100", "4903/10000", True), ("1/10", "1/10", "49/100", False))
    ],
    "folk:softmax-rank": [({}, True), ({"q": [1, 1]}, False)],
    # log(1 + b) + sqrt(2) b/(1 + b) = 0.67169 (2/e), b = e^(-sqrt(2))
    "folk:entropy-order": [({"sigma": 1, "c": c}, broken) for c, broken in (("672/1000", True), ("671/1000", False))],
    # J = p(1 - p)/T [[1, -1], [-1, 1]] for two logits, (I - 11^T/5)/5 for five equal ones
    "folk:softmax-gradient": [
        ({"c": [0, "7/4"]}, True),  # 0.2522 > 1/4
        ({"c": [0, "9/5"]}, False),  # 0.2435
        ({"c": [0] * 5}, False),
        ({"c": [0, "234/1000"], "T": "1/10"}, True),  # 1.60 > sqrt(2)
        ({"c": [0, "268/1000"], "T": "1/10"}, False),  # 1.20
    ],
}


@pytest.mark.parametrize("key", BORDERS)
def test_refutations_end_at_their_borders(key: str) -> None:
    for change, broken in BORDERS[key]:
        data, hints = edited(BASE[key], change)
        assert Certificate(key, "violates", data, hints).check().accepted is broken, change
