(** Finite sums and maxima of reals over [0 <= j < n], by plain recursion on [n].
    [sum_reals] ties them to the standard library's [sum_f_R0]. *)
Require Import Reals Lra Lia.
Local Open Scope R_scope.

Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => sum m f + f m end.

(** The largest of 0 and f 0, ..., f (n-1); used for non-negative f only. *)
Fixpoint maxf (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => Rmax (maxf m f) (f m) end.

Lemma sum_reals n f : sum (S n) f = sum_f_R0 f n.
Proof. induction n; simpl in *; [lra|]. rewrite <- IHn. reflexivity. Qed.

Lemma sum_ext n f g : (forall j, (j < n)%nat -> f j = g j) -> sum n f = sum n g.
Proof. induction n; intros H; simpl; [reflexivity|]. rewrite IHn, H; auto; lia. Qed.

Lemma sum_le n f g : (forall j, (j < n)%nat -> f j <= g j) -> sum n f <= sum n g.
Proof. induction n; intros H; simpl; [lra|]. apply Rplus_le_compat; auto. Qed.

Lemma sum_plus n f g : sum n (fun j => f j + g j) = sum n f + sum n g.
Proof. induction n; simpl; [lra|]. rewrite IHn; lra. Qed.

Lemma sum_minus n f g : sum n (fun j => f j - g j) = sum n f - sum n g.
Proof. induction n; simpl; [lra|]. rewrite IHn; lra. Qed.

Lemma sum_scal n c f : sum n (fun j => c * f j) = c * sum n f.
Proof. induction n; simpl; [lra|]. rewrite IHn; lra. Qed.

Lemma sum_scal_r n c f : sum n (fun j => f j * c) = sum n f * c.
Proof. induction n; simpl; [lra|]. rewrite IHn; lra. Qed.

Lemma sum_zero n : sum n (fun _ => 0) = 0.
Proof. induction n; simpl; lra. Qed.

Lemma sum_const n c : sum n (fun _ => c) = INR n * c.
Proof. induction n; [simpl; lra|]. change (sum (S n) (fun _ => c)) with (sum n (fun _ => c) + c).
  rewrite IHn, S_INR; lra. Qed.

Lemma sum_nonneg n f : (forall j, (j < n)%nat -> 0 <= f j) -> 0 <= sum n f.
Proof. intros H. rewrite <- (sum_zero n). apply sum_le; auto. Qed.

Lemma sum_term_le n f i : (forall j, (j < n)%nat -> 0 <= f j) -> (i < n)%nat -> f i <= sum n f.
Proof.
  induction n; intros H Hi; [lia|]. simpl.
  assert (0 <= sum n f) by (apply sum_nonneg; auto).
  destruct (Nat.eq_dec i n) as [->|Hne].
  - lra.
  - assert (f i <= sum n f) by (apply IHn; [auto|lia]).
    assert (0 <= f n) by auto. lra.
Qed.

Lemma sum_abs n f : Rabs (sum n f) <= sum n (fun j => Rabs (f j)).
Proof.
  induction n; simpl; [rewrite Rabs_R0; lra|].
  eapply Rle_trans; [apply Rabs_triang|lra].
Qed.

Lemma sum_swap n m (f : nat -> nat -> R) :
  sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n; simpl; [now rewrite sum_zero|].
  rewrite IHn, <- sum_plus. reflexivity.
Qed.

Lemma sum_mult n m f g : sum n f * sum m g = sum n (fun i => sum m (fun j => f i * g j)).
Proof. rewrite <- sum_scal_r. apply sum_ext; intros. now rewrite sum_scal. Qed.

Lemma sum_first n f :
  (0 < n)%nat -> (forall a, (a < n)%nat -> a <> 0%nat -> f a = 0) -> sum n f = f 0%nat.
Proof.
  induction n; intros Hn H; [lia|]. simpl. destruct n; [simpl; lra|].
  rewrite IHn; [|lia|intros; apply H; lia]. rewrite (H (S n)) by lia. lra.
Qed.

(** Only term [i] is not zero. *)
Lemma sum_single n f i :
  (i < n)%nat -> (forall j, (j < n)%nat -> j <> i -> f j = 0) -> sum n f = f i.
Proof.
  induction n; intros Hi H; [lia|]. simpl. destruct (Nat.eq_dec i n) as [->|Hne].
  - rewrite (sum_ext n f (fun _ => 0)) by (intros; apply H; lia). rewrite sum_zero. lra.
  - rewrite IHn; [|lia|intros; apply H; lia]. rewrite (H n) by lia. lra.
Qed.

(** The first m terms, and the rest. *)
Lemma sum_split m k f : sum (m + k) f = sum m f + sum k (fun j => f (m + j)%nat).
Proof.
  induction k; simpl; [rewrite Nat.add_0_r; lra|].
  rewrite Nat.add_succ_r. simpl. rewrite IHk. lra.
Qed.

(** A sum of n+1 terms, the first taken apart. *)
Lemma sum_head n f : sum (S n) f = f 0%nat + sum n (fun j => f (S j)).
Proof.
  induction n; [simpl; lra|].
  change (sum (S (S n)) f) with (sum (S n) f + f (S n)). rewrite IHn. simpl. lra.
Qed.

Lemma maxf_ub k g j : (j < k)%nat -> g j <= maxf k g.
Proof.
  induction k; intros H; [lia|]. simpl. destruct (Nat.eq_dec j k) as [->|]; [apply Rmax_r|].
  eapply Rle_trans; [apply IHk; lia|apply Rmax_l].
Qed.

Lemma maxf_lub k g b : 0 <= b -> (forall j, (j < k)%nat -> g j <= b) -> maxf k g <= b.
Proof. induction k; intros H0 H; simpl; [lra|]. apply Rmax_lub; auto. Qed.

Lemma maxf_pos k g : 0 <= maxf k g.
Proof. induction k; simpl; [lra|]. eapply Rle_trans; [exact IHk|apply Rmax_l]. Qed.

Lemma maxf_scal k c g : 0 <= c -> maxf k (fun j => c * g j) = c * maxf k g.
Proof. intros Hc. induction k; simpl; [lra|]. rewrite IHk, RmaxRmult by exact Hc. reflexivity. Qed.

Lemma maxf_ext k f g : (forall j, (j < k)%nat -> f j = g j) -> maxf k f = maxf k g.
Proof. induction k; intros H; simpl; [reflexivity|]. rewrite IHk, H; auto. Qed.

(** The maximum is 0 or attained. *)
Lemma maxf_attained k g : maxf k g = 0 \/ exists j, (j < k)%nat /\ maxf k g = g j.
Proof.
  induction k as [|k IH]; simpl; [now left|].
  unfold Rmax. destruct Rle_dec as [L|L].
  - right. exists k. split; [lia|reflexivity].
  - destruct IH as [IH|[j [Hj IH]]]; [now left|]. right. exists j. split; [lia|exact IH].
Qed.
