(** wu2024:L13.  What each is stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms own_hemisphere.
Local Open Scope R_scope.

(** wu2024:L13 refuted as printed, and wu2024:L13-repaired.

    The second token moves by x -> y/|y|, y = (x + e_d)(I + wS), w > 1, (xS)_b = x_{b-1}: the first rests at e_d.
    Printed: the unit vectors with x_1, ..., x_{d-2} < 0, x_{d-1} <= -1/w and
    sum_{i <= d-2} (x_i/x_{d-1})^2 <= sqrt(w^2-1) stay such that x_{d-1} <= -1/w.  False for d = 4, w = 2,
    x = -(4,1,4,4)/7: the image has 4 y_3^2 = 144/49 < 158/49 = |y|^2. *)

(** (x + e_d)(I + wS), coordinates 0, ..., d-1. *)
Definition shift_step (d : nat) (w : R) (x : vec) : vec := fun b =>
  let v := fun a => x a + (if Nat.eqb a (d - 1) then 1 else 0) in
  v b + w * (if Nat.eqb b 0 then 0 else v (b - 1)%nat).

Definition L13 : Prop := forall d w x, (2 <= d)%nat -> 1 < w -> l2 d x = 1 ->
  (forall a, (a < d - 2)%nat -> x a < 0) -> x (d - 2)%nat <= - / w ->
  sum (d - 2) (fun a => (x a / x (d - 2)%nat) ^ 2) <= sqrt (w ^ 2 - 1) ->
  sphere d (shift_step d w x) (d - 2)%nat <= - / w.

Definition x13 : vec := fun a => match a with 1%nat => - (1/7) | _ => - (4/7) end.

Theorem L13_refuted : ~ L13.
Proof.
  intro H. specialize (H 4%nat 2 x13 ltac:(lia) ltac:(lra)).
  assert (U : l2 4 x13 = 1) .
  { unfold l2, dot. cbn [sum x13].  replace (0 + - (4/7) * - (4/7) + - (1/7) * - (1/7) + - (4/7) * - (4/7) + - (4/7) *
      - (4/7)) with 1 by lra. apply sqrt_1. }
  assert (S3 : 17/16 <= sqrt (2 ^ 2 - 1)).
  { apply Rsqr_incr_0_var; [|apply sqrt_pos]. rewrite Rsqr_sqrt by lra. unfold Rsqr. lra. }
  assert (Y : l2 4 (shift_step 4 2 x13) = sqrt (158/49)).
  { unfold l2, dot. f_equal. cbn [sum]. unfold shift_step. cbn [Nat.eqb Nat.sub x13]. lra. }
  specialize (H U). cbn [Nat.sub] in H.
  assert (L : sphere 4 (shift_step 4 2 x13) 2%nat <= - / 2).
  { apply H.
    - intros a Ha. destruct a as [|[|a]]; try lia; cbn [x13]; lra.
    - cbn [x13]. lra.
    - eapply Rle_trans; [|exact S3]. right. cbn [sum x13]. field. }
  unfold sphere in L. rewrite Y in L.
  assert (E : shift_step 4 2 x13 2%nat = - (6/7)) by (unfold shift_step; cbn [Nat.eqb Nat.sub x13]; lra).
  rewrite E in L.
  assert (P : 0 < sqrt (158/49)) by (apply sqrt_lt_R0; lra).
  assert (Q : sqrt (158/49) * sqrt (158/49) = 158/49) by (apply sqrt_sqrt; lra).
  assert (sqrt (158/49) <= 12/7).
  { apply (Rmult_le_compat_r (sqrt (158/49))) in L; [|lra]. replace (- (6 / 7) / sqrt (158 / 49) * sqrt (158 / 49))
      with (- (6/7)) in L by (field; lra). lra. }
  nra.
Qed.

(** wu2024:L13-repaired.  A repaired version of Lemma 13 is true in every dimension.

    Setting of wu2024:L13.  For w > 1, d >= 2 the unit vectors x with x_1, ..., x_{d-1} <= 0 and x_{d-1} <= -1/w,
      x_d of any
    sign, stay such if |x_1|, ..., |x_{d-1}| is log-concave (u_b u_{c+1} <= u_{b+1} u_c for b < c), and it stays so;
      and if it is
    graded (w u_b <= sqrt(w^2-1) u_{b+1}), and it stays so.  For d <= 3 log-concavity asks for nothing.
    (In Coq coordinates are 0, ..., d-1: the special one is d-2.) *)

Definition log_concave (d : nat) (u : vec) : Prop :=
  forall b c, (b < c)%nat -> (S c < d - 1)%nat -> u b * u (S c) <= u (S b) * u c.
Definition graded (d : nat) (w : R) (u : vec) : Prop :=
  forall b, (S b < d - 1)%nat -> w * u b <= sqrt (w ^ 2 - 1) * u (S b).

Section Repaired.
Variables (d : nat) (w : R) (u : vec).
Hypothesis d2 : (2 <= d)%nat.
Hypothesis w1 : 1 < w.
Hypothesis u0 : forall a, (a < d - 1)%nat -> 0 <= u a.
Hypothesis un : sum d (fun a => u a * u a) = 1.
Hypothesis up : / w <= u (d - 2)%nat.

Definition before (b : nat) : R := match b with O => 0 | S a => u a end.
(** -y = u + w (u shifted), minus one at the end. *)
Definition v (b : nat) : R := u b + w * before b - (if Nat.eqb b (d - 1) then 1 else 0).

Lemma before_pos b : (b < d)%nat -> 0 <= before b.
Proof. intros H. destruct b as [|a]; simpl; [lra|apply u0; lia]. Qed.

Lemma v_pos b : (b < d - 1)%nat -> 0 <= v b.
Proof.
  intros Hb. assert (P := u0 b Hb). assert (Q := before_pos b ltac:(lia)). unfold v.
  destruct (Nat.eqb_spec b (d - 1)) as [E|]; [lia|]. nra.
Qed.

Section LogConcave.
Hypothesis lc : log_concave d u.
Lemma lc_before b c : (b < c)%nat -> (c < d - 1)%nat -> before b * u c <= u b * before c.
Proof.
  intros H H'. destruct b as [|b]; simpl; [rewrite Rmult_0_l; apply Rmult_le_pos; [apply u0; lia|apply before_pos;
    lia]|].
  destruct c as [|c]; [lia|]. simpl. apply lc; lia.
