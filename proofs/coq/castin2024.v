(** castin2024:3.3, as we read it.  One head without mask and key biases, tokens of norm at most R,
  a bound m of |W_QK|_2 and w of |W|_2, a = m/sqrt d_qk: the derivative of the layer along any H has
    |d SA(X)[H]|_F <= sqrt 3 w sqrt(a^2 R^4 (4n + 1) + n) |H|_F  [castin_3_3].
    Row i of the derivative is (E h + Cov(x_i W_QK h, x) + Cov(h_i W_QK x, x)) W under row i of the
    attention; the three are at most |H|_F, 2 a R^2 |H|_F and a R^2 |h_i|. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms Softmax own_order kim2021.
Local Open Scope R_scope.

Lemma bil_add_r d u M v v' : bil d u M (fun b => v b + v' b) = bil d u M v + bil d u M v'.
Proof. unfold bil. rewrite <- sum_plus. apply sum_ext; intros. rewrite <- sum_plus. apply sum_ext; intros; ring. Qed.
Lemma bil_scal_r d u M c v : bil d u M (fun b => c * v b) = c * bil d u M v.
Proof. unfold bil. rewrite <- sum_scal. apply sum_ext; intros. rewrite <- sum_scal. apply sum_ext; intros; ring. Qed.
Lemma bil_add_l d u u' M v : bil d (fun b => u b + u' b) M v = bil d u M v + bil d u' M v.
Proof. unfold bil. rewrite <- sum_plus. apply sum_ext; intros. rewrite <- sum_plus. apply sum_ext; intros; ring. Qed.
Lemma bil_scal_l d u M c v : bil d (fun b => c * u b) M v = c * bil d u M v.
Proof. unfold bil. rewrite <- sum_scal. apply sum_ext; intros. rewrite <- sum_scal. apply sum_ext; intros; ring. Qed.
Lemma l2_ext d u v : (forall a, (a < d)%nat -> u a = v a) -> l2 d u = l2 d v.
Proof. intros E. unfold l2, dot. f_equal. apply sum_ext; intros. now rewrite E. Qed.

Section Castin.
Variables (n d : nat) (Ly : layer) (w m : nat -> R) (R0 : R) (X : mat).
Hypothesis n_pos : (0 < n)%nat.
Hypothesis one_head : nheads Ly = 1%nat.
Hypothesis no_mask : mask (hd Ly 0) = nomask.
Hypothesis no_bias : forall c, bQ (hd Ly 0) c = 0 /\ bK (hd Ly 0) c = 0.
Hypothesis bounds : layer_bounds d (L2 d) Ly w m.
Hypothesis in_ball : forall i, (i < n)%nat -> l2 d (X i) <= R0.
Let W := WV (hd Ly 0).
Let M := WQK (dqk Ly) (hd Ly 0).
Let root := sqrt (INR (dqk Ly)).
Let a := m 0%nat / root.

Lemma root_pos : 0 < root. Proof. apply sqrt_dqk_pos, (dqk_pos _ _ _ _ _ bounds). Qed.
Lemma a_nonneg : 0 <= a. Proof. apply Rle_mult_inv_pos; [apply (m_pos _ _ _ _ _ bounds)|apply root_pos]. Qed.
Lemma logit_bil Y i j : logit d (dqk Ly) (hd Ly 0) Y i j = bil d (Y i) M (Y j) / root.
Proof.
  unfold logit, root. f_equal. unfold M. rewrite <- bil_fact. apply sum_ext; intros c _.
  destruct (no_bias c) as [-> ->]. ring.
Qed.
Lemma bil_le u v : Rabs (bil d u M v / root) <= a * l2 d u * l2 d v.
Proof.
  assert (B := m_bound _ _ _ _ _ bounds 0%nat u v ltac:(rewrite one_head; lia)). cbn [L2 sn] in B. fold M in B.
  assert (r := root_pos).
  unfold Rdiv. rewrite Rabs_mult, (Rabs_right (/ root)) by (left; now apply Rinv_0_lt_compat). unfold a, Rdiv.
  replace (m 0%nat * / root * l2 d u * l2 d v) with (m 0%nat * l2 d u * l2 d v * / root) by ring.
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|exact B].
Qed.
Lemma SA_one Y i b : SA n d Ly Y i b = sum n (fun j => softmax n (fun _ => 1) (fun k => bil d (Y i) M (Y k) / root) j *
  vmat d (Y j) W b) + bout Ly b.
