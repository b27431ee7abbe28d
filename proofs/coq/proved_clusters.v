(** Registered statements about clusters of tokens on the sphere, as Statements.v prints them. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require geshkovski2024 own_cluster_speed own_frozen_sign.
From Rankmath Require Import Definitions Norms Functions Language LanguageFacts Statements.
Local Open Scope R_scope.

Lemma unit_of_unit d (x : vector d) : 0 < l2 d x -> dot d (unit_of x) (unit_of x) = 1.
Proof.
  intros H. unfold unit_of, dot. rewrite (sum_ext d _ (fun a => / l2 d x * / l2 d x * (x a * x a))) by (intros;
    unfold Rdiv; ring).
  rewrite sum_scal. fold (dot d x x). assert (E : dot d x x = l2 d x * l2 d x) by (symmetry; apply sqrt_sqrt,
    dot_pos). rewrite E. field. lra.
Qed.

(* ---------- a cluster, and others ---------- *)
Section Others.
Variables (n d : nat) (X : matrix n d) (beta : R) (m : nat).
Hypothesis nonzero : forall i, (i < n)%nat -> 0 < l2 d (X i).
Hypothesis m1 : (1 <= m)%nat.
Hypothesis mn : (m <= n)%nat.
Hypothesis b0 : 0 <= beta.

Lemma rows_unit i : (i < n)%nat -> dot d (unit_row X i) (unit_row X i) = 1.
Proof. intros Hi. apply unit_of_unit, nonzero, Hi. Qed.

Lemma far_apart i k : (i < m)%nat -> (m <= k < n)%nat -> outer_gap X m <= 1 - dot d (unit_row X i) (unit_row X k).
Proof.
  intros Hi Hk. eapply Rle_trans; [apply (least_lb m _ i Hi)|]. eapply Rle_trans; [apply (least_lb n _ k); lia|].
  cbv beta. replace (Nat.ltb k m) with false by (symmetry; apply Nat.ltb_ge; lia). apply Rle_refl.
Qed.

(** K/(1 + K) for K = (n - m) e^(-beta a) is at most n e^(-beta a). *)
Lemma others_le : let k := (INR n - INR m) * exp (- beta * outer_gap X m) in
  0 <= k /\ k <= INR n * exp (- beta * outer_gap X m) /\ k / (1 + k) <= k.
Proof.
  intro k. assert (E := exp_pos (- beta * outer_gap X m)). assert (M := le_INR m n mn). assert (M1 := pos_INR m).
  assert (k0 : 0 <= k) by (apply Rmult_le_pos; lra). split; [exact k0|]. split; [apply Rmult_le_compat_r; lra|].
  apply Rmult_le_reg_r with (1 + k); [lra|]. replace (k / (1 + k) * (1 + k)) with k by (field; lra). nra.
Qed.
End Others.

Theorem proved_own_escape : statement_own_escape.
Proof.
  intros n d X w beta m n0 d0 NX W k m1 mn Low H0 B0. apply Rge_le in H0. apply Rge_le in B0.
  assert (T := geshkovski2024.escape n m d (unit_row X) beta (outer_gap X m) ltac:(lia) mn (rows_unit n d X NX) B0
    (far_apart n d X m m1 mn) (unit_of w) (unit_of_unit d w W)). cbv zeta in T. fold (cap_height X w) in T.
  specialize (T H0). replace (sqrt (1 - cap_height X w ^ 2) * k / (1 + k)) with (sqrt (1 - cap_height X w ^ 2) * (k /
    (1 + k))) by
    (unfold Rdiv; ring). unfold k. replace (- beta * outer_gap X m) with (- (beta * outer_gap X m)) by ring. apply T.
  intros i Hi. destruct (Nat.eq_dec i 0) as [->|Ne]; [apply Rle_refl|]. eapply Rle_trans; [exact Low|].
  eapply Rle_trans; [apply (least_lb m _ i Hi)|]. cbv beta. apply Nat.eqb_neq in Ne. rewrite Ne. apply Rle_refl.
Qed.

Theorem proved_geshkovski2024_escape : statement_geshkovski2024_escape.
Proof.
  intros n d X w beta m n0 d0 NX W m1 mn Low H0 B0. assert (T := proved_own_escape n d X w beta m n0 d0 NX W m1 mn
    Low H0 B0).
  cbv zeta in T. destruct (others_le n d X beta m mn) as (k0 & kn & kk). set (k := (INR n - INR m) * exp (- beta *
    outer_gap X m)) in *.
  eapply Rle_trans; [exact T|]. assert (S : sqrt (1 - cap_height X w ^ 2) <= 1). { apply Rle_trans with (sqrt 1);
    [apply sqrt_le_1_alt; assert (Q := pow2_ge_0 (cap_height X w)); lra|rewrite sqrt_1; lra]. }
  assert (S0 := sqrt_pos (1 - cap_height X w ^ 2)). replace (sqrt (1 - cap_height X w ^ 2) * k / (1 + k)) with (sqrt
    (1 - cap_height X w ^ 2) * (k / (1 + k))) by (unfold Rdiv; ring).
  assert (q0 : 0 <= k / (1 + k)) by (apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra]). nra.
