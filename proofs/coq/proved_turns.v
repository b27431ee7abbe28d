(** Registered statements about a causal token that sees itself and others in one direction, as Statements.v prints
    them: how fast it leaves the far side, how it climbs, and how it turns behind RMSNorm. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Sums Definitions Norms SphereLayer Language LanguageFacts Statements.
Local Open Scope R_scope.

Lemma unit_dot d (x : vector d) : 0 < l2 d x -> dot d (unit_of x) (unit_of x) = 1.
Proof.
  intros Hx. unfold unit_of, dot. rewrite (sum_ext d _ (fun a => / l2 d x * / l2 d x * (x a * x a))) by (intros;
    unfold Rdiv; ring).
  rewrite sum_scal. fold (dot d x x). assert (E : dot d x x = l2 d x * l2 d x) by (symmetry; apply sqrt_sqrt, dot_pos).
  rewrite E. field. lra.
Qed.

Lemma entry_unit d (u : vector d) i : (i < d)%nat -> dot d u u = 1 -> -1 <= u i <= 1.
Proof.
  intros Hi U. assert (T := sum_term_le d (fun a => u a * u a) i ltac:(intros; nra) Hi). cbv beta in T.
  unfold dot in U. rewrite U in T. nra.
Qed.

Lemma exp_mono x y : x <= y -> exp x <= exp y.
Proof. intros [Lt|Eq]; [left; now apply exp_increasing|right; now rewrite Eq]. Qed.

(* ---------- the second value ---------- *)
Theorem proved_own_flow_second_value : statement_own_flow_second_value.
Proof.
  intros d lam B x m Hd Hx s Hx0 Hl H0 Hm. unfold first_value, second_value, form_size in *.
  assert (U := unit_dot d x Hx). set (u := unit_of x) in *.
  assert (L : l2 d u = 1) by (unfold l2; rewrite U; apply sqrt_1).
  assert (u0 : -1 <= u 0%nat < 0).
  { split; [apply (entry_unit d u 0%nat ltac:(lia) U)|]. unfold u, unit_of, Rdiv.
    assert (0 < / l2 d x) by now apply Rinv_0_lt_compat. nra. }
  assert (E1 : l2 d (eye 0%nat) = 1).
  { unfold l2, dot. rewrite (sum_single d _ 0%nat); [unfold eye; rewrite Nat.eqb_refl, Rmult_1_l; apply sqrt_1|lia|].
    intros j _ Ne. unfold eye. assert (Nat.eqb 0 j = false) as -> by (apply Nat.eqb_neq; lia). ring. }
  assert (Bo := bil_spectral d B u u). assert (Be := bil_spectral d B u (eye 0%nat)). rewrite L in Bo. rewrite L, E1 in Be.
  apply Rabs_le_between in Bo. apply Rabs_le_between in Be. destruct Bo, Be.
  unfold tilting. fold u. set (o := bil d u B u) in *. set (z := bil d u B (eye 0%nat)) in *.
  assert (q0 : 0 < exp z) by apply exp_pos. assert (p0 : 0 < exp o) by apply exp_pos. assert (s0 : 0 < s) by apply exp_pos.
  assert (ps : exp o <= s * exp z).
  { unfold s. rewrite <- exp_plus. apply exp_mono. lra. }
  set (q := exp z) in *. set (p := exp o) in *.
  assert (mq : 0 < m * q) by (apply Rmult_lt_0_compat; lra).
  assert (far : m * q * lam 0%nat <= m * q * lam 0%nat / - u 0%nat).
  { assert (P : 0 <= m * q * lam 0%nat) by (apply Rmult_le_pos; lra). apply (Rle_div_r _ _ (- u 0%nat)); [lra|]. nra. }
  apply Rle_ge. apply Rle_trans with ((m * q * lam 0%nat - p * (lam 0%nat - lam 1%nat)) / (m * q + p)).
  - assert (D : 0 < m * q + p) by lra. apply (Rmult_le_reg_r ((m + s) * (m * q + p))); [nra|].
    replace ((m * lam 0%nat - s * (lam 0%nat - lam 1%nat)) / (m + s) * ((m + s) * (m * q + p)))
      with ((m * lam 0%nat - s * (lam 0%nat - lam 1%nat)) * (m * q + p)) by (field; lra).
    replace ((m * q * lam 0%nat - p * (lam 0%nat - lam 1%nat)) / (m * q + p) * ((m + s) * (m * q + p)))
      with ((m * q * lam 0%nat - p * (lam 0%nat - lam 1%nat)) * (m + s)) by (field; lra).
    assert (T : 0 <= m * (lam 0%nat + (lam 0%nat - lam 1%nat)) * (s * q - p)).
    { apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]. }
    nra.
  - apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|lra].
