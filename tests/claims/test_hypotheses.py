"""Hypotheses that a constructor refuses are hypotheses of the claim: without them it does not apply."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rankmath.claims import statement
from rankmath.verification.instance import ArrayInstance
from rankmath.verification.judge import judge
from rankmath.verification.verdict import Outcome


def _exact(rows: Any) -> Any:
    return np.vectorize(Fraction, otypes=[object])(np.asarray(rows))


@pytest.mark.parametrize(
    ("key", "arrays"),
    [
        ("folk:spectrum-real", {"A": _exact([[1, 2], [3, 4]])}),
        ("folk:spectrum-real", {"A": _exact([[0, 1], [1, 0]])}),
        ("own:spectrum-symmetric", {"K": _exact([[1, -2], [-2, 1]])}),
        ("own:spectrum-symmetric", {"K": _exact([[1, 2], [3, 1]])}),
        ("he2023:u-spa", {"a": Fraction(1, 2), "b": Fraction(1, 3), "size": Fraction(3)}),
        ("shi2022:layernorm", {"Y": np.asarray([[0.0, 0.0], [1.0, 2.0]])}),
    ],
)
def test_a_claim_does_not_apply_where_a_hypothesis_fails(key: str, arrays: dict[str, Any]) -> None:
    assert judge(statement(key), ArrayInstance(arrays), "balls").outcome == Outcome.NOT_APPLICABLE
