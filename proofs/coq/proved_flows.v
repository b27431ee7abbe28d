(** Registered statements about causal flows on the sphere, as Statements.v prints them. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require karagodin2024 karagodin2024_symmetric.
From Rankmath Require Import Definitions Norms Language LanguageFacts Statements.
Local Open Scope R_scope.

(** In the plane: eigenvectors xi, of length 1, to 2 and eta to 1 make 2 the largest eigenvalue. *)
Section Planar.
Variables (V : mat) (xi eta : vec).
Hypothesis X2 : forall a, (a < 2)%nat -> times 2 V xi a = 2 * xi a.
Hypothesis E1 : forall a, (a < 2)%nat -> times 2 V eta a = 1 * eta a.
Hypothesis X1 : dot 2 xi xi = 1.
Hypothesis E0 : 0 < dot 2 eta eta.

Lemma planar_cross : xi 0%nat * eta 1%nat - xi 1%nat * eta 0%nat <> 0.
Proof.
  intro D. assert (A0 := X2 0%nat ltac:(lia)). assert (A1 := X2 1%nat ltac:(lia)). assert (B0 := E1 0%nat ltac:(lia)).
    assert (B1 := E1 1%nat ltac:(lia)).
  assert (U := X1). assert (P := E0). unfold dot in U, P. unfold times in *. cbn [sum] in *.
  set (k := eta 0%nat * xi 0%nat + eta 1%nat * xi 1%nat).
  assert (Q1 : xi 0%nat * eta 1%nat = xi 1%nat * eta 0%nat) by lra. assert (U1 : xi 0%nat * xi 0%nat + xi 1%nat * xi
    1%nat = 1) by lra.
  assert (K0 : eta 0%nat = k * xi 0%nat).
  { transitivity (eta 0%nat * (xi 0%nat * xi 0%nat) + xi 0%nat * eta 1%nat * xi 1%nat); [rewrite Q1|unfold k; ring].
    transitivity (eta 0%nat * (xi 0%nat * xi 0%nat + xi 1%nat * xi 1%nat)); [rewrite U1|]; ring. }
  assert (K1 : eta 1%nat = k * xi 1%nat).
  { transitivity (xi 1%nat * eta 0%nat * xi 0%nat + eta 1%nat * (xi 1%nat * xi 1%nat)); [rewrite <- Q1|unfold k;
    ring].
    transitivity (eta 1%nat * (xi 0%nat * xi 0%nat + xi 1%nat * xi 1%nat)); [rewrite U1|]; ring. }
  clearbody k.
  assert (T : forall x y, x * eta 0%nat + y * eta 1%nat = k * (x * xi 0%nat + y * xi 1%nat)) by (intros x y;
    rewrite K0; rewrite K1; ring).
  assert (Z0 : k * xi 0%nat = 0).
  { assert (Q := T (V 0%nat 0%nat) (V 0%nat 1%nat)). replace (V 0%nat 0%nat * xi 0%nat + V 0%nat 1%nat * xi 1%nat)
    with (2 * xi 0%nat) in Q by lra. lra. }
  assert (Z1 : k * xi 1%nat = 0).
  { assert (Q := T (V 1%nat 0%nat) (V 1%nat 1%nat)). replace (V 1%nat 0%nat * xi 0%nat + V 1%nat 1%nat * xi 1%nat)
    with (2 * xi 1%nat) in Q by lra. lra. }
  assert (eta 0%nat = 0) by lra. assert (eta 1%nat = 0) by lra. nra.
Qed.

Lemma planar_top : @top_direction 2 V xi.
Proof.
  split; [unfold l2; rewrite X1; apply sqrt_1|]. exists 2. split; [exact X2|]. intros m v V0 Hm.
    destruct (Rle_or_lt m 2) as [|Big]; [assumption|exfalso].
  assert (D := planar_cross). set (D' := xi 0%nat * eta 1%nat - xi 1%nat * eta 0%nat) in *.
  set (al := v 0%nat * eta 1%nat - v 1%nat * eta 0%nat). set (be := xi 0%nat * v 1%nat - xi 1%nat * v 0%nat).
  assert (A0 := X2 0%nat ltac:(lia)). assert (A1 := X2 1%nat ltac:(lia)). assert (B0 := E1 0%nat ltac:(lia)).
    assert (B1 := E1 1%nat ltac:(lia)).
  assert (M0 := Hm 0%nat ltac:(lia)). assert (M1 := Hm 1%nat ltac:(lia)). unfold times in *. cbn [sum] in *.
  assert (R0 : D' * v 0%nat = al * xi 0%nat + be * eta 0%nat) by (unfold D', al, be; ring).
  assert (R1 : D' * v 1%nat = al * xi 1%nat + be * eta 1%nat) by (unfold D', al, be; ring).
  assert (S0 : D' * (m * v 0%nat) = 2 * al * xi 0%nat + be * eta 0%nat).
  { rewrite <- M0. replace (D' * (0 + V 0%nat 0%nat * v 0%nat + V 0%nat 1%nat * v 1%nat)) with (V 0%nat 0%nat * (D' *
    v 0%nat) + V 0%nat 1%nat * (D' * v 1%nat)) by ring.
    rewrite R0, R1. transitivity (al * (0 + V 0%nat 0%nat * xi 0%nat + V 0%nat 1%nat * xi 1%nat) + be * (0 + V 0%nat
      0%nat * eta 0%nat + V 0%nat 1%nat * eta 1%nat)); [ring|]. rewrite A0, B0. ring. }
  assert (S1 : D' * (m * v 1%nat) = 2 * al * xi 1%nat + be * eta 1%nat).
  { rewrite <- M1. replace (D' * (0 + V 1%nat 0%nat * v 0%nat + V 1%nat 1%nat * v 1%nat)) with (V 1%nat 0%nat * (D' *
    v 0%nat) + V 1%nat 1%nat * (D' * v 1%nat)) by ring.
    rewrite R0, R1. transitivity (al * (0 + V 1%nat 0%nat * xi 0%nat + V 1%nat 1%nat * xi 1%nat) + be * (0 + V 1%nat
      0%nat * eta 0%nat + V 1%nat 1%nat * eta 1%nat)); [ring|]. rewrite A1, B1. ring. }
  assert (T0 : (2 - m) * al * xi 0%nat + (1 - m) * be * eta 0%nat = 0) by (replace (D' * (m * v 0%nat)) with (m * (D'
    * v 0%nat)) in S0 by ring; rewrite R0 in S0; lra).
  assert (T1 : (2 - m) * al * xi 1%nat + (1 - m) * be * eta 1%nat = 0) by (replace (D' * (m * v 1%nat)) with (m * (D'
    * v 1%nat)) in S1 by ring; rewrite R1 in S1; lra).
  assert (U0 : (2 - m) * al * D' = 0) by (transitivity (((2 - m) * al * xi 0%nat + (1 - m) * be * eta 0%nat) * eta
    1%nat - ((2 - m) * al * xi 1%nat + (1 - m) * be * eta 1%nat) * eta 0%nat); [unfold D'; ring|rewrite T0, T1;
    ring]).
  assert (U1 : (1 - m) * be * D' = 0) by (transitivity (((2 - m) * al * xi 1%nat + (1 - m) * be * eta 1%nat) * xi
    0%nat - ((2 - m) * al * xi 0%nat + (1 - m) * be * eta 0%nat) * xi 1%nat); [unfold D'; ring|rewrite T0, T1; ring]).
  assert (al = 0) by (apply Rmult_integral in U0; destruct U0 as [U0|U0]; [apply Rmult_integral in U0; destruct U0;
    lra|contradiction]).
  assert (be = 0) by (apply Rmult_integral in U1; destruct U1 as [U1|U1]; [apply Rmult_integral in U1; destruct U1;
    lra|contradiction]).
  assert (v 0%nat = 0) by (rewrite H, H0 in R0; apply Rmult_eq_reg_l with D'; lra).
    assert (v 1%nat = 0) by (rewrite H, H0 in R1; apply Rmult_eq_reg_l with D'; lra).
  unfold l2, dot in V0. cbn [sum] in V0. rewrite H1, H2 in V0. replace (0 + 0 * 0 + 0 * 0) with 0 in V0 by ring.
    rewrite sqrt_0 in V0. lra.
Qed.

Lemma planar_values {n e} (Q K : matrix e 2) beta (X : matrix n 2) : distinct_positive (V : matrix 2 2) Q K beta X.
Proof.
  exists (fun k => match k with O => 2 | _ => 1 end), (fun k => match k with O => xi | _ => eta end). split;
    [intros [|j] _; lra|].
  split; [intros [|[|i]] [|[|j]] Hi Hj E; try lia; lra|]. intros [|k] Hk; (split; [|assumption]); unfold l2;
    apply sqrt_lt_R0; [rewrite X1; lra|exact E0].
Qed.
End Planar.

(** A token that keeps away from xi and -xi tends to neither. *)
Lemma kept_away (V Q K : mat) beta (xi : vec) (Z : mat) eta : 0 < eta -> @top_direction 2 V xi ->
  (forall X, flows 2 2 1 V Q K beta causal X -> (forall i a, (i < 2)%nat -> (a < 2)%nat -> Rabs (X 0 i a - Z i a) <
    eta) ->
    forall t, 0 <= t -> 1/10 < sum 2 (fun a => (X t 1%nat a - xi a) ^ 2) /\ 1/10 < sum 2 (fun a => (X t 1%nat a + xi
      a) ^ 2)) ->
  ~ @two_clusters 2 2 1 V Q K beta Z.
Proof.
  intros He Top Away H. destruct (H xi Top (eta / 2) ltac:(lra)) as (Y & F & Near & Lim).
  assert (A := Away Y F ltac:(intros i a Hi Ha; specialize (Near i a Hi Ha); simpl in Near; lra)).
  destruct (Lim 1%nat ltac:(lia)) as (s & Hs & L).
  assert (G : forall a, (a < 2)%nat -> exists T, forall t, T < t -> Rabs (Y t 1%nat a - s * xi a) < 1/10).
  { intros a Ha. specialize (L a Ha). apply is_lim_spec in L. destruct (L (mkposreal (1/10) ltac:(lra))) as [T HT].
    now exists T. }
  destruct (G 0%nat ltac:(lia)) as [T0 H0]. destruct (G 1%nat ltac:(lia)) as [T1 H1].
  set (t := Rmax 0 (Rmax T0 T1) + 1). assert (B0 := Rmax_l 0 (Rmax T0 T1)). assert (B1 := Rmax_r 0 (Rmax T0 T1)).
    assert (B2 := Rmax_l T0 T1). assert (B3 := Rmax_r T0 T1).
  specialize (H0 t ltac:(unfold t; lra)). specialize (H1 t ltac:(unfold t; lra)). destruct (A t ltac:(unfold t;
    lra)) as [A1 A2]. cbn [sum] in A1, A2.
  apply Rabs_def2 in H0, H1. destruct Hs as [-> | ->]; nra.
Qed.

Theorem refuted_karagodin2024_two_clusters : ~ statement_karagodin2024_two_clusters.
Proof.
  intro H. destruct karagodin2024.two_clusters_refuted as (V & Q & K & beta & xi & eta & Z & X2 & E1 & X1 & E0 & B0 &
    U & Away).
  apply (kept_away V Q K beta xi Z (1/300) ltac:(lra) (planar_top V xi eta X2 E1 X1 E0) Away).
  apply (H 2%nat 2%nat 1%nat V Q K beta Z); try lia; try assumption.
  - intros i Hi. unfold l2. rewrite U by exact Hi. apply sqrt_1.
  - now apply (planar_values V xi eta).
Qed.

Theorem refuted_karagodin2024_two_clusters_symmetric : ~ statement_karagodin2024_two_clusters_symmetric.
Proof.
  intro H. destruct karagodin2024_symmetric.symmetric_refuted as (V & Q & K & beta & xi & eta & Z & Sy & X2 & E1 & X1
    & E0 & B0 & U & Away).
  assert (E0' : 0 < dot 2 eta eta) by lra.
  apply (kept_away V Q K beta xi Z (1/30000) ltac:(lra) (planar_top V xi eta X2 E1 X1 E0') Away).
  apply (H 2%nat 2%nat 1%nat V Q K beta Z); try lia; try assumption.
  - intros i Hi. unfold l2. rewrite U by exact Hi. apply sqrt_1.
  - now apply (planar_values V xi eta).
Qed.
