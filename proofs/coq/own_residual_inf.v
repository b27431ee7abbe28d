(** own:residual-inf.  With r = min_x max_i N(X_i - x), the radius of the tokens in any seminorm N,
        r(SA(X)) <= sum_h w_h 2 r tanh(m_h r^2 / (2 sqrt d_qk)) <= (sum_h w_h m_h / sqrt d_qk) r^3
    [residual_layer]; any centre serves on the right-hand side [residual_any_centre].  L layers with
    sum_h w_h m_h / sqrt d_qk <= c:  r(X^L) <= c^((3^L-1)/2) r(X^0)^(3^L)  [residual_depth].
    For N = l1 this is the infinity-residual [residual_inf]. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Rcomplements.
From Rankmath Require Import Definitions Functions Norms Softmax own_tv own_diameter centred_form.
Local Open Scope R_scope.

(** sum_h w_h 2 tanh(m_h r^2 / (2 sqrt d_qk)) *)
Definition res_rate (Ly : layer) (w m : nat -> R) (r : R) : R :=
  sum (nheads Ly) (fun h => w h * (2 * tanh (m h * r ^ 2 / (2 * sqrt (INR (dqk Ly)))))).

Section Layer.
Variables (n d : nat) (N : seminorm) (Ly : layer) (w m : nat -> R).
Hypothesis Hn : (0 < n)%nat.
Hypothesis B : layer_bounds d N Ly w m.
Hypothesis M : forall h, (h < nheads Ly)%nat -> key_padding n (mask (hd Ly h)).

Let s := sqrt (INR (dqk Ly)).
Let S : 0 < s.
Proof. apply sqrt_dqk_pos, (dqk_pos _ _ _ _ _ B). Qed.

Lemma rowmax_ub A i : (i < n)%nat -> N (A i) <= rowmax n N A.
Proof. intros H. apply (maxf_ub n (fun i => N (A i)) i H). Qed.

Lemma head_res X x h i : (h < nheads Ly)%nat -> (i < n)%nat ->
  let r := rowmax n N (centred X x) in
  N (vmat n (Q_of n d (dqk Ly) (hd Ly h) X x i) (centred X x)) <= 2 * tanh (m h * r ^ 2 / (2 * s)) * r.
Proof.
  intros Hh Hi r. assert (R0 : 0 <= r) by apply maxf_pos. assert (SP := S).
  assert (Hq := dqk_pos _ _ _ _ _ B). destruct (q_prob n d (dqk Ly) (hd Ly h) X x Hn (M h Hh)) as [Qp Qs].
  eapply Rle_trans; [apply (sn_sum N n (Q_of n d (dqk Ly) (hd Ly h) X x i) (centred X x))|].
  apply Rle_trans with (sum n (fun j => Rabs (Q_of n d (dqk Ly) (hd Ly h) X x i j)) * r).
  { rewrite <- sum_scal_r. apply sum_le; intros j Hj. apply Rmult_le_compat_l; [apply Rabs_pos|].
    now apply (rowmax_ub (centred X x)). }
  apply Rmult_le_compat_r; [exact R0|].
  assert (T : tv n (tilt n (q_of n d (dqk Ly) (hd Ly h) x (centred X x)) (E_of d (dqk Ly) (hd Ly h) (centred X x) i))
                 (q_of n d (dqk Ly) (hd Ly h) x (centred X x)) <= tanh (2 * (m h * r ^ 2 / s) / 4)).
  { apply tv_tanh; [exact Qp|exact Qs|]. intros j k Hj Hk _ _.
    assert (G : forall l, (l < n)%nat -> Rabs (E_of d (dqk Ly) (hd Ly h) (centred X x) i l) <= m h * r ^ 2 / s).
    { intros l Hl. unfold E_of, Rdiv. rewrite Rabs_mult, (Rabs_right (/ _)) by (left; now apply Rinv_0_lt_compat).
      apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
      eapply Rle_trans; [apply (m_bound _ _ _ _ _ B); exact Hh|].
      assert (A1 := rowmax_ub (centred X x) i Hi). assert (A2 := rowmax_ub (centred X x) l Hl). fold r in A1, A2.
      assert (P1 := sn_pos N (centred X x i)). assert (P2 := sn_pos N (centred X x l)).
      assert (Mp := m_pos _ _ _ _ _ B h).
      replace (m h * r ^ 2) with (m h * r * r) by ring. apply Rmult_le_compat; [nra|exact P2|nra|exact A2]. }
    assert (Gj := G j Hj). assert (Gk := G k Hk). apply Rabs_le_between in Gj. apply Rabs_le_between in Gk. lra. }
  replace (2 * (m h * r ^ 2 / s) / 4) with (m h * r ^ 2 / (2 * s)) in T by (field; lra).
  unfold tv in T. rewrite (sum_ext n _ (fun j => Rabs (Q_of n d (dqk Ly) (hd Ly h) X x i j))) in T; [lra|].
  intros j Hj. unfold Q_of. now rewrite (attn_centred n d (dqk Ly) (hd Ly h) X x Hn Hq (M h Hh) i j Hi Hj).
Qed.

Theorem residual_any_centre X x :
  let r := rowmax n N (centred X x) in
  rowmax n N (centred (SA n d Ly X) (new_centre n d Ly X x)) <= r * res_rate Ly w m r.
Proof.
  intro r. assert (R0 : 0 <= r) by apply maxf_pos. assert (SP := S).
  assert (A : forall h, 0 <= 2 * tanh (m h * r ^ 2 / (2 * s))).
  { intro h. assert (Mp := m_pos _ _ _ _ _ B h). assert (0 <= tanh (m h * r ^ 2 / (2 * s))); [|lra]. apply tanh_nonneg.
    apply Rmult_le_pos; [apply Rmult_le_pos; [lra|nra]|left; apply Rinv_0_lt_compat; lra]. }
  apply maxf_lub.
  - apply Rmult_le_pos; [exact R0|]. apply sum_nonneg; intros h _.
    apply Rmult_le_pos; [apply (w_pos _ _ _ _ _ B)|apply A].
  - intros i Hi.
    rewrite (sn_ext N _ (fun b => sum (nheads Ly) (fun h =>
      mmul d (mmul n (Q_of n d (dqk Ly) (hd Ly h) X x) (centred X x)) (WV (hd Ly h)) i b)))
      by (intro b; now apply centred_form).
    eapply Rle_trans; [apply (sn_sum1 N (nheads Ly))|]. unfold res_rate. rewrite <- sum_scal. apply sum_le; intros h Hh.
    eapply Rle_trans; [apply (w_bound _ _ _ _ _ B); exact Hh|].
    replace (r * (w h * (2 * tanh (m h * r ^ 2 / (2 * sqrt (INR (dqk Ly)))))))
      with (w h * (2 * tanh (m h * r ^ 2 / (2 * s)) * r)) by (unfold s; ring).
    apply Rmult_le_compat_l; [apply (w_pos _ _ _ _ _ B)|]. now apply head_res.
Qed.

Lemma res_rate_cubic r : res_rate Ly w m r <= 4 * kappa Ly w m * r ^ 2.
Proof.
  assert (SP := S). unfold res_rate, kappa. rewrite <- sum_scal, <- sum_scal_r. apply sum_le; intros h _.
  assert (Wp := w_pos _ _ _ _ _ B h). assert (Mp := m_pos _ _ _ _ _ B h). fold s.
  assert (T : tanh (m h * r ^ 2 / (2 * s)) <= m h * r ^ 2 / (2 * s)).
  { apply tanh_le_id. apply Rmult_le_pos; [apply Rmult_le_pos; [lra|nra]|left; apply Rinv_0_lt_compat; lra]. }
  apply Rle_trans with (w h * (2 * (m h * r ^ 2 / (2 * s)))); [apply Rmult_le_compat_l; lra|].
  right. field. lra.
Qed.

Theorem residual_layer X r r' :
  residual (rowmax n N) X r -> residual (rowmax n N) (SA n d Ly X) r' ->
  r' <= r * res_rate Ly w m r /\ r * res_rate Ly w m r <= 4 * kappa Ly w m * r ^ 3.
Proof.
  intros [x [_ <-]] [y [Hy <-]]. set (r := rowmax n N (centred X x)).
  assert (R0 : 0 <= r) by apply maxf_pos. split.
  - eapply Rle_trans; [apply (Hy (new_centre n d Ly X x))|]. apply residual_any_centre.
  - replace (4 * kappa Ly w m * r ^ 3) with (r * (4 * kappa Ly w m * r ^ 2)) by ring.
    apply Rmult_le_compat_l; [exact R0|apply res_rate_cubic].
Qed.
End Layer.

(** kappa carries the factor 1/4, so 4 kappa = sum_h w_h m_h / sqrt d_qk. *)
Theorem residual_depth n d (N : seminorm) (Ly : nat -> layer) (w m : nat -> nat -> R) c L X (r : nat -> R) :
  (0 < n)%nat -> (forall l, layer_bounds d N (Ly l) (w l) (m l)) ->
  (forall l h, (h < nheads (Ly l))%nat -> key_padding n (mask (hd (Ly l) h))) ->
  (forall l, 4 * kappa (Ly l) (w l) (m l) <= c) ->
  (forall l, (l <= L)%nat -> residual (rowmax n N) (net n d (fun l => plain (Ly l)) l X) (r l)) ->
  r L <= c ^ ((3 ^ L - 1) / 2) * r 0%nat ^ (3 ^ L).
Proof.
  intros Hn B M Hc HR.
  assert (R0 : forall l, (l <= L)%nat -> 0 <= r l).
  { intros l Hl. destruct (HR l Hl) as [x [_ <-]]. apply maxf_pos. }
  apply cubic_chain; [|exact R0|].
  - eapply Rle_trans; [|apply (Hc 0%nat)]. assert (K := kappa_nonneg d N _ _ _ (B 0%nat)). lra.
  - intros l Hl. assert (H0 := HR l ltac:(lia)). assert (H1 := HR (S l) Hl).
    assert (E : net n d (fun l => plain (Ly l)) (S l) X = SA n d (Ly l) (net n d (fun l => plain (Ly l)) l X)).
    { apply functional_extensionality; intro i. apply functional_extensionality; intro a.
      cbn [net]. unfold block_map, plain. cbn [tok skip att]. ring. }
    rewrite E in H1.
    destruct (residual_layer n d N (Ly l) (w l) (m l) Hn (B l) (M l) _ _ _ H0 H1) as [A1 A2].
    eapply Rle_trans; [exact A1|]. eapply Rle_trans; [exact A2|].
    apply Rmult_le_compat_r; [apply pow_le, R0; lia|apply Hc].
Qed.

(** The infinity-residual: largest absolute row sum of X - 1 x^T, minimised over x. *)
Theorem residual_inf n d Ly X r r' : (0 < n)%nat -> (0 < dqk Ly)%nat ->
  (forall h, (h < nheads Ly)%nat -> key_padding n (mask (hd Ly h))) ->
  residual (norminf n d) X r -> residual (norminf n d) (SA n d Ly X) r' ->
  r' <= sum (nheads Ly) (fun h => maxentry d d (WQK (dqk Ly) (hd Ly h)) * norminf d d (WV (hd Ly h)) / sqrt (INR (dqk
    Ly))) * r ^ 3.
Proof.
  intros Hn Hq M H H'. assert (S := sqrt_dqk_pos _ Hq).
  destruct (residual_layer n d (L1 d) Ly _ _ Hn (bounds_l1 d Ly Hq) M X r r' H H') as [A1 A2].
  eapply Rle_trans; [exact A1|]. eapply Rle_trans; [exact A2|]. right. f_equal.
  unfold kappa. rewrite <- sum_scal. apply sum_ext; intros h _. field. lra.
Qed.
