(** Functions of a large number L and of tokens near given ones, up to a power of L times exp(-cL).

    [tends f g]: f L X differs from g L by at most L^m exp(-cL) for every X within exp(-cL) of X0, where L > m, and g
    grows at most like L^m.  Sums, products and smooth functions keep it, so that the estimates of a layer whose logits
    grow with L need no constants. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions.
Local Open Scope R_scope.

Lemma INR_above (x : R) : exists m, x < INR m.
Proof.
  exists (Z.to_nat (Z.max 0 (up x))). rewrite INR_IZR_INZ, Z2Nat.id by lia. destruct (archimed x) as [A _].
  apply Rlt_le_trans with (IZR (up x)); [lra|apply IZR_le; lia].
Qed.
Lemma exp_times x k : exp x ^ k = exp (INR k * x).
Proof.
  induction k as [|k IH]; [simpl; now rewrite Rmult_0_l, exp_0|]. rewrite S_INR. simpl pow. rewrite IH, <- exp_plus.
  f_equal. ring.
Qed.

Section Germs.
Variables (n d : nat) (X0 : mat) (c : R).
Hypothesis c_pos : 0 < c.
Definition box (L : R) (X : mat) : Prop := within n d (exp (- (c * L))) (fun i a => X i a - X0 i a).
Definition near_at (m : nat) (f : R -> mat -> R) (g : R -> R) : Prop := forall L X, INR (S m) <= L -> box L X ->
  Rabs (f L X - g L) <= L ^ m * exp (- (c * L)).
Definition poly_at (m : nat) (g : R -> R) : Prop := forall L, INR (S m) <= L -> Rabs (g L) <= L ^ m.
Definition tends (f : R -> mat -> R) (g : R -> R) : Prop := exists m, near_at m f g /\ poly_at m g.

Lemma from_one m L : INR (S m) <= L -> 1 <= L.
Proof. intros H. rewrite S_INR in H. assert (P := pos_INR m). lra. Qed.
Lemma pow_up m m' L : (m <= m')%nat -> INR (S m') <= L -> INR (S m) <= L /\ 1 <= L ^ m <= L ^ m'.
Proof.
  intros H HL. assert (L1 := from_one m' L HL). assert (P : INR (S m) <= INR (S m')) by (apply le_INR; lia).
  split; [lra|split; [now apply pow_R1_Rle|now apply Rle_pow]].
Qed.
Lemma decay_pos L : 0 < exp (- (c * L)).
Proof. apply exp_pos. Qed.
Lemma decay_one m L : INR (S m) <= L -> exp (- (c * L)) <= 1.
Proof.
  intros H. assert (L1 := from_one m L H). rewrite <- exp_0. left. apply exp_increasing.
  assert (0 < c * L) by (apply Rmult_lt_0_compat; lra). lra.
Qed.
Lemma near_up m m' f g : (m <= m')%nat -> near_at m f g -> near_at m' f g.
Proof.
  intros H N L X HL B. destruct (pow_up m m' L H HL) as [Q1 Q2]. eapply Rle_trans; [now apply N|].
  apply Rmult_le_compat_r; [left; apply exp_pos|lra].
Qed.
Lemma poly_up m m' g : (m <= m')%nat -> poly_at m g -> poly_at m' g.
Proof. intros H N L HL. destruct (pow_up m m' L H HL) as [Q1 Q2]. eapply Rle_trans; [now apply N|lra]. Qed.

Lemma tends_ext f f' g g' : tends f g -> (forall L X, f L X = f' L X) -> (forall L, g L = g' L) -> tends f' g'.
Proof.
  intros [m [N P]] E1 E2. exists m. split; [intros L X HL B; rewrite <- E1, <- E2; now apply N|].
  intros L HL. rewrite <- E2. now apply P.
Qed.
Lemma tends_from_one f f' g : tends f g -> (forall L X, 1 <= L -> f L X = f' L X) -> tends f' g.
Proof.
  intros [m [N P]] E. exists m. split; [|exact P]. intros L X HL B. rewrite <- E by exact (from_one m L HL).
  now apply N.
