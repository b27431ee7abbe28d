(** A network of the language of claims, and the words of claims about it, as the checker reads them
    (rankmath/checker/statements.py, NETWORK): W_QK is any d x d matrix, d_qk any positive number, one mask with entries 0 and 1.
    [X_next], [P_is] tie it to the layers of Definitions.v, so that what is proved there holds here. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Rankmath Require Import Definitions Functions Norms Softmax Masks centred_form Quantities Lemmas_norms Lemmas_layer.
Local Open Scope R_scope.

Definition matrix (n m : nat) := nat -> nat -> R.
Inductive exponent := p_1 | p_2 | p_inf.
Inductive normalisation := no_norm | on_sphere | over_columns.
Record network := {
  tokens : nat; dim : nat; heads : nat; layers : nat;
  d_qk : R; skip_of : R; edges : mat; input : mat;
  W_QK_of : nat -> nat -> mat; W_of : nat -> nat -> mat; key_bias_of : nat -> nat -> vec; bias_of : nat -> vec;
  norm_of : normalisation; mlp_of : nat -> option (vec -> vec) }.

Section Layer.
Variable N : network.
Notation n := (tokens N).
Notation d := (dim N).
Definition W (l h : nat) : matrix d d := W_of N l h.
Definition W_QK (l h : nat) : matrix d d := W_QK_of N l h.
(** logits, attention and the layer on tokens Y *)
Definition logits_on (Y : mat) (l h : nat) : mat := fun i j => (bil d (Y i) (W_QK_of N l h) (Y j) + dot d (key_bias_of N l h) (Y j)) / sqrt (d_qk N).
Definition attention_on (Y : mat) (l h : nat) : mat := fun i => softmax n (edges N i) (logits_on Y l h i).
Definition sent (l : nat) (Y : mat) : mat := fun i b =>
  skip_of N * Y i b + (sum (heads N) (fun h => vmat d (vmat n (attention_on Y l h i) Y) (W_of N l h) b) + bias_of N l b).
Definition mapped (l : nat) (Y : mat) : mat := match mlp_of N l with None => Y | Some f => fun i => f (Y i) end.
Definition deviation (Y : mat) (a : nat) : R := sqrt (sum n (fun i => (Y i a - mean n Y a) ^ 2) / INR n).
Definition normed (Y : mat) : mat := match norm_of N with
  | no_norm => Y
  | on_sphere => fun i => sphere d (Y i)
  | over_columns => fun i a => (Y i a - mean n Y a) / deviation Y a end.
Definition start : mat := match norm_of N with on_sphere => fun i => sphere d (input N i) | _ => input N end.
Fixpoint tokens_at (l : nat) : mat := match l with O => start | S k => normed (mapped k (sent k (tokens_at k))) end.
End Layer.
Definition X (N : network) (l : nat) : matrix (tokens N) (dim N) := tokens_at N l.
Definition P (N : network) (l h : nat) : matrix (tokens N) (tokens N) := attention_on N (tokens_at N l) l h.
Definition logits (N : network) (l h : nat) : matrix (tokens N) (tokens N) := logits_on N (tokens_at N l) l h.

(** Sizes are positive, d_qk too, every query sees a key; on the sphere no token is 0 before it is divided by its length. *)
Definition proper (N : network) : Prop :=
  (0 < tokens N)%nat /\ (0 < dim N)%nat /\ (0 < heads N)%nat /\ (0 < layers N)%nat /\ 0 < d_qk N /\
  proper_mask (tokens N) (edges N) /\ zero_one (tokens N) (edges N) /\
  (norm_of N = on_sphere -> forall l i, (i < tokens N)%nat -> l2 (dim N) (X N l i) = 1).

(* ---------- hypotheses ---------- *)
Definition mask_none (N : network) : Prop := edges N = nomask.
Definition mask_complete (N : network) : Prop := edges N = nomask.
Definition mask_padding (N : network) : Prop := key_padding (tokens N) (edges N).
Definition mask_causal (N : network) : Prop := edges N = causal.
Definition layernorm_none (N : network) : Prop := norm_of N = no_norm.
Definition layernorm_sphere (N : network) : Prop := norm_of N = on_sphere.
Definition layernorm_column (N : network) : Prop := norm_of N = over_columns.
Definition mlp_none (N : network) : Prop := forall l, mlp_of N l = None.
Definition bias_none (N : network) : Prop := forall l a, bias_of N l a = 0.
Definition key_bias_none (N : network) : Prop := forall l h a, key_bias_of N l h a = 0.
Definition self_loops (N : network) : Prop := forall i, (i < tokens N)%nat -> 0 < edges N i i.
Definition is_radius (N : network) (r : nat) : Prop := (0 < r)%nat /\ exists c, centre (tokens N) (edges N) c r.
Definition quasi_strongly_connected (N : network) : Prop := exists r, is_radius N r.

(* ---------- quantities ---------- *)
Definition vector_norm (d : nat) (p : exponent) : vec -> R := match p with p_1 => l1 d | p_2 => l2 d | p_inf => linf d end.
Definition diameter {n d} (Y : matrix n d) (p : exponent) : R := diam n (vector_norm d p) Y.
Definition mu {n d} (Y : matrix n d) : R := Definitions.mu n d Y.
Definition longest {n d} (Y : matrix n d) : R := Quantities.longest n d Y.
Definition stable_rank {n d} (Y : matrix n d) : R := Quantities.stable_rank n d Y.
Definition cosine {n d} (Y : matrix n d) : R := Quantities.cosine n d Y.
Definition residual_one {n d} (Y : matrix n d) : R := resid (norm1 n d) Y.
Definition residual_inf {n d} (Y : matrix n d) : R := resid (norminf n d) Y.
Definition residual_composite {n d} (Y : matrix n d) : R := resid (comp n d) Y.
Definition residual_frobenius {n d} (Y : matrix n d) : R := resid (frob n d) Y.
Definition norm_1 {n d} (A : matrix n d) : R := norm1 n d A.
Definition norm_2 {n d} (A : matrix n d) : R := spectral n d A.
Definition norm_inf {n d} (A : matrix n d) : R := norminf n d A.
Definition norm_max {n d} (A : matrix n d) : R := maxentry n d A.
Definition norm_frobenius {n d} (A : matrix n d) : R := frob n d A.
Definition norm_composite {n d} (A : matrix n d) : R := comp n d A.
Definition operator_norm {d} (A : matrix d d) (p : exponent) : R := match p with p_1 => norminf d d A | p_2 => spectral d d A | p_inf => norm1 d d A end.
Definition form_norm {d} (A : matrix d d) (p : exponent) : R := match p with p_1 => maxentry d d A | p_2 => spectral d d A | p_inf => form_inf d A end.
Definition least_singular {d} (A : matrix d d) : R := Quantities.least_singular d A.
Definition product_norm (N : network) (p : exponent) : R := match p with
  | p_1 => norm1 (dim N) (dim N) (values (dim N) (fun l => W N l 0) (layers N))
  | p_2 => spectral (dim N) (dim N) (values (dim N) (fun l => W N l 0) (layers N))
  | p_inf => norminf (dim N) (dim N) (values (dim N) (fun l => W N l 0) (layers N)) end.
(** 1 where there is no MLP; of an MLP the language has a formula that is not here, and nothing is said of it. *)
Definition lipschitz_constant (N : network) (l : nat) (lam : R) : Prop := mlp_of N l = None -> lam = 1.
Definition dobrushin {n} (A : matrix n n) : R := Quantities.dobrushin n A.
Definition entropy {n} (A : matrix n n) : R := least_entropy n A.
Definition epsilon (N : network) (l h : nat) : R := Quantities.epsilon (tokens N) (edges N) (P N l h).
Definition in_degree (N : network) : R := Quantities.in_degree (tokens N) (edges N).
Definition logit_range (N : network) (l h : nat) : R := Quantities.logit_range (tokens N) (edges N) (logits N l h).
Definition contraction (N : network) (r k : nat) : R := Lemmas_layer.contraction (tokens N) (fun l => P N l 0) r (layers N) k.

(* ---------- the layers of Definitions.v ---------- *)
Section Bridge.
Variable N : network.
Notation n := (tokens N).
Notation d := (dim N).
(** Queries X W_QK scaled, keys X: the logits are those of the language. *)
Definition scale : R := sqrt (INR d) / sqrt (d_qk N).
Definition head_of (l h : nat) : head := {| WQ := fun a c => scale * W_QK_of N l h a c; WK := eye; bQ := fun c => scale * key_bias_of N l h c; bK := fun _ => 0;
  WV := W_of N l h; mask := edges N |}.
Definition block_of (l : nat) : block := {| att := {| nheads := heads N; dqk := d; hd := head_of l; bout := bias_of N l |}; skip := skip_of N; tok := fun v => v |}.
Hypothesis Hp : proper N.
Lemma Pn : (0 < n)%nat. Proof. apply Hp. Qed.
Lemma Pd : (0 < d)%nat. Proof. apply Hp. Qed.
Lemma Pq : 0 < d_qk N. Proof. apply Hp. Qed.
Lemma Pm : proper_mask n (edges N). Proof. apply Hp. Qed.
Lemma Pz : zero_one n (edges N). Proof. apply Hp. Qed.
Lemma sd : 0 < sqrt (INR d). Proof. apply sqrt_dqk_pos. apply Pd. Qed.
Lemma sq : 0 < sqrt (d_qk N). Proof. apply sqrt_lt_R0. apply Pq. Qed.
Lemma vmat_scaled Y l h c : vmat d Y (WQ (head_of l h)) c = scale * vmat d Y (W_QK_of N l h) c.
Proof. unfold vmat. cbn [WQ head_of]. rewrite <- sum_scal. apply sum_ext; intros; ring. Qed.
Lemma logits_is Y l h : logits_on N Y l h = logit d d (head_of l h) Y.
Proof.
  apply functional_extensionality; intro i. apply functional_extensionality; intro j. unfold logits_on, logit. assert (A := sd). assert (B := sq).
  rewrite (sum_ext d _ (fun c => scale * (vmat d (Y i) (W_QK_of N l h) c * Y j c + key_bias_of N l h c * Y j c))).
  - rewrite sum_scal, sum_plus. rewrite bil_dot. unfold dot, scale. field. lra.
  - intros c Hc. rewrite vmat_scaled. cbn [WK bQ bK head_of]. rewrite vmat_eye by exact Hc. ring.
Qed.
Lemma attention_is Y l h : attention_on N Y l h = attn n d d (head_of l h) Y.
Proof. unfold attention_on, attn. rewrite logits_is. reflexivity. Qed.
Lemma P_is l h : P N l h = attn n d d (head_of l h) (X N l).
Proof. apply attention_is. Qed.
Lemma logits_are l h : logits N l h = logit d d (head_of l h) (X N l).
Proof. apply logits_is. Qed.
Lemma sent_is l Y : sent N l Y = block_map n d (block_of l) Y.
Proof.
  apply functional_extensionality; intro i. apply functional_extensionality; intro b. unfold sent, block_map, SA. cbn [block_of tok skip att nheads dqk hd bout WV head_of].
  f_equal. f_equal. apply sum_ext; intros h _. now rewrite attention_is.
Qed.
Lemma X_next l : norm_of N = no_norm -> mlp_of N l = None -> X N (S l) = block_map n d (block_of l) (X N l).
Proof. intros A B. unfold X. cbn [tokens_at]. unfold normed, mapped. rewrite A, B. apply sent_is. Qed.
Lemma P_stochastic l h : row_stochastic n n (P N l h).
Proof. rewrite P_is. apply attn_stochastic. apply Pm. Qed.
Lemma WQK_is l h a b : (b < d)%nat -> WQK d (head_of l h) a b = scale * W_QK_of N l h a b.
Proof.
  intros Hb. unfold WQK. cbn [WQ WK head_of]. rewrite (sum_single d _ b Hb); unfold eye; [rewrite Nat.eqb_refl; ring|]. intros j _ Hj. destruct (Nat.eqb_spec b j); [lia|ring].
Qed.
(** a bound of the form W_QK is one of the scaled form *)
Lemma form_scaled (M : vec -> R) l h m : form_bound d M (W_QK_of N l h) m -> form_bound d M (WQK d (head_of l h)) (scale * m).
Proof.
  assert (S0 : 0 <= scale) by (apply Rmult_le_pos; [left; apply sd|left; apply Rinv_0_lt_compat, sq]). intros [m0 B]. split; [now apply Rmult_le_pos|]. intros u v.
  replace (bil d u (WQK d (head_of l h)) v) with (scale * bil d u (W_QK_of N l h) v).
  - rewrite Rabs_mult, (Rabs_right scale) by lra. rewrite !(Rmult_assoc scale). apply Rmult_le_compat_l; [exact S0|apply B].
  - unfold bil. rewrite <- sum_scal. apply sum_ext; intros a _. rewrite <- sum_scal. apply sum_ext; intros b Hb. rewrite WQK_is by exact Hb. ring.
Qed.
Lemma scale_away x c : scale * x / (c * sqrt (INR d)) = x / (c * sqrt (d_qk N)).
Proof.
  assert (A := sd). assert (B := sq). unfold scale. destruct (Req_dec c 0) as [->|C]; [unfold Rdiv; rewrite !Rmult_0_l, Rinv_0; ring|]. field. lra.
Qed.
End Bridge.
