(** own:contranorm, contranorm2023:2.  What each is stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions IntervalZ.
Local Open Scope R_scope.

(** contranorm2023:2, as we read it: H' = (1+s)H - s(HH^T)H with 1 + (1 - sigma_max^2) s > 0 has a larger effective
  rank than H
    (the exponential of the entropy of the normalised singular values).  Refuted: H = diag(7/5, 1/2), s = 1 gives
    H' = diag(7/125, 7/8), and the effective rank falls. *)

(** sigma_0 >= ... >= 0 up to order are singular values of the n x n matrix H: H = U diag(sigma) V^T,
  U and V orthogonal. *)
Definition transpose (A : mat) : mat := fun i j => A j i.
Definition diagonal (s : vec) : mat := fun i j => s i * eye i j.
Definition singular_values (n : nat) (H : mat) (s : vec) : Prop := (forall i, (i < n)%nat -> 0 <= s i) /\
  exists U V, orthogonal n U /\ orthogonal n V /\ forall i j, (i < n)%nat -> (j < n)%nat ->
    H i j = mmul n (mmul n U (diagonal s)) (transpose V) i j.
(** exp(-sum p_i log p_i), p = s / sum s *)
Definition effective_rank (n : nat) (s : vec) : R := exp (- sum n (fun i => s i / sum n s * ln (s i / sum n s))).
Definition contranorm (n : nat) (s : R) (H : mat) : mat := fun i j => (1 + s) * H i j - s * mmul n (mmul n H (transpose
  H)) H i j.

Definition contranorm_claim : Prop := forall n (H : mat) (s : R) (sg sg' : vec), (0 < n)%nat ->
  singular_values n H sg -> singular_values n (contranorm n s H) sg' ->
  (forall i, (i < n)%nat -> 0 < sg i) -> (forall i, (i < n)%nat -> 0 < sg' i) -> 0 < s ->
  (forall i, (i < n)%nat -> 0 < 1 + (1 - sg i ^ 2) * s) ->
  effective_rank n sg < effective_rank n sg'.

Definition sg0 : vec := fun i => match i with O => 7/5 | _ => 1/2 end.
Definition sg1 : vec := fun i => match i with O => 7/125 | _ => 7/8 end.

Theorem contranorm_refuted : ~ contranorm_claim.
Proof.
  intro C.
  assert (I : orthogonal 2 eye) by (intros a b Ha Hb; unfold dot; destruct a as [|[|a]]; try lia;
    destruct b as [|[|b]]; try lia; unfold eye; cbn [sum Nat.eqb]; ring).
  assert (D : forall s H, (forall i j, (i < 2)%nat -> (j < 2)%nat -> H i j = diagonal s i j) ->
    (forall i, (i < 2)%nat -> 0 <= s i) -> singular_values 2 H s).
  { intros s H E P. split; [exact P|]. exists eye, eye. split; [exact I|split; [exact I|]]. intros i j Hi Hj.
    rewrite E by assumption.
    unfold mmul, vmat, diagonal, transpose, eye. destruct i as [|[|i]]; try lia; destruct j as [|[|j]]; try lia;
      cbn [sum Nat.eqb]; ring. }
  assert (L : effective_rank 2 sg0 < effective_rank 2 sg1).
  { apply (C 2%nat (diagonal sg0) 1); try lia; try lra.
    - apply D; [reflexivity|]. intros i _. destruct i; cbn [sg0]; lra.
    - apply D; [|intros i _; destruct i; cbn [sg1]; lra]. intros i j Hi Hj.
      unfold contranorm, mmul, vmat, transpose, diagonal, eye.
      destruct i as [|[|i]]; try lia; destruct j as [|[|j]]; try lia; cbn [sum Nat.eqb sg0 sg1]; field.
    - intros i _. destruct i; cbn [sg0]; lra.
    - intros i _. destruct i; cbn [sg1]; lra.
    - intros i _. destruct i; cbn [sg0]; lra. }
  unfold effective_rank in L. cbn [sum sg0 sg1] in L.
  assert (effective : exp (- (0 + 7/125 / (0 + 7/125 + 7/8) * ln (7/125 / (0 + 7/125 + 7/8)) + 7/8 / (0 + 7/125 + 7/8)
    * ln (7/8 / (0 + 7/125 + 7/8)))) < 1.26) by interval with (i_prec 40).
  assert (1.77 < exp (- (0 + 7/5 / (0 + 7/5 + 1/2) * ln (7/5 / (0 + 7/5 + 1/2)) + 1/2 / (0 + 7/5 + 1/2) * ln (1/2 / (0
    + 7/5 + 1/2))))) by interval with (i_prec 40).
  lra.
Qed.

(** own:contranorm.  A step of ContraNorm turns the singular values sigma_i of H into |sigma_i (1 + s - s sigma_i^2)|.
If s > 0, all sigma_i > 0, not all equal, and 1 + (1 - 2 sigma_i^2) s >= 0
    (for the largest, so for all), the effective rank rises  [contranorm_rises].
    With g_i = 1 + s - s sigma_i^2 and G their mean under sigma/sum sigma, the gain of the entropy times G is the
    mean of (g - G) log((A - G)/(A - g))/2 - (g log(g/G) - g + G), A = 1 + s, which is positive for g <> G at least A/2
    and below A  [entropy_gap]. *)

(** The singular values after the step. *)
Definition after_step (s : R) (sg : vec) : vec := fun i => Rabs (sg i * (1 + s - s * sg i ^ 2)).

Lemma rises (f f' : R -> R) x : 0 <= x -> f 0 = 0 -> (forall c, 0 <= c <= x -> derivable_pt_lim f c (f' c)) ->
  (forall c, 0 <= c <= x -> 0 <= f' c) -> 0 <= f x.
Proof.
  intros [X|<-] F0 D P; [|rewrite F0; lra]. destruct (MVT_cor2 f f' 0 x X D) as (c & E & C). rewrite F0 in E.
  assert (Q := P c ltac:(lra)). nra.
Qed.
Lemma ln_le_id x : 0 <= x -> ln (1 + x) <= x.
Proof. intros [H|<-]; [|rewrite Rplus_0_r, ln_1; lra]. rewrite <- (ln_exp x) at 2. left.
apply ln_increasing; [lra|apply exp_ineq1; lra]. Qed.

Lemma ln_upper x : 0 <= x -> (1 + x) * ln (1 + x) - x <= x ^ 2 / 2.
Proof.
  intros H. assert (Q := rises (fun x => x ^ 2 / 2 + x - (1 + x) * ln (1 + x)) (fun x => x - ln (1 + x)) x H).
  cbv beta in Q.
  enough (0 <= x ^ 2 / 2 + x - (1 + x) * ln (1 + x)) by lra. apply Q.
  - rewrite !Rplus_0_r, ln_1. simpl. lra.
  - intros c Hc. apply is_derive_Reals. auto_derive; [lra|]. field. lra.
  - intros c Hc. assert (L := ln_le_id c ltac:(lra)). lra.
Qed.
Lemma ln_lower x : 0 <= x -> x - ln (1 + x) <= x ^ 2 / 2.
Proof.
  intros H. assert (Q := rises (fun x => x ^ 2 / 2 - x + ln (1 + x)) (fun x => x - 1 + / (1 + x)) x H). cbv beta in Q.
  enough (0 <= x ^ 2 / 2 - x + ln (1 + x)) by lra. apply Q.
  - rewrite Rplus_0_r, ln_1. simpl. lra.
  - intros c Hc. apply is_derive_Reals. auto_derive; [lra|]. field. lra.
  - intros c Hc. replace (c - 1 + / (1 + c)) with (c * c * / (1 + c)) by (field; lra).
    apply Rmult_le_pos; [nra|left; apply Rinv_0_lt_compat; lra].
Qed.
Lemma ln_below z : 0 < z < 1 -> ln (1 - z) < - z.
Proof. intros H. rewrite <- (ln_exp (- z)). apply ln_increasing; [lra|]. assert (E := exp_ineq1 (- z) ltac:(lra)). lra.
Qed.
Lemma ln_quotient a b : 0 < a -> 0 < b -> ln (a / b) = ln a - ln b.
Proof. intros Ha Hb. unfold Rdiv. rewrite ln_mult, ln_Rinv by (auto using Rinv_0_lt_compat). ring. Qed.

Lemma entropy_gap A g G : A / 2 <= g < A -> A / 2 <= G < A -> g <> G ->
  g * (ln g - ln G) - g + G < / 2 * (g - G) * (ln (A - G) - ln (A - g)).
Proof.
  intros Hg HG N. assert (A0 : 0 < A) by lra. rewrite <- !ln_quotient by lra. destruct (Rlt_le_dec G g) as [L|L].
  - set (l := g - G). assert (l0 : 0 < l) by (unfold l; lra).
    assert (Z : 0 < l / (A - G) < 1) by (split; [apply Rdiv_lt_0_compat; lra|apply Rmult_lt_reg_r with (A - G); [lra|];
      unfold l; field_simplify; lra]).
    assert (U := ln_below _ Z). replace (1 - l / (A - G)) with ((A - g) / (A - G)) in U by (unfold l; field; lra).
    rewrite ln_quotient in U by lra. rewrite (ln_quotient (A - G)) by lra.
    assert (V := ln_upper (l / G) ltac:(left; apply Rdiv_lt_0_compat; lra)).
    replace (1 + l / G) with (g / G) in V by (unfold l; field; lra). apply (Rmult_le_compat_l G) in V; [|lra].
    replace (G * (g / G * ln (g / G) - l / G)) with (g * ln (g / G) - g + G) in V by (unfold l; field; lra).
    replace (G * ((l / G) ^ 2 / 2)) with (/ 2 * l * (l / G)) in V by (field; lra).
    apply Rle_lt_trans with (/ 2 * l * (l / (A - G))); [|apply Rmult_lt_compat_l; lra]. eapply Rle_trans; [exact V|].
    apply Rmult_le_compat_l; [lra|]. unfold Rdiv. apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
  - assert (L' : g < G) by (destruct L; [assumption|congruence]). set (l := G - g).
    assert (l0 : 0 < l) by (unfold l; lra). assert (Z : 0 < l / (A - g) < 1) by (split; [apply Rdiv_lt_0_compat;
      lra|apply Rmult_lt_reg_r with (A - g); [lra|]; unfold l; field_simplify; lra]).
    assert (U := ln_below _ Z). replace (1 - l / (A - g)) with ((A - G) / (A - g)) in U by (unfold l; field; lra).
    assert (V := ln_lower (l / g) ltac:(left; apply Rdiv_lt_0_compat; lra)).
    replace (1 + l / g) with (G / g) in V by (unfold l; field; lra). rewrite ln_quotient in V by lra.
    rewrite (ln_quotient g G) by lra. apply (Rmult_le_compat_l g) in V; [|lra].
    replace (g * (l / g - (ln G - ln g))) with (g * (ln g - ln G) - g + G) in V by (unfold l; field; lra).
    replace (g * ((l / g) ^ 2 / 2)) with (/ 2 * l * (l / g)) in V by (field; lra).
    replace (/ 2 * (g - G) * ln ((A - G) / (A - g))) with (/ 2 * l * - ln ((A - G) / (A - g))) by (unfold l; ring).
    apply Rle_lt_trans with (/ 2 * l * (l / (A - g))); [|apply Rmult_lt_compat_l; lra]. eapply Rle_trans; [exact V|].
    apply Rmult_le_compat_l; [lra|]. unfold Rdiv. apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
Qed.

Lemma entropy_form n (v : vec) : (0 < n)%nat -> (forall i, (i < n)%nat -> 0 < v i) ->
  0 < sum n v /\ - sum n (fun i => v i / sum n v * ln (v i / sum n v)) = ln (sum n v) - sum n (fun i => v i * ln (v i))
    / sum n v.
Proof.
  intros Hn V. assert (S : 0 < sum n v) by (eapply Rlt_le_trans; [apply (V 0%nat Hn)|apply (sum_term_le n v 0);
    [intros; left; now apply V|exact Hn]]). split; [exact S|]. set (t := sum n v) in *.
  rewrite (sum_ext n _ (fun i => / t * (v i * ln (v i)) - / t * ln t * v i)) by (intros i Hi;
    rewrite ln_quotient by auto; field; lra). rewrite sum_minus, !sum_scal. fold t. field. lra.
Qed.

Theorem contranorm_rises n (sg : vec) s : 0 < s -> (forall i, (i < n)%nat -> 0 < sg i) ->
  (exists i j, (i < n)%nat /\ (j < n)%nat /\ sg i < sg j) ->
  (forall i, (i < n)%nat -> 0 <= 1 + (1 - 2 * sg i ^ 2) * s) ->
    effective_rank n sg < effective_rank n (after_step s sg).
Proof.
  intros s0 P (i1 & i2 & H1 & H2 & Ne) C. set (A := 1 + s). set (g := fun i => A - s * sg i ^ 2).
  assert (gr : forall i, (i < n)%nat -> A / 2 <= g i < A).
  { intros i Hi. specialize (C i Hi). specialize (P i Hi). assert (0 < s * sg i ^ 2) by (apply Rmult_lt_0_compat;
      [exact s0|now apply pow_lt]). unfold g, A. lra. }
  assert (A0 : 0 < A) by (unfold A; lra).
  assert (tE : forall i, (i < n)%nat -> after_step s sg i = sg i * g i) by (intros i Hi; unfold after_step; fold A;
    fold (g i); apply Rabs_right; specialize (P i Hi); specialize (gr i Hi); apply Rle_ge, Rmult_le_pos; lra).
  assert (tp : forall i, (i < n)%nat -> 0 < after_step s sg i) by (intros i Hi; rewrite tE by exact Hi;
    apply Rmult_lt_0_compat; [now apply P|specialize (gr i Hi); lra]).
  destruct (entropy_form n sg ltac:(lia) P) as [S0 E1]. destruct (entropy_form n (after_step s sg) ltac:(lia) tp) as
    [S1 E2]. unfold effective_rank. apply exp_increasing. rewrite E1, E2.
  set (S := sum n sg) in *. set (S' := sum n (after_step s sg)) in *. set (G := S' / S).
  assert (SG : sum n (fun i => sg i * g i) = S') by (unfold S'; apply sum_ext; intros; now rewrite tE).
  assert (GS : S' = G * S) by (unfold G; field; lra).
  assert (Gr : A / 2 <= G < A).
  { split; unfold G.
    - apply Rmult_le_reg_r with S; [exact S0|]. replace (S' / S * S) with S' by (field; lra).
      rewrite <- SG, Rmult_comm. unfold S. rewrite <- sum_scal_r. apply sum_le; intros i Hi.
      apply Rmult_le_compat_l; [left; now apply P|now apply gr].
    - apply Rmult_lt_reg_r with S; [exact S0|]. replace (S' / S * S) with S' by (field; lra). rewrite <- SG.
      assert (Q : 0 < sum n (fun i => A * sg i - sg i * g i)); [|rewrite sum_minus, sum_scal in Q; fold S in Q; lra].
      eapply Rlt_le_trans; [|apply (sum_term_le n (fun i => A * sg i - sg i * g i) i1)]; [| |exact H1].
      + specialize (gr i1 H1). specialize (P i1 H1). nra.
      + intros i Hi. specialize (gr i Hi). specialize (P i Hi). nra. }
  set (gain := fun i => sg i * (/ 2 * (g i - G) * (ln (A - G) - ln (A - g i)) - (g i * (ln (g i) - ln G) - g i + G))).
  assert (Gp : forall i, (i < n)%nat -> 0 <= gain i /\ (g i <> G -> 0 < gain i)).
  { intros i Hi. assert (Pi := P i Hi). destruct (Req_dec (g i) G) as [E|E].
    - split; [|congruence]. unfold gain. rewrite E. right. ring.
    - assert (Q := entropy_gap A (g i) G (gr i Hi) Gr E). assert (0 < gain i) by (apply Rmult_lt_0_compat; lra).
      split; [lra|easy]. }
  assert (Pos : 0 < sum n gain).
  { assert (D : g i1 <> g i2) by (unfold g; intro E; assert (s * (sg i2 ^ 2 - sg i1 ^ 2) = 0) by lra;
      assert (0 < sg i2 ^ 2 - sg i1 ^ 2) by (assert (Q := P i1 H1); nra); nra).
    assert (K : exists i, (i < n)%nat /\ g i <> G) by (destruct (Req_dec (g i1) G) as [E|E]; [exists i2; split;
      [exact H2|congruence]|exists i1; now split]). destruct K as (i & Hi & E).
    eapply Rlt_le_trans; [apply (proj2 (Gp i Hi) E)|]. apply (sum_term_le n gain i); [intros; now apply Gp|exact Hi]. }
  set (h := sum n (fun i => sg i * ln (sg i))) in *. set (h' := sum n (fun i => after_step s sg i * ln (after_step s sg
    i))) in *.
  assert (Eq : sum n gain = S' * ln G - h' + G * h).
  { unfold h, h'. rewrite (sum_ext n (fun i => after_step s sg i * ln (after_step s sg i)) (fun i => sg i * g i * ln
      (sg i) + sg i * g i * ln (g i))) by (intros i Hi; rewrite tE, ln_mult by (auto; specialize (gr i Hi); lra); ring).
    rewrite (sum_ext n gain (fun i => (/ 2 * (ln (A - G) - ln s) + ln G + 1) * (sg i * g i) - (G * (/ 2 * (ln (A - G) -
      ln s)) + G) * sg i - (sg i * g i * ln (sg i) + sg i * g i * ln (g i)) + G * (sg i * ln (sg i)))).
    - rewrite sum_plus, !sum_minus, !sum_scal, SG. fold S. rewrite GS. ring.
    - intros i Hi. unfold gain. assert (L : ln (A - g i) = ln s + (ln (sg i) + ln (sg i))). { unfold g.
      replace (A - (A - s * sg i ^ 2)) with (s * (sg i * sg i)) by ring. assert (Pi := P i Hi).
      rewrite !ln_mult by (try assumption; nra). reflexivity. } rewrite L. field. }
  assert (LG : ln S' = ln G + ln S) by (rewrite GS, ln_mult by lra; reflexivity). rewrite LG.
  apply Rmult_lt_reg_l with S'; [exact S1|].
  replace (S' * (ln S - h / S)) with (S' * ln S - G * h) by (unfold G; field; lra).
  replace (S' * (ln G + ln S - h' / S')) with (S' * ln G + S' * ln S - h') by (field; lra). lra.
Qed.
