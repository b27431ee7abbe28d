"""Verdicts and batteries: what is decided, by what, and what is refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.claims import statement, statements
from rankmath.decide.battery import _in_time, _near_extremal, verify, verify_statement
from rankmath.decide.space import Room, with_draws
from rankmath.formula.language import FUNCTIONS
from rankmath.verification.instance import ArrayInstance, NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome, Verdict

TWO = NetworkInstance(rm.Network.from_arrays(np.ones((1, 1, 1, 1)), np.ones((1, 1, 1, 1))), np.array([[0.5], [-0.5]]))
ONES = np.ones((1, 1, 1, 1))
PADDED = np.array([[True, False], [True, False]])


def test_the_registry_has_every_key_of_the_two_papers_and_ours() -> None:
    expected = {
        *("seed:closure", "dong2021:2.1", "dong2021:2.1-skip", "dong2021:A.3", "dong2021:2.2", "dong2021:2.3"),
        *("dong2021:3.1", "dong2021:3.2", "dong2021:3.3", "dong2021:norm", "dong2021:2.3-printed"),
        *("dong2021v1:2.2", "dong2021v1:2.3", "dong2021v1:A.3", "own:tv", "own:diameter", "own:residual-inf"),
        *("own:gamma-free", "own:skip-lower", "own:order", "own:composite", "own:hemisphere", "own:full-rank"),
        *("wu2024:1", "wu2024:1-doeblin", "wu2024:2", "wu2024:2-step", "wu2024:cor1", "wu2024:3", "wu2024:4.3.1"),
        *("wu2024:L13", "wu2024:L13-repaired", "wu2024:anisotropy", "wu2024:conjecture", "own:stable-causal"),
        *("own:stable-complete", "unstated:ln-sphere"),
    }
    assert expected <= set(statements())
    for key, entry in statements().items():
        assert entry.key == key
        assert entry.claim
        assert entry.source
        assert entry.draws or entry.exhibit
        assert entry.status in ("proved", "refuted")


def test_a_verdict_is_no_truth_value() -> None:
    with pytest.raises(TypeError, match="four outcomes"):
        bool(Verdict("k", Outcome.HOLDS, 0.0, 1.0, False, "float64"))


def test_equality_is_undecided_in_every_arithmetic() -> None:
    """own:diameter is an equality for two tokens ±a: no arithmetic with rounding may say HOLDS or VIOLATED."""
    entry = statement("own:diameter")
    for arithmetic in ("float64", "mpmath", "balls"):
        verdict = judge(entry, TWO, arithmetic, 256)
        assert verdict.outcome == Outcome.UNDECIDED
        assert not verdict.certified
        assert verdict.ratio == pytest.approx(1, abs=1e-14)


def test_a_failed_hypothesis_is_not_applicable_and_never_counts_as_holding() -> None:
    entry = statement("dong2021:A.3")
    beyond = ArrayInstance({"c": np.array([0.0, -9.0]), "E": np.array([[0.0, 3.0]])})
    for arithmetic in ("float64", "mpmath", "balls"):
        verdict = judge(entry, beyond, arithmetic)
        assert verdict.outcome == Outcome.NOT_APPLICABLE
        assert "x_star" in verdict.reason
        assert math.isnan(verdict.ratio)
    battery = verify_statement(replace(entry, draws=(lambda rng, size: beyond,), extremal=None), instances=1, search=0)
    counts = (battery.holds, battery.not_applicable, battery.certified)
    assert (counts, battery.outcome) == ((0, 1, 0), "UNDECIDED")


@pytest.mark.parametrize("claim", ["rank(X[1]) <= 2", "rank(X[1]) <= 0", "rank(P[1,0]) <= 0", "mu(X[1]) <= 1"])
def test_a_token_without_direction_makes_no_claim_of_later_tokens_applicable(claim: str) -> None:
    """W = 0 leaves tokens that are 0, which a LayerNorm on the sphere cannot divide by their length."""
    zeros, X = np.zeros((2, 1, 2, 2)), np.array([[1.0, 2.0], [3.0, -1.0]])
    net = rm.Network.from_arrays(zeros, zeros, d_qk=2, norm="sphere")
    verdict = rm.verify(rm.Statement("mine:x", claim, "layernorm == sphere"), net, X, arithmetic="balls")
    assert (verdict.outcome, verdict.certified) == (Outcome.NOT_APPLICABLE, True)
    assert "no direction" in verdict.reason


def test_a_token_that_cancels_to_rounding_in_one_of_a_batch_leaves_the_others() -> None:
    """The batch is refused by doubles; balls judge its members, of which the first has a token 0."""
    claim = rm.Statement("mine:x", "cosine(X[1]) <= 2", "layernorm == sphere")
    X = np.array([[[1.0, 0.0], [-1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]])
    one = np.broadcast_to(np.eye(2), (2, 1, 1, 2, 2))
    batch = Room(2, 2, 1, 1, 2.0, norm="sphere").instance({"X": X, "W": one, "W_QK": 0 * one})
    battery = verify_statement(replace(claim, draws=(lambda rng, size: batch,)), instances=2, search=0, seconds=0)
    assert (battery.instances, battery.holds, battery.not_applicable) == (2, 1, 1)


def test_no_instance_of_other_claims_is_made_after_the_time() -> None:
    assert len(list(itertools.islice(_near_extremal(0), 3))) == 3
    assert not list(_near_extremal(0, until=-math.inf))


def test_of_a_batch_as_many_are_looked_at_as_there_is_time_for() -> None:
    claim = with_draws(rm.Statement("mine:x", "mu(X[1]) <= mu(X[0])", "n == 2"))
    batch = claim.draws[0](np.random.default_rng(0), 64)
    assert [len(_in_time(claim, batch, seconds)) for seconds in (-1.0, 0.0, 1e6)] == [4, 4, 64]
    assert (_in_time(claim, batch, 0.0).vector() == batch.part(range(4)).vector()).all()


def test_smallness_is_asked_of_every_layer_and_head() -> None:
    """Logits that are small in the first layer and large in the second, or in one head of two: not applicable."""
    small, large = 0.1 * np.ones((1, 1)), 9.0 * np.ones((1, 1))
    for W_QK in (np.asarray([[small], [large]]), np.asarray([[small, large]])):
        net = rm.Network.from_arrays(W_QK, 40.0 * np.ones_like(W_QK))
        verdict = judge(statement("dong2021:2.3"), NetworkInstance(net, TWO.X), "balls")
        assert verdict.outcome == Outcome.NOT_APPLICABLE


def test_a_float_violation_is_not_a_refutation_until_balls_confirm_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quantity whose float64 evaluation is wrong by 1e-3 refutes nothing: balls see that the claim holds."""
    right = FUNCTIONS["mu"].evaluate
    assert right is not None

    def wrong(run: Any, X: Any) -> Any:
        value = right(run, X)
        return value if run.A.unbounded else value * run.numbers.lift(1001) / run.numbers.lift(1000)

    monkeypatch.setitem(FUNCTIONS, "mu", replace(FUNCTIONS["mu"], evaluate=wrong))
    entry = Statement("t:wrong", "mu(X[0]) <= sqrt(1/2) + 1/10000", draws=(lambda rng, size: TWO,))
    assert judge(entry, TWO, "float64").outcome == Outcome.VIOLATED
    battery = verify_statement(entry, instances=3, certify=0, search=0, seconds=0)
    assert (battery.outcome, battery.violations, battery.certified) == ("HELD", [], 3)


