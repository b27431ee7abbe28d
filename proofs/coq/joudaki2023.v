(** joudaki2023:isometry, as we read it.  I(X) = det(X X^T)^(1/n)/(tr(X X^T)/n) for independent tokens, the rows of X.
Dividing every token by its length a_i makes the tokens more isometric:
    I(X) (1 + Var(a)/mean(a)^2) <= I(X~)  [isometry_grows].  The determinant of the Gram matrix is divided by prod
      a_i^2, and the rest is the mean of the a_i against their
    geometric mean. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms.
Local Open Scope R_scope.

(** The determinant, by its first row. *)
Definition jump (j k : nat) : nat := if Nat.ltb k j then k else S k.
Fixpoint det (n : nat) (M : mat) : R := match n with
  | O => 1
  | S m => sum (S m) (fun j => (-1) ^ j * M 0%nat j * det m (fun i k => M (S i) (jump j k))) end.
Definition gram (d : nat) (X : mat) : mat := fun i j => dot d (X i) (X j).
Definition isometry (n d : nat) (X : mat) : R := Rpower (det n (gram d X)) (/ INR n) / (sum n (fun i => gram d X i i) /
  INR n).
(** 1 + Var(a)/mean(a)^2 of the lengths a_i = |X_i|. *)
Definition length_spread (n d : nat) (X : mat) : R := let mean := sum n (fun i => l2 d (X i)) / INR n in
  1 + sum n (fun i => (l2 d (X i) - mean) ^ 2) / INR n / mean ^ 2.

Lemma det_ext n : forall M M', (forall i j, (i < n)%nat -> (j < n)%nat -> M i j = M' i j) -> det n M = det n M'.
Proof.
  induction n as [|n IH]; intros M M' H; [reflexivity|]. cbn [det]. apply sum_ext; intros j Hj.
  rewrite (H 0%nat j) by lia. f_equal.
  apply IH. intros i k Hi Hk. apply H; [lia|]. unfold jump. destruct Nat.ltb; lia.
Qed.

Lemma prodf_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> prodf n f = prodf n g.
Proof. induction n; intros H; [reflexivity|]. simpl. rewrite IHn, H by (auto; lia). reflexivity. Qed.
Lemma prodf_jump n (c : vec) j : (j <= n)%nat -> prodf (S n) c = c j * prodf n (fun k => c (jump j k)).
Proof.
  intros Hj. induction n as [|n IH]; [replace j with 0%nat by lia; simpl; ring|].
  destruct (Nat.eq_dec j (S n)) as [->|N].
  - change (prodf (S (S n)) c) with (prodf (S n) c * c (S n)).
    rewrite (prodf_ext (S n) (fun k => c (jump (S n) k)) c); [ring|].
    intros i Hi. unfold jump. destruct (Nat.ltb_spec i (S n)); [reflexivity|lia].
  - change (prodf (S (S n)) c) with (prodf (S n) c * c (S n)). rewrite IH by lia.
    change (prodf (S n) (fun k => c (jump j k))) with (prodf n (fun k => c (jump j k)) * c (jump j n)).
    replace (jump j n) with (S n); [ring|]. unfold jump. destruct (Nat.ltb_spec n j); [lia|reflexivity].
Qed.

(** Rows and columns scaled. *)
Lemma det_scale n : forall (r c : vec) M, det n (fun i j => r i * M i j * c j) = prodf n r * prodf n c * det n M.
Proof.
  induction n as [|n IH]; intros r c M; [simpl; ring|]. cbn [det]. rewrite <- sum_scal. apply sum_ext; intros j Hj.
  rewrite (IH (fun i => r (S i)) (fun k => c (jump j k)) (fun i k => M (S i) (jump j k))).
  rewrite (prodf_jump n c j) by lia. rewrite (prodf_jump n r 0) by lia.
  rewrite (prodf_ext n (fun k => r (jump 0 k)) (fun i => r (S i))) by reflexivity. ring.
Qed.

Lemma prodf_zero n f i : (i < n)%nat -> f i = 0 -> prodf n f = 0.
Proof. induction n; intros Hi E; [lia|]. simpl. destruct (Nat.eq_dec i n) as [->|]; [rewrite E; ring|].
rewrite IHn by (auto; lia). ring. Qed.
Lemma prodf_pos n f : (forall i, (i < n)%nat -> 0 < f i) -> 0 < prodf n f.
Proof. induction n; intros H; simpl; [lra|]. apply Rmult_lt_0_compat; auto. Qed.
Lemma ln_prodf n f : (forall i, (i < n)%nat -> 0 < f i) -> ln (prodf n f) = sum n (fun i => ln (f i)).
Proof. induction n; intros H; simpl; [apply ln_1|]. rewrite ln_mult by (auto; apply prodf_pos; auto).
rewrite IHn by auto. reflexivity. Qed.
Lemma prodf_inv n f : (forall i, (i < n)%nat -> 0 < f i) -> prodf n (fun i => / f i) = / prodf n f.
Proof. induction n; intros H; simpl; [lra|]. rewrite IHn by auto. now rewrite Rinv_mult. Qed.

