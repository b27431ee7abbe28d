(** Registered statements about networks with positions of every kind, as Statements.v prints them: logits are any
  functions
    of the tokens. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require own_tv.
From Rankmath Require Import Definitions Functions Norms Softmax Language LanguageFacts NetworkFacts Statements.
Local Open Scope R_scope.

Lemma dobrushin_ub n m (A : matrix n m) i k : (i < n)%nat -> (k < n)%nat -> / 2 * sum m (fun j => Rabs (A i j - A k
  j)) <= dobrushin_of A.
Proof.
  intros Hi Hk. eapply Rle_trans; [apply (largest_ub n (fun k => / 2 * sum m (fun j => Rabs (A i j - A k j))) k Hk)|].
  apply (largest_ub n (fun i => largest n (fun k => / 2 * sum m (fun j => Rabs (A i j - A k j)))) i Hi).
Qed.

(** Averages of the same vectors, with weights of sum 1: how far heads send them apart. *)
Lemma averages_apart n d H p (P : nat -> matrix n n) (A : nat -> matrix d d) (Y : matrix n d) i k : (i < n)%nat ->
  (k < n)%nat -> (forall h j, (j < n)%nat -> sum n (P h j) = 1) ->
  norm_of d p (fun b => sum H (fun h => vsub (vmat d (vmat n (P h i) Y) (A h)) (vmat d (vmat n (P h k) Y) (A h)) b))
  <= sum H (fun h => operator_norm (A h) p * dobrushin (P h)) * diameter Y p.
Proof.
  intros Hi Hk One. eapply Rle_trans; [apply sn_sum1|]. rewrite <- sum_scal_r. apply sum_le; intros h _.
  assert (D0 := diameter_nonneg n d Y p). assert (O0 := operator_norm_nonneg d (A h) p).
  rewrite (sn_ext (norm_of d p) _ (vmat d (fun a => sum n (fun j => (P h i j - P h k j) * Y j a)) (A h))).
  - rewrite norm_of_is. eapply Rle_trans; [apply operator_norm_bound|]. rewrite Rmult_assoc. apply Rmult_le_compat_l;
    [exact O0|].
    rewrite <- norm_of_is. eapply Rle_trans; [apply (own_tv.transport (norm_of d p) n _ Y (diameter Y p))|].
    + rewrite sum_minus. assert (E := One h i Hi). assert (F := One h k Hk).
      change (sum n (P h i) - sum n (P h k) = 0). lra.
    + intros a b Ha Hb. rewrite norm_of_is. exact (diam_ub n (length_of d p) Y a b Ha Hb).
    + apply Rmult_le_compat_r; [exact D0|]. now apply dobrushin_ub.
  - intro b. unfold vsub at 1. rewrite vmat_sub. apply vmat_ext. intros a _. unfold vsub, vmat. rewrite <- sum_minus.
    apply sum_ext; intros; ring.
Qed.

(** From one layer to all: upper and lower bounds multiply. *)
Lemma product_upper (g q : nat -> R) L : (forall l, (l < L)%nat -> 0 <= q l) -> (forall l, (l < L)%nat -> g (S l) <= q
  l * g l) -> g L <= prodf L q * g 0%nat.
Proof.
  induction L as [|L IH]; intros Q H; [simpl; lra|]. eapply Rle_trans; [apply H; lia|]. cbn [prodf].
    rewrite (Rmult_comm (prodf L q)), Rmult_assoc.
  apply Rmult_le_compat_l; [apply Q; lia|]. apply IH; intros; [apply Q|apply H]; lia.
Qed.
Lemma product_lower (g q : nat -> R) L : (forall l, (l < L)%nat -> 0 <= q l) -> (forall l, (l < L)%nat -> q l * g l <=
  g (S l)) -> prodf L q * g 0%nat <= g L.
Proof.
  induction L as [|L IH]; intros Q H; [simpl; lra|]. eapply Rle_trans; [|apply H; lia]. cbn [prodf].
    rewrite (Rmult_comm (prodf L q)), Rmult_assoc.
  apply Rmult_le_compat_l; [apply Q; lia|]. apply IH; intros; [apply Q|apply H]; lia.
Qed.

Section Scored.
Variable N : scored.
Hypothesis PN : proper N.
Hypothesis LN : layernorm_none N.
Let n := tokens N.
Let d := dim N.

Lemma scored_next l i b : scored_X N (S l) i b = skip_of N * scored_X N l i b
  + sum (heads N) (fun h => vmat d (vmat n (scored_P N l h i) (scored_X N l)) (W N l h) b) + bias N l b.
Proof. cbn [scored_X]. unfold laid. rewrite LN. reflexivity. Qed.

Lemma scored_row l h Y i : (i < n)%nat -> weights n (edges N i) /\ (forall j, (j < n)%nat -> 0 <= scored_attention N l
  h Y i j) /\ sum n (scored_attention N l h Y i) = 1.
Proof.
  intros Hi. destruct (proper_edges N PN i Hi) as [A B]. assert (Wt : weights n (edges N i)) by now split.
  split; [exact Wt|split; [intros j Hj; now apply tilt_nonneg|now apply tilt_sum]].
Qed.

(** What a layer makes of the difference of two tokens, besides the skip. *)
Lemma heads_apart p l i k : (i < n)%nat -> (k < n)%nat ->
  norm_of d p (fun b => sum (heads N) (fun h => vsub (vmat d (vmat n (scored_P N l h i) (scored_X N l)) (W N l h))
    (vmat d (vmat n (scored_P N l h k) (scored_X N l)) (W N l h)) b))
  <= sum (heads N) (fun h => operator_norm (W N l h) p * dobrushin (scored_P N l h)) * diameter (scored_X N l) p.
Proof.
  intros Hi Hk. apply averages_apart; [exact Hi|exact Hk|]. intros h j Hj. now apply (scored_row l h (scored_X N l)).
Qed.
Lemma dobrushin_nonneg l h : 0 <= dobrushin (scored_P N l h).
Proof.
  assert (n0 := some_tokens N PN). eapply Rle_trans; [|apply (dobrushin_ub n n (scored_P N l h) 0%nat 0%nat n0 n0)].
  apply Rmult_le_pos; [lra|]. apply sum_nonneg; intros; apply Rabs_pos.
Qed.
Lemma heads_factor p l : 0 <= sum (heads N) (fun h => operator_norm (W N l h) p * dobrushin (scored_P N l h)).
Proof. apply sum_nonneg; intros h _. apply Rmult_le_pos; [apply operator_norm_nonneg|apply dobrushin_nonneg]. Qed.

Lemma token_step p l i k : (i < n)%nat -> (k < n)%nat -> forall u, u = norm_of d p (vsub (scored_X N (S l) i)
  (scored_X N (S l) k)) ->
  let v := Rabs (skip_of N) * norm_of d p (vsub (scored_X N l i) (scored_X N l k)) in
  let s := sum (heads N) (fun h => operator_norm (W N l h) p * dobrushin (scored_P N l h)) * diameter (scored_X N l) p
    in u <= v + s /\ v - s <= u.
Proof.
  intros Hi Hk u -> v s. assert (S := heads_apart p l i k Hi Hk). fold s in S.
    set (z := fun b => sum (heads N) _) in S.
  assert (E : forall b, vsub (scored_X N (Datatypes.S l) i) (scored_X N (Datatypes.S l) k) b = skip_of N * vsub
    (scored_X N l i) (scored_X N l k) b + z b).
  { intro b. unfold vsub at 1. rewrite !scored_next. unfold z, vsub. rewrite sum_minus. ring. }
  assert (A : norm_of d p (fun b => skip_of N * vsub (scored_X N l i) (scored_X N l k) b) = v) by (unfold v;
    now rewrite sn_scal).
  split.
  - rewrite (sn_ext _ _ _ E). eapply Rle_trans; [apply sn_add|]. rewrite A. lra.
  - rewrite <- A. rewrite (sn_ext _ (fun b => skip_of N * vsub (scored_X N l i) (scored_X N l k) b) (fun b => vsub
    (scored_X N (Datatypes.S l) i) (scored_X N (Datatypes.S l) k) b + -1 * z b)) by (intro b; rewrite E; ring).
    assert (T := sn_add (norm_of d p) (vsub (scored_X N (Datatypes.S l) i) (scored_X N (Datatypes.S l) k)) (fun b =>
      -1 * z b)). rewrite sn_scal, Rabs_left in T by lra. lra.
Qed.

Lemma diameter_step p l : diameter (scored_X N (S l)) p <= (Rabs (skip_of N) + sum (heads N) (fun h => operator_norm
  (W N l h) p * dobrushin (scored_P N l h))) * diameter (scored_X N l) p.
Proof.
  assert (D0 := diameter_nonneg n d (scored_X N l) p). assert (H0 := heads_factor p l).
    assert (A := Rabs_pos (skip_of N)).
  apply diam_lub; [apply Rmult_le_pos; [now apply Rplus_le_le_0_compat|exact D0]|]. intros i k Hi Hk.
    rewrite <- norm_of_is. destruct (token_step p l i k Hi Hk _ eq_refl) as [U _].
  eapply Rle_trans; [exact U|]. rewrite Rmult_plus_distr_r. apply Rplus_le_compat_r. apply Rmult_le_compat_l;
    [exact A|].
  rewrite norm_of_is. exact (diam_ub n (length_of d p) (scored_X N l) i k Hi Hk).
Qed.
Lemma diameter_step_lower l : (Rabs (skip_of N) - sum (heads N) (fun h => operator_norm (W N l h) p_2 * dobrushin
  (scored_P N l h))) * diameter (scored_X N l) p_2 <= diameter (scored_X N (S l)) p_2.
Proof.
  assert (n0 := some_tokens N PN).
  (* the two tokens that are farthest apart *)
  assert (F : exists i k, (i < n)%nat /\ (k < n)%nat /\ diameter (scored_X N l) p_2 = l2 d (vsub (scored_X N l i)
    (scored_X N l k))).
  { set (g := fun i k => l2 d (vsub (scored_X N l i) (scored_X N l k))).
    assert (E1 : diameter (scored_X N l) p_2 = largest n (fun i => maxf n (g i))) by (symmetry; apply largest_maxf;
      intros; apply maxf_pos).
    destruct (largest_attained n (fun i => maxf n (g i)) n0) as [i [Hi E2]].
    assert (E3 : maxf n (g i) = largest n (g i)) by (symmetry; apply largest_maxf; intros; apply l2_nonneg).
    destruct (largest_attained n (g i) n0) as [k [Hk E4]]. exists i, k. split; [exact Hi|split; [exact Hk|]].
      now rewrite E1, E2, E3, E4. }
  destruct F as (i & k & Hi & Hk & E). destruct (token_step p_2 l i k Hi Hk _ eq_refl) as [_ Lo]. cbn [norm_of] in Lo.
  change (L2 d (vsub (scored_X N l i) (scored_X N l k))) with (l2 d (vsub (scored_X N l i) (scored_X N l k))) in Lo.
    rewrite <- E in Lo.
  rewrite Rmult_minus_distr_r. eapply Rle_trans; [exact Lo|]. exact (diam_ub n (l2 d) (scored_X N (S l)) i k Hi Hk).
Qed.
End Scored.

Theorem proved_own_transport : statement_own_transport.
Proof.
  intros N PN LN _ S0 p. apply (product_upper (fun l => diameter (scored_X N l) p)); intros l _;
    [now apply heads_factor|].
  eapply Rle_trans; [now apply diameter_step|]. rewrite S0, Rabs_R0, Rplus_0_l. lra.
Qed.

Theorem proved_own_transport_skip : statement_own_transport_skip.
Proof.
  intros N PN Sm LN _. assert (A := Rabs_pos (skip_of N)). assert (H0 := heads_factor N PN p_2). split.
  - apply Rle_ge. apply (product_lower (fun l => diameter (scored_X N l) p_2)); intros l Hl.
    + specialize (Sm l Hl). lra.
    + now apply (diameter_step_lower N PN LN l).
  - apply (product_upper (fun l => diameter (scored_X N l) p_2)); intros l Hl; [specialize (H0 l); cbn in H0;
    unfold norm_2; lra|].
    now apply (diameter_step N PN LN p_2 l).
Qed.

(* ---------- near consensus ---------- *)
Section Near.
Variable N : scored.
Hypothesis PN : proper N.
Variables l h : nat.
Let n := tokens N.
Let g (i j : nat) := score N l h (scored_X N l) i j - score N l h (consensus N l) i j.

Lemma shift_ub i j k : (i < n)%nat -> (j < n)%nat -> (k < n)%nat -> edges N i j = 1 -> edges N i k = 1 ->
  g i j - g i k <= consensus_shift N l h.
Proof.
  intros Hi Hj Hk Ej Ek.
  apply (sup_ub _ (2 * largest n (fun i => largest n (fun j => Rabs (g i j))))); [|now exists i, j, k].
  intros y (a & b & c & Ha & Hb & Hc & _ & _ & ->). cbv zeta. fold (g a b) (g a c).
  assert (Q : forall z, (z < n)%nat -> Rabs (g a z) <= largest n (fun i => largest n (fun j => Rabs (g i j)))).
  { intros z Hz. eapply Rle_trans; [apply (largest_ub n (fun j => Rabs (g a j)) z Hz)|].
    apply (largest_ub n (fun i => largest n (fun j => Rabs (g i j))) a Ha). }
  assert (Q1 := Q b Hb). assert (Q2 := Q c Hc). apply Rabs_le_between in Q1, Q2. lra.
Qed.
Lemma edge_is i j : (i < n)%nat -> (j < n)%nat -> 0 < edges N i j -> edges N i j = 1.
Proof. intros Hi Hj E. destruct (binary N PN i j Hi Hj) as [Z|Z]; [rewrite Z in E; lra|exact Z]. Qed.
Lemma consensus_tv i : (i < n)%nat ->
  Definitions.tv n (scored_P N l h i) (scored_P0 N l h i) <= tanh (consensus_shift N l h / 4).
Proof.
  intros Hi. apply own_tv.tv_softmax; [now apply (scored_row N PN l h (consensus N l) i Hi)|].
  intros j k Hj Hk Mj Mk. now apply shift_ub; auto; apply edge_is.
Qed.
(** A share moves by a factor e^shift at most. *)
Lemma edge_share i j : (i < n)%nat -> (j < n)%nat ->
  scored_P0 N l h i j * exp (- consensus_shift N l h) <= scored_P N l h i j <= scored_P0 N l h i j
    * exp (consensus_shift N l h).
Proof.
  intros Hi Hj. set (s := consensus_shift N l h). destruct (scored_row N PN l h (consensus N l) i Hi) as (Wt & P0 & P1).
  destruct (binary N PN i j Hi Hj) as [E|E].
  { assert (Z : forall Y, scored_attention N l h Y i j = 0) by (intro Y; unfold scored_attention, softmax, tilt;
      rewrite E; unfold Rdiv; ring). unfold scored_P, scored_P0. rewrite !Z. lra. }
  assert (T : scored_P N l h i j = tilt n (scored_P0 N l h i) (g i) j) by exact (tilt_tilt n (edges N i) Wt _ _ j).
  rewrite T. unfold tilt. set (Z := sum n (fun k => scored_P0 N l h i k * exp (g i k))).
  assert (B : exp (g i j) * exp (- s) <= Z <= exp (g i j) * exp s).
  { rewrite <- !exp_plus. split.
    - rewrite <- (Rmult_1_l (exp _)), <- P1, <- sum_scal_r. apply sum_le; intros k Hk. fold n in Hk.
      destruct (binary N PN i k Hi Hk) as [F|F]; [unfold scored_P0, scored_attention, softmax, tilt; rewrite F;
        unfold Rdiv; right; ring|].
      apply Rmult_le_compat_l; [now apply P0|]. apply exp_le. assert (Q := shift_ub i j k Hi Hj Hk E F). fold s in Q.
        lra.
    - rewrite <- (Rmult_1_l (exp (g i j + s))), <- P1, <- sum_scal_r. apply sum_le; intros k Hk. fold n in Hk.
      destruct (binary N PN i k Hi Hk) as [F|F]; [unfold scored_P0, scored_attention, softmax, tilt; rewrite F;
        unfold Rdiv; right; ring|].
      apply Rmult_le_compat_l; [now apply P0|]. apply exp_le. assert (Q := shift_ub i k j Hi Hk Hj F E). fold s in Q.
        lra. }
  assert (Pg := exp_pos (g i j)). assert (Pm := exp_pos (- s)). assert (Ps := exp_pos s).
  assert (Z0 : 0 < Z) by (assert (0 < exp (g i j) * exp (- s)) by (now apply Rmult_lt_0_compat); lra).
  assert (Inv : exp s * exp (- s) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  assert (P0j := P0 j Hj). change (0 <= scored_P0 N l h i j) in P0j.
  unfold Rdiv. rewrite Rmult_assoc. split; (apply Rmult_le_compat_l; [exact P0j|]); (apply Rmult_le_reg_r with Z;
    [exact Z0|]); rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra || idtac.
  - apply Rle_trans with (exp (- s) * (exp (g i j) * exp s)); [apply Rmult_le_compat_l; lra|]. right.
    transitivity (exp (g i j) * (exp s * exp (- s))); [ring|rewrite Inv; ring].
  - apply Rle_trans with (exp s * (exp (g i j) * exp (- s))); [right|apply Rmult_le_compat_l; lra].
    transitivity (exp (g i j) * (exp s * exp (- s))); [rewrite Inv; ring|ring].
Qed.
End Near.

Theorem proved_own_consensus_rate : statement_own_consensus_rate.
Proof.
  intros N PN LN _ S0 p. set (n := tokens N). assert (n0 := some_tokens N PN).
  assert (B : forall l h, dobrushin (scored_P N l h) <= dobrushin (scored_P0 N l h) + 2 * tanh (consensus_shift N l h
    / 4)).
  { intros l h. assert (Tv := consensus_tv N PN l h). set (s := consensus_shift N l h) in *.
    set (dc := dobrushin (scored_P0 N l h)). unfold dobrushin, dobrushin_of. apply largest_lub; [exact n0|].
      intros i Hi. apply largest_lub; [exact n0|]. intros k Hk.
    assert (Ti := Tv i Hi). assert (Tk := Tv k Hk). unfold Definitions.tv in Ti, Tk.
    assert (C : / 2 * sum n (fun j => Rabs (scored_P0 N l h i j - scored_P0 N l h k j)) <= dc) by exact (dobrushin_ub
      n n (scored_P0 N l h) i k Hi Hk).
    apply Rle_trans with (/ 2 * sum n (fun j => Rabs (scored_P N l h i j - scored_P0 N l h i j) + Rabs (scored_P0 N l
      h i j - scored_P0 N l h k j) + Rabs (scored_P N l h k j - scored_P0 N l h k j))).
    - apply Rmult_le_compat_l; [lra|]. apply sum_le; intros j _. set (x := scored_P N l h i j).
      set (y := scored_P0 N l h i j). set (z := scored_P0 N l h k j). set (w := scored_P N l h k j).
      replace (x - w) with ((x - y) + (y - z) + (z - w)) by ring. eapply Rle_trans; [apply Rabs_triang|].
        rewrite (Rabs_minus_sym z w). apply Rplus_le_compat_r, Rabs_triang.
    - rewrite !sum_plus, !Rmult_plus_distr_l. eapply Rle_trans; [apply Rplus_le_compat; [apply Rplus_le_compat;
      [exact Ti|exact C]|exact Tk]|]. lra. }
  apply (product_upper (fun l => diameter (scored_X N l) p)); intros l _.
  - eapply Rle_trans; [apply (heads_factor N PN p l)|]. apply sum_le; intros h _. apply Rmult_le_compat_l;
    [apply operator_norm_nonneg|apply B].
  - eapply Rle_trans; [now apply diameter_step|]. rewrite S0, Rabs_R0, Rplus_0_l. apply Rmult_le_compat_r;
    [apply diameter_nonneg|].
    apply sum_le; intros h _. apply Rmult_le_compat_l; [apply operator_norm_nonneg|apply B].
Qed.

(* ---------- the first two tokens under the causal mask ---------- *)
Lemma least_singular_bound n m (A : matrix n m) v : least_singular A * l2 n v <= l2 m (vmat n v A).
Proof.
  assert (V := l2_nonneg n v). destruct V as [V|V]; [|rewrite <- V; rewrite Rmult_0_r; apply l2_nonneg].
  assert (E : l2 m (vmat n v A) = l2 n v * l2 m (vmat n (fun a => / l2 n v * v a) A)).
  { rewrite <- (Rabs_right (l2 n v)) at 1 by lra. rewrite <- l2_scal. apply (sn_ext (L2 m)). intro b.
    rewrite vmat_scal. field. lra. }
  rewrite E, (Rmult_comm (least_singular A)). apply Rmult_le_compat_l; [lra|].
  apply (inf_lb _ 0); [intros y (u & _ & ->); apply l2_nonneg|]. exists (fun a => / l2 n v * v a). split;
    [|reflexivity].
  rewrite l2_scal, Rabs_right by (left; now apply Rinv_0_lt_compat). apply Rinv_l. lra.
Qed.
Lemma least_singular_nonneg n m (A : matrix n m) : (0 < n)%nat -> 0 <= least_singular A.
Proof.
  intros Hn. apply inf_ge; [|intros y (u & _ & ->); apply l2_nonneg].
  exists (l2 m (vmat n (eye 0%nat) A)), (eye 0%nat). split; [|reflexivity]. unfold l2, dot.
    rewrite (sum_single n _ 0%nat Hn); [unfold eye; simpl; rewrite Rmult_1_r; apply sqrt_1|].
  intros j _ Hj. unfold eye. destruct (Nat.eqb_spec 0 j); [lia|ring].
Qed.

Section Second.
Variable N : scored.
Hypothesis PN : proper N.
Hypothesis M : mask_causal N.
Hypothesis N2 : (tokens N >= 2)%nat.
Hypothesis LN : layernorm_none N.
Hypothesis S0 : skip_of N = 0.
Let n := tokens N.
Let d := dim N.

Lemma first_row l h Y : forall j, (j < n)%nat -> scored_attention N l h Y 0%nat j = if Nat.eqb j 0 then 1 else 0.
Proof.
  assert (Z : forall j, (0 < j < n)%nat -> scored_attention N l h Y 0%nat j = 0).
  { intros j Hj. unfold scored_attention, softmax, tilt. rewrite M by (unfold n in *; lia).
    destruct (Nat.leb_spec j 0); [lia|]. unfold Rdiv. ring. }
  intros j Hj. destruct (Nat.eqb_spec j 0) as [->|]; [|apply Z; lia].
  destruct (scored_row N PN l h Y 0%nat ltac:(unfold n in *; lia)) as (_ & _ & S1).
    rewrite (sum_single (tokens N) _ 0%nat) in S1; [exact S1|unfold n in *; lia|].
  intros k Hk Nk. apply Z. unfold n. lia.
Qed.
Lemma second_row l h Y : scored_attention N l h Y 1%nat 0%nat + scored_attention N l h Y 1%nat 1%nat = 1 /\ forall j,
  (2 <= j < n)%nat -> scored_attention N l h Y 1%nat j = 0.
Proof.
  assert (Z : forall j, (2 <= j < n)%nat -> scored_attention N l h Y 1%nat j = 0).
  { intros j Hj. unfold scored_attention, softmax, tilt. rewrite M by (unfold n in *; lia).
    destruct (Nat.leb_spec j 1); [lia|]. unfold Rdiv. ring. }
  split; [|exact Z]. destruct (scored_row N PN l h Y 1%nat ltac:(unfold n in *; lia)) as (_ & _ & S1).
  replace (tokens N) with (2 + (n - 2))%nat in S1 by (unfold n; lia). rewrite sum_split in S1.
  rewrite (sum_ext (n - 2) _ (fun _ => 0)) in S1 by (intros j Hj; apply Z; lia). rewrite sum_zero in S1.
    cbn [sum] in S1. lra.
Qed.
Lemma second_mix l h b : vmat n (scored_P N l h 0%nat) (scored_X N l) b - vmat n (scored_P N l h 1%nat) (scored_X N l)
  b
  = scored_P N l h 1%nat 1%nat * vsub (scored_X N l 0%nat) (scored_X N l 1%nat) b.
Proof.
  assert (F := first_row l h (scored_X N l)). destruct (second_row l h (scored_X N l)) as [S1 Z].
    change (scored_attention N l h (scored_X N l)) with (scored_P N l h) in *.
  unfold vmat. rewrite <- sum_minus. assert (E : n = (2 + (n - 2))%nat) by (unfold n; lia). rewrite E at 1.
    rewrite sum_split.
  rewrite (sum_ext (n - 2) _ (fun _ => 0)) by (intros j Hj; rewrite F, Z by lia; cbn [Nat.add Nat.eqb]; ring).
    rewrite sum_zero. cbn [sum].
  rewrite !F by lia. cbn [Nat.eqb]. unfold vsub. replace (scored_P N l h 1%nat 0%nat) with (1 - scored_P N l h 1%nat
    1%nat) by lra. ring.
Qed.
Lemma gap_next l : first_gap (scored_X N (S l)) = l2 d (vmat d (vsub (scored_X N l 0%nat) (scored_X N l 1%nat))
  (second_matrix N l)).
Proof.
  unfold first_gap. apply (sn_ext (L2 (dim N))). intro b. unfold vsub at 1. rewrite !(scored_next N LN). rewrite S0.
    fold n d.
  transitivity (sum (heads N) (fun h => vmat d (vmat n (scored_P N l h 0%nat) (scored_X N l)) (W N l h) b - vmat d
    (vmat n (scored_P N l h 1%nat) (scored_X N l)) (W N l h) b)); [rewrite sum_minus; ring|].
  rewrite (sum_ext (heads N) _ (fun h => sum d (fun a => vsub (scored_X N l 0%nat) (scored_X N l 1%nat) a * (scored_P
    N l h 1%nat 1%nat * W N l h a b)))).
  - rewrite sum_swap. unfold vmat at 1, second_matrix. apply sum_ext; intros a _. now rewrite sum_scal.
  - intros h _. rewrite vmat_sub. unfold vmat at 1. apply sum_ext; intros a _. unfold vsub at 1. rewrite second_mix.
    ring.
Qed.
Lemma gap_step l : second_least N l * first_gap (scored_X N l) <= first_gap (scored_X N (S l)) <= second_norm N l *
  first_gap (scored_X N l).
Proof. rewrite gap_next. split; [apply least_singular_bound|apply spectral_bound]. Qed.

End Second.

Theorem proved_own_second_token : statement_own_second_token.
Proof.
  intros N PN M N2 LN _ S0. split; [apply Rle_ge; apply (product_lower (fun l => first_gap (scored_X N l)))|apply
    (product_upper (fun l => first_gap (scored_X N l)))]; intros l _.
  - apply least_singular_nonneg, (some_dim N PN).
  - now apply gap_step.
  - apply spectral_nonneg.
  - now apply gap_step.
Qed.

Theorem proved_own_consensus_second : statement_own_consensus_second.
Proof.
  intros N PN M N2 H1 LN _ S0. assert (d0 := some_dim N PN).
  assert (C0 : forall l, 0 <= diagonal (scored_P0 N l 0%nat) 1%nat) by (intro l;
    apply (scored_row N PN l 0%nat (consensus N l) 1%nat); lia).
  assert (Step : forall l, first_gap (scored_X N (S l)) = scored_P N l 0%nat 1%nat 1%nat * l2 (dim N) (vmat (dim N)
    (vsub (scored_X N l 0%nat) (scored_X N l 1%nat)) (W N l 0%nat))).
  { intro l. rewrite (gap_next N PN M N2 LN S0). assert (P0 : 0 <= scored_P N l 0%nat 1%nat 1%nat) by (apply
    (scored_row N PN l 0%nat (scored_X N l) 1%nat); lia).
    rewrite <- (Rabs_right (scored_P N l 0%nat 1%nat 1%nat)) by lra. rewrite <- l2_scal. apply (sn_ext (L2 (dim N))).
      intro b. unfold vmat, second_matrix. rewrite H1. rewrite <- sum_scal.
    apply sum_ext; intros a _. cbn [sum]. ring. }
  split; [apply Rle_ge; apply (product_lower (fun l => first_gap (scored_X N l)))|apply (product_upper (fun l =>
    first_gap (scored_X N l)))]; intros l _.
  - apply Rmult_le_pos; [apply Rmult_le_pos; [apply C0|left; apply exp_pos]|now apply least_singular_nonneg].
  - rewrite Step, Rmult_assoc. apply Rmult_le_compat; [apply Rmult_le_pos; [apply C0|left;
    apply exp_pos]|apply Rmult_le_pos; [now apply least_singular_nonneg|apply l2_nonneg]| |apply
    least_singular_bound].
    apply edge_share; [exact PN|lia|lia].
  - apply Rmult_le_pos; [apply Rmult_le_pos; [apply C0|left; apply exp_pos]|apply spectral_nonneg].
  - rewrite Step, Rmult_assoc. apply Rmult_le_compat; [apply (scored_row N PN l 0%nat (scored_X N l) 1%nat);
    lia|apply l2_nonneg| |apply spectral_bound].
    apply edge_share; [exact PN|lia|lia].
Qed.

(* ---------- how far tokens move ---------- *)
Theorem proved_alman2025_one_layer : statement_alman2025_one_layer.
Proof.
  intros N PN S1 B0 LN _. set (n := tokens N). set (d := dim N). set (Y := scored_X N).
    set (c := fun l => sum (heads N) (fun h => norm_1 (W N l h))).
  assert (c0 : forall l, 0 <= c l) by (intro l; apply sum_nonneg; intros; apply maxf_pos).
    set (m := norm_max (Y 0%nat)). assert (m0 : 0 <= m) by apply maxf_pos.
  assert (Ent : forall (A : mat) i a, (i < n)%nat -> (a < d)%nat -> Rabs (A i a) <= maxentry n d A).
  { intros A i a Hi Ha. eapply Rle_trans; [apply (maxf_ub d (fun a => Rabs (A i a)) a Ha)|].
    apply (maxf_ub n (fun i => maxf d (fun a => Rabs (A i a))) i Hi). }
  assert (Head : forall l h i b K, (i < n)%nat -> (b < d)%nat -> 0 <= K -> (forall j a, (j < n)%nat -> (a < d)%nat ->
    Rabs (Y l j a) <= K) ->
    Rabs (vmat d (vmat n (scored_P N l h i) (Y l)) (W N l h) b) <= norm_1 (W N l h) * K).
  { intros l h i b K Hi Hb K0 HK. unfold vmat at 1. eapply Rle_trans; [apply sum_abs|].
    apply Rle_trans with (sum d (fun a => Rabs (W N l h a b) * K)).
    - apply sum_le; intros a Ha. rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_l; [apply Rabs_pos|].
      unfold vmat. eapply Rle_trans; [apply sum_abs|].
      destruct (scored_row N PN l h (Y l) i Hi) as (_ & P0 & P1). rewrite <- (Rmult_1_l K), <- P1, <- sum_scal_r.
        apply sum_le; intros j Hj. rewrite Rabs_mult.
      change (scored_P N l h i j) with (scored_attention N l h (Y l) i j).
        rewrite (Rabs_right (scored_attention N l h (Y l) i j)) by (apply Rle_ge; now apply P0).
        apply Rmult_le_compat_l; [now apply P0|now apply HK].
    - rewrite sum_scal_r. apply Rmult_le_compat_r; [exact K0|]. exact (maxf_ub d (fun b => sum d (fun a => Rabs (W N l
      h a b))) b Hb). }
  set (q := fun L => prodf L (fun l => 1 + c l)). 
  assert (q1 : forall L, 1 <= q L).
  { induction L as [|L IH]; [unfold q; cbn [prodf]; lra|]. change (q (S L)) with (q L * (1 + c L)). specialize (c0 L).
    nra. }
  assert (G : forall L i a, (i < n)%nat -> (a < d)%nat -> Rabs (Y L i a) <= q L * m /\ Rabs (Y L i a - Y 0%nat i a) <=
    (q L - 1) * m).
  { induction L as [|L IH]; intros i a Hi Ha.
    - split; [unfold q; cbn [prodf]; rewrite Rmult_1_l; now apply Ent|]. rewrite Rminus_diag_eq, Rabs_R0 by
      reflexivity. unfold q. cbn [prodf]. lra.
    - assert (Qm : 0 <= q L * m) by (specialize (q1 L); apply Rmult_le_pos; lra).
      set (z := sum (heads N) (fun h => vmat d (vmat n (scored_P N L h i) (Y L)) (W N L h) a)).
      assert (E : Y (S L) i a = Y L i a + z) by (unfold Y; rewrite (scored_next N LN), S1, B0; fold Y n d z; unfold z;
        ring).
      assert (Z : Rabs z <= c L * (q L * m)).
      { unfold z, c. eapply Rle_trans; [apply sum_abs|]. rewrite <- sum_scal_r. apply sum_le; intros h _. apply Head;
        auto. intros j b Hj Hb. now apply IH. }
      destruct (IH i a Hi Ha) as [A B]. change (q (S L)) with (q L * (1 + c L)). rewrite E. split.
      + eapply Rle_trans; [apply Rabs_triang|]. lra.
      + replace (Y L i a + z - Y 0%nat i a) with (Y L i a - Y 0%nat i a + z) by ring. eapply Rle_trans;
        [apply Rabs_triang|]. lra. }
  unfold moved. apply maxf_lub; [apply Rmult_le_pos; [change (0 <= q (layers N) - 1); specialize (q1 (layers N));
    lra|exact m0]|]. intros i Hi.
  apply maxf_lub; [apply Rmult_le_pos; [change (0 <= q (layers N) - 1); specialize (q1 (layers N)); lra|exact m0]|].
    intros a Ha. exact (proj2 (G (layers N) i a Hi Ha)).
Qed.

(* ---------- a rotation ---------- *)
(** unstated:diameter-rotary: tokens (1, 1/128) and (1, -1/128), all weights 1, the second place turned by a right angle. *)
Definition right_angle : rotated.
Proof.
  set (N := {| tokens := 2; dim := 2; heads := 1; layers := 1; d_qk := 2; skip_of := 0; lnorm := false;
    W := fun _ _ => eye; W_QK := fun _ _ => eye; key_bias := fun _ _ _ => 0; bias := fun _ _ => 0;
    edges := fun _ _ => 1; input := fun i a => match a with O => 1 | _ => match i with O => / 128 | _ => - / 128 end end |}).
  set (c := fun (_ i _ : nat) => match i with O => 1 | _ => 0 end).
  set (s := fun (_ i _ : nat) => match i with O => 0 | _ => 1 end).
  set (g := fun l (h : nat) (Y : mat) i j => let place := fun k => turned 1 (c l k) (s l k) in
    dot 2 (place i (vmat 2 (Y i) eye)) (place j (vmat 2 (Y j) eye)) / sqrt 2).
  exact {| scored_network := {| plain_network := N; score := g |}; head_size := 2; pairs := 1; cosine_of := c;
    sine_of := s; W_Q := fun _ _ => eye; W_K := fun _ _ => eye; pairs_fit := le_n 2; turned_scores := fun _ _ _ _ _ => eq_refl |}.
Defined.

Theorem refuted_unstated_diameter_rotary : ~ statement_unstated_diameter_rotary.
Proof.
  intro H. set (N := right_angle).
  assert (PN : proper N).
  { split; try (simpl; lia); try (simpl; lra); try discriminate; simpl; intros; [now right|].
    exists 0%nat. split; [lia|reflexivity]. }
  assert (TN : turns_heads N).
  { split; [intros l [|i] j; simpl; ring|]. intros l h a b _ _ Ha Hb. simpl in Ha, Hb. unfold dot. simpl.
    unfold eye. destruct a as [|[|a]], b as [|[|b]]; try lia; simpl; ring. }
  assert (Q := H N PN TN ltac:(intros i k j _ _ _; reflexivity) eq_refl I eq_refl p_1). clear H PN TN.
  assert (r2 : sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra). assert (r0 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (r1 : 4 / 3 <= sqrt 2 <= 3 / 2) by (split; nra).
  assert (D : forall l, diameter (scored_X N l) p_1 = Rabs (scored_X N l 0%nat 0%nat - scored_X N l 1%nat 0%nat)
    + Rabs (scored_X N l 0%nat 1%nat - scored_X N l 1%nat 1%nat)).
  { intro l. change (diam 2 (norm_of 2 p_1) (scored_X N l) = Rabs (scored_X N l 0%nat 0%nat - scored_X N l 1%nat 0%nat)
      + Rabs (scored_X N l 0%nat 1%nat - scored_X N l 1%nat 1%nat)).
    rewrite diam_pair, norm_of_is. unfold length_of, l1, vsub. cbn [sum]. ring. }
  assert (F : form_norm (W_QK N 0%nat 0%nat) p_1 <= 1).
  { apply sup_le_nonneg; [lra|]. intros x (u & v & Hu & Hv & ->). eapply Rle_trans; [apply l1_m|].
    assert (M : maxentry 2 2 eye <= 1).
    { apply maxf_lub; [lra|]. intros i _. apply maxf_lub; [lra|]. intros a _. unfold eye. destruct Nat.eqb;
      rewrite Rabs_right; lra. }
    change (maxentry 2 2 eye * l1 2 u * l1 2 v <= 1). simpl length_of in Hu, Hv.
    assert (0 <= l1 2 u) by (apply sum_nonneg; intros; apply Rabs_pos).
    assert (0 <= l1 2 v) by (apply sum_nonneg; intros; apply Rabs_pos).
    assert (0 <= maxentry 2 2 eye) by apply maxf_pos.
    assert (maxentry 2 2 eye * l1 2 u <= 1 * 1) by (apply Rmult_le_compat; lra).
    assert (0 <= maxentry 2 2 eye * l1 2 u) by (apply Rmult_le_pos; lra).
    assert (maxentry 2 2 eye * l1 2 u * l1 2 v <= 1 * 1) by (apply Rmult_le_compat; lra). lra. }
  assert (F0 := form_norm_nonneg 2 (W_QK N 0%nat 0%nat) p_1).
  change (form_norm (W_QK N 0%nat 0%nat) p_1) with (@form_norm 2 2 (W_QK N 0%nat 0%nat) p_1) in F.
  assert (O : operator_norm (W N 0%nat 0%nat) p_1 <= 1).
  { change (maxf 2 (fun i => sum 2 (fun a => Rabs (eye i a))) <= 1). apply maxf_lub; [lra|]. intros i Hi.
    unfold eye. destruct i as [|[|i]]; [| |lia]; simpl; rewrite Rabs_R1, Rabs_R0; lra. }
  assert (O0 : 0 <= operator_norm (W N 0%nat 0%nat) p_1) by apply maxf_pos.
  assert (D0 : diameter (scored_X N 0%nat) p_1 = / 64).
  { rewrite D. change (Rabs (1 - 1) + Rabs (/ 128 - - / 128) = / 64). rewrite Rminus_diag_eq, Rabs_R0 by reflexivity.
    rewrite Rabs_right by lra. lra. }
  (* attention *)
  set (z := (1 + / 128 * / 128) / sqrt 2). set (y := / 64 / sqrt 2).
  assert (S : forall i j, (i < 2)%nat -> (j < 2)%nat -> score N 0 0 (scored_X N 0) i j = if Nat.eqb i j then z else y).
  { intros i j Hi Hj. unfold z, y. destruct i as [|[|i]], j as [|[|j]]; try lia; cbv -[Rplus Rmult Rminus Ropp Rinv Rdiv sqrt IZR];
      unfold Rdiv; f_equal; lra. }
  set (e := exp z). set (f := exp y). assert (e0 : 0 < e) by apply exp_pos. assert (f0 : 0 < f) by apply exp_pos.
  assert (A : forall i j, (i < 2)%nat -> (j < 2)%nat ->
    scored_attention N 0 0 (scored_X N 0) i j = (if Nat.eqb i j then e else f) / (e + f)).
  { intros i j Hi Hj. unfold scored_attention, softmax, tilt. change (tokens N) with 2%nat. cbn [sum].
    rewrite !S by lia. change (edges N i j) with 1. change (edges N i 0%nat) with 1. change (edges N i 1%nat) with 1.
    destruct i as [|[|i]], j as [|[|j]]; try lia; simpl; fold e f; field; lra. }
  assert (X1 : forall i, (i < 2)%nat -> scored_X N 1 i 1%nat = (if Nat.eqb i 0 then e - f else f - e) / (e + f) / 128).
  { intros i Hi. change (0 * scored_X N 0 i 1%nat + (0 + sum 2 (fun a => (0 + scored_attention N 0 0 (scored_X N 0) i 0%nat
      * scored_X N 0 0%nat a + scored_attention N 0 0 (scored_X N 0) i 1%nat * scored_X N 0 1%nat a) * eye a 1%nat)) + 0 =
      (if Nat.eqb i 0 then e - f else f - e) / (e + f) / 128).
    assert (X0 : forall i a, scored_X N 0 i a = match a with O => 1 | _ => match i with O => / 128 | _ => - / 128 end end)
      by reflexivity.
    rewrite !A by lia. cbn [sum]. rewrite !X0. unfold eye. destruct i as [|[|i]]; try lia; cbn [Nat.eqb]; field; lra. }
  assert (G : f * (3 / 2) <= e).
  { unfold e, f. replace z with (y + (z - y)) by ring. rewrite exp_plus. apply Rmult_le_compat_l; [left; apply exp_pos|].
    assert (H : 1 / 2 <= z - y).
    { unfold z, y. replace ((1 + / 128 * / 128) / sqrt 2 - / 64 / sqrt 2) with ((1 + / 128 * / 128 - / 64) * / sqrt 2) by (field; lra).
      assert (/ (3 / 2) <= / sqrt 2) by (apply Rinv_le_contravar; lra). lra. }
    assert (T := exp_ineq1_le (z - y)). lra. }
  assert (D1 : / 320 <= diameter (scored_X N 1%nat) p_1).
  { rewrite D. rewrite !X1 by lia. cbn [Nat.eqb].
    replace ((e - f) / (e + f) / 128 - (f - e) / (e + f) / 128) with ((e - f) * / (e + f) / 64) by (field; lra).
    assert (T : / 5 <= (e - f) * / (e + f)).
    { apply Rmult_le_reg_r with (e + f); [lra|]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    rewrite (Rabs_right ((e - f) * / (e + f) / 64)) by lra.
    assert (0 <= Rabs (scored_X N 1 0%nat 0%nat - scored_X N 1 1%nat 0%nat)) by apply Rabs_pos. lra. }
  apply (Rlt_irrefl (/ 320)). eapply Rle_lt_trans; [exact D1|]. eapply Rle_lt_trans; [exact Q|].
  rewrite D0. change (layers N) with 1%nat. change (heads N) with 1%nat. change (d_qk N) with 2. cbn [recursion sum].
  set (o := operator_norm _ _) in *. set (w := form_norm _ _) in *.
  assert (c0 : 0 < / (4 * sqrt 2)) by (apply Rinv_0_lt_compat; lra).
  assert (c1 : / (4 * sqrt 2) <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  assert (T0 : 0 <= w * (/ 64) ^ 2 / (4 * sqrt 2)) by (unfold Rdiv; repeat apply Rmult_le_pos; lra).
  assert (T1 := tanh_le_id _ T0). assert (T2 := tanh_nonneg _ T0).
  assert (T3 : w * (/ 64) ^ 2 / (4 * sqrt 2) <= / 64).
  { unfold Rdiv. apply Rle_trans with (/ 4096 * 1); [|lra]. apply Rmult_le_compat; try lra. }
  assert (o * / 64 * tanh (w * (/ 64) ^ 2 / (4 * sqrt 2)) <= / 64 * / 64) by (apply Rmult_le_compat; lra). lra.
Qed.
