(** The rule [eigenvalues] of the checker counts: discs of row sums that are apart from the others hold together as many
    eigenvalues as they are [rule_counted_discs].

    No polynomial and no limit of roots: of a combination of more eigenvectors than that, one is zero in all of these rows, and
    the powers of B - c make it grow by the other discs, and not faster than by its eigenvalues. *)
Require Import Reals Lra Lia Psatz Classical List.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms Language LanguageFacts kernel_rules.
Local Open Scope R_scope.

Section Discs.
Variables (n : nat) (B : mat) (lam : nat -> R) (E : nat -> vec).
Hypothesis eigen : forall k i, (k < n)%nat -> (i < n)%nat -> mvec n B (E k) i = lam k * E k i.
Hypothesis free : forall a : vec, (forall i, (i < n)%nat -> sum n (fun k => a k * E k i) = 0) ->
  forall k, (k < n)%nat -> a k = 0.
Definition others_of (i : nat) : R := sum n (fun j => if Nat.eqb j i then 0 else Rabs (B i j)).
Variables (inside : nat -> bool) (c r r' : R).
Hypothesis r0 : 0 <= r.
Hypothesis apart : r < r'.
Hypothesis rows_in : forall i, (i < n)%nat -> inside i = true -> Rabs (B i i - c) + others_of i <= r.
Hypothesis rows_out : forall i, (i < n)%nat -> inside i = false -> r' <= Rabs (B i i - c) - others_of i.

Let size (x : vec) : R := maxf n (fun i => Rabs (x i)).
Let moved (x : vec) : vec := fun i => mvec n B x i - c * x i.

Lemma moved_split x i : (i < n)%nat ->
  moved x i = (B i i - c) * x i + sum n (fun j => if Nat.eqb j i then 0 else B i j * x j).
Proof.
  intros Hi. unfold moved, mvec. rewrite (sum_ext n _ (fun j => (if Nat.eqb j i then B i i * x i else 0) + (if Nat.eqb
    j i then 0 else B i j * x j))) by (intros j _; destruct (Nat.eqb_spec j i) as [->|]; ring).
  rewrite sum_plus, (sum_single n (fun j => if Nat.eqb j i then B i i * x i else 0) i Hi).
  - rewrite Nat.eqb_refl. ring.
  - intros j _ N. destruct (Nat.eqb_spec j i); [contradiction|reflexivity].
Qed.
Lemma rest_small x i : Rabs (sum n (fun j => if Nat.eqb j i then 0 else B i j * x j)) <= others_of i * size x.
Proof.
  eapply Rle_trans; [apply sum_abs|]. unfold others_of. rewrite <- sum_scal_r. apply sum_le; intros j Hj.
  destruct (Nat.eqb j i); [rewrite Rabs_R0; lra|]. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|].
  exact (maxf_ub n (fun i => Rabs (x i)) j Hj).
Qed.
Lemma moved_in x i : (i < n)%nat -> inside i = true -> Rabs (moved x i) <= r * size x.
Proof.
  intros Hi I. rewrite (moved_split x i Hi). eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
  assert (S := rest_small x i). assert (M := maxf_ub n (fun i => Rabs (x i)) i Hi). cbv beta in M. fold (size x) in M.
  assert (Rabs (B i i - c) * Rabs (x i) <= Rabs (B i i - c) * size x) by (apply Rmult_le_compat_l; [apply Rabs_pos|exact
    M]).
  assert ((Rabs (B i i - c) + others_of i) * size x <= r * size x) by (apply Rmult_le_compat_r; [apply maxf_pos|now
    apply rows_in]). lra.
Qed.
Lemma moved_out x i : (i < n)%nat -> inside i = false -> Rabs (x i) = size x -> r' * size x <= Rabs (moved x i).
Proof.
  intros Hi I X. rewrite (moved_split x i Hi). set (s := sum n _).
  assert (S : Rabs s <= others_of i * size x) by apply rest_small.
  assert (T := Rabs_triang_inv ((B i i - c) * x i) (- s)). rewrite Rabs_Ropp, Rabs_mult, X in T.
  replace ((B i i - c) * x i - - s) with ((B i i - c) * x i + s) in T by ring.
  assert (r' * size x <= (Rabs (B i i - c) - others_of i) * size x) by (apply Rmult_le_compat_r; [apply maxf_pos|now
    apply rows_out]). lra.