Proof.
  unfold SA. rewrite one_head. cbn [sum]. rewrite Rplus_0_l. f_equal. rewrite vmat_assoc. unfold vmat at 1.
  apply sum_ext; intros j Hj. unfold mmul. f_equal.
  unfold attn. rewrite no_mask. apply tilt_ext; [reflexivity| |exact Hj]. intros k _. apply logit_bil.
Qed.

Lemma castin_row (H g : mat) i : (i < n)%nat -> (forall b, (b < d)%nat ->
  is_derive (fun h => SA n d Ly (fun i b => X i b + h * H i b) i b) 0 (g i b)) ->
  l2 d (g i) <= w 0%nat * (frob n d H + 2 * (a * R0 ^ 2) * frob n d H + a * R0 ^ 2 * l2 d (H i)).
Proof.
  intros Hi Hg. set (F := frob n d H). assert (F0 : 0 <= F) by apply sqrt_pos. assert (r := root_pos).
  assert (a0 := a_nonneg).
  assert (Wt : weights n (fun _ => 1)) by (split; [intros; lra|exists 0%nat; split; [lia|lra]]).
  set (p := softmax n (fun _ => 1) (fun k => bil d (X i) M (X k) / root)).
  assert (p0 : forall j, (j < n)%nat -> 0 <= p j) by (intros; now apply tilt_nonneg).
  assert (p1 : sum n p = 1) by (now apply tilt_sum).
  set (f1 := fun j => bil d (X i) M (H j) / root). set (f2 := fun j => bil d (H i) M (X j) / root).
  set (f := fun j => f1 j + f2 j). set (c := fun j => vsub (X j) (centre_of n p X)).
  set (G := fun b => sum n (fun j => p j * H j b) + sum n (fun j => p j * f j * c j b)).
  assert (GE : forall b, (b < d)%nat -> g i b = vmat d G W b).
  { intros b Hb. set (l := fun k h => bil d (fun b => X i b + h * H i b) M (fun b => X k b + h * H k b) / root).
    set (y := fun k h => vmat d (fun b => X k b + h * H k b) W b).
    assert (Dl : forall k, (k < n)%nat -> is_derive (l k) 0 (f k)).
    { intros k _. apply (is_derive_ext (fun h => (bil d (X i) M (X k) + h * (bil d (H i) M (X k) + bil d (X i) M (H k))
        + h * h * bil d (H i) M (H k)) / root)).
      - intro h. unfold l. rewrite bil_add_l, !bil_add_r, !bil_scal_l, !bil_scal_r.
        match goal with |- @eq _ ?a ?b => change (@eq R a b) end. field. lra.
      - unfold f, f1, f2. auto_derive; [exact I|]. field. lra. }
    assert (Dy : forall k, (k < n)%nat -> is_derive (y k) 0 (vmat d (H k) W b)).
    { intros k _. apply (is_derive_ext (fun h => vmat d (X k) W b + h * vmat d (H k) W b)); [intro h; unfold y;
        rewrite vmat_add, vmat_scal; reflexivity|]. auto_derive; [exact I|ring]. }
    assert (Md := mean_derivative n l y f (fun k => vmat d (H k) W b) n_pos Dl Dy). cbv zeta in Md.
    assert (Pe : forall j, (j < n)%nat -> softmax n (fun _ => 1) (fun k => l k 0) j = p j).
    { intros j Hj. apply tilt_ext; [reflexivity| |exact Hj]. intros k _. unfold l. f_equal.
      rewrite bil_add_l, !bil_add_r, !bil_scal_l, !bil_scal_r. ring. }
    assert (Av : avg n (softmax n (fun _ => 1) (fun k => l k 0)) f = avg n p f) by (unfold avg; apply sum_ext; intros;
      now rewrite Pe).
    assert (Ds : is_derive (fun h => SA n d Ly (fun i b => X i b + h * H i b) i b) 0 (sum n (fun j => p j * vmat d (H
      j) W b) + sum n (fun j => p j * (f j - avg n p f) * vmat d (X j) W b))).
    { apply (is_derive_ext (fun h => sum n (fun j => softmax n (fun _ => 1) (fun k => l k h) j * y j h) + bout Ly b));
        [intro h; symmetry; apply SA_one|].
      evar_last; [apply (is_derive_plus (K := R_AbsRing) (V := R_NormedModule) _ (fun _ => bout Ly b) 0 _ 0 Md);
        apply (is_derive_const (K := R_AbsRing) (V := R_NormedModule))|].
      unfold plus. cbn. rewrite Rplus_0_r. f_equal; [apply sum_ext; intros; now rewrite Pe|].
      apply sum_ext; intros j Hj. rewrite Pe, Av by exact Hj. f_equal. unfold y. rewrite vmat_add, vmat_scal. ring. }
    rewrite <- (is_derive_unique _ _ _ (Hg b Hb)). etransitivity; [apply is_derive_unique; exact Ds|].
    transitivity (vmat d (fun b => sum n (fun j => p j * H j b) + sum n (fun j => p j * (f j - avg n p f) * X j b)) W
      b).
    - rewrite vmat_add. f_equal; symmetry.
      + apply (vmat_assoc n d p H W b).
      + apply (vmat_assoc n d (fun j => p j * (f j - avg n p f)) X W b).
    - apply vmat_ext. intros e _. unfold G. f_equal. apply (centre_values n p f X e). }
  rewrite (l2_ext d (g i) (vmat d G W) GE). assert (Wb := w_bound _ _ _ _ _ bounds 0%nat G ltac:(rewrite one_head;
    lia)). cbn [L2 sn] in Wb.
  eapply Rle_trans; [exact Wb|]. apply Rmult_le_compat_l; [apply (w_pos _ _ _ _ _ bounds)|].
  assert (Hr := fun j => l2_row n d H j). fold F in Hr. assert (Rp : 0 <= R0) by (eapply Rle_trans;
    [apply sqrt_pos|apply (in_ball i Hi)]).
  assert (A1 : l2 d (fun a => sum n (fun j => p j * 1 * H j a)) <= F).
  { eapply Rle_trans; [apply (mean_norm n d p p0)|]. apply (mean_le n p p0 p1). intros j Hj.
    rewrite Rabs_R1, Rmult_1_l. now apply Hr. }
  assert (Cr : forall j, (j < n)%nat -> l2 d (c j) <= 2 * R0).
  { intros j Hj. assert (T := sn_tri (L2 d) (X j) (fun _ => 0) (centre_of n p X)).
    rewrite (sn_sym (L2 d) (fun _ => 0)) in T. cbn [L2 sn] in T.
    assert (V0 : forall v, l2 d (vsub v (fun _ => 0)) = l2 d v) by (intro v; apply l2_ext; intros; unfold vsub; ring).
    rewrite !V0 in T. fold (c j) in T.
    assert (Ct : l2 d (centre_of n p X) <= R0).
    { rewrite (l2_ext d (centre_of n p X) (fun a => sum n (fun j => p j * 1 * X j a))) by (intros; unfold centre_of;
        apply sum_ext; intros; ring). eapply Rle_trans; [apply (mean_norm n d p p0)|].
      apply (mean_le n p p0 p1). intros k Hk. rewrite Rabs_R1, Rmult_1_l. now apply in_ball. }
    assert (Xj := in_ball j Hj). lra. }
  assert (A2 : l2 d (fun e => sum n (fun j => p j * f1 j * c j e)) <= 2 * (a * R0 ^ 2) * F).
  { eapply Rle_trans; [apply (mean_norm n d p p0)|]. apply (mean_le n p p0 p1). intros j Hj.
    assert (B := bil_le (X i) (H j)). fold (f1 j) in B. assert (Xi := in_ball i Hi). assert (Hj' := Hr j Hj).
    assert (C := Cr j Hj).
    assert (x0 : 0 <= l2 d (X i)) by apply sqrt_pos. assert (h0 : 0 <= l2 d (H j)) by apply sqrt_pos.
    assert (c0 : 0 <= l2 d (c j)) by apply sqrt_pos.
    apply Rle_trans with (a * R0 * F * (2 * R0)); [|right; ring].
    apply Rmult_le_compat; [apply Rabs_pos|exact c0| |exact C]. eapply Rle_trans; [exact B|].
    apply Rmult_le_compat; [apply Rmult_le_pos; lra|lra|apply Rmult_le_compat_l; lra|lra]. }
  assert (A3 : l2 d (fun e => sum n (fun j => p j * f2 j * c j e)) <= a * R0 ^ 2 * l2 d (H i)).
  { assert (Hi0 : 0 <= l2 d (H i)) by apply sqrt_pos.
    (* the mean of the logits drops out: bil(h_i, x_j) may be centred *)
    assert (E : forall e, sum n (fun j => p j * f2 j * c j e) = sum n (fun j => p j * (bil d (H i) M (c j) / root) * c
      j e)).
    { intro e. set (cc := centre_of n p X). assert (Bc : forall j,
        bil d (H i) M (c j) / root = f2 j - bil d (H i) M cc / root).
      { intro j. unfold f2. replace (bil d (H i) M (c j)) with (bil d (H i) M (X j) - bil d (H i) M cc); [field; lra|].
        unfold c. rewrite <- (Rmult_1_l (bil d (H i) M cc)). replace (bil d (H i) M (X j) - 1 * bil d (H i) M cc) with
          (bil d (H i) M (X j) + -1 * bil d (H i) M cc) by ring.
        rewrite <- bil_scal_r, <- bil_add_r. unfold bil. apply sum_ext; intros; apply sum_ext; intros. unfold vsub.
        fold cc. ring. }
      rewrite (sum_ext n (fun j => p j * (bil d (H i) M (c j) / root) * c j e) (fun j => p j * f2 j * c j e - bil d (H
        i) M cc / root * (p j * X j e - cc e * p j))).
      - rewrite sum_minus, sum_scal, sum_minus, sum_scal, p1. change (sum n (fun j => p j * X j e)) with (cc e). ring.
      - intros j _. rewrite Bc. unfold c, vsub. fold cc. ring. }
    rewrite (l2_ext d _ _ (fun e _ => E e)). eapply Rle_trans; [apply (mean_norm n d p p0)|].
    apply Rle_trans with (sum n (fun j => a * l2 d (H i) * (p j * dot d (c j) (c j)))).
    - apply sum_le; intros j Hj. replace (a * l2 d (H i) * (p j * dot d (c j) (c j))) with (p j * (a * l2 d (H i) * dot
        d (c j) (c j))) by ring. apply Rmult_le_compat_l; [auto|]. rewrite <- l2_sqr, <- Rmult_assoc.
      apply Rmult_le_compat_r; [apply sqrt_pos|apply bil_le].
    - rewrite sum_scal. replace (a * R0 ^ 2 * l2 d (H i)) with (a * l2 d (H i) * R0 ^ 2) by ring.
      apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|].
      eapply Rle_trans; [apply (deviations n d p p1 X)|]. apply (mean_le n p p0 p1). intros j Hj. rewrite <- l2_sqr.
      assert (Xj := in_ball j Hj). assert (0 <= l2 d (X j)) by apply sqrt_pos. simpl. rewrite Rmult_1_r.
      apply Rmult_le_compat; lra. }
  assert (T := sn_add (L2 d) (fun e => sum n (fun j => p j * 1 * H j e)) (fun e => sum n (fun j => p j * f1 j * c j e)
    + sum n (fun j => p j * f2 j * c j e))).
  assert (T' := sn_add (L2 d) (fun e => sum n (fun j => p j * f1 j * c j e)) (fun e => sum n (fun j => p j * f2 j * c j
    e))). cbn [L2 sn] in T, T'.
  rewrite (l2_ext d G (fun e => sum n (fun j => p j * 1 * H j e) + (sum n (fun j => p j * f1 j * c j e) + sum n (fun j
    => p j * f2 j * c j e)))); [lra|].
  intros e _. unfold G. f_equal; [apply sum_ext; intros; ring|]. rewrite <- sum_plus. apply sum_ext; intros. unfold f.
  ring.
