"""The checker alone: the standard library, one exported file, the same words."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from rankmath.certificates.certificate import Certificate
from rankmath.checker import checker, export

ROOM = Path(checker.__file__).parent
ALONE = export.standalone()


def test_it_imports_the_standard_library_only() -> None:
    imported = set()
    for node in ast.walk(ast.parse(ALONE)):
        if isinstance(node, ast.Import):
            imported |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(str(node.module).split(".")[0])
    assert imported <= set(sys.stdlib_module_names)
    assert not imported & {"pickle", "marshal", "shelve", "importlib", "subprocess", "ctypes", "socket"}


def test_it_executes_nothing_it_reads() -> None:
    names = {node.id for node in ast.walk(ast.parse(ALONE)) if isinstance(node, ast.Name)}
    assert not names & {"eval", "exec", "compile", "__import__", "globals", "setattr"}


def test_no_name_of_one_part_hides_one_of_another() -> None:
    names: Counter[str] = Counter()
    for node in ast.parse(ALONE).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[node.name] += 1
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            names.update({x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)})
    assert [name for name, count in names.items() if count > 1] == []
    assert {"Interval", "decide", "STATEMENTS", "check_text", "main"} <= set(names)


def test_every_part_of_the_room_is_in_the_file() -> None:
    definitions = {f"definitions/{path.stem}" for path in (ROOM.parent / "definitions").glob("[a-z]*.py")}
    assert {path.stem for path in ROOM.glob("*.py")} | definitions == {*export.PARTS, "export", "__init__"}


def interpreters() -> list[str]:
    """This Python, and the other ones from 3.11 on that are installed."""
    others = [shutil.which(f"python3.{minor}") for minor in (11, 12, 13, 14)]
    runs = [p for p in others if p and subprocess.run([p, "-c", ""], capture_output=True, check=False).returncode == 0]
    return [sys.executable, *runs]


@pytest.mark.parametrize("python", interpreters())
def test_the_file_runs_alone_and_says_the_same(
    python: str, tmp_path: Path, twenty_each: dict[str, list[Certificate]], capsys: pytest.CaptureFixture[str]
) -> None:
    """-I -S: no site-packages, no environment, no current directory on the path."""
    alone = tmp_path / "alone.py"
    alone.write_text(ALONE, encoding="utf-8")
    files = [str(drawn[0].save(tmp_path / f"{number}.json")) for number, drawn in enumerate(twenty_each.values())]
    run = subprocess.run(
        [python, "-I", "-S", str(alone), *files], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert run.stderr == ""
    assert run.returncode == 0
    assert checker.main(files) == 0
    assert run.stdout == capsys.readouterr().out
    assert run.stdout.count("accepted rm-") == len(files)


def test_letters_that_a_terminal_has_not_are_escaped(tmp_path: Path) -> None:
    """The first line of γ must not end the batch where the output is ASCII, or a code page."""
    alone = tmp_path / "alone.py"
    alone.write_text(ALONE, encoding="utf-8")
    stored = sorted((Path(__file__).parents[2] / "proofs" / "certificates").glob("own-gamma-free_*.json"))[:2]
    command = [sys.executable, "-I", "-S", "-X", "utf8=0", str(alone), *map(str, stored)]
    run = subprocess.run(command, capture_output=True, env={"LC_ALL": "C"}, check=False)
    assert run.stderr == b""
    assert run.stdout.isascii()
    assert run.stdout.count(b"accepted rm-") == run.stdout.count(b"without \\u03b3") == len(stored)


def test_an_older_python_is_told_so_in_one_line(tmp_path: Path) -> None:
    head = ALONE.split("if sys.version_info")[0] + "sys.version_info = (3, 9, 1)\n"
    old = head + "if sys.version_info" + ALONE.split("if sys.version_info")[1]
    (tmp_path / "old.py").write_text(old, encoding="utf-8")
    run = subprocess.run([sys.executable, "-I", str(tmp_path / "old.py")], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr == "this checker needs Python 3.11 or later; this is Python 3.9\n"
    # It is told, and not met by a syntax error: the whole file is in the grammar of 3.7.
    ast.parse(ALONE, feature_version=(3, 7))


def test_help_is_no_file(tmp_path: Path) -> None:
    """The usage for --help, and for an option that there is not; after -- a file may begin with a line."""
    alone, odd = tmp_path / "checker.py", tmp_path / "-odd.json"
    alone.write_text(ALONE, encoding="utf-8")
    odd.write_text("{}", encoding="utf-8")
    for options, code in ((["--help"], 0), (["-h"], 0), (["--jsn", "-odd.json"], 2), ([], 2)):
        done = subprocess.run([sys.executable, "-I", alone, *options], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout.splitlines()) == (code, ["usage: checker [--json] [--] FILE..."])
    command = [sys.executable, "-I", alone, "--", "-odd.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("-odd.json: REJECTED")