@pytest.mark.parametrize(("slack", "outcome"), [("+ 1/10**14", "HELD"), ("- 1/10**14", "REFUTED")])
def test_what_doubles_leave_open_balls_decide(slack: str, outcome: str) -> None:
    """mu of ±1/2 is the root of 1/2: a slack of 1e-14 is nothing to doubles, and a matter of course to balls."""
    entry = Statement("t:near", f"mu(X[0]) <= sqrt(1/2) {slack}", draws=(lambda rng, size: TWO,))
    assert judge(entry, TWO, "float64").outcome == Outcome.UNDECIDED
    battery = verify_statement(entry, instances=3, certify=0, search=0, seconds=0)
    assert (battery.outcome, battery.instances, battery.certified) == (outcome, 3, 3)


def test_an_instance_that_does_not_show_what_exists_violates_nothing() -> None:
    eye = np.eye(2)
    verdict = verify("dong2021:norm", eye, eye, arithmetic="balls")
    assert verdict.outcome == Outcome.UNDECIDED
    assert "does not show" in verdict.reason
    cross = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert verify("dong2021:norm", cross, cross.T, arithmetic="balls").outcome == Outcome.HOLDS


@pytest.mark.parametrize("key", [k for k, s in statements().items() if s.status == "proved"])
def test_a_true_statement_holds_on_its_battery(key: str) -> None:
    entry = statement(key)
    battery = verify_statement(entry, instances=max(4, int(60 * entry.share)), certify=2, seed=11, search=20)
    assert battery.violations == []
    assert battery.outcome == "HOLDS"
    assert battery.holds > 0
    if entry.sharp:
        assert battery.tightest >= 0.999
    assert battery.tightest <= 1


