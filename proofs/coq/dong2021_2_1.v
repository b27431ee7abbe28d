(** dong2021:2.1 and dong2021:2.1-skip, with skip connections X ->
  lambda X + SA(X), any lambda in each layer, and biases.
    The output of L layers is the sum over all paths (one head, or the skip, in each layer) of
    P_path X W_path, plus a constant matrix 1 b^T.  The attention matrices are those of the whole
    network; every P_path is row-stochastic. *)
Require Import Reals Lra Lia.
From Rankmath Require Language.
From Rankmath Require Import Definitions Norms Softmax seed_closure.
Local Open Scope R_scope.

(** Paths and the sums over them are words of the language. *)
Notation turn := Language.turn.
Notation sum_paths := Language.sum_paths.
Notation P_path := Language.P_path.
Notation W_path := Language.W_path.

(** b = sum_l b^l prod_{k>l} (sum_h W^k_h) *)
Fixpoint path_bias (d : nat) (H : nat -> nat) (W : nat -> nat -> mat) (b : nat -> vec) (L : nat) : vec :=
  match L with
  | O => fun _ => 0
  | S l => fun a => vmat d (path_bias d H W b l) (fun c e => sum (H l) (fun h => W l h c e)) a + b l a
  end.

Lemma sum_paths_ext H L F G : (forall p, F p = G p) -> sum_paths H L F = sum_paths H L G.
Proof.
  revert F G. induction L as [|l IH]; intros F G E; simpl; [apply E|].
  apply IH. intro p. apply sum_ext; intros; apply E.
Qed.

Lemma sum_paths_plus H L F G : sum_paths H L (fun p => F p + G p) = sum_paths H L F + sum_paths H L G.
Proof.
  revert F G. induction L as [|l IH]; intros F G; simpl; [reflexivity|].
  rewrite <- IH. apply sum_paths_ext. intro p. apply sum_plus.
Qed.

Lemma sum_paths_scal H L c F : sum_paths H L (fun p => c * F p) = c * sum_paths H L F.
Proof.
  revert F. induction L as [|l IH]; intros F; simpl; [reflexivity|].
  rewrite <- IH. apply sum_paths_ext. intro p. apply sum_scal.
Qed.

Lemma sum_paths_swap H L n (F : nat -> (nat -> nat) -> R) :
  sum n (fun j => sum_paths H L (F j)) = sum_paths H L (fun p => sum n (fun j => F j p)).
Proof.
  induction n; simpl.
  - rewrite (sum_paths_ext H L _ (fun _ => 0 * 0)) by (intros; ring). rewrite sum_paths_scal. ring.
  - now rewrite sum_paths_plus, IHn.
Qed.

Lemma turn_at p l h : turn p l h l = h.
Proof. unfold Language.turn. now rewrite Nat.eqb_refl. Qed.

Lemma P_path_ext n P L p q : (forall k, (k < L)%nat -> p k = q k) -> P_path n P L p = P_path n P L q.
Proof.
  induction L as [|l IH]; intros E; simpl; [reflexivity|].
  rewrite IH by (intros; apply E; lia). now rewrite E by lia.
Qed.

Lemma W_path_ext d W L p q : (forall k, (k < L)%nat -> p k = q k) -> W_path d W L p = W_path d W L q.
Proof.
  induction L as [|l IH]; intros E; simpl; [reflexivity|].
  rewrite IH by (intros; apply E; lia). now rewrite E by lia.
Qed.

Lemma P_path_stochastic n P L p : (forall l, (l < L)%nat -> row_stochastic n n (P l (p l))) ->
  row_stochastic n n (P_path n P L p).
Proof.
  induction L as [|l IH]; intros H; simpl; [apply eye_stochastic|].
  apply mmul_stochastic; [apply H; lia|apply IH; intros; apply H; lia].
Qed.

Lemma path_step n d (A Q X U W : mat) i a :
  mmul d (mmul n (mmul n A Q) X) (mmul d U W) i a
  = sum d (fun c => vmat n (A i) (mmul d (mmul n Q X) U) c * W c a).
Proof.
  unfold mmul at 1. rewrite <- vmat_assoc. apply (vmat_ext d _ _ W a). intros c _.
  rewrite <- (vmat_assoc n d (A i) (mmul n Q X) U). apply vmat_ext. intros e _. symmetry.
  unfold mmul. rewrite (vmat_assoc n n (A i) Q X). reflexivity.
Qed.

(** The identity, for any matrices P whose rows sum to one. *)
Lemma paths n d (H : nat -> nat) (P W : nat -> nat -> mat) (b : nat -> vec) (X : nat -> mat) L :
  (forall l h i, (l < L)%nat -> (h < H l)%nat -> (i < n)%nat -> sum n (P l h i) = 1) ->
  (forall l i a, (l < L)%nat -> (i < n)%nat -> (a < d)%nat ->
     X (S l) i a = sum (H l) (fun h => vmat d (vmat n (P l h i) (X l)) (W l h) a) + b l a) ->
  forall i a, (i < n)%nat -> (a < d)%nat ->
  X L i a = sum_paths H L (fun p => mmul d (mmul n (P_path n P L p) (X 0%nat)) (W_path d W L p) i a)
            + path_bias d H W b L a.
