(** folk:lambda-skip.  "With LayerNorm on the sphere and skips of a factor lambda,
  one layer keeps |lambda|/(S C + |lambda|) of the spread mu, S = |W|_F, C = |P|_F, however close the
    tokens": lambda not 0, one head, no mask, no biases, tokens on the sphere.
    Refuted (refuted_folk_lambda_skip in proved_networks.v, which uses what is here): two tokens (24,
      +-7)/25 that attend to each other
    almost alone, W = I, lambda = 2.  Each becomes (3a, +-(1 + 2p) b)/r with a small p: a good third of the spread is
      left, and one half was claimed. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms Softmax SphereLayer.
Local Open Scope R_scope.

Definition couple : mat := fun i a => match i, a with _, O => 24 / 25 | O, _ => 7 / 25 | _, _ => - (7 / 25) end.
(** Logits that repel: -100 x_i . x_j. *)
Definition away : mat := fun a b => -100 * eye a b.

Lemma mu_two (a b : R) (X : mat) : X 0%nat 0%nat = a -> X 1%nat 0%nat = a -> X 0%nat 1%nat = b ->
  X 1%nat 1%nat = - b -> 0 <= b -> mu 2 2 X = sqrt 2 * b.
Proof.
  intros E1 E2 E3 E4 B. unfold mu, frob, dot, centred, vsub, mean. cbn [sum]. rewrite E1, E2, E3, E4. simpl INR.
  match goal with |- sqrt ?x = _ => replace x with (2 * (b * b)) by field end. rewrite sqrt_mult_alt by lra.
  now rewrite sqrt_square.
Qed.
