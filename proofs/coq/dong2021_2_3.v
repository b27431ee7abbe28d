(** dong2021:2.2, dong2021:2.3 (repaired), dong2021:3.2, and own:composite: the sharper constant 2 in place of 4.
    L layers, any number of heads, biases, key padding; x^l minimises comp(X^l - 1 x^T) and D_ii <= x_star
    (e^x_star = 1 + 2 x_star) at every layer and head for that centre.  With
        B_l = (sum_h norm1 W_QK norm1 W_h)^(1/2) (sum_h norm1 W_QK norminf W_h)^(1/2)
    and gamma_* the largest gamma of any layer and head,
        comp(res X^L) <= c^((3^L-1)/2) comp(res X)^(3^L)   for   c >= 2 gamma_* B_l lambda_l / sqrt d_qk,
    f_l a token map of composite constant lambda_l after each layer  [composite_depth].  The printed constant
    is 4: [dong_2_3] (lambda = 1), [dong_2_2] (one head, where B = norm1 W_QK comp W) and [dong_3_2]. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Rankmath Require Import Definitions Functions Norms Softmax dong2021_norm dong2021_A_3 centred_form own_gamma_free.
Local Open Scope R_scope.

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
