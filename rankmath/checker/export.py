"""The checker as one file: its modules one after the other, without the imports of each other."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

_NAMES = """intervals reading advice kernel rules definitions/entries definitions/hypotheses definitions/layer
    definitions/quantities definitions/attributes statements network_claims network vacuity words monomials boxes lemmas
    derivation limits checker"""
PARTS = tuple(_NAMES.split())
_HEAD = '''"""The independent checker of rankmath's certificates, as one file: python -I FILE certificate.json...

Written by `rankmath check --export`. It needs Python 3.11 or later and the standard library alone.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):
    sys.exit("this checker needs Python 3.11 or later; this is Python %d.%d" % sys.version_info[:2])
'''
_TAIL = """
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""
_READ_TEXT = re.compile(r'Path\(__file__\)\.with_name\("([\w.]+)"\)\.read_text\(encoding="utf-8"\)')
_OWN_IMPORT = re.compile(r"^from rankmath\.(?:checker|definitions)\.\w+ import (?:\([^)]*\)|[^\n]*)\n", re.MULTILINE)
_IMPORT = re.compile(r"^(?:import \w+|from [\w.]+ import [^\n(]+)\n", re.MULTILINE)


def standalone() -> str:
    """The text of the one file."""
    imports: set[str] = set()
    bodies = []
    for part in PARTS:
        room = Path(__file__).parents[1] if "/" in part else Path(__file__).parent
        path = room / f"{part}.py"
        text = path.read_text(encoding="utf-8")
        text = _READ_TEXT.sub(partial(_literal, path.parent), text)
        text = _OWN_IMPORT.sub("", text).replace("from __future__ import annotations\n", "")
        text = text.split('\nif __name__ == "__main__":')[0]
        imports |= set(_IMPORT.findall(text))
        bodies.append(f"# == {part} {'=' * (100 - len(part))}\n\n{_IMPORT.sub('', text).strip()}\n")
    return "\n\n".join([_HEAD, "".join(sorted(imports - {"import sys\n"})), *bodies, _TAIL.lstrip()])


def _literal(folder: Path, read: re.Match[str]) -> str:
    """The text of a file as Python writes it, in lines for people where that is possible."""
    text = (folder / read[1]).read_text(encoding="utf-8")
    raw = "r" if "\\" in text else ""
    return repr(text) if '"""' in text else f'{raw}"""{text}"""'
