"""Plant single errors in the code and see whether the tests notice: ``python tests/planted.py [--only WORD]``.

``--hand`` plants those of planted_by_hand.txt, ``--random 40 --seed 1 --only rankmath/checker`` edits that nobody
chose, in the files of `ROOMS`.

Each entry is one edit of one file (a sign, a rounding direction, < for <=, a dropped hypothesis, the first layer
only, the center for the box, swapped roles, a constant) and the tests that should turn red. The edit is made in a
copy of the package; an edit that no test notices is a survivor, and is listed with its reason or makes the exit
code 1.
"""

from __future__ import annotations

import argparse
import ast
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 900

_INTERVALS, _RULES = "tests/checker/test_intervals.py", "tests/checker/test_rules.py"
_NETWORK, _STATEMENTS = "tests/checker/test_network.py", "tests/checker/test_statements.py"
_EQUILIBRIA, _READING = "tests/checker/test_equilibria.py", "tests/checker/test_reading.py"
_PROVERS, _ENCLOSURES = "tests/equilibria/test_tests_in_balls.py", "tests/linalg/test_enclosures.py"
_EVALUATORS, _AGREEMENT = "tests/formula/test_evaluators.py", "tests/checker/test_agreement.py"


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
        if len(self.new) > len(text) // 2:  # the whole text, edited
            return self.new
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
        "<= where the intervals overlap",
        "return None if above is None else not above",
        "return not above",
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
        "primitives",
        "derivative of a quotient with the wrong sign",
        "(1 / b, -z / b)",
        "(1 / b, z / b)",
        f"{_RULES}::test_every_rule_of_differentiation_at_a_point",
    ),
    _checker(
        "primitives",
        "derivative of a product drops a factor",
        "(b, a))",
        "(b, 0))",
        f"{_RULES}::test_every_rule_of_differentiation_at_a_point",
    ),
    _checker(
        "rules",
        "a far inverse shows a regular matrix",
        "small_rows(E) = all(sum(abs(row)) < 1 for row in E)",
        "small_rows(E) = all(sum(abs(row)) < 2 for row in E)",
        f"{_RULES}::test_definiteness_over_a_box",
        f"{_RULES}::test_no_advice_makes_a_rule_say_what_is_false",
    ),
    _checker(
        "rules",
        "a guess at the least eigenvalue is believed",
        "v[0][0] if certain(positive_definite(A - v[0][0]*identity(len(A)))) else",
        "v[0][0] if 1 > 0 else",
        f"{_RULES}::test_no_advice_makes_a_rule_say_what_is_false",
    ),
    _checker(
        "rules",
        "zero times a matrix spans it",
        "certain(abs(D) > 0 and D*A == ",
        "certain(D*A == ",
        f"{_RULES}::test_no_advice_makes_a_rule_say_what_is_false",
    ),
    _checker(
        "rules",
        "a logarithm is what is guessed",
        "log_near(x, g) = g + log_by(x*exp(0 - g))",
        "log_near(x, g) = g",
        f"{_RULES}::test_no_advice_makes_a_rule_say_what_is_false",
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
        "if all(w >= 0 for w in p) and all(w >= 0 for w in q) else a_weight_is_negative",
        "",
        f"{_RULES}::test_negative_weights_prove_nothing",
    ),
    _checker(
        "rules",
        "Krawczyk's Jacobian at the center",
        "Y @ jacobian(f, around(x, r))",
        "Y @ jacobian(f, x)",
        f"{_RULES}::test_the_derivative_is_taken_over_the_whole_box_and_not_at_its_center",
    ),
    _checker(
        "rules",
        "Krawczyk's step is forgotten",
        "all(abs(step[i]) + r*sum(abs(wrong[i])) < r",
        "all(r*sum(abs(wrong[i])) < r",
        f"{_RULES}::test_a_zero_is_found_where_there_is_one",
    ),
    _checker(
        "rules",
        "definiteness at the midpoint alone",
        "congruent(A, C) = C @ A @ T(C)",
        "congruent(A, C) = C @ middle(A) @ T(C)",
        f"{_RULES}::test_definiteness_over_a_box",
    ),
    _checker(
        "rules",
        "a center far from least passes",
        "at_least(X, kind)*(1 + 1/2**20)",
        "at_least(X, kind)*(1 + 1/2**4)",
        f"{_RULES}::test_a_center_must_be_least_up_to_a_small_factor",
    ),
    _checker(
        "kernel",
        "an undecided hypothesis passes",
        "if truth is not True:\n                    break",
        "if truth is False:\n                    break",
        f"{_NETWORK}::test_every_hypothesis_is_checked",
        f"{_NETWORK}::test_an_undecided_hypothesis_does_not_pass",
    ),
    _checker(
        "kernel",
        "kind is not looked at",
        'truth == (kind != "violates")',
        'truth == (kind != "nothing")',
        f"{_NETWORK}::test_a_claim_of_ones_own_holds_or_fails",
    ),
    _checker(
        "rules",
        "a mean forgets how attention moves",
        " + linked(0, p*(plain(C[a]) - y[a]), l)",
        "",
        f"{_RULES}::test_derivatives_enclose_difference_quotients",
    ),
    _checker(
        "rules",
        "a token of length one moves along itself",
        "(1 - u[b]**2 if c == b else",
        "(1 if c == b else",
        f"{_RULES}::test_derivatives_enclose_difference_quotients",
    ),
    _checker(
        "rules",
        "the box of the contraction shrinks to its center",
        "boxed(x, w, size) = around(x, size*w)",
        "boxed(x, w, size) = around(x, 0*w)",
        f"{_EQUILIBRIA}::test_a_contraction_is_shown_over_the_whole_box",
    ),
    _checker(
        "rules",
        "the contraction drops (1 - rate)",
        "rests(x, W, V, m, w, (1 - rate)*size)",
        "rests(x, W, V, m, w, size)",
        f"{_EQUILIBRIA}::test_a_contraction_is_shown_over_the_whole_box",
    ),
    _checker(
        "rules",
        "the contraction forgets how a token's own query moves",
        "T([K[j] + q if j == i else K[j] for j in range(len(a))])",
        "T([q if j == i else 0*q for j in range(len(a))])",
        f"{_RULES}::test_the_derivative_of_rule_six_is_that_of_the_map",
    ),
    _checker(
        "rules",
        "the contraction looks at its own block alone",
        "o[k]*(w[k] @ abs(S + [t*Z[k] for t in q]))",
        "0*(w[k] @ abs(S + [t*Z[k] for t in q]))",
        f"{_RULES}::test_the_derivative_of_rule_six_is_that_of_the_map",
    ),
    _checker(
        "rules",
        "small attention is forgotten",
        "apart(o, w, q, S, Z) = o @ w @ abs(S) + ",
        "apart(o, w, q, S, Z) = ",
        f"{_RULES}::test_the_derivative_of_rule_six_is_that_of_the_map",
    ),
    _checker(
        "rules",
        "corners outside raise the bound",
        "possible(w[0]*c[0] + w[1]*c[1] >= w[2])",
        "possible(w[0]*c[0] + w[1]*c[1] <= w[2])",
        f"{_RULES}::test_any_weights_prove_a_true_line_and_any_lines_a_true_bound",
    ),
    _checker(
        "statements",
        "an MLP forgets its bias",
        "bent(y @ W_in[l] + b_in[l], mlp[l])",
        "bent(y @ W_in[l], mlp[l])",
        f"{_NETWORK}::test_maps_of_single_tokens_are_those_of_the_library",
    ),
    _checker(
        "statements",
        "column LayerNorm divides by n - 1",
        "sqrt(sum((c - sum(c)/n)**2) / n)",
        "sqrt(sum((c - sum(c)/n)**2) / (n - 1))",
        f"{_NETWORK}::test_layernorm_over_columns_is_that_of_the_library",
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
    *(
        Plant(name, f"rankmath/formula/{part}.py", old, new, (_EVALUATORS,))
        for part, name, old, new in (
            (
                "numbers",
                "a difference of logarithms is a sum",
                "np.where(same < 0, np.log(",
                "np.where(same > 0, np.log(",
            ),
            (
                "numbers",
                "what cancelled in a factor is forgotten",
                "np.maximum(_sum(self.top, other.log), ",
                "np.maximum(log, ",
            ),
            (
                "numbers",
                "an even power keeps the sign",
                "sign = self.sign if odd else",
                "sign = self.sign if not odd else",
            ),
            ("numbers", "1/0 is a number", "zero = other.sign == 0\n", "zero = other.sign == 2\n"),
            ("evaluate", ">= is read as <=", 'if operator in (">=", ">"):', 'if operator in ("<=", "<"):'),
            (
                "evaluate",
                "balls decide at their middle",
                "bool(left <= right), bool(left > right)",
                "bool(left.mid() <= right.mid()), bool(left > right)",
            ),
            (
                "evaluate",
                "doubles decide within their rounding",
                "clear = difference.log > margin",
                "clear = difference.log > margin - 9",
            ),
            (
                "evaluate",
                "the larger of two is the smaller",
                "def larger(self, a: Signed, b: Signed) -> Signed:\n        return a.max(b)",
                "def larger(self, a: Signed, b: Signed) -> Signed:\n        return a.min(b)",
            ),
        )
    ),
    Plant(
        "attention: the softmax is taken from the least logit",
        "rankmath/attention/softmax.py",
        "half - xp.max(half, axis=-1, keepdims=True)",
        "half - xp.min(half, axis=-1, keepdims=True)",
        ("tests/attention/test_softmax.py",),
    ),
    Plant(
        "attention: a mask hides what it allows",
        "rankmath/attention/softmax.py",
        "xp.where(_allowed(logits, mask), logits, xp.full_like(logits, -xp.inf))",
        "xp.where(_allowed(logits, mask), xp.full_like(logits, -xp.inf), logits)",
        ("tests/attention/test_softmax.py",),
    ),
    Plant(
        "attention: column LayerNorm divides by n - 1",
        "rankmath/attention/maps.py",
        "deviation = A.nonzero(A.sqrt(A.sum(R * R, axis=-2) / n))",
        "deviation = A.nonzero(A.sqrt(A.sum(R * R, axis=-2) / (n - 1)))",
        (f"{_NETWORK}::test_layernorm_over_columns_is_that_of_the_library",),
    ),
    Plant(
        "search: the adversary goes downhill",
        "rankmath/search/adversary.py",
        "better = score > camp.score",
        "better = score < camp.score",
        ("tests/search/test_search.py::test_each_climber_goes_uphill_and_keeps_scores_and_arrays_together",),
    ),
    Plant(
        "search: scores and arrays part",
        "rankmath/search/adversary.py",
        "camp.score[order[-quarter:]] = camp.score[parents]",
        "camp.score[order[-quarter:]] = camp.score[order[:quarter]]",
        ("tests/search/test_search.py::test_each_climber_goes_uphill_and_keeps_scores_and_arrays_together",),
    ),
    Plant(
        "search: the shrinker keeps what violates nothing",
        "rankmath/search/shrink.py",
        "if found.outcome == Outcome.VIOLATED and found.certified:",
        "if found.outcome != Outcome.VIOLATED and found.certified:",
        ("tests/search/test_search.py::test_the_shrinker_keeps_only_what_violates",),
    ),
    Plant(
        "equilibria: discs are not moved to the eigenvalues",
        "rankmath/equilibria/contraction.py",
        "own[b, b] -= ball(value)",
        "own[b, b] += ball(value)",
        ("tests/equilibria/test_designs.py",),
    ),
    Plant(
        "balls: attraction proved without (1 - rate)",
        "rankmath/equilibria/attraction.py",
        "self.exact * (1 - rate) * width",
        "self.exact * width",
        ("tests/equilibria",),
    ),
    Plant(
        "balls: contraction at the center",
        "rankmath/equilibria/attraction.py",
        "self.F.jacobian(box(self.X, reach))",
        "self.F.jacobian(self.X)",
        ("tests/equilibria",),
    ),
)