Qed.
Lemma attained x : 0 < size x -> exists i, (i < n)%nat /\ Rabs (x i) = size x.
Proof.
  intros P. destruct (maxf_attained n (fun i => Rabs (x i))) as [Z|[i [Hi H]]]; [fold (size x) in Z; lra|].
  exists i. split; [exact Hi|now symmetry].
Qed.
Lemma size_of_zero x : size x <= 0 -> forall i, (i < n)%nat -> x i = 0.
Proof.
  intros Z i Hi. assert (M := maxf_ub n (fun i => Rabs (x i)) i Hi). cbv beta in M. fold (size x) in M.
  assert (P := Rabs_pos (x i)). destruct (Req_dec (x i) 0) as [E0|N]; [exact E0|]. apply Rabs_pos_lt in N. lra.
Qed.

(** Combinations of eigenvectors, and how long they are. *)
Definition combined (a : vec) : vec := fun i => sum n (fun k => a k * E k i).
Lemma moved_combined a i : (i < n)%nat -> moved (combined a) i = combined (fun k => a k * (lam k - c)) i.
Proof.
  intros Hi. unfold moved, combined. unfold mvec.
  rewrite (sum_ext n _ (fun j => sum n (fun k => a k * (B i j * E k j)))) by (intros; rewrite <- sum_scal; apply sum_ext;
    intros; ring).
  rewrite sum_swap, <- sum_scal, <- sum_minus. apply sum_ext; intros k Hk. rewrite sum_scal.
  change (sum n (fun j => B i j * E k j)) with (mvec n B (E k) i). rewrite eigen by assumption. ring.
Qed.
Lemma combined_small a b : (forall k, (k < n)%nat -> Rabs (a k) <= b k) ->
  size (combined a) <= sum n (fun k => b k * size (E k)).
Proof.
  intros H. apply maxf_lub; [apply sum_nonneg; intros k Hk; apply Rmult_le_pos; [eapply Rle_trans; [apply
    Rabs_pos|now apply H]|apply maxf_pos]|].
  intros i Hi. unfold combined. eapply Rle_trans; [apply sum_abs|]. apply sum_le; intros k Hk. rewrite Rabs_mult.
  apply Rmult_le_compat; try apply Rabs_pos; [now apply H|]. exact (maxf_ub n (fun i => Rabs (E k i)) i Hi).
Qed.

(** A positive number that is at most C q^t for all t, q < 1, is none. *)
Lemma no_floor C q s : 0 < s -> 0 <= q < 1 -> ~ (forall t : nat, s <= C * q ^ t).
Proof.
  intros Hs Hq H. assert (C0 : 0 < C) by (specialize (H 0%nat); simpl in H; lra).
  destruct (pow_lt_1_zero q ltac:(rewrite Rabs_right; lra) (s / C) ltac:(now apply Rdiv_lt_0_compat)) as [N L].
  specialize (L N (le_n N)). specialize (H N). rewrite Rabs_right in L by (apply Rle_ge, pow_le; lra).
  apply (Rmult_lt_compat_l C) in L; [|exact C0]. replace (C * (s / C)) with s in L by (field; lra). lra.
Qed.

(** Numbers of the rows and of the eigenvalues, one after the other. *)
Definition listed (p : nat -> bool) : list nat := filter p (seq 0 n).
Definition count (p : nat -> bool) : nat := length (listed p).
Lemma listed_ok p j : (j < count p)%nat -> (nth j (listed p) 0 < n)%nat /\ p (nth j (listed p) 0%nat) = true.
Proof.
  intros H. assert (I := nth_In (listed p) 0%nat H). unfold listed in I at 2. apply filter_In in I.
  destruct I as [I P]. apply in_seq in I. split; [lia|exact P].
Qed.
Lemma listed_all p i : (i < n)%nat -> p i = true -> exists j, (j < count p)%nat /\ nth j (listed p) 0%nat = i.
Proof. intros Hi P. apply In_nth. apply filter_In. split; [apply in_seq; lia|exact P]. Qed.
Lemma listed_once p i j : (i < count p)%nat -> (j < count p)%nat -> nth i (listed p) 0%nat = nth j (listed p) 0%nat ->
  i = j.
Proof. apply NoDup_nth. apply NoDup_filter, seq_NoDup. Qed.

