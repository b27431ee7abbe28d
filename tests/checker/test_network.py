"""Claims about networks: both sides are what the definitions say, and what the library's balls say.

Recomputed here in float64 with NumPy, from the definitions, and in balls by the library, which shares no code with
the checker.
"""

from __future__ import annotations

import ast
import json
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import Instance, NotIssued, certify_claim, data_and_hints
from rankmath.checker import network, network_claims
from rankmath.checker.checker import SOURCES, check_text, wording
from rankmath.checker.intervals import Interval, Rejected
from rankmath.checker.kernel import Evaluator, formula
from rankmath.checker.network_claims import NETWORK_CLAIMS
from rankmath.checker.reading import read
from rankmath.checker.statements import STATEMENTS, defined_network, network_data
from rankmath.claims import statements
from rankmath.formula.evaluate import value as evaluated
from rankmath.formula.reader import read_term
from rankmath.formula.run import Run
from rankmath.linalg.residuals import residual
from rankmath.model.sublayers import MLP

sys.path[:0] = [str(Path(__file__).parents[2] / "docs" / "_ext")]

from checker_table import reference, table  # noqa: E402

DEFAULTS = {"n": 4, "d": 3, "L": 2, "H": 2}


def draw(seed: int = 0, **sizes: Any) -> Instance:
    rng = np.random.default_rng(seed)
    n, d, L, H = ({**DEFAULTS, **sizes}[name] for name in ("n", "d", "L", "H"))
    return Instance(
        rng.normal(size=(n, d)) * 0.4 + rng.normal(size=d),
        rng.uniform(-1, 1, (L, H, d, d)),
        rng.uniform(-1, 1, (L, H, d, d)),
        rng.normal(size=(L, H, d)),
        rng.normal(size=(L, d)),
        3.0,
        sizes.get("skip", 0),
        sizes.get("mask"),
        sizes.get("layernorm", "none"),
    )


def work(
    instance: Instance, hints: dict[str, Any] | None = None, bits: int = 128, texts: Sequence[str] = ()
) -> Evaluator:
    text = json.loads(Certificate("x", "holds", data_and_hints(instance, texts)[0], claim="mu(X[0]) >= 0").text())
    sizes: dict[str, int] = {}
    data = read(text["data"], network_data(text["data"]), "data", sizes)
    guides = network.network_hints(hints or {}, len(data["layers"]))
    return Evaluator(defined_network(), network.network(data, sizes), guides, bits, time.monotonic() + 60)


def value(instance: Instance, term: str) -> float:
    found = work(instance).value(network.spelled(term, len(instance.W)), {})
    low, high = (found, found) if isinstance(found, Fraction) else (found.lower(), -(-found).lower())
    assert float(high - low) <= 1e-9 * max(1.0, abs(float(high))), (term, float(low), float(high))
    return float(low)


@pytest.mark.parametrize("term", ["gamma(W[0, 0])", "delta(X[0], mean)", "section(P[0, 0])", "repeat_gap(W[0, 0])"])
def test_what_is_said_of_attention_is_said_of_no_other_array(term: str) -> None:
    """A quantity that needs the layer asks for X[l] or P[l, h] itself: any other array has no place."""
    with pytest.raises(Rejected, match="place"):
        work(draw()).value(network.spelled(term, 2), {})


def softmax(logits: Any, mask: Any) -> Any:
    weights = mask * np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def tokens(net: Instance) -> tuple[list[Any], list[list[Any]]]:
    """X after each layer and the attention of each head, in float64, by the definition."""
    X, W_QK, W, key_bias, bias = (A.astype(float) for A in (net.X, net.W_QK, net.W, net.key_bias, net.bias))
    mask = np.ones((len(X), len(X))) if net.mask is None else net.mask.astype(float)

    def normed(Y: Any) -> Any:
        return Y / np.linalg.norm(Y, axis=1, keepdims=True) if net.layernorm == "sphere" else Y

    every, attention = [normed(X)], []
    for l in range(len(W)):
        X = every[-1]
        root = float(net.d_qk) ** 0.5
        P = [softmax((X @ W_QK[l, h] @ X.T + (X @ key_bias[l, h])[None]) / root, mask) for h in range(len(W[l]))]
        after = sum(P_h @ X @ W_h for P_h, W_h in zip(P, W[l], strict=True))
        every.append(normed(float(net.skip) * X + after + bias[l]))
        attention.append(P)
    return every, attention


CAUSAL = np.tril(np.ones((4, 4), dtype=int))
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "skip": {"skip": Fraction(1, 2)},
    "causal": {"mask": CAUSAL},
    "sphere": {"layernorm": "sphere"},
    "all": {"skip": -1, "mask": CAUSAL, "layernorm": "sphere"},
}


