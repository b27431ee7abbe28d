(** Lemmas of the prover: ranks of layers with several heads, biases and a skip connection, what the heads add to
    tokens about their mean, and two rows under the causal mask. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Rankmath Require Import Definitions Functions Norms Softmax Masks own_order Quantities Lemmas_tokens
    Lemmas_attention Lemmas_layer Lemmas_spread Lemmas_reads.
Local Open Scope R_scope.

(** Every row looks at the first token. *)
Theorem lemma_dobrushin_causal n P : row_stochastic n n P -> (0 < n)%nat -> dobrushin n P + epsilon n causal P <= 1.
Proof.
  intros SP Hn. set (e := epsilon n causal P).
  assert (E : forall i, (i < n)%nat -> e <= P i 0%nat) by (intros; apply (epsilon_le n causal P SP); auto;
    unfold causal; cbn; lra).
  assert (T : forall i k, (i < n)%nat -> (k < n)%nat -> tv n (P i) (P k) <= 1 - e).
  { intros i k Hi Hk. unfold tv. assert (S : sum n (fun j => Rabs (P i j - P k j)) <= sum n (fun j => P i j + P k j -
      2 * e * eye 0%nat j)).
    { apply sum_le; intros j Hj. assert (A := proj1 SP i j Hi Hj). assert (B := proj1 SP k j Hk Hj).
      assert (Ei := E i Hi). assert (Ek := E k Hk). unfold eye. destruct j; cbn; apply Rabs_le; lra. }
    rewrite sum_minus, sum_plus, !(proj2 SP), sum_scal in S by assumption.
    rewrite (sum_ext n (eye 0%nat) (fun j => eye 0%nat j * 1)), eye_sum in S by (auto; intros; ring). lra. }
  enough (dobrushin n P <= 1 - e) by lra. apply dobrushin_lub; [|exact T]. eapply Rle_trans; [|apply (T 0%nat 0%nat Hn
    Hn)]. apply Rmult_le_pos; [lra|apply sum_nonneg; intros; apply Rabs_pos].
Qed.

(* ---------- what the heads add ---------- *)
Section Heads.
Variables (n d : nat) (B : block) (X : mat).
Notation H := (nheads (att B)).
Hypothesis Mk : forall h, (h < H)%nat -> proper_mask n (mask (hd (att B) h)).
Hypothesis alone : forall v, tok B v = v.
Hypothesis Hn : (0 < n)%nat.
Let P h := attn n d (dqk (att B)) (hd (att B) h) X.
Let W h := WV (hd (att B) h).
Notation c := (sqrt ((INR n - 1) / 2) * sum H (fun h => spectral d d (W h) * dobrushin n (P h)) * diam n (l2 d) X).
Lemma heads_mu : mu n d (SA n d (att B) X) <= c.
Proof.
  assert (Q := lemma_layer_skip_2 n d {| att := att B; skip := 0; tok := fun v => v |} X Mk (fun v => eq_refl)).
  cbn [skip att] in Q. rewrite Rabs_R0, Rmult_0_l, Rplus_0_l in Q.
  replace (block_map n d _ X) with (SA n d (att B) X) in Q.
  - eapply Rle_trans; [apply lemma_mu_diameter; exact Hn|]. rewrite Rmult_assoc. apply Rmult_le_compat_l;
      [apply sqrt_pos|exact Q].
  - apply functional_extensionality; intro i. apply functional_extensionality; intro b. unfold block_map. cbn. ring.
Qed.
Lemma image_is i a : block_map n d B X i a = skip B * X i a + SA n d (att B) X i a.
Proof. unfold block_map. now rewrite alone. Qed.
Theorem lemma_layer_mu_heads : mu n d (block_map n d B X) <= Rabs (skip B) * mu n d X + c.
Proof.
  rewrite (mu_shift n d _ (fun _ => 0) (fun i a => skip B * X i a + SA n d (att B) X i a) Hn) by (intros;
    rewrite image_is; ring). eapply Rle_trans; [apply (mu_add n d (fun i a => skip B * X i a))|]. rewrite mu_scal.
  apply Rplus_le_compat_l, heads_mu.
Qed.
Theorem lemma_layer_mu_heads_low : Rabs (skip B) * mu n d X <= mu n d (block_map n d B X) + c.
Proof.
  rewrite <- mu_scal. rewrite (mu_shift n d (fun i a => skip B * X i a) (fun _ => 0) (fun i a => block_map n d B X i a +
    -1 * SA n d (att B) X i a) Hn) by (intros; rewrite image_is; ring).
  eapply Rle_trans; [apply mu_add|]. apply Rplus_le_compat_l. rewrite mu_scal, abs_minus_one, Rmult_1_l. apply heads_mu.
Qed.
End Heads.

(* ---------- ranks of sums and products ---------- *)
Lemma rank_ext n d A C : (forall i a, A i a = C i a) -> rank n d A <= rank n d C.
Proof. intros E. apply le_rank. intros k F. apply rank_le. now apply (factors_ext _ _ _ C). Qed.
Lemma factors_add n d A k B C m : factors n d A k ->
  factors n d (fun i a => A i a + sum m (fun c => B i c * C c a)) (m + k).
Proof.
  intros F. induction m as [|m IH]; [apply (factors_ext _ _ _ A); [intros; cbn; ring|exact F]|].
  apply (factors_ext _ _ _ (fun i a => (A i a + sum m (fun c => B i c * C c a)) + B i m * C m a));
    [intros; cbn [sum]; ring|]. exact (factors_plus n d _ (fun i => B i m) (C m) (m + k) IH).
Qed.
Lemma rank_add n d A B : rank n d (fun i a => A i a + B i a) <= rank n d A + rank n d B.
Proof.
  enough (rank n d (fun i a => A i a + B i a) - rank n d A <= rank n d B) by lra. apply le_rank. intros m [C [D E]].
  enough (rank n d (fun i a => A i a + B i a) - INR m <= rank n d A) by lra. apply le_rank. intros k F.
  enough (rank n d (fun i a => A i a + B i a) <= INR (m + k)) by (rewrite plus_INR in *; lra). apply rank_le.
  destruct (factors_add n d A k C D m F) as [U [V G]]. exists U, V. intros i a Hi Ha. rewrite E by assumption.
  now apply G.
Qed.
Lemma rank_left n m d A X : rank n d (mmul m A X) <= rank m d X.
Proof. apply le_rank. intros k F. now apply rank_le, factors_mul. Qed.
Lemma rank_right n m d X W : rank n d (mmul m X W) <= rank n m X.
Proof. apply le_rank. intros k F. now apply rank_le, factors_mul_r. Qed.
Lemma rank_scal n d s X : rank n d (fun i a => s * X i a) <= rank n d X.
Proof.
  apply le_rank. intros k [B [C E]]. apply rank_le. exists (fun i c => s * B i c), C. intros. rewrite E by assumption.
  rewrite <- sum_scal. apply sum_ext; intros; ring.
Qed.
Lemma rank_rows n d (v : vec) : rank n d (fun _ => v) <= 1.
Proof. change 1 with (INR 1). apply rank_le. exists (fun _ _ => 1), (fun _ => v). intros. cbn. ring. Qed.
Lemma rank_zero n d (A : mat) : (forall i a, A i a = 0) -> rank n d A <= 0.
Proof. intros Z. change 0 with (INR 0). apply rank_le. exists A, A. intros. cbn. apply Z. Qed.
Lemma rank_sum n d H (A : nat -> mat) (r : nat -> R) : (forall h, rank n d (A h) <= r h) ->
  rank n d (fun i a => sum H (fun h => A h i a)) <= sum H r.
Proof.
  intros B. induction H as [|H IH]; [now apply rank_zero|]. cbn [sum].
  eapply Rle_trans; [apply (rank_add n d (fun i a => sum H (fun h => A h i a)) (A H))|]. assert (Q := B H). lra.
Qed.

(* ---------- one layer ---------- *)
Section Layer.
Variables (n d : nat) (B : block) (X : mat).
Hypothesis alone : forall v, tok B v = v.
Notation H := (nheads (att B)).
Let P h := attn n d (dqk (att B)) (hd (att B) h) X.
Let W h := WV (hd (att B) h).
Notation Y := (block_map n d B X).
Let heads : mat := fun i b => sum H (fun h => mmul d (mmul n (P h) X) (W h) i b).
Lemma rank_parts : rank n d Y <= rank n d (fun i a => skip B * X i a) + (rank n d heads + rank n d (fun _ => bout (att
  B))).
Proof.
  eapply Rle_trans; [apply (rank_ext n d _ (fun i a => skip B * X i a + (heads i a + bout (att B) a)))|].
  - intros i a. unfold block_map. now rewrite alone.
  - eapply Rle_trans; [apply (rank_add n d (fun i a => skip B * X i a))|]. apply Rplus_le_compat_l.
    apply (rank_add n d heads).
Qed.
Lemma rank_skip : rank n d (fun i a => skip B * X i a) <= rank n d X. Proof. apply rank_scal. Qed.
Lemma rank_no_skip : skip B = 0 -> rank n d (fun i a => skip B * X i a) <= 0.
Proof. intros S. apply rank_zero. intros. rewrite S. ring. Qed.
Lemma rank_bias : rank n d (fun _ => bout (att B)) <= 1. Proof. apply rank_rows. Qed.
Lemma rank_no_bias : (forall a, bout (att B) a = 0) -> rank n d (fun _ => bout (att B)) <= 0.
Proof. intros b. apply rank_zero. intros. apply b. Qed.
Lemma heads_P : rank n d heads <= sum H (fun h => rank n n (P h)).
Proof. apply rank_sum. intro h. eapply Rle_trans; [apply rank_right|apply rank_right]. Qed.
Lemma heads_W : rank n d heads <= sum H (fun h => rank d d (W h)).
Proof. apply rank_sum. intro h. apply rank_left. Qed.
Lemma heads_X : rank n d heads <= INR H * rank n d X.
Proof. rewrite <- sum_const. apply rank_sum. intro h. eapply Rle_trans; [apply rank_right|apply rank_left]. Qed.
Ltac parts := intros; assert (R0 := rank_parts); assert (R1 := rank_skip); assert (R2 := rank_bias);
  try assert (R3 := rank_no_skip ltac:(assumption)); try assert (R4 := rank_no_bias ltac:(assumption));
  assert (R5 := heads_P); assert (R6 := heads_W); assert (R7 := heads_X); lra.
Theorem lemma_rank_skip_attention : rank n d Y <= rank n d X + sum H (fun h => rank n n (P h)) + 1. Proof. parts. Qed.
Theorem lemma_rank_skip_values : rank n d Y <= rank n d X + sum H (fun h => rank d d (W h)) + 1. Proof. parts. Qed.
Theorem lemma_rank_skip_tokens : rank n d Y <= rank n d X + INR H * rank n d X + 1. Proof. parts. Qed.
Section NoSkip.
Hypothesis no_skip : skip B = 0.
Theorem lemma_rank_attention : rank n d Y <= sum H (fun h => rank n n (P h)) + 1. Proof. parts. Qed.
Theorem lemma_rank_values : rank n d Y <= sum H (fun h => rank d d (W h)) + 1. Proof. parts. Qed.
Theorem lemma_rank_tokens : rank n d Y <= INR H * rank n d X + 1. Proof. parts. Qed.
End NoSkip.
Section NoBias.
Hypothesis no_bias : forall a, bout (att B) a = 0.
Theorem lemma_rank_skip_attention_free : rank n d Y <= rank n d X + sum H (fun h => rank n n (P h)). Proof. parts. Qed.
Theorem lemma_rank_skip_values_free : rank n d Y <= rank n d X + sum H (fun h => rank d d (W h)). Proof. parts. Qed.
Theorem lemma_rank_skip_tokens_free : rank n d Y <= rank n d X + INR H * rank n d X. Proof. parts. Qed.
Hypothesis no_skip : skip B = 0.
Theorem lemma_rank_attention_free : rank n d Y <= sum H (fun h => rank n n (P h)). Proof. parts. Qed.
Theorem lemma_rank_values_free : rank n d Y <= sum H (fun h => rank d d (W h)). Proof. parts. Qed.
Theorem lemma_rank_tokens_free : rank n d Y <= INR H * rank n d X. Proof. parts. Qed.
End NoBias.
End Layer.

(** All layers of one head: their biases add up to one row that all tokens have. *)
Theorem lemma_rank_depth n d (B : nat -> block) (X : nat -> mat) L :
  (forall l, (l < L)%nat -> X (S l) = block_map n d (B l) (X l)) -> (forall l v, tok (B l) v = v) ->
  (forall l, skip (B l) = 0) -> (forall l, nheads (att (B l)) = 1%nat) ->
  (forall l, proper_mask n (mask (hd (att (B l)) 0))) ->
  forall t, (t <= L)%nat -> rank n d (X t) <= rank n d (X 0%nat) + 1.
Proof.
  intros Next Alone NoSkip One Mk t Ht.
  assert (Q : exists (A : mat) (c : vec), rank n d A <= rank n d (X 0%nat) /\ forall i a, (i < n)%nat ->
    X t i a = A i a + c a).
  { induction t as [|t IH]; [exists (X 0%nat), (fun _ => 0); split; [lra|intros; ring]|].
    destruct IH as [A [c [R E]]]; [lia|]. set (P := attn n d (dqk (att (B t))) (hd (att (B t)) 0) (X t)).
    set (W := WV (hd (att (B t)) 0)).
    exists (mmul d (mmul n P A) W), (fun b => vmat d c W b + bout (att (B t)) b). split.
    - eapply Rle_trans; [apply rank_right|]. eapply Rle_trans; [apply rank_left|exact R].
    - intros i b Hi. rewrite Next by lia. unfold block_map. rewrite Alone, NoSkip. unfold SA. rewrite One. cbn [sum].
      fold P W. assert (SP := attn_stochastic n d (dqk (att (B t))) _ (X t) (Mk t)). fold P in SP.
      assert (V : forall a, vmat n (P i) (X t) a = mmul n P A i a + c a).
      { intro a. unfold mmul, vmat. rewrite (sum_ext n _ (fun j => P i j * A j a + c a * P i j)) by (intros; rewrite E
          by assumption; ring). rewrite sum_plus, sum_scal, (proj2 SP) by assumption. ring. }
      assert (T : vmat d (vmat n (P i) (X t)) W b = mmul d (mmul n P A) W i b + vmat d c W b); [|rewrite T; ring].
      change (sum d (fun a => vmat n (P i) (X t) a * W a b) = sum d (fun a => mmul n P A i a * W a b) + sum d (fun a =>
        c a * W a b)). rewrite <- sum_plus. apply sum_ext; intros a _. rewrite V. ring. }
  destruct Q as [A [c [R E]]]. eapply Rle_trans; [|apply Rplus_le_compat_r; exact R].
  eapply Rle_trans; [|apply Rplus_le_compat_l, (rank_rows n d c)]. eapply Rle_trans; [|apply (rank_add n d A (fun _ =>
    c))]. apply le_rank. intros k [U [V G]]. apply rank_le. exists U, V. intros i a Hi Ha. rewrite E by exact Hi.
  now apply G.
Qed.
