"""Follow starts at the rim of a certified set home: ``python benchmarks/replay.py CERTIFICATE.json…``.

Reads a certificate of one attracting equilibrium (`own:stable-causal-every-n`, `own:stable-complete-every-n`, …)
and nothing of rankmath. The layer x_i -> unit(softmax(x_i W_QK X'/sqrt(d_qk)) X W_V) is iterated in arb midpoints,
with more digits than the ball has, from 0.999 of it in a random corner (or of an ellipsoid in a random direction).
"""

from __future__ import annotations

import json
import math
import random
import sys
from pathlib import Path
from typing import Any

from flint import arb, arb_mat, ctx

_MOST = 4000  # layers


def number(x: Any) -> arb:
    """An integer, "m*2^e" or "p/q"."""
    text = str(x)
    if "*2^" in text:
        mantissa, exponent = text.split("*2^")
        return arb(int(mantissa)) * arb(2) ** int(exponent)
    over, _, under = text.partition("/")
    return arb(int(over)) / arb(int(under or 1))


def matrix(rows: Any) -> arb_mat:
    return arb_mat([[number(x) for x in row] for row in rows])


def middle(M: arb_mat) -> arb_mat:
    return arb_mat(M.nrows(), M.ncols(), [x.mid() for x in M.entries()])


def apart(X: arb_mat, Y: arb_mat) -> arb:
    return max(abs(a - b).mid() for a, b in zip(X.entries(), Y.entries(), strict=True))


def layer(X: arb_mat, W: arb_mat, V: arb_mat, mask: Any) -> arb_mat:
    n, d = X.nrows(), X.ncols()
    logits, P = X * W * X.transpose(), [arb(0)] * (n * n)
    for i in range(n):
        seen = [j for j in range(n) if int(mask[i][j])]
        top = max(logits[i, j].mid() for j in seen)
        weights = [(logits[i, j].mid() - top).exp().mid() for j in seen]
        total = sum(weights, arb(0))
        for j, weight in zip(seen, weights, strict=True):
            P[i * n + j] = (weight / total).mid()
    entries = middle(arb_mat(n, n, P) * middle(X * V)).entries()
    rows = [entries[i * d : (i + 1) * d] for i in range(n)]
    lengths = [sum((y * y for y in row), arb(0)).sqrt() for row in rows]
    return arb_mat(n, d, [(y / length).mid() for row, length in zip(rows, lengths, strict=True) for y in row])


def replay(file: str) -> bool:
    """Whether the start comes a hundred times closer than it began."""
    data, rng = json.loads(Path(file).read_text(encoding="utf-8"))["data"], random.Random(file)
    shape = data.get("attracting")
    if shape is None and "ball" not in data:
        raise SystemExit(f"{file}: no ball, and no ellipsoid, that attracts is in this certificate")
    ctx.prec = 64
    size = number(shape["radius"] if shape else data["ball"])
    ctx.prec = 256 + int(-2.2 * float((size.log() / arb(2).log()).mid()))
    size = number(shape["radius"] if shape else data["ball"]) * 999 / 1000
    home, V = matrix(data["tokens"]), matrix(data["W_V"])
    W = middle(matrix(data["W_QK"]) / number(data["d_qk"]).sqrt())
    if shape:
        R = matrix(shape["R"])
        z = [rng.gauss(0, 1) for _ in range(R.ncols())]
        length = math.sqrt(sum(x * x for x in z))
        step = (R * arb_mat(len(z), 1, [arb(x / length) * size for x in z])).entries()
    else:
        step = [size * rng.choice((-1, 1)) for _ in home.entries()]
    start = [x + y for x, y in zip(home.entries(), step, strict=True)]
    X = middle(arb_mat(home.nrows(), home.ncols(), start))
    first = farthest = gap = apart(X, home)
    layers = 0
    while gap * 100 > first and layers < _MOST:
        X, layers = layer(X, W, V, data["mask"]), layers + 1
        gap = apart(X, home)
        farthest = max(farthest, gap)
    there = bool(gap * 100 <= first)
    logs = [f"10^{float((x.log() / arb(10).log()).mid()):.1f}" for x in (first, farthest, gap)]
    words = "home" if there else "not home"
    print(f"{file}: {words}, from {logs[0]} over {logs[1]} to {logs[2]} in {layers} layers", flush=True)
    return there


if __name__ == "__main__":
    returned = [replay(file) for file in sys.argv[1:]]
    sys.exit(0 if all(returned) else 1)
