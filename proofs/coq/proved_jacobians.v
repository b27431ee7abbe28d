(** Registered statements about the derivative of a layer, as Statements.v prints them; that it exists is proved too. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require own_order own_lipschitz castin2024 yudin2025 proved_derivatives.
From Rankmath Require Import Definitions Functions Norms Softmax Language LanguageFacts NetworkFacts Statements.
Local Open Scope R_scope.

Section Jacobian.
Variable N : network.
Hypothesis PN : proper N.
Hypothesis H1 : heads N = 1%nat.
Hypothesis KB : key_bias_none N.
Hypothesis MN : mask_none N.
Hypothesis S0 : skip_of N = 0.
Let n := tokens N.
Let d := dim N.
Let Ly := layer_of N 0.

Lemma mask_is : mask (hd Ly 0) = nomask.
Proof. apply functional_extensionality; intro i. apply functional_extensionality; intro j. apply MN. Qed.
Lemma no_query_bias c : bQ (hd Ly 0) c = 0.
Proof. cbn. rewrite KB. ring. Qed.
Lemma qk_bound u v : Rabs (bil d u (WQK (dqk Ly) (hd Ly 0)) v) <= scale N * norm_2 (W_QK N 0 0) * l2 d u * l2 d v.
Proof.
  assert (S := scale_pos N PN). change (dqk Ly) with (dim N). unfold d, Ly.
  rewrite bil_WQK, Rabs_mult, (Rabs_right (scale N)) by lra.
  rewrite !Rmult_assoc. apply Rmult_le_compat_l; [lra|]. rewrite <- Rmult_assoc. apply (bil_spectral (dim N)).
Qed.
Lemma sent_SA Y : sent N 0 Y = SA n d Ly Y.
Proof.
  apply functional_extensionality; intro i. apply functional_extensionality; intro b. rewrite (sent_is N PN), S0.
  unfold n, d, Ly. ring.
Qed.

(** The derivative exists along every H, with the bound of own:lipschitz. *)
Lemma along H : let a := norm_2 (W_QK N 0 0) / sqrt (d_qk N) in
  exists J : mat, (forall i b, (i < n)%nat -> (b < d)%nat -> is_derive (fun t => sent N 0 (fun p q => X N 0 p q + t * H
    p q) i b) 0 (J i b)) /\
  frob n d J <= norm_2 (W N 0 0) * (sqrt (norm_1 (P N 0 0) * (1 + (a * longest (X N 0) * diameter (X N 0) p_2 / 2) ^
    2)) + a * diameter (X N 0) p_2 ^ 2 / 4) * frob n d H.
Proof.
  intro a. assert (S := scale_pos N PN).
  destruct (own_lipschitz.lipschitz n d Ly (X N 0) H (norm_2 (W N 0 0)) (scale N * norm_2 (W_QK N 0 0)) (some_tokens N
    PN) (some_dim N PN) H1 mask_is no_query_bias) as [J [D L]].
  - apply spectral_nonneg.
  - intro v. apply (spectral_bound (dim N) (dim N) (W N 0 0)).
  - apply Rmult_le_pos; [lra|apply spectral_nonneg].
  - exact qk_bound.
  - exists J. split.
    + intros i b Hi Hb. apply (is_derive_ext (fun t => SA n d Ly (own_lipschitz.moved (X N 0) H t) i b));
        [|now apply D].
      intro t. rewrite sent_SA. reflexivity.
    + change (dqk Ly) with (dim N) in L. unfold d, Ly in L. rewrite (scale_out N PN) in L. unfold n in L.
      rewrite (attn_is N PN) in L. exact L.
Qed.

Lemma jacobian_bound b : 0 <= b -> (forall H J : mat, (forall i c, (i < n)%nat -> (c < d)%nat ->
    is_derive (fun t => sent N 0 (fun p q => X N 0 p q + t * H p q) i c) 0 (J i c)) -> frob n d J <= b * frob n d H) ->
      jacobian_norm N <= b.
Proof.
  intros B0 G. apply sup_le_nonneg; [exact B0|]. intros x [H [Hf ->]]. destruct (along H) as [J [D _]]. fold n d.
  replace (frob n d _) with (frob n d J).
  - eapply Rle_trans; [apply (G H J D)|]. fold n d in Hf. assert (0 <= frob n d H) by apply sqrt_pos. nra.
  - unfold frob, dot. f_equal. apply sum_ext; intros i Hi. apply sum_ext; intros c Hc.
    assert (E := is_derive_unique _ _ _ (D i c Hi Hc)). cbv beta in *. f_equal; (symmetry; exact E).
Qed.
End Jacobian.

Lemma longest_nonneg n d (Y : matrix n d) : 0 <= longest Y.
Proof. apply maxf_pos. Qed.

Theorem proved_own_lipschitz : statement_own_lipschitz.
Proof.
  intros N PN a R c H1 KB MN LN _ S0. assert (Q := qk_root N PN).
  assert (A0 : 0 <= a) by (apply Rmult_le_pos; [apply spectral_nonneg|left; now apply Rinv_0_lt_compat]).
  assert (D0 := diameter_nonneg _ _ (X N 0) p_2).
  apply (jacobian_bound N PN H1 KB MN S0).
  - apply Rmult_le_pos; [apply spectral_nonneg|]. apply Rplus_le_le_0_compat; [apply sqrt_pos|].
    apply Rmult_le_pos; [apply Rmult_le_pos; [exact A0|apply pow2_ge_0]|lra].
  - intros H J D. destruct (along N PN H1 KB MN S0 H) as [J' [D' L]]. cbv zeta in L.
    replace (frob (tokens N) (dim N) J) with (frob (tokens N) (dim N) J'); [exact L|].
    unfold frob, dot. f_equal. apply sum_ext; intros i Hi. apply sum_ext; intros b Hb.
    assert (E : J' i b = J i b) by (rewrite <- (is_derive_unique _ _ _ (D i b Hi Hb)); symmetry;
      exact (is_derive_unique _ _ _ (D' i b Hi Hb))).
    now rewrite E.
Qed.

Theorem proved_castin2024_3_3 : statement_castin2024_3_3.
Proof.
  intros N PN a R H1 L1 KB MN LN _ S0. assert (Q := qk_root N PN). assert (S := scale_pos N PN).
  apply (jacobian_bound N PN H1 KB MN S0).
  - apply Rmult_le_pos; [apply Rmult_le_pos; [apply sqrt_pos|apply spectral_nonneg]|apply sqrt_pos].
  - intros H J D.
    assert (B : layer_bounds (dim N) (L2 (dim N)) (layer_of N 0) (fun _ => norm_2 (W N 0 0)) (fun _ => scale N * norm_2
      (W_QK N 0 0))).
    { constructor; [apply (some_dim N PN)|intro; apply spectral_nonneg|intro; apply Rmult_le_pos;
        [lra|apply spectral_nonneg]| |].
      - intros h v Hh. change (nheads (layer_of N 0)) with (heads N) in Hh. replace h with 0%nat by lia.
        apply (spectral_bound (dim N) (dim N)).
      - intros h u v Hh. change (nheads (layer_of N 0)) with (heads N) in Hh. replace h with 0%nat by lia.
        apply (qk_bound N PN). }
    assert (C := castin2024.castin_3_3 (tokens N) (dim N) (layer_of N 0) (fun _ => norm_2 (W N 0 0)) (fun _ => scale N
      * norm_2 (W_QK N 0 0)) (longest (X N 0)) (X N 0)
      (some_tokens N PN) H1 (mask_is N MN) (fun c => conj (no_query_bias N KB c) eq_refl) B
      (fun i Hi => maxf_ub (tokens N) (fun i => l2 (dim N) (X N 0 i)) i Hi) H J).
    cbv beta zeta in C. change (dqk (layer_of N 0)) with (dim N) in C. rewrite (scale_out N PN) in C. apply C.
    intros i b Hi Hb. apply (is_derive_ext (fun t => sent N 0 (fun p q => X N 0 p q + t * H p q) i b)); [|now apply D].
    intro t. now rewrite (sent_SA N PN S0).
Qed.

Lemma attention_stochastic N : proper N -> Definitions.row_stochastic (tokens N) (tokens N) (P N 0 0).
Proof. intros PN. unfold P. rewrite <- (attn_is N PN). apply attn_stochastic. exact (mask_proper N PN). Qed.
(** The two largest entries of every row bound its derivative. *)
Lemma shares_short n (P : mat) i v : (0 < n)%nat -> (i < n)%nat -> Definitions.row_stochastic n n P ->
  own_order.cov n (P i) v v <= @top_shares n n P * dot n v v.
Proof.
  intros Hn Hi St. assert (p0 : forall l, (l < n)%nat -> 0 <= P i l) by (intros; now apply St).
  assert (p1 : sum n (P i) = 1) by now apply St. set (K := @top_shares n n P).
  assert (B : forall x, (exists i j k, (i < n)%nat /\ (j < n)%nat /\ (k < n)%nat /\ j <> k /\ x = P i j * (1 - P i j +
    P i k)) -> x <= 2).
  { intros x (i' & j & k & Hi' & Hj & Hk & _ & ->). assert (q0 : forall l, (l < n)%nat -> 0 <= P i' l) by (intros;
      now apply St). assert (q1 : sum n (P i') = 1) by now apply St.
    assert (U : forall l, (l < n)%nat -> 0 <= P i' l <= 1) by (intros l Hl; split; [now apply q0|rewrite <- q1;
      now apply (sum_term_le n (P i'))]).
    assert (A := U j Hj). assert (C := U k Hk). nra. }
  destruct (largest_attained n (P i) Hn) as [j [Hj Lj]].
  assert (Top : forall l, (l < n)%nat -> P i l <= P i j) by (intros l Hl; rewrite <- Lj; now apply largest_ub).
  destruct (Nat.eq_dec n 1) as [E|E].
  - (* one token *)
    subst n. replace (own_order.cov 1 (P i) v v) with 0; [|unfold own_order.cov, own_order.avg;
      cbn [sum] in *; assert (Z : P i 0%nat = 1) by lra; rewrite Z; ring].
    replace K with 0; [lra|]. symmetry. unfold K, top_shares, sup_of.
    rewrite (is_lub_Rbar_unique _ m_infty); [reflexivity|]. split.
    + intros x (a & b & c & _ & Hb & Hc & N & _). exfalso. lia.
    + intros b _. now destruct b.
  - set (others := fun l => if Nat.eqb l j then 0 else P i l). destruct (largest_attained n others Hn) as [k [Hk Lk]].
    set (k' := if Nat.eqb k j then (if Nat.eqb j 0 then 1%nat else 0%nat) else k).
    assert (Hk' : (k' < n)%nat /\ k' <> j) by (unfold k'; destruct (Nat.eqb_spec k j); [destruct (Nat.eqb_spec j 0)|];
      lia).
    assert (P2 : forall l, (l < n)%nat -> l <> j -> P i l <= P i k').
    { intros l Hl N. assert (G := largest_ub n others l Hl). rewrite Lk in G. unfold others in G.
      apply Nat.eqb_neq in N. rewrite N in G.
      assert (Q := p0 k' (proj1 Hk')). revert Q. unfold k'. destruct (Nat.eqb_spec k j); intro Q; [lra|exact G]. }
    assert (T := proved_derivatives.two_shares_at n (P i) v j (P i k') Hj p0 p1 P2 (conj (p0 k' (proj1 Hk')) (Top k'
      (proj1 Hk')))).
    unfold own_order.cov, own_order.avg. eapply Rle_trans; [exact T|].
    apply Rmult_le_compat_r; [apply dot_pos|].
    apply (sup_ub _ 2); [exact B|]. exists i, j, k'. repeat split; try assumption; try apply Hk'. intro Q.
    now apply (proj2 Hk').
Qed.
Lemma shares_nonneg n (P : mat) : Definitions.row_stochastic n n P -> 0 <= @top_shares n n P.
Proof.
  intros St. destruct (Nat.le_gt_cases n 1) as [E|E].
  - right. symmetry. unfold top_shares, sup_of. rewrite (is_lub_Rbar_unique _ m_infty); [reflexivity|]. split.
    + intros x (a & b & c & _ & Hb & Hc & N & _). exfalso. lia.
    + intros b _. now destruct b.
  - assert (U : forall i l, (i < n)%nat -> (l < n)%nat -> 0 <= P i l <= 1).
    { intros i l Hi Hl. split; [now apply St|]. rewrite <- (proj2 St i Hi).
      apply (sum_term_le n (P i)); [intros; now apply St|exact Hl]. }
    apply Rle_trans with (P 0%nat 0%nat * (1 - P 0%nat 0%nat + P 0%nat 1%nat)).
    + assert (A := U 0%nat 0%nat ltac:(lia) ltac:(lia)). assert (B := U 0%nat 1%nat ltac:(lia) ltac:(lia)).
      apply Rmult_le_pos; lra.
    + apply (sup_ub _ 2).
      * intros x (i & j & k & Hi & Hj & Hk & _ & ->). assert (A := U i j Hi Hj). assert (C := U i k Hi Hk). nra.
      * exists 0%nat, 0%nat, 1%nat. repeat split; lia || reflexivity.
Qed.
(** Centring does not raise the spectral norm. *)
Lemma centred_norm_le n d (Y : matrix n d) : (0 < n)%nat -> centred_norm Y <= spectral Y.
Proof.
  intros Hn. assert (In : 0 < INR n) by (now apply lt_0_INR). apply spectral_le; [apply spectral_nonneg|]. intro v.
  set (m := sum n v / INR n). set (u := fun i => v i - m).
  replace (l2 d (vmat n v (centred Y (mean n Y)))) with (l2 d (vmat n u Y)).
  - eapply Rle_trans; [apply spectral_bound|]. apply Rmult_le_compat_l; [apply spectral_nonneg|]. apply sqrt_le_1_alt.
    unfold dot, u.
    rewrite (sum_ext n _ (fun i => v i * v i - 2 * m * v i + m * m)) by (intros; ring).
    rewrite sum_plus, sum_minus, sum_scal, sum_const.
    assert (E : sum n v = INR n * m) by (unfold m; field; lra). rewrite E. nra.
  - unfold l2. f_equal. apply sum_ext; intros a _. enough (E : vmat n u Y a = vmat n v (centred Y (mean n Y)) a) by now
      rewrite E.
    unfold vmat, u, centred, vsub, mean. rewrite (sum_ext n _ (fun i => v i * Y i a - m * Y i a)) by (intros; ring).
    rewrite (sum_ext n (fun i => v i * (Y i a - sum n (fun i => Y i a) / INR n)) (fun i => v i * Y i a - sum n (fun i
      => Y i a) / INR n * v i)) by (intros; ring).
    rewrite !sum_minus, !sum_scal. unfold m. field. lra.
Qed.

Theorem proved_own_attention_shares : statement_own_attention_shares.
Proof.
  intros N PN a kappa c H1 KB MN LN _ S0. assert (Q := qk_root N PN). assert (S := scale_pos N PN).
  assert (St : Definitions.row_stochastic (tokens N) (tokens N) (P N 0 0)) by (apply (attention_stochastic N PN)).
  assert (A0 : 0 <= a) by (apply Rmult_le_pos; [apply spectral_nonneg|left; now apply Rinv_0_lt_compat]).
  assert (K0 := shares_nonneg _ _ St). fold kappa in K0. assert (C0 : 0 <= c) by apply spectral_nonneg.
  assert (X0 : 0 <= norm_2 (X N 0)) by apply spectral_nonneg.
  apply (jacobian_bound N PN H1 KB MN S0).
  - apply Rmult_le_pos; [apply spectral_nonneg|]. apply Rplus_le_le_0_compat; [apply spectral_nonneg|].
    apply Rmult_le_pos; [apply Rmult_le_pos; [exact (Rmult_le_pos _ _ A0 K0)|exact C0]|lra].
  - intros H J D.
    destruct (yudin2025.attention_shares (tokens N) (dim N) (layer_of N 0) (X N 0) H (mean (tokens N) (X N
      0)) (norm_2 (W N 0 0))
      (scale N * norm_2 (W_QK N 0 0)) (norm_2 (P N 0 0)) c (norm_2 (X N 0)) kappa (some_tokens N PN) (some_dim N PN) H1
        (mask_is N MN)
      (no_query_bias N KB)) as [J' [D' L]].
    + apply spectral_nonneg.
    + intro v. apply (spectral_bound (dim N) (dim N) (W N 0 0)).
    + apply Rmult_le_pos; [lra|apply spectral_nonneg].
    + exact (qk_bound N PN).
    + apply spectral_nonneg.
    + intro v. change (dqk (layer_of N 0)) with (dim N). rewrite (attn_is N PN).
      apply (spectral_bound (tokens N) (tokens N) (P N 0 0)).
    + exact C0.
    + intro v. apply (spectral_bound (tokens N) (dim N)).
    + exact X0.
    + intro v. apply (spectral_bound (tokens N) (dim N) (X N 0)).
    + exact K0.
    + intros i v Hi. change (dqk (layer_of N 0)) with (dim N). rewrite (attn_is N PN).
      apply shares_short; [apply (some_tokens N PN)|exact Hi|exact St].
    + change (dqk (layer_of N 0)) with (dim N) in L. rewrite (scale_out N PN) in L.
      replace (frob (tokens N) (dim N) J) with (frob (tokens N) (dim N) J'); [exact L|].
      unfold frob, dot. f_equal. apply sum_ext; intros i Hi. apply sum_ext; intros b Hb.
      assert (E : J' i b = J i b).
      { rewrite <- (is_derive_unique _ _ _ (D i b Hi Hb)). symmetry. apply is_derive_unique.
        apply (is_derive_ext (fun t => SA (tokens N) (dim N) (layer_of N 0) (own_lipschitz.moved (X N 0) H t) i b));
          [|now apply D'].
        intro t. rewrite (sent_SA N PN S0). reflexivity. }
      now rewrite E.
Qed.

Theorem proved_yudin2025_attention : statement_yudin2025_attention.
Proof.
  intros N PN a kappa H1 L1 KB MN LN M0 S0. eapply Rle_trans;
    [exact (proved_own_attention_shares N PN H1 KB MN LN M0 S0)|].
  apply Rmult_le_compat_l; [apply spectral_nonneg|]. apply Rplus_le_compat_l. fold a. fold kappa.
  set (c := centred_norm (X N 0)).
  assert (Q := qk_root N PN). assert (A0 : 0 <= a) by (apply Rmult_le_pos; [apply spectral_nonneg|left;
    now apply Rinv_0_lt_compat]).
  assert (K0 : 0 <= kappa) by (apply shares_nonneg, (attention_stochastic N PN)).
  assert (C : c <= norm_2 (X N 0)) by (apply centred_norm_le, (some_tokens N PN)).
  assert (C0 : 0 <= c) by apply spectral_nonneg.
  set (x := norm_2 (X N 0)) in *. assert (0 <= a * kappa) by (now apply Rmult_le_pos).
  replace (2 * a * kappa * x ^ 2) with (a * kappa * (2 * x ^ 2)) by ring.
  replace (a * kappa * c * (c + x)) with (a * kappa * (c * (c + x))) by ring. apply Rmult_le_compat_l; [assumption|nra].
Qed.
