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

Section Contraction.
Variables (N : nat) (S T : mat) (c : vec) (rho rate : R) (G : vec -> vec).
Hypothesis ST : inverse N S T.
Hypothesis TS : inverse N T S.
Hypothesis rho_pos : 0 < rho.
Hypothesis rate_pos : 0 <= rate < 1.
Definition gap (x y : vec) : R := maxf N (fun k => Rabs (apply_to N S (fun l => x l - y l) k)).
Hypothesis contracts : forall x y, gap x c <= rho -> gap y c <= rho -> gap (G x) (G y) <= rate * gap x y.
Hypothesis start : gap (G c) c <= (1 - rate) * rho.

Lemma apply_sub A x y k : apply_to N A (fun l => x l - y l) k = apply_to N A x k - apply_to N A y k.
Proof. unfold apply_to. rewrite (sum_ext N _ (fun l => A k l * x l + (-1) * (A k l * y l))) by (intros; ring).
rewrite sum_plus, sum_scal. lra. Qed.
Lemma gap_pos x y : 0 <= gap x y. Proof. apply maxf_pos. Qed.
Lemma gap_ge x y k : (k < N)%nat -> Rabs (apply_to N S x k - apply_to N S y k) <= gap x y.
Proof. intro K. rewrite <- apply_sub. exact (maxf_ge N (fun k => Rabs (apply_to N S (fun l => x l - y l) k)) k K). Qed.
Lemma gap_le x y t : 0 <= t -> (forall k, (k < N)%nat -> Rabs (apply_to N S x k - apply_to N S y k) <= t) ->
  gap x y <= t.
Proof. intros P H. apply maxf_le; [exact P|]. intros k K. rewrite apply_sub. apply H, K. Qed.
Lemma gap_triangle x y z : gap x z <= gap x y + gap y z.
Proof.
  apply gap_le; [pose proof (gap_pos x y); pose proof (gap_pos y z); lra|]. intros k K.
  pose proof (gap_ge x y k K). pose proof (gap_ge y z k K).
  replace (apply_to N S x k - apply_to N S z k) with ((apply_to N S x k - apply_to N S y k) + (apply_to N S y k -
    apply_to N S z k)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
Lemma gap_sym x y : gap x y = gap y x.
Proof. unfold gap. f_equal. apply FunctionalExtensionality.functional_extensionality. intro k. rewrite !apply_sub.
apply Rabs_minus_sym. Qed.
Lemma gap_zero x y k : gap x y <= 0 -> (k < N)%nat -> x k = y k.
Proof.
  intros H K. rewrite <- (apply_inverse N T S x k TS K), <- (apply_inverse N T S y k TS K). unfold apply_to at 1 3.
  apply sum_ext.
  intros l L. pose proof (gap_ge x y l L) as P. apply abs_between in P. f_equal. lra.
Qed.
Lemma stays x : gap x c <= rho -> gap (G x) c <= rho.
Proof.
  intro H. eapply Rle_trans; [apply gap_triangle with (y := G c)|]. assert (Z : gap c c <= rho).
  { apply gap_le; [lra|]. intros. unfold Rminus. rewrite Rplus_opp_r, Rabs_R0. lra. }
  pose proof (contracts x c H Z). nra.
Qed.
Lemma iterate_stays x t : gap x c <= rho -> gap (Nat.iter t G x) c <= rho.
Proof. intro H. induction t; [exact H|]. apply stays, IHt. Qed.
Lemma iterate_contracts x y t : gap x c <= rho -> gap y c <= rho ->
  gap (Nat.iter t G x) (Nat.iter t G y) <= rate ^ t * gap x y.
Proof.
  intros X Y. induction t; [simpl; lra|]. change (gap (G (Nat.iter t G x)) (G (Nat.iter t G y)) <= rate * rate ^ t *
    gap x y).
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
Theorem one_equilibrium : exists z, gap z c <= rho /\ (forall k, (k < N)%nat -> G z k = z k) /\
  (forall y, gap y c <= rho -> (forall k, (k < N)%nat -> G y k = y k) -> forall k, (k < N)%nat -> y k = z k) /\
  (forall x, gap x c <= rho -> forall t, gap (Nat.iter t G x) z <= rate ^ t * (2 * rho)).
Proof.
  set (r := (1 - rate) * rho). assert (R0 : 0 <= r) by (apply Rmult_le_pos; lra).
  assert (Z : gap c c <= rho).
  { apply gap_le; [lra|]. intros. unfold Rminus. rewrite Rplus_opp_r, Rabs_R0. lra. }
  assert (L : forall k, (k < N)%nat -> exists l, forall t, Rabs (l - apply_to N S (Nat.iter t G c) k) <= rate ^ t * r /
    (1 - rate)).
  { intros k K. apply geometric_limit; [exact rate_pos|exact R0|]. intro t. eapply Rle_trans; [apply gap_ge, K|].
    change (Nat.iter (Datatypes.S t) G c) with (G (Nat.iter t G c)).
    replace (G (Nat.iter t G c)) with (Nat.iter t G (G c)) by (clear; induction t; simpl; [reflexivity|]; rewrite IHt;
      reflexivity).
    eapply Rle_trans; [apply iterate_contracts; [apply stays|]; exact Z|].
    apply Rmult_le_compat_l; [apply pow_le; lra|exact start]. }
  destruct (choose N R 0 (fun k l => forall t, Rabs (l - apply_to N S (Nat.iter t G c) k) <= rate ^ t * r / (1 - rate))
    L) as [u U]. set (z := apply_to N T u).
  assert (Sz : forall k, (k < N)%nat -> apply_to N S z k = u k) by (intros k K; apply apply_inverse; assumption).
  assert (D : forall t, gap (Nat.iter t G c) z <= rate ^ t * rho).
  { intro t. rewrite gap_sym. apply gap_le; [apply Rmult_le_pos; [apply pow_le|]; lra|]. intros k K.
    rewrite Sz by exact K.
    eapply Rle_trans; [apply U, K|]. unfold r. right. field. lra. }
  assert (B : gap z c <= rho).
  { rewrite gap_sym. pose proof (D 0%nat) as H. simpl in H. lra. }
  assert (F : gap (G z) z <= 0).
  { apply (vanish _ (2 * rho)); [lra|]. intro t. eapply Rle_trans;
      [apply gap_triangle with (y := Nat.iter (Datatypes.S t) G c)|].
    pose proof (D t) as D1. pose proof (D (Datatypes.S t)) as D2.
    assert (D3 : gap z (Nat.iter t G c) <= rate ^ t * rho) by (rewrite gap_sym; exact D1).
    pose proof (contracts z (Nat.iter t G c) B (iterate_stays c t Z)) as C.
    change (Nat.iter (Datatypes.S t) G c) with (G (Nat.iter t G c)) in *.
    simpl in D2. pose proof (pow_le rate t (proj1 rate_pos)). pose proof (gap_pos z (Nat.iter t G c)).
    assert (rate * (rate ^ t * rho) <= rate ^ t * rho) by (rewrite <- (Rmult_1_l (rate ^ t * rho)) at 2;
      apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]).
    assert (rate * gap z (Nat.iter t G c) <= rate * (rate ^ t * rho)) by (apply Rmult_le_compat_l; lra). lra. }
  exists z. split; [exact B|]. split; [intros k K; exact (gap_zero _ _ k F K)|]. split.
  - intros y Y Fy k K. apply gap_zero; [|exact K]. apply (vanish _ (gap y z)); [apply gap_pos|]. intro t.
    assert (E : forall x, (forall k, (k < N)%nat -> G x k = x k) -> gap x c <= rho -> gap (Nat.iter t G x) x <= 0).
    { intros x Fx Bx. induction t; [apply gap_le; [lra|]; intros; unfold Rminus; rewrite Rplus_opp_r, Rabs_R0; lra|].
      eapply Rle_trans; [apply gap_triangle with (y := G x)|]. simpl.
      pose proof (contracts _ _ (iterate_stays x t Bx) Bx).
      assert (gap (G x) x <= 0). { apply gap_le; [lra|]. intros j J. unfold apply_to.
      rewrite (sum_ext N _ (fun l => S j l * x l)); [unfold Rminus; rewrite Rplus_opp_r, Rabs_R0; lra|]. intros l Hl.
      rewrite Fx by exact Hl. reflexivity. }
      pose proof (gap_pos (Nat.iter t G x) x). nra. }
    pose proof (iterate_contracts y z t Y B). pose proof (E y Fy Y).
    assert (Fz : forall k, (k < N)%nat -> G z k = z k) by (intros j J; exact (gap_zero _ _ j F J)).
    pose proof (E z Fz B). pose proof (gap_triangle y (Nat.iter t G y) z).
    pose proof (gap_triangle (Nat.iter t G y) (Nat.iter t G z) z).
    rewrite (gap_sym y (Nat.iter t G y)) in *. lra.
  - intros x X t. eapply Rle_trans; [apply gap_triangle with (y := Nat.iter t G c)|].
    (* x and c are both carried to z *)
    pose proof (D t) as D1. pose proof (iterate_contracts x c t X Z) as C. pose proof (pow_le rate t (proj1 rate_pos)).
    assert (rate ^ t * gap x c <= rate ^ t * rho) by (apply Rmult_le_compat_l; lra). lra.
