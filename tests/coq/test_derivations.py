"""Derivations become theorems of Coq: what the prover finds compiles, and what does not follow is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rankmath.certificates.coq_derivation import derivation_file
from rankmath.certificates.coq_words import NoCoq
from rankmath.checker.lemmas import usable_statements
from rankmath.cli import main
from rankmath.decide.prover import prove

sys.path[:0] = [str(Path(__file__).parent)]

from test_machine_checked import ALLOWED, axioms, compiled, coqc, needs_coq  # noqa: E402

__all__ = ["compiled"]
ALONE = ("mask == none", "layernorm == none", "mlp == none", "skip == 0")
ONE = ("H == 1", *ALONE)
#: Roots and positions; a difference; folds and cases; sums, a skip and layers; a maximum to the power L.
CLAIMS = {
    "roots": ("mu(X[1]) <= sqrt(n)*norm(W[0, 0], 2)*mu(X[0])", (*ONE, "positions == rotary")),
    "difference": ("diameter(X[1], 2) <= norm(W[0, 0], 2)*(1 - n*epsilon(P[0, 0]))*diameter(X[0], 2)", ONE),
    "heads": (
        "diameter(X[1], 1) <= H*max_h(norm(W[0, h], inf))*diameter(X[0], 1) and all_h(rank(X[0]) <= min(n, d))",
        ALONE,
    ),
    "skip": ("diameter(X[L], 2) <= prod_l(abs(skip) + sum_h(norm(W[l, h], 2)))*diameter(X[0], 2)", ALONE[:3]),
    "numbers": (
        "diameter(X[1], 2) <= 0.77*diameter(X[0], 2) and exp(logit_range(P[0, 0])) <= 1.1 + 3.2*logit_range(P[0, 0])",
        (*ONE, "norm(W[0, 0], 2) <= 1", "logit_range(P[0, 0]) <= 2"),
    ),
    "power": ("diameter(X[L], 2) <= max_l(norm(W[l, 0], 2))**L*diameter(X[0], 2)", ONE),
}


def file_of(claim: str, given: tuple[str, ...], lines: list[dict[str, Any]]) -> str:
    return derivation_file(claim, given, lines) + "Print Assumptions claim.\n"


@needs_coq
@pytest.mark.parametrize("name", CLAIMS)
def test_a_proof_compiles(compiled: Path, tmp_path: Path, name: str) -> None:
    claim, given = CLAIMS[name]
    proof = prove(claim, given, without=usable_statements())
    assert proof is not None
    done = coqc(tmp_path, "Derived", file_of(claim, given, list(proof.lines)))
    assert done.returncode == 0, done.stderr
    (found,) = axioms(done.stdout)
    assert found <= ALLOWED


def line(says: str, by: str, **more: Any) -> dict[str, Any]:
    return {"says": says, "by": by, **more}


LAYER = line("diameter(X[1], 2) <= diameter(X[0], 2)*dobrushin(P[0, 0])*norm(W[0, 0], 2)", "lemma",
             name="layer-dobrushin[2]", at={"l": "0"})  # fmt: skip
AT = {"l": "0", "h": "0"}
#: What does not follow: a lemma that says less, a constant that is too small, a diameter that may be 0 cancelled.
DAMAGED = {
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
    with pytest.raises(NoCoq, match="statement"):
        file_of(CLAIMS["roots"][0], ONE, [line("mu(X[1]) <= mu(X[0])", "statement", name="own:diameter")])
    with pytest.raises(NoCoq, match="gram_height"):
        file_of("gram_height(X[0]) <= 1", ONE, [line("gram_height(X[0]) <= 1", "hypothesis")])
    with pytest.raises(NoCoq, match="no theorem"):
        file_of(CLAIMS["roots"][0], ONE, [line("1 <= n", "lemma", name="no-such-lemma")])


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