(** The mean of logarithms is at most the logarithm of the mean. *)
Lemma geometric_mean n (a : vec) : (0 < n)%nat -> (forall i, (i < n)%nat -> 0 < a i) ->
  sum n (fun i => ln (a i)) <= INR n * ln (sum n a / INR n).
Proof.
  intros Hn H. assert (n0 : 0 < INR n) by (now apply lt_0_INR). set (m := sum n a / INR n).
  assert (s0 : 0 < sum n a). { eapply Rlt_le_trans; [apply (H 0%nat Hn)|].
  apply (sum_term_le n a 0%nat); [intros; left; auto|exact Hn]. }
  assert (m0 : 0 < m) by (now apply Rdiv_lt_0_compat).
  apply Rle_trans with (sum n (fun i => ln m + (a i / m - 1))).
  - apply sum_le; intros i Hi. specialize (H i Hi). assert (q0 : 0 < a i / m) by (now apply Rdiv_lt_0_compat).
    replace (a i) with (m * (a i / m)) at 1 by (field; lra). rewrite ln_mult by assumption. apply Rplus_le_compat_l.
    rewrite <- (ln_exp (a i / m - 1)).
    assert (E := exp_ineq1_le (a i / m - 1)). destruct (Rle_lt_or_eq_dec _ _ E) as [L|L]; [left; apply ln_increasing;
      lra|right; f_equal; lra].
  - rewrite sum_plus, sum_const, sum_minus, sum_const. unfold Rdiv. rewrite sum_scal_r. right. unfold m. field. lra.
Qed.

Lemma lengths_positive n d (X : mat) : 0 < det n (gram d X) -> forall i, (i < n)%nat -> 0 < l2 d (X i).
Proof.
  intros D0 i Hi. destruct (Rle_lt_or_eq_dec 0 (l2 d (X i)) (sqrt_pos _)) as [L|L]; [exact L|exfalso].
  assert (G0 : forall j, gram d X i j = 0).
  { intro j. assert (C := dot_le_l2 d (X i) (X j)). rewrite <- L, Rmult_0_l in C. unfold gram.
    assert (P := Rabs_pos (dot d (X i) (X j))). destruct (Req_dec (dot d (X i) (X j)) 0) as [E|E]; [exact E|].
    apply Rabs_pos_lt in E. lra. }
  assert (E := det_scale n (fun k => if Nat.eqb k i then 0 else 1) (fun _ => 1) (gram d X)).
  rewrite (prodf_zero n _ i Hi) in E by (now rewrite Nat.eqb_refl).
  rewrite (det_ext n _ (gram d X)) in E; [lra|]. intros k j _ _.
  destruct (Nat.eqb_spec k i) as [->|]; [rewrite G0|]; ring.
Qed.

Lemma unit_gram n d (X : mat) : (forall i, (i < n)%nat -> 0 < l2 d (X i)) -> let pa := prodf n (fun i => l2 d (X i)) in
  det n (gram d (fun i => sphere d (X i))) = / pa * / pa * det n (gram d X).
Proof.
  intros a0 pa. unfold pa. rewrite <- (prodf_inv n _ a0), <- det_scale. apply det_ext. intros i j Hi Hj.
  unfold gram, dot, sphere. rewrite <- sum_scal, <- sum_scal_r. apply sum_ext; intros; unfold Rdiv; ring.
Qed.

Lemma unit_determinant n d (X : mat) : (forall i, (i < n)%nat -> 0 < l2 d (X i)) -> 0 < det n (gram d X) ->
  0 < det n (gram d (fun i => sphere d (X i))).
Proof.
  intros a0 D0. rewrite unit_gram by exact a0. assert (P := prodf_pos n _ a0).
  apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; now apply Rinv_0_lt_compat|exact D0].
Qed.

Theorem isometry_grows n d (X : mat) : (0 < n)%nat -> 0 < det n (gram d X) ->
  isometry n d X * length_spread n d X <= isometry n d (fun i => sphere d (X i)).