@pytest.mark.parametrize("key", [k for k, s in statements().items() if s.status == "refuted"])
def test_a_refuted_statement_is_refuted_by_a_certificate_or_an_instance_that_balls_confirm(key: str) -> None:
    entry = statement(key)
    battery = verify_statement(entry, instances=max(4, int(40 * entry.share)), certify=2, seed=5, search=0)
    assert battery.outcome == "REFUTED"
    assert battery.exhibit is not None or all(verdict.certified for _, verdict in battery.violations)


#: Each claim made a little stronger, in the direction in which it is sharp: its own battery must refute it.
BROKEN = {
    "own:tv": "tv(c, g) <= tanh(osc(g)/4.01)",
    "dong2021:A.3": "all_i(relative_gain(c, E[i]) <= 1.99*osc(E[i]))",
    "own:diameter": "all_p(diameter(X[L], p) <= recursion(b, diameter(X[0], p),"
    " sum_h(operator_norm(W[l,h], p)*b*tanh(form_norm(W_QK[l,h], p)*b**2/(4.01*sqrt(d_qk))))))",
    "own:diameter-cubic": "all_p(diameter(X[L], p) <= (omega/(4*sqrt(d_qk)))**((3**L - 1)/2)"
    "*diameter(X[0], p)**(3**L + 1))",
    "own:residual-inf": "residual(X[L], inf) <= (0.99*omega/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0], inf)**(3**L)",
    "own:skip-lower": "diameter(X[L], 2) >= diameter(X[0], 2)"
    "/sqrt(1 + 0.99*(2 - theta)/(1 - theta)**2*kappa*diameter(X[0], 2)**2*L)",
    "own:lambda-skip-upper": "diameter(X[L], 2) <= 0.999*diameter(X[0], 2)*prod_l(abs(skip) + sum_h(norm(W[l,h], 2)"
    "*tanh(norm(W_QK[l,h], 2)*diameter(X[l], 2)**2/(4*sqrt(d_qk)))))",
    "wu2024:1": "mu(X[L]) <= 0.999*sqrt(n/2)*product_norm(2)*mu(X[0])*(1 - least**r)**floor(L/r)",
    "wu2024:1-doeblin": "mu(X[L]) <= 0.999*sqrt(n/2)*product_norm(2)*mu(X[0])*prod_k(contraction(k))",
    "wu2024:cor1-step": "diameter(X[r], 2)**2 <= 0.999*(1 - least**(2*r))*diameter(X[0], 2)**2",
    "wu2024:anisotropy": "spectral_gap(w) <= 0.999*((shift_tokens(w) - shift_rank(w) + 1)**2 + shift_rank(w) - 2)/w**2",
    "own:hemisphere": "section(X[L]) <= 0.999*(1 - height()*least**r)**floor(L/r)*section(X[0])",
    "own:gamma-free-one-head": "residual(X[1], composite) <= 0.76*sqrt(2*expc(eta)*tanhc(eta/4)"
    "*q_max(P[0,0], composite)/d_qk)*norm(W_QK[0,0], 1)*norm(W[0,0], composite)*residual(X[0], composite)**3",
    "wang2022:1-repaired": "4*high_square(A, z, t)*(abs(stationary_mean(A, z)) - beta*(n - 1)/n)**2"
    " <= 0.999*beta**2*low_square(A, z, t)",
    "own:position-bias": "all_i(tail(P, i + 1) <= 0.999*(1 - (i + 1)*eps**reach)**floor(steps(P)/reach))",
    "own:position-bias-prefix": "all_i(tail(P, prefix + i) <= 0.999*max(0, 1 - (prefix + i)*eps)**steps(P))",
    "own:alibi-decay": "decay_tightness(E, a) <= 0.999",
    "own:spectrum": "subdominant(L) <= 0.999*mixing(L)",
    "own:dispersion": "largest_share(c) <= 0.999*exp(osc(c))/(exp(osc(c)) + count(c) - 1)",
    "zhai2023:3.1": "1.001*entropy_floor(n, logit_size(X, W)) <= row_entropy(X, W)",
    "own:softmax-gradient": "softmax_slope(c, T) <= 0.999/(2*T)",
    "own:zero-grad": "all_i(weight_gradient(Z, M, V, G, i) <= 0.999*value_spread(Z, V)*logit_shift(Z, M, G, i)/4)",
    "own:flow-step": "closing(C, beta) >= 2.001*rho*(1 - alpha)*min((1 + alpha)/(1 + rho),"
    " (1 + (n - 1)*alpha)/(1 + (n - 1)*rho))",
    "own:flow-step-odd": "closing(C, beta) >= 2.001*rho*(1 - alpha)*min((1 + alpha)*(n**2*(1 + rho) + 1 - rho)"
    "/(n**2*(1 + rho)**2 - (1 - rho)**2), (n*(1 + alpha) - (1 - alpha))/(n*(1 + rho) - (1 - rho)))",
    "own:escape": "cap_fall(X, w, beta) <= 0.999*sqrt(1 - cap_height(X, w)**2)*kappa/(1 + kappa)",
    "own:cluster": "pair_speed(X, beta) + 2*kappa/(1 + kappa)*min(sqrt(g*(2 - g)), g*(1 + (2 - g)*beta)) >= "
    "2.001*g*(2 - g)*rho/(m - 1 + rho + kappa)",
    "own:flow-step-usa": "closing_usa(C, beta) >= 2.001*exp(beta*alpha)*(1 - alpha)*(1 + (n - 1)*alpha)/n",
    "own:flow-one-cluster": "climb(lam, B, x, m) >= 1.001*off_axis(x)*(m*first_value(lam)"
    " - s*(first_value(lam) - least_value(lam)))/(m + s)",
    "own:flow-second-value": "tilting(lam, B, x, m) >= 1.001*(m*first_value(lam)"
    " - s*(first_value(lam) - second_value(lam)))/(m + s)",
    "own:flow-subspace": "rise(lam, c, x, m) >= 1.001*(m + 1)*exp(0 - abs(c)*largest_size(lam))*pace(lam, c, x, m)**2",
    "own:pre-norm-symmetric": "narrowing(lam, x, p)*forward(lam, x, p) <= 1 + 0.999*p*largest_rest(lam)/root_square(x)"
    " and narrowing(lam, x, p)*forward(lam, x, p) >= 1 + 1.001*p*least_rest(lam)/root_square(x)",
    "karagodin2024:subspace-two": "aligning(lam, M, B, X) >= 1.001*lam*lead(M, X)*sine_square(M, X)"
    "/(1 + exp(2*form_size(B)))",
    "yudin2025:softmax": "softmax_slope(c, T) <= 0.999*top_share(c, T, 1)*(1 - top_share(c, T, 1)"
    " + top_share(c, T, 2))/T",
    "own:attention-shares": "jacobian_norm() <= 0.999*norm(W[0,0], 2)*(norm(P[0,0], 2)"
    " + a*kappa*c*(c + norm(X[0], 2)))",
    "alman2025:one-layer": "moved(X[L]) <= 0.999*(prod_l(1 + sum_h(norm(W[l,h], 1))) - 1)*norm(X[0], max)",
    "own:hardmax-steps": "left_over(g) + 0.999*total(g) >= 1 and left_over(g) <= exp(-1.001*total(g))",
    "own:cluster-speed": "variance_fall(B, X, s) <= 0.99*2*variance(X)*exp(w)/least_value(s)",
    "own:merge-time": "pair_time(beta, u, v) <= 0.999*(v - u)*(1 + exp(-beta*(1 - u)))/(2*(1 - max(u**2, v**2)))",
    "own:until-collapse": "until_collapse(beta, u, c) <= 0.999*(c*beta + log(1 - u) + 2*(exp(x) - 1 - x)/x"
    " + (exp(x) - 1)/(beta*u))",
    "own:mean-field-rate": "(1 - v)/(1 + s*v) <= 0.999*exp(-a*log(s*v))",
    "own:circle-three": "u*exp(beta*(u**2/2 - 1)) <= 0.999*exp(-beta*u/2)",
    "own:lipschitz": "jacobian_norm() <= 0.999*norm(W[0,0], 2)*(sqrt(c*(1 + (a*R*diameter(X[0], 2)/2)**2))"
    " + a*diameter(X[0], 2)**2/4)",
    "own:repeat": "repeat_gap(X[1]) <= 0.999*(3 - 2*sqrt(2))*norm(W[0,0], 2)*diameter(X[0], 2)",
    "own:layernorm": "normed_mu(Y)**2 <= 0.999*(row_mu(Y)**2 - length_mu(Y)**2)/(r_1*r_2)",
    "own:lambda-skip-sphere": "all_l(diameter(X[l+1], 2) >= 1.001*diameter(X[l], 2)*(abs(skip) - norm(W[l,0], 2)"
    "*tanh(norm(W_QK[l,0], 2)*diameter(X[l], 2)**2/(4*sqrt(d_qk))))/(abs(skip) + norm(W[l,0], 2)))",
    "own:composite": "residual(X[L], composite) <= (1.07*gamma_star*B/sqrt(d_qk))**((3**L - 1)/2)"
    "*residual(X[0], composite)**(3**L)",
}


