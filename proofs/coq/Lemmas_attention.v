(** Lemmas of the prover: attention.  P is any row-stochastic n x n matrix; G a mask; where the logits matter P is
    [attn n d dq h X].  Centres are any x: the mean, or one that minimises the composite norm. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms Softmax own_tv Masks centred_form Quantities Lemmas_norms
  Lemmas_tokens.
Local Open Scope R_scope.

Section Stochastic.
Variables (n : nat) (P : mat).
Hypothesis SP : row_stochastic n n P.
Let P0 i j : (i < n)%nat -> (j < n)%nat -> 0 <= P i j. Proof. destruct SP as [H _]. apply H. Qed.
Let P1 i : (i < n)%nat -> sum n (P i) = 1. Proof. destruct SP as [_ H]. apply H. Qed.
Lemma stochastic_abs i : (i < n)%nat -> sum n (fun j => Rabs (P i j)) = 1.
Proof. intros Hi. rewrite <- (P1 i Hi). apply sum_ext; intros j Hj. apply Rabs_right, Rle_ge. now apply P0. Qed.
Lemma stochastic_inf : norminf n n P <= 1.
Proof. apply maxf_lub; [lra|]. intros i Hi. rewrite stochastic_abs by exact Hi. lra. Qed.
Lemma entry_one i j : (i < n)%nat -> (j < n)%nat -> P i j <= 1.
Proof. intros Hi Hj. rewrite <- (P1 i Hi). apply (sum_term_le n (P i) j); [intros; now apply P0|exact Hj]. Qed.

Theorem lemma_attention_max : maxentry n n P <= 1.
Proof. eapply Rle_trans; [apply lemma_token_norms_max_inf|apply stochastic_inf]. Qed.
Theorem lemma_attention_max_low : (0 < n)%nat -> 1 <= INR n * maxentry n n P.
Proof.
  intros Hn. rewrite <- (stochastic_abs 0%nat Hn), <- sum_const. apply sum_le; intros j Hj. now apply entry_le.
Qed.
Theorem lemma_attention_one : norm1 n n P <= INR n * maxentry n n P.
Proof. apply lemma_token_norms_1_max. Qed.
Theorem lemma_attention_one_low : (0 < n)%nat -> 1 <= norm1 n n P.
Proof.
  intros Hn. assert (N1 := one_INR n Hn). apply Rmult_le_reg_l with (INR n); [lra|]. rewrite <- !sum_const.
  rewrite <- (sum_ext n (fun i => sum n (fun j => Rabs (P i j))) (fun _ => 1)) by (intros; now apply stochastic_abs).
  rewrite sum_swap. apply sum_le; intros j Hj. now apply (col_le n n P j).
Qed.
Theorem lemma_attention_spectral : spectral n n P <= sqrt (norm1 n n P).
Proof.
  eapply Rle_trans; [apply lemma_token_norms_2_composite|]. apply sqrt_le_1_alt. assert (H := stochastic_inf).
  assert (Q := norm1_pos n n P). nra.
Qed.
Theorem lemma_attention_spectral_low : (0 < n)%nat -> 1 <= spectral n n P.
Proof.
  intros Hn. rewrite <- spectral_of_flip. assert (H := spectral_vmat n n (flip P) (fun _ => 1)).
  set (s := spectral n n (flip P)) in *.
  rewrite (l2_ext n _ (fun _ => 1)) in H.
  - assert (L : 0 < l2 n (fun _ => 1)); [|nra]. apply sqrt_lt_R0. unfold dot. rewrite sum_const.
    assert (N1 := one_INR n Hn). lra.
  - intros i Hi. unfold vmat, flip. transitivity (sum n (P i)); [apply sum_ext; intros; ring|now apply P1].
Qed.
Theorem lemma_attention_frobenius : frob n n P <= sqrt (INR n * maxentry n n P).
Proof.
  assert (M0 : 0 <= maxentry n n P) by apply maxf_pos. assert (N0 := pos_INR n).
  assert (Q : 0 <= INR n * maxentry n n P) by now apply Rmult_le_pos.
  apply sqrt_le_of; [apply sqrt_pos|]. rewrite sqrt_sqrt, <- frob_square by exact Q.
  replace (frob n n P * frob n n P) with (frob n n P ^ 2) by ring.
  eapply Rle_trans; [apply frob_mixed|]. assert (H := stochastic_inf). assert (I := norminf_pos n n P).
  apply Rmult_le_compat_r; [exact M0|]. nra.
Qed.
Theorem lemma_attention_2F : spectral n n P <= frob n n P.
Proof. apply lemma_token_norms_2_frobenius. Qed.

(** rows that have m_j in common *)
Lemma tv_common i k m : (i < n)%nat -> (k < n)%nat -> (forall j, (j < n)%nat -> m <= P i j /\ m <= P k j) ->
  tv n (P i) (P k) <= 1 - INR n * m.
Proof.
  intros Hi Hk Hm. unfold tv. assert (sum n (fun j => Rabs (P i j - P k j)) <= sum n (fun j => P i j + P k j - 2 * m)).
  { apply sum_le; intros j Hj. destruct (Hm j Hj). apply Rabs_le. lra. }
  rewrite sum_minus, sum_plus, sum_const, !P1 in H by assumption. lra.
Qed.
Theorem lemma_dobrushin_one : dobrushin n P <= 1.
Proof.
  apply dobrushin_lub; [lra|]. intros i k Hi Hk. assert (T := tv_common i k 0 Hi Hk (fun j Hj => conj (P0 i j Hi Hj)
    (P0 k j Hk Hj))). lra.
Qed.
Theorem lemma_dobrushin_epsilon : (0 < n)%nat -> dobrushin n P <= 1 - INR n * epsilon n nomask P.
Proof.
  intros Hn. assert (E : forall i j, (i < n)%nat -> (j < n)%nat -> epsilon n nomask P <= P i j) by (intros;
    apply (epsilon_le n nomask P SP); unfold nomask; auto; lra).
  assert (T : forall i k, (i < n)%nat -> (k < n)%nat -> tv n (P i) (P k) <= 1 - INR n * epsilon n nomask P) by (intros;
    apply tv_common; auto).
  apply dobrushin_lub; [|exact T]. eapply Rle_trans; [|apply (T 0%nat 0%nat Hn Hn)]. apply Rmult_le_pos; [lra|].
  apply sum_nonneg; intros; apply Rabs_pos.
Qed.
Theorem lemma_epsilon_n : (0 < n)%nat -> INR n * epsilon n nomask P <= 1.
Proof. intros Hn. assert (D := lemma_dobrushin_epsilon Hn). assert (Q := dobrushin_nonneg n P). lra. Qed.

Section Mask.
Variable G : mat.
Hypothesis Mk : proper_mask n G.
Hypothesis Hn : (0 < n)%nat.
Lemma epsilon_row i : (i < n)%nat -> epsilon n G P * sum n (fun j => if Rlt_dec 0 (G i j) then 1 else 0) <= 1.
Proof.
  intros Hi. apply Rle_trans with (sum n (P i)); [|rewrite P1 by exact Hi; lra]. rewrite <- sum_scal.
  apply sum_le; intros j Hj. destruct Rlt_dec as [L|L]; [|rewrite Rmult_0_r; now apply P0].
  rewrite Rmult_1_r. now apply (epsilon_le n G P SP).
Qed.
Theorem lemma_epsilon_degree : in_degree n G * epsilon n G P <= 1.
Proof.
  unfold in_degree. destruct (maxf_attained n (fun i => sum n (fun j => if Rlt_dec 0 (G i j) then 1 else 0))) as [E|[i
    [Hi E]]]; rewrite E; [lra|].
  rewrite Rmult_comm. now apply epsilon_row.
Qed.
Lemma degree_pos i : (i < n)%nat -> 1 <= sum n (fun j => if Rlt_dec 0 (G i j) then 1 else 0).
Proof.
  intros Hi. destruct Mk as [_ S]. destruct (S i Hi) as [j [Hj L]].
  eapply Rle_trans; [|apply (sum_term_le n (fun j => if Rlt_dec 0 (G i j) then 1 else 0) j)].
  - cbv beta. destruct Rlt_dec; [lra|contradiction].
  - intros; destruct Rlt_dec; lra.
  - exact Hj.
Qed.
Theorem lemma_degree_one : 1 <= in_degree n G.
Proof. eapply Rle_trans; [apply (degree_pos 0%nat Hn)|]. apply (maxf_ub n (fun i => sum n (fun j => if Rlt_dec 0 (G i
  j) then 1 else 0)) 0%nat Hn). Qed.
Theorem lemma_degree_n : in_degree n G <= INR n.
Proof.
  apply maxf_lub; [apply pos_INR|]. intros i Hi. rewrite <- (Rmult_1_r (INR n)), <- sum_const.
  apply sum_le; intros; destruct Rlt_dec; lra.
Qed.
Theorem lemma_epsilon_one : epsilon n G P <= 1.
Proof. assert (D := lemma_epsilon_degree). assert (O := lemma_degree_one). assert (E := epsilon_nonneg n G P Mk SP Hn).
nra. Qed.
End Mask.

(** -sum p log p <= log n: p log(1/(n p)) <= 1/n - p *)
Lemma ln_le_minus x : 0 < x -> ln x <= x - 1.
Proof.
  intros H. rewrite <- (ln_exp (x - 1)). assert (E := exp_ineq1_le (x - 1)).
  destruct (Rle_lt_or_eq_dec _ _ E) as [L|L]; [left; apply ln_increasing; lra|right; f_equal; lra].
Qed.
Lemma entropy_le_log p : (0 < n)%nat -> (forall j, (j < n)%nat -> 0 <= p j) -> sum n p = 1 -> entropy n p <= ln (INR n).
Proof.
  intros Hn p0 p1. assert (N1 := one_INR n Hn). assert (I : 0 < / INR n) by (apply Rinv_0_lt_compat; lra).
  assert (S : sum n (fun j => - (p j * ln (p j))) <= sum n (fun j => (/ INR n - p j) + ln (INR n) * p j)).
  { apply sum_le; intros j Hj. destruct (p0 j Hj) as [L|E]; [|rewrite <- E; lra].
    assert (Q := ln_le_minus (/ (INR n * p j)) ltac:(apply Rinv_0_lt_compat; nra)).
    rewrite ln_Rinv, ln_mult in Q by nra.
    assert (E : p j * / (INR n * p j) = / INR n) by (field; lra).
    assert (p j * - (ln (INR n) + ln (p j)) <= p j * (/ (INR n * p j) - 1)) by (apply Rmult_le_compat_l; lra).
    rewrite Rmult_minus_distr_l, E in H. lra. }
  rewrite sum_plus, sum_minus, sum_const, sum_scal, p1 in S. rewrite Rinv_r in S by lra.
  unfold entropy. rewrite (sum_ext n _ (fun j => -1 * (p j * ln (p j)))) in S by (intros; ring). rewrite sum_scal in S.
  lra.
Qed.
Theorem lemma_entropy_log : (0 < n)%nat -> least_entropy n P <= ln (INR n).
Proof.
  intros Hn. eapply Rle_trans; [apply (minf_le (n - 1) (fun i => entropy n (P i)) 0%nat); lia|].
  apply entropy_le_log; [exact Hn| |now apply P1]. intros; now apply P0.
Qed.
End Stochastic.

(* ---------- softmax of logits ---------- *)
Lemma osc_range n G E i j k : (i < n)%nat -> (j < n)%nat -> (k < n)%nat -> 0 < G i j -> 0 < G i k ->
  E i j - E i k <= logit_range n G E.
Proof.
  intros Hi Hj Hk Lj Lk. eapply Rle_trans; [apply (osc_ub n (G i) (E i) j k Hj Hk Lj Lk)|].
  apply (maxf_ub n (fun i => osc n (G i) (E i)) i Hi).
Qed.
(** The least weight of a row is 1 over a sum of exponentials. *)
Theorem lemma_epsilon_range n d dq h X : (0 < n)%nat -> proper_mask n (mask h) -> zero_one n (mask h) ->
  1 <= epsilon n (mask h) (attn n d dq h X) * (1 + (in_degree n (mask h) - 1) * exp (logit_range n (mask h) (logit d dq
    h X))).
Proof.
  intros Hn Mk Z. set (G := mask h) in *. set (E := logit d dq h X). set (r := logit_range n G E).
  set (D := in_degree n G).
  assert (SP : row_stochastic n n (attn n d dq h X)) by now apply attn_stochastic.
  assert (D1 : 1 <= D) by (now apply lemma_degree_one).
  assert (e0 := exp_pos r). assert (C0 : 0 <= 1 + (D - 1) * exp r) by nra. rewrite Rmult_comm.
  apply le_scaled_inf; [| |exact C0|].
  - destruct Mk as [_ S]. destruct (S 0%nat Hn) as [j [Hj L]]. now exists (attn n d dq h X 0%nat j), 0%nat, j.
  - intros y [i [j [Hi [Hj [_ ->]]]]]. now apply SP.
  - intros y [i [j [Hi [Hj [L ->]]]]]. assert (W := mask_weights n G i Mk Hi).
    assert (Zp := tilt_Z_pos n (G i) W (E i)).
    unfold attn, softmax, tilt. fold G E. set (S := sum n (fun k => G i k * exp (E i k))) in *.
    assert (Gj : G i j = 1) by (destruct (Z i j Hi Hj); lra).
    rewrite Gj, Rmult_1_l. assert (Ej := exp_pos (E i j)).
    assert (B : S <= exp (E i j) * (1 + (D - 1) * exp r)).
    { set (chi := fun k => if Rlt_dec 0 (G i k) then 1 else 0).
      assert (c1 : sum n chi <= D) by apply (maxf_ub n (fun i => sum n (fun j => if Rlt_dec 0 (G i j) then 1 else 0)) i
        Hi).
      apply Rle_trans with (sum n (fun k => exp (E i j) * exp r * chi k - (if Nat.eqb k j then exp (E i j) * (exp r -
        1) else 0))).
      - apply sum_le; intros k Hk. destruct (Z i k Hi Hk) as [Q|Q]; rewrite Q; unfold chi; destruct Rlt_dec as [M|M];
          rewrite Q in M; try lra.
        + destruct (Nat.eqb_spec k j) as [->|]; [lra|lra].
        + destruct (Nat.eqb_spec k j) as [->|]; [lra|]. assert (O := osc_range n G E i k j Hi Hk Hj ltac:(lra) L).
          fold r in O.
          rewrite Rminus_0_r, Rmult_1_l, Rmult_1_r, <- exp_plus. apply exp_le. lra.
      - rewrite sum_minus, sum_scal, (sum_single n (fun k => if Nat.eqb k j then _ else 0) j Hj);
          [rewrite Nat.eqb_refl|intros k _ Hk; destruct (Nat.eqb_spec k j); [lia|reflexivity]].
        assert (exp (E i j) * exp r * sum n chi <= exp (E i j) * exp r * D) by (apply Rmult_le_compat_l;
          [nra|exact c1]). nra. }
    apply Rmult_le_reg_r with S; [exact Zp|]. rewrite Rmult_1_l.
    replace ((1 + (D - 1) * exp r) * (exp (E i j) / S) * S) with (exp (E i j) * (1 + (D - 1) * exp r)) by (field; lra).
    exact B.
Qed.

(** Rows of logits over one set of keys, with double differences of at most D. *)
Lemma dobrushin_logits n d dq h X D : 0 <= D -> key_padding n (mask h) ->
  (forall i k j l, (i < n)%nat -> (k < n)%nat -> (j < n)%nat -> (l < n)%nat -> 0 < mask h i j -> 0 < mask h i l ->
    (logit d dq h X i j - logit d dq h X k j) - (logit d dq h X i l - logit d dq h X k l) <= D) ->
  dobrushin n (attn n d dq h X) <= tanh (D / 4).
Proof.
  intros D0 [Pr Eq] H. apply dobrushin_lub; [apply tanh_nonneg; lra|]. intros i k Hi Hk.
  replace (tv n (attn n d dq h X i) (attn n d dq h X k)) with (tv n (softmax n (mask h i) (logit d dq h X i)) (softmax
    n (mask h i) (logit d dq h X k))).
  - apply tv_softmax; [now apply mask_weights|]. intros. now apply H.
  - unfold tv, attn. f_equal. apply sum_ext; intros j Hj. f_equal. f_equal. unfold softmax.
    apply tilt_ext; [|reflexivity|exact Hj]. intros l Hl. now apply Eq.
Qed.
Lemma logit_range_nonneg n G E : 0 <= logit_range n G E. Proof. apply maxf_pos. Qed.
Theorem lemma_dobrushin_range n d dq h X : key_padding n (mask h) ->
  dobrushin n (attn n d dq h X) <= tanh (logit_range n (mask h) (logit d dq h X) / 2).
Proof.
  intros K. set (r := logit_range n (mask h) (logit d dq h X)). assert (r0 : 0 <= r) by apply logit_range_nonneg.
  replace (r / 2) with (2 * r / 4) by field.
  apply dobrushin_logits; [lra|exact K|]. intros i k j l Hi Hk Hj Hl Lj Ll. destruct K as [_ Eq].
  assert (A := osc_range n (mask h) (logit d dq h X) i j l Hi Hj Hl Lj Ll). rewrite (Eq i k j Hi Hk Hj) in Lj.
  rewrite (Eq i k l Hi Hk Hl) in Ll.
  assert (B := osc_range n (mask h) (logit d dq h X) k l j Hk Hl Hj Ll Lj). fold r in A, B. lra.
Qed.

Section Forms.
Variables (n d dq : nat) (h : head) (X : mat).
Hypothesis Hq : (0 < dq)%nat.
(** any seminorm, any bound m of the form *)
Lemma dobrushin_form (N : seminorm) m : key_padding n (mask h) -> form_bound d N (WQK dq h) m ->
  dobrushin n (attn n d dq h X) <= tanh (m * diam n N X ^ 2 / (4 * sqrt (INR dq))).
Proof.
  intros K [m0 B]. assert (S := sqrt_dqk_pos dq Hq). set (D := diam n N X). assert (D0 : 0 <= D) by apply diam_nonneg.
  replace (m * D ^ 2 / (4 * sqrt (INR dq))) with (m * D ^ 2 / sqrt (INR dq) / 4) by (field; lra).
  assert (I : 0 <= / sqrt (INR dq)) by (left; now apply Rinv_0_lt_compat).
  apply dobrushin_logits; [apply Rmult_le_pos; [apply Rmult_le_pos; [exact m0|nra]|exact I]|exact K|].
  intros i k j l Hi Hk Hj Hl _ _. rewrite logit_diff2.
  apply Rmult_le_compat_r; [exact I|]. eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply B|].
  replace (m * D ^ 2) with (m * D * D) by ring.
  apply Rmult_le_compat; [apply Rmult_le_pos; [exact m0|apply sn_pos]|apply sn_pos|apply Rmult_le_compat_l;
    [exact m0|now apply diam_ub]|now apply diam_ub].
