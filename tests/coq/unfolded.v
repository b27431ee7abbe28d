(** Four of the theorems with their definitions unfolded to the standard library's reals: nothing below
    mentions a definition of this library before its proof. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Lim_seq.
From Rankmath Require Import Definitions Functions Norms Softmax own_tv own_diameter seed_closure.
From Rankmath Require Import SphereLayer wu2024_3_measure theorem_B.
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

(** own:stable-complete-every-n: n + 1 tokens in n + 1 dimensions, no mask; W_QK/sqrt d_qk = M, values W, every token divided by its
    norm.  For some M and W the identity rests, and every start near it converges to it: no collapse. *)
Goal forall n : nat, exists M W : nat -> nat -> R,
  let l (X : nat -> nat -> R) i j := sum_f_R0 (fun a => sum_f_R0 (fun c => X i a * M a c * X j c) n) n in
  let y (X : nat -> nat -> R) i b := sum_f_R0 (fun a =>
    sum_f_R0 (fun j => exp (l X i j) / sum_f_R0 (fun k => exp (l X i k)) n * X j a) n * W a b) n in
  let F (X : nat -> nat -> R) i b := y X i b / sqrt (sum_f_R0 (fun c => y X i c * y X i c) n) in
  let I (i a : nat) := if Nat.eqb i a then 1 else 0 in
  (forall i a, (i <= n)%nat -> (a <= n)%nat -> F I i a = I i a) /\
  exists eta, 0 < eta /\ forall X : nat -> nat -> R,
    (forall i a, (i <= n)%nat -> (a <= n)%nat -> Rabs (X i a - I i a) <= eta) ->
    forall i a, (i <= n)%nat -> (a <= n)%nat -> Un_cv (fun k => Nat.iter k F X i a) (I i a).
Proof.
  intro n. destruct (theorem_B_complete (S n) 1 ltac:(lia) ltac:(lra)) as [M [W [Fx [At _]]]]. exists M, W. intros l y F I.
  assert (E : F = sphere_map (S n) (S n) M W nomask).
  { assert (Y : forall X i b, y X i b = 0 * X i b + SA (S n) (S n) (onehead (S n) M W nomask) X i b).
    { intros X i b. unfold SA, y. cbn [onehead nheads bout dqk]. rewrite <- sum_reals.
      assert (L : forall j, logit (S n) (S n) (hd (onehead (S n) M W nomask) 0) X i j = l X i j).
      { intro j. rewrite logit_onehead by lia. unfold bil, l. rewrite <- sum_reals. apply sum_ext. intros. now rewrite <- sum_reals. }
      change (sum 1 ?f) with (0 + f 0%nat). cbv beta. rewrite Rmult_0_l, !Rplus_0_l, Rplus_0_r. unfold vmat at 1. apply sum_ext. intros a _. f_equal.
      rewrite <- sum_reals. unfold vmat, attn, softmax, tilt. apply sum_ext. intros j _. f_equal.
      change (mask (hd (onehead (S n) M W nomask) 0) i) with (nomask i). unfold nomask. rewrite L, Rmult_1_l. f_equal. rewrite <- sum_reals. apply sum_ext. intros k _. rewrite L. ring. }
    apply functional_extensionality; intro X. apply functional_extensionality; intro i. apply functional_extensionality; intro b.
    unfold F, sphere_map, block_map. cbn [normalised tok skip att]. unfold sphere, l2, dot. rewrite Y. f_equal. f_equal. rewrite <- sum_reals. apply sum_ext. intros c _. now rewrite Y. }
  rewrite E. split; [intros; apply Fx; lia|]. destruct (attracts_limit _ _ _ _ At) as [eta [Ep Lim]]. exists eta. split; [exact Ep|].
  intros X HX i a Hi Ha. apply is_lim_seq_Reals. apply Lim; [|lia|lia]. intros p q Hp Hq. apply HX; lia.
Qed.
