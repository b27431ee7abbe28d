(** own:frozen-sign.  With 0 < s <= pi/2: s cos z/sin z - sin z/s >= 8/5 for z = eps s, eps <= 2/5 [near]; and for x
  >= s,
    y = x + s <= pi, e^((cos y - cos x)/s^2) (sin^2 y - s^2 cos y)/(s sin x) <= 33/25 [far]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import IntervalZ.
Local Open Scope R_scope.

Lemma pi_bounds : 3.1415 < PI < 3.1416.
Proof. split; interval with (i_prec 40). Qed.

Lemma cos_ge z : 1 - z ^ 2 / 2 <= cos z.
Proof.
  replace z with (2 * (z / 2)) at 2 by field. rewrite cos_2a_sin. assert (H : sin (z / 2) * sin (z / 2) <= (z / 2) *
    (z / 2)).
  { destruct (Rtotal_order 0 (z / 2)) as [P|[E|Ng]].
    - assert (S := sin_lt_x (z / 2) P). assert (S2 := sin_lt_x (z / 2) P). destruct (SIN_bound (z / 2)) as [L U].
      assert (- (z / 2) < sin (z / 2)).
      { destruct (Rle_or_lt (z / 2) PI) as [Q|Q]; [assert (0 <= sin (z / 2)) by (apply sin_ge_0; lra); lra|]. assert
        (B := pi_bounds). lra. }
      nra.
    - rewrite <- E, sin_0. lra.
    - assert (S := sin_lt_x (- (z / 2)) ltac:(lra)). rewrite sin_neg in S. destruct (SIN_bound (z / 2)) as [L U].
      assert (sin (z / 2) < - (z / 2)).
      { destruct (Rle_or_lt (- (z / 2)) PI) as [Q|Q]; [assert (0 <= sin (- (z / 2))) by (apply sin_ge_0; lra);
        rewrite sin_neg in *; lra|]. assert (B := pi_bounds). lra. }
      nra. }
  nra.
Qed.

Lemma sin_ge s : 0 <= s <= PI / 2 -> s * (1 - s ^ 2 / 6 + s ^ 4 / 120 - s ^ 6 / 5040) <= sin s.
Proof.
  intros H. assert (B := pi_bounds). destruct (sin_bound s 1 ltac:(lra) ltac:(lra)) as [L _]. eapply Rle_trans;
    [|exact L].
  assert (F3 : INR (fact 3) = 6) by (rewrite INR_IZR_INZ; now apply f_equal).
  assert (F5 : INR (fact 5) = 120) by (rewrite INR_IZR_INZ; now apply f_equal).
  assert (F7 : INR (fact 7) = 5040) by (rewrite INR_IZR_INZ; apply (f_equal IZR); now vm_compute).
  unfold sin_approx, sin_term. cbn [sum_f_R0 Nat.mul Nat.add]. rewrite F3, F5, F7. simpl INR. right. field.
Qed.

Lemma cos_le s : 0 <= s <= PI / 2 -> cos s <= 1 - s ^ 2 / 2 + s ^ 4 / 24.
Proof.
  intros H. destruct (cos_bound s 0 ltac:(lra) ltac:(lra)) as [_ U]. eapply Rle_trans; [exact U|].
  unfold cos_approx, cos_term. cbn [sum_f_R0 Nat.mul Nat.add]. simpl fact. simpl INR. right. field.
Qed.

Lemma near s eps : 0 < s <= PI / 2 -> 0 < eps <= 2 / 5 -> 8 / 5 <= s * cos (eps * s) / sin (eps * s) - sin (eps * s)
  / s.
Proof.
  intros Hs He. assert (B := pi_bounds). set (z := eps * s). assert (z0 : 0 < z) by (apply Rmult_lt_0_compat; lra).
  assert (z1 : z <= 1) by (unfold z; nra). assert (S0 : 0 < sin z) by (apply sin_gt_0; lra). assert (S1 := sin_lt_x z
    z0). assert (C := cos_ge z).
  assert (T1 : sin z / s <= eps).
  { apply Rmult_le_reg_r with s; [lra|]. replace (sin z / s * s) with (sin z) by (field; lra). unfold z in *. lra. }
  assert (T2 : (1 - z ^ 2 / 2) / eps <= s * cos z / sin z).
  { apply Rmult_le_reg_r with (eps * sin z); [apply Rmult_lt_0_compat; lra|].
    replace ((1 - z ^ 2 / 2) / eps * (eps * sin z)) with ((1 - z ^ 2 / 2) * sin z) by (field; lra).
    replace (s * cos z / sin z * (eps * sin z)) with (eps * s * cos z) by (field; lra).
    fold z. assert (0 <= 1 - z ^ 2 / 2) by nra. assert ((1 - z ^ 2 / 2) * sin z <= (1 - z ^ 2 / 2) * z) by (apply
      Rmult_le_compat_l; lra).
    assert (z * (1 - z ^ 2 / 2) <= z * cos z) by (apply Rmult_le_compat_l; lra). lra. }
  assert (T3 : 8 / 5 + eps <= (1 - z ^ 2 / 2) / eps).
  { apply Rmult_le_reg_r with eps; [lra|]. replace ((1 - z ^ 2 / 2) / eps * eps) with (1 - z ^ 2 / 2) by (field; lra).
    assert (s ^ 2 <= 2.46742) by nra. assert (z ^ 2 = eps ^ 2 * s ^ 2) by (unfold z; ring). assert (0 < eps ^ 2) by
      nra. nra. }
  lra.
Qed.

(** e t <= e^t. *)
Lemma exp_tangent t : exp 1 * t <= exp t.
Proof.
  assert (H := exp_ineq1_le (t - 1)). assert (E : exp t = exp 1 * exp (t - 1)) by (rewrite <- exp_plus; f_equal;
    ring).
  rewrite E. assert (P := exp_pos 1). nra.
Qed.

Lemma far_early A B : 0.89 <= A -> 0 <= B <= A + 1 -> exp (- ((A + B) / 2)) * B ^ 2 <= 33 / 25 * A.
Proof.
  intros HA HB. apply Rle_trans with (exp (1 / 2 - B) * B ^ 2).
  - apply Rmult_le_compat_r; [apply pow2_ge_0|]. destruct (Rle_lt_or_eq_dec (- ((A + B) / 2)) (1 / 2 - B) ltac:(lra))
    as [L|E]; [left; now apply exp_increasing|rewrite E; lra].
  - assert (T := exp_tangent (B / 2)). assert (P1 := exp_pos 1). assert (Pb := exp_pos (B / 2)).
    assert (Q : (exp 1 * (B / 2)) * (exp 1 * (B / 2)) <= exp (B / 2) * exp (B / 2)) by (apply Rmult_le_compat; nra).
    assert (E : exp (1 / 2 - B) * (exp (B / 2) * exp (B / 2)) = exp (1 / 2)) by (rewrite <- !exp_plus; f_equal;
      field).
    assert (E1 : 2.718 <= exp 1) by interval with (i_prec 40). assert (E2 : exp (1 / 2) <= 1.6488) by interval with
      (i_prec 40).
    assert (P2 := exp_pos (1 / 2 - B)). assert (exp (1 / 2 - B) * ((exp 1 * (B / 2)) * (exp 1 * (B / 2))) <= 1.6488)
      by (eapply Rle_trans; [apply Rmult_le_compat_l; [lra|exact Q]|lra]).
    assert (exp (1 / 2 - B) * B ^ 2 * (exp 1 * exp 1 / 4) <= 1.6488) by nra. assert (1.846 <= exp 1 * exp 1 / 4) by
      nra.
    assert (0 <= exp (1 / 2 - B) * B ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]). nra.
