(** Registered statements about LayerNorm on the sphere with orthogonal values, as Statements.v prints them. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality Classical.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Masks own_full_rank own_no_stable_orthogonal wu2024_2 wu2024_1 own_tv own_hemisphere.
From Rankmath Require Import Definitions Functions Norms Softmax SphereLayer Language LanguageFacts NetworkFacts
  Statements proved_masks.
Local Open Scope R_scope.

(* ---------- the height of a Gram matrix ---------- *)
Lemma gram_height_is n d (Y : matrix n d) : gram_height Y > 0 -> exists v0 : vec, (forall i, (i < n)%nat -> dot d (Y
  i) v0 = 1) /\ gram_height Y = / l2 d v0.
Proof.
  intros H. set (S := fun g : vector n => independent Y /\ forall i, (i < n)%nat -> sum n (fun j => dot d (Y i) (Y j)
    * g j) = 1).
  destruct (classic (exists g, S g)) as [[g Hg]|No].
  2:{ exfalso. revert H. unfold gram_height, sup_of. rewrite (is_lub_Rbar_unique _ m_infty); [simpl; lra|]. split.
      - intros x (g & I & G & _). exfalso. apply No. now exists g.
      - intros b _. now destruct b. }
  assert (Same : forall h, S h -> sum n h = sum n g).
  { intros h [_ Hh]. destruct Hg as [_ Gg].
    transitivity (sum n (fun i => sum n (fun j => h i * dot d (Y i) (Y j) * g j))).
    - apply sum_ext; intros i Hi. rewrite <- (Rmult_1_r (h i)) at 1. rewrite <- (Gg i Hi), <- sum_scal. apply sum_ext;
      intros; ring.
    - rewrite sum_swap. apply sum_ext; intros j Hj. rewrite sum_scal_r. rewrite <- (Rmult_1_l (g j)) at 2. f_equal.
      rewrite <- (Hh j Hj).
      apply sum_ext; intros i _. rewrite (dot_sym d (Y i)). ring. }
  set (v0 := fun a => sum n (fun j => g j * Y j a)). assert (D : forall u, dot d u v0 = sum n (fun j => dot d u (Y j)
    * g j)).
  { intro u. unfold dot, v0. rewrite (sum_ext d _ (fun a => sum n (fun j => u a * Y j a * g j))) by (intros a _;
    rewrite <- sum_scal; apply sum_ext; intros; ring).
    rewrite sum_swap. apply sum_ext; intros j _. now rewrite sum_scal_r. }
  assert (D1 : forall i, (i < n)%nat -> dot d (Y i) v0 = 1) by (intros i Hi; rewrite D; now apply Hg).
  exists v0. split; [exact D1|].
  assert (V : dot d v0 v0 = sum n g).
  { rewrite D. apply sum_ext; intros j Hj. rewrite (dot_sym d v0), D1 by exact Hj. ring. }
  unfold l2. rewrite V. apply sup_is; [exists g; split; [apply Hg|split; [apply Hg|reflexivity]]|].
  intros y (h & I & G & ->). right. rewrite (Same h (conj I G)). reflexivity.
Qed.

Lemma least_epsilon_one N : proper N -> self_loops N -> least_epsilon N <= 1.
Proof.
  intros PN SL. assert (n0 := some_tokens N PN). eapply Rle_trans; [apply (least_epsilon_le N PN 0 0 0 (some_layers N
    PN) n0 n0); rewrite SL by exact n0; lra|].
  assert (S1 : sum (tokens N) (P N 0 0 0%nat) = 1) by (apply tilt_sum; now apply (row_weights N PN)).
  rewrite <- S1. apply (sum_term_le (tokens N) (P N 0 0 0%nat) 0%nat); [intros;
    now apply (attention_nonneg N PN)|exact n0].
Qed.

Theorem proved_own_full_rank : statement_own_full_rank.
Proof.
  intros N PN r HR height' least' H1 LN BN OV SL N2 QC ND GH _ S0. destruct (radius_centre N r HR QC) as [r0 [c Hc]].
  destruct (gram_height_is (tokens N) (dim N) (X N 0) GH) as (v0 & D1 & EH).
  assert (E0 := least_epsilon_pos N PN). assert (E1 := least_epsilon_one N PN SL).
  assert (F := own_full_rank.full_rank (tokens N) (dim N) (layer_at N) (edges N) c r (least_epsilon N) v0 (layers N)
    (X N 0)). cbv zeta in F.
  rewrite <- EH, (sphere_orbit_is N PN LN S0 (layers N)) in F by lia. unfold mu, diameter.
    change (length_of (dim N) p_2) with (l2 (dim N)).
  eapply Rle_trans; [apply F|right]; clear F.
  - apply (some_tokens N PN).
  - exact r0.
  - lra.
  - intros s _. now apply sphere_setting.
  - intros; now apply edges_nonneg.
  - now apply edges_self.
  - exact Hc.
  - intros s i j Hs Hi Hj HE. rewrite (sphere_attention_is N PN LN S0 s) by lia. now apply least_epsilon_le.
  - intros i Hi. now apply (start_on_sphere N PN LN).
  - exact D1.
  - unfold height', least', least_epsilon. unfold Rdiv. ring.
Qed.

(* ---------- the step that fails on a star ---------- *)
Definition star_network : network := {| tokens := 3; dim := 3; heads := 1; layers := 1; d_qk := 1; skip_of := 0;
  lnorm := true;
  W := fun _ _ => eye; W_QK := fun _ _ => wu2024_2.star_logits; key_bias := fun _ _ _ => 0; bias := fun _ _ => 0;
  edges := wu2024_2.star; input := eye |}.

Section Star.
Import wu2024_2.
Let N := star_network.
Definition star_share (i j : nat) : R := match i, j with O, _ => 1/3 | 1%nat, O => 1/4 | 1%nat, 1%nat => 3/4 | 2%nat,
  O => 1/4 | 2%nat, 2%nat => 3/4 | _, _ => 0 end.

Lemma eye_unit i : (i < 3)%nat -> l2 3 (eye i) = 1.
Proof. intros Hi. unfold l2, dot. rewrite (sum_eye_l 3 (eye i) i Hi), eye_same. apply sqrt_1. Qed.
Lemma star_start i a : (i < 3)%nat -> X N 0 i a = eye i a.
Proof. intros Hi. change (X N 0 i a) with (eye i a / l2 3 (eye i)). rewrite eye_unit by exact Hi. field. Qed.
Lemma star_edge i j : (i < 3)%nat -> (j < 3)%nat -> star i j = match i, j with 1%nat, 2%nat => 0 | 2%nat, 1%nat => 0 |
  _, _ => 1 end.
Proof. intros Hi Hj. destruct i as [|[|[|i]]]; try lia; destruct j as [|[|[|j]]]; try lia; reflexivity. Qed.
Lemma star_attention i j : (i < 3)%nat -> (j < 3)%nat -> P N 0 0 i j = star_share i j.
Proof.
  intros Hi Hj.
  assert (Lg : forall k, (k < 3)%nat -> star i k * exp (logits_of N 0 0 (X N 0) i k) = Ex 3 star_logits star eye i k).
  { intros k Hk. unfold Ex. f_equal. f_equal. unfold logits_of. cbn [N star_network dim d_qk W_QK key_bias].
    rewrite sqrt_1.
    fold N. unfold bil, dot. cbn [sum]. rewrite !star_start by assumption. field. }
  unfold P, attention_on, softmax, tilt. cbn [N star_network tokens edges]. fold N. cbn [sum]. rewrite !Lg by lia.
    rewrite !star_E by lia.
  destruct i as [|[|[|i]]]; try lia; destruct j as [|[|[|j]]]; try lia; cbn [star_share]; field.
Qed.
Lemma star_sent i a : (i < 3)%nat -> (a < 3)%nat -> sent N 0 (X N 0) i a = star_share i a.
Proof.
  intros Hi Ha. unfold sent. cbn [N star_network tokens dim heads skip_of W bias]. fold N. cbn [sum]. fold (P N 0 0).
    unfold vmat. cbn [sum].
  rewrite !star_attention, !star_start by lia. unfold eye.
  destruct i as [|[|[|i]]]; try lia; destruct a as [|[|[|a]]]; try lia; cbn [Nat.eqb star_share]; lra.
Qed.
Lemma star_proper : proper N.
Proof.
  constructor; try (cbn; lia); try (cbn; lra).
  - intros i j Hi Hj. cbn. rewrite star_edge by assumption. destruct i as [|[|[|i]]]; destruct j as [|[|[|j]]]; auto.
  - intros i Hi. exists 0%nat. split; [cbn; lia|]. cbn. rewrite star_edge by (assumption || lia).
    destruct i as [|[|[|i]]]; reflexivity.
  - intros _ i Hi. change (0 < l2 3 (eye i)). rewrite eye_unit by exact Hi. lra.
  - intros _ l i Hl Hi. cbn in Hl, Hi. replace l with 0%nat by lia. change (0 < l2 3 (sent N 0 (X N 0) i)).
    unfold l2, dot. cbn [sum].
    rewrite !star_sent by lia. apply sqrt_lt_R0. destruct i as [|[|[|i]]]; try lia; cbn [star_share]; lra.
Qed.
Lemma star_epsilon : epsilon N 0 0 = 1/4.
Proof.
  apply inf_is.
  - exists 1%nat, 0%nat. repeat split; try (cbn; lia). rewrite star_attention by lia. reflexivity.
  - intros y (i & j & Hi & Hj & E & ->). cbn in Hi, Hj, E. rewrite star_edge in E by assumption.
    rewrite star_attention by assumption.
    destruct i as [|[|[|i]]]; try lia; destruct j as [|[|[|j]]]; try lia; cbn [star_share]; lra.
Qed.
Lemma star_reach c r : (c < 3)%nat -> (2 <= r)%nat -> centre 3 star c r.
Proof.
  intros Hc Hr. split; [exact Hc|]. intros i Hi. exists 2%nat. split; [lia|]. exists 0%nat. split; [lia|]. split;
    [rewrite star_edge by lia; destruct i as [|[|[|i]]]; lra|].
  exists c. split; [exact Hc|]. split; [rewrite star_edge by lia; lra|reflexivity].
Qed.

Theorem star_refutes : ~ statement_wu2024_2_step.
Proof.
  intro H.
  assert (Q : quasi_strongly_connected N) by (exists 2%nat, 0%nat; apply star_reach; lia).
  assert (R1 : is_radius N 1).
  { split; [lia|split; [intros _; split; [|intros; lia]|intro K; contradiction]]. exists 0%nat. split; [cbn; lia|].
    intros i Hi. exists 1%nat. split; [lia|].
    exists 0%nat. split; [cbn; lia|]. split; [cbn in *; rewrite star_edge by lia; destruct i as [|[|[|i]]];
      lra|reflexivity]. }
  assert (C0 : cosine (X N 0) = 0).
  { assert (E : forall i j, (i < 3)%nat -> (j < 3)%nat -> dot 3 (X N 0 i) (X N 0 j) / (l2 3 (X N 0 i) * l2 3 (X N 0
    j)) = eye i j).
    { intros i j Hi Hj. assert (U : forall k, (k < 3)%nat -> l2 3 (X N 0 k) = 1).
      { intros k Hk. rewrite <- (eye_unit k Hk). unfold l2, dot. cbn [sum]. now rewrite !star_start by exact Hk. }
      rewrite !U by assumption. unfold dot. cbn [sum]. rewrite !star_start by assumption. unfold eye.
      destruct i as [|[|[|i]]]; try lia; destruct j as [|[|[|j]]]; try lia; cbn [Nat.eqb]; field. }
    unfold cosine. change (tokens N) with 3%nat. change (dim N) with 3%nat. rewrite (least_ext 3 _ (fun _ => 0)).
    - cbn [least]. unfold Rmin. destruct Rle_dec; [destruct Rle_dec; reflexivity|destruct Rle_dec; reflexivity].
    - intros i Hi. rewrite (least_ext 3 _ (eye i)) by (intros j Hj; now apply E). unfold eye.
      destruct i as [|[|[|i]]]; try lia; cbn [least Nat.eqb]; unfold Rmin; repeat destruct Rle_dec; lra. }
  assert (G := H N star_proper 1%nat R1 eq_refl eq_refl (fun _ _ => eq_refl)).
  rewrite star_epsilon, C0 in G. change (tokens N) with 3%nat in G.
  assert (G' : 1 - cosine (X N 1) <= (1 - INR 3 * (1 / 4) ^ 2) * (1 - 0)).
  { apply G; try reflexivity; try lra; try lia.
    - intros l h Hl Hh a b Ha Hb. change (dot 3 (eye a) (eye b) = eye a b). unfold dot.
      rewrite (sum_eye_l 3 (fun k => eye b k) a Ha). apply eye_sym.
    - intros i Hi. cbn in *. rewrite star_edge by assumption. destruct i as [|[|[|i]]]; try lia; reflexivity.
    - intros c Hc. exists 2%nat. apply star_reach; [exact Hc|lia].
    - simpl. lra. }
  assert (L : forall i, (i = 1 \/ i = 2)%nat -> l2 3 (sent N 0 (X N 0) i) = sqrt (10/16)).
  { intros i Hi. unfold l2, dot. cbn [sum]. rewrite !star_sent by lia. f_equal. destruct Hi as [->| ->];
    cbn [star_share]; lra. }
  assert (P10 : 0 < sqrt (10/16)) by (apply sqrt_lt_R0; lra). assert (Q10 : sqrt (10/16) * sqrt (10/16) = 10/16) by
    (apply sqrt_sqrt; lra).
  assert (X1 : forall i a, (i = 1 \/ i = 2)%nat -> (a < 3)%nat -> X N 1 i a = star_share i a / sqrt (10/16)).
  { intros i a Hi Ha. change (X N 1 i a) with (sent N 0 (X N 0) i a / l2 3 (sent N 0 (X N 0) i)).
    rewrite L, star_sent by (assumption || lia). reflexivity. }
  assert (U1 : forall i, (i = 1 \/ i = 2)%nat -> l2 3 (X N 1 i) = 1).
  { intros i Hi. unfold l2, dot. cbn [sum]. rewrite !X1 by (assumption || lia). transitivity (sqrt 1);
    [|apply sqrt_1]. f_equal.
    assert (E : forall x y z w, w <> 0 -> 0 + x / w * (x / w) + y / w * (y / w) + z / w * (z / w) = (x * x + y * y + z
      * z) / (w * w)) by (intros; field; assumption).
    rewrite E by lra. rewrite Q10. destruct Hi as [->| ->]; cbn [star_share]; field. }
  assert (Cos : cosine (X N 1) <= 1/10).
  { unfold cosine. change (tokens N) with 3%nat. change (dim N) with 3%nat. eapply Rle_trans;
    [apply (least_lb 3 _ 1%nat); lia|]. eapply Rle_trans; [apply (least_lb 3 _ 2%nat); lia|].
    rewrite !U1 by lia. right. unfold dot. cbn [sum]. rewrite !X1 by lia. cbn [star_share].
    replace (0 + 1 / 4 / sqrt (10 / 16) * (1 / 4 / sqrt (10 / 16)) + 3 / 4 / sqrt (10 / 16) * (0 / sqrt (10 / 16)) + 0
      / sqrt (10 / 16) * (3 / 4 / sqrt (10 / 16)))
      with (1 / 16 / (sqrt (10 / 16) * sqrt (10 / 16))) by (field; lra). rewrite Q10. field. }
  simpl INR in G'. lra.
Qed.
End Star.

Theorem refuted_wu2024_2_step : ~ statement_wu2024_2_step.
Proof. exact star_refutes. Qed.

(* ---------- LayerNorm in front ---------- *)
Lemma stochastic_apart n (p q : vec) : (forall j, (j < n)%nat -> 0 <= p j) -> (forall j, (j < n)%nat -> 0 <= q j) ->
  sum n p = 1 -> sum n q = 1 ->
  / 2 * sum n (fun j => Rabs (p j - q j)) <= 1.
Proof.
  intros p0 q0 p1 q1. apply Rle_trans with (/ 2 * sum n (fun j => p j + q j)); [|rewrite sum_plus, p1, q1; lra].
  apply Rmult_le_compat_l; [lra|]. apply sum_le; intros j Hj. specialize (p0 j Hj). specialize (q0 j Hj).
    apply Rabs_le. lra.
Qed.

Lemma below_one N : proper N -> self_loops N -> quasi_strongly_connected N -> (tokens N >= 2)%nat -> least_epsilon N <
  1.
Proof.
  intros PN SL QC N2. destruct (some_edge_below_one N PN SL QC N2) as (i & j & Hi & Hj & HE & L).
  eapply Rle_lt_trans; [|exact L]. apply (least_epsilon_le N PN 0 i j (some_layers N PN) Hi Hj). rewrite HE. lra.
Qed.

Lemma start_acute N : proper N -> layernorm_sphere N -> forall i k, (i < tokens N)%nat -> (k < tokens N)%nat ->
  1 - diameter (X N 0) p_2 ^ 2 / 2 <= dot (dim N) (X N 0 i) (X N 0 k).
Proof.
  intros PN LN i k Hi Hk. assert (U := start_on_sphere N PN LN). rewrite (unit_cosine (dim N) (X N 0 i) (X N 0 k) (U i
    Hi) (U k Hk)).
  assert (L : l2 (dim N) (vsub (X N 0 i) (X N 0 k)) <= diameter (X N 0) p_2) by exact (diam_ub (tokens N) (l2 (dim N))
    (X N 0) i k Hi Hk).
  assert (L2 := pow_incr (l2 (dim N) (vsub (X N 0 i) (X N 0 k))) (diameter (X N 0) p_2) 2 (conj (l2_nonneg _ _) L)).
    lra.
Qed.

Theorem proved_wu2024_pre_ln : statement_wu2024_pre_ln.
Proof.
  intros N PN r HR phi least' H1 LN BN OV SL N2 QC DD _ S0. destruct (radius_centre N r HR QC) as [r0 [c Hc]].
  assert (E0 := least_epsilon_pos N PN). assert (e1 := below_one N PN SL QC N2). set (e := least_epsilon N) in *.
  assert (n0 := some_tokens N PN). set (t := (layers N - 1)%nat). assert (Ht : (t < layers N)%nat) by (assert (Q :=
    some_layers N PN); unfold t; lia).
  assert (M := wu2024_1.wu_cor1 (tokens N) (dim N) (layer_at N) (edges N) c r e phi t (X N 0)). cbv zeta in M.
  destruct M as [M _].
  - exact n0.
  - exact r0.
  - exact E0.
  - unfold phi. lra.
  - intros s _. now apply sphere_setting.
  - intros; now apply edges_nonneg.
  - now apply edges_self.
  - exact Hc.
  - intros s i j Hs Hi Hj HE. rewrite (sphere_attention_is N PN LN S0 s) by lia. apply least_epsilon_le; auto; lia.
  - exact (start_on_sphere N PN LN).
  - exact (start_acute N PN LN).
  - rewrite (sphere_orbit_is N PN LN S0 t) in M by lia. set (q := (1 - e ^ (2 * r)) ^ (t / r)) in *.
    assert (Q : 0 < 1 - e ^ (2 * r)).
    { assert (E2 : e ^ (2 * r) <= e ^ 1) by (apply pow_shrink; [lra|lia]). rewrite pow_1 in E2. lra. }
    assert (q0 : 0 <= q) by (apply pow_le; lra). assert (f1 : 0 <= 1 - phi) by (unfold phi;
      assert (P2 := pow2_ge_0 (diameter (X N 0) p_2)); lra).
    assert (Ut : forall i, (i < tokens N)%nat -> l2 (dim N) (X N t i) = 1).
    { intros i Hi. destruct t as [|s]; [now apply (start_on_sphere N PN LN)|].
      change (X N (S s)) with (laid N (sent N s (X N s))). unfold laid. rewrite LN.
      apply own_hemisphere.sphere_unit. apply (sent_not_zero N PN LN); [lia|exact Hi]. }
    set (D := sqrt (2 * (q * (1 - phi)))).
    assert (Dist : forall j k, (j < tokens N)%nat -> (k < tokens N)%nat -> l2 (dim N) (vsub (X N t j) (X N t k)) <=
      D).
    { intros j k Hj Hk. unfold D. rewrite <- (sqrt_square (l2 (dim N) (vsub (X N t j) (X N t k)))) by apply l2_nonneg.
      apply sqrt_le_1_alt.
      assert (C := unit_cosine (dim N) _ _ (Ut j Hj) (Ut k Hk)). assert (B := M j k Hj Hk). rewrite C in B. nra. }
    assert (D0 : 0 <= D) by apply sqrt_pos.
    assert (Mu : mu_before N t <= sqrt ((INR (tokens N) - 1) / 2) * D).
    { unfold mu_before. apply own_hemisphere.mu_diam; [exact n0|exact D0|]. intros i k Hi Hk. assert (B0 := BN).
      assert (OW : orthogonal (dim N) (W N t 0%nat)) by (apply OV; lia).
      set (u := fun a => sum (tokens N) (fun j => (P N t 0 i j - P N t 0 k j) * X N t j a)).
      assert (E : l2 (dim N) (vsub (sent N t (X N t) i) (sent N t (X N t) k)) = l2 (dim N) (vmat (dim N) u (W N t
        0%nat))).
      { apply (sn_ext (L2 (dim N))). intro b. unfold vsub, sent. rewrite S0, B0, H1. cbn [sum]. fold (P N t 0).
        replace (vmat (dim N) u (W N t 0%nat) b) with (vmat (dim N) (vmat (tokens N) (P N t 0 i) (X N t)) (W N t
          0%nat) b - vmat (dim N) (vmat (tokens N) (P N t 0 k) (X N t)) (W N t 0%nat) b); [ring|].
        rewrite vmat_sub. apply vmat_ext. intros a _. unfold vsub, vmat, u. rewrite <- sum_minus. apply sum_ext;
          intros; ring. }
      rewrite E, own_hemisphere.orthogonal_l2 by exact OW.
      assert (PS : forall m, (m < tokens N)%nat -> sum (tokens N) (P N t 0 m) = 1) by (intros m Hm; apply tilt_sum;
        now apply (row_weights N PN)).
      eapply Rle_trans; [apply (own_tv.transport (L2 (dim N)) (tokens N) (fun j => P N t 0 i j - P N t 0 k j) (X N t)
        D)|].
      - rewrite sum_minus. change (sum (tokens N) (P N t 0 i) - sum (tokens N) (P N t 0 k) = 0).
        rewrite !PS by assumption. ring.
      - exact Dist.
      - rewrite <- (Rmult_1_l D) at 2. apply Rmult_le_compat_r; [exact D0|].
        apply stochastic_apart; try (now apply PS); intros j Hj; now apply (attention_nonneg N PN). }
    eapply Rle_trans; [exact Mu|]. assert (Pn := le_INR 1 _ n0). simpl in Pn.
    apply Rle_trans with (sqrt ((INR (tokens N) - 1) * (1 - phi)) * sqrt q).
    + right. unfold D. rewrite <- !sqrt_mult_alt by (try apply Rmult_le_pos; lra). f_equal. field.
    + apply Rmult_le_compat_l; [apply sqrt_pos|]. change least' with e.
      destruct (sqrt_power (1 - e ^ (2 * r)) (t / r) ltac:(lra)) as [G|[G _]]; [exact G|lra].
Qed.

(* ---------- every centre counted ---------- *)
Lemma sum_injected n k (f : nat -> nat) (g : vec) : (forall i j, (i < k)%nat -> (j < k)%nat -> f i = f j -> i = j) ->
  (forall j, (j < k)%nat -> (f j < n)%nat) ->
  (forall a, (a < n)%nat -> 0 <= g a) -> sum k (fun j => g (f j)) <= sum n g.
Proof.
  intros Inj Hf G0. set (one := fun a j => if Nat.eqb a (f j) then 1 else 0).
  rewrite (sum_ext k _ (fun j => sum n (fun a => g a * one a j))).
  - rewrite sum_swap. apply sum_le; intros a Ha. rewrite sum_scal. rewrite <- (Rmult_1_r (g a)) at 2.
    apply Rmult_le_compat_l; [now apply G0|].
    destruct (classic (exists j, (j < k)%nat /\ f j = a)) as [[j [Hj E]]|No].
    + rewrite (sum_single k (one a) j Hj); [unfold one; destruct Nat.eqb; lra|]. intros i Hi Ne. unfold one.
      destruct (Nat.eqb_spec a (f i)); [|reflexivity].
      exfalso. apply Ne. apply Inj; auto. congruence.
    + rewrite (sum_ext k _ (fun _ => 0)); [rewrite sum_zero; lra|]. intros j Hj. unfold one.
      destruct (Nat.eqb_spec a (f j)); [exfalso; apply No; now exists j|reflexivity].
  - intros j Hj. rewrite (sum_single n _ (f j) (Hf j Hj)); [unfold one; rewrite Nat.eqb_refl; ring|]. intros a _ Ne.
    unfold one. destruct (Nat.eqb_spec a (f j)); [contradiction|ring].
Qed.

Section Centers.
Variables (n d : nat) (A W : nat -> mat) (Z : nat -> mat) (t : nat) (G : mat) (eps : R) (k s : nat) (f : nat -> nat).
Hypothesis n0 : (0 < n)%nat.
Hypothesis St : forall u, (u < t)%nat -> Definitions.row_stochastic n n (A u).
Hypothesis Or : forall u, (u < t)%nat -> orthogonal d (W u).
Hypothesis HZ : forall u i a, (u < t)%nat -> (i < n)%nat -> (a < d)%nat -> Z (S u) i a = sphere d (vmat d (vmat n (A u
  i) (Z u)) (W u)) a.
Hypothesis e0 : 0 < eps.
Hypothesis G1 : forall i, (i < n)%nat -> 0 < G i i.
Hypothesis HA : forall u i j, (u < t)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= A u i j.
Hypothesis k0 : (0 < k)%nat.
Hypothesis Inj : forall i j, (i < k)%nat -> (j < k)%nat -> f i = f j -> i = j.
Hypothesis Cen : forall j, (j < k)%nat -> centre n G (f j) s.
Let K := INR k * eps ^ (2 * s).

Lemma centers_block u p : 0 <= p -> (forall i, (i < n)%nat -> l2 d (Z u i) = 1) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> p <= dot d (Z u i) (Z u j)) -> (u + s <= t)%nat ->
  forall i j, (i < n)%nat -> (j < n)%nat -> p + K * (1 - p) <= dot d (Z (u + s)%nat i) (Z (u + s)%nat j).
Proof.
  intros p0 U Ac Hu i j Hi Hj. set (al := wu2024_1.alpha n d A Z u s).
  assert (Run := fun c Hc => wu2024_1.acute_run n d A W Z t G c s eps n0 St Or HZ e0 G1 Hc HA u p p0 U Ac s Hu).
  destruct (Run (f 0%nat) (Cen 0%nat k0)) as (_ & P & D & S1 & _ & _). fold al in P, D, S1.
  assert (p1 : p <= 1) by (assert (Q := Ac 0%nat 0%nat n0 n0); rewrite <- own_hemisphere.l2_sq, U in Q by exact n0;
    lra).
  assert (Low : forall m l, (m < n)%nat -> (l < k)%nat -> eps ^ s <= al m (f l)).
  { intros m l Hm Hl. destruct (Run (f l) (Cen l Hl)) as (_ & _ & _ & _ & Wk & _). fold al in Wk. apply Wk;
    [exact Hm|].
    destruct (Cen l Hl) as [_ Rc]. destruct (Rc m Hm) as [q [Hq Hw]]. now apply (Masks.walk_longer n G (f l) q m s). }
  rewrite D by assumption.
  apply Rle_trans with (sum n (fun a => al i a * (p * sum n (al j) + (1 - p) * al j a))).
  - rewrite (sum_ext n _ (fun a => al i a * (p * sum n (al j)) + (1 - p) * (al i a * al j a))) by (intros; ring).
    rewrite sum_plus, sum_scal_r, sum_scal.
    assert (T1 : p <= sum n (al i) * (p * sum n (al j))) by (rewrite (Rmult_comm p); apply wu2024_1.two_sums;
      auto).
    assert (T2 : K <= sum n (fun a => al i a * al j a)).
    { eapply Rle_trans; [|apply (sum_injected n k f (fun a => al i a * al j a) Inj)].
      - unfold K. rewrite <- sum_const. apply sum_le; intros l Hl. replace (2 * s)%nat with (s + s)%nat by lia.
        rewrite pow_add.
        assert (E := pow_lt eps s e0). apply Rmult_le_compat; try lra; now apply Low.
      - intros l Hl. apply (Cen l Hl).
      - intros a Ha. apply Rmult_le_pos; now apply P. }
    assert (K * (1 - p) <= (1 - p) * sum n (fun a => al i a * al j a)) by (rewrite Rmult_comm;
      apply Rmult_le_compat_l; lra). lra.
  - apply sum_le; intros a Ha. apply Rmult_le_compat_l; [now apply P|].
    apply Rle_trans with (sum n (fun b => al j b * p + (if Nat.eqb b a then al j a * (1 - p) else 0))).
    + rewrite sum_plus, sum_scal_r, (sum_single n (fun b => if Nat.eqb b a then al j a * (1 - p) else 0) a Ha) by
      (intros b _ Nb; destruct (Nat.eqb_spec b a); [contradiction|reflexivity]).
      rewrite Nat.eqb_refl. lra.
    + apply sum_le; intros b Hb. assert (Pb := P j b Hj Hb). assert (Q := Ac a b Ha Hb).
      destruct (Nat.eqb_spec b a) as [->|]; [|nra].
      rewrite <- own_hemisphere.l2_sq, U by assumption. nra.
Qed.

Hypothesis K1 : K <= 1.
Hypothesis s0 : (0 < s)%nat.
Variable phi : R.
Hypothesis phi0 : 0 <= phi <= 1.
Hypothesis U0 : forall i, (i < n)%nat -> l2 d (Z 0%nat i) = 1.
Hypothesis acute : forall i j, (i < n)%nat -> (j < n)%nat -> phi <= dot d (Z 0%nat i) (Z 0%nat j).

Lemma centers_rate : (forall i, (i < n)%nat -> l2 d (Z t i) = 1) /\
  forall i j, (i < n)%nat -> (j < n)%nat -> 1 - dot d (Z t i) (Z t j) <= (1 - K) ^ (t / s) * (1 - phi).
Proof.
  assert (Kp : 0 <= K) by (unfold K; apply Rmult_le_pos; [apply pos_INR|left; now apply pow_lt]).
  assert (Pow : forall m, 0 <= (1 - K) ^ m <= 1) by (intro m; split; [apply pow_le; lra|apply Masks.pow_01; lra]).
  assert (Pp : forall m, 0 <= 1 - (1 - K) ^ m * (1 - phi)) by (intro m; specialize (Pow m); nra).
  assert (Rate : forall m, (m * s <= t)%nat -> (forall i, (i < n)%nat -> l2 d (Z (m * s)%nat i) = 1) /\
    forall i j, (i < n)%nat -> (j < n)%nat -> 1 - (1 - K) ^ m * (1 - phi) <= dot d (Z (m * s)%nat i) (Z (m * s)%nat
      j)).
  { induction m as [|m IH]; intros Hm; [split; [exact U0|intros i j Hi Hj; specialize (acute i j Hi Hj); simpl;
    lra]|].
    destruct IH as [U D]; [simpl in Hm; lia|]. simpl in Hm. split.
    - destruct (wu2024_1.acute_run n d A W Z t G (f 0%nat) s eps n0 St Or HZ e0 G1 (Cen 0%nat k0) HA (m * s) _ (Pp
      m) U D s ltac:(lia)) as [V _].
      replace (S m * s)%nat with (m * s + s)%nat by (simpl; lia). exact V.
    - intros i j Hi Hj. assert (B := centers_block (m * s) _ (Pp m) U D ltac:(lia) i j Hi Hj).
      replace (S m * s)%nat with (m * s + s)%nat by (simpl; lia). eapply Rle_trans; [|exact B]. right. simpl. ring. }
  assert (Dm := Nat.div_mod t s ltac:(lia)). assert (Mm := Nat.mod_upper_bound t s ltac:(lia)).
    set (m := (t / s)%nat) in *.
  destruct (Rate m ltac:(lia)) as [U D].
  destruct (wu2024_1.acute_run n d A W Z t G (f 0%nat) s eps n0 St Or HZ e0 G1 (Cen 0%nat k0) HA (m * s) _ (Pp m) U
    D (t mod s) ltac:(lia)) as (V & _ & _ & _ & _ & E).
  replace (m * s + t mod s)%nat with t in V, E by lia. split; [exact V|]. intros i j Hi Hj. specialize (E i j Hi Hj).
    lra.
Qed.
End Centers.

Theorem proved_wu2024_cor1_centers : statement_wu2024_cor1_centers.
Proof.
  intros N PN k (f & Inj & Fc & All) s (s1 & Sc & _) phi least' H1 LN BN OV SL N2 QC DD _ S0.
  assert (P2 := pow2_ge_0 (diameter (X N 0) p_2)). assert (f1 : 0 <= phi <= 1) by (unfold phi; split; lra).
  assert (E0 := least_epsilon_pos N PN). assert (e1 := below_one N PN SL QC N2). change least' with (least_epsilon N).
    set (e := least_epsilon N) in *.
  assert (n0 := some_tokens N PN). set (n := tokens N) in *. set (d := dim N).
  assert (k0 : (0 < k)%nat).
  { destruct QC as [r [c Hc]]. destruct (All c ltac:(now exists r)) as [j [Hj _]]. lia. }
  assert (Cen : forall j, (j < k)%nat -> centre n (edges N) (f j) s) by (intros j Hj; apply Sc; now apply Fc).
  (* k eps^s <= 1: a row of a product of s attention matrices *)
  assert (Ke : INR k * e ^ s <= 1).
  { set (A := fun _ : nat => P N 0 0). assert (RS : forall u, (0 <= u < s)%nat -> Definitions.row_stochastic n n (A
    u)).
    { intros u _. split; [intros; now apply (attention_nonneg N PN)|intros i Hi; apply tilt_sum;
      now apply (row_weights N PN)]. }
    destruct (Masks.steps_stochastic n A 0 s RS s ltac:(lia)) as [R0 R1]. rewrite <- (R1 0%nat n0).
    eapply Rle_trans; [|apply (sum_injected n k f (Definitions.steps n A 0 s 0%nat) Inj)].
    - rewrite <- sum_const. apply sum_le; intros j Hj. destruct (Cen j Hj) as [Hc Rc].
      destruct (Rc 0%nat n0) as [m [Hm Hw]].
      apply (Masks.steps_lower n A 0 s RS (edges N) e (f j)); auto; try lra; try lia.
      + intros u a b _ Ha Hb HE. apply (least_epsilon_le N PN 0 a b (some_layers N PN) Ha Hb HE).
      + apply (Masks.walk_longer n (edges N) (f j) m 0%nat s); auto. intros a Ha. rewrite SL by exact Ha. lra.
    - intros j Hj. apply (Cen j Hj).
    - intros a Ha. now apply R0. }
  assert (es : e ^ s <= e) by (rewrite <- (pow_1 e) at 2; apply pow_shrink; [lra|lia]). assert (es0 := pow_lt e s E0).
  set (K := INR k * e ^ (2 * s)). assert (EK : K = INR k * e ^ s * e ^ s) by (unfold K;
    replace (2 * s)%nat with (s + s)%nat by lia; rewrite pow_add; ring).
  assert (K1 : 0 <= K < 1).
  { rewrite EK. assert (0 <= INR k * e ^ s) by (apply Rmult_le_pos; [apply pos_INR|lra]). nra. }
  set (t := layers N). set (Z := X N).
  destruct (centers_rate n d (fun u => P N u 0) (fun u => W N u 0%nat) Z t (edges N) e k s f n0) with (phi := phi) as
    [Ut Main].
  - intros u Hu. split; [intros; now apply (attention_nonneg N PN)|intros i Hi; apply tilt_sum;
    now apply (row_weights N PN)].
  - intros u Hu. apply OV; [exact Hu|lia].
  - intros u i a Hu Hi Ha. unfold Z. cbn [X]. unfold laid. rewrite LN. fold d.
    apply (f_equal (fun v => sphere d v a)). apply functional_extensionality; intro b.
    unfold sent. assert (B0 := BN). rewrite S0, B0, H1. cbn [sum]. fold (P N u 0). fold d n. ring.
  - exact E0.
  - now apply edges_self.
  - intros u i j Hu Hi Hj HE. now apply least_epsilon_le.
  - exact k0.
  - exact Inj.
  - exact Cen.
  - apply Rlt_le, (proj2 K1).
  - lia.
  - exact f1.
  - exact (start_on_sphere N PN LN).
  - exact (start_acute N PN LN).
  - fold K in Main. set (q := (1 - K) ^ (t / s)) in *. assert (q0 : 0 <= q) by (apply pow_le; lra).
    assert (Pn := le_INR 1 _ n0). simpl in Pn.
    set (D := sqrt (2 * (q * (1 - phi)))). assert (D0 : 0 <= D) by apply sqrt_pos.
    unfold mu. eapply Rle_trans; [apply (own_hemisphere.mu_diam n d (Z t) D n0 D0)|].
    + intros i j Hi Hj. unfold D. rewrite <- (sqrt_square (l2 d (vsub (Z t i) (Z t j)))) by apply l2_nonneg.
      apply sqrt_le_1_alt.
      assert (C := unit_cosine d _ _ (Ut i Hi) (Ut j Hj)). assert (B := Main i j Hi Hj). rewrite C in B. nra.
    + apply Rle_trans with (sqrt ((INR n - 1) * (1 - phi)) * sqrt q).
      * right. unfold D. rewrite <- !sqrt_mult_alt by (try apply Rmult_le_pos; lra). f_equal. field.
      * apply Rmult_le_compat_l; [apply sqrt_pos|].
        destruct (sqrt_power (1 - K) (t / s) ltac:(lra)) as [G|[G _]]; [exact G|lra].
Qed.

(* ---------- Theorem 2 with its constant ---------- *)
Lemma gain_late D q b : 0 < D -> 0 < q < 1 -> 0 < b -> forall k : nat, Rmax 0 (ln (D / b) / - ln q) <= INR k -> D * q
  ^ k <= b.
Proof.
  intros D0 Hq b0 k Hk. assert (Lq : ln q < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (A := Rle_trans _ _ _ (Rmax_r 0 (ln (D / b) / - ln q)) Hk).
  assert (B : ln (D / b) <= INR k * - ln q).
  { apply (Rmult_le_compat_r (- ln q)) in A; [|lra]. replace (ln (D / b) / - ln q * - ln q) with (ln (D / b)) in A by
    (field; lra). exact A. }
  unfold Rdiv in B. rewrite ln_mult, ln_Rinv in B by (try apply Rinv_0_lt_compat; assumption).
  assert (P := pow_lt q k ltac:(lra)). apply Rnot_lt_le. intro C. apply ln_increasing in C; [|exact b0].
    rewrite ln_mult, ln_pow in C by lra. lra.
Qed.

Lemma whole_above x : 0 <= x -> exists k : nat, x <= INR k <= x + 1.
Proof.
  intros H. destruct (archimed x) as [A B]. assert (Z0 : (0 <= up x)%Z) by (apply le_IZR; simpl; lra).
  exists (Z.to_nat (up x)). rewrite INR_IZR_INZ, Z2Nat.id by exact Z0. lra.
Qed.

Theorem proved_wu2024_2 : statement_wu2024_2.
Proof.
  intros N PN r HR least' rho goal height' K H1 LN BN OV SL N2 SC ND GH small _ S0.
  assert (n0 := some_tokens N PN). assert (QC : quasi_strongly_connected N) by (destruct (SC 0%nat n0) as [q Hq];
    exists q; now exists 0%nat).
  destruct (radius_centre N r HR QC) as [r0 [c Hc]]. assert (E0 := least_epsilon_pos N PN).
    change least' with (least_epsilon N) in *. change (INR (tokens N) * least_epsilon N < 1) in small.
  destruct (gram_height_is (tokens N) (dim N) (X N 0) GH) as (v0 & D1 & EH).
    change (gram_height (X N 0)) with height' in EH, GH.
  assert (U0 := start_on_sphere N PN LN). assert (Pn : 2 <= INR (tokens N)) by (apply (le_INR 2); lia).
    assert (Pr : 1 <= INR r) by (apply (le_INR 1); lia).
  set (n := tokens N) in *. set (d := dim N) in *. set (ep := least_epsilon N) in *. set (L := layers N).
    set (Ly := layer_at N). set (G := edges N) in *.
  set (e := ep ^ r) in *. assert (e0 : 0 < e) by now apply pow_lt. assert (ep1 : ep <= 1) by nra.
  assert (ee : e <= ep) by (unfold e; rewrite <- (pow_1 ep) at 2; apply pow_shrink; [lra|lia]).
    assert (ne : INR n * e < 1) by nra.
  assert (EB : rho = 1 - INR n * (e * e)) by (unfold rho, e; replace (2 * r)%nat with (r + r)%nat by lia;
    rewrite pow_add; reflexivity).
  assert (B01 : 0 < rho < 1) by (rewrite EB; split; nra). clearbody rho.
  set (sg := sqrt rho) in *. assert (sg0 : 0 < sg) by (apply sqrt_lt_R0; lra).
    assert (sg2 : sg * sg = rho) by (apply sqrt_sqrt; lra). assert (sg1 : sg < 1) by nra.
  assert (key : 1 - e < sg) by (assert ((1 - e) * (1 - e) < sg * sg) by (rewrite sg2, EB; nra); nra).
  assert (ge : goal * e = 1 - sg) by (unfold goal; field; lra). assert (go0 : 0 < goal) by (unfold goal;
    apply Rdiv_lt_0_compat; lra). assert (go1 : goal < 1) by nra.
  assert (N1 : 1 <= l2 d v0).
  { assert (C := dot_le_l2 d (X N 0 0%nat) v0). rewrite D1, U0, Rmult_1_l in C by exact n0. rewrite Rabs_right in C;
    lra. }
  assert (h1 : 0 < height' <= 1) by (rewrite EH; split; [apply Rinv_0_lt_compat; lra|rewrite <- Rinv_1;
    apply Rinv_le_contravar; lra]).
  assert (q01 : 0 < 1 - height' * e < 1) by (split; nra).
  set (Rt := sqrt (2 * (1 - goal))) in *. assert (Rt0 : 0 < Rt) by (apply sqrt_lt_R0; lra).
    assert (Rt2 : Rt * Rt = 2 * (1 - goal)) by (apply sqrt_sqrt; lra).
  assert (K0 : 0 <= K) by apply Rmax_l. destruct (whole_above K K0) as (k & k1 & k2). set (s := (k * r)%nat).
  assert (HL : forall u, nheads (Ly u) = 1%nat /\ mask (hd (Ly u) 0) = G /\ (forall a, bout (Ly u) a = 0) /\
    orthogonal d (WV (hd (Ly u) 0))) by (intro u; now apply sphere_setting).
  assert (G0 : forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j) by (intros; now apply (edges_nonneg N PN)).
  assert (G1 : forall i, (i < n)%nat -> 0 < G i i) by (now apply edges_self).
  assert (SA_is : forall u, (u < L)%nat -> sphere_attention n d Ly (X N 0) u = P N u 0) by (intros;
    now apply sphere_attention_is).
  assert (SO_is : forall u, (u <= L)%nat -> sphere_orbit n d Ly (X N 0) u = X N u) by (intros;
    now apply sphere_orbit_is).
  assert (HA : forall u i j, (u < L)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> ep <= sphere_attention n d Ly
    (X N 0) u i j).
  { intros u i j Hu Hi Hj HE. rewrite SA_is by exact Hu. now apply least_epsilon_le. }
  assert (lnB : ln rho < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (Anti : forall x y, x <= y -> Rpower rho y <= Rpower rho x).
  { intros x y Hxy. unfold Rpower. apply exp_le. nra. }
  assert (Pow : forall m, sg ^ m = Rpower rho (INR m / 2)).
  { intro m. rewrite <- Rpower_pow by exact sg0. unfold sg. rewrite <- Rpower_sqrt by lra. rewrite Rpower_mult.
    f_equal. field. }
  assert (PW : forall y, power rho y = Rpower rho y) by (intro y; unfold power; destruct Rle_dec; [lra|reflexivity]).
  assert (PG : power goal (- 2) = / goal ^ 2).
  { unfold power. destruct Rle_dec; [lra|]. replace (- 2) with (- INR 2) by (simpl; ring). rewrite Rpower_Ropp.
    f_equal. now apply Rpower_pow. }
  rewrite !PW, PG, Rmult_assoc, <- Rpower_plus. set (y := - (K + 2) / 2 + INR L / (2 * INR r)).
  assert (Py : 0 < Rpower rho y) by apply exp_pos. set (Mx := Rmax 1 (sqrt (/ goal ^ 2 - 1))).
    assert (M1 : 1 <= Mx) by apply Rmax_l. assert (M2 : sqrt (/ goal ^ 2 - 1) <= Mx) by apply Rmax_r.
  assert (S2 : 0 <= sqrt (2 * INR n)) by apply sqrt_pos.
  destruct (Nat.le_gt_cases s L) as [Hs|Hs].
  - (* near at time s, and afresh from there *)
    destruct (own_full_rank.full_rank_pairs n d Ly G c r ep v0 s (X N 0) n0 r0 ltac:(lra) (fun u _ => HL u) G0 G1 Hc
      ltac:(intros; apply HA; auto; lia) U0 D1) as [Us Ps].
    rewrite <- EH in Ps. unfold s in Ps at 3. rewrite Nat.div_mul in Ps by lia. fold e in Ps.
    set (XT := sphere_orbit n d Ly (X N 0) s) in *.
    assert (Near : forall i, (i < n)%nat -> goal <= dot d (XT i) (XT 0%nat)).
    { intros i Hi. rewrite (unit_cosine d _ _ (Us i Hi) (Us 0%nat n0)). set (x := l2 d (vsub (XT i) (XT 0%nat))).
      assert (x0 : 0 <= x) by apply l2_nonneg.
      assert (x1 : x <= Rt).
      { assert (DD := diam_nonneg n (l2 d) (X N 0)). eapply Rle_trans; [apply (Ps i 0%nat Hi n0)|].
        destruct DD as [DD|DD].
        - apply gain_late; auto. apply Rdiv_lt_0_compat; lra.
        - rewrite <- DD. unfold Rdiv. rewrite !Rmult_0_l. lra. }
      simpl. nra. }
    set (t := (L - s)%nat).
    destruct (own_hemisphere.hemisphere n d (fun u => Ly (s + u)%nat) G c r ep (XT 0%nat) goal t XT n0 r0 ltac:(lra)
      (fun u _ => HL (s + u)%nat) G0 G1 Hc) as (_ & A2 & A3 & A4); auto.
    + intros u i j Hu Hi Hj HE. assert (Q := HA (s + u)%nat i j ltac:(unfold t in Hu; lia) Hi Hj HE).
      unfold sphere_attention in *. rewrite wu2024_2.orbit_shift in Q. exact Q.
    + unfold XT in A3 at 1. rewrite <- wu2024_2.orbit_shift in A3. replace (s + t)%nat with L in A3 by (unfold t;
      lia).
      rewrite SO_is in A3 by lia.
      fold e in A2. rewrite ge in A2. replace (1 - (1 - sg)) with sg in A2 by ring. rewrite Pow in A2.
      set (m := (t / r)%nat) in *. set (Dg := diam n (l2 d) (gnomonic n d (fun u => Ly (s + u)%nat) XT (XT 0%nat) 0))
        in *.
      assert (Hm : INR t <= INR r * INR m + INR r).
      { assert (Dm := Nat.div_mod t r ltac:(lia)). assert (Mm := Nat.mod_upper_bound t r ltac:(lia)). rewrite Dm at 1.
        rewrite plus_INR, mult_INR. apply Rplus_le_compat_l, le_INR. lia. }
      assert (Et : INR t = INR L - INR k * INR r) by (unfold t; rewrite minus_INR by exact Hs; unfold s;
        now rewrite mult_INR).
      assert (Yk : y <= INR m / 2).
      { unfold y. apply Rmult_le_reg_r with (2 * INR r); [lra|]. replace ((- (K + 2) / 2 + INR L / (2 * INR r)) * (2 *
        INR r)) with (INR L - (K + 2) * INR r) by (field; lra). nra. }
      assert (A := Anti _ _ Yk). assert (Pm : 0 < Rpower rho (INR m / 2)) by apply exp_pos.
      assert (Sq : sqrt ((INR n - 1) / 2) * 2 <= sqrt (2 * INR n)).
      { replace 2 with (sqrt (2 * 2)) at 2 by (apply sqrt_square; lra). rewrite <- sqrt_mult_alt by lra.
        apply sqrt_le_1_alt. lra. }
      assert (Q0 := sqrt_pos ((INR n - 1) / 2)). assert (Qg := sqrt_pos (/ goal ^ 2 - 1)).
      unfold mu. eapply Rle_trans; [exact A3|]. apply Rle_trans with (sqrt ((INR n - 1) / 2) * (Rpower rho (INR m / 2)
        * (2 * sqrt (/ goal ^ 2 - 1)))).
      * apply Rmult_le_compat_l; [exact Q0|]. eapply Rle_trans; [exact A2|]. apply Rmult_le_compat_l; [lra|exact A4].
      * replace (sqrt ((INR n - 1) / 2) * (Rpower rho (INR m / 2) * (2 * sqrt (/ goal ^ 2 - 1)))) with (sqrt ((INR n -
        1) / 2) * 2 * sqrt (/ goal ^ 2 - 1) * Rpower rho (INR m / 2)) by ring.
        apply Rmult_le_compat; [apply Rmult_le_pos; lra|lra| |exact A]. apply Rmult_le_compat; lra.
  - (* before that, mu is at most sqrt n *)
    assert (UL : forall i, (i < n)%nat -> l2 d (X N L i) = 1).
    { intros i Hi. destruct (own_full_rank.full_rank_pairs n d Ly G c r ep v0 L (X N 0) n0 r0 ltac:(lra) (fun u _ =>
      HL u) G0 G1 Hc HA U0 D1) as [Us _].
      specialize (Us i Hi). rewrite SO_is in Us by lia. exact Us. }
    assert (Mu : mu (X N L) <= sqrt (2 * INR n)).
    { unfold mu. eapply Rle_trans; [apply (own_hemisphere.mu_diam n d (X N L) 2 n0 ltac:(lra))|].
      - intros i j Hi Hj. eapply Rle_trans; [right; apply (sn_ext (L2 d) _ (fun a => X N L i a + -1 * X N L j a));
        intro a; unfold vsub; ring|].
        eapply Rle_trans; [apply (sn_add (L2 d) (X N L i) (fun a => -1 * X N L j a))|]. rewrite (sn_scal (L2 d)).
          rewrite Rabs_left by lra.
        change (L2 d (X N L i)) with (l2 d (X N L i)). change (L2 d (X N L j)) with (l2 d (X N L j)).
          rewrite !UL by assumption. lra.
      - replace 2 with (sqrt (2 * 2)) at 2 by (apply sqrt_square; lra). rewrite <- sqrt_mult_alt by lra.
        apply sqrt_le_1_alt. lra. }
    assert (Yn : y <= 0).
    { assert (Q : INR L <= INR k * INR r) by (rewrite <- mult_INR; apply le_INR; unfold s in Hs; lia).
      unfold y. apply Rmult_le_reg_r with (2 * INR r); [lra|]. replace ((- (K + 2) / 2 + INR L / (2 * INR r)) * (2 *
        INR r)) with (INR L - (K + 2) * INR r) by (field; lra). nra. }
    assert (1 <= Rpower rho y) by (rewrite <- (Rpower_O rho) by lra; now apply Anti).
    eapply Rle_trans; [exact Mu|]. rewrite <- (Rmult_1_r (sqrt (2 * INR n))) at 1. rewrite Rmult_assoc.
      apply Rmult_le_compat_l; [exact S2|]. nra.
Qed.

Theorem proved_own_no_stable_orthogonal : statement_own_no_stable_orthogonal.
Proof.
  intros n d X _ _ Hn _ _ [_ [nd [_ [_ [U _]]]]] eta He.
  destruct (own_no_stable_orthogonal.raised n d X eta Hn nd U He) as [Y [v [g [UY [Near [Ind [V1 [g0 Hg]]]]]]]].
  exists Y. repeat split; [exact Near|exact UY|exact Ind|]. intros M W G Mk [Or [_ [Sl [[c [r [Hc Ce]]] _]]]].
  assert (C : centre n G c (S r)).
  { split; [exact Hc|]. intros i Hi. destruct (Ce i Hi) as [k [Hk Wk]]. exists k. split; [lia|exact Wk]. }
  now apply (own_no_stable_orthogonal.cap_collapse n d M W G c (S r) Hn nd ltac:(lia) (proj1 Mk) Sl C Or Y v g).
Qed.