def pairwise(X: Any, order: float) -> float:
    return float(np.linalg.norm(X[:, None] - X[None], order, axis=-1).max())


def form_inf(M: Any) -> float:
    signs = np.array(list(product((-1, 1), repeat=len(M))))
    return float((signs @ M @ signs.T).max())


@pytest.mark.parametrize("name", VARIANTS)
def test_quantities_of_tokens_and_attention(name: str) -> None:
    net = draw(3, **VARIANTS[name])
    every, attention = tokens(net)
    mask = np.ones((4, 4)) if net.mask is None else net.mask.astype(float)
    for i, X in enumerate(every):
        centred = X - X.mean(axis=0)
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        expected = {
            "diameter(X[{}], 1)": pairwise(X, 1),
            "diameter(X[{}], 2)": pairwise(X, 2),
            "diameter(X[{}], inf)": pairwise(X, np.inf),
            "residual(X[{}], one)": abs(X - np.median(X, axis=0)).sum(axis=0).max(),
            "residual(X[{}], frobenius)": np.linalg.norm(centred),
            "mu(X[{}])": np.linalg.norm(centred),
            "cosine(X[{}])": (unit @ unit.T).min(),
            "stable_rank(X[{}])": (np.linalg.norm(X) / np.linalg.norm(X, 2)) ** 2,
            "norm(X[{}], 1)": np.linalg.norm(X, 1),
            "norm(X[{}], inf)": np.linalg.norm(X, np.inf),
            "norm(X[{}], max)": abs(X).max(),
            "norm(X[{}], composite)": (np.linalg.norm(X, 1) * np.linalg.norm(X, np.inf)) ** 0.5,
        }
        for term, number in expected.items():
            assert value(net, term.format(i)) == pytest.approx(number, rel=1e-9), (name, term, i)
    for l, heads in enumerate(attention):
        for h, P in enumerate(heads):
            edges = P[mask > 0]
            rows = -np.where(mask > 0, P * np.log(np.where(mask > 0, P, 1)), 0).sum(axis=1)
            gaps = abs(P[:, None] - P[None]).sum(axis=-1).max() / 2
            logits = np.log(np.where(mask > 0, P, 1))
            spread = [np.ptp(row[m > 0]) for row, m in zip(logits, mask, strict=True)]
            for term, number in {
                "epsilon(P[{},{}])": edges.min(),
                "dobrushin(P[{},{}])": gaps,
                "entropy(P[{},{}])": rows.min(),
                "logit_range(P[{},{}])": max(spread),
                "norm(P[{},{}], 2)": np.linalg.norm(P, 2),
            }.items():
                assert value(net, term.format(l, h)) == pytest.approx(number, rel=1e-9, abs=1e-12), (name, term, l, h)


def test_quantities_of_weights() -> None:
    net = draw(5)
    for l, h in product(range(2), range(2)):
        W, M = net.W[l, h].astype(float), net.W_QK[l, h].astype(float)
        low, high = np.linalg.eigvalsh((M + M.T) / 2)[[0, -1]]
        expected = {
            "norm(W[{},{}], 2)": np.linalg.norm(W, 2),
            "norm(W[{},{}], frobenius)": np.linalg.norm(W),
            "operator_norm(W[{},{}], 1)": abs(W).sum(axis=1).max(),
            "operator_norm(W[{},{}], inf)": abs(W).sum(axis=0).max(),
            "operator_norm(W[{},{}], 2)": np.linalg.norm(W, 2),
            "form_norm(W_QK[{},{}], 1)": abs(M).max(),
            "form_norm(W_QK[{},{}], 2)": np.linalg.norm(M, 2),
            "form_norm(W_QK[{},{}], inf)": form_inf(M),
            "least_singular(W[{},{}])": np.linalg.svd(W, compute_uv=False)[-1],
            "definiteness(W_QK[{},{}])": max(low, -high),
        }
        for term, number in expected.items():
            assert value(net, term.format(l, h)) == pytest.approx(number, rel=1e-7), term
    # Above dimension 12 the form norm of l_inf is the sum of all entries.
    wide = draw(1, n=2, d=13, L=1, H=1)
    assert value(wide, "form_norm(W_QK[0,0], inf)") == pytest.approx(abs(wide.W_QK[0, 0].astype(float)).sum())


