(** wang2022:1, as we read it: for a positive softmax matrix A and every z, |HC[A^t z]| / |DC[A^t z]| ->
  0, where DC is the projection
    on the constant vector and HC the rest.  Refuted: A = [[2/3,1/3],[1/2,1/2]], z = (2,-3): A z = z/6,
      the ratio is 5 for ever.
    (It is true when pi^T z is not zero, pi the stationary distribution of A.) *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions.
Local Open Scope R_scope.

Definition DC (n : nat) (z : vec) : vec := fun _ => sum n z / INR n.
Definition HC (n : nat) (z : vec) : vec := vsub z (DC n z).
(** A^t z *)
Fixpoint power (n : nat) (A : mat) (t : nat) (z : vec) : vec :=
  match t with O => z | S s => fun i => dot n (A i) (power n A s z) end.

Definition wang_low_pass : Prop := forall n (L : mat) (z : vec), (0 < n)%nat ->
  let A := fun i => softmax n (fun _ => 1) (L i) in
  (forall t, l2 n (DC n (power n A t z)) <> 0) ->
  is_lim_seq (fun t => l2 n (HC n (power n A t z)) / l2 n (DC n (power n A t z))) 0.

Definition L0 : mat := fun i j => match i, j with O, O => ln 2 | _, _ => 0 end.
Definition z0 : vec := fun i => match i with O => 2 | _ => -3 end.

Theorem wang_low_pass_refuted : ~ wang_low_pass.
Proof.
  intro H. set (A := fun i => softmax 2 (fun _ => 1) (L0 i)).
  assert (E : forall i j, A i j = match i, j with O, O => 2/3 | O, 1%nat => 1/3 | 1%nat, O => 1/2 | 1%nat,
    1%nat => 1/2 | _, _ => A i j end).
  { intros i j. unfold A, softmax, tilt. cbn [sum]. destruct i as [|[|i]]; destruct j as [|[|j]]; try reflexivity;
      cbn [L0]; rewrite ?exp_0, ?exp_ln by lra; lra. }
  assert (P : forall t i, (i < 2)%nat -> power 2 A t z0 i = (1/6) ^ t * z0 i).
  { induction t as [|t IH]; intros i Hi; [simpl; ring|]. simpl power. unfold dot. cbn [sum]. rewrite !IH by lia.
    rewrite (E i 0%nat), (E i 1%nat).
    destruct i as [|[|i]]; try lia; cbn [z0]; simpl pow; field. }
  assert (Q : forall t, 0 < (1/6) ^ t) by (intro; apply pow_lt; lra).
  assert (ED : forall t, l2 2 (DC 2 (power 2 A t z0)) = (1/6) ^ t * sqrt (1/2)).
  { intro t. unfold l2, dot, DC. cbn [sum]. rewrite !P by lia. cbn [z0]. simpl INR.
    replace ((0 + (0 + (1 / 6) ^ t * 2 + (1 / 6) ^ t * -3) / (1 + 1) * ((0 + (1 / 6) ^ t * 2 + (1 / 6) ^ t * -3) / (1 +
      1)) +
      (0 + (1 / 6) ^ t * 2 + (1 / 6) ^ t * -3) / (1 + 1) * ((0 + (1 / 6) ^ t * 2 + (1 / 6) ^ t * -3) / (1 + 1)))) with
        ((1/6) ^ t * (1/6) ^ t * (1/2)) by field.
    rewrite sqrt_mult_alt by (specialize (Q t); nra). rewrite sqrt_square by (specialize (Q t); lra). reflexivity. }
  assert (EH : forall t, l2 2 (HC 2 (power 2 A t z0)) = (1/6) ^ t * (5 * sqrt (1/2))).
  { intro t. unfold l2, dot, HC, vsub, DC. cbn [sum]. rewrite !P by lia. cbn [z0]. simpl INR.
    replace (0 + ((1 / 6) ^ t * 2 - (0 + (1 / 6) ^ t * 2 + (1 / 6) ^ t * -3) / (1 + 1)) * ((1 / 6) ^ t * 2 - (0 + (1 /
      6) ^ t * 2 + (1 / 6) ^ t * -3) / (1 + 1)) +
      ((1 / 6) ^ t * -3 - (0 + (1 / 6) ^ t * 2 + (1 / 6) ^ t * -3) / (1 + 1)) * ((1 / 6) ^ t * -3 - (0 + (1 / 6) ^ t *
        2 + (1 / 6) ^ t * -3) / (1 + 1)))
      with ((1/6) ^ t * (1/6) ^ t * (5 * 5 * (1/2))) by field.
    rewrite sqrt_mult_alt by (specialize (Q t); nra). rewrite sqrt_square by (specialize (Q t); lra).
    rewrite sqrt_mult_alt by lra. rewrite sqrt_square by lra. reflexivity. }
  assert (S2 : 0 < sqrt (1/2)) by (apply sqrt_lt_R0; lra).
  specialize (H 2%nat L0 z0 ltac:(lia)). cbv zeta in H. fold A in H.
  assert (Lim : is_lim_seq (fun t => l2 2 (HC 2 (power 2 A t z0)) / l2 2 (DC 2 (power 2 A t z0))) 5).
  { apply is_lim_seq_ext with (u := fun _ => 5); [|apply is_lim_seq_const]. intro t. rewrite ED, EH. specialize (Q t).
    field. lra. }
  assert (H0 := H (fun t => ltac:(rewrite ED; specialize (Q t); apply Rgt_not_eq, Rmult_lt_0_compat; lra))).
  assert (U := is_lim_seq_unique _ _ H0). rewrite (is_lim_seq_unique _ _ Lim) in U. injection U. lra.
Qed.
