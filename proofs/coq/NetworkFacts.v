(** A network of Language.v is one of Definitions.v: its layers, with W_Q = √(d/d_qk) W_QK and W_K = I,
  so that d stands for
    the dimension of queries and keys; and how the norms of W_QK scale. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms Softmax Language LanguageFacts.
Local Open Scope R_scope.

Definition scale (N : network) : R := sqrt (INR (dim N)) / sqrt (d_qk N).
Definition layer_of (N : network) (l : nat) : layer := {| nheads := heads N; dqk := dim N;
  hd := fun h => {| WQ := fun a c => scale N * W_QK N l h a c; WK := eye;
    bQ := fun c => scale N * key_bias N l h c; bK := fun _ => 0; WV := W N l h; mask := edges N |};
  bout := bias N l |}.
(** Layers beyond the last are as the last: the theorems speak of endless sequences. *)
Definition last_layer (N : network) (l : nat) : nat := Nat.min l (layers N - 1).
Definition layer_at (N : network) (l : nat) : layer := layer_of N (last_layer N l).
Definition block_of (N : network) (l : nat) : block :=
  {| att := layer_at N l; skip := skip_of N; tok := if lnorm N then sphere (dim N) else fun v => v |}.

Section Network.
Variable N : network.
Hypothesis PN : proper N.
Let n := tokens N.
Let d := dim N.

Lemma dim_root : 0 < sqrt (INR d).
Proof. apply sqrt_lt_R0, lt_0_INR. apply (some_dim N PN). Qed.
Lemma qk_root : 0 < sqrt (d_qk N).
Proof. apply sqrt_lt_R0, (some_d_qk N PN). Qed.
Lemma scale_pos : 0 < scale N.
Proof. apply Rdiv_lt_0_compat; [apply dim_root|apply qk_root]. Qed.
(** t √(d/d_qk)/√d = t/√d_qk *)
Lemma scale_out t : scale N * t / sqrt (INR d) = t / sqrt (d_qk N).
Proof. assert (A := dim_root). assert (B := qk_root). unfold scale. fold d. field. lra. Qed.

Lemma vmat_eye v c : (c < d)%nat -> vmat d v eye c = v c.
Proof.
  intros Hc. unfold vmat. rewrite (sum_single d _ c Hc); [unfold eye; rewrite Nat.eqb_refl; ring|].
  intros a _ Na. unfold eye. apply Nat.eqb_neq in Na. rewrite Na. ring.
Qed.

Lemma vmat_scaled v (A : mat) c : vmat d v (fun a c => scale N * A a c) c = scale N * vmat d v A c.
Proof. unfold vmat. rewrite <- sum_scal. apply sum_ext; intros; ring. Qed.

Lemma logit_is l h Y i j : logit d d (hd (layer_of N l) h) Y i j = logits_of N l h Y i j.
Proof.
  unfold logit, logits_of. fold d. cbn [layer_of hd WQ WK bQ bK].
  rewrite (sum_ext d _ (fun c => scale N * (vmat d (Y i) (W_QK N l h) c * Y j c + Y j c * key_bias N l h c))).
  - rewrite sum_scal, sum_plus, scale_out. rewrite bil_dot. reflexivity.
  - intros c Hc. rewrite vmat_eye, vmat_scaled by exact Hc. ring.
Qed.

Lemma attn_is l h Y : attn n d d (hd (layer_of N l) h) Y = attention_on N l h Y.
Proof.
  apply functional_extensionality; intro i. unfold attn, attention_on. f_equal.
  apply functional_extensionality; intro j. apply logit_is.
Qed.

Lemma sent_is l Y i b : sent N l Y i b = skip_of N * Y i b + SA n d (layer_of N l) Y i b.
Proof.
  unfold sent, SA. cbn [layer_of nheads dqk bout]. fold n d. rewrite Rplus_assoc. do 2 f_equal.
  apply sum_ext; intros h _.
  change (attn n d d (hd (layer_of N l) h) Y i) with (attn n d d (hd (layer_of N l) h) Y i). rewrite <- attn_is.
  reflexivity.
Qed.

Lemma last_layer_same l : (l < layers N)%nat -> last_layer N l = l.
Proof. intros H. unfold last_layer. lia. Qed.
Lemma last_layer_lt l : (last_layer N l < layers N)%nat.
Proof. unfold last_layer. assert (H := some_layers N PN). lia. Qed.

Lemma laid_sent l Y : (l < layers N)%nat -> laid N (sent N l Y) = block_map n d (block_of N l) Y.
Proof.
  intros Hl. apply functional_extensionality; intro i. unfold laid, block_map, block_of, layer_at.
  rewrite last_layer_same by exact Hl.
  cbn [tok skip att]. fold d.
  assert (E : sent N l Y i = fun a => skip_of N * Y i a + SA n d (layer_of N l) Y i a).
  { apply functional_extensionality; intro a. apply sent_is. }
  destruct (lnorm N); now rewrite E.
Qed.

Lemma X_net l : (l <= layers N)%nat -> X N l = net n d (block_of N) l (X N 0).
Proof.
  induction l as [|l IH]; intros Hl; [reflexivity|].
  change (laid N (sent N l (X N l)) = block_map n d (block_of N l) (net n d (block_of N) l (X N 0))).
  rewrite <- IH by lia. apply laid_sent. lia.
Qed.

Lemma bil_WQK l h u v : bil d u (WQK d (hd (layer_of N l) h)) v = scale N * bil d u (W_QK N l h) v.
Proof.
  unfold bil. rewrite <- sum_scal. apply sum_ext; intros a _. rewrite <- sum_scal. apply sum_ext; intros b Hb.
  assert (E : WQK d (hd (layer_of N l) h) a b = scale N * W_QK N l h a b).
  { unfold WQK. cbn [layer_of hd WQ WK]. rewrite (sum_single d _ b Hb); [unfold eye; rewrite Nat.eqb_refl; ring|].
    intros c _ Nc. unfold eye. apply not_eq_sym, Nat.eqb_neq in Nc. rewrite Nc. ring. }
  rewrite E. ring.
Qed.

Lemma WQK_entry l h a b : (b < d)%nat -> WQK d (hd (layer_of N l) h) a b = scale N * W_QK N l h a b.
Proof.
  intros Hb. unfold WQK. cbn [layer_of hd WQ WK]. rewrite (sum_single d _ b Hb); [unfold eye; rewrite Nat.eqb_refl;
    ring|].
  intros c _ Nc. unfold eye. apply not_eq_sym, Nat.eqb_neq in Nc. rewrite Nc. ring.
Qed.

Lemma norm1_WQK l h : norm1 d d (WQK d (hd (layer_of N l) h)) = scale N * norm1 d d (W_QK N l h).
Proof.
  assert (S := scale_pos). unfold norm1. rewrite <- maxf_scal by lra. apply maxf_ext; intros a Ha. rewrite <- sum_scal.
  apply sum_ext; intros i Hi. rewrite WQK_entry by exact Ha. rewrite Rabs_mult, (Rabs_right (scale N)) by lra.
  reflexivity.
Qed.
Lemma maxentry_WQK l h : maxentry d d (WQK d (hd (layer_of N l) h)) = scale N * maxentry d d (W_QK N l h).
Proof.
  assert (S := scale_pos). unfold maxentry. rewrite <- maxf_scal by lra. apply maxf_ext; intros i Hi.
  rewrite <- maxf_scal by lra. apply maxf_ext; intros a Ha. rewrite WQK_entry by exact Ha.
  rewrite Rabs_mult, (Rabs_right (scale N)) by lra. reflexivity.
Qed.

Lemma proper_edges i : (i < n)%nat -> (forall j, (j < n)%nat ->
  0 <= edges N i j) /\ exists j, (j < n)%nat /\ 0 < edges N i j.
Proof.
  intros Hi. split; [intros j Hj; destruct (binary N PN i j Hi Hj) as [-> | ->]; lra|].
  destruct (sees_some N PN i Hi) as [j [Hj E]]. exists j. split; [exact Hj|]. rewrite E. lra.
Qed.
Lemma mask_proper : proper_mask n (edges N).
Proof. split; [intros i j Hi; now apply (proper_edges i Hi)|intros i Hi; apply (proper_edges i Hi)]. Qed.
Lemma padding_is : mask_padding N -> key_padding n (edges N).
Proof. intros H. split; [exact mask_proper|]. intros i k j Hi Hk Hj. now apply H. Qed.
Lemma none_is_padding : mask_none N -> mask_padding N.
Proof. intros H i k j Hi Hk Hj. now rewrite !H. Qed.
End Network.

(* ---------- norms of tokens by their exponent ---------- *)
Definition norm_of (d : nat) (p : exponent) : seminorm := match p with p_1 => L1 d | p_2 => L2 d | p_inf => Linf d end.
Lemma norm_of_is d p v : norm_of d p v = length_of d p v.
Proof. destruct p; reflexivity. Qed.

Lemma operator_norm_bound d (A : matrix d d) p v : length_of d p (vmat d v A) <= operator_norm A p * length_of d p v.
Proof. destruct p; simpl; [apply l1_w|apply spectral_bound|apply linf_w]. Qed.
Lemma operator_norm_nonneg d (A : matrix d d) p : 0 <= operator_norm A p.
Proof. destruct p; simpl; [apply maxf_pos|apply spectral_nonneg|apply maxf_pos]. Qed.

Lemma form_bounded d (A : matrix d d) p : exists c, 0 <= c /\ forall u v,
  Rabs (bil d u A v) <= c * length_of d p u * length_of d p v.
Proof.
  destruct p; simpl; [exists (maxentry d d A)|exists (frob d d A)|exists (sumentries d d A)]; split.
  - apply maxf_pos.
  - intros; apply l1_m.
  - apply sqrt_pos.
  - intros; apply l2_m.
  - apply sum_nonneg; intros; apply sum_nonneg; intros; apply Rabs_pos.
  - intros; apply linf_m.
Qed.

Lemma length_nonneg d p v : 0 <= length_of d p v.
Proof. rewrite <- norm_of_is. apply sn_pos. Qed.
Lemma length_scal d p c v : length_of d p (fun a => c * v a) = Rabs c * length_of d p v.
Proof. rewrite <- !norm_of_is. apply sn_scal. Qed.

Lemma bil_scal d c1 c2 u A v : bil d (fun a => c1 * u a) A (fun a => c2 * v a) = c1 * c2 * bil d u A v.
Proof. unfold bil. rewrite <- sum_scal. apply sum_ext; intros a _. rewrite <- sum_scal. apply sum_ext; intros; ring.
Qed.

Section Form.
Variables (d : nat) (A : matrix d d) (p : exponent).
Let S (x : R) : Prop := exists u v : vec, length_of d p u <= 1 /\ length_of d p v <= 1 /\ x = Rabs (bil d u A v).

Lemma form_set_bounded : exists c, forall x, S x -> x <= c.
Proof.
  destruct (form_bounded d A p) as [c [C0 C]]. exists c. intros x [u [v [U [V ->]]]].
  eapply Rle_trans; [apply C|]. assert (U0 := length_nonneg d p u). assert (V0 := length_nonneg d p v).
  assert (length_of d p u * length_of d p v <= 1 * 1) by (apply Rmult_le_compat; lra). nra.
Qed.
Lemma form_norm_nonneg : 0 <= form_norm A p.
Proof.
  destruct form_set_bounded as [c C]. eapply Rle_trans; [apply Rabs_pos|].
  apply (sup_ub S c (Rabs (bil d (fun a => 0 * 0) A (fun a => 0 * 0))) C).
  exists (fun a => 0 * 0), (fun a => 0 * 0).
  assert (Z : length_of d p (fun _ => 0 * 0) <= 1) by (rewrite (length_scal d p 0 (fun _ => 0)), Rabs_R0; lra).
  split; [exact Z|split; [exact Z|reflexivity]].
Qed.
Lemma form_norm_bound u v : Rabs (bil d u A v) <= form_norm A p * length_of d p u * length_of d p v.
Proof.
  destruct (form_bounded d A p) as [c [C0 C]]. destruct form_set_bounded as [c' C'].
  assert (U0 := length_nonneg d p u). assert (V0 := length_nonneg d p v). assert (F0 := form_norm_nonneg).
  destruct U0 as [U0|U0]; [|eapply Rle_trans; [apply C|rewrite <- U0; lra]].
  destruct V0 as [V0|V0]; [|eapply Rle_trans; [apply C|rewrite <- V0; lra]].
  set (a := length_of d p u) in *. set (b := length_of d p v) in *.
  assert (Q : Rabs (bil d (fun i => / a * u i) A (fun i => / b * v i)) <= form_norm A p).
  { apply (sup_ub S c' _ C'). exists (fun i => / a * u i), (fun i => / b * v i). split; [|split; [|reflexivity]].
    - rewrite length_scal. fold a. rewrite Rabs_right by (left; now apply Rinv_0_lt_compat). rewrite Rinv_l by lra. lra.
    - rewrite length_scal. fold b. rewrite Rabs_right by (left; now apply Rinv_0_lt_compat). rewrite Rinv_l by lra.
      lra. }
  rewrite bil_scal, Rabs_mult in Q. assert (I : 0 < / a * / b) by (apply Rmult_lt_0_compat; now apply Rinv_0_lt_compat).
  rewrite (Rabs_right (/ a * / b)) in Q by lra. apply Rmult_le_reg_l with (/ a * / b); [exact I|].
  replace (/ a * / b * (form_norm A p * a * b)) with (form_norm A p) by (field; lra). exact Q.
Qed.
End Form.

(** The constants of a layer: any numbers that bound its two norms, those of W_QK scaled. *)
Lemma bounds_of N p l w m : proper N -> (forall h, 0 <= w h) -> (forall h, 0 <= m h) ->
  (forall h v, length_of (dim N) p (vmat (dim N) v (W N l h)) <= w h * length_of (dim N) p v) ->
  (forall h u v, Rabs (bil (dim N) u (W_QK N l h) v) <= m h * length_of (dim N) p u * length_of (dim N) p v) ->
  layer_bounds (dim N) (norm_of (dim N) p) (layer_of N l) w (fun h => scale N * m h).
Proof.
  intros PN W0 M0 HW HM. assert (S := scale_pos N PN). constructor.
  - apply (some_dim N PN).
  - exact W0.
  - intro h. apply Rmult_le_pos; [lra|apply M0].
  - intros h v _. rewrite !norm_of_is. apply HW.
  - intros h u v _. rewrite !norm_of_is. change (dqk (layer_of N l)) with (dim N).
    rewrite bil_WQK, Rabs_mult, (Rabs_right (scale N)) by lra.
    rewrite !Rmult_assoc. apply Rmult_le_compat_l; [lra|]. rewrite <- Rmult_assoc. apply HM.
Qed.

Lemma rate_of N l w m t : proper N -> rate (layer_of N l) w (fun h => scale N * m h) t =
  sum (heads N) (fun h => w h * tanh (m h * t ^ 2 / (4 * sqrt (d_qk N)))).
Proof.
  intros PN. assert (A := dim_root N PN). assert (B := qk_root N PN). unfold rate. cbn [layer_of nheads dqk].
  apply sum_ext; intros h _. do 2 f_equal.
  unfold scale. field. lra.
Qed.
Lemma kappa_of N l w m : proper N -> kappa (layer_of N l) w (fun h => scale N * m h) =
  sum (heads N) (fun h => w h * m h) / (4 * sqrt (d_qk N)).
Proof.
  intros PN. assert (A := dim_root N PN). assert (B := qk_root N PN). unfold kappa, Rdiv. cbn [layer_of nheads dqk].
  rewrite <- sum_scal_r.
  apply sum_ext; intros h _. unfold scale. field. lra.
Qed.

(** Without LayerNorm a layer's map of single tokens is the identity. *)
Lemma tok_none N l : layernorm_none N -> tok (block_of N l) = fun v => v.
Proof. intros E. unfold block_of. cbn [tok]. now rewrite E. Qed.
Lemma diam_of n d (Y : matrix n d) p : diam n (norm_of d p) Y = diameter Y p.
Proof. unfold diameter, diam. apply maxf_ext; intros. apply maxf_ext; intros. apply norm_of_is. Qed.
Lemma diameter_nonneg n d (Y : matrix n d) p : 0 <= diameter Y p.
Proof. apply maxf_pos. Qed.
