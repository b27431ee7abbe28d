"""The smallest equilibrium: every part of what is shown of it is needed by itself.

Two equal tokens e_1 that see each other, W_QK = 0, W_V = diag(1, 1/2). A layer sends x to the direction of the mean
of x_1 W_V and x_2 W_V, so that its derivative at rest takes the second entries to their mean over 2, all else to 0:
eigenvalues 1/2, 0, 0, 0, rank 1, a contraction of the Euclidean and of the maximum norm by 1/2.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rankmath.certificates.certificate import Certificate
from rankmath.claims.stable_causal import exhibit_stable_causal
from rankmath.equilibria.map import jacobian

LAYER = {"W_V": [[1, 0], [0, "1/2"]], "W_QK": [[0, 0], [0, 0]], "d_qk": 1, "mask": [[1, 1], [1, 1]], "norm": "sphere"}
SLOPE = jacobian(np.array([[1.0, 0], [1, 0]]), np.diag([1, 0.5]), np.zeros((2, 2)), np.ones((2, 2)), "sphere")
OFF = Fraction(1, 1000)
EYE = np.eye(4, dtype=int)


def test_the_slope_is_what_is_said() -> None:
    half = np.diag([0, 0.25])
    assert pytest.approx(np.block([[half, half], [half, half]])) == SLOPE


def verdict(statement: str, data: dict[str, Any], hints: dict[str, Any]) -> str:
    return Certificate(statement, "exists", data, hints).check().verdict


# -- |R^-1 .|_2, and Krawczyk's test ---------------------------------------------------------------------------

#: The stored tokens are off by 1/1000: the drift is 1/sqrt(2) of that, and the radius must be more.
DRAWN = {"R": EYE, "radius": Fraction(1, 100), "rate": Fraction(3, 5)}
RESTING = {"tokens": [[1, OFF], [1, OFF]], "radius": Fraction(1, 500), "rank": 1}
ONE = {"clusters": [0, 0], "support": [[1, 1]], "preconditioner": np.diag([-1, -2]), "pivots": [[0, 0]], "S": EYE}
BOTH = {"clusters": [0, 1], "support": [[1, 1], [1, 1]], "preconditioner": np.linalg.inv(SLOPE - np.eye(4))}


@pytest.mark.parametrize(
    ("drawn", "resting", "hints", "accepted"),
    [
        ({}, {}, {}, True),
        ({}, {}, BOTH, False),  # two tokens that differ have rank 2, for all that is shown
        ({}, {"rank": 2}, BOTH | {"pivots": [[0, 0], [1, 1]]}, False),  # and here there is no regular minor
        ({}, {"radius": OFF * Fraction(9, 10)}, {}, False),  # no zero so near
        ({}, {"radius": Fraction(1, 300)}, {}, False),  # 2 |S| radius > rho: the zero may be no start
        ({"rate": Fraction(9, 20)}, {}, {}, False),  # below the slope
        ({"rate": Fraction(11, 20)}, {}, {}, True),
        ({"rate": Fraction(19, 20)}, {}, {}, False),  # the drift is more than (1 - rate) rho
        ({"rate": Fraction(1, 20), "radius": Fraction(3, 10)}, {}, {}, False),  # wide: (-target)^2 is above all slopes
        ({}, {}, {"S": -EYE}, False),
        ({}, {}, {"S": 0 * EYE}, False),
        ({"R": EYE * 2, "radius": Fraction(1, 200)}, {}, {"S": EYE / 2}, True),
        ({"R": EYE * 2, "radius": Fraction(1, 200)}, {}, {}, False),  # S is no inverse of R
    ],
)
def test_each_part_of_an_attracting_equilibrium(drawn: Any, resting: Any, hints: Any, accepted: bool) -> None:
    data = {**LAYER, **RESTING, **resting, "attracting": DRAWN | drawn}
    found = verdict("own:layernorm-equilibrium", data, ONE | hints)
    assert (found == "accepted") is accepted


@pytest.mark.parametrize(("growth", "accepted"), [("19/10", True), ("21/10", False)])
def test_an_unstable_one_grows_by_no_more_than_its_eigenvalue(growth: str, accepted: bool) -> None:
    """W_V = diag(1, 2): the second entries go to twice their mean, (0, 1, 0, 1) to its double, all else to 0."""
    form = -EYE
    form[1::2, 1::2] += 1
    data = {**LAYER, **RESTING, "W_V": [[1, 0], [0, 2]], "tokens": [[1, 0], [1, 0]], "radius": Fraction(1, 10**4)}
    hints = {**ONE, "preconditioner": np.diag([-1, 1]), "form": form, "direction": [0, 1, 0, 1]}
    found = verdict("own:layernorm-equilibrium", {**data, "unstable": {"growth": growth}}, hints)
    assert (found == "accepted") is accepted


def test_a_block_has_one_equilibrium_of_full_rank() -> None:
    """A block of one head, no skip and an MLP that is 0 is the layer: the equal tokens have no regular minor, and
    O8, two causal tokens of rank 2, is accepted where the radius reaches it."""
    empty = {"skip": 0, "up": [[0], [0]], "down": [[0, 0]], "norm": "sphere"}
    equal = {**empty, **RESTING, **{name: [LAYER[name]] for name in ("W_V", "W_QK")}, "mask": LAYER["mask"]}
    hints = {"preconditioner": BOTH["preconditioner"], "pivots": [[0, 0], [1, 1]], "S": EYE}
    equal["tokens"] = [[1, 0], [1, Fraction(1, 2**60)]]  # up to rounding
    assert verdict("own:stable-block", {**equal, "attracting": DRAWN, "rank": 2}, hints) == "undecided"
    one = exhibit_stable_causal()
    tokens, W_V = [[0, 1], [Fraction(-3, 5), Fraction(-4, 5)]], [[0.5, 1], [0, 1]]
    slope = jacobian(np.array(tokens, float), np.array(W_V), np.zeros((2, 2)), np.tril(np.ones((2, 2))), "sphere")
    hints |= {"preconditioner": np.linalg.inv(slope - np.eye(4)), "S": one.hints["S"]}
    O8 = {**empty, "W_V": [W_V], "W_QK": [[[0, 0], [0, 0]]], "mask": [[1, 0], [1, 1]], "rank": 2}
    O8 |= {"attracting": one.data["attracting"], "radius": Fraction(1, 2**30)}
    for slip, accepted in ((Fraction(1, 2**32), True), (Fraction(1, 2**28), False)):
        moved = [tokens[0], [tokens[1][0] + slip, tokens[1][1]]]
        assert (verdict("own:stable-block", {**O8, "tokens": moved}, hints) == "accepted") is accepted


# -- a weighted maximum norm -----------------------------------------------------------------------------------

BOX = {"tokens": [[1, 0], [1, 0]], "rank": 1, "ball": "1/10000", "rate": "51/100"}
GUIDE = {"weights": np.ones((2, 2)), "size": "1/10000", "bits": 64, "support": [[1, 1], [1, 1]], "pivots": [[0, 0]]}
THIN = {"support": [[1, 0], [1, 0]]}


@pytest.mark.parametrize(
    ("data", "hints", "accepted"),
    [
        ({}, THIN, True),
        ({}, {}, False),  # the support allows rank 2
        ({"rank": 2}, {"pivots": [[0, 0], [1, 1]]}, False),  # which the tokens do not have
        ({"rate": "49/100"}, THIN, False),
        ({"tokens": [[1, 0], [-1, 0]]}, THIN, False),  # they do not rest
    ],
)
def test_each_part_of_a_contraction(data: Any, hints: Any, accepted: bool) -> None:
    found = verdict("own:stable-equilibrium", {**LAYER, **BOX, **data}, GUIDE | hints)
    assert (found == "accepted") is accepted


@pytest.mark.parametrize(
    ("values", "within", "accepted"),
    [
        ([[0, "1/4"], [0, "1/4"]], "26/100", True),  # |1/4 - v| + 1/4 in the rows of the second entries
        ([[0, "1/4"], [0, "1/4"]], "24/100", False),
        ([[0, "1/4"], [0, "1/2"]], "26/100", False),
        ([["1/2", "1/4"], [0, "1/4"]], "26/100", False),
    ],
)
def test_discs_hold_the_eigenvalues(values: Any, within: str, accepted: bool) -> None:
    data = {**LAYER, **BOX, "spectrum": {"values": values, "within": within}}
    more = {"core": "1/10000", "spectral_weights": np.ones((2, 2)), "spectral_bits": 64}
    assert (verdict("own:stable-equilibrium", data, GUIDE | THIN | more) == "accepted") is accepted
