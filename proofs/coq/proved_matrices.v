(** Registered statements about matrices, as Statements.v prints them: proved_KEY and refuted_KEY. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality Classical.
From Coquelicot Require Import Coquelicot.
From Rankmath Require own_tv folk own_flow_step geshkovski2023 own_layernorm kim2021 zhai2023.
From Rankmath Require Import Definitions Norms Language LanguageFacts Statements.
Local Open Scope R_scope.

(* ---------- eigenvalues ---------- *)
Lemma tv_dobrushin n m (A : matrix n m) i j : (i < n)%nat -> (j < n)%nat ->
  Definitions.tv m (A i) (A j) <= dobrushin_of A.
Proof.
  intros Hi Hj. unfold dobrushin_of.
  eapply Rle_trans; [|apply (largest_ub n (fun i => largest n (fun j => / 2 * sum m (fun k => Rabs (A i k - A j k)))) i
    Hi)].
  apply (largest_ub n (fun j => / 2 * sum m (fun k => Rabs (A i k - A j k))) j Hj).
Qed.

Lemma dobrushin_nonneg n m (A : matrix n m) : (0 < n)%nat -> 0 <= dobrushin_of A.
Proof.
  intros H. eapply Rle_trans; [|apply (tv_dobrushin n m A 0 0 H H)]. apply Rmult_le_pos; [lra|].
  apply sum_nonneg; intros; apply Rabs_pos.
Qed.

(** Below 1 for positive matrices. *)
Lemma dobrushin_below_one n m (A : matrix n m) : (0 < n)%nat -> (0 < m)%nat -> positive_stochastic A ->
  dobrushin_of A < 1.
Proof.
  intros Hn Hm [P S]. unfold dobrushin_of.
  destruct (largest_attained n (fun i => largest n (fun j => / 2 * sum m (fun k => Rabs (A i k - A j k)))) Hn) as [i
    [Hi ->]].
  destruct (largest_attained n (fun j => / 2 * sum m (fun k => Rabs (A i k - A j k))) Hn) as [j [Hj ->]].
  assert (L : sum m (fun k => Rabs (A i k - A j k)) < sum m (A i) + sum m (A j)).
  { rewrite <- sum_plus. apply Rminus_gt_0_lt. rewrite <- sum_minus.
    eapply Rlt_le_trans; [|apply (sum_term_le m (fun k => A i k + A j k - Rabs (A i k - A j k)) 0); [|exact Hm]].
    - assert (Q := P i 0%nat Hi Hm). assert (Q' := P j 0%nat Hj Hm). unfold Rabs. destruct Rcase_abs; lra.
    - intros k Hk. assert (Q := P i k Hi Hk). assert (Q' := P j k Hj Hk). unfold Rabs. destruct Rcase_abs; lra. }
  rewrite !S in L by assumption. lra.
Qed.

Theorem proved_own_spectrum : statement_own_spectrum.
Proof.
  intros n L Hn _. apply sup_le_nonneg; [now apply dobrushin_nonneg|]. intros x [z [[v [c [N E]]] ->]].
  apply (folk.spectrum_besides n (attention_of L) _ z c v); [|intros; now apply tv_dobrushin|exact N|exact E].
  split; [intros; left; now apply shares_pos|intros; now apply shares_sum].
Qed.

Theorem proved_own_spectrum_symmetric : statement_own_spectrum_symmetric.
Proof.
  intros n K Hn Sy z E.
  assert (Sp : forall i, (i < n)%nat -> 0 < sum n (K i)).
  { intros i Hi. eapply Rlt_le_trans; [apply (Sy i i Hi Hi)|]. apply (sum_term_le n (K i) i); [|exact Hi].
    intros j Hj. left. now apply Sy. }
  destruct E as [v [N HE]].
  destruct (folk.spectrum_symmetric n K z v (fun i j Hi Hj => proj1 (Sy i j Hi Hj)) Sp N HE) as [x ->].
  exists x. split; [reflexivity|].
  set (A := (fun i => normalised_sum (row K i)) : matrix n n) in *.
  assert (PS : positive_stochastic A).
  { split; [intros i j Hi Hj; apply Rdiv_lt_0_compat; [now apply Sy|now apply Sp]|].
    intros i Hi. unfold A, normalised_sum, row, Rdiv. rewrite sum_scal_r. apply Rinv_r, Rgt_not_eq. now apply Sp. }
  destruct (classic (RtoC x = RtoC 1)) as [Q|Q]; [injection Q as ->; lra|].
  assert (D := dobrushin_below_one n n A Hn Hn PS). destruct PS as [P S].
  assert (M : Cmod (RtoC x) <= dobrushin_of A).
  { apply (folk.spectrum_dobrushin n A _ (RtoC x) v); [|intros;
      now apply tv_dobrushin|exact N|exact HE|exact Q].
    split; [intros; left; now apply P|exact S]. }
  rewrite Cmod_R in M. apply Rabs_le_between in M. lra.
Qed.

Theorem refuted_folk_spectrum_real : ~ statement_folk_spectrum_real.
Proof.
  intro H. set (P := folk.circ : matrix 3 3).
  assert (PS : positive_stochastic P).
  { split; [intros i j _ _; unfold P, folk.circ; destruct i as [|[|[|i]]]; destruct j as [|[|[|j]]]; lra|].
    intros i Hi. unfold P. destruct i as [|[|[|i]]]; try lia; cbn [sum folk.circ]; lra. }
  assert (S3 : sqrt 3 * sqrt 3 = 3) by (apply sqrt_sqrt; lra). assert (P3 : 0 < sqrt 3) by (apply sqrt_lt_R0; lra).
  destruct (H 3%nat P ltac:(lia) PS (- (7/20), 7 / 20 * sqrt 3)) as [x E].
  - exists folk.om. split; [exists 0%nat; split; [lia|]; cbn [folk.om]; intro Q; injection Q; lra|].
    intros i Hi. unfold csum, RtoC, Cmult, P. destruct i as [|[|[|i]]]; try lia; cbn [sum folk.circ folk.om fst snd];
      f_equal; nra.
  - unfold RtoC in E. injection E. intros E2 _. nra.
Qed.

(* ---------- flows on the sphere ---------- *)
Lemma least_cosine_lb n (C : matrix n n) a b : (a < n)%nat -> (b < n)%nat -> least_cosine C <= C a b.
Proof. intros Ha Hb. eapply Rle_trans; [apply (least_lb n (fun i => least n (C i)) a Ha)|now apply least_lb]. Qed.
Lemma least_pair_exists n (C : matrix n n) : (0 < n)%nat -> exists i j,
  (i < n)%nat /\ (j < n)%nat /\ C i j = least_cosine C.
Proof.
  intros H. unfold least_cosine. destruct (least_attained n (fun i => least n (C i)) H) as [i [Hi ->]].
  destruct (least_attained n (C i) H) as [j [Hj ->]]. now exists i, j.
Qed.
Lemma over_least n (C : matrix n n) f b : (0 < n)%nat ->
  (forall i j, own_flow_step.least_pair n C i j -> C i j = least_cosine C -> b <= f i j) -> b <= over_least_pairs C f.
Proof.
  intros H G. apply inf_ge.
  - destruct (least_pair_exists n C H) as [i [j [Hi [Hj E]]]]. exists (f i j), i, j. auto.
  - intros x [i [j [Hi [Hj [E ->]]]]]. apply G; [|exact E]. split; [exact Hi|split; [exact Hj|]].
    intros a c Ha Hc. rewrite E. now apply least_cosine_lb.
Qed.

Theorem proved_own_flow_step : statement_own_flow_step.
Proof.
  intros n C beta Hn alpha rho HC Ha Hb. apply Rle_ge, over_least; [exact Hn|]. intros i j LP E.
  assert (Q := own_flow_step.flow_step n C beta i j HC LP). cbv zeta in Q. rewrite E in Q.
  apply Rge_le, Q; unfold alpha in *; lra.
Qed.

Theorem proved_own_flow_step_odd : statement_own_flow_step_odd.
Proof.
  intros n C beta Hn alpha rho HC _ On Hr Ha Hb. apply Rle_ge, over_least; [exact Hn|]. intros i j LP E.
  assert (Od : Nat.Odd n) by (exists (n / 2)%nat; exact On).
  assert (Q := own_flow_step.flow_step_odd n C beta i j HC LP Od). cbv zeta in Q. rewrite E in Q.
  apply Q; unfold rho, alpha in *; lra.
Qed.

Theorem proved_own_flow_step_usa : statement_own_flow_step_usa.
Proof.
  intros n C beta Hn alpha HC Ha Hb. apply Rle_ge, over_least; [exact Hn|]. intros i j LP E.
  assert (Q := own_flow_step.flow_step_usa n C beta i j HC LP). cbv zeta in Q. rewrite E in Q.
  apply Rge_le, Q; unfold alpha in *; lra.
Qed.

Theorem proved_geshkovski2023_step : statement_geshkovski2023_step.
Proof.
  intros n C beta Hn alpha HC Ha Hb. apply Rle_ge, over_least; [exact Hn|]. intros i j LP E.
  assert (Q := geshkovski2023.flow_step_read n C beta i j HC LP). rewrite E in Q.
  apply Rge_le, Q; unfold alpha in *; lra.
Qed.

(** A sum of which entries i and j are taken apart, the others being equal. *)
Lemma sum_two n i j (f : nat -> R) c : (i < n)%nat -> (j < n)%nat -> i <> j ->
  (forall k, (k < n)%nat -> k <> i -> k <> j -> f k = c) -> sum n f = f i + f j + (INR n - 2) * c.
Proof.
  intros Hi Hj N H.
  rewrite (sum_ext n f (fun k => (if Nat.eqb k i then f i - c else 0) + ((if Nat.eqb k j then f j - c else 0) + c))).
  - rewrite !sum_plus, sum_const.
    rewrite (sum_single n (fun k => if Nat.eqb k i then f i - c else 0) i Hi);
      [|intros k _ Q; destruct (Nat.eqb_spec k i); [contradiction|reflexivity]].
    rewrite (sum_single n (fun k => if Nat.eqb k j then f j - c else 0) j Hj);
      [|intros k _ Q; destruct (Nat.eqb_spec k j); [contradiction|reflexivity]].
    rewrite !Nat.eqb_refl. ring.
  - intros k Hk. destruct (Nat.eqb_spec k i) as [Ei|Ni]; destruct (Nat.eqb_spec k j) as [Ej|Nj]; subst;
      try contradiction; try ring.
    rewrite (H k Hk Ni Nj). ring.
Qed.

Theorem proved_geshkovski2023_orthogonal : statement_geshkovski2023_orthogonal.
Proof.
  intros gamma rho m Hm Hr i j Hi Hj N.
  set (P := fun i j => (if Nat.eqb i j then 1 else rho) / (1 + (INR m - 1) * rho)).
  set (C := fun i j => if Nat.eqb i j then 1 else gamma). unfold closing_rate.
  assert (Z : 0 < 1 + (INR m - 1) * rho) by (assert (2 <= INR m) by (apply (le_INR 2); lia); nra).
  assert (Ni : Nat.eqb i j = false) by now apply Nat.eqb_neq.
  assert (Nj : Nat.eqb j i = false) by (apply Nat.eqb_neq; auto).
  rewrite (sum_two m i j (fun k => P i k * (C k j - C k i * C i j)) (rho / (1 + (INR m - 1) * rho) * (gamma - gamma *
    gamma)) Hi Hj N).
  2: { intros k _ A B. unfold P, C. rewrite Ni. apply Nat.eqb_neq in A, B. rewrite (Nat.eqb_sym i k), A, B.
       reflexivity. }
  rewrite (sum_two m i j (fun k => P j k * (C k i - C k j * C i j)) (rho / (1 + (INR m - 1) * rho) * (gamma - gamma *
    gamma)) Hi Hj N).
  2: { intros k _ A B. unfold P, C. rewrite Ni. apply Nat.eqb_neq in A, B. rewrite (Nat.eqb_sym j k), A, B.
       reflexivity. }
  unfold P, C. rewrite !Nat.eqb_refl, Ni, Nj. field. lra.
Qed.

(* ---------- rows and their lengths ---------- *)
Lemma least_length_0 n d (Y : matrix n d) : (0 < n)%nat -> least_length Y 0 = least n (fun i => l2 d (Y i)).
Proof.
  intros Hn. apply inf_is.
  - destruct (least_attained n (fun i => l2 d (Y i)) Hn) as [i [Hi E]]. exists (fun _ => i). split; [intros; lia|].
    intros j _. rewrite E. split; [exact Hi|lra].
  - intros y [f [_ H]]. destruct (H 0%nat ltac:(lia)) as [Hf L].
    eapply Rle_trans; [apply (least_lb n _ (f 0%nat) Hf)|exact L].
Qed.

Theorem proved_shi2022_layernorm : statement_shi2022_layernorm.
Proof.
  intros n d Y Hn Hd r1 Hr. unfold r1 in *. rewrite least_length_0 in * by lia.
  apply own_layernorm.layernorm_spread; [lia|lra|]. intros i Hi. apply (least_lb n (fun i => l2 d (Y i)) i Hi).
Qed.

(** The least over all rows but one. *)
Lemma least_but n (f : nat -> R) i1 : (2 <= n)%nat -> (i1 < n)%nat ->
  exists i2, (i2 < n)%nat /\ i2 <> i1 /\ forall i, (i < n)%nat -> i <> i1 -> f i2 <= f i.
Proof.
  intros Hn H1. set (skip := fun k => if Nat.ltb k i1 then k else S k).
  destruct (least_attained (n - 1) (fun k => f (skip k)) ltac:(lia)) as [k [Hk E]]. exists (skip k).
  assert (Sk : (skip k < n)%nat /\ skip k <> i1) by (unfold skip; destruct (Nat.ltb_spec k i1); lia).
  split; [apply Sk|split; [apply Sk|]]. intros i Hi N. rewrite <- E.
  assert (X : exists k', (k' < n - 1)%nat /\ skip k' = i).
  { destruct (Nat.lt_ge_cases i i1) as [L|L]; [exists i|exists (i - 1)%nat]; unfold skip.
    - destruct (Nat.ltb_spec i i1); lia.
    - destruct (Nat.ltb_spec (i - 1) i1); lia. }
  destruct X as [k' [Hk' <-]]. apply (least_lb (n - 1) (fun k => f (skip k)) k' Hk').
Qed.

Theorem proved_own_layernorm : statement_own_layernorm.
Proof.
  intros n d Y Hn0 Hd r1 r2 Hn Hr. set (len := fun i => l2 d (Y i)).
  destruct (least_attained n len ltac:(lia)) as [i1 [H1 E1]]. destruct (least_but n len i1 Hn H1) as [i2 [H2 [N L]]].
  assert (Q1 : r1 = len i1) by (unfold r1; rewrite least_length_0 by lia; exact E1).
  assert (M : forall i, (i < n)%nat -> len i1 <= len i) by (intros i Hi; rewrite <- E1; now apply least_lb).
  assert (Q2 : r2 = len i2).
  { apply inf_is.
    - exists (fun j => match j with O => i1 | _ => i2 end). split.
      + intros [|[|i]] [|[|j]] Hi Hj E; try lia; congruence.
      + intros [|j] Hj; [split; [exact H1|now apply M]|split; [exact H2|apply Rle_refl]].
    - intros y [f [Inj F]]. destruct (F 0%nat ltac:(lia)) as [F0 L0]. destruct (F 1%nat ltac:(lia)) as [F1 L1].
      destruct (Nat.eq_dec (f 0%nat) i1) as [Q|Q].
      + eapply Rle_trans; [apply (L (f 1%nat) F1)|exact L1]. intro Q'. assert (0 = 1)%nat by (apply Inj; lia). lia.
      + eapply Rle_trans; [apply (L (f 0%nat) F0 Q)|exact L0]. }
  rewrite Q1, Q2. rewrite Q1 in Hr.
  apply (own_layernorm.layernorm n d Y i1 i2 H1 H2 (fun E => N (eq_sym E)) (M i2 H2) L (Rgt_lt _ _ Hr)).
Qed.

Theorem proved_own_received : statement_own_received.
Proof.
  intros n d Z Hn Hd. apply largest_lub; [exact Hn|]. intros j Hj. apply (kim2021.received n d Z j Hj).
Qed.

Theorem proved_zhai2023_3_1 : statement_zhai2023_3_1.
Proof.
  intros n d X W Hn Hd n2. apply least_glb; [exact Hn|]. intros i Hi.
  apply (zhai2023.zhai_3_1 n d X W (spectral W) (spectral ((fun i j => dot d (X i) (X j)) : matrix n n)) i);
    [lia|exact Hi|apply spectral_nonneg|apply spectral_nonneg|intro; apply spectral_bound|].
  intro c. apply (spectral_bound n n (fun i j => dot d (X i) (X j)) c).
Qed.
