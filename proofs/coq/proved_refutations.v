(** Registered statements that a layer refutes, as Statements.v prints them. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require dong2021v1_2_2 centred_form.
From Rankmath Require Import Definitions Functions Norms Softmax Language LanguageFacts Minimisers NetworkFacts
  Statements.
Local Open Scope R_scope.

(** One layer of Definitions.v without masks, and its input, as a network. *)
Definition network_from (n d : nat) (Ly : layer) (Y : mat) : network := {| tokens := n; dim := d; heads := nheads Ly;
  layers := 1;
  d_qk := INR (dqk Ly); skip_of := 0; lnorm := false; W := fun _ h => WV (hd Ly h);
    W_QK := fun _ h => WQK (dqk Ly) (hd Ly h);
  key_bias := fun _ h a => sum (dqk Ly) (fun c => bQ (hd Ly h) c * WK (hd Ly h) a c); bias := fun _ => bout Ly;
  edges := fun _ _ => 1; input := Y |}.

Section From.
Variables (n d : nat) (Ly : layer) (Y : mat).
Hypothesis Hn : (0 < n)%nat.
Hypothesis Hd : (0 < d)%nat.
Hypothesis Hh : (0 < nheads Ly)%nat.
Hypothesis Hq : (0 < dqk Ly)%nat.
Hypothesis NM : forall h, (h < nheads Ly)%nat -> mask (hd Ly h) = nomask.
Let N := network_from n d Ly Y.

Lemma from_proper : proper N.
Proof.
  constructor; try assumption; try (cbn; lia); try (cbn; discriminate).
  - cbn. now apply lt_0_INR.
  - intros; cbn; now right.
  - intros i Hi. exists 0%nat. split; [exact Hn|reflexivity].
Qed.
Lemma from_none : mask_none N.
Proof. intros i j. reflexivity. Qed.

Lemma key_part h x y : sum (dqk Ly) (fun c => (vmat d x (WQ (hd Ly h)) c + bQ (hd Ly h) c) * vmat d y (WK (hd Ly h)) c)
  =
  bil d x (WQK (dqk Ly) (hd Ly h)) y + dot d y (fun a => sum (dqk Ly) (fun c => bQ (hd Ly h) c * WK (hd Ly h) a c)).
Proof.
  rewrite (sum_ext (dqk Ly) _ (fun c => vmat d x (WQ (hd Ly h)) c * vmat d y (WK (hd Ly h)) c + bQ (hd Ly h) c * vmat d
    y (WK (hd Ly h)) c)) by (intros; ring).
  rewrite sum_plus, bil_fact. f_equal. unfold vmat, dot.
  rewrite (sum_ext (dqk Ly) _ (fun c => sum d (fun a => y a * (bQ (hd Ly h) c * WK (hd Ly h) a c)))) by (intros c _;
    rewrite <- sum_scal; apply sum_ext; intros; ring).
  rewrite sum_swap. apply sum_ext; intros a _. now rewrite sum_scal.
Qed.

Lemma from_logit h i j : logit d (dqk Ly) (hd Ly h) Y i j =
  sum (dqk Ly) (fun c => (vmat d (Y i) (WQ (hd Ly h)) c + bQ (hd Ly h) c) * bK (hd Ly h) c) / sqrt (INR (dqk Ly)) +
    logits_of N 0 h Y i j.
Proof.
  unfold logit, logits_of. cbn [N network_from dim d_qk W_QK key_bias]. rewrite <- key_part. unfold Rdiv.
  rewrite <- Rmult_plus_distr_r, <- sum_plus.
  f_equal. apply sum_ext; intros; ring.
Qed.

Lemma from_attention h i : (h < nheads Ly)%nat -> attn n d (dqk Ly) (hd Ly h) Y i = attention_on N 0 h Y i.
Proof.
  intros H. apply functional_extensionality; intro j. unfold attn, attention_on. cbn [N network_from tokens edges].
  rewrite (NM h H).
  unfold softmax. rewrite <- (tilt_shift n _ (logits_of N 0 h Y i) (sum (dqk Ly) (fun c => (vmat d (Y i) (WQ (hd Ly h))
    c + bQ (hd Ly h) c) * bK (hd Ly h) c) / sqrt (INR (dqk Ly)))).
  change (nomask i) with (fun _ : nat => 1). unfold tilt. f_equal; [f_equal; f_equal; apply from_logit|].
  apply sum_ext; intros k _. do 2 f_equal. apply from_logit.
Qed.

Lemma from_next : X N 1 = SA n d Ly Y.
Proof.
  apply functional_extensionality; intro i. apply functional_extensionality; intro b.
  change (X N 1 i b) with (sent N 0 Y i b). unfold sent, SA. cbn [N network_from tokens dim heads skip_of W bias].
  fold N.
  rewrite Rmult_0_l, Rplus_0_l. f_equal. apply sum_ext; intros h H. now rewrite <- from_attention.
Qed.

Lemma from_beta b : (forall h, (h < nheads Ly)%nat -> norm1 d d (WQK (dqk Ly) (hd Ly h)) * comp d d (WV (hd Ly h)) <=
  b) ->
  0 <= largest (layers N) (fun l => largest (heads N) (fun h => norm_1 (W_QK N l h) * norm_composite (W N l h))) <= b.
Proof.
  intros H. change (layers N) with 1%nat. cbn [largest]. change (heads N) with (nheads Ly). split.
  - eapply Rle_trans; [|apply (largest_ub (nheads Ly) _ 0 Hh)]. apply Rmult_le_pos; [apply maxf_pos|apply comp_pos].
  - apply largest_lub; [exact Hh|]. exact H.
Qed.
Lemma from_residual r : residual (comp n d) Y r -> residual_composite (X N 0) = r.
Proof. intros [x [Hx <-]]. apply inf_is; [now exists x|]. intros y [z ->]. apply Hx. Qed.
Lemma next_attained : exists y, comp n d (centred (SA n d Ly Y) y) = residual_composite (X N 1).
Proof.
  destruct (composite_minimiser n d (SA n d Ly Y) Hn) as [y Hy]. exists y. rewrite from_next. symmetry.
  apply inf_is; [now exists y|]. intros v [z ->]. apply Hy.
Qed.

(** Centres: a given one of the input, and one of what the layer makes of it. *)
Lemma from_centers x : minimiser (comp n d) Y x -> exists center, center 0%nat = x /\ are_centers N center.
Proof.
  intros Hx. destruct (composite_minimiser n d (SA n d Ly Y) Hn) as [y Hy].
  exists (fun l => match l with O => x | _ => y end). split; [reflexivity|].
  intros [|[|l]] Hl; cbn in Hl; try lia; [exact Hx|]. rewrite from_next. exact Hy.
Qed.

Section About.
Variables (center : nat -> vec) (h : nat).
Hypothesis Hhd : (h < nheads Ly)%nat.
Let x := center 0%nat.

Lemma from_q : centred_form.q_of n d (dqk Ly) (hd Ly h) x (centred Y x) = centred_shares N x 0 h.
Proof.
  unfold centred_form.q_of, centred_shares, shares. rewrite (NM h Hhd). change (nomask 0%nat) with (fun _ : nat => 1).
  f_equal.
  apply functional_extensionality; intro j. unfold centred_form.c_of. rewrite key_part. reflexivity.
Qed.
Lemma from_D i : centred_form.D_of n d (dqk Ly) (hd Ly h) Y x i = oscillation N x 0 h i.
Proof.
  unfold centred_form.D_of, oscillation. rewrite from_q. change (centred_form.E_of d (dqk Ly) (hd Ly h) (centred Y x)
    i) with (tilts N x 0 h i).
  apply Rle_antisym.
  - apply centred_form.osc_lub; [now apply osc_nonneg|]. intros j k Hj Hk _ _. now apply osc_spec.
  - unfold osc. change (tokens N) with n. destruct (largest_attained n (tilts N x 0 h i) Hn) as [j [Hj Ej]].
    destruct (least_attained n (tilts N x 0 h i) Hn) as [k [Hk Ek]].
    rewrite Ej, Ek. apply centred_form.osc_ub; auto; apply (shares_pos n); exact Hn.
Qed.
Lemma from_delta : centred_form.delta_of n d (dqk Ly) (hd Ly h) Y x = delta_composite N center 0 h.
Proof.
  unfold centred_form.delta_of, delta_composite. change (tokens N) with n.
  rewrite largest_maxf; [apply maxf_ext; intros; apply from_D|]. intros j _. apply (osc_nonneg n). exact Hn.
Qed.
Lemma from_gamma : centred_form.gamma_of n d (dqk Ly) (hd Ly h) Y x = gamma N center 0 h.
Proof.
  unfold centred_form.gamma_of, gamma. rewrite from_delta. change (tokens N) with n.
  rewrite (sum_ext n _ (oscillation N (center 0%nat) 0 h)) by (intros; apply from_D).
  assert (Q : centred_form.qmax_of n d (dqk Ly) (hd Ly h) Y x = q_max_composite N center 0 h).
  { unfold centred_form.qmax_of, q_max_composite. change (tokens N) with n. rewrite from_q.
    rewrite largest_maxf; [reflexivity|]. intros j _. left. apply (shares_pos n). exact Hn. }
  rewrite Q. destruct Req_EM_T as [E|_]; [|reflexivity]. rewrite (sum_ext n (oscillation N (center 0%nat) 0 h) (fun _
    => 0)).
  - rewrite sum_zero. unfold Rdiv. rewrite !Rmult_0_l. apply sqrt_0.
  - intros i Hi. apply Rle_antisym; [|apply (osc_nonneg n); exact Hn]. rewrite <- E. apply (largest_ub n _ i Hi).
Qed.
End About.
End From.

(** Every network has the centres that statements about them ask for. *)
Theorem centers_exist N : proper N -> exists center, are_centers N center.
Proof.
  intros PN. assert (G : forall m, exists c : nat -> vec, forall l, (l < m)%nat ->
    minimiser (comp (tokens N) (dim N)) (X N l) (c l)).
  { induction m as [|m [c Hc]]; [exists (fun _ _ => 0); intros; lia|].
    destruct (composite_minimiser (tokens N) (dim N) (X N m) (some_tokens N PN)) as [x Hx].
    exists (fun l => if Nat.eqb l m then x else c l). intros l Hl. destruct (Nat.eqb_spec l m) as [->|Nl]; [exact Hx|].
    apply Hc. lia. }
  destruct (G (S (layers N))) as [c Hc]. exists c. intros l Hl. apply Hc. lia.
Qed.

Lemma comp_empty_rows d A : comp 0 d A = 0.
Proof. unfold comp. replace (norminf 0 d A) with 0 by reflexivity. rewrite Rmult_0_r. apply sqrt_0. Qed.
Lemma comp_empty_columns n A : comp n 0 A = 0.
Proof. unfold comp. replace (norm1 n 0 A) with 0 by reflexivity. rewrite Rmult_0_l. apply sqrt_0. Qed.
Lemma comp_empty n d A : n = 0%nat \/ d = 0%nat -> comp n d A = 0.
Proof. intros [-> | ->]; [apply comp_empty_rows|apply comp_empty_columns]. Qed.

Lemma power_one c : c ^ ((3 ^ 1 - 1) / 2) = c.
Proof. simpl. ring. Qed.

Lemma v1_from (H : nat) : (0 < H)%nat -> (forall N, proper N -> heads N = H -> layers N = 1%nat -> mask_none N ->
  layernorm_none N -> skip_of N = 0 ->
    residual_composite (X N 1) <= 4 * largest (layers N) (fun l => largest (heads N) (fun h => norm_1 (W_QK N l h) *
      norm_composite (W N l h))) * INR H / sqrt (d_qk N) * residual_composite (X N 0) ^ 3) ->
  dong2021v1_2_2.v1_claim 4 H.
Proof.
  intros H0 St n d Ly Y beta r EH Hq NM HB HR. destruct (Nat.eq_dec n 0) as [Zn|Zn];
    [|destruct (Nat.eq_dec d 0) as [Zd|Zd]].
  - exists (fun _ => 0). destruct HR as [x [_ <-]]. rewrite !comp_empty by auto. right. ring.
  - exists (fun _ => 0). destruct HR as [x [_ <-]]. rewrite !comp_empty by auto. right. ring.
  - assert (Hn : (0 < n)%nat) by lia. assert (Hd : (0 < d)%nat) by lia. assert (Hh : (0 < nheads Ly)%nat) by lia.
    assert (NM' : forall h, (h < nheads Ly)%nat -> mask (hd Ly h) = nomask) by auto.
    destruct (next_attained n d Ly Y Hn NM') as [y Ey]. exists y. rewrite Ey.
    assert (Q := St (network_from n d Ly Y) (from_proper n d Ly Y Hn Hd Hh Hq) EH eq_refl (from_none n d Ly Y) eq_refl
      eq_refl).
    rewrite (from_residual n d Ly Y r HR) in Q. eapply Rle_trans; [exact Q|]. assert (S := sqrt_dqk_pos _ Hq).
    destruct (from_beta n d Ly Y Hh beta) as [B0 B1]; [intros h Hlt; apply HB; lia|].
    change (d_qk (network_from n d Ly Y)) with (INR (dqk Ly)).
    apply Rmult_le_compat_r; [apply pow_le; destruct HR as [x [_ <-]]; apply comp_pos|].
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. apply Rmult_le_compat_r; [apply pos_INR|]. lra.
Qed.

Theorem refuted_dong2021v1_2_2 : ~ statement_dong2021v1_2_2.
Proof.
  intro St. apply dong2021v1_2_2.many_tokens_refuted. apply (v1_from 1 ltac:(lia)). intros N PN H1 L1 MN LN S0.
  assert (Q := St N PN H1 MN LN I S0). rewrite L1, power_one in Q. rewrite L1. eapply Rle_trans; [exact Q|]. right.
  simpl. unfold Rdiv. ring.
Qed.

Theorem refuted_dong2021v1_2_3 : ~ statement_dong2021v1_2_3.
Proof.
  intro St. apply (proj1 (dong2021v1_2_2.two_heads_refuted 4)). apply (v1_from 2 ltac:(lia)).
  intros N PN H1 L1 MN LN S0.
  assert (Q := St N PN MN LN I S0). rewrite L1, power_one, H1 in Q. rewrite L1, H1. exact Q.
Qed.

Theorem refuted_dong2021_2_3_printed : ~ statement_dong2021_2_3_printed.
Proof.
  intro St. apply (proj2 (dong2021v1_2_2.two_heads_refuted 4)).
  intros n d Ly Y x beta g xs EH Hq NM HB Mx XS Sm Gm. destruct (Nat.eq_dec n 0) as [Zn|Zn];
    [|destruct (Nat.eq_dec d 0) as [Zd|Zd]].
  1, 2: exists (fun _ => 0); rewrite !comp_empty by auto; right; ring.
  assert (Hn : (0 < n)%nat) by lia. assert (Hd : (0 < d)%nat) by lia. assert (Hh : (0 < nheads Ly)%nat) by lia.
  assert (NM' : forall h, (h < nheads Ly)%nat -> mask (hd Ly h) = nomask) by auto.
  destruct (next_attained n d Ly Y Hn NM') as [y Ey]. exists y. rewrite Ey. set (N := network_from n d Ly Y).
  destruct (from_centers n d Ly Y Hn Hd Hh Hq NM' x Mx) as [center [Ec CN]]. subst x.
  assert (Q := St N (from_proper n d Ly Y Hn Hd Hh Hq) xs XS center CN). cbv zeta in Q.
  change (layers N) with 1%nat in Q. rewrite power_one in Q.
  change (heads N) with (nheads Ly) in Q. rewrite EH in Q. change (d_qk N) with (INR (dqk Ly)) in Q.
  set (gs := largest 1 (fun l => largest 2 (fun h => gamma N center l h))) in *.
  set (bs := largest 1 (fun l => largest 2 (fun h => norm_1 (W_QK N l h) * norm_composite (W N l h)))) in *.
  destruct (from_beta n d Ly Y Hh beta) as [B0 B1]; [intros h Hlt; apply HB; lia|].
  change (layers (network_from n d Ly Y)) with 1%nat in B0, B1.
  change (heads (network_from n d Ly Y)) with (nheads Ly) in B0, B1. rewrite EH in B0, B1. fold N bs in B0, B1.
  assert (G1 : gs <= g).
  { apply largest_lub; [lia|]. intros l Hl. replace l with 0%nat by lia. apply largest_lub; [lia|]. intros h Hlt.
    unfold N. rewrite <- (from_gamma n d Ly Y Hn NM' center h ltac:(lia)). now apply Gm. }
  assert (G0 : 0 <= gs).
  { eapply Rle_trans; [|apply (largest_ub 1 (fun l => largest 2 (fun h => gamma N center l h)) 0 ltac:(lia))].
    eapply Rle_trans; [|apply (largest_ub 2 (fun h => gamma N center 0 h) 0 ltac:(lia))]. unfold gamma.
    destruct Req_EM_T; [lra|apply sqrt_pos]. }
  assert (S := sqrt_dqk_pos _ Hq). assert (R0 : residual_composite (X N 0) = comp n d (centred Y (center 0%nat))) by
    (apply from_residual; exists (center 0%nat); auto). rewrite R0 in Q.
  eapply Rle_trans; [apply Q|]; try exact I; try reflexivity.
  - intros l Hl. replace l with 0%nat by lia. apply largest_lub; [lia|]. intros h Hlt.
    unfold N. rewrite <- (from_delta n d Ly Y Hn NM' center h ltac:(lia)). now apply Sm.
  - intros i j. reflexivity.
  - simpl (3 ^ 1)%nat. apply Rmult_le_compat_r; [apply pow_le, comp_pos|].
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
    apply Rmult_le_compat_r; [apply pos_INR|]. apply Rmult_le_compat; nra.
Qed.

Theorem refuted_unstated_large_logits : ~ statement_unstated_large_logits.
Proof.
  intro St. apply dong2021v1_2_2.unhedged_refuted.
  intros n d Ly Y x beta g EH Hq NM HB Mx Gm. destruct (Nat.eq_dec n 0) as [Zn|Zn];
    [|destruct (Nat.eq_dec d 0) as [Zd|Zd]].
  1, 2: exists (fun _ => 0); rewrite !comp_empty by auto; right; ring.
  assert (Hn : (0 < n)%nat) by lia. assert (Hd : (0 < d)%nat) by lia. assert (Hh : (0 < nheads Ly)%nat) by lia.
  assert (NM' : forall h, (h < nheads Ly)%nat -> mask (hd Ly h) = nomask) by (intros h Hlt;
    replace h with 0%nat by lia; exact NM).
  destruct (next_attained n d Ly Y Hn NM') as [y Ey]. exists y. rewrite Ey. set (N := network_from n d Ly Y).
  destruct (from_centers n d Ly Y Hn Hd Hh Hq NM' x Mx) as [center [Ec CN]]. subst x.
  assert (Q := St N (from_proper n d Ly Y Hn Hd Hh Hq) center CN). cbv zeta in Q. change (layers N) with 1%nat in Q.
  rewrite power_one in Q.
  change (heads N) with (nheads Ly) in Q. rewrite EH in Q. change (d_qk N) with (INR (dqk Ly)) in Q. cbn [largest] in Q.
  assert (G1 : gamma N center 0 0 <= g) by (unfold N; rewrite <- (from_gamma n d Ly Y Hn NM' center 0 ltac:(lia));
    exact Gm).
  assert (G0 : 0 <= gamma N center 0 0) by (unfold gamma; destruct Req_EM_T; [lra|apply sqrt_pos]).
  change (norm_1 (W_QK N 0 0) * norm_composite (W N 0 0)) with (norm1 d d (WQK (dqk Ly) (hd Ly 0)) * comp d d (WV (hd
    Ly 0))) in Q.
  assert (B0 : 0 <= norm1 d d (WQK (dqk Ly) (hd Ly 0)) * comp d d (WV (hd Ly 0))) by (apply Rmult_le_pos;
    [apply maxf_pos|apply comp_pos]).
  assert (S := sqrt_dqk_pos _ Hq). assert (R0 : residual_composite (X N 0) = comp n d (centred Y (center 0%nat))) by
    (apply from_residual; exists (center 0%nat); auto). rewrite R0 in Q.
  eapply Rle_trans; [apply Q|]; try exact I; try reflexivity.
  - intros i j. reflexivity.
  - simpl (3 ^ 1)%nat. apply Rmult_le_compat_r; [apply pow_le, comp_pos|].
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
    apply Rmult_le_compat; nra.
Qed.

Theorem refuted_dong2021v1_2_2_mean : ~ statement_dong2021v1_2_2_mean.
Proof.
  intro St. apply dong2021v1_2_2.many_tokens_mean_refuted. intros n d Ly Y beta EH Hq NM HB.
  destruct (Nat.eq_dec n 0) as [Zn|Zn]; [|destruct (Nat.eq_dec d 0) as [Zd|Zd]].
  1, 2: rewrite !comp_empty by auto; right; ring.
  assert (Hn : (0 < n)%nat) by lia. assert (Hd : (0 < d)%nat) by lia. assert (Hh : (0 < nheads Ly)%nat) by lia.
  assert (NM' : forall h, (h < nheads Ly)%nat -> mask (hd Ly h) = nomask) by (intros h Hlt;
    replace h with 0%nat by lia; exact NM).
  set (N := network_from n d Ly Y).
  assert (Q := St N (from_proper n d Ly Y Hn Hd Hh Hq) EH (from_none n d Ly Y) eq_refl I eq_refl). cbv zeta in Q.
  change (layers N) with 1%nat in Q.
  rewrite power_one in Q. change (heads N) with (nheads Ly) in Q. rewrite EH in Q.
  change (d_qk N) with (INR (dqk Ly)) in Q. cbn [largest] in Q.
  unfold N in Q. rewrite (from_next n d Ly Y NM') in Q. fold N in Q. eapply Rle_trans; [exact Q|].
  assert (S := sqrt_dqk_pos _ Hq).
  change (norm_1 (W_QK N 0 0) * norm_composite (W N 0 0)) with (norm1 d d (WQK (dqk Ly) (hd Ly 0)) * comp d d (WV (hd
    Ly 0))).
  simpl (3 ^ 1)%nat. apply Rmult_le_compat_r; [apply pow_le, comp_pos|].
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. lra.
Qed.
