(** own:l2-lipschitz.  Attention by distances, f(Z)_i = sum_j P_ij z_j with P_ij in proportion to e^(-d_ij),
  d_ij = |z_i - z_j|^2: its derivative has a spectral norm of at most
    n^(1/4) + 2 phi + 2 sqrt(phi min((n-1) tau, sqrt n log n/2)), phi e^(phi+1) = n - 1,
      tau e^(tau+1) = 1  [l2_lipschitz].  Its row i is E h + 2 Cov(<q, h_i>, q) - 2 Cov(<q_j, h_j>, q),
    q_j = z_j - z_i; a token receives at most sqrt n of attention (own:received), and at most min((n-1) tau,
      sqrt n log n/2) weighted by distances  [received_distance]. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms Softmax own_order seed_closure kim2021 own_lipschitz
    IntervalZ.
Local Open Scope R_scope.

Lemma peak x : x * exp (- x) <= exp (- 1).
Proof. replace (exp (-1)) with (exp (x - 1) * exp (- x)) by (rewrite <- exp_plus; f_equal; ring).
apply Rmult_le_compat_r; [left; apply exp_pos|]. assert (H := exp_ineq1_le (x - 1)). lra. Qed.

Section Received.
Variables (n d : nat) (Z : mat).
Let s (i : nat) := sum n (kernel d Z i).
Let u (i : nat) := / s i.

Lemma kernel_self i : kernel d Z i i = 1.
Proof. unfold kernel, distance2, dot, vsub. rewrite (sum_ext d _ (fun _ => 0)) by (intros; ring).
rewrite sum_zero, Ropp_0. apply exp_0. Qed.
Lemma s_ge1 i : (i < n)%nat -> 1 <= s i.
Proof. intros Hi. rewrite <- (kernel_self i). apply (sum_term_le n (kernel d Z i) i); [intros; left;
  apply exp_pos|exact Hi]. Qed.
Lemma u_range i : (i < n)%nat -> 0 < u i <= 1.
Proof. intros Hi. assert (S := s_ge1 i Hi). unfold u. split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1.
apply Rinv_le_contravar; lra. Qed.
Lemma weight_is i j : softmax n (fun _ => 1) (distance_logit d Z i) j = u i * kernel d Z i j.
Proof. unfold softmax, tilt. rewrite (sum_ext n _ (kernel d Z i)) by (intros; unfold kernel, distance_logit, distance2;
  ring). fold (s i). unfold u, kernel, distance_logit, distance2, Rdiv. ring. Qed.
Lemma distance_pos i j : 0 <= distance2 d Z i j. Proof. apply dot_pos. Qed.

Lemma few_tokens j tau : (j < n)%nat -> 0 <= tau -> tau * exp (tau + 1) = 1 ->
  sum n (fun i => u i * kernel d Z i j * distance2 d Z i j) <= (INR n - 1) * tau.
Proof.
  intros Hj t0 Ht. apply Rle_trans with (sum n (fun i => tau - eye j i * tau));
    [|rewrite sum_minus, sum_const, (sum_eye n j (fun _ => tau) Hj); lra].
  apply sum_le; intros i Hi. unfold eye. destruct (Nat.eqb_spec j i) as [<-|N].
  - replace (distance2 d Z j j) with 0; [lra|]. unfold distance2, dot, vsub.
    rewrite (sum_ext d _ (fun _ => 0)) by (intros; ring). now rewrite sum_zero.
  - set (D := distance2 d Z i j). assert (K : kernel d Z i j = exp (- D)) by reflexivity. assert (S1 := s_ge1 i Hi).
    assert (S2 : 1 + exp (- D) <= s i).
    { apply Rle_trans with (sum n (fun k => eye i k * 1 + eye j k * exp (- D)));
        [rewrite sum_plus, (sum_eye n i (fun _ => 1) Hi), (sum_eye n j (fun _ => exp (- D)) Hj); lra|].
        apply sum_le; intros k _. unfold eye. assert (P := exp_pos (- distance2 d Z i k)). fold (kernel d Z i k) in P.
      destruct (Nat.eqb_spec i k) as [<-|_]; [destruct (Nat.eqb_spec j i); [congruence|rewrite kernel_self; lra]|].
      destruct (Nat.eqb_spec j k) as [<-|_]; [rewrite K; lra|lra]. }
    assert (Pk := peak (D - tau)). assert (ET : exp (- (tau + 1)) = tau) by (rewrite exp_Ropp;
      assert (E := exp_pos (tau + 1)); apply Rmult_eq_reg_r with (exp (tau + 1)); [rewrite Rinv_l, Ht by lra;
        reflexivity|lra]).
    apply (Rmult_le_compat_r (exp (- tau))) in Pk; [|left; apply exp_pos]. rewrite Rmult_assoc, <- !exp_plus in Pk.
    replace (- (D - tau) + - tau) with (- D) in Pk by ring. replace (-1 + - tau) with (- (tau + 1)) in Pk by ring.
    rewrite ET in Pk.
    rewrite K. unfold u. rewrite Rmult_0_l, Rminus_0_r. apply Rmult_le_reg_r with (s i); [lra|].
    replace (/ s i * exp (- D) * D * s i) with (D * exp (- D)) by (field; lra).
    assert (tau * (1 + exp (- D)) <= tau * s i) by (now apply Rmult_le_compat_l). lra.
Qed.

(** The kernel e^(-t d), 0 <= t <= 1: sum_k e^(-t d_ik) <= n (s_i/n)^t. *)
Lemma many_tokens j : (8 <= n)%nat -> (j < n)%nat -> sum n (fun i => u i * kernel d Z i j * distance2 d Z i j) <= sqrt
  (INR n) * ln (INR n) / 2.
Proof.
  intros H8 Hj. assert (N8 : 8 <= INR n) by (replace 8 with (INR 8) by (simpl; ring); now apply le_INR).
  set (L := ln (INR n)). assert (L2' : 2 < L) by (apply Rlt_le_trans with (ln 8); [interval with (i_prec 40)|unfold L;
    destruct N8 as [N8|<-]; [left; apply ln_increasing; lra|lra]]).
  set (th := 2 / L). assert (th0 : 0 < th < 1) by (unfold th; split; [apply Rdiv_lt_0_compat;
    lra|apply Rmult_lt_reg_r with L; [lra|]; field_simplify; lra]). set (t := 1 - th).
    assert (tL : L + th * L = L + 2) by (unfold th; field; lra).
  set (Zt := fun i a => sqrt t * Z i a). assert (t0 : 0 < t < 1) by (unfold t; lra).
  assert (Kt : forall i k, kernel d Zt i k = exp (- (t * distance2 d Z i k))).
  { intros i k. unfold kernel, distance2. do 2 f_equal. unfold dot, vsub, Zt. rewrite <- sum_scal.
    apply sum_ext; intros a _. transitivity (sqrt t * sqrt t * ((Z i a - Z k a) * (Z i a - Z k a)));
      [ring|rewrite sqrt_sqrt by lra; reflexivity]. }
  set (c := sum n (fun i => u i * kernel d Zt i j)). assert (c0 : 0 <= c) by (apply sum_nonneg; intros i Hi;
    apply Rmult_le_pos; [destruct (u_range i Hi); lra|left; apply exp_pos]).
  assert (One : sum n (fun i => u i * kernel d Z i j * distance2 d Z i j) <= exp (- 1) / th * c).
  { unfold c. rewrite <- sum_scal. apply sum_le; intros i Hi. rewrite Kt. set (D := distance2 d Z i j). unfold kernel.
    fold D. destruct (u_range i Hi) as [u0 _].
    assert (Pk := peak (th * D)). apply (Rmult_le_compat_r (/ th * u i * exp (- (t * D)))) in Pk;
      [|repeat apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; lra|lra|left; apply exp_pos]].
    replace (th * D * exp (- (th * D)) * (/ th * u i * exp (- (t * D)))) with (u i * (exp (- (th * D)) * exp (- (t *
      D))) * D) in Pk by (field; lra). rewrite <- exp_plus in Pk.
      replace (- (th * D) + - (t * D)) with (- D) in Pk by (unfold t; ring). unfold Rdiv. lra. }
  assert (Two : c ^ 2 <= INR n * exp 2).
  { eapply Rle_trans; [apply (kernel_cs n d Zt u j Hj)|]. unfold quad.
    apply Rle_trans with (sum n (fun i => sum n (fun k => / 2 * (u i * u i * kernel d Zt i k) + / 2 * (u k * u k *
      kernel d Zt i k)))).
    { apply sum_le; intros i _. apply sum_le; intros k _. assert (0 <= (u i - u k) * (u i - u k) * kernel d Zt i k) by
        (apply Rmult_le_pos; [apply Rle_0_sqr|left; apply exp_pos]). lra. }
    assert (Sy : forall i k, kernel d Zt i k = kernel d Zt k i) by (intros; unfold kernel, distance2, dot, vsub;
      do 2 f_equal; apply sum_ext; intros; ring).
    rewrite (sum_ext n _ (fun i => sum n (fun k => / 2 * (u i * u i * kernel d Zt i k)) + sum n (fun k => / 2 * (u k *
      u k * kernel d Zt k i)))) by (intros i _; rewrite <- sum_plus; apply sum_ext; intros k _; now rewrite (Sy k i)).
    rewrite sum_plus, (sum_swap n n (fun i k => / 2 * (u k * u k * kernel d Zt k i))). rewrite <- sum_plus.
    apply Rle_trans with (sum n (fun _ => exp 2)); [|rewrite sum_const; lra]. apply sum_le; intros i Hi.
    rewrite <- sum_plus.
    rewrite (sum_ext n _ (fun k => u i * u i * kernel d Zt i k)) by (intros; lra). rewrite sum_scal.
    assert (S1 := s_ge1 i Hi). set (lc := ln (s i / INR n)). assert (Ec : exp lc = s i / INR n) by (apply exp_ln,
      Rdiv_lt_0_compat; lra).
    assert (Hoelder : sum n (kernel d Zt i) <= INR n * exp (t * lc)).
    { apply Rle_trans with (sum n (fun k => exp (t * lc) * (1 - t) + exp (t * lc) * t * (INR n / s i) * kernel d Z i
        k)).
      - apply sum_le; intros k _. rewrite Kt. assert (C := exp_convex t (- distance2 d Z i k - lc) ltac:(lra)).
        apply (Rmult_le_compat_l (exp (t * lc))) in C; [|left; apply exp_pos]. rewrite <- exp_plus in C.
        replace (t * lc + t * (- distance2 d Z i k - lc)) with (- (t * distance2 d Z i k)) in C by ring.
        unfold Rminus in C at 2. rewrite exp_plus, (exp_Ropp lc), Ec in C. fold (kernel d Z i k) in C.
        replace (/ (s i / INR n)) with (INR n / s i) in C by (field; lra). eapply Rle_trans; [exact C|]. right. ring.
      - rewrite sum_plus, sum_const, sum_scal. fold (s i). right. field. lra. }
    apply Rle_trans with (u i * u i * (INR n * exp (t * lc))); [apply Rmult_le_compat_l;
      [apply Rle_0_sqr|exact Hoelder]|].
    assert (lnS : 0 <= ln (s i)) by (destruct S1 as [S1|<-]; [left; rewrite <- ln_1; apply ln_increasing;
      lra|rewrite ln_1; lra]).
    assert (Es : exp (t * lc) <= s i * exp (- (t * L))).
    { replace (t * lc) with (t * ln (s i) + - (t * L)) by (unfold lc, L, Rdiv;
        rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; lra); ring). rewrite exp_plus.
        apply Rmult_le_compat_r; [left; apply exp_pos|]. rewrite <- (exp_ln (s i)) at 2 by lra. apply exp_le.
      rewrite <- (Rmult_1_l (ln (s i))) at 2. apply Rmult_le_compat_r; lra. }
    apply Rle_trans with (u i * u i * (INR n * (s i * exp (- (t * L))))); [apply Rmult_le_compat_l;
      [apply Rle_0_sqr|apply Rmult_le_compat_l; lra]|].
    replace (u i * u i * (INR n * (s i * exp (- (t * L))))) with (u i * (INR n * exp (- (t * L)))) by (unfold u; field;
      lra).
    assert (E2 : INR n * exp (- (t * L)) = exp 2) by (rewrite <- (exp_ln (INR n)) at 1 by lra; fold L;
      rewrite <- exp_plus; f_equal; unfold t; lra). rewrite E2. destruct (u_range i Hi).
      rewrite <- (Rmult_1_l (exp 2)) at 2. apply Rmult_le_compat_r; [left; apply exp_pos|lra]. }
  assert (C3 : c <= sqrt (INR n) * exp 1).
  { apply Rsqr_incr_0_var; [|apply Rmult_le_pos; [apply sqrt_pos|left; apply exp_pos]]. unfold Rsqr.
    replace (sqrt (INR n) * exp 1 * (sqrt (INR n) * exp 1)) with (sqrt (INR n) * sqrt (INR n) * (exp 1 * exp 1)) by
      ring. rewrite sqrt_sqrt, <- exp_plus by lra. replace (1 + 1) with 2 by ring. lra. }
  eapply Rle_trans; [exact One|]. apply Rle_trans with (exp (- 1) / th * (sqrt (INR n) * exp 1));
    [apply Rmult_le_compat_l; [apply Rmult_le_pos; [left; apply exp_pos|left; apply Rinv_0_lt_compat; lra]|exact C3]|].
  right. assert (E1 : exp (-1) * exp 1 = 1) by (rewrite <- exp_plus; replace (-1 + 1) with 0 by ring; apply exp_0).
  replace (exp (-1) / th * (sqrt (INR n) * exp 1)) with (exp (-1) * exp 1 * (sqrt (INR n) / th)) by (field; lra).
  rewrite E1. unfold th. fold L. field. lra.
