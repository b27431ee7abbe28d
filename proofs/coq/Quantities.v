(** Quantities of the language of claims that Definitions.v does not name: numbers that are least bounds or infima
    (spectral norm, residuals, the norm of a bilinear form, the least singular value), and those of attention
    (Dobrushin's coefficient, least attention, entropy, range of logits, in-degree).  Each comes with the facts that
    characterise it; nothing else about it is used elsewhere. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Lub Rbar.
From Rankmath Require Import Definitions Norms Softmax centred_form.
Local Open Scope R_scope.

(* ---------- the greatest lower bound ---------- *)
(** Of a non-empty set of numbers >= 0 ([inf_le], [le_inf]); no meaning is given to it elsewhere. *)
Definition inf (E : R -> Prop) : R := real (Glb_Rbar E).

Lemma inf_finite (E : R -> Prop) : (exists y, E y) -> (forall y, E y -> 0 <= y) -> is_glb_Rbar E (Finite (inf E)).
Proof.
  intros [y Ey] P. unfold inf. assert (G := Glb_Rbar_correct E).
  destruct (Glb_Rbar E) as [g| |]; [exact G| |]; destruct G as [L U].
  - exfalso. apply (L y Ey).
  - exfalso. apply (U (Finite 0)). intros z Ez. apply (P z Ez).
Qed.
Lemma inf_le (E : R -> Prop) y : (forall z, E z -> 0 <= z) -> E y -> inf E <= y.
Proof. intros P Ey. destruct (inf_finite E (ex_intro _ y Ey) P) as [L _]. apply (L y Ey). Qed.
Lemma le_inf (E : R -> Prop) t : (exists y, E y) -> (forall y, E y -> 0 <= y) -> (forall y, E y -> t <= y) ->
  t <= inf E.
Proof. intros X P H. destruct (inf_finite E X P) as [_ U]. apply (U (Finite t)). intros y Ey. apply (H y Ey). Qed.
Lemma inf_nonneg (E : R -> Prop) : (exists y, E y) -> (forall y, E y -> 0 <= y) -> 0 <= inf E.
Proof. intros X P. now apply le_inf. Qed.
(** a <= c inf E follows from a <= c y for every y in E. *)
Lemma le_scaled_inf (E : R -> Prop) a c : (exists y, E y) -> (forall y, E y -> 0 <= y) -> 0 <= c ->
  (forall y, E y -> a <= c * y) -> a <= c * inf E.
Proof.
  intros X P [C|<-] H.
  - apply Rmult_le_reg_l with (/ c); [now apply Rinv_0_lt_compat|]. rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra.
    apply le_inf; [exact X|exact P|]. intros y Ey. apply Rmult_le_reg_l with c; [exact C|].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. now apply H.
  - destruct X as [y Ey]. specialize (H y Ey). lra.
Qed.

(* ---------- powers and extremes of the language ---------- *)
(** x^e for real e > 0, with 0^e = 0 (the standard library's [Rpower] takes 0^e = 1). *)
Definition rpow (x e : R) : R := if Rle_dec x 0 then 0 else Rpower x e.
Lemma rpow_nonneg x e : 0 <= rpow x e.
Proof. unfold rpow. destruct Rle_dec; [lra|]. left. apply exp_pos. Qed.
Lemma rpow_root x k : 0 <= x -> (0 < k)%nat -> rpow x (1 / INR k) ^ k = x.
Proof.
  intros X K. unfold rpow. destruct Rle_dec as [L|L]; [replace x with 0 by lra; destruct k; [lia|simpl; ring]|].
  assert (P : 0 < INR k) by now apply lt_0_INR. rewrite <- Rpower_pow, Rpower_mult by apply exp_pos.
  replace (1 / INR k * INR k) with 1 by (field; lra). apply Rpower_1. lra.
Qed.
(** The largest of f 0, ..., f n (negative ones too); the least is [minf]. *)
Fixpoint maxi (n : nat) (f : nat -> R) : R := match n with O => f 0%nat | S m => Rmax (maxi m f) (f (S m)) end.
Lemma maxi_ub n f i : (i <= n)%nat -> f i <= maxi n f.
Proof.
  induction n; intros H; simpl; [replace i with 0%nat by lia; lra|].
  destruct (Nat.eq_dec i (S n)) as [->|]; [apply Rmax_r|].
  eapply Rle_trans; [apply IHn; lia|apply Rmax_l].
Qed.
Lemma maxi_lub n f c : (forall i, (i <= n)%nat -> f i <= c) -> maxi n f <= c.
Proof. induction n; intros H; simpl; [apply H; lia|]. apply Rmax_lub; auto. Qed.

(* ---------- residuals: inf_x N(X - 1 x^T) ---------- *)
(** [resid (norm1 n d) X] is residual(X, one), with norminf, comp, frob: inf, composite, frobenius.
    Where the infimum is attained it is the r of [residual N X r]  [resid_is]. *)
Definition resid (N : mat -> R) (X : mat) : R := inf (fun y => exists x, y = N (centred X x)).
Lemma resid_le (N : mat -> R) X x : (forall A, 0 <= N A) -> resid N X <= N (centred X x).
Proof. intros P. apply inf_le; [intros z [y ->]; apply P|now exists x]. Qed.
Lemma le_resid (N : mat -> R) X c t : (forall A, 0 <= N A) -> 0 <= c -> (forall x, t <= c * N (centred X x)) ->
  t <= c * resid N X.
Proof.
  intros P C H. apply le_scaled_inf; [now exists (N (centred X (fun _ => 0))), (fun _ => 0)|intros y [x ->];
    apply P|exact C|].
  intros y [x ->]. apply H.
Qed.
Lemma le_resid1 (N : mat -> R) X t : (forall A, 0 <= N A) -> (forall x, t <= N (centred X x)) -> t <= resid N X.
Proof. intros P H. rewrite <- (Rmult_1_l (resid N X)). apply le_resid; [exact P|lra|]. intro x. rewrite Rmult_1_l.
apply H. Qed.
Lemma resid_nonneg (N : mat -> R) X : (forall A, 0 <= N A) -> 0 <= resid N X.
Proof. intros P. apply le_resid1; auto. Qed.
Lemma resid_is (N : mat -> R) X r : (forall A, 0 <= N A) -> residual N X r -> resid N X = r.
Proof.
  intros P [x [Hx <-]]. apply Rle_antisym; [now apply resid_le|]. apply le_resid1; [exact P|]. intro y. apply Hx.
Qed.

(* ---------- the spectral norm ---------- *)
(** The least t >= 0 with |v A|_2 <= t |v|_2 for all v; A has n rows and m columns. *)
Definition stretches (n m : nat) (A : mat) (t : R) : Prop := 0 <= t /\ forall v, l2 m (vmat n v A) <= t * l2 n v.
Definition spectral (n m : nat) (A : mat) : R := inf (stretches n m A).

Lemma frob_stretches n m A : stretches n m A (frob n m A).
Proof.
  split; [apply sqrt_pos|]. intro v. rewrite frob_cols. unfold l2.
  rewrite <- sqrt_mult_alt by (apply sum_nonneg; intros; apply dot_pos).
  apply sqrt_le_1_alt. unfold dot at 1. rewrite <- sum_scal_r. apply sum_le; intros b _.
  rewrite (Rmult_comm (dot n (fun a => A a b) (fun a => A a b))).
  apply (cauchy_schwarz n v (fun a => A a b)).
Qed.
Lemma spectral_le n m A t : stretches n m A t -> spectral n m A <= t.
Proof. intros H. apply inf_le; [intros z [P _]; exact P|exact H]. Qed.
Lemma le_spectral n m A t : (forall s, stretches n m A s -> t <= s) -> t <= spectral n m A.
Proof. intros H. apply le_inf; [exists (frob n m A); apply frob_stretches|intros z [P _]; exact P|exact H]. Qed.
Lemma spectral_nonneg n m A : 0 <= spectral n m A.
Proof. apply le_spectral. intros s [P _]. exact P. Qed.
(** |v A| <= |A|_2 |v|: the infimum is attained. *)
Lemma spectral_vmat n m A v : l2 m (vmat n v A) <= spectral n m A * l2 n v.
Proof.
  rewrite Rmult_comm. apply le_scaled_inf; [exists (frob n m A); apply frob_stretches|intros z [P _];
    exact P|apply sqrt_pos|].
  intros t [_ H]. rewrite Rmult_comm. apply H.
Qed.
Lemma spectral_stretches n m A : stretches n m A (spectral n m A).
Proof. split; [apply spectral_nonneg|apply spectral_vmat]. Qed.

(* ---------- bilinear forms and the least singular value ---------- *)
(** sup |u M v^T| over N(u), N(v) <= 1: the least m >= 0 with |u M v^T| <= m N(u) N(v). *)
Definition form_bound (d : nat) (N : vec -> R) (M : mat) (m : R) : Prop :=
  0 <= m /\ forall u v, Rabs (bil d u M v) <= m * N u * N v.
Definition form_norm (d : nat) (N : vec -> R) (M : mat) : R := inf (form_bound d N M).
(** In the language of claims form_norm(M, inf) is the sum of |M_ij| from d = 13 on. *)
Definition form_inf (d : nat) (M : mat) : R := if Nat.leb d 12 then form_norm d (linf d) M else sumentries d d M.

Lemma form_le d N M m : form_bound d N M m -> form_norm d N M <= m.
Proof. intros H. apply inf_le; [intros z [P _]; exact P|exact H]. Qed.
Lemma le_form d N M t : (exists m, form_bound d N M m) -> (forall m, form_bound d N M m -> t <= m) ->
  t <= form_norm d N M.
Proof. intros X H. apply le_inf; [exact X|intros z [P _]; exact P|exact H]. Qed.
Lemma form_l1 d M : form_bound d (l1 d) M (maxentry d d M).
Proof. split; [apply maxf_pos|intros; apply l1_m]. Qed.
Lemma form_l2 d M : form_bound d (l2 d) M (frob d d M).
Proof. split; [apply sqrt_pos|intros; apply l2_m]. Qed.
Lemma form_linf d M : form_bound d (linf d) M (sumentries d d M).
Proof. split; [apply sum_nonneg; intros; apply sum_nonneg; intros; apply Rabs_pos|intros; apply linf_m]. Qed.
Lemma form_attained d (N : seminorm) M : (exists m, form_bound d N M m) -> form_bound d N M (form_norm d N M).
Proof.
  intros X. split; [apply le_form; [exact X|intros m [P _]; exact P]|]. intros u v.
  assert (A : Rabs (bil d u M v) <= (N u * N v) * form_norm d N M); [|lra].
  apply le_scaled_inf; [exact X|intros z [P _]; exact P|apply Rmult_le_pos; apply sn_pos|]. intros m [_ H].
  specialize (H u v). lra.
Qed.

(** min |v W|_2 over |v|_2 = 1 *)
Definition least_singular (d : nat) (W : mat) : R := inf (fun y => exists v, l2 d v = 1 /\ y = l2 d (vmat d v W)).
Lemma least_singular_le d W v : l2 d v = 1 -> least_singular d W <= l2 d (vmat d v W).
Proof. intros H. apply inf_le; [intros z [u [_ ->]]; apply sqrt_pos|now exists v]. Qed.

(** |X|_F^2/|X|_2^2; 0 for X = 0 here, where the language has no value. *)
Definition stable_rank (n d : nat) (X : mat) : R := (frob n d X / spectral n d X) ^ 2.
(** largest length of a token *)
Definition longest (n d : nat) (X : mat) : R := rowmax n (l2 d) X.
(** Least cosine of two tokens, as 1 minus the largest 1 - cos: 1 for one token, which has none in the language. *)
Definition cosine (n d : nat) (X : mat) : R := 1 - maxf n (fun i => maxf i (fun j => 1 - dot d (X i) (X j) / (l2 d (X
  i) * l2 d (X j)))).

(* ---------- attention ---------- *)
(** Largest total variation of two rows. *)
Definition dobrushin (n : nat) (P : mat) : R := maxf n (fun i => maxf n (fun k => tv n (P i) (P k))).
(** Least attention on an edge of the mask G. *)
Definition epsilon (n : nat) (G P : mat) : R := inf (fun y => exists i j,
  (i < n)%nat /\ (j < n)%nat /\ 0 < G i j /\ y = P i j).
(** Largest number of keys that a query sees. *)
Definition in_degree (n : nat) (G : mat) : R := maxf n (fun i => sum n (fun j => if Rlt_dec 0 (G i j) then 1 else 0)).
(** Largest oscillation of a row of logits E over the edges of the mask G. *)
Definition logit_range (n : nat) (G E : mat) : R := maxf n (fun i => osc n (G i) (E i)).
(** Entropy of a probability vector (0 log 0 = 0), and the least entropy of a row. *)
Definition entropy (n : nat) (p : vec) : R := - sum n (fun j => p j * ln (p j)).
Definition least_entropy (n : nat) (P : mat) : R := minf (n - 1) (fun i => entropy n (P i)).
(** Entries 0 or 1: what a mask is in the language of claims. *)
Definition zero_one (n : nat) (G : mat) : Prop := forall i j, (i < n)%nat -> (j < n)%nat -> G i j = 0 \/ G i j = 1.
(** About a centre x, over all keys whatever the mask: the shares q = softmax(c), the largest and the least;
  how far each
    row of E = R W_QK R^T/sqrt d_qk swings, the largest swing (delta), and gamma (0 where nothing swings,
      as 1/0 = 0 here).
    With no mask these are [q_of], [qmax_of], [D_of], [delta_of], [gamma_of] of centred_form.v. *)
Definition shares (n d dq : nat) (h : head) (X : mat) (x : vec) : vec := softmax n (fun _ => 1) (c_of d dq h x (centred
  X x)).
Definition q_max (n d dq : nat) (h : head) (X : mat) (x : vec) : R := maxf n (shares n d dq h X x).
Definition q_min (n d dq : nat) (h : head) (X : mat) (x : vec) : R := minf (n - 1) (shares n d dq h X x).
Definition swing (n d dq : nat) (h : head) (X : mat) (x : vec) : vec := fun i =>
  maxf n (fun j => maxf n (fun k => E_of d dq h (centred X x) i j - E_of d dq h (centred X x) i k)).
Definition delta (n d dq : nat) (h : head) (X : mat) (x : vec) : R := maxf n (swing n d dq h X x).
Definition gamma (n d dq : nat) (h : head) (X : mat) (x : vec) : R :=
  sqrt (sum n (swing n d dq h X x) * q_max n d dq h X x / delta n d dq h X x).

Lemma dobrushin_ub n P i k : (i < n)%nat -> (k < n)%nat -> tv n (P i) (P k) <= dobrushin n P.
Proof.
  intros Hi Hk. eapply Rle_trans; [apply (maxf_ub n (fun k => tv n (P i) (P k)) k Hk)|].
  apply (maxf_ub n (fun i => maxf n (fun k => tv n (P i) (P k))) i Hi).
Qed.
Lemma dobrushin_lub n P D : 0 <= D -> (forall i k, (i < n)%nat -> (k < n)%nat -> tv n (P i) (P k) <= D) ->
  dobrushin n P <= D.
Proof. intros D0 H. apply maxf_lub; [exact D0|]. intros i Hi. apply maxf_lub; auto. Qed.
Lemma dobrushin_nonneg n P : 0 <= dobrushin n P.
Proof. apply maxf_pos. Qed.
Lemma minf_ge n f c : (forall i, (i <= n)%nat -> c <= f i) -> c <= minf n f.
Proof. induction n; intros H; simpl; [apply H; lia|]. apply Rmin_glb; auto. Qed.

Section Edges.
Variables (n : nat) (G P : mat).
Hypothesis Mk : proper_mask n G.
Hypothesis SP : row_stochastic n n P.
Hypothesis Hn : (0 < n)%nat.
Lemma epsilon_le i j : (i < n)%nat -> (j < n)%nat -> 0 < G i j -> epsilon n G P <= P i j.
Proof.
  intros Hi Hj L. apply inf_le; [intros z [a [b [Ha [Hb [_ ->]]]]]; now apply SP|]. now exists i, j.
Qed.
Lemma le_epsilon t : (forall i j, (i < n)%nat -> (j < n)%nat -> 0 < G i j -> t <= P i j) -> t <= epsilon n G P.
Proof.
  intros H. apply le_inf.
  - destruct Mk as [_ S]. destruct (S 0%nat Hn) as [j [Hj L]]. now exists (P 0%nat j), 0%nat, j.
  - intros y [i [j [Hi [Hj [_ ->]]]]]. now apply SP.
  - intros y [i [j [Hi [Hj [L ->]]]]]. now apply H.
Qed.
Lemma epsilon_nonneg : 0 <= epsilon n G P.
Proof. apply le_epsilon. intros. now apply SP. Qed.
End Edges.