Qed.
(** no token is further from the mean than the diameter *)
Lemma mean_within (N : seminorm) i : (0 < n)%nat -> (i < n)%nat -> N (centred X (mean n X) i) <= diam n N X.
Proof.
  intros Hn Hi. assert (N1 := one_INR n Hn). assert (I : 0 < / INR n) by (apply Rinv_0_lt_compat; lra).
  rewrite (sn_ext N _ (fun a => sum n (fun k => / INR n * vsub (X i) (X k) a))).
  - eapply Rle_trans; [apply (sn_sum N n (fun _ => / INR n) (fun k => vsub (X i) (X k)))|].
    rewrite sum_scal, (Rabs_right (/ INR n)) by lra.
    apply Rle_trans with (/ INR n * (INR n * diam n N X)); [|right; field; lra]. apply Rmult_le_compat_l; [lra|].
    rewrite <- sum_const. apply sum_le; intros. now apply diam_ub.
  - intro a. unfold centred, vsub, mean. rewrite sum_scal, sum_minus, sum_const. field. lra.
Qed.
Lemma delta_form (N : seminorm) m : (0 < n)%nat -> form_bound d N (WQK dq h) m ->
  delta n d dq h X (mean n X) <= m * diam n N X ^ 2 / sqrt (INR dq).
