(** own:softmax-rank.  Attention of head size one with the queries q and the keys log x, both distinct,
  has full rank n  [softmax_rank]: a sum of m exponentials with distinct exponents that
    vanishes at m points is zero  [few_zeros], by Rolle's theorem. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Softmax own_order_layer bhojanapalli2020.
Local Open Scope R_scope.

Definition distinct (n : nat) (v : vec) : Prop := forall i j, (i < n)%nat -> (j < n)%nat -> v i = v j -> i = j.
Definition increasing (n : nat) (v : vec) : Prop := forall i j, (i < j)%nat -> (j < n)%nat -> v i < v j.

Lemma finite_choice m (Q : nat -> R -> Prop) : (forall j, (j < m)%nat -> exists x, Q j x) ->
  exists f : vec, forall j, (j < m)%nat -> Q j (f j).
Proof.
  induction m as [|m IH]; intros H; [exists (fun _ => 0); lia|]. destruct IH as [f Hf]; [intros; apply H; lia|].
  destruct (H m ltac:(lia)) as [x Hx].
  exists (fun j => if Nat.eqb j m then x else f j). intros j Hj.
  destruct (Nat.eqb_spec j m) as [->|N]; [exact Hx|apply Hf; lia].
Qed.

(** Distinct numbers can be put in order. *)
Lemma sorted n v : distinct n v -> exists y, increasing n y /\ forall j, (j < n)%nat ->
  exists i, (i < n)%nat /\ y j = v i.
Proof.
  induction n as [|n IH]; intros D; [exists v; split; [intros i j; lia|intros; lia]|].
  destruct IH as (y & I & O); [intros i j Hi Hj; apply D; lia|]. set (x := v n).
  assert (Ne : forall j, (j < n)%nat -> y j <> x) by (intros j Hj E; destruct (O j Hj) as (i & Hi & Ei);
    rewrite Ei in E; assert (i = n) by (apply D; [lia|lia|exact E]); lia).
  assert (Sp : forall m, (m <= n)%nat -> exists p, (p <= m)%nat /\ (forall j, (j < p)%nat ->
    y j < x) /\ forall j, (p <= j)%nat -> (j < m)%nat -> x < y j).
  { induction m as [|m IHm]; intros Hm; [exists 0%nat; repeat split; intros; lia|].
    destruct (IHm ltac:(lia)) as (p & Hp & A & B). destruct (Rlt_dec (y m) x) as [L|L].
    - exists (S m). split; [lia|]. split; [|intros; lia]. intros j Hj. destruct (Nat.eq_dec j m) as [->|N]; [exact L|].
      assert (y j < y m) by (apply I; lia). lra.
    - exists p. split; [lia|]. split; [exact A|]. intros j Hj Hm'.
      destruct (Nat.eq_dec j m) as [->|N]; [|apply B; lia]. assert (y m <> x) by (apply Ne; lia). lra. }
  destruct (Sp n ltac:(lia)) as (p & Hp & A & B). exists (fun j => if Nat.ltb j p then y j else if Nat.eqb j p then x
    else y (j - 1)%nat). split.
  - intros i j Hij Hj. destruct (Nat.ltb_spec i p), (Nat.ltb_spec j p); try lia.
    + apply I; lia.
    + destruct (Nat.eqb_spec j p); [now apply A|]. apply I; lia.
    + destruct (Nat.eqb_spec j p), (Nat.eqb_spec i p); try lia; [apply B; lia|apply I; lia].
  - intros j Hj. destruct (Nat.ltb_spec j p); [|destruct (Nat.eqb_spec j p); [exists n; split; [lia|reflexivity]|]].
    + destruct (O j ltac:(lia)) as (i & Hi & E). exists i. split; [lia|exact E].
    + destruct (O (j - 1)%nat ltac:(lia)) as (i & Hi & E). exists i. split; [lia|exact E].
Qed.

Lemma few_zeros m : forall (a q s : vec), distinct m q -> increasing m s -> (forall j, (j < m)%nat ->
  sum m (fun i => a i * exp (q i * s j)) = 0) -> forall i, (i < m)%nat -> a i = 0.
Proof.
  induction m as [|m IH]; intros a q s Dq Is Z; [intros; lia|].
  set (G := fun t => sum (S m) (fun i => a i * exp ((q i - q m) * t))).
  set (G' := fun t => sum m (fun i => a i * (q i - q m) * exp ((q i - q m) * t))).
  assert (GZ : forall j, (j < S m)%nat -> G (s j) = 0).
  { intros j Hj. unfold G. rewrite (sum_ext (S m) _ (fun i => a i * exp (q i * s j) * exp (- (q m * s j))));
      [rewrite sum_scal_r, Z by exact Hj; ring|]. intros i _. rewrite Rmult_assoc, <- exp_plus. do 2 f_equal. ring. }
  assert (DG : forall t, derivable_pt_lim G t (G' t)).
  { intro t. apply is_derive_Reals. evar_last; [apply (derive_sum (S m) (fun i t => a i * exp ((q i - q m) * t)) (fun i
      t => a i * (q i - q m) * exp ((q i - q m) * t))); intros k _; auto_derive; [exact I|ring]|]. cbn [sum].
      unfold G'. ring. }
  destruct (finite_choice m (fun j c => s j < c < s (S j) /\ G' c = 0)) as [s' Hs'].
  { intros j Hj. destruct (MVT_cor2 G G' (s j) (s (S j)) ltac:(apply Is; lia) (fun c _ => DG c)) as (c & E & C).
    exists c. split; [exact C|]. rewrite !GZ in E by lia. assert (s j < s (S j)) by (apply Is; lia).
    apply Rmult_eq_reg_r with (s (S j) - s j); lra. }
  assert (B : forall i, (i < m)%nat -> a i * (q i - q m) = 0).
  { apply (IH (fun i => a i * (q i - q m)) (fun i => q i - q m) s').
    - intros i j Hi Hj E. apply Dq; [lia|lia|lra].
    - intros i j Hij Hj. destruct (Hs' i ltac:(lia)) as [[_ U] _]. destruct (Hs' j Hj) as [[L _] _].
      assert (s (S i) <= s j) by (destruct (Nat.eq_dec (S i) j) as [->|N]; [lra|left; apply Is; lia]). lra.
    - intros j Hj. apply (Hs' j Hj). }
  assert (A0 : forall i, (i < m)%nat -> a i = 0).
  { intros i Hi. destruct (Rmult_integral _ _ (B i Hi)) as [E|E]; [exact E|].
    assert (i = m) by (apply Dq; [lia|lia|lra]). lia. }
  intros i Hi. destruct (Nat.eq_dec i m) as [->|N]; [|apply A0; lia]. assert (E := GZ m ltac:(lia)). unfold G in E.
  cbn [sum] in E. rewrite (sum_ext m _ (fun _ => 0)), sum_zero in E by (intros k Hk; rewrite A0 by exact Hk; ring).
  replace ((q m - q m) * s m) with 0 in E by ring. rewrite exp_0 in E. lra.
Qed.

Theorem softmax_rank n (q x : vec) : (forall j, (j < n)%nat -> 0 < x j) -> distinct n q -> distinct n x ->
  has_rank n n (attention n (fun i j => q i * ln (x j))) n.
Proof.
  intros X0 Dq Dx. exists (fun j => j). split; [easy|split].
  - intros c Hc. destruct (sorted n (fun j => ln (x j))) as (s & Is & Os); [intros i j Hi Hj E; apply Dx;
      [exact Hi|exact Hj|now apply ln_inv; [apply X0|apply X0|]]|].
    set (Z := fun i => sum n (fun k => 1 * exp (q i * ln (x k)))).
    assert (Zp : forall i, (i < n)%nat -> 0 < Z i) by (intros i Hi; apply (tilt_Z_pos n (fun _ => 1)); split; [intros;
      lra|exists i; split; [exact Hi|lra]]).
    assert (A : forall i, (i < n)%nat -> c i / Z i = 0).
    { apply (few_zeros n (fun i => c i / Z i) q s Dq Is). intros j Hj. destruct (Os j Hj) as (k & Hk & ->).
      rewrite <- (Hc k Hk). apply sum_ext; intros i Hi. unfold attention, softmax, tilt. fold (Z i).
      assert (P := Zp i Hi). field. lra. }
    intros j Hj. assert (P := Zp j Hj). specialize (A j Hj). replace (c j) with (c j / Z j * Z j) by (field; lra).
    rewrite A. ring.
  - intros i Hi. exists (eye i). intros a Ha. now rewrite (seed_closure.sum_eye n i (fun j => attention n (fun i j => q
      i * ln (x j)) j a) Hi).
Qed.