Qed.

Lemma received_distance j tau : (j < n)%nat -> 0 <= tau -> tau * exp (tau + 1) = 1 ->
  sum n (fun i => u i * kernel d Z i j * distance2 d Z i j) <= Rmin ((INR n - 1) * tau) (sqrt (INR n) * ln (INR n) / 2).
Proof.
  intros Hj t0 Ht. assert (F := few_tokens j tau Hj t0 Ht). apply Rmin_glb; [exact F|].
  destruct (Nat.le_gt_cases 8 n) as [H8|H8]; [now apply many_tokens|]. eapply Rle_trans; [exact F|].
  assert (T : tau <= 0.2785).
  { destruct (Rle_dec tau 0.2785) as [T|T]; [exact T|]. assert (Q : 1 < 0.2785 * exp (0.2785 + 1)) by interval with
      (i_prec 40). assert (exp (0.2785 + 1) <= exp (tau + 1)) by (apply exp_le; lra).
      assert (0.2785 * exp (0.2785 + 1) <= tau * exp (tau + 1)) by (apply Rmult_le_compat; try lra; left;
        apply exp_pos). lra. }
  destruct n as [|[|[|[|[|[|[|[|k]]]]]]]]; try lia; simpl INR; [replace (1 - 1) with 0 by ring; rewrite ln_1;
    lra| | | | | |].
  - apply Rle_trans with (0.2785 * 1); [lra|]. interval with (i_prec 40).
  - apply Rle_trans with (0.2785 * 2); [lra|]. interval with (i_prec 40).
  - apply Rle_trans with (0.2785 * 3); [lra|]. interval with (i_prec 40).
  - apply Rle_trans with (0.2785 * 4); [lra|]. interval with (i_prec 40).
  - apply Rle_trans with (0.2785 * 5); [lra|]. interval with (i_prec 40).
  - apply Rle_trans with (0.2785 * 6); [lra|]. interval with (i_prec 40).
