(** A network of Network.v as one of Language.v: what is proved of Statements.v holds of the networks that derivations
    are about, in their words.  [at_layer N l] is layer l of N by itself. *)
Require Import Reals Lra Lia Psatz ZArith FunctionalExtensionality.
From Coquelicot Require Import Lub Rbar.
From Rankmath Require Import Definitions Functions Norms Softmax Masks centred_form Quantities Lemmas_norms
  Lemmas_tokens Lemmas_attention Lemmas_layer Lemmas_entropy Lemmas_spread Lemmas_reads Lemmas_ranks Network
  Derivation.
From Rankmath Require Language LanguageFacts NetworkFacts dong2021 proved_positions.
Local Open Scope R_scope.

Definition plain_of (N : network) : Language.network := {| Language.tokens := tokens N; Language.dim := dim N;
  Language.heads := heads N; Language.layers := layers N; Language.d_qk := d_qk N; Language.skip_of := skip_of N;
  Language.lnorm := match norm_of N with on_sphere => true | _ => false end; Language.W := W_of N;
  Language.W_QK := W_QK_of N; Language.key_bias := key_bias_of N; Language.bias := bias_of N;
  Language.edges := edges N; Language.input := input N |}.
Definition scored_of (N : network) : Language.scored := {| Language.plain_network := plain_of N;
  Language.score := fun l h Y => logits_on N Y l h |}.
(** Attention alone, with LayerNorm on the sphere behind every layer or with none. *)
Definition alone (N : network) : Prop := mlp_none N /\
  (norm_of N = no_norm \/ (norm_of N = on_sphere /\ in_front N = false)).

(* ---------- words of networks of attention alone ---------- *)
Definition jacobian_norm (N : network) : R := Language.jacobian_norm (plain_of N).
Definition influence (N : network) (i : nat) : R := Language.influence (plain_of N) i.
Definition last_share (N : network) (i : nat) : R := Language.last_share (plain_of N) i.
Definition is_last (N : network) (i : nat) : R := Language.is_last (plain_of N) i.
Definition repeat_gap (N : network) (l : nat) : R := Language.repeat_gap (plain_of N) l.
Definition repeat_share (N : network) (l h : nat) : R := Language.repeat_share (plain_of N) l h.
Definition repeat_reach (N : network) (l : nat) : R := Language.repeat_reach (plain_of N) l.
Definition mu_before (N : network) (l : nat) : R := Language.mu_before (plain_of N) l.
Definition height (N : network) : R := Language.height (plain_of N).
Definition section (N : network) (l : nat) : R := Language.section (plain_of N) l.
Definition orthogonal_values (N : network) : Prop := Language.orthogonal_values (plain_of N).
Definition strongly_connected (N : network) : Prop := Language.strongly_connected (plain_of N).
Definition disjoint_blocks (N : network) : Prop := Language.disjoint_blocks (plain_of N).
(** with any logits *)
Definition consensus_shift (N : network) (l h : nat) : R := Language.consensus_shift (scored_of N) l h.
Definition linear_gap (N : network) (l : nat) : R := Language.linear_gap (scored_of N) l.
Definition second_least (N : network) (l : nat) : R := Language.second_least (scored_of N) l.
Definition second_norm (N : network) (l : nat) : R := Language.second_norm (scored_of N) l.
Definition moved (N : network) (l : nat) : R := Language.moved (scored_of N) l.
(** of tokens and of attention *)
Definition gram_height {n d} (Y : matrix n d) : R := @Language.gram_height n d Y.
Definition definite {d} (B : matrix d d) : Prop := @Language.definite d d B.

(* ---------- one layer ---------- *)
Definition at_layer (N : network) (l : nat) : network := {| tokens := tokens N; dim := dim N; heads := heads N;
  layers := 1; d_qk := d_qk N; skip_of := skip_of N; edges := edges N; input := X N l;
  W_QK_of := fun _ => W_QK_of N l; W_of := fun _ => W_of N l; key_bias_of := fun _ => key_bias_of N l;
  bias_of := fun _ => bias_of N l;
  scores_of := match scores_of N with None => None | Some f => Some (fun _ => f l) end;
  norm_of := norm_of N; in_front := in_front N; mlp_of := fun _ => mlp_of N l |}.

Lemma sphere_twice d v : sphere d (sphere d v) = sphere d v.
Proof.
  apply functional_extensionality; intro a. unfold sphere at 1. destruct (Req_dec (l2 d v) 0) as [Z|Z].
  - unfold sphere. rewrite Z. unfold Rdiv. rewrite Rinv_0. ring.
  - replace (l2 d (sphere d v)) with 1; [unfold Rdiv; rewrite Rinv_1; ring|].
    transitivity (l2 d (fun a => / l2 d v * v a)).
    + rewrite LanguageFacts.l2_scal, Rabs_inv, (Rabs_right (l2 d v)) by (apply Rle_ge, sqrt_pos). now field.
    + f_equal. apply functional_extensionality; intro b. unfold sphere, Rdiv. apply Rmult_comm.
Qed.
Section At.
Variables (N : network) (l : nat).
Lemma at_logits Y k h : logits_on (at_layer N l) Y k h = logits_on N Y l h.
Proof. unfold logits_on. cbn [at_layer scores_of tokens dim W_QK_of key_bias_of d_qk]. now destruct (scores_of N). Qed.
Lemma at_attention Y k h : attention_on (at_layer N l) Y k h = attention_on N Y l h.
Proof. unfold attention_on. cbn [at_layer tokens edges]. now rewrite at_logits. Qed.
Lemma at_sent Y k : sent (at_layer N l) k Y = sent N l Y.
Proof.
  apply functional_extensionality; intro i. apply functional_extensionality; intro b. unfold sent.
  change (read (at_layer N l) Y) with (read N Y). cbn [at_layer tokens dim heads skip_of W_of bias_of].
  do 2 f_equal. apply sum_ext; intros h _. now rewrite at_attention.
Qed.
Lemma at_X0 : X (at_layer N l) 0 = X N l.
Proof.
  unfold X. cbn [tokens_at]. unfold start. cbn [at_layer in_front norm_of input dim].
  destruct (in_front N) eqn:F; [reflexivity|]. destruct (norm_of N) eqn:E; try reflexivity.
  apply functional_extensionality; intro i. unfold X.
  destruct l as [|k]; cbn [tokens_at]; [unfold start|unfold behind, normed]; rewrite F, E; apply sphere_twice.
