(** Lemmas of the prover: one layer.  B is a block X -> f(s X + SA(X)), any number of heads, biases, any mask;
  [alone B] says
    that f is the identity (no LayerNorm, no MLP), P h is the attention and W h the values of head h.
    X[l+1] of a network
    is [block_map n d (B l)] of X[l]. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Rcomplements.
From Rankmath Require Import Definitions Functions Norms Softmax own_tv Masks own_hemisphere own_order Quantities
    Lemmas_norms Lemmas_tokens Lemmas_attention.
From Rankmath Require own_lipschitz.
Local Open Scope R_scope.

Lemma abs_minus_one : Rabs (-1) = 1. Proof. rewrite Rabs_left; lra. Qed.
(* ---------- the Frobenius norm of sums and products ---------- *)
Lemma frob_add n d A B : frob n d (fun i a => A i a + B i a) <= frob n d A + frob n d B.
Proof.
  rewrite !own_lipschitz.frob_rows. eapply Rle_trans; [|apply (sn_add (L2 n) (fun i => l2 d (A i)) (fun i => l2 d (B
    i)))].
  apply own_lipschitz.l2_mono. intros i _. split; [apply l2_nonneg|apply (sn_add (L2 d) (A i) (B i))].
Qed.
Lemma frob_zero n d : frob n d (fun _ _ => 0) = 0.
Proof. unfold frob, dot. rewrite (sum_ext n _ (fun _ => 0)); [rewrite sum_zero; apply sqrt_0|]. intros.
rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|intros; ring]. Qed.
Lemma frob_sum n d H (A : nat -> mat) : frob n d (fun i a => sum H (fun h => A h i a)) <= sum H (fun h => frob n d (A
  h)).
Proof. induction H as [|k IH]; simpl; [rewrite frob_zero; lra|]. eapply Rle_trans; [apply frob_add|]. lra. Qed.
Lemma frob_values n k d A W : frob n d (mmul k A W) <= frob n k A * spectral k d W.
Proof.
  assert (S := spectral_nonneg k d W). apply sqrt_le_of; [apply Rmult_le_pos; [apply frob_nonneg|exact S]|].
  replace (frob n k A * spectral k d W * (frob n k A * spectral k d W)) with (frob n k A * frob n k A * (spectral k d W
    * spectral k d W)) by ring.
  rewrite frob_square, <- sum_scal_r. apply sum_le; intros i _. rewrite <- !l2_square.
  assert (H := spectral_vmat k d W (A i)). assert (P := l2_nonneg d (mmul k A W i)).
  change (vmat k (A i) W) with (mmul k A W i) in H. assert (Q := l2_nonneg k (A i)). nra.
Qed.
Lemma frob_average n k d P A : frob n d (mmul k P A) <= spectral n k P * frob k d A.
Proof.
  rewrite <- frob_flip. replace (flip (mmul k P A)) with (mmul k (flip A) (flip P)).
  - eapply Rle_trans; [apply frob_values|]. rewrite frob_flip, spectral_of_flip. lra.
  - apply functional_extensionality; intro a. apply functional_extensionality; intro i. unfold mmul, vmat, flip.
    apply sum_ext; intros; ring.
Qed.

Section Layer.
Variables (n d : nat) (B : block) (X : mat).
Notation Ly := (att B).
Notation H := (nheads (att B)).
Notation P h := (attn n d (dqk (att B)) (hd (att B) h) X).
Notation W h := (WV (hd (att B) h)).
Notation X' := (block_map n d B X).
Hypothesis Mk : forall h, (h < H)%nat -> proper_mask n (mask (hd Ly h)).
Hypothesis alone : forall v, tok B v = v.
Let SP h : (h < H)%nat -> row_stochastic n n (P h).
Proof. intros Hh. apply attn_stochastic. now apply Mk. Qed.

(* ---------- diameters: N outside, N' inside, |v W_h|_N <= w_h |v|_N' ---------- *)
Lemma layer_pair i k : (i < n)%nat -> (k < n)%nat -> exists v : vec,
  (forall b, vsub (X' i) (X' k) b = skip B * vsub (X i) (X k) b + v b) /\
  forall (N N' : seminorm) (w : nat -> R), (forall h, 0 <= w h) -> (forall h v, (h < H)%nat ->
    N (vmat d v (W h)) <= w h * N' v) ->
    N v <= sum H (fun h => w h * dobrushin n (P h)) * diam n N' X.
Proof.
  intros Hi Hk. set (nu := fun h j => P h i j - P h k j).
  exists (fun b => sum H (fun h => vmat d (fun a => sum n (fun j => nu h j * X j a)) (W h) b)). split.
  - intro b. unfold vsub at 1, block_map. rewrite !alone. unfold SA.
    replace (skip B * vsub (X i) (X k) b) with (skip B * X i b - skip B * X k b) by (unfold vsub; ring).
    match goal with |- _ + (?A + ?c) - (_ + (?A' + ?c)) = _ => replace (skip B * X i b + (A + c) - (skip B * X k b +
      (A' + c))) with (skip B * X i b - skip B * X k b + (A - A')) by ring end.
    f_equal. rewrite <- sum_minus. apply sum_ext; intros h _. rewrite vmat_sub. apply vmat_ext. intros a _.
    unfold vsub. rewrite vmat_sub. apply sum_ext; intros. unfold vsub, nu. ring.
  - intros N N' w w0 Hw. eapply Rle_trans; [apply (sn_sum1 N H)|]. rewrite <- sum_scal_r. apply sum_le; intros h Hh.
    eapply Rle_trans; [now apply Hw|]. rewrite Rmult_assoc.
    apply Rmult_le_compat_l; [apply w0|]. eapply Rle_trans; [apply (transport N' n (nu h) X (diam n N' X)); [|intros;
      now apply diam_ub]|].
    + unfold nu. rewrite sum_minus. destruct (SP h Hh) as [_ S1]. rewrite !S1 by assumption. ring.
    + apply Rmult_le_compat_r; [apply diam_nonneg|]. now apply (dobrushin_ub n (P h) i k).
Qed.
Lemma layer_diam (N N' : seminorm) (w : nat -> R) : (forall h, 0 <= w h) ->
  (forall h v, (h < H)%nat -> N (vmat d v (W h)) <= w h * N' v) ->
  diam n N X' <= Rabs (skip B) * diam n N X + sum H (fun h => w h * dobrushin n (P h)) * diam n N' X.
Proof.
  intros w0 Hw. assert (D0 := diam_nonneg n N X). assert (D0' := diam_nonneg n N' X).
  assert (S0 : 0 <= sum H (fun h => w h * dobrushin n (P h))) by (apply sum_nonneg; intros; apply Rmult_le_pos;
    [apply w0|apply dobrushin_nonneg]).
  apply diam_lub; [apply Rplus_le_le_0_compat; apply Rmult_le_pos; auto; apply Rabs_pos|]. intros i k Hi Hk.
  destruct (layer_pair i k Hi Hk) as [v [Ev Hv]].
  rewrite (sn_ext N _ _ Ev). eapply Rle_trans; [apply (sn_add N (fun b => skip B * vsub (X i) (X k) b) v)|].
  rewrite sn_scal. apply Rplus_le_compat; [apply Rmult_le_compat_l; [apply Rabs_pos|now apply diam_ub]|]. now apply Hv.
Qed.
Theorem lemma_layer_skip_1 : diam n (l1 d) X' <= Rabs (skip B) * diam n (l1 d) X + sum H (fun h => norminf d d (W h) *
  dobrushin n (P h)) * diam n (l1 d) X.
Proof. apply (layer_diam (L1 d) (L1 d)); intros; [apply maxf_pos|apply l1_w]. Qed.
Theorem lemma_layer_skip_2 : diam n (l2 d) X' <= Rabs (skip B) * diam n (l2 d) X + sum H (fun h => spectral d d (W h) *
  dobrushin n (P h)) * diam n (l2 d) X.
Proof. apply (layer_diam (L2 d) (L2 d) (fun h => spectral d d (W h))); intros;
  [apply spectral_nonneg|apply spectral_vmat]. Qed.
Theorem lemma_layer_skip_inf : diam n (linf d) X' <= Rabs (skip B) * diam n (linf d) X + sum H (fun h => norm1 d d (W
  h) * dobrushin n (P h)) * diam n (linf d) X.
