"""One small call of every command, in this order, in a folder of its own.

    python tests/every_command.py --only report

prints as JSON what each call said and its exit code; no package can be imported but those of the core and of the
extra `report`. Without `--only`, all that is installed can, and calls that need an extra are left out.

    python tests/every_command.py --most BYTES

runs each first in a process that can write no file of more bytes, as on a disk that is full.
"""

from __future__ import annotations

import io
import json
import multiprocessing
import re
import resource
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from multiprocessing.connection import Connection
from pathlib import Path

#: Command, a call of it, and the extra that it cannot do without.
CALLS = [
    ("list", "list", ""),
    ("show", "show own:tv", ""),
    ("verify", "verify own:tv wu2024:1 --instances 5 --certify 1 --jobs 1 --output run", ""),
    ("verify", "verify --claim 'diameter(X[1],2) <= diameter(X[0],2)/2' --instances 20 --output own", ""),
    ("quantities", "quantities", ""),
    ("report", "report run", ""),
    ("trace", "trace --tokens 4 --layers 3 --plot decay.png", ""),
    ("model", "model bert", "models"),
    ("experiment", "experiment wu-fig2 --set layers=3 --set tokens=4 --set dim=8 --plot masks.png", ""),
    ("bound", "bound own:diameter --latex", ""),
    ("counterexample", "counterexample dong2021:norm --output .", ""),
    ("check", "check dong2021-norm_rm-f15634541ed8b544ac5be58ab12e6791.json", ""),
    ("cite", "cite own:tv", ""),
    ("appendix", "appendix own:tv --output paper", ""),
    ("campaign", "campaign run plan.toml --workers 0", ""),
    ("campaign", "campaign run plan.toml --workers 1 --resume", ""),
    ("campaign", "campaign run plan.toml --ledger far.db --dask tcp://127.0.0.1:1", "scale"),
    ("campaign", "campaign export plan.db chunks.csv", ""),
    ("explore", "explore --export explore.html", ""),
    ("explore", "explore --no-browser", "explore"),
    ("doctor", "doctor", ""),
    ("completion", "completion bash", ""),
]
PLAN = 'statements = ["own:tv"]\ninstances = 20\nchunk = 20\nbatch = 10\ncertify = 0.1\n'


def brought(extra: str) -> set[str]:
    """The distributions that `pip install rankmath[extra]` brings, with all they need."""
    found: set[str] = set()
    wanted = [("rankmath", extra)]
    while wanted:
        name, extra = wanted.pop()
        name = re.sub(r"[-_.]+", "-", name).lower()
        if name in found:
            continue
        try:
            lines = requires(name) or []
        except PackageNotFoundError:  # for another system
            continue
        found.add(name)
        for line in lines:
            package, _, condition = line.partition(";")
            if "extra ==" not in condition or (extra and re.search(rf"extra == ['\"]{extra}['\"]", condition)):
                wanted.append((re.match(r"[\w.-]+", package.strip())[0], ""))  # type: ignore[index]
    return found


class Hidden:
    """A finder before all others that denies every package that was not brought."""

    def __init__(self, extra: str) -> None:
        allowed = brought(extra)
        self.names = {
            module
            for module, owners in packages_distributions().items()
            if not allowed & {re.sub(r"[-_.]+", "-", owner).lower() for owner in owners}
        }

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def run(words: Sequence[str]) -> dict[str, object]:
    """What `rankmath words…` says, and its exit code."""
    from rankmath.cli import main

    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(list(words), prog_name="rankmath")
        except SystemExit as ended:
            code = ended.code or 0
        except BaseException:
            traceback.print_exc()
            code = "raised"
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


def run_in_little_room(words: Sequence[str], most: int) -> dict[str, object]:
    """`run` in a child that can write no file of more than `most` bytes; the partial files that it left."""

    def child(answer: Connection) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        answer.send(run(words))

    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(there,))
    process.start()
    found = here.recv()
    process.join()
    return {**found, "partial": [path.name for path in Path().rglob(".*.*") if path.is_file()]}


def large_files(most: int) -> dict[str, int]:
    """Every file of more bytes, and when it was written."""
    files = (path for path in Path().rglob("*") if path.is_file() and path.stat().st_size > most)
    return {str(path): path.stat().st_mtime_ns for path in files}


def run_all(only: str | None, most: int | None) -> list[dict[str, object]]:
    """Every call, after all that `import rankmath` offers has been loaded."""
    import rankmath

    assert all(getattr(rankmath, name) is not None for name in rankmath.__all__)
    Path("plan.toml").write_text(PLAN)
    Path("bert").mkdir()
    Path("bert/config.json").write_text('{"model_type": "bert", "num_attention_heads": 1, "hidden_size": 2}')
    Path("bert/model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    answers = []
    for _, call, extra in CALLS:
        if only is None and extra:
            continue
        answer: dict[str, object] = {"call": call}
        if most is not None:
            answer["little room"] = run_in_little_room(shlex.split(call), most)
            before = large_files(most)
        answer |= run(shlex.split(call))
        if most is not None:
            answer["writes"] = [name for name, at in large_files(most).items() if before.get(name) != at]
        answers.append(answer)
    return answers


if __name__ == "__main__":
    options = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
    given = options.get("--only")
    if given is not None:
        sys.meta_path.insert(0, Hidden(given))  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        print(json.dumps(run_all(given, int(options["--most"]) if "--most" in options else None)))
