(** barbero2024:4.2, as we read it, with an explicit bound.  A causal network with skips of a factor s and biases;
  the input X of n tokens, and X' = X with its last token once more.  The last tokens of the
    two, x after l layers and x*, are at a distance of at most b_l,
      where b_0 = 0 and b_(l+1) = b_l (|s| + sum_h w_h m_h Delta_l^2/(4 sqrt d_qk)) + rho_l sum_h w_h p_(l,h): w_h,
        m_h bound
    the norms of W and W_QK, Delta_l is the diameter, p_(l,h) what x* attends to itself,
      rho_l its largest distance from a token  [repeat_gap]. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Rankmath Require Import Definitions Functions Norms Softmax own_tv.
Local Open Scope R_scope.

Section Repeat.
Variables (n d : nat) (N : seminorm) (s : R) (Ly : nat -> layer) (w m : nat -> nat -> R) (X : mat).
Hypothesis causal_masks : forall l h, mask (hd (Ly l) h) = causal.
Hypothesis bounds : forall l, layer_bounds d N (Ly l) (w l) (m l).
Let B (l : nat) : block := {| att := Ly l; skip := s; tok := fun v => v |}.
(** The input with its last token once more, both after l layers, and the repeated token. *)
Let X' : mat := fun i => if Nat.ltb i (S n) then X i else X n.
Let Y (l : nat) : mat := net (S n) d B l X.
Let Y' (l : nat) : mat := net (S (S n)) d B l X'.
Let star (l : nat) : vec := Y' l (S n).
(** What it attends to itself, and its largest distance from a token. *)
Definition repeat_share (l h : nat) : R := attn (S (S n)) d (dqk (Ly l)) (hd (Ly l) h) (Y' l) (S n) (S n).
Definition repeat_reach (l : nat) : R := maxf (S n) (fun i => N (vsub (star l) (Y l i))).
Fixpoint gap_bound (l : nat) : R := match l with
  | O => 0
  | S k => gap_bound k * (Rabs s + sum (nheads (Ly k)) (fun h => w k h * m k h) * diam (S n) N (Y k) ^ 2 / (4 * sqrt
    (INR (dqk (Ly k)))))
           + sum (nheads (Ly k)) (fun h => w k h * repeat_share k h) * repeat_reach k end.

Lemma logit_rows dq h Z Z' i j i' j' : (forall a, Z i a = Z' i' a) -> (forall a, Z j a = Z' j' a) ->
  logit d dq h Z i j = logit d dq h Z' i' j'.
Proof. intros E E'. unfold logit. f_equal. apply sum_ext; intros c _. unfold vmat.
rewrite (sum_ext d _ (fun a => Z' i' a * WQ h a c)) by (intros; now rewrite E). f_equal. f_equal.
apply sum_ext; intros; now rewrite E'. Qed.

(** The tokens before do not see it. *)
Lemma unseen l : forall i a, (i <= n)%nat -> Y' l i a = Y l i a.
Proof.
  induction l as [|l IH]; intros i a Hi.
  - unfold Y', Y, X'. cbn [net]. destruct (Nat.ltb_spec i (S n)); [reflexivity|lia].
  - unfold Y', Y. cbn [net]. fold (Y' l) (Y l). unfold block_map, B. cbn [tok skip att]. rewrite IH by exact Hi.
    f_equal. unfold SA. f_equal. apply sum_ext; intros h _. apply vmat_ext. intros e _.
    unfold vmat. set (A := attn (S (S n)) d (dqk (Ly l)) (hd (Ly l) h) (Y' l) i).
    set (A' := attn (S n) d (dqk (Ly l)) (hd (Ly l) h) (Y l) i).
    assert (C : causal i (S n) = 0) by (unfold causal; destruct (Nat.leb_spec (S n) i); [lia|reflexivity]).
    assert (Z : sum (S (S n)) (fun k => causal i k * exp (logit d (dqk (Ly l)) (hd (Ly l) h) (Y' l) i k)) = sum (S n)
      (fun k => causal i k * exp (logit d (dqk (Ly l)) (hd (Ly l) h) (Y l) i k))).
    { change (sum (S (S n)) ?f) with (sum (S n) f + f (S n)). cbv beta. rewrite C, Rmult_0_l, Rplus_0_r.
      apply sum_ext; intros k Hk. do 2 f_equal. apply logit_rows; intros; apply IH; lia. }
    assert (E : forall j, (j <= n)%nat -> A j = A' j).
    { intros j Hj. unfold A, A', attn, softmax, tilt. rewrite causal_masks, Z. do 3 f_equal.
      apply logit_rows; intros; apply IH; lia. }
    change (sum (S (S n)) ?f) with (sum (S n) f + f (S n)). cbv beta.
    replace (A (S n)) with 0 by (unfold A, attn, softmax, tilt; rewrite causal_masks, C; unfold Rdiv; ring).
    rewrite Rmult_0_l, Rplus_0_r. apply sum_ext; intros j Hj. rewrite E, IH by lia. reflexivity.
Qed.

Section Step.
Variables (l h : nat).
Hypothesis Hh : (h < nheads (Ly l))%nat.
Let dq := dqk (Ly l).
Let hh := hd (Ly l) h.
Let D := diam (S n) N (Y l).
(** The repeated token's attention to the others alone; what the last token attends to. *)
Let q : vec := softmax (S n) (fun _ => 1) (logit d dq hh (Y' l) (S n)).
Let q0 : vec := softmax (S n) (fun _ => 1) (logit d dq hh (Y l) n).
Let p := repeat_share l h.

Lemma ones_weights k : weights (S k) (fun _ => 1).
Proof. split; [intros; lra|exists 0%nat; split; [lia|lra]]. Qed.
Lemma all_seen i j : (j <= i)%nat -> causal i j = 1.
Proof. intros H. unfold causal. apply Nat.leb_le in H. now rewrite H. Qed.

Lemma share_range : 0 <= p <= 1.
Proof.
  assert (P := attn_stochastic (S (S n)) d dq hh (Y' l)). unfold hh in P. rewrite causal_masks in P.
  destruct (P (causal_proper _)) as [P0 P1]. unfold p, repeat_share. split; [apply P0; lia|].
  rewrite <- (P1 (S n)) by lia. apply (sum_term_le (S (S n)) (attn (S (S n)) d dq (hd (Ly l) h) (Y' l) (S n)) (S n));
    [intros; apply P0; lia|lia].
Qed.

(** It receives (1 - p) of the others' mean under q, and p of itself. *)
Lemma received a : vmat (S (S n)) (attn (S (S n)) d dq hh (Y' l) (S n)) (Y' l) a = (1 - p) * sum (S n) (fun j => q j *
  Y l j a) + p * star l a.
Proof.
  set (g := logit d dq hh (Y' l) (S n)). assert (Zq := tilt_Z_pos (S n) (fun _ => 1) (ones_weights n) g).
  set (Z := sum (S n) (fun k => 1 * exp (g k))) in *. assert (E := exp_pos (g (S n))).
  assert (A : forall j, (j <= S n)%nat -> attn (S (S n)) d dq hh (Y' l) (S n) j = exp (g j) / (Z + exp (g (S n)))).
  { intros j Hj. unfold attn, softmax, tilt. replace (mask hh) with causal by (symmetry; apply causal_masks). fold g.
    rewrite all_seen by exact Hj. rewrite Rmult_1_l. f_equal.
    change (sum (S (S n)) ?f) with (sum (S n) f + f (S n)). cbv beta. rewrite all_seen, Rmult_1_l by lia. f_equal.
    unfold Z. apply sum_ext; intros k Hk. now rewrite all_seen by lia. }
  assert (Ep : p = exp (g (S n)) / (Z + exp (g (S n)))) by (apply A; lia).
  unfold vmat. change (sum (S (S n)) ?f) with (sum (S n) f + f (S n)). cbv beta. fold (star l).
  rewrite (A (S n)) by lia. rewrite <- Ep. f_equal.
  rewrite <- sum_scal. apply sum_ext; intros j Hj. rewrite A, unseen by lia. unfold q, softmax, tilt. fold g Z.
  rewrite Ep. field. lra.
Qed.

Lemma last_received a : vmat (S n) (attn (S n) d dq hh (Y l) n) (Y l) a = sum (S n) (fun j => q0 j * Y l j a).
Proof. unfold vmat. apply sum_ext; intros j Hj. f_equal. unfold attn, q0. apply tilt_ext; [|reflexivity|exact Hj].
intros k Hk. unfold hh. rewrite causal_masks. apply all_seen. lia. Qed.

Lemma head_gap : N (vsub (vmat d (vmat (S (S n)) (attn (S (S n)) d dq hh (Y' l) (S n)) (Y' l)) (WV hh)) (vmat d (vmat
  (S n) (attn (S n) d dq hh (Y l) n) (Y l)) (WV hh)))
  <= w l h * (m l h * N (vsub (star l) (Y l n)) * D ^ 2 / (4 * sqrt (INR dq)) + p * repeat_reach l).
Proof.
  set (delta := N (vsub (star l) (Y l n))). assert (d0 : 0 <= delta) by apply sn_pos.
  assert (D0 : 0 <= D) by apply diam_nonneg. assert (Bd := bounds l).
  assert (Rt := sqrt_dqk_pos dq (dqk_pos _ _ _ _ _ Bd)). assert (m0 := m_pos _ _ _ _ _ Bd h).
  set (Z := sqrt (INR dq)) in *. set (u := fun a => sum (S n) (fun j => (q j - q0 j) * Y l j a)).
  set (v := fun a => p * sum (S n) (fun j => q j * vsub (star l) (Y l j) a)).
  assert (q0n : forall j, (j < S n)%nat -> 0 <= q j) by (intros; apply tilt_nonneg; [apply ones_weights|assumption]).
  assert (q1 : sum (S n) q = 1) by (apply tilt_sum, ones_weights).
  assert (q01 : sum (S n) q0 = 1) by (apply tilt_sum, ones_weights).
  assert (Tv : tv (S n) q q0 <= tanh (m l h * delta * D / Z / 4)).
  { apply tv_softmax; [apply ones_weights|]. intros j k Hj Hk _ _.
    assert (E : forall c, (c < S n)%nat -> logit d dq hh (Y l) n c = logit d dq hh (Y' l) n c) by (intros c Hc;
      apply logit_rows; intros; symmetry; apply unseen; lia).
    rewrite !E by assumption. rewrite logit_diff2. fold Z. unfold Rdiv.
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. eapply Rle_trans; [apply Rle_abs|].
    eapply Rle_trans; [apply (m_bound _ _ _ _ _ Bd h _ _ Hh)|].
    rewrite (sn_ext N (vsub (Y' l (S n)) (Y' l n)) (vsub (star l) (Y l n))) by (intro a; unfold vsub;
      rewrite (unseen l n) by lia; reflexivity). fold delta.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; assumption|].
    rewrite (sn_ext N _ (vsub (Y l j) (Y l k))) by (intro a; unfold vsub; rewrite !unseen by lia; reflexivity).
    apply diam_ub; assumption. }
  assert (x0 : 0 <= m l h * delta * D / Z / 4) by (apply Rle_mult_inv_pos; [apply Rle_mult_inv_pos;
    [repeat apply Rmult_le_pos; assumption|exact Rt]|lra]). assert (Th := tanh_le_id _ x0).
  assert (U : N u <= m l h * delta * D ^ 2 / (4 * Z)).
  { assert (T := transport N (S n) (fun j => q j - q0 j) (Y l) D). eapply Rle_trans; [apply T|].
    - rewrite sum_minus. change (sum (S n) q - sum (S n) q0 = 0). lra.
    - intros j k Hj Hk. now apply diam_ub.
    - change (tv (S n) q q0 * D <= m l h * delta * D ^ 2 / (4 * Z)).
      apply Rle_trans with (m l h * delta * D / Z / 4 * D); [apply Rmult_le_compat_r; lra|]. right. field. lra. }
  assert (V : N v <= p * repeat_reach l).
  { unfold v. rewrite (sn_scal N p (fun a => sum (S n) (fun j => q j * vsub (star l) (Y l j) a))),
      Rabs_right by (apply Rle_ge, share_range). apply Rmult_le_compat_l; [apply share_range|].
    eapply Rle_trans; [apply (sn_sum N (S n) q (fun j => vsub (star l) (Y l j)))|].
    apply Rle_trans with (sum (S n) (fun j => q j * repeat_reach l)); [|rewrite sum_scal_r, q1; lra].
    apply sum_le; intros j Hj. rewrite Rabs_right by (apply Rle_ge; auto). apply Rmult_le_compat_l; [auto|].
    apply (maxf_ub (S n) (fun i => N (vsub (star l) (Y l i))) j Hj). }
  assert (E : forall b, vsub (vmat d (vmat (S (S n)) (attn (S (S n)) d dq hh (Y' l) (S n)) (Y' l)) (WV hh)) (vmat d
    (vmat (S n) (attn (S n) d dq hh (Y l) n) (Y l)) (WV hh)) b = vmat d (fun a => u a + v a) (WV hh) b).
  { intro b. unfold vsub at 1. rewrite vmat_sub. apply vmat_ext. intros a _. unfold vsub at 1.
    rewrite received, last_received. unfold u, v, vsub.
    rewrite (sum_ext (S n) (fun j => (q j - q0 j) * Y l j a) (fun j => q j * Y l j a - q0 j * Y l j a)) by (intros;
      ring). rewrite sum_minus.
    rewrite (sum_ext (S n) (fun j => q j * (star l a - Y l j a)) (fun j => q j * star l a - q j * Y l j a)) by (intros;
      ring). rewrite (sum_minus (S n) (fun j => q j * star l a)), sum_scal_r, q1. ring. }
  rewrite (sn_ext N _ _ E). eapply Rle_trans; [apply (w_bound _ _ _ _ _ Bd h _ Hh)|].
  apply Rmult_le_compat_l; [apply (w_pos _ _ _ _ _ Bd)|]. eapply Rle_trans; [apply sn_add|]. lra.
Qed.
End Step.

Theorem repeat_gap l : N (vsub (star l) (Y l n)) <= gap_bound l.
Proof.
  induction l as [|l IH].
  - cbn [gap_bound]. right. rewrite (sn_ext N _ (fun _ => 0)); [apply sn_zero|]. intro a. unfold vsub, star, Y', Y, X'.
    cbn [net]. destruct (Nat.ltb_spec (S n) (S n)); [lia|ring].
  - cbn [gap_bound]. set (delta := N (vsub (star l) (Y l n))) in *. set (H := nheads (Ly l)).
    set (Z := sqrt (INR (dqk (Ly l)))).
    set (g := fun h => vsub (vmat d (vmat (S (S n)) (attn (S (S n)) d (dqk (Ly l)) (hd (Ly l) h) (Y' l) (S n)) (Y' l))
      (WV (hd (Ly l) h))) (vmat d (vmat (S n) (attn (S n) d (dqk (Ly l)) (hd (Ly l) h) (Y l) n) (Y l)) (WV (hd (Ly l)
        h)))).
    rewrite (sn_ext N _ (fun a => s * vsub (star l) (Y l n) a + sum H (fun h => g h a))).
    + eapply Rle_trans; [apply sn_add|]. rewrite sn_scal. fold delta. assert (G := sn_sum1 N H g).
      assert (Hd : sum H (fun h => N (g h)) <= sum H (fun h => w l h * (m l h * delta * diam (S n) N (Y l) ^ 2 / (4 *
        Z) + repeat_share l h * repeat_reach l))) by (apply sum_le; intros h Hh; apply (head_gap l h Hh)).
      assert (Bd := bounds l). assert (Zp : 0 < Z) by (apply sqrt_dqk_pos, (dqk_pos _ _ _ _ _ Bd)).
      set (c := diam (S n) N (Y l) ^ 2 / (4 * Z)).
      assert (c0 : 0 <= c) by (apply Rle_mult_inv_pos; [apply pow2_ge_0|lra]).
      rewrite (sum_ext H (fun h => w l h * (m l h * delta * diam (S n) N (Y l) ^ 2 / (4 * Z) + repeat_share l h *
        repeat_reach l)) (fun h => w l h * m l h * (delta * c) + w l h * repeat_share l h * repeat_reach l)) in Hd by
          (intros; unfold c; field; lra).
      rewrite sum_plus, !sum_scal_r in Hd.
      assert (S0 : 0 <= sum H (fun h => w l h * m l h)) by (apply sum_nonneg; intros; apply Rmult_le_pos;
        [apply (w_pos _ _ _ _ _ Bd)|apply (m_pos _ _ _ _ _ Bd)]).
      replace (sum H (fun h => w l h * m l h) * diam (S n) N (Y l) ^ 2 / (4 * Z)) with (sum H (fun h => w l h * m l h)
        * c) by (unfold c; field; lra).
      assert (Rs := Rabs_pos s). assert (K0 : 0 <= Rabs s + sum H (fun h => w l h * m l h) * c) by (assert (0 <= sum H
        (fun h => w l h * m l h) * c) by (now apply Rmult_le_pos); lra).
      assert (M := Rmult_le_compat_r _ _ _ K0 IH). lra.
    + intro a. unfold star, Y at 1, Y' at 1. unfold vsub at 1. cbn [net]. fold (Y' l) (Y l). unfold block_map, B.
      cbn [tok skip att]. unfold SA. fold H. unfold g, vsub. rewrite sum_minus. unfold star. ring.
Qed.
End Repeat.
