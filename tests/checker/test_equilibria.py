"""Certificates of LayerNorm equilibria: accepted, and refused when anything they say is not so."""

from __future__ import annotations

import copy
import functools
import json
import random
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import NotIssued
from rankmath.checker.checker import CheckResult, check_text
from rankmath.checker.intervals import Interval, Undecided
from rankmath.checker.kernel import Evaluator, formula
from rankmath.checker.network import arranged
from rankmath.checker.reading import read
from rankmath.checker.statements import DEFINED, STATEMENTS
from rankmath.claims.stable_causal import exhibit_stable_causal
from rankmath.claims.wu2024_3 import exhibit_every_rank
from rankmath.equilibria.certify import EquilibriumProof, certify_design, certify_equilibrium
from rankmath.equilibria.constructions import all_ranks, layernorm_equilibrium
from rankmath.equilibria.designs import causal_design
from rankmath.equilibria.map import attention, jacobian, layer

BITS = 128
MUTATIONS = 20


def number(value: int | str) -> Fraction:
    if isinstance(value, str) and "*2^" in value:
        mantissa, exponent = value.split("*2^")
        return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return Fraction(value)


def fractions(A: Any) -> list[list[Fraction]]:
    return [[number(x) if isinstance(x, str) else Fraction(x) for x in row] for row in np.asarray(A, object).tolist()]


def floats(A: Any) -> Any:
    return np.array(fractions(A), dtype=float)


def changed(certificate: Certificate, **changes: Any) -> CheckResult:
    """The checker's word on the certificate with some of data, hints, kind, statement replaced; None removes."""
    fields = {name: getattr(certificate, name) for name in ("statement", "kind", "data", "hints")}
    for name in ("data", "hints"):
        merged = {**fields[name], **changes.pop(name, {})}
        fields[name] = {key: value for key, value in merged.items() if value is not None}
    return Certificate(**{**fields, **changes}).check()


def moved(A: Any, place: tuple[int, int], by: Fraction) -> list[list[Fraction]]:
    rows = fractions(A)
    rows[place[0]][place[1]] += by
    return rows


def stable_proof(n: int) -> EquilibriumProof:
    return layernorm_equilibrium(n, n, n, mask="complete", stable=True).certify()


@pytest.fixture(scope="module")
def pair() -> Certificate:
    return stable_proof(2).certificate()


@pytest.fixture(scope="module")
def triple() -> Certificate:
    return stable_proof(3).certificate()


@pytest.fixture(scope="module")
def clustered() -> Certificate:
    """Four tokens, the first three equal, rank 2, unstable."""
    return all_ranks(4, 3)[1].certify().certificate()


@pytest.fixture(scope="module")
def causal() -> Certificate:
    """O8 with a = 1/2, w = 1."""
    return exhibit_stable_causal()


@pytest.fixture(scope="module")
def every_rank() -> Certificate:
    """Three causal tokens, ranks 1, 2, 3 under one W_V."""
    return exhibit_every_rank(3, 3, 4)


# -- accepted -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4, *(pytest.param(n, marks=pytest.mark.slow) for n in (5, 6, 7))])
def test_stable_full_rank_equilibria_without_a_mask_refute_the_conjecture(n: int) -> None:
    proof = stable_proof(n)
    certificate = proof.certificate("wu2024:conjecture")
    assert certificate.kind == "violates"
    radius = number(certificate.data["attracting"]["radius"])
    assert radius == proof.attraction.radius > 0
    words = " ".join(certificate.check().checked)
    assert f"its rank is {n}" in words
    assert "converge to it" in words
    assert changed(certificate, statement="own:stable-complete", kind="exists").accepted
    # Uniform attention without a mask makes all tokens equal: this is no instance of that claim.
    refused = changed(certificate, statement="unstated:ln-sphere", kind="violates")
    assert "all(w == 0 for row in W_QK for w in row)" in refused.reason


def test_every_rank_of_six_causal_tokens_in_five_dimensions() -> None:
    family = [equilibrium.certify().certificate() for equilibrium in all_ranks(6, 5)]
    assert [certificate.data["rank"] for certificate in family] == [1, 2, 3, 4, 5]
    assert len({certificate.data["W_V"] for certificate in family}) == 1
    assert ["unstable" in certificate.data for certificate in family] == [False, True, True, True, True]
    together = exhibit_every_rank(6, 5, 7)
    words = " ".join(together.check().checked)
    assert all(f"its rank is {k}" in words for k in range(1, 6))
    assert np.array_equal(together.data["W_V"], np.eye(5) + 7 * np.eye(5, k=1))


def test_ten_causal_tokens_have_rank_ten() -> None:
    top = all_ranks(10, 10, w=11)[-1]
    certificate = certify_equilibrium(top.X, top.W_V, top.W_QK, "causal", rank=10).certificate()
    assert certificate.data["rank"] == 10
    assert len(certificate.hints["preconditioner"]) == 10 * 11 // 2


