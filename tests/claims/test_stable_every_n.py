"""The statements for every number of tokens: they hold on their draws, and errors planted in them are seen."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import rankmath as rm
from rankmath.claims import stable_every_n as here
from rankmath.decide.battery import verify_statement
from rankmath.equilibria.certify import certify_design
from rankmath.equilibria.contraction import prove_contraction
from rankmath.equilibria.designs import path_design
from rankmath.verification.judge import judge
from rankmath.verification.verdict import Outcome

KEYS = (
    "own:stable-causal-every-n",
    "own:stable-complete-every-n",
    "own:stable-every-rank",
    "own:stable-rank-two-every-n",
    "wu2024:3-measure",
    "own:no-stable-orthogonal",
)


@pytest.mark.parametrize("key", KEYS)
def test_holds_on_its_draws(key):
    battery = verify_statement(key, instances=5, certify=1, search=0)
    assert battery.outcome == "HOLDS"
    assert (battery.instances, battery.undecided, len(battery.violations)) == (5, 0, 0)


@pytest.mark.parametrize("key", KEYS[:-1])
def test_its_certificate_is_accepted_and_says_what_it_shows(key):
    certificate = rm.statements()[key].exhibited()
    result = certificate.check()
    assert result.accepted
    assert certificate.statement == key
    # A ball a thousand times larger, a better rate, another rank: none of them is what was shown.
    members = certificate.data.get("equilibria", (certificate.data,))
    for change in ({"ball": 1}, {"rate": Fraction(1, 4)}, {"rank": 1 if members[0]["rank"] != 1 else 2}):
        first = {**members[0], **change}
        data = {**certificate.data, **change}
        if "equilibria" in certificate.data:
            data = {**certificate.data, "equilibria": [first, *members[1:]]}
        forged = replace(certificate, data=data)
        assert not forged.check().accepted


def test_a_spectrum_off_by_a_millionth_is_refused():
    certificate = certify_design(path_design(4)).certificate("own:stable-complete-every-n")
    values = [list(row) for row in certificate.data["spectrum"]["values"]]
    values[0][1] = Fraction(1, 2) + Fraction(1, 10**6)
    spectrum = {**certificate.data["spectrum"], "values": values}
    result = replace(certificate, data={**certificate.data, "spectrum": spectrum}).check()
    assert not result.accepted
    assert "resolves(" in result.reason


def test_outside_of_the_hypotheses_nothing_is_said():
    rising = here.own_stable_causal_every_n.instance([1, 2])
    assert judge(here.own_stable_causal_every_n, rising, "exact").outcome == Outcome.NOT_APPLICABLE
    turned = here.own_no_stable_orthogonal.instance([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    assert judge(here.own_no_stable_orthogonal, turned, "exact").outcome == Outcome.NOT_APPLICABLE
    equal = here.own_no_stable_orthogonal.instance([[1, 0], [1, 0]], [[1, 0], [0, 1]])
    assert judge(here.own_no_stable_orthogonal, equal, "exact").outcome == Outcome.NOT_APPLICABLE
    alone = here.own_stable_every_rank.instance(np.eye(3), Fraction(1, 2))
    assert judge(here.own_stable_every_rank, alone, "exact").outcome == Outcome.NOT_APPLICABLE
    with pytest.raises(rm.InvalidArgument, match=r"^ratio: "):
        here.own_stable_every_rank.instance(np.ones((3, 3)), Fraction(3, 2))


def test_growing_scales_do_not_attract():
    """The same weights with μ rising have an eigenvalue above one: the hypothesis is what makes it true."""
    from rankmath.equilibria.rational import Polynomial, resting_polynomial

    mu = [Fraction(1), Fraction(2)]
    found = resting_polynomial([[1, 0], [0, 1]], [[mu[0], 0], [-mu[0], mu[1]]], [[0, 1], [0, 0]], [[1, 0], [1, 1]])
    assert found == Polynomial.with_roots([Fraction(2), 0, 0, 0])


@pytest.mark.parametrize(("n", "d"), [(3, 2), (5, 2), (5, 3), (6, 4), (4, 4), (3, 5)])
def test_theorem_3_of_wu_et_al_whole(n: int, d: int) -> None:
    """One weight pair under the causal mask: an attracting equilibrium of every rank up to min(n, d), in any
    dimension."""
    designs = [path_design(n, rank=k, mask="causal", dim=min(n, d)).padded(d) for k in range(1, min(n, d) + 1)]
    for k, design in enumerate(designs, start=1):
        assert np.array_equal(design.W_V, designs[0].W_V)
        assert np.array_equal(design.W_QK, designs[0].W_QK)
        proof = prove_contraction(design)
        assert proof.rank == k
        assert proof.rate < 1
    assert rm.verify("wu2024:3-whole", [n, d]).outcome == Outcome.HOLDS


def test_the_weights_do_not_know_how_many_tokens_there_are() -> None:
    """Entries of S_i have one logit and all others are smaller by L, by the definition, with more tokens than
    dimensions."""
    n, d, gap = 7, 3, 40
    for k in range(1, d + 1):
        design = path_design(n, gap, rank=k, mask="causal", dim=d)
        logits = design.X @ design.W_QK @ design.X.T
        for i in range(n):
            near = [j for j in range(i + 1) if (j in (i - 1, i) if i < k else j >= k)]
            assert len({logits[i, j] for j in near}) == 1
            assert all(logits[i, j] <= logits[i, near[0]] - gap for j in range(i + 1) if j not in near)
