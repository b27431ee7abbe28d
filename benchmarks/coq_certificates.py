"""Every stored certificate as a Coq theorem, in one pass: python benchmarks/coq_certificates.py [PREFIX ...].

Writes docs/coq-certificates.md: for each certificate the processor's seconds in which Coq accepted its theorem, or
the reason why there is none. What all files begin with (certificate.v, equilibrium.v) is compiled once and not
counted. A theorem whose text did not change since it was accepted keeps its line, so a pass that was stopped goes on
where it was; a second one beside it, with --last-first, begins with the longest text. Needs coqc and coq-interval.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from rankmath.certificates.coq import text_mark, to_coq
from rankmath.certificates.coq_terms import Untranslatable
from rankmath.files import proofs_folder

LIMIT = 120  # the processor's seconds for one file
PAGE = proofs_folder().parent / "docs" / "coq-certificates.md"
ROW = re.compile(r"^\| `([^`]*)` \| `([^`]*)` \| `?([0-9a-f]*)`? \| (.*) \|$", re.MULTILINE)
HEAD = f"""# Stored certificates as Coq theorems

`python benchmarks/coq_certificates.py` writes this page: it writes every stored certificate as a theorem
(`rankmath check --coq`) and compiles it. *Coq* has the processor's seconds in which Coq accepted it, without the
beginning that all files share, or the reason why there is no theorem; {LIMIT} seconds is the limit. *not run*:
it is written, and no pass has come to it yet. *text* is the beginning of the SHA-256 of the
theorem's text, without vectors that proofs of spectral norms try, which depend on how a machine rounds.
"""


def compiled(folder: str, name: str) -> tuple[bool, float]:
    """Whether Coq accepts FOLDER/NAME.v within the limit, and the processor's seconds."""
    before = sum(os.times()[2:4])
    command = ["coqc", "-q", "-w", "none", f"{name}.v"]
    limit = (LIMIT, LIMIT)
    done = subprocess.run(
        command, cwd=folder, check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limit)
    )
    return done.returncode == 0, sum(os.times()[2:4]) - before


def known() -> dict[str, tuple[str, str]]:
    """What the page has by now: of each certificate the beginning of its theorem's hash, and what came of it."""
    found = ROW.findall(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else []
    return {name: (mark, said) for _, name, mark, said in found}


def main(prefixes: tuple[str, ...], *, last_first: bool) -> None:
    page = known()
    rows: dict[str, tuple[str, str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("certificate", "equilibrium"):
            text = (proofs_folder() / "coq" / f"{name}.v").read_text(encoding="utf-8")
            (Path(folder) / f"{name}.v").write_text(text.replace("From Rankmath ", ""), encoding="utf-8")
            if not compiled(folder, name)[0]:
                raise SystemExit(f"coqc does not accept {name}.v")
        todo = []
        for path in sorted((proofs_folder() / "certificates").glob("*.json")):
            content = json.loads(path.read_text(encoding="utf-8"))
            try:
                text = to_coq(content, shared=False)[0]
            except Untranslatable as why:
                rows[path.name] = (content["statement"], "", str(why).replace("|", "\\|"))
                continue
            before, said = page.get(path.name, ("", ""))
            done = before == text_mark(text) and not said.startswith("not ")
            rows[path.name] = (content["statement"], text_mark(text), said if done else "not run")
            if not done and path.name.startswith(prefixes or ("",)):
                todo.append((len(text), path.name, text))
        for _, name, text in sorted(todo, reverse=last_first):  # the short ones first
            _write(rows)
            if rows[name][2] != "not run":
                continue
            (Path(folder) / "file.v").write_text(text, encoding="utf-8")
            accepted, seconds = compiled(folder, "file")
            late = f"not within {LIMIT} s" if seconds > 0.95 * LIMIT else "not accepted"
            rows[name] = (*rows[name][:2], f"{seconds:.1f}" if accepted else late)
            print(f"{name}: {rows[name][2]}", file=sys.stderr, flush=True)
    _write(rows)


def _write(rows: dict[str, tuple[str, str, str]]) -> None:
    for name, (mark, said) in known().items():  # what another pass has found meanwhile
        if name in rows and rows[name][1:] == (mark, "not run") and not said.startswith("not "):
            rows[name] = (*rows[name][:2], said)
    accepted = [float(said) for _, _, said in rows.values() if re.fullmatch(r"[\d.]+", said)]
    count = f"Of {len(rows)} certificates {len(accepted)} are theorems, in {sum(accepted):.0f} seconds together"
    waiting = sum(said == "not run" for *_, said in rows.values())
    lines = [
        HEAD,
        f"{count}; the longest took {max(accepted, default=0):.0f}. Written and not run: {waiting}.\n",
        "| statement | certificate | text | Coq |",
        "|---|---|---|---|",
    ]
    for name, (key, mark, said) in sorted(rows.items()):
        lines.append(f"| `{key}` | `{name}` | {f'`{mark}`' if mark else ''} | {said} |")
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(tuple(part for part in given if part != "--last-first"), last_first="--last-first" in given)
