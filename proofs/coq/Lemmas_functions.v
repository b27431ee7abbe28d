(** Lemmas of the prover: numbers, tanh, exp and log, and statements on arrays. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import IntervalZ.
From Rankmath Require Import Definitions Functions Norms Softmax Masks own_flow_step own_position_bias dong2021_A_3 Quantities Lemmas_norms Lemmas_tokens Lemmas_attention.
Local Open Scope R_scope.

(* ---------- numbers: n, d, H, L, r are positive integers ---------- *)
Theorem lemma_n_one n : (0 < n)%nat -> 1 <= INR n. Proof. apply one_INR. Qed.
Theorem lemma_d_one d : (0 < d)%nat -> 1 <= INR d. Proof. apply one_INR. Qed.
Theorem lemma_H_one H : (0 < H)%nat -> 1 <= INR H. Proof. apply one_INR. Qed.
Theorem lemma_L_one L : (0 < L)%nat -> 1 <= INR L. Proof. apply one_INR. Qed.
Theorem lemma_r_one r : (0 < r)%nat -> 1 <= INR r. Proof. apply one_INR. Qed.
Theorem lemma_x_star_low x : x_star_is x -> 5 / 4 <= x.
Proof. intros X. destruct x_star_spec as [y [_ [B [U _]]]]. rewrite (U x X). lra. Qed.
Theorem lemma_x_star_high x : x_star_is x -> x <= 1257 / 1000.
Proof. intros X. destruct x_star_spec as [y [_ [B [U _]]]]. rewrite (U x X). lra. Qed.
Theorem lemma_e_low : 27 / 10 <= exp 1. Proof. interval with (i_prec 30). Qed.
Theorem lemma_e_high : exp 1 <= 272 / 100. Proof. interval with (i_prec 30). Qed.

(* ---------- arrays ---------- *)
(** a vector has an entry *)
Theorem lemma_count_one m : (0 < m)%nat -> 1 <= INR m. Proof. apply one_INR. Qed.
(** a is the least of f 0, ..., f (m-1), attained at i, and b the least of the others *)
Definition least_two (m : nat) (f : vec) (a b : R) : Prop := exists i k, (i < m)%nat /\ (k < m)%nat /\ i <> k /\ f i = a /\ f k = b /\
  (forall j, (j < m)%nat -> a <= f j) /\ (forall j, (j < m)%nat -> j <> i -> b <= f j).
Theorem lemma_length_order m d (Y : mat) a b : least_two m (fun i => l2 d (Y i)) a b -> a <= b.
Proof. intros [i [k [_ [Hk [_ [_ [E [A _]]]]]]]]. rewrite <- E. now apply A. Qed.
(** Needs that C is a matrix of cosines: the least entry of any matrix has no bound. *)
Theorem lemma_cosine_one n C i j : cosines n C -> least_pair n C i j -> C i j <= 1.
Proof.
  intros [_ [D _]] [Hi [_ L]]. rewrite <- (D i Hi). now apply L.
Qed.
(** Needs that the layers are stochastic (or only not negative). *)
Theorem lemma_share_tail n (P : nat -> mat) T j : (forall s, (s < T)%nat -> row_stochastic n n (P s)) -> (j < n)%nat ->
  maxf n (fun m => steps n P 0 T m j) <= maxf n (tail_from n j (steps n P 0 T)).
Proof.
  intros St Hj. apply maxf_lub; [apply maxf_pos|]. intros m Hm. eapply Rle_trans; [|apply (maxf_ub n (tail_from n j (steps n P 0 T)) m Hm)].
  destruct (steps_stochastic n P 0 T ltac:(intros; apply St; lia) T ltac:(lia)) as [S0 _]. unfold tail_from.
  eapply Rle_trans; [|apply (sum_term_le n (fun k => steps n P 0 T m k * from j k) j)].
  - cbv beta. unfold from. rewrite Nat.leb_refl. lra.
  - intros k Hk. apply Rmult_le_pos; [now apply S0|]. unfold from. destruct Nat.leb; lra.
  - exact Hj.
Qed.
