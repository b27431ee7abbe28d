(** own:cluster, own:escape.  n unit tokens U with the cosines c, attention e^(beta c_ik)/sum; the first m of them
  are a
    cluster, and every other token has the cosine 1 - a at most with each of it.  K = (n - m) e^(-beta a).
    What a token of the cluster gives to others is at most K/(1 + K) [leak].  The lowest token over an equator falls
      by
    sqrt(1 - h^2) K/(1 + K) at most [escape], and the least cosine of the cluster grows by what [cluster] says. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms Functions Softmax.
Local Open Scope R_scope.

(** (a - b)/(a + b) is tanh of half the difference of their logarithms. *)
Lemma log_mean a b x : 0 < a -> 0 < b -> 0 <= x -> a <= exp x * b -> b <= exp x * a -> Rabs (a - b) <= (a + b) * (x /
  2).
Proof.
  intros Ha Hb Hx H1 H2. assert (T := tanh_le_id (x / 2) ltac:(lra)). replace (x / 2) with (2 * x / 4) in T at 1 by
    lra.
  rewrite tanh_quarter in T. replace (2 * x / 2) with x in T by lra. assert (P := exp_pos x).
  assert (S : forall s t, 0 < s -> 0 < t -> s <= exp x * t -> s - t <= (s + t) * (x / 2)).
  { intros s t s0 t0 H. apply Rle_trans with ((s + t) * ((exp x - 1) / (exp x + 1))).
    - apply Rmult_le_reg_r with (exp x + 1); [lra|]. replace ((s + t) * ((exp x - 1) / (exp x + 1)) * (exp x + 1))
      with
        ((s + t) * (exp x - 1)) by (field; lra). nra.
    - apply Rmult_le_compat_l; lra. }
  apply Rabs_le. assert (Q1 := S a b Ha Hb H1). assert (Q2 := S b a Hb Ha H2). lra.
Qed.

Section Cluster.
Variables (n m d : nat) (U : mat) (beta a : R).
Hypothesis m0 : (0 < m)%nat.
Hypothesis mn : (m <= n)%nat.
Hypothesis unit : forall i, (i < n)%nat -> dot d (U i) (U i) = 1.
Hypothesis b0 : 0 <= beta.
Let c (i k : nat) : R := dot d (U i) (U k).
Hypothesis far : forall i k, (i < m)%nat -> (m <= k < n)%nat -> a <= 1 - c i k.
Let K : R := (INR n - INR m) * exp (- (beta * a)).
Let P (i : nat) : vec := softmax n (fun _ => 1) (fun k => beta * c i k).
Let e (i k : nat) : R := exp (beta * (c i k - 1)).
Let z (i : nat) : R := sum n (e i).

Lemma dot_unit_le (x y : vec) : dot d x x = 1 -> dot d y y = 1 -> -1 <= dot d x y <= 1.
Proof. intros X Y. assert (H := cauchy_schwarz d x y). rewrite X, Y in H. split; nra. Qed.

Lemma c_le i k : (i < n)%nat -> (k < n)%nat -> -1 <= c i k <= 1.
Proof. intros Hi Hk. apply dot_unit_le; now apply unit. Qed.

Lemma c_sym i k : c i k = c k i.
Proof. apply dot_sym. Qed.

Lemma e_pos i k : 0 < e i k.
Proof. apply exp_pos. Qed.

Lemma e_self i : (i < n)%nat -> e i i = 1.
Proof. intros Hi. unfold e, c. rewrite unit by exact Hi. replace (beta * (1 - 1)) with 0 by ring. apply exp_0. Qed.

Lemma e_le1 i k : (i < n)%nat -> (k < n)%nat -> e i k <= 1.
Proof. intros Hi Hk. rewrite <- exp_0. apply exp_le. assert (H := c_le i k Hi Hk). nra. Qed.

Lemma z_pos i : (i < n)%nat -> 0 < z i.
Proof.
  intros Hi. apply Rlt_le_trans with (e i i); [apply e_pos|]. apply (sum_term_le n (e i) i); [|exact Hi].
  intros j _. assert (Q := e_pos i j). lra.
Qed.

Lemma P_e i k : (i < n)%nat -> P i k = e i k / z i.
Proof.
  intros Hi. unfold P, softmax. rewrite <- (tilt_shift n (fun _ => 1) (fun k => beta * c i k) (- beta) k). unfold
    tilt, z.
  assert (E : forall k, exp (- beta + beta * c i k) = e i k) by (intros j; unfold e; f_equal; ring).
  rewrite E, Rmult_1_l. f_equal. apply sum_ext. intros j _. now rewrite E, Rmult_1_l.
Qed.

Lemma P_pos i k : (i < n)%nat -> 0 < P i k.
Proof. intros Hi. rewrite P_e by exact Hi. apply Rdiv_lt_0_compat; [apply e_pos|now apply z_pos]. Qed.

Lemma split_n (f : nat -> R) : sum n f = sum m f + sum (n - m) (fun j => f (m + j)%nat).
Proof. rewrite <- sum_split. f_equal. lia. Qed.

Lemma K_pos : 0 <= K.
Proof. unfold K. apply Rmult_le_pos; [apply le_INR in mn; lra|]. assert (Q := exp_pos (- (beta * a))). lra. Qed.

Let out (i : nat) (f : nat -> R) : R := sum (n - m) (fun j => f (m + j)%nat).

Lemma out_e i : (i < m)%nat -> out i (e i) <= K.
Proof.
  intros Hi. unfold out, K. replace (INR n - INR m) with (INR (n - m)) by (rewrite minus_INR; [ring|exact mn]).
  rewrite <- sum_const. apply sum_le. intros j Hj. apply exp_le.
  assert (F := far i (m + j)%nat Hi ltac:(lia)). nra.
Qed.

Lemma leak i : (i < m)%nat -> 0 <= out i (P i) <= K / (1 + K).
Proof.
  intros Hi. assert (Hn : (i < n)%nat) by lia. assert (K0 := K_pos). split.
  - apply sum_nonneg. intros j _. assert (Q := P_pos i (m + j)%nat Hn). lra.
  - assert (E : out i (P i) = out i (e i) / z i).
    { unfold out, Rdiv. rewrite <- sum_scal_r. apply sum_ext. intros j _. now rewrite P_e. }
    rewrite E. assert (Z0 := z_pos i Hn). assert (O := out_e i Hi).
    assert (Z1 : 1 + out i (e i) <= z i).
    { unfold z. rewrite split_n. fold (out i (e i)). apply Rplus_le_compat_r. rewrite <- (e_self i Hn).
      apply (sum_term_le m (e i) i); [|exact Hi]. intros j _. assert (Q := e_pos i j). lra. }
    assert (O0 : 0 <= out i (e i)) by (apply sum_nonneg; intros j _; assert (Q := e_pos i (m + j)%nat); lra).
    apply Rmult_le_reg_r with (z i * (1 + K)); [apply Rmult_lt_0_compat; lra|].
    replace (out i (e i) / z i * (z i * (1 + K))) with (out i (e i) * (1 + K)) by (field; lra).
    replace (K / (1 + K) * (z i * (1 + K))) with (K * z i) by (field; lra). nra.
Qed.

(* ---------- a cap ---------- *)
Theorem escape (w : vec) : dot d w w = 1 -> let h k := dot d (U k) w in 0 <= h 0%nat ->
  (forall k, (k < m)%nat -> h 0%nat <= h k) ->
  sum n (fun k => P 0 k * (c k 0 * h 0%nat - h k)) <= sqrt (1 - h 0%nat ^ 2) * (K / (1 + K)).
Proof.
  intros W h H0 Low. assert (Z : (0 < n)%nat) by lia. set (q := sqrt (1 - h 0%nat ^ 2)).
  assert (R : dot d (fun a => w a - h 0%nat * U 0%nat a) (fun a => w a - h 0%nat * U 0%nat a) = 1 - h 0%nat ^ 2).
  { transitivity (dot d w w - 2 * h 0%nat * dot d (U 0%nat) w + h 0%nat * h 0%nat * dot d (U 0%nat) (U 0%nat)).
    - unfold dot. rewrite <- !sum_scal, <- sum_minus, <- sum_plus. apply sum_ext. intros; ring.
    - rewrite W, unit by exact Z. fold (h 0%nat). ring. }
  assert (q0 : 0 <= q) by apply sqrt_pos.
  rewrite split_n. fold (out 0 (fun k => P 0 k * (c k 0 * h 0%nat - h k))).
  assert (In : sum m (fun k => P 0 k * (c k 0 * h 0%nat - h k)) <= 0).
  { apply Rle_trans with (sum m (fun _ => 0)); [|rewrite sum_zero; lra]. apply sum_le. intros k Hk.
    assert (Q := P_pos 0 k Z). assert (C1 := c_le k 0 ltac:(lia) Z). assert (L := Low k Hk). assert (c k 0 * h 0%nat
      - h k <= 0) by nra. nra. }
  assert (Out : out 0 (fun k => P 0 k * (c k 0 * h 0%nat - h k)) <= q * out 0 (P 0)).
  { unfold out. rewrite <- sum_scal. apply sum_le. intros j Hj. set (k := (m + j)%nat). assert (Hk : (k < n)%nat) by
    (unfold k; lia).
    assert (Q := P_pos 0 k Z). rewrite (Rmult_comm q). apply Rmult_le_compat_l; [lra|].
    assert (D := dot_le_l2 d (U k) (fun a => w a - h 0%nat * U 0%nat a)). unfold l2 in D. rewrite R, unit, sqrt_1,
      Rmult_1_l in D by exact Hk.
    fold q in D. replace (dot d (U k) (fun a => w a - h 0%nat * U 0%nat a)) with (h k - c k 0 * h 0%nat) in D.
    - unfold Rabs in D. destruct Rcase_abs in D; lra.
    - unfold h, c, dot at 1 2. rewrite <- sum_scal_r, <- sum_minus. unfold dot at 2. apply sum_ext. intros; ring. }
  assert (L := leak 0 m0). assert (q * out 0 (P 0) <= q * (K / (1 + K))) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* ---------- the least cosine ---------- *)