Qed.
Lemma at_X1 : X (at_layer N l) 1 = X N (S l).
Proof.
  unfold X. cbn [tokens_at]. fold (X (at_layer N l) 0). change (start (at_layer N l)) with (X (at_layer N l) 0).
  rewrite at_X0, at_sent. reflexivity.
Qed.
Lemma at_reads0 : reads (at_layer N l) 0 = reads N l.
Proof. unfold reads. rewrite at_X0. reflexivity. Qed.
Lemma at_P : P (at_layer N l) 0 = P N l.
Proof. apply functional_extensionality; intro h. unfold P. now rewrite at_attention, at_reads0. Qed.
Lemma at_P0 : P0 (at_layer N l) 0 = P0 N l.
Proof. apply functional_extensionality; intro h. unfold P0. now rewrite at_attention, at_reads0. Qed.
Lemma at_proper : proper N -> (l < layers N)%nat -> proper (at_layer N l).
Proof.
  intros [A [B [C [D [E [F [G [H I]]]]]]]] L. repeat split; try assumption; try apply F; try (cbn; lia).
  - intros K t i Ht Hi. cbn [at_layer layers] in Ht. destruct t as [|[|t]]; [| |lia].
    + rewrite at_reads0. apply (H K l i); [lia|exact Hi].
    + unfold reads. rewrite at_X1. apply (H K (S l) i); [lia|exact Hi].
  - intros T t. apply (I T).
Qed.
Lemma at_plain : plain N -> plain (at_layer N l).
Proof. unfold plain. cbn [at_layer scores_of]. now intros ->. Qed.
Lemma at_W : W (at_layer N l) 0 = W N l. Proof. reflexivity. Qed.
Lemma at_W_QK : W_QK (at_layer N l) 0 = W_QK N l. Proof. reflexivity. Qed.
Lemma at_epsilon : epsilon (at_layer N l) 0 = epsilon N l.
Proof. unfold epsilon. now rewrite at_P. Qed.
Lemma at_epsilon0 : epsilon0 (at_layer N l) 0 = epsilon0 N l.
Proof. unfold epsilon0. now rewrite at_P0. Qed.
Lemma at_logit_range : logit_range (at_layer N l) 0 = logit_range N l.
Proof. apply functional_extensionality; intro h. unfold logit_range, logits. now rewrite at_logits, at_reads0. Qed.
Lemma at_swings x : swings (at_layer N l) x 0 = swings N x l.
Proof. apply functional_extensionality; intro h. unfold swings, tilts. now rewrite at_X0. Qed.
Lemma at_shares x : shares_about (at_layer N l) x 0 = shares_about N x l.
Proof. apply functional_extensionality; intro h. unfold shares_about. now rewrite at_X0. Qed.
Lemma at_delta_mean : delta_mean (at_layer N l) 0 = delta_mean N l.
Proof. apply functional_extensionality; intro h. unfold delta_mean. now rewrite at_X0, at_swings. Qed.
Lemma at_q_max_mean : q_max_mean (at_layer N l) 0 = q_max_mean N l.
Proof. apply functional_extensionality; intro h. unfold q_max_mean. now rewrite at_X0, at_shares. Qed.
Lemma at_q_min_mean : q_min_mean (at_layer N l) 0 = q_min_mean N l.
Proof. apply functional_extensionality; intro h. unfold q_min_mean. now rewrite at_X0, at_shares. Qed.
(** The centres of the tokens from layer l on. *)
Definition from_layer (center : nat -> vec) : nat -> vec := fun k => center (l + k)%nat.
Lemma at_delta_composite c : delta_composite (at_layer N l) (from_layer c) 0 = delta_composite N c l.
Proof. apply functional_extensionality; intro h. unfold delta_composite, from_layer. now rewrite at_swings, Nat.add_0_r.
Qed.
Lemma at_q_max_composite c : q_max_composite (at_layer N l) (from_layer c) 0 = q_max_composite N c l.
Proof. apply functional_extensionality; intro h. unfold q_max_composite, from_layer. now rewrite at_shares,
  Nat.add_0_r. Qed.
Lemma at_gamma c : gamma (at_layer N l) (from_layer c) 0 = gamma N c l.
Proof. apply functional_extensionality; intro h. unfold gamma. rewrite at_q_max_composite, at_delta_composite.
  unfold from_layer at 1. now rewrite at_swings, Nat.add_0_r. Qed.
Lemma at_centers c : (l < layers N)%nat -> are_centers N c -> are_centers (at_layer N l) (from_layer c).
Proof.
  intros L C k Hk. cbn [at_layer layers] in Hk. unfold from_layer. destruct k as [|[|k]]; [| |lia].
  - rewrite at_X0, Nat.add_0_r. apply C. lia.
  - rewrite at_X1, Nat.add_1_r. apply C. lia.
Qed.
End At.

(* ---------- tokens and attention ---------- *)
Section Tokens.
Variable N : network.
Hypothesis A : alone N.
Lemma read_alone Y : read N Y = Y.
Proof. unfold read, normed. destruct A as [_ [E|[E F]]]; rewrite E; [now destruct (in_front N)|now rewrite F]. Qed.
Lemma laid_alone Y : Language.laid (plain_of N) Y = behind N Y.
Proof. unfold Language.laid, behind, normed. cbn [plain_of Language.lnorm Language.dim].
destruct A as [_ [E|[E F]]]; rewrite E; [now destruct (in_front N)|now rewrite F]. Qed.
Lemma start_alone : Language.laid (plain_of N) (input N) = start N.
Proof. unfold Language.laid, start. cbn [plain_of Language.lnorm Language.dim].
destruct A as [_ [E|[E F]]]; rewrite E; [now destruct (in_front N)|now rewrite F]. Qed.
Lemma scored_X_is : Language.scored_X (scored_of N) = X N.
Proof.
  apply functional_extensionality; intro l. unfold X. induction l as [|l IH]; [apply start_alone|].
  cbn [Language.scored_X tokens_at]. change (Language.plain_network (scored_of N)) with (plain_of N).
  rewrite laid_alone. unfold mapped. rewrite (proj1 A l). f_equal.
  apply functional_extensionality; intro i. apply functional_extensionality; intro b. unfold sent.
  rewrite read_alone, IH, Rplus_assoc. reflexivity.
