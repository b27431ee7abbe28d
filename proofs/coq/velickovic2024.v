(** velickovic2024:2.2 and own:dispersion.  A softmax over n keys whose logits differ by at most D has all its entries
  between
    1/(1 + (n-1) e^D) and e^D/(e^D + n - 1) [dispersion]; so between e^-D/n and e^D/n [velickovic_2_2]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Softmax seed_closure.
Local Open Scope R_scope.

Lemma one_apart n j (a b : R) : (j < n)%nat -> sum n (fun k => a + eye j k * (b - a)) = b + (INR n - 1) * a.
Proof. intros H. rewrite sum_plus, sum_const, (sum_eye n j (fun _ => b - a) H). ring. Qed.

Theorem dispersion n (c : vec) D j : (j < n)%nat -> (forall i k, (i < n)%nat -> (k < n)%nat -> c i - c k <= D) ->
  / (1 + (INR n - 1) * exp D) <= softmax n (fun _ => 1) c j <= exp D / (exp D + INR n - 1).
Proof.
  intros Hj Ho. assert (D0 : 0 <= D) by (specialize (Ho j j Hj Hj); lra).
  assert (n1 : 1 <= INR n) by (apply (le_INR 1); lia).
  assert (E := exp_pos (c j)). assert (P := exp_pos D). assert (E1 := exp_ge1 D D0).
  set (Z := sum n (fun k => 1 * exp (c k))).
  assert (U : Z <= exp (c j) * (1 + (INR n - 1) * exp D)).
  { rewrite <- (one_apart n j (exp D) 1 Hj), <- sum_scal. apply sum_le; intros k Hk. rewrite Rmult_1_l. unfold eye.
    destruct (Nat.eqb_spec j k) as [<-|_]; [lra|].
    replace (exp (c j) * (exp D + 0 * (1 - exp D))) with (exp (c j + D)) by (rewrite exp_plus; ring). apply exp_le.
    specialize (Ho k j Hk Hj). lra. }
  assert (L : exp (c j) * (1 + (INR n - 1) * / exp D) <= Z).
  { rewrite <- (one_apart n j (/ exp D) 1 Hj), <- sum_scal. apply sum_le; intros k Hk. rewrite Rmult_1_l. unfold eye.
    destruct (Nat.eqb_spec j k) as [<-|_]; [lra|].
    replace (exp (c j) * (/ exp D + 0 * (1 - / exp D))) with (exp (c j + - D)) by (rewrite exp_plus, exp_Ropp; ring).
    apply exp_le. specialize (Ho j k Hj Hk). lra. }
  assert (I : 0 < / exp D) by (now apply Rinv_0_lt_compat).
  assert (Q : 0 <= (INR n - 1) * / exp D) by (apply Rmult_le_pos; lra).
  assert (Zp : 0 < Z) by (eapply Rlt_le_trans; [|exact L]; apply Rmult_lt_0_compat; lra).
  assert (Q2 : 0 <= (INR n - 1) * exp D) by (apply Rmult_le_pos; lra).
  unfold softmax, tilt. fold Z. rewrite Rmult_1_l. split.
  - apply Rmult_le_reg_r with (Z * (1 + (INR n - 1) * exp D)); [apply Rmult_lt_0_compat; lra|].
    replace (/ (1 + (INR n - 1) * exp D) * (Z * (1 + (INR n - 1) * exp D))) with Z by (field; lra).
    replace (exp (c j) / Z * (Z * (1 + (INR n - 1) * exp D))) with (exp (c j) * (1 + (INR n - 1) * exp D)) by (field;
      lra). exact U.
  - apply Rmult_le_reg_r with (Z * (exp D + INR n - 1)); [apply Rmult_lt_0_compat; lra|].
    replace (exp D / (exp D + INR n - 1) * (Z * (exp D + INR n - 1))) with (exp D * Z) by (field; lra).
    replace (exp (c j) / Z * (Z * (exp D + INR n - 1))) with (exp D * (exp (c j) * (1 + (INR n - 1) * / exp D))) by
      (field; lra).
    apply Rmult_le_compat_l; lra.
Qed.

Theorem velickovic_2_2 n (c : vec) D j : (j < n)%nat -> (forall i k, (i < n)%nat -> (k < n)%nat -> c i - c k <= D) ->
  exp (- D) / INR n <= softmax n (fun _ => 1) c j <= exp D / INR n.
Proof.
  intros Hj Ho. assert (D0 : 0 <= D) by (specialize (Ho j j Hj Hj); lra).
  assert (n1 : 1 <= INR n) by (apply (le_INR 1); lia).
  destruct (dispersion n c D j Hj Ho) as [A B]. assert (P := exp_pos D). assert (E1 := exp_ge1 D D0). split.
  - eapply Rle_trans; [|exact A]. rewrite exp_Ropp. unfold Rdiv. rewrite <- Rinv_mult. apply Rinv_le_contravar; nra.
  - eapply Rle_trans; [exact B|]. unfold Rdiv. apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
Qed.
