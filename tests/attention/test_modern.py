"""Positions, grouped heads, QK-norm, caps, gates, parallel maps: every arithmetic and the definition agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.multiprecision import Multiprecision
from rankmath.attention import rows
from rankmath.attention.experiments.jacobian import jacobian_norms
from rankmath.attention.plain import attention_matrices, hidden_states
from rankmath.formula.reference import reference_trace, tokens_by_text
from rankmath.model.positions import ALiBi, PositionTable, Rotary
from rankmath.model.sublayers import MLP, Attention, LayerNorm, Parallel, Sublayer

SMALL: dict[str, dict[str, Any]] = {
    "rotary": {"tokens": 5, "dim": 4, "layers": 6, "positions": "rotary"},
    "rotary, biases": {
        "tokens": 4,
        "dim": 4,
        "heads": 2,
        "head_dim": 4,
        "layers": 4,
        "positions": "rotary",
        "biases": True,
    },
    "causal rotary": {
        "tokens": 5,
        "dim": 4,
        "heads": 2,
        "head_dim": 2,
        "layers": 5,
        "positions": "rotary",
        "mask": "causal",
    },
    "grouped, window": {
        "tokens": 6,
        "dim": 4,
        "heads": 4,
        "kv_heads": 2,
        "head_dim": 2,
        "layers": 4,
        "positions": "rotary",
        "mask": "causal",
        "window": 3,
    },
    "part of each row": {
        "tokens": 4,
        "dim": 3,
        "heads": 1,
        "head_dim": 3,
        "layers": 4,
        "positions": Rotary.usual(4, 2),
    },
    "QK-norm": {"tokens": 4, "dim": 4, "heads": 2, "head_dim": 3, "layers": 4, "qk_norm": True},
    "QK-norm, rotary": {
        "tokens": 4,
        "dim": 4,
        "heads": 2,
        "head_dim": 2,
        "layers": 4,
        "qk_norm": True,
        "positions": "rotary",
        "biases": True,
    },
    "capped": {"tokens": 4, "dim": 3, "heads": 2, "layers": 4, "softcap": 1.5},
    "capped, rotary": {
        "tokens": 4,
        "dim": 4,
        "heads": 2,
        "head_dim": 4,
        "layers": 4,
        "softcap": 0.7,
        "positions": "rotary",
        "biases": True,
    },
    "capped, causal": {"tokens": 4, "dim": 4, "layers": 4, "softcap": 0.7, "positions": "rotary", "mask": "causal"},
    "ALiBi": {"tokens": 5, "dim": 3, "heads": 2, "layers": 4, "positions": "alibi"},
    "hardly ALiBi": {"tokens": 5, "dim": 3, "heads": 2, "layers": 5, "positions": ALiBi([1e-12, 3e-13])},
    "ALiBi, capped": {"tokens": 4, "dim": 3, "heads": 1, "layers": 4, "positions": "alibi", "softcap": 2.0},
    "a large table": {
        "tokens": 4,
        "dim": 3,
        "layers": 4,
        "positions": PositionTable(3 + 1e-9 * np.arange(16.0).reshape(1, 4, 4) ** 2),
    },
    "Llama": {
        "tokens": 4,
        "dim": 4,
        "heads": 2,
        "kv_heads": 1,
        "layers": 2,
        "positions": "rotary",
        "norm": "rms",
        "norm_at": "before",
        "skip": True,
        "mlp": "swiglu",
        "mask": "causal",
        "biases": True,
    },
    "no skip, GeGLU": {
        "tokens": 4,
        "dim": 4,
        "heads": 2,
        "kv_heads": 1,
        "layers": 2,
        "positions": "rotary",
        "norm": "rms",
        "norm_at": "before",
        "mlp": "geglu",
    },
}


def built() -> dict[str, rm.Network]:
    """Networks that `random` does not make: parallel maps, a norm behind a map, QK-norm of all heads at once."""
    rng = np.random.default_rng(5)
    W = rng.standard_normal((5, 4, 4, 2)) / 2
    gate = MLP(*rng.standard_normal((2, 4, 4)), activation="silu", W_gate=rng.standard_normal((4, 4)))
    norm = LayerNorm("rms", 1e-3, 1 + rng.random(4))
    together = Attention.from_qkvo(
        W[0],
        W[1, :2],
        W[2, :2],
        W[3].transpose(0, 2, 1),
        b_K=W[4, :2, 0],
        qk_norm=(1 + rng.random(8), 1 + rng.random(4), 1e-4),
        rotary=Rotary.usual(5, 2),
    )
    sides = Parallel((together, gate))
    return {
        "QK-norm of all heads": rm.Network.from_layers([[Sublayer(together)]] * 3),
        "parallel": rm.Network.from_layers([[Sublayer(sides, 0.5, before=norm)]] * 2),
        "parallel, no skip": rm.Network.from_layers([[Sublayer(sides, before=norm)]] * 2),
        "norm behind": rm.Network.from_layers(
            [[Sublayer(together, 1.0, before=norm, behind=norm), Sublayer(gate, 1.0, behind=norm)]] * 2
        ),
        "norm behind, no skip": rm.Network.from_layers([[Sublayer(together, behind=norm, after="standard")]] * 2),
    }


def network(name: str) -> rm.Network:
    return rm.Network.random(seed=3, **SMALL[name]) if name in SMALL else built()[name]


NAMES = [*SMALL, *built()]


@pytest.mark.parametrize("name", NAMES)
def test_the_passes_agree_with_the_definition_in_mpmath(name: str) -> None:
    net = network(name)
    X = net.random_input(seed=1, tokens=net.tokens or 5)
    traced, balls = rm.trace(net, X), rm.trace(net, X, arithmetic="balls")
    reference = reference_trace(net, X)
    assert traced.log_residual == pytest.approx(balls.log_residual, abs=1e-12)
    assert reference.log_residual == pytest.approx(balls.log_residual, abs=1e-12)
    assert (balls.log_residual_lower <= balls.log_residual_upper).all()
    digits = rm.trace(net, X, arithmetic="mpmath", dps=60).log_residual
    assert digits == pytest.approx(balls.log_residual, abs=1e-12)
    with mpmath.workdps(30):
        plain = [np.asarray(rows, dtype=float) for rows in tokens_by_text(Multiprecision(30), net, X)]
    for ours, theirs in zip(hidden_states(net, X), plain, strict=True):
        assert np.abs(ours - theirs).max() < 1e-13 * max(1.0, np.abs(ours).max())


@pytest.mark.parametrize("name", NAMES)
def test_files_bring_them_back(tmp_path: Path, name: str) -> None:
    net = network(name)
    X = net.random_input(seed=1, tokens=net.tokens or 5)
    net.save(tmp_path / "net.npz")
    again = rm.Network.load(tmp_path / "net.npz")
    assert (rm.forward(again, X) == rm.forward(net, X)).all()
    assert str(again) == str(net)


@pytest.mark.parametrize("name", ["rotary", "capped", "QK-norm of all heads", "Llama", "parallel"])
def test_a_batch_is_its_members(name: str) -> None:
    net = network(name)
    X = np.stack([net.random_input(seed=s, tokens=net.tokens or 5) for s in range(3)])
    whole = rm.trace(net, X).log_residual
    for k in range(3):
        assert whole[:, k] == pytest.approx(rm.trace(net, X[k]).log_residual, abs=1e-12)
        assert rm.forward(net, X)[k] == pytest.approx(rm.forward(net, X[k]), abs=1e-12)


def deep(L: int, *, value: float, n: int = 4, d: int = 4, turn: float = 1.0, **options: Any) -> rm.Network:
    """One layer repeated: queries and keys Gaussian, values a multiple of the identity."""
    rng = np.random.default_rng(0)
    table = Rotary.of_angles(turn * np.arange(n)[:, None] * 100.0 ** (-2.0 * np.arange(d // 2) / d))
    W = 0.6 * rng.standard_normal((2, 1, d, d))
    layer = Attention.from_qkvo(W[0], W[1], value * np.eye(d)[None], np.eye(d)[None], rotary=table, **options)
    return rm.Network.from_layers([[Sublayer(layer)]] * L)


LITTLE_ITSELF = PositionTable(-4 * np.eye(5)[None])


@pytest.mark.parametrize(
    ("L", "least", "options"),
    [
        (60, 1000, {"value": 0.5}),  # log Δ falls like the square of the depth
        (150, 150, {"value": 1.0, "n": 3, "d": 2}),
        (150, 40, {"value": 1.0, "n": 3, "d": 2, "mask": "causal"}),
        # Differences from the first token that are of very different sizes.
        (60, 90, {"value": 1.0, "n": 5, "d": 2, "mask": "causal_window:2", "position": LITTLE_ITSELF}),
        (20, 300, {"value": 1.0, "turn": 1e-9}),  # P is rank one up to 1e-18
        (8, 1000, {"value": 1.0, "turn": 0.0}),  # no rotation: the cubic case
        (60, 1000, {"value": 0.5, "softcap": 0.5}),
        (60, 70, {"value": 1.0, "n": 3, "qk_norm": (np.ones(4), np.ones(4), 1e-6)}),
    ],
)
def test_no_digit_is_lost_at_any_depth(L: int, least: int, options: dict[str, Any]) -> None:
    net = deep(L, **options)
    X = np.random.default_rng(1).standard_normal((options.get("n", 4), net.dim))
    traced, balls = rm.trace(net, X), rm.trace(net, X, arithmetic="balls")
    assert balls.log_residual[-1] < -least * math.log(10)
    assert np.abs(traced.log_residual - balls.log_residual).max() < 1e-11
    assert traced.lost_bits.max() < 12


@pytest.mark.parametrize("gained", [False, True])
@pytest.mark.parametrize("kind", ["rms", "standard"])
def test_tokens_far_below_the_floor_of_a_norm_keep_their_digits(kind: Any, gained: bool) -> None:
    """A gate squares the size of its tokens: after eight layers they are below every double, and divided by √eps."""
    gain = np.random.default_rng(3).standard_normal(4) if gained else None
    norm = rm.LayerNorm(kind, 1e-5, gain)
    net = rm.Network.random(4, 4, 2, 8, seed=902, scale=0.1, mlp="swiglu", norm=norm, positions="alibi")
    X = net.random_input(seed=903)
    balls = rm.trace(net, X, arithmetic="balls").log_residual
    assert balls[-1] < -800
    assert (np.abs(rm.trace(net, X).log_residual - balls) <= 1e-12 * np.abs(balls)).all()


def test_a_logarithm_of_ten_million_is_right_to_its_last_places() -> None:
    """Two neighbouring doubles are 1.9e-9 apart there: what is lost is counted in these steps."""
    parts = {"norm": "rms", "norm_at": "before", "mlp": "geglu", "window": 2}
    net = rm.Network.random(3, 8, 4, 14, seed=2050, scale=0.1, **parts)
    X = net.random_input(seed=2051)
    balls = rm.trace(net, X, arithmetic="balls").log_residual
    assert balls[-1] < -9e6
    assert (np.abs(rm.trace(net, X).log_residual - balls) <= 4 * np.spacing(np.abs(balls))).all()


@pytest.mark.parametrize("mlp", ["tanh", "relu", "gelu", "swiglu"])
def test_hidden_units_beyond_the_range_of_doubles_keep_their_digits(mlp: str) -> None:
    """Values so small that all tokens leave the doubles' range: the MLP acts on e^−2000 as it does on e^−20."""
    net = rm.Network.random(3, 2, 2, 9, seed=5, positions="rotary", mask="causal", mlp=mlp)
    small = [
        [s if s.attention is None else s.with_attention(value=1e-120 * s.attention.value) for s in layer]
        for layer in net.sublayers
    ]
    X, net = net.random_input(seed=6), rm.Network.from_layers(small, tokens=3)
    balls = rm.trace(net, X, arithmetic="balls", bits=400)
    assert balls.log_residual[-1] < -1000 * math.log(10)
    assert np.abs(rm.trace(net, X).log_residual / balls.log_residual - 1).max() < 1e-14


