"""Which hypotheses of a machine-checked statement its proof in Coq uses: each in turn is replaced by True.

    python benchmarks/coq_hypotheses.py            all statements that hold: some minutes
    python benchmarks/coq_hypotheses.py own:tv …   these

A proof that no longer compiles needs the hypothesis. One that still does proves a stronger statement: the
hypothesis can go from the statement, or stays for the reader (it names the setting of a paper). Refutations are
left out: with a hypothesis less they refute the more.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import rankmath as rm
from rankmath.files import proofs_folder
from rankmath.report.coq import identifier, proposition


def compiles_without(key: str, file: str, which: int) -> bool:
    """Whether the proof of the statement goes through with True in the place of one hypothesis."""
    folder, name = proofs_folder() / "coq", identifier(key)
    text = (folder / file).read_text(encoding="utf-8")
    start = text.index(f"Theorem proved_{name} :")
    end = text.index("Qed.", start) + len("Qed.")
    weaker = f"Definition weaker : Prop :=\n{proposition(rm.statements()[key], which)}.\n"
    proof = text[start:end].replace(f"statement_{name}.", "weaker.", 1)
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "Weaker.v").write_text(text[:start] + weaker + proof + "\n", encoding="utf-8")
        command = ["coqc", "-q", "-R", str(folder), "Rankmath", "-w", "none", "Weaker.v"]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    line = re.search(r"line (\d+), characters", done.stderr)
    if done.returncode and (line is None or int(line[1]) <= text[:start].count("\n") + weaker.count("\n")):
        raise RuntimeError(f"{key}: the file does not compile up to its proof: {done.stderr[-500:]}")
    return done.returncode == 0


def main(keys: list[str]) -> None:
    table = tomllib.loads((proofs_folder() / "coq" / "theorems.toml").read_text(encoding="utf-8"))["theorem"]
    for row in table:
        if row["proves"] == "holds" and (not keys or row["key"] in keys):
            for which, hypothesis in enumerate(rm.statements()[row["key"]].hypotheses):
                if str(hypothesis) not in ("mlp == none", "mask == any"):  # said by the types
                    used = not compiles_without(row["key"], row["file"], which)
                    print(f"{row['key']}: {hypothesis}: {'used' if used else 'not used by the proof'}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