@pytest.mark.parametrize("key", BROKEN)
def test_a_claim_made_a_little_stronger_is_refuted_by_its_own_battery(key: str) -> None:
    # Not "open": no certificate of what is found is asked for, which for a large network takes long.
    entry = replace(statement(key), key="broken", formula=BROKEN[key], status="refuted", certificate=None, compare=None)
    battery = verify_statement(entry, instances=int(300 * entry.share), certify=4, search=0, seconds=0)
    assert battery.outcome == "REFUTED"
    assert battery.violations
    assert all(verdict.certified for _, verdict in battery.violations)


def two_equal_heads(rng: np.random.Generator) -> Iterator[NetworkInstance]:
    ones = np.ones((1, 2, 1, 1))
    yield NetworkInstance(rm.Network.from_arrays(ones, ones), np.array([[0.1], [-0.1]]), "two heads alike")


def test_heads_are_summed() -> None:
    """With the largest head in place of the sum the bound is false."""
    entry = replace(
        statement("own:diameter-cubic"),
        key="broken",
        where={"omega": "max_l(max_h(operator_norm(W[l,h], p)*form_norm(W_QK[l,h], p)))"},
        extremal=two_equal_heads,
        status="open",
    )
    assert verify_statement(entry, instances=4, certify=0, search=0, seconds=0).outcome == "REFUTED"


