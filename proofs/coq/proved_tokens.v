(** Registered statements about single tokens of a network, as Statements.v prints them: the causal mask, a repeated
  last token,
    coordinates that no head writes. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality Classical.
From Coquelicot Require Import Coquelicot.
From Rankmath Require barbero2024 own_lipschitz.
From Rankmath Require Import Definitions Functions Norms Softmax Language LanguageFacts NetworkFacts Statements.
Local Open Scope R_scope.

(* ---------- the causal mask ---------- *)
(** The network with the causal mask beyond its tokens, too. *)
Definition causal_form (N : network) : network := {| tokens := tokens N; dim := dim N; heads := heads N;
  layers := layers N; d_qk := d_qk N; skip_of := skip_of N; lnorm := lnorm N; W := W N; W_QK := W_QK N;
  key_bias := key_bias N; bias := bias N; edges := causal; input := input N |}.

Section Causal.
Variable N : network.
Hypothesis PN : proper N.
Hypothesis M : mask_causal N.
Hypothesis LN : layernorm_none N.
Let n := tokens N.
Let d := dim N.
Let N' := causal_form N.

Lemma attention_causal l h (Y Y' : mat) i j : (forall i a, (i < n)%nat -> Y i a = Y' i a) -> (i < n)%nat -> (j <
  n)%nat ->
  attention_on N l h Y i j = attention_on N' l h Y' i j.
Proof.
  intros E Hi Hj. unfold attention_on. apply tilt_ext; [|  |exact Hj].
  - intros k Hk. now apply M.
  - intros k Hk. unfold logits_of, bil, dot. change (dim N') with (dim N). do 2 f_equal.
    + apply sum_ext; intros a _. apply sum_ext; intros b _. now rewrite (E i a Hi), (E k b Hk).
    + apply sum_ext; intros a _. now rewrite (E k a Hk).
Qed.
Lemma sent_causal l (Y Y' : mat) i b : (forall i a, (i < n)%nat -> Y i a = Y' i a) -> (i < n)%nat -> sent N l Y i b =
  sent N' l Y' i b.
Proof.
  intros E Hi. unfold sent. change (skip_of N') with (skip_of N). change (bias N' l b) with (bias N l b).
    rewrite (E i b Hi). do 2 f_equal.
  change (heads N') with (heads N). apply sum_ext; intros h _. change (W N' l h) with (W N l h). apply vmat_ext.
    intros a _.
  unfold vmat. apply sum_ext; intros j Hj. rewrite (E j a Hj). f_equal. now apply attention_causal.
Qed.
Lemma X_causal l : forall i a, (i < n)%nat -> X N l i a = X N' l i a.
Proof.
  induction l as [|l IH]; intros i a Hi; [reflexivity|]. cbn [X]. unfold laid. change (lnorm N') with (lnorm N).
    rewrite LN.
  now apply sent_causal.
Qed.
Lemma P_causal l h i j : (i < n)%nat -> (j < n)%nat -> P N l h i j = P N' l h i j.
Proof. intros Hi Hj. apply attention_causal; auto. intros k a Hk. now apply X_causal. Qed.
Lemma diameter_causal l p : diameter (X N l) p = diameter (X N' l) p.
Proof.
  unfold diameter, diam. apply maxf_ext; intros i Hi. apply maxf_ext; intros k Hk. rewrite <- !norm_of_is.
    apply sn_ext. intro a.
  unfold vsub. now rewrite !X_causal.
Qed.
Lemma causal_form_proper : proper N'.
Proof.
  constructor; try apply PN; try (intros i j _ _; cbn; unfold causal; destruct (Nat.leb j i); now auto);
    try (intro L; cbn in L; unfold layernorm_none in LN; congruence).
  intros i Hi. exists i. split; [exact Hi|]. cbn. unfold causal. now rewrite Nat.leb_refl.
Qed.
End Causal.

Lemma repeated_proper N : proper N -> layernorm_none N -> proper (with_last_repeated N).
Proof.
  intros PN LN. constructor; try apply PN; try (cbn; lia); try (intros i j _ _; cbn; unfold causal;
    destruct (Nat.leb j i); now auto);
    try (intro L; cbn in L; unfold layernorm_none in LN; congruence).
  intros i Hi. exists i. split; [exact Hi|]. cbn. unfold causal. now rewrite Nat.leb_refl.
Qed.

(** What a network's layer is, in the words of the theorems, where nothing is normed. *)
Lemma net_none N : proper N -> layernorm_none N -> block_of N = fun l => {| att := layer_at N l; skip := skip_of N;
  tok := fun v => v |}.
Proof. intros PN LN. apply functional_extensionality; intro l. unfold block_of. now rewrite LN. Qed.

Lemma norm_2_layer N l : proper N -> layer_bounds (dim N) (L2 (dim N)) (layer_of N l) (fun h => norm_2 (W N l h)) (fun
  h => scale N * norm_2 (W_QK N l h)).
Proof.
  intros PN. apply (bounds_of N p_2 l); auto; intros; try apply spectral_nonneg.
  - apply spectral_bound.
  - apply bil_spectral.
Qed.

Lemma X_none N l i b : proper N -> layernorm_none N ->
  X N (S l) i b = skip_of N * X N l i b + SA (tokens N) (dim N) (layer_of N l) (X N l) i b.
Proof. intros PN LN. rewrite <- (sent_is N PN). cbn [X]. unfold laid. now rewrite LN. Qed.

Theorem proved_own_repeat : statement_own_repeat.
Proof.
  intros N PN p M H1 L1 LN _ S0. set (N' := causal_form N). assert (PN' := causal_form_proper N PN LN).
  assert (n0 := some_tokens N PN). assert (B := norm_2_layer N' 0 PN').
  destruct (barbero2024.repeat_last (tokens N) (dim N) (layer_of N' 0) (X N 0) (norm_2 (W N 0%nat 0%nat)) n0 H1 eq_refl
    (fun v => spectral_bound (dim N) (dim N) (W N 0%nat 0%nat) v) (spectral_nonneg _ _ _)) as [A1 A2].
  cbv zeta in A1, A2. change (dqk (layer_of N' 0)) with (dim N) in A1, A2.
  assert (Ep : attn (tokens N) (dim N) (dim N) (hd (layer_of N' 0) 0) (X N 0) (tokens N - 1)%nat (tokens N - 1)%nat =
    p).
  { unfold p, last_share. rewrite (P_causal N M LN) by lia. exact (f_equal (fun A => A (tokens N - 1)%nat (tokens N -
    1)%nat) (attn_is N' PN' 0 0 (X N 0))). }
  rewrite Ep in A1. set (R := with_last_repeated N).
  assert (PR : proper R).
  { now apply repeated_proper. }
  assert (G : repeat_gap N 1 = l2 (dim N) (vsub (SA (tokens N) (dim N) (layer_of N' 0) (X N 0) (tokens N - 1)%nat)
    (SA (tokens N + 1) (dim N) (layer_of N' 0) (barbero2024.repeated (tokens N) (X N 0)) (tokens N)))).
  { unfold repeat_gap. apply (sn_ext (L2 (dim N))). intro a. unfold vsub. f_equal.
    - rewrite (X_causal N M LN) by lia. rewrite (X_none (causal_form N) 0 _ _ PN' LN).
      change (skip_of (causal_form N)) with (skip_of N).
      rewrite S0, Rmult_0_l, Rplus_0_l. reflexivity.
    - rewrite (X_none R 0 _ _ PR LN). change (skip_of R) with (skip_of N). rewrite S0, Rmult_0_l, Rplus_0_l.
      change (tokens R) with (S (tokens N)). rewrite Nat.add_1_r. change (layer_of R 0) with (layer_of N' 0).
      replace (X R 0) with (barbero2024.repeated (tokens N) (X N 0)); [reflexivity|].
      apply functional_extensionality; intro i. unfold barbero2024.repeated. cbn [X]. unfold laid.
      change (lnorm R) with (lnorm N). rewrite LN. reflexivity. }
  unfold diameter. rewrite G. split; [exact A1|exact A2].
Qed.

(* ---------- what the last token sees of another ---------- *)
Section Influence.
Variable N : network.
Hypothesis PN : proper N.
Hypothesis M : mask_causal N.
Hypothesis H1 : heads N = 1%nat.
Hypothesis KB : key_bias_none N.
Hypothesis LN : layernorm_none N.
Let a := norm_2 (W_QK N 0%nat 0%nat) / sqrt (d_qk N).
Definition influence_bound (k : nat) : R := norm_2 (W N 0%nat 0%nat) * (1 + a * longest (X N 0) * diameter (X N 0)
  p_2) * last_share N k +
  is_last N k * (Rabs (skip_of N) + norm_2 (W N 0%nat 0%nat) * a * diameter (X N 0) p_2 ^ 2 / 4).

Lemma influence_along k v : (k < tokens N)%nat -> exists g : vec, (forall b, (b < dim N)%nat ->
  is_derive (fun t => laid N (sent N 0 (fun p q => X N 0 p q + t * (eye k p * v q))) (tokens N - 1)%nat b) 0 (g b)) /\
  l2 (dim N) g <= influence_bound k * l2 (dim N) v.
Proof.
  intros Hk. set (N' := causal_form N). assert (PN' := causal_form_proper N PN LN).
    assert (B := norm_2_layer N' 0 PN').
  destruct (barbero2024.influence (tokens N) (dim N) (layer_of N' 0) (skip_of N) (X N 0) (norm_2 (W N 0%nat 0%nat))
    (scale N * norm_2 (W_QK N 0%nat 0%nat)) k v Hk (some_dim N PN) H1 eq_refl) as [g [Dg Bg]].
  - intro c. cbn. rewrite KB. ring.
  - apply spectral_nonneg.
  - intro u. apply spectral_bound.
  - apply Rmult_le_pos; [left; now apply scale_pos|apply spectral_nonneg].
  - intros u y. assert (Q := m_bound _ _ _ _ _ B 0%nat u y). change (nheads (layer_of N' 0)) with (heads N) in Q.
    apply Q. lia.
  - exists g. split.
    + intros b Hb. eapply is_derive_ext; [|exact (Dg b Hb)]. intro t. cbv beta. unfold laid. rewrite LN.
      rewrite (sent_causal N M 0 _ _ _ b (fun i c Hi => eq_refl)) by lia. symmetry.
        apply (sent_is (causal_form N) PN').
    + eapply Rle_trans; [exact Bg|]. apply Rmult_le_compat_r; [apply l2_nonneg|]. right. unfold influence_bound.
      change (dqk (layer_of N' 0)) with (dim N). rewrite (scale_out N PN). fold a.
      assert (EP : attn (tokens N) (dim N) (dim N) (hd (layer_of N' 0) 0) (X N 0) (tokens N - 1)%nat k = last_share N
        k).
      { unfold last_share. rewrite (P_causal N M LN) by lia. exact (f_equal (fun A => A (tokens N - 1)%nat k) (attn_is
        N' PN' 0 0 (X N 0))). }
      rewrite EP. reflexivity.
Qed.

Lemma influence_set k x : (k < tokens N)%nat -> (exists v : vec, l2 (dim N) v <= 1 /\
  x = l2 (dim N) (fun b => Derive (fun t => laid N (sent N 0 (fun p q => X N 0 p q + t * (eye k p * v q))) (tokens N -
    1)%nat b) 0)) ->
  x <= influence_bound k.
Proof.
  intros Hk [v [Hv ->]]. destruct (influence_along k v Hk) as [g [Dg Bg]].
  assert (E : l2 (dim N) (fun b => Derive (fun t => laid N (sent N 0 (fun p q => X N 0 p q + t * (eye k p * v q)))
    (tokens N - 1)%nat b) 0) = l2 (dim N) g).
  { unfold l2, dot. f_equal. apply sum_ext; intros b Hb. apply f_equal2; exact (is_derive_unique _ _ _ (Dg b Hb)). }
  rewrite E. eapply Rle_trans; [exact Bg|]. assert (K0 : 0 <= influence_bound k); [|nra].
  unfold influence_bound. assert (W0 := spectral_nonneg _ _ (W N 0%nat 0%nat)). assert (Q := qk_root N PN).
  assert (a0 : 0 <= a) by (apply Rle_mult_inv_pos; [apply spectral_nonneg|exact Q]).
  assert (R0 : 0 <= longest (X N 0)) by apply maxf_pos. assert (D0 := diameter_nonneg _ _ (X N 0) p_2).
  assert (S0 : 0 <= last_share N k).
  { unfold last_share, P, attention_on, softmax. apply tilt_nonneg; [|exact Hk].
    destruct (proper_edges N PN (tokens N - 1)%nat ltac:(lia)) as [E0 E1]. now split. }
  assert (I0 : 0 <= is_last N k) by (unfold is_last, eye; destruct Nat.eqb; lra). unfold norm_2.
  apply Rplus_le_le_0_compat.
  - apply Rmult_le_pos; [|exact S0]. apply Rmult_le_pos; [exact W0|]. assert (0 <= a * longest (X N 0)) by (now apply
    Rmult_le_pos). assert (0 <= a * longest (X N 0) * diameter (X N 0) p_2) by (now apply Rmult_le_pos). lra.
  - apply Rmult_le_pos; [exact I0|]. assert (A := Rabs_pos (skip_of N)). assert (0 <= spectral (W N 0%nat 0%nat) * a *
    diameter (X N 0) p_2 ^ 2 / 4); [|lra].
    apply Rle_mult_inv_pos; [|lra]. apply Rmult_le_pos; [now apply Rmult_le_pos|apply pow2_ge_0].
Qed.
End Influence.

Theorem proved_own_influence : statement_own_influence.
Proof.
  intros N PN a M H1 KB LN _ k Hk. unfold influence. apply sup_le.
  - eexists. exists (fun _ => 0). split; [rewrite l2_zero; lra|reflexivity].
  - intros x Hx. exact (influence_set N PN M H1 KB LN k x Hk Hx).
Qed.

(** Two tokens -1 and 1 on the line, W_QK = 4, W = 1. *)
Definition line_network : network := {| tokens := 2; dim := 1; heads := 1; layers := 1; d_qk := 1; skip_of := 1;
  lnorm := false;
  W := fun _ _ _ _ => 1; W_QK := fun _ _ _ _ => 4; key_bias := fun _ _ _ => 0; bias := fun _ _ => 0;
  edges := causal; input := fun i _ => match i with O => -1 | _ => 1 end |}.

Theorem refuted_folk_influence : ~ statement_folk_influence.
Proof.
  intro H. set (N := line_network).
  assert (PN : proper N).
  { constructor; try (cbn; lia); try (cbn; lra); try (intro L; discriminate L).
    - intros i j _ _. cbn. unfold causal. destruct (Nat.leb j i); auto.
    - intros i Hi. exists i. split; [exact Hi|]. cbn. unfold causal. now rewrite Nat.leb_refl. }
  assert (M : mask_causal N) by (intros i j _ _; reflexivity).
  assert (KB : key_bias_none N) by (intros l h a; reflexivity).
  assert (G := H N PN M eq_refl eq_refl eq_refl eq_refl I 0%nat ltac:(cbn; lia)).
  set (e0 := exp (-4)) in *. set (e1 := exp 4) in *. assert (P0 : 0 < e0) by apply exp_pos.
    assert (P1 : 0 < e1) by apply exp_pos.
  assert (Lt : e0 < e1) by (apply exp_increasing; lra).
  assert (L1 : forall u : vec, l2 1 u = Rabs (u 0%nat)) by (intro u; unfold l2, dot; cbn [sum];
    rewrite Rplus_0_l, <- sqrt_Rsqr_abs; reflexivity).
  assert (W1 : norm_2 (W N 0%nat 0%nat) <= 1).
  { apply spectral_le; [lra|]. intro v. change (dim N) with 1%nat. rewrite !L1. right. unfold vmat. cbn.
    rewrite Rmult_1_l. f_equal. ring. }
  assert (Sh : last_share N 0 = e0 / (e0 + e1)).
  { unfold last_share, P, attention_on, softmax, tilt, logits_of, bil, dot. cbn. unfold causal. cbn [Nat.leb].
    rewrite sqrt_1.
    replace ((0 + (0 + 1 * 4 * -1) + (0 + -1 * 0)) / 1) with (-4) by field.
      replace ((0 + (0 + 1 * 4 * 1) + (0 + 1 * 0)) / 1) with 4 by field.
    fold e0 e1. field. lra. }
  assert (De : is_derive (fun t => laid N (sent N 0 (fun p q => X N 0 p q + t * (eye 0%nat p * 1))) 1%nat 0%nat) 0 (e0
    * (e0 - 7 * e1) / ((e0 + e1) * (e0 + e1)))).
  { apply (is_derive_ext (fun h => 1 + (exp (4 * (h - 1)) * (h - 1) + exp 4) / (exp (4 * (h - 1)) + exp 4))).
    - intro t. unfold laid, sent, attention_on, softmax, tilt, logits_of, bil, dot, vmat. cbn. unfold causal, eye.
      cbn [Nat.leb Nat.eqb]. rewrite sqrt_1.
      replace ((0 + (0 + (1 + t * (0 * 1)) * 4 * (-1 + t * (1 * 1))) + (0 + (-1 + t * (1 * 1)) * 0)) / 1) with (4 * (t
        - 1)) by field.
      replace ((0 + (0 + (1 + t * (0 * 1)) * 4 * (1 + t * (0 * 1))) + (0 + (1 + t * (0 * 1)) * 0)) / 1) with 4 by
        field.
      match goal with |- @eq _ ?x ?y => change (@eq R x y) end. field. assert (X1 := exp_pos (4 * (t - 1))).
        assert (Y1 := exp_pos 4). lra.
    - unfold e0, e1. auto_derive.
      + repeat split. apply Rgt_not_eq. assert (X1 := exp_pos (4 * (0 + - (1)))). assert (Y1 := exp_pos 4). lra.
      + replace (4 * (0 + - (1))) with (-4) by ring. fold e0 e1. field. lra. }
  assert (Lo : e0 * (7 * e1 - e0) / ((e0 + e1) * (e0 + e1)) <= influence N 0).
  { eapply Rle_trans; [|apply (sup_ub _ (influence_bound N 0) (Rabs (e0 * (e0 - 7 * e1) / ((e0 + e1) * (e0 + e1)))))].
    - eapply Rle_trans; [|rewrite <- Rabs_Ropp; apply Rle_abs]. right. field. lra.
    - intros y Hy. apply (influence_set N PN M eq_refl KB eq_refl 0%nat y); [cbn; lia|exact Hy].
    - exists (fun _ => 1). change (dim N) with 1%nat. rewrite !L1. split; [rewrite Rabs_R1; lra|].
      f_equal. symmetry. apply is_derive_unique. exact De. }
  change (is_last N 0) with 0 in G. rewrite Rminus_0_r, Rmult_1_l, Sh in G.
  assert (F0 : 0 < e0 / (e0 + e1)) by (apply Rdiv_lt_0_compat; lra).
  assert (A : e0 * (7 * e1 - e0) / ((e0 + e1) * (e0 + e1)) <= e0 / (e0 + e1)) by nra.
  assert (D0 : 0 < (e0 + e1) * (e0 + e1)) by nra.
  apply (Rmult_le_compat_r ((e0 + e1) * (e0 + e1))) in A; [|lra].
  replace (e0 * (7 * e1 - e0) / ((e0 + e1) * (e0 + e1)) * ((e0 + e1) * (e0 + e1))) with (e0 * (7 * e1 - e0)) in A by
    (field; lra).
  replace (e0 / (e0 + e1) * ((e0 + e1) * (e0 + e1))) with (e0 * (e0 + e1)) in A by (field; lra).
    apply Rmult_le_reg_l in A; lra.
Qed.

(* ---------- a repeated last token ---------- *)
Section Repeated.
Variable N : network.
Hypothesis PN : proper N.
Hypothesis M : mask_causal N.
Hypothesis LN : layernorm_none N.
Let n := (tokens N - 1)%nat.
Let N' := causal_form N.
Let R' := with_last_repeated N.
Let d := dim N.
Let Ly := layer_at N'.
Let w l h := norm_2 (W N (last_layer N l) h).
Let m l h := scale N * norm_2 (W_QK N (last_layer N l) h).
Let B (l : nat) : block := {| att := Ly l; skip := skip_of N; tok := fun v => v |}.

Lemma tokens_S : tokens N = S n.
Proof. assert (H := some_tokens N PN). unfold n. lia. Qed.
Lemma first_net l : (l <= layers N)%nat -> net (S n) d B l (X N 0) = X N' l.
Proof.
  intros Hl. assert (E := X_net N' (causal_form_proper N PN LN) l Hl). change (tokens N') with (tokens N) in E.
    rewrite tokens_S in E.
  rewrite (net_none N' (causal_form_proper N PN LN) LN) in E. symmetry. exact E.
Qed.
Lemma twice_net l : (l <= layers N)%nat -> net (S (S n)) d B l (fun i => if Nat.ltb i (S n) then X N 0 i else X N 0 n)
  = X R' l.
Proof.
  intros Hl. assert (PR := repeated_proper N PN LN). assert (E := X_net R' PR l Hl).
    change (tokens R') with (S (tokens N)) in E. rewrite tokens_S in E.
  rewrite (net_none R' PR LN) in E. rewrite E. change (dim R') with d. change (layer_at R') with Ly.
    change (skip_of R') with (skip_of N). fold B. f_equal.
  apply functional_extensionality; intro i. cbn [X]. unfold laid. change (lnorm R') with (lnorm N). rewrite LN.
    cbn [R' with_last_repeated input]. fold n.
  destruct (Nat.ltb_spec i (S n)); [now rewrite Nat.min_l by lia|now rewrite Nat.min_r by lia].
Qed.

Lemma repeated_step l b : (l < layers N)%nat ->
  b * (Rabs (skip_of N) + sum (nheads (Ly l)) (fun h => w l h * m l h) * diam (S n) (L2 d) (net (S n) d B l (X N 0)) ^
    2 / (4 * sqrt (INR (dqk (Ly l)))))
    + sum (nheads (Ly l)) (fun h => w l h * barbero2024.repeat_share n d (skip_of N) Ly (X N 0) l h) *
      barbero2024.repeat_reach n d (L2 d) (skip_of N) Ly (X N 0) l
  = b * (Rabs (skip_of N) + sum (heads N) (fun h => norm_2 (W N l h) * norm_2 (W_QK N l h)) * diameter (X N l) p_2 ^ 2
    / (4 * sqrt (d_qk N)))
    + sum (heads N) (fun h => norm_2 (W N l h) * repeat_share N l h) * repeat_reach N l.
Proof.
  intros Hl. rewrite first_net by lia.
  assert (ED : diam (S n) (L2 d) (X N' l) = diameter (X N l) p_2).
  { rewrite (diameter_causal N M LN). rewrite <- diam_of. change (tokens (causal_form N)) with (tokens N).
    now rewrite tokens_S. }
  rewrite ED. change (nheads (Ly l)) with (heads N). change (dqk (Ly l)) with (dim N).
  unfold w, m. rewrite last_layer_same by exact Hl.
  assert (A := dim_root N PN). assert (C := qk_root N PN). f_equal.
  - f_equal. f_equal. rewrite (sum_ext (heads N) _ (fun h => scale N * (norm_2 (W N l h) * norm_2 (W_QK N l h)))) by
    (intros; ring). rewrite sum_scal.
    unfold scale. field. lra.
  - f_equal.
    + apply sum_ext; intros h _. f_equal. unfold barbero2024.repeat_share, repeat_share. fold B.
      rewrite twice_net by lia.
      unfold Ly, layer_at. change (last_layer N' l) with (last_layer N l). rewrite last_layer_same by exact Hl.
      rewrite <- tokens_S. change (layer_of N' l) with (layer_of R' l). change (dqk (layer_of R' l)) with (dim R').
      exact (f_equal (fun A => A (tokens N) (tokens N)) (attn_is R' (repeated_proper N PN LN) l h (X R' l))).
    + unfold barbero2024.repeat_reach, repeat_reach. fold B. rewrite twice_net by lia. rewrite first_net by lia.
      rewrite tokens_S.
      symmetry. rewrite largest_maxf by (intros; apply l2_nonneg). apply maxf_ext; intros i Hi. apply (sn_ext (L2 d)).
        intro a. unfold vsub. f_equal.
      assert (U : net (S (S n)) d B l (fun i => if Nat.ltb i (S n) then X N 0 i else X N 0 n) i a = net (S n) d B l (X
        N 0) i a)
        by exact (barbero2024.unseen n d (skip_of N) Ly (X N 0) (fun l h => eq_refl) l i a ltac:(lia)).
      rewrite twice_net, first_net in U by lia. exact U.
Qed.

Lemma repeated_bound l : (l <= layers N)%nat -> barbero2024.gap_bound n d (L2 d) (skip_of N) Ly w m (X N 0) l
  = recursion l 0 (fun l b => b * (Rabs (skip_of N) + sum (heads N) (fun h => norm_2 (W N l h) * norm_2 (W_QK N l h))
    * diameter (X N l) p_2 ^ 2 / (4 * sqrt (d_qk N)))
    + sum (heads N) (fun h => norm_2 (W N l h) * repeat_share N l h) * repeat_reach N l).
Proof.
  induction l as [|l IH]; intros Hl; [reflexivity|]. cbn [barbero2024.gap_bound recursion]. rewrite <- IH by lia.
    apply repeated_step. lia.
Qed.

Lemma repeated_gap : repeat_gap N (layers N) <= barbero2024.gap_bound n d (L2 d) (skip_of N) Ly w m (X N 0) (layers
  N).
Proof.
  assert (PN' := causal_form_proper N PN LN).
  assert (G : L2 d (vsub (net (S (S n)) d B (layers N) (fun i => if Nat.ltb i (S n) then X N 0 i else X N 0 n) (S n))
    (net (S n) d B (layers N) (X N 0) n))
    <= barbero2024.gap_bound n d (L2 d) (skip_of N) Ly w m (X N 0) (layers N))
    by exact (barbero2024.repeat_gap n d (L2 d) (skip_of N) Ly w m (X N 0) (fun l h => eq_refl) (fun l => norm_2_layer
      N' (last_layer N' l) PN') (layers N)).
  rewrite twice_net, first_net in G by lia. eapply Rle_trans; [|exact G]. right. unfold repeat_gap.
    rewrite <- tokens_S.
  change (l2 (dim N)) with (L2 d : vec -> R).
  transitivity (L2 d (fun a => -1 * vsub (X R' (layers N) (tokens N)) (X N' (layers N) n) a)).
  - apply sn_ext. intro a. assert (E : X N (layers N) n a = X N' (layers N) n a) by (apply (X_causal N M LN);
    rewrite tokens_S; lia).
    change (X N (layers N) n a - X R' (layers N) (tokens N) a = -1 * (X R' (layers N) (tokens N) a - X N' (layers N) n
      a)). rewrite E. ring.
  - rewrite sn_scal, Rabs_left by lra. ring.
Qed.
End Repeated.

Theorem proved_barbero2024_4_2 : statement_barbero2024_4_2.
Proof.
  intros N PN M LN _. rewrite <- (repeated_bound N PN M LN (layers N)) by lia. now apply repeated_gap.
Qed.

(* ---------- coordinates that no head writes ---------- *)
Theorem proved_dong2021_3_1 : statement_dong2021_3_1.
Proof.
  intros N PN S1 DB LN _.
  (* a coordinate that is not written stays as it is *)
  assert (K : forall b, (b < dim N)%nat -> ~ written N b -> forall l i, (l <= layers N)%nat -> X N l i b = X N 0 i b).
  { intros b Hb Nw. induction l as [|l IH]; intros i Hl; [reflexivity|]. rewrite <- (IH i) by lia. cbn [X].
    unfold laid. rewrite LN.
    unfold sent. rewrite S1.
    assert (Z : forall h, (h < heads N)%nat -> forall a, (a < dim N)%nat -> W N l h a b = 0).
    { intros h Hh a Ha. apply NNPP. intro Q. apply Nw. exists l. split; [lia|]. right. now exists h, a. }
    assert (Zb : bias N l b = 0) by (apply NNPP; intro Q; apply Nw; exists l; split; [lia|now left]).
    rewrite Zb. rewrite (sum_ext (heads N) _ (fun _ => 0)); [rewrite sum_zero; ring|]. intros h Hh. unfold vmat at 1.
    rewrite (sum_ext (dim N) _ (fun _ => 0)); [apply sum_zero|]. intros a Ha. rewrite Z by assumption. ring. }
  set (n := tokens N) in *. set (d := dim N) in *.
  assert (Lower : forall Y : mat, forall r, (exists x : vec, r = frob n d (centred Y x)) -> 0 <= r) by (intros Y r [x
    ->]; apply sqrt_pos).
  apply Rle_ge. apply inf_ge; [exists (frob n d (centred (X N (layers N)) (fun _ => 0))); now exists (fun _ => 0)|].
  intros r [x ->].
  (* x itself where nothing is written, 0 elsewhere, is no worse for the input *)
  assert (Dec : forall b, exists y : R, (~ written N b -> y = x b) /\ (written N b -> y = 0)).
  { intro b. destruct (classic (written N b)) as [w|w]; [exists 0|exists (x b)]; tauto. }
  assert (Y : exists y : vec, forall b, (b < d)%nat -> (~ written N b -> y b = x b) /\ (written N b -> y b = 0)).
  { assert (G : forall m, exists y : vec, forall b, (b < m)%nat -> (~ written N b -> y b = x b) /\ (written N b -> y b
    = 0)); [|apply G].
    induction m as [|m [y Hy]]; [exists (fun _ => 0); intros; lia|]. destruct (Dec m) as [z Hz].
    exists (fun b => if Nat.eqb b m then z else y b). intros b Hb. destruct (Nat.eqb_spec b m) as [->|];
      [exact Hz|apply Hy; lia]. }
  destruct Y as [y Hy]. eapply Rle_trans; [apply (inf_lb _ 0 (frob n d (centred (X N 0) y)));
    [apply (Lower (X N 0))|now exists y]|].
  unfold frob. apply sqrt_le_1_alt. apply sum_le; intros i Hi. unfold dot. apply sum_le; intros b Hb.
    unfold centred, vsub. destruct (Hy b Hb) as [Y1 Y2].
  destruct (classic (written N b)) as [w|w].
  - rewrite Y2 by exact w. assert (Z : X N 0 i b = 0).
    { cbn [X]. unfold laid. rewrite LN. now apply (DB b Hb w). }
    rewrite Z. assert (Q := Rle_0_sqr (X N (layers N) i b - x b)). unfold Rsqr in Q. lra.
  - rewrite Y1 by exact w. rewrite (K b Hb w (layers N) i) by lia. lra.
Qed.
