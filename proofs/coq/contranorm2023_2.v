(** contranorm2023:2, as we read it: H' = (1+s)H - s(HH^T)H with 1 + (1 - sigma_max^2) s > 0 has a larger effective
  rank than H
    (the exponential of the entropy of the normalised singular values).  Refuted: H = diag(7/5, 1/2), s = 1 gives
    H' = diag(7/125, 7/8), and the effective rank falls. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions IntervalZ.
Local Open Scope R_scope.

(** sigma_0 >= ... >= 0 up to order are singular values of the n x n matrix H: H = U diag(sigma) V^T,
  U and V orthogonal. *)
Definition transpose (A : mat) : mat := fun i j => A j i.
Definition diagonal (s : vec) : mat := fun i j => s i * eye i j.
Definition singular_values (n : nat) (H : mat) (s : vec) : Prop := (forall i, (i < n)%nat -> 0 <= s i) /\
  exists U V, orthogonal n U /\ orthogonal n V /\ forall i j, (i < n)%nat -> (j < n)%nat ->
    H i j = mmul n (mmul n U (diagonal s)) (transpose V) i j.
(** exp(-sum p_i log p_i), p = s / sum s *)
Definition effective_rank (n : nat) (s : vec) : R := exp (- sum n (fun i => s i / sum n s * ln (s i / sum n s))).
Definition contranorm (n : nat) (s : R) (H : mat) : mat := fun i j => (1 + s) * H i j - s * mmul n (mmul n H (transpose
  H)) H i j.

Definition contranorm_claim : Prop := forall n (H : mat) (s : R) (sg sg' : vec), (0 < n)%nat ->
  singular_values n H sg -> singular_values n (contranorm n s H) sg' ->
  (forall i, (i < n)%nat -> 0 < sg i) -> (forall i, (i < n)%nat -> 0 < sg' i) -> 0 < s ->
  (forall i, (i < n)%nat -> 0 < 1 + (1 - sg i ^ 2) * s) ->
  effective_rank n sg < effective_rank n sg'.

Definition sg0 : vec := fun i => match i with O => 7/5 | _ => 1/2 end.
Definition sg1 : vec := fun i => match i with O => 7/125 | _ => 7/8 end.

Theorem contranorm_refuted : ~ contranorm_claim.
Proof.
  intro C.
  assert (I : orthogonal 2 eye) by (intros a b Ha Hb; unfold dot; destruct a as [|[|a]]; try lia;
    destruct b as [|[|b]]; try lia; unfold eye; cbn [sum Nat.eqb]; ring).
  assert (D : forall s H, (forall i j, (i < 2)%nat -> (j < 2)%nat -> H i j = diagonal s i j) ->
    (forall i, (i < 2)%nat -> 0 <= s i) -> singular_values 2 H s).
  { intros s H E P. split; [exact P|]. exists eye, eye. split; [exact I|split; [exact I|]]. intros i j Hi Hj.
    rewrite E by assumption.
    unfold mmul, vmat, diagonal, transpose, eye. destruct i as [|[|i]]; try lia; destruct j as [|[|j]]; try lia;
      cbn [sum Nat.eqb]; ring. }
  assert (L : effective_rank 2 sg0 < effective_rank 2 sg1).
  { apply (C 2%nat (diagonal sg0) 1); try lia; try lra.
    - apply D; [reflexivity|]. intros i _. destruct i; cbn [sg0]; lra.
    - apply D; [|intros i _; destruct i; cbn [sg1]; lra]. intros i j Hi Hj.
      unfold contranorm, mmul, vmat, transpose, diagonal, eye.
      destruct i as [|[|i]]; try lia; destruct j as [|[|j]]; try lia; cbn [sum Nat.eqb sg0 sg1]; field.
    - intros i _. destruct i; cbn [sg0]; lra.
    - intros i _. destruct i; cbn [sg1]; lra.
    - intros i _. destruct i; cbn [sg0]; lra. }
  unfold effective_rank in L. cbn [sum sg0 sg1] in L.
  assert (effective : exp (- (0 + 7/125 / (0 + 7/125 + 7/8) * ln (7/125 / (0 + 7/125 + 7/8)) + 7/8 / (0 + 7/125 + 7/8)
    * ln (7/8 / (0 + 7/125 + 7/8)))) < 1.26) by interval with (i_prec 40).
  assert (1.77 < exp (- (0 + 7/5 / (0 + 7/5 + 1/2) * ln (7/5 / (0 + 7/5 + 1/2)) + 1/2 / (0 + 7/5 + 1/2) * ln (1/2 / (0
    + 7/5 + 1/2))))) by interval with (i_prec 40).
  lra.
Qed.
