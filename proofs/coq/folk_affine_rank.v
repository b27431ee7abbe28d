(** folk:affine-rank refuted.  (1,-1,0), (1/2,0,-1/2), (0,1,-1) are on one line: the second is the mean of the others.
LayerNorm (of mean 0 all three) divides each
    by its deviation; then the second is no combination a x_1 + (1 - a) x_3 of the others: they are on no line. *)
Require Import Reals Lra Psatz.
Local Open Scope R_scope.

Definition x1 (k : nat) : R := match k with O => 1 | 1%nat => -1 | _ => 0 end.
Definition x2 (k : nat) : R := match k with O => 1/2 | 1%nat => 0 | _ => -1/2 end.
Definition x3 (k : nat) : R := match k with O => 0 | 1%nat => 1 | _ => -1 end.
Definition mean3 (x : nat -> R) : R := (x 0%nat + x 1%nat + x 2%nat) / 3.
Definition deviation (x : nat -> R) : R := sqrt (((x 0%nat - mean3 x) ^ 2 + (x 1%nat - mean3 x) ^ 2 + (x 2%nat - mean3
  x) ^ 2) / 3).
Definition layernorm (x : nat -> R) (k : nat) : R := (x k - mean3 x) / deviation x.

Theorem affine_rank_refuted : (forall k, x2 k = 1/2 * x1 k + (1 - 1/2) * x3 k) /\
  ~ exists a, forall k, (k <= 2)%nat -> layernorm x2 k = a * layernorm x1 k + (1 - a) * layernorm x3 k.
Proof.
  split; [intros [|[|k]]; simpl; lra|]. intros [a H].
  assert (D1 : deviation x1 = sqrt (2/3)) by (unfold deviation, mean3; simpl; f_equal; lra).
  assert (D3 : deviation x3 = sqrt (2/3)) by (unfold deviation, mean3; simpl; f_equal; lra).
  assert (D2 : deviation x2 = sqrt (2/3) / 2).
  { unfold deviation, mean3. simpl. replace (sqrt (2/3) / 2) with (sqrt (2/3) * / sqrt (2 * 2)) by (rewrite sqrt_square
      by lra; reflexivity).
    rewrite <- sqrt_inv, <- sqrt_mult by lra. f_equal. lra. }
  assert (P : 0 < sqrt (2/3)) by (apply sqrt_lt_R0; lra).
  assert (A := H 0%nat ltac:(auto)). assert (B := H 1%nat ltac:(auto)). unfold layernorm in A, B.
  rewrite D1, D2, D3 in A, B. unfold mean3 in A, B. simpl in A, B.
  assert (A' : 1 = a).
  { apply (Rmult_eq_compat_r (sqrt (2/3))) in A. replace ((1/2 - (1/2 + 0 + -1/2) / 3) / (sqrt (2/3) / 2) * sqrt (2/3))
      with 1 in A by (field; lra).
    replace ((a * ((1 - (1 + -1 + 0) / 3) / sqrt (2/3)) + (1 - a) * ((0 - (0 + 1 + -1) / 3) / sqrt (2/3))) * sqrt
      (2/3)) with a in A by (field; lra). exact A. }
  apply (Rmult_eq_compat_r (sqrt (2/3))) in B. replace ((0 - (1/2 + 0 + -1/2) / 3) / (sqrt (2/3) / 2) * sqrt (2/3))
    with 0 in B by (field; lra).
  replace ((a * ((-1 - (1 + -1 + 0) / 3) / sqrt (2/3)) + (1 - a) * ((1 - (0 + 1 + -1) / 3) / sqrt (2/3))) * sqrt (2/3))
    with (1 - 2 * a) in B by (field; lra). lra.
Qed.
