"""Which statements there are; a user's own come from a file."""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from pathlib import Path

from rankmath.claims.statement import Statement
from rankmath.validation import InvalidArgument

_MODULES = ("seed", "dong2021", "dong2021v1", "own", "wu2024")


@cache
def statements() -> dict[str, Statement]:
    """All registered statements by key, in the order of the papers.

    Examples
    --------
    >>> "own:diameter" in statements()
    True
    """
    found: dict[str, Statement] = {}
    for name in _MODULES:
        module = importlib.import_module(f"rankmath.claims.{name}")
        for entry in module.STATEMENTS:
            found[entry.key] = entry
    return found


def statement(key: str) -> Statement:
    """The statement with this key, or a ValueError that lists the keys.

    Examples
    --------
    >>> statement("own:tv").status
    'proved'
    """
    known = statements()
    if not isinstance(key, str) or key not in known:
        raise InvalidArgument(f"key: {key!r} given; the statements are {', '.join(known)}")
    return known[key]


def statements_in(path: str | Path) -> list[Statement]:
    """The `Statement` objects at the top level of a Python file of the user's."""
    path = Path(path)
    spec = importlib.util.spec_from_file_location(f"rankmath_user_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InvalidArgument(f"path: {str(path)!r} given; a Python file with Statement objects is needed")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = [value for value in vars(module).values() if isinstance(value, Statement)]
    if not found:
        raise InvalidArgument(f"path: {str(path)!r} given; it defines no Statement at its top level")
    return found
