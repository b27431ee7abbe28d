(** wu2024:2-step refuted.  The step from which the rate of Theorem 2 was to follow.

    The step, for unit tokens with all cosines at least phi >= 0, orthogonal W, a strongly connected mask with
    self-loops and radius r, weights at least eps on the edges, n eps < 1:
        1 - cos(X_i(t+r), X_k(t+r)) <= (1 - n eps^{2r}) (1 - phi).
    A star of three tokens refutes it: the hub sees all alike, each leaf gives 1/4 to the hub and 3/4 to itself,
    X = W = I, r = 1, eps = 1/4, phi = 0: the leaves meet at the hub only, their cosine after one layer
    is 1/10 < 3/16.  (The rate itself is right: wu2024:2.) *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms Softmax SphereLayer.
Local Open Scope R_scope.

Definition strongly_connected (n : nat) (G : mat) : Prop :=
  forall c, (c < n)%nat -> exists r, centre n G c r.

Definition wu_step : Prop := forall n d (M W G : mat) c r eps phi (X : mat),
  (0 < n)%nat -> (0 < r)%nat -> 0 < eps -> INR n * eps < 1 -> 0 <= phi ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> G i j = 0 \/ G i j = 1) -> (forall i, (i < n)%nat -> G i i = 1) ->
  centre n G c r -> strongly_connected n G -> orthogonal d W ->
  (forall i, (i < n)%nat -> l2 d (X i) = 1) ->
  (forall i k, (i < n)%nat -> (k < n)%nat -> phi <= dot d (X i) (X k)) ->
  (forall s i j, (s < r)%nat -> (i < n)%nat -> (j < n)%nat -> G i j = 1 ->
     eps <= attn n d d (hd (onehead d M W G) 0) (Nat.iter s (sphere_map n d M W G) X) i j) ->
  forall i k, (i < n)%nat -> (k < n)%nat ->
    1 - dot d (Nat.iter r (sphere_map n d M W G) X i) (Nat.iter r (sphere_map n d M W G) X k)
    <= (1 - INR n * eps ^ (2 * r)) * (1 - phi).

Definition star : mat := fun i j => if orb (Nat.eqb i 0) (orb (Nat.eqb j 0) (Nat.eqb i j)) then 1 else 0.
(** exp of the logits: the hub's row is constant, the leaves' rows are proportional to 1 : 3. *)
Definition star_logits : mat := fun i j => if andb (negb (Nat.eqb i 0)) (Nat.eqb i j) then ln 3 else 0.

Lemma star_E i j : (i < 3)%nat -> (j < 3)%nat -> Ex 3 star_logits star eye i j =
  match i, j with O, _ => 1 | 1%nat, O => 1 | 1%nat, 1%nat => 3 | 2%nat, O => 1 | 2%nat, 2%nat => 3 | _, _ => 0 end.
Proof.
  intros Hi Hj. unfold Ex, bil. destruct i as [|[|[|i]]]; try lia; destruct j as [|[|[|j]]]; try lia;
  unfold star, star_logits, eye; cbn [sum Nat.eqb orb andb negb];
  match goal with |- _ * exp ?x = _ => first [replace x with 0 by ring; rewrite exp_0|replace x with (ln 3) by ring;
    rewrite exp_ln by lra] end; lra.
Qed.

