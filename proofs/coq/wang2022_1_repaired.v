(** wang2022:1-repaired.  A positive row-stochastic matrix A with the stationary distribution pi, a signal z,
  y = A^t z and beta = delta(A)^t osc(z), delta the largest
    total variation of two rows: if beta (n - 1)/n < |pi z|, then 4 |HC[y]|^2 (|pi z| - beta (n - 1)/n)^2 <= beta^2
      |DC[y]|^2  [wang_repaired].  So the ratio of high to
    low frequencies tends to 0 unless pi z = 0.  (For entries that are positive pi is the only stationary distribution;
      the theorem needs no more than pi A = pi.) *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Language LanguageFacts.
From Rankmath Require Import Definitions Norms Masks own_tv wang2022_1.
Local Open Scope R_scope.

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