Qed.

Lemma late_small B : 0 <= B -> B <= 0.9 -> exp (- ((0.6365 + B) / 2)) * (B ^ 2 + 1) <= 0.84.
Proof. intros H1 H2. interval with (i_bisect B, i_prec 40). Qed.

Lemma late_middle B : 0.9 < B -> B <= 4 -> exp (- ((0.7071 * B + B) / 2)) * (B ^ 2 + 1) - 33 / 25 * (0.7071 * B) <= 0.
Proof. intros H1 H2. interval with (i_bisect B, i_autodiff B, i_prec 40, i_depth 20). Qed.

Lemma far_late A B : 0.6365 <= A -> 0 <= B -> 0.7071 * B <= A -> exp (- ((A + B) / 2)) * (B ^ 2 + 1) <= 33 / 25 * A.
Proof.
  intros HA HB HC.
  assert (Mono : forall t, 0 < t <= A -> exp (- ((t + B) / 2)) * (B ^ 2 + 1) <= 33 / 25 * t -> exp (- ((A + B) / 2))
    * (B ^ 2 + 1) <= 33 / 25 * A).
  { intros t Ht H. assert (exp (- ((A + B) / 2)) <= exp (- ((t + B) / 2))).
    { destruct (Rle_lt_or_eq_dec (- ((A + B) / 2)) (- ((t + B) / 2)) ltac:(lra)) as [L|E]; [left; now apply
      exp_increasing|rewrite E; lra]. }
    assert (Q := pow2_ge_0 B). nra. }
  destruct (Rle_or_lt B 0.9) as [L|L].
  - apply (Mono 0.6365); [lra|]. assert (D := late_small B HB L). lra.
  - destruct (Rle_or_lt B 4) as [M|M].
    + apply (Mono (0.7071 * B)); [lra|]. assert (D := late_middle B L M). lra.
    + apply (Mono (0.7071 * B)); [lra|]. assert (T := exp_tangent (0.8535 * B)). assert (E1 : 2.718 <= exp 1) by
      interval with (i_prec 40).
      assert (E : exp (- ((0.7071 * B + B) / 2)) <= / exp (0.8535 * B)).
      { rewrite <- exp_Ropp. left. apply exp_increasing. lra. }
      assert (P : 0 < 2.3 * B) by lra. assert (I : / exp (0.8535 * B) <= / (2.3 * B)) by (apply Rinv_le_contravar;
        nra).
      assert (X : exp (- ((0.7071 * B + B) / 2)) * (B ^ 2 + 1) <= / (2.3 * B) * (B ^ 2 + 1)) by (apply
        Rmult_le_compat_r; nra).
      eapply Rle_trans; [exact X|]. apply Rmult_le_reg_l with (2.3 * B); [lra|]. replace (2.3 * B * (/ (2.3 * B) * (B
        ^ 2 + 1))) with (B ^ 2 + 1) by (field; lra). nra.
