(** Equilibria of one layer with LayerNorm on the sphere: a contraction of a box into itself, by slopes.

    A slope of f on a box B: for all x, y in B, f x - f y = sum_k s_k (x_k - y_k) with s_k in given intervals. Sums,
    products, exp, roots and quotients have slopes, so the layer has;
      where the row sums of S J R are below one, S R = 1,
    the layer contracts max |S (x - y)|, and has one equilibrium, to which all starts converge. *)
Require Import Reals QArith Qreals List Lra Lia ZArith Psatz.
From Interval Require Import Interval Xreal Float Basic Sig.
From Rankmath Require Import certificate.
Import ListNotations.
Local Open Scope R_scope.

(* ---------- the contraction ---------- *)
Definition apply_to (N : nat) (A : mat) (x : vec) : vec := fun k => sum N (fun l => A k l * x l).
Definition inverse (N : nat) (A B : mat) : Prop := forall k l, (k < N)%nat -> (l < N)%nat ->
  sum N (fun m => A k m * B m l) = if Nat.eqb k l then 1 else 0.
Lemma sum_pick n k (f : nat -> R) : (k < n)%nat -> sum n (fun j => (if Nat.eqb k j then 1 else 0) * f j) = f k.
Proof.
  induction n; intro H; [lia|]. cbn [sum]. destruct (Nat.eq_dec k n) as [->|D].
  - rewrite Nat.eqb_refl. rewrite (sum_ext n _ (fun _ => 0 * 0)).
    + rewrite (sum_scal n 0). lra.
    + intros j Hj. destruct (Nat.eqb_spec n j); [lia|]. lra.
  - rewrite IHn by lia. destruct (Nat.eqb_spec k n); [lia|]. lra.
Qed.
Lemma apply_inverse N A B x k : inverse N A B -> (k < N)%nat -> apply_to N A (apply_to N B x) k = x k.
Proof.
  intros H K. unfold apply_to. transitivity (sum N (fun l => sum N (fun m => A k m * B m l) * x l)).
  - transitivity (sum N (fun m => sum N (fun l => A k m * B m l * x l))).
    + apply sum_ext. intros m _. rewrite <- sum_scal. apply sum_ext. intros l _. ring.
    + rewrite sum_swap. apply sum_ext. intros l _. apply sum_scal_r.
  - rewrite (sum_ext N _ (fun l => (if Nat.eqb k l then 1 else 0) * x l)); [apply sum_pick, K|].
    intros l L. rewrite H by assumption. reflexivity.
Qed.
Lemma choose N (T : Type) (z : T) (P : nat -> T -> Prop) : (forall m, (m < N)%nat -> exists s, P m s) ->
  exists f, forall m, (m < N)%nat -> P m (f m).
Proof.
  induction N; intro H; [exists (fun _ => z); lia|]. destruct IHN as [f F]; [intros; apply H; lia|].
  destruct (H N) as [s S]; [lia|]. exists (fun m => if Nat.eqb m N then s else f m). intros m L.
  destruct (Nat.eqb_spec m N) as [->|D]; [exact S|apply F; lia].
Qed.
Lemma abs_between x y : Rabs x <= y -> - y <= x <= y.
Proof. unfold Rabs. destruct (Rcase_abs x); lra. Qed.
(** A sequence whose steps shrink like q^k r converges, and its limit is q^k r / (1 - q) near. *)
Lemma geometric_limit q r (a : nat -> R) : 0 <= q < 1 -> 0 <= r -> (forall k, Rabs (a (S k) - a k) <= q ^ k * r) ->
  exists l, forall k, Rabs (l - a k) <= q ^ k * r / (1 - q).