Qed.

Lemma cluster_speed (n d : nat) (X : matrix n d) (beta : R) (m : nat) : (0 < n)%nat -> (0 < d)%nat ->
  (forall i, (i < n)%nat -> 0 < l2 d (X i)) -> let g := pair_gap X in let rho := exp (- beta * g) in
  let k := (INR n - INR m) * exp (- beta * outer_gap X m) in (m >= 2)%nat -> (m <= n)%nat -> inner_gap X m <= g -> g
    <= 1 ->
  beta >= 0 -> pair_speed X beta >= 2 * g * (2 - g) * rho / (INR m - 1 + rho + k) -
    2 * k / (1 + k) * Rmin (sqrt (g * (2 - g))) (g * (1 + (2 - g) * beta)).
Proof.
  intros n0 d0 NX g rho k m2 mn Wide g1 B0. apply Rge_le in B0. apply Rle_ge.
  assert (m1 : (1 <= m)%nat) by lia. assert (H01 : (1 < n)%nat) by lia.
  assert (T := geshkovski2024.cluster n m d (unit_row X) beta (outer_gap X m) ltac:(lia) mn (rows_unit n d X NX) B0
    (far_apart n d X m m1 mn) m2).
  cbv zeta in T. set (q := dot d (unit_row X 0%nat) (unit_row X 1%nat)) in T. assert (G : 1 - q = g) by reflexivity.
  assert (P0 : 0 <= q) by lra. specialize (T P0). replace (- (beta * outer_gap X m)) with (- beta * outer_gap X m) in
    T by ring.
  replace (- (beta * (1 - q))) with (- beta * g) in T by (rewrite G; ring). rewrite G in T. fold k rho in T. eapply
    Rle_trans; [apply T|].
  - intros i j Hi Hj. change (dot d (unit_row X i) (unit_row X j)) with (row_cosine X i j).
    assert (S : forall i j, row_cosine X i j = row_cosine X j i) by (intros; apply dot_sym).
    assert (L : forall i j, (i < m)%nat -> (2 <= j < m)%nat -> 1 - row_cosine X i j <= g).
    { intros p r Hp Hq. eapply Rle_trans; [|exact Wide]. eapply Rle_trans; [|apply (largest_ub m _ p Hp)]. eapply
      Rle_trans; [|apply (largest_ub m _ r); lia].
      cbv beta. replace (Nat.ltb r 2) with false by (symmetry; apply Nat.ltb_ge; lia). apply Rle_refl. }
    assert (I1 : forall i, (i < n)%nat -> row_cosine X i i = 1) by (intros p Hp; apply rows_unit; assumption).
    assert (g0 : 0 <= g). { assert (Q := geshkovski2024.dot_unit_le d (unit_row X 0%nat) (unit_row X 1%nat)
      (rows_unit n d X NX 0%nat ltac:(lia)) (rows_unit n d X NX 1%nat H01)). unfold g, pair_gap, row_cosine. lra. }
    destruct (le_lt_dec 2 j) as [J|J]; [specialize (L i j Hi ltac:(lia)); lra|]. destruct (le_lt_dec 2 i) as [I|I];
      [rewrite S; specialize (L j i Hj ltac:(lia)); lra|].
    assert (C : (i = j \/ i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat) by lia. destruct C as [->|[[-> ->]|[-> ->]]];
      [rewrite I1 by lia; lra|apply Rle_refl|rewrite S; apply Rle_refl].
  - apply Rle_refl.
Qed.

Theorem proved_own_cluster : statement_own_cluster.
Proof.
  intros n d X beta m n0 d0 NX g rho k m2 mn Wide g1 B0. assert (T := cluster_speed n d X beta m n0 d0 NX m2 mn Wide
    g1 B0).
  cbv zeta in T. fold g in T. fold rho in T. fold k in T. lra.
Qed.

Theorem proved_geshkovski2024_cluster : statement_geshkovski2024_cluster.
Proof.
  intros n d X beta m n0 d0 NX g m2 mn Wide g1 B0. assert (T := cluster_speed n d X beta m n0 d0 NX m2 mn Wide
    g1 B0). cbv zeta in T. fold g in T.
  apply Rge_le in T. apply Rge_le in B0.
  destruct (others_le n d X beta m mn) as (k0 & kn & kk). set (k := (INR n - INR m) * exp (- beta * outer_gap X m))
    in *. set (rho := exp (- beta * g)).
  assert (g0 : 0 <= g). { assert (Q := geshkovski2024.dot_unit_le d (unit_row X 0%nat) (unit_row X 1%nat) (rows_unit
    n d X NX 0%nat ltac:(lia)) (rows_unit n d X NX 1%nat ltac:(lia))). unfold g, pair_gap, row_cosine. lra. }
  assert (r0 : 0 < rho) by apply exp_pos. assert (r1 : rho <= 1). { unfold rho. rewrite <- exp_0. apply exp_le. nra. }
  assert (a0 : 0 <= outer_gap X m).
  { apply least_glb; [lia|]. intros i Hi. apply least_glb; [lia|]. intros j Hj. destruct (Nat.ltb j m); [lra|].
    assert (Q := geshkovski2024.dot_unit_le d (unit_row X i) (unit_row X j) (rows_unit n d X NX i ltac:(lia))
      (rows_unit n d X NX j Hj)). unfold row_cosine. lra. }
  assert (e1 : exp (- beta * outer_gap X m) <= 1). { rewrite <- exp_0. apply exp_le. nra. } assert (e0 := exp_pos (-
    beta * outer_gap X m)).
  assert (M := le_INR m n mn). assert (M2 := le_INR 2 m m2). simpl INR in M2.
  assert (kle : k <= INR n - INR m) by (unfold k; nra).
  assert (Q1 : 2 * (1 - g) * g * rho / INR n <= 2 * g * (2 - g) * rho / (INR m - 1 + rho + k)).
  { unfold Rdiv. apply Rmult_le_compat; [repeat apply Rmult_le_pos; lra|apply Rlt_le, Rinv_0_lt_compat; lra| |apply
    Rinv_le_contravar; lra].
    apply Rmult_le_compat_r; [lra|nra]. }
  set (F := Rmin (sqrt (g * (2 - g))) (g * (1 + (2 - g) * beta))).
  assert (F1 : F <= 1). { eapply Rle_trans; [apply Rmin_l|]. apply Rle_trans with (sqrt 1); [apply sqrt_le_1_alt;
    nra|rewrite sqrt_1; lra]. }
  assert (F0 : 0 <= F). { apply Rmin_glb; [apply sqrt_pos|]. apply Rmult_le_pos; [lra|nra]. }
  assert (q0 : 0 <= k / (1 + k)) by (apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra]).
  assert (Q2 : 2 * k / (1 + k) * F <= 2 * INR n * exp (- beta * outer_gap X m)).
  { replace (2 * k / (1 + k) * F) with (2 * (k / (1 + k)) * F) by (unfold Rdiv; ring). nra. }
  fold rho in T. fold F in T. lra.