Qed.
End Contraction.

(* ---------- slopes ---------- *)
Notation iv := I.type.
Section Slopes.
Variable prec : SFZ.precision.
Variable N : nat.
Variable B : list iv.
Notation jet := (I.type * list I.type)%type.
Definition enj (J : jet) (f : vec -> R) : Prop := (forall x, encv B x -> enc (fst J) (f x)) /\
  (forall x y, encv B x -> encv B y -> exists s, encv (snd J) s /\ f x - f y = sum N (fun k => s k * (x k - y k))).
Definition jvar (k : nat) : jet := (at1 B k, tab N (fun j => ofZ prec (if Nat.eqb k j then 1 else 0))).
Lemma jvar_ok k : (k < N)%nat -> enj (jvar k) (fun x => x k).
Proof.
  intro K. split; [intros x X; apply X|]. intros x y _ _. exists (fun j => if Nat.eqb k j then 1 else 0). split.
  - apply tab_ok. intro j. destruct (Nat.eqb k j); apply ofZ_ok.
  - symmetry. exact (sum_pick N k (fun j => x j - y j) K).
Qed.
Definition jadd (J K : jet) : jet := (I.add prec (fst J) (fst K),
  tab N (fun k => I.add prec (at1 (snd J) k) (at1 (snd K) k))).
