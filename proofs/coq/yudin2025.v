(** yudin2025:softmax.  Shares p_0 >= p_2 >= p_1', p_2', ... (p_2 bounds all but the first), p >= 0, of sum 1:
    v (diag p - p p^T) v <= p_0 (1 - p_0 + p_2) |v|^2 for all v, so the spectral norm of the derivative of softmax,
      which is semidefinite,
    is at most p_0 (1 - p_0 + p_2) [two_shares]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions.
Local Open Scope R_scope.

Lemma one_term B q p2 w t : 0 <= q <= p2 -> p2 < B -> 2 * t * (q * w) - t * t * (p2 / (B - p2)) * q <= (B - q) * (w *
  w).
Proof.
  intros Hq HB. set (e := B - q). set (K := p2 / (B - p2)). assert (He : 0 < e) by (unfold e; lra).
  assert (HK : q <= K * e).
  { unfold K, e. apply Rmult_le_reg_r with (B - p2); [lra|]. replace (p2 / (B - p2) * (B - q) * (B - p2)) with (p2 * (B
      - q)) by (field; lra). nra. }
  assert (S : 0 <= e * ((w - t * q / e) * (w - t * q / e))) by (apply Rmult_le_pos; [lra|apply Rle_0_sqr]).
  replace (e * ((w - t * q / e) * (w - t * q / e))) with (e * (w * w) - 2 * t * (q * w) + t * t * (q * (q / e))) in S
    by (field; lra).
  assert (Q : q / e <= K) by (apply Rmult_le_reg_r with e; [lra|]; replace (q / e * e) with q by (field; lra); lra).
  assert (0 <= t * t) by apply Rle_0_sqr. assert (q * (q / e) <= q * K) by (apply Rmult_le_compat_l; lra).
  assert (t * t * (q * (q / e)) <= t * t * (q * K)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Theorem two_shares k (p v : vec) p2 : (forall i, (i < S k)%nat -> 0 <= p i) -> sum (S k) p = 1 ->
  (forall i, (i < k)%nat -> p (S i) <= p2) -> 0 <= p2 <= p 0%nat ->
  sum (S k) (fun i => p i * (v i * v i)) - sum (S k) (fun i => p i * v i) * sum (S k) (fun i => p i * v i)
  <= p 0%nat * (1 - p 0%nat + p2) * sum (S k) (fun i => v i * v i).
Proof.
  intros H0 H1 H2 H3. rewrite !sum_head in *. set (a := p 0%nat) in *. set (x := v 0%nat).
  set (s := sum k (fun j => p (S j) * v (S j))). set (W := sum k (fun j => v (S j) * v (S j))).
  set (D := sum k (fun j => p (S j) * (v (S j) * v (S j)))).
  set (q := sum k (fun j => p (S j))) in *. assert (Ha : 0 <= a) by (apply H0; lia).
  assert (Q : forall j, (j < k)%nat -> 0 <= p (S j) <= p2) by (intros j Hj; split; [apply H0; lia|now apply H2]).
  assert (Hq : 0 <= q) by (apply sum_nonneg; intros j Hj; now apply Q).
  assert (HW : 0 <= W) by (apply sum_nonneg; intros; apply Rle_0_sqr).
  assert (HD : D <= p2 * W).
  { unfold D, W. rewrite <- sum_scal. apply sum_le. intros j Hj.
    apply Rmult_le_compat_r; [apply Rle_0_sqr|now apply Q]. }
  assert (Sq : 0 <= (a * x + s) * (a * x + s)) by apply Rle_0_sqr. assert (X2 : 0 <= x * x) by apply Rle_0_sqr.
  destruct (Req_dec a p2) as [E|E]; [replace (a * (1 - a + p2)) with a by (rewrite <- E; ring); rewrite <- E in HD;
    lra|].
  assert (Hlt : p2 < a) by lra. destruct (Req_dec a 1) as [E1|E1].
  { assert (Zq : q = 0) by lra. assert (Z : forall j, (j < k)%nat -> p (S j) = 0).
    { intros j Hj. assert (T := sum_term_le k (fun j => p (S j)) j). cbv beta in T.
      assert (p (S j) <= q) by (apply T; [intros i Hi; now apply Q|exact Hj]).
      assert (B := Q j Hj). lra. }
    assert (s = 0) by (unfold s; rewrite (sum_ext k _ (fun _ => 0)); [apply sum_zero|intros j Hj;
      rewrite Z by exact Hj; ring]).
    assert (D = 0) by (unfold D; rewrite (sum_ext k _ (fun _ => 0)); [apply sum_zero|intros j Hj;
      rewrite Z by exact Hj; ring]).
    rewrite E1, H, H4. assert (0 <= p2 * (x * x + W)) by (apply Rmult_le_pos; lra). nra. }
  assert (a < 1) by lra. set (B := a * (1 - a + p2)). assert (B2 : B - p2 = (1 - a) * (a - p2)) by (unfold B; ring).
  assert (HB : p2 < B) by (enough (0 < B - p2) by lra; rewrite B2; apply Rmult_lt_0_compat; lra).
  assert (B1 : B - a = - (a * (a - p2))) by (unfold B; ring).
  assert (Key : forall t, 2 * t * s - t * t * (p2 / (B - p2)) * (1 - a) <= B * W - D).
  { intros t. replace (1 - a) with q by lra. unfold s, W, D, q. rewrite <- !sum_scal, <- !sum_minus. apply sum_le.
    intros j Hj.
    assert (T := one_term B (p (S j)) p2 (v (S j)) t (Q j Hj) HB). lra. }
  assert (KK : forall t, t * t * (p2 / (B - p2)) * (1 - a) = t * t * (p2 / (a - p2))) by (intro t; rewrite B2; field;
    lra).
  destruct (Req_dec p2 0) as [P0|P0].
  - assert (K := Key (s * a)). rewrite KK, P0 in K. replace (s * a * (s * a) * (0 / (a - 0))) with 0 in K by (field;
      lra).
    assert (s = 0). { unfold s. rewrite (sum_ext k _ (fun _ => 0)); [apply sum_zero|]. intros j Hj.
    assert (Z := Q j Hj). replace (p (S j)) with 0 by lra. ring. }
    rewrite H4 in *. rewrite P0 in B1. nra.
  - assert (K := Key (s * (a - p2) / p2)). rewrite KK in K.
    replace (2 * (s * (a - p2) / p2) * s - s * (a - p2) / p2 * (s * (a - p2) / p2) * (p2 / (a - p2))) with ((a - p2) /
      p2 * (s * s)) in K by (field; lra).
    assert (F : 0 <= a / p2 * ((p2 * x + s) * (p2 * x + s))) by (apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat;
      lra|apply Rle_0_sqr]).
    replace (a / p2 * ((p2 * x + s) * (p2 * x + s))) with ((B - a) * (x * x) + (a - p2) / p2 * (s * s) + (a * x + s) *
      (a * x + s)) in F by (rewrite B1; field; lra).
    lra.
Qed.
