(** Lemmas of the prover: tokens X, n x d: diameters, mu, residuals (infima over all centres), norms, stable rank. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms Masks own_hemisphere own_order Quantities Lemmas_norms.
Local Open Scope R_scope.

Lemma one_INR n : (0 < n)%nat -> 1 <= INR n.
Proof. intros H. apply (le_INR 1). lia. Qed.

(* ---------- diameters ---------- *)
(** A norm below c times another: so are the diameters. *)
Lemma diam_le n (M N : vec -> R) c X : 0 <= c -> (forall u, M u <= c * N u) -> diam n M X <= c * diam n N X.
Proof.
  intros C H. apply diam_lub; [apply Rmult_le_pos; [exact C|apply diam_nonneg]|]. intros i k Hi Hk.
  eapply Rle_trans; [apply H|].
  apply Rmult_le_compat_l; [exact C|now apply diam_ub].
Qed.
Lemma diam_le1 n (M N : vec -> R) X : (forall u, M u <= N u) -> diam n M X <= diam n N X.
Proof. intros H. rewrite <- (Rmult_1_l (diam n N X)). apply diam_le; [lra|]. intro u. specialize (H u). lra. Qed.
Theorem lemma_diameter_inf_2 n d X : diam n (linf d) X <= diam n (l2 d) X.
Proof. apply diam_le1, linf_l2. Qed.
Theorem lemma_diameter_2_1 n d X : diam n (l2 d) X <= diam n (l1 d) X.
Proof. apply diam_le1, l2_l1. Qed.
Theorem lemma_diameter_1_2 n d X : diam n (l1 d) X <= sqrt (INR d) * diam n (l2 d) X.
Proof. apply diam_le; [apply sqrt_pos|apply l1_l2]. Qed.
Theorem lemma_diameter_2_inf n d X : diam n (l2 d) X <= sqrt (INR d) * diam n (linf d) X.
Proof. apply diam_le; [apply sqrt_pos|apply l2_linf]. Qed.
Theorem lemma_diameter_2_interpolates n d X : diam n (l2 d) X ^ 2 <= diam n (l1 d) X * diam n (linf d) X.
Proof.
  assert (P : 0 <= diam n (l1 d) X * diam n (linf d) X) by (apply Rmult_le_pos; apply diam_nonneg).
  assert (H : diam n (l2 d) X <= sqrt (diam n (l1 d) X * diam n (linf d) X)).
  { apply diam_lub; [apply sqrt_pos|]. intros i k Hi Hk. apply sqrt_le_1_alt. rewrite <- l2_square.
    eapply Rle_trans; [apply l2_interpolates|].
    apply Rmult_le_compat; [apply l1_nonneg|apply linf_nonneg|now apply diam_ub|now apply diam_ub]. }
  rewrite <- (sqrt_sqrt _ P). assert (D := diam_nonneg n (l2 d) X).
  replace (diam n (l2 d) X ^ 2) with (diam n (l2 d) X * diam n (l2 d) X) by ring.
  now apply Rmult_le_compat.
Qed.

(* ---------- two tokens about any centre ---------- *)
Lemma pair_spectral n d A i k : (i < n)%nat -> (k < n)%nat -> l2 d (vsub (A i) (A k)) <= sqrt 2 * spectral n d A.
Proof.
  intros Hi Hk. set (v := fun j => eye i j - eye k j).
  rewrite <- (l2_ext d (vmat n v A)).
  - eapply Rle_trans; [apply spectral_vmat|]. rewrite Rmult_comm. apply Rmult_le_compat_r; [apply spectral_nonneg|].
    apply sqrt_le_1_alt.
    assert (E : dot n v v <= dot n (eye i) (eye i) + dot n (eye k) (eye k)); [|rewrite !dot_eye in E by assumption;
      lra].
    unfold dot. rewrite <- sum_plus. apply sum_le; intros j _. unfold v, eye.
    destruct (Nat.eqb i j), (Nat.eqb k j); lra.
  - intros a _. unfold v. change (fun j => eye i j - eye k j) with (vsub (eye i) (eye k)).
    rewrite <- vmat_sub, !vmat_of_eye by assumption. reflexivity.
Qed.
Lemma pair_centred X x i k a : vsub (X i) (X k) a = vsub (centred X x i) (centred X x k) a.
Proof. unfold centred, vsub. ring. Qed.
Theorem lemma_diameter_spectral n d X : diam n (l2 d) X <= sqrt 2 * spectral n d X.
Proof. apply diam_lub; [apply Rmult_le_pos; [apply sqrt_pos|apply spectral_nonneg]|]. intros. now apply pair_spectral.
Qed.

(* ---------- mu ---------- *)
Lemma mu_nonneg n d X : 0 <= mu n d X. Proof. apply sqrt_pos. Qed.
Theorem lemma_mu_diameter n d X : (0 < n)%nat -> mu n d X <= sqrt ((INR n - 1) / 2) * diam n (l2 d) X.
Proof. intros Hn. apply mu_diam; [exact Hn|apply diam_nonneg|]. intros. now apply (diam_ub n (l2 d)). Qed.
Theorem lemma_mu_frobenius n d X : (0 < n)%nat -> mu n d X <= frob n d X.
Proof. apply mu_frob. Qed.
(** the mean minimises *)
Lemma mu_any n d X x : (0 < n)%nat -> mu n d X <= frob n d (centred X x).
Proof. intros Hn. rewrite (mu_shift n d X x (centred X x) Hn) by reflexivity. now apply mu_frob. Qed.
Lemma longest_nonneg n d X : 0 <= longest n d X. Proof. apply maxf_pos. Qed.
Lemma row_longest n d X i : (i < n)%nat -> l2 d (X i) <= longest n d X.
Proof. intros H. apply (maxf_ub n (fun i => l2 d (X i)) i H). Qed.
Lemma longest_lub n d X c : 0 <= c -> (forall i, (i < n)%nat -> l2 d (X i) <= c) -> longest n d X <= c.
Proof. apply maxf_lub. Qed.
Theorem lemma_frobenius_longest n d X : frob n d X <= sqrt (INR n) * longest n d X.
Proof. apply frob_rows_le; [apply longest_nonneg|]. intros. now apply row_longest. Qed.
Theorem lemma_mu_longest n d X : (0 < n)%nat -> mu n d X <= sqrt (INR n) * longest n d X.
Proof. intros Hn. eapply Rle_trans; [now apply lemma_mu_frobenius|apply lemma_frobenius_longest]. Qed.
Theorem lemma_diameter_mu n d X : diam n (l2 d) X <= sqrt 2 * mu n d X.
Proof.
  apply diam_lub; [apply Rmult_le_pos; [apply sqrt_pos|apply mu_nonneg]|]. intros i k Hi Hk.
  rewrite (l2_ext d _ _ (fun a _ => pair_centred X (mean n X) i k a)).
  eapply Rle_trans; [now apply (pair_spectral n d)|].
  apply Rmult_le_compat_l; [apply sqrt_pos|apply lemma_token_norms_2_frobenius].
Qed.
(** Popoviciu, coordinate by coordinate *)
Theorem lemma_mu_diameter_inf n d X : (0 < n)%nat -> mu n d X <= sqrt (INR n * INR d) * diam n (linf d) X / 2.
Proof.
  intros Hn. set (D := diam n (linf d) X). assert (D0 : 0 <= D) by apply diam_nonneg.
  assert (S := sqrt_pos (INR n * INR d)).
  assert (Pn := pos_INR n). assert (Pd := pos_INR d). rewrite mu_sq.
  apply sqrt_le_of; [apply Rmult_le_pos; [now apply Rmult_le_pos|lra]|].
  replace (sqrt (INR n * INR d) * D / 2 * (sqrt (INR n * INR d) * D / 2)) with (sqrt (INR n * INR d) * sqrt (INR n *
    INR d) * (D * D) / 4) by field.
  rewrite sqrt_sqrt by now apply Rmult_le_pos. rewrite sum_swap.
  replace (INR n * INR d * (D * D) / 4) with (INR d * (INR n / 4 * D ^ 2)) by field.
  rewrite <- sum_const. apply sum_le; intros a Ha. apply (spread_up n (fun i => X i a) D Hn). intros i k Hi Hk.
  eapply Rle_trans; [apply (entry_linf d (vsub (X i) (X k)) a Ha)|]. now apply (diam_ub n (linf d)).
Qed.

(* ---------- residuals ---------- *)
Section Residuals.
Variables (n d : nat) (X : mat).
Notation one := (resid (norm1 n d) X).
Notation infr := (resid (norminf n d) X).
Notation cmp := (resid (comp n d) X).
Let P1 A := norm1_pos n d A.
Let Pi A := norminf_pos n d A.
Let Pc A := comp_pos n d A.
Let o0 : 0 <= one := resid_nonneg _ X P1.
Let i0 : 0 <= infr := resid_nonneg _ X Pi.
Let c0 : 0 <= cmp := resid_nonneg _ X Pc.
(** A norm below c times another at every centre: so are the residuals. *)
Lemma resid_mono (M N : mat -> R) c : (forall A, 0 <= M A) -> (forall A, 0 <= N A) -> 0 <= c ->
  (forall A, M A <= c * N A) -> resid M X <= c * resid N X.
Proof. intros PM PN C H. apply le_resid; [exact PN|exact C|]. intro x. eapply Rle_trans; [now apply resid_le|].
apply H. Qed.

Theorem lemma_residual_product : one * infr <= cmp ^ 2.
Proof.
  assert (H : sqrt (one * infr) <= cmp).
  { apply le_resid1; [exact Pc|]. intro x. apply sqrt_le_1_alt.
    apply Rmult_le_compat; [exact o0|exact i0|now apply resid_le|now apply resid_le]. }
  assert (Q : 0 <= one * infr) by now apply Rmult_le_pos. rewrite <- (sqrt_sqrt _ Q).
  assert (S := sqrt_pos (one * infr)).
  replace (cmp ^ 2) with (cmp * cmp) by ring. now apply Rmult_le_compat.
Qed.
Theorem lemma_residual_inf_diameter : (0 < n)%nat -> infr <= diam n (l1 d) X.
Proof.
  intros Hn. eapply Rle_trans; [apply (resid_le _ X (X 0%nat) Pi)|]. apply maxf_lub; [apply diam_nonneg|]. intros i Hi.
  now apply (diam_ub n (l1 d) X i 0).
Qed.
Theorem lemma_diameter_residual_inf : diam n (l1 d) X <= 2 * infr.
Proof.
  apply le_resid; [exact Pi|lra|]. intro x. apply diam_lub; [assert (Q := Pi (centred X x)); lra|]. intros i k Hi Hk.
  assert (A := row_le n d (centred X x) i Hi). assert (B := row_le n d (centred X x) k Hk).
  eapply Rle_trans; [apply (sn_tri (L1 d) (X i) x (X k))|]. rewrite (sn_sym (L1 d) x (X k)).
  change (sn (L1 d)) with (l1 d). unfold l1. unfold centred in *. lra.
Qed.
Theorem lemma_diameter_residual_one : diam n (linf d) X <= one.
Proof.
  apply le_resid1; [exact P1|]. intro x. apply diam_lub; [apply P1|]. intros i k Hi Hk. apply maxf_lub; [apply P1|].
  intros a Ha.
  destruct (Nat.eq_dec i k) as [->|N]; [unfold vsub; rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; apply P1|].
  eapply Rle_trans; [|apply (col_le n d (centred X x) a Ha)].
  eapply Rle_trans; [|apply (sum_two_le n (fun i => Rabs (centred X x i a)) i k); auto; intros; apply Rabs_pos].
  unfold centred, vsub. replace (X i a - X k a) with ((X i a - x a) - (X k a - x a)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra.
Qed.
(** the middle of each column as centre *)
Theorem lemma_residual_one_diameter : (0 < n)%nat -> one <= INR n * diam n (linf d) X / 2.
Proof.
  intros Hn. set (D := diam n (linf d) X). assert (D0 : 0 <= D) by apply diam_nonneg.
  set (up := fun a => maxf n (fun i => X i a - X 0%nat a)). set (dn := fun a => maxf n (fun i => X 0%nat a - X i a)).
  assert (Pr : forall i k a, (i < n)%nat -> (k < n)%nat -> (a < d)%nat -> X i a - X k a <= D).
  { intros i k a Hi Hk Ha. eapply Rle_trans; [apply Rle_abs|].
    eapply Rle_trans; [apply (entry_linf d (vsub (X i) (X k)) a Ha)|]. now apply (diam_ub n (linf d)). }
  assert (R0 : forall a, (a < d)%nat -> up a + dn a <= D).
  { intros a Ha. unfold up, dn. destruct (maxf_attained n (fun i => X i a - X 0%nat a)) as [E|[i [Hi E]]]; rewrite E;
      destruct (maxf_attained n (fun i => X 0%nat a - X i a)) as [F|[k [Hk F]]]; rewrite F.
    - lra. - assert (Q := Pr 0%nat k a Hn Hk Ha). lra. - assert (Q := Pr i 0%nat a Hi Hn Ha). lra.
      - assert (Q := Pr i k a Hi Hk Ha). lra. }
  eapply Rle_trans; [apply (resid_le _ X (fun a => X 0%nat a + (up a - dn a) / 2) P1)|].
  replace (INR n * D / 2) with (INR n * (D / 2)) by field. apply maxf_lub; [apply Rmult_le_pos; [apply pos_INR|lra]|].
  intros a Ha.
  rewrite <- sum_const. apply sum_le; intros i Hi. unfold centred, vsub. specialize (R0 a Ha).
  assert (U := maxf_ub n (fun i => X i a - X 0%nat a) i Hi). assert (V := maxf_ub n (fun i => X 0%nat a - X i a) i Hi).
  cbv beta in U, V. fold (up a) in U. fold (dn a) in V.
  apply Rabs_le. lra.
Qed.
Theorem lemma_diameter_residual_composite : diam n (l2 d) X <= sqrt 2 * cmp.
Proof.
  apply le_resid; [exact Pc|apply sqrt_pos|]. intro x. apply diam_lub; [apply Rmult_le_pos;
    [apply sqrt_pos|apply Pc]|]. intros i k Hi Hk.
  rewrite (l2_ext d _ _ (fun a _ => pair_centred X x i k a)). eapply Rle_trans; [now apply (pair_spectral n d)|].
  apply Rmult_le_compat_l; [apply sqrt_pos|apply lemma_token_norms_2_composite].
Qed.
(** mu <= |R|_F <= c N(R) about every centre *)
Lemma mu_resid (N : mat -> R) c : (0 < n)%nat -> (forall A, 0 <= N A) -> 0 <= c -> (forall A, frob n d A <= c * N A) ->
  mu n d X <= c * resid N X.
Proof. intros Hn P C H. apply le_resid; [exact P|exact C|]. intro x. eapply Rle_trans; [now apply mu_any|apply H]. Qed.
Theorem lemma_mu_residual_composite_n : (0 < n)%nat -> mu n d X <= sqrt (INR n) * cmp.
Proof.
  intros Hn. apply mu_resid; [exact Hn|exact Pc|apply sqrt_pos|]. intro A.
  eapply Rle_trans; [apply lemma_token_norms_frobenius_n_2|].
  apply Rmult_le_compat_l; [apply sqrt_pos|apply lemma_token_norms_2_composite].
Qed.
Theorem lemma_mu_residual_composite_d : (0 < n)%nat -> mu n d X <= sqrt (INR d) * cmp.
Proof.
  intros Hn. apply mu_resid; [exact Hn|exact Pc|apply sqrt_pos|]. intro A.
  eapply Rle_trans; [apply lemma_token_norms_frobenius_d_2|].
  apply Rmult_le_compat_l; [apply sqrt_pos|apply lemma_token_norms_2_composite].
Qed.
Theorem lemma_mu_residual_inf : (0 < n)%nat -> mu n d X <= sqrt (INR n) * infr.
Proof. intros Hn. apply mu_resid; [exact Hn|exact Pi|apply sqrt_pos|apply lemma_token_norms_frobenius_inf]. Qed.
Theorem lemma_mu_residual_one : (0 < n)%nat -> mu n d X <= sqrt (INR d) * one.
Proof. intros Hn. apply mu_resid; [exact Hn|exact P1|apply sqrt_pos|apply lemma_token_norms_frobenius_1]. Qed.
Theorem lemma_residual_inf_mu : infr <= sqrt (INR d) * mu n d X.
Proof.
  eapply Rle_trans; [apply (resid_le _ X (mean n X) Pi)|]. eapply Rle_trans; [apply lemma_token_norms_inf_2|].
  apply Rmult_le_compat_l; [apply sqrt_pos|apply lemma_token_norms_2_frobenius].
Qed.
Theorem lemma_residual_one_mu : one <= sqrt (INR n) * mu n d X.
Proof.
  eapply Rle_trans; [apply (resid_le _ X (mean n X) P1)|]. eapply Rle_trans; [apply lemma_token_norms_1_2|].
  apply Rmult_le_compat_l; [apply sqrt_pos|apply lemma_token_norms_2_frobenius].
Qed.
Lemma square_mono x y : 0 <= x -> x <= y -> x ^ 2 <= y ^ 2.
Proof. intros P H. apply pow_incr. lra. Qed.
Theorem lemma_residual_composite_inf : cmp ^ 2 <= INR n * infr ^ 2.
Proof.
  assert (H : cmp <= sqrt (INR n) * infr) by (apply resid_mono; [exact Pc|exact Pi|apply sqrt_pos|apply comp_inf]).
  eapply Rle_trans; [apply (square_mono _ _ c0 H)|]. right. rewrite Rpow_mult_distr. f_equal.
  replace (sqrt (INR n) ^ 2) with (sqrt (INR n) * sqrt (INR n)) by ring. apply sqrt_INR_sq.
Qed.
Theorem lemma_residual_composite_one : cmp ^ 2 <= INR d * one ^ 2.
Proof.
  assert (H : cmp <= sqrt (INR d) * one) by (apply resid_mono; [exact Pc|exact P1|apply sqrt_pos|apply comp_one]).
  eapply Rle_trans; [apply (square_mono _ _ c0 H)|]. right. rewrite Rpow_mult_distr. f_equal.
  replace (sqrt (INR d) ^ 2) with (sqrt (INR d) * sqrt (INR d)) by ring. apply sqrt_INR_sq.
Qed.
Theorem lemma_residual_composite_mu : cmp ^ 2 <= sqrt (INR n * INR d) * mu n d X ^ 2.
Proof.
  assert (H : cmp <= comp n d (centred X (mean n X))) by now apply resid_le.
  eapply Rle_trans; [apply (square_mono _ _ c0 H)|]. set (R := centred X (mean n X)).
  replace (comp n d R ^ 2) with (comp n d R * comp n d R) by ring. rewrite comp_sq.
  rewrite sqrt_mult_alt by apply pos_INR. replace (sqrt (INR n) * sqrt (INR d) * mu n d X ^ 2) with ((sqrt (INR n) * mu
    n d X) * (sqrt (INR d) * mu n d X)) by ring.
  apply Rmult_le_compat; [apply P1|apply Pi| |].
  - eapply Rle_trans; [apply lemma_token_norms_1_2|]. apply Rmult_le_compat_l;
      [apply sqrt_pos|apply lemma_token_norms_2_frobenius].
  - eapply Rle_trans; [apply lemma_token_norms_inf_2|]. apply Rmult_le_compat_l;
      [apply sqrt_pos|apply lemma_token_norms_2_frobenius].
Qed.
Theorem lemma_residual_inf_one : infr <= INR d * one.
Proof.
  apply resid_mono; [exact Pi|exact P1|apply pos_INR|]. intro A. eapply Rle_trans; [apply lemma_token_norms_inf_max|].
  apply Rmult_le_compat_l; [apply pos_INR|apply lemma_token_norms_max_1].
Qed.
Theorem lemma_residual_one_inf : one <= INR n * infr.
Proof.
  apply resid_mono; [exact P1|exact Pi|apply pos_INR|]. intro A. eapply Rle_trans; [apply lemma_token_norms_1_max|].
  apply Rmult_le_compat_l; [apply pos_INR|apply lemma_token_norms_max_inf].
Qed.
Let zero : vec := fun _ => 0.
Theorem lemma_residual_norm_one : one <= norm1 n d X.
Proof. eapply Rle_trans; [apply (resid_le _ X zero P1)|]. right. apply norm1_ext. intros. unfold centred, vsub, zero.
ring. Qed.
Theorem lemma_residual_norm_inf : infr <= norminf n d X.
Proof. eapply Rle_trans; [apply (resid_le _ X zero Pi)|]. right. apply norminf_ext. intros. unfold centred, vsub, zero.
ring. Qed.
Theorem lemma_residual_norm_composite : cmp <= comp n d X.
Proof. eapply Rle_trans; [apply (resid_le _ X zero Pc)|]. right. apply comp_ext. intros. unfold centred, vsub, zero.
ring. Qed.

(** a token as centre: its own row is 0 *)
Theorem lemma_residual_composite_diameter : (0 < n)%nat -> cmp ^ 2 <= (INR n - 1) * diam n (l1 d) X * diam n (linf d) X.
Proof.
  intros Hn. assert (N1 := one_INR n Hn). set (x := X 0%nat).
  assert (H : cmp <= comp n d (centred X x)) by now apply resid_le.
  eapply Rle_trans; [apply (square_mono _ _ c0 H)|]. set (R := centred X x).
  replace (comp n d R ^ 2) with (comp n d R * comp n d R) by ring. rewrite comp_sq.
  replace ((INR n - 1) * diam n (l1 d) X * diam n (linf d) X) with ((INR n - 1) * diam n (linf d) X * diam n (l1 d) X)
    by ring.
  assert (Di := diam_nonneg n (linf d) X). apply Rmult_le_compat; [apply P1|apply Pi| |].
  - apply maxf_lub; [apply Rmult_le_pos; lra|]. intros a Ha. destruct n as [|m]; [lia|]. rewrite sum_head, S_INR.
    replace (Rabs (R 0%nat a)) with 0 by (unfold R, x, centred, vsub; rewrite Rminus_diag_eq, Rabs_R0 by reflexivity;
      reflexivity).
    replace (INR m + 1 - 1) with (INR m) by ring. rewrite Rplus_0_l, <- sum_const. apply sum_le; intros i Hi.
    eapply Rle_trans; [apply (entry_linf d (R (S i)) a Ha)|]. apply (diam_ub (S m) (linf d) X (S i) 0); lia.
  - apply maxf_lub; [apply diam_nonneg|]. intros i Hi. now apply (diam_ub n (l1 d) X i 0).
Qed.
(** the mean as centre: n (X_i - mean) = sum_k (X_i - X_k) *)
Theorem lemma_residual_inf_centroid : (0 < n)%nat -> INR n * infr <= (INR n - 1) * diam n (l1 d) X.
Proof.
  intros Hn. assert (N1 := one_INR n Hn). set (D := diam n (l1 d) X). assert (D0 : 0 <= D) by apply diam_nonneg.
  assert (H : infr <= norminf n d (centred X (mean n X))) by now apply resid_le.
  apply Rle_trans with (INR n * norminf n d (centred X (mean n X))); [apply Rmult_le_compat_l; lra|].
  apply Rmult_le_reg_l with (/ INR n); [apply Rinv_0_lt_compat; lra|]. rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra.
  assert (I : 0 <= / INR n) by (left; apply Rinv_0_lt_compat; lra).
  apply maxf_lub; [apply Rmult_le_pos; [exact I|apply Rmult_le_pos; lra]|]. intros i Hi.
  change (l1 d (centred X (mean n X) i) <= / INR n * ((INR n - 1) * D)).
  change (l1 d (centred X (mean n X) i)) with (L1 d (centred X (mean n X) i)).
  rewrite (sn_ext (L1 d) _ (fun a => sum n (fun k => / INR n * vsub (X i) (X k) a))).
  - eapply Rle_trans; [apply (sn_sum (L1 d) n (fun _ => / INR n) (fun k => vsub (X i) (X k)))|].
    rewrite sum_scal, (Rabs_right (/ INR n)) by lra.
    apply Rmult_le_compat_l; [exact I|]. apply Rle_trans with (sum n (fun k => D - (if Nat.eqb k i then D else 0))).
    + apply sum_le; intros k Hk. destruct (Nat.eqb_spec k i) as [->|]; [rewrite sn_self; lra|]. rewrite Rminus_0_r.
      now apply (diam_ub n (l1 d)).
    + rewrite sum_minus, sum_const, (sum_single n (fun k => if Nat.eqb k i then D else 0) i Hi); [rewrite Nat.eqb_refl;
        lra|].
      intros j _ Hj. destruct (Nat.eqb_spec j i); [lia|reflexivity].
  - intro a. unfold centred, vsub, mean. rewrite sum_scal, sum_minus, sum_const. field. lra.
Qed.
Theorem lemma_mu_rank_composite : (0 < n)%nat -> mu n d X <= sqrt (INR n - 1) * cmp.
Proof.
  intros Hn. assert (N1 := one_INR n Hn). eapply Rle_trans; [now apply lemma_mu_diameter|].
  eapply Rle_trans; [apply Rmult_le_compat_l; [apply sqrt_pos|apply lemma_diameter_residual_composite]|].
  rewrite <- Rmult_assoc, <- sqrt_mult_alt by lra. replace ((INR n - 1) / 2 * 2) with (INR n - 1) by field. lra.
Qed.
Theorem lemma_mu_rank_2 : (0 < n)%nat -> mu n d X <= sqrt (INR n - 1) * spectral n d X.
Proof.
  intros Hn. assert (N1 := one_INR n Hn). eapply Rle_trans; [now apply lemma_mu_diameter|].
  eapply Rle_trans; [apply Rmult_le_compat_l; [apply sqrt_pos|apply lemma_diameter_spectral]|].
  rewrite <- Rmult_assoc, <- sqrt_mult_alt by lra. replace ((INR n - 1) / 2 * 2) with (INR n - 1) by field. lra.
Qed.
End Residuals.

(* ---------- tokens themselves ---------- *)
(** |X_i - X_k| <= |X_i| + |X_k| *)
Lemma sn_diff (N : seminorm) u v : N (vsub u v) <= N u + N v.
Proof.
  assert (T := sn_tri N u (fun _ => 0) v). rewrite (sn_sym N (fun _ => 0) v) in T.
  rewrite (sn_ext N (vsub u (fun _ => 0)) u), (sn_ext N (vsub v (fun _ => 0)) v) in T by (intro; unfold vsub; ring).
  exact T.
Qed.
Lemma diam_twice n (N : seminorm) X c : 0 <= c -> (forall i, (i < n)%nat -> N (X i) <= c) -> diam n N X <= 2 * c.
Proof. intros C H. apply diam_lub; [lra|]. intros i k Hi Hk. assert (A := H i Hi). assert (B := H k Hk).
assert (T := sn_diff N (X i) (X k)). lra. Qed.
Theorem lemma_diameter_longest n d X : diam n (l2 d) X <= 2 * longest n d X.
Proof. apply (diam_twice n (L2 d)); [apply longest_nonneg|]. intros. now apply row_longest. Qed.
Theorem lemma_diameter_norm_1_inf n d X : diam n (l1 d) X <= 2 * norminf n d X.
Proof. apply (diam_twice n (L1 d)); [apply maxf_pos|]. intros i Hi. apply (row_le n d X i Hi). Qed.
Theorem lemma_diameter_norm_inf_max n d X : diam n (linf d) X <= 2 * maxentry n d X.
Proof. apply (diam_twice n (Linf d)); [apply maxf_pos|]. intros i Hi. now apply row_linf_max. Qed.
Theorem lemma_longest_norm_2 n d X : longest n d X <= spectral n d X.
Proof. apply longest_lub; [apply spectral_nonneg|]. intros. now apply row_spectral. Qed.
Theorem lemma_longest_norm_inf n d X : longest n d X <= norminf n d X.
Proof. apply longest_lub; [apply maxf_pos|]. intros i Hi. eapply Rle_trans; [apply l2_l1|]. apply (row_le n d X i Hi).
Qed.
Theorem lemma_longest_norm_frobenius n d X : longest n d X <= frob n d X.
Proof. apply longest_lub; [apply sqrt_pos|]. intros. now apply row_frob. Qed.
Theorem lemma_inf_longest n d X : norminf n d X <= sqrt (INR d) * longest n d X.
Proof.
  apply maxf_lub; [apply Rmult_le_pos; [apply sqrt_pos|apply longest_nonneg]|]. intros i Hi.
  eapply Rle_trans; [apply (l1_l2 d (X i))|].
  apply Rmult_le_compat_l; [apply sqrt_pos|now apply row_longest].
Qed.
Theorem lemma_max_longest n d X : maxentry n d X <= longest n d X.
Proof. apply maxentry_lub; [apply longest_nonneg|]. intros i a Hi Ha.
eapply Rle_trans; [apply (entry_l2 d (X i) a Ha)|now apply row_longest]. Qed.
Theorem lemma_longest_max n d X : longest n d X <= sqrt (INR d) * maxentry n d X.
Proof.
  apply longest_lub; [apply Rmult_le_pos; [apply sqrt_pos|apply maxf_pos]|]. intros i Hi.
  eapply Rle_trans; [apply l2_linf|].
  apply Rmult_le_compat_l; [apply sqrt_pos|now apply row_linf_max].
Qed.

(* ---------- stable rank ---------- *)
(** Where X = 0 the language has no stable rank; in Coq it is 0 there, so that only the lower bound needs X <> 0. *)
Lemma ratio_square a b c : 0 < b -> 0 <= a -> 0 <= c -> a <= sqrt c * b -> (a / b) ^ 2 <= c.
Proof.
  intros B A C H. replace c with (sqrt c ^ 2) by (replace (sqrt c ^ 2) with (sqrt c * sqrt c) by ring;
    now apply sqrt_sqrt). apply pow_incr.
  assert (I := Rinv_0_lt_compat b B). split; [apply Rmult_le_pos; lra|]. apply Rmult_le_reg_r with b; [exact B|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
Lemma stable_rank_le n d X c : 0 <= c -> frob n d X <= sqrt c * spectral n d X -> stable_rank n d X <= c.
Proof.
  intros C H. unfold stable_rank. destruct (spectral_nonneg n d X) as [P|E]; [now apply ratio_square;
    [|apply sqrt_pos| |]|].
  rewrite <- E. unfold Rdiv. rewrite Rinv_0, Rmult_0_r. lra.
Qed.
Theorem lemma_stable_rank_n n d X : stable_rank n d X <= INR n.
Proof. apply stable_rank_le; [apply pos_INR|apply lemma_token_norms_frobenius_n_2]. Qed.
Theorem lemma_stable_rank_d n d X : stable_rank n d X <= INR d.
Proof. apply stable_rank_le; [apply pos_INR|apply lemma_token_norms_frobenius_d_2]. Qed.
Theorem lemma_stable_rank_one n d X : 0 < spectral n d X -> 1 <= stable_rank n d X.
Proof.
  intros P. unfold stable_rank. assert (H := lemma_token_norms_2_frobenius n d X).
  assert (Q : 1 <= frob n d X / spectral n d X); [|nra].
  apply Rmult_le_reg_r with (spectral n d X); [exact P|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
Theorem lemma_stable_rank n d X : stable_rank n d X * spectral n d X ^ 2 = frob n d X ^ 2.
Proof.
  unfold stable_rank. destruct (spectral_nonneg n d X) as [P|E]; [field; lra|].
  assert (H := lemma_token_norms_frobenius_n_2 n d X). rewrite <- E, Rmult_0_r in H.
  replace (frob n d X) with 0 by (apply Rle_antisym; [apply sqrt_pos|exact H]). rewrite <- E. ring.
Qed.
