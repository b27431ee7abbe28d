"""The kernels compile for a GPU where there is none: NVIDIA's compiler is a library (`nvidia-cuda-nvrtc-cu12`)."""

from __future__ import annotations

import ctypes
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from rankmath.kernels import cuda, cuda_kernels


def _library() -> Path | None:
    found = find_spec("nvidia")
    folders = [] if found is None else list(found.submodule_search_locations or ())
    places = (path for folder in folders for path in sorted(Path(folder).glob("*/lib/libnvrtc.so.*")))
    return next(places, None)


pytestmark = pytest.mark.skipif(_library() is None, reason="nvidia-cuda-nvrtc-cu12 is not installed")


@cache
def report(code: str, options: tuple[str, ...] = ()) -> dict[str, tuple[int, int]]:
    """Registers and bytes spilled of every kernel, as the assembler says."""
    path = _library()
    assert path is not None
    for part in sorted(path.parent.glob("libnvrtc-builtins.so.*")):
        ctypes.CDLL(str(part), mode=ctypes.RTLD_GLOBAL)
    library, program, size = ctypes.CDLL(str(path)), ctypes.c_void_p(), ctypes.c_size_t()
    given = [o.encode() for o in ("-std=c++17", "-arch=sm_90", "--ptxas-options=-v", *options)]
    library.nvrtcCreateProgram(ctypes.byref(program), code.encode(), b"kernels.cu", 0, None, None)
    failed = library.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given))
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    text = log.value.decode()
    assert not failed, text
    kernel = r"entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers"
    return {name: (int(used), int(spilled)) for name, spilled, used in re.findall(kernel, text, re.DOTALL)}


@pytest.mark.parametrize("K", [8, 64, 72, 136, 256])
def test_the_kernels_of_a_layer_compile(K: int) -> None:
    found = report(cuda.PRIMITIVES + cuda.LARGEST + cuda.EXPM1 + cuda_kernels.source(K))
    names = ("units", "scores", "relative", "project", "covariance", "thin", "collect", "recentre", "normalise")
    wide = ("pull", "lifted", "average", "average_long") if K > cuda.WIDEST else ()
    assert set(found) == {*names, *wide, "clear", "squares", "pairs", "measured"}
    # What a block waits for most: nothing of their loops goes to memory and back.
    assert [found[name][1] for name in wide[:3]] == [0] * len(wide[:3])
    assert all(spilled <= 16 for _, spilled in found.values())


@pytest.mark.parametrize("K", range(8, 72, 8))
def test_the_large_kernel_keeps_its_rows_in_registers(K: int) -> None:
    options = tuple(f"-D{name}={value}" for name, value in {"K": K, "V": K, "WARPS": 4, "TILE": 32}.items())
    found = report(cuda.PRIMITIVES + cuda.LARGEST + cuda.EXPM1 + cuda.DEVIATION, options)
    assert found["deviation"][1] == 0


def test_the_small_kernels_compile() -> None:
    assert {"largest", "first_largest", "relative"} <= set(report(cuda.PRIMITIVES + cuda._SMALL))
