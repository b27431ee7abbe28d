(** wu2024:conjecture refuted for two tokens in every dimension (complete mask, LayerNorm on the sphere).

    For every d >= 2 there are M = W_QK/sqrt(d_qk) and W_V, zero outside their first two rows and columns,
        M = [[0,-2],[3,3]],   W_V = A^{-1} diag(1, 1/4),   A the softmax of the rows of M,
    such that X* = (e_0, e_1), of rank two, is an exact fixed point of the layer, and every X whose first two columns
    are within 1/10000 of X* (the other columns are arbitrary, tokens need not be normalised) satisfies
    |F^{k+1}(X) - X*| <= 8/1000 (4/5)^k entrywise, with leading minor > 1/2: F^k(X) -> X*, no collapse to rank one.
    Method: with t = (x01/x00, x10/x11) the norm max(|t1|, |t2|/8) shrinks by 4/5 a layer,
      by the mean value theorem with the
    partial derivatives enclosed by interval arithmetic. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms Softmax Jets SphereLayer IntervalZ TwoTokens.
Local Open Scope R_scope.

(** The first two rows and columns, padded with zeros. *)
Definition M2 : mat := fun a b => match a, b with O, O => 0 | O, 1%nat => -2 | 1%nat, O => 3 | 1%nat, 1%nat => 3 | _,
  _ => 0 end.
Definition W2 : mat := fun a b => match a, b with
  | O, O => (1 + e2) / (1 - e2) | O, 1%nat => - e2 / (2 * (1 - e2))
  | 1%nat, O => - (1 + e2) / (1 - e2) | 1%nat, 1%nat => 1 / (2 * (1 - e2)) | _, _ => 0 end.

Definition st (X : mat) (a b c d : R) : Prop :=
  X 0%nat 0%nat = a /\ X 0%nat 1%nat = b /\ X 1%nat 0%nat = c /\ X 1%nat 1%nat = d.
Lemma sum_low d f : (2 <= d)%nat -> (forall a, (2 <= a)%nat -> f a = 0) -> sum d f = f 0%nat + f 1%nat.
Proof.
  intros Hd H. induction d as [|[|[|d]] IH]; [lia|lia|simpl; ring|].
  change (sum (S (S (S d))) f) with (sum (S (S d)) f + f (S (S d))). rewrite IH, (H (S (S d))) by lia. lra.
Qed.

Section Two.
Variable d : nat.
Hypothesis Hd : (2 <= d)%nat.
Notation F := (sphere_map 2 d M2 W2 nomask).
Notation U := (Ux 2 d M2 W2 nomask).

Lemma bil_2 x y : bil d x M2 y = mf (x 0%nat) (x 1%nat) (y 0%nat) (y 1%nat).
Proof.
  unfold bil, mf. rewrite sum_low; [|exact Hd|].
  - rewrite !sum_low; [cbn [M2]; ring|exact Hd| |exact Hd|]; intros a Ha; destruct a as [|[|a]]; try lia; cbn [M2];
      ring.
  - intros a Ha. rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros b _. destruct a as [|[|a]]; try lia.
    cbn [M2]. ring.
Qed.
Lemma vmat_2 x b : vmat d x W2 b = x 0%nat * W2 0%nat b + x 1%nat * W2 1%nat b.
Proof. unfold vmat. rewrite sum_low; [reflexivity|exact Hd|]. intros a Ha. destruct a as [|[|a]]; try lia. cbn [W2].
ring. Qed.

Lemma U_2 X i b : U X i b =
  exp (mf (X i 0%nat) (X i 1%nat) (X 0%nat 0%nat) (X 0%nat 1%nat)) * (X 0%nat 0%nat * W2 0%nat b + X 0%nat 1%nat * W2
    1%nat b)
  + exp (mf (X i 0%nat) (X i 1%nat) (X 1%nat 0%nat) (X 1%nat 1%nat)) * (X 1%nat 0%nat * W2 0%nat b + X 1%nat 1%nat * W2
      1%nat b).
Proof. unfold Ux, Ex, nomask. cbn [sum]. rewrite !bil_2, !vmat_2. ring. Qed.

(** Row 0 with weights 1, rho1; row 1 with weights rho2, 1; the other columns vanish. *)
Lemma U_rows X a b c e : st X a b c e -> exists z0 z1, 0 < z0 /\ 0 < z1 /\
  U X 0%nat 0%nat = z0 * ((1 + e2) / (1 - e2) * p1 a b c e) /\
  U X 0%nat 1%nat = z0 * (n1 a b c e / (2 * (1 - e2))) /\
  U X 1%nat 0%nat = z1 * ((1 + e2) / (1 - e2) * n2 a b c e) /\
  U X 1%nat 1%nat = z1 * (p2 a b c e / (2 * (1 - e2))).
Proof.
  intros [Ha [Hb [Hc He]]]. assert (E := e2_b). exists (exp (mf a b a b)), (exp (mf c e c e)).
  split; [apply exp_pos|split; [apply exp_pos|]].
  assert (R1 : exp (mf a b c e) = exp (mf a b a b) * rho1 a b c e) by (unfold rho1; rewrite <- exp_plus; f_equal; ring).
  assert (R2 : exp (mf c e a b) = exp (mf c e c e) * rho2 a b c e) by (unfold rho2; rewrite <- exp_plus; f_equal; ring).
  rewrite !U_2, Ha, Hb, Hc, He, R1, R2. unfold p1, n1, p2, n2. cbn [W2]. repeat split; field; lra.
Qed.

Lemma U_high X i b : (2 <= b)%nat -> U X i b = 0.
Proof. intros Hb. rewrite U_2. destruct b as [|[|b]]; try lia. cbn [W2]. ring. Qed.

Lemma F_low X i b : (i < 2)%nat -> F X i b = U X i b / sqrt (U X i 0%nat * U X i 0%nat + U X i 1%nat * U X i 1%nat).
Proof.
  intros Hi. rewrite sphere_form; [|lia|apply nomask_padding; lia|exact Hi]. unfold l2, dot.
  rewrite sum_low; [reflexivity|exact Hd|]. intros a Ha. rewrite U_high by exact Ha. ring.
Qed.

Lemma F_high X i b : (i < 2)%nat -> (2 <= b)%nat -> F X i b = 0.
Proof. intros Hi Hb. rewrite F_low, U_high by assumption. unfold Rdiv. ring. Qed.

(** One layer in scalar form. *)
Lemma step X a b c e : st X a b c e -> good a b c e ->
  st (F X) (cc (G1 a b c e)) (G1 a b c e * cc (G1 a b c e)) (G2 a b c e * cc (G2 a b c e)) (cc (G2 a b c e)).
Proof.
  intros S [H1 H2]. assert (E := e2_b). destruct (U_rows X a b c e S) as [z0 [z1 [Z0 [Z1 [E1 [E3 [E4 E5]]]]]]].
  assert (Q1 : 0 < U X 0%nat 0%nat) by (rewrite E1; repeat first [apply Rdiv_lt_0_compat|apply Rmult_lt_0_compat]; lra).
  assert (Q2 : 0 < U X 1%nat 1%nat) by (rewrite E5; repeat first [apply Rdiv_lt_0_compat|apply Rmult_lt_0_compat]; lra).
  assert (T1 : U X 0%nat 1%nat / U X 0%nat 0%nat = G1 a b c e) by (rewrite E1, E3; unfold G1; field; repeat split; lra).
  assert (T2 : U X 1%nat 0%nat / U X 1%nat 1%nat = G2 a b c e) by (rewrite E4, E5; unfold G2; field; repeat split; lra).
  destruct (normalise_pos (U X 0%nat 0%nat) (U X 0%nat 1%nat) Q1) as [N1 N2].
  destruct (normalise_pos2 (U X 1%nat 0%nat) (U X 1%nat 1%nat) Q2) as [N3 N4].
  rewrite T1 in N1, N2. rewrite T2 in N3, N4.
  unfold st. rewrite !F_low by lia. rewrite N1, N2, N3, N4. auto.
Qed.

Lemma fixed_2 : fixed 2 d F eye.
Proof.
  assert (E := e2_b). assert (S0 : st eye 1 0 0 1) by (unfold st, eye; simpl; auto).
  assert (HG : good 1 0 0 1) by (unfold good, p1, p2; rewrite rho1_I, rho2_I; lra).
  assert (S := step _ _ _ _ _ S0 HG).
  assert (Z1 : G1 1 0 0 1 = 0). { unfold G1, n1. rewrite rho1_I. unfold Rdiv.
  replace (0 + e2 * 1 - e2 * (1 + e2 * 0)) with 0 by ring. ring. }
  assert (Z2 : G2 1 0 0 1 = 0). { unfold G2, n2. rewrite rho2_I. unfold Rdiv.
  replace (0 + 1 * 1 - (1 + 1 * 0)) with 0 by ring. ring. }
  rewrite Z1, Z2, cc0, Rmult_0_l in S. destruct S as [S1 [S2 [S3 S4]]].
  intros i a Hi Ha. destruct (Nat.lt_ge_cases a 2) as [La|La].
  - destruct i as [|[|i]]; [| |lia]; (destruct a as [|[|a]]; [| |lia]); assumption.
  - rewrite F_high by assumption. rewrite eye_diff by lia. reflexivity.
Qed.

Definition near (X : mat) := within 2 2 (1/10000) (fun i a => X i a - eye i a).

Lemma first X : near X -> exists a b c e, st X a b c e /\ good a b c e /\
  Rabs (G1 a b c e) <= 1/1000 /\ Rabs (G2 a b c e) <= 8/1000.
Proof.
  intros H. exists (X 0%nat 0%nat), (X 0%nat 1%nat), (X 1%nat 0%nat), (X 1%nat 1%nat). split; [unfold st; auto|].
  apply first_box; [exact (H 0%nat 0%nat ltac:(lia) ltac:(lia))|exact (H 0%nat 1%nat ltac:(lia) ltac:(lia))|
    exact (H 1%nat 0%nat ltac:(lia) ltac:(lia))|exact (H 1%nat 1%nat ltac:(lia) ltac:(lia))].
Qed.

Lemma orbit_t X : near X -> forall k, exists t1 t2,
  st (Nat.iter (Datatypes.S k) F X) (cc t1) (t1 * cc t1) (t2 * cc t2) (cc t2) /\
  Rabs t1 <= 1/1000 * (4/5) ^ k /\ Rabs t2 <= 8 * (1/1000 * (4/5) ^ k).
Proof.
  intros H. induction k as [|k [t1 [t2 [S [H1 H2]]]]].
  - destruct (first X H) as [a [b [c [e [S [Gd [B1 B2]]]]]]].
    exists (G1 a b c e), (G2 a b c e). simpl pow. split; [|split; lra]. now apply step.
  - assert (P : 0 <= (4/5) ^ k <= 1) by (split; [apply pow_le; lra|rewrite <- (pow1 k); apply pow_incr; lra]).
    exists (g1 t1 t2), (g2 t1 t2).
    destruct (contract t1 t2 (1/1000 * (4/5) ^ k)) as [C1 C2]; [lra|exact H1|exact H2|].
    split; [|split; simpl pow; lra].
    apply (step (Nat.iter (Datatypes.S k) F X)); [exact S|]. apply good_t; lra.
Qed.

End Two.

Theorem wu_conjecture_refuted d : (2 <= d)%nat -> exists M W : mat,
  let F := sphere_map 2 d M W nomask in
  fixed 2 d F eye /\
  forall X, within 2 2 (1/10000) (fun i a => X i a - eye i a) ->
    (forall k, let Y := Nat.iter (S k) F X in
       Y 0%nat 0%nat * Y 1%nat 1%nat - Y 0%nat 1%nat * Y 1%nat 0%nat > 1/2 /\
       within 2 d (8/1000 * (4/5) ^ k) (fun i a => Y i a - eye i a)) /\
    (forall i a, (i < 2)%nat -> (a < d)%nat -> is_lim_seq (fun k => Nat.iter k F X i a) (eye i a)).
Proof.
  intros Hd. exists M2, W2. intro F. split; [now apply fixed_2|]. intros X H.
  assert (P : forall k, 0 <= (4/5) ^ k <= 1)
    by (intro; split; [apply pow_le; lra|rewrite <- (pow1 k); apply pow_incr; lra]).
  assert (R : forall k i a, (i < 2)%nat -> (a < d)%nat -> Rabs (Nat.iter (S k) F X i a - eye i a) <= 8/1000 * (4/5) ^
    k).
  { intros k i a Hi Ha. destruct (orbit_t d Hd X H k) as [t1 [t2 [[Sa [Sb [Sc Sd]]] [H1 H2]]]]. specialize (P k).
    destruct (cc_near t1) as [N1 N2]; [lra|]. destruct (cc_near t2) as [N3 N4]; [lra|]. fold F in Sa, Sb, Sc, Sd.
    destruct (Nat.lt_ge_cases a 2) as [La|La].
    - destruct i as [|[|i]]; [| |lia]; (destruct a as [|[|a]]; [| |lia]); unfold eye; cbn [Nat.eqb];
        rewrite ?Sa, ?Sb, ?Sc, ?Sd, ?Rminus_0_r; lra.
    - simpl Nat.iter. unfold F at 1. rewrite F_high by assumption. rewrite eye_diff by lia.
      rewrite Rminus_0_r, Rabs_R0. lra. }
  split.
  - intros k Y. split; [|intros i a Hi Ha; now apply R].
    destruct (orbit_t d Hd X H k) as [t1 [t2 [[Sa [Sb [Sc Sd]]] [H1 H2]]]]. specialize (P k).
    unfold Y, F. rewrite Sa, Sb, Sc, Sd.
    assert (H1' : Rabs t1 <= 1/1000) by lra. assert (H2' : Rabs t2 <= 8/1000) by lra.
    box H1'. box H2'. unfold cc. interval with (i_prec 40).
  - intros i a Hi Ha. apply is_lim_seq_incr_1.
    assert (L : forall s, is_lim_seq (fun k => eye i a + s * (8/1000 * (4/5) ^ k)) (eye i a)).
    { intro s. evar_last. { apply is_lim_seq_plus'; [apply is_lim_seq_const|]. apply (is_lim_seq_scal_l _ s 0).
        evar_last. { apply (is_lim_seq_scal_l _ (8/1000) 0). apply is_lim_seq_geom. rewrite Rabs_right; lra. } simpl.
        f_equal. ring. }
      simpl. f_equal. ring. }
    apply is_lim_seq_le_le with (u := fun k => eye i a + -1 * (8/1000 * (4/5) ^ k)) (w := fun k => eye i a + 1 *
      (8/1000 * (4/5) ^ k)); [|apply L|apply L].
    intro k. specialize (R k i a Hi Ha). box R. lra.
Qed.