def test_the_search_climbs() -> None:
    """From random instances alone, the adversary comes nearer to equality."""
    entry = replace(statement("own:diameter"), draws=statement("own:diameter").draws[1:2], extremal=None)
    still = verify_statement(entry, instances=40, certify=0, seed=3, search=0)
    searched = verify_statement(entry, instances=40, certify=0, seed=3, search=300)
    assert still.tightest < searched.tightest <= 1


def test_batches_and_single_instances_agree() -> None:
    """One draw of 16 networks, evaluated at once and one by one: the same numbers."""
    plain = ("own:diameter", "own:skip-lower", "own:order", "dong2021:3.3", "wu2024:1", "own:hemisphere")
    near = ("own:zero-grad", "own:flow-step", "own:lipschitz", "barbero2024:4.2", "own:influence", "own:l2-lipschitz")
    for key in (*plain, *near, "own:layernorm", "own:lambda-skip-sphere"):
        entry = statement(key)
        batch = entry.draws[0](np.random.default_rng(5), 16)
        together = entry.evaluate(Float64(np.zeros(1)), batch)
        for i in range(len(batch)):
            alone = entry.evaluate(Float64(np.zeros(1)), batch.select(i))
            for many, one in zip(together.sides, alone.sides, strict=True):
                for side in ("left", "right"):
                    a, b = getattr(many, side), getattr(one, side)
                    assert np.allclose(np.broadcast_to(a.log, 16)[i], b.log, rtol=1e-12, atol=1e-12), key


