(** Lemmas of the prover: norms of vectors and matrices (token-norms, matrix-norms, frobenius-mixed, form-inf-low,
    form-inf-high, least-singular, least-singular-spectral, product-norm).  A is n x d, M and W are d x d; a lemma
    with the factor 1 is written without it. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms Masks Quantities.
Local Open Scope R_scope.

(* ---------- vectors ---------- *)
Lemma sqrt_le_of x c : 0 <= c -> x <= c * c -> sqrt x <= c.
Proof. intros C H. rewrite <- (sqrt_square c C). now apply sqrt_le_1_alt. Qed.
Lemma l2_nonneg d u : 0 <= l2 d u. Proof. apply sqrt_pos. Qed.
Lemma l2_square d u : l2 d u * l2 d u = dot d u u. Proof. apply sqrt_sqrt, dot_pos. Qed.
Lemma l1_nonneg d u : 0 <= l1 d u. Proof. apply sum_nonneg; intros; apply Rabs_pos. Qed.
Lemma linf_nonneg d u : 0 <= linf d u. Proof. apply maxf_pos. Qed.
Lemma entry_linf d u a : (a < d)%nat -> Rabs (u a) <= linf d u.
Proof. intros H. apply (maxf_ub d (fun a => Rabs (u a)) a H). Qed.
Lemma abs_square x : x * x = Rabs x * Rabs x.
Proof. rewrite <- Rabs_mult. symmetry. apply Rabs_right. nra. Qed.
Lemma entry_l2 d u a : (a < d)%nat -> Rabs (u a) <= l2 d u.
Proof.
  intros H. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. apply (sum_term_le d (fun a => u a * u a) a); [intros;
    apply Rle_0_sqr|exact H].
Qed.
Lemma l2_ext d u v : (forall a, (a < d)%nat -> u a = v a) -> l2 d u = l2 d v.
Proof. intros H. unfold l2, dot. f_equal. apply sum_ext; intros. now rewrite H. Qed.

(** Hoelder: |u|_2^2 <= |u|_1 |u|_inf *)
Lemma l2_interpolates d u : l2 d u * l2 d u <= l1 d u * linf d u.
Proof.
  rewrite l2_square. unfold l1. rewrite <- sum_scal_r. apply sum_le; intros a Ha. rewrite abs_square.
  apply Rmult_le_compat_l; [apply Rabs_pos|now apply entry_linf].
Qed.
Lemma linf_l1 d u : linf d u <= l1 d u.
Proof. apply maxf_lub; [apply l1_nonneg|]. intros a Ha. apply (sum_term_le d (fun a => Rabs (u a)) a); [intros;
  apply Rabs_pos|exact Ha]. Qed.
Lemma linf_l2 d u : linf d u <= l2 d u.
Proof. apply maxf_lub; [apply l2_nonneg|]. intros. now apply entry_l2. Qed.
Lemma l2_l1 d u : l2 d u <= l1 d u.
Proof.
  assert (P := l1_nonneg d u). apply sqrt_le_of; [exact P|]. rewrite <- l2_square.
  eapply Rle_trans; [apply l2_interpolates|].
  apply Rmult_le_compat_l; [exact P|apply linf_l1].
Qed.
Lemma l1_linf d u : l1 d u <= INR d * linf d u.
Proof. rewrite <- sum_const. apply sum_le; intros. now apply entry_linf. Qed.
Lemma l1_l2 d u : l1 d u <= sqrt (INR d) * l2 d u.
Proof.
  unfold l2. rewrite <- sqrt_mult_alt by apply pos_INR. rewrite <- (sqrt_square (l1 d u)) by apply l1_nonneg.
  apply sqrt_le_1_alt.
  assert (C := cauchy_schwarz d (fun a => Rabs (u a)) (fun _ => 1)). unfold dot in *.
  rewrite (sum_ext d (fun a => Rabs (u a) * 1) (fun a => Rabs (u a))) in C by (intros; ring).
  rewrite (sum_ext d (fun a => Rabs (u a) * Rabs (u a)) (fun a => u a * u a)) in C by (intros;
    now rewrite <- abs_square).
  rewrite (sum_ext d (fun _ => 1 * 1) (fun _ => 1)), sum_const in C by (intros; ring). unfold l1. lra.
Qed.
Lemma sqrt_INR_sq d : sqrt (INR d) * sqrt (INR d) = INR d. Proof. apply sqrt_sqrt, pos_INR. Qed.
Lemma l2_linf d u : l2 d u <= sqrt (INR d) * linf d u.
Proof.
  assert (S := sqrt_INR_sq d). assert (P := linf_nonneg d u).
  apply sqrt_le_of; [apply Rmult_le_pos; [apply sqrt_pos|exact P]|].
  rewrite <- l2_square. eapply Rle_trans; [apply l2_interpolates|].
  replace (sqrt (INR d) * linf d u * (sqrt (INR d) * linf d u)) with (INR d * linf d u * linf d u) by (transitivity
    (sqrt (INR d) * sqrt (INR d) * linf d u * linf d u); [rewrite S; ring|ring]).
  apply Rmult_le_compat_r; [exact P|apply l1_linf].
Qed.

(* ---------- rows, columns, transposes ---------- *)
Definition flip (A : mat) : mat := fun i j => A j i.
Lemma norm1_flip n d A : norm1 n d A = norminf d n (flip A). Proof. reflexivity. Qed.
Lemma norminf_flip n d A : norminf n d A = norm1 d n (flip A). Proof. reflexivity. Qed.
Lemma maxentry_lub n d A c : 0 <= c -> (forall i a, (i < n)%nat -> (a < d)%nat -> Rabs (A i a) <= c) ->
  maxentry n d A <= c.
Proof. intros C H. apply maxf_lub; [exact C|]. intros. apply maxf_lub; auto. Qed.
Lemma maxentry_flip n d A : maxentry d n (flip A) <= maxentry n d A.
Proof. apply maxentry_lub; [apply maxf_pos|]. intros i a Hi Ha. exact (entry_le n d A a i Ha Hi). Qed.
Lemma frob_nonneg n d A : 0 <= frob n d A. Proof. apply sqrt_pos. Qed.
Lemma frob_square n d A : frob n d A * frob n d A = sum n (fun i => dot d (A i) (A i)).
Proof. apply sqrt_sqrt, sum_nonneg; intros; apply dot_pos. Qed.
Lemma frob_flip n d A : frob d n (flip A) = frob n d A. Proof. rewrite (frob_cols n d A). reflexivity. Qed.
(** rows of length at most c *)
Lemma frob_rows_le n d A c : 0 <= c -> (forall i, (i < n)%nat -> l2 d (A i) <= c) -> frob n d A <= sqrt (INR n) * c.
Proof.
  intros C H. apply sqrt_le_of; [apply Rmult_le_pos; [apply sqrt_pos|exact C]|].
  replace (sqrt (INR n) * c * (sqrt (INR n) * c)) with (INR n * (c * c)) by (transitivity (sqrt (INR n) * sqrt (INR n)
    * (c * c)); [rewrite sqrt_INR_sq; ring|ring]).
  rewrite <- sum_const. apply sum_le; intros i Hi. rewrite <- l2_square. specialize (H i Hi).
  assert (P := l2_nonneg d (A i)). nra.
Qed.
Lemma row_frob n d A i : (i < n)%nat -> l2 d (A i) <= frob n d A.
Proof. intros H. apply sqrt_le_1_alt. apply (sum_term_le n (fun i => dot d (A i) (A i)) i); [intros;
  apply dot_pos|exact H]. Qed.

(** |w A^T|_2 <= |A|_2 |w|_2 *)
Lemma spectral_flip n d A : spectral d n (flip A) <= spectral n d A.
Proof.
  apply spectral_le. split; [apply spectral_nonneg|]. intro w. set (v := vmat d w (flip A)). set (s := spectral n d A).
  assert (E : l2 n v * l2 n v = dot d w (vmat n v A)).
  { rewrite l2_square. unfold dot at 1. unfold v at 1, vmat at 1, flip.
    rewrite (sum_ext n _ (fun i => sum d (fun a => w a * (v i * A i a)))).
    - rewrite sum_swap. unfold dot, vmat. apply sum_ext; intros a _. now rewrite sum_scal.
    - intros i _. rewrite <- sum_scal_r. apply sum_ext; intros; ring. }
  assert (L : l2 n v * l2 n v <= (s * l2 d w) * l2 n v).
  { rewrite E. eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply dot_le_l2|].
    assert (P := spectral_vmat n d A v). fold s in P.
    assert (P2 := l2_nonneg d w). nra. }
  assert (P := l2_nonneg n v). destruct P as [P|P]; [nra|]. rewrite <- P.
  apply Rmult_le_pos; [apply spectral_nonneg|apply l2_nonneg].