Qed.
End Received.

(** |Cov(g, q)|^2 <= E g^2 E|q|^2 *)
Lemma cov_short2 n d p (g : vec) (q : mat) : (forall j, (j < n)%nat -> 0 <= p j) -> sum n p = 1 ->
  let c := fun a => cov n p g (fun j => q j a) in dot d c c <= sum n (fun j => p j * (g j * g j)) * sum n (fun j => p j
    * dot d (q j) (q j)).
Proof.
  intros p0 p1 c. set (V := sum n (fun j => p j * (g j * g j))). set (F := sum n (fun j => p j * dot d (q j) (q j))).
  assert (V0 : 0 <= V) by (apply sum_nonneg; intros; apply Rmult_le_pos; [auto|apply Rle_0_sqr]).
  assert (F0 : 0 <= F) by (apply sum_nonneg; intros; apply Rmult_le_pos; [auto|apply dot_pos]).
  assert (E : dot d c c = cov n p g (fun j => sum d (fun a => c a * q j a))) by (rewrite (cov_sum n p g d c (fun a j =>
    q j a)); reflexivity).
  assert (CS := cov_cs n p p0 p1 g (fun j => sum d (fun a => c a * q j a))). rewrite <- E in CS.
  apply self_bound; [now apply Rmult_le_pos|]. eapply Rle_trans; [exact CS|]. rewrite Rmult_assoc.
  apply Rmult_le_compat; [now apply var_pos|now apply var_pos| |].
  - unfold cov. fold V. assert (S := Rle_0_sqr (avg n p g)). unfold Rsqr in S. lra.
  - apply Rle_trans with (sum n (fun j => p j * (dot d c (q j) * dot d c (q j)))).
    + unfold cov. assert (S := Rle_0_sqr (avg n p (fun j => sum d (fun a => c a * q j a)))). unfold Rsqr in S.
      unfold dot. lra.
    + unfold F. rewrite Rmult_comm, <- sum_scal. apply sum_le; intros j Hj.
      replace (dot d c c * (p j * dot d (q j) (q j))) with (p j * (dot d c c * dot d (q j) (q j))) by ring.
      apply Rmult_le_compat_l; [auto|apply cauchy_schwarz].
