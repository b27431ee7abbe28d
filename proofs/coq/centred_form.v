(** The centred form of attention (thm:centred).  Let X = 1 x^T + R with any x and let every query
    see the same keys.  With E_ij = R_i W_QK R_j^T / sqrt d_qk, q = softmax(c) for a vector c of logits,
    and Q = P - 1 q^T, row i of the attention matrix P is q tilted by E_i, and
        SA(X) = 1 x'^T + sum_h Q_h R W_h. *)
Require Import Reals Lra Lia.
From Rankmath Require Import Definitions Functions Norms Softmax.
Local Open Scope R_scope.

(** R_i W_QK R_j^T / sqrt d_qk *)
Definition E_of (d dq : nat) (h : head) (R : mat) : mat := fun i j =>
  bil d (R i) (WQK dq h) (R j) / sqrt (INR dq).
(** (x W_Q + b_Q) . (R_j W_K) / sqrt d_qk *)
Definition c_of (d dq : nat) (h : head) (x : vec) (R : mat) : vec := fun j =>
  sum dq (fun c => (vmat d x (WQ h) c + bQ h c) * vmat d (R j) (WK h) c) / sqrt (INR dq).
Definition q_of (n d dq : nat) (h : head) (x : vec) (R : mat) : vec :=
  softmax n (mask h 0%nat) (c_of d dq h x R).
Definition Q_of (n d dq : nat) (h : head) (X : mat) (x : vec) : mat := fun i j =>
  attn n d dq h X i j - q_of n d dq h x (centred X x) j.

Lemma logit_centred d dq h X x i j : (0 < dq)%nat ->
  logit d dq h X i j =
  sum dq (fun c => (vmat d (X i) (WQ h) c + bQ h c) * (vmat d x (WK h) c + bK h c)) / sqrt (INR dq)
  + (c_of d dq h x (centred X x) j + E_of d dq h (centred X x) i j).
Proof.
  intros Hq. assert (S := sqrt_dqk_pos dq Hq). unfold logit, c_of, E_of. rewrite <- bil_fact.
  unfold Rdiv. rewrite <- !Rmult_plus_distr_r, <- !sum_plus. f_equal. apply sum_ext; intros c _.
  unfold centred. rewrite <- !vmat_sub. ring.
Qed.

Section Head.
Variables (n d dq : nat) (h : head) (X : mat) (x : vec).
Hypothesis Hn : (0 < n)%nat.
Hypothesis Hq : (0 < dq)%nat.
Hypothesis M : key_padding n (mask h).

Lemma q_prob : (forall j, (j < n)%nat -> 0 <= q_of n d dq h x (centred X x) j) /\
               sum n (q_of n d dq h x (centred X x)) = 1.
Proof.
  assert (W : weights n (mask h 0%nat)) by (apply mask_weights; [apply M|exact Hn]).
  split; [intros; now apply tilt_nonneg|now apply tilt_sum].
Qed.

Theorem attn_centred i j : (i < n)%nat -> (j < n)%nat ->
  attn n d dq h X i j = tilt n (q_of n d dq h x (centred X x)) (E_of d dq h (centred X x) i) j.
Proof.
  intros Hi Hj. destruct M as [Pr Eq].
  assert (W : weights n (mask h 0%nat)) by (apply mask_weights; assumption).
  unfold attn, softmax.
  rewrite (tilt_ext n (mask h i) (mask h 0%nat) _ (fun k =>
     sum dq (fun c => (vmat d (X i) (WQ h) c + bQ h c) * (vmat d x (WK h) c + bK h c)) / sqrt (INR dq)
     + (c_of d dq h x (centred X x) k + E_of d dq h (centred X x) i k)) j).
  - rewrite tilt_shift, (tilt_tilt n (mask h 0%nat) W _ (c_of d dq h x (centred X x))).
    unfold q_of, softmax. apply tilt_ext; [reflexivity| |exact Hj]. intros k _. ring.
  - intros k Hk. now apply Eq.
  - intros k _. now apply logit_centred.
  - exact Hj.
Qed.

Lemma Q_row_zero i : (i < n)%nat -> sum n (Q_of n d dq h X x i) = 0.
Proof.
  intros Hi. unfold Q_of. rewrite sum_minus. destruct q_prob as [_ ->].
  unfold attn, softmax. rewrite tilt_sum; [lra|]. apply mask_weights; [apply M|exact Hi].
Qed.

Lemma mix_centred i a : (i < n)%nat ->
  vmat n (attn n d dq h X i) X a =
  (x a + vmat n (q_of n d dq h x (centred X x)) (centred X x) a) + vmat n (Q_of n d dq h X x i) (centred X x) a.
Proof.
  intros Hi. unfold vmat.
  assert (S1 : sum n (attn n d dq h X i) = 1).
  { unfold attn, softmax. apply tilt_sum, mask_weights; [apply M|exact Hi]. }
  rewrite Rplus_assoc, <- sum_plus.
  rewrite (sum_ext n (fun a0 => q_of n d dq h x (centred X x) a0 * centred X x a0 a + Q_of n d dq h X x i a0 * centred
    X x a0 a)
             (fun j => attn n d dq h X i j * X j a - attn n d dq h X i j * x a)).
  - rewrite sum_minus, sum_scal_r, S1. ring.
  - intros j _. unfold Q_of, centred, vsub. ring.
Qed.
End Head.

(** x' *)
Definition new_centre (n d : nat) (Ly : layer) (X : mat) (x : vec) : vec := fun b =>
  sum (nheads Ly) (fun h => vmat d (fun a => x a + vmat n (q_of n d (dqk Ly) (hd Ly h) x (centred X x)) (centred X x) a)
    (WV (hd Ly h)) b) + bout Ly b.

Theorem centred_form n d Ly X x i b :
  (forall h, (h < nheads Ly)%nat -> key_padding n (mask (hd Ly h))) -> (i < n)%nat ->
  centred (SA n d Ly X) (new_centre n d Ly X x) i b =
  sum (nheads Ly) (fun h => mmul d (mmul n (Q_of n d (dqk Ly) (hd Ly h) X x) (centred X x)) (WV (hd Ly h)) i b).
Proof.
  intros M Hi. unfold centred at 1, vsub, SA, new_centre, mmul.
  match goal with |- ?A + ?c - (?A' + ?c) = _ => replace (A + c - (A' + c)) with (A - A') by ring end.
  rewrite <- sum_minus. apply sum_ext; intros h Hh. rewrite vmat_sub. apply vmat_ext. intros a _.
  unfold vsub at 1. rewrite (mix_centred n d (dqk Ly) (hd Ly h) X x (M h Hh) i a Hi). ring.
Qed.

(* ---------- the variation of attention about a centre ---------- *)
(** max f - min f over the keys with q > 0. *)
Definition osc (n : nat) (q f : vec) : R :=
  maxf n (fun j => maxf n (fun k =>
    if Rlt_dec 0 (q j) then if Rlt_dec 0 (q k) then f j - f k else 0 else 0)).
(** D_ii = osc_j E_ij for head h about the centre x; the largest of them; the largest q_j. *)
Definition D_of (n d dq : nat) (h : head) (X : mat) (x : vec) : vec := fun i =>
  osc n (q_of n d dq h x (centred X x)) (E_of d dq h (centred X x) i).
Definition delta_of (n d dq : nat) (h : head) (X : mat) (x : vec) : R := maxf n (D_of n d dq h X x).
Definition qmax_of (n d dq : nat) (h : head) (X : mat) (x : vec) : R :=
  maxf n (q_of n d dq h x (centred X x)).
(** gamma_h = sqrt(sum_i D_ii * max_j q_j / max_i D_ii), and 0 when D = 0 (as 1/0 = 0 here). *)
Definition gamma_of (n d dq : nat) (h : head) (X : mat) (x : vec) : R :=
  sqrt (sum n (D_of n d dq h X x) * qmax_of n d dq h X x / delta_of n d dq h X x).

Lemma osc_ub n q f j k : (j < n)%nat -> (k < n)%nat -> 0 < q j -> 0 < q k -> f j - f k <= osc n q f.
Proof.
  intros Hj Hk Qj Qk. unfold osc.
  set (g := fun j k => if Rlt_dec 0 (q j) then if Rlt_dec 0 (q k) then f j - f k else 0 else 0).
  apply Rle_trans with (g j k).
  - unfold g. destruct (Rlt_dec 0 (q j)); [|lra]. destruct (Rlt_dec 0 (q k)); lra.
  - eapply Rle_trans; [apply (maxf_ub n (g j) k Hk)|]. apply (maxf_ub n (fun j => maxf n (g j)) j Hj).
Qed.

Lemma osc_lub n q f D : 0 <= D ->
  (forall j k, (j < n)%nat -> (k < n)%nat -> 0 < q j -> 0 < q k -> f j - f k <= D) -> osc n q f <= D.
Proof.
  intros D0 H. apply maxf_lub; [exact D0|]. intros j Hj. apply maxf_lub; [exact D0|]. intros k Hk.
  destruct (Rlt_dec 0 (q j)); [|exact D0]. destruct (Rlt_dec 0 (q k)); [|exact D0]. now apply H.
Qed.

Lemma osc_nonneg n q f : 0 <= osc n q f.
Proof. apply maxf_pos. Qed.