Qed.
Lemma scored_P_is : Language.scored_P (scored_of N) = P N.
Proof.
  apply functional_extensionality; intro l. apply functional_extensionality; intro h.
  unfold Language.scored_P, P, reads. rewrite scored_X_is, read_alone. reflexivity.
Qed.
Lemma scored_P0_is : Language.scored_P0 (scored_of N) = P0 N.
Proof.
  apply functional_extensionality; intro l. apply functional_extensionality; intro h.
  unfold Language.scored_P0, Language.consensus, P0, reads. rewrite scored_X_is, read_alone. reflexivity.
Qed.
Hypothesis B : plain N.
Lemma logits_alone l h Y : Language.logits_of (plain_of N) l h Y = logits_on N Y l h.
Proof.
  unfold Language.logits_of, logits_on. rewrite B. apply functional_extensionality; intro i.
  apply functional_extensionality; intro j. cbn [plain_of Language.dim Language.W_QK Language.key_bias Language.d_qk].
  now rewrite (dot_sym (dim N) (Y j)).
Qed.
Lemma attention_alone l h Y : Language.attention_on (plain_of N) l h Y = attention_on N Y l h.
Proof. unfold Language.attention_on, attention_on. now rewrite logits_alone. Qed.
Lemma sent_alone l Y : Language.sent (plain_of N) l Y = sent N l Y.
Proof.
  apply functional_extensionality; intro i. apply functional_extensionality; intro b.
  unfold Language.sent, sent. rewrite read_alone, Rplus_assoc.
  cbn [plain_of Language.dim Language.heads Language.skip_of Language.W Language.bias Language.tokens].
  do 2 f_equal. apply sum_ext; intros h _. now rewrite attention_alone.
Qed.
Lemma X_is : Language.X (plain_of N) = X N.
Proof.
  apply functional_extensionality; intro l. unfold X. induction l as [|l IH]; [apply start_alone|].
  cbn [Language.X tokens_at]. rewrite laid_alone. unfold mapped. rewrite (proj1 A l), IH, sent_alone. reflexivity.
Qed.
Lemma P_is : Language.P (plain_of N) = P N.
Proof.
  apply functional_extensionality; intro l. apply functional_extensionality; intro h.
  unfold Language.P, P, reads. now rewrite X_is, read_alone, attention_alone.
Qed.
Hypothesis Hp : proper N.
Lemma proper_is : Language.proper (plain_of N).
Proof.
  destruct Hp as [a [b [c [d [e [f [g [h _]]]]]]]]. constructor; cbn [plain_of Language.tokens Language.dim
    Language.heads Language.layers Language.d_qk Language.edges Language.lnorm Language.input]; try assumption.
  - intros i Hi. destruct (proj2 f i Hi) as [j [Hj L]]. exists j. split; [exact Hj|]. destruct (g i j Hi Hj); lra.
  - destruct A as [_ [E|[E F]]]; rewrite E; [discriminate|]. intros _ i Hi.
    assert (U := h E 0%nat i ltac:(lia) Hi). unfold reads in U. rewrite read_alone in U. unfold X in U.
    cbn [tokens_at] in U. unfold start in U. rewrite F, E in U. destruct (sqrt_pos (dot (dim N) (input N i) (input N i)))
      as [L|L]; [exact L|]. exfalso. unfold sphere in U. fold (l2 (dim N) (input N i)) in L. rewrite <- L in U.
    unfold Rdiv in U. rewrite Rinv_0 in U. replace (fun a => input N i a * 0) with (fun a => 0 * input N i a) in U by
      (apply functional_extensionality; intro; ring). rewrite LanguageFacts.l2_scal, Rabs_R0 in U. lra.
  - destruct A as [_ [E|[E F]]]; rewrite E; [discriminate|]. intros _ l i Hl Hi.
    assert (U := h E (S l) i ltac:(lia) Hi). unfold reads in U. rewrite read_alone in U. unfold X in U.
    cbn [tokens_at] in U. unfold mapped, behind, normed in U. rewrite (proj1 A l), F, E in U.
    rewrite X_is, sent_alone. fold (X N l) in U. set (v := sent N l (X N l) i) in *.
    destruct (sqrt_pos (dot (dim N) v v)) as [L|L]; [exact L|]. exfalso. unfold sphere in U.
    fold (l2 (dim N) v) in L. rewrite <- L in U.
    unfold Rdiv in U. rewrite Rinv_0 in U. replace (fun a => v a * 0) with (fun a => 0 * v a) in U by
      (apply functional_extensionality; intro; ring). rewrite LanguageFacts.l2_scal, Rabs_R0 in U. lra.
Qed.
End Tokens.
Lemma proper_scored N : alone N -> proper N -> norm_of N = no_norm -> Language.proper (Language.plain_network (scored_of N)).
Proof.
  intros A Hp E. destruct Hp as [a [b [c [d [e [f [g [h _]]]]]]]]. constructor; cbn [scored_of plain_of
    Language.plain_network Language.tokens Language.dim
    Language.heads Language.layers Language.d_qk Language.edges Language.lnorm Language.input]; try assumption.
  - intros i Hi. destruct (proj2 f i Hi) as [j [Hj L]]. exists j. split; [exact Hj|]. destruct (g i j Hi Hj); lra.
  - rewrite E. discriminate.
  - rewrite E. discriminate.
Qed.

(* ---------- words ---------- *)
(** What is never negative. *)
Lemma sup_nonneg (S : R -> Prop) : (forall x, S x -> 0 <= x) -> 0 <= Language.sup_of S.
Proof.
  intros H. unfold Language.sup_of. destruct (Lub_Rbar_correct S) as [U L]. destruct (Lub_Rbar S) as [b| |]; cbn;
    try lra. destruct (Rle_or_lt 0 b) as [B|B]; [exact B|]. exfalso. destruct (Classical_Prop.classic (exists x, S x))
    as [[x Sx]|X].
  - assert (V := U x Sx). cbn in V. assert (W := H x Sx). lra.
  - assert (V := L (Finite (b - 1)) ltac:(intros x Sx; exfalso; apply X; now exists x)). cbn in V. lra.
