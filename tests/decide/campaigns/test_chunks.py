"""What a chunk finds: a function of seed, key and index, and true."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankmath.arithmetic.float64 import Float64
from rankmath.claims import statement, statements_in
from rankmath.decide.battery import judge
from rankmath.decide.campaigns.chunks import HISTOGRAM_EDGES, Chunk, Recipe, _to_certify, run_chunk
from rankmath.decide.campaigns.exact_json import decode
from rankmath.decide.campaigns.plan import Plan
from rankmath.decide.campaigns.work import attempt
from rankmath.decide.tally import Tally, looked_at, looked_at_all
from rankmath.model.network import Network
from rankmath.verification.draws import SMALL, moderate_tokens, networks
from rankmath.verification.instance import NetworkInstance, alike
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "my_statement.py"
DIAMETER = Recipe("own:diameter", None, chunk=300, batch=50, certify=0.05, search=0, keep=5)


def test_a_chunk_depends_on_nothing_that_ran_before_it() -> None:
    first, second = Chunk(DIAMETER, 0, 0, 300), Chunk(DIAMETER, 0, 1, 300)
    alone = run_chunk(second)
    run_chunk(first)
    assert run_chunk(second) == alone
    assert run_chunk(replace(second, seed=1)) != alone
    assert run_chunk(first) != alone


def test_batches_that_are_alike_are_looked_at_as_one() -> None:
    rng, entry = np.random.default_rng(0), statement("own:diameter")
    shapes = [SMALL[k] for k in (4, 3, 4, 3, 4)]
    batches = [networks(moderate_tokens, shapes=(shape,))(rng, 90 + k) for k, shape in enumerate(shapes)]
    assert alike(batches[0], batches[2])
    assert not alike(batches[0], batches[1])
    assert not alike(batches[0], networks(moderate_tokens, shapes=SMALL[4:5], skip=0.5)(rng, 90))
    assert not alike(batches[0], networks(moderate_tokens, shapes=SMALL[4:5], biases=False)(rng, 90))
    for batch, found in zip(batches, looked_at_all(entry, batches), strict=True):
        assert found is not None
        assert len(found) == len(batch)
        alone = [judge(entry, batch.select(i), "float64") for i in range(len(batch))]
        assert [v.outcome for v in found] == [v.outcome for v in alone]
        for side in ("log_lhs", "log_rhs"):
            expected = np.asarray([getattr(v, side) for v in alone])
            assert np.allclose(getattr(found, side), expected, rtol=1e-11, atol=1e-11)
        for i in (0, 40, 80):
            ball = judge(entry, batch.select(i), "balls")
            assert math.isclose(found[i].log_lhs, ball.log_lhs, rel_tol=1e-11, abs_tol=1e-11)
            assert math.isclose(found[i].log_rhs, ball.log_rhs, rel_tol=1e-12, abs_tol=1e-12)


@settings(max_examples=25)
@given(st.sets(st.tuples(st.integers(0, 2**63 - 1), st.sampled_from("ab1\n"), st.integers(0, 10**9)), max_size=8))
def test_entropies_differ_wherever_seed_key_or_index_do(places: set[tuple[int, str, int]]) -> None:
    chunks = [Chunk(replace(DIAMETER, key=key), seed, index, 1) for seed, key, index in places]
    assert len({chunk.entropy for chunk in chunks}) == len(places)


def test_counts_add_up_and_the_tightest_is_the_largest_of_all_ratios() -> None:
    chunk = Chunk(replace(DIAMETER, certify=1.0), 0, 3, 60)
    found = run_chunk(chunk)
    assert (found.instances, found.extra) == (60, 0)
    assert found.holds + found.violated + found.undecided + found.not_applicable == 60
    assert len(found.records) == 60, "all are certified, so all are kept"
    excesses = [r.log_lhs - r.log_rhs for r in found.records if r.outcome == "HOLDS"]
    assert found.log_tightest == max(excesses)
    tightest = next(r for r in found.records if "tightest" in r.why)
    assert (tightest.position, tightest.log_lhs - tightest.log_rhs) == (found.tightest_position, max(excesses))
    expected = Counter(sum(excess / math.log(10) >= edge for edge in HISTOGRAM_EDGES) for excess in excesses)
    assert {k: n for k, n in enumerate(found.histogram) if n} == dict(expected)


def test_the_tightest_of_a_batch_is_told_by_its_place_among_all() -> None:
    """Diameters 9, 1, 3, 2 below 4: the first is not concerned, and the third is the tightest."""
    net = Network.from_arrays([[[[1.0]]]], [[[[1.0]]]])
    batch = NetworkInstance(net, np.array([[[0.0], [x]] for x in (9.0, 1.0, 3.0, 2.0)]))
    entry = Statement("mine:claim", "diameter(X[0], 2) <= 4", "diameter(X[0], 2) <= 8")
    found, clear = looked_at(entry, batch, set(), Float64(np.zeros(1)))
    tally = Tally(entry)
    assert found is not None
    assert tally.count_clear(found, clear) == 2
    assert tally.log_tightest == pytest.approx(math.log(3 / 4), rel=1e-12)
    assert (tally.instances, tally.holds, tally.not_applicable) == (4, 3, 1)


def test_records_can_be_decided_again_from_their_exact_data() -> None:
    found = run_chunk(Chunk(DIAMETER, 0, 0, 300))
    entry = statement("own:diameter")
    assert sum("certified" in record.why for record in found.records) == 15
    for record in found.records:
        verdict = judge(entry, decode(record.data), "balls")
        if record.certified:
            assert (verdict.log_lhs, verdict.log_rhs, verdict.outcome) == (
                record.log_lhs,
                record.log_rhs,
                record.outcome,
            )
        else:
            assert verdict.log_lhs - verdict.log_rhs == pytest.approx(record.log_lhs - record.log_rhs, abs=1e-12)


def test_violations_are_counted_by_balls_and_kept_up_to_a_limit() -> None:
    halves = next(entry for entry in statements_in(EXAMPLE) if entry.key == "example:always-halves")
    plan = Plan.of(
        {"statement": [{"file": str(EXAMPLE), "key": halves.key}], "instances": 200, "certify": 0, "keep": 4}
    )
    (chunk,) = plan.chunks()
    found = run_chunk(chunk)
    assert found.violated == found.certified > 4
    kept = [record for record in found.records if "violated" in record.why]
    assert len(kept) == 4
    for record in kept:
        verdict = judge(halves, decode(record.data), "balls")
        assert verdict.certified
        assert verdict.outcome == Outcome.VIOLATED


def test_statements_that_exact_arithmetic_decides() -> None:
    recipe = Recipe("seed:closure", None, chunk=40, batch=10, certify=0.1, search=50, keep=5)
    found = run_chunk(Chunk(recipe, 0, 0, 40))
    assert (found.holds, found.certified, found.extra, found.log_tightest) == (40, 40, 0, None)
    assert sum(found.histogram) == 0
    assert len(found.records) == 4
    for record in found.records:
        assert record.arithmetic == "exact"
        assert judge(statement("seed:closure"), decode(record.data), "exact").outcome == Outcome.HOLDS


def test_search_never_loosens_the_tightest_ratio() -> None:
    chunk = Chunk(replace(DIAMETER, search=60), 0, 2, 100)
    plain, searched = run_chunk(replace(chunk, recipe=DIAMETER)), run_chunk(chunk)
    assert searched.extra == sum("extremal" in record.why for record in searched.records) >= 6
    assert searched.instances == plain.instances
    assert searched.log_tightest is not None
    assert plain.log_tightest is not None
    assert plain.log_tightest <= searched.log_tightest <= 0


@given(share=st.decimals(0, 1, places=4).map(float), chunk=st.integers(1, 60), total=st.integers(1, 200))
def test_exactly_the_share_asked_for_is_certified(share: float, chunk: int, total: int) -> None:
    recipe = replace(DIAMETER, chunk=chunk, certify=share)
    chosen = 0
    for index, start in enumerate(range(0, total, chunk)):
        size = min(chunk, total - start)
        positions = _to_certify(Chunk(recipe, 0, index, size))
        assert all(0 <= position < size for position in positions)
        chosen += len(positions)
    assert chosen == math.floor(total * Fraction(str(share)))


def test_sizes_and_scales_shape_what_is_drawn() -> None:
    recipe = replace(DIAMETER, chunk=48, batch=4, certify=1.0, sizes=((3, 2, 1, 1), (4, 1, 2, 2)))
    shapes = Counter()
    for record in run_chunk(Chunk(recipe, 0, 0, 48)).records:
        instance = decode(record.data)
        shapes[(*instance.X.shape, instance.net.heads, instance.net.layers)] += 1
    assert shapes == {(3, 2, 1, 1): 24, (4, 1, 2, 2): 24}
    scaled = replace(recipe, scales=(1.0, 2.0**-20))
    # Two sizes of six kinds of tokens are twelve batches: the first chunk has scale 1, the second has 2^-20.
    for index, factor in ((0, 1.0), (1, 2.0**-20)):
        before = run_chunk(Chunk(recipe, 0, index, 48)).records
        after = run_chunk(Chunk(scaled, 0, index, 48)).records
        for one, other in zip(before, after, strict=True):
            np.testing.assert_array_equal(factor * decode(one.data).X, decode(other.data).X)


def test_every_statement_can_be_part_of_a_campaign() -> None:
    plan = Plan.of({"statements": "all", "instances": 2, "chunk": 2, "batch": 1, "certify": 0.5})
    for chunk in plan.chunks():
        came = attempt(chunk)
        assert came.findings is not None, f"{chunk.key}: {came.error}"
        found = came.findings
        assert found.holds + found.violated + found.undecided + found.not_applicable == 2
        assert any("certified" in record.why for record in found.records)


def test_an_error_comes_back_as_words() -> None:
    came = attempt(Chunk(replace(DIAMETER, key="zzz:qqqq"), 0, 0, 10))
    assert came.findings is None
    assert came.error.startswith("key: 'zzz:qqqq' given; `rankmath list` shows all")
    assert "Traceback" in came.traceback