Theorem wu_step_refuted : ~ wu_step.
Proof.
  intro H.
  assert (PM : proper_mask 3 star).
  { split; [intros i j _ _; unfold star; destruct orb; lra|]. intros i Hi. exists 0%nat. split; [lia|]. unfold star.
    cbn [Nat.eqb]. rewrite Bool.orb_true_r. lra. }
  assert (U : forall i b, (i < 3)%nat -> (b < 3)%nat -> Ux 3 3 star_logits eye star eye i b = Ex 3 star_logits star eye
    i b).
  { intros i b Hi Hb. unfold Ux. rewrite (sum_ext 3 _ (fun j => Ex 3 star_logits star eye i j * eye j b)).
    - now rewrite (sum_eye_r 3 (fun j => Ex 3 star_logits star eye i j) b Hb).
    - intros j Hj. unfold vmat. now rewrite (sum_eye_l 3 (fun a => eye a b) j Hj). }
  assert (Reach : forall c, (c < 3)%nat -> centre 3 star c 2).
  { intros c Hc. split; [exact Hc|]. intros i Hi. destruct (Nat.eq_dec i c) as [->|]; [exists 0%nat; split;
      [lia|reflexivity]|].
    exists 2%nat. split; [lia|]. simpl. exists 0%nat. split; [lia|].
    split; [unfold star; cbn [Nat.eqb]; rewrite Bool.orb_true_r; lra|].
    exists c. split; [exact Hc|]. split; [|reflexivity]. unfold star. cbn [Nat.eqb orb]. lra. }
  assert (Row : forall i, (i < 3)%nat -> sum 3 (Ex 3 star_logits star eye i) = match i with O => 3 | _ => 4 end).
  { intros i Hi. cbn [sum]. rewrite !star_E by lia. destruct i as [|[|[|i]]]; try lia; lra. }
  specialize (H 3%nat 3%nat star_logits eye star 0%nat 1%nat (1/4) 0 eye ltac:(lia) ltac:(lia)).
  assert (Bad : 1 - dot 3 (sphere_map 3 3 star_logits eye star eye 1%nat) (sphere_map 3 3 star_logits eye star eye
    2%nat) = 9/10).
  { assert (L : forall i, (i = 1 \/ i = 2)%nat -> l2 3 (Ux 3 3 star_logits eye star eye i) = sqrt 10).
    { intros i Hi. unfold l2, dot. cbn [sum]. rewrite !U by lia. rewrite !star_E by lia. f_equal.
      destruct Hi as [->| ->]; ring. }
    unfold dot. cbn [sum]. rewrite !sphere_form by (auto; lia). rewrite !L, !U by lia. rewrite !star_E by lia.
    assert (S : sqrt 10 * sqrt 10 = 10) by (apply sqrt_sqrt; lra). assert (P : 0 < sqrt 10) by (apply sqrt_lt_R0; lra).
    replace (0 + 1 / sqrt 10 * (1 / sqrt 10) + 3 / sqrt 10 * (0 / sqrt 10) + 0 / sqrt 10 * (3 / sqrt 10)) with (/ (sqrt
      10 * sqrt 10)) by (field; lra).
    rewrite S. lra. }
  assert (Le : 1 - dot 3 (sphere_map 3 3 star_logits eye star eye 1%nat) (sphere_map 3 3 star_logits eye star eye
    2%nat) <= (1 - 3 * (1/4) ^ 2) * (1 - 0)).
  { replace 3 with (INR 3) by (simpl; lra). change 2%nat with (2 * 1)%nat at 3. apply H; try lra; try lia.
    - simpl. lra.
    - intros i j _ _. unfold star. destruct orb; auto.
    - intros i _. unfold star. rewrite Nat.eqb_refl, !Bool.orb_true_r. reflexivity.
    - split; [lia|]. intros i Hi. exists 1%nat. split; [lia|]. simpl. exists 0%nat. split; [lia|].
      split; [|reflexivity].
      unfold star. cbn [Nat.eqb]. rewrite Bool.orb_true_r. lra.
    - intros c Hc. exists 2%nat. now apply Reach.
    - intros a b Ha Hb. unfold dot. apply (sum_eye_l 3 (fun k => eye b k)) in Ha. rewrite Ha. apply eye_sym.
    - intros i Hi. unfold l2, dot. rewrite (sum_eye_l 3 (fun k => eye i k) i Hi), eye_same. apply sqrt_1.
    - intros i k Hi Hk. unfold dot. rewrite (sum_eye_l 3 (fun a => eye k a) i Hi). unfold eye. destruct Nat.eqb; lra.
    - intros s i j Hs Hi Hj Gij. replace s with 0%nat by lia. simpl Nat.iter.
      assert (E : attn 3 3 3 (hd (onehead 3 star_logits eye star) 0) eye i j = Ex 3 star_logits star eye i j / sum 3
        (Ex 3 star_logits star eye i)).
      { unfold attn, softmax, tilt. rewrite logit_onehead by lia. unfold Ex. cbn [onehead hd mask].
        apply (f_equal2 Rdiv); [reflexivity|].
        apply sum_ext; intros k _. change {| WQ := fun a c => sqrt (INR 3) * star_logits a c; WK := eye;
          bQ := fun _ => 0; bK := fun _ => 0; WV := eye; mask := star |} with (hd (onehead 3 star_logits eye star) 0).
        now rewrite logit_onehead by lia. }
      rewrite E, Row, star_E by assumption. revert Gij. unfold star.
      destruct i as [|[|[|i]]]; try lia; destruct j as [|[|[|j]]]; try lia; cbn [Nat.eqb orb]; intros; lra. }
  lra.
Qed.
