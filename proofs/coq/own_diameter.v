(** own:diameter, own:diameter-cubic.  Tokens in any seminorm N; a layer with any number of heads, biases, key padding.
    If N(v W_h) <= w_h N(v) and |u W_QK,h v^T| <= m_h N(u) N(v), then with D = diam X
        diam SA(X) <= sum_h w_h D tanh(m_h D^2 / (4 sqrt d_qk)) <= kappa D^3,
    kappa = sum_h w_h m_h / (4 sqrt d_qk)  [diameter_layer].  For X^{l+1} = f_l(SA_l(X^l)) with
    lambda_l-Lipschitz token maps f_l and lambda_l kappa_l <= c  [diameter_depth]:
        diam X^L <= phi_L o ... o phi_1 (diam X^0)  and  diam X^L <= c^((3^L-1)/2) (diam X^0)^(3^L);
    sqrt c diam X^L <= (sqrt c diam X^0)^(3^L)  [diameter_doubly].  Two tokens attain the first bound
    at every depth and every size  [diameter_sharp]. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Rankmath Require Import Definitions Functions Norms Softmax own_tv.
Local Open Scope R_scope.

Section Layer.
Variables (n d : nat) (N : seminorm) (Ly : layer) (w m : nat -> R).
Hypothesis B : layer_bounds d N Ly w m.
Hypothesis M : forall h, (h < nheads Ly)%nat -> key_padding n (mask (hd Ly h)).

Lemma sq_pos : 0 < 4 * sqrt (INR (dqk Ly)).
Proof. assert (H := sqrt_dqk_pos (dqk Ly) (dqk_pos _ _ _ _ _ B)). lra. Qed.

Lemma rate_arg_nonneg h t : 0 <= m h * t ^ 2 / (4 * sqrt (INR (dqk Ly))).
Proof.
  assert (S := sq_pos). apply Rmult_le_pos; [apply Rmult_le_pos; [apply (m_pos _ _ _ _ _ B)|nra]|].
  left. now apply Rinv_0_lt_compat.
Qed.

Lemma rate_nonneg t : 0 <= rate Ly w m t.
Proof.
  apply sum_nonneg; intros h _. apply Rmult_le_pos; [apply (w_pos _ _ _ _ _ B)|apply tanh_nonneg, rate_arg_nonneg].
Qed.

Lemma rate_mono s t : 0 <= s <= t -> rate Ly w m s <= rate Ly w m t.
Proof.
  intros Hst. assert (S := sq_pos). apply sum_le; intros h _.
  apply Rmult_le_compat_l; [apply (w_pos _ _ _ _ _ B)|]. apply tanh_le.
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
  apply Rmult_le_compat_l; [apply (m_pos _ _ _ _ _ B)|]. nra.
Qed.

Lemma rate_kappa t : rate Ly w m t <= kappa Ly w m * t ^ 2.
Proof.
  assert (S := sq_pos). unfold rate, kappa. rewrite <- sum_scal_r. apply sum_le; intros h _.
  eapply Rle_trans; [apply Rmult_le_compat_l; [apply (w_pos _ _ _ _ _ B)|apply tanh_le_id, rate_arg_nonneg]|].
  right. field. lra.
Qed.

Lemma kappa_nonneg : 0 <= kappa Ly w m.
Proof.
  apply sum_nonneg; intros h _. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, sq_pos].
  apply Rmult_le_pos; [apply (w_pos _ _ _ _ _ B)|apply (m_pos _ _ _ _ _ B)].
Qed.

(** One head: rows i and k of P, and the mixed tokens. *)
Lemma head_pair X h i k : (h < nheads Ly)%nat -> (i < n)%nat -> (k < n)%nat ->
  N (fun a => sum n (fun j => (attn n d (dqk Ly) (hd Ly h) X i j - attn n d (dqk Ly) (hd Ly h) X k j) * X j a))
  <= tanh (m h * N (vsub (X i) (X k)) * diam n N X / (4 * sqrt (INR (dqk Ly)))) * diam n N X.
