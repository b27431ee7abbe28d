(** Registered statements about residuals of networks, as Statements.v prints them. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require dong2021 centred_form own_residual_inf own_gamma_free own_gamma_free_sharp.
From Rankmath Require Import Definitions Functions Norms Softmax Language LanguageFacts NetworkFacts Statements.
Local Open Scope R_scope.

(* ---------- residuals are infima ---------- *)
Lemma residual_le (f : mat -> R) Y x : (forall A, 0 <= f A) -> residual_in f Y <= f (centred Y x).
Proof. intros H. apply (inf_lb _ 0); [intros y [z ->]; apply H|now exists x]. Qed.
Lemma residual_nonneg (f : mat -> R) Y : (forall A, 0 <= f A) -> 0 <= residual_in f Y.
Proof. intros H. apply inf_ge; [now exists (f (centred Y (fun _ => 0))), (fun _ => 0)|]. intros y [z ->]. apply H. Qed.
Lemma residual_center (f : mat -> R) Y x : minimiser f Y x -> residual_in f Y = f (centred Y x).
Proof. intros H. apply inf_is; [now exists x|]. intros y [z ->]. apply H. Qed.
(** Centres as good as wanted: the infimum is approached. *)
Lemma residual_near (f : mat -> R) Y e : (forall A, 0 <= f A) -> 0 < e ->
  exists x, f (centred Y x) < residual_in f Y + e.
Proof.
  intros H0 He. apply Classical_Prop.NNPP. intro N. assert (G : residual_in f Y + e <= residual_in f Y); [|lra].
  apply inf_ge; [now exists (f (centred Y (fun _ => 0))), (fun _ => 0)|]. intros y [z ->]. apply Rnot_lt_le. intro L.
  apply N. now exists z.
Qed.
(** What holds with c t^3 for every t near r holds for r. *)
Lemma cubic_limit a c r : 0 <= c -> 0 <= r -> (forall e, 0 < e <= 1 -> a <= c * (r + e) ^ 3) -> a <= c * r ^ 3.
Proof.
  intros C0 R0 H. apply le_epsilon. intros eps He. set (K := c * (3 * r * r + 3 * r + 1) + 1).
  assert (K0 : 1 <= K) by (unfold K; assert (0 <= c * (3 * r * r + 3 * r + 1)) by (apply Rmult_le_pos; nra); lra).
  set (e := Rmin 1 (eps / K)). assert (E0 : 0 < e) by (apply Rmin_glb_lt; [lra|apply Rdiv_lt_0_compat; lra]).
  assert (E1 : e <= 1) by apply Rmin_l. assert (E2 : e * K <= eps).
  { apply Rle_trans with (eps / K * K); [apply Rmult_le_compat_r; [lra|apply Rmin_r]|right; field; lra]. }
  eapply Rle_trans; [apply (H e); lra|].
  assert (X : (r + e) ^ 3 - r ^ 3 <= (3 * r * r + 3 * r + 1) * e).
  { replace ((r + e) ^ 3 - r ^ 3) with ((3 * r * r + 3 * r * e + e * e) * e) by ring. apply Rmult_le_compat_r; [lra|].
    nra. }
  assert (c * ((r + e) ^ 3 - r ^ 3) <= c * ((3 * r * r + 3 * r + 1) * e)) by (apply Rmult_le_compat_l; lra).
  unfold K in E2. nra.
Qed.

Lemma plain_step N l : proper N -> layernorm_none N -> skip_of N = 0 -> (l < layers N)%nat ->
  X N (S l) = SA (tokens N) (dim N) (layer_of N l) (X N l).
Proof.
  intros PN LN S0 Hl. change (X N (S l)) with (laid N (sent N l (X N l))). unfold laid. rewrite LN.
  apply functional_extensionality; intro i. apply functional_extensionality; intro a. rewrite (sent_is N PN), S0. ring.
Qed.
Lemma padded_heads N l : proper N -> mask_padding N -> forall h, (h < nheads (layer_of N l))%nat ->
  key_padding (tokens N) (mask (hd (layer_of N l) h)).
Proof. intros PN M h _. apply (padding_is N PN M). Qed.

Theorem proved_own_residual_inf : statement_own_residual_inf.
Proof.
  intros N PN omega M LN _ S0. set (n := tokens N). set (d := dim N).
  assert (C0 : 0 <= omega / sqrt (d_qk N)).
  { apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, (qk_root N PN)].
    eapply Rle_trans; [|apply (largest_ub _ _ 0 (some_layers N PN))].
    apply sum_nonneg; intros h _. apply Rmult_le_pos; apply maxf_pos. }
  apply (cubic_chain (fun l => residual_inf (X N l)) (omega / sqrt (d_qk N)) (layers N) C0).
  - intros l _. apply residual_nonneg. intro; apply maxf_pos.
  - intros l Hl. apply cubic_limit; [exact C0|apply residual_nonneg; intro; apply maxf_pos|]. intros e [E0 E1].
    destruct (residual_near (norminf n d) (X N l) e ltac:(intro; apply maxf_pos) E0) as [x Hx].
    set (w := fun h => norm_inf (W N l h)). set (m := fun h => norm_max (W_QK N l h)).
    assert (B : layer_bounds d (L1 d) (layer_of N l) w (fun h => scale N * m h)).
    { apply (bounds_of N p_1 l w m PN); intros; [apply maxf_pos|apply maxf_pos|apply l1_w|apply l1_m]. }
    eapply Rle_trans; [apply (residual_le (norminf n d) _ (centred_form.new_centre n d (layer_of N l) (X N l) x));
      intro; apply maxf_pos|].
    rewrite (plain_step N l PN LN S0 Hl). fold n d.
    eapply Rle_trans; [apply (own_residual_inf.residual_any_centre n d (L1 d) (layer_of N l) w (fun h => scale N * m h)
      (some_tokens N PN) B (padded_heads N l PN M) (X N l) x)|].
    set (r := rowmax n (L1 d) (centred (X N l) x)). change (r < residual_inf (X N l) + e) in Hx.
    assert (R0 : 0 <= r) by apply maxf_pos.
    eapply Rle_trans; [apply Rmult_le_compat_l; [exact R0|apply (own_residual_inf.res_rate_cubic d (L1 d) _ _ _ B)]|].
    rewrite (kappa_of N l w m PN). assert (Q := qk_root N PN).
    replace (r * (4 * (sum (heads N) (fun h => w h * m h) / (4 * sqrt (d_qk N))) * r ^ 2))
      with (sum (heads N) (fun h => m h * w h) / sqrt (d_qk N) * r ^ 3).
    2: { rewrite (sum_ext (heads N) (fun h => m h * w h) (fun h => w h * m h)) by (intros; ring). field. lra. }
    apply Rmult_le_compat; [|apply pow_le; exact R0| |apply pow_incr; split; [exact R0|left; exact Hx]].
    + apply Rmult_le_pos; [apply sum_nonneg; intros; apply Rmult_le_pos; apply maxf_pos|left;
        now apply Rinv_0_lt_compat].
    + apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
      apply (largest_ub (layers N) (fun l => sum (heads N) (fun h => norm_max (W_QK N l h) * norm_inf (W N l h))) l Hl).
