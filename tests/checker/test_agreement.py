"""The library and the checker share no code: every quantity of the language has one value in both."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rankmath.arithmetic.balls import Balls, precision
from rankmath.arithmetic.float64 import Float64
from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import Instance, data_and_hints
from rankmath.checker import network as checked
from rankmath.checker.kernel import Evaluator
from rankmath.checker.reading import read
from rankmath.checker.statements import CLAIM_FUNCTIONS, CLAIM_LOOPS, NETWORK_HINTS, defined_network, network_data
from rankmath.definitions.entries import ENTRIES
from rankmath.formula.evaluate import NUMBERS, judged, sides, value
from rankmath.formula.numbers import Signed
from rankmath.formula.reader import read_formula, read_term
from rankmath.formula.run import Run
from rankmath.model.network import LayerNorm, Mask, Network
from rankmath.model.sublayers import MLP

PLACES = ("X[0]", "X[1]", "X[2]")
CAUSAL = np.tril(np.ones((4, 4), dtype=int))
PATHS = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]])
EVERYWHERE = (
    *(f"diameter({X}, {p})" for X in PLACES for p in ("1", "2", "inf")),
    *(f"{name}({X})" for X in PLACES for name in ("mu", "about_mean", "cosine", "stable_rank", "longest")),
    *(f"{name}({X})" for X in PLACES for name in ("centred_norm", "moved")),
    *(f"{name}({X})" for X in PLACES for name in ("participation_ratio", "rank")),
    *(f"effective_rank({X}, {of})" for X in PLACES for of in ("singular", "eigen")),
    *(f"residual({X}, {p})" for X in PLACES for p in ("one", "inf", "composite", "frobenius")),
    *(f"norm({M}, {p})" for M in ("X[1]", "W[0, 1]", "W_QK[1, 0]") for p in ("1", "2", "inf", "max", "composite")),
    *(f"operator_norm(W[1, 0], {p})" for p in ("1", "2", "inf")),
    *(f"form_norm(W_QK[0, 1], {p})" for p in ("1", "2", "inf")),
    *("least_singular(W[0, 1])", "definiteness(W_QK[1, 1])", "definiteness(W_QK[0, 1])", "lipschitz(1)"),
    *(
        f"{name}(P[{l}, {h}])"
        for name in ("epsilon", "logit_range", "entropy", "top_shares")
        for l in "01"
        for h in "01"
    ),
    *("dobrushin(P[0, 1])", "dobrushin(P[1, 0])", "r", "in_degree", "K", "n + 2*d + 3*H + 5*L", "d_qk", "skip"),
    *("sum_l(norm(W[l, 0], 2))", "prod_h(norm(W[1, h], 1))", "max_l(min_h(norm(W[l, h], inf)))", "sum_i(i**2)"),
    "recursion(b, diameter(X[0], 2), b*norm(W[l, 0], 2)/2 + l)",
)
WHERE_ALL_ARE_SEEN = (
    *(f"{name}(P[{l}, 1], {at})" for name in ("delta", "q_max", "q_min") for l in "01" for at in ("mean", "composite")),
    *("gamma(P[0, 0])", "gamma(P[1, 1])"),
)
OF_ONE_HEAD = (
    *("product_norm(2)", "contraction(0)", "height()", *(f"section({X})" for X in PLACES), "contraction(1)"),
    *("center_count()", "farthest()", "mu_before(0)", "mu_before(1)"),
    *("jacobian_norm()", "influence(0)", "influence(3)", "last_share(1)", "is_last(3)", "is_last(2)"),
)
OF_A_REPEATED_TOKEN = (
    *(f"{name}({X})" for name in ("repeat_gap", "repeat_reach") for X in PLACES),
    *("repeat_share(P[0, 0])", "repeat_share(P[1, 1])", "jacobian_norm()"),
)


def drawn(seed: int, **more: Any) -> Instance:
    rng = np.random.default_rng(seed)
    n, d, L, H = 4, 3, 2, more.pop("H", 2)
    bias = more.pop("bias", 1)
    return Instance(
        np.round(rng.normal(size=(n, d)) * 0.4 + [2.0, 1.0, 0.0], 6),
        *np.round(rng.uniform(-1, 1, (2, L, H, d, d)), 6),
        np.round(rng.normal(size=(L, H, d)), 6) * bias,
        np.round(rng.normal(size=(L, d)), 6) * bias,
        3.0,
        more.get("skip", 0),
        more.get("mask"),
        more.get("layernorm", "none"),
    )


def by_the_checker(instance: Instance, terms: Sequence[str]) -> Callable[[str], tuple[float, float]]:
    text = json.loads(Certificate("x", "holds", *data_and_hints(instance, terms), claim="mu(X[0]) >= 0").text())
    sizes: dict[str, int] = {}
    data = checked.network(read(text["data"], network_data(text["data"]), "data", sizes), sizes)
    hints = {name: read(guide, NETWORK_HINTS["*"], "hints", {}) for name, guide in text["hints"].items()}
    guides = checked.network_hints(hints, len(instance.W))
    work = Evaluator(defined_network(), data, guides, 128, time.monotonic() + 300)

    def ends(term: str) -> tuple[float, float]:
        found = work.value(checked.spelled(term, len(instance.W)), {})
        return (float(found),) * 2 if isinstance(found, Fraction) else (float(found.lower()), float(-(-found).lower()))

    return ends


def network(instance: Instance) -> Network:
    arrays = (np.asarray(A, dtype=float) for A in (instance.W_QK, instance.W))
    key, bias = (np.asarray(A, dtype=float) for A in (instance.key_bias, instance.bias))
    mask = None if instance.mask is None else Mask(np.asarray(instance.mask) > 0)
    norm = LayerNorm("sphere") if instance.layernorm == "sphere" else None
    d_qk, maps = float(instance.d_qk), instance.mlp or None
    return Network.from_arrays(*arrays, d_qk, key, bias, float(instance.skip), maps, norm, mask)


def by_the_library(instance: Instance) -> Callable[[str], tuple[float, float]]:
    """In doubles and in balls."""
    net, X = network(instance), np.asarray(instance.X, dtype=float)
    doubles, balls = Run(Float64(np.zeros(1)), net, X), Run(Balls(), net, X)

    def both(term: str) -> tuple[float, float]:
        first = value(read_term(term), doubles, {})
        with precision(128):
            second = value(read_term(term), balls, {})
        return float(first.floats() if isinstance(first, Signed) else first), float(second)

    return both


CASES = {
    "plain": ({}, (*EVERYWHERE, *WHERE_ALL_ARE_SEEN)),
    "causal with a skip": ({"mask": CAUSAL, "skip": Fraction(1, 2)}, (*EVERYWHERE, *OF_A_REPEATED_TOKEN)),
    "a path": ({"mask": PATHS, "skip": Fraction(-3, 4)}, EVERYWHERE),
    "sphere": ({"layernorm": "sphere"}, (*EVERYWHERE, *WHERE_ALL_ARE_SEEN)),
    "one head": ({"H": 1, "skip": Fraction(1, 4), "bias": 0}, OF_ONE_HEAD),
    "one head on a path": ({"H": 1, "mask": PATHS, "bias": 0}, OF_ONE_HEAD[:6]),
}


@pytest.mark.parametrize("name", CASES)
def test_every_quantity_has_one_value(name: str) -> None:
    choices, terms = CASES[name]
    instance = drawn(5, **choices)
    enclosed, computed = by_the_checker(instance, terms), by_the_library(instance)
    for term in terms:
        low, high = enclosed(term)
        # Linear programs are solved up to a millionth, and what is taken about their centers is as good.
        part = 1e-5 if "composite" in term or "gamma" in term or ", inf" in term else 1e-9
        assert high - low <= part * max(1.0, abs(high)), term
        for found in computed(term):
            slack = part * max(abs(found), 1e-3)
            assert low - slack <= found <= high + slack, (term, low, high, found)


#: Masks, and whether some token reaches all, each reaches all, and each sees itself.
MASKS: tuple[tuple[Any, tuple[bool, bool, bool]], ...] = (
    (CAUSAL, (True, False, True)),
    (PATHS, (True, True, True)),
    (np.eye(4, dtype=int), (False, False, True)),
    (np.roll(np.eye(4, dtype=int), 1, axis=1), (True, True, False)),
    (np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1]]), (False, False, True)),
    (np.array([[1, 0, 0, 0]] * 4), (True, False, False)),
    (None, (True, True, True)),
)
TURN, SHEAR, SHIFT = np.eye(3)[[1, 2, 0]], np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1.0]]), np.eye(3, k=1)
#: Weights, and whether they are definite (as forms), invertible, and orthogonal.
WEIGHTS = (
    (TURN, (False, True, True)),
    (np.eye(3), (True, True, True)),
    (-np.eye(3), (True, True, True)),
    (SHEAR, (True, True, False)),
    (np.array([[1, 3, 0], [0, 1, 0], [0, 0, 1.0]]), (False, True, False)),
    (np.diag([1, 1, -1.0]), (False, True, True)),
    (SHIFT, (False, False, False)),
    (np.diag([1.0, 1, 0]), (False, False, False)),
    (np.array([[0, 1, 0], [1, 0, 0], [0, 0, 2.0]]), (False, True, False)),
)


def truths(instance: Instance, predicate: str) -> list[bool | None]:
    """By the checker, and by the library in doubles."""
    text = json.loads(Certificate("x", "holds", instance.data(), claim="mu(X[0]) >= 0").text())
    sizes: dict[str, int] = {}
    data = checked.network(read(text["data"], network_data(text["data"]), "data", sizes), sizes)
    work = Evaluator(defined_network(), data, {}, 128, time.monotonic() + 300)
    run = Run(Float64(np.zeros(1)), network(instance), np.asarray(instance.X, dtype=float))
    [side] = sides(read_formula(predicate), run)
    found = judged(side, 1, NUMBERS["float64"])
    return [
        work.truth(checked.spelled(predicate, len(instance.W))),
        bool(found.below[0]) if found.below[0] ^ found.above[0] else None,
    ]


def test_predicates_of_masks_and_weights() -> None:
    for mask, expected in MASKS:
        instance = drawn(1, mask=mask)
        predicates = ("quasi_strongly_connected()", "strongly_connected()", "self_loops()")
        for name, truth in zip(predicates, expected, strict=True):
            assert truths(instance, name) == [truth, truth], (name, mask)
    for M, expected in WEIGHTS:
        instance = drawn(1, H=1)
        instance = dataclasses.replace(instance, W_QK=np.stack([[M]] * 2), W=np.stack([[M]] * 2))
        predicates = ("definite(W_QK[1, 0])", "invertible(W[1, 0])", "orthogonal_values()")
        for name, truth in zip(predicates, expected, strict=True):
            checked, found = truths(instance, name)
            assert found is truth, (name, M)
            # Where a pivot vanishes definiteness is not told.
            assert checked is truth or (checked is None and not truth and name.startswith("definite")), (name, M)
    # Every layer is looked at, not the first alone.
    for W, truth in (((np.eye(3), TURN), True), ((np.eye(3), SHEAR), False), ((SHEAR, np.eye(3)), False)):
        instance = dataclasses.replace(drawn(1, H=1), W=np.stack(W)[:, None])
        assert truths(instance, "orthogonal_values()") == [truth, truth]
    blocks = np.zeros((2, 1, 3, 3))
    blocks[0, 0, 0, 2] = 1.0
    for place, truth in (((0, 2), True), ((1, 2), True), ((2, 2), False), ((2, 1), False), ((0, 1), False)):
        second = blocks.copy()
        second[(1, 0, *place)] = 1.0
        instance = Instance(np.array([[1.0, 2, 0], [3, 4, 0]]), np.zeros((2, 1, 3, 3)), second)
        assert truths(instance, "disjoint_blocks()") == [truth, truth], place
    # Written coordinates are those with a column of W or a bias; what they hold is neither read nor given.
    zero, X = np.zeros((1, 1, 3, 3)), np.array([[1.0, 2, 0], [3, 4, 0]])
    for write, read_, given, bias, truth in (
        ((0, 2), None, 0.0, 0.0, True),
        ((0, 1), None, 0.0, 0.0, False),
        ((0, 2), (2, 2), 0.0, 0.0, False),
        ((0, 2), None, 1.0, 0.0, False),
        ((0, 2), None, 0.0, 1.0, False),
        (None, None, 0.0, 0.0, True),
    ):
        W, tokens = zero.copy(), X.copy()
        for place in filter(None, (write, read_)):
            W[0, 0][place] = 1.0
        tokens[0, 2] = given
        instance = Instance(tokens, zero, W, bias=np.array([[bias, 0.0, 0.0]]))
        assert truths(instance, "disjoint_blocks()") == [truth, truth], (write, read_, given, bias)


def test_switches_say_what_a_network_has() -> None:
    rng = np.random.default_rng(0)
    f = MLP(*(rng.normal(size=shape) for shape in ((3, 2), (2, 3), (2,), (3,))), activation="relu", skip=True)
    plain = drawn(1, bias=0)
    padding = np.array([[1, 1, 0, 1]] * 4)
    every = {
        "plain": (plain, {"mask": {"none", "complete", "padding"}, "layernorm": {"none"}, "mlp": {"none"},
                          "bias": {"none"}, "query_bias": {"none"}}),
        "biased": (drawn(1), {"mask": {"none", "complete", "padding"}, "bias": set(), "query_bias": set()}),
        "causal": (drawn(1, mask=CAUSAL), {"mask": {"causal"}}),
        "padded": (drawn(1, mask=padding), {"mask": {"padding"}}),
        "path": (drawn(1, mask=PATHS), {"mask": set()}),
        "sphere": (drawn(1, layernorm="sphere"), {"layernorm": {"sphere"}}),
        "mapped": (dataclasses.replace(plain, mlp=(f, None)), {"mlp": set(), "bias": {"none"}}),
        "mapped in the end": (dataclasses.replace(plain, mlp=(None, f)), {"mlp": set()}),
        "biased in the end": (dataclasses.replace(plain, bias=np.eye(2, 3, 1) * [[0], [1]]), {"bias": set()}),
        "keyed in the end": (
            dataclasses.replace(plain, key_bias=np.eye(4, 3, -1).reshape(2, 2, 3) * [[[0], [0]], [[0], [1]]]),
            {"query_bias": set(), "bias": {"none"}},
        ),
    }  # fmt: skip
    for name, (instance, switches) in every.items():
        text = json.loads(Certificate("x", "holds", instance.data(), claim="mu(X[0]) >= 0").text())
        sizes: dict[str, int] = {}
        data = checked.network(read(text["data"], network_data(text["data"]), "data", sizes), sizes)
        run = Run(Float64(np.zeros(1)), network(instance), np.asarray(instance.X, float))
        for switch, words in switches.items():
            for word in checked.SWITCHES[switch]:
                truth = word in words or word == "any"
                found = checked._switched(switch, word, data), run.switch(switch, word)
                assert found == (truth, truth), (name, switch, word, found)


def test_every_function_of_the_language_is_among_them() -> None:
    terms = " ".join(term for _, terms in CASES.values() for term in terms)
    plain = {"sqrt", "exp", "log", "tanh", "abs", "floor", "expc", "tanhc", "min", "max"}  # tests/formula has them
    tried = {"definite", "invertible", "self_loops", "quasi_strongly_connected", "strongly_connected"}
    tried |= {"orthogonal_values", "disjoint_blocks"}
    indexed = {f"{verb}_{index}" for verb in ("sum", "prod", "max", "min", "all") for index in "lhik"} | {"all_p"}
    elsewhere = {"normalised_norm", "gram_height"}  # tests/checker/test_network.py
    # About positions and norms before the map: the checker accepts the certificates that the library issues.
    elsewhere |= {"consensus_shift", "diagonal", "first_gap", "gained_norm", "second_modulus"}
    elsewhere |= {"least_root", "position_range", "second_least", "second_norm", "turned_range"}
    elsewhere |= {"across", "largest_root", "lengthening", "linear_gap", "modulus_of", "other_share", "reach"}
    elsewhere |= {"root_growth", "scaling_values"}
    others = {*ENTRIES, *CLAIM_FUNCTIONS, *CLAIM_LOOPS, "min", "max", "recursion"} - plain - tried - indexed - elsewhere
    assert [name for name in sorted(others) if f"{name}(" not in terms] == []


def test_one_entry_of_a_mask_makes_it_another() -> None:
    """Padding and causal masks with any one entry changed are neither, nor complete."""
    padding = np.array([[1, 1, 0, 1]] * 4)
    for mask in (padding, CAUSAL):
        for place in np.ndindex(4, 4):
            changed = mask.copy()
            changed[place] = 1 - changed[place]
            if not changed.any(axis=1).all():
                continue
            instance = drawn(1, mask=changed)
            text = json.loads(Certificate("x", "holds", instance.data(), claim="mu(X[0]) >= 0").text())
            sizes: dict[str, int] = {}
            data = checked.network(read(text["data"], network_data(text["data"]), "data", sizes), sizes)
            run = Run(Float64(np.zeros(1)), network(instance), np.asarray(instance.X, float))
            for word in ("none", "complete", "causal", "padding"):
                found = checked._switched("mask", word, data), run.switch("mask", word)
                assert found == (False, False), (changed.tolist(), word)


def test_blocks_are_disjoint_in_every_layer_head_and_coordinate() -> None:
    """A third coordinate that some W or bias writes must be read by none; any one place decides."""
    X, zero = np.array([[1.0, 2, 0], [3, 4, 0]]), np.zeros((2, 2, 3, 3))
    for l, h in np.ndindex(2, 2):
        writes, reads = zero.copy(), zero.copy()
        writes[l, h, 0, 2] = 1.0
        assert truths(Instance(X, zero, writes), "disjoint_blocks()") == [True, True]
        for other in np.ndindex(2, 2):
            reads = writes.copy()
            reads[(*other, 2, 2)] = 1.0
            assert truths(Instance(X, zero, reads), "disjoint_blocks()") == [False, False], (l, h, other)
        for j in range(3):
            bias = np.zeros((2, 3))
            bias[l, j] = 1.0
            # The first two coordinates are given, so nothing may write them.
            assert truths(Instance(X, zero, zero, bias=bias), "disjoint_blocks()") == [j == 2, j == 2], (l, j)
        for i in range(2):
            given = X.copy()
            given[i, 2] = 1.0
            assert truths(Instance(given, zero, writes), "disjoint_blocks()") == [False, False]


@pytest.mark.parametrize("d", [5, 13])
def test_the_form_norm_of_many_dimensions_is_no_less_than_any_pair_of_signs_shows(d: int) -> None:
    rng = np.random.default_rng(d)
    M = np.zeros((1, 1, d, d))
    M[0, 0, 0], M[0, 0, 1] = rng.integers(-3, 4, (2, d))
    instance = Instance(np.eye(2, d), M, np.zeros((1, 1, d, d)))
    run = Run(Float64(np.zeros(1)), network(instance), np.eye(2, d))
    (low, high), found = by_the_checker(instance, [])("form_norm(W_QK[0, 0], inf)"), value(
        read_term("form_norm(W_QK[0, 0], inf)"), run, {}
    )  # fmt: skip
    true = max(abs(M[0, 0, 0] + s * M[0, 0, 1]).sum() for s in (-1, 1))
    most = abs(M).sum()
    for bound in (low, high, float(found.floats())):
        assert bound == pytest.approx(true) if d <= 12 else true - 1e-9 <= bound <= most + 1e-9