@pytest.mark.parametrize(("tokens", "dim", "mask"), [(2, 3, "complete"), (3, 4, "causal")])
def test_standard_layernorm(tokens: int, dim: int, mask: str) -> None:
    stable = mask == "complete"
    proof = layernorm_equilibrium(tokens, dim, 2, mask=mask, norm="standard", stable=stable, seed=1).certify()
    certificate = proof.certificate()
    assert "standard LayerNorm" in " ".join(certificate.check().checked)
    assert not changed(certificate, data={"norm": "sphere"}).accepted


def test_the_rational_stable_causal_equilibrium_and_its_eigenvalues() -> None:
    # O8 with a = 1/2, w = 1: X_2 = (-3/5, -4/5) and eigenvalues 1/2, 2/5.
    proof = certify_equilibrium([[0, 1], [-0.6, -0.8]], [[0.5, 1], [0, 1]], np.zeros((2, 2)), "causal", stable=True)
    certificate = proof.certificate()
    assert 0.5 < number(certificate.data["attracting"]["rate"]) < 1
    third = {"tokens": [[0, 1], [Fraction(-3, 5), Fraction(-4, 5)]]}
    assert changed(certificate, data=third).accepted
    assert changed(certificate, data=third, statement="own:stable-causal").accepted


@pytest.mark.parametrize("seed", range(4))
def test_unstable_ones_with_real_and_complex_eigenvalues(seed: int) -> None:
    equilibrium = layernorm_equilibrium(3, 3, 3, mask="complete", seed=seed)
    certificate = equilibrium.certify(stable=False).certificate()
    growth = number(certificate.data["unstable"]["growth"])
    assert 1 <= growth < equilibrium.spectral_radius
    too_much = {"unstable": {"growth": Fraction(equilibrium.spectral_radius) + Fraction(1, 10**6)}}
    assert not changed(certificate, data=too_much).accepted


def test_logits_are_divided_by_the_root_of_d_qk(pair: Certificate) -> None:
    doubled = [[2 * x for x in row] for row in fractions(pair.data["W_QK"])]
    assert changed(pair, data={"W_QK": doubled, "d_qk": 4}).accepted
    assert not changed(pair, data={"d_qk": 4}).accepted


def test_starts_in_the_certified_set_contract_and_converge(triple: Certificate) -> None:
    data = triple.data
    X, W_V, W_QK, R = (floats(A) for A in (data["tokens"], data["W_V"], data["W_QK"], data["attracting"]["R"]))
    rho, rate = (float(number(data["attracting"][name])) for name in ("radius", "rate"))
    rng = np.random.default_rng(0)
    z = rng.standard_normal((200, 9))
    z *= rho / np.linalg.norm(z, axis=1, keepdims=True)
    Z = X + (z @ R.T).reshape(-1, 3, 3)
    image = layer(Z, W_V, W_QK, np.ones((3, 3)), "sphere")
    drawn = np.linalg.norm(np.linalg.solve(R, (image - X).reshape(-1, 9).T), axis=0)
    # The images of points rho away are no farther than rate rho, up to the distance of X to the equilibrium.
    assert drawn.max() <= rate * rho + 1e-12
    for _ in range(400):
        Z = layer(Z, W_V, W_QK, np.ones((3, 3)), "sphere")
    assert np.abs(Z - X).max() < 1e-12


# -- refused --------------------------------------------------------------------------------------------------

SLIP = Fraction(1, 2**40)  # far above the radius of the boxes


