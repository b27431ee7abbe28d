"""Plant single errors in the code and see whether the tests notice: ``python tests/planted.py [--only WORD]``.

Those of planted_by_hand.txt; with ``--random 40 --seed 1 --only rankmath/checker`` edits that nobody chose, in the
files of `ROOMS`.

Each is one edit of one file (a sign, a rounding direction, < for <=, a dropped hypothesis, the first layer
only, the center for the box, swapped roles, a constant) and the tests that should turn red. The edit is made in a
copy of the package; an edit that no test notices is a survivor, and is listed with its reason or makes the exit
code 1.
"""

from __future__ import annotations

import argparse
import ast
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 900

_INTERVALS, _RULES = "tests/checker/test_intervals.py", "tests/checker/test_rules.py"
_NETWORK, _STATEMENTS = "tests/checker/test_network.py", "tests/checker/test_statements.py"
_EQUILIBRIA, _READING = "tests/checker/test_equilibria.py", "tests/checker/test_reading.py"
_PROVERS, _ENCLOSURES = "tests/equilibria/test_tests_in_balls.py", "tests/linalg/test_enclosures.py"
_EVALUATORS, _AGREEMENT = "tests/formula/test_evaluators.py", "tests/checker/test_agreement.py"


@dataclass(frozen=True)
class Plant:
    """One edit: the text that is replaced, which must occur once, and the tests that should see it."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    survives: str = ""  # why no test can see it, where that is so

    def planted(self, text: str) -> str:
        if len(self.new) > len(text) // 2:  # the whole text, edited
            return self.new
        if text.count(self.old) != 1:
            raise SystemExit(
                f"{self.name}: {self.old!r} occurs {text.count(self.old)} times in {self.file}, once is needed"
            )
        return text.replace(self.old, self.new)


def by_hand() -> tuple[Plant, ...]:
    """The edits of planted_by_hand.txt."""
    found, file, tests, name, old = [], "", list[str](), "", ""
    for line in (ROOT / "tests/planted_by_hand.txt").read_text(encoding="utf-8").splitlines():
        text = line[2:].replace("\\n", "\n")
        match line[:2]:
            case "@ ":
                file, *tests = text.split()
            case "# ":
                name = text
            case "- ":
                old = text
            case "+ ":
                found.append(Plant(name or f"{old} -> {text}", file, old, text, tuple(tests)))
                name = ""
            case "? ":
                found[-1] = replace(found[-1], survives=text)
    return tuple(found)


def fits(plant: Plant) -> bool:
    """Whether the text that a plant replaces still stands in its file, once."""
    path = ROOT / plant.file
    return path.exists() and path.read_text(encoding="utf-8").count(plant.old) == 1


#: Where random edits are planted, and the tests that should see them, beside the examples of the file itself.
ROOMS = {
    "rankmath/checker/intervals.py": (_INTERVALS, _RULES),
    "rankmath/checker/kernel.py": (_RULES, _READING, _NETWORK, _STATEMENTS, _EQUILIBRIA),
    "rankmath/checker/rules.py": (_RULES, _NETWORK, _STATEMENTS, _EQUILIBRIA),
    "rankmath/checker/statements.py": (
        _AGREEMENT,
        _NETWORK,
        _STATEMENTS,
        _EQUILIBRIA,
        "tests/checker/test_forgeries.py",
    ),
    "rankmath/checker/network.py": (_NETWORK, _AGREEMENT, "tests/checker/test_language.py"),
    "rankmath/checker/vacuity.py": (_NETWORK, "tests/checker/test_language.py"),
    "rankmath/checker/network_claims.txt": (_NETWORK,),
    "rankmath/definitions/quantities.txt": (_NETWORK, _AGREEMENT, "tests/formula/test_definitions.py"),
    "rankmath/checker/reading.py": (_READING, _NETWORK),
    "rankmath/formula/evaluate.py": (_EVALUATORS, "tests/formula", "tests/verification", "tests/claims"),
    "rankmath/formula/run.py": (_AGREEMENT, "tests/formula", "tests/verification", "tests/claims"),
    "rankmath/formula/quantities.py": (_AGREEMENT, "tests/formula", _NETWORK, "tests/verification", "tests/claims"),
    "rankmath/formula/numbers.py": (_EVALUATORS, "tests/formula", "tests/verification"),
    "rankmath/verification/judge.py": ("tests/verification", "tests/claims"),
    "rankmath/arithmetic/ball_matrices.py": ("tests/arithmetic", "tests/attention"),
    "rankmath/equilibria/proofs.py": (_PROVERS, "tests/equilibria"),
    "rankmath/equilibria/attraction.py": (_PROVERS, "tests/equilibria"),
    "rankmath/equilibria/contraction.py": (_PROVERS, "tests/equilibria/test_designs.py"),
    "rankmath/equilibria/balls.py": (_PROVERS, "tests/equilibria/test_certify.py", "tests/equilibria/test_designs.py"),
    "rankmath/linalg/exact_residuals.py": (_ENCLOSURES, "tests/attention/test_enclosures.py"),
    "rankmath/linalg/norms.py": (_ENCLOSURES, "tests/linalg/test_norms.py"),
    "rankmath/arithmetic/balls.py": ("tests/arithmetic/test_balls.py", "tests/arithmetic/test_ball_matrices.py"),
    "rankmath/attention/softmax.py": (_AGREEMENT, "tests/attention", "tests/attention"),
    "rankmath/attention/maps.py": (_NETWORK, "tests/attention"),
    "rankmath/decide/shrink.py": ("tests/decide",),
    "rankmath/decide/adversary.py": ("tests/decide",),
}
_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_NAMES = {"min": "max", "max": "min", "lo": "hi", "hi": "lo", "all": "any", "any": "all", "floor": "ceil"}
#: In a claim or a definition that is written as text.
_WORDS = {
    "<=": "<",
    "<": "<=",
    " + ": " - ",
    " - ": " + ",
    "max(": "min(",
    "min(": "max(",
    "*": "+",
    "2": "3",
    "1": "2",
}


#: Edits that may go unnoticed, and why: what only guides or limits an effort, and proves nothing. A file, then the
#: whole line before and after, without its comment: no other edit is excused.
HARMLESS = {
    "rankmath/verification/judge.py": {
        ("_DIGITS = 50", "_DIGITS = 51"): "a digit more of what is not rigorous anyway",
        ("MOST_BITS = 4096", "MOST_BITS = 4097"): "how long an undecided comparison is refined",
    },
    "rankmath/equilibria/proofs.py": {
        ("_SHORT = 32", "_SHORT = 33"): "bits of matrices that need not be accurate",
        ("_NEWTON_STEPS = 30", "_NEWTON_STEPS = 31"): "steps before a search gives up",
        (
            "radius = arb(2) ** -(6 * bits // 10)",
            "radius = arb(2) ** -(7 * bits // 10)",
        ): "a box of any radius proves, if Krawczyk's test closes on it",
        (
            "radius = arb(2) ** -(6 * bits // 10)",
            "radius = arb(2) ** -(6 * bits // 11)",
        ): "a box of any radius proves, if Krawczyk's test closes on it",
    },
    "rankmath/equilibria/attraction.py": {
        ("_SHORT = 32", "_SHORT = 33"): "bits of matrices that need not be accurate",
        ("_SQUARINGS = 20", "_SQUARINGS = 21"): "how well the spectral radius is guessed",
        ("_SHRINKINGS = 20", "_SHRINKINGS = 21"): "sets that are tried, each proved or not",
        (
            "_FEW_SHARES, _LARGE = (0.2, 0.5, 0.8), 36",
            "_FEW_SHARES, _LARGE = (0.2, 0.5, 0.8), 37",
        ): "norms that are tried; the best is taken",
    },
    "rankmath/equilibria/contraction.py": {
        ("_SHRINKINGS = 40", "_SHRINKINGS = 41"): "sets that are tried, each proved or not"
    },
    "rankmath/decide/adversary.py": {
        ("_STARTS = 512", "_STARTS = 513"): "effort of a search",
        ("_FIRST_ROOMS = 48", "_FIRST_ROOMS = 49"): "effort of a search",
        ("_POPULATION = 96", "_POPULATION = 97"): "effort of a search",
        ("_ROUNDS = 16", "_ROUNDS = 17"): "effort of a search",
        (
            "kept = exact >= camp.score[index] - 1e-9",
            "kept = (exact > camp.score[index] - 1e-09)",
        ): "scores that differ by exactly 1e-9 do not occur",
    },
}


def edits(text: str, file: str) -> Iterator[Plant]:
    """Every small edit of a file: operators, comparisons, ends and roles exchanged, constants moved by one."""
    if file.endswith(".txt"):
        # What stands behind bars is a claim, or what is said of a definition.
        said = "    | " if file.startswith("rankmath/definitions") else "#"
        for new, name in _word_edits(text, said):
            yield Plant(name, file, text, new, ROOMS[file])
        return
    tree = ast.parse(text)
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    data = text.encode()
    quiet = {id(inner) for node in ast.walk(tree) for inner in _no_code(node)}

    def plant(node: ast.AST, new: str, name: str = "") -> Plant:
        assert isinstance(node, ast.expr)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        first = starts[node.lineno - 1] + node.col_offset
        last = starts[node.end_lineno - 1] + node.end_col_offset
        old = data[first:last].decode()
        edit = (data[:first].decode() + new, data[last:].decode())
        lines = (whole.splitlines()[node.lineno - 1].partition("  #")[0].strip() for whole in (text, "".join(edit)))
        why = HARMLESS.get(file, {}).get((next(lines), next(lines)), "")
        return Plant(name or f"line {node.lineno}: {old} -> {new}", file, old, "".join(edit), (*ROOMS[file], file), why)

    for node in ast.walk(tree):
        if id(node) in quiet:
            continue
        if isinstance(node, ast.Constant) and type(node.value) is int:
            yield plant(node, str(node.value + 1))
        elif (
            isinstance(node, ast.Constant) and type(node.value) is str and file.endswith(("statements.py", "rules.py"))
        ):
            for new, name in _word_edits(node.value, "#"):
                yield plant(node, repr(new), f"line {node.lineno}: {name}")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
            yield plant(node, f"({ast.unparse(node.operand)})")
        elif isinstance(node, ast.Name) and node.id in _NAMES:
            yield plant(node, _NAMES[node.id])
        elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
            yield plant(node, f"{ast.unparse(node.value)}.{_NAMES[node.attr]}")
        else:
            for field in ("op", "ops"):
                operator = getattr(node, field, None)
                operator = operator[0] if isinstance(operator, list) else operator
                if type(operator) in _SWAPS and isinstance(node, ast.expr):
                    new = _SWAPS[type(operator)]()
                    changed = ast.parse(ast.unparse(node), mode="eval").body
                    setattr(changed, field, [new, *changed.ops[1:]] if isinstance(changed, ast.Compare) else new)
                    yield plant(node, f"({ast.unparse(changed)})")


def _word_edits(text: str, said: str) -> Iterator[tuple[str, str]]:
    """Every small edit of the formulas of a text, and what it is; lines that begin with # or as `said` are none."""
    for match in re.finditer("|".join(map(re.escape, _WORDS)), text):
        before, after = text[: match.start()].rpartition("\n")[2], text[match.end() :].partition("\n")[0]
        if not before.startswith(("#", said)):
            change = f"[{match.group()} -> {_WORDS[match.group()]}]"
            new = text[: match.start()] + _WORDS[match.group()] + text[match.end() :]
            yield new, f"{before[-30:]}{change}{after[:30]}"


