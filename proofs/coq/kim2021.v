(** own:received, kim2021:3.2, own:l2-lower.  What each is stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms seed_closure Softmax own_order.
Local Open Scope R_scope.

(** own:l2-lower.  m equal tokens and N = m^2/4 others in orthogonal directions at the distance r, y = e^(-r^2) = 2/m.
Attention by distances gives the equal
    tokens c from one of them, o from another one; so |P u|^2/|u|^2 = (m c^2 + N o^2)/m for u their indicator,
      at least m/16 + 4/9 [crowd]. *)

Theorem crowd m : 4 <= m -> let N := m * m / 4 in let y := 2 / m in
  let c := m / (m + N * y) in let o := m * y / (m * y + 1 + (N - 1) * (y * y)) in
  m / 16 + 4 / 9 <= (m * (c * c) + N * (o * o)) / m.
Proof.
  intros Hm N y c o. assert (Ec : c = 2 / 3) by (unfold c, N, y; field; lra).
  assert (D : 0 < m * m - 1) by nra.
  assert (Eo : o = m * m / (2 * (m * m - 1))).
  { unfold o, N, y. replace (m * (2 / m) + 1 + (m * m / 4 - 1) * (2 / m * (2 / m))) with (4 * (m * m - 1) / (m * m)) by
      (field; lra). field. repeat split; nra. }
  assert (Ho : 1 / 2 <= o).
  { rewrite Eo. apply Rmult_le_reg_r with (2 * (m * m - 1)); [lra|].
    replace (m * m / (2 * (m * m - 1)) * (2 * (m * m - 1))) with (m * m) by (field; lra). lra. }
  rewrite Ec. replace ((m * (2 / 3 * (2 / 3)) + N * (o * o)) / m) with (4 / 9 + m / 4 * (o * o)) by (unfold N; field;
    lra).
  assert (1 / 4 <= o * o) by nra. nra.
Qed.

(** own:received.  Attention by distances, P_ij in proportion to e^(-|z_i - z_j|^2): no token receives more than
  sqrt(n), sum_i P_ij <= sqrt(n)  [received].
    The kernel e^(-|z_i - z_j|^2) is positive semidefinite  [kernel_psd],
      so by Cauchy and Schwarz (K u)_j^2 <= u K u for u_i = 1/sum_k K_ik, and u K u <= sum_i u_i^2 sum_k K_ik <= n. *)

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

(** kim2021:3.2, as we read it.  Attention by distances, f(Z)_i = sum_j P_ij z_j with P_ij in proportion to exp(-|z_i -
  z_j|^2), is Lipschitz in l2 on all of space: with n tokens and
    phi e^(phi + 1) = n - 1 its derivative along any H has |df(Z)[H]|_F <= sqrt n (4 phi + 1) |H|_F  [kim_3_2].
    The key is sum_j P_ij |z_i - z_j|^2 <= phi  [mean_distance]. *)

(** A mean under softmax moves with its values and its logits. *)
Lemma mean_derivative n (l y : nat -> R -> R) (f u : vec) : (0 < n)%nat -> (forall k, (k < n)%nat ->
  is_derive (l k) 0 (f k)) -> (forall k, (k < n)%nat -> is_derive (y k) 0 (u k)) ->
  let p := softmax n (fun _ => 1) (fun k => l k 0) in
  is_derive (fun h => sum n (fun j => softmax n (fun _ => 1) (fun k => l k h) j * y j h)) 0 (sum n (fun j => p j * u j)
    + sum n (fun j => p j * (f j - avg n p f) * y j 0)).
Proof.
  intros Hn Hl Hy p. assert (Wt : weights n (fun _ => 1)) by (split; [intros; lra|exists 0%nat; split; [lia|lra]]).
  set (Z := fun h => sum n (fun k => 1 * exp (l k h))). set (A := fun h => sum n (fun k => y k h * exp (l k h))).
  assert (Zp : forall h, 0 < Z h) by (intro h; apply (tilt_Z_pos n (fun _ => 1) Wt (fun k => l k h))).
  assert (DE : forall k, (k < n)%nat -> is_derive (fun h => exp (l k h)) 0 (f k * exp (l k 0))) by (intros k Hk;
    apply (is_derive_comp exp (l k) 0 (exp (l k 0)) (f k)); [apply is_derive_exp|now apply Hl]).
  assert (DZ : is_derive Z 0 (sum n (fun k => f k * exp (l k 0)))).
  { apply (derive_sum n (fun k h => 1 * exp (l k h)) (fun k h => f k * exp (l k 0))). intros k Hk.
    apply (is_derive_ext (fun h => exp (l k h))); [intro; match goal with |- @eq _ ?a ?b => change (@eq R a b) end;
      ring|now apply DE]. }
  assert (DA : is_derive A 0 (sum n (fun k => u k * exp (l k 0) + y k 0 * (f k * exp (l k 0))))).
  { apply (derive_sum n (fun k h => y k h * exp (l k h)) (fun k h => u k * exp (l k 0) + y k 0 * (f k * exp (l k 0)))).
    intros k Hk.
    apply (is_derive_mult (y k) (fun h => exp (l k h)) 0 (u k) (f k * exp (l k 0))); [now apply Hy|now apply DE|intros;
      apply Rmult_comm]. }
  assert (pE : forall j, p j = exp (l j 0) / Z 0) by (intro j; unfold p, softmax, tilt; rewrite Rmult_1_l; reflexivity).
  assert (Z0 := Zp 0).
  assert (E1 : sum n (fun k => f k * exp (l k 0)) = avg n p f * Z 0) by (unfold avg; rewrite <- sum_scal_r;
    apply sum_ext; intros; rewrite pE; field; lra).
  assert (E2 : A 0 = sum n (fun k => p k * y k 0) * Z 0) by (unfold A; rewrite <- sum_scal_r; apply sum_ext; intros;
    rewrite pE; field; lra).
  assert (E3 : sum n (fun k => u k * exp (l k 0) + y k 0 * (f k * exp (l k 0))) = (sum n (fun k => p k * u k) + sum n
    (fun k => p k * f k * y k 0)) * Z 0).
  { rewrite <- sum_plus, <- sum_scal_r. apply sum_ext; intros; rewrite pE; field; lra. }
  apply (is_derive_ext (fun h => A h / Z h)).
  - intro h. unfold A, Rdiv. rewrite <- sum_scal_r. apply sum_ext; intros j _. unfold softmax, tilt. fold (Z h).
    unfold Rdiv. ring.
  - evar_last; [apply (is_derive_div A Z 0 _ _ DA DZ (Rgt_not_eq _ _ Z0))|]. rewrite E1, E2, E3.
    match goal with |- @eq _ ?a ?b => change (@eq R a b) end.
    rewrite (sum_ext n (fun j => p j * (f j - avg n p f) * y j 0) (fun j => p j * f j * y j 0 - avg n p f * (p j * y j
      0))) by (intros; ring). rewrite sum_minus, sum_scal. field. lra.
Qed.

Section Mean.
Variables (n d : nat) (p : vec).
Hypothesis p0 : forall j, (j < n)%nat -> 0 <= p j.
Hypothesis p1 : sum n p = 1.

(** The mean of the rows of V, and that the deviations are no longer than the rows, in the mean square. *)
Definition centre_of (V : mat) : vec := fun a => sum n (fun j => p j * V j a).
Lemma deviations (V : mat) : sum n (fun j => p j * dot d (vsub (V j) (centre_of V)) (vsub (V j) (centre_of V))) <= sum
  n (fun j => p j * dot d (V j) (V j)).
Proof.
  unfold dot. rewrite (sum_ext n (fun j => p j * sum d (fun i => V j i * V j i)) (fun j => sum d (fun a => p j * (V j a
    * V j a)))) by (intros; now rewrite sum_scal).
  rewrite (sum_ext n _ (fun j => sum d (fun a => p j * (vsub (V j) (centre_of V) a * vsub (V j) (centre_of V) a)))) by
    (intros; now rewrite sum_scal).
  rewrite sum_swap, (sum_swap n d (fun j a => p j * (V j a * V j a))). apply sum_le; intros a _. unfold vsub.
  set (c := centre_of V a).
  rewrite (sum_ext n _ (fun j => (p j * (V j a * V j a) - 2 * c * (p j * V j a)) + c * c * p j)) by (intros; ring).
  rewrite sum_plus, sum_minus, !sum_scal, p1.
  change (sum n (fun j => p j * V j a)) with c. assert (Q := Rle_0_sqr c). unfold Rsqr in Q. lra.
Qed.

(** A combination with the weights p_j c_j is no longer than the mean of |c_j||V_j|. *)
Lemma mean_norm (c : vec) (V : mat) : l2 d (fun a => sum n (fun j => p j * c j * V j a)) <= sum n (fun j => p j * (Rabs
  (c j) * l2 d (V j))).
Proof.
  eapply Rle_trans; [apply (sn_sum (L2 d) n (fun j => p j * c j) V)|]. apply sum_le; intros j Hj. right. cbn [L2 sn].
  rewrite Rabs_mult, (Rabs_right (p j)) by (apply Rle_ge; auto). ring.
Qed.

Lemma mean_le (f : vec) b : (forall j, (j < n)%nat -> f j <= b) -> sum n (fun j => p j * f j) <= b.
Proof. intros H. apply Rle_trans with (sum n (fun j => p j * b)); [apply sum_le; intros; apply Rmult_le_compat_l;
  auto|rewrite sum_scal_r, p1; lra]. Qed.

(** Centring the logits is centring the values. *)
Lemma centre_values (f : vec) (V : mat) a : sum n (fun j => p j * (f j - avg n p f) * V j a) = sum n (fun j => p j * f
  j * vsub (V j) (centre_of V) a).
Proof.
  rewrite (sum_ext n _ (fun j => p j * f j * V j a - avg n p f * (p j * V j a))) by (intros; ring). unfold vsub.
  rewrite (sum_ext n (fun j => p j * f j * (V j a - centre_of V a)) (fun j => p j * f j * V j a - p j * f j * centre_of
    V a)) by (intros; ring).
  rewrite !sum_minus, sum_scal, sum_scal_r. reflexivity.
Qed.
End Mean.

Lemma l2_row n d (H : mat) i : (i < n)%nat -> l2 d (H i) <= frob n d H.
Proof. intros Hi. apply sqrt_le_1_alt. apply (sum_term_le n (fun i => dot d (H i) (H i)) i); [intros;
  apply dot_pos|exact Hi]. Qed.
Lemma l2_sqr d v : l2 d v * l2 d v = dot d v v.
Proof. apply sqrt_sqrt, dot_pos. Qed.

Definition distance_logit (d : nat) (Z : mat) : mat := fun i j => - dot d (vsub (Z i) (Z j)) (vsub (Z i) (Z j)).
Definition distance_attention (n d : nat) (Z : mat) : mat := fun i a => sum n (fun j => softmax n (fun _ => 1)
  (distance_logit d Z i) j * Z j a).

Lemma mean_distance n d Z i phi : (i < n)%nat -> phi * exp (phi + 1) = INR n - 1 ->
  sum n (fun j => softmax n (fun _ => 1) (distance_logit d Z i) j * dot d (vsub (Z i) (Z j)) (vsub (Z i) (Z j))) <= phi.
Proof.
  intros Hi Hphi. set (D := fun j => dot d (vsub (Z i) (Z j)) (vsub (Z i) (Z j))).
  set (S := sum n (fun k => 1 * exp (distance_logit d Z i k))).
  assert (Wt : weights n (fun _ => 1)) by (split; [intros; lra|exists i; split; [exact Hi|lra]]).
  assert (Sp : 0 < S) by apply (tilt_Z_pos n (fun _ => 1) Wt (distance_logit d Z i)).
  assert (D0 : D i = 0) by (unfold D, dot, vsub; rewrite <- (sum_zero d); apply sum_ext; intros; ring).
  assert (T : forall j, (j < n)%nat -> (D j - phi) * exp (- D j) <= exp (- (phi + 1)) + eye i j * (- phi - exp (- (phi
    + 1)))).
  { intros j Hj. unfold eye. destruct (Nat.eqb_spec i j) as [<-|_]; [rewrite D0, Ropp_0, exp_0; lra|].
    rewrite Rmult_0_l, Rplus_0_r.
    replace (- (phi + 1)) with ((D j - phi - 1) + - D j) by ring. rewrite exp_plus.
    apply Rmult_le_compat_r; [left; apply exp_pos|]. assert (X := exp_ineq1_le (D j - phi - 1)). lra. }
  assert (Sm := sum_le n _ _ T). cbv beta in Sm. rewrite sum_plus, sum_const, sum_scal_r in Sm.
  rewrite (sum_single n (eye i) i Hi) in Sm by (intros j _ Nj; unfold eye; destruct (Nat.eqb_spec i j);
    [congruence|reflexivity]). unfold eye in Sm. rewrite Nat.eqb_refl in Sm.
  assert (E : (INR n - 1) * exp (- (phi + 1)) = phi) by (rewrite <- Hphi, exp_Ropp; field; apply Rgt_not_eq, exp_pos).
  assert (B : sum n (fun j => D j * exp (- D j)) <= phi * S).
  { unfold S. rewrite (sum_ext n (fun j => (D j - phi) * exp (- D j)) (fun j => D j * exp (- D j) - phi * exp (- D j)))
      in Sm by (intros; ring). rewrite sum_minus, sum_scal in Sm.
    rewrite (sum_ext n (fun k => 1 * exp (distance_logit d Z i k)) (fun j => exp (- D j))) by (intros;
      apply Rmult_1_l). lra. }
  rewrite (sum_ext n _ (fun j => (D j * exp (- D j)) * / S)) by (intros j _; unfold softmax, tilt; fold S;
    unfold distance_logit; fold (D j); unfold Rdiv; ring).
  rewrite sum_scal_r. apply Rmult_le_reg_r with S; [exact Sp|]. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Theorem kim_3_2 n d (Z H g : mat) phi : (0 < n)%nat -> 0 <= phi -> phi * exp (phi + 1) = INR n - 1 ->
  (forall i a, (i < n)%nat -> (a < d)%nat -> is_derive (fun h => distance_attention n d (fun i a => Z i a + h * H i a)
    i a) 0 (g i a)) ->
  frob n d g <= sqrt (INR n) * (4 * phi + 1) * frob n d H.
Proof.
  intros Hn Phi0 Hphi Hg. set (F := frob n d H). assert (F0 : 0 <= F) by apply sqrt_pos.
  assert (Wt : weights n (fun _ => 1)) by (split; [intros; lra|exists 0%nat; split; [lia|lra]]).
  assert (Row : forall i, (i < n)%nat -> l2 d (g i) <= (4 * phi + 1) * F).
  { intros i Hi. set (p := softmax n (fun _ => 1) (distance_logit d Z i)).
    assert (p0 : forall j, (j < n)%nat -> 0 <= p j) by (intros; now apply tilt_nonneg).
    assert (p1 : sum n p = 1) by (now apply tilt_sum).
    set (q := fun j => vsub (Z j) (Z i)). set (f := fun j => 2 * dot d (q j) (vsub (H i) (H j))).
    assert (G : forall a, (a < d)%nat -> g i a = sum n (fun j => p j * H j a) + sum n (fun j => p j * f j * vsub (q j)
      (centre_of n p q) a)).
    { intros a Ha. set (l := fun k h => distance_logit d (fun i a => Z i a + h * H i a) i k).
      set (y := fun k h => Z k a + h * H k a).
      assert (Dl : forall k, (k < n)%nat -> is_derive (l k) 0 (f k)).
      { intros k _. unfold l, distance_logit, dot, vsub.
        apply (is_derive_ext (fun h => sum d (fun b => - ((Z i b + h * H i b - (Z k b + h * H k b)) * (Z i b + h * H i
          b - (Z k b + h * H k b)))))).
        - intro h. rewrite (sum_ext d _ (fun b => -1 * ((Z i b + h * H i b - (Z k b + h * H k b)) * (Z i b + h * H i b
            - (Z k b + h * H k b))))) by (intros; ring). rewrite sum_scal.
              match goal with |- @eq _ ?a ?b => change (@eq R a b) end. ring.
        - evar_last; [apply (derive_sum d _ (fun b _ => 2 * (q k b * (H i b - H k b)))); intros b _; unfold q, vsub;
            auto_derive; [exact I|ring]|]. unfold f, dot, vsub. now rewrite <- sum_scal. }
      assert (Dy : forall k, (k < n)%nat -> is_derive (y k) 0 (H k a)) by (intros k _; unfold y; auto_derive;
        [exact I|ring]).
      assert (M := mean_derivative n l y f (fun k => H k a) Hn Dl Dy). cbv zeta in M.
      assert (Pe : forall j, (j < n)%nat -> softmax n (fun _ => 1) (fun k => l k 0) j = p j).
      { intros j Hj. apply tilt_ext; [reflexivity| |exact Hj]. intros k _. unfold l, distance_logit, dot, vsub.
        f_equal. apply sum_ext; intros; ring. }
      rewrite <- (is_derive_unique _ _ _ (Hg i a Hi Ha)). etransitivity; [apply is_derive_unique; exact M|].
      f_equal; [apply sum_ext; intros; now rewrite Pe|].
      rewrite <- (centre_values n p f q). assert (Av : avg n (softmax n (fun _ => 1) (fun k => l k 0)) f = avg n p f)
        by (unfold avg; apply sum_ext; intros; now rewrite Pe). rewrite Av.
      assert (Z0 : sum n (fun j => p j * (f j - avg n p f)) = 0) by (rewrite (sum_ext n _ (fun j => p j * f j - p j *
        avg n p f)) by (intros; ring); rewrite sum_minus, sum_scal_r, p1; unfold avg; ring).
      rewrite (sum_ext n (fun j => p j * (f j - avg n p f) * q j a) (fun j => p j * (f j - avg n p f) * Z j a - p j *
        (f j - avg n p f) * Z i a)) by (intros; unfold q, vsub; ring).
      rewrite sum_minus, sum_scal_r, Z0, Rmult_0_l, Rminus_0_r. apply sum_ext; intros j Hj. rewrite Pe by exact Hj.
      unfold y. ring. }
    assert (Hr := fun j => l2_row n d H j). fold F in Hr.
    assert (A1 : l2 d (fun a => sum n (fun j => p j * 1 * H j a)) <= F).
    { eapply Rle_trans; [apply (mean_norm n d p p0)|]. apply (mean_le n p p0 p1). intros j Hj.
      rewrite Rabs_R1, Rmult_1_l. now apply Hr. }
    assert (Eq : sum n (fun j => p j * dot d (q j) (q j)) <= phi).
    { eapply Rle_trans; [|apply (mean_distance n d Z i phi Hi Hphi)]. right. apply sum_ext; intros j _. fold p.
      f_equal. unfold q, dot, vsub. apply sum_ext; intros; ring. }
    assert (A2 : l2 d (fun a => sum n (fun j => p j * f j * vsub (q j) (centre_of n p q) a)) <= 4 * phi * F).
    { eapply Rle_trans; [apply (mean_norm n d p p0)|]. set (c := fun j => vsub (q j) (centre_of n p q)).
      apply Rle_trans with (sum n (fun j => 2 * F * (p j * dot d (q j) (q j) + p j * dot d (c j) (c j)))).
      - apply sum_le; intros j Hj. replace (2 * F * (p j * dot d (q j) (q j) + p j * dot d (c j) (c j))) with (p j * (2
          * F * (dot d (q j) (q j) + dot d (c j) (c j)))) by ring.
        apply Rmult_le_compat_l; [auto|]. fold (c j). rewrite <- !l2_sqr.
        assert (X := dot_le_l2 d (q j) (vsub (H i) (H j))). assert (Y : l2 d (vsub (H i) (H j)) <= 2 * F).
        { assert (T := sn_tri (L2 d) (H i) (fun _ => 0) (H j)). rewrite (sn_sym (L2 d) (fun _ => 0) (H j)) in T.
          cbn [L2 sn] in T.
          assert (V0 : forall v, l2 d (vsub v (fun _ => 0)) = l2 d v) by (intro v; unfold l2, dot, vsub; f_equal;
            apply sum_ext; intros; ring). rewrite !V0 in T.
          assert (h1 := Hr i Hi). assert (h2 := Hr j Hj). lra. }
        set (x := l2 d (q j)) in *. set (z := l2 d (c j)). assert (x0 : 0 <= x) by apply sqrt_pos.
        assert (z0 : 0 <= z) by apply sqrt_pos.
        unfold f. rewrite Rabs_mult, (Rabs_right 2) by lra. assert (X2 : Rabs (dot d (q j) (vsub (H i) (H j))) <= x *
          (2 * F)) by (eapply Rle_trans; [exact X|]; apply Rmult_le_compat_l; lra).
        apply Rle_trans with (2 * (x * (2 * F)) * z); [apply Rmult_le_compat_r; lra|]. assert (Q := Rle_0_sqr (x - z)).
        unfold Rsqr in Q.
        replace (2 * (x * (2 * F)) * z) with (2 * F * (2 * (x * z))) by ring. apply Rmult_le_compat_l; lra.
      - rewrite sum_scal, sum_plus. assert (Dv := deviations n d p p1 q). fold c in Dv.
        replace (4 * phi * F) with (2 * F * (phi + phi)) by ring. apply Rmult_le_compat_l; [lra|].
        change (fun j => p j * dot d (vsub (q j) (centre_of n p q)) (vsub (q j) (centre_of n p q))) with (fun j => p j
          * dot d (c j) (c j)) in Dv. lra. }
    assert (T := sn_add (L2 d) (fun a => sum n (fun j => p j * 1 * H j a)) (fun a => sum n (fun j => p j * f j * vsub
      (q j) (centre_of n p q) a))). cbn [L2 sn] in T.
    replace (l2 d (g i)) with (l2 d (fun a => sum n (fun j => p j * 1 * H j a) + sum n (fun j => p j * f j * vsub (q j)
      (centre_of n p q) a))); [lra|].
    unfold l2, dot. f_equal. apply sum_ext; intros a Ha. rewrite (G a Ha).
    rewrite (sum_ext n (fun j => p j * 1 * H j a) (fun j => p j * H j a)) by (intros; ring). reflexivity. }
  set (K := (4 * phi + 1) * F) in *. assert (K0 : 0 <= K) by (apply Rmult_le_pos; lra).
  rewrite Rmult_assoc. fold K. rewrite <- (sqrt_square K) by exact K0. rewrite <- sqrt_mult_alt by apply pos_INR.
  apply sqrt_le_1_alt. rewrite <- sum_const. apply sum_le; intros i Hi.
  rewrite <- l2_sqr. assert (R := Row i Hi). assert (0 <= l2 d (g i)) by apply sqrt_pos. apply Rmult_le_compat; lra.
Qed.
