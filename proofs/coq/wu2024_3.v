(** wu2024:3.  Causal mask, W_QK = 0, LayerNorm on the sphere: equilibria of every rank under one value matrix.

    W_V = I + wS, (xS)_b = x_{b-1}, w > n-1.  For every 1 <= k <= min(n,d) and every choice of signs there is an
    equilibrium of rank exactly k: with m = n-k+1, the first m tokens are e_{d-1},
      and every later one is the token before it,
    shifted one place to the left, times -m/w for the first and -1/w for the others, with last coordinate
    +-sqrt(1 - m^2/w^2) or +-sqrt(1 - 1/w^2) that makes its norm one. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Language.
From Rankmath Require Import Definitions Norms Softmax SphereLayer.
Local Open Scope R_scope.

(** I + wS *)
Notation shift_values := Language.shift_values.

Section Shift.
Variables (n d k : nat) (w : R) (sgn : nat -> R).
Hypothesis k1 : (1 <= k)%nat.
Hypothesis kn : (k <= n)%nat.
Hypothesis kd : (k <= d)%nat.
Hypothesis wn : INR n - 1 < w.
Hypothesis w0 : 0 < w.
Hypothesis signs : forall j, sgn j = 1 \/ sgn j = -1.

Definition first_tokens : nat := (n - k + 1)%nat.
(** m, then 1, 1, ... *)
Definition scale (j : nat) : R := match j with O => INR first_tokens | _ => 1 end.
(** The token e_{d-1} and its successors. *)
Fixpoint tok_at (j : nat) : vec := match j with
  | O => eye (d - 1)%nat
  | S l => fun a => if Nat.ltb (S a) d then - (scale l / w) * tok_at l (S a) else sgn l * sqrt (1 - (scale l / w) ^ 2)
  end.
Definition every_rank : mat := fun i => tok_at (i - (first_tokens - 1)).
Notation m := first_tokens.
Notation X := every_rank.
Notation W := (shift_values w).
Notation F := (sphere_map n d no_logits W causal).

Lemma tok_S l a : tok_at (S l) a = if Nat.ltb (S a) d then - (scale l / w) * tok_at l (S a) else sgn l * sqrt (1 -
  (scale l / w) ^ 2).
Proof. reflexivity. Qed.

Lemma scale_b j : (S j < k)%nat -> 0 < scale j < w.
Proof.
  intros Hj. assert (N : 2 <= INR n) by (apply (le_INR 2); lia).
  destruct j as [|j]; simpl; [|lra]. unfold first_tokens. split; [apply lt_0_INR; lia|].
  apply Rle_lt_trans with (INR n - 1); [|exact wn]. replace (INR n - 1) with (INR (n - 1)) by (rewrite minus_INR by
    lia; simpl; ring). apply le_INR. lia.
Qed.

Lemma support j a : (j < k)%nat -> (S a + j < d)%nat -> tok_at j a = 0.
Proof.
  revert a. induction j as [|j IH]; intros a Hj Ha; simpl; [apply eye_diff; lia|].
  destruct (Nat.ltb_spec (S a) d); [|lia]. rewrite IH by lia. ring.
Qed.

Lemma norm_tok j : (j < k)%nat -> dot d (tok_at j) (tok_at j) = 1.
Proof.
  induction j as [|j IH]; intros Hj.
  - unfold dot. simpl. rewrite (sum_eye_l d (fun a => eye (d - 1)%nat a) (d - 1) ltac:(lia)). apply eye_same.
  - assert (SB := scale_b j Hj). specialize (IH ltac:(lia)). unfold dot in *.
    assert (Z : tok_at j 0%nat = 0) by (apply support; lia).
    destruct d as [|e] eqn:Ed; [lia|]. rewrite sum_head, Z in IH. cbn [sum].
    rewrite (sum_ext e _ (fun a => (scale j / w) ^ 2 * (tok_at j (S a) * tok_at j (S a)))).
    + rewrite sum_scal. replace (sum e (fun a => tok_at j (S a) * tok_at j (S a))) with 1 by lra.
      rewrite !tok_S, Ed. destruct (Nat.ltb_spec (S e) (S e)); [lia|].
      assert (Q : 0 <= 1 - (scale j / w) ^ 2).
      { assert (0 < scale j / w < 1) by (split; [apply Rdiv_lt_0_compat; lra|apply Rmult_lt_reg_r with w; [lra|];
          replace (scale j / w * w) with (scale j) by (field; lra); lra]). nra. }
      assert (S := sqrt_sqrt _ Q). set (x := sqrt (1 - (scale j / w) ^ 2)) in *.
      replace (sgn j * x * (sgn j * x)) with (x * x) by (destruct (signs j) as [-> | ->]; ring). rewrite S. ring.
    + intros a Ha. rewrite !tok_S, Ed. destruct (Nat.ltb_spec (S a) (S e)); [ring|lia].
Qed.

Lemma lead j : (j < k)%nat -> tok_at j (d - 1 - j)%nat <> 0.
Proof.
  induction j as [|j IH]; intros Hj; simpl.
  - rewrite Nat.sub_0_r, eye_same. lra.
  - assert (SB := scale_b j Hj). destruct (Nat.ltb_spec (S (d - 1 - S j)) d); [|lia].
    replace (S (d - 1 - S j)) with (d - 1 - j)%nat by lia. apply Rmult_integral_contrapositive_currified; [|apply IH;
      lia].
    apply Ropp_neq_0_compat. apply Rgt_not_eq. apply Rdiv_lt_0_compat; lra.
Qed.

Lemma independent_toks l (c : vec) : (l <= k)%nat -> (forall a, (a < d)%nat ->
  sum l (fun j => c j * tok_at j a) = 0) -> forall j, (j < l)%nat -> c j = 0.
Proof.
  induction l as [|l IH]; intros Hl H j Hj; [lia|].
  assert (cl : c l = 0).
  { assert (E := H (d - 1 - l)%nat ltac:(lia)). cbn [sum] in E.
    rewrite (sum_ext l _ (fun _ => 0)) in E by (intros i Hi; rewrite support by lia; ring).
    rewrite sum_zero, Rplus_0_l in E. apply Rmult_integral in E. destruct E as [E|E]; [exact E|]. exfalso.
    now apply (lead l ltac:(lia)). }
  destruct (Nat.eq_dec j l) as [->|]; [exact cl|]. apply IH; [lia| |lia]. intros a Ha. specialize (H a Ha).
  cbn [sum] in H. rewrite cl in H. lra.
Qed.

(** x W = x + w (x shifted to the right) *)
Lemma vmat_shift x b : (b < d)%nat -> vmat d x W b = x b + w * match b with O => 0 | S a => x a end.
Proof.
  intros Hb. unfold vmat, Language.shift_values. rewrite (sum_ext d _ (fun a => x a * eye a b + w * (x a * eye (S a)
    b))) by (intros; ring).
  rewrite sum_plus, sum_scal, (sum_eye_r d x b Hb). f_equal. f_equal. destruct b as [|a].
  - rewrite (sum_ext d _ (fun _ => 0)) by (intros; rewrite eye_diff by lia; ring). apply sum_zero.
  - rewrite (sum_single d _ a ltac:(lia)); [rewrite eye_same; ring|]. intros j _ Hj. rewrite eye_diff by lia. ring.
Qed.

Definition multiple (i : nat) : R := if Nat.ltb i m then INR (S i) else 1.

Lemma multiple_step i : (m <= S i)%nat -> multiple i = scale (i - (m - 1)).
Proof.
  intros H. assert (M1 : (1 <= m)%nat) by (unfold first_tokens; lia). unfold multiple. destruct (Nat.ltb_spec i m).
  - assert (Ei : i = (m - 1)%nat) by lia. rewrite Ei. rewrite Nat.sub_diag. unfold scale. f_equal.
    unfold first_tokens in *. lia.
  - destruct (i - (m - 1))%nat eqn:E; [lia|reflexivity].
Qed.

(** X_0 + ... + X_i, times W, is a multiple of X_i. *)
Lemma telescoped i b : (i < n)%nat -> (b < d)%nat -> sum (S i) (fun j => vmat d (X j) W b) = multiple i * X i b.
Proof.
  assert (M1 : (1 <= m)%nat) by (unfold first_tokens; lia).
  assert (Eq : forall j, (j < m)%nat -> (b < d)%nat -> vmat d (X j) W b = eye (d - 1)%nat b).
  { intros j Hj Hb. rewrite vmat_shift by exact Hb. unfold every_rank. replace (j - (m - 1))%nat with 0%nat by lia.
    simpl.
    destruct b as [|a]; [ring|]. rewrite (eye_diff (d - 1) a) by lia. ring. }
  induction i as [|i IH]; intros Hi Hb.
  - cbn [sum]. rewrite Eq by (auto; lia). unfold multiple. destruct (Nat.ltb_spec 0 m); [|lia]. unfold every_rank.
    simpl. ring.
  - change (sum (S (S i)) (fun j => vmat d (X j) W b)) with (sum (S i) (fun j => vmat d (X j) W b) + vmat d (X (S i)) W
      b).
    rewrite IH by (auto; lia). destruct (Nat.lt_ge_cases (S i) m) as [L|L].
    + rewrite Eq by assumption. unfold multiple. destruct (Nat.ltb_spec i m), (Nat.ltb_spec (S i) m); try lia.
      unfold every_rank. replace (i - (m - 1))%nat with 0%nat by lia. replace (S i - (m - 1))%nat with 0%nat by lia.
      simpl tok_at.
      rewrite (S_INR (S i)). ring.
    + rewrite (multiple_step i ltac:(lia)). unfold multiple. destruct (Nat.ltb_spec (S i) m); [lia|].
      rewrite vmat_shift by exact Hb.
      unfold every_rank. replace (S i - (m - 1))%nat with (S (i - (m - 1))) by lia. set (j := (i - (m - 1))%nat).
      assert (Hj : (S j < k)%nat) by (unfold j, first_tokens in *; lia).
      destruct b as [|a]; [rewrite (support j) by lia; ring|]. rewrite (tok_S j a).
      destruct (Nat.ltb_spec (S a) d); [|lia]. field. lra.
Qed.

Lemma unit_rows i : (i < n)%nat -> l2 d (X i) = 1.
Proof.
  intros Hi. unfold l2, every_rank. rewrite norm_tok by (unfold first_tokens; lia). apply sqrt_1.
Qed.

Lemma fixed_shift : fixed n d F X.
Proof.
  intros i b Hi Hb.
  assert (U : forall b, (b < d)%nat -> Ux n d no_logits W causal X i b = multiple i * X i b).
  { intros e He. rewrite <- telescoped by assumption. unfold Ux, Ex, no_logits.
    replace n with (S i + (n - S i))%nat at 1 by lia. rewrite sum_split.
    rewrite (sum_ext (n - S i) _ (fun _ => 0)) by (intros j _; unfold causal; destruct (Nat.leb_spec (S i + j) i);
      [lia|ring]).
    rewrite sum_zero, Rplus_0_r. apply sum_ext; intros j Hj. unfold causal. destruct (Nat.leb_spec j i); [|lia].
    replace (bil d (X i) (fun _ _ => 0) (X j)) with 0; [rewrite exp_0; ring|].
    unfold bil. rewrite (sum_ext d _ (fun _ => 0)); [now rewrite sum_zero|]. intros.
    rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros; ring. }
  assert (P : 0 < multiple i) by (unfold multiple; destruct Nat.ltb; [apply lt_0_INR; lia|lra]).
  rewrite sphere_form by (try apply causal_proper; lia). rewrite U by exact Hb.
  replace (l2 d (Ux n d no_logits W causal X i)) with (multiple i); [field; lra|].
  transitivity (L2 d (fun a => multiple i * X i a)).
  - rewrite (sn_scal (L2 d)). change (L2 d (X i)) with (l2 d (X i)). rewrite unit_rows, Rabs_right by (auto; lra). ring.
  - unfold L2, l2, dot; simpl. f_equal. apply sum_ext; intros a Ha. now rewrite U.
Qed.

Lemma rank_shift : has_rank n d X k.
Proof.
  exists (fun j => (j + (m - 1))%nat). assert (E : forall j, X (j + (m - 1))%nat = tok_at j) by (intro;
    unfold every_rank; f_equal; lia).
  split; [|split].
  - intros j Hj. unfold first_tokens. lia.
  - intros c Hc. apply (independent_toks k c (le_n k)). intros a Ha. rewrite <- (Hc a Ha). apply sum_ext; intros j _.
    now rewrite E.
  - intros i Hi. exists (eye (i - (m - 1))%nat). intros a Ha.
    rewrite (sum_ext k _ (fun j => eye (i - (m - 1))%nat j * tok_at j a)) by (intros; now rewrite E).
    rewrite (sum_eye_l k (fun j => tok_at j a)) by (unfold first_tokens; lia). reflexivity.
Qed.
End Shift.

Theorem wu_3 n d w : (1 <= n)%nat -> INR n - 1 < w -> 0 < w -> exists W : mat,
  forall k, (1 <= k)%nat -> (k <= n)%nat -> (k <= d)%nat -> forall sgn : nat ->
    R, (forall j, sgn j = 1 \/ sgn j = -1) ->
  let X := every_rank n d k w sgn in
  (forall i, (i < n)%nat -> l2 d (X i) = 1) /\ fixed n d (sphere_map n d no_logits W causal) X /\ has_rank n d X k.
Proof.
  intros Hn Hw w0. exists (shift_values w). intros k k1 kn kd sgn Hs X. split; [|split].
  - intros; now apply unit_rows.
  - now apply fixed_shift.
  - now apply rank_shift.
Qed.
