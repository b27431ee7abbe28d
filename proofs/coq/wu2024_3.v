(** wu2024:3, wu2024:anisotropy, wu2024:4.3.1, wu2024:3-measure.  What each is stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Jets Norms Softmax Masks SphereLayer own_hemisphere theorem_A wu2024_2.
From Rankmath Require Language.
Local Open Scope R_scope.

(** wu2024:3.  Causal mask, W_QK = 0, LayerNorm on the sphere: equilibria of every rank under one value matrix.

    W_V = I + wS, (xS)_b = x_{b-1}, w > n-1.  For every 1 <= k <= min(n,d) and every choice of signs there is an
    equilibrium of rank exactly k: with m = n-k+1, the first m tokens are e_{d-1},
      and every later one is the token before it,
    shifted one place to the left, times -m/w for the first and -1/w for the others, with last coordinate
    +-sqrt(1 - m^2/w^2) or +-sqrt(1 - 1/w^2) that makes its norm one. *)

(** I + wS *)
Notation shift_values := Language.shift_values.

Section Shift.
Variables (n d k : nat) (w : R) (sgn : nat -> R).
Hypothesis k1 : (1 <= k)%nat.
Hypothesis kn : (k <= n)%nat.
Hypothesis kd : (k <= d)%nat.
Hypothesis wn : INR n - 1 < w.
Hypothesis w0 : 0 < w.
Hypothesis signs : forall j, sgn j = 1 \/ sgn j = -1.

Definition first_tokens : nat := (n - k + 1)%nat.
(** m, then 1, 1, ... *)
Definition scale (j : nat) : R := match j with O => INR first_tokens | _ => 1 end.
(** The token e_{d-1} and its successors. *)
Fixpoint tok_at (j : nat) : vec := match j with
  | O => eye (d - 1)%nat
  | S l => fun a => if Nat.ltb (S a) d then - (scale l / w) * tok_at l (S a) else sgn l * sqrt (1 - (scale l / w) ^ 2)
  end.
Definition every_rank : mat := fun i => tok_at (i - (first_tokens - 1)).
Notation m := first_tokens.
Notation X := every_rank.
Notation W := (shift_values w).
Notation F := (sphere_map n d no_logits W causal).

Lemma tok_S l a : tok_at (S l) a = if Nat.ltb (S a) d then - (scale l / w) * tok_at l (S a) else sgn l * sqrt (1 -
  (scale l / w) ^ 2).
Proof. reflexivity. Qed.

Lemma scale_b j : (S j < k)%nat -> 0 < scale j < w.
Proof.
  intros Hj. assert (N : 2 <= INR n) by (apply (le_INR 2); lia).
  destruct j as [|j]; simpl; [|lra]. unfold first_tokens. split; [apply lt_0_INR; lia|].
  apply Rle_lt_trans with (INR n - 1); [|exact wn]. replace (INR n - 1) with (INR (n - 1)) by (rewrite minus_INR by
    lia; simpl; ring). apply le_INR. lia.
Qed.

Lemma support j a : (j < k)%nat -> (S a + j < d)%nat -> tok_at j a = 0.
Proof.
  revert a. induction j as [|j IH]; intros a Hj Ha; simpl; [apply eye_diff; lia|].
  destruct (Nat.ltb_spec (S a) d); [|lia]. rewrite IH by lia. ring.
Qed.

Lemma norm_tok j : (j < k)%nat -> dot d (tok_at j) (tok_at j) = 1.
Proof.
  induction j as [|j IH]; intros Hj.
  - unfold dot. simpl. rewrite (sum_eye_l d (fun a => eye (d - 1)%nat a) (d - 1) ltac:(lia)). apply eye_same.
  - assert (SB := scale_b j Hj). specialize (IH ltac:(lia)). unfold dot in *.
    assert (Z : tok_at j 0%nat = 0) by (apply support; lia).
    destruct d as [|e] eqn:Ed; [lia|]. rewrite sum_head, Z in IH. cbn [sum].
    rewrite (sum_ext e _ (fun a => (scale j / w) ^ 2 * (tok_at j (S a) * tok_at j (S a)))).
    + rewrite sum_scal. replace (sum e (fun a => tok_at j (S a) * tok_at j (S a))) with 1 by lra.
      rewrite !tok_S, Ed. destruct (Nat.ltb_spec (S e) (S e)); [lia|].
      assert (Q : 0 <= 1 - (scale j / w) ^ 2).
      { assert (0 < scale j / w < 1) by (split; [apply Rdiv_lt_0_compat; lra|apply Rmult_lt_reg_r with w; [lra|];
          replace (scale j / w * w) with (scale j) by (field; lra); lra]). nra. }
      assert (S := sqrt_sqrt _ Q). set (x := sqrt (1 - (scale j / w) ^ 2)) in *.
      replace (sgn j * x * (sgn j * x)) with (x * x) by (destruct (signs j) as [-> | ->]; ring). rewrite S. ring.
    + intros a Ha. rewrite !tok_S, Ed. destruct (Nat.ltb_spec (S a) (S e)); [ring|lia].
Qed.

Lemma lead j : (j < k)%nat -> tok_at j (d - 1 - j)%nat <> 0.
Proof.
  induction j as [|j IH]; intros Hj; simpl.
  - rewrite Nat.sub_0_r, eye_same. lra.
  - assert (SB := scale_b j Hj). destruct (Nat.ltb_spec (S (d - 1 - S j)) d); [|lia].
    replace (S (d - 1 - S j)) with (d - 1 - j)%nat by lia. apply Rmult_integral_contrapositive_currified; [|apply IH;
      lia].
    apply Ropp_neq_0_compat. apply Rgt_not_eq. apply Rdiv_lt_0_compat; lra.
Qed.

Lemma independent_toks l (c : vec) : (l <= k)%nat -> (forall a, (a < d)%nat ->
  sum l (fun j => c j * tok_at j a) = 0) -> forall j, (j < l)%nat -> c j = 0.
Proof.
  induction l as [|l IH]; intros Hl H j Hj; [lia|].
  assert (cl : c l = 0).
  { assert (E := H (d - 1 - l)%nat ltac:(lia)). cbn [sum] in E.
    rewrite (sum_ext l _ (fun _ => 0)) in E by (intros i Hi; rewrite support by lia; ring).
    rewrite sum_zero, Rplus_0_l in E. apply Rmult_integral in E. destruct E as [E|E]; [exact E|]. exfalso.
    now apply (lead l ltac:(lia)). }
  destruct (Nat.eq_dec j l) as [->|]; [exact cl|]. apply IH; [lia| |lia]. intros a Ha. specialize (H a Ha).
  cbn [sum] in H. rewrite cl in H. lra.
Qed.

(** x W = x + w (x shifted to the right) *)
Lemma vmat_shift x b : (b < d)%nat -> vmat d x W b = x b + w * match b with O => 0 | S a => x a end.
Proof.
  intros Hb. unfold vmat, Language.shift_values. rewrite (sum_ext d _ (fun a => x a * eye a b + w * (x a * eye (S a)
    b))) by (intros; ring).
  rewrite sum_plus, sum_scal, (sum_eye_r d x b Hb). f_equal. f_equal. destruct b as [|a].
  - rewrite (sum_ext d _ (fun _ => 0)) by (intros; rewrite eye_diff by lia; ring). apply sum_zero.
  - rewrite (sum_single d _ a ltac:(lia)); [rewrite eye_same; ring|]. intros j _ Hj. rewrite eye_diff by lia. ring.
Qed.

Definition multiple (i : nat) : R := if Nat.ltb i m then INR (S i) else 1.

Lemma multiple_step i : (m <= S i)%nat -> multiple i = scale (i - (m - 1)).
Proof.
  intros H. assert (M1 : (1 <= m)%nat) by (unfold first_tokens; lia). unfold multiple. destruct (Nat.ltb_spec i m).
  - assert (Ei : i = (m - 1)%nat) by lia. rewrite Ei. rewrite Nat.sub_diag. unfold scale. f_equal.
    unfold first_tokens in *. lia.
  - destruct (i - (m - 1))%nat eqn:E; [lia|reflexivity].
Qed.

(** X_0 + ... + X_i, times W, is a multiple of X_i. *)
Lemma telescoped i b : (i < n)%nat -> (b < d)%nat -> sum (S i) (fun j => vmat d (X j) W b) = multiple i * X i b.
Proof.
  assert (M1 : (1 <= m)%nat) by (unfold first_tokens; lia).
  assert (Eq : forall j, (j < m)%nat -> (b < d)%nat -> vmat d (X j) W b = eye (d - 1)%nat b).
  { intros j Hj Hb. rewrite vmat_shift by exact Hb. unfold every_rank. replace (j - (m - 1))%nat with 0%nat by lia.
    simpl.
    destruct b as [|a]; [ring|]. rewrite (eye_diff (d - 1) a) by lia. ring. }
  induction i as [|i IH]; intros Hi Hb.
  - cbn [sum]. rewrite Eq by (auto; lia). unfold multiple. destruct (Nat.ltb_spec 0 m); [|lia]. unfold every_rank.
    simpl. ring.
  - change (sum (S (S i)) (fun j => vmat d (X j) W b)) with (sum (S i) (fun j => vmat d (X j) W b) + vmat d (X (S i)) W
      b).
    rewrite IH by (auto; lia). destruct (Nat.lt_ge_cases (S i) m) as [L|L].
    + rewrite Eq by assumption. unfold multiple. destruct (Nat.ltb_spec i m), (Nat.ltb_spec (S i) m); try lia.
      unfold every_rank. replace (i - (m - 1))%nat with 0%nat by lia. replace (S i - (m - 1))%nat with 0%nat by lia.
      simpl tok_at.
      rewrite (S_INR (S i)). ring.
    + rewrite (multiple_step i ltac:(lia)). unfold multiple. destruct (Nat.ltb_spec (S i) m); [lia|].
      rewrite vmat_shift by exact Hb.
      unfold every_rank. replace (S i - (m - 1))%nat with (S (i - (m - 1))) by lia. set (j := (i - (m - 1))%nat).
      assert (Hj : (S j < k)%nat) by (unfold j, first_tokens in *; lia).
      destruct b as [|a]; [rewrite (support j) by lia; ring|]. rewrite (tok_S j a).
      destruct (Nat.ltb_spec (S a) d); [|lia]. field. lra.
Qed.

Lemma unit_rows i : (i < n)%nat -> l2 d (X i) = 1.
Proof.
  intros Hi. unfold l2, every_rank. rewrite norm_tok by (unfold first_tokens; lia). apply sqrt_1.
Qed.

Lemma fixed_shift : fixed n d F X.
Proof.
  intros i b Hi Hb.
  assert (U : forall b, (b < d)%nat -> Ux n d no_logits W causal X i b = multiple i * X i b).
  { intros e He. rewrite <- telescoped by assumption. unfold Ux, Ex, no_logits.
    replace n with (S i + (n - S i))%nat at 1 by lia. rewrite sum_split.
    rewrite (sum_ext (n - S i) _ (fun _ => 0)) by (intros j _; unfold causal; destruct (Nat.leb_spec (S i + j) i);
      [lia|ring]).
    rewrite sum_zero, Rplus_0_r. apply sum_ext; intros j Hj. unfold causal. destruct (Nat.leb_spec j i); [|lia].
    replace (bil d (X i) (fun _ _ => 0) (X j)) with 0; [rewrite exp_0; ring|].
    unfold bil. rewrite (sum_ext d _ (fun _ => 0)); [now rewrite sum_zero|]. intros.
    rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros; ring. }
  assert (P : 0 < multiple i) by (unfold multiple; destruct Nat.ltb; [apply lt_0_INR; lia|lra]).
  rewrite sphere_form by (try apply causal_proper; lia). rewrite U by exact Hb.
  replace (l2 d (Ux n d no_logits W causal X i)) with (multiple i); [field; lra|].
  transitivity (L2 d (fun a => multiple i * X i a)).
  - rewrite (sn_scal (L2 d)). change (L2 d (X i)) with (l2 d (X i)). rewrite unit_rows, Rabs_right by (auto; lra). ring.
  - unfold L2, l2, dot; simpl. f_equal. apply sum_ext; intros a Ha. now rewrite U.
Qed.

Lemma rank_shift : has_rank n d X k.
Proof.
  exists (fun j => (j + (m - 1))%nat). assert (E : forall j, X (j + (m - 1))%nat = tok_at j) by (intro;
    unfold every_rank; f_equal; lia).
  split; [|split].
  - intros j Hj. unfold first_tokens. lia.
  - intros c Hc. apply (independent_toks k c (le_n k)). intros a Ha. rewrite <- (Hc a Ha). apply sum_ext; intros j _.
    now rewrite E.
  - intros i Hi. exists (eye (i - (m - 1))%nat). intros a Ha.
    rewrite (sum_ext k _ (fun j => eye (i - (m - 1))%nat j * tok_at j a)) by (intros; now rewrite E).
    rewrite (sum_eye_l k (fun j => tok_at j a)) by (unfold first_tokens; lia). reflexivity.
Qed.
End Shift.

Theorem wu_3 n d w : (1 <= n)%nat -> INR n - 1 < w -> 0 < w -> exists W : mat,
  forall k, (1 <= k)%nat -> (k <= n)%nat -> (k <= d)%nat -> forall sgn : nat ->
    R, (forall j, sgn j = 1 \/ sgn j = -1) ->
  let X := every_rank n d k w sgn in
  (forall i, (i < n)%nat -> l2 d (X i) = 1) /\ fixed n d (sphere_map n d no_logits W causal) X /\ has_rank n d X k.
Proof.
  intros Hn Hw w0. exists (shift_values w). intros k k1 kn kd sgn Hs X. split; [|split].
  - intros; now apply unit_rows.
  - now apply fixed_shift.
  - now apply rank_shift.
Qed.

(** wu2024:3-measure.  Theorem 3, item 2: under the causal mask, for some weights,
  the starts that do not collapse have positive measure.

    For every n >= 2 there are weights, causal mask, LayerNorm on the sphere,
      and eta > 0 such that every start X within eta of the identity (unit tokens
    or not) converges to the identity, and mu(X(t)) >= 1/2 from some t on.
    The starts within eta of the identity contain a non-empty open set of the
    product of the spheres; that such a set has positive measure is not stated here. *)

(** What attracts is the limit. *)
Lemma attracts_limit n d F Z : attracts n d F Z -> exists eta, 0 < eta /\ forall X,
  within n d eta (fun i a => X i a - Z i a) ->
  forall i a, (i < n)%nat -> (a < d)%nat -> is_lim_seq (fun k => Nat.iter k F X i a) (Z i a).
Proof.
  intros [eta [C [q [Ep [C0 [Hq H]]]]]]. exists eta. split; [exact Ep|]. intros X HX i a Hi Ha.
  assert (L : forall s, is_lim_seq (fun k => Z i a + s * (C * q ^ k)) (Z i a)).
  { intro s. evar_last. { apply is_lim_seq_plus'; [apply is_lim_seq_const|]. apply (is_lim_seq_scal_l _ s 0).
      evar_last. { apply (is_lim_seq_scal_l _ C 0). apply is_lim_seq_geom. rewrite Rabs_right; lra. } simpl. f_equal.
      ring. }
    simpl. f_equal. ring. }
  apply is_lim_seq_le_le with (u := fun k => Z i a + -1 * (C * q ^ k)) (w := fun k => Z i a + 1 * (C * q ^ k));
    [|apply L|apply L].
  intro k. assert (R := H X HX k i a Hi Ha). apply Rabs_le_between in R. lra.
Qed.

Theorem wu_3_measure n : (2 <= n)%nat -> exists (M W : mat) eta, 0 < eta /\ forall X,
  within n n eta (fun i a => X i a - eye i a) ->
  (forall i a, (i < n)%nat -> (a < n)%nat -> is_lim_seq (fun t => Nat.iter t (sphere_map n n M W causal) X i a) (eye i
    a)) /\
  exists T, forall t, (T <= t)%nat -> 1/2 <= mu n n (Nat.iter t (sphere_map n n M W causal) X).
Proof.
  intros Hn. set (m := fun i => (/ 2) ^ i).
  destruct (theorem_A n m ltac:(lia)) as [_ [_ At]].
  - intros i _. apply pow_lt. lra.
  - intros i k L _. unfold m. replace k with (i + (k - i))%nat by lia. rewrite pow_add.
    assert (P := pow_lt (/ 2) i ltac:(lra)).
    assert (Q : (/ 2) ^ (k - i) < 1) by (apply pow_lt_1_compat; [lra|lia]). nra.
  - destruct (attracts_limit _ _ _ _ At) as [eta [Ep Lim]]. exists above, (telescope m), eta. split; [exact Ep|].
    intros X HX. split; [exact (Lim X HX)|].
    assert (A := Lim X HX 0%nat 0%nat ltac:(lia) ltac:(lia)). assert (B := Lim X HX 1%nat 0%nat ltac:(lia) ltac:(lia)).
    assert (D := is_lim_seq_minus' _ _ _ _ A B). rewrite eye_same, eye_diff in D by lia.
    apply is_lim_seq_spec in D. destruct (D (mkposreal (1/4) ltac:(lra))) as [T HT]. exists T. intros t Ht.
    specialize (HT t Ht). simpl in HT. apply Rabs_def2 in HT.
    set (Y := Nat.iter t (sphere_map n n above (telescope m) causal) X) in *.
    assert (P := pair_mu n n Y 0%nat 1%nat ltac:(lia) ltac:(lia)).
    assert (Q : (Y 0%nat 0%nat - Y 1%nat 0%nat) * (Y 0%nat 0%nat - Y 1%nat 0%nat) <= dot n (vsub (Y 0%nat) (Y 1%nat))
      (vsub (Y 0%nat) (Y 1%nat))).
    { apply (sum_term_le n (fun a => vsub (Y 0%nat) (Y 1%nat) a * vsub (Y 0%nat) (Y 1%nat) a) 0%nat); [intros;
        apply Rle_0_sqr|lia]. }
    assert (M0 : 0 <= mu n n Y) by apply sqrt_pos. nra.
Qed.

(** wu2024:anisotropy.  The equilibria of wu2024:3 are close to rank one for large w.

    For rank k >= 2, m = n-k+1: ||X||_F^2 / ||X||_2^2 <= n / (n - (m^2 + k - 2)/w^2), at full rank n/(n - (n-1)/w^2).
    The spectral norm enters through every s >= 0 with |X v| <= s |v| for all v: then ||X||_F^2 = n and
    n - (m^2 + k - 2)/w^2 <= s^2, the left side positive. *)

Theorem wu_anisotropy n d k w (sgn : nat -> R) s : (2 <= k)%nat -> (k <= n)%nat -> (k <= d)%nat -> INR n - 1 < w ->
  (forall j, sgn j = 1 \/ sgn j = -1) ->
  let X := every_rank n d k w sgn in let m := INR (n - k + 1) in
  0 <= s -> (forall v : vec, l2 n (fun i => dot d (X i) v) <= s * l2 d v) ->
  frob n d X ^ 2 = INR n /\ 0 < INR n - (m ^ 2 + INR k - 2) / w ^ 2 /\
  INR n - (m ^ 2 + INR k - 2) / w ^ 2 <= s ^ 2 /\ frob n d X ^ 2 <= INR n / (INR n - (m ^ 2 + INR k - 2) / w ^ 2) * s ^
    2.
Proof.
  intros k2 kn kd Hw Hs X m s0 HX. assert (N : 2 <= INR n) by (apply (le_INR 2); lia). assert (w0 : 0 < w) by lra.
  assert (Fr : frob n d X ^ 2 = INR n).
  { unfold frob. rewrite <- Rsqr_pow2, Rsqr_sqrt by (apply sum_nonneg; intros; apply dot_pos).
    rewrite (sum_ext n _ (fun _ => 1)); [rewrite sum_const; ring|]. intros i Hi. unfold X, every_rank.
    apply (norm_tok n d k w sgn); auto; try lia. unfold first_tokens; lia. }
  assert (last : forall i, (i < n)%nat -> X i (d - 1)%nat ^ 2 = 1 - (if Nat.ltb i (n - k + 1) then 0 else if Nat.eqb i
    (n - k + 1) then (m / w) ^ 2 else (1 / w) ^ 2)).
  { intros i Hi. unfold X, every_rank, first_tokens. destruct (Nat.ltb_spec i (n - k + 1)).
    - replace (i - (n - k + 1 - 1))%nat with 0%nat by lia. simpl. rewrite eye_same. lra.
    - destruct (i - (n - k + 1 - 1))%nat as [|j] eqn:Ej; [lia|]. simpl. destruct (Nat.ltb_spec (S (d - 1)) d); [lia|].
      assert (SB : 0 < scale n k j < w) by (apply (scale_b n d k w); auto; lia).
      assert (Q : 0 <= 1 - (scale n k j / w) ^ 2).
      { assert (0 < scale n k j / w < 1) by (split; [apply Rdiv_lt_0_compat; lra|apply Rmult_lt_reg_r with w; [lra|];
          replace (scale n k j / w * w) with (scale n k j) by (field; lra); lra]). nra. }
      assert (Sq := sqrt_sqrt _ Q).
      assert (E : (sgn j * sqrt (1 - (scale n k j / w) ^ 2)) ^ 2 = 1 - (scale n k j / w) ^ 2).
      { simpl pow in *. destruct (Hs j) as [-> | ->]; lra. }
      simpl pow in E at 1. rewrite E.
      destruct (Nat.eqb_spec i (n - k + 1)); destruct j as [|j]; try lia; unfold scale, first_tokens, m; reflexivity. }
  assert (Col : sum n (fun i => X i (d - 1)%nat ^ 2) = INR n - (m ^ 2 + INR k - 2) / w ^ 2).
  { rewrite (sum_ext n _ _ last), sum_minus, sum_const.
    match goal with |- _ - sum n ?g = _ => replace (sum n g) with (sum ((n - k + 1) + (1 + (k - 2))) g) by (f_equal;
      lia) end. rewrite sum_split.
    rewrite (sum_ext (n - k + 1) _ (fun _ => 0)) by (intros j Hj; destruct (Nat.ltb_spec j (n - k + 1));
      [reflexivity|lia]).
    rewrite sum_zero, sum_split. cbn [sum]. rewrite Nat.add_0_r.
    destruct (Nat.ltb_spec (n - k + 1) (n - k + 1)); [lia|]. rewrite Nat.eqb_refl.
    rewrite (sum_ext (k - 2) _ (fun _ => (1 / w) ^ 2)).
    - rewrite sum_const, minus_INR by lia. simpl (INR 2). field. lra.
    - intros j Hj. destruct (Nat.ltb_spec (n - k + 1 + (1 + j)) (n - k + 1)); [lia|].
      destruct (Nat.eqb_spec (n - k + 1 + (1 + j)) (n - k + 1)); [lia|reflexivity]. }
  assert (Low : INR n - (m ^ 2 + INR k - 2) / w ^ 2 <= s ^ 2).
  { specialize (HX (eye (d - 1)%nat)).
    assert (V : l2 d (eye (d - 1)%nat) = 1) by (unfold l2, dot;
      rewrite (sum_eye_l d (fun a => eye (d - 1)%nat a)) by lia; rewrite eye_same; apply sqrt_1).
    rewrite V, Rmult_1_r in HX.
    assert (E : l2 n (fun i => dot d (X i) (eye (d - 1)%nat)) = sqrt (INR n - (m ^ 2 + INR k - 2) / w ^ 2)).
    { rewrite <- Col. unfold l2. f_equal. unfold dot at 1. apply sum_ext; intros i Hi.
      replace (dot d (X i) (eye (d - 1)%nat)) with (X i (d - 1)%nat); [ring|]. unfold dot. symmetry.
      rewrite (sum_ext d _ (fun a => eye (d - 1)%nat a * X i a)) by (intros; ring). apply (sum_eye_l d (X i)). lia. }
    rewrite E in HX. assert (C0 : 0 <= INR n - (m ^ 2 + INR k - 2) / w ^ 2) by (rewrite <- Col; apply sum_nonneg;
      intros; apply pow2_ge_0).
    rewrite <- (sqrt_sqrt _ C0). assert (P := sqrt_pos (INR n - (m ^ 2 + INR k - 2) / w ^ 2)).
    replace (s ^ 2) with (s * s) by ring. now apply Rmult_le_compat. }
  assert (Pos : 0 < INR n - (m ^ 2 + INR k - 2) / w ^ 2).
  { rewrite <- Col. apply Rlt_le_trans with (X 0%nat (d - 1)%nat ^ 2).
    - rewrite last by lia. destruct (Nat.ltb_spec 0 (n - k + 1)); [lra|lia].
    - apply (sum_term_le n (fun i => X i (d - 1)%nat ^ 2) 0%nat); [intros; apply pow2_ge_0|lia]. }
  repeat split; auto. rewrite Fr. set (D := INR n - (m ^ 2 + INR k - 2) / w ^ 2) in *.
  apply Rmult_le_reg_r with D; [exact Pos|]. replace (INR n / D * s ^ 2 * D) with (INR n * s ^ 2) by (field; lra).
  apply Rmult_le_compat_l; lra.
Qed.

(** wu2024:4.3.1.  Two causal tokens in the plane, W_QK = 0, W_V = [[1,w],[0,1]], w > 1, LayerNorm on the sphere.

    Token 1 rests exactly at +-(0,1).  With X_1 = (0,1), token 2 rests exactly at (0,1), (-1/w, s), (-1/w, -s),
    s = sqrt(1 - 1/w^2), and the derivative multiplies the tangent direction of token 2 by 1/2, 1+s, 1-s in turn. *)

Section Two.
Variable w : R.
Hypothesis w1 : 1 < w.
Notation W := (shift_values w).
Notation F := (sphere_map 2 2 no_logits W causal).
Notation U := (Ux 2 2 no_logits W causal).

Lemma U_two X : U X 0%nat 0%nat = X 0%nat 0%nat /\ U X 0%nat 1%nat = w * X 0%nat 0%nat + X 0%nat 1%nat /\
  U X 1%nat 0%nat = X 0%nat 0%nat + X 1%nat 0%nat /\
  U X 1%nat 1%nat = w * (X 0%nat 0%nat + X 1%nat 0%nat) + (X 0%nat 1%nat + X 1%nat 1%nat).
Proof.
  assert (B : forall u v, bil 2 u no_logits v = 0) by (intros; unfold bil, no_logits; cbn [sum]; ring).
  unfold Ux, Ex, vmat, causal, Language.shift_values, eye. cbn [sum Nat.leb Nat.eqb]. rewrite !B, exp_0.
  repeat split; ring.
Qed.

Lemma F_two X i b : (i < 2)%nat -> F X i b = U X i b / sqrt (U X i 0%nat * U X i 0%nat + U X i 1%nat * U X i 1%nat).
Proof.
  intros Hi. rewrite sphere_form by (try apply causal_proper; lia). unfold l2, dot. cbn [sum]. now rewrite Rplus_0_l.
Qed.

Lemma unit_two (x : vec) : l2 2 x = 1 -> x 0%nat * x 0%nat + x 1%nat * x 1%nat = 1.
Proof. intros H. assert (S : l2 2 x * l2 2 x = dot 2 x x) by (unfold l2; apply sqrt_sqrt, dot_pos). rewrite H in S.
unfold dot in S. cbn [sum] in S. lra. Qed.

(** u/|u| = x for a unit x: u = |u| x, |u| > 0. *)
Lemma direction u0 u1 x0 x1 : x0 * x0 + x1 * x1 = 1 -> x0 = u0 / sqrt (u0 * u0 + u1 * u1) ->
  x1 = u1 / sqrt (u0 * u0 + u1 * u1) ->
  exists L, 0 < L /\ u0 = L * x0 /\ u1 = L * x1.
Proof.
  intros H E0 E1. set (L := sqrt (u0 * u0 + u1 * u1)) in *. assert (P := sqrt_pos (u0 * u0 + u1 * u1)). fold L in P.
  assert (N : 0 < L).
  { destruct P as [P|P]; [exact P|]. exfalso. assert (Q : u0 * u0 + u1 * u1 = 0) by (apply sqrt_eq_0; [nra|]; fold L;
      lra).
    assert (u0 = 0) by nra. assert (u1 = 0) by nra. subst u0 u1. unfold Rdiv in *. rewrite Rmult_0_l in *. nra. }
  exists L. split; [exact N|]. rewrite E0, E1. split; field; lra.
Qed.
Lemma undirection u0 u1 x0 x1 L : x0 * x0 + x1 * x1 = 1 -> 0 < L -> u0 = L * x0 -> u1 = L * x1 ->
  sqrt (u0 * u0 + u1 * u1) = L /\ u0 / sqrt (u0 * u0 + u1 * u1) = x0 /\ u1 / sqrt (u0 * u0 + u1 * u1) = x1.
Proof.
  intros H PL -> ->. assert (E : sqrt (L * x0 * (L * x0) + L * x1 * (L * x1)) = L).
  { replace (L * x0 * (L * x0) + L * x1 * (L * x1)) with (L * L * (x0 * x0 + x1 * x1)) by ring. rewrite H, Rmult_1_r.
    apply sqrt_square. lra. }
  rewrite E. repeat split; field; lra.
Qed.

Lemma first_token X : l2 2 (X 0%nat) = 1 ->
  ((forall a, (a < 2)%nat -> F X 0%nat a = X 0%nat a) <-> X 0%nat 0%nat = 0 /\ (X 0%nat 1%nat = 1 \/ X 0%nat 1%nat =
    -1)).
Proof.
  intros H. apply unit_two in H. destruct (U_two X) as [E0 [E1 _]]. split.
  - intros Fx. assert (A0 := Fx 0%nat ltac:(lia)). assert (A1 := Fx 1%nat ltac:(lia)). rewrite F_two in A0, A1 by lia.
    symmetry in A0, A1.
    destruct (direction _ _ _ _ H A0 A1) as [L [P [Q0 Q1]]]. rewrite E0 in Q0. rewrite E1 in Q1.
    assert (Z : X 0%nat 0%nat = 0).
    { destruct (Req_dec (X 0%nat 0%nat) 0) as [|N]; [assumption|].
      assert (L = 1) by (apply (Rmult_eq_reg_r (X 0%nat 0%nat)); lra). subst L. nra. }
    split; [exact Z|]. rewrite Z in H. assert (Q : (X 0%nat 1%nat - 1) * (X 0%nat 1%nat + 1) = 0) by lra.
    apply Rmult_integral in Q. destruct Q; [left|right]; lra.
  - intros [Z _] a Ha. rewrite F_two by lia. destruct (undirection (U X 0%nat 0%nat) (U X 0%nat 1%nat) _ _ 1 H) as [_
      [B0 B1]]; try (rewrite ?E0, ?E1, Z; lra); try lra.
    destruct a as [|[|a]]; [exact B0|exact B1|lia].
Qed.

Definition s : R := sqrt (1 - / w ^ 2).
Lemma s_sq : s * s = 1 - / w ^ 2 /\ 0 <= s.
Proof.
  split; [|apply sqrt_pos]. apply sqrt_sqrt. assert (/ w ^ 2 < 1); [|lra]. rewrite <- Rinv_1.
  apply Rinv_lt_contravar; nra.
Qed.

(** The three places of token 2, each with the length of its mean and its multiplier. *)
Definition rest (x0 x1 L l : R) : Prop :=
  (x0 = 0 /\ x1 = 1 /\ L = 2 /\ l = 1/2) \/ (x0 = - / w /\ x1 = s /\ L = 1 /\ l = 1 + s) \/ (x0 = - / w /\ x1 = - s /\
    L = 1 /\ l = 1 - s).

Lemma rest_facts x0 x1 L l : rest x0 x1 L l -> x0 * x0 + x1 * x1 = 1 /\ 0 < L /\ x0 = L * x0 /\ w * x0 + (1 + x1) = L *
  x1.
Proof.
  destruct s_sq as [S _]. assert (I : w * / w = 1) by (apply Rinv_r; lra).
  assert (W2 : / w ^ 2 = / w * / w) by (field; lra).
  intros [[-> [-> [-> _]]]|[[-> [-> [-> _]]]|[-> [-> [-> _]]]]]; repeat split; nra.
Qed.

Lemma second_token X : X 0%nat 0%nat = 0 -> X 0%nat 1%nat = 1 -> l2 2 (X 1%nat) = 1 ->
  ((forall a, (a < 2)%nat -> F X 1%nat a = X 1%nat a) <-> exists L l, rest (X 1%nat 0%nat) (X 1%nat 1%nat) L l).
Proof.
  intros Z0 Z1 H. apply unit_two in H. destruct (U_two X) as [_ [_ [E0 E1]]]. rewrite Z0, Z1 in *.
  rewrite !Rplus_0_l in *. split.
  - intros Fx. assert (A0 := Fx 0%nat ltac:(lia)). assert (A1 := Fx 1%nat ltac:(lia)). rewrite F_two in A0, A1 by lia.
    symmetry in A0, A1.
    destruct (direction _ _ _ _ H A0 A1) as [L [P [Q0 Q1]]]. rewrite E0 in Q0. rewrite E1 in Q1.
    set (x0 := X 1%nat 0%nat) in *. set (x1 := X 1%nat 1%nat) in *. unfold rest. destruct (Req_dec x0 0) as [N|N].
    + assert (Q : (x1 - 1) * (x1 + 1) = 0) by (rewrite N in H; lra). apply Rmult_integral in Q. destruct Q as [Q|Q].
      * exists 2, (1/2). left. repeat split; lra.
      * exfalso. assert (x1 = -1) by lra. rewrite N, H0 in Q1. lra.
    + assert (L = 1) by (apply (Rmult_eq_reg_r x0); lra). subst L. assert (V : x0 = - / w).
      { apply (Rmult_eq_reg_l w); [|lra]. rewrite <- Ropp_mult_distr_r, Rinv_r by lra. lra. }
      destruct s_sq as [S _]. assert (Q : (x1 - s) * (x1 + s) = 0).
      { replace ((x1 - s) * (x1 + s)) with (x1 * x1 - s * s) by ring. rewrite S. rewrite V in H.
        replace (- / w * - / w) with (/ w ^ 2) in H by (field; lra). lra. }
      apply Rmult_integral in Q. destruct Q; [exists 1, (1 + s)|exists 1, (1 - s)]; right; [left|right]; repeat split;
        lra.
  - intros [L [l R]] a Ha. destruct (rest_facts _ _ _ _ R) as [_ [P [Q0 Q1]]]. rewrite F_two by lia.
    destruct (undirection (U X 1%nat 0%nat) (U X 1%nat 1%nat) _ _ L H P) as [_ [B0 B1]]; try (rewrite ?E0, ?E1; lra).
    destruct a as [|[|a]]; [exact B0|exact B1|lia].
Qed.

(** At such an equilibrium the derivative multiplies token 2's tangent direction (-x1, x0) by l. *)
Lemma multiplier X L l : X 0%nat 0%nat = 0 -> X 0%nat 1%nat = 1 -> rest (X 1%nat 0%nat) (X 1%nat 1%nat) L l ->
  exists J, derivative 2 2 F X J /\
  J 1%nat 0%nat 1%nat 0%nat * - X 1%nat 1%nat + J 1%nat 0%nat 1%nat 1%nat * X 1%nat 0%nat = l * - X 1%nat 1%nat /\
  J 1%nat 1%nat 1%nat 0%nat * - X 1%nat 1%nat + J 1%nat 1%nat 1%nat 1%nat * X 1%nat 0%nat = l * X 1%nat 0%nat.
Proof.
  intros Z0 Z1 R. destruct (rest_facts _ _ _ _ R) as [H [P [Q0 Q1]]]. destruct (U_two X) as [A0 [A1 [E0 E1]]].
  rewrite Z0, Z1 in *. rewrite !Rplus_0_l in *.
  set (x0 := X 1%nat 0%nat) in *. set (x1 := X 1%nat 1%nat) in *.
  destruct (undirection (U X 1%nat 0%nat) (U X 1%nat 1%nat) x0 x1 L H P ltac:(rewrite E0; lra) ltac:(rewrite E1;
    lra)) as [EL [B0 B1]].
  assert (LL : l2 2 (U X 1%nat) = L) by (rewrite <- EL; unfold l2, dot; cbn [sum]; now rewrite Rplus_0_l).
  exists (dF 2 2 no_logits W causal X). split.
  - apply layer_derivative; [lia|apply causal_proper|]. intros i Hi.
    destruct i as [|[|i]]; try lia; [|rewrite LL; exact P].
    unfold l2, dot. cbn [sum]. rewrite A0, A1. apply sqrt_lt_R0. lra.
  - assert (D : forall b q, (q < 2)%nat -> dU 2 2 no_logits W causal X 1%nat b 1%nat q = W q b).
    { intros b q Hq. unfold dU, dlogit, Ex, causal, no_logits. cbn [sum Nat.leb].
      rewrite (eye_diff 1 0), (eye_same 1) by lia.
      replace (bil 2 (X 1%nat) (fun _ _ => 0) (X 1%nat)) with 0 by (unfold bil; cbn [sum]; ring). rewrite exp_0. ring. }
    unfold dF. rewrite LL. cbn [sum]. rewrite !D by lia. rewrite !F_two by lia. rewrite B0, B1.
    unfold shift_values, eye. cbn [Nat.eqb].
    assert (I : w * / w = 1) by (apply Rinv_r; lra).
    destruct R as [[-> [-> [-> ->]]]|[[E [-> [-> ->]]]|[E [-> [-> ->]]]]]; [split; field| |].
    + assert (V : w * x0 = -1) by (rewrite E; lra). split.
      * replace (((1 + w * 0 - x0 * (0 + x0 * (1 + w * 0) + s * (0 + w * 1))) / 1 * - s + (0 + w * 0 - x0 * (0 + x0 *
          (0 + w * 0) + s * (1 + w * 0))) / 1 * x0))
          with (- s * (1 - (w * x0) * s)  + 0 * (1 - (x0 * x0 + s * s))) by (field). rewrite V. ring.
      * replace (((0 + w * 1 - s * (0 + x0 * (1 + w * 0) + s * (0 + w * 1))) / 1 * - s + (1 + w * 0 - s * (0 + x0 * (0
          + w * 0) + s * (1 + w * 0))) / 1 * x0))
          with (x0 * (1 - (x0 * x0 + s * s)) + x0 * (x0 * x0 + s * s) - (w * s) * (1 - (x0 * x0 + s * s)) - (w * x0) *
            x0 * s) by field. rewrite V, H. ring.
    + assert (V : w * x0 = -1) by (rewrite E; lra). split.
      * replace (((1 + w * 0 - x0 * (0 + x0 * (1 + w * 0) + - s * (0 + w * 1))) / 1 * - - s + (0 + w * 0 - x0 * (0 + x0
          * (0 + w * 0) + - s * (1 + w * 0))) / 1 * x0))
          with (s * (1 + (w * x0) * s)) by field. rewrite V. ring.
      * replace (((0 + w * 1 - - s * (0 + x0 * (1 + w * 0) + - s * (0 + w * 1))) / 1 * - - s + (1 + w * 0 - - s * (0 +
          x0 * (0 + w * 0) + - s * (1 + w * 0))) / 1 * x0))
          with (x0 * (1 - (x0 * x0 + - s * - s)) + x0 * (x0 * x0 + - s * - s) + (w * s) * (1 - (x0 * x0 + - s * - s)) +
            (w * x0) * x0 * s) by field. rewrite V, H. ring.
Qed.
End Two.

Theorem wu_4_3_1 w : 1 < w -> let F := sphere_map 2 2 no_logits (shift_values w) causal in
  (forall X, l2 2 (X 0%nat) = 1 ->
     ((forall a, (a < 2)%nat -> F X 0%nat a = X 0%nat a) <-> X 0%nat 0%nat = 0 /\ (X 0%nat 1%nat = 1 \/ X 0%nat 1%nat =
       -1))) /\
  (forall X, X 0%nat 0%nat = 0 -> X 0%nat 1%nat = 1 -> l2 2 (X 1%nat) = 1 ->
     ((forall a, (a < 2)%nat -> F X 1%nat a = X 1%nat a) <-> exists L l, rest w (X 1%nat 0%nat) (X 1%nat 1%nat) L l)) /\
  (forall X L l, X 0%nat 0%nat = 0 -> X 0%nat 1%nat = 1 -> rest w (X 1%nat 0%nat) (X 1%nat 1%nat) L l ->
     exists J, derivative 2 2 F X J /\
     J 1%nat 0%nat 1%nat 0%nat * - X 1%nat 1%nat + J 1%nat 0%nat 1%nat 1%nat * X 1%nat 0%nat = l * - X 1%nat 1%nat /\
     J 1%nat 1%nat 1%nat 0%nat * - X 1%nat 1%nat + J 1%nat 1%nat 1%nat 1%nat * X 1%nat 0%nat = l * X 1%nat 0%nat).
Proof.
  intros w1 F. split; [|split].
  - intros; now apply first_token.
  - intros; now apply second_token.
  - intros X L l Z0 Z1 R. now apply (multiplier w w1 X L l).
Qed.
