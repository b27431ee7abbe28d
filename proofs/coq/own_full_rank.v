(** own:full-rank.  Orthogonal values under LayerNorm on the sphere collapse from full rank, with a rate of ours.

    Setting of own:hemisphere.  If some v0 has <X_i, v0> = 1 for all tokens (there is one when the rows of X are
      independent) and
    gamma = 1/|v0|, then mu(X(t)) <= sqrt((n-1)/2) (diam X(0)/gamma) (1 - gamma eps^r)^(t/r).
    The best gamma is (1^T (X X^T)^{-1} 1)^{-1/2}, that of the shortest v0 = X^T (X X^T)^{-1} 1. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms Softmax Masks own_hemisphere.
Local Open Scope R_scope.

Theorem full_rank_pairs n d (Ly : nat -> layer) (G : mat) c r eps v0 t X :
  (0 < n)%nat -> (0 < r)%nat -> 0 <= eps <= 1 ->
  (forall s, (s < t)%nat -> nheads (Ly s) = 1%nat /\ mask (hd (Ly s) 0) = G /\
     (forall a, bout (Ly s) a = 0) /\ orthogonal d (WV (hd (Ly s) 0))) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j) ->
  (forall i, (i < n)%nat -> 0 < G i i) ->
  centre n G c r ->
  (forall s i j, (s < t)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= sphere_attention n d Ly X s i j) ->
  (forall i, (i < n)%nat -> l2 d (X i) = 1) ->
  (forall i, (i < n)%nat -> dot d (X i) v0 = 1) ->
  let gamma := / l2 d v0 in
  (forall i, (i < n)%nat -> l2 d (sphere_orbit n d Ly X t i) = 1) /\
  forall i k, (i < n)%nat -> (k < n)%nat ->
    l2 d (vsub (sphere_orbit n d Ly X t i) (sphere_orbit n d Ly X t k)) <= diam n (l2 d) X / gamma * (1 - gamma * eps
      ^ r) ^ (t / r).
Proof.
  intros Hn Hr E0 HL G0 G1 Hc HA U0 Hv gamma.
  assert (N1 : 1 <= l2 d v0).
  { assert (C := dot_le_l2 d (X 0%nat) v0). rewrite Hv, U0, Rmult_1_l in C by exact Hn. rewrite Rabs_right in C; lra.
    }
  assert (g0 : 0 < gamma) by (apply Rinv_0_lt_compat; lra). assert (g1 : gamma <= 1) by (unfold gamma;
    rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  assert (V1 : l2 d (fun a => gamma * v0 a) = 1).
  { change (l2 d (fun a => gamma * v0 a)) with (L2 d (fun a => gamma * v0 a)).
    rewrite (sn_scal (L2 d)), Rabs_right by lra. change (L2 d v0) with (l2 d v0). unfold gamma. field. lra. }
  destruct (hemisphere_pairs n d Ly G c r eps (fun a => gamma * v0 a) gamma t X Hn Hr ltac:(lra) HL G0 G1 Hc HA U0 V1
    g0) as [A1 [A2 [A3 _]]].
  { intros i Hi. rewrite dot_scal_r, Hv by exact Hi. lra. }
  split; [intros; now apply A1|]. intros i0 k0 Hi0 Hk0. eapply Rle_trans; [now apply A3|]. eapply Rle_trans;
    [exact A2|]. rewrite Rmult_comm.
  assert (e1 : 0 <= eps ^ r <= 1) by (apply pow_01; lra).
  apply Rmult_le_compat_r; [apply pow_le; nra|]. apply diam_lub.
  - apply Rmult_le_pos; [apply diam_nonneg|left; now apply Rinv_0_lt_compat].
  - intros i k Hi Hk.
    assert (H : forall j, (j < n)%nat -> dot d (sphere_orbit n d Ly X 0 j) (carried d Ly (fun a => gamma * v0 a) 0) =
      gamma).
    { intros j Hj. change (sphere_orbit n d Ly X 0) with X. unfold carried. simpl values.
      rewrite (dot_ext d (X j) _ (X j) (fun a => gamma * v0 a)) by (auto; intros; now apply vmat_eye).
        rewrite dot_scal_r, Hv by exact Hj. ring. }
    replace (l2 d (vsub (gnomonic n d Ly X (fun a => gamma * v0 a) 0 i) (gnomonic n d Ly X (fun a => gamma * v0 a) 0
      k))) with (L2 d (fun a => / gamma * vsub (X i) (X k) a)).
    + rewrite (sn_scal (L2 d)), Rabs_right by (left; now apply Rinv_0_lt_compat).
      change (L2 d (vsub (X i) (X k))) with (l2 d (vsub (X i) (X k))).
      rewrite Rmult_comm. apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. now apply diam_ub.
    + apply l2_ext. intros a _. unfold gnomonic, vsub. rewrite !H by assumption.
      change (sphere_orbit n d Ly X 0) with X. unfold Rdiv. ring.
Qed.

Theorem full_rank n d (Ly : nat -> layer) (G : mat) c r eps v0 t X :
  (0 < n)%nat -> (0 < r)%nat -> 0 <= eps <= 1 ->
  (forall s, (s < t)%nat -> nheads (Ly s) = 1%nat /\ mask (hd (Ly s) 0) = G /\
     (forall a, bout (Ly s) a = 0) /\ orthogonal d (WV (hd (Ly s) 0))) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j) ->
  (forall i, (i < n)%nat -> 0 < G i i) ->
  centre n G c r ->
  (forall s i j, (s < t)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= sphere_attention n d Ly X s i j) ->
  (forall i, (i < n)%nat -> l2 d (X i) = 1) ->
  (forall i, (i < n)%nat -> dot d (X i) v0 = 1) ->
  let gamma := / l2 d v0 in
  mu n d (sphere_orbit n d Ly X t) <= sqrt ((INR n - 1) / 2) * (diam n (l2 d) X / gamma) * (1 - gamma * eps ^ r) ^ (t
    / r).
Proof.
  intros Hn Hr E0 HL G0 G1 Hc HA U0 Hv gamma. destruct (full_rank_pairs n d Ly G c r eps v0 t X Hn Hr E0 HL G0 G1 Hc
    HA U0 Hv) as [_ A]. fold gamma in A.
  rewrite Rmult_assoc. assert (N1 : 1 <= l2 d v0).
  { assert (C := dot_le_l2 d (X 0%nat) v0). rewrite Hv, U0, Rmult_1_l in C by exact Hn. rewrite Rabs_right in C; lra.
    }
  assert (g0 : 0 < gamma) by (apply Rinv_0_lt_compat; lra). assert (g1 : gamma <= 1) by (unfold gamma;
    rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  assert (e1 : 0 <= eps ^ r <= 1) by (apply pow_01; lra).
  apply mu_diam; [exact Hn| |exact A]. apply Rmult_le_pos; [apply Rle_mult_inv_pos;
    [apply diam_nonneg|exact g0]|apply pow_le; nra].
Qed.
