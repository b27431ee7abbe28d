"""The axioms of every theorem of proofs/coq, in one file: `python benchmarks/coq_assumptions.py` writes it.

Needs Coq and the compiled library. proofs/coq/assumptions.txt has a line for each theorem of theorems.toml, of
rules.toml and of unfolded.v, with the axioms that `Print Assumptions` names for it, and a test compares its list of
theorems with these files.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import tomllib
from pathlib import Path

COQ = Path(__file__).parents[1] / "proofs" / "coq"
FILE = COQ / "assumptions.txt"


def theorems() -> list[str]:
    """All theorems that count, by their names in Coq."""
    rows = tomllib.loads((COQ / "theorems.toml").read_text(encoding="utf-8"))["theorem"]
    rules = tomllib.loads((COQ / "rules.toml").read_text(encoding="utf-8"))["rule"]
    unfolded = re.findall(r"^Theorem (\w+) :", (COQ / "unfolded.v").read_text(encoding="utf-8"), re.MULTILINE)
    names = {row["name"].removeprefix("Rankmath.") for row in rows}
    names |= {name for rule in rules for name in rule["theorems"]} | {f"unfolded.{name}" for name in unfolded}
    return sorted(names)


def printed(names: list[str]) -> dict[str, list[str]]:
    """What Coq prints for each of them."""
    modules = " ".join(sorted({name.partition(".")[0] for name in names}))
    asked = "\n".join(f'Goal True. idtac "@ {name}". exact I. Qed.\nPrint Assumptions {name}.' for name in names)
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "All.v").write_text(f"From Rankmath Require {modules}.\n{asked}\n", encoding="utf-8")
        command = ["coqc", "-q", "-R", str(COQ), "Rankmath", "-w", "none", "All.v"]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True)
    found = {}
    for part in done.stdout.split("@ ")[1:]:
        name, _, axioms = part.partition("\n")
        found[name.strip()] = sorted(re.findall(r"^([A-Za-z_][\w.']*)\s*(?::|$)", axioms, re.MULTILINE))
    return found


def text(found: dict[str, list[str]]) -> str:
    """The file: first which sets of axioms occur, then the theorems of each."""
    sets: dict[tuple[str, ...], list[str]] = {}
    for name, axioms in found.items():
        sets.setdefault(tuple(a for a in axioms if a != "Axioms"), []).append(name)
    lines = ["# Print Assumptions of every theorem; written by benchmarks/coq_assumptions.py."]
    for axioms, names in sorted(sets.items()):
        lines += ["", f"[{', '.join(axioms) or 'no axiom'}]", *names]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(printed(theorems())), encoding="utf-8")
