(** wu2024:4.3.1.  Two causal tokens in the plane, W_QK = 0, W_V = [[1,w],[0,1]], w > 1, LayerNorm on the sphere.

    Token 1 rests exactly at +-(0,1).  With X_1 = (0,1), token 2 rests exactly at (0,1), (-1/w, s), (-1/w, -s),
    s = sqrt(1 - 1/w^2), and the derivative multiplies the tangent direction of token 2 by 1/2, 1+s, 1-s in turn. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms Softmax Jets SphereLayer wu2024_3.
Local Open Scope R_scope.

Section Two.
Variable w : R.
Hypothesis w1 : 1 < w.
Notation W := (shift_values w).
Notation F := (sphere_map 2 2 no_logits W causal).
Notation U := (Ux 2 2 no_logits W causal).

Lemma U_two X : U X 0%nat 0%nat = X 0%nat 0%nat /\ U X 0%nat 1%nat = w * X 0%nat 0%nat + X 0%nat 1%nat /\
  U X 1%nat 0%nat = X 0%nat 0%nat + X 1%nat 0%nat /\
  U X 1%nat 1%nat = w * (X 0%nat 0%nat + X 1%nat 0%nat) + (X 0%nat 1%nat + X 1%nat 1%nat).
Proof.
  assert (B : forall u v, bil 2 u no_logits v = 0) by (intros; unfold bil, no_logits; cbn [sum]; ring).
  unfold Ux, Ex, vmat, causal, Language.shift_values, eye. cbn [sum Nat.leb Nat.eqb]. rewrite !B, exp_0.
  repeat split; ring.
Qed.

Lemma F_two X i b : (i < 2)%nat -> F X i b = U X i b / sqrt (U X i 0%nat * U X i 0%nat + U X i 1%nat * U X i 1%nat).
Proof.
  intros Hi. rewrite sphere_form by (try apply causal_proper; lia). unfold l2, dot. cbn [sum]. now rewrite Rplus_0_l.
Qed.

Lemma unit_two (x : vec) : l2 2 x = 1 -> x 0%nat * x 0%nat + x 1%nat * x 1%nat = 1.
Proof. intros H. assert (S : l2 2 x * l2 2 x = dot 2 x x) by (unfold l2; apply sqrt_sqrt, dot_pos). rewrite H in S.
unfold dot in S. cbn [sum] in S. lra. Qed.

(** u/|u| = x for a unit x: u = |u| x, |u| > 0. *)
Lemma direction u0 u1 x0 x1 : x0 * x0 + x1 * x1 = 1 -> x0 = u0 / sqrt (u0 * u0 + u1 * u1) ->
  x1 = u1 / sqrt (u0 * u0 + u1 * u1) ->
  exists L, 0 < L /\ u0 = L * x0 /\ u1 = L * x1.
Proof.
  intros H E0 E1. set (L := sqrt (u0 * u0 + u1 * u1)) in *. assert (P := sqrt_pos (u0 * u0 + u1 * u1)). fold L in P.
  assert (N : 0 < L).
  { destruct P as [P|P]; [exact P|]. exfalso. assert (Q : u0 * u0 + u1 * u1 = 0) by (apply sqrt_eq_0; [nra|]; fold L;
      lra).
    assert (u0 = 0) by nra. assert (u1 = 0) by nra. subst u0 u1. unfold Rdiv in *. rewrite Rmult_0_l in *. nra. }
  exists L. split; [exact N|]. rewrite E0, E1. split; field; lra.
Qed.
Lemma undirection u0 u1 x0 x1 L : x0 * x0 + x1 * x1 = 1 -> 0 < L -> u0 = L * x0 -> u1 = L * x1 ->
  sqrt (u0 * u0 + u1 * u1) = L /\ u0 / sqrt (u0 * u0 + u1 * u1) = x0 /\ u1 / sqrt (u0 * u0 + u1 * u1) = x1.
Proof.
  intros H PL -> ->. assert (E : sqrt (L * x0 * (L * x0) + L * x1 * (L * x1)) = L).
  { replace (L * x0 * (L * x0) + L * x1 * (L * x1)) with (L * L * (x0 * x0 + x1 * x1)) by ring. rewrite H, Rmult_1_r.
    apply sqrt_square. lra. }
  rewrite E. repeat split; field; lra.
Qed.

Lemma first_token X : l2 2 (X 0%nat) = 1 ->
  ((forall a, (a < 2)%nat -> F X 0%nat a = X 0%nat a) <-> X 0%nat 0%nat = 0 /\ (X 0%nat 1%nat = 1 \/ X 0%nat 1%nat =
    -1)).
Proof.
  intros H. apply unit_two in H. destruct (U_two X) as [E0 [E1 _]]. split.
  - intros Fx. assert (A0 := Fx 0%nat ltac:(lia)). assert (A1 := Fx 1%nat ltac:(lia)). rewrite F_two in A0, A1 by lia.
    symmetry in A0, A1.
    destruct (direction _ _ _ _ H A0 A1) as [L [P [Q0 Q1]]]. rewrite E0 in Q0. rewrite E1 in Q1.
    assert (Z : X 0%nat 0%nat = 0).
    { destruct (Req_dec (X 0%nat 0%nat) 0) as [|N]; [assumption|].
      assert (L = 1) by (apply (Rmult_eq_reg_r (X 0%nat 0%nat)); lra). subst L. nra. }
    split; [exact Z|]. rewrite Z in H. assert (Q : (X 0%nat 1%nat - 1) * (X 0%nat 1%nat + 1) = 0) by lra.
    apply Rmult_integral in Q. destruct Q; [left|right]; lra.
  - intros [Z _] a Ha. rewrite F_two by lia. destruct (undirection (U X 0%nat 0%nat) (U X 0%nat 1%nat) _ _ 1 H) as [_
      [B0 B1]]; try (rewrite ?E0, ?E1, Z; lra); try lra.
    destruct a as [|[|a]]; [exact B0|exact B1|lia].
Qed.

Definition s : R := sqrt (1 - / w ^ 2).
Lemma s_sq : s * s = 1 - / w ^ 2 /\ 0 <= s.
Proof.
  split; [|apply sqrt_pos]. apply sqrt_sqrt. assert (/ w ^ 2 < 1); [|lra]. rewrite <- Rinv_1.
  apply Rinv_lt_contravar; nra.
Qed.

(** The three places of token 2, each with the length of its mean and its multiplier. *)
Definition rest (x0 x1 L l : R) : Prop :=
  (x0 = 0 /\ x1 = 1 /\ L = 2 /\ l = 1/2) \/ (x0 = - / w /\ x1 = s /\ L = 1 /\ l = 1 + s) \/ (x0 = - / w /\ x1 = - s /\
    L = 1 /\ l = 1 - s).

Lemma rest_facts x0 x1 L l : rest x0 x1 L l -> x0 * x0 + x1 * x1 = 1 /\ 0 < L /\ x0 = L * x0 /\ w * x0 + (1 + x1) = L *
  x1.
Proof.
  destruct s_sq as [S _]. assert (I : w * / w = 1) by (apply Rinv_r; lra).
  assert (W2 : / w ^ 2 = / w * / w) by (field; lra).
  intros [[-> [-> [-> _]]]|[[-> [-> [-> _]]]|[-> [-> [-> _]]]]]; repeat split; nra.
Qed.

Lemma second_token X : X 0%nat 0%nat = 0 -> X 0%nat 1%nat = 1 -> l2 2 (X 1%nat) = 1 ->
  ((forall a, (a < 2)%nat -> F X 1%nat a = X 1%nat a) <-> exists L l, rest (X 1%nat 0%nat) (X 1%nat 1%nat) L l).
Proof.
  intros Z0 Z1 H. apply unit_two in H. destruct (U_two X) as [_ [_ [E0 E1]]]. rewrite Z0, Z1 in *.
  rewrite !Rplus_0_l in *. split.
  - intros Fx. assert (A0 := Fx 0%nat ltac:(lia)). assert (A1 := Fx 1%nat ltac:(lia)). rewrite F_two in A0, A1 by lia.
    symmetry in A0, A1.
    destruct (direction _ _ _ _ H A0 A1) as [L [P [Q0 Q1]]]. rewrite E0 in Q0. rewrite E1 in Q1.
    set (x0 := X 1%nat 0%nat) in *. set (x1 := X 1%nat 1%nat) in *. unfold rest. destruct (Req_dec x0 0) as [N|N].
    + assert (Q : (x1 - 1) * (x1 + 1) = 0) by (rewrite N in H; lra). apply Rmult_integral in Q. destruct Q as [Q|Q].
      * exists 2, (1/2). left. repeat split; lra.
      * exfalso. assert (x1 = -1) by lra. rewrite N, H0 in Q1. lra.
    + assert (L = 1) by (apply (Rmult_eq_reg_r x0); lra). subst L. assert (V : x0 = - / w).
      { apply (Rmult_eq_reg_l w); [|lra]. rewrite <- Ropp_mult_distr_r, Rinv_r by lra. lra. }
      destruct s_sq as [S _]. assert (Q : (x1 - s) * (x1 + s) = 0).
      { replace ((x1 - s) * (x1 + s)) with (x1 * x1 - s * s) by ring. rewrite S. rewrite V in H.
        replace (- / w * - / w) with (/ w ^ 2) in H by (field; lra). lra. }
      apply Rmult_integral in Q. destruct Q; [exists 1, (1 + s)|exists 1, (1 - s)]; right; [left|right]; repeat split;
        lra.
  - intros [L [l R]] a Ha. destruct (rest_facts _ _ _ _ R) as [_ [P [Q0 Q1]]]. rewrite F_two by lia.
    destruct (undirection (U X 1%nat 0%nat) (U X 1%nat 1%nat) _ _ L H P) as [_ [B0 B1]]; try (rewrite ?E0, ?E1; lra).
    destruct a as [|[|a]]; [exact B0|exact B1|lia].
Qed.

(** At such an equilibrium the derivative multiplies token 2's tangent direction (-x1, x0) by l. *)
Lemma multiplier X L l : X 0%nat 0%nat = 0 -> X 0%nat 1%nat = 1 -> rest (X 1%nat 0%nat) (X 1%nat 1%nat) L l ->
  exists J, derivative 2 2 F X J /\
  J 1%nat 0%nat 1%nat 0%nat * - X 1%nat 1%nat + J 1%nat 0%nat 1%nat 1%nat * X 1%nat 0%nat = l * - X 1%nat 1%nat /\
  J 1%nat 1%nat 1%nat 0%nat * - X 1%nat 1%nat + J 1%nat 1%nat 1%nat 1%nat * X 1%nat 0%nat = l * X 1%nat 0%nat.
Proof.
  intros Z0 Z1 R. destruct (rest_facts _ _ _ _ R) as [H [P [Q0 Q1]]]. destruct (U_two X) as [A0 [A1 [E0 E1]]].
  rewrite Z0, Z1 in *. rewrite !Rplus_0_l in *.
  set (x0 := X 1%nat 0%nat) in *. set (x1 := X 1%nat 1%nat) in *.
  destruct (undirection (U X 1%nat 0%nat) (U X 1%nat 1%nat) x0 x1 L H P ltac:(rewrite E0; lra) ltac:(rewrite E1;
    lra)) as [EL [B0 B1]].
  assert (LL : l2 2 (U X 1%nat) = L) by (rewrite <- EL; unfold l2, dot; cbn [sum]; now rewrite Rplus_0_l).
  exists (dF 2 2 no_logits W causal X). split.
  - apply layer_derivative; [lia|apply causal_proper|]. intros i Hi.
    destruct i as [|[|i]]; try lia; [|rewrite LL; exact P].
    unfold l2, dot. cbn [sum]. rewrite A0, A1. apply sqrt_lt_R0. lra.
  - assert (D : forall b q, (q < 2)%nat -> dU 2 2 no_logits W causal X 1%nat b 1%nat q = W q b).
    { intros b q Hq. unfold dU, dlogit, Ex, causal, no_logits. cbn [sum Nat.leb].
      rewrite (eye_diff 1 0), (eye_same 1) by lia.
      replace (bil 2 (X 1%nat) (fun _ _ => 0) (X 1%nat)) with 0 by (unfold bil; cbn [sum]; ring). rewrite exp_0. ring. }
    unfold dF. rewrite LL. cbn [sum]. rewrite !D by lia. rewrite !F_two by lia. rewrite B0, B1.
    unfold shift_values, eye. cbn [Nat.eqb].
    assert (I : w * / w = 1) by (apply Rinv_r; lra).
    destruct R as [[-> [-> [-> ->]]]|[[E [-> [-> ->]]]|[E [-> [-> ->]]]]]; [split; field| |].
    + assert (V : w * x0 = -1) by (rewrite E; lra). split.
      * replace (((1 + w * 0 - x0 * (0 + x0 * (1 + w * 0) + s * (0 + w * 1))) / 1 * - s + (0 + w * 0 - x0 * (0 + x0 *
          (0 + w * 0) + s * (1 + w * 0))) / 1 * x0))
          with (- s * (1 - (w * x0) * s)  + 0 * (1 - (x0 * x0 + s * s))) by (field). rewrite V. ring.
      * replace (((0 + w * 1 - s * (0 + x0 * (1 + w * 0) + s * (0 + w * 1))) / 1 * - s + (1 + w * 0 - s * (0 + x0 * (0
          + w * 0) + s * (1 + w * 0))) / 1 * x0))
          with (x0 * (1 - (x0 * x0 + s * s)) + x0 * (x0 * x0 + s * s) - (w * s) * (1 - (x0 * x0 + s * s)) - (w * x0) *
            x0 * s) by field. rewrite V, H. ring.
    + assert (V : w * x0 = -1) by (rewrite E; lra). split.
      * replace (((1 + w * 0 - x0 * (0 + x0 * (1 + w * 0) + - s * (0 + w * 1))) / 1 * - - s + (0 + w * 0 - x0 * (0 + x0
          * (0 + w * 0) + - s * (1 + w * 0))) / 1 * x0))
          with (s * (1 + (w * x0) * s)) by field. rewrite V. ring.
      * replace (((0 + w * 1 - - s * (0 + x0 * (1 + w * 0) + - s * (0 + w * 1))) / 1 * - - s + (1 + w * 0 - - s * (0 +
          x0 * (0 + w * 0) + - s * (1 + w * 0))) / 1 * x0))
          with (x0 * (1 - (x0 * x0 + - s * - s)) + x0 * (x0 * x0 + - s * - s) + (w * s) * (1 - (x0 * x0 + - s * - s)) +
            (w * x0) * x0 * s) by field. rewrite V, H. ring.
Qed.
End Two.

Theorem wu_4_3_1 w : 1 < w -> let F := sphere_map 2 2 no_logits (shift_values w) causal in
  (forall X, l2 2 (X 0%nat) = 1 ->
     ((forall a, (a < 2)%nat -> F X 0%nat a = X 0%nat a) <-> X 0%nat 0%nat = 0 /\ (X 0%nat 1%nat = 1 \/ X 0%nat 1%nat =
       -1))) /\
  (forall X, X 0%nat 0%nat = 0 -> X 0%nat 1%nat = 1 -> l2 2 (X 1%nat) = 1 ->
     ((forall a, (a < 2)%nat -> F X 1%nat a = X 1%nat a) <-> exists L l, rest w (X 1%nat 0%nat) (X 1%nat 1%nat) L l)) /\
  (forall X L l, X 0%nat 0%nat = 0 -> X 0%nat 1%nat = 1 -> rest w (X 1%nat 0%nat) (X 1%nat 1%nat) L l ->
     exists J, derivative 2 2 F X J /\
     J 1%nat 0%nat 1%nat 0%nat * - X 1%nat 1%nat + J 1%nat 0%nat 1%nat 1%nat * X 1%nat 0%nat = l * - X 1%nat 1%nat /\
     J 1%nat 1%nat 1%nat 0%nat * - X 1%nat 1%nat + J 1%nat 1%nat 1%nat 1%nat * X 1%nat 0%nat = l * X 1%nat 0%nat).
Proof.
  intros w1 F. split; [|split].
  - intros; now apply first_token.
  - intros; now apply second_token.
  - intros X L l Z0 Z1 R. now apply (multiplier w w1 X L l).
Qed.