Hypothesis m2 : (2 <= m)%nat.
Let u : R := c 0 1.
Let g : R := 1 - u.
Hypothesis u0 : 0 <= u.
Hypothesis widest : forall i k, (i < m)%nat -> (k < m)%nat -> u <= c i k.
Let rho : R := exp (- (beta * g)).
Let A (f : nat -> R) : R := sum (n - m) (fun j => f (m + j)%nat).

Lemma u_le : u <= 1.
Proof. apply c_le; lia. Qed.

(** Cosines with two tokens differ by their distance at most. *)
Lemma c_close k : (k < n)%nat -> Rabs (c k 1 - c k 0) <= sqrt (2 * g).
Proof.
  intros Hk. assert (D := dot_le_l2 d (U k) (fun a => U 1%nat a - U 0%nat a)). unfold l2 in D.
  rewrite (unit k Hk), sqrt_1, Rmult_1_l in D.
  replace (dot d (fun a => U 1%nat a - U 0%nat a) (fun a => U 1%nat a - U 0%nat a)) with (2 * g) in D.
  - replace (dot d (U k) (fun a => U 1%nat a - U 0%nat a)) with (c k 1 - c k 0) in D; [exact D|].
    unfold c, dot. rewrite <- sum_minus. apply sum_ext. intros; ring.
  - transitivity (dot d (U 1%nat) (U 1%nat) - 2 * dot d (U 0%nat) (U 1%nat) + dot d (U 0%nat) (U 0%nat)).
    + rewrite !unit by lia. unfold g, u, c. ring.
    + unfold dot. rewrite <- !sum_scal, <- sum_minus, <- sum_plus. apply sum_ext. intros; ring.
