(** dong2021v1:2.3 and dong2021:2.3-printed, refuted with two tokens, two heads and one layer.
    [v1_claim K H] is the bound of 2021 at L = 1 with K in place of 4: for every layer with H heads, no mask,
    and beta >= norm1 W_QK,h comp W_h for all heads,
        comp(res SA(X)) <= (K beta H / sqrt d_qk) comp(res X)^3,
    that is, some centre y has comp(SA(X) - 1 y^T) below the right-hand side.
    [printed_claim K H] is the form of 2023, read with gamma_*: under D_ii <= x_star about the minimiser, and
    gamma >= gamma_h for all heads, the same with K gamma beta H.
    No constant K saves either: [two_heads_refuted].  The layer: tokens +-e_1 in R^(r^2), W_QK = xi e_1 e_1^T,
    W_1 = e_1 e_1^T, W_2 = e_1 1^T / r  [two_heads_example]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import IntervalZ.
From Rankmath Require Import Definitions Functions Norms Softmax dong2021_A_3 centred_form.
Local Open Scope R_scope.

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
