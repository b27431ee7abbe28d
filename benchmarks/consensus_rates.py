"""Measured rates of collapse against the second modulus of attention at consensus, both in balls.

    python benchmarks/consensus_rates.py --nets 5 --first 1000    # five nets of every kind, seeds 1000 to 1004

One random head with W = 1 (or two heads with W_1 + W_2 = 1), repeated; a run that is refused as too short is made
twice as long, three times at most. The rate is `rm.consensus_factor` of the run in
balls. The attention at consensus, the limit of the run, is written here anew from the weights, and its eigenvalues are
enclosed by Arb. Both are enclosures: the last column is an upper bound of how far apart they are. Seconds are the
processor's.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import Any

import numpy as np
from flint import acb_mat, arb, arb_mat, ctx

import rankmath as rm
from rankmath.model.positions import ALiBi
from rankmath.model.sublayers import Attention

KINDS: dict[str, dict[str, Any]] = {
    "rotary": {"positions": "rotary"},
    "ALiBi": {"positions": "alibi"},
    "relative": {"positions": "relative"},
    "causal": {"mask": "causal"},
    "causal, rotary": {"mask": "causal", "positions": "rotary"},
    "causal, ALiBi": {"mask": "causal", "positions": "alibi"},
    "causal, relative": {"mask": "causal", "positions": "relative"},
    "window ±1": {"window": 1},
    "window ±2, rotary": {"window": 2, "positions": "rotary"},
    "window ±1, relative": {"window": 1, "positions": "relative"},
    "causal window 2": {"mask": "causal", "window": 2},
    "causal window 2, rotary": {"mask": "causal", "window": 2, "positions": "rotary"},
    "causal window 2, ALiBi": {"mask": "causal", "window": 2, "positions": "alibi"},
    "causal window 2, relative": {"mask": "causal", "window": 2, "positions": "relative"},
    "causal window 3, relative": {"mask": "causal", "window": 3, "positions": "relative"},
    "rotary, capped": {"positions": "rotary", "softcap": 2.0},
    "causal, rotary, two heads": {"mask": "causal", "positions": "rotary", "heads": 2},
    "rotary, two heads": {"positions": "rotary", "heads": 2},
}


def head(kind: dict[str, Any], seed: int, n: int, d: int) -> Attention:
    """One attention whose values sum to the identity."""
    rng = np.random.default_rng(seed)
    slope = {"positions": ALiBi(rng.uniform(0.1, 1, 1))} if kind.get("positions") == "alibi" else {}
    attention = rm.Network.random(n, d, layers=1, seed=seed, **{**kind, **slope}).attentions[0]
    share = np.diag(rng.uniform(0.2, 0.8, d))
    values = [np.eye(d)] if attention.heads == 1 else [share, np.eye(d) - share]
    return replace(attention, value=np.stack(values))


def second_modulus(a: Attention, x: list[arb], n: int) -> arb:
    """The largest modulus of the eigenvalues of R ↦ Σ_h P_h R W_h on differences of tokens, all tokens equal to x."""
    d = len(x)
    total = acb_mat((n - 1) * d, (n - 1) * d) if a.heads > 1 else acb_mat(n - 1, n - 1)
    for h in range(a.heads):
        query = (arb_mat([x]) * arb_mat(a.query[h].tolist())).entries()
        turn = a.rotary
        q, k = (
            [list(row) for _ in range(n)]
            if turn is None
            else [
                [
                    row[2 * m] * float(turn.cos[i, m]) - row[2 * m + 1] * float(turn.sin[i, m])
                    if part == 0
                    else row[2 * m + 1] * float(turn.cos[i, m]) + row[2 * m] * float(turn.sin[i, m])
                    for m in range(d // 2)
                    for part in (0, 1)
                ]
                for i in range(n)
            ]
            for row in (query, x)
        )
        S = arb_mat(q) * arb_mat(k).transpose() / arb(a.d_qk).sqrt()
        if a.softcap is not None:
            S = arb_mat(n, n, [a.softcap * (s / a.softcap).tanh() for s in S.entries()])
        mask = a.mask_for(n)
        sees = np.ones((n, n), bool) if mask is None else mask.allowed
        B = np.zeros((n, n)) if a.position is None else np.asarray(a.position.block(h, 0, n, n))
        P = []
        for i in range(n):
            weights = [(S[i, j] + float(B[i, j])).exp() if sees[i, j] else arb(0) for j in range(n)]
            P.append([w / sum(weights, arb(0)) for w in weights])
        W = a.value[h]
        for i, j in np.ndindex(n - 1, n - 1):
            moved = P[i + 1][j + 1] - P[0][j + 1]
            if a.heads == 1:
                total[i, j] = moved
            else:
                for r in range(d):
                    total[i * d + r, j * d + r] += moved * float(W[r, r])
    size = total.nrows()
    if all(total[i, j] == 0 for i, j in np.ndindex(size, size) if i < j):  # triangular
        found = [total[i, i] for i in range(size)]
    else:
        found = total.eig(multiple=True)
    largest = arb(0)
    for one in found:
        largest = largest.max(abs(one))
    return largest


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nets", type=int, default=5)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--layers", type=int, default=200, help="of a first run; where it is too short, up to 8 times")
    given = parser.parse_args()
    print("kind | nets | refused | layers | rates | largest radius | apart by at most | seconds")
    print("---|---|---|---|---|---|---|---")
    for name, kind in KINDS.items():
        began, radii, apart, rates, refused, deepest = time.process_time(), [0.0], [0.0], [], 0, given.layers
        for seed in range(given.first, given.first + given.nets):
            n, d = 3 + seed % 4, 4
            attention = head(kind, seed, n, d)
            X = np.random.default_rng(seed + 1).standard_normal((n, d))
            for layers in (given.layers, 2 * given.layers, 4 * given.layers, 8 * given.layers):
                net = rm.Network.from_layers([[rm.Sublayer(attention)]] * layers, tokens=n)
                try:
                    rate = rm.consensus_factor(net, X, arithmetic="balls")
                    break
                except rm.InvalidArgument:  # too short
                    rate = None
            if rate is None:
                refused += 1
                continue
            deepest = max(deepest, layers)
            ctx.prec = 128 + 8 * layers
            center = list(rm.trace(net, X, arithmetic="balls", bits=ctx.prec).center)
            ctx.prec = 256
            theory = second_modulus(attention, center, n)
            rates.append(float(theory))
            radii.append(float(rate.rad()))
            apart.append(float(abs(rate - theory).upper()))
        shown = f"{min(rates):.3f} to {max(rates):.3f}" if rates else ""
        seconds = time.process_time() - began
        print(
            f"{name} | {len(rates)} | {refused} | {deepest} | {shown} | {max(radii):.1e} | {max(apart):.1e}"
            f" | {seconds:.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
