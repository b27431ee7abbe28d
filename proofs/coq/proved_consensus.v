(** Registered statements about attention near consensus, as Statements.v prints them: the spectrum there, the
    derivative, the rate under a causal mask, relative positions, the diameter with rotary and additive positions. *)
Require Import Reals Lra Lia Psatz ZArith.
From Coquelicot Require Import Coquelicot.
From Rankmath Require own_tv own_mask_rate.
From Rankmath Require Import Definitions Functions Norms Softmax Language LanguageFacts NetworkFacts Statements
  proved_positions.
Local Open Scope R_scope.

Lemma l2_ext d u v : (forall a, u a = v a) -> l2 d u = l2 d v.
Proof. apply (sn_ext (L2 d)). Qed.

(* ---------- the spectrum ---------- *)
Definition entry_size : seminorm.
Proof.
  refine {| sn := fun u => Rabs (u 0%nat) |}; [intros; apply Rabs_triang|intros; apply Rabs_mult].
Defined.

Lemma osc_dobrushin n (P : matrix n n) (z : vector n) t : (0 < n)%nat -> Definitions.row_stochastic n n P ->
  osc (applied P t z) <= 1 * dobrushin P ^ t * osc z.
Proof.
  intros n0 [P0 P1]. rewrite Rmult_1_l. induction t as [|t IH]; [simpl; lra|]. set (x := applied P t z) in *.
  assert (Dn : 0 <= dobrushin P) by (eapply Rle_trans; [|apply (dobrushin_ub n n P 0%nat 0%nat n0 n0)];
    apply Rmult_le_pos; [lra|apply sum_nonneg; intros; apply Rabs_pos]).
  apply Rle_trans with (dobrushin P * osc x); [|cbn [pow]; rewrite Rmult_assoc; now apply Rmult_le_compat_l].
  apply own_mask_rate.osc_lub; [exact n0|]. intros j k Hj Hk. cbn [applied]. fold x.
  eapply Rle_trans; [apply Rle_abs|]. unfold dot. rewrite <- sum_minus.
  rewrite (sum_ext n _ (fun a => (P j a - P k a) * x a)) by (intros; ring).
  assert (T := own_tv.transport entry_size n (fun a => P j a - P k a) (fun a _ => x a) (osc x)).
    cbn [sn entry_size] in T.
  eapply Rle_trans; [apply T|].
  - rewrite sum_minus. assert (E := P1 j Hj). assert (F := P1 k Hk). change (sum n (P j) - sum n (P k) = 0). lra.
  - intros a b Ha Hb. unfold vsub. apply Rabs_le. assert (A := osc_spec n x a b Ha Hb).
    assert (B := osc_spec n x b a Hb Ha). lra.
  - apply Rmult_le_compat_r; [now apply osc_nonneg|]. now apply dobrushin_ub.
Qed.

Lemma spectrum_bounds n (P : matrix n n) : (0 < n)%nat -> Definitions.row_stochastic n n P ->
  Rabs (sum n (fun i => diagonal P i) - 1) <= (INR n - 1) * second_modulus P /\ second_modulus P <= dobrushin P.
