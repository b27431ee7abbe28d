"""Every stored certificate as a Coq file, compiled: python benchmarks/coq_certificates.py [PREFIX ...].

Prints for each family how many certificates there are, how many are written, how many Coq accepts within the limit,
and the median of the processor's seconds, which the limit counts too. Needs coqc and coq-interval; an hour for all.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from rankmath.certificates.coq import to_coq
from rankmath.certificates.coq_terms import Untranslatable
from rankmath.files import proofs_folder

LIMIT = 900  # the processor's seconds for one file


def main(prefixes: tuple[str, ...]) -> None:
    table: dict[str, list[tuple[bool, bool, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted((proofs_folder() / "certificates").glob("*.json")):
            if prefixes and not path.name.startswith(prefixes):
                continue
            content = json.loads(path.read_text(encoding="utf-8"))
            try:
                (Path(folder) / "file.v").write_text(to_coq(content)[0], encoding="utf-8")
            except Untranslatable as why:
                print(f"{path.name}: {why}", file=sys.stderr)
                table[content["statement"]].append((False, False, 0.0))
                continue
            before = os.times().children_user
            done = subprocess.run(
                ["coqc", "-q", "-w", "none", "file.v"],
                cwd=folder,
                check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)),
            )
            accepted = done.returncode == 0
            if not accepted:
                print(f"{path.name}: coqc ends with {done.returncode}", file=sys.stderr)
            table[content["statement"]].append((True, accepted, os.times().children_user - before))
    print("| statement | certificates | written | accepted | seconds |\n|---|---|---|---|---|")
    for key, rows in table.items():
        seconds = [row[2] for row in rows if row[1]]
        median = f"{statistics.median(seconds):.0f}" if seconds else ""
        print(f"| `{key}` | {len(rows)} | {sum(r[0] for r in rows)} | {sum(r[1] for r in rows)} | {median} |")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
