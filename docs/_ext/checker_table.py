"""The checker's table of claims about networks, written out: ``python docs/_ext/checker_table.py``.

The checker imports nothing of the library but definitions, so it has the text of every claim about networks in a file
of its own. This writes that file anew after statements were added or changed; what is written is to be read before it
is committed, for it is what the checker will believe a key to mean. A test holds the file against the formulas.
"""

from __future__ import annotations

from importlib import reload
from pathlib import Path
from textwrap import fill

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


def reference() -> str:
    """What every key means to the checker, in Markdown: generated from its tables."""
    from rankmath.checker import checker, statements
    from rankmath.checker.rules import RULES
    from rankmath.definitions.entries import ENTRIES
    from rankmath.definitions.layer import layer_text
    from rankmath.definitions.quantities import HELPERS

    lines = ["### Claims about networks", "", "| key | claim | given |", "|---|---|---|"]
    for key, (_, claim, given) in network_claims.NETWORK_CLAIMS.items():
        hypotheses = ", ".join(f"`{text}`" for text in given)
        lines.append(f"| `{key}` | `{claim}` | {hypotheses} |")
    lines += ["", "### Statements with data of their own", ""]
    defined: dict[str, str] = {}
    for key, entry in statements.STATEMENTS.items():
        kinds, fields = ", ".join(entry.kinds), ", ".join(f"`{name}`" for name in entry.data)
        lines += [f"**`{key}`** ({kinds}): {entry.says}.", "", f"Data: {fields}. Claim: `{entry.claim}`."]
        lines += [f"Given: {'; '.join(f'`{text}`' for text in entry.given)}."] if entry.given else []
        empty = "; ".join(f"`{text}`" for text in entry.telling)
        lines += [f"Refused as empty unless: {empty}."] if empty else []
        lines += [
            f"With `{name}` also: `{claim}`, given {'; '.join(f'`{text}`' for text in conditions)}."
            for name, (claim, conditions) in entry.extra.items()
        ]
        lines += [f"Needed of the hints: {'; '.join(f'`{text}`' for text in entry.method)}."] if entry.method else []
        lines += [f"Relied on, not computed: {text}." for text in entry.relies]
        if entry.define in defined:
            lines += [f"Where: as in `{defined[entry.define]}`."]
        elif entry.define:
            defined[entry.define] = key
            lines += ["Where:", "", "```text", entry.define.strip(), "```"]
        lines += [""]
    lines += ["### Definitions", "", "Of the rules, of norms and graphs, and of a network:", ""]
    quantities = "".join(entry.line for name, entry in ENTRIES.items() if name != "norm")
    parts = (RULES, statements.COMMON, layer_text(), HELPERS, quantities)
    lines += ["```text", *(part.strip() for part in parts), "```", ""]
    formats = " and ".join(f"`{name}`" for name in checker.FORMATS)
    lines += [f"The formats are {formats}; a changed definition needs a new one.", ""]
    return "\n".join(lines)


_MARK = "<!-- generated: python docs/_ext/checker_table.py -->\n"


def documented(page: str) -> str:
    """The page of the docs with its generated part made anew."""
    return page.split(_MARK)[0] + _MARK + "\n" + reference()


if __name__ == "__main__":
    print(write(Path(network_claims.__file__).with_suffix(".txt"), table()))
    reload(network_claims)
    docs = Path(__file__).parents[1] / "certificates.md"
    print(write(docs, documented(docs.read_text(encoding="utf-8"))))
