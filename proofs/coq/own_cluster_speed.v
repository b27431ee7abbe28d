(** own:cluster-speed.  n unit tokens u_j whose cosines are 1 - delta at least, weights a_jk of rows that sum to one
  and
    with |n a_jk - 1| <= e - 1 [near_uniform], speeds 1/s_j.  Under u_j' = (A_j - <A_j, u_j> u_j)/s_j, A_j = sum_k
      a_jk u_k,
    the variance about the mean falls by [fall], which lies between 2 Var ((1 - 3 delta/2)/s+ - (e - 1)/s-) and 2 Var
      e/s-
    [cluster_speed]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms Functions Softmax.
Local Open Scope R_scope.

(** Weights of logits that differ by w at most. *)
Lemma near_uniform n (l : vec) w k : (k < n)%nat -> (forall i j, (i < n)%nat -> (j < n)%nat -> l i - l j <= w) ->
  Rabs (INR n * softmax n (fun _ => 1) l k - 1) <= exp w - 1.
Proof.
  intros Hk H. unfold softmax, tilt. set (Z := sum n (fun j => 1 * exp (l j))). assert (n0 : 0 < INR n) by (apply
    lt_0_INR; lia).
  assert (w0 : 0 <= w) by (specialize (H k k Hk Hk); lra). assert (e1 : 1 <= exp w) by (rewrite <- exp_0; now apply
    exp_le).
  assert (Zl : INR n * (exp (- w) * exp (l k)) <= Z).
  { rewrite <- sum_const. apply sum_le. intros j Hj. rewrite Rmult_1_l, <- exp_plus. apply exp_le. specialize (H k j
    Hk Hj). lra. }
  assert (Zu : Z <= INR n * (exp w * exp (l k))).
  { rewrite <- sum_const. apply sum_le. intros j Hj. rewrite Rmult_1_l, <- exp_plus. apply exp_le. specialize (H j k
    Hj Hk). lra. }
  assert (Ek := exp_pos (l k)). assert (Ew := exp_pos (- w)). assert (EE : exp w * exp (- w) = 1) by (rewrite <-
    exp_plus, Rplus_opp_r; apply exp_0).
  assert (Z0 : 0 < Z) by (eapply Rlt_le_trans; [|exact Zl]; repeat apply Rmult_lt_0_compat; assumption).
  set (x := INR n * (1 * exp (l k) / Z)). assert (X : x * Z = INR n * exp (l k)) by (unfold x; field; lra).
  assert (Up : x <= exp w).
  { apply Rmult_le_reg_r with Z; [exact Z0|]. rewrite X. replace (INR n * exp (l k)) with (exp w * (INR n * (exp (-
    w) * exp (l k)))).
    - apply Rmult_le_compat_l; lra.
    - transitivity (exp w * exp (- w) * (INR n * exp (l k))); [ring|rewrite EE; ring]. }
  assert (Lo : exp (- w) <= x).
  { apply Rmult_le_reg_r with Z; [exact Z0|]. rewrite X. replace (INR n * exp (l k)) with (exp (- w) * (INR n * (exp
    w * exp (l k)))).
    - apply Rmult_le_compat_l; lra.
    - transitivity (exp w * exp (- w) * (INR n * exp (l k))); [ring|rewrite EE; ring]. }
  assert (2 - exp w <= exp (- w)) by nra. apply Rabs_le. lra.
Qed.

Section Cluster.
Variables (n d : nat) (U a : mat) (s : vec) (delta e smin smax : R).
Hypothesis n0 : (0 < n)%nat.
Hypothesis unit : forall i, (i < n)%nat -> dot d (U i) (U i) = 1.
Hypothesis close : forall i j, (i < n)%nat -> (j < n)%nat -> 1 - dot d (U i) (U j) <= delta.
Hypothesis rows : forall j, (j < n)%nat -> sum n (a j) = 1.
Hypothesis near : forall j k, (j < n)%nat -> (k < n)%nat -> Rabs (INR n * a j k - 1) <= e - 1.
Hypothesis speeds : forall j, (j < n)%nat -> smin <= s j <= smax.
Hypothesis s0 : 0 < smin.

Let N := INR n.
Let M : vec := fun b => sum n (fun k => U k b) / N.
Let r (j : nat) : R := l2 d (vsub (U j) M).
Definition var : R := sum n (fun j => dot d (vsub (U j) M) (vsub (U j) M)) / N.
Let A (j : nat) : vec := fun b => sum n (fun k => a j k * U k b).
Let c (j : nat) : R := dot d M (U j).
Let p (j : nat) : vec := fun b => M b - c j * U j b.
(** Minus the derivative of the variance: 2/n sum_j <m, P_j A_j>/s_j. *)
Definition fall : R := 2 / N * sum n (fun j => dot d M (fun b => A j b - dot d (A j) (U j) * U j b) / s j).

Lemma N_pos : 0 < N.
Proof. apply lt_0_INR. lia. Qed.

Lemma mean_dot v : dot d M v = sum n (fun k => dot d (U k) v) / N.
Proof.
  unfold dot, M. unfold Rdiv. rewrite (sum_ext d _ (fun b => / N * sum n (fun k => U k b * v b))).
  - rewrite sum_scal, sum_swap. ring.
  - intros b _. rewrite sum_scal_r. ring.
Qed.

Lemma c_mean : sum n c = N * dot d M M.
Proof.
  assert (Q := N_pos). rewrite (mean_dot M). unfold c. rewrite (sum_ext n _ (fun k => dot d (U k) M)) by (intros;
    apply dot_sym).
  field. lra.
Qed.

Lemma r_square j : (j < n)%nat -> dot d (vsub (U j) M) (vsub (U j) M) = 1 - 2 * c j + dot d M M.
Proof.
  intros Hj. transitivity (dot d (U j) (U j) - 2 * dot d M (U j) + dot d M M); [|rewrite unit by exact Hj; unfold c;
    ring].
  unfold dot, vsub. rewrite <- !sum_scal, <- sum_minus, <- sum_plus. apply sum_ext. intros; ring.
Qed.

Lemma var_mean : var = 1 - dot d M M.
Proof.
  assert (Q := N_pos). unfold var. rewrite (sum_ext n _ (fun j => (1 + dot d M M) - 2 * c j)) by (intros j Hj;
    rewrite r_square by exact Hj; ring).
  rewrite sum_minus, sum_scal, c_mean, sum_const. fold N. field. lra.
Qed.

Lemma c_close j : (j < n)%nat -> 1 - c j <= delta.
Proof.
  intros Hj. assert (Q := N_pos). unfold c. rewrite mean_dot. apply Rmult_le_reg_l with N; [exact Q|].
  replace (N * (1 - sum n (fun k => dot d (U k) (U j)) / N)) with (sum n (fun k => 1 - dot d (U k) (U j))) by
    (rewrite sum_minus, sum_const; fold N; field; lra).
  unfold N. rewrite <- sum_const. apply sum_le. intros k Hk. now apply close.
Qed.

Lemma var_close : 0 <= var <= delta.
Proof.
  assert (Q := N_pos). split.
  - unfold var. apply Rmult_le_pos; [apply sum_nonneg; intros; apply dot_pos|]. apply Rlt_le, Rinv_0_lt_compat, Q.
  - rewrite var_mean. apply Rmult_le_reg_l with N; [exact Q|]. replace (N * (1 - dot d M M)) with (sum n (fun j => 1
    - c j)) by
      (rewrite sum_minus, sum_const, c_mean; fold N; ring).
    unfold N. rewrite <- sum_const. apply sum_le. intros j Hj. now apply c_close.
Qed.

Lemma r_sq j : r j * r j = dot d (vsub (U j) M) (vsub (U j) M).
Proof. apply sqrt_sqrt, dot_pos. Qed.

Lemma r_c j : (j < n)%nat -> r j * r j = 2 * (1 - c j) - var.
Proof. intros Hj. rewrite r_sq, r_square, var_mean by exact Hj. ring. Qed.

Lemma p_dot j v : dot d (p j) v = dot d M v - c j * dot d (U j) v.
Proof. unfold p, dot. rewrite <- sum_scal, <- sum_minus. apply sum_ext. intros; ring. Qed.

Lemma p_square j : (j < n)%nat -> dot d (p j) (p j) = dot d M M - c j * c j.
Proof.
  intros Hj. rewrite p_dot, (dot_sym d M (p j)), (dot_sym d (U j) (p j)), !p_dot, unit, (dot_sym d (U j) M) by exact
    Hj. fold (c j). ring.
Qed.

Lemma p_le j : (j < n)%nat -> l2 d (p j) <= r j.
Proof.
  intros Hj. apply sqrt_le_1_alt. rewrite p_square, r_square by exact Hj. assert (Q := pow2_ge_0 (1 - c j)). nra.
Qed.

Lemma p_along j : (j < n)%nat -> dot d M (fun b => A j b - dot d (A j) (U j) * U j b) = dot d (p j) (A j).
Proof.
  intros Hj. rewrite p_dot, (dot_sym d (U j)). unfold c, dot at 1. rewrite (sum_ext d _ (fun b => M b * A j b - dot d
    (A j) (U j) * (M b * U j b))) by (intros; ring).
  rewrite sum_minus, sum_scal. fold (dot d M (A j)). fold (dot d M (U j)). ring.
Qed.

(** A_j is the mean but for deviations that are small against those of the tokens. *)
Lemma p_off j : (j < n)%nat -> Rabs (dot d (p j) (A j) - dot d (p j) (p j)) <= (e - 1) / N * (r j * sum n r).
Proof.
  intros Hj. assert (Q := N_pos). replace (dot d (p j) (A j) - dot d (p j) (p j)) with (sum n (fun k => (a j k - / N)
    * dot d (p j) (vsub (U k) M))).
  - eapply Rle_trans; [apply sum_abs|]. replace ((e - 1) / N * (r j * sum n r)) with (sum n (fun k => (e - 1) / N *
    (r j * r k))) by
      (rewrite sum_scal, sum_scal; ring).
    apply sum_le. intros k Hk. rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos.
    + replace (a j k - / N) with ((N * a j k - 1) / N) by (field; lra). unfold Rdiv. rewrite Rabs_mult, (Rabs_right
      (/ N)) by
        (apply Rle_ge, Rlt_le, Rinv_0_lt_compat, Q). apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, Q|].
          now apply near.
    + eapply Rle_trans; [apply dot_le_l2|]. apply Rmult_le_compat_r; [apply sqrt_pos|now apply p_le].
  - assert (V : forall k, dot d (p j) (vsub (U k) M) = dot d (p j) (U k) - dot d (p j) M) by
      (intros k; unfold dot, vsub; rewrite <- sum_minus; apply sum_ext; intros; ring).
    rewrite (sum_ext n _ (fun k => a j k * dot d (p j) (U k) - dot d (p j) M * a j k - / N * dot d (p j) (U k) + / N
      * dot d (p j) M)) by
      (intros k _; rewrite V; ring).
    rewrite sum_plus, !sum_minus, !sum_scal, sum_const, rows by exact Hj. fold N.
    assert (E1 : sum n (fun k => a j k * dot d (p j) (U k)) = dot d (p j) (A j)).
    { unfold A, dot. rewrite (sum_ext d (fun b => p j b * sum n (fun k => a j k * U k b)) (fun b => sum n (fun k => a
      j k * (p j b * U k b)))).
      - rewrite sum_swap. apply sum_ext. intros k _. now rewrite sum_scal.
      - intros b _. rewrite <- sum_scal. apply sum_ext. intros; ring. }
    assert (E2 : / N * sum n (fun k => dot d (p j) (U k)) = dot d (p j) M).
    { rewrite (dot_sym d (p j) M), mean_dot. rewrite (sum_ext n _ (fun k => dot d (U k) (p j))) by (intros; apply
      dot_sym). field. lra. }
    rewrite E1, E2. assert (E3 : dot d (p j) M = dot d (p j) (p j)) by (rewrite p_square, p_dot, (dot_sym d (U j) M)
      by exact Hj; fold (c j); ring).
    rewrite E3. field. lra.