Proof.
  intros Hh Hi Hk. destruct (M h Hh) as [Pr Eq].
  assert (S := sqrt_dqk_pos (dqk Ly) (dqk_pos _ _ _ _ _ B)).
  eapply Rle_trans.
  - apply transport with (D := diam n N X); [|intros; now apply diam_ub].
    rewrite sum_minus. unfold attn, softmax. rewrite !tilt_sum by now apply mask_weights. lra.
  - apply Rmult_le_compat_r; [apply diam_nonneg|].
    change (tv n (attn n d (dqk Ly) (hd Ly h) X i) (attn n d (dqk Ly) (hd Ly h) X k)
            <= tanh (m h * N (vsub (X i) (X k)) * diam n N X / (4 * sqrt (INR (dqk Ly))))).
    replace (tv n (attn n d (dqk Ly) (hd Ly h) X i) (attn n d (dqk Ly) (hd Ly h) X k))
      with (tv n (softmax n (mask (hd Ly h) i) (logit d (dqk Ly) (hd Ly h) X i))
                 (softmax n (mask (hd Ly h) i) (logit d (dqk Ly) (hd Ly h) X k))).
    + replace (m h * N (vsub (X i) (X k)) * diam n N X / (4 * sqrt (INR (dqk Ly))))
        with (m h * N (vsub (X i) (X k)) * diam n N X / sqrt (INR (dqk Ly)) / 4) by (field; lra).
      apply tv_softmax; [now apply mask_weights|]. intros j j' Hj Hj' _ _. rewrite logit_diff2.
      apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
      eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply (m_bound _ _ _ _ _ B); exact Hh|].
      apply Rmult_le_compat_l; [apply Rmult_le_pos; [apply (m_pos _ _ _ _ _ B)|apply sn_pos]|]. now apply diam_ub.
    + unfold tv, attn. f_equal. apply sum_ext; intros j Hj. f_equal. f_equal. unfold softmax.
      apply tilt_ext; [|reflexivity|exact Hj]. intros l Hl. now apply Eq.
Qed.

(** N(SA(X)_i - SA(X)_k) <= sum_h w_h D tanh(m_h N(X_i - X_k) D / (4 sqrt d_qk)) *)
Theorem diameter_pair X i k : (i < n)%nat -> (k < n)%nat ->
  N (vsub (SA n d Ly X i) (SA n d Ly X k)) <=
  sum (nheads Ly) (fun h => w h * (tanh (m h * N (vsub (X i) (X k)) * diam n N X / (4 * sqrt (INR (dqk Ly)))) * diam n
    N X)).