def test_with_positions_a_layer_shrinks_by_the_second_modulus_of_attention_at_consensus() -> None:
    """W = I: the factor of a layer tends to |λ₂(P₀)|, P₀ the attention of equal tokens; real for two."""
    net = deep(40, value=1.0, n=2)
    X = np.random.default_rng(2).standard_normal((2, 4))
    balls = rm.trace(net, X, arithmetic="balls")
    limit = np.asarray([float(x.mid()) for x in balls.center])
    P0 = attention_matrices(rm.Network.from_layers(net.sublayers[:1]), np.repeat(limit[None], 2, 0))[0, 0]
    moduli = np.sort(np.abs(np.linalg.eigvals(P0)))[::-1]
    assert moduli[0] == pytest.approx(1.0, abs=1e-13)
    assert 1e-3 < moduli[1] < 0.9
    assert float((balls.values[-1] - balls.values[-2]).exp().mid()) == pytest.approx(moduli[1], abs=1e-8)


def test_the_second_token_under_a_causal_mask_is_a_product() -> None:
    """X₂(L) − X₁(L) = (X₂(0) − X₁(0)) ∏ P₂₂ for W = I, whatever the logits: exact at every depth."""
    net = deep(30, value=1.0, mask="causal")
    X = np.random.default_rng(2).standard_normal((4, 4))
    states = hidden_states(net, X)
    factors = attention_matrices(net, X)[:, 0, 1, 1]
    for l, state in enumerate(states):
        expected = (X[1] - X[0]) * np.prod(factors[:l])
        assert np.abs(state[1] - state[0] - expected).max() < 1e-14


