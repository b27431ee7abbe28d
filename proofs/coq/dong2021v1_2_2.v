(** dong2021v1:2.2, dong2021v1:2.3, dong2021:2.3-printed, unstated:large-logits, dong2021v1:2.2-mean.  What each
    is stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions IntervalZ Functions Norms seed_closure Softmax centred_form dong2021.
Local Open Scope R_scope.

(** dong2021v1:2.3 and dong2021:2.3-printed, refuted with two tokens, two heads and one layer.
    [v1_claim K H] is the bound of 2021 at L = 1 with K in place of 4: for every layer with H heads, no mask,
    and beta >= norm1 W_QK,h comp W_h for all heads,
        comp(res SA(X)) <= (K beta H / sqrt d_qk) comp(res X)^3,
    that is, some centre y has comp(SA(X) - 1 y^T) below the right-hand side.
    [printed_claim K H] is the form of 2023, read with gamma_*: under D_ii <= x_star about the minimiser, and
    gamma >= gamma_h for all heads, the same with K gamma beta H.
    No constant K saves either: [two_heads_refuted].  The layer: tokens +-e_1 in R^(r^2), W_QK = xi e_1 e_1^T,
    W_1 = e_1 e_1^T, W_2 = e_1 1^T / r  [two_heads_example]. *)

Definition v1_claim (K : R) (H : nat) : Prop :=
  forall (n d : nat) (Ly : layer) (X : mat) (beta r : R),
  nheads Ly = H -> (0 < dqk Ly)%nat -> (forall h, mask (hd Ly h) = nomask) ->
  (forall h, (h < H)%nat -> norm1 d d (WQK (dqk Ly) (hd Ly h)) * comp d d (WV (hd Ly h)) <= beta) ->
  residual (comp n d) X r ->
  exists y, comp n d (centred (SA n d Ly X) y) <= K * beta * INR H / sqrt (INR (dqk Ly)) * r ^ 3.

Definition printed_claim (K : R) (H : nat) : Prop :=
  forall (n d : nat) (Ly : layer) (X : mat) (x : vec) (beta g xs : R),
  nheads Ly = H -> (0 < dqk Ly)%nat -> (forall h, mask (hd Ly h) = nomask) ->
  (forall h, (h < H)%nat -> norm1 d d (WQK (dqk Ly) (hd Ly h)) * comp d d (WV (hd Ly h)) <= beta) ->
  minimiser (comp n d) X x -> x_star_is xs ->
  (forall h, (h < H)%nat -> delta_of n d (dqk Ly) (hd Ly h) X x <= xs) ->
  (forall h, (h < H)%nat -> gamma_of n d (dqk Ly) (hd Ly h) X x <= g) ->
  exists y, comp n d (centred (SA n d Ly X) y) <=
            K * g * beta * INR H / sqrt (INR (dqk Ly)) * comp n d (centred X x) ^ 3.

(** Two rows +-v with |v_a| <= v_0: 0 is a composite minimiser. *)
Lemma pm_res d (X : mat) (v : vec) : (0 < d)%nat ->
  (forall a, (a < d)%nat -> X 0%nat a = v a /\ X 1%nat a = - v a) ->
  (forall a, (a < d)%nat -> Rabs (v a) <= v 0%nat) ->
  let r := sqrt (2 * v 0%nat * sum d (fun a => Rabs (v a))) in
  minimiser (comp 2 d) X (fun _ => 0) /\ comp 2 d (centred X (fun _ => 0)) = r.
Proof.
  intros Hd HX Hv r.
  assert (V0 : 0 <= v 0%nat) by (eapply Rle_trans; [apply Rabs_pos|apply (Hv 0%nat Hd)]).
  assert (S0 : 0 <= sum d (fun a => Rabs (v a))) by (apply sum_nonneg; intros; apply Rabs_pos).
  assert (Col : forall x a, (a < d)%nat ->
    sum 2 (fun i => Rabs (centred X x i a)) = Rabs (v a - x a) + Rabs (v a + x a)).
  { intros x a Ha. destruct (HX a Ha) as [E0 E1]. unfold centred, vsub. cbn [sum]. rewrite E0, E1.
    replace (- v a - x a) with (- (v a + x a)) by ring. rewrite Rabs_Ropp. lra. }
  assert (Tri : forall p q, 2 * Rabs p <= Rabs (p - q) + Rabs (p + q)).
  { intros p q. assert (T := Rabs_triang (p - q) (p + q)). replace (p - q + (p + q)) with (2 * p) in T by ring.
    rewrite Rabs_mult, (Rabs_right 2) in T by lra. exact T. }
  assert (LB : forall x, r <= comp 2 d (centred X x)).
  { intro x. apply sqrt_le_1_alt. apply Rmult_le_compat; [lra|exact S0| |].
    - apply Rle_trans with (sum 2 (fun i => Rabs (centred X x i 0%nat))).
      + rewrite Col by exact Hd. assert (T := Tri (v 0%nat) (x 0%nat)). rewrite (Rabs_right (v 0%nat)) in T by lra.
        exact T.
      + now apply (col_le 2 d (centred X x) 0%nat).
    - assert (R0 := row_le 2 d (centred X x) 0%nat ltac:(lia)).
      assert (R1 := row_le 2 d (centred X x) 1%nat ltac:(lia)).
      assert (2 * sum d (fun a => Rabs (v a)) <= sum d (fun a => Rabs (centred X x 0%nat a)) + sum d (fun a => Rabs
        (centred X x 1%nat a))); [|lra].
      rewrite <- sum_scal, <- sum_plus. apply sum_le; intros a Ha.
      assert (C := Col x a Ha). cbn [sum] in C. assert (T := Tri (v a) (x a)). lra. }
  assert (E : comp 2 d (centred X (fun _ => 0)) = r).
  { apply Rle_antisym; [|apply LB]. apply comp_le.
    - apply maxf_lub; [lra|]. intros a Ha. rewrite Col by exact Ha. rewrite Rminus_0_r, Rplus_0_r.
      specialize (Hv a Ha). lra.
    - apply maxf_lub; [exact S0|]. intros i Hi. apply sum_le; intros a Ha. destruct (HX a Ha) as [E0 E1].
      unfold centred, vsub. destruct i as [|[|i]]; [| |lia].
      + rewrite E0, Rminus_0_r. lra.
      + rewrite E1, Rminus_0_r, Rabs_Ropp. lra. }
  split; [|exact E]. intro y. rewrite E. apply LB.
Qed.

Section Example.
Variables (r : nat) (xi : R).
Hypothesis r_pos : (0 < r)%nat.
Hypothesis xi_pos : 0 < xi.
Let d := (r * r)%nat.
Let e1 (a : nat) : R := if Nat.eqb a 0 then 1 else 0.

Definition head_ex (W : mat) : head := {|
  WQ := fun a _ => xi * e1 a; WK := fun a _ => e1 a; bQ := fun _ => 0; bK := fun _ => 0; WV := W; mask := nomask |}.
Definition W1 : mat := fun a b => e1 a * e1 b.
Definition W2 : mat := fun a _ => e1 a * / INR r.
Definition layer_ex : layer := {| nheads := 2; dqk := 1;
  hd := fun h => match h with O => head_ex W1 | _ => head_ex W2 end; bout := fun _ => 0 |}.
Definition sg (i : nat) : R := match i with O => 1 | _ => -1 end.
Definition X_ex : mat := fun i a => sg i * e1 a.

Lemma d_pos : (0 < d)%nat. Proof. unfold d. nia. Qed.
Lemma r_ge1 : 1 <= INR r. Proof. apply (le_INR 1). lia. Qed.
Lemma e1_0 : e1 0%nat = 1. Proof. reflexivity. Qed.
Lemma e1_S a : a <> 0%nat -> e1 a = 0. Proof. destruct a; [congruence|reflexivity]. Qed.
Lemma e1_abs a : Rabs (e1 a) = e1 a. Proof. apply Rabs_right. unfold e1. destruct Nat.eqb; lra. Qed.
Lemma e1_01 a : 0 <= e1 a <= 1. Proof. unfold e1. destruct Nat.eqb; lra. Qed.
Lemma sum_e1 f : sum d (fun a => e1 a * f a) = f 0%nat.
Proof. rewrite sum_first; [rewrite e1_0; lra|exact d_pos|]. intros a _ Ha. rewrite e1_S by exact Ha. lra. Qed.
Lemma sum_e1_1 : sum d e1 = 1.
Proof. rewrite sum_first; [exact e1_0|exact d_pos|]. intros a _ Ha. now apply e1_S. Qed.

Lemma norm1_WQK W : norm1 d d (WQK 1 (head_ex W)) <= xi.
Proof.
  apply maxf_lub; [lra|]. intros b _. unfold WQK, head_ex. cbn [sum WQ WK].
  rewrite (sum_ext d _ (fun a => e1 a * (xi * e1 b))).
  - rewrite sum_e1. assert (H := e1_01 b). nra.
  - intros a _. rewrite Rplus_0_l, !Rabs_mult, !e1_abs, (Rabs_right xi) by lra. ring.
Qed.

Lemma comp_W1 : comp d d W1 <= 1.
Proof.
  rewrite <- sqrt_1. replace 1 with (1 * 1) by ring. apply comp_le; (apply maxf_lub; [lra|]); intros b _;
  (rewrite (sum_ext d _ (fun a => e1 a * e1 b)); [rewrite sum_e1; apply e1_01|]);
  intros a _; unfold W1; rewrite Rabs_mult, !e1_abs; ring.
Qed.

Lemma comp_W2 : comp d d W2 <= 1.
Proof.
  assert (R1 := r_ge1). assert (I : 0 < / INR r) by (apply Rinv_0_lt_compat; lra).
  rewrite <- sqrt_1. replace 1 with (/ INR r * INR r) by (apply Rinv_l; lra).
  apply comp_le; (apply maxf_lub; [lra|]); intros b _.
  - rewrite (sum_ext d _ (fun a => e1 a * / INR r)).
    + rewrite sum_scal_r, sum_e1_1. lra.
    + intros a _. unfold W2. rewrite Rabs_mult, e1_abs, (Rabs_right (/ INR r)) by lra. ring.
  - rewrite (sum_ext d _ (fun _ => e1 b * / INR r)).
    + rewrite sum_const. unfold d. rewrite mult_INR. assert (H := e1_01 b).
      replace (INR r * INR r * (e1 b * / INR r)) with (INR r * e1 b) by (field; lra). nra.
    + intros a _. unfold W2. rewrite Rabs_mult, e1_abs, (Rabs_right (/ INR r)) by lra. ring.
Qed.

Lemma vmat_Q W i c : vmat d (X_ex i) (WQ (head_ex W)) c = sg i * xi.
Proof.
  unfold vmat, X_ex, head_ex. cbn [WQ].
  rewrite (sum_ext d _ (fun a => e1 a * (sg i * xi * e1 a))) by (intros; ring). rewrite sum_e1, e1_0. ring.
Qed.
Lemma vmat_K W j c : vmat d (X_ex j) (WK (head_ex W)) c = sg j.
Proof.
  unfold vmat, X_ex, head_ex. cbn [WK].
  rewrite (sum_ext d _ (fun a => e1 a * (sg j * e1 a))) by (intros; ring). rewrite sum_e1, e1_0. ring.
Qed.

Lemma logit_ex W i j : logit d 1 (head_ex W) X_ex i j = xi * (sg i * sg j).
Proof.
  unfold logit. cbn [sum]. rewrite vmat_Q, vmat_K. cbn [head_ex bQ bK]. simpl INR. rewrite sqrt_1. field.
Qed.

Lemma mix_ex W i a : (i < 2)%nat -> vmat 2 (attn 2 d 1 (head_ex W) X_ex i) X_ex a = sg i * tanh xi * e1 a.
Proof.
  intros Hi. unfold vmat, attn, softmax, tilt. cbn [sum head_ex mask]. rewrite !logit_ex.
  unfold nomask, X_ex, tanh, sinh, cosh.
  assert (P := exp_pos xi). assert (P' := exp_pos (- xi)).
  destruct i as [|[|i]]; [| |lia]; cbn [sg].
  - replace (xi * (1 * 1)) with xi by ring. replace (xi * (1 * -1)) with (- xi) by ring. field. lra.
  - replace (xi * (-1 * 1)) with (- xi) by ring. replace (xi * (-1 * -1)) with xi by ring. field. lra.
Qed.

Definition v_ex (b : nat) : R := tanh xi * (e1 b + / INR r).

Lemma SA_ex i b : (i < 2)%nat -> SA 2 d layer_ex X_ex i b = sg i * v_ex b.
Proof.
  intros Hi. unfold SA. cbn [layer_ex nheads dqk hd bout sum].
  assert (G : forall W, vmat d (vmat 2 (attn 2 d 1 (head_ex W) X_ex i) X_ex) W b = sg i * tanh xi * W 0%nat b).
  { intro W. unfold vmat at 1. rewrite (sum_ext d _ (fun a => e1 a * (sg i * tanh xi * W a b))).
    - now rewrite sum_e1.
    - intros a _. rewrite mix_ex by exact Hi. ring. }
  change (WV (head_ex W1)) with W1. change (WV (head_ex W2)) with W2. rewrite !G. unfold W1, W2, v_ex. rewrite e1_0.
  ring.
Qed.

(** About the centre 0: q = (1/2, 1/2), |E_ij| <= xi. *)
Lemma E_ex W i j : E_of d 1 (head_ex W) (centred X_ex (fun _ => 0)) i j = xi * (sg i * sg j).
Proof.
  unfold E_of. rewrite <- bil_fact. cbn [sum]. simpl INR. rewrite sqrt_1.
  rewrite (vmat_ext d _ (X_ex i)) by (intros; unfold centred, vsub; ring).
  rewrite (vmat_ext d (centred X_ex (fun _ => 0) j) (X_ex j)) by (intros; unfold centred, vsub; ring).
  rewrite vmat_Q, vmat_K. field.
Qed.

Lemma q_ex W j : q_of 2 d 1 (head_ex W) (fun _ => 0) (centred X_ex (fun _ => 0)) j = 1 / 2.
Proof.
  assert (C : forall k, c_of d 1 (head_ex W) (fun _ => 0) (centred X_ex (fun _ => 0)) k = 0).
  { intro k. unfold c_of. cbn [sum head_ex bQ]. unfold vmat at 1.
    rewrite (sum_ext d _ (fun _ => 0)) by (intros; ring). rewrite sum_zero. unfold Rdiv. ring. }
  unfold q_of, softmax, tilt. cbn [sum head_ex mask]. rewrite !C, exp_0. unfold nomask. field.
Qed.

Lemma delta_ex W : delta_of 2 d 1 (head_ex W) X_ex (fun _ => 0) <= 2 * xi.
Proof.
  apply maxf_lub; [lra|]. intros i Hi. apply osc_lub; [lra|]. intros j k _ _ _ _. rewrite !E_ex.
  destruct i, j, k; cbn [sg]; lra.
Qed.

Lemma gamma_ex W : gamma_of 2 d 1 (head_ex W) X_ex (fun _ => 0) <= 1.
Proof.
  unfold gamma_of. set (D := D_of 2 d 1 (head_ex W) X_ex (fun _ => 0)).
  set (dl := delta_of 2 d 1 (head_ex W) X_ex (fun _ => 0)).
  assert (Q : qmax_of 2 d 1 (head_ex W) X_ex (fun _ => 0) <= 1 / 2).
  { apply maxf_lub; [lra|]. intros. rewrite q_ex. lra. }
  assert (Q0 : 0 <= qmax_of 2 d 1 (head_ex W) X_ex (fun _ => 0)) by apply maxf_pos.
  assert (D0 : D 0%nat <= dl) by (apply (maxf_ub 2 D); lia). assert (D1 : D 1%nat <= dl) by (apply (maxf_ub 2 D); lia).
  assert (P0 : 0 <= D 0%nat) by apply osc_nonneg. assert (P1 : 0 <= D 1%nat) by apply osc_nonneg.
  rewrite <- sqrt_1. apply sqrt_le_1_alt. cbn [sum].
  assert (G : 0 <= dl) by lra. destruct G as [G|G].
  - apply Rmult_le_reg_r with dl; [exact G|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
  - rewrite <- G. unfold Rdiv. rewrite Rinv_0. lra.
Qed.

Theorem two_heads_example :
  (forall h, (h < 2)%nat -> norm1 d d (WQK (dqk layer_ex) (hd layer_ex h)) * comp d d (WV (hd layer_ex h)) <= xi) /\
  minimiser (comp 2 d) X_ex (fun _ => 0) /\ comp 2 d (centred X_ex (fun _ => 0)) = sqrt 2 /\
  residual (comp 2 d) (SA 2 d layer_ex X_ex) (tanh xi * (1 + INR r) * sqrt (2 / INR r)).
Proof.
  assert (R1 := r_ge1). assert (I : 0 < / INR r) by (apply Rinv_0_lt_compat; lra).
  assert (T0 : 0 <= tanh xi) by (apply tanh_nonneg; lra).
  split; [|rewrite <- and_assoc; split].
  - assert (C : forall W, comp d d W <= 1 -> norm1 d d (WQK 1 (head_ex W)) * comp d d W <= xi).
    { intros W HW. rewrite <- (Rmult_1_r xi). apply Rmult_le_compat;
        [apply maxf_pos|apply sqrt_pos|apply norm1_WQK|exact HW]. }
    intros h Hh. destruct h as [|[|h]]; [| |lia]; cbn [layer_ex dqk hd]; apply C; [apply comp_W1|apply comp_W2].
  - replace (sqrt 2) with (sqrt (2 * e1 0%nat * sum d (fun a => Rabs (e1 a)))).
    + apply pm_res; [exact d_pos| |].
      * intros a _. unfold X_ex. cbn [sg]. split; ring.
      * intros a _. rewrite e1_abs, e1_0. apply e1_01.
    + f_equal. rewrite (sum_ext d _ e1) by (intros; apply e1_abs). rewrite sum_e1_1, e1_0. ring.
  - assert (Av : forall a, Rabs (v_ex a) = v_ex a).
    { intro a. apply Rabs_right. unfold v_ex. assert (H := e1_01 a). apply Rle_ge, Rmult_le_pos; lra. }
    exists (fun _ => 0).
    replace (tanh xi * (1 + INR r) * sqrt (2 / INR r)) with (sqrt (2 * v_ex 0%nat * sum d (fun a => Rabs (v_ex a)))).
    + apply pm_res; [exact d_pos| |].
      * intros a _. rewrite !SA_ex by lia. cbn [sg]. split; ring.
      * intros a _. rewrite Av. unfold v_ex. assert (H := e1_01 a). rewrite e1_0. apply Rmult_le_compat_l; lra.
    + rewrite (sum_ext d _ v_ex) by (intros; apply Av). unfold v_ex. rewrite sum_scal, sum_plus, sum_e1_1, sum_const.
      unfold d. rewrite mult_INR, e1_0.
      replace (2 * (tanh xi * (1 + / INR r)) * (tanh xi * (1 + INR r * INR r * / INR r)))
        with (Rsqr (tanh xi * (1 + INR r)) * (2 / INR r)) by (unfold Rsqr; field; lra).
      rewrite sqrt_mult_alt by apply Rle_0_sqr. rewrite sqrt_Rsqr; [reflexivity|]. apply Rmult_le_pos; lra.
Qed.
End Example.

Lemma Rinv_lt_cancel x y : 0 < y -> / y < / x -> x < y.
Proof.
  intros Hy H. destruct (Rlt_or_le x y) as [|L]; [assumption|exfalso].
  assert (/ x <= / y) by (apply Rinv_le_contravar; lra). lra.
Qed.

(** The numbers: with r = k^2 the claim's inequality says tanh(xi) (k^2 + 1) <= 4 K xi k. *)
Lemma numbers K k xi : (0 < k)%nat -> 0 < xi ->
  tanh xi * (1 + INR (k * k)) * sqrt (2 / INR (k * k)) <= K * xi * INR 2 / sqrt (INR 1) * sqrt 2 ^ 3 ->
  tanh xi * (INR k * INR k + 1) <= 4 * K * xi * INR k.
Proof.
  intros Hk Hxi Q. assert (Pk : 0 < INR k) by (apply lt_0_INR; exact Hk).
  rewrite mult_INR in Q. simpl (INR 1) in Q. rewrite sqrt_1 in Q. simpl (INR 2) in Q.
  assert (E : sqrt (2 / (INR k * INR k)) = sqrt 2 / INR k).
  { rewrite sqrt_div_alt by nra. rewrite sqrt_square by lra. reflexivity. }
  rewrite E in Q.
  assert (S2 : sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra). assert (SP : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  replace (sqrt 2 ^ 3) with (2 * sqrt 2) in Q by (simpl; rewrite Rmult_1_r, S2; ring).
  replace (tanh xi * (1 + INR k * INR k) * (sqrt 2 / INR k)) with (tanh xi * (INR k * INR k + 1) / INR k * sqrt 2) in Q
    by (field; lra).
  replace (K * xi * (1 + 1) / 1 * (2 * sqrt 2)) with (4 * K * xi * sqrt 2) in Q by field.
  apply Rmult_le_reg_r in Q; [|exact SP].
  apply (Rmult_le_compat_r (INR k)) in Q; [|lra].
  replace (tanh xi * (INR k * INR k + 1) / INR k * INR k) with (tanh xi * (INR k * INR k + 1)) in Q by (field; lra).
  exact Q.
Qed.

Lemma refute K k xi : (0 < k)%nat -> 0 < xi -> 4 * K * xi * INR k < tanh xi * (INR k * INR k + 1) ->
  ~ v1_claim K 2 /\ (xi <= 1/2 -> ~ printed_claim K 2).
Proof.
  intros Hk Hxi H. assert (Hr : (0 < k * k)%nat) by nia.
  destruct (two_heads_example (k * k) xi Hr Hxi) as [Bd [Mi [Rh Res]]].
  assert (Mk : forall h, mask (hd (layer_ex (k * k) xi) h) = nomask) by (intros [|h]; reflexivity).
  split.
  - intro C. destruct (C _ _ (layer_ex (k * k) xi) _ _ _ eq_refl (le_n 1) Mk Bd (ex_intro _ _ (conj Mi Rh))) as [y Q].
    destruct Res as [z [Hz Ez]]. specialize (Hz y). rewrite Ez in Hz. assert (Q' := Rle_trans _ _ _ Hz Q).
    apply numbers in Q'; [lra|assumption|assumption].
  - intros Hx C. destruct x_star_spec as [xs [XS [Hxs _]]].
    assert (Q : tanh xi * (1 + INR (k * k)) * sqrt (2 / INR (k * k))
      <= K * 1 * xi * INR 2 / sqrt (INR 1) * comp 2 (k * k * (k * k)) (centred X_ex (fun _ => 0)) ^ 3).
    { destruct Res as [z [Hz Ez]].
      destruct (C 2%nat (k * k * (k * k))%nat (layer_ex (k * k) xi) X_ex (fun _ => 0) xi 1 xs) as [y Q];
        [reflexivity|apply le_n|exact Mk|exact Bd|exact Mi|exact XS| | |rewrite <- Ez;
          exact (Rle_trans _ _ _ (Hz y) Q)].
      - intros h Hh. eapply Rle_trans; [|apply Rlt_le, Hxs].
        eapply Rle_trans with (2 * xi); [|lra]. destruct h as [|[|h]]; [| |lia]; now apply delta_ex.
      - intros h Hh. destruct h as [|[|h]]; [| |lia]; now apply gamma_ex. }
    rewrite Rh, Rmult_1_r in Q. apply numbers in Q; [lra|assumption|assumption].
Qed.

(** For every constant K, in particular for the printed 4. *)
Theorem two_heads_refuted K : ~ v1_claim K 2 /\ ~ printed_claim K 2.
Proof.
  assert (A := Rabs_pos K). assert (B := Rle_abs K).
  destruct (archimed_cor1 (/ (5 * Rabs K + 1))) as [k [Hk0 Hkn]]; [apply Rinv_0_lt_compat; lra|].
  assert (Hk : 5 * Rabs K + 1 < INR k).
  { apply Rinv_lt_cancel; [apply lt_0_INR; lia|exact Hk0]. }
  assert (T : 45/100 < tanh (1/2)) by (rewrite tanh_exp2; interval with (i_prec 40)).
  destruct (refute K k (1/2)) as [R1 R2]; [apply INR_lt; simpl; lra|lra| |split; [exact R1|apply R2; lra]].
  assert (4 * K * (1/2) * INR k <= 45/100 * (INR k * INR k)) by nra. nra.
Qed.

(** The instance with 65536 coordinates: K = 4, r = 256, xi = 1/16. *)
Theorem two_heads_65536 : let r := 256%nat in
  exists r0 r1, residual (comp 2 (r * r)) X_ex r0 /\ residual (comp 2 (r * r)) (SA 2 (r * r) (layer_ex r (1/16)) X_ex)
    r1 /\
  4 * (1/16) * 2 * r0 ^ 3 < r1.
Proof.
  intro r. destruct (two_heads_example r (1/16) ltac:(unfold r; lia) ltac:(lra)) as [_ [Mi [Rh Res]]].
  exists (sqrt 2), (tanh (1/16) * (1 + INR r) * sqrt (2 / INR r)).
  split; [exists (fun _ => 0); now split|split; [exact Res|]].
  assert (Er : INR r = 256) by (unfold r; rewrite INR_IZR_INZ; reflexivity).
  rewrite Er, tanh_exp2. interval with (i_prec 60).
Qed.

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

(** unstated:large-logits, refuted: the one-head bound of 2023, read with gamma_*, is false without the hypothesis
    D_ii <= x_star.  n tokens in the plane: e_0, e_1 and n - 2 times 0; W_QK = w e_0 e_1^T, W = I, d_qk = 1, no bias.
    Then comp(res X) = 1, gamma = 1/sqrt n, and every centre y has comp(SA(X) - 1 y^T) >= e^w/(n - 1 + e^w) - 1/n
    [unhedged_lower]; with n = 1900 and w = 39/4 this exceeds 4 gamma w [unhedged_refuted]. *)

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