Proof.
  intros n0 St. assert (D : 0 <= dobrushin P /\ exists c, 0 <= c /\ forall t (z : vector n),
    osc (applied P t z) <= c * dobrushin P ^ t * osc z).
  { split; [|exists 1; split; [lra|intros; now apply osc_dobrushin]].
    eapply Rle_trans; [|apply (dobrushin_ub n n P 0%nat 0%nat n0 n0)].
    apply Rmult_le_pos; [lra|apply sum_nonneg; intros; apply Rabs_pos]. }
  split; [|apply (inf_lb _ 0); [now intros y [y0 _]|exact D]].
  destruct n as [|m]; [lia|]. replace (INR (S m) - 1) with (INR m) by (rewrite S_INR; ring).
  assert (Q : forall q, (0 <= q /\ exists c, 0 <= c /\ forall t (z : vector (S m)), osc (applied P t z) <= c * q ^ t *
    osc z) -> Rabs (sum (S m) (fun i => diagonal P i) - 1) <= INR m * q).
  { intros q [q0 [c [c0 H]]]. apply (own_mask_rate.mask_rate_abs m P q c); try assumption. apply St. }
  destruct m as [|m]; [specialize (Q _ D); simpl (INR 0) in *; lra|].
  assert (m0 : 0 < INR (S m)) by (apply lt_0_INR; lia).
  apply Rmult_le_reg_l with (/ INR (S m)); [now apply Rinv_0_lt_compat|].
  rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra. apply inf_ge; [now exists (dobrushin P)|]. intros q Hq.
  apply Rmult_le_reg_l with (INR (S m)); [exact m0|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. now apply Q.
Qed.

Theorem proved_own_consensus_spectrum : statement_own_consensus_spectrum.
Proof.
  intros N PN _ _ _ l _ h _. apply spectrum_bounds; [apply (some_tokens N PN)|].
  split; intros; now apply (scored_row N PN l h (consensus N l)).
Qed.

(* ---------- the derivative ---------- *)
Theorem proved_own_consensus_derivative : statement_own_consensus_derivative.
Proof.
  intros N PN _ _ _ l _. set (n := tokens N). set (d := dim N). set (Y := scored_X N l).
  assert (n0 := some_tokens N PN). apply largest_lub; [exact n0|]. intros i Hi.
  set (u := fun h a => sum n (fun j => (scored_P N l h i j - scored_P0 N l h i j) * Y j a)).
  rewrite (l2_ext d _ (fun b => sum (heads N) (fun h => vmat d (u h) (W N l h) b))).
  2: { intro b. unfold made. fold n d Y. rewrite <- (Rplus_0_r (sum (heads N) (fun h => vmat d (u h) _ b))).
       transitivity (sum (heads N) (fun h => vmat d (vmat n (scored_P N l h i) Y) (W N l h) b
         - vmat d (vmat n (scored_P0 N l h i) (consensus N l)) (W N l h) b
         - vmat d (vmat n (scored_P0 N l h i) (fun j a => Y j a - consensus N l j a)) (W N l h) b) + 0).
       - rewrite !sum_minus. unfold scored_P, scored_P0. fold Y. ring.
       - f_equal. apply sum_ext; intros h _. rewrite !vmat_sub. apply vmat_ext; intros a _. unfold vsub, u, vmat.
         rewrite <- !sum_minus. apply sum_ext; intros; ring. }
  eapply Rle_trans; [apply (sn_sum1 (L2 d))|]. rewrite <- sum_scal_r. apply sum_le; intros h _.
  eapply Rle_trans; [apply spectral_bound|]. rewrite Rmult_assoc. apply Rmult_le_compat_l; [apply spectral_nonneg|].
  eapply Rle_trans; [apply (own_tv.transport (L2 d) n _ Y (diameter Y p_2))|].
  - rewrite sum_minus. destruct (scored_row N PN l h Y i Hi) as (_ & _ & A).
    destruct (scored_row N PN l h (consensus N l) i Hi) as (_ & _ & B).
    change (sum n (scored_attention N l h Y i) - sum n (scored_attention N l h (consensus N l) i) = 0).
    unfold n. lra.
  - intros a b Ha Hb. exact (diam_ub n (l2 d) Y a b Ha Hb).
  - apply Rmult_le_compat_r; [apply diameter_nonneg|]. exact (consensus_tv N PN l h i Hi).
Qed.

(* ---------- the rate under a causal mask ---------- *)
Theorem proved_own_causal_rate : statement_own_causal_rate.
Proof.
  intros N PN M N2 H1 LN Ml S0. set (n := tokens N) in *. set (d := dim N). set (L := layers N).
  assert (L0 : (0 < L)%nat) by apply (some_layers N PN). set (Y := scored_X N).
  set (r := fun l i => l2 d (vsub (Y l i) (Y l 0%nat))).
  assert (r0 : forall l i, 0 <= r l i) by (intros; apply l2_nonneg).
  assert (rz : forall l, r l 0%nat = 0) by (intro l; unfold r; rewrite (l2_ext d _ (fun _ => 0)) by (intro;
    unfold vsub; ring); apply l2_zero).
  assert (Up : forall l i, (i < n)%nat -> r l i <= reach (Y l)) by (intros l i Hi;
    exact (largest_ub n (fun i => l2 d (vsub (Y l i) (Y l 0%nat))) i Hi)).
  split.
  { apply Rle_ge. eapply Rle_trans; [apply Rge_le, (proj1 (proved_own_consensus_second N PN M N2 H1 LN Ml S0))|].
    eapply Rle_trans; [|apply (Up L 1%nat); lia]. right. unfold first_gap, r. apply (sn_sym (L2 d)). }
  assert (IL : 1 <= INR L) by (apply (le_INR 1); lia). set (e := 1 / INR L).
  assert (e0 : 0 < e) by (apply Rdiv_lt_0_compat; lra).
  assert (e1 : e <= 1) by (unfold e; apply Rmult_le_reg_r with (INR L); [lra|]; field_simplify; lra).
  assert (eL : e * INR L = 1) by (unfold e; field; lra).
  set (m := fun l => largest n (fun i => e ^ i * r l i)).
  assert (pe : forall k, 0 < e ^ k) by (intro; now apply pow_lt).
  assert (mi : forall l i, (i < n)%nat -> e ^ i * r l i <= m l) by (intros l i Hi;
    exact (largest_ub n (fun i => e ^ i * r l i) i Hi)).
  assert (m0 : forall l, 0 <= m l) by (intro l; eapply Rle_trans; [|apply (mi l 0%nat); lia]; simpl; rewrite rz; lra).
  set (q := fun l => norm_2 (W N l 0%nat) * (e + (1 - e) * other_share (scored_P0 N l 0%nat)
    * exp (consensus_shift N l 0%nat))).
  assert (Sh : forall l i, (0 < i < n)%nat -> scored_P N l 0%nat i i <= other_share (scored_P0 N l 0%nat)
    * exp (consensus_shift N l 0%nat)).
  { intros l i Hi. eapply Rle_trans; [apply (edge_share N PN l 0%nat i i); fold n; lia|].
    apply Rmult_le_compat_r; [left; apply exp_pos|]. destruct i as [|i]; [lia|].
    apply (largest_ub (n - 1) (fun i => scored_P0 N l 0%nat (S i) (S i)) i). lia. }
  assert (Step : forall l, m (S l) <= q l * m l).
  { intro l. assert (Q0 : 0 <= q l * m l).
    { apply Rmult_le_pos; [|apply m0]. apply Rmult_le_pos; [apply spectral_nonneg|].
      apply Rplus_le_le_0_compat; [lra|]. rewrite Rmult_assoc. apply Rmult_le_pos; [lra|].
      eapply Rle_trans; [|apply (Sh l 1%nat); lia]. apply (scored_row N PN l 0%nat (Y l) 1%nat); fold n; lia. }
    apply largest_lub; [lia|]. intros i Hi. destruct (Nat.eq_dec i 0) as [->|Ni]; [rewrite rz, Rmult_0_r; exact Q0|].
    destruct (scored_row N PN l 0%nat (Y l) i Hi) as (_ & Pp & P1).
    set (P := scored_P N l 0%nat i). change (scored_attention N l 0%nat (Y l) i) with P in *.
    assert (R1 : r (S l) i <= norm_2 (W N l 0%nat) * sum n (fun j => P j * r l j)).
    { unfold r at 1. rewrite (l2_ext d _ (vmat d (fun a => sum n (fun j => P j * vsub (Y l j) (Y l 0%nat) a))
        (W N l 0%nat))).
      - eapply Rle_trans; [apply spectral_bound|]. apply Rmult_le_compat_l; [apply spectral_nonneg|].
        eapply Rle_trans; [apply (sn_sum (L2 d))|]. right. apply sum_ext; intros j Hj. f_equal. apply Rabs_pos_eq.
        now apply Pp.
      - intro b. unfold vsub at 1, Y. rewrite !(scored_next N LN), S0, H1. fold n d. cbn [sum].
        transitivity (vmat d (vmat n (scored_P N l 0%nat i) (Y l)) (W N l 0%nat) b
          - vmat d (vmat n (scored_P N l 0%nat 0%nat) (Y l)) (W N l 0%nat) b); [unfold Y; ring|].
        rewrite vmat_sub. apply vmat_ext; intros a _. unfold vsub at 1. fold P.
        assert (F : vmat n (scored_P N l 0%nat 0%nat) (Y l) a = Y l 0%nat a).
        { unfold vmat. rewrite (sum_ext n _ (fun j => (if Nat.eqb j 0 then 1 else 0) * Y l j a)) by (intros j Hj;
            f_equal; exact (first_row N PN M N2 l 0%nat (Y l) j Hj)).
          rewrite (sum_single n _ 0%nat); [simpl; ring|lia|].
          intros j _ Hj. destruct (Nat.eqb_spec j 0); [congruence|ring]. }
        rewrite F. transitivity (vmat n P (Y l) a - Y l 0%nat a); [reflexivity|]. symmetry.
        transitivity (sum n (fun j => P j * Y l j a - P j * Y l 0%nat a)); [apply sum_ext; intros; unfold vsub, Y;
          ring|].
        rewrite sum_minus, sum_scal_r. change (sum n P) with (sum (tokens N) P). rewrite P1. unfold vmat. ring. }
    assert (R2 : e ^ i * sum n (fun j => P j * r l j) <= (e + (1 - e) * P i) * m l).
    { apply Rle_trans with (sum n (fun j => P j * (if Nat.eqb j i then 1 else e)) * m l).
      - rewrite <- sum_scal, <- sum_scal_r. apply sum_le; intros j Hj.
        apply Rle_trans with (P j * (e ^ i * r l j)); [right; ring|]. rewrite Rmult_assoc.
        destruct (Nat.lt_ge_cases i j) as [C|C].
        + assert (Z : P j = 0) by (unfold P, scored_P, scored_attention, softmax, tilt; rewrite M by (fold n; lia);
            destruct (Nat.leb_spec j i); [lia|unfold Rdiv; ring]). rewrite Z. lra.
        + apply Rmult_le_compat_l; [now apply Pp|]. destruct (Nat.eqb_spec j i) as [->|E];
            [rewrite Rmult_1_l; now apply mi|].
          replace i with (j + S (i - j - 1))%nat at 1 by lia. rewrite pow_add. cbn [pow].
          assert (A := mi l j Hj). assert (B : e ^ (i - j - 1) <= 1) by (rewrite <- (pow1 (i - j - 1)); apply pow_incr;
            lra). assert (C0 := pe (i - j - 1)%nat). assert (D := pe j). assert (G := r0 l j).
          assert (0 <= e ^ j * r l j) by (apply Rmult_le_pos; lra).
          apply Rle_trans with (e * (e ^ j * r l j)); [|apply Rmult_le_compat_l; lra].
          apply Rle_trans with (e * (e ^ j * r l j) * e ^ (i - j - 1)); [right; ring|].
          rewrite <- (Rmult_1_r (e * (e ^ j * r l j))) at 2. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|exact B].
      - apply Rmult_le_compat_r; [apply m0|]. right.
        rewrite (sum_ext n _ (fun j => e * P j + (if Nat.eqb j i then (1 - e) * P j else 0))) by (intros j _;
          destruct (Nat.eqb j i); ring). rewrite sum_plus, sum_scal.
        rewrite (sum_single n (fun j => if Nat.eqb j i then _ else 0) i Hi) by (intros j _ Hj;
          destruct (Nat.eqb_spec j i); [congruence|reflexivity]). rewrite Nat.eqb_refl. unfold n in *. rewrite P1.
            ring. }
    apply Rle_trans with (norm_2 (W N l 0%nat) * ((e + (1 - e) * P i) * m l)).
    - apply Rle_trans with (e ^ i * (norm_2 (W N l 0%nat) * sum n (fun j => P j * r l j))).
      + apply Rmult_le_compat_l; [left; apply pe|exact R1].
      + replace (e ^ i * (norm_2 (W N l 0%nat) * sum n (fun j => P j * r l j))) with (norm_2 (W N l 0%nat) * (e ^ i *
          sum n (fun j => P j * r l j))) by ring. apply Rmult_le_compat_l; [apply spectral_nonneg|exact R2].
    - unfold q. rewrite Rmult_assoc. apply Rmult_le_compat_l; [apply spectral_nonneg|]. apply Rmult_le_compat_r;
      [apply m0|].
      apply Rplus_le_compat_l. rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. apply Sh. lia. }
  assert (q0 : forall l, 0 <= q l).
  { intro l. apply Rmult_le_pos; [apply spectral_nonneg|]. apply Rplus_le_le_0_compat; [lra|]. rewrite Rmult_assoc.
    apply Rmult_le_pos; [lra|]. eapply Rle_trans; [|apply (Sh l 1%nat); lia].
    apply (scored_row N PN l 0%nat (Y l) 1%nat); fold n; lia. }
  assert (All := product_upper m q L (fun l _ => q0 l) (fun l _ => Step l)).
  assert (Start : m 0%nat <= e * reach (Y 0%nat)).
  { apply largest_lub; [lia|]. intros i Hi. assert (A := Up 0%nat i Hi). assert (R := r0 0%nat i). destruct i as [|i].
    - rewrite rz in *. nra.
    - cbn [pow]. assert (B : e ^ i <= 1) by (rewrite <- (pow1 i); apply pow_incr; lra). assert (C := pe i).
      apply Rle_trans with (e * (e ^ i * r 0%nat (S i))); [right; ring|]. apply Rmult_le_compat_l; [lra|]. nra. }
  assert (Pw : power (INR L) (INR n - 2) = INR L ^ (n - 2)).
  { unfold power. destruct (Rle_dec (INR L) 0); [lra|]. replace (INR n - 2) with (INR (n - 2)) by (rewrite minus_INR by
      lia; simpl; ring). apply Rpower_pow. lra. }
  rewrite Pw. change (reach (Y L) <= INR L ^ (n - 2) * prodf L q * reach (Y 0%nat)).
  apply largest_lub; [lia|]. intros i Hi. change (r L i <= INR L ^ (n - 2) * prodf L q * reach (Y 0%nat)).
  apply Rmult_le_reg_l with (e ^ (n - 1)); [apply pe|].
  apply Rle_trans with (e ^ i * r L i).
  { apply Rmult_le_compat_r; [apply r0|]. replace (n - 1)%nat with (i + (n - 1 - i))%nat by lia. rewrite pow_add.
    assert (B : e ^ (n - 1 - i) <= 1) by (rewrite <- (pow1 (n - 1 - i)); apply pow_incr; lra).
    assert (C := pe i). assert (D := pe (n - 1 - i)%nat). nra. }
  eapply Rle_trans; [apply mi; exact Hi|]. eapply Rle_trans; [exact All|].
  assert (Pq : forall k, 0 <= prodf k q) by (induction k as [|k IH]; cbn [prodf]; [lra|]; apply Rmult_le_pos;
    [exact IH|apply q0]).
  eapply Rle_trans; [apply Rmult_le_compat_l; [apply Pq|exact Start]|]. right.
  replace (n - 1)%nat with (S (n - 2)) by lia. cbn [pow].
  assert (E : e ^ (n - 2) * INR L ^ (n - 2) = 1) by (rewrite <- Rpow_mult_distr, eL; apply pow1).
  transitivity (e * (e ^ (n - 2) * INR L ^ (n - 2)) * (prodf L q * reach (Y 0%nat))); [rewrite E|]; ring.
