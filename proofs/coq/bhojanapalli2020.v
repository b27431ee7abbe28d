(** own:softmax-rank, bhojanapalli2020:1, own:low-rank-every-input, folk:softmax-rank, joudaki2023:isometry,
    folk:affine-rank.  What each is stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms seed_closure Softmax own_order.
Local Open Scope R_scope.

(** bhojanapalli2020:1, own:low-rank-every-input, folk:softmax-rank.
    If the n tokens are independent (X has a right inverse Y),
      every attention matrix softmax(L) is that of some W_QK: W = Y L Y^T  [bhojanapalli_1].
    If they are dependent (v X = 0, v not 0) and n >= 2, the attention with the logits v e_1^T is that of no W_QK
      [low_rank].
    "Attention with one-dimensional heads has rank at most one" is refuted by two keys: softmax(q x^T) has a
      determinant that is not 0  [softmax_rank_refuted]. *)

(** The logits X W X^T, and the attention without a mask. *)
Definition scores (d : nat) (X W : mat) : mat := fun i j => bil d (X i) W (X j).
Definition attention (n : nat) (L : mat) : mat := fun i => softmax n (fun _ => 1) (L i).

Theorem bhojanapalli_1 n d (X Y L : mat) : (forall i k, (i < n)%nat -> (k < n)%nat ->
  sum d (fun a => X i a * Y a k) = eye i k) ->
  exists W : mat, forall i j, (i < n)%nat -> (j < n)%nat -> attention n (scores d X W) i j = attention n L i j.
Proof.
  intros HY. exists (fun a b => sum n (fun k => sum n (fun l => Y a k * L k l * Y b l))). intros i j Hi Hj.
  unfold attention, softmax.
  apply tilt_ext; [reflexivity| |exact Hj]. intros c Hc. unfold scores, bil.
  transitivity (sum n (fun k => sum n (fun l => sum d (fun a => X i a * Y a k) * L k l * sum d (fun b => X c b * Y b
    l)))).
  - rewrite (sum_ext d _ (fun a => sum n (fun k => sum n (fun l => X i a * Y a k * L k l * sum d (fun b => X c b * Y b
      l))))).
    + rewrite sum_swap. apply sum_ext; intros k _. rewrite sum_swap. apply sum_ext; intros l _.
      rewrite <- !sum_scal_r. apply sum_ext; intros; ring.
    + intros a _. rewrite (sum_ext d _ (fun b => sum n (fun k => sum n (fun l => X i a * Y a k * L k l * (X c b * Y b
        l))))).
      * rewrite sum_swap. apply sum_ext; intros k _. rewrite sum_swap. apply sum_ext; intros l _. now rewrite sum_scal.
      * intros b _. rewrite <- sum_scal, <- sum_scal_r. apply sum_ext; intros k _. rewrite <- sum_scal, <- sum_scal_r.
        apply sum_ext; intros; ring.
  - rewrite (sum_ext n _ (fun k => eye i k * sum n (fun l => L k l * eye c l))).
    + rewrite (sum_eye n i (fun k => sum n (fun l => L k l * eye c l)) Hi).
      rewrite (sum_ext n _ (fun l => eye c l * L i l)) by (intros; ring). now apply (sum_eye n c (L i)).
    + intros k Hk. rewrite <- sum_scal. apply sum_ext; intros l Hl. rewrite HY, HY by assumption. ring.
Qed.

Theorem low_rank n d (X : mat) (v : vec) : (2 <= n)%nat -> (exists i, (i < n)%nat /\ v i <> 0) ->
  (forall a, (a < d)%nat -> sum n (fun i => v i * X i a) = 0) ->
  let P := attention n (fun i j => v i * eye 0%nat j) in
  row_stochastic n n P /\ (forall i j, (i < n)%nat -> (j < n)%nat -> 0 < P i j) /\
  forall W : mat, ~ (forall i j, (i < n)%nat -> (j < n)%nat -> attention n (scores d X W) i j = P i j).
Proof.
  intros Hn [i0 [Hi0 N0]] HX P. assert (Wt : weights n (fun _ => 1)) by (split; [intros; lra|exists 0%nat; split;
    [lia|lra]]).
  assert (Pp : forall i j, (i < n)%nat -> (j < n)%nat -> 0 < P i j) by (intros i j _ Hj; apply tilt_pos;
    [exact Wt|exact Hj|lra]).
  split; [split; [intros; left; now apply Pp|intros; now apply tilt_sum]|split; [exact Pp|]]. intros W E.
  (* the logits of a row differ by a constant *)
  assert (K : forall i, (i < n)%nat -> exists t, forall j, (j < n)%nat -> scores d X W i j = v i * eye 0%nat j + t).
  { intros i Hi. set (A := sum n (fun k => 1 * exp (scores d X W i k))).
    set (B := sum n (fun k => 1 * exp (v i * eye 0%nat k))).
    assert (Ap : 0 < A) by (apply (tilt_Z_pos n (fun _ => 1) Wt)).
    assert (Bp : 0 < B) by (apply (tilt_Z_pos n (fun _ => 1) Wt)).
    exists (ln (A / B)). intros j Hj. assert (Q := E i j Hi Hj). unfold P, attention, softmax, tilt in Q.
    fold A B in Q. rewrite !Rmult_1_l in Q.
    apply exp_inv. rewrite exp_plus, exp_ln by (now apply Rdiv_lt_0_compat).
    replace (exp (scores d X W i j)) with (exp (scores d X W i j) / A * A) by (field; lra). rewrite Q. field. lra. }
  assert (Col : forall j, sum n (fun i => v i * scores d X W i j) = 0).
  { intro j. unfold scores, bil. rewrite (sum_ext n _ (fun i => sum d (fun a => v i * X i a * sum d (fun b => W a b * X
      j b)))).
    - rewrite sum_swap, (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros a Ha. rewrite sum_scal_r, HX by exact Ha.
      ring.
    - intros i _. rewrite <- sum_scal. apply sum_ext; intros a _. rewrite <- !sum_scal. apply sum_ext; intros; ring. }
  assert (D : forall i, (i < n)%nat -> scores d X W i 0%nat - scores d X W i 1%nat = v i).
  { intros i Hi. destruct (K i Hi) as [t Ht]. rewrite !Ht by lia. unfold eye. simpl. ring. }
  assert (S : sum n (fun i => v i * v i) = 0).
  { rewrite (sum_ext n _ (fun i => v i * scores d X W i 0%nat - v i * scores d X W i 1%nat)) by (intros i Hi;
      rewrite <- (D i Hi) at 2; ring). rewrite sum_minus, !Col. ring. }
  assert (T := sum_term_le n (fun i => v i * v i) i0 (fun i _ => Rle_0_sqr (v i)) Hi0). cbv beta in T. rewrite S in T.
  nra.
Qed.

(** The rank of a product of one query and one key coordinate is at most one; of its softmax, not. *)
Theorem softmax_rank_refuted : ~ (forall (q x : vec), let P := attention 2 (fun i j => q i * x j) in
  P 0%nat 0%nat * P 1%nat 1%nat - P 0%nat 1%nat * P 1%nat 0%nat = 0).
Proof.
  intro H. specialize (H (fun i => match i with O => 1 | _ => 0 end) (fun i => match i with O => 1 | _ => 0 end)).
  unfold attention, softmax, tilt in H. cbn [sum] in H. rewrite ?Rmult_0_l, ?Rmult_1_l, ?Rmult_0_r, ?Rplus_0_l,
    exp_0 in H.
  assert (E : 1 < exp 1) by (assert (I := exp_ineq1 1 ltac:(lra)); lra).
  assert (Q : (exp 1 - 1) * / (2 * (exp 1 + 1)) = 0) by (rewrite <- H; field; lra).
  assert (0 < (exp 1 - 1) * / (2 * (exp 1 + 1))) by (apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]). lra.
Qed.

(** own:softmax-rank.  Attention of head size one with the queries q and the keys log x, both distinct,
  has full rank n  [softmax_rank]: a sum of m exponentials with distinct exponents that
    vanishes at m points is zero  [few_zeros], by Rolle's theorem. *)

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

(** joudaki2023:isometry, as we read it.  I(X) = det(X X^T)^(1/n)/(tr(X X^T)/n) for independent tokens, the rows of X.
Dividing every token by its length a_i makes the tokens more isometric:
    I(X) (1 + Var(a)/mean(a)^2) <= I(X~)  [isometry_grows].  The determinant of the Gram matrix is divided by prod
      a_i^2, and the rest is the mean of the a_i against their
    geometric mean. *)

(** The determinant, by its first row. *)
Definition jump (j k : nat) : nat := if Nat.ltb k j then k else S k.
Fixpoint det (n : nat) (M : mat) : R := match n with
  | O => 1
  | S m => sum (S m) (fun j => (-1) ^ j * M 0%nat j * det m (fun i k => M (S i) (jump j k))) end.
Definition gram (d : nat) (X : mat) : mat := fun i j => dot d (X i) (X j).
Definition isometry (n d : nat) (X : mat) : R := Rpower (det n (gram d X)) (/ INR n) / (sum n (fun i => gram d X i i) /
  INR n).
(** 1 + Var(a)/mean(a)^2 of the lengths a_i = |X_i|. *)
Definition length_spread (n d : nat) (X : mat) : R := let mean := sum n (fun i => l2 d (X i)) / INR n in
  1 + sum n (fun i => (l2 d (X i) - mean) ^ 2) / INR n / mean ^ 2.

Lemma det_ext n : forall M M', (forall i j, (i < n)%nat -> (j < n)%nat -> M i j = M' i j) -> det n M = det n M'.
Proof.
  induction n as [|n IH]; intros M M' H; [reflexivity|]. cbn [det]. apply sum_ext; intros j Hj.
  rewrite (H 0%nat j) by lia. f_equal.
  apply IH. intros i k Hi Hk. apply H; [lia|]. unfold jump. destruct Nat.ltb; lia.
Qed.

Lemma prodf_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> prodf n f = prodf n g.
Proof. induction n; intros H; [reflexivity|]. simpl. rewrite IHn, H by (auto; lia). reflexivity. Qed.
Lemma prodf_jump n (c : vec) j : (j <= n)%nat -> prodf (S n) c = c j * prodf n (fun k => c (jump j k)).
Proof.
  intros Hj. induction n as [|n IH]; [replace j with 0%nat by lia; simpl; ring|].
  destruct (Nat.eq_dec j (S n)) as [->|N].
  - change (prodf (S (S n)) c) with (prodf (S n) c * c (S n)).
    rewrite (prodf_ext (S n) (fun k => c (jump (S n) k)) c); [ring|].
    intros i Hi. unfold jump. destruct (Nat.ltb_spec i (S n)); [reflexivity|lia].
  - change (prodf (S (S n)) c) with (prodf (S n) c * c (S n)). rewrite IH by lia.
    change (prodf (S n) (fun k => c (jump j k))) with (prodf n (fun k => c (jump j k)) * c (jump j n)).
    replace (jump j n) with (S n); [ring|]. unfold jump. destruct (Nat.ltb_spec n j); [lia|reflexivity].
Qed.

(** Rows and columns scaled. *)
Lemma det_scale n : forall (r c : vec) M, det n (fun i j => r i * M i j * c j) = prodf n r * prodf n c * det n M.
Proof.
  induction n as [|n IH]; intros r c M; [simpl; ring|]. cbn [det]. rewrite <- sum_scal. apply sum_ext; intros j Hj.
  rewrite (IH (fun i => r (S i)) (fun k => c (jump j k)) (fun i k => M (S i) (jump j k))).
  rewrite (prodf_jump n c j) by lia. rewrite (prodf_jump n r 0) by lia.
  rewrite (prodf_ext n (fun k => r (jump 0 k)) (fun i => r (S i))) by reflexivity. ring.
Qed.

Lemma prodf_zero n f i : (i < n)%nat -> f i = 0 -> prodf n f = 0.
Proof. induction n; intros Hi E; [lia|]. simpl. destruct (Nat.eq_dec i n) as [->|]; [rewrite E; ring|].
rewrite IHn by (auto; lia). ring. Qed.
Lemma prodf_pos n f : (forall i, (i < n)%nat -> 0 < f i) -> 0 < prodf n f.
Proof. induction n; intros H; simpl; [lra|]. apply Rmult_lt_0_compat; auto. Qed.
Lemma ln_prodf n f : (forall i, (i < n)%nat -> 0 < f i) -> ln (prodf n f) = sum n (fun i => ln (f i)).
Proof. induction n; intros H; simpl; [apply ln_1|]. rewrite ln_mult by (auto; apply prodf_pos; auto).
rewrite IHn by auto. reflexivity. Qed.
Lemma prodf_inv n f : (forall i, (i < n)%nat -> 0 < f i) -> prodf n (fun i => / f i) = / prodf n f.
Proof. induction n; intros H; simpl; [lra|]. rewrite IHn by auto. now rewrite Rinv_mult. Qed.

(** The mean of logarithms is at most the logarithm of the mean. *)
Lemma geometric_mean n (a : vec) : (0 < n)%nat -> (forall i, (i < n)%nat -> 0 < a i) ->
  sum n (fun i => ln (a i)) <= INR n * ln (sum n a / INR n).
Proof.
  intros Hn H. assert (n0 : 0 < INR n) by (now apply lt_0_INR). set (m := sum n a / INR n).
  assert (s0 : 0 < sum n a). { eapply Rlt_le_trans; [apply (H 0%nat Hn)|].
  apply (sum_term_le n a 0%nat); [intros; left; auto|exact Hn]. }
  assert (m0 : 0 < m) by (now apply Rdiv_lt_0_compat).
  apply Rle_trans with (sum n (fun i => ln m + (a i / m - 1))).
  - apply sum_le; intros i Hi. specialize (H i Hi). assert (q0 : 0 < a i / m) by (now apply Rdiv_lt_0_compat).
    replace (a i) with (m * (a i / m)) at 1 by (field; lra). rewrite ln_mult by assumption. apply Rplus_le_compat_l.
    rewrite <- (ln_exp (a i / m - 1)).
    assert (E := exp_ineq1_le (a i / m - 1)). destruct (Rle_lt_or_eq_dec _ _ E) as [L|L]; [left; apply ln_increasing;
      lra|right; f_equal; lra].
  - rewrite sum_plus, sum_const, sum_minus, sum_const. unfold Rdiv. rewrite sum_scal_r. right. unfold m. field. lra.
Qed.

Lemma lengths_positive n d (X : mat) : 0 < det n (gram d X) -> forall i, (i < n)%nat -> 0 < l2 d (X i).
Proof.
  intros D0 i Hi. destruct (Rle_lt_or_eq_dec 0 (l2 d (X i)) (sqrt_pos _)) as [L|L]; [exact L|exfalso].
  assert (G0 : forall j, gram d X i j = 0).
  { intro j. assert (C := dot_le_l2 d (X i) (X j)). rewrite <- L, Rmult_0_l in C. unfold gram.
    assert (P := Rabs_pos (dot d (X i) (X j))). destruct (Req_dec (dot d (X i) (X j)) 0) as [E|E]; [exact E|].
    apply Rabs_pos_lt in E. lra. }
  assert (E := det_scale n (fun k => if Nat.eqb k i then 0 else 1) (fun _ => 1) (gram d X)).
  rewrite (prodf_zero n _ i Hi) in E by (now rewrite Nat.eqb_refl).
  rewrite (det_ext n _ (gram d X)) in E; [lra|]. intros k j _ _.
  destruct (Nat.eqb_spec k i) as [->|]; [rewrite G0|]; ring.
Qed.

Lemma unit_gram n d (X : mat) : (forall i, (i < n)%nat -> 0 < l2 d (X i)) -> let pa := prodf n (fun i => l2 d (X i)) in
  det n (gram d (fun i => sphere d (X i))) = / pa * / pa * det n (gram d X).
Proof.
  intros a0 pa. unfold pa. rewrite <- (prodf_inv n _ a0), <- det_scale. apply det_ext. intros i j Hi Hj.
  unfold gram, dot, sphere. rewrite <- sum_scal, <- sum_scal_r. apply sum_ext; intros; unfold Rdiv; ring.
Qed.

Lemma unit_determinant n d (X : mat) : (forall i, (i < n)%nat -> 0 < l2 d (X i)) -> 0 < det n (gram d X) ->
  0 < det n (gram d (fun i => sphere d (X i))).
Proof.
  intros a0 D0. rewrite unit_gram by exact a0. assert (P := prodf_pos n _ a0).
  apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; now apply Rinv_0_lt_compat|exact D0].
