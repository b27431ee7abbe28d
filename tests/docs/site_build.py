"""How the tests build the site."""

from __future__ import annotations

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


def build(source: Path, pages: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Warnings are errors, and every reference must be found."""
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "-q", "-b", "html", *options, str(source), str(pages)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