Qed.
Lemma tends_const (x : R) : tends (fun _ _ => x) (fun _ => x).
Proof.
  destruct (INR_above (Rabs x)) as [m Hm]. exists (S m). split.
  - intros L X HL _. assert (L1 := from_one _ _ HL). rewrite Rminus_diag_eq, Rabs_R0 by reflexivity.
    apply Rmult_le_pos; [apply pow_le; lra|left; apply exp_pos].
  - intros L HL. assert (L1 := from_one _ _ HL). rewrite !S_INR in HL. simpl.
    assert (1 <= L ^ m) by now apply pow_R1_Rle. nra.
Qed.
Lemma tends_large : tends (fun L _ => L) (fun L => L).
Proof.
  exists 1%nat. split; intros L; intros; assert (L1 := from_one _ _ ltac:(eassumption)).
  - rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. apply Rmult_le_pos; [apply pow_le; lra|left; apply exp_pos].
  - rewrite pow_1, Rabs_right; lra.
Qed.
Lemma tends_var i a : (i < n)%nat -> (a < d)%nat -> tends (fun _ X => X i a) (fun _ => X0 i a).
Proof.
  intros Hi Ha. destruct (tends_const (X0 i a)) as [m [_ P]]. exists m. split; [|exact P].
  intros L X HL B. assert (L1 := from_one _ _ HL). eapply Rle_trans; [now apply B|].
  assert (1 <= L ^ m) by now apply pow_R1_Rle. assert (Q := exp_pos (- (c * L))). nra.