Qed.

Lemma v_lc : log_concave d v.
Proof.
  intros b c H H'. unfold v.
  destruct (Nat.eqb_spec b (d - 1)); [lia|]. destruct (Nat.eqb_spec c (d - 1)); [lia|].
  destruct (Nat.eqb_spec (S b) (d - 1)); [lia|]. destruct (Nat.eqb_spec (S c) (d - 1)); [lia|].
  simpl before. assert (A := lc b c H H').
  assert (C := lc_before b c H ltac:(lia)).
  assert (B : before b * u (S c) <= u (S b) * before c).
  { assert (B1 : before b * u (S c) <= u b * u c) by (apply (lc_before b (S c)); lia).
    assert (B2 : u b * u c <= u (S b) * before c).
    { destruct c as [|c]; [lia|]. simpl. destruct (Nat.eq_dec b c) as [->|]; [lra|]. apply lc; lia. }
    lra. }
  assert (w * (before b * u (S c)) <= w * (u (S b) * before c)) by (apply Rmult_le_compat_l; lra).
  assert (w * w * (before b * u c) <= w * w * (u b * before c)) by (apply Rmult_le_compat_l; nra). nra.
Qed.

(** What both conditions give: sum_{a<f} u_a^2 and sum_{a<f} u_a u_{a+1} are small against the two special coordinates.
*)
Definition small_sums : Prop := forall f, d = S (S (S f)) ->
  sum f (fun a => u a * u a) <= (w * w - 1) * (u f * u f) /\
  sum f (fun a => u a * u (S a)) <= (w * w - 1) * (u (S f) * u f).

Lemma special_pos : 1 <= w * u (d - 2)%nat.
Proof. apply (Rmult_le_compat_l w) in up; [|lra]. rewrite Rinv_r in up by lra. exact up. Qed.

Lemma lc_small_sums : small_sums.
Proof.
  intros f Ed. assert (wp := special_pos). assert (Un := un). rewrite Ed in Un, wp.
  replace (S (S (S f)) - 2)%nat with (S f) in wp by lia. cbn [sum] in Un. fold (sum f (fun a => u a * u a)) in Un.
  set (p := u (S f)) in *. set (q := u f) in *. set (t := u (S (S f))) in *.
  assert (p0 : 0 <= p) by (apply u0; lia). assert (q0 : 0 <= q) by (apply u0; lia).
  set (S2 := sum f (fun a => u a * u a)) in *. set (C := sum f (fun a => u a * u (S a))).
  assert (S20 : 0 <= S2) by (apply sum_nonneg; intros a Ha; apply Rmult_le_pos; apply u0; lia).
  assert (LC : forall a, (a < f)%nat -> u a * p <= u (S a) * q) by (intros a Ha; apply lc; lia).
  set (T := sum f (fun a => u (S a) * u (S a))).
  assert (T1 : T <= 1 - p * p).
  { assert (sum (S f) (fun a => u a * u a) = u 0%nat * u 0%nat + T) by (rewrite sum_head; reflexivity).
    assert (sum (S f) (fun a => u a * u a) = S2 + q * q) by reflexivity.
    assert (0 <= u 0%nat * u 0%nat) by (apply Rmult_le_pos; apply u0; lia). nra. }
  assert (B1 : p * p * S2 <= q * q * T).
  { unfold S2, T. rewrite <- !sum_scal. apply sum_le; intros a Ha. specialize (LC a Ha).
    assert (P1 := u0 a ltac:(lia)). assert (P2 := u0 (S a) ltac:(lia)).
    assert (0 <= u a * p) by nra. assert (0 <= u (S a) * q) by nra.
    assert (u a * p * (u a * p) <= u (S a) * q * (u (S a) * q)) by (apply Rmult_le_compat; lra). lra. }
  assert (B2 : p * C <= q * T).
  { unfold C, T. rewrite <- !sum_scal. apply sum_le; intros a Ha. specialize (LC a Ha).
    assert (P2 := u0 (S a) ltac:(lia)). apply (Rmult_le_compat_r (u (S a))) in LC; [lra|exact P2]. }
  assert (wp2 : 1 - p * p <= (w * w - 1) * (p * p)).
  { assert (1 * 1 <= w * p * (w * p)) by (apply Rmult_le_compat; lra). lra. }
  assert (pp0 : 0 < p) by (destruct p0 as [|Z]; [assumption|rewrite <- Z in wp; lra]). split.
  - apply Rmult_le_reg_l with (p * p); [nra|]. eapply Rle_trans; [exact B1|].
    assert (q * q * T <= q * q * ((w * w - 1) * (p * p))) by (apply Rmult_le_compat_l; nra). lra.
  - apply Rmult_le_reg_l with p; [exact pp0|]. eapply Rle_trans; [exact B2|].
    assert (q * T <= q * ((w * w - 1) * (p * p))) by (apply Rmult_le_compat_l; lra). lra.
Qed.
End LogConcave.

Section Graded.
Hypothesis gr : graded d w u.

Lemma root_sq : sqrt (w ^ 2 - 1) * sqrt (w ^ 2 - 1) = w * w - 1 /\ 0 <= sqrt (w ^ 2 - 1).
Proof. split; [rewrite sqrt_sqrt; nra|apply sqrt_pos]. Qed.

Lemma v_graded : graded d w v.
Proof.
  intros b H. destruct root_sq as [_ s0]. unfold v.
  destruct (Nat.eqb_spec b (d - 1)); [lia|]. destruct (Nat.eqb_spec (S b) (d - 1)); [lia|].
  cbn [before]. assert (A := gr b H).
  assert (B : w * before b <= sqrt (w ^ 2 - 1) * u b).
  { destruct b as [|c]; cbn [before]; [|apply gr; lia]. rewrite Rmult_0_r.
    apply Rmult_le_pos; [exact s0|apply u0; lia]. }
  assert (w * (w * before b) <= w * (sqrt (w ^ 2 - 1) * u b)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma gr_small_sums : small_sums.
Proof.
  intros f Ed. destruct root_sq as [ss s0]. set (s := sqrt (w ^ 2 - 1)) in *.
  set (p := u (S f)) in *. set (q := u f) in *.
  assert (p0 : 0 <= p) by (apply u0; lia). assert (q0 : 0 <= q) by (apply u0; lia).
  set (S2 := sum f (fun a => u a * u a)) in *. set (C := sum f (fun a => u a * u (S a))).
  set (T := sum f (fun a => u (S a) * u (S a))).
  assert (T1 : T <= S2 + q * q).
  { assert (sum (S f) (fun a => u a * u a) = u 0%nat * u 0%nat + T) by (rewrite sum_head; reflexivity).
    assert (sum (S f) (fun a => u a * u a) = S2 + q * q) by reflexivity.
    assert (0 <= u 0%nat * u 0%nat) by (apply Rmult_le_pos; apply u0; lia). lra. }
  assert (G : forall a, (a < f)%nat -> w * u a <= s * u (S a)) by (intros a Ha; apply gr; lia).
  assert (B1 : w * w * S2 <= (w * w - 1) * T).
  { rewrite <- ss. unfold S2, T. rewrite <- !sum_scal. apply sum_le; intros a Ha. specialize (G a Ha).
    assert (P1 := u0 a ltac:(lia)). assert (P2 := u0 (S a) ltac:(lia)).
    assert (w * u a * (w * u a) <= s * u (S a) * (s * u (S a))) by (apply Rmult_le_compat; try exact G; nra). lra. }
  assert (B2 : w * C <= s * T).
  { unfold C, T. rewrite <- !sum_scal. apply sum_le; intros a Ha. specialize (G a Ha).
    assert (P2 := u0 (S a) ltac:(lia)). apply (Rmult_le_compat_r (u (S a))) in G; [lra|exact P2]. }
  assert (R1 : S2 <= (w * w - 1) * (q * q)).
  { assert ((w * w - 1) * T <= (w * w - 1) * (S2 + q * q)) by (apply Rmult_le_compat_l; nra). lra. }
  split; [exact R1|]. assert (Gq : w * q <= s * p) by (apply gr; lia).
  assert (T2 : T <= w * w * (q * q)) by lra.
  assert (X1 : w * C <= s * (w * w * (q * q))) by (eapply Rle_trans; [exact B2|now apply Rmult_le_compat_l]).
  assert (X2 : s * (w * q) * q <= s * (s * p) * q).
  { apply Rmult_le_compat_r; [exact q0|]. apply Rmult_le_compat_l; [exact s0|exact Gq]. }
  apply Rmult_le_reg_l with w; [lra|]. eapply Rle_trans; [exact X1|].
  apply Rle_trans with (w * (s * (w * q) * q)); [right; ring|].
  apply Rle_trans with (w * (s * (s * p) * q)); [apply Rmult_le_compat_l; lra|].
  right. replace (s * (s * p) * q) with (s * s * (p * q)) by ring. rewrite ss. ring.
Qed.
End Graded.

(** w^2 y_{d-1}^2 >= |y|^2 *)
Lemma v_norm : small_sums -> sum d (fun b => v b * v b) <= w ^ 2 * (v (d - 2)%nat * v (d - 2)%nat).
Proof.
  intros SS. unfold small_sums in SS. assert (wp := special_pos).
  destruct d as [|[|e]] eqn:Ed; [lia|lia|]. replace (S (S e) - 2)%nat with e in * by lia.
  (* coordinates 0..e-1, then e (special), then e+1 (last) *)
  assert (Ve : forall b, (b <= e)%nat -> v b = u b + w * before b).
  { intros b Hb. unfold v. rewrite Ed. destruct (Nat.eqb_spec b (S (S e) - 1)); [lia|ring]. }
  assert (Vl : v (S e) = u (S e) + w * u e - 1).
  { unfold v. rewrite Ed. destruct (Nat.eqb_spec (S e) (S (S e) - 1)); [simpl; ring|lia]. }
  change (sum (S (S e)) (fun b => v b * v b)) with (sum e (fun b => v b * v b) + v e * v e + v (S e) * v (S e)).
  change (sum (S (S e)) (fun a => u a * u a)) with (sum e (fun a => u a * u a) + u e * u e + u (S e) * u (S e)) in un.
  rewrite Vl, (Ve e (le_n e)).
  set (p := u e) in *. set (t := u (S e)) in *. assert (p0 : 0 <= p) by (apply u0; lia).
  assert (SU : 0 <= sum e (fun a => u a * u a)) by (apply sum_nonneg; intros a Ha; apply Rmult_le_pos; apply u0; lia).
  assert (t1 : t <= 1) by nra.
  assert (tw : 0 <= 2 * (1 - t) * (w * p - 1)) by (apply Rmult_le_pos; lra).
  destruct e as [|f].
  - cbn [sum before] in *. replace (p + w * 0) with p by ring. nra.
  - (* sums over 0..f-1, with q = u_f next to the special coordinate *)
    destruct (SS f eq_refl) as [R1 R2]. fold p in R2.
    set (q := u f) in *. assert (q0 : 0 <= q) by (apply u0; lia). simpl before. fold q.
    set (S2 := sum f (fun a => u a * u a)) in *. set (C := sum f (fun a => u a * u (S a))) in *.
    assert (EU : sum (S f) (fun a => u a * u a) = S2 + q * q) by reflexivity.
    assert (EV : sum (S f) (fun b => v b * v b) = (S2 + q * q) + 2 * w * C + w * w * S2).
    { rewrite (sum_ext (S f) _ (fun b => u b * u b + (2 * w * (u b * before b) + w * w * (before b * before b))))
        by (intros b Hb; rewrite Ve by lia; ring).
      rewrite !sum_plus, !sum_scal. rewrite EU.
      rewrite (sum_head f (fun b => u b * before b)), (sum_head f (fun b => before b * before b)). cbn [before].
      rewrite !Rmult_0_r, !Rplus_0_l. fold S2.
      rewrite (sum_ext f (fun j => u (S j) * u j) (fun a => u a * u (S a))) by (intros; ring). fold C. ring. }
    rewrite EV. rewrite EU in un.
    assert (K : w ^ 2 * ((p + w * q) * (p + w * q))
        - ((S2 + q * q + 2 * w * C + w * w * S2) + (p + w * q) * (p + w * q) + (t + w * p - 1) * (t + w * p - 1))
      = 2 * (1 - t) * (w * p - 1) + w * w * ((w * w - 1) * (q * q) - S2)
        + 2 * w * ((w * w - 1) * (p * q) - C) + (1 - (S2 + q * q + p * p + t * t))) by ring.
    assert (0 <= w * w * ((w * w - 1) * (q * q) - S2)) by (apply Rmult_le_pos; nra).
    assert (0 <= 2 * w * ((w * w - 1) * (p * q) - C)) by (apply Rmult_le_pos; lra). lra.
Qed.
End Repaired.

(** The step, under what both conditions give. *)
Theorem repaired_step d w x : (2 <= d)%nat -> 1 < w -> l2 d x = 1 -> (forall a, (a < d - 1)%nat -> x a <= 0) ->
  x (d - 2)%nat <= - / w -> small_sums d w (fun a => - x a) ->
  let q := l2 d (shift_step d w x) in let y := sphere d (shift_step d w x) in
  0 < q /\ (forall b, (b < d)%nat -> y b = - (v d w (fun a => - x a) b / q)) /\
  (forall a, (a < d - 1)%nat -> y a <= 0) /\ y (d - 2)%nat <= - / w.
Proof.
  intros d2 w1 N S0 P SS. set (u := fun a => - x a) in *.
  assert (u0 : forall a, (a < d - 1)%nat -> 0 <= u a) by (intros a Ha; unfold u; specialize (S0 a Ha); lra).
  assert (un : sum d (fun a => u a * u a) = 1).
  { assert (Q := l2_sq d x). rewrite N in Q. rewrite Rmult_1_l in Q. rewrite Q. unfold dot, u.
    apply sum_ext; intros; ring. }
  assert (up : / w <= u (d - 2)%nat) by (unfold u; lra).
  assert (Y : forall b, (b < d)%nat -> shift_step d w x b = - v d w u b).
  { intros b Hb. unfold shift_step, v, u. destruct b as [|a]; simpl before.
    - cbn [Nat.eqb]. destruct (Nat.eqb_spec 0 (d - 1)); [lia|]. ring.
    - cbn [Nat.eqb]. replace (S a - 1)%nat with a by lia. destruct (Nat.eqb_spec a (d - 1)); [lia|].
      destruct (Nat.eqb_spec (S a) (d - 1)); ring. }
  assert (Vp := v_pos d w u d2 w1 u0). assert (VN := v_norm d w u d2 w1 u0 un up SS).
  intros q y.
  assert (q2 : q * q = sum d (fun b => v d w u b * v d w u b)).
  { unfold q. rewrite l2_sq. unfold dot. apply sum_ext; intros b Hb. rewrite Y by exact Hb. ring. }
  assert (Vd : 0 < v d w u (d - 2)%nat).
  { unfold v. destruct (Nat.eqb_spec (d - 2) (d - 1)); [lia|]. assert (B := before_pos d u d2 u0 (d - 2) ltac:(lia)).
    assert (0 < / w) by (apply Rinv_0_lt_compat; lra). nra. }
  assert (q0 : 0 < q).
  { assert (Q := l2_pos d (shift_step d w x)). fold q in Q. destruct Q as [Q|Q]; [exact Q|]. exfalso.
    rewrite <- Q, Rmult_0_l in q2.
    assert (T := sum_term_le d (fun b => v d w u b * v d w u b) (d - 2) (fun b Hb => Rle_0_sqr _) ltac:(lia)).
    cbv beta in T. nra. }
  assert (Sp : forall b, (b < d)%nat -> y b = - (v d w u b / q)).
  { intros b Hb. unfold y, sphere. fold q. rewrite Y by exact Hb. field. lra. }
  split; [exact q0|split; [exact Sp|split]].
  - intros a Ha. rewrite Sp by lia.
    assert (0 <= v d w u a / q) by (apply Rmult_le_pos; [now apply Vp|left; now apply Rinv_0_lt_compat]). lra.
  - rewrite Sp by lia. apply Ropp_le_contravar.
    assert (qw : q <= w * v d w u (d - 2)%nat).
    { apply Rsqr_incr_0_var; [|nra]. unfold Rsqr. rewrite q2. eapply Rle_trans; [exact VN|]. right. ring. }
    apply Rmult_le_reg_r with (w * q); [nra|]. replace (/ w * (w * q)) with q by (field; lra).
    replace (v d w u (d - 2)%nat / q * (w * q)) with (w * v d w u (d - 2)%nat) by (field; lra). exact qw.
Qed.

(** For d <= 3 log-concavity asks for nothing. *)
Lemma log_concave_void d u : (d <= 3)%nat -> log_concave d u.
Proof. intros H b c Hb Hc. lia. Qed.
