(** Registered statements about times that are integrals (Coquelicot's RInt), as Statements.v prints them. *)
Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import geshkovski2023 Language Statements IntervalZ.
Local Open Scope R_scope.

(** f <= G' on [a, b] bounds the integral of f. *)
Lemma bounded (f g G : R -> R) a b : a <= b ->
  (forall x, a <= x <= b -> continuous f x) -> (forall x, a <= x <= b -> continuous g x) ->
  (forall x, a <= x <= b -> is_derive G x (g x)) -> (forall x, a <= x <= b -> f x <= g x) -> RInt f a b <= G b - G a.
Proof.
  intros Hab Cf Cg D L.
  assert (I : is_RInt g a b (G b - G a)).
  { apply (is_RInt_derive G g); intros x; rewrite Rmin_left, Rmax_right by lra; auto. }
  rewrite <- (is_RInt_unique g a b _ I). apply RInt_le; [exact Hab| | |].
  - apply (ex_RInt_continuous f). intros x. rewrite Rmin_left, Rmax_right by lra. auto.
  - exists (G b - G a). exact I.
  - intros x Hx. apply L. lra.
Qed.

Ltac smooth := match goal with |- continuous ?f ?x => apply (ex_derive_continuous f x); auto_derive end.
Ltac side := repeat split; try easy; try (apply Rgt_not_eq); repeat apply Rmult_lt_0_compat; try lra; try nra.

(** * Until tokens meet *)
Lemma exp_gt_one_plus x : 0 < x -> 1 + x < exp x.
Proof. intros H. apply exp_ineq1. lra. Qed.

Lemma grown (h dh : R -> R) x : 0 <= x -> (forall t, is_derive h t (dh t)) -> (forall t, 0 <= t -> 0 <= dh t) -> h 0
  <= h x.
Proof. intros Hx D P. apply (grows h dh); auto. intros t Ht. apply P. lra. Qed.

(** e^x (x - 2) + 2 + x >= 0 for x >= 0. *)
Lemma convex_gap x : 0 <= x -> 0 <= exp x * (x - 2) + 2 + x.
Proof.
  intros Hx. assert (F : forall t, 0 <= t -> 0 <= exp t * (t - 1) + 1).
  { intros t Ht. replace 0 with (exp 0 * (0 - 1) + 1) by (rewrite exp_0; ring).
    apply (grown (fun t => exp t * (t - 1) + 1) (fun t => exp t * t)); [exact Ht| |].
    - intros y. auto_derive; [easy|ring].
    - intros y Hy. apply Rmult_le_pos; [left; apply exp_pos | exact Hy]. }
  replace 0 with (exp 0 * (0 - 2) + 2 + 0) by (rewrite exp_0; ring).
  apply (grown (fun t => exp t * (t - 2) + 2 + t) (fun t => exp t * (t - 1) + 1)); [exact Hx| |exact F].
  intros y. auto_derive; [easy|ring].
Qed.

Lemma own_until_collapse beta u c : 0 < beta -> 0 < u -> exp (- c * beta) < 1 - u ->
  let x := beta * (1 - u) in
  until_collapse beta u c <= c * beta + ln (1 - u) + 2 * (exp x - 1 - x) / x + (exp x - 1) / (beta * u).
Proof.
  intros Hb Hu Hc x. assert (E0 := exp_pos (- c * beta)). unfold until_collapse. set (a := exp (- c * beta)) in *.
  set (G := fun v => ln v + 2 * (exp (beta * v) - 1 - beta * v) / (beta * v) + (exp (beta * v) - 1) / (beta * u)).
  apply Rle_trans with (G (1 - u) - G a).
  - apply (bounded _ (fun v => / v + 2 * (exp (beta * v) * (beta * v - 1) + 1) / (beta * v * v) + exp (beta * v) / u)).
    + lra.
    + intros v Hv. smooth; side.
    + intros v Hv. smooth; side.
    + intros v Hv. unfold G. auto_derive; [side|]. field. side.
    + intros v Hv. set (e := exp (beta * v)). assert (He : 1 + beta * v < e) by (apply exp_gt_one_plus; nra).
      assert (Q := convex_gap (beta * v) ltac:(nra)). fold e in Q.
      replace (e / (v * (1 - v))) with (e / v + e / (1 - v)) by (field; lra).
      apply Rplus_le_compat.
      * apply Rminus_le. replace (e / v - (/ v + 2 * (e * (beta * v - 1) + 1) / (beta * v * v)))
          with (- ((e * (beta * v - 2) + 2 + beta * v) / (beta * v * v))) by (field; lra).
        assert (0 <= (e * (beta * v - 2) + 2 + beta * v) / (beta * v * v)) by (apply Rdiv_le_0_compat; side). lra.
      * apply Rmult_le_compat_l; [left; apply exp_pos|]. apply Rinv_le_contravar; lra.
  - unfold G, x. assert (L : ln a = - c * beta) by (unfold a; apply ln_exp). rewrite L.
    assert (He : 1 + beta * a < exp (beta * a)) by (apply exp_gt_one_plus; nra).
    assert (P1 : 0 <= 2 * (exp (beta * a) - 1 - beta * a) / (beta * a)) by (apply Rdiv_le_0_compat; side).
    assert (P2 : 0 <= (exp (beta * a) - 1) / (beta * u)) by (apply Rdiv_le_0_compat; side). lra.
Qed.

Lemma geshkovski_until_collapse beta u c : 1 < beta -> 0 < u -> exp (- c * beta) < 1 - u ->
  until_collapse beta u c <= exp (beta * (1 - u)) / u + beta ^ 2 * c * exp 1 / (beta - 1).
Proof.
  intros Hb Hu Hc. assert (E0 := exp_pos (- c * beta)).
  eapply Rle_trans; [apply own_until_collapse; [lra|exact Hu|exact Hc]|]. cbv zeta.
  set (x := beta * (1 - u)). assert (Hx : 0 < x) by (unfold x; nra). set (e := exp x).
  assert (L : ln (1 - u) <= 0). { rewrite <- ln_1. destruct (Req_dec u 0); [lra|]. left. apply ln_increasing; lra. }
  assert (Hcb : 0 < c * beta).
  { destruct (Rlt_le_dec 0 (c * beta)) as [|N]; [assumption|]. exfalso.
    assert (1 <= exp (- c * beta)); [|lra]. rewrite <- exp_0. apply exp_le. lra. }
  assert (E1 : 1 < exp 1) by (assert (H := exp_ineq1 1); lra).
  assert (A : c * beta <= beta ^ 2 * c * exp 1 / (beta - 1)).
  { replace (beta ^ 2 * c * exp 1 / (beta - 1)) with (c * beta * (beta * exp 1 / (beta - 1))) by (field; lra).
    rewrite <- (Rmult_1_r (c * beta)) at 1. apply Rmult_le_compat_l; [lra|].
    apply Rmult_le_reg_r with (beta - 1); [lra|]. replace (beta * exp 1 / (beta - 1) * (beta - 1)) with (beta * exp 1)
      by (field; lra). nra. }
  assert (B : 2 * (e - 1 - x) / x + (e - 1) / (beta * u) <= e / u).
  { assert (P : 2 * (e - 1 - x) <= x * e).
    { assert (Q := convex_gap x ltac:(lra)). fold e in Q. nra. }
    assert (Q : e - 1 <= x * e).
    { assert (T := exp_ineq1 (- x) ltac:(lra)). assert (I : exp (- x) * e = 1) by (unfold e;
      rewrite <- exp_plus, Rplus_opp_l, exp_0; ring).
      assert (0 < e) by apply exp_pos. nra. }
    apply Rmult_le_reg_r with (u * x); [nra|].
    replace ((2 * (e - 1 - x) / x + (e - 1) / (beta * u)) * (u * x)) with (u * (2 * (e - 1 - x)) + (1 - u) * (e - 1))
      by (unfold x; field; lra).
    replace (e / u * (u * x)) with (x * e) by (field; lra). nra. }
  fold x e in B |- *. lra.
Qed.

(** * From an orthogonal start *)
Section Late.
Variables (m beta : R).
Hypothesis Hm : 2 <= m.
Hypothesis Hb : 0 <= beta.
Let pace (c : R) : R := (exp (beta * (1 - c)) + m - 1) / (2 * (1 - c) * (1 + (m - 1) * c)).
Let time (gamma : R) : R := meeting_time gamma beta m.
Let s : R := (exp beta + m - 1) / 3.
Let k : R := (m + 1) / (m - 1 + exp (beta / 2)).

Lemma pace_F c : 0 <= c < 1 ->
  pace c = / (2 * (1 - c) * (1 + (m - 1) * c) / (exp (beta * (1 - c)) + m - 1)).
Proof. intros H. unfold pace. assert (E := exp_pos (beta * (1 - c))). field. repeat split; nra. Qed.
Lemma pace_continuous c : 0 <= c < 1 -> continuous pace c.
Proof. intros H. unfold pace. smooth; side. Qed.
Lemma pace_RInt a b : 0 <= a <= b -> b < 1 -> ex_RInt pace a b.
Proof. intros H1 H2. apply (ex_RInt_continuous pace). intros x. rewrite Rmin_left, Rmax_right by lra. intros.
  apply pace_continuous. lra. Qed.
Lemma pos_s : 0 < s. Proof. unfold s. assert (E := exp_pos beta). lra. Qed.
Lemma pos_k : 0 < k. Proof. unfold k. assert (E := exp_pos (beta / 2)). apply Rdiv_lt_0_compat; lra. Qed.

Lemma early g : 0 <= g <= / 2 -> time g <= 2 * s * g.
Proof.
  intros H. assert (S := pos_s). unfold time, meeting_time. replace (2 * s * g) with (2 * s * g - 2 * s * 0) by ring.
  apply (bounded pace (fun _ => 2 * s) (fun c => 2 * s * c)); [lra| | | |].
  - intros c Hc. apply pace_continuous. lra.
  - intros c Hc. apply continuous_const.
  - intros c Hc. auto_derive; [easy|ring].
  - intros c Hc. rewrite pace_F by lra. replace (2 * s) with (/ (1 / 2 / s)) by (field; lra).
    apply Rinv_le_contravar; [apply Rdiv_lt_0_compat; lra|]. apply (F_early m beta Hm Hb). lra.
Qed.

Lemma later g : / 2 <= g < 1 -> k * (time g - s) <= - ln (2 * (1 - g)).
Proof.
  intros H. assert (S := pos_s). assert (K := pos_k). change (time g) with (RInt pace 0 g).
  assert (C : RInt pace 0 g = RInt pace 0 (/ 2) + RInt pace (/ 2) g)
    by (symmetry; apply (RInt_Chasles pace); apply pace_RInt; lra). rewrite C.
  assert (A := early (/ 2) ltac:(lra)). change (time (/ 2)) with (RInt pace 0 (/ 2)) in A.
  assert (B : RInt pace (/ 2) g <= - ln (1 - g) / k - (- ln (1 - / 2) / k)).
  { apply (bounded pace (fun c => / (k * (1 - c))) (fun c => - ln (1 - c) / k)); [lra| | | |].
    - intros c Hc. apply pace_continuous. lra.
    - intros c Hc. smooth. apply Rgt_not_eq, Rmult_lt_0_compat; lra.
    - intros c Hc. auto_derive; [lra|]. field. lra.
    - intros c Hc. rewrite pace_F by lra. apply Rinv_le_contravar; [nra|]. apply (F_later m beta Hm Hb). lra. }
  assert (L : ln (2 * (1 - g)) = ln (1 - g) - ln (1 - / 2)).
  { replace (2 * (1 - g)) with ((1 - g) * / (1 - / 2)) by lra. rewrite ln_mult by lra. rewrite ln_Rinv by lra. ring. }
  rewrite L. apply Rle_trans with (k * (- ln (1 - g) / k - - ln (1 - / 2) / k)).
  - apply Rmult_le_compat_l; lra.
  - right. field. lra.
Qed.

Lemma own_late_time gamma : 0 <= gamma < 1 -> s <= time gamma ->
  1 - gamma <= exp (- (m + 1) * (time gamma - s) / (m - 1 + exp (beta / 2))) / 2.
Proof.
  intros H T. assert (S := pos_s). assert (E := exp_pos (beta / 2)). destruct (Rle_lt_dec (/ 2) gamma) as [G|G].
  - assert (L := later gamma ltac:(lra)).
    replace (- (m + 1) * (time gamma - s) / (m - 1 + exp (beta / 2))) with (- (k * (time gamma - s)))
      by (unfold k; field; lra).
    assert (X : exp (ln (2 * (1 - gamma))) <= exp (- (k * (time gamma - s)))) by (apply exp_le; lra).
    rewrite exp_ln in X by lra. lra.
  - exfalso. assert (A := early gamma ltac:(lra)). nra.
Qed.

Lemma geshkovski_late gamma : 0 <= gamma < 1 -> m * exp beta / 2 <= time gamma ->
  let c := m + exp (beta / 2) in 1 - gamma <= exp (m ^ 2 * exp beta / (2 * c) - m * time gamma / c) / 2.
Proof.
  intros H T c. assert (E := exp_pos (beta / 2)). assert (E1 : 1 <= exp beta) by (rewrite <- exp_0; apply exp_le; lra).
  assert (Hs : s <= m * exp beta / 2) by (unfold s; nra). eapply Rle_trans; [apply own_late_time; [exact H|lra]|].
  apply Rmult_le_compat_r; [lra|]. apply exp_le.
  replace (- (m + 1) * (time gamma - s) / (m - 1 + exp (beta / 2))) with (- (k * (time gamma - s)))
    by (unfold k; field; lra).
  replace (m ^ 2 * exp beta / (2 * c) - m * time gamma / c) with (- (m / c * (time gamma - m * exp beta / 2)))
    by (unfold c; field; lra).
  assert (Q : m / c <= k).
  { unfold k, c. apply Rmult_le_reg_r with ((m + exp (beta / 2)) * (m - 1 + exp (beta / 2))); [nra|].
    replace (m / (m + exp (beta / 2)) * ((m + exp (beta / 2)) * (m - 1 + exp (beta / 2)))) with (m * (m - 1 + exp
      (beta / 2)))
      by (field; lra).
    replace ((m + 1) / (m - 1 + exp (beta / 2)) * ((m + exp (beta / 2)) * (m - 1 + exp (beta / 2))))
      with ((m + 1) * (m + exp (beta / 2))) by (field; lra). nra. }
  assert (P : 0 <= m / c) by (unfold c; apply Rdiv_le_0_compat; lra).
  apply Ropp_le_contravar. apply Rmult_le_compat; lra.
Qed.
End Late.

(** * Two clusters of one mass *)
Lemma merge_time beta u v : 0 < beta -> -1 < u -> u < v -> v < 1 ->
  let w := 1 - Rmax (u ^ 2) (v ^ 2) in
  pair_time beta u v <= 1 / (2 * beta * w) + (v - u) * exp (- beta * (1 - u)) / (2 * w) /\
  pair_time beta u v <= (v - u) * (1 + exp (- beta * (1 - u))) / (2 * w).
Proof.
  intros Hb Hu Huv Hv w. set (q := exp (- beta * (1 - u))). assert (Q : 0 < q) by apply exp_pos.
  assert (W : 0 < w). { unfold w. assert (Rmax (u ^ 2) (v ^ 2) < 1) by (apply Rmax_lub_lt; nra). lra. }
  assert (N : forall c, u <= c <= v -> w <= 1 - c ^ 2 /\ c ^ 2 < 1).
  { intros c Hc. unfold w. assert (H1 := Rmax_l (u ^ 2) (v ^ 2)). assert (H2 := Rmax_r (u ^ 2) (v ^ 2)).
    assert (c ^ 2 <= Rmax (u ^ 2) (v ^ 2)) by (destruct (Rle_lt_dec 0 c); nra). split; [lra|nra]. }
  assert (Cont : forall c, u <= c <= v -> continuous (fun c => (exp (- beta * (c - u)) + q) / (2 * (1 - c ^ 2))) c).
  { intros c Hc. destruct (N c Hc). smooth; side. }
  assert (Le : forall c t, u <= c <= v -> exp (- beta * (c - u)) <= t ->
    (exp (- beta * (c - u)) + q) / (2 * (1 - c ^ 2)) <= (t + q) / (2 * w)).
  { intros c t Hc Ht. destruct (N c Hc). assert (0 < exp (- beta * (c - u))) by apply exp_pos.
    apply Rmult_le_compat; [lra| left; apply Rinv_0_lt_compat; lra | lra | apply Rinv_le_contravar; lra]. }
  unfold pair_time. fold q. split.
  - set (G := fun c => (- exp (- beta * (c - u)) / beta + q * c) / (2 * w)). apply Rle_trans with (G v - G u).
    + apply (bounded _ (fun c => (exp (- beta * (c - u)) + q) / (2 * w)) G); [lra|exact Cont| | |]; unfold G.
      * intros c Hc. smooth; side.
      * intros c Hc. auto_derive; [easy|]. replace (c + - u) with (c - u) by ring. field. lra.
      * intros c Hc. apply Le; [exact Hc|lra].
    + unfold G. replace (- beta * (u - u)) with 0 by ring. rewrite exp_0.
      assert (0 < exp (- beta * (v - u)) / beta / (2 * w)) by (repeat apply Rdiv_lt_0_compat; try apply exp_pos; lra).
      replace (1 / (2 * beta * w) + (v - u) * q / (2 * w)) with
        ((- exp (- beta * (v - u)) / beta + q * v) / (2 * w) - (- (1) / beta + q * u) / (2 * w)
          + exp (- beta * (v - u)) / beta / (2 * w)) by (field; lra). lra.
  - replace ((v - u) * (1 + q) / (2 * w)) with ((1 + q) / (2 * w) * v - (1 + q) / (2 * w) * u) by (field; lra).
    apply (bounded _ (fun _ => (1 + q) / (2 * w)) (fun c => (1 + q) / (2 * w) * c)); [lra|exact Cont| | |].
    + intros c Hc. apply continuous_const.
    + intros c Hc. auto_derive; [easy|ring].
    + intros c Hc. apply Le; [exact Hc|]. rewrite <- exp_0. apply exp_le. nra.
Qed.

(** * The statements *)
Theorem proved_own_until_collapse : statement_own_until_collapse.
Proof. intros beta u c x Hb Hu Hc. apply own_until_collapse; lra. Qed.
Theorem proved_geshkovski2024_until_collapse : statement_geshkovski2024_until_collapse.
Proof. intros beta u c Hb Hu Hc. apply geshkovski_until_collapse; lra. Qed.
Theorem proved_own_late : statement_own_late.
Proof. intros gamma beta m t s Hg H1 Hb Hm Ht. apply own_late_time; [lra|lra|lra|apply Rge_le, Ht]. Qed.
Theorem proved_geshkovski2023_late : statement_geshkovski2023_late.
Proof. intros gamma beta m t c Hg H1 Hb Hm Ht. apply (geshkovski_late m beta); [lra|lra|lra|apply Rge_le, Ht]. Qed.
Theorem refuted_geshkovski2023_late_printed : ~ statement_geshkovski2023_late_printed.
Proof.
  intros H. specialize (H 0 0 2 ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)). cbv zeta in H.
  unfold meeting_time in H. rewrite RInt_point in H. change (@zero _) with 0 in H.
  replace (0 / 2) with 0 in H by lra. rewrite exp_0 in H.
  replace (2 ^ 2 * 1 / (2 * (2 + 1)) - 2 * 0 / (2 + 1)) with (2 / 3) in H by field.
  assert (exp (2 / 3) < 2) by (interval with (i_prec 40)). lra.
Qed.
Theorem proved_own_merge_time : statement_own_merge_time.
Proof. intros beta u v Hb Hu Huv Hv. apply merge_time; lra. Qed.
