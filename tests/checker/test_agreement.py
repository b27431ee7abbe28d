"""The library and the checker share no code: every quantity of the language has one value in both."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rankmath.arithmetic.balls import Balls, precision
from rankmath.arithmetic.float64 import Float64
from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import Instance
from rankmath.checker import checker
from rankmath.checker.kernel import Evaluator, formula
from rankmath.checker.reading import read
from rankmath.checker.statements import CLAIM_FUNCTIONS, DEFINED_NETWORK, NETWORK_DATA
from rankmath.formula.evaluate import value
from rankmath.formula.numbers import Signed
from rankmath.formula.reader import read_term
from rankmath.formula.run import Run
from rankmath.model.network import LayerNorm, Mask, Network

PLACES = ("X[0]", "X[1]", "X[2]")
CAUSAL = np.tril(np.ones((4, 4), dtype=int))
PATHS = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]])
EVERYWHERE = (
    *(f"diameter({X}, {p})" for X in PLACES for p in ("1", "2", "inf")),
    *(f"{name}({X})" for X in PLACES for name in ("mu", "about_mean", "cosine", "stable_rank", "longest")),
    *(f"residual({X}, {p})" for X in PLACES for p in ("one", "inf", "composite", "frobenius")),
    *(f"norm({M}, {p})" for M in ("X[1]", "W[0, 1]", "W_QK[1, 0]") for p in ("1", "2", "inf", "max", "composite")),
    *(f"operator_norm(W[1, 0], {p})" for p in ("1", "2", "inf")),
    *(f"form_norm(W_QK[0, 1], {p})" for p in ("1", "2", "inf")),
    *("least_singular(W[0, 1])", "definiteness(W_QK[1, 1])", "definiteness(W_QK[0, 1])", "lipschitz(1)"),
    *(f"{name}(P[{l}, {h}])" for name in ("epsilon", "logit_range", "entropy") for l in "01" for h in "01"),
    *("dobrushin(P[0, 1])", "dobrushin(P[1, 0])", "r", "in_degree", "K", "n + 2*d + 3*H + 5*L", "d_qk", "skip"),
    *("sum_l(norm(W[l, 0], 2))", "prod_h(norm(W[1, h], 1))", "max_l(min_h(norm(W[l, h], inf)))", "sum_i(i**2)"),
    "recursion(b, diameter(X[0], 2), b*norm(W[l, 0], 2)/2 + l)",
)
WHERE_ALL_ARE_SEEN = tuple(
    f"{name}(P[{l}, {h}], mean)" for name in ("delta", "q_max", "q_min") for l in "01" for h in "01"
)
OF_ONE_HEAD = (
    *("product_norm(2)", "contraction(0)", "height()", *(f"section({X})" for X in PLACES), "contraction(1)"),
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


def by_the_checker(instance: Instance) -> Callable[[str], tuple[float, float]]:
    text = json.loads(Certificate("x", "holds", instance.data(), claim="mu(X[0]) >= 0").text())
    sizes: dict[str, int] = {}
    data = checker._network(read(text["data"], NETWORK_DATA, "data", sizes), sizes)
    work = Evaluator(DEFINED_NETWORK, data, {}, 128, time.monotonic() + 300)

    def ends(term: str) -> tuple[float, float]:
        found = work.value(formula(term), {})
        return (float(found),) * 2 if isinstance(found, Fraction) else (float(found.lower()), float(found.upper()))

    return ends


def by_the_library(instance: Instance) -> Callable[[str], tuple[float, float]]:
    """In doubles and in balls."""
    arrays = (np.asarray(A, dtype=float) for A in (instance.W_QK, instance.W))
    key, bias, X = (np.asarray(A, dtype=float) for A in (instance.key_bias, instance.bias, instance.X))
    mask = None if instance.mask is None else Mask(np.asarray(instance.mask) > 0)
    norm = LayerNorm("sphere") if instance.layernorm == "sphere" else None
    net = Network.from_arrays(*arrays, 3.0, key, bias, float(instance.skip), None, norm, mask)
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
    enclosed, computed = by_the_checker(instance), by_the_library(instance)
    for term in terms:
        low, high = enclosed(term)
        open_ = term.startswith("residual") and not term.endswith(("one)", "frobenius)"))  # without hints
        assert open_ or high - low <= 1e-9 * max(1.0, abs(high)), term
        for found in computed(term):
            slack = 1e-9 * max(abs(found), 1e-3)
            assert low - slack <= found <= high + slack, (term, low, high, found)


def test_every_function_of_the_language_is_among_them() -> None:
    terms = " ".join(term for _, terms in CASES.values() for term in terms)
    plain = {"sqrt", "exp", "log", "tanh", "abs", "floor", "expc", "tanhc", "min", "max"}  # tests/formula has them
    truths = {"definite", "invertible", "self_loops", "quasi_strongly_connected", "strongly_connected"}
    truths |= {"orthogonal_values", "disjoint_blocks"}
    indexed = {f"{verb}_{index}" for verb in ("sum", "prod", "max", "min", "all") for index in "lhik"} | {"all_p"}
    elsewhere = {"gamma", "normalised_norm", "gram_height"}  # tests/checker/test_network.py
    others = CLAIM_FUNCTIONS - plain - truths - indexed - elsewhere
    assert [name for name in sorted(others) if f"{name}(" not in terms] == []
