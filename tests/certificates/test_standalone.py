"""The checker is one file on the standard library alone."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

from rankmath.certificates.certificate import Certificate
from rankmath.checker import checker

SOURCE = Path(checker.__file__)


def test_it_imports_the_standard_library_only() -> None:
    imported = set()
    for node in ast.walk(ast.parse(SOURCE.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(str(node.module).split(".")[0])
    assert imported <= set(sys.stdlib_module_names)
    assert not imported & {"pickle", "marshal", "shelve", "importlib", "subprocess", "ctypes"}


def test_it_executes_nothing_it_reads() -> None:
    names = {
        node.id for node in ast.walk(ast.parse(SOURCE.read_text(encoding="utf-8"))) if isinstance(node, ast.Name)
    }
    assert not names & {"eval", "exec", "compile", "__import__", "getattr", "globals"}


def test_a_copy_works_where_no_package_is_installed(
    tmp_path: Path, twenty_each: dict[str, list[Certificate]]
) -> None:
    """-I -S: no site-packages, no environment, no current directory on the path."""
    copy = Path(shutil.copy(SOURCE, tmp_path / "checker.py"))
    files = [str(drawn[0].save(tmp_path / f"{number}.json")) for number, drawn in enumerate(twenty_each.values())]
    run = subprocess.run(
        [sys.executable, "-I", "-S", copy, *files], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert run.stderr == ""
    assert run.stdout.count("accepted rm-") == len(files)
    assert run.returncode == 0
