(** dong2021:2.1, dong2021:2.1-skip, dong2021:A.3, dong2021v1:A.3, dong2021:norm, dong2021:2.2, dong2021:2.3,
    dong2021:3.2, own:composite, dong2021:3.1, dong2021:3.3, unstated:ln-sphere.  What each is stands before its
    theorems. *)
Require Import Reals Lra Lia Psatz Classical FunctionalExtensionality.
From Rankmath Require Import Definitions Functions Norms seed_closure Softmax centred_form SphereLayer own_diameter
    own_gamma_free.
From Rankmath Require Language.
Local Open Scope R_scope.

(** dong2021:norm.  The composite value comp A = sqrt(norm1 A * norminf A) is absolutely homogeneous,
    vanishes only at 0 and is submultiplicative, but is not a norm: for n >= 2, A = e_1 1^T and B = A^T have
    comp A + comp B = 2 sqrt n < n + 1 = comp (A + B)   [composite_not_norm].
    What replaces the triangle inequality: comp(sum_h A_h)^2 <= (sum_h norm1 A_h)(sum_h norminf A_h)  [composite_sum].
    *)

Lemma comp_mmul n k d A B : comp n d (mmul k A B) <= comp n k A * comp k d B.
Proof.
  unfold comp. rewrite <- sqrt_mult_alt by (apply Rmult_le_pos; apply maxf_pos). apply sqrt_le_1_alt.
  eapply Rle_trans; [apply Rmult_le_compat; [apply maxf_pos|apply maxf_pos|apply norm1_mmul|apply norminf_mmul]|].
  right. ring.
Qed.

Lemma comp_scal n d c A : comp n d (fun i a => c * A i a) = Rabs c * comp n d A.
Proof.
  assert (N1 : norm1 n d (fun i a => c * A i a) = Rabs c * norm1 n d A).
  { unfold norm1. rewrite <- maxf_scal by apply Rabs_pos. apply maxf_ext; intros a _. rewrite <- sum_scal.
    apply sum_ext; intros; apply Rabs_mult. }
  assert (N2 : norminf n d (fun i a => c * A i a) = Rabs c * norminf n d A).
  { unfold norminf. rewrite <- maxf_scal by apply Rabs_pos. apply maxf_ext; intros i _. rewrite <- sum_scal.
    apply sum_ext; intros; apply Rabs_mult. }
  unfold comp. rewrite N1, N2.
  replace (Rabs c * norm1 n d A * (Rabs c * norminf n d A)) with (Rsqr (Rabs c) * (norm1 n d A * norminf n d A)) by
    (unfold Rsqr; ring).
  rewrite sqrt_mult_alt by apply Rle_0_sqr. rewrite sqrt_Rsqr by apply Rabs_pos. reflexivity.
Qed.

Lemma comp_zero n d A : comp n d A = 0 -> forall i a, (i < n)%nat -> (a < d)%nat -> A i a = 0.
Proof.
  intros H i a Hi Ha. assert (S := comp_sq n d A). rewrite H in S.
  assert (P1 := norm1_pos n d A). assert (P2 := norminf_pos n d A).
  assert (A0 := Rabs_pos (A i a)).
  assert (C1 : Rabs (A i a) <= norm1 n d A).
  { eapply Rle_trans; [|now apply (col_le n d A a)].
    apply (sum_term_le n (fun i => Rabs (A i a)) i); [intros; apply Rabs_pos|exact Hi]. }
  assert (C2 : Rabs (A i a) <= norminf n d A).
  { eapply Rle_trans; [|now apply (row_le n d A i)].
    apply (sum_term_le d (fun a => Rabs (A i a)) a); [intros; apply Rabs_pos|exact Ha]. }
  destruct (Rmult_integral (norm1 n d A) (norminf n d A)) as [Z|Z]; [lra| |];
    rewrite Z in *; apply NNPP; intro NZ; apply Rabs_pos_lt in NZ; lra.
Qed.

Theorem composite_sum n d H (A : nat -> mat) :
  comp n d (fun i a => sum H (fun h => A h i a)) <=
  sqrt (sum H (fun h => norm1 n d (A h))) * sqrt (sum H (fun h => norminf n d (A h))).
Proof.
  rewrite <- sqrt_mult_alt by (apply sum_nonneg; intros; apply maxf_pos).
  apply comp_le; [apply norm1_sum|apply norminf_sum].
Qed.

(** e_1 1^T and its transpose. *)
Definition first_row : mat := fun i _ => if Nat.eqb i 0 then 1 else 0.
Definition first_col : mat := fun _ a => if Nat.eqb a 0 then 1 else 0.

Lemma maxf_first n f : (0 < n)%nat -> (forall j, (j < n)%nat -> f j <= f 0%nat) -> 0 <= f 0%nat -> maxf n f = f 0%nat.
Proof. intros Hn H H0. apply Rle_antisym; [apply maxf_lub; assumption|now apply maxf_ub]. Qed.

Lemma sum_delta n : (0 < n)%nat -> sum n (fun i => Rabs (if Nat.eqb i 0 then 1 else 0)) = 1.
Proof.
  intros H. rewrite sum_first; [simpl; apply Rabs_R1|exact H|].
  intros a _ Ha. destruct (Nat.eqb_spec a 0); [congruence|apply Rabs_R0].
Qed.

Lemma norms_first_row n : (0 < n)%nat -> norm1 n n first_row = 1 /\ norminf n n first_row = INR n.
Proof.
  intros Hn. unfold norm1, norminf, first_row. split.
  - rewrite maxf_first; [now apply sum_delta|exact Hn|intros; lra|]. rewrite sum_delta by exact Hn. lra.
  - rewrite maxf_first; [|exact Hn| |].
    + simpl Nat.eqb. rewrite sum_const, Rabs_R1. ring.
    + intros j _. apply sum_le; intros. destruct (Nat.eqb j 0); simpl; rewrite ?Rabs_R0, ?Rabs_R1; lra.
    + apply sum_nonneg; intros; apply Rabs_pos.
Qed.

Lemma norms_first_col n : (0 < n)%nat -> norm1 n n first_col = INR n /\ norminf n n first_col = 1.
Proof. intros Hn. destruct (norms_first_row n Hn) as [A B]. split; [exact B|exact A]. Qed.