Qed.

Lemma rows_le n d (A : mat) (K : R) (b : vec) : (forall i, (i < n)%nat -> dot d (A i) (A i) <= b i) -> sum n b <= K ->
  l2 n (fun i => l2 d (A i)) <= sqrt K.
Proof. intros H S. unfold l2 at 1. apply sqrt_le_1_alt. eapply Rle_trans; [|exact S]. apply sum_le; intros i Hi.
rewrite <- dot_l2. now apply H. Qed.

Theorem l2_lipschitz n d (Z H : mat) phi tau : (0 < n)%nat -> 0 <= phi -> phi * exp (phi + 1) = INR n - 1 ->
  0 <= tau -> tau * exp (tau + 1) = 1 ->
  exists J : mat, (forall i a, (i < n)%nat -> (a < d)%nat -> is_derive (fun t => distance_attention n d (moved Z H t) i
    a) 0 (J i a)) /\
    frob n d J <= (Rpower (INR n) (/ 4) + 2 * phi + 2 * sqrt (phi * Rmin ((INR n - 1) * tau) (sqrt (INR n) * ln (INR n)
      / 2))) * frob n d H.
Proof.
  intros Hn Phi0 Hphi Tau0 Htau. assert (N0 : 0 < INR n) by (apply (lt_INR 0); lia). set (kap := Rmin _ _).
  set (P := fun i => softmax n (fun _ => 1) (distance_logit d Z i)).
  assert (Wt : weights n (fun _ => 1)) by (split; [intros; lra|exists 0%nat; split; [lia|lra]]).
  assert (P0 : forall i j, (j < n)%nat -> 0 <= P i j) by (intros; now apply tilt_nonneg).
  assert (P1 : forall i, sum n (P i) = 1) by (intro; now apply tilt_sum).
  set (q := fun i j => vsub (Z j) (Z i)). set (f := fun i j => -2 * dot d (vsub (Z i) (Z j)) (vsub (H i) (H j))).
  set (E := fun i a => avg n (P i) (fun j => H j a)). set (A := fun i a => cov n (P i) (fun j => dot d (q i j) (H i))
    (fun j => q i j a)). set (B := fun i a => cov n (P i) (fun j => dot d (q i j) (H j)) (fun j => q i j a)).
  assert (dq : forall i j, dot d (q i j) (q i j) = distance2 d Z i j) by (intros; unfold q, distance2, dot, vsub;
    apply sum_ext; intros; ring).
  exists (fun i a => E i a + (2 * A i a + -2 * B i a)). split.
  - intros i a Hi _. apply (is_derive_ext (fun t => sum n (fun j => softmax n (fun _ => 1) (fun k => distance_logit d Z
      i k + t * f i k + t * t * - dot d (vsub (H i) (H k)) (vsub (H i) (H k))) j * (Z j a + t * H j a)))).
    { intro t. unfold distance_attention. apply sum_ext; intros j Hj. unfold moved at 2. f_equal.
      apply tilt_ext; [reflexivity| |exact Hj]. intros k _. unfold distance_logit, f, dot, vsub, moved.
      rewrite (sum_ext d (fun b => (Z i b + t * H i b - (Z k b + t * H k b)) * (Z i b + t * H i b - (Z k b + t * H k
        b))) (fun b => (Z i b - Z k b) * (Z i b - Z k b) + 2 * t * ((Z i b - Z k b) * (H i b - H k b)) + t * t * ((H i
          b - H k b) * (H i b - H k b)))) by (intros; ring).
      rewrite !sum_plus, !sum_scal. ring. }
    evar_last; [apply (mean_derive n (fun _ => 1) (distance_logit d Z i) (f i) (fun k => - dot d (vsub (H i) (H k))
      (vsub (H i) (H k))) (fun j => Z j a) (fun j => H j a) Wt)|]. fold (P i). unfold E. f_equal. unfold A, B, cov.
    assert (p1 := P1 i). set (p := P i) in *.
    rewrite (sum_ext n (fun j => p j * (f i j * Z j a)) (fun j => 2 * (p j * (dot d (q i j) (H i) * q i j a)) - 2 * (p
      j * (dot d (q i j) (H j) * q i j a)) + Z i a * (p j * f i j))).
    + rewrite sum_plus, sum_minus, !sum_scal. unfold avg. rewrite (sum_ext n (fun j => p j * q i j a) (fun j => p j * Z
        j a - Z i a * p j)) by (intros; unfold q, vsub; ring). rewrite sum_minus, sum_scal, p1.
      rewrite (sum_ext n (fun j => p j * f i j) (fun j => 2 * (p j * dot d (q i j) (H i)) - 2 * (p j * dot d (q i j) (H
        j)))); [rewrite sum_minus, !sum_scal; ring|].
      intros j _. assert (F : f i j = 2 * dot d (q i j) (H i) - 2 * dot d (q i j) (H j)); [|rewrite F; ring].
      unfold f, q, dot, vsub. rewrite <- !sum_scal, <- sum_minus. apply sum_ext; intros; ring.
    + intros j _. assert (F : f i j = 2 * dot d (q i j) (H i) - 2 * dot d (q i j) (H j)) by (unfold f, q, dot, vsub;
        rewrite <- !sum_scal, <- sum_minus; apply sum_ext; intros; ring).
      replace (Z i a * (p j * f i j)) with (Z i a * p j * f i j) by ring. rewrite F. unfold q at 4 6, vsub. ring.
  - set (nH := frob n d H). assert (nH0 : 0 <= nH) by apply sqrt_pos.
    assert (nH2 : nH * nH = sum n (fun j => dot d (H j) (H j))) by (apply sqrt_sqrt, sum_nonneg; intros; apply dot_pos).
    assert (Md : forall i, (i < n)%nat -> sum n (fun j => P i j * dot d (q i j) (q i j)) <= phi) by (intros i Hi;
      rewrite (sum_ext n _ (fun j => P i j * dot d (vsub (Z i) (Z j)) (vsub (Z i) (Z j)))) by (intros; rewrite dq;
        reflexivity); now apply mean_distance).
    assert (BE : l2 n (fun i => l2 d (E i)) <= sqrt (sqrt (INR n) * (nH * nH))).
    { apply (rows_le n d E _ (fun i => sum n (fun j => P i j * dot d (H j) (H j)))).
      - intros i _. unfold dot at 1. apply Rle_trans with (sum d (fun a => sum n (fun j => P i j * (H j a * H j a)))).
        + apply sum_le; intros a _. assert (V := var_pos n (P i) (P0 i) (P1 i) (fun j => H j a)). unfold cov in V.
          unfold E. lra.
        + right. rewrite sum_swap. apply sum_ext; intros j _. unfold dot. now rewrite sum_scal.
      - rewrite sum_swap, nH2, <- sum_scal. apply sum_le; intros j Hj. rewrite sum_scal_r.
        apply Rmult_le_compat_r; [apply dot_pos|]. apply (received n d Z j Hj). }
    assert (BA : forall i, (i < n)%nat -> l2 d (A i) <= phi * l2 d (H i)).
    { intros i Hi. assert (h0 : 0 <= l2 d (H i)) by apply sqrt_pos. apply Rsqr_incr_0_var; [|now apply Rmult_le_pos].
      unfold Rsqr. rewrite <- dot_l2. eapply Rle_trans; [apply (cov_short2 n d (P i) (fun j => dot d (q i j) (H i)) (q
        i) (P0 i) (P1 i))|].
      assert (F0 : 0 <= sum n (fun j => P i j * dot d (q i j) (q i j))) by (apply sum_nonneg; intros;
        apply Rmult_le_pos; [now apply P0|apply dot_pos]).
      assert (V : sum n (fun j => P i j * (dot d (q i j) (H i) * dot d (q i j) (H i))) <= dot d (H i) (H i) * phi).
      { apply Rle_trans with (dot d (H i) (H i) * sum n (fun j => P i j * dot d (q i j) (q i j)));
          [|apply Rmult_le_compat_l; [apply dot_pos|now apply Md]]. rewrite <- sum_scal. apply sum_le; intros j Hj.
        replace (dot d (H i) (H i) * (P i j * dot d (q i j) (q i j))) with (P i j * (dot d (q i j) (q i j) * dot d (H
          i) (H i))) by ring. apply Rmult_le_compat_l; [now apply P0|apply cauchy_schwarz]. }
      replace (phi * l2 d (H i) * (phi * l2 d (H i))) with (dot d (H i) (H i) * phi * phi) by (rewrite (dot_l2 d (H
        i)); ring). apply Rmult_le_compat; [|exact F0|exact V|now apply Md].
        apply sum_nonneg; intros; apply Rmult_le_pos; [now apply P0|apply Rle_0_sqr]. }
    assert (BB : l2 n (fun i => l2 d (B i)) <= sqrt (phi * kap * (nH * nH))).
    { apply (rows_le n d B _ (fun i => phi * sum n (fun j => P i j * distance2 d Z i j * dot d (H j) (H j)))).
      - intros i Hi. eapply Rle_trans; [apply (cov_short2 n d (P i) (fun j => dot d (q i j) (H j)) (q i) (P0 i) (P1
          i))|]. rewrite Rmult_comm. apply Rmult_le_compat; [apply sum_nonneg; intros; apply Rmult_le_pos;
            [now apply P0|apply dot_pos]|apply sum_nonneg; intros; apply Rmult_le_pos;
              [now apply P0|apply Rle_0_sqr]|now apply Md|].
        apply sum_le; intros j Hj. rewrite Rmult_assoc. apply Rmult_le_compat_l; [now apply P0|]. rewrite <- dq.
        apply cauchy_schwarz.
      - rewrite sum_scal, Rmult_assoc. apply Rmult_le_compat_l; [exact Phi0|]. rewrite sum_swap, nH2, <- sum_scal.
        apply sum_le; intros j Hj. rewrite sum_scal_r. apply Rmult_le_compat_r; [apply dot_pos|].
        eapply Rle_trans; [right|apply (received_distance n d Z j tau Hj Tau0 Htau)]. apply sum_ext; intros i _.
        unfold P. now rewrite weight_is. }
    rewrite frob_rows. eapply Rle_trans; [apply (l2_mono n _ (fun i => l2 d (E i) + (2 * phi * l2 d (H i) + 2 * l2 d (B
      i))))|].
    + intros i Hi. split; [apply sqrt_pos|]. eapply Rle_trans; [apply (sn_add (L2 d) (E i))|]. apply Rplus_le_compat_l.
      eapply Rle_trans; [apply (sn_add (L2 d) (fun a => 2 * A i a) (fun a => -2 * B i a))|]. rewrite !(sn_scal (L2 d)).
      rewrite (Rabs_right 2), (Rabs_left (-2)) by lra.
      change (2 * l2 d (A i) + - -2 * l2 d (B i) <= 2 * phi * l2 d (H i) + 2 * l2 d (B i)). specialize (BA i Hi). lra.
    + eapply Rle_trans; [apply (sn_add (L2 n) (fun i => l2 d (E i)) (fun i => 2 * phi * l2 d (H i) + 2 * l2 d (B
        i)))|]. assert (T2 := sn_add (L2 n) (fun i => 2 * phi * l2 d (H i)) (fun i => 2 * l2 d (B i))).
        rewrite !(sn_scal (L2 n)) in T2. rewrite !Rabs_right in T2 by lra.
      change (L2 n (fun i => l2 d (H i))) with (l2 n (fun i => l2 d (H i))) in T2. rewrite <- frob_rows in T2.
      fold nH in T2. change (L2 n (fun i => l2 d (B i))) with (l2 n (fun i => l2 d (B i))) in T2.
      change (L2 n (fun i => l2 d (E i))) with (l2 n (fun i => l2 d (E i))).
      assert (S1 : sqrt (sqrt (INR n) * (nH * nH)) = Rpower (INR n) (/ 4) * nH).
      { rewrite sqrt_mult_alt by apply sqrt_pos. rewrite sqrt_square by exact nH0. f_equal.
        rewrite <- (Rpower_sqrt (INR n) N0), <- Rpower_sqrt by apply exp_pos. rewrite Rpower_mult. f_equal. field. }
      assert (K0 : 0 <= kap).
      { unfold kap. apply Rmin_glb; [apply Rmult_le_pos; [assert (1 <= INR n) by (apply (le_INR 1); lia);
          lra|exact Tau0]|]. assert (1 <= INR n) by (apply (le_INR 1); lia).
          assert (0 <= ln (INR n)) by (destruct H0 as [H0|<-]; [left; rewrite <- ln_1; apply ln_increasing;
            lra|rewrite ln_1; lra]).
        assert (0 <= sqrt (INR n) * ln (INR n)) by (apply Rmult_le_pos; [apply sqrt_pos|assumption]). lra. }
      assert (S2 : sqrt (phi * kap * (nH * nH)) = sqrt (phi * kap) * nH) by (rewrite sqrt_mult_alt by (now apply
        Rmult_le_pos); now rewrite sqrt_square).
      rewrite S1 in BE. rewrite S2 in BB. lra.
Qed.