Qed.

Theorem isometry_grows n d (X : mat) : (0 < n)%nat -> 0 < det n (gram d X) ->
  isometry n d X * length_spread n d X <= isometry n d (fun i => sphere d (X i)).
Proof.
  intros Hn D0. assert (n0 : 0 < INR n) by (now apply lt_0_INR). set (a := fun i => l2 d (X i)).
  assert (a2 : forall i, a i * a i = gram d X i i) by (intro; apply sqrt_sqrt, dot_pos).
  assert (a0 : forall i, (i < n)%nat -> 0 < a i) by (apply lengths_positive; exact D0).
  set (pa := prodf n a). assert (pa0 : 0 < pa) by (now apply prodf_pos).
  assert (DS : det n (gram d (fun i => sphere d (X i))) = / pa * / pa * det n (gram d X)).
  { apply unit_gram. exact a0. }
  assert (TS : sum n (fun i => gram d (fun i => sphere d (X i)) i i) = INR n).
  { rewrite <- (Rmult_1_r (INR n)), <- sum_const. apply sum_ext; intros i Hi. assert (A := a0 i Hi).
    unfold gram, dot, sphere. fold (a i).
    rewrite (sum_ext d _ (fun e => / (a i * a i) * (X i e * X i e))) by (intros; field; lra). rewrite sum_scal.
    fold (dot d (X i) (X i)). rewrite a2. unfold gram. apply Rinv_l. fold (gram d X i i). rewrite <- a2. nra. }
  set (s := sum n a). assert (s0 : 0 < s) by (eapply Rlt_le_trans; [apply (a0 0%nat Hn)|];
    apply (sum_term_le n a 0%nat); [intros; left; auto|exact Hn]).
  set (q := sum n (fun i => gram d X i i)). assert (q0 : 0 < q) by (eapply Rlt_le_trans;
    [|apply (sum_term_le n (fun i => gram d X i i) 0%nat); [intros; rewrite <- a2; apply Rle_0_sqr|exact Hn]];
      cbv beta; rewrite <- a2; assert (A := a0 0%nat Hn); nra).
  assert (LS : length_spread n d X = INR n * q / (s * s)).
  { change (1 + sum n (fun i => (a i - s / INR n) ^ 2) / INR n / (s / INR n) ^ 2 = INR n * q / (s * s)).
    rewrite (sum_ext n (fun i => (a i - s / INR n) ^ 2) (fun i => (gram d X i i - 2 * (s / INR n) * a i) + s / INR n *
      (s / INR n))) by (intros; rewrite <- a2; ring).
    rewrite sum_plus, sum_minus, sum_scal, sum_const. fold q. fold s. field. lra. }
  unfold isometry. fold q. rewrite LS, TS, DS. set (D := det n (gram d X)) in *. set (k := / INR n).
  assert (k0 : 0 < k) by (now apply Rinv_0_lt_compat). assert (ip : 0 < / pa * / pa) by (apply Rmult_lt_0_compat;
    now apply Rinv_0_lt_compat).
  rewrite (Rpower_mult_distr _ _ _ ip D0) || rewrite <- (Rpower_mult_distr _ _ _ ip D0).
  assert (P0 : 0 < Rpower D k) by apply exp_pos. replace (INR n / INR n) with 1 by (field; lra).
  assert (K : INR n / s * (INR n / s) <= Rpower (/ pa * / pa) k).
  { assert (GM := geometric_mean n a Hn a0). fold s in GM. rewrite <- (ln_prodf n a a0) in GM. fold pa in GM.
    unfold Rpower. rewrite ln_mult by (now apply Rinv_0_lt_compat). rewrite ln_Rinv by exact pa0.
    assert (m0 : 0 < s / INR n) by (now apply Rdiv_lt_0_compat).
    replace (INR n / s) with (/ (s / INR n)) by (field; lra).
    rewrite <- (exp_ln (/ (s / INR n))) by (now apply Rinv_0_lt_compat). rewrite <- exp_plus, ln_Rinv by exact m0.
    assert (k * ln pa <= ln (s / INR n)) by (apply Rmult_le_reg_l with (INR n); [exact n0|]; unfold k;
      rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra; exact GM).
    destruct (Rle_lt_or_eq_dec (- ln (s / INR n) + - ln (s / INR n)) (k * (- ln pa + - ln pa)) ltac:(lra)) as [L|L];
      [left; now apply exp_increasing|right; now f_equal]. }
  replace (Rpower D k / (q / INR n) * (INR n * q / (s * s))) with (INR n / s * (INR n / s) * Rpower D k) by (field;
    lra).
  unfold Rdiv at 3. rewrite Rinv_1, Rmult_1_r. apply Rmult_le_compat_r; lra.
