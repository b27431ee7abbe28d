"""Every quantity and predicate of the language of claims about networks, each defined once, in `quantities.txt`."""

from __future__ import annotations

import re
from pathlib import Path

from rankmath.definitions.entries import Entry, define

QUANTITY_FILE = Path(__file__).with_name("quantities.txt").read_text(encoding="utf-8")
#: What the entries rest on, and the entries.
HELPERS, _, _ENTRIES = re.sub(r"^(#.*\n)+", "", QUANTITY_FILE).partition("\n# -- tokens\n")


def _read(text: str) -> Entry:
    """Define the quantity that an entry of the file says."""
    line, meaning, latex, *more = " ".join(text.split()).split(" | ")
    said = dict(part.split(": ", 1) for part in more if re.match(r"\w+: ", part))
    example = next((part for part in more if part != "true or false" and not re.match(r"\w+: ", part)), "")
    sign, known, degree = said.pop("sign", ""), said.pop("known", ""), said.pop("degree", None)
    return define(
        line,
        meaning,
        latex=latex,
        example=example,
        words={name: tuple(words.split()) for name, words in said.items()},
        truth="true or false" in more,
        sign=sign,
        degree=None if degree is None else int(degree),
        known=known,
    )


# An entry begins where a line does, and its other lines with a blank.
for _entry in re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", _ENTRIES, flags=re.MULTILINE).strip()):
    _read(_entry)
