(** Registered statements about networks, as Statements.v prints them: diameters and skip connections. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require own_diameter own_skip_lower own_hemisphere.
From Rankmath Require Import Definitions Functions Norms Softmax Language LanguageFacts NetworkFacts Statements.
Local Open Scope R_scope.

Lemma norm_2_bounds N l : proper N -> layer_bounds (dim N) (norm_of (dim N) p_2) (layer_of N l)
  (fun h => norm_2 (W N l h)) (fun h => scale N * norm_2 (W_QK N l h)).
Proof.
  intros PN. apply (bounds_of N p_2 l (fun h => norm_2 (W N l h)) (fun h => norm_2 (W_QK N l h)) PN); intros.
  - apply spectral_nonneg.
  - apply spectral_nonneg.
  - apply spectral_bound.
  - apply bil_spectral.
Qed.

Lemma form_bounds N l p : proper N -> layer_bounds (dim N) (norm_of (dim N) p) (layer_of N l)
  (fun h => operator_norm (W N l h) p) (fun h => scale N * form_norm (W_QK N l h) p).
Proof.
  intros PN. apply (bounds_of N p l (fun h => operator_norm (W N l h) p) (fun h => form_norm (W_QK N l h) p) PN);
    intros.
  - apply operator_norm_nonneg.
  - apply form_norm_nonneg.
  - apply operator_norm_bound.
  - apply form_norm_bound.
Qed.

Lemma heads_padding N : proper N -> mask_padding N -> forall l h, (h < nheads (layer_at N l))%nat ->
  key_padding (tokens N) (mask (hd (layer_at N l) h)).
Proof. intros PN M l h _. apply (padding_is N PN M). Qed.

Section Diameter.
Variables (N : network) (p : exponent).
Hypothesis PN : proper N.
Hypothesis M : mask_padding N.
Hypothesis LN : layernorm_none N.
Hypothesis S0 : skip_of N = 0.
Let w l h := operator_norm (W N (last_layer N l) h) p.
Let m l h := scale N * form_norm (W_QK N (last_layer N l) h) p.
Let c := largest (layers N) (fun l => sum (heads N) (fun h => operator_norm (W N l h) p * form_norm (W_QK N l h) p)) /
  (4 * sqrt (d_qk N)).

Lemma diameter_both :
  diameter (X N (layers N)) p <= own_diameter.phi_iter (block_of N) w m (fun _ => 1) (layers N) (diameter (X N 0) p) /\
  own_diameter.phi_iter (block_of N) w m (fun _ => 1) (layers N) (diameter (X N 0) p)
    <= c ^ ((3 ^ layers N - 1) / 2) * diameter (X N 0) p ^ (3 ^ layers N).
Proof.
  rewrite (X_net N PN (layers N)) by lia. rewrite <- !diam_of.
  apply (own_diameter.diameter_depth (tokens N) (dim N) (norm_of (dim N) p) (block_of N) w m (fun _ => 1)).
  - intro l. apply (form_bounds N (last_layer N l) p PN).
  - intros l h H. apply (heads_padding N PN M l h H).
  - intro l. exact S0.
  - intro l. rewrite (tok_none N l LN). split; [lra|]. intros u v. lra.
  - intro l. unfold m, w. cbn [block_of att]. unfold layer_at.
    rewrite (kappa_of N (last_layer N l) (fun h => operator_norm (W N (last_layer N l) h) p) (fun h => form_norm (W_QK
      N (last_layer N l) h) p) PN).
    rewrite Rmult_1_l. assert (Q := qk_root N PN). apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
    apply (largest_ub (layers N) (fun l => sum (heads N) (fun h => operator_norm (W N l h) p * form_norm (W_QK N l h)
      p))).
    now apply last_layer_lt.
Qed.

Lemma phi_iter_recursion L t : (L <= layers N)%nat -> own_diameter.phi_iter (block_of N) w m (fun _ => 1) L t =
  recursion L t (fun l b => sum (heads N) (fun h => operator_norm (W N l h) p * b * tanh (form_norm (W_QK N l h) p * b
    ^ 2 / (4 * sqrt (d_qk N))))).
Proof.
  induction L as [|l IH]; intros Hl; [reflexivity|]. cbn [own_diameter.phi_iter recursion]. rewrite <- IH by lia.
  set (b := own_diameter.phi_iter (block_of N) w m (fun _ => 1) l t). unfold m, w. cbn [block_of att]. unfold layer_at.
  rewrite last_layer_same by lia. rewrite (rate_of N l (fun h => operator_norm (W N l h) p) (fun h => form_norm (W_QK N
    l h) p) b PN).
  rewrite Rmult_1_l, <- sum_scal. apply sum_ext; intros; ring.
Qed.
End Diameter.

Theorem proved_own_diameter : statement_own_diameter.
Proof.
  intros N PN M LN _ S0 p. rewrite <- (phi_iter_recursion N p PN (layers N)) by lia. now apply diameter_both.
Qed.

Theorem proved_own_diameter_cubic : statement_own_diameter_cubic.
Proof.
  intros N PN M LN _ S0 p. destruct (diameter_both N p PN M LN S0) as [A B]. eapply Rle_trans; [exact A|exact B].
Qed.

(* ---------- LayerNorm over columns ---------- *)
Lemma deviation_pos n eps c : 0 <= eps -> 0 < deviation n eps c.
Proof.
  intros E. unfold deviation. set (v := sum n _ / INR n). assert (V : 0 <= v).
  { assert (S : 0 <= sum n (fun i => (c i - sum n c / INR n) ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0).
    unfold v, Rdiv. destruct (Nat.eq_dec n 0) as [->|N]; [simpl; rewrite Rmult_0_l; lra|].
    apply Rmult_le_pos; [exact S|]. left. apply Rinv_0_lt_compat, lt_0_INR. lia. }
  destruct (Req_EM_T (v + eps) 0); [lra|]. apply sqrt_lt_R0. lra.
Qed.
(** Where a column is not constant a larger eps divides it by more; where it is, there is nothing to divide. *)
Lemma deviation_le n eps c i j : 0 <= eps -> (i < n)%nat -> (j < n)%nat ->
  Rabs (c i - c j) / deviation n eps c <= Rabs (c i - c j) / deviation n 0 c.
Proof.
  intros E Hi Hj. assert (In : 0 < INR n) by (apply lt_0_INR; lia). assert (P := deviation_pos n eps c E).
  assert (P0 := deviation_pos n 0 c ltac:(lra)).
  destruct (Req_dec (c i) (c j)) as [->|Ne]; [rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; unfold Rdiv;
    rewrite !Rmult_0_l; lra|].
  apply Rmult_le_compat_l; [apply Rabs_pos|]. apply Rinv_le_contravar; [exact P0|]. revert P P0. unfold deviation.
  set (m := sum n c / INR n). set (v := sum n (fun i => (c i - m) ^ 2) / INR n).
  assert (V : 0 < v).
  { apply Rmult_lt_0_compat; [|now apply Rinv_0_lt_compat]. destruct (Req_dec (c i) m) as [Q|Q].
    - assert (Nj : c j - m <> 0) by lra. eapply Rlt_le_trans; [|apply (sum_term_le n (fun i => (c i - m) ^ 2) j);
        [intros; apply pow2_ge_0|exact Hj]].
      cbv beta. nra.
    - assert (Ni : c i - m <> 0) by lra. eapply Rlt_le_trans; [|apply (sum_term_le n (fun i => (c i - m) ^ 2) i);
        [intros; apply pow2_ge_0|exact Hi]].
      cbv beta. nra. }
  destruct (Req_EM_T (v + 0) 0); [lra|]. destruct (Req_EM_T (v + eps) 0); [lra|]. intros _ _. apply sqrt_le_1_alt. lra.
Qed.
(** Entries that are smaller give a smaller norm. *)
Lemma length_mono d p u v : (forall a, (a < d)%nat -> Rabs (u a) <= Rabs (v a)) -> length_of d p u <= length_of d p v.
Proof.
  intros H. destruct p; cbn [length_of].
  - apply sum_le. exact H.
  - apply sqrt_le_1_alt, sum_le. intros a Ha. rewrite <- (Rabs_right (u a * u a)), <- (Rabs_right (v a * v a)) by nra.
    rewrite !Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; now apply H.
  - apply maxf_lub; [apply maxf_pos|]. intros a Ha. eapply Rle_trans; [now apply H|].
    apply (maxf_ub d (fun a => Rabs (v a)) a Ha).
Qed.

(** The layer without LayerNorm whose values and bias are divided by the deviations. *)
Definition divided (N : network) (s : vec) : network := {| tokens := tokens N; dim := dim N; heads := heads N;
  layers := 1; d_qk := d_qk N;
  skip_of := skip_of N; lnorm := false; W := fun l h a b => W N l h a b / s b; W_QK := W_QK N; key_bias := key_bias N;
  bias := fun l b => bias N l b / s b; edges := edges N; input := X N 0 |}.
Lemma divided_sent N s Y i b : skip_of N = 0 -> sent (divided N s) 0 Y i b = sent N 0 Y i b / s b.
Proof.
  intros S0. unfold sent. cbn [divided tokens dim heads skip_of W bias]. rewrite S0, !Rmult_0_l, !Rplus_0_l.
  unfold Rdiv.
  rewrite Rmult_plus_distr_r, <- sum_scal_r. f_equal. apply sum_ext; intros h _. unfold vmat at 1 3.
  rewrite <- sum_scal_r.
  apply sum_ext; intros a _. cbn [divided]. change (attention_on (divided N s) 0 h Y) with (attention_on N 0 h Y). ring.
Qed.

Theorem proved_dong2021_3_3 : statement_dong2021_3_3.
Proof.
  intros N eps PN E0 LN L1 MN _ S0 p.
  set (s := fun b => deviation (tokens N) 0 (fun i => sent N 0 (X N 0) i b)). set (D := divided N s).
  assert (PD : proper D).
  { constructor; cbn; try lia; try apply PN; discriminate. }
  assert (B := proved_own_diameter D PD (fun i k j _ _ _ => eq_trans (MN i j) (eq_sym (MN k j))) eq_refl I S0 p).
  cbn [recursion layers divided D] in B.
  change (diameter (X D 0) p) with (diameter (X N 0) p) in B. change (column_X N eps 0) with (X N 0).
  apply Rle_trans with (diameter (X D 1) p).
  - unfold diameter. apply maxf_lub; [apply maxf_pos|]. intros i Hi. apply maxf_lub; [apply maxf_pos|]. intros j Hj.
    eapply Rle_trans; [|apply (diam_ub (tokens N) (length_of (dim N) p) (X D 1) i j Hi Hj)].
    apply length_mono. intros b Hb. set (c := fun j => sent N 0 (X N 0) j b).
    change (Rabs ((c i - sum (tokens N) c / INR (tokens N)) / deviation (tokens N) eps c
      - (c j - sum (tokens N) c / INR (tokens N)) / deviation (tokens N) eps c)
      <= Rabs (sent (divided N s) 0 (X N 0) i b - sent (divided N s) 0 (X N 0) j b)).
    rewrite !divided_sent by exact S0. fold (c i) (c j).
    replace ((c i - sum (tokens N) c / INR (tokens N)) / deviation (tokens N) eps c - (c j - sum (tokens N) c / INR
      (tokens N)) / deviation (tokens N) eps c)
      with ((c i - c j) / deviation (tokens N) eps c) by (unfold Rdiv; ring).
    replace (c i / s b - c j / s b) with ((c i - c j) / s b) by (unfold Rdiv; ring).
    assert (P := deviation_pos (tokens N) eps c E0). assert (P0 : 0 < s b) by (apply deviation_pos; lra).
    unfold Rdiv. rewrite !Rabs_mult, (Rabs_right (/ deviation _ _ _)), (Rabs_right (/ s b)) by (left;
      now apply Rinv_0_lt_compat).
    exact (deviation_le (tokens N) eps c i j E0 Hi Hj).
  - eapply Rle_trans; [exact B|]. right. rewrite <- sum_scal_r. apply sum_ext; intros h _. unfold normalised_norm.
    unfold D. cbn [divided W W_QK d_qk dim].
    rewrite Rmult_assoc, (Rmult_comm (diameter _ _)), <- Rmult_assoc. reflexivity.
Qed.

(* ---------- skip connections ---------- *)
Lemma prod_is L f g : (forall l, (l < L)%nat -> f l = g l) -> prodf L f = prodf L g.
Proof. induction L as [|L IH]; intros H; [reflexivity|]. cbn. rewrite IH by auto. rewrite H by lia. reflexivity. Qed.

Section Skip.
Variable N : network.
Hypothesis PN : proper N.
Hypothesis M : mask_padding N.
Hypothesis LN : layernorm_none N.
Let w l h := norm_2 (W N (last_layer N l) h).
Let m l h := scale N * norm_2 (W_QK N (last_layer N l) h).
Definition attended l := sum (heads N) (fun h => norm_2 (W N l h) * tanh (norm_2 (W_QK N l h) * diameter (X N l) p_2 ^
  2 / (4 * sqrt (d_qk N)))).

Lemma rate_at l : (l < layers N)%nat -> rate (att (block_of N l)) (w l) (m l)
  (diam (tokens N) (norm_of (dim N) p_2) (net (tokens N) (dim N) (block_of N) l (X N 0))) = attended l.
Proof.
  intros Hl. rewrite <- (X_net N PN l) by lia. rewrite diam_of. unfold w, m. cbn [block_of att]. unfold layer_at.
  rewrite last_layer_same by exact Hl.
  apply (rate_of N l (fun h => norm_2 (W N l h)) (fun h => norm_2 (W_QK N l h)) _ PN).
Qed.

Lemma skip_both : diameter (X N (layers N)) p_2 <= diameter (X N 0) p_2 * prodf (layers N) (fun l => Rabs (skip_of N) +
  attended l) /\
  ((forall l, (l < layers N)%nat -> attended l <= Rabs (skip_of N)) ->
   diameter (X N 0) p_2 * prodf (layers N) (fun l => Rabs (skip_of N) - attended l) <= diameter (X N (layers N)) p_2).
Proof.
  destruct (own_skip_lower.lambda_skip (tokens N) (dim N) (norm_of (dim N) p_2) (block_of N) w m (layers N) (X N 0)) as
    [A B].
  - intro l. apply (norm_2_bounds N (last_layer N l) PN).
  - intros l h H. apply (heads_padding N PN M l h H).
  - intros l v. now rewrite (tok_none N l LN).
  - cbv zeta in A, B. rewrite <- (X_net N PN (layers N)), !diam_of in A, B by lia.
    change (net (tokens N) (dim N) (block_of N) 0 (X N 0)) with (X N 0) in A, B.
    split.
    + erewrite prod_is in A; [exact A|]. intros l Hl. cbv beta. now rewrite rate_at.
    + intros H. erewrite prod_is in B; [apply B|].
      * intros l Hl. rewrite rate_at by exact Hl. now apply H.
      * intros l Hl. cbv beta. now rewrite rate_at.
Qed.
End Skip.

Theorem proved_own_lambda_skip_upper : statement_own_lambda_skip_upper.
Proof. intros N PN M LN _. apply (skip_both N PN M LN). Qed.

Theorem proved_own_lambda_skip_lower : statement_own_lambda_skip_lower.
Proof. intros N PN M H LN _. apply Rle_ge, (skip_both N PN M LN). intros l Hl. left. now apply H. Qed.

Theorem proved_own_skip_lower : statement_own_skip_lower.
Proof.
  intros N PN theta kappa S1 M T1 LN _. set (L := layers N). assert (Q := qk_root N PN).
  set (Ly := layer_at N). assert (Bl : block_of N = fun l => skipped (Ly l)).
  { apply functional_extensionality; intro l. unfold block_of, skipped, Ly. rewrite LN, S1. reflexivity. }
  assert (XL : forall l, (l <= L)%nat -> diameter (X N l) p_2 = diam (tokens N) (norm_of (dim N) p_2) (net (tokens N)
    (dim N) (fun l => skipped (Ly l)) l (X N 0))).
  { intros l Hl. rewrite <- diam_of, (X_net N PN l Hl), Bl. reflexivity. }
  destruct (Rle_lt_or_eq_dec 0 (diameter (X N 0) p_2) (diameter_nonneg _ _ _ _)) as [D0|D0].
  - destruct (own_skip_lower.skip_lower (tokens N) (dim N) (norm_of (dim N) p_2) Ly
      (fun l h => norm_2 (W N (last_layer N l) h)) (fun l h => scale N * norm_2 (W_QK N (last_layer N l) h))) with (kap
        := kappa) (th := theta) (L := L) (X := X N 0)
      as [_ [_ R]].
    + intro l. apply (norm_2_bounds N (last_layer N l) PN).
    + intros l h H. apply (heads_padding N PN M l h H).
    + intro l. unfold Ly, layer_at. rewrite (kappa_of N (last_layer N l) (fun h => norm_2 (W N (last_layer N l) h))
        (fun h => norm_2 (W_QK N (last_layer N l) h)) PN).
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
      apply (largest_ub (layers N) (fun l => sum (heads N) (fun h => norm_2 (W N l h) * norm_2 (W_QK N l h)))).
      now apply last_layer_lt.
    + exact T1.
    + change (net (tokens N) (dim N) (fun l => skipped (Ly l)) 0 (X N 0)) with (X N 0). rewrite diam_of. exact D0.
    + intros l Hl. rewrite <- (XL l) by lia. unfold Ly, layer_at. rewrite last_layer_same by exact Hl.
      rewrite (rate_of N l (fun h => norm_2 (W N l h)) (fun h => norm_2 (W_QK N l h)) _ PN).
      apply (largest_ub (layers N) (fun l => sum (heads N) (fun h => norm_2 (W N l h) * tanh (norm_2 (W_QK N l h) *
        diameter (X N l) p_2 ^ 2 / (4 * sqrt (d_qk N))))) l Hl).
    + rewrite <- (XL L), <- (XL 0%nat) in R by lia. apply Rle_ge. eapply Rle_trans; [|exact R]. right.
      unfold own_skip_lower.Kth. do 2 f_equal. f_equal.
      unfold Rdiv. simpl pow. rewrite !Rmult_1_r. reflexivity.
  - rewrite <- D0. unfold Rdiv. rewrite Rmult_0_l. apply Rle_ge, diameter_nonneg.
Qed.

Lemma sphere_unit_length d v : 0 < l2 d v -> l2 d (sphere d v) = 1.
Proof. apply own_hemisphere.sphere_unit. Qed.

Theorem proved_own_lambda_skip_sphere : statement_own_lambda_skip_sphere.
Proof.
  intros N PN LN H1 B0 _ Sm MN _ l Hl.
  set (Ly := layer_at N). assert (Bl : block_of N = fun l => own_skip_lower.skip_block (dim N) (skip_of N) (Ly
    l)).
  { apply functional_extensionality; intro k. unfold block_of, own_skip_lower.skip_block, Ly. rewrite LN.
    reflexivity. }
  assert (D : forall k, (k <= layers N)%nat -> diameter (X N k) p_2 = diam (tokens N) (l2 (dim N)) (net (tokens N) (dim
    N) (fun l => own_skip_lower.skip_block (dim N) (skip_of N) (Ly l)) k (X N 0))).
  { intros k Hk. unfold diameter. rewrite (X_net N PN k Hk), Bl. reflexivity. }
  assert (R := own_skip_lower.lambda_skip_sphere (tokens N) (dim N) (skip_of N) Ly (X N 0)
    (fun l => norm_2 (W N (last_layer N l) 0%nat)) (fun l => scale N * norm_2 (W_QK N (last_layer N l) 0%nat))
      (some_tokens N PN)). cbv zeta in R.
  assert (U : own_skip_lower.on_sphere (tokens N) (dim N) (X N 0)).
  { intros i Hi. change (X N 0) with (laid N (input N)). unfold laid. rewrite LN.
    assert (Q := sphere_unit_length (dim N) (input N i) (input_not_zero N PN LN i Hi)).
    rewrite <- own_hemisphere.l2_sq, Q. ring. }
  specialize (R U (fun _ => H1) (fun k => ltac:(unfold Ly; cbn; apply functional_extensionality; intro i;
    apply functional_extensionality; intro j; apply MN))
    (fun k b => B0 (last_layer N k) b)).
  assert (LB : forall k, layer_bounds (dim N) (L2 (dim N)) (Ly k) (fun _ => norm_2 (W N (last_layer N k) 0%nat)) (fun _
    => scale N * norm_2 (W_QK N (last_layer N k) 0%nat))).
  { intro k. destruct (norm_2_bounds N (last_layer N k) PN) as [A1 A2 A3 A4 A5].
    constructor; [exact A1|intro; apply (A2 0%nat)|intro; apply (A3 0%nat)| |].
    - intros h v Hh. replace h with 0%nat by (change (nheads (Ly k)) with (heads N) in Hh; lia). apply (A4 0%nat v).
      change (heads N > 0)%nat. lia.
    - intros h u v Hh. replace h with 0%nat by (change (nheads (Ly k)) with (heads N) in Hh; lia).
      apply (A5 0%nat u v). change (heads N > 0)%nat. lia. }
  specialize (R LB (fun k => Sm (last_layer N k) (last_layer_lt N PN k)) l).
  cbv beta in R. rewrite <- (D (S l)), <- (D l) in R by lia. rewrite last_layer_same in R by exact Hl.
  change (dqk (Ly l)) with (dim N) in R.
  replace (l + 1)%nat with (S l) by lia. eapply Rge_trans; [exact R|]. right. do 4 f_equal. f_equal.
  assert (A := dim_root N PN). assert (B := qk_root N PN). unfold scale. field. lra.
Qed.

(** Two tokens (24, +-7)/25 that attend to each other almost alone, W = I, lambda = 2. *)
Definition couple_network : network := {| tokens := 2; dim := 2; heads := 1; layers := 1; d_qk := 1; skip_of := 2;
  lnorm := true;
  W := fun _ _ => eye; W_QK := fun _ _ => own_skip_lower.away; key_bias := fun _ _ _ => 0; bias := fun _ _ => 0;
  edges := fun _ _ => 1; input := own_skip_lower.couple |}.

Section Couple.
Import own_skip_lower.
Let N := couple_network.
Let E := exp (98 / 625 * 100).
Let p := / (1 + E).
Let z : mat := fun i a => match a with O => 72 / 25 | _ => (1 + 2 * p) * couple i 1%nat end.

Lemma E_large : 9 < E.
Proof. unfold E. assert (Q := exp_ineq1_le (98 / 625 * 100)). lra. Qed.
Lemma p_small : 0 < p < / 10.
Proof. assert (Q := E_large). split; [apply Rinv_0_lt_compat; lra|apply Rinv_lt_contravar; lra]. Qed.
Lemma couple_unit i : (i < 2)%nat -> l2 2 (couple i) = 1.
Proof.
  intros Hi. unfold l2, dot. cbn [sum]. transitivity (sqrt 1); [|apply sqrt_1]. f_equal.
  destruct i as [|[|i]]; try lia; cbn [couple]; lra.
Qed.
Lemma couple_start i a : (i < 2)%nat -> X N 0 i a = couple i a.
Proof.
  intros Hi. change (X N 0) with (fun i => sphere 2 (couple i)). unfold sphere. rewrite (couple_unit i Hi). field.
Qed.
Lemma couple_attention i j : (i < 2)%nat -> (j < 2)%nat -> P N 0 0 i j = if Nat.eqb i j then p else 1 - p.
Proof.
  intros Hi Hj. assert (E9 := E_large).
  assert (X0 : exp (-100) <> 0) by (apply Rgt_not_eq, exp_pos).
  assert (X1 : exp (-100 * (527 / 625)) = exp (-100) * E) by (unfold E; rewrite <- exp_plus; f_equal; lra).
  assert (Lg : forall i j, (i < 2)%nat -> (j < 2)%nat -> exp (logits_of N 0 0 (X N 0) i j) = if Nat.eqb i j then exp
    (-100) else exp (-100) * E).
  { intros a b Ha Hb. rewrite <- X1. unfold logits_of. cbn [N couple_network dim d_qk W_QK key_bias]. rewrite sqrt_1.
    unfold bil, dot. cbn [sum]. fold N. rewrite !couple_start by assumption.
    destruct a as [|[|a]]; try lia; destruct b as [|[|b]]; try lia; cbn [Nat.eqb]; unfold away, eye;
      cbn [Nat.eqb couple]; f_equal; field. }
  unfold P, attention_on, softmax, tilt. cbn [N couple_network tokens edges]. fold N. cbn [sum]. rewrite !Lg by lia.
  unfold p.
  destruct i as [|[|i]]; try lia; destruct j as [|[|j]]; try lia; cbn [Nat.eqb]; field; split; try lra; intro Q;
    apply X0; nra.
Qed.
Lemma couple_sent i a : (i < 2)%nat -> (a < 2)%nat -> sent N 0 (X N 0) i a = z i a.
Proof.
  intros Hi Ha. unfold sent. cbn [N couple_network tokens dim heads skip_of W bias]. fold N. cbn [sum]. fold (P N 0 0).
  unfold vmat. cbn [sum]. rewrite !couple_attention, !couple_start by lia. unfold z, eye.
  destruct i as [|[|i]]; try lia; destruct a as [|[|a]]; try lia; cbn [Nat.eqb couple]; lra.
Qed.
Lemma couple_proper : proper N.
Proof.
  constructor; try (cbn; lia); try (cbn; lra).
  - intros; cbn. now right.
  - intros i Hi. exists 0%nat. split; [cbn; lia|reflexivity].
  - intros _ i Hi. change (0 < l2 2 (couple i)). rewrite couple_unit by exact Hi. lra.
  - intros _ l i Hl Hi. cbn in Hl, Hi. replace l with 0%nat by lia. change (0 < l2 2 (sent N 0 (X N 0) i)).
    unfold l2, dot. cbn [sum].
    rewrite !couple_sent by lia. apply sqrt_lt_R0. cbn [z]. assert (Q := Rle_0_sqr ((1 + 2 * p) * couple i 1%nat)).
    unfold Rsqr in Q. lra.
Qed.

Theorem couple_refutes : ~ statement_folk_lambda_skip.
Proof.
  intro H. destruct p_small as [p0 p9].
  assert (G := H N couple_proper eq_refl eq_refl (fun _ _ => eq_refl) eq_refl
    ltac:(cbn; rewrite Rabs_right; lra) (fun _ _ => eq_refl) I).
  set (r := sqrt (72 / 25 * (72 / 25) + (1 + 2 * p) * (7 / 25) * ((1 + 2 * p) * (7 / 25)))).
  assert (r0 : 72 / 25 <= r) by (unfold r; rewrite <- (sqrt_square (72 / 25)) at 1 by lra; apply sqrt_le_1_alt; nra).
  assert (YE : forall i a, (i < 2)%nat -> (a < 2)%nat -> X N 1 i a = z i a / r).
  { intros i a Hi Ha. change (X N 1) with (fun i => sphere 2 (sent N 0 (X N 0) i)). unfold sphere.
    rewrite couple_sent by assumption. f_equal.
    unfold l2, dot, r. cbn [sum]. rewrite !couple_sent by lia. f_equal. unfold z.
    destruct i as [|[|i]]; try lia; cbn [couple]; ring. }
  assert (M0 : Language.mu (X N 0) = sqrt 2 * (7 / 25)) by (apply (mu_two (24 / 25)); try rewrite couple_start by lia;
    cbn [couple]; lra).
  assert (b0 : 0 <= (1 + 2 * p) * (7 / 25) / r) by (apply Rle_mult_inv_pos; nra).
  assert (M1 : Language.mu (X N 1) = sqrt 2 * ((1 + 2 * p) * (7 / 25) / r)).
  { apply (mu_two (72 / 25 / r)); try exact b0; rewrite YE by lia; unfold z; cbn [couple]; try reflexivity. field. lra.
    }
  assert (S2 : sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra). assert (q0 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (FW : norm_frobenius (W N 0 0) = sqrt 2) by (unfold norm_frobenius, frob, dot; cbn; unfold eye; cbn [Nat.eqb];
    f_equal; lra).
  assert (FP : norm_frobenius (P N 0 0) <= sqrt 2).
  { unfold norm_frobenius. change (tokens N) with 2%nat. unfold frob, dot. cbn [sum]. rewrite !couple_attention by lia.
    cbn [Nat.eqb]. apply sqrt_le_1_alt. nra. }
  assert (FP0 : 0 <= norm_frobenius (P N 0 0)) by apply sqrt_pos.
  rewrite M0, M1, FW in G. change (skip_of N) with 2 in G. rewrite (Rabs_right 2) in G by lra.
  assert (T : (1 + 2 * p) * (7 / 25) / r < 7 / 25 / 2).
  { apply Rmult_lt_reg_r with r; [lra|]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra. nra. }
  set (F := norm_frobenius (P N 0 0)) in *. assert (K : sqrt 2 * F + 2 <= 4) by nra.
  assert (K0 : 0 <= sqrt 2 * F) by (apply Rmult_le_pos; lra).
  set (c := (1 + 2 * p) * (7 / 25) / r) in *. assert (c * (sqrt 2 * F + 2) <= c * 4) by (apply Rmult_le_compat_l; lra).
  nra.
Qed.
End Couple.

Theorem refuted_folk_lambda_skip : ~ statement_folk_lambda_skip.
Proof. exact couple_refutes. Qed.