Qed.

Theorem castin_3_3 (H g : mat) : (forall i b, (i < n)%nat -> (b < d)%nat ->
  is_derive (fun h => SA n d Ly (fun i b => X i b + h * H i b) i b) 0 (g i b)) ->
  frob n d g <= sqrt 3 * w 0%nat * sqrt (a ^ 2 * R0 ^ 4 * (4 * INR n + 1) + INR n) * frob n d H.
Proof.
  intros Hg. set (F := frob n d H). assert (F0 : 0 <= F) by apply sqrt_pos.
  assert (w0 : 0 <= w 0%nat) by apply (w_pos _ _ _ _ _ bounds). assert (a0 := a_nonneg). set (k := a * R0 ^ 2).
  assert (k0 : 0 <= k) by (apply Rmult_le_pos; [exact a0|apply pow2_ge_0]).
  assert (FF : F * F = sum n (fun i => dot d (H i) (H i))) by (apply sqrt_sqrt, sum_nonneg; intros; apply dot_pos).
  assert (B : sum n (fun i => dot d (g i) (g i)) <= 3 * (w 0%nat * w 0%nat) * ((k * k * (4 * INR n + 1) + INR n) * (F *
    F))).
  { apply Rle_trans with (sum n (fun i => 3 * (w 0%nat * w 0%nat) * ((F * F + 4 * (k * k) * (F * F)) + k * k * dot d (H
      i) (H i)))).
    - apply sum_le; intros i Hi. assert (Ro := castin_row H g i Hi (fun b => Hg i b Hi)). fold F k in Ro.
      rewrite <- !l2_sqr. set (t := l2 d (H i)) in *. set (s := l2 d (g i)) in *.
      assert (s0 : 0 <= s) by apply sqrt_pos. assert (t0 : 0 <= t) by apply sqrt_pos.
      set (u := F + 2 * k * F + k * t) in *. assert (S2 : s * s <= (w 0%nat * u) * (w 0%nat * u)) by (apply
        Rmult_le_compat; lra). eapply Rle_trans; [exact S2|].
      replace (3 * (w 0%nat * w 0%nat) * (F * F + 4 * (k * k) * (F * F) + k * k * (t * t))) with ((w 0%nat * w 0%nat) *
        (3 * (F * F + (2 * k * F) * (2 * k * F) + (k * t) * (k * t)))) by ring.
      replace (w 0%nat * u * (w 0%nat * u)) with (w 0%nat * w 0%nat * (u * u)) by ring.
      apply Rmult_le_compat_l; [apply Rle_0_sqr|]. unfold u. generalize (2 * k * F) (k * t). intros x y.
      assert (Q1 := Rle_0_sqr (F - x)). assert (Q2 := Rle_0_sqr (F - y)). assert (Q3 := Rle_0_sqr (x - y)).
      unfold Rsqr in *. lra.
    - rewrite sum_scal, sum_plus, sum_const, sum_scal, <- FF. right. ring. }
  replace (a ^ 2 * R0 ^ 4) with (k * k) by (unfold k; ring). assert (n0 := pos_INR n).
  assert (kk : 0 <= k * k) by (now apply Rmult_le_pos). assert (q0 : 0 <= k * k * (4 * INR n + 1) + INR n) by (assert
    (0 <= k * k * (4 * INR n + 1)) by (apply Rmult_le_pos; lra); lra).
  apply Rsqr_incr_0_var; [|repeat apply Rmult_le_pos; try apply sqrt_pos; assumption]. unfold Rsqr. unfold frob at 1 2.
  rewrite sqrt_sqrt by (apply sum_nonneg; intros; apply dot_pos).
  eapply Rle_trans; [exact B|]. right. set (q := k * k * (4 * INR n + 1) + INR n) in *.
  assert (S3 : sqrt 3 * sqrt 3 = 3) by (apply sqrt_sqrt; lra).
  assert (Sq : sqrt q * sqrt q = q) by (now apply sqrt_sqrt).
  replace (sqrt 3 * w 0%nat * sqrt q * F * (sqrt 3 * w 0%nat * sqrt q * F)) with ((sqrt 3 * sqrt 3) * (w 0%nat * w
    0%nat) * ((sqrt q * sqrt q) * (F * F))) by ring. now rewrite S3, Sq.
Qed.
End Castin.
