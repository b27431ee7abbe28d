"""The census: systematic claims about attention, each refuted by an instance that balls decide, proved, or open.

python benchmarks/claims/census.py [--seconds 600]    writes decided.jsonl and open.jsonl beside this file

A claim that fails in doubles on an instance below is judged there in balls; one that fails on none is given
to the prover, and its derivation to the checker. What is neither is open.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.decide.prover import prove
from rankmath.decide.space import Room, starts
from rankmath.formula import read_term
from rankmath.formula.evaluate import value
from rankmath.formula.numbers import Signed
from rankmath.formula.run import Run
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome

HERE = Path(__file__).parent
SIZES = ("diameter(X[%s], 1)", "diameter(X[%s], 2)", "diameter(X[%s], inf)", "mu(X[%s])", "residual(X[%s], inf)")
TOKENS = (*SIZES, "longest(X[%s])", *(f"norm(X[%s], {p})" for p in ("1", "2", "inf", "max", "frobenius")))
NORMS = ("1", "2", "inf", "max", "frobenius")
ATTENTION = (
    *(f"norm(P[0, 0], {p})" for p in ("1", "2", "frobenius", "max")),
    "dobrushin(P[0, 0])",
    "epsilon(P[0, 0])",
)
FACTORS = ("1", "sqrt(2)", "2", "sqrt(n)", "sqrt(d)", "n", "d", "sqrt(n*d)", "sqrt(n/2)", "n/2", "sqrt(n - 1)")
Claim = tuple[str, str, list[str], list[str]]


def claims() -> Iterator[Claim]:
    """Smaller side, hypotheses and the factors of the larger side, family by family."""
    for a, b in itertools.permutations(TOKENS, 2):
        for c in FACTORS:
            yield "tokens", a % 0, [], [c, b % 0]
    for a, b in itertools.permutations(ATTENTION, 2):
        for c in ("1", "2", "sqrt(n)", "n", "n/2"):
            yield "attention", a, ["H == 1"], [c, b]
    for a, b in itertools.permutations(NORMS, 2):
        for c in ("1", "2", "sqrt(d)", "d"):
            yield "weights", f"norm(W[0, 0], {a})", ["H == 1"], [c, f"norm(W[0, 0], {b})"]
    for a, b, w, c in itertools.product(SIZES, SIZES, NORMS, ("1", "2", "sqrt(n)", "sqrt(d)", "d", "n")):
        yield "one layer", a % 1, ["H == 1"], [c, f"norm(W[0, 0], {w})", b % 0]
        yield "two layers", a % 2, ["H == 1"], [c, f"norm(W[0, 0], {w})", f"norm(W[1, 0], {w})", b % 0]


def samples() -> list[NetworkInstance]:
    rng = np.random.default_rng(7)
    found = []
    for n, d in itertools.product((1, 2, 3, 5, 8), (1, 2, 3, 6)):
        for key_bias in (False, True):
            room = Room(n, d, 1, 2, 1.0, key_bias=key_bias)
            found.append(room.instance(starts(rng, room, 24)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    until = time.monotonic() + parser.parse_args().seconds
    batches = samples()
    runs = [Run(Float64(np.zeros(1)), batch.net, batch.X) for batch in batches]
    memory: dict[str, np.ndarray] = {}

    def logs(text: str) -> np.ndarray:
        if text not in memory:
            parts = []
            with np.errstate(all="ignore"):
                for run in runs:
                    x = value(read_term(text), run, {})
                    x = x if isinstance(x, Signed) else Signed.exact(x)
                    parts.append(np.broadcast_to(np.where(np.asarray(x.sign) > 0, x.log, -np.inf), 24))
            memory[text] = np.concatenate(parts)
        return memory[text]

    listed = list(claims())
    random.Random(3).shuffle(listed)
    decided, undecided, seen = [], [], {"REFUTED": 0, "PROVED": 0}
    for family, left, given, factors in listed:
        if time.monotonic() > until:
            break
        claim = f"{left} <= {'*'.join(factors)}"
        statement = Statement("mine:claim", claim, given)
        with np.errstate(all="ignore"):
            gap = logs(left) - sum(logs(text) for text in factors)
        gap = np.where(np.isfinite(logs(left)) & ~np.isnan(gap), gap, -np.inf)
        worst, answer = int(np.argmax(gap)), ""
        if gap[worst] > 1e-6:
            if seen["REFUTED"] > 1.2 * seen["PROVED"] + 100:
                continue
            instance = batches[worst // 24].select(worst % 24)
            answer = "REFUTED" if judge(statement, instance, "balls").outcome == Outcome.VIOLATED else ""
        else:
            proof = prove(statement.claim_text, statement.given_texts, seconds=3)
            answer = "PROVED" if proof is not None and proof.certificate().check().accepted else ""
        name = hashlib.sha256(json.dumps([statement.claim_text, *statement.given_texts]).encode()).hexdigest()[:12]
        entry = {"id": name, "family": family, "claim": statement.claim_text, "given": list(statement.given_texts)}
        if answer:
            seen[answer] += 1
            decided.append({**entry, "answer": answer, "split": "test" if int(name, 16) % 5 == 0 else "train"})
        elif gap[worst] <= 1e-6:
            undecided.append({**entry, "tightest": round(float(np.exp(gap[worst])), 6)})
    for file, rows in (("decided.jsonl", decided), ("open.jsonl", undecided)):
        rows.sort(key=lambda row: row["id"])
        (HERE / file).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print(seen, len(undecided))


if __name__ == "__main__":
    main()
