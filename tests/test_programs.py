"""The tests pass where there is nothing but Python; a test or page that would not is red on every machine."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from every_command import CALLS as CALLS_OF_COMMANDS
from every_command import Hidden, brought
from programs import OPTIONAL, POSIX, PYTHON, fill

from rankmath.cli import main

ROOT = Path(__file__).parents[1]


def test_a_test_sees_python_and_posix_alone() -> None:
    seen = {path.name for folder in os.environ["PATH"].split(os.pathsep) for path in Path(folder).iterdir()}
    assert {"sh", "cat", "python3"} <= seen <= {*POSIX, *PYTHON}
    assert [name for name in OPTIONAL if shutil.which(name)] == []


CALLS = """
import subprocess
import pytest

def test_forgets_to_say_it():
    subprocess.run(["g++"], check=True)

def test_uses_a_utility():
    subprocess.run(["cat"], stdin=subprocess.DEVNULL, check=True)

@pytest.fixture(scope="session")
def compiled():
    return subprocess.run(["g++"], capture_output=True, check=True).stdout

@pytest.mark.needs("g++")
def test_says_it(compiled):
    assert compiled == b"here\\n"
"""


@pytest.mark.parametrize("found", [False, True])
def test_who_calls_a_program_without_saying_so_fails_also_where_it_is(found: bool, tmp_path: Path) -> None:
    (tmp_path / "test_calls.py").write_text(CALLS)
    path = fill(tmp_path / "path", os.environ["PATH"])
    if found:
        (path / "g++").write_text("#!/bin/sh\necho here\n")
        (path / "g++").chmod(0o755)

    def outcomes(*options: str) -> dict[str, str]:
        command = [sys.executable, "-m", "pytest", "-p", "conftest", "-rA", "-c", "/dev/null", "--rootdir", tmp_path]
        environment = {**os.environ, "PATH": str(path), "PYTHONPATH": str(ROOT / "tests")}
        command += [*options, "--rootdir", str(tmp_path), str(tmp_path)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert ("needs g++: g++ not found (Debian: g++)" in done.stdout) != found, done.stdout + done.stderr
        summary = done.stdout.partition("short test summary")[2]
        return {name: outcome for outcome, name in re.findall(r"(PASSED|FAILED|ERROR) \S+::(\w+)", summary)}

    unmarked = {"test_forgets_to_say_it": "FAILED", "test_uses_a_utility": "PASSED"}
    assert outcomes() == unmarked | ({"test_says_it": "PASSED"} if found else {})
    # With --have a missing program is an error, not a skip.
    assert outcomes("-m", "needs", "--have", "g++") == {"test_says_it": "PASSED" if found else "ERROR"}


def test_no_test_looks_for_an_optional_program_at_import() -> None:
    """There the PATH is whole: such a test would skip for a reason that only this file can see."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        marked = "needs" in {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        asked = {
            node.args[0].value
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and ast.unparse(node.func).split(".")[-1] == "which"
        }
        assert marked or not asked, f"{path.name} asks for {asked}: use pytest.mark.needs (tests/programs.py)"


def answers(*options: str, python: Sequence[str] = ()) -> list[dict[str, Any]]:
    """What every command says, with the options of every_command.py."""
    command = [sys.executable, *python, str(ROOT / "tests/every_command.py"), *options]
    environment = {**os.environ, "RANKMATH_PROGRESS": "off"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_with_the_extras_of_the_main_command_every_command_answers_or_says_what_to_install() -> None:
    assert {command for command, _, _ in CALLS_OF_COMMANDS} == set(main.commands)
    for found, (_, call, extra) in zip(answers("--only", "report"), CALLS_OF_COMMANDS, strict=True):
        said = found["err"].strip()
        if extra:
            assert found["code"] == 2, (call, said)
            assert "\n" not in said
            assert f"pip install 'rankmath[{extra}]'" in said
        else:
            assert (found["code"], said) == (0, ""), call
            assert found["out"], call


def test_on_a_full_disk_every_command_says_in_one_line_what_was_not_written() -> None:
    """No file can have more than 1000 bytes: writing beyond them fails as on a disk without room.

    With room, nothing is said but the answer: a warning would be an error.
    """
    writing = 0
    for found in answers("--most", "1000", python=("-W", "error")):
        assert (found["code"], found["err"]) == (0, ""), found
        little = found["little room"]
        assert little["partial"] == []
        if not found["writes"]:
            assert (little["code"], little["err"]) == (0, ""), little
            continue
        writing += 1
        assert little["code"] in (2, 3), little
        told = r"rankmath: [^\n]*(not written|nothing recorded was lost)[^\n]*\n"
        assert re.fullmatch(told, little["err"]), little["err"]
        assert any(Path(name).name.removesuffix("-shm") in little["err"] for name in found["writes"]), little
        if found["call"].startswith("verify own:tv"):
            assert "own:tv" in little["out"], "what was found is told all the same"
    assert writing >= 9


def test_what_the_extras_bring_is_hidden_but_for_one() -> None:
    hidden, report = Hidden("report"), brought("report")
    assert {"numpy", "python-flint", "matplotlib", "jinja2", "pillow", "rankmath"} <= report
    assert {"llvmlite", "distributed", "safetensors", "waitress", "pytest", "sphinx"} <= hidden.names
    with pytest.raises(ModuleNotFoundError, match="waitress"):
        hidden.find_spec("waitress.server")
    assert hidden.find_spec("matplotlib.pyplot") is None
