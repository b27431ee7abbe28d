(** geshkovski2023:orthogonal.  m tokens on the sphere whose cosines are all gamma,
  moving by dx_i/dt = sum_k P_ik (x_k - <x_k, x_i> x_i), P = softmax(beta <x_i, x_k>):
    every cosine moves by 2 rho (1 - gamma)((m - 1) gamma + 1)/(1 + (m - 1) rho),
      rho = e^(-beta (1 - gamma))  [equiangular_flow].  The tokens stay equiangular, and
    the flow is one equation for gamma. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms Softmax seed_closure.
Local Open Scope R_scope.

Theorem equiangular_flow m d (x : mat) beta gamma i j : (i < m)%nat -> (j < m)%nat -> i <> j ->
  (forall a b, (a < m)%nat -> (b < m)%nat -> dot d (x a) (x b) = if Nat.eqb a b then 1 else gamma) ->
  let P a := softmax m (fun _ => 1) (fun b => beta * dot d (x a) (x b)) in
  let speed a e := sum m (fun k => P a k * (x k e - dot d (x k) (x a) * x a e)) in
  let rho := exp (- (beta * (1 - gamma))) in
  dot d (speed i) (x j) + dot d (x i) (speed j) = 2 * rho * (1 - gamma) * ((INR m - 1) * gamma + 1) / (1 + (INR m - 1)
    * rho).
Proof.
  intros Hi Hj Ne C P speed rho. assert (m1 : 1 <= INR m) by (apply (le_INR 1); lia).
  assert (rp : 0 < rho) by apply exp_pos. set (Z := 1 + (INR m - 1) * rho).
  assert (Zp : 0 < Z) by (unfold Z; assert (0 <= (INR m - 1) * rho) by (apply Rmult_le_pos; lra); lra).
  assert (Ce : forall a b, (a < m)%nat -> (b < m)%nat -> dot d (x a) (x b) = gamma + eye a b * (1 - gamma)) by (intros
    a b Ha Hb; rewrite C by assumption; unfold eye; destruct Nat.eqb; ring).
  assert (Ex : forall a k, (a < m)%nat -> (k < m)%nat -> exp (beta * dot d (x a) (x k)) = exp beta * (rho + eye a k *
    (1 - rho))).
  { intros a k Ha Hk. rewrite C by assumption. unfold eye. destruct Nat.eqb; [rewrite Rmult_1_r; ring|]. unfold rho.
    rewrite Rmult_0_l, Rplus_0_r, <- exp_plus. f_equal. ring. }
  assert (PE : forall a k, (a < m)%nat -> (k < m)%nat -> P a k = (rho + eye a k * (1 - rho)) / Z).
  { intros a k Ha Hk. unfold P, softmax, tilt. rewrite Rmult_1_l, Ex by assumption.
    rewrite (sum_ext m _ (fun k => exp beta * (rho + eye a k * (1 - rho)))) by (intros; rewrite Rmult_1_l;
      now apply Ex). rewrite sum_scal, sum_plus, sum_const, (sum_eye m a (fun _ => 1 - rho) Ha).
    assert (B := exp_pos beta). unfold Z. replace (INR m * rho + (1 - rho)) with (1 + (INR m - 1) * rho) by ring.
    fold Z. field. lra. }
  assert (Sp : forall a b, (a < m)%nat -> (b < m)%nat -> a <> b ->
    dot d (speed a) (x b) = rho * (1 - gamma) * ((INR m - 1) * gamma + 1) / Z).
  { intros a b Ha Hb Nab. unfold dot at 1, speed.
    rewrite (sum_ext d _ (fun e => sum m (fun k => P a k * (x k e * x b e - dot d (x k) (x a) * (x a e * x b e))))) by
      (intros; rewrite <- sum_scal_r; apply sum_ext; intros; ring).
    rewrite sum_swap. rewrite (sum_ext m _ (fun k => / Z * (1 - gamma) * ((gamma * (rho + eye a k * (1 - rho))) + (eye
      b k * (rho + eye a k * (1 - rho)) - gamma * (eye a k * (rho + eye a k * (1 - rho))))))).
    - rewrite sum_scal, sum_plus, sum_minus, !sum_scal, sum_plus, sum_const, (sum_eye m a (fun _ => 1 - rho) Ha),
        (sum_eye m b (fun k => rho + eye a k * (1 - rho)) Hb), (sum_eye m a (fun k => rho + eye a k * (1 - rho)) Ha).
      assert (eye a a = 1) as -> by (unfold eye; now rewrite Nat.eqb_refl).
      assert (eye a b = 0) as -> by (unfold eye; destruct (Nat.eqb_spec a b); [congruence|reflexivity]). field. lra.
    - intros k Hk. rewrite sum_scal, sum_minus, (sum_scal d (dot d (x k) (x a))).
      fold (dot d (x k) (x b)) (dot d (x a) (x b)). rewrite PE, !Ce by assumption.
      assert (eye a b = 0) as -> by (unfold eye; destruct (Nat.eqb_spec a b); [congruence|reflexivity]).
      assert (Sy : forall u w, eye u w = eye w u) by (intros; unfold eye; now rewrite Nat.eqb_sym).
      rewrite (Sy k b), (Sy k a). field. lra. }
  rewrite (dot_sym d (x i)), (Sp i j Hi Hj Ne), (Sp j i Hj Hi ltac:(congruence)). field. lra.
Qed.
