(** wu2024:anisotropy.  The equilibria of wu2024:3 are close to rank one for large w.

    For rank k >= 2, m = n-k+1: ||X||_F^2 / ||X||_2^2 <= n / (n - (m^2 + k - 2)/w^2), at full rank n/(n - (n-1)/w^2).
    The spectral norm enters through every s >= 0 with |X v| <= s |v| for all v: then ||X||_F^2 = n and
    n - (m^2 + k - 2)/w^2 <= s^2, the left side positive. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms Softmax SphereLayer wu2024_3.
Local Open Scope R_scope.

Theorem wu_anisotropy n d k w (sgn : nat -> R) s : (2 <= k)%nat -> (k <= n)%nat -> (k <= d)%nat -> INR n - 1 < w ->
  (forall j, sgn j = 1 \/ sgn j = -1) ->
  let X := every_rank n d k w sgn in let m := INR (n - k + 1) in
  0 <= s -> (forall v : vec, l2 n (fun i => dot d (X i) v) <= s * l2 d v) ->
  frob n d X ^ 2 = INR n /\ 0 < INR n - (m ^ 2 + INR k - 2) / w ^ 2 /\
  INR n - (m ^ 2 + INR k - 2) / w ^ 2 <= s ^ 2 /\ frob n d X ^ 2 <= INR n / (INR n - (m ^ 2 + INR k - 2) / w ^ 2) * s ^
    2.
Proof.
  intros k2 kn kd Hw Hs X m s0 HX. assert (N : 2 <= INR n) by (apply (le_INR 2); lia). assert (w0 : 0 < w) by lra.
  assert (Fr : frob n d X ^ 2 = INR n).
  { unfold frob. rewrite <- Rsqr_pow2, Rsqr_sqrt by (apply sum_nonneg; intros; apply dot_pos).
    rewrite (sum_ext n _ (fun _ => 1)); [rewrite sum_const; ring|]. intros i Hi. unfold X, every_rank.
    apply (norm_tok n d k w sgn); auto; try lia. unfold first_tokens; lia. }
  assert (last : forall i, (i < n)%nat -> X i (d - 1)%nat ^ 2 = 1 - (if Nat.ltb i (n - k + 1) then 0 else if Nat.eqb i
    (n - k + 1) then (m / w) ^ 2 else (1 / w) ^ 2)).
  { intros i Hi. unfold X, every_rank, first_tokens. destruct (Nat.ltb_spec i (n - k + 1)).
    - replace (i - (n - k + 1 - 1))%nat with 0%nat by lia. simpl. rewrite eye_same. lra.
    - destruct (i - (n - k + 1 - 1))%nat as [|j] eqn:Ej; [lia|]. simpl. destruct (Nat.ltb_spec (S (d - 1)) d); [lia|].
      assert (SB : 0 < scale n k j < w) by (apply (scale_b n d k w); auto; lia).
      assert (Q : 0 <= 1 - (scale n k j / w) ^ 2).
      { assert (0 < scale n k j / w < 1) by (split; [apply Rdiv_lt_0_compat; lra|apply Rmult_lt_reg_r with w; [lra|];
          replace (scale n k j / w * w) with (scale n k j) by (field; lra); lra]). nra. }
      assert (Sq := sqrt_sqrt _ Q).
      assert (E : (sgn j * sqrt (1 - (scale n k j / w) ^ 2)) ^ 2 = 1 - (scale n k j / w) ^ 2).
      { simpl pow in *. destruct (Hs j) as [-> | ->]; lra. }
      simpl pow in E at 1. rewrite E.
      destruct (Nat.eqb_spec i (n - k + 1)); destruct j as [|j]; try lia; unfold scale, first_tokens, m; reflexivity. }
  assert (Col : sum n (fun i => X i (d - 1)%nat ^ 2) = INR n - (m ^ 2 + INR k - 2) / w ^ 2).
  { rewrite (sum_ext n _ _ last), sum_minus, sum_const.
    match goal with |- _ - sum n ?g = _ => replace (sum n g) with (sum ((n - k + 1) + (1 + (k - 2))) g) by (f_equal;
      lia) end. rewrite sum_split.
    rewrite (sum_ext (n - k + 1) _ (fun _ => 0)) by (intros j Hj; destruct (Nat.ltb_spec j (n - k + 1));
      [reflexivity|lia]).
    rewrite sum_zero, sum_split. cbn [sum]. rewrite Nat.add_0_r.
    destruct (Nat.ltb_spec (n - k + 1) (n - k + 1)); [lia|]. rewrite Nat.eqb_refl.
    rewrite (sum_ext (k - 2) _ (fun _ => (1 / w) ^ 2)).
    - rewrite sum_const, minus_INR by lia. simpl (INR 2). field. lra.
    - intros j Hj. destruct (Nat.ltb_spec (n - k + 1 + (1 + j)) (n - k + 1)); [lia|].
      destruct (Nat.eqb_spec (n - k + 1 + (1 + j)) (n - k + 1)); [lia|reflexivity]. }
  assert (Low : INR n - (m ^ 2 + INR k - 2) / w ^ 2 <= s ^ 2).
  { specialize (HX (eye (d - 1)%nat)).
    assert (V : l2 d (eye (d - 1)%nat) = 1) by (unfold l2, dot;
      rewrite (sum_eye_l d (fun a => eye (d - 1)%nat a)) by lia; rewrite eye_same; apply sqrt_1).
    rewrite V, Rmult_1_r in HX.
    assert (E : l2 n (fun i => dot d (X i) (eye (d - 1)%nat)) = sqrt (INR n - (m ^ 2 + INR k - 2) / w ^ 2)).
    { rewrite <- Col. unfold l2. f_equal. unfold dot at 1. apply sum_ext; intros i Hi.
      replace (dot d (X i) (eye (d - 1)%nat)) with (X i (d - 1)%nat); [ring|]. unfold dot. symmetry.
      rewrite (sum_ext d _ (fun a => eye (d - 1)%nat a * X i a)) by (intros; ring). apply (sum_eye_l d (X i)). lia. }
    rewrite E in HX. assert (C0 : 0 <= INR n - (m ^ 2 + INR k - 2) / w ^ 2) by (rewrite <- Col; apply sum_nonneg;
      intros; apply pow2_ge_0).
    rewrite <- (sqrt_sqrt _ C0). assert (P := sqrt_pos (INR n - (m ^ 2 + INR k - 2) / w ^ 2)).
    replace (s ^ 2) with (s * s) by ring. now apply Rmult_le_compat. }
  assert (Pos : 0 < INR n - (m ^ 2 + INR k - 2) / w ^ 2).
  { rewrite <- Col. apply Rlt_le_trans with (X 0%nat (d - 1)%nat ^ 2).
    - rewrite last by lia. destruct (Nat.ltb_spec 0 (n - k + 1)); [lra|lia].
    - apply (sum_term_le n (fun i => X i (d - 1)%nat ^ 2) 0%nat); [intros; apply pow2_ge_0|lia]. }
  repeat split; auto. rewrite Fr. set (D := INR n - (m ^ 2 + INR k - 2) / w ^ 2) in *.
  apply Rmult_le_reg_r with D; [exact Pos|]. replace (INR n / D * s ^ 2 * D) with (INR n * s ^ 2) by (field; lra).
  apply Rmult_le_compat_l; lra.
Qed.