Qed.

Theorem far s x : 0 < s <= PI / 2 -> s <= x -> x + s <= PI ->
  exp ((cos (x + s) - cos x) / s ^ 2) * (sin (x + s) ^ 2 - s ^ 2 * cos (x + s)) / (s * sin x) <= 33 / 25.
Proof.
  intros Hs Hx Hy. assert (Bp := pi_bounds). set (y := x + s) in *. assert (Sx : 0 < sin x) by (apply sin_gt_0;
    unfold y in *; lra).
  assert (Sy : 0 <= sin y) by (apply sin_ge_0; unfold y in *; lra).
  set (A := sin x / s). set (B := sin y / s). assert (A0 : 0 < A) by (apply Rdiv_lt_0_compat; lra). assert (B0 : 0 <=
    B) by (apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra]).
  assert (EA : sin x = A * s) by (unfold A; field; lra). assert (EB : sin y = B * s) by (unfold B; field; lra).
  (* the exponent *)
  assert (Ex : (cos y - cos x) / s ^ 2 <= - ((A + B) / 2)).
  { assert (F2 := form2 x y). assert (F3 := form3 x y). replace ((x - y) / 2) with (- (s / 2)) in F2, F3 by (unfold
    y; field).
    rewrite sin_neg in F2. rewrite cos_neg in F3. set (m := sin ((x + y) / 2)) in *. assert (m0 : 0 <= m) by (apply
      sin_ge_0; unfold y in *; lra).
    assert (G : s / 2 * cos (s / 2) <= sin (s / 2)).
    { assert (L := sin_ge (s / 2) ltac:(lra)). assert (U := cos_le (s / 2) ltac:(lra)). set (t := s / 2) in *. assert
      (t0 : 0 < t <= 0.7855) by (unfold t; lra).
      eapply Rle_trans; [apply Rmult_le_compat_l; [lra|exact U]|]. eapply Rle_trans; [|exact L]. apply
        Rmult_le_compat_l; [lra|].
      assert (t ^ 2 <= 0.6171) by nra. assert (0 <= t ^ 2) by apply pow2_ge_0. replace (t ^ 4) with (t ^ 2 * t ^ 2)
        by ring. replace (t ^ 6) with (t ^ 2 * t ^ 2 * t ^ 2) by ring.
      set (q := t ^ 2) in *. clearbody q. nra. }
    apply Rmult_le_reg_r with (s ^ 2); [nra|]. replace ((cos y - cos x) / s ^ 2 * s ^ 2) with (cos y - cos x) by
      (field; lra).
    replace (- ((A + B) / 2) * s ^ 2) with (- (s / 2 * (sin x + sin y))) by (rewrite EA, EB; field). rewrite F3.
    assert (s / 2 * cos (s / 2) * m <= sin (s / 2) * m) by (apply Rmult_le_compat_r; lra). nra. }
  assert (Ee : exp ((cos y - cos x) / s ^ 2) <= exp (- ((A + B) / 2))).
  { destruct (Rle_lt_or_eq_dec _ _ Ex) as [L|E]; [left; now apply exp_increasing|rewrite E; lra]. }
  assert (E0 := exp_pos ((cos y - cos x) / s ^ 2)). set (E := exp ((cos y - cos x) / s ^ 2)) in *.
  assert (Al : 0.6365 <= A /\ (y <= PI / 2 -> 0.89 <= A)).
  { assert (Ss : sin s <= sin x).
    { destruct (Rle_or_lt x (PI / 2)) as [Q|Q]; [apply sin_incr_1; unfold y in *; lra|]. rewrite <- (sin_PI_x x).
      apply sin_incr_1; unfold y in *; lra. }
    assert (L := sin_ge s ltac:(lra)). assert (H : 1 - s ^ 2 / 6 + s ^ 4 / 120 - s ^ 6 / 5040 <= A).
    { apply Rmult_le_reg_l with s; [lra|]. replace (s * A) with (sin x) by (rewrite EA; ring). lra. }
    split; [eapply Rle_trans; [|exact H]; assert (s1 : 0 <= s <= 1.5708) by lra; interval with (i_bisect s,
      i_autodiff s, i_prec 40)|].
    intros Q. eapply Rle_trans; [|exact H]. assert (s1 : 0 <= s <= 0.7855) by (unfold y in *; lra). interval with
      (i_bisect s, i_autodiff s, i_prec 40). }
  destruct Al as [Al Ae].
  replace (E * (sin y ^ 2 - s ^ 2 * cos y) / (s * sin x)) with (E * (B ^ 2 - cos y) / A) by (rewrite EA, EB; field;
    lra).
  apply Rmult_le_reg_r with A; [exact A0|]. replace (E * (B ^ 2 - cos y) / A * A) with (E * (B ^ 2 - cos y)) by
    (field; lra).
  destruct (Rle_or_lt y (PI / 2)) as [Q|Q].
  - assert (C := cos_ge_0 y ltac:(unfold y in *; lra) Q). apply Rle_trans with (E * B ^ 2); [apply Rmult_le_compat_l;
    lra|].
    apply Rle_trans with (exp (- ((A + B) / 2)) * B ^ 2); [apply Rmult_le_compat_r; [apply pow2_ge_0|exact Ee]|].
      apply far_early; [now apply Ae|].
    split; [exact B0|]. assert (D : sin y - sin x <= s).
    { assert (F := form4 y x). replace ((y - x) / 2) with (s / 2) in F by (unfold y; field). assert (S := sin_lt_x (s
      / 2) ltac:(lra)).
      assert (S0 : 0 <= sin (s / 2)) by (apply sin_ge_0; lra). destruct (COS_bound ((y + x) / 2)) as [c1 c2]. rewrite
        F. nra. }
    rewrite EA, EB in D. nra.
  - destruct (COS_bound y) as [c1 c2]. apply Rle_trans with (E * (B ^ 2 + 1)); [apply Rmult_le_compat_l; lra|].
    apply Rle_trans with (exp (- ((A + B) / 2)) * (B ^ 2 + 1)); [apply Rmult_le_compat_r; [assert (P := pow2_ge_0 B);
      lra|exact Ee]|]. apply far_late; [exact Al|exact B0|].
    assert (D : 0.7071 * sin y <= sin x).
    { destruct (Rle_or_lt x (PI / 2)) as [R|R].
      - assert (S4 : 0.7071 <= sin (PI / 4)) by interval with (i_prec 40). assert (sin (PI / 4) <= sin x) by (apply
        sin_incr_1; unfold y in *; lra). destruct (SIN_bound y). lra.
      - assert (sin y <= sin x) by (apply sin_decr_1; unfold y in *; lra). lra. }
    rewrite EA, EB in D. nra.
Qed.
