"""Wu et al. 2024: masks, orthogonal values under LayerNorm, equilibria; what holds and what breaks."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from rankmath.claims.quantities import Run
from scipy.stats import binomtest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.attention.plain import attention_matrices
from rankmath.campaigns.battery import judge, verify, verify_statement
from rankmath.claims import (
    statement,
    statements,
    wu2024,
    wu2024_equilibria,
    wu2024_masks,
    wu2024_shift,
    wu2024_sphere,
)
from rankmath.equilibria.map import normalise, orbit
from rankmath.equilibria.wu2024 import shift_equilibrium, star_example, two_token_example
from rankmath.linalg.masks import Mask
from rankmath.linalg.stochastic import dobrushin
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.statement import Evaluation, Side
from rankmath.verification.verdict import Outcome

FLOATS = Float64(np.zeros(1))
REFUTED = {
    "wu2024:2-step",
    "wu2024:2-radius",
    "wu2024:L13",
    "wu2024:conjecture",
    "dong2021:ln-sphere",
}
PROVED = {
    "wu2024:1",
    "wu2024:1-doeblin",
    "wu2024:2",
    "wu2024:cor1",
    "wu2024:4.3.1",
    "wu2024:3",
    "wu2024:L13-repaired",
    "wu2024:anisotropy",
    "own:hemisphere",
    "own:stable-causal",
    "own:stable-complete",
}


def masked(n: int, d: int, L: int, mask: Any, seed: int = 0, **options: Any) -> NetworkInstance:
    net = rm.Network.random(tokens=n, dim=d, layers=L, mask=mask, seed=seed, biases=True, **options)
    return NetworkInstance(net, net.random_input(seed=seed + 1))


def on_sphere(n: int, d: int, L: int, mask: Any, seed: int = 0) -> wu2024_sphere.SphereInstance:
    rng = np.random.default_rng(seed)
    values = np.stack([np.eye(d)[rng.permutation(d)] * rng.choice([-1.0, 1.0], d) for _ in range(L)])[:, None]
    net = rm.Network.from_arrays(rng.standard_normal((L, 1, d, d)), values, norm="sphere", mask=mask)
    return wu2024_sphere.SphereInstance(net, np.abs(rng.standard_normal((n, d))) + 0.1)


# -- the register ------------------------------------------------------------------------------------------


def test_every_statement_is_registered_with_its_status_and_its_proof() -> None:
    known = {entry.key: entry for entry in wu2024.STATEMENTS}
    assert set(known) == PROVED | REFUTED
    for key, entry in known.items():
        assert statements()[key] is entry
        assert entry.status == ("refuted" if key in REFUTED else "proved")
        text = (Path(__file__).parents[2] / entry.truth).read_text(encoding="utf-8")
        assert f"\\label{{stmt:{key.replace(':', '-')}}}" in text


@pytest.mark.parametrize("key", sorted(PROVED | REFUTED))
def test_its_battery_shows_what_is_registered(key: str) -> None:
    entry = statement(key)
    battery = verify_statement(entry, instances=max(1, int(200 * entry.share)), certify=3, seed=5, search=30)
    assert battery.as_registered
    assert battery.undecided == 0
    if entry.status == "proved":
        assert battery.violations == []
        assert battery.holds > 0
    if entry.sharp:
        assert 0.999 < battery.tightest <= 1


@pytest.mark.parametrize("key", ["wu2024:1", "wu2024:1-doeblin", "wu2024:2", "wu2024:cor1", "own:hemisphere"])
def test_batches_and_single_instances_agree(key: str) -> None:
    """One draw of each kind, evaluated at once and one by one: the same logarithms."""
    entry = statement(key)
    assert entry.evaluate is not None
    for index, draw in enumerate(entry.draws):
        batch = draw(np.random.default_rng(index), 5)
        together = entry.evaluate(FLOATS, batch)
        for i in range(len(batch)):
            alone = entry.evaluate(FLOATS, batch.select(i))
            for many, one in zip(together.sides, alone.sides, strict=True):
                lhs, rhs = np.broadcast_to(many.log_lhs, 5)[i], np.broadcast_to(many.log_rhs, 5)[i]
                assert np.allclose([lhs, rhs], [one.log_lhs, one.log_rhs], rtol=1e-11, atol=1e-11)


# -- attention along a run ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", ["complete", "causal", "window:1", "causal_window:2", "prefix:2", "star"])
def test_attention_from_the_centred_pass_is_that_of_the_plain_pass(mask: str) -> None:
    instance = masked(5, 3, 4, mask)
    run = Run(FLOATS, instance.net, instance.X)
    graph = wu2024_masks.mask_of(run)
    plain = attention_matrices(instance.net, instance.X)[:, 0]
    for layer in range(4):
        assert np.allclose(wu2024_masks.attention_matrix(run, layer, graph), plain[layer], rtol=1e-12, atol=1e-14)
    least = wu2024_masks.least_attention(run, graph)
    assert math.exp(least.attained) == pytest.approx(plain[:, graph.allowed].min(), rel=1e-12)
    assert least.explicit <= least.attained + 1e-12


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(sorted(wu2024_masks.MASKS)))
def test_the_computed_contraction_lies_between_dobrushin_and_doeblin_with_the_least_weight(
    seed: int, kind: str
) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    mask = wu2024_masks.MASKS[kind](rng, n)
    assert mask.has_self_loops
    assert mask.is_quasi_strongly_connected
    r = wu2024_masks.radius_of(mask)
    instance = masked(n, 3, r, mask, seed, scale=0.7)
    run = Run(FLOATS, instance.net, instance.X)
    B = np.linalg.multi_dot([np.eye(n), *attention_matrices(instance.net, instance.X)[::-1, 0]])
    contraction = math.exp(wu2024_masks.log_contraction(run, mask, range(r)))
    assert contraction == pytest.approx(1 - B.min(axis=0).sum(), abs=1e-12)
    assert float(dobrushin(B)) <= contraction + 1e-12
    assert contraction <= 1 - math.exp(r * float(wu2024_masks.least_attention(run, mask).attained)) + 1e-12


def test_close_rows_keep_their_digits() -> None:
    """Tokens 1e-7 apart: rows of P differ by 1e-15, and the contraction is known to nine digits nevertheless."""
    instance = masked(4, 3, 1, "complete")
    close = NetworkInstance(instance.net, 3.0 + 1e-7 * np.asarray(instance.X))
    plain, rigorous = (judge(statement("wu2024:1-doeblin"), close, kind) for kind in ("float64", "balls"))
    assert plain.log_rhs == pytest.approx(rigorous.log_rhs, abs=1e-8)
    assert rigorous.certified
    assert rigorous.log_rhs < -40


# -- wu2024:1 ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("instances", [1400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_the_mask_bound_holds_on_every_kind_of_mask(instances: int) -> None:
    entry = statement("wu2024:1")
    labels = [entry.draws[k](np.random.default_rng(k), 1).label for k in range(len(entry.draws))]
    assert {label.partition(",")[0] for label in labels} == set(wu2024_masks.MASKS)
    battery = verify_statement(entry, instances=instances, certify=instances // 100, seed=1, search=0)
    # Two tokens that see nothing but themselves (ε = e^−40000) keep their distance to all 4096 bits: undecided.
    assert (battery.violations, battery.not_applicable) == ([], 0)
    assert battery.undecided <= instances // 2000
    assert battery.comparison.popitem()[1] > 1


def test_two_tokens_under_the_causal_mask_are_an_equality() -> None:
    ones = np.ones((3, 1, 1, 1))
    net = rm.Network.from_arrays(0 * ones, ones, mask="causal")
    for arithmetic in ("float64", "balls"):
        verdict = verify("wu2024:1", net, [[0.0], [1.0]], arithmetic=arithmetic, bits=256)
        assert verdict.outcome == Outcome.UNDECIDED
        assert verdict.log_lhs == pytest.approx(math.log(0.5) * 3 + math.log(0.5) / 2, abs=1e-14)
        assert verdict.ratio == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_drill_a_smaller_constant_is_refuted_by_balls(factor: float) -> None:
    """The right side times 0.99 is violated and certified; times 1.01 it is not."""
    entry = statement("wu2024:1")

    def evaluate(A: Any, instance: NetworkInstance) -> Evaluation:
        exact = wu2024_masks.evaluate_masks(A, instance)
        shift = math.log(factor)
        return Evaluation([Side(s.log_lhs, s.log_rhs + shift) for s in exact.sides], exact.hypotheses)

    battery = verify_statement(replace(entry, evaluate=evaluate), instances=14, search=0)
    assert battery.outcome == ("REFUTED" if factor < 1 else "HOLDS")
    assert all(verdict.certified for _, verdict in battery.violations)


def test_half_of_epsilon_is_not_a_repair_but_a_loss() -> None:
    """The chain as printed gives 1 − ε^r/2; the true factor 1 − ε^r is attained, so that is a real loss."""
    net = rm.Network.from_arrays(np.zeros((1, 1, 1, 1)), np.ones((1, 1, 1, 1)), mask="causal")
    run = Run(FLOATS, net, np.array([[0.0], [1.0]]))
    epsilon = math.exp(wu2024_masks.least_attention(run, Mask.causal(2)).explicit)
    attained = math.exp(run.log_residual(1, "frobenius") - run.log_residual(0, "frobenius"))
    assert attained == pytest.approx(1 - epsilon, abs=1e-15)
    assert attained < 1 - epsilon / 2


def test_the_constant_root_n_over_two_is_approached() -> None:
    """Half of four tokens copy the first, half the second: μ(PX)/μ(X) → √2 = √(n/2)."""
    P = np.repeat(np.eye(4)[:2], 2, axis=0)
    X = np.array([[1.0], [-1.0], [0.0], [0.0]])
    assert float(rm.mu(P @ X)) / float(rm.mu(X)) == pytest.approx(math.sqrt(2), abs=1e-15)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"mask": np.array([[True, False, False], [True, False, True], [False, True, True]])}, "sees itself"),
        ({"mask": np.eye(3, dtype=bool)}, "quasi-strongly"),
        ({"mask": "causal", "heads": 2}, "one head"),
        ({"mask": "causal", "skip": True}, "one head"),
        ({"mask": "causal", "norm": "sphere"}, "one head"),
    ],
)
def test_without_its_hypotheses_the_mask_bound_says_nothing(options: dict[str, Any], reason: str) -> None:
    net = rm.Network.random(tokens=3, dim=2, layers=2, **options)
    for arithmetic in ("float64", "balls"):
        verdict = verify("wu2024:1", net, net.random_input(seed=1), arithmetic=arithmetic)
        assert verdict.outcome == Outcome.NOT_APPLICABLE
        assert reason in verdict.reason


# -- orthogonal values under LayerNorm ---------------------------------------------------------------------


def plain_sphere(instance: wu2024_sphere.SphereInstance) -> list[np.ndarray[Any, Any]]:
    """X(0), X(1), … by the definition."""
    net, X = instance.net, normalise(np.asarray(instance.X), "sphere")
    found = [X]
    for layer in range(net.layers):
        logits = X @ net.W_QK[layer, 0] @ X.T / math.sqrt(net.d_qk)
        weights = np.where(net.mask_for(len(X)).allowed, np.exp(logits), 0.0)
        X = normalise(weights / weights.sum(axis=1, keepdims=True) @ X @ net.W[layer, 0], "sphere")
        found.append(X)
    return found


def spread(points: np.ndarray[Any, Any]) -> float:
    return float(np.linalg.norm(points[:, None] - points[None], axis=-1).max())


@pytest.mark.parametrize("mask", ["causal", "window:1", "star"])
def test_the_hemisphere_run_is_the_plain_run(mask: str) -> None:
    instance = on_sphere(4, 3, 5, mask)
    run = wu2024_sphere.SphereRun(FLOATS, instance.net, instance.X)
    v = (x := run.tokens[0].center) / np.linalg.norm(x)
    for t, X in enumerate(plain_sphere(instance)):
        assert math.exp(run.log_diameter(t, 2)) == pytest.approx(spread(X), rel=1e-12)
        heights = X @ v.T
        assert np.allclose(run.heights(t, v), heights, rtol=1e-12)
        assert math.exp(run.log_section(t, v)) == pytest.approx(spread(X / heights), rel=1e-11)
        if t < 5:
            v = v @ instance.net.W[t, 0]


@given(seed=st.integers(0, 10**6))
def test_heights_never_fall_and_cosines_never_fall(seed: int) -> None:
    """min ⟨X_i, v_t⟩ and, from acute angles, the least cosine are monotone: what both proofs stand on."""
    instance = on_sphere(4, 3, 4, wu2024_masks.random_graph(np.random.default_rng(seed), 4), seed)
    tokens = plain_sphere(instance)
    v = tokens[0].mean(axis=0)
    for t in range(4):
        carried = v @ instance.net.W[t, 0]
        assert (tokens[t + 1] @ carried).min() >= (tokens[t] @ v).min() - 1e-14
        assert (tokens[t + 1] @ tokens[t + 1].T).min() >= (tokens[t] @ tokens[t].T).min() - 1e-14
        v = carried


def test_full_rank_tokens_have_equal_heights() -> None:
    """γ = (1ᵀ(XXᵀ)⁻¹1)^{−1/2} with v = γ 1ᵀ(XXᵀ)⁻¹X: a unit vector, ⟨X_i, v⟩ = γ for all i."""
    instance = on_sphere(3, 4, 1, "causal")
    run = wu2024_sphere.SphereRun(FLOATS, instance.net, instance.X)
    [X, _] = plain_sphere(instance)
    gamma = float(wu2024_sphere._inverse_sum(run)) ** -0.5
    v = gamma * np.linalg.solve(X @ X.T, np.ones(3)) @ X
    assert np.linalg.norm(v) == pytest.approx(1, abs=1e-13)
    assert np.allclose(X @ v, gamma, atol=1e-14)


@pytest.mark.parametrize("key", ["wu2024:2", "wu2024:cor1", "own:hemisphere"])
def test_rounded_orthogonal_values_are_not_orthogonal(key: str) -> None:
    net = rm.Network.random(tokens=2, dim=3, layers=2, init="orthogonal", norm="sphere", mask="causal")
    verdict = verify(key, net, np.eye(2, 3) + 0.1)
    assert verdict.outcome == Outcome.NOT_APPLICABLE
    assert "orthogonal" in verdict.reason


def test_what_the_sphere_statements_do_not_speak_about() -> None:
    obtuse = on_sphere(2, 2, 1, "causal")
    for key, X, reason in (
        ("wu2024:cor1", [[1.0, 0.0], [-0.5, 1.0]], "obtuse"),
        ("own:hemisphere", [[1.0, 0.0], [-1.0, 0.1], [-1.0, -0.3]], "hemisphere"),
        ("wu2024:2", [[1.0, 0.0], [0.5, 1.0], [0.2, 1.0]], "n ≤ d"),
    ):
        for arithmetic in ("float64", "balls"):
            verdict = verify(key, obtuse.net, X, arithmetic=arithmetic)
            assert verdict.outcome == Outcome.NOT_APPLICABLE
            assert reason in verdict.reason


def test_the_adversary_leaves_the_values_alone() -> None:
    instance = on_sphere(3, 3, 2, "causal")
    moved = instance.at(instance.vector() + 1)
    assert np.array_equal(moved.net.W, instance.net.W)
    assert np.allclose(moved.X, instance.X + 1)
    assert np.allclose(moved.net.W_QK, instance.net.W_QK + 1)


# -- the rate of Theorem 2 with the radius -----------------------------------------------------------------


def test_the_star_breaks_the_printed_step() -> None:
    A = wu2024_sphere.star_attention(10, Fraction(1, 20))
    assert A.tolist() == star_example(10, Fraction(1, 20)).attention.tolist()
    step = star_example()
    assert (step.after, step.claimed) == (Fraction(361, 362), Fraction(39, 40))
    verdict = verify("wu2024:2-step", A)
    assert verdict.outcome == Outcome.VIOLATED
    assert verdict.certified
    assert str(Fraction(1, 362) ** 2) in verdict.reason
    # Where every token sees every token, radius and diameter agree and the step is right.
    assert verify("wu2024:2-step", [[Fraction(1, 10)] * 10] * 10).outcome == Outcome.HOLDS


def test_a_hub_with_a_chain_breaks_the_printed_rate() -> None:
    mask = wu2024_sphere.hub_chain(9)
    assert mask.radius == 1
    assert mask.is_strongly_connected
    verdict = verify("wu2024:2-radius", mask, 9)
    assert (verdict.outcome, verdict.certified) == (Outcome.VIOLATED, True)
    assert verify("wu2024:2-radius", "complete", 9).outcome == Outcome.HOLDS
    assert verify("wu2024:2-radius", "star", 9).outcome == Outcome.HOLDS
    # With seven tokens 1 − nε² is positive and the claimed rate is still smaller than the true one.
    A = wu2024_sphere.hub_chain(7).allowed / wu2024_sphere.hub_chain(7).allowed.sum(axis=1, keepdims=True)
    second = np.sort(np.abs(np.linalg.eigvals(A)))[-2]
    assert second > math.sqrt(1 - 7 / 9) + 0.1
    with pytest.raises(ArithmeticError, match="not decided"):
        verify("wu2024:2-radius", wu2024_sphere.hub_chain(7), 7)


def test_exact_verdicts_become_certificates() -> None:
    leaving, staying = ([Fraction(-4, 5), 0, Fraction(-3, 5), 0], [0, Fraction(-4, 5), Fraction(-3, 5), 0])
    chain, star = wu2024_sphere.hub_chain(9), wu2024_sphere.star_attention(10, Fraction(1, 20))
    for key, instance, kind in (
        ("wu2024:L13", (leaving, 4), "violates"),
        ("wu2024:L13", (staying, 4), "holds"),
        ("wu2024:2-step", (star,), "violates"),
        ("wu2024:2-step", ([[Fraction(1, 3)] * 3] * 3,), "holds"),
        ("wu2024:2-radius", (chain, 9), "violates"),
        ("wu2024:4.3.1", (Fraction(5, 3),), "holds"),
    ):
        certificate = rm.certify(key, *instance)
        assert (certificate.statement, certificate.kind) == (key, kind)
        assert certificate.check().accepted
    for key, instance, reason in (
        ("wu2024:2-radius", ("star", 9), "no violation"),
        ("wu2024:4.3.1", (2,), "rational"),
    ):
        with pytest.raises(ArithmeticError, match=reason):
            rm.certify(key, *instance)


def test_every_refuted_statement_lists_its_certificates() -> None:
    for key in sorted(REFUTED):
        battery = verify_statement(key, instances=1, certify=1, search=0)
        assert battery.exhibit is not None
        assert {certificate.kind for certificate in battery.certificates} == {"violates"}


def test_determinants_are_exact() -> None:
    rows = [[0, 2, 1], [1, 0, 3], [5, 1, 0]]
    assert wu2024_sphere._determinant([[Fraction(x) for x in row] for row in rows]) == 31
    assert wu2024_sphere._determinant([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(4)]]) == 0


# -- the sympy bounds --------------------------------------------------------------------------------------


def on_every_mask(key: str) -> Iterator[Any]:
    """A few instances of every generator of the statement, to which it applies."""
    entry = statement(key)
    for index, draw in enumerate(entry.draws):
        batch = draw(np.random.default_rng(index), 4)
        for i in range(len(batch)):
            if judge(entry, batch.select(i), "float64").outcome == Outcome.HOLDS:
                yield batch.select(i)


def layers_and_radius(run: Run) -> dict[str, Any]:
    mask = wu2024_masks.mask_of(run)
    return {"L": run.net.layers, "r": wu2024_masks.radius_of(mask)}


def test_the_sympy_bound_of_masks_is_the_right_hand_side() -> None:
    """n, ‖ΠW_V‖₂ and μ from NumPy; ε by the formula and as attained; the bound itself by sympy's expression."""
    for instance in on_every_mask("wu2024:1"):
        run = Run(FLOATS, instance.net, instance.X)
        product = np.eye(instance.net.dim)
        for layer in range(instance.net.layers):
            product = product @ instance.net.W[layer, 0]
        known = {"n": len(instance.X), "W_V": np.linalg.norm(product, 2), "mu": float(rm.mu(instance.X))}
        least = wu2024_masks.least_attention(run, wu2024_masks.mask_of(run))
        sides = wu2024_masks.evaluate_masks(FLOATS, instance).sides
        for log_epsilon, side in zip((least.explicit, least.attained), sides, strict=True):
            found = rm.bound("wu2024:1").evaluate(epsilon=math.exp(log_epsilon), **layers_and_radius(run), **known)
            assert found == pytest.approx(float(side.log_rhs), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("key", ["wu2024:2", "wu2024:cor1", "own:hemisphere"])
def test_the_sympy_bound_on_the_sphere_is_the_right_hand_side(key: str) -> None:
    """Cosines, heights and sections from the plain tokens."""
    entry = statement(key)
    assert entry.evaluate is not None
    seen = 0
    for instance in on_every_mask(key):
        run = wu2024_sphere.SphereRun(FLOATS, instance.net, instance.X)
        X = normalise(np.asarray(instance.X), "sphere")
        if spread(X) < 1e-2:
            continue  # nearly equal tokens: plain differences have no digits left
        seen += 1
        v = X.mean(axis=0) / np.linalg.norm(X.mean(axis=0))
        known = {
            "n": len(X),
            "epsilon": math.exp(wu2024_masks.least_attention(run, wu2024_masks.mask_of(run)).attained),
            "phi": (X @ X.T).min(),
            "height": (X @ v).min(),
            "diameter": spread(X / (X @ v)[:, None]),
            **layers_and_radius(run),
        }
        if key == "wu2024:2":
            known |= {"height": np.linalg.inv(X @ X.T).sum() ** -0.5, "diameter": spread(X)}
        side = entry.evaluate(FLOATS, instance).sides[-1 if key == "wu2024:cor1" else 0]
        found = rm.bound(key).evaluate(**{name: known[name] for name in rm.bound(key).symbols})
        assert found == pytest.approx(float(side.log_rhs), abs=1e-8)
    assert seen >= 3


@pytest.mark.parametrize(("n", "k", "w"), [(2, 2, 1.5), (5, 3, 4.25), (6, 6, 7.0)])
def test_the_sympy_bound_of_anisotropy(n: int, k: int, w: float) -> None:
    [side] = wu2024_shift.evaluate_anisotropy(FLOATS, wu2024_shift.anisotropy_instance(n, k, w)).sides
    found = rm.bound("wu2024:anisotropy").evaluate(n=n, rank=k, w=w, log=False)
    assert found == pytest.approx(n / (n - math.exp(side.log_rhs)), rel=1e-13)
    X = shift_equilibrium(n, k, k, w).floats()[0]
    assert n / np.linalg.norm(X, 2) ** 2 <= found


def test_the_printed_formula_of_epsilon_can_be_put_in() -> None:
    b = rm.bound("wu2024:1")
    keys, c = sp.symbols("Delta c", positive=True)
    explicit = b.subs(epsilon=1 / (1 + (keys - 1) * sp.exp(2 * c)), L=200, r=1, n=2, W_V=1, mu=1)
    assert explicit.subs({keys: 2, c: 0}) == sp.Rational(1, 2) ** 200
    assert r"\varepsilon" in b.latex()


# -- two tokens, all ranks, the invariant set, anisotropy ----------------------------------------------------


def test_two_tokens_at_five_thirds() -> None:
    verdict = verify("wu2024:4.3.1", Fraction(5, 3))
    assert (verdict.outcome, verdict.certified) == (Outcome.HOLDS, True)
    assert "(-3/5, 4/5), (-3/5, -4/5)" in verdict.reason
    example = two_token_example(Fraction(5, 3))
    assert [e.multiplier for e in example.equilibria] == [Fraction(1, 2), Fraction(9, 5), Fraction(1, 5)]


def test_the_coupled_basin_of_the_stable_token_is_four_to_eleven_percent_with_its_mirror_image() -> None:
    """Random pairs of starts, both tokens moving: the share that ends at B or at −B; by symmetry B has half."""
    starts = normalise(np.random.default_rng(0).standard_normal((2000, 2, 2)), "sphere")
    W_V = np.array([[1.0, 5 / 3], [0.0, 1.0]])
    path = orbit(starts, W_V, np.zeros((2, 2)), np.tril(np.ones((2, 2))), "sphere", 500)
    last = deque(path, maxlen=1).pop()
    B = np.array([[0.0, 1.0], [-0.6, -0.8]])
    own, mirror = (int((np.abs(last - sign * B).max(axis=(1, 2)) < 1e-2).sum()) for sign in (1, -1))
    interval = binomtest(own + mirror, len(starts)).proportion_ci(confidence_level=0.99, method="exact")
    assert 0.04 < interval.low < interval.high < 0.11
    assert binomtest(own, own + mirror).pvalue > 0.01
    assert binomtest(own, len(starts)).proportion_ci(confidence_level=0.99, method="exact").high < 0.055


def test_all_ranks_under_one_value_matrix() -> None:
    verdict = verify("wu2024:3", tokens=6, dim=5, w=7)
    assert verdict.outcome == Outcome.HOLDS
    assert "ranks 1 to 5" in verdict.reason


def test_lemma_13_fails_in_dimension_four_and_holds_in_three() -> None:
    leaving = [Fraction(-4, 5), 0, Fraction(-3, 5), 0]
    verdict = verify("wu2024:L13", leaving, 4)
    assert (verdict.outcome, verdict.certified) == (Outcome.VIOLATED, True)
    assert "5.76 against ‖y‖² = 13.2" in verdict.reason
    turned = wu2024_shift.draw_leaving(np.random.default_rng(0), 1).select(0)
    assert max(turned["x"][-4:]) < 0
    assert judge(statement("wu2024:L13"), turned, "exact").outcome == Outcome.VIOLATED
    with pytest.raises(ValueError, match="log-concave"):
        verify("wu2024:L13-repaired", leaving, 4)


@given(
    u=st.lists(st.integers(0, 40), min_size=1, max_size=2),
    w=st.fractions(Fraction(11, 10), 9, max_denominator=20),
)
def test_lemma_13_holds_in_dimensions_two_and_three(u: list[int], w: Fraction) -> None:
    """Every rational point of the set stays in it, by stereographic projection of a grid."""
    t = [Fraction(k, 40) for k in u]
    square = sum(x * x for x in t)
    x = [*(-2 * v / (1 + square) for v in t), -abs(1 - square) / (1 + square)]
    if x[-2] <= -1 / w:
        assert verify("wu2024:L13-repaired", x, w).outcome == Outcome.HOLDS
        assert verify("wu2024:L13", x, w).outcome == Outcome.HOLDS


def test_log_concave_means_no_gaps() -> None:
    assert wu2024_shift._is_log_concave([Fraction(-k) for k in (1, 2, 3, 9)])
    assert not wu2024_shift._is_log_concave([Fraction(-k) for k in (2, 1, 2, 0)])
    assert not wu2024_shift._is_log_concave([Fraction(-k) for k in (1, 0, 0, 1, 0)])


@pytest.mark.parametrize(("n", "k"), [(2, 2), (4, 4), (5, 3), (6, 2)])
def test_anisotropy_is_that_of_the_exact_equilibria(n: int, k: int) -> None:
    w = n + 0.5
    X = shift_equilibrium(n, k, k, w).floats()[0]
    instance = wu2024_shift.anisotropy_instance(n, k, w)
    [side] = wu2024_shift.evaluate_anisotropy(FLOATS, instance).sides
    assert math.exp(side.log_lhs) == pytest.approx(n - np.linalg.norm(X, 2) ** 2, rel=1e-10)
    assert verify("wu2024:anisotropy", n, k, w, arithmetic="balls").outcome == Outcome.HOLDS


def test_the_full_rank_bound_fails_below_full_rank() -> None:
    """n = 3, k = 2: ‖X‖₂² < 3 − 2/w², so the printed n/(n − (n−1)/w²) is for full rank only."""
    for w in (2.1, 3.0, 10.0):
        X = shift_equilibrium(3, 2, 2, w).floats()[0]
        assert 3 / np.linalg.norm(X, 2) ** 2 > 3 / (3 - 2 / w**2) * (1 + 1e-12)


# -- equilibria --------------------------------------------------------------------------------------------


def test_the_conjecture_is_refuted_and_a_near_miss_decides_nothing() -> None:
    found = wu2024_equilibria.stable_complete(2)
    verdict = verify("wu2024:conjecture", found["X"], found["W_V"], found["W_QK"])
    assert (verdict.outcome, verdict.certified) == (Outcome.VIOLATED, True)
    assert "rank 2" in verdict.reason
    assert verify("own:stable-complete", found["X"], found["W_V"], found["W_QK"]).outcome == Outcome.HOLDS
    with pytest.raises(ArithmeticError, match="not decided"):
        verify("wu2024:conjecture", found["X"] + [[1e-3, 0.0], [0.0, 0.0]], found["W_V"], found["W_QK"])


@pytest.mark.parametrize(
    ("key", "kind"),
    [("wu2024:conjecture", "violates"), ("dong2021:ln-sphere", "violates"), ("own:stable-complete", "exists")],
)
def test_the_checker_accepts_the_equilibrium_and_not_a_larger_claim(key: str, kind: str) -> None:
    exhibit = statement(key).exhibit
    assert exhibit is not None
    certificate = exhibit()
    assert (certificate.statement, certificate.kind) == (key, kind)
    assert certificate.check().accepted
    wider = {**certificate.data["attracting"], "rate": Fraction(1, 100)}
    result = replace(certificate, data={**certificate.data, "attracting": wider}).check()
    assert not result.accepted
    assert "attracting" in result.reason


def test_equal_tokens_do_not_refute_the_conjecture() -> None:
    """Rank one attracts, and counts neither against the conjecture nor for existence."""
    X, W_V = np.array([[0.0, 1.0], [0.0, 1.0]]), np.diag([0.5, 1.0])
    assert verify("wu2024:conjecture", X, W_V, np.zeros((2, 2))).outcome == Outcome.HOLDS
    verdict = verify("own:stable-complete", X, W_V, np.zeros((2, 2)))
    assert (verdict.outcome, verdict.reason) == (Outcome.VIOLATED, "the equilibrium has rank 1 only")


def test_the_rational_stable_causal_example() -> None:
    verdict = verify("own:stable-causal", Fraction(1, 2), 1)
    assert verdict.outcome == Outcome.HOLDS
    assert verdict.reason.endswith("eigenvalues 1/2, 2/5")
    assert verify("own:stable-causal", Fraction(1, 2), Fraction(9, 10), dim=4).outcome == Outcome.HOLDS


def test_layernorm_on_the_sphere_plays_a_role() -> None:
    X = [[0, 1], [Fraction(-3, 5), Fraction(-4, 5)]]
    verdict = verify("dong2021:ln-sphere", X, [[1, Fraction(5, 3)], [0, 1]])
    assert verdict.outcome == Outcome.VIOLATED
    assert "scale factors 1, 1/2, in which tokens 0 and 1 differ" in verdict.reason
    assert verify("dong2021:ln-sphere", [[0, 1], [0, 1]], [[1, 2], [0, 1]]).outcome == Outcome.HOLDS


HALF = Fraction(1, 2)
IDENTITY = [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: verify("wu2024:cor1", on_sphere(2, 2, 1, "causal").net, [[0.0, 0.0], [1.0, 0.0]]), "X"),
        (lambda: verify("wu2024:2-step", [[HALF, HALF], [0, 2]]), "A"),
        (lambda: verify("wu2024:2-step", [[1, 0], [HALF, HALF]]), "A"),
        (lambda: verify("wu2024:2-radius", "causal", 3), "mask"),
        (lambda: verify("wu2024:2-radius", "complete", 1), "tokens"),
        (lambda: verify("wu2024:4.3.1", 1), "w"),
        (lambda: verify("wu2024:4.3.1", math.nan), "w"),
        (lambda: verify("wu2024:4.3.1", "5/3"), "w"),
        (lambda: verify("wu2024:3", 3, 3, 2), "w"),
        (lambda: verify("wu2024:3", 0, 3, 2), "tokens"),
        (lambda: verify("wu2024:L13", [-0.6, -0.9], 4), "x"),
        (lambda: verify("wu2024:L13", [1, 0], 4), "x"),
        (lambda: verify("wu2024:L13", [-1], 4), "x, w"),
        (lambda: verify("wu2024:anisotropy", 3, 4, 5.0), "rank"),
        (lambda: verify("wu2024:anisotropy", 3, 3, math.inf), "w"),
        (lambda: verify("wu2024:conjecture", np.eye(2), np.eye(2), np.eye(2), mask="causal"), "mask"),
        (lambda: verify("wu2024:conjecture", np.eye(2), np.eye(3), np.eye(2)), "W_V"),
        (lambda: verify("wu2024:conjecture", np.eye(2), np.eye(2), np.eye(2), mask=np.eye(2, dtype=bool)), "mask"),
        (lambda: verify("own:stable-causal", HALF, HALF), "w"),
        (lambda: verify("own:stable-causal", 2, 1), "a"),
        (lambda: verify("dong2021:ln-sphere", IDENTITY, [[1, 2], [0, 1]]), "X"),
        (lambda: verify("dong2021:ln-sphere", IDENTITY, [[1, 2]]), "W_V"),
    ],
)
def test_bad_input_is_refused_by_name(call: Any, named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named}: "):
        call()


def test_anisotropy_needs_a_wide_shift() -> None:
    for arithmetic in ("float64", "balls"):
        assert verify("wu2024:anisotropy", 4, 4, 2.0, arithmetic=arithmetic).outcome == Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("seed", range(60))
def test_saturated_rows_are_no_violation_of_doeblins_bound(seed):
    """Rows that are equal to a double, and contractions that underflow: undecided at most."""
    rng = np.random.default_rng(seed)
    n, d, L = int(rng.integers(2, 6)), int(rng.integers(2, 5)), int(rng.integers(1, 7))
    mask = ("causal", "complete", "window:1", "prefix:1", "star")[seed % 5]
    W_QK = rng.standard_normal((L, 1, d, d)) * rng.choice([0.1, 1, 5])
    net = rm.Network.from_arrays(W_QK, rng.standard_normal((L, 1, d, d)), d_qk=d, mask=mask)
    X = rng.standard_normal((n, d)) * rng.choice([0.1, 1, 10])
    assert verify("wu2024:1-doeblin", net, X).outcome != Outcome.VIOLATED
