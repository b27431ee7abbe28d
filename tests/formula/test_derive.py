"""What follows from a bound by calculation: each step holds, and a wrong bound has no such step."""

from __future__ import annotations

import json
import math

import pytest
import sympy as sp
from click.testing import CliRunner

import rankmath as rm
from rankmath.claims import bound, statements
from rankmath.cli import main
from rankmath.formula.symbolic.derive import derivation
from rankmath.formula.symbolic.quantities import L

a, c = sp.symbols("a c", positive=True)
CUBIC = c ** ((3**L - 1) / 2) * a ** (3**L)


def reasons(proof: object) -> str:
    return "" if proof is None else " | ".join(step.reason for step in proof.steps)  # type: ignore[attr-defined]


def test_every_step_of_every_registered_bound_is_confirmed() -> None:
    derived = 0
    for key, entry in statements().items():
        try:
            found = entry.bound()
        except rm.InvalidArgument:
            continue  # no inequality
        proof = found.derivation
        derived += proof is not None
        assert proof is None or proof.proved, key
    assert derived >= 60


@pytest.mark.parametrize(
    "key", ["dong2021:2.2", "dong2021:2.3", "dong2021:3.2", "own:diameter-cubic", "own:residual-inf"]
)
def test_doubly_exponential_bounds_follow_from_one_layer_and_have_a_threshold(key: str) -> None:
    found = bound(key)
    said = reasons(found.derivation)
    assert "one layer more is f once more" in said
    assert "the bound falls if" in said
    # The threshold that is printed is where the bound stays, at every depth.
    threshold = sp.sympify(
        said.partition("f leaves ")[2].partition(" where it is")[0], {name: sp.Symbol(name) for name in found.symbols}
    )
    values = {name: 1.7 for name in found.symbols if name not in ("L", "d_qk", found.start)}
    at = float(threshold.subs({sp.Symbol(name): value for name, value in {**values, "d_qk": 3}.items()}))
    extra = {"d_qk": 3} if "d_qk" in found.symbols else {}
    for depth in (1, 3):
        log = found.evaluate(L=depth, **extra, **values, **{found.start: at})
        assert math.isclose(log, math.log(at), abs_tol=1e-9)


def test_a_letter_scales_the_bound_or_moves_it_one_way() -> None:
    said = reasons(derivation("mine", c**2 * sp.sqrt(a) / (1 + c), None))
    assert said == "s times a makes it sqrt(s) times as large | it grows with c"
    assert reasons(derivation("mine", c / (a + 1), None)) == "it falls with a | s times c makes it s times as large"
    # Of c(1 − c) nothing is said: it grows, then falls.
    assert derivation("mine", c * (1 - c), None) is None


def test_the_diameter_falls_below_the_root_of_the_coefficient() -> None:
    said = reasons(derivation("cubic", CUBIC, a))
    assert "the bound falls if a < 1/sqrt(c)" in said


@pytest.mark.parametrize(
    "wrong", [c ** ((3**L + 1) / 2) * a ** (3**L), c**L * a ** (3**L), c ** ((3**L - 1) / 2) * a ** (2**L)]
)
def test_a_form_that_is_not_its_own_iterate_is_not_derived(wrong: sp.Expr) -> None:
    assert "f once more" not in reasons(derivation("wrong", wrong, a))


def test_a_map_that_falls_is_not_iterated() -> None:
    # Bounds of a decreasing map do not chain: from x ≤ y follows f(x) ≥ f(y).
    assert "f once more" not in reasons(derivation("wrong", a ** ((-1) ** L), a))


def test_masks_have_a_factor_for_every_block() -> None:
    proof = bound("wu2024:1").derivation
    assert "every block of r layers multiplies it" in reasons(proof)
    (step,) = proof.steps  # type: ignore[union-attr]
    epsilon, r = sp.Symbol("epsilon", positive=True), sp.Symbol("r", integer=True, positive=True)
    k = sp.Symbol("k", integer=True, nonnegative=True)
    assert sp.simplify(step.right / step.right.subs(k, 0) / (1 - epsilon**r) ** k) == 1


def test_tanh_is_bounded_by_its_argument_from_the_right_side() -> None:
    assert "at most its linear form" in reasons(bound("own:tv").derivation)
    assert "at least its linear form" in reasons(bound("own:lambda-skip-sphere").derivation)
    assert "linear form" not in reasons(derivation("nothing", a + c, a))


def test_many_tokens_have_a_limit() -> None:
    n = sp.Symbol("n", integer=True, positive=True)
    proof = derivation("limit", (2 * n + 1) / (n + a), None)
    assert proof is not None
    assert proof.steps[0].right == 2
    assert "tends to" not in reasons(derivation("unbounded", n * a, None))


def test_the_command_shows_the_steps_of_a_statement_and_of_ones_own_claim() -> None:
    run = CliRunner().invoke
    assert "the bound falls if" in run(main, ["bound", "own:diameter", "--derive"]).output
    assert r"\begin{enumerate}" in run(main, ["bound", "own:diameter", "--derive", "--latex"]).output
    mine = run(main, ["bound", "--claim", "mu(X[L]) <= mu(X[0])*exp(-L/n)", "--derive", "--json"])
    assert json.loads(mine.output)["steps"][0]["text"].startswith("every layer multiplies it by the same factor")
    both = run(main, ["bound", "own:tv", "--claim", "n <= 1"])
    assert both.exit_code == 2
    assert "one is needed" in both.stderr