@pytest.mark.parametrize("name", ["rotary", "rotary, biases", "QK-norm, rotary", "capped, rotary"])
def test_rotary_positions_are_relative(name: str) -> None:
    net = network(name)
    X = net.random_input(seed=4)
    n = len(X)

    def moved(by: int) -> rm.Network:
        width = net.attentions[0].rotary.width  # type: ignore[union-attr]
        far = Rotary.usual(n + by, width)
        table = Rotary(far.cos[by:], far.sin[by:])
        return _with(net, rotary=table)

    assert rm.forward(moved(7), X) == pytest.approx(rm.forward(moved(0), X), abs=1e-12)


def test_options_of_random_networks_are_options_of_given_weights() -> None:
    """norm_at, window and relative positions, by `random` and by `from_qkvo` of its own arrays."""
    options: dict[str, Any] = {"norm": "rms", "norm_at": "before", "mask": "causal", "window": 2, "skip": True}
    net = rm.Network.random(5, 4, 2, 2, 7, kv_heads=1, positions="relative", **options)
    a, b = net.attentions
    parts = [np.stack([getattr(one, name) for one in (a, b)]) for name in ("query", "key", "value", "output")]
    again = rm.Network.from_qkvo(*parts, position=a.position, **options)
    X = net.random_input(seed=8)
    assert (rm.forward(again, X) == rm.forward(net, X)).all()
    B = np.asarray(a.position.block(slice(None), 0, 5, 5)) if a.position else np.zeros(0)
    assert (B[:, 1:, 1:] == B[:, :-1, :-1]).all()
    assert len(np.unique(B)) == 2 * 9
    with pytest.raises(rm.InvalidArgument, match=r"^norm_at: 'before' given without a norm"):
        rm.Network.from_qkvo(*parts, norm_at="before")


