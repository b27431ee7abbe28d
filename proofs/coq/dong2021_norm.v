(** dong2021:norm.  The composite value comp A = sqrt(norm1 A * norminf A) is absolutely homogeneous,
    vanishes only at 0 and is submultiplicative, but is not a norm: for n >= 2, A = e_1 1^T and B = A^T have
    comp A + comp B = 2 sqrt n < n + 1 = comp (A + B)   [composite_not_norm].
    What replaces the triangle inequality: comp(sum_h A_h)^2 <= (sum_h norm1 A_h)(sum_h norminf A_h)  [composite_sum].
    *)
Require Import Reals Lra Lia Psatz Classical.
From Rankmath Require Import Definitions Functions Norms.
Local Open Scope R_scope.

Lemma comp_mmul n k d A B : comp n d (mmul k A B) <= comp n k A * comp k d B.
Proof.
  unfold comp. rewrite <- sqrt_mult_alt by (apply Rmult_le_pos; apply maxf_pos). apply sqrt_le_1_alt.
  eapply Rle_trans; [apply Rmult_le_compat; [apply maxf_pos|apply maxf_pos|apply norm1_mmul|apply norminf_mmul]|].
  right. ring.
Qed.

Lemma comp_scal n d c A : comp n d (fun i a => c * A i a) = Rabs c * comp n d A.
Proof.
  assert (N1 : norm1 n d (fun i a => c * A i a) = Rabs c * norm1 n d A).
  { unfold norm1. rewrite <- maxf_scal by apply Rabs_pos. apply maxf_ext; intros a _. rewrite <- sum_scal.
    apply sum_ext; intros; apply Rabs_mult. }
  assert (N2 : norminf n d (fun i a => c * A i a) = Rabs c * norminf n d A).
  { unfold norminf. rewrite <- maxf_scal by apply Rabs_pos. apply maxf_ext; intros i _. rewrite <- sum_scal.
    apply sum_ext; intros; apply Rabs_mult. }
  unfold comp. rewrite N1, N2.
  replace (Rabs c * norm1 n d A * (Rabs c * norminf n d A)) with (Rsqr (Rabs c) * (norm1 n d A * norminf n d A)) by
    (unfold Rsqr; ring).
  rewrite sqrt_mult_alt by apply Rle_0_sqr. rewrite sqrt_Rsqr by apply Rabs_pos. reflexivity.
Qed.

Lemma comp_zero n d A : comp n d A = 0 -> forall i a, (i < n)%nat -> (a < d)%nat -> A i a = 0.
Proof.
  intros H i a Hi Ha. assert (S := comp_sq n d A). rewrite H in S.
  assert (P1 := norm1_pos n d A). assert (P2 := norminf_pos n d A).
  assert (A0 := Rabs_pos (A i a)).
  assert (C1 : Rabs (A i a) <= norm1 n d A).
  { eapply Rle_trans; [|now apply (col_le n d A a)].
    apply (sum_term_le n (fun i => Rabs (A i a)) i); [intros; apply Rabs_pos|exact Hi]. }
  assert (C2 : Rabs (A i a) <= norminf n d A).
  { eapply Rle_trans; [|now apply (row_le n d A i)].
    apply (sum_term_le d (fun a => Rabs (A i a)) a); [intros; apply Rabs_pos|exact Ha]. }
  destruct (Rmult_integral (norm1 n d A) (norminf n d A)) as [Z|Z]; [lra| |];
    rewrite Z in *; apply NNPP; intro NZ; apply Rabs_pos_lt in NZ; lra.
Qed.

Theorem composite_sum n d H (A : nat -> mat) :
  comp n d (fun i a => sum H (fun h => A h i a)) <=
  sqrt (sum H (fun h => norm1 n d (A h))) * sqrt (sum H (fun h => norminf n d (A h))).
Proof.
  rewrite <- sqrt_mult_alt by (apply sum_nonneg; intros; apply maxf_pos).
  apply comp_le; [apply norm1_sum|apply norminf_sum].
Qed.

(** e_1 1^T and its transpose. *)
Definition first_row : mat := fun i _ => if Nat.eqb i 0 then 1 else 0.
Definition first_col : mat := fun _ a => if Nat.eqb a 0 then 1 else 0.