def by_hand() -> tuple[Plant, ...]:
    """The edits of planted_by_hand.txt."""
    found, file, tests, old = [], "", list[str](), ""
    for line in (ROOT / "tests/planted_by_hand.txt").read_text(encoding="utf-8").splitlines():
        text = line[2:].replace("\\n", "\n")
        match line[:2]:
            case "@ ":
                file, *tests = text.split()
            case "- ":
                old = text
            case "+ ":
                found.append(Plant(f"{old} -> {text}", file, old, text, tuple(tests)))
    return tuple(found)


def fits(plant: Plant) -> bool:
    """Whether the text that a plant replaces still stands in its file, once."""
    path = ROOT / plant.file
    return path.exists() and path.read_text(encoding="utf-8").count(plant.old) == 1


#: Where random edits are planted, and the tests that should see them, beside the examples of the file itself.
ROOMS = {
    "rankmath/checker/intervals.py": (_INTERVALS, _RULES),
    "rankmath/checker/kernel.py": (_RULES, _NETWORK, _STATEMENTS, _EQUILIBRIA),
    "rankmath/checker/rules.py": (_RULES, _NETWORK, _STATEMENTS, _EQUILIBRIA),
    "rankmath/checker/primitives.py": (_READING, _RULES, _NETWORK, _STATEMENTS, _EQUILIBRIA),
    "rankmath/checker/statements.py": (
        _AGREEMENT,
        _NETWORK,
        _STATEMENTS,
        _EQUILIBRIA,
        "tests/checker/test_forgeries.py",
    ),
    "rankmath/checker/network_claims.py": (_NETWORK,),
    "rankmath/checker/reading.py": (_READING, _NETWORK),
    "rankmath/formula/evaluate.py": (_EVALUATORS, "tests/formula", "tests/verification", "tests/claims"),
    "rankmath/formula/run.py": (_AGREEMENT, "tests/formula", "tests/verification", "tests/claims"),
    "rankmath/formula/quantities.py": (_AGREEMENT, "tests/formula", _NETWORK, "tests/verification", "tests/claims"),
    "rankmath/formula/numbers.py": (_EVALUATORS, "tests/formula", "tests/verification"),
    "rankmath/verification/judge.py": ("tests/verification", "tests/claims"),
    "rankmath/arithmetic/ball_matrices.py": ("tests/arithmetic", "tests/dynamics"),
    "rankmath/equilibria/proofs.py": (_PROVERS, "tests/equilibria"),
    "rankmath/equilibria/attraction.py": (_PROVERS, "tests/equilibria"),
    "rankmath/equilibria/contraction.py": (_PROVERS, "tests/equilibria/test_designs.py"),
    "rankmath/equilibria/balls.py": (
        _PROVERS,
        "tests/equilibria/test_certify.py",
        "tests/equilibria/test_designs.py",
    ),
    "rankmath/linalg/enclosures.py": (_ENCLOSURES, "tests/dynamics/test_enclosures.py"),
    "rankmath/linalg/norms.py": (_ENCLOSURES, "tests/linalg/test_norms.py"),
    "rankmath/arithmetic/balls.py": ("tests/arithmetic/test_balls.py", "tests/arithmetic/test_ball_matrices.py"),
    "rankmath/attention/softmax.py": (_AGREEMENT, "tests/attention", "tests/dynamics"),
    "rankmath/attention/maps.py": (_NETWORK, "tests/dynamics"),
    "rankmath/search/shrink.py": ("tests/search",),
    "rankmath/search/adversary.py": ("tests/search",),
}
_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_NAMES = {"min": "max", "max": "min", "lo": "hi", "hi": "lo", "all": "any", "any": "all", "floor": "ceil"}
#: In a claim or a definition that is written as text.
_WORDS = {
    "<=": "<",
    "<": "<=",
    " + ": " - ",
    " - ": " + ",
    "max(": "min(",
    "min(": "max(",
    "*": "+",
    "2": "3",
    "1": "2",
}


