(** Registered statements about rates near consensus and of flows, as Statements.v prints them. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Functions own_mask_rate.
From Rankmath Require Import Definitions Norms Language LanguageFacts Statements.
Local Open Scope R_scope.

Lemma divided_stochastic n (K : matrix n n) : (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= K i j) ->
  (forall i, (i < n)%nat -> exists j, (j < n)%nat /\ 0 < K i j) -> Definitions.row_stochastic n n (divided K).
Proof.
  intros K0 K1. assert (D : forall i, (i < n)%nat -> 0 < sum n (K i)).
  { intros i Hi. destruct (K1 i Hi) as [j [Hj P]]. eapply Rlt_le_trans; [exact P|].
    apply (sum_term_le n (K i) j); auto. }
  split; [intros i j Hi Hj; apply Rmult_le_pos; [now apply K0|left; now apply Rinv_0_lt_compat, D]|].
  intros i Hi. unfold divided, normalised_sum, row, Rdiv. rewrite sum_scal_r. apply Rinv_r, Rgt_not_eq, D, Hi.
Qed.

Lemma some_rate n (P : matrix n n) : (0 < n)%nat -> Definitions.row_stochastic n n P ->
  exists q, 0 <= q /\ exists c, 0 <= c /\
  forall t (z : vector n), osc (applied P t z) <= c * q ^ t * osc z.
Proof. intros Hn H. exists 1. split; [lra|]. exists 1. split; [lra|]. intros t z. now apply own_mask_rate.average_osc.
Qed.

Theorem proved_own_mask_rate : statement_own_mask_rate.
Proof.
  intros n G Hn [G1 G2]. destruct n as [|m]; [lia|].
  assert (St : Definitions.row_stochastic (S m) (S m) (divided G)).
  { apply divided_stochastic; [intros i j Hi Hj; destruct (G1 i j Hi Hj); lra|]. intros i Hi.
    destruct (G2 i Hi) as [j [Hj E]]. exists j. split; [exact Hj|lra]. }
  assert (m0 : 0 < INR m) by (apply lt_0_INR; lia). replace (INR (S m) - 1) with (INR m) by (rewrite S_INR; ring).
  apply Rmult_le_reg_l with (/ INR m); [now apply Rinv_0_lt_compat|]. rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra.
  apply inf_ge; [apply some_rate; [lia|exact St]|]. intros q [q0 [c [c0 H]]].
  apply Rmult_le_reg_l with (INR m); [exact m0|].
  rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. apply (own_mask_rate.mask_rate m (divided G) q c); try assumption.
  apply St.
Qed.

Theorem proved_own_mask_rate_symmetric : statement_own_mask_rate_symmetric.
Proof.
  intros n K Hn [K1 K2]. destruct n as [|m]; [lia|].
  assert (St : Definitions.row_stochastic (S m) (S m) (divided K)).
  { apply divided_stochastic; [intros; now apply K1|]. intros i Hi. exists i. split; [exact Hi|now apply K2]. }
  assert (m0 : 0 < INR m) by (apply lt_0_INR; lia). replace (INR (S m) - 1) with (INR m) by (rewrite S_INR; ring).
  set (e := (returns K - 1) / INR m). assert (E : returns K - 1 = INR m * e) by (unfold e; field; lra). rewrite E.
  apply Rmult_le_compat_l; [lra|].
  assert (Q : sqrt (Rmax 0 e) <= weights_second K).
  { apply inf_ge; [apply some_rate; [lia|exact St]|]. intros q [q0 [c [c0 H]]].
    assert (A := own_mask_rate.mask_rate_square m (divided K) q c (proj2 St) q0 c0 H). fold (returns K) in A.
    rewrite E in A.
    assert (e <= q * q) by nra. rewrite <- (sqrt_square q q0). apply sqrt_le_1_alt. apply Rmax_lub; nra. }
  assert (M0 := Rmax_l 0 e). assert (Me := Rmax_r 0 e). assert (s0 := sqrt_pos (Rmax 0 e)).
  assert (ss := sqrt_sqrt _ M0). nra.
Qed.

Theorem refuted_unstated_mask_dichotomy : ~ statement_unstated_mask_dichotomy.
Proof.
  intros H. set (P := own_mask_rate.forgetful : matrix 3 3).
  destruct (H 3%nat P ltac:(lia)) with (t := 2%nat) as [i [j [k [Hi [Hj [Hk N]]]]]].
  - split; [split|split].
    + intros a b Ha Hb. do 3 (destruct a as [|a]; [do 3 (destruct b as [|b]; [unfold P; simpl; lra|]); lia|]). lia.
    + intros a Ha. do 3 (destruct a as [|a]; [unfold P, sum; simpl; lra|]). lia.
    + intros a Ha. do 3 (destruct a as [|a]; [unfold P; simpl; lra|]). lia.
    + exists 0%nat, 2%nat. repeat split; lia.
  - apply N. unfold P. do 3 (destruct i as [|i]; [do 3 (destruct k as [|k]; [do 3 (destruct j as [|j];
      [unfold from_left, mmul, vmat, eye, sum; simpl; lra|]); lia|]); lia|]). lia.
Qed.

(** With -u/2 the cosine of two equal gaps: no isosceles triangle rests before it is equilateral. *)
Theorem proved_own_circle_three : statement_own_circle_three.
Proof.
  intros b u Hb u0 u1. set (x := - b * u / 2 - b * (u ^ 2 / 2 - 1)).
  replace (- b * u / 2) with (b * (u ^ 2 / 2 - 1) + x) by (unfold x; ring). rewrite exp_plus, Rmult_comm.
  apply Rmult_le_compat_l; [left; apply exp_pos|].
  apply Rle_trans with (1 + (u - 1)); [lra|]. eapply Rle_trans; [apply exp_ineq1_le|]. apply Functions.exp_le.
  replace x with (b * ((1 + u / 2) * (1 - u))) by (unfold x; simpl; field).
  assert (0 <= (b + 2 / 3) * ((1 + u / 2) * (1 - u))) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]).
  assert (0 <= (1 - u) * (1 - u)) by nra. nra.
