"""The site, built once for all workers of a run; the modules beside its pages."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs" / "_ext"), str(Path(__file__).parent)]

from site_build import Site, build  # noqa: E402


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "site"
    folder.mkdir(exist_ok=True)
    # Whichever worker comes first builds; the others wait for it.
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "said").exists():
            generated = shutil.ignore_patterns("gallery", "reference", "__pycache__")
            shutil.copytree(ROOT / "docs", folder / "docs", ignore=generated)
            for name in ("README.md", "CLAIMS.md", "CHANGELOG.md"):
                shutil.copy(ROOT / name, folder)
            (folder / "proofs").symlink_to(ROOT / "proofs")
            done = build(folder / "docs", folder / "pages")
            (folder / "exit code").write_text(str(done.returncode))
            (folder / "said").write_text(done.stdout + done.stderr)
    exit_code = int((folder / "exit code").read_text())
    return Site(folder / "docs", folder / "pages", exit_code, (folder / "said").read_text())
