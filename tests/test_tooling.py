"""The code is formatted, typed and layered: the tools say so, with the settings in setup.cfg and pyproject.toml."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "-m", "ruff", "check", "."],
        [sys.executable, "-m", "ruff", "format", "--check", "."],
        [sys.executable, "-m", "mypy"],
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
    ],
    ids=["ruff-check", "ruff-format", "mypy-strict", "import-contracts"],
)
def test_tool_is_content(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_plain_import_is_light() -> None:
    """`import rankmath` loads none of the heavy libraries; each comes with the function that needs it."""
    code = (
        "import sys, rankmath; heavy = ('scipy', 'sympy', 'mpmath', 'flint', 'matplotlib', 'cupy', 'torch'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_functions_win_over_rooms_of_the_same_name() -> None:
    """Importing rankmath.certificates.… must not put the package in the place of the function rm.certify."""
    code = (
        "import rankmath.checker.checker, rankmath.decide.campaigns.ledger, rankmath as rm; "
        "from rankmath.checker import checker; print(callable(rm.certify), callable(rm.campaign), checker.FORMAT); "
        "import rankmath.checker.checker as c, rankmath.decide.battery as e, rankmath.certificates.issue as i; "
        "print(c is checker, e.__name__, i.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = ["rankmath.decide.battery", "rankmath.certificates.issue"]
    assert done.stdout.split() == ["True", "True", "rankmath-certificate/2", "True", *names]


def test_every_public_name_loads() -> None:
    import rankmath

    for name in rankmath.__all__:
        assert getattr(rankmath, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = rankmath.nonsense