Qed.

(* ---------- about the centres of the composite residual ---------- *)
Section Centre.
Variables (N : network) (x : vec) (l h : nat).
Hypothesis PN : proper N.
Hypothesis MN : mask_none N.
Let n := tokens N.
Let d := dim N.
Let hh := hd (layer_of N l) h.

Lemma c_of_is j : centred_form.c_of d d hh x (centred (X N l) x) j =
  (bil d x (W_QK N l h) (centred (X N l) x j) + dot d (centred (X N l) x j) (key_bias N l h)) / sqrt (d_qk N).
Proof.
  unfold centred_form.c_of, hh. cbn [layer_of hd WQ WK bQ].
  rewrite (sum_ext d _ (fun c => scale N * (vmat d x (W_QK N l h) c * centred (X N l) x j c + centred (X N l) x j c *
    key_bias N l h c))).
  - rewrite sum_scal, sum_plus. unfold d. rewrite (scale_out N PN). rewrite bil_dot. reflexivity.
  - intros c Hc. unfold d. rewrite (vmat_eye N), (vmat_scaled N) by exact Hc. ring.
Qed.

Lemma q_of_is : centred_form.q_of n d d hh x (centred (X N l) x) = centred_shares N x l h.
Proof.
  unfold centred_form.q_of, centred_shares, shares. replace (mask hh 0%nat) with (fun _ : nat => 1).
  - f_equal. apply functional_extensionality; intro j. apply c_of_is.
  - apply functional_extensionality; intro j. unfold hh. cbn [layer_of hd mask]. now rewrite MN.
