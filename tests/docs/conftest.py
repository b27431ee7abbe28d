"""The site, built once for all workers of a run; the modules beside its pages."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs" / "_ext"), str(Path(__file__).parent)]

from site_build import Site, build  # noqa: E402


@pytest.fixture(scope="session")
def site(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Site:
    def fill(folder: Path) -> None:
        generated = shutil.ignore_patterns("gallery", "reference", "__pycache__")
        shutil.copytree(ROOT / "docs", folder / "docs", ignore=generated)
        for name in ("README.md", "CLAIMS.md", "CHANGELOG.md", "setup.cfg"):
            shutil.copy(ROOT / name, folder)
        (folder / "proofs").symlink_to(ROOT / "proofs")
        # The package as `pip install .` leaves it: elsewhere, with the proofs in it.
        package = folder / "installed" / "rankmath"
        shutil.copytree(ROOT / "rankmath", package, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "proofs", package / "proofs")
        # The site's own theme draws the tree of all pages on each, and defaults as they are written are read from
        # the source function by function: a third of the time, and neither is tested here. A small site has it.
        plain = ("-D", "html_theme=basic", "-D", "autodoc_preserve_defaults=0")
        done = build(folder / "docs", folder / "pages", *plain, package=package)
        (folder / "exit code").write_text(str(done.returncode))
        (folder / "said").write_text(done.stdout + done.stderr)

    folder = made_once("site", fill)
    exit_code = int((folder / "exit code").read_text())
    return Site(folder / "docs", folder / "pages", exit_code, (folder / "said").read_text())
