(** Lemmas of the prover: attention further: entropy, the range of logits, the largest and the least weight.
    P is any row-stochastic matrix where the logits do not matter; [mask h = nomask] is "mask == none", and a mask has
    entries 0 and 1 ([zero_one]) where it matters. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms Softmax Masks centred_form Quantities Lemmas_norms
  Lemmas_tokens Lemmas_attention.
Local Open Scope R_scope.

(** all but one term of a sum *)
Lemma sum_rest m (f : vec) c j : (j < m)%nat -> (forall k, (k < m)%nat -> k <> j -> c <= f k) ->
  f j + (INR m - 1) * c <= sum m f.
Proof.
  intros Hj H. replace (f j + (INR m - 1) * c) with (sum m (fun k => c + (if Nat.eqb k j then f j - c else 0))).
  - apply sum_le; intros k Hk. destruct (Nat.eqb_spec k j) as [->|N]; [lra|]. specialize (H k Hk N). lra.
  - rewrite sum_plus, sum_const, (sum_single m (fun k => if Nat.eqb k j then f j - c else 0) j Hj);
      [rewrite Nat.eqb_refl; ring|].
    intros k _ Hk. destruct (Nat.eqb_spec k j); [lia|reflexivity].
Qed.

Section Stochastic.
Variables (n : nat) (P : mat).
Hypothesis SP : row_stochastic n n P.
Hypothesis Hn : (0 < n)%nat.
Let P0 i j : (i < n)%nat -> (j < n)%nat -> 0 <= P i j. Proof. destruct SP as [H _]. apply H. Qed.
Let P1 i : (i < n)%nat -> sum n (P i) = 1. Proof. destruct SP as [_ H]. apply H. Qed.
Let N1 : 1 <= INR n := one_INR n Hn.
Lemma le_max i j : (i < n)%nat -> (j < n)%nat -> P i j <= maxentry n n P.
Proof. intros Hi Hj. eapply Rle_trans; [apply Rle_abs|]. now apply entry_le. Qed.
Lemma max_pos : 0 < maxentry n n P.
Proof. assert (M := lemma_attention_max_low n P SP Hn). destruct (Rle_or_lt (maxentry n n P) 0) as [L|L];
  [nra|exact L]. Qed.
Lemma max_is : exists i j, (i < n)%nat /\ (j < n)%nat /\ maxentry n n P = P i j.
Proof.
  assert (M := max_pos). unfold maxentry in *. destruct (maxf_attained n (fun i => maxf n (fun a => Rabs (P i a)))) as
    [E|[i [Hi E]]]; [lra|].
  destruct (maxf_attained n (fun a => Rabs (P i a))) as [F|[j [Hj F]]]; [lra|].
  exists i, j. split; [exact Hi|split; [exact Hj|]]. rewrite E, F. apply Rabs_right, Rle_ge. now apply P0.
Qed.

(** an average of -log P_ij is at least the least of them *)
Lemma entropy_from_max i c : (i < n)%nat -> 0 < c -> (forall j, (j < n)%nat -> P i j <= c) -> - ln c <= entropy n (P i).
Proof.
  intros Hi c0 H. unfold entropy. apply Ropp_le_contravar. apply Rle_trans with (sum n (fun j => P i j * ln c));
    [|rewrite sum_scal_r, P1 by exact Hi; lra].
  apply sum_le; intros j Hj. destruct (P0 i j Hi Hj) as [L|<-]; [|lra]. apply Rmult_le_compat_l; [lra|].
  destruct (H j Hj) as [K| ->]; [left; now apply ln_increasing|lra].
Qed.
Theorem lemma_entropy_max : 0 <= least_entropy n P + ln (maxentry n n P).
Proof.
  assert (- ln (maxentry n n P) <= least_entropy n P); [|lra]. apply minf_ge. intros i Hi.
  apply entropy_from_max; [lia|apply max_pos|]. intros; apply le_max; lia.
Qed.
(** sum_j -log p_j >= n log n, and each weight is at least epsilon *)
Theorem lemma_entropy_epsilon : INR n * epsilon n nomask P * ln (INR n) <= least_entropy n P.
Proof.
  set (e := epsilon n nomask P). assert (E : forall i j, (i < n)%nat -> (j < n)%nat -> e <= P i j) by (intros;
    apply (epsilon_le n nomask P SP); unfold nomask; auto; lra).
  assert (e0 : 0 <= e) by (apply (epsilon_nonneg n nomask P); auto; apply nomask_padding; exact Hn).
  assert (L1 : forall i j, (i < n)%nat -> (j < n)%nat -> ln (P i j) <= 0).
  { intros i j Hi Hj. destruct (P0 i j Hi Hj) as [K|<-].
    - assert (U := entry_one n P SP i j Hi Hj). rewrite <- ln_1.
      destruct U as [U| ->]; [left; now apply ln_increasing|lra].
    - unfold ln. destruct (Rlt_dec 0 0) as [F|F]; [exfalso; lra|lra]. }
  apply minf_ge. intros i Hi'. assert (Hi : (i < n)%nat) by lia. unfold entropy. destruct e0 as [e0|<-].
  - assert (S : sum n (fun j => ln (P i j)) <= - (INR n * ln (INR n))).
    { apply Rle_trans with (sum n (fun j => (INR n * P i j - 1) + - ln (INR n))).
      - apply sum_le; intros j Hj. assert (p0 : 0 < P i j) by (specialize (E i j Hi Hj); lra).
        assert (Q := ln_le_minus (INR n * P i j) ltac:(nra)). rewrite ln_mult in Q by lra. lra.
      - rewrite sum_plus, sum_minus, sum_scal, !sum_const, P1 by exact Hi. lra. }
    assert (T : sum n (fun j => P i j * ln (P i j)) <= e * sum n (fun j => ln (P i j))).
    { rewrite <- sum_scal. apply sum_le; intros j Hj. specialize (E i j Hi Hj). specialize (L1 i j Hi Hj). nra. }
    nra.
  - rewrite Rmult_0_r, Rmult_0_l. apply Ropp_0_ge_le_contravar. apply Rle_ge. rewrite <- (sum_zero n).
    apply sum_le; intros j Hj.
    specialize (L1 i j Hi Hj). assert (p0 := P0 i j Hi Hj). nra.
Qed.
Theorem lemma_epsilon_max G : proper_mask n G -> epsilon n G P <= maxentry n n P.
Proof.
  intros Mk. destruct Mk as [M0 S]. destruct (S 0%nat Hn) as [j [Hj L]].
  eapply Rle_trans; [apply (epsilon_le n G P SP 0 j); auto|]. now apply le_max.
Qed.
Let eps_all : forall i j, (i < n)%nat -> (j < n)%nat -> epsilon n nomask P <= P i j.
Proof. intros. apply (epsilon_le n nomask P SP); unfold nomask; auto; lra. Qed.
Theorem lemma_max_epsilon : maxentry n n P + (INR n - 1) * epsilon n nomask P <= 1.
Proof. destruct max_is as [i [j [Hi [Hj ->]]]]. apply Rle_trans with (sum n (P i)); [|rewrite P1 by exact Hi; lra].
apply sum_rest; [exact Hj|]. intros; now apply eps_all. Qed.
Theorem lemma_attention_one_epsilon : norm1 n n P + INR n * (INR n - 1) * epsilon n nomask P <= INR n.
Proof.
  set (e := epsilon n nomask P). assert (norm1 n n P <= INR n - INR n * (INR n - 1) * e); [|lra].
  assert (C : forall a, (a < n)%nat -> sum n (fun i => Rabs (P i a)) <= INR n - INR n * (INR n - 1) * e).
  { intros a Ha. assert (S := sum_rest n (fun c => sum n (fun i => Rabs (P i c))) (INR n * e) a Ha).
    rewrite sum_swap in S.
    rewrite (sum_ext n (fun j => sum n (fun i => Rabs (P j i))) (fun _ => 1)), sum_const in S by (intros;
      now apply (stochastic_abs n P SP)).
    assert (T := S). cbv beta in T. enough (forall k, (k < n)%nat -> k <> a ->
      INR n * e <= sum n (fun i => Rabs (P i k))) as K by (specialize (T K); lra).
    intros k Hk _. rewrite <- sum_const. apply sum_le; intros i Hi.
    eapply Rle_trans; [apply (eps_all i k Hi Hk)|apply Rle_abs]. }
  apply maxf_lub; [|exact C]. eapply Rle_trans; [|apply (C 0%nat Hn)]. apply sum_nonneg; intros; apply Rabs_pos.
Qed.
Theorem lemma_attention_frobenius_low : 1 <= frob n n P.
Proof. eapply Rle_trans; [apply (lemma_attention_spectral_low n P SP Hn)|apply lemma_token_norms_2_frobenius]. Qed.
Theorem lemma_attention_F2 : frob n n P <= sqrt (INR n) * spectral n n P. Proof. apply lemma_token_norms_frobenius_n_2.
Qed.
Theorem lemma_attention_2max : maxentry n n P <= spectral n n P. Proof. apply lemma_token_norms_max_2. Qed.
Theorem lemma_attention_max_one : maxentry n n P <= norm1 n n P. Proof. apply lemma_token_norms_max_1. Qed.
Theorem lemma_attention_one_spectral : norm1 n n P <= sqrt (INR n) * spectral n n P. Proof.
apply lemma_token_norms_1_2. Qed.
Theorem lemma_dobrushin_max : dobrushin n P <= INR n * maxentry n n P / 2.
Proof.
  assert (M := max_pos). apply dobrushin_lub; [apply Rmult_le_pos; [nra|lra]|]. intros i k Hi Hk. unfold tv.
  rewrite Rmult_comm. apply Rmult_le_compat_r; [lra|].
  rewrite <- sum_const. apply sum_le; intros j Hj. assert (A := P0 i j Hi Hj). assert (B := P0 k j Hk Hj).
  assert (C := le_max i j Hi Hj). assert (D := le_max k j Hk Hj). apply Rabs_le. lra.
Qed.
End Stochastic.

(* ---------- rows of weights with support in a mask ---------- *)
Lemma entropy_support n p (chi : vec) : (forall j, (j < n)%nat -> 0 <= p j) -> sum n p = 1 -> (forall j, (j < n)%nat ->
  chi j = 1 \/ (chi j = 0 /\ p j = 0)) ->
  entropy n p <= ln (sum n chi).
Proof.
  intros p0 p1 Hc. assert (D1 : 1 <= sum n chi).
  { rewrite <- p1. apply sum_le; intros j Hj. destruct (Hc j Hj) as [->|[-> ->]]; [|lra]. rewrite <- p1.
    now apply sum_term_le. }
  set (D := sum n chi) in *. assert (I : 0 < / D) by (apply Rinv_0_lt_compat; lra).
  assert (S : sum n (fun j => -1 * (p j * ln (p j))) <= sum n (fun j => (/ D * chi j - p j) + ln D * p j)).
  { apply sum_le; intros j Hj. destruct (p0 j Hj) as [L|E]; [|rewrite <- E; destruct (Hc j Hj) as [->|[-> _]]; lra].
    destruct (Hc j Hj) as [->|[_ Z]]; [|lra].
    assert (Q := ln_le_minus (/ (D * p j)) ltac:(apply Rinv_0_lt_compat; nra)). rewrite ln_Rinv, ln_mult in Q by nra.
    assert (E : p j * / (D * p j) = / D) by (field; lra). assert (p j * - (ln D + ln (p j)) <= p j * (/ (D * p j) - 1))
      by (apply Rmult_le_compat_l; lra).
    rewrite Rmult_minus_distr_l, E in H. lra. }
  rewrite sum_plus, sum_minus, !sum_scal, p1 in S. fold D in S. rewrite Rinv_l in S by lra. unfold entropy. lra.
Qed.
Theorem lemma_entropy_degree n d dq h X : (0 < n)%nat -> proper_mask n (mask h) ->
  least_entropy n (attn n d dq h X) <= ln (in_degree n (mask h)).
Proof.
  intros Hn Mk. destruct (attn_stochastic n d dq h X Mk) as [S0 S1].
  set (chi := fun i j => if Rlt_dec 0 (mask h i j) then 1 else 0).
  eapply Rle_trans; [apply (minf_le (n - 1) (fun i => entropy n (attn n d dq h X i)) 0%nat); lia|].
  eapply Rle_trans; [apply (entropy_support n _ (chi 0%nat)); [intros; now apply S0|now apply S1|]|].
  - intros j Hj. unfold chi. destruct Rlt_dec as [L|L]; [now left|right; split; [reflexivity|]].
    unfold attn, softmax, tilt.
    replace (mask h 0%nat j) with 0 by (apply Rle_antisym; [apply Mk; auto|lra]). unfold Rdiv. ring.
  - assert (K : 1 <= sum n (chi 0%nat)) by apply (degree_pos n (mask h) Mk 0%nat Hn).
    assert (U : sum n (chi 0%nat) <= in_degree n (mask h)) by apply (maxf_ub n (fun i => sum n (chi i)) 0%nat Hn).
    destruct U as [U| ->]; [left; apply ln_increasing; lra|lra].
Qed.

(* ---------- the range of logits ---------- *)
Section Range.
Variables (n d dq : nat) (h : head) (X : mat).
Hypothesis Hn : (0 < n)%nat.
Hypothesis Mk : proper_mask n (mask h).
Hypothesis Z : zero_one n (mask h).
Notation P := (attn n d dq h X).
Notation E := (logit d dq h X).
Notation R0 := (logit_range n (mask h) (logit d dq h X)).
Let SP : row_stochastic n n P. Proof. now apply attn_stochastic. Qed.
Let N1 : 1 <= INR n := one_INR n Hn.
(** P_ij = P_ik e^(E_ij - E_ik) on edges *)
Lemma attn_ratio i j k : (i < n)%nat -> (j < n)%nat -> (k < n)%nat -> 0 < mask h i j -> 0 < mask h i k ->
  P i j = P i k * exp (E i j - E i k).
Proof.
  intros Hi Hj Hk Lj Lk. assert (Zp := tilt_Z_pos n (mask h i) (mask_weights n (mask h) i Mk Hi) (E i)).
  unfold attn, softmax, tilt.
  replace (mask h i j) with 1 by (destruct (Z i j Hi Hj); lra).
  replace (mask h i k) with 1 by (destruct (Z i k Hi Hk); lra).
  replace (exp (E i j)) with (exp (E i k) * exp (E i j - E i k)) by (rewrite <- exp_plus; f_equal; ring). field. lra.
Qed.
Lemma attn_range i j k : (i < n)%nat -> (j < n)%nat -> (k < n)%nat -> 0 < mask h i j -> 0 < mask h i k ->
  P i j <= P i k * exp R0.
Proof.
  intros Hi Hj Hk Lj Lk. rewrite (attn_ratio i j k) by assumption. destruct SP as [S0 _].
  apply Rmult_le_compat_l; [now apply S0|]. apply exp_le. now apply osc_range.
Qed.
Lemma attn_off i j : (i < n)%nat -> (j < n)%nat -> ~ 0 < mask h i j -> P i j = 0.
Proof. intros Hi Hj L. unfold attn, softmax, tilt. destruct (Z i j Hi Hj) as [->|]; [unfold Rdiv; ring|lra]. Qed.
Theorem lemma_epsilon_exp : epsilon n (mask h) P * exp R0 <= 1.
Proof.
  assert (O := lemma_epsilon_one n P SP (mask h) Mk Hn). unfold logit_range.
  destruct (maxf_attained n (fun i => osc n (mask h i) (E i))) as [Q|[i [Hi Q]]]; rewrite Q; [rewrite exp_0; lra|].
  unfold osc. set (g := fun j k => if Rlt_dec 0 (mask h i j) then if Rlt_dec 0 (mask h i k) then E i j - E i k else 0
    else 0).
  destruct (maxf_attained n (fun j => maxf n (g j))) as [F|[j [Hj F]]]; unfold g in F at 1; rewrite F; [rewrite exp_0;
    lra|].
  destruct (maxf_attained n (g j)) as [K|[k [Hk K]]]; rewrite K; [rewrite exp_0; lra|]. unfold g.
  destruct Rlt_dec as [Lj|]; [|rewrite exp_0; lra]. destruct Rlt_dec as [Lk|]; [|rewrite exp_0; lra].
  apply Rle_trans with (P i k * exp (E i j - E i k)); [apply Rmult_le_compat_r; [left;
    apply exp_pos|now apply (epsilon_le n (mask h) P SP)]|].
  rewrite <- attn_ratio by assumption. now apply (entry_one n P SP).
Qed.
(** logits of a row differ by x_i W (x_j - x_k) *)
Theorem lemma_range_longest : (0 < dq)%nat -> (forall c, bQ h c = 0) ->
  R0 <= spectral d d (WQK dq h) * longest n d X * diam n (l2 d) X / sqrt (INR dq).
Proof.
  intros Hq Hb. assert (S := sqrt_dqk_pos dq Hq). assert (I : 0 < / sqrt (INR dq)) by now apply Rinv_0_lt_compat.
  assert (s0 := spectral_nonneg d d (WQK dq h)).
  assert (l0 := longest_nonneg n d X). assert (D0 := diam_nonneg n (l2 d) X).
  assert (C : 0 <= spectral d d (WQK dq h) * longest n d X * diam n (l2 d) X / sqrt (INR dq)) by (apply Rmult_le_pos;
    [apply Rmult_le_pos; [now apply Rmult_le_pos|exact D0]|lra]).
  apply maxf_lub; [exact C|]. intros i Hi. apply osc_lub; [exact C|]. intros j k Hj Hk _ _. unfold logit, Rdiv.
  rewrite <- Rmult_minus_distr_r. apply Rmult_le_compat_r; [lra|].
  rewrite <- sum_minus. rewrite (sum_ext dq _ (fun c => vmat d (X i) (WQ h) c * vmat d (vsub (X j) (X k)) (WK h) c)) by
    (intros; rewrite Hb, <- vmat_sub; ring).
  rewrite bil_fact, bil_dot. eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply dot_le_l2|].
  apply Rmult_le_compat; [apply l2_nonneg|apply l2_nonneg| |now apply (diam_ub n (l2 d))].
  eapply Rle_trans; [apply spectral_vmat|]. apply Rmult_le_compat_l; [exact s0|now apply row_longest].
