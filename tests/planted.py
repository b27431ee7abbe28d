"""Plant single errors in the code and see whether the tests notice: ``python tests/planted.py [--only WORD]``.

Each entry is one edit of one file (a sign, a rounding direction, < for <=, a dropped hypothesis, the first layer
only, the center for the box, swapped roles, a constant) and the tests that should turn red. The edit is made in a
copy of the package; an edit that no test notices is a survivor, and is listed with its reason or makes the exit
code 1.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 900

_INTERVALS, _RULES = "tests/checker/test_intervals.py", "tests/checker/test_rules.py"
_NETWORK, _STATEMENTS = "tests/checker/test_network.py", "tests/checker/test_statements.py"
_EQUILIBRIA, _READING = "tests/checker/test_equilibria.py", "tests/checker/test_reading.py"


@dataclass(frozen=True)
class Plant:
    """One edit: the text that is replaced, which must occur once, and the tests that should see it."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    survives: str = ""  # why no test can see it, where that is so

    def planted(self, text: str) -> str:
        if text.count(self.old) != 1:
            raise SystemExit(
                f"{self.name}: {self.old!r} occurs {text.count(self.old)} times in {self.file}, once is needed"
            )
        return text.replace(self.old, self.new)


def _checker(part: str, name: str, old: str, new: str, *tests: str, survives: str = "") -> Plant:
    return Plant(name, f"rankmath/checker/{part}.py", old, new, tests, survives)


