(** chen2026:2.1.  n unit tokens whose cosines are all gamma;
  attention whose logits are beta times the cosines sends token i to a multiple of
    y_i = (1 - rho) x_i + rho S, S the sum of all tokens, rho = e^(-beta (1 - gamma)).
    With sigma = 1 + (n-1) gamma all y_i have the squared length
    (1-rho)^2 + 2 rho (1-rho) sigma + n rho^2 sigma, and their scalar products have (1-rho)^2 gamma in place of
      (1-rho)^2 [equiangular]; the row of
    attention is that multiple [equiangular_row]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms.
Local Open Scope R_scope.

Section Alike.
Variables (n d : nat) (X : mat) (gamma rho : R).
Hypothesis cosines : forall i j, (i < n)%nat -> (j < n)%nat -> dot d (X i) (X j) = if Nat.eqb i j then 1 else gamma.
Let S : vec := fun a => sum n (fun j => X j a).
Let y (i : nat) : vec := fun a => (1 - rho) * X i a + rho * S a.
Let sigma := 1 + (INR n - 1) * gamma.

Lemma with_total i : (i < n)%nat -> dot d (X i) S = sigma.
Proof.
  intros Hi. unfold dot, S. rewrite (sum_ext d _ (fun a => sum n (fun j => X i a * X j a))) by (intros;
    now rewrite sum_scal).
  rewrite sum_swap. rewrite (sum_ext n _ (fun j => gamma + (if Nat.eqb j i then 1 - gamma else 0))).
  - rewrite sum_plus, sum_const, (sum_single n _ i) by (try exact Hi; intros j Hj Hne; apply Nat.eqb_neq in Hne;
      now rewrite Hne).
    rewrite Nat.eqb_refl. unfold sigma. ring.
  - intros j Hj. assert (C := cosines i j Hi Hj). unfold dot in C. rewrite C, Nat.eqb_sym. destruct (Nat.eqb j i); ring.
Qed.
Lemma total : dot d S S = INR n * sigma.
Proof.
  unfold dot, S at 1. rewrite (sum_ext d _ (fun a => sum n (fun j => X j a * S a))) by (intros;
    now rewrite <- sum_scal_r).
  rewrite sum_swap. rewrite (sum_ext n _ (fun _ => sigma)) by (intros j Hj; now apply with_total). apply sum_const.
Qed.

Theorem equiangular i j : (i < n)%nat -> (j < n)%nat ->
  dot d (y i) (y j) = (1 - rho) ^ 2 * (if Nat.eqb i j then 1 else gamma) + 2 * rho * (1 - rho) * sigma + INR n * rho ^
    2 * sigma.
Proof.
  intros Hi Hj. unfold y. replace (dot d _ _) with ((1 - rho) * (1 - rho) * dot d (X i) (X j) + (1 - rho) * rho * (dot
    d (X i) S + dot d (X j) S) + rho * rho * dot d S S).
  - rewrite cosines, !with_total, total by assumption. ring.
  - unfold dot. rewrite <- sum_plus, <- !sum_scal, <- !sum_plus. apply sum_ext. intros; ring.
Qed.

Theorem equiangular_row beta i a : (i < n)%nat -> 0 < 1 + (INR n - 1) * rho -> rho = exp (- (beta * (1 - gamma))) ->
  sum n (fun j => softmax n (fun _ => 1) (fun k => beta * dot d (X i) (X k)) j * X j a) = y i a / (1 + (INR n - 1) *
    rho).
Proof.
  intros Hi Hp Hr. unfold softmax, tilt.
  assert (E : forall j, (j < n)%nat -> exp (beta * dot d (X i) (X j)) = exp beta * (rho + (if Nat.eqb j i then 1 - rho
    else 0))).
  { intros j Hj. rewrite cosines by assumption. rewrite Nat.eqb_sym. destruct (Nat.eqb j i).
    - rewrite Rmult_1_r. ring.
    - rewrite Rplus_0_r, Hr, <- exp_plus. f_equal. ring. }
  assert (Z : sum n (fun k => 1 * exp (beta * dot d (X i) (X k))) = exp beta * (1 + (INR n - 1) * rho)).
  { rewrite (sum_ext n _ (fun j => exp beta * (rho + (if Nat.eqb j i then 1 - rho else 0)))) by (intros j Hj;
      rewrite E by exact Hj; ring).
    rewrite sum_scal, sum_plus, sum_const, (sum_single n _ i) by (try exact Hi; intros j Hj Hne;
      apply Nat.eqb_neq in Hne; now rewrite Hne).
    rewrite Nat.eqb_refl. ring. }
  assert (Pe : 0 < exp beta) by apply exp_pos. rewrite Z.
  rewrite (sum_ext n _ (fun j => / (1 + (INR n - 1) * rho) * (rho * X j a + (if Nat.eqb j i then (1 - rho) * X j a else
    0)))).
  - rewrite sum_scal, sum_plus, sum_scal, (sum_single n (fun j => if Nat.eqb j i then (1 - rho) * X j a else 0) i) by
      (try exact Hi; intros j Hj Hne; apply Nat.eqb_neq in Hne; now rewrite Hne).
    rewrite Nat.eqb_refl. unfold y, S. field. lra.
  - intros j Hj. rewrite E by exact Hj. destruct (Nat.eqb j i); field; lra.
Qed.
End Alike.
