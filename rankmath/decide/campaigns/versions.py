"""What the numbers of a campaign depend on beside its plan: this library's very files, and what they stand on."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

from rankmath.version import __version__


@cache
def source_digest() -> str:
    """16 hex digits of the SHA-256 of this library's Python files, as they were when first asked for."""
    folder = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


@cache
def versions() -> dict[str, str]:
    """By name, ready for JSON.

    >>> sorted(versions())
    ['mpmath', 'numpy', 'platform', 'python', 'python-flint', 'rankmath', 'scipy', 'source']
    """
    found = {"rankmath": __version__, "source": source_digest()}
    for name in ("numpy", "scipy", "python-flint", "mpmath"):
        found[name] = metadata.version(name)
    return {**found, "python": platform.python_version(), "platform": platform.platform()}
