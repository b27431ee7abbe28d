(** Registered statements about products of attention matrices, as Statements.v prints them. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require seed_closure own_position_bias wu2025 wang2022.
From Rankmath Require Import Definitions Norms Language LanguageFacts Statements.
Local Open Scope R_scope.

Theorem proved_seed_closure : statement_seed_closure.
Proof.
  intros t n P Ht Hn St. unfold stochastic_product.
  assert (G : forall s, (s <= t)%nat -> Definitions.row_stochastic n n (from_left P s)); [|apply G; lia].
  induction s as [|s IH]; intros Hs; [apply seed_closure.eye_stochastic|].
  apply seed_closure.mmul_stochastic; [apply IH; lia|apply St; lia].
Qed.

(** A = [[2/3, 1/3], [1/2, 1/2]], z = (2, -3): A z = z/6, and the ratio is 5 at every step. *)
Theorem refuted_wang2022_1 : ~ statement_wang2022_1.
Proof.
  intro H. set (A := (fun i j => match i, j with O, O => 2/3 | O, _ => 1/3 | _, _ => 1/2 end) : matrix 2 2).
  set (z := (fun i => match i with O => 2 | _ => -3 end) : vector 2).
  assert (P : forall t i, (i < 2)%nat -> applied A t z i = (1/6) ^ t * z i).
  { induction t as [|t IH]; intros i Hi; [simpl; ring|]. cbn [applied]. unfold dot. cbn [sum]. rewrite !IH by lia.
    destruct i as [|[|i]]; try lia; cbn [z A]; simpl pow; field. }
  assert (Q : forall t, 0 < (1/6) ^ t) by (intro; apply pow_lt; lra).
  assert (EL : forall t, low_square A z t = (1/6) ^ t * (1/6) ^ t * (1/2)).
  { intro t. unfold low_square, along_one, dot. cbn [sum]. rewrite !P by lia. cbn [z]. simpl INR. field. }
  assert (EH : forall t, high_square A z t = (1/6) ^ t * (1/6) ^ t * (1/2) * (5 * 5)).
  { intro t. unfold high_square, along_one, dot, vsub. cbn [sum]. rewrite !P by lia. cbn [z]. simpl INR. field. }
  assert (PS : positive_stochastic A).
  { split; [intros [|[|i]] [|[|j]] Hi Hj; cbn [A]; lra|]. intros i Hi.
    destruct i as [|[|i]]; try lia; cbn [sum A]; lra. }
  assert (NZ : never_zero A z).
  { intro t. exists 0%nat. split; [lia|]. rewrite P by lia. cbn [z]. specialize (Q t). lra. }
  destruct (H 2%nat A z ltac:(lia) PS NZ) as [_ L].
  assert (L5 : is_lim_seq (fun t => sqrt (high_square A z t) / sqrt (low_square A z t)) 5).
  { apply is_lim_seq_ext with (u := fun _ => 5); [|apply is_lim_seq_const]. intro t. rewrite EL, EH.
    assert (0 < (1/6) ^ t * (1/6) ^ t * (1/2)) by (specialize (Q t); nra).
    assert (0 < sqrt ((1/6) ^ t * (1/6) ^ t * (1/2))) by (now apply sqrt_lt_R0).
    rewrite (sqrt_mult_alt _ (5 * 5)) by lra. rewrite (sqrt_square 5) by lra. field. lra. }
  assert (U := is_lim_seq_unique _ _ L). rewrite (is_lim_seq_unique _ _ L5) in U. injection U. lra.
Qed.
(** A symmetric A keeps the mean: on a signal of mean 0 nothing is left to divide by. *)
Lemma not_low_pass : ~ @low_pass 2 (fun i j => if Nat.eqb i j then 3/5 else 2/5) (fun i => if Nat.eqb i 0 then 1 else -1).
Proof.
  set (A := (fun i j => if Nat.eqb i j then 3/5 else 2/5) : matrix 2 2).
  set (z := (fun i => if Nat.eqb i 0 then 1 else -1) : vector 2). intros [[s L] _].
  assert (P : forall t i, (i < 2)%nat -> applied A t z i = (1/5) ^ t * z i).
  { induction t as [|t IH]; intros i Hi; [simpl; ring|]. cbn [applied]. unfold dot. cbn [sum]. rewrite !IH by lia.
    destruct i as [|[|i]]; try lia; unfold z, A; cbn [Nat.eqb]; simpl pow; field. }
  specialize (L s (le_n s)). unfold low_square, along_one, dot in L. cbn [sum] in L. rewrite !P in L by lia.
  unfold z in L. cbn [Nat.eqb] in L. simpl INR in L. nra.
Qed.

(* ---------- where attention goes: windows and prefixes ---------- *)
Definition repeated {t n} (P : sequence t n) : nat -> mat := fun s => if Nat.ltb s t then P s else P 0%nat.

Lemma repeated_cases t n (P : sequence t n) s : (0 < t)%nat -> exists s', (s' < t)%nat /\ repeated P s = P s'.
Proof. intros Ht. unfold repeated. destruct (Nat.ltb_spec s t); [now exists s|now exists 0%nat]. Qed.

