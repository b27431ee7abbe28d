(** own:lipschitz.  One head without skip, mask and query bias (a key bias does not change attention): the derivative
  of X -> P X W has a spectral norm of at most
    |W| (sqrt(c (1 + (a R Delta/2)^2)) + a Delta^2/4), a = |W_QK|/sqrt d_qk, R the largest norm of a token,
      Delta their diameter, c the largest column sum of P  [lipschitz].
    The derivative along H in row i is (E h + Cov(<q_i, h>, x) + Cov(<h_i M, x>,
      x)) W under row i of P  [row_derivative], q_i = x_i M, M = W_QK/sqrt d_qk; any mask. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms Softmax own_order zhai2023.
Local Open Scope R_scope.

(** X + t H *)
Definition moved (X H : mat) (t : R) : mat := fun i a => X i a + t * H i a.

(** The derivative of a mean under a softmax whose logits and values move. *)
Lemma mean_derive n (m L f g x h : vec) : weights n m -> let p := softmax n m L in
  is_derive (fun t => sum n (fun j => softmax n m (fun k => L k + t * f k + t * t * g k) j * (x j + t * h j))) 0 (avg n
    p h + cov n p f x).
Proof.
  intros W p. set (w := fun j t => m j * exp (L j + t * f j + t * t * g j)).
  set (Z := fun t => sum n (fun j => w j t)). set (A := fun t => sum n (fun j => w j t * (x j + t * h j))).
  assert (Zp : forall t, 0 < Z t) by (intro t; apply (tilt_Z_pos n m W (fun j => L j + t * f j + t * t * g j))).
  assert (w0 : forall j, w j 0 = p j * Z 0).
  { intro j. unfold p, softmax, tilt. assert (E : forall k, w k 0 = m k * exp (L k)) by (intro k; unfold w;
      do 2 f_equal; ring). rewrite E. unfold Z. rewrite (sum_ext n (fun k => w k 0) (fun k => m k * exp (L k))) by
        (intros; apply E).
    assert (Q := tilt_Z_pos n m W L). field. lra. }
  apply (is_derive_ext (fun t => A t / Z t)).
  { intro t. unfold A, Rdiv. rewrite <- sum_scal_r. apply sum_ext; intros j _. unfold softmax, tilt. fold (w j t).
    change (sum n (fun k => m k * exp (L k + t * f k + t * t * g k))) with (Z t). unfold Rdiv. ring. }
  assert (DZ : is_derive Z 0 (sum n (fun j => w j 0 * f j))).
  { evar_last; [apply (derive_sum n w (fun j t => w j t * (f j + 2 * t * g j))); intros j _; unfold w; auto_derive;
      [exact I|ring]|]. apply sum_ext; intros; ring. }
  assert (DA : is_derive A 0 (sum n (fun j => w j 0 * (f j * x j)) + sum n (fun j => w j 0 * h j))).
  { evar_last; [apply (derive_sum n (fun j t => w j t * (x j + t * h j)) (fun j t => w j t * (f j + 2 * t * g j) * (x j
      + t * h j) + w j t * h j)); intros j _; unfold w; auto_derive; [exact I|ring]|]. rewrite <- sum_plus.
        apply sum_ext; intros; ring. }
  evar_last; [apply (is_derive_div A Z 0 _ _ DA DZ); apply Rgt_not_eq, Zp|]. assert (Z0 := Zp 0).
  assert (EA : A 0 = Z 0 * avg n p x) by (unfold A, avg; rewrite <- sum_scal; apply sum_ext; intros; rewrite w0; ring).
  rewrite EA, (sum_ext n (fun j => w j 0 * (f j * x j)) (fun j => Z 0 * (p j * (f j * x j)))),
    (sum_ext n (fun j => w j 0 * h j) (fun j => Z 0 * (p j * h j))),
      (sum_ext n (fun j => w j 0 * f j) (fun j => Z 0 * (p j * f j))) by (intros; rewrite w0; ring).
  rewrite !sum_scal. unfold cov. fold (avg n p h) (avg n p f). field. lra.
Qed.

(** Popoviciu: a variance is at most a quarter of the squared range. *)
Lemma popoviciu n p f D : (forall j, (j < n)%nat -> 0 <= p j) -> sum n p = 1 -> (forall j k, (j < n)%nat ->
  (k < n)%nat -> f j - f k <= D) -> cov n p f f <= D / 2 * (D / 2).
Proof.
  intros p0 p1 Ho. destruct (Nat.eq_dec n 0) as [->|Hn]; [simpl in p1; lra|].
  destruct (argmax n f ltac:(lia)) as [i [Hi Mi]]. destruct (argmax n (fun j => - f j) ltac:(lia)) as [k [Hk Mk]].
  cbv beta in Mk. assert (Dik := Ho i k Hi Hk). set (c := (f i + f k) / 2).
  eapply Rle_trans; [apply (var_about n p p1 f c)|]. rewrite <- (Rmult_1_l (D / 2 * (D / 2))), <- p1, <- sum_scal_r.
  apply sum_le; intros j Hj. apply Rmult_le_compat_l; [auto|]. specialize (Mi j Hj). specialize (Mk j Hj).
  assert (0 <= (D / 2 - (f j - c)) * (D / 2 + (f j - c))) by (apply Rmult_le_pos; unfold c; lra). lra.
Qed.

Lemma dot_l2 d u : dot d u u = l2 d u * l2 d u. Proof. unfold l2. rewrite sqrt_sqrt; [reflexivity|apply dot_pos]. Qed.

(** The covariance of <q, y> with the tokens is short. *)
Lemma cov_short n d p (X Y : mat) q V D : (forall j, (j < n)%nat -> 0 <= p j) -> sum n p = 1 -> 0 <= D ->
  (forall j k, (j < n)%nat -> (k < n)%nat -> l2 d (vsub (X j) (X k)) <= D) ->
  0 <= V -> cov n p q q <= V * V -> l2 d (fun a => cov n p q (fun j => X j a)) <= V * D / 2.
Proof.
  intros p0 p1 D0 HD V0 HV. set (c := fun a => cov n p q (fun j => X j a)). assert (c0 : 0 <= l2 d c) by apply sqrt_pos.
  assert (E : dot d c c = cov n p q (fun j => sum d (fun a => c a * X j a))) by (rewrite (cov_sum n p q d c (fun a j =>
    X j a)); reflexivity).
  assert (CS := cov_cs n p p0 p1 q (fun j => sum d (fun a => c a * X j a))). rewrite <- E in CS.
  assert (B : cov n p (fun j => sum d (fun a => c a * X j a)) (fun j => sum d (fun a => c a * X j a)) <= l2 d c * D / 2
    * (l2 d c * D / 2)).
  { apply popoviciu; [exact p0|exact p1|]. intros j k Hj Hk. rewrite <- sum_minus.
    rewrite (sum_ext d _ (fun a => c a * vsub (X j) (X k) a)) by (intros; unfold vsub; ring).
    fold (dot d c (vsub (X j) (X k))).
    eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply dot_le_l2|].
    apply Rmult_le_compat_l; [exact c0|now apply HD]. }
  assert (VP := var_pos n p p0 p1 (fun j => sum d (fun a => c a * X j a))). assert (VQ := var_pos n p p0 p1 q).
  assert (Q : dot d c c * dot d c c <= V * V * (l2 d c * D / 2 * (l2 d c * D / 2))) by (eapply Rle_trans; [exact CS|];
    now apply Rmult_le_compat).
  rewrite (dot_l2 d c) in Q. destruct c0 as [c0|c0]; [|fold c; rewrite <- c0; apply Rmult_le_pos;
    [now apply Rmult_le_pos|lra]]. fold c. set (s := l2 d c) in *.
  apply Rsqr_incr_0_var; [|apply Rmult_le_pos; [now apply Rmult_le_pos|lra]]. unfold Rsqr.
  apply Rmult_le_reg_l with (s * s); [now apply Rmult_lt_0_compat|]. lra.