def _no_code(node: ast.AST) -> Iterator[ast.AST]:
    """Annotations, docstrings and what an f-string prints."""
    for name in ("annotation", "returns"):
        if getattr(node, name, None) is not None:
            yield from ast.walk(getattr(node, name))
    if isinstance(node, ast.Expr | ast.JoinedStr | ast.Raise):
        yield from (inner for inner in ast.walk(node) if not isinstance(node, ast.Expr) or _is_text(node))


def _is_text(node: ast.Expr) -> bool:
    return isinstance(node.value, ast.Constant)


def chosen_at_random(count: int, seed: int, only: str) -> tuple[Plant, ...]:
    """`count` edits of the files of `ROOMS` whose name contains `only`, the files in turn."""
    rng = random.Random(seed)
    files = [file for file in ROOMS if only in file]
    pools = [list(edits((ROOT / file).read_text(encoding="utf-8"), file)) for file in files]
    for pool in pools:
        rng.shuffle(pool)
    turns = (pool[i] for i in range(count) for pool in pools if i < len(pool))
    return tuple(plant for _, plant in zip(range(count), turns, strict=False))


def survivors(plants: Sequence[Plant], jobs: int = 1) -> list[Plant]:
    """The plants that no test noticed."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for job in range(jobs):
            copy = Path(folder) / str(job)
            for name in ("rankmath", "tests", "proofs", "docs"):
                shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(ROOT / "setup.cfg", copy)
            copies.put(copy)
        noticed = list(pool.map(lambda plant: _noticed(plant, copies), plants))
    return [plant for plant, red in zip(plants, noticed, strict=True) if not red]


def _noticed(plant: Plant, copies: queue.SimpleQueue[Path]) -> bool:
    """Whether a test fails, or hangs, on a copy of the package with the edit, and not without it."""
    copy = copies.get()
    try:
        failing = _failing_with(plant, copy)
    finally:
        copies.put(copy)  # whatever happens: others wait for it
    print(f"{'SURVIVED' if failing is None else 'killed'}: {plant.file}: {plant.name}", flush=True)
    return failing is not None


def _failing_with(plant: Plant, copy: Path) -> str | None:
    """`_failing` with the edit; a test that is red without it, too, is left out."""
    path = copy / plant.file
    before = path.read_text(encoding="utf-8")
    while True:
        path.write_text(plant.planted(before), encoding="utf-8")
        failing = _failing(plant.tests, copy)
        path.write_text(before, encoding="utf-8")
        if failing is None or _failing([failing] if failing else plant.tests, copy) is None:
            return failing
        if not failing or failing in _SPOILT:
            raise SystemExit(f"{' '.join(plant.tests)}: red without any edit, so it notices nothing")
        _SPOILT.add(failing)
        print(f"{failing}: red without any edit, left out", flush=True)


#: Tests that fail when nothing is planted.
_SPOILT: set[str] = set()


def _failing(tests: Sequence[str], copy: Path) -> str | None:
    """The first test that fails; no name where they hang or cannot be imported; None if all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--no-header", "--tb=no", "-p", "no:xdist", *tests]
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    settings = {**ours, "PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command += [f"--deselect={name}" for name in sorted(_SPOILT)]
    try:
        done = subprocess.run(command, cwd=copy, env=settings, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return ""
    if done.returncode in (0, 5):  # all pass, or all are left out
        return None
    found = re.search(r"^(?:FAILED|ERROR) ([^\s\[]+)", done.stdout.decode(), re.MULTILINE)
    return found.group(1) if found else ""


def main(arguments: list[str] | None = None) -> int:
    """0 if every survivor has its reason."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="plants whose name or file contains this")
    parser.add_argument("--list", action="store_true", help="only say what would be planted")
    parser.add_argument("--random", type=int, default=0, help="plant so many edits that nobody chose")
    parser.add_argument("--seed", type=int, default=0, help="seed of --random")
    parser.add_argument("--jobs", type=int, default=1, help="plants tried at once")
    options = parser.parse_args(arguments)
    chosen = tuple(p for p in filter(fits, by_hand()) if options.only in p.name or options.only in p.file)
    if options.random:
        chosen = chosen_at_random(options.random, options.seed, options.only)
    if options.list:
        print("\n".join(f"{p.file}: {p.name}" for p in chosen))
        return 0
    left = survivors(chosen, options.jobs)
    print(f"{len(chosen) - len(left)} of {len(chosen)} killed")
    for plant in left:
        print(f"survived: {plant.file}: {plant.name}: {plant.survives or 'no reason known'}")
    return 1 if any(not plant.survives for plant in left) else 0


if __name__ == "__main__":
    sys.exit(main())
