(** own:order.  What each is stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Rcomplements Coquelicot.
From Rankmath Require Import Definitions Functions Norms Softmax centred_form own_tv own_gamma_free dong2021.
Local Open Scope R_scope.

(** own:order, the sequences (thm:order-seq).  If r_L > 0 and c1 r_L^3 <= r_{L+1} <= c2 r_L^3 for all L, 0 < c1, then
    there is ell with (1/2) log c1 <= 3^L ell - log r_L <= (1/2) log c2 for every L (so ell = lim 3^-L log r_L, with
    certified digits); and if sqrt c2 r_L < 1 for some L, then ell < 0 and log r_{L+1} / log r_L -> 3.
    The two-sided bound of one layer is a hypothesis here. *)

Section Order.
Variables (r : nat -> R) (c1 c2 : R).
Hypothesis c1_pos : 0 < c1.
Hypothesis r_pos : forall L, 0 < r L.
Hypothesis cubic : forall L, c1 * r L ^ 3 <= r (S L) <= c2 * r L ^ 3.

Let s L := ln (r L).
Let p L := 3 ^ L.

Lemma p_pos L : 0 < p L. Proof. apply pow_lt. lra. Qed.

Lemma c2_pos : 0 < c2.
Proof.
  assert (H := cubic 0%nat). assert (P : 0 < r 0%nat ^ 3) by (apply pow_lt, r_pos). assert (Q := r_pos 1%nat).
  destruct (Rlt_or_le 0 c2) as [|G]; [assumption|exfalso]. nra.
Qed.

(** log c1 <= log r_{L+1} - 3 log r_L <= log c2 *)
Lemma step L : ln c1 <= s (S L) - 3 * s L <= ln c2.
Proof.
  assert (C2 := c2_pos). assert (R := r_pos L). assert (P : 0 < r L ^ 3) by (now apply pow_lt). unfold s.
  assert (E : forall c, 0 < c -> ln (c * r L ^ 3) = ln c + 3 * ln (r L)).
  { intros c Hc. rewrite ln_mult by assumption. simpl. rewrite Rmult_1_r, !ln_mult by nra. ring. }
  destruct (cubic L) as [H1 H2]. split.
  - assert (Q : ln (c1 * r L ^ 3) <= ln (r (S L))) by (apply ln_le; [nra|exact H1]). rewrite E in Q by assumption. lra.
  - assert (Q : ln (r (S L)) <= ln (c2 * r L ^ 3)) by (apply ln_le; [apply r_pos|exact H2]).
    rewrite E in Q by assumption. lra.
Qed.

Let low L := (s L + ln c1 / 2) / p L.
Let high L := (s L + ln c2 / 2) / p L.

Lemma low_step L : low L <= low (S L).
Proof.
  assert (P := p_pos L). assert (S1 := step L). unfold low. replace (p (S L)) with (3 * p L) by reflexivity.
  apply Rmult_le_reg_r with (3 * p L); [lra|].
  replace ((s L + ln c1 / 2) / p L * (3 * p L)) with (3 * s L + 3 * ln c1 / 2) by (field; lra).
  replace ((s (S L) + ln c1 / 2) / (3 * p L) * (3 * p L)) with (s (S L) + ln c1 / 2) by (field; lra). lra.
Qed.
Lemma high_step L : high (S L) <= high L.
Proof.
  assert (P := p_pos L). assert (S1 := step L). unfold high. replace (p (S L)) with (3 * p L) by reflexivity.
  apply Rmult_le_reg_r with (3 * p L); [lra|].
  replace ((s L + ln c2 / 2) / p L * (3 * p L)) with (3 * s L + 3 * ln c2 / 2) by (field; lra).
  replace ((s (S L) + ln c2 / 2) / (3 * p L) * (3 * p L)) with (s (S L) + ln c2 / 2) by (field; lra). lra.
Qed.
Lemma low_mono L k : low L <= low (k + L)%nat.
Proof. induction k; simpl; [lra|]. eapply Rle_trans; [exact IHk|apply low_step]. Qed.
Lemma high_mono L k : high (k + L)%nat <= high L.
Proof. induction k; simpl; [lra|]. eapply Rle_trans; [apply high_step|exact IHk]. Qed.
Lemma low_high L : low L <= high L.
Proof.
  assert (P := p_pos L). assert (S1 := step 0%nat). unfold low, high, Rdiv.
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. lra.
Qed.
Lemma low_le_high L K : low L <= high K.
Proof.
  destruct (Nat.le_ge_cases L K) as [H|H].
  - eapply Rle_trans; [apply (low_mono L (K - L))|]. replace (K - L + L)%nat with K by lia. apply low_high.
  - eapply Rle_trans; [|apply (high_mono K (L - K))]. replace (L - K + K)%nat with L by lia. apply low_high.
Qed.

Theorem cubic_order : exists ell,
  (forall L, / 2 * ln c1 <= 3 ^ L * ell - ln (r L) <= / 2 * ln c2) /\
  ((exists L, sqrt c2 * r L < 1) -> ell < 0 /\
   forall eps, 0 < eps -> exists L0, forall L, (L0 <= L)%nat -> Rabs (ln (r (S L)) / ln (r L) - 3) <= eps).
Proof.
  destruct (completeness (fun y => exists L, y = low L)) as [ell [Ub Lb]].
  - exists (high 0%nat). intros y [L ->]. apply low_le_high.
  - exists (low 0%nat). now exists 0%nat.
  - exists ell.
    assert (Tail : forall L, / 2 * ln c1 <= 3 ^ L * ell - ln (r L) <= / 2 * ln c2).
    { intro L. assert (P := p_pos L). assert (A : low L <= ell) by (apply Ub; now exists L).
      assert (B : ell <= high L) by (apply Lb; intros y [K ->]; apply low_le_high).
      unfold low, high in A, B. fold (p L). fold (s L).
      apply (Rmult_le_compat_l (p L)) in A; [|lra]. apply (Rmult_le_compat_l (p L)) in B; [|lra].
      replace (p L * ((s L + ln c1 / 2) / p L)) with (s L + ln c1 / 2) in A by (field; lra).
      replace (p L * ((s L + ln c2 / 2) / p L)) with (s L + ln c2 / 2) in B by (field; lra). lra. }
    split; [exact Tail|]. intros [L1 H1].
    assert (C2 := c2_pos). assert (E0 : ell < 0).
    { assert (R := r_pos L1). assert (Sp : 0 < sqrt c2) by (now apply sqrt_lt_R0).
      assert (Q : ln (sqrt c2 * r L1) < 0) by (rewrite <- ln_1; apply ln_increasing; [apply Rmult_lt_0_compat;
        assumption|exact H1]).
      rewrite ln_mult in Q by assumption.
      assert (Hs : ln c2 = 2 * ln (sqrt c2)) by (rewrite <- (sqrt_sqrt c2) at 1 by lra; rewrite ln_mult by assumption;
        ring).
      assert (T := Tail L1). assert (P := p_pos L1). fold (p L1) in T.
      assert (p L1 * ell < 0) by lra. nra. }
    split; [exact E0|]. intros eps He.
    set (M := Rmax (Rabs (ln c1)) (Rabs (ln c2))). assert (M0 : 0 <= M) by (eapply Rle_trans;
      [apply Rabs_pos|apply Rmax_l]).
    assert (M1 : Rabs (ln c1) <= M) by apply Rmax_l. assert (M2 : Rabs (ln c2) <= M) by apply Rmax_r.
    set (big := (M / eps + M + 1) / (- ell)).
    destruct (Pow_x_infinity 3 ltac:(rewrite Rabs_right; lra) big) as [L0 HL0].
    exists L0. intros L HL. assert (B := HL0 L HL). rewrite Rabs_right in B by (apply Rle_ge, pow_le; lra).
    assert (T := Tail L). fold (s L) (s (S L)) in *.
    assert (A1 := Rabs_le_between (ln c1) M). destruct (proj1 A1 M1) as [A1l A1u].
    assert (Gr : M / eps + M + 1 <= 3 ^ L * (- ell)).
    { apply Rge_le in B. apply (Rmult_le_compat_r (- ell)) in B; [|lra]. unfold big in B.
      replace ((M / eps + M + 1) / - ell * - ell) with (M / eps + M + 1) in B by (field; lra). exact B. }
    assert (Me : 0 <= M / eps) by (apply Rmult_le_pos; [exact M0|left; now apply Rinv_0_lt_compat]).
    assert (Neg : s L <= - (M / eps) - 1) by lra.
    assert (St := step L). assert (Ab : Rabs (s (S L) - 3 * s L) <= M).
    { apply Rabs_le. assert (A2 := Rabs_le_between (ln c2) M). destruct (proj1 A2 M2) as [_ A2u]. lra. }
    replace (s (S L) / s L - 3) with ((s (S L) - 3 * s L) / s L) by (field; lra).
    unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_left (s L)) by lra.
    apply Rmult_le_reg_r with (- s L); [lra|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rle_trans with M; [exact Ab|]. apply Rle_trans with (eps * (M / eps)); [right; field; lra|].
    apply Rmult_le_compat_l; lra.
Qed.
End Order.

(** own:order, the two-sided bound of one layer (lem:order-layer).
One head, key padding, biases; x the mean of the tokens, R = X - 1 x^T, q and E of the
    centred form, qmin <= q_j <= qmax, delta >= osc_j E_ij for every row, mm >= |W_QK|_2,
      sigma |v| <= |v W| <= omega |v|, m |v|^2 <= |v W_QK v^T| with one
    sign, r = min(n - 1, d).  Then, with mu(X) = |R|_F,
        mu(SA(X)) <= omega qmax e^delta mm / sqrt d_qk mu(X)^3,
    and, if the bracket is not negative,
        mu(SA(X)) >= sigma qmin / sqrt d_qk (m/r sqrt(qmin/qmax) - (e^delta - 1) mm) mu(X)^3      [order_layer]. *)

(* ---------- quadratic forms ---------- *)
Lemma quad_disc a b c : 0 <= c -> (forall t, 0 <= a + 2 * b * t + c * t * t) -> b * b <= a * c.
Proof.
  intros [C|<-] H.
  - specialize (H (- b / c)). apply Rmult_le_reg_r with (/ c); [now apply Rinv_0_lt_compat|].
    replace (a * c * / c) with a by (field; lra).
    replace (a + 2 * b * (- b / c) + c * (- b / c) * (- b / c)) with (a - b * b * / c) in H by (field; lra). lra.
  - destruct (Req_dec b 0) as [->|N]; [lra|]. specialize (H (- (a + 1) / (2 * b))).
    replace (a + 2 * b * (- (a + 1) / (2 * b)) + 0 * (- (a + 1) / (2 * b)) * (- (a + 1) / (2 * b))) with (-1) in H by
      (field; lra). lra.
Qed.

Lemma sum2_cs n k (A B : mat) : sum n (fun i => sum k (fun j => A i j * B i j)) * sum n (fun i => sum k (fun j => A i j
  * B i j)) <=
  sum n (fun i => sum k (fun j => A i j * A i j)) * sum n (fun i => sum k (fun j => B i j * B i j)).
Proof.
  apply quad_disc; [apply sum_nonneg; intros; apply sum_nonneg; intros; apply Rle_0_sqr|]. intro t.
  replace (sum n (fun i => sum k (fun j => A i j * A i j)) + 2 * sum n (fun i => sum k (fun j => A i j * B i j)) * t +
    sum n (fun i => sum k (fun j => B i j * B i j)) * t * t)
    with (sum n (fun i => sum k (fun j => (A i j + t * B i j) * (A i j + t * B i j)))).
  - apply sum_nonneg; intros; apply sum_nonneg; intros; apply Rle_0_sqr.
  - rewrite (sum_ext n _ (fun i => sum k (fun j => A i j * A i j) + (2 * t) * sum k (fun j => A i j * B i j) + (t * t)
      * sum k (fun j => B i j * B i j))).
    + rewrite !sum_plus, !sum_scal. ring.
    + intros i _. rewrite <- !sum_scal, <- !sum_plus. apply sum_ext; intros; ring.
Qed.

(* ---------- covariances ---------- *)
Definition avg (n : nat) (p f : vec) : R := sum n (fun j => p j * f j).
Definition cov (n : nat) (p f g : vec) : R := sum n (fun j => p j * (f j * g j)) - avg n p f * avg n p g.

Lemma cov_sym n p f g : cov n p f g = cov n p g f.
Proof. unfold cov. rewrite (sum_ext n _ (fun j => p j * (g j * f j))) by (intros; ring). ring. Qed.
Lemma cov_ext n p f f' g g' : (forall j, (j < n)%nat -> f j = f' j) -> (forall j, (j < n)%nat -> g j = g' j) ->
  cov n p f g = cov n p f' g'.
Proof.
  intros F G. unfold cov, avg. rewrite (sum_ext n (fun j => p j * (f j * g j)) (fun j => p j * (f' j * g' j))) by
    (intros; now rewrite F, G).
  rewrite (sum_ext n (fun j => p j * f j) (fun j => p j * f' j)) by (intros; now rewrite F).
  now rewrite (sum_ext n (fun j => p j * g j) (fun j => p j * g' j)) by (intros; now rewrite G).
Qed.
Lemma cov_sum n p f k (c : vec) (g : mat) : cov n p f (fun j => sum k (fun a => c a * g a j)) = sum k (fun a => c a *
  cov n p f (g a)).
Proof.
  unfold cov. assert (A : avg n p (fun j => sum k (fun a => c a * g a j)) = sum k (fun a => c a * avg n p (g a))).
  { unfold avg. rewrite (sum_ext n _ (fun j => sum k (fun a => c a * (p j * g a j)))) by (intros; rewrite <- sum_scal;
      apply sum_ext; intros; ring).
    rewrite sum_swap. apply sum_ext; intros. now rewrite sum_scal. }
  rewrite A. rewrite (sum_ext n _ (fun j => sum k (fun a => c a * (p j * (f j * g a j))))) by (intros;
    rewrite <- !sum_scal; apply sum_ext; intros; ring).
  rewrite sum_swap, <- sum_scal, <- sum_minus. apply sum_ext; intros a _. rewrite sum_scal. ring.
Qed.
Lemma cov_quad n p f g t : cov n p (fun j => f j + t * g j) (fun j => f j + t * g j) = cov n p f f + 2 * cov n p f g *
  t + cov n p g g * t * t.
Proof.
  unfold cov, avg. rewrite (sum_ext n (fun j => p j * ((f j + t * g j) * (f j + t * g j))) (fun j => p j * (f j * f j)
    + (2 * t) * (p j * (f j * g j)) + (t * t) * (p j * (g j * g j)))) by (intros; ring).
  rewrite (sum_ext n (fun j => p j * (f j + t * g j)) (fun j => p j * f j + t * (p j * g j))) by (intros; ring).
  rewrite !sum_plus, !sum_scal. ring.
Qed.
Lemma cov_scal n p c f g : cov n p (fun j => c * f j) g = c * cov n p f g.
Proof.
  unfold cov, avg. rewrite (sum_ext n (fun j => p j * (c * f j * g j)) (fun j => c * (p j * (f j * g j)))) by (intros;
    ring).
  rewrite (sum_ext n (fun j => p j * (c * f j)) (fun j => c * (p j * f j))) by (intros; ring). rewrite !sum_scal. ring.
Qed.

Section Weights.
Variables (n : nat) (p : vec).
Hypothesis p0 : forall j, (j < n)%nat -> 0 <= p j.
Hypothesis p1 : sum n p = 1.

Lemma cov_about f g a b : sum n (fun j => p j * ((f j - a) * (g j - b))) = cov n p f g + (avg n p f - a) * (avg n p g -
  b).
Proof.
  rewrite (sum_ext n _ (fun j => p j * (f j * g j) - b * (p j * f j) - a * (p j * g j) + a * b * p j)) by (intros;
    ring).
  rewrite sum_plus, !sum_minus, !sum_scal, p1. unfold cov, avg. ring.
Qed.
Lemma var_about f a : cov n p f f <= sum n (fun j => p j * ((f j - a) * (f j - a))).
Proof. rewrite cov_about. assert (S := Rle_0_sqr (avg n p f - a)). unfold Rsqr in S. lra. Qed.
Lemma var_pos f : 0 <= cov n p f f.
Proof.
  replace (cov n p f f) with (sum n (fun j => p j * ((f j - avg n p f) * (f j - avg n p f)))) by (rewrite cov_about;
    ring).
  apply sum_nonneg; intros. apply Rmult_le_pos; [auto|apply Rle_0_sqr].
Qed.
Lemma cov_cs f g : cov n p f g * cov n p f g <= cov n p f f * cov n p g g.
Proof. apply quad_disc; [apply var_pos|]. intro t. rewrite <- cov_quad. apply var_pos. Qed.
End Weights.

(** Two probability vectors with ratios between 1/K and K. *)
Section Near.
Variables (n : nat) (p q : vec) (K : R).
Hypothesis p0 : forall j, (j < n)%nat -> 0 <= p j.
Hypothesis p1 : sum n p = 1.
Hypothesis q0 : forall j, (j < n)%nat -> 0 <= q j.
Hypothesis q1 : sum n q = 1.
Hypothesis K1 : 1 <= K.
Hypothesis pq : forall j, (j < n)%nat -> p j <= K * q j.
Hypothesis qp : forall j, (j < n)%nat -> q j <= K * p j.

Lemma var_near f : cov n p f f <= K * cov n q f f.
Proof.
  eapply Rle_trans; [apply (var_about n p p1 f (avg n q f))|].
  replace (cov n q f f) with (sum n (fun j => q j * ((f j - avg n q f) * (f j - avg n q f)))) by (rewrite (cov_about n
    q q1); ring).
  rewrite <- sum_scal. apply sum_le; intros j Hj. rewrite <- (Rmult_assoc K).
  apply Rmult_le_compat_r; [apply Rle_0_sqr|auto].
Qed.
End Near.

Lemma cov_near n p q K f g : (forall j, (j < n)%nat -> 0 <= p j) -> sum n p = 1 -> (forall j, (j < n)%nat ->
  0 <= q j) -> sum n q = 1 -> 1 <= K ->
  (forall j, (j < n)%nat -> p j <= K * q j) -> (forall j, (j < n)%nat -> q j <= K * p j) ->
  (cov n p f g - cov n q f g) * (cov n p f g - cov n q f g) <= (K - 1) * (K - 1) * (cov n q f f * cov n q g g).
Proof.
  intros p0 p1 q0 q1 K1 pq qp. set (D := fun f g => cov n p f g - cov n q f g).
  assert (B : forall h, Rabs (D h h) <= (K - 1) * cov n q h h).
  { intro h. assert (U := var_near n p q K p1 q1 pq h). assert (L := var_near n q p K q1 p1 qp h).
    assert (P := var_pos n p p0 p1 h). assert (Q := var_pos n q q0 q1 h).
    unfold D. apply Rabs_le. split; [|lra]. nra. }
  assert (Z : forall e, (e = 1 \/ e = -1) -> forall t, 0 <= (K - 1) * (cov n q f f + 2 * cov n q f g * t + cov n q g g
    * t * t) + (e * D f f + 2 * (e * D f g) * t + e * D g g * t * t)).
  { intros e He t. assert (H := B (fun j => f j + t * g j)). unfold D in H. rewrite !cov_quad in H.
    apply Rabs_le_between in H. unfold D. destruct He; subst e; lra. }
  assert (Q : forall t, 0 <= (K - 1) * cov n q f f + 2 * D f g * t + (K - 1) * cov n q g g * t * t).
  { intro t. assert (A1 := Z 1 (or_introl eq_refl) t). assert (A2 := Z (-1) (or_intror eq_refl) (- t)).
    lra. }
  assert (R := quad_disc ((K - 1) * cov n q f f) (D f g) ((K - 1) * cov n q g g)). unfold D in *.
  eapply Rle_trans; [apply R; [apply Rmult_le_pos; [lra|now apply var_pos]|exact Q]|]. right. ring.
Qed.

(* ---------- the mean value along the tilt ---------- *)
Lemma derive_sum n (f g : nat -> R -> R) t : (forall j, (j < n)%nat -> is_derive (f j) t (g j t)) ->
  is_derive (fun t => sum n (fun j => f j t)) t (sum n (fun j => g j t)).
Proof.
  induction n as [|n IH]; intros H; cbn [sum]; [apply (is_derive_const (K := R_AbsRing) (V := R_NormedModule))|].
  apply (is_derive_plus (K := R_AbsRing) (V := R_NormedModule) (fun t => sum n (fun j => f j t)) (f n)); [apply IH;
    intros; apply H; lia|apply H; lia].
Qed.

Lemma tilt_mvt n (q E f : vec) : (forall j, (j < n)%nat -> 0 <= q j) -> sum n q = 1 -> exists t, 0 <= t <= 1 /\
  avg n (tilt n q E) f - avg n q f = cov n (tilt n q (fun j => t * E j)) E f.
Proof.
  intros Hq Hs. assert (W : weights n q) by now apply prob_weights.
  set (Z := fun t => sum n (fun j => q j * exp (t * E j))). set (A := fun t => sum n (fun j => q j * (f j * exp (t * E
    j)))).
  assert (Zp : forall t, 0 < Z t) by (intro t; apply (tilt_Z_pos n q W (fun j => t * E j))).
  assert (DZ : forall t, is_derive Z t (sum n (fun j => q j * (E j * exp (t * E j))))).
  { intro t. apply (derive_sum n (fun j t => q j * exp (t * E j)) (fun j t => q j * (E j * exp (t * E j)))).
    intros j _. auto_derive; [exact I|ring]. }
  assert (DA : forall t, is_derive A t (sum n (fun j => q j * (f j * (E j * exp (t * E j)))))).
  { intro t. apply (derive_sum n (fun j t => q j * (f j * exp (t * E j))) (fun j t => q j * (f j * (E j * exp (t * E
      j))))). intros j _. auto_derive; [exact I|ring]. }
  assert (Av : forall t g, avg n (tilt n q (fun j => t * E j)) g = sum n (fun j => q j * (g j * exp (t * E j))) / Z t).
  { intros t g. unfold avg, tilt, Rdiv. rewrite <- sum_scal_r. apply sum_ext; intros j _. fold (Z t). ring. }
  destruct (MVT_cor2 (fun t => A t / Z t) (fun t => cov n (tilt n q (fun j => t * E j)) E f) 0 1 ltac:(lra)) as [t [Et
    Ht]].
  - intros t _. apply is_derive_Reals. evar_last; [apply (is_derive_div A Z t _ _ (DA t) (DZ t));
      apply Rgt_not_eq, Zp|].
    unfold cov. rewrite !Av. change (fun j => q j * (f j * exp (t * E j))) with (fun j => q j * (f j * exp (t * E j))).
    fold (A t).
    rewrite (sum_ext n (fun j => tilt n q (fun j => t * E j) j * (E j * f j)) (fun j => q j * (f j * (E j * exp (t * E
      j))) * / Z t)) by (intros; unfold tilt, Rdiv; fold (Z t); ring).
    rewrite sum_scal_r. field. apply Rgt_not_eq, Zp.
  - exists t. split; [lra|]. rewrite Rminus_0_r, Rmult_1_r in Et. rewrite <- Et. f_equal.
    + transitivity (avg n (tilt n q (fun j => 1 * E j)) f); [|exact (Av 1 f)]. unfold avg. apply sum_ext; intros j Hj.
      f_equal. apply tilt_ext; [reflexivity|intros k _; ring|exact Hj].
    + unfold A, Z. rewrite (sum_ext n (fun j => q j * (f j * exp (0 * E j))) (fun j => q j * f j)) by (intros;
        rewrite Rmult_0_l, exp_0; ring).
      rewrite (sum_ext n (fun j => q j * exp (0 * E j)) q) by (intros; rewrite Rmult_0_l, exp_0; ring). rewrite Hs.
      unfold avg. field.
Qed.

(* ---------- tokens that sum to zero ---------- *)
(** x.x <= c if (x.v)^2 <= c v.v for v = x. *)
Lemma self_bound d (x : vec) c : 0 <= c -> dot d x x * dot d x x <= c * dot d x x -> dot d x x <= c.
Proof. intros C H. assert (P := dot_pos d x). destruct P as [P|P]; [|lra]. apply Rmult_le_reg_r with (dot d x x); lra.
Qed.

Section Tokens.
Variables (n d : nat) (q : vec) (Y M : mat).
Hypothesis n_pos : (0 < n)%nat.
Hypothesis q0 : forall j, (j < n)%nat -> 0 <= q j.
Hypothesis q1 : sum n q = 1.
Variables (qmin qmax : R).
Hypothesis qmin0 : 0 <= qmin.
Hypothesis q_low : forall j, (j < n)%nat -> qmin <= q j.
Hypothesis q_high : forall j, (j < n)%nat -> q j <= qmax.

Definition col (A : mat) (a : nat) : vec := fun j => A j a.
Definition along (v : vec) : vec := fun j => dot d (Y j) v.
Definition G : mat := fun a b => cov n q (col Y a) (col Y b).
Definition T : R := sum d (fun a => G a a).
Definition F2 (A : mat) : R := sum n (fun i => dot d (A i) (A i)).
(** <A, B>_q = sum_a Cov_q(A_a, B_a) *)
Definition ip (A B : mat) : R := sum d (fun a => cov n q (col A a) (col B a)).

Lemma T_pos : 0 <= T.
Proof. apply sum_nonneg; intros. now apply var_pos. Qed.
Lemma qmax_pos : 0 <= qmax.
Proof. apply Rle_trans with (q 0%nat); [apply q0; exact n_pos|apply q_high; exact n_pos]. Qed.

(** Var_q(A) <= qmax |A - 1 y|_F^2 for every y. *)
Lemma ip_high A (y : vec) : ip A A <= qmax * F2 (centred A y).
Proof.
  unfold ip, F2, dot. rewrite sum_swap, <- sum_scal. apply sum_le; intros a _.
  eapply Rle_trans; [apply (var_about n q q1 (col A a) (y a))|].
  rewrite <- sum_scal. apply sum_le; intros j Hj. apply Rmult_le_compat_r; [apply Rle_0_sqr|now apply q_high].
Qed.
(** qmin |A|_F^2 <= Var_q(A) if the rows of A sum to zero. *)
Lemma ip_low A : (forall a, (a < d)%nat -> sum n (col A a) = 0) -> qmin * F2 A <= ip A A.
Proof.
  intros Z. unfold ip, F2, dot. rewrite sum_swap, <- sum_scal. apply sum_le; intros a Ha. set (c := avg n q (col A a)).
  replace (cov n q (col A a) (col A a)) with (sum n (fun j => q j * ((A j a - c) * (A j a - c)))) by (rewrite
    (cov_about n q q1 (col A a) (col A a)); unfold c; ring).
  apply Rle_trans with (sum n (fun j => qmin * ((A j a - c) * (A j a - c)))).
  - rewrite sum_scal. apply Rmult_le_compat_l; [exact qmin0|].
    rewrite (sum_ext n (fun j => (A j a - c) * (A j a - c)) (fun j => A j a * A j a - 2 * c * A j a + c * c)) by
      (intros; ring).
    rewrite sum_plus, sum_minus, sum_const, (sum_scal n (2 * c)). change (fun j => A j a) with (col A a).
    rewrite Z by exact Ha.
    assert (0 <= INR n * (c * c)) by (apply Rmult_le_pos; [apply pos_INR|apply Rle_0_sqr]). lra.
  - apply sum_le; intros j Hj. apply Rmult_le_compat_r; [apply Rle_0_sqr|now apply q_low].
Qed.
Lemma T_ip : T = ip Y Y.
Proof. reflexivity. Qed.

Lemma cov_along u v : cov n q (along u) (along v) = sum d (fun a => u a * sum d (fun b => v b * G a b)).
Proof.
  rewrite (cov_ext n q _ (fun j => sum d (fun a => u a * col Y a j)) _ (fun j => sum d (fun b => v b * col Y b j)))
    by (intros; unfold along, dot, col; apply sum_ext; intros; ring).
  rewrite cov_sym, cov_sum. apply sum_ext; intros a _. f_equal. rewrite cov_sym, cov_sum. reflexivity.
Qed.
Lemma var_along v : cov n q (along v) (along v) <= dot d v v * T.
Proof.
  set (y := fun a => avg n q (col Y a)).
  apply Rle_trans with (sum n (fun j => q j * ((along v j - dot d y v) * (along v j - dot d y v))));
    [apply (var_about n q q1)|].
  apply Rle_trans with (sum n (fun j => q j * (dot d (vsub (Y j) y) (vsub (Y j) y) * dot d v v))).
  - apply sum_le; intros j Hj. apply Rmult_le_compat_l; [auto|]. unfold along.
    replace (dot d (Y j) v - dot d y v) with (dot d (vsub (Y j) y) v); [apply cauchy_schwarz|].
    unfold dot, vsub. rewrite <- sum_minus. apply sum_ext; intros; ring.
  - right. rewrite (sum_ext n _ (fun j => dot d v v * (q j * dot d (vsub (Y j) y) (vsub (Y j) y)))) by (intros; ring).
    rewrite sum_scal. f_equal. unfold T, G, dot.
    rewrite (sum_ext n _ (fun j => sum d (fun a => q j * (vsub (Y j) y a * vsub (Y j) y a)))) by (intros;
      now rewrite sum_scal). rewrite sum_swap. apply sum_ext; intros a _.
    change (sum n (fun j => q j * ((col Y a j - y a) * (col Y a j - y a))) = cov n q (col Y a) (col Y a)).
    rewrite (cov_about n q q1). unfold y. ring.
Qed.

(** tr(G^2) >= (tr G)^2 / r, r = d and r = n - 1. *)
Lemma trace_d : T * T <= INR d * sum d (fun b => dot d (G b) (G b)).
Proof.
  assert (C := cauchy_schwarz d (fun _ => 1) (fun a => G a a)). unfold dot in C at 1 2 3 4.
  rewrite (sum_ext d (fun a => 1 * G a a) (fun a => G a a)) in C by (intros; ring).
  rewrite (sum_ext d (fun _ => 1 * 1) (fun _ => 1)) in C by (intros; ring). rewrite sum_const, Rmult_1_r in C.
  fold T in C. eapply Rle_trans; [exact C|]. apply Rmult_le_compat_l; [apply pos_INR|]. apply sum_le; intros a Ha.
  apply (sum_term_le d (fun b => G a b * G a b) a); [intros; apply Rle_0_sqr|exact Ha].
Qed.
Lemma trace_n : T * T <= (INR n - 1) * sum d (fun b => dot d (G b) (G b)).
Proof.
  set (y := fun a => avg n q (col Y a)). set (D := fun i => vsub (Y i) y). set (s := fun i => sqrt (q i)).
  assert (ss : forall i, (i < n)%nat -> s i * s i = q i) by (intros; apply sqrt_sqrt; auto).
  set (K := fun i j => s i * s j * dot d (D i) (D j)). set (B := fun i j => eye i j - s i * s j).
  assert (GD : forall a b, G a b = sum n (fun i => q i * (D i a * D i b))).
  { intros a b. unfold G. symmetry. change (sum n (fun i => q i * ((col Y a i - y a) * (col Y b i - y b))) = cov n q
      (col Y a) (col Y b)). rewrite (cov_about n q q1). unfold y. ring. }
  assert (D0 : forall a, sum n (fun i => q i * D i a) = 0).
  { intro a. unfold D, vsub. rewrite (sum_ext n _ (fun i => q i * Y i a - q i * y a)) by (intros; ring).
    rewrite sum_minus, sum_scal_r, q1. unfold y, avg, col. ring. }
  assert (TD : T = sum n (fun i => q i * dot d (D i) (D i))).
  { unfold T. rewrite (sum_ext d _ (fun a => sum n (fun i => q i * (D i a * D i a)))) by (intros; apply GD).
    rewrite sum_swap. apply sum_ext; intros i _. unfold dot. now rewrite sum_scal. }
  assert (KB : sum n (fun i => sum n (fun j => K i j * B i j)) = T).
  { rewrite TD. unfold K, B. rewrite (sum_ext n _ (fun i => q i * dot d (D i) (D i) - q i * sum n (fun j => q j * dot d
      (D i) (D j)))).
    - rewrite sum_minus. replace (sum n (fun i => q i * sum n (fun j => q j * dot d (D i) (D j)))) with 0; [ring|].
      symmetry. rewrite (sum_ext n _ (fun _ => 0)); [apply sum_zero|].
      intros i _. unfold dot. rewrite (sum_ext n (fun j => q j * sum d (fun a => D i a * D j a)) (fun j => sum d (fun a
        => D i a * (q j * D j a)))) by (intros; rewrite <- sum_scal; apply sum_ext; intros; ring).
      rewrite sum_swap, (sum_ext d _ (fun _ => 0)), sum_zero; [ring|]. intros a _. rewrite sum_scal, D0. ring.
    - intros i Hi. rewrite (sum_ext n _ (fun j => eye i j * (s i * s j * dot d (D i) (D j)) - q i * (q j * dot d (D i)
        (D j)))) by (intros j Hj; rewrite <- (ss i Hi), <- (ss j Hj); ring).
      rewrite sum_minus, sum_scal. f_equal. rewrite (sum_single n _ i Hi); [unfold eye;
        rewrite Nat.eqb_refl, (ss i Hi); ring|]. intros j _ Hj. unfold eye.
        destruct (Nat.eqb_spec i j); [congruence|ring]. }
  assert (KK : sum n (fun i => sum n (fun j => K i j * K i j)) = sum d (fun b => dot d (G b) (G b))).
  { unfold K. rewrite (sum_ext n _ (fun i => sum n (fun j => sum d (fun b => sum d (fun c => (q i * (D i b * D i c)) *
      (q j * (D j b * D j c))))))).
    - unfold dot. symmetry. rewrite (sum_ext d _ (fun b => sum d (fun c => sum n (fun i => sum n (fun j => (q i * (D i
        b * D i c)) * (q j * (D j b * D j c))))))).
      + rewrite (sum_ext d _ (fun b => sum n (fun i => sum n (fun j => sum d (fun c => q i * (D i b * D i c) * (q j *
          (D j b * D j c))))))).
        * rewrite sum_swap. apply sum_ext; intros i _. rewrite sum_swap. reflexivity.
        * intros b _. rewrite sum_swap. apply sum_ext; intros i _. now rewrite sum_swap.
      + intros b _. apply sum_ext; intros c _. rewrite !GD. apply sum_mult.
    - intros i Hi. apply sum_ext; intros j Hj. replace (s i * s j * dot d (D i) (D j) * (s i * s j * dot d (D i) (D
        j))) with (q i * q j * (dot d (D i) (D j) * dot d (D i) (D j)))
        by (rewrite <- (ss i Hi), <- (ss j Hj); ring). unfold dot. rewrite sum_mult, <- sum_scal.
        apply sum_ext; intros b _. rewrite <- sum_scal. apply sum_ext; intros c _. ring. }
  assert (BB : sum n (fun i => sum n (fun j => B i j * B i j)) = INR n - 1).
  { unfold B. rewrite (sum_ext n _ (fun i => 1 - 2 * q i + q i)).
    - rewrite sum_plus, sum_minus, sum_const, sum_scal, q1. ring.
    - intros i Hi. rewrite (sum_ext n _ (fun j => eye i j * (eye i j - 2 * (s i * s j)) + q i * q j)) by (intros j Hj;
        rewrite <- (ss i Hi), <- (ss j Hj); ring).
      rewrite sum_plus, sum_scal, q1, (sum_single n _ i Hi); [unfold eye; rewrite Nat.eqb_refl, (ss i Hi); ring|].
      intros j _ Hj. unfold eye. destruct (Nat.eqb_spec i j); [congruence|ring]. }
  assert (C := sum2_cs n n K B). rewrite KB, KK, BB in C. lra.
Qed.

(* ---------- one layer before the values ---------- *)
Variables (sq delta mm m : R).
Hypothesis sq0 : 0 < sq.
Hypothesis M_high : forall v, l2 d (vmat d v M) <= mm * l2 d v.
Hypothesis mm0 : 0 <= mm.
Definition Em : mat := fun i j => bil d (Y i) M (Y j) / sq.
Hypothesis osc : forall i j k, (i < n)%nat -> (j < n)%nat -> (k < n)%nat -> Em i j - Em i k <= delta.
(** (Q Y)_i *)
Definition QR : mat := fun i a => sum n (fun j => (tilt n q (Em i) j - q j) * Y j a).
Definition Ur (i : nat) : vec := vmat d (Y i) M.
(** Y M G *)
Definition RMG : mat := fun i b => sum d (fun a => Ur i a * G a b).

Let D0 : 0 <= delta.
Proof. specialize (osc 0%nat 0%nat 0%nat n_pos n_pos n_pos). lra. Qed.
Let K1 : 1 <= exp delta.
Proof. apply exp_ge1, D0. Qed.

Lemma Ur_high i : dot d (Ur i) (Ur i) <= mm * mm * dot d (Y i) (Y i).
Proof.
  assert (H := M_high (Y i)). unfold l2 in H. change (vmat d (Y i) M) with (Ur i) in H.
  rewrite <- (sqrt_sqrt (dot d (Ur i) (Ur i))), <- (sqrt_sqrt (dot d (Y i) (Y i))) by apply dot_pos.
  replace (mm * mm * (sqrt (dot d (Y i) (Y i)) * sqrt (dot d (Y i) (Y i)))) with ((mm * sqrt (dot d (Y i) (Y i))) * (mm
    * sqrt (dot d (Y i) (Y i)))) by ring.
  apply Rmult_le_compat; [apply sqrt_pos|apply sqrt_pos|exact H|exact H].
Qed.

(** sq (Q Y)_i . v is a covariance of R_i M Y^T and Y v under weights near q. *)
Lemma QR_mvt i v : (i < n)%nat -> exists p, (forall j, (j < n)%nat -> 0 <= p j) /\ sum n p = 1 /\
  (forall j, (j < n)%nat -> p j <= exp delta * q j) /\ (forall j, (j < n)%nat -> q j <= exp delta * p j) /\
  sq * dot d (QR i) v = cov n p (along (Ur i)) (along v).
Proof.
  intros Hi. destruct (tilt_mvt n q (Em i) (along v) q0 q1) as [t [Ht Et]].
  assert (W : weights n q) by now apply prob_weights.
  exists (tilt n q (fun j => t * Em i j)).
  assert (S := sandwich n q (fun j => t * Em i j) delta q0 q1). assert (DD := D0).
  assert (Ho : forall j k, (j < n)%nat -> (k < n)%nat -> 0 < q j -> 0 < q k -> t * Em i j - t * Em i k <= delta).
  { intros j k Hj Hk _ _. specialize (osc i j k Hi Hj Hk). replace (t * Em i j - t * Em i k) with (t * (Em i j - Em i
      k)) by ring.
    destruct (Rle_or_lt 0 (Em i j - Em i k)); nra. }
  specialize (S Ho). split; [intros; now apply tilt_nonneg|]. split; [now apply tilt_sum|]. split; [|split].
  - intros j Hj. apply (S j Hj).
  - intros j Hj. destruct (S j Hj) as [[L _] _]. rewrite exp_Ropp in L. assert (P := exp_pos delta).
    apply (Rmult_le_compat_l (exp delta)) in L; [|lra].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l in L by lra. exact L.
  - rewrite (cov_ext n _ (along (Ur i)) (fun j => sq * Em i j) (along v) (along v)); [|intros j Hj; unfold along, Em;
      rewrite bil_dot, dot_sym; unfold Ur; field; lra|reflexivity].
    rewrite cov_scal. f_equal. rewrite <- Et. unfold avg, QR, dot, along, dot. rewrite <- sum_minus.
    rewrite (sum_ext d _ (fun a => sum n (fun j => (tilt n q (Em i) j - q j) * (Y j a * v a)))) by (intros;
      rewrite <- sum_scal_r; apply sum_ext; intros; ring).
    rewrite sum_swap. apply sum_ext; intros j _. rewrite <- !sum_scal, <- sum_minus. apply sum_ext; intros; ring.
Qed.

Lemma QR_row i : (i < n)%nat -> sq * sq * dot d (QR i) (QR i) <= exp delta * exp delta * (mm * mm) * (T * T) * dot d (Y
  i) (Y i).
Proof.
  intros Hi. destruct (QR_mvt i (QR i) Hi) as [p [p0 [p1 [pq [_ E]]]]]. assert (TP := T_pos). assert (UH := Ur_high i).
  assert (C := cov_cs n p p0 p1 (along (Ur i)) (along (QR i))). rewrite <- E in C.
  assert (V1 := var_near n p q (exp delta) p1 q1 pq (along (Ur i))).
  assert (V2 := var_near n p q (exp delta) p1 q1 pq (along (QR i))).
  assert (A1 := var_along (Ur i)). assert (A2 := var_along (QR i)). assert (P1 := var_pos n p p0 p1 (along (Ur i))).
  assert (P2 := var_pos n p p0 p1 (along (QR i))).
  assert (KK := K1). assert (Pu := dot_pos d (Ur i)). assert (Px := dot_pos d (QR i)). assert (Pr := dot_pos d (Y i)).
  set (x := dot d (QR i) (QR i)) in *. set (u := dot d (Ur i) (Ur i)) in *. set (k := exp delta) in *.
  assert (B1 : cov n p (along (Ur i)) (along (Ur i)) <= k * (u * T)) by (eapply Rle_trans;
    [exact V1|apply Rmult_le_compat_l; lra]).
  assert (B2 : cov n p (along (QR i)) (along (QR i)) <= k * (x * T)) by (eapply Rle_trans;
    [exact V2|apply Rmult_le_compat_l; lra]).
  assert (B : sq * x * (sq * x) <= k * (u * T) * (k * (x * T))) by (eapply Rle_trans; [exact C|];
    apply Rmult_le_compat; assumption).
  assert (H : sq * sq * x <= k * k * u * (T * T)).
  { destruct Px as [Px|Px]; [|rewrite <- Px, Rmult_0_r; repeat apply Rmult_le_pos; lra].
    apply Rmult_le_reg_r with x; [exact Px|]. lra. }
  eapply Rle_trans; [exact H|]. replace (k * k * (mm * mm) * (T * T) * dot d (Y i) (Y i)) with (k * k * (mm * mm * dot
    d (Y i) (Y i)) * (T * T)) by ring.
  apply Rmult_le_compat_r; [apply Rle_0_sqr|]. apply Rmult_le_compat_l; [apply Rle_0_sqr|exact UH].
Qed.

Definition Dev : mat := fun i a => sq * QR i a - RMG i a.
Lemma Dev_row i : (i < n)%nat -> dot d (Dev i) (Dev i) <= (exp delta - 1) * (exp delta - 1) * (mm * mm) * (T * T) * dot
  d (Y i) (Y i).
Proof.
  intros Hi. destruct (QR_mvt i (Dev i) Hi) as [p [p0 [p1 [pq [qp E]]]]]. assert (TP := T_pos).
  assert (UH := Ur_high i).
  assert (C := cov_near n p q (exp delta) (along (Ur i)) (along (Dev i)) p0 p1 q0 q1 K1 pq qp). rewrite <- E in C.
  assert (A1 := var_along (Ur i)). assert (A2 := var_along (Dev i)). assert (KK := K1).
  assert (P1 := var_pos n q q0 q1 (along (Ur i))). assert (P2 := var_pos n q q0 q1 (along (Dev i))).
  assert (Ed : dot d (Dev i) (Dev i) = sq * dot d (QR i) (Dev i) - cov n q (along (Ur i)) (along (Dev i))).
  { rewrite cov_along. unfold dot at 1 2. rewrite <- sum_scal.
    replace (sum d (fun a => Ur i a * sum d (fun b => Dev i b * G a b))) with (sum d (fun b => RMG i b * Dev i b)).
    - rewrite <- sum_minus. apply sum_ext; intros b _. unfold Dev at 1. ring.
    - unfold RMG. rewrite (sum_ext d _ (fun b => sum d (fun a => Ur i a * (Dev i b * G a b)))) by (intros;
        rewrite <- sum_scal_r; apply sum_ext; intros; ring).
      rewrite sum_swap. apply sum_ext; intros a _. now rewrite sum_scal. }
  rewrite <- Ed in C. set (x := dot d (Dev i) (Dev i)) in *. set (u := dot d (Ur i) (Ur i)) in *.
  assert (Px : 0 <= x) by apply dot_pos. assert (Pu : 0 <= u) by apply dot_pos.
  assert (B : cov n q (along (Ur i)) (along (Ur i)) * cov n q (along (Dev i)) (along (Dev i)) <= u * T * (x * T)) by
    (apply Rmult_le_compat; assumption).
  set (k := exp delta - 1) in *. assert (k0 : 0 <= k * k) by apply Rle_0_sqr.
  assert (B3 : x * x <= k * k * (u * T * (x * T))) by (eapply Rle_trans; [exact C|]; apply Rmult_le_compat_l;
    [exact k0|exact B]).
  assert (H : x <= k * k * u * (T * T)).
  { destruct Px as [Px|Px]; [|rewrite <- Px; apply Rmult_le_pos; [apply Rmult_le_pos;
      [exact k0|exact Pu]|apply Rle_0_sqr]]. apply Rmult_le_reg_r with x; [exact Px|]. lra. }
  eapply Rle_trans; [exact H|]. replace (k * k * (mm * mm) * (T * T) * dot d (Y i) (Y i)) with (k * k * (mm * mm * dot
    d (Y i) (Y i)) * (T * T)) by ring.
  apply Rmult_le_compat_r; [apply Rle_0_sqr|]. apply Rmult_le_compat_l; [exact k0|exact UH].
Qed.

(* ---------- the two bounds before the values ---------- *)
Lemma ip_quad A B t : ip (fun i a => A i a + t * B i a) (fun i a => A i a + t * B i a) = ip A A + 2 * ip A B * t + ip B
  B * t * t.
Proof.
  unfold ip. rewrite (sum_ext d _ (fun a => cov n q (col A a) (col A a) + (2 * t) * cov n q (col A a) (col B a) + (t *
    t) * cov n q (col B a) (col B a))).
  - rewrite !sum_plus, !sum_scal. ring.
  - intros a _. rewrite (cov_ext n q _ (fun j => col A a j + t * col B a j) _ (fun j => col A a j + t * col B a j)) by
      reflexivity. rewrite cov_quad. ring.
Qed.
Lemma ip_pos A : 0 <= ip A A.
Proof. apply sum_nonneg; intros. now apply var_pos. Qed.
Lemma ip_cs A B : ip A B * ip A B <= ip A A * ip B B.
Proof. apply quad_disc; [apply ip_pos|]. intro t. rewrite <- ip_quad. apply ip_pos. Qed.

Lemma QR_high : sq * sqrt (F2 QR) <= exp delta * mm * (qmax * F2 Y) * sqrt (F2 Y).
Proof.
  assert (TP := T_pos). assert (KK := K1). assert (F0 : 0 <= F2 Y) by (apply sum_nonneg; intros; apply dot_pos).
  assert (Qm := qmax_pos).
  assert (TH : T <= qmax * F2 Y).
  { eapply Rle_trans; [apply (ip_high Y (fun _ => 0))|]. apply Rmult_le_compat_l; [exact Qm|]. right.
    apply sum_ext; intros i _. unfold dot, centred, vsub. apply sum_ext; intros; ring. }
  apply Rle_trans with (exp delta * mm * T * sqrt (F2 Y)).
  2:{ apply Rmult_le_compat_r; [apply sqrt_pos|]. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|exact TH]. }
  apply Rsqr_incr_0_var; [|repeat apply Rmult_le_pos; try lra; apply sqrt_pos]. unfold Rsqr.
  replace (sq * sqrt (F2 QR) * (sq * sqrt (F2 QR))) with (sq * sq * (sqrt (F2 QR) * sqrt (F2 QR))) by ring.
  rewrite sqrt_sqrt by (apply sum_nonneg; intros; apply dot_pos).
  replace (exp delta * mm * T * sqrt (F2 Y) * (exp delta * mm * T * sqrt (F2 Y))) with (exp delta * exp delta * (mm *
    mm) * (T * T) * (sqrt (F2 Y) * sqrt (F2 Y))) by ring.
  rewrite sqrt_sqrt by exact F0. unfold F2. rewrite <- !sum_scal. apply sum_le; intros i Hi. now apply QR_row.
Qed.

Variable r : R.
Hypothesis r_pos : 0 < r.
Hypothesis r_trace : T * T <= r * sum d (fun b => dot d (G b) (G b)).
Hypothesis m0 : 0 <= m.
Hypothesis definite : (forall v, m * dot d v v <= bil d v M v) \/ (forall v, bil d v M v <= - (m * dot d v v)).
Hypothesis zero : forall a, (a < d)%nat -> sum n (col Y a) = 0.

Lemma inner_low : m / r * (T * T) <= Rabs (ip Y RMG).
Proof.
  assert (E : ip Y RMG = sum d (fun b => bil d (G b) M (G b))).
  { unfold ip. apply sum_ext; intros b _.
    rewrite (cov_ext n q _ (col Y b) _ (fun i => sum d (fun c => sum d (fun a => M c a * G a b) * col Y c i)));
      [|reflexivity|].
    - rewrite cov_sum. unfold bil. apply sum_ext; intros c _. rewrite <- sum_scal_r. apply sum_ext; intros a _.
      rewrite (cov_sym n q (col Y b)). fold (G c b).
      rewrite (cov_sym n q (col Y c)) || idtac. unfold G. rewrite (cov_sym n q (col Y c) (col Y b)),
        (cov_sym n q (col Y a) (col Y b)). ring.
    - intros i _. unfold col at 1, RMG, Ur, vmat. rewrite (sum_ext d _ (fun a => sum d (fun c => M c a * G a b * Y i
        c))) by (intros; rewrite <- sum_scal_r; apply sum_ext; intros; ring).
      rewrite sum_swap. apply sum_ext; intros c _. now rewrite sum_scal_r. }
  set (S2 := sum d (fun b => dot d (G b) (G b))) in *. assert (Q : m / r * (T * T) <= m * S2).
  { replace (m / r * (T * T)) with (m * (T * T / r)) by (field; lra). apply Rmult_le_compat_l; [exact m0|].
    apply Rmult_le_reg_r with r; [exact r_pos|]. replace (T * T / r * r) with (T * T) by (field; lra). lra. }
  eapply Rle_trans; [exact Q|]. rewrite E. unfold S2. rewrite <- sum_scal. destruct definite as [P|N].
  - eapply Rle_trans; [|apply Rle_abs]. apply sum_le; intros; apply P.
  - rewrite <- Rabs_Ropp. eapply Rle_trans; [|apply Rle_abs].
    replace (- sum d (fun b => bil d (G b) M (G b))) with (sum d (fun b => -1 * bil d (G b) M (G b))) by (rewrite
      sum_scal; ring).
    apply sum_le; intros b _. assert (H := N (G b)). lra.
Qed.

Lemma QR_low : 0 < qmax -> 0 <= m / r * sqrt qmin - (exp delta - 1) * mm * sqrt qmax ->
  forall y, qmin * F2 Y * sqrt (F2 Y) * (m / r * sqrt qmin - (exp delta - 1) * mm * sqrt qmax) <= sq * (sqrt qmax *
    sqrt (F2 (centred QR y))).
Proof.
  intros Qp Br y. assert (TP := T_pos). assert (KK := K1). assert (F0 : 0 <= F2 Y) by (apply sum_nonneg; intros;
    apply dot_pos).
  set (kap := exp delta - 1) in *. assert (k0 : 0 <= kap) by (unfold kap; lra). set (N := sqrt (F2 Y)).
  assert (N0 : 0 <= N) by apply sqrt_pos.
  assert (mr : 0 <= m / r) by (apply Rmult_le_pos; [exact m0|left; now apply Rinv_0_lt_compat]).
  assert (TL : qmin * F2 Y <= T) by (apply (ip_low Y zero)).
  assert (sT : sqrt qmin * N <= sqrt T) by (unfold N; rewrite <- sqrt_mult_alt by exact qmin0; now apply sqrt_le_1_alt).
  assert (Lq : sqrt (ip QR QR) <= sqrt qmax * sqrt (F2 (centred QR y))) by (rewrite <- sqrt_mult_alt by lra;
    apply sqrt_le_1_alt, ip_high).
  assert (LD : sqrt (ip Dev Dev) <= kap * mm * T * (sqrt qmax * N)).
  { unfold N. rewrite <- sqrt_mult_alt by lra. apply Rsqr_incr_0_var; [|repeat apply Rmult_le_pos; try lra;
      apply sqrt_pos]. unfold Rsqr. rewrite sqrt_sqrt by apply ip_pos.
    replace (kap * mm * T * sqrt (qmax * F2 Y) * (kap * mm * T * sqrt (qmax * F2 Y))) with (kap * kap * (mm * mm) * (T
      * T) * (sqrt (qmax * F2 Y) * sqrt (qmax * F2 Y))) by ring.
    rewrite sqrt_sqrt by (apply Rmult_le_pos; lra).
    apply Rle_trans with (sum n (fun j => q j * dot d (Dev j) (Dev j))).
    - unfold ip. apply Rle_trans with (sum d (fun a => sum n (fun j => q j * (Dev j a * Dev j a)))).
      + apply sum_le; intros a _. eapply Rle_trans; [apply (var_about n q q1 (col Dev a) 0)|]. right.
        apply sum_ext; intros j _. unfold col. ring.
      + right. rewrite sum_swap. apply sum_ext; intros j _. unfold dot. now rewrite sum_scal.
    - replace (kap * kap * (mm * mm) * (T * T) * (qmax * F2 Y)) with (sum n (fun j => qmax * (kap * kap * (mm * mm) *
        (T * T) * dot d (Y j) (Y j)))) by (unfold F2; rewrite !sum_scal; ring).
      apply sum_le; intros j Hj. apply Rmult_le_compat; [auto|apply dot_pos|now apply q_high|now apply Dev_row]. }
  (* |R M G|_q <= sq |Q R|_q + |Dev|_q *)
  assert (Tri : sqrt (ip RMG RMG) <= sq * sqrt (ip QR QR) + sqrt (ip Dev Dev)).
  { assert (E : ip RMG RMG = ip Dev Dev - 2 * (sq * ip Dev QR) + sq * sq * ip QR QR).
    { assert (H := ip_quad Dev QR (- sq)). assert (H2 : ip (fun i a => Dev i a + - sq * QR i a) (fun i a => Dev i a + -
        sq * QR i a) = ip RMG RMG).
      { unfold ip. apply sum_ext; intros a _. replace (cov n q (col RMG a) (col RMG a)) with (cov n q (fun j => -1 *
          col RMG a j) (fun j => -1 * col RMG a j))
          by (rewrite cov_scal, cov_sym, cov_scal; ring). apply cov_ext; intros j _; unfold col, Dev; ring. }
      rewrite H2 in H. rewrite H. ring. }
    assert (CS := ip_cs Dev QR). assert (P1 := ip_pos Dev). assert (P2 := ip_pos QR).
    set (a := sqrt (ip Dev Dev)) in *. set (b := sqrt (ip QR QR)) in *. assert (a0 : 0 <= a) by apply sqrt_pos.
    assert (b0 : 0 <= b) by apply sqrt_pos.
    assert (aa : a * a = ip Dev Dev) by (now apply sqrt_sqrt). assert (bb : b * b = ip QR QR) by (now apply sqrt_sqrt).
    assert (AB : Rabs (ip Dev QR) <= a * b).
    { apply Rsqr_incr_0_var; [|now apply Rmult_le_pos]. unfold Rsqr.
      rewrite <- Rabs_mult, Rabs_right by (apply Rle_ge, Rle_0_sqr). rewrite <- aa, <- bb in CS. lra. }
    apply Rsqr_incr_0_var; [|apply Rplus_le_le_0_compat; [apply Rmult_le_pos; lra|exact a0]]. unfold Rsqr.
    rewrite sqrt_sqrt by apply ip_pos. rewrite E, <- aa, <- bb.
    apply Rabs_le_between in AB. assert (sq * - ip Dev QR <= sq * (a * b)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (In : m / r * T * sqrt T <= sqrt (ip RMG RMG)).
  { destruct TP as [TP|TP]; [|rewrite <- TP, Rmult_0_r, Rmult_0_l; apply sqrt_pos].
    assert (sp : 0 < sqrt T) by (now apply sqrt_lt_R0). assert (st : sqrt T * sqrt T = T) by (apply sqrt_sqrt; lra).
    apply Rmult_le_reg_l with (sqrt T); [exact sp|]. replace (sqrt T * (m / r * T * sqrt T)) with (m / r * T *
      (sqrt T * sqrt T)) by ring. rewrite st, Rmult_assoc.
    eapply Rle_trans; [apply inner_low|]. rewrite <- sqrt_mult_alt by lra. apply Rsqr_incr_0_var; [|apply sqrt_pos].
    unfold Rsqr. rewrite <- Rabs_mult, Rabs_right by (apply Rle_ge, Rle_0_sqr).
    rewrite sqrt_sqrt by (apply Rmult_le_pos; [lra|apply ip_pos]). apply ip_cs. }
  apply Rle_trans with (sq * sqrt (ip QR QR)); [|apply Rmult_le_compat_l; [lra|exact Lq]].
  apply Rle_trans with (T * (N * (m / r * sqrt qmin - kap * mm * sqrt qmax))).
  - rewrite Rmult_assoc. apply Rmult_le_compat_r; [now apply Rmult_le_pos|exact TL].
  - assert (A : m / r * T * (sqrt qmin * N) <= m / r * T * sqrt T) by (apply Rmult_le_compat_l;
      [now apply Rmult_le_pos|exact sT]). lra.
Qed.
End Tokens.

(* ---------- the values, and the mean of the rows ---------- *)
(** The deviation from the mean does not depend on a shift, commutes with the values, and is shorter. *)
Lemma mu_shift n d Y y Z : (0 < n)%nat -> (forall i a, (i < n)%nat -> (a < d)%nat -> Y i a - y a = Z i a) ->
  mu n d Y = mu n d Z.
Proof.
  intros Hn H. assert (Np : 0 < INR n) by (now apply lt_0_INR). unfold mu, frob. f_equal. apply sum_ext; intros i Hi.
  unfold dot. apply sum_ext; intros a Ha.
  assert (E : centred Y (mean n Y) i a = centred Z (mean n Z) i a); [|now rewrite E]. unfold centred, vsub, mean.
  rewrite <- (H i a Hi Ha).
  rewrite (sum_ext n (fun i => Z i a) (fun i => Y i a - y a)) by (intros; symmetry; now apply H).
  rewrite sum_minus, sum_const. field. lra.
Qed.
Lemma mu_frob n d Z : (0 < n)%nat -> mu n d Z <= frob n d Z.
Proof.
  intros Hn. assert (Np : 0 < INR n) by (now apply lt_0_INR). apply sqrt_le_1_alt. unfold dot. rewrite !(sum_swap n d).
  apply sum_le; intros a _. unfold centred, vsub. set (c := mean n Z a).
  rewrite (sum_ext n (fun i => (Z i a - c) * (Z i a - c)) (fun i => Z i a * Z i a - 2 * c * Z i a + c * c)) by (intros;
    ring). rewrite sum_plus, sum_minus, sum_const, sum_scal.
  replace (sum n (fun i => Z i a)) with (INR n * c) by (unfold c, mean; field; lra).
  assert (0 <= INR n * (c * c)) by (apply Rmult_le_pos; [lra|apply Rle_0_sqr]). lra.
Qed.

Theorem order_layer n d Ly X qmin qmax delta mm m omega sigma :
  (2 <= n)%nat -> (1 <= d)%nat -> (0 < dqk Ly)%nat -> nheads Ly = 1%nat -> key_padding n (mask (hd Ly 0)) ->
  let x := mean n X in let q := q_of n d (dqk Ly) (hd Ly 0) x (centred X x) in let E := E_of d (dqk Ly) (hd Ly 0)
    (centred X x) in
  let M := WQK (dqk Ly) (hd Ly 0) in let W := WV (hd Ly 0) in let s := sqrt (INR (dqk Ly)) in let r := INR (Nat.min (n
    - 1) d) in
  0 <= qmin -> 0 < qmax -> (forall j, (j < n)%nat -> qmin <= q j <= qmax) ->
  (forall i j k, (i < n)%nat -> (j < n)%nat -> (k < n)%nat -> E i j - E i k <= delta) ->
  0 <= mm -> (forall v, l2 d (vmat d v M) <= mm * l2 d v) ->
  0 <= m -> (forall v, m * dot d v v <= bil d v M v) \/ (forall v, bil d v M v <= - (m * dot d v v)) ->
  0 <= sigma -> (forall v, sigma * l2 d v <= l2 d (vmat d v W)) -> 0 <= omega ->
    (forall v, l2 d (vmat d v W) <= omega * l2 d v) ->
  mu n d (SA n d Ly X) <= omega * qmax * exp delta * mm / s * mu n d X ^ 3 /\
  (0 <= m / r * sqrt (qmin / qmax) - (exp delta - 1) * mm ->
   sigma * qmin / s * (m / r * sqrt (qmin / qmax) - (exp delta - 1) * mm) * mu n d X ^ 3 <= mu n d (SA n d Ly X)).
Proof.
  intros Hn Hd Hq H1 KP x q E M W s r q0 Q0 Hqq Ho mm0 HM m0 Df sg0 Hs om0 Hw.
  assert (n_pos : (0 < n)%nat) by lia. assert (Np : 0 < INR n) by (now apply lt_0_INR).
  assert (sp : 0 < s) by (now apply sqrt_dqk_pos).
  destruct (q_prob n d (dqk Ly) (hd Ly 0) X x n_pos KP) as [Qp Qs]. fold q in Qp, Qs.
  set (Y := centred X x). assert (mY : mu n d X = sqrt (F2 n d Y)) by reflexivity.
  assert (F0 : 0 <= F2 n d Y) by (apply sum_nonneg; intros; apply dot_pos).
  set (Z := QR n d q Y M s).
  assert (SAZ : forall i a, (i < n)%nat -> (a < d)%nat -> SA n d Ly X i a - new_centre n d Ly X x a = mmul d Z W i a).
  { intros i a Hi Ha. assert (C := centred_form n d Ly X x i a (fun h Hh => ltac:(replace h with 0%nat by lia;
      exact KP)) Hi). rewrite H1 in C. cbn [sum] in C. rewrite Rplus_0_l in C.
    unfold centred at 1, vsub in C. rewrite C. apply vmat_ext. intros b _. unfold mmul, Z, QR, vmat.
    apply sum_ext; intros j Hj. f_equal.
    unfold Q_of. rewrite (attn_centred n d (dqk Ly) (hd Ly 0) X x n_pos Hq KP i j Hi Hj). reflexivity. }
  rewrite (mu_shift n d (SA n d Ly X) (new_centre n d Ly X x) (mmul d Z W) n_pos SAZ).
  assert (sq_l2 : forall c (u v : vec), 0 <= c -> l2 d u <= c * l2 d v -> dot d u u <= c * c * dot d v v).
  { intros c u v Hc H. unfold l2 in H. rewrite <- (sqrt_sqrt (dot d u u)), <- (sqrt_sqrt (dot d v v)) by apply dot_pos.
    replace (c * c * (sqrt (dot d v v) * sqrt (dot d v v))) with (c * sqrt (dot d v v) * (c * sqrt (dot d v v))) by
      ring. apply Rmult_le_compat; try apply sqrt_pos; exact H. }
  assert (Low : forall j, (j < n)%nat -> qmin <= q j) by (intros; now apply Hqq).
  assert (High : forall j, (j < n)%nat -> q j <= qmax) by (intros; now apply Hqq).
  assert (m3 : mu n d X ^ 3 = F2 n d Y * sqrt (F2 n d Y)) by (rewrite mY; simpl;
    rewrite Rmult_1_r, <- Rmult_assoc, sqrt_sqrt by exact F0; ring).
  split.
  - eapply Rle_trans; [apply mu_frob, n_pos|]. apply Rle_trans with (omega * sqrt (F2 n d Z)).
    + unfold frob. rewrite <- (sqrt_square omega) by exact om0. rewrite <- sqrt_mult_alt by apply Rle_0_sqr.
      apply sqrt_le_1_alt. unfold F2. rewrite <- sum_scal. apply sum_le; intros i _.
      apply (sq_l2 omega (mmul d Z W i) (Z i) om0). apply Hw.
    + assert (H := QR_high n d q Y M n_pos Qp Qs qmax High s delta mm sp HM mm0 Ho). fold Z in H. rewrite m3.
      replace (omega * qmax * exp delta * mm / s * (F2 n d Y * sqrt (F2 n d Y))) with (omega * (exp delta * mm * (qmax
        * F2 n d Y) * sqrt (F2 n d Y) / s)) by (field; lra).
      apply Rmult_le_compat_l; [exact om0|]. apply Rmult_le_reg_l with s; [exact sp|]. eapply Rle_trans; [exact H|].
      right. field. lra.
  - intros Br. set (y := mean n Z).
    assert (rp : 0 < r) by (apply lt_0_INR; lia).
    assert (Sm : sqrt (qmin / qmax) = sqrt qmin / sqrt qmax) by (apply sqrt_div_alt; exact Q0).
    assert (Sq : 0 < sqrt qmax) by (now apply sqrt_lt_R0). rewrite Sm in *.
    assert (Br2 : 0 <= m / r * sqrt qmin - (exp delta - 1) * mm * sqrt qmax).
    { apply (Rmult_le_compat_r (sqrt qmax)) in Br; [|lra]. rewrite Rmult_0_l in Br.
      replace ((m / r * (sqrt qmin / sqrt qmax) - (exp delta - 1) * mm) * sqrt qmax) with (m / r * sqrt qmin - (exp
        delta - 1) * mm * sqrt qmax) in Br by (field; lra). exact Br. }
    assert (Tr : T n d q Y * T n d q Y <= r * sum d (fun b => dot d (G n q Y b) (G n q Y b))).
    { unfold r. destruct (Nat.min_spec (n - 1) d) as [[_ ->]|[_ ->]].
      - rewrite minus_INR by lia. simpl INR. now apply trace_n.
      - apply trace_d. }
    assert (Zr : forall a, (a < d)%nat -> sum n (col Y a) = 0).
    { intros a _. unfold col, Y, centred, vsub. rewrite sum_minus, sum_const. unfold x, mean. field. lra. }
    assert (H := QR_low n d q Y M n_pos Qp Qs qmin qmax q0 Low High s delta mm m sp HM mm0 Ho r rp Tr m0 Df Zr Q0 Br2
      y). fold Z in H.
    apply Rle_trans with (sigma * sqrt (F2 n d (centred Z y))).
    + rewrite m3. replace (sigma * qmin / s * (m / r * (sqrt qmin / sqrt qmax) - (exp delta - 1) * mm) * (F2 n d Y *
        sqrt (F2 n d Y)))
        with (sigma * (qmin * F2 n d Y * sqrt (F2 n d Y) * (m / r * sqrt qmin - (exp delta - 1) * mm * sqrt qmax) / (s
          * sqrt qmax))) by (field; repeat split; lra).
      apply Rmult_le_compat_l; [exact sg0|]. apply Rmult_le_reg_r with (s * sqrt qmax); [now apply Rmult_lt_0_compat|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by (apply Rgt_not_eq; now apply Rmult_lt_0_compat). lra.
    + unfold mu, frob. rewrite <- (sqrt_square sigma) by exact sg0. rewrite <- sqrt_mult_alt by apply Rle_0_sqr.
      apply sqrt_le_1_alt. unfold F2. rewrite <- sum_scal. apply sum_le; intros i _.
      assert (V : forall b, centred (mmul d Z W) (mean n (mmul d Z W)) i b = vmat d (centred Z y i) W b).
      { intro b. unfold centred at 2. rewrite <- vmat_sub. unfold centred, vsub, mmul. f_equal. unfold mean, y, vmat.
        rewrite sum_swap. unfold Rdiv. rewrite <- sum_scal_r. apply sum_ext; intros a _. rewrite sum_scal_r.
        unfold mean, Rdiv. ring. }
      unfold dot at 2. rewrite (sum_ext d _ (fun b => vmat d (centred Z y i) W b * vmat d (centred Z y i) W b)) by
        (intros; now rewrite V). fold (dot d (vmat d (centred Z y i) W) (vmat d (centred Z y i) W)).
      assert (HH := Hs (centred Z y i)). unfold l2 in HH. rewrite <- (sqrt_sqrt (dot d (centred Z y i) (centred Z y
        i))), <- (sqrt_sqrt (dot d (vmat d (centred Z y i) W) (vmat d (centred Z y i) W))) by apply dot_pos.
      replace (sigma * sigma * (sqrt (dot d (centred Z y i) (centred Z y i)) * sqrt (dot d (centred Z y i) (centred Z y
        i)))) with (sigma * sqrt (dot d (centred Z y i) (centred Z y i)) * (sigma * sqrt (dot d (centred Z y i)
          (centred Z y i)))) by ring.
      apply Rmult_le_compat; try exact HH; (apply Rmult_le_pos; [exact sg0|apply sqrt_pos]).
Qed.
