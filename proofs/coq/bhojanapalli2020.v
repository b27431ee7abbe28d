(** bhojanapalli2020:1, own:low-rank-every-input, folk:softmax-rank.
    If the n tokens are independent (X has a right inverse Y),
      every attention matrix softmax(L) is that of some W_QK: W = Y L Y^T  [bhojanapalli_1].
    If they are dependent (v X = 0, v not 0) and n >= 2, the attention with the logits v e_1^T is that of no W_QK
      [low_rank].
    "Attention with one-dimensional heads has rank at most one" is refuted by two keys: softmax(q x^T) has a
      determinant that is not 0  [softmax_rank_refuted]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms Softmax seed_closure.
Local Open Scope R_scope.

(** The logits X W X^T, and the attention without a mask. *)
Definition scores (d : nat) (X W : mat) : mat := fun i j => bil d (X i) W (X j).
Definition attention (n : nat) (L : mat) : mat := fun i => softmax n (fun _ => 1) (L i).

Theorem bhojanapalli_1 n d (X Y L : mat) : (forall i k, (i < n)%nat -> (k < n)%nat ->
  sum d (fun a => X i a * Y a k) = eye i k) ->
  exists W : mat, forall i j, (i < n)%nat -> (j < n)%nat -> attention n (scores d X W) i j = attention n L i j.
Proof.
  intros HY. exists (fun a b => sum n (fun k => sum n (fun l => Y a k * L k l * Y b l))). intros i j Hi Hj.
  unfold attention, softmax.
  apply tilt_ext; [reflexivity| |exact Hj]. intros c Hc. unfold scores, bil.
  transitivity (sum n (fun k => sum n (fun l => sum d (fun a => X i a * Y a k) * L k l * sum d (fun b => X c b * Y b
    l)))).
  - rewrite (sum_ext d _ (fun a => sum n (fun k => sum n (fun l => X i a * Y a k * L k l * sum d (fun b => X c b * Y b
      l))))).
    + rewrite sum_swap. apply sum_ext; intros k _. rewrite sum_swap. apply sum_ext; intros l _.
      rewrite <- !sum_scal_r. apply sum_ext; intros; ring.
    + intros a _. rewrite (sum_ext d _ (fun b => sum n (fun k => sum n (fun l => X i a * Y a k * L k l * (X c b * Y b
        l))))).
      * rewrite sum_swap. apply sum_ext; intros k _. rewrite sum_swap. apply sum_ext; intros l _. now rewrite sum_scal.
      * intros b _. rewrite <- sum_scal, <- sum_scal_r. apply sum_ext; intros k _. rewrite <- sum_scal, <- sum_scal_r.
        apply sum_ext; intros; ring.
  - rewrite (sum_ext n _ (fun k => eye i k * sum n (fun l => L k l * eye c l))).
    + rewrite (sum_eye n i (fun k => sum n (fun l => L k l * eye c l)) Hi).
      rewrite (sum_ext n _ (fun l => eye c l * L i l)) by (intros; ring). now apply (sum_eye n c (L i)).
    + intros k Hk. rewrite <- sum_scal. apply sum_ext; intros l Hl. rewrite HY, HY by assumption. ring.
Qed.

Theorem low_rank n d (X : mat) (v : vec) : (2 <= n)%nat -> (exists i, (i < n)%nat /\ v i <> 0) ->
  (forall a, (a < d)%nat -> sum n (fun i => v i * X i a) = 0) ->
  let P := attention n (fun i j => v i * eye 0%nat j) in
  row_stochastic n n P /\ (forall i j, (i < n)%nat -> (j < n)%nat -> 0 < P i j) /\
  forall W : mat, ~ (forall i j, (i < n)%nat -> (j < n)%nat -> attention n (scores d X W) i j = P i j).
Proof.
  intros Hn [i0 [Hi0 N0]] HX P. assert (Wt : weights n (fun _ => 1)) by (split; [intros; lra|exists 0%nat; split;
    [lia|lra]]).
  assert (Pp : forall i j, (i < n)%nat -> (j < n)%nat -> 0 < P i j) by (intros i j _ Hj; apply tilt_pos;
    [exact Wt|exact Hj|lra]).
  split; [split; [intros; left; now apply Pp|intros; now apply tilt_sum]|split; [exact Pp|]]. intros W E.
  (* the logits of a row differ by a constant *)
  assert (K : forall i, (i < n)%nat -> exists t, forall j, (j < n)%nat -> scores d X W i j = v i * eye 0%nat j + t).
  { intros i Hi. set (A := sum n (fun k => 1 * exp (scores d X W i k))).
    set (B := sum n (fun k => 1 * exp (v i * eye 0%nat k))).
    assert (Ap : 0 < A) by (apply (tilt_Z_pos n (fun _ => 1) Wt)).
    assert (Bp : 0 < B) by (apply (tilt_Z_pos n (fun _ => 1) Wt)).
    exists (ln (A / B)). intros j Hj. assert (Q := E i j Hi Hj). unfold P, attention, softmax, tilt in Q.
    fold A B in Q. rewrite !Rmult_1_l in Q.
    apply exp_inv. rewrite exp_plus, exp_ln by (now apply Rdiv_lt_0_compat).
    replace (exp (scores d X W i j)) with (exp (scores d X W i j) / A * A) by (field; lra). rewrite Q. field. lra. }
  assert (Col : forall j, sum n (fun i => v i * scores d X W i j) = 0).
  { intro j. unfold scores, bil. rewrite (sum_ext n _ (fun i => sum d (fun a => v i * X i a * sum d (fun b => W a b * X
      j b)))).
    - rewrite sum_swap, (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros a Ha. rewrite sum_scal_r, HX by exact Ha.
      ring.
    - intros i _. rewrite <- sum_scal. apply sum_ext; intros a _. rewrite <- !sum_scal. apply sum_ext; intros; ring. }
  assert (D : forall i, (i < n)%nat -> scores d X W i 0%nat - scores d X W i 1%nat = v i).
  { intros i Hi. destruct (K i Hi) as [t Ht]. rewrite !Ht by lia. unfold eye. simpl. ring. }
  assert (S : sum n (fun i => v i * v i) = 0).
  { rewrite (sum_ext n _ (fun i => v i * scores d X W i 0%nat - v i * scores d X W i 1%nat)) by (intros i Hi;
      rewrite <- (D i Hi) at 2; ring). rewrite sum_minus, !Col. ring. }
  assert (T := sum_term_le n (fun i => v i * v i) i0 (fun i _ => Rle_0_sqr (v i)) Hi0). cbv beta in T. rewrite S in T.
  nra.
Qed.

(** The rank of a product of one query and one key coordinate is at most one; of its softmax, not. *)
Theorem softmax_rank_refuted : ~ (forall (q x : vec), let P := attention 2 (fun i j => q i * x j) in
  P 0%nat 0%nat * P 1%nat 1%nat - P 0%nat 1%nat * P 1%nat 0%nat = 0).
Proof.
  intro H. specialize (H (fun i => match i with O => 1 | _ => 0 end) (fun i => match i with O => 1 | _ => 0 end)).
  unfold attention, softmax, tilt in H. cbn [sum] in H. rewrite ?Rmult_0_l, ?Rmult_1_l, ?Rmult_0_r, ?Rplus_0_l,
    exp_0 in H.
  assert (E : 1 < exp 1) by (assert (I := exp_ineq1 1 ltac:(lra)); lra).
  assert (Q : (exp 1 - 1) * / (2 * (exp 1 + 1)) = 0) by (rewrite <- H; field; lra).
  assert (0 < (exp 1 - 1) * / (2 * (exp 1 + 1))) by (apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]). lra.
Qed.