@pytest.mark.parametrize("name", ["W_V", "W_QK", "tokens"])
@pytest.mark.parametrize("place", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_one_entry_off(pair: Certificate, name: str, place: tuple[int, int]) -> None:
    result = changed(pair, data={name: moved(pair.data[name], place, SLIP)})
    assert not result.accepted
    assert "unique_zero" in result.reason


def test_a_radius_that_leaves_the_equilibrium_out_or_is_too_wide(pair: Certificate) -> None:
    for radius in (Fraction(1, 2**100), Fraction(1, 10), 0, -1):
        assert not changed(pair, data={"radius": radius}).accepted
    assert changed(pair, data={"radius": Fraction(1, 2**30)}).accepted


@pytest.mark.parametrize("rank", [0, 1, 3, Fraction(5, 2), -2])
def test_another_rank(pair: Certificate, rank: Any) -> None:
    assert not changed(pair, data={"rank": rank})


def test_a_rank_that_clusters_forbid_or_pivots_do_not_show(clustered: Certificate) -> None:
    assert not changed(clustered, data={"rank": 3})
    assert not changed(clustered, data={"rank": 1}, hints={"pivots": [[0, 2]]}).accepted
    for pivots in ([[0, 2]], [[0, 2], [0, 1]], [[0, 2], [1, 2]], [[0, 2], [5, 1]], [[0, 2, 1], [1, 1, 1]]):
        assert not changed(clustered, hints={"pivots": pivots})
    # (0, 0) is an exact zero.
    assert not changed(clustered, hints={"pivots": [[0, 0], [1, 1]]}).accepted


def test_a_singular_value_matrix_bounds_the_rank() -> None:
    # W_V = diag(2, 0): all tokens on the line of e_1, though two tokens in two dimensions.
    proof = certify_equilibrium([[1, 0], [-1, 0]], [[2, 0], [0, 0]], [[3, 0], [0, 0]], "complete", rank=1)
    certificate = proof.certificate()
    everywhere = {"support": [[1, 1], [1, 1]], "preconditioner": (-np.eye(4)).tolist()}
    assert changed(certificate, hints=everywhere).accepted
    assert not changed(certificate, data={"W_V": [[2, 0], [0, 1]]}, hints=everywhere).accepted


@pytest.mark.parametrize("place", [(0, 1), (1, 0), (1, 1)])
def test_another_mask(pair: Certificate, place: tuple[int, int]) -> None:
    mask = moved(pair.data["mask"], place, Fraction(-1))
    assert not changed(pair, data={"mask": mask}).accepted
    assert not changed(pair, data={"mask": moved(pair.data["mask"], place, Fraction(1))})
    assert not changed(pair, data={"mask": [[1, 1], [0, 0]]})


@pytest.mark.parametrize(
    "clusters", [[0, 0, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 2], [1, 1, 1, 0], [0, 0, 0, Fraction(1, 2)]]
)
def test_other_clusters(clustered: Certificate, clusters: Any) -> None:
    assert list(clustered.hints["clusters"]) == [0, 0, 0, 1]
    assert not changed(clustered, hints={"clusters": clusters}).accepted


def test_clusters_that_the_mask_does_not_treat_alike(clustered: Certificate) -> None:
    causal = floats(clustered.data["mask"]).astype(int)
    one_more, one_less = causal.copy(), causal.copy()
    one_more[1, 3] = 1  # token 1 sees token 3, which is not in its cluster
    one_less[2, 0] = 0  # token 2 sees two of its cluster, not three: the same to softmax
    for mask, accepted in ((causal, True), (one_more, False), (one_less, True)):
        assert changed(clustered, data={"mask": mask, "unstable": None}).accepted is accepted


def test_zeros_that_do_not_stay(clustered: Certificate) -> None:
    support = [list(row) for row in clustered.hints["support"]]
    assert support == [[0, 0, 1], [0, 1, 1]]
    for kept, reason in [
        ([[0, 0, 1], [0, 0, 1]], "support[c][a] == 1 or start[c][a] == 0"),  # an entry that is not zero
        (
            [[0, 1, 1], [0, 1, 0]],
            "support[c][a] == 1 or start[c][a] == 0",
        ),  # W_V carries the second coordinate to the third
        ([[0, 0, 0], [0, 1, 1]], "support[c][a] == 1 or start[c][a] == 0"),
        ([[0, 1, 1], [0, 1, 1]], "matrices that do not fit"),
    ]:
        assert reason in changed(clustered, hints={"support": kept}).reason
    # With this W_V tokens with a third coordinate get a first one.
    W_V = moved(clustered.data["W_V"], (2, 0), Fraction(1))
    assert not changed(clustered, data={"W_V": W_V})


def test_standard_layernorm_keeps_no_zeros(clustered: Certificate) -> None:
    assert not changed(clustered, data={"norm": "standard"})


def test_wrong_hints_cost_acceptance(pair: Certificate) -> None:
    Y, S = floats(pair.hints["preconditioner"]), floats(pair.hints["S"])
    for hints in (
        {"preconditioner": Y.T},
        {"preconditioner": Y[:3, :3]},
        {"S": np.zeros_like(S)},
        {"S": S.T},
        {"S": S[:3, :3]},
        {"S": None},
    ):
        assert not changed(pair, hints=hints).accepted
    assert changed(pair, hints={"preconditioner": 1.01 * Y, "S": 1.01 * S}).accepted


def shown(certificate: Certificate, text: str, data: dict[str, Any], hints: dict[str, Any]) -> bool:
    """Whether 128 bits show a formula of own:layernorm-equilibrium, with some of the data and hints replaced."""
    statement, sizes = STATEMENTS["own:layernorm-equilibrium"], dict[str, int]()
    fields = {"data": {**certificate.data, **data}, "hints": {**certificate.hints, **hints}}
    content = json.loads(Certificate(statement="own:layernorm-equilibrium", kind="exists", **fields).text())
    stored = {name: content[name] for name in ("data", "hints")}
    parts = read(stored, {"data": statement.data, "hints": statement.hints}, "certificate", sizes)
    known = arranged(parts["data"], sizes)
    work = Evaluator(DEFINED["own:layernorm-equilibrium"], known, parts["hints"], BITS, time.monotonic() + 60)
    try:
        return work.truth(formula(text)) is True
    except Undecided:
        return False


def test_the_preconditioner_may_be_wrong_by_a_factor_between_zero_and_two(pair: Certificate) -> None:
    """|I - s Y Dg| r < r ends at s = 0 and s = 2, where the center rests."""
    Y, claim = floats(pair.hints["preconditioner"]), STATEMENTS["own:layernorm-equilibrium"].claim
    found = [shown(pair, claim, {}, {"preconditioner": s * Y}) for s in (-1, 0, 0.01, 1.99, 2)]
    assert found == [False, False, True, True, False]


def test_the_inverse_may_be_wrong_by_so_much_and_no_more(pair: Certificate) -> None:
    """With S = s R^-1 the room is 1 - |1 - s| sqrt(N), N = 4: each condition ends at an s of its own."""
    given, S = dict(pair.data["attracting"]), floats(pair.hints["S"])
    R, rate, rho = floats(given["R"]), float(number(given["rate"])), number(given["radius"])
    X, weights = floats(pair.data["tokens"]), [floats(pair.data[name]) for name in ("W_V", "W_QK", "mask")]
    J, (claim, _) = jacobian(X, *weights, "sphere"), STATEMENTS["own:layernorm-equilibrium"].extra["attracting"]

    def attracts(factors: tuple[float, ...], data: dict[str, Any]) -> list[bool]:
        return [shown(pair, claim, data, {"S": s * S}) for s in factors]

    # The slope: s |S J R| < room * rate, on a set so small that J is that of the tokens.
    size, small = float(np.linalg.norm(S @ J @ R, 2)), {"attracting": given | {"radius": Fraction(1, 2**30)}}
    low, high = rate / (2 * rate - size), 3 * rate / (2 * rate + size)
    assert attracts((low - 0.002, low + 0.002, high - 0.002, high + 0.002), small) == [False, True, True, False]
    # The set holds the box: s sqrt(N) radius |S| < room * rho.
    least = 2 * number(pair.data["radius"]) * Fraction(float(np.linalg.norm(S)))
    tight = {"attracting": given | {"radius": least * Fraction(103, 100)}}
    low, high = 1 / (2 - 1 / 1.03), 3 / (2 + 1 / 1.03)
    assert attracts((low - 0.002, low + 0.002, high - 0.002, high + 0.002), tight) == [False, True, True, False]
    # The drift: s |S (F(X) - X)| < room * (1 - rate) * rho, where all but one entry rests.
    slow = 1 - Fraction(1, 2**20)
    step = (1 - slow) * rho / Fraction(103, 100) / Fraction(float(np.linalg.norm(S @ (J - np.eye(4))[:, 0])))
    moving = {"tokens": moved(pair.data["tokens"], (0, 0), step), "attracting": given | {"rate": slow}}
    assert attracts((low - 0.002, low + 0.002, high - 0.002, high + 0.002), moving) == [False, True, True, False]


def test_an_attracting_set_too_large_or_a_rate_too_small(pair: Certificate) -> None:
    given = dict(pair.data["attracting"])
    radius, rate = number(given["radius"]), number(given["rate"])
    for change in (
        {"radius": 100 * radius},
        {"radius": 2},
        {"radius": 0},
        {"radius": -radius},
        {"radius": Fraction(1, 2**60)},  # does not contain the box of the equilibrium
        {"rate": Fraction(29, 50)},  # below the spectral radius, 0.5837
        {"rate": 1},
        {"rate": 0},
        {"R": np.zeros((4, 4))},
        {"R": 100 * floats(given["R"])},
        {"R": np.eye(4)},
    ):
        assert not changed(pair, data={"attracting": given | change})
    assert changed(pair, data={"attracting": given | {"radius": radius / 8, "rate": rate}}).accepted


def test_each_condition_of_attraction_is_needed_by_itself(pair: Certificate) -> None:
    given = dict(pair.data["attracting"])
    # The set is so small that the box around the equilibrium does not lie in it.
    small = {"attracting": given | {"radius": Fraction(1, 2**60)}}
    assert not changed(pair, data=small)
    # The center is so far from the equilibrium that at this rate the set could leave itself.
    tokens = moved(pair.data["tokens"], (0, 0), Fraction(1, 2**32))
    slow = {"attracting": given | {"rate": 1 - Fraction(1, 2**20)}, "tokens": tokens, "radius": Fraction(1, 2**28)}
    assert not changed(pair, data=slow)
    assert changed(pair, data=slow | {"attracting": given}).accepted
    # R and S must be nearly inverse, however well S DF R behaves.
    tiny = floats(pair.hints["S"]) / 2**20
    assert not changed(pair, hints={"S": tiny})
    # Nothing contracts on a set that large.
    large = {"attracting": given | {"radius": 256 * number(given["radius"])}}
    assert not changed(pair, data=large)


def test_an_unstable_equilibrium_is_not_attracting_nor_a_stable_one_unstable(
    pair: Certificate, clustered: Certificate
) -> None:
    nothing = {"attracting": {"R": np.eye(12), "radius": Fraction(1, 2**30), "rate": Fraction(255, 256)}}
    result = changed(clustered, data=nothing | {"unstable": None}, hints={"S": np.eye(12)})
    assert not result
    form = {"form": np.eye(4), "direction": [1, 0, 0, 0]}
    assert not changed(pair, data={"attracting": None, "unstable": {"growth": 1}}, hints=form).accepted


def test_the_growing_form_must_be_symmetric_positive_somewhere_and_grow(clustered: Certificate) -> None:
    P, h = floats(clustered.hints["form"]), floats([clustered.hints["direction"]])[0]
    low = np.linalg.eigh(P)[1][:, 0]
    for hints in (
        {"form": P + np.triu(np.ones_like(P), 1)},
        {"form": -P},
        {"form": np.zeros_like(P)},
        {"form": P[:11, :11], "direction": h[:11]},
        {"direction": low},
        {"direction": None},
        {"form": None},
    ):
        assert not changed(clustered, hints=hints).accepted
    assert not changed(clustered, data={"unstable": {"growth": Fraction(1, 2)}})
    assert changed(clustered, hints={"form": 2 * P}).accepted


def test_a_form_that_grows_by_less_than_one_shows_no_instability(causal: Certificate) -> None:
    """O8 rests stably: eigenvalues 1/2, 2/5, 0, 0. Between 2/5 and 1/2 there is a form J^T P J - g^2 P = I."""
    X, W_V = floats(causal.data["tokens"]), floats(causal.data["W_V"])
    J = jacobian(X, W_V, np.zeros((2, 2)), np.tril(np.ones((2, 2))), "sphere")
    assert np.sort(np.abs(np.linalg.eigvals(J))) == pytest.approx([0, 0, 0.4, 0.5], abs=1e-12)
    growth = Fraction(9, 20)
    P = np.linalg.solve(np.kron(J.T, J.T) - float(growth) ** 2 * np.eye(16), np.eye(4).ravel()).reshape(4, 4)
    P, h = P + P.T, np.linalg.eigh(P + P.T)[1][:, -1]
    assert np.linalg.eigvalsh(J.T @ P @ J - float(growth) ** 2 * P).min() > 1
    assert h @ P @ h > 0
    data = {"attracting": None, "unstable": {"growth": growth}}
    result = changed(
        causal, statement="own:layernorm-equilibrium", data=data, hints={"form": P, "direction": h, "S": None}
    )
    assert result.reason == "a condition fails: growth >= 1"


def test_the_set_of_starts_lies_in_its_box_and_touches_every_side() -> None:
    """x + r z, |z| <= rho, reaches rho |r|_2 to either side, which is more than any entry of r times rho."""
    R = [[3, 4, 0, 0], [2, 3, 6, 0], [1, 1, 1, 1], [0, 0, 0, 5]]
    data = {"n": 2, "d": 2, "rho": Fraction(1, 8), "tokens": fractions([[1, 0], [0, -1]]), "R": fractions(R)}
    exact = {name: Fraction(x) if isinstance(x, int) else x for name, x in data.items()}
    for key in ("own:layernorm-equilibrium", "own:stable-block"):
        box = Evaluator(DEFINED[key], exact, {}, BITS, time.monotonic() + 60).name("basin", {})
        ends = [[(float(_low(x)), float(_high(x))) for x in row] for row in box]
        assert ends == [[(3 / 8, 13 / 8), (-7 / 8, 7 / 8)], [(-1 / 4, 1 / 4), (-13 / 8, -3 / 8)]]


# -- what the other statements ask for besides ----------------------------------------------------------------


def test_each_statement_makes_its_demands(pair: Certificate) -> None:
    stable, conjecture, sphere = (
        ("own:stable-complete", "exists"),
        ("wu2024:conjecture", "violates"),
        ("unstated:ln-sphere", "violates"),
    )
    for (statement, kind), data, reason in [
        (stable, {"attracting": None}, "attracting is missing"),
        (conjecture, {"attracting": None}, "attracting is missing"),
        (sphere, {"attracting": None}, "attracting is missing"),
        (stable, {"norm": "standard"}, "norm_kind == sphere"),
        (conjecture, {"norm": "standard"}, "norm_kind == sphere"),
        (sphere, {"norm": "standard"}, "norm_kind == sphere"),
        (stable, {"mask": [[1, 0], [1, 1]]}, "all(m == 1 for row in mask for m in row)"),
        (sphere, {"rank": 2}, "all(w == 0 for row in W_QK for w in row)"),
        (conjecture, {"mask": [[1, 0], [1, 1]]}, "mask == T(mask) and connected(mask)"),
        (conjecture, {"mask": [[0, 1], [1, 1]]}, "mask == T(mask) and connected(mask)"),
        (conjecture, {"mask": [[1, 0], [0, 1]]}, "mask == T(mask) and connected(mask)"),
        (stable, {"rank": 1}, "rank == min(n, d)"),
        (conjecture, {"rank": 1}, "rank >= 2"),
        (sphere, {"rank": 1, "W_QK": [[0, 0], [0, 0]]}, "rank >= 2"),
    ]:
        assert reason in changed(pair, statement=statement, kind=kind, data=data).reason
    assert changed(pair, statement="wu2024:conjecture", kind="violates").accepted


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"attracting": None}, "attracting is missing"),
        ({"norm": "standard"}, "norm_kind == sphere"),
        ({"mask": [[1, 1], [1, 1]]}, "mask[i][j] == (1 if j <= i else 0)"),
        ({"W_QK": [[0, 0], [1, 0]]}, "w == 0 for row in W_QK"),
        ({"rank": 1}, "n == 2 and rank == 2"),
        ({"W_V": [[1, 1], [0, 1]]}, "W_V[d-2][d-2] < 1"),
        ({"W_V": [["1/2", "1/2"], [0, 1]]}, "(2 - W_V[d-2][d-2])"),
        ({"W_V": [["1/2", 1], [0, 2]]}, "all(W_V[i][j] == (1 if i == d - 1"),
        ({"W_V": [["1/2", 1], ["1*2^-900", 1]]}, "all(W_V[i][j] == (1 if i == d - 1"),
    ],
)
def test_the_stable_causal_statement_makes_its_demands(causal: Certificate, data: Any, reason: str) -> None:
    assert reason in changed(causal, data=data).reason


