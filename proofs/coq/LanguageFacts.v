(** What is proved of the words of Language.v: largest and least entries, suprema and infima, the spectral norm. *)
Require Import Reals Lra Lia Psatz Classical.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms Language.
Local Open Scope R_scope.

(* ---------- the largest and the least of finitely many ---------- *)
Lemma largest_ub n f j : (j < n)%nat -> f j <= largest n f.
Proof.
  induction n as [|n IH]; intros H; [lia|]. destruct n as [|n]; [replace j with 0%nat by lia; simpl; lra|].
  change (f j <= Rmax (largest (S n) f) (f (S n))). destruct (Nat.eq_dec j (S n)) as [->|]; [apply Rmax_r|].
  eapply Rle_trans; [apply IH; lia|apply Rmax_l].
Qed.

Lemma largest_lub n f b : (0 < n)%nat -> (forall j, (j < n)%nat -> f j <= b) -> largest n f <= b.
Proof.
  induction n as [|n IH]; intros H0 H; [lia|]. destruct n as [|n]; [apply H; lia|].
  change (Rmax (largest (S n) f) (f (S n)) <= b). apply Rmax_lub; [apply IH; [lia|auto]|auto].
Qed.

Lemma largest_attained n f : (0 < n)%nat -> exists j, (j < n)%nat /\ largest n f = f j.
Proof.
  induction n as [|n IH]; intros H; [lia|]. destruct n as [|n]; [exists 0%nat; split; [lia|reflexivity]|].
  change (exists j, (j < S (S n))%nat /\ Rmax (largest (S n) f) (f (S n)) = f j).
  unfold Rmax. destruct Rle_dec; [exists (S n); split; [lia|reflexivity]|].
  destruct (IH ltac:(lia)) as [j [Hj E]]. exists j. split; [lia|exact E].
Qed.

Lemma least_lb n f j : (j < n)%nat -> least n f <= f j.
Proof.
  induction n as [|n IH]; intros H; [lia|]. destruct n as [|n]; [replace j with 0%nat by lia; simpl; lra|].
  change (Rmin (least (S n) f) (f (S n)) <= f j). destruct (Nat.eq_dec j (S n)) as [->|]; [apply Rmin_r|].
  eapply Rle_trans; [apply Rmin_l|apply IH; lia].
Qed.

Lemma least_glb n f b : (0 < n)%nat -> (forall j, (j < n)%nat -> b <= f j) -> b <= least n f.
Proof.
  induction n as [|n IH]; intros H0 H; [lia|]. destruct n as [|n]; [apply H; lia|].
  change (b <= Rmin (least (S n) f) (f (S n))). apply Rmin_glb; [apply IH; [lia|auto]|auto].
Qed.

Lemma least_attained n f : (0 < n)%nat -> exists j, (j < n)%nat /\ least n f = f j.
Proof.
  induction n as [|n IH]; intros H; [lia|]. destruct n as [|n]; [exists 0%nat; split; [lia|reflexivity]|].
  change (exists j, (j < S (S n))%nat /\ Rmin (least (S n) f) (f (S n)) = f j).
  unfold Rmin. destruct Rle_dec; [|exists (S n); split; [lia|reflexivity]].
  destruct (IH ltac:(lia)) as [j [Hj E]]. exists j. split; [lia|exact E].
Qed.

Lemma largest_ext n f g : (forall j, (j < n)%nat -> f j = g j) -> largest n f = largest n g.
Proof.
  induction n as [|n IH]; intros H; [reflexivity|]. destruct n as [|n]; [apply H; lia|].
  change (Rmax (largest (S n) f) (f (S n)) = Rmax (largest (S n) g) (g (S n))). rewrite IH, H by auto. reflexivity.
Qed.

Lemma least_ext n f g : (forall j, (j < n)%nat -> f j = g j) -> least n f = least n g.
Proof.
  induction n as [|n IH]; intros H; [reflexivity|]. destruct n as [|n]; [apply H; lia|].
  change (Rmin (least (S n) f) (f (S n)) = Rmin (least (S n) g) (g (S n))). rewrite IH, H by auto. reflexivity.
Qed.

(** Of what is not negative it is the maximum that the proofs speak of. *)
Lemma largest_maxf n f : (forall j, (j < n)%nat -> 0 <= f j) -> largest n f = maxf n f.
Proof.
  intros H. destruct n as [|n]; [reflexivity|]. apply Rle_antisym.
  - apply largest_lub; [lia|]. intros j Hj. now apply maxf_ub.
  - apply maxf_lub; [|intros; now apply largest_ub].
    eapply Rle_trans; [apply (H 0%nat); lia|apply largest_ub; lia].
Qed.