def test_heads_of_one_group_are_heads_with_equal_keys_and_values() -> None:
    net = network("grouped, window")
    for attention in net.attentions:
        assert attention.kv_heads == 2
        for array in (attention.key, attention.value):
            assert (array[0] == array[1]).all()
            assert (array[2] == array[3]).all()
            assert (array[1] != array[2]).any()


def test_a_cap_far_above_the_logits_changes_nothing() -> None:
    plain, capped = (rm.Network.random(tokens=4, dim=3, heads=2, layers=4, seed=1, softcap=t) for t in (None, 1e9))
    X = plain.random_input(seed=1)
    assert rm.trace(capped, X).log_residual == pytest.approx(rm.trace(plain, X).log_residual, abs=1e-12)


def test_rotations_by_nothing_change_nothing() -> None:
    plain = rm.Network.random(tokens=4, dim=4, heads=2, layers=5, seed=1)
    turned = _with(plain, rotary=Rotary.of_angles(np.zeros((4, 2))))
    X = plain.random_input(seed=1)
    assert rm.trace(turned, X).log_residual == pytest.approx(rm.trace(plain, X).log_residual, abs=1e-12)


def test_path_sums_go_through_positions() -> None:
    net = rm.Network.random(tokens=5, dim=4, heads=2, layers=3, seed=2, positions="rotary", softcap=3.0, skip=0.5)
    X = net.random_input(seed=1)
    sums = rm.path_sums(net, X)
    assert sums.total() == pytest.approx(rm.forward(net, X), abs=1e-12)
    first = sums.log_residual()
    assert first[1:] == pytest.approx([math.log(float(rm.mu(term))) for term in sums.terms[1:]], abs=1e-9)


