(** folk:entropy-order.  "The least entropy of attention over T tokens with logits of size sigma, Phi_T(sigma),
  is at least of the order of T sigma e^-sigma."  For every number
    T >= 2 of tokens and every constant c > 0 it fails from some sigma on  [entropy_order_fails];
      so no c holds for all T and sigma  [entropy_order_refuted]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import own_entropy_order.
Local Open Scope R_scope.

Theorem entropy_order_fails T c : 2 <= T -> 0 < c -> exists s, 0 < s /\ entropy_floor T s < c * T * s * exp (- s).
Proof.
  intros HT Hc. assert (g1 : 1 < sqrt (T / (T - 1))).
  { rewrite <- sqrt_1 at 1. apply sqrt_lt_1_alt. split; [lra|]. apply Rmult_lt_reg_r with (T - 1); [lra|]. unfold Rdiv.
    rewrite Rmult_assoc, Rinv_l by lra. lra. }
  set (g := sqrt (T / (T - 1))) in *. set (s := 1 + (1 + g) / (c * (g - 1))).
  assert (q0 : 0 < (1 + g) / (c * (g - 1))) by (apply Rdiv_lt_0_compat; [lra|apply Rmult_lt_0_compat; lra]).
  assert (s1 : 1 < s) by (unfold s; lra).
  exists s. split; [lra|]. destruct (entropy_order T s HT ltac:(lra)) as [_ U]. eapply Rle_lt_trans; [exact U|]. fold g.
  replace (- s * g) with (- (s * (g - 1)) + - s) by ring. rewrite exp_plus. assert (e0 := exp_pos (- s)).
  set (k := s * (g - 1)). assert (k0 : 0 < k) by (unfold k; apply Rmult_lt_0_compat; lra).
  assert (e1 : exp (- k) <= / (1 + k)) by (rewrite exp_Ropp; apply Rinv_le_contravar; [lra|apply exp_ineq1_le]).
  assert (ck : 1 + g < c * k).
  { unfold k, s. replace (c * ((1 + (1 + g) / (c * (g - 1))) * (g - 1))) with (c * (g - 1) + (1 + g)) by (field; lra).
    assert (0 < c * (g - 1)) by (apply Rmult_lt_0_compat; lra). lra. }
  assert (A : exp (- k) * (1 + s * g) < c * s).
  { apply Rle_lt_trans with (/ (1 + k) * (1 + s * g)); [apply Rmult_le_compat_r; [nra|exact e1]|].
    apply Rmult_lt_reg_l with (1 + k); [lra|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
    assert (0 < c * s) by nra. nra. }
  apply Rlt_le_trans with (T * (c * s) * exp (- s)); [|right; ring].
  replace ((T - 1) * (exp (- k) * exp (- s)) * (1 + s * g)) with ((T - 1) * (exp (- k) * (1 + s * g)) * exp (- s)) by
    ring.
  apply Rmult_lt_compat_r; [exact e0|]. assert (0 < exp (- k) * (1 + s * g)) by (apply Rmult_lt_0_compat;
    [apply exp_pos|nra]). nra.
Qed.

Definition entropy_order_claim : Prop := forall T s c, 2 <= T -> 0 < s -> 0 < c ->
  c * T * s * exp (- s) <= entropy_floor T s.
Theorem entropy_order_refuted : ~ entropy_order_claim.
Proof. intros H. destruct (entropy_order_fails 2 1 ltac:(lra) ltac:(lra)) as [s [Hs L]].
specialize (H 2 s 1 ltac:(lra) Hs ltac:(lra)). lra. Qed.
