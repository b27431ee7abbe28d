"""The refuted forms of Dong et al.: each exhibit violates its own formula, and the true form beside it holds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import rankmath as rm
from rankmath.claims import statement
from rankmath.claims.dong2021_many_tokens import LoneQuery, MeanKinds, lone_query
from rankmath.claims.dong2021_two_heads import FourKeys, TwoHeads
from rankmath.decide.battery import verify
from rankmath.report.sources import committed_certificates
from rankmath.verification.verdict import Outcome

REFUTED = ["dong2021v1:2.2", "dong2021v1:2.2-mean", "dong2021v1:2.3", "unstated:large-logits", "dong2021:2.3-printed"]


@pytest.mark.parametrize("key", REFUTED)
def test_the_exhibit_is_accepted_by_the_checker(key: str) -> None:
    exhibit = statement(key).exhibited
    certificate = exhibit()
    assert (certificate.statement, certificate.kind) == (key, "violates")
    assert certificate.check().accepted
    assert certificate.id in {committed.id for committed in committed_certificates()[key]}


def test_a_negative_key_bias_is_refused() -> None:
    """There the idle tokens are the heaviest, γ_* is larger than the data say, and nothing is violated."""
    exhibit = statement("dong2021:2.3-printed").exhibited
    certificate = exhibit()
    data = {**certificate.data, "key_logit": -8, "columns": 10**9, "entry": Fraction(1, 31623)}
    assert not replace(certificate, data=data).check().accepted


def test_without_small_logits_the_formula_is_violated_and_with_them_it_does_not_apply() -> None:
    kinds = lone_query()
    found = verify("unstated:large-logits", kinds.network(), kinds.input())
    assert found.outcome == Outcome.VIOLATED
    assert found.ratio == pytest.approx(1.0057, abs=1e-4)
    for key in ("dong2021:2.2", "dong2021:2.3", "own:composite"):
        assert verify(key, kinds.network(), kinds.input()).outcome == Outcome.NOT_APPLICABLE
    small = LoneQuery(1898, 1)
    assert verify("dong2021:2.2", small.network(), small.input()).outcome == Outcome.HOLDS


def test_closed_forms_are_below_the_ratios_of_the_formulas() -> None:
    cases = (
        ("dong2021v1:2.2-mean", MeanKinds(4, 2, 3, 6, 4, 5)),
        ("dong2021v1:2.3", TwoHeads(3, 1)),
        ("unstated:large-logits", LoneQuery(20, 3)),
        ("dong2021:2.3-printed", FourKeys(4, Fraction(1, 2), 5, Fraction(1, 8), 20)),
    )
    for key, kinds in cases:
        verdict = verify(key, kinds.network(), kinds.input())
        assert kinds.ratio() <= verdict.ratio * (1 + 1e-9), key


def test_two_heads_hold_with_B_and_fail_with_beta_H() -> None:
    """Heads of width 100 suffice to see B grow beyond βH; the repaired bound holds there."""
    heads = TwoHeads(10, 1)
    net, X = heads.network(), heads.input()
    scaled = X / 2
    for key in ("dong2021:2.3", "own:composite"):
        assert verify(key, net, scaled).outcome == Outcome.HOLDS
    printed, repaired = (verify(key, net, scaled).ratio for key in ("dong2021:2.3-printed", "dong2021:2.3"))
    assert printed == pytest.approx(repaired * (10**0.5 + 10**-0.5) / 2, rel=1e-6)


def test_the_mean_is_no_minimiser() -> None:
    X = np.eye(5, 2)
    net = rm.Network.from_arrays(np.eye(2)[None, None], np.eye(2)[None, None])
    about_mean, least = (verify(key, net, X) for key in ("dong2021v1:2.2-mean", "dong2021v1:2.2"))
    assert about_mean.log_rhs > least.log_rhs


def test_the_mean_is_one_of_many_centers_that_are_least_in_the_1_norm() -> None:
    """Tokens ±e_0: about e_0 the 1-norm is the same, the ∞-norm and with it the composite norm are larger."""
    X = np.array([[1.0, 0.0], [-1.0, 0.0]])
    sizes = [(np.linalg.norm(R, 1), np.linalg.norm(R, np.inf)) for R in (X, X - X[0])]
    assert sizes == [(2.0, 1.0), (2.0, 2.0)]
    assert "the mean as the center, which is a least one" in statement("dong2021v1:2.3").notes
