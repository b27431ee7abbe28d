(** own:skip-lower, own:lambda-skip-sphere, own:lambda-skip-lower, own:lambda-skip-upper.  What each is stands
    before its theorems. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Rcomplements.
From Rankmath Require Import Definitions Functions Norms Softmax own_tv SphereLayer own_diameter own_order.
Local Open Scope R_scope.

(** own:skip-lower.  With skip connections the tokens collapse no faster than 1/sqrt L.
    One layer X' = s X + SA(X), with D = diam X and phi(D) = sum_h w_h tanh(m_h D^2/(4 sqrt d_qk)):
        (|s| - phi(D)) D <= diam X' <= (|s| + phi(D)) D   [skip_layer].
    L layers with s = 1, kappa_l <= kappa and phi_l(D_l) <= theta < 1 along the way:
        1/D_L^2 <= 1/D_0^2 + K(theta) kappa L   and   D_L >= D_0 / sqrt(1 + K(theta) kappa D_0^2 L),
    K(theta) = (2 - theta)/(1 - theta)^2   [skip_lower].
    own:lambda-skip-lower, own:lambda-skip-upper.  L layers with any skips s_l, D_l = diam X^l, phi_l(D_l) <= |s_l|:
        D_0 prod_l (|s_l| - phi_l(D_l)) <= D_L <= D_0 prod_l (|s_l| + phi_l(D_l))   [lambda_skip]. *)

Definition Kth (th : R) : R := (2 - th) / ((1 - th) * (1 - th)).

Lemma Kth_mono f th : 0 <= f <= th -> th < 1 -> Kth f <= Kth th.
Proof.
  intros Hf Ht. assert (E : forall x, x < 1 -> Kth x = / (1 - x) + / (1 - x) * / (1 - x)).
  { intros x Hx. unfold Kth. field. lra. }
  rewrite !E by lra.
  assert (I : / (1 - f) <= / (1 - th)) by (apply Rinv_le_contravar; lra).
  assert (P : 0 < / (1 - f)) by (apply Rinv_0_lt_compat; lra). nra.
Qed.

(** The recursion for a sequence of reals. *)
Lemma seq_lower (D f : nat -> R) (kap th : R) (L : nat) :
  th < 1 -> 0 <= kap -> 0 < D 0%nat ->
  (forall l, (l < L)%nat -> D l * (1 - f l) <= D (S l)) ->
  (forall l, (l < L)%nat -> 0 <= f l <= th) ->
  (forall l, (l < L)%nat -> f l <= kap * (D l * D l)) ->
  0 < D L /\ / (D L * D L) <= / (D 0%nat * D 0%nat) + Kth th * kap * INR L.
Proof.
  intros Ht Hk H0 Hs Hf Hq. induction L as [|L IH].
  - simpl INR. split; [exact H0|lra].
  - destruct IH as [DP IH]; [intros; apply Hs; lia|intros; apply Hf; lia|intros; apply Hq; lia|].
    specialize (Hs L ltac:(lia)). specialize (Hf L ltac:(lia)). specialize (Hq L ltac:(lia)).
    set (x := D L) in *. set (y := D (S L)) in *. set (g := f L) in *.
    assert (P1 : 0 < 1 - g) by lra.
    assert (P2 : 0 < x * (1 - g)) by (apply Rmult_lt_0_compat; lra).
    assert (Py : 0 < y) by lra. split; [exact Py|].
    assert (Y : / (y * y) <= / (x * (1 - g) * (x * (1 - g)))).
    { apply Rinv_le_contravar; [apply Rmult_lt_0_compat; exact P2|]. apply Rmult_le_compat; lra. }
    assert (E : / (x * (1 - g) * (x * (1 - g))) = / (x * x) + g / (x * x) * Kth g).
    { unfold Kth. field. split; lra. }
    assert (Q : g / (x * x) <= kap).
    { apply Rmult_le_reg_r with (x * x); [nra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by nra. lra. }
    assert (KM := Kth_mono g th Hf Ht).
    assert (KP : 0 <= Kth g).
    { unfold Kth. apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. nra. }
    assert (GP : 0 <= g / (x * x)).
    { apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. nra. }
    assert (M : g / (x * x) * Kth g <= kap * Kth th) by (apply Rmult_le_compat; assumption).
    rewrite S_INR. lra.
Qed.

Section Skip.
Variables (n d : nat) (N : seminorm).

Theorem skip_layer (B : block) (w m : nat -> R) X :
  layer_bounds d N (att B) w m -> (forall h, (h < nheads (att B))%nat -> key_padding n (mask (hd (att B) h))) ->
  (forall v, tok B v = v) ->
  diam n N X * (Rabs (skip B) - rate (att B) w m (diam n N X)) <= diam n N (block_map n d B X) /\
  diam n N (block_map n d B X) <= diam n N X * (Rabs (skip B) + rate (att B) w m (diam n N X)) /\
  rate (att B) w m (diam n N X) <= kappa (att B) w m * diam n N X ^ 2.
Proof.
  intros HB HM Ht. assert (D0 := diam_nonneg n N X).
  destruct (diameter_layer n d N (att B) w m HB HM X) as [HD _].
  assert (R0 := rate_nonneg d N _ _ _ HB (diam n N X)).
  set (Y := SA n d (att B) X) in *.
  assert (Ed : forall i k a, vsub (block_map n d B X i) (block_map n d B X k) a
                        = skip B * vsub (X i) (X k) a + vsub (Y i) (Y k) a).
  { intros i k a. unfold vsub, block_map, Y. rewrite !Ht. ring. }
  split; [|split; [|apply (rate_kappa d N _ _ _ HB)]].
  - (* the pair that attains diam X *)
    assert (G : forall i k, (i < n)%nat -> (k < n)%nat ->
       Rabs (skip B) * N (vsub (X i) (X k)) <= diam n N (block_map n d B X) + diam n N Y).
    { intros i k Hi Hk. rewrite <- sn_scal.
      rewrite (sn_ext N _ (fun a => vsub (block_map n d B X i) (block_map n d B X k) a + (-1) * vsub (Y i) (Y k) a))
        by (intro; rewrite Ed; ring).
      eapply Rle_trans; [apply sn_add|]. rewrite sn_scal, (Rabs_left (-1)) by lra.
      assert (S1 := diam_ub n N (block_map n d B X) i k Hi Hk). assert (S2 := diam_ub n N Y i k Hi Hk). lra. }
    assert (H : Rabs (skip B) * diam n N X <= diam n N (block_map n d B X) + diam n N Y).
    { unfold diam at 1. rewrite <- maxf_scal by apply Rabs_pos.
      assert (Pos : 0 <= diam n N (block_map n d B X) + diam n N Y) by (apply Rplus_le_le_0_compat; apply diam_nonneg).
      apply maxf_lub; [exact Pos|]. intros i Hi. rewrite <- maxf_scal by apply Rabs_pos.
      apply maxf_lub; [exact Pos|]. intros k Hk. now apply G. }
    lra.
  - apply diam_lub; [apply Rmult_le_pos; [exact D0|assert (A := Rabs_pos (skip B)); lra]|]. intros i k Hi Hk.
    rewrite (sn_ext N _ (fun a => skip B * vsub (X i) (X k) a + vsub (Y i) (Y k) a)) by (intro; apply Ed).
    eapply Rle_trans; [apply sn_add|]. rewrite sn_scal.
    assert (S1 := diam_ub n N X i k Hi Hk). assert (S2 := diam_ub n N Y i k Hi Hk). assert (A := Rabs_pos (skip B)).
    nra.
Qed.

Theorem lambda_skip (B : nat -> block) (w m : nat -> nat -> R) L X :
  (forall l, layer_bounds d N (att (B l)) (w l) (m l)) ->
  (forall l h, (h < nheads (att (B l)))%nat -> key_padding n (mask (hd (att (B l)) h))) ->
  (forall l v, tok (B l) v = v) ->
  let D l := diam n N (net n d B l X) in
  let phi l := rate (att (B l)) (w l) (m l) (D l) in
  D L <= D 0%nat * prodf L (fun l => Rabs (skip (B l)) + phi l) /\
  ((forall l, (l < L)%nat -> phi l <= Rabs (skip (B l))) -> D 0%nat * prodf L (fun l => Rabs (skip (B l)) - phi l) <= D
    L).
Proof.
  intros HB HM Ht D phi.
  assert (Step : forall l, D l * (Rabs (skip (B l)) - phi l) <= D (S l) <= D l * (Rabs (skip (B l)) + phi l)).
  { intro l. destruct (skip_layer (B l) (w l) (m l) (net n d B l X) (HB l) (HM l) (Ht l)) as [A1 [A2 _]]. now split. }
  assert (Pos : forall l, 0 <= phi l) by (intro; apply (rate_nonneg d N _ _ _ (HB l))).
  split.
  - induction L as [|l IH]; [simpl; lra|]. simpl. destruct (Step l) as [_ S2]. eapply Rle_trans; [exact S2|].
    rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [|exact IH].
    assert (A := Rabs_pos (skip (B l))). specialize (Pos l). lra.
  - induction L as [|l IH]; intros Hs; [simpl; lra|]. simpl. destruct (Step l) as [S1 _]. eapply Rle_trans; [|exact S1].
    rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [specialize (Hs l ltac:(lia)); lra|]. apply IH.
    intros; apply Hs; lia.
Qed.

Variables (Ly : nat -> layer) (w m : nat -> nat -> R).
Hypothesis BB : forall l, layer_bounds d N (Ly l) (w l) (m l).
Hypothesis M : forall l h, (h < nheads (Ly l))%nat -> key_padding n (mask (hd (Ly l) h)).

Theorem skip_lower kap th L X :
  let D l := diam n N (net n d (fun l => skipped (Ly l)) l X) in
  (forall l, kappa (Ly l) (w l) (m l) <= kap) -> th < 1 -> 0 < D 0%nat ->
  (forall l, (l < L)%nat -> rate (Ly l) (w l) (m l) (D l) <= th) ->
  0 < D L /\
  / D L ^ 2 <= / D 0%nat ^ 2 + Kth th * kap * INR L /\
  D 0%nat / sqrt (1 + Kth th * kap * D 0%nat ^ 2 * INR L) <= D L.
Proof.
  intros D Hk Ht H0 Hth.
  assert (Kp : 0 <= kap).
  { eapply Rle_trans; [apply (kappa_nonneg d N _ _ _ (BB 0%nat))|apply (Hk 0%nat)]. }
  destruct (seq_lower D (fun l => rate (Ly l) (w l) (m l) (D l)) kap th L) as [P Q]; try assumption.
  - intros l _. destruct (skip_layer (skipped (Ly l)) (w l) (m l) (net n d (fun l => skipped (Ly l)) l X) (BB l) (M l)
      (fun v => eq_refl)) as [A _].
    cbn [skipped att skip] in A. rewrite Rabs_R1 in A. exact A.
  - intros l Hl. split; [apply (rate_nonneg d N _ _ _ (BB l))|now apply Hth].
  - intros l _. eapply Rle_trans; [apply (rate_kappa d N _ _ _ (BB l))|].
    replace (D l * D l) with (D l ^ 2) by ring. apply Rmult_le_compat_r; [nra|apply Hk].
  - replace (D L ^ 2) with (D L * D L) by ring. replace (D 0%nat ^ 2) with (D 0%nat * D 0%nat) by ring.
    split; [exact P|split; [exact Q|]].
    set (D0 := D 0%nat) in *. set (DL := D L) in *. set (c := Kth th * kap * INR L) in *.
    assert (HQ : D0 * D0 <= DL * DL * (1 + c * (D0 * D0))).
    { apply (Rmult_le_compat_r (DL * DL * (D0 * D0))) in Q; [|nra].
      replace (/ (DL * DL) * (DL * DL * (D0 * D0))) with (D0 * D0) in Q by (field; lra).
      replace ((/ (D0 * D0) + c) * (DL * DL * (D0 * D0))) with (DL * DL * (1 + c * (D0 * D0))) in Q by (field; lra).
      exact Q. }
    replace (Kth th * kap * (D0 * D0) * INR L) with (c * (D0 * D0)) by (unfold c; ring).
    set (s := 1 + c * (D0 * D0)) in *.
    assert (Sp : 0 < s) by (destruct (Rlt_or_le 0 s) as [|Ls]; [assumption|exfalso]; nra).
    assert (Qp := sqrt_lt_R0 s Sp). assert (Qs := sqrt_sqrt s ltac:(lra)).
    apply Rmult_le_reg_r with (sqrt s); [exact Qp|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rsqr_incr_0_var; [unfold Rsqr|apply Rmult_le_pos; lra].
    replace (DL * sqrt s * (DL * sqrt s)) with (DL * DL * (sqrt s * sqrt s)) by ring. rewrite Qs. exact HQ.
Qed.

(** The supposition holds for every input when the value maps are small: phi <= sum_h w_h. *)
Lemma rate_le_weights l t : rate (Ly l) (w l) (m l) t <= sum (nheads (Ly l)) (w l).
Proof.
  apply sum_le; intros h _. rewrite <- (Rmult_1_r (w l h)) at 2.
  apply Rmult_le_compat_l; [apply (w_pos _ _ _ _ _ (BB l))|left; apply tanh_lt1].
Qed.
End Skip.

(** own:lambda-skip-sphere.  Tokens on the sphere, one head without biases and mask, a skip of factor lambda,
  then LayerNorm on the sphere.  If 2 |W| <= |lambda|, no layer shrinks the diameter by
    more than the factor (|lambda| - |W| tanh(|W_QK| Delta^2/(4 sqrt d_qk)))/(|lambda| + |W|)  [lambda_skip_sphere].
    For two tokens x_i with y_i at most s <= 1/2 long and |y_1 - y_2| <= nu Delta this is |u_1 - u_2| >= Delta (1 -
      nu)/(1 + s), u_i = (x_i + y_i)/|x_i + y_i|  [pair_keeps]: with r the mean
    of r_i = |x_i + y_i|, r_1 r_2 |u_1 - u_2|^2 = Q(x_1 - x_2 + y_1 - y_2) for the form Q(v) = |v|^2 - <v,
      z_1 + z_2>^2/(4 r^2), and Q(x_1 - x_2) = Delta^2 (1 - tau^2/r^2), where
    tau = <x_1 - x_2, y_1 + y_2>/(2 Delta) and eta = (<x_1, y_1> + <x_2, y_2>)/2 have eta^2 + tau^2 <= s^2,
      r >= 1 + eta, r^2 <= 1 + 2 eta + s^2. *)

Lemma square_le x y : 0 <= y -> x ^ 2 <= y ^ 2 -> x <= y.
Proof. intros Y H. apply Rsqr_incr_0_var; [unfold Rsqr; lra|exact Y]. Qed.

Lemma scalar_bound s r eta tau : 0 <= s <= / 2 -> 0 < r -> eta ^ 2 + tau ^ 2 <= s ^ 2 -> 1 + eta <= r ->
  r ^ 2 <= 1 + 2 * eta + s ^ 2 ->
  r <= 1 + s /\ (s * r + (1 - s) / (1 + s) * r ^ 2) ^ 2 <= r ^ 2 - tau ^ 2.
Proof.
  intros S R E L U. set (k := (1 - s) / (1 + s)). assert (K : k * (1 + s) = 1 - s) by (unfold k; field; lra).
  clearbody k.
  assert (k0 : / 3 <= k) by (apply Rmult_le_reg_r with (1 + s); lra).
  assert (k2 : (/ 3) ^ 2 <= k ^ 2) by (apply pow_incr; lra).
  assert (t0 : 0 <= tau ^ 2) by apply pow2_ge_0. assert (h0 : 0 <= eta ^ 2) by apply pow2_ge_0.
  assert (s2 : 0 <= s ^ 2) by apply pow2_ge_0. assert (rr : 0 <= r ^ 2) by apply pow2_ge_0.
  assert (e1 : eta <= s) by (apply square_le; lra). assert (r1 : r <= 1 + s) by (apply square_le; lra).
  split; [exact r1|].
  assert (F : r ^ 2 - (s * r + k * r ^ 2) ^ 2 = r ^ 2 * (1 - s + k ^ 2 * r) * (1 + s - r)).
  { transitivity (r ^ 2 * (k * (1 + s) - k * r) * (1 + s + k * r)); [rewrite K; ring|].
    transitivity (r ^ 2 * (k * (1 + s) + k ^ 2 * r) * (1 + s - r)); [ring|now rewrite K]. }
  destruct (Rlt_le_dec r 1) as [C|C]; [|destruct (Rlt_le_dec (r ^ 2) (1 + s ^ 2)) as [B|A]].
  - assert (e2 : (1 - r) ^ 2 <= (- eta) ^ 2) by (apply pow_incr; lra).
    assert (T : tau ^ 2 <= (s - (1 - r)) * (1 + s - r)) by lra.
    assert (G : s - (1 - r) <= r ^ 2 * (1 - s + k ^ 2 * r)).
    { assert (0 <= r ^ 2 * (k ^ 2 * r)) by (apply Rmult_le_pos; [exact rr|apply Rmult_le_pos; lra]).
      assert (0 <= (/ 2 - s) * (r ^ 2 + 1)) by (apply Rmult_le_pos; lra). assert (0 <= (r - 1) ^ 2) by apply pow2_ge_0.
      lra. }
    apply (Rmult_le_compat_r (1 + s - r)) in G; [|lra]. lra.
  - set (x := r ^ 2 - 1). assert (x0 : 0 <= x) by (unfold x; assert (1 ^ 2 <= r ^ 2) by (apply pow_incr; lra); lra).
    assert (x1 : x <= s ^ 2) by (unfold x; lra).
    assert (rx : r <= 1 + x / 2) by (unfold x; assert (0 <= (r - 1) ^ 2) by apply pow2_ge_0; lra).
    assert (V : s * ((1 - s / 2) * (1 + s ^ 2)) <= r ^ 2 * (1 + s - r)).
    { apply Rle_trans with ((1 + x) * (s - x / 2)).
      - assert (0 <= (s ^ 2 - x) * (/ 2 + (s ^ 2 + x) / 2 - s)) by (apply Rmult_le_pos; lra). lra.
      - replace (1 + x) with (r ^ 2) by (unfold x; ring). apply Rmult_le_compat_l; lra. }
    assert (V9 : 9 / 10 <= (1 - s / 2) * (1 + s ^ 2)) by (assert (0 <= s ^ 2 * (/ 2 - s)) by (apply Rmult_le_pos; lra);
      assert (0 <= (s - / 3) ^ 2) by apply pow2_ge_0; lra).
    assert (V1 : s * (9 / 10) <= r ^ 2 * (1 + s - r)) by (eapply Rle_trans; [|exact V]; apply Rmult_le_compat_l; lra).
    assert (V2 : (/ 3) ^ 2 * 1 <= k ^ 2 * r) by (apply Rmult_le_compat; lra).
    assert (Q : s * (9 / 10) * (11 / 18) <= r ^ 2 * (1 + s - r) * (1 - s + k ^ 2 * r)) by (apply Rmult_le_compat; lra).
    replace (r ^ 2 * (1 - s + k ^ 2 * r) * (1 + s - r)) with (r ^ 2 * (1 + s - r) * (1 - s + k ^ 2 * r)) in F by ring.
    assert (0 <= s * (/ 2 - s)) by (apply Rmult_le_pos; lra). lra.
  - set (e := (r ^ 2 - 1 - s ^ 2) / 2). assert (T : tau ^ 2 <= s ^ 2 - e ^ 2) by (assert (e ^ 2 <= eta ^ 2) by (apply
      pow_incr; unfold e; lra); lra).
    assert (Q : s * r + k * r ^ 2 <= (r ^ 2 + 1 - s ^ 2) / 2).
    { apply Rmult_le_reg_r with (1 + s); [lra|]. replace ((s * r + k * r ^ 2) * (1 + s)) with (s * r * (1 + s) + k * (1
        + s) * r ^ 2) by ring. rewrite K.
      assert (P : (3 * s - 1) * r <= (1 - s) * (1 + s)).
      { destruct (Rle_dec (3 * s - 1) 0) as [N|N]; [apply Rle_trans with 0; [|apply Rmult_le_pos; lra];
          assert (0 <= (1 - 3 * s) * r) by (apply Rmult_le_pos; lra); lra|apply Rmult_le_compat; lra]. }
      assert (0 <= (1 + s - r) * ((1 - s) * (1 + s) - (3 * s - 1) * r)) by (apply Rmult_le_pos; lra). lra. }
    assert (P0 : 0 <= s * r + k * r ^ 2) by (apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra).
    apply Rle_trans with (((r ^ 2 + 1 - s ^ 2) / 2) ^ 2); [now apply pow_incr|]. unfold e in T. lra.
Qed.

Lemma dot_comb d (u v : vec) t w : dot d (fun a => u a + t * v a) w = dot d u w + t * dot d v w.
Proof. unfold dot. rewrite <- sum_scal, <- sum_plus. apply sum_ext; intros; ring. Qed.
Lemma dot_combs d (u v : vec) t : dot d (fun a => u a + t * v a) (fun a => u a + t * v a) = dot d u u + 2 * dot d u v *
  t + dot d v v * t * t.
Proof. rewrite dot_comb, (dot_sym d u), (dot_sym d v), !dot_comb, (dot_sym d v u). ring. Qed.

Theorem pair_keeps d (x1 x2 y1 y2 : vec) s nu : dot d x1 x1 = 1 -> dot d x2 x2 = 1 -> 0 <= s <= / 2 -> 0 <= nu <= s ->
  l2 d y1 <= s -> l2 d y2 <= s ->
  l2 d (vsub y1 y2) <= nu * l2 d (vsub x1 x2) ->
  l2 d (vsub x1 x2) * ((1 - nu) / (1 + s)) <= l2 d (vsub (sphere d (fun a => x1 a + y1 a)) (sphere d (fun a => x2 a +
    y2 a))).
Proof.
  intros X1 X2 S Nu Y1 Y2 Yd. set (w := vsub x1 x2) in *. set (b := vsub y1 y2) in *. set (D := l2 d w) in *.
  assert (D0 : 0 <= D) by apply sqrt_pos. destruct D0 as [D0|D0]; [|rewrite <- D0, Rmult_0_l; apply sqrt_pos].
  assert (sq : forall v, dot d v v = l2 d v * l2 d v) by (intro v; unfold l2; rewrite sqrt_sqrt;
    [reflexivity|apply dot_pos]).
  assert (bil2 : forall (u v u' v' : vec) t t', dot d (fun a => u a + t * v a) (fun a => u' a + t' * v' a) = dot d u u'
    + t * dot d v u' + t' * dot d u v' + t * t' * dot d v v').
  { intros. rewrite dot_comb, (dot_sym d u), (dot_sym d v), !dot_comb, (dot_sym d u' u), (dot_sym d v' u),
      (dot_sym d u' v), (dot_sym d v' v). ring. }
  assert (plus : forall u v : vec, (fun a => u a + v a) = (fun a => u a + 1 * v a)) by (intros;
    apply functional_extensionality; intro; ring). assert (minus : forall u v : vec,
      vsub u v = (fun a => u a + -1 * v a)) by (intros; apply functional_extensionality; intro; unfold vsub; ring).
  set (z1 := fun a => x1 a + y1 a). set (z2 := fun a => x2 a + y2 a). set (c := fun a => z1 a + z2 a).
  set (r1 := l2 d z1). set (r2 := l2 d z2). set (r := (r1 + r2) / 2).
  assert (n1 : l2 d x1 = 1) by (unfold l2; rewrite X1; apply sqrt_1).
  assert (n2 : l2 d x2 = 1) by (unfold l2; rewrite X2; apply sqrt_1).
  set (p11 := dot d x1 y1). set (p22 := dot d x2 y2). set (p12 := dot d x1 y2). set (p21 := dot d x2 y1).
  set (eta := (p11 + p22) / 2). set (tau := (p11 + p12 - p21 - p22) / 2 / D).
  (* the lengths *)
  assert (y1s : dot d y1 y1 <= s ^ 2) by (rewrite sq; assert (0 <= l2 d y1) by apply sqrt_pos;
    replace (s ^ 2) with (s * s) by ring; now apply Rmult_le_compat).
    assert (y2s : dot d y2 y2 <= s ^ 2) by (rewrite sq; assert (0 <= l2 d y2) by apply sqrt_pos;
      replace (s ^ 2) with (s * s) by ring; now apply Rmult_le_compat).
  assert (R1 : r1 * r1 = 1 + 2 * p11 + dot d y1 y1) by (unfold r1; rewrite <- sq; unfold z1;
    rewrite plus, dot_combs, X1; fold p11; ring). assert (R2 : r2 * r2 = 1 + 2 * p22 + dot d y2 y2) by (unfold r2;
      rewrite <- sq; unfold z2; rewrite plus, dot_combs, X2; fold p22; ring).
  assert (L1 : 1 + p11 <= r1) by (assert (Q := dot_le_l2 d z1 x1); rewrite n1 in Q; fold r1 in Q;
    assert (A := Rle_abs (dot d z1 x1)); assert (E : dot d z1 x1 = 1 + p11) by (unfold z1;
      rewrite plus, dot_comb, X1, (dot_sym d y1); fold p11; ring); lra).
  assert (L2' : 1 + p22 <= r2) by (assert (Q := dot_le_l2 d z2 x2); rewrite n2 in Q; fold r2 in Q;
    assert (A := Rle_abs (dot d z2 x2)); assert (E : dot d z2 x2 = 1 + p22) by (unfold z2;
      rewrite plus, dot_comb, X2, (dot_sym d y2); fold p22; ring); lra).
  assert (q1 : Rabs p11 <= s) by (unfold p11; eapply Rle_trans; [apply dot_le_l2|]; rewrite n1; lra).
  assert (q2 : Rabs p22 <= s) by (unfold p22; eapply Rle_trans; [apply dot_le_l2|]; rewrite n2; lra).
  apply Rabs_le_between in q1. apply Rabs_le_between in q2.
  assert (r1p : 0 < r1) by lra. assert (r2p : 0 < r2) by lra. assert (rp : 0 < r) by (unfold r; lra).
  assert (Dw : D * D = 2 - 2 * dot d x1 x2) by (unfold D; rewrite <- sq; unfold w; rewrite minus, dot_combs, X1, X2;
    ring).
  assert (Hr : 1 + eta <= r) by (unfold eta, r; lra). assert (Hr2 : r ^ 2 <= 1 + 2 * eta + s ^ 2) by (unfold r, eta;
    assert (0 <= (r1 - r2) * (r1 - r2)) by apply Rle_0_sqr; lra).
  (* Bessel for (y1, y2) and the orthogonal (x1, x2), (w, w) *)
  assert (Be : eta ^ 2 + tau ^ 2 <= s ^ 2).
  { set (t := tau / D). set (v1 := fun a => (y1 a + - eta * x1 a) + - t * w a).
    set (v2 := fun a => (y2 a + - eta * x2 a) + - t * w a). assert (B1 := dot_pos d v1). assert (B2 := dot_pos d v2).
    assert (wx1 : dot d w x1 = 1 - dot d x1 x2) by (unfold w; rewrite minus, dot_comb, X1, (dot_sym d x2); ring).
    assert (wx2 : dot d w x2 = dot d x1 x2 - 1) by (unfold w; rewrite minus, dot_comb, X2; ring).
    assert (wy1 : dot d w y1 = p11 - p21) by (unfold w; rewrite minus, dot_comb; fold p11 p21; ring).
    assert (wy2 : dot d w y2 = p12 - p22) by (unfold w; rewrite minus, dot_comb; fold p12 p22; ring).
    assert (ww : dot d w w = D * D) by (unfold D; apply sq). assert (tD : t * D * D = tau * D) by (unfold t; field;
      lra). assert (tT : tau * D = (p11 + p12 - p21 - p22) / 2) by (unfold tau; field; lra).
    unfold v1 in B1. rewrite dot_combs, dot_combs, dot_comb, X1, ww, (dot_sym d y1 w), (dot_sym d x1 w), wy1, wx1,
      (dot_sym d y1 x1) in B1. fold p11 in B1.
    unfold v2 in B2. rewrite dot_combs, dot_combs, dot_comb, X2, ww, (dot_sym d y2 w), (dot_sym d x2 w), wy2, wx2,
      (dot_sym d y2 x2) in B2. fold p22 in B2.
    assert (E : t * (p11 + p12 - p21 - p22) = 2 * tau ^ 2) by (replace (p11 + p12 - p21 - p22) with (2 * (tau * D)) by
      lra; unfold t; field; lra). assert (E2 : D * D * - t * - t = tau ^ 2) by (unfold t; field; lra).
      assert (E3 : eta * p11 + eta * p22 = 2 * eta ^ 2) by (unfold eta; field). clearbody t eta tau. lra. }
  destruct (scalar_bound s r eta tau S rp Be Hr Hr2) as [rs Sc]. set (k := (1 - nu) / (1 + s)).
  assert (k0 : 0 < k) by (unfold k; apply Rdiv_lt_0_compat; lra).
  assert (Sn : (nu * r + k * r ^ 2) ^ 2 <= r ^ 2 - tau ^ 2).
  { eapply Rle_trans; [|exact Sc]. assert (P0 : 0 <= nu * r + k * r ^ 2) by (apply Rplus_le_le_0_compat;
      apply Rmult_le_pos; try lra; apply pow2_ge_0). apply pow_incr. split; [exact P0|].
    assert (E : s * r + (1 - s) / (1 + s) * r ^ 2 - (nu * r + k * r ^ 2) = (s - nu) * r * ((1 + s - r) / (1 + s))) by
      (unfold k; field; lra).
    assert (0 <= (s - nu) * r * ((1 + s - r) / (1 + s))) by (repeat apply Rmult_le_pos; try lra; left;
      apply Rinv_0_lt_compat; lra). lra. }
  (* the form Q *)
  set (Q := fun u v => dot d u v - dot d u c * dot d v c / (4 * r ^ 2)).
  assert (cr : dot d c c <= 4 * r ^ 2).
  { rewrite sq. assert (T := sn_add (L2 d) z1 z2). change (l2 d c <= r1 + r2) in T.
    assert (c0 : 0 <= l2 d c) by apply sqrt_pos. replace (4 * r ^ 2) with ((r1 + r2) * (r1 + r2)) by (unfold r; field).
    now apply Rmult_le_compat. }
  assert (r4 : 0 < 4 * r ^ 2) by (assert (0 < r ^ 2) by (now apply pow_lt); lra).
  assert (Q0 : forall v, 0 <= Q v v).
  { intro v. unfold Q. assert (C := cauchy_schwarz d v c). assert (V0 := dot_pos d v).
    assert (dot d v c * dot d v c / (4 * r ^ 2) <= dot d v v); [|lra].
    apply Rmult_le_reg_r with (4 * r ^ 2); [exact r4|].
    replace (dot d v c * dot d v c / (4 * r ^ 2) * (4 * r ^ 2)) with (dot d v c * dot d v c) by (field; lra).
    eapply Rle_trans; [exact C|]. now apply Rmult_le_compat_l. }
  assert (QCS : Q w b * Q w b <= Q w w * Q b b).
  { apply quad_disc; [apply Q0|]. intro t. assert (P := Q0 (fun a => w a + t * b a)).
    replace (Q w w + 2 * Q w b * t + Q b b * t * t) with (Q (fun a => w a + t * b a) (fun a => w a + t * b a));
      [exact P|]. unfold Q. rewrite dot_combs, !dot_comb. field. lra. }
  assert (Qw : Q w w = D * D * (1 - tau ^ 2 / r ^ 2)).
  { unfold Q. rewrite sq. fold D. assert (E : dot d w c = 2 * (tau * D)).
    { assert (wv : forall v, dot d w v = dot d x1 v - dot d x2 v) by (intro v; unfold w; rewrite minus, dot_comb; ring).
      assert (cv : forall v, dot d c v = dot d x1 v + dot d y1 v + (dot d x2 v + dot d y2 v)) by (intro v;
        unfold dot, c, z1, z2; rewrite <- !sum_plus; apply sum_ext; intros; ring).
      rewrite wv, (dot_sym d x1 c), (dot_sym d x2 c), !cv, X1, X2, (dot_sym d y1 x1), (dot_sym d y1 x2),
        (dot_sym d y2 x1), (dot_sym d y2 x2), (dot_sym d x2 x1). fold p11 p12 p21 p22. unfold tau. field. lra. }
    rewrite E. field. lra. }
  assert (Qb : Q b b <= (nu * D) ^ 2).
  { unfold Q. rewrite sq. assert (0 <= dot d b c * dot d b c / (4 * r ^ 2)) by (apply Rmult_le_pos;
      [apply Rle_0_sqr|left; now apply Rinv_0_lt_compat]). assert (0 <= l2 d b) by apply sqrt_pos.
      assert (l2 d b * l2 d b <= (nu * D) * (nu * D)) by (now apply Rmult_le_compat). lra. }
  assert (Qz : Q (fun a => w a + 1 * b a) (fun a => w a + 1 * b a) = Q w w + 2 * Q w b + Q b b) by (unfold Q;
    rewrite dot_combs, !dot_comb; field; lra).
  assert (zz : vsub z1 z2 = (fun a => w a + 1 * b a)) by (apply functional_extensionality; intro a;
    unfold vsub, z1, z2, w, b, vsub; ring).
  assert (QE : Q (vsub z1 z2) (vsub z1 z2) = 2 * (r1 * r2) - 2 * dot d z1 z2).
  { unfold Q. assert (A1 : dot d (vsub z1 z2) (vsub z1 z2) = r1 * r1 - 2 * dot d z1 z2 + r2 * r2) by (rewrite minus,
      dot_combs, (sq z1), (sq z2); fold r1 r2; ring).
    assert (A2 : dot d (vsub z1 z2) c = r1 * r1 - r2 * r2) by (rewrite minus, dot_comb; unfold c;
      rewrite plus, (dot_sym d z1), (dot_sym d z2), !dot_comb, (sq z1), (sq z2), (dot_sym d z2 z1); fold r1 r2; ring).
    rewrite A1, A2. unfold r. field. lra. }
  (* |u1 - u2|^2 r1 r2 = Q(z1 - z2) >= (D k r)^2 *)
  set (A := sqrt (Q w w)). set (B := sqrt (Q b b)). assert (A0 : 0 <= A) by apply sqrt_pos.
  assert (B0 : 0 <= B) by apply sqrt_pos. assert (AA : A * A = Q w w) by (apply sqrt_sqrt, Q0).
  assert (BB : B * B = Q b b) by (apply sqrt_sqrt, Q0).
  assert (Lo : - (A * B) <= Q w b) by (assert (G : Q w b * Q w b <= A * B * (A * B)) by (replace (A * B * (A * B)) with
    (A * A * (B * B)) by ring; now rewrite AA, BB); assert (0 <= A * B) by (now apply Rmult_le_pos);
      assert (- Q w b <= A * B) by (apply square_le; lra); lra).
  assert (Bn : B <= nu * D) by (apply Rsqr_incr_0_var; [unfold Rsqr; rewrite BB; lra|apply Rmult_le_pos; lra]).
  assert (An : D * (nu + k * r) <= A).
  { apply Rsqr_incr_0_var; [|exact A0]. unfold Rsqr. rewrite AA, Qw.
    replace (D * (nu + k * r) * (D * (nu + k * r))) with (D * D * (nu + k * r) ^ 2) by ring.
    apply Rmult_le_compat_l; [left; now apply Rmult_lt_0_compat|].
    apply Rmult_le_reg_r with (r ^ 2); [now apply pow_lt|].
    replace ((nu + k * r) ^ 2 * r ^ 2) with ((nu * r + k * r ^ 2) ^ 2) by ring.
    replace ((1 - tau ^ 2 / r ^ 2) * r ^ 2) with (r ^ 2 - tau ^ 2) by (field; lra). exact Sn. }
  assert (kD : 0 <= D * k) by (apply Rmult_le_pos; lra).
  assert (Fin : (D * k) ^ 2 * (r1 * r2) <= 2 * (r1 * r2) - 2 * dot d z1 z2).
  { rewrite <- QE, zz, Qz. apply Rle_trans with ((A - B) * (A - B)); [|lra].
    apply Rle_trans with ((D * k * r) * (D * k * r)).
    - assert (r1 * r2 <= r * r) by (unfold r; assert (0 <= (r1 - r2) * (r1 - r2)) by apply Rle_0_sqr; lra).
      replace (D * k * r * (D * k * r)) with ((D * k) ^ 2 * (r * r)) by ring.
      apply Rmult_le_compat_l; [apply pow2_ge_0|assumption].
    - assert (0 <= D * k * r) by (apply Rmult_le_pos; lra). apply Rmult_le_compat; lra. }
  assert (U : dot d (vsub (sphere d z1) (sphere d z2)) (vsub (sphere d z1) (sphere d z2)) = (2 * (r1 * r2) - 2 * dot d
    z1 z2) / (r1 * r2)).
  { unfold dot at 1, vsub, sphere. fold r1 r2. rewrite (sum_ext d _ (fun a => / (r1 * r1) * (z1 a * z1 a) + - 2 / (r1 *
      r2) * (z1 a * z2 a) + / (r2 * r2) * (z2 a * z2 a))) by (intros; field; lra).
    rewrite !sum_plus, !sum_scal. fold (dot d z1 z1) (dot d z1 z2) (dot d z2 z2). rewrite (sq z1), (sq z2). fold r1 r2.
    field. lra. }
  unfold l2 at 1. rewrite U. rewrite <- (sqrt_square (D * k)) by exact kD. apply sqrt_le_1_alt.
  apply Rmult_le_reg_r with (r1 * r2); [now apply Rmult_lt_0_compat|].
  replace ((2 * (r1 * r2) - 2 * dot d z1 z2) / (r1 * r2) * (r1 * r2)) with (2 * (r1 * r2) - 2 * dot d z1 z2) by (field;
    lra). lra.
Qed.

Definition skip_block (d : nat) (lam : R) (Ly : layer) : block := {| att := Ly; skip := lam; tok := sphere d |}.
Definition on_sphere (n d : nat) (X : mat) : Prop := forall i, (i < n)%nat -> dot d (X i) (X i) = 1.

Lemma sphere_unit d v : 0 < l2 d v -> dot d (sphere d v) (sphere d v) = 1.
Proof.
  intros H. unfold dot, sphere. rewrite (sum_ext d _ (fun a => / (l2 d v * l2 d v) * (v a * v a))) by (intros; field;
    lra). rewrite sum_scal. fold (dot d v v).
  assert (E : dot d v v = l2 d v * l2 d v) by (unfold l2; rewrite sqrt_sqrt; [reflexivity|apply dot_pos]). rewrite E.
  field. lra.
Qed.
Lemma sphere_scale d c v : 0 < c -> 0 < l2 d v -> forall a, sphere d (fun a => c * v a) a = sphere d v a.
Proof. intros C V a. unfold sphere. assert (E : l2 d (fun a => c * v a) = c * l2 d v) by (change (L2 d (fun a => c * v
  a) = c * L2 d v); rewrite (sn_scal (L2 d)), Rabs_right by lra; reflexivity). rewrite E. field. lra. Qed.

Section Layer.
Variables (n d : nat) (lam : R) (Ly : layer) (X : mat) (w m : R).
Hypothesis n0 : (0 < n)%nat.
Hypothesis unit : on_sphere n d X.
Hypothesis one : nheads Ly = 1%nat.
Hypothesis full : mask (hd Ly 0) = nomask.
Hypothesis no_bout : forall b, bout Ly b = 0.
Hypothesis B : layer_bounds d (L2 d) Ly (fun _ => w) (fun _ => m).
Hypothesis lam0 : lam <> 0.
Hypothesis small : 2 * w <= Rabs lam.

Let w0 : 0 <= w. Proof. apply (w_pos _ _ _ _ _ B 0). Qed.
Let al : 0 < Rabs lam. Proof. now apply Rabs_pos_lt. Qed.

Lemma head_short i : (i < n)%nat -> l2 d (SA n d Ly X i) <= w.
Proof.
  intros Hi. assert (P : row_stochastic n n (attn n d (dqk Ly) (hd Ly 0) X)) by (apply attn_stochastic; rewrite full;
    apply (nomask_padding n n0)). destruct P as [P0 P1].
  apply Rle_trans with (L2 d (vmat d (vmat n (attn n d (dqk Ly) (hd Ly 0) X i) X) (WV (hd Ly 0)))); [right;
    apply (sn_ext (L2 d)); intro b; unfold SA; rewrite one, no_bout; cbn [sum]; ring|].
  eapply Rle_trans; [apply (w_bound _ _ _ _ _ B 0); rewrite one; lia|]. rewrite <- (Rmult_1_r w) at 2.
  apply Rmult_le_compat_l; [exact w0|]. eapply Rle_trans; [apply (sn_sum (L2 d) n (attn n d (dqk Ly) (hd Ly 0) X i)
    X)|].
  rewrite <- (P1 i Hi). apply sum_le; intros j Hj. rewrite Rabs_right by (apply Rle_ge; now apply P0).
  assert (E : L2 d (X j) = 1) by (change (l2 d (X j) = 1); unfold l2; rewrite unit by exact Hj; apply sqrt_1).
  rewrite E. lra.
Qed.

(** The block normalises +-x_i + y_i/|lambda|. *)
Definition turned (i : nat) : vec := fun a => lam / Rabs lam * X i a.
Definition shrunk (i : nat) : vec := fun a => / Rabs lam * SA n d Ly X i a.

Lemma sign2 : lam / Rabs lam * (lam / Rabs lam) = 1.
Proof. assert (E : Rabs lam * Rabs lam = lam * lam) by (rewrite <- Rabs_mult; apply Rabs_right, Rle_ge, Rle_0_sqr).
apply Rmult_eq_reg_r with (Rabs lam * Rabs lam); [|apply Rgt_not_eq; now apply Rmult_lt_0_compat]. rewrite E at 2.
field. apply Rgt_not_eq, al. Qed.
Lemma turned_unit i : (i < n)%nat -> dot d (turned i) (turned i) = 1.
Proof.
  intros Hi. unfold dot, turned. rewrite (sum_ext d _ (fun a => lam / Rabs lam * (lam / Rabs lam) * (X i a * X i a)))
    by (intros; ring). rewrite sum_scal, sign2. fold (dot d (X i) (X i)). rewrite unit by exact Hi. ring.
Qed.
Lemma shrunk_short i : (i < n)%nat -> l2 d (shrunk i) <= w / Rabs lam.
Proof.
  intros Hi. assert (A := al). change (L2 d (fun a => / Rabs lam * SA n d Ly X i a) <= w / Rabs lam).
  rewrite (sn_scal (L2 d)), Rabs_right by (left; now apply Rinv_0_lt_compat). unfold Rdiv. rewrite Rmult_comm.
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|now apply head_short].
Qed.
Lemma ratio_small : 0 <= w / Rabs lam <= / 2.
Proof.
  assert (A := al). split; [apply Rmult_le_pos; [exact w0|left; now apply Rinv_0_lt_compat]|].
  apply Rmult_le_reg_r with (Rabs lam); [exact A|]. replace (w / Rabs lam * Rabs lam) with w by (field; lra). lra.
Qed.
Lemma sum_long i : (i < n)%nat -> 0 < l2 d (fun a => turned i a + shrunk i a).
Proof.
  intros Hi. assert (T := sn_add (L2 d) (fun a => turned i a + shrunk i a) (fun a => -1 * shrunk i a)).
  rewrite (sn_scal (L2 d)), Rabs_left in T by lra.
  rewrite (sn_ext (L2 d) (fun a => turned i a + shrunk i a + -1 * shrunk i a) (turned i)) in T by (intros; ring).
  assert (E : L2 d (turned i) = 1) by (change (l2 d (turned i) = 1); unfold l2; rewrite turned_unit by exact Hi;
    apply sqrt_1).
  rewrite E in T. assert (Q := shrunk_short i Hi). assert (R := ratio_small).
  change (L2 d (shrunk i)) with (l2 d (shrunk i)) in T. change (0 < L2 d (fun a => turned i a + shrunk i a)). lra.
Qed.
Lemma block_row i a : (i < n)%nat -> block_map n d (skip_block d lam Ly) X i a = sphere d (fun a => turned i a + shrunk
  i a) a.
Proof.
  intros Hi. assert (A := al). rewrite <- (sphere_scale d (Rabs lam) (fun a => turned i a + shrunk i a) A (sum_long i
    Hi) a). unfold block_map, skip_block. cbn [tok skip att]. f_equal. apply functional_extensionality; intro b.
    unfold turned, shrunk. field. lra.
Qed.
Lemma block_on_sphere : on_sphere n d (block_map n d (skip_block d lam Ly) X).
Proof.
  intros i Hi. unfold dot. rewrite (sum_ext d _ (fun a => sphere d (fun a => turned i a + shrunk i a) a * sphere d (fun
    a => turned i a + shrunk i a) a)) by (intros; now rewrite block_row). now apply sphere_unit, sum_long.
Qed.

Lemma layer_keeps : let D := diam n (l2 d) X in
  D * (Rabs lam - w * tanh (m * D ^ 2 / (4 * sqrt (INR (dqk Ly))))) / (Rabs lam + w) <= diam n (l2 d) (block_map n d
    (skip_block d lam Ly) X).
Proof.
  intro D. assert (A := al). assert (W := w0). set (t := tanh (m * D ^ 2 / (4 * sqrt (INR (dqk Ly))))).
  assert (sp : 0 < sqrt (INR (dqk Ly))) by (apply sqrt_dqk_pos, (dqk_pos _ _ _ _ _ B)).
  assert (M0 := m_pos _ _ _ _ _ B 0). cbv beta in M0. assert (D0 : 0 <= D) by apply diam_nonneg.
  assert (t0 : 0 <= t) by (apply tanh_nonneg; unfold Rdiv; apply Rmult_le_pos; [apply Rmult_le_pos;
    [exact M0|apply pow2_ge_0]|left; apply Rinv_0_lt_compat; lra]). assert (t1 : t < 1) by apply tanh_lt1.
  destruct (maxf_attained n (fun i => maxf n (fun k => l2 d (vsub (X i) (X k))))) as [Z|(i & Hi & Ei)];
    [change (D = 0) in Z; rewrite Z; unfold Rdiv; rewrite !Rmult_0_l; apply diam_nonneg|].
  destruct (maxf_attained n (fun k => l2 d (vsub (X i) (X k)))) as [Z|(k & Hk & Ek)]; [rewrite Z in Ei;
    change (D = 0) in Ei; rewrite Ei; unfold Rdiv; rewrite !Rmult_0_l; apply diam_nonneg|]. rewrite Ek in Ei.
    change (D = l2 d (vsub (X i) (X k))) in Ei.
  assert (Dk : l2 d (vsub (turned i) (turned k)) = D).
  { rewrite Ei. unfold l2. f_equal. unfold dot, vsub, turned. apply sum_ext; intros a _.
    replace ((lam / Rabs lam * X i a - lam / Rabs lam * X k a) * (lam / Rabs lam * X i a - lam / Rabs lam * X k a))
      with (lam / Rabs lam * (lam / Rabs lam) * ((X i a - X k a) * (X i a - X k a))) by ring. rewrite sign2. ring. }
  set (s := w / Rabs lam). set (nu := s * t). assert (S := ratio_small). fold s in S.
  assert (Yd : l2 d (vsub (shrunk i) (shrunk k)) <= nu * l2 d (vsub (turned i) (turned k))).
  { rewrite Dk. destruct (diameter_layer n d (L2 d) Ly (fun _ => w) (fun _ => m) B) with (X := X) as [DL _];
      [intros h Hh; rewrite one in Hh; replace h with 0%nat by lia; rewrite full; now apply nomask_padding|].
    change (diam n (l2 d) (SA n d Ly X) <= D * rate Ly (fun _ => w) (fun _ => m) D) in DL. unfold rate in DL.
    rewrite one in DL. cbn [sum] in DL. fold t in DL. rewrite Rplus_0_l in DL.
    assert (U := diam_ub n (l2 d) (SA n d Ly X) i k Hi Hk). apply Rle_trans with (/ Rabs lam * l2 d (vsub (SA n d Ly X
      i) (SA n d Ly X k))).
    - right. change (L2 d (vsub (shrunk i) (shrunk k)) = / Rabs lam * L2 d (vsub (SA n d Ly X i) (SA n d Ly X k))).
      rewrite <- (Rabs_right (/ Rabs lam)) by (left; now apply Rinv_0_lt_compat). rewrite <- (sn_scal (L2 d)).
      apply (sn_ext (L2 d)). intro a. unfold vsub, shrunk. ring.
    - replace (nu * D) with (/ Rabs lam * (D * (w * t))) by (unfold nu, s; field; lra).
      apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|lra]. }
  assert (Nu : 0 <= nu <= s) by (unfold nu; split; [apply Rmult_le_pos; lra|rewrite <- (Rmult_1_r s) at 2;
    apply Rmult_le_compat_l; lra]).
  assert (K := pair_keeps d (turned i) (turned k) (shrunk i) (shrunk k) s nu (turned_unit i Hi) (turned_unit k Hk) S Nu
    (shrunk_short i Hi) (shrunk_short k Hk) Yd). rewrite Dk in K.
  eapply Rle_trans; [|apply (diam_ub n (l2 d) (block_map n d (skip_block d lam Ly) X) i k Hi Hk)].
  eapply Rle_trans; [|eapply Rle_trans; [exact K|right]].
  - right. unfold nu, s. field. lra.
  - unfold l2. f_equal. unfold dot. apply sum_ext; intros a _. unfold vsub. now rewrite !block_row by assumption.
Qed.
End Layer.

(** Every layer of a network of such blocks, from tokens on the sphere. *)
Theorem lambda_skip_sphere n d lam (Ly : nat -> layer) (X0 : mat) (w m : nat -> R) : (0 < n)%nat -> on_sphere n d X0 ->
  (forall l, nheads (Ly l) = 1%nat) -> (forall l, mask (hd (Ly l) 0) = nomask) -> (forall l b, bout (Ly l) b = 0) ->
  (forall l, layer_bounds d (L2 d) (Ly l) (fun _ => w l) (fun _ => m l)) -> (forall l, 2 * w l <= Rabs lam) ->
  let X l := net n d (fun l => skip_block d lam (Ly l)) l X0 in let D l := diam n (l2 d) (X l) in
  forall l, D (S l) >= D l * (Rabs lam - w l * tanh (m l * D l ^ 2 / (4 * sqrt (INR (dqk (Ly l)))))) / (Rabs lam + w l).
Proof.
  intros Hn U H1 Mn Hb Bd Sm X D l. apply Rle_ge. destruct (Req_dec lam 0) as [Z|Z].
  - assert (W0 := w_pos _ _ _ _ _ (Bd l) 0%nat). cbv beta in W0. specialize (Sm l). rewrite Z, Rabs_R0 in *.
    assert (E : w l = 0) by lra. rewrite E. unfold Rdiv. rewrite Rmult_0_l, Rminus_0_r, Rmult_0_r, Rmult_0_l.
    apply diam_nonneg.
  - assert (Un : forall k, on_sphere n d (X k)).
    { induction k as [|k IH]; [exact U|]. apply (block_on_sphere n d lam (Ly k) (X k) (w k) (m k)); auto. }
    apply (layer_keeps n d lam (Ly l) (X l) (w l) (m l)); auto.
Qed.

(** folk:lambda-skip.  "With LayerNorm on the sphere and skips of a factor lambda,
  one layer keeps |lambda|/(S C + |lambda|) of the spread mu, S = |W|_F, C = |P|_F, however close the
    tokens": lambda not 0, one head, no mask, no biases, tokens on the sphere.
    Refuted (refuted_folk_lambda_skip in proved_networks.v, which uses what is here): two tokens (24,
      +-7)/25 that attend to each other
    almost alone, W = I, lambda = 2.  Each becomes (3a, +-(1 + 2p) b)/r with a small p: a good third of the spread is
      left, and one half was claimed. *)

Definition couple : mat := fun i a => match i, a with _, O => 24 / 25 | O, _ => 7 / 25 | _, _ => - (7 / 25) end.
(** Logits that repel: -100 x_i . x_j. *)
Definition away : mat := fun a b => -100 * eye a b.

Lemma mu_two (a b : R) (X : mat) : X 0%nat 0%nat = a -> X 1%nat 0%nat = a -> X 0%nat 1%nat = b ->
  X 1%nat 1%nat = - b -> 0 <= b -> mu 2 2 X = sqrt 2 * b.
Proof.
  intros E1 E2 E3 E4 B. unfold mu, frob, dot, centred, vsub, mean. cbn [sum]. rewrite E1, E2, E3, E4. simpl INR.
  match goal with |- sqrt ?x = _ => replace x with (2 * (b * b)) by field end. rewrite sqrt_mult_alt by lra.
  now rewrite sqrt_square.
Qed.