Proof.
  intros Q R0 H. set (t := r / (1 - q)). assert (T0 : 0 <= t) by (apply Rmult_le_pos; [lra|left;
    apply Rinv_0_lt_compat; lra]).
  assert (Et : t * (1 - q) = r) by (unfold t; field; lra).
  assert (Up : forall k n, a k - t * q ^ k <= a (n + k)%nat - t * q ^ (n + k)).
  { intros k n. induction n; simpl; [lra|]. eapply Rle_trans; [exact IHn|].
    assert (S := H (n + k)%nat). apply abs_between in S.
    assert (q ^ (n + k) * r = t * q ^ (n + k) - t * (q * q ^ (n + k))) by (rewrite <- Et; ring). lra. }
  assert (Dn : forall k n, a (n + k)%nat + t * q ^ (n + k) <= a k + t * q ^ k).
  { intros k n. induction n; simpl; [lra|]. eapply Rle_trans; [|exact IHn].
    assert (S := H (n + k)%nat). apply abs_between in S.
    assert (q ^ (n + k) * r = t * q ^ (n + k) - t * (q * q ^ (n + k))) by (rewrite <- Et; ring). lra. }
  assert (Pn : forall n, 0 <= t * q ^ n) by (intro; apply Rmult_le_pos; [exact T0|apply pow_le; lra]).
  assert (Le : forall k k', a k - t * q ^ k <= a k' + t * q ^ k').
  { intros k k'. destruct (Nat.le_ge_cases k k') as [L|L].
    - assert (U := Up k (k' - k)%nat). replace (k' - k + k)%nat with k' in U by lia. assert (P := Pn k'). lra.
    - assert (U := Dn k' (k - k')%nat). replace (k - k' + k')%nat with k in U by lia. assert (P := Pn k). lra. }
  destruct (completeness (fun y => exists k, y = a k - t * q ^ k)) as [l [Ub Lb]].
  - exists (a 0%nat + t * q ^ 0). intros y [k ->]. apply Le.
  - exists (a 0%nat - t * q ^ 0). now exists 0%nat.
  - exists l. intro k. replace (q ^ k * r / (1 - q)) with (t * q ^ k) by (unfold t; field; lra).
    assert (A1 : a k - t * q ^ k <= l) by (apply Ub; now exists k).
    assert (A2 : l <= a k + t * q ^ k) by (apply Lb; intros y [k' ->]; apply Le).
    apply Rabs_le. lra.
Qed.

(** |S (x - y)| for the largest entry, and for the length; W bounds the second by the first. *)
Definition gap (N : nat) (S : mat) (x y : vec) : R := maxf N (fun k => Rabs (apply_to N S (fun l => x l - y l) k)).
Definition gap2 (N : nat) (S : mat) (x y : vec) : R := l2 N (apply_to N S (fun l => x l - y l)).
Record gauge (N : nat) (S : mat) (W : R) (far : vec -> vec -> R) : Prop := {
  far_pos : forall x y, 0 <= far x y;
  far_ge : forall x y k, (k < N)%nat -> Rabs (apply_to N S x k - apply_to N S y k) <= far x y;
  far_le : forall x y t, 0 <= t ->
    (forall k, (k < N)%nat -> Rabs (apply_to N S x k - apply_to N S y k) <= t) -> far x y <= W * t;
  far_triangle : forall x y z, far x z <= far x y + far y z;
  far_sym : forall x y, far x y = far y x }.
Lemma apply_sub N A x y k : apply_to N A (fun l => x l - y l) k = apply_to N A x k - apply_to N A y k.
Proof. unfold apply_to. rewrite (sum_ext N _ (fun l => A k l * x l + (-1) * (A k l * y l))) by (intros; ring).
rewrite sum_plus, sum_scal. lra. Qed.
Lemma gauge_gap N S : gauge N S 1 (gap N S).
Proof.
  assert (Ge : forall x y k, (k < N)%nat -> Rabs (apply_to N S x k - apply_to N S y k) <= gap N S x y).
  { intros x y k K. rewrite <- apply_sub.
    exact (maxf_ge N (fun k => Rabs (apply_to N S (fun l => x l - y l) k)) k K). }
  assert (Le : forall x y t, 0 <= t -> (forall k, (k < N)%nat -> Rabs (apply_to N S x k - apply_to N S y k) <= t) ->
    gap N S x y <= t).
  { intros x y t P H. apply maxf_le; [exact P|]. intros k K. rewrite apply_sub. apply H, K. }
  constructor; [intros; apply maxf_pos|exact Ge|intros; rewrite Rmult_1_l; auto| |].
  - intros x y z. pose proof (maxf_pos N (fun k => Rabs (apply_to N S (fun l => x l - y l) k))).
    pose proof (maxf_pos N (fun k => Rabs (apply_to N S (fun l => y l - z l) k))). fold (gap N S x y) (gap N S y z)
      in *.
    apply Le; [lra|]. intros k K. pose proof (Ge x y k K). pose proof (Ge y z k K).
    replace (apply_to N S x k - apply_to N S z k) with ((apply_to N S x k - apply_to N S y k) + (apply_to N S y k -
      apply_to N S z k)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
  - intros x y. unfold gap. f_equal. apply FunctionalExtensionality.functional_extensionality. intro k.
    rewrite !apply_sub. apply Rabs_minus_sym.
Qed.
Lemma l2_ext N u v : (forall k, (k < N)%nat -> u k = v k) -> l2 N u = l2 N v.
Proof. intro H. unfold l2. f_equal. apply sum_ext. intros k K. rewrite H by exact K. reflexivity. Qed.
Lemma l2_triangle N u v : l2 N (fun k => u k + v k) <= l2 N u + l2 N v.
Proof.
  pose proof (l2_pos N u). pose proof (l2_pos N v). pose proof (cauchy N u v) as C. unfold l2 at 1.
  rewrite <- (sqrt_square (l2 N u + l2 N v)) by lra. apply sqrt_le_1_alt.
  replace (sum N _) with (dot N u u + 2 * dot N u v + dot N v v).
  - rewrite <- !l2_sqr. nra.
  - unfold dot. rewrite <- sum_scal, <- !sum_plus. apply sum_ext. intros. ring.
Qed.
Lemma l2_opp N u : l2 N (fun k => - u k) = l2 N u.
Proof. unfold l2. f_equal. apply sum_ext. intros. ring. Qed.
Lemma l2_ge N u k : (k < N)%nat -> Rabs (u k) <= l2 N u.
Proof.
  intro K. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. unfold Rsqr.
  induction N; [lia|]. cbn [sum]. assert (P : forall n, 0 <= sum n (fun a => u a * u a)) by (intro; apply sum_pos;
    intros; apply Rle_0_sqr). pose proof (P N). pose proof (Rle_0_sqr (u N)) as Q. unfold Rsqr in Q.
  destruct (Nat.eq_dec k N) as [->|D]; [lra|]. specialize (IHN ltac:(lia)). lra.
Qed.
Lemma l2_le N u t : 0 <= t -> (forall k, (k < N)%nat -> Rabs (u k) <= t) -> l2 N u <= INR N * t.
Proof.
  intros P H. pose proof (pos_INR N) as Q. unfold l2. rewrite <- (sqrt_square (INR N * t)) by nra.
  apply sqrt_le_1_alt. apply Rle_trans with (INR N * (t * t)).
  - rewrite <- sum_const. apply sum_le. intros k K. rewrite <- (Rabs_right (u k * u k)) by apply Rle_ge, Rle_0_sqr.
    rewrite Rabs_mult. specialize (H k K).
    pose proof (Rabs_pos (u k)). nra.
  - destruct N; [simpl; lra|]. assert (1 <= INR (S N)) by (apply (le_INR 1); lia). nra.
Qed.
Lemma gauge_gap2 N S : gauge N S (INR N) (gap2 N S).
Proof.
  constructor.
  - intros. apply l2_pos.
  - intros x y k K. rewrite <- apply_sub. exact (l2_ge N (apply_to N S (fun l => x l - y l)) k K).
  - intros x y t P H. apply l2_le; [exact P|]. intros k K. rewrite apply_sub. apply H, K.
  - intros x y z. unfold gap2. rewrite (l2_ext N (apply_to N S (fun l => x l - z l)) (fun k => apply_to N S (fun l
    => x
      l - y l) k + apply_to N S (fun l => y l - z l) k)) by (intros; rewrite !apply_sub; ring). apply l2_triangle.
  - intros x y. unfold gap2. rewrite <- l2_opp. apply l2_ext. intros. rewrite !apply_sub. ring.
Qed.

Section Contraction.
Variables (N : nat) (S T : mat) (W : R) (far : vec -> vec -> R) (c : vec) (rho rate : R) (G : vec -> vec).
Hypothesis A : gauge N S W far.
Hypothesis ST : inverse N S T.
Hypothesis TS : inverse N T S.
Hypothesis W_pos : 0 <= W.
Hypothesis rho_pos : 0 < rho.
Hypothesis rate_pos : 0 <= rate < 1.
Hypothesis contracts : forall x y, far x c <= rho -> far y c <= rho -> far (G x) (G y) <= rate * far x y.
Hypothesis start : far (G c) c <= (1 - rate) * rho.

Lemma far_zero x y k : far x y <= 0 -> (k < N)%nat -> x k = y k.
Proof.
  intros H K. rewrite <- (apply_inverse N T S x k TS K), <- (apply_inverse N T S y k TS K). unfold apply_to at 1 3.
  apply sum_ext. intros l L. pose proof (far_ge _ _ _ _ A x y l L) as P. apply abs_between in P. f_equal. lra.
Qed.
Lemma far_same x y : (forall k, (k < N)%nat -> x k = y k) -> far x y <= 0.
Proof.
  intro E. rewrite <- (Rmult_0_r W). apply (far_le _ _ _ _ A); [lra|]. intros k K. unfold apply_to.
  rewrite (sum_ext N _ (fun l => S k l * y l)); [unfold Rminus; rewrite Rplus_opp_r, Rabs_R0; lra|]. intros l L.
  rewrite E by exact L. reflexivity.
Qed.
Lemma far_centre : far c c <= rho. Proof. pose proof (far_same c c (fun k _ => eq_refl)). lra. Qed.
Lemma stays x : far x c <= rho -> far (G x) c <= rho.
Proof.
  intro H. eapply Rle_trans; [apply (far_triangle _ _ _ _ A) with (y := G c)|].
  pose proof (contracts x c H far_centre). nra.
Qed.
Lemma iterate_stays x t : far x c <= rho -> far (Nat.iter t G x) c <= rho.
Proof. intro H. induction t; [exact H|]. apply stays, IHt. Qed.
Lemma iterate_contracts x y t : far x c <= rho -> far y c <= rho ->
  far (Nat.iter t G x) (Nat.iter t G y) <= rate ^ t * far x y.
Proof.
  intros X Y. induction t; [simpl; lra|]. change (far (G (Nat.iter t G x)) (G (Nat.iter t G y)) <= rate * rate ^ t *
    far x y).
  eapply Rle_trans; [apply contracts; apply iterate_stays; assumption|]. rewrite Rmult_assoc.
  apply Rmult_le_compat_l; lra.
Qed.
Lemma vanish a r : 0 <= r -> (forall t, a <= rate ^ t * r) -> a <= 0.
Proof.
  intros R0 H. destruct (Rle_lt_dec a 0) as [|P]; [assumption|exfalso].
  assert (E : 0 < a / (r + 1)) by (apply Rdiv_lt_0_compat; lra).
  destruct (pow_lt_1_zero rate ltac:(rewrite Rabs_right; lra) _ E) as [k Hk]. specialize (Hk k (le_n k)).
  specialize (H k).
  rewrite Rabs_right in Hk by (apply Rle_ge, pow_le; lra). pose proof (pow_le rate k (proj1 rate_pos)).
  apply (Rmult_lt_compat_r (r + 1)) in Hk; [|lra]. unfold Rdiv in Hk.
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r in Hk by lra. nra.
Qed.
(** What rests, rests for ever. *)
Lemma iterate_rests x t : far x c <= rho -> (forall k, (k < N)%nat -> G x k = x k) -> far (Nat.iter t G x) x <= 0.
Proof.
  intros X F. induction t; [apply far_same; reflexivity|].
  eapply Rle_trans; [apply (far_triangle _ _ _ _ A) with (y := G x)|].
  change (Nat.iter (Datatypes.S t) G x) with (G (Nat.iter t G x)).
  pose proof (contracts _ _ (iterate_stays x t X) X). pose proof (far_same (G x) x F).
  pose proof (far_pos _ _ _ _ A (Nat.iter t G x) x). nra.
Qed.
Theorem one_equilibrium : exists z, far z c <= rho /\ (forall k, (k < N)%nat -> G z k = z k) /\
  (forall y, far y c <= rho -> (forall k, (k < N)%nat -> G y k = y k) -> forall k, (k < N)%nat -> y k = z k) /\
  (forall x, far x c <= rho -> forall t, far (Nat.iter t G x) z <= rate ^ t * far x z).
Proof.
  set (r := (1 - rate) * rho). assert (R0 : 0 <= r) by (apply Rmult_le_pos; lra). pose proof far_centre as Z.
  assert (L : forall k, (k < N)%nat -> exists l, forall t, Rabs (l - apply_to N S (Nat.iter t G c) k) <= rate ^ t *
    r /
    (1 - rate)).
  { intros k K. apply geometric_limit; [exact rate_pos|exact R0|]. intro t.
    eapply Rle_trans; [apply (far_ge _ _ _ _ A), K|].
    change (Nat.iter (Datatypes.S t) G c) with (G (Nat.iter t G c)).
    replace (G (Nat.iter t G c)) with (Nat.iter t G (G c)) by (clear; induction t; simpl; [reflexivity|]; rewrite IHt;
      reflexivity).
    eapply Rle_trans; [apply iterate_contracts; [apply stays|]; exact Z|].
    apply Rmult_le_compat_l; [apply pow_le; lra|exact start]. }
  destruct (choose N R 0 (fun k l => forall t, Rabs (l - apply_to N S (Nat.iter t G c) k) <= rate ^ t * r / (1 -
    rate))
    L) as [u U]. set (z := apply_to N T u).
  assert (Sz : forall k, (k < N)%nat -> apply_to N S z k = u k) by (intros k K; apply apply_inverse; assumption).
  assert (D : forall t, far (Nat.iter t G c) z <= rate ^ t * (W * rho)).
  { intro t. rewrite (far_sym _ _ _ _ A). replace (rate ^ t * (W * rho)) with (W * (rate ^ t * rho)) by ring.
    apply (far_le _ _ _ _ A); [apply Rmult_le_pos; [apply pow_le|]; lra|]. intros k K. rewrite Sz by exact K.
    eapply Rle_trans; [apply U, K|]. unfold r. right. field. lra. }
  assert (Wr : 0 <= W * rho) by (apply Rmult_le_pos; lra).
  assert (B : far z c <= rho).
  { assert (far z c - rho <= 0); [|lra]. apply (vanish _ (W * rho) Wr). intro t. specialize (D t).
    pose proof (far_triangle _ _ _ _ A z (Nat.iter t G c) c). pose proof (iterate_stays c t Z).
    rewrite (far_sym _ _ _ _ A z (Nat.iter t G c)) in *. lra. }
  assert (F : far (G z) z <= 0).
  { apply (vanish _ (2 * (W * rho))); [lra|]. intro t.
    eapply Rle_trans; [apply (far_triangle _ _ _ _ A) with (y := Nat.iter (Datatypes.S t) G c)|].
    pose proof (D t) as D1. pose proof (D (Datatypes.S t)) as D2. rewrite (far_sym _ _ _ _ A) in D1.
    pose proof (contracts z (Nat.iter t G c) B (iterate_stays c t Z)) as C.
    change (Nat.iter (Datatypes.S t) G c) with (G (Nat.iter t G c)) in *.
    simpl in D2. pose proof (pow_le rate t (proj1 rate_pos)). pose proof (far_pos _ _ _ _ A z (Nat.iter t G c)).
    assert (rate * (rate ^ t * (W * rho)) <= rate ^ t * (W * rho)) by (rewrite <- (Rmult_1_l (rate ^ t * (W *
      rho))) at
      2; apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]).
    assert (rate * far z (Nat.iter t G c) <= rate * (rate ^ t * (W * rho))) by (apply Rmult_le_compat_l; lra). lra. }
  assert (Fz : forall k, (k < N)%nat -> G z k = z k) by (intros k K; exact (far_zero _ _ k F K)).
  exists z. split; [exact B|]. split; [exact Fz|]. split.
  - intros y Y Fy k K. apply far_zero; [|exact K]. apply (vanish _ (far y z)); [apply (far_pos _ _ _ _ A)|]. intro t.
    pose proof (iterate_contracts y z t Y B). pose proof (iterate_rests y t Y Fy). pose proof (iterate_rests z t B
      Fz).
    pose proof (far_triangle _ _ _ _ A y (Nat.iter t G y) z).
    pose proof (far_triangle _ _ _ _ A (Nat.iter t G y) (Nat.iter t G z) z).
    rewrite (far_sym _ _ _ _ A y (Nat.iter t G y)) in *. lra.
  - intros x X t. pose proof (far_triangle _ _ _ _ A (Nat.iter t G x) (Nat.iter t G z) z).
    pose proof (iterate_contracts x z t X B). pose proof (iterate_rests z t B Fz). lra.
Qed.
End Contraction.

(* ---------- the layer, and its derivative ---------- *)
(** X -> LayerNorm(softmax(X M X^T/sqrt d_qk) X V), every token divided by its length. *)
Definition rest_map (n d : nat) (dqk : R) (M V mask X : mat) : mat :=
  sphere d (mixed n d (attention n d dqk M (fun _ => 0) mask X) X V).
(** the tokens as one vector, and back *)
Definition unfold_ (d : nat) (x : vec) : mat := fun i a => x (i * d + a)%nat.
Definition fold_ (d : nat) (X : mat) : vec := fun k => X (k / d)%nat (k mod d)%nat.
Notation dl := derivable_pt_lim.
Lemma dl_by f g x l m : dl f x l -> (forall t, f t = g t) -> l = m -> dl g x m.
Proof. intros H E <-. intros e P. destruct (H e P) as [D K]. exists D. intros h. rewrite <- !E. apply K. Qed.
Lemma dl_add f g x a b : dl f x a -> dl g x b -> dl (fun t => f t + g t) x (a + b).
Proof. apply derivable_pt_lim_plus. Qed.
Lemma dl_mul f g x a b : dl f x a -> dl g x b -> dl (fun t => f t * g t) x (a * g x + f x * b).
Proof. apply derivable_pt_lim_mult. Qed.
Lemma dl_scal f x a r : dl f x a -> dl (fun t => f t * r) x (a * r).
Proof. intro H. refine (dl_by _ _ _ _ _ (dl_mul f (fun _ => r) x a 0 H (derivable_pt_lim_const r x)) _ _); intros;
  ring.
Qed.
Lemma dl_sum n (f : nat -> R -> R) g x : (forall k, (k < n)%nat -> dl (f k) x (g k)) ->
  dl (fun t => sum n (fun k => f k t)) x (sum n g).
Proof. induction n; intro H; cbn [sum]; [apply derivable_pt_lim_const|]. apply dl_add; auto. Qed.
Lemma dl_exp f x a : dl f x a -> dl (fun t => exp (f t)) x (a * exp (f x)).
Proof.
  intro H. rewrite Rmult_comm. exact (derivable_pt_lim_comp f exp x a _ H (derivable_pt_lim_exp (f x))).
Qed.
Lemma dl_div f g x a b : dl f x a -> dl g x b -> g x <> 0 -> dl (fun t => f t / g t) x ((a - f x / g x * b) / g x).
Proof.
  intros F H N. refine (dl_by _ _ _ _ _ (derivable_pt_lim_div f g x a b F H N) (fun _ => eq_refl) _). unfold Rsqr.
  field. exact N.
Qed.
Lemma dl_sqrt f x a : dl f x a -> 0 < f x -> dl (fun t => sqrt (f t)) x (a / (2 * sqrt (f x))).
Proof.
  intros H P. refine (dl_by _ _ _ _ _ (derivable_pt_lim_comp f sqrt x a _ H (derivable_pt_lim_sqrt _ P)) (fun _ =>
    eq_refl) _). unfold Rdiv. ring.
Qed.
Section Gradient.
Variables (n d : nat) (dqk : R) (M V mask : mat).
Notation lg X := (logit d dqk M (fun _ => 0) X).
(** values, queries, keys; attention, by logits less that of the token itself; the layer before the norm, lengths, units *)
Definition vals (X : mat) : mat := product d X V.
Definition qry (X : mat) : mat := fun i c => product d X M i c / sqrt dqk.
Definition key (X : mat) : mat := fun j a => product d X (transpose M) j a / sqrt dqk.
Definition weight (X : mat) : mat := fun i j => mask i j * exp (dot d (qry X i) (fun c => X j c - X i c)).
Definition share (X : mat) : mat := fun i j => weight X i j / sum n (weight X i).
Definition out (X : mat) : mat := fun i b => image n (share X i) (vals X) b.
Definition len (X : mat) (i : nat) : R := l2 d (out X i).
Definition unit_ (X : mat) : mat := fun i b => out X i b / len X i.
(** the derivative of F_ib by X_ka: (P_ik (S_ab + q_a Z_kb) + [k = i] sum_j P_ij K_ja Z_jb)/|y_i|, S = V (1 - u^T u),
    Z_j = (v_j - y_i) (1 - u^T u) *)
Definition proj (X : mat) (i : nat) : mat := fun c b => (if Nat.eqb c b then 1 else 0) - unit_ X i c * unit_ X i b.
Definition turn_S (X : mat) (i : nat) : mat := product d V (proj X i).
Definition turn_Z (X : mat) (i : nat) : mat := product d (fun j b => vals X j b - out X i b) (proj X i).
Definition own_ (X : mat) (i : nat) : mat := fun a b => sum n (fun j => share X i j * key X j a * turn_Z X i j b).
Definition grad (X : mat) (i b k a : nat) : R :=
  (share X i k * (turn_S X i a b + qry X i a * turn_Z X i k b) + (if Nat.eqb k i then own_ X i a b else 0)) / len X i.
Hypothesis mask_pos : forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= mask i j.
Hypothesis mask_some : forall i, (i < n)%nat -> exists j, (j < n)%nat /\ 0 < mask i j.
Let e X i j := mask i j * exp (lg X i j).
Let D X i := sum n (e X i).
Lemma D_pos X i : (i < n)%nat -> 0 < D X i.
Proof.
  intro I. destruct (mask_some i I) as [j [J K]]. unfold D.
  assert (E : forall k, (k < n)%nat -> 0 <= e X i k).
  { intros k Hk. apply Rmult_le_pos; [apply mask_pos; assumption|left; apply exp_pos]. }
  assert (Ej : 0 < e X i j) by (apply Rmult_lt_0_compat; [exact K|apply exp_pos]).
  assert (G : forall m, (j < m)%nat -> (m <= n)%nat -> 0 < sum m (e X i)).
  { induction m; intros L1 L2; [lia|]. cbn [sum]. pose proof (E m ltac:(lia)).
    assert (0 <= sum m (e X i)) by (apply sum_pos; intros; apply E; lia).
    destruct (Nat.eq_dec j m) as [->|Ne]; [lra|]. specialize (IHm ltac:(lia) ltac:(lia)). lra. }
  apply G; lia.
Qed.
Lemma logit_qry X i j : lg X i j = sum d (fun c => qry X i c * X j c).
Proof.
  unfold logit, qry, product. rewrite (sum_ext d (fun a => 0 * X j a) (fun _ => 0 * 0)) by (intros; ring).
  rewrite (sum_scal d 0). unfold Rdiv. rewrite Rmult_0_l, Rplus_0_r, <- sum_scal_r. apply sum_ext. intros. ring.
Qed.
Lemma weight_e X i j : weight X i j = e X i j * exp (- lg X i i).
Proof.
  unfold weight, e. rewrite Rmult_assoc, <- exp_plus. f_equal. f_equal. rewrite !logit_qry.
  replace (- sum d (fun c => qry X i c * X i c)) with ((-1) * sum d (fun c => qry X i c * X i c)) by ring.
  rewrite <- sum_scal, <- sum_plus. apply sum_ext. intros. ring.
Qed.
Lemma share_ok X i j : (i < n)%nat -> share X i j = e X i j / D X i.
Proof.
  intro I. pose proof (D_pos X i I) as P. unfold share. rewrite weight_e.
  rewrite (sum_ext n _ (fun k => e X i k * exp (- lg X i i))) by (intros; apply weight_e).
  rewrite sum_scal_r. change (sum n (e X i)) with (D X i). pose proof (exp_pos (- lg X i i)). field. lra.
Qed.
Lemma out_quot X i b : (i < n)%nat -> out X i b = sum n (fun j => e X i j * vals X j b) / D X i.
Proof.
  intro I. unfold out, image, Rdiv. rewrite <- sum_scal_r. apply sum_ext. intros j _. rewrite share_ok by exact I.
  unfold Rdiv. ring.
Qed.
Lemma rest_unit X i b : (i < n)%nat -> rest_map n d dqk M V mask X i b = unit_ X i b.
Proof.
  intro I. unfold rest_map, sphere, unit_, len.
  assert (E : forall c, mixed n d (attention n d dqk M (fun _ => 0) mask X) X V i c = out X i c).
  { intro c. rewrite out_quot by exact I. unfold mixed.
    transitivity (sum d (fun a => sum n (fun j => e X i j * (X j a * V a c)) / D X i)).
    - apply sum_ext. intros a _. unfold Rdiv. rewrite <- !sum_scal_r. apply sum_ext. intros j _.
      change (attention n d dqk M (fun _ => 0) mask X i j) with (e X i j / D X i). unfold Rdiv. ring.
    - unfold Rdiv. rewrite sum_scal_r. f_equal. rewrite sum_swap. apply sum_ext. intros j _. unfold vals, product.
      rewrite sum_scal. reflexivity. }
  rewrite E. f_equal. apply l2_ext. intros c _. apply E.
Qed.
(** along a curve of tokens *)
Variables (X : R -> mat) (H : mat) (t : R).
Hypothesis curve : forall i a, dl (fun s => X s i a) t (H i a).
Definition dval : mat := product d H V.
Definition dlog (i j : nat) : R := sum d (fun a => H i a * key (X t) j a) + sum d (fun c => qry (X t) i c * H j c).
Lemma dl_vals j b : dl (fun s => vals (X s) j b) t (dval j b).
Proof. apply (dl_sum d (fun a s => X s j a * V a b)). intros a _. apply dl_scal, curve. Qed.
Lemma dl_logit i j : dl (fun s => lg (X s) i j) t (dlog i j).
Proof.
  refine (dl_by (fun s => sum d (fun c => qry (X s) i c * X s j c)) _ t (sum d (fun c => product d H M i c / sqrt
    dqk *
    X t j c + qry (X t) i c * H j c)) _ _ (fun s => eq_sym (logit_qry (X s) i j)) _).
  - apply (dl_sum d (fun c s => qry (X s) i c * X s j c)). intros c _. apply (dl_mul (fun s => qry (X s) i c));
    [|apply
      curve]. unfold qry, Rdiv. apply dl_scal. apply (dl_sum d (fun a s => X s i a * M a c)). intros a _.
    apply dl_scal, curve.
  - unfold dlog. rewrite sum_plus. f_equal. unfold key, product, transpose, Rdiv.
    transitivity (sum d (fun c => sum d (fun a => H i a * (M a c * X t j c) * / sqrt dqk))).
    + apply sum_ext. intros c _. rewrite <- !sum_scal_r. apply sum_ext. intros. ring.
    + rewrite sum_swap. apply sum_ext. intros a _. rewrite <- sum_scal_r, <- sum_scal. apply sum_ext. intros. ring.
Qed.
Definition dout (i b : nat) : R :=
  sum n (fun j => share (X t) i j * (dval j b + dlog i j * (vals (X t) j b - out (X t) i b))).
Lemma dl_out i b : (i < n)%nat -> dl (fun s => out (X s) i b) t (dout i b).
Proof.
  intro I. pose proof (D_pos (X t) i I) as P.
  assert (E : forall j, dl (fun s => e (X s) i j) t (e (X t) i j * dlog i j)).
  { intro j. refine (dl_by _ _ _ _ _ (dl_scal _ _ _ (mask i j) (dl_exp _ _ _ (dl_logit i j))) _ _); unfold e; intros;
      ring. }
  refine (dl_by _ _ _ _ _ (dl_div (fun s => sum n (fun j => e (X s) i j * vals (X s) j b)) (fun s => D (X s) i) t _ _
    (dl_sum n (fun j s => e (X s) i j * vals (X s) j b) (fun j => e (X t) i j * dlog i j * vals (X t) j b + e (X t)
      i j
    * dval j b) t _) (dl_sum n (fun j s => e (X s) i j) (fun j => e (X t) i j * dlog i j) t _) _) _ _).
  - intros j _. apply (dl_mul (fun s => e (X s) i j)); [apply E|apply dl_vals].
  - intros j _. apply E.
  - lra.
  - intro s. symmetry. apply out_quot, I.
  - rewrite <- out_quot by exact I. unfold dout, Rdiv. unfold Rminus at 1.
    replace (- (out (X t) i b * sum n (fun j => e (X t) i j * dlog i j))) with ((- out (X t) i b) * sum n (fun j =>
      e (X
      t) i j * dlog i j)) by ring. rewrite <- sum_scal, <- sum_plus, <- sum_scal_r. apply sum_ext. intros j _.
    rewrite share_ok by exact I. unfold Rdiv. ring.
Qed.
Lemma sum_double (f g : nat -> nat -> R) : (forall k a, (k < n)%nat -> (a < d)%nat -> f k a = g k a) ->
  sum n (fun k => sum d (f k)) = sum n (fun k => sum d (g k)).
Proof. intro E. apply sum_ext. intros k K. apply sum_ext. intros a A. apply E; assumption. Qed.
Lemma dl_rest i b : (i < n)%nat -> (b < d)%nat -> 0 < len (X t) i ->
  dl (fun s => rest_map n d dqk M V mask (X s) i b) t (sum n (fun k => sum d (fun a => grad (X t) i b k a * H k a))).
Proof.
  intros I B P. set (y := out (X t) i). set (r := len (X t) i) in *.
  assert (Pr : 0 < dot d y y).
  { unfold r, len in P. rewrite <- l2_sqr. fold y in P. nra. }
  assert (L : dl (fun s => len (X s) i) t (sum d (fun c => unit_ (X t) i c * dout i c))).
  { refine (dl_by _ _ _ _ _ (dl_sqrt (fun s => sum d (fun c => out (X s) i c * out (X s) i c)) t _ (dl_sum d (fun c
    s =>
      out (X s) i c * out (X s) i c) (fun c => dout i c * y c + y c * dout i c) t _) Pr) (fun _ => eq_refl) _).
    - intros c _. apply (dl_mul (fun s => out (X s) i c)); apply dl_out, I.
    - change (sqrt _) with r. unfold Rdiv. rewrite <- sum_scal_r. apply sum_ext. intros c _. unfold unit_. fold y r.
      field. lra. }
  refine (dl_by _ _ _ _ _ (dl_div (fun s => out (X s) i b) (fun s => len (X s) i) t _ _ (dl_out i b I) L _) _ _).
  - fold r. lra.
  - intro s. symmetry. apply (rest_unit (X s) i b I).
  - fold r. change (out (X t) i b / r) with (unit_ (X t) i b).
    assert (Pj : dout i b - unit_ (X t) i b * sum d (fun c => unit_ (X t) i c * dout i c) = sum d (fun c => dout i c *
      proj (X t) i c b)).
    { rewrite <- (sum_pick d b (fun c => dout i c)) by exact B. unfold Rminus.
      replace (- (unit_ (X t) i b * sum d (fun c => unit_ (X t) i c * dout i c))) with ((- unit_ (X t) i b) * sum d
        (fun
        c => unit_ (X t) i c * dout i c)) by ring. rewrite <- sum_scal, <- sum_plus. apply sum_ext. intros c _.
      unfold proj. rewrite Nat.eqb_sym. ring. }
    rewrite Pj. unfold grad. fold r. unfold Rdiv.
    assert (Q : sum d (fun c => dout i c * proj (X t) i c b) = sum n (fun j => share (X t) i j * (sum d (fun a => H
      j a *
      turn_S (X t) i a b) + dlog i j * turn_Z (X t) i j b))).
    { unfold dout. transitivity (sum d (fun c => sum n (fun j => share (X t) i j * (dval j c * proj (X t) i c b +
      dlog i
        j * ((vals (X t) j c - out (X t) i c) * proj (X t) i c b))))).
      - apply sum_ext. intros c _. rewrite <- sum_scal_r. apply sum_ext. intros. ring.
      - rewrite sum_swap. apply sum_ext. intros j _. rewrite sum_scal. f_equal. rewrite sum_plus, sum_scal. f_equal.
        unfold dval, turn_S, product. transitivity (sum d (fun c => sum d (fun a => H j a * (V a c * proj (X t) i c
          b)))).
        + apply sum_ext. intros c _. rewrite <- sum_scal_r. apply sum_ext. intros. ring.
        + rewrite sum_swap. apply sum_ext. intros a _. apply sum_scal. }
    rewrite Q. clear Q Pj L. rewrite <- sum_scal_r.
    set (Z := fun j => turn_Z (X t) i j b). set (P' := share (X t) i).
    (* left: P_j (sum_a H_ja S_ab + dlog_j Z_j)/r; the part of dlog with H_i is summed over j *)
    transitivity (sum n (fun k => sum d (fun a => P' k * (turn_S (X t) i a b + qry (X t) i a * Z k) * / r * H k a))
      + sum
      d (fun a => own_ (X t) i a b * / r * H i a)).
    + rewrite (sum_ext n _ (fun j => sum d (fun a => P' j * (turn_S (X t) i a b + qry (X t) i a * Z j) * / r * H j
      a) +
        sum d (fun a => H i a * key (X t) j a) * (P' j * Z j * / r))).
      * rewrite sum_plus. f_equal. transitivity (sum n (fun j => sum d (fun a => P' j * key (X t) j a * Z j * (/ r
        * H i
          a)))).
        -- apply sum_ext. intros j _. rewrite <- sum_scal_r. apply sum_ext. intros. ring.
        -- rewrite sum_swap. apply sum_ext. intros a _. rewrite sum_scal_r. unfold own_. fold P'. unfold Z. ring.
      * intros j _. unfold dlog. fold (Z j). rewrite Rmult_plus_distr_l, Rmult_plus_distr_r.
        rewrite (sum_ext d (fun a => P' j * (turn_S (X t) i a b + qry (X t) i a * Z j) * / r * H j a) (fun a => (P'
          j *
          / r) * (H j a * turn_S (X t) i a b) + (P' j * Z j * / r) * (qry (X t) i a * H j a))) by (intros; ring).
        rewrite sum_plus, !sum_scal. ring.
    + rewrite <- (sum_pick n i (fun k => sum d (fun a => own_ (X t) i a b * / r * H k a)) I), <- sum_plus.
      apply sum_ext. intros k _. rewrite <- sum_scal, <- sum_plus. apply sum_ext. intros a _. fold (Z k). fold (P' k).
      rewrite (Nat.eqb_sym i k). destruct (Nat.eqb k i); ring.
Qed.
End Gradient.

(* ---------- the derivative in intervals ---------- *)
Notation iv := I.type.
Lemma between_enc i a b c : enc i a -> enc i b -> a <= c <= b -> enc i c.
Proof.
  unfold enc. destruct (I.convert i) as [|l u]; [trivial|]. simpl. intros [A1 A2] [B1 B2] [H1 H2].
  split; [destruct l|destruct u]; trivial; lra.
Qed.
Lemma segment i a b t : enc i a -> enc i b -> 0 <= t <= 1 -> enc i (a + t * (b - a)).
Proof.
  intros A B P. destruct (Rle_lt_dec a b); [apply (between_enc i a b)|apply (between_enc i b a)]; auto; nra.
Qed.
(** A layer as a map of the tokens written one after the other. *)
Definition step (n d : nat) (dqk : R) (M V mask : mat) (x : vec) : vec := fold_ d (rest_map n d dqk M V mask
  (unfold_ d
  x)).
Lemma sum_block n d f : sum n (fun k => sum d (fun a => f (k * d + a)%nat)) = sum (n * d) f.
Proof.
  assert (E : forall m k, sum k f + sum m (fun a => f (k + a)%nat) = sum (k + m) f).
  { intros m k. induction m; cbn [sum]; [rewrite Nat.add_0_r; lra|]. rewrite Nat.add_succ_r. cbn [sum]. lra. }
  induction n; [reflexivity|]. cbn [sum]. rewrite IHn, E. f_equal. lia.
Qed.
Lemma split_index n d k : (k < n * d)%nat -> (k / d < n)%nat /\ (k mod d < d)%nat /\ (k / d * d + k mod d = k)%nat.
Proof.
  intro K. assert (D : d <> O) by lia. repeat split.
  - apply Nat.div_lt_upper_bound; [exact D|lia].
  - apply Nat.mod_upper_bound, D.
  - pose proof (Nat.div_mod k d D). lia.
Qed.
Lemma index_parts d k a : (a < d)%nat -> ((k * d + a) / d = k)%nat /\ ((k * d + a) mod d = a)%nat.
Proof.
  intro A. split; [rewrite Nat.div_add_l, Nat.div_small; lia|].
  rewrite Nat.add_comm, Nat.mod_add by lia. apply Nat.mod_small, A.
Qed.
Section Layer.
Variable prec : SFZ.precision.
Variables (n d : nat) (dqk : R) (M V mask : mat) (q : iv) (MI VI mI : list (list iv)).
Hypothesis Q : enc q dqk.
Hypothesis HM : encm MI M.
Hypothesis HV : encm VI V.
Hypothesis Hm : encm mI mask.
Hypothesis mask_pos : forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= mask i j.
Let N := (n * d)%nat.
Notation tok := (list iv * list iv * iv * list iv)%type.
Notation "a +: b" := (I.add prec a b) (at level 50, left associativity).
Notation "a -: b" := (I.sub prec a b) (at level 50, left associativity).
Notation "a *: b" := (I.mul prec a b) (at level 40, left associativity).
Notation "a /: b" := (I.div prec a b) (at level 40, left associativity).
(** m e^x, nothing where m is 0 *)
Definition iweight (m x : iv) : iv := match I.sign_large m with Xeq => ofZ prec 0 | _ => m *: I.exp prec x end.
Lemma iweight_ok m x a b : enc m a -> enc x b -> enc (iweight m x) (a * exp b).
Proof.
  intros A B. assert (E : enc (m *: I.exp prec x) (a * exp b)) by (apply mul_ok; [|apply exp_ok]; assumption).
  unfold iweight. pose proof (I.sign_large_correct m) as S. destruct (I.sign_large m); try exact E.
  specialize (S _ A). injection S as ->. rewrite Rmult_0_l. apply ofZ_ok.
Qed.
Lemma sum_split f j : (j < n)%nat -> sum n f = f j + sum n (fun k => if Nat.eqb k j then 0 else f k).
Proof.
  intro J. rewrite <- (sum_pick n j f J) at 1. rewrite <- sum_plus. apply sum_ext. intros k _.
  rewrite (Nat.eqb_sym j k). destruct (Nat.eqb k j); ring.
Qed.
Definition iweights (XI QI : list (list iv)) (i : nat) : list iv := let qi := nth i QI nil in let mi := nth i mI nil in
  tab n (fun j => iweight (at1 mi j) (if Nat.eqb j i then ofZ prec 0 else
    idot prec d qi (tab d (fun c => at2 XI j c -: at2 XI i c)))).
(** of token i: its shares, the layer before the norm, its length, and the token that comes *)
Definition itoken (XI W QI : list (list iv)) (i : nat) : tok :=
  let e := iweights XI QI i in
  let P := tab n (fun j => let r := isum prec n (fun k => if Nat.eqb k j then ofZ prec 0 else at1 e k) in
    if ipos (at1 e j) then ofZ prec 1 /: (ofZ prec 1 +: r /: at1 e j) else at1 e j /: (at1 e j +: r)) in
  let y := iimage prec n d P W in let l := il2 prec d y in (P, y, l, tab d (fun b => at1 y b /: l)).
(** and the rows of its derivative *)
Definition irows (W QI KI : list (list iv)) (i : nat) (t : tok) : list (list iv) :=
  let '(P, y, l, u) := t in let qi := nth i QI nil in
  let O := tab2 d d (fun c b => (if Nat.eqb c b then ofZ prec 1 else ofZ prec 0) -: at1 u c *: at1 u b) in
  let S := iproduct prec d d d VI O in
  let Z := iproduct prec n d d (tab2 n d (fun j b => at2 W j b -: at1 y b)) O in
  let own := tab2 d d (fun a b => isum prec n (fun j => at1 P j *: at2 KI j a *: at2 Z j b)) in
  tab2 d N (fun b m => let k := (m / d)%nat in let a := (m mod d)%nat in
    (at1 P k *: (at2 S a b +: at1 qi a *: at2 Z k b) +: (if Nat.eqb k i then at2 own a b else ofZ prec 0)) /: l).
Definition ivals (XI : list (list iv)) := iproduct prec n d d XI VI.
Definition iquery (XI A : list (list iv)) := let P := iproduct prec n d d XI A in let r := I.sqrt prec q in
  tab2 n d (fun i c => at2 P i c /: r).
Definition itokens (XI : list (list iv)) : list tok :=
  let W := ivals XI in let QI := iquery XI MI in map (itoken XI W QI) (seq 0 n).
Definition ijac (XI : list (list iv)) : list (list (list iv)) * bool :=
  let W := ivals XI in let QI := iquery XI MI in let KI := iquery XI (itranspose d d MI) in let t := itokens XI in
  (map (fun i => irows W QI KI i (nth i t (nil, nil, I.nai, nil))) (seq 0 n), forallb (fun s => ipos (snd (fst s)))
    t).
Definition boxed (B : list iv) : list (list iv) := tab2 n d (fun i a => at1 B (i * d + a)).
Definition row_of (J : list (list (list iv))) (m : nat) : list iv := nth (m mod d) (nth (m / d) J nil) nil.
Lemma ivals_ok XI X : encm XI X -> encm (ivals XI) (vals d V X).
Proof. intro H. apply iproduct_ok; assumption. Qed.
Lemma iquery_ok XI X A B : encm XI X -> encm A B -> encm (iquery XI A) (fun i c => product d X B i c / sqrt dqk).
Proof. intros H K. apply tab2_ok. intros i c. apply div_ok; [apply iproduct_ok; assumption|apply sqrt_ok, Q]. Qed.
Lemma itoken_ok XI X W QI i : (i < n)%nat -> encm XI X -> encm W (vals d V X) -> encm QI (qry d dqk M X) ->
  let '(P, y, l, u) := itoken XI W QI i in encv P (share n d dqk M mask X i) /\ encv y (out n d dqk M V mask X i) /\
    enc l (len n d dqk M V mask X i) /\ encv u (unit_ n d dqk M V mask X i).
Proof.
  intros I HX HW HQ. unfold itoken. set (e := iweights XI QI i). assert (Ee : encv e (weight d dqk M mask X i)).
  { apply tab_ok. intro j. apply iweight_ok; [apply row_ok, Hm|]. destruct (Nat.eqb_spec j i) as [->|].
    - replace (dot d _ _) with (IZR 0); [apply ofZ_ok|]. unfold dot. rewrite (sum_ext d _ (fun _ => 0 * 0)) by (intros;
        ring). rewrite (sum_scal d 0). ring.
    - apply idot_ok; [apply row_ok, HQ|]. apply tab_ok. intro c. apply sub_ok; apply HX. }
  set (P := tab n _). assert (EP : encv P (share n d dqk M mask X i)).
  { intro j. unfold P, tab, at1 at 1. rewrite nth_tab. destruct (Nat.ltb_spec j n) as [J|J]; [|apply enc_nai].
    cbv zeta. unfold share. rewrite (sum_split _ j J). set (r := sum n (fun k => if Nat.eqb k j then 0 else _)).
    set (ri := isum prec n _). assert (Er : enc ri r).
    { apply isum_ok. intro k. destruct (Nat.eqb k j); [apply ofZ_ok|apply Ee]. }
    destruct (ipos (at1 e j)) eqn:S; [|apply div_ok; [|apply add_ok]; try exact Er; exact (Ee j)].
    pose proof (pos_by _ _ (Ee j) S) as Pe. set (w := weight d dqk M mask X i j) in *.
    assert (E1 : enc (ofZ prec 1 /: (ofZ prec 1 +: ri /: at1 e j)) (1 / (1 + r / w))).
    { apply div_ok; [apply ofZ_ok|]. apply add_ok; [apply ofZ_ok|]. apply div_ok; [exact Er|exact (Ee j)]. }
    assert (R0 : 0 <= r).
    { apply sum_pos. intros k K. destruct (Nat.eqb k j); [lra|]. apply Rmult_le_pos; [apply mask_pos; assumption|left;
        apply exp_pos]. }
    replace (w / (w + r)) with (1 / (1 + r / w)); [exact E1|]. field. lra. }
  set (y := iimage prec n d P W). assert (Ey : encv y (out n d dqk M V mask X i)) by (apply iimage_ok; assumption).
  assert (El : enc (il2 prec d y) (len n d dqk M V mask X i)) by (apply il2_ok, Ey).
  refine (conj EP (conj Ey (conj El _))). apply tab_ok. intro b. apply div_ok; [apply Ey|exact El].
Qed.
Lemma irows_ok W QI KI X i t : encm W (vals d V X) -> encm QI (qry d dqk M X) -> encm KI (key d dqk M X) ->
  (let '(P, y, l, u) := t in encv P (share n d dqk M mask X i) /\ encv y (out n d dqk M V mask X i) /\
    enc l (len n d dqk M V mask X i) /\ encv u (unit_ n d dqk M V mask X i)) ->
  encm (irows W QI KI i t) (fun b m => grad n d dqk M V mask X i b (m / d) (m mod d)).
Proof.
  destruct t as [[[P y] l] u]. intros HW HQ HK [EP [Ey [El Eu]]]. unfold irows.
  set (O := tab2 d d _). assert (EO : encm O (proj n d dqk M V mask X i)).
  { apply tab2_ok. intros c b. apply sub_ok; [destruct (Nat.eqb c b); apply ofZ_ok|apply mul_ok; apply Eu]. }
  set (S := iproduct _ _ _ _ VI O). assert (ES : encm S (turn_S n d dqk M V mask X i)) by (apply iproduct_ok;
    assumption).
  set (Z := iproduct _ n d d _ O). assert (EZ : encm Z (turn_Z n d dqk M V mask X i)).
  { apply iproduct_ok; [|exact EO]. apply tab2_ok. intros j b. apply sub_ok; [apply HW|apply Ey]. }
  set (own := tab2 d d _). assert (Eo : encm own (own_ n d dqk M V mask X i)).
  { apply tab2_ok. intros a b. apply isum_ok. intro j. apply mul_ok; [apply mul_ok; [apply EP|apply HK]|apply EZ]. }
  apply tab2_ok. intros b m. apply div_ok; [|exact El]. apply add_ok.
  - apply mul_ok; [apply EP|]. apply add_ok; [apply ES|]. apply mul_ok; [exact (HQ i _)|apply EZ].
  - destruct (Nat.eqb (m / d) i); [apply Eo|apply ofZ_ok].
Qed.
Lemma itokens_ok XI X i : encm XI X -> (i < n)%nat -> let '(P, y, l, u) := nth i (itokens XI) (nil, nil, I.nai,
  nil) in
  encv P (share n d dqk M mask X i) /\ encv y (out n d dqk M V mask X i) /\
    enc l (len n d dqk M V mask X i) /\ encv u (unit_ n d dqk M V mask X i).
Proof.
  intros H I. unfold itokens. rewrite nth_tab. destruct (Nat.ltb_spec i n); [|lia].
  apply itoken_ok; [exact I|exact H|apply ivals_ok, H|]. apply iquery_ok; assumption.
Qed.
Lemma boxed_ok B x : encv B x -> encm (boxed B) (unfold_ d x).
Proof. intro H. apply tab2_ok. intros i a. apply H. Qed.
Definition gradient (x : vec) : mat := fun m l => grad n d dqk M V mask (unfold_ d x) (m / d) (m mod d) (l / d) (l mod
  d).
Lemma ijac_ok B x m : encv B x -> snd (ijac (boxed B)) = true -> (m < N)%nat ->
  encv (row_of (fst (ijac (boxed B))) m) (gradient x m) /\ 0 < len n d dqk M V mask (unfold_ d x) (m / d).
Proof.
  intros X P L. destruct (split_index n d m L) as [I [A _]]. pose proof (boxed_ok B x X) as HX.
  pose proof (itokens_ok _ _ _ HX I) as T. unfold ijac in *. cbn [fst snd] in *. split.
  - unfold row_of. rewrite nth_tab. destruct (Nat.ltb_spec (m / d) n); [|lia]. unfold gradient.
    refine (row_ok _ _ (m mod d) (irows_ok _ _ _ _ _ _ _ _ _ T)); [apply ivals_ok, HX|apply iquery_ok; assumption|].
    apply iquery_ok; [exact HX|apply itranspose_ok, HM].
  - rewrite forallb_forall in P. specialize (P (nth (m / d) (itokens (boxed B)) (nil, nil, I.nai, nil))).
    destruct (nth (m / d) (itokens (boxed B)) (nil, nil, I.nai, nil)) as [[[p y] l] u] eqn:E.
    apply (pos_by _ _ (proj1 (proj2 (proj2 T)))). apply P. rewrite <- E. apply nth_In. unfold itokens.
    rewrite map_length, seq_length. exact I.
Qed.
Hypothesis mask_some : forall i, (i < n)%nat -> exists j, (j < n)%nat /\ 0 < mask i j.
Notation G := (step n d dqk M V mask).
Lemma dl_step x h t m : (m < N)%nat -> 0 < len n d dqk M V mask (unfold_ d (fun l => x l + t * h l)) (m / d) ->
  dl (fun s => G (fun l => x l + s * h l) m) t (sum N (fun l => gradient (fun l => x l + t * h l) m l * h l)).
Proof.
  intros L P. destruct (split_index n d m L) as [I [A _]].
  refine (dl_by _ _ _ _ _ (dl_rest n d dqk M V mask mask_pos mask_some (fun s => unfold_ d (fun l => x l + s * h l))
    (unfold_ d h) t _ (m / d) (m mod d) I A P) (fun _ => eq_refl) _).
  - intros i a. unfold unfold_. refine (dl_by _ _ _ _ _ (dl_add (fun _ => x (i * d + a)%nat) (fun s => s * h (i * d +
      a)%nat) t 0 _ (derivable_pt_lim_const _ t) (dl_scal _ _ _ _ (derivable_pt_lim_id t))) (fun _ => eq_refl) _).
        ring.
  - rewrite <- (sum_block n d (fun l => gradient _ m l * h l)). apply sum_ext. intros k K. apply sum_ext. intros a A'.
    unfold gradient. destruct (index_parts d k a A') as [-> ->]. reflexivity.
Qed.
(** The mean value theorem: slopes between points of a box lie in the derivative over the box. *)
Lemma slopes B x y m : encv B x -> encv B y -> snd (ijac (boxed B)) = true -> (m < N)%nat ->
  exists s, encv (row_of (fst (ijac (boxed B))) m) s /\ G x m - G y m = sum N (fun k => s k * (x k - y k)).
Proof.
  intros X Y P L. set (w := fun t l => y l + t * (x l - y l)).
  assert (Bw : forall t, 0 <= t <= 1 -> encv B (w t)) by (intros t Ht k; apply segment; auto).
  destruct (MVT_cor2 (fun t => G (w t) m) (fun t => sum N (fun l => gradient (w t) m l * (x l - y l))) 0 1 Rlt_0_1) as
    [c [E [C0 C1]]].
  - intros t Ht. apply (dl_step y (fun l => x l - y l)); [exact L|]. exact (proj2 (ijac_ok B (w t) m (Bw t Ht) P L)).
  - exists (gradient (w c) m). split; [apply (ijac_ok B (w c) m); auto; apply Bw; split; lra|].
    replace (G x m) with (G (w 1) m). 2: { f_equal. unfold w. apply
      FunctionalExtensionality.functional_extensionality.
      intro. ring. }
    replace (G y m) with (G (w 0) m). 2: { f_equal. unfold w. apply
      FunctionalExtensionality.functional_extensionality.
      intro. ring. }
    rewrite E. ring.
Qed.
(** the derivative at a point, in every direction *)
Definition derivative_at (F : vec -> vec) (z : vec) (J : mat) : Prop := forall h m, (m < N)%nat ->
  dl (fun t => F (fun l => z l + t * h l) m) 0 (sum N (fun l => J m l * h l)).
Lemma derivative_in B z : encv B z -> snd (ijac (boxed B)) = true -> derivative_at G z (gradient z).
Proof.
  intros Z P h m L. assert (E : (fun l => z l + 0 * h l) = z).
  { apply FunctionalExtensionality.functional_extensionality. intro. ring. }
  pose proof (dl_step z h 0 m L) as K. rewrite E in K. apply K. exact (proj2 (ijac_ok B z m Z P L)).
Qed.
End Layer.

(* ---------- one equilibrium, certified ---------- *)
(** The r rows of X with indices i_k are independent (already their entries in the columns a_k are). *)
Definition independent (r : nat) (X : mat) (i a : nat -> nat) : Prop := forall v : vec,
  (forall q, (q < r)%nat -> sum r (fun k => v k * X (i k) (a q)) = 0) -> forall k, (k < r)%nat -> v k = 0.
(** x = y + R w with |w|_2 <= r: the ellipsoid about y *)
Definition ellipsoid (N : nat) (R : mat) (r : Rdefinitions.R) (y x : vec) : Prop := exists w, l2 N w <= r /\
  forall k, (k < N)%nat -> x k = y k + apply_to N R w k.
Section Certified.
Variable prec : SFZ.precision.
Variables (n d : nat) (dqk : Q) (M V mask S T : list (list Q)) (c : list Q) (rho e rate : Q).
(** [round]: distances are lengths |S (x - y)|_2; else they are the largest entries *)
Variable round : bool.
Let N := (n * d)%nat.
Definition qrow (A : list (list Q)) (k : nat) : Q := qsum N (fun l => Qabs.Qabs (nth l (nth k A nil) 0%Q)).
Definition far : vec -> vec -> R := if round then gap2 N (rows S) else gap N (rows S).
Definition wide_by : R := if round then INR N else 1.
Definition reach (r : Q) (k : nat) : iv := let m := ofQ prec (nth k c 0%Q) in
  let h := if round then I.mul prec (ofQ prec r) (il2 prec N (map (ofQ prec) (nth k T nil))) else ofQ prec (r * qrow T
    k) in
  between (I.sub prec m h) (I.add prec m h).
Definition box (r : Q) : list iv := tab N (reach r).
Definition qm := map (map (ofQ prec)).
(** sums over the entries of a row that are not 0 *)
Definition terms (row : list Q) : list (nat * iv) := map (fun k => (k, ofQ prec (nth k row 0%Q)))
  (filter (fun k => negb (Qeq_bool (nth k row 0%Q) 0)) (seq 0 N)).
Definition isums (l : list (nat * iv)) (f : nat -> iv) : iv :=
  fold_right (fun t s => I.add prec (I.mul prec (snd t) (f (fst t))) s) (ofZ prec 0) l.
Definition column (A : list (list Q)) (l : nat) : list Q := map (fun k => nth l (nth k A nil) 0%Q) (seq 0 N).
Definition qdot (row col : list Q) : Q := fold_right (fun k s => Qred (nth k row 0 * nth k col 0 + s)%Q) 0%Q
  (filter (fun k => negb (Qeq_bool (nth k row 0%Q) 0)) (seq 0 N)).
Definition inverseb (A B : list (list Q)) : bool := let C := map (column B) (seq 0 N) in
  forallb (fun k => let r := nth k A nil in forallb (fun l =>
    Qeq_bool (qdot r (nth l C nil)) (if Nat.eqb k l then 1 else 0)%Q) (seq 0 N)) (seq 0 N).
Definition jacobian (r : Q) : list (list (list iv)) * bool :=
  ijac prec n d (ofQ prec dqk) (qm M) (qm V) (qm mask) (boxed n d (box r)).
(** S J T *)
Definition turned (J : list (list (list iv))) : list (list iv) :=
  let R := map (row_of d J) (seq 0 N) in
  let SJ := map (fun k => let t := terms (nth k S nil) in tab N (fun q => isums t (fun m => at2 R m q))) (seq 0 N) in
  let C := map (fun l => terms (column T l)) (seq 0 N) in
  map (fun k => let r := nth k SJ nil in tab N (fun l => isums (nth l C nil) (at1 r))) (seq 0 N).
Definition middle (A : list (list iv)) : list (list iv) := tab2 N N (fun k l => I.singleton (I.midpoint (at2 A k l))).
Definition rowsb (J : list (list (list iv))) : bool := let A := turned J in
  if round then let m := middle A in
    inonneg (I.sub prec (ofQ prec rate) (I.add prec (iabove prec 8 N N (itranspose N N m))
      (ifrob prec N N (tab2 N N (fun k l => I.sub prec (at2 A k l) (at2 m k l))))))
  else forallb (fun k => inonneg (I.sub prec (ofQ prec rate) (isum prec N (fun l => I.abs (at2 A k l))))) (seq 0 N).
(** how far one layer moves the centre: as it is, and turned by S *)
Definition displaced : list iv :=
  let X := boxed n d (map (ofQ prec) c) in
  let U := map snd (itokens prec n d (ofQ prec dqk) (qm M) (qm V) (qm mask) X) in
  tab N (fun k => I.sub prec (at1 (nth (k / d) U nil) (k mod d)) (ofQ prec (nth k c 0%Q))).
Definition drift : list iv := let g := displaced in tab N (fun k => isums (terms (nth k S nil)) (at1 g)).
Definition startb : bool := let s := drift in
  let most := ofQ prec ((1 - rate) * e) in
  if round then inonneg (I.sub prec most (il2 prec N s))
  else forallb (fun k => inonneg (I.sub prec most (I.abs (at1 s k)))) (seq 0 N).
Definition sizesb : bool := (Qle_bool e rho && negb (Qle_bool e 0) && Qle_bool 0 rate && negb (Qle_bool 1 rate)
  && forallb (fun i => forallb (fun j => Qle_bool 0 (nth j (nth i mask nil) 0%Q)) (seq 0 n)
       && existsb (fun j => negb (Qle_bool (nth j (nth i mask nil) 0%Q) 0)) (seq 0 n)) (seq 0 n))%bool.
Definition certifiedb : bool := sizesb && inverseb S T && inverseb T S && startb && (let J := jacobian rho in
  snd J && rowsb (fst J)).

Lemma filter_sum (f : nat -> bool) (g : nat -> R) : (forall k, f k = false -> g k = 0) ->
  fold_right (fun k s => g k + s) 0 (filter f (seq 0 N)) = sum N g.
Proof.
  intro H. generalize N. intro m. induction m; [reflexivity|]. rewrite seq_S, filter_app. cbn [sum].
  rewrite fold_right_app. rewrite <- IHm. assert (A : forall l x, fold_right (fun k s => g k + s) x l = fold_right
    (fun
    k s => g k + s) 0 l + x) by (clear; intros l x; induction l; simpl; [lra|]; rewrite IHl; lra).
  rewrite A. f_equal. simpl. destruct (f m) eqn:E; simpl; [lra|]. symmetry. apply H, E.
Qed.
Lemma zero_entry row k : negb (Qeq_bool (nth k row 0%Q) 0) = false -> entries row k = 0.
Proof.
  intro H. apply negb_false_iff, Qeq_bool_eq, Qeq_eqR in H. unfold entries. rewrite H. unfold Q2R. simpl. lra.
Qed.
Lemma isums_ok row f g : (forall k, enc (f k) (g k)) -> enc (isums (terms row) f) (sum N (fun k => entries row k * g
  k)).
Proof.
  intro H. rewrite <- (filter_sum (fun k => negb (Qeq_bool (nth k row 0%Q) 0))).
  - unfold isums, terms. induction (filter _ _); simpl; [apply ofZ_ok|]. apply add_ok; [|assumption].
    apply mul_ok; [apply ofQ_ok|apply H].
  - intros k K. rewrite (zero_entry row k K). ring.
Qed.
Lemma qdot_ok row col : sum N (fun k => entries row k * entries col k) = Q2R (qdot row col).
Proof.
  rewrite <- (filter_sum (fun k => negb (Qeq_bool (nth k row 0%Q) 0))).
  - unfold qdot. induction (filter _ _) as [|k l IH]; cbn [fold_right]; [unfold Q2R; simpl; lra|]. rewrite IH.
    unfold entries. rewrite <- Q2R_mult, <- Q2R_plus. exact (ex_red _ _ eq_refl).
  - intros k K. rewrite (zero_entry row k K). ring.
Qed.
Lemma column_entries A l k : (k < N)%nat -> entries (column A l) k = rows A k l.
Proof. intro K. unfold entries, column. rewrite nth_tab. destruct (Nat.ltb_spec k N); [reflexivity|lia]. Qed.
Lemma inverseb_ok A B : inverseb A B = true -> inverse N (rows A) (rows B).
Proof.
  intros H k l K L. unfold inverseb in H. cbv zeta in H. apply (forallb_seq _ _ k) in H; [|exact K].
  apply (forallb_seq _ _ l) in H; [|exact L]. cbv beta zeta in H.
  rewrite nth_tab in H. destruct (Nat.ltb_spec l N); [|lia]. apply Qeq_bool_eq, Qeq_eqR in H.
  rewrite <- qdot_ok in H. rewrite (sum_ext N _ (fun m => entries (nth k A nil) m * entries (column B l) m)).
  - rewrite H. destruct (Nat.eqb k l); unfold Q2R; simpl; lra.
  - intros m Hm. rewrite column_entries by exact Hm. reflexivity.
Qed.
Lemma qrow_ok A k : sum N (fun l => Rabs (rows A k l)) = Q2R (qrow A k).
Proof.
  unfold qrow. rewrite <- qsum_ok. apply sum_ext. intros l _. unfold rows. set (q := nth l (nth k A nil) 0%Q).
  destruct (Qlt_le_dec q 0) as [L|L].
  - rewrite Rabs_left1; [|rewrite <- RMicromega.Q2R_0; apply Qle_Rle, Qlt_le_weak, L]. rewrite <- Q2R_opp.
    apply Qeq_eqR.
    symmetry. apply Qabs.Qabs_neg, Qlt_le_weak, L.
  - rewrite Rabs_right; [|apply Rle_ge; rewrite <- RMicromega.Q2R_0; apply Qle_Rle, L]. apply Qeq_eqR. symmetry.
    apply Qabs.Qabs_pos, L.
Qed.
Lemma qrow_pos A k : 0 <= Q2R (qrow A k). Proof. rewrite <- qrow_ok. apply sum_pos. intros. apply Rabs_pos. Qed.
Lemma far_gauge : gauge N (rows S) wide_by far.
Proof. unfold far, wide_by. destruct round; [apply gauge_gap2|apply gauge_gap]. Qed.
(** how far an entry is, by the distance *)
Lemma entry_far x y k : inverse N (rows T) (rows S) -> (k < N)%nat ->
  Rabs (x k - y k) <= Q2R (qrow T k) * far x y.
Proof.
  intros H K. rewrite <- (apply_inverse N (rows T) (rows S) x k H K), <- (apply_inverse N (rows T) (rows S) y k H K).
  rewrite <- apply_sub. unfold apply_to at 1. eapply Rle_trans; [apply sum_abs|]. rewrite <- qrow_ok, <- sum_scal_r.
  apply sum_le. intros l L.
  rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|]. apply (far_ge _ _ _ _ far_gauge), L.
Qed.
Lemma box_ok r x : inverse N (rows T) (rows S) -> far x (entries c) <= Q2R r -> encv (box r) x.
Proof.
  intros H G k. unfold box, tab, at1. rewrite nth_tab. destruct (Nat.ltb_spec k N) as [K|K]; [|apply enc_nai].
  set (w := if round then l2 N (rows T k) else Q2R (qrow T k)).
  assert (E : Rabs (x k - entries c k) <= Q2R r * w).
  { unfold w. pose proof (entry_far x (entries c) k H K) as E. unfold far in G, E. destruct round.
    - set (v := apply_to N (rows S) (fun l => x l - entries c l)). replace (x k - entries c k) with (dot N (rows T
      k) v).
      + apply Rabs_le. pose proof (cauchy N (rows T k) v) as C1. pose proof (cauchy N (rows T k) (fun l => - v l)) as
          C2. rewrite l2_opp in C2. replace (dot N (rows T k) (fun l => - v l)) with (- dot N (rows T k) v) in C2.
        * change (l2 N v <= Q2R r) in G. pose proof (l2_pos N (rows T k)). pose proof (l2_pos N v).
          assert (l2 N (rows T k) * l2 N v <= l2 N (rows T k) * Q2R r) by (apply Rmult_le_compat_l; assumption). lra.
        * unfold dot. replace (- sum N (fun a => rows T k a * v a)) with ((-1) * sum N (fun a => rows T k a * v a)) by
            ring. rewrite <- sum_scal. apply sum_ext. intros. ring.
      + exact (apply_inverse N (rows T) (rows S) (fun l => x l - entries c l) k H K).
    - pose proof (qrow_pos T k). rewrite Rmult_comm. eapply Rle_trans; [exact E|]. apply Rmult_le_compat_l;
        assumption. }
  apply abs_between in E. apply (between_ok _ _ (entries c k - Q2R r * w) (x k) (entries c k + Q2R r * w)); [| |lra].
  all: unfold w; destruct round.
  1, 2: apply sub_ok. 5, 6: apply add_ok.
  all: try apply ofQ_ok.
  1, 3: apply mul_ok; [apply ofQ_ok|apply il2_ok; exact (entries_ok prec (nth k T nil))].
  all: rewrite <- Q2R_mult; apply ofQ_ok.
Qed.
Notation G := (step n d (Q2R dqk) (rows M) (rows V) (rows mask)).
Hypothesis sizes : sizesb = true.
Lemma mask_pos_b i j : (i < n)%nat -> (j < n)%nat -> 0 <= rows mask i j.
Proof.
  intros I J. pose proof sizes as H. unfold sizesb in H. apply andb_prop in H. destruct H as [_ H].
  apply (forallb_seq _ _ i) in H; [|exact I]. apply andb_prop in H. destruct H as [H _].
  apply Qpos_R. exact (forallb_seq _ _ j H J).
Qed.
Lemma mask_some_b i : (i < n)%nat -> exists j, (j < n)%nat /\ 0 < rows mask i j.
Proof.
  intros I. pose proof sizes as H. unfold sizesb in H. apply andb_prop in H. destruct H as [_ H].
  apply (forallb_seq _ _ i) in H; [|exact I]. apply andb_prop in H. destruct H as [_ H].
  apply existsb_exists in H. destruct H as [j [J K]]. exists j. apply in_seq in J. split; [lia|apply Qlt_R, K].
Qed.
(** two points of the box: S (G x - G y) = A S (x - y), A in S J T *)
Lemma turned_ok r x y : inverse N (rows T) (rows S) -> snd (jacobian r) = true -> encv (box r) x -> encv (box r) y ->
  exists A, encm (turned (fst (jacobian r))) A /\ forall k, (k < N)%nat ->
    apply_to N (rows S) (fun l => G x l - G y l) k = apply_to N A (apply_to N (rows S) (fun l => x l - y l)) k.
Proof.
  intros TS P X Y. destruct (choose N vec (fun _ => 0) (fun m s => encv (row_of d (fst (jacobian r)) m) s /\ G x m
    - G y
    m = sum N (fun k => s k * (x k - y k)))) as [s Hs].
  { intros m Hm. apply (slopes prec n d (Q2R dqk) (rows M) (rows V) (rows mask) _ _ _ _ (ofQ_ok prec dqk) (rows_ok
    prec
      M) (rows_ok prec V) (rows_ok prec mask) mask_pos_b mask_some_b (box r)); assumption. }
  exists (fun k l => if (k <? N)%nat && (l <? N)%nat then sum N (fun q => entries (column T l) q * sum N (fun m =>
    entries (nth k S nil) m * s m q)) else 0). split.
  - intros k l. unfold turned, at2. rewrite nth_tab. destruct (Nat.ltb_spec k N) as [K|K];
      [|unfold at1; destruct l; apply enc_nai].
    unfold at1 at 1, tab at 1. rewrite nth_tab. destruct (Nat.ltb_spec l N) as [L|L]; [|apply enc_nai].
    cbn [andb]. rewrite !nth_tab. destruct (Nat.ltb_spec l N); [|lia]. destruct (Nat.ltb_spec k N); [|lia].
    apply isums_ok. intro q. unfold at1 at 1, tab. rewrite nth_tab. destruct (Nat.ltb_spec q N) as [Hq|Hq]; [|apply
      enc_nai].
    set (s' := fun m => if (m <? N)%nat then s m q else 0).
    replace (sum N (fun m => entries (nth k S nil) m * s m q)) with (sum N (fun m => entries (nth k S nil) m * s' m)).
    + apply isums_ok. intro m. unfold s', at2. rewrite nth_tab. destruct (Nat.ltb_spec m N) as [Hm|Hm]; [apply (Hs m
        Hm)|unfold at1; destruct q; apply enc_nai].
    + apply sum_ext. intros m Hm. unfold s'. destruct (Nat.ltb_spec m N); [reflexivity|lia].
  - intros k K. unfold apply_to at 1 2. transitivity (sum N (fun m => sum N (fun q => rows S k m * s m q * (x q - y
      q)))).
    + apply sum_ext. intros m Hm. rewrite (proj2 (Hs m Hm)), <- sum_scal. apply sum_ext. intros. ring.
    + rewrite sum_swap. transitivity (sum N (fun q => sum N (fun m => rows S k m * s m q) * (x q - y q)));
        [apply sum_ext; intros q _; apply sum_scal_r|].
      transitivity (sum N (fun q => sum N (fun l => sum N (fun m => rows S k m * s m q) * rows T q l * apply_to N
        (rows S) (fun l => x l - y l) l))).
      * apply sum_ext. intros q Hq. rewrite <- (apply_inverse N (rows T) (rows S) (fun l => x l - y l) q TS Hq) at 1.
        unfold apply_to at 1. rewrite <- sum_scal. apply sum_ext. intros. ring.
      * rewrite sum_swap. apply sum_ext. intros l L. apply Nat.ltb_lt in K as K', L as L'. rewrite K', L'. cbn [andb].
        rewrite <- sum_scal_r. apply sum_ext. intros q Hq. rewrite column_entries by exact Hq. unfold entries, rows.
        ring.
Qed.
Lemma frob_ok A w : l2 N (apply_to N A w) <= frob N N A * l2 N w.
Proof.
  unfold l2, frob. rewrite <- sqrt_mult_alt by (apply sum_pos; intros; apply sum_pos; intros; apply Rle_0_sqr).
  apply sqrt_le_1_alt. rewrite <- sum_scal_r. apply sum_le. intros k _. unfold apply_to.
  pose proof (cauchy N (A k) w) as C1. pose proof (cauchy N (A k) (fun l => - w l)) as C2. rewrite l2_opp in C2.
  replace (dot N (A k) (fun l => - w l)) with (- dot N (A k) w) in C2.
  - change (sum N (fun l => A k l * w l)) with (dot N (A k) w). change (sum N (fun i => A k i * A k i)) with (dot N
    (A k)
      (A k)). change (sum N (fun a => w a * w a)) with (dot N w w). rewrite <- !l2_sqr.
    pose proof (l2_pos N (A k)). pose proof (l2_pos N w). set (m := l2 N (A k) * l2 N w) in *.
    replace (l2 N (A k) * l2 N (A k) * (l2 N w * l2 N w)) with (m * m) by (unfold m; ring). nra.
  - unfold dot. replace (- sum N (fun a => A k a * w a)) with ((-1) * sum N (fun a => A k a * w a)) by ring.
    rewrite <- sum_scal. apply sum_ext. intros. ring.
Qed.
Lemma rate_ok J A w : rowsb J = true -> encm (turned J) A ->
  (if round then l2 N (apply_to N A w) <= Q2R rate * l2 N w
  else forall t, 0 <= t -> (forall l, (l < N)%nat -> Rabs (w l) <= t) ->
    forall k, (k < N)%nat -> Rabs (apply_to N A w k) <= Q2R rate * t).
Proof.
  intros H EA. unfold rowsb in H. destruct round.
  - set (m := fun k l => proj_val (I.F.toX (I.midpoint (at2 (turned J) k l)))).
    assert (Em : encm (middle (turned J)) m) by (apply tab2_ok; intros; apply I.singleton_correct). pose proof
      (rabove_ok 8 N N (transpose m)) as [_ Ab].
    assert (E : rabove 8 N N (transpose m) + frob N N (fun k l => A k l - m k l) <= Q2R rate).
    { refine (le_by prec _ _ _ _ _ (ofQ_ok prec rate) H). apply add_ok.
      - apply iabove_ok, itranspose_ok, Em.
      - apply ifrob_ok, tab2_ok. intros k l. apply sub_ok; [apply EA|apply Em]. }
    rewrite (l2_ext N (apply_to N A w) (fun k => image N w (transpose m) k + apply_to N (fun k l => A k l - m k l)
      w k)).
    + eapply Rle_trans; [apply l2_triangle|]. pose proof (Ab w). pose proof (frob_ok (fun k l => A k l - m k l) w).
      pose proof (l2_pos N w). apply (Rmult_le_compat_r (l2 N w)) in E; [|assumption]. lra.
    + intros k _. unfold apply_to, image, transpose. rewrite <- sum_plus. apply sum_ext. intros. ring.
  - intros t P Hw k K. apply (forallb_seq _ _ k) in H; [|exact K]. unfold apply_to.
    eapply Rle_trans; [apply sum_abs|]. apply Rle_trans with (sum N (fun l => Rabs (A k l)) * t).
    + rewrite <- sum_scal_r. apply sum_le. intros l L. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply
      Rabs_pos|apply
        Hw, L].
    + apply Rmult_le_compat_r; [exact P|]. refine (le_by prec _ _ _ _ _ (ofQ_ok prec rate) H). apply isum_ok. intro l.
      apply abs_ok, EA.
Qed.
Lemma start_ok : startb = true -> 0 <= (1 - Q2R rate) * Q2R e -> far (G (entries c)) (entries c) <= (1 - Q2R rate) *
  Q2R e.
Proof.
  intros H P. unfold startb in H. cbv zeta in H.
  assert (Eg : encv displaced (fun k => if (k <? N)%nat then G (entries c) k - entries c k else 0)).
  { intro k. unfold displaced, at1 at 1, tab. rewrite nth_tab. destruct (Nat.ltb_spec k N) as [K|K]; [|apply enc_nai].
    apply sub_ok; [|apply ofQ_ok]. destruct (split_index n d k K) as [I [A _]]. unfold step, fold_.
    rewrite (rest_unit n d _ _ _ _ mask_pos_b mask_some_b) by exact I.
    pose proof (itokens_ok prec n d (Q2R dqk) (rows M) (rows V) (rows mask) _ _ _ _ (ofQ_ok prec dqk) (rows_ok prec M)
      (rows_ok prec V) (rows_ok prec mask) mask_pos_b _ _ (k / d) (boxed_ok n d _ _ (entries_ok prec c)) I) as T0.
    change (@nil iv) with (snd (@nil iv, @nil iv, I.nai, @nil iv)). rewrite map_nth.
    destruct (nth (k / d) _ _) as [[[p y] l] u]. apply T0. }
  assert (Es : encv drift (fun k => if (k <? N)%nat then apply_to N (rows S) (fun l => G (entries
    c) l - entries c l) k else 0)).
  { intro k. unfold drift, at1 at 1, tab. rewrite nth_tab. destruct (Nat.ltb_spec k N) as [K|K]; [|apply enc_nai].
    unfold apply_to. rewrite (sum_ext N _ (fun l => entries (nth k S nil) l * (if (l <? N)%nat then G (entries c) l -
      entries c l else 0))).
    - apply isums_ok, Eg.
    - intros l L. apply Nat.ltb_lt in L. rewrite L. reflexivity. }
  assert (Q1 : enc (ofQ prec ((1 - rate) * e)) ((1 - Q2R rate) * Q2R e)).
  { replace ((1 - Q2R rate) * Q2R e) with (Q2R ((1 - rate) * e)); [apply ofQ_ok|].
    rewrite Q2R_mult, Q2R_minus. replace (Q2R 1) with 1 by (unfold Q2R; simpl; lra). reflexivity. }
  unfold far. destruct round.
  - refine (le_by prec _ _ _ _ _ Q1 H). unfold gap2. rewrite (l2_ext N _ (fun k => if (k <? N)%nat then apply_to N
    (rows
      S) (fun l => G (entries c) l - entries c l) k else 0)).
    + apply il2_ok, Es.
    + intros k K. apply Nat.ltb_lt in K. rewrite K. reflexivity.
  - apply maxf_le; [exact P|]. intros k K. apply (forallb_seq _ _ k) in H; [|exact K].
    refine (le_by prec _ _ _ _ _ Q1 H). apply abs_ok. pose proof (Es k) as E. cbv beta in E.
    apply Nat.ltb_lt in K. rewrite K in E. exact E.
Qed.
Theorem certified_ok : certifiedb = true -> inverse N (rows S) (rows T) /\ inverse N (rows T) (rows S) /\
  (forall x y, far x (entries c) <= Q2R rho -> far y (entries c) <= Q2R rho -> far (G x) (G y) <= Q2R rate * far x
    y) /\
  (forall x, far x (entries c) <= Q2R rho -> far (G x) (entries c) <= Q2R rho) /\
  exists z : vec, far z (entries c) <= Q2R e /\
  (forall i a, (i < n)%nat -> (a < d)%nat -> rest_map n d (Q2R dqk) (rows M) (rows V) (rows mask) (unfold_ d z) i a =
    unfold_ d z i a) /\
  (forall y, far y (entries c) <= Q2R rho -> (forall k, (k < N)%nat -> G y k = y k) -> forall k, (k < N)%nat ->
    y k = z k) /\
  (forall x, far x (entries c) <= Q2R rho -> forall t, far (Nat.iter t G x) z <= Q2R rate ^ t * (2 * Q2R rho)).
Proof.
  intro H. unfold certifiedb in H. repeat (apply andb_prop in H; destruct H as [H ?]).
  match goal with K : context [rowsb] |- _ => cbv zeta in K; apply andb_prop in K; destruct K as [JP JR] end.
  unfold sizesb in H. repeat (apply andb_prop in H; destruct H as [H ?]).
  assert (ST : inverse N (rows S) (rows T)) by (apply inverseb_ok; assumption).
  assert (TS : inverse N (rows T) (rows S)) by (apply inverseb_ok; assumption).
  assert (E0 : 0 < Q2R e) by (apply Qlt_R; assumption). assert (Er : Q2R e <= Q2R rho) by (apply Qle_R; assumption).
  assert (R0 : 0 <= Q2R rate) by (apply Qpos_R; assumption).
  assert (R1 : Q2R rate < 1).
  { replace 1 with (Q2R 1) by (unfold Q2R; simpl; lra). apply (lt_ex _ _ _ _ (ex_Q _) (ex_Q _)). assumption. }
  assert (C : forall x y, far x (entries c) <= Q2R rho -> far y (entries c) <= Q2R rho ->
    far (G x) (G y) <= Q2R rate * far x y).
  { intros x y X Y. apply box_ok in X; [|exact TS]. apply box_ok in Y; [|exact TS].
    destruct (turned_ok rho x y TS JP X Y) as [A [EA EQ]].
    pose proof (rate_ok _ A (apply_to N (rows S) (fun l => x l - y l)) JR EA) as B. unfold far. destruct round.
    - unfold gap2. rewrite (l2_ext N _ _ EQ). exact B.
    - pose proof (far_pos _ _ _ _ (gauge_gap N (rows S)) x y). apply maxf_le; [apply Rmult_le_pos; assumption|].
      intros k K. rewrite EQ by exact K. apply B; [assumption| |exact K]. intros l L.
      exact (maxf_ge N (fun k => Rabs (apply_to N (rows S) (fun l => x l - y l) k)) l L). }
  assert (St : far (G (entries c)) (entries c) <= (1 - Q2R rate) * Q2R e).
  { apply start_ok; [assumption|]. apply Rmult_le_pos; lra. }
  assert (W0 : 0 <= wide_by) by (unfold wide_by; destruct round; [apply pos_INR|lra]).
  destruct (one_equilibrium N (rows S) (rows T) wide_by far (entries c) (Q2R e) (Q2R rate) G far_gauge ST TS W0 E0
    (conj R0 R1)) as [w [W1 [W2 _]]]; [intros; apply C; lra|exact St|].
  assert (Sr : far (G (entries c)) (entries c) <= (1 - Q2R rate) * Q2R rho).
  { eapply Rle_trans; [exact St|]. apply Rmult_le_compat_l; lra. }
  destruct (one_equilibrium N (rows S) (rows T) wide_by far (entries c) (Q2R rho) (Q2R rate) G far_gauge ST TS W0
    ltac:(lra) (conj R0 R1) C Sr) as [z [Z1 [Z2 [Z3 Z4]]]].
  assert (WZ : forall k, (k < N)%nat -> w k = z k) by (apply Z3; [lra|exact W2]).
  assert (In : forall x, far x (entries c) <= Q2R rho -> far (G x) (entries c) <= Q2R rho).
  { intros x X. apply (stays N (rows S) wide_by far (entries c) (Q2R rho) (Q2R rate) G far_gauge); auto; lra. }
  refine (conj ST (conj TS (conj C (conj In (ex_intro _ z _))))). split; [|split; [|split]].
  - eapply Rle_trans; [apply (far_triangle _ _ _ _ far_gauge) with (y := w)|].
    assert (Z : far z w <= 0) by (apply (far_same N (rows S) wide_by far far_gauge); intros; symmetry; apply WZ;
      assumption). lra.
  - intros i a I A. assert (L : (i * d + a < N)%nat) by (unfold N; nia). specialize (Z2 (i * d + a)%nat L).
    unfold step, fold_ in Z2. destruct (index_parts d i a A) as [E1 E2]. rewrite E1, E2 in Z2. exact Z2.
  - exact Z3.
  - intros x X t. eapply Rle_trans; [apply Z4, X|]. apply Rmult_le_compat_l; [apply pow_le; lra|].
    pose proof (far_triangle _ _ _ _ far_gauge x (entries c) z). rewrite (far_sym _ _ _ _ far_gauge (entries c)) in *.
    lra.
Qed.
(* eigen *)
(** Eigenvalues a + b i of the derivative J at the equilibrium, by discs in the scales u. *)
Variables (values scales : list Q) (within : Q).
Definition spectrumb : bool := let J := jacobian e in let u := map (ofQ prec) scales in
  snd J && forallb (fun p => let r := row_of d (fst J) p in negb (Qle_bool (nth p scales 0%Q) 0) &&
    inonneg (I.sub prec (I.mul prec (ofQ prec within) (at1 u p)) (isum prec N (fun l => I.mul prec (at1 u l)
      (I.abs (if Nat.eqb p l then I.sub prec (at1 r l) (ofQ prec (nth p values 0%Q)) else at1 r l)))))) (seq 0 N).
Definition eigenvalue (J : mat) (a b : R) : Prop := exists u v : vec, (exists k, (k < N)%nat /\ (u k <> 0 \/ v k <>
  0))
  /\ forall k, (k < N)%nat -> apply_to N J u k = a * u k - b * v k /\ apply_to N J v k = b * u k + a * v k.
Theorem spectrum_ok z : inverse N (rows T) (rows S) -> far z (entries c) <= Q2R e -> spectrumb = true ->
  exists J, derivative_at n d G z J /\ forall a b, eigenvalue J a b -> exists p, (p < N)%nat /\
    (a - entries values p) ^ 2 + b ^ 2 <= Q2R within ^ 2.
Proof.
  intros TS Z H. apply box_ok in Z; [|exact TS]. unfold spectrumb in H. cbv zeta in H. apply andb_prop in H.
  destruct H as [JP H]. set (J := gradient n d (Q2R dqk) (rows M) (rows V) (rows mask) z).
  exists J. split; [exact (derivative_in prec n d (Q2R dqk) (rows M) (rows V) (rows mask) _ _ _ _ (ofQ_ok prec dqk)
    (rows_ok prec M) (rows_ok prec V) (rows_ok prec mask) mask_pos_b mask_some_b (box e) z Z JP)|].
  intros a b [u [v [[k0 [K0 NZ]] EV]]].
  set (s := entries scales). set (D := fun p l => if Nat.eqb p l then J p l - entries values p else J p l).
  assert (Rows : forall p, (p < N)%nat -> 0 < s p /\ sum N (fun l => s l * Rabs (D p l)) <= Q2R within * s p).
  { intros p P. pose proof (forallb_seq _ _ p H P) as K. cbv beta in K. apply andb_prop in K. destruct K as [K1 K2].
    split; [apply Qlt_R, K1|]. refine (le_by prec _ _ _ _ _ _ K2).
    - apply isum_ok. intro l. apply mul_ok; [apply entries_ok|]. apply abs_ok.
      assert (E : enc (at1 (row_of d (fst (jacobian e)) p) l) (J p l)) by exact (proj1 (ijac_ok prec n d (Q2R dqk)
        (rows
        M) (rows V) (rows mask) _ _ _ _ (ofQ_ok prec dqk) (rows_ok prec M) (rows_ok prec V) (rows_ok prec mask) mask_pos_b
          (box e)
        z p Z JP P) l).
      unfold D. destruct (Nat.eqb p l); [apply sub_ok; [exact E|apply ofQ_ok]|exact E].
    - apply mul_ok; [apply ofQ_ok|apply entries_ok]. }
  set (m := fun k => sqrt (u k * u k + v k * v k)).
  assert (S0 : forall x y : R, 0 <= x * x + y * y) by (intros; nra).
  assert (M0 : forall k, 0 <= m k) by (intro; apply sqrt_pos).
  assert (M2 : forall k, m k * m k = u k * u k + v k * v k) by (intro; apply sqrt_sqrt, S0).
  (* the row where m/s is largest *)
  assert (Top : exists p, (p < N)%nat /\ 0 < m p /\ forall l, (l < N)%nat -> m l * s p <= m p * s l).
  { assert (G : forall j, (j <= N)%nat -> (0 < j)%nat -> exists p, (p < j)%nat /\ forall l, (l < j)%nat -> m l * s
    p <=
      m p * s l).
    { induction j; intros J1 J2; [lia|]. destruct (Nat.eq_dec j 0) as [->|Nz].
      - exists 0%nat. split; [lia|]. intros l L. replace l with 0%nat by lia. lra.
      - destruct IHj as [p [P B]]; [lia|lia|]. destruct (Rle_lt_dec (m j * s p) (m p * s j)) as [L|L].
        + exists p. split; [lia|]. intros l Hl. destruct (Nat.eq_dec l j) as [->|]; [exact L|apply B; lia].
        + exists j. split; [lia|]. intros l Hl. destruct (Nat.eq_dec l j) as [->|]; [lra|].
          pose proof (B l ltac:(lia)) as Bl. destruct (Rows p ltac:(lia)) as [Sp _]. destruct (Rows l ltac:(lia))
            as [Sl
            _]. destruct (Rows j ltac:(lia)) as [Sj _]. apply (Rmult_le_reg_r (s p)); [exact Sp|].
          apply (Rmult_le_compat_r (s j)) in Bl; [|lra]. apply (Rmult_lt_compat_r (s l)) in L; [|exact Sl]. lra. }
    destruct (G N) as [p [P B]]; [lia|lia|]. exists p. split; [exact P|]. split; [|exact B].
    destruct (M0 p) as [|E]; [assumption|exfalso]. specialize (B k0 K0). rewrite <- E, Rmult_0_l in B.
    destruct (Rows p P) as [Sp _]. pose proof (M0 k0). assert (Mk : m k0 = 0) by nra. pose proof (M2 k0) as Q2.
    rewrite Mk in Q2. destruct NZ as [NZ|NZ]; apply NZ; nra. }
  destruct Top as [p [P [Mp B]]]. destruct (Rows p P) as [Sp Row]. exists p. split; [exact P|].
  set (x := a - entries values p). (* (x + b i)(u_p + v_p i) = sum_l D_pl (u_l + v_l i) *)
  assert (Dw : forall w, sum N (fun l => D p l * w l) = apply_to N J w p - entries values p * w p).
  { intro w. unfold apply_to. rewrite <- (sum_pick N p w P). unfold Rminus. replace (- (entries values p * sum N
    (fun j
      => (if Nat.eqb p j then 1 else 0) * w j))) with ((- entries values p) * sum N (fun j => (if Nat.eqb p j then
        1 else
      0) * w j)) by ring. rewrite <- sum_scal, <- sum_plus. apply sum_ext. intros l _. unfold D.
    destruct (Nat.eqb p l); ring. }
  destruct (EV p P) as [E1 E2]. pose proof (Dw u) as Du. pose proof (Dw v) as Dv. rewrite E1 in Du. rewrite E2 in Dv.
  set (A := x * u p - b * v p). set (B' := b * u p + x * v p).
  replace (a * u p - b * v p - entries values p * u p) with A in Du by (unfold A, x; ring).
  replace (b * u p + a * v p - entries values p * v p) with B' in Dv by (unfold B', x; ring).
  set (h := sqrt (A * A + B' * B')). assert (H2 : h * h = A * A + B' * B') by (apply sqrt_sqrt, S0).
  assert (Hp : 0 <= h) by apply sqrt_pos.
  (* h^2 = sum D_pl (A u_l + B' v_l) <= h sum |D_pl| m_l *)
  assert (Up : h * h <= h * (Q2R within * m p)).
  { rewrite H2. replace (A * A + B' * B') with (sum N (fun l => A * (D p l * u l) + B' * (D p l * v l))).
    2: { rewrite sum_plus, !sum_scal, Du, Dv. ring. }
    apply Rle_trans with (h * sum N (fun l => Rabs (D p l) * m l)).
    - rewrite <- sum_scal. apply sum_le. intros l _. replace (A * (D p l * u l) + B' * (D p l * v l)) with (D p l *
      (A * u
        l + B' * v l)) by ring. eapply Rle_trans; [apply Rle_abs|]. rewrite Rabs_mult.
      replace (h * (Rabs (D p l) * m l)) with (Rabs (D p l) * (h * m l)) by ring. apply Rmult_le_compat_l;
        [apply Rabs_pos|]. rewrite <- (Rabs_right (h * m l)) by (apply Rle_ge, Rmult_le_pos; auto).
      apply Rsqr_le_abs_0. unfold Rsqr. replace (h * m l * (h * m l)) with ((h * h) * (m l * m l)) by ring.
      rewrite H2, M2. pose proof (Rle_0_sqr (A * v l - B' * u l)) as Sq. unfold Rsqr in Sq. lra.
    - apply Rmult_le_compat_l; [exact Hp|]. apply (Rmult_le_reg_r (s p)); [exact Sp|].
      apply Rle_trans with (m p * sum N (fun l => s l * Rabs (D p l))).
      + rewrite <- sum_scal_r, <- sum_scal. apply sum_le. intros l L. pose proof (B l L). pose proof (Rabs_pos (D p
        l)).
        replace (Rabs (D p l) * m l * s p) with (Rabs (D p l) * (m l * s p)) by ring.
        replace (m p * (s l * Rabs (D p l))) with (Rabs (D p l) * (m p * s l)) by ring.
        apply Rmult_le_compat_l; assumption.
      + replace (Q2R within * m p * s p) with (m p * (Q2R within * s p)) by ring. apply Rmult_le_compat_l; [lra|exact
          Row]. }
  assert (Hs : h <= Q2R within * m p).
  { destruct Hp as [Hp|E]; [apply (Rmult_le_reg_l h); assumption|]. rewrite <- E.
    assert (0 <= Q2R within * s p).
    { eapply Rle_trans; [|exact Row]. apply sum_pos. intros l L. apply Rmult_le_pos; [left; apply (Rows l
      L)|apply Rabs_pos]. } assert (0 <= Q2R within) by nra. nra. }
  assert (HH : h * h = (x ^ 2 + b ^ 2) * (m p * m p)) by (rewrite H2, M2; unfold A, B'; ring).
  assert (h * h <= (Q2R within * m p) * (Q2R within * m p)) by nra.
  apply (Rmult_le_reg_r (m p * m p)); [nra|]. rewrite <- HH. lra.
Qed.
End Certified.
(** An equilibrium that attracts a box: all tokens with entries within [ball] of c. *)
Section Attracting.
Variable prec : SFZ.precision.
Variables (n d : nat) (dqk : Q) (M V mask S T : list (list Q)) (c : list Q) (rho e rate : Q).
Let N := (n * d)%nat.
Notation G := (step n d (Q2R dqk) (rows M) (rows V) (rows mask)).
Notation F := (rest_map n d (Q2R dqk) (rows M) (rows V) (rows mask)).
Definition widthb (wide : Q) : bool := forallb (fun k => Qle_bool (qrow n d T k) wide) (seq 0 N).
Lemma width_ok round wide z : widthb wide = true -> inverse N (rows T) (rows S) -> far n d S round z (entries c) <=
  Q2R
  e -> forall k, (k < N)%nat -> Rabs (z k - entries c k) <= Q2R (wide * e).
Proof.
  intros W TS Z k K. eapply Rle_trans; [apply (entry_far n d S T round); assumption|]. rewrite Q2R_mult.
  apply Rmult_le_compat; [apply qrow_pos|apply (far_pos _ _ _ _ (far_gauge n d S round))| |exact Z].
  apply Qle_R. exact (forallb_seq _ _ k W K).
Qed.
Lemma sizes_of round : certifiedb prec n d dqk M V mask S T c rho e rate round = true ->
  sizesb n mask rho e rate = true.
Proof. intro H. unfold certifiedb in H. do 4 (apply andb_prop in H; destruct H as [H _]). exact H. Qed.
Theorem attracts_box (ball wide : Q) :
  (certifiedb prec n d dqk M V mask S T c rho e rate false && widthb wide &&
    forallb (fun k => Qle_bool (ball * qrow n d S k) rho) (seq 0 N))%bool = true -> exists z : vec,
  (forall k, (k < N)%nat -> Rabs (z k - entries c k) <= Q2R (wide * e)) /\
  (forall i a, (i < n)%nat -> (a < d)%nat -> F (unfold_ d z) i a = unfold_ d z i a) /\
  (forall y, (forall k, (k < N)%nat -> Rabs (y k - entries c k) <= Q2R ball) ->
    (forall k, (k < N)%nat -> G y k = y k) -> forall k, (k < N)%nat -> y k = z k) /\
  (forall x, (forall k, (k < N)%nat -> Rabs (x k - entries c k) <= Q2R ball) -> forall t k, (k < N)%nat ->
     Rabs (Nat.iter t G x k - z k) <= Q2R rate ^ t * Q2R (2 * wide * rho)) /\
  inverse N (rows T) (rows S) /\ far n d S false z (entries c) <= Q2R e.
Proof.
  intro H. apply andb_prop in H. destruct H as [H B]. apply andb_prop in H. destruct H as [H W].
  destruct (certified_ok prec n d dqk M V mask S T c rho e rate false (sizes_of _ H) H) as [ST [TS [_ [_ [z [Z1
    [Z2 [Z3 Z4]]]]]]]].
  assert (Near : forall x, (forall k, (k < N)%nat -> Rabs (x k - entries c k) <= Q2R ball) ->
    far n d S false x (entries c) <= Q2R rho).
  { intros x X. apply maxf_le.
    - pose proof (far_pos _ _ _ _ (far_gauge n d S false) z (entries c)). pose proof (sizes_of _ H) as Sz.
      unfold sizesb in Sz. repeat (apply andb_prop in Sz; destruct Sz as [Sz ?]). apply Qle_R in Sz. lra.
    - intros k K. unfold apply_to. eapply Rle_trans; [apply sum_abs|].
      pose proof (Qle_R _ _ (forallb_seq _ _ k B K)) as Bk. eapply Rle_trans; [|exact Bk].
      rewrite Q2R_mult, <- qrow_ok, <- sum_scal. apply sum_le. intros l L. rewrite Rabs_mult, Rmult_comm.
      apply Rmult_le_compat_r; [apply Rabs_pos|apply X, L]. }
  exists z. split; [apply (width_ok false); assumption|]. split; [exact Z2|]. split; [intros y Y; apply Z3, Near, Y|].
  split; [|split; assumption]. intros x X t k K.
  eapply Rle_trans; [apply (entry_far n d S T false); assumption|]. specialize (Z4 x (Near x X) t).
  replace (Q2R rate ^ t * Q2R (2 * wide * rho)) with (Q2R wide * (Q2R rate ^ t * (2 * Q2R rho))).
  2: { rewrite !Q2R_mult. replace (Q2R 2) with 2 by (unfold Q2R; simpl; lra). ring. }
  apply Rmult_le_compat; [apply qrow_pos|apply (far_pos _ _ _ _ (far_gauge n d S false))| |exact Z4].
  apply Qle_R. exact (forallb_seq _ _ k W K).
Qed.
(** An equilibrium that attracts an ellipsoid: all c + T w with |w|_2 <= rho. *)
Lemma ellipsoid_far r x y : inverse N (rows S) (rows T) -> inverse N (rows T) (rows S) ->
  ellipsoid N (rows T) r y x <-> far n d S true x y <= r.
Proof.
  intros ST TS. change (far n d S true x y) with (l2 N (apply_to N (rows S) (fun l => x l - y l))). split.
  - intros [w [W E]]. rewrite (l2_ext N _ w); [exact W|]. intros k K. rewrite <- (apply_inverse N _ _ w k ST K).
    unfold apply_to at 1 2. apply sum_ext. intros l L. rewrite E by exact L. ring.
  - intro H. exists (apply_to N (rows S) (fun l => x l - y l)). split; [exact H|]. intros k K.
    rewrite (apply_inverse N _ _ (fun l => x l - y l) k TS K). ring.
Qed.
Theorem attracts_ellipsoid (wide : Q) :
  (certifiedb prec n d dqk M V mask S T c rho e rate true && widthb wide)%bool = true -> exists z : vec,
  (forall k, (k < N)%nat -> Rabs (z k - entries c k) <= Q2R (wide * e)) /\
  (forall i a, (i < n)%nat -> (a < d)%nat -> F (unfold_ d z) i a = unfold_ d z i a) /\
  (forall y, ellipsoid N (rows T) (Q2R rho) (entries c) y ->
    (forall k, (k < N)%nat -> G y k = y k) -> forall k, (k < N)%nat -> y k = z k) /\
  (forall x, ellipsoid N (rows T) (Q2R rho) (entries c) x -> ellipsoid N (rows T) (Q2R rho) (entries c) (G x)) /\
  (forall x y r, ellipsoid N (rows T) (Q2R rho) (entries c) x -> ellipsoid N (rows T) (Q2R rho) (entries c) y ->
    ellipsoid N (rows T) r y x -> ellipsoid N (rows T) (Q2R rate * r) (G y) (G x)) /\
  (forall x, ellipsoid N (rows T) (Q2R rho) (entries c) x -> forall t,
     ellipsoid N (rows T) (Q2R rate ^ t * Q2R (2 * rho)) z (Nat.iter t G x)).
Proof.
  intro H. apply andb_prop in H. destruct H as [H W]. pose proof (sizes_of _ H) as Sz.
  destruct (certified_ok prec n d dqk M V mask S T c rho e rate true Sz H) as [ST [TS [C [In [z [Z1 [Z2 [Z3
    Z4]]]]]]]].
  assert (R0 : 0 <= Q2R rate).
  { unfold sizesb in Sz. repeat (apply andb_prop in Sz; destruct Sz as [Sz ?]). apply Qpos_R. assumption. }
  pose proof (fun r x y => ellipsoid_far r x y ST TS) as E.
  exists z. split; [apply (width_ok true); assumption|]. split; [exact Z2|].
  split; [intros y Y; apply Z3, E, Y|]. split; [intros x X; apply E, In, E, X|]. split.
  - intros x y r X Y D. apply E. eapply Rle_trans; [apply C; apply E; assumption|]. apply Rmult_le_compat_l; [exact
      R0|apply E, D].
  - intros x X t. apply E. rewrite Q2R_mult. replace (Q2R 2) with 2 by (unfold Q2R; simpl; lra). apply Z4, E, X.
Qed.
End Attracting.

(** Rows that are independent at the centre, and stay so within w of it: |1 - A K| < 1 in every column. *)
Section Rank.
Variable prec : SFZ.precision.
Variables (d : nat) (c : list Q) (w : Q) (rws cls : list nat) (K : list (list Q)).
Let r := length rws.
Definition place (k q : nat) : nat := (nth k rws 0 * d + nth q cls 0)%nat.
Definition minor_box : list (list iv) := tab2 r r (fun k q => let m := nth (place k q) c 0%Q in between (ofQ prec (m -
  w)) (ofQ prec (m + w))).
Definition minorb : bool := let P := iproduct prec r r r minor_box (map (map (ofQ prec)) K) in
  forallb (fun q => ipos (I.sub prec (ofZ prec 1) (isum prec r (fun k =>
    I.abs (I.sub prec (ofZ prec (if Nat.eqb k q then 1 else 0)) (at2 P k q)))))) (seq 0 r).
Lemma maxf_small n f m : 0 < m -> (forall k, (k < n)%nat -> f k < m) -> maxf n f < m.
Proof. intros P H. induction n; simpl; [exact P|]. apply Rmax_lub_lt; auto. Qed.
Lemma minorb_ok z : (forall k q, (k < r)%nat -> (q < r)%nat -> Rabs (z (place k q) - entries c (place k q)) <= Q2R w)
  -> minorb = true ->
  independent r (unfold_ d z) (fun k => nth k rws 0%nat) (fun q => nth q cls 0%nat).
Proof.
  intros Z H v E. set (A := fun k q => if andb (k <? r)%nat (q <? r)%nat then z (place k q) else 0).
  assert (EA : encm minor_box A).
  { intros k q. unfold minor_box, tab2, at2, at1. rewrite nth_tab.
    destruct (Nat.ltb_spec k r) as [L|L]; [|destruct q; apply enc_nai].
    unfold tab. rewrite nth_tab. destruct (Nat.ltb_spec q r) as [M|M]; [|apply enc_nai]. unfold A.
    apply Nat.ltb_lt in L as L', M as M'. rewrite L', M'. cbn [andb]. specialize (Z k q L M). apply abs_between in Z.
    unfold entries in Z.
    apply (between_ok _ _ _ _ _ (ofQ_ok prec _) (ofQ_ok prec _)). rewrite Q2R_minus, Q2R_plus. lra. }
  set (m := maxf r (fun k => Rabs (v k))). set (D := fun k q => (if Nat.eqb k q then 1 else 0) - product r A (rows K) k
    q).
  assert (Col : forall q, (q < r)%nat -> sum r (fun k => Rabs (D k q)) < 1).
  { intros q Q. pose proof (forallb_seq _ _ q H Q) as P. refine (lt_by prec _ _ _ _ _ (ofZ_ok prec 1) P).
    apply isum_ok. intro k. apply abs_ok.
    apply sub_ok; [destruct (Nat.eqb k q); apply ofZ_ok|]. apply iproduct_ok; [exact EA|apply rows_ok]. }
  assert (V : forall q, (q < r)%nat -> v q = sum r (fun k => v k * D k q)).
  { intros q Q. unfold D. rewrite (sum_ext r _ (fun k => (if Nat.eqb q k then 1 else 0) * v k + (-1) * (v k * product r
      A (rows K) k q))) by (intros k _; rewrite (Nat.eqb_sym q k); ring).
    rewrite sum_plus, sum_scal, sum_pick by exact Q.
    replace (sum r (fun k => v k * product r A (rows K) k q)) with 0; [lra|]. symmetry. unfold product.
    transitivity (sum r (fun b => sum r (fun k => v k * A k b) * rows K b q)).
    - transitivity (sum r (fun k => sum r (fun b => v k * A k b * rows K b q))).
      + apply sum_ext. intros k _. rewrite <- sum_scal. apply sum_ext. intros. ring.
      + rewrite sum_swap. apply sum_ext. intros b _. apply sum_scal_r.
    - rewrite (sum_ext r _ (fun _ => 0 * 0)); [rewrite (sum_scal r 0); lra|]. intros b L.
      rewrite (sum_ext r _ (fun k => v k * unfold_ d z (nth k rws 0%nat) (nth b cls 0%nat))).
      + rewrite E by exact L. lra.
      + intros k L2. unfold A. apply Nat.ltb_lt in L as L', L2 as L2'. rewrite L', L2'. reflexivity. }
  assert (S1 : maxf r (fun q => sum r (fun k => Rabs (D k q))) < 1) by (apply maxf_small; [lra|exact Col]).
  assert (M0 : m <= maxf r (fun q => sum r (fun k => Rabs (D k q))) * m).
  { apply maxf_le; [apply Rmult_le_pos; apply maxf_pos|]. intros q Q. rewrite (V q Q).
    eapply Rle_trans; [apply sum_abs|].
    apply Rle_trans with (sum r (fun k => Rabs (D k q)) * m).
    - rewrite <- sum_scal_r. apply sum_le. intros k L. rewrite Rabs_mult, Rmult_comm.
      apply Rmult_le_compat_l; [apply Rabs_pos|].
      exact (maxf_ge r (fun k => Rabs (v k)) k L).
    - apply Rmult_le_compat_r; [apply maxf_pos|]. exact (maxf_ge r (fun q => sum r (fun k => Rabs (D k q))) q Q). }
  intros k L. pose proof (maxf_ge r (fun k => Rabs (v k)) k L) as B. fold m in B.
  pose proof (maxf_pos r (fun k => Rabs (v k))) as P. fold m in P.
  assert (Rabs (v k) <= 0) by nra. apply abs_between in H0. lra.
Qed.
End Rank.

(** Columns that vanish at the start and into which W_V sends nothing from the others: they vanish in the limit. *)
Section Zeros.
Variables (n d : nat) (dqk : R) (M V mask : mat) (cls : list nat).
Definition other (b : nat) : bool := negb (existsb (Nat.eqb b) cls).
Definition flat (x : vec) : Prop := forall i b, (i < n)%nat -> (b < d)%nat -> other b = true -> unfold_ d x i b = 0.
Hypothesis K : forall a b, (a < d)%nat -> (b < d)%nat -> other a = false -> other b = true -> V a b = 0.
Lemma flat_step x : flat x -> flat (step n d dqk M V mask x).
Proof.
  intros F i b I B O. unfold unfold_ at 1, step, fold_. rewrite Nat.div_add_l, (Nat.div_small b d), Nat.add_0_r by lia.
  rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small by lia. unfold rest_map, sphere.
  match goal with |- ?u / _ = 0 => replace u with 0; [unfold Rdiv; ring|] end. symmetry. unfold mixed.
  rewrite (sum_ext d _ (fun _ => 0 * 0)); [rewrite (sum_scal d 0); ring|]. intros a A. rewrite Rmult_0_l.
  destruct (other a) eqn:E; [|rewrite (K a b) by assumption; ring].
  rewrite (sum_ext n _ (fun _ => 0 * 0)); [rewrite (sum_scal n 0); ring|]. intros j J. rewrite (F j a) by assumption.
  ring.
Qed.
Lemma zeros_stay c z q C : flat c -> 0 <= q < 1 -> (forall t k, (k < n * d)%nat ->
  Rabs (Nat.iter t (step n d dqk M V mask) c k - z k) <= q ^ t * C) -> flat z.
Proof.
  intros F Q H i b I B O. assert (L : (i * d + b < n * d)%nat) by nia.
  assert (Z : forall t, Rabs (unfold_ d z i b) <= q ^ t * C).
  { intro t. specialize (H t _ L). assert (G : flat (Nat.iter t (step n d dqk M V mask) c)).
    { clear - F K. induction t as [|t IH]; [exact F|]. apply flat_step, IH. }
    specialize (G i b I B O). unfold unfold_ in *. rewrite G in H. rewrite Rabs_minus_sym, Rminus_0_r in H. exact H. }
  destruct (Req_dec (unfold_ d z i b) 0) as [|N]; [assumption|exfalso]. apply Rabs_pos_lt in N.
  assert (C0 := Z 0%nat). cbn [pow] in C0. destruct (pow_lt_1_zero q ltac:(rewrite Rabs_right; lra)
    (Rabs (unfold_ d z i b) / C) ltac:(apply Rdiv_lt_0_compat; lra)) as [t T]. specialize (T t (Nat.le_refl t)).
  specialize (Z t). rewrite Rabs_right in T by (apply Rle_ge, pow_le; lra).
  apply (Rmult_lt_compat_r C) in T; [|lra]. replace (Rabs (unfold_ d z i b) / C * C) with (Rabs (unfold_ d z i b)) in T
    by (field; lra). lra.
Qed.
End Zeros.
Definition flatb (n d : nat) (V : list (list Q)) (c : list Q) (cls : list nat) : bool :=
  forallb (fun b => negb (other cls b) || (forallb (fun a => other cls a || Qeq_bool (nth b (nth a V nil) 0) 0) (seq 0 d)
    && forallb (fun i => Qeq_bool (nth (i * d + b) c 0) 0) (seq 0 n))%Q) (seq 0 d).
Lemma zeros_stay_b n d dqk M V mask c cls z q C : flatb n d V c cls = true -> 0 <= q < 1 ->
  (forall t k, (k < n * d)%nat -> Rabs (Nat.iter t (step n d dqk M (rows V) mask) (entries c) k - z k) <= q ^ t * C) ->
  flat n d cls z.
Proof.
  intros F. apply zeros_stay.
  - intros a b A B Oa Ob. pose proof (forallb_seq _ _ b F B) as P. cbv beta in P. rewrite Ob in P. cbn [negb orb] in P.
    apply andb_prop in P. destruct P as [P _]. apply (forallb_seq _ _ a) in P; [|exact A]. cbv beta in P.
    rewrite Oa in P. cbn [orb] in P.
    apply Qeq_bool_eq, Qeq_eqR in P. unfold rows. rewrite P. unfold Q2R. simpl. lra.
  - intros i b I B O. pose proof (forallb_seq _ _ b F B) as P. cbv beta in P. rewrite O in P. cbn [negb orb] in P.
    apply andb_prop in P. destruct P as [_ P]. apply (forallb_seq _ _ i) in P; [|exact I]. cbv beta in P.
    apply Qeq_bool_eq, Qeq_eqR in P. unfold unfold_, entries. rewrite P. unfold Q2R. simpl. lra.
Qed.
