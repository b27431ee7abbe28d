(** A network of the language of claims, and the words of claims about it, as the checker reads them
    (rankmath/checker/statements.py, NETWORK): W_QK is any d x d matrix, d_qk any positive number,
      one mask with entries 0 and 1.  With positions, capped logits or norms of queries and keys the logits are any
      functions of the tokens read.
    [X_next], [P_is] tie it to the layers of Definitions.v, so that what is proved there holds here. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Rankmath Require Import Definitions Functions Norms Softmax Masks centred_form Quantities Lemmas_norms
  Lemmas_tokens Lemmas_attention Lemmas_layer Lemmas_entropy Lemmas_spread Lemmas_reads Lemmas_ranks
  Lemmas_shares.
Local Open Scope R_scope.

Definition matrix (n m : nat) := nat -> nat -> R.
Inductive exponent := p_1 | p_2 | p_inf.
(** A map of single tokens after attention: x -> own_skip x + bend(x W_in + b_in) W_out + b_out with a bound of the
    slope of bend, or any other (a gated one). *)
Record fed := { width : nat; W_in : mat; b_in : vec; W_out : mat; b_out : vec; own_skip : R; bend : R -> R; slope : R;
  slope_bounds : forall x y, Rabs (bend x - bend y) <= slope * Rabs (x - y) }.
Inductive token_map := feeding (f : fed) | other_map (f : vec -> vec).
(** Over columns with the eps under the root; of a column that is constant nothing is left, whatever it is divided by. *)
Inductive normalisation := no_norm | on_sphere | over_columns (eps : R) | other_norm (f : mat -> mat).
Record network := {
  tokens : nat; dim : nat; heads : nat; layers : nat;
  d_qk : R; skip_of : R; edges : mat; input : mat;
  W_QK_of : nat -> nat -> mat; W_of : nat -> nat -> mat; key_bias_of : nat -> nat -> vec; bias_of : nat -> vec;
  scores_of : option (nat -> nat -> mat -> mat); (* other logits than the bilinear form's *)
  norm_of : normalisation; in_front : bool; (* of attention, or behind the layer *)
  mlp_of : nat -> option token_map }.

Section Layer.
Variable N : network.
Notation n := (tokens N).
Notation d := (dim N).
Definition W (l h : nat) : matrix d d := W_of N l h.
Definition W_QK (l h : nat) : matrix d d := W_QK_of N l h.
(** LayerNorm, and the tokens that attention reads *)
Definition deviation (eps : R) (Y : mat) (a : nat) : R := sqrt (sum n (fun i => (Y i a - mean n Y a) ^ 2) / INR n + eps).
Definition normed (Y : mat) : mat := match norm_of N with
  | no_norm => Y
  | on_sphere => fun i => sphere d (Y i)
  | over_columns eps => fun i a => (Y i a - mean n Y a) / deviation eps Y a
  | other_norm f => f Y end.
Definition read (Y : mat) : mat := if in_front N then normed Y else Y.
(** logits, attention and the layer on tokens Y; entries of logits beyond n are never looked at *)
Definition logits_on (Y : mat) (l h : nat) : mat := match scores_of N with
  | None => fun i j => (bil d (Y i) (W_QK_of N l h) (Y j) + dot d (key_bias_of N l h) (Y j)) / sqrt (d_qk N)
  | Some f => fun i j => sum n (fun b => vmat n (eye i) (f l h Y) b * eye j b) end.
Definition attention_on (Y : mat) (l h : nat) : mat := fun i => softmax n (edges N i) (logits_on Y l h i).
Definition sent (l : nat) (Y : mat) : mat := let Z := read Y in fun i b =>
  skip_of N * Y i b + (sum (heads N) (fun h => vmat d (vmat n (attention_on Z l h i) Z) (W_of N l h) b) + bias_of N l
    b).
Definition mapped (l : nat) (Y : mat) : mat := match mlp_of N l with None => Y | Some (other_map f) => fun i => f (Y i)
  | Some (feeding f) => fun i a => own_skip f * Y i a
      + (vmat (width f) (fun c => bend f (vmat d (Y i) (W_in f) c + b_in f c)) (W_out f) a + b_out f a) end.
Definition start : mat := if in_front N then input N else
  match norm_of N with on_sphere => fun i => sphere d (input N i) | _ => input N end.
Definition behind (Y : mat) : mat := if in_front N then Y else normed Y.
Fixpoint tokens_at (l : nat) : mat := match l with O => start | S k => behind (mapped k (sent k (tokens_at k))) end.
End Layer.
Definition X (N : network) (l : nat) : matrix (tokens N) (dim N) := tokens_at N l.
Definition reads (N : network) (l : nat) : mat := read N (X N l).
Definition P (N : network) (l h : nat) : matrix (tokens N) (tokens N) := attention_on N (reads N l) l h.
Definition logits (N : network) (l h : nat) : matrix (tokens N) (tokens N) := logits_on N (reads N l) l h.
(** The attention if all tokens that layer l reads were the first of them. *)
Definition P0 (N : network) (l h : nat) : matrix (tokens N) (tokens N) := attention_on N (fun _ => reads N l 0%nat) l h.

(** Sizes are positive, d_qk too, every query sees a key; on the sphere no token is 0 before it is divided by its
  length; with a LayerNorm in front of attention there are no MLPs here. *)
Definition proper (N : network) : Prop :=
  (0 < tokens N)%nat /\ (0 < dim N)%nat /\ (0 < heads N)%nat /\ (0 < layers N)%nat /\ 0 < d_qk N /\
  proper_mask (tokens N) (edges N) /\ zero_one (tokens N) (edges N) /\
  (norm_of N = on_sphere -> forall l i, (l <= layers N)%nat -> (i < tokens N)%nat -> l2 (dim N) (reads N l i) = 1) /\
  (in_front N = true -> forall l, mlp_of N l = None).

(* ---------- hypotheses ---------- *)
Definition mask_none (N : network) : Prop := edges N = nomask.
Definition mask_complete (N : network) : Prop := edges N = nomask.
Definition mask_padding (N : network) : Prop := key_padding (tokens N) (edges N).
Definition mask_causal (N : network) : Prop := edges N = causal.
(** Token i sees j for i - k < j <= i, or for |i - j| <= k; of the first kind is the causal mask too. *)
Definition sees (N : network) (p : nat -> nat -> bool) : Prop := forall i j, (i < tokens N)%nat -> (j < tokens N)%nat ->
  edges N i j = if p i j then 1 else 0.
Definition mask_causal_window_of (N : network) (x : R) : Prop := exists k, INR k = x /\
  sees N (fun i j => (Nat.leb j i && Nat.ltb i (j + k))%bool).
Definition mask_window_of (N : network) (x : R) : Prop := exists k, INR k = x /\
  sees N (fun i j => (Nat.leb i (j + k) && Nat.leb j (i + k))%bool).
Definition mask_causal_window (N : network) : Prop := exists x, mask_causal_window_of N x.
(** The logits are the bilinear form of the tokens: no positions, no caps, no norms of queries and keys. *)
Definition plain (N : network) : Prop := scores_of N = None.
Definition norm_after (N : network) : Prop := in_front N = false.
Definition norm_before (N : network) : Prop := in_front N = true.
Definition layernorm_none (N : network) : Prop := norm_of N = no_norm.
Definition layernorm_sphere (N : network) : Prop := norm_of N = on_sphere.
Definition layernorm_column (N : network) : Prop := exists eps, 0 <= eps /\ norm_of N = over_columns eps.
Definition mlp_none (N : network) : Prop := forall l, mlp_of N l = None.
Definition bias_none (N : network) : Prop := forall l a, bias_of N l a = 0.
Definition query_bias_none (N : network) : Prop := forall l h a, key_bias_of N l h a = 0.
Definition self_loops (N : network) : Prop := forall i, (i < tokens N)%nat -> 0 < edges N i i.
(** Some token is seen by all within r steps; the radius is the least r >= 1 for which there is one, 1 where there is
  none for any. *)
Definition reached (N : network) (r : nat) : Prop := exists c, centre (tokens N) (edges N) c r.
Definition quasi_strongly_connected (N : network) : Prop := exists r, reached N r.
Definition is_radius (N : network) (r : nat) : Prop := (1 <= r)%nat /\
  (quasi_strongly_connected N -> reached N r /\ forall k, (1 <= k)%nat -> reached N k -> (r <= k)%nat) /\
  (~ quasi_strongly_connected N -> r = 1%nat).

(* ---------- quantities ---------- *)
Definition vector_norm (d : nat) (p : exponent) : vec -> R := match p with p_1 => l1 d | p_2 => l2 d | p_inf => linf d
  end.
Definition diameter {n d} (Y : matrix n d) (p : exponent) : R := diam n (vector_norm d p) Y.
Definition mu {n d} (Y : matrix n d) : R := Definitions.mu n d Y.
Definition longest {n d} (Y : matrix n d) : R := Quantities.longest n d Y.
Definition stable_rank {n d} (Y : matrix n d) : R := Quantities.stable_rank n d Y.
Definition cosine {n d} (Y : matrix n d) : R := Quantities.cosine n d Y.
Definition centred_norm {n d} (Y : matrix n d) : R := Lemmas_spread.centred_norm n d Y.
Definition about_mean {n d} (Y : matrix n d) : R := Lemmas_spread.about_mean n d Y.
Definition first_gap {n d} (Y : matrix n d) : R := Lemmas_spread.first_gap n d Y.
Definition participation_ratio {n d} (Y : matrix n d) : R := Lemmas_spread.participation_ratio n d Y.
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
Definition operator_norm {d} (A : matrix d d) (p : exponent) : R := match p with p_1 => norminf d d A | p_2 => spectral
  d d A | p_inf => norm1 d d A end.
Definition form_norm {d} (A : matrix d d) (p : exponent) : R := match p with p_1 => maxentry d d A | p_2 => spectral d
  d A | p_inf => form_inf d A end.
Definition least_singular {d} (A : matrix d d) : R := Quantities.least_singular d A.
Definition rank {n d} (A : matrix n d) : R := Lemmas_spread.rank n d A.
Definition definiteness {d} (A : matrix d d) : R := Lemmas_spread.definiteness d A.
Definition product_norm (N : network) (p : exponent) : R := match p with
  | p_1 => norm1 (dim N) (dim N) (values (dim N) (fun l => W N l 0) (layers N))
  | p_2 => spectral (dim N) (dim N) (values (dim N) (fun l => W N l 0) (layers N))
  | p_inf => norminf (dim N) (dim N) (values (dim N) (fun l => W N l 0) (layers N)) end.
(** 1 where there is no map after attention; of other maps than [fed] it has no value, here 0 *)
Definition lipschitz (N : network) (l : nat) : R := match mlp_of N l with None => 1 | Some (other_map _) => 0
  | Some (feeding f) => comp (dim N) (dim N) (fun a b => slope f * sum (width f) (fun c => Rabs (W_in f a c) * Rabs
      (W_out f c b)) + Rabs (own_skip f) * eye a b) end.
Definition effective_rank_singular {n d} (Y : matrix n d) : R := Lemmas_shares.effective_rank_singular n d Y.
Definition effective_rank_eigen {n d} (Y : matrix n d) : R := Lemmas_shares.effective_rank_eigen n d Y.
Definition reach {n d} (Y : matrix n d) : R := Lemmas_shares.reach n d Y.
Definition diagonal {n} (A : matrix n n) (k : nat) : R := Lemmas_shares.diagonal n A k.
Definition other_share {n} (A : matrix n n) : R := Lemmas_shares.other_share n A.
Definition dobrushin {n} (A : matrix n n) : R := Quantities.dobrushin n A.
Definition entropy {n} (A : matrix n n) : R := least_entropy n A.
Definition top_shares {n} (A : matrix n n) : R := Lemmas_spread.top_shares n A.
Definition second_modulus {n} (A : matrix n n) : R := Lemmas_spread.second_modulus n A.
Definition epsilon (N : network) (l h : nat) : R := Quantities.epsilon (tokens N) (edges N) (P N l h).
Definition epsilon0 (N : network) (l h : nat) : R := Quantities.epsilon (tokens N) (edges N) (P0 N l h).
Definition in_degree (N : network) : R := Quantities.in_degree (tokens N) (edges N).
Definition logit_range (N : network) (l h : nat) : R := Quantities.logit_range (tokens N) (edges N) (logits N l h).
Definition contraction (N : network) (r k : nat) : R := Lemmas_layer.contraction (tokens N) (fun l => P N l 0) r
  (layers N) k.

(** About a centre x of the tokens: tilts R W_QK R^T/sqrt d_qk, how far each row of them swings,
  and the shares of the keys. *)
Definition tilts (N : network) (x : vec) (l h : nat) : mat := fun i j =>
  bil (dim N) (centred (X N l) x i) (W_QK_of N l h) (centred (X N l) x j) / sqrt (d_qk N).
Definition swings (N : network) (x : vec) (l h : nat) : vec := fun i => maxf (tokens N) (fun j => maxf (tokens N) (fun
  k => tilts N x l h i j - tilts N x l h i k)).
Definition shares_about (N : network) (x : vec) (l h : nat) : vec := softmax (tokens N) (fun _ => 1) (fun j =>
  dot (dim N) (centred (X N l) x j) (fun a => vmat (dim N) x (W_QK_of N l h) a + key_bias_of N l h a) / sqrt (d_qk N)).
(** x(l): a centre that minimises the composite norm of X[l] - 1 x^T; there may be several. *)
Definition are_centers (N : network) (center : nat -> vec) : Prop := forall l, (l <= layers N)%nat ->
  minimiser (comp (tokens N) (dim N)) (X N l) (center l).
Definition delta_mean (N : network) (l h : nat) : R := maxf (tokens N) (swings N (mean (tokens N) (X N l)) l h).
Definition delta_composite (N : network) (center : nat -> vec) (l h : nat) : R := maxf (tokens N) (swings N (center l)
  l h).
Definition q_max_mean (N : network) (l h : nat) : R := maxf (tokens N) (shares_about N (mean (tokens N) (X N l)) l h).
Definition q_max_composite (N : network) (center : nat -> vec) (l h : nat) : R := maxf (tokens N) (shares_about N
  (center l) l h).
Definition q_min_mean (N : network) (l h : nat) : R := minf (tokens N - 1) (shares_about N (mean (tokens N) (X N l)) l
  h).
Definition q_min_composite (N : network) (center : nat -> vec) (l h : nat) : R := minf (tokens N - 1) (shares_about N
  (center l) l h).
Definition gamma (N : network) (center : nat -> vec) (l h : nat) : R :=
  sqrt (sum (tokens N) (swings N (center l) l h) * q_max_composite N center l h / delta_composite N center l h).

(* ---------- the layers of Definitions.v ---------- *)
Section Bridge.
Variable N : network.
Notation n := (tokens N).
Notation d := (dim N).
(** Queries X W_QK scaled, keys X: the logits are those of the language. Other logits are weights of the mask. *)
Definition scale : R := sqrt (INR d) / sqrt (d_qk N).
Definition plain_head (l h : nat) : head := {| WQ := fun a c => scale * W_QK_of N l h a c; WK := eye;
  bQ := fun c => scale * key_bias_of N l h c; bK := fun _ => 0;
  WV := W_of N l h; mask := edges N |}.
Definition head_of (l h : nat) : head := match scores_of N with None => plain_head l h
  | Some _ => {| WQ := fun _ _ => 0; WK := eye; bQ := fun _ => 0; bK := fun _ => 0; WV := W_of N l h;
      mask := fun i j => edges N i j * exp (logits N l h i j) |} end.
Definition block_of (l : nat) : block := {| att := {| nheads := heads N; dqk := d; hd := head_of l;
  bout := bias_of N l |}; skip := skip_of N; tok := fun v => v |}.
Hypothesis Hp : proper N.
Lemma Pn : (0 < n)%nat. Proof. apply Hp. Qed.
Lemma Pd : (0 < d)%nat. Proof. apply Hp. Qed.
Lemma Pq : 0 < d_qk N. Proof. apply Hp. Qed.
Lemma Pm : proper_mask n (edges N). Proof. apply Hp. Qed.
Lemma Pz : zero_one n (edges N). Proof. apply Hp. Qed.
Lemma sd : 0 < sqrt (INR d). Proof. apply sqrt_dqk_pos. apply Pd. Qed.
Lemma sq : 0 < sqrt (d_qk N). Proof. apply sqrt_lt_R0. apply Pq. Qed.
Lemma vmat_scaled Y l h c : vmat d Y (WQ (plain_head l h)) c = scale * vmat d Y (W_QK_of N l h) c.
Proof. unfold vmat. cbn [WQ plain_head]. rewrite <- sum_scal. apply sum_ext; intros; ring. Qed.
Lemma logits_is Y l h : plain N -> logits_on N Y l h = logit d d (plain_head l h) Y.
Proof.
  intros S. apply functional_extensionality; intro i. apply functional_extensionality; intro j.
  unfold logits_on, logit. rewrite S.
  assert (A := sd). assert (B := sq).
  rewrite (sum_ext d _ (fun c => scale * (vmat d (Y i) (W_QK_of N l h) c * Y j c + key_bias_of N l h c * Y j c))).
  - rewrite sum_scal, sum_plus. rewrite bil_dot. unfold dot, scale. field. lra.
  - intros c Hc. rewrite vmat_scaled. cbn [WK bQ bK plain_head]. rewrite vmat_eye by exact Hc. ring.
Qed.
Lemma WV_is l h : WV (head_of l h) = W_of N l h.
Proof. unfold head_of. now destruct (scores_of N). Qed.
Lemma P_is l h : P N l h = attn n d d (head_of l h) (reads N l).
Proof.
  unfold P, attention_on, attn, head_of. destruct (scores_of N) as [f|] eqn:S; [|now rewrite <- logits_is by exact S].
  apply functional_extensionality; intro i. apply functional_extensionality; intro j. cbn [mask]. unfold softmax, tilt.
  assert (E : forall k, logit d d {| WQ := fun _ _ => 0; WK := eye; bQ := fun _ => 0; bK := fun _ => 0; WV := W_of N l
    h; mask := fun i j => edges N i j * exp (logits N l h i j) |} (reads N l) i k = 0).
  { intro k. unfold logit. rewrite (sum_ext d _ (fun _ => 0)), sum_zero; [unfold Rdiv; ring|]. intros c _.
    cbn [WQ bQ]. unfold vmat at 1. rewrite (sum_ext d _ (fun _ => 0)), sum_zero by (intros; ring). ring. }
  unfold logits. rewrite E, exp_0. rewrite (sum_ext n (fun k => edges N i k * exp (logits_on N (reads N l) l h i k) *
    exp (logit _ _ _ _ i k)) (fun k => edges N i k * exp (logits_on N (reads N l) l h i k))) by (intros;
    rewrite E, exp_0; ring). now rewrite Rmult_1_r.
Qed.
Lemma Ph l h : proper_mask n (mask (head_of l h)).
Proof.
  unfold head_of. destruct (scores_of N) as [f|]; [|apply Pm]. cbn [mask]. destruct Pm as [A B]. split.
  - intros. apply Rmult_le_pos; [now apply A|left; apply exp_pos].
  - intros i Hi. destruct (B i Hi) as [j [Hj L]]. exists j. split; [exact Hj|]. apply Rmult_lt_0_compat;
      [exact L|apply exp_pos].
Qed.
Lemma later_masked l h i j : mask_causal N -> (i < j)%nat -> mask (head_of l h) i j = 0.
Proof.
  intros C L. unfold mask_causal in C. unfold head_of. apply Nat.leb_gt in L.
  destruct (scores_of N); cbn [mask plain_head]; rewrite C; unfold causal; rewrite L; ring.
Qed.
(** Whatever the logits are, there is a head with the network's mask, and tokens, that have them. *)
Lemma as_head_on Z l h : exists d' dq hd Y, (0 < dq)%nat /\ mask hd = edges N /\ attention_on N Z l h = attn n d' dq
  hd Y /\ logits_on N Z l h = logit d' dq hd Y.
Proof.
  destruct (scores_of N) as [f|] eqn:S.
  - set (hd := {| WQ := fun a b => sqrt (INR n) * f l h Z a b; WK := eye; bQ := fun _ => 0; bK := fun _ => 0;
      WV := eye; mask := edges N |}).
    assert (R0 : 0 < sqrt (INR n)) by (apply sqrt_lt_R0, lt_0_INR, Pn).
    assert (E : logits_on N Z l h = logit n n hd eye).
    { apply functional_extensionality; intro i. apply functional_extensionality; intro j. unfold logits_on.
      rewrite S. unfold logit. cbn [WQ WK bQ bK hd].
      rewrite (sum_ext n (fun c => (vmat n (eye i) (fun a b => sqrt (INR n) * f l h Z a b) c + 0) * (vmat n
        (eye j) eye c + 0)) (fun c => sqrt (INR n) * (vmat n (eye i) (f l h Z) c * eye j c))).
      - rewrite sum_scal. field. lra.
      - intros c Hc. rewrite vmat_eye by exact Hc. rewrite !Rplus_0_r, <- Rmult_assoc. f_equal. unfold vmat.
        rewrite <- sum_scal. apply sum_ext; intros; ring. }
    exists n, n, hd, eye. repeat split; [apply Pn| |exact E]. unfold attention_on, attn. now rewrite <- E.
  - exists d, d, (plain_head l h), Z. repeat split; [apply Pd| |now apply logits_is].
    unfold attention_on, attn. now rewrite logits_is by exact S.
Qed.
Lemma as_head l h : exists d' dq hd Y, (0 < dq)%nat /\ mask hd = edges N /\ P N l h = attn n d' dq hd Y /\
  logits N l h = logit d' dq hd Y.
Proof. apply as_head_on. Qed.
Lemma as_head0 l h : exists d' dq hd Y, mask hd = edges N /\ P0 N l h = attn n d' dq hd Y.
Proof. destruct (as_head_on (fun _ => reads N l 0%nat) l h) as [d' [dq [hd [Y [_ [M [E _]]]]]]]. now exists d', dq, hd,
  Y. Qed.
Lemma P0_stochastic l h : row_stochastic n n (P0 N l h).
Proof. destruct (as_head0 l h) as [d' [dq [hd [Y [M ->]]]]]. apply attn_stochastic. rewrite M. apply Pm. Qed.
Lemma reads_after l : norm_after N -> reads N l = X N l.
Proof. intros A. unfold reads, read. now rewrite A. Qed.
Lemma reads_none l : norm_of N = no_norm -> reads N l = X N l.
Proof. intros A. unfold reads, read, normed. rewrite A. now destruct (in_front N). Qed.
Lemma logits_are l h : plain N -> norm_after N -> logits N l h = logit d d (plain_head l h) (X N l).
Proof. intros S A. unfold logits. rewrite reads_after by exact A. now apply logits_is. Qed.
Lemma P_plain l h : plain N -> norm_after N -> P N l h = attn n d d (plain_head l h) (X N l).
Proof. intros S A. rewrite P_is, reads_after by exact A. unfold head_of. now rewrite S. Qed.
Lemma P0_plain l h : plain N -> P0 N l h = attn n d d (plain_head l h) (fun _ => reads N l 0%nat).
Proof. intros S. unfold P0, attention_on, attn. now rewrite logits_is by exact S. Qed.
Lemma sent_is l : sent N l (X N l) = fun i b => skip_of N * X N l i b + SA n d (att (block_of l)) (reads N l) i b.
Proof.
  apply functional_extensionality; intro i. apply functional_extensionality; intro b. unfold sent, SA.
  cbn [block_of att nheads dqk hd bout]. do 2 f_equal. apply sum_ext; intros h _. rewrite WV_is, <- P_is. reflexivity.
Qed.
Lemma X_next l : norm_of N = no_norm -> mlp_of N l = None -> X N (S l) = block_map n d (block_of l) (X N l).
Proof.
  intros A B. unfold X at 1. cbn [tokens_at]. unfold behind, normed, mapped. rewrite A, B.
  transitivity (sent N l (X N l)); [now destruct (in_front N)|]. rewrite sent_is, (reads_none l A). reflexivity.
Qed.
Lemma X_front l : in_front N = true -> X N (S l) = front n d (att (block_of l)) (skip_of N) (X N l) (reads N l).
Proof.
  intros A. unfold X at 1. cbn [tokens_at]. unfold behind, mapped. rewrite A.
  destruct Hp as [_ [_ [_ [_ [_ [_ [_ [_ M]]]]]]]]. rewrite (M A l). apply sent_is.
Qed.
Lemma P_stochastic l h : row_stochastic n n (P N l h).
Proof. rewrite P_is. apply attn_stochastic. apply Ph. Qed.
Lemma WQK_is l h a b : (b < d)%nat -> WQK d (plain_head l h) a b = scale * W_QK_of N l h a b.
Proof.
  intros Hb. unfold WQK. cbn [WQ WK plain_head]. rewrite (sum_single d _ b Hb); unfold eye; [rewrite Nat.eqb_refl;
    ring|].
  intros j _ Hj. destruct (Nat.eqb_spec b j); [lia|ring].
Qed.
(** a bound of the form W_QK is one of the scaled form *)
Lemma form_scaled (M : vec -> R) l h m : form_bound d M (W_QK_of N l h) m ->
  form_bound d M (WQK d (plain_head l h)) (scale * m).
Proof.
  assert (S0 : 0 <= scale) by (apply Rmult_le_pos; [left; apply sd|left; apply Rinv_0_lt_compat, sq]). intros [m0 B].
  split; [now apply Rmult_le_pos|]. intros u v.
  replace (bil d u (WQK d (plain_head l h)) v) with (scale * bil d u (W_QK_of N l h) v).
  - rewrite Rabs_mult, (Rabs_right scale) by lra. rewrite !(Rmult_assoc scale).
    apply Rmult_le_compat_l; [exact S0|apply B].
  - unfold bil. rewrite <- sum_scal. apply sum_ext; intros a _. rewrite <- sum_scal. apply sum_ext; intros b Hb.
    rewrite WQK_is by exact Hb. ring.
Qed.
Lemma scale_away x c : scale * x / (c * sqrt (INR d)) = x / (c * sqrt (d_qk N)).
Proof.
  assert (A := sd). assert (B := sq). unfold scale. destruct (Req_dec c 0) as [->|C]; [unfold Rdiv;
    rewrite !Rmult_0_l, Rinv_0; ring|]. field. lra.
Qed.
Lemma unit_reads l : layernorm_sphere N -> (l <= layers N)%nat -> forall i, (i < n)%nat -> l2 d (reads N l i) = 1.
Proof. intros S Hl i Hi. destruct Hp as [_ [_ [_ [_ [_ [_ [_ [U _]]]]]]]]. now apply U. Qed.
Lemma unit_tokens l : layernorm_sphere N -> norm_after N -> (l <= layers N)%nat -> forall i, (i < n)%nat ->
  l2 d (X N l i) = 1.
Proof. intros S A. rewrite <- (reads_after l A). now apply unit_reads. Qed.
Lemma PH : (0 < heads N)%nat. Proof. apply Hp. Qed.
Lemma PL : (0 < layers N)%nat. Proof. apply Hp. Qed.
Lemma P_all l : norm_of N = no_norm -> P N l = fun h => attn n d d (head_of l h) (X N l).
Proof. intros A. apply functional_extensionality; intro h. rewrite P_is. now rewrite reads_none. Qed.
Lemma P_front l : P N l = fun h => attn n d d (head_of l h) (reads N l).
Proof. apply functional_extensionality; intro h. apply P_is. Qed.
Lemma W_all l : W N l = fun h => WV (head_of l h).
Proof. apply functional_extensionality; intro h. now rewrite WV_is. Qed.
Lemma tilts_are x l h : tilts N x l h = E_of d d (plain_head l h) (centred (X N l) x).
Proof.
  apply functional_extensionality; intro i. apply functional_extensionality; intro j. unfold tilts, E_of.
  assert (A := sd). assert (B := sq).
  replace (bil d (centred (X N l) x i) (WQK d (plain_head l h)) (centred (X N l) x j)) with (scale * bil d (centred (X N
    l) x i) (W_QK_of N l h) (centred (X N l) x j)); [unfold scale; field; lra|].
  unfold bil. rewrite <- sum_scal. apply sum_ext; intros a _. rewrite <- sum_scal. apply sum_ext; intros b Hb.
  rewrite WQK_is by exact Hb. ring.
Qed.
Lemma shares_are x l h : shares_about N x l h = shares n d d (plain_head l h) (X N l) x.
Proof.
  unfold shares_about, shares. f_equal. apply functional_extensionality; intro j. unfold c_of. assert (A := sd).
  assert (B := sq).
  rewrite (sum_ext d _ (fun c => scale * (centred (X N l) x j c * (vmat d x (W_QK_of N l h) c + key_bias_of N l h c)))).
  - rewrite sum_scal. unfold dot, scale. field. lra.
  - intros c Hc. rewrite vmat_scaled. cbn [WK bQ plain_head]. rewrite vmat_eye by exact Hc. ring.
Qed.
Lemma delta_is x l h : maxf n (swings N x l h) = Quantities.delta n d d (plain_head l h) (X N l) x.
Proof. unfold Quantities.delta, swing, swings. now rewrite tilts_are. Qed.
Lemma swings_are x l h : swings N x l h = swing n d d (plain_head l h) (X N l) x.
Proof. unfold swing, swings. now rewrite tilts_are. Qed.
(** Lemmas with d_qk, for any seminorm and any bound of the form. *)
Lemma dobrushin_form_N (M : seminorm) l h m : plain N -> norm_after N -> mask_padding N -> form_bound d M (W_QK_of N
  l h) m ->
  Quantities.dobrushin n (P N l h) <= tanh (m * diam n M (X N l) ^ 2 / (4 * sqrt (d_qk N))).
Proof.
  intros S A K F. rewrite P_plain by assumption. eapply Rle_trans;
    [apply (dobrushin_form n d d (plain_head l h) (X N l) Pd M (scale * m));
    [exact K|now apply form_scaled]|]. right. f_equal. rewrite Rmult_assoc. apply scale_away.
Qed.
Lemma delta_form_N (M : seminorm) l h m : form_bound d M (W_QK_of N l h) m ->
  delta_mean N l h <= m * diam n M (X N l) ^ 2 / sqrt (d_qk N).
Proof.
  intros F. unfold delta_mean. rewrite delta_is. eapply Rle_trans;
    [apply (delta_form n d d (plain_head l h) (X N l) Pd M (scale * m) Pn); now apply form_scaled|]. right.
  rewrite <- (Rmult_1_l (sqrt (INR d))), <- (Rmult_1_l (sqrt (d_qk N))), Rmult_assoc. apply scale_away.
Qed.
Lemma range_longest_N l h : plain N -> norm_after N -> query_bias_none N ->
  logit_range N l h <= spectral d d (W_QK_of N l h) * Quantities.longest n d (X N l) * diam n (l2 d) (X N l) / sqrt
    (d_qk N).
Proof.
  intros S A K. unfold logit_range. rewrite logits_are by assumption.
    assert (b0 : forall c, bQ (plain_head l h) c = 0) by (intro c;
    cbn [bQ plain_head]; rewrite K; ring).
  eapply Rle_trans; [apply (lemma_range_longest n d d (plain_head l h) (X N l) Pd b0)|].
  rewrite <- (Rmult_1_l (sqrt (INR d))), <- (Rmult_1_l (sqrt (d_qk N))), <- scale_away. unfold Rdiv.
  rewrite <- !Rmult_assoc. repeat (apply Rmult_le_compat_r; [first [left; apply Rinv_0_lt_compat; rewrite Rmult_1_l;
    apply sd|apply diam_nonneg|apply maxf_pos]|]).
  apply spectral_le. assert (S0 : 0 <= scale) by (apply Rmult_le_pos; [left; apply sd|left;
    apply Rinv_0_lt_compat, sq]). split; [apply Rmult_le_pos; [exact S0|apply spectral_nonneg]|]. intro v.
  rewrite (l2_ext d _ (fun b => scale * vmat d v (W_QK_of N l h) b)).
  - change (L2 d (fun b => scale * vmat d v (W_QK_of N l h) b) <= scale * spectral d d (W_QK_of N l h) * l2 d v).
    rewrite sn_scal, Rabs_right by lra. rewrite Rmult_assoc. apply Rmult_le_compat_l; [exact S0|apply spectral_vmat].
  - intros b Hb. unfold vmat. rewrite <- sum_scal. apply sum_ext; intros a _. rewrite WQK_is by exact Hb. ring.
Qed.
Lemma first_alone : mask_causal_window N -> forall j, (0 < j < n)%nat -> ~ 0 < edges N 0%nat j.
Proof.
  intros [x [k [_ E]]] j Hj. rewrite (E 0%nat j) by lia. destruct (Nat.leb_spec j 0); [lia|]. cbn [andb]. lra.
Qed.
Lemma causal_window : mask_causal N -> mask_causal_window N.
Proof.
  intros C. exists (INR n), n. split; [reflexivity|]. intros i j Hi Hj. rewrite C. unfold causal.
  destruct (Nat.ltb_spec i (j + n)); [|lia]. now destruct (Nat.leb j i).
Qed.
Lemma degree_causal_window x : mask_causal_window_of N x -> Quantities.in_degree n (edges N) <= x.
Proof.
  intros [k [<- E]]. apply (degree_between n (edges N) k (fun i => (S i - k)%nat) S); [intros; lia|].
  intros i j Hi Hj L. rewrite (E i j Hi Hj) in L.
  destruct (Nat.leb_spec j i), (Nat.ltb_spec i (j + k)); cbn [andb] in L; (lia || lra).
Qed.
Lemma degree_window x : mask_window_of N x -> Quantities.in_degree n (edges N) <= 2 * x + 1.
Proof.
  intros [k [<- E]]. replace (2 * INR k + 1) with (INR (2 * k + 1)) by (rewrite plus_INR, mult_INR; simpl; ring).
  apply (degree_between n (edges N) (2 * k + 1) (fun i => (i - k)%nat) (fun i => (i + k + 1)%nat)); [intros; lia|].
  intros i j Hi Hj L. rewrite (E i j Hi Hj) in L.
  destruct (Nat.leb_spec i (j + k)), (Nat.leb_spec j (i + k)); cbn [andb] in L; (lia || lra).
Qed.
End Bridge.

(** What the lemmas ask for. *)
Lemma form_spectral d M : form_bound d (l2 d) M (spectral d d M).
Proof. rewrite <- form_norm_2. apply (form_attained d (L2 d)). exists (frob d d M). apply form_l2. Qed.
Ltac in_words := cbv beta iota delta [diameter vector_norm mu longest stable_rank cosine centred_norm about_mean
  first_gap participation_ratio top_shares second_modulus definiteness rank residual_one residual_inf
    residual_composite residual_frobenius norm_1 norm_2 norm_inf norm_max
  norm_frobenius norm_composite operator_norm form_norm least_singular product_norm effective_rank_singular effective_rank_eigen reach diagonal
    other_share dobrushin entropy epsilon epsilon0
    in_degree logit_range contraction
  delta_mean delta_composite q_max_mean q_max_composite q_min_mean q_min_composite gamma] in *.
Ltac needed := intros; first
  [ lazymatch goal with |- row_stochastic _ _ (P _ _ _) => apply P_stochastic; assumption
      | |- row_stochastic _ _ (P0 _ _ _) => apply P0_stochastic; assumption end
  | assumption | apply Pn; assumption | apply Pd; assumption | apply PH; assumption | apply PL; assumption | apply Pm;
    assumption | apply Ph; assumption | apply Pz; assumption
  | now apply unit_tokens | apply unit_reads; (assumption || lia) | now apply later_masked | reflexivity | lia | lra
    | match goal with H : mask_none ?N |- mask _ = nomask => exact H |
    H : bias_none ?N |- _ => apply H
    | H : is_radius _ ?r |- (0 < ?r)%nat => apply H | H : self_loops ?N |- 0 < edges ?N _ _ => now apply H end ].
(** The theorem about one head, or about one layer. *)
Ltac by_head th := solve [match goal with Hp : proper ?N |- context [P ?N ?l ?h] =>
      let d := fresh in let dq := fresh in let hd := fresh in let Y := fresh in let M := fresh in
      let EP := fresh in let EL := fresh in destruct (as_head N Hp l h) as [d [dq [hd [Y [_ [M [EP EL]]]]]]];
      rewrite ?EP, ?EL, <- ?M;
      apply (th (tokens N) d dq hd Y); rewrite ?M; needed end].
Ltac by_layer th := first
  [ solve [match goal with Hp : proper ?N, A : layernorm_none ?N, B : mlp_none ?N, L : (?l < layers ?N)%nat |- _ =>
      rewrite ?(X_next N Hp l A (B l)), ?(P_all N Hp l A), ?(W_all N l); cbv beta;
        apply (th (tokens N) (dim N) (block_of N l) (X N l)); needed end]
  | solve [match goal with Hp : proper ?N, F : norm_before ?N, L : (?l < layers ?N)%nat |- _ =>
      rewrite ?(X_front N Hp l F), ?(P_front N Hp l), ?(W_all N l); cbv beta;
        apply (th (tokens N) (dim N) (att (block_of N l)) (skip_of N) (X N l) (reads N l)); needed end] ].
(** The theorem as it stands, with no mask written out, with attention and logits of the layer,
  or about the next layer. *)
Ltac by_theorem th := intros; in_words; cbv beta; first
  [ match goal with |- context [shares_about] => idtac | |- context [swings] => idtac end;
    rewrite ?shares_are, ?swings_are by assumption; solve [apply th; needed]
  | match goal with |- context [X _ (S _)] => by_layer th end
  | let T := type of th in match T with context [attn] => by_head th end
  | solve [apply th; needed]
  | solve [rewrite !Rmult_1_l; apply th; needed]
  | solve [match goal with H : mask_none ?N |- _ => unfold mask_none in H; rewrite H end; apply th; needed]
  | solve [rewrite ?shares_are, ?swings_are by assumption; apply th; needed]
  | by_head th
  | solve [match goal with Hp : proper ?N |- context [P0 ?N ?l ?h] =>
      let d := fresh in let dq := fresh in let hd := fresh in let Y := fresh in let M := fresh in let E := fresh in
      destruct (as_head0 N Hp l h) as [d [dq [hd [Y [M E]]]]]; rewrite ?E, <- ?M;
      apply (th (tokens N) d dq hd Y); rewrite ?M; needed end]
  | by_layer th ].
(** Lemmas with d_qk, for each of the three norms, and of whole networks. *)
Ltac by_form th := intros; in_words; match goal with Hp : proper ?N |- _ => first
  [ solve [apply (th N Hp (L1 (dim N))); first [assumption|apply form_l1]]
  | solve [apply (th N Hp (L2 (dim N))); first [assumption|apply form_spectral]]
  | solve [apply (th N Hp (Linf (dim N))); first [assumption|apply form_bound_inf]] ] end.
Ltac by_gamma := intros; in_words; rewrite swings_are, shares_are by assumption;
  match goal with Hp : proper ?N, L : (?l < layers ?N)%nat, H : (?h < heads ?N)%nat |- _ =>
  apply (lemma_gamma (tokens N) (dim N) (dim N) (plain_head N l h) (X N l)) end.
Ltac by_blocks := intros; match goal with Hp : proper ?N, R : is_radius ?N ?r, K : quasi_strongly_connected ?N |- _ =>
    destruct R as [Hr [C' _]]; destruct (proj1 (C' K)) as [c C];
  apply (lemma_contraction_blocks (tokens N) (fun l => P N l 0) (edges N) c r (layers N)); needed end.
Ltac by_no_mlp := intros; unfold lipschitz; match goal with M : mlp_none ?N |- _ => now rewrite M end.