Qed.

Lemma r_mean : sum n r * sum n r <= N * (N * var).
Proof.
  assert (Q := N_pos). assert (H := cauchy_schwarz n r (fun _ => 1)). unfold dot in H.
  rewrite (sum_ext n (fun j => r j * 1) r) in H by (intros; ring). rewrite (sum_ext n (fun _ => 1 * 1) (fun _ => 1))
    in H by (intros; ring).
  rewrite sum_const, Rmult_1_r in H. fold N in H. replace (N * var) with (sum n (fun j => r j * r j)); [lra|].
  unfold var. rewrite (sum_ext n _ (fun j => dot d (vsub (U j) M) (vsub (U j) M))) by (intros; apply r_sq). field.
    lra.
Qed.

(** The mean of |p_j|^2. *)
Lemma p_mean : N * (var * (1 - 3 / 2 * delta)) <= sum n (fun j => dot d (p j) (p j)) <= N * var.
Proof.
  assert (Q := N_pos). assert (B := var_close).
  assert (R2 : sum n (fun j => r j * r j) = N * var).
  { unfold var. rewrite (sum_ext n _ (fun j => dot d (vsub (U j) M) (vsub (U j) M))) by (intros; apply r_sq). field.
    lra. }
  split.
  - (* |p_j|^2 = 1 - Var - (1 - (Var + r_j^2)/2)^2 *)
    rewrite (sum_ext n _ (fun j => r j * r j - (1 / 4 * var * var + 1 / 2 * var * (r j * r j) + 1 / 4 * (r j * r j) *
      (r j * r j)))).
    + assert (L : sum n (fun j => r j * r j * (1 - 1 / 2 * var - 1 / 2 * delta) - 1 / 4 * var * var) <=
        sum n (fun j => r j * r j - (1 / 4 * var * var + 1 / 2 * var * (r j * r j) + 1 / 4 * (r j * r j) * (r j * r
          j)))).
      { apply sum_le. intros j Hj. assert (C := c_close j Hj). assert (E := r_c j Hj). assert (P : 0 <= r j * r j) by
        (rewrite r_sq; apply dot_pos).
        assert (r j * r j <= 2 * delta) by lra. nra. }
      eapply Rle_trans; [|exact L]. rewrite sum_minus, sum_scal_r, sum_const, R2. fold N.
      assert (0 <= N * var) by (apply Rmult_le_pos; lra). nra.
    + intros j Hj. rewrite p_square by exact Hj. assert (E := r_c j Hj). assert (V := var_mean). replace (c j) with
      (1 - (var + r j * r j) / 2) by lra.
      replace (dot d M M) with (1 - var) by lra. field.
  - rewrite <- R2. apply sum_le. intros j Hj. assert (H := p_le j Hj). rewrite <- (sqrt_sqrt (dot d (p j) (p j))
    (dot_pos _ _)).
    fold (l2 d (p j)). assert (0 <= l2 d (p j)) by apply sqrt_pos. apply Rmult_le_compat; assumption.