Qed.

(* ---------- how fast a cluster closes ---------- *)
Theorem proved_own_cluster_speed : statement_own_cluster_speed.
Proof.
  intros n d B X s n2 d0 NX delta w s0 Small. apply Rgt_lt in s0.
  assert (U := rows_unit n d X NX).
  assert (Cl : forall i j, (i < n)%nat -> (j < n)%nat -> 1 - dot d (unit_row X i) (unit_row X j) <= delta).
  { intros i j Hi Hj. eapply Rle_trans; [|apply (largest_ub n _ i Hi)]. eapply Rle_trans; [|apply (largest_ub n _ j
    Hj)]. apply Rle_refl. }
  assert (L : forall j i k, (j < n)%nat -> (i < n)%nat -> (k < n)%nat -> bil d (unit_row X j) B (unit_row X i) - bil
    d (unit_row X j) B (unit_row X k) <= w).
  { intros j i k Hj Hi Hk. assert (Q := bil_spectral d B (unit_row X j) (vsub (unit_row X i) (unit_row X k))).
    replace (bil d (unit_row X j) B (vsub (unit_row X i) (unit_row X k))) with (bil d (unit_row X j) B (unit_row X i)
      - bil d (unit_row X j) B (unit_row X k)) in Q.
    - assert (N : l2 d (unit_row X j) = 1) by (unfold l2; rewrite U by exact Hj; apply sqrt_1). rewrite N, Rmult_1_r
      in Q.
      assert (D : l2 d (vsub (unit_row X i) (unit_row X k)) <= sqrt (2 * delta)).
      { apply sqrt_le_1_alt. apply Rle_trans with (dot d (unit_row X i) (unit_row X i) - 2 * dot d (unit_row X i)
        (unit_row X k) + dot d (unit_row X k) (unit_row X k)).
        - right. unfold dot, vsub. rewrite <- !sum_scal, <- sum_minus, <- sum_plus. apply sum_ext. intros; ring.
        - rewrite !U by assumption. specialize (Cl i k Hi Hk). lra. }
      assert (S := spectral_nonneg d d B). assert (spectral B * l2 d (vsub (unit_row X i) (unit_row X k)) <= w) by
        (unfold w, form_size; now apply Rmult_le_compat_l).
      eapply Rle_trans; [apply Rle_abs|]. lra.
    - rewrite !bil_dot. unfold dot, vsub. rewrite <- sum_minus. apply sum_ext. intros; ring. }
  set (a := fun j => shares ((fun k => bil d (unit_row X j) B (unit_row X k)) : vector n)).
  assert (Sp : forall j, (j < n)%nat -> least_value s <= s j <= most_value s) by (intros j Hj; split; [now apply
    least_lb|now apply largest_ub]).
  assert (T := own_cluster_speed.cluster_speed n d (unit_row X) a s delta (exp w) (least_value s) (most_value s)
    ltac:(lia) U Cl
    (fun j Hj => shares_sum n _ ltac:(lia)) (fun j k Hj Hk => own_cluster_speed.near_uniform n _ w k Hk (fun i l Hi
      Hl => L j i l Hj Hi Hl)) Sp s0).
  assert (w0 : 0 <= w) by (apply Rmult_le_pos; [apply spectral_nonneg|apply sqrt_pos]).
  assert (e1 : 1 <= exp w) by (rewrite <- exp_0; now apply exp_le).
  assert (Pm : 0 < most_value s) by (destruct (Sp 0%nat ltac:(lia)); lra).
  assert (D1 : 0 <= 1 - 3 / 2 * delta).
  { assert (0 <= most_value s * (exp w - 1)) by (apply Rmult_le_pos; lra). assert (0 < least_value s * (1 - 3 * delta
    / 2)) by lra.
    destruct (Rle_or_lt 0 (1 - 3 / 2 * delta)) as [|Ng]; [assumption|]. assert (least_value s * (1 - 3 * delta / 2)
      <= 0) by nra. lra. }
  specialize (T D1). change (own_cluster_speed.var n d (unit_row X)) with (variance X) in T.
  replace (own_cluster_speed.fall n d (unit_row X) a s) with (variance_fall B X s) in T.
  - destruct T as [T1 T2]. split; [replace (2 * variance X * exp w / least_value s) with (2 * variance X * (exp w /
    least_value s)) by (unfold Rdiv; ring); exact T2|].
    apply Rle_ge. replace (3 * delta / 2) with (3 / 2 * delta) by field. exact T1.
  - assert (N0 : 0 < INR n) by (apply lt_0_INR; lia). unfold variance_fall, own_cluster_speed.fall. fold a.
    set (y := fun j b => sum n (fun k => a j k * unit_row X k b)). set (v := fun j b => y j b - dot d (y j) (unit_row
      X j) * unit_row X j b).
    assert (E : sum n (fun i => sum n (fun j => dot d (unit_row X i) (fun b => v j b / s j))) =
      INR n * sum n (fun j => dot d (fun b => sum n (fun k => unit_row X k b) / INR n) (v j) / s j)).
    { rewrite sum_swap, <- sum_scal. apply sum_ext. intros j Hj. assert (sj : s j <> 0) by (destruct (Sp j Hj); lra).
      unfold dot. rewrite sum_swap. unfold Rdiv at 2. rewrite <- sum_scal_r, <- sum_scal. apply sum_ext. intros b _.
      rewrite sum_scal_r. field. split; lra. }
    change (2 * sum n (fun i => sum n (fun j => dot d (unit_row X i) (fun b => v j b / s j))) / INR n ^ 2 =
      2 / INR n * sum n (fun j => dot d (fun b => sum n (fun k => unit_row X k b) / INR n) (v j) / s j)).
    rewrite E. field. lra.
