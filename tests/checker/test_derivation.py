"""Derivations: every rule refuses what does not follow, and no damaged derivation is accepted."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from rankmath.checker import checker
from rankmath.checker.derivation import Derivation
from rankmath.checker.export import standalone
from rankmath.checker.intervals import Rejected
from rankmath.checker.monomials import constant_sign, expanded, normal, poly_text, read_tree
from rankmath.decide.prover import prove
from rankmath.verification.statement import Statement

ALONE = ("mask == none", "layernorm == none", "mlp == none", "skip == 0")
CLAIMS = (
    ("mu(X[1]) <= sqrt(n)*norm(W[0,0], 2)*mu(X[0])", ("heads == 1",)),
    ("diameter(X[1], 1) <= H*max_h(norm(W[0,h], inf))*diameter(X[0], 1)", ()),
    ("mu(X[0]) <= sqrt((n - 1)/2)*diameter(X[0], 1)", ()),
    ("diameter(X[L], 1) <= prod_l(norm(W[l,0], inf))*diameter(X[0], 1)", ("heads == 1",)),
    ("dobrushin(P[0,0]) <= tanh(norm(W_QK[0,0], frobenius)*diameter(X[0], 2)**2/(4*sqrt(d_qk)))", ("heads == 1",)),
    ("log(n) - logit_range(P[0,0])**2/8 <= entropy(P[0,0])", ("heads == 1",)),
    (
        "diameter(X[1], 2) <= diameter(X[0], 2)**3/4",
        ("heads == 1", "norm(W[0,0], 2) <= 1", "norm(W_QK[0,0], 2) <= sqrt(d_qk)"),
    ),
    ("exp(logit_range(P[0,0])) <= 37/5 + logit_range(P[0,0])/100", ("heads == 1", "logit_range(P[0,0]) <= 2")),
)


@pytest.fixture(scope="module")
def derivations() -> list[dict[str, Any]]:
    found = []
    for claim, given in CLAIMS:
        statement = Statement("mine:claim", claim, given)
        proof = prove(statement.claim_text, statement.given_texts, seconds=30)
        assert proof is not None
        content = json.loads(proof.certificate().text())
        content.pop("id")
        assert checker.check_text(json.dumps(content)).accepted
        found.append(content)
    return found


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, (*path, name))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from leaves(part, (*path, place))
    else:
        yield path, value


def damaged(content: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    found = copy.deepcopy(content)
    inner: Any = found
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return found


def damages(content: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Stronger claims with their old proofs, and proofs that are changed in one place."""
    left, sign, right = content["claim"].partition(" <= ")
    stronger = f"{left} <= ({right})*9/10" if not left.startswith("log") else f"{left} + 1/10 <= {right}"
    changed = damaged(content, ("claim",), stronger)
    yield "the claim", changed
    last = content["data"]["lines"][-1]["says"]
    a, _, b = last.partition(" <= ")
    end = len(content["data"]["lines"]) - 1
    yield "the claim and the last line", damaged(changed, ("data", "lines", end, "says"), f"{a} <= ({b})*9/10")
    assert sign
    for text in content["given"]:
        if text.startswith("norm") or (text == "H == 1" and "W[" in content["claim"]):
            yield "a hypothesis", damaged(content, ("given",), [part for part in content["given"] if part != text])
    for path, value in leaves(content["data"]["lines"], ("data", "lines")):
        if path[-1] == "says":
            x, op, y = value.partition(" <= ") if " <= " in value else value.partition(" < ")
            yield "a side", damaged(content, path, f"{x}{op}({y})*9/10")
            yield "turned round", damaged(content, path, f"{y}{op}{x}")
        elif path[-1] == "name":
            yield "another lemma", damaged(content, path, "d-one" if value != "d-one" else "n-one")
            yield "no lemma", damaged(content, path, "no-such-lemma")
        elif path[-2:-1] == ("at",) and value.isdigit():
            yield "another place", damaged(content, path, str(int(value) + 1))
        elif path[-1] == 1 and isinstance(value, str):
            yield "a power", damaged(content, path, str(Fraction(value) + Fraction(1, 2)))
            yield "a negative power", damaged(content, path, str(-Fraction(value)) if value != "0" else "-1")
        elif isinstance(value, int):
            yield "a line that follows", damaged(content, path, len(content["data"]["lines"]) + 1)
        elif path[-1] == "by":
            yield "another rule", damaged(content, path, "hypothesis" if value != "hypothesis" else "product")
    for number in range(len(content["data"]["lines"])):
        fewer = [line for i, line in enumerate(content["data"]["lines"]) if i != number]
        yield "a line left out", damaged(content, ("data", "lines"), fewer)


