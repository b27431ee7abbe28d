(** Theorem B for two tokens.  Complete mask, LayerNorm on the sphere: for every delta > 0 there are M = W_QK/sqrt(d_qk) and W_V with
    X* = I an exact equilibrium of full rank that attracts every start near it, all eigenvalues of its derivative smaller than delta in modulus.

    M = [[0, -x],[1+x, 1+x]] with x large, W_V = A^{-1} diag(1, m) with m small, A the softmax of the rows of M.  With e = exp(-x) the two
    eigenvalues that are not zero are the roots of z^2 - T z + P, T = 2m(1+ex)/(1-e^2), P = e^2 x/(1-e)^2. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms Softmax Jets SphereLayer Spectrum.
Local Open Scope R_scope.

Section Two.
Variables (x m : R).
Hypothesis x1 : 1 <= x.
Hypothesis m0 : 0 < m.
Definition ex := exp (- x).
Definition MB : mat := fun a b => match a, b with O, O => 0 | O, 1%nat => - x | 1%nat, O => 1 + x | 1%nat, 1%nat => 1 + x | _, _ => 0 end.
Definition WB : mat := fun a b => match a, b with
  | O, O => (1 + ex) / (1 - ex) | O, 1%nat => - (2 * ex * m) / (1 - ex)
  | 1%nat, O => - (1 + ex) / (1 - ex) | 1%nat, 1%nat => 2 * m / (1 - ex) | _, _ => 0 end.
Notation E := (Ex 2 MB nomask eye).
Notation U := (Ux 2 2 MB WB nomask eye).
Notation F := (sphere_map 2 2 MB WB nomask).
Notation J := (dF 2 2 MB WB nomask eye).

Lemma ex_b : 0 < ex /\ ex < 1/2 /\ ex * x <= 1.
Proof.
  unfold ex. assert (P := exp_pos (- x)). split; [exact P|]. assert (I := exp_ineq1_le x). assert (Q := exp_pos x).
  assert (Inv : exp (- x) * exp x = 1) by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  assert (e1 : 1 + 1 < exp 1) by (apply exp_ineq1; lra).
  assert (exp 1 <= exp x) by (destruct x1 as [L|<-]; [left; now apply exp_increasing|lra]). split; nra.
Qed.

Lemma E_B i j : (i < 2)%nat -> (j < 2)%nat -> E i j = match i, j with O, O => 1 | O, _ => ex | _, _ => exp (1 + x) end.
Proof.
  intros Hi Hj. unfold Ex, nomask, bil. destruct i as [|[|i]]; try lia; destruct j as [|[|j]]; try lia; unfold eye; cbn [sum Nat.eqb MB]; rewrite Rmult_1_l;
  match goal with |- exp ?u = _ => ring_simplify u end; try apply exp_0; unfold ex; f_equal; ring.
Qed.

Lemma vmat_B j b : (j < 2)%nat -> vmat 2 (eye j) WB b = WB j b.
Proof. intros Hj. unfold vmat. now rewrite (sum_eye_l 2 (fun a => WB a b) j Hj). Qed.

Lemma U_B i b : (i < 2)%nat -> (b < 2)%nat -> U i b = if Nat.eqb b i then match i with O => 1 + ex | _ => 2 * m * exp (1 + x) end else 0.
Proof.
  intros Hi Hb. assert (P := ex_b). unfold Ux. cbn [sum]. rewrite !vmat_B, !E_B by lia.
  destruct i as [|[|i]]; try lia; destruct b as [|[|b]]; try lia; cbn [WB Nat.eqb]; field; lra.
Qed.

Lemma U_pos i : (i < 2)%nat -> 0 < U i i.
Proof.
  intros Hi. assert (P := ex_b). assert (Q := exp_pos (1 + x)). rewrite U_B, Nat.eqb_refl by assumption. destruct i; [lra|]. apply Rmult_lt_0_compat; lra.
Qed.
Lemma U_off i b : (i < 2)%nat -> (b < 2)%nat -> b <> i -> U i b = 0.
Proof. intros Hi Hb N. rewrite U_B by assumption. destruct (Nat.eqb_spec b i); [lia|reflexivity]. Qed.

Lemma nomask_2 : proper_mask 2 nomask.
Proof. apply nomask_padding. lia. Qed.

Lemma fixed_B : fixed 2 2 F eye.
Proof.
  intros i b Hi Hb. apply (sphere_coord 2 2 MB WB nomask ltac:(lia) nomask_2 eye i i Hi Hi (U_pos i Hi)); auto. intros k Hk N. now apply U_off.
Qed.
Lemma derivative_B : derivative 2 2 F eye J.
Proof.
  apply layer_derivative; [lia|exact nomask_2|]. intros i Hi. rewrite (l2_coord 2 (U i) i Hi (U_pos i Hi)); [now apply U_pos|]. intros k Hk N. now apply U_off.
Qed.

Definition T1 : R := 2 * m * (1 + ex * x) / (1 - ex * ex).
Definition J12 : R := - (2 * ex * ex * m) / (1 - ex * ex).
Definition J21 : R := x * (1 + ex) / (2 * m * (1 - ex)).

(** The derivative: rows (0,0) and (1,1) vanish. *)
Lemma J_B i b p q : (i < 2)%nat -> (b < 2)%nat -> (p < 2)%nat -> (q < 2)%nat -> p <> q -> J i b p q =
  match i, b with O, 1%nat => match p with O => T1 | _ => J12 end | 1%nat, O => match p with O => J21 | _ => 0 end | _, _ => 0 end.
Proof.
  intros Hi Hb Hp Hq N. assert (P := ex_b). assert (X := exp_pos (1 + x)).
  rewrite (dF_coord 2 2 MB WB nomask ltac:(lia) nomask_2 eye i i b p q Hi Hi (U_pos i Hi) (fun k Hk Nk => U_off i k Hi Hk Nk) Hb).
  destruct (Nat.eqb_spec b i) as [->|Nb]; [destruct i as [|[|i]]; try lia; reflexivity|].
  rewrite U_B, Nat.eqb_refl by assumption. unfold dU, dlogit. cbn [sum]. rewrite !E_B, !vmat_B by lia.
  destruct i as [|[|i]]; try lia; destruct b as [|[|b]]; try lia; destruct p as [|[|p]]; try lia; destruct q as [|[|q]]; try lia;
  unfold eye; cbn [sum Nat.eqb MB WB]; unfold T1, J12, J21; field; repeat split; try lra; nra.
Qed.
Lemma J_rows i p q : (i < 2)%nat -> (p < 2)%nat -> (q < 2)%nat -> J i i p q = 0.
Proof.
  intros Hi Hp Hq. rewrite (dF_coord 2 2 MB WB nomask ltac:(lia) nomask_2 eye i i i p q Hi Hi (U_pos i Hi) (fun k Hk Nk => U_off i k Hi Hk Nk) Hi).
  now rewrite Nat.eqb_refl.
Qed.
End Two.

(** Roots of a quadratic with small coefficients are small. *)
Lemma small_roots (T P dl : R) (z : C) : 0 < dl -> Rabs T <= dl / 2 -> Rabs P < dl * dl / 2 -> (z * z = T * z - P)%C -> Cmod z < dl.
Proof.
  intros D HT HP E. destruct (Rlt_or_le (Cmod z) dl) as [|L]; [assumption|exfalso].
  assert (Q : Cmod z * Cmod z <= Rabs T * Cmod z + Rabs P).
  { rewrite <- Cmod_mult, E. unfold Cminus. eapply Rle_trans; [apply Cmod_triangle|]. rewrite Cmod_opp, Cmod_mult, !Cmod_R. lra. }
  nra.
Qed.

Theorem theorem_B_two dl : 0 < dl -> exists M W : mat, let F := sphere_map 2 2 M W nomask in
  fixed 2 2 F eye /\ attracts 2 2 F eye /\
  exists J, derivative 2 2 F eye J /\ forall z : C, eigenvalue 2 2 J z -> Cmod z < dl.
Proof.
  intros D. set (g := Rmin dl 1). assert (g0 : 0 < g) by (apply Rmin_glb_lt; lra). assert (gd := Rmin_l dl 1). assert (g1 := Rmin_r dl 1). fold g in gd, g1.
  set (m := g / 32). assert (m0 : 0 < m) by (unfold m; lra).
  set (x := 1 + ln (64 / (g * g))). assert (gg : 0 < g * g <= 1) by nra.
  assert (lx : 0 <= ln (64 / (g * g))).
  { rewrite <- ln_1. apply ln_le; [lra|]. apply Rmult_le_reg_r with (g * g); [lra|]. replace (64 / (g * g) * (g * g)) with 64 by (field; lra). lra. }
  assert (x1 : 1 <= x) by (unfold x; lra). assert (Eb := ex_b x x1). set (e := ex x) in *.
  assert (es : e <= g * g / 64).
  { unfold e, ex, x. rewrite Ropp_plus_distr, exp_plus. rewrite exp_Ropp, (exp_Ropp (ln _)), exp_ln by (apply Rdiv_lt_0_compat; lra).
    replace (/ (64 / (g * g))) with (g * g / 64) by (field; lra). assert (E1 := exp_ineq1 1 ltac:(lra)). assert (0 < / exp 1) by (apply Rinv_0_lt_compat; lra).
    assert (Q1 : / exp 1 <= / 1) by (apply Rinv_le_contravar; lra). rewrite Rinv_1 in Q1. nra. }
  assert (d1 : 3/4 <= 1 - e * e) by nra. assert (d2 : 1/2 <= 1 - e) by lra.
  assert (ET : 0 <= T1 x m <= g / 4).
  { unfold T1. fold e. assert (0 <= e * x) by nra. split; [apply Rmult_le_pos; [nra|left; apply Rinv_0_lt_compat; lra]|].
    apply Rmult_le_reg_r with (1 - e * e); [lra|]. replace (2 * m * (1 + e * x) / (1 - e * e) * (1 - e * e)) with (2 * m * (1 + e * x)) by (field; lra). unfold m. nra. }
  assert (EP : J12 x m * J21 x m = - (e * (e * x) / ((1 - e) * (1 - e)))).
  { unfold J12, J21. fold e. field. repeat split; nra. }
  assert (PB : 0 <= e * (e * x) / ((1 - e) * (1 - e)) <= g * g / 8).
  { assert (0 <= e * x) by nra. assert (0 < (1 - e) * (1 - e)) by nra. split; [apply Rmult_le_pos; [nra|left; now apply Rinv_0_lt_compat]|].
    apply Rmult_le_reg_r with ((1 - e) * (1 - e)); [assumption|]. replace (e * (e * x) / ((1 - e) * (1 - e)) * ((1 - e) * (1 - e))) with (e * (e * x)) by (field; lra). nra. }
  exists (MB x), (WB x m). intro F. split; [now apply fixed_B|]. split.
  - (* contraction of max(|h01|, |h10|/K), K J12 = |J21| / 4 balanced by K = 4 J21 *)
    assert (J21p : 0 < J21 x m) by (unfold J21; fold e; apply Rdiv_lt_0_compat; [nra|apply Rmult_lt_0_compat; lra]).
    assert (J12b : Rabs (J12 x m) * J21 x m <= g * g / 8).
    { assert (J12 x m <= 0) by (unfold J12; fold e; assert (0 <= 2 * e * e * m / (1 - e * e)) by (apply Rmult_le_pos; [nra|left; apply Rinv_0_lt_compat; lra]); unfold Rdiv in *; lra).
      rewrite Rabs_left1 by assumption. lra. }
    set (K := 2 * J21 x m). set (col := 1 + sum 2 (fun i => sum 2 (fun b => sumentries 2 2 (dF 2 2 (MB x) (WB x m) nomask eye i b)))).
    assert (col1 : forall i b p q, (i < 2)%nat -> (b < 2)%nat -> (p < 2)%nat -> (q < 2)%nat -> Rabs (dF 2 2 (MB x) (WB x m) nomask eye i b p q) <= col).
    { intros i b p q Hi Hb Hp Hq. unfold col.
      assert (A1 : Rabs (dF 2 2 (MB x) (WB x m) nomask eye i b p q) <= sumentries 2 2 (dF 2 2 (MB x) (WB x m) nomask eye i b)).
      { unfold sumentries. eapply Rle_trans; [apply (sum_term_le 2 (fun a => Rabs (dF 2 2 (MB x) (WB x m) nomask eye i b p a)) q); [intros; apply Rabs_pos|exact Hq]|].
        apply (sum_term_le 2 (fun k => sum 2 (fun a => Rabs (dF 2 2 (MB x) (WB x m) nomask eye i b k a))) p); [intros; apply sum_nonneg; intros; apply Rabs_pos|exact Hp]. }
      assert (A2 := sum_term_le 2 (fun b => sumentries 2 2 (dF 2 2 (MB x) (WB x m) nomask eye i b)) b (fun _ _ => sumentries_pos _ _ _) Hb).
      assert (A3 := sum_term_le 2 (fun i => sum 2 (fun b => sumentries 2 2 (dF 2 2 (MB x) (WB x m) nomask eye i b))) i (fun _ _ => sum_nonneg _ _ (fun _ _ => sumentries_pos _ _ _)) Hi).
      cbv beta in A2, A3. lra. }
    assert (colp : 0 < col) by (specialize (col1 0%nat 0%nat 0%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)); unfold col in *; assert (0 <= sum 2 (fun i => sum 2 (fun b => sumentries 2 2 (dF 2 2 (MB x) (WB x m) nomask eye i b)))) by (apply sum_nonneg; intros; apply sum_nonneg; intros; apply sumentries_pos); lra).
    assert (Kp : 0 < K) by (unfold K; lra).
    set (dd := Rmin 1 K / (16 * col)). assert (M1 := Rmin_l 1 K). assert (M2 := Rmin_r 1 K). assert (M0 : 0 < Rmin 1 K) by (apply Rmin_glb_lt; lra).
    assert (ddp : 0 < dd) by (unfold dd; apply Rdiv_lt_0_compat; lra). assert (ddc : col * dd = Rmin 1 K / 16) by (unfold dd; field; lra).
    apply (attraction_weights 2 2 F eye (dF 2 2 (MB x) (WB x m) nomask eye) (fun i b => match i, b with O, 1%nat => 1 | 1%nat, O => K | _, _ => dd end) (3/4)).
    + now apply fixed_B.
    + now apply derivative_B.
    + lra.
    + intros i b Hi Hb. destruct i as [|[|i]]; try lia; destruct b as [|[|b]]; try lia; lra.
    + intros i b Hi Hb. destruct (Nat.eq_dec b i) as [->|N].
      * cbn [sum]. rewrite !J_rows by (auto; lia). rewrite Rabs_R0. destruct i as [|[|i]]; try lia; lra.
      * assert (C0 := col1 i b 0%nat 0%nat Hi Hb ltac:(lia) ltac:(lia)). assert (C1 := col1 i b 1%nat 1%nat Hi Hb ltac:(lia) ltac:(lia)).
        cbn [sum]. rewrite (J_B x m x1 m0 i b 0 1), (J_B x m x1 m0 i b 1 0) by (auto; lia).
        assert (B0 : Rabs (dF 2 2 (MB x) (WB x m) nomask eye i b 0%nat 0%nat) * dd <= Rmin 1 K / 16) by (rewrite <- ddc; apply Rmult_le_compat_r; lra).
        assert (B1 : Rabs (dF 2 2 (MB x) (WB x m) nomask eye i b 1%nat 1%nat) * dd <= Rmin 1 K / 16) by (rewrite <- ddc; apply Rmult_le_compat_r; lra).
        destruct i as [|[|i]]; try lia; destruct b as [|[|b]]; try lia.
        -- rewrite (Rabs_right (T1 x m)) by lra. assert (Rabs (J12 x m) * K <= g * g / 4) by (unfold K; lra). lra.
        -- rewrite Rabs_R0, (Rabs_right (J21 x m)) by lra. unfold K in *. lra.
  - exists (dF 2 2 (MB x) (WB x m) nomask eye). split; [now apply derivative_B|]. intros z [v [[i [b [Hi [Hb Nv]]]] Hv]].
    apply Rlt_le_trans with g; [|exact gd]. destruct (Ceq_dec z 0) as [->|Nz]; [rewrite Cmod_0; exact g0|].
    assert (V : forall k, (k < 2)%nat -> v k k = 0%C).
    { intros k Hk. assert (E := Hv k k Hk Hk). unfold csum in E. cbn [sum fst snd] in E.
      assert (Z0 : (z * v k k = 0)%C).
      { rewrite <- E. rewrite !J_rows by (auto; lia). unfold RtoC, Cmult. simpl. f_equal; ring. }
      destruct (Ceq_dec (v k k) 0) as [|N]; [assumption|]. exfalso. now apply (Cmult_neq_0 z (v k k) Nz N). }
    assert (E0 := Hv 0%nat 1%nat ltac:(lia) ltac:(lia)). assert (E1 := Hv 1%nat 0%nat ltac:(lia) ltac:(lia)).
    assert (S0 : (z * v 0%nat 1%nat = T1 x m * v 0%nat 1%nat + J12 x m * v 1%nat 0%nat)%C).
    { rewrite <- E0. unfold csum. cbn [sum fst snd]. rewrite (V 0%nat), (V 1%nat) by lia. rewrite (J_B x m x1 m0 0 1 0 1), (J_B x m x1 m0 0 1 1 0) by lia.
      unfold RtoC, Cmult, Cplus. simpl. f_equal; ring. }
    assert (S1 : (z * v 1%nat 0%nat = J21 x m * v 0%nat 1%nat)%C).
    { rewrite <- E1. unfold csum. cbn [sum fst snd]. rewrite (V 0%nat), (V 1%nat) by lia. rewrite (J_B x m x1 m0 1 0 0 1), (J_B x m x1 m0 1 0 1 0) by lia.
      unfold RtoC, Cmult, Cplus. simpl. f_equal; ring. }
    assert (N01 : v 0%nat 1%nat <> 0%C).
    { intro Q. rewrite Q in S1. assert (Q1 : v 1%nat 0%nat = 0%C).
      { destruct (Ceq_dec (v 1%nat 0%nat) 0) as [|N]; [assumption|]. exfalso. apply (Cmult_neq_0 z (v 1%nat 0%nat) Nz N). rewrite S1. ring. }
      apply Nv. destruct i as [|[|i]]; try lia; destruct b as [|[|b]]; try lia; auto. }
    apply (small_roots (T1 x m) (- (J12 x m * J21 x m)) g z g0).
    + rewrite Rabs_right by lra. lra.
    + rewrite EP, Ropp_involutive, Rabs_right by lra. nra.
    + assert (Q : (z * z * v 0%nat 1%nat = (T1 x m * z - - (J12 x m * J21 x m)%R) * v 0%nat 1%nat)%C).
      { replace (z * z * v 0%nat 1%nat)%C with (z * (z * v 0%nat 1%nat))%C by ring. rewrite S0.
        replace (z * (T1 x m * v 0%nat 1%nat + J12 x m * v 1%nat 0%nat))%C with (T1 x m * z * v 0%nat 1%nat + J12 x m * (z * v 1%nat 0%nat))%C by ring.
        rewrite S1, RtoC_mult. ring. }
      assert (R := f_equal (fun y => (y / v 0%nat 1%nat)%C) Q). cbv beta in R. unfold Cdiv in R. rewrite <- !Cmult_assoc, !Cinv_r, !Cmult_1_r in R by exact N01.
      rewrite RtoC_opp. exact R.
Qed.