def test_one_token_or_one_dimension_are_no_stable_pair(causal: Certificate) -> None:
    small = {"W_V": [[1]], "W_QK": [[0]], "tokens": [[1], [1]], "attracting": {"R": [[1]], "radius": 1, "rate": "1/2"}}
    assert not changed(causal, data=small, hints={"support": [[1], [1]], "S": [[1]]})


def test_every_rank_means_every_rank_under_one_shift(every_rank: Certificate) -> None:
    members, hints = every_rank.data["equilibria"], every_rank.hints["equilibria"]
    fewer = changed(every_rank, data={"equilibria": members[:2]}, hints={"equilibria": hints[:2]})
    assert "ranks == " in fewer.reason
    for data, reason in [
        ({"equilibria": members[:2]}, "hints.equilibria: one for each equilibrium is needed"),
        ({"equilibria": [members[0], members[0], members[2]]}, "ranks == "),
        ({"equilibria": members[::-1]}, "ranks == "),
        ({"mask": [[1, 1, 1]] * 3}, "mask[i][j] == (1 if j <= i else 0)"),
        ({"norm": "standard"}, "norm_kind == sphere"),
        ({"W_V": [[1, 2, 0], [0, 1, 2], [0, 0, 1]]}, "W_V[0][1] > n - 1"),
        ({"W_V": [[1, 4, 0], [0, 1, 5], [0, 0, 1]]}, "W_V[0][1] if j == i + 1"),
        ({"W_V": [[1, 5, 0], [0, 1, 5], [0, 0, 1]]}, "unique_zero"),
        ({"W_QK": [[0, 0, 1], [0, 0, 0], [0, 0, 0]]}, "w == 0 for row in W_QK"),
    ]:
        assert reason in changed(every_rank, data=data).reason
    assert not changed(every_rank, hints={"equilibria": hints[:2]})
    assert not changed(every_rank, hints={"equilibria": [hints[1], hints[0], hints[2]]}).accepted