Qed.

(* ---------- relative positions ---------- *)
Theorem proved_own_relative_shares : statement_own_relative_shares.
Proof.
  intros N PN M [B HB] N3 _ _ _ l _ h _. set (n := tokens N) in *. set (C := consensus N l).
  set (g := fun s : Z => logits_of N l h C 0%nat 0%nat + B l h s).
  assert (E : forall i j, score N l h C i j = g (Z.of_nat i - Z.of_nat j)%Z) by (intros; rewrite HB; reflexivity).
  assert (D1 : sum n (fun k => edges N 1%nat k * exp (score N l h C 1%nat k)) = exp (g 1%Z) + exp (g 0%Z)).
  { replace n with (2 + (n - 2))%nat by lia. rewrite sum_split.
    rewrite (sum_ext (n - 2) _ (fun _ => 0)) by (intros j Hj; rewrite M by (fold n; lia); cbn [Nat.add Nat.leb]; ring).
    rewrite sum_zero. cbn [sum]. rewrite !M by (fold n; lia). cbn [Nat.leb]. rewrite !E. simpl. ring. }
  assert (Dn : exp (g 1%Z) + exp (g 0%Z) < sum n (fun k => edges N (n - 1)%nat k * exp (score N l h C (n - 1)%nat k))).
  { rewrite (sum_ext n _ (fun k => exp (g (Z.of_nat (n - 1) - Z.of_nat k)%Z))) by (intros k Hk; rewrite M by (fold n;
      lia); destruct (Nat.leb_spec k (n - 1)); [|lia]; rewrite E; ring).
    replace n with (S (S (S (n - 3)))) at 1 by lia. cbn [sum].
    replace (Z.of_nat (n - 1) - Z.of_nat (S (S (n - 3))))%Z with 0%Z by lia.
    replace (Z.of_nat (n - 1) - Z.of_nat (S (n - 3)))%Z with 1%Z by lia.
    assert (A := exp_pos (g (Z.of_nat (n - 1) - Z.of_nat (n - 3))%Z)).
    assert (S0 : 0 <= sum (n - 3) (fun k => exp (g (Z.of_nat (n - 1) - Z.of_nat k)%Z))) by (apply sum_nonneg; intros;
      left; apply exp_pos). lra. }
  unfold diagonal, scored_P0, scored_attention, softmax, tilt. fold n C. rewrite D1, !M, !Nat.leb_refl, !E by (fold n;
    lia). rewrite !Z.sub_diag. assert (A := exp_pos (g 0%Z)). assert (A1 := exp_pos (g 1%Z)). rewrite !Rmult_1_l.
  apply Rmult_lt_compat_l; [exact A|]. apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; lra|exact Dn].