Qed.
Lemma spectral_of_flip n d A : spectral d n (flip A) = spectral n d A.
Proof. apply Rle_antisym; [apply spectral_flip|]. exact (spectral_flip d n (flip A)). Qed.

Lemma dot_eye n i : (i < n)%nat -> dot n (eye i) (eye i) = 1.
Proof.
  intros H. unfold dot. rewrite (sum_single n _ i H); unfold eye; [rewrite Nat.eqb_refl; ring|].
  intros j _ Hj. destruct (Nat.eqb_spec i j); [lia|ring].
Qed.
Lemma l2_eye n i : (i < n)%nat -> l2 n (eye i) = 1.
Proof. intros H. unfold l2. rewrite dot_eye by exact H. apply sqrt_1. Qed.
Lemma vmat_of_eye n A i a : (i < n)%nat -> vmat n (eye i) A a = A i a.
Proof.
  intros H. unfold vmat. rewrite (sum_single n _ i H); unfold eye; [rewrite Nat.eqb_refl; ring|].
  intros j _ Hj. destruct (Nat.eqb_spec i j); [lia|ring].
Qed.
Lemma row_spectral n d A i : (i < n)%nat -> l2 d (A i) <= spectral n d A.
Proof.
  intros H. rewrite <- (l2_ext d (vmat n (eye i) A)) by (intros; now apply vmat_of_eye).
  eapply Rle_trans; [apply spectral_vmat|]. rewrite l2_eye by exact H. lra.