Qed.

(** Opposite tokens rest, and are allowed where beta is small; here in the plane. *)
Theorem refuted_karagodin2025_4_3 : ~ statement_karagodin2025_4_3.
Proof.
  intro H. set (X := (fun i a => if Nat.eqb a 0 then if Nat.eqb i 0 then 1 else -1 else 0) : matrix 2 2).
  assert (F := H (1 / 100) 2%nat 2%nat X ltac:(lia) ltac:(lia) ltac:(lra)).
  assert (C : in_printed_cone (1 / 100) X).
  { split; [|split].
    - intros i Hi. unfold dot, X. cbn [sum Nat.eqb]. destruct (Nat.eqb i 0); ring.
    - intros i j Hi Hj. unfold dot, X. cbn [sum Nat.eqb]. simpl INR. destruct (Nat.eqb i 0), (Nat.eqb j 0); lra.
    - exists 1%nat, 0%nat. repeat split; try lia. unfold X. simpl. lra. }
  specialize (F C). unfold variance_falls, variance_fall in F.
  assert (L : forall i, l2 2 (X i) = 1).
  { intros i. unfold l2, dot, X. cbn [sum Nat.eqb]. transitivity (sqrt 1); [f_equal; destruct (Nat.eqb i 0); ring|apply sqrt_1]. }
  assert (E : forall i b, unit_row X i b = X i b) by (intros i b; unfold unit_row, unit_of, row; rewrite L; field).
  cbn [sum dot] in F. unfold dot in F. cbn [sum] in F. rewrite !E in F. unfold X in F. simpl in F. lra.
