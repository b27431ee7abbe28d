(** Registered statements about vectors, as Statements.v prints them: proved_KEY and refuted_KEY; and the half of
    dong2021v1:A.3 that is true. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require own_tv dong2021 geshkovski2023 own_contranorm zhai2023 wu2024_L13 own_hemisphere
    own_gaussian_length.
From Rankmath Require Import Definitions Norms IntervalZ Language LanguageFacts Statements.
Local Open Scope R_scope.

Theorem proved_own_tv : statement_own_tv.
Proof.
  intros m c g Hm. unfold tv.
  rewrite (sum_ext m _ (fun j => Rabs (tilt m (shares c) g j - shares c j))) by (intros; now rewrite shares_tilt).
  apply own_tv.tv_tanh; [intros; left; now apply shares_pos|now apply shares_sum|].
  intros j k Hj Hk _ _. now apply osc_spec.
Qed.

Lemma gain_bound m (c E : vector m) b : (0 < m)%nat -> (forall j, (j < m)%nat ->
  tilt m (shares c) E j <= (1 + b) * shares c j) ->
  relative_gain c E <= b.
Proof.
  intros Hm H. apply largest_lub; [exact Hm|]. intros j Hj. rewrite shares_tilt by exact Hm. specialize (H j Hj).
  assert (Q := shares_pos m c j Hm). apply Rmult_le_reg_r with (shares c j); [exact Q|].
  replace ((tilt m (shares c) E j / shares c j - 1) * shares c j) with (tilt m (shares c) E j - shares c j) by (field;
    lra). lra.
Qed.
Lemma loss_bound m (c E : vector m) b : (0 < m)%nat -> (forall j, (j < m)%nat ->
  (1 - b) * shares c j <= tilt m (shares c) E j) ->
  relative_loss c E <= b.
Proof.
  intros Hm H. apply largest_lub; [exact Hm|]. intros j Hj. rewrite shares_tilt by exact Hm. specialize (H j Hj).
  assert (Q := shares_pos m c j Hm). apply Rmult_le_reg_r with (shares c j); [exact Q|].
  replace ((1 - tilt m (shares c) E j / shares c j) * shares c j) with (shares c j - tilt m (shares c) E j) by (field;
    lra). lra.
Qed.

(** e^D <= 1 + 2D up to the root x*. *)
Lemma below_x_star xs D : is_x_star xs -> 0 <= D <= xs -> exp D <= 1 + 2 * D.
Proof. intros H [D0 D1]. now apply (dong2021.x_star_order xs D H D0). Qed.

Lemma sandwiched m (c E : vector m) : (0 < m)%nat -> forall j, (j < m)%nat ->
  (1 - osc E) * shares c j <= tilt m (shares c) E j /\
  (exp (osc E) <= 1 + 2 * osc E -> tilt m (shares c) E j <= (1 + 2 * osc E) * shares c j).
Proof.
  intros Hm j Hj. destruct (dong2021.sandwich m (shares c) E (osc E) (fun j _ => Rlt_le _ _ (shares_pos m c j Hm))
    (shares_sum m c Hm) (fun j k Hj Hk _ _ => osc_spec m E j k Hj Hk) j Hj) as (_ & L & U).
  split; [exact L|]. intro H. apply (U H).
Qed.
(** The second half of the lemma needs no hypothesis. *)
Theorem sandwich_below m (c E : vector m) : (0 < m)%nat -> relative_loss c E <= osc E.
Proof. intros Hm. apply loss_bound; [exact Hm|]. intros j Hj. now apply sandwiched. Qed.

Theorem proved_dong2021_A_3 : statement_dong2021_A_3.
Proof.
  intros n m c E Hn Hm xs Hx Hosc. split; intros i Hi; [|now apply sandwich_below].
  apply gain_bound; [exact Hm|]. intros j Hj. apply (sandwiched m c (row E i) Hm j Hj).
  apply (below_x_star xs); [exact Hx|]. split; [now apply osc_nonneg|now apply Hosc].
Qed.

(** c = (0, 3), E = (2, 0): the first share grows by a factor 5.67, and 1 + 2 osc(E) = 5. *)
Theorem refuted_dong2021v1_A_3 : ~ statement_dong2021v1_A_3.
Proof.
  intro H. set (c := (fun j => match j with O => 0 | _ => 3 end) : vector 2).
  set (E := (fun _ j => match j with O => 2 | _ => 0 end) : matrix 1 2).
  destruct (H 1%nat 2%nat c E ltac:(lia) ltac:(lia)) as [G _]. specialize (G 0%nat ltac:(lia)).
  set (x := 1 * exp (0 + 2) / (0 + 1 * exp (0 + 2) + 1 * exp (3 + 0)) / (1 * exp 0 / (0 + 1 * exp 0 + 1 * exp 3)) - 1).
  assert (L : x <= relative_gain c (row E 0))
    by exact (largest_ub 2 (fun j => shares (vplus c (row E 0)) j / shares c j - 1) 0 ltac:(lia)).
  assert (O : osc (row E 0) = 2) by (unfold osc, row, E; simpl; unfold Rmax, Rmin; repeat destruct Rle_dec; lra).
  rewrite O in G. assert (4.5 < x) by (unfold x; interval with (i_prec 40)). lra.
Qed.

Theorem proved_dong2021_norm : statement_dong2021_norm.
Proof.
  exists 2%nat, 2%nat, dong2021.first_row, dong2021.first_col. split; [lia|split; [lia|]].
  apply (dong2021.composite_not_norm 2). lia.
Qed.

Theorem proved_velickovic2024_2_2 : statement_velickovic2024_2_2.
Proof.
  intros m c Hm. unfold largest_share, least_share, count, shares. split.
  - apply largest_lub; [exact Hm|]. intros j Hj. apply geshkovski2023.velickovic_2_2; [exact Hj|].
    intros; now apply osc_spec.
  - apply least_glb; [exact Hm|]. intros j Hj. apply geshkovski2023.velickovic_2_2; [exact Hj|].
    intros; now apply osc_spec.
Qed.

Theorem proved_own_dispersion : statement_own_dispersion.
Proof.
  intros m c Hm. unfold largest_share, least_share, count, shares. split.
  - apply largest_lub; [exact Hm|]. intros j Hj. apply geshkovski2023.dispersion; [exact Hj|].
    intros; now apply osc_spec.
  - apply least_glb; [exact Hm|]. intros j Hj. unfold Rdiv. rewrite Rmult_1_l.
    apply geshkovski2023.dispersion; [exact Hj|]. intros; now apply osc_spec.
Qed.

Theorem proved_own_contranorm : statement_own_contranorm.
Proof.
  intros m sg s Hm Hs Hb Hbt Ht. unfold bottom, top in *.
  assert (P : forall i, (i < m)%nat -> 0 < sg i) by (intros i Hi; assert (L := least_lb m sg i Hi); lra).
  apply (own_contranorm.contranorm_rises m sg s); [lra|exact P| |].
  - destruct (largest_attained m sg Hm) as [j [Hj Ej]]. destruct (least_attained m sg Hm) as [i [Hi Ei]].
    exists i, j. rewrite <- Ei, <- Ej. auto.
  - intros i Hi. assert (L := largest_ub m sg i Hi). specialize (P i Hi).
    assert (sg i ^ 2 <= largest m sg ^ 2) by (apply pow_incr; lra). nra.
Qed.

(** sigma = (7/5, 1/2), s = 1: the effective rank falls from 1.78 to 1.25. *)
Theorem refuted_contranorm2023_2 : ~ statement_contranorm2023_2.
Proof.
  intro H. set (sg := (fun i => match i with O => 7/5 | _ => 1/2 end) : vector 2).
  assert (B : bottom sg = 1/2) by (unfold bottom, sg; simpl; unfold Rmin; destruct Rle_dec; lra).
  assert (T : top sg = 7/5) by (unfold top, sg; simpl; unfold Rmax; destruct Rle_dec; lra).
  specialize (H 2%nat sg 1 ltac:(lia) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(rewrite T; lra)).
  unfold erank_after, erank, entropy_of, normalised_sum, sg in H. cbn [sum] in H.
  replace (Rabs (7/5 * (1 + 1 - 1 * (7/5) ^ 2))) with (7/125) in H by (rewrite Rabs_right; lra).
  replace (Rabs (1/2 * (1 + 1 - 1 * (1/2) ^ 2))) with (7/8) in H by (rewrite Rabs_right; lra).
  assert (exp (- (0 + 7/125 / (0 + 7/125 + 7/8) * ln (7/125 / (0 + 7/125 + 7/8))
    + 7/8 / (0 + 7/125 + 7/8) * ln (7/8 / (0 + 7/125 + 7/8)))) < 1.26) by interval with (i_prec 40).
  assert (1.77 < exp (- (0 + 7/5 / (0 + 7/5 + 1/2) * ln (7/5 / (0 + 7/5 + 1/2))
    + 1/2 / (0 + 7/5 + 1/2) * ln (1/2 / (0 + 7/5 + 1/2))))) by interval with (i_prec 40).
  lra.
Qed.

Theorem proved_own_entropy_order : statement_own_entropy_order.
Proof. intros T sg beta HT Hs. apply (zhai2023.entropy_order T sg); lra. Qed.

(** T = 2, sigma = 10, c = 1: the claim is 20 e^-10, which is below log 2. *)
Theorem refuted_folk_entropy_order : ~ statement_folk_entropy_order.
Proof.
  intro H. specialize (H 2 10 1 ltac:(lra) ltac:(lra) ltac:(lra) ltac:(interval with (i_prec 40))).
  unfold entropy_floor in H. replace (2 / (2 - 1)) with 2 in H by lra. replace (2 * (2 - 1)) with 2 in H by lra.
  assert (ln (1 + (2 - 1) * exp (- (10 * sqrt 2))) + 10 * sqrt 2 * exp (- (10 * sqrt 2)) / (1 + (2 - 1) * exp (- (10 *
    sqrt 2))) < 0.0003)
    by interval with (i_prec 40).
  assert (0.0009 < 1 * 2 * 10 * exp (- (10))) by interval with (i_prec 40). lra.
Qed.

Theorem refuted_wu2024_L13 : ~ statement_wu2024_L13.
Proof.
  intro H. apply wu2024_L13.L13_refuted. intros d w x d2 w1 U S P Q. apply (H d x w d2); [lra|exact U|]. now split.
Qed.

Theorem proved_wu2024_L13_repaired : statement_wu2024_L13_repaired.
Proof.
  intros d x w d2 w1 U [[S0 P] C]. set (u := fun a => - x a).
  assert (A : forall a, (a < d - 1)%nat -> Rabs (x a) = u a) by (intros a Ha; unfold u; rewrite Rabs_left1;
    [reflexivity|auto]).
  assert (u0 : forall a, (a < d - 1)%nat -> 0 <= u a) by (intros a Ha; unfold u; specialize (S0 a Ha); lra).
  assert (un : sum d (fun a => u a * u a) = 1).
  { assert (Q := own_hemisphere.l2_sq d x). unfold unit_vector in U. rewrite U, Rmult_1_l in Q. rewrite Q.
    unfold dot, u. apply sum_ext; intros; ring. }
  assert (up : / w <= u (d - 2)%nat) by (unfold u; lra).
  assert (LC : is_log_concave x -> wu2024_L13.log_concave d u).
  { intros H b c Hb Hc. rewrite <- !A by lia. now apply H. }
  assert (GR : is_graded x w -> wu2024_L13.graded d w u).
  { intros H b Hb. rewrite <- !A by lia. now apply H. }
  assert (SS : wu2024_L13.small_sums d w u).
  { destruct C as [C|C]; [apply wu2024_L13.lc_small_sums|apply wu2024_L13.gr_small_sums]; auto; lra. }
  destruct (wu2024_L13.repaired_step d w x d2 ltac:(lra) U S0 P SS) as [q0 [Sp [Y0 Yp]]].
  set (y := unit_of (shifted x w)). change (sphere d (wu2024_L13.shift_step d w x)) with y in *.
  set (q := l2 d (wu2024_L13.shift_step d w x)) in *. set (V := wu2024_L13.v d w u) in *.
  assert (YA : forall a, (a < d - 1)%nat -> Rabs (y a) = V a / q).
  { intros a Ha. rewrite Rabs_left1 by auto. rewrite Sp by lia. unfold V, u. lra. }
  split; [now split|split].
  - intros C' b c Hb Hc. rewrite !YA by lia.
    assert (L := wu2024_L13.v_lc d w u d2 ltac:(lra) u0 (LC C') b c Hb Hc). fold V in L.
    replace (V b / q * (V (S c) / q)) with (V b * V (S c) / (q * q)) by (field; lra).
    replace (V (S b) / q * (V c / q)) with (V (S b) * V c / (q * q)) by (field; lra).
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; nra|exact L].
  - intros C' b Hb. rewrite !YA by lia.
    assert (L := wu2024_L13.v_graded d w u d2 ltac:(lra) u0 (GR C') b Hb). fold V in L.
    replace (w * (V b / q)) with (w * V b / q) by (field; lra).
    replace (sqrt (w ^ 2 - 1) * (V (S b) / q)) with (sqrt (w ^ 2 - 1) * V (S b) / q) by (field; lra).
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|exact L].
Qed.

Theorem proved_own_gaussian_length : statement_own_gaussian_length.
Proof.
  intros k t Hk Ht. destruct (own_gaussian_length.gaussian_length k t ltac:(lia) ltac:(lra)) as [P Q].
  unfold gaussian_tail. apply Rmult_le_reg_r with (from_on (radial k) 0); [exact P|]. unfold Rdiv.
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. exact Q.
Qed.