Qed.
Lemma largest_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= Language.largest n f.
Proof. intros H. rewrite LanguageFacts.largest_maxf by exact H. apply maxf_pos. Qed.
Lemma jacobian_norm_nonneg N : 0 <= jacobian_norm N.
Proof. apply sup_nonneg. intros x [H [_ ->]]. apply sqrt_pos. Qed.
Lemma influence_nonneg N i : 0 <= influence N i.
Proof. apply sup_nonneg. intros x [v [_ ->]]. apply sqrt_pos. Qed.
Lemma repeat_gap_nonneg N l : 0 <= repeat_gap N l.
Proof. apply sqrt_pos. Qed.
Lemma moved_nonneg N l : 0 <= moved N l.
Proof. apply maxf_pos. Qed.
Lemma linear_gap_nonneg N l : 0 <= linear_gap N l.
Proof. apply largest_nonneg. intros. apply sqrt_pos. Qed.
Lemma second_norm_nonneg N l : 0 <= second_norm N l.
Proof. apply LanguageFacts.spectral_nonneg. Qed.
Lemma second_least_nonneg N l : proper N -> 0 <= second_least N l.
Proof. intros Hp. apply proved_positions.least_singular_nonneg. apply (Pd N Hp). Qed.
(** A shift of all keys that a token sees is none: with one key in two roles the supremum is at least 0. *)
Lemma consensus_shift_nonneg N l h : proper N -> 0 <= consensus_shift N l h.
Proof.
  intros Hp. unfold consensus_shift, Language.consensus_shift. set (S := fun x => _).
  destruct (proj2 (Pm N Hp) 0%nat (Pn N Hp)) as [j [Hj L]]. assert (Z : S 0).
  { exists 0%nat, j, j. assert (E : edges N 0%nat j = 1) by (destruct (Pz N Hp 0%nat j (Pn N Hp) Hj); lra).
    repeat split; try assumption; [apply (Pn N Hp)|]. cbn. ring. }
  unfold Language.sup_of. destruct (Lub_Rbar_correct S) as [U _]. assert (V := U 0 Z). destruct (Lub_Rbar S); cbn in V;
    cbn; lra.
Qed.
Ltac more_nonneg ::= first
  [ apply jacobian_norm_nonneg | apply influence_nonneg | apply repeat_gap_nonneg | apply moved_nonneg
  | apply linear_gap_nonneg | apply second_norm_nonneg | apply second_least_nonneg; assumption
  | apply consensus_shift_nonneg; assumption
  | unfold gamma, delta_composite, delta_mean, q_max_composite, q_max_mean; first [apply sqrt_pos | apply maxf_pos] ].
(** Equal as functions, so that they can be put for one another below sums and maxima. *)
Lemma w_largest n : (0 < n)%nat -> Language.largest n = maxi (n - 1).
Proof.
  intros Hn. apply functional_extensionality; intro f. apply Rle_antisym.
  - apply LanguageFacts.largest_lub; [exact Hn|]. intros j Hj. apply maxi_ub. lia.
  - apply maxi_lub. intros i Hi. apply LanguageFacts.largest_ub. lia.
Qed.
Lemma w_least n : (0 < n)%nat -> Language.least n = minf (n - 1).
Proof.
  intros Hn. apply functional_extensionality; intro f. apply Rle_antisym.
  - apply minf_ge. intros i Hi. apply LanguageFacts.least_lb. lia.
  - apply LanguageFacts.least_glb; [exact Hn|]. intros j Hj. apply minf_le. lia.
Qed.
Lemma w_spectral n m : @Language.spectral n m = spectral n m.
Proof.
  apply functional_extensionality; intro B. apply Rle_antisym.
  - apply LanguageFacts.spectral_le; [apply spectral_nonneg|]. intro v. apply spectral_vmat.
  - apply spectral_le. split; [apply LanguageFacts.spectral_nonneg|]. intro v. apply LanguageFacts.spectral_bound.
Qed.
Lemma w_norm_2 n m : @Language.norm_2 n m = @norm_2 n m.
Proof. exact (w_spectral n m). Qed.
Definition exponent_of (p : Language.exponent) : exponent :=
  match p with Language.p_1 => p_1 | Language.p_2 => p_2 | Language.p_inf => p_inf end.
Lemma w_operator_norm d : @Language.operator_norm d d = fun B p => @operator_norm d B (exponent_of p).
Proof.
  apply functional_extensionality; intro B. apply functional_extensionality; intros []; cbn; try reflexivity.
  now rewrite w_spectral.
Qed.
Lemma w_dobrushin n : (0 < n)%nat -> @Language.dobrushin n n = @dobrushin n.
Proof.
  intros Hn. apply functional_extensionality; intro B. unfold Language.dobrushin, Language.dobrushin_of, dobrushin,
    Quantities.dobrushin.
  assert (N : forall i k, 0 <= / 2 * sum n (fun j => Rabs (B i j - B k j))) by (intros i k;
    apply Rmult_le_pos; [lra|apply sum_nonneg; intros; apply Rabs_pos]).
  rewrite LanguageFacts.largest_maxf.
  - apply maxf_ext. intros i _. apply LanguageFacts.largest_maxf. intros k _. apply N.
  - intros i _. rewrite LanguageFacts.largest_maxf by (intros; apply N). apply maxf_pos.
Qed.
Lemma w_product_norm N : Language.product_norm_2 (plain_of N) = product_norm N p_2.
Proof. unfold Language.product_norm_2. now rewrite w_spectral. Qed.
Lemma w_tower L x : 0 <= x -> (0 < L)%nat -> x ^ ((3 ^ L - 1) / 2)%nat = rpow x ((3 ^ L - 1) / 2).
Proof.
  intros X K. assert (T : (3 ^ L = 2 * tower 3 L + 1)%nat) by (clear X K; induction L as [|l IH]; [reflexivity|]; cbn
    [Nat.pow tower]; lia).
  assert (R : 3 ^ L = 2 * INR (tower 3 L) + 1) by (assert (H := tower_is 3 L); replace (INR 3) with 3 in H by (simpl;
    ring); lra).
  rewrite R, T, Nat.add_sub, (Nat.mul_comm 2), Nat.div_mul by lia.
  replace ((2 * INR (tower 3 L) + 1 - 1) / 2) with (INR (tower 3 L)) by field.
  rewrite rpow_nat; [reflexivity|exact X|]. destruct L; [lia|cbn [tower]; lia].
Qed.
Lemma w_double x r : 0 <= x -> (0 < r)%nat -> x ^ (2 * r)%nat = rpow x (2 * INR r).
Proof.
  intros X R. replace (2 * INR r) with (INR (2 * r)) by (rewrite mult_INR; simpl; ring). symmetry. apply rpow_nat;
    [exact X|lia].
