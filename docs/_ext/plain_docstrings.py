"""Docstrings are plain text with `code` in backticks and NumPy's sections; this makes reStructuredText of them."""

from __future__ import annotations

import re
from typing import Any

_CODE = re.compile(r"(``.+?``|`[^`]+`)(?![`\w])")


def plain(line: str) -> str:
    """One line of prose: backticks mean code, and nothing else means anything.

    Examples
    --------
    >>> plain("`X`: |x*| of W_ and c_j")
    '``X``: \\\\|x\\\\*\\\\| of W\\\\_ and c\\\\_j'
    """
    parts = _CODE.split(line)
    for k, part in enumerate(parts):
        if k % 2:
            parts[k] = f"``{part.strip('`').strip()}``"
        else:
            parts[k] = re.sub(r"([*|_\\`])", r"\\\1", part)
    return "".join(parts)


_ENTRY = re.compile(r"([\w*, ]*[\w]) : (.+)")


def entries_on_lines_of_their_own(lines: list[str]) -> list[str]:
    """What stands after the colon of a parameter is prose, not a type: it begins the description.

    Examples
    --------
    >>> entries_on_lines_of_their_own(["Parameters", "----------", "n : how many", "    there are"])
    ['Parameters', '----------', 'n', '    how many', '    there are']
    """
    found: list[str] = []
    fields = False
    for k, line in enumerate(lines):
        if re.fullmatch(r"-{3,}", line):
            fields = lines[k - 1] in ("Parameters", "Attributes")
        match = _ENTRY.fullmatch(line) if fields else None
        found += [line] if match is None else [match[1], f"    {match[2]}"]
    return found


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """In place, before NumPy's sections are read; examples are left as they are."""
    lines[:] = entries_on_lines_of_their_own(lines)
    inside = False
    for k, line in enumerate(lines):
        inside = line.lstrip().startswith(">>>") or (inside and bool(line.strip()))
        if not inside and not re.fullmatch(r"\s*-+\s*", line):
            lines[k] = plain(line)


def setup(app: Any) -> dict[str, Any]:
    kept: dict[str, list[str]] = {}

    def before(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
        process(app, what, name, obj, options, lines)
        kept[name] = list(lines)

    def after(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
        # A property's "n: how many" is a sentence, not a type and its description.
        if what in ("property", "attribute", "data"):
            lines[:] = kept[name]

    def signature(app: Any, what: str, name: str, obj: Any, options: Any, given: Any, returns: Any) -> Any:
        # A dataclass's default factory is no Python; three dots are.
        return (given.replace("<factory>", "...") if given else given), returns

    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-process-docstring", before, priority=400)
    app.connect("autodoc-process-docstring", after, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