def test_two_hundred_damaged_derivations_are_all_rejected(derivations: list[dict[str, Any]]) -> None:
    every = [(kind, made) for content in derivations for kind, made in damages(content)]
    chosen = random.Random(0).sample(every, min(len(every), 260))
    assert len(chosen) >= 200
    accepted = [(kind, made["claim"]) for kind, made in chosen if checker.check_text(json.dumps(made)).accepted]
    assert not accepted


def test_the_checker_as_one_file_accepts_derivations(tmp_path: Path, derivations: list[dict[str, Any]]) -> None:
    (tmp_path / "checker.py").write_text(standalone(), encoding="utf-8")
    (tmp_path / "one.json").write_text(json.dumps(derivations[0]))
    (tmp_path / "two.json").write_text(json.dumps(damaged(derivations[0], ("claim",), "mu(X[1]) <= mu(X[0])")))
    run = [sys.executable, "-I", "checker.py"]
    said = subprocess.run([*run, "one.json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout
    assert "attention-spectral: Coq: " in said.stdout
    assert subprocess.run([*run, "two.json"], cwd=tmp_path, capture_output=True, check=False).returncode == 1


def refused(claim: str, given: tuple[str, ...], *lines: dict[str, Any]) -> str:
    """Why the last of these lines is refused."""
    work = Derivation(claim, given)
    for line in lines[:-1]:
        work.add(line)
    with pytest.raises(Rejected) as why:
        work.add(lines[-1])
    return str(why.value)


def lemma(says: str, name: str, **at: str) -> dict[str, Any]:
    return {"says": says, "by": "lemma", "name": name, "at": at}


ANY = "mu(X[0]) <= mu(X[0])"


def test_a_diameter_that_may_be_zero_is_not_cancelled() -> None:
    longer = lemma("diameter(X[0], 2) <= diameter(X[0], 1)", "diameter-2-1", t="0")
    wider = lemma("diameter(X[0], 1) <= sqrt(d)*diameter(X[0], 2)", "diameter-1-2", t="0")
    circle = {"says": "1 <= sqrt(d)", "by": "product", "of": [[1, "1"], [2, "1"]]}
    assert "may be zero" in refused(ANY, ALONE, longer, wider, circle)


def test_a_lemma_holds_where_its_hypotheses_do() -> None:
    masked = ("mask == causal", *ALONE[1:])
    says = "dobrushin(P[0, 0]) <= 1 - n*epsilon(P[0, 0])"
    assert "needs mask == none" in refused(ANY, masked, lemma(says, "dobrushin-epsilon", l="0", h="0"))
    says = "tanh(skip) <= skip"
    assert "needs 0 <= skip" in refused(ANY, ALONE[:3], lemma(says, "tanh-id", x="skip"))
    says = "diameter(X[1], 2) <= sum_h(norm(W[0, h], 2)*dobrushin(P[0, h]))*diameter(X[0], 2)"
    assert "needs" in refused(ANY, ALONE[:3], lemma(says, "layer-dobrushin[2]", l="0"))


@pytest.mark.parametrize(
    "switch", ["norm_at == before", "norm_at == any", "mlp == any", "mlp == relu", "softcap == any"]
)
def test_logits_are_those_of_the_tokens_only_where_attention_reads_them(switch: str) -> None:
    """A norm or an MLP in front of attention: what it reads is not X[l]."""
    given = (switch, "layernorm == any", "mask == none", "query_bias == none", "skip == 0")
    given += () if switch.startswith("mlp") else ("mlp == none",)
    says = "logit_range(P[0, 0]) <= norm(W_QK[0, 0], 2)*longest(X[0])*diameter(X[0], 2)/sqrt(d_qk)"
    assert f"needs {switch.split()[0]}" in refused(ANY, given, lemma(says, "range-longest", l="0", h="0"))
    says = "dobrushin(P[0, 0]) <= tanh(norm(W_QK[0, 0], 2)*diameter(X[0], 2)**2/(4*sqrt(d_qk)))"
    assert f"needs {switch.split()[0]}" in refused(ANY, given, lemma(says, "dobrushin-tanh[2]", l="0", h="0"))


def test_a_predicate_of_every_layer_is_a_hypothesis_too() -> None:
    claim, given = (checker.NETWORK_CLAIMS["own:order"][k] for k in (1, 2))
    says = claim.partition("all_l(mu(X[l + 1]) <= ")[2].removesuffix(")")
    line = {"says": f"mu(X[l + 1]) <= {says}", "by": "statement", "name": "own:order", "at": {}}
    Derivation(ANY, given).add(line)
    fewer = tuple(text for text in given if "all_l(definite(" not in text)
    assert len(fewer) == len(given) - 1
    assert "needs definite" in refused(ANY, fewer, line)


def test_letters_of_the_language_have_no_places() -> None:
    assert "at: t, l, h" in refused(ANY, ALONE, lemma("2 <= n", "n-one", n="n - 1"))
    assert "at: t, l, h" in refused(ANY, ALONE, lemma("1 <= 0", "d-one", d="0"))


@pytest.mark.parametrize("at", [{}, {"k": "2"}, {"k": "4"}, {"k": "k"}, {"k": "n"}])
def test_a_window_has_the_number_that_is_given(at: dict[str, str]) -> None:
    given = ("mask == causal_window(3)", *ALONE[2:])
    Derivation(ANY, given).add(lemma("in_degree <= 3", "degree-causal-window", k="3"))
    says = f"in_degree <= {at.get('k', '2')}"
    assert "the number of the mask" in refused(ANY, given, lemma(says, "degree-causal-window", **at))
    causal = ("mask == causal", *ALONE[2:])
    Derivation(ANY, causal).add(lemma("diagonal(P[0, 0], 0) <= 1", "diagonal-first", l="0", h="0"))
    assert "the number of the mask" in refused(ANY, causal, lemma(says, "degree-causal-window", **at))
    wide = ("mask == window(3)", *ALONE[2:])
    assert "needs mask" in refused(ANY, wide, lemma("diagonal(P[0, 0], 0) <= 1", "diagonal-first", l="0", h="0"))
    assert "needs mask" in refused(ANY, wide, lemma("in_degree <= 3", "degree-causal-window", k="3"))


def test_a_recursion_is_its_closed_form_or_has_none() -> None:
    def form(text: str, **fixed: int) -> Any:
        return normal(read_tree(text), {name: Fraction(value) for name, value in fixed.items()})

    assert form("recursion(b, n, norm(W[l, 0], 2)*b)") == form("n*prod_l(norm(W[l, 0], 2))")
    assert form("recursion(b, n, b + norm(W[l, 0], 2))") == form("n + sum_l(norm(W[l, 0], 2))")
    assert form("recursion(b, n, d*b**3)") == form("d**((3**L - 1)/2)*n**(3**L)")
    assert expanded(form("recursion(b, n, 2*b + norm(W[l, 0], 2))", L=2)) == form(
        "4*n + 2*norm(W[0, 0], 2) + norm(W[1, 0], 2)"
    )
    for step in ("2*b + 1", "b + b**2", "norm(W[l, 0], 2)*b**2", "exp(b)", "1/b", "sqrt(b)", "1"):
        with pytest.raises(Rejected):
            form(f"recursion(b, n, {step})")
    with pytest.raises(Rejected):
        form("recursion(n, 1, 2*n)")


def test_there_need_be_no_second_layer_or_head() -> None:
    says = "diameter(X[2], 2) <= diameter(X[2], 1)"
    assert "there need be no t = 2" in refused("mu(X[1]) <= mu(X[0])", ALONE, lemma(says, "diameter-2-1", t="2"))
    says = "dobrushin(P[0, 1]) <= 1"
    assert "there need be no h = 1" in refused(ANY, ALONE, lemma(says, "dobrushin-one", l="0", h="1"))


def test_a_maximum_in_a_sum_over_layers_has_no_cases_that_hold_for_all() -> None:
    one, two = "norm(W[l, 0], 1)", "norm(W[l, 0], 2)"
    given = ("H == 1", f"sum_l({one}) <= 1", f"sum_l({two}) <= 1", *ALONE)
    lines = [{"says": f"sum_l({x}) <= 1", "by": "hypothesis"} for x in (one, two)]
    cases = {"says": f"sum_l(max({one}, {two})) <= 1", "by": "cases", "name": f"max({one}, {two})", "of": [1, 2]}
    assert "another value at every place" in refused(ANY, given, *lines, cases)


def test_an_absolute_value_has_two_cases() -> None:
    given = ("skip <= 1", *ALONE[:3])
    line = {"says": "skip <= 1", "by": "hypothesis"}
    cases = {"says": "abs(skip) <= 1", "by": "cases", "name": "abs(skip)", "of": [1]}
    assert "a case is missing" in refused(ANY, given, line, cases)


def test_a_root_of_an_even_power_is_an_absolute_value() -> None:
    assert "may be negative" in refused(ANY, ALONE[:3], {"says": "sqrt(skip**2) <= skip", "by": "sum", "of": []})


def test_what_is_positive_for_one_head_is_not_so_for_all() -> None:
    given = ("1 <= norm(W[0, 0], 2)", *ALONE)
    line = {"says": "1 <= norm(W[0, 0], 2)", "by": "hypothesis"}
    below = {"says": "1 <= min_h(norm(W[0, h], 2))", "by": "fold", "name": "min_h", "of": [1]}
    assert "the fold says" in refused("norm(W[0, 0], 2) <= norm(W[0, 0], 2)", given, line, below)


def test_layers_are_gone_through_from_one_that_is_any() -> None:
    given = ("H == 1", "diameter(X[1], 2) <= 2*diameter(X[0], 2)", *ALONE)
    line = {"says": "diameter(X[1], 2) <= 2*diameter(X[0], 2)", "by": "hypothesis"}
    through = {"says": "diameter(X[L], 2) <= 2**L*diameter(X[0], 2)", "by": "layers", "how": "product", "of": [1]}
    assert "no line about one layer" in refused(ANY, given, line, through)


def test_a_claim_that_divides_by_what_may_be_zero_is_not_derived() -> None:
    work = Derivation("mu(X[0])/mu(X[0]) <= 1", ALONE)
    work.add({"says": "1 <= 1", "by": "sum", "of": []})
    with pytest.raises(Rejected, match="may be zero"):
        work.demand_proved()


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("sqrt(n/2)*sqrt(2)", "sqrt(n)"),
        ("(n + d)**2", "n**2 + 2*n*d + d**2"),
        ("log(n*d/2)", "log(n) + log(d) - log(2)"),
        ("exp(n + 1)", "exp(n)*exp(1)"),
        ("sum_h(2*n*norm(W[0, h], 2))", "2*n*sum_h(norm(W[0, h], 2))"),
        ("max_l(n)", "n"),
        ("prod_l(2*norm(W[l, 0], 2))", "2**L*prod_l(norm(W[l, 0], 2))"),
        ("norm(W[0, 0], composite)**2", "norm(W[0, 0], 1)*norm(W[0, 0], inf)"),
        ("operator_norm(W[0, 0], 1)", "norm(W[0, 0], inf)"),
        ("residual(X[0], frobenius)", "mu(X[0])"),
    ],
)
def test_equal_terms_have_one_normal_form_that_reads_back(a: str, b: str) -> None:
    first, second = (expanded(normal(read_tree(text), {})) for text in (a, b))
    assert first == second
    assert expanded(normal(read_tree(poly_text(first)), {})) == first


