(** dong2021v1:2.2, refuted: the bound of 2021 for one head and one layer (v1_claim 4 1) is false with 3684
    tokens of four kinds.
    The tokens are the rows of the n x d identity, d = m + 3, n = d + p: one sink f (row 0), m active tokens, two
    guards, p idle tokens 0.  W = I, W_QK / sqrt d_qk = w diag(0,1,...,1), and the query bias gives the keys the
    logits cf, ce, cg, 0.  With s = e^cf, S = s + m e^ce + 2 e^cg + p, u = e^w - 1,
        beta = s/S, alpha = s/(S + u e^ce), phi = s/(S + u e^cg), kap = u e^cg/(S + u e^cg),
    every centre y has, with x = y_f,
        norm1 (SA(X) - 1 y^T) >= (p+1)|beta - x| + m|alpha - x| + 2|phi - x|,
        norminf (SA(X) - 1 y^T) >= |phi - x| + kap                       [kinds_lower],
    so four exponentials decide about any number of tokens [kinds_refute].
    dong2021v1:2.2-mean, refuted: with both residuals about the mean of the tokens (mean_claim 4) 400003 tokens of
      these kinds do
    [many_tokens_mean_refuted]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import IntervalZ.
From Rankmath Require Import Definitions Functions Norms Softmax seed_closure dong2021v1_2_3.
Local Open Scope R_scope.

(** The bound with K in place of 4, both residuals about the mean of the tokens. *)
Definition mean_claim (K : R) : Prop :=
  forall (n d : nat) (Ly : layer) (X : mat) (beta : R),
  nheads Ly = 1%nat -> (0 < dqk Ly)%nat -> mask (hd Ly 0) = nomask ->
  norm1 d d (WQK (dqk Ly) (hd Ly 0)) * comp d d (WV (hd Ly 0)) <= beta ->
  comp n d (centred (SA n d Ly X) (mean n (SA n d Ly X))) <= K * beta / sqrt (INR (dqk Ly)) * comp n d (centred X (mean
    n X)) ^ 3.

(** The reduction by kinds: a sum over tokens of a function of the kind. *)
Lemma sum_kinds m p (f : nat -> R) A B C :
  f 0%nat = A -> (forall i, (1 <= i <= m)%nat -> f i = B) -> (forall i, (m + 1 <= i <= m + 2)%nat -> f i = C) ->
  (forall i, (m + 3 <= i < m + 3 + p)%nat -> f i = A) ->
  sum (m + 3 + p) f = (INR p + 1) * A + INR m * B + 2 * C.
Proof.
  intros H0 H1 H2 H3. rewrite (sum_split (m + 3) p).
  rewrite (sum_ext p _ (fun _ => A)) by (intros; apply H3; lia). rewrite sum_const.
  replace (m + 3)%nat with (S (m + 2)) by lia. rewrite sum_head, (sum_split m 2).
  rewrite (sum_ext m _ (fun _ => B)) by (intros; apply H1; lia). rewrite sum_const.
  cbn [sum]. rewrite H0, !H2 by lia. ring.
Qed.

(** Two affine non-negative factors on a segment: if the product is at least G at both ends, it is so between. *)
Lemma affine_product A0 A1 B0 B1 t G : 0 <= t <= 1 -> 0 <= A0 -> 0 <= A1 -> 0 <= B0 -> 0 <= B1 -> 0 <= G ->
  G <= A0 * B0 -> G <= A1 * B1 -> G <= ((1 - t) * A0 + t * A1) * ((1 - t) * B0 + t * B1).
Proof.
  intros Ht a0 a1 b0 b1 g0 H0 H1.
  assert (Cross : 2 * G <= A0 * B1 + A1 * B0).
  { apply Rsqr_incr_0_var; [|nra]. unfold Rsqr.
    assert (S := Rle_0_sqr (A0 * B1 - A1 * B0)). unfold Rsqr in S.
    assert (P : G * G <= (A0 * B0) * (A1 * B1)) by (apply Rmult_le_compat; assumption). nra. }
  replace (((1 - t) * A0 + t * A1) * ((1 - t) * B0 + t * B1))
    with ((1 - t) * (1 - t) * (A0 * B0) + (1 - t) * t * (A0 * B1 + A1 * B0) + t * t * (A1 * B1)) by ring.
  assert (T1 : 0 <= (1 - t) * (1 - t)) by nra. assert (T2 : 0 <= (1 - t) * t) by nra. assert (T3 : 0 <= t * t) by nra.
  assert ((1 - t) * (1 - t) * G <= (1 - t) * (1 - t) * (A0 * B0)) by (apply Rmult_le_compat_l; assumption).
  assert ((1 - t) * t * (2 * G) <= (1 - t) * t * (A0 * B1 + A1 * B0)) by (apply Rmult_le_compat_l; assumption).
  assert (t * t * G <= t * t * (A1 * B1)) by (apply Rmult_le_compat_l; assumption).
  replace G with ((1 - t) * (1 - t) * G + (1 - t) * t * (2 * G) + t * t * G) by ring. lra.
Qed.

Ltac products := apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra.
(** F(x) = (a|be - x| + m|al - x| + 2|ph - x|)(|x - ph| + ka) is least at ph, al or be. *)
Lemma F_least a m be al ph ka G x : 0 <= a -> 0 <= m -> 0 <= ka -> 0 <= G -> ph < al -> al < be ->
  G <= (a * (be - ph) + m * (al - ph)) * ka ->
  G <= (a * (be - al) + 2 * (al - ph)) * (al - ph + ka) ->
  G <= (m * (be - al) + 2 * (be - ph)) * (be - ph + ka) ->
  G <= (a * Rabs (be - x) + m * Rabs (al - x) + 2 * Rabs (ph - x)) * (Rabs (ph - x) + ka).
Proof.
  intros a0 m0 k0 g0 Ho1 Ho2 H1 H2 H3.
  destruct (Rle_or_lt x ph) as [L1|L1].
  - rewrite (Rabs_right (be - x)), (Rabs_right (al - x)), (Rabs_right (ph - x)) by lra.
    assert (a * (be - ph) <= a * (be - x)) by (apply Rmult_le_compat_l; lra).
    assert (m * (al - ph) <= m * (al - x)) by (apply Rmult_le_compat_l; lra).
    eapply Rle_trans; [exact H1|]. apply Rmult_le_compat; [products|lra..].
  - destruct (Rle_or_lt x al) as [L2|L2].
    + rewrite (Rabs_right (be - x)), (Rabs_right (al - x)), (Rabs_left1 (ph - x)) by lra.
      set (t := (x - ph) / (al - ph)).
      assert (Et : x = (1 - t) * ph + t * al) by (unfold t; field; lra).
      assert (Tb : 0 <= t <= 1).
      { unfold t. split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
        apply Rmult_le_reg_r with (al - ph); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
      assert (Q := affine_product (a * (be - ph) + m * (al - ph)) (a * (be - al) + 2 * (al - ph)) ka (al - ph + ka) t G
        Tb
        ltac:(products) ltac:(products) k0 ltac:(lra) g0 H1 H2).
      eapply Rle_trans; [exact Q|]. right. rewrite Et. ring.
    + destruct (Rle_or_lt x be) as [L3|L3].
      * rewrite (Rabs_right (be - x)), (Rabs_left1 (al - x)), (Rabs_left1 (ph - x)) by lra.
        set (t := (x - al) / (be - al)).
        assert (Et : x = (1 - t) * al + t * be) by (unfold t; field; lra).
        assert (Tb : 0 <= t <= 1).
        { unfold t. split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
          apply Rmult_le_reg_r with (be - al); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
        assert (Q := affine_product (a * (be - al) + 2 * (al - ph)) (m * (be - al) + 2 * (be - ph)) (al - ph + ka) (be
          - ph + ka) t G Tb
          ltac:(products) ltac:(products) ltac:(lra) ltac:(lra) g0 H2 H3).
        eapply Rle_trans; [exact Q|]. right. rewrite Et. ring.
      * rewrite (Rabs_left1 (be - x)), (Rabs_left1 (al - x)), (Rabs_left1 (ph - x)) by lra.
        assert (0 <= a * (x - be)) by (apply Rmult_le_pos; lra).
        assert (m * (be - al) <= m * (x - al)) by (apply Rmult_le_compat_l; lra).
        eapply Rle_trans; [exact H3|]. apply Rmult_le_compat; [products|lra..].
Qed.

Section Kinds.
Variables (m p : nat) (w cf ce cg : R).
Hypothesis w_pos : 0 < w.
Let d := (m + 3)%nat.
Let n := (d + p)%nat.
Let sd := sqrt (INR d).

(** The common logit of key j < d. *)
Definition cc (j : nat) : R := if Nat.eqb j 0 then cf else if Nat.leb j m then ce else cg.
(** What token i adds to its own logit. *)
Definition gain (i : nat) : R := if Nat.eqb i 0 then 0 else w.

Definition head_k : head := {|
  WQ := fun a c => eye a c * (sd * gain a); WK := eye; bQ := fun c => sd * cc c; bK := fun _ => 0;
  WV := eye; mask := nomask |}.
Definition layer_k : layer := {| nheads := 1; dqk := d; hd := fun _ => head_k; bout := fun _ => 0 |}.

Lemma d_pos_k : (0 < d)%nat. Proof. unfold d. lia. Qed.
Lemma sd_pos : 0 < sd. Proof. apply sqrt_lt_R0, lt_0_INR, d_pos_k. Qed.

Lemma eye_same i : eye i i = 1. Proof. unfold eye. now rewrite Nat.eqb_refl. Qed.
Lemma eye_other i j : i <> j -> eye i j = 0. Proof. intros H. unfold eye.
destruct (Nat.eqb_spec i j); [congruence|reflexivity]. Qed.

Lemma vmat_eye i (W : mat) c : vmat d (eye i) W c = if Nat.ltb i d then W i c else 0.
Proof.
  unfold vmat. destruct (Nat.ltb_spec i d) as [H|H].
  - now apply (sum_eye d i (fun a => W a c)).
  - rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros a Ha. rewrite eye_other by lia. ring.
Qed.

Lemma logit_k i j : logit d d head_k eye i j =
  if Nat.ltb j d then (if Nat.ltb i d then eye i j * gain i else 0) + cc j else 0.
Proof.
  assert (S := sd_pos). unfold logit. cbn [head_k WQ WK bQ bK]. fold sd.
  rewrite (sum_ext d _ (fun c => ((if Nat.ltb i d then eye i c * (sd * gain i) else 0) + sd * cc c) * (if Nat.ltb j d
    then eye j c else 0))).
  - destruct (Nat.ltb_spec j d) as [H|H].
    + rewrite (sum_ext d _ (fun c => eye j c * ((if Nat.ltb i d then eye i c * (sd * gain i) else 0) + sd * cc c))) by
        (intros; ring).
      rewrite sum_eye by exact H. destruct (Nat.ltb i d); field; lra.
    + rewrite (sum_ext d _ (fun _ => 0)) by (intros; ring). rewrite sum_zero. unfold Rdiv. ring.
  - intros c _. rewrite !vmat_eye. ring.
Qed.

(** Weights of the keys for an idle query, and their sum. *)
Definition wt (j : nat) : R := if Nat.ltb j d then exp (cc j) else 1.
Definition S_k : R := exp cf + INR m * exp ce + 2 * exp cg + INR p.
Definition u_k : R := exp w - 1.
Definition active (i : nat) : bool := (Nat.leb 1 i && Nat.ltb i d)%bool.

Lemma wt_pos j : 0 < wt j. Proof. unfold wt. destruct Nat.ltb; [apply exp_pos|lra]. Qed.

Lemma expl i j : exp (logit d d head_k eye i j) = wt j * (1 + (if active i then eye i j * u_k else 0)).
Proof.
  rewrite logit_k. unfold wt, active, u_k, gain. destruct (Nat.ltb_spec j d) as [H|H].
  - destruct (Nat.ltb_spec i d) as [H'|H']; rewrite ?Bool.andb_false_r, ?Bool.andb_true_r; cbn [andb].
    + rewrite exp_plus. destruct (Nat.eqb_spec i 0) as [->|Ne].
      * simpl Nat.leb. rewrite Rmult_0_r, exp_0. ring.
      * replace (Nat.leb 1 i) with true by (symmetry; apply Nat.leb_le; lia).
        unfold eye. destruct (Nat.eqb i j); [rewrite Rmult_1_l|rewrite Rmult_0_l, exp_0]; ring.
    + rewrite Rplus_0_l. ring.
  - rewrite exp_0. destruct (Nat.leb 1 i && Nat.ltb i d)%bool eqn:Ei; [|ring].
    apply andb_prop in Ei. destruct Ei as [_ Ei]. apply Nat.ltb_lt in Ei. rewrite eye_other by lia. ring.
Qed.

Lemma wt_sink : wt 0%nat = exp cf.
Proof. unfold wt, d. rewrite (proj2 (Nat.ltb_lt _ _)) by lia. reflexivity. Qed.
Lemma wt_active j : (1 <= j <= m)%nat -> wt j = exp ce.
Proof.
  intros H. unfold wt, cc, d. rewrite (proj2 (Nat.ltb_lt _ _)), (proj2 (Nat.eqb_neq _ _)),
    (proj2 (Nat.leb_le _ _)) by lia. reflexivity.
Qed.
Lemma wt_guard j : (m + 1 <= j <= m + 2)%nat -> wt j = exp cg.
Proof.
  intros H. unfold wt, cc, d. rewrite (proj2 (Nat.ltb_lt _ _)), (proj2 (Nat.eqb_neq _ _)),
    (proj2 (Nat.leb_gt _ _)) by lia. reflexivity.
Qed.
Lemma wt_idle j : (d <= j)%nat -> wt j = 1.
Proof. intros H. unfold wt. rewrite (proj2 (Nat.ltb_ge _ _)) by lia. reflexivity. Qed.

Lemma wt_sum : sum n wt = S_k.
Proof.
  unfold n, S_k. rewrite (sum_split d p).
  rewrite (sum_ext p _ (fun _ => 1)) by (intros; apply wt_idle; lia). rewrite sum_const.
  unfold d. replace (m + 3)%nat with (S (m + 2)) by lia. rewrite sum_head, (sum_split m 2).
  rewrite (sum_ext m _ (fun _ => exp ce)) by (intros; apply wt_active; lia). rewrite sum_const.
  cbn [sum]. rewrite wt_sink, !wt_guard by lia. ring.
Qed.

Lemma Z_k i : (i < n)%nat ->
  sum n (fun j => nomask i j * exp (logit d d head_k eye i j)) = S_k + (if active i then u_k * wt i else 0).
Proof.
  intros Hi. rewrite <- wt_sum. destruct (active i) eqn:Ei.
  - rewrite (sum_ext n _ (fun j => wt j + eye i j * (u_k * wt j))).
    + rewrite sum_plus, (sum_eye n i (fun j => u_k * wt j)) by exact Hi. reflexivity.
    + intros j _. rewrite expl, Ei. unfold nomask. ring.
  - rewrite Rplus_0_r. apply sum_ext; intros j _. rewrite expl, Ei. unfold nomask. ring.
Qed.

Lemma S_pos : 0 < S_k.
Proof. rewrite <- wt_sum. apply Rlt_le_trans with (wt 0%nat); [apply wt_pos|].
apply (sum_term_le n wt 0%nat); [intros; left; apply wt_pos|unfold n, d; lia]. Qed.
Lemma u_pos : 0 < u_k.
Proof. unfold u_k. assert (E := exp_ineq1 w). lra. Qed.

Lemma SA_k i b : (i < n)%nat -> (b < d)%nat ->
  SA n d layer_k eye i b = wt b * (1 + (if active i then eye i b * u_k else 0)) / (S_k + (if active i then u_k * wt i
    else 0)).
Proof.
  intros Hi Hb. unfold SA. cbn [layer_k nheads dqk hd bout sum head_k WV]. rewrite Rplus_0_l, Rplus_0_r.
  assert (V : forall a, (a < d)%nat -> vmat n (attn n d d head_k eye i) eye a = attn n d d head_k eye i a).
  { intros a Ha. unfold vmat. apply sum_eye_r. unfold n. lia. }
  unfold vmat at 1. rewrite (sum_ext d _ (fun a => attn n d d head_k eye i a * eye a b)) by (intros a Ha;
    now rewrite V).
  rewrite sum_eye_r by exact Hb. unfold attn, softmax, tilt. cbn [head_k mask].
  rewrite (Z_k i Hi), expl. unfold nomask. rewrite Rmult_1_l. reflexivity.
Qed.

Definition be_k : R := exp cf / S_k.
Definition al_k : R := exp cf / (S_k + u_k * exp ce).
Definition ph_k : R := exp cf / (S_k + u_k * exp cg).
Definition ka_k : R := u_k * exp cg / (S_k + u_k * exp cg).

(** The first column of the output, by kinds. *)
Lemma col_k i : (i < n)%nat -> SA n d layer_k eye i 0%nat =
  if active i then (if Nat.leb i m then al_k else ph_k) else be_k.
Proof.
  intros Hi. rewrite SA_k by (try exact Hi; apply d_pos_k).
  rewrite wt_sink. destruct (active i) eqn:Ei.
  - unfold active in Ei. apply andb_prop in Ei. destruct Ei as [E1 E2].
    assert (E1' := proj1 (Nat.leb_le _ _) E1). rewrite (eye_other i 0) by lia. rewrite Rmult_0_l, Rplus_0_r, Rmult_1_r.
    unfold wt. rewrite E2. unfold cc. rewrite (proj2 (Nat.eqb_neq _ _)) by lia. destruct (Nat.leb i m); reflexivity.
  - rewrite !Rplus_0_r, Rmult_1_r. reflexivity.
Qed.

Lemma active_yes i : (1 <= i < d)%nat -> active i = true.
Proof. intros [H H']. unfold active. apply andb_true_intro. split; [now apply Nat.leb_le|now apply Nat.ltb_lt]. Qed.
Lemma active_no i : (i = 0 \/ d <= i)%nat -> active i = false.
Proof.
  intros [->|H]; [reflexivity|]. unfold active. apply Bool.andb_false_intro2. now apply Nat.ltb_ge.
Qed.

Theorem kinds_lower y : let x := y 0%nat in
  (INR p + 1) * Rabs (be_k - x) + INR m * Rabs (al_k - x) + 2 * Rabs (ph_k - x) <= norm1 n d (centred (SA n d layer_k
    eye) y) /\
  Rabs (ph_k - x) + ka_k <= norminf n d (centred (SA n d layer_k eye) y).
Proof.
  intro x. set (Y := SA n d layer_k eye). split.
  - eapply Rle_trans; [|apply (col_le n d (centred Y y) 0%nat d_pos_k)]. right. symmetry. unfold centred, vsub. fold x.
    unfold n. apply sum_kinds.
    + unfold Y. rewrite col_k by (unfold n, d; lia). now rewrite active_no by lia.
    + intros i Hi. unfold Y. rewrite col_k by (unfold n, d; lia). rewrite active_yes by (unfold d; lia).
      now rewrite (proj2 (Nat.leb_le i m)) by lia.
    + intros i Hi. unfold Y. rewrite col_k by (unfold n, d; lia). rewrite active_yes by (unfold d; lia).
      now rewrite (proj2 (Nat.leb_gt i m)) by lia.
    + intros i Hi. unfold Y. rewrite col_k by (unfold n, d; lia). now rewrite active_no by (unfold d; lia).
  - (* the two guards' rows *)
    set (g1 := (m + 1)%nat). set (g2 := (m + 2)%nat). set (Zg := S_k + u_k * exp cg).
    assert (Zp : 0 < Zg) by (unfold Zg; assert (A := S_pos); assert (B := u_pos); assert (C := exp_pos cg); nra).
    assert (Hg1 : (g1 < n)%nat) by (unfold g1, n, d; lia). assert (Hg2 : (g2 < n)%nat) by (unfold g2, n, d; lia).
    assert (Val : forall i b, (m + 1 <= i <= m + 2)%nat -> (m + 1 <= b <= m + 2)%nat ->
      Y i b = exp cg * (1 + eye i b * u_k) / Zg).
    { intros i b Hi Hb. unfold Y. rewrite SA_k by (unfold n, d; lia). rewrite active_yes by (unfold d; lia).
      rewrite !wt_guard by assumption. reflexivity. }
    assert (C0 : forall i, (m + 1 <= i <= m + 2)%nat -> Y i 0%nat = ph_k).
    { intros i Hi. unfold Y. rewrite col_k by (unfold n, d; lia). rewrite active_yes by (unfold d; lia).
      now rewrite (proj2 (Nat.leb_gt i m)) by lia. }
    assert (Three : forall f : nat -> R, (forall a, 0 <= f a) -> f 0%nat + f g1 + f g2 <= sum d f).
    { intros f Hf. unfold d, g1, g2. replace (m + 3)%nat with (S (m + 2)) by lia. rewrite sum_head, (sum_split m 2).
      cbn [sum].
      assert (0 <= sum m (fun j => f (S j))) by (apply sum_nonneg; auto).
      replace (S (m + 0)) with (m + 1)%nat by lia. replace (S (m + 1)) with (m + 2)%nat by lia. lra. }
    assert (R1 := Rle_trans _ _ _ (Three (fun a => Rabs (centred Y y g1 a)) (fun a => Rabs_pos _)) (row_le n d (centred
      Y y) g1 Hg1)).
    assert (R2 := Rle_trans _ _ _ (Three (fun a => Rabs (centred Y y g2 a)) (fun a => Rabs_pos _)) (row_le n d (centred
      Y y) g2 Hg2)).
    unfold centred, vsub in R1, R2 |- *. fold x in R1, R2.
    rewrite (C0 g1), (Val g1 g1), (Val g1 g2), eye_same, (eye_other g1 g2) in R1 by (unfold g1, g2; lia).
    rewrite (C0 g2), (Val g2 g1), (Val g2 g2), eye_same, (eye_other g2 g1) in R2 by (unfold g1, g2; lia).
    assert (Ek : exp cg * (1 + 1 * u_k) / Zg - exp cg * (1 + 0 * u_k) / Zg = ka_k) by (unfold ka_k; fold Zg; field;
      lra).
    set (A := exp cg * (1 + 1 * u_k) / Zg) in *. set (B := exp cg * (1 + 0 * u_k) / Zg) in *.
    assert (D1 : A - B <= Rabs (A - y g1) + Rabs (B - y g1)).
    { assert (T := Rabs_triang (A - y g1) (- (B - y g1))). rewrite Rabs_Ropp in T.
      replace (A - y g1 + - (B - y g1)) with (A - B) in T by ring. assert (U := Rle_abs (A - B)). lra. }
    assert (D2 : A - B <= Rabs (A - y g2) + Rabs (B - y g2)).
    { assert (T := Rabs_triang (A - y g2) (- (B - y g2))). rewrite Rabs_Ropp in T.
      replace (A - y g2 + - (B - y g2)) with (A - B) in T by ring. assert (U := Rle_abs (A - B)). lra. }
    fold Y. lra.
Qed.

(** The input: 0 is a composite minimiser, of value 1. *)
Lemma input_residual : residual (comp n d) eye 1.
Proof.
  assert (Dp := d_pos_k). assert (Hnd : (d <= n)%nat) by (unfold n; lia).
  assert (One : forall k i, (i < k)%nat -> sum k (fun a => Rabs (eye i a)) = 1).
  { intros k i H. rewrite (sum_ext k _ (fun a => eye i a * 1)); [now rewrite sum_eye|].
    intros a _. unfold eye. destruct Nat.eqb; [rewrite Rabs_R1|rewrite Rabs_R0]; ring. }
  assert (Low : forall y, 1 <= norm1 n d (centred eye y) /\ 1 <= norminf n d (centred eye y)).
  { intro y.
    assert (Two : forall z k j, (2 <= k)%nat -> (j < k)%nat -> 1 <= sum k (fun i => Rabs (eye i j - z))).
    { intros z k j Hk Hj.
      rewrite (sum_ext k _ (fun i => Rabs z + eye i j * (Rabs (1 - z) - Rabs z))).
      - rewrite sum_plus, sum_const. rewrite (sum_ext k _ (fun i => (Rabs (1 - z) - Rabs z) * eye i j)) by (intros;
          ring).
        rewrite sum_eye_r by exact Hj. assert (K2 : 2 <= INR k) by (apply (le_INR 2) in Hk; simpl in Hk; lra).
        assert (A := Rabs_pos z). assert (T := Rabs_triang (1 - z) z). replace (1 - z + z) with 1 in T by ring.
        rewrite Rabs_R1 in T. nra.
      - intros i _. unfold eye. destruct (Nat.eqb i j).
        + ring.
        + replace (0 - z) with (- z) by ring. rewrite Rabs_Ropp. ring. }
    split.
    - eapply Rle_trans; [|apply (col_le n d (centred eye y) 0%nat Dp)]. apply (Two (y 0%nat) n 0%nat); unfold n, d; lia.
    - (* the mean over the first d rows *)
      assert (Sum : INR d <= sum d (fun i => sum d (fun a => Rabs (centred eye y i a)))).
      { rewrite sum_swap. rewrite <- (Rmult_1_r (INR d)), <- sum_const. apply sum_le; intros a Ha.
        apply (Two (y a) d a); unfold d in *; lia. }
      assert (Up : sum d (fun i => sum d (fun a => Rabs (centred eye y i a))) <= INR d * norminf n d (centred eye y)).
      { rewrite <- sum_const. apply sum_le; intros i Hi. apply row_le. lia. }
      assert (Id : 0 < INR d) by (apply lt_0_INR; exact Dp). nra. }
  exists (fun _ => 0). assert (E : comp n d (centred eye (fun _ => 0)) = 1).
  { apply Rle_antisym.
    - rewrite (comp_ext n d _ eye) by (intros; unfold centred, vsub; ring).
      rewrite <- sqrt_1. replace 1 with (1 * 1) by ring. apply comp_le; (apply maxf_lub; [lra|]); intros k Hk.
      + rewrite (sum_ext n _ (fun i => Rabs (eye k i))); [rewrite One by lia; lra|].
        intros; unfold eye; now rewrite Nat.eqb_sym.
      + destruct (Nat.lt_ge_cases k d) as [H|H]; [rewrite One by exact H; lra|].
        rewrite (sum_ext d _ (fun _ => 0)); [rewrite sum_zero; lra|]. intros a Ha. rewrite eye_other by lia.
        apply Rabs_R0.
    - rewrite <- sqrt_1. apply sqrt_le_1_alt. destruct (Low (fun _ => 0)) as [A B]. nra. }
  split; [|exact E]. intro y. rewrite E. rewrite <- sqrt_1 at 1. apply sqrt_le_1_alt. destruct (Low y) as [A B]. nra.
Qed.

Lemma beta_k : norm1 d d (WQK d head_k) * comp d d (WV head_k) <= sd * w.
Proof.
  assert (S := sd_pos). assert (N1 : forall k, norm1 k k eye <= 1).
  { intro k. apply maxf_lub; [lra|]. intros a Ha. rewrite (sum_ext k _ (fun i => eye i a)).
    - rewrite (sum_ext k _ (fun i => 1 * eye i a)) by (intros; ring). rewrite sum_eye_r by exact Ha. lra.
    - intros. unfold eye. destruct Nat.eqb; [apply Rabs_R1|apply Rabs_R0]. }
  rewrite <- (Rmult_1_r (sd * w)). apply Rmult_le_compat; [apply maxf_pos|apply sqrt_pos| |].
  - apply maxf_lub; [nra|]. intros b Hb. unfold WQK, head_k. cbn [WQ WK].
    rewrite (sum_ext d _ (fun a => sd * gain a * eye a b)).
    + rewrite sum_eye_r by exact Hb. unfold gain. destruct Nat.eqb; nra.
    + intros a Ha. rewrite (sum_ext d _ (fun c => eye b c * (eye a c * (sd * gain a)))) by (intros; ring).
      rewrite sum_eye by exact Hb. rewrite !Rabs_mult, (Rabs_right sd) by lra.
      unfold gain, eye. destruct (Nat.eqb a b), (Nat.eqb a 0); rewrite ?Rabs_R0, ?Rabs_R1, ?(Rabs_right w) by lra; ring.
  - change (WV head_k) with eye. rewrite <- sqrt_1. replace 1 with (1 * 1) by ring. apply comp_le; [apply N1|].
    apply maxf_lub; [lra|]. intros i Hi. rewrite (sum_ext d _ (fun a => eye i a * 1)); [rewrite sum_eye by exact Hi;
      lra|].
    intros. unfold eye. destruct Nat.eqb; [rewrite Rabs_R1|rewrite Rabs_R0]; ring.
Qed.

(** Three products bound the composite value about every centre from below. *)
Lemma kinds_centres G y : 0 <= G -> ph_k < al_k -> al_k < be_k ->
  G <= ((INR p + 1) * (be_k - ph_k) + INR m * (al_k - ph_k)) * ka_k ->
  G <= ((INR p + 1) * (be_k - al_k) + 2 * (al_k - ph_k)) * (al_k - ph_k + ka_k) ->
  G <= (INR m * (be_k - al_k) + 2 * (be_k - ph_k)) * (be_k - ph_k + ka_k) ->
  G <= comp n d (centred (SA n d layer_k eye) y) ^ 2.
Proof.
  intros G0 O1 O2 H1 H2 H3. assert (P0 := pos_INR p). assert (M0 := pos_INR m).
  assert (Ka : 0 <= ka_k).
  { unfold ka_k. assert (A := S_pos). assert (B := u_pos). assert (E := exp_pos cg).
    apply Rmult_le_pos; [nra|]. left. apply Rinv_0_lt_compat. nra. }
  destruct (kinds_lower y) as [L1 L2].
  assert (F := F_least (INR p + 1) (INR m) be_k al_k ph_k ka_k G (y 0%nat) ltac:(lra) M0 Ka G0 O1 O2 H1 H2 H3).
  replace (comp n d (centred (SA n d layer_k eye) y) ^ 2) with (norm1 n d (centred (SA n d layer_k eye) y) * norminf n
    d (centred (SA n d layer_k eye) y))
    by (rewrite <- comp_sq; ring).
  eapply Rle_trans; [exact F|]. assert (D := Rabs_pos (ph_k - y 0%nat)).
  apply Rmult_le_compat; [|lra|exact L1|exact L2].
  assert (A := Rmult_le_pos _ _ (Rlt_le _ _ (Rle_lt_0_plus_1 _ P0)) (Rabs_pos (be_k - y 0%nat))).
  assert (B := Rmult_le_pos _ _ M0 (Rabs_pos (al_k - y 0%nat))). lra.
Qed.

Theorem kinds_refute K G : 0 <= K -> (K * w) ^ 2 < G -> ph_k < al_k -> al_k < be_k ->
  G <= ((INR p + 1) * (be_k - ph_k) + INR m * (al_k - ph_k)) * ka_k ->
  G <= ((INR p + 1) * (be_k - al_k) + 2 * (al_k - ph_k)) * (al_k - ph_k + ka_k) ->
  G <= (INR m * (be_k - al_k) + 2 * (be_k - ph_k)) * (be_k - ph_k + ka_k) ->
  ~ v1_claim K 1.
Proof.
  intros K0 HK O1 O2 H1 H2 H3 C. assert (S := sd_pos). assert (Sq := pow2_ge_0 (K * w)).
  destruct (C n d layer_k eye (sd * w) 1 eq_refl d_pos_k (fun _ => eq_refl)) as [y Q].
  - intros h Hh. exact beta_k.
  - exact input_residual.
  - cbn [layer_k dqk] in Q. fold sd in Q. simpl (INR 1) in Q.
    replace (K * (sd * w) * 1 / sd * 1 ^ 3) with (K * w) in Q by (field; lra).
    assert (F := kinds_centres G y ltac:(lra) O1 O2 H1 H2 H3).
    assert (comp n d (centred (SA n d layer_k eye) y) ^ 2 <= (K * w) ^ 2) by (apply pow_incr; split;
      [apply comp_pos|exact Q]). lra.
Qed.

(* ---------- residuals about the mean ---------- *)
(** Columns of the identity about their mean have sums at most 2, rows at most 1 + d/n. *)
Lemma input_mean : comp n d (centred eye (mean n eye)) ^ 2 <= 2 * (1 + INR d / INR n).
Proof.
  assert (Hnd : (d <= n)%nat) by (unfold n; lia). assert (Dp := d_pos_k).
  assert (Np : 0 < INR n) by (apply lt_0_INR; lia). assert (In : 0 < / INR n) by (now apply Rinv_0_lt_compat).
  assert (Mn : forall a, (a < d)%nat -> mean n eye a = / INR n).
  { intros a Ha. unfold mean. rewrite (sum_ext n _ (fun i => 1 * eye i a)) by (intros; ring). rewrite sum_eye_r by lia.
    field. lra. }
  assert (Ab : forall i a, (a < d)%nat -> Rabs (centred eye (mean n eye) i a) <= eye i a + / INR n).
  { intros i a Ha. unfold centred, vsub. rewrite Mn by exact Ha. unfold Rminus. eapply Rle_trans; [apply Rabs_triang|].
    rewrite Rabs_Ropp, (Rabs_right (/ INR n)) by lra.
    unfold eye. destruct Nat.eqb; rewrite ?Rabs_R1, ?Rabs_R0; lra. }
  assert (DN : 0 <= INR d / INR n) by (apply Rmult_le_pos; [apply pos_INR|lra]).
  replace (comp n d (centred eye (mean n eye)) ^ 2) with (norm1 n d (centred eye (mean n eye)) * norminf n d (centred
    eye (mean n eye))) by (rewrite <- comp_sq; ring).
  apply Rmult_le_compat; [apply maxf_pos|apply maxf_pos| |]; (apply maxf_lub; [lra|]); intros k Hk.
  - apply Rle_trans with (sum n (fun i => 1 * eye i k + / INR n)).
    + apply sum_le; intros i _. assert (T := Ab i k Hk). lra.
    + rewrite sum_plus, sum_const, sum_eye_r by lia. right. field. lra.
  - apply Rle_trans with (sum d (fun a => eye k a + / INR n)); [apply sum_le; intros; now apply Ab|].
    rewrite sum_plus, sum_const. unfold Rdiv. apply Rplus_le_compat_r. destruct (Nat.lt_ge_cases k d) as [H|H].
    + rewrite (sum_ext d _ (fun a => eye k a * 1)) by (intros; ring). rewrite sum_eye by exact H. lra.
    + rewrite (sum_ext d _ (fun _ => 0)); [rewrite sum_zero; lra|]. intros a Ha. apply eye_other. lia.
Qed.

Theorem kinds_refute_mean K G : 0 <= K -> (K * w) ^ 2 * (2 * (1 + INR d / INR n)) ^ 3 < G -> ph_k < al_k ->
  al_k < be_k ->
  G <= ((INR p + 1) * (be_k - ph_k) + INR m * (al_k - ph_k)) * ka_k ->
  G <= ((INR p + 1) * (be_k - al_k) + 2 * (al_k - ph_k)) * (al_k - ph_k + ka_k) ->
  G <= (INR m * (be_k - al_k) + 2 * (be_k - ph_k)) * (be_k - ph_k + ka_k) ->
  ~ mean_claim K.
Proof.
  intros K0 HK O1 O2 H1 H2 H3 C. assert (S := sd_pos). assert (I := input_mean).
  set (c := comp n d (centred eye (mean n eye))) in *.
  assert (c0 : 0 <= c) by apply comp_pos. assert (c2 := pow2_ge_0 c).
  assert (Q := C n d layer_k eye (sd * w) eq_refl d_pos_k eq_refl beta_k). fold c in Q. cbn [layer_k dqk] in Q.
  fold sd in Q.
  replace (K * (sd * w) / sd * c ^ 3) with (K * w * c ^ 3) in Q by (field; lra).
  assert (P3 : (c ^ 2) ^ 3 <= (2 * (1 + INR d / INR n)) ^ 3) by (apply pow_incr; lra).
  assert (Sq := pow2_ge_0 (K * w)).
  assert (V := Rmult_le_compat_l _ _ _ Sq P3). assert (C6 : 0 <= (c ^ 2) ^ 3) by (now apply pow_le).
  assert (G0 : 0 <= G) by (assert (W := Rmult_le_pos _ _ Sq C6); lra).
  assert (F := kinds_centres G (mean n (SA n d layer_k eye)) G0 O1 O2 H1 H2 H3).
  assert (U : comp n d (centred (SA n d layer_k eye) (mean n (SA n d layer_k eye))) ^ 2 <= (K * w * c ^ 3) ^ 2) by
    (apply pow_incr; split; [apply comp_pos|exact Q]).
  replace ((K * w * c ^ 3) ^ 2) with ((K * w) ^ 2 * (c ^ 2) ^ 3) in U by ring.
  lra.
Qed.
End Kinds.

(** 3684 tokens: m = 1444 active, p = 2237 idle, w = 673/64. *)
Theorem many_tokens_refuted : ~ v1_claim 4 1.
Proof.
  assert (Em : INR (Z.to_nat 1444) = 1444) by (rewrite INR_IZR_INZ, Z2Nat.id by lia; reflexivity).
  assert (Ep : INR (Z.to_nat 2237) = 2237) by (rewrite INR_IZR_INZ, Z2Nat.id by lia; reflexivity).
  apply (kinds_refute (Z.to_nat 1444) (Z.to_nat 2237) (673/64) (10565/256) 32 (4571/128) ltac:(lra) 4 (17693/10));
    [lra|lra| | | | |];
    unfold be_k, al_k, ph_k, ka_k, S_k, u_k; rewrite ?Em, ?Ep; interval with (i_prec 40).
Qed.

(** About the mean: m = 150000 active, p = 250000 idle, w = 16. *)
Theorem many_tokens_mean_refuted : ~ mean_claim 4.
Proof.
  assert (Em : INR (Z.to_nat 150000) = 150000) by (rewrite INR_IZR_INZ, Z2Nat.id by lia; reflexivity).
  assert (Ep : INR (Z.to_nat 250000) = 250000) by (rewrite INR_IZR_INZ, Z2Nat.id by lia; reflexivity).
  apply (kinds_refute_mean (Z.to_nat 150000) (Z.to_nat 250000) 16 44 30 (71/2) ltac:(lra) 4 90000); [lra| | | | | |];
    unfold be_k, al_k, ph_k, ka_k, S_k, u_k; rewrite ?plus_INR, ?Em, ?Ep; simpl INR; interval with (i_prec 40).
Qed.
