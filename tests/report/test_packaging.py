"""A wheel carries proofs and templates: an installed rankmath writes appendix and page far from any source tree."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _setuptools() -> int:
    """The major version; 0 where there is none."""
    try:
        return int(version("setuptools").split(".")[0])
    except PackageNotFoundError:
        return 0


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The contents of a wheel built from a copy of the sources, unpacked."""
    if importlib.util.find_spec("pip") is None or _setuptools() < 77:
        pytest.skip("pip and setuptools 77 or newer are needed to build a wheel without a network")
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("rankmath", "proofs"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), "."]
    built = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def test_the_wheel_holds_every_module_proof_and_certificate(installed: Path) -> None:
    def found(folder: Path, *endings: str) -> set[str]:
        files = (path for path in folder.rglob("*") if path.suffix in endings and "__pycache__" not in path.parts)
        return {path.relative_to(folder).as_posix() for path in files}

    assert found(installed / "rankmath", ".py") == found(ROOT / "rankmath", ".py")
    texts = found(ROOT / "proofs", ".tex", ".bib", ".json")
    assert found(installed / "rankmath" / "proofs", ".tex", ".bib", ".json") == texts
    templates = found(ROOT / "rankmath" / "report" / "templates", ".html", ".css", ".js")
    assert len(templates) == 3
    assert found(installed / "rankmath" / "report" / "templates", ".html", ".css", ".js") == templates
    assert (installed / "rankmath" / "py.typed").is_file()


def test_an_installed_package_builds_the_appendix(installed: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-c", "from rankmath.cli import main; main()", "appendix", "own:tv"]
    command += ["--output", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert r"\end{document}" in (tmp_path / "appendix.tex").read_text(encoding="utf-8")
    assert "@misc{rankmath," in (tmp_path / "references.bib").read_text(encoding="utf-8")


def test_an_installed_package_writes_the_page(installed: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    options = ["verify", "own:tv", "--instances", "5", "--certify", "1", "--jobs", "1", "--output", str(tmp_path)]
    command = [sys.executable, "-c", "from rankmath.cli import main; main()", *options]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "own:tv" in (tmp_path / "index.html").read_text(encoding="utf-8")
