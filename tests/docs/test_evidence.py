"""A sentence that claims something is followed by what shows it: in itself, or later in its paragraph or row.

A claim is a sentence with a number, or with a word such as all, every, only, sharp, best, attained, never. What shows
it: a key of the registry, a certificate, a file of proofs/, tests/, benchmarks/ or docs/, a command, or the block of
code that follows, which the tests run or which says why not."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_claims import parses

from rankmath.claims import RENAMED, statements
from rankmath.cli import main

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "CLAIMS.md",
    *(
        f"docs/{name}.md"
        for name in (
            "findings",
            "field",
            "equilibria",
            "masks",
            "models",
            "modern",
            "positions",
            "flows",
            "architectures",
            "background",
            "balls",
            "centring",
            "metrics",
            "small-theorems",
        )
    ),
)
#: Units that need no such thing, by how they begin, each with the reason.
EXCEPTIONS = {
    ("docs/equilibria.md", "- A certificate for ranks that only"): "it says what is not there",
    ("docs/background.md", "Tokens are the rows of a matrix"): "it says what a layer is",
    ("docs/flows.md", "The computation is in all of space"): "its two lines are the proof",
}

_WORDS = (
    r"\b(all|every|only|sharp|sharply|sharper|best|optimal|tight|attained|equality|exactly|never|always|none|nothing|"
    r"nobody|cannot|unless|whatever|twice|half|faster|slower|larger|smaller|fails|false)\b"
)
#: Years, versions, numbers of theorems, sections, items and lemmas, and what is numbered in a name claim nothing.
_NAMED = (
    r"(Theorem|Theorems|Lemma|Proposition|Corollary|section|Section|item|items|rule|Python|Version|version|layer|rank|"
    r"head size|n =|L =|H =)\s+[\dA-Z.]+(\s*(to|and|,)\s*[\d.]+)*|\b(19|20)\d\d\b|arXiv \d+\.\d+|[A-Za-z_]\d+\b"
)
_NUMBER = r"(?<![\w.])\d+([.,]\d+)?(?![\w])"


@dataclass(frozen=True)
class Unit:
    """A paragraph, a list item, a table row or a heading, with what stands around it."""

    page: str
    text: str
    kind: str
    #: The paragraph before a table, the block of code that follows.
    around: str = ""

    @property
    def claims(self) -> bool:
        bare = re.sub(r"`[^`]*`|\]\([^)]*\)|\$[^$]*\$", " ", self.text)
        bare = re.sub(_NAMED, " ", bare)
        return re.search(_WORDS, bare, flags=re.I) is not None or re.search(_NUMBER, bare) is not None

    @property
    def shown(self) -> bool:
        text = f"{self.text} {self.around}"
        keys = [name for name in re.findall(r"[a-z][\w]*:[\w.-]+", text) if name in statements() or name in RENAMED]
        files = [
            name
            for name in re.findall(r"\b(?:proofs|tests|benchmarks|docs)/[\w./-]+\w", text)
            if (ROOT / name).exists()
        ]
        certificates = re.findall(r"\brm-[0-9a-f]{32}\b", text)
        commands = re.findall(r"`(?:(?:rankmath|python|make|sphinx-build) |rm\.)[^`]*`", text)
        return bool(keys or files or certificates or commands or "```" in self.around)

    @property
    def bare(self) -> list[str]:
        """Sentences that claim something which nothing from there on shows."""
        text = " ".join(self.text.split()).replace("et al.", "et al")
        parts = re.split(r"(?<=[.;])[*)]*\s+(?=\S)", text)
        rest = [Unit(self.page, " ".join(parts[i:]), self.kind, self.around) for i in range(len(parts))]
        return [
            part
            for part, after in zip(parts, rest, strict=True)
            if Unit(self.page, part, self.kind).claims and not after.shown
        ]


def units(page: str) -> list[Unit]:
    """The page in parts; a part of code shows what stands before it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    # Tables between marks are written by the command that the page names.
    written = re.search(r"The tables are written by `python benchmarks/[^`]*`", " ".join(text.split()))
    marked = re.findall(r"<!-- ([\w-]+) -->(.*?)<!-- end of \1 -->", text, flags=re.S)
    made = [table.strip() for _, table in marked]
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    blocks: list[str] = []
    fenced = False
    for part in re.split(r"\n\s*\n", text):
        # A fenced block may have blank lines inside.
        if fenced:
            blocks[-1] += "\n\n" + part
        else:
            blocks.append(part)
        fenced ^= part.count("```") % 2 == 1
    found: list[Unit] = []
    for place, block in enumerate(blocks):
        block = block.strip()
        # A formula alone belongs to the paragraph before it.
        if not block or block.startswith(("```", "$$", "*Not run by the tests", "*Needs ")):
            continue
        after = [
            later.strip() for later in blocks[place + 1 :] if not later.strip().startswith(("*Not run", "*Needs "))
        ]
        code = after[0] if after and after[0].startswith("```") else ""
        if block.startswith("|"):
            near = f"{blocks[place - 1] if place else ''} {after[0] if after and not code else ''}"
            if block in made and written is not None:
                near += written[0]
            # Without the head of the table and the line below it.
            found += [Unit(page, row, "row", near) for row in block.splitlines()[2:]]
        elif block.startswith("#"):
            # A heading is claimed by what follows it.
            found.append(Unit(page, block.lstrip("# "), "heading", " ".join(blocks[place + 1 : place + 4])))
        elif block.startswith("- "):
            items = re.split(r"\n(?=- )", block)
            found += [Unit(page, item, "item", code if item is items[-1] else "") for item in items]
        else:
            found.append(Unit(page, block, "paragraph", code))
    return found