def test_an_undirected_mask_that_is_not_complete() -> None:
    # On the path 0 - 1 - 2 the ends see the middle, and the middle sees both.
    path = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    proof = layernorm_equilibrium(3, 3, 3, mask=path, stable=True, seed=0).certify()
    assert proof.certificate("own:stable-equilibrium").check().accepted
    for statement in ("own:stable-complete", "unstated:ln-sphere"):
        with pytest.raises((NotIssued, ValueError), match=r"m == 1 for row in mask|w == 0 for row|statement"):
            proof.certificate(statement)


def test_a_stable_equilibrium_of_rank_one_refutes_nothing() -> None:
    proof = certify_equilibrium([[1, 0], [1, 0]], [[2, 0], [0, 1]], np.zeros((2, 2)), "complete", stable=True)
    assert proof.certificate().check().accepted
    for statement in ("wu2024:conjecture", "unstated:ln-sphere", "own:stable-complete"):
        with pytest.raises(NotIssued, match="rank"):
            proof.certificate(statement)


def test_only_known_statements_are_certified() -> None:
    with pytest.raises(ValueError, match=r"^statement: "):
        stable_proof(2).certificate("own:tv")


# -- the pieces, against other computations -------------------------------------------------------------------


def intervals(A: Any, width: float = 0.0) -> list[list[Interval]]:
    w = Fraction(width)
    return [[Interval.of(x - w, BITS).merged(Interval.of(x + w, BITS), min, max) for x in row] for row in fractions(A)]