Qed.

(** folk:affine-rank refuted.  (1,-1,0), (1/2,0,-1/2), (0,1,-1) are on one line: the second is the mean of the others.
LayerNorm (of mean 0 all three) divides each
    by its deviation; then the second is no combination a x_1 + (1 - a) x_3 of the others: they are on no line. *)

Definition x1 (k : nat) : R := match k with O => 1 | 1%nat => -1 | _ => 0 end.
Definition x2 (k : nat) : R := match k with O => 1/2 | 1%nat => 0 | _ => -1/2 end.
Definition x3 (k : nat) : R := match k with O => 0 | 1%nat => 1 | _ => -1 end.
Definition mean3 (x : nat -> R) : R := (x 0%nat + x 1%nat + x 2%nat) / 3.
Definition deviation (x : nat -> R) : R := sqrt (((x 0%nat - mean3 x) ^ 2 + (x 1%nat - mean3 x) ^ 2 + (x 2%nat - mean3
  x) ^ 2) / 3).
Definition layernorm (x : nat -> R) (k : nat) : R := (x k - mean3 x) / deviation x.

Theorem affine_rank_refuted : (forall k, x2 k = 1/2 * x1 k + (1 - 1/2) * x3 k) /\
  ~ exists a, forall k, (k <= 2)%nat -> layernorm x2 k = a * layernorm x1 k + (1 - a) * layernorm x3 k.