Lemma first_sum_row n i : (0 < n)%nat -> (i < n)%nat ->
  sum n (fun a => Rabs (madd first_row first_col i a)) = if Nat.eqb i 0 then INR n + 1 else 1.
Proof.
  intros Hn Hi. unfold madd, first_row, first_col.
  rewrite (sum_ext n _ (fun a => (if Nat.eqb i 0 then 1 else 0) + Rabs (if Nat.eqb a 0 then 1 else 0))).
  - rewrite sum_plus, sum_const, sum_delta by exact Hn. destruct (Nat.eqb i 0); ring.
  - intros a _. destruct (Nat.eqb i 0), (Nat.eqb a 0); rewrite ?Rabs_R0, ?Rabs_R1; rewrite Rabs_right; lra.
Qed.

Theorem composite_not_norm n : (2 <= n)%nat ->
  comp n n first_row + comp n n first_col = 2 * sqrt (INR n) /\
  comp n n (madd first_row first_col) = INR n + 1 /\
  comp n n first_row + comp n n first_col < comp n n (madd first_row first_col).
Proof.
  intros Hn2. assert (Hn : (0 < n)%nat) by lia. assert (N2 : 2 <= INR n) by (apply (le_INR 2) in Hn2; simpl in Hn2;
    lra).
  assert (E1 : comp n n first_row + comp n n first_col = 2 * sqrt (INR n)).
  { unfold comp. destruct (norms_first_row n Hn) as [-> ->]. destruct (norms_first_col n Hn) as [-> ->].
    rewrite Rmult_1_l, Rmult_1_r. ring. }
  assert (NI : norminf n n (madd first_row first_col) = INR n + 1).
  { unfold norminf. rewrite maxf_first; [rewrite first_sum_row by lia; reflexivity|exact Hn| |].
    - intros j Hj. rewrite !first_sum_row by lia. simpl Nat.eqb. destruct (Nat.eqb j 0); simpl; lra.
    - apply sum_nonneg; intros; apply Rabs_pos. }
  assert (NO : norm1 n n (madd first_row first_col) = INR n + 1).
  { rewrite <- NI. unfold norm1, norminf. apply maxf_ext; intros a _. apply sum_ext; intros i _.
    unfold madd, first_row, first_col. f_equal. ring. }
  assert (E2 : comp n n (madd first_row first_col) = INR n + 1).
  { unfold comp. rewrite NO, NI. apply sqrt_square. lra. }
  split; [exact E1|split; [exact E2|]]. rewrite E1, E2.
  assert (S := sqrt_sqrt (INR n) ltac:(lra)). assert (P := sqrt_pos (INR n)).
  assert (Q : sqrt (INR n) <> 1) by (intro Q; rewrite Q in S; lra). nra.
Qed.

(** dong2021:2.1 and dong2021:2.1-skip, with skip connections X ->
  lambda X + SA(X), any lambda in each layer, and biases.
    The output of L layers is the sum over all paths (one head, or the skip, in each layer) of
    P_path X W_path, plus a constant matrix 1 b^T.  The attention matrices are those of the whole
    network; every P_path is row-stochastic. *)

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

(** unstated:ln-sphere refuted.  "LayerNorm plays no role": false if LayerNorm divides every token by its 2-norm.

    Two tokens, causal mask, W_QK = 0, W_V = [[1, 5/3],[0, 1]], X = ((0,1), (-3/5, 4/5)): an equilibrium, so
    mu(X(t)) = mu(X) > 0 for every t, and nothing collapses; without LayerNorm it would (wu2024:1). *)

Definition W53 : mat := fun a b => match a, b with O, O => 1 | O, 1%nat => 5/3 | 1%nat, 1%nat => 1 | _, _ => 0 end.
Definition X53 : mat := fun i a => match i, a with O, O => 0 | O, _ => 1 | _, O => - (3/5) | _, _ => 4/5 end.

Theorem ln_sphere_refuted : exists M W X : mat, (forall i, (i < 2)%nat -> l2 2 (X i) = 1) /\ (forall a b, M a b = 0) /\
  fixed 2 2 (sphere_map 2 2 M W causal) X /\
  0 < mu 2 2 X /\ forall t, mu 2 2 (net 2 2 (fun _ => normalised 2 (onehead 2 M W causal)) t X) = mu 2 2 X.
Proof.
  exists (fun _ _ => 0), W53, X53.
  assert (U : forall i, (i < 2)%nat -> l2 2 (X53 i) = 1).
  { intros i Hi. unfold l2, dot. cbn [sum]. transitivity (sqrt 1); [|apply sqrt_1]. f_equal.
    destruct i as [|[|i]]; try lia; cbn [X53]; lra. }
  assert (Ux53 : forall X i b, (forall j a, (j < 2)%nat -> (a < 2)%nat -> X j a = X53 j a) -> (i < 2)%nat ->
    (b < 2)%nat -> Ux 2 2 (fun _ _ => 0) W53 causal X i b = X53 i b).
  { intros X i b HX Hi Hb. unfold Ux, Ex.
    assert (B : forall u v, bil 2 u (fun _ _ => 0) v = 0) by (intros; unfold bil; cbn [sum]; ring).
    cbn [sum]. rewrite !B, exp_0. unfold vmat. cbn [sum]. rewrite !HX by lia. unfold causal.
    destruct i as [|[|i]]; try lia; destruct b as [|[|b]]; try lia; cbn [Nat.leb X53 W53]; lra. }
  assert (Fx : forall X i b, (forall j a, (j < 2)%nat -> (a < 2)%nat -> X j a = X53 j a) -> (i < 2)%nat ->
    (b < 2)%nat -> sphere_map 2 2 (fun _ _ => 0) W53 causal X i b = X53 i b).
  { intros X i b HX Hi Hb. rewrite sphere_form by (auto using causal_proper; lia). rewrite Ux53 by assumption.
    replace (l2 2 (Ux 2 2 (fun _ _ => 0) W53 causal X i)) with 1; [lra|].
    rewrite <- (U i Hi). unfold l2, dot. f_equal. cbn [sum]. now rewrite !Ux53 by (auto; lia). }
  split; [exact U|split; [reflexivity|split; [intros i a Hi Ha; now apply Fx|split]]].
  - unfold mu, frob. apply sqrt_lt_R0. unfold dot, centred, vsub, mean. cbn [sum X53]. simpl INR. lra.
  - intro t. assert (E : forall i a, (i < 2)%nat -> (a < 2)%nat ->
      net 2 2 (fun _ => normalised 2 (onehead 2 (fun _ _ => 0) W53 causal)) t X53 i a = X53 i a).
    { induction t as [|t IH]; intros i a Hi Ha; [reflexivity|]. simpl. now apply Fx. }
    unfold mu, frob, dot, centred, vsub, mean. cbn [sum]. now rewrite !E by lia.