Qed.

(* ---------- tokens with equal angles ---------- *)
Lemma sum_two_kinds m i x y : (i < m)%nat -> sum m (fun k => if Nat.eqb k i then x else y) = x + (INR m - 1) * y.
Proof.
  intros Hi. rewrite (sum_ext m _ (fun k => y + (if Nat.eqb k i then x - y else 0))) by (intros k _; destruct
    (Nat.eqb k i); ring).
  rewrite sum_plus, sum_const, (sum_single m _ i Hi); [rewrite Nat.eqb_refl; ring|]. intros k _ Ne. apply Nat.eqb_neq
    in Ne. now rewrite Ne.
Qed.

Lemma sum_three_kinds m i k x y z : (i < m)%nat -> (k < m)%nat -> i <> k ->
  sum m (fun l => if Nat.eqb l i then x else if Nat.eqb l k then y else z) = x + y + (INR m - 2) * z.
Proof.
  intros Hi Hk Ne. rewrite (sum_ext m _ (fun l => (if Nat.eqb l i then x - z else 0) + (if Nat.eqb l k then y else
    z))).
  - rewrite sum_plus, sum_two_kinds, sum_two_kinds by assumption. ring.
  - intros l _. destruct (Nat.eqb_spec l i) as [->|]; [|ring]. apply Nat.eqb_neq in Ne. rewrite Ne. ring.