#: Lines on which an edit may go unnoticed, and why: what only guides or limits an effort, and proves nothing.
HARMLESS = {
    "_DIGITS = ": "a digit more of what is not rigorous anyway",
    "MOST_BITS = ": "how long an undecided comparison is refined",
    "level = np.where(known.above": "open sides are equal as far as is known: a violated one exceeds them",
    "_SHORT = ": "bits of matrices that need not be accurate",
    "_NEWTON_STEPS = ": "steps before a search gives up",
    "_SHARES = ": "norms that are tried; the best is taken",
    "_FEW_SHARES, _LARGE = ": "norms that are tried; the best is taken",
    "_SHRINK": "sets that are tried, each proved or not",
    "_SQUARINGS": "how well the spectral radius is guessed",
    "radius = arb(2) ** -(6 * bits": "a box of any radius proves, if Krawczyk's test closes on it",
    "_GENERATIONS, _MOST_NUMBERS": "effort of a search",
    "_STARTS = ": "effort of a search",
    "_FIRST_ROOMS = ": "effort of a search",
    "_POPULATION = ": "effort of a search",
    "_ROUNDS = ": "effort of a search",
    "kept = exact >= ": "scores that differ by exactly 1e-9 do not occur",
    "bits + 16": "guard bits",
}


def edits(text: str, file: str) -> Iterator[Plant]:
    """Every small edit of a file: operators, comparisons, ends and roles exchanged, constants moved by one."""
    tree = ast.parse(text)
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    data = text.encode()
    quiet = {id(inner) for node in ast.walk(tree) for inner in _no_code(node)}

    def plant(node: ast.AST, new: str, name: str = "") -> Plant:
        assert isinstance(node, ast.expr)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        first = starts[node.lineno - 1] + node.col_offset
        last = starts[node.end_lineno - 1] + node.end_col_offset
        old = data[first:last].decode()
        edit = (data[:first].decode() + new, data[last:].decode())
        line = text.splitlines()[node.lineno - 1]
        why = next((reason for part, reason in HARMLESS.items() if part in line), "")
        return Plant(
            name or f"line {node.lineno}: {old} -> {new}", file, old, "".join(edit), (*ROOMS[file], file), why
        )

    for node in ast.walk(tree):
        if id(node) in quiet:
            continue
        if isinstance(node, ast.Constant) and type(node.value) is int:
            yield plant(node, str(node.value + 1))
        elif (
            isinstance(node, ast.Constant)
            and type(node.value) is str
            and file.endswith(("statements.py", "claims.py", "rules.py"))
        ):
            for match in re.finditer("|".join(map(re.escape, _WORDS)), node.value):
                new = node.value[: match.start()] + _WORDS[match.group()] + node.value[match.end() :]
                before = node.value[: match.start()].rpartition("\n")[2]
                if not before.startswith("#"):
                    after = node.value[match.end() :].partition("\n")[0]
                    change = f"[{match.group()} -> {_WORDS[match.group()]}]"
                    yield plant(node, repr(new), f"line {node.lineno}: {before[-30:]}{change}{after[:30]}")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
            yield plant(node, f"({ast.unparse(node.operand)})")
        elif isinstance(node, ast.Name) and node.id in _NAMES:
            yield plant(node, _NAMES[node.id])
        elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
            yield plant(node, f"{ast.unparse(node.value)}.{_NAMES[node.attr]}")
        else:
            for field in ("op", "ops"):
                operator = getattr(node, field, None)
                operator = operator[0] if isinstance(operator, list) else operator
                if type(operator) in _SWAPS and isinstance(node, ast.expr):
                    new = _SWAPS[type(operator)]()
                    changed = ast.parse(ast.unparse(node), mode="eval").body
                    setattr(changed, field, [new, *changed.ops[1:]] if isinstance(changed, ast.Compare) else new)
                    yield plant(node, f"({ast.unparse(changed)})")


