(** own:softmax-gradient.  The derivative of softmax(l/T) in the logits l has spectral norm at most 1/(2T): if g is the
  derivative in the
    direction v, |g| <= |v|/(2T).  The derivative is g_j = p_j (v_j - v_p)/T, v_p the mean under p = softmax(l/T),
      so u.g = Cov_p(u, v)/T for every u, and
    Var_p(v) <= 2 sum_i p_i (1 - p_i) v_i^2 <= |v|^2/2. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms Softmax own_order_layer.
Local Open Scope R_scope.

Lemma var_half n p v : (forall j, (j < n)%nat -> 0 <= p j) -> sum n p = 1 -> 2 * cov n p v v <= dot n v v.
Proof.
  intros p0 p1.
  assert (A : 2 * sum n (fun i => p i * p i * (v i * v i)) <= sum n (fun i => p i * (v i * v i)) + avg n p v * avg n p
    v).
  { assert (B : sum n (fun i => 4 * (p i * p i * (v i * v i))) <= sum n (fun i => sum n (fun j => p i * p j * ((v i + v
      j) * (v i + v j))))).
    { apply sum_le; intros i Hi. replace (4 * (p i * p i * (v i * v i))) with (p i * p i * ((v i + v i) * (v i + v i)))
        by ring.
      apply (sum_term_le n (fun j => p i * p j * ((v i + v j) * (v i + v j))) i); [|exact Hi]. intros j Hj.
      apply Rmult_le_pos; [apply Rmult_le_pos; auto|apply Rle_0_sqr]. }
    rewrite sum_scal in B. rewrite (sum_ext n (fun i => sum n (fun j => p i * p j * ((v i + v j) * (v i + v j))))
      (fun i => p i * (v i * v i) + (2 * avg n p v) * (p i * v i) + sum n (fun j => p j * (v j * v j)) * p i)) in B.
    - rewrite !sum_plus, !sum_scal, p1 in B. fold (avg n p v) in B. lra.
    - intros i _. rewrite (sum_ext n _ (fun j => (p i * (v i * v i)) * p j + (2 * (p i * v i)) * (p j * v j) + p i * (p
        j * (v j * v j)))) by (intros; ring).
      rewrite !sum_plus, !sum_scal, p1. unfold avg. ring. }
  assert (C : sum n (fun i => 4 * (p i * (v i * v i)) - 4 * (p i * p i * (v i * v i))) <= dot n v v).
  { apply sum_le; intros i _. assert (S := Rle_0_sqr (2 * p i - 1)). assert (V := Rle_0_sqr (v i)). unfold Rsqr in *.
    nra. }
  rewrite sum_minus, !sum_scal in C. unfold cov. lra.
Qed.

Theorem softmax_gradient n T (l v g : vec) : 0 < T ->
  (forall j, (j < n)%nat -> is_derive (fun h => softmax n (fun _ => 1) (fun k => (l k + h * v k) / T) j) 0 (g j)) ->
  l2 n g <= / (2 * T) * l2 n v.
Proof.
  intros HT Hg. destruct (Nat.eq_dec n 0) as [->|Hn]; [unfold l2, dot; cbn [sum]; rewrite sqrt_0; lra|].
  set (p := softmax n (fun _ => 1) (fun k => l k / T)).
  assert (W : weights n (fun _ => 1)) by (split; [intros; lra|exists 0%nat; split; [lia|lra]]).
  assert (p0 : forall j, (j < n)%nat -> 0 <= p j) by (intros; now apply tilt_nonneg).
  assert (p1 : sum n p = 1) by (now apply tilt_sum).
  set (Z := fun h => sum n (fun k => 1 * exp ((l k + h * v k) / T))).
  assert (Zp : forall h, 0 < Z h) by (intro h; apply (tilt_Z_pos n (fun _ => 1) W (fun k => (l k + h * v k) / T))).
  assert (DZ : is_derive Z 0 (sum n (fun k => v k / T * exp ((l k + 0 * v k) / T)))).
  { apply (derive_sum n (fun k h => 1 * exp ((l k + h * v k) / T)) (fun k h => v k / T * exp ((l k + h * v k) / T))).
    intros k _. auto_derive; [exact I|unfold Rdiv; ring]. }
  assert (pE : forall j, p j = exp ((l j + 0 * v j) / T) / Z 0).
  { intro j. unfold p, softmax, tilt, Z. rewrite Rmult_1_l. f_equal; [f_equal; f_equal; ring|].
    apply sum_ext; intros k _. do 2 f_equal. f_equal. ring. }
  assert (G : forall j, (j < n)%nat -> g j = p j * (v j - avg n p v) / T).
  { intros j Hj. assert (D : is_derive (fun h => softmax n (fun _ => 1) (fun k => (l k + h * v k) / T) j) 0
      ((v j / T * exp ((l j + 0 * v j) / T) * Z 0 - sum n (fun k => v k / T * exp ((l k + 0 * v k) / T)) * (1 * exp ((l
        j + 0 * v j) / T))) / (Z 0) ^ 2)).
    { evar_last; [apply (is_derive_div (fun h => 1 * exp ((l j + h * v j) / T)) Z 0 (v j / T * exp ((l j + 0 * v j) /
        T)) (sum n (fun k => v k / T * exp ((l k + 0 * v k) / T)))); [auto_derive; [exact I|unfold Rdiv;
          ring]|exact DZ|apply Rgt_not_eq, Zp]|].
      field. split; [lra|apply Rgt_not_eq, Zp]. }
    rewrite <- (is_derive_unique _ _ _ (Hg j Hj)), (is_derive_unique _ _ _ D).
    assert (Sv : sum n (fun k => v k / T * exp ((l k + 0 * v k) / T)) = avg n p v / T * Z 0).
    { unfold avg. replace (sum n (fun k => p k * v k) / T * Z 0) with (sum n (fun k => p k * v k) * (Z 0 / T)) by
        (field; lra). rewrite <- sum_scal_r. apply sum_ext; intros k _. rewrite pE. assert (Z0 := Zp 0). field.
        split; lra. }
    rewrite Sv, pE. assert (Z0 := Zp 0). field. split; lra. }
  set (x := dot n g g). assert (X0 : 0 <= x) by apply dot_pos.
  assert (E : T * x = cov n p g v).
  { unfold x, dot, cov. rewrite <- sum_scal. unfold avg at 1. rewrite <- sum_scal_r, <- sum_minus.
    apply sum_ext; intros j Hj. rewrite (G j Hj) at 2. field. lra. }
  assert (CS := cov_cs n p p0 p1 g v). rewrite <- E in CS. assert (V1 := var_half n p g p0 p1).
  assert (V2 := var_half n p v p0 p1). fold x in V1.
  assert (P1 := var_pos n p p0 p1 g). assert (P2 := var_pos n p p0 p1 v). assert (Y0 := dot_pos n v).
  assert (B : T * x * (T * x) <= (x / 2) * (dot n v v / 2)) by (eapply Rle_trans; [exact CS|]; apply Rmult_le_compat;
    lra).
  assert (H : x <= / (2 * T) * / (2 * T) * dot n v v).
  { destruct X0 as [X0|X0]; [|rewrite <- X0; apply Rmult_le_pos; [apply Rle_0_sqr|exact Y0]].
    apply Rmult_le_reg_l with (4 * T * T * x); [repeat apply Rmult_lt_0_compat; lra|].
    replace (4 * T * T * x * (/ (2 * T) * / (2 * T) * dot n v v)) with (x * dot n v v) by (field; lra). lra. }
  unfold l2. fold x. assert (I0 : 0 < / (2 * T)) by (apply Rinv_0_lt_compat; lra).
  rewrite <- (sqrt_square (/ (2 * T))) by lra. rewrite <- sqrt_mult_alt by (apply Rle_0_sqr). apply sqrt_le_1_alt, H.
Qed.
