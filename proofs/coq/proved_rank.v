(** Registered statements about ranks, as Statements.v prints them; right inverses of independent rows. *)
Require Import Reals Lra Lia Psatz List FinFun Classical.
From Coquelicot Require Import Coquelicot.
From Rankmath Require bhojanapalli2020.
From Rankmath Require Import Definitions Norms Language LanguageFacts Statements.
Local Open Scope R_scope.

(** Independent rows have a right inverse: X Y = I.  A row is added: of what the others leave of it some entry a is not
  0, and
    e_a minus its part along the others is orthogonal to them. *)
Lemma right_inverse n d (X : mat) : @independent n d X ->
  exists Y : mat, forall i k, (i < n)%nat -> (k < n)%nat -> sum d (fun a => X i a * Y a k) = eye i k.
Proof.
  induction n as [|n IH]; intros Ind; [exists (fun _ _ => 0); intros; lia|].
  destruct IH as [Y HY].
  { intros v Hv i Hi. assert (Q := Ind (fun k => if Nat.eqb k n then 0 else v k)).
    destruct (Nat.eqb_spec i n) as [->|N]; [lia|]. specialize (Q ltac:(intros a Ha; cbn [sum];
      rewrite Nat.eqb_refl, Rmult_0_l, Rplus_0_r;
      rewrite <- (Hv a Ha); apply sum_ext; intros k Hk; destruct (Nat.eqb_spec k n); [lia|reflexivity]) i ltac:(lia)).
    cbv beta in Q. apply Nat.eqb_neq in N. now rewrite N in Q. }
  set (y := fun k => sum d (fun a => X n a * Y a k)). set (z := fun a => X n a - sum n (fun k => y k * X k a)).
  assert (Nz : exists a, (a < d)%nat /\ z a <> 0).
  { apply NNPP. intro Q. assert (Z : forall a, (a < d)%nat -> z a = 0).
    { intros a Ha. apply NNPP. intro N. apply Q. now exists a. }
    assert (W := Ind (fun k => if Nat.eqb k n then 1 else - y k)).
    specialize (W ltac:(intros a Ha; cbn [sum]; rewrite Nat.eqb_refl;
      rewrite (sum_ext n _ (fun k => - 1 * (y k * X k a))) by (intros k Hk; destruct (Nat.eqb_spec k n); [lia|ring]);
      rewrite sum_scal; assert (Za := Z a Ha); unfold z in Za; lra) n ltac:(lia)). cbv beta in W.
      rewrite Nat.eqb_refl in W. lra. }
  destruct Nz as [a [Ha Za]].
  set (u := fun b => (eye a b - sum n (fun k => X k a * Y b k)) / z a).
  assert (Xu : forall i, sum d (fun b => X i b * u b) = (X i a - sum n (fun k => X k a * sum d (fun b => X i b * Y b
    k))) / z a).
  { intro i. rewrite (sum_ext d _ (fun b => (X i b * eye a b - sum n (fun k => X k a * (X i b * Y b k))) * / z a)).
    - rewrite sum_scal_r, sum_minus. rewrite sum_swap. unfold Rdiv. f_equal. f_equal.
      + rewrite (sum_single d _ a Ha); [unfold eye; rewrite Nat.eqb_refl; ring|].
        intros b _ N. unfold eye. apply not_eq_sym, Nat.eqb_neq in N. rewrite N. ring.
      + apply sum_ext; intros k _. now rewrite sum_scal.
    - intros b _. unfold u, Rdiv. rewrite (sum_ext n (fun k => X k a * (X i b * Y b k)) (fun k => X i b * (X k a * Y b
        k))) by (intros; ring).
      rewrite sum_scal. ring. }
  assert (U0 : forall i, (i < n)%nat -> sum d (fun b => X i b * u b) = 0).
  { intros i Hi. rewrite Xu. rewrite (sum_single n _ i Hi).
    - rewrite HY by assumption. unfold eye. rewrite Nat.eqb_refl. field. exact Za.
    - intros k Hk N. rewrite HY by assumption. unfold eye. apply not_eq_sym, Nat.eqb_neq in N. rewrite N. ring. }
  assert (U1 : sum d (fun b => X n b * u b) = 1).
  { rewrite Xu. rewrite (sum_ext n _ (fun k => y k * X k a)) by (intros; unfold y; ring). fold (z a). field. exact Za. }
  exists (fun b k => if Nat.eqb k n then u b else Y b k - y k * u b).
  intros i k Hi Hk. destruct (Nat.eqb_spec k n) as [->|Nk].
  - destruct (Nat.eq_dec i n) as [->|Ni]; [rewrite U1; unfold eye; now rewrite Nat.eqb_refl|].
    rewrite U0 by lia. unfold eye. apply Nat.eqb_neq in Ni. now rewrite Ni.
  - rewrite (sum_ext d _ (fun b => X i b * Y b k - y k * (X i b * u b))) by (intros; ring). rewrite sum_minus, sum_scal.
    destruct (Nat.eq_dec i n) as [->|Ni].
    + fold (y k). rewrite U1. unfold eye. apply not_eq_sym, Nat.eqb_neq in Nk. rewrite Nk. ring.
    + rewrite HY, U0 by lia. ring.
