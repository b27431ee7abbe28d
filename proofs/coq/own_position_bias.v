(** own:position-bias and own:position-bias-prefix.  Row-stochastic attention in T layers, tokens counted from 0.
    Under a window of width w >= 2 (token a sees b exactly where b <= a < b + w),
      with eps the least entry that the window allows and r = ceil((n-1)/(w-1)), no token has more than
    (1 - (i+1) eps^r)^floor(T/r) of its weight on all tokens beyond i together  [position_bias_window];
      w = n is the causal mask, r = 1.
    Under a prefix of length K (token a sees b exactly where b < max(K, a+1)) no token has more than max(0,
      1 - (K+i) eps)^T on all tokens from K + i on, and every token of the
    prefix keeps eps of every token  [position_bias_prefix]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms seed_closure Masks.
Local Open Scope R_scope.

Definition from (J k : nat) : R := if Nat.leb J k then 1 else 0.
(** The weight of token m on the tokens J, ..., n-1. *)
Definition tail_from (n J : nat) (A : mat) (m : nat) : R := sum n (fun k => A m k * from J k).
(** Entries are positive exactly where the mask allows. *)
Definition windowed (n w : nat) (A : mat) : Prop := forall a b, (a < n)%nat -> (b < n)%nat -> (0 < A a b <->
  (b <= a < b + w)%nat).
Definition prefixed (n K : nat) (A : mat) : Prop := forall a b, (a < n)%nat -> (b < n)%nat -> (0 < A a b <->
  (b < Nat.max K (a + 1))%nat).

Lemma from_range J k : 0 <= from J k <= 1. Proof. unfold from. destruct Nat.leb; lra. Qed.

(** A layer that does not look from below J upwards, and leaves at most q where it looks. *)
Definition leaks (n J : nat) (q : R) (A : mat) : Prop := forall m, (m < n)%nat -> tail_from n J A m <= q * from J m.

Lemma leaks_product n J q b A B : row_stochastic n n A -> 0 <= b -> leaks n J q A -> leaks n J b B ->
  leaks n J (b * q) (mmul n A B).
Proof.
  intros [A0 _] b0 HA HB m Hm. unfold tail_from, mmul, vmat.
  rewrite (sum_ext n _ (fun c => sum n (fun j => A m j * (B j c * from J c)))) by (intros; rewrite <- sum_scal_r;
    apply sum_ext; intros; ring). rewrite sum_swap.
  apply Rle_trans with (sum n (fun j => b * (A m j * from J j))).
  - apply sum_le; intros j Hj. rewrite sum_scal. replace (b * (A m j * from J j)) with (A m j * (b * from J j)) by
      ring. apply Rmult_le_compat_l; [now apply A0|now apply HB].
  - rewrite sum_scal. replace (b * q * from J m) with (b * (q * from J m)) by ring.
    apply Rmult_le_compat_l; [exact b0|now apply HA].
Qed.

(** Tokens below J see none from J on; the others give e to each of the J tokens before. *)
Lemma leaks_of n J e q A : row_stochastic n n A -> (forall m k, (m < J)%nat -> (J <= k)%nat -> (k < n)%nat ->
  A m k = 0) ->
  (forall m l, (m < n)%nat -> (l < J)%nat -> (J <= m)%nat -> e <= A m l) -> 1 - INR J * e <= q -> leaks n J q A.
Proof.
  intros [A0 A1] Z L Q m Hm. unfold tail_from, from at 2. destruct (Nat.leb_spec J m) as [G|G].
  - rewrite Rmult_1_r. apply Rle_trans with (1 - INR J * e); [|exact Q]. replace n with (J + (n - J))%nat by lia.
    rewrite sum_split.
    assert (T : sum n (A m) = 1) by (now apply A1). replace n with (J + (n - J))%nat in T by lia.
    rewrite sum_split in T.
    rewrite (sum_ext J _ (fun _ => 0)) by (intros k Hk; unfold from; destruct (Nat.leb_spec J k); [lia|ring]).
    rewrite sum_zero.
    rewrite (sum_ext (n - J) _ (fun k => A m (J + k)%nat)) by (intros k Hk; unfold from;
      destruct (Nat.leb_spec J (J + k)); [ring|lia]).
    assert (S : INR J * e <= sum J (A m)) by (rewrite <- sum_const; apply sum_le; intros l Hl; now apply L). lra.
  - rewrite Rmult_0_r, (sum_ext n _ (fun _ => 0)); [rewrite sum_zero; lra|]. intros k Hk. unfold from.
    destruct (Nat.leb_spec J k); [rewrite Z by lia|]; ring.
Qed.

Section Window.
Variables (n w : nat) (P : nat -> mat) (eps : R).
Hypothesis n2 : (2 <= n)%nat.
Hypothesis w2 : (2 <= w)%nat.
Hypothesis St : forall s, row_stochastic n n (P s).
Hypothesis window : forall s, windowed n w (P s).
Hypothesis eps0 : 0 <= eps.
Hypothesis least : forall s a b, (a < n)%nat -> (b < n)%nat -> (b <= a < b + w)%nat -> eps <= P s a b.

Lemma products_stochastic s k : row_stochastic n n (steps n P s k).
Proof. induction k as [|k IH]; cbn [steps]; [apply eye_stochastic|apply mmul_stochastic; [apply St|exact IH]]. Qed.

Lemma unseen s a b : (a < n)%nat -> (b < n)%nat -> (a < b)%nat -> P s a b = 0.
Proof. intros Ha Hb L. assert (W := window s a b Ha Hb). assert (Q := proj1 (St s) a b Ha Hb).
destruct Q as [Q|Q]; [|easy]. apply W in Q. lia. Qed.

Lemma products_triangular s k a b : (a < n)%nat -> (b < n)%nat -> (a < b)%nat -> steps n P s k a b = 0.
Proof.
  revert a. induction k as [|k IH]; intros a Ha Hb L; cbn [steps]; [unfold eye; destruct (Nat.eqb_spec a b);
    [lia|reflexivity]|]. unfold mmul, vmat. rewrite (sum_ext n _ (fun _ => 0)); [apply sum_zero|].
  intros c Hc. destruct (Nat.lt_ge_cases a c); [rewrite unseen by assumption; ring|rewrite IH by lia; ring].
Qed.

(** k steps of length at most w - 1 go from a to every b <= a with a - b <= k (w - 1). *)
Lemma products_reach s k a b : (a < n)%nat -> (b <= a)%nat -> (a - b <= k * (w - 1))%nat ->
  eps ^ k <= steps n P s k a b.
Proof.
  revert a. induction k as [|k IH]; intros a Ha Hb L; cbn [steps]; [unfold eye; destruct (Nat.eqb_spec a b); [simpl;
    lra|lia]|].
  set (c := Nat.max b (a - (w - 1))). assert (Hc : (c < n)%nat) by lia. unfold mmul, vmat.
  eapply Rle_trans; [|apply (sum_term_le n (fun j => P (s + k)%nat a j * steps n P s k j b) c); [|exact Hc]].
  - simpl pow. apply Rmult_le_compat; [exact eps0|now apply pow_le|apply least; lia|apply IH; [exact Hc|lia|simpl in L;
      nia]].
  - intros j Hj. apply Rmult_le_pos; [now apply (proj1 (St _))|apply (proj1 (products_stochastic s k)); lia].
Qed.

(** r = ceil((n-1)/(w-1)) *)
Definition reach : nat := ((n - 1 + (w - 2)) / (w - 1))%nat.
Lemma reach_spec : (0 < reach /\ n - 1 <= reach * (w - 1))%nat.
Proof.
  unfold reach. assert (D := Nat.div_mod (n - 1 + (w - 2)) (w - 1) ltac:(lia)).
  assert (M := Nat.mod_upper_bound (n - 1 + (w - 2)) (w - 1) ltac:(lia)). split; [|nia].
  apply Nat.div_str_pos. lia.
Qed.

Lemma rate_range i : (i < n)%nat -> 0 <= 1 - INR (i + 1) * eps ^ reach.
Proof.
  intros Hi. destruct reach_spec as [_ Rn]. destruct (products_stochastic 0 reach) as [_ S].
  specialize (S (n - 1)%nat ltac:(lia)).
  assert (L : INR n * eps ^ reach <= 1) by (rewrite <- S, <- sum_const; apply sum_le; intros b Hb;
    apply products_reach; lia).
  assert (INR (i + 1) <= INR n) by (apply le_INR; lia). assert (0 <= eps ^ reach) by (now apply pow_le). nra.
Qed.

Theorem position_bias_window T i m : let r := ((n - 1 + (w - 2)) / (w - 1))%nat in
  (i < n)%nat -> (m < n)%nat -> tail_from n (i + 1) (steps n P 0 T) m <= (1 - INR (i + 1) * eps ^ r) ^ (T / r).
Proof.
  intros r Hi Hm. change r with reach. assert (Q := rate_range i Hi). set (q := 1 - INR (i + 1) * eps ^ reach) in *.
  destruct reach_spec as [R0 Rn].
  assert (One : forall s k, leaks n (i + 1) 1 (steps n P s k)).
  { intros s k. apply (leaks_of n (i + 1) 0); [apply products_stochastic|intros; apply products_triangular; lia|intros;
      apply (proj1 (products_stochastic s k)); lia|lra]. }
  assert (Block : forall s, leaks n (i + 1) q (steps n P s reach)).
  { intros s. apply (leaks_of n (i + 1) (eps ^ reach)); [apply products_stochastic|intros; apply products_triangular;
      lia|intros; apply products_reach; lia|unfold q; lra]. }
  assert (G : forall k, leaks n (i + 1) (q ^ k) (steps n P 0 (T mod reach + k * reach))).
  { induction k as [|k IH]; [rewrite Nat.add_0_r; apply One|]. intros a Ha.
    assert (E := leaks_product n (i + 1) q (q ^ k) (steps n P (0 + (T mod reach + k * reach)) reach) (steps n P 0 (T
      mod reach + k * reach)) (products_stochastic _ _) (pow_le _ _ Q) (Block _) IH a Ha).
    simpl pow. rewrite (Rmult_comm q). eapply Rle_trans; [right|exact E]. unfold tail_from. apply sum_ext; intros c Hc.
    f_equal. rewrite steps_split by assumption. f_equal. simpl. lia. }
  assert (F := G (T / reach)%nat m Hm). replace (T mod reach + T / reach * reach)%nat with T in F by (rewrite
    (Nat.div_mod T reach) at 1 by lia; lia).
  assert (0 <= q ^ (T / reach)) by (now apply pow_le). assert (B := from_range (i + 1) m). nra.
Qed.
End Window.

Theorem position_bias_prefix n K (P : nat -> mat) eps T : (forall s, row_stochastic n n (P s)) ->
  (forall s, prefixed n K (P s)) ->
  (forall s a b, (a < n)%nat -> (b < n)%nat -> (b < Nat.max K (a + 1))%nat -> eps <= P s a b) ->
  (forall i m, (m < n)%nat -> tail_from n (K + i) (steps n P 0 T) m <= Rmax 0 (1 - INR (K + i) * eps) ^ T) /\
  ((0 < T)%nat -> forall m j, (m < n)%nat -> (j < n)%nat -> (j < K)%nat -> eps <= steps n P 0 T m j).
Proof.
  intros St Pre Le. split.
  - intros i m Hm. set (J := (K + i)%nat). set (q := Rmax 0 (1 - INR J * eps)). assert (Q : 0 <= q) by apply Rmax_l.
    assert (One : forall s, leaks n J q (P s)).
    { intro s. destruct (Nat.le_gt_cases n J) as [B|B].
      - intros a Ha. unfold tail_from. rewrite (sum_ext n _ (fun _ => 0)) by (intros k Hk; unfold from;
          destruct (Nat.leb_spec J k); [lia|ring]). rewrite sum_zero. apply Rmult_le_pos; [exact Q|apply from_range].
      - apply (leaks_of n J eps); [apply St| | |apply Rmax_r].
        + intros a k Ha Hk Kn. assert (W := Pre s a k ltac:(lia) Kn).
          destruct (proj1 (St s) a k ltac:(lia) Kn) as [Z|Z]; [|easy]. apply W in Z. unfold J in *. lia.
        + intros a l Ha Hl Hj. apply Le; lia. }
    assert (G : leaks n J (q ^ T) (steps n P 0 T)).
    { induction T as [|t IH]; cbn [steps].
      - intros a Ha. unfold tail_from. rewrite (sum_eye n a (from J) Ha). simpl. lra.
      - simpl pow. rewrite Rmult_comm. apply leaks_product; [apply St|now apply pow_le|apply One|exact IH]. }
    assert (B := from_range J m). assert (0 <= q ^ T) by (now apply pow_le). eapply Rle_trans; [apply (G m Hm)|]. nra.
  - intros T0 m j Hm Hj Kj. revert m Hm. destruct T as [|t]; [lia|]. clear T0.
    induction t as [|t IH]; intros m Hm; cbn [steps]; unfold mmul, vmat.
    + rewrite (sum_eye_r n j (P (0 + 0)%nat m) Hj). apply Le; lia.
    + destruct (St (0 + S t)%nat) as [P0 P1]. rewrite <- (Rmult_1_l eps), <- (P1 m Hm), <- sum_scal_r.
      apply sum_le; intros c Hc. apply Rmult_le_compat_l; [now apply P0|]. apply (IH c Hc).
Qed.
