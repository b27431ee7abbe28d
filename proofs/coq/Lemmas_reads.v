(** Lemmas of the prover: a LayerNorm in front of attention, the first two tokens under the causal mask,
    ranks, and entropy against the least attention. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Rankmath Require Import Definitions Functions Norms Softmax Masks own_order Quantities Lemmas_norms
    Lemmas_tokens Lemmas_attention Lemmas_layer Lemmas_entropy Lemmas_spread.
Local Open Scope R_scope.

(* ---------- the least attention ---------- *)
Section Least.
Variables (n d dq : nat) (h : head) (X : mat).
Hypothesis Hn : (0 < n)%nat.
Hypothesis Mk : proper_mask n (mask h).
Hypothesis Z : zero_one n (mask h).
Notation P := (attn n d dq h X).
Notation e := (epsilon n (mask h) (attn n d dq h X)).
Notation R0 := (logit_range n (mask h) (logit d dq h X)).
Let SP : row_stochastic n n P. Proof. now apply attn_stochastic. Qed.
Theorem lemma_epsilon_low_degree : 1 <= in_degree n (mask h) * e * exp R0.
Proof.
  assert (A := lemma_epsilon_range n d dq h X Hn Mk Z). assert (E0 := epsilon_nonneg n (mask h) P Mk SP Hn).
  assert (B : 1 <= exp R0) by (rewrite <- exp_0; apply exp_le; apply logit_range_nonneg).
  replace (in_degree n (mask h) * e * exp R0) with (e * (in_degree n (mask h) * exp R0)) by ring.
  eapply Rle_trans; [exact A|]. apply Rmult_le_compat_l; [exact E0|]. lra.
Qed.
Lemma least_pos : 0 < e.
Proof.
  assert (A := lemma_epsilon_low_degree). destruct (epsilon_nonneg n (mask h) P Mk SP Hn) as [|E]; [assumption|].
  rewrite <- E in A. lra.
Qed.
(** an average of -log P_ij is at most the largest of them *)
Theorem lemma_entropy_least : least_entropy n P + ln e <= 0.
Proof.
  assert (E0 := least_pos). assert (S0 := proj1 SP). assert (S1 := proj2 SP).
  assert (A : entropy n (P 0%nat) <= - ln e).
  { unfold entropy. enough (Q : sum n (fun j => P 0%nat j * ln e) <= sum n (fun j => P 0%nat j * ln (P 0%nat j))) by
      (rewrite sum_scal_r, (S1 0%nat Hn) in Q; lra).
    apply sum_le; intros j Hj. destruct (Rlt_dec 0 (mask h 0%nat j)) as [L|L].
    - apply Rmult_le_compat_l; [now apply S0|]. destruct (epsilon_le n (mask h) P SP 0%nat j Hn Hj L) as [Q|Q]; [left;
        now apply ln_increasing|rewrite Q at 1; lra].
    - rewrite (attn_off n d dq h X Z) by assumption. lra. }
  assert (B := minf_le (n - 1) (fun i => entropy n (P i)) 0%nat (Nat.le_0_l _)). unfold least_entropy. lra.
Qed.
End Least.

(* ---------- the first two tokens, under masks that are causal ---------- *)
Lemma two_terms n f : (1 < n)%nat -> (forall j, (1 < j)%nat -> f j = 0) -> sum n f = f 0%nat + f 1%nat.
Proof.
  intros T Z. destruct n as [|[|m]]; [lia|lia|]. clear T. induction m as [|m IH]; [cbn; ring|].
  change (sum (S (S (S m))) f) with (sum (S (S m)) f + f (S (S m))). rewrite IH, (Z (S (S m))) by lia. ring.
Qed.
Section First.
Variables (n d : nat) (B : block) (X : mat).
Notation Ly := (att B).
Notation H := (nheads (att B)).
Notation P h := (attn n d (dqk (att B)) (hd (att B) h) X).
Notation W h := (WV (hd (att B) h)).
Notation X' := (block_map n d B X).
Hypothesis Mk : forall h, (h < H)%nat -> proper_mask n (mask (hd Ly h)).
Hypothesis later : forall h i j, (h < H)%nat -> (i < j)%nat -> mask (hd Ly h) i j = 0.
Hypothesis alone : forall v, tok B v = v.
Hypothesis two : (1 < n)%nat.
Lemma later_off h i j : (h < H)%nat -> (i < j)%nat -> P h i j = 0.
Proof. intros Hh L. unfold attn, softmax, tilt. rewrite later by assumption. unfold Rdiv. ring. Qed.
Lemma first_self h : (h < H)%nat -> P h 0%nat 0%nat = 1.
Proof.
  intros Hh. rewrite <- (proj2 (attn_stochastic n d (dqk Ly) (hd Ly h) X (Mk h Hh)) 0%nat) by lia. symmetry.
  apply (sum_single n (P h 0%nat) 0%nat); [lia|]. intros j _ N. apply later_off; [exact Hh|lia].
Qed.
Lemma gap_is b : vsub (X' 1%nat) (X' 0%nat) b = skip B * vsub (X 1%nat) (X 0%nat) b +
  sum H (fun h => P h 1%nat 1%nat * vmat d (vsub (X 1%nat) (X 0%nat)) (W h) b).
Proof.
  unfold vsub at 1, block_map. rewrite !alone. unfold SA.
  match goal with |- _ + (?A + ?c) - (_ + (?A' + ?c)) = _ => replace (skip B * X 1%nat b + (A + c) - (skip B * X 0%nat
    b + (A' + c))) with (skip B * vsub (X 1%nat) (X 0%nat) b + (A - A')) by (unfold vsub; ring) end.
  f_equal. rewrite <- sum_minus. apply sum_ext; intros h Hh. rewrite vmat_sub. rewrite (vmat_ext d _ (fun a =>
    P h 1%nat 1%nat * vsub (X 1%nat) (X 0%nat) a)).
  - unfold vmat. rewrite <- sum_scal. apply sum_ext; intros; ring.
  - intros a _. unfold vsub, vmat. rewrite !(two_terms n) by (assumption || (intros;
    rewrite later_off by (assumption || lia); ring)).
    assert (S := proj2 (attn_stochastic n d (dqk Ly) (hd Ly h) X (Mk h Hh)) 1%nat ltac:(lia)).
    rewrite (two_terms n) in S by (assumption || (intros; apply later_off; assumption)).
      rewrite first_self, (later_off h 0 1) by (assumption ||
      lia). replace (P h 1%nat 0%nat) with (1 - P h 1%nat 1%nat) by lra. ring.
Qed.
Lemma share_self h : (h < H)%nat -> 0 <= P h 1%nat 1%nat <= 1.
Proof.
  intros Hh. assert (SP := attn_stochastic n d (dqk Ly) (hd Ly h) X (Mk h Hh)). split; [apply SP; lia|].
  now apply (entry_one n _ SP); lia.
Qed.
End First.
Theorem lemma_layer_first n d B X : (forall h, (h < nheads (att B))%nat -> proper_mask n (mask (hd (att B) h))) ->
  (forall h i j, (h < nheads (att B))%nat -> (i < j)%nat -> mask (hd (att B) h) i j = 0) -> (forall v, tok B v = v) ->
  first_gap n d (block_map n d B X) <= Rabs (skip B) * first_gap n d X + sum (nheads (att B)) (fun h => spectral d d
    (WV (hd (att B) h))) * first_gap n d X.
Proof.
  intros Mk L A. unfold first_gap. destruct (Nat.ltb_spec 1 n) as [T|T]; [|rewrite !Rmult_0_r; lra].
  set (g := vsub (X 1%nat) (X 0%nat)). set (p := fun h => attn n d (dqk (att B)) (hd (att B) h) X 1%nat 1%nat).
  rewrite (l2_ext d _ (fun b => skip B * g b + sum (nheads (att B)) (fun h => p h * vmat d g (WV (hd (att B) h)) b)))
    by (intros; now apply gap_is).
  eapply Rle_trans; [apply (sn_add (L2 d) (fun b => skip B * g b))|]. rewrite sn_scal. apply Rplus_le_compat_l.
  eapply Rle_trans; [apply (sn_sum1 (L2 d))|]. rewrite <- sum_scal_r. apply sum_le; intros h Hh.
  rewrite sn_scal. destruct (share_self n d B X Mk T h Hh) as [p0 p1]. fold (p h) in p0, p1. rewrite Rabs_right by lra.
  assert (S := spectral_vmat d d (WV (hd (att B) h)) g). assert (Q := l2_nonneg d (vmat d g (WV (hd (att B) h)))).
  change (L2 d (vmat d g (WV (hd (att B) h)))) with (l2 d (vmat d g (WV (hd (att B) h)))). nra.
Qed.

(* ---------- ranks ---------- *)
Lemma factors_plus n d A u v k : factors n d A k -> factors n d (fun i a => A i a + u i * v a) (S k).
Proof.
  intros [B [C E]]. exists (fun i c => if Nat.ltb c k then B i c else u i), (fun c a => if Nat.ltb c k then C c a else
    v a). intros i a Hi Ha. cbn [sum]. rewrite Nat.ltb_irrefl, E by assumption. f_equal. apply sum_ext; intros c Hc.
  apply Nat.ltb_lt in Hc. now rewrite Hc.
Qed.
Lemma rank_positive n d A i a : (i < n)%nat -> (a < d)%nat -> A i a <> 0 -> 1 <= rank n d A.
Proof.
  intros Hi Ha N. apply le_rank. intros [|k] [B [C E]]; [contradiction N; now rewrite E|]. rewrite S_INR.
  assert (Q := pos_INR k). lra.
Qed.
Lemma some_entry n d A : 0 < maxentry n d A -> exists i a, (i < n)%nat /\ (a < d)%nat /\ A i a <> 0.
Proof.
  unfold maxentry. intros M. destruct (maxf_attained n (fun i => maxf d (fun a => Rabs (A i a)))) as [E|[i [Hi E]]];
    rewrite E in M; [lra|]. destruct (maxf_attained d (fun a => Rabs (A i a))) as [F|[a [Ha F]]]; rewrite F in M;
      [lra|].
  exists i, a. repeat split; auto. intros Q. rewrite Q, Rabs_R0 in M. lra.
Qed.
Theorem lemma_attention_rank n P : row_stochastic n n P -> (0 < n)%nat -> 1 <= rank n n P.
Proof.
  intros SP Hn. destruct (some_entry n n P) as [i [a [Hi [Ha Q]]]]; [|now apply (rank_positive n n P i a)].
  assert (M := lemma_attention_max_low n P SP Hn). assert (N1 := one_INR n Hn). nra.
Qed.
Theorem lemma_rank_one n d X : 0 < spectral n d X -> 1 <= rank n d X.
Proof.
  intros S. destruct (some_entry n d X) as [i [a [Hi [Ha Q]]]]; [|now apply (rank_positive n d X i a)].
  assert (F := lemma_token_norms_2_frobenius n d X). assert (G := lemma_token_norms_frobenius_max n d X).
  destruct (maxf_pos n (fun i => maxf d (fun a => Rabs (X i a)))) as [|E]; [assumption|].
  unfold maxentry in G. rewrite <- E, Rmult_0_r in G. lra.
Qed.

(* ---------- attention reads tokens Y of length 1 ---------- *)
Section Front.
Variables (n d : nat) (Ly : layer) (s : R) (X Y : mat).
Notation H := (nheads Ly).
Notation P h := (attn n d (dqk Ly) (hd Ly h) Y).
Notation W h := (WV (hd Ly h)).
Hypothesis Hn : (0 < n)%nat.
Hypothesis Mk : forall h, (h < H)%nat -> proper_mask n (mask (hd Ly h)).
Hypothesis unit : forall i, (i < n)%nat -> l2 d (Y i) = 1.
Definition front : mat := fun i b => s * X i b + SA n d Ly Y i b.
Let B0 : block := {| att := Ly; skip := 0; tok := fun v => v |}.
Let D2 : diam n (l2 d) Y <= 2.
Proof. apply diam_lub; [lra|]. intros i k Hi Hk. eapply Rle_trans; [apply (sn_diff (L2 d))|].
change (l2 d (Y i) + l2 d (Y k) <= 2). rewrite !unit by assumption. lra. Qed.
Let c := sum H (fun h => spectral d d (W h) * dobrushin n (P h)).
Let c0 : 0 <= c. Proof. apply sum_nonneg; intros. apply Rmult_le_pos; [apply spectral_nonneg|apply dobrushin_nonneg].
Qed.
Lemma heads_diam : diam n (l2 d) (SA n d Ly Y) <= 2 * c.
Proof.
  assert (Q := lemma_layer_skip_2 n d B0 Y Mk (fun v => eq_refl)). cbn [skip att B0] in Q. fold c in Q.
  replace (block_map n d B0 Y) with (SA n d Ly Y) in Q; [rewrite Rabs_R0 in Q; nra|].
  apply functional_extensionality; intro i. apply functional_extensionality; intro b. unfold block_map. cbn. ring.
Qed.
Lemma front_pair i k b : vsub (front i) (front k) b = s * vsub (X i) (X k) b + vsub (SA n d Ly Y i) (SA n d Ly Y k) b.
Proof. unfold front, vsub. ring. Qed.
Theorem lemma_front_diameter : diam n (l2 d) front <= Rabs s * diam n (l2 d) X + 2 * c.
Proof.
  assert (D := diam_nonneg n (l2 d) X). assert (A := Rabs_pos s). apply diam_lub; [nra|]. intros i k Hi Hk.
  rewrite (l2_ext d _ _ (fun b _ => front_pair i k b)). eapply Rle_trans; [apply (sn_add (L2 d) (fun b => s * vsub (X
    i) (X k) b))|]. rewrite sn_scal. apply Rplus_le_compat.
  - apply Rmult_le_compat_l; [exact A|now apply (diam_ub n (l2 d))].
  - eapply Rle_trans; [now apply (diam_ub n (l2 d) (SA n d Ly Y) i k)|apply heads_diam].
Qed.
Theorem lemma_front_diameter_low : Rabs s * diam n (l2 d) X <= diam n (l2 d) front + 2 * c.
Proof.
  assert (D := diam_nonneg n (l2 d) front). assert (T : forall i k, (i < n)%nat -> (k < n)%nat ->
    Rabs s * l2 d (vsub (X i) (X k)) <= diam n (l2 d) front + 2 * c).
  { intros i k Hi Hk. change (Rabs s * L2 d (vsub (X i) (X k)) <= diam n (l2 d) front + 2 * c). rewrite <- sn_scal.
    rewrite (sn_ext (L2 d) _ (fun b => vsub (front i) (front k) b + -1 * vsub (SA n d Ly Y i) (SA n d Ly Y k) b)) by
      (intro b; rewrite front_pair; ring).
    eapply Rle_trans; [apply (sn_add (L2 d) (vsub (front i) (front k)))|]. rewrite sn_scal, abs_minus_one, Rmult_1_l.
    apply Rplus_le_compat; [now apply (diam_ub n (l2 d))|]. eapply Rle_trans; [now apply (diam_ub n (l2 d) (SA n d Ly
      Y) i k)|apply heads_diam]. }
  destruct (Rabs_pos s) as [L|<-]; [|nra]. apply Rmult_le_reg_l with (/ Rabs s); [now apply Rinv_0_lt_compat|].
  rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra. apply diam_lub.
  - apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat|lra].
  - intros i k Hi Hk. apply Rmult_le_reg_l with (Rabs s); [exact L|].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. now apply T.
Qed.
(** without its bias what the heads make is no longer than the norms of the values together *)
Let Ly0 : layer := {| nheads := H; dqk := dqk Ly; hd := hd Ly; bout := fun _ => 0 |}.
Let v := sum H (fun h => spectral d d (W h)).
Lemma heads_longest : longest n d (SA n d Ly0 Y) <= v.
Proof.
  assert (Q := lemma_layer_longest n d {| att := Ly0; skip := 0; tok := fun v => v |} Y Mk (fun v => eq_refl) (fun _ =>
    eq_refl)). cbn [skip att Ly0 nheads hd] in Q. fold v in Q.
  replace (longest n d Y) with 1 in Q.
  - replace (block_map n d {| att := Ly0; skip := 0; tok := fun v => v |} Y) with (SA n d Ly0 Y) in Q; [rewrite Rabs_R0
      in Q; lra|].
    apply functional_extensionality; intro i. apply functional_extensionality; intro b. unfold block_map. cbn. ring.
  - apply Rle_antisym; [rewrite <- (unit 0%nat Hn); now apply row_longest|apply longest_lub; [lra|]]. intros.
    rewrite unit by assumption. lra.
Qed.
Lemma without_bias i b : SA n d Ly Y i b = SA n d Ly0 Y i b + bout Ly b. Proof. unfold SA. cbn. ring. Qed.
Theorem lemma_front_longest : (forall a, bout Ly a = 0) -> longest n d front <= Rabs s * longest n d X + v.
Proof.
  intros b0. assert (A := Rabs_pos s). assert (L0 := longest_nonneg n d X). assert (Q := heads_longest).
  assert (L1 := longest_nonneg n d (SA n d Ly0 Y)). apply longest_lub; [nra|]. intros i Hi.
  rewrite (l2_ext d _ (fun b => s * X i b + SA n d Ly0 Y i b)) by (intros b _; unfold front; rewrite without_bias, b0;
    ring). eapply Rle_trans; [apply (sn_add (L2 d) (fun b => s * X i b))|]. rewrite sn_scal. apply Rplus_le_compat.
  - apply Rmult_le_compat_l; [exact A|now apply row_longest].
  - eapply Rle_trans; [apply (row_longest n d (SA n d Ly0 Y) i Hi)|exact Q].
Qed.
Lemma heads_mu : mu n d (SA n d Ly Y) <= sqrt (INR n) * v.
Proof.
  rewrite (mu_shift n d (SA n d Ly Y) (bout Ly) (SA n d Ly0 Y) Hn) by (intros; unfold centred, vsub;
    rewrite without_bias; ring).
  eapply Rle_trans; [now apply lemma_mu_longest|]. apply Rmult_le_compat_l; [apply sqrt_pos|apply heads_longest].
Qed.
Theorem lemma_front_mu : mu n d front <= Rabs s * mu n d X + sqrt (INR n) * v.
Proof. eapply Rle_trans; [apply (mu_add n d (fun i a => s * X i a))|]. rewrite mu_scal. apply Rplus_le_compat_l.
apply heads_mu. Qed.
Theorem lemma_front_mu_low : Rabs s * mu n d X <= mu n d front + sqrt (INR n) * v.
Proof.
  rewrite <- mu_scal. rewrite (mu_shift n d (fun i a => s * X i a) (fun _ => 0) (fun i a => front i a + -1 * SA n d Ly
    Y i a) Hn) by (intros; unfold front, centred, vsub; ring).
  eapply Rle_trans; [apply mu_add|]. apply Rplus_le_compat_l. rewrite mu_scal, abs_minus_one, Rmult_1_l. apply heads_mu.
Qed.
End Front.

(* ---------- equal tokens ---------- *)
Section Equal.
Variables (n d dq : nat) (h : head) (x : vec).
Notation P := (attn n d dq h (fun _ => x)).
Lemma equal_row i k : (forall j, (j < n)%nat -> mask h i j = mask h k j) -> forall j, (j < n)%nat -> P i j = P k j.
Proof.
  intros E j Hj. unfold attn, softmax, tilt. rewrite (E j Hj). change (logit d dq h (fun _ => x) i) with (logit d dq h
    (fun _ => x) k). f_equal. apply sum_ext; intros m Hm. now rewrite E.
Qed.
Theorem lemma_consensus_dobrushin : key_padding n (mask h) -> dobrushin n P <= 0.
Proof.
  intros [_ E]. apply dobrushin_lub; [lra|]. intros i k Hi Hk. unfold tv. rewrite (sum_ext n _ (fun _ => 0)), sum_zero;
    [lra|]. intros j Hj. rewrite (equal_row i k) by (auto; intros; now apply E). rewrite Rminus_eq_0, Rabs_R0.
  reflexivity.
Qed.
Theorem lemma_consensus_max : (0 < n)%nat -> mask h = nomask -> INR n * maxentry n n P <= 1.
Proof.
  intros Hn M. assert (N1 := one_INR n Hn). assert (A : maxentry n n P <= / INR n);
    [|apply (Rmult_le_compat_l (INR n)) in
    A; [rewrite Rinv_r in A; lra|lra]].
  apply maxf_lub; [left; apply Rinv_0_lt_compat; lra|]. intros i Hi. apply maxf_lub; [left; apply Rinv_0_lt_compat;
    lra|]. intros j Hj. assert (E : P i j = / INR n).
  { unfold attn, softmax, tilt. rewrite M. unfold nomask. set (c := logit d dq h (fun _ => x) i j).
    rewrite (sum_ext n _ (fun _ => 1 * exp c)) by reflexivity. rewrite sum_const. assert (Q := exp_pos c). field. lra. }
  rewrite E, Rabs_right; [lra|left; apply Rinv_0_lt_compat; lra].
Qed.
End Equal.
