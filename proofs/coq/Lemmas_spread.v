(** Lemmas of the prover: further sizes of tokens (about their mean in the spectral and the composite norm,
  the first two of
    them, the participation ratio), the ball around tokens (Jung), and further sizes of attention. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Rbar Lub.
From Rankmath Require Import Definitions Functions Norms Softmax own_tv Masks own_hemisphere own_order Quantities
    Lemmas_norms Lemmas_tokens Lemmas_attention Lemmas_layer Lemmas_entropy.
Local Open Scope R_scope.

(* ---------- quantities ---------- *)
Definition centred_norm (n d : nat) (X : mat) : R := spectral n d (centred X (mean n X)).
Definition about_mean (n d : nat) (X : mat) : R := comp n d (centred X (mean n X)).
(** 0 for one token *)
Definition first_gap (n d : nat) (X : mat) : R := if Nat.ltb 1 n then l2 d (vsub (X 1%nat) (X 0%nat)) else 0.
(** |X|_F^4/|X X^T|_F^2; 0 for X = 0 here, where the language has no value. *)
Definition gram_square (n d : nat) (X : mat) : R := sum n (fun i => sum n (fun j => dot d (X i) (X j) ^ 2)).
Definition participation_ratio (n d : nat) (X : mat) : R := frob n d X ^ 4 / gram_square n d X.
(** p_j (1 - p_j + p_k), the largest over rows and pairs; 0 for one token *)
Definition top_shares (n : nat) (P : mat) : R :=
  maxf n (fun i => maxf n (fun j => maxf n (fun k => if Nat.eqb j k then 0 else P i j * (1 - P i j + P i k)))).

(* ---------- about the mean ---------- *)
Section Mean.
Variables (n d : nat) (X : mat).
Hypothesis Hn : (0 < n)%nat.
Let N1 : 1 <= INR n := one_INR n Hn.
Notation R0 := (centred X (mean n X)).
(** A shift changes nothing about the mean. *)
Lemma about_shift x i a : centred X (mean n X) i a = centred (centred X x) (mean n (centred X x)) i a.
Proof. unfold centred, vsub, mean. rewrite sum_minus, sum_const. field. lra. Qed.
Lemma mean_about a : mean n R0 a = 0.
Proof. unfold mean at 1, centred, vsub. rewrite sum_minus, sum_const. unfold mean. field. lra. Qed.
(** v (X - 1 mean) = (v - mean v) X, and a mean taken away makes no vector longer. *)
Lemma spectral_about A : spectral n d (centred A (mean n A)) <= spectral n d A.
Proof.
  apply spectral_le. split; [apply spectral_nonneg|]. intro v. set (m := sum n v / INR n).
  rewrite (l2_ext d _ (vmat n (fun i => v i - m) A)).
  - eapply Rle_trans; [apply spectral_vmat|]. apply Rmult_le_compat_l; [apply spectral_nonneg|]. apply sqrt_le_1_alt.
    unfold dot.
    replace (sum n (fun a => (v a - m) * (v a - m))) with (sum n (fun a => v a * v a) - INR n * m * m).
    + assert (0 <= INR n * m * m); [|lra]. rewrite Rmult_assoc. apply Rmult_le_pos; [lra|apply Rle_0_sqr].
    + rewrite (sum_ext n (fun a => (v a - m) * (v a - m)) (fun a => v a * v a - 2 * m * v a + m * m)) by (intros; ring).
      rewrite sum_plus, sum_minus, sum_scal, sum_const. replace (sum n v) with (INR n * m) by (unfold m; field; lra).
      ring.
  - intros b _. unfold vmat, centred, vsub. rewrite (sum_ext n _ (fun i => v i * A i b - mean n A b * v i)) by (intros;
      ring).
    rewrite (sum_ext n (fun a => (v a - m) * A a b) (fun i => v i * A i b - m * A i b)) by (intros; ring).
    rewrite !sum_minus, !sum_scal. unfold mean, m. field. lra.
Qed.
Lemma spectral_ext A B : (forall i a, A i a = B i a) -> spectral n d A = spectral n d B.
Proof. intros E. replace B with A; [reflexivity|]. apply functional_extensionality; intro i.
apply functional_extensionality; intro a. apply E. Qed.
Lemma centred_norm_any x : centred_norm n d X <= spectral n d (centred X x).
Proof. unfold centred_norm. rewrite (spectral_ext _ _ (about_shift x)). apply spectral_about. Qed.
Theorem lemma_centred_mu : centred_norm n d X <= mu n d X.
Proof. apply lemma_token_norms_2_frobenius. Qed.
Theorem lemma_mu_centred_d : mu n d X <= sqrt (INR d) * centred_norm n d X.
Proof. apply lemma_token_norms_frobenius_d_2. Qed.
Theorem lemma_mu_centred_n : mu n d X <= sqrt (INR n - 1) * centred_norm n d X.
Proof. rewrite (mu_shift n d X (mean n X) R0 Hn) by reflexivity. now apply lemma_mu_rank_2. Qed.
Theorem lemma_centred_spectral : centred_norm n d X <= spectral n d X.
Proof. apply spectral_about. Qed.
Theorem lemma_diameter_centred : diam n (l2 d) X <= sqrt 2 * centred_norm n d X.
Proof.
  apply diam_lub; [apply Rmult_le_pos; [apply sqrt_pos|apply spectral_nonneg]|]. intros i k Hi Hk.
  rewrite (l2_ext d _ _ (fun a _ => pair_centred X (mean n X) i k a)). now apply pair_spectral.
Qed.
Theorem lemma_centred_residual : centred_norm n d X <= resid (comp n d) X.
Proof. apply le_resid1; [apply comp_pos|]. intro x. eapply Rle_trans;
  [apply (centred_norm_any x)|apply lemma_token_norms_2_composite]. Qed.
Theorem lemma_centred_residual_inf : centred_norm n d X <= sqrt (INR n) * resid (norminf n d) X.
Proof. apply le_resid; [apply norminf_pos|apply sqrt_pos|]. intro x.
eapply Rle_trans; [apply (centred_norm_any x)|apply lemma_token_norms_2_inf]. Qed.
Theorem lemma_centred_residual_one : centred_norm n d X <= sqrt (INR d) * resid (norm1 n d) X.
Proof. apply le_resid; [apply norm1_pos|apply sqrt_pos|]. intro x.
eapply Rle_trans; [apply (centred_norm_any x)|apply lemma_token_norms_2_1]. Qed.
Theorem lemma_centred_about : centred_norm n d X <= about_mean n d X.
Proof. apply lemma_token_norms_2_composite. Qed.
Theorem lemma_residual_about : resid (comp n d) X <= about_mean n d X.
Proof. apply resid_le, comp_pos. Qed.
Theorem lemma_residuals_about : resid (norm1 n d) X * resid (norminf n d) X <= about_mean n d X ^ 2.
Proof.
  replace (about_mean n d X ^ 2) with (about_mean n d X * about_mean n d X) by ring. unfold about_mean. rewrite comp_sq.
  apply Rmult_le_compat; [apply resid_nonneg, norm1_pos|apply resid_nonneg, norminf_pos|apply resid_le,
    norm1_pos|apply resid_le, norminf_pos].
Qed.
Theorem lemma_about_centred : about_mean n d X ^ 2 <= sqrt (INR n * INR d) * centred_norm n d X ^ 2.
Proof.
  replace (about_mean n d X ^ 2) with (about_mean n d X * about_mean n d X) by ring. unfold about_mean.
  rewrite comp_sq, sqrt_mult_alt by apply pos_INR. unfold centred_norm.
  replace (sqrt (INR n) * sqrt (INR d) * spectral n d R0 ^ 2) with ((sqrt (INR n) * spectral n d R0) * (sqrt (INR d) *
    spectral n d R0)) by ring.
  apply Rmult_le_compat; [apply norm1_pos|apply norminf_pos|apply lemma_token_norms_1_2|apply lemma_token_norms_inf_2].
Qed.
(** |m| <= average of |A_i|: a mean taken away at most doubles sums over rows and columns. *)
Lemma norm1_about A : norm1 n d (centred A (mean n A)) <= 2 * norm1 n d A.
Proof.
  assert (Q := norm1_pos n d A). apply maxf_lub; [lra|]. intros a Ha. assert (C := col_le n d A a Ha).
  unfold centred, vsub.
  apply Rle_trans with (sum n (fun i => Rabs (A i a) + Rabs (mean n A a))); [apply sum_le; intros; unfold Rminus;
    eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_Ropp; lra|].
  rewrite sum_plus, sum_const. assert (INR n * Rabs (mean n A a) <= sum n (fun i => Rabs (A i a))); [|lra].
  unfold mean, Rdiv. rewrite Rabs_mult, (Rabs_right (/ INR n)) by (apply Rle_ge; left; apply Rinv_0_lt_compat; lra).
  rewrite <- Rmult_assoc, (Rmult_comm (INR n)), Rmult_assoc, Rinv_r, Rmult_1_r by lra. apply sum_abs.
Qed.
Lemma norminf_about A : norminf n d (centred A (mean n A)) <= 2 * norminf n d A.
Proof.
  assert (Q := norminf_pos n d A). apply maxf_lub; [lra|]. intros i Hi. assert (C := row_le n d A i Hi).
  unfold centred, vsub.
  apply Rle_trans with (sum d (fun a => Rabs (A i a) + / INR n * sum n (fun k => Rabs (A k a)))).
  - apply sum_le; intros a _. unfold Rminus. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp.
    apply Rplus_le_compat_l. unfold mean, Rdiv.
    rewrite Rabs_mult, (Rabs_right (/ INR n)), Rmult_comm by (apply Rle_ge; left; apply Rinv_0_lt_compat; lra).
    apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; lra|apply sum_abs].
  - rewrite sum_plus, sum_scal, sum_swap. assert (/ INR n * sum n (fun k => sum d (fun a => Rabs (A k a))) <= norminf n
      d A); [|lra].
    apply Rmult_le_reg_l with (INR n); [lra|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, <- sum_const by lra.
    apply sum_le; intros k Hk. now apply row_le.
Qed.
Theorem lemma_about_residuals : about_mean n d X ^ 2 <= 4 * resid (norm1 n d) X * resid (norminf n d) X.
Proof.
  replace (about_mean n d X ^ 2) with (about_mean n d X * about_mean n d X) by ring. unfold about_mean. rewrite comp_sq.
  assert (A : norm1 n d R0 <= 2 * resid (norm1 n d) X).
  { apply le_resid; [apply norm1_pos|lra|]. intro x. rewrite (norm1_ext n d _ _ (fun i a _ _ => about_shift x i a)).
    apply norm1_about. }
  assert (B : norminf n d R0 <= 2 * resid (norminf n d) X).
  { apply le_resid; [apply norminf_pos|lra|]. intro x. rewrite (norminf_ext n d _ _ (fun i a _ _ => about_shift x i
      a)). apply norminf_about. }
  replace (4 * resid (norm1 n d) X * resid (norminf n d) X) with ((2 * resid (norm1 n d) X) * (2 * resid (norminf n d)
    X)) by ring.
  apply Rmult_le_compat; [apply norm1_pos|apply norminf_pos|exact A|exact B].
Qed.
Theorem lemma_about_residual : about_mean n d X <= 2 * resid (comp n d) X.
Proof.
  apply le_resid; [apply comp_pos|lra|]. intro x. unfold about_mean.
  rewrite (comp_ext n d _ _ (fun i a _ _ => about_shift x i a)). set (A := centred X x).
  replace (2 * comp n d A) with (sqrt 4 * comp n d A) by (replace 4 with (2 * 2) by ring; rewrite sqrt_square by lra;
    reflexivity). apply comp_root; [lra|apply comp_pos|]. rewrite comp_sq.
  replace (4 * (norm1 n d A * norminf n d A)) with ((2 * norm1 n d A) * (2 * norminf n d A)) by ring.
  apply Rmult_le_compat; [apply norm1_pos|apply norminf_pos|apply norm1_about|apply norminf_about].
Qed.
(** rows: no token is further from the mean than the diameter *)
Theorem lemma_about_diameter : about_mean n d X ^ 2 <= 2 * resid (norm1 n d) X * diam n (l1 d) X.
Proof.
  replace (about_mean n d X ^ 2) with (about_mean n d X * about_mean n d X) by ring. unfold about_mean. rewrite comp_sq.
  apply Rmult_le_compat; [apply norm1_pos|apply norminf_pos| |].
  - apply le_resid; [apply norm1_pos|lra|]. intro x. rewrite (norm1_ext n d _ _ (fun i a _ _ => about_shift x i a)).
    apply norm1_about.
  - apply maxf_lub; [apply diam_nonneg|]. intros i Hi. change (l1 d (centred X (mean n X) i) <= diam n (l1 d) X).
    change (l1 d (centred X (mean n X) i)) with (L1 d (centred X (mean n X) i)).
    rewrite (sn_ext (L1 d) _ (fun a => sum n (fun k => / INR n * vsub (X i) (X k) a))).
    + eapply Rle_trans; [apply (sn_sum (L1 d) n (fun _ => / INR n) (fun k => vsub (X i) (X k)))|].
      rewrite sum_scal, (Rabs_right (/ INR n)) by (apply Rle_ge; left; apply Rinv_0_lt_compat; lra).
      apply Rmult_le_reg_l with (INR n); [lra|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, <- sum_const by lra.
      apply sum_le; intros k Hk. now apply (diam_ub n (l1 d)).
    + intro a. unfold centred, vsub, mean. rewrite sum_scal, sum_minus, sum_const. field. lra.
Qed.
Theorem lemma_first_gap : first_gap n d X <= diam n (l2 d) X.
Proof. unfold first_gap. destruct (Nat.ltb_spec 1 n); [|apply diam_nonneg]. apply (diam_ub n (l2 d)); lia. Qed.
End Mean.
Lemma first_gap_nonneg n d X : 0 <= first_gap n d X.
Proof. unfold first_gap. destruct Nat.ltb; [apply l2_nonneg|lra]. Qed.

(* ---------- one layer ---------- *)
Section Layer.
Variables (n d : nat) (B : block) (X : mat).
Notation Ly := (att B).
Notation H := (nheads (att B)).
Notation P h := (attn n d (dqk (att B)) (hd (att B) h) X).
Notation W h := (WV (hd (att B) h)).
Notation X' := (block_map n d B X).
Hypothesis Mk : forall h, (h < H)%nat -> proper_mask n (mask (hd Ly h)).
Hypothesis alone : forall v, tok B v = v.
Theorem lemma_layer_centred : (0 < n)%nat ->
  centred_norm n d X' <= Rabs (skip B) * centred_norm n d X + sum H (fun h => spectral d d (W h) * spectral n n (P h))
    * centred_norm n d X.
Proof.
  intros Hn. set (x := mean n X). set (R := centred X x).
  set (image := fun b => skip B * x b + sum H (fun h => vmat d x (W h) b) + bout Ly b).
  assert (S := Rabs_pos (skip B)). assert (T := spectral_nonneg n d R).
  assert (C : 0 <= sum H (fun h => spectral d d (W h) * spectral n n (P h))) by (apply sum_nonneg; intros;
    apply Rmult_le_pos; apply spectral_nonneg).
  eapply Rle_trans; [apply (centred_norm_any n d X' Hn image)|]. change (centred_norm n d X) with (spectral n d R).
  apply spectral_le. split; [apply Rplus_le_le_0_compat; now apply Rmult_le_pos|]. intro v.
  rewrite (l2_ext d _ (fun b => skip B * vmat n v R b + sum H (fun h => vmat n v (mmul d (mmul n (P h) R) (W h)) b))).
  - eapply Rle_trans; [apply (sn_add (L2 d) (fun b => skip B * vmat n v R b) (fun b => sum H (fun h => vmat n v (mmul d
      (mmul n (P h) R) (W h)) b)))|]. rewrite sn_scal, Rmult_plus_distr_r. apply Rplus_le_compat.
    + rewrite Rmult_assoc. apply Rmult_le_compat_l; [exact S|apply spectral_vmat].
    + eapply Rle_trans; [apply (sn_sum1 (L2 d) H (fun h => vmat n v (mmul d (mmul n (P h) R) (W h))))|].
      rewrite Rmult_assoc, <- sum_scal_r. apply sum_le; intros h Hh.
      eapply Rle_trans; [apply spectral_vmat|]. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply l2_nonneg|].
      eapply Rle_trans; [apply spectral_mmul|].
      rewrite Rmult_comm, Rmult_assoc. apply Rmult_le_compat_l; [apply spectral_nonneg|apply spectral_mmul].
  - intros b _. unfold vmat at 1. rewrite (sum_ext n _ (fun i => skip B * (v i * R i b) + sum H (fun h => v i * mmul d
      (mmul n (P h) R) (W h) i b))).
    + rewrite sum_plus, sum_scal. f_equal. rewrite sum_swap. reflexivity.
    + intros i Hi. unfold image. rewrite (layer_centred n d B X Mk alone x i b Hi). fold R.
      rewrite Rmult_plus_distr_l, sum_scal. ring.
Qed.
Hypothesis no_bias : forall a, bout (att B) a = 0.
(** From rows in l1 to rows in N: |v W_h|_N <= w_h |v|_1. *)
Lemma layer_rows (N : seminorm) (w : nat -> R) : (forall h, 0 <= w h) -> (forall h v, (h < H)%nat ->
  N (vmat d v (W h)) <= w h * l1 d v) ->
  rowmax n N X' <= Rabs (skip B) * rowmax n N X + sum H w * norminf n d X.
Proof.
  intros w0 Hw. assert (r0 : 0 <= rowmax n N X) by apply maxf_pos. assert (q0 := norminf_pos n d X).
  assert (S := Rabs_pos (skip B)). assert (C : 0 <= sum H w) by (apply sum_nonneg; auto).
  apply maxf_lub; [apply Rplus_le_le_0_compat; now apply Rmult_le_pos|]. intros i Hi.
  rewrite (sn_ext N _ (fun b => skip B * X i b + sum H (fun h => mmul d (mmul n (P h) X) (W h) i b))) by (intro b;
    apply (layer_plain n d B X alone no_bias)).
  eapply Rle_trans; [apply (sn_add N (fun b => skip B * X i b))|]. rewrite sn_scal.
  apply Rplus_le_compat; [apply Rmult_le_compat_l; [exact S|apply (maxf_ub n (fun i => N (X i)) i Hi)]|].
  eapply Rle_trans; [apply (sn_sum1 N H (fun h => mmul d (mmul n (P h) X) (W h) i))|]. rewrite <- sum_scal_r.
  apply sum_le; intros h Hh. eapply Rle_trans; [now apply Hw|].
  apply Rmult_le_compat_l; [apply w0|]. destruct (attn_stochastic n d (dqk Ly) (hd Ly h) X (Mk h Hh)) as [S0 S1].
  eapply Rle_trans; [apply (sn_sum (L1 d) n (P h i) X)|]. apply Rle_trans with (sum n (fun j => P h i j * norminf n d
    X)); [|rewrite sum_scal_r, S1 by exact Hi; lra].
  apply sum_le; intros j Hj. rewrite Rabs_right by (apply Rle_ge; now apply S0).
  apply Rmult_le_compat_l; [now apply S0|now apply (row_le n d X j)].
Qed.
Let cross M v : linf d (vmat d v M) <= maxentry d d M * l1 d v.
Proof.
  apply maxf_lub; [apply Rmult_le_pos; [apply maxf_pos|apply l1_nonneg]|]. intros b Hb.
  eapply Rle_trans; [apply vmat_abs|]. unfold l1. rewrite <- sum_scal. apply sum_le; intros a Ha.
  rewrite Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos|now apply entry_le].
Qed.
Theorem lemma_layer_max_cross : maxentry n d X' <= Rabs (skip B) * maxentry n d X + sum H (fun h => maxentry d d (W h))
  * norminf n d X.
Proof. apply (layer_rows (Linf d) (fun h => maxentry d d (W h))); intros; [apply maxf_pos|apply cross]. Qed.
Theorem lemma_layer_longest_cross : longest n d X' <= Rabs (skip B) * longest n d X + sum H (fun h => sqrt (INR d) *
  maxentry d d (W h)) * norminf n d X.
Proof.
  apply (layer_rows (L2 d) (fun h => sqrt (INR d) * maxentry d d (W h))); intros; [apply Rmult_le_pos;
    [apply sqrt_pos|apply maxf_pos]|]. cbn [sn L2]. eapply Rle_trans; [apply l2_linf|].
  rewrite Rmult_assoc. apply Rmult_le_compat_l; [apply sqrt_pos|apply cross].
Qed.
End Layer.


Lemma eye_sum n k g : (k < n)%nat -> sum n (fun i => eye k i * g i) = g k.
Proof. intros Hk. rewrite (sum_single n _ k Hk); unfold eye; [rewrite Nat.eqb_refl; ring|]. intros j _ Hj.
destruct (Nat.eqb_spec k j); [lia|ring]. Qed.
(* ---------- Jung: a ball of radius D/sqrt 2 holds tokens whose distances are at most D ---------- *)
(** f(q) = half the sum of q_i q_j |X_i - X_j|^2 over weights q;
  about the centre of nearly best weights no token is far. *)
Section Jung.
Variables (n d : nat) (X : mat).
Hypothesis Hn : (0 < n)%nat.
Let weights (q : vec) : Prop := (forall i, (i < n)%nat -> 0 <= q i) /\ sum n q = 1.
Let at_ (q : vec) : vec := fun a => sum n (fun i => q i * X i a).
Let far (q : vec) (k : nat) : R := dot d (vsub (X k) (at_ q)) (vsub (X k) (at_ q)).
Let f (q : vec) : R := sum n (fun i => q i * far q i).
Let D := diam n (l2 d) X.
Let D0 : 0 <= D := diam_nonneg n (l2 d) X.
Lemma dot_minus u v : dot d (vsub u v) (vsub u v) = dot d u u - 2 * dot d u v + dot d v v.
Proof. unfold dot, vsub. rewrite <- sum_scal, <- sum_minus, <- sum_plus. apply sum_ext; intros; ring. Qed.
Lemma dot_sum u (q : vec) : dot d u (at_ q) = sum n (fun i => q i * dot d u (X i)).
Proof.
  unfold dot, at_. rewrite (sum_ext d _ (fun a => sum n (fun i => u a * (q i * X i a)))) by (intros;
    now rewrite <- sum_scal). rewrite sum_swap. apply sum_ext; intros i _.
  rewrite <- sum_scal. apply sum_ext; intros; ring.
Qed.
Lemma f_is q : weights q -> f q = sum n (fun i => q i * dot d (X i) (X i)) - dot d (at_ q) (at_ q).
Proof.
  intros [_ Q]. unfold f, far. rewrite (sum_ext n _ (fun i => q i * dot d (X i) (X i) - 2 * (q i * dot d (at_ q) (X i))
    + dot d (at_ q) (at_ q) * q i)).
  - rewrite sum_plus, sum_minus, !sum_scal, Q, <- dot_sum. ring.
  - intros i _. rewrite dot_minus, (dot_sym d (X i) (at_ q)). ring.
Qed.
(** 2 f = the sum of q_i q_j |X_i - X_j|^2 <= D^2 *)
Lemma f_le q : weights q -> f q <= D * D / 2.
Proof.
  intros W. destruct W as [Q0 Q1]. assert (E : sum n (fun i => sum n (fun j => q i * q j * dot d (vsub (X i) (X j))
    (vsub (X i) (X j)))) = 2 * f q).
  { rewrite (f_is q (conj Q0 Q1)). rewrite (sum_ext n _ (fun i => q i * dot d (X i) (X i) - 2 * (q i * dot d (X i) (at_
      q)) + q i * sum n (fun j => q j * dot d (X j) (X j)))).
    - rewrite sum_plus, sum_minus, sum_scal, sum_scal_r, Q1. rewrite (sum_ext n (fun i => q i * dot d (X i) (at_ q))
        (fun i => q i * dot d (at_ q) (X i))) by (intros; now rewrite dot_sym). rewrite <- dot_sum. ring.
    - intros i _. rewrite (sum_ext n _ (fun j => q i * dot d (X i) (X i) * q j - 2 * q i * (q j * dot d (X i) (X j)) +
        q i * (q j * dot d (X j) (X j)))) by (intros; rewrite dot_minus; ring).
      rewrite sum_plus, sum_minus, !sum_scal, Q1, <- dot_sum. ring. }
  assert (L : sum n (fun i => sum n (fun j => q i * q j * dot d (vsub (X i) (X j)) (vsub (X i) (X j)))) <= sum n (fun i
    => sum n (fun j => q i * q j * (D * D)))).
  { apply sum_le; intros i Hi. apply sum_le; intros j Hj. apply Rmult_le_compat_l; [apply Rmult_le_pos; auto|].
    rewrite <- l2_square. assert (U := diam_ub n (l2 d) X i j Hi Hj). assert (V := l2_nonneg d (vsub (X i) (X j))).
    apply Rmult_le_compat; auto. }
  rewrite (sum_ext n (fun i => sum n (fun j => q i * q j * (D * D))) (fun i => D * D * q i)) in L.
  - rewrite sum_scal, Q1 in L. lra.
  - intros i _. rewrite (sum_ext n _ (fun j => q i * (D * D) * q j)) by (intros; ring). rewrite sum_scal, Q1. ring.
Qed.
(** towards token k: f((1 - t) q + t e_k) = f(q) + t (far_k - f(q)) - t^2 far_k *)
Let towards (q : vec) (k : nat) (t : R) : vec := fun i => (1 - t) * q i + t * eye k i.
Lemma towards_weights q k t : weights q -> (k < n)%nat -> 0 <= t <= 1 -> weights (towards q k t).
Proof.
  intros [Q0 Q1] Hk Ht. split.
  - intros i Hi. unfold towards, eye. assert (A := Q0 i Hi). destruct (Nat.eqb k i); nra.
  - unfold towards. rewrite sum_plus, !sum_scal, Q1. replace (sum n (eye k)) with 1; [ring|].
    rewrite <- (eye_sum n k (fun _ => 1) Hk). apply sum_ext; intros; ring.
Qed.
Lemma towards_f q k t : weights q -> (k < n)%nat -> 0 <= t <= 1 ->
  f (towards q k t) = f q + t * (far q k - f q) - t * t * far q k.
Proof.
  intros W Hk Ht. rewrite (f_is _ (towards_weights q k t W Hk Ht)), (f_is q W).
  assert (A : sum n (fun i => towards q k t i * dot d (X i) (X i)) = (1 - t) * sum n (fun i => q i * dot d (X i) (X i))
    + t * dot d (X k) (X k)).
  { unfold towards. rewrite <- (eye_sum n k (fun i => dot d (X i) (X i)) Hk), <- !sum_scal, <- sum_plus.
    apply sum_ext; intros; ring. }
  assert (C : dot d (at_ (towards q k t)) (at_ (towards q k t)) = (1 - t) * (1 - t) * dot d (at_ q) (at_ q) + 2 * (1 -
    t) * t * dot d (X k) (at_ q) + t * t * dot d (X k) (X k)).
  { assert (E : forall a, at_ (towards q k t) a = (1 - t) * at_ q a + t * X k a).
    { intro a. unfold at_, towards. rewrite <- (eye_sum n k (fun i => X i a) Hk), <- !sum_scal, <- sum_plus.
      apply sum_ext; intros; ring. }
    unfold dot. rewrite <- !sum_scal, <- !sum_plus. apply sum_ext; intros a _. rewrite !E. ring. }
  rewrite A, C. unfold far. rewrite dot_minus. ring.
Qed.
Lemma far_pos q k : 0 <= far q k. Proof. apply dot_pos. Qed.
(** weights whose f is within e of the best: no token is further than D^2/2 + sqrt e (1 + 4 D^2) *)
Let best := Lub.Lub_Rbar (fun y => exists q, weights q /\ y = f q).
Lemma nearly_best e : 0 < e -> exists q, weights q /\ forall p, weights p -> f p <= f q + e.
Proof.
  intros He. assert (Q : weights (eye 0%nat)). { split; [intros i _; unfold eye; destruct (Nat.eqb 0 i); lra|].
  rewrite <- (eye_sum n 0 (fun _ => 1) Hn). apply sum_ext; intros; ring. }
  destruct (Lub.Lub_Rbar_correct (fun y => exists q, weights q /\ y = f q)) as [U L]. fold best in U, L.
  destruct best as [b| |].
  - destruct (Classical_Prop.classic (exists q, weights q /\ b - e < f q)) as [[q [W F]]|N].
    + exists q. split; [exact W|]. intros p Wp. assert (A := U (f p) ltac:(now exists p)). simpl in A. lra.
    + exfalso. assert (A : Rbar.Rbar_le (Rbar.Finite b) (Rbar.Finite (b - e))); [|simpl in A; lra]. apply L.
      intros y [q [W ->]]. simpl. apply Rnot_lt_le. intro F. apply N. now exists q.
  - exfalso. assert (A : Rbar.Rbar_le Rbar.p_infty (Rbar.Finite (D * D / 2))); [|exact A]. apply L.
    intros y [q [W ->]]. simpl. now apply f_le.
  - exfalso. assert (A := U (f (eye 0%nat)) ltac:(now exists (eye 0%nat))). exact A.
Qed.
Lemma far_le_diam q k : weights q -> (k < n)%nat -> far q k <= D * D.
Proof.
  intros W Hk. unfold far. rewrite <- l2_square. assert (T : l2 d (vsub (X k) (at_ q)) <= D).
  { destruct W as [Q0 Q1]. change (l2 d (vsub (X k) (at_ q))) with (L2 d (vsub (X k) (at_ q))).
    rewrite (sn_ext (L2 d) _ (fun a => sum n (fun i => q i * vsub (X k) (X i) a))).
    - eapply Rle_trans; [apply (sn_sum (L2 d) n q (fun i => vsub (X k) (X i)))|].
      apply Rle_trans with (sum n (fun i => q i * D)); [|rewrite sum_scal_r, Q1; lra].
      apply sum_le; intros i Hi. rewrite Rabs_right by (apply Rle_ge; now apply Q0).
      apply Rmult_le_compat_l; [now apply Q0|now apply (diam_ub n (l2 d))].
    - intro a. unfold vsub, at_. rewrite (sum_ext n (fun i => q i * (X k a - X i a)) (fun i => X k a * q i - q i * X i
        a)) by (intros; ring). rewrite sum_minus, sum_scal, Q1. ring. }
  apply Rmult_le_compat; auto; apply l2_nonneg.
Qed.
Lemma jung_nearly t : 0 < t <= 1 -> exists x, forall k, (k < n)%nat ->
  dot d (vsub (X k) x) (vsub (X k) x) <= D * D / 2 + t * (1 + D * D).
Proof.
  intros Ht. destruct (nearly_best (t * t) ltac:(nra)) as [q [W Hq]]. exists (at_ q). intros k Hk.
  assert (A := Hq _ (towards_weights q k t W Hk ltac:(lra))). rewrite towards_f in A by (auto; lra).
  assert (F := f_le q W). assert (G := far_le_diam q k W Hk). fold (far q k). assert (P := far_pos q k).
  assert (t * (far q k - f q) <= t * (t + t * far q k)) by nra.
  assert (far q k - f q <= t + t * far q k) by (apply Rmult_le_reg_l with t; lra). nra.
Qed.
Theorem lemma_jung : resid (norminf n d) X <= sqrt (INR d / 2) * D.
Proof.
  set (r := resid (norminf n d) X). assert (r0 : 0 <= r) by apply resid_nonneg, norminf_pos. assert (Id := pos_INR d).
  assert (M : forall t, 0 < t <= 1 -> r * r <= INR d * (D * D / 2 + t * (1 + D * D))).
  { intros t Ht. destruct (jung_nearly t Ht) as [x Hx]. set (c := D * D / 2 + t * (1 + D * D)).
    assert (c0 : 0 <= c) by (unfold c; nra).
    assert (L : r <= sqrt (INR d) * sqrt c).
    { eapply Rle_trans; [apply (resid_le _ X x (norminf_pos n d))|].
      apply maxf_lub; [apply Rmult_le_pos; apply sqrt_pos|]. intros i Hi.
      eapply Rle_trans; [apply (l1_l2 d (centred X x i))|].
      apply Rmult_le_compat_l; [apply sqrt_pos|]. apply sqrt_le_1_alt. now apply Hx. }
    replace (INR d * c) with ((sqrt (INR d) * sqrt c) * (sqrt (INR d) * sqrt c)); [apply Rmult_le_compat; auto|].
    replace (sqrt (INR d) * sqrt c * (sqrt (INR d) * sqrt c)) with ((sqrt (INR d) * sqrt (INR d)) * (sqrt c * sqrt c))
      by ring. rewrite !sqrt_sqrt; auto. }
  assert (Q : r * r <= INR d * (D * D / 2)).
  { apply Rnot_lt_le. intro G. set (g := r * r - INR d * (D * D / 2)). assert (g0 : 0 < g) by (unfold g; lra).
    set (s := 1 + INR d * (1 + D * D)). assert (s1 : 1 <= s) by (unfold s; nra).
    set (t := Rmin 1 (g / (2 * s))). assert (gs : 0 < g / (2 * s)) by (apply Rmult_lt_0_compat;
      [lra|apply Rinv_0_lt_compat; lra]). assert (Ht : 0 < t <= 1) by (unfold t; split; [apply Rmin_glb_lt;
        lra|apply Rmin_l]).
    assert (A := M t Ht). assert (T : t <= g / (2 * s)) by apply Rmin_r. assert (E : t * s <= g / 2).
    { apply Rle_trans with (g / (2 * s) * s); [apply Rmult_le_compat_r; lra|]. right. field. lra. }
    unfold s in E. unfold g in *. nra. }
  rewrite <- (sqrt_square r), <- (sqrt_square D) by assumption. rewrite <- sqrt_mult_alt by lra. apply sqrt_le_1_alt.
  lra.
Qed.
End Jung.

(* ---------- attention ---------- *)
Section Shares.
Variables (n : nat) (P : mat).
Hypothesis SP : row_stochastic n n P.
Theorem lemma_top_shares_max : top_shares n P <= maxentry n n P.
Proof.
  assert (M0 : 0 <= maxentry n n P) by apply maxf_pos. apply maxf_lub; [exact M0|]. intros i Hi.
  apply maxf_lub; [exact M0|]. intros j Hj. apply maxf_lub; [exact M0|]. intros k Hk.
  destruct (Nat.eqb_spec j k) as [|N]; [exact M0|]. destruct SP as [S0 S1]. assert (A := S0 i j Hi Hj).
  assert (E := entry_le n n P i j Hi Hj). rewrite Rabs_right in E by lra.
  assert (Two : P i j + P i k <= 1).
  { rewrite <- (S1 i Hi). rewrite <- (eye_sum n j (P i) Hj), <- (eye_sum n k (P i) Hk), <- sum_plus.
    apply sum_le; intros m Hm. assert (Q := S0 i m Hi Hm). unfold eye.
    destruct (Nat.eqb_spec j m), (Nat.eqb_spec k m); try lia; lra. }
  assert (1 - P i j + P i k <= 2 - 2 * P i j) by lra. destruct (Rle_or_lt (P i k) (P i j)) as [L|L].
  - apply Rle_trans with (P i j * 1); [apply Rmult_le_compat_l; lra|lra].
  - assert (E' := entry_le n n P i k Hi Hk). assert (B := S0 i k Hi Hk). rewrite Rabs_right in E' by lra.
    apply Rle_trans with (P i k); [|exact E']. nra.
Qed.
End Shares.
Lemma top_shares_nonneg n P : 0 <= top_shares n P. Proof. apply maxf_pos. Qed.

(* ---------- the participation ratio ---------- *)
Section Ratio.
Variables (n d : nat) (X : mat).
Notation G := (gram_square n d X).
Let F2 := sum n (fun i => dot d (X i) (X i)).
Let F2_pos : 0 <= F2. Proof. apply sum_nonneg; intros; apply dot_pos. Qed.
Lemma frob_four : frob n d X ^ 4 = F2 * F2.
Proof. replace (frob n d X ^ 4) with ((frob n d X * frob n d X) * (frob n d X * frob n d X)) by ring.
now rewrite frob_square. Qed.
Lemma gram_pos : 0 <= G. Proof. apply sum_nonneg; intros. apply sum_nonneg; intros. apply pow2_ge_0. Qed.
Lemma square_sum m (u : vec) : sum m u * sum m u <= INR m * sum m (fun i => u i * u i).
Proof.
  assert (C := cauchy_schwarz m (fun _ => 1) u). unfold dot in C.
  rewrite (sum_ext m (fun a => 1 * u a) u), (sum_ext m (fun _ => 1 * 1) (fun _ => 1)), sum_const in C by (intros;
    ring). lra.
Qed.
Lemma ratio_le c : 0 <= c -> F2 * F2 <= c * G -> participation_ratio n d X <= c.
Proof.
  intros C H. unfold participation_ratio. rewrite frob_four. destruct gram_pos as [L|E].
  - apply Rmult_le_reg_r with G; [exact L|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  - rewrite <- E. unfold Rdiv. rewrite Rinv_0. lra.
Qed.
Lemma le_ratio c : 0 < G -> c * G <= F2 * F2 -> c <= participation_ratio n d X.
Proof. intros L H. unfold participation_ratio. rewrite frob_four. apply Rmult_le_reg_r with G; [exact L|]. unfold Rdiv.
rewrite Rmult_assoc, Rinv_l by lra. lra. Qed.
Theorem lemma_participation_n : participation_ratio n d X <= INR n.
Proof.
  apply ratio_le; [apply pos_INR|]. eapply Rle_trans; [apply square_sum|]. apply Rmult_le_compat_l; [apply pos_INR|].
  apply sum_le; intros i Hi.
  eapply Rle_trans; [|apply (sum_term_le n (fun j => dot d (X i) (X j) ^ 2) i); [intros; apply pow2_ge_0|exact Hi]].
  right. ring.
Qed.
(** the same sum over pairs of coordinates *)
Lemma gram_flip : G = gram_square d n (flip X).
Proof.
  unfold gram_square, dot, flip.
  assert (E : forall p q (A : mat), sum p (fun i => sum p (fun j => sum q (fun a => A i a * A j a) ^ 2)) =
    sum p (fun i => sum p (fun j => sum q (fun a => sum q (fun b => A i a * A j a * (A i b * A j b)))))).
  { intros. apply sum_ext; intros i _. apply sum_ext; intros j _.
    replace (sum q (fun a => A i a * A j a) ^ 2) with (sum q (fun a => A i a * A j a) * sum q (fun b => A i b * A j b))
      by ring.
    rewrite <- sum_scal_r. apply sum_ext; intros a _. now rewrite <- sum_scal. }
  rewrite (E n d X), (E d n (fun a i => X i a)).
  transitivity (sum n (fun i => sum d (fun a => sum d (fun b => sum n (fun j => X i a * X j a * (X i b * X j b)))))).
  - apply sum_ext; intros i _. rewrite sum_swap. apply sum_ext; intros a _. now rewrite sum_swap.
  - rewrite sum_swap. apply sum_ext; intros a _. rewrite sum_swap. apply sum_ext; intros b _.
    apply sum_ext; intros i _. apply sum_ext; intros j _. ring.
Qed.
Lemma F2_flip : F2 = sum d (fun a => dot n (flip X a) (flip X a)).
Proof. unfold F2, dot, flip. apply sum_swap. Qed.
Theorem lemma_participation_d : participation_ratio n d X <= INR d.
Proof.
  apply ratio_le; [apply pos_INR|]. rewrite gram_flip, F2_flip. eapply Rle_trans; [apply square_sum|].
  apply Rmult_le_compat_l; [apply pos_INR|]. apply sum_le; intros a Ha.
  eapply Rle_trans; [|apply (sum_term_le d (fun b => dot n (flip X a) (flip X b) ^ 2) a); [intros;
    apply pow2_ge_0|exact Ha]]. right. ring.
Qed.
Lemma gram_zero : 0 < spectral n d X -> 0 < G.
Proof.
  intros P. destruct gram_pos as [L|E]; [exact L|]. exfalso. assert (Z : F2 * F2 <= 0).
  { eapply Rle_trans; [apply square_sum|]. assert (sum n (fun i => dot d (X i) (X i) * dot d (X i) (X i)) <= G).
    { apply sum_le; intros i Hi. eapply Rle_trans; [|apply (sum_term_le n (fun j => dot d (X i) (X j) ^ 2) i); [intros;
        apply pow2_ge_0|exact Hi]]. right. ring. }
    assert (Q := pos_INR n). nra. }
  assert (Y := lemma_token_norms_2_frobenius n d X). assert (K := frob_square n d X). fold F2 in K.
  assert (0 < F2) by nra. nra.
Qed.
Theorem lemma_participation_one : 0 < spectral n d X -> 1 <= participation_ratio n d X.
Proof.
  intros P. apply le_ratio; [now apply gram_zero|]. rewrite Rmult_1_l. unfold F2 at 1. rewrite <- sum_scal_r.
  apply sum_le; intros i _. unfold F2. rewrite <- sum_scal. apply sum_le; intros j _.
  assert (C := cauchy_schwarz d (X i) (X j)). replace (dot d (X i) (X j) ^ 2) with (dot d (X i) (X j) * dot d (X i) (X
    j)) by ring. exact C.
Qed.
(** |X X_i|^2 <= |X|_2^2 |X_i|^2 *)
Lemma gram_spectral : G <= spectral n d X * spectral n d X * F2.
Proof.
  unfold F2. rewrite <- sum_scal. apply sum_le; intros i _. assert (S := spectral_nonneg n d X).
  assert (V := spectral_vmat d n (flip X) (X i)). rewrite spectral_of_flip in V.
  assert (L := l2_nonneg n (vmat d (X i) (flip X))). assert (Li := l2_nonneg d (X i)).
  assert (Q := Rmult_le_compat _ _ _ _ L L V V). rewrite l2_square in Q.
  replace (spectral n d X * l2 d (X i) * (spectral n d X * l2 d (X i))) with (spectral n d X * spectral n d X * (l2 d
    (X i) * l2 d (X i))) in Q by ring. rewrite l2_square in Q.
  eapply Rle_trans; [|exact Q]. right. unfold dot at 2. apply sum_ext; intros j _. unfold vmat, flip, dot. ring.
Qed.
Theorem lemma_stable_participation : stable_rank n d X <= participation_ratio n d X.
Proof.
  unfold stable_rank. destruct (spectral_nonneg n d X) as [P|E].
  - apply le_ratio; [now apply gram_zero|]. assert (H := gram_spectral). assert (K := frob_square n d X). fold F2 in K.
    replace ((frob n d X / spectral n d X) ^ 2) with (F2 / (spectral n d X * spectral n d X)) by (rewrite <- K; field;
      lra).
    apply Rmult_le_reg_r with (spectral n d X * spectral n d X); [nra|].
    replace (F2 / (spectral n d X * spectral n d X) * G * (spectral n d X * spectral n d X)) with (F2 * G) by (field;
      lra). nra.
  - rewrite <- E. unfold Rdiv at 1. rewrite Rinv_0, Rmult_0_r. unfold participation_ratio, Rdiv. rewrite frob_four.
    replace (0 ^ 2) with 0 by ring. apply Rmult_le_pos; [apply Rle_0_sqr|].
    destruct gram_pos as [L|<-]; [left; now apply Rinv_0_lt_compat|rewrite Rinv_0; lra].
Qed.
(** |v X|^2 = v (X X^T) v^T <= |v|^2 |X X^T|_F *)
Lemma spectral_gram : spectral n d X * spectral n d X <= sqrt G.
Proof.
  set (K := fun i j => dot d (X i) (X j)). assert (E : frob n n K = sqrt G). { unfold frob, gram_square, K, dot.
  f_equal. apply sum_ext; intros. apply sum_ext; intros. ring. }
  assert (S : spectral n d X <= sqrt (sqrt G)).
  { apply spectral_le. split; [apply sqrt_pos|]. intro v. apply sqrt_le_of; [apply Rmult_le_pos;
      [apply sqrt_pos|apply l2_nonneg]|].
    replace (sqrt (sqrt G) * l2 n v * (sqrt (sqrt G) * l2 n v)) with (sqrt (sqrt G) * sqrt (sqrt G) * (l2 n v * l2 n
      v)) by ring. rewrite sqrt_sqrt by apply sqrt_pos.
    assert (I : dot d (vmat n v X) (vmat n v X) = dot n (vmat n v K) v).
    { unfold dot, vmat, K, dot. rewrite (sum_ext d _ (fun a => sum n (fun i => sum n (fun j => v i * X i a * (v j * X j
        a))))).
      - rewrite sum_swap. rewrite (sum_ext n (fun a => sum n (fun a0 => v a0 * sum d (fun a1 => X a0 a1 * X a a1)) * v
          a) (fun j => sum n (fun i => v i * v j * sum d (fun a => X i a * X j a)))) by (intros; rewrite <- sum_scal_r;
            apply sum_ext; intros; ring).
        rewrite (sum_swap n n (fun j i => v i * v j * sum d (fun a => X i a * X j a))). apply sum_ext; intros i _.
        rewrite sum_swap. apply sum_ext; intros j _. rewrite <- sum_scal. apply sum_ext; intros; ring.
      - intros a _. rewrite <- sum_scal_r. apply sum_ext; intros i _. now rewrite <- sum_scal. }
    rewrite I. eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply dot_le_l2|]. rewrite <- Rmult_assoc.
    apply Rmult_le_compat_r; [apply l2_nonneg|]. rewrite <- E. apply frob_stretches. }
  rewrite <- (sqrt_sqrt (sqrt G)) by apply sqrt_pos. assert (P := spectral_nonneg n d X). now apply Rmult_le_compat.
Qed.
Theorem lemma_participation_stable : participation_ratio n d X <= stable_rank n d X ^ 2.
Proof.
  apply ratio_le; [apply pow2_ge_0|]. unfold stable_rank. destruct (spectral_nonneg n d X) as [P|E].
  - assert (H := spectral_gram). set (s := spectral n d X) in *. assert (Q : s * s * (s * s) <= G).
    { rewrite <- (sqrt_sqrt G) by apply gram_pos. assert (0 <= s * s) by nra. now apply Rmult_le_compat. }
    assert (K := frob_square n d X). fold F2 in K. replace (((frob n d X / s) ^ 2) ^ 2) with (F2 * F2 / (s * s * (s *
      s))) by (rewrite <- K; field; lra).
    assert (s2 : 0 < s * s) by nra. assert (Z := Rmult_lt_0_compat _ _ s2 s2).
    apply Rmult_le_reg_r with (s * s * (s * s)); [exact Z|]. replace (F2 * F2 / (s * s * (s * s)) * G * (s * s * (s *
      s))) with (F2 * F2 * G) by (field; lra). apply Rmult_le_compat_l; [apply Rle_0_sqr|exact Q].
  - assert (H := lemma_token_norms_frobenius_n_2 n d X). rewrite <- E, Rmult_0_r in H. assert (Z := frob_nonneg n d X).
    assert (K := frob_square n d X). fold F2 in K. replace (frob n d X) with 0 in K by lra. replace F2 with 0 by lra.
    rewrite Rmult_0_l. apply Rmult_le_pos; [apply pow2_ge_0|apply gram_pos].
Qed.
End Ratio.
Lemma participation_nonneg n d X : 0 <= participation_ratio n d X.
Proof. unfold participation_ratio, Rdiv. apply Rmult_le_pos; [apply pow_le, sqrt_pos|].
destruct (gram_pos n d X) as [L|<-]; [left; now apply Rinv_0_lt_compat|rewrite Rinv_0; lra]. Qed.

(* ---------- eigenvalues of attention besides 1 ---------- *)
(** The largest modulus of an eigenvalue a + ib of (P_ij - P_0j), i,
  j >= 1: what is left of P where constants are taken away; 0 for one token.
    An eigenvector u + iv is taken with 0 at token 0. *)
Definition second_eigen (n : nat) (P : mat) (y : R) : Prop := exists (a b : R) (u v : vec),
  (exists i, (i < n)%nat /\ (u i <> 0 \/ v i <> 0)) /\ u 0%nat = 0 /\ v 0%nat = 0 /\ y = sqrt (a * a + b * b) /\
  forall i, (i < n)%nat -> sum n (fun j => (P i j - P 0%nat j) * u j) = a * u i - b * v i /\ sum n (fun j => (P i j - P
    0%nat j) * v j) = b * u i + a * v i.
Definition second_modulus (n : nat) (P : mat) : R := real (Lub.Lub_Rbar (fun y => y = 0 \/ second_eigen n P y)).
Lemma second_le n P c : 0 <= c -> (forall y, second_eigen n P y -> y <= c) -> 0 <= second_modulus n P <= c.
Proof.
  intros C H. unfold second_modulus. destruct (Lub.Lub_Rbar_correct (fun y => y = 0 \/ second_eigen n P y)) as [U L].
  set (b := Lub.Lub_Rbar _) in *.
  assert (A : Rbar.Rbar_le b (Rbar.Finite c)) by (apply L; intros y [->|E]; simpl; [exact C|now apply H]).
  assert (Z : Rbar.Rbar_le (Rbar.Finite 0) b) by (apply U; now left).
  destruct b; simpl in *; [lra|contradiction|contradiction].
Qed.
Section Second.
Variables (n : nat) (P : mat).
Hypothesis Hn : (0 < n)%nat.
Hypothesis SP : row_stochastic n n P.
Let w (u v : vec) : mat := fun i a => match a with O => u i | _ => v i end.
Lemma l2_two (x : vec) : l2 2 x = sqrt (x 0%nat * x 0%nat + x 1%nat * x 1%nat).
Proof. unfold l2, dot. simpl. f_equal. ring. Qed.
Lemma second_eigen_le y : second_eigen n P y -> y <= dobrushin n P.
Proof.
  intros [a [b [u [v [[i0 [Hi0 NZ]] [u0 [v0 [-> E]]]]]]]]. set (D := diam n (l2 2) (w u v)).
  assert (D0 : 0 <= D) by apply diam_nonneg.
  assert (DP : 0 < D).
  { assert (Q := diam_ub n (l2 2) (w u v) i0 0 Hi0 Hn). fold D in Q. rewrite l2_two in Q. unfold vsub, w in Q.
    rewrite u0, v0, !Rminus_0_r in Q.
    eapply Rlt_le_trans; [|exact Q]. apply sqrt_lt_R0. destruct NZ as [N|N]; assert (A := Rsqr_pos_lt _ N);
      unfold Rsqr in A; assert (B := Rle_0_sqr (u i0)); assert (C := Rle_0_sqr (v i0)); unfold Rsqr in B, C; lra. }
  set (m := sqrt (a * a + b * b)). assert (m0 : 0 <= m) by apply sqrt_pos. assert (T0 := dobrushin_nonneg n P).
  assert (Pair : forall i k, (i < n)%nat -> (k < n)%nat -> m * l2 2 (vsub (w u v i) (w u v k)) <= dobrushin n P * D).
  { intros i k Hi Hk. destruct (E i Hi) as [Eu Ev]. destruct (E k Hk) as [Fu Fv]. set (x := u i - u k).
    set (z := v i - v k).
    assert (S : forall g : vec, sum n (fun j => (P i j - P k j) * g j) = sum n (fun j => (P i j - P 0%nat j) * g j) -
      sum n (fun j => (P k j - P 0%nat j) * g j)) by (intro g; rewrite <- sum_minus; apply sum_ext; intros; ring).
    assert (N : l2 2 (fun c => sum n (fun j => (P i j - P k j) * w u v j c)) = m * l2 2 (vsub (w u v i) (w u v k))).
    { rewrite !l2_two. unfold vsub, w. rewrite !S, Eu, Ev, Fu, Fv. unfold m. assert (Q1 := Rle_0_sqr a).
      assert (Q2 := Rle_0_sqr b). unfold Rsqr in *. rewrite <- sqrt_mult_alt by lra. f_equal. ring. }
    rewrite <- N. eapply Rle_trans; [apply (transport (L2 2) n (fun j => P i j - P k j) (w u v) D)|].
    - rewrite sum_minus. destruct SP as [_ S1]. rewrite !S1 by assumption. ring.
    - intros j l Hj Hl. now apply (diam_ub n (l2 2)).
    - apply Rmult_le_compat_r; [exact D0|]. now apply (dobrushin_ub n P i k). }
  destruct m0 as [M|M]; [|rewrite <- M; exact T0]. apply Rmult_le_reg_r with D; [exact DP|].
  assert (L : D <= dobrushin n P * D / m).
  { apply diam_lub; [apply Rmult_le_pos; [apply Rmult_le_pos; lra|left; now apply Rinv_0_lt_compat]|].
    intros i k Hi Hk. apply Rmult_le_reg_l with m; [exact M|].
    replace (m * (dobrushin n P * D / m)) with (dobrushin n P * D) by (field; lra). now apply Pair. }
  apply Rmult_le_compat_l with (r := m) in L; [|lra]. replace (m * (dobrushin n P * D / m)) with (dobrushin n P * D) in
    L by (field; lra). exact L.
Qed.
Theorem lemma_second_dobrushin : second_modulus n P <= dobrushin n P.
Proof. apply second_le; [apply dobrushin_nonneg|apply second_eigen_le]. Qed.
Lemma second_nonneg : 0 <= second_modulus n P.
Proof. apply (second_le n P (dobrushin n P)); [apply dobrushin_nonneg|apply second_eigen_le]. Qed.
(** for one token all is 0; for two and more log n >= log 2 > 2/3 *)
Lemma log_bound c : 0 <= c <= 1 -> (n = 1%nat -> c = 0) -> c <= 3 / 2 * ln (INR n).
Proof.
  intros C One. destruct (Nat.eq_dec n 1) as [->|N]; [rewrite One by reflexivity; simpl; rewrite ln_1; lra|].
  assert (L : ln 2 <= ln (INR n)). { assert (G := le_INR 2 n ltac:(lia)). simpl in G.
  destruct G as [G|<-]; [left; apply ln_increasing; lra|right; f_equal; lra]. }
  assert (2 / 3 <= ln 2).
  { rewrite <- (ln_exp (2 / 3)). left. apply ln_increasing; [apply exp_pos|]. apply Rle_lt_trans with 1.95; [|lra].
    replace (2 / 3) with (2 * (2 * (1 / 6))) by lra. assert (Near := exp_near (1 / 6) ltac:(lra)).
    apply (exp_double_high _ 1.3958); [|lra]. apply (exp_double_high _ 1.1814); [|lra]. lra. }
  lra.
Qed.
Theorem lemma_dobrushin_log : dobrushin n P <= 3 / 2 * ln (INR n).
Proof.
  apply log_bound; [split; [apply dobrushin_nonneg|now apply lemma_dobrushin_one]|]. intros ->.
  apply Rle_antisym; [|apply dobrushin_nonneg]. apply dobrushin_lub; [lra|].
  intros i k Hi Hk. replace i with k by lia. unfold tv. rewrite (sum_ext 1 _ (fun _ => 0)) by (intros;
    rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; reflexivity). rewrite sum_zero. lra.
Qed.
Theorem lemma_top_shares_log : top_shares n P <= 3 / 2 * ln (INR n).
Proof.
  apply log_bound; [split; [apply top_shares_nonneg|eapply Rle_trans;
    [now apply lemma_top_shares_max|now apply lemma_attention_max]]|]. intros ->.
  apply Rle_antisym; [|apply top_shares_nonneg]. apply maxf_lub; [lra|]. intros i _. apply maxf_lub; [lra|].
  intros j Hj. apply maxf_lub; [lra|]. intros k Hk. replace j with k by lia. rewrite Nat.eqb_refl. lra.
Qed.
End Second.
Theorem lemma_degree_none n : in_degree n nomask = INR n.
Proof.
  unfold in_degree, nomask. destruct n as [|m]; [reflexivity|]. apply Rle_antisym.
  - apply maxf_lub; [apply pos_INR|]. intros i _. rewrite <- (Rmult_1_r (INR (S m))), <- sum_const.
    apply sum_le; intros; destruct Rlt_dec; lra.
  - eapply Rle_trans; [|apply (maxf_ub (S m) (fun i => sum (S m) (fun j => if Rlt_dec 0 1 then 1 else 0)) 0%nat); lia].
    rewrite <- (Rmult_1_r (INR (S m))), <- sum_const. apply sum_le; intros; destruct Rlt_dec; lra.
Qed.
Theorem lemma_degree_causal n : in_degree n causal = INR n.
Proof.
  unfold in_degree, causal. destruct n as [|m]; [reflexivity|]. apply Rle_antisym.
  - apply maxf_lub; [apply pos_INR|]. intros i _. rewrite <- (Rmult_1_r (INR (S m))), <- sum_const.
    apply sum_le; intros; destruct Rlt_dec; lra.
  - eapply Rle_trans; [|apply (maxf_ub (S m) (fun i => sum (S m) (fun j => if Rlt_dec 0 (if Nat.leb j i then 1 else 0)
      then 1 else 0)) m); lia]. rewrite <- (Rmult_1_r (INR (S m))), <- sum_const.
    apply sum_le; intros j Hj. replace (Nat.leb j m) with true by (symmetry; apply Nat.leb_le; lia).
    destruct Rlt_dec; lra.
Qed.

(* ---------- the bilinear form of signs ---------- *)
(** Signs v with |M v^T|_2 >= |M|_F: of x + c and x - c one is as long as the two together. *)
Lemma signs_long d (M : mat) m : exists v : vec, (forall b, v b = 1 \/ v b = -1) /\
  sum d (fun a => sum m (fun b => M a b * M a b)) <= sum d (fun a => sum m (fun b => M a b * v b) * sum m (fun b => M a
    b * v b)).
Proof.
  induction m as [|m [v [V IH]]]; [exists (fun _ => 1); split; [now left|simpl; apply sum_le; intros; lra]|].
  set (x := fun a => sum m (fun b => M a b * v b)). set (s := sum d (fun a => x a * M a m)).
  set (e := if Rle_dec 0 s then 1 else -1).
  assert (Es : 0 <= e * s) by (unfold e; destruct Rle_dec; lra).
  assert (E1 : e * e = 1) by (unfold e; destruct Rle_dec; lra).
  exists (fun b => if Nat.eqb b m then e else v b). split; [intro b; destruct (Nat.eqb b m); [unfold e;
    destruct Rle_dec; auto|apply V]|].
  assert (Y : forall a, sum (S m) (fun b => M a b * (if Nat.eqb b m then e else v b)) = x a + M a m * e).
  { intro a. cbn [sum]. rewrite Nat.eqb_refl. f_equal. apply sum_ext; intros b Hb.
    destruct (Nat.eqb_spec b m); [lia|reflexivity]. }
  rewrite (sum_ext d (fun a => sum (S m) (fun b => M a b * (if Nat.eqb b m then e else v b)) * sum (S m) (fun b => M a
    b * (if Nat.eqb b m then e else v b))) (fun a => x a * x a + M a m * M a m + 2 * e * (x a * M a m))).
  - rewrite !sum_plus, sum_scal. fold s. cbn [sum]. rewrite sum_plus. unfold x. lra.
  - intros a _. rewrite !Y. replace (M a m * M a m) with (M a m * M a m * (e * e)) by (rewrite E1; ring). ring.
Qed.
Theorem lemma_form_inf_low_frobenius d M : frob d d M <= form_inf d M.
Proof.
  assert (K : forall m, form_bound d (linf d) M m -> frob d d M <= m).
  { intros m F. destruct (signs_long d M d) as [v [V L]]. set (y := fun a => sum d (fun b => M a b * v b)).
    assert (A : frob d d M <= l2 d y) by (unfold frob, l2, dot; apply sqrt_le_1_alt; exact L).
    eapply Rle_trans; [exact A|]. eapply Rle_trans; [apply l2_l1|].
    assert (U := form_unit d M m (fun a => sign (y a)) v F). replace (l1 d y) with (bil d (fun a => sign (y a)) M v).
    - eapply Rle_trans; [apply Rle_abs|]. apply U; apply linf_one; intros a _; [apply sign_one|].
      destruct (V a) as [-> | ->]; [rewrite Rabs_R1; lra|rewrite Rabs_left; lra].
    - unfold bil, l1. apply sum_ext; intros a _. rewrite <- sign_abs. unfold y. rewrite <- sum_scal_r.
      apply sum_ext; intros; ring. }
  unfold form_inf. destruct (Nat.leb d 12).
  - apply le_form; [exists (sumentries d d M); apply form_linf|exact K].
  - apply K. apply form_linf.
Qed.

(* ---------- definiteness ---------- *)
(** The least value of v M v^T over |v|_2 = 1, which is the least eigenvalue of the symmetric part;
  the larger one of those of M and -M. *)
Definition least_form (d : nat) (M : mat) : R := real (Lub.Glb_Rbar (fun y => exists v, l2 d v = 1 /\ y = bil d v M v)).
Definition definiteness (d : nat) (M : mat) : R := Rmax (least_form d M) (least_form d (fun a b => - M a b)).
Lemma least_form_le d M v : l2 d v = 1 -> least_form d M <= bil d v M v.
Proof.
  intros V. unfold least_form. destruct (Lub.Glb_Rbar_correct (fun y => exists v,
    l2 d v = 1 /\ y = bil d v M v)) as [L U]. set (g := Lub.Glb_Rbar _) in *.
  assert (A : Rbar.Rbar_le g (Rbar.Finite (bil d v M v))) by (apply L; now exists v).
  assert (B : Rbar.Rbar_le (Rbar.Finite (- frob d d M)) g).
  { apply U. intros y [u [E ->]]. simpl. assert (F := l2_m d u M u). rewrite E, !Rmult_1_r in F.
    apply Rabs_le_between in F. lra. }
  destruct g; simpl in *; [exact A|contradiction|contradiction].
Qed.
Lemma bil_eye d M : (0 < d)%nat -> bil d (eye 0%nat) M (eye 0%nat) = M 0%nat 0%nat.
Proof.
  intros Hd. unfold bil. rewrite (sum_ext d _ (fun a => eye 0%nat a * sum d (fun b => eye 0%nat b * M a b))) by
    (intros; rewrite <- sum_scal; apply sum_ext; intros; ring). now rewrite !eye_sum.
Qed.
Theorem lemma_definiteness_max d M : (0 < d)%nat -> definiteness d M <= maxentry d d M.
Proof.
  intros Hd. assert (E := entry_le d d M 0 0 Hd Hd). apply Rabs_le_between in E. assert (V := l2_eye d 0 Hd).
  assert (A := least_form_le d M (eye 0%nat) V). assert (B := least_form_le d (fun a b => - M a b) (eye 0%nat) V).
  rewrite bil_eye in A, B by exact Hd. apply Rmax_lub; lra.
Qed.

(* ---------- rank ---------- *)
(** The least k for which X is a product of an n x k and a k x d matrix. *)
Definition factors (n d : nat) (X : mat) (k : nat) : Prop := exists B C : mat, forall i a, (i < n)%nat ->
  (a < d)%nat -> X i a = sum k (fun c => B i c * C c a).
Definition rank (n d : nat) (X : mat) : R := inf (fun y => exists k, factors n d X k /\ y = INR k).
Lemma rank_le n d X k : factors n d X k -> rank n d X <= INR k.
Proof. intros F. apply inf_le; [intros z [m [_ ->]]; apply pos_INR|now exists k]. Qed.
Lemma factors_n n d X : factors n d X n.
Proof. exists eye, X. intros i a Hi Ha. now rewrite eye_sum. Qed.
Lemma factors_d n d X : factors n d X d.
Proof.
  exists X, eye. intros i a Hi Ha. rewrite (sum_single d _ a Ha); unfold eye; [rewrite Nat.eqb_refl; ring|].
  intros j _ Hj. destruct (Nat.eqb_spec j a); [lia|ring].
Qed.
Lemma le_rank n d X t : (forall k, factors n d X k -> t <= INR k) -> t <= rank n d X.
Proof. intros H. apply le_inf; [exists (INR n), n; split; [apply factors_n|reflexivity]|intros z [m [_ ->]];
  apply pos_INR|]. intros y [k [F ->]]. now apply H. Qed.
Lemma rank_nonneg n d X : 0 <= rank n d X. Proof. apply le_rank. intros. apply pos_INR. Qed.
Theorem lemma_rank_n n d X : rank n d X <= INR n. Proof. apply rank_le, factors_n. Qed.
Theorem lemma_rank_d n d X : rank n d X <= INR d. Proof. apply rank_le, factors_d. Qed.
Lemma factors_mul n m d A X k : factors m d X k -> factors n d (mmul m A X) k.
Proof.
  intros [B [C E]]. exists (mmul m A B), C. intros i a Hi Ha. unfold mmul at 1, vmat.
  rewrite (sum_ext m _ (fun j => sum k (fun c => A i j * B j c * C c a))).
  - rewrite sum_swap. apply sum_ext; intros c _. unfold mmul, vmat. now rewrite sum_scal_r.
  - intros j Hj. rewrite E by assumption. rewrite <- sum_scal. apply sum_ext; intros; ring.
Qed.
Lemma factors_mul_r n m d X W k : factors n m X k -> factors n d (mmul m X W) k.
Proof.
  intros [B [C E]]. exists B, (mmul m C W). intros i a Hi Ha. unfold mmul at 1, vmat.
  rewrite (sum_ext m _ (fun j => sum k (fun c => B i c * (C c j * W j a)))).
  - rewrite sum_swap. apply sum_ext; intros c _. unfold mmul, vmat. now rewrite <- sum_scal.
  - intros j Hj. rewrite E by assumption. rewrite <- sum_scal_r. apply sum_ext; intros; ring.
Qed.
(** Rows Q_j that are orthogonal, of length 1 or 0, and carry the rows of C. *)
Lemma gram_schmidt d k (C : mat) : exists Q T : mat,
  (forall i j, (i < k)%nat -> (j < k)%nat -> i <> j -> dot d (Q i) (Q j) = 0) /\ (forall i, (i < k)%nat ->
    dot d (Q i) (Q i) = 0 \/ dot d (Q i) (Q i) = 1) /\
  (forall i a, (i < k)%nat -> (a < d)%nat -> C i a = sum k (fun j => T i j * Q j a)).
Proof.
  induction k as [|k [Q [T [O [U E]]]]]; [exists C, C; repeat split; intros; lia|].
  set (p := fun a => sum k (fun j => dot d (C k) (Q j) * Q j a)). set (r := vsub (C k) p). set (s := l2 d r).
  assert (Dp : forall j, (j < k)%nat -> dot d p (Q j) = dot d (C k) (Q j)).
  { intros j Hj. unfold dot at 1, p. rewrite (sum_ext d _ (fun a => sum k (fun m => dot d (C k) (Q m) * (Q m a * Q j
      a)))) by (intros; rewrite <- sum_scal_r; apply sum_ext; intros; ring).
    rewrite sum_swap. rewrite (sum_ext k _ (fun m => dot d (C k) (Q m) * dot d (Q m) (Q j))) by (intros;
      rewrite sum_scal; reflexivity).
    rewrite (sum_single k _ j Hj) by (intros m Hm N; rewrite (O m j) by auto; ring).
    destruct (U j Hj) as [Z|Z]; rewrite Z; [|ring].
    assert (CS := cauchy_schwarz d (C k) (Q j)). rewrite Z in CS.
    assert (dot d (C k) (Q j) * dot d (C k) (Q j) = 0) by nra. assert (dot d (C k) (Q j) = 0) by nra. rewrite H0. ring.
    }
  assert (Dr : forall j, (j < k)%nat -> dot d r (Q j) = 0).
  { intros j Hj. unfold r. replace (dot d (vsub (C k) p) (Q j)) with (dot d (C k) (Q j) - dot d p (Q j));
      [rewrite Dp by exact Hj; ring|]. unfold dot, vsub. rewrite <- sum_minus. apply sum_ext; intros; ring. }
  assert (s0 : 0 <= s) by apply l2_nonneg. set (q := fun a => if Rle_dec s 0 then 0 else r a / s).
  assert (Sq : forall a, (a < d)%nat -> s * q a = r a).
  { intros a Ha. unfold q. destruct Rle_dec as [L|L]; [|field; lra]. rewrite Rmult_0_r.
    assert (A := entry_l2 d r a Ha). fold s in A. assert (Rabs (r a) = 0) by (assert (P := Rabs_pos (r a)); lra).
    destruct (Req_dec (r a) 0) as [->|N]; [reflexivity|]. apply Rabs_no_R0 in N. lra. }
  assert (Dq : forall j, (j < k)%nat -> dot d q (Q j) = 0).
  { intros j Hj. unfold q. destruct Rle_dec as [L|L]; [unfold dot; rewrite (sum_ext d _ (fun _ => 0)) by (intros;
      ring); apply sum_zero|].
    replace (dot d (fun a => r a / s) (Q j)) with (/ s * dot d r (Q j)); [rewrite Dr by exact Hj; ring|]. unfold dot.
    rewrite <- sum_scal. apply sum_ext; intros. unfold Rdiv. ring. }
  assert (Uq : dot d q q = 0 \/ dot d q q = 1).
  { unfold q. destruct Rle_dec as [L|L]; [left; unfold dot; rewrite (sum_ext d _ (fun _ => 0)) by (intros; ring);
      apply sum_zero|right].
    replace (dot d (fun a => r a / s) (fun a => r a / s)) with (/ s * / s * dot d r r); [rewrite <- l2_square; fold s;
      field; lra|]. unfold dot. rewrite <- sum_scal. apply sum_ext; intros. unfold Rdiv. ring. }
  exists (fun i => if Nat.eqb i k then q else Q i), (fun i j => if Nat.eqb i k then (if Nat.eqb j k then s else dot d
    (C k) (Q j)) else if Nat.eqb j k then 0 else T i j). repeat split.
  - intros i j Hi Hj N. destruct (Nat.eqb_spec i k) as [->|], (Nat.eqb_spec j k) as [->|]; [contradiction|apply Dq;
      lia|rewrite dot_sym; apply Dq; lia|apply O; auto; lia].
  - intros i Hi. destruct (Nat.eqb_spec i k); [exact Uq|apply U; lia].
  - intros i a Hi Ha. cbn [sum]. rewrite Nat.eqb_refl. rewrite (sum_ext k _ (fun j => (if Nat.eqb i k then dot d (C k)
      (Q j) else T i j) * Q j a)).
    + destruct (Nat.eqb_spec i k) as [->|]; [|rewrite Rmult_0_l, Rplus_0_r; apply E; lia]. fold (p a).
      rewrite Sq by exact Ha. unfold r, vsub. ring.
    + intros j Hj. destruct (Nat.eqb_spec j k); [lia|]. now destruct (Nat.eqb i k).
Qed.
Theorem lemma_participation_rank n d X : participation_ratio n d X <= rank n d X.
Proof.
  apply le_rank. intros k [B [C E]]. destruct (gram_schmidt d k C) as [Q [T [O [U S]]]]. set (b := mmul k B T).
  set (u := fun j => dot d (Q j) (Q j)).
  assert (Xs : forall i a, (i < n)%nat -> (a < d)%nat -> X i a = sum k (fun j => b i j * Q j a)).
  { intros i a Hi Ha. rewrite E by assumption. rewrite (sum_ext k _ (fun c => sum k (fun j => B i c * T c j * Q j a)))
      by (intros c Hc; rewrite S by assumption; rewrite <- sum_scal; apply sum_ext; intros; ring).
    rewrite sum_swap. apply sum_ext; intros j _. unfold b, mmul, vmat. now rewrite sum_scal_r. }
  assert (Ds : forall i l, (i < n)%nat -> (l < n)%nat -> dot d (X i) (X l) = sum k (fun j => b i j * b l j * u j)).
  { intros i l Hi Hl. unfold dot. rewrite (sum_ext d _ (fun a => sum k (fun j => b i j * sum k (fun m => b l m * (Q j a
      * Q m a))))).
    - rewrite sum_swap. apply sum_ext; intros j Hj. rewrite sum_scal. rewrite sum_swap.
      rewrite (sum_ext k _ (fun m => b l m * dot d (Q j) (Q m))) by (intros; now rewrite sum_scal).
      rewrite (sum_single k _ j Hj) by (intros m Hm N; rewrite (O j m) by auto; ring). unfold u. ring.
    - intros a Ha. rewrite !Xs by assumption. rewrite <- sum_scal_r. apply sum_ext; intros j _. rewrite Rmult_assoc.
      f_equal. rewrite <- sum_scal. apply sum_ext; intros; ring. }
  set (M := fun i j => b i j * u j). assert (Us : forall j, (j < k)%nat -> u j * u j = u j) by (intros j Hj; unfold u;
    destruct (U j Hj) as [Z|Z]; rewrite Z; ring).
  assert (Dm : forall i l, (i < n)%nat -> (l < n)%nat -> dot d (X i) (X l) = dot k (M i) (M l)).
  { intros i l Hi Hl. rewrite Ds by assumption. unfold dot. apply sum_ext; intros j Hj. unfold M.
    rewrite <- (Us j Hj) at 1. ring. }
  replace (participation_ratio n d X) with (participation_ratio n k M); [apply lemma_participation_d|].
  assert (F : frob n k M = frob n d X) by (unfold frob; f_equal; apply sum_ext; intros; symmetry; now apply Dm).
  assert (G : gram_square n k M = gram_square n d X) by (unfold gram_square; apply sum_ext; intros i Hi; apply sum_ext;
    intros l Hl; now rewrite Dm).
  unfold participation_ratio. now rewrite F, G.
Qed.
Lemma factors_ext n d A C k : (forall i a, A i a = C i a) -> factors n d C k -> factors n d A k.
Proof. intros E [F [G H]]. exists F, G. intros. rewrite E. now apply H. Qed.
(** one row is not all of epsilon: the largest entry is positive *)
Theorem lemma_epsilon_room n P : row_stochastic n n P -> (0 < n)%nat -> (INR n - 1) * epsilon n nomask P < 1.
Proof.
  intros SP Hn. assert (E := lemma_max_epsilon n P SP Hn). assert (M := lemma_attention_max_low n P SP Hn).
  assert (N1 := one_INR n Hn). assert (0 < maxentry n n P) by nra. lra.
Qed.