Proof.
  intros Hi Hk.
  rewrite (sn_ext N _ (fun b => sum (nheads Ly) (fun h => vmat d (fun a => sum n (fun j =>
     (attn n d (dqk Ly) (hd Ly h) X i j - attn n d (dqk Ly) (hd Ly h) X k j) * X j a)) (WV (hd Ly h)) b))).
  - eapply Rle_trans; [apply (sn_sum1 N (nheads Ly))|].
    apply sum_le; intros h Hh. eapply Rle_trans; [apply (w_bound _ _ _ _ _ B); exact Hh|].
    apply Rmult_le_compat_l; [apply (w_pos _ _ _ _ _ B)|]. now apply head_pair.
  - intro b. unfold vsub at 1, SA.
    match goal with |- ?A + ?c - (?A' + ?c) = _ => replace (A + c - (A' + c)) with (A - A') by ring end.
    rewrite <- sum_minus. apply sum_ext; intros h _. rewrite vmat_sub. apply vmat_ext. intros a _.
    unfold vsub. rewrite vmat_sub. apply sum_ext; intros. unfold vsub. ring.
Qed.

Theorem diameter_layer X :
  diam n N (SA n d Ly X) <= diam n N X * rate Ly w m (diam n N X) /\
  diam n N X * rate Ly w m (diam n N X) <= kappa Ly w m * diam n N X ^ 3.
Proof.
  assert (D0 := diam_nonneg n N X). assert (S := sq_pos). split.
  - apply diam_lub; [apply Rmult_le_pos; [exact D0|apply rate_nonneg]|]. intros i k Hi Hk.
    eapply Rle_trans; [now apply diameter_pair|]. unfold rate. rewrite <- sum_scal.
    apply sum_le; intros h _.
    replace (diam n N X * (w h * tanh (m h * diam n N X ^ 2 / (4 * sqrt (INR (dqk Ly))))))
      with (w h * (tanh (m h * diam n N X ^ 2 / (4 * sqrt (INR (dqk Ly)))) * diam n N X)) by ring.
    apply Rmult_le_compat_l; [apply (w_pos _ _ _ _ _ B)|]. apply Rmult_le_compat_r; [exact D0|]. apply tanh_le.
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
    replace (m h * diam n N X ^ 2) with (m h * diam n N X * diam n N X) by ring.
    apply Rmult_le_compat_r; [exact D0|]. apply Rmult_le_compat_l; [apply (m_pos _ _ _ _ _ B)|]. now apply diam_ub.
  - replace (kappa Ly w m * diam n N X ^ 3) with (diam n N X * (kappa Ly w m * diam n N X ^ 2)) by ring.
    apply Rmult_le_compat_l; [exact D0|apply rate_kappa].
Qed.
End Layer.

(* ---------- depth ---------- *)
(** phi_L o ... o phi_1 (t), phi_l(t) = lambda_l sum_h w_h t tanh(m_h t^2/(4 sqrt d_qk)). *)
Fixpoint phi_iter (B : nat -> block) (w m : nat -> nat -> R) (lam : nat -> R) (L : nat) (t : R) : R :=
  match L with
  | O => t
  | S l => lam l * (phi_iter B w m lam l t * rate (att (B l)) (w l) (m l) (phi_iter B w m lam l t))
  end.

Section Depth.
Variables (n d : nat) (N : seminorm) (B : nat -> block) (w m : nat -> nat -> R) (lam : nat -> R).
Hypothesis BB : forall l, layer_bounds d N (att (B l)) (w l) (m l).
Hypothesis M : forall l h, (h < nheads (att (B l)))%nat -> key_padding n (mask (hd (att (B l)) h)).
Hypothesis no_skip : forall l, skip (B l) = 0.
Hypothesis lip : forall l, lipschitz N (lam l) (tok (B l)).

Lemma block_diam l X : diam n N (block_map n d (B l) X) <= lam l * diam n N (SA n d (att (B l)) X).
Proof.
  destruct (lip l) as [L0 Lf]. apply diam_lub; [apply Rmult_le_pos; [exact L0|apply diam_nonneg]|].
  intros i k Hi Hk. unfold block_map. eapply Rle_trans; [apply Lf|]. apply Rmult_le_compat_l; [exact L0|].
  rewrite (sn_ext N _ (vsub (SA n d (att (B l)) X i) (SA n d (att (B l)) X k)))
    by (intro; unfold vsub; rewrite no_skip; ring).
  now apply diam_ub.
Qed.

Lemma phi_iter_nonneg L t : 0 <= t -> 0 <= phi_iter B w m lam L t.
Proof.
  intros Ht. induction L as [|l IH]; simpl; [exact Ht|].
  apply Rmult_le_pos; [apply lip|]. apply Rmult_le_pos; [exact IH|apply (rate_nonneg d N _ _ _ (BB l))].
Qed.

Theorem diameter_depth c L X : (forall l, lam l * kappa (att (B l)) (w l) (m l) <= c) ->
  diam n N (net n d B L X) <= phi_iter B w m lam L (diam n N X) /\
  phi_iter B w m lam L (diam n N X) <= c ^ ((3 ^ L - 1) / 2) * diam n N X ^ (3 ^ L).
Proof.
  intros Hc. assert (D0 := diam_nonneg n N X). split.
  - induction L as [|l IH]; [simpl; lra|]. cbn [net phi_iter].
    eapply Rle_trans; [apply block_diam|]. apply Rmult_le_compat_l; [apply lip|].
    eapply Rle_trans; [apply (diameter_layer n d N _ _ _ (BB l) (M l))|].
    apply Rmult_le_compat; [apply diam_nonneg|apply (rate_nonneg d N _ _ _ (BB l))|exact IH|].
    apply (rate_mono d N _ _ _ (BB l)). split; [apply diam_nonneg|exact IH].
  - assert (C0 : 0 <= c).
    { eapply Rle_trans; [|apply (Hc 0%nat)]. apply Rmult_le_pos; [apply lip|apply (kappa_nonneg d N _ _ _ (BB 0%nat))].
      }
    apply (cubic_chain (fun l => phi_iter B w m lam l (diam n N X)) c L C0).
    + intros l _. now apply phi_iter_nonneg.
    + intros l _. cbn [phi_iter]. set (t := phi_iter B w m lam l (diam n N X)).
      assert (T0 : 0 <= t) by now apply phi_iter_nonneg.
      assert (R := rate_kappa d N _ _ _ (BB l) t).
      apply Rle_trans with (lam l * kappa (att (B l)) (w l) (m l) * t ^ 3).
      * replace (lam l * kappa (att (B l)) (w l) (m l) * t ^ 3)
          with (lam l * (t * (kappa (att (B l)) (w l) (m l) * t ^ 2))) by ring.
        apply Rmult_le_compat_l; [apply lip|]. apply Rmult_le_compat_l; [exact T0|exact R].
      * apply Rmult_le_compat_r; [now apply pow_le|apply Hc].
Qed.

Theorem diameter_doubly c L X : (forall l, lam l * kappa (att (B l)) (w l) (m l) <= c) ->
  sqrt c * diam n N (net n d B L X) <= (sqrt c * diam n N X) ^ (3 ^ L).
Proof.
  intros Hc. destruct (diameter_depth c L X Hc) as [H1 H2].
  assert (C0 : 0 <= c).
  { eapply Rle_trans; [|apply (Hc 0%nat)]. apply Rmult_le_pos; [apply lip|apply (kappa_nonneg d N _ _ _ (BB 0%nat))]. }
  assert (S := sqrt_pos c).
  eapply Rle_trans; [apply Rmult_le_compat_l; [exact S|eapply Rle_trans; [exact H1|exact H2]]|]. right.
  assert (E : (3 ^ L = 1 + 2 * ((3 ^ L - 1) / 2))%nat).
  { clear. induction L as [|l IH]; [reflexivity|]. rewrite three_pow. rewrite Nat.pow_succ_r'. lia. }
  rewrite Rpow_mult_distr, <- Rmult_assoc. f_equal. rewrite E at 2.
  rewrite pow_add, pow_mult, pow_1. replace (sqrt c ^ 2) with c; [ring|].
  simpl. rewrite Rmult_1_r. symmetry. now apply sqrt_sqrt.
Qed.
End Depth.

(* ---------- the l1 and linf norms, with the constants written out ---------- *)
Theorem diameter_l1 n d Ly X : (0 < dqk Ly)%nat ->
  (forall h, (h < nheads Ly)%nat -> key_padding n (mask (hd Ly h))) ->
  diam n (l1 d) (SA n d Ly X) <=
  diam n (l1 d) X * rate Ly (fun h => norminf d d (WV (hd Ly h))) (fun h => maxentry d d (WQK (dqk Ly) (hd Ly h)))
    (diam n (l1 d) X).
Proof. intros H Mk. apply (diameter_layer n d (L1 d) Ly _ _ (bounds_l1 d Ly H) Mk X). Qed.

Theorem diameter_linf n d Ly X : (0 < dqk Ly)%nat ->
  (forall h, (h < nheads Ly)%nat -> key_padding n (mask (hd Ly h))) ->
  diam n (linf d) (SA n d Ly X) <=
  diam n (linf d) X * rate Ly (fun h => norm1 d d (WV (hd Ly h))) (fun h => sumentries d d (WQK (dqk Ly) (hd Ly h)))
    (diam n (linf d) X).
Proof. intros H Mk. apply (diameter_layer n d (Linf d) Ly _ _ (bounds_linf d Ly H) Mk X). Qed.

(* ---------- equality for two tokens ---------- *)
Definition unit_head : head := {|
  WQ := fun _ _ => 1; WK := fun _ _ => 1; bQ := fun _ => 0; bK := fun _ => 0; WV := fun _ _ => 1; mask := nomask |}.
Definition unit_layer : layer := {| nheads := 1; dqk := 1; hd := fun _ => unit_head; bout := fun _ => 0 |}.
(** Two tokens a and -a. *)
Definition pair (a : R) : mat := fun i _ => match i with O => a | _ => - a end.

Lemma unit_bounds : layer_bounds 1 (L1 1) unit_layer (fun _ => 1) (fun _ => 1).
Proof.
  constructor; [simpl; lia|intro; lra|intro; lra| |].
  - intros h v _. simpl. unfold l1, vmat. simpl. replace (0 + v 0%nat * 1) with (v 0%nat) by ring. lra.
  - intros h u v _. unfold bil, WQK, L1, l1. simpl. right.
    replace (0 + (0 + u 0%nat * (0 + 1 * 1) * v 0%nat)) with (u 0%nat * v 0%nat) by ring. rewrite Rabs_mult. ring.
Qed.

Lemma SA_pair a : SA 2 1 unit_layer (pair a) = pair (a * tanh (a ^ 2)).
Proof.
  apply functional_extensionality; intro i. apply functional_extensionality; intro b.
  assert (LG : forall i j, logit 1 1 unit_head (pair a) i j = pair a i 0%nat * pair a j 0%nat).
  { intros k j. unfold logit, vmat. cbn [sum unit_head WQ WK bQ bK]. simpl INR. rewrite sqrt_1. field. }
  unfold SA, vmat, attn, softmax, tilt, nomask. cbn [sum unit_layer nheads dqk hd bout unit_head mask WV]. rewrite !LG.
  unfold nomask. replace (a ^ 2) with (a * a) by ring.
  unfold tanh, sinh, cosh. assert (P := exp_pos (a * a)). assert (P' := exp_pos (- (a * a))).
  destruct i as [|i]; cbn [pair];
    replace (a * - a) with (- (a * a)) by ring; replace (- a * a) with (- (a * a)) by ring;
    replace (- a * - a) with (a * a) by ring; field; lra.
Qed.

Lemma diam_of_pair a : 0 <= a -> diam 2 (L1 1) (pair a) = 2 * a.
Proof. intros H. rewrite diam_pair. unfold L1, l1, vsub, pair. simpl. rewrite Rabs_right by lra. ring. Qed.

Theorem diameter_sharp L a : 0 <= a ->
  let B := fun _ => plain unit_layer in
  layer_bounds 1 (L1 1) unit_layer (fun _ => 1) (fun _ => 1) /\
  diam 2 (L1 1) (net 2 1 B L (pair a)) =
  phi_iter B (fun _ _ => 1) (fun _ _ => 1) (fun _ => 1) L (diam 2 (L1 1) (pair a)).
Proof.
  intros Ha B. split; [exact unit_bounds|]. rewrite (diam_of_pair a Ha).
  assert (G : exists t, 0 <= t /\ net 2 1 B L (pair a) = pair t /\
             phi_iter B (fun _ _ => 1) (fun _ _ => 1) (fun _ => 1) L (2 * a) = 2 * t).
  { induction L as [|l [t [T0 [E1 E2]]]]; [exists a; auto|].
    exists (t * tanh (t ^ 2)). split; [|split].
    - apply Rmult_le_pos; [exact T0|apply tanh_nonneg; nra].
    - cbn [net]. rewrite E1, <- SA_pair. unfold block_map, B, plain. cbn [tok skip att].
      apply functional_extensionality; intro i. apply functional_extensionality; intro b. ring.
    - cbn [phi_iter]. rewrite E2. unfold rate, B, plain. cbn [att unit_layer nheads dqk sum]. simpl INR. rewrite sqrt_1.
      replace (1 * (2 * t) ^ 2 / (4 * 1)) with (t ^ 2) by field. ring. }
  destruct G as [t [T0 [-> ->]]]. now apply diam_of_pair.
Qed.