Qed.

Section Head.
Variables (n d dq : nat) (h : head) (X H : mat) (i : nat).
Hypothesis dq0 : (0 < dq)%nat.
Hypothesis Wi : weights n (mask h i).
Hypothesis no_bQ : forall c, bQ h c = 0.
Let p := attn n d dq h X i.
Let s := sqrt (INR dq).

(** (x_i + t h_i, x_j + t h_j) in the logit, up to what is the same for all keys. *)
Definition from_key (j : nat) : R := bil d (X i) (WQK dq h) (H j) / s.
Definition from_query (j : nat) : R := bil d (H i) (WQK dq h) (X j) / s.

Lemma p_prob : (forall j, (j < n)%nat -> 0 <= p j) /\ sum n p = 1.
Proof. split; [intros; now apply tilt_nonneg|now apply tilt_sum]. Qed.

Lemma row_derivative a : is_derive (fun t => vmat n (attn n d dq h (moved X H t) i) (moved X H t) a) 0
  (avg n p (fun j => H j a) + cov n p from_key (fun j => X j a) + cov n p from_query (fun j => X j a)).
Proof.
  destruct p_prob as [p0 p1]. set (const := sum dq (fun c => vmat d (H i) (WQ h) c * bK h c) / s).
  assert (sp : 0 < s) by (now apply sqrt_dqk_pos).
  assert (Lg : forall t j, logit d dq h (moved X H t) i j = logit d dq h X i j + t * (from_key j + from_query j +
    const) + t * t * (bil d (H i) (WQK dq h) (H j) / s)).
  { intros t j. unfold from_key, from_query, const, logit. rewrite <- !bil_fact. fold s. unfold Rdiv.
    rewrite <- !Rmult_plus_distr_r, <- !Rmult_assoc, <- !Rmult_plus_distr_r. f_equal.
    rewrite <- !sum_plus, <- !sum_scal, <- !sum_plus. apply sum_ext; intros c _. unfold moved.
    rewrite !vmat_add, !vmat_scal, !no_bQ. ring. }
  apply (is_derive_ext (fun t => sum n (fun j => softmax n (mask h i) (fun k => logit d dq h X i k + t * (from_key k +
    from_query k + const) + t * t * (bil d (H i) (WQK dq h) (H k) / s)) j * (X j a + t * H j a)))).
  { intro t. unfold vmat, attn. apply sum_ext; intros j Hj. f_equal.
    apply tilt_ext; [reflexivity|intros; symmetry; apply Lg|exact Hj]. }
  evar_last; [apply (mean_derive n (mask h i) (logit d dq h X i) (fun k => from_key k + from_query k + const) (fun k =>
    bil d (H i) (WQK dq h) (H k) / s) (fun j => X j a) (fun j => H j a) Wi)|].
  fold (attn n d dq h X i). fold p. rewrite Rplus_assoc. f_equal. unfold cov, avg.
  rewrite (sum_ext n (fun j => p j * ((from_key j + from_query j + const) * X j a)) (fun j => p j * (from_key j * X j
    a) + p j * (from_query j * X j a) + const * (p j * X j a))) by (intros; ring).
  rewrite (sum_ext n (fun j => p j * (from_key j + from_query j + const)) (fun j => p j * from_key j + p j * from_query
    j + const * p j)) by (intros; ring). rewrite !sum_plus, !sum_scal, p1. ring.
