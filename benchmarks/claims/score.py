"""Score answers to the benchmark: python benchmarks/claims/score.py ANSWERS.jsonl [--split test]

A line of the answers is {"id": …, "answer": "REFUTED" or "PROVED", "file": …}. The file is a certificate: of kind
`violates` for a refutation, of kind `derivation` for a proof. It counts where the independent checker accepts it
and it speaks of this claim under these hypotheses; an answer without one counts as named only.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rankmath.checker import checker
from rankmath.checker.reading import parse

HERE = Path(__file__).parent
KINDS = {"REFUTED": "violates", "PROVED": "derivation"}


def shown(path: Path, entry: dict[str, object], kind: str) -> bool:
    """Whether a file shows the answer: accepted, of this kind, about this claim."""
    if not checker.check(path).accepted:
        return False
    content = parse(path.read_text(encoding="utf-8"))
    return (content["claim"], content["given"], content["kind"]) == (entry["claim"], entry["given"], kind)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--split", choices=("train", "test"))
    options = parser.parse_args()
    rows = [json.loads(line) for line in (HERE / "decided.jsonl").read_text(encoding="utf-8").splitlines()]
    entries = {row["id"]: row for row in rows if options.split in (None, row["split"])}
    counts = {"shown": 0, "named": 0, "wrong": 0}
    for line in options.answers.read_text(encoding="utf-8").splitlines():
        answer = json.loads(line)
        entry = entries.pop(answer["id"], None)
        if entry is None:
            continue
        right = answer["answer"] == entry["answer"]
        file = answer.get("file")
        proven = right and file and shown(options.answers.parent / file, entry, KINDS[answer["answer"]])
        counts["shown" if proven else "named" if right else "wrong"] += 1
    print(json.dumps({**counts, "missing": len(entries)}))


if __name__ == "__main__":
    main()