Qed.

Theorem cluster_speed : 0 <= 1 - 3 / 2 * delta ->
  2 * var * ((1 - 3 / 2 * delta) / smax - (e - 1) / smin) <= fall <= 2 * var * (e / smin).
Proof.
  intros D1. assert (Q := N_pos). assert (B := var_close). assert (Pm := p_mean). assert (Rm := r_mean).
  assert (e1 : 1 <= e). { assert (H := near 0 0 n0 n0). assert (0 <= Rabs (INR n * a 0%nat 0%nat - 1)) by apply
    Rabs_pos. lra. }
  assert (S1 : smin <= smax) by (destruct (speeds 0%nat n0); lra).
  assert (i0 : 0 < / smin) by now apply Rinv_0_lt_compat. assert (i1 : 0 < / smax) by (apply Rinv_0_lt_compat; lra).
  set (F := sum n (fun j => dot d M (fun b => A j b - dot d (A j) (U j) * U j b) / s j)).
  set (T := (e - 1) / N * (sum n r * sum n r)).
  assert (T0 : 0 <= T <= (e - 1) * (N * var)).
  { unfold T. split; [apply Rmult_le_pos; [apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat, Q]|apply
    Rle_0_sqr]|].
    apply Rle_trans with ((e - 1) / N * (N * (N * var))); [apply Rmult_le_compat_l; [apply Rmult_le_pos; [lra|apply
      Rlt_le, Rinv_0_lt_compat, Q]|exact Rm]|].
    right. field. lra. }
  assert (Each : forall j, (j < n)%nat -> dot d (p j) (p j) * / smax - (e - 1) / N * (r j * sum n r) * / smin <=
    dot d M (fun b => A j b - dot d (A j) (U j) * U j b) / s j <= (dot d (p j) (p j) + (e - 1) / N * (r j * sum n r))
      * / smin).
  { intros j Hj. rewrite p_along by exact Hj. assert (O := p_off j Hj). assert (P0 := dot_pos d (p j)). destruct
    (speeds j Hj) as [L H].
    assert (I1 : / smax <= / s j) by (apply Rinv_le_contravar; lra). assert (I2 : / s j <= / smin) by (apply
      Rinv_le_contravar; lra).
    set (x := dot d (p j) (p j)) in *. set (t := (e - 1) / N * (r j * sum n r)) in *. set (y := dot d (p j) (A j)) in
      *.
    assert (t0 : 0 <= t) by (eapply Rle_trans; [apply Rabs_pos|exact O]). assert (Y : x - t <= y <= x + t) by (unfold
      Rabs in O; destruct Rcase_abs in O; lra).
    unfold Rdiv. clearbody x t y. split.
    - apply Rle_trans with ((x - t) * / s j); [|apply Rmult_le_compat_r; lra]. assert (x * / smax <= x * / s j) by
      (apply Rmult_le_compat_l; lra).
      assert (t * / s j <= t * / smin) by (apply Rmult_le_compat_l; lra). lra.
    - apply Rle_trans with ((x + t) * / s j); [apply Rmult_le_compat_r; lra|]. apply Rmult_le_compat_l; lra. }
  assert (Lo : sum n (fun j => dot d (p j) (p j)) * / smax - T * / smin <= F).
  { replace (sum n (fun j => dot d (p j) (p j)) * / smax - T * / smin) with (sum n (fun j => dot d (p j) (p j) * /
    smax - (e - 1) / N * (r j * sum n r) * / smin)).
    - apply sum_le. intros j Hj. now apply Each.
    - rewrite sum_minus, !sum_scal_r, sum_scal, sum_scal_r. unfold T. ring. }
  assert (Up : F <= (sum n (fun j => dot d (p j) (p j)) + T) * / smin).
  { replace ((sum n (fun j => dot d (p j) (p j)) + T) * / smin) with (sum n (fun j => (dot d (p j) (p j) + (e - 1) /
    N * (r j * sum n r)) * / smin)).
    - apply sum_le. intros j Hj. now apply Each.
    - rewrite sum_scal_r, sum_plus, sum_scal, sum_scal_r. unfold T. ring. }
  unfold fall. fold F. split.
  - apply Rmult_le_reg_l with (N / 2); [lra|]. replace (N / 2 * (2 / N * F)) with F by (field; lra). eapply
    Rle_trans; [|exact Lo].
    apply Rle_trans with (N * (var * (1 - 3 / 2 * delta)) * / smax - (e - 1) * (N * var) * / smin); [right; field;
      lra|].
    assert (N * (var * (1 - 3 / 2 * delta)) * / smax <= sum n (fun j => dot d (p j) (p j)) * / smax) by (apply
      Rmult_le_compat_r; lra).
    assert (T * / smin <= (e - 1) * (N * var) * / smin) by (apply Rmult_le_compat_r; lra). lra.
  - apply Rmult_le_reg_l with (N / 2); [lra|]. replace (N / 2 * (2 / N * F)) with F by (field; lra). eapply
    Rle_trans; [exact Up|].
    apply Rle_trans with ((N * var + (e - 1) * (N * var)) * / smin); [apply Rmult_le_compat_r; lra|]. right; field;
      lra.
Qed.
End Cluster.
