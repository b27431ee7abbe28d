"""Ten natural claims about attention, true and false, examined from a line each: the table of docs/conjectures.md.

python benchmarks/conjectures.py [--seconds 20]
"""

from __future__ import annotations

import argparse
import math

from rankmath.campaigns.conjecture import examine, in_words
from rankmath.printing import quotient
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.statement import Statement

CLAIMS: dict[str, tuple[str, list[str]]] = {
    "A layer halves the diameter, up to its values": (
        "diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)/2",
        ["heads == 1"],
    ),
    "Attention never spreads tokens, up to its values": (
        "diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)",
        ["heads == 1"],
    ),
    "Nor in the mean square": ("mu(X[1]) <= norm(W[0,0], 2)*mu(X[0])", ["heads == 1"]),
    "Collapse is cubic with the constant 1/4": (
        "diameter(X[1], 2) <= norm(W[0,0], 2)*norm(W_QK[0,0], 2)*diameter(X[0], 2)**3/(4*sqrt(d_qk))",
        ["heads == 1"],
    ),
    "With the constant 1/4.04": (
        "diameter(X[1], 2) <= norm(W[0,0], 2)*norm(W_QK[0,0], 2)*diameter(X[0], 2)**3/(4.04*sqrt(d_qk))",
        ["heads == 1"],
    ),
    "Several heads are as good as the largest": (
        "diameter(X[1], 1) <= max_h(norm(W[0,h], inf))*diameter(X[0], 1)",
        ["heads == 2"],
    ),
    "The causal mask contracts the diameter": (
        "diameter(X[1], 2) <= norm(W[0,0], 2)*diameter(X[0], 2)",
        ["heads == 1", "mask == causal"],
    ),
    "Skip connections never shrink it below half": ("diameter(X[1], 2) >= diameter(X[0], 2)/2", ["skip == 1"]),
    "Sphere LayerNorm keeps the least cosine from falling": (
        "cosine(X[1]) >= cosine(X[0])",
        ["heads == 1", "layernorm == sphere"],
    ),
    "The least attention is at most 1/n": ("epsilon(P[0,0]) <= 1/n", ["heads == 1"]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args().seconds
    print("| claim | line | answer |\n|---|---|---|")
    for name, (claim, given) in CLAIMS.items():
        answer = examine(Statement("mine:claim", claim, given), seconds=seconds, instances=100)
        battery = answer.battery
        line = f"`{claim}` given `{', '.join(given)}`"
        if answer.refuted:
            instance, verdict = battery.violations[0]
            ratio = verdict.log_lhs - verdict.log_rhs
            shown = f"lhs/rhs = {quotient(ratio)}" if math.isfinite(ratio) else "a side is not positive"
            words = "; ".join(in_words(instance)) if isinstance(instance, NetworkInstance) else ""
            accepted = battery.certificate().check().accepted
            says = f"**refuted**, {shown}: {words}; certificate {'accepted' if accepted else 'refused'}"
        else:
            tightest = quotient(math.log(battery.tightest)) if battery.tightest > 0 else "0"
            implied = f"; at least as strong there: {', '.join(answer.implied_by)}" if answer.implied_by else ""
            says = f"not refuted, tightest quotient {tightest}; not proved{implied}"
        print(f"| {name} | {line.replace('|', chr(92) + '|')} | {says} |", flush=True)


if __name__ == "__main__":
    main()