Proof.
  intros Hn [m0 B]. assert (S := sqrt_dqk_pos dq Hq). set (D := diam n N X). assert (D0 : 0 <= D) by apply diam_nonneg.
  assert (I : 0 <= / sqrt (INR dq)) by (left; now apply Rinv_0_lt_compat).
  assert (C : 0 <= m * D ^ 2 / sqrt (INR dq)) by (apply Rmult_le_pos; [apply Rmult_le_pos; [exact m0|nra]|exact I]).
  apply maxf_lub; [exact C|]. intros i Hi. apply maxf_lub; [exact C|]. intros j Hj. apply maxf_lub; [exact C|].
  intros k Hk.
  set (R := centred X (mean n X)). unfold E_of, Rdiv. rewrite <- Rmult_minus_distr_r.
  apply Rmult_le_compat_r; [exact I|].
  replace (bil d (R i) (WQK dq h) (R j) - bil d (R i) (WQK dq h) (R k)) with (bil d (R i) (WQK dq h) (vsub (X j) (X
    k))).
  - eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply B|]. replace (m * D ^ 2) with (m * D * D) by ring.
    apply Rmult_le_compat; [apply Rmult_le_pos; [exact m0|apply sn_pos]|apply sn_pos|apply Rmult_le_compat_l;
      [exact m0|now apply mean_within]|now apply diam_ub].
  - unfold bil. rewrite <- sum_minus. apply sum_ext; intros a _. rewrite <- sum_minus. apply sum_ext; intros b _.
    unfold R, centred, vsub. ring.
