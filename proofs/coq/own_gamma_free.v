(** own:gamma-free, own:gamma-free-one-head.  Any centre x, R = X - 1 x^T; E, q of the centred form;
  delta >= osc_j E_ij for all
    rows and heads; alpha_h = norm1 W_QK,h.  Then
        comp(res SA(X)) <= C(delta)/sqrt d_qk (sum_h |q_h|_inf alpha_h norm1 W_h)^(1/2)
                           (sum_h alpha_h norminf W_h)^(1/2) comp(R)^3,   C(delta)^2 = 2 (e^delta - 1)/delta
    [gamma_free].  One head may put tanhc(delta/4) C(delta)^2 in place of C(delta)^2, where delta is the
    largest oscillation itself [gamma_free_one_head]. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Rcomplements.
From Rankmath Require Import Definitions Functions Norms Softmax own_tv centred_form.
Local Open Scope R_scope.

(* ---------- one row ---------- *)
(** |e^{E_j}/Z - 1| <= expc(delta) (|E_j| + sum_k q_k |E_k|), multiplied by q_j. *)
Lemma entry n (q E : vec) delta j :
  (forall j, (j < n)%nat -> 0 <= q j) -> sum n q = 1 ->
  (forall j k, (j < n)%nat -> (k < n)%nat -> 0 < q j -> 0 < q k -> E j - E k <= delta) -> (j < n)%nat ->
  Rabs (tilt n q E j - q j) <= expc delta * q j * (Rabs (E j) + sum n (fun k => q k * Rabs (E k))).
Proof.
  intros Hq Hs Ho Hj. assert (W : weights n q) by now apply prob_weights.
  assert (D0 : 0 <= delta). { destruct W as [_ [k [Hk Pk]]]. specialize (Ho k k Hk Hk Pk Pk). lra. }
  assert (Zp := tilt_Z_pos n q W E). set (Z := sum n (fun k => q k * exp (E k))) in *.
  assert (K1 := expc_ge1 delta D0). set (K := expc delta) in *.
  set (A := sum n (fun k => q k * Rabs (E k))).
  assert (A0 : 0 <= A) by (apply sum_nonneg; intros k Hk; apply Rmult_le_pos; [auto|apply Rabs_pos]).
  assert (Aj := Rabs_pos (E j)).
  destruct (Rle_lt_or_eq_dec 0 (q j) (Hq j Hj)) as [Lj|Lj].
  2:{ unfold tilt. rewrite <- Lj. unfold Rdiv. rewrite !Rmult_0_l, Rminus_0_r, Rabs_R0, Rmult_0_r, Rmult_0_l. lra. }
  assert (Pj := exp_pos (E j)).
  assert (Eq : tilt n q E j - q j = q j * (exp (E j) / Z - 1)) by (unfold tilt; fold Z; field; lra).
  rewrite Eq, Rabs_mult, (Rabs_right (q j)) by lra.
  replace (K * q j * (Rabs (E j) + A)) with (q j * (K * (Rabs (E j) + A))) by ring.
  apply Rmult_le_compat_l; [lra|].
  (* the mean of E *)
  set (Eb := sum n (fun k => q k * E k)).
  assert (EbA : - A <= Eb).
  { assert (H : Rabs Eb <= A).
    { unfold Eb, A. eapply Rle_trans; [apply sum_abs|]. apply sum_le; intros k Hk.
      rewrite Rabs_mult, (Rabs_right (q k)) by (apply Rle_ge; auto). lra. }
    apply Rabs_le_between in H. lra. }
  assert (ZE : exp Eb <= Z).
  { (* Jensen, by the tangent at Eb *)
    replace (exp Eb) with (exp Eb * (sum n q + (Eb - Eb * sum n q))) by (rewrite Hs; ring).
    unfold Eb at 2. rewrite <- sum_scal, <- sum_minus, <- sum_plus, <- sum_scal. apply sum_le; intros k Hk.
    assert (T := exp_ineq1_le (E k - Eb)). assert (PE := exp_pos Eb).
    replace (exp (E k)) with (exp Eb * exp (E k - Eb)) by (rewrite <- exp_plus; f_equal; ring).
    replace (exp Eb * (q k + (q k * E k - Eb * q k))) with (q k * (exp Eb * (1 + (E k - Eb)))) by ring.
    apply Rmult_le_compat_l; [auto|]. apply Rmult_le_compat_l; lra. }
  assert (EbD : E j - Eb <= delta).
  { replace (E j - Eb) with (sum n (fun k => q k * (E j - E k))).
    - rewrite <- (Rmult_1_l delta), <- Hs, <- sum_scal_r. apply sum_le; intros k Hk.
      destruct (Rle_lt_or_eq_dec 0 (q k) (Hq k Hk)) as [Lk|Lk]; [|rewrite <- Lk; lra].
      apply Rmult_le_compat_l; [lra|]. now apply Ho.
    - unfold Eb. rewrite (sum_ext n _ (fun k => q k * E j - q k * E k)) by (intros; ring).
      rewrite sum_minus, sum_scal_r, Hs. ring. }
  assert (RA := Rle_abs (E j)). assert (RB : - E j <= Rabs (E j)) by (rewrite <- Rabs_Ropp; apply Rle_abs).
  apply Rabs_le. split.
  - (* 1 - e^{E_j}/Z <= Z e^{-E_j} - 1 *)
    set (y := Z / exp (E j)). assert (Yp : 0 < y) by (apply Rdiv_lt_0_compat; assumption).
    assert (Ey : exp (E j) / Z = / y) by (unfold y; field; lra). rewrite Ey.
    assert (Y1 : 1 - / y <= y - 1).
    { apply Rmult_le_reg_r with y; [exact Yp|].
      replace ((1 - / y) * y) with (y - 1) by (field; lra). assert (Sq := Rle_0_sqr (y - 1)). unfold Rsqr in Sq. lra. }
    assert (Y2 : y - 1 <= K * (Rabs (E j) + A)); [|lra].
    replace (y - 1) with (sum n (fun k => q k * (exp (E k - E j) - 1))).
    + apply Rle_trans with (sum n (fun k => q k * (K * (Rabs (E j) + Rabs (E k))))).
      * apply sum_le; intros k Hk.
        destruct (Rle_lt_or_eq_dec 0 (q k) (Hq k Hk)) as [Lk|Lk]; [|rewrite <- Lk; lra].
        apply Rmult_le_compat_l; [lra|]. assert (Ck := Rle_abs (E k)). assert (Ak := Rabs_pos (E k)).
        destruct (Rle_or_lt (E k - E j) 0) as [Ng|Ps].
        -- assert (exp (E k - E j) <= 1) by (rewrite <- exp_0; now apply exp_le).
           assert (0 <= K * (Rabs (E j) + Rabs (E k))) by (apply Rmult_le_pos; lra). lra.
        -- assert (Q := exp_chord (E k - E j) delta ltac:(split; [lra|now apply Ho])). fold K in Q.
           eapply Rle_trans; [exact Q|]. apply Rmult_le_compat_l; lra.
      * right. rewrite (sum_ext n _ (fun k => K * Rabs (E j) * q k + K * (q k * Rabs (E k)))) by (intros; ring).
        rewrite sum_plus, !sum_scal, Hs. unfold A. ring.
    + rewrite (sum_ext n _ (fun k => q k * exp (E k) * / exp (E j) - q k)).
      * rewrite sum_minus, sum_scal_r, Hs. reflexivity.
      * intros k _. unfold Rminus at 2. rewrite exp_plus, exp_Ropp. ring.
  - assert (U : exp (E j) / Z <= exp (E j - Eb)).
    { replace (exp (E j - Eb)) with (exp (E j) / exp Eb).
      - apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; [apply exp_pos|exact ZE].
      - unfold Rminus. rewrite exp_plus, exp_Ropp. reflexivity. }
    destruct (Rle_or_lt (E j - Eb) 0) as [Ng|Ps].
    + assert (exp (E j - Eb) <= 1) by (rewrite <- exp_0; now apply exp_le).
      assert (0 <= K * (Rabs (E j) + A)) by (apply Rmult_le_pos; lra). lra.
    + assert (Q := exp_chord (E j - Eb) delta ltac:(lra)). fold K in Q.
      assert (K * (E j - Eb) <= K * (Rabs (E j) + A)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* ---------- one head ---------- *)
Section Head.
Variables (n d dq : nat) (h : head) (X : mat) (x : vec).
Hypothesis Hn : (0 < n)%nat.
Hypothesis Hq : (0 < dq)%nat.
Hypothesis M : key_padding n (mask h).
Let RR := centred X x.
Let q := q_of n d dq h x RR.
Let E := E_of d dq h RR.
Let Q := Q_of n d dq h X x.
Let s := sqrt (INR dq).
Let alpha := norm1 d d (WQK dq h).
(** epsilon = alpha comp(R)^2 / sqrt d_qk *)
Let eps := alpha * comp n d RR ^ 2 / s.

Let Sp : 0 < s.
Proof. now apply sqrt_dqk_pos. Qed.

Lemma E_col j : (j < n)%nat -> sum n (fun i => Rabs (E i j)) <= eps.
Proof.
  intros Hj. unfold eps. replace (comp n d RR ^ 2) with (norm1 n d RR * norminf n d RR) by (rewrite <- comp_sq; ring).
  assert (SP := Sp).
  rewrite (sum_ext n _ (fun i => Rabs (bil d (RR i) (WQK dq h) (RR j)) * / s)).
  2:{ intros i _. unfold E, E_of, Rdiv. fold s. rewrite Rabs_mult, (Rabs_right (/ s)); [reflexivity|]. left.
      now apply Rinv_0_lt_compat. }
  rewrite sum_scal_r. apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
  apply Rle_trans with (sum d (fun b => norm1 n d (mmul d RR (WQK dq h)) * Rabs (RR j b))).
  - apply Rle_trans with (sum n (fun i => sum d (fun b => Rabs (mmul d RR (WQK dq h) i b) * Rabs (RR j b)))).
    + apply sum_le; intros i _. rewrite bil_dot. unfold dot. eapply Rle_trans; [apply sum_abs|].
      apply sum_le; intros b _. rewrite Rabs_mult. unfold mmul. lra.
    + rewrite sum_swap. apply sum_le; intros b Hb. rewrite sum_scal_r.
      apply Rmult_le_compat_r; [apply Rabs_pos|now apply col_le].
  - rewrite sum_scal.
    replace (alpha * (norm1 n d RR * norminf n d RR)) with (norm1 n d RR * alpha * norminf n d RR) by ring.
    apply Rmult_le_compat; [apply maxf_pos|apply sum_nonneg; intros; apply Rabs_pos|apply norm1_mmul|].
    now apply (row_le n d RR j).
Qed.

Lemma E_entry i j : (i < n)%nat -> (j < n)%nat -> Rabs (E i j) <= eps.
Proof.
  intros Hi Hj. eapply Rle_trans; [|apply (E_col j Hj)].
  apply (sum_term_le n (fun i => Rabs (E i j)) i); [intros; apply Rabs_pos|exact Hi].
Qed.

Lemma eps_nonneg : 0 <= eps.
Proof.
  unfold eps. apply Rmult_le_pos; [apply Rmult_le_pos; [apply maxf_pos|apply pow2_ge_0]|].
  left. apply Rinv_0_lt_compat, Sp.
Qed.

Lemma q_facts : (forall j, (j < n)%nat -> 0 <= q j) /\ sum n q = 1.
Proof. now apply q_prob. Qed.

Lemma Q_eq i j : (i < n)%nat -> (j < n)%nat -> Q i j = tilt n q (E i) j - q j.
Proof. intros Hi Hj. unfold Q, Q_of. now rewrite (attn_centred n d dq h X x Hn Hq M i j Hi Hj). Qed.

Lemma Q_inf_tanh delta :
  (forall i j k, (i < n)%nat -> (j < n)%nat -> (k < n)%nat -> 0 < q j -> 0 < q k -> E i j - E i k <= delta) ->
  norminf n n Q <= 2 * tanh (delta / 4).
Proof.
  intros Ho. destruct q_facts as [Hp Hs].
  assert (D0 : 0 <= delta).
  { destruct (prob_weights n q Hp Hs) as [_ [k [Hk Pk]]]. specialize (Ho 0%nat k k Hn Hk Hk Pk Pk). lra. }
  assert (T0 := tanh_nonneg (delta / 4) ltac:(lra)).
  apply maxf_lub; [lra|]. intros i Hi.
  assert (T := tv_tanh n q (E i) delta Hp Hs (fun j k Hj Hk => Ho i j k Hi Hj Hk)). unfold tv in T.
  rewrite (sum_ext n _ (fun j => Rabs (tilt n q (E i) j - q j))) by (intros; now rewrite Q_eq). lra.
Qed.

Lemma Q_inf : norminf n n Q <= eps.
Proof.
  eapply Rle_trans; [apply (Q_inf_tanh (2 * eps))|].
  - intros i j k Hi Hj Hk _ _. assert (A := E_entry i j Hi Hj). assert (B := E_entry i k Hi Hk).
    apply Rabs_le_between in A. apply Rabs_le_between in B. lra.
  - assert (P := eps_nonneg). assert (T := tanh_le_id (2 * eps / 4) ltac:(lra)). lra.
Qed.

Lemma Q_one delta :
  (forall i j k, (i < n)%nat -> (j < n)%nat -> (k < n)%nat -> 0 < q j -> 0 < q k -> E i j - E i k <= delta) ->
  norm1 n n Q <= 2 * expc delta * maxf n q * eps.
Proof.
  intros Ho. destruct q_facts as [Hp Hs].
  assert (D0 : 0 <= delta).
  { destruct (prob_weights n q Hp Hs) as [_ [k [Hk Pk]]]. specialize (Ho 0%nat k k Hn Hk Hk Pk Pk). lra. }
  assert (K1 := expc_ge1 delta D0). assert (P := eps_nonneg). assert (Qm := maxf_pos n q).
  apply maxf_lub.
  - apply Rmult_le_pos; [apply Rmult_le_pos; [lra|exact Qm]|exact P].
  - intros j Hj.
    apply Rle_trans with (sum n (fun i => expc delta * q j * (Rabs (E i j) + sum n (fun k => q k * Rabs (E i k))))).
    + apply sum_le; intros i Hi. rewrite Q_eq by assumption.
      now apply (entry n q (E i) delta j Hp Hs (fun j k Hj Hk => Ho i j k Hi Hj Hk)).
    + rewrite sum_scal, sum_plus, sum_swap.
      assert (A1 := E_col j Hj).
      assert (A2 : sum n (fun k => sum n (fun i => q k * Rabs (E i k))) <= eps).
      { rewrite <- (Rmult_1_l eps), <- Hs, <- sum_scal_r. apply sum_le; intros k Hk. rewrite sum_scal.
        apply Rmult_le_compat_l; [auto|now apply E_col]. }
      replace (2 * expc delta * maxf n q * eps) with (expc delta * maxf n q * (eps + eps)) by ring.
      apply Rmult_le_compat.
      * apply Rmult_le_pos; [lra|auto].
      * apply Rplus_le_le_0_compat; apply sum_nonneg; intros; [apply Rabs_pos|].
        apply sum_nonneg; intros; apply Rmult_le_pos; [auto|apply Rabs_pos].
      * apply Rmult_le_compat_l; [lra|now apply maxf_ub].
      * lra.
Qed.
End Head.

Lemma qmax_le1 n d dq h X x : (0 < n)%nat -> key_padding n (mask h) -> qmax_of n d dq h X x <= 1.
Proof.
  intros Hn M. destruct (q_prob n d dq h X x Hn M) as [Hp Hs]. apply maxf_lub; [lra|]. intros j Hj.
  rewrite <- Hs. now apply sum_term_le.
Qed.

(** A bound on delta_of bounds every difference. *)
Lemma delta_osc n d dq h X x delta : delta_of n d dq h X x <= delta ->
  forall i j k, (i < n)%nat -> (j < n)%nat -> (k < n)%nat ->
  0 < q_of n d dq h x (centred X x) j -> 0 < q_of n d dq h x (centred X x) k ->
  E_of d dq h (centred X x) i j - E_of d dq h (centred X x) i k <= delta.
Proof.
  intros H i j k Hi Hj Hk Qj Qk. eapply Rle_trans.
  - apply (osc_ub n (q_of n d dq h x (centred X x)) (E_of d dq h (centred X x) i) j k); assumption.
  - eapply Rle_trans; [|exact H]. apply (maxf_ub n (D_of n d dq h X x) i Hi).
Qed.

(* ---------- a layer ---------- *)
Section Layer.
Variables (n d : nat) (Ly : layer) (X : mat) (x : vec).
Hypothesis Hn : (0 < n)%nat.
Hypothesis Hq : (0 < dqk Ly)%nat.
Hypothesis M : forall h, (h < nheads Ly)%nat -> key_padding n (mask (hd Ly h)).

Let alpha h := norm1 d d (WQK (dqk Ly) (hd Ly h)).
Let s := sqrt (INR (dqk Ly)).
Let rho := comp n d (centred X x).

(** Any bounds a_h on norm1 Q_h and b_h on norminf Q_h bound the new residual. *)
Lemma layer_from_Q (a b : nat -> R) :
  (forall h, (h < nheads Ly)%nat -> norm1 n n (Q_of n d (dqk Ly) (hd Ly h) X x) <= a h) ->
  (forall h, (h < nheads Ly)%nat -> norminf n n (Q_of n d (dqk Ly) (hd Ly h) X x) <= b h) ->
  comp n d (centred (SA n d Ly X) (new_centre n d Ly X x)) <=
  sqrt (sum (nheads Ly) (fun h => a h * norm1 d d (WV (hd Ly h)))) *
  sqrt (sum (nheads Ly) (fun h => b h * norminf d d (WV (hd Ly h)))) * rho.
Proof.
  intros Ha Hb.
  rewrite (comp_ext n d _ (fun i e => sum (nheads Ly) (fun h =>
    mmul d (mmul n (Q_of n d (dqk Ly) (hd Ly h) X x) (centred X x)) (WV (hd Ly h)) i e)))
    by (intros; apply centred_form; assumption).
  assert (A0 : 0 <= sum (nheads Ly) (fun h => a h * norm1 d d (WV (hd Ly h)))).
  { apply sum_nonneg; intros h Hh. apply Rmult_le_pos; [|apply maxf_pos].
    exact (Rle_trans _ _ _ (maxf_pos _ _) (Ha h Hh)). }
  assert (B0 : 0 <= sum (nheads Ly) (fun h => b h * norminf d d (WV (hd Ly h)))).
  { apply sum_nonneg; intros h Hh. apply Rmult_le_pos; [|apply maxf_pos].
    exact (Rle_trans _ _ _ (maxf_pos _ _) (Hb h Hh)). }
  unfold rho, comp at 2. rewrite <- !sqrt_mult_alt; [|apply Rmult_le_pos; assumption|exact A0].
  match goal with |- _ <= sqrt (?A * ?B * (?C * ?D)) => replace (A * B * (C * D)) with ((A * C) * (B * D)) by ring end.
  apply comp_le.
  - eapply Rle_trans; [apply norm1_sum|]. rewrite <- sum_scal_r. apply sum_le; intros h Hh.
    eapply Rle_trans; [apply norm1_mmul|]. replace (a h * norm1 d d (WV (hd Ly h)) * norm1 n d (centred X x))
      with (a h * norm1 n d (centred X x) * norm1 d d (WV (hd Ly h))) by ring.
    apply Rmult_le_compat_r; [apply maxf_pos|]. eapply Rle_trans; [apply norm1_mmul|].
    apply Rmult_le_compat_r; [apply maxf_pos|now apply Ha].
  - eapply Rle_trans; [apply norminf_sum|]. rewrite <- sum_scal_r. apply sum_le; intros h Hh.
    eapply Rle_trans; [apply norminf_mmul|]. replace (b h * norminf d d (WV (hd Ly h)) * norminf n d (centred X x))
      with (b h * norminf n d (centred X x) * norminf d d (WV (hd Ly h))) by ring.
    apply Rmult_le_compat_r; [apply maxf_pos|]. eapply Rle_trans; [apply norminf_mmul|].
    apply Rmult_le_compat_r; [apply maxf_pos|now apply Hb].
Qed.

(** The bound about the new centre x', for any numbers g_h >= |q_h|_inf. *)
Lemma gamma_free_any (delta : R) (g : nat -> R) :
  (forall h, (h < nheads Ly)%nat -> delta_of n d (dqk Ly) (hd Ly h) X x <= delta) ->
  (forall h, (h < nheads Ly)%nat -> qmax_of n d (dqk Ly) (hd Ly h) X x <= g h) -> 0 <= delta ->
  comp n d (centred (SA n d Ly X) (new_centre n d Ly X x)) <=
  sqrt (2 * expc delta) / s * sqrt (sum (nheads Ly) (fun h => g h * alpha h * norm1 d d (WV (hd Ly h)))) *
  sqrt (sum (nheads Ly) (fun h => alpha h * norminf d d (WV (hd Ly h)))) * rho ^ 3.
Proof.
  intros Hd Hg D0. assert (K1 := expc_ge1 delta D0). assert (SP : 0 < s) by now apply sqrt_dqk_pos.
  assert (R0 : 0 <= rho) by apply comp_pos.
  assert (t0 : 0 <= rho ^ 2 / s) by (apply Rmult_le_pos; [apply pow2_ge_0|left; now apply Rinv_0_lt_compat]).
  eapply Rle_trans.
  - apply (layer_from_Q (fun h => (rho ^ 2 / s * (2 * expc delta)) * (g h * alpha h)) (fun h => rho ^ 2 / s * alpha h)).
    + intros h Hh. eapply Rle_trans; [apply (Q_one n d (dqk Ly) (hd Ly h) X x Hn Hq (M h Hh) delta)|].
      * apply delta_osc. now apply Hd.
      * fold (alpha h) rho s.
        replace (rho ^ 2 / s * (2 * expc delta) * (g h * alpha h)) with (2 * expc delta * g h * (alpha h * rho ^ 2 /
          s)) by (field; lra).
        apply Rmult_le_compat_r; [apply (eps_nonneg n d (dqk Ly) (hd Ly h) X x Hq)|].
        apply Rmult_le_compat_l; [lra|]. now apply Hg.
    + intros h Hh. eapply Rle_trans; [apply (Q_inf n d (dqk Ly) (hd Ly h) X x Hn Hq (M h Hh))|].
      fold (alpha h) rho s. right. field. lra.
  - right.
    rewrite (sum_ext (nheads Ly) _ (fun h => rho ^ 2 / s * (2 * expc delta) * (g h * alpha h * norm1 d d (WV (hd Ly
      h))))) by (intros; ring).
    rewrite (sum_ext (nheads Ly) (fun h => rho ^ 2 / s * alpha h * _) (fun h => rho ^ 2 / s * (alpha h * norminf d d
      (WV (hd Ly h))))) by (intros; ring).
    rewrite !sum_scal.
    rewrite (sqrt_mult_alt (rho ^ 2 / s * (2 * expc delta))) by (apply Rmult_le_pos; [exact t0|lra]).
    rewrite (sqrt_mult_alt (rho ^ 2 / s) (2 * expc delta)) by exact t0.
    rewrite (sqrt_mult_alt (rho ^ 2 / s) (sum _ _)) by exact t0.
    set (A := sqrt (sum _ _)). set (Bq := sqrt (sum _ _)). set (C := sqrt (2 * expc delta)).
    assert (T := sqrt_sqrt (rho ^ 2 / s) t0).
    replace (sqrt (rho ^ 2 / s) * C * A * (sqrt (rho ^ 2 / s) * Bq) * rho)
      with (sqrt (rho ^ 2 / s) * sqrt (rho ^ 2 / s) * (C * A * Bq * rho)) by ring.
    rewrite T. field. lra.
Qed.

Theorem gamma_free (delta r' : R) : 0 <= delta ->
  (forall h, (h < nheads Ly)%nat -> delta_of n d (dqk Ly) (hd Ly h) X x <= delta) ->
  residual (comp n d) (SA n d Ly X) r' ->
  r' <= sqrt (2 * expc delta) / s *
        sqrt (sum (nheads Ly) (fun h => qmax_of n d (dqk Ly) (hd Ly h) X x * alpha h * norm1 d d (WV (hd Ly h)))) *
        sqrt (sum (nheads Ly) (fun h => alpha h * norminf d d (WV (hd Ly h)))) * rho ^ 3.
Proof.
  intros D0 Hd [y [Hy <-]]. eapply Rle_trans; [apply (Hy (new_centre n d Ly X x))|].
  apply gamma_free_any; [exact Hd|intros; lra|exact D0].
Qed.

(** One head, delta the largest oscillation: C^2 shrinks by tanhc(delta/4) = tanh(delta/4)/(delta/4). *)
Theorem gamma_free_one_head (r' : R) :
  nheads Ly = 1%nat -> residual (comp n d) (SA n d Ly X) r' ->
  let delta := delta_of n d (dqk Ly) (hd Ly 0) X x in
  r' <= sqrt (tanhc (delta / 4) * (2 * expc delta)) * sqrt (qmax_of n d (dqk Ly) (hd Ly 0) X x) *
        (alpha 0%nat * comp d d (WV (hd Ly 0)) / s) * rho ^ 3.
Proof.
  intros H1 [y [Hy <-]] delta. eapply Rle_trans; [apply (Hy (new_centre n d Ly X x))|].
  assert (SP : 0 < s) by now apply sqrt_dqk_pos. assert (R0 : 0 <= rho) by apply comp_pos.
  assert (M0 : key_padding n (mask (hd Ly 0))) by (apply M; lia).
  assert (D0 : 0 <= delta) by apply maxf_pos. assert (K1 := expc_ge1 delta D0).
  assert (A0 : 0 <= alpha 0%nat) by apply maxf_pos.
  set (qm := qmax_of n d (dqk Ly) (hd Ly 0) X x). assert (Q0 : 0 <= qm) by apply maxf_pos.
  set (ep := alpha 0%nat * rho ^ 2 / s).
  assert (E0 : 0 <= ep) by apply (eps_nonneg n d (dqk Ly) (hd Ly 0) X x Hq).
  assert (T0 : 0 <= tanhc (delta / 4)) by (apply tanhc_nonneg; lra).
  assert (De : delta <= 2 * ep).
  { apply maxf_lub; [lra|]. intros i Hi. apply osc_lub; [lra|]. intros j k Hj Hk _ _.
    assert (A := E_entry n d (dqk Ly) (hd Ly 0) X x Hq i j Hi Hj).
    assert (B := E_entry n d (dqk Ly) (hd Ly 0) X x Hq i k Hi Hk). fold (alpha 0%nat) rho s ep in A, B.
    apply Rabs_le_between in A. apply Rabs_le_between in B. lra. }
  assert (Bd : comp n d (centred (SA n d Ly X) (new_centre n d Ly X x)) <=
     sqrt (2 * expc delta * qm * ep * norm1 d d (WV (hd Ly 0))) *
     sqrt (tanhc (delta / 4) * ep * norminf d d (WV (hd Ly 0))) * rho).
  { eapply Rle_trans.
    - apply (layer_from_Q (fun _ => 2 * expc delta * qm * ep) (fun _ => tanhc (delta / 4) * ep)).
      + intros h Hh. replace h with 0%nat by lia.
        apply (Q_one n d (dqk Ly) (hd Ly 0) X x Hn Hq M0 delta), delta_osc. apply Rle_refl.
      + intros h Hh. replace h with 0%nat by lia.
        eapply Rle_trans; [apply (Q_inf_tanh n d (dqk Ly) (hd Ly 0) X x Hn Hq M0 delta), delta_osc, Rle_refl|].
        rewrite <- tanhc_spec. apply Rle_trans with (tanhc (delta / 4) * (delta / 2)); [right; field|].
        apply Rmult_le_compat_l; [exact T0|lra].
    - rewrite H1. cbn [sum]. rewrite !Rplus_0_l. lra. }
  eapply Rle_trans; [exact Bd|]. right.
  assert (N1 := norm1_pos d d (WV (hd Ly 0))). assert (NI := norminf_pos d d (WV (hd Ly 0))).
  rewrite <- sqrt_mult_alt by pos.
  replace (2 * expc delta * qm * ep * norm1 d d (WV (hd Ly 0)) * (tanhc (delta / 4) * ep * norminf d d (WV (hd Ly 0))))
    with (tanhc (delta / 4) * (2 * expc delta) * qm * (norm1 d d (WV (hd Ly 0)) * norminf d d (WV (hd Ly 0))) * Rsqr ep)
    by (unfold Rsqr; ring).
  rewrite (sqrt_mult_alt _ (Rsqr ep)) by pos. rewrite sqrt_Rsqr by exact E0.
  rewrite (sqrt_mult_alt _ (norm1 d d (WV (hd Ly 0)) * norminf d d (WV (hd Ly 0)))) by pos.
  rewrite (sqrt_mult_alt _ qm) by pos.
  fold (comp d d (WV (hd Ly 0))). unfold ep. field. lra.
Qed.
End Layer.
