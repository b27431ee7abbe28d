(** coq-interval's tactic [interval] on software floats over the standard library's integers, so
    that its proofs use no axiom beyond those of the classical reals.  Import this file instead of
    Interval.Tactic, and always give a precision: [interval with (i_prec 40)]; without one the
    tactic takes the processor's floats and, with them, their axioms. *)
From Interval Require Import Specific_stdz Specific_ops.
From Interval Require Export Tactic.
Module SFZ := SpecificFloat StdZRadix2.
Module ITZ := Interval.Tactic.IntervalTactic SFZ.
Export ITZ.
