"""Runs the code of a page and compares what it prints with what the page says it prints.

    python docs/_ext/executed.py docs/tutorial.md

- ``python`` blocks: ``>>>`` examples are compared; plain code is run; what begins with ``# name.py`` is that file.
- ``toml`` blocks begin with ``# name.toml`` and are that file.
- ``console`` blocks: each ``$ command`` is run and its output compared; ``# exit code 1`` at its end is checked.
- ``sh`` blocks are run; what they print is not shown.
- ``text``, ``bibtex``, ``tex`` and ``json`` blocks are shown, not run.

Ellipses stand for anything, white space is white space. All blocks of a page run in order, in one folder, Python's
in one namespace. A block that cannot run here is preceded by a comment, which readers do not see,
``<!-- Not run by the tests: why. -->``, or by a line that they do see, *Needs `program`: why.*, if it is to run
where that program is installed.
"""

from __future__ import annotations

import doctest
import multiprocessing
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
#: What a page may refer to by its path in the source tree.
LINKED = ("docs", "proofs", "benchmarks", "rankmath", "README.md", "CITATION.cff")

SHOWN = ("text", "bibtex", "tex", "json", "coq")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

_NOT_RUN = re.compile(r"<!-- Not run by the tests: (.+) -->\s*", re.DOTALL)
_NEEDS = re.compile(r"\*Needs `([\w-]+)`: (.+)\*", re.DOTALL)
_NAME = re.compile(r"# ([\w.-]+\.(?:py|toml))\n")
_EXIT = re.compile(r"\s*# exit code (\d+)$")
#: A command in which a shell would see nothing of its own.
_PLAIN = re.compile(r"rankmath [\w\s:./=,+@'-]+")


#: Said once on a new machine, if it is slow.
FONTS = "Matplotlib is building the font cache; this may take a moment.\n"


class Differs(AssertionError):
    """A block does not do what its page says."""


@dataclass(frozen=True)
class Block:
    """A fenced block: where, what kind, and why it is not run, if it is not."""

    page: str
    line: int
    language: str
    text: str
    exempt: str = ""
    needs: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line} ({self.language})"


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a page; directives of the site are none."""
    before = ""
    for token in MarkdownIt().enable("table").parse(path.read_text(encoding="utf-8")):
        if token.type == "inline" or (token.type == "html_block" and _NOT_RUN.fullmatch(token.content)):
            before = token.content
        if token.type in ("fence", "code_block") and not token.info.startswith("{"):
            exempt, needs = _NOT_RUN.fullmatch(before), _NEEDS.fullmatch(before)
            yield Block(
                path.name,
                (token.map or [0])[0] + 1,
                token.info.strip(),
                token.content,
                exempt[1] if exempt else "",
                needs[1] if needs else "",
            )
            before = ""


def run_page(path: Path, folder: Path) -> list[Block]:
    """Run all blocks in `folder`; a Differs names the first that disagrees. Returns those that cannot run here."""
    for name in LINKED:
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    space: dict[str, Any] = {"__name__": "__main__"}
    left = []
    with chdir(folder):
        for block in blocks(path):
            if block.exempt or (block.needs and shutil.which(block.needs) is None):
                left.append(block)
            elif block.language not in SHOWN:
                run_block(block, space, folder)
    return left


def run_block(block: Block, space: dict[str, Any], folder: Path) -> None:
    named = _NAME.match(block.text)
    if block.language in ("python", "toml") and named:
        (folder / named[1]).write_text(block.text, encoding="utf-8")
    elif block.language == "python" and ">>>" in block.text:
        _run_examples(block, space)
    elif block.language == "python":
        exec(compile(block.text, str(block), "exec"), space)
    elif block.language == "console":
        for command, expected in commands(block):
            _run_command(block, command, expected)
    elif block.language == "sh":
        _run_command(block, "set -e\n" + block.text, None)
    else:
        raise Differs(f"{block}: a block must say what it is: python, toml (with a name), console, sh, {SHOWN}")


def _run_examples(block: Block, space: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, space, str(block), block.page, block.line)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    failed = runner.run(test, out=said.append, clear_globs=False).failed
    space.update(test.globs)
    if failed:
        raise Differs("".join(said))


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Commands and what is printed after each; a backslash at the end continues a command."""
    parts = re.split(r"^\$ ((?:.*\\\n)*.*)\n?", block.text, flags=re.MULTILINE)
    if parts[0].strip() or len(parts) < 3:
        raise Differs(f"{block}: a console block begins with `$ command`")
    yield from zip(parts[1::2], parts[2::2], strict=True)


def _run_command(block: Block, command: str, expected: str | None) -> None:
    wanted = _EXIT.search(command)
    bare = _EXIT.sub("", command)
    here = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    hidden = ("COLUMNS", "FORCE_COLOR", "PYTEST_CURRENT_TEST")
    environment = {name: value for name, value in os.environ.items() if name not in hidden} | {"PATH": here}
    environment["RANKMATH_PROGRESS"] = "off"  # how far it is depends on the machine
    code, printed = (_forked if _PLAIN.fullmatch(bare) else _by_shell)(bare, environment)
    if code != (int(wanted[1]) if wanted else 0):
        raise Differs(f"{block}: exit code {code} of\n{bare}\n{printed}")
    if expected is None or expected.strip() == "...":
        return
    printed = printed.replace(FONTS, "")
    if not doctest.OutputChecker().check_output(f"{expected.strip()}\n", f"{printed.strip()}\n", FLAGS):
        raise Differs(f"{block}: {bare}\n--- the page says\n{expected}\n--- it prints\n{printed}")


def _by_shell(command: str, environment: dict[str, str]) -> tuple[int, str]:
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def _forked(command: str, environment: dict[str, str]) -> tuple[int, str]:
    """A plain `rankmath` command, in a process of its own that begins with everything imported."""
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(["rankmath.cli", "rankmath.claims", "rankmath.report.html", "matplotlib.pyplot"])
    with tempfile.TemporaryDirectory() as folder:
        said = [Path(folder, name) for name in ("stdout", "stderr")]
        process = server.Process(target=_rankmath, args=(shlex.split(command), environment, said))
        process.start()
        process.join()
        return process.exitcode or 0, "".join(path.read_text(encoding="utf-8") for path in said)


def _rankmath(words: list[str], environment: dict[str, str], said: list[Path]) -> None:
    from rankmath.cli import main

    os.environ.clear()
    os.environ.update(environment)
    for stream, path in enumerate(said, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), stream)
    sys.argv = words
    main()


if __name__ == "__main__":
    for given in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as temporary:
            for skipped in run_page(Path(given).resolve(), Path(temporary)):
                print(f"{skipped}: not run, {skipped.exempt or 'needs ' + skipped.needs}")