Qed.

Let delta : R := beta * sqrt (2 * g).

Lemma delta_pos : 0 <= delta.
Proof. apply Rmult_le_pos; [exact b0|apply sqrt_pos]. Qed.

Lemma e_close i j k : (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat -> (k < n)%nat -> e i k <= exp delta * e j k.
Proof.
  intros Hij Hk. unfold e. rewrite <- exp_plus. apply exp_le. assert (Q := c_close k Hk). assert (D : c i k - c j k
    <= sqrt (2 * g)).
  { rewrite (c_sym i), (c_sym j). unfold Rabs in Q. destruct Hij as [[-> ->]|[-> ->]]; destruct Rcase_abs in Q; lra. }
  unfold delta. nra.
Qed.

Lemma z_close i j : (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat -> z i <= exp delta * z j.
Proof. intros Hij. unfold z. rewrite <- sum_scal. apply sum_le. intros k Hk. now apply e_close. Qed.

Lemma P_close i j k : (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat -> (k < n)%nat -> P i k <= exp (2 * delta) * P j k.
Proof.
  intros Hij Hk. assert (Hi : (i < n)%nat) by lia. assert (Hj : (j < n)%nat) by lia. rewrite !P_e by assumption.
  assert (Zi := z_pos i Hi). assert (Zj := z_pos j Hj). assert (E1 := e_close i j k Hij Hk).
  assert (E2 := z_close j i ltac:(lia)). assert (Ei := e_pos i k). assert (Ej := e_pos j k). assert (X := exp_pos
    delta).
  replace (2 * delta) with (delta + delta) by ring. rewrite exp_plus.
  apply Rmult_le_reg_r with (z i * z j); [now apply Rmult_lt_0_compat|].
  replace (e i k / z i * (z i * z j)) with (e i k * z j) by (field; lra).
  replace (exp delta * exp delta * (e j k / z j) * (z i * z j)) with ((exp delta * e j k) * (exp delta * z i)) by
    (field; lra).
  apply Rmult_le_compat; lra.
Qed.

(** What a token elsewhere does to the pair: both estimates. *)
Let pull (k : nat) : R := P 0 k * (c k 1 - c k 0 * u) + P 1 k * (c k 0 - c k 1 * u).

Lemma pull_root k : (k < n)%nat -> - ((P 0 k + P 1 k) * sqrt (g * (2 - g))) <= pull k.
Proof.
  intros Hk. assert (Q0 := P_pos 0 k ltac:(lia)). assert (Q1 := P_pos 1 k ltac:(lia)). unfold pull.
  assert (T : forall i j, (i < n)%nat -> (j < n)%nat -> c i j = u -> Rabs (c k j - c k i * u) <= sqrt (g * (2 - g))).
  { intros i j Hi Hj E. assert (D := dot_le_l2 d (U k) (fun a => U j a - u * U i a)). unfold l2 in D.
    rewrite (unit k Hk), sqrt_1, Rmult_1_l in D.
    replace (dot d (fun a => U j a - u * U i a) (fun a => U j a - u * U i a)) with (g * (2 - g)) in D.
    - replace (dot d (U k) (fun a => U j a - u * U i a)) with (c k j - c k i * u) in D; [exact D|].
      unfold c, dot. rewrite <- sum_scal_r, <- sum_minus. apply sum_ext. intros; ring.
    - transitivity (dot d (U j) (U j) - 2 * u * dot d (U i) (U j) + u * u * dot d (U i) (U i)).
      + rewrite !unit by assumption. fold (c i j). rewrite E. unfold g. ring.
      + unfold dot. rewrite <- !sum_scal, <- sum_minus, <- sum_plus. apply sum_ext. intros; ring. }
  assert (T1 := T 0%nat 1%nat ltac:(lia) ltac:(lia) eq_refl). assert (T2 := T 1%nat 0%nat ltac:(lia) ltac:(lia)
    (c_sym 1 0)).
  unfold Rabs in T1, T2. destruct Rcase_abs in T1; destruct Rcase_abs in T2; nra.
Qed.

Lemma pull_linear k : (k < n)%nat -> - ((P 0 k + P 1 k) * (g * (1 + (2 - g) * beta))) <= pull k.
Proof.
  intros Hk. assert (Q0 := P_pos 0 k ltac:(lia)). assert (Q1 := P_pos 1 k ltac:(lia)).
  assert (g0 : 0 <= g) by (unfold g; assert (Q := u_le); lra).
  assert (E : pull k = (P 0 k + P 1 k) / 2 * (g * (c k 0 + c k 1)) + (P 0 k - P 1 k) / 2 * ((2 - g) * (c k 1 - c k
    0))).
  { unfold pull, g. field. }
  rewrite E. assert (C0 := c_le k 0 Hk ltac:(lia)). assert (C1 := c_le k 1 Hk ltac:(lia)). assert (D := c_close k Hk).
  assert (L := log_mean (P 0 k) (P 1 k) (2 * delta) Q0 Q1 ltac:(assert (Q := delta_pos); lra) (P_close 0 1 k
    ltac:(lia) Hk)
    (P_close 1 0 k ltac:(lia) Hk)).
  assert (S : sqrt (2 * g) * sqrt (2 * g) = 2 * g) by (apply sqrt_sqrt; lra). assert (S0 := sqrt_pos (2 * g)).
  assert (M : Rabs ((P 0 k - P 1 k) * (c k 1 - c k 0)) <= (P 0 k + P 1 k) * (2 * beta * g)).
  { rewrite Rabs_mult. replace ((P 0 k + P 1 k) * (2 * beta * g)) with ((P 0 k + P 1 k) * (2 * delta / 2) * sqrt (2 *
    g)).
    - apply Rmult_le_compat; try apply Rabs_pos; assumption.
    - unfold delta. replace ((P 0 k + P 1 k) * (2 * (beta * sqrt (2 * g)) / 2) * sqrt (2 * g)) with ((P 0 k + P 1 k)
      * beta *
        (sqrt (2 * g) * sqrt (2 * g))) by field. rewrite S. ring. }
  assert (W : - ((P 0 k + P 1 k) * (2 * beta * g)) <= (P 0 k - P 1 k) * (c k 1 - c k 0)) by (unfold Rabs in M;
    destruct Rcase_abs in M; lra).
  assert (g2 : 0 <= (2 - g) / 2) by (unfold g; lra).
  assert (V : (2 - g) / 2 * - ((P 0 k + P 1 k) * (2 * beta * g)) <= (2 - g) / 2 * ((P 0 k - P 1 k) * (c k 1 - c k
    0))) by
    now apply Rmult_le_compat_l.
  assert (T : - ((P 0 k + P 1 k) * g) <= (P 0 k + P 1 k) / 2 * (g * (c k 0 + c k 1))).
  { assert (0 <= (P 0 k + P 1 k) * g) by (apply Rmult_le_pos; lra). nra. }
  nra.
Qed.

(** What the other one of the pair receives. *)
Lemma share_of_pair i j : (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat -> rho / (INR m - 1 + rho + K) <= P i j.
Proof.
  intros Hij. assert (Hi : (i < m)%nat) by lia. assert (Hj : (j < m)%nat) by lia. rewrite P_e by lia.
  assert (Eij : e i j = rho).
  { unfold e, rho, g, u. f_equal. replace (c i j) with (c 0 1) by (destruct Hij as [[-> ->]|[-> ->]]; [|rewrite
    c_sym]; reflexivity).
    ring. }
  assert (r0 : 0 < rho) by apply exp_pos. assert (K0 := K_pos). assert (M2 := le_INR 2 m m2). simpl INR in M2.
  assert (Zu : z i <= INR m - 1 + rho + K).
  { unfold z. rewrite split_n. apply Rplus_le_compat; [|now apply out_e].
    apply Rle_trans with (sum m (fun k => 1 + (if Nat.eqb k j then rho - 1 else 0))).
    - apply sum_le. intros k Hk. destruct (Nat.eqb_spec k j) as [->|_]; [rewrite Eij; lra|]. assert (Q := e_le1 i k
      ltac:(lia) ltac:(lia)). lra.
    - rewrite sum_plus, sum_const, (sum_single m _ j Hj); [rewrite Nat.eqb_refl; lra|]. intros k _ Ne. apply
      Nat.eqb_neq in Ne. now rewrite Ne. }
  assert (Z0 := z_pos i ltac:(lia)). rewrite Eij. unfold Rdiv. apply Rmult_le_compat_l; [lra|]. apply
    Rinv_le_contravar; lra.
Qed.

Theorem cluster : 2 * g * (2 - g) * rho / (INR m - 1 + rho + K) - 2 * K / (1 + K) * Rmin (sqrt (g * (2 - g))) (g * (1
  + (2 - g) * beta))
  <= sum n (fun k => P 0 k * (c k 1 - c k 0 * u)) + sum n (fun k => P 1 k * (c k 0 - c k 1 * u)).
Proof.
  assert (g0 : 0 <= g) by (unfold g; assert (Q := u_le); lra). assert (g1 : g <= 1) by (unfold g; lra).
  assert (K0 := K_pos). set (F := Rmin (sqrt (g * (2 - g))) (g * (1 + (2 - g) * beta))).
  assert (F0 : 0 <= F). { apply Rmin_glb; [apply sqrt_pos|]. apply Rmult_le_pos; [exact g0|nra]. }
  rewrite <- sum_plus. fold pull. rewrite split_n.
  assert (Out : - (2 * K / (1 + K) * F) <= sum (n - m) (fun j => pull (m + j))).
  { apply Rle_trans with (- ((A (P 0) + A (P 1)) * F)).
    - assert (L0 := leak 0 ltac:(lia)). assert (L1 := leak 1 ltac:(lia)). unfold out in L0, L1.
      change (A (P 0)) with (sum (n - m) (fun j => P 0 (m + j)%nat)).
      change (A (P 1)) with (sum (n - m) (fun j => P 1 (m + j)%nat)).
      replace (2 * K / (1 + K)) with (K / (1 + K) + K / (1 + K)) by (field; lra). apply Ropp_le_contravar,
        Rmult_le_compat_r;
        [exact F0|]. apply Rplus_le_compat; [apply L0|apply L1].
    - unfold A. rewrite <- sum_plus, <- sum_scal_r.
      replace (- sum (n - m) (fun j => (P 0 (m + j)%nat + P 1 (m + j)%nat) * F)) with (sum (n - m) (fun j => -1 * ((P
        0 (m + j)%nat + P 1 (m + j)%nat) * F))) by
        (rewrite sum_scal; ring).
      apply sum_le. intros j Hj. assert (Hk : (m + j < n)%nat) by lia. assert (R1 := pull_root _ Hk). assert (R2 :=
        pull_linear _ Hk).
      unfold F, Rmin. destruct Rle_dec; lra. }
  assert (In : 2 * g * (2 - g) * rho / (INR m - 1 + rho + K) <= sum m pull).
  { assert (S : forall i j, (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat -> g * (2 - g) * (rho / (INR m - 1 + rho + K)) <=
    sum m (fun k => P i k * (c k j - c k i * u))).
    { intros i j Hij. apply Rle_trans with (P i j * (c j j - c j i * u)).
      - unfold c at 1. rewrite unit by lia. replace (c j i) with u by (destruct Hij as [[-> ->]|[-> ->]]; unfold u;
        [apply c_sym|reflexivity]).
        replace (1 - u * u) with (g * (2 - g)) by (unfold g; ring). rewrite (Rmult_comm (P i j)). apply
          Rmult_le_compat_l; [nra|].
        now apply share_of_pair.
      - apply (sum_term_le m (fun k => P i k * (c k j - c k i * u)) j); [|lia]. intros k Hk. assert (Q := P_pos i k
        ltac:(lia)).
        apply Rmult_le_pos; [lra|]. assert (C1 := c_le k i ltac:(lia) ltac:(lia)). assert (C2 := widest k j Hk
          ltac:(lia)). nra. }
    unfold pull. rewrite sum_plus. assert (S1 := S 0%nat 1%nat ltac:(lia)). assert (S2 := S 1%nat 0%nat ltac:(lia)).
    replace (2 * g * (2 - g) * rho / (INR m - 1 + rho + K)) with (g * (2 - g) * (rho / (INR m - 1 + rho + K)) + g *
      (2 - g) * (rho / (INR m - 1 + rho + K))); [lra|].
    unfold Rdiv. ring. }
  unfold out in *. lra.
Qed.
End Cluster.
