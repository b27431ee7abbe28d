(** unstated:mask-dichotomy.  Three tokens, every edge but one, self-loops,
  and attention whose square has equal rows: after two layers of it with
    W = 1 every input is at consensus. *)
Require Import Reals Lra Lia.
From Rankmath Require Import Definitions.
Local Open Scope R_scope.

Definition forgetful : mat := fun i j => match i, j with
  | O, O | O, S O => / 2 | O, _ => 0 | S O, O | S O, S O => / 6 | S O, _ => 2 / 3 | _, _ => / 3 end.

Theorem consensus_in_two_layers : exists P : mat, row_stochastic 3 3 P /\ (forall i, (i < 3)%nat ->
  0 < P i i) /\ P 0%nat 2%nat = 0 /\
  (forall i j, (i < 3)%nat -> (j < 3)%nat -> (i, j) <> (0, 2)%nat -> 0 < P i j) /\
  forall (X : mat) i k a, (i < 3)%nat -> (k < 3)%nat -> mmul 3 P (mmul 3 P X) i a = mmul 3 P (mmul 3 P X) k a.
Proof.
  exists forgetful. split; [split|split; [|split; [|split]]].
  - intros i j Hi Hj. do 3 (destruct i as [|i]; [do 3 (destruct j as [|j]; [simpl; lra|]); lia|]). lia.
  - intros i Hi. do 3 (destruct i as [|i]; [unfold sum; simpl; lra|]). lia.
  - intros i Hi. do 3 (destruct i as [|i]; [simpl; lra|]). lia.
  - reflexivity.
  - intros i j Hi Hj Hne. do 3 (destruct i as [|i]; [do 3 (destruct j as [|j]; [simpl; try lra; exfalso;
      now apply Hne|]); lia|]). lia.
  - intros X i k a Hi Hk. do 3 (destruct i as [|i]; [do 3 (destruct k as [|k]; [unfold mmul, vmat, sum; simpl; lra|]);
      lia|]). lia.
Qed.