def test_letters_reductions_and_the_recursion() -> None:
    net = draw(6, mask=CAUSAL)
    norms = np.array([[np.linalg.norm(net.W[l, h].astype(float), np.inf) for h in range(2)] for l in range(2)])
    for term, number in {
        "n + 10*d + 100*H + 1000*L": 2234,
        "tokens + dim + heads + layers": 11,
        "d_qk": 3,
        "r": 1,
        "in_degree": 4,
        "K": 2,
        "sum_l(sum_h(norm(W[l,h], inf)))": norms.sum(),
        "max_l(min_h(norm(W[l,h], inf)))": norms.min(axis=1).max(),
        "min_l(prod_h(norm(W[l,h], inf)))": norms.prod(axis=1).min(),
        "prod_l(max_h(norm(W[l,h], inf)))": norms.max(axis=1).prod(),
        "sum_i(i)": 6,
        "sum_k(k)": 1,
        "recursion(b, 2, b*norm(W[l,0], inf) + l)": (2 * norms[0, 0]) * norms[1, 0] + 1,
    }.items():
        assert value(net, term) == pytest.approx(number, rel=1e-9), term


def test_the_softmax_parts_of_the_2023_bound() -> None:
    """delta, q and gamma at the composite center, one head, against NumPy."""
    for seed in range(4):
        net = draw(100 + seed, H=1)
        X = net.X.astype(float)
        M, k = net.W_QK[0, 0].astype(float), net.key_bias[0, 0].astype(float)
        x = residual(X, "composite").center
        root = 3.0**0.5
        stored = Certificate("x", "holds", *data_and_hints(net, ["gamma(P[0,0]) <= 1"]), claim="1 <= 2")
        names = json.loads(stored.text())["hints"]
        hints = {
            name: read(hint, {"center": "d", "lines": [{"columns": "d", "rows": "n"}, 32]}, "", {})
            for name, hint in names.items()
        }
        R = X - x
        D = np.ptp(R @ M @ R.T / root, axis=1)
        q = softmax(R @ (M.T @ x + k) / root, 1.0)
        w = work(net, hints, texts=["gamma(P[0,0]) <= 1"])
        for term, number in {
            "delta(P[0,0], composite)": D.max(),
            "q_max(P[0,0], composite)": q.max(),
            "q_min(P[0,0], composite)": q.min(),
            "gamma(P[0,0])": (D.sum() * q.max() / D.max()) ** 0.5,
            "residual(X[0], composite)": residual(X, "composite").value,
        }.items():
            found = Interval.of(w.value(network.spelled(term, 1), {}), 128)
            assert float(found.lower()) == pytest.approx(number, rel=1e-6), term
            assert float(-(-found).lower()) == pytest.approx(number, rel=1e-6), term


@pytest.mark.parametrize("name", ["plain", "skip", "causal"])
def test_derivatives_and_the_repeated_token(name: str) -> None:
    """The checker differentiates by itself; the library's formulas are held against differences in tests/claims."""
    rm.statements()  # claims' own files have quantities too
    own = draw(7, H=1, **{"skip": Fraction(1, 2), **VARIANTS[name]})
    mask = None if own.mask is None else own.mask.astype(bool)
    parts = [A.astype(float) for A in (own.W_QK, own.W)]
    biases = [A.astype(float) for A in (own.key_bias, own.bias)]
    net = rm.Network.from_arrays(*parts, 3.0, *biases, float(own.skip), mask=mask)
    run = Run(Float64(np.zeros(1)), net, own.X.astype(float))
    terms = ["jacobian_norm()", "longest(X[1])", "influence(0)", "influence(3)", "last_share(1)", "is_last(3)"]
    if name == "causal":
        terms += ["repeat_gap(X[2])", "repeat_share(P[1,0])", "repeat_reach(X[1])"]
    for term in terms:
        expected = evaluated(read_term(term), run, {})
        assert value(own, term) == pytest.approx(float(np.exp(expected.log)), rel=1e-9), term


def library(net: rm.Network, X: Any, term: str) -> float:
    found = evaluated(read_term(term), Run(Float64(np.zeros(1)), net, X), {})
    return float(found if isinstance(found, Fraction) else np.exp(found.log))


@pytest.mark.parametrize("kind", ["sphere", "column"])
def test_layernorm_follows_the_map_of_single_tokens(kind: Any) -> None:
    rm.statements()  # claims' own files have quantities too
    rng = np.random.default_rng(5)
    f = MLP(*(rng.normal(size=shape) for shape in ((2, 3), (3, 2), (3,), (2,))), activation="tanh", skip=True)
    net = rm.Network.random(tokens=3, dim=2, heads=2, layers=2, seed=1, norm=kind).replace(mlp=(f, None))
    X = net.random_input(seed=1)
    own = Instance.of(net, X)
    scaled = ("normalised_norm(W[0, 1], 2)",) if kind == "column" else ()
    for term in ("mu(X[1])", "diameter(X[2], 2)", "norm(X[1], max)", *scaled):
        assert value(own, term) == pytest.approx(library(net, X, term), rel=1e-9), term
    given = ["mlp == any", f"layernorm == {kind}"]
    assert check_text(certify_claim("mine:map", "epsilon(P[1, 0]) > 1/10**6", given, own).text()).accepted
    # What is defined for attention alone is not said of more.
    for claim in ("jacobian_norm() <= 99*mu(X[0])", "influence(0) <= 99*mu(X[0])", "repeat_gap(X[1]) <= 99"):
        for instance, hypotheses in (
            (own, given),
            (draw(1, layernorm="sphere"), ["layernorm == sphere", "bias == any"]),
        ):
            assert verdict(claim=claim, given=[*hypotheses, "query_bias == any"], instance=instance) != "accepted"
    causal = draw(1, mask=CAUSAL)
    for instance, accepted in ((causal, True), (draw(1), False)):
        hypotheses = ["mask == any", "bias == any", "query_bias == any"]
        found = verdict(claim="repeat_gap(X[1]) <= 99", given=hypotheses, instance=instance)
        assert (found == "accepted") == accepted


