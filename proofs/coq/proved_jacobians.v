(** Registered statements about the derivative of a layer, as Statements.v prints them; that it exists is proved too. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require own_lipschitz castin2024.
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
  assert (S := scale_pos N PN). change (dqk Ly) with (dim N). unfold d, Ly. rewrite bil_WQK, Rabs_mult, (Rabs_right (scale N)) by lra.
  rewrite !Rmult_assoc. apply Rmult_le_compat_l; [lra|]. rewrite <- Rmult_assoc. apply (bil_spectral (dim N)).
Qed.
Lemma sent_SA Y : sent N 0 Y = SA n d Ly Y.
Proof.
  apply functional_extensionality; intro i. apply functional_extensionality; intro b. rewrite (sent_is N PN), S0. unfold n, d, Ly. ring.
Qed.

(** The derivative exists along every H, with the bound of own:lipschitz. *)
Lemma along H : let a := norm_2 (W_QK N 0 0) / sqrt (d_qk N) in
  exists J : mat, (forall i b, (i < n)%nat -> (b < d)%nat -> is_derive (fun t => sent N 0 (fun p q => X N 0 p q + t * H p q) i b) 0 (J i b)) /\
  frob n d J <= norm_2 (W N 0 0) * (sqrt (norm_1 (P N 0 0) * (1 + (a * longest (X N 0) * diameter (X N 0) p_2 / 2) ^ 2)) + a * diameter (X N 0) p_2 ^ 2 / 4) * frob n d H.
Proof.
  intro a. assert (S := scale_pos N PN).
  destruct (own_lipschitz.lipschitz n d Ly (X N 0) H (norm_2 (W N 0 0)) (scale N * norm_2 (W_QK N 0 0)) (some_tokens N PN) (some_dim N PN) H1 mask_is no_query_bias) as [J [D L]].
  - apply spectral_nonneg.
  - intro v. apply (spectral_bound (dim N) (dim N) (W N 0 0)).
  - apply Rmult_le_pos; [lra|apply spectral_nonneg].
  - exact qk_bound.
  - exists J. split.
    + intros i b Hi Hb. apply (is_derive_ext (fun t => SA n d Ly (own_lipschitz.moved (X N 0) H t) i b)); [|now apply D].
      intro t. rewrite sent_SA. reflexivity.
    + change (dqk Ly) with (dim N) in L. unfold d, Ly in L. rewrite (scale_out N PN) in L. unfold n in L. rewrite (attn_is N PN) in L. exact L.
Qed.

Lemma jacobian_bound b : 0 <= b -> (forall H J : mat, (forall i c, (i < n)%nat -> (c < d)%nat ->
    is_derive (fun t => sent N 0 (fun p q => X N 0 p q + t * H p q) i c) 0 (J i c)) -> frob n d J <= b * frob n d H) -> jacobian_norm N <= b.
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
  intros N PN a R c H1 L1 KB MN LN _ S0. assert (Q := qk_root N PN).
  assert (A0 : 0 <= a) by (apply Rmult_le_pos; [apply spectral_nonneg|left; now apply Rinv_0_lt_compat]).
  assert (D0 := diameter_nonneg _ _ (X N 0) p_2).
  apply (jacobian_bound N PN H1 KB MN S0).
  - apply Rmult_le_pos; [apply spectral_nonneg|]. apply Rplus_le_le_0_compat; [apply sqrt_pos|].
    apply Rmult_le_pos; [apply Rmult_le_pos; [exact A0|apply pow2_ge_0]|lra].
  - intros H J D. destruct (along N PN H1 KB MN S0 H) as [J' [D' L]]. cbv zeta in L.
    replace (frob (tokens N) (dim N) J) with (frob (tokens N) (dim N) J'); [exact L|].
    unfold frob, dot. f_equal. apply sum_ext; intros i Hi. apply sum_ext; intros b Hb.
    assert (E : J' i b = J i b) by (rewrite <- (is_derive_unique _ _ _ (D i b Hi Hb)); symmetry; exact (is_derive_unique _ _ _ (D' i b Hi Hb))).
    now rewrite E.
Qed.

Theorem proved_castin2024_3_3 : statement_castin2024_3_3.
Proof.
  intros N PN a R H1 L1 KB MN LN _ S0. assert (Q := qk_root N PN). assert (S := scale_pos N PN).
  apply (jacobian_bound N PN H1 KB MN S0).
  - apply Rmult_le_pos; [apply Rmult_le_pos; [apply sqrt_pos|apply spectral_nonneg]|apply sqrt_pos].
  - intros H J D.
    assert (B : layer_bounds (dim N) (L2 (dim N)) (layer_of N 0) (fun _ => norm_2 (W N 0 0)) (fun _ => scale N * norm_2 (W_QK N 0 0))).
    { constructor; [apply (some_dim N PN)|intro; apply spectral_nonneg|intro; apply Rmult_le_pos; [lra|apply spectral_nonneg]| |].
      - intros h v Hh. change (nheads (layer_of N 0)) with (heads N) in Hh. replace h with 0%nat by lia. apply (spectral_bound (dim N) (dim N)).
      - intros h u v Hh. change (nheads (layer_of N 0)) with (heads N) in Hh. replace h with 0%nat by lia. apply (qk_bound N PN). }
    assert (C := castin2024.castin_3_3 (tokens N) (dim N) (layer_of N 0) (fun _ => norm_2 (W N 0 0)) (fun _ => scale N * norm_2 (W_QK N 0 0)) (longest (X N 0)) (X N 0)
      (some_tokens N PN) H1 (mask_is N MN) (fun c => conj (no_query_bias N KB c) eq_refl) B
      (fun i Hi => maxf_ub (tokens N) (fun i => l2 (dim N) (X N 0 i)) i Hi) H J).
    cbv beta zeta in C. change (dqk (layer_of N 0)) with (dim N) in C. rewrite (scale_out N PN) in C. apply C.
    intros i b Hi Hb. apply (is_derive_ext (fun t => sent N 0 (fun p q => X N 0 p q + t * H p q) i b)); [|now apply D].
    intro t. now rewrite (sent_SA N PN S0).
Qed.