def _no_code(node: ast.AST) -> Iterator[ast.AST]:
    """Annotations, docstrings and what an f-string prints."""
    for name in ("annotation", "returns"):
        if getattr(node, name, None) is not None:
            yield from ast.walk(getattr(node, name))
    if isinstance(node, ast.Expr | ast.JoinedStr | ast.Raise):
        yield from (inner for inner in ast.walk(node) if not isinstance(node, ast.Expr) or _is_text(node))


def _is_text(node: ast.Expr) -> bool:
    return isinstance(node.value, ast.Constant)


def chosen_at_random(count: int, seed: int, only: str) -> tuple[Plant, ...]:
    """`count` edits of the files of `ROOMS` whose name contains `only`, the files in turn."""
    rng = random.Random(seed)
    files = [file for file in ROOMS if only in file]
    pools = [list(edits((ROOT / file).read_text(encoding="utf-8"), file)) for file in files]
    for pool in pools:
        rng.shuffle(pool)
    turns = (pool[i] for i in range(count) for pool in pools if i < len(pool))
    return tuple(plant for _, plant in zip(range(count), turns, strict=False))


def survivors(plants: Sequence[Plant], jobs: int = 1) -> list[Plant]:
    """The plants that no test noticed."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for job in range(jobs):
            copy = Path(folder) / str(job)
            for name in ("rankmath", "tests", "proofs", "docs"):
                shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(ROOT / "setup.cfg", copy)
            copies.put(copy)
        noticed = list(pool.map(lambda plant: _noticed(plant, copies), plants))
    return [plant for plant, red in zip(plants, noticed, strict=True) if not red]


def _noticed(plant: Plant, copies: queue.SimpleQueue[Path]) -> bool:
    """Whether a test fails, or hangs, on a copy of the package with the edit, and not without it."""
    copy = copies.get()
    path = copy / plant.file
    before = path.read_text(encoding="utf-8")
    while True:
        path.write_text(plant.planted(before), encoding="utf-8")
        failing = _failing(plant.tests, copy)
        path.write_text(before, encoding="utf-8")
        if failing is None or _failing([failing] if failing else plant.tests, copy) is None:
            break
        if not failing or failing in _SPOILT:
            raise SystemExit(f"{' '.join(plant.tests)}: red without any edit, so it notices nothing")
        _SPOILT.add(failing)
        print(f"{failing}: red without any edit, left out", flush=True)
    copies.put(copy)
    print(f"{'SURVIVED' if failing is None else 'killed'}: {plant.file}: {plant.name}", flush=True)
    return failing is not None


#: Tests that fail when nothing is planted.
_SPOILT: set[str] = set()


def _failing(tests: Sequence[str], copy: Path) -> str | None:
    """The first test that fails; no name where they hang or cannot be imported; None if all pass."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-rfE",
        "--no-header",
        "--tb=no",
        "-p",
        "no:xdist",
        *tests,
    ]
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    settings = {**ours, "PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command += [f"--deselect={name}" for name in sorted(_SPOILT)]
    try:
        done = subprocess.run(command, cwd=copy, env=settings, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return ""
    if done.returncode in (0, 5):  # all pass, or all are left out
        return None
    found = re.search(r"^(?:FAILED|ERROR) ([^\s\[]+)", done.stdout.decode(), re.MULTILINE)
    return found.group(1) if found else ""


def main(arguments: list[str] | None = None) -> int:
    """0 if every survivor has its reason."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="plants whose name or file contains this")
    parser.add_argument("--list", action="store_true", help="only say what would be planted")
    parser.add_argument("--hand", action="store_true", help="plant the edits of planted_by_hand.txt")
    parser.add_argument("--random", type=int, default=0, help="plant so many edits that nobody chose")
    parser.add_argument("--seed", type=int, default=0, help="seed of --random")
    parser.add_argument("--jobs", type=int, default=1, help="plants tried at once")
    options = parser.parse_args(arguments)
    plants = tuple(filter(fits, by_hand())) if options.hand else PLANTS
    chosen = tuple(p for p in plants if options.only in p.name or options.only in p.file)
    if options.random:
        chosen = chosen_at_random(options.random, options.seed, options.only)
    if options.list:
        print("\n".join(f"{p.file}: {p.name}" for p in chosen))
        return 0
    left = survivors(chosen, options.jobs)
    print(f"{len(chosen) - len(left)} of {len(chosen)} killed")
    for plant in left:
        print(f"survived: {plant.file}: {plant.name}: {plant.survives or 'no reason known'}")
    return 1 if any(not plant.survives for plant in left) else 0


if __name__ == "__main__":
    sys.exit(main())