Lemma jadd_ok J K f g : enj J f -> enj K g -> enj (jadd J K) (fun x => f x + g x).
Proof.
  intros [F F'] [G G']. split; [intros x X; apply add_ok; auto|]. intros x y X Y.
  destruct (F' x y X Y) as [s [S E]]. destruct (G' x y X Y) as [t [T E']]. exists (fun k => s k + t k). split.
  - apply tab_ok. intro k. apply add_ok; auto.
  - replace (f x + g x - (f y + g y)) with ((f x - f y) + (g x - g y)) by ring. rewrite E, E', <- sum_plus.
    apply sum_ext. intros. ring.
Qed.
Definition jscale (c : iv) (J : jet) : jet := (I.mul prec c (fst J), tab N (fun k => I.mul prec c (at1 (snd J) k))).
Lemma jscale_ok c r J f : enc c r -> enj J f -> enj (jscale c J) (fun x => r * f x).
Proof.
  intros C [F F']. split; [intros x X; apply mul_ok; auto|]. intros x y X Y. destruct (F' x y X Y) as [s [S E]].
  exists (fun k => r * s k). split; [apply tab_ok; intro k; apply mul_ok; auto|].
  rewrite <- Rmult_minus_distr_l, E, <- sum_scal. apply sum_ext. intros. ring.
Qed.
Definition jmul (J K : jet) : jet := (I.mul prec (fst J) (fst K),
  tab N (fun k => I.add prec (I.mul prec (fst J) (at1 (snd K) k)) (I.mul prec (fst K) (at1 (snd J) k)))).
Lemma jmul_ok J K f g : enj J f -> enj K g -> enj (jmul J K) (fun x => f x * g x).
Proof.
  intros [F F'] [G G']. split; [intros x X; apply mul_ok; auto|]. intros x y X Y.
  destruct (F' x y X Y) as [s [S E]]. destruct (G' x y X Y) as [t [T E']]. exists (fun k => f x * t k + g y * s k).
  split.
  - apply tab_ok. intro k. apply add_ok; apply mul_ok; auto.
  - replace (f x * g x - f y * g y) with (f x * (g x - g y) + g y * (f x - f y)) by ring.
    rewrite E, E', <- !sum_scal, <- sum_plus.
    apply sum_ext. intros. ring.
Qed.
Fixpoint jsum (n : nat) (F : nat -> jet) : jet := match n with O => (ofZ prec 0,
  tab N (fun _ => ofZ prec 0)) | S k => jadd (jsum k F) (F k) end.
Lemma jsum_ok n F (f : nat -> vec -> R) : (forall k, (k < n)%nat -> enj (F k) (f k)) ->
  enj (jsum n F) (fun x => sum n (fun k => f k x)).
Proof.
  induction n; intro H; cbn [jsum sum].
  - split; [intros; apply ofZ_ok|]. intros x y _ _. exists (fun _ => 0). split; [apply tab_ok; intro; apply ofZ_ok|].
    rewrite (sum_scal N 0). lra.
  - apply (jadd_ok _ _ (fun x => sum n (fun k => f k x)) (f n)); auto.
Qed.
Lemma between_enc i a b c : enc i a -> enc i b -> a <= c <= b -> enc i c.
Proof.
  unfold enc. destruct (I.convert i) as [|l u]; [trivial|]. simpl. intros [A1 A2] [B1 B2] [H1 H2].
  split; [destruct l|destruct u]; trivial; lra.
Qed.
Definition jexp (J : jet) : jet := let e := I.exp prec (fst J) in (e, tab N (fun k => I.mul prec e (at1 (snd J) k))).
Lemma jexp_ok J f : enj J f -> enj (jexp J) (fun x => exp (f x)).
Proof.
  intros [F F']. split; [intros x X; apply exp_ok; auto|]. intros x y X Y. destruct (F' x y X Y) as [s [S E]].
  assert (M : exists c, enc (fst J) c /\ exp (f x) - exp (f y) = exp c * (f x - f y)).
  { destruct (Rtotal_order (f x) (f y)) as [L|[L|L]].
    - destruct (MVT_cor2 exp exp (f x) (f y) L) as [c [C [C1 C2]]]; [intros; apply derivable_pt_lim_exp|].
      exists c. split; [apply (between_enc _ (f x) (f y)); auto; lra|lra].
    - exists (f x). split; [auto|]. rewrite L. lra.
    - destruct (MVT_cor2 exp exp (f y) (f x) L) as [c [C [C1 C2]]]; [intros; apply derivable_pt_lim_exp|].
      exists c. split; [apply (between_enc _ (f y) (f x)); auto; lra|lra]. }
  destruct M as [c [C D]]. exists (fun k => exp c * s k). split.
  - apply tab_ok. intro k. apply mul_ok; [apply exp_ok, C|apply S].
  - rewrite D, E, <- sum_scal. apply sum_ext. intros. ring.
Qed.
(** 1/sqrt f, f > 0 *)
Definition jroot (J : jet) : jet := let r := I.sqrt prec (fst J) in let q := I.div prec (ofZ prec 1) r in
  (q, tab N (fun k => I.neg (I.div prec (at1 (snd J) k) (I.mul prec (I.mul prec r r) (I.add prec r r))))).
Lemma jroot_ok J f : ipos (fst J) = true -> enj J f -> enj (jroot J) (fun x => 1 / sqrt (f x)).
Proof.
  intros P [F F']. split; [intros x X; apply div_ok; [apply ofZ_ok|apply sqrt_ok; auto]|]. intros x y X Y.
  destruct (F' x y X Y) as [s [S E]]. assert (Px := pos_by _ _ (F x X) P). assert (Py := pos_by _ _ (F y Y) P).
  apply sqrt_lt_R0 in Px as Qx. apply sqrt_lt_R0 in Py as Qy.
  exists (fun k => - (s k / (sqrt (f x) * sqrt (f y) * (sqrt (f x) + sqrt (f y))))). split.
  - apply tab_ok. intro k. apply neg_ok, div_ok; [apply S|]. apply mul_ok; [apply mul_ok; apply sqrt_ok;
      auto|apply add_ok; apply sqrt_ok; auto].
  - rewrite (sum_ext N _ (fun k => - / (sqrt (f x) * sqrt (f y) * (sqrt (f x) + sqrt (f y))) * (s k * (x k - y k)))) by
      (intros; unfold Rdiv; ring).
    rewrite sum_scal, <- E. replace (f x - f y) with (sqrt (f x) * sqrt (f x) - sqrt (f y) * sqrt (f y)) by (rewrite
      !sqrt_sqrt by lra; reflexivity).
    field. lra.
Qed.
End Slopes.

(* ---------- the layer ---------- *)
(** X -> LayerNorm(softmax(X M X^T/sqrt d_qk) X V), every token divided by its length. *)
Definition rest_map (n d : nat) (dqk : R) (M V mask X : mat) : mat :=
  sphere d (mixed n d (attention n d dqk M (fun _ => 0) mask X) X V).
(** the tokens as one vector, and back *)
Definition unfold_ (d : nat) (x : vec) : mat := fun i a => x (i * d + a)%nat.
Definition fold_ (d : nat) (X : mat) : vec := fun k => X (k / d)%nat (k mod d)%nat.
Section Layer.
Variable prec : SFZ.precision.
Variables (n d : nat) (dqk : R) (M V mask : mat) (q : iv) (MI VI mI : list (list iv)) (B : list iv).
Hypothesis Q : enc q dqk.
Hypothesis HM : encm MI M.
Hypothesis HV : encm VI V.
Hypothesis Hm : encm mI mask.
Notation jet := (I.type * list I.type)%type.
Let N := (n * d)%nat.
Definition jtab (a b : nat) (f : nat -> nat -> jet) : list (list jet) := map (fun i => map (f i) (seq 0 b)) (seq 0 a).
Definition jat (l : list (list jet)) (i j : nat) : jet := nth j (nth i l nil) (I.nai, nil).
Lemma jat_tab a b f i j : (i < a)%nat -> (j < b)%nat -> jat (jtab a b f) i j = f i j.
Proof.
  intros A C. unfold jat, jtab. rewrite nth_tab. destruct (Nat.ltb_spec i a); [|lia]. rewrite nth_tab.
  destruct (Nat.ltb_spec j b); [reflexivity|lia].
Qed.
Definition jX (i a : nat) : jet := jvar prec N B (i * d + a).
Definition jXA (A : list (list iv)) := jtab n d (fun i b => jsum prec N d (fun a => jscale prec N (at2 A a b) (jX i
  a))).
Definition jL (XM : list (list jet)) := let r := I.div prec (ofZ prec 1) (I.sqrt prec q) in
  jtab n n (fun i j => jscale prec N (at2 mI i j) (jexp prec N (jscale prec N r (jsum prec N d (fun b => jmul prec N
    (jat XM i b) (jX j b)))))).
Definition jU (E XV : list (list jet)) := jtab n d (fun i b => jsum prec N n (fun j => jmul prec N (jat E i j) (jat XV
  j b))).
Definition jlen (U : list (list jet)) (i : nat) : jet := jsum prec N d (fun b => jmul prec N (jat U i b) (jat U i b)).
Definition layer_jets : list (list jet) * bool :=
  let U := jU (jL (jXA MI)) (jXA VI) in let l := map (jlen U) (seq 0 n) in
  let r := map (jroot prec N) l in
  (jtab n d (fun i a => jmul prec N (jat U i a) (nth i r (I.nai, nil))), forallb (fun j => ipos (fst j)) l).
(** U_i = sum_j mask_ij e^(L_ij) (X V)_j: attention times its normaliser, which cancels *)
Definition Ux (x : vec) (i b : nat) : R := sum n (fun j =>
  mask i j * exp (1 / sqrt dqk * sum d (fun c => sum d (fun a => M a c * unfold_ d x i a) * unfold_ d x j c)) *
  sum d (fun a => V a b * unfold_ d x j a)).
Lemma index i a : (i < n)%nat -> (a < d)%nat -> (i * d + a < N)%nat.
Proof. unfold N. nia. Qed.
Lemma jX_ok i a : (i < n)%nat -> (a < d)%nat -> enj N B (jX i a) (fun x => unfold_ d x i a).
Proof. intros I A. exact (jvar_ok prec N B _ (index i a I A)). Qed.
Lemma jXA_ok AI A i b : encm AI A -> (i < n)%nat -> (b < d)%nat ->
  enj N B (jat (jXA AI) i b) (fun x => sum d (fun a => A a b * unfold_ d x i a)).
Proof.
  intros H I C. unfold jXA. rewrite jat_tab by assumption. apply (jsum_ok prec N B d _ (fun a x => A a b * unfold_ d x
    i a)).
  intros a D. apply jscale_ok; [apply H|apply jX_ok; assumption].
Qed.
Lemma jU_ok i b : (i < n)%nat -> (b < d)%nat -> enj N B (jat (jU (jL (jXA MI)) (jXA VI)) i b) (fun x => Ux x i b).
Proof.
  intros I C. unfold jU. rewrite jat_tab by assumption. unfold Ux.
  apply (jsum_ok prec N B n _ (fun j x => mask i j * exp (1 / sqrt dqk * sum d (fun c => sum d (fun a => M a c *
    unfold_ d x i a) * unfold_ d x j c)) *
    sum d (fun a => V a b * unfold_ d x j a))).
  intros j J. apply (jmul_ok prec N B _ _ (fun x => mask i j * exp (1 / sqrt dqk * sum d (fun c => sum d (fun a => M a
    c * unfold_ d x i a) * unfold_ d x j c)))).
  - unfold jL. rewrite jat_tab by assumption. apply jscale_ok; [apply Hm|]. apply jexp_ok.
    apply jscale_ok; [apply div_ok; [apply ofZ_ok|apply sqrt_ok, Q]|].
    apply (jsum_ok prec N B d _ (fun c x => sum d (fun a => M a c * unfold_ d x i a) * unfold_ d x j c)).
    intros c D. apply (jmul_ok prec N B _ _ (fun x => sum d (fun a => M a c * unfold_ d x i a))); [|apply jX_ok;
      assumption].
    apply jXA_ok; assumption.
  - apply jXA_ok; assumption.
Qed.
Lemma layer_jets_ok i a : snd layer_jets = true -> (i < n)%nat -> (a < d)%nat ->
  enj N B (jat (fst layer_jets) i a) (fun x => Ux x i a * (1 / sqrt (sum d (fun b => Ux x i b * Ux x i b)))).
Proof.
  intros P I A. unfold layer_jets in *. cbn [fst snd] in *. rewrite jat_tab by assumption.
  apply jmul_ok; [apply jU_ok; assumption|].
  rewrite map_map, nth_tab. destruct (Nat.ltb_spec i n); [|lia]. apply jroot_ok.
  - rewrite forallb_forall in P. apply P. apply in_map_iff. exists i. split; [reflexivity|apply in_seq; lia].
  - apply (jsum_ok prec N B d _ (fun b x => Ux x i b * Ux x i b)). intros b D. apply jmul_ok; apply jU_ok; assumption.
Qed.
Hypothesis mask_pos : forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= mask i j.
Hypothesis mask_some : forall i, (i < n)%nat -> exists j, (j < n)%nat /\ 0 < mask i j.
Lemma rest_map_Ux x i a : (i < n)%nat -> (a < d)%nat -> 0 < sum d (fun b => Ux x i b * Ux x i b) ->
  rest_map n d dqk M V mask (unfold_ d x) i a = Ux x i a * (1 / sqrt (sum d (fun b => Ux x i b * Ux x i b))).
Proof.
  intros I A P. set (e := fun j => mask i j * exp (logit d dqk M (fun _ => 0) (unfold_ d x) i j)). set (D := sum n e).
  assert (Dp : 0 < D).
  { destruct (mask_some i I) as [j [J K]]. unfold D. clear P.
    assert (G : forall m, (j < m)%nat -> (m <= n)%nat -> 0 < sum m e).
    { induction m; intros L1 L2; [lia|]. cbn [sum]. assert (0 <= sum m e). { apply sum_pos. intros k Hk.
      apply Rmult_le_pos; [apply mask_pos; lia|left; apply exp_pos]. }
      assert (E : 0 <= e m) by (apply Rmult_le_pos; [apply mask_pos; lia|left; apply exp_pos]).
      destruct (Nat.eq_dec j m) as [->|Ne]; [assert (0 < e m) by (apply Rmult_lt_0_compat; [exact K|apply exp_pos]);
        lra|]. specialize (IHm ltac:(lia) ltac:(lia)). lra. }
    apply G; lia. }
  assert (W : forall b, (b < d)%nat -> mixed n d (attention n d dqk M (fun _ => 0) mask (unfold_ d x)) (unfold_ d x) V
    i b = Ux x i b / D).
  { intros b _. unfold mixed, attention, softmax. fold e. change (sum n e) with D. unfold Ux.
    transitivity (sum d (fun a => sum n (fun j => e j * (V a b * unfold_ d x j a)) / D)).
    - apply sum_ext. intros c _. unfold Rdiv. rewrite <- !sum_scal_r. apply sum_ext. intros j _. unfold e. field. lra.
    - unfold Rdiv at 1. rewrite sum_scal_r. apply (f_equal2 Rmult); [|reflexivity]. rewrite sum_swap. apply sum_ext.
      intros j _. rewrite sum_scal.
      apply (f_equal2 Rmult); [|reflexivity]. unfold e. apply (f_equal2 Rmult); [reflexivity|]. apply f_equal.
      unfold logit.
      rewrite (sum_ext d (fun a0 => 0 * unfold_ d x j a0) (fun _ => 0 * 0)) by (intros; ring). rewrite (sum_scal d 0).
      unfold Rdiv. rewrite Rmult_1_l, Rmult_comm.
      apply (f_equal2 Rmult); [reflexivity|]. rewrite Rmult_0_l, Rplus_0_r. apply sum_ext. intros c _.
      apply (f_equal2 Rmult); [|reflexivity].
      apply sum_ext. intros. ring. }
  unfold rest_map, sphere, l2. rewrite W by exact A.
  rewrite (sum_ext d _ (fun b => / (D * D) * (Ux x i b * Ux x i b))) by (intros b Hb; rewrite W by exact Hb; field;
    lra).
  rewrite sum_scal, sqrt_mult_alt by (left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; exact Dp).
  rewrite sqrt_inv, sqrt_square by lra.
  apply sqrt_lt_R0 in P. field. lra.
Qed.
End Layer.

(* ---------- one equilibrium, certified ---------- *)
(** A layer as a map of the tokens written one after the other. *)
Definition step (n d : nat) (dqk : R) (M V mask : mat) (x : vec) : vec := fold_ d (rest_map n d dqk M V mask (unfold_ d
  x)).
(** The r rows of X with indices i_k are independent (already their entries in the columns a_k are). *)
Definition independent (r : nat) (X : mat) (i a : nat -> nat) : Prop := forall v : vec,
  (forall q, (q < r)%nat -> sum r (fun k => v k * X (i k) (a q)) = 0) -> forall k, (k < r)%nat -> v k = 0.
Section Certified.
Variable prec : SFZ.precision.
Variables (n d : nat) (dqk : Q) (M V mask S T : list (list Q)) (c : list Q) (rho e rate ball wide : Q).
Let N := (n * d)%nat.
Definition qrow (A : list (list Q)) (k : nat) : Q := qsum N (fun l => Qabs.Qabs (nth l (nth k A nil) 0%Q)).
Definition reach (r : Q) (k : nat) : iv := let h := (r * qrow T k)%Q in let m := nth k c 0%Q in
  between (ofQ prec (m - h)) (ofQ prec (m + h)).
Definition box (r : Q) : list iv := tab N (reach r).
Definition qm := map (map (ofQ prec)).
Definition inverseb (A B : list (list Q)) : bool := forallb (fun k => forallb (fun l =>
  Qeq_bool (qsum N (fun m => nth m (nth k A nil) 0 * nth l (nth m B nil) 0)%Q) (if Nat.eqb k l then 1 else 0)%Q) (seq 0
    N)) (seq 0 N).
Notation jet := (I.type * list I.type)%type.
Definition jets : list (list jet) * bool := layer_jets prec n d (ofQ prec dqk) (qm M) (qm V) (qm mask) (box rho).
(** the slopes of entry k, and S J T *)
Definition slopes (J : list (list jet)) : list (list iv) := map (fun k => snd (jat J (k / d) (k mod d))) (seq 0 N).
Definition rowsb (J : list (list jet)) : bool := let SJT := iproduct prec N N N (iproduct prec N N N (qm S) (slopes J))
  (qm T) in
  forallb (fun k => inonneg (I.sub prec (ofQ prec rate) (isum prec N (fun l => I.abs (at2 SJT k l))))) (seq 0 N).
Definition centre_image : list iv := let X := tab2 n d (fun i a => ofQ prec (nth (i * d + a) c 0%Q)) in
  let P := iattention prec n d (ofQ prec dqk) (qm M) (map (fun _ => ofZ prec 0) (seq 0 d)) (qm mask) X in
  concat (isphere prec n d (imixed prec n d P X (qm V))).
Definition startb : bool := let C := centre_image in let SI := qm S in (* once, not for every entry *)
  let g := map (fun k => I.sub prec (at1 C k) (ofQ prec (nth k c 0%Q))) (seq 0 N) in
  forallb (fun k => inonneg (I.sub prec (ofQ prec ((1 - rate) * e)) (I.abs (isum prec N (fun l => I.mul prec (at2 SI k
    l) (at1 g l)))))) (seq 0 N).
Definition sizesb : bool := (Qle_bool e rho && negb (Qle_bool e 0) && Qle_bool 0 rate && negb (Qle_bool 1 rate)
  && forallb (fun k => Qle_bool (ball * qrow S k) rho && Qle_bool (qrow T k) wide) (seq 0 N)
  && forallb (fun i => forallb (fun j => Qle_bool 0 (nth j (nth i mask nil) 0%Q)) (seq 0 n)
       && existsb (fun j => negb (Qle_bool (nth j (nth i mask nil) 0%Q) 0)) (seq 0 n)) (seq 0 n) && negb (Nat.eqb d
         0))%bool.
Definition certifiedb : bool := sizesb && inverseb S T && inverseb T S && startb && (let J := jets in snd J && rowsb
  (fst J)).

Lemma inverseb_ok A B : inverseb A B = true -> inverse N (rows A) (rows B).
Proof.
  intros H k l K L. apply (forallb_seq _ _ k) in H; [|exact K]. apply (forallb_seq _ _ l) in H; [|exact L].
  unfold rows. rewrite (sum_ext N _ (fun m => Q2R (nth m (nth k A nil) 0 * nth l (nth m B nil) 0)%Q)) by (intros;
    symmetry; apply Q2R_mult).
  rewrite qsum_ok. apply Qeq_bool_eq, Qeq_eqR in H. rewrite H. destruct (Nat.eqb k l); unfold Q2R; simpl; lra.
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
(** how far an entry is, by the gap *)
Lemma entry_gap x y k : inverse N (rows T) (rows S) -> (k < N)%nat ->
  Rabs (x k - y k) <= Q2R (qrow T k) * gap N (rows S) x y.
Proof.
  intros H K. rewrite <- (apply_inverse N (rows T) (rows S) x k H K), <- (apply_inverse N (rows T) (rows S) y k H K).
  rewrite <- apply_sub. unfold apply_to at 1. eapply Rle_trans; [apply sum_abs|]. rewrite <- qrow_ok, <- sum_scal_r.
  apply sum_le. intros l L.
  rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|]. apply gap_ge, L.
Qed.
Lemma box_ok x : inverse N (rows T) (rows S) -> gap N (rows S) x (entries c) <= Q2R rho -> encv (box rho) x.
Proof.
  intros H G k. unfold box, tab, at1. rewrite nth_tab. destruct (Nat.ltb_spec k N) as [K|K]; [|apply enc_nai].
  pose proof (entry_gap x (entries c) k H K) as E. apply abs_between in E.
  assert (P : 0 <= Q2R (qrow T k)) by (rewrite <- qrow_ok; apply sum_pos; intros; apply Rabs_pos).
  assert (Q2R (qrow T k) * gap N (rows S) x (entries c) <= Q2R (qrow T k) * Q2R rho) by (apply Rmult_le_compat_l;
    assumption).
  apply (between_ok _ _ _ _ _ (ofQ_ok prec _) (ofQ_ok prec _)). rewrite Q2R_minus, Q2R_plus, Q2R_mult.
  unfold entries in *. lra.
Qed.
Lemma split_index k : d <> O -> (k < N)%nat -> (k / d < n)%nat /\ (k mod d < d)%nat /\ (k / d * d + k mod d = k)%nat.
Proof.
  intros D K. repeat split.
  - apply Nat.div_lt_upper_bound; [exact D|]. unfold N in K. lia.
  - apply Nat.mod_upper_bound, D.
  - pose proof (Nat.div_mod k d D). lia.
Qed.
Let G := step n d (Q2R dqk) (rows M) (rows V) (rows mask).
Theorem certified_ok : certifiedb = true -> exists z : vec,
  (forall k, (k < N)%nat -> Rabs (z k - entries c k) <= Q2R (wide * e)) /\
  (forall i a, (i < n)%nat -> (a < d)%nat -> rest_map n d (Q2R dqk) (rows M) (rows V) (rows mask) (unfold_ d z) i a =
    unfold_ d z i a) /\
  (forall y, (forall k, (k < N)%nat -> Rabs (y k - entries c k) <= Q2R ball) -> (forall k, (k < N)%nat ->
    G y k = y k) ->
     forall k, (k < N)%nat -> y k = z k) /\
  (forall x, (forall k, (k < N)%nat -> Rabs (x k - entries c k) <= Q2R ball) -> forall t k, (k < N)%nat ->
     Rabs (Nat.iter t G x k - z k) <= Q2R rate ^ t * Q2R (2 * wide * rho)).
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
  assert (D : d <> O) by (intro Z; match goal with K : negb (Nat.eqb d 0) = true |- _ => apply negb_true_iff,
    Nat.eqb_neq in K; contradiction end).
  match goal with K : forallb _ (seq 0 n) = true |- _ => rename K into FM end.
  match goal with K : forallb _ (seq 0 N) = true |- _ => rename K into FN end.
  assert (Mp : forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= rows mask i j).
  { intros i j I J. pose proof (forallb_seq _ _ i FM I) as K. apply andb_prop in K. destruct K as [K _].
    apply Qpos_R. exact (forallb_seq _ _ j K J). }
  assert (Ms : forall i, (i < n)%nat -> exists j, (j < n)%nat /\ 0 < rows mask i j).
  { intros i I. pose proof (forallb_seq _ _ i FM I) as K. apply andb_prop in K. destruct K as [_ K].
    apply existsb_exists in K. destruct K as [j [J K]]. exists j. apply in_seq in J. split; [lia|apply Qlt_R, K]. }
  assert (Sz : forall k, (k < N)%nat -> Q2R (ball * qrow S k) <= Q2R rho /\ Q2R (qrow T k) <= Q2R wide).
  { intros k K. pose proof (forallb_seq _ _ k FN K) as W. apply andb_prop in W. destruct W.
    split; apply Qle_R; assumption. }
  pose proof (fun i a => layer_jets_ok prec n d (Q2R dqk) (rows M) (rows V) (rows mask) (ofQ prec dqk) (qm M) (qm V)
    (qm mask) (box rho)
    (ofQ_ok prec dqk) (rows_ok prec M) (rows_ok prec V) (rows_ok prec mask) i a JP) as JO.
  set (U := Ux n d (Q2R dqk) (rows M) (rows V) (rows mask)) in *.
  assert (Up : forall x i, encv (box rho) x -> (i < n)%nat -> 0 < sum d (fun b => U x i b * U x i b)).
  { intros x i X I. pose proof JP as JQ. unfold jets, layer_jets in JQ. cbn [snd] in JQ. rewrite forallb_forall in JQ.
    refine (pos_by _ _ _ (JQ _ (in_map _ _ i (proj2 (in_seq n 0 i) _)))); [|lia].
    refine (proj1 (jsum_ok prec N (box rho) d _ (fun b x => U x i b * U x i b) _) x X). intros b Hb.
    apply jmul_ok; apply jU_ok; auto using ofQ_ok, rows_ok; apply rows_ok. }
  assert (GU : forall x k, encv (box rho) x -> (k < N)%nat -> G x k = U x (k / d)%nat (k mod d)%nat * (1 / sqrt (sum d
    (fun b => U x (k / d)%nat b * U x (k / d)%nat b)))).
  { intros x k X K. destruct (split_index k D K) as [I [A _]]. unfold G, step, fold_. apply rest_map_Ux; auto. }
  assert (C : forall x y, gap N (rows S) x (entries c) <= Q2R rho -> gap N (rows S) y (entries c) <= Q2R rho ->
    gap N (rows S) (G x) (G y) <= Q2R rate * gap N (rows S) x y).
  { intros x y X Y. apply box_ok in X; [|exact TS]. apply box_ok in Y; [|exact TS].
    destruct (choose N vec (fun _ => 0) (fun m s => encv (snd (jat (fst jets) (m / d) (m mod d))) s /\ G x m - G y m =
      sum N (fun k => s k * (x k - y k)))) as [s Hs].
    { intros m Hm. destruct (split_index m D Hm) as [I [A _]]. destruct (proj2 (JO _ _ I A) x y X Y) as [s [S1 S2]].
      exists s. split; [exact S1|]. rewrite !GU by assumption. exact S2. }
    apply gap_le; [apply Rmult_le_pos; [exact R0|apply gap_pos]|]. intros k K. rewrite <- apply_sub.
    set (W := fun l => sum N (fun q => sum N (fun m => rows S k m * s m q) * rows T q l)).
    assert (EQ : apply_to N (rows S) (fun l => G x l - G y l) k = sum N (fun l => W l * apply_to N (rows S) (fun l => x
      l - y l) l)).
    { unfold apply_to at 1. transitivity (sum N (fun m => sum N (fun q => rows S k m * s m q * (x q - y q)))).
      - apply sum_ext. intros m Hm. rewrite (proj2 (Hs m Hm)), <- sum_scal. apply sum_ext. intros. ring.
      - rewrite sum_swap. transitivity (sum N (fun q => sum N (fun m => rows S k m * s m q) * (x q - y q)));
          [apply sum_ext; intros q _; apply sum_scal_r|].
        transitivity (sum N (fun q => sum N (fun l => sum N (fun m => rows S k m * s m q) * rows T q l * apply_to N
          (rows S) (fun l => x l - y l) l))).
        + apply sum_ext. intros q Hq. rewrite <- (apply_inverse N (rows T) (rows S) (fun l => x l - y l) q TS Hq) at 1.
          unfold apply_to at 1.
          rewrite <- sum_scal. apply sum_ext. intros. ring.
        + rewrite sum_swap. apply sum_ext. intros l _. apply sum_scal_r. }
    rewrite EQ. eapply Rle_trans; [apply sum_abs|]. apply Rle_trans with (sum N (fun l => Rabs (W l)) * gap N (rows S)
      x y).
    - rewrite <- sum_scal_r. apply sum_le. intros l L. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|].
      rewrite apply_sub. apply gap_ge, L.
    - apply Rmult_le_compat_r; [apply gap_pos|]. unfold rowsb in JR. apply (forallb_seq _ _ k) in JR; [|exact K].
      set (sm := fun m q => if (m <? N)%nat then s m q else 0).
      assert (Es : encm (slopes (fst jets)) sm).
      { intros m q. unfold slopes, at2. rewrite nth_tab. unfold sm.
        destruct (Nat.ltb_spec m N) as [L|L]; [apply (Hs m L)|]. unfold at1. destruct q; apply enc_nai. }
      refine (le_by prec _ _ _ _ _ (ofQ_ok prec rate) JR). apply isum_ok. intro l. apply abs_ok.
      replace (W l) with (product N (product N (rows S) sm) (rows T) k l).
      + apply iproduct_ok; [apply iproduct_ok; [apply rows_ok|exact Es]|apply rows_ok].
      + unfold W, product. apply sum_ext. intros q _. f_equal. apply sum_ext. intros m Hm. unfold sm.
        destruct (Nat.ltb_spec m N); [reflexivity|lia]. }
  assert (St : gap N (rows S) (G (entries c)) (entries c) <= (1 - Q2R rate) * Q2R e).
  { apply gap_le; [apply Rmult_le_pos; lra|]. intros k K. rewrite <- apply_sub.
    replace ((1 - Q2R rate) * Q2R e) with (Q2R ((1 - rate) * e)).
    2: { rewrite Q2R_mult, Q2R_minus. replace (Q2R 1) with 1 by (unfold Q2R; simpl; lra). reflexivity. }
    match goal with K1 : startb = true |- _ => unfold startb in K1; apply (forallb_seq _ _ k) in K1; [|exact K];
      refine (le_by prec _ _ _ _ _ (ofQ_ok prec _) K1) end.
    apply abs_ok, isum_ok. intro l. apply mul_ok; [apply rows_ok|]. unfold at1 at 1. rewrite nth_tab.
    destruct (Nat.ltb_spec l N) as [L|L]; [|apply enc_nai].
    apply sub_ok; [|apply ofQ_ok]. destruct (split_index l D L) as [I [A E2]].
    unfold G, step, fold_, rest_map, centre_image.
    set (X := tab2 n d _). assert (EX : encm X (unfold_ d (entries c))) by (apply tab2_ok; intros; apply ofQ_ok).
    set (F := isphere _ _ _ _). assert (EF : encm F (sphere d (mixed n d (attention n d (Q2R dqk) (rows M) (fun _ => 0)
      (rows mask) (unfold_ d (entries c))) (unfold_ d (entries c)) (rows V)))).
    { apply isphere_ok, imixed_ok; [|exact EX|apply rows_ok].
      apply iattention_ok; try apply rows_ok; [apply ofQ_ok| |exact EX].
      intro j. unfold at1. rewrite nth_tab. destruct (j <? d)%nat; [apply ofZ_ok|apply enc_nai]. }
    replace (at1 (concat F) l) with (at2 F (l / d) (l mod d)); [apply EF|]. rewrite <- E2 at 3.
    unfold F, isphere, at2, at1.
    assert (LC : forall (f : nat -> list iv) m i a, (forall i, length (f i) = d) -> (i < m)%nat -> (a < d)%nat ->
      nth (i * d + a) (concat (map f (seq 0 m))) I.nai = nth a (f i) I.nai).
    { intros f m i a Lf. assert (Gn : forall m s, (i < m)%nat -> (a < d)%nat ->
        nth (i * d + a) (concat (map f (seq s m))) I.nai = nth a (f (s + i)%nat) I.nai).
      { clear m. revert i. intro i. revert a. induction i; intros a m s Hi Ha; (destruct m; [lia|]);
          cbn [seq map concat].
        - rewrite app_nth1 by (rewrite Lf; lia). replace (s + 0)%nat with s by lia. reflexivity.
        - rewrite app_nth2 by (rewrite Lf; lia). rewrite Lf. replace (Datatypes.S i * d + a - d)%nat with (i * d +
            a)%nat by lia.
          rewrite IHi by lia. f_equal. f_equal. lia. }
      intros Hi Ha. exact (Gn m 0%nat Hi Ha). }
    rewrite LC by (auto; intros; unfold tab; rewrite map_length, seq_length; reflexivity). rewrite nth_tab.
    destruct (Nat.ltb_spec (l / d) n); [reflexivity|lia]. }
  destruct (one_equilibrium N (rows S) (rows T) (entries c) (Q2R e) (Q2R rate) G ST TS E0 (conj R0 R1)) as [w [W1 [W2
    _]]]; [intros; apply C; lra|exact St|].
  destruct (one_equilibrium N (rows S) (rows T) (entries c) (Q2R rho) (Q2R rate) G ST TS ltac:(lra) (conj R0 R1) C) as
    [z [Z1 [Z2 [Z3 Z4]]]].
  { eapply Rle_trans; [exact St|]. apply Rmult_le_compat_l; lra. }
  assert (WZ : forall k, (k < N)%nat -> w k = z k) by (apply Z3; [lra|exact W2]).
  assert (Near : forall x, (forall k, (k < N)%nat -> Rabs (x k - entries c k) <= Q2R ball) ->
    gap N (rows S) x (entries c) <= Q2R rho).
  { intros x X. apply gap_le; [lra|]. intros k K. rewrite <- apply_sub. unfold apply_to.
    eapply Rle_trans; [apply sum_abs|].
    eapply Rle_trans; [|exact (proj1 (Sz k K))]. rewrite Q2R_mult, <- qrow_ok, <- sum_scal. apply sum_le. intros l L.
    rewrite Rabs_mult, Rmult_comm.
    apply Rmult_le_compat_r; [apply Rabs_pos|apply X, L]. }
  exists z. split; [|split; [|split]].
  - intros k K. rewrite <- WZ by exact K. eapply Rle_trans; [apply entry_gap; assumption|]. rewrite Q2R_mult.
    apply Rmult_le_compat; [rewrite <- qrow_ok; apply sum_pos; intros;
      apply Rabs_pos|apply gap_pos|apply Sz, K|exact W1].
  - intros i a I A. specialize (Z2 (i * d + a)%nat (index n d i a I A)). unfold G, step, fold_ in Z2.
    rewrite Nat.div_add_l, (Nat.div_small a d), Nat.add_0_r in Z2 by assumption.
    rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small in Z2 by assumption. rewrite Z2. unfold unfold_. f_equal. lia.
  - intros y Y F k K. exact (Z3 y (Near y Y) F k K).
  - intros x X t k K. eapply Rle_trans; [apply entry_gap; assumption|]. specialize (Z4 x (Near x X) t).
    replace (Q2R rate ^ t * Q2R (2 * wide * rho)) with (Q2R wide * (Q2R rate ^ t * (2 * Q2R rho))).
    2: { rewrite !Q2R_mult. replace (Q2R 2) with 2 by (unfold Q2R; simpl; lra). ring. }
    apply Rmult_le_compat; [rewrite <- qrow_ok; apply sum_pos; intros;
      apply Rabs_pos|apply gap_pos|apply Sz, K|exact Z4].
Qed.
End Certified.

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