Proof.
  induction L as [|l IH]; intros HP HX i a Hi Ha.
  - cbn [sum_paths P_path W_path path_bias]. unfold mmul, vmat. rewrite sum_eye_r by exact Ha.
    rewrite sum_eye by exact Hi. ring.
  - rewrite HX by (auto; lia). cbn [sum_paths path_bias]. rewrite <- Rplus_assoc. f_equal.
    assert (IH' : forall j c, (j < n)%nat -> (c < d)%nat -> X l j c =
       sum_paths H l (fun p => mmul d (mmul n (P_path n P l p) (X 0%nat)) (W_path d W l p) j c)
       + path_bias d H W b l c).
    { intros j c Hj Hc. apply IH; try assumption; intros; [apply HP|apply HX]; try assumption; lia. }
    rewrite (sum_ext (H l) _ (fun h =>
      sum_paths H l (fun p => mmul d (mmul n (P_path n P (S l) (turn p l h)) (X 0%nat)) (W_path d W (S l) (turn p l h))
        i a)
      + vmat d (path_bias d H W b l) (W l h) a)).
    + rewrite sum_plus, sum_paths_swap. f_equal.
      unfold vmat. rewrite sum_swap. apply sum_ext; intros c _. now rewrite sum_scal.
    + intros h Hh. unfold vmat at 1.
      rewrite (sum_ext d _ (fun c => sum_paths H l (fun p =>
         vmat n (P l h i) (mmul d (mmul n (P_path n P l p) (X 0%nat)) (W_path d W l p)) c * W l h c a)
         + path_bias d H W b l c * W l h c a)).
      * rewrite sum_plus, sum_paths_swap. f_equal. apply sum_paths_ext. intro p.
        cbn [P_path W_path]. rewrite turn_at.
        rewrite (P_path_ext n P l (turn p l h) p), (W_path_ext d W l (turn p l h) p)
          by (intros k Hk; unfold Language.turn; destruct (Nat.eqb_spec k l); [lia|reflexivity]).
        symmetry. apply path_step.
      * intros c Hc. unfold vmat at 1.
        rewrite (sum_ext n _ (fun j => sum_paths H l (fun p =>
          P l h i j * mmul d (mmul n (P_path n P l p) (X 0%nat)) (W_path d W l p) j c) + P l h i j * path_bias d H W b
            l c)).
        -- rewrite sum_plus, sum_paths_swap, sum_scal_r, HP by (auto; lia).
           rewrite Rmult_plus_distr_r, Rmult_1_l. f_equal.
           rewrite Rmult_comm, <- sum_paths_scal. apply sum_paths_ext. intro p. unfold vmat at 1. ring.
        -- intros j Hj. rewrite IH' by assumption. rewrite sum_paths_scal. ring.
Qed.

(** The heads of layer l of a network: 0 is the skip, with P = I and W = lambda I; h+1 is head h. *)
Definition net_P (n d : nat) (B : nat -> block) (X : mat) (l h : nat) : mat :=
  match h with O => eye | S k => attn n d (dqk (att (B l))) (hd (att (B l)) k) (net n d B l X) end.
Definition net_W (B : nat -> block) (l h : nat) : mat :=
  match h with O => fun a c => skip (B l) * eye a c | S k => WV (hd (att (B l)) k) end.
Definition net_heads (B : nat -> block) (l : nat) : nat := S (nheads (att (B l))).

Theorem path_decomposition n d (B : nat -> block) (X : mat) (L : nat) :
  (forall l v, tok (B l) v = v) ->
  (forall l h, (h < nheads (att (B l)))%nat -> proper_mask n (mask (hd (att (B l)) h))) ->
  (forall i a, (i < n)%nat -> (a < d)%nat ->
     net n d B L X i a =
     sum_paths (net_heads B) L
       (fun p => mmul d (mmul n (P_path n (net_P n d B X) L p) X) (W_path d (net_W B) L p) i a)
     + path_bias d (net_heads B) (net_W B) (fun l => bout (att (B l))) L a) /\
  (forall p, (forall l, (l < L)%nat -> (p l < net_heads B l)%nat) ->
     row_stochastic n n (P_path n (net_P n d B X) L p)).
Proof.
  intros Ht Hm.
  assert (St : forall l h, (h < net_heads B l)%nat -> row_stochastic n n (net_P n d B X l h)).
  { intros l [|h] Hh; simpl; [apply eye_stochastic|]. apply attn_stochastic, Hm. unfold net_heads in Hh. lia. }
  split.
  - apply (paths n d (net_heads B) (net_P n d B X) (net_W B) (fun l => bout (att (B l))) (fun l => net n d B l X) L).
    + intros l h i _ Hh Hi. now apply (St l h Hh).
    + intros l i a _ Hi Ha. cbn [net]. unfold block_map. rewrite Ht. unfold SA, net_heads.
      rewrite sum_head. cbn [net_P net_W]. rewrite <- Rplus_assoc. f_equal. f_equal.
      rewrite (vmat_ext d _ (net n d B l X i)) by (intros c _; now apply (sum_eye n i (fun j => net n d B l X j c))).
      unfold vmat. rewrite (sum_single d _ a Ha).
      * unfold eye. rewrite Nat.eqb_refl. ring.
      * intros c _ Hc. unfold eye. destruct (Nat.eqb_spec c a); [congruence|ring].
  - intros p Hp. apply P_path_stochastic. intros l Hl. apply St, Hp, Hl.
Qed.