def _low(x: Any) -> Fraction:
    return x if isinstance(x, Fraction) else x.lower()


def _high(x: Any) -> Fraction:
    return x if isinstance(x, Fraction) else -(-x).lower()


def contains(enclosure: Any, values: Any, slack: float = 1e-9) -> bool:
    """Every entry of the float matrix lies in its interval, up to the rounding of the floats themselves."""
    return all(
        _low(x) - Fraction(slack) <= Fraction(v) <= _high(x) + Fraction(slack)
        for row, reals in zip(enclosure, values.tolist(), strict=True)
        for x, v in zip(row, reals, strict=True)
    )


@pytest.mark.parametrize("norm", ["sphere", "standard"])
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 3), d=st.integers(2, 4))
@settings(max_examples=20)
def test_the_interval_map_and_jacobian_enclose_the_true_ones(norm: str, seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    X, W_V, W_QK = rng.standard_normal((n, d)), *rng.standard_normal((2, d, d))
    mask = np.tril(rng.integers(0, 2, (n, n)), -1) + np.eye(n, dtype=int)
    data = {"W_V": fractions(W_V), "W_QK": fractions(W_QK), "d_qk": Fraction(2), "norm_kind": norm}
    data |= {"n": Fraction(n), "d": Fraction(d), "tokens": fractions(X), "mask": fractions(mask)}
    system = (W_V, W_QK / np.sqrt(2), mask, norm)
    J = jacobian(X, *system)
    slack = 1e-12 * max(1.0, float(np.abs(J).max()))
    # Where a token is sent near to zero, the box would reach the point that cannot be normalised.
    Y = attention(X, W_QK / np.sqrt(2), mask) @ X @ W_V
    assume(np.linalg.norm(Y - (norm == "standard") * Y.mean(axis=1, keepdims=True), axis=1).min() > 0.2)

    def work() -> Evaluator:
        return Evaluator(DEFINED["own:layernorm-equilibrium"], data, {}, BITS, time.monotonic() + 60)

    assert contains(work().apply("map", [fractions(X)]), layer(X, *system), slack)
    narrow = work().jacobian("map", intervals(X))
    assert contains(narrow, J, slack)
    widths = [-(-x).lower() - x.lower() for row in narrow for x in row if isinstance(x, Interval)]
    assert max(widths) < Fraction(1, 2**90)
    box = work().jacobian("map", intervals(X, 2.0**-12))
    for _ in range(5):
        Z = X + 2.0**-12 * rng.uniform(-1, 1, X.shape)
        assert contains(work().apply("map", [intervals(X, 2.0**-12)]), layer(Z, *system), slack)
        assert contains(box, jacobian(Z, *system), slack)


def test_a_contraction_is_shown_over_the_whole_box() -> None:
    """At its center any box contracts, and any center rests that moves by less than the box: both are refused."""
    content = json.loads(certify_design(causal_design(2)).certificate("own:stable-equilibrium").text())
    x, W, V, mask = (fractions(content["data"][name]) for name in ("tokens", "W_QK", "W_V", "mask"))
    w, size, rate = fractions(content["hints"]["weights"]), number(content["hints"]["size"]), Fraction(7, 8)

    def shown(x: Any, size: Fraction, rate: Fraction = rate) -> bool | None:
        work = Evaluator(DEFINED["own:stable-equilibrium"], {}, {}, 256, time.monotonic() + 60)
        try:
            return bool(work.apply("contracts", [x, W, V, mask, w, size, rate, Fraction(0)])) or None
        except Undecided:
            return None

    assert shown(x, size) is True
    assert shown(x, Fraction(1, 4) / max(map(max, w))) is None
    assert shown(x, size, Fraction(1, 4)) is None
    assert shown(moved(x, (1, 0), size * w[1][0] / 2), size) is None
    assert shown(moved(x, (1, 0), size * w[1][0] / 1000), size) is True


# -- mutations: no accepted claim is false --------------------------------------------------------------------


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[key], (*path, key))
    elif not (isinstance(value, str) and value in ("sphere", "standard")):
        yield path


