"""Programs of benchmarks/ say in one line which peer is missing, before any work."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
WITHOUT = """
import runpy, sys
sys.modules[sys.argv[1]] = None
del sys.argv[:2]
sys.path[0] = sys.argv[0].rpartition("/")[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize(
    ("missing", "command", "words"),
    [
        ("torch", "performance.py run --output OUT", "tables: .*layer.*torch, which is not installed; .* fast"),
        ("torch", "performance.py run layer plain --output OUT", "tables: layer compare with torch"),
        ("cupy", "performance.py run plain --gpu --output OUT", "--gpu: CuPy is not installed"),
        ("cupy", "performance.py run plain --output OUT/missing/file", "--output: .* there is no folder"),
        ("numba", "numba_layer.py", "numba is not installed; .* pip install numba"),
    ],
)
def test_a_peer_that_is_missing_is_named(tmp_path: Path, missing: str, command: str, words: str) -> None:
    name, *options = command.replace("OUT", str(tmp_path / "out")).split()
    program = [sys.executable, "-c", WITHOUT, missing, str(BENCHMARKS / name), *options]
    done = subprocess.run(program, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert re.search(words, done.stderr)
    assert not list(tmp_path.iterdir())
