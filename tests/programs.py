"""Tests see Python and the utilities of a POSIX system, and no other program unless they say that they need it.

    @pytest.mark.needs("coqc")

A marked test skips, with the reason, where the program is missing; `--have coqc` makes that an error. Every other
test runs with a PATH on which no such program is found: one that forgets to say so is red on every machine.
`conftest.py` has the hooks.

    python3 tests/programs.py FOLDER            fill FOLDER with what a bare machine has, to be its PATH
    python3 tests/programs.py --packages coqc   the Debian packages that bring a program
    python3 tests/programs.py --found coqc      exit code 0 if it is here
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

#: The utilities of POSIX that a system without a compiler has, and bash, mktemp and seq, which all have.
POSIX = shlex.split("""
    awk basename bash cat chgrp chmod chown cksum cmp comm cp csplit cut date dd df diff dirname du echo ed env
    expand expr false file find fold getconf grep head iconv id join kill link ln locale logname ls mkdir mkfifo
    mktemp mv nice nl nohup od paste patch pathchk pr printf ps pwd readlink realpath rm rmdir sed seq sh sleep
    sort split stty sum sync tail tar tee test time touch tr true tsort tty uname unexpand uniq unlink wc who
    xargs
""")
PYTHON = ["python", "python3", *(f"python3.{minor}" for minor in range(11, 20))]

#: What a test may need beside these: the programs that come with each, and the Debian packages.
OPTIONAL = {
    "coqc": (("coqdoc", "make"), "coq libcoq-coquelicot libcoq-interval make"),
    "pdflatex": (("bibtex",), "texlive-latex-recommended texlive-fonts-recommended texlive-pictures"),
    "pdftotext": ((), "poppler-utils"),
    "chromium": (("chromedriver",), "chromium chromium-driver"),
    "g++": ((), "g++"),
    "node": ((), "nodejs"),
    "unshare": (("mount",), "util-linux mount"),
}


def fill(folder: Path, path: str) -> Path:
    """Links to the utilities of POSIX and to Python as they are found on `path`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in POSIX:
        found = shutil.which(name, path=path)
        if found and not (folder / name).exists():
            (folder / name).symlink_to(found)
    for name in PYTHON:
        found = shutil.which(name, path=path)
        command = [found or name, "-c", "import sys; print(sys.executable)"]
        asked = subprocess.run(command, capture_output=True, text=True, check=False) if found else None
        if asked is not None and asked.returncode == 0:  # by its own path: Python finds its library from there
            (folder / name).write_text(f'#!/bin/sh\nexec {shlex.quote(asked.stdout.strip())} "$@"\n')
            (folder / name).chmod(0o755)
    return folder


def lacking(name: str) -> str:
    """Why the program cannot be used here, or nothing."""
    others, packages = OPTIONAL[name]
    missing = [program for program in (name, *others) if shutil.which(program) is None]
    if name == "coqc" and not missing:
        missing = _coq_libraries_missing()
    if name == "pdflatex" and not missing:
        missing = _latex_packages_missing()
    return f"needs {name}: {' and '.join(missing)} not found (Debian: {packages})" if missing else ""


@cache
def _latex_packages_missing() -> list[str]:
    """Debian's beamer does not bring pgf, which it loads."""
    found = subprocess.run(["kpsewhich", "pgf.sty"], capture_output=True, text=True, check=False).stdout
    return [] if found.strip() else ["pgf.sty"]


@cache
def _coq_libraries_missing() -> list[str]:
    where = subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=True).stdout.strip()
    return [name for name in ("Coquelicot", "Interval") if not (Path(where) / "user-contrib" / name).is_dir()]


@cache
def _bare_folder() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="bare-")  # until this process ends
    fill(Path(folder.name), os.environ["PATH"])
    return folder


@contextmanager
def bare_path() -> Iterator[None]:
    """Hide every program that a bare machine has not."""
    before = os.environ["PATH"]
    os.environ["PATH"] = _bare_folder().name
    try:
        yield
    finally:
        os.environ["PATH"] = before


if __name__ == "__main__":
    option, *names = sys.argv[1:]
    if option == "--packages":
        print(*(OPTIONAL[name][1] for name in names))
    elif option == "--found":
        sys.exit(any(map(lacking, names)))
    else:
        fill(Path(option), os.environ["PATH"])