Proof. apply (layer_diam (Linf d) (Linf d)); intros; [apply maxf_pos|apply linf_w]. Qed.

(** ... and from below: skip (X_i - X_k) is the difference of the new tokens less that of the heads *)
Lemma layer_diam_low (N : seminorm) (w : nat -> R) : (forall h, 0 <= w h) ->
  (forall h v, (h < H)%nat -> N (vmat d v (W h)) <= w h * N v) ->
  Rabs (skip B) * diam n N X <= diam n N X' + sum H (fun h => w h * dobrushin n (P h)) * diam n N X.
Proof.
  intros w0 Hw. assert (D0 := diam_nonneg n N X). assert (D0' := diam_nonneg n N X').
  set (c := sum H (fun h => w h * dobrushin n (P h))).
  assert (S0 : 0 <= c) by (apply sum_nonneg; intros; apply Rmult_le_pos; [apply w0|apply dobrushin_nonneg]).
  assert (T : forall i k, (i < n)%nat -> (k < n)%nat -> Rabs (skip B) * N (vsub (X i) (X k)) <= diam n N X' + c * diam
    n N X).
  { intros i k Hi Hk. rewrite <- sn_scal. destruct (layer_pair i k Hi Hk) as [v [Ev Hv]].
    rewrite (sn_ext N _ (fun b => vsub (X' i) (X' k) b + -1 * v b)) by (intro b; rewrite Ev; ring).
    eapply Rle_trans; [apply (sn_add N (vsub (X' i) (X' k)) (fun b => -1 * v b))|].
    rewrite sn_scal, abs_minus_one, Rmult_1_l. apply Rplus_le_compat; [now apply diam_ub|]. now apply (Hv N N w). }
  destruct (Rabs_pos (skip B)) as [L|<-]; [|rewrite Rmult_0_l; apply Rplus_le_le_0_compat;
    [exact D0'|now apply Rmult_le_pos]].
  apply Rmult_le_reg_l with (/ Rabs (skip B)); [now apply Rinv_0_lt_compat|].
  rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra. apply diam_lub.
  - apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat|]. apply Rplus_le_le_0_compat;
      [exact D0'|now apply Rmult_le_pos].
  - intros i k Hi Hk. apply Rmult_le_reg_l with (Rabs (skip B)); [exact L|].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. now apply T.
Qed.
Theorem lemma_layer_skip_low_1 : Rabs (skip B) * diam n (l1 d) X <= diam n (l1 d) X' + sum H (fun h => norminf d d (W
  h) * dobrushin n (P h)) * diam n (l1 d) X.
Proof. apply (layer_diam_low (L1 d)); intros; [apply maxf_pos|apply l1_w]. Qed.
Theorem lemma_layer_skip_low_2 : Rabs (skip B) * diam n (l2 d) X <= diam n (l2 d) X' + sum H (fun h => spectral d d (W
  h) * dobrushin n (P h)) * diam n (l2 d) X.
Proof. apply (layer_diam_low (L2 d) (fun h => spectral d d (W h))); intros;
  [apply spectral_nonneg|apply spectral_vmat]. Qed.
Theorem lemma_layer_skip_low_inf : Rabs (skip B) * diam n (linf d) X <= diam n (linf d) X' + sum H (fun h => norm1 d d
  (W h) * dobrushin n (P h)) * diam n (linf d) X.
Proof. apply (layer_diam_low (Linf d)); intros; [apply maxf_pos|apply linf_w]. Qed.

