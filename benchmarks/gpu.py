"""One H200-class GPU: `python benchmarks/gpu.py [OUT.json]` prints the table of docs/performance.md.

Every figure is timed in this run, side by side, with warm-up, device synchronisation and medians.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any

import cupy as cp
import numpy as np
import torch

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.dynamics.backend import on_backend
from rankmath.dynamics.centred import attention_step, centre, weights_of


def milliseconds(functions: dict[str, Any], repeats: int = 21) -> dict[str, float]:
    """Medians of wall time, the candidates interleaved so that all see the same machine."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        for _ in range(3):
            function()
    for _ in range(repeats):
        for name, function in functions.items():
            cp.cuda.Device().synchronize()
            torch.cuda.synchronize()
            began = time.perf_counter()
            function()
            cp.cuda.Device().synchronize()
            torch.cuda.synchronize()
            times[name].append(1e3 * (time.perf_counter() - began))
    return {name: statistics.median(values) for name, values in times.items()}


def layer(n: int, d: int, H: int) -> dict[str, Any]:
    """One centred layer against torch's explicit attention and scaled_dot_product_attention, float64."""
    net = rm.Network.random(n, d, H, 1, seed=0)
    gpu_net, X = on_backend("cupy", net, net.random_input(seed=1))
    A = Float64(X)
    tokens = centre(A, X)
    (weights,) = weights_of(A, gpu_net, stacked=True)
    W_QK, W = (torch.as_tensor(cp.asnumpy(a[0]), device="cuda") for a in (gpu_net.query, gpu_net.value))
    T = torch.as_tensor(cp.asnumpy(X), device="cuda")
    root = float(np.sqrt(d))
    attend = torch.nn.functional.scaled_dot_product_attention

    def explicit() -> Any:
        return (torch.softmax((T @ W_QK) @ T.T / root, dim=-1) @ (T @ W)).sum(0)

    def library() -> Any:
        return attend((T @ W_QK)[None], T.expand(H, n, d)[None], (T @ W)[None]).sum(1)

    plain = cp.asnumpy(rm.forward(gpu_net, X))
    apart = float(np.abs(explicit().cpu().numpy() - plain).max() / np.abs(plain).max())
    times = milliseconds(
        {
            "centred": lambda: attention_step(A, gpu_net, weights, tokens, None),
            "torch explicit": explicit,
            "torch sdpa": library,
            "plain cupy": lambda: rm.forward(gpu_net, X),
        }
    )
    best = min(times["torch explicit"], times["torch sdpa"])
    flops = 4.0 * H * n * n * d
    return {
        "n": n,
        "d": d,
        "H": H,
        **times,
        "torch/centred": best / times["centred"],
        "gflop": flops / 1e9,
        "plain vs torch": apart,
    }


def roofline() -> dict[str, float]:
    """The two ceilings, measured here: float64 matrix product and copy."""
    a = cp.random.standard_normal((8192, 8192))
    s = cp.zeros(2**28)
    t = cp.empty_like(s)
    times = milliseconds({"product": lambda: a @ a, "copy": lambda: cp.copyto(t, s)}, 7)
    return {"TFLOP/s": 2 * 8192**3 / times["product"] / 1e9, "TB/s": 16 * 2**28 / times["copy"] / 1e9}


def large() -> dict[str, Any]:
    """L = 1000, H = 64, n = 1024, d = 64 in one call; n = 65 536 within its memory."""
    out: dict[str, Any] = {}
    net = rm.Network.random(1024, 64, 64, 1000, seed=0)
    net, X = on_backend("cupy", net, net.random_input(seed=1))
    began = time.perf_counter()
    deep = rm.trace(net, X)
    out["deep seconds"] = time.perf_counter() - began
    out["deep order"], out["deep log(-log residual)"] = float(deep.order[-1]), float(deep.log_log_residual[-1])
    del net, X, deep
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    net = rm.Network.random(65536, 64, 1, 2, seed=0)
    net, X = on_backend("cupy", net, net.random_input(seed=1))
    pool.set_limit(size=8 * 2**30)
    began = time.perf_counter()
    wide = rm.trace(net, X)
    out["wide seconds"], out["wide log_residual"] = time.perf_counter() - began, wide.log_residual.tolist()
    out["wide GiB held at the end"] = pool.total_bytes() / 2**30
    pool.set_limit(size=0)
    return out


def devices() -> dict[str, Any]:
    """CPU against GPU, and a batch of small networks."""
    rows = {}
    for n, d, H in ((1024, 64, 8), (2048, 64, 8)):
        net = rm.Network.random(n, d, H, 1, seed=0)
        X = net.random_input(seed=1)
        gpu = on_backend("cupy", net, X)
        times = milliseconds(
            {"cpu": lambda net=net, X=X: rm.trace(net, X), "gpu": lambda gpu=gpu: rm.trace(*gpu)}, 5
        )
        rows[f"n={n} d={d} H={H}"] = {**times, "cpu/gpu": times["cpu"] / times["gpu"]}
    nets = [rm.Network.random(32, 16, 1, 6, seed=s) for s in range(4096)]
    X = np.stack([net.random_input(seed=1 + s) for s, net in enumerate(nets)])
    stack = rm.Network.stack(nets)
    gpu = on_backend("cupy", stack, X)
    times = milliseconds({"cpu": lambda: rm.trace(stack, X), "gpu": lambda: rm.trace(*gpu)}, 5)
    rows["4096 networks n=32 d=16 L=6"] = {**times, "cpu/gpu": times["cpu"] / times["gpu"]}
    return rows


def main() -> None:
    name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    result = {"gpu": name, "cupy": cp.__version__, "torch": torch.__version__, "roofline": roofline()}
    result["layer"] = [layer(*shape) for shape in ((4096, 64, 16), (1024, 64, 64), (2048, 32, 16), (8192, 64, 4))]
    for row in result["layer"]:
        row["of product rate"] = row["gflop"] / row["centred"] / result["roofline"]["TFLOP/s"]
    result["devices"] = devices()
    result["large"] = large()
    text = json.dumps(result, indent=1)
    print(text)
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
