"""Machine code is kept, and what was kept is what would be made; nothing that others may have written is run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankmath.attention.softmax import row_softmax
from rankmath.kernels import compiled, machine_code

pytestmark = pytest.mark.skipif(compiled.kernel() is None, reason="llvmlite, or fused multiply-add, is missing")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: Any) -> Path:
    monkeypatch.setenv("RANKMATH_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def fresh() -> compiled.Kernel:
    """A kernel that has compiled nothing yet."""
    known = compiled.kernel()
    assert known is not None
    return compiled.Kernel(known.shape, known._features)


def averaged(kernel: compiled.Kernel) -> Any:
    """The averages of the rows that softmax(X Xᵀ) makes."""
    out, tasks = compiled.fused_average(kernel, 0.0, 1.0, X, X, np.ones((len(X), 1)), X, 1)
    for task in tasks:
        task()
    return out


def makes_no_code(monkeypatch: Any) -> None:
    import llvmlite.binding as llvm

    def emit(*_: Any) -> bytes:
        raise AssertionError("code was made")

    monkeypatch.setattr(llvm.TargetMachine, "emit_object", emit)


X = np.linspace(-3.0, 3.0, 120).reshape(40, 3) + np.eye(40, 3)


def test_code_is_made_once(kept: Path, monkeypatch: Any) -> None:
    made = averaged(fresh())
    np.testing.assert_allclose(made, row_softmax(X @ X.T) @ X, rtol=1e-13)
    assert list(kept.glob("*.o"))
    assert kept.stat().st_mode & 0o777 == 0o700
    makes_no_code(monkeypatch)
    assert (averaged(fresh()) == made).all()


def test_other_code_and_other_registers_are_other_files(kept: Path) -> None:
    known, more = fresh(), compiled.Shape(2, 4, 2)
    for shape in (known.shape, more, known.shape):
        compiled.Kernel(shape, known._features).compiled("pack", compiled.packing(shape), 3, 6)
    assert len(list(kept.glob("*.o"))) == 2
    code = compiled.packing(known.shape)
    known.compiled("pack", code + "\n; a word more\n", 3, 6)
    compiled.Kernel(known.shape, known._features + ",").compiled("pack", code, 3, 6)
    assert len(list(kept.glob("*.o"))) == 4


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "digest"])
def test_damaged_files_are_made_anew(kept: Path, monkeypatch: Any, damage: str) -> None:
    made = averaged(fresh())
    for path in kept.glob("*.o"):
        raw = path.read_bytes()
        broken = {"cut": raw[:-1], "changed": raw[:-1] + bytes([raw[-1] ^ 1]), "empty": b"", "digest": raw[:32]}[damage]
        path.write_bytes(broken)
    assert (averaged(fresh()) == made).all()
    makes_no_code(monkeypatch)  # whole again
    assert (averaged(fresh()) == made).all()


def test_where_others_write_nothing_is_kept(kept: Path) -> None:
    kept.mkdir()
    kept.chmod(0o777)
    assert machine_code.folder() is None
    averaged(fresh())
    assert not list(kept.iterdir())
    kept.chmod(0o755)
    assert machine_code.folder() == kept


def test_the_folder(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("RANKMATH_CACHE", "")
    assert machine_code.folder() is None
    np.testing.assert_allclose(averaged(fresh()), row_softmax(X @ X.T) @ X, rtol=1e-13)
    monkeypatch.delenv("RANKMATH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert machine_code.folder() == tmp_path / "rankmath"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert machine_code.folder() == tmp_path / "home" / ".cache" / "rankmath"
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RANKMATH_CACHE", str(tmp_path / "file" / "kept"))
    assert machine_code.folder() is None


def test_a_folder_that_is_taken_away_costs_time_alone(kept: Path, monkeypatch: Any) -> None:
    def gone(*_: Any) -> Path:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(machine_code, "write", gone)
    np.testing.assert_allclose(averaged(fresh()), row_softmax(X @ X.T) @ X, rtol=1e-13)


def test_few_files_are_kept(kept: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(machine_code, "_MOST", 3)
    kept.mkdir(mode=0o700)
    for k in range(6):
        (kept / f"{k}.o").write_bytes(b"old")
        os.utime(kept / f"{k}.o", (k, k))
    code = compiled.packing(fresh().shape)
    fresh().compiled("pack", code, 3, 6)
    names = {path.name for path in kept.glob("*.o")}
    assert len(names) == 3
    assert {"4.o", "5.o"} < names


@pytest.mark.parametrize(("version", "usable"), [((15, 0, 7), False), ((20, 1, 8), True)])
def test_a_compiler_that_cannot_read_the_code_is_not_used(
    version: tuple[int, int, int], usable: bool, monkeypatch: Any
) -> None:
    """LLVM 15, that of llvmlite 0.44, reads no `ptr`: layers run in NumPy."""
    import llvmlite.binding as llvm

    monkeypatch.setattr(llvm, "llvm_version_info", version)
    assert compiled.has_compiler.__wrapped__() is usable
    monkeypatch.setattr(compiled, "has_compiler", compiled.has_compiler.__wrapped__)
    assert (compiled.kernel.__wrapped__() is None) is not usable
