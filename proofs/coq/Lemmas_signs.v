(** Lemmas of the prover: absolute values, exp and log as each other's inverse, and what is positive. *)
Require Import Reals Lra Lia.
From Rankmath Require Import Definitions Functions Norms Sums Softmax Masks Quantities Lemmas_functions
  Lemmas_attention Lemmas_entropy Lemmas_shares.
Local Open Scope R_scope.

Theorem lemma_abs_id x : 0 <= x -> Rabs x <= x. Proof. intros. rewrite Rabs_right; lra. Qed.
Theorem lemma_abs_neg x : x <= 0 -> Rabs x <= - x. Proof. intros. rewrite Rabs_left1; lra. Qed.
Theorem lemma_abs_minus x : - x <= Rabs x. Proof. rewrite <- Rabs_Ropp. apply Rle_abs. Qed.
Theorem lemma_exp_under x y : 0 < y -> x <= ln y -> exp x <= y.
Proof. intros Y H. rewrite <- (exp_ln y Y). now apply lemma_exp_grows. Qed.
Theorem lemma_under_exp x y : 0 < x -> ln x <= y -> x <= exp y.
Proof. intros X H. rewrite <- (exp_ln x X) at 1. now apply lemma_exp_grows. Qed.
Theorem lemma_log_under x y : 0 < x -> x <= exp y -> ln x <= y.
Proof. intros X H. rewrite <- (ln_exp y). now apply lemma_log_grows. Qed.
Theorem lemma_under_log x y : 0 < y -> exp x <= y -> x <= ln y.
Proof. intros Y H. rewrite <- (ln_exp x). apply lemma_log_grows; [apply exp_pos|exact H]. Qed.

Theorem lemma_log_product x y : 0 < x -> 0 < y -> x * y <= 1 -> ln x + ln y <= 0.
Proof. intros X Y H. rewrite <- ln_mult, <- ln_1 by assumption. assert (0 < x * y) by now apply Rmult_lt_0_compat.
destruct H as [H| ->]; [left; now apply ln_increasing|lra]. Qed.
Theorem lemma_log_product_low x y : 0 < x -> 0 < y -> 1 <= x * y -> 0 <= ln x + ln y.
Proof. intros X Y H. rewrite <- ln_mult, <- ln_1 by assumption.
destruct H as [H|<-]; [left; apply ln_increasing; lra|lra]. Qed.
Theorem lemma_log_e x : 0 < x -> exp 1 * ln x <= x.
Proof. intros X. rewrite <- (exp_ln x X) at 2. apply lemma_exp_e. Qed.

Section Stochastic.
Variables (n : nat) (P : mat).
Hypothesis SP : row_stochastic n n P.
Hypothesis Hn : (0 < n)%nat.
Theorem lemma_attention_inf : norminf n n P = 1.
Proof.
  apply Rle_antisym; [now apply stochastic_inf|]. rewrite <- (stochastic_abs n P SP 0%nat Hn).
  apply (maxf_ub n (fun i => sum n (fun a => Rabs (P i a))) 0%nat Hn).
Qed.
Theorem lemma_attention_max_positive : 0 < maxentry n n P.
Proof. assert (M := lemma_attention_max_low n P SP Hn). assert (N := lt_0_INR n Hn).
destruct (Rle_or_lt (maxentry n n P) 0); [nra|assumption]. Qed.
Theorem lemma_attention_one_positive : 0 < norm1 n n P.
Proof. assert (M := lemma_attention_one_low n P SP Hn). lra. Qed.
Theorem lemma_attention_spectral_positive : 0 < spectral n n P.
Proof. assert (M := lemma_attention_spectral_low n P SP Hn). lra. Qed.
Theorem lemma_attention_frobenius_positive : 0 < frob n n P.
Proof. assert (M := lemma_attention_frobenius_low n P SP Hn). lra. Qed.
End Stochastic.

(** Where the first token sees itself alone, as under a causal mask or a causal window. *)
Section First.
Variables (n d dq : nat) (h : head) (X : mat).
Hypothesis Hn : (0 < n)%nat.
Hypothesis Mk : proper_mask n (mask h).
Hypothesis Z : zero_one n (mask h).
Hypothesis C : forall j, (0 < j < n)%nat -> ~ 0 < mask h 0%nat j.
Let P := attn n d dq h X.
Lemma first_off j : (0 < j < n)%nat -> P 0%nat j = 0.
Proof. intros Hj. apply attn_off; [exact Z|lia|lia|now apply C]. Qed.
Lemma first_on : P 0%nat 0%nat = 1.
Proof.
  assert (S := proj2 (attn_stochastic n d dq h X Mk) 0%nat Hn). fold P in S. rewrite <- S. symmetry.
  apply sum_single; [exact Hn|]. intros j Hj N. apply first_off. lia.
Qed.
Theorem lemma_entropy_causal : least_entropy n P <= 0.
Proof.
  eapply Rle_trans; [apply (minf_le (n - 1) (fun i => entropy n (P i)) 0%nat); lia|]. unfold entropy.
  rewrite (sum_ext n _ (fun _ => 0)), sum_const; [lra|]. intros [|j] Hj; [rewrite first_on, ln_1;
    ring|rewrite first_off by lia; ring].
Qed.
Theorem lemma_attention_max_causal : 1 <= maxentry n n P.
Proof. rewrite <- first_on. eapply Rle_trans; [apply Rle_abs|]. now apply entry_le. Qed.
Theorem lemma_diagonal_first : diagonal n P 0 = 1.
Proof. unfold diagonal. destruct (Nat.ltb_spec 0 n); [apply first_on|lia]. Qed.
End First.
