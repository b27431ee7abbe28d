"""Each statement beside its theorem in Coq: read from theorems.toml and the .v files, so it cannot go stale."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from rankmath.checker.rules import RULES
from rankmath.files import proofs_folder
from rankmath.report.coq import identifier, propositions
from rankmath.report.sources import slug, without_theorem
from rankmath.verification.statement import Statement

Row = dict[str, str]


def coq() -> Path:
    return proofs_folder() / "coq"


@cache
def rows() -> tuple[Row, ...]:
    """The table of theorems."""
    return tuple(tomllib.loads((coq() / "theorems.toml").read_text(encoding="utf-8"))["theorem"])


@cache
def text_of(file: str) -> str:
    return (coq() / file).read_text(encoding="utf-8")


@cache
def statement(name: str) -> str:
    """A theorem's statement as it is in its file, after the variables, hypotheses and abbreviations around it.

    Examples
    --------
    >>> print(statement("Rankmath.own_tv.tv_tanh"))
    Variables (n : nat) (q g : vec) (D : R).
    Hypothesis q_pos : forall j, (j < n)%nat -> 0 <= q j.
    Hypothesis q_sum : sum n q = 1.
    Hypothesis osc : forall j k, (j < n)%nat -> (k < n)%nat -> 0 < q j -> 0 < q k -> g j - g k <= D.
    Theorem tv_tanh : tv n (tilt n q g) q <= tanh (D / 4).
    """
    _, module, theorem = name.split(".")
    text = text_of(f"{module}.v")
    found = re.search(rf"^(?:Theorem|Lemma|Corollary) {theorem}\b.*?\.(?=\s+Proof\b)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"theorems.toml: no theorem {theorem!r} in {module}.v")
    context: list[list[str]] = [[]]
    opening = r"^(Section \w+\.|End \w+\.|(?:Variables?|Hypothes[ie]s|Context|Let)\s.*?\.(?=\s*\n))"
    for line in re.findall(opening, text[: found.start()], re.MULTILINE | re.DOTALL):
        if line.startswith("Section"):
            context.append([])
        elif line.startswith("End"):
            context.pop()
        else:
            context[-1].append(line)
    kept = [found[0]]
    for line in reversed([line for section in context for line in section]):
        short = re.match(r"Let ([\w']+)", line)
        if short is None or any(re.search(rf"(?<![\w']){short[1]}(?![\w'])", text) for text in kept):
            kept.insert(0, line)
    return "\n".join(kept)


@cache
def imported(file: str) -> tuple[str, ...]:
    """The file and all it imports, but what the page of definitions prints in full."""
    found = dict.fromkeys([file])
    for line in re.findall(r"^From Rankmath Require (?:Import|Export) (.*?)\.$", text_of(file), re.MULTILINE):
        for module in line.split():
            if module not in ("Definitions", "Sums"):
                found |= dict.fromkeys(imported(f"{module}.v"))
    return tuple(found)


def meanings(name: str) -> list[str]:
    """The definitions that a theorem's statement rests on and that the page of definitions has not.

    Examples
    --------
    >>> [text.split()[1] for text in meanings("Rankmath.zhai2023.zhai_3_1")]
    ['entropy', 'decay', 'entropy_floor']
    """
    own = f"{name.split('.')[1]}.v"
    known: dict[str, str] = {}
    for file in reversed(imported(own)):
        for found in re.finditer(r"^(?:Definition|Fixpoint) (\w+)\b.*?\.(?=\s*\n)", text_of(file), re.M | re.S):
            if file == own or len(found[1]) > 1:  # a letter from elsewhere is a variable here
                known[found[1]] = found[0]
    needed: set[str] = set()
    ahead = [statement(name)]
    while ahead:
        more = set(re.findall(r"[A-Za-z_]\w*", ahead.pop())) & known.keys() - needed
        needed |= more
        ahead += [known[word] for word in more]
    return [text for word, text in known.items() if word in needed]


def page(known: dict[str, Statement]) -> str:
    """Every statement that has a proposition: formula and hypotheses on the left, Coq on the right."""
    printed, missing = propositions(known)
    proved = {row["key"]: row for row in rows() if row["proves"] != "related"}
    checked = [key for key in known if key in proved]
    parts = [
        "# Formula and theorem, side by side",
        (
            f"{len(checked)} of the {len(known)} registered statements are machine-checked. On the left is the "
            "formula that `rankmath verify` runs, on the right the proposition that is printed from it, and the "
            "theorem of Coq that is this proposition, or its negation. What the words mean is in `Language.v`, on "
            "[one page](../machine-checked.md). Related theorems say something about the statement in other words: "
            "of more general tokens, of the case of equality, of a part."
        ),
    ]
    for key in known:
        related = [row for row in rows() if row["key"] == key and row["proves"] == "related"]
        if key not in proved and not related and not without_theorem(key):
            continue
        entry = known[key]
        left = [
            *(f"$$\n{part}\n$$" for part in (*entry.conclusion, *entry.letters)),
            "Given: " + "; ".join(entry.premises) if entry.premises else "Given: nothing more.",
        ]
        right = []
        if key in proved:
            ending = statement(proved[key]["name"])
            right += [
                f"Machine-checked: {proved[key]['proves']}.",
                f"```coq\nDefinition statement_{identifier(key)} : Prop :=\n{printed[key]}.\n\n{ending}\n```",
            ]
        else:
            why = without_theorem(key) or (
                f"no proposition yet, because of {missing[key]}" if key in missing else "printed, and not proved yet"
            )
            right.append(f"Not machine-checked as it stands: {why}.")
        for row in related:
            right += [
                f"Related: {row['scope']}.",
                "```coq\n" + "\n".join([*meanings(row["name"]), statement(row["name"])]) + "\n```",
            ]
        cells = "\n".join(f"{mark} {_indented(cell)}" for mark, cell in (("* -", left), ("  -", right)))
        parts += [f"## [{key}]({slug(key)}.md)", f"````{{list-table}}\n:widths: 45 55\n\n{cells}\n````"]
    return "\n\n".join(parts) + "\n"


def rule_texts() -> dict[str, str]:
    """The words that the checker's rules define, each with its text.

    Examples
    --------
    >>> rule_texts()["log_by"]
    'log_by(t) = between(1 - 1/t, t - 1)'
    """
    lines = [line for line in RULES.splitlines() if line and not line.startswith("#")]
    texts = re.findall(r"^\S.*(?:\n .*)*", "\n".join(lines), re.MULTILINE)
    return {re.split(r"\W", text)[0]: text for text in texts}


@cache
def rules() -> tuple[dict[str, Any], ...]:
    """The table of the checker's rules: words, theorems, and what is left."""
    return tuple(tomllib.loads((coq() / "rules.toml").read_text(encoding="utf-8"))["rule"])