Qed.

Lemma E_of_is i j : centred_form.E_of d d hh (centred (X N l) x) i j = tilts N x l h i j.
Proof.
  unfold centred_form.E_of, tilts, hh, d. rewrite (bil_WQK N). apply (scale_out N PN).
Qed.

Lemma D_of_is i : centred_form.D_of n d d hh (X N l) x i = oscillation N x l h i.
Proof.
  unfold centred_form.D_of, oscillation. rewrite q_of_is.
  replace (centred_form.E_of d d hh (centred (X N l) x) i) with (tilts N x l h i) by (symmetry;
    apply functional_extensionality; intro; apply E_of_is).
  assert (Hn := some_tokens N PN). apply Rle_antisym.
  - apply centred_form.osc_lub; [now apply osc_nonneg|]. intros j k Hj Hk _ _. now apply osc_spec.
  - unfold osc. destruct (largest_attained n (tilts N x l h i) Hn) as [j [Hj Ej]].
    destruct (least_attained n (tilts N x l h i) Hn) as [k [Hk Ek]].
    fold n. rewrite Ej, Ek. apply centred_form.osc_ub; auto; now apply shares_pos.
Qed.

Lemma delta_of_is : centred_form.delta_of n d d hh (X N l) x = largest n (oscillation N x l h).
Proof.
  unfold centred_form.delta_of. rewrite largest_maxf; [apply maxf_ext; intros; apply D_of_is|].
  intros j _. apply osc_nonneg. apply (some_tokens N PN).
Qed.
Lemma qmax_of_is : centred_form.qmax_of n d d hh (X N l) x = largest n (centred_shares N x l h).
Proof.
  unfold centred_form.qmax_of. rewrite q_of_is. rewrite largest_maxf; [reflexivity|]. intros j _. left.
  apply shares_pos, (some_tokens N PN).
Qed.
End Centre.

Lemma gamma_is N center l h : proper N -> mask_none N ->
  centred_form.gamma_of (tokens N) (dim N) (dim N) (hd (layer_of N l) h) (X N l) (center l) = gamma N center l h.
Proof.
  intros PN MN. unfold centred_form.gamma_of, gamma. rewrite delta_of_is, qmax_of_is by assumption.
  rewrite (sum_ext (tokens N) _ (oscillation N (center l) l h)) by (intros; now apply D_of_is).
  fold (delta_composite N center l h) (q_max_composite N center l h).
  destruct Req_EM_T as [E|_]; [|reflexivity]. rewrite (sum_ext _ (oscillation N (center l) l h) (fun _ => 0)).
  - rewrite sum_zero. unfold Rdiv. rewrite !Rmult_0_l. apply sqrt_0.
  - intros i Hi. apply Rle_antisym; [|apply osc_nonneg, (some_tokens N PN)]. rewrite <- E. now apply largest_ub.
Qed.

(** The bound over all layers, from one for the constant of every layer. *)
Definition B_at (N : network) (l : nat) : R := sqrt (sum (heads N) (fun h => norm_1 (W_QK N l h) * norm_1 (W N l h))
  * sum (heads N) (fun h => norm_1 (W_QK N l h) * norm_inf (W N l h))).

