"""The GPU runs the same lines: it must agree with the CPU, keep its arrays, and refuse a mixture."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64, to_numpy
from rankmath.attention.experiments.models import initial_model
from rankmath.kernels import cuda
from rankmath.model.blocks import VARIANTS

cupy: Any = pytest.importorskip("cupy", reason="CuPy is not installed: pip install 'rankmath[gpu]'")


def _device_count() -> int:
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return 0


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(_device_count() == 0, reason="no CUDA device")]

KINDS: list[dict[str, Any]] = [
    {},
    {"biases": True},
    {"skip": True},
    {"skip": 0.5, "biases": True},
    {"mask": "causal"},
    {"mask": "window:2", "norm": "sphere"},
    {"norm": "standard", "biases": True},
    {"norm": "column"},
    {"mlp": "relu", "biases": True},
    {"mlp": "gelu"},
    {"head_dim": 3, "biases": True},
]


def both(net: Any, X: Any) -> tuple[Any, Any]:
    from rankmath.attention.backend import on_backend

    return on_backend("cupy", net, X)


@pytest.mark.parametrize("seed", range(100))
def test_cpu_and_gpu_agree_to_depth_200(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    n, d, H = int(rng.integers(2, 40)), int(rng.integers(3, 20)), int(rng.integers(1, 5))
    net = rm.Network.random(n, d, H, 200, seed, **kind)
    X = net.random_input(seed + 1, scale=10.0 ** rng.uniform(-2, 1))
    cpu, gpu = rm.trace(net, X), rm.trace(net, X, backend="cupy")
    logs, known = cpu.log_residual, _well_conditioned(net, X, cpu)
    assert known.sum() >= 5
    assert (np.isfinite(logs) == np.isfinite(gpu.log_residual))[known].all()
    finite = known & np.isfinite(logs)
    assert (np.abs(logs - gpu.log_residual)[finite] <= 1e-9 * np.maximum(1, np.abs(logs[finite]))).all()


def _well_conditioned(net: Any, X: Any, cpu: Any) -> Any:
    """The layers, from the input on, where the last bits of X do not decide the tenth digit of log_residual."""
    rng = np.random.default_rng(0)
    moved = [rm.trace(net, X * (1 + 2e-16 * rng.standard_normal(X.shape))).log_residual for _ in range(3)]
    with np.errstate(invalid="ignore"):
        apart = np.nan_to_num(np.abs(np.stack(moved) - cpu.log_residual), nan=0.0, posinf=np.inf).max(axis=0)
    firm = apart <= 1e-11 * np.maximum(1, np.abs(np.nan_to_num(cpu.log_residual, neginf=-1.0)))
    return np.logical_and.accumulate(firm & (cpu.lost_bits < 16))


@pytest.mark.parametrize("kind", KINDS)
def test_plain_pass_attention_and_paths_agree_and_stay_on_the_device(kind: dict[str, Any]) -> None:
    net = rm.Network.random(tokens=9, dim=5, heads=3, layers=3, seed=2, **kind)
    X = net.random_input(seed=3)
    gpu_net, gpu_X = both(net, X)
    out = rm.forward(gpu_net, gpu_X)
    assert isinstance(out, cupy.ndarray)
    assert out.dtype == cupy.float64
    np.testing.assert_allclose(to_numpy(out), rm.forward(net, X), rtol=1e-11, atol=1e-13)
    P = rm.attention_matrices(gpu_net, gpu_X)
    assert isinstance(P, cupy.ndarray)
    np.testing.assert_allclose(to_numpy(P), rm.attention_matrices(net, X), rtol=1e-10, atol=1e-13)
    if "mlp" not in kind and "norm" not in kind:
        sums = rm.path_sums(gpu_net, gpu_X)
        assert isinstance(sums.terms, cupy.ndarray)
        np.testing.assert_allclose(to_numpy(sums.terms), rm.path_sums(net, X).terms, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("skip", [False, True, -0.5])
@pytest.mark.parametrize(("n", "d", "heads", "layers"), [(1, 1, 1, 1), (3, 2, 2, 12), (70, 20, 5, 4), (300, 8, 3, 5)])
@pytest.mark.parametrize("memory", [None, 24, 10**5])
def test_path_sums_on_a_gpu_are_those_of_the_cpu(
    n: int, d: int, heads: int, layers: int, skip: float, memory: int | None
) -> None:
    """Rows at a time, too, and with every kind of bias; the sum of all is the output."""
    net = rm.Network.random(n, d, heads, layers, seed=n, skip=skip, biases=True, scale=0.5)
    X = net.random_input(seed=1)
    sums, wanted = rm.path_sums(*both(net, X), memory=memory), rm.path_sums(net, X)
    size = np.abs(wanted.terms).max(axis=(1, 2), keepdims=True)
    assert (np.abs(to_numpy(sums.terms) - wanted.terms) <= 1e-12 * size).all()
    np.testing.assert_allclose(to_numpy(sums.bias), wanted.bias, rtol=1e-12)
    np.testing.assert_allclose(to_numpy(sums.total()), rm.forward(net, X), rtol=1e-10, atol=1e-11 * size.max())


def test_path_sums_of_layers_with_and_without_a_skip_on_a_gpu() -> None:
    net = rm.Network.random(12, 6, 2, 4, seed=0, skip=True)
    skips = (0.0, 1.0, 0.0, 0.5)
    layers = [[replace(s, skip=skip) for s in layer] for layer, skip in zip(net.sublayers, skips, strict=True)]
    mixed = rm.Network.from_layers(layers)
    X = net.random_input(seed=1)
    found, wanted = rm.path_sums(*both(mixed, X)).terms, rm.path_sums(mixed, X).terms
    assert not to_numpy(found)[:2].any()
    np.testing.assert_allclose(to_numpy(found), wanted, rtol=1e-11, atol=1e-13)


def test_path_sums_on_a_gpu_refuse_what_is_not_finite() -> None:
    net = rm.Network.random(5, 3, 2, 2, seed=0, skip=True)
    X = net.random_input(seed=1)
    there, given = both(net, X)
    given[2, 1] = float("nan")
    with pytest.raises(ValueError, match=r"^X: entry"):
        rm.path_sums(there, given)
    given[2, 1] = 1e300
    with pytest.raises(ValueError, match=r"^X: too large"):
        rm.path_sums(there, given)


@pytest.mark.parametrize("columns", [1, 31, 256, 257, 1024, 1025, 4096, 5000, 8192, 8193, 20000])
@pytest.mark.parametrize("divisor", [1.0, 3.0])
def test_a_softmax_of_rows_of_any_length(columns: int, divisor: float) -> None:
    logits = 30 * np.random.default_rng(columns).standard_normal((2, 3, columns))
    logits[0, 1, : columns // 2] = -np.inf
    wanted = np.exp((logits - logits.max(axis=-1, keepdims=True)) / divisor)
    found = to_numpy(cuda.row_softmax(cupy.asarray(logits), divisor))
    np.testing.assert_allclose(found, wanted / wanted.sum(axis=-1, keepdims=True), rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize(
    ("n", "m", "k", "v"), [(1, 1, 1, 1), (17, 33, 8, 8), (64, 64, 64, 64), (130, 77, 24, 40), (5, 200, 64, 3)]
)
@pytest.mark.parametrize("size", [1e-9, 0.1, 3.0, 20.0])
def test_the_fused_kernel_equals_its_twin_in_arrays(n: int, m: int, k: int, v: int, size: float) -> None:
    from rankmath.kernels.cuda import fits, fused_deviation

    rng = cupy.random.default_rng(n + m)
    left, right = rng.standard_normal((3, n, k)), rng.standard_normal((3, m, k))
    left *= size / max(1e-30, float(abs(left @ right.transpose(0, 2, 1)).max()))
    q = rng.random((3, m, 1))
    q /= q.sum(axis=1, keepdims=True)
    values = rng.standard_normal((3, m, v))
    if not fits(left, values):
        pytest.skip("the kernel needs compute capability 9.0")
    m_ij = cupy.expm1(left @ right.transpose(0, 2, 1))
    twin = (m_ij @ (q * values)) / (1 + m_ij @ q)
    scale = (abs(m_ij) @ (q * abs(values))) / (1 + m_ij @ q)
    assert float((abs(fused_deviation(left, right, q, values) - twin) / scale).max()) < 1e-13


@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (5, 3), (300, 7), (5000, 2)])
def test_the_small_kernels_equal_numpy(lead: tuple[int, ...], n: int, d: int) -> None:
    rng = np.random.default_rng(n)
    a, rows, scores = (
        rng.standard_normal((*lead, n, d)),
        rng.standard_normal((n, d)),
        rng.standard_normal((*lead, n, 1)),
    )
    scores[..., n // 2 :, :] = scores.max()  # ties: the first counts
    c = np.where(rng.random((*lead, n, 1)) < 0.3, -np.inf, 50 * scores)
    c[..., 0, :] = 0.0
    sizes = cuda.largest([cupy.asarray(a), cupy.asarray(c), cupy.asarray(a)[..., ::-1]])
    for found, array in zip(sizes, (a, c, a), strict=True):
        assert (found == np.abs(array).max(axis=(-2, -1), keepdims=True)).all()
    many = [cupy.asarray(a * k) for k in (1.0, -3.0, 0.5)]
    for found, k in zip(cuda.largest([*many, cupy.asarray(c)]), (1.0, 3.0, 0.5), strict=False):
        assert (found == np.abs(k * a).max(axis=(-2, -1), keepdims=True)).all()
    assert np.isnan(cuda.largest([cupy.asarray([[1.0, np.nan]])])[0]).all()
    host = Float64(a)
    for array in (rows, a):
        mine = cuda.relative_to_largest(cupy.asarray(scores), cupy.asarray(array))
        for x, y in zip(mine, host.relative_to_largest(scores, array), strict=True):
            assert (to_numpy(x) == y).all()
    q, log_q, least = cuda.column_softmax(cupy.asarray(c))
    q_host, log_q_host, least_host = host.column_softmax(c, 1.0)
    np.testing.assert_allclose(to_numpy(q), q_host, rtol=1e-13)
    np.testing.assert_allclose(to_numpy(log_q), log_q_host, rtol=1e-14, atol=1e-14)
    assert least == pytest.approx(least_host, rel=1e-14)
    squares = (a * a).sum(axis=-1, keepdims=True)
    for first, rows_too in ((0, min(n, 40)), (n // 2, 1), (n - 1, 1)):
        products = a[..., first : first + rows_too, :] @ np.swapaxes(a[..., first:, :], -1, -2)
        found = to_numpy(cuda.farthest(cupy.asarray(products), cupy.asarray(squares)))
        np.testing.assert_allclose(found, host.farthest(products, squares), rtol=1e-14, atol=1e-14)
        gaps = ((a[..., first : first + rows_too, None, :] - a[..., None, first:, :]) ** 2).sum(axis=-1)
        np.testing.assert_allclose(found[..., 0], gaps.max(axis=-1), rtol=1e-12, atol=1e-12)
    spoilt = cupy.asarray([[1.0, np.nan, 0.0]])
    assert cupy.isnan(cuda.farthest(spoilt, cupy.ones((3, 1)))).all()


def test_diameters_and_mu_stay_on_the_device() -> None:
    X = cupy.random.default_rng(1).standard_normal((300, 7))
    for p in (1, 2, np.inf):
        out = rm.diameter(X, p)
        assert isinstance(out, cupy.ndarray)
        np.testing.assert_allclose(to_numpy(out), rm.diameter(to_numpy(X), p), rtol=1e-13)
    np.testing.assert_allclose(to_numpy(rm.mu(X)), rm.mu(to_numpy(X)), rtol=1e-13)


def test_median_residuals_on_the_device() -> None:
    net = rm.Network.random(tokens=12, dim=4, heads=2, layers=3, seed=5)
    X = net.random_input(seed=6)
    cpu, gpu = rm.trace(net, X, "one"), rm.trace(net, X, "one", backend="cupy")
    np.testing.assert_allclose(gpu.log_residual, cpu.log_residual, rtol=1e-9)


def test_mixing_libraries_is_refused() -> None:
    net = rm.Network.random(tokens=4, dim=3, seed=0)
    gpu_net, gpu_X = both(net, net.random_input())
    for pair in ((net, gpu_X), (gpu_net, net.random_input())):
        with pytest.raises(ValueError, match=r"^W: .*one library"):
            rm.trace(*pair)
    with pytest.raises(ValueError, match=r"^arithmetic: .*backend='numpy'"):
        rm.trace(gpu_net, gpu_X, arithmetic="balls")


def test_blocks_of_any_size_give_the_same_trace() -> None:
    net = rm.Network.random(tokens=200, dim=70, heads=2, layers=3, seed=1)  # too wide for the fused kernel
    X = net.random_input(seed=2)
    whole = rm.trace(net, X, backend="cupy").log_residual
    for memory in (24, 10**4, 10**6):
        np.testing.assert_allclose(rm.trace(net, X, backend="cupy", memory=memory).log_residual, whole, rtol=1e-12)
        Y = rm.forward(net, X, backend="cupy", memory=memory)
        assert isinstance(Y, cupy.ndarray)
        np.testing.assert_allclose(to_numpy(Y), rm.forward(net, X), rtol=1e-10, atol=1e-13)
        sums = rm.path_sums(*both(net, X), memory=memory).terms
        np.testing.assert_allclose(to_numpy(sums), rm.path_sums(net, X).terms, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("run", [rm.trace, rm.forward, rm.path_sums], ids=lambda f: f.__name__)
def test_65536_tokens_within_8_gib(run: Any) -> None:
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    net = rm.Network.random(tokens=65536, dim=64, heads=1, layers=1, seed=0)
    there = both(net, net.random_input(seed=1))
    pool.set_limit(size=8 * 2**30)
    try:
        run(*there, memory=2 * 2**30)
        assert pool.total_bytes() <= 8 * 2**30
    finally:
        pool.set_limit(size=0)
        pool.free_all_blocks()


def test_a_batch_of_networks_is_its_members() -> None:
    nets = [rm.Network.random(tokens=6, dim=4, heads=2, layers=5, seed=s) for s in range(20)]
    X = np.stack([net.random_input(seed=50 + s) for s, net in enumerate(nets)])
    gpu = rm.trace(rm.Network.stack(nets), X, backend="cupy").log_residual
    for s, net in enumerate(nets):
        np.testing.assert_allclose(gpu[:, s], rm.trace(net, X[s]).log_residual, rtol=1e-9)


def test_memory_budget_is_taken_from_what_is_free() -> None:
    A = Float64(cupy.zeros(1))
    free, total = cupy.cuda.Device().mem_info
    assert 0 < A.block_entries * 24 <= max(free, total)


@pytest.mark.parametrize("key", ["own:diameter", "dong2021:2.3", "wu2024:1"])
def test_batteries_run_their_layers_on_the_device(key: str) -> None:
    class Asked(cupy.cuda.MemoryHook):
        name, times = "asked", 0

        def malloc_preprocess(self, **asked: Any) -> None:
            self.times += 1

    times, found = [], []
    for backend in ("numpy", "cupy"):
        with Asked() as memory:
            found.append(rm.verify_statement(key, instances=150, certify=2, search=0, backend=backend))
        times.append(memory.times)
    assert times[0] == 0 < times[1]
    cpu, gpu = found
    assert (gpu.outcome, gpu.holds, gpu.instances) == (cpu.outcome, cpu.holds, cpu.instances)
    assert gpu.tightest == pytest.approx(cpu.tightest, rel=1e-8)


def test_the_search_for_equilibria_takes_its_gradients_from_the_device() -> None:
    from rankmath.attention.backend import mover
    from rankmath.equilibria.search import _Family, log_modulus_mean, stable_search

    mask = rm.Mask.complete(4)
    labels = np.array([0, 1, 2, 3])
    p = np.random.default_rng(0).standard_normal(2 * 16 + 4)
    values, gradients = zip(
        *(
            _Family(mask.allowed.astype(float), labels, 4, 0.3, labels, mover(backend)).objective(
                p, log_modulus_mean, 6
            )
            for backend in ("numpy", "cupy")
        ),
        strict=True,
    )
    assert values[0] == values[1]
    np.testing.assert_allclose(gradients[1], gradients[0], rtol=1e-9, atol=1e-12)
    found = stable_search(rm.Mask.complete(2), [0, 1], seed=1, backend="cupy")
    assert found.radius < 0.95


def test_newtons_method_finds_the_same_equilibria_on_the_device() -> None:
    stable = rm.layernorm_equilibrium(3, 3, 3, mask="complete", stable=True)
    cpu, gpu = (rm.find_equilibria(stable, 200, 1, backend=backend) for backend in ("numpy", "cupy"))
    assert len(cpu) == len(gpu) > 2
    for one in gpu:
        assert isinstance(one.X, np.ndarray)
        assert min(np.abs(one.X - other.X).max() for other in cpu) < 1e-9


@pytest.mark.parametrize(
    ("count", "n", "d", "heads"), [(3, 5, 4, 1), (40, 64, 16, 3), (7, 300, 33, 2), (5, 130, 100, 2)]
)
@pytest.mark.parametrize("own", [False, True])
def test_a_batch_is_its_networks_one_by_one(count: int, n: int, d: int, heads: int, own: bool) -> None:
    nets = [rm.Network.random(n, d, heads, 4, seed=k if own else 0, biases=True) for k in range(count)]
    X = np.stack([net.random_input(seed=k, scale=4.0 ** -(k % 9)) for k, net in enumerate(nets)])
    net = rm.Network.stack(nets) if own else nets[0]
    found, last = rm.trace(net, X, backend="cupy"), rm.forward(net, X, backend="cupy").get()
    for k in range(count):
        expected = rm.trace(nets[k], X[k])
        np.testing.assert_allclose(found.log_residual[:, k], expected.log_residual, rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(found.log_diameter[:, k], expected.log_diameter, rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(last[k], rm.forward(nets[k], X[k]), rtol=1e-11, atol=1e-12)


def _layer_of(net: Any, X: Any, log_shrunk: float = 0.0) -> tuple[Any, ...]:
    """What `layer_on_gpu` and `attention_step` take, for the only layer of a network."""
    from dataclasses import replace

    from rankmath.attention.tokens import Carried, centre
    from rankmath.attention.weights import stacks_heads, weights_of

    A, (attention,) = Float64(X), net.attentions
    tokens = centre(A, X)
    tokens = replace(tokens, log_residual=tokens.log_residual.plus(log_shrunk))
    weights = weights_of(A, attention, stacked=stacks_heads(A, attention, X))
    skip = net.sublayers[0][0].skip
    return A, weights, tokens, None, Carried(skip, tokens) if skip else None


@pytest.mark.parametrize(
    ("n", "d", "heads", "kind", "scale", "log_shrunk"),
    [
        (2, 3, 1, {}, 1.0, 0.0),
        (64, 16, 1, {}, 1.0, 0.0),
        (100, 16, 5, {"skip": True}, 0.1, 0.0),
        (1000, 64, 3, {"biases": True}, 1.0, 0.0),
        (333, 40, 2, {"skip": -0.5, "biases": True}, 1e-3, 0.0),
        (300, 64, 3, {}, 1.0, -40.0),
        (1025, 16, 2, {"skip": 1.0}, 1.0, -1e5),
        (200, 128, 4, {}, 0.5, 0.0),
        (130, 250, 2, {"biases": True}, 0.5, 0.0),
        (130, 100, 2, {}, 1.0, -50.0),
        (700, 100, 3, {}, 0.5, 0.0),  # the keys in parts
        (5000, 8, 1, {}, 1.0, 0.0),
    ],
)
def test_a_layer_in_few_launches_is_the_layer_of_the_host(
    n: int, d: int, heads: int, kind: dict[str, Any], scale: float, log_shrunk: float
) -> None:
    from rankmath.attention.alone import layer_on_gpu
    from rankmath.attention.centred import attention_step

    net = rm.Network.random(n, d, heads, 1, seed=n, **kind)
    X = net.random_input(seed=1, scale=scale) + 0.3
    host, there = _layer_of(net, X, log_shrunk), _layer_of(*both(net, X), log_shrunk)
    wanted = attention_step(*host)
    for _ in range(4):  # one by one, captured, and as a graph
        made = layer_on_gpu(*there)
        assert made is not None
        for mine, theirs in ((made.residual, wanted.residual), (made.center, wanted.center)):
            np.testing.assert_allclose(to_numpy(mine), theirs, rtol=0, atol=1e-12)
        np.testing.assert_allclose(made.log_center, wanted.log_center, rtol=1e-14, atol=1e-12)
        found, sigma = made.log_residual.to_float(), wanted.log_residual.to_float()
        np.testing.assert_allclose(found, sigma, rtol=1e-14, atol=1e-12)
        np.testing.assert_allclose(made.lost_bits, wanted.lost_bits, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_traces_on_the_device_are_within_what_balls_prove(seed: int) -> None:
    net = rm.Network.random(12 + seed, 4 + seed, 1 + seed, 6, seed=seed, skip=0.5 if seed % 2 else 0.0)
    X = net.random_input(seed=seed)
    proved, gpu = rm.trace(net, X, arithmetic="balls"), rm.trace(net, X, backend="cupy")
    np.testing.assert_allclose(gpu.log_residual, proved.log_residual, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gpu.log_diameter, proved.log_diameter, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gpu.log_mean, proved.log_mean, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("n", "d", "heads", "layers", "kind", "scale"),
    [
        (300, 24, 3, 9, {}, 1.0),
        (65, 7, 1, 6, {"skip": -0.5, "biases": True}, 0.3),
        (200, 130, 2, 7, {}, 1.0),
        (40, 16, 2, 6, {"skip": True}, 8.0),  # saturated layers between others
    ],
)
def test_all_layers_with_one_wait(n: int, d: int, heads: int, layers: int, kind: dict[str, Any], scale: float) -> None:
    net = rm.Network.random(n, d, heads, layers, seed=n, **kind)
    X = net.random_input(seed=1, scale=scale)
    host, there = rm.trace(net, X), both(net, X)
    for _ in range(3):  # one by one, captured, and as a graph
        gpu = rm.trace(*there)
        for name in ("log_residual", "log_diameter", "log_mean"):
            np.testing.assert_allclose(getattr(gpu, name), getattr(host, name), rtol=1e-11, atol=1e-10)
        np.testing.assert_allclose(to_numpy(rm.forward(*there)), rm.forward(net, X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [(3, 5), (2, 7, 300), (4, 1)])
def test_softmax_of_rows(shape: tuple[int, ...]) -> None:
    from rankmath.attention.softmax import softmax
    from rankmath.kernels.cuda import row_softmax

    logits = 30 * np.random.default_rng(0).standard_normal(shape)
    logits[..., 1:][logits[..., 1:] < -20] = -np.inf
    wanted = softmax(Float64(logits), logits.copy(), 3.0)
    np.testing.assert_allclose(to_numpy(row_softmax(cupy.asarray(logits), 3.0)), wanted, rtol=1e-13)


def test_metrics_of_a_model_whose_layers_run_on_the_device() -> None:
    model = initial_model(dim=48, heads=4, layers=4, seed=0)
    X = model.embed(model.random_ids(20, seed=1))
    names = ["relative-residual", "cosine-gap", "effective-rank", "attention-entropy"]
    for variant in VARIANTS:
        net = model.variant(variant).network
        here, there = rm.measure(net, X, names), rm.measure(net, X, names, backend="cupy")
        for name in names:
            one, other = (found.logs.get(name, found.values[name]) for found in (here, there))
            assert np.allclose(one, other, rtol=1e-9, atol=1e-9, equal_nan=True), (variant, name)
