(** dong2021:3.1.  Skip connections can keep the residual.  Split the coordinates at d1; let every value map send the
    first block into the second and the second to 0, the output bias vanish on the first block, and X^0 vanish on the
    second; queries, keys, their biases and the masks are arbitrary.  With skips the first block never changes, and the
    residual in norm1, norminf, comp or Frobenius never falls below that of X^0   [skip_conserves].
    dong2021:3.3.  A layer followed by the normalisation of columns, (y - m_b)/s_b in column b, is a layer: with
    W_h diag(1/s) in place of W_h and (b - m)/s in place of b; the attention is the same   [column_norm];
    so the diameter bound holds with W_h diag(1/s)   [column_norm_diameter]. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Rankmath Require Import Definitions Functions Norms Softmax own_diameter.
Local Open Scope R_scope.

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
