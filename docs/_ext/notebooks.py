"""The notebooks of docs/notebooks: run them, and show them as pages.

python docs/_ext/notebooks.py              runs all and keeps what they print
python docs/_ext/notebooks.py --check      runs all, and says which prints something else than is kept
"""

from __future__ import annotations

import base64
import json
import re
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "notebooks"
# Addresses, times and seconds differ from run to run.
_VOLATILE = re.compile(r"0x[0-9a-f]+|\d+(\.\d+)? s\b|<[^>]* at [^>]*>")


def names() -> list[Path]:
    """All notebooks, by name."""
    return sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path) -> Any:
    """The notebook run from top to bottom in a fresh kernel; an error in a cell is an error here."""
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.read(path, as_version=4)
    client = NotebookClient(book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}})
    client.execute()
    for cell in book.cells:
        cell.metadata.pop("execution", None)
    return book


def printed(book: Any) -> list[str]:
    """What each code cell prints, without what differs from run to run."""
    texts = []
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            texts.append(_VOLATILE.sub("…", "".join(_text(output) for output in cell["outputs"])))
    return texts


def _text(output: Any) -> str:
    if output["output_type"] == "stream":
        return _joined(output["text"])
    return _joined(output.get("data", {}).get("text/plain", ""))


def _joined(text: Any) -> str:
    return text if isinstance(text, str) else "".join(text)


def page(path: Path, pictures: Path) -> str:
    """The notebook as Markdown for the site, with what it printed and drew."""
    book = json.loads(path.read_text(encoding="utf-8"))
    parts = []
    for number, cell in enumerate(book["cells"]):
        source = _joined(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            picture = output.get("data", {}).get("image/png")
            if picture:
                pictures.mkdir(parents=True, exist_ok=True)
                name = f"{path.stem}-{number}.png"
                (pictures / name).write_bytes(base64.b64decode(_joined(picture)))
                parts.append(f"![What the cell draws.](pictures/{name})")
            elif _text(output).strip():
                parts.append(f"```text\n{_text(output).rstrip()}\n```")
    parts.append(f"{{download}}`The notebook <{path.name}>`")
    return "\n\n".join(parts) + "\n"


def write_pages(folder: Path) -> None:
    """A page for each notebook beside it."""
    for path in sorted(folder.glob("*.ipynb")):
        (folder / f"{path.stem}.md").write_text(page(path, folder / "pictures"), encoding="utf-8")


def main() -> None:
    import nbformat

    differing = []
    for path in names():
        before = printed(json.loads(path.read_text(encoding="utf-8")))
        book = executed(path)
        if "--check" in sys.argv:
            differing += [path.name] if printed(book) != before else []
        else:
            nbformat.write(book, path)
    if differing:
        sys.exit(f"prints something else than is kept: {', '.join(differing)}")


if __name__ == "__main__":
    main()