Qed.

(** dong2021:A.3, the softmax sandwich.  Let q be a probability vector, p_j = q_j e^{E_j} / sum_k q_k e^{E_k}
    and E_j - E_k <= D wherever q_j, q_k > 0.  Then e^{-D} q_j <= p_j <= e^D q_j and (1 - D) q_j <= p_j; and
    if e^D <= 1 + 2D, then p_j <= (1 + 2D) q_j and |p_j - q_j| <= 2D q_j   [sandwich].
    The positive root x* of e^x = 1 + 2x is unique, 1.2564 < x* < 1.2565, and for D >= 0 the hypothesis
    is D <= x*   [x_star_spec].  dong2021v1:A.3 (no hypothesis on D) is false: for every D > x* two atoms
    have p_0 > (1 + 2D) q_0   [sandwich_fails_beyond]. *)

Theorem sandwich n (q E : vec) (D : R) :
  (forall j, (j < n)%nat -> 0 <= q j) -> sum n q = 1 ->
  (forall j k, (j < n)%nat -> (k < n)%nat -> 0 < q j -> 0 < q k -> E j - E k <= D) ->
  forall j, (j < n)%nat ->
  exp (- D) * q j <= tilt n q E j <= exp D * q j /\
  (1 - D) * q j <= tilt n q E j /\
  (exp D <= 1 + 2 * D -> tilt n q E j <= (1 + 2 * D) * q j /\ Rabs (tilt n q E j - q j) <= 2 * D * q j).
