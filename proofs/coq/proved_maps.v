(** dong2021:3.2, as Statements.v prints it, and the slopes of activations. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require dong2021 centred_form.
From Rankmath Require Import Definitions Functions Norms Softmax Language LanguageFacts NetworkFacts proved_residuals.
From Rankmath Require Import Statements IntervalZ.
Local Open Scope R_scope.

Lemma slope_nonneg N l : 0 <= slope N l.
Proof.
  assert (B := slope_bounds N l 1 0). rewrite Rminus_0_r, Rabs_R1, Rmult_1_r in B.
  eapply Rle_trans; [apply Rabs_pos|exact B].
Qed.

(** Entry by entry the map moves by at most |x − y|(s|W₁||W₂| + |a|I). *)
Lemma map_moves (N : fed) l x y b : mapped N l = true -> (b < dim N)%nat ->
  Rabs (token_map N l x b - token_map N l y b) <= sum (dim N) (fun a => Rabs (x a - y a) *
    (slope N l * sum (width N l) (fun c => Rabs (W_in N l a c) * Rabs (W_out N l c b))
      + Rabs (kept_part N l) * eye a b)).
Proof.
  intros Hm Hb. unfold token_map. rewrite Hm. assert (S0 := slope_nonneg N l).
  set (f := fun x c => bend N l (vmat (dim N) x (W_in N l) c + b_in N l c)).
  assert (E : sum (width N l) (fun c => f x c * W_out N l c b) + b_out N l b + kept_part N l * x b
    - (sum (width N l) (fun c => f y c * W_out N l c b) + b_out N l b + kept_part N l * y b)
    = sum (width N l) (fun c => (f x c - f y c) * W_out N l c b) + kept_part N l * (x b - y b)).
  { rewrite (sum_ext (width N l) (fun c => (f x c - f y c) * W_out N l c b)
      (fun c => f x c * W_out N l c b - f y c * W_out N l c b)) by (intros; ring). rewrite sum_minus. ring. }
  unfold f in E at 1 2. rewrite E. eapply Rle_trans; [apply Rabs_triang|].
  rewrite (sum_ext (dim N) _ (fun a =>
    sum (width N l) (fun c => slope N l * (Rabs (x a - y a) * Rabs (W_in N l a c)) * Rabs (W_out N l c b))
    + Rabs (x a - y a) * Rabs (kept_part N l) * eye a b)).
  2: { intros a _. rewrite (sum_ext (width N l) (fun c => slope N l * (Rabs (x a - y a) * Rabs (W_in N l a c))
         * Rabs (W_out N l c b)) (fun c => Rabs (x a - y a) * slope N l * (Rabs (W_in N l a c) * Rabs (W_out N l c b))))
         by (intros; ring). rewrite sum_scal. ring. }
  rewrite sum_plus. apply Rplus_le_compat.
  - eapply Rle_trans; [apply sum_abs|]. rewrite sum_swap. apply sum_le; intros c _. rewrite sum_scal_r, Rabs_mult.
    apply Rmult_le_compat_r; [apply Rabs_pos|]. rewrite sum_scal. eapply Rle_trans; [apply slope_bounds|].
    apply Rmult_le_compat_l; [exact S0|].
    eapply Rle_trans; [|apply (vmat_abs (dim N) (vsub x y) (W_in N l) c)]. rewrite <- vmat_sub. right. f_equal. ring.
  - rewrite Rabs_mult, (sum_single (dim N) _ b Hb).
    + unfold eye. rewrite Nat.eqb_refl. right; ring.
    + intros a _ Na. unfold eye. apply Nat.eqb_neq in Na. rewrite Na. ring.
Qed.

Lemma map_lipschitz (N : fed) l : dong2021.composite_lipschitz (tokens N) (dim N) (lipschitz N l) (token_map N l).
Proof.
  unfold lipschitz. destruct (mapped N l) eqn:Hm.
  2: { replace (token_map N l) with (fun v : vec => v); [apply dong2021.id_composite|].
       apply functional_extensionality; intro v. unfold token_map. now rewrite Hm. }
  split; [apply comp_pos|]. intros Y y. set (A := fun a b => _ : R). set (D := fun i a => Rabs (centred Y y i a)).
  apply Rle_trans with (comp (tokens N) (dim N) (mmul (dim N) D A)).
  - apply dong2021.monotone_comp. intros i b _ Hb. unfold centred at 1, vsub at 1.
    eapply Rle_trans; [apply (map_moves N l (Y i) y b Hm Hb)|]. apply Rle_abs.
  - eapply Rle_trans; [apply (comp_le _ _ _ _ _ (norm1_mmul _ _ _ D A) (norminf_mmul _ _ _ D A))|].
    replace (norm1 (tokens N) (dim N) D * norm1 (dim N) (dim N) A * (norminf (tokens N) (dim N) D
      * norminf (dim N) (dim N) A)) with (norm1 (dim N) (dim N) A * norminf (dim N) (dim N) A
      * (norm1 (tokens N) (dim N) D * norminf (tokens N) (dim N) D)) by ring.
    rewrite sqrt_mult_alt by (apply Rmult_le_pos; apply maxf_pos). apply Rmult_le_compat_l; [apply sqrt_pos|].
    apply (dong2021.monotone_comp (tokens N) (dim N) D). intros i a _ _. unfold D. rewrite Rabs_Rabsolu. lra.
Qed.

Section Fed.
Variables (N : fed) (center : nat -> vec) (xs : R).
Hypothesis PN : proper N.
Hypothesis LN : layernorm_none N.

Lemma layer_proper l : proper (fed_layer N l).
Proof.
  destruct PN. constructor; cbn [fed_layer tokens dim heads layers d_qk edges lnorm]; try assumption; try lia;
    intros H; rewrite H in *; unfold layernorm_none in LN; congruence.
Qed.
Lemma fed_reads l : X (fed_layer N l) 0 = fed_X N l.
Proof. cbn [X]. unfold laid. cbn [fed_layer lnorm input]. now rewrite LN. Qed.
Definition fed_block (l : nat) : block := {| att := layer_of N l; skip := skip_of N; tok := token_map N l |}.
Lemma fed_net l : fed_X N l = net (tokens N) (dim N) fed_block l (fed_X N 0).
Proof.
  induction l as [|l IH]; [reflexivity|]. cbn [net]. rewrite <- IH. unfold block_map.
  change (fed_X N (S l)) with (laid N (fun i => token_map N l (sent N l (fed_X N l) i))). unfold laid. rewrite LN.
  apply functional_extensionality; intro i. cbn [fed_block tok att skip]. f_equal.
  apply functional_extensionality; intro a. apply (sent_is N).
  exact PN.
Qed.
End Fed.

Theorem proved_dong2021_3_2 : statement_dong2021_3_2.
Proof.
  intros N PN xs XS center CN gs B lf Sm MN LN S0. assert (Hl := some_layers N PN). assert (Hh := some_heads N PN).
  assert (Q := qk_root N PN).
  assert (Gs : forall l h, (l < layers N)%nat -> (h < heads N)%nat -> fed_gamma N center l h <= gs).
  { intros l h Hl' Hh'. eapply Rle_trans; [|apply (largest_ub (layers N) (fun l => largest (heads N) (fun h =>
      fed_gamma N center l h)) l Hl')]. apply (largest_ub (heads N) (fun h => fed_gamma N center l h) h Hh'). }
  assert (G0 : 0 <= gs).
  { eapply Rle_trans; [|apply (Gs 0%nat 0%nat Hl Hh)]. unfold fed_gamma, gamma. destruct Req_EM_T;
    [lra|apply sqrt_pos]. }
  assert (Bs : forall l, (l < layers N)%nat -> B_at N l <= B) by (intros l; apply (largest_ub (layers N) (B_at N))).
  assert (B0 : 0 <= B) by (eapply Rle_trans; [apply sqrt_pos|apply (Bs 0%nat Hl)]).
  assert (Ls : forall l, (l < layers N)%nat -> lipschitz N l <= lf)
    by (intros l; apply (largest_ub (layers N) (fun l => lipschitz N l))).
  assert (L0 : forall l, 0 <= lipschitz N l) by (intro l; apply (map_lipschitz N l)).
  assert (lf0 : 0 <= lf) by (eapply Rle_trans; [apply L0|apply (Ls 0%nat Hl)]).
  assert (MP := none_is_padding N MN). assert (I0 : 0 <= / sqrt (d_qk N)) by (left; now apply Rinv_0_lt_compat).
  unfold residual_composite. rewrite (residual_center _ _ (center (layers N)) (CN (layers N) (le_n _))),
    (residual_center _ _ (center 0%nat) (CN 0%nat (Nat.le_0_l _))), (fed_net N PN LN (layers N)).
  apply (dong2021.composite_depth (tokens N) (dim N) (fed_block N) (fun l => lipschitz N l) (fed_X N 0) center gs
    (layers N)); auto.
  - apply (some_tokens N PN).
  - intro l. apply (some_dim N PN).
  - intros l h _. apply (padding_is N PN MP).
  - intro l. apply map_lipschitz.
  - intros l Hl'. rewrite <- (fed_net N PN LN l). now apply CN.
  - intros xs' l h XS' Hl' Hh'. rewrite <- (fed_net N PN LN l), <- (fed_reads N LN l).
    assert (E : xs' = xs).
    { destruct dong2021.x_star_spec as [x0 [_ [_ [U _]]]]. rewrite (U xs' XS'). symmetry. apply U. exact XS. }
    assert (D := delta_of_is (fed_layer N l) (center l) 0 h (layer_proper N PN LN l) MN).
    rewrite E. eapply Rle_trans; [|apply (Sm l Hl')].
    eapply Rle_trans; [|apply (largest_ub (heads N) (fun h => fed_delta_composite N center l h) h Hh')].
    right. exact D.
  - intros l h Hl' Hh'. rewrite <- (fed_net N PN LN l), <- (fed_reads N LN l).
    eapply Rle_trans; [right; apply (gamma_is (fed_layer N l) (fun _ => center l) 0 h (layer_proper N PN LN l) MN)|].
    now apply Gs.
  - apply Rmult_le_pos; [|exact I0]. repeat apply Rmult_le_pos; lra.
  - intros l Hl'. cbn [fed_block att]. rewrite (B_of_is N l PN). change (dqk (layer_of N l)) with (dim N).
    replace (2 * gs * (scale N * B_at N l) * lipschitz N l / sqrt (INR (dim N)))
      with (2 * gs * B_at N l * lipschitz N l / sqrt (d_qk N)).
    + apply Rmult_le_compat_r; [exact I0|]. assert (Bl := Bs l Hl'). assert (0 <= B_at N l) by apply sqrt_pos.
      apply Rmult_le_compat; [repeat apply Rmult_le_pos; lra|apply L0| |now apply Ls].
      apply Rmult_le_compat; lra.
    + assert (A := dim_root N PN). unfold scale. field. lra.
Qed.

(* ---------- slopes of activations ---------- *)
Lemma slope_of_derivative (f g : R -> R) s : (forall x, is_derive f x (g x)) -> (forall x, Rabs (g x) <= s) ->
  forall x y, Rabs (f x - f y) <= s * Rabs (x - y).
Proof.
  intros D B x y. destruct (MVT_gen f y x g) as [c [_ E]].
  - intros z _. apply D.
  - intros z _. apply continuity_pt_filterlim. apply (ex_derive_continuous f z). exists (g z). apply D.
  - rewrite E, Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|apply B].
Qed.

Theorem slope_relu x y : Rabs (Rmax 0 x - Rmax 0 y) <= 1 * Rabs (x - y).
Proof. unfold Rmax. repeat destruct Rle_dec; unfold Rabs; repeat destruct Rcase_abs; lra. Qed.

Lemma tanh_derivative x : is_derive tanh x (1 - tanh x ^ 2).
Proof.
  apply (is_derive_ext (fun x => 1 - 2 / (exp (2 * x) + 1))); [intro t; symmetry; apply tanh_exp2|].
  assert (E := exp_pos (2 * x)). auto_derive; [lra|]. rewrite tanh_exp2. field. lra.
Qed.
Theorem slope_tanh x y : Rabs (tanh x - tanh y) <= 1 * Rabs (x - y).
Proof.
  apply (slope_of_derivative tanh (fun x => 1 - tanh x ^ 2)); [apply tanh_derivative|]. intro z. apply Rabs_le.
  assert (A := tanh_lt1 z). assert (B : -1 < tanh z).
  { rewrite tanh_exp2. assert (E := exp_pos (2 * z)). assert (2 / (exp (2 * z) + 1) < 2); [|lra].
    apply Rmult_lt_reg_r with (exp (2 * z) + 1); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  nra.
Qed.

(** x/(1 + e^(−x)): the derivative is at most c where c(1 + u)² ≥ 1 + u(1 + x), u = e^(−x), and u x ≤ u(a − 1) +
  e^(−a). *)
Definition silu (x : R) : R := x / (1 + exp (- x)).
Definition silu_slope : R := 109983933 / 100000000.
Lemma silu_point x : exp (- x) * (1 + x) + 1 <= silu_slope * (1 + exp (- x)) ^ 2.
Proof.
  set (a := 2399357 / 1000000). set (u := exp (- x)). assert (U : 0 < u) by apply exp_pos.
  assert (T : u * x <= u * (a - 1) + exp (- a)).
  { assert (E : exp (- a) = u * exp (x - a)) by (unfold u; rewrite <- exp_plus; f_equal; ring). rewrite E.
    assert (G := exp_ineq1_le (x - a)). nra. }
  assert (N : exp (- a) <= 90776304 / 1000000000) by (unfold a; interval with (i_prec 60)).
  assert (S := pow2_ge_0 (2 * silu_slope * u + 2 * silu_slope - a)). unfold a, silu_slope in *. nra.
Qed.
Theorem slope_silu x y : Rabs (silu x - silu y) <= silu_slope * Rabs (x - y).
Proof.
  apply (slope_of_derivative silu (fun x => (1 + exp (- x) * (1 + x)) / (1 + exp (- x)) ^ 2)).
  - intro z. assert (U := exp_pos (- z)). unfold silu. auto_derive; [lra|]. field. lra.
  - intro z. assert (U := exp_pos (- z)). assert (C : silu_slope = 109983933 / 100000000) by reflexivity.
    assert (S : 0 < (1 + exp (- z)) ^ 2) by (apply pow_lt; lra). assert (A := silu_point z).
      assert (B := silu_point (- z)).
    rewrite Ropp_involutive in B. assert (E : exp z * exp (- z) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
    apply Rabs_le. set (u := exp (- z)) in *. set (v := exp z) in *.
    assert (L : u * (1 - z) + u ^ 2 <= silu_slope * (1 + u) ^ 2).
    { apply Rmult_le_compat_r with (r := u ^ 2) in B; [|apply pow2_ge_0].
      replace ((v * (1 + - z) + 1) * u ^ 2) with (v * u * u * (1 - z) + u ^ 2) in B by ring.
      replace (silu_slope * (1 + v) ^ 2 * u ^ 2) with (silu_slope * (u + v * u) ^ 2) in B by ring.
      rewrite E in B. replace (1 + u) with (u + 1) by ring. lra. }
    split; apply Rmult_le_reg_r with ((1 + u) ^ 2); try exact S; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; nra.
Qed.
(** x/(1 + e^(−1.702x)) *)
Definition quick_gelu (x : R) : R := x / (1 + exp (- (1702 * x / 1000))).
Theorem slope_quick_gelu x y : Rabs (quick_gelu x - quick_gelu y) <= silu_slope * Rabs (x - y).
Proof.
  set (k := 1702 / 1000). assert (K : 0 < k) by (unfold k; lra).
  assert (E : forall z, quick_gelu z = silu (k * z) / k).
  { intro z. assert (U := exp_pos (- (k * z))). unfold quick_gelu, silu.
    replace (1702 * z / 1000) with (k * z) by (unfold k; field). field. lra. }
  rewrite !E. replace (silu (k * x) / k - silu (k * y) / k) with ((silu (k * x) - silu (k * y)) * / k) by (field; lra).
  rewrite Rabs_mult, (Rabs_right (/ k)) by (left; now apply Rinv_0_lt_compat).
  apply Rmult_le_reg_r with k; [exact K|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  eapply Rle_trans; [apply slope_silu|]. right. replace (k * x - k * y) with (k * (x - y)) by ring.
  rewrite Rabs_mult, (Rabs_right k) by lra. ring.
Qed.
