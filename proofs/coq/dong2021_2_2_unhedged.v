(** unstated:large-logits, refuted: the one-head bound of 2023, read with gamma_*, is false without the hypothesis
    D_ii <= x_star.  n tokens in the plane: e_0, e_1 and n - 2 times 0; W_QK = w e_0 e_1^T, W = I, d_qk = 1, no bias.
    Then comp(res X) = 1, gamma = 1/sqrt n, and every centre y has comp(SA(X) - 1 y^T) >= e^w/(n - 1 + e^w) - 1/n
    [unhedged_lower]; with n = 1900 and w = 39/4 this exceeds 4 gamma w [unhedged_refuted]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import IntervalZ.
From Rankmath Require Import Definitions Functions Norms Softmax seed_closure centred_form.
Local Open Scope R_scope.

Definition unhedged_claim (K : R) : Prop :=
  forall (n d : nat) (Ly : layer) (X : mat) (x : vec) (beta g : R),
  nheads Ly = 1%nat -> (0 < dqk Ly)%nat -> mask (hd Ly 0) = nomask ->
  norm1 d d (WQK (dqk Ly) (hd Ly 0)) * comp d d (WV (hd Ly 0)) <= beta ->
  minimiser (comp n d) X x -> gamma_of n d (dqk Ly) (hd Ly 0) X x <= g ->
  exists y, comp n d (centred (SA n d Ly X) y) <= K * g * beta / sqrt (INR (dqk Ly)) * comp n d (centred X x) ^ 3.

(** One row at distance del from n - 1 equal ones, in one column: no centre is better than the common row. *)
Lemma lone_row N p c z del : 4 <= N -> del = p - c -> 0 <= del ->
  del * del <= (Rabs (p - z) + N * Rabs (c - z)) * Rmax (Rabs (p - z)) (Rabs (c - z)).
Proof.
  intros HN Hd D0. set (s := Rabs (c - z)). set (t := Rabs (p - z)).
  assert (S0 : 0 <= s) by apply Rabs_pos. assert (T0 : 0 <= t) by apply Rabs_pos.
  assert (Tri : del <= t + s).
  { assert (Q := Rabs_triang (p - z) (- (c - z))). rewrite Rabs_Ropp in Q.
    replace (p - z + - (c - z)) with (p - c) in Q by ring.
    fold s t in Q. assert (P := Rle_abs (p - c)). lra. }
  assert (M1 := Rmax_l t s). assert (M2 := Rmax_r t s).
  destruct (Rle_or_lt s (del / 2)) as [L|L].
  - assert (A : 3 * (del - s) <= (N - 1) * (del - s)) by (apply Rmult_le_compat_r; lra).
    assert (B : 0 <= s * ((N - 1) * (del - s) - del)) by (apply Rmult_le_pos; lra).
    assert (C : 0 <= N * s) by (apply Rmult_le_pos; lra).
    apply Rle_trans with ((del - s + N * s) * (del - s)); [|apply Rmult_le_compat; lra].
    replace ((del - s + N * s) * (del - s)) with (del * del + s * ((N - 1) * (del - s) - del)) by ring. lra.
  - assert (A : 4 * s <= N * s) by (apply Rmult_le_compat_r; lra).
    apply Rle_trans with (N * s * s); [|apply Rmult_le_compat; lra].
    apply Rle_trans with ((2 * s) * (2 * s)); [apply Rmult_le_compat; lra|].
    replace (2 * s * (2 * s)) with (4 * s * s) by ring. apply Rmult_le_compat_r; lra.
Qed.

Section Example.
Variables (n : nat) (w : R).
Hypothesis Hn : (5 <= n)%nat.
Hypothesis Hw : 0 < w.

Definition head_u : head := {| WQ := fun a _ => if Nat.eqb a 0 then w else 0;
  WK := fun a _ => if Nat.eqb a 1 then 1 else 0;
  bQ := fun _ => 0; bK := fun _ => 0; WV := eye; mask := nomask |}.
Definition layer_u : layer := {| nheads := 1; dqk := 1; hd := fun _ => head_u; bout := fun _ => 0 |}.
(** e_0, e_1, 0, 0, ...: the first two columns of the identity. *)
Definition X_u : mat := eye.

Lemma E_u i j : bil 2 (X_u i) (WQK 1 head_u) (X_u j) = if Nat.eqb i 0 then (if Nat.eqb j 1 then w else 0) else 0.
Proof.
  unfold bil, WQK, head_u, X_u, eye. cbn [sum WQ WK Nat.eqb].
  destruct i as [|[|i]], j as [|[|j]]; cbn [Nat.eqb]; ring.
Qed.

Lemma logit_u i j : logit 2 1 head_u X_u i j = if Nat.eqb i 0 then (if Nat.eqb j 1 then w else 0) else 0.
Proof.
  unfold logit. cbn [sum head_u bQ bK]. rewrite !Rplus_0_r, Rplus_0_l. simpl INR. rewrite sqrt_1.
  assert (E := E_u i j). rewrite <- bil_fact in E. cbn [sum] in E. rewrite Rplus_0_l in E. rewrite E. unfold Rdiv.
  ring_simplify. field.
Qed.

Lemma sum_first_row f : sum n f = f 0%nat + sum (pred n) (fun j => f (S j)).
Proof. replace n with (S (pred n)) at 1 by lia. apply sum_head. Qed.

Lemma n_ge5 : 5 <= INR n.
Proof. apply (le_INR 5) in Hn. simpl in Hn. lra. Qed.

Lemma attn_u i j : (i < n)%nat -> (j < n)%nat -> attn n 2 1 head_u X_u i j =
  if Nat.eqb i 0 then (if Nat.eqb j 1 then exp w else 1) / (INR n - 1 + exp w) else 1 / INR n.
Proof.
  intros Hi Hj. unfold attn, softmax, tilt. cbn [head_u mask]. unfold nomask. assert (N5 := n_ge5).
  rewrite (sum_ext n _ (fun k => 1 + (if Nat.eqb i 0 then exp w - 1 else 0) * (eye 1%nat k))).
  - rewrite sum_plus, sum_const, sum_scal. rewrite (sum_ext n (eye 1%nat) (fun k => eye 1%nat k * 1)) by (intros; ring).
    rewrite sum_eye by lia. rewrite logit_u. destruct (Nat.eqb i 0).
    + destruct (Nat.eqb j 1); rewrite ?exp_0; f_equal; ring.
    + rewrite exp_0. f_equal; ring.
  - intros k _. rewrite logit_u. unfold eye. rewrite (Nat.eqb_sym 1 k).
    destruct (Nat.eqb i 0); [destruct (Nat.eqb k 1)|]; rewrite ?exp_0; ring.
Qed.

Lemma SA_u i b : (i < n)%nat -> (b < 2)%nat -> SA n 2 layer_u X_u i b = attn n 2 1 head_u X_u i b.
Proof.
  intros Hi Hb. unfold SA. cbn [layer_u nheads dqk hd bout sum head_u WV]. rewrite Rplus_0_l, Rplus_0_r.
  assert (V : forall a, (a < 2)%nat -> vmat n (attn n 2 1 head_u X_u i) X_u a = attn n 2 1 head_u X_u i a).
  { intros a Ha. unfold vmat, X_u. apply sum_eye_r. lia. }
  unfold vmat at 1. change 2%nat with (S 1) at 1. rewrite (sum_ext 2 _ (fun a => attn n 2 1 head_u X_u i a * eye a b))
    by (intros a Ha; now rewrite V).
  now rewrite sum_eye_r.
Qed.

Let del := exp w / (INR n - 1 + exp w) - 1 / INR n.

Lemma del_nonneg : 0 <= del.
Proof.
  assert (N5 := n_ge5). assert (E := exp_ineq1 w ltac:(lra)). unfold del.
  assert (P : 0 <= (exp w - 1) * (INR n - 1) / ((INR n - 1 + exp w) * INR n)).
  { apply Rmult_le_pos; [nra|left; apply Rinv_0_lt_compat; nra]. }
  replace (exp w / (INR n - 1 + exp w) - 1 / INR n) with ((exp w - 1) * (INR n - 1) / ((INR n - 1 + exp w) * INR n)) by
    (field; lra).
  exact P.
Qed.

Theorem unhedged_lower y : del <= comp n 2 (centred (SA n 2 layer_u X_u) y).
Proof.
  assert (N5 := n_ge5). set (Y := SA n 2 layer_u X_u). assert (D0 := del_nonneg).
  set (p := exp w / (INR n - 1 + exp w)). set (c := 1 / INR n). set (z := y 1%nat).
  assert (Col : Rabs (p - z) + (INR n - 1) * Rabs (c - z) <= norm1 n 2 (centred Y y)).
  { eapply Rle_trans; [|apply (col_le n 2 (centred Y y) 1%nat); lia]. right. symmetry. unfold centred, vsub. fold z.
    rewrite sum_first_row. rewrite (sum_ext (pred n) _ (fun _ => Rabs (c - z))).
    - rewrite sum_const. assert (En : INR (pred n) = INR n - 1) by (rewrite <- (Nat.succ_pred n) at 2 by lia;
        rewrite S_INR; ring). rewrite En.
      unfold Y. rewrite SA_u, attn_u by lia. reflexivity.
    - intros i Hi. unfold Y. rewrite SA_u, attn_u by lia. reflexivity. }
  assert (Row : Rmax (Rabs (p - z)) (Rabs (c - z)) <= norminf n 2 (centred Y y)).
  { apply Rmax_lub.
    - eapply Rle_trans; [|apply (row_le n 2 (centred Y y) 0%nat); lia]. cbn [sum]. unfold centred at 2, vsub. fold z.
      unfold Y at 2. rewrite SA_u, (attn_u 0 1) by lia. cbn [Nat.eqb]. fold p.
      assert (A := Rabs_pos (centred Y y 0%nat 0%nat)). lra.
    - eapply Rle_trans; [|apply (row_le n 2 (centred Y y) 1%nat); lia]. cbn [sum]. unfold centred at 2, vsub. fold z.
      unfold Y at 2. rewrite SA_u, (attn_u 1 1) by lia. cbn [Nat.eqb]. fold c.
      assert (A := Rabs_pos (centred Y y 1%nat 0%nat)). lra. }
  assert (L := lone_row (INR n - 1) p c z del ltac:(lra) eq_refl D0).
  assert (Q := comp_sq n 2 (centred Y y)). assert (P := comp_pos n 2 (centred Y y)).
  apply Rsqr_incr_0_var; [unfold Rsqr|exact P]. rewrite Q. eapply Rle_trans; [exact L|].
  apply Rmult_le_compat; [|eapply Rle_trans; [apply Rabs_pos|apply Rmax_l]|exact Col|exact Row].
  assert (A := Rabs_pos (p - z)). assert (B := Rabs_pos (c - z)). nra.
Qed.

Lemma input_u : minimiser (comp n 2) X_u (fun _ => 0) /\ comp n 2 (centred X_u (fun _ => 0)) = 1.
Proof.
  assert (N5 := n_ge5).
  assert (Low : forall y, 1 <= comp n 2 (centred X_u y)).
  { intro y. rewrite <- sqrt_1. apply sqrt_le_1_alt.
    assert (C : 1 <= norm1 n 2 (centred X_u y)).
    { eapply Rle_trans; [|apply (col_le n 2 (centred X_u y) 0%nat); lia]. rewrite sum_first_row.
      replace (pred n) with (S (n - 2)) by lia. rewrite sum_head.
      unfold centred, vsub, X_u, eye. cbn [Nat.eqb].
      assert (T := Rabs_triang (1 - y 0%nat) (- (0 - y 0%nat))). rewrite Rabs_Ropp in T.
      replace (1 - y 0%nat + - (0 - y 0%nat)) with 1 in T by ring. rewrite Rabs_R1 in T.
      assert (0 <= sum (n - 2) (fun j => Rabs (0 - y 0%nat))) by (apply sum_nonneg; intros; apply Rabs_pos). lra. }
    assert (R : 1 <= norminf n 2 (centred X_u y)).
    { assert (R0 := row_le n 2 (centred X_u y) 0%nat ltac:(lia)).
      assert (R1 := row_le n 2 (centred X_u y) 1%nat ltac:(lia)).
      cbn [sum] in R0, R1. unfold centred at 1 2, vsub, X_u at 1 2, eye in R0.
      unfold centred at 1 2, vsub, X_u at 1 2, eye in R1. cbn [Nat.eqb] in R0, R1.
      assert (T0 := Rabs_triang (1 - y 0%nat) (- (0 - y 0%nat))). rewrite Rabs_Ropp in T0.
      replace (1 - y 0%nat + - (0 - y 0%nat)) with 1 in T0 by ring.
      assert (T1 := Rabs_triang (1 - y 1%nat) (- (0 - y 1%nat))). rewrite Rabs_Ropp in T1.
      replace (1 - y 1%nat + - (0 - y 1%nat)) with 1 in T1 by ring.
      rewrite Rabs_R1 in T0, T1. lra. }
    nra. }
  assert (E : comp n 2 (centred X_u (fun _ => 0)) = 1).
  { apply Rle_antisym; [|apply Low]. rewrite (comp_ext n 2 _ eye) by (intros; unfold centred, vsub, X_u; ring).
    rewrite <- sqrt_1. replace 1 with (1 * 1) by ring. apply comp_le; (apply maxf_lub; [lra|]); intros k Hk.
    - rewrite (sum_ext n _ (fun i => 1 * eye i k)); [rewrite sum_eye_r by lia; lra|]. intros. unfold eye.
      destruct Nat.eqb; rewrite ?Rabs_R0, ?Rabs_R1; ring.
    - cbn [sum]. unfold eye. destruct k as [|[|k]]; cbn [Nat.eqb]; rewrite ?Rabs_R0, ?Rabs_R1; lra. }
  split; [|exact E]. intro y. rewrite E. apply Low.
Qed.

Lemma beta_u : norm1 2 2 (WQK 1 head_u) * comp 2 2 (WV head_u) <= w.
Proof.
  rewrite <- (Rmult_1_r w). apply Rmult_le_compat; [apply maxf_pos|apply sqrt_pos| |].
  - apply maxf_lub; [lra|]. intros b Hb. unfold WQK, head_u. cbn [sum WQ WK Nat.eqb].
    destruct b as [|[|b]]; [| |lia]; cbn [Nat.eqb];
      rewrite ?Rmult_0_r, ?Rmult_0_l, ?Rmult_1_r, ?Rplus_0_r, ?Rplus_0_l, ?Rabs_R0, ?(Rabs_right w) by lra; lra.
  - rewrite <- sqrt_1. replace 1 with (1 * 1) by ring. apply comp_le; (apply maxf_lub; [lra|]); intros b Hb;
      cbn [sum head_u WV]; unfold eye; destruct b as [|[|b]]; cbn [Nat.eqb]; rewrite ?Rabs_R0, ?Rabs_R1; try lra; lia.
Qed.

Lemma gamma_u : gamma_of n 2 1 head_u X_u (fun _ => 0) <= 1 / sqrt (INR n).
Proof.
  assert (N5 := n_ge5). assert (SP : 0 < sqrt (INR n)) by (apply sqrt_lt_R0; lra).
  set (x := fun _ : nat => 0). unfold gamma_of. set (D := D_of n 2 1 head_u X_u x).
  set (dl := delta_of n 2 1 head_u X_u x).
  assert (Di : forall i, (i < n)%nat -> i <> 0%nat -> D i = 0).
  { intros i Hi Ni. apply Rle_antisym; [|apply osc_nonneg]. apply osc_lub; [lra|]. intros j k _ _ _ _.
    assert (Z : forall l, E_of 2 1 head_u (centred X_u x) i l = 0).
    { intro l. unfold E_of. replace (bil 2 (centred X_u x i) (WQK 1 head_u) (centred X_u x l)) with (bil 2 (X_u i) (WQK
        1 head_u) (X_u l)).
      - rewrite E_u. destruct (Nat.eqb_spec i 0); [congruence|]. unfold Rdiv. ring.
      - unfold bil, centred, vsub, x. apply sum_ext; intros a _. apply sum_ext; intros b _. ring. }
    rewrite !Z. lra. }
  assert (SD : sum n D = D 0%nat) by (apply sum_first; [lia|exact Di]).
  assert (D0 : 0 <= D 0%nat) by apply osc_nonneg.
  assert (Dl : dl = D 0%nat).
  { apply Rle_antisym; [|apply (maxf_ub n D 0%nat); lia]. apply maxf_lub; [exact D0|]. intros i Hi.
    destruct (Nat.eq_dec i 0) as [->|Ni]; [apply Rle_refl|]. fold D. rewrite (Di i Hi Ni). exact D0. }
  assert (Qm : qmax_of n 2 1 head_u X_u x <= 1 / INR n).
  { apply maxf_lub; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|]. intros j Hj.
    assert (C : forall k, c_of 2 1 head_u x (centred X_u x) k = 0).
    { intro k. unfold c_of. cbn [sum head_u bQ]. unfold vmat at 1. cbn [sum]. unfold x. unfold Rdiv. ring. }
    unfold q_of, softmax, tilt. cbn [head_u mask]. unfold nomask. rewrite C, exp_0.
    rewrite (sum_ext n _ (fun _ => 1)) by (intros; rewrite C, exp_0; ring). rewrite sum_const, !Rmult_1_r. lra. }
  assert (Q0 : 0 <= qmax_of n 2 1 head_u X_u x) by apply maxf_pos.
  replace (1 / sqrt (INR n)) with (sqrt (1 / INR n)).
  - apply sqrt_le_1_alt. rewrite SD, Dl. destruct D0 as [P|Z].
    + replace (D 0%nat * qmax_of n 2 1 head_u X_u x / D 0%nat) with (qmax_of n 2 1 head_u X_u x) by (field; lra).
      exact Qm.
    + rewrite <- Z. unfold Rdiv. rewrite Rinv_0. rewrite Rmult_0_r. lra.
  - rewrite sqrt_div_alt by lra. now rewrite sqrt_1.
Qed.

Theorem unhedged_refute K : K * (1 / sqrt (INR n)) * w < del -> ~ unhedged_claim K.
Proof.
  intros H C. destruct input_u as [Mi E1].
  destruct (C n 2%nat layer_u X_u (fun _ => 0) w (1 / sqrt (INR n)) eq_refl (le_n 1) eq_refl beta_u Mi gamma_u) as [y
    Q].
  rewrite E1 in Q. cbn [layer_u dqk] in Q. change (INR 1) with 1 in Q. rewrite sqrt_1 in Q.
  assert (L := unhedged_lower y).
  set (t := K * (1 / sqrt (INR n)) * w) in *. replace (t / 1 * 1 ^ 3) with t in Q by field. lra.
Qed.
End Example.

Theorem unhedged_refuted : ~ unhedged_claim 4.
Proof.
  apply (unhedged_refute 1900 (39/4) ltac:(lia) ltac:(lra)).
  assert (E : INR 1900 = 1900) by (rewrite INR_IZR_INZ; reflexivity). rewrite E. interval with (i_prec 60).
Qed.