Qed.

Theorem proved_own_mean_field_rate : statement_own_mean_field_rate.
Proof.
  intros v tau a s v0 v1 t0 a0 a1. assert (s0 : 0 < s) by (unfold s; assert (A := exp_ineq1 (2 * tau) ltac:(lra)); lra).
  assert (y0 : 0 < s * v) by nra. set (y := s * v) in *.
  assert (B : (1 - v) / (1 + y) <= / (1 + y)) by (apply Rmult_le_reg_r with (1 + y); [lra|]; unfold Rdiv;
    rewrite Rmult_assoc, Rinv_l by lra; lra).
  eapply Rle_trans; [exact B|]. destruct (Rle_or_lt y 1) as [L|L].
  - apply Rle_trans with 1; [rewrite <- Rinv_1; apply Rinv_le_contravar; lra|]. rewrite <- exp_0 at 1.
    assert (ln y <= 0) by (rewrite <- ln_1; destruct L as [L|E]; [left; now apply ln_increasing|rewrite E; lra]).
    apply Functions.exp_le. nra.
  - apply Rle_trans with (/ y); [apply Rinv_le_contravar; lra|].
    replace (/ y) with (exp (- ln y)) by (rewrite exp_Ropp, exp_ln by lra; reflexivity).
    assert (0 < ln y) by (rewrite <- ln_1; apply ln_increasing; lra).
    apply Functions.exp_le. nra.
Qed.

Theorem proved_own_off_grid : statement_own_off_grid.
Proof.
  intros c eta Hc e0 H. assert (E1 := exp_ineq1 1 ltac:(lra)).
  assert (Ec : exp 1 <= exp c) by (apply Functions.exp_le; lra).
  assert (e1 : eta <= / 16). { assert (2 <= c * exp c) by nra. assert (16 * eta <= 8 * (c * exp c) * eta) by nra. lra. }
  assert (Ee : exp (c * eta) <= exp c) by (apply Functions.exp_le; nra).
  assert (X0 := exp_pos (c * eta)). set (x := exp (c * eta)) in *.
  assert (A : c * x * eta <= / 8). { apply Rle_trans with (c * exp c * eta); [|lra]. apply Rmult_le_compat_r; [lra|].
  apply Rmult_le_compat_l; lra. }
  assert (A0 : 0 <= c * x * eta) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]).
  apply Rle_lt_trans with (/ 8 * (eta + 1) * eta).
  - rewrite (Rmult_assoc (c * x * eta)), (Rmult_assoc (/ 8)). apply Rmult_le_compat_r; [nra|exact A].
  - simpl. nra.
Qed.

Lemma left_is t (g : vector t) : left_over g = own_mask_rate.left g t.
Proof. unfold left_over. induction t as [|t IH]; [reflexivity|]. cbn [prodf own_mask_rate.left]. now rewrite IH. Qed.

Theorem proved_own_hardmax_steps : statement_own_hardmax_steps.
Proof.
  intros t g Ht H. rewrite left_is. destruct (own_mask_rate.hardmax_steps g t H) as [A B]. unfold total.
  split; [lra|exact B].
Qed.

Theorem refuted_alcalde2025_4_2 : ~ statement_alcalde2025_4_2.
Proof.
  intros H. apply own_mask_rate.not_exponential. destruct (H (/ 2) (/ 2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)) as
    [c [r [Hr L]]].
  exists c, r. split; [exact Hr|]. intros t. rewrite <- left_is. apply L.
Qed.
