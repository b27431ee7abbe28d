"""The kernels of a layer on a GPU, run on the host from the same source: they make the layer that arrays make."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.attention.alone import centre_on_gpu, layer_on_gpu, layers_on_gpu
from rankmath.attention.centred import attention_step
from rankmath.attention.tokens import Carried, Tokens, centre
from rankmath.attention.trace import _trace_of
from rankmath.attention.weights import weights_of
from rankmath.kernels import cuda, cuda_kernels, cuda_layer
from rankmath.kernels.cuda import padded

pytestmark = pytest.mark.needs("g++")


NAMES = ("scores", "relative", "covariance", "thin", "collect", "recentre", "normalise", "pull")
TOLD = ("units", "clear", "project", "squares", "pairs", "measured", "lifted", "average", "average_long")


def compiled(K: int, folder: Path) -> Any:
    """All kernels for width K as a library of the host."""
    defines = "".join(f"#define {name} {value}\n" for name, value in {"V": K, "WARPS": 4, "TILE": 32}.items())
    deviation = cuda.DEVIATION.replace("extern __shared__ __align__(128) double shared[];", "")
    kernels, library = folder / f"kernels{K}.h", folder / f"kernels{K}.so"
    own = cuda_kernels.source(K).replace("extern __shared__ __align__(128) double shared[];", "")
    own += defines + deviation if K <= cuda.WIDEST else ""
    kernels.write_text(cuda.LARGEST + cuda.EXPM1 + own, encoding="utf-8")
    unchecked = "-U_FORTIFY_SOURCE"  # checked jumps keep to one stack
    options = ("-std=c++17", "-O1", "-shared", "-fPIC", "-w", unchecked, f'-DKERNELS="{kernels}"', "-x", "c++")
    host = Path(__file__).with_name("host_cuda.h")
    subprocess.run(["g++", *options, host, "-o", library], check=True)
    return ctypes.CDLL(str(library))


class HostPlan(cuda_layer.Plan):
    """A plan whose launches run on the host."""

    def __init__(self, library: Any, sizes: dict[str, int]) -> None:
        self.library = library
        super().__init__(sizes)

    def memory(self, shape: tuple[int, ...]) -> Any:
        return np.full(shape, np.nan)  # whoever reads what nobody wrote finds out

    def pinned(self, size: int) -> Any:
        return np.empty(size)

    def address(self, a: Any) -> int:
        return int(a.ctypes.data)

    def send(self, words: Any) -> None:
        self.told.view(np.uint64)[:] = words

    def launch(self, name: str, blocks: tuple[int, ...], threads: int, given: int | None = None) -> None:
        assert cuda_layer.memory_of(name, self.K) <= 8 << 15
        grid, told = (*blocks, 1, 1)[:3], (ctypes.c_void_p(a.ctypes.data) for a in (self.places, self.told))
        if given is None:
            self.library.layer_kernel(NAMES.index(name), *grid, threads, *told)
        else:
            self.library.told_kernel(TOLD.index(name), *grid, threads, *told, ctypes.c_longlong(given))

    def deviate(self, blocks: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        left, right, values, q, _, _, out, n, m, row_blocks, sizes, step, means, way, *of_way = arguments
        given = (left, right, values, q, out, sizes, means, way)
        pointers = [ctypes.c_void_p(a.ctypes.data if isinstance(a, np.ndarray) else None) for a in given]
        whole = [int(x) for x in (n, m, row_blocks)]
        rest = (pointers[5], int(step), *pointers[6:], *map(int, of_way))
        self.library.deviation_on_host(*blocks, *pointers[:5], *whole, *rest)

    def wait(self) -> None:
        assert not np.isnan(self.report.reshape(-1, 9)[:, 3:]).any()

    def step(self, part: cuda_layer.Part, *, tell: bool) -> None:
        self.launch_all(part, tell)


@pytest.fixture(scope="module")
def library(tmp_path_factory: Any) -> Callable[[int], Any]:
    folder = tmp_path_factory.mktemp("kernels")
    return cache(lambda d: compiled(padded(d), folder))


def use_host(library: Any, monkeypatch: Any) -> None:
    def plan_here(shape: tuple[int, ...], heads: int) -> HostPlan:
        *batch, n, d = shape
        return HostPlan(library(d), cuda_layer.sizes_of(n, d, heads, int(np.prod(batch))))

    monkeypatch.setattr(cuda_layer, "plan_here", plan_here)


def layers(
    library: Any, monkeypatch: Any, net: Any, X: Any, tokens: Tokens | None = None
) -> tuple[Tokens | None, Tokens]:
    """One layer by the kernels and by arrays."""
    A, (attention,) = Float64(X), net.attentions
    tokens = centre(A, X) if tokens is None else tokens
    weights = weights_of(A, attention, stacked=attention.heads > 1, batch_axes=X.ndim - 2)
    head = replace(weights.heads[0], largest_query=float(abs(attention.query).max()))
    use_host(library, monkeypatch)
    (sublayer,) = net.sublayers[0]
    carried = Carried(sublayer.skip, tokens) if sublayer.skip else None
    fast = layer_on_gpu(A, replace(weights, heads=[head]), tokens, None, carried)
    return fast, attention_step(A, weights, tokens, None, carried)


def assert_same(fast: Tokens | None, slow: Tokens, apart: float = 2e-13) -> None:
    assert fast is not None
    np.testing.assert_allclose(fast.residual, slow.residual, rtol=0, atol=apart)
    np.testing.assert_allclose(fast.center, slow.center, rtol=0, atol=apart)
    np.testing.assert_allclose(fast.log_center, slow.log_center, rtol=1e-14, atol=apart)
    np.testing.assert_allclose(fast.log_residual.to_float(), slow.log_residual.to_float(), rtol=1e-15, atol=apart)
    np.testing.assert_allclose(fast.lost_bits, slow.lost_bits, atol=1e-9)


@pytest.mark.parametrize(
    ("n", "d", "heads", "options"),
    [
        (2, 3, 1, {}),
        (67, 8, 3, {}),
        (150, 5, 2, {"skip": True}),
        (40, 20, 2, {"biases": True}),
        (33, 24, 1, {"skip": -0.5, "biases": True}),
        (230, 8, 1, {}),
    ],
)
@pytest.mark.parametrize("size", [3.0, 1e-3, 1e-12])
def test_a_layer_by_kernels_is_the_layer_by_arrays(
    library: Any, monkeypatch: Any, n: int, d: int, heads: int, options: dict[str, Any], size: float
) -> None:
    net = rm.Network.random(n, d, heads, 1, seed=n, **options)
    X = net.random_input(seed=1, scale=size) + np.linspace(0, 1, d)
    fast, slow = layers(library, monkeypatch, net, X)
    assert_same(fast, slow)


def test_one_block_takes_the_mean_off_all_rows(library: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(cuda_layer, "_FILLED", 1)  # 15 rows of a column for each of its threads
    net = rm.Network.random(230, 8, 2, 1, seed=0)
    assert_same(*layers(library, monkeypatch, net, net.random_input(seed=1)))


@pytest.mark.parametrize(("n", "d", "options"), [(3, 65, {}), (200, 72, {"skip": True}), (67, 133, {"biases": True})])
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("long", [False, True])
def test_wide_tokens_take_rows_at_a_time(
    library: Any, monkeypatch: Any, n: int, d: int, options: dict[str, Any], large: bool, long: bool
) -> None:
    monkeypatch.setattr(cuda_layer, "fills", lambda _: long)  # 128 rows a block that averages, or 64
    if large:  # as if there were many rows, and few blocks: more than one part of them, and of the keys
        monkeypatch.setattr(cuda_layer, "_WIDE_ENTRIES", 0)
        monkeypatch.setattr(cuda_layer, "key_parts", lambda *_: 2)
    net = rm.Network.random(n, d, 2, 1, seed=n, **options)
    X = net.random_input(seed=1) + np.linspace(0, 1, d)
    assert_same(*layers(library, monkeypatch, net, X))


@pytest.mark.parametrize("most", [1e-20, 1e-3, 0.0109, 0.022, 0.3466, 0.36, 1.2, 40.0, 700.0])
def test_exponentials_are_as_good_as_their_arguments(library: Any, most: float) -> None:
    rng = np.random.default_rng(int(10 * most))
    x = most * np.exp(-3 * rng.random(1000)) * rng.choice([-1.0, 1.0], 1000)
    y = np.empty_like(x)
    library(8).expm1_on_host(*(ctypes.c_void_p(a.ctypes.data) for a in (x, y)), x.size)
    with mpmath.workprec(200):
        for given, found in zip(map(mpmath.mpf, x.tolist()), y.tolist(), strict=True):
            true = mpmath.expm1(given)
            allowed = np.spacing(abs(float(true))) + abs(given) * mpmath.exp(given) * 2.0**-53
            assert abs(found - true) <= 1.1 * allowed


def test_many_blocks_take_rows_that_fill_the_processors() -> None:
    # Two blocks on each of 132 processors: 256 leave 8 places empty, 288 would leave most of a second round.
    assert [cuda_layer.fills(k) for k in (0, 128, 237, 238, 256, 264, 288, 512, 1100)] == [
        *(False, False, False, True, True, True, False, True, False)
    ]
    sizes = {key: cuda_layer.sizes_of(*key) for key in ((2048, 256, 4), (1024, 192, 12), (512, 256, 8), (2048, 64, 64))}
    assert [(s["long"], s["key_parts"]) for s in sizes.values()] == [(True, 1), (False, 1), (False, 1), (False, 1)]
    longest = cuda_layer.sizes_of(8192, 128, 2)  # 32 blocks of rows, 2 of columns, 2 heads, 2 parts of the keys
    assert (longest["long"], longest["key_parts"]) == (True, 2)


@pytest.mark.parametrize(("n", "d", "sigma"), [(200, 7, -30.0), (200, 7, -1e6), (300, 70, -30.0)])
def test_below_rounding_thin_products_take_over(library: Any, monkeypatch: Any, n: int, d: int, sigma: float) -> None:
    net = rm.Network.random(n, d, 2, 1, seed=3)
    X = net.random_input(seed=4)
    tokens = centre(Float64(X), X)
    tokens = replace(tokens, log_residual=tokens.log_residual.plus(sigma))
    assert_same(*layers(library, monkeypatch, net, X, tokens))


@pytest.mark.parametrize(("n", "d"), [(2, 3), (200, 8)])
def test_tokens_are_centred_alike(library: Any, monkeypatch: Any, n: int, d: int) -> None:
    X = np.random.default_rng(n).standard_normal((n, d)) + 1e3
    use_host(library, monkeypatch)
    assert_same(centre_on_gpu(Float64(X), X), centre(Float64(X), X))
    for size in (1e-70, 1e70):
        assert centre_on_gpu(Float64(X), size * X) is None


def test_the_report_sends_saturated_and_cancelling_layers_to_the_arrays(library: Any, monkeypatch: Any) -> None:
    net = rm.Network.random(30, 8, 2, 1, seed=5)
    X = net.random_input(seed=6)
    assert layers(library, monkeypatch, net, 1e3 * X)[0] is None  # logits beyond what the kernel exponentiates
    assert layers(library, monkeypatch, net, 10 * X + 1e3)[0] is None  # attention below e^-300
    assert layers(library, monkeypatch, net, np.ones_like(X))[0] is None  # equal tokens
    assert layers(library, monkeypatch, net, np.concatenate([X, -X]))[1] is not None
    broken = X.copy()
    tokens = centre(Float64(X), X)
    broken[3, 2] = np.nan
    assert layers(library, monkeypatch, net, X, replace(tokens, residual=broken))[0] is None


def test_logits_beyond_the_exponential_stop_though_the_center_attends_evenly(library: Any, monkeypatch: Any) -> None:
    rng = np.random.default_rng(0)
    W_QK, X = rng.standard_normal((1, 1, 8, 8)), rng.standard_normal((20, 8))
    W_QK[..., 0, :], X[:, 0] = 0.0, 0.0
    X = X - X.mean(axis=0)
    net = rm.Network.from_arrays(W_QK, rng.standard_normal((1, 1, 8, 8)))
    for size, stops in ((1.0, False), (5.0, True), (20.0, True)):
        made = layers(library, monkeypatch, net, size * X + np.eye(8)[0])[0]  # x W_QK = 0
        assert (made is None) == stops


@pytest.mark.parametrize(("d", "shift"), [(8, 1.0), (72, 3.0)])
def test_uneven_attention_counts_what_it_may_have_lost(library: Any, monkeypatch: Any, d: int, shift: float) -> None:
    # Relative to any other token than the pivot the sum over all keys would cancel here.
    net = rm.Network.random(30, d, 2, 1, seed=7)
    found = [layers(library, monkeypatch, net, s * (net.random_input(seed=8) + shift)) for s in (2.0, 3.0, 5.0)]
    taken = [(fast, slow) for fast, slow in found if fast is not None]
    assert len(taken) >= 2
    for fast, slow in taken:
        assert_same(fast, slow)


@pytest.mark.parametrize(("size", "stops"), [(0.5, False), (1.0, True), (2.0, True)])
def test_uneven_attention_that_leaves_little_of_its_values_stops(
    library: Any, monkeypatch: Any, size: float, stops: bool
) -> None:
    # All rows attend to the same few tokens: averages are 3e-3, 2e-4 and 5e-6 of the values, ten bits are allowed.
    net = rm.Network.random(30, 8, 2, 1, seed=7)
    fast, slow = layers(library, monkeypatch, net, size * net.random_input(seed=8) + 16)
    assert (fast is None) == stops
    if fast is not None:
        assert_same(fast, slow)


@pytest.mark.parametrize(
    ("n", "d", "most"), [(1, 3, 264), (70, 8, 264), (200, 5, 264), (129, 24, 264), (130, 71, 264), (500, 20, 1)]
)
def test_sizes_of_a_layer(library: Any, monkeypatch: Any, n: int, d: int, most: int) -> None:
    monkeypatch.setattr(cuda_layer, "_FILLED", most)  # with few blocks each looks at several tiles
    rng = np.random.default_rng(n)
    R, x = rng.standard_normal((n, d)), rng.standard_normal((1, d))
    found = HostPlan(library(d), cuda_layer.sizes_of(n, d, 0)).measure(R, x)
    gaps = ((R[:, None] - R[None]) ** 2).sum(axis=-1)
    np.testing.assert_allclose(found[:, 0], [np.linalg.norm(R), np.sqrt(gaps.max()), np.linalg.norm(x)], rtol=1e-13)


@pytest.mark.parametrize(
    ("n", "d", "options", "size"),
    [
        (9, 4, {"heads": 2, "layers": 9}, 1.0),
        (40, 8, {"heads": 1, "layers": 3, "skip": 0.5, "biases": True}, 0.5),
        (20, 6, {"heads": 2, "layers": 5, "skip": True}, 6.0),  # saturated: layers of arrays between those of kernels
        (5, 70, {"heads": 1, "layers": 5}, 1.0),
    ],
)
def test_all_layers_with_one_wait(
    library: Any, monkeypatch: Any, n: int, d: int, options: dict[str, Any], size: float
) -> None:
    net = rm.Network.random(n, d, seed=n, **options)
    X = net.random_input(seed=1, scale=size)
    use_host(library, monkeypatch)
    made = layers_on_gpu(Float64(X), net, X)
    assert made is not None
    fast, slow = _trace_of(net, made.log, made.center), rm.trace(net, X)
    for name in ("log_residual", "log_diameter", "log_mean", "log_log_residual"):
        np.testing.assert_allclose(getattr(fast, name), getattr(slow, name), rtol=1e-13, atol=1e-12)
    np.testing.assert_allclose(fast.lost_bits, slow.lost_bits, atol=1e-6)
    np.testing.assert_allclose(np.exp(fast.log_center) * fast.center, np.exp(slow.log_center) * slow.center)


def test_what_the_kernels_do_not_take_is_said(library: Any, monkeypatch: Any) -> None:
    use_host(library, monkeypatch)
    net = rm.Network.random(6, 8, 2, 2, seed=0)
    X = net.random_input(seed=1)
    wild = net.replace(value=1e70 * net.value)
    for other in (net.replace(mask="causal"), net.replace(norm="sphere"), wild):
        assert layers_on_gpu(Float64(X), other, X) is None
    assert layers_on_gpu(Float64(X), net, np.stack([[X, X]])) is None
    assert layers_on_gpu(Float64(X), net, X) is not None


@pytest.mark.parametrize(("n", "d", "heads", "depth"), [(9, 4, 1, 3), (70, 8, 2, 2), (5, 70, 2, 3)])
@pytest.mark.parametrize("own", [False, True])
def test_a_batch_is_its_networks_one_by_one(
    library: Any, monkeypatch: Any, n: int, d: int, heads: int, depth: int, own: bool
) -> None:
    options = {"skip": 0.5, "biases": True}
    nets = [rm.Network.random(n, d, heads, depth, seed=n + (own and k), **options) for k in range(3)]
    X = np.stack([net.random_input(seed=k, scale=10.0**-k) for k, net in enumerate(nets)])
    net = rm.Network.stack(nets) if own else nets[0]
    use_host(library, monkeypatch)
    made = layers_on_gpu(Float64(X), net, X)
    assert made is not None
    fast = _trace_of(net, made.log, made.center)
    for k in range(3):
        slow = rm.trace(nets[k], X[k])
        for name in ("log_residual", "log_diameter", "log_mean"):
            np.testing.assert_allclose(getattr(fast, name)[:, k], getattr(slow, name), rtol=1e-13, atol=1e-12)
        np.testing.assert_allclose(fast.center[k], slow.center, atol=1e-13)
    shallow = [rm.Network.random(n, d, heads, 1, seed=n + (own and k), **options) for k in range(3)]
    assert_same(*layers(library, monkeypatch, rm.Network.stack(shallow) if own else shallow[0], X))


def test_a_batch_of_one_is_its_network(library: Any, monkeypatch: Any) -> None:
    net = rm.Network.random(40, 8, 2, 1, seed=0, skip=0.5)
    X = net.random_input(seed=1)
    (one, _), (batch, slow) = (layers(library, monkeypatch, net, tokens) for tokens in (X, X[None]))
    assert_same(batch, slow)
    assert one is not None
    assert batch is not None
    assert (batch.residual[0] == one.residual).all()


def test_one_plan_makes_layers_of_many_weights(library: Any, monkeypatch: Any) -> None:
    # What is told once must be told again after other weights, all layers of a network, or a measurement.
    nets = [rm.Network.random(40, 8, 2, 1, seed=k, skip=0.5 * k) for k in range(2)]
    deep = rm.Network.random(40, 8, 2, 3, seed=2)
    plan = HostPlan(library(8), cuda_layer.sizes_of(40, 8, 2))
    monkeypatch.setattr(cuda_layer, "plan_here", lambda *_: plan)
    weights = [weights_of(Float64(net.query), net.attentions[0], stacked=True) for net in nets]
    given: list[tuple[Tokens, Tokens]] = []
    for k, which in enumerate((0, 0, 1, 1, 0, 1, 0)):
        X = nets[which].random_input(seed=k)
        A, tokens, (sublayer,) = Float64(X), centre(Float64(X), X), nets[which].sublayers[0]
        if k == 3:
            assert layers_on_gpu(A, deep, X) is not None
        if k == 1:
            plan.measure(tokens.residual, tokens.center)
        carried = Carried(sublayer.skip, tokens) if sublayer.skip else None
        fast = layer_on_gpu(A, weights[which], tokens, None, carried)
        assert fast is not None
        given.append((fast, attention_step(A, weights[which], tokens, None, carried, closely=True)))
    for fast, slow in given:  # nobody wrote where something was given out
        assert_same(fast, slow)
    assert len({fast.residual.ctypes.data for fast, _ in given}) == len(given)


def test_a_batch_stops_as_one(library: Any, monkeypatch: Any) -> None:
    net = rm.Network.random(30, 8, 2, 2, seed=5)
    X = net.random_input(seed=6)
    use_host(library, monkeypatch)
    assert layers_on_gpu(Float64(X), net, np.stack([X, 1e3 * X])) is None
    assert layers_on_gpu(Float64(X), net, np.stack([X, X / 2])) is not None


@pytest.mark.parametrize(
    ("options", "plain"),
    [({}, True), ({"biases": True}, True), ({"head_dim": 3}, False), ({"head_dim": 3, "biases": True}, False)],
)
def test_the_kernels_take_full_matrices_alone(options: dict[str, Any], plain: bool) -> None:
    net = rm.Network.random(5, 6, 2, 1, seed=0, **options)
    assert (weights_of(Float64(np.zeros(1)), net.attentions[0], stacked=True).whole is not None) is plain