Qed.

Theorem proved_chen2026_2_4 : statement_chen2026_2_4.
Proof.
  intros g rho beta m d r0 m2 dm mg g1. cbv beta delta [equiangular_gradient]. intros C P M N a b e. set (D := 1 +
    (INR m - 1) * rho).
  assert (M2 := le_INR 2 m m2). simpl INR in M2. assert (D0 : 0 < D) by (unfold D; nra).
  assert (P1 : forall i, P i i = 1 / D) by (intros i; unfold P, D; now rewrite Nat.eqb_refl).
  assert (P2 : forall i j, i <> j -> P i j = rho / D) by (intros i j Ne; unfold P, D; apply Nat.eqb_neq in Ne; now
    rewrite Ne).
  assert (C1 : forall i, C i i = 1) by (intros i; unfold C; now rewrite Nat.eqb_refl).
  assert (C2 : forall i j, i <> j -> C i j = g) by (intros i j Ne; unfold C; apply Nat.eqb_neq in Ne; now rewrite Ne).
  set (mu0 := 1 / D + (INR m - 1) * (rho / D * g)). set (mu1 := 1 / D * g + rho / D + (INR m - 2) * (rho / D * g)).
  assert (Mi : forall i, (i < m)%nat -> M i i = mu0).
  { intros i Hi. unfold M. rewrite (sum_ext m _ (fun k => if Nat.eqb k i then 1 / D else rho / D * g)).
    - now rewrite sum_two_kinds.
    - intros k _. destruct (Nat.eqb_spec k i) as [->|Ne]; [rewrite P1, C1; ring|rewrite P2, C2 by congruence; ring]. }
  assert (Mj : forall i j, (i < m)%nat -> (j < m)%nat -> i <> j -> M i j = mu1).
  { intros i j Hi Hj Ne. unfold M. rewrite (sum_ext m _ (fun k => if Nat.eqb k i then 1 / D * g else if Nat.eqb k j
    then rho / D else rho / D * g)).
    - now rewrite sum_three_kinds.
    - intros k _. destruct (Nat.eqb_spec k i) as [->|N1]; [rewrite P1, C2 by exact Ne; ring|]. destruct (Nat.eqb_spec
      k j) as [->|N2].
      + rewrite P2, C1 by congruence. ring.
      + rewrite P2, C2 by congruence. ring. }
  set (nu := mu0 * (1 / D) + (INR m - 1) * (mu1 * (rho / D))).
  assert (Ni : forall i, (i < m)%nat -> N i = nu).
  { intros i Hi. unfold N. rewrite (sum_ext m _ (fun k => if Nat.eqb k i then mu0 * (1 / D) else mu1 * (rho / D))).
    - now rewrite sum_two_kinds.
    - intros k Hk. destruct (Nat.eqb_spec k i) as [->|Ne]; [rewrite Mi, P1 by exact Hi; ring|rewrite Mj, P2 by
      (assumption || congruence); ring]. }
  rewrite (sum_ext m (fun i => sum m (fun j => if Nat.eqb i j then 0 else _)) (fun _ => (INR m - 1) * ((rho / D) ^ 2
    * (INR d - 1 + 2 * beta * (g * mu1 - mu0) +
    beta ^ 2 * (1 - 2 * mu1 + nu) * (1 - g ^ 2))))).
  2: { intros i Hi. rewrite (sum_ext m _ (fun j => if Nat.eqb j i then 0 else (rho / D) ^ 2 * (INR d - 1 + 2 * beta *
    (g * mu1 - mu0) + beta ^ 2 * (1 - 2 * mu1 + nu) * (1 - g ^ 2)))).
    - rewrite sum_two_kinds by exact Hi. ring.
    - intros j Hj. rewrite Nat.eqb_sym. destruct (Nat.eqb_spec j i) as [->|Ne]; [reflexivity|]. rewrite P2, C2, Mj,
      Mi, Ni by (assumption || congruence). reflexivity. }
  rewrite (sum_ext m (fun i => P i i ^ 2 * (INR d - 1) + _ + _) (fun _ => (1 / D) ^ 2 * (INR d - 1) + 2 * beta * (1 /
    D) * ((INR m - 1) * (rho / D * (1 - g ^ 2 - mu1 + mu0 * g))) +
    beta ^ 2 * ((INR m - 1) * ((rho / D) ^ 2 * (1 - 2 * mu1 + nu) * (1 - g ^ 2) + (INR m - 2) * ((rho / D) ^ 2 * (g -
      2 * mu1 + nu) * (g - g ^ 2)))))).
  2: { intros i Hi. rewrite P1, Mi, Ni by exact Hi. f_equal; [f_equal; f_equal|f_equal].
    - rewrite (sum_ext m _ (fun k => if Nat.eqb k i then 0 else rho / D * (1 - g ^ 2 - mu1 + mu0 * g))).
      + rewrite sum_two_kinds by exact Hi. ring.
      + intros k Hk. destruct (Nat.eqb_spec k i) as [->|Ne]; [rewrite P1, C1, Mi by exact Hi; ring|]. rewrite P2, C2,
        Mj by (assumption || congruence). reflexivity.
    - rewrite (sum_ext m _ (fun k => if Nat.eqb k i then 0 else (rho / D) ^ 2 * (1 - 2 * mu1 + nu) * (1 - g ^ 2) +
      (INR m - 2) * ((rho / D) ^ 2 * (g - 2 * mu1 + nu) * (g - g ^ 2)))).
      + rewrite sum_two_kinds by exact Hi. ring.
      + intros k Hk. destruct (Nat.eqb_spec k i) as [->|Ne].
        * transitivity (sum m (fun _ => 0)); [|apply sum_zero]. apply sum_ext. intros l Hl. rewrite C1. replace (C l
          i) with (C i l) by (unfold C; now rewrite Nat.eqb_sym). ring.
        * rewrite (sum_ext m _ (fun l => if Nat.eqb l i then 0 else if Nat.eqb l k then (rho / D) ^ 2 * (1 - 2 * mu1
          + nu) * (1 - g ^ 2) else (rho / D) ^ 2 * (g - 2 * mu1 + nu) * (g - g ^ 2))).
          { rewrite sum_three_kinds by (assumption || congruence). ring. }
          intros l Hl. destruct (Nat.eqb_spec l i) as [->|N1]; [rewrite C1; ring|]. destruct (Nat.eqb_spec l k) as
            [->|N2].
          -- rewrite C1, !P2, !Mj, C2 by (assumption || congruence). ring.
          -- rewrite (C2 k l), !P2, !Mj, !C2 by (assumption || congruence). ring. }
  rewrite !sum_const. unfold e, a, b. rewrite (P1 0%nat), (P2 0%nat 1%nat) by discriminate. unfold nu, mu0, mu1.
    assert (ED : D = 1 + (INR m - 1) * rho) by reflexivity.
  set (n := INR m) in *. set (q := rho / D). assert (Ep : 1 / D = 1 - (n - 1) * q) by (unfold q; rewrite ED; field; lra).
  rewrite Ep. clearbody q n. clear. ring.
Qed.

(* ---------- frozen tokens on the circle ---------- *)
Theorem proved_own_frozen_sign : statement_own_frozen_sign.
Proof.
  intros w b eps w0 bw b1 e0 e5. unfold far_slope, near_slope. set (s := PI * w). assert (P := PI_RGT_0).
  assert (Hs : 0 < s <= PI / 2) by (unfold s; split; nra). split.
  - replace ((b + 1) * s) with (b * s + s) by ring. apply own_frozen_sign.far; [exact Hs|nra|]. unfold s. nra.
  - apply Rle_ge, own_frozen_sign.near; [exact Hs|lra].
Qed.