def test_differences_of_capped_logits_have_all_digits() -> None:
    A, rng = Float64(np.zeros((1, 1))), np.random.default_rng(0)
    context = mpmath.mp.clone()
    context.dps = 60
    f = context.tanh
    for _ in range(300):
        s = float(rng.standard_normal())
        d, c, g = (float(rng.standard_normal() * 10.0 ** rng.integers(-12, -1)) for _ in range(3))
        ours = float(rows.capped(A, 1.0, *(np.asarray([[v]]) for v in (s, d, c, g)))[0, 0])
        exact, s = context.mpf(s), context.mpf(s)
        exact = f(s + d + c + g) - f(s + c) - f(s + d) + f(s)
        parts = abs(context.mpf(g)) + abs(context.mpf(d) * c)
        assert abs(ours - exact) <= 1e-15 * parts


@np.errstate(all="raise", under="ignore")
def test_logits_far_beyond_the_cap_divide_nothing_by_zero() -> None:
    """cosh of 600 squared overflows and its inverse underflows: 0/0 had come of it."""
    A, rng = Float64(np.zeros((1, 1))), np.random.default_rng(1)
    with mpmath.workdps(60):
        for _ in range(300):
            s, d, c, g = (float(rng.standard_normal() * 10.0 ** rng.integers(-3, 4)) for _ in range(4))
            ours = float(rows.capped(A, 1.0, *(np.asarray([[v]]) for v in (s, d, c, g)))[0, 0])
            at = [mpmath.tanh(mpmath.mpf(s) + v) for v in (mpmath.mpf(d) + c + g, c, d, 0)]
            # The steps of tanh are exact to the last digits; the sums that they begin at are rounded.
            rounded = 1e-15 * (1 + sum(abs(v) for v in (s, d, c, g)))
            assert abs(ours - (at[0] - at[1] - at[2] + at[3])) <= 8 * rounded, (s, d, c, g)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rm.Network.random(tokens=4, dim=3, positions="rotary"), "an even number is needed"),
        (lambda: rm.Network.random(tokens=4, dim=4, positions="learned"), "positions: 'learned' given"),
        (lambda: rm.Network.random(tokens=4, dim=4, heads=3, kv_heads=2), "kv_heads: 2 given"),
        (lambda: rm.Network.random(tokens=4, dim=4, norm_at="before"), "norm_at: 'before' given without a norm"),
        (lambda: rm.Network.random(tokens=4, dim=4, window=2, mask="star"), "window: 2 given with another mask"),
        (lambda: rm.Network.random(tokens=4, dim=4, softcap=0.0), "softcap: 0.0 given"),
        (lambda: Parallel(()), "maps: a non-empty sequence"),
        (lambda: Sublayer(None, 1.0, behind="rms"), "behind: given without a map"),
        (lambda: MLP(np.eye(2), np.eye(2), b_gate=np.ones(2)), "b_gate: given without W_gate"),
        (lambda: rm.trace(network("rotary"), np.ones((6, 4))), "rotary positions go up to 5"),
    ],
)
def test_what_is_not_one_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(rm.InvalidArgument, match=message):
        make()


@pytest.mark.parametrize("name", ["rotary, biases", "QK-norm, rotary", "capped, rotary", "Llama", "parallel, capped"])
def test_attention_in_balls_contains_the_plain_one_and_derivatives_are_differences(name: str) -> None:
    net = network(name.replace(", capped", "") if name.startswith("parallel") else name)
    if name.startswith("parallel"):
        net = _with(net, qk_norm=None, softcap=1.0)
    X = net.random_input(seed=1, tokens=net.tokens or 5)
    metrics = ["attention-entropy"]
    floats, balls = (rm.measure(net, X, metrics, arithmetic=a) for a in ("float64", "balls"))
    assert balls.values[metrics[0]][1:] == pytest.approx(floats.values[metrics[0]][1:], abs=1e-10)
    one = rm.Network.from_layers(net.sublayers[:1])
    step, columns = 1e-6, []
    for k in range(X.size):
        E = step * (np.arange(X.size) == k).reshape(X.shape)
        columns.append((rm.forward(one, X + E) - rm.forward(one, X - E)).ravel() / (2 * step))
    assert jacobian_norms(one, X)[0] == pytest.approx(np.linalg.norm(np.asarray(columns), 2), rel=1e-6)


def _with(net: rm.Network, **changes: Any) -> rm.Network:
    """The network with other parts of every attention."""

    def changed(f: object) -> object:
        if isinstance(f, Parallel):
            return Parallel(tuple(changed(part) for part in f.maps))  # type: ignore[misc]
        return replace(f, **changes) if isinstance(f, Attention) else f

    layers = [[replace(s, map=changed(s.map)) for s in layer] for layer in net.sublayers]  # type: ignore[arg-type]
    return rm.Network.from_layers(layers)