Lemma maxf_first n f : (0 < n)%nat -> (forall j, (j < n)%nat -> f j <= f 0%nat) -> 0 <= f 0%nat -> maxf n f = f 0%nat.
Proof. intros Hn H H0. apply Rle_antisym; [apply maxf_lub; assumption|now apply maxf_ub]. Qed.

Lemma sum_delta n : (0 < n)%nat -> sum n (fun i => Rabs (if Nat.eqb i 0 then 1 else 0)) = 1.
Proof.
  intros H. rewrite sum_first; [simpl; apply Rabs_R1|exact H|].
  intros a _ Ha. destruct (Nat.eqb_spec a 0); [congruence|apply Rabs_R0].
Qed.

Lemma norms_first_row n : (0 < n)%nat -> norm1 n n first_row = 1 /\ norminf n n first_row = INR n.
Proof.
  intros Hn. unfold norm1, norminf, first_row. split.
  - rewrite maxf_first; [now apply sum_delta|exact Hn|intros; lra|]. rewrite sum_delta by exact Hn. lra.
  - rewrite maxf_first; [|exact Hn| |].
    + simpl Nat.eqb. rewrite sum_const, Rabs_R1. ring.
    + intros j _. apply sum_le; intros. destruct (Nat.eqb j 0); simpl; rewrite ?Rabs_R0, ?Rabs_R1; lra.
    + apply sum_nonneg; intros; apply Rabs_pos.
Qed.

Lemma norms_first_col n : (0 < n)%nat -> norm1 n n first_col = INR n /\ norminf n n first_col = 1.
Proof. intros Hn. destruct (norms_first_row n Hn) as [A B]. split; [exact B|exact A]. Qed.

Lemma first_sum_row n i : (0 < n)%nat -> (i < n)%nat ->
  sum n (fun a => Rabs (madd first_row first_col i a)) = if Nat.eqb i 0 then INR n + 1 else 1.
Proof.
  intros Hn Hi. unfold madd, first_row, first_col.
  rewrite (sum_ext n _ (fun a => (if Nat.eqb i 0 then 1 else 0) + Rabs (if Nat.eqb a 0 then 1 else 0))).
  - rewrite sum_plus, sum_const, sum_delta by exact Hn. destruct (Nat.eqb i 0); ring.
  - intros a _. destruct (Nat.eqb i 0), (Nat.eqb a 0); rewrite ?Rabs_R0, ?Rabs_R1; rewrite Rabs_right; lra.
Qed.

Theorem composite_not_norm n : (2 <= n)%nat ->
  comp n n first_row + comp n n first_col = 2 * sqrt (INR n) /\
  comp n n (madd first_row first_col) = INR n + 1 /\
  comp n n first_row + comp n n first_col < comp n n (madd first_row first_col).
Proof.
  intros Hn2. assert (Hn : (0 < n)%nat) by lia. assert (N2 : 2 <= INR n) by (apply (le_INR 2) in Hn2; simpl in Hn2;
    lra).
  assert (E1 : comp n n first_row + comp n n first_col = 2 * sqrt (INR n)).
  { unfold comp. destruct (norms_first_row n Hn) as [-> ->]. destruct (norms_first_col n Hn) as [-> ->].
    rewrite Rmult_1_l, Rmult_1_r. ring. }
  assert (NI : norminf n n (madd first_row first_col) = INR n + 1).
  { unfold norminf. rewrite maxf_first; [rewrite first_sum_row by lia; reflexivity|exact Hn| |].
    - intros j Hj. rewrite !first_sum_row by lia. simpl Nat.eqb. destruct (Nat.eqb j 0); simpl; lra.
    - apply sum_nonneg; intros; apply Rabs_pos. }
  assert (NO : norm1 n n (madd first_row first_col) = INR n + 1).
  { rewrite <- NI. unfold norm1, norminf. apply maxf_ext; intros a _. apply sum_ext; intros i _.
    unfold madd, first_row, first_col. f_equal. ring. }
  assert (E2 : comp n n (madd first_row first_col) = INR n + 1).
  { unfold comp. rewrite NO, NI. apply sqrt_square. lra. }
  split; [exact E1|split; [exact E2|]]. rewrite E1, E2.
  assert (S := sqrt_sqrt (INR n) ltac:(lra)). assert (P := sqrt_pos (INR n)).
  assert (Q : sqrt (INR n) <> 1) by (intro Q; rewrite Q in S; lra). nra.
Qed.
