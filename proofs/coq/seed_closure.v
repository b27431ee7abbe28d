(** seed:closure.  The product of finitely many row-stochastic matrices of compatible sizes is
    row-stochastic; so is every convex combination of row-stochastic matrices of one size. *)
Require Import Reals Lra Lia.
From Rankmath Require Import Definitions Norms.
Local Open Scope R_scope.

(** A 0 A 1 ... A (L-1), where A l has k l rows and k (l+1) columns. *)
Fixpoint mprod (k : nat -> nat) (A : nat -> mat) (L : nat) : mat :=
  match L with O => eye | S l => mmul (k l) (mprod k A l) (A l) end.

Lemma sum_eye n i f : (i < n)%nat -> sum n (fun a => eye i a * f a) = f i.
Proof.
  intros H. rewrite (sum_single n _ i H).
  - unfold eye. rewrite Nat.eqb_refl. ring.
  - intros j _ Hj. unfold eye. destruct (Nat.eqb_spec i j); [congruence|ring].
Qed.

Lemma sum_eye_r n j f : (j < n)%nat -> sum n (fun a => f a * eye a j) = f j.
Proof.
  intros H. rewrite (sum_single n _ j H).
  - unfold eye. rewrite Nat.eqb_refl. ring.
  - intros a _ Ha. unfold eye. destruct (Nat.eqb_spec a j); [congruence|ring].
Qed.

Lemma eye_stochastic n : row_stochastic n n eye.
Proof.
  split.
  - intros i j _ _. unfold eye. destruct Nat.eqb; lra.
  - intros i Hi. rewrite (sum_ext n _ (fun a => eye i a * 1)) by (intros; ring). now rewrite sum_eye.
Qed.

Lemma mmul_stochastic n k m A B : row_stochastic n k A -> row_stochastic k m B -> row_stochastic n m (mmul k A B).
Proof.
  intros [PA SA] [PB SB]. split.
  - intros i j Hi Hj. apply sum_nonneg; intros c Hc. apply Rmult_le_pos; auto.
  - intros i Hi. unfold mmul, vmat. rewrite sum_swap.
    rewrite (sum_ext k _ (A i)); [now apply SA|]. intros c Hc. rewrite sum_scal, SB by exact Hc. ring.
Qed.

Lemma mprod_stochastic k A L : (forall l, (l < L)%nat -> row_stochastic (k l) (k (S l)) (A l)) ->
  row_stochastic (k 0%nat) (k L) (mprod k A L).
Proof.
  induction L as [|l IH]; intros H; simpl; [apply eye_stochastic|].
  apply mmul_stochastic; [apply IH; intros; apply H; lia|apply H; lia].
Qed.

Lemma convex_stochastic n m A B t : 0 <= t <= 1 -> row_stochastic n m A -> row_stochastic n m B ->
  row_stochastic n m (fun i j => t * A i j + (1 - t) * B i j).
Proof.
  intros Ht [PA SA] [PB SB]. split.
  - intros i j Hi Hj. specialize (PA i j Hi Hj). specialize (PB i j Hi Hj).
    apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra.
  - intros i Hi. rewrite sum_plus, !sum_scal, SA, SB by exact Hi. ring.
Qed.

Theorem closure_stochastic :
  (forall k A L, (forall l, (l < L)%nat -> row_stochastic (k l) (k (S l)) (A l)) ->
     row_stochastic (k 0%nat) (k L) (mprod k A L)) /\
  (forall n m A B t, 0 <= t <= 1 -> row_stochastic n m A -> row_stochastic n m B ->
     row_stochastic n m (fun i j => t * A i j + (1 - t) * B i j)).
Proof. split; [exact mprod_stochastic|exact convex_stochastic]. Qed.
