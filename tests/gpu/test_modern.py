"""Positions, grouped heads, QK-norm, caps and gates on a GPU: the general path agrees with the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankmath as rm

cupy: Any = pytest.importorskip("cupy", reason="CuPy is not installed: pip install 'rankmath[gpu]'")


def _device_count() -> int:
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return 0


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(_device_count() == 0, reason="no CUDA device")]

_GROUPED = {"tokens": 6, "dim": 8, "heads": 4, "kv_heads": 2, "layers": 3, "positions": "rotary"}
KINDS: list[dict[str, Any]] = [
    _GROUPED,
    {**_GROUPED, "mask": "causal", "window": 3},
    {**_GROUPED, "qk_norm": True, "biases": True},
    {**_GROUPED, "softcap": 1.5},
    {**_GROUPED, "norm": "rms", "norm_at": "before", "skip": True, "mlp": "swiglu", "mask": "causal"},
    {"tokens": 6, "dim": 4, "heads": 2, "layers": 3, "positions": "alibi"},
]


@pytest.mark.parametrize("kind", KINDS)
def test_the_gpu_agrees_with_the_cpu(kind: dict[str, Any]) -> None:
    net = rm.Network.random(seed=2, **kind)
    X = net.random_input(seed=1)
    here, there = rm.trace(net, X), rm.trace(net, X, backend="cupy")
    assert there.log_residual == pytest.approx(here.log_residual, abs=1e-11)
    assert cupy.asnumpy(rm.forward(net, X, backend="cupy")) == pytest.approx(rm.forward(net, X), abs=1e-12)
    batch = np.stack([X, 2 * X])
    assert rm.trace(net, batch, backend="cupy").log_residual[:, 0] == pytest.approx(here.log_residual, abs=1e-11)