Qed.
Lemma w_floor a b : (0 < b)%nat -> INR (a / b)%nat = IZR (Int_part (INR a / INR b)).
Proof.
  intros Hb. assert (B : 0 < INR b) by now apply lt_0_INR. rewrite INR_IZR_INZ. f_equal. symmetry.
  assert (E := Nat.div_mod_eq a b). assert (M := Nat.mod_upper_bound a b ltac:(lia)).
  assert (F : INR a = INR b * INR (a / b) + INR (a mod b)) by (rewrite <- mult_INR, <- plus_INR; now f_equal).
  apply lt_INR in M. assert (P := pos_INR (a mod b)).
  assert (G : INR b * (INR a / INR b) = INR a) by (field; lra). set (q := INR a / INR b) in *.
  unfold Int_part. rewrite <- (tech_up q (Z.of_nat (a / b) + 1)); [lia| |]; rewrite plus_IZR, <- INR_IZR_INZ;
    (apply Rmult_lt_reg_l with (INR b) || apply Rmult_le_reg_l with (INR b)); try exact B; lra.
Qed.
Lemma w_definiteness d : @Language.definiteness d d = @definiteness d.
Proof.
  apply functional_extensionality; intro B. unfold Language.definiteness, definiteness, Lemmas_spread.definiteness.
  f_equal. unfold Language.inf_of, least_form. f_equal. apply Glb_Rbar_eqset. intro x.
  assert (E : forall v, bil d v (fun a b => - B a b) v = - bil d v B v).
  { intro v. unfold bil. rewrite <- Ropp_mult_distr_l_reverse || idtac. transitivity (sum d (fun a => -1 * sum d (fun b
    => v a * B a b * v b))); [apply sum_ext; intros a _; rewrite <- sum_scal; apply sum_ext; intros; ring|].
    rewrite sum_scal. ring. }
  split; intros [v [V ->]]; exists v; (split; [exact V|]); now rewrite E.
Qed.
Lemma w_first_gap n d : (2 <= n)%nat -> @Language.first_gap n d = @first_gap n d.
Proof.
  intros H. apply functional_extensionality; intro Y. unfold Language.first_gap, first_gap, Lemmas_spread.first_gap.
  replace (Nat.ltb 1 n) with true by (symmetry; apply Nat.ltb_lt; lia).
  apply (f_equal sqrt). apply sum_ext. intros. unfold vsub. ring.
Qed.
Lemma w_centred_norm n d : @Language.centred_norm n d = @centred_norm n d.
Proof. apply functional_extensionality; intro Y. unfold Language.centred_norm. now rewrite w_spectral. Qed.
Lemma sup_maxf (S : R -> Prop) b : 0 <= b -> (forall x, S x -> x <= b) -> (b = 0 \/ S b) -> ((exists x, S x) ->
  exists x, S x /\ 0 <= x) -> Language.sup_of S = b.
Proof.
  intros B U [->|A] E; [|now apply LanguageFacts.sup_is]. destruct (LanguageFacts.sup_le_nonneg S 0 (Rle_refl 0) U) as
    [L|L]; [|exact L]. exfalso. destruct (Classical_Prop.classic (exists x, S x)) as [X|X].
  - destruct (E X) as [x [Sx P]]. assert (V := LanguageFacts.sup_ub S 0 x U Sx). lra.
  - unfold Language.sup_of in L. replace (Lub_Rbar S) with m_infty in L; [cbn in L; lra|]. symmetry.
    apply is_lub_Rbar_unique. split; [intros x Sx; exfalso; apply X; now exists x|]. intros y _. now destruct y.
Qed.
Lemma w_top_shares n (B : matrix n n) : row_stochastic n n B -> @Language.top_shares n n B = top_shares B.
Proof.
  intros S. assert (H : forall i j k, (i < n)%nat -> (j < n)%nat -> (k < n)%nat -> 0 <= B i j * (1 - B i j + B i k)).
  { destruct S as [S0 S1]. intros i j k Hi Hj Hk. apply Rmult_le_pos; [now apply S0|]. assert (B i j <= 1);
    [|assert (P0 := S0 i k Hi Hk); lra]. rewrite <- (S1 i Hi). apply (sum_term_le n (B i) j); [intros; now apply
      S0|exact Hj]. }
  unfold Language.top_shares, top_shares, Lemmas_spread.top_shares. apply sup_maxf; [apply maxf_pos| | |].
  - intros x [i [j [k [Hi [Hj [Hk [D ->]]]]]]]. eapply Rle_trans; [|apply (maxf_ub n _ i Hi)]. cbv beta.
    eapply Rle_trans; [|apply (maxf_ub n _ j Hj)]. cbv beta. eapply Rle_trans; [|apply (maxf_ub n _ k Hk)]. cbv beta.
    destruct (Nat.eqb_spec j k); [contradiction|lra].
  - match goal with |- maxf n ?f = 0 \/ _ => destruct (maxf_attained n f) as [Z|[i [Hi E]]]; [now left|] end.
    cbv beta in E. rewrite E. match goal with |- maxf n ?f = 0 \/ _ => destruct (maxf_attained n f) as [Z|[j [Hj
      F]]]; [now left|] end. cbv beta in F. rewrite F. match goal with |- maxf n ?f = 0 \/ _ => destruct (maxf_attained
      n f) as [Z|[k [Hk G]]]; [now left|] end. cbv beta in G. rewrite G. destruct (Nat.eqb_spec j k) as [->|D];
      [now left|]. right. now exists i, j, k.
  - intros [x [i [j [k [Hi [Hj [Hk [D ->]]]]]]]]. exists (B i j * (1 - B i j + B i k)). split; [now exists i, j, k|].
    now apply H.
Qed.
Lemma osc_maxf n f : (0 < n)%nat -> Language.largest n f - Language.least n f = maxf n (fun j => maxf n (fun k => f j -
  f k)).
Proof.
  intros Hn. apply Rle_antisym.
  - destruct (LanguageFacts.largest_attained n f Hn) as [j [Hj ->]]. destruct (LanguageFacts.least_attained n f Hn) as
      [k [Hk ->]]. eapply Rle_trans; [|apply (maxf_ub n _ j Hj)]. cbv beta. apply (maxf_ub n (fun k => f j - f k) k Hk).
  - assert (Z : 0 <= Language.largest n f - Language.least n f).
    { assert (P := LanguageFacts.largest_ub n f 0 Hn). assert (Q := LanguageFacts.least_lb n f 0 Hn). lra. }
    apply maxf_lub; [exact Z|]. intros j Hj. apply maxf_lub; [exact Z|]. intros k Hk.
    assert (P := LanguageFacts.largest_ub n f j Hj). assert (Q := LanguageFacts.least_lb n f k Hk). lra.