Qed.

Variables (mq D : R).
Hypothesis mq0 : 0 <= mq.
Hypothesis m_bound : forall u v, Rabs (bil d u (WQK dq h) v) <= mq * l2 d u * l2 d v.
Hypothesis D0 : 0 <= D.
Hypothesis HD : forall j k, (j < n)%nat -> (k < n)%nat -> l2 d (vsub (X j) (X k)) <= D.

Lemma query_part : l2 d (fun a => cov n p from_query (fun j => X j a)) <= mq / s * D ^ 2 / 4 * l2 d (H i).
Proof.
  destruct p_prob as [p0 p1]. assert (sp : 0 < s) by (now apply sqrt_dqk_pos).
  assert (hi : 0 <= l2 d (H i)) by apply sqrt_pos. assert (i0 : 0 < / s) by (now apply Rinv_0_lt_compat).
  set (V := mq * l2 d (H i) * D / s / 2). assert (V0 : 0 <= V) by (unfold V, Rdiv; repeat apply Rmult_le_pos; lra).
  eapply Rle_trans; [apply (cov_short n d p X X from_query V D p0 p1 D0 HD V0)|].
  - replace (V * V) with (mq * l2 d (H i) * D / s / 2 * (mq * l2 d (H i) * D / s / 2)) by reflexivity.
    apply popoviciu; [exact p0|exact p1|]. intros j k Hj Hk. unfold from_query, Rdiv. rewrite <- Rmult_minus_distr_r.
    apply Rmult_le_compat_r; [lra|].
    replace (bil d (H i) (WQK dq h) (X j) - bil d (H i) (WQK dq h) (X k)) with (bil d (H i) (WQK dq h) (vsub (X j) (X
      k))).
    + eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply m_bound|].
      apply Rmult_le_compat_l; [now apply Rmult_le_pos|now apply HD].
    + rewrite !bil_dot. unfold dot, vsub. rewrite <- sum_minus. apply sum_ext; intros; ring.
  - right. unfold V. field. lra.