Qed.
End Range.

Section NoMask.
Variables (n d dq : nat) (h : head) (X : mat).
Hypothesis Hn : (0 < n)%nat.
Hypothesis full : mask h = nomask.
Notation P := (attn n d dq h X).
Notation E := (logit d dq h X).
Notation R0 := (logit_range n (mask h) (logit d dq h X)).
Let Mk : proper_mask n (mask h). Proof. rewrite full. apply nomask_padding. exact Hn. Qed.
Let Z : zero_one n (mask h). Proof. rewrite full. intros i j _ _. now right. Qed.
Let SP : row_stochastic n n P. Proof. now apply attn_stochastic. Qed.
Let N1 : 1 <= INR n := one_INR n Hn.
Let on i j : 0 < mask h i j. Proof. rewrite full. unfold nomask. lra. Qed.
Theorem lemma_max_range : INR n * maxentry n n P <= exp R0.
Proof.
  destruct (max_is n P SP Hn) as [i [j [Hi [Hj ->]]]]. destruct SP as [_ S1].
  rewrite <- (Rmult_1_l (exp R0)), <- (S1 i Hi), <- sum_const, <- sum_scal_r. apply sum_le; intros k Hk.
  now apply attn_range.
Qed.
Theorem lemma_max_exp : maxentry n n P * (exp R0 + INR n - 1) <= exp R0.
Proof.
  destruct (max_is n P SP Hn) as [i [j [Hi [Hj ->]]]]. destruct SP as [S0 S1]. assert (e := exp_pos R0).
  set (p := P i j).
  assert (T : p + (INR n - 1) * (p * / exp R0) <= sum n (P i)).
  { apply (sum_rest n (P i) (p * / exp R0) j); [exact Hj|]. intros k Hk _.
    apply Rmult_le_reg_r with (exp R0); [exact e|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    now apply attn_range. }
  rewrite S1 in T by exact Hi. apply (Rmult_le_compat_r (exp R0)) in T; [|lra].
  replace ((p + (INR n - 1) * (p * / exp R0)) * exp R0) with (p * (exp R0 + INR n - 1)) in T by (field; lra). lra.
Qed.
Theorem lemma_entropy_range : ln (INR n) <= least_entropy n P + R0.
Proof.
  assert (e := exp_pos R0). assert (ln (INR n) - R0 <= least_entropy n P); [|lra]. apply minf_ge. intros i Hi'.
  assert (Hi : (i < n)%nat) by lia.
  replace (ln (INR n) - R0) with (- ln (exp R0 * / INR n)) by (rewrite ln_mult, ln_exp,
    ln_Rinv by (try apply Rinv_0_lt_compat; lra); ring).
  apply (entropy_from_max n P SP i); [exact Hi|apply Rmult_lt_0_compat; [exact e|apply Rinv_0_lt_compat; lra]|].
  intros j Hj. assert (M := lemma_max_range). assert (U := le_max n P i j Hi Hj).
  apply Rmult_le_reg_l with (INR n); [lra|]. replace (INR n * (exp R0 * / INR n)) with (exp R0) by (field; lra).
  eapply Rle_trans; [|exact M]. apply Rmult_le_compat_l; lra.
Qed.
End NoMask.

(* ---------- Hoeffding: log n - entropy <= range^2/8 ---------- *)
Lemma expsum_derive n (a l : vec) t : is_derive (fun t => sum n (fun j => a j * exp (t * l j))) t (sum n (fun j => a j
  * l j * exp (t * l j))).
Proof.
  induction n as [|m IH]; simpl; [apply (is_derive_const (K := R_AbsRing) (V := R_NormedModule))|].
  apply (is_derive_plus (K := R_AbsRing) (V := R_NormedModule) (fun t => sum m (fun j => a j * exp (t * l j))) (fun t
    => a m * exp (t * l m)) t); [exact IH|]. auto_derive; [exact I|ring].
Qed.
(** A variance is at most a quarter of the squared range. *)
Lemma variance_range n (p l : vec) R : (0 < n)%nat -> (forall j, (j < n)%nat -> 0 <= p j) -> sum n p = 1 ->
  (forall j k, (j < n)%nat -> (k < n)%nat -> l j - l k <= R) ->
  sum n (fun j => p j * (l j * l j)) - sum n (fun j => p j * l j) * sum n (fun j => p j * l j) <= R ^ 2 / 4.
Proof.
  intros Hn p0 p1 H. destruct (extremes n l Hn) as [a [b [Ha [Hb Ex]]]]. set (m := sum n (fun j => p j * l j)).
  set (u := l a). set (v := l b).
  assert (S : sum n (fun j => p j * (l j * l j)) <= (u + v) * m - u * v).
  { apply Rle_trans with (sum n (fun j => (u + v) * (p j * l j) - u * v * p j)); [|rewrite sum_minus, !sum_scal, p1;
      fold m; lra].
    apply sum_le; intros j Hj. specialize (Ex j Hj). specialize (p0 j Hj). fold u v in Ex.
    assert (0 <= p j * ((u - l j) * (l j - v))) by (apply Rmult_le_pos; [exact p0|apply Rmult_le_pos; lra]). lra. }
  assert (W : u - v <= R) by (now apply H). assert (V : v <= u) by (destruct (Ex a Ha); unfold u, v; lra).
  assert (Q := Rle_0_sqr (2 * m - u - v)). unfold Rsqr in Q. nra.
Qed.
Lemma hoeffding n (l : vec) R : (0 < n)%nat -> (forall j k, (j < n)%nat -> (k < n)%nat -> l j - l k <= R) ->
  ln (INR n) <= entropy n (softmax n (fun _ => 1) l) + R ^ 2 / 8.
Proof.
  intros Hn H. assert (N1 := one_INR n Hn). set (Z0 := fun t => sum n (fun j => 1 * exp (t * l j))).
  set (Z1 := fun t => sum n (fun j => l j * exp (t * l j))). set (Z2 := fun t => sum n (fun j => l j * l j * exp (t * l
    j))).
  assert (W : weights n (fun _ => 1)) by (split; [intros; lra|exists 0%nat; split; [exact Hn|lra]]).
  assert (P : forall t, 0 < Z0 t) by (intro t; apply (tilt_Z_pos n (fun _ => 1) W (fun j => t * l j))).
  assert (D0 : forall t, is_derive Z0 t (Z1 t)).
  { intro t. unfold Z1. rewrite (sum_ext n (fun j => l j * exp (t * l j)) (fun j => 1 * l j * exp (t * l j))) by
      (intros; ring). apply (expsum_derive n (fun _ => 1) l t). }
  assert (D1 : forall t, is_derive Z1 t (Z2 t)) by (intro t; apply (expsum_derive n l l t)).
  set (g := fun t => t * (Z1 t / Z0 t) - ln (Z0 t) - R ^ 2 / 8 * (t * t)).
  set (g' := fun t => t * ((Z2 t / Z0 t - Z1 t / Z0 t * (Z1 t / Z0 t)) - R ^ 2 / 4)).
  assert (G : forall t, is_derive g t (g' t)).
  { intro t. unfold g, g'. assert (P' := P t). auto_derive.
    - repeat split; try (exists (Z1 t); apply D0); try (exists (Z2 t); apply D1); lra.
    - replace (Derive (fun x => Z0 x) t) with (Z1 t) by (symmetry; apply is_derive_unique, D0).
      replace (Derive (fun x => Z1 x) t) with (Z2 t) by (symmetry; apply is_derive_unique, D1). field. lra. }
  assert (K : g 1 <= g 0).
  { destruct (MVT_cor2 g g' 0 1 Rlt_0_1) as [c [C1 C2]]; [intros; apply is_derive_Reals; apply G|].
    enough (g' c <= 0) by lra. unfold g'.
    assert (V := variance_range n (fun j => exp (c * l j) / Z0 c) l R Hn). cbv beta in V. assert (P' := P c).
    assert (I := Rinv_0_lt_compat _ P').
    rewrite (sum_ext n (fun j => exp (c * l j) / Z0 c * (l j * l j)) (fun j => l j * l j * exp (c * l j) * / Z0 c)) in
      V by (intros; unfold Rdiv; ring).
    rewrite (sum_ext n (fun j => exp (c * l j) / Z0 c * l j) (fun j => l j * exp (c * l j) * / Z0 c)) in V by (intros;
      unfold Rdiv; ring). rewrite !sum_scal_r in V. fold (Z2 c) (Z1 c) in V. unfold Rdiv in *.
    enough (Z2 c * / Z0 c - Z1 c * / Z0 c * (Z1 c * / Z0 c) <= R ^ 2 * / 4) by nra. apply V; [| |exact H].
    - intros j _. apply Rmult_le_pos; [left; apply exp_pos|lra].
    - rewrite sum_scal_r. rewrite <- (Rinv_r (Z0 c)) by lra. f_equal. unfold Z0. apply sum_ext; intros; ring. }
  assert (E0 : g 0 = - ln (INR n)).
  { unfold g. replace (Z0 0) with (INR n); [ring|]. unfold Z0.
    rewrite (sum_ext n _ (fun _ => 1)); [rewrite sum_const; ring|]. intros. rewrite Rmult_0_l, exp_0. ring. }
  assert (E1 : entropy n (softmax n (fun _ => 1) l) = ln (Z0 1) - Z1 1 / Z0 1).
  { unfold entropy, softmax, tilt. set (S := sum n (fun k => 1 * exp (l k))).
    assert (ES : S = Z0 1) by (unfold S, Z0; apply sum_ext; intros; now rewrite Rmult_1_l with (r := l j)). rewrite ES.
    assert (P' := P 1). assert (I := Rinv_0_lt_compat _ P').
    rewrite (sum_ext n _ (fun j => / Z0 1 * (l j * exp (1 * l j)) - / Z0 1 * ln (Z0 1) * (1 * exp (1 * l j)))).
    - rewrite sum_minus, (sum_scal n (/ Z0 1)), (sum_scal n (/ Z0 1 * ln (Z0 1))). fold (Z1 1).
      change (sum n (fun j => 1 * exp (1 * l j))) with (Z0 1). field. lra.
    - intros j _. unfold Rdiv. rewrite !Rmult_1_l. rewrite ln_mult by (try apply exp_pos; exact I).
      rewrite ln_exp, ln_Rinv by exact P'. ring. }
  unfold g in K at 1. rewrite E0 in K. rewrite E1. lra.
Qed.
Theorem lemma_entropy_hoeffding n d dq h X : (0 < n)%nat -> mask h = nomask ->
  ln (INR n) <= least_entropy n (attn n d dq h X) + logit_range n (mask h) (logit d dq h X) ^ 2 / 8.
Proof.
  intros Hn F. set (r := logit_range n (mask h) (logit d dq h X)).
  assert (ln (INR n) - r ^ 2 / 8 <= least_entropy n (attn n d dq h X)); [|lra]. apply minf_ge. intros i Hi.
  unfold attn. rewrite F. change (nomask i) with (fun _ : nat => 1). assert (Q := hoeffding n (logit d dq h X i) r Hn).
  enough (ln (INR n) <= entropy n (softmax n (fun _ => 1) (logit d dq h X i)) + r ^ 2 / 8) by lra.
  apply Q. intros j k Hj Hk. apply osc_range; try lia; rewrite F; unfold nomask; lra.
Qed.
