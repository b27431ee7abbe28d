(** wu2024:L13 refuted as printed, and wu2024:L13-repaired.

    The second token moves by x -> y/|y|, y = (x + e_d)(I + wS), w > 1, (xS)_b = x_{b-1}: the first rests at e_d.
    Printed: the unit vectors with x_1, ..., x_{d-2} < 0, x_{d-1} <= -1/w and
    sum_{i <= d-2} (x_i/x_{d-1})^2 <= sqrt(w^2-1) stay such that x_{d-1} <= -1/w.  False for d = 4, w = 2,
    x = -(4,1,4,4)/7: the image has 4 y_3^2 = 144/49 < 158/49 = |y|^2. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms.
Local Open Scope R_scope.

(** (x + e_d)(I + wS), coordinates 0, ..., d-1. *)
Definition shift_step (d : nat) (w : R) (x : vec) : vec := fun b =>
  let v := fun a => x a + (if Nat.eqb a (d - 1) then 1 else 0) in
  v b + w * (if Nat.eqb b 0 then 0 else v (b - 1)%nat).

Definition L13 : Prop := forall d w x, (2 <= d)%nat -> 1 < w -> l2 d x = 1 ->
  (forall a, (a < d - 2)%nat -> x a < 0) -> x (d - 2)%nat <= - / w ->
  sum (d - 2) (fun a => (x a / x (d - 2)%nat) ^ 2) <= sqrt (w ^ 2 - 1) ->
  sphere d (shift_step d w x) (d - 2)%nat <= - / w.

Definition x13 : vec := fun a => match a with 1%nat => - (1/7) | _ => - (4/7) end.

Theorem L13_refuted : ~ L13.
Proof.
  intro H. specialize (H 4%nat 2 x13 ltac:(lia) ltac:(lra)).
  assert (U : l2 4 x13 = 1) .
  { unfold l2, dot. cbn [sum x13].  replace (0 + - (4/7) * - (4/7) + - (1/7) * - (1/7) + - (4/7) * - (4/7) + - (4/7) *
      - (4/7)) with 1 by lra. apply sqrt_1. }
  assert (S3 : 17/16 <= sqrt (2 ^ 2 - 1)).
  { apply Rsqr_incr_0_var; [|apply sqrt_pos]. rewrite Rsqr_sqrt by lra. unfold Rsqr. lra. }
  assert (Y : l2 4 (shift_step 4 2 x13) = sqrt (158/49)).
  { unfold l2, dot. f_equal. cbn [sum]. unfold shift_step. cbn [Nat.eqb Nat.sub x13]. lra. }
  specialize (H U). cbn [Nat.sub] in H.
  assert (L : sphere 4 (shift_step 4 2 x13) 2%nat <= - / 2).
  { apply H.
    - intros a Ha. destruct a as [|[|a]]; try lia; cbn [x13]; lra.
    - cbn [x13]. lra.
    - eapply Rle_trans; [|exact S3]. right. cbn [sum x13]. field. }
  unfold sphere in L. rewrite Y in L.
  assert (E : shift_step 4 2 x13 2%nat = - (6/7)) by (unfold shift_step; cbn [Nat.eqb Nat.sub x13]; lra).
  rewrite E in L.
  assert (P : 0 < sqrt (158/49)) by (apply sqrt_lt_R0; lra).
  assert (Q : sqrt (158/49) * sqrt (158/49) = 158/49) by (apply sqrt_sqrt; lra).
  assert (sqrt (158/49) <= 12/7).
  { apply (Rmult_le_compat_r (sqrt (158/49))) in L; [|lra]. replace (- (6 / 7) / sqrt (158 / 49) * sqrt (158 / 49))
      with (- (6/7)) in L by (field; lra). lra. }
  nra.
Qed.