def mutate(value: int | str, rng: random.Random) -> int | str:
    x = number(value)
    step = Fraction(rng.choice((1, -1)), 2 ** rng.randint(0, 70))
    y = rng.choice((x + step, x + step, x * (1 + step), -x, 2 * x, x / 2, Fraction(0), Fraction(1)))
    return f"{y.numerator}/{y.denominator}"


def is_true(content: Any) -> bool:
    """The claims of a certificate judged by Newton's method in mpmath, and by float64 orbits and eigenvalues."""
    data, statement = content["data"], content["statement"]
    if statement in ("wu2024:3", "own:stable-causal"):
        W_V, n = np.array(fractions(data["W_V"])), len(data["mask"])
        causal = (floats(data["mask"]) == np.tril(np.ones((n, n)))).all() and not floats(data["W_QK"]).any()
        if not causal or data["norm"] != "sphere":
            return False
    if statement == "own:stable-causal":
        (a, w), last = W_V[0], W_V[1].tolist()
        return bool(0 < a < 1 and w**2 > a * (2 - a) and last == [0, 1]) and judge(json.dumps(data))
    if statement == "wu2024:3":
        members = data.pop("equilibria")
        shift = (np.eye(n, dtype=int) + W_V[0, 1] * np.eye(n, k=1, dtype=int) == W_V).all() and W_V[0, 1] > n - 1
        ranks = [number(member["rank"]) for member in members] == list(range(1, n + 1))
        return bool(shift and ranks and all(judge(json.dumps({**data, **member})) for member in members))
    return judge(json.dumps(data))


@functools.cache
def judge(text: str) -> bool:
    data = json.loads(text)
    tokens, W_V, W_QK, mask = (fractions(data[name]) for name in ("tokens", "W_V", "W_QK", "mask"))
    X = true_equilibrium(tokens, W_V, W_QK, mask, data)
    if X is None:
        return False
    F = (floats(W_V), floats(W_QK) / np.sqrt(float(number(data["d_qk"]))), floats(mask), data["norm"])
    Z = np.array(X.tolist(), dtype=float).reshape(len(tokens), -1)
    spectrum = np.abs(np.linalg.eigvals(jacobian(Z, *F)))
    holds = int((np.linalg.svd(Z, compute_uv=False) > 1e-9).sum()) == number(data["rank"])
    if "unstable" in data:
        holds &= spectrum.max() > float(number(data["unstable"]["growth"])) - 1e-9
    if "attracting" in data:
        R, rho = floats(data["attracting"]["R"]), float(number(data["attracting"]["radius"]))
        holds &= spectrum.max() <= float(number(data["attracting"]["rate"])) + 1e-9
        z = np.random.default_rng(0).standard_normal((20, len(R)))
        starts = floats(tokens) + (rho * z / np.linalg.norm(z, axis=1, keepdims=True) @ R.T).reshape(20, *Z.shape)
        for _ in range(400):
            starts = layer(starts, *F)
        holds &= np.abs(starts - Z).max() < 1e-9
    return bool(holds)