Qed.

(* ---------- queries and keys that positions move ---------- *)
Section Placed.
Variable N : placed.
Hypothesis PN : proper N.
Hypothesis M : mask_padding N.
Let n := tokens N.

Lemma position_ub l h i k j m : (i < n)%nat -> (k < n)%nat -> (j < n)%nat -> (m < n)%nat -> edges N i j = 1 ->
  edges N i m = 1 -> let B := position N l h in (B i j - B k j) - (B i m - B k m) <= position_range N l h.
Proof.
  intros Hi Hk Hj Hm Ej Em B. set (b := largest n (fun i => largest n (fun j => Rabs (B i j)))).
  assert (Q : forall a c, (a < n)%nat -> (c < n)%nat -> Rabs (B a c) <= b).
  { intros a c Ha Hc. eapply Rle_trans; [apply (largest_ub n (fun j => Rabs (B a j)) c Hc)|].
    apply (largest_ub n (fun i => largest n (fun j => Rabs (B i j))) a Ha). }
  apply (sup_ub _ (4 * b)); [|exists i, k, j, m; now repeat split].
  intros y (a & c & e & f & Ha & Hc & He & Hf & _ & _ & ->). cbv zeta. fold B.
  assert (Q1 := Q a e Ha He). assert (Q2 := Q c e Hc He). assert (Q3 := Q a f Ha Hf). assert (Q4 := Q c f Hc Hf).
  apply Rabs_le_between in Q1, Q2, Q3, Q4. lra.