Qed.

(** The first layer by itself. *)
Lemma at_first N : alone N -> plain N -> Language.X (plain_of (at_layer N 0)) 0 = Language.X (plain_of N) 0.
Proof.
  intros A B. assert (A' : alone (at_layer N 0)) by (destruct A as [M E]; split; [intro; apply M|exact E]).
  rewrite (X_is N A B), (X_is _ A' (at_plain N 0 B)). apply at_X0.
Qed.
Lemma at_jacobian_norm N : alone N -> plain N -> jacobian_norm (at_layer N 0) = jacobian_norm N.
Proof. intros A B. unfold jacobian_norm, Language.jacobian_norm. rewrite (at_first N A B). reflexivity. Qed.
Lemma at_influence N i : alone N -> plain N -> influence (at_layer N 0) i = influence N i.
Proof. intros A B. unfold influence, Language.influence. rewrite (at_first N A B). reflexivity. Qed.
Lemma at_last_share N i : alone N -> plain N -> last_share (at_layer N 0) i = last_share N i.
Proof. intros A B. unfold last_share, Language.last_share, Language.P. rewrite (at_first N A B). reflexivity. Qed.
Lemma at_consensus_shift N l : alone N -> consensus_shift (at_layer N l) 0 = consensus_shift N l.
Proof.
  intros A. assert (A' : alone (at_layer N l)) by (destruct A as [M E]; split; [intro; apply M|exact E]).
  apply functional_extensionality; intro h. unfold consensus_shift, Language.consensus_shift, Language.consensus.
  rewrite (scored_X_is N A), (scored_X_is _ A'), at_X0. cbn [scored_of Language.score]. now rewrite !at_logits.
Qed.

Section Words.
Variable N : network.
Hypotheses (A : alone N) (B : plain N) (Hp : proper N).
Notation n := (tokens N).
Lemma edge i j : (i < n)%nat -> (j < n)%nat -> edges N i j = 1 <-> 0 < edges N i j.
Proof. intros Hi Hj. destruct (Pz N Hp i j Hi Hj) as [-> | ->]; lra. Qed.
Lemma w_epsilon : Language.epsilon (plain_of N) = epsilon N.
Proof.
  apply functional_extensionality; intro l. apply functional_extensionality; intro h. unfold Language.epsilon, epsilon,
    Quantities.epsilon, Language.inf_of, inf. f_equal. apply Glb_Rbar_eqset. intro x. rewrite (P_is N A B).
  cbn [plain_of Language.tokens Language.edges].
  split; intros [i [j [Hi [Hj [E ->]]]]]; exists i, j; repeat split; try assumption; now apply edge.
Qed.
Lemma w_logit_range : Language.logit_range (plain_of N) = logit_range N.
Proof.
  apply functional_extensionality; intro l. apply functional_extensionality; intro h. unfold Language.logit_range,
    logit_range, Quantities.logit_range. rewrite (X_is N A B), (logits_alone N B).
  replace (logits_on N (X N l) l h) with (logits N l h) by (unfold logits, reads; now rewrite (read_alone N A)).
  cbn [plain_of Language.tokens Language.edges]. set (L := logits N l h). apply sup_maxf; [apply maxf_pos| | |].
  - intros x [i [j [k [Hi [Hj [Hk [E [F ->]]]]]]]]. eapply Rle_trans; [|apply (maxf_ub n _ i Hi)]. cbv beta.
    apply osc_ub; try assumption; now apply edge.
  - destruct (maxf_attained n (fun i => osc n (edges N i) (L i))) as [Z|[i [Hi E]]]; [now left|]. rewrite E. unfold osc.
    match goal with |- maxf n ?f = 0 \/ _ => destruct (maxf_attained n f) as [Z|[j [Hj F]]]; [now left|] end.
    cbv beta in F. rewrite F. match goal with |- maxf n ?f = 0 \/ _ => destruct (maxf_attained n f) as [Z|[k [Hk G]]];
      [now left|] end. cbv beta in G. rewrite G.
    destruct Rlt_dec as [P|P]; [destruct Rlt_dec as [P'|P']; [|now left]|now left]. right. exists i, j, k.
    repeat split; try assumption; now apply edge.
  - intros [x [i [j [k [Hi [Hj [Hk [E [F _]]]]]]]]]. exists 0. split; [|lra]. exists i, j, j. repeat split; try
      assumption. ring.
Qed.
Lemma w_in_degree : Language.in_degree (plain_of N) = in_degree N.
Proof.
  unfold Language.in_degree, in_degree, Quantities.in_degree. cbn [plain_of Language.tokens Language.edges].
  assert (E : forall i, (i < n)%nat -> sum n (edges N i) = sum n (fun j => if Rlt_dec 0 (edges N i j) then 1 else 0)).
  { intros i Hi. apply sum_ext. intros j Hj. destruct (Pz N Hp i j Hi Hj) as [-> | ->]; destruct Rlt_dec; lra. }
  rewrite LanguageFacts.largest_maxf.
  - now apply maxf_ext.
  - intros i Hi. rewrite E by exact Hi. apply sum_nonneg. intros j _. destruct Rlt_dec; lra.
Qed.
Lemma w_tilts : Language.tilts (plain_of N) = tilts N.
Proof.
  apply functional_extensionality; intro x. apply functional_extensionality; intro l.
  unfold Language.tilts. now rewrite (X_is N A B).
Qed.
Lemma w_oscillation : Language.oscillation (plain_of N) = swings N.
Proof.
  apply functional_extensionality; intro x. apply functional_extensionality; intro l.
  apply functional_extensionality; intro h. apply functional_extensionality; intro i.
  unfold Language.oscillation, Language.osc, swings. rewrite w_tilts. apply osc_maxf, (Pn N Hp).
Qed.
Lemma largest_swings x l h : Language.largest n (swings N x l h) = maxf n (swings N x l h).
Proof. apply LanguageFacts.largest_maxf. intros. apply maxf_pos. Qed.
Lemma w_delta_composite : Language.delta_composite (plain_of N) = delta_composite N.
Proof.
  apply functional_extensionality; intro c. apply functional_extensionality; intro l.
  apply functional_extensionality; intro h. unfold Language.delta_composite. rewrite w_oscillation. apply largest_swings.
Qed.
Lemma w_delta_mean : Language.delta_mean (plain_of N) = delta_mean N.
Proof.
  apply functional_extensionality; intro l. apply functional_extensionality; intro h. unfold Language.delta_mean.
  rewrite w_oscillation, (X_is N A B). apply largest_swings.
Qed.
Lemma w_shares : Language.centred_shares (plain_of N) = shares_about N.
Proof.
  apply functional_extensionality; intro x. apply functional_extensionality; intro l.
  apply functional_extensionality; intro h. unfold Language.centred_shares, shares_about, Language.shares.
  rewrite (X_is N A B). f_equal. apply functional_extensionality; intro j.
  cbn [plain_of Language.tokens Language.dim Language.W_QK Language.key_bias Language.d_qk]. f_equal.
  rewrite bil_dot. unfold dot. rewrite <- sum_plus. apply sum_ext. intros. ring.
Qed.
Lemma largest_shares x l h : Language.largest n (shares_about N x l h) = maxf n (shares_about N x l h).
Proof.
  apply LanguageFacts.largest_maxf. intros j _. left. apply LanguageFacts.shares_pos. apply (Pn N Hp).
Qed.
Lemma w_q_max_composite : Language.q_max_composite (plain_of N) = q_max_composite N.
Proof.
  apply functional_extensionality; intro c. apply functional_extensionality; intro l.
  apply functional_extensionality; intro h. unfold Language.q_max_composite. rewrite w_shares. apply largest_shares.
Qed.
Lemma w_q_max_mean : Language.q_max_mean (plain_of N) = q_max_mean N.
Proof.
  apply functional_extensionality; intro l. apply functional_extensionality; intro h. unfold Language.q_max_mean.
  rewrite w_shares, (X_is N A B). apply largest_shares.
Qed.
Lemma w_q_min_mean : Language.q_min_mean (plain_of N) = q_min_mean N.
Proof.
  apply functional_extensionality; intro l. apply functional_extensionality; intro h. unfold Language.q_min_mean,
    q_min_mean. rewrite w_shares, (X_is N A B). cbn [plain_of Language.tokens]. now rewrite w_least by apply (Pn N Hp).
Qed.
Lemma w_gamma : Language.gamma (plain_of N) = gamma N.
Proof.
  apply functional_extensionality; intro c. apply functional_extensionality; intro l.
  apply functional_extensionality; intro h. unfold Language.gamma, gamma. rewrite w_delta_composite, w_oscillation,
    w_q_max_composite. destruct Req_EM_T as [E|E]; [|reflexivity]. rewrite E. unfold Rdiv. rewrite Rinv_0, Rmult_0_r.
  symmetry. apply sqrt_0.
Qed.
Lemma w_contraction : Language.contraction (plain_of N) = contraction N.
Proof.
  apply functional_extensionality; intro r. apply functional_extensionality; intro k. unfold Language.contraction,
    contraction, Lemmas_layer.contraction. rewrite (P_is N A B). cbn [plain_of Language.tokens Language.layers].
  replace (r * k)%nat with (k * r)%nat by lia.
  now replace (Nat.min (layers N) (k * r + r) - k * r)%nat with (Nat.min r (layers N - k * r)) by lia.
Qed.
Lemma h_centers center : are_centers N center -> Language.are_centers (plain_of N) center.
Proof. intros C l L. rewrite (X_is N A B). now apply C. Qed.
Lemma h_self_loops : self_loops N -> Language.self_loops (plain_of N).
Proof. intros S i Hi. apply edge; [exact Hi|exact Hi|]. now apply S. Qed.
Lemma h_mask_none : mask_none N -> Language.mask_none (plain_of N).
Proof. intros M i j. cbn [plain_of Language.edges]. now rewrite M. Qed.
Lemma h_mask_padding : mask_padding N -> Language.mask_padding (plain_of N).
Proof. exact (fun M => proj2 M). Qed.
Lemma h_mask_causal : mask_causal N -> Language.mask_causal (plain_of N).
Proof. intros M i j _ _. cbn [plain_of Language.edges]. now rewrite M. Qed.
End Words.
Lemma h_layernorm_none N : layernorm_none N -> Language.layernorm_none (plain_of N).
Proof. intros E. unfold Language.layernorm_none. cbn. now rewrite E. Qed.
Lemma h_layernorm_sphere N : layernorm_sphere N -> Language.layernorm_sphere (plain_of N).
Proof. intros E. unfold Language.layernorm_sphere. cbn. now rewrite E. Qed.
Lemma alone_none N : layernorm_none N -> mlp_none N -> alone N.
Proof. intros E M. split; [exact M|now left]. Qed.
Lemma alone_sphere N : layernorm_sphere N -> norm_after N -> mlp_none N -> alone N.
Proof. intros E F M. split; [exact M|now right]. Qed.
Lemma size_two (n : nat) : INR n >= 2 -> (n >= 2)%nat.
Proof. intros H. apply INR_le. simpl. lra. Qed.

(* ---------- statements in the words of Network.v ---------- *)
(** What is said of [at_layer N l], said of layer l of N; a hypothesis of a statement holds there. *)
Ltac at_words Q := repeat match type of Q with context [at_layer ?N ?l] => progress (rewrite ?(at_X0 N l), ?(at_X1 N l),
  ?(at_P N l), ?(at_P0 N l), ?(at_W N l), ?(at_W_QK N l), ?(at_epsilon N l), ?(at_epsilon0 N l), ?(at_logit_range N l),
  ?(at_delta_mean N l), ?(at_q_max_mean N l), ?(at_q_min_mean N l), ?(at_delta_composite N l), ?(at_q_max_composite N
  l), ?(at_gamma N l) in Q; try (rewrite (at_jacobian_norm N) in Q by alone_plain); try (rewrite (at_consensus_shift N
  l) in Q by alone_plain); repeat rewrite (at_influence N) in Q by alone_plain; repeat rewrite (at_last_share N) in Q
  by alone_plain; change (is_last (at_layer N l)) with (is_last N) in Q) end;
  cbn [at_layer layers heads tokens dim d_qk skip_of Nat.sub sum maxi minf prodf] in Q
with alone_plain := first [assumption | apply alone_none; assumption | apply alone_sphere; assumption].
Ltac met_at := first [ met | reflexivity | apply at_plain; assumption
  | match goal with M : mlp_none ?N |- mlp_none (at_layer ?N _) => intro; apply M
    | B : bias_none ?N |- bias_none (at_layer ?N _) => intro; apply B
    | B : query_bias_none ?N |- query_bias_none (at_layer ?N _) => intro; apply B
    | |- forall l, (l < layers (at_layer _ _))%nat -> _ => let k := fresh "k" in let K := fresh "K" in intros k K;
        replace k with 0%nat by (cbn in K; lia); clear k K; at_goal; first [met | match goal with F : forall l, (l < _)%nat
        -> _, L : (_ < layers _)%nat |- _ => solve [apply (F _ L)] end
        | match goal with F : forall l, (l < _)%nat -> _ |- _ => solve [apply F; lia] end]
    | |- _ => at_goal; met end ]
with at_goal := match goal with |- context [at_layer ?N ?l] => rewrite ?(at_X0 N l), ?(at_X1 N l),
  ?(at_P N l), ?(at_P0 N l), ?(at_W N l), ?(at_W_QK N l), ?(at_epsilon N l), ?(at_logit_range N l),
  ?(at_delta_mean N l), ?(at_q_max_mean N l), ?(at_q_min_mean N l), ?(at_delta_composite N l) end;
  cbn [at_layer layers heads tokens dim d_qk skip_of Nat.sub sum maxi minf prodf].
(** [by_statement th]: the goal is what th says of [plain_of N] or [scored_of N]. *)
Ltac sizes_in Q := cbn [plain_of scored_of Language.plain_network Language.tokens Language.dim Language.heads
  Language.layers Language.d_qk Language.skip_of Language.W Language.W_QK Language.bias Language.key_bias] in Q.
Ltac words_in Q N A Hp := repeat first
  [ rewrite (scored_X_is N A) in Q | rewrite (scored_P_is N A) in Q | rewrite (scored_P0_is N A) in Q
  | rewrite w_largest in Q by first [apply (PL N Hp) | apply (PH N Hp) | apply (Pn N Hp)]
  | rewrite w_least in Q by first [apply (PL N Hp) | apply (PH N Hp) | apply (Pn N Hp)]
  | rewrite w_norm_2 in Q | rewrite w_operator_norm in Q | rewrite w_definiteness in Q | rewrite w_centred_norm in Q
  | rewrite w_product_norm in Q | rewrite w_tower in Q by first [apply (PL N Hp) | unfold gamma; nonneg]
  | match goal with R : is_radius N ?r |- _ => first [rewrite w_double in Q by first [nonneg | apply R] | rewrite
      w_floor in Q by apply R] end
  | rewrite w_dobrushin in Q by apply (Pn N Hp) | rewrite w_first_gap in Q by (apply size_two; assumption)
  | match goal with B : plain N |- _ => first
    [ rewrite (X_is N A B) in Q | rewrite (P_is N A B) in Q | rewrite (w_epsilon N A B Hp) in Q
    | rewrite (w_logit_range N A B Hp) in Q | rewrite (w_in_degree N Hp) in Q
    | rewrite (w_delta_composite N A B Hp) in Q | rewrite (w_delta_mean N A B Hp) in Q
    | rewrite (w_q_max_composite N A B Hp) in Q | rewrite (w_q_max_mean N A B Hp) in Q
    | rewrite (w_q_min_mean N A B Hp) in Q | rewrite (w_gamma N A B Hp) in Q | rewrite (w_contraction N A B) in Q
    | rewrite (w_top_shares (tokens N)) in Q by (apply P_stochastic; exact Hp) ] end ];
  cbv beta in Q; cbn [exponent_of] in Q.
Ltac hypothesis_of N A Hp := first
  [ assumption | exact I | reflexivity
  | match goal with B : plain N |- _ => first [exact (proper_is N A B Hp) | now apply (h_centers N A B)] end
  | apply proper_scored; assumption
  | now apply h_layernorm_none | now apply h_layernorm_sphere | now apply h_self_loops
  | now apply h_mask_none | now apply h_mask_padding | now apply h_mask_causal
  | apply size_two; assumption | apply INR_le; lra | lia | lra ].
Ltac statement_in Q N A Hp := cbv zeta in Q; sizes_in Q; words_in Q N A Hp; repeat match type of Q with
  | forall r : nat, Language.is_radius _ r -> _ => match goal with R : is_radius N ?r |- _ => specialize (Q r R) end
  | forall c : nat -> vec, Language.are_centers _ c -> _ => match goal with C : are_centers N ?c |- _ =>
      specialize (Q c); specialize (Q ltac:(hypothesis_of N A Hp)) end
  | forall x : R, Language.is_x_star x -> _ => match goal with C : dong2021.x_star_is ?x |- _ => specialize (Q x C) end
  | ?H -> _ => specialize (Q ltac:(hypothesis_of N A Hp)) end; words_in Q N A Hp.
Ltac concluded Q := lazymatch type of Q with
  | forall p : Language.exponent, _ => repeat split; first [exact (Q Language.p_1) | exact (Q Language.p_2) | exact (Q
      Language.p_inf)]
  | _ /\ _ => let L := fresh "L" in let R := fresh "R" in destruct Q as [L R]; split; [concluded L|concluded R]
  | forall l, (l < ?m)%nat -> _ => let l := fresh "l" in let B := fresh "B" in intros l B; specialize (Q l B);
      rewrite ?Nat.add_1_r in Q; concluded Q
  | _ => rewrite ?Nat.add_1_r in Q; exact Q end.
Ltac network_of N A := match goal with
  | E : layernorm_none N, M : mlp_none N |- _ => pose proof (alone_none N E M) as A; pose proof (E : norm_of N = no_norm)
  | E : layernorm_sphere N, F : norm_after N, M : mlp_none N |- _ => pose proof (alone_sphere N E F M) as A end.
Ltac by_statement th := intros; match goal with Hp : proper ?N |- _ => let A := fresh "A" in let Q := fresh "Q" in
  network_of N A; pose proof (Pq N Hp); pose proof th as Q; red in Q; first [specialize (Q (plain_of N)) | specialize (Q (scored_of N))];
  statement_in Q N A Hp; concluded Q end.
