"""rankmath: is a statement about attention and rank collapse true? With the proof.

The public names are those of ``__init__.pyi``; each is loaded on first use: ``import rankmath`` costs nothing.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
# Public name -> module that defines it.
_HOME = {alias.name: node.module for node in _STUB.body if isinstance(node, ast.ImportFrom) for alias in node.names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'rankmath' has no attribute {name!r}")
    if name == "Statement":  # claims bring functions of their own to the language, in which a person writes one
        import_module("rankmath.claims").statements()
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return __all__