Qed.

(* ---------- climbing ---------- *)
Theorem proved_own_flow_subspace : statement_own_flow_subspace.
Proof.
  intros d lam c x m Hd Hx Hm. assert (U := unit_dot d x Hx). unfold rise, pace. set (u := unit_of x) in *.
  set (g := drive lam c u m). set (Z := drive_sum lam c u m). set (v := across_drive lam c u m). set (K := largest_size lam).
  assert (Vg : dot d g v = dot d v v).
  { assert (P : dot d u v = 0).
    { unfold v, across_drive, dot. fold g. rewrite (sum_ext d _ (fun a => g a * u a - dot d g u * (u a * u a)))
        by (intros; unfold dot; ring).
      rewrite sum_minus, sum_scal. fold (dot d g u) (dot d u u). rewrite U. ring. }
    assert (G : dot d g v = dot d v v + dot d g u * dot d u v).
    { unfold dot at 1 2 4. rewrite <- sum_scal, <- sum_plus. apply sum_ext; intros a _. unfold v, across_drive. fold g. ring. }
    rewrite G, P. ring. }
  assert (Lk : forall a, (a < d)%nat -> Rabs (lam a) <= K) by (intros a Ha; exact (largest_ub d (fun i => Rabs (lam i)) a Ha)).
  assert (K0 : 0 <= K) by (eapply Rle_trans; [apply Rabs_pos|apply (Lk 0%nat Hd)]).
  assert (W : forall t, Rabs t <= K -> exp (0 - Rabs c * K) <= exp (c * t)).
  { intros t Ht. assert (Q : - (Rabs c * K) <= c * t).
    { assert (Rabs (c * t) <= Rabs c * K) by (rewrite Rabs_mult; apply Rmult_le_compat_l; [apply Rabs_pos|exact Ht]).
      assert (A := Rle_abs (- (c * t))). rewrite Rabs_Ropp in A. lra. }
    apply exp_mono. lra. }
  assert (u0 := entry_unit d u 0%nat Hd U).
  assert (W1 : exp (0 - Rabs c * K) <= exp (c * (lam 0%nat * u 0%nat))).
  { apply W. rewrite Rabs_mult. assert (Rabs (u 0%nat) <= 1) by (apply Rabs_le; lra).
    assert (A := Lk 0%nat Hd). assert (B := Rabs_pos (lam 0%nat)). assert (C := Rabs_pos (u 0%nat)). nra. }
  assert (W2 : exp (0 - Rabs c * K) <= exp (c * sum d (fun a => lam a * u a ^ 2))).
  { apply W. eapply Rle_trans; [apply sum_abs|]. replace K with (K * dot d u u) by (rewrite U; ring).
    unfold dot. rewrite <- sum_scal. apply sum_le; intros a Ha. rewrite Rabs_mult, (Rabs_pos_eq (u a ^ 2)) by nra.
    assert (A := Lk a Ha). assert (0 <= u a ^ 2) by nra. simpl. nra. }
  assert (Z0 : (m + 1) * exp (0 - Rabs c * K) <= Z) by (unfold Z, drive_sum; nra).
  assert (e0 : 0 < exp (0 - Rabs c * K)) by apply exp_pos. assert (Zp : 0 < Z) by nra.
  rewrite Vg. unfold l2. apply Rle_ge. assert (Q : 0 <= dot d v v) by apply dot_pos.
  replace ((sqrt (dot d v v) / Z) ^ 2) with (dot d v v / Z * / Z)
    by (rewrite <- (sqrt_sqrt (dot d v v)) at 1 by exact Q; field; lra).
  replace (dot d v v / Z) with (Z * (dot d v v / Z * / Z)) at 2 by (field; lra).
  apply Rmult_le_compat_r; [|exact Z0]. assert (0 < / Z) by now apply Rinv_0_lt_compat. unfold Rdiv. apply Rmult_le_pos; nra.
Qed.