Qed.

Lemma query_norm u : l2 d (vmat d u (WQK dq h)) <= mq * l2 d u.
Proof.
  set (v := vmat d u (WQK dq h)). assert (B := m_bound u v). rewrite bil_dot in B. fold v in B.
  assert (A := Rle_abs (dot d v v)). rewrite (dot_l2 d v) in A at 1. assert (v0 : 0 <= l2 d v) by apply sqrt_pos.
  destruct v0 as [v0|v0]; [|rewrite <- v0; apply Rmult_le_pos; [exact mq0|apply sqrt_pos]].
  apply Rmult_le_reg_r with (l2 d v); lra.
Qed.

(** The first two parts together. *)
Lemma key_part R : l2 d (X i) <= R -> let k := mq / s * R * D / 2 in
  l2 d (fun a => avg n p (fun j => H j a) + cov n p from_key (fun j => X j a)) ^ 2 <= (1 + k ^ 2) * sum n (fun j => p j
    * dot d (H j) (H j)).
Proof.
  intros HR k. destruct p_prob as [p0 p1]. assert (sp : 0 < s) by (now apply sqrt_dqk_pos).
  assert (i0 : 0 < / s) by (now apply Rinv_0_lt_compat). assert (R0 : 0 <= R) by (eapply Rle_trans;
    [apply sqrt_pos|exact HR]).
  set (e := fun a => avg n p (fun j => H j a)). set (c := fun a => cov n p from_key (fun j => X j a)).
  set (tr := T n d p H). assert (T0 : 0 <= tr) by (now apply T_pos).
  assert (ET : dot d e e + tr = sum n (fun j => p j * dot d (H j) (H j))).
  { unfold tr, T, G, dot, cov, col, e. rewrite <- sum_plus. rewrite (sum_ext n (fun j => p j * sum d (fun a => H j a *
      H j a)) (fun j => sum d (fun a => p j * (H j a * H j a)))) by (intros; now rewrite sum_scal). rewrite sum_swap.
      apply sum_ext; intros a _. ring. }
  set (q := fun a => / s * vmat d (X i) (WQK dq h) a). set (V := mq / s * R * sqrt tr).
  assert (k0 : 0 <= k) by (unfold k, Rdiv; repeat apply Rmult_le_pos; lra).
  assert (mr : 0 <= mq / s * R) by (unfold Rdiv; repeat apply Rmult_le_pos; lra).
  assert (V0 : 0 <= V) by (apply Rmult_le_pos; [exact mr|apply sqrt_pos]).
  assert (C : l2 d c <= V * D / 2).
  { apply (cov_short n d p X X from_key V D p0 p1 D0 HD V0). rewrite (cov_ext n p from_key (along d H q) from_key
      (along d H q)).
    - eapply Rle_trans; [apply (var_along n d p H p0 p1 q)|]. fold tr.
      replace (V * V) with (mq / s * R * (mq / s * R) * tr) by (unfold V; rewrite <- (sqrt_sqrt tr T0) at 1; ring).
      apply Rmult_le_compat_r; [exact T0|].
      rewrite dot_l2. assert (Q : l2 d q <= mq / s * R).
      { unfold q. change (L2 d (fun a => / s * vmat d (X i) (WQK dq h) a) <= mq / s * R).
        rewrite (sn_scal (L2 d)), Rabs_right by lra. replace (mq / s * R) with (/ s * (mq * R)) by (field; lra).
        apply Rmult_le_compat_l; [lra|].
        eapply Rle_trans; [apply query_norm|]. now apply Rmult_le_compat_l. }
      assert (0 <= l2 d q) by apply sqrt_pos. now apply Rmult_le_compat.
    - intros j _. unfold from_key, along. rewrite bil_dot. unfold dot, q, Rdiv. rewrite <- sum_scal_r.
      apply sum_ext; intros; ring.
    - intros j _. unfold from_key, along. rewrite bil_dot. unfold dot, q, Rdiv. rewrite <- sum_scal_r.
      apply sum_ext; intros; ring. }
  assert (Tri : l2 d (fun a => e a + c a) <= l2 d e + k * sqrt tr).
  { eapply Rle_trans; [apply (sn_add (L2 d) e c)|]. apply Rplus_le_compat_l.
    eapply Rle_trans; [exact C|right; unfold V, k; field; lra]. }
  rewrite <- ET, dot_l2. assert (l0 : 0 <= l2 d (fun a => e a + c a)) by apply sqrt_pos.
  apply Rle_trans with ((l2 d e + k * sqrt tr) ^ 2); [now apply pow_incr|].
  assert (St := sqrt_sqrt tr T0). assert (Sq := Rle_0_sqr (k * l2 d e - sqrt tr)). unfold Rsqr in Sq.
  rewrite <- St at 2. lra.
