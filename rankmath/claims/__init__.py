"""The statements, one file a claim: formula, draws, extremal families, exhibit.

A claim's file, its proof (proofs/NAME.tex, unless the statement names another) and its test
(tests/claims/test_NAME.py) bear one name. To add a statement, add a file with a `Statement` at its top level: it is
found by itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
from collections import Counter
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from textwrap import wrap
from traceback import extract_tb
from typing import TYPE_CHECKING

from rankmath.checker.statements import STATEMENTS
from rankmath.printing import did_you_mean
from rankmath.validation import InvalidArgument
from rankmath.verification.statement import Statement

if TYPE_CHECKING:
    from rankmath.formula.symbolic.bound import Bound

# The order of the papers in lists; others follow by name.
_PAPERS = ("seed", "dong2021", "dong2021v1", "own", "wu2024")
#: Keys that were others before: claims that nobody makes bear no paper's name.
RENAMED = {"dong2021:2.2-unhedged": "unstated:large-logits", "dong2021:ln-sphere": "unstated:ln-sphere"}


class Statements(dict[str, Statement]):
    """Statements by key; prints as a list of what there is, paper by paper."""

    def __repr__(self) -> str:
        papers = Counter(key.partition(":")[0] for key in self)
        known = Counter(entry.status for entry in self.values())
        counts = ", ".join(f"{count} {status}" for status, count in known.items())
        listed = ", ".join(f"{name}:* {k}" for name, k in papers.items())
        return "\n".join(wrap(f"{len(self)} statements by key ({counts}): {listed}", 116, subsequent_indent="  "))


@cache
def statements() -> dict[str, Statement]:
    """All registered statements by key, paper by paper.

    >>> "own:diameter" in statements()
    True
    """
    found: dict[str, Statement] = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        for value in vars(module).values():
            if isinstance(value, Statement):
                if value.key in found:
                    raise RuntimeError(f"{info.name}: {value.key} stands at the top level of another file as well")
                if not value.truth and value.status != "open":
                    object.__setattr__(value, "truth", f"proofs/{info.name}.tex")
                found[value.key] = value
    return Statements(sorted(found.items(), key=lambda entry: _order(entry[0])))


def _order(key: str) -> tuple[int, str, tuple[object, ...]]:
    paper, _, number = key.partition(":")
    place = _PAPERS.index(paper) if paper in _PAPERS else len(_PAPERS)
    return place, paper, (number,)


def current(key: str) -> str:
    """What a key is called now.

    >>> current("dong2021:ln-sphere"), current("own:tv")
    ('unstated:ln-sphere', 'own:tv')
    """
    return RENAMED.get(key, key)


def statement(key: str) -> Statement:
    """The statement with this key, or an InvalidArgument with the nearest keys.

    >>> statement("own:tv").status
    'proved'
    >>> statement("own:hemishpere")
    Traceback (most recent call last):
    ...
    rankmath.InvalidArgument: key: 'own:hemishpere' given; did you mean 'own:hemisphere'?
    >>> statement("own:t*")
    Traceback (most recent call last):
    ...
    rankmath.InvalidArgument: key: 'own:t*' given; one key is needed: `rankmath list 'own:t*'` names the 3 that fit
    """
    known = statements()
    key = current(key) if isinstance(key, str) else key
    if not isinstance(key, str) or key not in known:
        hint = did_you_mean(str(key), known) or "; `rankmath list` shows all statements"
        if any(sign in str(key) for sign in ("<", ">", "==")):
            hint = "; a claim of your own is given by `--claim`, in Python as a `Statement`"
        if key in STATEMENTS:
            hint = "; it is a claim of certificates alone, which `rankmath show` shows and `rankmath check` checks"
        if fitting := [name for name in known if fnmatchcase(name, str(key))]:
            hint = f"; one key is needed: `rankmath list {key!r}` names the {len(fitting)} that fit"
        raise InvalidArgument(f"key: {key!r} given{hint}")
    return known[key]


def statements_like(pattern: str) -> list[Statement]:
    """The statement with this key, or all that fit a pattern such as ``own:*``.

    >>> [entry.key for entry in statements_like("own:tv*")]
    ['own:tv']
    """
    if not any(sign in pattern for sign in "*?[") or any(sign in pattern for sign in "<>="):
        return [statement(pattern)]
    found = [entry for key, entry in statements().items() if fnmatchcase(key, pattern)]
    if not found:
        raise InvalidArgument(f"key: {pattern!r} given; no statement fits it (`rankmath list` shows all)")
    return found


def statements_in(path: str | Path) -> list[Statement]:
    """The `Statement` objects at the top level of a Python file of the user's."""
    path = Path(path)
    spec = importlib.util.spec_from_file_location(f"rankmath_user_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InvalidArgument(f"path: {str(path)!r} given; a Python file with Statement objects is needed")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the user's mistake, or one of a library they call
        raise users_error(path, error) from None
    found = [value for value in vars(module).values() if isinstance(value, Statement)]
    if not found:
        raise InvalidArgument(f"path: {str(path)!r} given; it defines no Statement at its top level")
    return found


def users_error(file: str | Path, error: BaseException, key: str = "") -> InvalidArgument:
    """The error as one line that names the user's file and the last line of it that ran."""
    if isinstance(error, SyntaxError):
        return InvalidArgument(f"{file}, line {error.lineno}: SyntaxError: {error.msg}")
    whole = os.path.abspath(file)
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if os.path.abspath(frame.filename) == whole]
    where = f"{file}, line {lines[-1]}" if lines else f"{file}"
    about = f"{key}: " if key else ""
    return InvalidArgument(f"{where}: {about}{type(error).__name__}: {error}")


@cache
def bound(key: str, part: int = 0) -> Bound:
    """The bound of the statement `key` in sympy: the right side of inequality number `part` of its conclusion.

    >>> bound("own:tv").expression
    tanh(osc/4)
    >>> bound("own:tv").symbols["osc"]
    'osc(g): largest minus least entry of a vector, or of a row of a matrix'
    """
    entry = statement(key)
    return (statement(entry.closed) if entry.closed else entry).bound(part)