Qed.

Lemma placed_dobrushin l h : dobrushin (scored_P N l h) <= tanh ((turned_range N l h + position_range N l h) / 4).
Proof.
  assert (n0 := some_tokens N PN). set (Y := scored_X N l). set (s := turned_range N l h + position_range N l h).
  assert (d0 : 0 < sqrt (d_qk N)) by apply sqrt_lt_R0, (some_d_qk N PN).
  apply largest_lub; [exact n0|]. intros i Hi. apply largest_lub; [exact n0|]. intros k Hk.
  apply Rle_trans with (Definitions.tv n (softmax n (edges N i) (score N l h Y i)) (softmax n (edges N i) (score N l h Y
    k))).
  { right. unfold Definitions.tv. f_equal. apply sum_ext; intros j Hj. f_equal. unfold Rminus. f_equal. f_equal.
    apply (tilt_ext n (edges N k) (edges N i) (score N l h Y k)); [intros; now apply M|reflexivity|exact Hj]. }
  apply own_tv.tv_softmax; [now apply (scored_row N PN l h Y i Hi)|]. intros j m Hj Hm Mj Mm.
  assert (Ej := edge_is N PN i j Hi Hj Mj). assert (Em := edge_is N PN i m Hi Hm Mm).
  assert (B := position_ub l h i k j m Hi Hk Hj Hm Ej Em). cbv zeta in B. rewrite !placed_scores.
  set (q := queries N l h Y) in *. set (c := keys N l h Y) in *. set (w := key_size N).
  set (x := dot w (vsub (q i) (q k)) (vsub (c j) (c m))).
  assert (X : x = dot w (q i) (c j) - dot w (q k) (c j) - (dot w (q i) (c m) - dot w (q k) (c m))).
  { unfold x, dot, vsub. rewrite <- !sum_minus. apply sum_ext; intros; ring. }
  assert (X1 : x <= diam n (l2 w) q * diam n (l2 w) c).
  { eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply dot_le_l2|].
    apply Rmult_le_compat; [apply l2_nonneg|apply l2_nonneg|exact (diam_ub n (l2 w) q i k Hi Hk)|exact (diam_ub n (l2
      w) c
      j m Hj Hm)]. }
  apply Rle_trans with (x / sqrt (d_qk N) + position_range N l h); [rewrite X; unfold Rdiv; lra|].
  apply Rplus_le_compat_r. apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|exact X1].