Proof.
  split; [intros [|[|k]]; simpl; lra|]. intros [a H].
  assert (D1 : deviation x1 = sqrt (2/3)) by (unfold deviation, mean3; simpl; f_equal; lra).
  assert (D3 : deviation x3 = sqrt (2/3)) by (unfold deviation, mean3; simpl; f_equal; lra).
  assert (D2 : deviation x2 = sqrt (2/3) / 2).
  { unfold deviation, mean3. simpl. replace (sqrt (2/3) / 2) with (sqrt (2/3) * / sqrt (2 * 2)) by (rewrite sqrt_square
      by lra; reflexivity).
    rewrite <- sqrt_inv, <- sqrt_mult by lra. f_equal. lra. }
  assert (P : 0 < sqrt (2/3)) by (apply sqrt_lt_R0; lra).
  assert (A := H 0%nat ltac:(auto)). assert (B := H 1%nat ltac:(auto)). unfold layernorm in A, B.
  rewrite D1, D2, D3 in A, B. unfold mean3 in A, B. simpl in A, B.
  assert (A' : 1 = a).
  { apply (Rmult_eq_compat_r (sqrt (2/3))) in A. replace ((1/2 - (1/2 + 0 + -1/2) / 3) / (sqrt (2/3) / 2) * sqrt (2/3))
      with 1 in A by (field; lra).
    replace ((a * ((1 - (1 + -1 + 0) / 3) / sqrt (2/3)) + (1 - a) * ((0 - (0 + 1 + -1) / 3) / sqrt (2/3))) * sqrt
      (2/3)) with a in A by (field; lra). exact A. }
  apply (Rmult_eq_compat_r (sqrt (2/3))) in B. replace ((0 - (1/2 + 0 + -1/2) / 3) / (sqrt (2/3) / 2) * sqrt (2/3))
    with 0 in B by (field; lra).
  replace ((a * ((-1 - (1 + -1 + 0) / 3) / sqrt (2/3)) + (1 - a) * ((1 - (0 + 1 + -1) / 3) / sqrt (2/3))) * sqrt (2/3))
    with (1 - 2 * a) in B by (field; lra). lra.
Qed.
