(** karagodin2025:4.3.  Tokens that are all u or -u, |u| = 1, rest under x_i' = P_{x_i} (sum_k a_ik x_k),
  whatever the weights a [opposite_rest]; so their
    variance does not fall.  With n = 2 and beta = 1/100 they satisfy 1 - <x_j,
      x_k> < 1/(100 n^2 beta^2) [in_the_cone]. *)
Require Import Reals Lra Lia.
From Rankmath Require Import Definitions.
Local Open Scope R_scope.

Section Opposite.
Variables (n d : nat) (u : vec) (sign : nat -> R) (a : mat).
Hypothesis unit : dot d u u = 1.
Hypothesis signs : forall k, sign k = 1 \/ sign k = -1.
Let X : mat := fun k c => sign k * u c.
Let y (i : nat) : vec := fun c => sum n (fun k => a i k * X k c).

Theorem opposite_rest i c : y i c - dot d (X i) (y i) * X i c = 0.
Proof.
  set (t := sum n (fun k => a i k * sign k)).
  assert (E : forall b, y i b = t * u b). { intros b. unfold y, t, X. rewrite <- sum_scal_r. apply sum_ext.
  intros; ring. }
  assert (D : dot d (X i) (y i) = sign i * t).
  { unfold dot. rewrite (sum_ext d _ (fun b => sign i * t * (u b * u b))) by (intros b _; rewrite E; unfold X; ring).
    rewrite sum_scal. fold (dot d u u). rewrite unit. ring. }
  rewrite D, E. unfold X. destruct (signs i) as [-> | ->]; ring.
Qed.

Theorem in_the_cone j k : 1 - dot d (X j) (X k) < 1 / (100 * 2 ^ 2 * (/ 100) ^ 2).
Proof.
  replace (dot d (X j) (X k)) with (sign j * sign k).
  - destruct (signs j) as [-> | ->], (signs k) as [-> | ->]; lra.
  - unfold dot, X. rewrite (sum_ext d _ (fun b => sign j * sign k * (u b * u b))) by (intros; ring). rewrite sum_scal.
    fold (dot d u u). rewrite unit. ring.
Qed.
End Opposite.
