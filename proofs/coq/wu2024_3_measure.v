(** wu2024:3-measure.  Theorem 3, item 2: under the causal mask, for some weights,
  the starts that do not collapse have positive measure.

    For every n >= 2 there are weights, causal mask, LayerNorm on the sphere,
      and eta > 0 such that every start X within eta of the identity (unit tokens
    or not) converges to the identity, and mu(X(t)) >= 1/2 from some t on.
    The starts within eta of the identity contain a non-empty open set of the
    product of the spheres; that such a set has positive measure is not stated here. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms Softmax Masks Jets SphereLayer theorem_A own_hemisphere wu2024_2.
Local Open Scope R_scope.

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