Qed.

Theorem proved_bhojanapalli2020_1 : statement_bhojanapalli2020_1.
Proof.
  intros n d X L Hn Hd Ind. destruct (right_inverse n d X Ind) as [Y HY].
  destruct (bhojanapalli2020.bhojanapalli_1 n d X Y L HY) as [W HW]. exists W. exact HW.
Qed.

Theorem proved_own_low_rank_every_input : statement_own_low_rank_every_input.
Proof.
  intros n d X Hn Hd n2 [v [N Z]]. exists v. split; [exact N|split; [exact Z|]]. intros [W HW].
  destruct (bhojanapalli2020.low_rank n d X v n2 N Z) as [_ [_ Q]]. exact (Q W HW).
Qed.

(** More than n rows of an n x m matrix are dependent: one of them comes twice. *)
Lemma rank_at_most n m k (A : matrix n m) f : (forall j, (j < k)%nat -> (f j < n)%nat) ->
  @independent k m (fun j => A (f j)) -> (k <= n)%nat.
Proof.
  intros Hf Ind. set (g := fun j => if Nat.ltb j k then f j else (n + j)%nat).
  assert (Inj : Injective g).
  { intros i j E. unfold g in E. destruct (Nat.ltb_spec i k) as [Hi|Hi]; destruct (Nat.ltb_spec j k) as [Hj|Hj].
    - apply NNPP. intro N. assert (Q := Ind (fun l => eye i l - eye j l)).
      assert (P : forall (c : vec) x, (x < k)%nat -> sum k (fun l => eye x l * c l) = c x).
      { intros c x Hx. rewrite (sum_single k _ x Hx); [unfold eye; rewrite Nat.eqb_refl; ring|].
        intros l _ Nl. unfold eye. apply not_eq_sym, Nat.eqb_neq in Nl. rewrite Nl. ring. }
      specialize (Q ltac:(intros a _; rewrite (sum_ext k _ (fun l => eye i l * A (f l) a - eye j l * A (f l) a)) by
        (intros; ring);
        rewrite sum_minus, (P (fun l => A (f l) a) i Hi), (P (fun l => A (f l) a) j Hj), E; ring) i Hi). cbv beta in Q.
      unfold eye in Q. rewrite Nat.eqb_refl in Q. apply not_eq_sym, Nat.eqb_neq in N. rewrite N in Q. lra.
    - assert (H := Hf i Hi). lia.
    - assert (H := Hf j Hj). lia.
    - lia. }
  assert (L : (length (map g (seq 0 k)) <= length (seq 0 n))%nat).
  { apply NoDup_incl_length; [apply Injective_map_NoDup; [exact Inj|apply seq_NoDup]|].
    intros x Hx. apply in_map_iff in Hx. destruct Hx as [j [<- Hj]]. apply in_seq in Hj. apply in_seq. unfold g.
    destruct (Nat.ltb_spec j k); [|lia]. assert (H' := Hf j ltac:(lia)). lia. }
  rewrite map_length, !seq_length in L. exact L.
Qed.

Lemma rank_set_bound n m (A : matrix n m) x : (exists (k : nat) (f : nat -> nat),
  (forall j, (j < k)%nat -> (f j < n)%nat) /\ independent ((fun j => A (f j)) : matrix k m) /\ x = INR k) -> x <= INR n.
Proof. intros [k [f [Hf [Ind ->]]]]. apply le_INR. exact (rank_at_most n m k A f Hf Ind). Qed.

Theorem proved_own_softmax_rank : statement_own_softmax_rank.
Proof.
  intros n q x Hn Hx _ Dq Dx. unfold softmax_rank, rank_of, count.
  apply sup_is; [|intros y Hy; exact (rank_set_bound n n _ y Hy)].
  destruct (bhojanapalli2020.softmax_rank n q x Hx Dq Dx) as [f [Hf [Ind _]]]. exists n, f.
  split; [exact Hf|split; [exact Ind|reflexivity]].
Qed.

(** q = (0, 1), x = (1, 2): the rows (1/2, 1/2) and (1/3, 2/3). *)
Theorem refuted_folk_softmax_rank : ~ statement_folk_softmax_rank.
Proof.
  intro H. set (q := (fun i => match i with O => 0 | _ => 1 end) : vector 2).
  set (x := (fun i => match i with O => 1 | _ => 2 end) : vector 2).
  specialize (H 2%nat q x ltac:(lia) ltac:(intros [|j] _; unfold x; lra) eq_refl).
  set (A := (attention_of ((fun i j => q i * ln (x j)) : matrix 2 2)) : matrix 2 2).
  assert (R0 : forall j, (j < 2)%nat -> A 0%nat j = 1 / 2).
  { intros j Hj. unfold A, attention_of, row, shares, softmax, tilt, q. cbn [sum]. rewrite !Rmult_0_l, exp_0. field. }
  assert (R1 : A 1%nat 0%nat = 1 / 3 /\ A 1%nat 1%nat = 2 / 3).
  { unfold A, attention_of, row, shares, softmax, tilt, q, x. cbn [sum]. rewrite !Rmult_1_l, !exp_ln by lra.
    split; field. }
  assert (L : INR 2 <= softmax_rank q x).
  { apply (sup_ub _ (INR 2)); [intros y Hy; exact (rank_set_bound 2 2 _ y Hy)|]. exists 2%nat, (fun j => j).
    split; [auto|split; [|reflexivity]].
    fold A. intros v Hv i Hi. assert (E0 := Hv 0%nat ltac:(lia)). assert (E1 := Hv 1%nat ltac:(lia)).
    cbn [sum] in E0, E1.
    destruct R1 as [R10 R11]. rewrite R0, R10 in E0 by lia. rewrite R0, R11 in E1 by lia.
    destruct i as [|[|i]]; try lia; lra. }
  simpl INR in L. lra.
Qed.

Theorem proved_joudaki2023_isometry : statement_joudaki2023_isometry.
Proof.
  intros n d X Hn Hd Pos.
  assert (D0 : 0 < bhojanapalli2020.det n (bhojanapalli2020.gram d X)).
  { unfold isometry in Pos. apply Rnot_le_lt. intro L. unfold power in Pos.
    destruct Rle_dec as [_|N]; [unfold Rdiv in Pos; rewrite Rmult_0_l in Pos; lra|]. apply N. exact L. }
  assert (Len : forall i, (i < n)%nat -> 0 < l2 d (X i)) by (apply (bhojanapalli2020.lengths_positive n d X D0)).
  assert (D1 : 0 < bhojanapalli2020.det n (bhojanapalli2020.gram d (fun i => sphere d (X i)))) by (apply
    bhojanapalli2020.unit_determinant; assumption).
  assert (P : forall Y : matrix n d, 0 < bhojanapalli2020.det n (bhojanapalli2020.gram d Y) ->
    isometry Y = bhojanapalli2020.isometry n d Y).
  { intros Y HY. unfold isometry, bhojanapalli2020.isometry, power. f_equal. destruct Rle_dec as [L|_]; [|reflexivity].
    exfalso. apply (Rlt_not_le _ _ HY). exact L. }
  unfold unit_isometry. rewrite (P X D0). change (isometry (fun i => unit_of (row X i))) with (@isometry n d (fun i =>
    sphere d (X i))).
  rewrite (P _ D1). apply (bhojanapalli2020.isometry_grows n d X Hn D0).
Qed.

(** (1,-1,0), (1/2,0,-1/2), (0,1,-1) are on one line; LayerNorm takes the second twice as far, off the line. *)
Theorem refuted_folk_affine_rank : ~ statement_folk_affine_rank.
Proof.
  intro H. set (X := (fun i a => match i, a with O, O => 1 | O, 1%nat => -1 | O, _ => 0 | 1%nat, O => 1/2 | 1%nat,
    1%nat => 0 | 1%nat, _ => -1/2
    | _, O => 0 | _, 1%nat => 1 | _, _ => -1 end) : matrix 3 3).
  set (s := (fun i => match i with 1%nat => 2 | _ => 1 end) : vector 3).
  assert (C : forall i a, (i < 3)%nat -> centred_row X i a = X i a).
  { intros i a Hi. unfold centred_row. cbn [sum]. destruct i as [|[|[|i]]]; try lia; cbn [X]; simpl INR; lra. }
  assert (Q : forall i, (i < 3)%nat -> dot 3 (centred_row X i) (centred_row X i) = match i with 1%nat => 1/2 | _ => 2
    end).
  { intros i Hi. unfold dot. cbn [sum]. rewrite !C by exact Hi. destruct i as [|[|[|i]]]; try lia; cbn [X]; lra. }
  assert (Nb : normed_by X s).
  { split; [intros [|[|j]] _; cbn [s]; lra|]. split; [intros i Hi; rewrite Q by exact Hi; destruct i as [|[|i]]; lra|].
    intros i k Hi Hk. rewrite !Q by assumption. destruct i as [|[|[|i]]]; try lia; destruct k as [|[|[|k]]]; try lia;
      cbn [s]; lra. }
  assert (E := H 3%nat 3%nat X s ltac:(lia) ltac:(lia) Nb). unfold keeps_affine_rank in E.
  (* before: every row is a multiple of (-1, 2, -1) *)
  assert (Before : affine_rank X <= 1).
  { unfold affine_rank, rank_of. apply sup_le_nonneg; [lra|]. intros x (k & f & Hf & Ind & ->).
    destruct (le_lt_dec k 1) as [L|L]; [apply (le_INR k 1) in L; simpl in L; lra|exfalso].
    set (c := fun i : nat => match i with O => 0 | 1%nat => 1/2 | _ => 1 end).
    set (u := fun a : nat => match a with 1%nat => 2 | _ => -1 end).
    assert (Row : forall i a, (i < 3)%nat -> (a < 3)%nat -> vsub (X i) (X 0%nat) a = c i * u a).
    { intros i a Hi Ha. unfold vsub. destruct i as [|[|[|i]]]; try lia; destruct a as [|[|[|a]]]; try lia; cbn [X c u];
        lra. }
    assert (Two : forall v : vec, v 0%nat * c (f 0%nat) + v 1%nat * c (f 1%nat) = 0 -> (forall j, (2 <= j)%nat ->
      v j = 0) -> v 0%nat = 0 /\ v 1%nat = 0).
    { intros v Z V. assert (G : forall i, (i < k)%nat -> v i = 0); [|split; apply G; lia]. apply Ind. intros a Ha.
      rewrite (sum_ext k _ (fun i => u a * (v i * c (f i)))) by (intros i Hi; rewrite Row by (auto; lia); ring).
      rewrite sum_scal.
      replace k with (2 + (k - 2))%nat by lia. rewrite sum_split, (sum_ext (k - 2) _ (fun _ => 0)) by (intros j _;
        rewrite V by lia; ring).
      rewrite sum_zero. cbn [sum]. rewrite Rplus_0_l, Z. ring. }
    destruct (Two (fun j => match j with O => c (f 1%nat) | 1%nat => - c (f 0%nat) | _ => 0 end)) as [A _];
      [ring|intros [|[|j]] Hj; try lia; reflexivity|].
    destruct (Two (fun j => match j with 1%nat => 1 | _ => 0 end)) as [_ B];
      [rewrite A; ring|intros [|[|j]] Hj; try lia; reflexivity|]. lra. }
  assert (After : 2 <= affine_rank ((fun i a => s i * centred_row X i a) : matrix 3 3)).
  { unfold affine_rank, rank_of. 
    apply (sup_ub _ (INR 3)); [apply (rank_set_bound 3 3 (fun i => vsub (fun a => s i * centred_row X i a) (fun a => s
      0%nat * centred_row X 0%nat a)))|]. exists 2%nat, S. split; [intros; lia|]. split; [|simpl; ring].
    intros v Hv. assert (A := Hv 0%nat ltac:(lia)). assert (B := Hv 1%nat ltac:(lia)). cbn [sum] in A, B.
    unfold vsub in A, B.
    rewrite !C in A, B by lia. cbn [X s] in A, B. intros [|[|i]] Hi; try lia; lra. }
  lra.
Qed.
