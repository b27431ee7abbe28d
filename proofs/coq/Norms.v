(** Seminorms on tokens (l1, l2, linf among them), the matrix norms, and what they do to products. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Rankmath Require Import Definitions.
Local Open Scope R_scope.

(* ---------- any seminorm ---------- *)
Lemma sn_ext (N : seminorm) u v : (forall a, u a = v a) -> N u = N v.
Proof. intros H. f_equal. now apply functional_extensionality. Qed.

Lemma sn_zero (N : seminorm) : N (fun _ => 0) = 0.
Proof.
  rewrite (sn_ext N _ (fun a => 0 * (fun _ => 0) a)) by (intros; ring).
  rewrite sn_scal, Rabs_R0. ring.
Qed.

Lemma sn_pos (N : seminorm) u : 0 <= N u.
Proof.
  assert (H := sn_add N u (fun a => (-1) * u a)).
  rewrite sn_scal in H. rewrite (sn_ext N _ (fun _ => 0)) in H by (intros; ring).
  rewrite sn_zero in H. rewrite Rabs_left in H by lra. lra.
Qed.

Lemma sn_self (N : seminorm) u : N (vsub u u) = 0.
Proof. rewrite (sn_ext N _ (fun _ => 0)); [apply sn_zero|]. intro; unfold vsub; ring. Qed.

Lemma sn_sym (N : seminorm) u v : N (vsub u v) = N (vsub v u).
Proof.
  rewrite (sn_ext N (vsub u v) (fun a => (-1) * vsub v u a)) by (intro; unfold vsub; ring).
  rewrite sn_scal, Rabs_left by lra. ring.
Qed.

Lemma sn_tri (N : seminorm) u v w : N (vsub u w) <= N (vsub u v) + N (vsub v w).
Proof.
  rewrite (sn_ext N (vsub u w) (fun a => vsub u v a + vsub v w a)) by (intro; unfold vsub; ring).
  apply sn_add.
Qed.

Lemma sn_sum (N : seminorm) n (c : vec) (v : mat) :
  N (fun a => sum n (fun j => c j * v j a)) <= sum n (fun j => Rabs (c j) * N (v j)).
Proof.
  induction n; simpl.
  - rewrite sn_zero; lra.
  - eapply Rle_trans; [apply (sn_add N (fun a => sum n (fun j => c j * v j a)) (fun a => c n * v n a))|].
    rewrite sn_scal. lra.
Qed.

Lemma sn_sum1 (N : seminorm) n (v : mat) :
  N (fun a => sum n (fun j => v j a)) <= sum n (fun j => N (v j)).
Proof.
  induction n; simpl.
  - rewrite sn_zero; lra.
  - eapply Rle_trans; [apply (sn_add N (fun a => sum n (fun j => v j a)) (v n))|]. lra.
Qed.

(* ---------- the diameter ---------- *)
Lemma diam_nonneg n (N : vec -> R) X : 0 <= diam n N X.
Proof. apply maxf_pos. Qed.

Lemma diam_ub n (N : vec -> R) X i k : (i < n)%nat -> (k < n)%nat -> N (vsub (X i) (X k)) <= diam n N X.
Proof.
  intros Hi Hk.
  eapply Rle_trans; [|apply (maxf_ub n (fun i => maxf n (fun k => N (vsub (X i) (X k)))) i Hi)].
  apply (maxf_ub n (fun k => N (vsub (X i) (X k)))); exact Hk.
Qed.

Lemma diam_lub n (N : vec -> R) X D : 0 <= D ->
  (forall i k, (i < n)%nat -> (k < n)%nat -> N (vsub (X i) (X k)) <= D) -> diam n N X <= D.
Proof. intros H0 H. apply maxf_lub; [exact H0|]. intros i Hi. apply maxf_lub; auto. Qed.

Lemma diam_pair (N : seminorm) X : diam 2 N X = N (vsub (X 0%nat) (X 1%nat)).
Proof.
  unfold diam. cbn [maxf]. rewrite !sn_self, (sn_sym N (X 1%nat)).
  assert (P := sn_pos N (vsub (X 0%nat) (X 1%nat))). unfold Rmax. repeat destruct Rle_dec; lra.
Qed.

(* ---------- l1, linf, l2 ---------- *)
Definition L1 (d : nat) : seminorm.
Proof.
  refine {| sn := l1 d |}; unfold l1.
  - intros u v. rewrite <- sum_plus. apply sum_le; intros; apply Rabs_triang.
  - intros c u. rewrite <- sum_scal. apply sum_ext; intros; apply Rabs_mult.
Defined.

Definition Linf (d : nat) : seminorm.
Proof.
  refine {| sn := linf d |}; unfold linf.
  - intros u v. apply maxf_lub; [apply Rplus_le_le_0_compat; apply maxf_pos|]. intros a Ha.
    eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat.
    + apply (maxf_ub d (fun a => Rabs (u a)) a Ha).
    + apply (maxf_ub d (fun a => Rabs (v a)) a Ha).
  - intros c u. rewrite <- maxf_scal by apply Rabs_pos. apply maxf_ext; intros; apply Rabs_mult.
Defined.

Lemma dot_pos d u : 0 <= dot d u u.
Proof. apply sum_nonneg; intros; nra. Qed.

Lemma dot_sym d u v : dot d u v = dot d v u.
Proof. apply sum_ext; intros; ring. Qed.

Lemma cauchy_schwarz d u v : dot d u v * dot d u v <= dot d u u * dot d v v.
Proof.
  assert (H : 0 <= sum d (fun i => sum d (fun j => (u i * v j - u j * v i) * (u i * v j - u j * v i)))).
  { apply sum_nonneg; intros; apply sum_nonneg; intros; apply Rle_0_sqr. }
  assert (E : sum d (fun i => sum d (fun j => (u i * v j - u j * v i) * (u i * v j - u j * v i)))
              = 2 * (dot d u u * dot d v v) - 2 * (dot d u v * dot d u v)).
  { rewrite (sum_ext d _ (fun i => (u i * u i * dot d v v + v i * v i * dot d u u) - 2 * (u i * v i * dot d u v))).
    - rewrite sum_minus, sum_plus, sum_scal, !sum_scal_r. unfold dot. ring.
    - intros i _. unfold dot. rewrite <- !sum_scal, <- sum_plus, <- sum_minus.
      apply sum_ext; intros; ring. }
  lra.
Qed.

Definition L2 (d : nat) : seminorm.
Proof.
  refine {| sn := l2 d |}; unfold l2.
  - intros u v. assert (U := dot_pos d u). assert (V := dot_pos d v).
    assert (SU := sqrt_pos (dot d u u)). assert (SV := sqrt_pos (dot d v v)).
    apply Rsqr_incr_0_var; [|lra]. unfold Rsqr.
    rewrite sqrt_sqrt by apply dot_pos.
    assert (E : dot d (fun a => u a + v a) (fun a => u a + v a) = dot d u u + 2 * dot d u v + dot d v v).
    { unfold dot. rewrite <- sum_scal, <- !sum_plus. apply sum_ext; intros; ring. }
    assert (CS : dot d u v <= sqrt (dot d u u) * sqrt (dot d v v)).
    { rewrite <- sqrt_mult by assumption. eapply Rle_trans; [apply Rle_abs|].
      rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. apply cauchy_schwarz. }
    assert (QU := sqrt_sqrt _ U). assert (QV := sqrt_sqrt _ V). rewrite E. nra.
  - intros c u. rewrite <- sqrt_Rsqr_abs, <- sqrt_mult_alt by apply Rle_0_sqr. f_equal.
    unfold dot. rewrite <- sum_scal. apply sum_ext; intros; unfold Rsqr; ring.
Defined.

Lemma dot_le_l2 d u v : Rabs (dot d u v) <= l2 d u * l2 d v.
Proof.
  unfold l2. rewrite <- sqrt_mult_alt by apply dot_pos. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt.
  apply cauchy_schwarz.
Qed.

(* ---------- products of a vector and a matrix ---------- *)
Lemma vmat_sub d u v W b : vmat d u W b - vmat d v W b = vmat d (vsub u v) W b.
Proof. unfold vmat, vsub. rewrite <- sum_minus. apply sum_ext; intros; ring. Qed.

Lemma vmat_add d u v W b : vmat d (fun a => u a + v a) W b = vmat d u W b + vmat d v W b.
Proof. unfold vmat. rewrite <- sum_plus. apply sum_ext; intros; ring. Qed.

Lemma vmat_scal d c u W b : vmat d (fun a => c * u a) W b = c * vmat d u W b.
Proof. unfold vmat. rewrite <- sum_scal. apply sum_ext; intros; ring. Qed.

Lemma vmat_ext d u v W b : (forall a, (a < d)%nat -> u a = v a) -> vmat d u W b = vmat d v W b.
Proof. intros H. unfold vmat. apply sum_ext; intros; rewrite H; auto. Qed.

Lemma vmat_assoc m k p A B b : vmat k (vmat m p A) B b = vmat m p (mmul k A B) b.
Proof.
  unfold mmul, vmat. rewrite (sum_ext k _ (fun a => sum m (fun j => p j * A j a * B a b))).
  - rewrite sum_swap. apply sum_ext; intros j _. rewrite <- sum_scal. apply sum_ext; intros; ring.
  - intros a _. now rewrite sum_scal_r.
Qed.

Lemma vmat_abs d v W b : Rabs (vmat d v W b) <= sum d (fun a => Rabs (v a) * Rabs (W a b)).
Proof.
  unfold vmat. eapply Rle_trans; [apply sum_abs|]. apply sum_le; intros. rewrite Rabs_mult. lra.
Qed.

Lemma bil_abs d u M v :
  Rabs (bil d u M v) <= sum d (fun a => sum d (fun b => Rabs (u a) * Rabs (M a b) * Rabs (v b))).
Proof.
  unfold bil. eapply Rle_trans; [apply sum_abs|]. apply sum_le; intros a _.
  eapply Rle_trans; [apply sum_abs|]. apply sum_le; intros b _. rewrite !Rabs_mult. lra.
Qed.

Lemma bil_dot d u M v : bil d u M v = dot d (vmat d u M) v.
Proof.
  unfold dot, vmat, bil. rewrite (sum_ext d (fun b => _ * v b) (fun b => sum d (fun a => u a * M a b * v b))).
  - apply sum_swap.
  - intros b _. now rewrite sum_scal_r.
Qed.

(** A row of the sum of absolute values is at most the largest; likewise columns and entries. *)
Lemma row_le n d A i : (i < n)%nat -> sum d (fun a => Rabs (A i a)) <= norminf n d A.
Proof. intros H. apply (maxf_ub n (fun i => sum d (fun a => Rabs (A i a))) i H). Qed.
Lemma col_le n d A a : (a < d)%nat -> sum n (fun i => Rabs (A i a)) <= norm1 n d A.
Proof. intros H. apply (maxf_ub d (fun a => sum n (fun i => Rabs (A i a))) a H). Qed.
Lemma entry_le n d A i a : (i < n)%nat -> (a < d)%nat -> Rabs (A i a) <= maxentry n d A.
Proof.
  intros Hi Ha. eapply Rle_trans; [apply (maxf_ub d (fun a => Rabs (A i a)) a Ha)|].
  apply (maxf_ub n (fun i => maxf d (fun a => Rabs (A i a))) i Hi).
Qed.
Lemma norm1_pos n d A : 0 <= norm1 n d A. Proof. apply maxf_pos. Qed.
Lemma norminf_pos n d A : 0 <= norminf n d A. Proof. apply maxf_pos. Qed.
Lemma comp_pos n d A : 0 <= comp n d A. Proof. apply sqrt_pos. Qed.
Lemma comp_sq n d A : comp n d A * comp n d A = norm1 n d A * norminf n d A.
Proof. apply sqrt_sqrt, Rmult_le_pos; [apply norm1_pos|apply norminf_pos]. Qed.
Lemma comp_le n d A a b : norm1 n d A <= a -> norminf n d A <= b -> comp n d A <= sqrt (a * b).
Proof. intros H1 H2. apply sqrt_le_1_alt. apply Rmult_le_compat; try assumption; apply maxf_pos. Qed.

Lemma norm1_ext n d A B : (forall i a, (i < n)%nat -> (a < d)%nat -> A i a = B i a) -> norm1 n d A = norm1 n d B.
Proof. intros H. apply maxf_ext; intros; apply sum_ext; intros; rewrite H; auto. Qed.
Lemma norminf_ext n d A B : (forall i a, (i < n)%nat -> (a < d)%nat -> A i a = B i a) -> norminf n d A = norminf n d B.
Proof. intros H. apply maxf_ext; intros; apply sum_ext; intros; rewrite H; auto. Qed.
Lemma comp_ext n d A B : (forall i a, (i < n)%nat -> (a < d)%nat -> A i a = B i a) -> comp n d A = comp n d B.
Proof. intros H. unfold comp. now rewrite (norm1_ext n d A B H), (norminf_ext n d A B H). Qed.

(** Both norms are submultiplicative: A is n x k, B is k x d. *)
Lemma norminf_mmul n k d A B : norminf n d (mmul k A B) <= norminf n k A * norminf k d B.
Proof.
  apply maxf_lub; [apply Rmult_le_pos; apply maxf_pos|]. intros i Hi.
  eapply Rle_trans; [apply sum_le; intros b _; apply vmat_abs|]. rewrite sum_swap.
  apply Rle_trans with (sum k (fun c => Rabs (A i c)) * norminf k d B).
  - rewrite <- sum_scal_r. apply sum_le; intros c Hc. rewrite sum_scal.
    apply Rmult_le_compat_l; [apply Rabs_pos|now apply row_le].
  - apply Rmult_le_compat_r; [apply maxf_pos|now apply row_le].
Qed.

Lemma norm1_mmul n k d A B : norm1 n d (mmul k A B) <= norm1 n k A * norm1 k d B.
Proof.
  apply maxf_lub; [apply Rmult_le_pos; apply maxf_pos|]. intros b Hb.
  eapply Rle_trans; [apply sum_le; intros i _; apply vmat_abs|]. rewrite sum_swap.
  apply Rle_trans with (norm1 n k A * sum k (fun c => Rabs (B c b))).
  - rewrite <- sum_scal. apply sum_le; intros c Hc. rewrite sum_scal_r.
    apply Rmult_le_compat_r; [apply Rabs_pos|now apply col_le].
  - apply Rmult_le_compat_l; [apply maxf_pos|now apply col_le].
Qed.

Lemma norminf_sum n d H (A : nat -> mat) :
  norminf n d (fun i a => sum H (fun h => A h i a)) <= sum H (fun h => norminf n d (A h)).
Proof.
  apply maxf_lub; [apply sum_nonneg; intros; apply maxf_pos|]. intros i Hi.
  eapply Rle_trans; [apply sum_le; intros a _; apply sum_abs|]. rewrite sum_swap.
  apply sum_le; intros h _. now apply row_le.
Qed.

Lemma norm1_sum n d H (A : nat -> mat) :
  norm1 n d (fun i a => sum H (fun h => A h i a)) <= sum H (fun h => norm1 n d (A h)).
Proof.
  apply maxf_lub; [apply sum_nonneg; intros; apply maxf_pos|]. intros a Ha.
  eapply Rle_trans; [apply sum_le; intros i _; apply sum_abs|]. rewrite sum_swap.
  apply sum_le; intros h _. now apply col_le.
Qed.

(* ---------- what they do to a token ---------- *)
Lemma l1_w d v W : l1 d (vmat d v W) <= norminf d d W * l1 d v.
Proof.
  unfold l1. eapply Rle_trans; [apply sum_le; intros b _; apply vmat_abs|].
  rewrite sum_swap, <- sum_scal. apply sum_le; intros a Ha. rewrite sum_scal, Rmult_comm.
  apply Rmult_le_compat_r; [apply Rabs_pos|now apply row_le].
Qed.

Lemma l1_m d u M v : Rabs (bil d u M v) <= maxentry d d M * l1 d u * l1 d v.
Proof.
  unfold l1. eapply Rle_trans; [apply bil_abs|].
  rewrite Rmult_assoc, sum_mult, <- sum_scal. apply sum_le; intros a Ha. rewrite <- sum_scal. apply sum_le; intros b Hb.
  replace (Rabs (u a) * Rabs (M a b) * Rabs (v b)) with (Rabs (M a b) * (Rabs (u a) * Rabs (v b))) by ring.
  apply Rmult_le_compat_r; [apply Rmult_le_pos; apply Rabs_pos|now apply entry_le].
Qed.

Lemma linf_w d v W : linf d (vmat d v W) <= norm1 d d W * linf d v.
Proof.
  unfold linf. apply maxf_lub; [apply Rmult_le_pos; apply maxf_pos|]. intros b Hb.
  eapply Rle_trans; [apply vmat_abs|]. apply Rle_trans with (sum d (fun a => Rabs (W a b)) * maxf d (fun a => Rabs (v
    a))).
  - rewrite <- sum_scal_r. apply sum_le; intros a Ha. rewrite Rmult_comm. apply Rmult_le_compat_l; [apply Rabs_pos|].
    apply (maxf_ub d (fun a => Rabs (v a)) a Ha).
  - apply Rmult_le_compat_r; [apply maxf_pos|now apply col_le].
Qed.

Lemma linf_m d u M v : Rabs (bil d u M v) <= sumentries d d M * linf d u * linf d v.
Proof.
  unfold linf. eapply Rle_trans; [apply bil_abs|]. unfold sumentries.
  rewrite <- !sum_scal_r. apply sum_le; intros a Ha. rewrite <- !sum_scal_r. apply sum_le; intros b Hb.
  assert (A := maxf_ub d (fun a => Rabs (u a)) a Ha). assert (B := maxf_ub d (fun b => Rabs (v b)) b Hb). simpl in A, B.
  assert (P := Rabs_pos (M a b)). assert (Pu := Rabs_pos (u a)). assert (Pv := Rabs_pos (v b)).
  rewrite (Rmult_comm (Rabs (u a))).
  apply Rmult_le_compat; [apply Rmult_le_pos; lra|lra|apply Rmult_le_compat_l; lra|exact B].
Qed.

Lemma frob_cols n d A : frob n d A = sqrt (sum d (fun a => dot n (fun i => A i a) (fun i => A i a))).
Proof. unfold frob, dot. now rewrite sum_swap. Qed.

Lemma l2_w d v W : l2 d (vmat d v W) <= frob d d W * l2 d v.
Proof.
  rewrite frob_cols. unfold l2. rewrite <- sqrt_mult_alt by (apply sum_nonneg; intros; apply dot_pos).
  apply sqrt_le_1_alt. unfold dot at 1. rewrite <- sum_scal_r. apply sum_le; intros b _.
  rewrite (Rmult_comm (dot d (fun a => W a b) (fun a => W a b))). apply (cauchy_schwarz d v (fun a => W a b)).
Qed.

Lemma l2_m d u M v : Rabs (bil d u M v) <= frob d d M * l2 d u * l2 d v.
Proof.
  rewrite bil_dot. eapply Rle_trans; [apply dot_le_l2|].
  apply Rmult_le_compat_r; [apply sqrt_pos|]. apply l2_w.
Qed.

(** The constants of a layer: exact for l1; for linf and l2 upper bounds. *)
Lemma bounds_l1 d Ly : (0 < dqk Ly)%nat ->
  layer_bounds d (L1 d) Ly (fun h => norminf d d (WV (hd Ly h))) (fun h => maxentry d d (WQK (dqk Ly) (hd Ly h))).
Proof.
  intros Hq. constructor; [exact Hq|intro; apply maxf_pos|intro; apply maxf_pos| |].
  - intros; apply l1_w.
  - intros; apply l1_m.
Qed.

Lemma bounds_linf d Ly : (0 < dqk Ly)%nat ->
  layer_bounds d (Linf d) Ly (fun h => norm1 d d (WV (hd Ly h))) (fun h => sumentries d d (WQK (dqk Ly) (hd Ly h))).
Proof.
  intros Hq. constructor; [exact Hq|intro; apply maxf_pos| | |].
  - intro. apply sum_nonneg; intros; apply sum_nonneg; intros; apply Rabs_pos.
  - intros; apply linf_w.
  - intros; apply linf_m.
Qed.

Lemma bounds_l2 d Ly : (0 < dqk Ly)%nat ->
  layer_bounds d (L2 d) Ly (fun h => frob d d (WV (hd Ly h))) (fun h => frob d d (WQK (dqk Ly) (hd Ly h))).
Proof.
  intros Hq. constructor; [exact Hq|intro; apply sqrt_pos|intro; apply sqrt_pos| |].
  - intros; apply l2_w.
  - intros; apply l2_m.
Qed.
