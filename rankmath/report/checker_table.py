"""The checker's table of claims about networks, written out: ``python -m rankmath.report.checker_table``.

The checker shares no code with the library, so it has the text of every claim about networks in a file of its own.
This writes that file anew after statements were added or changed; what is written is to be read before it is
committed, for it is what the checker will believe a key to mean. A test holds the file against the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import reload
from pathlib import Path

from rankmath.checker import network_claims
from rankmath.files import write

#: Columns of a line, as the formatter has them.
_WIDTH = 116
_HEAD = '''"""Registered claims about networks: key -> what it says, the claim, its hypotheses, as text.

The library writes the same claims as formulas; a test holds the two against each other.
"""

from __future__ import annotations

NETWORK_CLAIMS: dict[str, tuple[str, str, tuple[str, ...]]] = {
'''


def table() -> str:
    """The text of `rankmath/checker/network_claims.py` for the statements as they are."""
    from rankmath.claims import statements

    parts = [_HEAD]
    for key, entry in statements().items():
        if not entry.arrays:
            claim = f"        {_literal(entry.title, 8)},\n        {_literal(entry.claim_text, 8)},\n"
            parts.append(f'    "{key}": (\n{claim}        {_listed(entry.given_texts, 8)},\n    ),\n')
    return "".join([*parts, "}\n"])


def _listed(texts: Sequence[str], indent: int) -> str:
    """A tuple of strings, on one line where it fits."""
    line = ", ".join(f'"{text}"' for text in texts) + ("," if len(texts) == 1 else "")
    if len(line) + indent + len("(),") <= _WIDTH:
        return f"({line})"
    pad = " " * indent
    return "(\n" + "".join(f"{pad}    {_literal(text, indent + 4)},\n" for text in texts) + f"{pad})"


def _literal(text: str, indent: int) -> str:
    """A string, in parts of a line each where it is long."""
    if len(text) + indent + len('"",') <= _WIDTH:
        return f'"{text}"'
    lines, room = [], 100 - indent
    while len(text) > room:
        cut = 1 + max(text.rfind(mark, 0, room) for mark in " *+")
        lines.append(text[:cut])
        text = text[cut:]
    lines.append(text)
    pad = " " * indent
    return "(\n" + "".join(f'{pad}    "{line}"\n' for line in lines) + f"{pad})"


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
        lines += (
            [f"Needed of the hints: {'; '.join(f'`{text}`' for text in entry.method)}."] if entry.method else []
        )
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


_MARK = "<!-- generated: python -m rankmath.report.checker_table -->\n"


def documented(page: str) -> str:
    """The page of the docs with its generated part made anew."""
    return page.split(_MARK)[0] + _MARK + "\n" + reference()


if __name__ == "__main__":
    print(write(Path(network_claims.__file__), table()))
    reload(network_claims)
    docs = Path(__file__).parents[2] / "docs" / "certificates.md"
    if docs.exists():
        print(write(docs, documented(docs.read_text(encoding="utf-8"))))