Lemma B_of_is N l : proper N -> dong2021.B_of (dim N) (layer_of N l) = scale N * B_at N l.
Proof.
  intros PN. assert (S := scale_pos N PN). unfold B_at.
  change (sqrt (sum (heads N) (fun h => norm1 (dim N) (dim N) (WQK (dim N) (hd (layer_of N l) h)) * norm1 (dim N) (dim
    N) (W N l h)))
    * sqrt (sum (heads N) (fun h => norm1 (dim N) (dim N) (WQK (dim N) (hd (layer_of N l) h)) * norminf (dim N) (dim N)
        (W N l h)))
    = scale N * sqrt (sum (heads N) (fun h => norm_1 (W_QK N l h) * norm_1 (W N l h))
      * sum (heads N) (fun h => norm_1 (W_QK N l h) * norm_inf (W N l h)))).
  assert (E : forall f : nat -> R, sum (heads N) (fun h => norm1 (dim N) (dim N) (WQK (dim N) (hd (layer_of N l) h)) *
    f h)
    = scale N * sum (heads N) (fun h => norm_1 (W_QK N l h) * f h)).
  { intro f. rewrite <- sum_scal. apply sum_ext; intros h _. rewrite (norm1_WQK N PN). unfold norm_1. ring. }
  rewrite (E (fun h => norm1 (dim N) (dim N) (W N l h))), (E (fun h => norminf (dim N) (dim N) (W N l h))).
  unfold norm_1, norm_inf.
  set (a := sum (heads N) (fun h => norm1 (dim N) (dim N) (W_QK N l h) * norm1 (dim N) (dim N) (W N l h))).
  set (b := sum (heads N) (fun h => norm1 (dim N) (dim N) (W_QK N l h) * norminf (dim N) (dim N) (W N l h))).
  assert (A0 : 0 <= a) by (apply sum_nonneg; intros; apply Rmult_le_pos; apply maxf_pos).
  rewrite <- sqrt_mult_alt by (apply Rmult_le_pos; lra). replace (scale N * a * (scale N * b)) with (scale N * scale N
    * (a * b)) by ring.
  rewrite sqrt_mult_alt by nra. rewrite sqrt_square by lra. reflexivity.
Qed.

Lemma composite_bound N center xs g c : proper N -> are_centers N center -> is_x_star xs -> mask_none N ->
  layernorm_none N -> skip_of N = 0 ->
  (forall l, (l < layers N)%nat -> largest (heads N) (fun h => delta_composite N center l h) <= xs) ->
  (forall l h, (l < layers N)%nat -> (h < heads N)%nat -> gamma N center l h <= g) -> 0 <= g -> 0 <= c ->
  (forall l, (l < layers N)%nat -> 2 * g * B_at N l / sqrt (d_qk N) <= c) ->
  residual_composite (X N (layers N)) <= c ^ ((3 ^ layers N - 1) / 2) * residual_composite (X N 0) ^ (3 ^ layers N).
