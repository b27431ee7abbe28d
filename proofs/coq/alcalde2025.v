(** alcalde2025:4.2 and own:hardmax-steps.  A hardmax step moves a token from x to x + g (v - x),
  so what is left of the distance to its vertex v after
    the steps g 0, ..., g (t-1) is the product of all 1 - g s [left].
    It lies between 1 - sum g and exp (- sum g) [hardmax_steps]; with
    g s = 2^(-s-1) it is not O(q^t) for any q < 1 [not_exponential]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Sums.
Local Open Scope R_scope.

Fixpoint left (g : nat -> R) (t : nat) : R := match t with O => 1 | S s => left g s * (1 - g s) end.

(** The distance itself: a token that moves towards v in every step. *)
Theorem token_steps g (x : nat -> R) v : (forall t, x (S t) = x t + g t * (v - x t)) ->
  forall t, x t - v = left g t * (x O - v).
Proof. intros H t. induction t as [|t IH]; simpl; [ring | rewrite H].
replace (x t + g t * (v - x t) - v) with ((1 - g t) * (x t - v)) by ring. rewrite IH. ring. Qed.

Theorem hardmax_steps g t : (forall s, (s < t)%nat -> 0 < g s < 1) -> 1 - sum t g <= left g t <= exp (- sum t g).
Proof.
  intros H. assert (A : 0 <= left g t <= 1 /\ 1 - sum t g <= left g t <= exp (- sum t g)).
  { induction t as [|t IH].
    - simpl. rewrite Ropp_0, exp_0. lra.
    - destruct IH as [[L0 L1] [L2 L3]]; [intros s Hs; apply H; lia|]. assert (G := H t (Nat.lt_succ_diag_r t)).
      simpl left. change (sum (S t) g) with (sum t g + g t). split; [split; nra|]. split; [nra|].
      replace (- (sum t g + g t)) with (- sum t g + - g t) by ring. rewrite exp_plus.
      apply Rmult_le_compat; try lra. assert (E := exp_ineq1_le (- g t)). lra. }
  apply A.
Qed.

Definition halving (s : nat) : R := (/ 2) ^ (S s).
Theorem a_quarter_is_left t : / 4 + (/ 2) ^ (t + 2) <= left halving (S t).
Proof.
  induction t as [|t IH]; [simpl; unfold halving; simpl; lra|].
  change (left halving (S (S t))) with (left halving (S t) * (1 - (/ 2) ^ (S (S t)))).
  replace ((/ 2) ^ (S t + 2)) with (/ 2 * (/ 2) ^ (t + 2)) by (replace (S t + 2)%nat with (S (t + 2)) by lia;
    reflexivity).
  replace (S (S t)) with (t + 2)%nat by lia. set (h := (/ 2) ^ (t + 2)) in *. set (l := left halving (S t)) in *.
  assert (Hh : 0 < h <= / 4). { unfold h. replace (t + 2)%nat with (2 + t)%nat by lia. rewrite pow_add. simpl.
    assert (P := pow_lt (/ 2) t ltac:(lra)). assert (Q : (/ 2) ^ t <= 1) by (rewrite <- (pow1 t); apply pow_incr; lra).
    lra. }
  assert (M : (/ 4 + h) * (1 - h) <= l * (1 - h)) by (apply Rmult_le_compat_r; lra). nra.
Qed.

Theorem not_exponential : ~ exists C q, 0 <= q < 1 /\ forall t, left halving t <= C * q ^ t.
Proof.
  intros (C & q & Hq & H).
  assert (HC : 0 < C). { specialize (H O). simpl in H. lra. }
  destruct (pow_lt_1_zero q) with (y := / (4 * C)) as [N HN]; [rewrite Rabs_pos_eq; lra | apply Rinv_0_lt_compat;
    lra |].
  specialize (HN (S N) ltac:(lia)). specialize (H (S N)). assert (L := a_quarter_is_left N).
  assert (P := pow_lt (/ 2) (N + 2) ltac:(lra)).
  assert (A := Rle_abs (q ^ S N)). assert (B : C * q ^ S N <= C * / (4 * C)) by (apply Rmult_le_compat_l; lra).
  replace (C * / (4 * C)) with (/ 4) in B by (field; lra). lra.
Qed.
