"""Which hypotheses of a machine-checked statement its proof in Coq does not use: python benchmarks/coq_hypotheses.py.

Coq prints the proof of every statement that holds. It is a function of the hypotheses, and the name of one that it
does not use is `_`: with True in its place the same proof is accepted. So the hypothesis can go from the statement,
or stays for a reason that STAY names. Refutations are left out: with a hypothesis less they refute the more.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import tomllib
from pathlib import Path

import rankmath as rm
from rankmath.files import proofs_folder
from rankmath.report.coq import parts

_TYPES = "Coq's types say it"
_EQUIANGULAR = "without it no m unit tokens have these cosines"
#: Hypotheses that are written and that a proof does not use, and why they stay, by `hypothesis` or `key: hypothesis`.
STAY = {
    "mlp == none": _TYPES,
    "layernorm == rms": _TYPES,
    "layernorm == column": _TYPES,
    "norm_at == before": _TYPES,
    "positions == rotary": _TYPES,
    "own:softmax-rank: count(q) == count(x)": _TYPES,
    "own:shrinking-values: query_bias == none": _TYPES,
    "own:flow-step-odd: n >= 3": "one token has α = 1; it is said for the reader",
    "own:spectrum: n >= 2": "one token has no second eigenvalue",
    "own:lambda-skip-sphere: abs(skip) > 0": "without it every token is 0 where it is divided by its length",
    "own:mean-field-rate: v <= 1": "v is a share; beyond 1 the left side is negative",
    "dong2021:2.1: skip == 0": "the setting of the paper; dong2021:2.1-skip is without",
    "chen2026:2.4: d >= m": _EQUIANGULAR,
    "chen2026:2.4: (m - 1)*gamma > -1": _EQUIANGULAR,
    "chen2026:2.4: gamma <= 1": _EQUIANGULAR,
    "yudin2025:attention: L == 1": "the setting of the paper; own:attention-shares is without",
    "castin2024:3.3: layernorm == none": "the derivative of a layer is defined for attention alone",
}
MEANT = "meant where a claim says nothing else: attention alone"


def reason(key: str, part: str) -> str:
    """Why a hypothesis that the proof does not use stays; "" where nothing is known."""
    said = " ".join(map(str, rm.statements()[key].given))
    return STAY.get(f"{key}: {part}") or STAY.get(part) or ("" if part in said else MEANT)


def binders(term: str) -> list[str]:
    """The names of a proof's arguments, as Coq prints them; `_` for one that is not used.

    A hypothesis that is taken apart at once is a match, whose branch is a function of the parts.

    >>> binders("fun (n : nat) (H : A /\\ B) => let a := n in match H with | conj x y => (fun (_ : A) (Q : B) (_ : C)")
    ['n', 'H', '_']
    """
    found: list[str] = []
    parts = 0
    while True:
        term = term.lstrip(" \n(")
        if term.startswith("fun "):
            head, term = _cut(term[4:], "=>")
            groups = _groups(head) if head.lstrip().startswith("(") else [head]
            names = [name for group in groups for name in group.partition(" : ")[0].split()]
            found += names[parts:]
            parts = max(0, parts - len(names))
        elif re.match(r"let [\w']+ :=", term):
            term = _cut(term[4:], "in")[1]
        elif term.startswith("match "):
            head, term = _cut(term, "=>")
            parts += len(re.findall(r" [a-zA-Z]\w*", head.rpartition("|")[2].strip().partition(" ")[2].join("  ")))
        else:
            return found


def _cut(text: str, mark: str) -> tuple[str, str]:
    """The text before and behind the first mark outside of parentheses; a `let` within takes its own `in`."""
    depth = 0
    for found in re.finditer(rf"[(){{}}]|\blet\b|(?<!\w){mark}(?!\w)", text):
        if found[0] == mark and depth == 0:
            return text[: found.start()], text[found.end() :]
        depth += found[0] in "({" or (mark == "in" and found[0] == "let")
        depth -= found[0] in ")}" or (mark == "in" and found[0] == "in")
    return text, ""


def _groups(text: str) -> list[str]:
    """The parts of a text in outer parentheses, without these."""
    found, depth = [], 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == "(" and depth == 1:
            start = at + 1
        if sign == ")" and depth == 0:
            found.append(text[start:at])
    return found


def printed(names: list[str]) -> dict[str, str]:
    """The proofs of these theorems, MODULE.NAME, as far as Coq prints them."""
    modules = " ".join(sorted({name.partition(".")[0] for name in names}))
    asked = [f"From Rankmath Require {modules}.", "Set Printing Depth 60.", "Set Printing Width 100000."]
    asked += [f"Print {name}." for name in names]
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "Proofs.v").write_text("\n".join(asked) + "\n", encoding="utf-8")
        command = ["coqc", "-q", "-R", str(proofs_folder() / "coq"), "Rankmath", "-w", "none", "Proofs.v"]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True)
    found = re.findall(r"^(\S+) = ?(.*?)^     : Statements\.", done.stdout, re.MULTILINE | re.DOTALL)
    return {name: text for name, text in found if name in names}


def unused() -> dict[str, list[str]]:
    """Of every statement that is proved for all instances, the hypotheses that its proof does not use."""
    table = tomllib.loads((proofs_folder() / "coq" / "theorems.toml").read_text(encoding="utf-8"))["theorem"]
    rows = {row["name"].removeprefix("Rankmath."): row["key"] for row in table if row["proves"] == "holds"}
    proofs, found = printed(list(rows)), {}
    for name, key in rows.items():
        entry = rm.statements()[key]
        if entry.quantifier == "some":
            continue
        data, defined, _, given, _ = parts(entry)
        before = len(data.types) + len(data.conditions) + 2 * len(defined)
        names = binders(proofs[name])[before:]
        stated = [str(part) for part, text in zip(entry.hypotheses, given, strict=True) if text]
        if len(names) < len(stated):
            raise ValueError(f"{key}: its proof takes {len(names)} of {len(stated)} hypotheses before it goes on")
        found[key] = [part for part, used in zip(stated, names, strict=False) if used == "_"]
    return found


if __name__ == "__main__":
    for key, left in unused().items():
        for part in left:
            print(f"{key}: {part}: {reason(key, part) or 'no reason to stay'}")
