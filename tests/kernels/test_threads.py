"""Products and tasks shared among threads are what one thread makes, and BLAS gets its threads back."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic import numpy64
from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.numpy64 import NumPy64
from rankmath.kernels.compiled import Shape, kernel
from rankmath.kernels.compiled_network import chunk_of


def _blas_threads() -> list[int]:
    return [lib.num_threads for lib in numpy64._controller().lib_controllers if lib.user_api == "blas"]


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("rows", [2, 7, 64])
def test_shared_products_are_products(monkeypatch: Any, threads: int, rows: int) -> None:
    monkeypatch.setattr(numpy64, "_SHARED_PRODUCT", 0)
    a, b = np.random.default_rng(rows).standard_normal((rows, 5)), np.random.default_rng(1).standard_normal((5, 9))
    A = Float64(a)
    A.__dict__["_threads"] = threads
    np.testing.assert_allclose(A.matmul(a, b), a @ b, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(A.matmul(a[:, ::2], b[::2]), a[:, ::2] @ b[::2], rtol=1e-14, atol=1e-14)


def test_blas_has_one_thread_inside_and_its_own_again_outside() -> None:
    A, before = Float64(np.zeros(1)), _blas_threads()
    A.__dict__["_threads"] = 2
    inside = []
    with A.blas_alone(2**30):
        inside.append(_blas_threads())
        list(A.in_turn([lambda: inside.append(_blas_threads())] * 3, 2**30))  # one within another
        inside.append(_blas_threads())
    assert inside == [[1] * len(before)] * 5
    assert _blas_threads() == before
    with pytest.raises(ZeroDivisionError):
        list(A.in_turn([lambda: 1 // 0] * 3, 2**30))
    assert _blas_threads() == before
    list(A.in_turn([lambda: inside.append(_blas_threads())] * 2, 2**30))
    assert inside[5:] == [[1] * len(before)] * 2


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("n", [64, 100, 128, 200, 256, 300, 1000, 1024])
@pytest.mark.parametrize("lanes", [2, 8])
def test_parts_of_the_rows_leave_no_thread_with_many_more_than_its_share(n: int, threads: int, lanes: int) -> None:
    for d in (16, 64, 256):
        chunk, ends = chunk_of(n, d, threads, Shape(lanes, 6, 4)), [0] * threads
        assert chunk % 6 == 0
        for start in range(0, n, chunk):  # whoever is free takes the next
            ends[ends.index(min(ends))] += min(chunk, n - start)
        assert max(ends) <= (n if threads == 1 else 1.1 * n / threads + 6)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_stops_a_layer_that_takes_long(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    """It does not wait for the end of compiled code; the next run waits for the memory, and has the same numbers."""
    if kernel() is None:
        pytest.skip("the extra `fast` compiles layers")
    monkeypatch.setattr(NumPy64, "threads_for", lambda self, entries: threads)
    net = rm.Network.random(1500, 128, 8, 1, seed=0)
    X = net.random_input(seed=1)
    rm.trace(net, X)
    began = time.perf_counter()
    whole = rm.trace(net, X).log_residual
    long = time.perf_counter() - began
    main = threading.main_thread().ident
    assert main is not None
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
    threading.Timer(long / 8, signal.pthread_kill, (main, signal.SIGINT)).start()
    began = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            rm.trace(net, X)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.perf_counter() - began < long * 0.7
    np.testing.assert_array_equal(rm.trace(net, X).log_residual, whole)
