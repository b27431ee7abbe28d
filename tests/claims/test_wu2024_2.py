"""wu2024:2, its step and corollary, own:full-rank, own:hemisphere: orthogonal values under sphere LayerNorm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.claims import statement
from rankmath.claims.wu2024_2 import SphereInstance, star_network
from rankmath.decide.battery import verify
from rankmath.equilibria.map import normalise
from rankmath.formula.language import FUNCTIONS
from rankmath.formula.run import Run
from rankmath.linalg.masks import Mask
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import verdicts
from rankmath.verification.verdict import Outcome

SPHERE = ["wu2024:2", "own:full-rank", "wu2024:cor1", "own:hemisphere"]


def on_sphere(n: int, d: int, L: int, mask: Any, seed: int = 0) -> SphereInstance:
    rng = np.random.default_rng(seed)
    values = np.stack([np.eye(d)[rng.permutation(d)] * rng.choice([-1.0, 1.0], d) for _ in range(L)])[:, None]
    net = rm.Network.from_arrays(rng.standard_normal((L, 1, d, d)), values, norm="sphere", mask=mask)
    return SphereInstance(net, np.abs(rng.standard_normal((n, d))) + 0.1)


def plain(instance: SphereInstance) -> list[np.ndarray[Any, Any]]:
    """X(0), X(1), … by the definition."""
    net, X = instance.net, normalise(np.asarray(instance.X), "sphere")
    found = [X]
    for layer in range(net.layers):
        logits = X @ net.W_QK[layer, 0] @ X.T / math.sqrt(net.d_qk)
        weights = np.where(net.mask_for(len(X)).allowed, np.exp(logits), 0.0)
        X = normalise(weights / weights.sum(axis=1, keepdims=True) @ X @ net.W[layer, 0], "sphere")
        found.append(X)
    return found


# -- the printed step and the printed theorem ------------------------------------------------------------------


def test_a_star_with_n_epsilon_below_one_breaks_the_step_and_not_the_theorem() -> None:
    star = star_network(3, 1.125)
    epsilon = 1 / (1 + math.exp(1.125))
    assert 3 * epsilon < 1
    verdict = verify("wu2024:2-step", star.net, star.X, arithmetic="balls")
    assert (verdict.outcome, verdict.certified) == (Outcome.VIOLATED, True)
    # two leaves meet at the hub only
    assert epsilon**2 / ((1 - epsilon) ** 2 + epsilon**2) < 3 * epsilon**2
    for key in SPHERE:
        assert verify(key, star.net, star.X, arithmetic="balls").outcome == Outcome.HOLDS


def test_where_n_epsilon_is_one_nothing_is_said() -> None:
    """Uniform attention over three tokens: ε = 1/3. The printed theorem excludes it, and so do we."""
    net = rm.Network.from_arrays(np.zeros((1, 1, 3, 3)), np.eye(3)[None, None], 1, norm="sphere")
    for key in ("wu2024:2-step", "wu2024:2"):
        assert verify(key, net, np.eye(3) + 2.0**-30).outcome in (Outcome.NOT_APPLICABLE, Outcome.UNDECIDED)
    sharper = rm.Network.from_arrays(np.eye(3)[None, None] / 8, np.eye(3)[None, None], 1, norm="sphere")
    for key in ("wu2024:2-step", "wu2024:2"):
        assert verify(key, sharper, np.eye(3) + 2.0**-30).outcome == Outcome.HOLDS


def test_the_step_is_right_where_radius_and_diameter_agree() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        net = rm.Network.from_arrays(rng.standard_normal((1, 1, 4, 4)), np.eye(4)[None, None], 1, norm="sphere")
        assert verify("wu2024:2-step", net, np.abs(rng.standard_normal((4, 4)))).outcome == Outcome.HOLDS


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize("r", [1, 2, 5])
def test_the_printed_rate_follows_from_ours(n: int, r: int) -> None:
    """(1 − ε^r)² < 1 − nε^{2r} where nε < 1."""
    for epsilon in np.linspace(0.05 / n, (1 - 1e-9) / n, 50):
        assert (1 - epsilon**r) ** 2 < 1 - n * epsilon ** (2 * r)


def test_a_hub_with_a_chain_keeps_its_rank_where_the_expression_vanishes() -> None:
    """Without nε < 1 the expression is no rate: nine tokens, ε = 1/3, 1 − nε² = 0, and D₂AD₁A has rank nine."""
    n = 9
    allowed = np.eye(n, dtype=bool)
    allowed[:, 0] = True
    allowed[np.arange(2, n), np.arange(1, n - 1)] = True
    allowed[0, n - 1] = True
    mask = Mask(allowed)
    assert mask.is_strongly_connected
    assert mask.radius == 1
    L = 3
    identity = np.broadcast_to(np.eye(n), (L, 1, n, n))
    net = rm.Network.from_arrays(0 * identity, identity, norm="sphere", mask=mask)
    tokens = plain(SphereInstance(net, np.eye(n)))
    assert all(np.linalg.matrix_rank(X) == n for X in tokens)
    A = allowed / allowed.sum(axis=1, keepdims=True)
    D1 = np.diag(1 / np.linalg.norm(A, axis=1))
    Y = A @ D1 @ A
    D2 = np.diag(1 / np.linalg.norm(Y, axis=1))
    np.testing.assert_allclose(tokens[2], D2 @ A @ D1 @ A, atol=1e-15)
    assert verify("wu2024:2", net, np.eye(n)).outcome == Outcome.NOT_APPLICABLE


# -- what both proofs stand on ---------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6))
def test_heights_never_fall_and_cosines_never_fall(seed: int) -> None:
    instance = on_sphere(4, 3, 4, "causal", seed)
    tokens = plain(instance)
    v = tokens[0].mean(axis=0)
    for t in range(4):
        carried = v @ instance.net.W[t, 0]
        assert (tokens[t + 1] @ carried).min() >= (tokens[t] @ v).min() - 1e-14
        assert (tokens[t + 1] @ tokens[t + 1].T).min() >= (tokens[t] @ tokens[t].T).min() - 1e-14
        v = carried


@pytest.mark.parametrize("mask", ["causal", "window:1", "star"])
def test_the_sides_are_those_of_the_plain_tokens(mask: str) -> None:
    instance = on_sphere(3, 4, 5, mask)
    tokens = plain(instance)
    found = verify("own:full-rank", instance.net, instance.X)
    assert math.exp(found.log_lhs) == pytest.approx(float(rm.mu(tokens[-1])), rel=1e-10)


def test_full_rank_tokens_have_equal_heights() -> None:
    """γ = (1ᵀ(XXᵀ)⁻¹1)^{−1/2} with v = γ 1ᵀ(XXᵀ)⁻¹X: a unit vector, ⟨X_i, v⟩ = γ for all i."""
    X = plain(on_sphere(3, 4, 1, "causal"))[0]
    gamma = float(np.linalg.inv(X @ X.T).sum()) ** -0.5
    v = gamma * np.linalg.solve(X @ X.T, np.ones(3)) @ X
    assert np.linalg.norm(v) == pytest.approx(1, abs=1e-13)
    assert np.allclose(X @ v, gamma, atol=1e-14)


@pytest.mark.parametrize("key", SPHERE)
def test_rounded_orthogonal_values_are_not_orthogonal(key: str) -> None:
    net = rm.Network.random(tokens=2, dim=3, layers=2, init="orthogonal", norm="sphere", mask="complete")
    verdict = verify(key, net, np.eye(2, 3) + 0.1)
    assert verdict.outcome == Outcome.NOT_APPLICABLE
    assert "orthogonal" in verdict.reason


def test_what_the_sphere_statements_do_not_speak_about() -> None:
    net = on_sphere(2, 2, 1, "causal").net
    for key, X in (
        ("wu2024:cor1", [[1.0, 0.0], [-0.5, 1.0]]),  # obtuse
        ("own:hemisphere", [[1.0, 0.0], [-1.0, 0.1], [-1.0, -0.3]]),  # no hemisphere about the mean
        ("own:full-rank", [[1.0, 0.0], [0.5, 1.0], [0.2, 1.0]]),  # n > d
        ("wu2024:2", [[1.0, 0.0], [0.5, 1.0]]),  # the causal mask is not strongly connected
        ("own:full-rank", [[1.0, 0.5]]),  # one token
    ):
        for arithmetic in ("float64", "balls"):
            assert verify(key, net, X, arithmetic=arithmetic).outcome == Outcome.NOT_APPLICABLE, (key, X)


def test_a_zero_token_has_no_direction() -> None:
    zero = on_sphere(2, 2, 1, "causal").net, [[0.0, 0.0], [1.0, 0.0]]
    found = verify("wu2024:cor1", *zero, arithmetic="balls")
    said = "a token is zero before LayerNorm 'sphere'; it has no direction"
    assert (found.outcome, found.reason) == (Outcome.NOT_APPLICABLE, said)
    assert verify("wu2024:cor1", *zero).outcome == Outcome.UNDECIDED  # float64 does not tell zero from small


def test_the_height_of_nearly_dependent_tokens_keeps_its_digits() -> None:
    """γ in float64 against balls for tokens 10⁻⁵ apart; XXᵀ, whose condition is squared, would leave six digits."""
    net = rm.Network.random(tokens=3, dim=3, layers=1, seed=0)
    X = np.asarray([1.0, 2.0, 3.0]) + 1e-5 * np.random.default_rng(0).standard_normal((3, 3))
    claim = rm.Statement("mine:height", "gram_height(X[0]) <= 100")
    plain, rigorous = (verify(claim, net, X, arithmetic=arithmetic) for arithmetic in ("float64", "balls"))
    assert rigorous.outcome == plain.outcome == Outcome.HOLDS
    assert plain.log_lhs == pytest.approx(rigorous.log_lhs, abs=1e-9)


def test_a_dependent_member_of_a_batch_does_not_speak_for_the_others() -> None:
    net = rm.Network.random(tokens=2, dim=2, layers=1, seed=0)
    stack = net.replace(query=np.stack([net.query] * 2, 2), value=np.stack([net.value] * 2, 2))
    X = np.stack([np.eye(2), np.ones((2, 2))])
    claim = rm.Statement("mine:height", "gram_height(X[0]) <= 1")
    found = verdicts(claim, Float64(np.zeros(1)), NetworkInstance(stack, X), 2, "float64")
    assert [verdict.outcome for verdict in found] == [Outcome.HOLDS, Outcome.UNDECIDED]
    assert math.exp(found[0].log_lhs) == pytest.approx(math.sqrt(0.5))


def test_pre_ln_is_post_ln_one_layer_late() -> None:
    """X' = A(LN(X)) LN(X) W, by the definition, against the tokens that post-LN hands to its LayerNorm."""
    entry = statement("wu2024:pre-ln")
    found = entry.draws[0](np.random.default_rng(3), 4).select(1)
    net, mask = found.net, Run(Float64(np.zeros(1)), found.net, found.X).mask.allowed
    X = np.asarray(found.X)
    for l in range(net.layers):
        Z = X / np.linalg.norm(X, axis=1, keepdims=True)
        logits = np.where(mask, Z @ net.W_QK[l, 0] @ Z.T / np.sqrt(net.d_qk), -np.inf)
        A = np.exp(logits - logits.max(axis=1, keepdims=True))
        X = A / A.sum(axis=1, keepdims=True) @ Z @ net.W[l, 0]
        run = Run(Float64(np.zeros(1)), net, found.X)
        before = FUNCTIONS["mu_before"].evaluate(run, l)
        assert float(np.exp(before.log)) == pytest.approx(np.linalg.norm(X - X.mean(axis=0)), rel=1e-6, abs=1e-13)


