(** A tilted probability vector and the softmax over unmasked keys: positive, of sum one; the
    attention matrix is row-stochastic; differences of logits. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms.
Local Open Scope R_scope.

(** A vector of non-negative weights, not all zero. *)
Definition weights (n : nat) (m : vec) : Prop :=
  (forall j, (j < n)%nat -> 0 <= m j) /\ exists j, (j < n)%nat /\ 0 < m j.

Lemma sum_pos_some n q : (forall j, (j < n)%nat -> 0 <= q j) -> 0 < sum n q -> exists j, (j < n)%nat /\ 0 < q j.
Proof.
  induction n; simpl; intros H S; [lra|].
  destruct (Rle_lt_or_eq_dec 0 (q n) (H n ltac:(lia))) as [L|L].
  - exists n; split; [lia|exact L].
  - destruct IHn as [j [Hj Hq]]; [intros; apply H; lia|lra|]. exists j; split; [lia|exact Hq].
Qed.

Lemma prob_weights n q : (forall j, (j < n)%nat -> 0 <= q j) -> sum n q = 1 -> weights n q.
Proof. intros H S. split; [exact H|]. apply sum_pos_some; [exact H|lra]. Qed.

Section Tilt.
Variables (n : nat) (m : vec).
Hypothesis W : weights n m.

Lemma tilt_Z_pos g : 0 < sum n (fun k => m k * exp (g k)).
Proof.
  destruct W as [P [j [Hj Hq]]].
  apply Rlt_le_trans with (m j * exp (g j)).
  - apply Rmult_lt_0_compat; [exact Hq|apply exp_pos].
  - apply (sum_term_le n (fun k => m k * exp (g k))); [|exact Hj].
    intros i Hi. apply Rmult_le_pos; [auto|left; apply exp_pos].
Qed.

Lemma tilt_nonneg g j : (j < n)%nat -> 0 <= tilt n m g j.
Proof.
  intros Hj. assert (ZP := tilt_Z_pos g). unfold tilt.
  apply Rmult_le_pos; [apply Rmult_le_pos; [now apply W|left; apply exp_pos]|left; now apply Rinv_0_lt_compat].
Qed.

Lemma tilt_pos g j : (j < n)%nat -> 0 < m j -> 0 < tilt n m g j.
Proof.
  intros Hj Hm. apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; [exact Hm|apply exp_pos]|apply tilt_Z_pos].
Qed.

Lemma tilt_sum g : sum n (tilt n m g) = 1.
Proof. assert (ZP := tilt_Z_pos g). unfold tilt, Rdiv. rewrite sum_scal_r. apply Rinv_r. lra. Qed.

(** Changing the logits from l' to l tilts the softmax by l - l'. *)
Lemma tilt_tilt l l' j : tilt n m l j = tilt n (tilt n m l') (fun j => l j - l' j) j.
Proof.
  assert (ZP := tilt_Z_pos l). assert (ZP' := tilt_Z_pos l').
  unfold tilt at 2. set (Z' := sum n (fun k => m k * exp (l' k))) in *.
  assert (T : forall k, tilt n m l' k * exp (l k - l' k) = m k * exp (l k) * / Z').
  { intro k. unfold tilt. fold Z'. replace (exp (l k)) with (exp (l' k) * exp (l k - l' k))
      by (rewrite <- exp_plus; f_equal; lra). field. lra. }
  rewrite T. rewrite (sum_ext n _ (fun k => m k * exp (l k) * / Z')) by (intros; apply T).
  rewrite sum_scal_r. unfold tilt. field. split; lra.
Qed.
End Tilt.

Lemma tilt_ext n m m' g g' j : (forall k, (k < n)%nat -> m k = m' k) -> (forall k, (k < n)%nat -> g k = g' k) ->
  (j < n)%nat -> tilt n m g j = tilt n m' g' j.
Proof.
  intros Hm Hg Hj. unfold tilt. rewrite (sum_ext n _ (fun k => m' k * exp (g' k))) by (intros; rewrite Hm, Hg; auto).
  rewrite Hm, Hg; auto.
Qed.

(** A constant added to all logits changes nothing. *)
Lemma tilt_shift n m g c j : tilt n m (fun k => c + g k) j = tilt n m g j.
Proof.
  unfold tilt. rewrite (sum_ext n _ (fun k => exp c * (m k * exp (g k)))) by (intros; rewrite exp_plus; ring).
  rewrite sum_scal, exp_plus. assert (P := exp_pos c).
  destruct (Req_dec (sum n (fun k => m k * exp (g k))) 0) as [E|E].
  - rewrite E, Rmult_0_r. unfold Rdiv. rewrite Rinv_0. ring.
  - field. split; [exact E|lra].
Qed.

Lemma mask_weights n m i : proper_mask n m -> (i < n)%nat -> weights n (m i).
Proof. intros [P S] Hi. split; [intros; now apply P|now apply S]. Qed.

Lemma attn_stochastic n d dq h X : proper_mask n (mask h) -> row_stochastic n n (attn n d dq h X).
Proof.
  intros M. split.
  - intros i j Hi Hj. apply tilt_nonneg; [now apply mask_weights|exact Hj].
  - intros i Hi. apply tilt_sum. now apply mask_weights.
Qed.

Lemma nomask_padding n : (0 < n)%nat -> key_padding n nomask.
Proof.
  intros Hn. split; [split|]; unfold nomask; intros; try lra. exists 0%nat. split; [exact Hn|lra].
Qed.

Lemma causal_proper n : proper_mask n causal.
Proof.
  unfold causal. split.
  - intros i j _ _. destruct Nat.leb; lra.
  - intros i Hi. exists i. split; [exact Hi|]. rewrite Nat.leb_refl. lra.
Qed.

(* ---------- logits ---------- *)
Lemma bil_fact d dq h u v :
  sum dq (fun c => vmat d u (WQ h) c * vmat d v (WK h) c) = bil d u (WQK dq h) v.
Proof.
  unfold vmat, bil, WQK.
  rewrite (sum_ext dq _ (fun c => sum d (fun a => sum d (fun b => u a * WQ h a c * (v b * WK h b c)))))
    by (intros; apply sum_mult).
  rewrite sum_swap. apply sum_ext; intros a _. rewrite sum_swap. apply sum_ext; intros b _.
  rewrite <- sum_scal, <- sum_scal_r. apply sum_ext; intros; ring.
Qed.

(** The double difference of logits: biases and one-index terms cancel. *)
Lemma logit_diff2 d dq h X i k j j' :
  (logit d dq h X i j - logit d dq h X k j) - (logit d dq h X i j' - logit d dq h X k j')
  = bil d (vsub (X i) (X k)) (WQK dq h) (vsub (X j) (X j')) / sqrt (INR dq).
Proof.
  unfold logit, Rdiv. rewrite <- bil_fact, <- !Rmult_minus_distr_r. f_equal.
  rewrite <- !sum_minus. apply sum_ext; intros c _. rewrite <- !vmat_sub. ring.
Qed.

Lemma sqrt_dqk_pos dq : (0 < dq)%nat -> 0 < sqrt (INR dq).
Proof. intros H. apply sqrt_lt_R0. now apply lt_0_INR. Qed.