Qed.
Lemma form_bound_1 M : form_bound d (L1 d) M (form_norm d (l1 d) M).
Proof. apply (form_attained d (L1 d)). exists (maxentry d d M). apply form_l1. Qed.
Lemma form_bound_2 M : form_bound d (L2 d) M (form_norm d (l2 d) M).
Proof. apply (form_attained d (L2 d)). exists (frob d d M). apply form_l2. Qed.
Lemma form_bound_inf M : form_bound d (Linf d) M (form_inf d M).
Proof. unfold form_inf. destruct Nat.leb; [apply (form_attained d (Linf d)); exists (sumentries d d M)|];
  apply form_linf. Qed.
Theorem lemma_delta_mean_1 : (0 < n)%nat -> delta n d dq h X (mean n X) <= form_norm d (l1 d) (WQK dq h) * diam n (l1
  d) X ^ 2 / sqrt (INR dq).
Proof. intros Hn. apply (delta_form (L1 d)); [exact Hn|apply form_bound_1]. Qed.
Theorem lemma_delta_mean_2 : (0 < n)%nat -> delta n d dq h X (mean n X) <= form_norm d (l2 d) (WQK dq h) * diam n (l2
  d) X ^ 2 / sqrt (INR dq).
Proof. intros Hn. apply (delta_form (L2 d)); [exact Hn|apply form_bound_2]. Qed.
Theorem lemma_delta_mean_inf : (0 < n)%nat -> delta n d dq h X (mean n X) <= form_inf d (WQK dq h) * diam n (linf d) X
  ^ 2 / sqrt (INR dq).