def test_every_center_counts_only_within_the_steps_that_it_needs() -> None:
    """On a star all tokens are centers: the hub reaches all in one step, a leaf in two (one is wu2024:2-step)."""
    mask = Mask.star(3)
    assert (len(mask.centers), mask.radius, mask.farthest) == (3, 1, 2)
    chain = Mask.causal_window(4, 2)
    assert (len(chain.centers), chain.farthest) == (1, chain.radius) == (1, 3)
    for seed in range(5):
        # Acute angles and permutations as values: the step of R layers, where R is 2.
        found = on_sphere(3, 3, 2, mask, seed)
        run = Run(Float64(np.zeros(1)), found.net, found.X)
        gaps = [2 * run.log_diameter(l, 2) for l in (0, 2)]
        least = min(float(np.asarray(run.attention(l, 0))[mask.allowed].min()) for l in (0, 1))
        assert float(gaps[1] - gaps[0]) <= math.log(1 - 3 * least**4)
        assert verify("wu2024:cor1-centers", found.net, found.X).outcome == Outcome.HOLDS


@pytest.mark.parametrize("key", ["own:hemisphere", "own:full-rank"])
def test_logits_that_sharpen_with_depth_keep_tokens_apart(key):
    """Two unit tokens, W = I, W_QK/√d_qk = c_t I: bounded c_t let them meet, c_t that doubles does not."""
    X, L = np.asarray([[1.0, 0.0], [math.cos(1), math.sin(1)]]), 40
    left = {}
    for name, logits in (("bounded", np.full(L, 4.0)), ("sharp", 16 * 2.0 ** np.arange(L))):
        W_QK = logits[:, None, None, None] * np.eye(2)
        net = rm.Network.from_arrays(W_QK, np.broadcast_to(np.eye(2), W_QK.shape), d_qk=1, norm="sphere")
        assert rm.verify(key, net, X).outcome == Outcome.HOLDS
        left[name] = rm.trace(net, X).log_diameter[-1] - math.log(2 * math.sin(0.5))
    assert left["bounded"] < math.log(1e-3)
    assert left["sharp"] > math.log(0.99)