(* ---------- about a centre: X' = 1 y^T + s R + sum_h P_h R W_h ---------- *)
Let image (x : vec) : vec := fun b => skip B * x b + sum H (fun h => vmat d x (W h) b) + bout Ly b.
Let step x : mat := fun i b => sum H (fun h => mmul d (mmul n (P h) (centred X x)) (W h) i b).
Lemma layer_centred x i b : (i < n)%nat -> centred X' (image x) i b = skip B * centred X x i b + step x i b.
Proof.
  intros Hi. unfold centred at 1, vsub at 1, block_map, image. rewrite alone. unfold SA.
  replace (skip B * centred X x i b) with (skip B * X i b - skip B * x b) by (unfold centred, vsub; ring).
  match goal with |- _ + (?A + ?c) - (_ + ?A' + ?c) = _ => replace (skip B * X i b + (A + c) - (skip B * x b + A' + c))
    with (skip B * X i b - skip B * x b + (A - A')) by ring end.
  f_equal. unfold step. rewrite <- sum_minus. apply sum_ext; intros h Hh. rewrite vmat_sub. unfold mmul at 1.
  apply vmat_ext. intros a _. unfold mmul, vmat, centred, vsub.
  rewrite (sum_ext n (fun j => P h i j * (X j a - x a)) (fun j => P h i j * X j a - P h i j * x a)) by (intros; ring).
  rewrite sum_minus, sum_scal_r. destruct (SP h Hh) as [_ S1]. rewrite S1 by exact Hi. ring.
Qed.
Lemma step_inf x : norminf n d (step x) <= sum H (fun h => norminf d d (W h)) * norminf n d (centred X x).
Proof.
  eapply Rle_trans; [apply (norminf_sum n d H (fun h => mmul d (mmul n (P h) (centred X x)) (W h)))|].
  rewrite <- sum_scal_r. apply sum_le; intros h Hh.
  eapply Rle_trans; [apply norminf_mmul|]. rewrite Rmult_comm. apply Rmult_le_compat_l; [apply maxf_pos|].
  eapply Rle_trans; [apply norminf_mmul|].
  assert (S := stochastic_inf n (P h) (SP h Hh)). assert (Q := norminf_pos n d (centred X x)). nra.
Qed.
Lemma step_one x : norm1 n d (step x) <= sum H (fun h => norm1 n n (P h) * norm1 d d (W h)) * norm1 n d (centred X x).
Proof.
  eapply Rle_trans; [apply (norm1_sum n d H (fun h => mmul d (mmul n (P h) (centred X x)) (W h)))|].
  rewrite <- sum_scal_r. apply sum_le; intros h Hh.
  eapply Rle_trans; [apply norm1_mmul|]. replace (norm1 n n (P h) * norm1 d d (W h) * norm1 n d (centred X x)) with
    (norm1 n n (P h) * norm1 n d (centred X x) * norm1 d d (W h)) by ring.
  apply Rmult_le_compat_r; [apply maxf_pos|]. apply norm1_mmul.
Qed.
Lemma norminf_add A C : norminf n d (fun i a => A i a + C i a) <= norminf n d A + norminf n d C.
Proof.
  apply maxf_lub; [apply Rplus_le_le_0_compat; apply maxf_pos|]. intros i Hi. assert (A1 := row_le n d A i Hi).
  assert (C1 := row_le n d C i Hi).
  eapply Rle_trans; [apply (sn_add (L1 d) (A i) (C i))|]. cbn [sn L1]. unfold l1. lra.
Qed.
Lemma norm1_add A C : norm1 n d (fun i a => A i a + C i a) <= norm1 n d A + norm1 n d C.
Proof.
  apply maxf_lub; [apply Rplus_le_le_0_compat; apply maxf_pos|]. intros a Ha. assert (A1 := col_le n d A a Ha).
  assert (C1 := col_le n d C a Ha).
  eapply Rle_trans; [apply sum_le; intros; apply Rabs_triang|]. rewrite sum_plus. lra.
Qed.
Lemma norminf_scal c A : norminf n d (fun i a => c * A i a) = Rabs c * norminf n d A.
Proof. unfold norminf. rewrite <- maxf_scal by apply Rabs_pos. apply maxf_ext; intros. rewrite <- sum_scal.
apply sum_ext; intros. apply Rabs_mult. Qed.
Lemma norm1_scal c A : norm1 n d (fun i a => c * A i a) = Rabs c * norm1 n d A.
Proof. unfold norm1. rewrite <- maxf_scal by apply Rabs_pos. apply maxf_ext; intros. rewrite <- sum_scal.
apply sum_ext; intros. apply Rabs_mult. Qed.
Lemma frob_scal c A : frob n d (fun i a => c * A i a) = Rabs c * frob n d A.
Proof.
  unfold frob. rewrite <- sqrt_Rsqr_abs, <- sqrt_mult_alt by apply Rle_0_sqr. f_equal. rewrite <- sum_scal.
  apply sum_ext; intros. unfold dot, Rsqr. rewrite <- sum_scal. apply sum_ext; intros; ring.
Qed.
Lemma frob_ext A C : (forall i a, (i < n)%nat -> (a < d)%nat -> A i a = C i a) -> frob n d A = frob n d C.
Proof. intros E. unfold frob, dot. f_equal. apply sum_ext; intros i Hi. apply sum_ext; intros a Ha. now rewrite E. Qed.
Theorem lemma_layer_residual_inf_skip :
  resid (norminf n d) X' <= Rabs (skip B) * resid (norminf n d) X + sum H (fun h => norminf d d (W h)) * resid (norminf
    n d) X.
Proof.
  rewrite <- Rmult_plus_distr_r. assert (C : 0 <= sum H (fun h => norminf d d (W h))) by (apply sum_nonneg; intros;
    apply maxf_pos). assert (S := Rabs_pos (skip B)).
  apply le_resid; [apply norminf_pos|lra|]. intro x. eapply Rle_trans;
    [apply (resid_le _ X' (image x) (norminf_pos n d))|].
  rewrite (norminf_ext n d _ (fun i b => skip B * centred X x i b + step x i b)) by (intros; now apply layer_centred).
  eapply Rle_trans; [apply norminf_add|]. rewrite norminf_scal. assert (I := step_inf x). lra.
Qed.
Theorem lemma_layer_residual_one_skip :
  resid (norm1 n d) X' <= Rabs (skip B) * resid (norm1 n d) X + sum H (fun h => norm1 n n (P h) * norm1 d d (W h)) *
    resid (norm1 n d) X.
Proof.
  rewrite <- Rmult_plus_distr_r. assert (C : 0 <= sum H (fun h => norm1 n n (P h) * norm1 d d (W h))) by (apply
    sum_nonneg; intros; apply Rmult_le_pos; apply maxf_pos). assert (S := Rabs_pos (skip B)).
  apply le_resid; [apply norm1_pos|lra|]. intro x. eapply Rle_trans; [apply (resid_le _ X' (image x) (norm1_pos n d))|].
  rewrite (norm1_ext n d _ (fun i b => skip B * centred X x i b + step x i b)) by (intros; now apply layer_centred).
  eapply Rle_trans; [apply norm1_add|]. rewrite norm1_scal. assert (I := step_one x). lra.
Qed.
Lemma step_frob x : frob n d (step x) <= sum H (fun h => spectral d d (W h) * spectral n n (P h)) * frob n d (centred X
  x).
Proof.
  eapply Rle_trans; [apply (frob_sum n d H (fun h => mmul d (mmul n (P h) (centred X x)) (W h)))|].
  rewrite <- sum_scal_r. apply sum_le; intros h Hh.
  eapply Rle_trans; [apply frob_values|]. rewrite Rmult_comm, Rmult_assoc.
  apply Rmult_le_compat_l; [apply spectral_nonneg|]. apply frob_average.
Qed.
Theorem lemma_layer_mu_skip : (0 < n)%nat ->
  mu n d X' <= Rabs (skip B) * mu n d X + sum H (fun h => spectral d d (W h) * spectral n n (P h)) * mu n d X.
Proof.
  intros Hn. eapply Rle_trans; [apply (mu_any n d X' (image (mean n X)) Hn)|].
  rewrite (frob_ext _ (fun i b => skip B * centred X (mean n X) i b + step (mean n X) i b)) by (intros;
    now apply layer_centred).
  eapply Rle_trans; [apply frob_add|]. rewrite frob_scal. assert (I := step_frob (mean n X)). unfold mu. lra.
Qed.
Lemma mu_add A C : mu n d (fun i a => A i a + C i a) <= mu n d A + mu n d C.
Proof.
  unfold mu. rewrite (frob_ext _ (fun i a => centred A (mean n A) i a + centred C (mean n C) i a)); [apply frob_add|].
  intros i a _ _. unfold centred, vsub, mean. rewrite sum_plus. unfold Rdiv. ring.
Qed.
Lemma mu_scal c A : mu n d (fun i a => c * A i a) = Rabs c * mu n d A.
Proof. unfold mu. rewrite <- frob_scal. apply frob_ext. intros i a _ _. unfold centred, vsub, mean. rewrite sum_scal.
unfold Rdiv. ring. Qed.
Theorem lemma_layer_mu_skip_low : (0 < n)%nat ->
  Rabs (skip B) * mu n d X <= mu n d X' + sum H (fun h => spectral d d (W h) * spectral n n (P h)) * mu n d X.
Proof.
  intros Hn. set (x := mean n X). set (R := centred X x). assert (E : mu n d X = mu n d R) by (apply (mu_shift n d X
    x); auto).
  rewrite E at 1. rewrite <- mu_scal.
  rewrite (mu_shift n d (fun i a => skip B * R i a) (fun _ => 0) (fun i a => centred X' (image x) i a + -1 * step x i
    a) Hn).
  - eapply Rle_trans; [apply mu_add|]. rewrite mu_scal, <- (mu_shift n d X' (image x) (centred X' (image x)) Hn) by
      reflexivity. apply Rplus_le_compat_l.
    rewrite abs_minus_one, Rmult_1_l. eapply Rle_trans; [now apply mu_frob|]. apply step_frob.
  - intros i a Hi Ha. rewrite layer_centred by exact Hi. fold R. ring.
Qed.

Hypothesis no_skip : skip B = 0.
Let drop (x y z : R) : x <= Rabs (skip B) * y + z -> x <= z.
Proof. rewrite no_skip, Rabs_R0. lra. Qed.
Theorem lemma_layer_dobrushin_1 : diam n (l1 d) X' <= sum H (fun h => norminf d d (W h) * dobrushin n (P h)) * diam n
  (l1 d) X.
Proof. eapply drop, lemma_layer_skip_1. Qed.
Theorem lemma_layer_dobrushin_2 : diam n (l2 d) X' <= sum H (fun h => spectral d d (W h) * dobrushin n (P h)) * diam n
  (l2 d) X.
Proof. eapply drop, lemma_layer_skip_2. Qed.
Theorem lemma_layer_dobrushin_inf : diam n (linf d) X' <= sum H (fun h => norm1 d d (W h) * dobrushin n (P h)) * diam n
  (linf d) X.
Proof. eapply drop, lemma_layer_skip_inf. Qed.
(** the largest entry is the norm from l1 to linf *)
Theorem lemma_layer_cross : diam n (linf d) X' <= sum H (fun h => maxentry d d (W h) * dobrushin n (P h)) * diam n (l1
  d) X.
Proof.
  eapply drop, (layer_diam (Linf d) (L1 d)); intros; [apply maxf_pos|]. cbn [sn Linf L1].
  apply maxf_lub; [apply Rmult_le_pos; [apply maxf_pos|apply l1_nonneg]|].
  intros b Hb. eapply Rle_trans; [apply vmat_abs|]. unfold l1. rewrite <- sum_scal. apply sum_le; intros a Ha.
  rewrite Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos|now apply entry_le].
Qed.
Theorem lemma_layer_row : diam n (l2 d) X' <= sum H (fun h => sqrt (INR d) * maxentry d d (W h) * dobrushin n (P h)) *
  diam n (l1 d) X.
Proof.
  eapply drop, (layer_diam (L2 d) (L1 d) (fun h => sqrt (INR d) * maxentry d d (W h))); intros; [apply Rmult_le_pos;
    [apply sqrt_pos|apply maxf_pos]|]. cbn [sn L2 L1].
  eapply Rle_trans; [apply l2_linf|]. rewrite Rmult_assoc. apply Rmult_le_compat_l; [apply sqrt_pos|].
  apply maxf_lub; [apply Rmult_le_pos; [apply maxf_pos|apply l1_nonneg]|].
  intros b Hb. eapply Rle_trans; [apply vmat_abs|]. unfold l1. rewrite <- sum_scal. apply sum_le; intros a Ha.
  rewrite Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos|now apply entry_le].
Qed.

Lemma plain_centred x i b : (i < n)%nat -> centred X' (image x) i b = step x i b.
Proof. intros Hi. rewrite layer_centred, no_skip by exact Hi. ring. Qed.
Theorem lemma_layer_residual_inf : resid (norminf n d) X' <= sum H (fun h => norminf d d (W h)) * resid (norminf n d) X.
Proof.
  apply le_resid; [apply norminf_pos|apply sum_nonneg; intros; apply maxf_pos|]. intro x.
  eapply Rle_trans; [apply (resid_le _ X' (image x) (norminf_pos n d))|].
  eapply Rle_trans; [|apply step_inf]. right. apply norminf_ext. intros. now apply plain_centred.
Qed.
Theorem lemma_layer_residual_one : resid (norm1 n d) X' <= sum H (fun h => norm1 n n (P h) * norm1 d d (W h)) * resid
  (norm1 n d) X.
Proof.
  apply le_resid; [apply norm1_pos|apply sum_nonneg; intros; apply Rmult_le_pos; apply maxf_pos|]. intro x.
  eapply Rle_trans; [apply (resid_le _ X' (image x) (norm1_pos n d))|].
  eapply Rle_trans; [|apply step_one]. right. apply norm1_ext. intros. now apply plain_centred.
Qed.
Theorem lemma_layer_residual_composite : resid (comp n d) X' ^ 2 <=
  sum H (fun h => norm1 n n (P h) * norm1 d d (W h)) * sum H (fun h => norminf d d (W h)) * resid (comp n d) X ^ 2.
Proof.
  set (c1 := sum H (fun h => norm1 n n (P h) * norm1 d d (W h))). set (c2 := sum H (fun h => norminf d d (W h))).
  assert (C1 : 0 <= c1) by (apply sum_nonneg; intros; apply Rmult_le_pos; apply maxf_pos).
  assert (C2 : 0 <= c2) by (apply sum_nonneg; intros; apply maxf_pos).
  assert (C : 0 <= c1 * c2) by now apply Rmult_le_pos.
  assert (L : resid (comp n d) X' <= sqrt (c1 * c2) * resid (comp n d) X).
  { apply le_resid; [apply comp_pos|apply sqrt_pos|]. intro x.
    eapply Rle_trans; [apply (resid_le _ X' (image x) (comp_pos n d))|].
    rewrite (comp_ext n d _ (step x)) by (intros; now apply plain_centred). apply comp_root; [exact C|apply comp_pos|].
    rewrite comp_sq.
    assert (A := step_one x). assert (E := step_inf x). fold c1 in A. fold c2 in E.
    replace (c1 * c2 * (norm1 n d (centred X x) * norminf n d (centred X x))) with ((c1 * norm1 n d (centred X x)) *
      (c2 * norminf n d (centred X x))) by ring.
    apply Rmult_le_compat; auto; apply maxf_pos. }
  assert (R0 := resid_nonneg _ X' (comp_pos n d)). eapply Rle_trans; [apply (square_mono _ _ R0 L)|]. right.
  rewrite Rpow_mult_distr. f_equal.
  replace (sqrt (c1 * c2) ^ 2) with (sqrt (c1 * c2) * sqrt (c1 * c2)) by ring. now apply sqrt_sqrt.
Qed.
Theorem lemma_layer_mu_one : (0 < n)%nat -> mu n d X' <= sum H (fun h => spectral d d (W h) * spectral n n (P h)) * mu
  n d X.
Proof. intros Hn. eapply drop. now apply lemma_layer_mu_skip. Qed.
(** the rows of P R are averages of rows of R *)
Theorem lemma_layer_mu_radius : (0 < n)%nat -> mu n d X' <= sqrt (INR n) * sum H (fun h => spectral d d (W h)) * resid
  (norminf n d) X.
Proof.
  intros Hn. assert (C : 0 <= sum H (fun h => spectral d d (W h))) by (apply sum_nonneg; intros; apply spectral_nonneg).
  apply le_resid; [apply norminf_pos|apply Rmult_le_pos; [apply sqrt_pos|exact C]|]. intro x.
  eapply Rle_trans; [apply (mu_any n d X' (image x) Hn)|]. rewrite Rmult_assoc.
  apply frob_rows_le; [apply Rmult_le_pos; [exact C|apply maxf_pos]|]. intros i Hi.
  rewrite (l2_ext d _ (step x i)) by (intros; now apply plain_centred).
  eapply Rle_trans; [apply (sn_sum1 (L2 d) H (fun h => mmul d (mmul n (P h) (centred X x)) (W h) i))|].
  rewrite <- sum_scal_r. apply sum_le; intros h Hh.
  eapply Rle_trans; [apply spectral_vmat|]. apply Rmult_le_compat_l; [apply spectral_nonneg|].
  destruct (SP h Hh) as [S0 S1].
  eapply Rle_trans; [apply (sn_sum (L2 d) n (P h i) (centred X x))|].
  apply Rle_trans with (sum n (fun j => P h i j * norminf n d (centred X x))).
  - apply sum_le; intros j Hj. rewrite Rabs_right by (apply Rle_ge; now apply S0).
    apply Rmult_le_compat_l; [now apply S0|]. eapply Rle_trans; [apply l2_l1|]. apply (row_le n d (centred X x) j Hj).
  - rewrite sum_scal_r, S1 by exact Hi. lra.
Qed.
End Layer.

(* ---------- no bias: the tokens themselves ---------- *)
Section NoBias.
Variables (n d : nat) (B : block) (X : mat).
Notation Ly := (att B).
Notation H := (nheads (att B)).
Notation P h := (attn n d (dqk (att B)) (hd (att B) h) X).
Notation W h := (WV (hd (att B) h)).
Notation X' := (block_map n d B X).
Hypothesis Mk : forall h, (h < H)%nat -> proper_mask n (mask (hd Ly h)).
Hypothesis alone : forall v, tok B v = v.
Hypothesis no_bias : forall a, bout (att B) a = 0.
Let heads : mat := fun i b => sum H (fun h => mmul d (mmul n (P h) X) (W h) i b).
Lemma layer_plain i b : X' i b = skip B * X i b + heads i b.
Proof. unfold block_map. rewrite alone. unfold SA. rewrite no_bias, Rplus_0_r. reflexivity. Qed.
Lemma layer_rowmax (N : seminorm) (w : nat -> R) : (forall h, 0 <= w h) -> (forall h v, (h < H)%nat ->
  N (vmat d v (W h)) <= w h * N v) ->
  rowmax n N X' <= Rabs (skip B) * rowmax n N X + sum H w * rowmax n N X.
Proof.
  intros w0 Hw. set (r := rowmax n N X). assert (r0 : 0 <= r) by apply maxf_pos. assert (S := Rabs_pos (skip B)).
  assert (C : 0 <= sum H w) by (apply sum_nonneg; auto).
  assert (Ur : forall i, (i < n)%nat -> N (X i) <= r) by (intros i Hi; apply (maxf_ub n (fun i => N (X i)) i Hi)).
  apply maxf_lub; [apply Rplus_le_le_0_compat; now apply Rmult_le_pos|]. intros i Hi.
  rewrite (sn_ext N _ (fun b => skip B * X i b + heads i b)) by apply layer_plain.
  eapply Rle_trans; [apply (sn_add N (fun b => skip B * X i b) (heads i))|]. rewrite sn_scal.
  apply Rplus_le_compat; [apply Rmult_le_compat_l; auto|].
  eapply Rle_trans; [apply (sn_sum1 N H (fun h => mmul d (mmul n (P h) X) (W h) i))|]. rewrite <- sum_scal_r.
  apply sum_le; intros h Hh. eapply Rle_trans; [now apply Hw|].
  apply Rmult_le_compat_l; [apply w0|]. destruct (attn_stochastic n d (dqk Ly) (hd Ly h) X (Mk h Hh)) as [S0 S1].
  eapply Rle_trans; [apply (sn_sum N n (P h i) X)|]. apply Rle_trans with (sum n (fun j => P h i j * r));
    [|rewrite sum_scal_r, S1 by exact Hi; lra].
  apply sum_le; intros j Hj. rewrite Rabs_right by (apply Rle_ge; now apply S0).
  apply Rmult_le_compat_l; [now apply S0|now apply Ur].
Qed.
Theorem lemma_layer_longest : longest n d X' <= Rabs (skip B) * longest n d X + sum H (fun h => spectral d d (W h)) *
  longest n d X.
Proof. apply (layer_rowmax (L2 d)); intros; [apply spectral_nonneg|apply spectral_vmat]. Qed.
Theorem lemma_layer_norm_inf : norminf n d X' <= Rabs (skip B) * norminf n d X + sum H (fun h => norminf d d (W h)) *
  norminf n d X.
Proof. apply (layer_rowmax (L1 d)); intros; [apply maxf_pos|apply l1_w]. Qed.
Theorem lemma_layer_norm_max : maxentry n d X' <= Rabs (skip B) * maxentry n d X + sum H (fun h => norm1 d d (W h)) *
  maxentry n d X.
Proof. apply (layer_rowmax (Linf d)); intros; [apply maxf_pos|apply linf_w]. Qed.
Theorem lemma_layer_norm_frobenius : frob n d X' <= Rabs (skip B) * frob n d X + sum H (fun h => spectral d d (W h) *
  spectral n n (P h)) * frob n d X.
Proof.
  rewrite (frob_ext n d _ (fun i b => skip B * X i b + heads i b)) by (intros; apply layer_plain).
  eapply Rle_trans; [apply frob_add|]. rewrite frob_scal. apply Rplus_le_compat_l.
  eapply Rle_trans; [apply (frob_sum n d H (fun h => mmul d (mmul n (P h) X) (W h)))|]. rewrite <- sum_scal_r.
  apply sum_le; intros h Hh.
  eapply Rle_trans; [apply frob_values|]. rewrite Rmult_comm, Rmult_assoc.
  apply Rmult_le_compat_l; [apply spectral_nonneg|]. apply frob_average.
Qed.
Theorem lemma_layer_norm_2 : spectral n d X' <= Rabs (skip B) * spectral n d X + sum H (fun h => spectral d d (W h) *
  spectral n n (P h)) * spectral n d X.
Proof.
  assert (C : 0 <= sum H (fun h => spectral d d (W h) * spectral n n (P h))) by (apply sum_nonneg; intros;
    apply Rmult_le_pos; apply spectral_nonneg).
  assert (S := Rabs_pos (skip B)). assert (T := spectral_nonneg n d X). apply spectral_le.
  split; [apply Rplus_le_le_0_compat; now apply Rmult_le_pos|]. intro v.
  change (l2 d (vmat n v X')) with (L2 d (vmat n v X')).
  rewrite (sn_ext (L2 d) _ (fun b => skip B * vmat n v X b + sum H (fun h => vmat n v (mmul d (mmul n (P h) X) (W h))
    b))).
  - eapply Rle_trans; [apply (sn_add (L2 d) (fun b => skip B * vmat n v X b) (fun b => sum H (fun h => vmat n v (mmul d
      (mmul n (P h) X) (W h)) b)))|]. rewrite sn_scal, Rmult_plus_distr_r. apply Rplus_le_compat.
    + rewrite Rmult_assoc. apply Rmult_le_compat_l; [exact S|apply spectral_vmat].
    + eapply Rle_trans; [apply (sn_sum1 (L2 d) H (fun h => vmat n v (mmul d (mmul n (P h) X) (W h))))|].
      rewrite Rmult_assoc, <- sum_scal_r. apply sum_le; intros h Hh.
      eapply Rle_trans; [apply spectral_vmat|]. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply l2_nonneg|].
      eapply Rle_trans; [apply spectral_mmul|].
      rewrite Rmult_comm, Rmult_assoc. apply Rmult_le_compat_l; [apply spectral_nonneg|apply spectral_mmul].
  - intro b. unfold vmat at 1. rewrite (sum_ext n _ (fun i => skip B * (v i * X i b) + sum H (fun h => v i * mmul d
      (mmul n (P h) X) (W h) i b))).
    + rewrite sum_plus, sum_scal. f_equal. rewrite sum_swap. reflexivity.
    + intros i _. rewrite layer_plain, Rmult_plus_distr_l. unfold heads. rewrite sum_scal. ring.
Qed.
Theorem lemma_layer_norm_one : norm1 n d X' <= Rabs (skip B) * norm1 n d X + sum H (fun h => norm1 n n (P h) * norm1 d
  d (W h)) * norm1 n d X.
Proof.
  rewrite (norm1_ext n d _ (fun i b => skip B * X i b + heads i b)) by (intros; apply layer_plain).
  eapply Rle_trans; [apply norm1_add|]. rewrite norm1_scal. apply Rplus_le_compat_l.
  eapply Rle_trans; [apply (norm1_sum n d H (fun h => mmul d (mmul n (P h) X) (W h)))|]. rewrite <- sum_scal_r.
  apply sum_le; intros h Hh.
  eapply Rle_trans; [apply norm1_mmul|]. replace (norm1 n n (P h) * norm1 d d (W h) * norm1 n d X) with (norm1 n n (P
    h) * norm1 n d X * norm1 d d (W h)) by ring.
  apply Rmult_le_compat_r; [apply maxf_pos|]. apply norm1_mmul.
Qed.
End NoBias.

(* ---------- LayerNorm on the sphere: tokens of length 1 ---------- *)
(** A token that is 0 before LayerNorm has no value in the language; here it stays 0, and is excluded. *)
Theorem sphere_tokens n d B X : (forall v, tok B v = sphere d v) -> (forall i, (i < n)%nat ->
  0 < l2 d (fun a => skip B * X i a + SA n d (att B) X i a)) ->
  forall i, (i < n)%nat -> l2 d (block_map n d B X i) = 1.
Proof. intros T H i Hi. unfold block_map. rewrite T. now apply sphere_unit, H. Qed.
Section Sphere.
Variables (n d : nat) (X : mat).
Hypothesis unit : forall i, (i < n)%nat -> l2 d (X i) = 1.
Theorem lemma_sphere_unit : (0 < n)%nat -> longest n d X = 1.
Proof. intros Hn. apply Rle_antisym; [apply longest_lub; [lra|]; intros i Hi; rewrite unit by exact Hi; lra|].
rewrite <- (unit 0%nat Hn). now apply row_longest. Qed.
Theorem lemma_stable_tokens : diam n (l2 d) X <= 2.
Proof.
  eapply Rle_trans; [apply lemma_diameter_longest|]. assert (longest n d X <= 1); [|lra]. apply longest_lub; [lra|].
  intros i Hi. rewrite unit by exact Hi. lra.
Qed.
Theorem lemma_sphere_frobenius : frob n d X = sqrt (INR n).
Proof. unfold frob. f_equal. rewrite <- (Rmult_1_r (INR n)), <- sum_const. apply sum_ext; intros i Hi.
rewrite <- l2_square, unit by exact Hi. ring. Qed.
Lemma unit_pair i k : (i < n)%nat -> (k < n)%nat -> l2 d (vsub (X i) (X k)) * l2 d (vsub (X i) (X k)) = 2 * (1 - dot d
  (X i) (X k) / (l2 d (X i) * l2 d (X k))).
Proof.
  intros Hi Hk. assert (A := l2_square d (X i)). assert (C := l2_square d (X k)). rewrite !unit in * by assumption.
  rewrite l2_square.
  replace (dot d (vsub (X i) (X k)) (vsub (X i) (X k))) with (dot d (X i) (X i) - 2 * dot d (X i) (X k) + dot d (X k)
    (X k)); [rewrite <- A, <- C; field|].
  unfold dot, vsub. rewrite <- sum_scal, <- sum_minus, <- sum_plus. apply sum_ext; intros; ring.
Qed.
Theorem lemma_sphere_cosine : diam n (l2 d) X ^ 2 = 2 - 2 * cosine n d X.
Proof.
  unfold cosine. set (c := fun i j => 1 - dot d (X i) (X j) / (l2 d (X i) * l2 d (X j))).
  set (M := maxf n (fun i => maxf i (c i))). assert (M0 : 0 <= M) by apply maxf_pos.
  change (diam n (l2 d) X ^ 2 = 2 - 2 * (1 - M)). replace (2 - 2 * (1 - M)) with (2 * M) by ring.
  assert (D0 := diam_nonneg n (l2 d) X).
  assert (Lo : forall i k, (i < n)%nat -> (k < i)%nat -> c i k <= M).
  { intros i k Hi Hk. eapply Rle_trans; [apply (maxf_ub i (c i) k Hk)|].
    apply (maxf_ub n (fun i => maxf i (c i)) i Hi). }
  assert (Sy : forall i k, c i k = c k i) by (intros; unfold c; rewrite dot_sym, (Rmult_comm (l2 d (X i)));
    reflexivity).
  apply Rle_antisym.
  - assert (U : diam n (l2 d) X <= sqrt (2 * M)).
    { apply diam_lub; [apply sqrt_pos|]. intros i k Hi Hk. rewrite <- (sqrt_square (l2 d (vsub (X i) (X k)))) by apply
        l2_nonneg. apply sqrt_le_1_alt. rewrite unit_pair by assumption. apply Rmult_le_compat_l; [lra|].
      fold (c i k). destruct (Nat.lt_trichotomy i k) as [L|[->|L]]; [rewrite Sy; now apply Lo| |now apply Lo].
      unfold c. rewrite <- (l2_square d (X k)), !unit by assumption. lra. }
    replace (2 * M) with (sqrt (2 * M) ^ 2) by (replace (sqrt (2 * M) ^ 2) with (sqrt (2 * M) * sqrt (2 * M)) by ring;
      apply sqrt_sqrt; lra). now apply square_mono.
  - assert (V : M <= diam n (l2 d) X ^ 2 / 2); [|lra]. assert (D2 : 0 <= diam n (l2 d) X ^ 2 / 2) by nra.
    apply maxf_lub; [exact D2|]. intros i Hi. apply maxf_lub; [exact D2|]. intros k Hk.
    assert (E := unit_pair i k Hi ltac:(lia)). assert (U := diam_ub n (l2 d) X i k Hi ltac:(lia)).
    assert (P := l2_nonneg d (vsub (X i) (X k))). fold (c i k) in E. nra.
Qed.
End Sphere.
Theorem lemma_cosine_high n d X : cosine n d X <= 1.
Proof. unfold cosine. match goal with |- 1 - ?M <= 1 => assert (0 <= M) by apply maxf_pos end. lra. Qed.
Theorem lemma_cosine_low n d X : -1 <= cosine n d X.
Proof.
  unfold cosine. match goal with |- -1 <= 1 - ?M => assert (M <= 2); [|lra] end. apply maxf_lub; [lra|]. intros i _.
  apply maxf_lub; [lra|]. intros j _.
  assert (C := dot_le_l2 d (X i) (X j)). set (p := l2 d (X i) * l2 d (X j)) in *.
  assert (P : 0 <= p) by (apply Rmult_le_pos; apply l2_nonneg).
  destruct P as [P|<-]; [|unfold Rdiv; rewrite Rinv_0; lra]. assert (- p <= dot d (X i) (X j)) by (apply
    Rabs_le_between in C; lra).
  assert (-1 <= dot d (X i) (X j) / p); [|lra]. apply Rmult_le_reg_r with p; [exact P|]. unfold Rdiv.
  rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
(** no MLP: the map after the layer is the identity, and 1 is its Lipschitz constant *)
Theorem lemma_lipschitz_none (N : seminorm) u : 0 < N u -> lipschitz N 1 (fun v => v) /\ forall lam,
  lipschitz N lam (fun v => v) -> 1 <= lam.
Proof.
  intros U. split; [split; [lra|intros; lra]|]. intros lam [_ L]. specialize (L u (fun _ => 0)).
  rewrite (sn_ext N (vsub u (fun _ => 0)) u) in L by (intro; unfold vsub; ring). nra.
Qed.

(* ---------- products over blocks of layers ---------- *)
(** contraction(k) = 1 - sum_c min_i (B_k)_ic, B_k the product of layers rk, ..., min(rk + r, L) - 1. *)
Definition contraction (n : nat) (A : nat -> mat) (r L k : nat) : R := 1 - doeblin n (steps n A (k * r) (Nat.min r (L -
  k * r))).
(** the number of blocks: L/r rounded up *)
Definition blocks (r L : nat) : nat := ((L + r - 1) / r)%nat.

Lemma doeblin_le n Q : (0 < n)%nat -> row_stochastic n n Q -> doeblin n Q <= 1.
Proof. intros Hn [_ S1]. rewrite <- (S1 0%nat Hn). apply sum_le; intros c Hc.
apply (minf_le (n - 1) (fun i => Q i c) 0%nat). lia. Qed.
Lemma doeblin_nonneg n Q : row_stochastic n n Q -> 0 <= doeblin n Q.
Proof. intros [S0 _]. apply sum_nonneg; intros c Hc. apply minf_ge. intros. apply S0; lia. Qed.
Lemma doeblin_column n Q c m : (c < n)%nat -> row_stochastic n n Q -> (forall i, (i < n)%nat -> m <= Q i c) ->
  m <= doeblin n Q.
Proof.
  intros Hc [S0 S1] H. eapply Rle_trans; [|apply (sum_term_le n (fun c => minf (n - 1) (fun i => Q i c)) c)];
    [apply minf_ge; intros; apply H; lia| |exact Hc].
  intros b Hb. apply minf_ge. intros. apply S0; lia.
Qed.
Lemma prodf_bounds K f q : (forall k, (k < K)%nat -> 0 <= f k <= 1) -> 0 <= q <= 1 -> forall m, (m <= K)%nat ->
  (forall k, (k < m)%nat -> f k <= q) -> 0 <= prodf K f <= q ^ m.
Proof.
  intros F Q. induction K as [|K IH]; intros m Hm G; [replace m with 0%nat by lia; simpl; lra|]. simpl prodf.
  assert (FK := F K ltac:(lia)).
  destruct (Nat.eq_dec m (S K)) as [->|N].
  - destruct (IH ltac:(intros; apply F; lia) K (Nat.le_refl K) ltac:(intros; apply G; lia)) as [A B].
    assert (GK := G K ltac:(lia)). split; [nra|]. rewrite <- tech_pow_Rmult, Rmult_comm. apply Rmult_le_compat; lra.
  - destruct (IH ltac:(intros; apply F; lia) m ltac:(lia) G) as [A B]. split; [nra|]. nra.
Qed.
Theorem lemma_contraction_blocks n (A : nat -> mat) G c r L : (0 < n)%nat -> (0 < L)%nat -> (0 < r)%nat ->
  (forall l, (l < L)%nat -> row_stochastic n n (A l)) -> proper_mask n G ->
  (forall i, (i < n)%nat -> 0 < G i i) -> centre n G c r ->
  prodf (blocks r L) (contraction n A r L) <= (1 - minf (L - 1) (fun l => epsilon n G (A l)) ^ r) ^ (L / r).
Proof.
  intros Hn HL Hr St Pm Self Ct. destruct Ct as [Hc Hw]. set (eps := minf (L - 1) (fun l => epsilon n G (A l))).
  assert (E0 : 0 <= eps) by (apply minf_ge; intros; apply epsilon_nonneg; auto; apply St; lia).
  assert (E1 : eps <= 1). { eapply Rle_trans; [apply (minf_le (L - 1) (fun l => epsilon n G (A l)) 0%nat); lia|].
  apply lemma_epsilon_one; auto; apply St; lia. }
  assert (Ee : forall u i j, (0 <= u < L)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= A u i j).
  { intros u i j Hu Hi Hj L0. eapply Rle_trans; [apply (minf_le (L - 1) (fun l => epsilon n G (A l)) u); lia|].
    apply (epsilon_le n G (A u)); auto; apply St; lia. }
  assert (Er := pow_01 eps r (conj E0 E1)).
  assert (SB : forall k, (k < blocks r L)%nat -> row_stochastic n n (steps n A (k * r) (Nat.min r (L - k * r)))).
  { intros k Hk. assert (k * r < L)%nat. { unfold blocks in Hk. assert (Q := Nat.div_mod (L + r - 1) r ltac:(lia)).
    assert (M := Nat.mod_upper_bound (L + r - 1) r ltac:(lia)). nia. }
    apply (steps_stochastic n A (k * r) L); [intros; apply St; lia|lia]. }
  apply (prodf_bounds (blocks r L) (contraction n A r L) (1 - eps ^ r)); [|lra| |].
  - intros k Hk. unfold contraction. assert (X := doeblin_le n _ Hn (SB k Hk)).
    assert (Y := doeblin_nonneg n _ (SB k Hk)). lra.
  - unfold blocks. apply Nat.div_le_mono; lia.
  - intros k Hk. assert (D := Nat.div_mod L r ltac:(lia)). assert (kr : (k * r + r <= L)%nat) by nia.
    assert (Kb : (k < blocks r L)%nat). { eapply Nat.lt_le_trans; [exact Hk|]. unfold blocks.
    apply Nat.div_le_mono; lia. }
    unfold contraction. replace (Nat.min r (L - k * r)) with r by lia. assert (S := SB k Kb).
    replace (Nat.min r (L - k * r)) with r in S by lia.
    assert (eps ^ r <= doeblin n (steps n A (k * r) r)); [|lra]. apply (doeblin_column n _ c _ Hc S). intros i Hi.
    destruct (Hw i Hi) as [m [Hm Wk]].
    apply (steps_lower n A (k * r) L ltac:(intros; apply St; lia) G eps c E0); auto; [intros u a b Hu; apply Ee; lia|].
    now apply (walk_longer n G c m i r).
Qed.