Qed.
End Head.

Lemma value_derivative d (f : nat -> R -> R) (g : vec) (W : mat) b (c : R) : (forall e, is_derive (f e) 0 (g e)) ->
  is_derive (fun t => vmat d (fun e => f e t) W b + c) 0 (vmat d g W b).
Proof.
  intros Hf. rewrite <- (Rplus_0_r (vmat d g W b)). apply (is_derive_plus (K := R_AbsRing) (V := R_NormedModule) (fun t
    => vmat d (fun e => f e t) W b) (fun _ => c) 0 (vmat d g W b) 0);
      [|apply (is_derive_const (K := R_AbsRing) (V := R_NormedModule))].
  unfold vmat. apply (derive_sum d (fun e t => f e t * W e b) (fun e _ => g e * W e b)). intros e _.
  rewrite Rmult_comm. apply (is_derive_ext (fun t => W e b * f e t)); [intro t; apply Rmult_comm|].
  now apply (is_derive_scal (f e) 0 (W e b)).
Qed.
Lemma frob_rows n d A : frob n d A = l2 n (fun i => l2 d (A i)).
Proof. unfold frob. unfold l2 at 1. f_equal. unfold dot at 2. apply sum_ext; intros i _. apply dot_l2. Qed.
Lemma l2_mono n u v : (forall i, (i < n)%nat -> 0 <= u i <= v i) -> l2 n u <= l2 n v.
Proof. intros L. apply sqrt_le_1_alt, sum_le. intros i Hi. specialize (L i Hi). apply Rmult_le_compat; lra. Qed.

(** Every direction H: J is the derivative along H, so the bound is one of the spectral norm. *)
Theorem lipschitz n d (Ly : layer) (X H : mat) w mq : (0 < n)%nat -> (0 < dqk Ly)%nat -> nheads Ly = 1%nat ->
  mask (hd Ly 0) = nomask -> (forall c, bQ (hd Ly 0) c = 0) ->
  0 <= w -> (forall v, l2 d (vmat d v (WV (hd Ly 0))) <= w * l2 d v) -> 0 <= mq ->
    (forall u v, Rabs (bil d u (WQK (dqk Ly) (hd Ly 0)) v) <= mq * l2 d u * l2 d v) ->
  let a := mq / sqrt (INR (dqk Ly)) in let R := rowmax n (l2 d) X in let D := diam n (l2 d) X in let c := norm1 n n
    (attn n d (dqk Ly) (hd Ly 0) X) in
  exists J : mat, (forall i b, (i < n)%nat -> (b < d)%nat -> is_derive (fun t => SA n d Ly (moved X H t) i b) 0 (J i
    b)) /\
    frob n d J <= w * (sqrt (c * (1 + (a * R * D / 2) ^ 2)) + a * D ^ 2 / 4) * frob n d H.
