"""Every notebook runs from top to bottom in a fresh kernel and prints what it was kept with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

import notebooks


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("path", notebooks.names(), ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_was_kept_with(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    kept = notebooks.printed(json.loads(path.read_text(encoding="utf-8")))
    assert any(kept)
    assert notebooks.printed(notebooks.executed(path)) == kept


def test_there_are_five_and_each_ends_with_something_to_cite() -> None:
    assert len(notebooks.names()) == 5
    for path in notebooks.names():
        words = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "markdown"]
        assert "What to cite" in "".join(words[-1]["source"]), path.name


def test_a_page_shows_code_output_and_pictures(tmp_path: Path) -> None:
    for path in notebooks.names():
        text = notebooks.page(path, tmp_path)
        assert text.startswith("# ")
        assert "```python\nimport " in text
        assert "![What the cell draws.](pictures/" in text
    assert len(list(tmp_path.glob("*.png"))) >= 4


def test_what_prints_something_else_is_noticed() -> None:
    path = notebooks.names()[0]
    book = json.loads(path.read_text(encoding="utf-8"))
    before = notebooks.printed(book)
    cell = next(cell for cell in book["cells"] if cell["cell_type"] == "code" and cell["outputs"])
    cell["outputs"][0]["data"]["text/plain"] = "something else"
    assert notebooks.printed(book) != before