Proof. intros Hn. apply (delta_form (Linf d)); [exact Hn|apply form_bound_inf]. Qed.
Theorem lemma_dobrushin_tanh_1 : key_padding n (mask h) ->
  dobrushin n (attn n d dq h X) <= tanh (form_norm d (l1 d) (WQK dq h) * diam n (l1 d) X ^ 2 / (4 * sqrt (INR dq))).
Proof. intros K. apply (dobrushin_form (L1 d)); [exact K|apply form_bound_1]. Qed.
Theorem lemma_dobrushin_tanh_2 : key_padding n (mask h) ->
  dobrushin n (attn n d dq h X) <= tanh (form_norm d (l2 d) (WQK dq h) * diam n (l2 d) X ^ 2 / (4 * sqrt (INR dq))).
Proof. intros K. apply (dobrushin_form (L2 d)); [exact K|apply form_bound_2]. Qed.
Theorem lemma_dobrushin_tanh_inf : key_padding n (mask h) ->
  dobrushin n (attn n d dq h X) <= tanh (form_inf d (WQK dq h) * diam n (linf d) X ^ 2 / (4 * sqrt (INR dq))).
Proof. intros K. apply (dobrushin_form (Linf d)); [exact K|apply form_bound_inf]. Qed.

(* ---------- shares about any centre ---------- *)
Variable x : vec.
Lemma shares_prob : (0 < n)%nat -> (forall j, (j < n)%nat -> 0 <= shares n d dq h X x j) /\ sum n (shares n d dq h X x)
  = 1.
