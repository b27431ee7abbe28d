(** own:alibi-decay, wu2025:4.1, wu2025:4.2, wu2025:4.3, wu2025:4.4, folk:alibi-theta.  What each is stands
    before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms seed_closure Softmax Masks own_position_bias.
Local Open Scope R_scope.

(** wu2025:4.1, and own:position-bias for the causal mask (w = n).
Row-stochastic attention under the causal mask, every entry that may be seen at least eps: after T layers no token
    has more than (1 - (i + 1) eps)^T of its weight on all tokens beyond i together  [position_bias],
      so none on a single one of them  [wu_4_1].  Tokens are counted from 0. *)

Definition beyond (i k : nat) : R := if Nat.ltb i k then 1 else 0.
(** The weight of token m on the tokens beyond i. *)
Definition tail_of (n i : nat) (A : mat) (m : nat) : R := sum n (fun k => A m k * beyond i k).

Lemma sum_first_few n i (e : R) : (i < n)%nat -> sum n (fun j => e * (1 - beyond i j)) = INR (S i) * e.
Proof.
  intros H. replace n with (S i + (n - S i))%nat by lia. rewrite (sum_split (S i)).
  rewrite (sum_ext (S i) _ (fun _ => e)).
  - rewrite (sum_ext (n - S i) _ (fun _ => 0)); [rewrite sum_zero, sum_const; ring|]. intros j _. unfold beyond.
    destruct (Nat.ltb_spec i (S i + j)); [ring|lia].
  - intros j Hj. unfold beyond. destruct (Nat.ltb_spec i j); [lia|ring].
Qed.

Section Causal.
Variables (n : nat) (P : nat -> mat) (eps : R) (i : nat).
Hypothesis St : forall s, row_stochastic n n (P s).
Hypothesis causal_P : forall s a b, (a < n)%nat -> (b < n)%nat -> (a < b)%nat -> P s a b = 0.
Hypothesis least : forall s a b, (a < n)%nat -> (b <= a)%nat -> eps <= P s a b.
Hypothesis i_in : (S i < n)%nat.

Lemma row_beyond s m : (m < n)%nat -> sum n (fun j => P s m j * beyond i j) <= if Nat.ltb i m then 1 - INR (S i) * eps
  else 0.
Proof.
  intros Hm. destruct (St s) as [P0 P1]. destruct (Nat.ltb_spec i m) as [L|L].
  - assert (E : sum n (fun j => P s m j * beyond i j) = 1 - sum n (fun j => P s m j * (1 - beyond i j))).
    { rewrite (sum_ext n _ (fun j => P s m j - P s m j * (1 - beyond i j))) by (intros; ring). rewrite sum_minus.
      change (sum n (fun j => P s m j)) with (sum n (P s m)). now rewrite (P1 m Hm). }
    rewrite E. apply Rplus_le_compat_l, Ropp_le_contravar. rewrite <- (sum_first_few n i eps ltac:(lia)).
    apply sum_le; intros j Hj. unfold beyond.
    destruct (Nat.ltb_spec i j); [lra|]. rewrite Rminus_0_r, !Rmult_1_r. apply least; lia.
  - rewrite (sum_ext n _ (fun _ => 0)); [rewrite sum_zero; lra|]. intros j Hj. unfold beyond.
    destruct (Nat.ltb_spec i j); [rewrite causal_P by lia|]; ring.
Qed.

Lemma rate_nonneg : 0 <= 1 - INR (S i) * eps.
Proof.
  assert (H := row_beyond 0%nat (S i) i_in). destruct (Nat.ltb_spec i (S i)); [|lia]. eapply Rle_trans; [|exact H].
  apply sum_nonneg; intros j Hj.
  apply Rmult_le_pos; [now apply (proj1 (St 0%nat))|]. unfold beyond. destruct Nat.ltb; lra.
Qed.

Theorem position_bias T m : (m < n)%nat -> tail_of n i (steps n P 0 T) m <= (1 - INR (S i) * eps) ^ T.
Proof.
  assert (Q := rate_nonneg). set (q := 1 - INR (S i) * eps) in *.
  assert (G : forall t m, (m < n)%nat -> tail_of n i (steps n P 0 t) m <= q ^ t * beyond i m).
  { intro t. induction t as [|t IH]; intros k Hk.
    - unfold tail_of. cbn [steps]. rewrite (sum_eye n k (beyond i) Hk). simpl. lra.
    - destruct (St t) as [P0 P1]. apply Rle_trans with (sum n (fun j => P t k j * (q ^ t * beyond i j))).
      + unfold tail_of. cbn [steps]. unfold mmul, vmat. simpl (0 + t)%nat.
        rewrite (sum_ext n _ (fun c => sum n (fun j => P t k j * (steps n P 0 t j c * beyond i c)))) by (intros;
          rewrite <- sum_scal_r; apply sum_ext; intros; ring).
        rewrite sum_swap. apply sum_le; intros j Hj. rewrite sum_scal. apply Rmult_le_compat_l; [now apply P0|].
        now apply (IH j).
      + rewrite (sum_ext n _ (fun j => q ^ t * (P t k j * beyond i j))) by (intros; ring). rewrite sum_scal.
        assert (R := row_beyond t k Hk). fold q in R. assert (qt : 0 <= q ^ t) by (now apply pow_le).
        apply Rle_trans with (q ^ t * (if Nat.ltb i k then q else 0)); [now apply Rmult_le_compat_l|]. unfold beyond.
        simpl. destruct (Nat.ltb i k); right; ring. }
  intros Hm. eapply Rle_trans; [apply (G T m Hm)|]. assert (0 <= q ^ T) by (now apply pow_le). unfold beyond.
  destruct Nat.ltb; lra.
Qed.
End Causal.

Theorem wu_4_1 n (P : nat -> mat) eps i T m k : (forall s, row_stochastic n n (P s)) ->
  (forall s a b, (a < n)%nat -> (b < n)%nat -> (a < b)%nat -> P s a b = 0) -> 0 <= eps -> (forall s a b, (a < n)%nat ->
    (b <= a)%nat -> eps <= P s a b) ->
  (i < k)%nat -> (k < n)%nat -> (m < n)%nat -> steps n P 0 (S T) m k <= (1 - INR (S i) * eps) ^ T.
Proof.
  intros St Ca E0 Le Hk Kn Hm. assert (B := position_bias n P eps i St Ca Le ltac:(lia) (S T) m Hm).
  assert (Q := rate_nonneg n P eps i St Ca Le ltac:(lia)). set (q := 1 - INR (S i) * eps) in *.
  assert (Sn : forall t, row_stochastic n n (steps n P 0 t)) by (intro t; induction t as [|t IH];
    [apply eye_stochastic|]; cbn [steps]; apply mmul_stochastic; [apply St|exact IH]).
  assert (T1 := sum_term_le n (fun c => steps n P 0 (S T) m c * beyond i c) k). cbv beta in T1.
  assert (T2 : steps n P 0 (S T) m k * beyond i k <= tail_of n i (steps n P 0 (S T)) m).
  { apply T1; [|exact Kn]. intros c Hc. apply Rmult_le_pos; [now apply (proj1 (Sn (S T)))|]. unfold beyond.
    destruct Nat.ltb; lra. }
  unfold beyond in T2. destruct (Nat.ltb_spec i k); [|lia]. rewrite Rmult_1_r in T2.
  assert (q1 : q <= 1) by (unfold q; assert (0 <= INR (S i) * eps) by (apply Rmult_le_pos; [apply pos_INR|exact E0]);
    lra).
  assert (P0 : 0 <= q ^ T) by (now apply pow_le). change (q ^ S T) with (q * q ^ T) in B.
  apply Rle_trans with (q * q ^ T); [lra|]. nra.
Qed.

(** own:alibi-decay.  Causal attention whose logits decay with the distance,
  A_ij in proportion to e^(I_ij - (i-j) m) for j <= i, with I_min <= I_ij <= I_max:
    A_ij (1 + e^(I_min - I_max) sum_(k <= i, k <> j) e^((k-j) m)) <= 1 for all j <= i  [alibi_decay],
      with equality where I_ij = I_max and I_ik = I_min for the others  [alibi_attained]. *)

(** The attention of token i, and the sum over the keys k <= i other than j. *)
Definition decayed (n : nat) (I : mat) (m : R) (i : nat) : vec := softmax n (causal i) (fun k => I i k - (INR i - INR
  k) * m).
Definition others (n : nat) (m : R) (i j : nat) : R := sum n (fun k => causal i k * (1 - eye j k) * exp ((INR k - INR
  j) * m)).

(** A_ij Z = e^(I_ij - (i-j) m), and Z is that times 1 + sum_(k <> j) e^(I_ik - I_ij + (k-j) m). *)
Lemma decayed_split n I m i j : (i < n)%nat -> (j <= i)%nat ->
  decayed n I m i j * (1 + sum n (fun k => causal i k * (1 - eye j k) * exp (I i k - I i j + (INR k - INR j) * m))) = 1.
Proof.
  intros Hi Hj. assert (Cj : causal i j = 1) by (unfold causal; destruct (Nat.leb_spec j i); [reflexivity|lia]).
  assert (W : weights n (causal i)) by (split; [intros k _; unfold causal; destruct Nat.leb; lra|exists j; split;
    [lia|lra]]).
  unfold decayed, softmax, tilt. set (g := fun k => I i k - (INR i - INR k) * m).
  assert (Z := tilt_Z_pos n (causal i) W g). set (S := sum n _) in Z |- *. cbv beta in S.
  assert (E : S = exp (g j) * (1 + sum n (fun k => causal i k * (1 - eye j k) * exp (I i k - I i j + (INR k - INR j) *
    m)))).
  { unfold S. rewrite Rmult_plus_distr_l, Rmult_1_r, <- sum_scal.
    transitivity (sum n (fun k => eye j k * exp (g j)) + sum n (fun k => exp (g j) * (causal i k * (1 - eye j k) * exp
      (I i k - I i j + (INR k - INR j) * m)))); [|now rewrite (sum_eye n j (fun _ => exp (g j))) by lia].
    rewrite <- sum_plus. apply sum_ext; intros k Hk. unfold eye.
    destruct (Nat.eqb_spec j k) as [<-|_]; [rewrite Cj; ring|].
    replace (exp (g k)) with (exp (g j) * exp (I i k - I i j + (INR k - INR j) * m)) by (rewrite <- exp_plus; f_equal;
      unfold g; ring). ring. }
  change (causal i j * exp (g j) / S * (1 + sum n (fun k => causal i k * (1 - eye j k) * exp (I i k - I i j + (INR k -
    INR j) * m))) = 1).
  rewrite Cj. assert (P := exp_pos (g j)). apply Rmult_eq_reg_r with S; [|lra]. rewrite Rmult_1_l. rewrite E at 3.
  field. lra.
Qed.

Theorem alibi_decay n (I : mat) m Imin Imax i j : (i < n)%nat -> (j <= i)%nat -> (forall a b, (a < n)%nat ->
  (b <= a)%nat -> Imin <= I a b <= Imax) ->
  decayed n I m i j * (1 + exp (Imin - Imax) * others n m i j) <= 1.
Proof.
  intros Hi Hj B. eapply Rle_trans; [|right; apply (decayed_split n I m i j Hi Hj)]. apply Rmult_le_compat_l.
  - apply tilt_nonneg; [|lia]. split; [intros k _; unfold causal; destruct Nat.leb; lra|exists j; split;
      [lia|unfold causal; destruct (Nat.leb_spec j i); [lra|lia]]].
  - apply Rplus_le_compat_l. unfold others. rewrite <- sum_scal. apply sum_le; intros k Hk. unfold causal, eye.
    destruct (Nat.leb_spec k i); [|lra]. destruct (Nat.eqb j k); [lra|].
    rewrite Rminus_0_r, !Rmult_1_l, <- exp_plus. apply exp_le. assert (B1 := B i j Hi Hj).
    assert (B2 := B i k Hi ltac:(lia)). lra.
Qed.

Theorem alibi_attained n (I : mat) m Imin Imax i j : (i < n)%nat -> (j <= i)%nat -> I i j = Imax ->
  (forall k, (k <= i)%nat -> k <> j -> I i k = Imin) ->
  decayed n I m i j * (1 + exp (Imin - Imax) * others n m i j) = 1.
Proof.
  intros Hi Hj E1 E2. etransitivity; [|apply (decayed_split n I m i j Hi Hj)]. do 2 f_equal. unfold others.
  rewrite <- sum_scal. apply sum_ext; intros k Hk. unfold causal, eye.
  destruct (Nat.leb_spec k i); [|ring]. destruct (Nat.eqb_spec j k) as [_|N]; [ring|].
  rewrite E1, (E2 k) by (lia || congruence). rewrite exp_plus. ring.
Qed.

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
