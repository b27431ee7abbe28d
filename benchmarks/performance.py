"""The tables of docs/performance.md. Every quotient is of two things timed in one run, in turns, medians.

    python benchmarks/performance.py run [TABLE…] --output cpu.json          a machine without a GPU
    python benchmarks/performance.py run [TABLE…] --output gpu.json --gpu    a machine with one
    python benchmarks/performance.py run layer --sizes 512,256,8 700,200,9 --output FILE     sizes of your own
    python benchmarks/performance.py write benchmarks/results/*.json         the tables of docs/performance.md

Peers are what a user would write instead: explicit softmax attention and `scaled_dot_product_attention` of torch,
both in float64; a loop over networks; all paths one by one; the definition in mpmath.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from timing import side_by_side

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.attention.backend import mover, on_backend
from rankmath.attention.centred import attention_step
from rankmath.attention.plain import apply_sublayer, by_definition
from rankmath.attention.tokens import centre
from rankmath.attention.weights import stacks_heads, weights_of
from rankmath.equilibria.map import newton, newton_from, normalise
from rankmath.equilibria.search import _Family, log_modulus_mean
from rankmath.files import writable
from rankmath.kernels.compiled import Packed, aligned, kernel
from rankmath.model.sublayers import MLP, Attention, LayerNorm, Sublayer

Row = dict[str, Any]
Size = tuple[int, int, int]

#: n, d, H of the layers on a GPU: small ones are launches, large ones products.
GRID = [
    *((64, 16, 1), (256, 32, 8), (256, 64, 64), (512, 64, 12), (1024, 64, 1), (1024, 64, 64), (2048, 32, 16)),
    *((2048, 64, 16), (4096, 16, 16), (4096, 64, 16), (8192, 32, 8), (8192, 64, 4), (16384, 64, 1)),
    *((128, 128, 4), (512, 256, 8), (1024, 128, 16), (2048, 256, 4), (4096, 128, 8), (8192, 128, 2)),
    (4096, 256, 16),
]
#: … on a CPU.
CPU_GRID = [
    *((16, 8, 1), (64, 16, 1), (64, 64, 8), (128, 32, 4), (256, 32, 8), (256, 64, 8), (256, 128, 16)),
    *((256, 256, 4), (512, 16, 4), (512, 64, 12), (1024, 16, 8), (1024, 64, 1), (1024, 64, 8), (1024, 128, 8)),
    *((1024, 256, 2), (2048, 32, 8), (4096, 64, 1)),
]
#: … eight of them.
CPU_DEPTHS = [(16, 8, 1), (64, 16, 1), (64, 256, 4), (128, 128, 8), (256, 32, 8), (256, 256, 4), (1024, 64, 8)]
BATCHES = [(8, 64, 16, 1), (32, 128, 32, 4), (64, 64, 64, 12), (16, 256, 64, 8), (4, 1024, 64, 8), (8, 512, 128, 4)]


class Machine:
    """Where arrays live, and how to wait for them; n, d, H of layers in the place of a table's own."""

    def __init__(self, gpu: bool, sizes: list[Size] | None = None) -> None:
        self.gpu, self.sizes = gpu, sizes
        if gpu:
            import cupy

            self.cupy = cupy

    def wait(self) -> None:
        if self.gpu:
            self.cupy.cuda.Device().synchronize()

    def there(self, net: Any, X: Any) -> tuple[Any, Any]:
        return on_backend("cupy", net, X) if self.gpu else (net, X)

    def home(self, a: Any) -> Any:
        return self.cupy.asnumpy(a) if self.gpu else a

    def torch(self, a: Any) -> Any:
        import torch

        return torch.as_tensor(np.ascontiguousarray(a), device="cuda" if self.gpu else "cpu")

    def times(
        self,
        candidates: dict[str, Callable[[], Any]],
        repeats: int = 15,
        *,
        settle: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> dict[str, Any]:
        def waiting(function: Callable[[], Any]) -> Callable[[], Any]:
            def run() -> None:
                function()
                self.wait()  # one device: this waits for torch as well

            return run

        waited = {name: waiting(f) for name, f in candidates.items()}
        return side_by_side(waited, repeats, settle=settle, clock=clock)

    def words(self) -> str:
        if self.gpu:
            name = self.cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
            return f"one {name}, CuPy {self.cupy.__version__}, CUDA {self.cupy.cuda.runtime.runtimeGetVersion()}"
        info = Path("/proc/cpuinfo")
        named = re.search(r"model name\s*: (.*)", info.read_text(encoding="utf-8") if info.exists() else "")
        name = named[1] if named else compiler_name()
        kind = platform.machine() + (f", {name}" if name else "")
        fast = ", with the extra `fast`" if kernel() else ""
        return f"{len(os.sched_getaffinity(0))} cores ({kind}), NumPy {np.__version__}{fast}"


def compiler_name() -> str:
    """What LLVM calls this processor, which aarch64's own description gives as numbers."""
    try:
        import llvmlite.binding as llvm
    except ImportError:
        return ""
    return str(llvm.get_host_cpu_name())


def thread(machine: Machine) -> list[Row]:
    """One centred layer, and its `trace`, against torch on one thread, in processor time."""
    import torch
    from threadpoolctl import threadpool_limits

    if machine.gpu:
        return []
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            return layer(machine, clock=time.process_time)
    finally:
        torch.set_num_threads(threads)


def layer(machine: Machine, clock: Callable[[], float] = time.perf_counter) -> list[Row]:
    """One centred layer, and the whole `trace` of it with norms and diameters, against torch."""
    import torch

    shapes = [(1, *size) for size in machine.sizes or (GRID if machine.gpu else CPU_GRID)]
    if machine.gpu and not machine.sizes:
        shapes += BATCHES
    attend = torch.nn.functional.scaled_dot_product_attention
    rows = []
    for B, n, d, H in shapes:
        net = rm.Network.random(n, d, H, 1, seed=0)
        X = np.stack([net.random_input(seed=1 + k) for k in range(B)]) if B > 1 else net.random_input(seed=1)
        T, W_QK, W = (machine.torch(a) for a in (X.reshape(B, 1, n, d), net.query[0], net.value[0]))
        net, X = machine.there(net, X)
        A = Float64(X)
        tokens, (attention,) = centre(A, X), net.attentions
        weights = weights_of(A, attention, stacked=stacks_heads(A, attention, X), batch_axes=X.ndim - 2)

        def explicit(T: Any = T, W_QK: Any = W_QK, W: Any = W, root: float = math.sqrt(d)) -> Any:
            return (torch.softmax((T @ W_QK) @ T.mT / root, dim=-1) @ (T @ W)).sum(1)

        def library(T: Any = T, W_QK: Any = W_QK, W: Any = W, shape: Any = (B, H, n, d)) -> Any:
            return attend(T @ W_QK, T.expand(shape), T @ W).sum(1)

        def centred(A: Any = A, weights: Any = weights, tokens: Any = tokens) -> Any:
            return attention_step(A, weights, tokens, None)

        with torch.no_grad():
            apart = float(abs(explicit() - library()).max() / abs(library()).max())
            assert apart < 1e-12, f"torch's two answers differ by {apart}"
            times = machine.times(
                {
                    "centred": centred,
                    "trace": lambda net=net, X=X: rm.trace(net, X),
                    "torch explicit": explicit,
                    "torch sdpa": library,
                    "plain": lambda A=A, net=net, X=X: by_definition(A, net, X),
                },
                repeats=15 if machine.gpu or n * d * H <= 2**17 else 5,
                settle=True,
                clock=clock,
            )
        fastest = min(times["ratio"]["torch explicit"], times["ratio"]["torch sdpa"])
        milliseconds = {f"{name}, ms": 1e3 * t for name, t in times["seconds"].items()}
        sizes = {"batch": B, "n": n, "d": d, "H": H}
        row = {**sizes, **milliseconds, "explicit/centred": times["ratio"]["torch explicit"]}
        row["explicit/trace"] = times["ratio"]["torch explicit"] / times["ratio"]["trace"]
        row |= {"faster of torch/centred": fastest, "faster of torch/trace": fastest / times["ratio"]["trace"]}
        rows.append({**row, "gflop": 4e-9 * B * H * n * n * d})
    return rows


def tile(machine: Machine) -> list[Row]:
    """GFLOP/s of one head's kernel (logits, exponentials, averages) against torch's products, and that of n × n."""
    import torch

    if machine.gpu or (compiled := kernel()) is None:
        return []
    n, large, threads = 1024, torch.randn(1024, 1024, dtype=torch.float64), torch.get_num_threads()
    torch.set_num_threads(1)
    rows = []
    for d in (16, 64, 128, 256):
        left, right, values = np.random.default_rng(0).standard_normal((3, n, d)) / d
        keys = Packed.of(compiled, 1.0, right, np.full((n, 1), 1.0 / n), values)
        out = aligned(-(-n // compiled.shape.rows) * compiled.shape.rows, keys.columns)
        T, S, V = (torch.as_tensor(a) for a in (left, right, values))
        candidates = {
            "kernel": lambda left=left, keys=keys, out=out: compiled.rows(1.0, left, keys, out),
            "two products of torch": lambda T=T, S=S, V=V: (T @ S.T) @ V,
            "square product": lambda: large @ large,
        }
        flops = dict.fromkeys(candidates, 4e-9 * n * n * d) | {"square product": 2e-9 * n**3}
        times = machine.times(candidates, 25, clock=time.process_time)
        rates = {name: flops[name] / t for name, t in times["seconds"].items()}
        share = flops["kernel"] / flops["square product"] * times["ratio"]["square product"]
        rows.append({"n": n, "d": d, **rates, "kernel/square product": share})
    torch.set_num_threads(threads)
    return rows


def depth(machine: Machine) -> list[Row]:
    """`trace` and `forward` of eight layers against eight layers of torch."""
    import torch

    shapes = [
        *((64, 16, 1), (256, 32, 8), (512, 64, 12), (1024, 64, 16), (2048, 64, 8), (4096, 64, 16)),
        *((128, 256, 4), (512, 256, 8), (1024, 128, 16), (2048, 256, 4)),
    ]
    attend, rows = torch.nn.functional.scaled_dot_product_attention, []
    for n, d, H in shapes if machine.gpu else CPU_DEPTHS:
        net = rm.Network.random(n, d, H, 8, seed=0)
        X, W_QK, W = (machine.torch(a) for a in (net.random_input(seed=1), net.query, net.value))
        there = machine.there(net, net.random_input(seed=1))

        def explicit(T: Any = X, W_QK: Any = W_QK, W: Any = W, root: float = math.sqrt(d)) -> Any:
            for Q, V in zip(W_QK, W, strict=True):
                T = (torch.softmax((T @ Q) @ T.T / root, dim=-1) @ (T @ V)).sum(0)
            return T

        def library(T: Any = X, W_QK: Any = W_QK, W: Any = W, shape: Any = (H, n, d)) -> Any:
            for Q, V in zip(W_QK, W, strict=True):
                T = attend((T @ Q)[None], T.expand(shape)[None], (T @ V)[None]).sum(1)[0]
            return T

        candidates = {"trace": lambda there=there: rm.trace(*there), "forward": lambda there=there: rm.forward(*there)}
        with torch.no_grad():
            times = machine.times(candidates | {"torch explicit": explicit, "torch sdpa": library}, 7, settle=True)
        seconds = times["seconds"]
        fastest = min(seconds["torch explicit"], seconds["torch sdpa"])
        row = {"n": n, "d": d, "H": H, "L": 8, **{f"{name}, ms": 1e3 * t for name, t in seconds.items()}}
        rows.append({**row, **{f"faster of torch/{name}": fastest / seconds[name] for name in ("trace", "forward")}})
    return rows


def model(machine: Machine) -> list[Row]:
    """One layer of a model in use (attention with biases, GELU, two LayerNorms, skips) against torch."""
    import torch

    if machine.gpu:
        return []
    n, d, H, functional = 512, 768, 12, torch.nn.functional
    rng = np.random.default_rng(0)
    shapes = [(d, d)] * 4 + [(d, 4 * d), (4 * d, d)]
    weights = [rng.standard_normal(shape) / math.sqrt(shape[0]) for shape in shapes]
    Q, K, V, O, W_in, W_out = weights
    b_in, b_out, bias, gain, offset = (0.1 * rng.standard_normal(size) for size in (4 * d, d, d, d, d))
    query, key, value = (W.reshape(d, H, d // H).transpose(1, 0, 2) for W in (Q, K, V))
    output = O.reshape(H, d // H, d)
    attention = Attention(query=query, key=key, value=value, output=output, d_qk=d // H, bias=bias)
    norm, mlp = LayerNorm("standard", 1e-12, gain, offset), MLP(W_in, W_out, b_in, b_out, "gelu")
    sublayers = Sublayer(attention, 1.0, None, norm), Sublayer(mlp, 1.0, None, norm)
    X = rng.standard_normal((n, d))
    A, masks = Float64(X), {id(attention): None}
    tQ, tK, tV, tO, t_in, t_out, u_in, u_out, u, g, o, T = map(
        machine.torch, (*weights, b_in, b_out, bias, gain, offset, X)
    )

    def ours() -> Any:
        Y = X
        for sublayer in sublayers:
            Y = apply_sublayer(A, sublayer, Y, masks)
        return Y

    def theirs() -> Any:
        q, k, v = ((T @ W).view(n, H, d // H).transpose(0, 1)[None] for W in (tQ, tK, tV))
        Y = functional.scaled_dot_product_attention(q, k, v)[0].transpose(0, 1).reshape(n, d)
        Y = functional.layer_norm(T + torch.addmm(u, Y, tO), (d,), g, o, 1e-12)
        Z = torch.addmm(u_out, functional.gelu(torch.addmm(u_in, Y, t_in)), t_out)
        return functional.layer_norm(Y + Z, (d,), g, o, 1e-12)

    with torch.no_grad():
        assert abs(ours() - machine.home(theirs().numpy())).max() < 1e-12
        times = machine.times({"ours": ours, "torch": theirs}, 15, settle=True)
    milliseconds = {f"{name}, ms": 1e3 * t for name, t in times["seconds"].items()}
    return [{"tokens": n, "width": d, "heads": H, **milliseconds, "torch/ours": times["ratio"]["torch"]}]


def roofline(machine: Machine) -> list[Row]:
    """How far a layer is from the rate of a float64 matrix product and from the bandwidth of a copy."""
    xp: Any = machine.cupy if machine.gpu else np
    size, length = (8192, 2**28) if machine.gpu else (2048, 2**26)
    a, s = xp.asarray(np.random.default_rng(0).standard_normal((size, size))), xp.zeros(length)
    t = xp.empty_like(s)
    n, d, H = (4096, 64, 16) if machine.gpu else (1024, 64, 8)
    net = rm.Network.random(n, d, H, 1, seed=0)
    net, X = machine.there(net, net.random_input(seed=1))
    A = Float64(X)
    tokens, (attention,) = centre(A, X), net.attentions
    weights = weights_of(A, attention, stacked=stacks_heads(A, attention, X))
    seconds = machine.times(
        {
            "layer": lambda: attention_step(A, weights, tokens, None),
            "product": lambda: a @ a,
            "copy": lambda: xp.copyto(t, s),
        },
        settle=True,
    )["seconds"]
    rate, bandwidth = 2e-9 * size**3 / seconds["product"], 16e-9 * length / seconds["copy"]
    floor = 4e-9 * H * n * n * d / rate
    row = {"n": n, "d": d, "H": H, "GFLOP/s of a product": rate, "GB/s of a copy": bandwidth}
    taken = seconds["layer"]
    row |= {"floor, ms": 1e3 * floor, "layer, ms": 1e3 * taken, "layer/floor": taken / floor}
    return [row if machine.gpu else row | _exponentials(machine)]


def _exponentials(machine: Machine) -> Row:
    """What one exponential costs on one core, in NumPy and in torch."""
    import torch

    x = np.random.default_rng(0).standard_normal(2**18)
    T, out, threads = torch.from_numpy(x), np.empty_like(x), torch.get_num_threads()
    torch.set_num_threads(1)
    seconds = machine.times({"NumPy": lambda: np.exp2(x, out=out), "torch": lambda: torch.exp(T)})["seconds"]
    torch.set_num_threads(threads)
    return {f"ns of an exponential, {name}": 1e9 * t / x.size for name, t in seconds.items()}


def plain(machine: Machine) -> list[Row]:
    """The centred pass (with its norms and diameters) against the plain one, by scale of the input."""
    n, d, H = (4096, 64, 16) if machine.gpu else (1024, 64, 8)
    rows = []
    for scale in (1.0, 0.1, 1e-6):
        net = rm.Network.random(n, d, H, 1, seed=0)
        there = machine.there(net, net.random_input(seed=1, scale=scale))
        times = machine.times(
            {
                "plain": lambda there=there: by_definition(Float64(there[1]), *there),
                "centred": lambda there=there: rm.trace(*there),
            },
            9,
        )
        rows.append({"n": n, "d": d, "H": H, "scale": scale, "centred/plain": times["ratio"]["centred"]})
    return rows


def mpmath(machine: Machine) -> list[Row]:
    """Float64 centred against the definition in mpmath, with the digits that the same accuracy takes there."""
    rows = []
    for L in (2, 4, 6):
        net = rm.Network.random(32, 16, 1, L, seed=0)
        X = net.random_input(seed=1)
        fast, slow = rm.trace(net, X).log_residual, rm.reference_trace(net, X)
        # 13 digits of the residual where the trace has them: what it shrinks by, and 13 more.
        digits = math.ceil(13 + float(slow.log_residual[0] - slow.log_residual[-1]) / math.log(10))
        there = rm.reference_trace(net, X, digits=digits).log_residual
        times = machine.times(
            {
                "centred": lambda net=net, X=X: rm.trace(net, X),
                "mpmath": lambda net=net, X=X, digits=digits: rm.reference_trace(net, X, digits=digits),
            },
            3,
        )
        worst = [float(np.max(np.abs(np.expm1(a - slow.log_residual)))) for a in (fast, there)]
        row = {"L": L, "digits of mpmath": digits, "mpmath/centred": times["ratio"]["mpmath"]}
        rows.append({**row, "error of centred": worst[0], "error of mpmath": worst[1]})
    return rows


def paths(machine: Machine) -> list[Row]:
    """All (1+H)^L paths summed by length against one by one."""
    rows = []
    for H, L in ((1, 12), (2, 7), (3, 6)):
        net = rm.Network.random(16, 8, H, L, seed=0, skip=True)
        X = net.random_input(seed=1)

        def enumerate_all(net: Any = net, X: Any = X, H: int = H, L: int = L) -> Any:
            sums, P = np.zeros((L + 1, *X.shape)), rm.attention_matrices(net, X)
            for path in itertools.product(range(H + 1), repeat=L):
                term = X
                for l, h in enumerate(path):
                    term = net.skip * term if h == 0 else P[l, h - 1] @ term @ net.W[l, h - 1]
                sums[sum(h > 0 for h in path)] += term
            return sums

        sums = rm.path_sums(net, X).terms
        assert np.allclose(sums, enumerate_all(), rtol=1e-10, atol=1e-10 * np.abs(sums).max())
        times = machine.times({"sums": lambda net=net, X=X: rm.path_sums(net, X), "one by one": enumerate_all}, 3)
        rows.append({"H": H, "L": L, "paths": (1 + H) ** L, "one by one/sums": times["ratio"]["one by one"]})
    return rows


def lengths(machine: Machine) -> list[Row]:
    """`path_sums` of eight layers with skips against the same recursion in torch, whose matrices P are n × n."""
    import torch

    shapes = [(64, 16, 1), (256, 32, 8), (512, 64, 12), (1024, 64, 16), (2048, 64, 8)]
    rows = []
    for n, d, H in shapes if machine.gpu else [(64, 16, 1), (256, 32, 8), (512, 64, 8)]:
        net = rm.Network.random(n, d, H, 8, seed=0, skip=True, scale=0.5 / math.sqrt(H))
        X, W_QK, W = (machine.torch(a) for a in (net.random_input(seed=1), net.query, net.value))
        there = machine.there(net, net.random_input(seed=1))

        def recursion(T: Any = X, W_QK: Any = W_QK, W: Any = W, root: float = math.sqrt(d)) -> Any:
            S = T[:, None]  # n, lengths, d
            for Q, V in zip(W_QK, W, strict=True):
                P = torch.softmax((T @ Q) @ T.T / root, dim=-1)
                seen = (P @ S.flatten(1)).view(len(V), -1, V.shape[-1])
                longer = (seen @ V).sum(0).view_as(S)
                S = torch.nn.functional.pad(S, (0, 0, 0, 1)) + torch.nn.functional.pad(longer, (0, 0, 1, 0))
                T = S.sum(1)
            return S.transpose(0, 1)

        with torch.no_grad():
            ours, theirs = machine.home(rm.path_sums(*there).terms), recursion().cpu().numpy()
            apart = float(abs(ours - theirs).max() / abs(theirs).max())
            assert apart < 1e-12, f"the path sums differ by {apart}"
            times = machine.times(
                {"path_sums": lambda there=there: rm.path_sums(*there), "torch": recursion}, 7, settle=True
            )
        milliseconds = {f"{name}, ms": 1e3 * t for name, t in times["seconds"].items()}
        rows.append({"n": n, "d": d, "H": H, "L": 8, **milliseconds, "torch/path_sums": times["ratio"]["torch"]})
    return rows


def batch(machine: Machine) -> list[Row]:
    """Thousands of small networks in one call against a loop over them."""
    rows = []
    for count, n, d, L in ((4096, 16, 8, 6),) if not machine.gpu else ((4096, 16, 8, 6), (4096, 32, 16, 6)):
        nets = [rm.Network.random(n, d, 1, L, seed=s) for s in range(count)]
        X = np.stack([net.random_input(seed=1 + s) for s, net in enumerate(nets)])
        stack = machine.there(rm.Network.stack(nets), X)
        pairs = list(zip(nets, X, strict=True))
        candidates = {
            "one call": lambda stack=stack: rm.trace(*stack),
            "loop on the CPU": lambda pairs=pairs: [rm.trace(net, x) for net, x in pairs],
        }
        if machine.gpu:
            cpu = rm.Network.stack(nets)
            candidates["one call on the CPU"] = lambda cpu=cpu, X=X: rm.trace(cpu, X)
        times = machine.times(candidates, 3)
        ratios = {f"{name}/one call": r for name, r in times["ratio"].items() if name != "one call"}
        rows.append({"networks": count, "n": n, "d": d, "L": L, "one call, s": times["seconds"]["one call"], **ratios})
    return rows


def devices(machine: Machine) -> list[Row]:
    """`trace` on the CPU against `trace` on the GPU of one machine."""
    if not machine.gpu:
        return []
    rows = []
    for n, d, H in ((256, 64, 8), (1024, 64, 8), (2048, 64, 8)):
        net = rm.Network.random(n, d, H, 1, seed=0)
        X = net.random_input(seed=1)
        gpu = machine.there(net, X)
        times = machine.times({"gpu": lambda gpu=gpu: rm.trace(*gpu), "cpu": lambda net=net, X=X: rm.trace(net, X)}, 5)
        cores = len(os.sched_getaffinity(0))
        rows.append({"n": n, "d": d, "H": H, "cores": cores, "cpu/gpu": times["ratio"]["cpu"]})
    return rows


def searches(machine: Machine) -> list[Row]:
    """Searches for equilibria: Newton's method from 1000 starts, and one gradient of the search for stable ones."""
    rows = []
    for n in (3, 6, 8, 12) if machine.gpu else (2, 3, 4):
        mask, rng = rm.Mask.complete(n), np.random.default_rng(0)
        W_V, W, start = (rng.standard_normal((n, n)) for _ in range(3))
        starts = normalise(rng.standard_normal((1000, n, n)), "sphere")
        arrays = (starts, W_V, W, mask.allowed.astype(float))
        if not machine.gpu:
            candidates = {
                "at once": lambda arrays=arrays: newton_from(*arrays, "sphere"),
                "one by one": lambda arrays=arrays: [newton(X, *arrays[1:], "sphere") for X in arrays[0]],
            }
            times = machine.times(candidates, 3)
            rows.append({"n = d": n, "Newton, one by one/at once": times["ratio"]["one by one"]})
            continue
        there = [machine.cupy.asarray(a) for a in arrays]
        solve = {
            "gpu": lambda there=there: newton_from(*there, "sphere"),
            "cpu": lambda arrays=arrays: newton_from(*arrays, "sphere"),
        }
        p, labels = np.concatenate([start.ravel(), W.ravel(), np.zeros(n)]), np.arange(n)
        families = {
            name: _Family(arrays[3], labels, n, 0.3, labels, mover(backend))
            for name, backend in (("gpu", "cupy"), ("cpu", "numpy"))
        }
        slope = {
            name: lambda family=family, p=p: family.objective(p, log_modulus_mean, 6)
            for name, family in families.items()
        }
        ratios = [machine.times(candidates, 3)["ratio"]["cpu"] for candidates in (solve, slope)]
        rows.append({"n = d": n, "Newton, cpu/gpu": ratios[0], "gradient, cpu/gpu": ratios[1]})
    return rows


def scaling(machine: Machine) -> list[Row]:
    """Exponents p of time ~ size^p, fitted over a row of sizes, all timed in turns."""
    start = {"n": 512, "d": 16, "H": 4, "L": 4, "batch": 256}
    if not machine.gpu:
        start = {"n": 256, "d": 16, "H": 2, "L": 2, "batch": 64}
    rows = []
    for name in start:
        sizes = [start[name] * 2**k for k in range(5 if machine.gpu else 4)]
        candidates = {}
        for size in sizes:
            n, H, L = (size if name == x else start[x] for x in ("n", "H", "L"))
            if name == "batch":
                nets = [rm.Network.random(32, 16, 1, 2, seed=s) for s in range(size)]
                net, X = rm.Network.stack(nets), np.stack([net.random_input(seed=1) for net in nets])
            else:
                net = rm.Network.random(n, size if name == "d" else 64, H, L, seed=0)
                X = net.random_input(seed=1)
            there = machine.there(net, X)
            candidates[str(size)] = lambda there=there: rm.trace(*there)
        seconds = machine.times(candidates, 5)["seconds"]
        slope = float(np.polyfit(np.log(sizes), np.log([seconds[str(s)] for s in sizes]), 1)[0])
        last = math.log2(seconds[str(sizes[-1])] / seconds[str(sizes[-2])])
        row = {"in": name, "from": sizes[0], "to": sizes[-1], "exponent": slope, "of the last doubling": last}
        rows.append({**row, "largest, s": seconds[str(sizes[-1])]})
    return rows


def large(machine: Machine) -> list[Row]:
    """Deep and long: depth 1000 with 64 heads, or tokens whose n × n matrices are never in memory.

    Timed once, of up to 1024 tokens after a run of the same: what is compiled when first used is compiled then.
    """
    pool = machine.cupy.get_default_memory_pool() if machine.gpu else None
    rows = []
    on_gpu = ((1024, 64, 64, 1000, None), (65536, 64, 1, 2, 8), (262144, 64, 1, 1, 8), (64, 16, 1, 10000, None))
    on_cpu = ((16, 8, 1, 20000, None), (65536, 64, 1, 1, None))
    for n, d, H, L, limit in on_gpu if machine.gpu else on_cpu:
        net = rm.Network.random(n, d, H, L, seed=0)
        net, X = machine.there(net, net.random_input(seed=1))
        if n < 65536:
            rm.trace(net, X)
        if pool is None and n >= 65536:  # watching every allocation of a deep network would be most of its time
            tracemalloc.start()
        elif pool is not None:
            pool.free_all_blocks()
            pool.set_limit(size=0 if limit is None else limit * 2**30)
        began = time.perf_counter()
        run = rm.trace(net, X)
        machine.wait()
        row = {"n": n, "d": d, "H": H, "L": L, "seconds": time.perf_counter() - began, "limit, GiB": limit}
        held = None
        if tracemalloc.is_tracing():
            held = (tracemalloc.get_traced_memory()[1] + X.nbytes) / 2**30
            tracemalloc.stop()
        elif pool is not None:
            held = pool.total_bytes() / 2**30
        ends = [float(x[-1]) for x in (run.order, run.log_log_residual)]
        last = [x if math.isfinite(x) else None for x in ends]  # a residual above one has no second logarithm
        rows.append({**row, "held, GiB": held, "order": last[0], "log(-log residual)": last[1]})
        del net, X, run
        if pool is not None:
            pool.set_limit(size=0)
    return rows


FAST = """
import json, sys, time
if sys.argv[1] == "without":
    sys.modules["llvmlite"] = sys.modules["llvmlite.binding"] = None
import rankmath as rm
for n, d, H, L in json.loads(sys.argv[2]):
    net = rm.Network.random(n, d, H, L, seed=0)
    X = net.random_input(seed=1)
    rm.trace(net, X)
    times = []
    for _ in range(5):
        began = time.process_time()
        rm.trace(net, X)
        times.append(time.process_time() - began)
    print(min(times))
"""


def fast(machine: Machine) -> list[Row]:
    """`trace` with the extra `fast` against NumPy alone, in processor time."""
    sizes = [(16, 8, 1, 8), (16, 8, 1, 1000), (64, 16, 1, 8), (256, 32, 4, 8), (512, 64, 8, 8), (1024, 64, 8, 8)]
    quotients: list[list[float]] = [[] for _ in sizes]
    for _ in range(3):
        taken = {}
        for which in ("with", "without"):
            command = [sys.executable, "-c", FAST, which, json.dumps(sizes)]
            taken[which] = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        for found, ours, numpy in zip(quotients, taken["with"], taken["without"], strict=True):
            found.append(float(numpy) / float(ours))
    rows = zip(sizes, quotients, strict=True)
    return [{**dict(zip("ndHL", size, strict=True)), "NumPy/fast": statistics.median(q)} for size, q in rows]


TABLES = {
    f.__name__: f
    for f in (
        fast,
        layer,
        thread,
        tile,
        depth,
        model,
        roofline,
        plain,
        mpmath,
        paths,
        lengths,
        batch,
        devices,
        searches,
        scaling,
        large,
    )
}
#: Those that compare with torch.
TORCH = {name for name, f in TABLES.items() if "torch" in (*f.__code__.co_varnames, *f.__code__.co_cellvars)}
ON_GPU_TOO = ("layer", "depth", "lengths", "roofline", "plain", "batch", "devices", "searches", "scaling", "large")


def run(names: list[str], gpu: bool, output: str, sizes: list[Size] | None = None) -> None:
    machine = Machine(gpu, sizes)
    result: dict[str, Any] = {"machine": machine.words(), "tables": {}, **({"sizes": sizes} if sizes else {})}
    for name in names:
        result["tables"][name] = TABLES[name](machine)
        print(json.dumps({name: result["tables"][name]}, indent=1), flush=True)
        Path(output).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def table(rows: list[Row]) -> list[str]:
    """Rows as Markdown."""

    def cell(x: Any) -> str:
        if not isinstance(x, float):
            return "" if x is None else str(x)
        return f"{x:.3g}" if x < 1000 else f"{x:,.0f}"

    head = list(rows[0])
    lines = [head, ["---"] * len(head), *([cell(row[key]) for key in head] for row in rows)]
    return ["| " + " | ".join(line) + " |" for line in lines]


# -- the tables of the page, from stored results -----------------------------------------------------------

#: What is compared with torch: in words, its table, the quotient, the columns of a size.
AGAINST_TORCH = (
    ("one layer", "layer", "faster of torch/centred"),
    ("`trace` of one layer, with all that it measures", "layer", "faster of torch/trace"),
    ("`trace` of eight layers", "depth", "faster of torch/trace"),
    ("`forward` of eight layers", "depth", "faster of torch/forward"),
    ("`path_sums` of eight layers", "lengths", "torch/path_sums"),
    ("a layer of a model in use", "model", "torch/ours"),
)


def short(machine: str) -> str:
    """A column's name.

    >>> short("2 cores (aarch64, neoverse-n1), NumPy 2.4.6, with the extra `fast`")
    '2 cores, aarch64'
    """
    gpu = re.match(r"one NVIDIA ([^,]+),", machine)
    cpu = re.match(r"(\d+ cores) \((\w+),", machine)
    return gpu[1] if gpu else f"{cpu[1]}, {cpu[2]}" if cpu else machine


def fast_table(results: list[Row]) -> list[Row]:
    """What the extra `fast` buys."""
    found = [(result, row) for result in results for row in result["tables"].get("fast", ())]
    return [{"machine": short(result["machine"]), **row} for result, row in found]


def machines_table(results: list[Row]) -> list[Row]:
    """What was measured where."""
    return [{"machine": short(result["machine"]), "in full": result["machine"]} for result in results]


def time_table(results: list[Row]) -> list[Row]:
    """Milliseconds of a `trace` of L layers, by machine."""
    found: dict[tuple[int, ...], Row] = {}
    for result in results:
        for name, unit in (("layer", 1.0), ("depth", 1.0), ("large", 1000.0)):
            for row in result["tables"].get(name, ()):
                if row.get("batch", 1) == 1:
                    key = (row["n"], row["d"], row["H"], row.get("L", 1))
                    taken = row["trace, ms"] if unit == 1 else unit * row["seconds"]
                    found.setdefault(key, {})[short(result["machine"])] = taken
    columns = [short(result["machine"]) for result in results]
    return [
        dict(zip("ndHL", key, strict=True)) | {f"{name}, ms": found[key].get(name) for name in columns}
        for key in sorted(found, key=lambda key: (key[3], *key))
        if key[3] != 1 or len(found[key]) > 1 or key[0] >= 4096
    ]


def torch_table(results: list[Row]) -> list[Row]:
    """The least, the middle and the largest quotient over all sizes; above 1 torch is slower."""
    rows = []
    for what, name, quotient in AGAINST_TORCH:
        row: Row = {"time of the faster of torch's two / ours": what}
        for result in results:
            values = sorted(row[quotient] for row in result["tables"].get(name, ()))
            least, middle, most = (values[0], statistics.median(values), values[-1]) if values else (None,) * 3
            told = f"{least:.2f} … {middle:.2f} … {most:.2f} ({len(values)} sizes)" if values else None
            row[short(result["machine"])] = f"{values[0]:.2f}" if len(values) == 1 else told
        rows.append(row)
    return rows


def slower_table(results: list[Row]) -> list[Row]:
    """Every size at which torch was faster."""
    rows = []
    for result in results:
        for what, name, quotient in AGAINST_TORCH:
            for row in result["tables"].get(name, ()):
                if row[quotient] < 1:
                    n, d, H = (row.get(key, row.get(other)) for key, other in zip("ndH", MODEL_SIZES, strict=True))
                    size = {"batch": row.get("batch", 1), "n": n, "d": d, "H": H}
                    rows.append(
                        {"what": what, "machine": short(result["machine"]), **size, "torch/ours": row[quotient]}
                    )
    return sorted(rows, key=lambda row: (row["what"], row["machine"], row["torch/ours"]))


def others_table(results: list[Row]) -> list[Row]:
    """What else a user would write instead."""
    chosen = (
        ("the definition in mpmath, digits for the same accuracy / `trace`", "mpmath", "mpmath/centred", "L"),
        ("all paths one by one / `path_sums`", "paths", "one by one/sums", "paths"),
        ("a loop over 4096 networks on the CPU / one call", "batch", "loop on the CPU/one call", "n"),
        ("one call on 16 cores for 4096 networks / one on the GPU", "batch", "one call on the CPU/one call", "n"),
        ("Newton's method from 1000 starts, one by one / at once", "searches", "Newton, one by one/at once", "n = d"),
        ("16 cores / the GPU beside them, `trace`", "devices", "cpu/gpu", "n"),
        ("16 cores / the GPU, Newton from 1000 starts", "searches", "Newton, cpu/gpu", "n = d"),
        ("16 cores / the GPU, following gradients from 1000 starts", "searches", "gradient, cpu/gpu", "n = d"),
        ("the centred pass with all that it measures / the plain one", "plain", "centred/plain", "scale"),
    )
    rows = []
    for what, name, quotient, by in chosen:
        row: Row = {"time of": what}
        for result in results:
            found = [r for r in result["tables"].get(name, ()) if quotient in r]
            row[short(result["machine"])] = ", ".join(f"{r[quotient]:.3g} ({by} = {r[by]:g})" for r in found) or None
        rows.append(row)
    return rows


#: The columns of a size in the table of a model.
MODEL_SIZES = ("tokens", "width", "heads")
PAGE = {
    "machines": machines_table,
    "time": time_table,
    "fast": fast_table,
    "torch": torch_table,
    "slower": slower_table,
    "others": others_table,
}


def write(files: list[str], page: str) -> None:
    """Each table of the page anew, after its marker."""
    results = [json.loads(Path(file).read_text(encoding="utf-8")) for file in files]
    for file, result in zip(files, results, strict=True):
        if "sizes" in result:
            raise SystemExit(f"{file}: of sizes of your own; the tables of the page have theirs")
    text = Path(page).read_text(encoding="utf-8")
    for name, made in PAGE.items():
        marker = f"<!-- table: {name} -->\n"
        above, found, below = text.partition(marker)
        if not found:
            raise SystemExit(f"{page}: it has no line {marker.strip()!r}")
        rest = list(itertools.dropwhile(lambda line: line.startswith("|") or not line, below.splitlines()))
        text = above + marker + "\n".join([*table(made(results)), "", *rest]) + "\n"
    Path(page).write_text(text, encoding="utf-8")


def size(given: str) -> Size:
    """n, d, H of a layer."""
    try:
        n, d, heads = (int(part) for part in given.split(","))
    except ValueError:
        n = d = heads = 0
    if min(n, d, heads) < 1:
        raise argparse.ArgumentTypeError(f"{given!r} given; n,d,H are three positive integers, as 512,256,8")
    return n, d, heads


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("run")
    measure.add_argument("tables", nargs="*", help=", ".join(TABLES))
    measure.add_argument("--gpu", action="store_true")
    measure.add_argument("--sizes", type=size, nargs="+", metavar="n,d,H", help="of layers, for layer and thread")
    measure.add_argument("--output", required=True)
    page = commands.add_parser("write")
    page.add_argument("files", nargs="+")
    page.add_argument("--page", default=str(Path(__file__).parent.parent / "docs" / "performance.md"))
    chosen = parser.parse_args()
    if chosen.command == "write":
        write(chosen.files, chosen.page)
        return
    unknown = set(chosen.tables) - set(TABLES)
    if unknown:
        parser.error(f"tables: {', '.join(sorted(unknown))} given; there are {', '.join(TABLES)}")
    names = chosen.tables or list(ON_GPU_TOO if chosen.gpu else TABLES)
    against = [name for name in names if name in TORCH]
    if against and find_spec("torch") is None:
        others = ", ".join(name for name in TABLES if name not in TORCH)
        parser.error(f"tables: {', '.join(against)} compare with torch, which is not installed; without it: {others}")
    if chosen.gpu and find_spec("cupy") is None:
        parser.error("--gpu: CuPy is not installed; pip install 'rankmath[gpu]'")
    if chosen.sizes and not (chosen.tables and {*chosen.tables} <= {"layer", "thread"}):
        parser.error(f"--sizes: given with {', '.join(chosen.tables) or 'all tables'}; layer and thread take them")
    try:
        writable(chosen.output, "--output")
    except rm.InvalidArgument as refusal:
        parser.error(str(refusal))
    run(names, chosen.gpu, chosen.output, chosen.sizes)


if __name__ == "__main__":
    main()