ALL = [unit for page in PAGES for unit in units(page)]


def excepted(unit: Unit) -> str:
    start = " ".join(unit.text.split())
    return next(
        (reason for (page, begins), reason in EXCEPTIONS.items() if page == unit.page and start.startswith(begins)), ""
    )


@pytest.mark.parametrize("page", PAGES)
def test_what_is_claimed_is_shown_where_it_is_claimed(page: str) -> None:
    bare = [(unit.kind, text) for unit in ALL if unit.page == page and not excepted(unit) for text in unit.bare]
    assert not bare, "\n".join(f"{kind}: {text[:300]}" for kind, text in bare)


def test_every_exception_is_one_and_has_a_reason() -> None:
    for (page, begins), reason in EXCEPTIONS.items():
        meant = [unit for unit in ALL if unit.page == page and " ".join(unit.text.split()).startswith(begins)]
        assert len(meant) == 1, (page, begins)
        assert meant[0].bare, (page, begins)
        assert len(reason.split()) >= 4, (page, begins)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The bound is sharp.", False),
        ("The bound is sharp (`own:diameter`).", True),
        ("The bound is sharp (`own:dimater`).", False),
        ("It takes 12 seconds.", False),
        ("It takes 12 seconds (`python benchmarks/equilibria.py`).", True),
        ("It is proved in `proofs/own_diameter.tex` for all n.", True),
        ("It is proved in `proofs/own_diametre.tex` for all n.", False),
        ("It is sharp. So says `own:diameter`.", True),
        ("So says `own:diameter`. It is sharp.", False),
        ("So says `own:diameter`; it takes 12 seconds.", False),
        ("It takes 12 seconds (`rankmath/checker/rules.py`).", False),
    ],
)
def test_the_rule_sees_what_shows_and_what_does_not(text: str, shown: bool) -> None:
    assert (not Unit("README.md", text, "paragraph").bare) == shown


def test_theorem_numbers_years_and_code_are_no_claims() -> None:
    for text in ("Theorem 2.3 of 2021 says so.", "See `diameter(X[0], 2)`.", "[a page](docs/x1.md) about tokens"):
        assert not Unit("README.md", text, "paragraph").claims


COMMANDS = sorted({(unit.page, line) for unit in ALL for line in re.findall(r"`(rankmath [a-z][^`]*)`", unit.text)})


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=lambda value: value)
def test_a_command_that_a_sentence_names_exists_and_its_keys_too(page: str, line: str) -> None:
    program, *words = shlex.split(line)
    assert program == "rankmath"
    if not re.search(r"[A-Z…]{2,}|…", line):  # KEY, FILE, FOLDER and … stand for what a reader puts there
        parses(words)
    for word in words:
        if re.fullmatch(r"[a-z]\w*:[\w.-]+", word):
            assert word in statements(), word
    assert words[0] in main.commands
