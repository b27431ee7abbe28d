(** Registered statements about masked networks, as Statements.v prints them: collapse along the edges of a mask. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality Classical.
From Coquelicot Require Import Coquelicot.
From Rankmath Require wu2024_1 own_hemisphere.
From Rankmath Require Import Definitions Functions Norms Softmax Language LanguageFacts NetworkFacts Statements.
Local Open Scope R_scope.

Section Mask.
Variable N : network.
Hypothesis PN : proper N.
Let n := tokens N.
Let d := dim N.

Lemma edge_one i j : (i < n)%nat -> (j < n)%nat -> 0 < edges N i j -> edges N i j = 1.
Proof. intros Hi Hj H. destruct (binary N PN i j Hi Hj) as [E|E]; [rewrite E in H; lra|exact E]. Qed.

Lemma row_weights i : (i < n)%nat -> weights n (edges N i).
Proof. intros Hi. destruct (proper_edges N PN i Hi) as [A B]. now split. Qed.
Lemma attention_nonneg l h i j : (i < n)%nat -> (j < n)%nat -> 0 <= P N l h i j.
Proof. intros Hi Hj. apply tilt_nonneg; [now apply row_weights|exact Hj]. Qed.
Lemma attention_pos l h i j : (i < n)%nat -> (j < n)%nat -> edges N i j = 1 -> 0 < P N l h i j.
Proof.
  intros Hi Hj E. unfold P, attention_on, softmax, tilt. rewrite E.
  apply Rdiv_lt_0_compat; [rewrite Rmult_1_l; apply exp_pos|].
  apply tilt_Z_pos. now apply row_weights.
Qed.

(** The least attention on an edge, of a layer and of all layers. *)
Lemma epsilon_le l h i j : (i < n)%nat -> (j < n)%nat -> edges N i j = 1 -> epsilon N l h <= P N l h i j.
Proof.
  intros Hi Hj E. apply (inf_lb _ 0); [|now exists i, j]. intros y (a & b & Ha & Hb & _ & ->).
  now apply attention_nonneg.
Qed.
Lemma epsilon_pos l h : 0 < epsilon N l h.
Proof.
  assert (Hn := some_tokens N PN). set (f := fun i j => if Req_EM_T (edges N i j) 1 then P N l h i j else 1).
  assert (F : forall i j, (i < n)%nat -> (j < n)%nat -> 0 < f i j) by (intros i j Hi Hj; unfold f; destruct Req_EM_T;
    [now apply attention_pos|lra]).
  assert (M : 0 < least n (fun i => least n (f i))).
  { destruct (least_attained n (fun i => least n (f i)) Hn) as [i [Hi ->]].
    destruct (least_attained n (f i) Hn) as [j [Hj ->]]. now apply F. }
  eapply Rlt_le_trans; [exact M|]. apply inf_ge.
  - destruct (sees_some N PN 0 Hn) as [j [Hj E]]. exists (P N l h 0%nat j), 0%nat, j. auto.
  - intros y (i & j & Hi & Hj & E & ->). eapply Rle_trans; [apply (least_lb n (fun i => least n (f i)) i Hi)|].
    eapply Rle_trans; [apply (least_lb n (f i) j Hj)|]. unfold f. destruct Req_EM_T; [lra|contradiction].
Qed.
Definition least_epsilon := least (layers N) (fun l => epsilon N l 0%nat).
Lemma least_epsilon_pos : 0 < least_epsilon.
Proof. unfold least_epsilon. destruct (least_attained (layers N) (fun l => epsilon N l 0%nat) (some_layers N PN)) as [l
  [_ ->]]. apply epsilon_pos. Qed.
Lemma least_epsilon_le s i j : (s < layers N)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < edges N i j ->
  least_epsilon <= P N s 0 i j.
Proof.
  intros Hs Hi Hj E. eapply Rle_trans; [apply (least_lb (layers N) (fun l => epsilon N l 0%nat) s Hs)|].
  apply epsilon_le; auto. now apply edge_one.
Qed.

Lemma values_is t : (t <= layers N)%nat -> values d (layer_value (layer_at N)) t = values d (fun l => W N l 0%nat) t.
Proof.
  induction t as [|t IH]; intros Ht; [reflexivity|]. cbn [values]. rewrite IH by lia. f_equal.
  unfold layer_value, layer_at. now rewrite last_layer_same by lia.
Qed.

Lemma edges_nonneg i j : (i < n)%nat -> (j < n)%nat -> 0 <= edges N i j.
Proof. intros Hi Hj. now apply (proper_edges N PN i Hi). Qed.
Lemma edges_self : self_loops N -> forall i, (i < n)%nat -> 0 < edges N i i.
Proof. intros H i Hi. rewrite H by exact Hi. lra. Qed.
Lemma radius_centre r : is_radius N r -> quasi_strongly_connected N -> (0 < r)%nat /\ exists c, centre n (edges N) c r.
Proof. intros [R1 [R2 _]] Q. split; [lia|]. apply (R2 Q). Qed.

Section Plain.
Hypothesis LN : layernorm_none N.
Hypothesis S0 : skip_of N = 0.

Lemma plain_blocks : block_of N = fun l => plain (layer_at N l).
Proof. apply functional_extensionality; intro l. unfold block_of, plain. rewrite LN, S0. reflexivity. Qed.
Lemma plain_orbit_is s : (s <= layers N)%nat -> plain_orbit n d (layer_at N) (X N 0) s = X N s.
Proof. intros Hs. unfold plain_orbit. rewrite <- plain_blocks. symmetry. now apply X_net. Qed.
Lemma plain_attention_is s : (s < layers N)%nat -> plain_attention n d (layer_at N) (X N 0) s = P N s 0.
Proof.
  intros Hs. unfold plain_attention. rewrite plain_orbit_is by lia. unfold layer_at.
  rewrite last_layer_same by exact Hs. apply (attn_is N PN).
Qed.
End Plain.

Section Sphere.
Hypothesis LN : layernorm_sphere N.
Hypothesis S0 : skip_of N = 0.

Lemma sphere_blocks : block_of N = fun l => normalised d (layer_at N l).
Proof. apply functional_extensionality; intro l. unfold block_of, normalised. rewrite LN, S0. reflexivity. Qed.
Lemma sphere_orbit_is s : (s <= layers N)%nat -> sphere_orbit n d (layer_at N) (X N 0) s = X N s.
Proof. intros Hs. unfold sphere_orbit. rewrite <- sphere_blocks. symmetry. now apply X_net. Qed.
Lemma sphere_attention_is s : (s < layers N)%nat -> sphere_attention n d (layer_at N) (X N 0) s = P N s 0.
Proof.
  intros Hs. unfold sphere_attention. rewrite sphere_orbit_is by lia. unfold layer_at.
  rewrite last_layer_same by exact Hs. apply (attn_is N PN).
Qed.
Lemma start_on_sphere i : (i < n)%nat -> l2 d (X N 0 i) = 1.
Proof.
  intros Hi. change (X N 0) with (laid N (input N)). unfold laid. rewrite LN. apply own_hemisphere.sphere_unit.
  now apply (input_not_zero N PN LN).
Qed.
Lemma sphere_setting : heads N = 1%nat -> bias_none N -> orthogonal_values N ->
  forall s, nheads (layer_at N s) = 1%nat /\ mask (hd (layer_at N s) 0) = edges N /\
  (forall a, bout (layer_at N s) a = 0) /\ orthogonal d (WV (hd (layer_at N s) 0)).
Proof.
  intros H1 B0 OV s. split; [exact H1|split; [reflexivity|split]].
  - intro a. apply B0.
  - apply OV; [now apply last_layer_lt|rewrite H1; lia].
Qed.
End Sphere.
End Mask.

Lemma sum_two_terms n f a b : (a < n)%nat -> (b < n)%nat -> a <> b -> (forall j, (j < n)%nat -> 0 <= f j) ->
  f a + f b <= sum n f.
Proof.
  intros Ha Hb Ne F. rewrite (sum_ext n f (fun j => (if Nat.eqb j a then f a else 0) + (if Nat.eqb j a then 0 else f
    j))).
  - rewrite sum_plus, (sum_single n (fun j => if Nat.eqb j a then f a else 0) a Ha).
    + rewrite Nat.eqb_refl. apply Rplus_le_compat_l. apply not_eq_sym, Nat.eqb_neq in Ne.
      eapply Rle_trans; [|apply (sum_term_le n (fun j => if Nat.eqb j a then 0 else f j) b)]; [rewrite Ne;
        lra| |exact Hb].
      intros j Hj. destruct (Nat.eqb j a); [lra|now apply F].
    + intros j _ Nj. apply Nat.eqb_neq in Nj. now rewrite Nj.
  - intros j _. destruct (Nat.eqb_spec j a) as [->|]; ring.
Qed.

Theorem proved_wu2024_1 : statement_wu2024_1.
Proof.
  intros N PN r HR eps' least' H1 SL QC LN _ S0. destruct (radius_centre N r HR QC) as [r0 [c Hc]].
  assert (E0 := least_epsilon_pos N PN).
  assert (K : forall v, l2 (dim N) (vmat (dim N) v (values (dim N) (layer_value (layer_at N)) (layers N))) <=
    product_norm_2 N * l2 (dim N) v).
  { intro v. rewrite (values_is N) by lia. apply (spectral_bound (dim N) (dim N)). }
  assert (LS : forall s, (s < layers N)%nat -> nheads (layer_at N s) = 1%nat /\ mask (hd (layer_at N s) 0) = edges N)
    by (intros; split; [exact H1|reflexivity]).
  split.
  - set (rho := largest (layers N) (fun l => logit_range N l 0%nat)).
    assert (LR : forall l i j k, (l < layers N)%nat -> (i < tokens N)%nat -> (j < tokens N)%nat ->
      (k < tokens N)%nat -> edges N i j = 1 -> edges N i k = 1 ->
      logits_of N l 0 (X N l) i j - logits_of N l 0 (X N l) i k <= rho).
    { intros l i j k Hl Hi Hj Hk Ej Ek. eapply Rle_trans; [|apply (largest_ub (layers N) (fun l => logit_range N l
        0%nat) l Hl)].
      apply (sup_ub _ (2 * largest (tokens N) (fun i => largest (tokens N) (fun j => Rabs (logits_of N l 0 (X N l) i
        j))))).
      - intros y (a & b & e & Ha & Hb & He & _ & _ & ->).
        assert (B : forall z, (z < tokens N)%nat -> Rabs (logits_of N l 0 (X N l) a z) <= largest (tokens N) (fun i =>
          largest (tokens N) (fun j => Rabs (logits_of N l 0 (X N l) i j)))).
        { intros z Hz. eapply Rle_trans; [apply (largest_ub (tokens N) (fun j => Rabs (logits_of N l 0 (X N l) a j)) z
            Hz)|].
          apply (largest_ub (tokens N) (fun i => largest (tokens N) (fun j => Rabs (logits_of N l 0 (X N l) i j))) a
            Ha). }
        assert (B1 := B b Hb). assert (B2 := B e He). apply Rabs_le_between in B1, B2. lra.
      - exists i, j, k. auto 8. }
    assert (R0 : 0 <= rho).
    { destruct (sees_some N PN 0 (some_tokens N PN)) as [j [Hj E]].
      assert (Q := LR 0%nat 0%nat j j (some_layers N PN) (some_tokens N PN) Hj Hj E E). lra. }
    assert (D1 : forall i, (i < tokens N)%nat -> exists k : nat, sum (tokens N) (edges N i) = INR k).
    { intros i Hi. assert (G : forall m, (m <= tokens N)%nat -> exists k : nat, sum m (edges N i) = INR k).
      { induction m as [|m IH]; intros Hm; [exists 0%nat; reflexivity|]. destruct (IH ltac:(lia)) as [k Ek]. cbn [sum].
        rewrite Ek.
        destruct (binary N PN i m Hi ltac:(lia)) as [-> | ->]; [exists k; ring|exists (S k); rewrite S_INR; ring]. }
      apply G. lia. }
    destruct (largest_attained (tokens N) (fun i => sum (tokens N) (edges N i)) (some_tokens N PN)) as [i0 [Hi0 Ei0]].
    destruct (D1 i0 Hi0) as [Delta HD]. assert (ID : in_degree N = INR Delta) by (unfold in_degree; rewrite Ei0;
      exact HD).
    assert (M := wu2024_1.masked_collapse_explicit (tokens N) (dim N) (layer_at N) (edges N) c r Delta (rho / 2)
      (product_norm_2 N) (layers N) (X N 0)).
    rewrite (plain_orbit_is N PN LN S0 (layers N)) in M by lia. unfold eps'. rewrite ID. fold rho.
    replace (2 * (rho / 2)) with rho in M by field. unfold mu. eapply Rle_trans; [apply M|right; ring]; clear M.
    + apply (some_tokens N PN).
    + exact r0.
    + lra.
    + apply spectral_nonneg.
    + exact LS.
    + intros; now apply (binary N PN).
    + exact SL.
    + intros i Hi. rewrite <- ID. apply (largest_ub (tokens N) (fun i => sum (tokens N) (edges N i)) i Hi).
    + exact Hc.
    + intros s i j k Hs Hi Hj Hk Ej Ek. rewrite (plain_orbit_is N PN LN S0 s) by lia. unfold layer_at.
      rewrite last_layer_same by exact Hs.
      change (dqk (layer_of N s)) with (dim N). rewrite !(logit_is N PN). now apply LR.
    + exact K.
  - assert (M := wu2024_1.masked_collapse (tokens N) (dim N) (layer_at N) (edges N) c r (least_epsilon N)
      (product_norm_2 N) (layers N) (X N 0)).
    rewrite (plain_orbit_is N PN LN S0 (layers N)) in M by lia. unfold mu.
    eapply Rle_trans; [apply M|right; unfold least', least_epsilon; ring]; clear M.
    + apply (some_tokens N PN).
    + exact r0.
    + lra.
    + apply spectral_nonneg.
    + exact LS.
    + intros; now apply edges_nonneg.
    + now apply edges_self.
    + exact Hc.
    + intros s i j Hs Hi Hj HE. rewrite (plain_attention_is N PN LN S0 s Hs). now apply least_epsilon_le.
    + exact K.
Qed.

Theorem proved_wu2024_cor1_step : statement_wu2024_cor1_step.
Proof.
  intros N PN r HR least' H1 LN BN OV SL N2 QC DD Lr _ S0. destruct (radius_centre N r HR QC) as [r0 [c Hc]].
  assert (M := wu2024_1.wu_cor1_step (tokens N) (dim N) (layer_at N) (edges N) c r (least_epsilon N) (X N 0)).
  rewrite (sphere_orbit_is N PN LN S0 r) in M by lia. apply M; clear M.
  - apply (some_tokens N PN).
  - exact r0.
  - now apply least_epsilon_pos.
  - intros s _. now apply sphere_setting.
  - intros; now apply edges_nonneg.
  - now apply edges_self.
  - exact Hc.
  - intros s i j Hs Hi Hj HE. rewrite (sphere_attention_is N PN LN S0 s) by lia. apply least_epsilon_le; auto; lia.
  - intros i Hi. now apply (start_on_sphere N PN LN).
  - exact DD.
Qed.

(** Unit vectors at distance D have the cosine 1 - D^2/2. *)
Lemma unit_cosine d u v : l2 d u = 1 -> l2 d v = 1 -> dot d u v = 1 - l2 d (vsub u v) ^ 2 / 2.
Proof.
  intros U V. assert (A := own_hemisphere.l2_sq d u). assert (B := own_hemisphere.l2_sq d v).
  assert (C := own_hemisphere.l2_sq d (vsub u v)).
  rewrite U in A. rewrite V in B.
  assert (E : dot d (vsub u v) (vsub u v) = dot d u u + dot d v v - 2 * dot d u v).
  { unfold dot, vsub. rewrite <- sum_plus, <- sum_scal, <- sum_minus. apply sum_ext; intros; ring. }
  simpl. lra.
Qed.

Lemma pow_shrink e k : 0 < e <= 1 -> (1 <= k)%nat -> e ^ k <= e ^ 1.
Proof.
  intros E Hk. induction Hk as [|k Hk IH]; [lra|]. change (e * e ^ k <= e ^ 1).
  assert (0 <= e ^ k) by (apply pow_le; lra). nra.
Qed.

Lemma sqrt_power q k : 0 <= q -> sqrt (q ^ k) <= power q (INR k / 2) \/ (q = 0 /\ k = 0%nat).
Proof.
  intros Q. unfold power. destruct Rle_dec as [Z|Z].
  - assert (E : q = 0) by lra. destruct k as [|k]; [right; split; [exact E|reflexivity]|]. left. rewrite E.
    rewrite pow_i by lia. rewrite sqrt_0. lra.
  - left. right. rewrite <- Rpower_sqrt by (apply pow_lt; lra). rewrite <- Rpower_pow by lra. rewrite Rpower_mult.
    reflexivity.
Qed.

(** Of two tokens or more one sees another, and does not attend to itself alone. *)
Lemma some_edge_below_one N : proper N -> self_loops N -> quasi_strongly_connected N -> (tokens N >= 2)%nat ->
  exists i j, (i < tokens N)%nat /\ (j < tokens N)%nat /\ edges N i j = 1 /\ P N 0 0 i j < 1.
Proof.
  intros PN SL [r [c [Hc Rc]]] N2.
  assert (X : exists a b, (a < tokens N)%nat /\ (b < tokens N)%nat /\ a <> b /\ 0 < edges N a b).
  { apply NNPP. intro Q. assert (St : forall k i, (i < tokens N)%nat -> walk (tokens N) (edges N) c k i -> i = c).
    { induction k as [|k IH]; intros i Hi Wk; [exact Wk|]. destruct Wk as [j [Hj [E Wk]]]. apply (IH j Hj) in Wk.
      subst j.
      apply NNPP. intro Ne. apply Q. exists i, c. auto. }
    set (i := if Nat.eqb c 0 then 1%nat else 0%nat). assert (Hi : (i < tokens N)%nat) by (unfold i;
      destruct (Nat.eqb c 0); lia).
    destruct (Rc i Hi) as [k [_ Wk]]. apply (St k i Hi) in Wk. unfold i in Wk. destruct (Nat.eqb_spec c 0); lia. }
  destruct X as (a & b & Ha & Hb & Ne & E). exists a, a. split; [exact Ha|split; [exact Ha|split; [now apply SL|]]].
  assert (Pb := attention_pos N PN 0 0 a b Ha Hb (edge_one N PN a b Ha Hb E)).
  assert (S1 : sum (tokens N) (P N 0 0 a) = 1) by (apply tilt_sum; now apply row_weights).
  assert (S2 := sum_two_terms (tokens N) (P N 0 0 a) a b Ha Hb Ne (fun j Hj => attention_nonneg N PN 0 0 a j Ha Hj)).
  lra.
Qed.

Theorem proved_wu2024_cor1 : statement_wu2024_cor1.
Proof.
  intros N PN r HR phi least' H1 LN BN OV SL N2 QC DD _ S0. destruct (radius_centre N r HR QC) as [r0 [c Hc]].
  assert (E0 := least_epsilon_pos N PN). set (e := least_epsilon N) in *.
  assert (M := wu2024_1.wu_cor1 (tokens N) (dim N) (layer_at N) (edges N) c r e phi (layers N) (X N 0)).
  cbv zeta in M.
  assert (U := start_on_sphere N PN LN). destruct M as [_ M].
  - apply (some_tokens N PN).
  - exact r0.
  - exact E0.
  - unfold phi. lra.
  - intros s _. now apply sphere_setting.
  - intros; now apply edges_nonneg.
  - now apply edges_self.
  - exact Hc.
  - intros s i j Hs Hi Hj HE. rewrite (sphere_attention_is N PN LN S0 s) by lia. apply least_epsilon_le; auto; lia.
  - exact U.
  - intros i k Hi Hk. rewrite (unit_cosine (dim N) (X N 0 i) (X N 0 k) (U i Hi) (U k Hk)). unfold phi.
    assert (L : l2 (dim N) (vsub (X N 0 i) (X N 0 k)) <= diameter (X N 0) p_2) by exact (diam_ub (tokens N) (l2 (dim
      N)) (X N 0) i k Hi Hk).
    assert (L2 := pow_incr (l2 (dim N) (vsub (X N 0 i) (X N 0 k))) (diameter (X N 0) p_2) 2 (conj (l2_nonneg _ _) L)).
    lra.
  - rewrite (sphere_orbit_is N PN LN S0 (layers N)) in M by lia.
    change (mu (X N (layers N)) <= sqrt ((INR (tokens N) - 1) * (1 - phi)) * power (1 - e ^ (2 * r)) (INR (layers N /
      r) / 2)).
    eapply Rle_trans; [exact M|]. apply Rmult_le_compat_l; [apply sqrt_pos|].
    assert (e1 : e < 1).
    { destruct (some_edge_below_one N PN SL QC N2) as (i & j & Hi & Hj & HE & L).
      eapply Rle_lt_trans; [|exact L]. apply (least_epsilon_le N PN 0 i j (some_layers N PN) Hi Hj). rewrite HE. lra. }
    assert (Q : 0 < 1 - e ^ (2 * r)).
    { assert (E2 : e ^ (2 * r) <= e ^ 1) by (apply pow_shrink; [lra|lia]). rewrite pow_1 in E2. lra. }
    destruct (sqrt_power (1 - e ^ (2 * r)) (layers N / r) ltac:(lra)) as [G|[G _]]; [exact G|lra].
Qed.

Theorem proved_own_hemisphere : statement_own_hemisphere.
Proof.
  intros N PN r HR least' H1 LN BN OV SL N2 QC HG _ S0. destruct (radius_centre N r HR QC) as [r0 [c Hc]].
  assert (E0 := least_epsilon_pos N PN). set (e := least_epsilon N) in *. set (n := tokens N) in *.
  set (d := dim N) in *.
  assert (Hi : forall i, (i < n)%nat -> height N <= dot d (X N 0 i) (pole N)) by (intros i Hi;
    apply (least_lb n (fun i => dot d (X N 0 i) (pole N)) i Hi)).
  assert (V1 : l2 d (pole N) = 1).
  { apply own_hemisphere.sphere_unit. fold n d. destruct (Rle_lt_or_eq_dec 0 (l2 d (mean n (X N 0))) (l2_nonneg _ _))
      as [L|L]; [exact L|exfalso].
    assert (Z : forall u, dot d u (pole N) = 0).
    { intro u. unfold pole, sphere, dot. fold n d. rewrite <- L. rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|].
      intros a _. unfold Rdiv. rewrite Rinv_0. ring. }
    assert (Q := Hi 0%nat (some_tokens N PN)). rewrite Z in Q. lra. }
  destruct (own_hemisphere.hemisphere n d (layer_at N) (edges N) c r e (pole N) (height N) (layers N) (X N 0)) as [_ [A
    [B _]]].
  - apply (some_tokens N PN).
  - exact r0.
  - lra.
  - intros s _. now apply sphere_setting.
  - intros; now apply edges_nonneg.
  - now apply edges_self.
  - exact Hc.
  - intros s i j Hs Hi' Hj HE. unfold n, d. rewrite (sphere_attention_is N PN LN S0 s) by lia.
    apply least_epsilon_le; auto.
  - intros i Hi'. now apply (start_on_sphere N PN LN).
  - exact V1.
  - lra.
  - exact Hi.
  - assert (G : forall t, (t <= layers N)%nat -> diam n (l2 d) (gnomonic n d (layer_at N) (X N 0) (pole N) t) = section
      N t).
    { intros t Ht. unfold section, gnomonic, carried. unfold n, d.
      rewrite (sphere_orbit_is N PN LN S0 t Ht), (values_is N t Ht). reflexivity. }
    rewrite (G (layers N)), (G 0%nat) in A by lia. rewrite (G (layers N)) in B by lia. unfold n, d in B.
    rewrite (sphere_orbit_is N PN LN S0 (layers N)) in B by lia.
    split; [exact A|]. unfold mu. eapply Rle_trans; [exact B|]. fold n. rewrite Rmult_assoc.
    apply Rmult_le_compat_l; [apply sqrt_pos|exact A].
Qed.

Theorem proved_wu2024_1_doeblin : statement_wu2024_1_doeblin.
Proof.
  intros N PN r [r1 _] H1 LN _ S0. set (L := layers N). set (m := ((L + r - 1) / r)%nat).
  set (T := fun k => Nat.min L (r * k)).
  assert (Tm : T m = L).
  { unfold T. apply Nat.min_l. unfold m. assert (D := Nat.div_mod (L + r - 1) r ltac:(lia)).
    assert (Mo := Nat.mod_upper_bound (L + r - 1) r ltac:(lia)). lia. }
  assert (K : forall v, l2 (dim N) (vmat (dim N) v (values (dim N) (layer_value (layer_at N)) L)) <= product_norm_2 N *
    l2 (dim N) v).
  { intro v. unfold L. rewrite (values_is N) by lia. apply (spectral_bound (dim N) (dim N)). }
  assert (M := wu2024_1.masked_collapse_doeblin (tokens N) (dim N) (layer_at N) (product_norm_2 N) m T (X N 0)).
  rewrite Tm in M.
  unfold L in M. rewrite (plain_orbit_is N PN LN S0 (layers N)) in M by lia. fold L in M.
  assert (Below : forall k, (k < m)%nat -> (r * k < L)%nat).
  { intros k Hk. unfold m in Hk. assert (D := Nat.div_mod (L + r - 1) r ltac:(lia)).
    assert (r * S k <= r * ((L + r - 1) / r))%nat by (apply Nat.mul_le_mono_l; lia). lia. }
  assert (E : prodf m (fun k => 1 - doeblin (tokens N) (Definitions.steps (tokens N) (plain_attention (tokens N) (dim
    N) (layer_at N) (X N 0)) (T k) (T (S k) - T k)))
    = prodf m (fun k => contraction N r k)).
  { assert (G : forall q, (q <= m)%nat -> prodf q (fun k => 1 - doeblin (tokens N) (Definitions.steps (tokens N)
      (plain_attention (tokens N) (dim N) (layer_at N) (X N 0)) (T k) (T (S k) - T k)))
      = prodf q (fun k => contraction N r k)); [|apply G; lia].
    induction q as [|q IH]; intros Hq; [reflexivity|]. cbn [prodf]. rewrite IH by lia. f_equal. unfold contraction.
    do 2 f_equal.
    assert (Bq := Below q ltac:(lia)). assert (T0 : T q = (r * q)%nat) by (unfold T; lia). rewrite T0.
    assert (T1 : T (S q) = Nat.min L (r * q + r)) by (unfold T; f_equal; lia). rewrite T1. fold L.
    assert (St : forall k, (r * q + k <= L)%nat -> Definitions.steps (tokens N) (plain_attention (tokens N) (dim N)
      (layer_at N) (X N 0)) (r * q) k
      = Definitions.steps (tokens N) (fun l => P N l 0) (r * q) k).
    { induction k as [|k IK]; intros Hk; [reflexivity|]. cbn [Definitions.steps]. rewrite IK by lia. f_equal.
      apply (plain_attention_is N PN LN S0). unfold L in *. lia. }
    apply St. lia. }
  rewrite E in M. unfold mu. eapply Rle_trans; [apply M|right; ring]; clear M.
  - apply (some_tokens N PN).
  - apply spectral_nonneg.
  - unfold T. rewrite Nat.mul_0_r. apply Nat.min_0_r.
  - intros k _. unfold T. apply Nat.min_le_compat_l. apply Nat.mul_le_mono_l. lia.
  - intros s _. split; [exact H1|]. apply (mask_proper N PN).
  - exact K.
Qed.
