"""The checker's table of claims about networks, written out: ``python docs/_ext/checker_table.py``.

The checker imports nothing of the library but definitions, so it has the text of every claim about networks in a file
of its own. This writes that file anew after statements were added or changed; what is written is to be read before it
is committed, for it is what the checker will believe a key to mean. A test holds the file against the formulas.

With keys it prints what the checker holds them to mean; the site has a page of all whose data are their own.
"""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import fill, indent

from rankmath.checker import network_claims
from rankmath.files import write

#: Columns of a line, as the formatter has them.
_WIDTH = 116


def table() -> str:
    """The text of `rankmath/checker/network_claims.txt` for the statements as they are."""
    from rankmath.claims import statements

    parts = []
    for key, entry in statements().items():
        if not entry.arrays:
            texts = f"{key} | {entry.title}", f"    | {entry.claim_text}", f"    | {'; '.join(entry.given_texts)}"
            parts += [fill(text, _WIDTH, subsequent_indent=" " * 4, break_on_hyphens=False) for text in texts]
    return "\n".join(parts) + "\n"


def meaning(key: str, before: dict[str, str] | None = None) -> str:
    """What a key with data of its own means to the checker, in Markdown.

    A part that a key of `before` has word for word is named by that key; `before` maps parts to keys, and grows.
    """
    from rankmath.checker.statements import STATEMENTS

    entry, known = STATEMENTS[key], {} if before is None else before

    def told(part: str, text: str) -> str:
        if not text:
            return ""
        other = known.setdefault(f"{part} {text}", key)
        return f"{part}: {text}" if other == key else f"{part}: as in `{other}`"

    def quoted(texts: tuple[str, ...]) -> str:
        return "; ".join(f"`{text}`" for text in texts)

    parts = [
        told("Data", ", ".join(f"`{name}`" for name in entry.data)),
        told("Claim", f"`{entry.claim}`"),
        told("Given", quoted(entry.given)),
        told("Refused as empty unless", quoted(entry.telling)),
        *(
            told(f"With `{name}` also", f"`{claim}`, given {quoted(conditions)}")
            for name, (claim, conditions) in entry.extra.items()
        ),
        told("Needed of the hints", quoted(entry.method)),
        *(told("Relied on, not computed", text) for text in entry.relies),
        told("Where", f"\n\n  ```text\n{indent(entry.define.strip(), '  ')}\n  ```" if entry.define else ""),
    ]
    listed = "\n".join(f"- {part}" for part in parts if part)
    return f"**`{key}`** ({', '.join(entry.kinds)}): {entry.says}.\n\n{listed}"


def reference() -> str:
    """The page of all keys with data of their own; a claim about networks is on the page of its statement."""
    from rankmath.checker.statements import STATEMENTS

    before: dict[str, str] = {}
    head = (
        "What each means to the checker, word for word; names that are not explained here are those of "
        "`rankmath/checker/rules.py` and `rankmath/definitions/`. Claims about networks stand in "
        "`rankmath/checker/network_claims.txt`, and as formulas on the pages of this gallery."
    )
    parts = ["# Keys with data of their own", head, *(meaning(key, before) for key in STATEMENTS)]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    from rankmath.checker.statements import STATEMENTS

    for key in sys.argv[1:]:
        if key not in STATEMENTS:
            sys.exit(f"KEY: {key!r} given; one of {', '.join(STATEMENTS)} is needed")
        print(meaning(key), end="\n\n")
    if not sys.argv[1:]:
        print(write(Path(network_claims.__file__).with_suffix(".txt"), table()))
