(** wang2022:1, wang2022:1-repaired.  What each is stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms own_tv Masks.
From Rankmath Require Language LanguageFacts.
Local Open Scope R_scope.

(** wang2022:1, as we read it: for a positive softmax matrix A and every z, |HC[A^t z]| / |DC[A^t z]| ->
  0, where DC is the projection
    on the constant vector and HC the rest.  Refuted: A = [[2/3,1/3],[1/2,1/2]], z = (2,-3): A z = z/6,
      the ratio is 5 for ever.
    (It is true when pi^T z is not zero, pi the stationary distribution of A.) *)

Definition DC (n : nat) (z : vec) : vec := fun _ => sum n z / INR n.
Definition HC (n : nat) (z : vec) : vec := vsub z (DC n z).
(** A^t z *)
Fixpoint power (n : nat) (A : mat) (t : nat) (z : vec) : vec :=
  match t with O => z | S s => fun i => dot n (A i) (power n A s z) end.

Definition wang_low_pass : Prop := forall n (L : mat) (z : vec), (0 < n)%nat ->
  let A := fun i => softmax n (fun _ => 1) (L i) in
  (forall t, l2 n (DC n (power n A t z)) <> 0) ->
  is_lim_seq (fun t => l2 n (HC n (power n A t z)) / l2 n (DC n (power n A t z))) 0.

Definition L0 : mat := fun i j => match i, j with O, O => ln 2 | _, _ => 0 end.
Definition z0 : vec := fun i => match i with O => 2 | _ => -3 end.

Theorem wang_low_pass_refuted : ~ wang_low_pass.
Proof.
  intro H. set (A := fun i => softmax 2 (fun _ => 1) (L0 i)).
  assert (E : forall i j, A i j = match i, j with O, O => 2/3 | O, 1%nat => 1/3 | 1%nat, O => 1/2 | 1%nat,
    1%nat => 1/2 | _, _ => A i j end).
  { intros i j. unfold A, softmax, tilt. cbn [sum]. destruct i as [|[|i]]; destruct j as [|[|j]]; try reflexivity;
      cbn [L0]; rewrite ?exp_0, ?exp_ln by lra; lra. }
  assert (P : forall t i, (i < 2)%nat -> power 2 A t z0 i = (1/6) ^ t * z0 i).
  { induction t as [|t IH]; intros i Hi; [simpl; ring|]. simpl power. unfold dot. cbn [sum]. rewrite !IH by lia.
    rewrite (E i 0%nat), (E i 1%nat).
    destruct i as [|[|i]]; try lia; cbn [z0]; simpl pow; field. }
  assert (Q : forall t, 0 < (1/6) ^ t) by (intro; apply pow_lt; lra).
  assert (ED : forall t, l2 2 (DC 2 (power 2 A t z0)) = (1/6) ^ t * sqrt (1/2)).
  { intro t. unfold l2, dot, DC. cbn [sum]. rewrite !P by lia. cbn [z0]. simpl INR.
    replace ((0 + (0 + (1 / 6) ^ t * 2 + (1 / 6) ^ t * -3) / (1 + 1) * ((0 + (1 / 6) ^ t * 2 + (1 / 6) ^ t * -3) / (1 +
      1)) +
      (0 + (1 / 6) ^ t * 2 + (1 / 6) ^ t * -3) / (1 + 1) * ((0 + (1 / 6) ^ t * 2 + (1 / 6) ^ t * -3) / (1 + 1)))) with
        ((1/6) ^ t * (1/6) ^ t * (1/2)) by field.
    rewrite sqrt_mult_alt by (specialize (Q t); nra). rewrite sqrt_square by (specialize (Q t); lra). reflexivity. }
  assert (EH : forall t, l2 2 (HC 2 (power 2 A t z0)) = (1/6) ^ t * (5 * sqrt (1/2))).
  { intro t. unfold l2, dot, HC, vsub, DC. cbn [sum]. rewrite !P by lia. cbn [z0]. simpl INR.
    replace (0 + ((1 / 6) ^ t * 2 - (0 + (1 / 6) ^ t * 2 + (1 / 6) ^ t * -3) / (1 + 1)) * ((1 / 6) ^ t * 2 - (0 + (1 /
      6) ^ t * 2 + (1 / 6) ^ t * -3) / (1 + 1)) +
      ((1 / 6) ^ t * -3 - (0 + (1 / 6) ^ t * 2 + (1 / 6) ^ t * -3) / (1 + 1)) * ((1 / 6) ^ t * -3 - (0 + (1 / 6) ^ t *
        2 + (1 / 6) ^ t * -3) / (1 + 1)))
      with ((1/6) ^ t * (1/6) ^ t * (5 * 5 * (1/2))) by field.
    rewrite sqrt_mult_alt by (specialize (Q t); nra). rewrite sqrt_square by (specialize (Q t); lra).
    rewrite sqrt_mult_alt by lra. rewrite sqrt_square by lra. reflexivity. }
  assert (S2 : 0 < sqrt (1/2)) by (apply sqrt_lt_R0; lra).
  specialize (H 2%nat L0 z0 ltac:(lia)). cbv zeta in H. fold A in H.
  assert (Lim : is_lim_seq (fun t => l2 2 (HC 2 (power 2 A t z0)) / l2 2 (DC 2 (power 2 A t z0))) 5).
  { apply is_lim_seq_ext with (u := fun _ => 5); [|apply is_lim_seq_const]. intro t. rewrite ED, EH. specialize (Q t).
    field. lra. }
  assert (H0 := H (fun t => ltac:(rewrite ED; specialize (Q t); apply Rgt_not_eq, Rmult_lt_0_compat; lra))).
  assert (U := is_lim_seq_unique _ _ H0). rewrite (is_lim_seq_unique _ _ Lim) in U. injection U. lra.
Qed.

(** wang2022:1-repaired.  A positive row-stochastic matrix A with the stationary distribution pi, a signal z,
  y = A^t z and beta = delta(A)^t osc(z), delta the largest
    total variation of two rows: if beta (n - 1)/n < |pi z|, then 4 |HC[y]|^2 (|pi z| - beta (n - 1)/n)^2 <= beta^2
      |DC[y]|^2  [wang_repaired].  So the ratio of high to
    low frequencies tends to 0 unless pi z = 0.  (For entries that are positive pi is the only stationary distribution;
      the theorem needs no more than pi A = pi.) *)

Notation dobrushin n A := (@Language.dobrushin_of n n A).
Notation osc n z := (@Language.range_of n z).

Lemma power_osc n A z t : (0 < n)%nat -> row_stochastic n n A -> forall i k, (i < n)%nat -> (k < n)%nat ->
  Rabs (power n A t z i - power n A t z k) <= dobrushin n A ^ t * osc n z.
Proof.
  intros Hn [_ A1]. assert (O0 : 0 <= osc n z) by now apply LanguageFacts.osc_nonneg.
  assert (T0 : forall i k, (i < n)%nat -> (k < n)%nat -> tv n (A i) (A k) <= dobrushin n A).
  { intros i k Hi Hk. unfold Language.dobrushin_of.
    eapply Rle_trans; [|apply (LanguageFacts.largest_ub n _ i Hi)]. cbv beta.
    apply (LanguageFacts.largest_ub n (fun j => / 2 * sum n (fun l => Rabs (A i l - A j l))) k Hk). }
  induction t as [|t IH]; intros i k Hi Hk.
  - simpl. rewrite Rmult_1_l. apply Rabs_le. assert (H := LanguageFacts.osc_spec n z i k Hi Hk).
    assert (H' := LanguageFacts.osc_spec n z k i Hk Hi). change (Language.osc z) with (osc n z) in *. lra.
  - cbn [power pow]. set (y := power n A t z) in *. set (D := dobrushin n A ^ t * osc n z) in *.
    assert (T := transport (coord 0) n (fun j => A i j - A k j) (fun j _ => y j) D). cbn [coord sn] in T.
    unfold vsub in T.
    assert (E : dot n (A i) y - dot n (A k) y = sum n (fun j => (A i j - A k j) * y j)) by (unfold dot;
      rewrite <- sum_minus; apply sum_ext; intros; ring).
    rewrite E. eapply Rle_trans; [apply T; [rewrite sum_minus; change (sum n (A i) - sum n (A k) = 0);
      rewrite !A1 by assumption; ring|exact IH]|].
    replace (dobrushin n A * dobrushin n A ^ t * osc n z) with (dobrushin n A * D) by (unfold D; ring).
    apply Rmult_le_compat_r; [|exact (T0 i k Hi Hk)].
    eapply Rle_trans; [apply Rabs_pos|apply (IH i k Hi Hk)].
Qed.

(** A mean with weights and the plain mean differ by at most (1 - 1/n) times the range. *)
Lemma means_apart n (p y : vec) D : (0 < n)%nat -> (forall i, (i < n)%nat -> 0 <= p i) -> sum n p = 1 ->
  (forall i k, (i < n)%nat -> (k < n)%nat -> Rabs (y i - y k) <= D) ->
    Rabs (dot n p y - sum n y / INR n) <= D * (INR n - 1) / INR n.
Proof.
  intros Hn p0 p1 HD. assert (n0 : 0 < INR n) by (now apply lt_0_INR).
  assert (B : forall i, (i < n)%nat -> Rabs (INR n * y i - sum n y) <= D * (INR n - 1)).
  { intros i Hi. rewrite <- sum_const, <- sum_minus. eapply Rle_trans; [apply sum_abs|].
    apply Rle_trans with (sum n (fun k => D * (1 - eye i k))).
    - apply sum_le; intros k Hk. unfold eye. destruct (Nat.eqb_spec i k) as [<-|];
        [rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; lra|]. rewrite Rminus_0_r, Rmult_1_r. now apply HD.
    - rewrite sum_scal, sum_minus, sum_const. rewrite (sum_single n (eye i) i Hi); [unfold eye; rewrite Nat.eqb_refl;
        lra|].
      intros k _ Hk. unfold eye. destruct (Nat.eqb_spec i k); [congruence|reflexivity]. }
  assert (E : dot n p y - sum n y / INR n = sum n (fun i => p i * ((INR n * y i - sum n y) / INR n))).
  { rewrite (sum_ext n (fun i => p i * ((INR n * y i - sum n y) / INR n)) (fun i => p i * y i - p i * (sum n y / INR
      n))) by (intros; field; lra). rewrite sum_minus, sum_scal_r, p1. unfold dot. ring. }
  rewrite E. eapply Rle_trans; [apply sum_abs|]. apply Rle_trans with (sum n (fun i => p i * (D * (INR n - 1) / INR
    n))); [|rewrite sum_scal_r, p1; lra].
  apply sum_le; intros i Hi. rewrite Rabs_mult, (Rabs_right (p i)) by (apply Rle_ge; auto).
  apply Rmult_le_compat_l; [auto|].
  unfold Rdiv. rewrite Rabs_mult, (Rabs_right (/ INR n)) by (left; now apply Rinv_0_lt_compat).
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|auto].
Qed.

Theorem wang_repaired n (A : mat) (z pi : vec) t : (0 < n)%nat -> row_stochastic n n A -> (forall i j, (i < n)%nat ->
  (j < n)%nat -> 0 < A i j) ->
  (forall i, (i < n)%nat -> 0 <= pi i) -> sum n pi = 1 -> (forall j, (j < n)%nat -> vmat n pi A j = pi j) ->
  let beta := dobrushin n A ^ t * osc n z in let y := power n A t z in
  beta * (INR n - 1) / INR n < Rabs (dot n pi z) ->
  4 * dot n (HC n y) (HC n y) * (Rabs (dot n pi z) - beta * (INR n - 1) / INR n) ^ 2 <= beta ^ 2 * dot n (DC n y) (DC n
    y).
Proof.
  intros Hn St _ p0 p1 Stat beta y Hb. assert (n0 : 0 < INR n) by (now apply lt_0_INR).
  assert (Inv : forall s, dot n pi (power n A s z) = dot n pi z).
  { induction s as [|s IH]; [reflexivity|]. rewrite <- IH. cbn [power]. set (w := power n A s z). unfold dot at 1 2.
    rewrite (sum_ext n _ (fun i => sum n (fun j => pi i * A i j * w j))) by (intros; rewrite <- sum_scal;
      apply sum_ext; intros; ring).
    rewrite sum_swap. apply sum_ext; intros j Hj. rewrite sum_scal_r. f_equal. now apply Stat. }
  assert (Os := power_osc n A z t Hn St). fold beta in Os. fold y in Os.
  assert (M := means_apart n pi y beta Hn p0 p1 Os). unfold y in M at 1. rewrite Inv in M.
  set (c := sum n y / INR n) in *. set (g := beta * (INR n - 1) / INR n) in *.
  assert (Low : Rabs (dot n pi z) - g <= Rabs c).
  { assert (T := Rabs_triang (dot n pi z - c) c). replace (dot n pi z - c + c) with (dot n pi z) in T by ring. lra. }
  assert (Hi := spread_up n y beta Hn Os). fold c in Hi.
  assert (EH : dot n (HC n y) (HC n y) = sum n (fun i => (y i - c) ^ 2)) by (unfold dot, HC, vsub, DC; apply sum_ext;
    intros; fold c; ring).
  assert (ED : dot n (DC n y) (DC n y) = INR n * (Rabs c) ^ 2) by (unfold dot, DC; fold c; rewrite sum_const, pow2_abs;
    ring).
  rewrite EH, ED. assert (Q : (Rabs (dot n pi z) - g) ^ 2 <= Rabs c ^ 2) by (apply pow_incr; lra).
  assert (H0 : 0 <= sum n (fun i => (y i - c) ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0).
  apply Rle_trans with (4 * sum n (fun i => (y i - c) ^ 2) * Rabs c ^ 2); [apply Rmult_le_compat_l; lra|].
  replace (beta ^ 2 * (INR n * Rabs c ^ 2)) with (4 * (INR n / 4 * beta ^ 2) * Rabs c ^ 2) by field.
  apply Rmult_le_compat_r; [apply pow2_ge_0|lra].
Qed.