def test_signs_of_sums_of_roots_are_told_by_bounds() -> None:
    assert constant_sign(normal(read_tree("sqrt(2) + sqrt(3) - 3.146"), {})) == 1
    assert constant_sign(normal(read_tree("sqrt(2) + sqrt(3) - 3.1463"), {})) == -1
    assert constant_sign(normal(read_tree("2**(1/3) - 1.2599"), {})) == 1


@pytest.mark.parametrize(
    ("claim", "given", "lines", "why"),
    [
        (  # Two heads of different sizes refute it: the largest is not the one of each place.
            "sum_h(tanh(norm(W[0,h],2)*max_h(norm(W[0,h],2)))) <= sum_h(tanh(norm(W[0,h],2)**2))",
            (),
            (
                {"says": "sum_h(tanh(norm(W[0,h],2)**2)) <= sum_h(tanh(norm(W[0,h],2)**2))", "by": "sum"},
                {"says": "", "by": "cases", "name": "max_h(norm(W[0,h],2))", "of": [1]},
            ),
            "under a fold over its own index",
        ),
        (  # With equal tokens and one layer the power is 0⁰ = 1, and the values may be 0.
            "mu(X[0])**(L - 1) <= mu(X[0])**(L - 1)*norm(W[0,0],2)",
            ("mu(X[0]) <= mu(X[0])*norm(W[0,0],2)", "L >= 1"),
            (
                {"says": "n <= n", "by": "sum"},
                {"says": "mu(X[0]) <= mu(X[0])*norm(W[0,0],2)", "by": "hypothesis"},
                {"says": "", "by": "product", "of": [[1, "0"], [2, "1"]]},
            ),
            "may be zero where it is cancelled",
        ),
        (  # With equal tokens the hypothesis says 0 <= 0, and the values may be 0.
            "1 <= norm(W[0,0],2)",
            ("all_l(mu(X[l]) <= mu(X[0])*norm(W[0,0],2))",),
            (
                {"says": "mu(X[l]) <= mu(X[0])*norm(W[0,0],2)", "by": "hypothesis"},
                {"says": "mu(X[l])/mu(X[0]) <= norm(W[0,0],2)", "by": "product", "of": [[1, "1"]]},
                {"says": "", "by": "put", "of": [2], "at": {"l": "0"}},
            ),
            "divided by and may be zero",
        ),
    ],
)
def test_what_is_zero_or_bound_elsewhere_proves_nothing(
    claim: str, given: tuple[str, ...], lines: tuple[dict[str, Any], ...], why: str
) -> None:
    work = Derivation(claim, given)

    def derive() -> None:
        for line in lines:
            work.add({**line, "says": line["says"] or claim})

    with pytest.raises(Rejected, match=why):
        derive()


