(** velickovic2024:2.2, own:dispersion, geshkovski2023:orthogonal, geshkovski2023:step, own:late.  What each is
    stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms seed_closure Softmax own_flow_step.
Local Open Scope R_scope.

(** velickovic2024:2.2 and own:dispersion.  A softmax over n keys whose logits differ by at most D has all its entries
  between
    1/(1 + (n-1) e^D) and e^D/(e^D + n - 1) [dispersion]; so between e^-D/n and e^D/n [velickovic_2_2]. *)

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

(** geshkovski2023:orthogonal.  m tokens on the sphere whose cosines are all gamma,
  moving by dx_i/dt = sum_k P_ik (x_k - <x_k, x_i> x_i), P = softmax(beta <x_i, x_k>):
    every cosine moves by 2 rho (1 - gamma)((m - 1) gamma + 1)/(1 + (m - 1) rho),
      rho = e^(-beta (1 - gamma))  [equiangular_flow].  The tokens stay equiangular, and
    the flow is one equation for gamma. *)

Theorem equiangular_flow m d (x : mat) beta gamma i j : (i < m)%nat -> (j < m)%nat -> i <> j ->
  (forall a b, (a < m)%nat -> (b < m)%nat -> dot d (x a) (x b) = if Nat.eqb a b then 1 else gamma) ->
  let P a := softmax m (fun _ => 1) (fun b => beta * dot d (x a) (x b)) in
  let speed a e := sum m (fun k => P a k * (x k e - dot d (x k) (x a) * x a e)) in
  let rho := exp (- (beta * (1 - gamma))) in
  dot d (speed i) (x j) + dot d (x i) (speed j) = 2 * rho * (1 - gamma) * ((INR m - 1) * gamma + 1) / (1 + (INR m - 1)
    * rho).
Proof.
  intros Hi Hj Ne C P speed rho. assert (m1 : 1 <= INR m) by (apply (le_INR 1); lia).
  assert (rp : 0 < rho) by apply exp_pos. set (Z := 1 + (INR m - 1) * rho).
  assert (Zp : 0 < Z) by (unfold Z; assert (0 <= (INR m - 1) * rho) by (apply Rmult_le_pos; lra); lra).
  assert (Ce : forall a b, (a < m)%nat -> (b < m)%nat -> dot d (x a) (x b) = gamma + eye a b * (1 - gamma)) by (intros
    a b Ha Hb; rewrite C by assumption; unfold eye; destruct Nat.eqb; ring).
  assert (Ex : forall a k, (a < m)%nat -> (k < m)%nat -> exp (beta * dot d (x a) (x k)) = exp beta * (rho + eye a k *
    (1 - rho))).
  { intros a k Ha Hk. rewrite C by assumption. unfold eye. destruct Nat.eqb; [rewrite Rmult_1_r; ring|]. unfold rho.
    rewrite Rmult_0_l, Rplus_0_r, <- exp_plus. f_equal. ring. }
  assert (PE : forall a k, (a < m)%nat -> (k < m)%nat -> P a k = (rho + eye a k * (1 - rho)) / Z).
  { intros a k Ha Hk. unfold P, softmax, tilt. rewrite Rmult_1_l, Ex by assumption.
    rewrite (sum_ext m _ (fun k => exp beta * (rho + eye a k * (1 - rho)))) by (intros; rewrite Rmult_1_l;
      now apply Ex). rewrite sum_scal, sum_plus, sum_const, (sum_eye m a (fun _ => 1 - rho) Ha).
    assert (B := exp_pos beta). unfold Z. replace (INR m * rho + (1 - rho)) with (1 + (INR m - 1) * rho) by ring.
    fold Z. field. lra. }
  assert (Sp : forall a b, (a < m)%nat -> (b < m)%nat -> a <> b ->
    dot d (speed a) (x b) = rho * (1 - gamma) * ((INR m - 1) * gamma + 1) / Z).
  { intros a b Ha Hb Nab. unfold dot at 1, speed.
    rewrite (sum_ext d _ (fun e => sum m (fun k => P a k * (x k e * x b e - dot d (x k) (x a) * (x a e * x b e))))) by
      (intros; rewrite <- sum_scal_r; apply sum_ext; intros; ring).
    rewrite sum_swap. rewrite (sum_ext m _ (fun k => / Z * (1 - gamma) * ((gamma * (rho + eye a k * (1 - rho))) + (eye
      b k * (rho + eye a k * (1 - rho)) - gamma * (eye a k * (rho + eye a k * (1 - rho))))))).
    - rewrite sum_scal, sum_plus, sum_minus, !sum_scal, sum_plus, sum_const, (sum_eye m a (fun _ => 1 - rho) Ha),
        (sum_eye m b (fun k => rho + eye a k * (1 - rho)) Hb), (sum_eye m a (fun k => rho + eye a k * (1 - rho)) Ha).
      assert (eye a a = 1) as -> by (unfold eye; now rewrite Nat.eqb_refl).
      assert (eye a b = 0) as -> by (unfold eye; destruct (Nat.eqb_spec a b); [congruence|reflexivity]). field. lra.
    - intros k Hk. rewrite sum_scal, sum_minus, (sum_scal d (dot d (x k) (x a))).
      fold (dot d (x k) (x b)) (dot d (x a) (x b)). rewrite PE, !Ce by assumption.
      assert (eye a b = 0) as -> by (unfold eye; destruct (Nat.eqb_spec a b); [congruence|reflexivity]).
      assert (Sy : forall u w, eye u w = eye w u) by (intros; unfold eye; now rewrite Nat.eqb_sym).
      rewrite (Sy k b), (Sy k a). field. lra. }
  rewrite (dot_sym d (x i)), (Sp i j Hi Hj Ne), (Sp j i Hj Hi ltac:(congruence)). field. lra.
Qed.

(** geshkovski2023:step, as we read it.  n tokens on the sphere with the cosines C, least cosine alpha >= 1/2,
  moving by dx_i/dt = sum_k P_ik (x_k - C_ki x_i),
    P = softmax(beta C), beta >= 0: on every pair with the least cosine d<x_i,
      x_j>/dt >= (1 - alpha)/(2 n e^(2 beta))  [flow_step_read].  No summand is
    negative, and the one of k = j alone is enough. *)

Theorem flow_step_read n (C : mat) beta i j : cosines n C -> least_pair n C i j -> 1 / 2 <= C i j -> 0 <= beta ->
  closing n (fun a => softmax n (fun _ => 1) (fun b => beta * C a b)) C i j >= (1 - C i j) / (2 * INR n * exp (2 *
    beta)).
Proof.
  intros [S [D B]] [Hi [Hj Least]] Half B0. apply Rle_ge. set (P := fun a => softmax n (fun _ => 1) (fun b => beta * C
    a b)). unfold closing.
  assert (Le : forall a b, (a < n)%nat -> (b < n)%nat -> -1 <= C a b <= 1) by (intros a b Ha Hb;
    specialize (B a b Ha Hb); unfold Rabs in B; destruct Rcase_abs; lra).
  set (e := exp (- (2 * beta)) / INR n). assert (n0 : 0 < INR n) by (apply lt_0_INR; lia).
  assert (e0 : 0 < e) by (apply Rdiv_lt_0_compat; [apply exp_pos|exact n0]).
  assert (V : forall a k, (a < n)%nat -> (k < n)%nat -> e <= P a k).
  { intros a k Ha Hk. apply (velickovic_2_2 n (fun b => beta * C a b) (2 * beta) k Hk). intros b b' Hb Hb'.
    assert (X := Le a b Ha Hb). assert (X' := Le a b' Ha Hb'). nra. }
  assert (G : forall a b, (a < n)%nat -> (b < n)%nat -> C a b = C i j ->
    e * ((1 - C i j) / 2) <= sum n (fun k => P a k * (C k b - C k a * C i j))).
  { intros a b Ha Hb E. eapply Rle_trans; [|apply (sum_term_le n (fun k => P a k * (C k b - C k a * C i j)) b);
      [|exact Hb]].
    - cbv beta. rewrite (D b Hb), (S b a Hb Ha), E. assert (X := Le i j Hi Hj).
      apply Rmult_le_compat; [lra|lra|now apply V|nra].
    - intros k Hk. apply Rmult_le_pos; [specialize (V a k Ha Hk); lra|]. assert (X := Le k a Hk Ha).
      assert (X' := Least k b Hk Hb). nra. }
  assert (G1 := G i j Hi Hj eq_refl). assert (G2 := G j i Hj Hi (S j i Hj Hi)). assert (X := Le i j Hi Hj).
  assert (0 <= e * ((1 - C i j) / 2)) by (apply Rmult_le_pos; lra).
  replace ((1 - C i j) / (2 * INR n * exp (2 * beta))) with (e * ((1 - C i j) / 2)) by (unfold e; rewrite exp_Ropp;
    field; split; [apply Rgt_not_eq, exp_pos|lra]). lra.
Qed.

(** own:late.  gamma is the common cosine of m orthogonal tokens under attention: gamma 0 = 0 and gamma' = 2 (1 -
  gamma) (1 + (m-1) gamma) /
    (e^(beta (1 - gamma)) + m - 1).  From the time s = (e^beta + m - 1)/3 on 1 - gamma <=
      e^(-(m+1)(t-s)/(m-1+e^(beta/2)))/2. *)

Lemma grows (f df : R -> R) a b : a <= b -> (forall t, a <= t <= b -> is_derive f t (df t)) ->
  (forall t, a <= t <= b -> 0 <= df t) -> f a <= f b.
Proof.
  intros Hab D P. destruct (MVT_gen f a b df) as (c & Hc & E).
  - intros t Ht. rewrite Rmin_left, Rmax_right in Ht by lra. apply D. lra.
  - intros t Ht. rewrite Rmin_left, Rmax_right in Ht by lra. apply continuity_pt_filterlim, (ex_derive_continuous f t).
    exists (df t). apply D. lra.
  - rewrite Rmin_left, Rmax_right in Hc by lra. specialize (P c Hc). nra.
Qed.

Section Late.
Variables (m beta : R) (gamma : R -> R).
Hypothesis Hm : 2 <= m.
Hypothesis Hb : 0 <= beta.
Let F (g : R) : R := 2 * (1 - g) * (1 + (m - 1) * g) / (exp (beta * (1 - g)) + m - 1).
Hypothesis start : gamma 0 = 0.
Hypothesis between : forall t, 0 <= t -> 0 <= gamma t < 1.
Hypothesis flow : forall t, 0 <= t -> is_derive gamma t (F (gamma t)).
Let s : R := (exp beta + m - 1) / 3.
Let k : R := (m + 1) / (m - 1 + exp (beta / 2)).

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [H | ->]; [left; now apply exp_increasing | lra]. Qed.
Lemma F_pos g : 0 <= g < 1 -> 0 <= F g.
Proof. intros H. unfold F. assert (E := exp_pos (beta * (1 - g))). apply Rdiv_le_0_compat; [|lra].
apply Rmult_le_pos; nra. Qed.
Lemma F_early g : 0 <= g <= / 2 -> 1 / 2 / s <= F g.
Proof.
  intros H. unfold F, s. assert (E0 := exp_pos (beta * (1 - g))). assert (E1 := exp_pos beta).
  assert (E : exp (beta * (1 - g)) <= exp beta) by (apply exp_le; nra).
  replace (1 / 2 / ((exp beta + m - 1) / 3)) with (3 / 2 / (exp beta + m - 1)) by (field; lra).
  apply Rle_trans with (3 / 2 / (exp (beta * (1 - g)) + m - 1)).
  - apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
  - apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. assert (A : g <= (m - 1) * g) by nra.
    assert (B : (1 - g) * (1 + g) <= (1 - g) * (1 + (m - 1) * g)) by (apply Rmult_le_compat_l; lra). nra.
Qed.
Lemma F_later g : / 2 <= g < 1 -> k * (1 - g) <= F g.
Proof.
  intros H. unfold F, k. assert (E0 := exp_pos (beta * (1 - g))). assert (E1 := exp_pos (beta / 2)).
  assert (E : exp (beta * (1 - g)) <= exp (beta / 2)) by (apply exp_le; nra).
  apply Rle_trans with ((m + 1) * (1 - g) / (exp (beta * (1 - g)) + m - 1)).
  - replace ((m + 1) / (m - 1 + exp (beta / 2)) * (1 - g)) with ((m + 1) * (1 - g) * / (m - 1 + exp (beta / 2))) by
      (field; lra).
    apply Rmult_le_compat_l; [nra|]. apply Rinv_le_contravar; lra.
  - apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. assert (A : m + 1 <= 2 * (1 + (m - 1) * g)) by nra.
    nra.
Qed.

Lemma s_pos : 0 < s. Proof. unfold s. assert (E := exp_pos beta). lra. Qed.
Lemma monotone a b : 0 <= a <= b -> gamma a <= gamma b.
Proof. intros H. apply (grows gamma (fun t => F (gamma t))); [lra | intros t Ht; apply flow; lra | intros t Ht;
  apply F_pos, between; lra]. Qed.

Lemma half_way : / 2 <= gamma s.
Proof.
  assert (S := s_pos). destruct (Rle_lt_dec (/ 2) (gamma s)) as [|L]; [assumption|]. exfalso.
  assert (G : 0 - 1 / 2 / s * 0 <= gamma s - 1 / 2 / s * s).
  { rewrite <- start at 1. apply (grows (fun t => gamma t - 1 / 2 / s * t) (fun t => F (gamma t) - 1 / 2 / s));
      [lra| |].
    - intros t Ht. auto_derive; [exists (F (gamma t)); apply flow; lra|].
      change (Derive (fun x => gamma x) t) with (Derive gamma t).
      rewrite (is_derive_unique gamma t (F (gamma t))) by (apply flow; lra). ring.
    - intros t Ht. assert (M := monotone t s Ht). destruct (between t) as [B _]; [lra|].
      assert (E := F_early (gamma t)). lra. }
  replace (1 / 2 / s * s) with (1 / 2) in G by (field; lra). lra.
Qed.

Theorem late t : s <= t -> 1 - gamma t <= / 2 * exp (- (k * (t - s))).
Proof.
  intros Ht. assert (S := s_pos). assert (Hh := half_way).
  assert (G : - ((1 - gamma s) * exp (k * (s - s))) <= - ((1 - gamma t) * exp (k * (t - s)))).
  { apply (grows (fun u => - ((1 - gamma u) * exp (k * (u - s)))) (fun u => (F (gamma u) - k * (1 - gamma u)) * exp (k
      * (u - s)))); [exact Ht| |].
    - intros u Hu. auto_derive; [exists (F (gamma u)); apply flow; lra|].
      change (Derive (fun x => gamma x) u) with (Derive gamma u).
      rewrite (is_derive_unique gamma u (F (gamma u))) by (apply flow; lra). generalize (F (gamma u)). intros v.
      unfold Rminus. ring.
    - intros u Hu. apply Rmult_le_pos; [|left; apply exp_pos]. assert (M := monotone s u ltac:(lra)).
      destruct (between u) as [_ B]; [lra|]. assert (E := F_later (gamma u)). lra. }
  replace (k * (s - s)) with 0 in G by ring. rewrite exp_0 in G. rewrite exp_Ropp.
  apply Rmult_le_reg_r with (exp (k * (t - s))); [apply exp_pos|].
  rewrite Rmult_assoc, Rinv_l by (apply Rgt_not_eq, exp_pos). lra.
Qed.
End Late.