@pytest.mark.parametrize(("activation", "skip"), [("relu", False), ("tanh", True)])
def test_maps_of_single_tokens_are_those_of_the_library(activation: Any, skip: bool) -> None:
    rng = np.random.default_rng(5)
    parts = [rng.normal(size=shape) for shape in ((2, 3), (3, 2), (3,), (2,))]
    maps = (MLP(*parts, activation=activation, skip=skip), None)
    net = rm.Network.random(tokens=3, dim=2, heads=2, layers=2, seed=1).replace(mlp=maps)
    X = net.random_input(seed=1)
    own = Instance.of(net, X)
    for term in ("mu(X[1])", "diameter(X[2], 2)", "norm(X[1], max)", "lipschitz(0)", "lipschitz(1)"):
        assert value(own, term) == pytest.approx(library(net, X, term), rel=1e-9), term
    text = json.loads(certify_claim("mine:map", "mu(X[2]) > 1/999", ["mlp == any"], own).text())
    assert text["data"]["layers"][0]["mlp"]["skip"] == int(skip)
    assert "mlp" not in text["data"]["layers"][1]
    for given, field, bad in (
        ([], None, None),
        (["mlp == none"], None, None),
        (["mlp == any"], "skip", 2),
        (["mlp == any"], "activation", "gelu"),
        (["mlp == any"], "b_in", [0, 0]),
        (["mlp == any"], "layernorm", "sphere"),
        (["layernorm == sphere"], "layernorm", "sphere"),
    ):
        content = {**json.loads(json.dumps(text)), "given": given}
        del content["id"]
        if field == "layernorm":
            content["data"]["layernorm"] = bad
        elif field is not None:
            content["data"]["layers"][0]["mlp"][field] = bad
        assert not check_text(json.dumps(content)).accepted, (given, field)


def test_layernorm_over_columns_is_that_of_the_library() -> None:
    rm.statements()  # claims' own files have quantities too
    net = rm.Network.random(tokens=4, dim=3, heads=2, layers=2, seed=1, norm="column")
    X = net.random_input(seed=1)
    own = Instance.of(net, X)
    terms = ("diameter(X[0], 2)", "diameter(X[1], 1)", "mu(X[2])", "norm(X[2], max)")
    for term in (*terms, *(f"normalised_norm(W[0,1], {p})" for p in ("1", "2", "inf"))):
        assert value(own, term) == pytest.approx(library(net, X, term), rel=1e-9), term
    flat = Instance(np.ones((3, 2)) + np.eye(3, 2), own.W_QK[:, :, :2, :2], 0 * own.W[:, :, :2, :2], layernorm="column")
    assert verdict(claim="mu(X[1]) < 9", given=["layernorm == column"], instance=flat) != "accepted"  # nothing left


# -- the table, and the library --------------------------------------------------------------------------------


def same(a: str, b: str) -> bool:
    return ast.dump(formula(a)) == ast.dump(formula(b))


def test_the_table_says_what_the_library_says() -> None:
    """The checker's claims and hypotheses are the library's, term by term; every claim about networks is in the
    table."""
    about_networks = {key for key, entry in rm.statements().items() if not entry.arrays}
    assert set(NETWORK_CLAIMS) == about_networks
    for key, (_, claim, given) in NETWORK_CLAIMS.items():
        entry = rm.statements()[key]
        assert same(claim, entry.claim_text), key
        assert len(given) == len(entry.given_texts), key
        assert all(same(a, b) for a, b in zip(given, entry.given_texts, strict=True)), key


def test_the_table_is_what_its_command_writes() -> None:
    assert table() == network_claims.CLAIM_FILE


