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
from rankmath.decide.space import Room, extremes, starts
from rankmath.formula import read_term
from rankmath.formula.evaluate import value
from rankmath.formula.numbers import Signed
from rankmath.formula.run import Run
from rankmath.verification.instance import NetworkInstance
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
    "window": (["H == 1", "mask == window(1)"], {"mask": "window:1"}),
    "any mask": (["H == 1", "mask == any"], {"masks": ("none", "window:1", "star:0", "prefix:1")}),
    "sphere": (["H == 1", "layernorm == sphere"], {"norm": "sphere"}),
}
SPREAD = ("centred_norm(X[%s])", "about_mean(X[%s])", "first_gap(X[%s])")
RANKS = ("stable_rank(X[%s])", "participation_ratio(X[%s])", "rank(X[%s])", "effective_rank(X[%s], eigen)")
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

    yield from more_claims()


def more_claims() -> Iterator[Claim]:
    """Families with other quantities, masks, and two layers."""
    old = ("diameter(X[%s], 1)", "diameter(X[%s], 2)", "mu(X[%s])", "norm(X[%s], 2)", "norm(X[%s], composite)")
    for a, b in itertools.permutations((*SPREAD, *old), 2):
        for c in ("1", "sqrt(2)", "2", "sqrt(n)", "sqrt(d)", "n", "d", "sqrt(n - 1)", "sqrt(n*d)"):
            if a in SPREAD or b in SPREAD:
                yield "spread", "one head", a % 0, [c, b % 0]
    for a, b in itertools.permutations((*RANKS, "1", "n", "d"), 2):
        for c in ("1", "2", "sqrt(n)", "sqrt(d)", "n"):
            if "%" in a:
                yield "ranks", "one head", a % 0, [c, b % 0 if "%" in b else b]
    more = ("top_shares(P[0, 0])", "second_modulus(P[0, 0])", *ATTENTION, "log(in_degree)", "in_degree", "log(n)")
    for a, b in itertools.permutations(more, 2):
        for c in ("1/2", "1", "2", "sqrt(n)", "n", "in_degree", "1/n"):
            for setting in ("one head", "window", "any mask"):
                if "P[" in a and not (setting == "one head" and {a, b} <= set(ATTENTION)):
                    yield "attention, more", setting, a, [c, b]
    for a, b, w, c in itertools.product(
        (SPREAD[0], "mu(X[%s])"), (SPREAD[0], *old[:3]), NORMS, ("1", "2", "sqrt(n)", "n", "d")
    ):
        one, two = f"norm(W[0, 0], {w})", f"norm(W[1, 0], {w})"
        yield "spread, one layer", "one head", a % 1, [c, one, b % 0]
        yield "spread, two layers", "any mask", a % 2, [c, one, two, b % 0]
    tau = ("dobrushin(P[0, 0])", "dobrushin(P[1, 0])")
    for a, b, w, c in itertools.product(SIZES, SIZES, ("1", "2", "inf"), ("1", "2", "sqrt(d)", "sqrt(n)")):
        one, two = f"norm(W[0, 0], {w})", f"norm(W[1, 0], {w})"
        yield "Dobrushin, two layers", "window", a % 2, [c, *tau, one, two, b % 0]
        yield "the second layer", "causal", a % 2, [c, tau[1], two, b % 1]
        yield "skip, two layers", "skip", a % 2, [c, f"(1 + {one})", f"(1 + {two})", b % 0]
    for m, (a, b) in itertools.product(("W", "W_QK"), itertools.permutations(NORMS, 2)):
        for c in ("1", "d", "sqrt(d)"):
            yield "forms", "one head", f"form_norm({m}[0, 0], inf)", [c, f"norm({m}[0, 0], {b})"]
            yield "forms", "one head", f"least_singular({m}[0, 0])", [c, f"norm({m}[0, 0], {a})"]
            yield "forms", "one head", f"definiteness({m}[0, 0])", [c, f"norm({m}[0, 0], {b})"]
            yield "forms", "one head", f"norm({m}[0, 0], {a})", [c, f"form_norm({m}[0, 0], inf)"]
    logits = ("longest(X[0])", "diameter(X[0], 2)", "norm(X[0], 2)", "norm(X[0], max)", "mu(X[0])", "diameter(X[0], 1)")
    for a, b, c in itertools.product(logits, logits, ("1", "2", "1/2", "4", "d")):
        for left in ("logit_range(P[0, 0])", "dobrushin(P[0, 0])", "log(n)"):
            rest = [c, "norm(W_QK[0, 0], 2)", a, b, "1/sqrt(d_qk)"]
            yield "logits", "one head", left, rest
    sizes = ("1", "2", "sqrt(2)", "sqrt(n)", "n", "sqrt(d)", "sqrt(2*n)", "d")
    for a, c in itertools.product((*SIZES, *LENGTHS, SPREAD[0], *RANKS), sizes):
        yield "sphere", "sphere", a % 0, [c]


class Samples:
    """Instances of a setting, small ones first, and the logarithm of every quantity on them."""

    def __init__(self, switches: dict[str, Any]) -> None:
        rng = np.random.default_rng(7)
        self.batches: list[NetworkInstance] = []
        heads, bias = switches.get("H", 1), switches.get("bias", True)
        rest = {key: x for key, x in switches.items() if key in ("skip", "norm")}
        masks = switches.get("masks", (switches.get("mask", "none"),))
        least = 2 if "norm" in rest else 1
        for n, d in sorted(itertools.product((1, 2, 3, 5, 9), (1, 2, 3, 6, 17)), key=math.prod):
            for extra, mask in itertools.product((False, True), masks) if d >= least else ():
                room = Room(n, d, heads, 2, 1.0, mask=mask, key_bias=extra, bias=extra and bias, **rest)
                self.batches.append(room.instance(starts(rng, room, BATCH)))
        for (n, d), mask in itertools.product(((2, 24), (3, 9), (32, 2)), masks):
            room = Room(n, d, heads, 2, 1.0, mask=mask, **rest)
            self.batches.append(room.instance(extremes(room)))
        self.ends = np.cumsum([len(batch) for batch in self.batches])
        self.runs = [Run(Float64(np.zeros(1)), batch.net, batch.X) for batch in self.batches]
        self.memory: dict[str, np.ndarray] = {}

    def instance(self, index: int) -> NetworkInstance:
        k = int(np.searchsorted(self.ends, index, side="right"))
        return self.batches[k].select(index - int(self.ends[k]) + len(self.batches[k]))

    def logs(self, text: str) -> np.ndarray:
        if text not in self.memory:
            parts = []
            with np.errstate(all="ignore"):
                for run, batch in zip(self.runs, self.batches, strict=True):
                    x = value(read_term(text), run, {})
                    x = x if isinstance(x, Signed) else Signed.exact(x)
                    parts.append(np.broadcast_to(np.where(np.asarray(x.sign) > 0, x.log, -np.inf), len(batch)))
            self.memory[text] = np.concatenate(parts)
        return self.memory[text]


def decide(statement: Statement, samples: Samples, gap: np.ndarray, *, refute: bool) -> str:
    """REFUTED by balls, PROVED as the checker says, or nothing."""
    if gap.max() > 1e-6:  # the first clear one is the smallest
        worst = int(np.argmax(gap > min(1e-2, gap.max() / 2)))
        return (
            "REFUTED"
            if refute and judge(statement, samples.instance(worst), "balls").outcome == Outcome.VIOLATED
            else ""
        )
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
        # Doubles say little of what is nearly 0.
        gap = np.where((samples.logs(left) > -25) & ~np.isnan(gap), gap, -np.inf)
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