Qed.
Lemma col_spectral n d A a : (a < d)%nat -> l2 n (fun i => A i a) <= spectral n d A.
Proof. intros H. rewrite <- spectral_of_flip. apply (row_spectral d n (flip A) a H). Qed.

(** Schur's test *)
Lemma schur n d A : stretches n d A (comp n d A).
Proof.
  assert (C := norm1_pos n d A). assert (R0 := norminf_pos n d A). split; [apply comp_pos|]. intro v. unfold comp, l2.
  rewrite <- sqrt_mult_alt by nra. apply sqrt_le_1_alt. unfold dot at 1.
  apply Rle_trans with (sum d (fun b => norm1 n d A * sum n (fun a => v a * v a * Rabs (A a b)))).
  - apply sum_le; intros b Hb. set (p := fun a => sqrt (Rabs (A a b))). set (q := fun a => p a * Rabs (v a)).
    assert (S : forall a, p a * p a = Rabs (A a b)) by (intro; apply sqrt_sqrt, Rabs_pos).
    assert (X : Rabs (vmat n v A b) <= l2 n p * l2 n q).
    { eapply Rle_trans; [apply vmat_abs|]. eapply Rle_trans; [|apply dot_le_l2]. eapply Rle_trans; [|apply Rle_abs].
      apply sum_le; intros a _. unfold q. rewrite <- S. right. ring. }
    rewrite abs_square. apply Rle_trans with ((l2 n p * l2 n q) * (l2 n p * l2 n q)); [apply Rmult_le_compat;
      try exact X; apply Rabs_pos|].
    replace (l2 n p * l2 n q * (l2 n p * l2 n q)) with ((l2 n p * l2 n p) * (l2 n q * l2 n q)) by ring.
    rewrite !l2_square.
    apply Rmult_le_compat; try apply dot_pos.
    + eapply Rle_trans; [|apply (col_le n d A b Hb)]. apply sum_le; intros. rewrite S. lra.
    + apply sum_le; intros a _. unfold q. replace (p a * Rabs (v a) * (p a * Rabs (v a))) with ((p a * p a) * (Rabs (v
        a) * Rabs (v a))) by ring. rewrite S, <- abs_square. lra.
  - rewrite sum_scal, sum_swap, Rmult_assoc. apply Rmult_le_compat_l; [exact C|]. unfold dot. rewrite <- sum_scal.
    apply sum_le; intros a Ha. rewrite sum_scal, (Rmult_comm (norminf n d A)).
    apply Rmult_le_compat_l; [apply Rle_0_sqr|now apply row_le].
Qed.

(* ---------- token-norms: the norms of an n x d matrix ---------- *)
Theorem lemma_token_norms_max_1 n d A : maxentry n d A <= norm1 n d A.
Proof.
  apply maxentry_lub; [apply maxf_pos|]. intros i a Hi Ha. eapply Rle_trans; [|apply (col_le n d A a Ha)].
  apply (sum_term_le n (fun i => Rabs (A i a)) i); [intros; apply Rabs_pos|exact Hi].
Qed.
Theorem lemma_token_norms_max_inf n d A : maxentry n d A <= norminf n d A.
Proof. eapply Rle_trans; [apply (maxentry_flip d n (flip A))|]. apply (lemma_token_norms_max_1 d n (flip A)). Qed.
Theorem lemma_token_norms_max_2 n d A : maxentry n d A <= spectral n d A.
Proof.
  apply maxentry_lub; [apply spectral_nonneg|]. intros i a Hi Ha. eapply Rle_trans; [apply (entry_l2 d (A i) a Ha)|].
  now apply row_spectral.
Qed.
Theorem lemma_token_norms_2_frobenius n d A : spectral n d A <= frob n d A.
Proof. apply spectral_le, frob_stretches. Qed.
Theorem lemma_token_norms_frobenius_n_2 n d A : frob n d A <= sqrt (INR n) * spectral n d A.
Proof. apply frob_rows_le; [apply spectral_nonneg|]. intros. now apply row_spectral. Qed.
Theorem lemma_token_norms_frobenius_d_2 n d A : frob n d A <= sqrt (INR d) * spectral n d A.
Proof. rewrite <- frob_flip, <- spectral_of_flip. apply lemma_token_norms_frobenius_n_2. Qed.
Theorem lemma_token_norms_1_max n d A : norm1 n d A <= INR n * maxentry n d A.
Proof.
  apply maxf_lub; [apply Rmult_le_pos; [apply pos_INR|apply maxf_pos]|]. intros a Ha. rewrite <- sum_const.
  apply sum_le; intros. now apply entry_le.
Qed.
Theorem lemma_token_norms_inf_max n d A : norminf n d A <= INR d * maxentry n d A.
Proof.
  eapply Rle_trans; [apply (lemma_token_norms_1_max d n (flip A))|].
  apply Rmult_le_compat_l; [apply pos_INR|apply maxentry_flip].
Qed.
Theorem lemma_token_norms_inf_2 n d A : norminf n d A <= sqrt (INR d) * spectral n d A.
Proof.
  apply maxf_lub; [apply Rmult_le_pos; [apply sqrt_pos|apply spectral_nonneg]|]. intros i Hi.
  eapply Rle_trans; [apply (l1_l2 d (A i))|]. apply Rmult_le_compat_l; [apply sqrt_pos|now apply row_spectral].
Qed.
Theorem lemma_token_norms_1_2 n d A : norm1 n d A <= sqrt (INR n) * spectral n d A.
Proof. rewrite norm1_flip, <- spectral_of_flip. apply lemma_token_norms_inf_2. Qed.
Theorem lemma_token_norms_2_composite n d A : spectral n d A <= comp n d A.
Proof. apply spectral_le, schur. Qed.
(** comp <= c b from norm1 norminf <= c b b *)
Lemma comp_root n d A c b : 0 <= c -> 0 <= b -> norm1 n d A * norminf n d A <= c * (b * b) -> comp n d A <= sqrt c * b.
Proof.
  intros C B H. apply sqrt_le_of; [apply Rmult_le_pos; [apply sqrt_pos|exact B]|].
  replace (sqrt c * b * (sqrt c * b)) with (sqrt c * sqrt c * (b * b)) by ring.
  now rewrite sqrt_sqrt.
Qed.
Lemma comp_one n d A : comp n d A <= sqrt (INR d) * norm1 n d A.
Proof.
  assert (P := norm1_pos n d A). apply comp_root; [apply pos_INR|exact P|].
  assert (H := lemma_token_norms_inf_max n d A). assert (K := lemma_token_norms_max_1 n d A).
  assert (D := pos_INR d). replace (INR d * (norm1 n d A * norm1 n d A)) with (norm1 n d A * (INR d * norm1 n d A)) by
    ring.
  apply Rmult_le_compat_l; [exact P|]. eapply Rle_trans; [exact H|]. now apply Rmult_le_compat_l.
Qed.
Lemma comp_flip n d A : comp d n (flip A) = comp n d A.
Proof. unfold comp. rewrite Rmult_comm. reflexivity. Qed.
Lemma comp_inf n d A : comp n d A <= sqrt (INR n) * norminf n d A.
Proof. rewrite <- comp_flip. apply (comp_one d n (flip A)). Qed.
Theorem lemma_token_norms_2_1 n d A : spectral n d A <= sqrt (INR d) * norm1 n d A.
Proof. eapply Rle_trans; [apply lemma_token_norms_2_composite|apply comp_one]. Qed.
Theorem lemma_token_norms_2_inf n d A : spectral n d A <= sqrt (INR n) * norminf n d A.
Proof. eapply Rle_trans; [apply lemma_token_norms_2_composite|apply comp_inf]. Qed.
Theorem lemma_token_norms_frobenius_inf n d A : frob n d A <= sqrt (INR n) * norminf n d A.
Proof. apply frob_rows_le; [apply maxf_pos|]. intros i Hi. eapply Rle_trans; [apply l2_l1|]. apply (row_le n d A i Hi).
Qed.
Theorem lemma_token_norms_frobenius_1 n d A : frob n d A <= sqrt (INR d) * norm1 n d A.
Proof. rewrite <- frob_flip. apply (lemma_token_norms_frobenius_inf d n (flip A)). Qed.
Lemma row_linf_max n d A i : (i < n)%nat -> linf d (A i) <= maxentry n d A.
Proof. intros H. apply (maxf_ub n (fun i => maxf d (fun a => Rabs (A i a))) i H). Qed.
Theorem lemma_token_norms_frobenius_max n d A : frob n d A <= sqrt (INR n * INR d) * maxentry n d A.
Proof.
  rewrite sqrt_mult_alt, Rmult_assoc by apply pos_INR. apply frob_rows_le; [apply Rmult_le_pos;
    [apply sqrt_pos|apply maxf_pos]|].
  intros i Hi. eapply Rle_trans; [apply l2_linf|]. apply Rmult_le_compat_l; [apply sqrt_pos|now apply row_linf_max].
Qed.

(* ---------- matrix-norms: W and W_QK, d x d ---------- *)
Theorem lemma_matrix_norms_max_1 d M : maxentry d d M <= norm1 d d M. Proof. apply lemma_token_norms_max_1. Qed.
Theorem lemma_matrix_norms_max_inf d M : maxentry d d M <= norminf d d M. Proof. apply lemma_token_norms_max_inf. Qed.
Theorem lemma_matrix_norms_max_2 d M : maxentry d d M <= spectral d d M. Proof. apply lemma_token_norms_max_2. Qed.
Theorem lemma_matrix_norms_2_frobenius d M : spectral d d M <= frob d d M. Proof. apply lemma_token_norms_2_frobenius.
Qed.
Theorem lemma_matrix_norms_frobenius_2 d M : frob d d M <= sqrt (INR d) * spectral d d M. Proof.
apply lemma_token_norms_frobenius_d_2. Qed.
Theorem lemma_matrix_norms_1_2 d M : norm1 d d M <= sqrt (INR d) * spectral d d M. Proof. apply lemma_token_norms_1_2.
Qed.
Theorem lemma_matrix_norms_inf_2 d M : norminf d d M <= sqrt (INR d) * spectral d d M. Proof.
apply lemma_token_norms_inf_2. Qed.
Theorem lemma_matrix_norms_2_1 d M : spectral d d M <= sqrt (INR d) * norm1 d d M. Proof. apply lemma_token_norms_2_1.
Qed.
Theorem lemma_matrix_norms_2_inf d M : spectral d d M <= sqrt (INR d) * norminf d d M. Proof.
apply lemma_token_norms_2_inf. Qed.
Theorem lemma_matrix_norms_1_max d M : norm1 d d M <= INR d * maxentry d d M. Proof. apply lemma_token_norms_1_max. Qed.
Theorem lemma_matrix_norms_inf_max d M : norminf d d M <= INR d * maxentry d d M. Proof.
apply lemma_token_norms_inf_max. Qed.
Theorem lemma_matrix_norms_frobenius_max d M : frob d d M <= INR d * maxentry d d M.
Proof. rewrite <- (sqrt_square (INR d)) by apply pos_INR. apply lemma_token_norms_frobenius_max. Qed.
Theorem lemma_matrix_norms_2_composite d M : spectral d d M <= comp d d M. Proof. apply lemma_token_norms_2_composite.
Qed.
Theorem lemma_matrix_norms_frobenius_1 d M : frob d d M <= sqrt (INR d) * norm1 d d M. Proof.
apply lemma_token_norms_frobenius_1. Qed.
Theorem lemma_matrix_norms_frobenius_inf d M : frob d d M <= sqrt (INR d) * norminf d d M. Proof.
apply lemma_token_norms_frobenius_inf. Qed.

Lemma frob_mixed n d A : frob n d A ^ 2 <= INR n * norminf n d A * maxentry n d A.
Proof.
  replace (frob n d A ^ 2) with (frob n d A * frob n d A) by ring. rewrite frob_square, Rmult_assoc, <- sum_const.
  apply sum_le; intros i Hi. rewrite <- l2_square. eapply Rle_trans; [apply l2_interpolates|].
  apply Rmult_le_compat; [apply l1_nonneg|apply linf_nonneg|apply (row_le n d A i Hi)|now apply row_linf_max].
Qed.
Theorem lemma_frobenius_mixed_inf d M : frob d d M ^ 2 <= INR d * norminf d d M * maxentry d d M.
Proof. apply frob_mixed. Qed.
Theorem lemma_frobenius_mixed_1 d M : frob d d M ^ 2 <= INR d * norm1 d d M * maxentry d d M.
Proof.
  rewrite <- frob_flip. eapply Rle_trans; [apply (frob_mixed d d (flip M))|].
  apply Rmult_le_compat_l; [|apply maxentry_flip].
  apply Rmult_le_pos; [apply pos_INR|apply (norm1_pos d d M)].
Qed.

(* ---------- the bilinear form on the cube ---------- *)
Lemma sumentries_inf n d A : sumentries n d A <= INR n * norminf n d A.
Proof. unfold sumentries. rewrite <- sum_const. apply sum_le; intros. now apply row_le. Qed.
Lemma sumentries_flip n d A : sumentries d n (flip A) = sumentries n d A.
Proof. unfold sumentries, flip. apply sum_swap. Qed.
Lemma sumentries_frob n d A : sumentries n d A <= sqrt (INR n * INR d) * frob n d A.
Proof.
  rewrite sqrt_mult_alt by apply pos_INR. apply Rle_trans with (l1 n (fun i => sqrt (INR d) * l2 d (A i))).
  - apply sum_le; intros i Hi. eapply Rle_trans; [apply (l1_l2 d (A i))|apply Rle_abs].
  - eapply Rle_trans; [apply l1_l2|]. rewrite Rmult_assoc. apply Rmult_le_compat_l; [apply sqrt_pos|].
    change (l2 n (fun i => sqrt (INR d) * l2 d (A i))) with (L2 n (fun i => sqrt (INR d) * (fun i => l2 d (A i)) i)).
    rewrite sn_scal.
    rewrite Rabs_right by (apply Rle_ge, sqrt_pos). apply Rmult_le_compat_l; [apply sqrt_pos|]. right. cbn [sn L2].
    unfold l2 at 1, frob. f_equal.
    unfold dot at 1. apply sum_ext; intros. apply l2_square.
Qed.
Lemma form_inf_sum d M : form_inf d M <= sumentries d d M.
Proof. unfold form_inf. destruct Nat.leb; [apply form_le, form_linf|lra]. Qed.
Theorem lemma_form_inf_high_inf d M : form_inf d M <= INR d * norminf d d M.
Proof. eapply Rle_trans; [apply form_inf_sum|apply sumentries_inf]. Qed.
Theorem lemma_form_inf_high_1 d M : form_inf d M <= INR d * norm1 d d M.
Proof. eapply Rle_trans; [apply form_inf_sum|]. rewrite <- sumentries_flip. apply (sumentries_inf d d (flip M)). Qed.
Theorem lemma_form_inf_high_frobenius d M : form_inf d M <= INR d * frob d d M.
Proof. eapply Rle_trans; [apply form_inf_sum|]. rewrite <- (sqrt_square (INR d)) by apply pos_INR.
apply sumentries_frob. Qed.

(** A form that is bounded on the cube: rows, columns and the spectral norm are. *)
Definition sign (x : R) : R := if Rle_dec 0 x then 1 else -1.
Lemma sign_abs x : x * sign x = Rabs x.
Proof. unfold sign, Rabs. destruct Rle_dec, Rcase_abs; lra. Qed.
Lemma linf_one d u : (forall a, (a < d)%nat -> Rabs (u a) <= 1) -> linf d u <= 1.
Proof. intros H. apply maxf_lub; [lra|exact H]. Qed.
Lemma sign_one x : Rabs (sign x) <= 1.
Proof. unfold sign. destruct Rle_dec; [rewrite Rabs_R1|rewrite Rabs_left by lra]; lra. Qed.
Lemma eye_one i a : Rabs (eye i a) <= 1.
Proof. unfold eye. destruct Nat.eqb; [rewrite Rabs_R1|rewrite Rabs_R0]; lra. Qed.
Lemma form_unit d M m u v : form_bound d (linf d) M m -> linf d u <= 1 -> linf d v <= 1 -> Rabs (bil d u M v) <= m.
Proof.
  intros [P H] U V. specialize (H u v). assert (A := linf_nonneg d u). assert (B := linf_nonneg d v).
  assert (linf d u * linf d v <= 1) by nra.
  eapply Rle_trans; [exact H|]. rewrite Rmult_assoc. nra.
Qed.
Lemma form_row d M m i : form_bound d (linf d) M m -> (i < d)%nat -> sum d (fun a => Rabs (M i a)) <= m.
Proof.
  intros F H. assert (B := form_unit d M m (eye i) (fun a => sign (M i a)) F (linf_one _ _ (fun a _ => eye_one i a))
    (linf_one _ _ (fun a _ => sign_one (M i a)))).
  eapply Rle_trans; [|exact B]. eapply Rle_trans; [|apply Rle_abs]. right. rewrite bil_dot. apply sum_ext; intros a _.
  rewrite vmat_of_eye by exact H. symmetry. apply sign_abs.
Qed.
Lemma form_flip d N M m : form_bound d N M m -> form_bound d N (flip M) m.
Proof.
  intros [P H]. split; [exact P|]. intros u v. rewrite (Rmult_assoc m), (Rmult_comm (N u)), <- Rmult_assoc.
  eapply Rle_trans; [|apply (H v u)]. right. f_equal.
  unfold bil, flip. rewrite sum_swap. apply sum_ext; intros; apply sum_ext; intros; ring.
Qed.
Lemma form_rows d M m : form_bound d (linf d) M m -> norminf d d M <= m.
Proof. intros F. apply maxf_lub; [apply F|]. intros i Hi. now apply form_row. Qed.
Lemma form_cols d M m : form_bound d (linf d) M m -> norm1 d d M <= m.
Proof. intros F. apply (form_rows d (flip M)). now apply form_flip. Qed.
Lemma form_inf_low d M t : (forall m, form_bound d (linf d) M m -> t <= m) -> t <= form_inf d M.
Proof.
  intros H. unfold form_inf. destruct Nat.leb; [|apply H, form_linf].
  apply le_form; [exists (sumentries d d M); apply form_linf|exact H].
Qed.
Theorem lemma_form_inf_low_inf d M : norminf d d M <= form_inf d M.
Proof. apply form_inf_low. intros. now apply form_rows. Qed.
Theorem lemma_form_inf_low_1 d M : norm1 d d M <= form_inf d M.
Proof. apply form_inf_low. intros. now apply form_cols. Qed.
Theorem lemma_form_inf_low_max d M : maxentry d d M <= form_inf d M.
Proof. eapply Rle_trans; [apply lemma_matrix_norms_max_inf|apply lemma_form_inf_low_inf]. Qed.
(** |M|_2 <= sqrt(|M|_1 |M|_inf) *)
Theorem lemma_form_inf_low_2 d M : spectral d d M <= form_inf d M.
Proof.
  apply form_inf_low. intros m F. eapply Rle_trans; [apply lemma_matrix_norms_2_composite|].
  apply sqrt_le_of; [apply F|].
  apply Rmult_le_compat; [apply maxf_pos|apply maxf_pos|now apply form_cols|now apply form_rows].
Qed.

(* ---------- singular values, products ---------- *)
Theorem lemma_least_singular d W : (0 < d)%nat -> sqrt (INR d) * least_singular d W <= frob d d W.
Proof.
  intros Hd. assert (L : forall i, (i < d)%nat -> least_singular d W <= l2 d (W i)).
  { intros i Hi. rewrite <- (l2_ext d (vmat d (eye i) W)) by (intros; now apply vmat_of_eye). apply least_singular_le.
    now apply l2_eye. }
  assert (P : 0 <= least_singular d W) by (apply inf_nonneg; [exists (l2 d (vmat d (eye 0%nat) W)), (eye 0%nat); split;
    [now apply l2_eye|reflexivity]|intros y [v [_ ->]]; apply l2_nonneg]).
  unfold frob. apply Rsqr_incr_0_var; [|apply sqrt_pos]. rewrite Rsqr_mult, !Rsqr_sqrt by (try apply pos_INR;
    apply sum_nonneg; intros; apply dot_pos).
  unfold Rsqr. rewrite <- sum_const. apply sum_le; intros i Hi. rewrite <- l2_square. specialize (L i Hi). nra.
Qed.
Theorem lemma_least_singular_spectral d W : (0 < d)%nat -> least_singular d W <= spectral d d W.
Proof.
  intros Hd. eapply Rle_trans; [apply (least_singular_le d W (eye 0%nat)); now apply l2_eye|].
  eapply Rle_trans; [apply spectral_vmat|]. rewrite l2_eye by exact Hd. lra.
Qed.
Lemma spectral_mmul n k d A B : spectral n d (mmul k A B) <= spectral n k A * spectral k d B.
Proof.
  apply spectral_le. split; [apply Rmult_le_pos; apply spectral_nonneg|]. intro v.
  rewrite <- (l2_ext d (vmat k (vmat n v A) B)) by (intros; apply vmat_assoc). eapply Rle_trans; [apply spectral_vmat|].
  assert (H := spectral_vmat n k A v). assert (P := spectral_nonneg k d B). nra.
Qed.
Lemma spectral_eye d : spectral d d eye <= 1.
Proof. apply spectral_le. split; [lra|]. intro v. rewrite Rmult_1_l. right. apply l2_ext. intros. now apply vmat_eye.
Qed.
(** product_norm(2): the values W(0) ... W(L-1) of the first heads *)
Theorem lemma_product_norm d (W : nat -> mat) L : spectral d d (values d W L) <= prodf L (fun l => spectral d d (W l)).
Proof.
  induction L as [|l IH]; simpl; [apply spectral_eye|]. eapply Rle_trans; [apply spectral_mmul|].
  apply Rmult_le_compat_r; [apply spectral_nonneg|exact IH].
Qed.
