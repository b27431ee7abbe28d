"""Which statements apply to a network: hypotheses named, both sides by depth equal to what `verify` says."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import rankmath as rm
from rankmath.cli import main
from rankmath.decide.bounds_for import layer_bounds
from rankmath.printing import digits, quotient

NET = rm.Network.random(tokens=5, dim=3, layers=3, seed=0)
X = NET.random_input(seed=1, scale=0.3)


def test_both_sides_at_every_depth_are_those_of_the_truncated_network() -> None:
    found = rm.bounds_for(NET, X, ["own:diameter"])["own:diameter"]
    for l in range(1, 4):
        verdict = rm.verify("own:diameter", rm.Network.from_layers(NET.sublayers[:l], NET.tokens), X)
        assert (found.log_lhs[l - 1], found.log_rhs[l - 1]) == (verdict.log_lhs, verdict.log_rhs)
    assert np.all(np.array(found.log_lhs) <= found.log_rhs)
    (row,) = rm.bounds_for(NET, X, ["own:diameter"]).rows()  # the last depth, both sides alike
    assert row[2:6] == ("3", digits(verdict.log_lhs), "<=", digits(verdict.log_rhs))
    assert row[6] == quotient(verdict.log_lhs - verdict.log_rhs)


def test_what_does_not_apply_names_its_hypothesis_and_shows_no_ratio() -> None:
    masked = rm.Network.random(tokens=5, dim=3, layers=2, seed=0, mask="causal", norm="sphere")
    found = rm.bounds_for(masked, masked.random_input(seed=1), ["own:diameter", "wu2024:1"])
    assert not found.applicable
    for row in found.rows():
        assert row[2:7] == ("", "", "", "", "")
        assert row[7] in ("no LayerNorm", "no mask", "no mask, or all tokens see the same ones (key padding)")
    assert all(math.isnan(x) for x in found["own:diameter"].log_rhs)
    assert "none applies" in found.plot().get_title()


def test_at_the_command_line_with_an_input_of_ones_own(tmp_path: Path) -> None:
    NET.save(tmp_path / "net.npz")
    np.save(tmp_path / "X.npy", X)
    words = ["bound", "own:diam*", "--network", str(tmp_path / "net.npz"), "--input", str(tmp_path / "X.npy")]
    done = CliRunner().invoke(main, [*words, "--plot", str(tmp_path / "b.png"), "--json"])
    assert done.exit_code == 0, done.output
    (row, *_) = json.loads(done.stdout)["statements"]
    assert row["log_rhs"] == list(rm.bounds_for(NET, X, ["own:diameter"])["own:diameter"].log_rhs)
    assert (tmp_path / "b.png").stat().st_size > 1000
    table = CliRunner().invoke(main, words)
    assert "statements apply" in table.output
    (tmp_path / "X.npy").write_text("no array")
    wrong = CliRunner().invoke(main, words)
    assert (wrong.exit_code, "--input" in wrong.stderr) == (2, True)


@pytest.mark.parametrize(("keys", "words"), [(["own:tv"], "none of them"), (["own:diametr"], "did you mean")])
def test_keys_that_say_nothing_of_networks_are_refused(keys: list[str], words: str) -> None:
    with pytest.raises(rm.InvalidArgument, match=words):
        rm.bounds_for(NET, X, keys)


@pytest.mark.parametrize(
    "key", ["own:diameter", "dong2021:2.3", "own:composite", "own:residual-inf", "own:diameter-cubic"]
)
def test_the_bound_of_a_layer_is_the_statement_on_that_layer(key: str) -> None:
    """Two heads: each step is what `verify` says of that layer alone, and the whole what it says of all of them."""
    net = rm.Network.random(tokens=5, dim=3, heads=2, layers=3, seed=4, biases=True)
    start = net.random_input(seed=1, scale=0.2)
    found = layer_bounds(net, start, [key])
    states = rm.hidden_states(net, start)
    for l in range(2):  # beyond, plain tokens no longer hold their residual
        verdict = rm.verify(key, rm.Network.from_layers([net.sublayers[l]], net.tokens), states[l])
        tightest = max(found, key=lambda bound, l=l: bound.measured[l + 1] - bound.step[l])
        assert tightest.step[l] == pytest.approx(verdict.log_rhs, abs=1e-9)
        assert tightest.measured[l + 1] == pytest.approx(verdict.log_lhs, abs=1e-6)
    together = rm.bounds_for(net, start, [key])[key].log_rhs
    for l in range(3):
        assert min(abs(bound.whole[l] - together[l]) for bound in found) < 1e-9
    for bound in found:
        assert all(after <= step for after, step in zip(bound.measured[1:], bound.step, strict=True))


def test_a_hypothesis_that_fails_at_a_layer_is_named_there() -> None:
    """Logits that are large at first and small after one layer: dong2021:2.3 speaks from the second layer on."""
    net = rm.Network.random(tokens=4, dim=2, layers=2, seed=0)
    (bound,) = layer_bounds(net, net.random_input(seed=1, scale=3.0), ["dong2021:2.3"])
    assert math.isnan(bound.step[0])
    assert not bound.vacuous[0]
    assert "x_star" in bound.why_not[0]


def test_what_rounding_made_of_a_side_breaks_no_theorem() -> None:
    """Tokens that have collapsed: total variations of attention are 0 in doubles; their sides are of balls."""
    net = rm.Network.random(tokens=32, dim=16, heads=4, layers=6, seed=0)
    found = rm.bounds_for(net, net.random_input(seed=0), ["own:transport", "own:consensus-spectrum", "own:diameter"])
    for one in found.applicable:
        assert all(not lhs > rhs + 1e-9 for lhs, rhs in zip(one.log_lhs, one.log_rhs, strict=True)), one.key
    assert found["own:transport"].log_rhs[5] == pytest.approx(-84.8667, abs=1e-3)
    steps = layer_bounds(net, net.random_input(seed=0), ["own:transport"])[0]
    assert all(not share > 1 for share in steps.share)
    assert np.isfinite(steps.share[2])
    assert np.isnan(steps.share[5])


def test_the_hypothesis_that_is_named_is_that_of_all_layers() -> None:
    options = {"layers": 3, "skip": True, "norm": "rms", "norm_at": "before", "seed": 2}
    net = rm.Network.random(tokens=4, dim=4, heads=1, **options)
    found = rm.bounds_for(net, 0.3 * net.random_input(seed=5), ["own:pre-norm-depth"])["own:pre-norm-depth"]
    assert "L >= 2" not in found.why_not
    assert "least_root" in found.why_not


def test_a_statement_of_two_inequalities_has_both_with_the_measured_side_on_the_left() -> None:
    """‖λ| ± Σ_h ‖W‖₂τ(P_h) times the diameter, from both sides, in numpy."""
    net = rm.Network.random(tokens=4, dim=3, heads=2, layers=1, skip=1.0, seed=0)
    X = net.random_input(seed=1)
    found = rm.bounds_for(net, X, ["own:transport-skip"])
    below, above = found.applied
    (P,) = rm.attention_matrices(net, X)
    largest = [max(np.abs(p - q).sum() / 2 for p in one for q in one) for one in P]
    W = net.W[0]
    moved = sum(np.linalg.norm(w, 2) * share for w, share in zip(W, largest, strict=True))
    assert moved < 1
    sizes = [max(np.linalg.norm(x - y) for x in Y for y in Y) for Y in (X, rm.forward(net, X))]
    for one, factor, says in ((below, 1 - moved, ">="), (above, 1 + moved, "<=")):
        assert one.says == says
        assert one.log_rhs == pytest.approx([math.log(factor * sizes[0])])
        assert one.log_lhs == pytest.approx([math.log(sizes[1])])
    assert [row[4] for row in found.rows()] == [">=", "<="]
    # Each of the two products has its letter.
    first, second = rm.statements()["own:transport-skip"].bounds()
    assert set(first.symbols) & set(second.symbols) == {"diameter"}


def test_a_bound_of_a_quantity_that_is_not_defined_says_what_is_needed_beside_the_others() -> None:
    """δ is not defined with rotary positions; that the statement is about none is the reason, also where its own bound
    would have a number."""
    net = rm.Network.random(tokens=4, dim=4, layers=2, seed=0, positions="rotary")
    X = net.random_input(seed=1)
    found = layer_bounds(net, X, ["own:composite", "own:diameter", "own:transport"])
    assert {bound.key for bound in found} == {"own:composite", "own:diameter", "own:transport"}
    for bound in found:
        if bound.key == "own:transport":
            assert bound.why_not == ("",) * 2
            assert np.all(np.array(bound.measured[1:]) <= np.array(bound.step) + 1e-9)
        else:
            assert bound.why_not == ("no positions",) * 2
            assert np.isnan(bound.step).all()
            assert np.isnan(bound.whole).all()


def test_a_reason_is_what_fails_at_any_number_of_layers() -> None:
    """Of one layer alone: that there are three is no reason where a mask is one at every depth."""
    net = rm.Network.random(tokens=4, dim=3, layers=3, seed=0, mask="causal")
    found = rm.bounds_for(net, net.random_input(seed=1), ["castin2024:3.3", "own:pre-norm-depth"])
    assert found["castin2024:3.3"].why_not == "no mask"
    assert [row[0] for row in found.rows()] == ["castin2024:3.3", "own:pre-norm-depth"]