def test_the_square_of_a_number_does_not_tell_its_sign() -> None:
    work = Derivation("0 < skip", ("skip**2 > 0",))
    work.add({"says": "0 < skip**2", "by": "hypothesis"})
    with pytest.raises(Rejected, match="may be negative"):
        work.add({"says": "0 < skip", "by": "sum"})
    assert not any(work.positive(base) for mono in normal(read_tree("skip"), {}) for base, _ in mono)


@pytest.mark.parametrize(
    ("says", "of", "refusal"),
    [
        ("exp(1) <= 27183/10000", [], ""),
        ("exp(1) <= 2718/1000", [], "false on a box"),
        ("exp(logit_range(P[0, 0])) <= 37/5", [1], ""),
        ("exp(logit_range(P[0, 0])) <= 36/5", [1], "false on a box"),
        ("exp(logit_range(P[0, 0])) <= 37/5", [], "no bounds"),
        ("exp(logit_range(P[0, 0])) < 1 + 16/5*logit_range(P[0, 0])", [1], "do not tell"),
        ("log(2) + tanh(logit_range(P[0, 0]) - 2) < 694/1000", [1], ""),
        ("floor(logit_range(P[0, 0])/3) <= 9", [1], "floor"),
    ],
)
def test_numbers_within_bounds(says: str, of: list[int], refusal: str) -> None:
    work = Derivation("n <= 2", ("H == 1", *ALONE, "logit_range(P[0, 0]) <= 2"))
    work.add({"says": "logit_range(P[0, 0]) <= 2", "by": "hypothesis"})
    if refusal:
        with pytest.raises(Rejected, match=refusal):
            work.add({"says": says, "by": "box", "of": of})
    else:
        work.add({"says": says, "by": "box", "of": of})


