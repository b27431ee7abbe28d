"""How the tests build the site."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Site:
    """Where its sources and pages lie, and what the build said."""

    source: Path
    pages: Path
    exit_code: int
    said: str


def build(source: Path, pages: Path, *options: str, package: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Warnings are errors, every reference must be found; with the rankmath at hand, or with `package`."""
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "-q", "-b", "html", *options, str(source), str(pages)]
    environment = dict(os.environ) | ({} if package is None else {"PYTHONPATH": str(package.parent)})
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
