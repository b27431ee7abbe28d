"""What is handed over of a claim says all of its instance, in the words of its hypotheses."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.cli.conjecture import plain
from rankmath.decide import conjecture
from rankmath.decide.adversary import search
from rankmath.decide.battery import Battery
from rankmath.decide.conjecture import examine, in_python, in_words
from rankmath.decide.existence import certificate_at
from rankmath.decide.shrink import _smaller
from rankmath.decide.space import rooms
from rankmath.model.sublayers import Attention, LayerNorm, Sublayer
from rankmath.report.counterexamples import uncertified
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.verdict import Outcome, Verdict


def _instance(given: str) -> NetworkInstance:
    """A network that has what is given, with weights that are not zero."""
    statement = rm.Statement("mine:any", "mu(X[1]) <= 1", given=given.split(", "))
    room = next(room for room in rooms(statement) if (room.n, room.d) == (3, 2))
    rng = np.random.default_rng(0)
    return room.instance({name: rng.integers(1, 4, shape) / 2.0 for name, shape in room.parts().items()})


@pytest.mark.parametrize(
    "given",
    [
        "positions == rotary, heads == 1, mask == causal",
        "positions == alibi, heads == 2",
        "qk_norm == any, heads == 1",
        "softcap == tanh, heads == 1",
        "heads == 2, kv_heads == 1",
        "heads == 1, mlp == relu",
        "layernorm == rms before, skip == 1, heads == 1",
    ],
)
def test_the_python_of_an_instance_builds_the_same_network(given: str) -> None:
    instance = _instance(given)
    made: dict[str, object] = {}
    exec(in_python(instance), made)
    net = made["net"]
    assert isinstance(net, rm.Network)
    assert net.attentions[0].kv_heads == (1 if "kv_heads == 1" in given else None)
    assert np.array_equal(np.asarray(made["X"]), instance.X)
    assert ("cap=" in in_python(instance)) == ("softcap" in given)
    assert "-0.0" not in in_python(instance)
    built, known = (np.asarray(rm.trace(of, instance.X).log_diameter) for of in (net, instance.net))
    np.testing.assert_allclose(built, known, rtol=1e-13)


NORMS = {
    "none": None,
    "sphere": LayerNorm("sphere"),
    "column": LayerNorm("column"),
    "column, eps": LayerNorm("column", eps=0.5),
    "standard, eps": LayerNorm("standard", eps=2.0**-17),
    "standard, gain": LayerNorm("standard", gain=np.array([16.0, 16.0])),
    "standard, offset": LayerNorm("standard", offset=np.array([1.0, 0.0])),
    "rms": LayerNorm("rms"),
    "rms, all": LayerNorm("rms", 0.25, np.array([4.0, 2.0]), np.array([0.0, -3.0])),
}


@pytest.mark.parametrize("second", NORMS)
@pytest.mark.parametrize("first", NORMS)
def test_the_python_of_an_instance_keeps_the_numbers_of_each_layernorm(first: str, second: str) -> None:
    """Also where LayerNorm is all that a network has beside attention, and where it differs from layer to layer."""
    layers = [
        [Sublayer(Attention(np.eye(2)[None], np.eye(2)[None], 1.0), after=NORMS[name])] for name in (first, second)
    ]
    made: dict[str, Any] = {}
    exec(in_python(NetworkInstance(rm.Network.from_layers(layers), np.array([[1.0, 2.0], [3.0, -1.0]]))), made)
    assert [layer[-1].after for layer in made["net"].sublayers] == [NORMS[first], NORMS[second]]


@pytest.mark.parametrize(
    ("claim", "given"),
    [
        ("norm(X[1], frobenius) <= sqrt(n*d)", "layernorm == standard"),
        ("norm(X[1], max) <= 2", "layernorm == standard, n == 2, heads == 1"),
        ("norm(X[1], max) <= 2", "layernorm == rms, n == 2, heads == 1"),
    ],
)
def test_the_python_of_a_scaled_layernorm_has_the_verdict_of_the_certificate(
    claim: str, given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    statement = rm.Statement("mine:scaled", claim, given)
    kind = "rms" if "rms" in given else "standard"
    norm = LayerNorm(kind, 2.0**-17, np.array([16.0, 16.0]), np.array([1.0, 0.0]))  # type: ignore[arg-type]
    net = rm.Network.from_arrays(np.ones((1, 1, 2, 2)), np.array([[[[1.0, 0.0], [0.0, 0.0]]]]), 1.0, norm=norm)
    instance = NetworkInstance(net, np.array([[1.0, 0.0], [2.0, 1.0]]))
    assert certificate_at(statement, instance).check().accepted
    made: dict[str, Any] = {}
    exec(in_python(instance, statement), made)
    assert made["verdict"].outcome == Outcome.VIOLATED


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        ("rank(X[0]) == 1", "the claim says that 2 equals 1"),
        ("mu(X[0]) < 0", "the claim says that 1 is less than 0"),
        ("mu(X[0]) >= 2", "the claim says that 2 is no more than 1"),
        ("cosine(X[0]) >= 1/4", "the claim says that 0.25 is no more than -0.707106781187"),
        ("cosine(X[0]) >= -1/2", "the claim says that -0.5 is no more than -0.707106781187"),
        ("mu(X[0]) >= 0 and -mu(X[0])**2 >= -1/2", "the claim says that -0.5 is no more than -1"),
        ("strongly_connected()", ""),
    ],
)
def test_the_python_of_an_instance_says_what_the_claim_says(
    claim: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0]] if "cos" not in claim else [[1.0, 0.0], [-1.0, 1.0]])
    net = rm.Network.from_arrays(np.ones((1, 1, 2, 2)), np.ones((1, 1, 2, 2)), 1.0)
    exec(in_python(NetworkInstance(net, X), rm.Statement("mine:one", claim)), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[1:] == ([says] if says else [])


def test_rotations_and_terms_of_the_logits_are_shown() -> None:
    turned, sloped = _instance("positions == rotary, heads == 1"), _instance("positions == alibi, heads == 1")
    assert {"cos[0] = [1; 0; -1]", "sin[0] = [0; 1; 0]"} <= set(in_words(turned))
    assert r"\text{cos of the rotations}=\begin{pmatrix}1\\0\\-1\end{pmatrix}" in uncertified(turned, None)
    assert "position of head 0[0] = [0 -1 -2; -1 0 -1; -2 -1 0]" in in_words(sloped)


def test_caps_and_norms_of_queries_are_shown() -> None:
    """Without them the numbers that are shown are those of another network."""
    assert "layer 1: logits are capped, by tanh, with c = 1" in in_words(_instance("softcap == tanh, layers == 2"))
    normed = dataclasses.replace(
        _instance("heads == 1").net.attentions[0], qk_norm=(np.array([1.0, 2.0]), np.array([0.5, 1.0]), 0.5)
    )
    net = rm.Network.from_layers([[Sublayer(normed)]])
    told = "layer 0: RMSNorm of queries X W_QK and keys X: gains [1 2] of queries, [1/2 1] of keys, eps = 1/2"
    assert told in in_words(NetworkInstance(net, np.eye(2)))


def test_a_claim_about_capped_logits_is_searched_with_more_than_one_cap() -> None:
    """Capped with c they range over 2c: with c = 1 the claim holds."""
    answer = examine(rm.Statement("mine:range", "logit_range(P[0,0]) <= 2", "softcap == tanh"), seconds=40)
    assert answer.refuted
    [instance] = [found for found, _ in answer.battery.violations[:1]]
    assert isinstance(instance, NetworkInstance)
    cap = instance.net.attentions[0].softcap
    assert cap is not None
    assert cap > 1
    assert answer.battery.certificate().check().accepted


def test_an_mlp_is_shown_with_its_weights() -> None:
    lines = in_words(_instance("mlp == relu, heads == 1"))
    assert lines[-2:] == ["MLP of layer 0: y -> relu(y W_in) W_out", "W_in = [1 0; 0 1], W_out = [1 0; 0 1]"]


def test_an_rms_norm_has_one_name() -> None:
    assert "RMSNorm at the end of the layer: eps = 2^-17" in in_words(_instance("layernorm == rms, heads == 1"))


def test_a_proof_that_there_is_none_does_not_end_with_the_claim() -> None:
    """What the lines show is the contrary of what was asked for."""
    asked = rm.Statement(
        "mine:far", "exists diameter(X[1], 2) > 5*diameter(X[0], 2)", "heads == 1, norm(W[0,0], 2) <= 1"
    )
    lines = examine(asked, seconds=30).lines()
    [last] = [line for line in lines if line.endswith(": so there is none.")]
    assert "diameter(X[1], 2) <= 5*diameter(X[0], 2)" in last
    assert not any("the claim" in line for line in lines)


@pytest.mark.parametrize(
    ("claim", "given", "best"),
    [
        ("entropy(P[0,0]) >= log(n) - c*logit_range(P[0,0])**2", "heads == 1", 1 / 8),
        ("diameter(X[1], 2) <= diameter(X[0], 2) + c*norm(W[0,0], 2)*diameter(X[0], 2)", "heads == 1, skip == 1", 1),
    ],
)
def test_a_constant_beside_other_terms_is_found_from_both_sides(claim: str, given: str, best: float) -> None:
    """The claim holds with c = 1 and far below: the search comes down to what fails."""
    asked = rm.Statement("mine:c", claim, given, where={"c": "1"})
    found = conjecture.sharpen(asked, "c", seconds=100, evaluations=2000)
    assert 0.9 * best < found.constant < best
    assert found.factor == str(best).replace("0.125", "1/8")
    assert found.proof is not None


def test_sizes_at_which_nothing_was_found_are_not_told_as_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = rm.Statement(
        "mine:c", "diameter(X[1], 1) <= c*norm(W[0,0], inf)*diameter(X[0], 1)", "heads == 1", where={"c": "1/2"}
    )
    calls: list[object] = []

    def first_alone(*args: Any, **options: Any) -> Any:
        calls.append(args)
        return search(*args, **options) if len(calls) == 1 else SimpleNamespace(instance=None, interrupted=False)

    monkeypatch.setattr(conjecture, "search", first_alone)
    answer = conjecture.sharpen(claim, "c", evaluations=100)
    assert len(calls) > 3
    assert answer.constant > 0
    assert [line for line in answer.sizes if line.startswith("seen in a short search")] == []


def test_sides_without_a_quotient_are_told_as_such() -> None:
    def told(left: float, right: float, compared: str = "lhs/rhs") -> str:
        return conjecture.compared_at(Verdict("mine:x", Outcome.VIOLATED, left, right, True, "balls", "", compared))

    assert told(math.log(3), -math.inf) == "lhs = 3, rhs = 0"
    assert told(math.log(3), -math.inf, "rhs/lhs") == "rhs = 3, lhs = 0"
    assert told(math.log(3), math.nan) == "lhs = 3, rhs = negative"
    assert told(math.nan, math.nan) == ""
    assert told(math.log(3), math.log(2)) == "lhs/rhs = 1.5"


def test_a_refutation_with_negative_sides_tells_the_two_numbers() -> None:
    claim = rm.Statement("mine:x", "cosine(X[0]) >= -1/2", "heads == 1")
    instance = NetworkInstance(_instance("heads == 1").net, np.array([[1.0, 0.0], [-1.0, 1.0]]))
    battery = Battery(claim, violations=[(instance, judge(claim, instance, "balls"))])
    [said] = [line for line in conjecture.Answer(battery).lines() if line.startswith("REFUTED")]
    assert said == "REFUTED: rhs = -0.5, lhs = -0.7071 at this instance, by balls:"


@pytest.mark.parametrize(
    ("claim", "compared"),
    [
        ("mu(X[0]) >= 2*mu(X[0])", "rhs/lhs = 2"),
        ("2*mu(X[0]) < mu(X[0])", "lhs/rhs = 2"),
        ("mu(X[0]) >= 2*mu(X[0]) and mu(X[0]) <= 1000", "smaller/larger = 2"),
    ],
)
def test_the_quotient_of_a_verdict_is_named_by_the_sign_of_the_claim(claim: str, compared: str) -> None:
    instance = _instance("heads == 1")
    assert compared in str(rm.verify(rm.Statement("mine:x", claim), instance.net, instance.X, arithmetic="balls"))


@pytest.mark.parametrize("kind", ["standard", "rms", "sphere", "column"])
def test_no_counterexample_with_layernorm_has_one_dimension(kind: str) -> None:
    claim = rm.Statement("mine:x", "mu(X[1]) <= mu(X[0])", ["heads == 1", f"layernorm == {kind}"])
    assert min(room.d for room in rooms(claim)) == 2
    net = rm.Network.random(tokens=3, dim=2, layers=1, norm=kind, seed=0)
    smaller = _smaller(NetworkInstance(net, net.random_input(seed=1)))
    assert {instance.X.shape[1] for instance in smaller} == {2}


def test_the_checker_speaks_of_positions_where_there_are_some() -> None:
    claim = rm.Statement("mine:any", "mu(X[1]) <= 1000", given=["heads == 1", "positions == any"])
    for given, spoken in (("heads == 1", False), ("positions == rotary, heads == 1", True)):
        instance = _instance(given)
        checked = rm.certify(claim, instance.net, instance.X).check().checked
        assert any(line.endswith(", positions") for line in checked) is spoken


def test_the_console_says_what_the_quantities_and_the_biases_of_an_instance_are() -> None:
    claim = rm.Statement(
        "mine:x", "entropy(P[0,0]) >= 2*log(n) and mu(X[1]) <= mu(X[0])", ["heads == 1", "bias == none"]
    )
    assert claim.quantities == {
        "entropy(P[0, 0])": "least entropy −Σ_j P_ij log P_ij of a row of the attention",
        "mu(X[1])": "Frobenius norm of the tokens about their mean",
    }
    net = rm.Network.from_arrays(
        W_QK=np.ones((1, 1, 1, 1)), W=np.ones((1, 1, 1, 1)), d_qk=1.0, key_bias=np.full((1, 1, 1), 2.0)
    )
    instance = NetworkInstance(net, np.array([[0.0], [1.0]]))
    battery = Battery(claim)
    battery.take(instance, rm.verify(claim, net, instance.X, arithmetic="balls"))
    said = "\n".join(conjecture.Answer(battery).lines())
    assert "\n  entropy(P[0, 0]): least entropy" in said
    assert "key_bias = [2], that is W_K b_Q\n" in said
    assert said.endswith('query biases are allowed: --given "query_bias == none" leaves them out')


def test_a_star_whose_hub_is_no_token_is_not_searched_on_so_few_tokens() -> None:
    claim = rm.Statement("mine:x", "diameter(X[1], 2) <= diameter(X[0], 2)", ["mask == star(2)", "heads == 1"])
    assert min(room.n for room in rooms(claim)) == 3
    clash = rm.Statement("mine:x", "diameter(X[1], 2) <= diameter(X[0], 2)", ["mask == star(2)", "mask == causal"])
    with pytest.raises(rm.InvalidArgument, match=r"contradict each other"):
        rooms(clash)


def test_a_letter_on_the_smaller_side_is_sharpened_downwards() -> None:
    """mu <= norm_F, and with c = 1/2 on the other side the best constant is the same from above."""
    claim = rm.Statement("mine:c", "norm(X[0], frobenius) >= c*mu(X[0])", ["heads == 1", "n == 2"], where={"c": "2"})
    answer = conjecture.sharpen(claim, "c", evaluations=200, seconds=20)
    assert answer.upside_down
    assert 1 <= 1 / answer.constant < 1.1
    assert any(line.startswith("the best c seen is 1.0") for line in answer.lines())
    assert rm.verify(answer.failing, answer.near.net, answer.near.X, arithmetic="balls").outcome == "VIOLATED"  # type: ignore[union-attr]


def test_the_size_of_the_instance_shown_is_among_the_sizes() -> None:
    claim = rm.Statement(
        "mine:c", "mu(X[1]) <= c*norm(W[0,0], 2)*mu(X[0])", ["heads == 1", "mask == causal"], where={"c": "1"}
    )
    answer = conjecture.sharpen(claim, "c", evaluations=150, seconds=20)
    table = [line for line in answer.lines() if line.startswith("seen in a short search at n")]
    assert table
    assert answer.near is not None
    n, d = np.asarray(answer.near.X).shape
    if d == 1:  # the table's other sizes
        sizes = table[0].partition(" = ")[2].partition(" with ")[0].split(", ")
        seen = dict(zip(sizes, table[0].rpartition(": ")[2].split(", "), strict=False))
        assert seen[str(n)] == conjecture._below(answer.constant)


def test_a_constant_without_bound_is_not_told_as_one() -> None:
    claim = rm.Statement("mine:c", "mu(X[1]) <= c*mu(X[0])", ["heads == 1"], where={"c": "1"})
    answer = conjecture.sharpen(claim, "c", evaluations=150, seconds=15)
    big = dataclasses.replace(answer, constant=6.4e12)
    assert not any("?" in line for line in big.lines()[1:2])
    assert any(line.startswith("no c is in sight") for line in big.lines())


def test_the_constant_of_a_claim_of_existence_is_refused() -> None:
    claim = rm.Statement("mine:c", "exists mu(X[1]) >= c*mu(X[0])", ["heads == 1"], where={"c": "1"})
    with pytest.raises(rm.InvalidArgument, match="claim of existence"):
        conjecture.sharpen(claim, "c", evaluations=10)


def test_the_claim_keeps_its_letter_in_json(tmp_path: Path) -> None:
    claim = rm.Statement("mine:c", "mu(X[1]) <= C*mu(X[0])", ["heads == 1", "n == 2"], where={"C": "1"})
    answer = conjecture.sharpen(claim, "C", evaluations=30, seconds=5)
    assert plain(answer, str(tmp_path))["claim"] == "mu(X[1]) <= C*mu(X[0])"
