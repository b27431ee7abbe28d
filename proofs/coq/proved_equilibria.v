(** Registered statements about equilibria with LayerNorm on the sphere, as Statements.v prints them. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require dong2021 own_stable_causal wu_all_n theorem_A own_stable_every_rank wu2024_3.
From Rankmath Require Import Definitions Norms Softmax SphereLayer Language LanguageFacts Statements.
Local Open Scope R_scope.

Lemma identity_rank n : has_rank n n eye n.
Proof.
  exists (fun j => j). split; [auto|split].
  - intros c H j Hj. specialize (H j Hj). now rewrite (sum_eye_r n c j Hj) in H.
  - intros i Hi. exists (eye i). intros a Ha. now rewrite (sum_eye_r n (eye i) a Ha).
Qed.
Lemma identity_rows d i : (i < d)%nat -> l2 d (eye i) = 1.
Proof. intros Hi. unfold l2, dot. rewrite (sum_eye_l d (eye i) i Hi), eye_same. apply sqrt_1. Qed.
Lemma all_seen n : (0 < n)%nat -> @is_mask n nomask.
Proof. intros Hn. split; [intros; now right|]. intros i Hi. exists i. now split. Qed.

Theorem refuted_unstated_ln_sphere : ~ statement_unstated_ln_sphere.
Proof.
  intro H. destruct dong2021.ln_sphere_refuted as (M & W & X & U & M0 & F & Mu & _).
  assert (E : M = no_logits) by (apply functional_extensionality; intro; apply functional_extensionality; intro;
    apply M0).
  rewrite E in F. assert (K : @is_mask 2 causal).
  { split; [intros i j _ _; unfold causal; destruct (Nat.leb j i); auto|]. intros i Hi. exists i. split; [exact Hi|].
    unfold causal. now rewrite Nat.leb_refl. }
  assert (Q := H 2%nat 2%nat X W causal ltac:(lia) ltac:(lia) K (conj U F)).
  apply (Rlt_irrefl 0). eapply Rlt_le_trans; [exact Mu|]. right.
  unfold Definitions.mu, frob, dot, centred, vsub, mean. cbn [sum]. simpl INR.
  rewrite (Q 1%nat 0%nat 0%nat), (Q 1%nat 0%nat 1%nat) by lia. transitivity (sqrt 0); [f_equal; field|apply sqrt_0].
Qed.

(** n = d = 2, no mask: the two clusters of wu_all_n. *)
Theorem refuted_wu2024_conjecture : ~ statement_wu2024_conjecture.
Proof.
  intro H. destruct (wu_all_n.wu_all_n 2 2 ltac:(lia) ltac:(lia)) as (M & W & Fx & At).
  set (Z := wu_all_n.two_clusters 2) in *.
  assert (Un : @undirected 2 2 Z W M nomask).
  { split; [reflexivity|split; [reflexivity|]]. intros c Hc. exists 1%nat. split; [exact Hc|]. intros i Hi.
    exists 1%nat.
    split; [lia|]. exists c. split; [exact Hc|]. split; [unfold nomask; lra|reflexivity]. }
  assert (E : forall i a, (i < 2)%nat -> (a < 2)%nat -> Z i a = eye i a).
  { intros [|[|i]] a Hi _; try lia; reflexivity. }
  refine (H 2%nat 2%nat Z W M nomask ltac:(lia) ltac:(lia) (all_seen 2 ltac:(lia)) Un Z 2%nat _ Fx _ ltac:(lia) At).
  - intros i Hi. rewrite <- (identity_rows 2 i Hi). unfold l2, dot. cbn [sum]. now rewrite !E by lia.
  - destruct (identity_rank 2) as (f & A & B & C). exists f. split; [exact A|split].
    + intros c Hc. apply (B c). intros a Ha. rewrite <- (Hc a Ha). apply sum_ext; intros j Hj. rewrite E by auto.
      reflexivity.
    + intros i Hi. destruct (C i Hi) as [c Hc]. exists c. intros a Ha. rewrite E, (Hc a Ha) by assumption.
      apply sum_ext; intros j Hj. rewrite E by auto. reflexivity.
Qed.

Theorem proved_own_stable_complete : statement_own_stable_complete.
Proof.
  destruct (own_stable_every_rank.chain_complete 3 1 ltac:(lia) ltac:(lra)) as (M & W & Z & _ & Un & Fx & Rk & At
    & _).
  exists 3%nat, 3%nat, Z, W, M, nomask. split; [lia|]. split; [split; reflexivity|].
  split; [exact Un|split; [exact Fx|split; [exact Rk|exact At]]].
Qed.

Theorem proved_wu2024_3_measure : statement_wu2024_3_measure.
Proof.
  intros n tokens Hn. unfold token_count in Hn. set (m := fun i => (/ 2) ^ i).
  assert (P : forall i, 0 < m i) by (intro; apply pow_lt; lra).
  assert (D : forall i, m (S i) < m i) by (intro i; specialize (P i); unfold m in *; simpl; lra).
  assert (D' : forall i k, (i < k)%nat -> m k < m i).
  { intros i k Hk. induction Hk as [|k Hk IH]; [apply D|]. eapply Rlt_trans; [apply D|exact IH]. }
  destruct (theorem_A.theorem_A n m ltac:(lia) (fun i _ => P i) (fun i k L _ => D' i k L)) as (Fx & _ & At).
  destruct (wu2024_3.attracts_limit _ _ _ _ At) as (eta & E0 & L).
  exists m, eye, eta. split; [split; [lia|split; [intros i _; apply P|intros i _; apply D]]|].
  split; [intros i Hi; now apply identity_rows|]. split; [exact Fx|split; [apply identity_rank|split;
    [exact E0|exact L]]].
Qed.

Theorem proved_wu2024_3 : statement_wu2024_3.
Proof.
  intros n d sizes w Hn Hd Hw k k1 kn kd. unfold tokens_of in Hw.
  assert (w0 : 0 < w) by (assert (N := le_INR 1 n Hn); simpl in N; lra).
  set (X := wu2024_3.every_rank n d k w (fun _ => 1)). assert (Sg : forall j : nat, 1 = 1 \/ 1 = -1) by (intro;
    now left).
  exists X, (fun i => wu2024_3.multiple n k i / INR (S i)).
  split; [intros i Hi; now apply wu2024_3.unit_rows|]. split; [apply wu2024_3.rank_shift; auto|].
  assert (I0 : forall i, 0 < INR (S i)) by (intro; apply lt_0_INR; lia). split.
  - intros i Hi. apply Rdiv_lt_0_compat; [|apply I0]. unfold wu2024_3.multiple. destruct Nat.ltb; [apply I0|lra].
  - intros i a Hi Ha. cbv beta. unfold Rdiv at 1.
    replace (wu2024_3.multiple n k i * / INR (S i) * X i a) with (wu2024_3.multiple n k i * X i a * / INR (S i)) by
      ring.
    unfold X at 2. rewrite <- (wu2024_3.telescoped n d k w (fun _ => 1) k1 kn kd w0 i a Hi Ha). fold X.
    assert (Row : forall j, (j < n)%nat -> softmax n (causal i) (fun _ => 0) j = if Nat.leb j i then / INR (S i) else
      0).
    { intros j Hj. unfold softmax, tilt. rewrite exp_0. rewrite (sum_ext n _ (causal i)) by (intros; ring).
      replace (sum n (causal i)) with (INR (S i)); [unfold causal; destruct (Nat.leb j i); [field;
        apply Rgt_not_eq, I0|field; apply Rgt_not_eq, I0]|].
      replace n with (S i + (n - S i))%nat by lia. rewrite sum_split.
      rewrite (sum_ext (S i) _ (fun _ => 1)) by (intros l Hl; unfold causal; destruct (Nat.leb_spec l i);
        [reflexivity|lia]).
      rewrite (sum_ext (n - S i) _ (fun _ => 0)) by (intros l _; unfold causal; destruct (Nat.leb_spec (S i + l) i);
        [lia|reflexivity]).
      rewrite sum_const, sum_zero. ring. }
    unfold vmat at 1. rewrite <- sum_scal_r.
    rewrite (sum_ext (S i) _ (fun j => sum d (fun b => X j b * shift_values w b a * / INR (S i)))) by (intros;
      unfold vmat; now rewrite sum_scal_r).
    rewrite sum_swap. apply sum_ext; intros b Hb. unfold vmat.
    replace n with (S i + (n - S i))%nat at 1 by lia. rewrite sum_split.
    rewrite (sum_ext (n - S i) _ (fun _ => 0)) by (intros l Hl; rewrite Row by lia;
      destruct (Nat.leb_spec (S i + l) i); [lia|ring]).
    rewrite sum_zero, Rplus_0_r, <- sum_scal_r. apply sum_ext; intros j Hj. rewrite Row by lia.
    destruct (Nat.leb_spec j i); [ring|lia].
Qed.

Theorem proved_wu2024_4_3_1 : statement_wu2024_4_3_1.
Proof.
  intros w Hw. destruct (wu2024_3.wu_4_3_1 w Hw) as (_ & Second & Mult).
  set (s := sqrt (1 - 1 / w ^ 2)). assert (Es : wu2024_3.s w = s) by (unfold wu2024_3.s, s; f_equal; field;
    lra).
  assert (G : forall x y L l, wu2024_3.rest w x y L l -> rests_at w x y l).
  { intros x y L l Rs X X0 X1 Ex Ey F. subst x y.
    assert (U : l2 2 (X 1%nat) = 1).
    { destruct (wu2024_3.rest_facts w Hw _ _ _ _ Rs) as [Q _]. unfold l2, dot. cbn [sum]. rewrite Rplus_0_l, Q.
      apply sqrt_1. }
    split; [apply (Second X X0 X1 U); now exists L, l|now apply (Mult X L l)]. }
  assert (A1 : wu2024_3.rest w 0 1 2 (1 / 2)) by (left; auto).
  assert (A2 : wu2024_3.rest w (- / w) s 1 (1 + s)) by (rewrite <- Es; right; left; auto).
  assert (A3 : wu2024_3.rest w (- / w) (- s) 1 (1 - s)) by (rewrite <- Es; right; right; auto).
  split; [exact (G _ _ _ _ A1)|split; [exact (G _ _ _ _ A2)|split; [exact (G _ _ _ _ A3)|]]].
  intros X X0 X1 U Fx. destruct (proj1 (Second X X0 X1 U) Fx) as (L & l & [Q|[Q|Q]]).
  - left. tauto.
  - right. destruct Q as (Q0 & Q1 & _). split; [exact Q0|left]. rewrite Q1. exact Es.
  - right. destruct Q as (Q0 & Q1 & _). split; [exact Q0|right]. rewrite Q1. now rewrite Es.
Qed.

(** |X v| <= |X|_2 |v|: the spectral norm from the other side. *)
Lemma spectral_columns n d (X : matrix n d) v : l2 n (fun i => dot d (X i) v) <= spectral X * l2 d v.
Proof.
  set (y := fun i => dot d (X i) v). assert (S0 := spectral_nonneg n d X). assert (V := l2_nonneg d v).
    assert (Y := l2_nonneg n y).
  assert (E : dot n y y = dot d (vmat n y X) v).
  { transitivity (sum n (fun i => sum d (fun a => y i * X i a * v a))).
    - apply sum_ext; intros i _. change (y i) with (dot d (X i) v) at 2. unfold dot. rewrite <- sum_scal.
      apply sum_ext; intros; ring.
    - rewrite sum_swap. apply sum_ext; intros a _. unfold vmat. now rewrite sum_scal_r. }
  assert (B := dot_le_l2 d (vmat n y X) v). rewrite <- E in B. apply Rabs_le_between in B. destruct B as [_ B].
  assert (C := spectral_bound n d X y). assert (Q : dot n y y = l2 n y * l2 n y) by (symmetry;
    apply sqrt_sqrt, dot_pos).
  rewrite Q in B. destruct Y as [Y|Y]; [|rewrite <- Y; now apply Rmult_le_pos].
  apply Rmult_le_reg_l with (l2 n y); [exact Y|]. eapply Rle_trans; [exact B|].
  apply Rle_trans with (spectral X * l2 n y * l2 d v); [now apply Rmult_le_compat_r|right; ring].
Qed.

Theorem proved_wu2024_anisotropy : statement_wu2024_anisotropy.
Proof.
  intros n k sgn w k2 kn Hs Hw. unfold shift_tokens, shift_rank, spectral_gap in *.
  set (X := (fun i => shift_token n k k w sgn (i - (n - k))) : matrix n k).
  assert (EX : X = wu2024_3.every_rank n k k w sgn).
  { apply functional_extensionality; intro i. unfold X, wu2024_3.every_rank, wu2024_3.first_tokens.
    replace (n - k + 1 - 1)%nat with (n - k)%nat by lia. generalize (i - (n - k))%nat. induction n0 as [|j IH];
      [reflexivity|].
    cbn [shift_token wu2024_3.tok_at]. rewrite IH. reflexivity. }
  destruct (wu2024_3.wu_anisotropy n k k w sgn (spectral X) k2 kn (le_n k) Hw Hs (spectral_nonneg n k X)) as
    (_ & _ & Low & _).
  - intro v. rewrite <- EX. apply spectral_columns.
  - rewrite plus_INR, minus_INR in Low by lia. simpl (INR 1) in Low. change (INR 2) with 2 in Low. lra.
Qed.

Theorem proved_own_stable_causal : statement_own_stable_causal.
Proof.
  intros pr d d2 (Hc & Ha & Hw). set (a := pr 0%nat) in *. set (w := pr 1%nat) in *. set (c := pr 2%nat) in *.
  destruct (own_stable_causal.stable_causal d a c w d2 Hc Ha ltac:(lra)) as (q & Q & Uq & _ & p0 & pq & Fx & At &
    J).
  exists q. split; [exact Q|split; [exact Uq|]]. cbv zeta. fold a w c. set (p := - (1 + (1 - a) * q) / w) in *.
  assert (T1 : (S (d - 2) < d)%nat) by lia. assert (T0 : (d - 2 < d)%nat) by lia.
  split; [|split; [|split; [exact Fx|split; [exact At|split; [exact J|]]]]].
  - intros i Hi. destruct i as [|[|i]]; [|  |lia].
    + now apply identity_rows.
    + unfold pair_tokens, l2. transitivity (sqrt 1); [|apply sqrt_1]. f_equal. rewrite <- pq.
      unfold dot. rewrite (sum_ext d _ (fun y => p * p * (eye (d - 2)%nat y * eye (d - 2)%nat y) + q * q * (eye (S (d
        - 2)) y * eye (S (d - 2)) y)
        + 2 * p * q * (eye (d - 2)%nat y * eye (S (d - 2)) y))) by (intros; ring).
      rewrite !sum_plus, !sum_scal, !sum_eye_l, !eye_same, (eye_diff (S (d - 2)) (d - 2)) by lia. ring.
  - exists (fun j => j). split; [auto|split].
    + intros k Hk j Hj. assert (A := Hk (d - 2)%nat T0). assert (B := Hk (S (d - 2)) T1).
      cbn [sum pair_tokens] in A, B.
      rewrite ?eye_same, ?(eye_diff (S (d - 2)) (d - 2)), ?(eye_diff (d - 2) (S (d - 2))) in A by lia.
      rewrite ?eye_same, ?(eye_diff (S (d - 2)) (d - 2)), ?(eye_diff (d - 2) (S (d - 2))) in B by lia.
      assert (k 1%nat = 0) by (assert (Z : k 1%nat * p = 0) by lra; apply Rmult_integral in Z; tauto).
      destruct j as [|[|j]]; [|assumption|lia]. rewrite H in B. lra.
    + intros i Hi. exists (eye i). intros y _. destruct i as [|[|i]]; [|  |lia]; cbn [sum]; unfold eye; cbn [Nat.eqb];
      ring.
  - assert (q1 : 0 < (1 + q) / a < 1).
    { split; [apply Rdiv_lt_0_compat; lra|]. apply Rmult_lt_reg_r with a; [lra|]. unfold Rdiv.
      rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (c1 : 0 < c / a < 1).
    { split; [apply Rdiv_lt_0_compat; lra|]. apply Rmult_lt_reg_r with a; [lra|]. unfold Rdiv.
      rewrite Rmult_assoc, Rinv_l by lra. lra. }
    repeat split; rewrite Rabs_right; lra.
Qed.

(* ---------- every number of tokens ---------- *)
Lemma mask_range n (G : matrix n n) : is_mask G -> forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j <= 1.
Proof. intros [H _] i j Hi Hj. destruct (H i j Hi Hj) as [E | E]; rewrite E; lra. Qed.
Lemma tiny_pos : 0 < / 2 ^ 24.
Proof. apply Rinv_0_lt_compat, pow_lt. lra. Qed.

Theorem proved_own_stable_every_rank : statement_own_stable_every_rank.
Proof.
  intros n G g Gm (n2 & G1 & G2 & Hg).
  destruct (own_stable_every_rank.chain_ranks n n n G g (/ 2 ^ 24) ltac:(lia) (le_n n) Hg (mask_range n G Gm) G1 G2
    tiny_pos) as [L HL]. exists L. intros k Hk.
  destruct (HL k Hk) as (Z & Wi & Un & Fx & Rk & At & _). exists Z. repeat split; assumption.
Qed.

Theorem proved_own_stable_complete_every_n : statement_own_stable_complete_every_n.
Proof.
  intros n G g Gm (n2 & G1 & G2 & Hg).
  destruct (own_stable_every_rank.chain_ranks n n n G g (/ 2 ^ 24) ltac:(lia) (le_n n) Hg (mask_range n G Gm) G1 G2
    tiny_pos) as [L HL]. exists L.
  destruct (HL n ltac:(lia)) as (Z & Wi & Un & Fx & Rk & At & J & Dv & Ev). exists Z. intro F.
  split; [|split; [exact Un|split; [exact Fx|split; [exact Rk|split; [exact At|exists J; split; [exact Dv|]]]]]].
  - intros i a Hi Ha. specialize (Wi i a Hi Ha). cbv beta in Wi. unfold chain_tokens in Wi.
    destruct (Nat.ltb_spec i n); [exact Wi|lia].
  - exact (Ev eq_refl).
Qed.

Theorem proved_wu2024_3_whole : statement_wu2024_3_whole.
Proof.
  intros n d sizes [n2 d2]. set (m := Nat.min n d).
  destruct (own_stable_every_rank.chain_ranks n d m causal (1 / 2) 1 ltac:(lia) ltac:(lia) ltac:(lra)) as [L HL].
  - intros i j _ _. unfold causal. destruct (Nat.leb j i); lra.
  - intros i _. unfold causal. rewrite Nat.leb_refl. reflexivity.
  - intros i _. unfold causal. destruct (Nat.leb_spec i (S i)); [reflexivity|lia].
  - lra.
  - exists L. intros F k Hk. destruct (HL k Hk) as (Z & _ & Un & Fx & Rk & At & _). exists Z. repeat split; assumption.
Qed.

Theorem proved_own_stable_rank_two_every_n : statement_own_stable_rank_two_every_n.
Proof.
  intros n tokens Hn. unfold token_count in Hn.
  destruct (wu_all_n.wu_all_n n 2 Hn (le_n 2)) as (M & W & Fx & At). exists M, W.
  assert (EZ : wu_all_n.two_clusters n = (fun i => if Nat.ltb i (n - 1) then eye 0%nat else eye 1%nat)).
  { apply functional_extensionality; intro i. unfold wu_all_n.two_clusters, wu_all_n.corner. now destruct Nat.ltb. }
  rewrite EZ in Fx, At. intros Z F. split; [exact Fx|split; [|exact At]].
  exists (fun j => match j with O => 0%nat | _ => (n - 1)%nat end). split; [intros [|j] Hj; lia|].
  assert (Z0 : Z 0%nat = eye 0%nat) by (unfold Z; destruct (Nat.ltb_spec 0 (n - 1)); [reflexivity|lia]).
  assert (Z1 : Z (n - 1)%nat = eye 1%nat) by (unfold Z; destruct (Nat.ltb_spec (n - 1) (n - 1)); [lia|reflexivity]).
  split.
  - intros c H j Hj. assert (A := H 0%nat ltac:(lia)). assert (B := H 1%nat ltac:(lia)). cbn [sum] in A, B.
    rewrite Z0, Z1 in A, B. unfold eye in A, B. cbn [Nat.eqb] in A, B. destruct j as [|[|j]]; [lra|lra|lia].
  - intros i Hi. exists (Z i). intros a Ha. cbn [sum]. rewrite Z0, Z1. unfold eye. destruct a as [|[|a]];
      [cbn [Nat.eqb]; ring|cbn [Nat.eqb]; ring|lia].
Qed.

Theorem proved_own_stable_causal_every_n : statement_own_stable_causal_every_n.
Proof.
  intros n mu (n2 & Pm & Dm).
  assert (Dec : forall i k, (i < k)%nat -> (k < n)%nat -> mu k < mu i).
  { intros i k Hik. induction Hik as [|k Hk IH]; intros Kn; [now apply Dm|]. specialize (IH ltac:(lia)).
    specialize (Dm k Kn). lra. }
  assert (n0 : (0 < n)%nat) by lia. destruct (theorem_A.theorem_A n mu n0 Pm Dec) as (Fx & _ & At).
  unfold causal_identity_attracts. cbv zeta. split; [exact Fx|split; [exact At|]].
  exists (theorem_A.JA n mu), (theorem_A.ordA n).
  split; [now apply theorem_A.derivative_A|split].
  - intros i a p b Hi Ha Hp Hb Ho. split; [now apply theorem_A.ordA_inj|].
    intros Ne. now apply (theorem_A.JA_tri n mu n0 Pm).
  - intros i k Hi Hk. now apply theorem_A.JA_diag.
Qed.
