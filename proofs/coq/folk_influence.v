(** folk:influence.  "The last token sees of another token k no more than it attends to it,
  though attention moves: |d x_n/d x_k|_2 <= |W|_2 P_nk after one causal layer of one head with a
    skip."  Refuted  [influence_refuted]: two tokens -1 and 1 on the line, W_QK = 4,
      W = 1: the derivative in the first is about -7 P_21. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms Softmax SphereLayer.
Local Open Scope R_scope.

(** g is the derivative of the last token as token k < n - 1 moves along v; w bounds the spectral norm of W. *)
Definition influence_claim : Prop := forall n d (M W X : mat) k w (v g : vec), (0 < d)%nat -> (S k < n)%nat -> 0 <= w ->
  (forall u, l2 d (vmat d u W) <= w * l2 d u) ->
  let Ly := onehead d M W causal in
  (forall a, (a < d)%nat -> is_derive (fun h => block_map n d (skipped Ly) (fun i b => X i b + h * eye k i * v b) (n -
    1)%nat a) 0 (g a)) ->
  l2 d g <= w * attn n d d (hd Ly 0) X (n - 1)%nat k * l2 d v.

Definition two : mat := fun i _ => match i with O => -1 | _ => 1 end.

Theorem influence_refuted : ~ influence_claim.
Proof.
  intro H. set (e0 := exp (-4)). set (e1 := exp 4). assert (P0 : 0 < e0) by apply exp_pos.
  assert (P1 : 0 < e1) by apply exp_pos.
  assert (Lt : e0 < e1) by (apply exp_increasing; lra).
  specialize (H 2%nat 1%nat (fun _ _ => 4) (fun _ _ => 1) two 0%nat 1 (fun _ => 1) (fun _ => e0 * (e0 - 7 * e1) / ((e0
    + e1) * (e0 + e1))) ltac:(lia) ltac:(lia) ltac:(lra)). cbv zeta in H.
  assert (L1 : forall x, l2 1 (fun _ => x) = Rabs x) by (intro x; unfold l2, dot; cbn [sum];
    rewrite Rplus_0_l, <- sqrt_Rsqr_abs; reflexivity).
  assert (B : l2 1 (fun _ => e0 * (e0 - 7 * e1) / ((e0 + e1) * (e0 + e1))) <= 1 * attn 2 1 1 (hd (onehead 1 (fun _ _ =>
    4) (fun _ _ => 1) causal) 0) two 1%nat 0%nat * l2 1 (fun _ => 1)).
  { apply H.
    - intro u. right. unfold l2, dot, vmat. cbn [sum]. rewrite Rmult_1_l. f_equal. ring.
    - intros a Ha. apply (is_derive_ext (fun h => 1 + (exp (4 * (h - 1)) * (h - 1) + exp 4) / (exp (4 * (h - 1)) + exp
        4))).
      + intro h. unfold block_map. cbn [skipped tok skip att]. change (2 - 1)%nat with 1%nat.
        rewrite SA_form by (try apply causal_proper; lia). unfold Ux, Ex, vmat, bil. cbn [sum]. unfold causal, eye.
        cbn [Nat.leb Nat.eqb two].
        replace (0 + (0 + (1 + h * 0 * 1) * 4 * (-1 + h * 1 * 1))) with (4 * (h - 1)) by ring.
        replace (0 + (0 + (1 + h * 0 * 1) * 4 * (1 + h * 0 * 1))) with 4 by ring.
        match goal with |- @eq _ ?a ?b => change (@eq R a b) end. field. assert (X := exp_pos (4 * (h - 1))).
        assert (Y := exp_pos 4). lra.
      + unfold e0, e1. auto_derive.
        * repeat split. apply Rgt_not_eq. assert (X := exp_pos (4 * (0 + - (1)))). assert (Y := exp_pos 4). lra.
        * replace (4 * (0 + - (1))) with (-4) by ring. fold e0 e1. field. lra. }
  rewrite !L1, Rabs_R1 in B. unfold attn, softmax, tilt in B. cbn [sum] in B. rewrite !logit_onehead in B by lia.
  unfold bil in B. cbn [sum onehead hd mask] in B. unfold causal in B. cbn [Nat.leb two] in B.
  replace (0 + (0 + 1 * 4 * -1)) with (-4) in B by ring. replace (0 + (0 + 1 * 4 * 1)) with 4 in B by ring.
  fold e0 e1 in B.
  assert (D0 : 0 < (e0 + e1) * (e0 + e1)) by nra.
  assert (A : e0 * (7 * e1 - e0) / ((e0 + e1) * (e0 + e1)) <= e0 / (e0 + e1)).
  { eapply Rle_trans; [|eapply Rle_trans; [exact B|right; field; lra]].
    eapply Rle_trans; [|rewrite <- Rabs_Ropp; apply Rle_abs]. right. field. lra. }
  apply (Rmult_le_compat_r ((e0 + e1) * (e0 + e1))) in A; [|lra].
  replace (e0 * (7 * e1 - e0) / ((e0 + e1) * (e0 + e1)) * ((e0 + e1) * (e0 + e1))) with (e0 * (7 * e1 - e0)) in A by
    (field; lra).
  replace (e0 / (e0 + e1) * ((e0 + e1) * (e0 + e1))) with (e0 * (e0 + e1)) in A by (field; lra).
  apply Rmult_le_reg_l in A; lra.
Qed.
