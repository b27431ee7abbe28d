(** own:layernorm, shi2022:layernorm.  What each is stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms.
Local Open Scope R_scope.

(** own:layernorm.  Rows Y_i of lengths r_i > 0, the two least of them r_(1) <= r_(2), divided by their lengths:
    mu(LN(Y))^2 <= (mu(Y)^2 - sum_i (r_i - mean r)^2)/(r_(1) r_(2))  [layernorm],
      as |y_i - y_j|^2 - (r_i - r_j)^2 = r_i r_j |y_i/r_i - y_j/r_j|^2. *)

(** n mu^2 is the sum over pairs. *)
Lemma mu_pairs n d Y : (0 < n)%nat -> INR n * mu n d Y ^ 2 = / 2 * sum n (fun i => sum n (fun j => dot d (vsub (Y i) (Y
  j)) (vsub (Y i) (Y j)))).
Proof.
  intros Hn. assert (N : 0 < INR n) by (apply (lt_INR 0); exact Hn). unfold mu, frob.
  rewrite pow2_sqrt by (apply sum_nonneg; intros; apply dot_pos).
  unfold dot, centred, vsub, mean. rewrite sum_swap, <- sum_scal.
  rewrite (sum_ext n (fun i => sum n (fun j => sum d _)) (fun i => sum d (fun a => sum n (fun j => (Y i a - Y j a) * (Y
    i a - Y j a))))) by (intros; apply sum_swap).
  rewrite sum_swap, <- sum_scal. apply sum_ext; intros a _. set (s := sum n (fun i => Y i a)).
  set (q := sum n (fun i => Y i a * Y i a)).
  rewrite (sum_ext n _ (fun i => Y i a * Y i a + (- 2 * (s / INR n) * Y i a + s / INR n * (s / INR n)))) by (intros;
    ring).
  rewrite (sum_ext n (fun i => sum n _) (fun i => INR n * (Y i a * Y i a) + (- 2 * s * Y i a + q))).
  - rewrite !sum_plus, !sum_scal, !sum_const. fold s q. field. lra.
  - intros i _. rewrite (sum_ext n _ (fun j => Y i a * Y i a + (- 2 * Y i a * Y j a + Y j a * Y j a))) by (intros;
      ring). rewrite !sum_plus, sum_const, sum_scal. fold s q. ring.
Qed.

Theorem layernorm n d (Y : mat) (i1 i2 : nat) : let r := fun i => l2 d (Y i) in
  (i1 < n)%nat -> (i2 < n)%nat -> i1 <> i2 -> r i1 <= r i2 -> (forall i, (i < n)%nat -> i <> i1 -> r i2 <= r i) ->
    0 < r i1 ->
  mu n d (fun i => sphere d (Y i)) ^ 2 <= (mu n d Y ^ 2 - mu n 1 (fun i _ => r i) ^ 2) / (r i1 * r i2).
Proof.
  intros r H1 H2 N12 R12 Rl R1. assert (N : 0 < INR n) by (apply (lt_INR 0); lia). assert (Hn : (0 < n)%nat) by lia.
  assert (P : forall i, (i < n)%nat -> 0 < r i) by (intros i Hi; destruct (Nat.eq_dec i i1) as [->|D];
    [exact R1|specialize (Rl i Hi D); lra]).
  assert (M : 0 < r i1 * r i2) by (apply Rmult_lt_0_compat; lra).
  assert (Sq : forall i, dot d (Y i) (Y i) = r i * r i) by (intro i; unfold r, l2; rewrite sqrt_sqrt;
    [reflexivity|apply dot_pos]).
  assert (Ex : forall u v : vec, dot d (vsub u v) (vsub u v) = dot d u u - 2 * dot d u v + dot d v v).
  { intros u v. unfold dot, vsub. rewrite (sum_ext d _ (fun a => u a * u a - 2 * (u a * v a) + v a * v a)) by (intros;
      ring). now rewrite sum_plus, sum_minus, sum_scal. }
  assert (Sc : forall i j (s t : R), dot d (fun a => Y i a / s) (fun a => Y j a / t) = dot d (Y i) (Y j) / s / t) by
    (intros; unfold dot, Rdiv; rewrite <- !sum_scal_r; apply sum_ext; intros; ring).
  apply Rmult_le_reg_l with (INR n * (r i1 * r i2)); [now apply Rmult_lt_0_compat|].
  replace (INR n * (r i1 * r i2) * ((mu n d Y ^ 2 - mu n 1 (fun i _ => r i) ^ 2) / (r i1 * r i2))) with (INR n * mu n d
    Y ^ 2 - INR n * mu n 1 (fun i _ => r i) ^ 2) by (field; lra).
  replace (INR n * (r i1 * r i2) * mu n d (fun i => sphere d (Y i)) ^ 2) with (r i1 * r i2 * (INR n * mu n d (fun i =>
    sphere d (Y i)) ^ 2)) by ring.
  rewrite !mu_pairs by exact Hn. rewrite <- Rmult_minus_distr_l, <- sum_minus, <- Rmult_assoc,
    (Rmult_comm (r i1 * r i2) (/ 2)), Rmult_assoc. apply Rmult_le_compat_l; [lra|].
  rewrite <- sum_scal. apply sum_le; intros i Hi. rewrite <- sum_minus, <- sum_scal. apply sum_le; intros j Hj.
  assert (Pi := P i Hi). assert (Pj := P j Hj).
  assert (L : dot 1 (vsub (fun _ => r i) (fun _ => r j)) (vsub (fun _ => r i) (fun _ => r j)) = (r i - r j) * (r i - r
    j)) by (unfold dot, vsub; simpl; ring). rewrite L, !Ex.
  assert (Hat : dot d (sphere d (Y i)) (sphere d (Y i)) - 2 * dot d (sphere d (Y i)) (sphere d (Y j)) + dot d (sphere d
    (Y j)) (sphere d (Y j)) = (2 * (r i * r j) - 2 * dot d (Y i) (Y j)) / (r i * r j)).
  { unfold sphere. rewrite !Sc, !Sq. fold (r i) (r j). field. split; lra. }
  rewrite Hat, !Sq. replace (r i * r i - 2 * dot d (Y i) (Y j) + r j * r j - (r i - r j) * (r i - r j)) with (2 * (r i
    * r j) - 2 * dot d (Y i) (Y j)) by ring.
  destruct (Nat.eq_dec i j) as [->|Nij]; [rewrite Sq; right; field; lra|].
  assert (C := dot_le_l2 d (Y i) (Y j)). assert (A := Rle_abs (dot d (Y i) (Y j))). fold (r i) (r j) in C.
  set (g := 2 * (r i * r j) - 2 * dot d (Y i) (Y j)). assert (G : 0 <= g) by (unfold g; lra).
  assert (Le : r i1 * r i2 <= r i * r j).
  { destruct (Nat.eq_dec i i1) as [->|D]; [apply Rmult_le_compat_l; [lra|apply Rl; [exact Hj|congruence]]|].
    rewrite Rmult_comm. apply Rmult_le_compat; [lra|lra|now apply Rl|].
    destruct (Nat.eq_dec j i1) as [->|D']; [lra|]. specialize (Rl j Hj D'). lra. }
  replace g with (r i * r j * (g / (r i * r j))) at 2 by (field; lra). apply Rmult_le_compat_r; [|exact Le].
  apply Rmult_le_pos; [exact G|]. left. apply Rinv_0_lt_compat. nra.
Qed.

(** shi2022:layernorm.  LayerNorm on the sphere, Y_i -> Y_i/|Y_i|,
  spreads tokens by no more than one over the least length: mu(LN(Y)) <= mu(Y)/r if every |Y_i| >= r > 0
    [layernorm_spread].  Two tokens come nearer, up to that factor: |Y_i/|Y_i| - Y_j/|Y_j||^2 |Y_i||Y_j| = |Y_i -
      Y_j|^2 - (|Y_i| - |Y_j|)^2; and n mu^2 is the sum over pairs. *)

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
