(** wu2025:4.2, wu2025:4.3, wu2025:4.4 and folk:alibi-theta: attention under a window, a prefix and a decay.
Tokens are counted from 0; T is the number of layers.
    4.2, a window of width w, r = ceil((n-1)/(w-1)), q = 1 - (i+1) eps^r: the weight x on token i + 1 has x^(2r) q^r <=
      q^(T-1)  [wu_4_2].
    4.3, a prefix of K tokens: the weight on token K + i is at most max(0, 1 - (i+1) eps)^(T-1),
      and on every token of the prefix positive  [wu_4_3].
    4.4, decay with distance: A_ij e^((i-j) m) <= e^(I_max - I_min)/(1 + e^-m) for all tokens but the first  [wu_4_4].
    "Under a decay mask the weight on token j is of the order of a binomial times e^(-(i-j) m),
      with constants that do not depend on depth" is false at j = i: of two tokens with equal
    logits the second keeps (1 + a)^-T of itself, a = e^-m, less than any c > 0 in the end  [alibi_theta_refuted]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms Softmax seed_closure Masks own_position_bias own_alibi_decay.
Local Open Scope R_scope.

Lemma pow_shrinks q a b : 0 <= q <= 1 -> (a <= b)%nat -> q ^ b <= q ^ a.
Proof. intros H L. replace b with (a + (b - a))%nat by lia. rewrite pow_add. assert (A := pow_01 q a H).
assert (B := pow_01 q (b - a) H). nra. Qed.

(** One token of a tail. *)
Lemma one_of_tail n J (A : mat) m k : row_stochastic n n A -> (m < n)%nat -> (k < n)%nat -> (J <= k)%nat ->
  A m k <= tail_from n J A m.
Proof.
  intros [A0 _] Hm Hk HJ. assert (T := sum_term_le n (fun c => A m c * from J c) k). cbv beta in T.
  replace (A m k) with (A m k * from J k); [apply T; [|exact Hk]|].
  - intros c Hc. apply Rmult_le_pos; [now apply A0|apply from_range].
  - unfold from. apply Nat.leb_le in HJ. rewrite HJ. ring.
Qed.

Theorem wu_4_2 n w (P : nat -> mat) eps T i m : (2 <= n)%nat -> (2 <= w)%nat -> (forall s, row_stochastic n n (P s)) ->
  (forall s, windowed n w (P s)) -> 0 <= eps ->
  (forall s a b, (a < n)%nat -> (b < n)%nat -> (b <= a < b + w)%nat -> eps <= P s a b) -> (i + 1 < n)%nat ->
    (m < n)%nat ->
  let r := ((n - 1 + (w - 2)) / (w - 1))%nat in let q := 1 - INR (i + 1) * eps ^ r in
  steps n P 0 T m (i + 1)%nat ^ (2 * r) * q ^ r <= q ^ (T - 1).
Proof.
  intros n2 w2 St Wi e0 Le Hi Hm r q. assert (q0 : 0 <= q) by (apply (rate_range n w P eps n2 w2 St e0 Le i); lia).
  assert (q1 : q <= 1) by (unfold q; assert (0 <= INR (i + 1) * eps ^ r) by (apply Rmult_le_pos;
    [apply pos_INR|now apply pow_le]); lra).
  assert (r0 : (0 < r)%nat) by apply (proj1 (reach_spec n w n2 w2)).
  assert (Sn := products_stochastic n P St 0 T). set (x := steps n P 0 T m (i + 1)%nat).
  assert (x0 : 0 <= x) by (apply (proj1 Sn); lia).
  assert (X : x <= q ^ (T / r)).
  { eapply Rle_trans; [apply (one_of_tail n (i + 1) (steps n P 0 T) m (i + 1) Sn Hm Hi); lia|].
    apply (position_bias_window n w P eps n2 w2 St Wi e0 Le T i m); lia. }
  apply Rle_trans with ((q ^ (T / r)) ^ (2 * r) * q ^ r); [apply Rmult_le_compat_r; [now apply pow_le|apply pow_incr;
    lra]|].
  rewrite <- pow_mult, <- pow_add. apply pow_shrinks; [lra|]. assert (D := Nat.div_mod T r ltac:(lia)).
  assert (M := Nat.mod_upper_bound T r ltac:(lia)). nia.
Qed.

Theorem wu_4_3 n K (P : nat -> mat) eps T : (1 <= K)%nat -> (0 < T)%nat -> (forall s, row_stochastic n n (P s)) ->
  (forall s, prefixed n K (P s)) -> 0 < eps ->
  (forall s a b, (a < n)%nat -> (b < n)%nat -> (b < Nat.max K (a + 1))%nat -> eps <= P s a b) ->
  (forall i m, (K + i < n)%nat -> (m < n)%nat -> steps n P 0 T m (K + i)%nat <= Rmax 0 (1 - INR (i + 1) * eps) ^ (T -
    1)) /\
  (forall m j, (m < n)%nat -> (j < n)%nat -> (j < K)%nat -> 0 < steps n P 0 T m j).
Proof.
  intros K1 T0 St Pr e0 Le. destruct (position_bias_prefix n K P eps T St Pr Le) as [A B]. split.
  - intros i m Hi Hm. assert (Sn : row_stochastic n n (steps n P 0 T)) by (apply (steps_stochastic n P 0 T); [intros;
      apply St|lia]).
    eapply Rle_trans; [apply (one_of_tail n (K + i) _ m (K + i) Sn Hm Hi); lia|]. eapply Rle_trans; [apply (A i m Hm)|].
    assert (L : INR (i + 1) <= INR (K + i)) by (apply le_INR; lia). assert (I0 := pos_INR (i + 1)).
    apply Rle_trans with (Rmax 0 (1 - INR (i + 1) * eps) ^ T).
    + apply pow_incr. split; [apply Rmax_l|]. apply Rle_max_compat_l. nra.
    + apply pow_shrinks; [|lia]. split; [apply Rmax_l|]. apply Rmax_lub; nra.
  - intros m j Hm Hj Hk. specialize (B T0 m j Hm Hj Hk). lra.
Qed.

Theorem wu_4_4 n (I : mat) m Imin Imax i j : 0 < m -> (forall a b, (a < n)%nat -> (b <= a)%nat ->
  Imin <= I a b <= Imax) -> (0 < i)%nat -> (i < n)%nat -> (j <= i)%nat ->
  decayed n I m i j * exp ((INR i - INR j) * m) <= exp (Imax - Imin) / (1 + exp (- m)).
Proof.
  intros Hm HI I0 Hi Hj. unfold decayed, softmax, tilt. set (g := fun k => causal i k * exp (I i k - (INR i - INR k) *
    m)). set (Z := sum n g). change (g j / Z * exp ((INR i - INR j) * m) <= exp (Imax - Imin) / (1 + exp (- m))).
  assert (C1 : forall k, (k <= i)%nat -> g k = exp (I i k - (INR i - INR k) * m)) by (intros k Hk; unfold g, causal;
    apply Nat.leb_le in Hk; rewrite Hk; ring).
  assert (Ex : 0 < exp (- m)) by apply exp_pos. assert (Ei := exp_pos Imin).
  assert (ZL : exp Imin * (1 + exp (- m)) <= Z).
  { eapply Rle_trans; [|apply (sum_two_le n g i (i - 1)%nat); try lia; intros k _; unfold g, causal; destruct Nat.leb;
      [rewrite Rmult_1_l; left; apply exp_pos|lra]].
    rewrite !C1 by lia. rewrite Rmult_plus_distr_l, Rmult_1_r, <- exp_plus. rewrite minus_INR by lia.
    assert (A := HI i i Hi ltac:(lia)). assert (B := HI i (i - 1)%nat Hi ltac:(lia)).
    apply Rplus_le_compat; apply exp_le; simpl INR; nra. }
  assert (Zp : 0 < exp Imin * (1 + exp (- m))) by (apply Rmult_lt_0_compat; [apply exp_pos|lra]).
  rewrite (C1 j Hj). replace (exp (I i j - (INR i - INR j) * m) / Z * exp ((INR i - INR j) * m)) with (exp (I i j -
    (INR i - INR j) * m) * exp ((INR i - INR j) * m) * / Z) by (unfold Rdiv; ring).
  rewrite <- exp_plus. replace (I i j - (INR i - INR j) * m + (INR i - INR j) * m) with (I i j) by ring.
  replace (exp (Imax - Imin) / (1 + exp (- m))) with (exp Imax * / (exp Imin * (1 + exp (- m)))) by (unfold Rminus;
    rewrite exp_plus, (exp_Ropp Imin); field; split; lra).
  apply Rmult_le_compat; [left; apply exp_pos|left; apply Rinv_0_lt_compat;
    lra|apply exp_le, (HI i j Hi Hj)|now apply Rinv_le_contravar].
Qed.

(** The second of two tokens with equal logits keeps at least c of itself at every depth. *)
Definition kept (m c : R) : Prop := forall t, c <= steps 2 (fun _ => decayed 2 (fun _ _ => 0) m) 0 (S t) 1%nat 1%nat.

Lemma rollout m T : steps 2 (fun _ => decayed 2 (fun _ _ => 0) m) 0 T 1%nat 1%nat = (/ (1 + exp (- m))) ^ T.
Proof.
  assert (E := exp_pos (- m)). induction T as [|T IH]; [reflexivity|]. cbn [steps pow]. unfold mmul, vmat. cbn [sum].
  rewrite IH.
  assert (Z : forall t, steps 2 (fun _ => decayed 2 (fun _ _ => 0) m) 0 t 0%nat 1%nat = 0).
  { induction t as [|t I]; [reflexivity|]. cbn [steps]. unfold mmul, vmat. cbn [sum]. rewrite I.
    unfold decayed, softmax, tilt, causal. cbn [Nat.leb]. unfold Rdiv. ring. }
  rewrite Z. unfold decayed, softmax, tilt, causal. cbn [sum Nat.leb]. simpl INR.
  replace (0 - (1 - 1) * m) with 0 by ring. replace (0 - (1 - 0) * m) with (- m) by ring. rewrite exp_0. field. lra.
Qed.

Theorem alibi_theta_refuted m c : 0 < m -> 0 < c -> ~ kept m c.
Proof.
  intros Hm Hc K. assert (E := exp_pos (- m)). assert (Q : Rabs (/ (1 + exp (- m))) < 1).
  { rewrite Rabs_right by (left; apply Rinv_0_lt_compat; lra). rewrite <- Rinv_1. apply Rinv_lt_contravar; lra. }
  destruct (pow_lt_1_zero _ Q c Hc) as [N HN]. specialize (K N). rewrite rollout in K. specialize (HN (S N) ltac:(lia)).
  assert (A := Rle_abs ((/ (1 + exp (- m))) ^ S N)). lra.
Qed.
