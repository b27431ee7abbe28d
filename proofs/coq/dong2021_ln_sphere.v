(** unstated:ln-sphere refuted.  "LayerNorm plays no role": false if LayerNorm divides every token by its 2-norm.

    Two tokens, causal mask, W_QK = 0, W_V = [[1, 5/3],[0, 1]], X = ((0,1), (-3/5, 4/5)): an equilibrium, so
    mu(X(t)) = mu(X) > 0 for every t, and nothing collapses; without LayerNorm it would (wu2024:1). *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms Softmax SphereLayer.
Local Open Scope R_scope.

Definition W53 : mat := fun a b => match a, b with O, O => 1 | O, 1%nat => 5/3 | 1%nat, 1%nat => 1 | _, _ => 0 end.
Definition X53 : mat := fun i a => match i, a with O, O => 0 | O, _ => 1 | _, O => - (3/5) | _, _ => 4/5 end.

Theorem ln_sphere_refuted : exists M W X : mat, (forall i, (i < 2)%nat -> l2 2 (X i) = 1) /\ (forall a b, M a b = 0) /\
  fixed 2 2 (sphere_map 2 2 M W causal) X /\
  0 < mu 2 2 X /\ forall t, mu 2 2 (net 2 2 (fun _ => normalised 2 (onehead 2 M W causal)) t X) = mu 2 2 X.
Proof.
  exists (fun _ _ => 0), W53, X53.
  assert (U : forall i, (i < 2)%nat -> l2 2 (X53 i) = 1).
  { intros i Hi. unfold l2, dot. cbn [sum]. transitivity (sqrt 1); [|apply sqrt_1]. f_equal.
    destruct i as [|[|i]]; try lia; cbn [X53]; lra. }
  assert (Ux53 : forall X i b, (forall j a, (j < 2)%nat -> (a < 2)%nat -> X j a = X53 j a) -> (i < 2)%nat ->
    (b < 2)%nat -> Ux 2 2 (fun _ _ => 0) W53 causal X i b = X53 i b).
  { intros X i b HX Hi Hb. unfold Ux, Ex.
    assert (B : forall u v, bil 2 u (fun _ _ => 0) v = 0) by (intros; unfold bil; cbn [sum]; ring).
    cbn [sum]. rewrite !B, exp_0. unfold vmat. cbn [sum]. rewrite !HX by lia. unfold causal.
    destruct i as [|[|i]]; try lia; destruct b as [|[|b]]; try lia; cbn [Nat.leb X53 W53]; lra. }
  assert (Fx : forall X i b, (forall j a, (j < 2)%nat -> (a < 2)%nat -> X j a = X53 j a) -> (i < 2)%nat ->
    (b < 2)%nat -> sphere_map 2 2 (fun _ _ => 0) W53 causal X i b = X53 i b).
  { intros X i b HX Hi Hb. rewrite sphere_form by (auto using causal_proper; lia). rewrite Ux53 by assumption.
    replace (l2 2 (Ux 2 2 (fun _ _ => 0) W53 causal X i)) with 1; [lra|].
    rewrite <- (U i Hi). unfold l2, dot. f_equal. cbn [sum]. now rewrite !Ux53 by (auto; lia). }
  split; [exact U|split; [reflexivity|split; [intros i a Hi Ha; now apply Fx|split]]].
  - unfold mu, frob. apply sqrt_lt_R0. unfold dot, centred, vsub, mean. cbn [sum X53]. simpl INR. lra.
  - intro t. assert (E : forall i a, (i < 2)%nat -> (a < 2)%nat ->
      net 2 2 (fun _ => normalised 2 (onehead 2 (fun _ _ => 0) W53 causal)) t X53 i a = X53 i a).
    { induction t as [|t IH]; intros i a Hi Ha; [reflexivity|]. simpl. now apply Fx. }
    unfold mu, frob, dot, centred, vsub, mean. cbn [sum]. now rewrite !E by lia.
Qed.
