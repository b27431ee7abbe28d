(** own:hemisphere.  Orthogonal values and LayerNorm on the sphere: tokens of an open hemisphere meet.

    One head, no bias, orthogonal W(s), every token divided by its 2-norm; the mask as in wu2024:1 (every
    token sees itself, a centre c reaches all within r edges), A_ij(s) >= eps on the edges.  Let v be a unit
    vector with <X_i(0), v> >= gamma > 0 for all i, v_t = v W(0)...W(t-1), y_i(t) = X_i(t)/<X_i(t), v_t>.  Then
        all <X_i(t), v_t> >= gamma,   diam y(t) <= (1 - gamma eps^r)^(t/r) diam y(0),
        mu(X(t)) <= sqrt((n-1)/2) diam y(t),   diam y(0) <= 2 sqrt(1/gamma^2 - 1),
    t/r rounded down, diam in the Euclidean norm. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Rankmath Require Import Definitions Functions Norms Softmax Masks.
Local Open Scope R_scope.

Lemma dot_ext d u v u' v' : (forall a, (a < d)%nat -> u a = u' a) -> (forall a, (a < d)%nat -> v a = v' a) ->
  dot d u v = dot d u' v'.
Proof. intros H H'. unfold dot. apply sum_ext; intros. now rewrite H, H'. Qed.
Lemma l2_ext d u v : (forall a, (a < d)%nat -> u a = v a) -> l2 d u = l2 d v.
Proof. intros H. unfold l2. f_equal. now apply dot_ext. Qed.
Lemma dot_scal_l d c u v : dot d (fun a => c * u a) v = c * dot d u v.
Proof. unfold dot. rewrite <- sum_scal. apply sum_ext; intros; ring. Qed.
Lemma dot_scal_r d c u v : dot d u (fun a => c * v a) = c * dot d u v.
Proof. unfold dot. rewrite <- sum_scal. apply sum_ext; intros; ring. Qed.
Lemma l2_sq d u : l2 d u * l2 d u = dot d u u.
Proof. unfold l2. apply sqrt_sqrt, dot_pos. Qed.
Lemma l2_pos d u : 0 <= l2 d u.
Proof. apply sqrt_pos. Qed.
Lemma dot_vmat_l d n (p : vec) (Y : mat) v : dot d (vmat n p Y) v = sum n (fun j => p j * dot d (Y j) v).
Proof.
  unfold dot, vmat. rewrite (sum_ext d _ (fun a => sum n (fun j => p j * (Y j a * v a)))).
  - rewrite sum_swap. apply sum_ext; intros. now rewrite sum_scal.
  - intros a _. rewrite <- sum_scal_r. apply sum_ext; intros; ring.
Qed.

Lemma orthogonal_dot d W u v : orthogonal d W -> dot d (vmat d u W) (vmat d v W) = dot d u v.
Proof.
  intros H. rewrite dot_vmat_l. unfold dot at 2. apply sum_ext; intros a Ha. f_equal.
  unfold dot at 1. rewrite (sum_ext d _ (fun b => vmat d v W b * W a b)) by (intros; ring).
  change (sum d (fun b => vmat d v W b * W a b)) with (dot d (vmat d v W) (W a)). rewrite dot_vmat_l.
  rewrite (sum_single d _ a Ha).
  - rewrite H by assumption. unfold eye. rewrite Nat.eqb_refl. ring.
  - intros j Hj Hne. rewrite H by assumption. unfold eye. destruct (Nat.eqb_spec j a); [lia|ring].
Qed.
Lemma orthogonal_l2 d W u : orthogonal d W -> l2 d (vmat d u W) = l2 d u.
Proof. intros H. unfold l2. now rewrite orthogonal_dot. Qed.

Lemma sphere_unit d v : 0 < l2 d v -> l2 d (sphere d v) = 1.
Proof.
  intros H. assert (S := l2_sq d v). unfold l2 at 1.
  rewrite (dot_ext d (sphere d v) (sphere d v) (fun a => / l2 d v * v a) (fun a => / l2 d v * v a)) by (intros;
    unfold sphere, Rdiv; ring).
  rewrite dot_scal_l, dot_scal_r, <- S. replace (/ l2 d v * (/ l2 d v * (l2 d v * l2 d v))) with 1 by (field; lra).
  apply sqrt_1.
Qed.

(** sum_ik |X_i - X_k|^2 = 2 n mu^2 *)
Lemma mu_pairs n d X : (0 < n)%nat ->
  sum n (fun i => sum n (fun k => dot d (vsub (X i) (X k)) (vsub (X i) (X k)))) = 2 * INR n * (mu n d X * mu n d X).
Proof.
  intros Hn. assert (Pn : 0 < INR n) by (apply lt_0_INR; lia). rewrite mu_sq.
  rewrite sqrt_sqrt by (apply sum_nonneg; intros; apply sum_nonneg; intros; apply pow2_ge_0).
  rewrite (sum_ext n _ (fun i => sum d (fun a => sum n (fun k => (X i a - X k a) ^ 2)))).
  2: { intros i _. rewrite sum_swap. apply sum_ext; intros k _. unfold dot, vsub. apply sum_ext; intros; ring. }
  rewrite sum_swap, (sum_swap n d (fun i a => (X i a - mean n X a) ^ 2)), <- sum_scal. apply sum_ext; intros a _.
  unfold mean. set (m := sum n (fun i => X i a) / INR n).
  assert (Sm : sum n (fun i => X i a) = INR n * m) by (unfold m; field; lra).
  assert (Q : sum n (fun i => (X i a - m) ^ 2) = sum n (fun i => X i a ^ 2) - INR n * m ^ 2).
  { rewrite (sum_ext n _ (fun i => X i a ^ 2 - 2 * m * X i a + m ^ 2)) by (intros; ring).
    rewrite sum_plus, sum_minus, sum_scal, Sm, sum_const. ring. }
  rewrite Q. rewrite (sum_ext n _ (fun i => INR n * X i a ^ 2 - 2 * (INR n * m) * X i a + sum n (fun k => X k a ^ 2))).
  - rewrite sum_plus, sum_minus, !sum_scal, Sm, sum_const. ring.
  - intros i _. rewrite (sum_ext n _ (fun k => X i a ^ 2 - 2 * X i a * X k a + X k a ^ 2)) by (intros; ring).
    rewrite sum_plus, sum_minus, sum_scal, sum_const, Sm. ring.
Qed.

Lemma mu_diam n d X D : (0 < n)%nat -> 0 <= D ->
  (forall i k, (i < n)%nat -> (k < n)%nat -> l2 d (vsub (X i) (X k)) <= D) -> mu n d X <= sqrt ((INR n - 1) / 2) * D.
Proof.
  intros Hn D0 H. assert (Pn : 1 <= INR n) by (apply (le_INR 1); lia).
  assert (E := mu_pairs n d X Hn).
  assert (U : sum n (fun i => sum n (fun k => dot d (vsub (X i) (X k)) (vsub (X i) (X k)))) <= sum n (fun _ => (INR n -
    1) * (D * D))).
  { apply sum_le; intros i Hi.
    apply Rle_trans with (sum n (fun k => D * D - (if Nat.eqb k i then D * D else 0))).
    - apply sum_le; intros k Hk. destruct (Nat.eqb_spec k i) as [->|].
      + rewrite (dot_ext d _ _ (fun a => 0 * 0) (fun a => 0 * 0)) by (intros; unfold vsub; ring). rewrite dot_scal_l.
        lra.
      + rewrite <- l2_sq, Rminus_0_r. assert (P := l2_pos d (vsub (X i) (X k))). specialize (H i k Hi Hk).
        apply Rmult_le_compat; auto.
    - rewrite sum_minus, sum_const, (sum_single n (fun k => if Nat.eqb k i then D * D else 0) i Hi).
      + rewrite Nat.eqb_refl. lra.
      + intros j _ Hj. destruct (Nat.eqb_spec j i); [lia|reflexivity]. }
  rewrite sum_const, E in U. assert (M0 : 0 <= mu n d X) by apply sqrt_pos.
  apply Rsqr_incr_0_var; [|apply Rmult_le_pos; [apply sqrt_pos|exact D0]].
  rewrite Rsqr_mult, Rsqr_sqrt by lra. unfold Rsqr.
  apply Rmult_le_reg_l with (2 * INR n); [lra|]. lra.
Qed.

(** Points outside the unit ball are at least as far apart as their directions. *)
Lemma radial d x z a b : l2 d x = 1 -> l2 d z = 1 -> 1 <= a -> 1 <= b ->
  l2 d (vsub x z) <= l2 d (vsub (fun e => a * x e) (fun e => b * z e)).
Proof.
  intros X1 Z1 Ha Hb.
  assert (XX : dot d x x = 1) by (rewrite <- l2_sq, X1; ring).
  assert (ZZ : dot d z z = 1) by (rewrite <- l2_sq, Z1; ring).
  assert (C := dot_le_l2 d x z). rewrite X1, Z1, Rmult_1_l in C. assert (CL := Rle_abs (dot d x z)).
  assert (E : forall s t, dot d (vsub (fun e => s * x e) (fun e => t * z e)) (vsub (fun e => s * x e) (fun e => t * z
    e)) = s * s - 2 * (s * t) * dot d x z + t * t).
  { intros s t. unfold dot at 1, vsub. rewrite (sum_ext d _ (fun e => s * s * (x e * x e) - 2 * (s * t) * (x e * z e) +
      t * t * (z e * z e))) by (intros; ring).
    rewrite sum_plus, sum_minus, !sum_scal. fold (dot d x x) (dot d x z) (dot d z z). rewrite XX, ZZ. ring. }
  unfold l2. apply sqrt_le_1_alt. rewrite E.
  rewrite (dot_ext d (vsub x z) (vsub x z) (vsub (fun e => 1 * x e) (fun e => 1 * z e)) (vsub (fun e => 1 * x e) (fun e
    => 1 * z e))) by (intros; unfold vsub; ring).
  rewrite E. assert (Q := Rle_0_sqr (a - b)). unfold Rsqr in Q.
  assert (0 <= (a * b - 1) * (1 - dot d x z)) by (apply Rmult_le_pos; nra). nra.
Qed.

Section Hemisphere.
Variables (n d : nat) (A W : nat -> mat) (X : nat -> mat) (t : nat) (v : vec) (gamma : R).
Hypothesis n_pos : (0 < n)%nat.
Hypothesis St : forall s, (s < t)%nat -> row_stochastic n n (A s).
Hypothesis Or : forall s, (s < t)%nat -> orthogonal d (W s).
Hypothesis HX : forall s i a, (s < t)%nat -> (i < n)%nat -> (a < d)%nat ->
  X (S s) i a = sphere d (vmat d (vmat n (A s i) (X s)) (W s)) a.
Hypothesis U0 : forall i, (i < n)%nat -> l2 d (X 0%nat i) = 1.
Hypothesis v1 : l2 d v = 1.
Hypothesis gamma_pos : 0 < gamma.
Hypothesis hemi : forall i, (i < n)%nat -> gamma <= dot d (X 0%nat i) v.

Definition vt (s : nat) : vec := vmat d v (values d W s).
Definition height (s i : nat) : R := dot d (X s i) (vt s).
Definition Y (s : nat) : mat := fun i a => X s i a / height s i.
Definition lift (s i : nat) : R := l2 d (vmat n (A s i) (X s)).
Definition beta (s : nat) : mat := fun i j => A s i j * height s j / sum n (fun k => A s i k * height s k).

Lemma vt_step s a : vt (S s) a = vmat d (vt s) (W s) a.
Proof. unfold vt. simpl. now rewrite vmat_assoc. Qed.

Lemma vt_0 i : height 0 i = dot d (X 0%nat i) v.
Proof. unfold height, vt. simpl. apply dot_ext; [reflexivity|]. intros; now apply vmat_eye. Qed.

Lemma state s : (s <= t)%nat -> l2 d (vt s) = 1 /\ forall i, (i < n)%nat -> l2 d (X s i) = 1 /\ gamma <= height s i.
Proof.
  induction s as [|s IH]; intros Hs.
  - split; [rewrite <- v1; apply l2_ext; intros; unfold vt; simpl; now apply vmat_eye|].
    intros i Hi. split; [now apply U0|]. rewrite vt_0. now apply hemi.
  - destruct IH as [V1 IH]; [lia|]. assert (OW := Or s ltac:(lia)). destruct (St s ltac:(lia)) as [A0 A1].
    assert (V1' : l2 d (vt (S s)) = 1).
    { rewrite (l2_ext d (vt (S s)) (vmat d (vt s) (W s))) by (intros; apply vt_step). now rewrite orthogonal_l2. }
    split; [exact V1'|]. intros i Hi. set (u := vmat n (A s i) (X s)).
    assert (Su : gamma <= dot d u (vt s)).
    { unfold u. rewrite dot_vmat_l. rewrite <- (Rmult_1_l gamma), <- (A1 i Hi), <- sum_scal_r.
      apply sum_le; intros j Hj.
      apply Rmult_le_compat_l; [now apply A0|]. now apply IH. }
    assert (N1 : l2 d u <= 1).
    { eapply Rle_trans; [apply (sn_sum (L2 d) n (A s i) (X s))|]. rewrite <- (A1 i Hi). apply sum_le; intros j Hj.
      rewrite Rabs_right by (apply Rle_ge; now apply A0). change (L2 d (X s j)) with (l2 d (X s j)).
      destruct (IH j Hj) as [-> _]. lra. }
    assert (N0 : 0 < l2 d u).
    { assert (C := dot_le_l2 d u (vt s)). rewrite V1, Rmult_1_r in C. assert (L := Rle_abs (dot d u (vt s))). lra. }
    assert (EX : forall a, (a < d)%nat -> X (S s) i a = sphere d (vmat d u (W s)) a) by (intros; apply HX; auto; lia).
    assert (LW : l2 d (vmat d u (W s)) = l2 d u) by now apply orthogonal_l2.
    split.
    + rewrite (l2_ext d _ _ EX). apply sphere_unit. lra.
    + unfold height. rewrite (dot_ext d _ (vt (S s)) (fun a => / l2 d u * vmat d u (W s) a) (vmat d (vt s) (W s))).
      * rewrite dot_scal_l, orthogonal_dot by exact OW. apply Rmult_le_reg_l with (l2 d u); [exact N0|].
        rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. nra.
      * intros a Ha. rewrite EX by exact Ha. unfold sphere. rewrite LW. unfold Rdiv. ring.
      * intros a _. apply vt_step.
Qed.

Lemma height_b s i : (s <= t)%nat -> (i < n)%nat -> gamma <= height s i <= 1.
Proof.
  intros Hs Hi. destruct (state s Hs) as [V1 H]. destruct (H i Hi) as [X1 G]. split; [exact G|].
  assert (C := dot_le_l2 d (X s i) (vt s)). rewrite X1, V1, Rmult_1_l in C. unfold height.
  assert (L := Rle_abs (dot d (X s i) (vt s))). lra.
Qed.

(** One step: the mean's height, its norm, the next token. *)
Lemma step_facts s i : (s < t)%nat -> (i < n)%nat ->
  0 < lift s i <= 1 /\ sum n (fun k => A s i k * height s k) = lift s i * height (S s) i /\
  forall a, (a < d)%nat -> X (S s) i a = vmat d (vmat n (A s i) (X s)) (W s) a / lift s i.
Proof.
  intros Hs Hi. destruct (state s ltac:(lia)) as [V1 IH]. destruct (St s Hs) as [A0 A1]. assert (OW := Or s Hs).
  set (u := vmat n (A s i) (X s)).
  assert (E : sum n (fun k => A s i k * height s k) = dot d u (vt s)) by (unfold u; now rewrite dot_vmat_l).
  assert (Su : gamma <= dot d u (vt s)).
  { rewrite <- E. rewrite <- (Rmult_1_l gamma), <- (A1 i Hi), <- sum_scal_r. apply sum_le; intros j Hj.
    apply Rmult_le_compat_l; [now apply A0|]. apply IH; auto. }
  assert (N1 : lift s i <= 1).
  { eapply Rle_trans; [apply (sn_sum (L2 d) n (A s i) (X s))|]. rewrite <- (A1 i Hi). apply sum_le; intros j Hj.
    rewrite Rabs_right by (apply Rle_ge; now apply A0). change (L2 d (X s j)) with (l2 d (X s j)).
    destruct (IH j Hj) as [-> _]. lra. }
  assert (N0 : 0 < lift s i).
  { unfold lift. fold u. assert (C := dot_le_l2 d u (vt s)). rewrite V1, Rmult_1_r in C.
    assert (L := Rle_abs (dot d u (vt s))). lra. }
  assert (EX : forall a, (a < d)%nat -> X (S s) i a = vmat d u (W s) a / lift s i).
  { intros a Ha. rewrite HX by (auto; lia). unfold sphere. fold u. rewrite orthogonal_l2 by exact OW. reflexivity. }
  split; [split; assumption|]. split; [|exact EX].
  rewrite E. unfold height. rewrite (dot_ext d _ (vt (S s)) (fun a => / lift s i * vmat d u (W s) a) (vmat d (vt s) (W
    s))).
  - rewrite dot_scal_l, orthogonal_dot by exact OW. field. lra.
  - intros a Ha. rewrite EX by exact Ha. unfold Rdiv. ring.
  - intros a _. apply vt_step.
Qed.

Lemma beta_stochastic s : (s < t)%nat -> row_stochastic n n (beta s).
Proof.
  intros Hs. destruct (St s Hs) as [A0 A1].
  assert (S0 : forall i, (i < n)%nat -> 0 < sum n (fun k => A s i k * height s k)).
  { intros i Hi. destruct (step_facts s i Hs Hi) as [L [-> _]]. assert (H := height_b (S s) i ltac:(lia) Hi).
    apply Rmult_lt_0_compat; lra. }
  split.
  - intros i j Hi Hj. unfold beta. assert (H := height_b s j ltac:(lia) Hj). specialize (S0 i Hi).
    apply Rmult_le_pos; [apply Rmult_le_pos; [now apply A0|lra]|left; now apply Rinv_0_lt_compat].
  - intros i Hi. unfold beta, Rdiv. rewrite sum_scal_r. apply Rinv_r. specialize (S0 i Hi). lra.
Qed.

Lemma Y_step s i a : (s < t)%nat -> (i < n)%nat -> (a < d)%nat ->
  Y (S s) i a = vmat d (vmat n (beta s i) (Y s)) (W s) a + (fun _ => 0) a.
Proof.
  intros Hs Hi Ha. destruct (step_facts s i Hs Hi) as [L [E EX]]. assert (H := height_b (S s) i ltac:(lia) Hi).
  unfold Y at 1. rewrite EX by exact Ha.
  replace (vmat d (vmat n (beta s i) (Y s)) (W s) a) with (vmat d (vmat n (A s i) (X s)) (W s) a / sum n (fun k => A s
    i k * height s k)).
  - rewrite E. field. lra.
  - unfold Rdiv. unfold vmat at 1 3. rewrite <- sum_scal_r. apply sum_ext; intros e He.
    rewrite (Rmult_comm _ (/ _)), <- Rmult_assoc. f_equal. unfold vmat. rewrite <- sum_scal. apply sum_ext; intros j Hj.
    unfold beta, Y. assert (Hj' := height_b s j ltac:(lia) Hj).
    assert (0 < lift s i * height (S s) i) by (apply Rmult_lt_0_compat; lra).
    rewrite E. field. split; [|split]; lra.
Qed.

Section Rate.
Variables (G : mat) (c r : nat) (eps : R).
Hypothesis r_pos : (0 < r)%nat.
Hypothesis eps0 : 0 <= eps.
Hypothesis self : forall i, (i < n)%nat -> 0 < G i i.
Hypothesis cen : centre n G c r.
Hypothesis edge : forall s i j, (s < t)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= A s i j.

Lemma beta_lower s k i : (s + k <= t)%nat -> (i < n)%nat -> walk n G c k i ->
  eps ^ k * height s c / height (s + k) i <= steps n beta s k i c.
Proof.
  destruct cen as [Hc _]. revert i. induction k as [|k IH]; intros i Hk Hi Hw; simpl in Hw.
  - subst i. rewrite Nat.add_0_r. simpl. unfold eye. rewrite Nat.eqb_refl. assert (H := height_b s c ltac:(lia) Hc).
    right. field. lra.
  - destruct Hw as [j [Hj [Gj Hw]]]. specialize (IH j ltac:(lia) Hj Hw).
    destruct (beta_stochastic (s + k) ltac:(lia)) as [P0 _].
    destruct (steps_stochastic n beta s t (fun u Hu => beta_stochastic u ltac:(lia)) k ltac:(lia)) as [Q0 _].
    simpl steps. unfold mmul. eapply Rle_trans; [|apply (sum_term_le n (fun a => beta (s + k) i a * steps n beta s k a
      c) j)].
    + assert (H0 := height_b s c ltac:(lia) Hc). assert (H1 := height_b (s + k) j ltac:(lia) Hj).
      assert (H2 := height_b (s + S k) i ltac:(lia) Hi). replace (s + S k)%nat with (S (s + k)) in * by lia.
      destruct (step_facts (s + k) i ltac:(lia) Hi) as [L [E _]].
      assert (Ep := pow_le eps k eps0).
      assert (B : eps * height (s + k) j / height (S (s + k)) i <= beta (s + k) i j).
      { unfold beta. rewrite E. assert (Aij := edge (s + k)%nat i j ltac:(lia) Hi Hj Gj).
        apply Rmult_le_reg_r with (lift (s + k) i * height (S (s + k)) i); [apply Rmult_lt_0_compat; lra|].
        replace (A (s + k)%nat i j * height (s + k) j / (lift (s + k) i * height (S (s + k)) i) * (lift (s + k) i *
          height (S (s + k)) i))
          with (A (s + k)%nat i j * height (s + k) j) by (field; lra).
        replace (eps * height (s + k) j / height (S (s + k)) i * (lift (s + k) i * height (S (s + k)) i))
          with (eps * lift (s + k) i * height (s + k) j) by (field; lra).
        apply Rmult_le_compat_r; [lra|]. nra. }
      replace (eps ^ S k * height s c / height (S (s + k)) i) with ((eps * height (s + k) j / height (S (s + k)) i) *
        (eps ^ k * height s c / height (s + k) j))
        by (simpl; field; lra).
      apply Rmult_le_compat; [| |exact B|exact IH].
      * apply Rmult_le_pos; [apply Rmult_le_pos; lra|left; apply Rinv_0_lt_compat; lra].
      * apply Rmult_le_pos; [apply Rmult_le_pos; lra|left; apply Rinv_0_lt_compat; lra].
    + intros a Ha. apply Rmult_le_pos; [now apply P0|now apply Q0].
    + exact Hj.
Qed.

Lemma beta_contracts s : (s + r <= t)%nat -> contracts n (steps n beta s r) (1 - gamma * eps ^ r) /\ gamma * eps ^ r <=
  1.
Proof.
  intros Hs. destruct cen as [Hc Hr].
  assert (SS := steps_stochastic n beta s t (fun u Hu => beta_stochastic u ltac:(lia)) r ltac:(lia)).
  assert (Low : forall i, (i < n)%nat -> gamma * eps ^ r <= steps n beta s r i c).
  { intros i Hi. destruct (Hr i Hi) as [k [Hk Hw]]. eapply Rle_trans; [|apply (beta_lower s r i Hs Hi);
      now apply (walk_longer n G c k i r)].
    assert (H0 := height_b s c ltac:(lia) Hc). assert (H2 := height_b (s + r) i ltac:(lia) Hi).
    assert (Ep := pow_le eps r eps0).
    apply Rmult_le_reg_r with (height (s + r) i); [lra|]. unfold Rdiv.
    rewrite (Rmult_assoc _ (/ _)), Rinv_l, Rmult_1_r by lra.
    assert (gamma * height (s + r) i <= height s c) by nra. nra. }
  assert (S1 : sum n (fun b => if Nat.eqb b c then gamma * eps ^ r else 0) = gamma * eps ^ r).
  { rewrite (sum_single n _ c Hc); [now rewrite Nat.eqb_refl|]. intros j _ Hj.
    destruct (Nat.eqb_spec j c); [lia|reflexivity]. }
  split.
  - rewrite <- S1. apply contracts_doeblin; [exact SS|]. intros i b Hi Hb.
    destruct (Nat.eqb_spec b c) as [->|]; [now apply Low|]. destruct SS; auto.
  - eapply Rle_trans; [apply (Low c Hc)|]. destruct SS as [Q0 Q1]. rewrite <- (Q1 c Hc).
    apply (sum_term_le n (steps n beta s r c) c); auto.
Qed.

Lemma values_orthogonal s u : (s <= t)%nat -> l2 d (vmat d u (values d W s)) = l2 d u.
Proof.
  induction s as [|s IH]; intros Hs; simpl; [apply l2_ext; intros; now apply vmat_eye|].
  rewrite (l2_ext d _ (vmat d (vmat d u (values d W s)) (W s))) by (intros; now rewrite vmat_assoc).
  rewrite orthogonal_l2 by (apply Or; lia). apply IH; lia.
Qed.

Theorem hemisphere_rate : diam n (l2 d) (Y t) <= (1 - gamma * eps ^ r) ^ (t / r) * diam n (l2 d) (Y 0).
Proof.
  destruct (unroll n d beta W (fun _ _ => 0) Y t beta_stochastic Y_step) as [b HU].
  assert (q0 : 0 <= (1 - gamma * eps ^ r) ^ (t / r)).
  { destruct (Nat.le_gt_cases r t) as [H|H]; [apply pow_le; destruct (beta_contracts 0 ltac:(lia)); lra|].
    rewrite Nat.div_small by exact H. simpl. lra. }
  assert (C : contracts n (steps n beta 0 t) ((1 - gamma * eps ^ r) ^ (t / r))).
  { destruct (Nat.le_gt_cases r t) as [H|H].
    - apply contracts_blocks; [exact r_pos|destruct (beta_contracts 0 ltac:(lia)); lra|exact beta_stochastic|].
      intros s Hs. now apply beta_contracts.
    - rewrite Nat.div_small by exact H. simpl. apply contracts_stochastic.
      apply (steps_stochastic n beta 0 t); [intros; apply beta_stochastic; lia|lia]. }
  assert (D0 := diam_nonneg n (l2 d) (Y 0)).
  apply diam_lub; [now apply Rmult_le_pos|]. intros i k Hi Hk.
  rewrite (l2_ext d _ (vmat d (vsub (vmat n (steps n beta 0 t i) (Y 0)) (vmat n (steps n beta 0 t k) (Y 0))) (values d
    W t))).
  - rewrite values_orthogonal by lia. apply (C (L2 d) (Y 0%nat) _ D0); [|exact Hi|exact Hk]. intros. now apply diam_ub.
  - intros a Ha. unfold vsub at 1. rewrite !HU by assumption. rewrite <- vmat_sub. ring.
Qed.
End Rate.

Lemma pair_below s i k : (s <= t)%nat -> (i < n)%nat -> (k < n)%nat ->
  l2 d (vsub (X s i) (X s k)) <= diam n (l2 d) (Y s).
Proof.
  intros Hs Hi Hk. eapply Rle_trans; [|apply (diam_ub n (l2 d) (Y s) i k Hi Hk)]. destruct (state s Hs) as [_ H].
  assert (Bi := height_b s i Hs Hi). assert (Bk := height_b s k Hs Hk).
  assert (Inv : forall x, gamma <= x <= 1 -> 1 <= / x) by (intros x Hx; rewrite <- Rinv_1; apply Rinv_le_contravar;
    lra).
  eapply Rle_trans; [apply (radial d (X s i) (X s k) (/ height s i) (/ height s k)); auto; now apply H|].
  right. apply l2_ext. intros a _. unfold vsub, Y, Rdiv. ring.
Qed.

Lemma diam_start : diam n (l2 d) (Y 0) <= 2 * sqrt (/ gamma ^ 2 - 1).
Proof.
  assert (B : forall i, (i < n)%nat -> l2 d (vsub (Y 0 i) v) <= sqrt (/ gamma ^ 2 - 1)).
  { intros i Hi. unfold l2. apply sqrt_le_1_alt. assert (H := height_b 0 i ltac:(lia) Hi). rewrite vt_0 in H.
    assert (XX : dot d (X 0%nat i) (X 0%nat i) = 1) by (rewrite <- l2_sq, U0 by exact Hi; ring).
    assert (VV : dot d v v = 1) by (rewrite <- l2_sq, v1; ring). set (s := dot d (X 0%nat i) v) in *.
    assert (E : dot d (vsub (Y 0 i) v) (vsub (Y 0 i) v) = / s ^ 2 - 1).
    { unfold vsub, Y. rewrite vt_0. fold s. unfold dot at 1.
      rewrite (sum_ext d _ (fun e => / (s * s) * (X 0%nat i e * X 0%nat i e) - 2 / s * (X 0%nat i e * v e) + v e * v
        e)) by (intros; field; lra).
      rewrite sum_plus, sum_minus, !sum_scal. fold (dot d (X 0%nat i) (X 0%nat i)) (dot d (X 0%nat i) v) (dot d v v).
      rewrite XX, VV. fold s. field. lra. }
    rewrite E. assert (/ s ^ 2 <= / gamma ^ 2) by (apply Rinv_le_contravar; [nra|apply pow_incr; lra]). lra. }
  apply diam_lub; [assert (H := sqrt_pos (/ gamma ^ 2 - 1)); lra|]. intros i k Hi Hk.
  assert (T := sn_tri (L2 d) (Y 0 i) v (Y 0 k)). rewrite (sn_sym (L2 d) v (Y 0 k)) in T.
  specialize (B i Hi) as Bi. specialize (B k Hk) as Bk. change (sn (L2 d)) with (l2 d) in T. lra.
Qed.
End Hemisphere.

Lemma sphere_orbit_step n d Ly X s i : nheads (Ly s) = 1%nat -> (forall a, bout (Ly s) a = 0) ->
  sphere_orbit n d Ly X (S s) i = sphere d (vmat d (vmat n (sphere_attention n d Ly X s i) (sphere_orbit n d Ly X s))
    (WV (hd (Ly s) 0))).
Proof.
  intros H B. unfold sphere_orbit at 1. simpl. unfold block_map. cbn [normalised tok skip att]. f_equal.
  apply functional_extensionality. intro a. unfold SA. rewrite H, B. cbn [sum]. unfold sphere_attention, sphere_orbit.
  ring.
Qed.

Theorem hemisphere_pairs n d (Ly : nat -> layer) (G : mat) c r eps v gamma t X :
  (0 < n)%nat -> (0 < r)%nat -> 0 <= eps ->
  (forall s, (s < t)%nat -> nheads (Ly s) = 1%nat /\ mask (hd (Ly s) 0) = G /\
     (forall a, bout (Ly s) a = 0) /\ orthogonal d (WV (hd (Ly s) 0))) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j) ->
  (forall i, (i < n)%nat -> 0 < G i i) ->
  centre n G c r ->
  (forall s i j, (s < t)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= sphere_attention n d Ly X s i j) ->
  (forall i, (i < n)%nat -> l2 d (X i) = 1) -> l2 d v = 1 -> 0 < gamma ->
  (forall i, (i < n)%nat -> gamma <= dot d (X i) v) ->
  (forall i, (i < n)%nat -> l2 d (sphere_orbit n d Ly X t i) = 1 /\
     gamma <= dot d (sphere_orbit n d Ly X t i) (carried d Ly v t)) /\
  diam n (l2 d) (gnomonic n d Ly X v t) <= (1 - gamma * eps ^ r) ^ (t / r) * diam n (l2 d) (gnomonic n d Ly X v 0) /\
  (forall i k, (i < n)%nat -> (k < n)%nat ->
     l2 d (vsub (sphere_orbit n d Ly X t i) (sphere_orbit n d Ly X t k)) <= diam n (l2 d) (gnomonic n d Ly X v t)) /\
  diam n (l2 d) (gnomonic n d Ly X v 0) <= 2 * sqrt (/ gamma ^ 2 - 1).
Proof.
  intros Hn Hr E0 HL G0 G1 Hc HA U0 V1 Gp Hv.
  set (A := sphere_attention n d Ly X). set (W := layer_value Ly). set (Z := sphere_orbit n d Ly X).
  assert (St : forall s, (s < t)%nat -> row_stochastic n n (A s)).
  { intros s Hs. apply attn_stochastic. destruct (HL s Hs) as [_ [-> _]]. split; [exact G0|]. intros i Hi. exists i.
    auto. }
  assert (Or : forall s, (s < t)%nat -> orthogonal d (W s)) by (intros; now apply HL).
  assert (HZ : forall s i a, (s < t)%nat -> (i < n)%nat -> (a < d)%nat ->
    Z (S s) i a = sphere d (vmat d (vmat n (A s i) (Z s)) (W s)) a).
  { intros s i a Hs _ _. unfold Z at 1. rewrite sphere_orbit_step by now apply HL. reflexivity. }
  split; [|split; [|split]].
  - intros i Hi. now apply (state n d A W Z t v gamma Hn St Or HZ U0 V1 Gp Hv t (le_n t)).
  - now apply (hemisphere_rate n d A W Z t v gamma Hn St Or HZ U0 V1 Gp Hv G c r eps).
  - intros i k. now apply (pair_below n d A W Z t v gamma Hn St Or HZ U0 V1 Gp Hv t).
  - now apply (diam_start n d A W Z t v gamma Hn St Or HZ U0 V1 Gp Hv).
Qed.

Theorem hemisphere n d (Ly : nat -> layer) (G : mat) c r eps v gamma t X :
  (0 < n)%nat -> (0 < r)%nat -> 0 <= eps ->
  (forall s, (s < t)%nat -> nheads (Ly s) = 1%nat /\ mask (hd (Ly s) 0) = G /\
     (forall a, bout (Ly s) a = 0) /\ orthogonal d (WV (hd (Ly s) 0))) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j) ->
  (forall i, (i < n)%nat -> 0 < G i i) ->
  centre n G c r ->
  (forall s i j, (s < t)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= sphere_attention n d Ly X s i j) ->
  (forall i, (i < n)%nat -> l2 d (X i) = 1) -> l2 d v = 1 -> 0 < gamma ->
  (forall i, (i < n)%nat -> gamma <= dot d (X i) v) ->
  (forall i, (i < n)%nat -> l2 d (sphere_orbit n d Ly X t i) = 1 /\
     gamma <= dot d (sphere_orbit n d Ly X t i) (carried d Ly v t)) /\
  diam n (l2 d) (gnomonic n d Ly X v t) <= (1 - gamma * eps ^ r) ^ (t / r) * diam n (l2 d) (gnomonic n d Ly X v 0) /\
  mu n d (sphere_orbit n d Ly X t) <= sqrt ((INR n - 1) / 2) * diam n (l2 d) (gnomonic n d Ly X v t) /\
  diam n (l2 d) (gnomonic n d Ly X v 0) <= 2 * sqrt (/ gamma ^ 2 - 1).
Proof.
  intros Hn Hr E0 HL G0 G1 Hc HA U0 V1 Gp Hv.
  destruct (hemisphere_pairs n d Ly G c r eps v gamma t X Hn Hr E0 HL G0 G1 Hc HA U0 V1 Gp Hv) as [A1 [A2 [A3 A4]]].
  split; [exact A1|split; [exact A2|split; [|exact A4]]]. now apply mu_diam; [|apply diam_nonneg|].
Qed.
