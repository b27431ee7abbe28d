(** wu2024:conjecture refuted, own:stable-rank-two-every-n, for every number n >= 2 of tokens and every dimension d >=
  2.

    Complete mask, LayerNorm on the sphere.  There are M = W_QK/sqrt(d_qk) and W_V, zero outside their first two rows
    and columns, such that X* with n-1 tokens at e_0 and the last at e_1, of rank two,
      is an exact equilibrium that attracts
    every start near it (normalised or not) at an exponential rate: no rank collapse on an open set.
    With N = n-1, ep = e^{-3/2}/2, m = 2 + log(2/N): M = [[0, 1/2-m],[m, 2]], W_V = [[1, -k ep],[-2, k]], k > 0 small.
    The last token's row of the derivative vanishes on the tangent space, a small k makes the others at most 1/2. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms Softmax Jets SphereLayer IntervalZ.
Local Open Scope R_scope.

(** n-1 tokens at e_0, the last at e_1. *)
Definition corner (n i : nat) : nat := if Nat.ltb i (n - 1) then 0%nat else 1%nat.
Definition two_clusters (n : nat) : mat := fun i => eye (corner n i).

Section AllTokens.
Variables (N d : nat).
Hypothesis HN : (1 <= N)%nat.
Hypothesis Hd : (2 <= d)%nat.
Notation n := (S N).

Definition ep := exp (-3/2) / 2.
Definition m21 := 2 + (ln 2 - ln (INR N)).
Definition m12 := 1/2 - m21.
Definition lam := 1 + ep * (Rabs m12 + Rabs m21 + 2) + ep * ep.
Definition kap := (1 - 2 * ep) / (2 * lam).
Definition MK : mat := fun a b => match a, b with O, 1%nat => m12 | 1%nat, O => m21 | 1%nat, 1%nat => 2 | _, _ => 0 end.
Definition WK : mat := fun a b => match a, b with O, O => 1 | O, 1%nat => - (kap * ep) | 1%nat, O => -2 | 1%nat,
  1%nat => kap | _, _ => 0 end.
Notation Z := (two_clusters n).
Notation co := (corner n).
Notation E := (Ex d MK nomask Z).
Notation U := (Ux n d MK WK nomask Z).
Notation F := (sphere_map n d MK WK nomask).

Lemma NP : 1 <= INR N. Proof. apply (le_INR 1). lia. Qed.
Lemma ep_b : 0 < ep /\ 2 * ep < 1/2.
Proof. unfold ep. split; interval with (i_prec 40). Qed.
Lemma lam_pos : 1 <= lam.
Proof.
  unfold lam. assert (P := ep_b). assert (A := Rabs_pos m12). assert (B := Rabs_pos m21).
  assert (0 <= ep * (Rabs m12 + Rabs m21 + 2)) by (apply Rmult_le_pos; lra). nra.
Qed.
Lemma kap_pos : 0 < kap.
Proof. unfold kap. assert (P := ep_b). assert (L := lam_pos). apply Rdiv_lt_0_compat; lra. Qed.
Lemma exp_m12 : exp m12 = INR N * ep.
Proof.
  assert (H := NP). unfold m12, m21, ep. replace (1/2 - (2 + (ln 2 - ln (INR N)))) with (-3/2 + (ln (INR N) + - ln 2))
    by field.
  rewrite !exp_plus, exp_Ropp, !exp_ln by lra. field.
Qed.
Lemma exp_m21 : INR N * exp m21 = 2 * exp 2.
Proof.
  assert (H := NP). unfold m21, Rminus. rewrite !exp_plus, exp_Ropp, !exp_ln by lra. field. lra.
Qed.

Lemma co_low i : (i < N)%nat -> co i = 0%nat.
Proof. intros H. unfold corner. destruct (Nat.ltb_spec i (n - 1)); [reflexivity|lia]. Qed.
Lemma co_last : co N = 1%nat.
Proof. unfold corner. destruct (Nat.ltb_spec N (n - 1)); [lia|reflexivity]. Qed.
Lemma co_d i : (co i < d)%nat.
Proof. unfold corner. destruct Nat.ltb; lia. Qed.

Lemma bil_co M i j : bil d (Z i) M (Z j) = M (co i) (co j).
Proof.
  unfold bil, two_clusters. rewrite (sum_ext d _ (fun a => eye (co i) a * sum d (fun b => eye (co j) b * M a b))).
  - rewrite (sum_eye_l d (fun a => sum d (fun b => eye (co j) b * M a b)) _ (co_d i)).
    apply (sum_eye_l d (fun b => M (co i) b) _ (co_d j)).
  - intros a _. rewrite <- sum_scal. apply sum_ext; intros; ring.
Qed.
Lemma vmat_co j b : vmat d (Z j) WK b = WK (co j) b.
Proof. unfold vmat, two_clusters. apply (sum_eye_l d (fun a => WK a b) _ (co_d j)). Qed.
Lemma E_co i j : E i j = exp (MK (co i) (co j)).
Proof. unfold Ex, nomask. rewrite bil_co. ring. Qed.

(** Sums over the keys of a row: N equal terms and the last. *)
Lemma row_sum i (f : nat -> R) : sum n (fun j => E i j * f (co j)) = INR N * (exp (MK (co i) 0%nat) * f 0%nat) + exp
  (MK (co i) 1%nat) * f 1%nat.
Proof.
  simpl. rewrite E_co, co_last. f_equal. rewrite <- sum_const. apply sum_ext; intros j Hj. rewrite E_co, (co_low j Hj).
  reflexivity.
Qed.
Lemma row_low i (f : nat -> R) : (i < N)%nat -> sum n (fun j => E i j * f (co j)) = INR N * (f 0%nat + ep * f 1%nat).
Proof. intros Hi. rewrite row_sum, co_low by exact Hi. cbn [MK]. rewrite exp_0, exp_m12. ring. Qed.
Lemma row_last (f : nat -> R) : sum n (fun j => E N j * f (co j)) = exp 2 * (2 * f 0%nat + f 1%nat).
Proof. rewrite row_sum, co_last. cbn [MK]. rewrite <- Rmult_assoc, exp_m21. ring. Qed.

Lemma U_low i b : (i < N)%nat -> U i b = INR N * (WK 0%nat b + ep * WK 1%nat b).
Proof. intros Hi. rewrite <- (row_low i (fun c => WK c b) Hi). unfold Ux. apply sum_ext; intros j _.
now rewrite vmat_co. Qed.
Lemma U_last b : U N b = exp 2 * (2 * WK 0%nat b + WK 1%nat b).
Proof. rewrite <- (row_last (fun c => WK c b)). unfold Ux. apply sum_ext; intros j _. now rewrite vmat_co. Qed.

Lemma U_coord i : (i < n)%nat -> 0 < U i (co i) /\ forall b, (b < d)%nat -> b <> co i -> U i b = 0.
Proof.
  intros Hi. assert (P := ep_b). assert (K := kap_pos). assert (H := NP). assert (X2 := exp_pos 2).
  destruct (Nat.eq_dec i N) as [->|Ne].
  - rewrite co_last. split.
    + rewrite U_last. cbn [WK]. apply Rmult_lt_0_compat; [lra|]. nra.
    + intros b _ Nb. rewrite U_last. destruct b as [|[|b]]; [cbn [WK]; ring|lia|cbn [WK]; ring].
  - rewrite co_low by lia. split.
    + rewrite U_low by lia. cbn [WK]. apply Rmult_lt_0_compat; lra.
    + intros b _ Nb. rewrite U_low by lia. destruct b as [|[|b]]; [lia|cbn [WK]; ring|cbn [WK]; ring].
Qed.

Lemma mask_ok : proper_mask n nomask.
Proof. apply nomask_padding. lia. Qed.

Lemma fixed_K : fixed n d F Z.
Proof.
  intros i b Hi Hb. destruct (U_coord i Hi) as [P Zr]. unfold two_clusters at 2.
  apply (sphere_coord n d MK WK nomask ltac:(lia) mask_ok Z i (co i) Hi (co_d i) P Zr b Hb).
Qed.

Lemma derivative_K : derivative n d F Z (dF n d MK WK nomask Z).
Proof.
  apply layer_derivative; [lia|exact mask_ok|]. intros i Hi. destruct (U_coord i Hi) as [P Zr].
  rewrite (l2_coord d _ (co i) (co_d i) P Zr). exact P.
Qed.

Lemma dlogit_co i j p q : (q < d)%nat -> dlogit d MK Z i j p q = eye p i * MK q (co j) + eye p j * MK (co i) q.
Proof.
  intros Hq. unfold dlogit, two_clusters. f_equal; f_equal.
  - rewrite (sum_ext d _ (fun c => eye (co j) c * MK q c)) by (intros; ring).
    apply (sum_eye_l d (fun c => MK q c) _ (co_d j)).
  - apply (sum_eye_l d (fun a => MK a q) _ (co_d i)).
Qed.

Lemma dU_co i b p q : (p < n)%nat -> (q < d)%nat -> dU n d MK WK nomask Z i b p q =
  exp (MK (co i) (co p)) * (WK q b + WK (co p) b * MK (co i) q) + eye p i * sum n (fun j => E i j * (WK (co j) b * MK q
    (co j))).
Proof.
  intros Hp Hq. unfold dU. rewrite <- (E_co i p).
  rewrite (sum_ext n _ (fun j => eye p j * (E i j * (WK q b + WK (co j) b * MK (co i) q)) + eye p i * (E i j * (WK (co
    j) b * MK q (co j))))).
  - rewrite sum_plus, sum_scal. f_equal. apply (sum_eye_l n (fun j => E i j * (WK q b + WK (co j) b * MK (co i) q)) p
      Hp).
  - intros j _. rewrite dlogit_co, vmat_co by exact Hq. ring.
Qed.

(** The tangent coordinates: e_1 for the first tokens, e_0 for the last. *)
Definition tangent (i b : nat) : bool := Nat.eqb b (1 - co i).

Lemma tangent_sum (f : nat -> nat -> R) : sum n (fun p => sum d (fun b => if tangent p b then f p b else 0)) = sum N
  (fun p => f p 1%nat) + f N 0%nat.
Proof.
  assert (T : forall p, sum d (fun b => if tangent p b then f p b else 0) = f p (1 - co p)%nat).
  { intro p. unfold tangent. rewrite (sum_single d _ (1 - co p)%nat); [now rewrite Nat.eqb_refl|unfold corner;
      destruct Nat.ltb; lia|].
    intros b _ Nb. destruct (Nat.eqb_spec b (1 - co p)); [lia|reflexivity]. }
  change (sum n (fun p => sum d (fun b => if tangent p b then f p b else 0)))
    with (sum N (fun p => sum d (fun b => if tangent p b then f p b else 0)) + sum d (fun b => if tangent N b then f N
      b else 0)).
  rewrite T, co_last. f_equal. apply sum_ext; intros p Hp. now rewrite T, co_low.
Qed.

Lemma dF_K i b p q : (i < n)%nat -> (b < d)%nat -> dF n d MK WK nomask Z i b p q = if Nat.eqb b (co i) then 0 else dU n
  d MK WK nomask Z i b p q / U i (co i).
Proof.
  intros Hi Hb. destruct (U_coord i Hi) as [P Zr]. apply (dF_coord n d MK WK nomask ltac:(lia) mask_ok Z i (co i) b p q
    Hi (co_d i) P Zr Hb).
Qed.

Lemma dF_low i p q : (i < N)%nat -> dF n d MK WK nomask Z i 1%nat p q = dU n d MK WK nomask Z i 1%nat p q / (INR N * (1
  - 2 * ep)).
Proof.
  intros Hi. rewrite dF_K by lia. rewrite U_low by exact Hi. rewrite (co_low i Hi). cbn [Nat.eqb WK]. f_equal. ring.
Qed.

Lemma inactive i a p b : (i < n)%nat -> (a < d)%nat -> (p < n)%nat -> (b < d)%nat -> tangent i a = false ->
  dF n d MK WK nomask Z i a p b = 0.
Proof.
  intros Hi Ha Hp Hb T. rewrite dF_K by assumption. destruct (Nat.eqb_spec a (co i)) as [|Ne]; [reflexivity|].
  assert (A2 : (2 <= a)%nat).
  { unfold tangent in T. apply Nat.eqb_neq in T. unfold corner in *. destruct Nat.ltb; lia. }
  rewrite dU_co by assumption.
  assert (W0 : forall c, WK c a = 0) by (intro c; destruct a as [|[|a]]; try lia; destruct c as [|[|c]]; reflexivity).
  rewrite !W0. rewrite (sum_ext n _ (fun _ => 0)) by (intros; rewrite W0; ring). rewrite sum_zero. unfold Rdiv. ring.
Qed.

Lemma active_low i : (i < N)%nat -> sum n (fun p => sum d (fun b => if tangent p b then Rabs (dF n d MK WK nomask Z i
  1%nat p b) else 0)) <= 1/2.
Proof.
  intros Hi. assert (P := ep_b). assert (K := kap_pos). assert (H := NP). assert (L := lam_pos).
  rewrite (tangent_sum (fun p b => Rabs (dF n d MK WK nomask Z i 1%nat p b))).
  assert (D0 : 0 < INR N * (1 - 2 * ep)) by (apply Rmult_lt_0_compat; lra).
  assert (A1 : forall p, (p < N)%nat -> Rabs (dF n d MK WK nomask Z i 1%nat p 1%nat) <=
     (kap * (1 + ep * Rabs m12) + eye i p * (INR N * (kap * (ep * (2 + Rabs m21))))) / (INR N * (1 - 2 * ep))).
  { intros p Hp. rewrite dF_low, dU_co by lia.
    rewrite (row_low i (fun c => WK c 1%nat * MK 1%nat c) Hi). rewrite (co_low i Hi), (co_low p Hp). cbn [WK MK].
    rewrite exp_0.
    unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_right (INR N * (1 - 2 * ep))) by lra.
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
    replace (1 * (kap + - (kap * ep) * m12) + eye p i * (INR N * (- (kap * ep) * m21 + ep * (kap * 2))))
      with (kap * (1 + - ep * m12) + eye i p * (INR N * (kap * (ep * (2 + - m21))))) by (rewrite (eye_sym p i); ring).
    eapply Rle_trans; [apply Rabs_triang|].
    assert (Q1 : Rabs (1 + - ep * m12) <= 1 + ep * Rabs m12).
    { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, Rabs_Ropp, (Rabs_right ep), (Rabs_right 1) by lra.
      lra. }
    assert (Q2 : Rabs (2 + - m21) <= 2 + Rabs m21).
    { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp, (Rabs_right 2) by lra. lra. }
    apply Rplus_le_compat.
    - rewrite Rabs_mult, (Rabs_right kap) by lra. apply Rmult_le_compat_l; lra.
    - rewrite !Rabs_mult, (Rabs_right kap), (Rabs_right ep), (Rabs_right (INR N)) by lra.
      assert (0 <= eye i p) by (unfold eye; destruct Nat.eqb; lra). rewrite (Rabs_right (eye i p)) by lra.
      apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [lra|].
      apply Rmult_le_compat_l; lra. }
  assert (A2 : Rabs (dF n d MK WK nomask Z i 1%nat N 0%nat) <= INR N * (kap * (ep * ep)) / (INR N * (1 - 2 * ep))).
  { rewrite dF_low, dU_co by lia.
    rewrite (co_low i Hi), co_last, eye_diff by lia. cbn [WK MK]. rewrite exp_m12.
    unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_right (INR N * (1 - 2 * ep))) by lra.
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. rewrite Rmult_0_l, Rplus_0_r.
    replace (INR N * ep * (- (kap * ep) + kap * 0)) with (- (INR N * (kap * (ep * ep)))) by ring.
    rewrite Rabs_Ropp, Rabs_right; [lra|]. apply Rle_ge. apply Rmult_le_pos; [lra|apply Rmult_le_pos;
      [lra|apply Rmult_le_pos; lra]]. }
  assert (A3 : sum N (fun p => Rabs (dF n d MK WK nomask Z i 1%nat p 1%nat)) <=
     (INR N * (kap * (1 + ep * Rabs m12)) + INR N * (kap * (ep * (2 + Rabs m21)))) / (INR N * (1 - 2 * ep))).
  { eapply Rle_trans; [apply (sum_le N _ _ A1)|]. unfold Rdiv. rewrite sum_scal_r. rewrite sum_plus, sum_const.
    rewrite (sum_eye_l N (fun _ => INR N * (kap * (ep * (2 + Rabs m21)))) i Hi). lra. }
  assert (T : (INR N * (kap * (1 + ep * Rabs m12)) + INR N * (kap * (ep * (2 + Rabs m21)))) / (INR N * (1 - 2 * ep)) +
    INR N * (kap * (ep * ep)) / (INR N * (1 - 2 * ep)) = 1/2).
  { assert (KL : kap * lam = (1 - 2 * ep) / 2) by (unfold kap; field; lra). unfold lam in KL.
    replace (INR N * (kap * (1 + ep * Rabs m12)) + INR N * (kap * (ep * (2 + Rabs m21)))) with (INR N * ((1 - 2 * ep) /
      2 - kap * (ep * ep))) by (rewrite <- KL; ring).
    field. lra. }
  lra.
