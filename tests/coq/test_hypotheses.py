"""Each hypothesis of each proved statement is used by its proof in Coq, or stays for a reason that is written down."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / "benchmarks"), str(Path(__file__).parent)]

import coq_hypotheses  # noqa: E402
from test_machine_checked import compiled, needs_coq  # noqa: E402, F401


def test_arguments_of_a_proof_are_read_also_where_one_is_taken_apart() -> None:
    term = """fun (n : nat) (_ : n >= 2) => let a := let b := n in b in fun H : A /\\ B =>
        match H with | conj x x0 => (fun (HA : A) (_ : B) (Q : forall i, (i < n)%nat -> True) => lemma) x x0 end"""
    assert coq_hypotheses.binders(term) == ["n", "_", "H", "Q"]


@needs_coq
def test_a_hypothesis_that_no_proof_uses_has_a_reason_to_stay(compiled: Path) -> None:  # noqa: F811
    found = coq_hypotheses.unused()
    assert len(found) > 100
    left = {f"{key}: {part}" for key, parts in found.items() for part in parts}
    assert {line for line in left if not coq_hypotheses.reason(*line.split(": ", 1))} == set()
    own = {line for line in coq_hypotheses.STAY if line.partition(":")[0] in ("own", "dong2021", "castin2024")}
    assert own <= left, "a proof uses it now"
    assert "wu2024:cor1-step: self_loops()" not in left  # and one that is needed
