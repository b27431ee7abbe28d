(** Two statements that are often read, refuted by exact rationals.

    folk:softmax-gradient: "the Jacobian of softmax at temperature T has norm at most min(1/(4T), sqrt 2)".
    At equal logits of two keys the
    derivative in the direction (1,-1) is (1,-1)/(2T): its norm is 1/(2T), twice the claim.
    (1/(2T) is the right constant.)
    folk:spectrum-real: "a positive row-stochastic matrix has its eigenvalues in (-1, 1]".
    circulant(1/10, 8/10, 1/10) has
    the eigenvalues (-7 +- 7 sqrt(3) i)/20. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions.
Local Open Scope R_scope.

(** v -> d/dh softmax((l + h v)/T) at h = 0 *)
Definition softmax_gradient_claim : Prop := forall n T (l v g : vec), 0 < T ->
  (forall j, (j < n)%nat -> is_derive (fun h => softmax n (fun _ => 1) (fun k => (l k + h * v k) / T) j) 0 (g j)) ->
  l2 n g <= Rmin (1 / (4 * T)) (sqrt 2) * l2 n v.

Definition v0 : vec := fun i => match i with O => 1 | _ => -1 end.

Theorem folk_softmax_gradient : ~ softmax_gradient_claim.
Proof.
  intro H. specialize (H 2%nat 1 (fun _ => 0) v0 (fun j => v0 j / 2) ltac:(lra)).
  assert (D : forall j, (j < 2)%nat -> is_derive (fun h => softmax 2 (fun _ => 1) (fun k => (0 + h * v0 k) / 1) j) 0
    (v0 j / 2)).
  { intros j Hj. unfold softmax, tilt. cbn [sum]. destruct j as [|[|j]]; try lia; cbn [v0]; auto_derive;
    rewrite ?Rmult_0_l, ?Rplus_0_l; unfold Rdiv; rewrite ?Rmult_0_l, ?exp_0; try lra; try field. }
  specialize (H D). assert (M := Rmin_l (1 / (4 * 1)) (sqrt 2)).
  assert (S2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (V : l2 2 v0 = sqrt 2) by (unfold l2, dot; cbn [sum v0]; f_equal; lra).
  assert (G : l2 2 (fun j => v0 j / 2) = sqrt 2 / 2).
  { unfold l2, dot. cbn [sum v0]. replace (0 + 1 / 2 * (1 / 2) + -1 / 2 * (-1 / 2)) with (2 * (1/2 * (1/2))) by lra.
    rewrite sqrt_mult_alt by lra. rewrite sqrt_square by lra. lra. }
  rewrite V, G in H. nra.
Qed.

Definition spectrum_real_claim : Prop := forall n (P : mat), row_stochastic n n P ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 < P i j) -> forall (z : C) (v : nat -> C),
  (exists i, (i < n)%nat /\ v i <> 0%C) -> (forall i, (i < n)%nat ->
    csum n (fun j => RtoC (P i j) * v j)%C = (z * v i)%C) ->
  exists x : R, z = RtoC x /\ -1 < x <= 1.

Definition circ : mat := fun i j => match i, j with O, 1%nat => 8/10 | 1%nat, 2%nat => 8/10 | 2%nat, O => 8/10 | _,
  _ => 1/10 end.
(** The powers of exp(2 pi i/3). *)
Definition om (j : nat) : C := match j with O => (1, 0) | 1%nat => (- / 2, sqrt 3 / 2) | _ => (- / 2,
  - (sqrt 3 / 2)) end.

Theorem folk_spectrum_real : ~ spectrum_real_claim.
Proof.
  intro H. assert (S3 : sqrt 3 * sqrt 3 = 3) by (apply sqrt_sqrt; lra).
  assert (P3 : 0 < sqrt 3) by (apply sqrt_lt_R0; lra).
  assert (RS : row_stochastic 3 3 circ).
  { split; [intros i j _ _; unfold circ; destruct i as [|[|[|i]]]; destruct j as [|[|[|j]]]; lra|].
    intros i Hi. destruct i as [|[|[|i]]]; try lia; cbn [sum circ]; lra. }
  destruct (H 3%nat circ RS ltac:(intros i j _ _; unfold circ; destruct i as [|[|[|i]]]; destruct j as [|[|[|j]]];
    lra) (- (7/20), 7 / 20 * sqrt 3) om) as [x [E _]].
  - exists 0%nat. split; [lia|]. cbn [om]. intro Q. injection Q. lra.
  - intros i Hi. unfold csum, RtoC, Cmult. destruct i as [|[|[|i]]]; try lia; cbn [sum circ om fst snd]; f_equal; nra.
  - unfold RtoC in E. injection E. intros E2 _. nra.
Qed.