_FLOOR = "floor(epsilon(P[0,h]) - 2)"  # a number below 0


@pytest.mark.parametrize(
    "line",
    [
        {
            "says": f"sum_h(sqrt({_FLOOR}))**2 <= H*sum_h({_FLOOR})",
            "by": "lemma",
            "name": "square-heads",
            "at": {"f": f"sqrt({_FLOOR})"},
        },
        # No root is left in the line: what is put for a letter is asked before it is multiplied.
        {
            "says": "sum_h(skip*norm(W[0,h],max))**2 <= sum_h(skip)*sum_h(skip*norm(W[0,h],max)**2)",
            "by": "lemma",
            "name": "cauchy-heads",
            "at": {"f": "sqrt(skip)", "g": "sqrt(skip)*norm(W[0,h],max)"},
        },
        {"says": "0 <= (1 + sqrt(skip))**2", "by": "sum"},
        {"says": "n*(1 + skip + 2*sqrt(skip)) <= n*(1 + skip + 2*sqrt(skip))", "by": "sum"},
        {
            "says": "0 <= (n - 1)*(2 + 2*skip)",
            "by": "sum",
            "of": [[1, "(1 + sqrt(skip))**2"], [1, "(1 - sqrt(skip))**2"]],
        },
        {
            "says": "skip**(1/3) <= max_h(skip**(1/3))",
            "by": "term",
            "name": "max_h",
            "body": "skip**(1/3)",
            "at": {"h": "0"},
        },
        {"says": "1 <= 1 + skip/skip", "by": "sum"},
    ],
)
def test_no_root_is_taken_of_what_may_be_negative_and_nothing_divided_by_what_may_be_zero(line: dict[str, Any]) -> None:
    """Else 1 <= 0 is derived: normal forms take the square of a root for the number."""
    work = Derivation("0 <= skip", ())
    work.add({"says": "1 <= n", "by": "lemma", "name": "n-one"})
    with pytest.raises(Rejected, match=r"root and may be negative|divided by and may be zero|may be negative"):
        work.add(line)
    known = Derivation("0 <= skip", ("0 < skip",))
    known.add({"says": "1 <= n", "by": "lemma", "name": "n-one"})
    if "floor" not in line["says"]:
        known.add(line)


def test_a_power_through_the_layers_needs_a_size_that_is_never_negative() -> None:
    """A cosine of −1 between two layers: its square is 1, though the cosine before was 0."""
    given = ("cosine(X[0]) >= 0", "cosine(X[L]) >= 0", "all_l(cosine(X[l+1]) <= cosine(X[l])**2)")
    work = Derivation("cosine(X[L]) <= cosine(X[0])**(2**L)", given)
    for says in ("0 <= cosine(X[0])", "0 <= cosine(X[L])", "cosine(X[l+1]) <= cosine(X[l])**2"):
        work.add({"says": says, "by": "hypothesis"})
    with pytest.raises(Rejected, match="may be negative in a layer between"):
        work.add({"says": "cosine(X[L]) <= cosine(X[0])**(2**L)", "by": "layers", "of": [3], "how": "power 2"})
