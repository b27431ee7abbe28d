"""The census: systematic claims about attention, each refuted by an instance that balls decide, proved, or open.

python benchmarks/claims/census.py [--seconds 600]    adds to decided.jsonl and open.jsonl beside this file

A claim that fails in doubles on an instance below is judged there in balls; one that fails on none is given
to the prover, and its derivation to the checker, then to the adversary. What is neither is open. Two claims that
say the same under the same hypotheses, as the checker's normal form tells, are one.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.checker.derivation import Derivation, line_key
from rankmath.checker.intervals import Rejected
from rankmath.decide.adversary import search
from rankmath.decide.prover import prove
from rankmath.decide.space import Room, starts
from rankmath.formula import read_term
from rankmath.formula.evaluate import value
from rankmath.formula.numbers import Signed
from rankmath.formula.run import Run
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome

HERE = Path(__file__).parent
BATCH = 24
SIZES = ("diameter(X[%s], 1)", "diameter(X[%s], 2)", "diameter(X[%s], inf)", "mu(X[%s])", "residual(X[%s], inf)")
LENGTHS = ("longest(X[%s])", *(f"norm(X[%s], {p})" for p in ("1", "2", "inf", "max", "frobenius")))
RESIDUALS = ("residual(X[%s], one)",)
NORMS = ("1", "2", "inf", "max", "frobenius")
ATTENTION = (
    *(f"norm(P[0, 0], {p})" for p in ("1", "2", "frobenius", "max")),
    *("dobrushin(P[0, 0])", "epsilon(P[0, 0])", "entropy(P[0, 0])", "logit_range(P[0, 0])"),
)
FACTORS = ("1", "sqrt(2)", "2", "sqrt(n)", "sqrt(d)", "n", "d", "sqrt(n*d)", "sqrt(n/2)", "n/2", "sqrt(n - 1)")
#: Hypotheses, and the rooms that meet them.
SETTINGS: dict[str, tuple[list[str], dict[str, object]]] = {
    "one head": (["H == 1"], {}),
    "two heads": (["H == 2"], {"H": 2}),
    "causal": (["H == 1", "mask == causal"], {"mask": "causal"}),
    "skip": (["H == 1", "skip == 1"], {"skip": 1.0}),
    "no bias": (["H == 1", "bias == none"], {"bias": False}),
}
#: Family, setting, the smaller side and the factors of the larger one.
Claim = tuple[str, str, str, list[str]]


def claims() -> Iterator[Claim]:
    for a, b in itertools.permutations((*SIZES, *LENGTHS, *RESIDUALS), 2):
        for c in FACTORS:
            yield "tokens", "one head", a % 0, [c, b % 0]
    for a, b in itertools.permutations(ATTENTION, 2):
        for c in ("1/2", "1", "2", "sqrt(n)", "n", "n/2", "log(n)"):
            yield "attention", "one head", a, [c, b]
            yield "attention", "causal", a, [c, b]
    for a, b in itertools.permutations(NORMS, 2):
        for c in ("1", "2", "sqrt(d)", "d"):
            yield "weights", "one head", f"norm(W[0, 0], {a})", [c, f"norm(W[0, 0], {b})"]
    factors = ("1", "2", "sqrt(n)", "sqrt(d)", "d", "n")
    for a, b, w, c in itertools.product(SIZES, SIZES, NORMS, factors):
        one, two = f"norm(W[0, 0], {w})", f"norm(W[1, 0], {w})"
        yield "one layer", "one head", a % 1, [c, one, b % 0]
        yield "two layers", "one head", a % 2, [c, one, two, b % 0]
        yield "two layers, masked", "causal", a % 2, [c, one, two, b % 0]
        yield "heads", "two heads", a % 1, [c, f"sum_h(norm(W[0, h], {w}))", b % 0]
        yield "skip", "skip", a % 1, [c, f"(1 + {one})", b % 0]
        yield "Dobrushin", "causal", a % 1, [c, "dobrushin(P[0, 0])", one, b % 0]
    for a, b, w, c in itertools.product(LENGTHS, LENGTHS, NORMS, factors):
        yield "lengths", "no bias", a % 1, [c, f"norm(W[0, 0], {w})", b % 0]
    for a, b, w, c in itertools.product((*SIZES, *RESIDUALS), RESIDUALS, NORMS, factors):
        yield "residuals", "one head", a % 1, [c, f"norm(W[0, 0], {w})", b % 0]


class Samples:
    """Instances of a setting, and the logarithm of every quantity on them."""

    def __init__(self, switches: dict[str, object]) -> None:
        rng = np.random.default_rng(7)
        self.batches = []
        heads, bias = int(switches.get("H", 1)), switches.get("bias", True)  # type: ignore[call-overload]
        rest = {key: x for key, x in switches.items() if key in ("mask", "skip")}
        for n, d in sorted(itertools.product((1, 2, 3, 5, 9), (1, 2, 3, 6, 17)), key=math.prod):
            for extra in (False, True):
                room = Room(n, d, heads, 2, 1.0, key_bias=extra, bias=extra and bool(bias), **rest)  # type: ignore[arg-type]
                self.batches.append(room.instance(starts(rng, room, BATCH)))
        self.runs = [Run(Float64(np.zeros(1)), batch.net, batch.X) for batch in self.batches]
        self.memory: dict[str, np.ndarray] = {}

    def logs(self, text: str) -> np.ndarray:
        if text not in self.memory:
            parts = []
            with np.errstate(all="ignore"):
                for run in self.runs:
                    x = value(read_term(text), run, {})
                    x = x if isinstance(x, Signed) else Signed.exact(x)
                    parts.append(np.broadcast_to(np.where(np.asarray(x.sign) > 0, x.log, -np.inf), BATCH))
            self.memory[text] = np.concatenate(parts)
        return self.memory[text]


def decide(statement: Statement, samples: Samples, gap: np.ndarray, *, refute: bool) -> str:
    """REFUTED by balls, PROVED as the checker says, or nothing."""
    if gap.max() > 1e-6:  # the first clear one is the smallest
        worst = int(np.argmax(gap > min(1e-2, gap.max() / 2)))
        instance = samples.batches[worst // BATCH].select(worst % BATCH)
        return "REFUTED" if refute and judge(statement, instance, "balls").outcome == Outcome.VIOLATED else ""
    proof = prove(statement.claim_text, statement.given_texts, seconds=4)
    if proof is not None and proof.certificate().check().accepted:
        return "PROVED"
    return "REFUTED" if search(statement, seconds=4).refutes else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    until = time.monotonic() + parser.parse_args().seconds
    settings = {name: Samples(switches) for name, (_, switches) in SETTINGS.items()}
    files = {name: HERE / f"{name}.jsonl" for name in ("decided", "open")}
    decided, undecided = (_rows(path) for path in files.values())
    seen = {answer: sum(row["answer"] == answer for row in decided) for answer in ("REFUTED", "PROVED")}
    said = {_meaning(row["claim"], row["given"]) for row in (*decided, *undecided)}
    for count, (family, setting, left, factors) in enumerate(_in_turn()):
        if count % 50 == 0 or time.monotonic() > until:
            print(seen, len(undecided), flush=True)
            for path, rows in zip(files.values(), (decided, undecided), strict=True):
                rows.sort(key=lambda row: row["id"])
                path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        if time.monotonic() > until:
            break
        samples = settings[setting]
        right = "*".join(c for c in factors if c != "1")
        statement = Statement("mine:claim", f"{left} <= {right}", SETTINGS[setting][0])
        text, given = statement.claim_text, list(statement.given_texts)
        meaning = _meaning(text, given)
        if not meaning or meaning in said:
            continue
        said.add(meaning)
        with np.errstate(all="ignore"):
            gap = samples.logs(left) - sum(samples.logs(part) for part in factors)
        gap = np.where(np.isfinite(samples.logs(left)) & ~np.isnan(gap), gap, -np.inf)
        answer = decide(statement, samples, gap, refute=seen["REFUTED"] <= 1.1 * seen["PROVED"] + 50)
        name = hashlib.sha256(json.dumps([text, *given]).encode()).hexdigest()[:12]
        entry = {"id": name, "family": family, "claim": text, "given": given}
        if answer:
            seen[answer] += 1
            decided.append({**entry, "answer": answer, "split": "test" if int(name, 16) % 5 == 0 else "train"})
        elif gap.max() <= 1e-6:
            undecided.append({**entry, "tightest": round(float(np.exp(gap.max())), 6)})


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _meaning(claim: str, given: list[str]) -> str:
    """What a claim says in the checker's normal form; nothing where it has none."""
    try:
        goals = Derivation(claim, given).goals()
    except Rejected:
        return ""
    return str(([line_key(goal.left, goal.right) for goal in goals], given))


def _in_turn() -> Iterator[Claim]:
    """The claims in a random order, one of each family in turn."""
    listed = list(claims())
    random.Random(3).shuffle(listed)
    families: dict[str, list[Claim]] = {}
    for claim in listed:
        families.setdefault(claim[0], []).append(claim)
    for turn in itertools.zip_longest(*families.values()):
        yield from (claim for claim in turn if claim is not None)


if __name__ == "__main__":
    main()
