(** alman2025:one-layer.  X (l+1) = X l + sum_h P l h (X l) W l h with any row-stochastic P: the tokens after L layers
  differ from the input by at most
    prod (1 + s l) - 1 times the largest entry of the input, s l the sum over heads of the largest column sums of |W l
      h|.  So the identity, which is
    one layer with W = 0 and a skip connection, is as near as that. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions.
Local Open Scope R_scope.

Fixpoint grown (s : nat -> R) (L : nat) : R := match L with O => 1 | S l => grown s l * (1 + s l) end.

Section Layers.
Variables (n d H : nat) (P W : nat -> nat -> mat) (X : nat -> mat).
Hypothesis stochastic : forall l h, row_stochastic n n (P l h).
Hypothesis layer : forall l i a, X (S l) i a = X l i a + sum H (fun h => vmat d (vmat n (P l h i) (X l)) (W l h) a).
Let s (l : nat) : R := sum H (fun h => norm1 d d (W l h)).

Lemma average_le l h M i a : (i < n)%nat -> (forall j, (j < n)%nat -> Rabs (X l j a) <= M) ->
  Rabs (vmat n (P l h i) (X l) a) <= M.
Proof.
  intros Hi HM. unfold vmat. eapply Rle_trans; [apply sum_abs|]. destruct (stochastic l h) as [P0 P1].
  apply Rle_trans with (sum n (fun j => P l h i j * M)).
  - apply sum_le. intros j Hj. rewrite Rabs_mult, (Rabs_pos_eq (P l h i j)) by now apply P0.
    apply Rmult_le_compat_l; [now apply P0 | now apply HM].
  - rewrite sum_scal_r, P1 by exact Hi. lra.
Qed.

Lemma step_le l M i a : (i < n)%nat -> (a < d)%nat -> 0 <= M -> (forall j b, (j < n)%nat -> (b < d)%nat ->
  Rabs (X l j b) <= M) ->
  Rabs (X (S l) i a - X l i a) <= s l * M.
Proof.
  intros Hi Ha M0 HM. rewrite layer. replace (X l i a + _ - X l i a) with (sum H (fun h => vmat d (vmat n (P l h i) (X
    l)) (W l h) a)) by ring.
  eapply Rle_trans; [apply sum_abs|]. unfold s. rewrite <- sum_scal_r. apply sum_le. intros h _. unfold vmat at 1.
  eapply Rle_trans; [apply sum_abs|]. apply Rle_trans with (M * sum d (fun b => Rabs (W l h b a))).
  - rewrite <- sum_scal. apply sum_le. intros b Hb. rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|].
    apply average_le; [exact Hi|]. intros j Hj. now apply HM.
  - rewrite Rmult_comm. apply Rmult_le_compat_r; [exact M0|]. unfold norm1.
    exact (maxf_ub d (fun a => sum d (fun i => Rabs (W l h i a))) a Ha).
Qed.

Theorem near_the_identity L i a : (i < n)%nat -> (a < d)%nat ->
  Rabs (X L i a - X 0%nat i a) <= (grown s L - 1) * maxentry n d (X 0%nat).
Proof.
  set (M := maxentry n d (X 0%nat)).
  assert (s0 : forall l, 0 <= s l) by (intros l; apply sum_nonneg; intros; apply maxf_pos).
  assert (M0 : 0 <= M) by apply maxf_pos.
  assert (entry : forall j b, (j < n)%nat -> (b < d)%nat -> Rabs (X 0%nat j b) <= M).
  { intros j b Hj Hb. unfold M, maxentry. apply Rle_trans with (maxf d (fun c => Rabs (X 0%nat j c))).
    - exact (maxf_ub d (fun c => Rabs (X 0%nat j c)) b Hb).
    - exact (maxf_ub n (fun k => maxf d (fun c => Rabs (X 0%nat k c))) j Hj). }
  assert (g1 : forall l, 1 <= grown s l). { induction l as [|l IH]; simpl; [lra|]. specialize (s0 l). nra. }
  revert i a. induction L as [|L IH]; intros i a Hi Ha; simpl.
  - replace (X 0%nat i a - X 0%nat i a) with 0 by ring. rewrite Rabs_R0. lra.
  - assert (B : forall j b, (j < n)%nat -> (b < d)%nat -> Rabs (X L j b) <= grown s L * M).
    { intros j b Hj Hb. replace (X L j b) with ((X L j b - X 0%nat j b) + X 0%nat j b) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. specialize (IH j b Hj Hb). specialize (entry j b Hj Hb). nra. }
    specialize (g1 L). assert (St := step_le L (grown s L * M) i a Hi Ha ltac:(nra) B). specialize (IH i a Hi Ha).
    replace (X (S L) i a - X 0%nat i a) with ((X (S L) i a - X L i a) + (X L i a - X 0%nat i a)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. nra.
Qed.
End Layers.