@pytest.mark.parametrize("key", [key for key, entry in statements().items() if not entry.exact])
def test_float64_mpmath_and_balls_give_one_verdict(key: str, request: pytest.FixtureRequest) -> None:
    """One formula, three arithmetics: the same outcome wherever all decide, and the same logarithms."""
    entry = statement(key)
    # A thousand instances in all where there is time (--run-slow), some hundred otherwise.
    count = 36 if request.config.getoption("--run-slow") else 3
    decided = 0
    for seed in range(count):
        draw = entry.draws[seed % len(entry.draws)]
        batch = draw(np.random.default_rng([17, seed]), 1)
        instance = batch.select(0)
        found = [judge(entry, instance, arithmetic) for arithmetic in ("float64", "mpmath", "balls")]
        plain, digits, rigorous = found
        decided += rigorous.outcome != Outcome.UNDECIDED
        assert len({verdict.outcome for verdict in found} - {Outcome.UNDECIDED}) <= 1, seed
        if rigorous.outcome in (Outcome.HOLDS, Outcome.VIOLATED) and plain.outcome != Outcome.UNDECIDED:
            for verdict in (plain, digits):
                # A side below zero has no logarithm, in any arithmetic.
                assert verdict.log_lhs == pytest.approx(rigorous.log_lhs, rel=1e-9, abs=1e-9, nan_ok=True), seed
                assert verdict.log_rhs == pytest.approx(rigorous.log_rhs, rel=1e-9, abs=1e-9, nan_ok=True), seed
    assert decided > 0


def test_seeds_decide_everything() -> None:
    one, two = (verify_statement("own:diameter", instances=100, certify=3, seed=7, search=20) for _ in range(2))
    assert one.ratios == two.ratios
    assert verify_statement("own:diameter", instances=100, certify=3, seed=8, search=20).ratios != one.ratios


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: verify("own:nothing", 1, 2), "key"),
        (lambda: verify("own:tv", [0.0, math.nan], [0.0, 1.0]), "c"),
        (lambda: verify("own:tv", [0.0, 1.0], [0.0]), "g"),
        (lambda: verify("own:diameter", "net", [[0.0]]), "net"),
        (lambda: verify("own:diameter", TWO.net, [[0.0, 1.0]]), "X"),
        (lambda: verify("own:diameter", TWO.net, TWO.X, arithmetic="decimal"), "arithmetic"),
        (lambda: verify("own:diameter", TWO.net, TWO.X, bits=0), "bits"),
        (lambda: verify("own:diameter", TWO.net, np.stack([TWO.X, TWO.X])), "X"),
        (lambda: verify_statement("own:tv", instances=-1), "instances"),
        (lambda: verify_statement("own:tv", seed=1.5), "seed"),
        (lambda: verify("seed:closure", [[[0.5, 0.6], [0.0, 1.0]]]), "P"),
        (lambda: Statement("mine:x", "mu(X[0]) >= 0", status="conjecture"), "status"),
        (lambda: Statement("", "mu(X[0]) >= 0"), "key"),
        (lambda: Statement("mine:x", "mu(X[0]) >= 0", quantifier="most"), "quantifier"),
    ],
)
def test_bad_input_is_refused_by_name(call: Any, named: str) -> None:
    with pytest.raises(rm.InvalidArgument, match=f"^{named}: "):
        call()