Proof.
  intros Hn. assert (W : weights n (fun _ => 1)) by (split; [intros; lra|exists 0%nat; split; [exact Hn|lra]]).
  split; [intros; now apply tilt_nonneg|now apply tilt_sum].
Qed.
Theorem lemma_q_max : (0 < n)%nat -> q_max n d dq h X x <= 1.
Proof.
  intros Hn. destruct (shares_prob Hn) as [S0 S1]. apply maxf_lub; [lra|]. intros j Hj. rewrite <- S1.
  now apply sum_term_le.
Qed.
Theorem lemma_q_max_low : (0 < n)%nat -> 1 <= INR n * q_max n d dq h X x.
Proof. intros Hn. destruct (shares_prob Hn) as [_ S1]. rewrite <- S1, <- sum_const. apply sum_le; intros j Hj.
now apply maxf_ub. Qed.
Theorem lemma_q_min : (0 < n)%nat -> INR n * q_min n d dq h X x <= 1.
Proof. intros Hn. destruct (shares_prob Hn) as [_ S1]. rewrite <- S1, <- sum_const. apply sum_le; intros j Hj.
apply minf_le. lia. Qed.
Theorem lemma_gamma : gamma n d dq h X x ^ 2 <= INR n * q_max n d dq h X x.
Proof.
  set (D := delta n d dq h X x). assert (D0 : 0 <= D) by apply maxf_pos. set (q := q_max n d dq h X x).
  assert (q0 : 0 <= q) by apply maxf_pos.
  set (T := sum n (swing n d dq h X x)). assert (T0 : 0 <= T) by (apply sum_nonneg; intros; apply maxf_pos).
  assert (TD : T <= INR n * D) by (unfold T; rewrite <- sum_const; apply sum_le; intros j Hj;
    apply (maxf_ub n (swing n d dq h X x) j Hj)).
  unfold gamma. fold T D q. destruct D0 as [D0|E].
  - assert (I := Rinv_0_lt_compat D D0). assert (V : 0 <= T * q / D) by (apply Rmult_le_pos;
      [now apply Rmult_le_pos|lra]).
    replace (sqrt (T * q / D) ^ 2) with (sqrt (T * q / D) * sqrt (T * q / D)) by ring. rewrite sqrt_sqrt by exact V.
    apply Rmult_le_reg_r with D; [exact D0|]. replace (T * q / D * D) with (T * q) by (field; lra). nra.
  - rewrite <- E. unfold Rdiv. rewrite Rinv_0, Rmult_0_r, sqrt_0. assert (N0 := pos_INR n). nra.