(** More eigenvalues than rows: some combination of their eigenvectors, not zero, is zero in the rows. *)
Lemma vanishing p q : (count q < count p)%nat -> exists a : vec, (forall k, (k < n)%nat -> p k = false -> a k = 0) /\
  0 < size (combined a) /\ forall i, (i < n)%nat -> q i = true -> combined a i = 0.
Proof.
  intros L. set (m := count q).
  destruct (dependent m (fun l j => E (nth l (listed p) 0%nat) (nth j (listed q) 0%nat))) as [b [[l0 [Hl0 Nb]] Hb]].
  set (a := fun k => sum (S m) (fun l => if Nat.eqb (nth l (listed p) 0%nat) k then b l else 0)).
  assert (Comb : forall i, combined a i = sum (S m) (fun l => b l * E (nth l (listed p) 0%nat) i)).
  { intro i. unfold combined, a.
    rewrite (sum_ext n _ (fun k => sum (S m) (fun l => if Nat.eqb (nth l (listed p) 0%nat) k then b l * E k i else 0))).
    - rewrite sum_swap. apply sum_ext; intros l Hl. assert (Ok := listed_ok p l ltac:(unfold m in Hl; lia)).
      rewrite (sum_single n _ (nth l (listed p) 0%nat) (proj1 Ok)).
      + now rewrite Nat.eqb_refl.
      + intros k _ N. destruct (Nat.eqb_spec (nth l (listed p) 0%nat) k); [congruence|reflexivity].
    - intros k _. rewrite <- sum_scal_r. apply sum_ext; intros l _. destruct Nat.eqb; ring. }
  exists a. split; [|split].
  - intros k Hk F. unfold a. rewrite (sum_ext (S m) _ (fun _ => 0)); [apply sum_zero|]. intros l Hl.
    destruct (Nat.eqb_spec (nth l (listed p) 0%nat) k) as [<-|]; [|reflexivity].
    assert (Ok := listed_ok p l ltac:(unfold m in Hl; lia)). destruct Ok. congruence.
  - assert (P := maxf_pos n (fun i => Rabs (combined a i))). fold (size (combined a)) in P.
    destruct P as [P|Z]; [exact P|]. exfalso. apply Nb. set (k0 := nth l0 (listed p) 0%nat).
    assert (K0 := listed_ok p l0 ltac:(unfold m in Hl0; lia)). fold k0 in K0.
    assert (A0 : a k0 = 0) by (apply free; [exact (size_of_zero (combined a) ltac:(lra))|apply K0]).
    rewrite <- A0. unfold a. rewrite (sum_single (S m) _ l0 Hl0); [unfold k0; now rewrite Nat.eqb_refl|].
    intros l Hl N. destruct (Nat.eqb_spec (nth l (listed p) 0%nat) k0) as [Eq|]; [|reflexivity].
    exfalso. apply N. apply (listed_once p); unfold m in *; lia.
  - intros i Hi Q. rewrite Comb. destruct (listed_all q i Hi Q) as (j & Hj & <-). exact (Hb j Hj).
Qed.

(** Not more eigenvalues than rows inside. *)
Lemma not_more_inside p : (forall k, (k < n)%nat -> p k = true -> Rabs (lam k - c) <= r) ->
  (count p <= count inside)%nat.