PLANTS = (
    _checker(
        "intervals",
        "alignment rounds the upper end down",
        "return self.lo >> -shift, -(-self.hi >> -shift)",
        "return self.lo >> -shift, self.hi >> -shift",
        f"{_INTERVALS}::test_what_is_far_below_is_rounded_outward_when_scales_are_aligned",
    ),
    _checker(
        "intervals",
        "rounding to bits takes the upper end down",
        "hi = -(-hi >> excess)  # rounds up",
        "hi >>= excess",
        f"{_INTERVALS}::test_binary_operations_contain_the_true_value",
    ),
    _checker(
        "intervals",
        "exp of very negative numbers is too small",
        "Interval(0, 1, -(2**20), bits)",
        "Interval(0, 1, -(2**21), bits)",
        f"{_INTERVALS}::test_the_exponential_of_very_negative_numbers_is_enclosed",
    ),
    _checker(
        "intervals",
        "exp without the tail of its series",
        "sum_high + term_high, -work",
        "sum_high, -work",
        f"{_INTERVALS}::test_exp_of_one_is_e_to_all_its_bits",
        f"{_INTERVALS}::test_exp_contains_the_true_value_from_minus_ten_thousand_to_ten_thousand",
        survives="the terms are rounded up, which covers a tail below the last bit; kept for the proof",
    ),
    _checker(
        "intervals",
        "square root rounded down above",
        "hi = math.isqrt((self.hi << shift) - 1) + 1 if self.hi else 0",
        "hi = math.isqrt(self.hi << shift)",
        f"{_INTERVALS}::test_unary_operations_contain_the_true_value",
    ),
    _checker(
        "intervals",
        "quotient divided by the wrong end",
        "(other.hi if self.lo >= 0 else other.lo)",
        "(other.lo if self.lo >= 0 else other.hi)",
        f"{_INTERVALS}::test_binary_operations_contain_the_true_value",
    ),
    _checker(
        "intervals",
        "<= decided by the lower end",
        "return True if a_high <= b_low else False",
        "return True if a_low <= b_low else False",
        f"{_INTERVALS}::test_comparisons_are_true_or_false_only_when_certain",
    ),
    _checker(
        "intervals",
        "< where ends touch",
        "return True if a_high < b_low else False",
        "return True if a_high <= b_low else False",
        f"{_INTERVALS}::test_comparisons_are_true_or_false_only_when_certain",
    ),
    _checker(
        "intervals",
        "radius rounded down",
        "r = (self.hi - self.lo + 1) >> 1",
        "r = (self.hi - self.lo) >> 1",
        f"{_INTERVALS}::test_the_middle_is_a_point_and_the_radius_reaches_both_ends",
    ),
    _checker(
        "intervals",
        "derivative of a quotient with the wrong sign",
        "moved = self - other.along(other.value, quotient)",
        "moved = self + other.along(other.value, quotient)",
        f"{_RULES}::test_every_rule_of_differentiation_at_a_point",
    ),
    _checker(
        "intervals",
        "derivative of a product drops a factor",
        "Dual(self.value * other.value, (left + right).grad)",
        "Dual(self.value * other.value, left.grad)",
        f"{_RULES}::test_derivatives_enclose_difference_quotients",
    ),
    _checker(
        "kernel",
        "products forget the second radius",
        "sum(map(operator.mul, r, map(operator.add, size2, r2)))",
        "sum(map(operator.mul, r, size2))",
        f"{_RULES}::test_a_product_of_boxes_holds_every_product_of_members",
    ),
    _checker(
        "kernel",
        "undecided counts as true",
        "return None if unknown else conjunction",
        "return conjunction",
        f"{_RULES}::test_truth_has_three_values",
    ),
    _checker(
        "rules",
        "negative dual weights",
        'demand(min(*p, *q) >= 0, "hints: a weight is negative")',
        "pass",
        f"{_RULES}::test_negative_weights_prove_nothing",
    ),
    _checker(
        "rules",
        "Krawczyk's Jacobian at the center",
        "jacobian(work, name, around(work, x, r))",
        "jacobian(work, name, x)",
        f"{_RULES}::test_the_derivative_is_taken_over_the_whole_box_and_not_at_its_center",
    ),
    _checker(
        "rules",
        "Krawczyk's step is forgotten",
        "total = abs(step[0]) + r * wrong",
        "total = r * wrong",
        f"{_RULES}::test_a_zero_is_found_where_there_is_one",
    ),
    _checker(
        "rules",
        "definiteness at the midpoint alone",
        "x.middle() + sign * rho if i == j else x.middle()",
        "x.middle()",
        f"{_RULES}::test_definiteness_over_a_box",
    ),
    _checker(
        "rules",
        "a center far from least passes",
        "below * (1 + Fraction(1, 2**20))",
        "below * (1 + Fraction(1, 2**4))",
        f"{_RULES}::test_a_center_must_be_least_up_to_a_small_factor",
    ),
    _checker(
        "rules",
        "an undecided hypothesis passes",
        "if truth is not True:\n                    break",
        "if truth is False:\n                    break",
        f"{_NETWORK}::test_every_hypothesis_is_checked",
        f"{_NETWORK}::test_an_undecided_hypothesis_does_not_pass",
    ),
    _checker(
        "rules",
        "kind is not looked at",
        'truth == (kind != "violates")',
        'truth == (kind != "nothing")',
        f"{_NETWORK}::test_a_claim_of_ones_own_holds_or_fails",
    ),
    _checker(
        "statements",
        "D <= x* in the first row only",
        '"all(D(i) <= x_star for i in range(n))"',
        '"all(D(i) <= x_star for i in range(1))"',
        f"{_STATEMENTS}::test_the_sandwich_holds_at_1_2564_and_breaks_at_1_2565",
    ),
    _checker(
        "statements",
        "total variation with a looser constant",
        '"sum(abs(p - q))/2 <= tanh((max(g) - min(g))/4)"',
        '"sum(abs(p - q))/2 <= tanh((max(g) - min(g))/2)"',
        f"{_STATEMENTS}::test_total_variation_near_equality_is_decided_and_equality_is_not",
    ),
    _checker(
        "statements",
        "a skip of nothing",
        ', "abs(skip) > 0")',
        ",)",
        f"{_STATEMENTS}::test_paths_refuse_attention_that_is_not_stochastic_too_many_paths_and_vacuous_skips",
    ),
    _checker(
        "statements",
        "attraction drops (1 - rate)",
        "drift < room*(1 - rate)*rho",
        "drift < room*rho",
        f"{_EQUILIBRIA}::test_each_condition_of_attraction_is_needed_by_itself",
    ),
    _checker(
        "statements",
        "the attracting box halved",
        "rho * length(R[d*i + a], 2)",
        "rho/2 * length(R[d*i + a], 2)",
        f"{_EQUILIBRIA}::test_mutations_are_rejected_or_true",
    ),
    _checker(
        "statements",
        "clusters with unequal shares",
        " and share(i) == share(leader(clusters[i]))",
        "",
        f"{_EQUILIBRIA}::test_clusters_that_the_mask_does_not_treat_alike",
    ),
    _checker(
        "statements",
        "key bias forgotten",
        " + [X[l] @ key_bias[l, h] for j in range(n)]) / sqrt(d_qk)",
        ") / sqrt(d_qk)",
        f"{_NETWORK}::test_quantities_of_tokens_and_attention",
    ),
    _checker(
        "statements",
        "1-norm and inf-norm exchanged",
        "norm(M, p) = max(sum(abs(c)) for c in T(M)) if p == 1",
        "norm(M, p) = max(sum(abs(c)) for c in M) if p == 1",
        f"{_NETWORK}::test_quantities_of_tokens_and_attention",
    ),
    _checker(
        "network_claims",
        "own:gamma-free with 8 for 2",
        "residual(X[1], composite) <= sqrt(2*expc(max_h(",
        "residual(X[1], composite) <= sqrt(8*expc(max_h(",
        f"{_NETWORK}::test_the_table_says_what_the_library_says",
    ),
    _checker(
        "checker",
        "a skip that no hypothesis names",
        'demand(named or data["skip"] == 0, "data.skip: the hypotheses allow no skip")',
        "pass",
        f"{_NETWORK}::test_every_hypothesis_is_checked",
    ),
    _checker(
        "checker",
        "equal tokens pass",
        'any(row != data["input"][0] for row in data["input"])',
        "True",
        f"{_NETWORK}::test_vacuous_instances_are_refused",
    ),
    _checker(
        "checker",
        "another claim under a registered key",
        'demand(same, f"claim, given',
        'demand(True, f"claim, given',
        f"{_NETWORK}::test_a_registered_key_cannot_carry_another_claim",
    ),
    _checker(
        "checker",
        "the id is not looked at",
        'content.get("id", found) == found',
        "True",
        f"{_READING}::test_hostile_text_is_rejected",
    ),
    Plant(
        "balls: attraction proved without (1 - rate)",
        "rankmath/equilibria/proofs.py",
        "self.exact * (1 - rate) * width",
        "self.exact * width",
        ("tests/equilibria",),
    ),
    Plant(
        "balls: contraction at the center",
        "rankmath/equilibria/proofs.py",
        "self.F.jacobian(box(self.X, reach))",
        "self.F.jacobian(self.X)",
        ("tests/equilibria",),
    ),
)