Proof.
  intros PN CN XS MN LN S0 Sm Gm g0 c0 Bm.
  unfold residual_composite. rewrite (residual_center _ _ (center (layers N)) (CN (layers N) (le_n _))),
    (residual_center _ _ (center 0%nat) (CN 0%nat (Nat.le_0_l _))).
  assert (MP := none_is_padding N MN).
  assert (Ha : forall l, (l < layers N)%nat -> att (block_of N l) = layer_of N l) by (intros l Hl; cbn;
    unfold layer_at; now rewrite last_layer_same).
  rewrite (X_net N PN (layers N)) by lia.
  apply (dong2021.composite_depth (tokens N) (dim N) (block_of N) (fun _ => 1) (X N 0) center g (layers N)); auto.
  - apply (some_tokens N PN).
  - intro l. apply (some_dim N PN).
  - intros l h _. apply (padding_is N PN MP).
  - intro l. rewrite (tok_none N l LN). apply dong2021.id_composite.
  - intros l Hl. rewrite <- (X_net N PN l Hl). now apply CN.
  - intros xs' l h XS' Hl Hh. rewrite <- (X_net N PN l) by lia. rewrite Ha by exact Hl.
    change (dqk (layer_of N l)) with (dim N).
    rewrite (delta_of_is N (center l) l h PN MN). fold (delta_composite N center l h).
    assert (E : xs' = xs).
    { destruct dong2021.x_star_spec as [x0 [_ [_ [U _]]]]. rewrite (U xs' XS'). symmetry. apply U. exact XS. }
    rewrite E. eapply Rle_trans; [|apply (Sm l Hl)]. apply (largest_ub (heads N) (fun h => delta_composite N center l
      h) h). exact Hh.
  - intros l h Hl Hh. rewrite <- (X_net N PN l) by lia. rewrite Ha by exact Hl.
    change (dqk (layer_of N l)) with (dim N).
    rewrite (gamma_is N center l h PN MN). now apply Gm.
  - intros l Hl. rewrite Ha by exact Hl. rewrite (B_of_is N l PN). change (dqk (layer_of N l)) with (dim N).
    eapply Rle_trans; [|apply (Bm l Hl)]. right. assert (A := dim_root N PN). assert (B := qk_root N PN). unfold scale.
    field. lra.
Qed.

Section Composite.
Variables (N : network) (center : nat -> vec) (xs : R).
Hypothesis PN : proper N.
Hypothesis CN : are_centers N center.
Hypothesis XS : is_x_star xs.
Hypothesis MN : mask_none N.
Hypothesis LN : layernorm_none N.
Hypothesis S0 : skip_of N = 0.
Hypothesis Sm : forall l, (l < layers N)%nat -> largest (heads N) (fun h => delta_composite N center l h) <= xs.
Let gs := largest (layers N) (fun l => largest (heads N) (fun h => gamma N center l h)).

Lemma gs_bound l h : (l < layers N)%nat -> (h < heads N)%nat -> gamma N center l h <= gs.
Proof.
  intros Hl Hh. eapply Rle_trans; [|apply (largest_ub (layers N) (fun l => largest (heads N) (fun h => gamma N center l
    h)) l Hl)].
  apply (largest_ub (heads N) (fun h => gamma N center l h) h Hh).
Qed.
Lemma gs_nonneg : 0 <= gs.
Proof.
  eapply Rle_trans; [|apply (gs_bound 0 0 (some_layers N PN) (some_heads N PN))]. unfold gamma.
  destruct Req_EM_T; [lra|apply sqrt_pos].
Qed.
Lemma constant_bound k b B : 2 <= k -> 0 <= b <= B -> 2 * gs * b / sqrt (d_qk N) <= k * gs * B / sqrt (d_qk N).
Proof.
  intros Hk Hb. assert (Q := qk_root N PN). assert (G := gs_nonneg).
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
  apply Rmult_le_compat; try nra.
Qed.
Lemma constant_nonneg k B : 0 <= k -> 0 <= B -> 0 <= k * gs * B / sqrt (d_qk N).
Proof.
  intros Hk HB. assert (Q := qk_root N PN). assert (G := gs_nonneg).
  apply Rmult_le_pos; [|left; now apply Rinv_0_lt_compat].
  apply Rmult_le_pos; [now apply Rmult_le_pos|exact HB].
Qed.

Lemma composite_with k : 2 <= k ->
  residual_composite (X N (layers N)) <= (k * gs * largest (layers N) (B_at N) / sqrt (d_qk N)) ^ ((3 ^ layers N - 1) /
    2)
    * residual_composite (X N 0) ^ (3 ^ layers N).
Proof.
  intros Hk. assert (B0 : forall l, 0 <= B_at N l) by (intro; apply sqrt_pos).
  apply (composite_bound N center xs gs); auto; [intros; now apply gs_bound|apply gs_nonneg| |].
  - apply constant_nonneg; [lra|]. eapply Rle_trans; [apply (B0 0%nat)|apply (largest_ub _ _ 0 (some_layers N PN))].
  - intros l Hl. apply constant_bound; [exact Hk|]. split; [apply B0|now apply largest_ub].
Qed.
End Composite.

Theorem proved_own_composite : statement_own_composite.
Proof. intros N PN xs XS center CN gs B Sm MN LN _ S0. now apply (composite_with N center xs PN CN XS MN LN S0 Sm 2
  ltac:(lra)). Qed.

Theorem proved_dong2021_2_3 : statement_dong2021_2_3.
Proof. intros N PN xs XS center CN gs B Sm MN LN _ S0. now apply (composite_with N center xs PN CN XS MN LN S0 Sm 4
  ltac:(lra)). Qed.

Theorem proved_dong2021_2_2 : statement_dong2021_2_2.
Proof.
  intros N PN xs XS center CN gs beta H1 Sm MN LN _ S0.
  assert (E : forall l, B_at N l = norm_1 (W_QK N l 0%nat) * norm_composite (W N l 0%nat)).
  { intro l. unfold B_at. rewrite H1. cbn [sum]. rewrite !Rplus_0_l. unfold norm_composite, comp, norm_1, norm_inf.
    set (a := norm1 (dim N) (dim N) (W_QK N l 0%nat)). assert (A0 : 0 <= a) by apply maxf_pos.
    set (u := norm1 (dim N) (dim N) (W N l 0%nat)). set (v := norminf (dim N) (dim N) (W N l 0%nat)).
    replace (a * u * (a * v)) with (a * a * (u * v)) by ring. rewrite sqrt_mult_alt by nra. now rewrite sqrt_square. }
  assert (Bb : beta = largest (layers N) (B_at N)).
  { unfold beta. apply largest_ext; intros l Hl. rewrite H1. rewrite E. reflexivity. }
  rewrite Bb. now apply (composite_with N center xs PN CN XS MN LN S0 Sm 4 ltac:(lra)).
Qed.

(* ---------- one layer, without gamma ---------- *)
Section OneLayer.
Variables (N : network) (center : nat -> vec).
Hypothesis PN : proper N.
Hypothesis CN : are_centers N center.
Hypothesis MN : mask_none N.
Hypothesis LN : layernorm_none N.
Hypothesis S0 : skip_of N = 0.
Hypothesis L1 : layers N = 1%nat.
Let n := tokens N.
Let d := dim N.

Lemma rho_is : comp n d (centred (X N 0) (center 0%nat)) = residual_composite (X N 0).
Proof. symmetry. apply residual_center. apply (CN 0%nat). lia. Qed.
Lemma next_residual : residual (comp n d) (SA n d (layer_of N 0) (X N 0)) (residual_composite (X N 1)).
Proof.
  assert (E := plain_step N 0 PN LN S0 (some_layers N PN)). fold n d in E. rewrite <- E. exists (center 1%nat).
  assert (C1 := CN 1%nat ltac:(lia)). split; [exact C1|]. symmetry. now apply residual_center.
Qed.
Lemma one_padding : forall h, (h < nheads (layer_of N 0))%nat -> key_padding n (mask (hd (layer_of N 0) h)).
Proof. apply padded_heads; [exact PN|now apply none_is_padding]. Qed.
End OneLayer.

Lemma sqrt_over a b : 0 <= a -> 0 < b -> sqrt (a / b) = sqrt a / sqrt b.
Proof. intros A B. apply sqrt_div_alt. exact B. Qed.

Theorem proved_own_gamma_free : statement_own_gamma_free.
Proof.
  intros N PN center CN delta columns rows L1 MN LN _ S0. assert (Hh := some_heads N PN).
  assert (D0 : 0 <= delta).
  { eapply Rle_trans; [|apply (largest_ub (heads N) (fun h => delta_composite N center 0 h) 0 Hh)]. cbv beta.
    eapply Rle_trans; [|apply (largest_ub (tokens N) (oscillation N (center 0%nat) 0 0) 0 (some_tokens N PN))].
    apply osc_nonneg, (some_tokens N PN). }
  assert (G := own_gamma_free.gamma_free (tokens N) (dim N) (layer_of N 0) (X N 0) (center 0%nat) (some_tokens N PN)
    (some_dim N PN)
    (one_padding N PN MN) delta (residual_composite (X N 1)) D0).
  assert (H1 : forall h, (h < heads N)%nat -> centred_form.delta_of (tokens N) (dim N) (dim N) (hd (layer_of N 0) h) (X
    N 0) (center 0%nat) <= delta).
  { intros h H. rewrite (delta_of_is N (center 0%nat) 0 h PN MN).
    apply (largest_ub (heads N) (fun h => delta_composite N center 0 h) h H). }
  specialize (G H1 (next_residual N center PN CN LN S0 L1)). eapply Rle_trans; [exact G|].
  rewrite (rho_is N center CN L1). apply Rmult_le_compat_r; [apply pow_le, residual_nonneg; intro; apply comp_pos|].
  assert (S := scale_pos N PN). assert (A := dim_root N PN). assert (B := qk_root N PN).
  change (dqk (layer_of N 0)) with (dim N). change (nheads (layer_of N 0)) with (heads N).
  rewrite (sum_ext (heads N) _ (fun h => scale N * (q_max_composite N center 0 h * norm_1 (W_QK N 0 h) * norm_1 (W N 0
    h)))).
  2: { intros h _. rewrite (norm1_WQK N PN), (qmax_of_is N (center 0%nat) 0 h PN MN). unfold norm_1, q_max_composite.
       cbn [layer_of hd WV]. ring. }
  rewrite (sum_ext (heads N) (fun h => norm1 (dim N) (dim N) (WQK (dim N) (hd (layer_of N 0) h)) * norminf (dim N) (dim
    N) (WV (hd (layer_of N 0) h)))
    (fun h => scale N * (norm_1 (W_QK N 0 h) * norm_inf (W N 0 h)))).
  2: { intros h _. rewrite (norm1_WQK N PN). unfold norm_1, norm_inf. cbn [layer_of hd WV]. ring. }
  rewrite !sum_scal. fold columns rows.
  assert (Q0 : forall h, 0 <= q_max_composite N center 0 h).
  { intro h. eapply Rle_trans; [|apply (largest_ub (tokens N) (centred_shares N (center 0%nat) 0 h) 0 (some_tokens N
      PN))]. left. apply shares_pos, (some_tokens N PN). }
  assert (C0 : 0 <= columns) by (apply sum_nonneg; intros; apply Rmult_le_pos; [apply Rmult_le_pos;
    [apply Q0|apply maxf_pos]|apply maxf_pos]).
  assert (R0 : 0 <= rows) by (apply sum_nonneg; intros; apply Rmult_le_pos; apply maxf_pos).
  assert (E1 := expc_ge1 delta D0). change (Functions.expc delta) with (expc delta) in *.
  replace (2 * expc delta / d_qk N * columns * rows) with (2 * expc delta * columns * rows / d_qk N) by (field;
    apply Rgt_not_eq, (some_d_qk N PN)).
  rewrite sqrt_over by (try apply (some_d_qk N PN); repeat apply Rmult_le_pos; lra).
  rewrite (sqrt_mult_alt (2 * expc delta * columns) rows) by (repeat apply Rmult_le_pos; lra).
  rewrite (sqrt_mult_alt (2 * expc delta) columns) by lra.
  rewrite (sqrt_mult_alt (scale N) columns), (sqrt_mult_alt (scale N) rows) by lra.
  right. assert (SS : sqrt (scale N) * sqrt (scale N) = scale N) by (apply sqrt_sqrt; lra).
  transitivity (sqrt (2 * expc delta) * sqrt columns * sqrt rows * (sqrt (scale N) * sqrt (scale N)) / sqrt (INR (dim
    N))); [field; lra|].
  rewrite SS. unfold scale. field. lra.
Qed.

Lemma one_head_setting N center h : proper N -> mask_none N -> (h < heads N)%nat ->
  centred_form.delta_of (tokens N) (dim N) (dim N) (hd (layer_of N 0) h) (X N 0) (center 0%nat) = delta_composite N
    center 0 h /\
  centred_form.qmax_of (tokens N) (dim N) (dim N) (hd (layer_of N 0) h) (X N 0) (center 0%nat) = q_max_composite N
    center 0 h.
Proof. intros PN MN _. split; [apply (delta_of_is N (center 0%nat) 0 h PN MN)|apply (qmax_of_is N (center 0%nat) 0 h PN
  MN)]. Qed.

Lemma delta_nonneg N center l h : proper N -> 0 <= delta_composite N center l h.
Proof.
  intros PN. eapply Rle_trans; [|apply (largest_ub (tokens N) (oscillation N (center l) l h) 0 (some_tokens N PN))].
  apply osc_nonneg, (some_tokens N PN).
Qed.
Lemma q_max_nonneg N center l h : proper N -> 0 <= q_max_composite N center l h.
Proof.
  intros PN. eapply Rle_trans; [|apply (largest_ub (tokens N) (centred_shares N (center l) l h) 0 (some_tokens N PN))].
  left. apply shares_pos, (some_tokens N PN).
Qed.

Theorem proved_own_gamma_free_one_head : statement_own_gamma_free_one_head.
Proof.
  intros N PN center CN delta H1 L1 MN LN _ S0. assert (Hh := some_heads N PN).
  assert (G := own_gamma_free.gamma_free_one_head (tokens N) (dim N) (layer_of N 0) (X N 0) (center 0%nat) (some_tokens
    N PN) (some_dim N PN)
    (one_padding N PN MN) (residual_composite (X N 1)) H1 (next_residual N center PN CN LN S0 L1)). cbv zeta in G.
  change (dqk (layer_of N 0)) with (dim N) in G. destruct (one_head_setting N center 0 PN MN Hh) as [Ed Eq].
  rewrite Ed, Eq, (rho_is N center CN L1), (norm1_WQK N PN) in G.
  fold delta in G. eapply Rle_trans; [exact G|]. right. f_equal.
  assert (S := scale_pos N PN). assert (A := dim_root N PN). assert (B := qk_root N PN).
  assert (D0 : 0 <= delta) by (apply delta_nonneg; exact PN). assert (E1 := expc_ge1 delta D0).
  assert (T0 : 0 <= tanhc (delta / 4)) by (apply tanhc_nonneg; lra).
  assert (Q0 := q_max_nonneg N center 0 0 PN). change (Functions.expc delta) with (expc delta) in *.
  change (Functions.tanhc (delta / 4)) with (tanhc (delta / 4)) in *.
  rewrite sqrt_over by (try apply (some_d_qk N PN); repeat apply Rmult_le_pos; lra).
  rewrite (sqrt_mult_alt (2 * expc delta * tanhc (delta / 4))) by (apply Rmult_le_pos; lra).
  replace (tanhc (delta / 4) * (2 * expc delta)) with (2 * expc delta * tanhc (delta / 4)) by ring.
  unfold norm_1, norm_composite, scale. cbn [layer_of hd WV]. field. lra.
Qed.

Theorem proved_own_gamma_free_sharp : statement_own_gamma_free_sharp.
Proof.
  intros N PN center CN kappa H1 L1 MN LN _ S0. assert (Hh := some_heads N PN).
  assert (G := own_gamma_free_sharp.gamma_free_sharp (tokens N) (dim N) (layer_of N 0) (X N 0) (center 0%nat)
    (residual_composite (X N 1))
    (some_tokens N PN) (some_dim N PN) H1 (one_padding N PN MN 0%nat Hh) (next_residual N center PN CN LN S0 L1)).
    cbv zeta in G.
  change (dqk (layer_of N 0)) with (dim N) in G. destruct (one_head_setting N center 0 PN MN Hh) as [Ed Eq].
  rewrite Ed, Eq, (rho_is N center CN L1), (norm1_WQK N PN) in G.
  change (Functions.expc (delta_composite N center 0 0)) with kappa in G. eapply Rle_trans; [exact G|]. right. f_equal.
  assert (S := scale_pos N PN). assert (A := dim_root N PN). assert (B := qk_root N PN).
  assert (D0 := delta_nonneg N center 0 0 PN). assert (E1 := expc_ge1 _ D0).
  change (Functions.expc (delta_composite N center 0 0)) with kappa in E1.
  assert (Q0 := q_max_nonneg N center 0 0 PN).
  rewrite sqrt_over by (try apply (some_d_qk N PN); repeat apply Rmult_le_pos; nra).
  unfold norm_1, norm_composite, scale. cbn [layer_of hd WV]. field. lra.
Qed.
