"""Derivations become theorems of Coq: what the prover finds compiles, and what does not follow is refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rankmath.certificates.coq_derivation import DerivationPrinter, derivation_file
from rankmath.certificates.coq_words import NOT_IN_COQ, NoCoq, registered_file, statement_rows
from rankmath.checker.lemmas import usable_statements
from rankmath.cli import main
from rankmath.decide.prover import prove

sys.path[:0] = [str(Path(__file__).parent)]

from test_machine_checked import ALLOWED, COQ, axioms, compiled, coqc, needs_coq  # noqa: E402

__all__ = ["compiled"]
ALONE = ("mask == none", "layernorm == none", "mlp == none", "skip == 0")
ONE = ("H == 1", *ALONE)
#: Roots and positions; a difference; folds and cases; sums, a skip and layers; a maximum to the power L.
CLAIMS = {
    "grouped": (
        "diameter(X[1], 2) <= (norm(W[0, 0], 2) + norm(W[0, 1], 2))*diameter(X[0], 2)",
        ("heads == 2", "kv_heads == 1", "positions == rotary", *ALONE),
    ),
    "roots": ("mu(X[1]) <= sqrt(n)*norm(W[0, 0], 2)*mu(X[0])", (*ONE, "positions == rotary")),
    "difference": ("diameter(X[1], 2) <= norm(W[0, 0], 2)*(1 - n*epsilon(P[0, 0]))*diameter(X[0], 2)", ONE),
    "heads": (
        (
            "diameter(X[1], 1) <= H*max_h(norm(W[0, h], inf))*diameter(X[0], 1) and all_h(rank(X[0]) <= min(n, d))"
            " and abs(diameter(X[0], 2)) <= 2*norm(X[0], 2)"
        ),
        ALONE,
    ),
    "skip": ("diameter(X[L], 2) <= prod_l(abs(skip) + sum_h(norm(W[l, h], 2)))*diameter(X[0], 2)", ALONE[:3]),
    "numbers": (
        "diameter(X[1], 2) <= 0.77*diameter(X[0], 2) and exp(logit_range(P[0, 0])) <= 1.1 + 3.2*logit_range(P[0, 0])",
        (*ONE, "norm(W[0, 0], 2) <= 1", "logit_range(P[0, 0]) <= 2"),
    ),
    "power": ("diameter(X[L], 2) <= max_l(norm(W[l, 0], 2))**L*diameter(X[0], 2)", ONE),
    "difference of layers": (
        "diameter(X[L], 2) >= prod_l(abs(skip) - sum_h(norm(W[l, h], 2)*dobrushin(P[l, h])))*diameter(X[0], 2)",
        ("all_l(sum_h(norm(W[l, h], 2)*dobrushin(P[l, h])) < abs(skip))", *ALONE[:3]),
    ),
    "constant of a sum": ("sum_h(dobrushin(P[0, h])) <= H*(1 - n*min_h(epsilon(P[0, h])))", ALONE),
}
#: Claims that need a registered statement: of the whole network, of a layer of it, and of its first layer.
BY_STATEMENT = {
    "network": (
        "first_gap(X[L]) <= 2*prod_l(second_norm(l))*first_gap(X[0])",
        ("mask == causal", "n >= 2", *ALONE[1:]),
    ),
    "layer": (
        ("diameter(X[2], 2) >= diameter(X[1], 2)*(abs(skip) - norm(W[1, 0], 2)*tanh(norm(W_QK[1, 0], 2)"
         "*diameter(X[1], 2)**2/(4*sqrt(d_qk))))/(abs(skip) + norm(W[1, 0], 2))"),
        ("layernorm == sphere", "H == 1", "bias == none", "abs(skip) > 0", "all_l(2*norm(W[l, 0], 2) <= abs(skip))",
         "mask == none", "mlp == none"),
    ),
    "first layer": (
        ("jacobian_norm() <= norm(W[0, 0], 2)*(norm(P[0, 0], 2) + 2*(norm(W_QK[0, 0], 2)/sqrt(d_qk))"
         "*top_shares(P[0, 0])*norm(X[0], 2)**2)"),
        (*ONE, "L == 1", "query_bias == none"),
    ),
}  # fmt: skip


def file_of(claim: str, given: tuple[str, ...], lines: list[dict[str, Any]]) -> str:
    return derivation_file(claim, given, lines)


#: To print the axioms takes Coq ten seconds each, and those of lemmas and statements are printed elsewhere.
PRINTED = ("grouped", "network")


def assert_accepted(folder: Path, text: str, name: str) -> None:
    """Coq accepts it, with nothing left unproved; of one claim of each kind it says on what it rests."""
    assert not re.search(r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Abort)\b", text)
    done = coqc(folder, "Derived", text + "Print Assumptions claim.\n" * (name in PRINTED))
    assert done.returncode == 0, done.stderr
    for found in axioms(done.stdout):
        assert found <= ALLOWED
    assert len(axioms(done.stdout)) == (name in PRINTED)


@needs_coq
@pytest.mark.parametrize("name", CLAIMS)
def test_a_proof_compiles(compiled: Path, tmp_path: Path, name: str) -> None:
    claim, given = CLAIMS[name]
    proof = prove(claim, given, without=usable_statements())
    assert proof is not None
    assert_accepted(tmp_path, file_of(claim, given, list(proof.lines)), name)


@needs_coq
@pytest.mark.parametrize("name", BY_STATEMENT)
def test_a_proof_from_a_registered_statement_compiles(compiled: Path, tmp_path: Path, name: str) -> None:
    claim, given = BY_STATEMENT[name]
    proof = prove(claim, given, seconds=20)
    assert proof is not None
    assert set(proof.lemmas) & set(usable_statements())
    assert_accepted(tmp_path, file_of(claim, given, list(proof.lines)), name)


def test_registered_statements_in_words_of_networks_are_up_to_date() -> None:
    assert (COQ / "Registered.v").read_text(encoding="utf-8") == registered_file()
    assert {row["name"] for row in statement_rows()} | set(NOT_IN_COQ) == set(usable_statements())
    assert not {row["name"] for row in statement_rows()} & set(NOT_IN_COQ)


@pytest.mark.parametrize(
    ("claim", "given", "said"),
    [
        ("1 <= r", ("mask == any",), "forall r, is_radius N r ->"),
        ("rank(X[1]) <= d", ("mlp == relu",), "norm_after N ->\n  mask_none N"),
        ("residual(X[0], composite) <= gamma(P[0, 0])", (), "forall center, are_centers N center ->"),
        ("diameter(X[0], 2)**(n - 1) <= 1", (), "^ (tokens N - 1)%nat"),
        ("diameter(X[3], 2) <= 1", (), "(layers N >= 3)%nat ->"),
        ("dobrushin(P[0, 0]) <= 1", ("layernorm == column",), "layernorm_column N ->"),
        ("influence(n - 1) >= 0", ONE, "(influence N ((tokens N) - 1)%nat) >= 0"),
    ],
)
def test_the_theorem_is_the_claim_for_every_size_that_it_allows(claim: str, given: tuple[str, ...], said: str) -> None:
    given = (*given, *(text for text in ALONE if text.split()[0] not in " ".join(given)))
    printer = DerivationPrinter(claim, given, [line(claim, "hypothesis")])
    printer.proof_of = lambda node: ""  # type: ignore[method-assign]
    assert said in printer.theorem("claim")


@pytest.mark.parametrize(
    ("claim", "given", "why"),
    [
        ("diameter(X[0], 2)**(n - 2) <= 1", (), "the exponent n - 2 may be 0"),
        ("jacobian_norm() <= 1", ("layernorm == standard",), "attention alone"),
        ("jacobian_norm() <= 1", ("positions == rotary",), "attention alone"),
        ("consensus_shift(P[0, 0]) <= 1", ("mlp == any",), "attention alone"),
        ("mu(X[1]) <= 1", ("norm_at == any", "layernorm == rms"), "LayerNorms anywhere"),
    ],
)
def test_a_claim_that_would_say_something_else_is_refused(claim: str, given: tuple[str, ...], why: str) -> None:
    given = (*given, *(text for text in ALONE if text.split()[0] not in " ".join(given)))
    with pytest.raises(NoCoq, match=why):
        file_of(claim, given, [line(claim, "hypothesis")])


def line(says: str, by: str, **more: Any) -> dict[str, Any]:
    return {"says": says, "by": by, **more}


LAYER = line("diameter(X[1], 2) <= diameter(X[0], 2)*dobrushin(P[0, 0])*norm(W[0, 0], 2)", "lemma",
             name="layer-dobrushin[2]", at={"l": "0"})  # fmt: skip
AT = {"l": "0", "h": "0"}
#: What does not follow: a lemma that says less, a constant that is too small, a diameter that may be 0 cancelled.
DAMAGED = {
    "layer": (
        "first_gap(X[1]) <= second_norm(0)*first_gap(X[0])",
        [line("first_gap(X[1]) <= second_norm(0)*first_gap(X[0])", "statement", name="own:second-token",
              at={"layer": "0"})],
    ),
    "lemma": (
        "dobrushin(P[0, 0]) <= 1/2",
        [line("dobrushin(P[0, 0]) <= 1/2", "lemma", name="dobrushin-one", at=AT)],
    ),
    "constant": (
        "2*diameter(X[1], 2) <= diameter(X[0], 2)*dobrushin(P[0, 0])*norm(W[0, 0], 2)",
        [LAYER, line("2*diameter(X[1], 2) <= diameter(X[0], 2)*dobrushin(P[0, 0])*norm(W[0, 0], 2)", "product",
                     of=[[1, "1"]])],
    ),
    "zero": (
        "norm(W[0, 0], 2) <= 1",
        [line("diameter(X[0], 2)*norm(W[0, 0], 2) <= diameter(X[0], 2)", "hypothesis"),
         line("norm(W[0, 0], 2) <= 1", "product", of=[[1, "1"]])],
    ),
}  # fmt: skip


@needs_coq
@pytest.mark.parametrize("name", DAMAGED)
def test_what_does_not_follow_is_refused(compiled: Path, tmp_path: Path, name: str) -> None:
    claim, lines = DAMAGED[name]
    given = ("diameter(X[0], 2)*norm(W[0, 0], 2) <= diameter(X[0], 2)", *ONE)
    done = coqc(tmp_path, "Damaged", file_of(claim, given, lines))
    assert done.returncode != 0
    assert "Error" in done.stderr
    said = int(done.stderr.split("line ")[1].split(",")[0])
    text = file_of(claim, given, lines).splitlines()[said - 1]
    assert f"F{len(lines)}" in text or text.lstrip().startswith("{"), done.stderr  # it is the last line that fails


def test_what_has_no_word_in_coq_is_said() -> None:
    with pytest.raises(NoCoq, match="form norm"):
        file_of(CLAIMS["roots"][0], ONE, [line("mu(X[1]) <= mu(X[0])", "statement", name="own:diameter")])
    with pytest.raises(NoCoq, match="does not say"):
        file_of(CLAIMS["roots"][0], ONE, [line("mu(X[1]) <= mu(X[0])", "statement", name="own:transport")])
    with pytest.raises(NoCoq, match="lengthening"):
        file_of("lengthening(P[0, 0]) <= 1", ONE, [line("lengthening(P[0, 0]) <= 1", "hypothesis")])
    with pytest.raises(NoCoq, match="no theorem"):
        file_of(CLAIMS["roots"][0], ONE, [line("1 <= n", "lemma", name="no-such-lemma")])


def test_a_proof_that_coq_has_no_words_for_is_not_called_machine_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "normalised_norm(W[0, 0], 2) <= 2*normalised_norm(W[0, 0], 2)"
    proof = prove(claim, ("layernorm == column", "mask == none", "mlp == none", "skip == 0"))
    assert proof is not None
    path = proof.certificate("mine:double").save(tmp_path / "double.json")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["check", str(path), "--coq"])
    assert done.exit_code == 1
    assert "PROVED; not written for Coq, because Coq has no word for normalised_norm" in done.output
    assert "machine-checked" not in done.output


@needs_coq
def test_the_command_writes_a_derivation_that_coq_accepts(
    compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim, given = CLAIMS["roots"]
    proof = prove(claim, given, without=usable_statements())
    assert proof is not None
    path = proof.certificate("mine:roots").save(tmp_path / "roots.json")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["check", str(path), "--coq"])
    assert done.exit_code == 0, done.output
    (file,) = tmp_path.glob("rm_*.v")
    assert coqc(tmp_path, "Written", file.read_text(encoding="utf-8")).returncode == 0