Qed.

Lemma active_last : sum n (fun p => sum d (fun b => if tangent p b then Rabs (dF n d MK WK nomask Z N 0%nat p b) else
  0)) <= 1/2.
Proof.
  rewrite (tangent_sum (fun p b => Rabs (dF n d MK WK nomask Z N 0%nat p b))).
  rewrite (sum_ext N _ (fun _ => 0)).
  - rewrite sum_zero. rewrite dF_K by lia. rewrite co_last. cbn [Nat.eqb]. rewrite dU_co by lia.
    rewrite (row_last (fun c => WK c 0%nat * MK 0%nat c)). rewrite co_last, eye_same. cbn [WK MK].
    replace (exp 2 * (1 + -2 * m21) + 1 * (exp 2 * (2 * (1 * 0) + -2 * m12))) with 0 by (unfold m12; field).
    unfold Rdiv. rewrite Rmult_0_l, Rabs_R0. lra.
  - intros p Hp. rewrite dF_K by lia. rewrite co_last. cbn [Nat.eqb]. rewrite dU_co by lia. rewrite eye_diff by lia.
    rewrite co_last, (co_low p Hp). cbn [WK MK].
    rewrite Rmult_0_l. replace (exp m21 * (-2 + 1 * 2) + 0) with 0 by ring.
    unfold Rdiv. rewrite Rmult_0_l. apply Rabs_R0.
Qed.

Lemma attracts_K : attracts n d F Z.
Proof.
  apply (attraction_active n d F Z (dF n d MK WK nomask Z) tangent (1/2) fixed_K derivative_K); [lra|exact inactive|].
  intros i a Hi Ha T. unfold tangent in T. apply Nat.eqb_eq in T. subst a. destruct (Nat.eq_dec i N) as [->|Ne].
  - rewrite co_last. exact active_last.
  - rewrite co_low by lia. apply active_low. lia.
Qed.
End AllTokens.

Theorem wu_all_n n d : (2 <= n)%nat -> (2 <= d)%nat -> exists M W : mat,
  fixed n d (sphere_map n d M W nomask) (two_clusters n) /\
  attracts n d (sphere_map n d M W nomask) (two_clusters n).
Proof.
  intros Hn Hd. destruct n as [|N]; [lia|]. exists (MK N), (WK N). split; [apply fixed_K|apply attracts_K]; lia.
Qed.