def survivors(plants: tuple[Plant, ...]) -> list[Plant]:
    """The plants that no test noticed."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("rankmath", "tests", "proofs"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "setup.cfg", copy)
        for plant in plants:
            path = copy / plant.file
            before = path.read_text(encoding="utf-8")
            path.write_text(plant.planted(before), encoding="utf-8")
            command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", *plant.tests]
            red = (
                subprocess.run(command, cwd=copy, capture_output=True, timeout=SECONDS, check=False).returncode == 1
            )
            path.write_text(before, encoding="utf-8")
            print(f"{'killed' if red else 'SURVIVED'}: {plant.name}", flush=True)
            if not red:
                found.append(plant)
    return found


def main(arguments: list[str] | None = None) -> int:
    """0 if every survivor has its reason."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="plants whose name or file contains this")
    parser.add_argument("--list", action="store_true", help="only say what would be planted")
    options = parser.parse_args(arguments)
    chosen = tuple(p for p in PLANTS if options.only in p.name or options.only in p.file)
    if options.list:
        print("\n".join(f"{p.file}: {p.name}" for p in chosen))
        return 0
    left = survivors(chosen)
    print(f"{len(chosen) - len(left)} of {len(chosen)} killed")
    for plant in left:
        print(f"survived: {plant.name}: {plant.survives or 'no reason known'}")
    return 1 if any(not plant.survives for plant in left) else 0


if __name__ == "__main__":
    sys.exit(main())
