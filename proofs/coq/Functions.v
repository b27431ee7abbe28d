(** exp, tanh: the few facts on them that several proofs need. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Sums.
Local Open Scope R_scope.

(** Products of non-negative factors. *)
Ltac pos := lazymatch goal with |- 0 <= _ * _ => apply Rmult_le_pos; pos | _ => first [assumption|lra] end.

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [H|H]; [left; now apply exp_increasing|subst; lra]. Qed.

Lemma exp_ge1 x : 0 <= x -> 1 <= exp x.
Proof. intros H. rewrite <- exp_0. now apply exp_le. Qed.

Lemma tanh_quarter D : tanh (D / 4) = (exp (D / 2) - 1) / (exp (D / 2) + 1).
Proof.
  unfold tanh, sinh, cosh.
  assert (H : exp (D / 2) = exp (D / 4) * exp (D / 4)) by (rewrite <- exp_plus; f_equal; lra).
  assert (P := exp_pos (D / 4)). assert (P' := exp_pos (- (D / 4))).
  assert (E' : exp (- (D / 4)) = / exp (D / 4)) by apply exp_Ropp.
  rewrite H, E'. field. split; nra.
Qed.

Lemma tanh_exp2 x : tanh x = 1 - 2 / (exp (2 * x) + 1).
Proof.
  replace x with (4 * x / 4) at 1 by lra. rewrite tanh_quarter.
  replace (4 * x / 2) with (2 * x) by lra. assert (P := exp_pos (2 * x)). field. lra.
Qed.

Lemma tanh_le x y : x <= y -> tanh x <= tanh y.
Proof.
  intros H. rewrite !tanh_exp2.
  assert (Px := exp_pos (2 * x)). assert (Py := exp_pos (2 * y)).
  assert (E : exp (2 * x) <= exp (2 * y)) by (apply exp_le; lra).
  assert (/ (exp (2 * y) + 1) <= / (exp (2 * x) + 1)) by (apply Rinv_le_contravar; lra).
  unfold Rdiv. lra.
Qed.

Lemma tanh_lt x y : x < y -> tanh x < tanh y.
Proof.
  intros H. rewrite !tanh_exp2.
  assert (Px := exp_pos (2 * x)). assert (Py := exp_pos (2 * y)).
  assert (E : exp (2 * x) < exp (2 * y)) by (apply exp_increasing; lra).
  assert (/ (exp (2 * y) + 1) < / (exp (2 * x) + 1)) by (apply Rinv_lt_contravar; nra).
  unfold Rdiv. lra.
Qed.

Lemma tanh_00 : tanh 0 = 0.
Proof. rewrite tanh_exp2, Rmult_0_r, exp_0. field. Qed.

Lemma tanh_nonneg x : 0 <= x -> 0 <= tanh x.
Proof. intros H. rewrite <- tanh_00. now apply tanh_le. Qed.

Lemma tanh_lt1 x : tanh x < 1.
Proof.
  rewrite tanh_exp2. assert (P := exp_pos (2 * x)).
  assert (0 < / (exp (2 * x) + 1)) by (apply Rinv_0_lt_compat; lra). unfold Rdiv. lra.
Qed.

Lemma tanh_le_id x : 0 <= x -> tanh x <= x.
Proof.
  intros Hx. rewrite tanh_exp2. assert (P := exp_pos (2 * x)).
  set (f := fun t => t * (exp (2 * t) + 1) - exp (2 * t) + 1).
  assert (Hf : f 0 <= f x).
  { destruct Hx as [Hx|<-]; [|lra].
    destruct (MVT_cor2 f (fun t => 1 + (2 * t - 1) * exp (2 * t)) 0 x Hx) as [c [Hc1 Hc2]].
    - intros c Hc. apply is_derive_Reals. unfold f. auto_derive; [exact I|ring].
    - assert (0 <= 1 + (2 * c - 1) * exp (2 * c)); [|nra].
      assert (Pc := exp_pos (2 * c)). assert (I1 := exp_ineq1_le (- (2 * c))).
      rewrite exp_Ropp in I1.
      assert (/ exp (2 * c) * exp (2 * c) = 1) by (apply Rinv_l; lra). nra. }
  unfold f in Hf. rewrite Rmult_0_r, exp_0 in Hf.
  apply Rmult_le_reg_r with (exp (2 * x) + 1); [lra|].
  replace ((1 - 2 / (exp (2 * x) + 1)) * (exp (2 * x) + 1)) with (exp (2 * x) - 1) by (field; lra). lra.
Qed.

(** The exponents of the depth bounds: (3^(L+1) - 1)/2 = 1 + 3 (3^L - 1)/2. *)
Lemma three_pow L : ((3 ^ S L - 1) / 2 = 1 + 3 * ((3 ^ L - 1) / 2))%nat.
Proof.
  assert (G : forall L, exists e, (3 ^ L = 2 * e + 1)%nat).
  { induction L0 as [|l [e He]]; [exists 0%nat; reflexivity|].
    exists (3 * e + 1)%nat. rewrite Nat.pow_succ_r', He. lia. }
  destruct (G L) as [e He]. rewrite Nat.pow_succ_r', He.
  replace (3 * (2 * e + 1) - 1)%nat with ((3 * e + 1) * 2)%nat by lia.
  replace (2 * e + 1 - 1)%nat with (e * 2)%nat by lia. rewrite !Nat.div_mul by lia. lia.
Qed.

(** r_{l+1} <= c r_l^3 gives r_L <= c^((3^L-1)/2) r_0^(3^L). *)
Lemma cubic_chain (r : nat -> R) c L :
  0 <= c -> (forall l, (l <= L)%nat -> 0 <= r l) ->
  (forall l, (l < L)%nat -> r (S l) <= c * r l ^ 3) ->
  r L <= c ^ ((3 ^ L - 1) / 2) * r 0%nat ^ (3 ^ L).
Proof.
  intros Hc. induction L as [|l IH]; intros H0 H.
  - simpl. lra.
  - assert (IH' := IH (fun k Hk => H0 k ltac:(lia)) (fun k Hk => H k ltac:(lia))).
    eapply Rle_trans; [apply H; lia|].
    eapply Rle_trans; [apply Rmult_le_compat_l; [exact Hc|apply pow_incr; split; [apply H0; lia|exact IH']]|].
    right. rewrite three_pow, Nat.pow_succ_r', Rpow_mult_distr, <- !pow_mult, pow_add.
    rewrite (Nat.mul_comm 3 (3 ^ l)), (Nat.mul_comm 3). simpl (c ^ 1). ring.
Qed.

(** exp is convex: e^{t x} <= 1 - t + t e^x for 0 <= t <= 1; strictly for 0 < t < 1 and x <> 0. *)
Lemma exp_convex t x : 0 <= t <= 1 -> exp (t * x) <= 1 - t + t * exp x.
Proof.
  intros Ht. set (z := t * x).
  assert (Pz := exp_pos z). assert (A := exp_ineq1_le (- z)). assert (B := exp_ineq1_le (x - z)).
  assert (EA : exp z * exp (- z) = 1) by (rewrite <- exp_plus, <- exp_0; f_equal; ring).
  assert (EB : exp z * exp (x - z) = exp x) by (rewrite <- exp_plus; f_equal; ring).
  assert (exp z * (1 - z) <= 1) by nra. assert (exp z * (1 + (x - z)) <= exp x) by nra.
  unfold z in *. nra.
Qed.

Lemma exp_convex_strict t x : 0 < t < 1 -> x <> 0 -> exp (t * x) < 1 - t + t * exp x.
Proof.
  intros Ht Hx. set (z := t * x).
  assert (Hz : x - z <> 0) by (unfold z; replace (x - t * x) with ((1 - t) * x) by ring;
    apply Rmult_integral_contrapositive; lra).
  assert (Pz := exp_pos z). assert (A := exp_ineq1_le (- z)). assert (B := exp_ineq1 (x - z) Hz).
  assert (EA : exp z * exp (- z) = 1) by (rewrite <- exp_plus, <- exp_0; f_equal; ring).
  assert (EB : exp z * exp (x - z) = exp x) by (rewrite <- exp_plus; f_equal; ring).
  assert (exp z * (1 - z) <= 1) by nra. assert (exp z * (1 + (x - z)) < exp x) by nra.
  unfold z in *. nra.
Qed.

(** (e^x - 1)/x, continued by 1 at 0. *)
Definition expc (x : R) : R := if Req_EM_T x 0 then 1 else (exp x - 1) / x.

Lemma expc_ge1 x : 0 <= x -> 1 <= expc x.
Proof.
  intros H. unfold expc. destruct Req_EM_T as [|N]; [lra|]. assert (A := exp_ineq1_le x).
  apply Rmult_le_reg_r with x; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by exact N. lra.
Qed.

(** e^t - 1 <= expc(delta) t on [0, delta]. *)
Lemma exp_chord t delta : 0 <= t <= delta -> exp t - 1 <= expc delta * t.
Proof.
  intros H. unfold expc. destruct Req_EM_T as [->|N].
  - replace t with 0 by lra. rewrite exp_0. lra.
  - assert (C := exp_convex (t / delta) delta). replace (t / delta * delta) with t in C by (field; lra).
    assert (T : 0 <= t / delta <= 1).
    { split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
      apply Rmult_le_reg_r with delta; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    specialize (C T). replace ((exp delta - 1) / delta * t) with (t / delta * exp delta - t / delta) by (field; lra).
    lra.
Qed.

Lemma expc_mono x y : 0 <= x <= y -> expc x <= expc y.
Proof.
  intros H. destruct (Req_dec x 0) as [->|N].
  - unfold expc at 1. destruct Req_EM_T; [|lra]. apply expc_ge1. lra.
  - assert (C := exp_chord x y H). unfold expc at 1. destruct Req_EM_T; [lra|].
    apply Rmult_le_reg_r with x; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

(** tanh(x)/x, continued by 1 at 0. *)
Definition tanhc (x : R) : R := if Req_EM_T x 0 then 1 else tanh x / x.

Lemma tanhc_spec x : tanhc x * x = tanh x.
Proof. unfold tanhc. destruct Req_EM_T as [->|N]; [rewrite tanh_00; ring|]. field. exact N. Qed.

Lemma tanhc_nonneg x : 0 <= x -> 0 <= tanhc x.
Proof.
  intros H. unfold tanhc. destruct Req_EM_T as [|N]; [lra|].
  apply Rmult_le_pos; [now apply tanh_nonneg|left; apply Rinv_0_lt_compat; lra].
Qed.

(** The Taylor sum of e^t, and what follows it. *)
Lemma exp_taylor t k : 0 <= t <= / 2 -> (1 <= k)%nat ->
  sum (S k) (fun j => t ^ j / INR (fact j)) <= exp t <= sum (S k) (fun j => t ^ j / INR (fact j)) + t ^ S k.
Proof.
  intros Ht Hk. destruct (Req_dec t 0) as [->|N].
  - rewrite exp_0, sum_head, (sum_ext k _ (fun _ => 0)); [rewrite sum_zero; simpl; lra|].
    intros j _. simpl. unfold Rdiv. ring.
  - destruct (Taylor_Lagrange exp k 0 t ltac:(lra)) as [z [Hz E]].
    { intros u _ [|j] _; [exact I|]. exists (exp u). apply (is_derive_n_exp (S j) u). }
    assert (D : forall j u, Derive_n exp j u = exp u) by (intros; apply is_derive_n_unique, is_derive_n_exp).
    rewrite E, D, sum_reals. rewrite Rminus_0_r.
    rewrite (sum_eq (fun j => t ^ j / INR (fact j) * Derive_n exp j 0) (fun j => t ^ j / INR (fact j)) k) by (intros j
      _; rewrite D, exp_0; ring).
    assert (P : 0 <= t ^ S k) by (apply pow_le; lra). assert (F := lt_0_INR _ (lt_O_fact (S k))).
    assert (F2 : 2 <= INR (fact (S k))).
    { change 2 with (INR 2). apply le_INR. change 2%nat with (fact 2). apply fact_le. lia. }
    assert (X1 : 1 <= exp z) by (assert (Q := exp_ineq1_le z); lra).
    assert (X2 : exp z <= 2).
    { apply Rle_trans with (exp (/ 2)); [left; apply exp_increasing; lra|].
      assert (Q := exp_ineq1_le (- / 2)). assert (R : exp (/ 2) * exp (- / 2) = 1) by (rewrite <- exp_plus;
        replace (/ 2 + - / 2) with 0 by lra; apply exp_0).
      assert (G := exp_pos (/ 2)). nra. }
    assert (R0 : 0 <= t ^ S k / INR (fact (S k)) * exp z).
    { apply Rmult_le_pos; [apply Rmult_le_pos; [exact P|left; now apply Rinv_0_lt_compat]|lra]. }
    assert (R1 : t ^ S k / INR (fact (S k)) * exp z <= t ^ S k).
    { apply Rle_trans with (t ^ S k / 2 * 2); [|lra]. apply Rmult_le_compat; try lra.
      - apply Rmult_le_pos; [exact P|left; now apply Rinv_0_lt_compat].
      - apply Rmult_le_compat_l; [exact P|]. apply Rinv_le_contravar; lra. }
    lra.
Qed.
(** Numbers: the first terms, then the square as often as need be. *)
Lemma exp_near t : 0 <= t <= / 2 ->
  1 + t + t ^ 2 / 2 + t ^ 3 / 6 + t ^ 4 / 24 + t ^ 5 / 120 <= exp t
  <= 1 + t + t ^ 2 / 2 + t ^ 3 / 6 + t ^ 4 / 24 + t ^ 5 / 120 + t ^ 6.
Proof.
  intro H. assert (T := exp_taylor t 5 H ltac:(lia)). cbn [sum] in T. simpl fact in T.
  rewrite !INR_IZR_INZ in T. cbn [Z.of_nat Pos.of_succ_nat Pos.succ] in T. lra.
Qed.
Lemma exp_double_low t u v : 0 <= u <= exp t -> v <= u * u -> v <= exp (2 * t).
Proof.
  intros H V. replace (2 * t) with (t + t) by ring. rewrite exp_plus. apply Rle_trans with (u * u); [exact V|].
  apply Rmult_le_compat; lra.
Qed.
Lemma exp_double_high t u v : exp t <= u -> u * u <= v -> exp (2 * t) <= v.
Proof.
  intros H V. replace (2 * t) with (t + t) by ring. rewrite exp_plus. assert (P := exp_pos t).
  apply Rle_trans with (u * u); [apply Rmult_le_compat; lra|exact V].
Qed.
