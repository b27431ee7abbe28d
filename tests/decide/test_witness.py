"""Every statement has an instance inside its hypotheses, and holds at one token and in one dimension."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.claims import statements
from rankmath.formula.terms import Relation
from rankmath.linalg.masks import Mask
from rankmath.model.network import Network
from rankmath.report.sources import committed_certificates
from rankmath.validation import InvalidArgument
from rankmath.verification.data import Declared
from rankmath.verification.instance import ArrayInstance, Instance, NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome, Verdict

ENTRIES = list(statements().values())

#: Statements whose instances are too large to be drawn: a committed certificate is the witness.
LARGE = {"dong2021:2.3-printed", "dong2021v1:2.2", "dong2021v1:2.2-mean", "dong2021v1:2.3", "unstated:large-logits"}


def witness(entry: Statement) -> Verdict | None:
    """What balls say of the first drawn instance at which a proved statement holds strictly, or a refuted one fails."""
    wanted = Outcome.VIOLATED if entry.status == "refuted" else Outcome.HOLDS
    # Predicates have no two sides, and equations equal ones.
    equation = isinstance(entry.claimed, Relation) and entry.claimed.operator == "=="
    rng = np.random.default_rng(0)
    drawn = (batch.select(i) for draw in entry.draws for batch in (draw(rng, 6),) for i in range(len(batch)))
    extremal = entry.extremal(rng) if entry.extremal is not None else ()
    for instance in (*extremal, *drawn) if entry.status == "refuted" else (*drawn, *extremal):
        verdict = judge(entry, instance, "balls", 512)
        if verdict.outcome == wanted and verdict.certified and (verdict.log_lhs != verdict.log_rhs or equation):
            return verdict
    return None


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_no_statement_is_empty(entry: Statement) -> None:
    """Strictly inside: balls or exact numbers tell the two sides apart."""
    if entry.key in LARGE:
        certificates = [one for one in committed_certificates()[entry.key] if one.kind == "violates"]
        assert certificates
        assert certificates[0].check().accepted
        return
    found = witness(entry)
    assert found is not None
    assert found.certified
    if entry.status == "proved" and not math.isnan(found.log_lhs) and "==" not in str(entry.claimed):
        assert found.log_lhs < found.log_rhs


def test_an_empty_statement_has_no_witness() -> None:
    entry = statements()["own:tv"]
    assert witness(replace(entry, key="mine:empty", given=("osc(g) < 0",))) is None
    assert witness(replace(entry, key="mine:equal", formula="tv(c, g) <= tv(c, g)")) is None


#: Arrays that are lists of parameters, sizes or coordinates: their length is no number of tokens.
PARAMETERS = {"parameters", "sizes", "tokens", "x", "mu"}


def cut(instance: Instance, tokens: int | None, dim: int | None) -> Instance | None:
    """The instance with its first tokens, or its first coordinates, alone; None where it has neither."""
    if isinstance(instance, NetworkInstance):
        net, d = instance.net, dim or instance.net.dim
        n = tokens or len(instance.X)
        if not net.is_one_line:  # its tables of positions are for its own tokens
            return None
        mask = net.mask_for(len(instance.X))
        part: dict[str, Any] = {
            "key_bias": None if net.key_bias is None else net.key_bias[..., :d],
            "bias": None if net.bias is None else net.bias[..., :d],
            "mask": None if mask is None else Mask(mask.allowed[:n, :n]),
            "skip": net.skip,
            "norm": net.norm,
        }
        if any(net.mlp):
            return None
        smaller = Network.from_arrays(net.W_QK[..., :d, :d], net.W[..., :d, :d], net.d_qk, **part)
        return replace(instance, net=smaller, X=instance.X[:n, :d])
    assert isinstance(instance, ArrayInstance)
    arrays = {}
    first = next((a for a in instance.arrays.values() if np.ndim(a) >= 1), None)
    named = next(iter(instance.arrays))
    if first is None or named in PARAMETERS or (dim and np.ndim(first) < 2):
        return None
    n, d = np.shape(first)[-2] if np.ndim(first) > 1 else len(first), np.shape(first)[-1]
    for name, array in instance.arrays.items():
        for axis, size in enumerate(np.shape(array)):
            if (tokens and size == n) or (dim and size == d and n != d):
                array = np.take(array, range(1), axis=axis)
        arrays[name] = array
    return replace(instance, arrays=arrays)


@pytest.mark.parametrize(("tokens", "dim"), [(1, None), (None, 1), (1, 1)])
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_at_one_token_and_in_one_dimension_nothing_proved_fails(
    entry: Statement, tokens: int | None, dim: int | None
) -> None:
    """Where the hypotheses allow it the claim holds, or is an equality that balls cannot tell from one."""
    if entry.status != "proved":
        return
    rng = np.random.default_rng(2)
    for draw in entry.draws[:2]:
        small = cut(draw(rng, 2).select(0), tokens, dim)
        if small is None:
            continue
        try:
            if isinstance(small, ArrayInstance) and isinstance(entry.instance, Declared):
                small = entry.instance(**small.arrays)  # refused where fewer dimensions are not spoken of
            outcome = judge(entry, small, "balls", 256).outcome
        except InvalidArgument:
            continue
        assert outcome != Outcome.VIOLATED


def test_one_token_is_left_out_where_it_must_be() -> None:
    """One token has no second length, no second eigenvalue, and attends to itself with weight 1 whatever W is."""
    assert rm.verify("own:low-rank-every-input", [[0, 0]]).outcome == Outcome.NOT_APPLICABLE
    for key, arrays in (
        ("own:layernorm", {"Y": np.ones((1, 2))}),
        ("own:spectrum", {"L": np.ones((1, 1))}),
        ("wu2025:4.4", {"E": np.asarray([[Fraction(1)]]), "a": Fraction(1, 2)}),
    ):
        assert r"$n \ge 2$" in statements()[key].premises
        assert judge(statements()[key], ArrayInstance(arrays), "balls").outcome == Outcome.NOT_APPLICABLE