Qed.
(** With no mask these are the quantities of centred_form.v. *)
Theorem shares_nomask : mask h = nomask -> forall j, shares n d dq h X x j = q_of n d dq h x (centred X x) j.
Proof. intros E j. unfold shares, q_of. now rewrite E. Qed.
End Forms.

(** form_norm(M, 1) is the largest entry, form_norm(M, 2) the spectral norm. *)
Theorem form_norm_1 d M : form_norm d (l1 d) M = maxentry d d M.
Proof.
  apply Rle_antisym; [apply form_le, form_l1|]. apply le_form; [exists (maxentry d d M); apply form_l1|].
  intros m [m0 B].
  apply maxentry_lub; [exact m0|]. intros i a Hi Ha. specialize (B (eye i) (eye a)).
  assert (U : forall k, (k < d)%nat -> l1 d (eye k) = 1).
  { intros k Hk. unfold l1. rewrite (sum_single d _ k Hk); unfold eye; [rewrite Nat.eqb_refl; apply Rabs_R1|].
    intros j _ Hj. destruct (Nat.eqb_spec k j); [lia|apply Rabs_R0]. }
  rewrite !U in B by assumption. rewrite bil_dot in B. unfold dot in B. rewrite (sum_single d _ a Ha) in B.
  - unfold eye at 2 in B. rewrite Nat.eqb_refl, vmat_of_eye in B by exact Hi. rewrite Rmult_1_r in B. lra.
  - intros j _ Hj. unfold eye at 2. destruct (Nat.eqb_spec a j); [lia|ring].
Qed.
Theorem form_norm_2 d M : form_norm d (l2 d) M = spectral d d M.
Proof.
  apply Rle_antisym.
  - apply form_le. split; [apply spectral_nonneg|]. intros u v. rewrite bil_dot. eapply Rle_trans; [apply dot_le_l2|].
    apply Rmult_le_compat_r; [apply l2_nonneg|apply spectral_vmat].
  - apply spectral_le. assert (F := form_attained d (L2 d) M (ex_intro _ _ (form_l2 d M))). cbn [sn L2] in F.
    destruct F as [m0 B]. split; [exact m0|]. intro v.
    specialize (B v (vmat d v M)). rewrite bil_dot, <- l2_square in B. set (t := l2 d (vmat d v M)) in *.
    assert (t0 : 0 <= t) by apply l2_nonneg.
    rewrite Rabs_right in B by nra. destruct t0 as [t0|<-]; [nra|]. apply Rmult_le_pos; [exact m0|apply l2_nonneg].
Qed.
