(** geshkovski2023:step, as we read it.  n tokens on the sphere with the cosines C, least cosine alpha >= 1/2,
  moving by dx_i/dt = sum_k P_ik (x_k - C_ki x_i),
    P = softmax(beta C), beta >= 0: on every pair with the least cosine d<x_i,
      x_j>/dt >= (1 - alpha)/(2 n e^(2 beta))  [flow_step_read].  No summand is
    negative, and the one of k = j alone is enough. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Softmax velickovic2024 own_flow_step.
Local Open Scope R_scope.

Theorem flow_step_read n (C : mat) beta i j : cosines n C -> least_pair n C i j -> 1 / 2 <= C i j -> 0 <= beta ->
  closing n (fun a => softmax n (fun _ => 1) (fun b => beta * C a b)) C i j >= (1 - C i j) / (2 * INR n * exp (2 *
    beta)).
Proof.
  intros [S [D B]] [Hi [Hj Least]] Half B0. apply Rle_ge. set (P := fun a => softmax n (fun _ => 1) (fun b => beta * C
    a b)). unfold closing.
  assert (Le : forall a b, (a < n)%nat -> (b < n)%nat -> -1 <= C a b <= 1) by (intros a b Ha Hb;
    specialize (B a b Ha Hb); unfold Rabs in B; destruct Rcase_abs; lra).
  set (e := exp (- (2 * beta)) / INR n). assert (n0 : 0 < INR n) by (apply lt_0_INR; lia).
  assert (e0 : 0 < e) by (apply Rdiv_lt_0_compat; [apply exp_pos|exact n0]).
  assert (V : forall a k, (a < n)%nat -> (k < n)%nat -> e <= P a k).
  { intros a k Ha Hk. apply (velickovic_2_2 n (fun b => beta * C a b) (2 * beta) k Hk). intros b b' Hb Hb'.
    assert (X := Le a b Ha Hb). assert (X' := Le a b' Ha Hb'). nra. }
  assert (G : forall a b, (a < n)%nat -> (b < n)%nat -> C a b = C i j ->
    e * ((1 - C i j) / 2) <= sum n (fun k => P a k * (C k b - C k a * C i j))).
  { intros a b Ha Hb E. eapply Rle_trans; [|apply (sum_term_le n (fun k => P a k * (C k b - C k a * C i j)) b);
      [|exact Hb]].
    - cbv beta. rewrite (D b Hb), (S b a Hb Ha), E. assert (X := Le i j Hi Hj).
      apply Rmult_le_compat; [lra|lra|now apply V|nra].
    - intros k Hk. apply Rmult_le_pos; [specialize (V a k Ha Hk); lra|]. assert (X := Le k a Hk Ha).
      assert (X' := Least k b Hk Hb). nra. }
  assert (G1 := G i j Hi Hj eq_refl). assert (G2 := G j i Hj Hi (S j i Hj Hi)). assert (X := Le i j Hi Hj).
  assert (0 <= e * ((1 - C i j) / 2)) by (apply Rmult_le_pos; lra).
  replace ((1 - C i j) / (2 * INR n * exp (2 * beta))) with (e * ((1 - C i j) / 2)) by (unfold e; rewrite exp_Ropp;
    field; split; [apply Rgt_not_eq, exp_pos|lra]). lra.
Qed.