Proof.
  intros Hn D0. assert (n0 : 0 < INR n) by (now apply lt_0_INR). set (a := fun i => l2 d (X i)).
  assert (a2 : forall i, a i * a i = gram d X i i) by (intro; apply sqrt_sqrt, dot_pos).
  assert (a0 : forall i, (i < n)%nat -> 0 < a i) by (apply lengths_positive; exact D0).
  set (pa := prodf n a). assert (pa0 : 0 < pa) by (now apply prodf_pos).
  assert (DS : det n (gram d (fun i => sphere d (X i))) = / pa * / pa * det n (gram d X)).
  { apply unit_gram. exact a0. }
  assert (TS : sum n (fun i => gram d (fun i => sphere d (X i)) i i) = INR n).
  { rewrite <- (Rmult_1_r (INR n)), <- sum_const. apply sum_ext; intros i Hi. assert (A := a0 i Hi).
    unfold gram, dot, sphere. fold (a i).
    rewrite (sum_ext d _ (fun e => / (a i * a i) * (X i e * X i e))) by (intros; field; lra). rewrite sum_scal.
    fold (dot d (X i) (X i)). rewrite a2. unfold gram. apply Rinv_l. fold (gram d X i i). rewrite <- a2. nra. }
  set (s := sum n a). assert (s0 : 0 < s) by (eapply Rlt_le_trans; [apply (a0 0%nat Hn)|];
    apply (sum_term_le n a 0%nat); [intros; left; auto|exact Hn]).
  set (q := sum n (fun i => gram d X i i)). assert (q0 : 0 < q) by (eapply Rlt_le_trans;
    [|apply (sum_term_le n (fun i => gram d X i i) 0%nat); [intros; rewrite <- a2; apply Rle_0_sqr|exact Hn]];
      cbv beta; rewrite <- a2; assert (A := a0 0%nat Hn); nra).
  assert (LS : length_spread n d X = INR n * q / (s * s)).
  { change (1 + sum n (fun i => (a i - s / INR n) ^ 2) / INR n / (s / INR n) ^ 2 = INR n * q / (s * s)).
    rewrite (sum_ext n (fun i => (a i - s / INR n) ^ 2) (fun i => (gram d X i i - 2 * (s / INR n) * a i) + s / INR n *
      (s / INR n))) by (intros; rewrite <- a2; ring).
    rewrite sum_plus, sum_minus, sum_scal, sum_const. fold q. fold s. field. lra. }
  unfold isometry. fold q. rewrite LS, TS, DS. set (D := det n (gram d X)) in *. set (k := / INR n).
  assert (k0 : 0 < k) by (now apply Rinv_0_lt_compat). assert (ip : 0 < / pa * / pa) by (apply Rmult_lt_0_compat;
    now apply Rinv_0_lt_compat).
  rewrite (Rpower_mult_distr _ _ _ ip D0) || rewrite <- (Rpower_mult_distr _ _ _ ip D0).
  assert (P0 : 0 < Rpower D k) by apply exp_pos. replace (INR n / INR n) with 1 by (field; lra).
  assert (K : INR n / s * (INR n / s) <= Rpower (/ pa * / pa) k).
  { assert (GM := geometric_mean n a Hn a0). fold s in GM. rewrite <- (ln_prodf n a a0) in GM. fold pa in GM.
    unfold Rpower. rewrite ln_mult by (now apply Rinv_0_lt_compat). rewrite ln_Rinv by exact pa0.
    assert (m0 : 0 < s / INR n) by (now apply Rdiv_lt_0_compat).
    replace (INR n / s) with (/ (s / INR n)) by (field; lra).
    rewrite <- (exp_ln (/ (s / INR n))) by (now apply Rinv_0_lt_compat). rewrite <- exp_plus, ln_Rinv by exact m0.
    assert (k * ln pa <= ln (s / INR n)) by (apply Rmult_le_reg_l with (INR n); [exact n0|]; unfold k;
      rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra; exact GM).
    destruct (Rle_lt_or_eq_dec (- ln (s / INR n) + - ln (s / INR n)) (k * (- ln pa + - ln pa)) ltac:(lra)) as [L|L];
      [left; now apply exp_increasing|right; now f_equal]. }
  replace (Rpower D k / (q / INR n) * (INR n * q / (s * s))) with (INR n / s * (INR n / s) * Rpower D k) by (field;
    lra).
  unfold Rdiv at 3. rewrite Rinv_1, Rmult_1_r. apply Rmult_le_compat_r; lra.
Qed.