Proof.
  intros Hp. apply Nat.nlt_ge. intro L. destruct (vanishing p inside L) as (a & A0 & S0 & Z).
  set (x := fun t => combined (fun k => a k * (lam k - c) ^ t)).
  assert (x0 : forall i, x 0%nat i = combined a i) by (intro i; unfold x, combined; apply sum_ext; intros; simpl; ring).
  assert (St : forall t i, (i < n)%nat -> moved (x t) i = x (S t) i).
  { intros t i Hi. unfold x. rewrite moved_combined by exact Hi. unfold combined. apply sum_ext; intros k _. simpl.
    ring. }
  assert (G : forall t, r' ^ t * size (combined a) <= size (x t) /\ exists i, (i < n)%nat /\ inside i = false /\
    Rabs (x t i) = size (x t)).
  { induction t as [|t [G1 (i & Hi & I & X)]].
    - assert (E0 : size (x 0%nat) = size (combined a)) by (apply maxf_ext; intros; now rewrite x0).
      split; [rewrite E0; simpl; lra|]. destruct (attained (x 0%nat) ltac:(lra)) as (i & Hi & X). exists i.
      split; [exact Hi|split; [|exact X]]. destruct (inside i) eqn:I; [|reflexivity]. rewrite x0, (Z i Hi I), Rabs_R0 in
        X. lra.
    - assert (M := moved_out (x t) i Hi I X). rewrite (St t i Hi) in M.
      assert (U := maxf_ub n (fun i => Rabs (x (S t) i)) i Hi). cbv beta in U. fold (size (x (S t))) in U.
      assert (P : 0 < size (x t)) by (eapply Rlt_le_trans; [|exact G1]; apply Rmult_lt_0_compat; [apply pow_lt; lra|exact
        S0]).
      split.
      + simpl. rewrite Rmult_assoc. apply Rle_trans with (r' * size (x t)); [apply Rmult_le_compat_l; lra|lra].
      + assert (0 < r' * size (x t)) by (apply Rmult_lt_0_compat; lra).
        destruct (attained (x (S t)) ltac:(lra)) as (k & Hk & Xk). exists k. split; [exact Hk|split; [|exact Xk]].
        destruct (inside k) eqn:Ik; [|reflexivity]. assert (Mk := moved_in (x t) k Hk Ik). rewrite (St t k Hk), Xk in Mk.
        assert (r * size (x t) < r' * size (x t)) by (apply Rmult_lt_compat_r; lra). lra. }
  apply (no_floor (sum n (fun k => Rabs (a k) * size (E k))) (r / r') (size (combined a)) S0).
  { split; [unfold Rdiv; apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
    apply Rmult_lt_reg_r with r'; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  intro t. destruct (G t) as [G1 _].
  assert (U : size (x t) <= sum n (fun k => Rabs (a k) * r ^ t * size (E k))).
  { apply combined_small. intros k Hk. rewrite Rabs_mult, <- RPow_abs. destruct (p k) eqn:Pk.
    - apply Rmult_le_compat_l; [apply Rabs_pos|]. apply pow_incr. split; [apply Rabs_pos|now apply Hp].
    - rewrite (A0 k Hk Pk), Rabs_R0. lra. }
  rewrite (sum_ext n _ (fun k => Rabs (a k) * size (E k) * r ^ t)) in U by (intros; ring). rewrite sum_scal_r in U.
  assert (Pt : 0 < r' ^ t) by (apply pow_lt; lra). apply Rmult_le_reg_l with (r' ^ t); [exact Pt|].
  unfold Rdiv. rewrite Rpow_mult_distr, pow_inv. set (K := sum n _) in *.
  replace (r' ^ t * (K * (r ^ t * / r' ^ t))) with (K * r ^ t) by (field; lra). lra.
Qed.

(** Not more eigenvalues than rows outside. *)
Lemma not_more_outside p : (forall k, (k < n)%nat -> p k = true -> r' <= Rabs (lam k - c)) ->
  (count p <= count (fun i => negb (inside i)))%nat.
Proof.
  intros Hp. apply Nat.nlt_ge. intro L. destruct (vanishing p (fun i => negb (inside i)) L) as (a & A0 & S0 & Z).
  set (x := fun t => combined (fun k => if p k then a k / (lam k - c) ^ t else 0)).
  assert (x0 : forall i, x 0%nat i = combined a i).
  { intro i. unfold x, combined. apply sum_ext; intros k Hk. destruct (p k) eqn:Pk; [simpl; field|rewrite (A0 k Hk Pk);
      ring]. }
  assert (N0 : forall k, (k < n)%nat -> p k = true -> lam k - c <> 0).
  { intros k Hk Pk Q. specialize (Hp k Hk Pk). rewrite Q, Rabs_R0 in Hp. lra. }
  assert (St : forall t i, (i < n)%nat -> moved (x (S t)) i = x t i).
  { intros t i Hi. unfold x. rewrite moved_combined by exact Hi. unfold combined. apply sum_ext; intros k Hk.
    destruct (p k) eqn:Pk; [|ring]. simpl. assert (Q := N0 k Hk Pk). field. split; [now apply pow_nonzero|exact Q]. }
  assert (G : forall t, size (combined a) <= r ^ t * size (x t) /\ forall i, (i < n)%nat -> inside i = false ->
    Rabs (x t i) < size (x t)).
  { induction t as [|t [G1 G2]].
    - assert (E0 : size (x 0%nat) = size (combined a)) by (apply maxf_ext; intros; now rewrite x0).
      split; [rewrite E0; simpl; lra|]. intros i Hi I. rewrite x0, Z by (auto; now rewrite I). rewrite Rabs_R0. lra.
    - assert (P : 0 < size (x t)).
      { assert (Q := maxf_pos n (fun i => Rabs (x t i))). fold (size (x t)) in Q. destruct Q as [Q|Q]; [exact Q|].
        rewrite <- Q, Rmult_0_r in G1. lra. }
      destruct (attained (x t) P) as (k & Hk & Xk). assert (Ik : inside k = true).
      { destruct (inside k) eqn:Ik; [reflexivity|]. specialize (G2 k Hk Ik). lra. }
      assert (Mk := moved_in (x (S t)) k Hk Ik). rewrite (St t k Hk), Xk in Mk. split.
      + simpl. replace (r * r ^ t * size (x (S t))) with (r ^ t * (r * size (x (S t)))) by ring.
        apply Rle_trans with (1 := G1). apply Rmult_le_compat_l; [apply pow_le; lra|exact Mk].
      + intros i Hi I. assert (U := maxf_ub n (fun i => Rabs (x (S t) i)) i Hi). cbv beta in U. fold (size (x (S t))) in U.
        destruct U as [U|U]; [exact U|]. exfalso. assert (M := moved_out (x (S t)) i Hi I U). rewrite (St t i Hi) in M.
        assert (V := maxf_ub n (fun i => Rabs (x t i)) i Hi). cbv beta in V. fold (size (x t)) in V.
        assert (0 < size (x (S t))).
        { assert (Q := maxf_pos n (fun i => Rabs (x (S t) i))). fold (size (x (S t))) in Q.
          destruct Q as [Q|Q]; [exact Q|]. rewrite <- Q, Rmult_0_r in Mk. lra. }
        assert (r * size (x (S t)) < r' * size (x (S t))) by (apply Rmult_lt_compat_r; lra). lra. }
  apply (no_floor (sum n (fun k => Rabs (a k) * size (E k))) (r / r') (size (combined a)) S0).
  { split; [unfold Rdiv; apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
    apply Rmult_lt_reg_r with r'; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  intro t. destruct (G t) as [G1 _]. assert (Pt : 0 < r' ^ t) by (apply pow_lt; lra).
  assert (U : size (x t) <= sum n (fun k => Rabs (a k) * / r' ^ t * size (E k))).
  { apply combined_small. intros k Hk. destruct (p k) eqn:Pk.
    - unfold Rdiv. rewrite Rabs_mult, Rabs_inv, <- RPow_abs. apply Rmult_le_compat_l; [apply Rabs_pos|].
      apply Rinv_le_contravar; [exact Pt|]. apply pow_incr. split; [lra|now apply Hp].
    - rewrite Rabs_R0. apply Rmult_le_pos; [apply Rabs_pos|left; now apply Rinv_0_lt_compat]. }
  rewrite (sum_ext n _ (fun k => Rabs (a k) * size (E k) * / r' ^ t)) in U by (intros; ring). rewrite sum_scal_r in U.
  eapply Rle_trans; [exact G1|]. unfold Rdiv. rewrite Rpow_mult_distr, pow_inv. set (K := sum n _) in *.
  replace (K * (r ^ t * / r' ^ t)) with (r ^ t * (K * / r' ^ t)) by ring.
  apply Rmult_le_compat_l; [apply pow_le; lra|exact U].
Qed.

Lemma count_both (p : nat -> bool) : (count p + count (fun i => negb (p i)) = n)%nat.
Proof.
  unfold count, listed. rewrite <- (seq_length n 0) at 3. generalize (seq 0 n). intro l.
  induction l as [|i l IH]; [reflexivity|]. simpl. destruct (p i); simpl; lia.
Qed.

(** Every eigenvalue is inside or outside, so of each there are as many as rows. *)
Theorem rule_counted_discs (p : nat -> bool) : (forall k, (k < n)%nat -> if p k then Rabs (lam k - c) <= r else r' <= Rabs (lam k - c)) ->
  count p = count inside.
Proof.
  intros H. assert (A : (count p <= count inside)%nat).
  { apply not_more_inside. intros k Hk P. specialize (H k Hk). now rewrite P in H. }
  assert (C : (count (fun k => negb (p k)) <= count (fun i => negb (inside i)))%nat).
  { apply not_more_outside. intros k Hk P. specialize (H k Hk). destruct (p k); [discriminate|exact H]. }
  assert (P := count_both p). assert (Q := count_both inside). lia.
Qed.
End Discs.