@pytest.mark.parametrize(
    ("key", "net"),
    [
        *((key, rm.Network.from_arrays(ONES, 1e-3 * ONES, skip=True)) for key in ("own:diameter", "own:residual-inf")),
        *((key, rm.Network.from_arrays(ONES, 1e-3 * ONES, skip=True)) for key in ("dong2021:2.2", "dong2021:2.3")),
        *((key, rm.Network.from_arrays(ONES, ONES, mask="causal")) for key in ("own:diameter", "dong2021:3.2")),
        *((key, rm.Network.from_arrays(ONES, ONES, norm="column")) for key in ("own:diameter", "own:gamma-free")),
        *((key, rm.Network.from_arrays(ONES, ONES, mask=PADDED)) for key in ("own:order", "dong2021v1:2.2")),
        ("own:skip-lower", rm.Network.from_arrays(1e-3 * ONES, -ONES, skip=True, mask="causal")),
        ("own:skip-lower", rm.Network.from_arrays(ONES, ONES)),
        ("dong2021:3.1", rm.Network.from_arrays(ONES, ONES)),
    ],
)
def test_a_network_the_theorem_does_not_speak_of_is_not_applicable(key: str, net: rm.Network) -> None:
    for arithmetic in ("float64", "balls"):
        verdict = judge(statement(key), NetworkInstance(net, np.array([[0.1], [-0.1]])), arithmetic)
        assert verdict.outcome == Outcome.NOT_APPLICABLE
        assert verdict.reason.endswith("fails")


def test_key_padding_is_within_the_diameter_bound() -> None:
    net = rm.Network.from_arrays(ONES, ONES, mask=PADDED)
    assert judge(statement("own:diameter"), NetworkInstance(net, TWO.X), "balls").outcome == Outcome.HOLDS


DEGENERATE = {
    "skew W_QK, residual of rank one": ([[0.0, 1.0], [-1.0, 0.0]], np.eye(2), [[0.25, 0.0], [-0.25, 0.0]]),
    "semidefinite W_QK": ([[1.0, 0.0], [0.0, 0.0]], np.eye(2), [[0.0, 0.25], [0.0, -0.25]]),
    "a fixed point of size one": ([[1.0]], [[1.3130352854993312]], [[1.0], [-1.0]]),
    "one token": ([[1.0]], [[1.0]], [[0.1]]),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_the_order_is_not_claimed_of_degenerate_networks(name: str) -> None:
    W_QK, W, X = (np.asarray(a, dtype=float) for a in DEGENERATE[name])
    net = rm.Network.from_arrays(W_QK[None, None], W[None, None])
    for arithmetic in ("float64", "balls"):
        verdict = judge(statement("own:order"), NetworkInstance(net, X), arithmetic)
        assert verdict.outcome == Outcome.NOT_APPLICABLE, arithmetic


def test_paths_without_skips_refuse_a_network_with_them() -> None:
    net = rm.Network.random(tokens=3, dim=2, layers=2, seed=0, skip=True)
    with pytest.raises(rm.InvalidArgument, match=r"^net: .*2\.1-skip"):
        verify("dong2021:2.1", net, net.random_input())
    assert verify("dong2021:2.1-skip", net, net.random_input()).outcome == Outcome.HOLDS


@pytest.mark.parametrize("function", [rm.verify, rm.certify])
def test_too_few_and_too_many_arguments_are_named(function: Any) -> None:
    with pytest.raises(rm.InvalidArgument, match=r"^own:tv: missing a required argument: 'g'; it takes c, g$"):
        function("own:tv", [0.0])
    with pytest.raises(rm.InvalidArgument, match=r"^own:diameter: too many positional arguments; it takes net, X$"):
        function("own:diameter", 1, 2, 3)


def test_tilts_whose_exponentials_leave_a_double_are_decided_all_the_same() -> None:
    """softmax(−10⁵) is (1, 0) and the tilt takes it to (½, ½): half is less than tanh(25000)."""
    given = [0.0, -1e5], [0.0, 1e5]
    plain, balls = rm.verify("own:tv", *given), rm.verify("own:tv", *given, arithmetic="balls")
    assert plain.outcome == balls.outcome == Outcome.HOLDS
    assert balls.certified
    assert not plain.certified
    assert plain.log_lhs == pytest.approx(math.log(0.5), abs=1e-12)


def test_an_exhibit_that_the_search_finds_too_is_one_certificate() -> None:
    found = [c.id for c in rm.verify_statement("wu2024:L13", instances=3, seed=0).certificates]
    assert found
    assert len(found) == len(set(found))