Qed.
End Placed.

Theorem proved_own_positions_diameter : statement_own_positions_diameter.
Proof.
  intros N PN M LN _ S0. assert (T : forall l h, 0 <= tanh ((turned_range N l h + position_range N l h) / 4)) by
    (intros;
    eapply Rle_trans; [apply (dobrushin_nonneg N PN l h)|now apply placed_dobrushin]).
  apply (product_upper (fun l => diameter (scored_X N l) p_2)); intros l _.
  - apply sum_nonneg; intros h _. apply Rmult_le_pos; [apply spectral_nonneg|apply T].
  - eapply Rle_trans; [now apply (diameter_step N PN LN p_2 l)|]. rewrite S0, Rabs_R0, Rplus_0_l.
    apply Rmult_le_compat_r; [apply diameter_nonneg|]. apply sum_le; intros h _.
    apply Rmult_le_compat_l; [apply spectral_nonneg|now apply placed_dobrushin].
Qed.

(* ---------- rotations, values that shrink ---------- *)
Lemma sum_pairs m (f : nat -> R) : sum (2 * m) f = sum m (fun j => f (2 * j)%nat + f (S (2 * j))).
Proof.
  induction m as [|m IH]; [reflexivity|]. replace (2 * S m)%nat with (S (S (2 * m))) by lia. cbn [sum]. rewrite IH.
    ring.
Qed.

(** Turning lengthens by the root of the largest c² + s², or of 1. *)
Lemma turned_length k m (c s q : vec) t : (2 * m <= k)%nat -> 1 <= t -> (forall j, (j < m)%nat -> c j ^ 2 + s j ^ 2
  <= t)
  -> dot k (turned m c s q) (turned m c s q) <= t * dot k q q.
Proof.
  intros Hm t1 Ht. unfold dot. replace k with (2 * m + (k - 2 * m))%nat by lia. rewrite !sum_split, Rmult_plus_distr_l.
  apply Rplus_le_compat.
  - rewrite !sum_pairs, <- sum_scal. apply sum_le; intros j Hj. unfold turned.
    rewrite Nat.div2_double, Nat.div2_succ_double. destruct (Nat.ltb_spec j m); [|lia].
    replace (Nat.even (2 * j)) with true by (symmetry; apply Nat.even_spec; now exists j).
    replace (Nat.even (S (2 * j))) with false by (rewrite Nat.even_succ, <- Nat.negb_even;
      replace (Nat.even (2 * j)) with true by (symmetry; apply Nat.even_spec; now exists j); reflexivity).
    cbn [pred]. set (a := q (2 * j)%nat). set (b := q (S (2 * j))). specialize (Ht j Hj).
    replace ((a * c j - b * s j) * (a * c j - b * s j) + (b * c j + a * s j) * (b * c j + a * s j)) with
      ((c j ^ 2 + s j ^ 2) * (a * a + b * b)) by ring. apply Rmult_le_compat_r; [nra|exact Ht].
  - rewrite <- sum_scal. apply sum_le; intros j Hj. unfold turned.
    assert (D : (m <= Nat.div2 (2 * m + j))%nat) by (rewrite Nat.div2_div; apply Nat.div_le_lower_bound; lia).
    destruct (Nat.ltb_spec (Nat.div2 (2 * m + j)) m); [lia|]. set (a := q (2 * m + j)%nat). nra.
Qed.

Definition placed_of (N : rotated) : placed.
Proof.
  refine {| scored_placed := N; key_size := head_size N; key_term := fun _ _ _ _ => 0; position := fun _ _ _ _ => 0;
    queries := fun l h Y i => turned (pairs N) (cosine_of N l i) (sine_of N l i) (vmat (dim N) (Y i) (W_Q N l h));
    keys := fun l h Y j => turned (pairs N) (cosine_of N l j) (sine_of N l j) (vmat (dim N) (Y j) (W_K N l h)) |}.
  intros. rewrite (turned_scores N). cbv zeta. ring.
Defined.