def rules_page() -> str:
    """Every rule of the checker as its text has it, and the theorems of Coq by which it holds."""
    texts = rule_texts()
    parts = [
        "# The rules of the checker, as theorems",
        (
            "Above, the text that the checker evaluates (`rankmath/checker/rules.py`); below, what Coq has proved "
            "of it. That a formula which evaluates to true is then true, in intervals that are rounded outward, is "
            "the theorem `acceptance` of `Acceptance.v`; the intervals are those of `Dyadic.v`."
        ),
        f"```coq\n{statement('Rankmath.Acceptance.acceptance')}\n```",
    ]
    for rule in rules():
        parts += [
            "## " + ", ".join(f"`{word}`" for word in rule["words"]),
            "```text\n" + "\n".join(texts[word] for word in rule["words"]) + "\n```",
        ]
        for name in rule["theorems"]:
            parts.append(f"`{name}`:\n\n```coq\n{statement(f'Rankmath.{name}')}\n```")
        if not rule["theorems"]:
            parts.append("Shorthand for lists of numbers: nothing to prove.")
        if "left" in rule:
            parts.append(f"Not proved in Coq: {rule['left']}.")
    return "\n\n".join(parts) + "\n"


def _indented(blocks: list[str]) -> str:
    return "\n\n".join(blocks).replace("\n", "\n    ").replace("\n    \n", "\n\n")