@pytest.mark.parametrize("e", [-400, -200, -130, -100, 130, 200])
@pytest.mark.parametrize("sign", [1, -1])
def test_printed_ends_hold_an_interval_that_passes_a_short_decimal_by_next_to_nothing(e: int, sign: int) -> None:
    from rankmath.checker.words import number

    near = 3 * 2**-e if e < 0 else -(-(10**80) // 2**e)
    for m in (near - 1, near, near + 1):
        low, high = sorted((sign * m, sign * (m + 1)))
        ends = [Fraction(end) for end in number(Interval(low, high, e, 512)).strip("[]").split(", ")]
        assert ends[0] <= low * Fraction(2) ** e
        assert ends[-1] >= high * Fraction(2) ** e


def test_the_page_of_keys_has_every_text_of_every_key_once() -> None:
    """What two keys have word for word stands with the first, and the other names it."""
    page = reference()
    before: set[str] = set()
    for key, entry in STATEMENTS.items():
        own = page.partition(f"**`{key}`** (")[2].partition("\n**`")[0]
        assert own.startswith(f"{', '.join(entry.kinds)}): {entry.says}."), key
        for text in (f"Claim: `{entry.claim}`", *(f"computed: {text}" for text in entry.relies)):
            assert (text in own) != (text in before), (key, text)
            before.add(text)
        for text in {*entry.given, *entry.telling, *entry.method}:
            assert f"`{text}`" in page, (key, text)
        for line in entry.define.strip().splitlines():
            assert f"  {line}".rstrip() in page, (key, line)


def test_every_registered_key_is_known_to_the_library_or_says_why_not() -> None:
    """Statements with data of their own; what has no statement of the same name is a variant or a warning of
    ours."""
    alone = set(STATEMENTS) - set(rm.statements())
    existence = {"own:layernorm-equilibrium", "own:stable-equilibrium", "own:stable-block", "own:flow-sink"}
    assert alone == {"own:tv-variant", "own:stable-rotary", *existence}


@pytest.mark.parametrize("key", sorted(set(NETWORK_CLAIMS) - {"dong2021:3.2", "own:lambda-skip-upper", "wu2024:2"}))
def test_every_claim_about_networks_can_be_certified_on_an_instance_of_its_own(key: str) -> None:
    entry = rm.statements()[key]
    rng = np.random.default_rng(0)
    batches = [draw_some(rng, 4) for draw_some in entry.draws]
    instances = [
        *(entry.extremal(rng) if entry.extremal else ()),
        *(batch.select(i) for batch in batches for i in range(len(batch))),
    ]
    for instance in instances[:12]:
        try:
            certificate = rm.certify(key, instance.net, instance.X)
        except (ArithmeticError, rm.InvalidArgument):
            continue
        assert certificate.check().accepted
        assert certificate.statement == key
        return
    pytest.fail(f"none of {len(instances)} instances of {key} was certified")


# -- a user's own claim ----------------------------------------------------------------------------------------

STEP = "diameter(X[1], 1) <= sum_h(norm(W[0,h], inf))*diameter(X[0], 1)"


def content(
    claim: str = STEP, given: Any = (), kind: str = "holds", instance: Instance | None = None
) -> dict[str, Any]:
    certificate = Certificate("mine:step", kind, (instance or draw(0)).data(), claim=claim, given=list(given))
    return {name: part for name, part in json.loads(certificate.text()).items() if name != "id"}


def verdict(**changes: Any) -> str:
    return check_text(json.dumps(content(**changes))).verdict


def test_a_claim_of_ones_own_holds_or_fails() -> None:
    false = STEP.replace("<=", ">")
    assert verdict() == "accepted"
    assert verdict(claim=false, kind="violates") == "accepted"
    assert verdict(kind="violates") == "rejected"
    assert verdict(claim=false) == "rejected"
    assert verdict(claim=f"{STEP} and {false}") == "rejected"
    assert verdict(claim=f"{STEP} and {false}", kind="violates") == "accepted"  # what fails of all is refuted
    assert verdict(claim="norm(P[0,0], 2) <= 1", kind="violates") == "accepted"  # true where all rows are equal
    assert verdict(claim="norm(P[0,0], 2) < 1", kind="violates") == "accepted"
    assert verdict(claim="mu(X[1]) == mu(X[1])") == "undecided"  # intervals decide no equality


@pytest.mark.parametrize(
    ("given", "instance", "accepted"),
    [
        ([], {}, True),
        (["H == 2", "L == 2", "n >= 4", "d_qk == 3"], {}, True),
        (["heads == 1"], {}, False),
        (["diameter(X[0], 2) <= 1/1000"], {}, False),
        ([], {"skip": 1}, False),
        (["skip == 1"], {"skip": 1}, True),
        (["skip == 1"], {}, False),
        ([], {"mask": CAUSAL}, False),
        (["mask == causal"], {"mask": CAUSAL}, True),
        (["mask == any"], {"mask": CAUSAL}, True),
        (["mask == causal"], {}, False),
        (["mask == complete"], {}, True),
        (["mask == none"], {}, True),
        (["mask == padding"], {"mask": np.array([[1, 1, 0, 1]] * 4)}, True),
        (["mask == padding"], {"mask": CAUSAL}, False),
        (["mask == none"], {"mask": CAUSAL}, False),
        ([], {"layernorm": "sphere"}, False),
        (["layernorm == sphere"], {"layernorm": "sphere"}, True),
        (["layernorm == sphere"], {}, False),
        (["layernorm == column"], {}, False),
        (["bias == none"], {}, False),
        (["query_bias == none"], {}, False),
        (["query_bias == any", "bias == any", "mlp == none"], {}, True),
        (["nonsense == 1"], {}, False),
    ],
)
def test_every_hypothesis_is_checked(given: list[str], instance: dict[str, Any], accepted: bool) -> None:
    """With a claim that holds of all of them."""
    claim = "mu(X[1]) > 1/999"
    assert (verdict(claim=claim, given=given, instance=draw(0, **instance)) == "accepted") == accepted
    # A claim that is false of all is refuted exactly where the hypotheses hold.
    assert (
        verdict(claim="mu(X[1]) < 1/999", given=given, instance=draw(0, **instance), kind="violates") == "accepted"
    ) == accepted


def test_an_undecided_hypothesis_does_not_pass() -> None:
    """mu(X[1]) <= mu(X[1]) is true, and intervals cannot tell: nothing is shown under it, neither kind."""
    for claim, kind in (("mu(X[1]) > 1/999", "holds"), ("mu(X[1]) < 1/999", "violates")):
        assert verdict(claim=claim, given=["mu(X[1]) <= mu(X[1])"], kind=kind) == "undecided"


@pytest.mark.parametrize("claim", ["1 <= 2", "n >= 2", "d_qk > 0 and 1 < 2"])
def test_a_claim_that_says_nothing_of_the_network_is_refused(claim: str) -> None:
    assert "say nothing" in check_text(json.dumps(content(claim=claim))).reason


@pytest.mark.parametrize(
    "claim",
    [
        "mu(X[3]) >= 1/999",
        "mu(X[-1]) >= 1/999",
        "norm(W[2,0], 1) >= 1/999",
        "norm(W[0,2], 1) >= 1/999",
        "mu(X) >= 1/999",
        "X[0] >= 1/999",
        "norm(W[0,0], 3/2) >= 1/999",
        "mu(X[0])",
        "mu(X[0]) >= 1/999 or 1 < 2",
        "diameter(X[0]) >= 1/999",
        "mu(X[1/2]) >= 1/999",
        "mu(X[0]) >= residual",
        "input[0] >= 0 and mu(X[0]) > 0",
    ],
)
def test_claims_without_meaning_are_refused(claim: str) -> None:
    result = check_text(json.dumps(content(claim=claim)))
    assert result.verdict == "rejected"
    assert len(result.reason) < 300


def test_vacuous_instances_are_refused() -> None:
    one = Instance([[1.0, 2.0]], np.ones((1, 1, 2, 2)), np.ones((1, 1, 2, 2)))
    equal = Instance([[1.0, 2.0], [1.0, 2.0]], np.ones((1, 1, 2, 2)), np.ones((1, 1, 2, 2)))
    result = check_text(json.dumps(content(claim="mu(X[1]) < 1/999", kind="holds", instance=equal)))
    assert "all tokens are equal" in result.reason
    # A claim of one's own that does not exclude equal tokens is false where it fails at them.
    assert check_text(json.dumps(content(claim="mu(X[1]) < mu(X[0])", kind="violates", instance=equal))).accepted
    true, vain = "mu(X[1]) <= mu(X[0])", "mu(X[1]) < 0"
    assert not check_text(json.dumps(content(claim=true, kind="violates", instance=equal))).accepted
    assert check_text(json.dumps(content(claim=vain, kind="violates", instance=equal))).accepted
    # What exists may be trivial; it must meet what is asked.
    for instance in (one, equal):
        assert check_text(json.dumps(content(claim="norm(X[1], 1) <= 9", kind="exists", instance=instance))).accepted
        assert not check_text(json.dumps(content(claim="norm(X[1], 1) > 9", kind="exists", instance=instance))).accepted
    for claim in ("mu(X[1]) < 1/999", "mu(X[1]) > 1/999"):
        assert "one token" in check_text(json.dumps(content(claim=claim, kind="holds", instance=one))).reason
    # A claim that does not exclude one token is false where it fails at one.
    false, true = "norm(X[1], max) <= norm(X[0], max)/2", "mu(X[1]) < 1/999"
    assert check_text(json.dumps(content(claim=false, kind="violates", instance=one))).accepted
    assert not check_text(json.dumps(content(claim=true, kind="violates", instance=one))).accepted


def test_a_registered_key_cannot_carry_another_claim() -> None:
    net = draw(0)
    claim, given = wording("own:diameter") or ("", ())
    good = certify_claim("own:diameter", claim, given, net)
    assert good.check()
    for changed in ({"claim": claim.replace("4*sqrt", "5*sqrt")}, {"given": []}, {"given": [*given, "n >= 2"]}):
        text = {**json.loads(good.text()), **changed}
        del text["id"]
        assert "not those of own:diameter" in check_text(json.dumps(text)).reason
    spaced = {**json.loads(good.text()), "claim": claim.replace(" ", "").replace("<=", " <=  ")}
    del spaced["id"]
    assert check_text(json.dumps(spaced)).accepted
    # No paper's name is free for a claim of one's own, in whatever letters, also where none of its keys has files.
    words = {key.split(":")[0] for key in statements()}
    assert words == SOURCES
    for key in ("own:diametre", "dong2021:2.4", "kim2021:3.2", "Kim2021:3.2", *(f"{word}:x" for word in words)):
        with pytest.raises(NotIssued, match="not in this checker's table, and a name of one's own begins with another"):
            certify_claim(key, STEP, [], net)


def test_a_residual_cannot_be_overstated() -> None:
    """Larger weights prove the same line, negative ones none; a far center weakens the claim until it is lost."""
    net = draw(2, L=1, H=1)
    claim, given = wording("own:residual-inf") or ("", ())
    good = json.loads(certify_claim("own:residual-inf", claim, given, net).text())
    del good["id"]
    line = good["hints"]["X[0] inf"]["lines"][0]

    def with_rows(rows: Any, **more: Any) -> Any:
        changed = {**good["hints"]["X[0] inf"], "lines": [{**line, "rows": rows}], **more}
        return check_text(json.dumps({**good, "hints": {**good["hints"], "X[0] inf": changed}}))

    assert with_rows(line["rows"]).accepted
    assert "negative" in with_rows([-1, 1, 1, 1]).reason
    assert with_rows([0, 0, 0, 0]).verdict == "undecided"
    far = {**good["hints"]["X[1] inf"], "center": [1000, 1000, 1000]}
    assert check_text(json.dumps({**good, "hints": {**good["hints"], "X[1] inf": far}})).verdict == "undecided"
    unknown = {**good, "hints": {"X[9] one": good["hints"]["X[0] inf"]}}
    assert "hints" in check_text(json.dumps(unknown)).reason


@pytest.mark.parametrize("order", [1, 2, "inf"])
def test_the_constant_four_is_sharp(order: Any) -> None:
    """Two tokens near ±a: the claim with 4 holds, with 4.01 it is violated, and at ±a itself nothing is decided."""
    a = Fraction(3, 4)

    def pair(b: Fraction) -> Instance:
        one = np.ones((1, 1, 1, 1), dtype=int)
        return Instance([[a], [-b]], one, one)

    def claim(constant: str) -> str:
        bound = f"operator_norm(W[l,h], {order})*b*tanh(form_norm(W_QK[l,h], {order})*b**2/({constant}*sqrt(d_qk)))"
        return f"diameter(X[L], {order}) <= recursion(b, diameter(X[0], {order}), sum_h({bound}))"

    near = pair(a + Fraction(1, 2**40))
    assert certify_claim("mine:four", claim("4"), [], near).check()
    assert certify_claim("mine:more", claim("4.01"), [], near, kind="violates").check()
    with pytest.raises(NotIssued, match="undecided"):
        certify_claim("mine:four", claim("4"), [], pair(a))
    with pytest.raises(NotIssued, match="against the kind"):
        certify_claim("mine:less", claim("3.99"), [], near, kind="violates")


def test_a_small_threshold_is_looked_at_in_every_layer() -> None:
    """dong2021:2.3 with D <= x* in the first layer and D > x* in the second: the hypothesis fails."""
    net = draw(1, H=1)
    loud = Instance(net.X / 8, np.concatenate([net.W_QK[:1], 10**9 * net.W_QK[1:]]), net.W * 8)
    claim, given = wording("dong2021:2.3") or ("", ())
    assert certify_claim("mine:first", "delta(P[0,0], composite) <= x_star", [], loud).check()
    assert certify_claim("mine:second", "delta(P[1,0], composite) > x_star", [], loud).check()
    with pytest.raises(NotIssued, match="a condition fails"):
        certify_claim("dong2021:2.3", claim, given, loud)


def test_the_precision_is_raised_until_a_tiny_residual_is_seen() -> None:
    net = draw(0, L=3, H=1)
    small = Instance(net.X / 2**20, net.W_QK, net.W, net.key_bias, net.bias, net.d_qk)
    claim, given = wording("dong2021:2.3") or ("", ())
    result = certify_claim("dong2021:2.3", claim, given, small).check()
    assert result.accepted
    assert "bits" in " ".join(result.checked)


def test_printed_enclosures_hold_the_value_and_exact_numbers_are_exact(draw_instance: Callable[..., Instance]) -> None:
    from rankmath.checker.words import number

    assert number(Fraction(9, 5)) == "9/5"
    for value_ in (
        Fraction(1, 3),
        Fraction(-2, 3),
        Fraction(10**400, 3),
        Fraction(1, 3 * 10**400),
        Fraction(2) ** -500 / 3,
    ):
        low, high = (Fraction(end) for end in number(Interval.of(value_, 200)).strip("[]").split(", "))
        assert low <= value_ <= high
        assert high - low <= abs(value_) / 10**4
    point = Interval((1 << 100) + 1, (1 << 100) + 1, -100, 128)
    low, high = (Fraction(end) for end in number(point).strip("[]").split(", "))
    assert low <= point.lower() <= high


def steps_by_hand(allowed: np.ndarray) -> int:
    """The least number of steps in which one token reaches all others, at least 1, by following edges; 1 if none
    does."""
    n = len(allowed)
    found = []
    for start in range(n):
        reached, count = {start}, 0
        while len(reached) < n and count < n:
            reached |= {i for i in range(n) for j in reached if allowed[i, j]}
            count += 1
        found.append(count if len(reached) == n else n + 1)
    return max(1, min(found)) if min(found) <= n else 1


def test_r_means_one_thing_in_words_library_and_checker() -> None:
    """Every mask on three tokens, with self-loops and without: 343 of them."""
    rows = [row for row in product((False, True), repeat=3) if any(row)]
    for chosen in product(rows, repeat=3):
        allowed = np.asarray(chosen)
        expected = steps_by_hand(allowed)
        assert rm.Mask(allowed).steps == expected, chosen
        if not allowed.diagonal().all():
            at = work(draw(n=3, d=1, L=2, H=1, mask=allowed.astype(int)))
            assert at.value(formula("r"), {}) == expected, chosen
            assert at.value(formula("K"), {}) == -(-2 // expected), chosen


def test_a_radius_that_no_walk_of_that_length_has() -> None:
    """0 sees 1, 1 sees 2, 2 sees 0 and 1: token 1 reaches both others in one step, but itself by no walk below
    three."""
    mask = np.asarray([[0, 1, 0], [0, 0, 1], [1, 1, 0]])
    instance = draw(n=3, L=2, mask=mask)
    assert rm.Mask(mask.astype(bool)).radius == 1
    assert verdict(claim="r >= 3", given=["mask == any"], instance=instance) == "rejected"
    assert verdict(claim="r*mu(X[1]) >= 3*mu(X[1])", given=["mask == any"], instance=instance) == "rejected"
    assert verdict(claim="mu(X[1]) > r/999", given=["mask == any", "r == 1"], instance=instance) == "accepted"


def test_the_older_word_of_a_switch_is_read() -> None:
    """Certificates named the query bias after W_K b_Q, the vector it makes of the keys."""
    for word in ("query_bias", "key_bias"):
        assert verdict(claim="mu(X[1]) > 1/999", given=[f"{word} == none"], instance=draw(0)) == "rejected"
        assert verdict(claim="mu(X[1]) > 1/999", given=[f"{word} == any"], instance=draw(0)) == "accepted"


@pytest.mark.parametrize("center", ["0", "1*2^-31", "1*2^-20"])
def test_a_violation_about_centers_that_are_nearly_least_says_so(center: str) -> None:
    """Of two tokens on a line delta about the middle, the one least center, is |W_QK| times half their squared
    distance; about a point beside it it is more."""
    claim = "delta(P[0, 0], composite) <= norm(W_QK[0, 0], 2)*diameter(X[0], 2)**2/(2*sqrt(d_qk))"
    alone = ["mask == none", "layernorm == none", "mlp == none", "skip == 0"]
    weights = {"heads": [{"W_QK": [[1]], "W": [[1]], "key_bias": [0]}], "bias": [0]}
    plain = {"d_qk": 1, "skip": 0, "mask": "complete", "layernorm": "none"}
    lines = [{"columns": [1], "rows": [0, 0]}, {"columns": [0], "rows": ["1/2", "1/2"]}]
    written = {
        "format": "rankmath-certificate/2",
        "statement": "mine:centre",
        "claim": claim,
        "kind": "violates",
        "given": ["n == 2", "d == 1", "L == 1", "H == 1", *alone],
        "data": {"X": [[1], [-1]], **plain, "centers": [[center]], "layers": [weights]},
        "hints": {"X[0] composite": {"center": [0], "lines": lines}},
    }
    found = check_text(json.dumps(written))
    if center == "1*2^-31":
        assert found.accepted, found.reason
        assert "read of such centers, is not true of all" in found.checked[-1]
        assert "least up to 1 + 2^-30" in found.checked[-2]
    else:
        assert not found.accepted
