(** own:entropy-order.  The least entropy Phi_T(sigma) of a softmax over T keys with logits of length at most sigma is,
  with beta = e^(-sigma sqrt(T/(T-1))), at least
    sigma sqrt(T(T-1)) beta/(1 + (T-1) beta) and at most (T-1) beta (1 + sigma sqrt(T/(T-1)))  [entropy_order]. *)
Require Import Reals Lra Psatz.
Local Open Scope R_scope.

Definition decay (T s : R) : R := exp (- (s * sqrt (T / (T - 1)))).
(** log(1 + (T-1) beta) + s sqrt(T(T-1)) beta/(1 + (T-1) beta) *)
Definition entropy_floor (T s : R) : R := ln (1 + (T - 1) * decay T s) + s * sqrt (T * (T - 1)) * decay T s / (1 + (T -
  1) * decay T s).

Theorem entropy_order T sigma : 2 <= T -> 0 < sigma -> let beta := exp (- sigma * sqrt (T / (T - 1))) in
  sigma * sqrt (T * (T - 1)) * beta / (1 + (T - 1) * beta) <= entropy_floor T sigma /\
  entropy_floor T sigma <= (T - 1) * beta * (1 + sigma * sqrt (T / (T - 1))).
Proof.
  intros HT Hs beta. assert (B : decay T sigma = beta) by (unfold decay, beta; f_equal; ring). unfold entropy_floor.
  rewrite B.
  assert (Bp : 0 < beta) by apply exp_pos. set (x := (T - 1) * beta).
  assert (X : 0 < x) by (apply Rmult_lt_0_compat; lra).
  assert (L0 : 0 < ln (1 + x)) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (L1 : ln (1 + x) <= x) by (rewrite <- (ln_exp x) at 2; left; apply ln_increasing; [lra|apply exp_ineq1; lra]).
  split; [lra|]. set (r := sqrt (T / (T - 1))). assert (R0 : 0 <= r) by apply sqrt_pos.
  assert (E : sqrt (T * (T - 1)) = (T - 1) * r).
  { unfold r. rewrite <- (sqrt_square (T - 1)) at 2 by lra. rewrite <- sqrt_mult_alt by nra. f_equal. field. lra. }
  rewrite E. replace (sigma * ((T - 1) * r) * beta) with (x * (sigma * r)) by (unfold x; ring).
  assert (S0 : 0 <= x * (sigma * r)) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]).
  assert (Q : x * (sigma * r) / (1 + x) <= x * (sigma * r)).
  { rewrite <- (Rmult_1_r (x * (sigma * r))) at 2. apply Rmult_le_compat_l; [exact S0|]. rewrite <- Rinv_1 at 2.
    apply Rinv_le_contravar; lra. }
  lra.
Qed.