Proof.
  intros Hq Hs Ho j Hj. assert (W : weights n q) by now apply prob_weights.
  assert (Zp := tilt_Z_pos n q W E). set (Z := sum n (fun k => q k * exp (E k))) in *.
  assert (D0 : 0 <= D). { destruct W as [_ [k [Hk Pk]]]. specialize (Ho k k Hk Hk Pk Pk). lra. }
  assert (Qj := Hq j Hj). assert (Pj := exp_pos (E j)).
  assert (main : exp (- D) * q j <= tilt n q E j <= exp D * q j).
  { destruct (Rle_lt_or_eq_dec 0 (q j) Qj) as [Lj|Lj].
    2:{ unfold tilt. rewrite <- Lj. unfold Rdiv. split; right; ring. }
    assert (Z1 : Z <= exp (E j) * exp D).
    { rewrite <- (Rmult_1_l (exp (E j) * exp D)), <- Hs, <- sum_scal_r. apply sum_le; intros k Hk.
      destruct (Rle_lt_or_eq_dec 0 (q k) (Hq k Hk)) as [Lk|Lk]; [|rewrite <- Lk; lra].
      apply Rmult_le_compat_l; [lra|]. rewrite <- exp_plus. apply exp_le. specialize (Ho k j Hk Hj Lk Lj). lra. }
    assert (Z2 : exp (E j) * exp (- D) <= Z).
    { rewrite <- (Rmult_1_l (exp (E j) * exp (- D))), <- Hs, <- sum_scal_r. apply sum_le; intros k Hk.
      destruct (Rle_lt_or_eq_dec 0 (q k) (Hq k Hk)) as [Lk|Lk]; [|rewrite <- Lk; lra].
      apply Rmult_le_compat_l; [lra|]. rewrite <- exp_plus. apply exp_le. specialize (Ho j k Hj Hk Lj Lk). lra. }
    assert (Ed : exp D * exp (- D) = 1) by (rewrite <- exp_plus, <- exp_0; f_equal; ring).
    assert (PD := exp_pos D). assert (PD' := exp_pos (- D)).
    unfold tilt. fold Z. split; (apply Rmult_le_reg_r with Z; [exact Zp|]); unfold Rdiv;
      rewrite (Rmult_assoc _ (/ Z) Z), Rinv_l, Rmult_1_r by lra.
    - rewrite (Rmult_comm (exp (- D))), Rmult_assoc. apply Rmult_le_compat_l; [lra|]. nra.
    - rewrite (Rmult_comm (exp D)), Rmult_assoc. apply Rmult_le_compat_l; [lra|]. nra. }
  assert (low : (1 - D) * q j <= tilt n q E j).
  { eapply Rle_trans; [|apply main]. apply Rmult_le_compat_r; [exact Qj|].
    assert (A := exp_ineq1_le (- D)). lra. }
  split; [exact main|split; [exact low|]]. intros Hx.
  assert (up : tilt n q E j <= (1 + 2 * D) * q j) by (eapply Rle_trans; [apply main|now apply Rmult_le_compat_r]).
  split; [exact up|]. apply Rabs_le. nra.
Qed.

(* ---------- the number x* ---------- *)
Definition x_star_is (x : R) : Prop := 0 < x /\ exp x = 1 + 2 * x.

Lemma x_star_order x D : x_star_is x -> 0 <= D -> (exp D <= 1 + 2 * D <-> D <= x).
Proof.
  intros [X0 Ex] D0. split; intros H.
  - destruct (Rle_or_lt D x) as [|G]; [assumption|exfalso].
    assert (T : 0 < x / D < 1).
    { split; [apply Rdiv_lt_0_compat; lra|]. apply Rmult_lt_reg_r with D; [lra|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (C := exp_convex_strict (x / D) D T ltac:(lra)). replace (x / D * D) with x in C by (field; lra).
    rewrite Ex in C. assert (x / D * exp D <= x / D * (1 + 2 * D)) by (apply Rmult_le_compat_l; lra).
    replace (x / D * (1 + 2 * D)) with (x / D + 2 * x) in H0 by (field; lra). lra.
  - assert (T : 0 <= D / x <= 1).
    { split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
      apply Rmult_le_reg_r with x; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (C := exp_convex (D / x) x T). replace (D / x * x) with D in C by (field; lra). rewrite Ex in C.
    replace (1 - D / x + D / x * (1 + 2 * x)) with (1 + 2 * D) in C by (field; lra). exact C.
Qed.

Lemma exp_below : exp 1.2564 - 1 - 2 * 1.2564 < 0.
Proof.
  assert (exp 1.2564 <= 3.51279); [|lra].
  replace 1.2564 with (2 * (2 * (2 * (2 * 0.078525)))) by lra. assert (N := exp_near 0.078525 ltac:(lra)).
  apply (exp_double_high _ 1.874237183); [|lra]. apply (exp_double_high _ 1.369027824); [|lra].
  apply (exp_double_high _ 1.170054624); [|lra]. apply (exp_double_high _ 1.081690632); [|lra]. lra.
Qed.
Lemma exp_above : 0 < exp 1.2565 - 1 - 2 * 1.2565.
Proof.
  assert (3.51306 <= exp 1.2565); [|lra].
  replace 1.2565 with (2 * (2 * (2 * (2 * 0.07853125)))) by lra. assert (N := exp_near 0.07853125 ltac:(lra)).
  apply (exp_double_low _ 1.874327619); [split; [lra|]|lra]. apply (exp_double_low _ 1.369060853); [split; [lra|]|lra].
  apply (exp_double_low _ 1.170068739); [split; [lra|]|lra]. apply (exp_double_low _ 1.081697157); [|lra]. split; lra.
Qed.
Theorem x_star_spec : exists x, x_star_is x /\ 1.2564 < x < 1.2565 /\
  (forall y, x_star_is y -> y = x) /\ (forall D, 0 <= D -> (exp D <= 1 + 2 * D <-> D <= x)).
Proof.
  destruct (IVT (fun x => exp x - 1 - 2 * x) 1.2564 1.2565) as [x [Hx Ex]].
  - apply derivable_continuous. reg.
  - lra.
  - exact exp_below.
  - exact exp_above.
  - assert (X : x_star_is x) by (split; lra).
    exists x. split; [exact X|]. split; [|split].
    + assert (L := exp_below). assert (H := exp_above).
      destruct Hx as [[A|A] [B|B]]; subst; lra.
    + intros y Y. apply Rle_antisym.
      * apply (x_star_order x y X); [destruct Y; lra|destruct Y as [_ ->]; lra].
      * apply (x_star_order y x Y); [lra|lra].
    + intros D D0. now apply x_star_order.
Qed.

Theorem sandwich_fails_beyond D : 0 <= D -> 1 + 2 * D < exp D ->
  exists q E : vec, (forall j, 0 < q j) /\ sum 2 q = 1 /\ (forall j k, E j - E k <= D) /\
    (1 + 2 * D) * q 0%nat < tilt 2 q E 0%nat.
Proof.
  intros D0 H.
  (* any q_0 with (1 + 2D)(1 + q_0 (e^D - 1)) < e^D *)
  set (t := (exp D - 1 - 2 * D) / (2 * (1 + 2 * D) * exp D)).
  assert (Pe := exp_pos D). assert (T0 : 0 < t) by (apply Rdiv_lt_0_compat; [lra|nra]).
  assert (Td : t * (2 * (1 + 2 * D) * exp D) = exp D - 1 - 2 * D) by (unfold t; field; split; nra).
  assert (De : 0 <= D * exp D) by (apply Rmult_le_pos; lra).
  assert (Tlt1 : t < 1).
  { apply Rmult_lt_reg_r with (2 * (1 + 2 * D) * exp D); [nra|]. rewrite Td. nra. }
  exists (fun j => match j with O => t | _ => 1 - t end), (fun j => match j with O => D | _ => 0 end).
  split; [|split; [|split]].
  - intros [|j]; lra.
  - simpl. ring.
  - intros [|j] [|k]; lra.
  - unfold tilt. cbn [sum]. rewrite exp_0.
    assert (Zp : 0 < 0 + t * exp D + (1 - t) * 1) by nra.
    apply Rmult_lt_reg_r with (0 + t * exp D + (1 - t) * 1); [exact Zp|].
    replace (t * exp D / (0 + t * exp D + (1 - t) * 1) * (0 + t * exp D + (1 - t) * 1)) with (t * exp D) by (field;
      lra).
    replace ((1 + 2 * D) * t * (0 + t * exp D + (1 - t) * 1)) with (t * ((1 + 2 * D) * (1 + t * (exp D - 1)))) by ring.
    apply Rmult_lt_compat_l; [exact T0|].
    assert (t * (1 + 2 * D) * exp D = (exp D - 1 - 2 * D) / 2) by lra. nra.
Qed.

(** dong2021:2.2, dong2021:2.3 (repaired), dong2021:3.2, and own:composite: the sharper constant 2 in place of 4.
    L layers, any number of heads, biases, key padding; x^l minimises comp(X^l - 1 x^T) and D_ii <= x_star
    (e^x_star = 1 + 2 x_star) at every layer and head for that centre.  With
        B_l = (sum_h norm1 W_QK norm1 W_h)^(1/2) (sum_h norm1 W_QK norminf W_h)^(1/2)
    and gamma_* the largest gamma of any layer and head,
        comp(res X^L) <= c^((3^L-1)/2) comp(res X)^(3^L)   for   c >= 2 gamma_* B_l lambda_l / sqrt d_qk,
    f_l a token map of composite constant lambda_l after each layer  [composite_depth].  The printed constant
    is 4: [dong_2_3] (lambda = 1), [dong_2_2] (one head, where B = norm1 W_QK comp W) and [dong_3_2]. *)

(** comp(f(Y) - 1 f(y)^T) <= lam comp(Y - 1 y^T) for n tokens. *)
Definition composite_lipschitz (n d : nat) (lam : R) (f : vec -> vec) : Prop :=
  0 <= lam /\ forall Y y, comp n d (centred (fun i => f (Y i)) (f y)) <= lam * comp n d (centred Y y).

Definition B_of (d : nat) (Ly : layer) : R :=
  sqrt (sum (nheads Ly) (fun h => norm1 d d (WQK (dqk Ly) (hd Ly h)) * norm1 d d (WV (hd Ly h)))) *
  sqrt (sum (nheads Ly) (fun h => norm1 d d (WQK (dqk Ly) (hd Ly h)) * norminf d d (WV (hd Ly h)))).

Lemma B_nonneg d Ly : 0 <= B_of d Ly.
Proof. apply Rmult_le_pos; apply sqrt_pos. Qed.

Lemma expc_two delta : 0 <= delta -> exp delta <= 1 + 2 * delta -> expc delta <= 2.
Proof.
  intros H0 H. unfold expc. destruct Req_EM_T; [lra|]. apply Rmult_le_reg_r with delta; [lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Section Layer.
Variables (n d : nat) (Ly : layer) (X : mat) (x : vec) (g : R).
Hypothesis Hn : (0 < n)%nat.
Hypothesis Hq : (0 < dqk Ly)%nat.
Hypothesis M : forall h, (h < nheads Ly)%nat -> key_padding n (mask (hd Ly h)).
Hypothesis small : forall h, (h < nheads Ly)%nat ->
  exp (delta_of n d (dqk Ly) (hd Ly h) X x) <= 1 + 2 * delta_of n d (dqk Ly) (hd Ly h) X x.
Hypothesis gam : forall h, (h < nheads Ly)%nat -> gamma_of n d (dqk Ly) (hd Ly h) X x <= g.

(** When D <> 0, |q|_inf <= gamma^2, because sum_i D_ii >= max_i D_ii. *)
Lemma qmax_gamma h : (h < nheads Ly)%nat -> 0 < delta_of n d (dqk Ly) (hd Ly h) X x ->
  qmax_of n d (dqk Ly) (hd Ly h) X x <= g * g.
Proof.
  intros Hh Dp. set (D := D_of n d (dqk Ly) (hd Ly h) X x). set (dl := delta_of n d (dqk Ly) (hd Ly h) X x) in *.
  set (qm := qmax_of n d (dqk Ly) (hd Ly h) X x). assert (Q0 : 0 <= qm) by apply maxf_pos.
  assert (S : dl <= sum n D).
  { apply maxf_lub; [apply sum_nonneg; intros; apply maxf_pos|]. intros i Hi.
    apply sum_term_le; [intros; apply maxf_pos|exact Hi]. }
  assert (G : qm <= sum n D * qm / dl).
  { apply Rmult_le_reg_r with dl; [exact Dp|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
  assert (Ggam := gam h Hh). unfold gamma_of in Ggam. fold D qm dl in Ggam.
  assert (A0 : 0 <= sum n D * qm / dl) by lra.
  assert (P := sqrt_pos (sum n D * qm / dl)). assert (Q := sqrt_sqrt _ A0). nra.
Qed.

Lemma composite_layer :
  comp n d (centred (SA n d Ly X) (new_centre n d Ly X x)) <=
  2 * g * B_of d Ly / sqrt (INR (dqk Ly)) * comp n d (centred X x) ^ 3.
Proof.
  destruct (Nat.eq_dec (nheads Ly) 0) as [H0|H0].
  { (* no head: SA(X) is constant *)
    unfold B_of. rewrite (comp_ext n d _ (fun _ _ => 0)).
    - rewrite H0. cbn [sum]. rewrite sqrt_0.
      assert (Z : comp n d (fun _ _ => 0) = 0).
      { rewrite (comp_ext n d _ (fun i a => 0 * (fun _ _ => 0) i a)) by (intros; ring). rewrite comp_scal, Rabs_R0.
        ring. }
      rewrite Z. unfold Rdiv. lra.
    - intros i a Hi _. rewrite centred_form by assumption. now rewrite H0. }
  assert (g0 : 0 <= g) by (eapply Rle_trans; [apply sqrt_pos|apply (gam 0%nat); lia]).
  assert (SP := sqrt_dqk_pos _ Hq). set (s := sqrt (INR (dqk Ly))) in *.
  set (rho := comp n d (centred X x)). assert (R0 : 0 <= rho) by apply comp_pos.
  set (alpha := fun h => norm1 d d (WQK (dqk Ly) (hd Ly h))).
  assert (t0 : 0 <= rho ^ 2 / s) by (apply Rmult_le_pos; [apply pow2_ge_0|left; now apply Rinv_0_lt_compat]).
  eapply Rle_trans.
  - apply (layer_from_Q n d Ly X x M (fun h => rho ^ 2 / s * (Rsqr (2 * g)) * alpha h) (fun h => rho ^ 2 / s * alpha
      h)).
    + intros h Hh. set (dl := delta_of n d (dqk Ly) (hd Ly h) X x).
      assert (D0 : 0 <= dl) by apply maxf_pos. assert (A0 : 0 <= alpha h) by apply maxf_pos.
      assert (E0 := eps_nonneg n d (dqk Ly) (hd Ly h) X x Hq). fold (alpha h) rho s in E0.
      assert (dosc := delta_osc n d (dqk Ly) (hd Ly h) X x dl (Rle_refl _)).
      destruct D0 as [Dp|Dz].
      * eapply Rle_trans; [apply (Q_one n d (dqk Ly) (hd Ly h) X x Hn Hq (M h Hh) dl dosc)|]. fold (alpha h) rho s.
        assert (K := expc_two dl (Rlt_le _ _ Dp) (small h Hh)). assert (K1 := expc_ge1 dl (Rlt_le _ _ Dp)).
        assert (G := qmax_gamma h Hh Dp). unfold qmax_of in G.
        assert (Q0 := maxf_pos n (q_of n d (dqk Ly) (hd Ly h) x (centred X x))).
        replace (rho ^ 2 / s * Rsqr (2 * g) * alpha h) with (2 * 2 * (g * g) * (alpha h * rho ^ 2 / s)) by (unfold
          Rsqr; field; lra).
        apply Rmult_le_compat_r; [exact E0|]. apply Rmult_le_compat; [lra|exact Q0|lra|exact G].
      * (* D = 0: Q = 0 *)
        assert (Z := Q_inf_tanh n d (dqk Ly) (hd Ly h) X x Hn Hq (M h Hh) dl dosc). rewrite <- Dz in Z.
        replace (0 / 4) with 0 in Z by field. rewrite tanh_00, Rmult_0_r in Z.
        assert (G0 := Rle_0_sqr (2 * g)).
        apply maxf_lub; [pos|]. intros j Hj.
        rewrite (sum_ext n _ (fun _ => 0)).
        -- rewrite sum_zero. pos.
        -- intros i Hi. apply Rle_antisym; [|apply Rabs_pos]. eapply Rle_trans; [|exact Z].
           eapply Rle_trans; [|apply (row_le n n (Q_of n d (dqk Ly) (hd Ly h) X x) i Hi)].
           apply (sum_term_le n (fun a => Rabs (Q_of n d (dqk Ly) (hd Ly h) X x i a)) j); [intros;
             apply Rabs_pos|exact Hj].
    + intros h Hh. eapply Rle_trans; [apply (Q_inf n d (dqk Ly) (hd Ly h) X x Hn Hq (M h Hh))|].
      fold (alpha h) rho s. right. field. lra.
  - right. unfold B_of.
    rewrite (sum_ext (nheads Ly) _ (fun h => rho ^ 2 / s * Rsqr (2 * g) * (alpha h * norm1 d d (WV (hd Ly h))))) by
      (intros; ring).
    rewrite (sum_ext (nheads Ly) (fun h => rho ^ 2 / s * alpha h * _) (fun h => rho ^ 2 / s * (alpha h * norminf d d
      (WV (hd Ly h))))) by (intros; ring).
    fold rho. rewrite !sum_scal.
    rewrite (sqrt_mult_alt (rho ^ 2 / s * Rsqr (2 * g))) by (apply Rmult_le_pos; [exact t0|apply Rle_0_sqr]).
    rewrite (sqrt_mult_alt (rho ^ 2 / s) (Rsqr (2 * g))) by exact t0.
    rewrite (sqrt_mult_alt (rho ^ 2 / s) (sum _ _)) by exact t0. rewrite sqrt_Rsqr by lra.
    fold alpha. set (A := sqrt (sum _ _)). set (Bq := sqrt (sum _ _)).
    assert (T := sqrt_sqrt (rho ^ 2 / s) t0).
    replace (sqrt (rho ^ 2 / s) * (2 * g) * A * (sqrt (rho ^ 2 / s) * Bq) * rho)
      with (sqrt (rho ^ 2 / s) * sqrt (rho ^ 2 / s) * (2 * g * A * Bq * rho)) by ring.
    rewrite T. field. lra.
Qed.
End Layer.

Section Depth.
Variables (n d : nat) (B : nat -> block) (lam : nat -> R) (X : mat) (x : nat -> vec) (g : R) (L : nat).
Let Xl l := net n d B l X.
Hypothesis Hn : (0 < n)%nat.
Hypothesis Hq : forall l, (0 < dqk (att (B l)))%nat.
Hypothesis M : forall l h, (h < nheads (att (B l)))%nat -> key_padding n (mask (hd (att (B l)) h)).
Hypothesis no_skip : forall l, skip (B l) = 0.
Hypothesis lip : forall l, composite_lipschitz n d (lam l) (tok (B l)).
(** x^l attains the residual of X^l, and about it the attention varies little. *)
Hypothesis minim : forall l, (l <= L)%nat -> minimiser (comp n d) (Xl l) (x l).
Hypothesis small : forall xs l h, x_star_is xs -> (l < L)%nat -> (h < nheads (att (B l)))%nat ->
  delta_of n d (dqk (att (B l))) (hd (att (B l)) h) (Xl l) (x l) <= xs.
Hypothesis g0 : 0 <= g.
Hypothesis gam : forall l h, (l < L)%nat -> (h < nheads (att (B l)))%nat ->
  gamma_of n d (dqk (att (B l))) (hd (att (B l)) h) (Xl l) (x l) <= g.

Let rho l := comp n d (centred (Xl l) (x l)).

Lemma depth_step l : (l < L)%nat ->
  rho (S l) <= 2 * g * B_of d (att (B l)) * lam l / sqrt (INR (dqk (att (B l)))) * rho l ^ 3.
Proof.
  intros Hl. set (Y := SA n d (att (B l)) (Xl l)). set (y := new_centre n d (att (B l)) (Xl l) (x l)).
  destruct (lip l) as [L0 Lf].
  assert (E : Xl (S l) = fun i => tok (B l) (Y i)).
  { apply functional_extensionality; intro i. unfold Xl. cbn [net]. unfold block_map. f_equal.
    apply functional_extensionality; intro a. rewrite no_skip. unfold Y, Xl. ring. }
  eapply Rle_trans; [apply (minim (S l) Hl (tok (B l) y))|]. rewrite E.
  eapply Rle_trans; [apply Lf|].
  eapply Rle_trans; [apply Rmult_le_compat_l; [exact L0|]|].
  - apply (composite_layer n d (att (B l)) (Xl l) (x l) g Hn (Hq l) (M l)).
    + intros h Hh. destruct x_star_spec as [xs [XS [_ [_ Or]]]]. apply Or; [apply maxf_pos|now apply small].
    + intros h Hh. now apply gam.
  - right. unfold rho. field. assert (SP := sqrt_dqk_pos _ (Hq l)). lra.
Qed.

Theorem composite_depth c :
  0 <= c -> (forall l, (l < L)%nat -> 2 * g * B_of d (att (B l)) * lam l / sqrt (INR (dqk (att (B l)))) <= c) ->
  comp n d (centred (net n d B L X) (x L)) <= c ^ ((3 ^ L - 1) / 2) * comp n d (centred X (x 0%nat)) ^ (3 ^ L).
Proof.
  intros c0 Hc. apply (cubic_chain rho c L c0).
  - intros l _. apply comp_pos.
  - intros l Hl. eapply Rle_trans; [now apply depth_step|].
    apply Rmult_le_compat_r; [apply pow_le, comp_pos|now apply Hc].
Qed.

(** dong2021:3.2, with the printed 4 and one d_qk. *)
Theorem dong_3_2 (dq : nat) (Bm lm : R) :
  (forall l, dqk (att (B l)) = dq) -> (forall l, (l < L)%nat -> B_of d (att (B l)) <= Bm) -> (forall l, lam l <= lm) ->
  0 <= Bm ->
  comp n d (centred (net n d B L X) (x L)) <=
  (4 * g * Bm * lm / sqrt (INR dq)) ^ ((3 ^ L - 1) / 2) * comp n d (centred X (x 0%nat)) ^ (3 ^ L).
Proof.
  intros Hdq HB Hl B0. assert (SP := sqrt_dqk_pos _ (Hq 0%nat)). rewrite Hdq in SP.
  assert (lm0 : 0 <= lm) by (eapply Rle_trans; [apply (lip 0%nat)|apply Hl]).
  assert (I : 0 <= / sqrt (INR dq)) by (left; now apply Rinv_0_lt_compat).
  apply composite_depth; [repeat apply Rmult_le_pos; lra|].
  intros l Hll. rewrite Hdq. apply Rmult_le_compat_r; [exact I|]. destruct (lip l) as [l0 _].
  apply Rmult_le_compat; [|exact l0| |apply Hl].
  - apply Rmult_le_pos; [lra|apply B_nonneg].
  - apply Rmult_le_compat; [lra|apply B_nonneg|lra|now apply HB].
Qed.
End Depth.

Lemma id_composite n d : composite_lipschitz n d 1 (fun v => v).
Proof. split; [lra|]. intros Y y. right. now rewrite Rmult_1_l. Qed.

(** dong2021:2.3, B in place of beta H. *)
Theorem dong_2_3 n d (Ly : nat -> layer) X (x : nat -> vec) g L dq Bm :
  let Xl l := net n d (fun l => plain (Ly l)) l X in
  (0 < n)%nat -> (0 < dq)%nat -> (forall l, dqk (Ly l) = dq) ->
  (forall l h, (h < nheads (Ly l))%nat -> key_padding n (mask (hd (Ly l) h))) ->
  (forall l, (l <= L)%nat -> minimiser (comp n d) (Xl l) (x l)) ->
  (forall xs l h, x_star_is xs -> (l < L)%nat -> (h < nheads (Ly l))%nat ->
    delta_of n d dq (hd (Ly l) h) (Xl l) (x l) <= xs) ->
  0 <= g -> (forall l h, (l < L)%nat -> (h < nheads (Ly l))%nat -> gamma_of n d dq (hd (Ly l) h) (Xl l) (x l) <= g) ->
  0 <= Bm -> (forall l, (l < L)%nat -> B_of d (Ly l) <= Bm) ->
  comp n d (centred (Xl L) (x L)) <= (4 * g * Bm / sqrt (INR dq)) ^ ((3 ^ L - 1) / 2) * comp n d (centred X (x 0%nat))
    ^ (3 ^ L).
Proof.
  intros Xl Hn Hdq Edq M Mi Sm g0 Gm B0 HB.
  replace (4 * g * Bm / sqrt (INR dq)) with (4 * g * Bm * 1 / sqrt (INR dq)) by (unfold Rdiv; ring).
  apply (dong_3_2 n d (fun l => plain (Ly l)) (fun _ => 1) X x g L Hn); try assumption; cbn [plain att tok skip].
  - intro l. rewrite Edq. exact Hdq.
  - reflexivity.
  - intro l. apply id_composite.
  - intros xs l h. rewrite Edq. apply Sm.
  - intros l h. rewrite Edq. apply Gm.
  - intro. lra.
Qed.

(** dong2021:2.2: one head, beta >= norm1 W_QK comp W in every layer. *)
Theorem dong_2_2 n d (Ly : nat -> layer) X (x : nat -> vec) g L dq beta :
  let Xl l := net n d (fun l => plain (Ly l)) l X in
  (0 < n)%nat -> (0 < dq)%nat -> (forall l, dqk (Ly l) = dq) -> (forall l, nheads (Ly l) = 1%nat) ->
  (forall l, key_padding n (mask (hd (Ly l) 0))) ->
  (forall l, (l <= L)%nat -> minimiser (comp n d) (Xl l) (x l)) ->
  (forall xs l, x_star_is xs -> (l < L)%nat -> delta_of n d dq (hd (Ly l) 0) (Xl l) (x l) <= xs) ->
  0 <= g -> (forall l, (l < L)%nat -> gamma_of n d dq (hd (Ly l) 0) (Xl l) (x l) <= g) ->
  0 <= beta -> (forall l, (l < L)%nat -> norm1 d d (WQK dq (hd (Ly l) 0)) * comp d d (WV (hd (Ly l) 0)) <= beta) ->
  comp n d (centred (Xl L) (x L)) <= (4 * g * beta / sqrt (INR dq)) ^ ((3 ^ L - 1) / 2) * comp n d (centred X (x
    0%nat)) ^ (3 ^ L).
Proof.
  intros Xl Hn Hdq Edq H1 M Mi Sm g0 Gm B0 HB.
  assert (Z : forall l h, (h < nheads (Ly l))%nat -> h = 0%nat) by (intros l h; rewrite H1; lia).
  apply (dong_2_3 n d Ly X x g L dq beta); try assumption.
  - intros l h Hh. rewrite (Z l h Hh). apply M.
  - intros xs l h XS Hl Hh. rewrite (Z l h Hh). now apply Sm.
  - intros l h Hl Hh. rewrite (Z l h Hh). now apply Gm.
  - intros l Hl. eapply Rle_trans; [|exact (HB l Hl)]. right. unfold B_of. rewrite H1, Edq. cbn [sum].
    rewrite !Rplus_0_l.
    set (a := norm1 d d (WQK dq (hd (Ly l) 0))). assert (A0 : 0 <= a) by apply maxf_pos.
    rewrite !sqrt_mult_alt by exact A0. unfold comp. rewrite sqrt_mult_alt by apply maxf_pos.
    assert (Q := sqrt_sqrt a A0). transitivity (sqrt a * sqrt a * (sqrt (norm1 d d (WV (hd (Ly l) 0))) * sqrt (norminf
      d d (WV (hd (Ly l) 0))))); [ring|].
    now rewrite Q.
Qed.

(** dong2021:3.1.  Skip connections can keep the residual.  Split the coordinates at d1; let every value map send the
    first block into the second and the second to 0, the output bias vanish on the first block, and X^0 vanish on the
    second; queries, keys, their biases and the masks are arbitrary.  With skips the first block never changes, and the
    residual in norm1, norminf, comp or Frobenius never falls below that of X^0   [skip_conserves].
    dong2021:3.3.  A layer followed by the normalisation of columns, (y - m_b)/s_b in column b, is a layer: with
    W_h diag(1/s) in place of W_h and (b - m)/s in place of b; the attention is the same   [column_norm];
    so the diameter bound holds with W_h diag(1/s)   [column_norm_diameter]. *)

(** N does not fall when entries grow in absolute value. *)
Definition monotone (n d : nat) (N : mat -> R) : Prop :=
  forall A B, (forall i a, (i < n)%nat -> (a < d)%nat -> Rabs (A i a) <= Rabs (B i a)) -> N A <= N B.

Lemma monotone_norm1 n d : monotone n d (norm1 n d).
Proof.
  intros A B H. apply maxf_lub; [apply maxf_pos|]. intros a Ha. eapply Rle_trans; [|apply (col_le n d B a Ha)].
  apply sum_le; intros i Hi. now apply H.
Qed.
Lemma monotone_norminf n d : monotone n d (norminf n d).
Proof.
  intros A B H. apply maxf_lub; [apply maxf_pos|]. intros i Hi. eapply Rle_trans; [|apply (row_le n d B i Hi)].
  apply sum_le; intros a Ha. now apply H.
Qed.
Lemma monotone_comp n d : monotone n d (comp n d).
Proof. intros A B H. apply comp_le; [now apply monotone_norm1|now apply monotone_norminf]. Qed.
Lemma monotone_frob n d : monotone n d (frob n d).
Proof.
  intros A B H. apply sqrt_le_1_alt. apply sum_le; intros i Hi. apply sum_le; intros a Ha.
  assert (Q := H i a Hi Ha). assert (P := Rabs_pos (A i a)). assert (SA := Rsqr_abs (A i a)).
  assert (SB := Rsqr_abs (B i a)).
  unfold Rsqr in *. rewrite SA, SB. apply Rmult_le_compat; assumption.
Qed.

Theorem skip_conserves n d d1 (Ly : nat -> layer) (X : mat) (L : nat) (N : mat -> R) (r : R) :
  (forall l h a b, (h < nheads (Ly l))%nat -> (a < d)%nat -> (b < d1)%nat -> WV (hd (Ly l) h) a b = 0) ->
  (forall l b, (b < d1)%nat -> bout (Ly l) b = 0) ->
  (forall i a, (i < n)%nat -> (d1 <= a < d)%nat -> X i a = 0) ->
  N = norm1 n d \/ N = norminf n d \/ N = comp n d \/ N = frob n d ->
  residual N X r ->
  (forall i a, (a < d1)%nat -> net n d (fun l => skipped (Ly l)) L X i a = X i a) /\
  (forall y, r <= N (centred (net n d (fun l => skipped (Ly l)) L X) y)).
Proof.
  intros HW Hb HX HN [x [Hx Er]].
  assert (Keep : forall i a, (a < d1)%nat -> net n d (fun l => skipped (Ly l)) L X i a = X i a).
  { intros i a Ha. induction L as [|l IH]; [reflexivity|]. cbn [net]. unfold block_map. cbn [skipped tok skip att].
    rewrite IH. unfold SA. rewrite Hb by exact Ha. rewrite (sum_ext (nheads (Ly l)) _ (fun _ => 0)).
    - rewrite sum_zero. ring.
    - intros h Hh. unfold vmat at 1. rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|].
      intros c Hc. rewrite HW by assumption. ring. }
  split; [exact Keep|]. intro y.
  assert (Mo : monotone n d N).
  { destruct HN as [->|[->|[->| ->]]]; [apply monotone_norm1|apply monotone_norminf|apply monotone_comp|apply
      monotone_frob]. }
  rewrite <- Er. eapply Rle_trans; [apply (Hx (fun a => if Nat.ltb a d1 then y a else 0))|]. apply Mo.
  intros i a Hi Ha. unfold centred, vsub. destruct (Nat.ltb_spec a d1) as [H1|H1].
  - rewrite Keep by exact H1. lra.
  - rewrite HX by lia. rewrite Rminus_0_r, Rabs_R0. apply Rabs_pos.
Qed.

(** The layer with its columns normalised. *)
Definition column_scaled (Ly : layer) (m s : vec) : layer := {|
  nheads := nheads Ly; dqk := dqk Ly;
  hd := fun h => {| WQ := WQ (hd Ly h); WK := WK (hd Ly h); bQ := bQ (hd Ly h); bK := bK (hd Ly h);
                    WV := fun a b => WV (hd Ly h) a b / s b; mask := mask (hd Ly h) |};
  bout := fun b => (bout Ly b - m b) / s b |}.

Theorem column_norm n d Ly X m s i b : s b <> 0 ->
  (SA n d Ly X i b - m b) / s b = SA n d (column_scaled Ly m s) X i b.
Proof.
  intros Hs. unfold SA. cbn [column_scaled nheads dqk hd bout WV].
  rewrite (sum_ext (nheads Ly)
    (fun h => vmat d (vmat n (attn n d (dqk Ly) {| WQ := WQ (hd Ly h); WK := WK (hd Ly h); bQ := bQ (hd Ly h);
      bK := bK (hd Ly h);
       WV := fun a b => WV (hd Ly h) a b / s b; mask := mask (hd Ly h) |} X i) X) (fun a b => WV (hd Ly h) a b / s b) b)
    (fun h => vmat d (vmat n (attn n d (dqk Ly) (hd Ly h) X i) X) (WV (hd Ly h)) b * / s b)).
  - rewrite sum_scal_r. field. exact Hs.
  - intros h _. unfold vmat at 1 3. rewrite <- sum_scal_r. apply sum_ext; intros a _.
    change (attn n d (dqk Ly) {| WQ := WQ (hd Ly h); WK := WK (hd Ly h); bQ := bQ (hd Ly h); bK := bK (hd Ly h);
       WV := fun a b => WV (hd Ly h) a b / s b; mask := mask (hd Ly h) |} X i) with (attn n d (dqk Ly) (hd Ly h) X i).
    unfold Rdiv. ring.
Qed.

(** So the diameter bound holds for it, with the norms of W_h diag(1/s). *)
Theorem column_norm_diameter n d (N : seminorm) Ly (w k : nat -> R) X m s :
  (forall b, s b <> 0) -> layer_bounds d N (column_scaled Ly m s) w k ->
  (forall h, (h < nheads Ly)%nat -> key_padding n (mask (hd Ly h))) ->
  diam n N (fun i b => (SA n d Ly X i b - m b) / s b) <= diam n N X * rate (column_scaled Ly m s) w k (diam n N X).
Proof.
  intros Hs HB HM.
  replace (fun i b => (SA n d Ly X i b - m b) / s b) with (SA n d (column_scaled Ly m s) X).
  - apply (diameter_layer n d N (column_scaled Ly m s) w k HB HM).
  - apply functional_extensionality; intro i. apply functional_extensionality; intro b. symmetry. now apply column_norm.
Qed.