Lemma osc_spec m (v : vector m) j k : (j < m)%nat -> (k < m)%nat -> v j - v k <= osc v.
Proof. intros Hj Hk. unfold osc. assert (A := largest_ub m v j Hj). assert (B := least_lb m v k Hk). lra. Qed.
Lemma osc_nonneg m (v : vector m) : (0 < m)%nat -> 0 <= osc v.
Proof. intros H. assert (A := osc_spec m v 0 0 H H). lra. Qed.

(* ---------- suprema and infima ---------- *)
Lemma sup_le (S : R -> Prop) b : (exists x, S x) -> (forall x, S x -> x <= b) -> sup_of S <= b.
Proof.
  intros [x Hx] H. unfold sup_of. destruct (Lub_Rbar_correct S) as [U L].
  assert (A := L (Finite b) ltac:(intros y Hy; simpl; now apply H)). specialize (U x Hx).
  destruct (Lub_Rbar S); simpl in *; try easy.
Qed.

Lemma sup_le_nonneg (S : R -> Prop) b : 0 <= b -> (forall x, S x -> x <= b) -> sup_of S <= b.
Proof.
  intros H0 H. destruct (classic (exists x, S x)) as [E|E]; [now apply sup_le|].
  unfold sup_of. destruct (Lub_Rbar_correct S) as [U L].
  assert (A := L m_infty ltac:(intros y Hy; exfalso; apply E; now exists y)).
  destruct (Lub_Rbar S); simpl in *; try easy; lra.
Qed.

Lemma sup_ub (S : R -> Prop) b x : (forall y, S y -> y <= b) -> S x -> x <= sup_of S.
Proof.
  intros H Hx. unfold sup_of. destruct (Lub_Rbar_correct S) as [U L].
  assert (A := L (Finite b) ltac:(intros y Hy; simpl; now apply H)). specialize (U x Hx).
  destruct (Lub_Rbar S); simpl in *; try easy.
Qed.

Lemma inf_ge (S : R -> Prop) b : (exists x, S x) -> (forall x, S x -> b <= x) -> b <= inf_of S.
Proof.
  intros [x Hx] H. unfold inf_of. destruct (Glb_Rbar_correct S) as [U L].
  assert (A := L (Finite b) ltac:(intros y Hy; simpl; now apply H)). specialize (U x Hx).
  destruct (Glb_Rbar S); simpl in *; try easy.
Qed.

Lemma inf_lb (S : R -> Prop) b x : (forall y, S y -> b <= y) -> S x -> inf_of S <= x.
Proof.
  intros H Hx. unfold inf_of. destruct (Glb_Rbar_correct S) as [U L].
  assert (A := L (Finite b) ltac:(intros y Hy; simpl; now apply H)). specialize (U x Hx).
  destruct (Glb_Rbar S); simpl in *; try easy.
Qed.

(** Where a least element is there, it is the infimum; and likewise. *)
Lemma inf_is (S : R -> Prop) x : S x -> (forall y, S y -> x <= y) -> inf_of S = x.
Proof. intros Hx H. apply Rle_antisym; [now apply (inf_lb S x)|apply inf_ge; [now exists x|exact H]]. Qed.
Lemma sup_is (S : R -> Prop) x : S x -> (forall y, S y -> y <= x) -> sup_of S = x.
Proof. intros Hx H. apply Rle_antisym; [apply sup_le; [now exists x|exact H]|now apply (sup_ub S x)]. Qed.

(* ---------- the spectral norm ---------- *)
Lemma l2_scal d c u : l2 d (fun a => c * u a) = Rabs c * l2 d u.
Proof. exact (sn_scal (L2 d) c u). Qed.
Lemma l2_nonneg d u : 0 <= l2 d u.
Proof. apply sqrt_pos. Qed.
Lemma l2_zero d : l2 d (fun _ => 0) = 0.
Proof. exact (sn_zero (L2 d)). Qed.

Lemma frob_columns n m (A : mat) v : l2 m (vmat n v A) <= frob n m A * l2 n v.
Proof.
  rewrite frob_cols. unfold l2. rewrite <- sqrt_mult_alt by (apply sum_nonneg; intros; apply dot_pos).
  apply sqrt_le_1_alt. unfold dot at 1. rewrite <- sum_scal_r. apply sum_le; intros b _.
  rewrite (Rmult_comm (dot n (fun a => A a b) (fun a => A a b))). apply (cauchy_schwarz n v (fun a => A a b)).
Qed.

Lemma spectral_set_bound n m (A : matrix n m) x :
  (exists v : vec, l2 n v <= 1 /\ x = l2 m (vmat n v A)) -> x <= frob n m A.
Proof.
  intros [v [Hv ->]]. eapply Rle_trans; [apply frob_columns|].
  assert (F : 0 <= frob n m A) by apply sqrt_pos. nra.
