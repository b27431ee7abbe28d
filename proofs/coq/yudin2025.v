(** yudin2025:softmax, own:attention-shares.  What each is stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms Softmax own_order own_lipschitz.
Local Open Scope R_scope.

(** yudin2025:softmax.  Shares p_0 >= p_2 >= p_1', p_2', ... (p_2 bounds all but the first), p >= 0, of sum 1:
    v (diag p - p p^T) v <= p_0 (1 - p_0 + p_2) |v|^2 for all v, so the spectral norm of the derivative of softmax,
      which is semidefinite,
    is at most p_0 (1 - p_0 + p_2) [two_shares]. *)

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

(** yudin2025:attention and own:attention-shares.  One head without mask and query bias: the derivative of X ->
  P X W is at most
    |W| (|P| + a kappa c (c + |X|)), a = |W_QK|/sqrt d_qk, c the spectral norm of the tokens about a point,
      kappa a bound of
    the derivatives diag p - p p^T of the rows p of P  [attention_shares].
    Along H row i of P moves by B f_i, B = diag p - p p^T and f_i = (x_i M h_j + h_i M x_j)_j;
      its sum is 0, and B does not see
    constants, so both tokens may be taken about the point. *)

(** B f for B = diag p - p p^T. *)
Definition swayed (n : nat) (p f : vec) : vec := fun j => p j * (f j - avg n p f).

Section Row.
Variables (n : nat) (p : vec) (K : R).
Hypothesis p0 : forall j, (j < n)%nat -> 0 <= p j.
Hypothesis p1 : sum n p = 1.
Hypothesis K0 : 0 <= K.
Hypothesis short : forall v, cov n p v v <= K * dot n v v.

Lemma swayed_cov f g : dot n (swayed n p f) g = cov n p f g.
Proof.
  unfold dot, swayed, cov, avg. rewrite (sum_ext n _ (fun j => p j * (f j * g j) - sum n (fun j => p j * f j) * (p j *
    g j)))
    by (intros; ring). now rewrite sum_minus, sum_scal.
Qed.
Lemma swayed_short f : l2 n (swayed n p f) <= K * l2 n f.
Proof.
  set (w := swayed n p f). assert (CS := cov_cs n p p0 p1 f w). rewrite <- (swayed_cov f w) in CS. fold w in CS.
  assert (A := short f). assert (B := short w). assert (Vf := var_pos n p p0 p1 f). assert (Vw := var_pos n p p0 p1 w).
  rewrite (dot_l2 n w) in *. rewrite (dot_l2 n f) in A. assert (W := sqrt_pos (dot n w w)). fold (l2 n w) in W.
  assert (F := sqrt_pos (dot n f f)). fold (l2 n f) in F. set (a := l2 n w) in *. set (b := l2 n f) in *.
  assert (Q : a * a * (a * a) <= K * (b * b) * (K * (a * a))) by (eapply Rle_trans;
    [exact CS|now apply Rmult_le_compat]).
  destruct W as [W|W]; [|rewrite <- W; now apply Rmult_le_pos].
  assert (Q' : a * a <= K * b * (K * b)) by (apply Rmult_le_reg_r with (a * a); [nra|lra]).
  apply Rsqr_incr_0; [exact Q'|lra|now apply Rmult_le_pos].
Qed.
(** The covariance of f with the tokens, which are counted from any point. *)
Lemma swayed_tokens d (X : mat) (m : vec) c f : 0 <= c ->
  (forall v, l2 d (vmat n v (centred X m)) <= c * l2 n v) ->
  l2 d (fun a => cov n p f (fun j => X j a)) <= c * (K * l2 n f).
Proof.
  intros C0 C. eapply Rle_trans; [|apply Rmult_le_compat_l; [exact C0|apply swayed_short]].
  eapply Rle_trans; [|apply C]. right. unfold l2. f_equal. unfold dot. apply sum_ext; intros a _.
  enough (E : cov n p f (fun j => X j a) = vmat n (swayed n p f) (centred X m) a) by now rewrite E.
  rewrite <- swayed_cov. unfold vmat, dot, centred, vsub.
  rewrite (sum_ext n (fun j => swayed n p f j * (X j a - m a)) (fun j => swayed n p f j * X j a - m a * swayed n p f j))
    by (intros; ring).
  rewrite sum_minus, sum_scal. assert (Z : sum n (swayed n p f) = 0); [|rewrite Z; ring].
  unfold swayed. rewrite (sum_ext n _ (fun j => p j * f j - avg n p f * p j)) by (intros; ring).
  rewrite sum_minus, sum_scal, p1. unfold avg. ring.
Qed.
Lemma swayed_shift f t : swayed n p (fun j => f j + t) = swayed n p f.
Proof.
  apply FunctionalExtensionality.functional_extensionality; intro j. unfold swayed, avg.
  rewrite (sum_ext n (fun j => p j * (f j + t)) (fun j => p j * f j + t * p j)) by (intros; ring).
  rewrite sum_plus, sum_scal, p1. ring.
Qed.
End Row.

(** A bound of v A is one of A u. *)
Lemma right_bound n d (A : mat) c : 0 <= c -> (forall v, l2 d (vmat n v A) <= c * l2 n v) ->
  forall u, l2 n (fun i => dot d (A i) u) <= c * l2 d u.
Proof.
  intros C0 H u. set (y := fun i => dot d (A i) u). assert (B := H y). assert (Y := sqrt_pos (dot n y y)).
  fold (l2 n y) in Y.
  assert (G : dot n y y = dot d (vmat n y A) u).
  { change (sum n (fun i => y i * y i) = sum d (fun b => sum n (fun i => y i * A i b) * u b)).
    rewrite (sum_ext d _ (fun b => sum n (fun i => y i * (A i b * u b)))) by (intros; rewrite <- sum_scal_r;
      apply sum_ext; intros; ring).
    rewrite sum_swap. apply sum_ext; intros i _. rewrite sum_scal. reflexivity. }
  assert (D := dot_le_l2 d (vmat n y A) u). rewrite <- G, dot_l2, Rabs_right in D by nra.
  assert (U := sqrt_pos (dot d u u)). fold (l2 d u) in U.
  destruct Y as [Y|Y]; [|fold y; rewrite <- Y; now apply Rmult_le_pos]. fold y.
  apply Rmult_le_reg_r with (l2 n y); [exact Y|].
  eapply Rle_trans; [exact D|]. replace (c * l2 d u * l2 n y) with (c * l2 n y * l2 d u) by ring.
  now apply Rmult_le_compat_r.
Qed.
Lemma frob_columns n d (A : mat) : frob n d A = l2 d (fun a => l2 n (fun i => A i a)).
Proof.
  unfold frob. unfold l2 at 1. f_equal. unfold dot. rewrite sum_swap. apply sum_ext; intros a _. symmetry.
  apply sqrt_sqrt.
  apply sum_nonneg; intros; apply Rle_0_sqr.
Qed.
Lemma frob_le n d (A : mat) (f : vec) c : 0 <= c -> (forall i, (i < n)%nat -> l2 d (A i) <= c * f i) ->
  frob n d A <= c * l2 n f.
Proof.
  intros C0 H. rewrite frob_rows. eapply Rle_trans; [apply (l2_mono n _ (fun i => c * f i)); intros i Hi; split;
    [apply sqrt_pos|now apply H]|].
  right. change (L2 n (fun i => c * f i) = c * L2 n f). rewrite (sn_scal (L2 n)), Rabs_right by lra. reflexivity.
Qed.

(** As [lipschitz], with the spectral norms of P, of X and of X about a point m. *)
Theorem attention_shares n d (Ly : layer) (X H : mat) m w mq sp c x K : (0 < n)%nat -> (0 < dqk Ly)%nat ->
  nheads Ly = 1%nat ->
  mask (hd Ly 0) = nomask -> (forall b, bQ (hd Ly 0) b = 0) ->
  0 <= w -> (forall v, l2 d (vmat d v (WV (hd Ly 0))) <= w * l2 d v) ->
  0 <= mq -> (forall u v, Rabs (bil d u (WQK (dqk Ly) (hd Ly 0)) v) <= mq * l2 d u * l2 d v) ->
  let P := attn n d (dqk Ly) (hd Ly 0) X in let a := mq / sqrt (INR (dqk Ly)) in
  0 <= sp -> (forall v, l2 n (vmat n v P) <= sp * l2 n v) ->
  0 <= c -> (forall v, l2 d (vmat n v (centred X m)) <= c * l2 n v) -> 0 <= x ->
    (forall v, l2 d (vmat n v X) <= x * l2 n v) ->
  0 <= K -> (forall i v, (i < n)%nat -> cov n (P i) v v <= K * dot n v v) ->
  exists J : mat, (forall i b, (i < n)%nat -> (b < d)%nat -> is_derive (fun t => SA n d Ly (moved X H t) i b) 0 (J i
    b)) /\
    frob n d J <= w * (sp + a * K * c * (c + x)) * frob n d H.
Proof.
  intros Hn Hd H1 Mn Hb w0 Hw mq0 Hm P a sp0 Hsp c0 Hc x0 Hx K0 HK. set (h := hd Ly 0) in *.
  set (M := WQK (dqk Ly) h) in *. set (s := sqrt (INR (dqk Ly))) in *.
  assert (Wt : forall i, weights n (mask h i)) by (intro i; rewrite Mn; split; [intros; unfold nomask;
    lra|exists 0%nat; split; [exact Hn|unfold nomask; lra]]).
  assert (Pr : forall i, (forall j, (j < n)%nat -> 0 <= P i j) /\ sum n (P i) = 1).
  { intro i. exact (p_prob n d (dqk Ly) h X i (Wt i)). }
  assert (sq : 0 < s) by (now apply sqrt_dqk_pos). assert (a0 : 0 <= a) by (apply Rmult_le_pos; [exact mq0|left;
    now apply Rinv_0_lt_compat]).
  set (k := fun i j => bil d (X i) M (H j) / s). set (q := fun i j => bil d (H i) M (centred X m j) / s).
  set (E := fun i b => avg n (P i) (fun j => H j b)). set (C := fun i b => cov n (P i) (fun j => k i j + q i j) (fun j
    => X j b)).
  exists (fun i => vmat d (fun b => E i b + C i b) (WV h)). split.
  - intros i b _ _. apply (is_derive_ext (fun t => vmat d (vmat n (attn n d (dqk Ly) h (moved X H t) i) (moved X H t))
      (WV h) b + bout Ly b));
      [intro t; unfold SA; rewrite H1; cbn [sum]; fold h; now rewrite Rplus_0_l|].
    apply (value_derivative d (fun e t => vmat n (attn n d (dqk Ly) h (moved X H t) i) (moved X H t) e) (fun b => E i b
      + C i b)). intros e.
    assert (D := row_derivative n d (dqk Ly) h X H i Hd (Wt i) Hb e). fold P in D.
    replace (E i e + C i e) with (avg n (P i) (fun j => H j e) + cov n (P i) (from_key d (dqk Ly) h X H i) (fun j => X
      j e)
      + cov n (P i) (from_query d (dqk Ly) h X H i) (fun j => X j e)); [exact D|].
    unfold E, C. rewrite Rplus_assoc. f_equal. destruct (Pr i) as [p0 p1].
    rewrite <- !(swayed_cov n (P i)). set (t := bil d (H i) M m / s).
    assert (Q : forall j, k i j + q i j = (from_key d (dqk Ly) h X H i j + from_query d (dqk Ly) h X H i j) + - t).
    { intro j. unfold k, q, from_key, from_query, t. fold M s.
      replace (bil d (H i) M (centred X m j)) with (bil d (H i) M (X j) - bil d (H i) M m); [unfold Rdiv; ring|].
      rewrite !bil_dot. unfold dot, centred, vsub. rewrite <- sum_minus. apply sum_ext; intros; ring. }
    replace (fun j => k i j + q i j) with (fun j => (from_key d (dqk Ly) h X H i j + from_query d (dqk Ly) h X H i j) +
      - t)
      by (apply FunctionalExtensionality.functional_extensionality; intro j; symmetry; apply Q).
    rewrite (swayed_shift n (P i) p1). unfold dot. rewrite <- sum_plus. apply sum_ext; intros j _. unfold swayed, avg.
    rewrite (sum_ext n (fun j => P i j * (from_key d (dqk Ly) h X H i j + from_query d (dqk Ly) h X H i j))
      (fun j => P i j * from_key d (dqk Ly) h X H i j + P i j * from_query d (dqk Ly) h X H i j)) by (intros; ring).
    rewrite sum_plus. ring.
  - set (nH := frob n d H). assert (nH0 : 0 <= nH) by apply sqrt_pos.
    assert (BE : frob n d E <= sp * nH).
    { unfold nH. rewrite (frob_columns n d E), (frob_columns n d H).
      eapply Rle_trans; [apply (l2_mono d _ (fun b => sp * l2 n (fun i => H i b)))|].
      - intros b Hb'. split; [apply sqrt_pos|]. exact (right_bound n n P sp sp0 Hsp (fun j => H j b)).
      - right. change (L2 d (fun b => sp * l2 n (fun i => H i b)) = sp * L2 d (fun b => l2 n (fun i => H i b))).
        rewrite (sn_scal (L2 d)), Rabs_right by lra. reflexivity. }
    assert (QM : forall u, l2 d (vmat d u M) <= mq * l2 d u) by (intro u; exact (query_norm d (dqk Ly) h mq mq0 Hm u)).
    assert (Bq : frob n n q <= a * c * nH).
    { unfold nH. rewrite (frob_rows n d H). apply frob_le; [now apply Rmult_le_pos|]. intros i Hi.
      assert (G := right_bound n d (centred X m) c c0 Hc (vmat d (H i) M)). unfold q.
      replace (l2 n (fun j => bil d (H i) M (centred X m j) / s)) with (/ s * l2 n (fun j => dot d (centred X m j)
        (vmat d (H i) M))).
      - assert (i0 : 0 < / s) by (now apply Rinv_0_lt_compat).
        replace (a * c * l2 d (H i)) with (/ s * (c * (mq * l2 d (H i)))) by (unfold a; field; lra).
        apply Rmult_le_compat_l; [lra|]. eapply Rle_trans; [exact G|]. apply Rmult_le_compat_l; [exact c0|apply QM].
      - assert (i0 : 0 < / s) by (now apply Rinv_0_lt_compat). rewrite <- (Rabs_right (/ s)) at 1 by lra.
        change (Rabs (/ s) * L2 n (fun j => dot d (centred X m j) (vmat d (H i) M)) = L2 n (fun j => bil d (H i) M
          (centred X m j) / s)).
        rewrite <- (sn_scal (L2 n)). change (l2 n (fun j => / s * dot d (centred X m j) (vmat d (H i) M)) = l2 n (fun j
          => bil d (H i) M (centred X m j) / s)).
        unfold l2, dot at 1 3. f_equal. apply sum_ext; intros j _. rewrite bil_dot. unfold dot, Rdiv.
        rewrite (sum_ext d (fun b => centred X m j b * vmat d (H i) M b) (fun b => vmat d (H i) M b * centred X m j b))
          by (intros; ring). ring. }
    assert (Bk : frob n n k <= a * x * nH).
    { (* columns of X M H^T: x |M h_j| *)
      assert (MT : forall v, l2 d (fun b => dot d (M b) v) <= mq * l2 d v) by (exact (right_bound d d M mq mq0 QM)).
      rewrite (frob_columns n n k). unfold nH. rewrite (frob_rows n d H).
      assert (i0 : 0 < / s) by (now apply Rinv_0_lt_compat).
      eapply Rle_trans; [apply (l2_mono n _ (fun j => a * x * l2 d (H j)))|].
      - intros j Hj. split; [apply sqrt_pos|]. assert (G := right_bound n d X x x0 Hx (fun b => dot d (M b) (H j))).
        replace (l2 n (fun i => k i j)) with (/ s * l2 n (fun i => dot d (X i) (fun b => dot d (M b) (H j)))).
        + replace (a * x * l2 d (H j)) with (/ s * (x * (mq * l2 d (H j)))) by (unfold a; field; lra).
          apply Rmult_le_compat_l; [lra|]. eapply Rle_trans; [exact G|]. apply Rmult_le_compat_l; [exact x0|apply MT].
        + rewrite <- (Rabs_right (/ s)) at 1 by lra.
          change (Rabs (/ s) * L2 n (fun i => dot d (X i) (fun b => dot d (M b) (H j))) = l2 n (fun i => k i j)).
          rewrite <- (sn_scal (L2 n)). change (l2 n (fun i => / s * dot d (X i) (fun b => dot d (M b) (H j))) = l2 n
            (fun i => k i j)).
          enough (Z : forall i, / s * dot d (X i) (fun b => dot d (M b) (H j)) = k i j).
          { unfold l2. f_equal. apply sum_ext; intros i _. cbv beta. now rewrite Z. }
          intro i.
          unfold k, bil, dot, Rdiv. rewrite Rmult_comm. f_equal. apply sum_ext; intros b _. rewrite <- sum_scal.
          apply sum_ext; intros; ring.
      - right. change (L2 n (fun j => a * x * l2 d (H j)) = a * x * L2 n (fun j => l2 d (H j))).
        rewrite (sn_scal (L2 n)), Rabs_right; [reflexivity|]. apply Rle_ge. now apply Rmult_le_pos. }
    assert (BC : frob n d C <= c * K * (a * x * nH + a * c * nH)).
    { eapply Rle_trans; [apply (frob_le n d C (fun i => l2 n (fun j => k i j + q i j)) (c * K));
        [now apply Rmult_le_pos|]|].
      - intros i Hi. destruct (Pr i) as [p0 p1]. rewrite Rmult_assoc.
        apply (swayed_tokens n (P i) K p0 p1 K0 (fun v => HK i v Hi) d X m c (fun j => k i j + q i j) c0 Hc).
      - apply Rmult_le_compat_l; [now apply Rmult_le_pos|]. rewrite frob_rows in Bk, Bq.
        eapply Rle_trans; [apply (l2_mono n _ (fun i => l2 n (k i) + l2 n (q i)))|].
        + intros i Hi. split; [apply sqrt_pos|]. apply (sn_add (L2 n) (k i) (q i)).
        + eapply Rle_trans; [apply (sn_add (L2 n))|]. change (l2 n (fun i => l2 n (k i)) + l2 n (fun i => l2 n (q i))
            <= a * x * nH + a * c * nH). lra. }
    rewrite frob_rows in *. eapply Rle_trans; [apply (l2_mono n _ (fun i => w * (l2 d (E i) + l2 d (C i))))|].
    + intros i Hi. split; [apply sqrt_pos|]. eapply Rle_trans; [apply Hw|]. apply Rmult_le_compat_l; [exact w0|].
      apply (sn_add (L2 d) (E i) (C i)).
    + change (L2 n (fun i => w * (l2 d (E i) + l2 d (C i))) <= w * (sp + a * K * c * (c + x)) * nH).
      rewrite (sn_scal (L2 n)), Rabs_right, Rmult_assoc by lra. apply Rmult_le_compat_l; [exact w0|].
      eapply Rle_trans; [apply (sn_add (L2 n))|]. change (l2 n (fun i => l2 d (E i)) + l2 n (fun i => l2 d (C i)) <=
        (sp + a * K * c * (c + x)) * nH). lra.
Qed.
