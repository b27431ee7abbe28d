(** own:received.  Attention by distances, P_ij in proportion to e^(-|z_i - z_j|^2): no token receives more than
  sqrt(n), sum_i P_ij <= sqrt(n)  [received].
    The kernel e^(-|z_i - z_j|^2) is positive semidefinite  [kernel_psd],
      so by Cauchy and Schwarz (K u)_j^2 <= u K u for u_i = 1/sum_k K_ik, and u K u <= sum_i u_i^2 sum_k K_ik <= n. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms Softmax seed_closure.
Local Open Scope R_scope.

Definition quad (n : nat) (K : mat) (u : vec) : R := sum n (fun i => sum n (fun j => u i * u j * K i j)).

(** Powers of a Gram matrix, entry by entry. *)
Lemma powers_psd n d (z : mat) k : forall u, 0 <= quad n (fun i j => dot d (z i) (z j) ^ k) u.
Proof.
  induction k as [|k IH]; intro u; unfold quad.
  - rewrite (sum_ext n _ (fun i => u i * sum n u)) by (intros; rewrite <- sum_scal; apply sum_ext; intros; simpl;
      ring). rewrite sum_scal_r. apply Rle_0_sqr.
  - rewrite (sum_ext n _ (fun i => sum d (fun a => sum n (fun j => u i * z i a * (u j * z j a) * dot d (z i) (z j) ^
      k)))).
    + rewrite sum_swap. apply sum_nonneg; intros a _. apply (IH (fun i => u i * z i a)).
    + intros i _. rewrite sum_swap. apply sum_ext; intros j _. simpl. unfold dot at 1.
      rewrite sum_scal_r, (sum_ext d (fun a => u i * z i a * (u j * z j a)) (fun a => u i * u j * (z i a * z j a))) by
        (intros; ring). rewrite sum_scal. ring.
Qed.

Lemma lim_sum n (f : nat -> nat -> R) (l : vec) : (forall i, (i < n)%nat -> is_lim_seq (fun N => f N i) (l i)) ->
  is_lim_seq (fun N => sum n (f N)) (sum n l).
Proof.
  induction n as [|n IH]; intros H; cbn [sum]; [apply is_lim_seq_const|].
  apply (is_lim_seq_plus' (fun N => sum n (f N)) (fun N => f N n)); [apply IH; intros; apply H; lia|apply H; lia].
Qed.

Lemma exp_psd n d (z : mat) u : 0 <= quad n (fun i j => exp (dot d (z i) (z j))) u.
Proof.
  assert (L : is_lim_seq (fun N => quad n (fun i j => E1 (dot d (z i) (z j)) N) u) (quad n (fun i j => exp (dot d (z i)
    (z j))) u)).
  { unfold quad. apply (lim_sum n (fun N i => sum n (fun j => u i * u j * E1 (dot d (z i) (z j)) N))). intros i _.
    apply (lim_sum n (fun N j => u i * u j * E1 (dot d (z i) (z j)) N)). intros j _.
    apply (is_lim_seq_scal_l (E1 (dot d (z i) (z j))) (u i * u j) (exp (dot d (z i) (z j)))).
    apply is_lim_seq_Reals, E1_cvg. }
  apply (is_lim_seq_le (fun _ => 0) (fun N => quad n (fun i j => E1 (dot d (z i) (z j)) N) u) 0 (quad n (fun i j => exp
    (dot d (z i) (z j))) u)); [|apply is_lim_seq_const|exact L].
  intro N. unfold quad. rewrite (sum_ext n _ (fun i => sum (S N) (fun k => sum n (fun j => / INR (fact k) * (u i * u j
    * dot d (z i) (z j) ^ k))))).
  - rewrite sum_swap. apply sum_nonneg; intros k _. rewrite (sum_ext n _ (fun i => / INR (fact k) * sum n (fun j => u i
      * u j * dot d (z i) (z j) ^ k))) by (intros; now rewrite sum_scal). rewrite sum_scal.
    apply Rmult_le_pos; [left; apply Rinv_0_lt_compat, INR_fact_lt_0|apply powers_psd].
  - intros i _. rewrite sum_swap. apply sum_ext; intros j _. unfold E1. rewrite <- sum_reals, <- sum_scal.
    apply sum_ext; intros; ring.
Qed.

Definition distance2 (d : nat) (Z : mat) : mat := fun i j => dot d (vsub (Z i) (Z j)) (vsub (Z i) (Z j)).
Definition kernel (d : nat) (Z : mat) : mat := fun i j => exp (- distance2 d Z i j).

Lemma kernel_psd n d Z u : 0 <= quad n (kernel d Z) u.
Proof.
  assert (H := exp_psd n d (fun i a => sqrt 2 * Z i a) (fun i => u i * exp (- dot d (Z i) (Z i)))).
  eapply Rle_trans; [exact H|right]. unfold quad. apply sum_ext; intros i _. apply sum_ext; intros j _.
  unfold kernel, distance2.
  assert (E : dot d (fun a => sqrt 2 * Z i a) (fun a => sqrt 2 * Z j a) = 2 * dot d (Z i) (Z j)).
  { unfold dot. rewrite <- sum_scal. apply sum_ext; intros a _. rewrite <- (sqrt_sqrt 2) at 3 by lra. ring. }
  assert (F : - dot d (vsub (Z i) (Z j)) (vsub (Z i) (Z j)) = - dot d (Z i) (Z i) + - dot d (Z j) (Z j) + 2 * dot d (Z
    i) (Z j)).
  { unfold dot, vsub. rewrite (sum_ext d _ (fun a => Z i a * Z i a - 2 * (Z i a * Z j a) + Z j a * Z j a)) by (intros;
      ring). rewrite sum_plus, sum_minus, sum_scal. ring. }
  rewrite E, F, !exp_plus. ring.
Qed.

(** Cauchy and Schwarz with a unit vector: (K u)_j^2 <= u K u where K_jj = 1. *)
Lemma kernel_cs n d Z u j : (j < n)%nat -> sum n (fun i => u i * kernel d Z i j) ^ 2 <= quad n (kernel d Z) u.
Proof.
  intros Hj. set (t := sum n (fun i => u i * kernel d Z i j)).
  assert (H := kernel_psd n d Z (fun i => u i - eye j i * t)).
  assert (Sy : forall i k, kernel d Z i k = kernel d Z k i) by (intros; unfold kernel, distance2, dot, vsub;
    do 2 f_equal; apply sum_ext; intros; ring).
  assert (D1 : kernel d Z j j = 1) by (unfold kernel, distance2, dot, vsub;
    rewrite (sum_ext d _ (fun _ => 0)) by (intros; ring); rewrite sum_zero, Ropp_0; apply exp_0).
  assert (E : quad n (kernel d Z) (fun i => u i - eye j i * t) = quad n (kernel d Z) u - t ^ 2); [|lra]. unfold quad.
  rewrite (sum_ext n _ (fun i => sum n (fun k => u i * u k * kernel d Z i k) - t * (u i * kernel d Z i j) + eye j i *
    (t * t * kernel d Z i j - t * sum n (fun k => u k * kernel d Z i k)))).
  - rewrite sum_plus, sum_minus, sum_scal, (sum_eye n j (fun i => t * t * kernel d Z i j - t * sum n (fun k => u k *
      kernel d Z i k)) Hj). fold t. rewrite D1.
    rewrite (sum_ext n (fun k => u k * kernel d Z j k) (fun k => u k * kernel d Z k j)) by (intros; now rewrite Sy).
    fold t. ring.
  - intros i _. rewrite (sum_ext n _ (fun k => u i * u k * kernel d Z i k - eye j i * t * (u k * kernel d Z i k) + eye
      j k * (eye j i * t * t * kernel d Z i k - t * u i * kernel d Z i k))) by (intros; ring).
    rewrite sum_plus, sum_minus, (sum_scal n (eye j i * t)), (sum_eye n j (fun k => eye j i * t * t * kernel d Z i k -
      t * u i * kernel d Z i k) Hj). ring.
Qed.

Theorem received n d (Z : mat) j : (j < n)%nat -> sum n (fun i => softmax n (fun _ => 1) (fun k => - distance2 d Z i k)
  j) <= sqrt (INR n).
Proof.
  intros Hj. set (s := fun i => sum n (fun k => kernel d Z i k)). set (u := fun i => / s i).
  assert (Sy : forall i k, kernel d Z i k = kernel d Z k i) by (intros; unfold kernel, distance2, dot, vsub;
    do 2 f_equal; apply sum_ext; intros; ring).
  assert (S1 : forall i, (i < n)%nat -> 1 <= s i).
  { intros i Hi. assert (D1 : kernel d Z i i = 1) by (unfold kernel, distance2, dot, vsub;
      rewrite (sum_ext d _ (fun _ => 0)) by (intros; ring); rewrite sum_zero, Ropp_0; apply exp_0). rewrite <- D1.
    apply (sum_term_le n (kernel d Z i) i); [intros; left; apply exp_pos|exact Hi]. }
  rewrite (sum_ext n _ (fun i => u i * kernel d Z i j)).
  - apply Rsqr_incr_0_var; [|apply sqrt_pos]. rewrite Rsqr_sqrt by apply pos_INR. rewrite Rsqr_pow2.
    eapply Rle_trans; [apply (kernel_cs n d Z u j Hj)|]. unfold quad.
    apply Rle_trans with (sum n (fun i => sum n (fun k => / 2 * (u i * u i * kernel d Z i k) + / 2 * (u k * u k *
      kernel d Z i k)))).
    + apply sum_le; intros i _. apply sum_le; intros k _. assert (0 <= (u i - u k) * (u i - u k) * kernel d Z i k) by
        (apply Rmult_le_pos; [apply Rle_0_sqr|left; apply exp_pos]). lra.
    + rewrite (sum_ext n _ (fun i => sum n (fun k => / 2 * (u i * u i * kernel d Z i k)) + sum n (fun k => / 2 * (u k *
        u k * kernel d Z k i)))) by (intros i _; rewrite <- sum_plus; apply sum_ext; intros k _; now rewrite (Sy k i)).
      rewrite sum_plus, (sum_swap n n (fun i k => / 2 * (u k * u k * kernel d Z k i))).
      apply Rle_trans with (sum n (fun _ => 1)); [|rewrite sum_const; lra]. rewrite <- sum_plus.
      apply sum_le; intros i Hi. rewrite <- sum_plus.
      rewrite (sum_ext n _ (fun k => u i * u i * kernel d Z i k)) by (intros; lra). rewrite sum_scal.
      change (sum n (kernel d Z i)) with (s i). specialize (S1 i Hi). unfold u.
      replace (/ s i * / s i * s i) with (/ s i) by (field; lra). rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
  - intros i Hi. unfold softmax, tilt. fold (kernel d Z i j).
    rewrite (sum_ext n _ (fun k => kernel d Z i k)) by (intros; unfold kernel; ring). fold (s i). unfold u.
    specialize (S1 i Hi). unfold kernel. field. lra.
Qed.
