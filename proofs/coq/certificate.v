(** What a certificate's file begins with: the quantities of the claims over the reals, and their enclosures.

    A certificate is an instance: tokens, weights, and an inequality between quantities of the network.
    The first part of
    this file defines the quantities; the second computes intervals around them (software floats over the integers,
      proved
    correct by coq-interval) and proves each computation; the third compares.
    [rankmath check --coq] writes this file, then
    the instance, so that the whole stands alone; here it is compiled as the others are. *)
Require Import Reals QArith Qreals Qminmax List Lra Lia ZArith Psatz.
From Interval Require Import Specific_stdz Specific_ops Float_full Interval Xreal Float Basic Sig.
Import ListNotations.
Module SFZ := SpecificFloat StdZRadix2.
Module I := FloatIntervalFull SFZ.
Local Open Scope R_scope.

(* ---------- definitions ---------- *)
Notation vec := (nat -> R).
Notation mat := (nat -> nat -> R).
Fixpoint sum (n : nat) (f : nat -> R) : R := match n with O => 0 | S k => sum k f + f k end.
(** the largest of 0 and f 0 ... f (n-1); the least of f 0 ... f n *)
Fixpoint maxf (n : nat) (f : nat -> R) : R := match n with O => 0 | S k => Rmax (maxf k f) (f k) end.
Fixpoint minf (n : nat) (f : nat -> R) : R := match n with O => f O | S k => Rmin (minf k f) (f (S k)) end.
(** a number, a vector and a matrix of rationals *)
Definition entries (l : list Q) : vec := fun j => Q2R (nth j l 0%Q).
Definition rows (l : list (list Q)) : mat := fun i j => Q2R (nth j (nth i l nil) 0%Q).
Definition dot (d : nat) (u v : vec) : R := sum d (fun a => u a * v a).
Definition l1 (d : nat) (u : vec) : R := sum d (fun a => Rabs (u a)).
Definition l2 (d : nat) (u : vec) : R := sqrt (sum d (fun a => u a * u a)).
Definition linf (d : nat) (u : vec) : R := maxf d (fun a => Rabs (u a)).
Definition image (d : nat) (v : vec) (A : mat) : vec := fun b => sum d (fun a => v a * A a b).
Definition transpose (A : mat) : mat := fun i j => A j i.
Definition product (k : nat) (A B : mat) : mat := fun i j => sum k (fun a => A i a * B a j).
(** softmax over the keys with weight m j > 0 *)
Definition softmax (n : nat) (m l : vec) : vec := fun j => m j * exp (l j) / sum n (fun k => m k * exp (l k)).
(** (X_i M X_j^T + k . X_j) / sqrt d_qk, attention, one head's P X W, and a layer s X + sum of heads + 1 b^T *)
Definition logit (d : nat) (dqk : R) (M : mat) (k : vec) (X : mat) : mat := fun i j =>
  (sum d (fun b => sum d (fun a => X i a * M a b) * X j b) + sum d (fun a => k a * X j a)) / sqrt dqk.
Definition attention (n d : nat) (dqk : R) (M : mat) (k : vec) (mask X : mat) : mat := fun i =>
  softmax n (mask i) (logit d dqk M k X i).
Definition mixed (n d : nat) (P X W : mat) : mat := fun i b => sum d (fun a => sum n (fun j => P i j * X j a) * W a b).
Fixpoint heads (n d : nat) (hs : list (mat * mat)) (X : mat) : mat := fun i b =>
  match hs with nil => 0 | h :: t => mixed n d (fst h) X (snd h) i b + heads n d t X i b end.
Definition layer (n d : nat) (s : R) (hs : list (mat * mat)) (b : vec) (X : mat) : mat := fun i a =>
  s * X i a + heads n d hs X i a + b a.
(** every token divided by its length *)
Definition sphere (d : nat) (X : mat) : mat := fun i a => X i a / l2 d (X i).
(** the largest distance of two tokens *)
Definition diam (n : nat) (N : vec -> R) (X : mat) : R := maxf n (fun i => maxf i (fun k => N (fun a => X i a - X k
  a))).
(** largest column sum, largest row sum, largest entry, Frobenius, sqrt of the first two's product *)
Definition norm1 (n d : nat) (A : mat) : R := maxf d (fun a => sum n (fun i => Rabs (A i a))).
Definition norminf (n d : nat) (A : mat) : R := maxf n (fun i => sum d (fun a => Rabs (A i a))).
Definition normmax (n d : nat) (A : mat) : R := maxf n (fun i => maxf d (fun a => Rabs (A i a))).
Definition frob (n d : nat) (A : mat) : R := sqrt (sum n (fun i => sum d (fun a => A i a * A i a))).
Definition comp (n d : nat) (A : mat) : R := sqrt (norm1 n d A * norminf n d A).
(** X - 1 x^T, the mean of the tokens, |X - 1 mean^T|_F *)
Definition centred (X : mat) (x : vec) : mat := fun i a => X i a - x a.
Definition mean (n : nat) (X : mat) : vec := fun a => sum n (fun j => X j a) / INR n.
Definition mu (n d : nat) (X : mat) : R := frob n d (centred X (mean n X)).
(** The greatest lower bound of the values f x, x with P x, all of which are >= 0; and as such: the spectral norm, the
    residual of a norm N. *)
Lemma inf_exists (E : R -> Prop) : (exists y, E y) -> (forall y, E y -> 0 <= y) ->
  {m : R | (forall y, E y -> m <= y) /\ (forall t, (forall y, E y -> t <= y) -> t <= m)}.
Proof.
  intros X P. destruct (completeness (fun y => E (- y))) as [m [U L]].
  - exists 0. intros y H. specialize (P _ H). lra.
  - destruct X as [y H]. exists (- y). rewrite Ropp_involutive. exact H.
  - exists (- m). split.
    + intros y H. enough (- y <= m) by lra. apply U. rewrite Ropp_involutive. exact H.
    + intros t T. enough (m <= - t) by lra. apply L. intros y H. specialize (T _ H). lra.
Qed.
Definition inf (E : R -> Prop) X P : R := proj1_sig (inf_exists E X P).
Lemma inf_le (E : R -> Prop) X P y : E y -> inf E X P <= y.
Proof. intro H. unfold inf. destruct (inf_exists E X P) as [m [U L]]. apply U, H. Qed.
Lemma le_inf (E : R -> Prop) X P t : (forall y, E y -> t <= y) -> t <= inf E X P.
Proof. intro H. unfold inf. destruct (inf_exists E X P) as [m [U L]]. apply L, H. Qed.

Lemma sum_ext n f g : (forall k, (k < n)%nat -> f k = g k) -> sum n f = sum n g.
Proof. induction n; intro H; [reflexivity|]. simpl. rewrite IHn by auto. rewrite H by lia. reflexivity. Qed.
Lemma sum_pos n f : (forall k, (k < n)%nat -> 0 <= f k) -> 0 <= sum n f.
Proof. induction n; intro H; simpl; [lra|]. apply Rplus_le_le_0_compat; auto. Qed.
Lemma sum_le n f g : (forall k, (k < n)%nat -> f k <= g k) -> sum n f <= sum n g.
Proof. induction n; intro H; simpl; [lra|]. apply Rplus_le_compat; auto. Qed.
Lemma sum_plus n f g : sum n (fun k => f k + g k) = sum n f + sum n g.
Proof. induction n; simpl; [lra|]. rewrite IHn. lra. Qed.
Lemma sum_scal n c f : sum n (fun k => c * f k) = c * sum n f.
Proof. induction n; simpl; [lra|]. rewrite IHn. lra. Qed.
Lemma sum_scal_r n c f : sum n (fun k => f k * c) = sum n f * c.
Proof. induction n; simpl; [lra|]. rewrite IHn. lra. Qed.
Lemma sum_const n c : sum n (fun _ => c) = INR n * c.
Proof. induction n; [simpl; lra|]. rewrite S_INR. simpl sum. rewrite IHn. lra. Qed.
Lemma sum_swap n m (f : nat -> nat -> R) : sum n (fun i => sum m (f i)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n; simpl.
  - induction m; simpl; [|rewrite <- IHm]; lra.
  - rewrite IHn. symmetry. apply sum_plus.
Qed.
Lemma sum_abs n f : Rabs (sum n f) <= sum n (fun k => Rabs (f k)).
Proof.
  induction n; simpl; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat_r, IHn.
Qed.
Lemma maxf_pos n f : 0 <= maxf n f.
Proof. induction n; simpl; [lra|]. eapply Rle_trans; [exact IHn|apply Rmax_l]. Qed.
Lemma maxf_ge n f k : (k < n)%nat -> f k <= maxf n f.
Proof.
  induction n; intro H; [lia|]. simpl. destruct (Nat.eq_dec k n) as [->|D]; [apply Rmax_r|].
  eapply Rle_trans; [apply IHn; lia|apply Rmax_l].
Qed.
Lemma maxf_le n f m : 0 <= m -> (forall k, (k < n)%nat -> f k <= m) -> maxf n f <= m.
Proof. intros P H. induction n; simpl; [exact P|]. apply Rmax_lub; auto. Qed.
Lemma cauchy d u v : dot d u v <= l2 d u * l2 d v.
Proof.
  assert (P : forall w, 0 <= sum d (fun a => w a * w a)) by (intro w; apply sum_pos; intros; apply Rle_0_sqr).
  unfold l2. rewrite <- sqrt_mult_alt by apply P. apply Rle_trans with (Rabs (dot d u v)); [apply Rle_abs|].
  rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. unfold Rsqr.
  set (A := sum d (fun a => u a * u a)). set (B := sum d (fun a => v a * v a)). set (C := dot d u v).
  assert (Q : forall x y, 0 <= x * x * A + 2 * x * y * C + y * y * B).
  { intros x y. replace (x * x * A + 2 * x * y * C + y * y * B)
      with (sum d (fun a => (x * u a + y * v a) * (x * u a + y * v a))); [apply P|].
    unfold A, B, C, dot. rewrite <- !sum_scal, <- !sum_plus. apply sum_ext. intros. ring. }
  pose proof (Q B (- C)). pose proof (Q 1 (- C)). pose proof (Q 1 C). assert (0 <= B) by apply P.
  assert (0 <= A) by apply P.
  destruct (Req_dec B 0) as [Z|Z].
  - rewrite Z in *. destruct (Req_dec C 0) as [E|E]; [rewrite E; lra|exfalso].
    pose proof (Q 1 (- (A + 1) / (2 * C))). replace (2 * 1 * (- (A + 1) / (2 * C)) * C) with (- (A + 1)) in * by
      (field; exact E).
    lra.
  - apply Rmult_le_reg_l with B; nra.
Qed.
Lemma l2_pos d u : 0 <= l2 d u. Proof. apply sqrt_pos. Qed.
Lemma l2_sqr d u : l2 d u * l2 d u = dot d u u.
Proof. apply sqrt_sqrt, sum_pos. intros. apply Rle_0_sqr. Qed.
(** Schur's test *)
Lemma schur n m A v : l2 m (image n v A) <= sqrt (norm1 n m A * norminf n m A) * l2 n v.
Proof.
  set (c := norm1 n m A). set (r := norminf n m A).
  assert (C : 0 <= c) by apply maxf_pos. assert (R : 0 <= r) by apply maxf_pos.
  unfold l2 at 1 2. rewrite <- sqrt_mult_alt by nra. apply sqrt_le_1_alt.
  apply Rle_trans with (sum m (fun b => c * sum n (fun a => v a * v a * Rabs (A a b)))).
  - apply sum_le. intros b B. unfold image.
    set (p := fun a => sqrt (Rabs (A a b))). set (q := fun a => p a * Rabs (v a)).
    assert (S : forall a, p a * p a = Rabs (A a b)) by (intro a; apply sqrt_sqrt, Rabs_pos).
    assert (D : Rabs (sum n (fun a => v a * A a b)) <= l2 n p * l2 n q).
    { eapply Rle_trans; [apply sum_abs|]. eapply Rle_trans; [|apply cauchy]. apply sum_le. intros a _. unfold q.
      rewrite Rabs_mult, <- Rmult_assoc, S. right. ring. }
    apply Rle_trans with ((l2 n p * l2 n q) * (l2 n p * l2 n q)).
    + rewrite <- (Rabs_right (_ * _)) by apply Rle_ge, Rle_0_sqr. rewrite Rabs_mult.
      apply Rmult_le_compat; try apply Rabs_pos; exact D.
    + replace (l2 n p * l2 n q * (l2 n p * l2 n q)) with ((l2 n p * l2 n p) * (l2 n q * l2 n q)) by ring.
      rewrite !l2_sqr. apply Rmult_le_compat; try (apply sum_pos; intros; apply Rle_0_sqr).
      * eapply Rle_trans; [|exact (maxf_ge m (fun a => sum n (fun i => Rabs (A i a))) b B)]. apply sum_le. intros.
        rewrite S. lra.
      * apply sum_le. intros a _. right. unfold q.
        replace (p a * Rabs (v a) * (p a * Rabs (v a))) with ((p a * p a) * (Rabs (v a) * Rabs (v a))) by ring.
        rewrite S, <- Rabs_mult, (Rabs_right (v a * v a)) by apply Rle_ge, Rle_0_sqr. ring.
  - rewrite sum_scal, sum_swap, Rmult_assoc. apply Rmult_le_compat_l; [assumption|].
    rewrite <- sum_scal. apply sum_le. intros a Ha. rewrite sum_scal, (Rmult_comm r).
    apply Rmult_le_compat_l; [apply Rle_0_sqr|].
    exact (maxf_ge n (fun i => sum m (fun a => Rabs (A i a))) a Ha).
Qed.
Definition stretches (n m : nat) (A : mat) (t : R) : Prop := 0 <= t /\ forall v, l2 m (image n v A) <= t * l2 n v.
Lemma stretches_some n m A : exists t, stretches n m A t.
Proof. exists (sqrt (norm1 n m A * norminf n m A)). split; [apply sqrt_pos|apply schur]. Qed.
Lemma stretches_pos n m A t : stretches n m A t -> 0 <= t. Proof. intros [H _]; exact H. Qed.
Definition spectral (n m : nat) (A : mat) : R := inf (stretches n m A) (stretches_some n m A) (stretches_pos n m A).
Definition centred_sizes (N : mat -> R) (X : mat) (y : R) : Prop := exists x, y = Rabs (N (centred X x)).
Lemma centred_sizes_some N X : exists y, centred_sizes N X y. Proof. exists (Rabs (N (centred X (fun _ => 0)))), (fun _ => 0).
reflexivity. Qed.
Lemma centred_sizes_pos N X y : centred_sizes N X y -> 0 <= y. Proof. intros [x ->]. apply Rabs_pos. Qed.
Definition residual (N : mat -> R) (X : mat) : R := inf (centred_sizes N X) (centred_sizes_some N X) (centred_sizes_pos N X).
(** About a centre x of the tokens: their tilts (X - 1x^T) M (X - 1x^T)^T/sqrt d_qk, how much each row of them swings,
  and
    the attention of the centre itself. *)
Definition tilts (d : nat) (dqk : R) (M X : mat) (x : vec) : mat := logit d dqk M (fun _ => 0) (centred X x).
Definition swing (n : nat) (T : mat) : vec := fun i => maxf n (fun j => maxf n (fun k => T i j - T i k)).
Definition delta (n : nat) (T : mat) : R := maxf n (swing n T).
Definition shares (n d : nat) (dqk : R) (M : mat) (k : vec) (X : mat) (x : vec) : vec :=
  softmax n (fun _ => 1) (fun j => sum d (fun a => (X j a - x a) * (image d x M a + k a)) / sqrt dqk).
Definition gamma (n : nat) (T : mat) (q : vec) : R := sqrt (sum n (swing n T) * maxf n q / delta n T).
(** The graph of a mask: who sees whom, walks, the least attention along an edge,
  the largest swing of logits along edges. *)
Definition sees (m : list (list Q)) (i j : nat) : bool := negb (Qeq_bool (nth j (nth i m nil) 0%Q) 0%Q).
Definition edges (n : nat) (m : list (list Q)) : list (nat * nat) :=
  filter (fun e => sees m (fst e) (snd e)) (list_prod (seq 0 n) (seq 0 n)).
Definition self_loops (n : nat) (m : list (list Q)) : bool := forallb (fun i => sees m i i) (seq 0 n).
Fixpoint walks (n : nat) (m : list (list Q)) (k i c : nat) : bool := match k with
  | O => Nat.eqb i c | S l => existsb (fun j => if sees m i j then walks n m l j c else false) (seq 0 n) end.
(** every token is reached from one by walks of k edges; from every one *)
Definition centre (n : nat) (m : list (list Q)) (k : nat) : bool :=
  existsb (fun c => forallb (fun i => walks n m k i c) (seq 0 n)) (seq 0 n).
Definition strongly (n : nat) (m : list (list Q)) : bool :=
  forallb (fun c => forallb (fun i => walks n m (n - 1) i c) (seq 0 n)) (seq 0 n).
Fixpoint least (l : list (nat * nat)) (A : mat) : R := match l with
  | nil => 1 | e :: t => Rmin (A (fst e) (snd e)) (least t A) end.
Fixpoint most (l : list (nat * nat)) (A : mat) : R := match l with
  | nil => 0 | e :: t => Rmax (A (fst e) (snd e)) (most t A) end.
(** the largest difference of two logits along edges from one token *)
Definition logit_range (n : nat) (m : list (list Q)) (L : mat) : R :=
  most (list_prod (seq 0 (n * n)) (seq 0 (n * n))) (fun e f =>
    if andb (Nat.eqb (e / n) (f / n)) (andb (sees m (e / n) (e mod n)) (sees m (f / n) (f mod n)))
    then L (e / n)%nat (e mod n)%nat - L (f / n)%nat (f mod n)%nat else 0).
(** 1 - sum_c min_i B_ic *)
Definition contraction (n : nat) (B : mat) : R := 1 - sum n (fun c => minf (n - 1) (fun i => B i c)).
(** tokens with one more *)
Definition appended (n : nat) (X : mat) (v : vec) : mat := fun i => if (i <? n)%nat then X i else v.
Definition expc (x : R) : R := (exp x - 1) / x.
Definition tanhc (x : R) : R := tanh x / x.
Fixpoint qsum (n : nat) (f : nat -> Q) : Q := match n with O => 0%Q | S k => Qred (qsum k f + f k)%Q end.
(** W^T W = I, of rationals; and: a column that is written has rows of zeros, and no token there *)
Definition orthogonal (d : nat) (W : list (list Q)) : bool := forallb (fun i => forallb (fun j =>
  Qeq_bool (qsum d (fun a => nth i (nth a W nil) 0 * nth j (nth a W nil) 0)%Q) (if Nat.eqb i j then 1 else 0)%Q) (seq 0
    d)) (seq 0 d).
Definition disjoint (n d : nat) (Ws : list (list (list Q))) (bs : list (list Q)) (X : list (list Q)) : bool := forallb
  (fun j =>
  implb (orb (existsb (fun W => existsb (fun i => sees W i j) (seq 0 d)) Ws) (existsb (fun b => sees [b] 0 j) bs))
    (andb (forallb (fun W => forallb (fun i => negb (sees W j i)) (seq 0 d)) Ws) (forallb (fun i => negb (sees X i j))
      (seq 0 n)))) (seq 0 d).
(** the vector and the matrix with these entries *)
Definition vector (l : list R) : vec := fun j => nth j l 0.
Definition matrix (l : list (list R)) : mat := fun i j => nth j (nth i l nil) 0.

(* ---------- enclosures ---------- *)
Section Enclosures.
Variable prec : SFZ.precision.
Notation iv := I.type.
Definition enc (i : iv) (x : R) : Prop := contains (I.convert i) (Xreal x).
Lemma enc_any i x : contains (I.convert i) Xnan -> enc i x.
Proof. intro H. apply contains_Xnan in H. unfold enc. rewrite H. exact Logic.I. Qed.
Lemma enc_nai x : enc I.nai x. Proof. unfold enc. rewrite I.nai_correct. exact Logic.I. Qed.
Lemma add_ok a b x y : enc a x -> enc b y -> enc (I.add prec a b) (x + y).
Proof. exact (I.add_correct prec a b (Xreal x) (Xreal y)). Qed.
Lemma sub_ok a b x y : enc a x -> enc b y -> enc (I.sub prec a b) (x - y).
Proof. exact (I.sub_correct prec a b (Xreal x) (Xreal y)). Qed.
Lemma mul_ok a b x y : enc a x -> enc b y -> enc (I.mul prec a b) (x * y).
Proof. exact (I.mul_correct prec a b (Xreal x) (Xreal y)). Qed.
Lemma div_ok a b x y : enc a x -> enc b y -> enc (I.div prec a b) (x / y).
Proof.
  intros A B. pose proof (I.div_correct prec a b (Xreal x) (Xreal y) A B) as H. simpl in H. unfold Xdiv' in H.
  destruct (is_zero y); [apply enc_any|]; exact H.
Qed.
Lemma neg_ok a x : enc a x -> enc (I.neg a) (- x). Proof. exact (I.neg_correct a (Xreal x)). Qed.
Lemma abs_ok a x : enc a x -> enc (I.abs a) (Rabs x). Proof. exact (I.abs_correct a (Xreal x)). Qed.
Lemma sqr_ok a x : enc a x -> enc (I.sqr prec a) (x * x). Proof. exact (I.sqr_correct prec a (Xreal x)). Qed.
Lemma sqrt_ok a x : enc a x -> enc (I.sqrt prec a) (sqrt x). Proof. exact (I.sqrt_correct prec a (Xreal x)). Qed.
Lemma exp_ok a x : enc a x -> enc (I.exp prec a) (exp x). Proof. exact (I.exp_correct prec a (Xreal x)). Qed.
Lemma ln_ok a x : enc a x -> enc (I.ln prec a) (ln x).
Proof.
  intros A. pose proof (I.ln_correct prec a (Xreal x) A) as H. simpl in H. unfold Xln' in H.
  destruct (is_positive x); [|apply enc_any]; exact H.
Qed.
Definition imax (a b : iv) : iv := I.meet (I.join a b) (I.meet (I.upper_extent a) (I.upper_extent b)).
Definition imin (a b : iv) : iv := I.meet (I.join a b) (I.meet (I.lower_extent a) (I.lower_extent b)).
Lemma imax_ok a b x y : enc a x -> enc b y -> enc (imax a b) (Rmax x y).
Proof.
  intros A B. apply I.meet_correct; [|apply I.meet_correct].
  - apply I.join_correct. unfold Rmax. destruct (Rle_dec x y); [right|left]; assumption.
  - apply (I.upper_extent_correct a _ x A), Rmax_l.
  - apply (I.upper_extent_correct b _ y B), Rmax_r.
Qed.
Lemma imin_ok a b x y : enc a x -> enc b y -> enc (imin a b) (Rmin x y).
Proof.
  intros A B. apply I.meet_correct; [|apply I.meet_correct].
  - apply I.join_correct. unfold Rmin. destruct (Rle_dec x y); [left|right]; assumption.
  - apply (I.lower_extent_correct a _ x A), Rmin_l.
  - apply (I.lower_extent_correct b _ y B), Rmin_r.
Qed.
Definition ofZ (z : Z) : iv := I.fromZ prec z.
Lemma ofZ_ok z : enc (ofZ z) (IZR z). Proof. apply I.fromZ_correct. Qed.
Lemma ofN_ok n : enc (ofZ (Z.of_nat n)) (INR n). Proof. rewrite INR_IZR_INZ. apply ofZ_ok. Qed.
Definition ofQ (q : Q) : iv := I.div prec (ofZ (Qnum q)) (ofZ (Zpos (Qden q))).
Lemma ofQ_ok q : enc (ofQ q) (Q2R q). Proof. apply div_ok; apply ofZ_ok. Qed.
Fixpoint ipow (a : iv) (k : nat) : iv := match k with O => ofZ 1 | S m => I.mul prec a (ipow a m) end.
Lemma ipow_ok a x k : enc a x -> enc (ipow a k) (x ^ k).
Proof. intro A. induction k; simpl; [apply ofZ_ok|apply mul_ok; assumption]. Qed.
(** tanh x = 1 - 2/(e^(2x) + 1) *)
Definition itanh (a : iv) : iv := I.sub prec (ofZ 1) (I.div prec (ofZ 2) (I.add prec (I.exp prec (I.mul prec (ofZ 2)
  a)) (ofZ 1))).
Lemma itanh_ok a x : enc a x -> enc (itanh a) (tanh x).
Proof.
  intro A. replace (tanh x) with (1 - 2 / (exp (2 * x) + 1)).
  - apply sub_ok; [apply ofZ_ok|]. apply div_ok; [apply ofZ_ok|]. apply add_ok; [|apply ofZ_ok].
    apply exp_ok, mul_ok; [apply ofZ_ok|exact A].
  - unfold tanh, sinh, cosh. rewrite exp_Ropp. replace (2 * x) with (x + x) by ring. rewrite exp_plus.
    pose proof (exp_pos x). field. split; nra.
Qed.
(** x^y, x > 0 *)
Lemma power_ok a b x y : enc a x -> enc b y -> enc (I.exp prec (I.mul prec b (I.ln prec a))) (Rpower x y).
Proof. intros A B. apply exp_ok, mul_ok; [exact B|apply ln_ok, A]. Qed.

(** Vectors and matrices of intervals; beyond their ends nothing is known. *)
Definition at1 (l : list iv) (k : nat) : iv := nth k l I.nai.
Definition at2 (l : list (list iv)) (i j : nat) : iv := at1 (nth i l nil) j.
Definition encv (l : list iv) (v : vec) : Prop := forall k, enc (at1 l k) (v k).
Definition encm (l : list (list iv)) (A : mat) : Prop := forall i j, enc (at2 l i j) (A i j).
Definition tab (n : nat) (f : nat -> iv) : list iv := map f (seq 0 n).
Definition tab2 (n m : nat) (f : nat -> nat -> iv) : list (list iv) := map (fun i => tab m (f i)) (seq 0 n).
Lemma nth_tab (T : Type) n (f : nat -> T) k z : nth k (map f (seq 0 n)) z = if (k <? n)%nat then f k else z.
Proof.
  destruct (Nat.ltb_spec k n) as [H|H].
  - rewrite (nth_indep _ z (f k)) by (rewrite map_length, seq_length; exact H).
    rewrite (map_nth f), seq_nth by exact H. reflexivity.
  - apply nth_overflow. rewrite map_length, seq_length. exact H.
Qed.
Lemma tab_ok n f v : (forall k, enc (f k) (v k)) -> encv (tab n f) v.
Proof. intros H k. unfold at1, tab. rewrite nth_tab. destruct (k <? n)%nat; [apply H|apply enc_nai]. Qed.
Lemma tab2_ok n m f A : (forall i j, enc (f i j) (A i j)) -> encm (tab2 n m f) A.
Proof.
  intros H i j. unfold at2, tab2. rewrite nth_tab. destruct (i <? n)%nat; [exact (tab_ok m (f i) (A i) (H i) j)|].
  unfold at1. destruct j; apply enc_nai.
Qed.
Lemma row_ok l A i : encm l A -> encv (nth i l nil) (A i). Proof. intros H j. apply H. Qed.
Lemma entries_ok l : encv (map ofQ l) (entries l).
Proof.
  intro k. unfold at1, entries. destruct (Nat.lt_ge_cases k (length l)) as [H|H].
  - rewrite (nth_indep _ I.nai (ofQ 0)) by (rewrite map_length; exact H). rewrite map_nth. apply ofQ_ok.
  - rewrite nth_overflow by (rewrite map_length; exact H). apply enc_nai.
Qed.
Lemma rows_ok l : encm (map (map ofQ) l) (rows l).
Proof.
  intros i j. unfold at2. change (@nil iv) with (map ofQ nil). rewrite map_nth. exact (entries_ok (nth i l nil) j).
Qed.
Lemma vector_ok is l : Forall2 enc is l -> encv is (vector l).
Proof. intros H k. revert k. induction H as [|i x is l A H IH]; intro k; [destruct k; apply enc_nai|].
destruct k; [exact A|apply IH]. Qed.
Lemma matrix_ok is l : Forall2 (Forall2 enc) is l -> encm is (matrix l).
Proof.
  intros H i. revert i. induction H as [|r x is l A H IH]; intro i; [intro j; destruct i, j; apply enc_nai|].
  destruct i; [exact (vector_ok _ _ A)|apply IH].
Qed.
Fixpoint isum (n : nat) (f : nat -> iv) : iv := match n with O => ofZ 0 | S k => I.add prec (isum k f) (f k) end.
Lemma isum_ok n f g : (forall k, enc (f k) (g k)) -> enc (isum n f) (sum n g).
Proof. intro H. induction n; simpl; [apply ofZ_ok|apply add_ok; auto]. Qed.
Fixpoint imaxf (n : nat) (f : nat -> iv) : iv := match n with O => ofZ 0 | S k => imax (imaxf k f) (f k) end.
Lemma imaxf_ok n f g : (forall k, enc (f k) (g k)) -> enc (imaxf n f) (maxf n g).
Proof. intro H. induction n; simpl; [apply ofZ_ok|apply imax_ok; auto]. Qed.
Fixpoint iminf (n : nat) (f : nat -> iv) : iv := match n with O => f O | S k => imin (iminf k f) (f (S k)) end.
Lemma iminf_ok n f g : (forall k, enc (f k) (g k)) -> enc (iminf n f) (minf n g).
Proof. intro H. induction n; simpl; [apply H|apply imin_ok; auto]. Qed.

Definition idot d u v := isum d (fun a => I.mul prec (at1 u a) (at1 v a)).
Lemma idot_ok d u v x y : encv u x -> encv v y -> enc (idot d u v) (dot d x y).
Proof. intros U V. apply isum_ok. intro a. apply mul_ok; auto. Qed.
(** a norm of tokens and its enclosure *)
Definition normI (N : vec -> R) (NI : list iv -> iv) : Prop := forall l v, encv l v -> enc (NI l) (N v).
Definition il1 d l := isum d (fun a => I.abs (at1 l a)).
Lemma il1_ok d : normI (l1 d) (il1 d). Proof. intros l v H. apply isum_ok. intro. apply abs_ok, H. Qed.
Definition il2 d l := I.sqrt prec (isum d (fun a => I.sqr prec (at1 l a))).
Lemma il2_ok d : normI (l2 d) (il2 d). Proof. intros l v H. apply sqrt_ok, isum_ok. intro. apply sqr_ok, H. Qed.
Definition ilinf d l := imaxf d (fun a => I.abs (at1 l a)).
Lemma ilinf_ok d : normI (linf d) (ilinf d). Proof. intros l v H. apply imaxf_ok. intro. apply abs_ok, H. Qed.

Definition iimage n m v A := tab m (fun b => isum n (fun a => I.mul prec (at1 v a) (at2 A a b))).
Lemma iimage_ok n m v A x B : encv v x -> encm A B -> encv (iimage n m v A) (image n x B).
Proof. intros V M. apply tab_ok. intro b. apply isum_ok. intro a. apply mul_ok; auto. Qed.
Definition itranspose n m A := tab2 n m (fun i j => at2 A j i).
Lemma itranspose_ok n m A B : encm A B -> encm (itranspose n m A) (transpose B).
Proof. intro H. apply tab2_ok. intros i j. apply H. Qed.
Definition iproduct n k m A B := tab2 n m (fun i j => isum k (fun a => I.mul prec (at2 A i a) (at2 B a j))).
Lemma iproduct_ok n k m A B M N : encm A M -> encm B N -> encm (iproduct n k m A B) (product k M N).
Proof. intros H K. apply tab2_ok. intros i j. apply isum_ok. intro a. apply mul_ok; auto. Qed.
Definition isoftmax n m l :=
  let e := tab n (fun j => I.mul prec (at1 m j) (I.exp prec (at1 l j))) in
  let s := isum n (at1 e) in tab n (fun j => I.div prec (at1 e j) s).
Lemma isoftmax_ok n m l w x : encv m w -> encv l x -> encv (isoftmax n m l) (softmax n w x).
Proof.
  intros M L. assert (E : encv (tab n (fun j => I.mul prec (at1 m j) (I.exp prec (at1 l j)))) (fun j => w j * exp (x
    j))).
  { apply tab_ok. intro j. apply mul_ok; [apply M|apply exp_ok, L]. }
  apply tab_ok. intro j. apply div_ok; [apply E|]. apply isum_ok, E.
Qed.
Definition ilogit n d dqk M k X :=
  let XM := iproduct n d d X M in
  let b := tab n (fun j => isum d (fun a => I.mul prec (at1 k a) (at2 X j a))) in
  let r := I.sqrt prec dqk in
  tab2 n n (fun i j => I.div prec (I.add prec (isum d (fun b => I.mul prec (at2 XM i b) (at2 X j b))) (at1 b j)) r).
Lemma ilogit_ok n d q dqk M W k b X Y : enc q dqk -> encm M W -> encv k b -> encm X Y ->
  encm (ilogit n d q M k X) (logit d dqk W b Y).
Proof.
  intros Q HM K HX. apply tab2_ok. intros i j. apply div_ok; [|apply sqrt_ok, Q]. apply add_ok.
  - apply isum_ok. intro c. apply mul_ok; [|apply HX]. exact (iproduct_ok n d d X M Y W HX HM i c).
  - refine (tab_ok n _ (fun j => sum d (fun a => b a * Y j a)) _ j). intro l. apply isum_ok. intro a.
    apply mul_ok; auto.
Qed.
Definition iattention n d q M k mask X := let l := ilogit n d q M k X in
  map (fun i => isoftmax n (nth i mask nil) (nth i l nil)) (seq 0 n).
Lemma iattention_ok n d q dqk M W k b m E X Y : enc q dqk -> encm M W -> encv k b -> encm m E -> encm X Y ->
  encm (iattention n d q M k m X) (attention n d dqk W b E Y).
Proof.
  intros Q HM K HE HX i j. unfold iattention, at2. rewrite nth_tab. destruct (i <? n)%nat.
  - apply isoftmax_ok; apply row_ok; [exact HE|]. apply ilogit_ok; assumption.
  - unfold at1. destruct j; apply enc_nai.
Qed.
Definition imixed n d P X W := iproduct n d d (iproduct n n d P X) W.
Lemma imixed_ok n d P X W A Y V : encm P A -> encm X Y -> encm W V -> encm (imixed n d P X W) (mixed n d A Y V).
Proof.
  intros HP HX HW. apply tab2_ok. intros i b. apply isum_ok. intro a. apply mul_ok; [|apply HW].
  exact (iproduct_ok n n d P X A Y HP HX i a).
Qed.
Fixpoint iheads n d (hs : list (list (list iv) * list (list iv))) X : list (list iv) := match hs with
  | nil => tab2 n d (fun _ _ => ofZ 0)
  | h :: t => let m := imixed n d (fst h) X (snd h) in let r := iheads n d t X in
      tab2 n d (fun i b => I.add prec (at2 m i b) (at2 r i b)) end.
Definition ench (h : list (list iv) * list (list iv)) (g : mat * mat) : Prop := encm (fst h) (fst g) /\ encm (snd h)
  (snd g).
Lemma iheads_ok n d hs gs X Y : Forall2 ench hs gs -> encm X Y -> encm (iheads n d hs X) (heads n d gs Y).
Proof.
  intros H HX. induction H as [|h g hs gs [P W] H IH]; simpl; apply tab2_ok; intros i b; [apply ofZ_ok|].
  apply add_ok; [apply imixed_ok; assumption|apply IH].
Qed.
Definition ilayer n d s hs b X := let h := iheads n d hs X in
  tab2 n d (fun i a => I.add prec (I.add prec (I.mul prec s (at2 X i a)) (at2 h i a)) (at1 b a)).
Lemma ilayer_ok n d s t hs gs b c X Y : enc s t -> Forall2 ench hs gs -> encv b c -> encm X Y ->
  encm (ilayer n d s hs b X) (layer n d t gs c Y).
Proof.
  intros S H B HX. apply tab2_ok. intros i a. apply add_ok; [|apply B]. apply add_ok; [apply mul_ok; auto|].
  apply iheads_ok; assumption.
Qed.
Definition isphere n d X := map (fun i => let r := il2 d (nth i X nil) in tab d (fun a => I.div prec (at2 X i a) r))
  (seq 0 n).
Lemma isphere_ok n d X Y : encm X Y -> encm (isphere n d X) (sphere d Y).
Proof.
  intros HX i a. unfold isphere, at2 at 1. rewrite nth_tab. destruct (i <? n)%nat.
  - refine (tab_ok d _ _ _ a). intro b. apply div_ok; [apply HX|]. apply il2_ok, row_ok, HX.
  - unfold at1. destruct a; apply enc_nai.
Qed.
Definition idiam n d (NI : list iv -> iv) X :=
  imaxf n (fun i => imaxf i (fun k => NI (tab d (fun a => I.sub prec (at2 X i a) (at2 X k a))))).
Lemma idiam_ok n d N NI X Y : normI N NI -> encm X Y -> enc (idiam n d NI X) (diam n N Y).
Proof.
  intros HN HX. apply imaxf_ok. intro i. apply imaxf_ok. intro k. apply HN, tab_ok. intro a. apply sub_ok; apply HX.
Qed.
(** a norm of n x d matrices and its enclosure *)
Definition mnormI (N : mat -> R) (NI : list (list iv) -> iv) : Prop := forall l A, encm l A -> enc (NI l) (N A).
Definition inorm1 n d A := imaxf d (fun a => isum n (fun i => I.abs (at2 A i a))).
Lemma inorm1_ok n d : mnormI (norm1 n d) (inorm1 n d).
Proof. intros l A H. apply imaxf_ok. intro a. apply isum_ok. intro i. apply abs_ok, H. Qed.
Definition inorminf n d A := imaxf n (fun i => isum d (fun a => I.abs (at2 A i a))).
Lemma inorminf_ok n d : mnormI (norminf n d) (inorminf n d).
Proof. intros l A H. apply imaxf_ok. intro i. apply isum_ok. intro a. apply abs_ok, H. Qed.
Definition inormmax n d A := imaxf n (fun i => imaxf d (fun a => I.abs (at2 A i a))).
Lemma inormmax_ok n d : mnormI (normmax n d) (inormmax n d).
Proof. intros l A H. apply imaxf_ok. intro i. apply imaxf_ok. intro a. apply abs_ok, H. Qed.
Definition ifrob n d A := I.sqrt prec (isum n (fun i => isum d (fun a => I.sqr prec (at2 A i a)))).
Lemma ifrob_ok n d : mnormI (frob n d) (ifrob n d).
Proof. intros l A H. apply sqrt_ok, isum_ok. intro i. apply isum_ok. intro a. apply sqr_ok, H. Qed.
Definition icomp n d A := I.sqrt prec (I.mul prec (inorm1 n d A) (inorminf n d A)).
Lemma icomp_ok n d : mnormI (comp n d) (icomp n d).
Proof. intros l A H. apply sqrt_ok, mul_ok; [apply inorm1_ok|apply inorminf_ok]; exact H. Qed.
Definition icentred n d X x := tab2 n d (fun i a => I.sub prec (at2 X i a) (at1 x a)).
Lemma icentred_ok n d X Y x y : encm X Y -> encv x y -> encm (icentred n d X x) (centred Y y).
Proof. intros HX V. apply tab2_ok. intros i a. apply sub_ok; auto. Qed.
Definition imean n d X := tab d (fun a => I.div prec (isum n (fun j => at2 X j a)) (ofZ (Z.of_nat n))).
Lemma imean_ok n d X Y : encm X Y -> encv (imean n d X) (mean n Y).
Proof. intro H. apply tab_ok. intro a. apply div_ok; [apply isum_ok; intro; apply H|apply ofN_ok]. Qed.
Definition imu n d X := ifrob n d (icentred n d X (imean n d X)).
Lemma imu_ok n d X Y : encm X Y -> enc (imu n d X) (mu n d Y).
Proof. intro H. apply ifrob_ok, icentred_ok; [exact H|apply imean_ok, H]. Qed.

(** The spectral norm: |A| <= sqrt |A A^T|, as often as wanted, then Schur's test; from below by one vector. *)
Lemma image_adjoint n m A v : dot m (image n v A) (image n v A) = dot n v (image n v (product m A (transpose A))).
Proof.
  unfold dot, image, product, transpose.
  transitivity (sum m (fun b => sum n (fun a => sum n (fun c => v a * (v c * (A c b * A a b)))))).
  - apply sum_ext. intros b _. rewrite <- sum_scal_r. apply sum_ext. intros a _.
    rewrite <- sum_scal. apply sum_ext. intros c _. ring.
  - rewrite sum_swap. apply sum_ext. intros a _. rewrite <- sum_scal. rewrite sum_swap. apply sum_ext. intros c _.
    rewrite <- !sum_scal. apply sum_ext. intros b _. ring.
Qed.
Lemma stretches_root n m A t : stretches n n (product m A (transpose A)) t -> stretches n m A (sqrt t).
Proof.
  intros [P H]. split; [apply sqrt_pos|]. intro v. unfold l2 at 1. fold (dot m (image n v A) (image n v A)).
  rewrite image_adjoint. rewrite <- (sqrt_Rsqr (l2 n v)) by apply l2_pos. rewrite <- sqrt_mult_alt by exact P.
  apply sqrt_le_1_alt. eapply Rle_trans; [apply cauchy|]. unfold Rsqr.
  rewrite <- Rmult_assoc, (Rmult_comm t), Rmult_assoc.
  apply Rmult_le_compat_l; [apply l2_pos|apply H].
Qed.
Fixpoint iabove (k n m : nat) (A : list (list iv)) : iv := match k with
  | O => icomp n m A
  | S j => I.sqrt prec (iabove j n n (iproduct n m n A (itranspose m n A))) end.
Fixpoint rabove (k n m : nat) (A : mat) : R := match k with
  | O => comp n m A | S j => sqrt (rabove j n n (product m A (transpose A))) end.
Lemma rabove_ok k n m A : stretches n m A (rabove k n m A).
Proof.
  revert m A. induction k; intros m A; simpl; [split; [apply sqrt_pos|apply schur]|]. apply stretches_root, IHk.
Qed.
Lemma iabove_ok k n m A B : encm A B -> enc (iabove k n m A) (rabove k n m B).
Proof.
  revert m A B. induction k; intros m A B H; simpl; [apply icomp_ok, H|]. apply sqrt_ok, IHk, iproduct_ok; [exact H|].
  apply itranspose_ok, H.
Qed.
Definition between (a b : iv) : iv := I.meet (I.upper_extent a) (I.lower_extent b).
Lemma between_ok a b x y z : enc a x -> enc b z -> x <= y <= z -> enc (between a b) y.
Proof.
  intros A B [L H]. apply I.meet_correct; [exact (I.upper_extent_correct a y x A L)|exact (I.lower_extent_correct b y z
    B H)].
Qed.
Definition isbelow n m A v := I.div prec (il2 m (iimage n m v A)) (il2 n v).
Definition ispectral k n m A v := between (isbelow n m A v) (iabove k n m A).
Lemma ispectral_ok k n m A B v w : encm A B -> encv v w -> 0 < l2 n w -> enc (ispectral k n m A v) (spectral n m B).
Proof.
  intros HA HV P. apply between_ok with (x := l2 m (image n w B) / l2 n w) (z := rabove k n m B).
  - apply div_ok; [apply il2_ok, iimage_ok; assumption|apply il2_ok, HV].
  - apply iabove_ok, HA.
  - split; [|apply inf_le, rabove_ok]. apply le_inf. intros t [T H]. apply Rmult_le_reg_r with (l2 n w); [exact P|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. rewrite Rmult_1_r. apply H.
Qed.

Fixpoint ileast (l : list (nat * nat)) A : iv := match l with nil => ofZ 1 | e :: t => imin (at2 A (fst e) (snd e))
  (ileast t A) end.
Lemma ileast_ok l A B : encm A B -> enc (ileast l A) (least l B).
Proof. intro H. induction l; simpl; [apply ofZ_ok|apply imin_ok; [apply H|assumption]]. Qed.
Definition ilogit_range (n : nat) (m : list (list Q)) L : iv := fold_right imax (ofZ 0)
  (map (fun e => let e1 := (fst e / n)%nat in let f1 := (snd e / n)%nat in let e2 := (fst e mod n)%nat in let f2 :=
    (snd e mod n)%nat in
    if Nat.eqb e1 f1 then if sees m e1 e2 then if sees m f1 f2 then I.sub prec (at2 L e1 e2) (at2 L f1 f2) else ofZ 0
      else ofZ 0 else ofZ 0)
  (list_prod (seq 0 (n * n)) (seq 0 (n * n)))).
Lemma ilogit_range_ok n m L B : encm L B -> enc (ilogit_range n m L) (logit_range n m B).
Proof.
  intro H. unfold ilogit_range, logit_range. induction (list_prod _ _) as [|e t IH]; [apply ofZ_ok|].
  cbn [map fold_right most]. apply imax_ok; [|exact IH]. cbv zeta.
  destruct (Nat.eqb _ _); [|apply ofZ_ok]. destruct (sees m _ _); [|apply ofZ_ok].
  destruct (sees m _ _); [|apply ofZ_ok].
  apply sub_ok; apply H.
Qed.
Definition iappended n X v : list (list iv) := map (fun i => if (i <? n)%nat then nth i X nil else v) (seq 0 (S n)).
Lemma iappended_ok n X Y v w : encm X Y -> encv v w -> encm (iappended n X v) (appended n Y w).
Proof.
  intros H V i j. unfold iappended, at2, appended. rewrite nth_tab. destruct (i <? S n)%nat.
  - destruct (i <? n)%nat; [apply row_ok, H|apply V].
  - unfold at1. destruct j; apply enc_nai.
Qed.

(* ---------- comparisons ---------- *)
Definition ipos (a : iv) : bool := match I.sign_strict a with Xgt => true | _ => false end.
Definition inonneg (a : iv) : bool := match I.sign_large a with Xgt => true | Xeq => true | _ => false end.
Lemma pos_by a x : enc a x -> ipos a = true -> 0 < x.
Proof.
  unfold ipos. intros A H. pose proof (I.sign_strict_correct a) as S. destruct (I.sign_strict a); try discriminate.
  destruct (S _ A) as [_ P]. exact P.
Qed.
Lemma nonneg_by a x : enc a x -> inonneg a = true -> 0 <= x.
Proof.
  unfold inonneg. intros A H. pose proof (I.sign_large_correct a) as S. destruct (I.sign_large a); try discriminate.
  - specialize (S _ A). injection S as ->. lra.
  - destruct (S _ A) as [_ P]. exact P.
Qed.
Lemma lt_by a b x y : enc a x -> enc b y -> ipos (I.sub prec b a) = true -> x < y.
Proof. intros A B H. apply Rminus_gt_0_lt. exact (pos_by _ _ (sub_ok _ _ _ _ B A) H). Qed.
Lemma le_by a b x y : enc a x -> enc b y -> inonneg (I.sub prec b a) = true -> x <= y.
Proof. intros A B H. apply Rge_le, Rminus_ge, Rle_ge. exact (nonneg_by _ _ (sub_ok _ _ _ _ B A) H). Qed.
Lemma enc_by a b x : enc a x -> a = b -> enc b x. Proof. intros H <-. exact H. Qed.
Lemma encm_by a b x : encm a x -> a = b -> encm b x. Proof. intros H <-. exact H. Qed.
Lemma encv_by a b x : encv a x -> a = b -> encv b x. Proof. intros H <-. exact H. Qed.

(** Residuals: at most the norm about one centre; at least what weights prove. With s of column sums 0 and
    |s_ia| <= p_a + q_i: sum s_ia X_ia <= (sum p) |X - 1x^T|_1 + (sum q) |X - 1x^T|_inf for every x. *)
Lemma residual_ok (N : mat -> R) X x t a b : (forall y, 0 <= N y) -> (forall y, t <= N (centred X y)) -> enc a t ->
  enc b (N (centred X x)) -> enc (between a b) (residual N X).
Proof.
  intros P H A B. apply (between_ok a b t _ _ A B). split.
  - apply le_inf. intros y [z ->]. rewrite Rabs_right by apply Rle_ge, P. apply H.
  - apply inf_le. exists x. rewrite Rabs_right by apply Rle_ge, P. reflexivity.
Qed.
Lemma dual_line n d s p q X x :
  (forall i a, (i < n)%nat -> (a < d)%nat -> Rabs (s i a) <= p a + q i) ->
  (forall a, (a < d)%nat -> 0 <= p a) -> (forall i, (i < n)%nat -> 0 <= q i) ->
  (forall a, (a < d)%nat -> sum n (fun i => s i a) = 0) ->
  sum n (fun i => sum d (fun a => s i a * X i a)) <= sum d p * norm1 n d (centred X x) + sum n q * norminf n d (centred
    X x).
Proof.
  intros H P Q Z. replace (sum n (fun i => sum d (fun a => s i a * X i a))) with
    (sum n (fun i => sum d (fun a => s i a * centred X x i a))).
  - apply Rle_trans with (sum n (fun i => sum d (fun a => p a * Rabs (centred X x i a)))
      + sum n (fun i => sum d (fun a => q i * Rabs (centred X x i a)))).
    + rewrite <- sum_plus. apply sum_le. intros i Hi. rewrite <- sum_plus. apply sum_le. intros a Ha.
      eapply Rle_trans; [apply Rle_abs|]. rewrite Rabs_mult, <- Rmult_plus_distr_r.
      apply Rmult_le_compat_r; [apply Rabs_pos|auto].
    + apply Rplus_le_compat.
      * rewrite sum_swap, <- sum_scal_r. apply sum_le. intros a Ha. rewrite sum_scal. apply Rmult_le_compat_l; [auto|].
        exact (maxf_ge d (fun a => sum n (fun i => Rabs (centred X x i a))) a Ha).
      * rewrite <- sum_scal_r. apply sum_le. intros i Hi. rewrite sum_scal. apply Rmult_le_compat_l; [auto|].
        exact (maxf_ge n (fun i => sum d (fun a => Rabs (centred X x i a))) i Hi).
  - rewrite sum_swap, (sum_swap n d (fun i a => s i a * X i a)). apply sum_ext. intros a Ha. unfold centred.
    rewrite (sum_ext n _ (fun i => s i a * X i a + - x a * s i a)) by (intros; ring).
    rewrite sum_plus, sum_scal, Z by exact Ha. ring.
Qed.
Lemma qsum_ok n f : sum n (fun k => Q2R (f k)) = Q2R (qsum n f).
Proof.
  induction n; [symmetry; apply RMicromega.Q2R_0|]. cbn [sum qsum]. rewrite IHn, <- Q2R_plus. apply Qeq_eqR. symmetry.
  apply Qred_correct.
Qed.
Definition weights (n d : nat) (s : list (list Q)) (p q : list Q) : bool :=
  let S i a := nth a (nth i s nil) 0%Q in
  andb (forallb (fun a => andb (Qle_bool 0 (nth a p 0%Q)) (Qeq_bool (qsum n (fun i => S i a)) 0)) (seq 0 d))
  (forallb (fun i => andb (Qle_bool 0 (nth i q 0%Q)) (forallb (fun a => andb (Qle_bool (S i a) (nth a p 0 + nth i q
    0)%Q)
    (Qle_bool (- S i a) (nth a p 0 + nth i q 0)%Q)) (seq 0 d))) (seq 0 n)).
Lemma Qle_R a b : Qle_bool a b = true -> Q2R a <= Q2R b.
Proof. intro H. apply Qle_Rle, Qle_bool_iff, H. Qed.
Lemma forallb_seq n f k : forallb f (seq 0 n) = true -> (k < n)%nat -> f k = true.
Proof. intros H L. rewrite forallb_forall in H. apply H, in_seq. lia. Qed.
Lemma line_ok n d s p q v X XI x : weights n d s p q = true -> encm XI X ->
  inonneg (I.sub prec (isum n (fun i => isum d (fun a => I.mul prec (at2 (map (map ofQ) s) i a) (at2 XI i a)))) (ofQ
    v)) = true ->
  Q2R v <= Q2R (qsum d (fun a => nth a p 0%Q)) * norm1 n d (centred X x) + Q2R (qsum n (fun i => nth i q 0%Q)) *
    norminf n d (centred X x).
Proof.
  intros W HX C. apply andb_prop in W. destruct W as [W1 W2].
  rewrite <- !qsum_ok. apply Rle_trans with (sum n (fun i => sum d (fun a => rows s i a * X i a))).
  - refine (le_by _ _ _ _ (ofQ_ok v) _ C). apply isum_ok. intro i. apply isum_ok. intro a.
    apply mul_ok; [apply rows_ok|apply HX].
  - apply (dual_line n d (rows s) (fun a => Q2R (nth a p 0%Q)) (fun i => Q2R (nth i q 0%Q))).
    + intros i a Hi Ha. apply (forallb_seq _ _ i) in W2; [|exact Hi]. apply andb_prop in W2. destruct W2 as [_ W2].
      apply (forallb_seq _ _ a) in W2; [|exact Ha]. apply andb_prop in W2. destruct W2 as [A B].
      apply Qle_R in A, B. rewrite Q2R_plus in A, B. rewrite Q2R_opp in B. unfold rows. apply Rabs_le. lra.
    + intros a Ha. apply (forallb_seq _ _ a) in W1; [|exact Ha]. apply andb_prop in W1. destruct W1 as [A _].
      apply Qle_R in A. rewrite RMicromega.Q2R_0 in A. exact A.
    + intros i Hi. apply (forallb_seq _ _ i) in W2; [|exact Hi]. apply andb_prop in W2. destruct W2 as [A _].
      apply Qle_R in A. rewrite RMicromega.Q2R_0 in A. exact A.
    + intros a Ha. apply (forallb_seq _ _ a) in W1; [|exact Ha]. apply andb_prop in W1. destruct W1 as [_ A].
      unfold rows. rewrite qsum_ok. apply Qeq_bool_eq in A. apply Qeq_eqR in A. rewrite A. apply RMicromega.Q2R_0.
Qed.
(** The product ab over a, b >= 0 above some lines alpha a + beta b >= v: between two corners a line is concave in a. *)
Fixpoint corners (G a0 : R) (l : list (R * (R * R * R))) (last : R * R) : Prop := match l with
  | nil => 0 <= a0 /\ 0 < fst last /\ 0 <= snd last /\ G * fst last <= a0 * snd last
  | (a1, (al, be, v)) :: t => 0 <= a0 /\ a0 <= a1 /\ 0 < be /\ 0 <= al /\ G * be <= a0 * (v - al * a0) /\
      G * be <= a1 * (v - al * a1) /\ corners G a1 t last end.
Lemma corners_ok G a0 l last a b : corners G a0 l last -> a0 <= a -> 0 <= b ->
  Forall (fun c => snd (snd c) <= fst (fst (snd c)) * a + snd (fst (snd c)) * b) l -> snd last <= fst last * b ->
    G <= a * b.
Proof.
  revert a0. induction l as [|[a1 [[al be] v]] t IH]; intros a0 C A B F L.
  - destruct last as [be v]. simpl in *. destruct C as [P [Q [V H]]]. apply Rmult_le_reg_r with be; [exact Q|]. nra.
  - simpl in C. destruct C as [P [Q [BE [AL [H1 [H2 C]]]]]]. inversion F as [|? ? F1 F2]; subst. simpl in F1.
    destruct (Rle_lt_dec a1 a) as [K|K]; [exact (IH a1 C K B F2 L)|].
    apply Rmult_le_reg_r with be; [exact BE|]. apply Rle_trans with (a * (v - al * a)); [|nra].
    assert (D : (a * (v - al * a) - G * be) * (a1 - a0) >= 0).
    { replace ((a * (v - al * a) - G * be) * (a1 - a0)) with
        ((a1 - a) * (a0 * (v - al * a0) - G * be) + (a - a0) * (a1 * (v - al * a1) - G * be) + al * ((a - a0) * (a1 -
          a)) * (a1 - a0)) by ring.
      assert (0 <= (a - a0) * (a1 - a)) by (apply Rmult_le_pos; lra).
      apply Rle_ge. repeat apply Rplus_le_le_0_compat; repeat apply Rmult_le_pos; lra. }
    destruct (Rle_lt_dec (G * be) (a * (v - al * a))) as [E|E]; [exact E|exfalso]. nra.
Qed.
Lemma comp_pos n d A : 0 <= comp n d A. Proof. apply sqrt_pos. Qed.
Lemma norminf_pos n d A : 0 <= norminf n d A. Proof. apply maxf_pos. Qed.
Lemma comp_ge n d A G : G <= norm1 n d A * norminf n d A -> sqrt G <= comp n d A. Proof. apply sqrt_le_1_alt. Qed.

(** The same with rationals: a line is its weights s, p, q and its value v. *)
Definition line : Type := list (list Q) * list Q * list Q * Q.
Definition al (d : nat) (L : line) : Q := qsum d (fun a => nth a (snd (fst (fst L))) 0%Q).
Definition be (n : nat) (L : line) : Q := qsum n (fun i => nth i (snd (fst L)) 0%Q).
Definition line_holds (n d : nat) (XI : list (list iv)) (L : line) : bool := let e := map (map ofQ) (fst (fst (fst L)))
  in
  andb (weights n d (fst (fst (fst L))) (snd (fst (fst L))) (snd (fst L)))
    (inonneg (I.sub prec (isum n (fun i => isum d (fun a => I.mul prec (at2 e i a) (at2 XI i a)))) (ofQ (snd L)))).
Lemma line_holds_ok n d XI X L x : encm XI X -> line_holds n d XI L = true ->
  Q2R (snd L) <= Q2R (al d L) * norm1 n d (centred X x) + Q2R (be n L) * norminf n d (centred X x).
Proof. destruct L as [[[s p] q] v]. intros H W. apply andb_prop in W. destruct W as [A B].
exact (line_ok n d s p q v X XI x A H B). Qed.
Fixpoint cornersb (n d : nat) (G a0 : Q) (l : list (Q * line)) (last : line) : bool := match l with
  | nil => Qle_bool 0 a0 && negb (Qle_bool (be n last) 0) && Qle_bool 0 (snd last) && Qeq_bool (al d last) 0
      && Qle_bool (G * be n last) (a0 * snd last)
  | (a1, L) :: t => Qle_bool 0 a0 && Qle_bool a0 a1 && negb (Qle_bool (be n L) 0) && Qle_bool 0 (al d L)
      && Qle_bool (G * be n L) (a0 * (snd L - al d L * a0)) && Qle_bool (G * be n L) (a1 * (snd L - al d L * a1))
      && cornersb n d G a1 t last end.
Lemma Qlt_R a : negb (Qle_bool a 0) = true -> 0 < Q2R a.
Proof.
  intro H. apply negb_true_iff in H. rewrite <- RMicromega.Q2R_0. apply Qlt_Rlt, Qnot_le_lt. intro K.
  apply Qle_bool_iff in K. congruence.
Qed.
Lemma Qpos_R a : Qle_bool 0 a = true -> 0 <= Q2R a. Proof. intro H. apply Qle_R in H. rewrite RMicromega.Q2R_0 in H.
exact H. Qed.
Lemma cornersb_ok n d G a0 l last : cornersb n d G a0 l last = true ->
  corners (Q2R G) (Q2R a0) (map (fun c => (Q2R (fst c), (Q2R (al d (snd c)), Q2R (be n (snd c)), Q2R (snd (snd c))))) l)
    (Q2R (be n last), Q2R (snd last)) /\ Q2R (al d last) = 0.
Proof.
  revert a0. induction l as [|[a1 L] t IH]; intros a0 H; cbn [cornersb] in H; repeat (apply andb_prop in H;
    destruct H as [H ?]).
  - split.
    + cbn. repeat split; try (apply Qpos_R; assumption); try (apply Qlt_R; assumption). rewrite <- !Q2R_mult.
      apply Qle_R. assumption.
    + rewrite <- RMicromega.Q2R_0. apply Qeq_eqR, Qeq_bool_eq. assumption.
  - destruct (IH a1) as [C Z]; [assumption|]. split; [|exact Z]. cbn [map corners fst snd].
    rewrite <- !Q2R_mult, <- !Q2R_minus, <- !Q2R_mult. repeat split; try (apply Qpos_R; assumption); try (apply Qlt_R;
      assumption); try (apply Qle_R; assumption).
    exact C.
Qed.
Lemma comp_residual_ok n d XI X G a0 first l last c : encm XI X ->
  (Qeq_bool (be n first) 0 && negb (Qle_bool (al d first) 0) && Qle_bool (a0 * al d first) (snd first) && cornersb n d
    G a0 l last
   && forallb (line_holds n d XI) (first :: last :: map snd l))%bool = true ->
  enc (between (I.sqrt prec (ofQ G)) (icomp n d (icentred n d XI (map ofQ c)))) (residual (comp n d) X).
Proof.
  intros HX H. repeat (apply andb_prop in H; destruct H as [H ?]).
  assert (V : forall L, In L (first :: last :: map snd l) -> line_holds n d XI L = true) by (apply forallb_forall;
    assumption).
  apply residual_ok with (x := entries c) (t := sqrt (Q2R G)).
  - intro. apply comp_pos.
  - intro y. apply comp_ge. destruct (cornersb_ok n d G a0 l last) as [C Z]; [assumption|].
    apply (corners_ok _ _ _ _ _ _ C).
    + pose proof (line_holds_ok n d XI X first y HX (V _ (or_introl eq_refl))) as F.
      assert (B : Q2R (be n first) = 0) by (rewrite <- RMicromega.Q2R_0; apply Qeq_eqR, Qeq_bool_eq; assumption).
      rewrite B in F. assert (P : 0 < Q2R (al d first)) by (apply Qlt_R; assumption).
      assert (K : Q2R (a0 * al d first) <= Q2R (snd first)) by (apply Qle_R; assumption). rewrite Q2R_mult in K. nra.
    + apply norminf_pos.
    + apply Forall_forall. intros [a1 [[A B] v]] I. apply in_map_iff in I. destruct I as [[a2 L] [E I]].
      cbn [fst snd] in *.
      injection E as <- <- <- <-. apply line_holds_ok with (XI := XI); [exact HX|]. apply V. right. right.
      apply in_map_iff. exists (a2, L). split; [reflexivity|exact I].
    + cbn [fst snd]. pose proof (line_holds_ok n d XI X last y HX (V _ (or_intror (or_introl eq_refl)))) as F.
      rewrite Z in F. lra.
  - apply sqrt_ok, ofQ_ok.
  - apply icomp_ok, icentred_ok; [exact HX|apply entries_ok].
Qed.
Lemma inf_residual_ok n d XI X (L : line) (G : Q) c : encm XI X ->
  (Qeq_bool (al d L) 0 && negb (Qle_bool (be n L) 0) && Qle_bool (G * be n L) (snd L) && line_holds n d XI L)%bool =
    true ->
  enc (between (ofQ G) (inorminf n d (icentred n d XI (map ofQ c)))) (residual (norminf n d) X).
Proof.
  intros HX H. repeat (apply andb_prop in H; destruct H as [H ?]).
  apply residual_ok with (x := entries c) (t := Q2R G).
  - intro. apply norminf_pos.
  - intro y. pose proof (line_holds_ok n d XI X L y HX ltac:(assumption)) as F.
    assert (B : Q2R (al d L) = 0) by (rewrite <- RMicromega.Q2R_0; apply Qeq_eqR, Qeq_bool_eq; assumption).
    rewrite B in F. assert (P : 0 < Q2R (be n L)) by (apply Qlt_R; assumption).
    assert (K : Q2R (G * be n L) <= Q2R (snd L)) by (apply Qle_R; assumption). rewrite Q2R_mult in K. nra.
  - apply ofQ_ok.
  - apply inorminf_ok, icentred_ok; [exact HX|apply entries_ok].
Qed.
End Enclosures.

(** The tactics: [encl] finds an interval for a real number by its form, [computed] computes it, [held] takes both. *)
Lemma entry_ok l A i j : encm l A -> enc (at2 l i j) (A i j). Proof. intro H. apply H. Qed.
Lemma coordinate_ok l v k : encv l v -> enc (at1 l k) (v k). Proof. intro H. apply H. Qed.
Lemma ench_pair a b A B : encm a A -> encm b B -> ench (a, b) (A, B). Proof. split; assumption. Qed.
Create HintDb encl discriminated.
#[export] Hint Constants Opaque : encl.
#[export] Hint Resolve il1_ok il2_ok ilinf_ok inorm1_ok inorminf_ok inormmax_ok ifrob_ok icomp_ok : encl.
Ltac known := solve [eauto 2 with encl nocore].
Ltac encl p n d := lazymatch goal with
  | |- enc _ (?x + ?y) => eapply (add_ok p); encl p n d
  | |- enc _ (?x - ?y) => eapply (sub_ok p); encl p n d
  | |- enc _ (?x * ?y) => eapply (mul_ok p); encl p n d
  | |- enc _ (?x / ?y) => eapply (div_ok p); encl p n d
  | |- enc _ (?x ^ ?k) => eapply (ipow_ok p); encl p n d
  | |- enc _ (- ?x) => eapply neg_ok; encl p n d
  | |- enc _ (Rabs ?x) => eapply abs_ok; encl p n d
  | |- enc _ (sqrt ?x) => eapply (sqrt_ok p); encl p n d
  | |- enc _ (exp ?x) => eapply (exp_ok p); encl p n d
  | |- enc _ (ln ?x) => eapply (ln_ok p); encl p n d
  | |- enc _ (tanh ?x) => eapply (itanh_ok p); encl p n d
  | |- enc _ (Rmax ?x ?y) => eapply imax_ok; encl p n d
  | |- enc _ (Rmin ?x ?y) => eapply imin_ok; encl p n d
  | |- enc _ (Rpower ?x ?y) => eapply (power_ok p); encl p n d
  | |- enc _ (IZR _) => eapply (ofZ_ok p)
  | |- enc _ (INR _) => eapply (ofN_ok p)
  | |- enc _ (Q2R _) => eapply (ofQ_ok p)
  | |- enc _ (sum _ _) => eapply (isum_ok p); intro; cbv beta; encl p n d
  | |- enc _ (maxf _ _) => eapply (imaxf_ok p); intro; cbv beta; encl p n d
  | |- enc _ (minf _ _) => eapply iminf_ok; intro; cbv beta; encl p n d
  | |- enc _ (dot ?d _ _) => eapply (idot_ok p d); encl p n d
  | |- enc _ (l1 ?d _) => eapply (il1_ok p d); encl p n d
  | |- enc _ (l2 ?d _) => eapply (il2_ok p d); encl p n d
  | |- enc _ (linf ?d _) => eapply (ilinf_ok p d); encl p n d
  | |- enc _ (diam ?n (l1 ?d) _) => eapply (idiam_ok p n d _ _ _ _ (il1_ok p d)); encl p n d
  | |- enc _ (diam ?n (l2 ?d) _) => eapply (idiam_ok p n d _ _ _ _ (il2_ok p d)); encl p n d
  | |- enc _ (diam ?n (linf ?d) _) => eapply (idiam_ok p n d _ _ _ _ (ilinf_ok p d)); encl p n d
  | |- enc _ (norm1 _ _ _) => eapply (inorm1_ok p); encl p n d
  | |- enc _ (norminf _ _ _) => eapply (inorminf_ok p); encl p n d
  | |- enc _ (normmax _ _ _) => eapply (inormmax_ok p); encl p n d
  | |- enc _ (frob _ _ _) => eapply (ifrob_ok p); encl p n d
  | |- enc _ (comp _ _ _) => eapply (icomp_ok p); encl p n d
  | |- enc _ (mu _ _ _) => eapply (imu_ok p); encl p n d
  | |- enc _ (delta _ _) => unfold delta, swing; encl p n d
  | |- enc _ (gamma _ _ _) => unfold gamma, swing; encl p n d
  | |- enc _ (least _ _) => eapply (ileast_ok p); encl p n d
  | |- enc _ (logit_range _ _ _) => eapply (ilogit_range_ok p); encl p n d
  | |- enc _ (contraction _ _) => unfold contraction; encl p n d
  | |- enc _ (expc _) => unfold expc; encl p n d
  | |- enc _ (tanhc _) => unfold tanhc; encl p n d
  | |- enc _ (spectral _ _ _) => known
  | |- enc _ (residual _ _) => known
  | |- enc _ (swing _ _ _) => unfold swing; encl p n d
  | |- enc _ (image _ _ _ _) => eapply coordinate_ok; encl p n d
  | |- enc _ (mean _ _ _) => eapply coordinate_ok; encl p n d
  | |- enc _ (entries _ _) => eapply coordinate_ok; encl p n d
  | |- enc _ (vector _ _) => eapply coordinate_ok; encl p n d
  | |- enc _ (softmax _ _ _ _) => eapply coordinate_ok; encl p n d
  | |- enc _ (?A ?i ?j) => eapply entry_ok; encl p n d
  | |- enc _ (?v ?k) => eapply coordinate_ok; encl p n d
  | |- encm _ (rows _) => eapply (rows_ok p)
  | |- encm _ (layer _ _ _ _ _ _) => eapply (ilayer_ok p); encl p n d
  | |- encm _ (sphere _ _) => eapply (isphere_ok p n d); encl p n d
  | |- encm _ (attention _ _ _ _ _ _ _) => eapply (iattention_ok p); encl p n d
  | |- encm _ (centred _ _) => eapply (icentred_ok p n d); encl p n d
  | |- encm _ (tilts _ _ _ _ _) => unfold tilts; encl p n d
  | |- encm _ (logit _ _ _ _ _) => eapply (ilogit_ok p n d); encl p n d
  | |- encm _ (appended _ _ _) => eapply iappended_ok; encl p n d
  | |- encv _ (shares _ _ _ _ _ _ _) => unfold shares; encl p n d
  | |- encm _ (product ?k _ _) => eapply (iproduct_ok p k k k); encl p n d
  | |- encv _ (mean _ _) => eapply (imean_ok p n d); encl p n d
  | |- encv _ (image ?k _ _) => eapply (iimage_ok p k (n + d)); encl p n d
  | |- encv _ (softmax _ _ _) => eapply (isoftmax_ok p); encl p n d
  | |- encv _ (entries _) => eapply (entries_ok p)
  | |- encv _ (fun _ => _) => eapply (tab_ok (n + d)); intro; cbv beta; encl p n d
  | |- encm _ (fun _ _ => _) => eapply (tab2_ok n d); intros ? ?; cbv beta; encl p n d
  | |- encv _ (vector _) => eapply vector_ok; encl p n d
  | |- encm _ (matrix _) => eapply matrix_ok; encl p n d
  | |- encv _ (?A ?i) => eapply row_ok; encl p n d
  | |- Forall2 _ _ nil => eapply Forall2_nil
  | |- Forall2 ench _ (_ :: _) => eapply Forall2_cons; [apply ench_pair; encl p n d|encl p n d]
  | |- Forall2 _ _ (_ :: _) => eapply Forall2_cons; encl p n d
  | |- _ => known end.
Ltac computed := lazymatch goal with |- ?a = _ => let b := eval vm_compute in a in exact (eq_refl b <: a = b) end.
Ltac held p n d x := eexists; unfold x;
  lazymatch goal with |- encm _ _ => eapply encm_by | |- encv _ _ => eapply encv_by | |- enc _ _ => eapply enc_by end;
  [encl p n d | computed].
Ltac less p n d := first [eapply (le_by p) | eapply (lt_by p)]; [encl p n d | encl p n d | vm_compute; reflexivity].

(** Exact numbers: [ex q x] says x = q; [ratio] finds q by the form of x and compares. *)
Definition ex (q : Q) (x : R) : Prop := x = Q2R q.
Lemma ex_red q x : ex q x -> ex (Qred q) x. Proof. intros ->. apply Qeq_eqR. symmetry. apply Qred_correct. Qed.
Lemma ex_Z z : ex (inject_Z z) (IZR z). Proof. unfold ex, Q2R, inject_Z. simpl. lra. Qed.
Lemma ex_Q q : ex q (Q2R q). Proof. reflexivity. Qed.
Lemma ex_add a b x y : ex a x -> ex b y -> ex (Qred (a + b)) (x + y).
Proof. intros -> ->. apply ex_red. symmetry. apply Q2R_plus. Qed.
Lemma ex_sub a b x y : ex a x -> ex b y -> ex (Qred (a - b)) (x - y).
Proof. intros -> ->. apply ex_red. symmetry. apply Q2R_minus. Qed.
Lemma ex_mul a b x y : ex a x -> ex b y -> ex (Qred (a * b)) (x * y).
Proof. intros -> ->. apply ex_red. symmetry. apply Q2R_mult. Qed.
Lemma ex_div a b x y : ex a x -> ex b y -> Qeq_bool b 0 = false -> ex (Qred (a / b)) (x / y).
Proof. intros -> -> H. apply ex_red. symmetry. apply Q2R_div. apply Qeq_bool_neq, H. Qed.
Lemma ex_opp a x : ex a x -> ex (- a) (- x). Proof. intros ->. symmetry. apply Q2R_opp. Qed.
Fixpoint qpow (a : Q) (k : nat) : Q := match k with O => 1%Q | S m => Qred (a * qpow a m)%Q end.
Lemma ex_pow a x k : ex a x -> ex (qpow a k) (x ^ k).
Proof. intro H. induction k; [exact (ex_Z 1)|]. exact (ex_mul _ _ _ _ H IHk). Qed.
(** Functions, so that a value is not written twice: maxima of many numbers nest. *)
Definition qmax (a b : Q) : Q := if Qle_bool a b then b else a.
Definition qmin (a b : Q) : Q := if Qle_bool a b then a else b.
Definition qabs (a : Q) : Q := if Qle_bool 0 a then a else (- a)%Q.
Lemma ex_max a b x y : ex a x -> ex b y -> ex (qmax a b) (Rmax x y).
Proof.
  intros -> ->. unfold qmax. destruct (Qle_bool a b) eqn:E.
  - apply Rmax_right, Qle_R, E.
  - apply Rmax_left, Qle_Rle, Qlt_le_weak, Qnot_le_lt. intro H. apply Qle_bool_iff in H. congruence.
Qed.
Lemma ex_min a b x y : ex a x -> ex b y -> ex (qmin a b) (Rmin x y).
Proof.
  intros -> ->. unfold qmin. destruct (Qle_bool a b) eqn:E.
  - apply Rmin_left, Qle_R, E.
  - apply Rmin_right, Qle_Rle, Qlt_le_weak, Qnot_le_lt. intro H. apply Qle_bool_iff in H. congruence.
Qed.
Lemma ex_abs a x : ex a x -> ex (qabs a) (Rabs x).
Proof.
  intros ->. unfold qabs. destruct (Qle_bool 0 a) eqn:E.
  - apply Rabs_right, Rle_ge, Qpos_R, E.
  - unfold ex. rewrite Q2R_opp. apply Rabs_left1. rewrite <- RMicromega.Q2R_0. apply Qle_Rle, Qlt_le_weak, Qnot_le_lt.
    intro H. apply Qle_bool_iff in H. congruence.
Qed.
Lemma ex_entries l k : ex (nth k l 0%Q) (entries l k). Proof. reflexivity. Qed.
Lemma ex_rows l i j : ex (nth j (nth i l nil) 0%Q) (rows l i j). Proof. reflexivity. Qed.
Lemma ex_enc p q x : ex q x -> enc (ofQ p q) x. Proof. intros ->. apply ofQ_ok. Qed.
Lemma ex_by q r x : ex q x -> Qeq_bool q r = true -> ex r x. Proof. intros -> H. apply Qeq_eqR, Qeq_bool_eq, H. Qed.
Lemma eq_ex a b x y : ex a x -> ex b y -> Qeq_bool a b = true -> x = y. Proof. intros -> -> H.
apply Qeq_eqR, Qeq_bool_eq, H. Qed.
Lemma le_ex a b x y : ex a x -> ex b y -> Qle_bool a b = true -> x <= y. Proof. intros -> ->. apply Qle_R. Qed.
Lemma lt_ex a b x y : ex a x -> ex b y -> negb (Qle_bool b a) = true -> x < y.
Proof.
  intros -> -> H. apply negb_true_iff in H. apply Qlt_Rlt, Qnot_le_lt. intro K. apply Qle_bool_iff in K. congruence.
Qed.
Create HintDb rat discriminated.
#[export] Hint Constants Opaque : rat.
Ltac rat := lazymatch goal with
  | |- ex _ (_ + _) => eapply ex_add; rat
  | |- ex _ (_ - _) => eapply ex_sub; rat
  | |- ex _ (_ * _) => eapply ex_mul; rat
  | |- ex _ (_ / _) => eapply ex_div; [rat | rat | vm_compute; reflexivity]
  | |- ex _ (_ ^ _) => eapply ex_pow; rat
  | |- ex _ (- _) => eapply ex_opp; rat
  | |- ex _ (Rmax _ _) => eapply ex_max; rat
  | |- ex _ (Rmin _ _) => eapply ex_min; rat
  | |- ex _ (Rabs _) => eapply ex_abs; rat
  | |- ex _ (IZR _) => apply ex_Z
  | |- ex _ (Q2R _) => apply ex_Q
  | |- _ => solve [eauto 2 with rat nocore] end.
Ltac ratio := first [eapply le_ex | eapply lt_ex | eapply eq_ex]; [rat | rat | vm_compute; reflexivity].
