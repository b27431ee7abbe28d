(** One head under a mask, followed by LayerNorm on the sphere, and its derivative at any point
    (eq:jacobian).  M stands for W_QK/sqrt(d_qk); here d_qk = d, W_Q = sqrt(d) M, W_K = 1. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Rankmath Require Import Definitions Norms Softmax Jets.
Local Open Scope R_scope.

(** Numerators of the attention weights and of the rows before normalisation. *)
Definition Ex (d : nat) (M G X : mat) : mat := fun i j => G i j * exp (bil d (X i) M (X j)).
Definition Ux (n d : nat) (M W G X : mat) : mat := fun i b => sum n (fun j => Ex d M G X i j * vmat d (X j) W b).

Lemma sum_eye_l n (f : vec) i : (i < n)%nat -> sum n (fun a => eye i a * f a) = f i.
Proof.
  intros H. rewrite (sum_single n _ i H); unfold eye; [rewrite Nat.eqb_refl; ring|].
  intros j _ Hj. destruct (Nat.eqb_spec i j); [lia|ring].
Qed.
Lemma eye_sym i a : eye i a = eye a i.
Proof. unfold eye. now rewrite Nat.eqb_sym. Qed.
Lemma eye_same i : eye i i = 1.
Proof. unfold eye. now rewrite Nat.eqb_refl. Qed.
Lemma eye_diff i j : i <> j -> eye i j = 0.
Proof. intros H. unfold eye. destruct (Nat.eqb_spec i j); [lia|reflexivity]. Qed.
Lemma sum_eye_r n (f : vec) i : (i < n)%nat -> sum n (fun a => f a * eye a i) = f i.
Proof. intros H. rewrite <- (sum_eye_l n f i H). apply sum_ext; intros. rewrite (eye_sym i). ring. Qed.

Lemma logit_onehead d M W G X i j : (0 < d)%nat -> logit d d (hd (onehead d M W G) 0) X i j = bil d (X i) M (X j).
Proof.
  intros Hd. unfold logit. cbn [onehead hd WQ WK bQ bK]. assert (S : 0 < sqrt (INR d)) by (apply sqrt_lt_R0, lt_0_INR;
    lia).
  rewrite (sum_ext d _ (fun c => sqrt (INR d) * (vmat d (X i) M c * X j c))).
  - rewrite sum_scal. unfold bil.
    rewrite (sum_ext d (fun c => vmat d (X i) M c * X j c) (fun b => sum d (fun a => X i a * M a b * X j b))) by
      (intros; unfold vmat; now rewrite <- sum_scal_r).
    rewrite sum_swap. field. lra.
  - intros c Hc. rewrite !Rplus_0_r. unfold vmat at 2. rewrite (sum_eye_r d (X j) c Hc). unfold vmat.
    rewrite (sum_ext d _ (fun a => sqrt (INR d) * (X i a * M a c))) by (intros; ring). rewrite sum_scal. ring.
Qed.

Section Layer.
Variables (n d : nat) (M W G : mat).
Hypothesis d_pos : (0 < d)%nat.
Hypothesis proper : proper_mask n G.

Lemma Zx_pos X i : (i < n)%nat -> 0 < sum n (Ex d M G X i).
Proof.
  intros Hi. destruct proper as [G0 G1]. destruct (G1 i Hi) as [j [Hj Gj]]. unfold Ex.
  apply Rlt_le_trans with (G i j * exp (bil d (X i) M (X j))); [apply Rmult_lt_0_compat; [exact Gj|apply exp_pos]|].
  apply (sum_term_le n (fun j => G i j * exp (bil d (X i) M (X j))) j); [|exact Hj].
  intros k Hk. apply Rmult_le_pos; [now apply G0|left; apply exp_pos].
Qed.

Lemma SA_form X i b : (i < n)%nat -> SA n d (onehead d M W G) X i b = Ux n d M W G X i b / sum n (Ex d M G X i).
Proof.
  intros Hi. assert (Z := Zx_pos X i Hi). unfold SA. cbn [onehead nheads sum bout dqk].
  assert (E : forall j, (j < n)%nat -> attn n d d (hd (onehead d M W G) 0) X i j = Ex d M G X i j / sum n (Ex d M G X
    i)).
  { intros j Hj. unfold attn, softmax, tilt. rewrite logit_onehead by exact d_pos. unfold Ex. cbn [onehead hd mask].
    apply (f_equal2 Rdiv); [reflexivity|].
    apply sum_ext; intros k Hk. change {| WQ := fun a c => sqrt (INR d) * M a c; WK := eye; bQ := fun _ => 0;
      bK := fun _ => 0; WV := W; mask := G |} with (hd (onehead d M W G) 0).
    now rewrite logit_onehead. }
  rewrite Rplus_0_l, Rplus_0_r. rewrite vmat_assoc. unfold vmat at 1. unfold Ux, Rdiv. rewrite <- sum_scal_r.
  apply sum_ext; intros j Hj.
  rewrite E by exact Hj. unfold Rdiv, mmul. cbn [onehead hd WV]. ring.
Qed.

(** Normalising forgets the denominators. *)
Lemma sphere_form X i b : (i < n)%nat -> sphere_map n d M W G X i b = Ux n d M W G X i b / l2 d (Ux n d M W G X i).
Proof.
  intros Hi. assert (Z := Zx_pos X i Hi). set (z := sum n (Ex d M G X i)) in *.
  unfold sphere_map, block_map. cbn [normalised tok skip att]. unfold sphere.
  replace (fun a => 0 * X i a + SA n d (onehead d M W G) X i a) with (fun a => / z * Ux n d M W G X i a).
  2: { apply functional_extensionality; intro a. rewrite SA_form by exact Hi. fold z. unfold Rdiv. ring. }
  change (l2 d (fun a => / z * Ux n d M W G X i a)) with (L2 d (fun a => / z * Ux n d M W G X i a)).
  rewrite (sn_scal (L2 d)). rewrite Rabs_right by (left; now apply Rinv_0_lt_compat).
  change (L2 d (Ux n d M W G X i)) with (l2 d (Ux n d M W G X i)).
  unfold Rdiv. rewrite Rinv_mult. rewrite Rinv_inv.
  generalize (/ l2 d (Ux n d M W G X i)). intro L. rewrite SA_form by exact Hi. fold z. field. lra.
Qed.

(* ---------- the derivative ---------- *)
(** d logit_ij / d X_pq, d U_ib / d X_pq, d F_ib / d X_pq at Z *)
Definition dlogit (Z : mat) (i j : nat) : mat := fun p q =>
  eye p i * sum d (fun c => M q c * Z j c) + eye p j * sum d (fun a => Z i a * M a q).
Definition dU (Z : mat) (i b : nat) : mat := fun p q =>
  sum n (fun j => Ex d M G Z i j * (eye p j * W q b + vmat d (Z j) W b * dlogit Z i j p q)).
Definition dF (Z : mat) (i b : nat) : mat := fun p q =>
  (dU Z i b p q - sphere_map n d M W G Z i b * sum d (fun c => sphere_map n d M W G Z i c * dU Z i c p q)) / l2 d (Ux n
    d M W G Z i).

Lemma J_logit Z i j : (i < n)%nat -> (j < n)%nat -> jet n d (fun H => bil d (madd Z H i) M (madd Z H j)) (bil d (Z i) M
  (Z j)) (dlogit Z i j).
Proof.
  intros Hi Hj.
  assert (J := J_sum n d d _ _ _ (fun a Ha => J_sum n d d _ _ _ (fun b Hb => J_mult n d _ _ _ _ _ _
     (J_mult n d _ _ _ _ _ _ (J_var n d (Z i a) i a Hi Ha) (J_const n d (M a b))) (J_var n d (Z j b) j b Hj Hb)))).
  eapply J_eq; [exact J|reflexivity|reflexivity|]. intros p q Hp Hq. cbv beta. unfold dlogit.
  rewrite (sum_ext d _ (fun a => eye p j * (Z i a * M a q) + eye p i * (eye q a * sum d (fun b => M a b * Z j b)))).
  - rewrite sum_plus, !sum_scal, (sum_eye_l d (fun a => sum d (fun b => M a b * Z j b)) q Hq). ring.
  - intros a Ha.
    rewrite (sum_ext d _ (fun b => eye q b * (Z i a * M a b * eye p j) + eye p i * eye q a * (M a b * Z j b))) by
      (intros; ring).
    rewrite sum_plus, sum_scal, (sum_eye_l d (fun b => Z i a * M a b * eye p j) q Hq). ring.
Qed.

Lemma J_U Z i b : (i < n)%nat -> (b < d)%nat -> jet n d (fun H => Ux n d M W G (madd Z H) i b) (Ux n d M W G Z i b) (dU
  Z i b).
Proof.
  intros Hi Hb.
  assert (J := J_sum n d n _ _ _ (fun j Hj => J_mult n d _ _ _ _ _ _ (J_scal n d (G i j) _ _ _ (J_exp n d _ _ _
    (J_logit Z i j Hi Hj)))
     (J_sum n d d _ _ _ (fun a Ha => J_mult n d _ _ _ _ _ _ (J_var n d (Z j a) j a Hj Ha) (J_const n d (W a b)))))).
  eapply J_eq; [exact J|reflexivity|reflexivity|]. intros p q Hp Hq. cbv beta. unfold dU. apply sum_ext; intros j Hj.
  unfold Ex.
  rewrite (sum_ext d (fun a => Z j a * 0 + W a b * (eye p j * eye q a)) (fun a => eye q a * (W a b * eye p j))) by
    (intros; ring).
  rewrite (sum_eye_l d (fun a => W a b * eye p j) q Hq). unfold vmat. ring.
Qed.

Theorem layer_derivative Z : (forall i, (i < n)%nat -> 0 < l2 d (Ux n d M W G Z i)) ->
  derivative n d (sphere_map n d M W G) Z (dF Z).
Proof.
  intros Pos i b Hi Hb. specialize (Pos i Hi). set (s := l2 d (Ux n d M W G Z i)) in *.
  assert (Sq : s * s = dot d (Ux n d M W G Z i) (Ux n d M W G Z i)) by (unfold s, l2; apply sqrt_sqrt, dot_pos).
  assert (JD := J_sum n d d _ _ _ (fun c Hc => J_mult n d _ _ _ _ _ _ (J_U Z i c Hi Hc) (J_U Z i c Hi Hc))).
  assert (DP : 0 < dot d (Ux n d M W G Z i) (Ux n d M W G Z i)) by (rewrite <- Sq; nra).
  assert (J := J_mult n d _ _ _ _ _ _ (J_U Z i b Hi Hb) (J_isqrt n d _ _ _ DP JD)).
  eapply J_eq; [exact J| | |].
  - intro H. cbv beta. rewrite sphere_form by exact Hi. unfold Rdiv, l2, dot. reflexivity.
  - rewrite sphere_form by exact Hi. unfold Rdiv, l2, dot. reflexivity.
  - intros p q Hp Hq. cbv beta. unfold dF. rewrite !sphere_form by exact Hi.
    rewrite (sum_ext d (fun c => sphere_map n d M W G Z i c * dU Z i c p q) (fun c => / s * (Ux n d M W G Z i c * dU Z
      i c p q)))
      by (intros c Hc; rewrite sphere_form by exact Hi; fold s; unfold Rdiv; ring).
    rewrite sum_scal. fold s.
    rewrite (sum_ext d (fun j => Ux n d M W G Z i j * dU Z i j p q + Ux n d M W G Z i j * dU Z i j p q) (fun c => 2 *
      (Ux n d M W G Z i c * dU Z i c p q))) by (intros; ring).
    rewrite sum_scal. rewrite <- Sq. replace (sqrt (s * s)) with s by (symmetry; apply sqrt_square; lra). field. lra.
Qed.

(** Rows that are multiples of a coordinate vector. *)
Lemma l2_coord (u : vec) k : (k < d)%nat -> 0 < u k -> (forall b, (b < d)%nat -> b <> k -> u b = 0) -> l2 d u = u k.
Proof.
  intros Hk P Z. unfold l2, dot. rewrite (sum_single d _ k Hk); [apply sqrt_square; lra|]. intros b Hb Ne.
  rewrite Z by assumption. ring.
Qed.

Lemma sphere_coord Z i k : (i < n)%nat -> (k < d)%nat -> 0 < Ux n d M W G Z i k ->
  (forall b, (b < d)%nat -> b <> k -> Ux n d M W G Z i b = 0) -> forall b, (b < d)%nat ->
    sphere_map n d M W G Z i b = eye k b.
Proof.
  intros Hi Hk P Zr b Hb. rewrite sphere_form by exact Hi. rewrite (l2_coord _ k Hk P Zr).
  destruct (Nat.eq_dec b k) as [->|Ne]; [rewrite eye_same; field; lra|]. rewrite Zr, eye_diff by (auto; lia).
  unfold Rdiv. ring.
Qed.

Lemma dF_coord Z i k b p q : (i < n)%nat -> (k < d)%nat -> 0 < Ux n d M W G Z i k ->
  (forall b, (b < d)%nat -> b <> k -> Ux n d M W G Z i b = 0) -> (b < d)%nat ->
  dF Z i b p q = if Nat.eqb b k then 0 else dU Z i b p q / Ux n d M W G Z i k.
Proof.
  intros Hi Hk P Zr Hb. assert (SC := sphere_coord Z i k Hi Hk P Zr). unfold dF. rewrite (l2_coord _ k Hk P Zr).
  rewrite (sum_ext d _ (fun c => eye k c * dU Z i c p q)) by (intros c Hc; now rewrite SC).
  rewrite (sum_eye_l d (fun c => dU Z i c p q) k Hk). rewrite SC by exact Hb.
  destruct (Nat.eqb_spec b k) as [->|Ne]; [rewrite eye_same; field; lra|]. rewrite eye_diff by lia. field. lra.
Qed.
End Layer.
