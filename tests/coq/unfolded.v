(** Three of the theorems with their definitions unfolded to the standard library's reals: nothing below
    mentions a definition of this library before its proof. *)
Require Import Reals Lra Lia.
From Rankmath Require Import Definitions Functions Norms Softmax own_tv own_diameter seed_closure.
Local Open Scope R_scope.

(** own:tv, with [sum_f_R0] (n + 1 terms). *)
Goal forall (n : nat) (q g : nat -> R) (D : R),
  (forall j, (j <= n)%nat -> 0 <= q j) -> sum_f_R0 q n = 1 ->
  (forall j k, (j <= n)%nat -> (k <= n)%nat -> g j - g k <= D) ->
  / 2 * sum_f_R0 (fun j => Rabs (q j * exp (g j) / sum_f_R0 (fun k => q k * exp (g k)) n - q j)) n
  <= (exp (D / 4) - exp (- (D / 4))) / (exp (D / 4) + exp (- (D / 4))).
Proof.
  intros n q g D Hq Hs Ho. rewrite <- !sum_reals in *.
  assert (T := tv_tanh (S n) q g D). unfold tv, tilt in T.
  replace ((exp (D / 4) - exp (- (D / 4))) / (exp (D / 4) + exp (- (D / 4)))) with (tanh (D / 4)).
  - apply T; intros; try (apply Hq; lia); try (apply Ho; lia). exact Hs.
  - unfold tanh, sinh, cosh. field. assert (A := exp_pos (D / 4)). assert (B := exp_pos (- (D / 4))). lra.
Qed.

(** seed:closure for two square matrices. *)
Goal forall (n : nat) (A B : nat -> nat -> R),
  (forall i j, (i <= n)%nat -> (j <= n)%nat -> 0 <= A i j) -> (forall i, (i <= n)%nat -> sum_f_R0 (A i) n = 1) ->
  (forall i j, (i <= n)%nat -> (j <= n)%nat -> 0 <= B i j) -> (forall i, (i <= n)%nat -> sum_f_R0 (B i) n = 1) ->
  forall i, (i <= n)%nat -> sum_f_R0 (fun j => sum_f_R0 (fun k => A i k * B k j) n) n = 1.
Proof.
  intros n A B PA SA PB SB i Hi.
  assert (T := mmul_stochastic (S n) (S n) (S n) A B). destruct T as [_ T].
  - split; [intros; apply PA; lia|intros; rewrite sum_reals; apply SA; lia].
  - split; [intros; apply PB; lia|intros; rewrite sum_reals; apply SB; lia].
  - specialize (T i ltac:(lia)). rewrite <- sum_reals. rewrite <- T. apply sum_ext. intros j _.
    unfold mmul, vmat. now rewrite sum_reals.
Qed.

(** own:diameter for two scalar tokens and one head with d_qk = 1: |Y_0 - Y_1| <= |v| t tanh(|w| t^2/4), t = |x_0 - x_1|. *)
Goal forall x0 x1 w v : R,
  let y x := v * ((exp (w * x * x0) * x0 + exp (w * x * x1) * x1) / (exp (w * x * x0) + exp (w * x * x1))) in
  Rabs (y x0 - y x1) <= Rabs v * Rabs (x0 - x1) * tanh (Rabs w * Rabs (x0 - x1) ^ 2 / 4).
Proof.
  intros x0 x1 w v y.
  set (h := {| WQ := fun _ _ => w; WK := fun _ _ => 1; bQ := fun _ => 0; bK := fun _ => 0;
               WV := fun _ _ => v; mask := nomask |}).
  set (Ly := {| nheads := 1; dqk := 1; hd := fun _ => h; bout := fun _ => 0 |}).
  set (X := fun i (_ : nat) => match i with O => x0 | _ => x1 end).
  assert (B : layer_bounds 1 (L1 1) Ly (fun _ => Rabs v) (fun _ => Rabs w)).
  { constructor; [simpl; lia|intro; apply Rabs_pos|intro; apply Rabs_pos| |].
    - intros k u _. unfold L1, l1, vmat. simpl. rewrite !Rplus_0_l, Rabs_mult. lra.
    - intros k u z _. unfold bil, WQK, L1, l1. simpl. rewrite !Rplus_0_l, Rmult_1_r, !Rabs_mult. lra. }
  assert (T := proj1 (diameter_layer 2 1 (L1 1) Ly _ _ B (fun _ _ => nomask_padding 2 ltac:(lia)) X)).
  rewrite !diam_pair in T. unfold rate, L1, l1, vsub in T. simpl in T. rewrite !Rplus_0_l, sqrt_1, !Rmult_1_r in T.
  assert (E : forall i, SA 2 1 Ly X i 0%nat = y (X i 0%nat)).
  { intro i. unfold SA, vmat, attn, softmax, tilt, logit, vmat. simpl. rewrite sqrt_1. unfold nomask, y.
    assert (P0 := exp_pos (w * X i 0%nat * x0)). assert (P1 := exp_pos (w * X i 0%nat * x1)).
    replace ((0 + (0 + X i 0%nat * w + 0) * (0 + x0 * 1 + 0)) / 1) with (w * X i 0%nat * x0) by field.
    replace ((0 + (0 + X i 0%nat * w + 0) * (0 + x1 * 1 + 0)) / 1) with (w * X i 0%nat * x1) by field.
    field. lra. }
  rewrite !E in T. change (X 0%nat 0%nat) with x0 in T. change (X 1%nat 0%nat) with x1 in T.
  eapply Rle_trans; [exact T|]. rewrite <- Rmult_assoc, (Rmult_comm (Rabs (x0 - x1)) (Rabs v)).
  right. f_equal. f_equal. simpl. field.
Qed.