(* ---------- behind RMSNorm ---------- *)
Theorem proved_own_pre_norm_symmetric : statement_own_pre_norm_symmetric.
Proof.
  intros d lam x p Hd [x0 side] Hl Hp0 Hp1. unfold least_value in Hl. destruct d as [|d]; [lia|].
  set (a := root_square x). set (y := (fun i => x i * (1 + p * lam i / a)
    + (if Nat.eqb i 0 then (1 - p) * lam 0%nat * sqrt (INR (S d)) else 0)) : vector (S d)).
  replace (S d - 1)%nat with d in * by lia.
  assert (lpos : forall i, (i < S d)%nat -> 0 <= lam i) by (intros i Hi; assert (T := least_lb (S d) lam i Hi); lra).
  assert (a0 : 0 < a).
  { apply sqrt_lt_R0. apply Rdiv_lt_0_compat; [|apply lt_0_INR; lia]. rewrite sum_head. nra. }
  assert (ia : 0 < / a) by now apply Rinv_0_lt_compat.
  assert (F : y 0%nat = x 0%nat * forward lam x p).
  { unfold y, forward. fold a. simpl Nat.eqb. cbv iota. field. lra. }
  assert (f0 : 0 < forward lam x p).
  { unfold forward. fold a. assert (0 <= p * lam 0%nat / a) by (unfold Rdiv; assert (T := lpos 0%nat ltac:(lia));
      apply Rmult_le_pos; nra).
    assert (0 <= (1 - p) * lam 0%nat * sqrt (INR (S d)) / x 0%nat).
    { unfold Rdiv. assert (T := lpos 0%nat ltac:(lia)). apply Rmult_le_pos; [|left; now apply Rinv_0_lt_compat].
      apply Rmult_le_pos; [apply Rmult_le_pos; lra|apply sqrt_pos]. }
    lra. }
  assert (t0 : 0 < beside x) by (unfold beside; replace (S d - 1)%nat with d by lia; now apply sqrt_lt_R0).
  assert (N : narrowing lam x p * forward lam x p = beside y / beside x).
  { change (narrowing lam x p) with (beside y * x 0%nat / (y 0%nat * beside x)). rewrite F. field.
    repeat split; lra. }
  rewrite N.
  assert (Sc : forall c, 0 <= c -> sqrt (sum d (fun i => (c * x (S i)) ^ 2)) = c * beside x).
  { intros c Hc. unfold beside. replace (S d - 1)%nat with d by lia.
    rewrite (sum_ext d _ (fun i => c ^ 2 * x (S i) ^ 2)) by (intros; ring). rewrite sum_scal, sqrt_mult_alt by nra.
    f_equal. now apply sqrt_pow2. }
  assert (Y : forall i, (i < d)%nat -> y (S i) = (1 + p * lam (S i) / a) * x (S i)) by (intros; unfold y; simpl; ring).
  assert (B : beside y = sqrt (sum d (fun i => ((1 + p * lam (S i) / a) * x (S i)) ^ 2))).
  { unfold beside. replace (S d - 1)%nat with d by lia. f_equal. apply sum_ext; intros i Hi. now rewrite Y. }
  assert (M : forall s t, 0 <= s <= t -> p * s / a <= p * t / a) by (intros s t H; unfold Rdiv; apply Rmult_le_compat_r; nra).
  assert (G : forall s, 0 <= s -> 0 <= p * s / a) by (intros s H; unfold Rdiv; apply Rmult_le_pos; nra).
  assert (D1 : (0 < d)%nat) by lia.
  split.
  - apply Rle_div_l; [exact t0|]. unfold largest_rest. replace (S d - 1)%nat with d by lia.
    set (l := largest d (fun i => lam (S i))).
    assert (l1 : forall i, (i < d)%nat -> lam (S i) <= l) by (intros i Hi; exact (largest_ub d (fun i => lam (S i)) i Hi)).
    assert (l0 : 0 <= l) by (eapply Rle_trans; [apply (lpos 1%nat); lia|apply (l1 0%nat D1)]).
    rewrite <- Sc by (assert (T := G l l0); lra). rewrite B. apply sqrt_le_1_alt, sum_le. intros i Hi.
    assert (T := M _ _ (conj (lpos (S i) ltac:(lia)) (l1 i Hi))). assert (T0 := G _ (lpos (S i) ltac:(lia))).
    rewrite !Rpow_mult_distr. apply Rmult_le_compat_r; [nra|]. nra.
  - apply Rle_ge. apply Rle_div_r; [exact t0|]. unfold least_rest. replace (S d - 1)%nat with d by lia.
    set (l := least d (fun i => lam (S i))).
    assert (l1 : forall i, (i < d)%nat -> l <= lam (S i)) by (intros i Hi; exact (least_lb d (fun i => lam (S i)) i Hi)).
    assert (l0 : 0 <= l) by (apply least_glb; [exact D1|intros j Hj; apply lpos; lia]).
    rewrite <- Sc by (assert (T := G l l0); lra). rewrite B. apply sqrt_le_1_alt, sum_le. intros i Hi.
    assert (T := M _ _ (conj l0 (l1 i Hi))). assert (T0 := G l l0).
    rewrite !Rpow_mult_distr. apply Rmult_le_compat_r; [nra|]. nra.
Qed.