Qed.
Lemma tends_plus f g f' g' : tends f g -> tends f' g' -> tends (fun L X => f L X + f' L X) (fun L => g L + g' L).
Proof.
  intros [m [N P]] [m' [N' P']]. exists (S (m + m')). split.
  - intros L X HL B. destruct (pow_up m (m + m') L ltac:(lia) ltac:(rewrite S_INR in HL; lra)) as [A1 A2].
    destruct (pow_up m' (m + m') L ltac:(lia) ltac:(rewrite S_INR in HL; lra)) as [B1 B2].
    specialize (N L X A1 B). specialize (N' L X B1 B). assert (E := exp_pos (- (c * L))).
    replace (f L X + f' L X - (g L + g' L)) with ((f L X - g L) + (f' L X - g' L)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. assert (L2 : 2 <= L) by (rewrite !S_INR in HL;
      assert (Q := pos_INR (m + m')); lra). simpl.
    assert (L ^ m * exp (- (c * L)) <= L ^ (m + m') * exp (- (c * L))) by (apply Rmult_le_compat_r; lra).
    assert (L ^ m' * exp (- (c * L)) <= L ^ (m + m') * exp (- (c * L))) by (apply Rmult_le_compat_r; lra).
    assert (2 * (L ^ (m + m') * exp (- (c * L))) <= L * (L ^ (m + m') * exp (- (c * L)))) by (apply
      Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]). lra.
  - intros L HL. destruct (pow_up m (m + m') L ltac:(lia) ltac:(rewrite S_INR in HL; lra)) as [A1 A2].
    destruct (pow_up m' (m + m') L ltac:(lia) ltac:(rewrite S_INR in HL; lra)) as [B1 B2].
    specialize (P L A1). specialize (P' L B1). eapply Rle_trans; [apply Rabs_triang|].
    assert (L2 : 2 <= L) by (rewrite !S_INR in HL; assert (Q := pos_INR (m + m')); lra). simpl. nra.
Qed.
Lemma tends_mult f g f' g' : tends f g -> tends f' g' -> tends (fun L X => f L X * f' L X) (fun L => g L * g' L).
Proof.
  intros [m [N P]] [m' [N' P']]. exists (S (S (m + m'))). split.
  - intros L X HL B. assert (P0 := pos_INR (m + m')).
    destruct (pow_up m (m + m') L ltac:(lia) ltac:(rewrite !S_INR in *; lra)) as [A1 A2].
    destruct (pow_up m' (m + m') L ltac:(lia) ltac:(rewrite !S_INR in *; lra)) as [B1 B2].
    specialize (N L X A1 B). specialize (N' L X B1 B). specialize (P L A1). specialize (P' L B1).
    assert (E := exp_pos (- (c * L))). assert (E1 := decay_one _ _ A1).
    replace (f L X * f' L X - g L * g' L) with ((f L X - g L) * (f' L X - g' L) + (f L X - g L) * g' L + g L * (f' L X
      - g' L)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|].
    rewrite !Rabs_mult. set (e := exp (- (c * L))) in *.
    assert (I1 : Rabs (f L X - g L) * Rabs (f' L X - g' L) <= L ^ m * e * L ^ m').
    { apply Rmult_le_compat; auto using Rabs_pos. eapply Rle_trans; [exact N'|]. rewrite <- (Rmult_1_r (L ^ m')) at 2.
      apply Rmult_le_compat_l; lra. }
    assert (I2 : Rabs (f L X - g L) * Rabs (g' L) <= L ^ m * e * L ^ m') by (apply Rmult_le_compat;
      auto using Rabs_pos).
    assert (I3 : Rabs (g L) * Rabs (f' L X - g' L) <= L ^ m * (L ^ m' * e)) by (apply Rmult_le_compat;
      auto using Rabs_pos).
    assert (L3 : 3 <= L) by (rewrite !S_INR in HL; lra). simpl. rewrite pow_add.
    set (q := L ^ m * L ^ m' * e). assert (q0 : 0 <= q) by (unfold q; apply Rmult_le_pos; nra).
    replace (L * (L * (L ^ m * L ^ m')) * e) with (L * (L * q)) by (unfold q; ring).
    assert (3 * q <= L * q) by nra. assert (L * q <= L * (L * q)) by nra. unfold q in *. lra.
  - intros L HL. assert (P0 := pos_INR (m + m')).
    destruct (pow_up m (m + m') L ltac:(lia) ltac:(rewrite !S_INR in *; lra)) as [A1 A2].
    destruct (pow_up m' (m + m') L ltac:(lia) ltac:(rewrite !S_INR in *; lra)) as [B1 B2].
    specialize (P L A1). specialize (P' L B1). rewrite Rabs_mult.
    eapply Rle_trans; [apply Rmult_le_compat; [apply Rabs_pos|apply Rabs_pos|exact P|exact P']|].
    rewrite <- pow_add. apply Rle_pow; [exact (from_one _ _ HL)|lia].
Qed.
Lemma tends_sum k (f : nat -> R -> mat -> R) (g : nat -> R -> R) : (forall j, (j < k)%nat -> tends (f j) (g j)) ->
  tends (fun L X => sum k (fun j => f j L X)) (fun L => sum k (fun j => g j L)).
Proof.
  induction k as [|k IH]; intros H; [exact (tends_const 0)|]. cbn [sum].
  apply (tends_plus (fun L X => sum k (fun j => f j L X)) (fun L => sum k (fun j => g j L)) (f k) (g k));
    [apply IH; intros; apply H; lia|apply H; lia].
Qed.
Lemma tends_zero (f : R -> R) : (forall L, 1 <= L -> 0 <= f L <= exp (- (c * L))) ->
  tends (fun L _ => f L) (fun _ => 0).
Proof.
  intros H. exists 0%nat. split; intros L; [intros X HL _|intros HL].
  - specialize (H L (from_one _ _ HL)). rewrite Rminus_0_r, Rabs_right by lra. simpl. lra.
  - rewrite Rabs_R0. simpl. lra.
Qed.

(** A power times exp(-cL) falls below every positive number. *)
Lemma small m eta : 0 < eta -> exists L0, forall L, L0 <= L -> L ^ m * exp (- (c * L)) <= eta.
Proof.
  intros He. set (a := INR (S m)). assert (a1 : 1 <= a) by (apply (le_INR 1); lia).
  assert (ap : 0 < (a / c) ^ S m) by (apply pow_lt, Rdiv_lt_0_compat; lra).
  exists (Rmax 1 ((a / c) ^ S m / eta)). intros L HL. assert (R1 := Rmax_l 1 ((a / c) ^ S m / eta)).
  assert (R2 := Rmax_r 1 ((a / c) ^ S m / eta)). assert (cL : 0 < c * L) by (apply Rmult_lt_0_compat; lra).
  assert (E : (c * L / a) ^ S m <= exp (c * L)).
  { replace (exp (c * L)) with (exp (c * L / a) ^ S m).
    - apply pow_incr. split; [left; apply Rdiv_lt_0_compat; lra|]. assert (I := exp_ineq1_le (c * L / a)). lra.
    - rewrite exp_times. fold a. f_equal. field. lra. }
  assert (Lp : 0 < L ^ m) by (apply pow_lt; lra).
  rewrite exp_Ropp. assert (P := exp_pos (c * L)). apply Rmult_le_reg_r with (exp (c * L)); [exact P|].
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  apply Rle_trans with (eta * (c * L / a) ^ S m); [|apply Rmult_le_compat_l; lra].
  replace (c * L / a) with (L * / (a / c)) by (field; lra). rewrite Rpow_mult_distr, pow_inv.
  apply Rmult_le_reg_r with ((a / c) ^ S m); [exact ap|]. rewrite Rmult_assoc, (Rmult_assoc (L ^ S m)), Rinv_l by lra.
  assert (Q : (a / c) ^ S m <= eta * L).
  { apply (Rmult_le_compat_r eta) in R2; [|lra]. replace ((a / c) ^ S m / eta * eta) with ((a / c) ^ S m) in R2 by
      (field; lra). nra. }
  rewrite Rmult_1_r. simpl (L ^ S m). nra.
Qed.

(** A smooth function of what tends to a number. *)
Lemma tends_map (phi : R -> R) q l f : derivable_pt_lim phi q l -> tends f (fun _ => q) ->
  tends (fun L X => phi (f L X)) (fun _ => phi q).
Proof.
  intros D [m [N _]]. destruct (D 1 Rlt_0_1) as [dl Hd]. destruct (small m (dl / 2)) as [L0 HL0].
  { assert (P := cond_pos dl). lra. }
  destruct (INR_above (Rmax L0 (Rabs l + 1))) as [m0 H0]. assert (R1 := Rmax_l L0 (Rabs l + 1)).
  assert (R2 := Rmax_r L0 (Rabs l + 1)). destruct (tends_const (phi q)) as [m1 [_ P1]].
  exists (S (m + m0 + m1)). split; [|apply (poly_up m1); [lia|exact P1]].
  intros L X HL B. destruct (pow_up m (S (m + m0 + m1)) L ltac:(lia) HL) as [A1 A2].
  assert (Lm : INR m0 <= INR (m + m0 + m1)) by (apply le_INR; lia). rewrite !S_INR in HL.
  specialize (N L X A1 B). specialize (HL0 L ltac:(lra)). set (h := f L X - q) in *.
  assert (E := exp_pos (- (c * L))). replace (f L X) with (q + h) by (unfold h; ring).
  destruct (Req_dec h 0) as [Z|Z]; [rewrite Z, Rplus_0_r, Rminus_diag_eq, Rabs_R0 by reflexivity;
    apply Rmult_le_pos; [apply pow_le; assert (Q := pos_INR (m + m0 + m1)); lra|lra]|].
  specialize (Hd h Z ltac:(assert (P := cond_pos dl); lra)).
  assert (K : Rabs (phi (q + h) - phi q) <= (Rabs l + 1) * Rabs h).
  { replace (phi (q + h) - phi q) with (((phi (q + h) - phi q) / h - l + l) * h) by (field; exact Z).
    rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|]. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  eapply Rle_trans; [exact K|]. simpl. assert (Q := pos_INR (m + m0 + m1)).
  destruct (pow_up m (m + m0 + m1) L ltac:(lia) ltac:(rewrite S_INR; lra)) as [_ A3].
  rewrite Rmult_assoc. apply Rmult_le_compat; [assert (I := Rabs_pos l); lra|apply Rabs_pos|lra|].
  eapply Rle_trans; [exact N|]. apply Rmult_le_compat_r; lra.
Qed.

(** One power for finitely many. *)
Lemma uniform k (Q : nat -> nat -> Prop) : (forall i m m', (m <= m')%nat -> Q i m -> Q i m') ->
  (forall i, (i < k)%nat -> exists m, Q i m) -> exists m, forall i, (i < k)%nat -> Q i m.
Proof.
  intros Up. induction k as [|k IH]; intros H; [exists 0%nat; intros; lia|].
  destruct IH as [m Hm]; [intros; apply H; lia|]. destruct (H k ltac:(lia)) as [m' Hm']. exists (m + m')%nat.
  intros i Hi. destruct (Nat.eq_dec i k) as [->|]; [apply (Up k m'); [lia|exact Hm']|].
  apply (Up i m); [lia|]. apply Hm. lia.
Qed.
End Germs.
