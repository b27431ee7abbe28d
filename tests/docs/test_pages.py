"""Every code block of the README and of docs/ runs, and prints what its page says it prints."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest
from executed import FONTS, Block, Differs, blocks, run_page

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CLAIMS.md", *sorted((ROOT / "docs").glob("*.md"))]

#: What cannot run here, page by page, with the reason that the page gives.
EXEMPT = {
    "conjectures.md": ["a search takes seconds to a minute; they examine such claims elsewhere.", "as above."],
    "small-theorems.md": ["they prove such claims elsewhere."],
    "machine-checked.md": ["it installs Coq; they compile the proofs where Coq is found."],
    "README.md": [
        "they run where this has been done, and verify all statements elsewhere.",
        "this is how they are run.",
        "the search takes some seconds; they examine such claims elsewhere.",
    ],
    "CLAIMS.md": [
        "it takes minutes; they verify every statement with fewer instances.",
        "it is one of them, and counts the tokens.",
        "it is one of them.",
        "it takes minutes.",
        "they check each of these files elsewhere.",
        "it is one of them.",
        "it takes minutes.",
        "the figures are those of a quiet machine.",
        "it is one of them.",
        "it takes minutes, and the figures are those of a quiet machine.",
        "it needs a CUDA device, which the machines that run the tests do not have.",
        "these are the tests.",
    ],
    "campaigns.md": [
        "it needs a cluster; tests/decide/campaigns/test_dask.py runs one on a single machine.",
        "it needs a cluster.",
    ],
    "flows.md": [
        "some seconds; they enclose a shorter path.",
        "the search takes some seconds; they examine such claims elsewhere.",
    ],
    "gpu.md": ["it needs a CUDA device.", "it needs a CUDA device."],
    "index.md": ["they run where this has been done."],
    "models.md": ["it needs weights, which are not committed.", "it needs weights, which are not committed."],
    "performance.md": ["those of CLAIMS.md run it, and compare."],
    "tutorial.md": ["they run where this has been done."],
}


def needs(page: Path) -> set[str]:
    return {block.needs for block in blocks(page) if block.needs}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_a_page_prints_what_the_page_says(page: Path, tmp_path: Path) -> None:
    left = run_page(page, tmp_path)
    assert [block.exempt for block in left if block.exempt] == EXEMPT.get(page.name, [])
    # No program is found here but those of Python and POSIX: whatever needs another says so.
    assert {block.needs for block in left if block.needs} == needs(page)


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.needs(*needs(page)), id=page.name) for page in PAGES if needs(page)]
)
def test_a_page_that_needs_programs_runs_with_them(page: Path, tmp_path: Path) -> None:
    assert {block.needs for block in run_page(page, tmp_path)} == {""}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("```python\n>>> 1 + 1\n3\n```\n", "Got:\n    2"),
        ("```python\n>>> 1 / 0\n```\n", "ZeroDivisionError"),
        ("```console\n$ echo one\ntwo\n```\n", "it prints\none"),
        ("```console\n$ echo one\n```\n", "it prints\none"),
        ("```console\n$ false\n```\n", "exit code 1"),
        ("```console\n$ true && coqc --version\n...\n```\n", "coqc: (command )?not found"),
        ("```console\n$ rankmath bound own:tv --latex\n\\tan\n```\n", r"it prints\n\\tanh"),
        ("```console\n$ rankmath bound own:none\n...\n```\n", "exit code 2 of"),
        ("```console\n$ true  # exit code 1\n```\n", "exit code 0"),
        ("```console\necho one\n```\n", "begins with"),
        ("```sh\nfalse\ntrue\n```\n", "exit code 1"),
        ("*Not run by the tests: readers would see this.*\n\n```sh\nfalse\n```\n", "exit code 1"),
        ("```\nrankmath list\n```\n", "must say what it is"),
        ("```toml\nx = 1\n```\n", "must say what it is"),
        ("    rankmath list\n", "must say what it is"),
        ("<!-- Not run by the tests: rain. -->\nBut:\n\n```console\n$ false\n```\n", "exit code 1"),
    ],
)
def test_a_page_that_is_wrong_is_caught(tmp_path: Path, text: str, why: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(Differs, match=why):
        run_page(page, tmp_path)


def test_blocks_share_a_folder_and_a_namespace_and_ellipses_stand_for_anything(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```toml\n# plan.toml\nx = 1\n```\n\n```python\ny = 2\n```\n\n```python\n>>> y\n2\n```\n\n"
        "```console\n$ cat plan.toml; date\n# plan.toml\nx = 1\n...\n```\n\n"
        f"```console\n$ echo one; echo '{FONTS.strip()}' >&2\none\n```\n\n"
        "<!-- Not run by the tests: rain. -->\n```sh\nfalse\n```\n\n"
        "*Needs `no-such-program`: sun.*\n\n```sh\nfalse\n```\n",
        encoding="utf-8",
    )
    left = run_page(page, tmp_path)
    assert [(block.exempt, block.needs) for block in left] == [("rain.", ""), ("", "no-such-program")]
    languages = [block.language for block in blocks(page)]
    assert languages == ["toml", "python", "python", "console", "console", "sh", "sh"]
    assert str(Block("a.md", 3, "sh", "")) == "a.md:3 (sh)"


@pytest.mark.parametrize(
    "name", ["mathml", "typeset", "plain_docstrings", "proof_text", "generated", "coq_statements", "keys"]
)
def test_the_examples_of_the_sites_own_modules(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