Qed.

Lemma spectral_nonneg n m (A : matrix n m) : 0 <= spectral A.
Proof.
  eapply Rle_trans; [|apply (sup_ub _ (frob n m A) (l2 m (vmat n (fun _ => 0) A)))].
  - apply l2_nonneg.
  - apply spectral_set_bound.
  - exists (fun _ => 0). split; [rewrite l2_zero; lra|reflexivity].
Qed.

(** |v A| <= spectral A |v| *)
Lemma spectral_bound n m (A : matrix n m) v : l2 m (vmat n v A) <= spectral A * l2 n v.
Proof.
  assert (S0 := spectral_nonneg n m A). assert (V := l2_nonneg n v). destruct V as [V|V].
  - assert (E : l2 m (vmat n (fun a => / l2 n v * v a) A) <= spectral A).
    { apply (sup_ub _ (frob n m A)); [apply spectral_set_bound|]. eexists. split; [|reflexivity].
      rewrite l2_scal, Rabs_right by (left; now apply Rinv_0_lt_compat). rewrite Rinv_l by lra. lra. }
    assert (Q : l2 m (vmat n (fun a => / l2 n v * v a) A) = l2 m (fun b => / l2 n v * vmat n v A b)).
    { apply (sn_ext (L2 m)); intro; apply vmat_scal. }
    rewrite Q in E.
    rewrite l2_scal, Rabs_right in E by (left; now apply Rinv_0_lt_compat).
    apply Rmult_le_reg_l with (/ l2 n v); [now apply Rinv_0_lt_compat|].
    replace (/ l2 n v * (spectral A * l2 n v)) with (spectral A) by (field; lra). exact E.
  - eapply Rle_trans; [apply frob_columns|]. rewrite <- V. lra.
Qed.

Lemma spectral_le n m (A : matrix n m) c : 0 <= c -> (forall v, l2 m (vmat n v A) <= c * l2 n v) -> spectral A <= c.
Proof.
  intros H0 H. apply sup_le_nonneg; [exact H0|]. intros x [v [Hv ->]].
  eapply Rle_trans; [apply H|]. nra.
Qed.

Lemma bil_spectral d (M : matrix d d) u v : Rabs (bil d u M v) <= spectral M * l2 d u * l2 d v.
Proof.
  rewrite bil_dot. eapply Rle_trans; [apply dot_le_l2|].
  apply Rmult_le_compat_r; [apply l2_nonneg|]. apply spectral_bound.
Qed.

(* ---------- softmax ---------- *)
Lemma exp_sum_pos m (c : vec) : (0 < m)%nat -> 0 < sum m (fun k => 1 * exp (c k)).
Proof.
  intros H. assert (P : forall k, 0 < 1 * exp (c k)) by (intro k; assert (Q := exp_pos (c k)); lra).
  eapply Rlt_le_trans; [apply (P 0%nat)|]. apply (sum_term_le m (fun k => 1 * exp (c k)) 0); [|exact H].
  intros k _. left. apply P.
Qed.

Lemma shares_pos m (c : vector m) j : (0 < m)%nat -> 0 < shares c j.
Proof.
  intros H. unfold shares, softmax, tilt. apply Rdiv_lt_0_compat; [|now apply exp_sum_pos].
  assert (Q := exp_pos (c j)). lra.
Qed.

Lemma shares_sum m (c : vector m) : (0 < m)%nat -> sum m (shares c) = 1.
Proof.
  intros H. unfold shares, softmax, tilt, Rdiv. rewrite sum_scal_r. apply Rinv_r. apply Rgt_not_eq.
  now apply exp_sum_pos.
Qed.

Lemma shares_tilt m (c g : vector m) : (0 < m)%nat -> forall j, shares (vplus c g) j = tilt m (shares c) g j.
Proof.
  intros H j. unfold shares, softmax, tilt, vplus.
  assert (Z : 0 < sum m (fun k => 1 * exp (c k))).
  { apply exp_sum_pos; exact H. }
  assert (Z' : 0 < sum m (fun k => 1 * exp (c k + g k))).
  { apply (exp_sum_pos m (fun k => c k + g k)); exact H. }
  set (z := sum m (fun k => 1 * exp (c k))) in *.
  rewrite (sum_ext m (fun k => 1 * exp (c k) / z * exp (g k)) (fun k => / z * (1 * exp (c k + g k))))
    by (intros k _; rewrite exp_plus; field; lra).
  rewrite (sum_scal m (/ z) (fun k => 1 * exp (c k + g k))). set (z' := sum m (fun k => 1 * exp (c k + g k))) in *.
  change (1 * exp (c j + g j) / z' = 1 * exp (c j) / z * exp (g j) / (/ z * z')). rewrite exp_plus. field. split; lra.
Qed.
