"""The axioms of all theorems of proofs/coq, in one file: `python benchmarks/coq_assumptions.py` writes it.

Needs Coq and the compiled library. proofs/coq/assumptions.txt names the axioms that `Print Assumptions` finds for
all theorems of theorems.toml, of rules.toml and of unfolded.v together, and these theorems; a test compares the
list with these files, another one asks Coq.
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


def axioms(names: list[str]) -> list[str]:
    """What `Print Assumptions` says of all of them together."""
    modules = " ".join(sorted({name.partition(".")[0] for name in names}))
    together = ", ".join(f"@{name}" for name in names)
    asked = f"From Rankmath Require {modules}.\nDefinition all := ({together}).\nPrint Assumptions all.\n"
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "All.v").write_text(asked, encoding="utf-8")
        command = ["coqc", "-q", "-R", str(COQ), "Rankmath", "-w", "none", "All.v"]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True)
    return sorted(set(re.findall(r"^([A-Za-z_][\w.']*)\s*(?::|$)", done.stdout, re.MULTILINE)) - {"Axioms"})


def text(found: list[str], names: list[str]) -> str:
    """The file: the axioms, and the theorems that rest on them and on no others."""
    head = "# Print Assumptions of all theorems together; written by benchmarks/coq_assumptions.py."
    return "\n".join([head, "", f"[{', '.join(found)}]", *names]) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(axioms(theorems()), theorems()), encoding="utf-8")