Lemma diam_lengths n w (Q : mat) r : 0 <= r -> (forall i, (i < n)%nat -> l2 w (Q i) <= r) -> diam n (l2 w) Q <= 2 * r.
Proof.
  intros r0 H. apply diam_lub; [lra|]. intros i k Hi Hk. assert (A := H i Hi). assert (B := H k Hk).
  assert (T := sn_add (L2 w) (Q i) (fun a => -1 * Q k a)). rewrite sn_scal, Rabs_left in T by lra.
  change (L2 w (Q i)) with (l2 w (Q i)) in T. change (L2 w (Q k)) with (l2 w (Q k)) in T.
  rewrite (l2_ext w (vsub (Q i) (Q k)) (fun a => Q i a + -1 * Q k a)) by (intro; unfold vsub; ring).
  change (l2 w (fun a => Q i a + -1 * Q k a)) with (L2 w (fun a => Q i a + -1 * Q k a)). lra.
Qed.

Theorem proved_own_shrinking_values : statement_own_shrinking_values.
Proof.
  intros N PN s c M _ B0 _ LN _ S0. set (n := tokens N). set (d := dim N). set (L := layers N).
    set (Y := scored_X N).
  assert (n0 := some_tokens N PN). assert (L0 := some_layers N PN). assert (H0 := some_heads N PN).
  assert (d0 : 0 < sqrt (d_qk N)) by apply sqrt_lt_R0, (some_d_qk N PN).
  assert (sl : forall l, (l < L)%nat -> sum (heads N) (fun h => norm_2 (W N l h)) <= s) by (intros l Hl;
    exact (largest_ub L (fun l => sum (heads N) (fun h => norm_2 (W N l h))) l Hl)).
  assert (sp : forall l, 0 <= sum (heads N) (fun h => norm_2 (W N l h))) by (intro; apply sum_nonneg; intros;
    apply spectral_nonneg).
  assert (s0 : 0 <= s) by (eapply Rle_trans; [apply (sp 0%nat)|now apply sl]).
  assert (cl : forall l h, (l < L)%nat -> (h < heads N)%nat -> lengthening N l h <= c).
  { intros l h Hl Hh. eapply Rle_trans; [apply (largest_ub (heads N) (fun h => lengthening N l h) h Hh)|].
    exact (largest_ub L (fun l => largest (heads N) (fun h => lengthening N l h)) l Hl). }
  assert (lp : forall l h, 0 <= lengthening N l h).
  { intros. apply Rmult_le_pos; [|eapply Rle_trans; [|apply Rmax_l]; lra]. apply Rmult_le_pos;
    [apply Rmult_le_pos; apply spectral_nonneg|left; now apply Rinv_0_lt_compat]. }
  assert (c0 : 0 <= c) by (eapply Rle_trans; [apply (lp 0%nat 0%nat)|now apply cl]).
  set (r := longest (Y 0%nat)). assert (r0 : 0 <= r) by apply maxf_pos.
  (* lengths *)
  assert (Len : forall l i, (l <= L)%nat -> (i < n)%nat -> l2 d (Y l i) <= s ^ l * r).
  { induction l as [|l IH]; intros i Hl Hi.
    - simpl. rewrite Rmult_1_l. exact (maxf_ub n (fun i => l2 d (Y 0%nat i)) i Hi).
    - assert (P0 : 0 <= s ^ l * r) by (apply Rmult_le_pos; [now apply pow_le|exact r0]).
      rewrite (l2_ext d _ (fun b => sum (heads N) (fun h => vmat d (vmat n (scored_P N l h i) (Y l)) (W N l h) b))).
      2: { intro b. unfold Y. rewrite (scored_next N LN), S0, B0. fold n d. ring. }
      eapply Rle_trans; [apply (sn_sum1 (L2 d))|].
      apply Rle_trans with (sum (heads N) (fun h => norm_2 (W N l h)) * (s ^ l * r)).
      + rewrite <- sum_scal_r. apply sum_le; intros h _. eapply Rle_trans; [apply spectral_bound|].
        apply Rmult_le_compat_l; [apply spectral_nonneg|]. destruct (scored_row N PN l h (Y l) i Hi) as (_ & Pp & P1).
        eapply Rle_trans; [apply (sn_sum (L2 d) n (scored_P N l h i) (Y l))|].
        apply Rle_trans with (sum n (fun j => scored_attention N l h (Y l) i j * (s ^ l * r))).
        * apply sum_le; intros j Hj. rewrite Rabs_pos_eq by (now apply Pp). apply Rmult_le_compat_l; [now apply Pp|].
          apply IH; [lia|exact Hj].
        * rewrite sum_scal_r. unfold n. rewrite P1. lra.
      + cbn [pow]. rewrite Rmult_assoc. apply Rmult_le_compat_r; [exact P0|]. apply sl. lia. }
  (* one layer *)
  assert (Step : forall l, (l < L)%nat -> diameter (Y (S l)) p_2 <= s * (c * (s ^ l * r) ^ 2) * diameter (Y l) p_2).
  { intros l Hl. eapply Rle_trans; [now apply (diameter_step N PN LN p_2 l)|]. rewrite S0, Rabs_R0, Rplus_0_l.
    apply Rmult_le_compat_r; [apply diameter_nonneg|].
    set (z := c * (s ^ l * r) ^ 2). assert (z0 : 0 <= z) by (apply Rmult_le_pos; [exact c0|apply pow2_ge_0]).
    apply Rle_trans with (sum (heads N) (fun h => norm_2 (W N l h)) * z);
      [|apply Rmult_le_compat_r; [exact z0|now apply sl]].
    rewrite <- sum_scal_r. apply sum_le; intros h Hh. apply Rmult_le_compat_l; [apply spectral_nonneg|].
    set (Q := placed_of N). assert (D := placed_dobrushin Q PN M l h). eapply Rle_trans; [exact D|].
    assert (Pz : position_range Q l h <= 0) by (apply sup_le_nonneg; [lra|];
      intros y (a & b & e & f & _ & _ & _ & _ & _ &
      _ & ->); simpl; lra).
    set (t := Rmax 1 (largest n (fun i => largest (pairs N) (fun j => cosine_of N l i j ^ 2 + sine_of N l i j ^ 2)))).
    assert (t1 : 1 <= t) by apply Rmax_l. assert (st := sqrt_sqrt t ltac:(lra)). assert (st0 := sqrt_pos t).
    assert (Sz : 0 <= s ^ l * r) by (apply Rmult_le_pos; [now apply pow_le|exact r0]).
    assert (Tl : forall i (v : vec), (i < n)%nat -> l2 (head_size N) (turned (pairs N) (cosine_of N l i) (sine_of N l
      i) v)
      <= sqrt t * l2 (head_size N) v).
    { intros i v Hi. unfold l2. rewrite <- sqrt_mult; [|lra|apply dot_pos]. apply sqrt_le_1_alt.
      apply turned_length; [apply pairs_fit|exact t1|]. intros j Hj. eapply Rle_trans; [|apply Rmax_r].
      eapply Rle_trans; [|apply (largest_ub n (fun i => largest (pairs N) (fun j => cosine_of N l i j ^ 2 + sine_of N
        l i j
        ^ 2)) i Hi)]. apply (largest_ub (pairs N) (fun j => cosine_of N l i j ^ 2 + sine_of N l i j ^ 2) j Hj). }
    assert (Lk : forall (A : matrix d (head_size N)) i, (i < n)%nat -> l2 (head_size N) (turned (pairs N) (cosine_of
      N l i)
      (sine_of N l i) (vmat d (Y l i) A)) <= sqrt t * (spectral A * (s ^ l * r))).
    { intros A i Hi. eapply Rle_trans; [now apply Tl|]. apply Rmult_le_compat_l; [exact st0|].
      eapply Rle_trans; [apply spectral_bound|]. apply Rmult_le_compat_l; [apply spectral_nonneg|].
      apply Len; [lia|exact Hi]. }
    assert (Dk : forall (A : matrix d (head_size N)), diam n (l2 (head_size N)) (fun i => turned (pairs N) (cosine_of
      N l i)
      (sine_of N l i) (vmat d (Y l i) A)) <= 2 * (sqrt t * (spectral A * (s ^ l * r)))).
    { intro A. apply diam_lengths; [|intros; now apply Lk]. apply Rmult_le_pos; [exact st0|]. apply Rmult_le_pos;
      [apply spectral_nonneg|exact Sz]. }
    assert (Rg : turned_range Q l h <= 4 * z).
    { apply Rle_trans with (2 * (sqrt t * (spectral (W_Q N l h) * (s ^ l * r))) * (2 * (sqrt t * (spectral (W_K N l h) *
        (s ^ l * r)))) / sqrt (d_qk N)).
      - apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
        apply Rmult_le_compat; [apply diam_nonneg|apply diam_nonneg|apply (Dk (W_Q N l h))|apply (Dk (W_K N l h))].
      - apply Rle_trans with (4 * (lengthening N l h * (s ^ l * r) ^ 2)).
        + right. unfold lengthening. fold n t. rewrite <- st at 3. field. lra.
        + apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r; [apply pow2_ge_0|now apply cl]. }
    apply Rle_trans with (tanh z); [apply tanh_le; lra|now apply tanh_le_id]. }
  (* all layers *)
  assert (All : forall k, (k <= L)%nat -> diameter (Y k) p_2 <= s ^ (k * k) * (c * r ^ 2) ^ k * diameter (Y 0%nat) p_2).
  { induction k as [|k IH]; intros Hk; [simpl; lra|]. eapply Rle_trans; [apply Step; lia|].
    eapply Rle_trans; [apply Rmult_le_compat_l; [|apply IH; lia]|].
    - apply Rmult_le_pos; [exact s0|]. apply Rmult_le_pos; [exact c0|apply pow2_ge_0].
    - right. replace (S k * S k)%nat with (k * k + (k + k) + 1)%nat by lia. rewrite !pow_add, Rpow_mult_distr.
      cbn [pow].
      rewrite !Rmult_1_r. ring. }
  eapply Rle_trans; [apply All; apply Nat.le_refl|]. right. f_equal. f_equal.
  unfold power. destruct (Rle_dec s 0) as [Z|Z].
  - replace s with 0 by lra. apply pow_i. fold L in L0. nia.
  - rewrite <- Rpower_pow by lra. rewrite mult_INR. f_equal. fold L. ring.
Qed.
