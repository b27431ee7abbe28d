"""Equilibria in blocks with RMSNorm, a gain and rotary positions: they rest, attract alike, or grow."""

from __future__ import annotations

import numpy as np
import pytest

import rankmath as rm
from rankmath.model.positions import Rotary

#: Tokens, dimension, rank, mask, and whether it attracts.
SHAPES = [(4, 4, rank, "causal", True) for rank in (1, 2, 3, 4)] + [
    (3, 3, 3, "complete", True),
    (3, 4, 2, "complete", False),
    (4, 3, 3, "causal", False),
]
GAIN = np.array([1.0, 2.0, 0.5, 1.25])


@pytest.mark.parametrize(("n", "d", "rank", "mask", "stable"), SHAPES)
def test_every_rank_rests_behind_rmsnorm_with_a_gain_and_rotary_positions(
    n: int, d: int, rank: int, mask: str, stable: bool
) -> None:
    rest = rm.layernorm_equilibrium(n, d, rank, mask=mask, stable=stable)
    net, X = rest.block(GAIN[:d], rotary=Rotary.usual(n, 4))
    assert net.norm_kind == "rms"
    assert np.abs(rm.forward(net, X) - X).max() < 1e-9 * max(1.0, np.abs(rest.W_QK).max() / 100)
    assert np.linalg.matrix_rank(X, tol=1e-9) == rank
    # A small step away goes where it goes on the sphere, in other coordinates.
    Z = rest.X + 1e-3 * np.random.default_rng(0).standard_normal(X.shape)
    Z /= np.linalg.norm(Z, axis=1)[:, None]
    *_, there = rest.iterate(Z, 1)
    ours = rm.forward(net, np.sqrt(d) * Z * GAIN[:d])
    assert np.abs(ours - np.sqrt(d) * there * GAIN[:d]).max() < 1e-9


def test_before_a_norm_directions_rest_and_lengths_grow_by_a_constant() -> None:
    rest = rm.layernorm_equilibrium(3, 3, 3, mask="complete", stable=True)
    one, X = rest.block(GAIN[:3], rotary=Rotary.usual(3, 2), norm_at="before")
    states = rm.hidden_states(rm.Network.from_layers([*one.sublayers] * 20), X)
    lengths = np.linalg.norm(states, axis=-1)
    assert np.abs(np.asarray(states) / lengths[..., None] - X).max() < 1e-9
    assert np.diff(lengths, axis=0) == pytest.approx(np.tile(np.sqrt(3) * rest.scale_factors, (20, 1)), rel=1e-9)
    # The same certificate proves it: N(X) is the equilibrium whatever the lengths.
    assert rest.certify(stable=True).certificate().check().accepted


def test_what_is_no_such_block_is_refused() -> None:
    rest = rm.layernorm_equilibrium(3, 3, 2, mask="causal")
    with pytest.raises(rm.InvalidArgument, match=r"gain: an entry 0 given; a positive gain"):
        rest.block([1.0, 0.0, 1.0])
    with pytest.raises(rm.InvalidArgument, match="norm_at: 'behind' given"):
        rest.block(norm_at="behind")


@pytest.mark.parametrize(("n", "rank", "mask"), [(3, 3, "causal"), (3, 3, "complete"), (3, 2, "complete")])
def test_where_rotary_positions_act_every_rank_has_a_stable_equilibrium(n: int, rank: int, mask: str) -> None:
    block, X = rm.rotary_equilibrium(n, rank, mask)
    assert np.linalg.matrix_rank(X, tol=1e-3) == rank
    certificate = block.certificate(X)
    assert certificate.statement == "own:stable-rotary"
    assert certificate.check().accepted
    # The layer of the definitions, with RMSNorm, a gain and the same rotary positions, keeps its tokens.
    gain = GAIN[:rank]
    net, Z = block.network(gain), np.sqrt(rank) * X * gain
    assert np.abs(rm.forward(net, Z) - Z).max() < 1e-10
    # The rotations act: without them tokens attend otherwise.
    plain = rm.Network.from_layers([[s.with_attention(rotary=None) for s in layer] for layer in net.sublayers])
    assert np.abs(rm.attention_matrices(net, Z) - rm.attention_matrices(plain, Z)).max() > 1e-4
    away = Z * (1 + 1e-8 * np.random.default_rng(0).standard_normal(Z.shape))
    there = rm.forward(rm.Network.from_layers([*net.sublayers] * 300), away)
    assert np.abs(there - Z).max() < 1e-10
