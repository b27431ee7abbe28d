(** wu2025:4.1, and own:position-bias for the causal mask (w = n).
Row-stochastic attention under the causal mask, every entry that may be seen at least eps: after T layers no token
    has more than (1 - (i + 1) eps)^T of its weight on all tokens beyond i together  [position_bias],
      so none on a single one of them  [wu_4_1].  Tokens are counted from 0. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms seed_closure.
Local Open Scope R_scope.

Definition beyond (i k : nat) : R := if Nat.ltb i k then 1 else 0.
(** The weight of token m on the tokens beyond i. *)
Definition tail_of (n i : nat) (A : mat) (m : nat) : R := sum n (fun k => A m k * beyond i k).

Lemma sum_first_few n i (e : R) : (i < n)%nat -> sum n (fun j => e * (1 - beyond i j)) = INR (S i) * e.
Proof.
  intros H. replace n with (S i + (n - S i))%nat by lia. rewrite (sum_split (S i)).
  rewrite (sum_ext (S i) _ (fun _ => e)).
  - rewrite (sum_ext (n - S i) _ (fun _ => 0)); [rewrite sum_zero, sum_const; ring|]. intros j _. unfold beyond.
    destruct (Nat.ltb_spec i (S i + j)); [ring|lia].
  - intros j Hj. unfold beyond. destruct (Nat.ltb_spec i j); [lia|ring].
Qed.

Section Causal.
Variables (n : nat) (P : nat -> mat) (eps : R) (i : nat).
Hypothesis St : forall s, row_stochastic n n (P s).
Hypothesis causal_P : forall s a b, (a < n)%nat -> (b < n)%nat -> (a < b)%nat -> P s a b = 0.
Hypothesis least : forall s a b, (a < n)%nat -> (b <= a)%nat -> eps <= P s a b.
Hypothesis i_in : (S i < n)%nat.

Lemma row_beyond s m : (m < n)%nat -> sum n (fun j => P s m j * beyond i j) <= if Nat.ltb i m then 1 - INR (S i) * eps
  else 0.
Proof.
  intros Hm. destruct (St s) as [P0 P1]. destruct (Nat.ltb_spec i m) as [L|L].
  - assert (E : sum n (fun j => P s m j * beyond i j) = 1 - sum n (fun j => P s m j * (1 - beyond i j))).
    { rewrite (sum_ext n _ (fun j => P s m j - P s m j * (1 - beyond i j))) by (intros; ring). rewrite sum_minus.
      change (sum n (fun j => P s m j)) with (sum n (P s m)). now rewrite (P1 m Hm). }
    rewrite E. apply Rplus_le_compat_l, Ropp_le_contravar. rewrite <- (sum_first_few n i eps ltac:(lia)).
    apply sum_le; intros j Hj. unfold beyond.
    destruct (Nat.ltb_spec i j); [lra|]. rewrite Rminus_0_r, !Rmult_1_r. apply least; lia.
  - rewrite (sum_ext n _ (fun _ => 0)); [rewrite sum_zero; lra|]. intros j Hj. unfold beyond.
    destruct (Nat.ltb_spec i j); [rewrite causal_P by lia|]; ring.
Qed.

Lemma rate_nonneg : 0 <= 1 - INR (S i) * eps.
Proof.
  assert (H := row_beyond 0%nat (S i) i_in). destruct (Nat.ltb_spec i (S i)); [|lia]. eapply Rle_trans; [|exact H].
  apply sum_nonneg; intros j Hj.
  apply Rmult_le_pos; [now apply (proj1 (St 0%nat))|]. unfold beyond. destruct Nat.ltb; lra.
Qed.

Theorem position_bias T m : (m < n)%nat -> tail_of n i (steps n P 0 T) m <= (1 - INR (S i) * eps) ^ T.
Proof.
  assert (Q := rate_nonneg). set (q := 1 - INR (S i) * eps) in *.
  assert (G : forall t m, (m < n)%nat -> tail_of n i (steps n P 0 t) m <= q ^ t * beyond i m).
  { intro t. induction t as [|t IH]; intros k Hk.
    - unfold tail_of. cbn [steps]. rewrite (sum_eye n k (beyond i) Hk). simpl. lra.
    - destruct (St t) as [P0 P1]. apply Rle_trans with (sum n (fun j => P t k j * (q ^ t * beyond i j))).
      + unfold tail_of. cbn [steps]. unfold mmul, vmat. simpl (0 + t)%nat.
        rewrite (sum_ext n _ (fun c => sum n (fun j => P t k j * (steps n P 0 t j c * beyond i c)))) by (intros;
          rewrite <- sum_scal_r; apply sum_ext; intros; ring).
        rewrite sum_swap. apply sum_le; intros j Hj. rewrite sum_scal. apply Rmult_le_compat_l; [now apply P0|].
        now apply (IH j).
      + rewrite (sum_ext n _ (fun j => q ^ t * (P t k j * beyond i j))) by (intros; ring). rewrite sum_scal.
        assert (R := row_beyond t k Hk). fold q in R. assert (qt : 0 <= q ^ t) by (now apply pow_le).
        apply Rle_trans with (q ^ t * (if Nat.ltb i k then q else 0)); [now apply Rmult_le_compat_l|]. unfold beyond.
        simpl. destruct (Nat.ltb i k); right; ring. }
  intros Hm. eapply Rle_trans; [apply (G T m Hm)|]. assert (0 <= q ^ T) by (now apply pow_le). unfold beyond.
  destruct Nat.ltb; lra.
Qed.
End Causal.

Theorem wu_4_1 n (P : nat -> mat) eps i T m k : (forall s, row_stochastic n n (P s)) ->
  (forall s a b, (a < n)%nat -> (b < n)%nat -> (a < b)%nat -> P s a b = 0) -> 0 <= eps -> (forall s a b, (a < n)%nat ->
    (b <= a)%nat -> eps <= P s a b) ->
  (i < k)%nat -> (k < n)%nat -> (m < n)%nat -> steps n P 0 (S T) m k <= (1 - INR (S i) * eps) ^ T.
Proof.
  intros St Ca E0 Le Hk Kn Hm. assert (B := position_bias n P eps i St Ca Le ltac:(lia) (S T) m Hm).
  assert (Q := rate_nonneg n P eps i St Ca Le ltac:(lia)). set (q := 1 - INR (S i) * eps) in *.
  assert (Sn : forall t, row_stochastic n n (steps n P 0 t)) by (intro t; induction t as [|t IH];
    [apply eye_stochastic|]; cbn [steps]; apply mmul_stochastic; [apply St|exact IH]).
  assert (T1 := sum_term_le n (fun c => steps n P 0 (S T) m c * beyond i c) k). cbv beta in T1.
  assert (T2 : steps n P 0 (S T) m k * beyond i k <= tail_of n i (steps n P 0 (S T)) m).
  { apply T1; [|exact Kn]. intros c Hc. apply Rmult_le_pos; [now apply (proj1 (Sn (S T)))|]. unfold beyond.
    destruct Nat.ltb; lra. }
  unfold beyond in T2. destruct (Nat.ltb_spec i k); [|lia]. rewrite Rmult_1_r in T2.
  assert (q1 : q <= 1) by (unfold q; assert (0 <= INR (S i) * eps) by (apply Rmult_le_pos; [apply pos_INR|exact E0]);
    lra).
  assert (P0 : 0 <= q ^ T) by (now apply pow_le). change (q ^ S T) with (q * q ^ T) in B.
  apply Rle_trans with (q * q ^ T); [lra|]. nra.
Qed.