Proof.
  intros Hn Hd H1 Mn Hb w0 Hw mq0 Hm a R D c. set (h := hd Ly 0) in *. set (P := attn n d (dqk Ly) h X).
  assert (D0 : 0 <= D) by apply diam_nonneg.
  assert (Wt : forall i, weights n (mask h i)) by (intro i; rewrite Mn; split; [intros; unfold nomask;
    lra|exists 0%nat; split; [exact Hn|unfold nomask; lra]]).
  assert (HD : forall j k, (j < n)%nat -> (k < n)%nat -> l2 d (vsub (X j) (X k)) <= D) by (intros; now apply diam_ub).
  set (E := fun i b => avg n (P i) (fun j => H j b) + cov n (P i) (from_key d (dqk Ly) h X H i) (fun j => X j b)).
  set (Q := fun i b => cov n (P i) (from_query d (dqk Ly) h X H i) (fun j => X j b)).
  set (M := fun i b => E i b + Q i b). exists (fun i => vmat d (M i) (WV h)). split.
  - intros i b _ _. apply (is_derive_ext (fun t => vmat d (vmat n (attn n d (dqk Ly) h (moved X H t) i) (moved X H t))
      (WV h) b + bout Ly b)); [intro t; unfold SA; rewrite H1; cbn [sum]; fold h; now rewrite Rplus_0_l|].
    apply (value_derivative d (fun e t => vmat n (attn n d (dqk Ly) h (moved X H t) i) (moved X H t) e) (M i)).
    intros e. apply (row_derivative n d (dqk Ly) h X H i Hd (Wt i) Hb e).
  - set (k := a * R * D / 2). set (nH := frob n d H). assert (nH0 : 0 <= nH) by apply sqrt_pos.
    assert (sp : 0 < sqrt (INR (dqk Ly))) by (now apply sqrt_dqk_pos).
    assert (a0 : 0 <= a) by (unfold a, Rdiv; apply Rmult_le_pos; [exact mq0|left; now apply Rinv_0_lt_compat]).
    assert (c0 : 0 <= c) by apply norm1_pos.
    assert (BQ : l2 n (fun i => l2 d (Q i)) <= a * D ^ 2 / 4 * nH).
    { unfold nH. rewrite frob_rows. assert (K0 : 0 <= a * D ^ 2 / 4) by (assert (A2 := Rmult_le_pos a (D ^ 2) a0
        (pow_le D 2 D0)); lra).
      eapply Rle_trans; [apply (l2_mono n _ (fun i => a * D ^ 2 / 4 * l2 d (H i)))|].
      - intros i Hi. split; [apply sqrt_pos|]. apply (query_part n d (dqk Ly) h X H i Hd (Wt i) mq D mq0 Hm D0 HD).
      - right. change (L2 n (fun i => a * D ^ 2 / 4 * l2 d (H i)) = a * D ^ 2 / 4 * L2 n (fun i => l2 d (H i))).
        rewrite (sn_scal (L2 n)), Rabs_right by lra. reflexivity. }
    assert (BE : l2 n (fun i => l2 d (E i)) <= sqrt (c * (1 + k ^ 2)) * nH).
    { unfold l2 at 1, nH, frob. rewrite <- sqrt_mult_alt by (apply Rmult_le_pos;
        [exact c0|assert (0 <= k ^ 2) by apply pow2_ge_0; lra]). apply sqrt_le_1_alt. unfold dot at 1.
      apply Rle_trans with (sum n (fun i => (1 + k ^ 2) * sum n (fun j => P i j * dot d (H j) (H j)))).
      - apply sum_le; intros i Hi. replace (l2 d (E i) * l2 d (E i)) with (l2 d (E i) ^ 2) by ring.
        apply (key_part n d (dqk Ly) h X H i Hd (Wt i) mq D mq0 Hm D0 HD R).
        apply (maxf_ub n (fun i => l2 d (X i)) i Hi).
      - rewrite sum_scal, sum_swap, (Rmult_comm c), Rmult_assoc.
        apply Rmult_le_compat_l; [assert (0 <= k ^ 2) by apply pow2_ge_0; lra|]. rewrite <- sum_scal.
        apply sum_le; intros j Hj. rewrite sum_scal_r. apply Rmult_le_compat_r; [apply dot_pos|].
        eapply Rle_trans; [|apply (col_le n n P j Hj)]. apply sum_le; intros i _. apply Rle_abs. }
    rewrite frob_rows. eapply Rle_trans; [apply (l2_mono n _ (fun i => w * (l2 d (E i) + l2 d (Q i))))|].
    + intros i Hi. split; [apply sqrt_pos|]. eapply Rle_trans; [apply Hw|]. apply Rmult_le_compat_l; [exact w0|].
      apply (sn_add (L2 d) (E i) (Q i)).
    + change (L2 n (fun i => w * (l2 d (E i) + l2 d (Q i))) <= w * (sqrt (c * (1 + k ^ 2)) + a * D ^ 2 / 4) * nH).
      rewrite (sn_scal (L2 n)), Rabs_right, Rmult_assoc by lra. apply Rmult_le_compat_l; [exact w0|].
      eapply Rle_trans; [apply (sn_add (L2 n))|]. change (l2 n (fun i => l2 d (E i)) + l2 n (fun i => l2 d (Q i)) <=
        (sqrt (c * (1 + k ^ 2)) + a * D ^ 2 / 4) * nH). lra.
Qed.
