(** own:alibi-decay.  Causal attention whose logits decay with the distance,
  A_ij in proportion to e^(I_ij - (i-j) m) for j <= i, with I_min <= I_ij <= I_max:
    A_ij (1 + e^(I_min - I_max) sum_(k <= i, k <> j) e^((k-j) m)) <= 1 for all j <= i  [alibi_decay],
      with equality where I_ij = I_max and I_ik = I_min for the others  [alibi_attained]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Softmax seed_closure.
Local Open Scope R_scope.

(** The attention of token i, and the sum over the keys k <= i other than j. *)
Definition decayed (n : nat) (I : mat) (m : R) (i : nat) : vec := softmax n (causal i) (fun k => I i k - (INR i - INR
  k) * m).
Definition others (n : nat) (m : R) (i j : nat) : R := sum n (fun k => causal i k * (1 - eye j k) * exp ((INR k - INR
  j) * m)).

(** A_ij Z = e^(I_ij - (i-j) m), and Z is that times 1 + sum_(k <> j) e^(I_ik - I_ij + (k-j) m). *)
Lemma decayed_split n I m i j : (i < n)%nat -> (j <= i)%nat ->
  decayed n I m i j * (1 + sum n (fun k => causal i k * (1 - eye j k) * exp (I i k - I i j + (INR k - INR j) * m))) = 1.
Proof.
  intros Hi Hj. assert (Cj : causal i j = 1) by (unfold causal; destruct (Nat.leb_spec j i); [reflexivity|lia]).
  assert (W : weights n (causal i)) by (split; [intros k _; unfold causal; destruct Nat.leb; lra|exists j; split;
    [lia|lra]]).
  unfold decayed, softmax, tilt. set (g := fun k => I i k - (INR i - INR k) * m).
  assert (Z := tilt_Z_pos n (causal i) W g). set (S := sum n _) in Z |- *. cbv beta in S.
  assert (E : S = exp (g j) * (1 + sum n (fun k => causal i k * (1 - eye j k) * exp (I i k - I i j + (INR k - INR j) *
    m)))).
  { unfold S. rewrite Rmult_plus_distr_l, Rmult_1_r, <- sum_scal.
    transitivity (sum n (fun k => eye j k * exp (g j)) + sum n (fun k => exp (g j) * (causal i k * (1 - eye j k) * exp
      (I i k - I i j + (INR k - INR j) * m)))); [|now rewrite (sum_eye n j (fun _ => exp (g j))) by lia].
    rewrite <- sum_plus. apply sum_ext; intros k Hk. unfold eye.
    destruct (Nat.eqb_spec j k) as [<-|_]; [rewrite Cj; ring|].
    replace (exp (g k)) with (exp (g j) * exp (I i k - I i j + (INR k - INR j) * m)) by (rewrite <- exp_plus; f_equal;
      unfold g; ring). ring. }
  change (causal i j * exp (g j) / S * (1 + sum n (fun k => causal i k * (1 - eye j k) * exp (I i k - I i j + (INR k -
    INR j) * m))) = 1).
  rewrite Cj. assert (P := exp_pos (g j)). apply Rmult_eq_reg_r with S; [|lra]. rewrite Rmult_1_l. rewrite E at 3.
  field. lra.
Qed.

Theorem alibi_decay n (I : mat) m Imin Imax i j : (i < n)%nat -> (j <= i)%nat -> (forall a b, (a < n)%nat ->
  (b <= a)%nat -> Imin <= I a b <= Imax) ->
  decayed n I m i j * (1 + exp (Imin - Imax) * others n m i j) <= 1.
Proof.
  intros Hi Hj B. eapply Rle_trans; [|right; apply (decayed_split n I m i j Hi Hj)]. apply Rmult_le_compat_l.
  - apply tilt_nonneg; [|lia]. split; [intros k _; unfold causal; destruct Nat.leb; lra|exists j; split;
      [lia|unfold causal; destruct (Nat.leb_spec j i); [lra|lia]]].
  - apply Rplus_le_compat_l. unfold others. rewrite <- sum_scal. apply sum_le; intros k Hk. unfold causal, eye.
    destruct (Nat.leb_spec k i); [|lra]. destruct (Nat.eqb j k); [lra|].
    rewrite Rminus_0_r, !Rmult_1_l, <- exp_plus. apply exp_le. assert (B1 := B i j Hi Hj).
    assert (B2 := B i k Hi ltac:(lia)). lra.
Qed.

Theorem alibi_attained n (I : mat) m Imin Imax i j : (i < n)%nat -> (j <= i)%nat -> I i j = Imax ->
  (forall k, (k <= i)%nat -> k <> j -> I i k = Imin) ->
  decayed n I m i j * (1 + exp (Imin - Imax) * others n m i j) = 1.
Proof.
  intros Hi Hj E1 E2. etransitivity; [|apply (decayed_split n I m i j Hi Hj)]. do 2 f_equal. unfold others.
  rewrite <- sum_scal. apply sum_ext; intros k Hk. unfold causal, eye.
  destruct (Nat.leb_spec k i); [|ring]. destruct (Nat.eqb_spec j k) as [_|N]; [ring|].
  rewrite E1, (E2 k) by (lia || congruence). rewrite exp_plus. ring.
Qed.
