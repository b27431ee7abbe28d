"""Every lemma of the prover is a theorem of proofs/coq, and the theorem says what the lemma's text says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from rankmath.certificates.coq_words import Printer, lemma_rows, lemma_theorem, lemmas_file, letters, parsed

sys.path[:0] = [str(Path(__file__).parent)]

from test_machine_checked import COQ, compiled, coqc, needs_coq, without_comments  # noqa: E402

__all__ = ["compiled"]
ROWS = {str(row["name"]): row for row in lemma_rows()}
#: Theorems on arrays, which no derivation uses.
ON_ARRAYS = {"lemma_count_one", "lemma_length_order", "lemma_cosine_one", "lemma_share_tail"}


def test_every_row_names_a_theorem_and_every_theorem_has_a_row() -> None:
    found = {
        (path.name, name)
        for path in COQ.glob("Lemmas_*.v")
        for name in re.findall(r"^Theorem (lemma_\w+)", without_comments(path.read_text()), re.MULTILINE)
    }
    named = {(row["file"], row["theorem"]) for row in ROWS.values()}
    # What a window's number says of the mask is proved where networks are defined.
    of_networks = re.findall(
        r"^(?:Theorem|Lemma) (\w+)", without_comments((COQ / "Network.v").read_text()), re.MULTILINE
    )
    assert named <= found | {("Network.v", name) for name in of_networks}
    assert {name for _, name in found - named} == ON_ARRAYS


def test_the_printed_file_is_up_to_date() -> None:
    assert (COQ / "Lemmas.v").read_text() == lemmas_file()


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("mu(X[t]) <= sqrt(n/2)*diameter(X[t], 2)",
         "(mu (X N t)) <= ((sqrt ((INR (tokens N)) / 2)) * (diameter (X N t) p_2))"),
        ("norm(W_QK[l, h], max) < x**(1/3)", "(norm_max (W_QK N l h)) < (rpow x (1 / 3))"),
        ("sum_h(norm(P[l, h], 2)) == d**L",
         "(sum (heads N) (fun h => (norm_2 (P N l h)))) = ((INR (dim N)) ^ (layers N))"),
        ("max_h(entropy(P[0, h])) >= -1", "(maxi ((heads N) - 1) (fun h => (entropy (P N 0%nat h)))) >= (- 1)"),
        ("residual(X[l+1], inf) <= 2**floor(L/r)", "(residual_inf (X N (S l))) <= (2 ^ ((layers N) / r)%nat)"),
    ],
)  # fmt: skip
def test_a_formula_in_words_of_coq(text: str, printed: str) -> None:
    assert Printer().formula(parsed(text)) == printed


@needs_coq
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("mu-diameter", "(n - 1)/2", "(n - 1)/3"),
        ("diameter-mu", "sqrt(2)", "sqrt(1)"),
        ("entropy-hoeffding", "**2/8", "**2/9"),
        ("residual-one-diameter", "n*diameter", "d*diameter"),
        ("dobrushin-range", "dobrushin(P[l, h])", "2*dobrushin(P[l, h])"),
        ("layer-skip[2]", "X[l+1]", "X[l]"),
        ("form-inf-low[W_QK,1]", "norm(W_QK[l, h], 1)", "norm(W[l, h], 1)"),
    ],
)
def test_another_text_is_refused(compiled: Path, tmp_path: Path, name: str, old: str, new: str) -> None:
    """The theorem proves the lemma's text, and not one with another constant or quantity."""
    row, text = ROWS[name], lemmas_file()
    assert old in str(row["claim"])
    start = text[: text.index("(** n-one")]
    kept = coqc(tmp_path, "Kept", start + lemma_theorem(row))
    assert kept.returncode == 0, kept.stderr
    done = coqc(tmp_path, "Planted", start + lemma_theorem({**row, "claim": str(row["claim"]).replace(old, new)}))
    assert done.returncode != 0
    assert "No applicable tactic" in done.stderr


def test_a_recursion_binds_its_number_and_its_layer() -> None:
    assert letters(["recursion(b, x, b*y + l)"]) == {"x", "y"}
    assert letters(["recursion(b, l, b*y)"]) == {"l", "y"}