def true_equilibrium(tokens: Any, W_V: Any, W_QK: Any, mask: Any, data: Any) -> Any:
    """The zero of F - id within the radius of the tokens, to 60 digits, or None; clusters and zeros are kept."""
    n, d = len(tokens), len(W_V)
    with mpmath.workdps(60):
        # A W3 token has eigenvalue 1 across its zeros: Newton's method moves only what is not zero.
        places = [(i, a) for i in range(n) for a in range(d) if tokens[i][a]]
        weights = [[mpmath.mpf(w.numerator) / w.denominator for w in row] for row in W_V]
        form = [[mpmath.mpf(w.numerator) / w.denominator for w in row] for row in W_QK]
        root = mpmath.sqrt(mpmath.mpf(number(data["d_qk"]).numerator) / number(data["d_qk"]).denominator)
        X = mpmath.matrix([[mpmath.mpf(x.numerator) / x.denominator for x in row] for row in tokens])
        start = X.copy()

        def F(Z: Any) -> Any:
            out = mpmath.matrix(n, d)
            for i in range(n):
                logits = {
                    j: sum(Z[i, a] * form[a][b] * Z[j, b] for a in range(d) for b in range(d)) / root
                    for j in range(n)
                    if mask[i][j]
                }
                share = {j: mpmath.exp(v) for j, v in logits.items()}
                y = [sum(share[j] * Z[j, a] * weights[a][b] for j in share for a in range(d)) for b in range(d)]
                if data["norm"] == "standard":
                    y = [v - sum(y) / d for v in y]
                length = mpmath.sqrt(sum(v * v for v in y)) / (mpmath.sqrt(d) if data["norm"] == "standard" else 1)
                for b in range(d):
                    out[i, b] = y[b] / length
            return out

        step = mpmath.mpf(10) ** -30
        try:
            for _ in range(3):
                base = F(X) - X
                slope = mpmath.matrix(len(places), len(places))
                for column, (i, a) in enumerate(places):
                    Z = X.copy()
                    Z[i, a] += step
                    change = (F(Z) - Z - base) / step
                    for line, (j, b) in enumerate(places):
                        slope[line, column] = change[j, b]
                move = mpmath.lu_solve(slope, mpmath.matrix([base[i, a] for i, a in places]))
                for (i, a), value in zip(places, move, strict=True):
                    X[i, a] -= value
            near = (
                max(abs(x - y) for x, y in zip(X, start, strict=True))
                <= mpmath.mpf(number(data["radius"]).numerator) / number(data["radius"]).denominator
            )
            rests = max(abs(x) for x in F(X) - X) < mpmath.mpf(10) ** -40
        except ZeroDivisionError:
            return None
        return X if near and rests else None


@pytest.mark.parametrize("name", ["pair", "clustered", "causal", "every_rank"])
def test_mutations_are_rejected_or_true(name: str, request: pytest.FixtureRequest) -> None:
    original = json.loads(request.getfixturevalue(name).text())
    assert is_true(copy.deepcopy(original))
    rng = random.Random(f"mutations of {name}")
    places = list(leaves({part: original[part] for part in ("data", "hints")}))
    accepted = 0
    for _ in range(MUTATIONS):
        content = json.loads(json.dumps({**original, "id": None}))
        del content["id"]
        *path, last = rng.choice(places)
        inner = content
        for key in path:
            inner = inner[key]
        inner[last] = mutate(inner[last], rng)
        result = check_text(json.dumps(content))
        if result.accepted:
            accepted += 1
            assert is_true(content), (path, last, inner[last])
    # Both sides of the line are visited.
    assert 5 < accepted < MUTATIONS - 5


def test_the_judge_is_not_blind(pair: Certificate) -> None:
    for change in (
        lambda data: data.update(rank=1),
        lambda data: data["tokens"][0].__setitem__(0, 1),
        lambda data: data["attracting"].update(rate="1/2"),
        lambda data: data["attracting"].update(radius=10),
        lambda data: data.update(radius="1*2^-100"),
    ):
        content = json.loads(pair.text())
        change(content["data"])
        assert not is_true(content)


@pytest.mark.parametrize("key", ["wu2024-conjecture", "unstated-ln-sphere"])
def test_a_refutation_says_nothing_of_growth(key: str) -> None:
    """It is about an equilibrium that attracts: what is not checked is not in the data, nor in the words."""
    (path,) = (Path(__file__).parents[2] / "proofs/certificates").glob(f"{key}_*.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["id"]
    assert check_text(json.dumps(content)).accepted
    content["data"]["unstable"] = {"growth": "3/2"}
    assert "'unstable' that is not known" in check_text(json.dumps(content)).reason
