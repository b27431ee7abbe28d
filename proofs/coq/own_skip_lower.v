(** own:skip-lower.  With skip connections the tokens collapse no faster than 1/sqrt L.
    One layer X' = s X + SA(X), with D = diam X and phi(D) = sum_h w_h tanh(m_h D^2/(4 sqrt d_qk)):
        (|s| - phi(D)) D <= diam X' <= (|s| + phi(D)) D   [skip_layer].
    L layers with s = 1, kappa_l <= kappa and phi_l(D_l) <= theta < 1 along the way:
        1/D_L^2 <= 1/D_0^2 + K(theta) kappa L   and   D_L >= D_0 / sqrt(1 + K(theta) kappa D_0^2 L),
    K(theta) = (2 - theta)/(1 - theta)^2   [skip_lower].
    own:lambda-skip-lower, own:lambda-skip-upper.  L layers with any skips s_l, D_l = diam X^l, phi_l(D_l) <= |s_l|:
        D_0 prod_l (|s_l| - phi_l(D_l)) <= D_L <= D_0 prod_l (|s_l| + phi_l(D_l))   [lambda_skip]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms Softmax own_diameter.
Local Open Scope R_scope.

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
