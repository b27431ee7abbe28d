(** folk:lambda-skip.  "With LayerNorm on the sphere and skips of a factor lambda, one layer keeps |lambda|/(S C + |lambda|) of the spread mu, S = |W|_F, C = |P|_F, however close the
    tokens": lambda not 0, one head, no mask, no biases, tokens on the sphere.  Refuted  [lambda_skip_refuted]: two tokens (24, +-7)/25 that attend to each other
    almost alone, W = I, lambda = 2.  Each becomes (3a, +-(1 + 2p) b)/r with a small p: a good third of the spread is left, and one half was claimed. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms Softmax SphereLayer.
Local Open Scope R_scope.

Definition lambda_skip_claim : Prop := forall n d s (M W X : mat), (0 < n)%nat -> (0 < d)%nat -> s <> 0 -> (forall i, (i < n)%nat -> l2 d (X i) = 1) ->
  let Ly := onehead d M W nomask in
  let Y := block_map n d {| att := Ly; skip := s; tok := sphere d |} X in
  mu n d Y * (frob d d W * frob n n (attn n d d (hd Ly 0) X) + Rabs s) >= Rabs s * mu n d X.

Definition couple : mat := fun i a => match i, a with _, O => 24 / 25 | O, _ => 7 / 25 | _, _ => - (7 / 25) end.
(** Logits that repel: -100 x_i . x_j. *)
Definition away : mat := fun a b => -100 * eye a b.

Lemma mu_two (a b : R) (X : mat) : X 0%nat 0%nat = a -> X 1%nat 0%nat = a -> X 0%nat 1%nat = b -> X 1%nat 1%nat = - b -> 0 <= b -> mu 2 2 X = sqrt 2 * b.
Proof.
  intros E1 E2 E3 E4 B. unfold mu, frob, dot, centred, vsub, mean. cbn [sum]. rewrite E1, E2, E3, E4. simpl INR.
  match goal with |- sqrt ?x = _ => replace x with (2 * (b * b)) by field end. rewrite sqrt_mult_alt by lra. now rewrite sqrt_square.
Qed.

Theorem lambda_skip_refuted : ~ lambda_skip_claim.
Proof.
  intro H. specialize (H 2%nat 2%nat 2 away eye couple ltac:(lia) ltac:(lia) ltac:(lra)). cbv zeta in H. set (Ly := onehead 2 away eye nomask) in *.
  set (P := attn 2 2 2 (hd Ly 0) couple) in *. set (E := exp (98 / 625 * 100)). set (p := / (1 + E)).
  assert (E9 : 9 < E) by (unfold E; assert (X := exp_ineq1_le (98 / 625 * 100)); lra).
  assert (p0 : 0 < p) by (apply Rinv_0_lt_compat; lra). assert (p9 : p < / 10) by (apply Rinv_lt_contravar; lra).
  assert (Lg : forall i j, logit 2 2 (hd Ly 0) couple i j = bil 2 (couple i) away (couple j)) by (intros; apply logit_onehead; lia).
  assert (Xp : exp (-100) <> 0 /\ exp (-100 * (527 / 625)) = exp (-100) * E) by (split; [apply Rgt_not_eq, exp_pos|unfold E; rewrite <- exp_plus; f_equal; lra]). destruct Xp as [X0 X1].
  assert (B : forall i j, (i < 2)%nat -> (j < 2)%nat -> exp (bil 2 (couple i) away (couple j)) = if Nat.eqb i j then exp (-100) else exp (-100) * E).
  { intros i j Hi Hj. rewrite <- X1. destruct i as [|[|i]]; try lia; destruct j as [|[|j]]; try lia; cbn [Nat.eqb]; unfold bil; cbn [sum]; unfold away, eye; cbn [Nat.eqb couple]; f_equal; lra. }
  assert (PE : forall i j, (i < 2)%nat -> (j < 2)%nat -> P i j = if Nat.eqb i j then p else 1 - p).
  { intros i j Hi Hj. unfold P, attn, softmax, tilt. cbn [sum]. change (mask (hd Ly 0)) with nomask. unfold nomask. rewrite !Lg, !B by lia. unfold p.
    destruct i as [|[|i]]; try lia; destruct j as [|[|j]]; try lia; cbn [Nat.eqb]; field; split; try lra; intro Q; apply X0; nra. }
  assert (U : forall i, (i < 2)%nat -> l2 2 (couple i) = 1).
  { intros i Hi. unfold l2, dot. cbn [sum]. transitivity (sqrt 1); [|apply sqrt_1]. f_equal. destruct i as [|[|i]]; try lia; cbn [couple]; lra. }
  specialize (H U). set (Y := block_map 2 2 {| att := Ly; skip := 2; tok := sphere 2 |} couple) in *.
  set (r := sqrt (72 / 25 * (72 / 25) + (1 + 2 * p) * (7 / 25) * ((1 + 2 * p) * (7 / 25)))).
  assert (r0 : 72 / 25 <= r) by (unfold r; rewrite <- (sqrt_square (72 / 25)) at 1 by lra; apply sqrt_le_1_alt; nra).
  set (z := fun i a => match a with O => 72 / 25 | _ => (1 + 2 * p) * couple i 1%nat end).
  assert (Z : forall i a, (i < 2)%nat -> (a < 2)%nat -> 2 * couple i a + SA 2 2 Ly couple i a = z i a).
  { intros i a Hi Ha. unfold SA, Ly. cbn [onehead nheads sum bout dqk]. change (attn 2 2 2 (hd (onehead 2 away eye nomask) 0) couple i) with (P i). cbn [onehead hd WV]. unfold vmat. cbn [sum].
    rewrite !PE by lia. unfold z, eye. destruct i as [|[|i]]; try lia; destruct a as [|[|a]]; try lia; cbn [Nat.eqb couple]; lra. }
  assert (YE : forall i a, (i < 2)%nat -> (a < 2)%nat -> Y i a = z i a / r).
  { intros i a Hi Ha. unfold Y, block_map. cbn [tok skip att]. unfold sphere. rewrite Z by assumption. f_equal. unfold l2, dot, r. cbn [sum]. rewrite !Z by lia. f_equal.
    unfold z. destruct i as [|[|i]]; try lia; cbn [couple]; ring. }
  assert (M0 : mu 2 2 couple = sqrt 2 * (7 / 25)) by (apply (mu_two (24 / 25)); cbn [couple]; lra).
  assert (b0 : 0 <= (1 + 2 * p) * (7 / 25) / r) by (apply Rle_mult_inv_pos; nra).
  assert (M1 : mu 2 2 Y = sqrt 2 * ((1 + 2 * p) * (7 / 25) / r)).
  { apply (mu_two (72 / 25 / r)); try exact b0; rewrite YE by lia; unfold z; cbn [couple]; try reflexivity. field. lra. }
  assert (S2 : sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra). assert (q0 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (FW : frob 2 2 eye = sqrt 2) by (unfold frob, dot, eye; cbn [sum Nat.eqb]; f_equal; lra).
  assert (FP : frob 2 2 P <= sqrt 2) by (unfold frob, dot; cbn [sum]; rewrite !PE by lia; cbn [Nat.eqb]; apply sqrt_le_1_alt; nra).
  assert (FP0 : 0 <= frob 2 2 P) by apply sqrt_pos.
  rewrite M0, M1, FW, (Rabs_right 2) in H by lra.
  assert (T : (1 + 2 * p) * (7 / 25) / r < 7 / 25 / 2).
  { apply Rmult_lt_reg_r with r; [lra|]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra. nra. }
  assert (K : sqrt 2 * frob 2 2 P + 2 <= 4) by nra. assert (K0 : 0 <= sqrt 2 * frob 2 2 P) by (apply Rmult_le_pos; lra).
  set (c := (1 + 2 * p) * (7 / 25) / r) in *. assert (c * (sqrt 2 * frob 2 2 P + 2) <= c * 4) by (apply Rmult_le_compat_l; lra). nra.
Qed.
