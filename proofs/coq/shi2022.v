(** shi2022:layernorm.  LayerNorm on the sphere, Y_i -> Y_i/|Y_i|,
  spreads tokens by no more than one over the least length: mu(LN(Y)) <= mu(Y)/r if every |Y_i| >= r > 0
    [layernorm_spread].  Two tokens come nearer, up to that factor: |Y_i/|Y_i| - Y_j/|Y_j||^2 |Y_i||Y_j| = |Y_i -
      Y_j|^2 - (|Y_i| - |Y_j|)^2; and n mu^2 is the sum over pairs. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms own_layernorm.
Local Open Scope R_scope.

Lemma sphere_nearer d r (x y : vec) : 0 < r -> r <= l2 d x -> r <= l2 d y ->
  r * r * dot d (vsub (sphere d x) (sphere d y)) (vsub (sphere d x) (sphere d y)) <= dot d (vsub x y) (vsub x y).
Proof.
  intros r0 rx ry. set (a := l2 d x) in *. set (b := l2 d y) in *.
  assert (Ea : a * a = dot d x x) by (apply sqrt_sqrt, dot_pos).
  assert (Eb : b * b = dot d y y) by (apply sqrt_sqrt, dot_pos). set (c := dot d x y).
  assert (E1 : dot d (vsub x y) (vsub x y) = a * a - 2 * c + b * b).
  { rewrite Ea, Eb. unfold c, dot, vsub. rewrite (sum_ext d _ (fun e => (x e * x e - 2 * (x e * y e)) + y e * y e)) by
      (intros; ring). rewrite sum_plus, sum_minus, sum_scal. ring. }
  assert (E2 : dot d (vsub (sphere d x) (sphere d y)) (vsub (sphere d x) (sphere d y)) = 2 - 2 * c / (a * b)).
  { unfold dot, vsub, sphere. fold a b. rewrite (sum_ext d _ (fun e => (/ (a * a) * (x e * x e) - 2 / (a * b) * (x e *
      y e)) + / (b * b) * (y e * y e))) by (intros; field; lra).
    rewrite sum_plus, sum_minus, !sum_scal. fold (dot d x x) (dot d x y) (dot d y y). rewrite <- Ea, <- Eb. fold c.
    field. lra. }
  assert (P := dot_pos d (vsub (sphere d x) (sphere d y))). rewrite E2 in *. rewrite E1.
  assert (ab : r * r <= a * b) by (apply Rmult_le_compat; lra).
  apply Rle_trans with (a * b * (2 - 2 * c / (a * b))); [now apply Rmult_le_compat_r|].
  replace (a * b * (2 - 2 * c / (a * b))) with (2 * (a * b) - 2 * c) by (field; lra). assert (Q := Rle_0_sqr (a - b)).
  unfold Rsqr in Q. lra.
Qed.

Theorem layernorm_spread n d (Y : mat) r : (0 < n)%nat -> 0 < r -> (forall i, (i < n)%nat -> r <= l2 d (Y i)) ->
  mu n d (fun i => sphere d (Y i)) <= mu n d Y / r.
Proof.
  intros Hn r0 Hr. assert (n0 : 0 < INR n) by (now apply lt_0_INR). assert (m0 : 0 <= mu n d Y) by apply sqrt_pos.
  assert (H : r * r * (INR n * mu n d (fun i => sphere d (Y i)) ^ 2) <= INR n * mu n d Y ^ 2).
  { rewrite !mu_pairs by exact Hn. rewrite <- Rmult_assoc, (Rmult_comm (r * r)), Rmult_assoc.
    apply Rmult_le_compat_l; [lra|]. rewrite <- sum_scal. apply sum_le; intros i Hi. rewrite <- sum_scal.
    apply sum_le; intros j Hj. apply sphere_nearer; auto. }
  set (m := mu n d (fun i => sphere d (Y i))) in *. apply Rmult_le_reg_l with r; [exact r0|].
  replace (r * (mu n d Y / r)) with (mu n d Y) by (field; lra).
  apply Rsqr_incr_0_var; [|exact m0]. unfold Rsqr. simpl in H. apply Rmult_le_reg_l with (INR n); lra.
Qed.
