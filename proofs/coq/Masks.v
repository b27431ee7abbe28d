(** Tools for masks: products of attention matrices, Doeblin's contraction, the spread of tokens. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Rankmath Require Import Definitions Norms Softmax own_tv.
Local Open Scope R_scope.

Lemma pow_01 x k : 0 <= x <= 1 -> 0 <= x ^ k <= 1.
Proof. intros H. split; [now apply pow_le|]. rewrite <- (pow1 k). now apply pow_incr. Qed.

Lemma minf_le n f i : (i <= n)%nat -> minf n f <= f i.
Proof.
  induction n; intros H; simpl; [replace i with 0%nat by lia; lra|].
  destruct (Nat.eq_dec i (S n)) as [->|]; [apply Rmin_r|].
  eapply Rle_trans; [apply Rmin_l|apply IHn; lia].
Qed.

Lemma vmat_eye n (v : vec) b : (b < n)%nat -> vmat n v eye b = v b.
Proof.
  intros H. unfold vmat, eye. rewrite (sum_single n _ b H).
  - rewrite Nat.eqb_refl. ring.
  - intros j _ Hj. destruct (Nat.eqb_spec j b); [lia|ring].
Qed.

Lemma vmat_ext2 n (v v' : vec) (B B' : mat) b : (forall j, (j < n)%nat -> v j = v' j) ->
  (forall j, (j < n)%nat -> B j b = B' j b) -> vmat n v B b = vmat n v' B' b.
Proof. intros H H'. unfold vmat. apply sum_ext; intros. now rewrite H, H'. Qed.

Lemma eye_stochastic n : row_stochastic n n eye.
Proof.
  split.
  - intros. unfold eye. destruct Nat.eqb; lra.
  - intros i Hi. rewrite (sum_single n _ i Hi); unfold eye; [now rewrite Nat.eqb_refl|].
    intros j _ Hj. destruct (Nat.eqb_spec i j); [lia|reflexivity].
Qed.

Lemma mmul_stochastic n P Q : row_stochastic n n P -> row_stochastic n n Q -> row_stochastic n n (mmul n P Q).
Proof.
  intros [P0 P1] [Q0 Q1]. split.
  - intros i j Hi Hj. unfold mmul, vmat. apply sum_nonneg; intros k Hk. apply Rmult_le_pos; auto.
  - intros i Hi. unfold mmul, vmat. rewrite sum_swap. rewrite <- (P1 i Hi). apply sum_ext; intros k Hk.
    rewrite sum_scal, Q1 by exact Hk. ring.
Qed.

Section Steps.
Variables (n : nat) (A : nat -> mat) (s t : nat).
Hypothesis St : forall u, (s <= u < t)%nat -> row_stochastic n n (A u).

Lemma steps_stochastic k : (s + k <= t)%nat -> row_stochastic n n (steps n A s k).
Proof.
  induction k; intros H; simpl; [apply eye_stochastic|]. apply mmul_stochastic; [apply St; lia|apply IHk; lia].
Qed.

Lemma steps_lower G eps c : 0 <= eps ->
  (forall u i j, (s <= u < t)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= A u i j) ->
  forall k i, (s + k <= t)%nat -> (c < n)%nat -> (i < n)%nat -> walk n G c k i -> eps ^ k <= steps n A s k i c.
Proof.
  intros E0 HA. induction k; intros i Hk Hc Hi Hw; simpl in *.
  - subst i. unfold eye. rewrite Nat.eqb_refl. lra.
  - destruct Hw as [j [Hj [Gj Hw]]]. specialize (IHk j ltac:(lia) Hc Hj Hw).
    destruct (St (s + k)%nat ltac:(lia)) as [P0 _]. destruct (steps_stochastic k ltac:(lia)) as [Q0 _].
    unfold mmul, vmat. eapply Rle_trans; [|apply (sum_term_le n (fun a => A (s + k)%nat i a * steps n A s k a c) j)].
    + apply Rmult_le_compat; [exact E0|now apply pow_le| |exact IHk]. apply HA; auto; lia.
    + intros a Ha. apply Rmult_le_pos; auto.
    + exact Hj.
Qed.
End Steps.

Lemma walk_longer n G c k i r : (forall j, (j < n)%nat -> 0 < G j j) -> (i < n)%nat -> walk n G c k i ->
  (k <= r)%nat -> walk n G c r i.
Proof.
  intros H Hi Hw Hr. induction Hr as [|r Hr IH]; [exact Hw|]. simpl. exists i. auto.
Qed.

(** Dobrushin and Doeblin: averages with a common part are nearer to one another. *)
Lemma doeblin_contract (N : seminorm) n (B : mat) (m : vec) (v : mat) D :
  row_stochastic n n B -> (forall i c, (i < n)%nat -> (c < n)%nat -> m c <= B i c) -> 0 <= D ->
  (forall j k, (j < n)%nat -> (k < n)%nat -> N (vsub (v j) (v k)) <= D) ->
  forall i k, (i < n)%nat -> (k < n)%nat -> N (vsub (vmat n (B i) v) (vmat n (B k) v)) <= (1 - sum n m) * D.
Proof.
  intros [B0 B1] Hm D0 HD i k Hi Hk.
  rewrite (sn_ext N _ (fun a => sum n (fun j => (B i j - B k j) * v j a))).
  - eapply Rle_trans; [apply (transport N n (fun j => B i j - B k j) v D); [|exact HD]|].
    + rewrite sum_minus. rewrite (B1 i Hi), (B1 k Hk). ring.
    + apply Rmult_le_compat_r; [exact D0|].
      assert (sum n (fun j => Rabs (B i j - B k j)) <= sum n (fun j => (B i j + B k j) - 2 * m j)).
      { apply sum_le; intros j Hj. assert (X := Hm i j Hi Hj). assert (Y := Hm k j Hk Hj). unfold Rabs.
        destruct Rcase_abs; lra. }
      rewrite sum_minus, sum_plus, sum_scal in H. rewrite (B1 i Hi), (B1 k Hk) in H. lra.
  - intro a. unfold vsub, vmat. rewrite <- sum_minus. apply sum_ext; intros; ring.
Qed.

(** Averages do not spread. *)
Lemma average_contract (N : seminorm) n B (v : mat) D : row_stochastic n n B -> 0 <= D ->
  (forall j k, (j < n)%nat -> (k < n)%nat -> N (vsub (v j) (v k)) <= D) ->
  forall i k, (i < n)%nat -> (k < n)%nat -> N (vsub (vmat n (B i) v) (vmat n (B k) v)) <= D.
Proof.
  intros HB D0 HD i k Hi Hk. replace D with ((1 - sum n (fun _ => 0)) * D) by (rewrite sum_zero; ring).
  apply (doeblin_contract N n B (fun _ => 0) v D); auto. destruct HB; auto.
Qed.

(* ---------- the spread of numbers and mu ---------- *)
Definition coord (a : nat) : seminorm.
Proof.
  refine {| sn := fun u => Rabs (u a) |}; intros; [apply Rabs_triang|apply Rabs_mult].
Defined.

Lemma extremes n (v : vec) : (0 < n)%nat -> exists a b, (a < n)%nat /\ (b < n)%nat /\ forall i, (i < n)%nat ->
  v b <= v i <= v a.
Proof.
  induction n; intros H; [lia|]. destruct n as [|n].
  - exists 0%nat, 0%nat. repeat split; try lia; replace i with 0%nat by lia; lra.
  - destruct IHn as [a [b [Ha [Hb E]]]]; [lia|].
    exists (if Rle_dec (v a) (v (S n)) then S n else a), (if Rle_dec (v (S n)) (v b) then S n else b).
    split; [destruct Rle_dec; lia|split; [destruct Rle_dec; lia|]]. intros i Hi.
    destruct (Nat.eq_dec i (S n)) as [->|]; [|specialize (E i ltac:(lia))]; repeat destruct Rle_dec; lra.
Qed.

(** sum_i (u_i - mean)^2 <= n/4 D^2 when the u_i are within D of one another. *)
Lemma spread_up n (u : vec) D : (0 < n)%nat -> (forall i k, (i < n)%nat -> (k < n)%nat -> Rabs (u i - u k) <= D) ->
  sum n (fun i => (u i - sum n u / INR n) ^ 2) <= INR n / 4 * D ^ 2.
Proof.
  intros Hn HD. destruct (extremes n u Hn) as [a [b [Ha [Hb E]]]].
  assert (Pn : 0 < INR n) by (apply lt_0_INR; lia).
  set (m := (u a + u b) / 2). set (M := sum n u / INR n).
  assert (SM : sum n u = INR n * M) by (unfold M; field; lra).
  assert (E1 : sum n (fun i => (u i - m) ^ 2) = sum n (fun i => (u i - M) ^ 2) + INR n * (M - m) ^ 2).
  { rewrite <- sum_const, <- sum_plus. 
    rewrite (sum_ext n (fun i => (u i - m) ^ 2) (fun i => ((u i - M) ^ 2 + (M - m) ^ 2) + 2 * (M - m) * (u i - M))) by
      (intros; ring).
    rewrite sum_plus, sum_scal, sum_minus, sum_const, SM. ring. }
  assert (E2 : sum n (fun i => (u i - m) ^ 2) <= sum n (fun _ => D ^ 2 / 4)).
  { apply sum_le; intros i Hi. specialize (E i Hi). assert (H := HD a b Ha Hb).
    assert (Rabs (u a - u b) = u a - u b) by (apply Rabs_right; specialize (E); lra).
    unfold m. assert (- (D / 2) <= u i - (u a + u b) / 2 <= D / 2) by lra. nra. }
  rewrite sum_const in E2. assert (0 <= INR n * (M - m) ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]). lra.
Qed.


Lemma sum_two_le n (f : vec) j k : (forall i, (i < n)%nat -> 0 <= f i) -> (j < n)%nat -> (k < n)%nat -> j <> k ->
  f j + f k <= sum n f.
Proof.
  induction n; intros H Hj Hk Hne; [lia|]. simpl. assert (0 <= f n) by auto.
  destruct (Nat.eq_dec j n) as [->|]; [|destruct (Nat.eq_dec k n) as [->|]].
  - assert (f k <= sum n f) by (apply sum_term_le; auto; lia). lra.
  - assert (f j <= sum n f) by (apply sum_term_le; auto; lia). lra.
  - assert (f j + f k <= sum n f) by (apply IHn; auto; lia). lra.
Qed.

(** (v_j - v_k)^2 <= 2 sum_i (v_i - x)^2 *)
Lemma spread_low n (v : vec) x j k : (j < n)%nat -> (k < n)%nat ->
  (v j - v k) ^ 2 <= 2 * sum n (fun i => (v i - x) ^ 2).
Proof.
  intros Hj Hk. destruct (Nat.eq_dec j k) as [->|Hne].
  - replace ((v k - v k) ^ 2) with 0 by ring.
    assert (0 <= sum n (fun i => (v i - x) ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0). lra.
  - assert (H := sum_two_le n (fun i => (v i - x) ^ 2) j k (fun i _ => pow2_ge_0 _) Hj Hk Hne). cbv beta in H.
    assert (Q := Rle_0_sqr (v j + v k - 2 * x)). unfold Rsqr in Q.
    replace ((v j - v k) ^ 2) with (2 * ((v j - x) ^ 2 + (v k - x) ^ 2) - (v j + v k - 2 * x) * (v j + v k - 2 * x)) by
      ring. lra.
Qed.

Lemma mu_sq n d X : mu n d X = sqrt (sum n (fun i => sum d (fun a => (X i a - mean n X a) ^ 2))).
Proof.
  unfold mu, frob, dot, centred, vsub. f_equal. apply sum_ext; intros; apply sum_ext; intros; ring.
Qed.

(* ---------- contraction of averages ---------- *)
(** P brings points of any seminormed space nearer by the factor q. *)
Definition contracts (n : nat) (P : mat) (q : R) : Prop :=
  forall (N : seminorm) (v : mat) D, 0 <= D ->
  (forall j k, (j < n)%nat -> (k < n)%nat -> N (vsub (v j) (v k)) <= D) ->
  forall i k, (i < n)%nat -> (k < n)%nat -> N (vsub (vmat n (P i) v) (vmat n (P k) v)) <= q * D.

Lemma contracts_ext n P Q q : (forall i j, (i < n)%nat -> (j < n)%nat -> P i j = Q i j) -> contracts n P q ->
  contracts n Q q.
Proof.
  intros H C N v D D0 HD i k Hi Hk. specialize (C N v D D0 HD i k Hi Hk).
  rewrite (sn_ext N _ (vsub (vmat n (P i) v) (vmat n (P k) v))); [exact C|].
  intro a. unfold vsub, vmat. f_equal; apply sum_ext; intros; now rewrite H.
Qed.

Lemma contracts_mul n P Q p q : 0 <= q -> contracts n P p -> contracts n Q q -> contracts n (mmul n P Q) (p * q).
Proof.
  intros q0 CP CQ N v D D0 HD i k Hi Hk.
  specialize (CP N (fun j => vmat n (Q j) v) (q * D) (Rmult_le_pos _ _ q0 D0) (fun j l => CQ N v D D0 HD j l) i k Hi
    Hk).
  rewrite (sn_ext N _ (vsub (vmat n (P i) (fun j => vmat n (Q j) v)) (vmat n (P k) (fun j => vmat n (Q j) v)))); [lra|].
  intro a. unfold vsub, mmul. now rewrite !(vmat_assoc n n).
Qed.

Lemma contracts_doeblin n B (m : vec) : row_stochastic n n B ->
  (forall i c, (i < n)%nat -> (c < n)%nat -> m c <= B i c) -> contracts n B (1 - sum n m).
Proof. intros HB Hm N v D D0 HD. now apply doeblin_contract. Qed.

Lemma contracts_le n P q q' : q <= q' -> contracts n P q -> contracts n P q'.
Proof.
  intros H C N v D D0 HD i k Hi Hk. eapply Rle_trans; [now apply (C N v D)|]. now apply Rmult_le_compat_r.
Qed.

Lemma steps_split n A s k l : forall i j, (i < n)%nat -> (j < n)%nat ->
  mmul n (steps n A (s + k) l) (steps n A s k) i j = steps n A s (k + l) i j.
Proof.
  induction l; intros i j Hi Hj.
  - rewrite Nat.add_0_r. simpl. unfold mmul, vmat. rewrite (sum_single n _ i Hi).
    + unfold eye. rewrite Nat.eqb_refl. ring.
    + intros a _ Ha. unfold eye. destruct (Nat.eqb_spec i a); [lia|ring].
  - rewrite Nat.add_succ_r. simpl. replace (s + (k + l))%nat with (s + k + l)%nat by lia.
    unfold mmul at 1 2 3. rewrite (vmat_assoc n n). apply vmat_ext2; [reflexivity|]. intros a Ha. now apply IHl.
Qed.

(** r steps towards a centre. *)
Lemma contracts_steps n A G c r eps s t : (forall u, (s <= u < t)%nat -> row_stochastic n n (A u)) -> 0 <= eps ->
  (forall u i j, (s <= u < t)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= A u i j) ->
  (forall i, (i < n)%nat -> 0 < G i i) -> centre n G c r -> (s + r <= t)%nat ->
  contracts n (steps n A s r) (1 - eps ^ r).
Proof.
  intros St E0 HA Self [Hc Hr] Ht.
  assert (SS := steps_stochastic n A s t St r Ht).
  assert (Low : forall i, (i < n)%nat -> eps ^ r <= steps n A s r i c).
  { intros i Hi. destruct (Hr i Hi) as [k [Hk Hw]].
    apply (steps_lower n A s t St G eps c E0 HA r i Ht Hc Hi). now apply (walk_longer n G c k i r). }
  assert (S1 : sum n (fun b => if Nat.eqb b c then eps ^ r else 0) = eps ^ r).
  { rewrite (sum_single n _ c Hc); [now rewrite Nat.eqb_refl|]. intros j _ Hj.
    destruct (Nat.eqb_spec j c); [lia|reflexivity]. }
  rewrite <- S1. apply contracts_doeblin; [exact SS|]. intros i b Hi Hb.
  destruct (Nat.eqb_spec b c) as [->|]; [now apply Low|]. destruct SS; auto.
Qed.

Lemma contracts_stochastic n B : row_stochastic n n B -> contracts n B 1.
Proof.
  intros SB. replace 1 with (1 - sum n (fun _ => 0)) by (rewrite sum_zero; ring).
  apply contracts_doeblin; [exact SB|]. intros. destruct SB; auto.
Qed.

(** Every interval of r steps contracts by q: so do t steps by q^(t/r). *)
Lemma contracts_blocks n A q r t : (0 < r)%nat -> 0 <= q -> (forall u, (u < t)%nat -> row_stochastic n n (A u)) ->
  (forall s, (s + r <= t)%nat -> contracts n (steps n A s r) q) ->
  contracts n (steps n A 0 t) (q ^ (t / r)).
Proof.
  intros Hr q0 St HB.
  assert (Blocks : forall k, (k * r <= t)%nat -> contracts n (steps n A 0 (k * r)) (q ^ k)).
  { induction k; intros Hk; [apply contracts_stochastic, eye_stochastic|].
    simpl pow. simpl in Hk. apply (contracts_ext n (mmul n (steps n A (0 + k * r) r) (steps n A 0 (k * r)))).
    - intros i j Hi Hj. rewrite steps_split by assumption. f_equal. simpl. lia.
    - apply contracts_mul; [now apply pow_le|apply HB; lia|apply IHk; lia]. }
  assert (D := Nat.div_mod t r ltac:(lia)). set (k := (t / r)%nat) in *.
  assert (M := Nat.mod_upper_bound t r ltac:(lia)).
  assert (Hk : (k * r <= t)%nat) by lia.
  apply (contracts_ext n (mmul n (steps n A (0 + k * r) (t mod r)) (steps n A 0 (k * r)))).
  - intros i j Hi Hj. rewrite steps_split by assumption. f_equal. lia.
  - rewrite <- (Rmult_1_l (q ^ k)). apply contracts_mul; [now apply pow_le| |now apply Blocks].
    apply contracts_stochastic. apply (steps_stochastic n A _ t); [intros; apply St; lia|lia].
Qed.

Lemma contracts_power n A G c r eps t : (forall u, (u < t)%nat -> row_stochastic n n (A u)) -> 0 <= eps <= 1 ->
  (forall u i j, (u < t)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= A u i j) ->
  (forall i, (i < n)%nat -> 0 < G i i) -> centre n G c r -> (0 < r)%nat ->
  contracts n (steps n A 0 t) ((1 - eps ^ r) ^ (t / r)).
Proof.
  intros St E0 HA Self Hc Hr. apply contracts_blocks; auto.
  - assert (eps ^ r <= 1) by (rewrite <- (pow1 r); now apply pow_incr). lra.
  - intros s Hs. apply (contracts_steps n A G c r eps s t); auto; try lra; intros; first [apply St|apply HA]; auto; lia.
Qed.

(* ---------- one head, no skip: X(t) = P X(0) W + 1 b^T ---------- *)
Lemma unroll n d (A W : nat -> mat) (b : nat -> vec) (X : nat -> mat) t :
  (forall s, (s < t)%nat -> row_stochastic n n (A s)) ->
  (forall s i a, (s < t)%nat -> (i < n)%nat -> (a < d)%nat -> X (S s) i a = vmat d (vmat n (A s i) (X s)) (W s) a + b s
    a) ->
  exists c : vec, forall i a, (i < n)%nat -> (a < d)%nat ->
    X t i a = vmat d (vmat n (steps n A 0 t i) (X 0%nat)) (values d W t) a + c a.
Proof.
  intros St HX. induction t as [|t IH].
  - exists (fun _ => 0). intros i a Hi Ha. simpl. rewrite vmat_eye by exact Ha.
    unfold vmat. rewrite (sum_single n _ i Hi); unfold eye; [rewrite Nat.eqb_refl; ring|].
    intros j _ Hj. destruct (Nat.eqb_spec i j); [lia|ring].
  - destruct IH as [c IH]; [intros; apply St; lia|intros; apply HX; lia|].
    exists (fun a => vmat d c (W t) a + b t a). intros i a Hi Ha. rewrite HX by (auto; lia).
    destruct (St t ltac:(lia)) as [_ A1]. specialize (A1 i Hi).
    rewrite (vmat_ext2 d (vmat n (A t i) (X t)) (fun e => vmat d (vmat n (steps n A 0 (S t) i) (X 0%nat)) (values d W
      t) e + c e) (W t) (W t)); [|
      |reflexivity].
    + simpl values. rewrite <- (vmat_assoc d d). unfold vmat at 1. 
      rewrite (sum_ext d _ (fun e => vmat d (vmat n (steps n A 0 (S t) i) (X 0%nat)) (values d W t) e * W t e a + c e *
        W t e a)) by (intros; ring).
      rewrite sum_plus. unfold vmat. ring.
    + intros e He. unfold vmat at 1.
      rewrite (sum_ext n _ (fun j => A t i j * vmat d (vmat n (steps n A 0 t j) (X 0%nat)) (values d W t) e + A t i j *
        c e)) by (intros; rewrite IH by assumption; ring).
      rewrite sum_plus, sum_scal_r, A1, Rmult_1_l. f_equal.
      change (steps n A 0 (S t) i) with (vmat n (A t i) (steps n A 0 t)).
      rewrite (vmat_assoc n d), (vmat_assoc n n).
      match goal with |- _ = vmat n (A t i) ?B e => change (vmat n (A t i) B e) with (sum n (fun j => A t i j * B j e))
        end.
      apply sum_ext; intros j Hj. f_equal. rewrite (vmat_assoc n d). reflexivity.
Qed.

Theorem mu_contracts n d (A W : nat -> mat) (b : nat -> vec) (X : nat -> mat) t K q :
  (0 < n)%nat -> 0 <= K -> 0 <= q ->
  (forall s, (s < t)%nat -> row_stochastic n n (A s)) ->
  (forall s i a, (s < t)%nat -> (i < n)%nat -> (a < d)%nat -> X (S s) i a = vmat d (vmat n (A s i) (X s)) (W s) a + b s
    a) ->
  (forall v, l2 d (vmat d v (values d W t)) <= K * l2 d v) ->
  contracts n (steps n A 0 t) q ->
  mu n d (X t) <= sqrt (INR n / 2) * K * q * mu n d (X 0%nat).
Proof.
  intros Hn K0 q0 St HX HK HC. destruct (unroll n d A W b X t St HX) as [c HU].
  assert (Pn : 0 < INR n) by (apply lt_0_INR; lia).
  set (U := fun i => vmat n (steps n A 0 t i) (X 0%nat)). set (V := values d W t) in *.
  rewrite !mu_sq. 
  replace (sqrt (INR n / 2) * K * q) with (sqrt (INR n / 2 * (K * q) ^ 2)).
  2: { rewrite sqrt_mult_alt by lra. rewrite sqrt_pow2 by (apply Rmult_le_pos; assumption). ring. }
  rewrite <- sqrt_mult_alt by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
  apply sqrt_le_1_alt.
  (* rows: the value matrices *)
  assert (Rows : forall i, (i < n)%nat -> sum d (fun a => (X t i a - mean n (X t) a) ^ 2) <= K ^ 2 * sum d (fun a => (U
    i a - mean n U a) ^ 2)).
  { intros i Hi. set (w := fun a => U i a - mean n U a).
    assert (E : forall a, (a < d)%nat -> X t i a - mean n (X t) a = vmat d w V a).
    { intros a Ha. rewrite HU by assumption. unfold mean at 1.
      rewrite (sum_ext n _ (fun j => vmat d (U j) V a + c a)) by (intros; now rewrite HU).
      rewrite sum_plus, sum_const.
      replace (vmat d w V a) with (vmat d (U i) V a - vmat d (mean n U) V a) by (unfold w, vmat; rewrite <- sum_minus;
        apply sum_ext; intros; ring).
      replace (vmat d (mean n U) V a) with (sum n (fun j => vmat d (U j) V a) / INR n).
      - fold (U i). field. lra.
      - unfold vmat, mean. rewrite sum_swap. unfold Rdiv. rewrite <- sum_scal_r. apply sum_ext; intros.
        rewrite sum_scal_r. unfold U, vmat. ring. }
    rewrite (sum_ext d _ (fun a => vmat d w V a * vmat d w V a)) by (intros; rewrite E by assumption; ring).
    specialize (HK w). unfold l2, dot in HK.
    change (sum d (fun a => (U i a - mean n U a) ^ 2)) with (sum d (fun a => w a ^ 2)).
    rewrite (sum_ext d (fun a => w a ^ 2) (fun a => w a * w a)) by (intros; ring).
    assert (P1 : 0 <= sum d (fun a => vmat d w V a * vmat d w V a)) by (apply sum_nonneg; intros; nra).
    assert (P2 : 0 <= sum d (fun a => w a * w a)) by (apply sum_nonneg; intros; nra).
    rewrite <- (sqrt_sqrt _ P1), <- (sqrt_sqrt _ P2).
    replace (K ^ 2 * (sqrt (sum d (fun a => w a * w a)) * sqrt (sum d (fun a => w a * w a)))) with
      ((K * sqrt (sum d (fun a => w a * w a))) * (K * sqrt (sum d (fun a => w a * w a)))) by ring.
    assert (S1 := sqrt_pos (sum d (fun a => vmat d w V a * vmat d w V a))).
    apply Rmult_le_compat; assumption. }
  eapply Rle_trans; [apply (sum_le n _ _ Rows)|]. rewrite sum_scal.
  rewrite sum_swap. rewrite (sum_swap n d (fun i a => (X 0%nat i a - mean n (X 0%nat) a) ^ 2)).
  replace (INR n / 2 * (K * q) ^ 2) with (K ^ 2 * (INR n / 2 * q ^ 2)) by ring. rewrite Rmult_assoc.
  apply Rmult_le_compat_l; [apply pow2_ge_0|]. rewrite <- sum_scal.
  apply sum_le; intros a Ha.
  (* columns: the averages *)
  set (S0 := sum n (fun i => (X 0%nat i a - mean n (X 0%nat) a) ^ 2)).
  assert (S0p : 0 <= S0) by (apply sum_nonneg; intros; apply pow2_ge_0).
  assert (O : forall j k, (j < n)%nat -> (k < n)%nat -> coord a (vsub (X 0%nat j) (X 0%nat k)) <= sqrt (2 * S0)).
  { intros j k Hj Hk. unfold vsub; simpl. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. rewrite Rsqr_pow2.
    apply (spread_low n (fun i => X 0%nat i a) (mean n (X 0%nat) a) j k Hj Hk). }
  assert (CC := HC (coord a) (X 0%nat) _ (sqrt_pos _) O).
  eapply Rle_trans; [apply (spread_up n (fun i => U i a) (q * sqrt (2 * S0)) Hn)|].
  - intros i k Hi Hk. apply (CC i k Hi Hk).
  - rewrite Rpow_mult_distr. rewrite <- (Rsqr_pow2 (sqrt _)), Rsqr_sqrt by lra. lra.
Qed.