Lemma weight_repeated t n (P : sequence t n) : weight P = Definitions.steps n (repeated P) 0 t.
Proof.
  unfold weight. assert (G : forall k, (k <= t)%nat -> Definitions.steps n P 0 k = Definitions.steps n (repeated P) 0
    k); [|apply G; lia].
  induction k as [|k IH]; intros Hk; [reflexivity|]. cbn [Definitions.steps]. rewrite IH by lia. f_equal.
  unfold repeated. simpl.
  destruct (Nat.ltb_spec k t); [reflexivity|lia].
Qed.

Lemma repeated_stochastic t n (P : sequence t n) : (0 < t)%nat -> row_stochastic P ->
  forall s, Definitions.row_stochastic n n (repeated P s).
Proof. intros Ht St s. destruct (repeated_cases t n P s Ht) as [s' [Hs ->]]. now apply St. Qed.

Lemma weight_stochastic t n (P : sequence t n) : row_stochastic P -> Definitions.row_stochastic n n (weight P).
Proof.
  intros St. unfold weight. assert (G : forall k, (k <= t)%nat ->
    Definitions.row_stochastic n n (Definitions.steps n P 0 k)); [|apply G; lia].
  induction k as [|k IH]; intros Hk; [apply seed_closure.eye_stochastic|]. cbn [Definitions.steps].
  apply seed_closure.mmul_stochastic; [apply St; lia|apply IH; lia].
Qed.

Section Least.
Context {t n : nat} (P : sequence t n) (sees : nat -> nat -> Prop).
Hypothesis Ht : (0 < t)%nat.
Hypothesis Hn : (0 < n)%nat.
Hypothesis St : row_stochastic P.
Hypothesis self : sees 0%nat 0%nat.
Let S (x : R) : Prop := exists s a b, (s < t)%nat /\ (a < n)%nat /\ (b < n)%nat /\ sees a b /\ x = P s a b.

Lemma least_lower s a b : (a < n)%nat -> (b < n)%nat -> sees a b -> inf_of S <= repeated P s a b.
Proof.
  intros Ha Hb H. destruct (repeated_cases t n P s Ht) as [s' [Hs ->]]. apply (inf_lb S 0); [|now exists s', a, b].
  intros y (s1 & a1 & b1 & H1 & H2 & H3 & _ & ->). now apply (St s1 H1).
Qed.
Lemma least_nonneg : 0 <= inf_of S.
Proof.
  apply inf_ge; [exists (P 0%nat 0%nat 0%nat), 0%nat, 0%nat, 0%nat; auto 8|].
  intros y (s1 & a1 & b1 & H1 & H2 & H3 & _ & ->). now apply (St s1 H1).
Qed.
End Least.

(** The infimum over finitely many positive numbers is positive. *)
Lemma inf_positive {t n} (P : sequence t n) (sees : nat -> nat -> Prop) : (forall a b, {sees a b} + {~ sees a b}) ->
  (0 < t)%nat -> (0 < n)%nat -> sees 0%nat 0%nat ->
  (forall s a b, (s < t)%nat -> (a < n)%nat -> (b < n)%nat -> sees a b -> 0 < P s a b) ->
  0 < inf_of (fun x => exists s a b, (s < t)%nat /\ (a < n)%nat /\ (b < n)%nat /\ sees a b /\ x = P s a b).
Proof.
  intros dec Ht Hn Self Pos. set (f := fun s a b => if dec a b then P s a b else 1).
  assert (F : forall s a b, (s < t)%nat -> (a < n)%nat -> (b < n)%nat -> 0 < f s a b).
  { intros s a b Hs Ha Hb. unfold f. destruct (dec a b); [now apply Pos|lra]. }
  set (m := least t (fun s => least n (fun a => least n (f s a)))).
  assert (M : 0 < m).
  { unfold m. destruct (least_attained t (fun s => least n (fun a => least n (f s a))) Ht) as [s [Hs ->]].
    destruct (least_attained n (fun a => least n (f s a)) Hn) as [a [Ha ->]].
    destruct (least_attained n (f s a) Hn) as [b [Hb ->]]. now apply F. }
  eapply Rlt_le_trans; [exact M|]. apply inf_ge; [exists (P 0%nat 0%nat 0%nat), 0%nat, 0%nat, 0%nat; auto 8|].
  intros x (s & a & b & Hs & Ha & Hb & E & ->). unfold m.
  eapply Rle_trans; [apply (least_lb t _ s Hs)|]. eapply Rle_trans; [apply (least_lb n _ a Ha)|].
  eapply Rle_trans; [apply (least_lb n _ b Hb)|]. unfold f. destruct (dec a b); [lra|contradiction].
Qed.

Lemma tail_le t n (P : sequence t n) J b : (0 < n)%nat ->
  (forall m, (m < n)%nat -> own_position_bias.tail_from n J (weight P) m <= b) -> tail P J <= b.
Proof.
  intros Hn H. apply largest_lub; [exact Hn|]. intros m Hm. eapply Rle_trans; [|apply (H m Hm)]. right.
  apply sum_ext; intros k _. unfold own_position_bias.from. destruct (Nat.leb J k); ring.
Qed.

Lemma share_le t n (P : sequence t n) j b : (0 < n)%nat -> 0 <= b ->
  (forall m, (m < n)%nat -> (j < n)%nat -> weight P m j <= b) -> share P j <= b.
Proof.
  intros Hn Hb H. apply largest_lub; [exact Hn|]. intros m Hm. destruct (Nat.lt_ge_cases j n) as [L|L].
  - rewrite (sum_single n _ j L); [rewrite Nat.eqb_refl; now apply H|]. intros k _ N. apply Nat.eqb_neq in N.
    now rewrite N.
  - rewrite (sum_ext n _ (fun _ => 0)); [rewrite sum_zero; exact Hb|]. intros k Hk.
    destruct (Nat.eqb_spec k j); [lia|reflexivity].
Qed.

Lemma share_nonneg t n (P : sequence t n) j : (0 < n)%nat -> row_stochastic P -> 0 <= share P j.
Proof.
  intros Hn St. eapply Rle_trans; [|apply (largest_ub n _ 0 Hn)]. apply sum_nonneg; intros k Hk.
  destruct (Nat.eqb k j); [|lra]. apply (weight_stochastic t n P St); auto.
Qed.

Lemma reach_same n w : (2 <= n)%nat -> (2 <= w)%nat -> ((n - 1 + (w - 1) - 1) / (w - 1) = (n - 1 + (w - 2)) / (w -
  1))%nat.
Proof. intros. f_equal. lia. Qed.

Theorem proved_own_position_bias : statement_own_position_bias.
Proof.
  intros t n P w Ht Hn St eps reach Hn2 Hw Win i Hi.
  assert (E : reach = ((n - 1 + (w - 2)) / (w - 1))%nat) by (apply reach_same; lia). clearbody reach. subst reach.
  apply tail_le; [exact Hn|]. intros m Hm. rewrite weight_repeated.
  replace (INR i + 1) with (INR (i + 1)) by (rewrite plus_INR; simpl; ring).
  apply (own_position_bias.position_bias_window n w (repeated P) eps); auto; try lia.
  - now apply repeated_stochastic.
  - intros s a b Ha Hb. destruct (repeated_cases t n P s Ht) as [s' [Hs ->]]. now apply Win.
  - apply (least_nonneg P (fun a b => (b <= a < b + w)%nat)); auto; lia.
  - intros s a b Ha Hb H. now apply (least_lower P (fun a b => (b <= a < b + w)%nat)).
Qed.

Theorem proved_wu2025_4_2 : statement_wu2025_4_2.
Proof.
  intros t n P w Ht Hn St eps reach Hn2 Hw Win i Hi.
  assert (E : reach = ((n - 1 + (w - 2)) / (w - 1))%nat) by (apply reach_same; lia). clearbody reach. subst reach.
  replace (INR i + 1) with (INR (i + 1)) by (rewrite plus_INR; simpl; ring).
  set (r := ((n - 1 + (w - 2)) / (w - 1))%nat).
  assert (W' : forall s, own_position_bias.windowed n w (repeated P s)).
  { intros s a b Ha Hb. destruct (repeated_cases t n P s Ht) as [s' [Hs ->]]. now apply Win. }
  assert (E0 : 0 <= eps) by (apply (least_nonneg P (fun a b => (b <= a < b + w)%nat)); auto; lia).
  assert (EL : forall s a b, (a < n)%nat -> (b < n)%nat -> (b <= a < b + w)%nat -> eps <= repeated P s a b).
  { intros s a b Ha Hb H. now apply (least_lower P (fun a b => (b <= a < b + w)%nat)). }
  assert (RS := repeated_stochastic t n P Ht St).
  assert (R0 : 0 <= 1 - INR (i + 1) * eps ^ r) by (apply (own_position_bias.rate_range n w (repeated P) eps); auto;
    lia).
  destruct (Nat.lt_ge_cases (i + 1) n) as [L|L].
  - destruct (largest_attained n (fun m => sum n (fun k => if Nat.eqb k (i + 1) then weight P m k else 0)) Hn) as [m
      [Hm Em]].
    unfold share. rewrite Em. rewrite (sum_single n _ (i + 1) L); [|intros k _ N; apply Nat.eqb_neq in N;
      now rewrite N].
    rewrite Nat.eqb_refl, weight_repeated. apply (wu2025.wu_4_2 n w (repeated P) eps t i m); auto; lia.
  - assert (Z : share P (i + 1) = 0).
    { apply Rle_antisym; [|now apply share_nonneg]. apply share_le; [exact Hn|lra|]. intros; lia. }
    rewrite Z. assert (0 < 2 * r)%nat by (destruct (own_position_bias.reach_spec n w ltac:(lia) Hw) as [Q _];
      change (own_position_bias.reach n w) with r in Q; lia).
    rewrite pow_i by lia. rewrite Rmult_0_l. now apply pow_le.
Qed.

Theorem proved_wu2025_4_1 : statement_wu2025_4_1.
Proof.
  intros t n P Ht Hn St eps Hn2 Win i Hi. replace (INR i + 1) with (INR (S i)) by apply S_INR.
  assert (RS := repeated_stochastic t n P Ht St).
  assert (W' : forall s a b, (a < n)%nat -> (b < n)%nat -> (0 < repeated P s a b <-> (b <= a < b + n)%nat)).
  { intros s a b Ha Hb. destruct (repeated_cases t n P s Ht) as [s' [Hs ->]]. now apply Win. }
  assert (E0 : 0 <= eps) by (apply (least_nonneg P (fun a b => (b <= a < b + n)%nat)); auto; lia).
  assert (EL : forall s a b, (a < n)%nat -> (b <= a)%nat -> eps <= repeated P s a b).
  { intros s a b Ha Hb. apply (least_lower P (fun a b => (b <= a < b + n)%nat)); auto; lia. }
  assert (R0 : 0 <= 1 - INR (S i) * eps).
  { assert (S1 : INR (S i) * eps <= 1); [|lra].
    destruct (RS 0%nat) as [RP R1]. rewrite <- (R1 (n - 1)%nat ltac:(lia)). rewrite <- sum_const.
    apply Rle_trans with (sum n (fun _ => eps)).
    - rewrite !sum_const. apply Rmult_le_compat_r; [exact E0|]. apply le_INR. lia.
    - apply sum_le. intros j Hj. apply EL; lia. }
  apply share_le; [exact Hn|now apply pow_le|]. intros m Hm L. rewrite weight_repeated.
  replace (Definitions.steps n (repeated P) 0 t) with (Definitions.steps n (repeated P) 0 (S (t - 1))) by (f_equal;
    lia).
  apply (wu2025.wu_4_1 n (repeated P) eps i (t - 1) m); auto; try lia.
  intros s a b Ha Hb Hab. destruct (RS s) as [RP _]. apply Rle_antisym; [|now apply RP].
  apply Rnot_lt_le. intro Q. apply (W' s a b Ha Hb) in Q. lia.
Qed.

Lemma prefixed_repeated t n (P : sequence t n) K : (0 < t)%nat -> prefixed P K ->
  forall s, own_position_bias.prefixed n K (repeated P s).
Proof. intros Ht H s a b Ha Hb. destruct (repeated_cases t n P s Ht) as [s' [Hs ->]]. now apply H. Qed.

Theorem proved_own_position_bias_prefix : statement_own_position_bias_prefix.
Proof.
  intros t n P K Ht Hn St eps HK HKn Pre.
  destruct (own_position_bias.position_bias_prefix n K (repeated P) eps t (repeated_stochastic t n P Ht St)
    (prefixed_repeated t n P K Ht Pre)) as [A B].
  { intros s a b Ha Hb H. now apply (least_lower P (fun a b => (b < Nat.max K (a + 1))%nat)). }
  split.
  - intros i Hi. apply tail_le; [exact Hn|]. intros m Hm. rewrite weight_repeated. rewrite <- plus_INR. now apply A.
  - apply Rle_ge, inf_ge; [exists (weight P 0%nat 0%nat), 0%nat, 0%nat; split; [lia|split; [lia|split;
      [lia|reflexivity]]]|].
    intros x (m & j & Hm & Hj & HjK & ->). rewrite weight_repeated. now apply B.
Qed.

Theorem proved_wu2025_4_3 : statement_wu2025_4_3.
Proof.
  intros t n P K Ht Hn St eps HK HKn Pre.
  assert (EL : forall s a b, (a < n)%nat -> (b < n)%nat -> (b < Nat.max K (a + 1))%nat -> eps <= repeated P s a b).
  { intros s a b Ha Hb H. now apply (least_lower P (fun a b => (b < Nat.max K (a + 1))%nat)). }
  assert (E0 : 0 < eps).
  { apply (inf_positive P (fun a b => (b < Nat.max K (a + 1))%nat)); [|exact Ht|exact Hn|lia|].
    - intros a b. apply lt_dec.
    - intros s a b Hs Ha Hb H. now apply (Pre s a b Hs Ha Hb). }
  destruct (wu2025.wu_4_3 n K (repeated P) eps t ltac:(lia) Ht (repeated_stochastic t n P Ht St)
    (prefixed_repeated t n P K Ht Pre) E0 EL) as [A B].
  split.
  - intros i Hi. replace (INR i + 1) with (INR (i + 1)) by (rewrite plus_INR; simpl; ring).
    apply share_le; [exact Hn|apply pow_le, Rmax_l|]. intros m Hm L. rewrite weight_repeated. now apply A.
  - destruct (least_attained n (fun m => least K (weight P m)) Hn) as [m [Hm Em]].
    destruct (least_attained K (weight P m) ltac:(lia)) as [j [Hj Ej]].
    apply Rlt_gt. apply Rlt_le_trans with (weight P m j); [rewrite weight_repeated; apply B; lia|].
    apply inf_ge; [exists (weight P 0%nat 0%nat), 0%nat, 0%nat; split; [lia|split; [lia|split; [lia|reflexivity]]]|].
    intros x (m' & j' & Hm' & Hj' & HjK' & ->). rewrite <- Ej, <- Em.
    eapply Rle_trans; [apply (least_lb n _ m' Hm')|]. now apply least_lb.
Qed.

(* ---------- decaying attention ---------- *)
Lemma exp_ln_pow a k : 0 < a -> exp (INR k * ln a) = a ^ k.
Proof. intros Ha. rewrite <- (Rpower_pow k a Ha). reflexivity. Qed.

(** e^((k - j) m) for a = e^-m. *)
Lemma decay_power a j k : 0 < a -> exp ((INR k - INR j) * - ln a) = a ^ (j - k) / a ^ (k - j).
Proof.
  intros Ha. assert (P : forall q, a ^ q <> 0) by (intro; apply pow_nonzero; lra).
  destruct (Nat.le_gt_cases k j) as [L|L].
  - replace (k - j)%nat with 0%nat by lia. replace ((INR k - INR j) * - ln a) with (INR (j - k) * ln a) by (rewrite
      minus_INR by exact L; ring).
    rewrite exp_ln_pow by exact Ha. simpl. field.
  - replace (j - k)%nat with 0%nat by lia. replace ((INR k - INR j) * - ln a) with (- (INR (k - j) * ln a)) by (rewrite
      minus_INR by lia; ring).
    rewrite exp_Ropp, exp_ln_pow by exact Ha. simpl. field. apply P.
Qed.

Lemma decaying_is n (E : matrix n n) a i j : (forall i j, (i < n)%nat -> (j < n)%nat -> 0 < E i j) -> 0 < a ->
  (i < n)%nat -> (j < n)%nat ->
  decaying E a i j = wu2025.decayed n (fun i j => ln (E i j)) (- ln a) i j.
Proof.
  intros HE Ha Hi Hj. unfold decaying, wu2025.decayed, softmax, tilt.
  assert (T : forall k, (k < n)%nat -> causal i k * exp (ln (E i k) - (INR i - INR k) * - ln a) = causal i k * E i k *
    a ^ (i - k)).
  { intros k Hk. unfold causal. destruct (Nat.leb_spec k i) as [L|L]; [|ring].
    replace (ln (E i k) - (INR i - INR k) * - ln a) with (ln (E i k) + INR (i - k) * ln a) by (rewrite minus_INR by
      exact L; ring).
    rewrite exp_plus, exp_ln by (now apply HE). rewrite exp_ln_pow by exact Ha. ring. }
  rewrite (T j Hj). f_equal. apply sum_ext; intros k Hk. now rewrite T.
Qed.

Lemma causal_range n (E : matrix n n) : (0 < n)%nat -> (forall i j, (i < n)%nat -> (j < n)%nat -> 0 < E i j) ->
  0 < least_causal E /\ 0 < most_causal E /\ forall a b, (a < n)%nat -> (b <= a)%nat ->
  ln (least_causal E) <= ln (E a b) <= ln (most_causal E).
Proof.
  intros Hn HE. unfold least_causal, most_causal.
  assert (L0 : 0 < least n (fun i => least (S i) (E i))).
  { destruct (least_attained n (fun i => least (S i) (E i)) Hn) as [i [Hi ->]].
    destruct (least_attained (S i) (E i) ltac:(lia)) as [j [Hj ->]]. apply HE; lia. }
  assert (B : forall a b, (a < n)%nat -> (b <= a)%nat -> least n (fun i => least (S i) (E i)) <= E a b <= largest n
    (fun i => largest (S i) (E i))).
  { intros a b Ha Hb. split.
    - eapply Rle_trans; [apply (least_lb n _ a Ha)|]. apply least_lb. lia.
    - eapply Rle_trans; [|apply (largest_ub n _ a Ha)]. apply largest_ub. lia. }
  assert (M : forall x y, 0 < x -> x <= y -> ln x <= ln y).
  { intros x y H [L|L]; [left; now apply ln_increasing|right; now rewrite L]. }
  split; [exact L0|split].
  - assert (Q := B 0%nat 0%nat Hn ltac:(lia)). lra.
  - intros a b Ha Hb. destruct (B a b Ha Hb) as [B1 B2]. split; apply M; auto. apply HE; lia.
Qed.

Lemma others_is n a i j : (i < n)%nat -> 0 < a -> wu2025.others n (- ln a) i j =
  sum (S i) (fun k => if Nat.eqb k j then 0 else a ^ (j - k) / a ^ (k - j)).
Proof.
  intros Hi Ha. unfold wu2025.others. replace n with (S i + (n - S i))%nat by lia. rewrite (sum_split (S i)).
  rewrite (sum_ext (n - S i) _ (fun _ => 0)).
  - rewrite sum_zero, Rplus_0_r. apply sum_ext; intros k Hk. unfold causal, eye.
    destruct (Nat.leb_spec k i); [|lia]. rewrite (Nat.eqb_sym j k). destruct (Nat.eqb_spec k j); [ring|].
    rewrite decay_power by exact Ha. ring.
  - intros k Hk. unfold causal. destruct (Nat.leb_spec (S i + k) i); [lia|ring].
Qed.

Theorem proved_own_alibi_decay : statement_own_alibi_decay.
Proof.
  intros n E a _ HE [A0 A1] Hn. destruct (causal_range n E ltac:(lia) HE) as [L0 [M0 B]]. apply largest_lub; [lia|].
  intros i0 Hi0. assert (Hi : (S i0 < n)%nat) by lia. revert Hi. generalize (S i0) as i. intros i Hi.
  apply largest_lub; [lia|]. intros j Hj. rewrite decaying_is by (auto; lia).
  assert (Q := wu2025.alibi_decay n (fun i j => ln (E i j)) (- ln a) _ _ i j Hi ltac:(lia) B).
  unfold Rminus in Q. rewrite exp_plus, exp_Ropp, !exp_ln in Q by assumption.
  rewrite others_is in Q by (auto; lia). exact Q.
Qed.

Theorem proved_wu2025_4_4 : statement_wu2025_4_4.
Proof.
  intros n E a _ HE [A0 A1] Hn. destruct (causal_range n E ltac:(lia) HE) as [L0 [M0 B]]. unfold spread, decay_constant.
  apply sup_le.
  - exists (decaying E a 1%nat 0%nat / a ^ 1), 1%nat, 0%nat. split; [lia|split; [lia|split; [lia|reflexivity]]].
  - intros x (i & j & Hi0 & Hi & Hj & ->). rewrite decaying_is by (auto; lia).
    assert (m0 : 0 < - ln a) by (assert (ln a < ln 1) by (apply ln_increasing; lra); rewrite ln_1 in *; lra).
    assert (Q := wu2025.wu_4_4 n (fun i j => ln (E i j)) (- ln a) _ _ i j m0 B Hi0 Hi Hj).
    rewrite decay_power in Q by exact A0. replace (j - i)%nat with 0%nat in Q by lia.
    rewrite Ropp_involutive, (exp_ln a A0) in Q.
    unfold Rminus in Q. rewrite exp_plus, exp_Ropp, !exp_ln in Q by assumption.
    unfold Rdiv in *. rewrite pow_O, Rmult_1_l in Q. exact Q.
Qed.

Theorem refuted_folk_alibi_theta : ~ statement_folk_alibi_theta.
Proof.
  intro H. specialize (H (1/2) (1/2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)).
  assert (R : forall T, Definitions.steps 2 (fun _ => decaying ((fun _ _ => 1) : matrix 2 2) (1/2)) 0 T 1%nat 1%nat =
    (2/3) ^ T).
  { assert (A : forall T, Definitions.steps 2 (fun _ => decaying ((fun _ _ => 1) : matrix 2 2) (1/2)) 0 T 0%nat 1%nat =
      0
      /\ Definitions.steps 2 (fun _ => decaying ((fun _ _ => 1) : matrix 2 2) (1/2)) 0 T 1%nat 1%nat = (2/3) ^ T);
        [|intro T; apply A].
    induction T as [|T [I0 I1]]; [unfold Definitions.steps, eye; simpl; split; ring|].
    cbn [Definitions.steps]. unfold mmul, vmat. cbn [sum]. rewrite I0, I1. unfold decaying, causal.
    cbn [sum Nat.leb Nat.sub pow].
    split; field. }
  assert (Q := H 1%nat). rewrite R in Q. lra.
Qed.

(* ---------- the stationary mean ---------- *)
Lemma power_is n (A : matrix n n) t z : wang2022.power n A t z = applied A t z.
Proof. induction t as [|t IH]; [reflexivity|]. cbn. now rewrite IH. Qed.

(** Rows with positive entries overlap. *)
Lemma dobrushin_below_one n (A : matrix n n) : (0 < n)%nat -> positive_stochastic A -> 0 <= dobrushin_of A < 1.
Proof.
  intros Hn [P0 P1]. assert (D0 : 0 <= dobrushin_of A).
  { unfold dobrushin_of. eapply Rle_trans; [|apply (largest_ub n _ 0%nat Hn)]. cbv beta.
    eapply Rle_trans; [|apply (largest_ub n _ 0%nat Hn)]. cbv beta. apply Rmult_le_pos; [lra|].
    apply sum_nonneg; intros; apply Rabs_pos. }
 
  split; [exact D0|]. unfold dobrushin_of.
  destruct (largest_attained n (fun i => largest n (fun j => / 2 * sum n (fun k => Rabs (A i k - A j k)))) Hn) as [i
    [Hi ->]].
  destruct (largest_attained n (fun j => / 2 * sum n (fun k => Rabs (A i k - A j k))) Hn) as [j [Hj ->]].
  assert (E : sum n (fun k => Rabs (A i k - A j k)) = 2 - 2 * sum n (fun k => Rmin (A i k) (A j k))).
  { rewrite (sum_ext n _ (fun k => A i k + A j k - 2 * Rmin (A i k) (A j k))).
    - rewrite sum_minus, sum_plus, sum_scal. change (sum n (fun k => A i k)) with (sum n (A i)).
      change (sum n (fun k => A j k)) with (sum n (A j)).
      rewrite !P1 by assumption. ring.
    - intros k _. unfold Rmin. destruct Rle_dec; [rewrite Rabs_left1 by lra|rewrite Rabs_right by lra]; ring. }
  rewrite E. assert (M : forall k, (k < n)%nat -> 0 < Rmin (A i k) (A j k)) by (intros k Hk; apply Rmin_glb_lt;
    now apply P0).
  assert (0 < sum n (fun k => Rmin (A i k) (A j k))); [|lra].
  eapply Rlt_le_trans; [apply (M 0%nat Hn)|]. apply (sum_term_le n (fun k => Rmin (A i k) (A j k)) 0%nat); [intros;
    left; now apply M|exact Hn].
Qed.

(** The stationary distribution gives one mean. *)
Lemma stationary_unique n (A : matrix n n) (z : vector n) pi pi' : (0 < n)%nat -> positive_stochastic A ->
  stationary A pi -> stationary A pi' ->
  dot n pi z = dot n pi' z.
Proof.
  intros Hn PA S S'. destruct (dobrushin_below_one n A Hn PA) as [d0 d1]. set (dl := dobrushin_of A) in *.
  assert (RS : Definitions.row_stochastic n n A) by (destruct PA as [P0 P1]; split; [intros; left;
    now apply P0|exact P1]).
  assert (Inv : forall p, stationary A p -> forall s, dot n p (applied A s z) = dot n p z).
  { intros p [_ [_ Stat]] s. induction s as [|s IH]; [reflexivity|]. rewrite <- IH. cbn [applied].
    set (w := applied A s z). unfold dot at 1 2.
    rewrite (sum_ext n _ (fun i => sum n (fun j => p i * A i j * w j))) by (intros; rewrite <- sum_scal; apply sum_ext;
      intros; ring).
    rewrite sum_swap. apply sum_ext; intros j Hj. rewrite sum_scal_r. f_equal. now apply Stat. }
  assert (Near : forall s, Rabs (dot n pi z - dot n pi' z) <= 2 * (dl ^ s * range_of z)).
  { intro s. rewrite <- (Inv pi S s), <- (Inv pi' S' s). set (y := applied A s z).
    assert (O : forall i k, (i < n)%nat -> (k < n)%nat -> Rabs (y i - y k) <= dl ^ s * range_of z).
    { intros i k Hi Hk. unfold y, dl. rewrite <- power_is.
      now apply wang2022.power_osc. }
    assert (G : forall p, stationary A p -> Rabs (dot n p y - y 0%nat) <= dl ^ s * range_of z).
    { intros p [p0 [p1 _]]. replace (dot n p y - y 0%nat) with (sum n (fun i => p i * (y i - y 0%nat))).
      - eapply Rle_trans; [apply sum_abs|]. apply Rle_trans with (sum n (fun i => p i * (dl ^ s * range_of z)));
          [|rewrite sum_scal_r, p1; lra].
        apply sum_le; intros i Hi. rewrite Rabs_mult, (Rabs_right (p i)) by (apply Rle_ge; auto).
        apply Rmult_le_compat_l; [auto|now apply O].
      - rewrite (sum_ext n _ (fun i => p i * y i - p i * y 0%nat)) by (intros; ring).
        rewrite sum_minus, sum_scal_r, p1. unfold dot. ring. }
    assert (A1 := G pi S). assert (A2 := G pi' S'). apply Rabs_le_between in A1, A2. apply Rabs_le. lra. }
  assert (R0 : 0 <= range_of z) by apply (osc_nonneg n z Hn).
  apply Rminus_diag_uniq. destruct (Req_dec (dot n pi z - dot n pi' z) 0) as [E|E]; [exact E|exfalso].
  assert (Pz := Rabs_pos_lt _ E). set (x := Rabs (dot n pi z - dot n pi' z)) in *.
  destruct (pow_lt_1_zero dl ltac:(rewrite Rabs_right; lra) (x / (2 * range_of z + 1)) ltac:(apply Rdiv_lt_0_compat;
    lra)) as [m Hm].
  specialize (Hm m (le_n m)). assert (D := pow_le dl m d0). rewrite Rabs_right in Hm by lra. specialize (Near m).
  assert (dl ^ m * (2 * range_of z + 1) < x).
  { apply (Rmult_lt_compat_r (2 * range_of z + 1)) in Hm; [|lra].
    replace (x / (2 * range_of z + 1) * (2 * range_of z + 1)) with x in Hm by (field; lra). exact Hm. }
  nra.
Qed.

Theorem proved_wang2022_1_repaired : statement_wang2022_1_repaired.
Proof.
  intros n A z t Hn beta PA Hb. set (S := fun x => exists pi, stationary A pi /\ x = dot n pi z).
  destruct (dobrushin_below_one n A Hn PA) as [d0 _].
  assert (B0 : 0 <= beta * (INR n - 1) / INR n).
  { assert (N := le_INR 1 n Hn). simpl in N. apply Rle_mult_inv_pos; [|lra]. apply Rmult_le_pos; [|lra].
    unfold beta. apply Rmult_le_pos; [now apply pow_le|apply (osc_nonneg n z Hn)]. }
  destruct (Classical_Prop.classic (exists pi, stationary A pi)) as [[pi Hp]|No].
  - assert (E : stationary_mean A z = dot n pi z).
    { apply sup_is; [now exists pi|]. intros y [p [Sp ->]]. right. now apply (stationary_unique n A). }
    rewrite E in *. destruct PA as [P0 P1]. destruct Hp as [p0 [p1 ps]].
    assert (W := wang2022.wang_repaired n A z pi t Hn (conj (fun i j Hi Hj => Rlt_le _ _ (P0 i j Hi Hj)) P1)
      P0 p0 p1 ps).
    cbv zeta in W. rewrite power_is in W. fold beta in W. exact (W Hb).
  - assert (E : stationary_mean A z = 0).
    { unfold stationary_mean, sup_of. rewrite (is_lub_Rbar_unique _ m_infty); [reflexivity|]. split.
      - intros x [pi [Sp _]]. exfalso. apply No. now exists pi.
      - intros b _. now destruct b. }
    rewrite E, Rabs_R0 in Hb. lra.
Qed.
