"""Ten natural claims about attention, true and false, each from a line: the gallery of docs/conjectures.md.

python benchmarks/conjectures.py [--seconds 20] [--pictures docs/_static/conjectures]
"""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path

from rankmath.decide.conjecture import Answer, compared_at, examine, in_words
from rankmath.drawing import pyplot
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
    parser.add_argument("--pictures", type=Path, default=Path("docs/_static/conjectures"))
    given = parser.parse_args()
    given.pictures.mkdir(parents=True, exist_ok=True)
    for name, (claim, hypotheses) in CLAIMS.items():
        answer = examine(Statement("mine:claim", claim, hypotheses), seconds=given.seconds, instances=200)
        battery = answer.battery
        if answer.refuted:
            instance, verdict = battery.violations[0]
            shown = f", {compared_at(verdict)}" if compared_at(verdict) else ""
            words = "; ".join(in_words(instance)) if isinstance(instance, NetworkInstance) else ""
            accepted = battery.certificate().check().accepted
            says = f"**Refuted**{shown}: {words}. Certificate {'accepted' if accepted else 'refused'}."
        elif battery.proof is not None:
            says = f"**Proved**, from {', '.join(sorted(battery.proof.lemmas))}."
        else:
            tightest = quotient(math.log(battery.tightest)) if battery.tightest > 0 else "0"
            implied = f" At least as strong there: {', '.join(answer.implied_by)}." if answer.implied_by else ""
            says = f"Held, tightest quotient {tightest}; neither refuted nor proved.{implied}"
        file = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".svg"
        draw(answer, given.pictures / file)
        options = "".join(f' --given "{part}"' for part in hypotheses)
        alt = f"Quotients of the two sides over {battery.instances} instances: {name}."
        print(f'### {name}\n\n```text\n--claim "{claim}"{options}\n```\n\n{says}\n')
        print(f"```{{image}} _static/conjectures/{file}\n:alt: {alt}\n:class: picture\n```\n", flush=True)


def draw(answer: Answer, path: Path) -> None:
    """How the instances drawn lie, as a small picture."""
    plt = pyplot(screen=False)
    with plt.rc_context({"svg.hashsalt": "rankmath", "svg.fonttype": "none", "font.size": 9}):
        figure, axes = plt.subplots(figsize=(6, 2.2), layout="constrained")
        answer.battery.plot(axes)
        axes.set_title("")
        figure.savefig(path, format="svg", metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
