(** wu2024:conjecture, own:stable-rank-two-every-n.  What each is stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions IntervalZ Jets Norms Softmax SphereLayer.
Local Open Scope R_scope.

(** The layer of v in scalars: t1 = x01/x00 and t2 = x10/x11 shrink, by interval arithmetic. *)

Definition e2 := exp (-2).
(* ---------- scalar form ---------- *)
Definition mf (a b c d : R) := a * (-2 * d) + b * (3 * c + 3 * d).   (* (a,b) M (c,d)^T *)
Definition rho1 (a b c d : R) := exp (mf a b c d - mf a b a b).
Definition rho2 (a b c d : R) := exp (mf c d a b - mf c d c d).
Definition p1 (a b c d : R) := (a + rho1 a b c d * c) - (b + rho1 a b c d * d).
Definition n1 (a b c d : R) := (b + rho1 a b c d * d) - e2 * (a + rho1 a b c d * c).
Definition n2 (a b c d : R) := (c + rho2 a b c d * a) - (d + rho2 a b c d * b).
Definition p2 (a b c d : R) := (d + rho2 a b c d * b) - e2 * (c + rho2 a b c d * a).
Definition G1 (a b c d : R) := n1 a b c d / (2 * (1 + e2) * p1 a b c d).
Definition G2 (a b c d : R) := 2 * (1 + e2) * n2 a b c d / p2 a b c d.
Definition cc (t : R) := / sqrt (1 + t * t).
Definition g1 (t1 t2 : R) := G1 (cc t1) (t1 * cc t1) (t2 * cc t2) (cc t2).
Definition g2 (t1 t2 : R) := G2 (cc t1) (t1 * cc t1) (t2 * cc t2) (cc t2).

Definition good (a b c d : R) := 0 < p1 a b c d /\ 0 < p2 a b c d.

Lemma e2_b : 0.13 < e2 < 0.14.
Proof. unfold e2. split; interval with (i_prec 24). Qed.


Lemma normalise_pos (u v : R) : 0 < u -> u / sqrt (u * u + v * v) = cc (v / u) /\ v / sqrt (u * u + v * v) = v / u * cc
  (v / u).
Proof.
  intros Hu. assert (H1 : 0 < 1 + v / u * (v / u)) by (assert (S := Rle_0_sqr (v / u)); unfold Rsqr in S; lra).
  assert (E : sqrt (u * u + v * v) = u * sqrt (1 + v / u * (v / u))).
  { rewrite <- (sqrt_Rsqr u) at 3 by lra. rewrite <- sqrt_mult_alt by apply Rle_0_sqr.
    f_equal. unfold Rsqr. field. lra. }
  assert (SP := sqrt_lt_R0 _ H1). unfold cc. rewrite E. split; field; lra.
Qed.

Lemma normalise_pos2 (u v : R) : 0 < v -> v / sqrt (u * u + v * v) = cc (u / v) /\ u / sqrt (u * u + v * v) = u / v *
  cc (u / v).
Proof.
  intros Hv. replace (u * u + v * v) with (v * v + u * u) by ring. now apply normalise_pos.
Qed.

Lemma rho1_I : rho1 1 0 0 1 = e2.
Proof. unfold rho1, mf, e2. f_equal. ring. Qed.
Lemma rho2_I : rho2 1 0 0 1 = 1.
Proof. unfold rho2, mf. rewrite <- exp_0. f_equal. ring. Qed.
Lemma cc0 : cc 0 = 1.
Proof. unfold cc. rewrite Rmult_0_l, Rplus_0_r, sqrt_1. lra. Qed.

Lemma mvt_bound (f : R -> R) (a K : R) :
  (forall x, Rabs x <= Rabs a -> exists l : R, is_derive f x l /\ Rabs l <= K) ->
  Rabs (f a - f 0) <= K * Rabs a.
Proof.
  intros H.
  assert (In : forall x, Rmin 0 a <= x <= Rmax 0 a -> Rabs x <= Rabs a).
  { intros x. unfold Rmin, Rmax, Rabs. destruct Rle_dec; repeat destruct Rcase_abs; lra. }
  destruct (MVT_gen f 0 a (Derive f)) as [c [Hc E]].
  - intros x Hx. destruct (H x) as [l [Hl _]]; [apply In; lra|].
    rewrite (is_derive_unique _ _ _ Hl). exact Hl.
  - intros x Hx. destruct (H x) as [l [Hl _]]; [apply In; lra|].
    apply continuity_pt_filterlim. apply (ex_derive_continuous (V := R_NormedModule) f x). now exists l.
  - destruct (H c) as [l [Hl Kl]]; [now apply In|].
    rewrite (is_derive_unique _ _ _ Hl) in E. rewrite E, Rminus_0_r, Rabs_mult.
    apply Rmult_le_compat_r; [apply Rabs_pos|exact Kl].
Qed.

Ltac box H := apply Rabs_le_between in H.
Ltac unf := unfold g1, g2, G1, G2, n1, n2, p1, p2, rho1, rho2, mf, cc, e2.
(** Parts that occur often are enclosed once: the terms that [interval] reads stay small. *)
Ltac enclosed t := let v := fresh "v" in set (v := t); let b := eval unfold rho1, rho2, mf, cc, e2 in t in
  let E := fresh "E" in interval_intro b with (i_prec 24) as E; change b with v in E; clearbody v.
Ltac parts := repeat match goal with |- context [cc ?t] => enclosed (cc t) end;
  repeat match goal with |- context [rho1 ?a ?b ?c ?d] => enclosed (rho1 a b c d)
    | |- context [rho2 ?a ?b ?c ?d] => enclosed (rho2 a b c d) end; enclosed e2.

(** The slopes of G1 and G2 along a pair of functions, and those of cc t and t cc t: small terms for [auto_derive]. *)
Definition slope1 (a b c d a' b' c' d' : R) := let r := rho1 a b c d in
  let s := r * (a' * (-2 * d) + a * (-2 * d') + b' * (3 * c + 3 * d) + b * (3 * c' + 3 * d') - (a' * b + a * b' + 6 * b
    * b')) in
  let n' := b' + (s * d + r * d') - e2 * (a' + (s * c + r * c')) in let p' := a' + (s * c + r * c') - (b' + (s * d + r
    * d')) in
  (n' - n1 a b c d / p1 a b c d * p') / (2 * (1 + e2) * p1 a b c d).
Definition slope2 (a b c d a' b' c' d' : R) := let r := rho2 a b c d in
  let s := r * (c' * (-2 * b) + c * (-2 * b') + d' * (3 * a + 3 * b) + d * (3 * a' + 3 * b') - (c' * d + c * d' + 6 * d
    * d')) in
  let n' := c' + (s * a + r * a') - (d' + (s * b + r * b')) in let p' := d' + (s * b + r * b') - e2 * (c' + (s * a + r
    * a')) in
  2 * (1 + e2) * ((n' - n2 a b c d / p2 a b c d * p') / (1 * p2 a b c d)).
Lemma derive_quotient (n p : R -> R) (x k n' p' : R) : is_derive n x n' -> is_derive p x p' -> p x <> 0 -> k <> 0 ->
  is_derive (fun t => n t / (k * p t)) x ((n' - n x / p x * p') / (k * p x)).
Proof.
  intros Hn Hp P K. evar_last; [apply (is_derive_div n (fun t => k * p t) x n' (k * p') Hn)|].
  - apply (is_derive_scal p x k p' Hp).
  - now apply Rmult_integral_contrapositive_currified.
  - simpl. field. now split.
Qed.
(** Derivatives of sums, products and exponentials of functions of one variable. *)
Section Rules.
Variables (f g : R -> R) (x f' g' : R).
Hypothesis Hf : is_derive f x f'.
Hypothesis Hg : is_derive g x g'.
Lemma d_plus : is_derive (fun t => f t + g t) x (f' + g'). Proof. exact (is_derive_plus f g x f' g' Hf Hg). Qed.
Lemma d_minus : is_derive (fun t => f t - g t) x (f' - g'). Proof. exact (is_derive_minus f g x f' g' Hf Hg). Qed.
Lemma d_times : is_derive (fun t => f t * g t) x (f' * g x + f x * g').
Proof. exact (is_derive_mult f g x f' g' Hf Hg Rmult_comm). Qed.
Lemma d_exp : is_derive (fun t => exp (f t)) x (f' * exp (f x)).
Proof. exact (is_derive_comp exp f x (exp (f x)) f' (is_derive_exp (f x)) Hf). Qed.
End Rules.
Lemma d_const (c x : R) : is_derive (fun _ => c) x 0. Proof. exact (is_derive_const c x). Qed.
Section Slopes.
Variables (a b c d : R -> R) (x a' b' c' d' : R).
Hypothesis Ha : is_derive a x a'.
Hypothesis Hb : is_derive b x b'.
Hypothesis Hc : is_derive c x c'.
Hypothesis Hd : is_derive d x d'.
Ltac derive := lazymatch goal with
  | |- is_derive (fun t => _ + _) _ _ => apply d_plus; derive | |- is_derive (fun t => _ - _) _ _ => apply d_minus;
    derive
  | |- is_derive (fun t => _ * _) _ _ => apply d_times; derive | |- is_derive (fun t => exp _) _ _ => apply d_exp;
    derive
  | |- is_derive (fun t => ?k) _ _ => apply d_const
  | |- _ => first [exact Ha|exact Hb|exact Hc|exact Hd] end.
Ltac slopes := evar_last; [derive|cbv beta; ring].
Lemma slope1_is : p1 (a x) (b x) (c x) (d x) <> 0 ->
  is_derive (fun t => G1 (a t) (b t) (c t) (d t)) x (slope1 (a x) (b x) (c x) (d x) a' b' c' d').
Proof.
  intros P. assert (E := e2_b). unfold G1, slope1.
  apply (derive_quotient (fun t => n1 (a t) (b t) (c t) (d t)) (fun t => p1 (a t) (b t) (c t) (d t)));
    [| |exact P|lra]; unfold n1, p1, rho1, mf; slopes.
Qed.
Lemma slope2_is : p2 (a x) (b x) (c x) (d x) <> 0 ->
  is_derive (fun t => G2 (a t) (b t) (c t) (d t)) x (slope2 (a x) (b x) (c x) (d x) a' b' c' d').
Proof.
  intros P. assert (E := e2_b). unfold G2, slope2.
  apply (is_derive_ext (fun t => 2 * (1 + e2) * (n2 (a t) (b t) (c t) (d t) / (1 * p2 (a t) (b t) (c t) (d t))))).
  { intro t. rewrite Rmult_1_l. symmetry. apply Rmult_assoc. }
  apply (is_derive_scal (fun t => n2 (a t) (b t) (c t) (d t) / (1 * p2 (a t) (b t) (c t) (d t)))).
  apply (derive_quotient (fun t => n2 (a t) (b t) (c t) (d t)) (fun t => p2 (a t) (b t) (c t) (d t)));
    [| |exact P|lra]; unfold n2, p2, rho2, mf; slopes.
Qed.
End Slopes.
Lemma cc_slope x : is_derive cc x (- x * (cc x * cc x * cc x)).
Proof.
  assert (P : 0 < 1 + x * x) by nra. unfold cc. assert (Q := sqrt_lt_R0 _ P). auto_derive; [repeat split; lra|].
  rewrite Rmult_1_l, Rmult_1_r. field. lra.
Qed.
Lemma tcc_slope x : is_derive (fun t => t * cc t) x (cc x + x * (- x * (cc x * cc x * cc x))).
Proof.
  evar_last; [apply (is_derive_mult (fun t : R => t) cc x 1 (- x * (cc x * cc x * cc x)) (is_derive_id x) (cc_slope
    x)); intros; apply Rmult_comm|].
  unfold plus, mult. simpl. ring.
Qed.

Lemma d11 t2 x : Rabs x <= 1/1000 -> Rabs t2 <= 8/1000 ->
  exists l : R, is_derive (fun t => g1 t t2) x l /\ Rabs l <= 67/100.
Proof.
  intros Hx H2. box Hx. box H2. eexists. unfold g1. split.
  - apply (slope1_is cc (fun t => t * cc t) (fun _ => t2 * cc t2) (fun _ => cc t2) x);
      [apply cc_slope|apply tcc_slope|apply @is_derive_const|apply @is_derive_const|].
    apply Rgt_not_eq. unf. interval with (i_prec 24).
  - unfold zero. simpl. unfold slope1, n1, p1. parts. interval with (i_prec 24).
Qed.
Lemma d12 x : Rabs x <= 8/1000 ->
  exists l : R, is_derive (fun t => g1 0 t) x l /\ Rabs l <= 1/100.
Proof.
  intros Hx. box Hx. eexists. unfold g1. split.
  - apply (slope1_is (fun _ => cc 0) (fun _ => 0 * cc 0) (fun t => t * cc t) cc x);
      [apply @is_derive_const|apply @is_derive_const|apply tcc_slope|apply cc_slope|].
    apply Rgt_not_eq. unf. interval with (i_prec 24).
  - unfold zero. simpl. unfold slope1. unf. interval with (i_prec 24, i_bisect x, i_depth 12).
Qed.
Lemma d21 t2 x : Rabs x <= 1/1000 -> Rabs t2 <= 8/1000 ->
  exists l : R, is_derive (fun t => g2 t t2) x l /\ Rabs l <= 54/10.
Proof.
  intros Hx H2. box Hx. box H2. eexists. unfold g2. split.
  - apply (slope2_is cc (fun t => t * cc t) (fun _ => t2 * cc t2) (fun _ => cc t2) x);
      [apply cc_slope|apply tcc_slope|apply @is_derive_const|apply @is_derive_const|].
    apply Rgt_not_eq. unf. interval with (i_prec 24).
  - unfold zero. simpl. unfold slope2. unf. interval with (i_prec 24, i_bisect x, i_bisect t2, i_depth 12).
Qed.
Lemma d22 x : Rabs x <= 8/1000 ->
  exists l : R, is_derive (fun t => g2 0 t) x l /\ Rabs l <= 12/100.
Proof.
  intros Hx. box Hx. eexists. unfold g2. split.
  - apply (slope2_is (fun _ => cc 0) (fun _ => 0 * cc 0) (fun t => t * cc t) cc x);
      [apply @is_derive_const|apply @is_derive_const|apply tcc_slope|apply cc_slope|].
    apply Rgt_not_eq. unf. interval with (i_prec 24).
  - unfold zero. simpl. unfold slope2. unf. interval with (i_prec 24, i_bisect x, i_depth 12).
Qed.

Lemma g_at_0 : g1 0 0 = 0 /\ g2 0 0 = 0.
Proof.
  unfold g1, g2. rewrite !cc0, !Rmult_0_l. unfold G1, G2, n1, n2. rewrite rho1_I, rho2_I.
  split; unfold Rdiv; ring.
Qed.

(** One step contracts max(|t1|, |t2|/8) by 4/5. *)
Lemma contract t1 t2 r : r <= 1/1000 -> Rabs t1 <= r -> Rabs t2 <= 8 * r ->
  Rabs (g1 t1 t2) <= 4/5 * r /\ Rabs (g2 t1 t2) <= 8 * (4/5 * r).
Proof.
  intros Hr H1 H2. destruct g_at_0 as [Z1 Z2].
  assert (A11 : Rabs (g1 t1 t2 - g1 0 t2) <= 67/100 * Rabs t1)
    by (apply (mvt_bound (fun t => g1 t t2)); intros; apply d11; lra).
  assert (A12 : Rabs (g1 0 t2 - g1 0 0) <= 1/100 * Rabs t2)
    by (apply (mvt_bound (fun t => g1 0 t)); intros; apply d12; lra).
  assert (A21 : Rabs (g2 t1 t2 - g2 0 t2) <= 54/10 * Rabs t1)
    by (apply (mvt_bound (fun t => g2 t t2)); intros; apply d21; lra).
  assert (A22 : Rabs (g2 0 t2 - g2 0 0) <= 12/100 * Rabs t2)
    by (apply (mvt_bound (fun t => g2 0 t)); intros; apply d22; lra).
  rewrite Z1 in A12. rewrite Z2 in A22.
  assert (T1 := Rabs_triang (g1 t1 t2 - g1 0 t2) (g1 0 t2 - 0)).
  assert (T2 := Rabs_triang (g2 t1 t2 - g2 0 t2) (g2 0 t2 - 0)).
  replace (g1 t1 t2 - g1 0 t2 + (g1 0 t2 - 0)) with (g1 t1 t2) in T1 by ring.
  replace (g2 t1 t2 - g2 0 t2 + (g2 0 t2 - 0)) with (g2 t1 t2) in T2 by ring.
  assert (P := Rabs_pos t1). split; lra.
Qed.

Lemma good_t t1 t2 : Rabs t1 <= 1/1000 -> Rabs t2 <= 8/1000 ->
  good (cc t1) (t1 * cc t1) (t2 * cc t2) (cc t2).
Proof.
  intros H1 H2. box H1. box H2. unfold good. unf. split; interval with (i_prec 24, i_bisect t1, i_bisect t2,
    i_depth 10).
Qed.

Lemma cc_near t : Rabs t <= 1/100 -> Rabs (cc t - 1) <= Rabs t /\ Rabs (t * cc t) <= Rabs t.
Proof.
  intros H. assert (Hb := H). box Hb.
  assert (C : 0 < cc t <= 1) by (unfold cc; split; [apply Rinv_0_lt_compat, sqrt_lt_R0; nra|]; rewrite <- Rinv_1;
    apply Rinv_le_contravar; [lra|];
     rewrite <- sqrt_1 at 1; apply sqrt_le_1_alt; nra).
  assert (D : 1 - Rabs t <= cc t).
  { unfold cc. set (s := sqrt (1 + t * t)). assert (Hs : s * s = 1 + t * t) by (apply sqrt_sqrt; nra).
    assert (Hs0 : 0 < s) by (apply sqrt_lt_R0; nra). assert (A := Rabs_pos t).
    assert (A2 : Rabs t * Rabs t = t * t) by (rewrite <- Rabs_mult; apply Rabs_right; nra).
    assert (s <= 1 + Rabs t) by nra.
    apply Rmult_le_reg_r with s; [lra|]. rewrite Rinv_l by lra. nra. }
  split.
  - rewrite Rabs_left1 by lra. lra.
  - rewrite Rabs_mult, (Rabs_right (cc t)) by lra. assert (A := Rabs_pos t). nra.
Qed.

(** The first step, from an arbitrary (not normalised) start. *)
Lemma first_box a b c d : Rabs (a - 1) <= 1/10000 -> Rabs (b - 0) <= 1/10000 -> Rabs (c - 0) <= 1/10000 ->
  Rabs (d - 1) <= 1/10000 ->
  good a b c d /\ Rabs (G1 a b c d) <= 1/1000 /\ Rabs (G2 a b c d) <= 8/1000.
Proof.
  intros Ha Hb Hc Hd. box Ha. box Hb. box Hc. box Hd.
  assert (Ha' : 1 - 1/10000 <= a <= 1 + 1/10000) by lra. assert (Hb' : - (1/10000) <= b <= 1/10000) by lra.
  assert (Hc' : - (1/10000) <= c <= 1/10000) by lra. assert (Hd' : 1 - 1/10000 <= d <= 1 + 1/10000) by lra.
  clear Ha Hb Hc Hd. split; [|split].
  - unfold good. unf. split; interval with (i_prec 24).
  - unf. interval with (i_prec 24, i_bisect a, i_bisect b, i_bisect c, i_bisect d, i_depth 10).
  - unf. interval with (i_prec 24, i_bisect a, i_bisect b, i_bisect c, i_bisect d, i_depth 10).
Qed.

(** wu2024:conjecture refuted for two tokens in every dimension (complete mask, LayerNorm on the sphere).

    For every d >= 2 there are M = W_QK/sqrt(d_qk) and W_V, zero outside their first two rows and columns,
        M = [[0,-2],[3,3]],   W_V = A^{-1} diag(1, 1/4),   A the softmax of the rows of M,
    such that X* = (e_0, e_1), of rank two, is an exact fixed point of the layer, and every X whose first two columns
    are within 1/10000 of X* (the other columns are arbitrary, tokens need not be normalised) satisfies
    |F^{k+1}(X) - X*| <= 8/1000 (4/5)^k entrywise, with leading minor > 1/2: F^k(X) -> X*, no collapse to rank one.
    Method: with t = (x01/x00, x10/x11) the norm max(|t1|, |t2|/8) shrinks by 4/5 a layer,
      by the mean value theorem with the
    partial derivatives enclosed by interval arithmetic. *)

(** The first two rows and columns, padded with zeros. *)
Definition M2 : mat := fun a b => match a, b with O, O => 0 | O, 1%nat => -2 | 1%nat, O => 3 | 1%nat, 1%nat => 3 | _,
  _ => 0 end.
Definition W2 : mat := fun a b => match a, b with
  | O, O => (1 + e2) / (1 - e2) | O, 1%nat => - e2 / (2 * (1 - e2))
  | 1%nat, O => - (1 + e2) / (1 - e2) | 1%nat, 1%nat => 1 / (2 * (1 - e2)) | _, _ => 0 end.

Definition st (X : mat) (a b c d : R) : Prop :=
  X 0%nat 0%nat = a /\ X 0%nat 1%nat = b /\ X 1%nat 0%nat = c /\ X 1%nat 1%nat = d.
Lemma sum_low d f : (2 <= d)%nat -> (forall a, (2 <= a)%nat -> f a = 0) -> sum d f = f 0%nat + f 1%nat.
Proof.
  intros Hd H. induction d as [|[|[|d]] IH]; [lia|lia|simpl; ring|].
  change (sum (S (S (S d))) f) with (sum (S (S d)) f + f (S (S d))). rewrite IH, (H (S (S d))) by lia. lra.
Qed.

Section Two.
Variable d : nat.
Hypothesis Hd : (2 <= d)%nat.
Notation F := (sphere_map 2 d M2 W2 nomask).
Notation U := (Ux 2 d M2 W2 nomask).

Lemma bil_2 x y : bil d x M2 y = mf (x 0%nat) (x 1%nat) (y 0%nat) (y 1%nat).
Proof.
  unfold bil, mf. rewrite sum_low; [|exact Hd|].
  - rewrite !sum_low; [cbn [M2]; ring|exact Hd| |exact Hd|]; intros a Ha; destruct a as [|[|a]]; try lia; cbn [M2];
      ring.
  - intros a Ha. rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros b _. destruct a as [|[|a]]; try lia.
    cbn [M2]. ring.
Qed.
Lemma vmat_2 x b : vmat d x W2 b = x 0%nat * W2 0%nat b + x 1%nat * W2 1%nat b.
Proof. unfold vmat. rewrite sum_low; [reflexivity|exact Hd|]. intros a Ha. destruct a as [|[|a]]; try lia. cbn [W2].
ring. Qed.

Lemma U_2 X i b : U X i b =
  exp (mf (X i 0%nat) (X i 1%nat) (X 0%nat 0%nat) (X 0%nat 1%nat)) * (X 0%nat 0%nat * W2 0%nat b + X 0%nat 1%nat * W2
    1%nat b)
  + exp (mf (X i 0%nat) (X i 1%nat) (X 1%nat 0%nat) (X 1%nat 1%nat)) * (X 1%nat 0%nat * W2 0%nat b + X 1%nat 1%nat * W2
      1%nat b).
Proof. unfold Ux, Ex, nomask. cbn [sum]. rewrite !bil_2, !vmat_2. ring. Qed.

(** Row 0 with weights 1, rho1; row 1 with weights rho2, 1; the other columns vanish. *)
Lemma U_rows X a b c e : st X a b c e -> exists z0 z1, 0 < z0 /\ 0 < z1 /\
  U X 0%nat 0%nat = z0 * ((1 + e2) / (1 - e2) * p1 a b c e) /\
  U X 0%nat 1%nat = z0 * (n1 a b c e / (2 * (1 - e2))) /\
  U X 1%nat 0%nat = z1 * ((1 + e2) / (1 - e2) * n2 a b c e) /\
  U X 1%nat 1%nat = z1 * (p2 a b c e / (2 * (1 - e2))).
Proof.
  intros [Ha [Hb [Hc He]]]. assert (E := e2_b). exists (exp (mf a b a b)), (exp (mf c e c e)).
  split; [apply exp_pos|split; [apply exp_pos|]].
  assert (R1 : exp (mf a b c e) = exp (mf a b a b) * rho1 a b c e) by (unfold rho1; rewrite <- exp_plus; f_equal; ring).
  assert (R2 : exp (mf c e a b) = exp (mf c e c e) * rho2 a b c e) by (unfold rho2; rewrite <- exp_plus; f_equal; ring).
  rewrite !U_2, Ha, Hb, Hc, He, R1, R2. unfold p1, n1, p2, n2. cbn [W2]. repeat split; field; lra.
Qed.

Lemma U_high X i b : (2 <= b)%nat -> U X i b = 0.
Proof. intros Hb. rewrite U_2. destruct b as [|[|b]]; try lia. cbn [W2]. ring. Qed.

Lemma F_low X i b : (i < 2)%nat -> F X i b = U X i b / sqrt (U X i 0%nat * U X i 0%nat + U X i 1%nat * U X i 1%nat).
Proof.
  intros Hi. rewrite sphere_form; [|lia|apply nomask_padding; lia|exact Hi]. unfold l2, dot.
  rewrite sum_low; [reflexivity|exact Hd|]. intros a Ha. rewrite U_high by exact Ha. ring.
Qed.

Lemma F_high X i b : (i < 2)%nat -> (2 <= b)%nat -> F X i b = 0.
Proof. intros Hi Hb. rewrite F_low, U_high by assumption. unfold Rdiv. ring. Qed.

(** One layer in scalar form. *)
Lemma step X a b c e : st X a b c e -> good a b c e ->
  st (F X) (cc (G1 a b c e)) (G1 a b c e * cc (G1 a b c e)) (G2 a b c e * cc (G2 a b c e)) (cc (G2 a b c e)).
Proof.
  intros S [H1 H2]. assert (E := e2_b). destruct (U_rows X a b c e S) as [z0 [z1 [Z0 [Z1 [E1 [E3 [E4 E5]]]]]]].
  assert (Q1 : 0 < U X 0%nat 0%nat) by (rewrite E1; repeat first [apply Rdiv_lt_0_compat|apply Rmult_lt_0_compat]; lra).
  assert (Q2 : 0 < U X 1%nat 1%nat) by (rewrite E5; repeat first [apply Rdiv_lt_0_compat|apply Rmult_lt_0_compat]; lra).
  assert (T1 : U X 0%nat 1%nat / U X 0%nat 0%nat = G1 a b c e) by (rewrite E1, E3; unfold G1; field; repeat split; lra).
  assert (T2 : U X 1%nat 0%nat / U X 1%nat 1%nat = G2 a b c e) by (rewrite E4, E5; unfold G2; field; repeat split; lra).
  destruct (normalise_pos (U X 0%nat 0%nat) (U X 0%nat 1%nat) Q1) as [N1 N2].
  destruct (normalise_pos2 (U X 1%nat 0%nat) (U X 1%nat 1%nat) Q2) as [N3 N4].
  rewrite T1 in N1, N2. rewrite T2 in N3, N4.
  unfold st. rewrite !F_low by lia. rewrite N1, N2, N3, N4. auto.
Qed.

Lemma fixed_2 : fixed 2 d F eye.
Proof.
  assert (E := e2_b). assert (S0 : st eye 1 0 0 1) by (unfold st, eye; simpl; auto).
  assert (HG : good 1 0 0 1) by (unfold good, p1, p2; rewrite rho1_I, rho2_I; lra).
  assert (S := step _ _ _ _ _ S0 HG).
  assert (Z1 : G1 1 0 0 1 = 0). { unfold G1, n1. rewrite rho1_I. unfold Rdiv.
  replace (0 + e2 * 1 - e2 * (1 + e2 * 0)) with 0 by ring. ring. }
  assert (Z2 : G2 1 0 0 1 = 0). { unfold G2, n2. rewrite rho2_I. unfold Rdiv.
  replace (0 + 1 * 1 - (1 + 1 * 0)) with 0 by ring. ring. }
  rewrite Z1, Z2, cc0, Rmult_0_l in S. destruct S as [S1 [S2 [S3 S4]]].
  intros i a Hi Ha. destruct (Nat.lt_ge_cases a 2) as [La|La].
  - destruct i as [|[|i]]; [| |lia]; (destruct a as [|[|a]]; [| |lia]); assumption.
  - rewrite F_high by assumption. rewrite eye_diff by lia. reflexivity.
Qed.

Definition near (X : mat) := within 2 2 (1/10000) (fun i a => X i a - eye i a).

Lemma first X : near X -> exists a b c e, st X a b c e /\ good a b c e /\
  Rabs (G1 a b c e) <= 1/1000 /\ Rabs (G2 a b c e) <= 8/1000.
Proof.
  intros H. exists (X 0%nat 0%nat), (X 0%nat 1%nat), (X 1%nat 0%nat), (X 1%nat 1%nat). split; [unfold st; auto|].
  apply first_box; [exact (H 0%nat 0%nat ltac:(lia) ltac:(lia))|exact (H 0%nat 1%nat ltac:(lia) ltac:(lia))|
    exact (H 1%nat 0%nat ltac:(lia) ltac:(lia))|exact (H 1%nat 1%nat ltac:(lia) ltac:(lia))].
Qed.

Lemma orbit_t X : near X -> forall k, exists t1 t2,
  st (Nat.iter (Datatypes.S k) F X) (cc t1) (t1 * cc t1) (t2 * cc t2) (cc t2) /\
  Rabs t1 <= 1/1000 * (4/5) ^ k /\ Rabs t2 <= 8 * (1/1000 * (4/5) ^ k).
Proof.
  intros H. induction k as [|k [t1 [t2 [S [H1 H2]]]]].
  - destruct (first X H) as [a [b [c [e [S [Gd [B1 B2]]]]]]].
    exists (G1 a b c e), (G2 a b c e). simpl pow. split; [|split; lra]. now apply step.
  - assert (P : 0 <= (4/5) ^ k <= 1) by (split; [apply pow_le; lra|rewrite <- (pow1 k); apply pow_incr; lra]).
    exists (g1 t1 t2), (g2 t1 t2).
    destruct (contract t1 t2 (1/1000 * (4/5) ^ k)) as [C1 C2]; [lra|exact H1|exact H2|].
    split; [|split; simpl pow; lra].
    apply (step (Nat.iter (Datatypes.S k) F X)); [exact S|]. apply good_t; lra.
Qed.

End Two.

Theorem wu_conjecture_refuted d : (2 <= d)%nat -> exists M W : mat,
  let F := sphere_map 2 d M W nomask in
  fixed 2 d F eye /\
  forall X, within 2 2 (1/10000) (fun i a => X i a - eye i a) ->
    (forall k, let Y := Nat.iter (S k) F X in
       Y 0%nat 0%nat * Y 1%nat 1%nat - Y 0%nat 1%nat * Y 1%nat 0%nat > 1/2 /\
       within 2 d (8/1000 * (4/5) ^ k) (fun i a => Y i a - eye i a)) /\
    (forall i a, (i < 2)%nat -> (a < d)%nat -> is_lim_seq (fun k => Nat.iter k F X i a) (eye i a)).
Proof.
  intros Hd. exists M2, W2. intro F. split; [now apply fixed_2|]. intros X H.
  assert (P : forall k, 0 <= (4/5) ^ k <= 1)
    by (intro; split; [apply pow_le; lra|rewrite <- (pow1 k); apply pow_incr; lra]).
  assert (R : forall k i a, (i < 2)%nat -> (a < d)%nat -> Rabs (Nat.iter (S k) F X i a - eye i a) <= 8/1000 * (4/5) ^
    k).
  { intros k i a Hi Ha. destruct (orbit_t d Hd X H k) as [t1 [t2 [[Sa [Sb [Sc Sd]]] [H1 H2]]]]. specialize (P k).
    destruct (cc_near t1) as [N1 N2]; [lra|]. destruct (cc_near t2) as [N3 N4]; [lra|]. fold F in Sa, Sb, Sc, Sd.
    destruct (Nat.lt_ge_cases a 2) as [La|La].
    - destruct i as [|[|i]]; [| |lia]; (destruct a as [|[|a]]; [| |lia]); unfold eye; cbn [Nat.eqb];
        rewrite ?Sa, ?Sb, ?Sc, ?Sd, ?Rminus_0_r; lra.
    - simpl Nat.iter. unfold F at 1. rewrite F_high by assumption. rewrite eye_diff by lia.
      rewrite Rminus_0_r, Rabs_R0. lra. }
  split.
  - intros k Y. split; [|intros i a Hi Ha; now apply R].
    destruct (orbit_t d Hd X H k) as [t1 [t2 [[Sa [Sb [Sc Sd]]] [H1 H2]]]]. specialize (P k).
    unfold Y, F. rewrite Sa, Sb, Sc, Sd.
    assert (H1' : Rabs t1 <= 1/1000) by lra. assert (H2' : Rabs t2 <= 8/1000) by lra.
    box H1'. box H2'. unfold cc. interval with (i_prec 40).
  - intros i a Hi Ha. apply is_lim_seq_incr_1.
    assert (L : forall s, is_lim_seq (fun k => eye i a + s * (8/1000 * (4/5) ^ k)) (eye i a)).
    { intro s. evar_last. { apply is_lim_seq_plus'; [apply is_lim_seq_const|]. apply (is_lim_seq_scal_l _ s 0).
        evar_last. { apply (is_lim_seq_scal_l _ (8/1000) 0). apply is_lim_seq_geom. rewrite Rabs_right; lra. } simpl.
        f_equal. ring. }
      simpl. f_equal. ring. }
    apply is_lim_seq_le_le with (u := fun k => eye i a + -1 * (8/1000 * (4/5) ^ k)) (w := fun k => eye i a + 1 *
      (8/1000 * (4/5) ^ k)); [|apply L|apply L].
    intro k. specialize (R k i a Hi Ha). box R. lra.
Qed.

(** wu2024:conjecture refuted, own:stable-rank-two-every-n, for every number n >= 2 of tokens and every dimension d >=
  2.

    Complete mask, LayerNorm on the sphere.  There are M = W_QK/sqrt(d_qk) and W_V, zero outside their first two rows
    and columns, such that X* with n-1 tokens at e_0 and the last at e_1, of rank two,
      is an exact equilibrium that attracts
    every start near it (normalised or not) at an exponential rate: no rank collapse on an open set.
    With N = n-1, ep = e^{-3/2}/2, m = 2 + log(2/N): M = [[0, 1/2-m],[m, 2]], W_V = [[1, -k ep],[-2, k]], k > 0 small.
    The last token's row of the derivative vanishes on the tangent space, a small k makes the others at most 1/2. *)

(** n-1 tokens at e_0, the last at e_1. *)
Definition corner (n i : nat) : nat := if Nat.ltb i (n - 1) then 0%nat else 1%nat.
Definition two_clusters (n : nat) : mat := fun i => eye (corner n i).

Section AllTokens.
Variables (N d : nat).
Hypothesis HN : (1 <= N)%nat.
Hypothesis Hd : (2 <= d)%nat.
Notation n := (S N).

Definition ep := exp (-3/2) / 2.
Definition m21 := 2 + (ln 2 - ln (INR N)).
Definition m12 := 1/2 - m21.
Definition lam := 1 + ep * (Rabs m12 + Rabs m21 + 2) + ep * ep.
Definition kap := (1 - 2 * ep) / (2 * lam).
Definition MK : mat := fun a b => match a, b with O, 1%nat => m12 | 1%nat, O => m21 | 1%nat, 1%nat => 2 | _, _ => 0 end.
Definition WK : mat := fun a b => match a, b with O, O => 1 | O, 1%nat => - (kap * ep) | 1%nat, O => -2 | 1%nat,
  1%nat => kap | _, _ => 0 end.
Notation Z := (two_clusters n).
Notation co := (corner n).
Notation E := (Ex d MK nomask Z).
Notation U := (Ux n d MK WK nomask Z).
Notation F := (sphere_map n d MK WK nomask).

Lemma NP : 1 <= INR N. Proof. apply (le_INR 1). lia. Qed.
Lemma ep_b : 0 < ep /\ 2 * ep < 1/2.
Proof. unfold ep. split; interval with (i_prec 40). Qed.
Lemma lam_pos : 1 <= lam.
Proof.
  unfold lam. assert (P := ep_b). assert (A := Rabs_pos m12). assert (B := Rabs_pos m21).
  assert (0 <= ep * (Rabs m12 + Rabs m21 + 2)) by (apply Rmult_le_pos; lra). nra.
Qed.
Lemma kap_pos : 0 < kap.
Proof. unfold kap. assert (P := ep_b). assert (L := lam_pos). apply Rdiv_lt_0_compat; lra. Qed.
Lemma exp_m12 : exp m12 = INR N * ep.
Proof.
  assert (H := NP). unfold m12, m21, ep. replace (1/2 - (2 + (ln 2 - ln (INR N)))) with (-3/2 + (ln (INR N) + - ln 2))
    by field.
  rewrite !exp_plus, exp_Ropp, !exp_ln by lra. field.
Qed.
Lemma exp_m21 : INR N * exp m21 = 2 * exp 2.
Proof.
  assert (H := NP). unfold m21, Rminus. rewrite !exp_plus, exp_Ropp, !exp_ln by lra. field. lra.
Qed.

Lemma co_low i : (i < N)%nat -> co i = 0%nat.
Proof. intros H. unfold corner. destruct (Nat.ltb_spec i (n - 1)); [reflexivity|lia]. Qed.
Lemma co_last : co N = 1%nat.
Proof. unfold corner. destruct (Nat.ltb_spec N (n - 1)); [lia|reflexivity]. Qed.
Lemma co_d i : (co i < d)%nat.
Proof. unfold corner. destruct Nat.ltb; lia. Qed.

Lemma bil_co M i j : bil d (Z i) M (Z j) = M (co i) (co j).
Proof.
  unfold bil, two_clusters. rewrite (sum_ext d _ (fun a => eye (co i) a * sum d (fun b => eye (co j) b * M a b))).
  - rewrite (sum_eye_l d (fun a => sum d (fun b => eye (co j) b * M a b)) _ (co_d i)).
    apply (sum_eye_l d (fun b => M (co i) b) _ (co_d j)).
  - intros a _. rewrite <- sum_scal. apply sum_ext; intros; ring.
Qed.
Lemma vmat_co j b : vmat d (Z j) WK b = WK (co j) b.
Proof. unfold vmat, two_clusters. apply (sum_eye_l d (fun a => WK a b) _ (co_d j)). Qed.
Lemma E_co i j : E i j = exp (MK (co i) (co j)).
Proof. unfold Ex, nomask. rewrite bil_co. ring. Qed.

(** Sums over the keys of a row: N equal terms and the last. *)
Lemma row_sum i (f : nat -> R) : sum n (fun j => E i j * f (co j)) = INR N * (exp (MK (co i) 0%nat) * f 0%nat) + exp
  (MK (co i) 1%nat) * f 1%nat.
Proof.
  simpl. rewrite E_co, co_last. f_equal. rewrite <- sum_const. apply sum_ext; intros j Hj. rewrite E_co, (co_low j Hj).
  reflexivity.
Qed.
Lemma row_low i (f : nat -> R) : (i < N)%nat -> sum n (fun j => E i j * f (co j)) = INR N * (f 0%nat + ep * f 1%nat).
Proof. intros Hi. rewrite row_sum, co_low by exact Hi. cbn [MK]. rewrite exp_0, exp_m12. ring. Qed.
Lemma row_last (f : nat -> R) : sum n (fun j => E N j * f (co j)) = exp 2 * (2 * f 0%nat + f 1%nat).
Proof. rewrite row_sum, co_last. cbn [MK]. rewrite <- Rmult_assoc, exp_m21. ring. Qed.

Lemma U_low i b : (i < N)%nat -> U i b = INR N * (WK 0%nat b + ep * WK 1%nat b).
Proof. intros Hi. rewrite <- (row_low i (fun c => WK c b) Hi). unfold Ux. apply sum_ext; intros j _.
now rewrite vmat_co. Qed.
Lemma U_last b : U N b = exp 2 * (2 * WK 0%nat b + WK 1%nat b).
Proof. rewrite <- (row_last (fun c => WK c b)). unfold Ux. apply sum_ext; intros j _. now rewrite vmat_co. Qed.

Lemma U_coord i : (i < n)%nat -> 0 < U i (co i) /\ forall b, (b < d)%nat -> b <> co i -> U i b = 0.
Proof.
  intros Hi. assert (P := ep_b). assert (K := kap_pos). assert (H := NP). assert (X2 := exp_pos 2).
  destruct (Nat.eq_dec i N) as [->|Ne].
  - rewrite co_last. split.
    + rewrite U_last. cbn [WK]. apply Rmult_lt_0_compat; [lra|]. nra.
    + intros b _ Nb. rewrite U_last. destruct b as [|[|b]]; [cbn [WK]; ring|lia|cbn [WK]; ring].
  - rewrite co_low by lia. split.
    + rewrite U_low by lia. cbn [WK]. apply Rmult_lt_0_compat; lra.
    + intros b _ Nb. rewrite U_low by lia. destruct b as [|[|b]]; [lia|cbn [WK]; ring|cbn [WK]; ring].
Qed.

Lemma mask_ok : proper_mask n nomask.
Proof. apply nomask_padding. lia. Qed.

Lemma fixed_K : fixed n d F Z.
Proof.
  intros i b Hi Hb. destruct (U_coord i Hi) as [P Zr]. unfold two_clusters at 2.
  apply (sphere_coord n d MK WK nomask ltac:(lia) mask_ok Z i (co i) Hi (co_d i) P Zr b Hb).
Qed.

Lemma derivative_K : derivative n d F Z (dF n d MK WK nomask Z).
Proof.
  apply layer_derivative; [lia|exact mask_ok|]. intros i Hi. destruct (U_coord i Hi) as [P Zr].
  rewrite (l2_coord d _ (co i) (co_d i) P Zr). exact P.
Qed.

Lemma dlogit_co i j p q : (q < d)%nat -> dlogit d MK Z i j p q = eye p i * MK q (co j) + eye p j * MK (co i) q.
Proof.
  intros Hq. unfold dlogit, two_clusters. f_equal; f_equal.
  - rewrite (sum_ext d _ (fun c => eye (co j) c * MK q c)) by (intros; ring).
    apply (sum_eye_l d (fun c => MK q c) _ (co_d j)).
  - apply (sum_eye_l d (fun a => MK a q) _ (co_d i)).
Qed.

Lemma dU_co i b p q : (p < n)%nat -> (q < d)%nat -> dU n d MK WK nomask Z i b p q =
  exp (MK (co i) (co p)) * (WK q b + WK (co p) b * MK (co i) q) + eye p i * sum n (fun j => E i j * (WK (co j) b * MK q
    (co j))).
Proof.
  intros Hp Hq. unfold dU. rewrite <- (E_co i p).
  rewrite (sum_ext n _ (fun j => eye p j * (E i j * (WK q b + WK (co j) b * MK (co i) q)) + eye p i * (E i j * (WK (co
    j) b * MK q (co j))))).
  - rewrite sum_plus, sum_scal. f_equal. apply (sum_eye_l n (fun j => E i j * (WK q b + WK (co j) b * MK (co i) q)) p
      Hp).
  - intros j _. rewrite dlogit_co, vmat_co by exact Hq. ring.
Qed.

(** The tangent coordinates: e_1 for the first tokens, e_0 for the last. *)
Definition tangent (i b : nat) : bool := Nat.eqb b (1 - co i).

Lemma tangent_sum (f : nat -> nat -> R) : sum n (fun p => sum d (fun b => if tangent p b then f p b else 0)) = sum N
  (fun p => f p 1%nat) + f N 0%nat.
Proof.
  assert (T : forall p, sum d (fun b => if tangent p b then f p b else 0) = f p (1 - co p)%nat).
  { intro p. unfold tangent. rewrite (sum_single d _ (1 - co p)%nat); [now rewrite Nat.eqb_refl|unfold corner;
      destruct Nat.ltb; lia|].
    intros b _ Nb. destruct (Nat.eqb_spec b (1 - co p)); [lia|reflexivity]. }
  change (sum n (fun p => sum d (fun b => if tangent p b then f p b else 0)))
    with (sum N (fun p => sum d (fun b => if tangent p b then f p b else 0)) + sum d (fun b => if tangent N b then f N
      b else 0)).
  rewrite T, co_last. f_equal. apply sum_ext; intros p Hp. now rewrite T, co_low.
Qed.

Lemma dF_K i b p q : (i < n)%nat -> (b < d)%nat -> dF n d MK WK nomask Z i b p q = if Nat.eqb b (co i) then 0 else dU n
  d MK WK nomask Z i b p q / U i (co i).
Proof.
  intros Hi Hb. destruct (U_coord i Hi) as [P Zr]. apply (dF_coord n d MK WK nomask ltac:(lia) mask_ok Z i (co i) b p q
    Hi (co_d i) P Zr Hb).
Qed.

Lemma dF_low i p q : (i < N)%nat -> dF n d MK WK nomask Z i 1%nat p q = dU n d MK WK nomask Z i 1%nat p q / (INR N * (1
  - 2 * ep)).
Proof.
  intros Hi. rewrite dF_K by lia. rewrite U_low by exact Hi. rewrite (co_low i Hi). cbn [Nat.eqb WK]. f_equal. ring.
Qed.

Lemma inactive i a p b : (i < n)%nat -> (a < d)%nat -> (p < n)%nat -> (b < d)%nat -> tangent i a = false ->
  dF n d MK WK nomask Z i a p b = 0.
Proof.
  intros Hi Ha Hp Hb T. rewrite dF_K by assumption. destruct (Nat.eqb_spec a (co i)) as [|Ne]; [reflexivity|].
  assert (A2 : (2 <= a)%nat).
  { unfold tangent in T. apply Nat.eqb_neq in T. unfold corner in *. destruct Nat.ltb; lia. }
  rewrite dU_co by assumption.
  assert (W0 : forall c, WK c a = 0) by (intro c; destruct a as [|[|a]]; try lia; destruct c as [|[|c]]; reflexivity).
  rewrite !W0. rewrite (sum_ext n _ (fun _ => 0)) by (intros; rewrite W0; ring). rewrite sum_zero. unfold Rdiv. ring.
Qed.

Lemma active_low i : (i < N)%nat -> sum n (fun p => sum d (fun b => if tangent p b then Rabs (dF n d MK WK nomask Z i
  1%nat p b) else 0)) <= 1/2.
Proof.
  intros Hi. assert (P := ep_b). assert (K := kap_pos). assert (H := NP). assert (L := lam_pos).
  rewrite (tangent_sum (fun p b => Rabs (dF n d MK WK nomask Z i 1%nat p b))).
  assert (D0 : 0 < INR N * (1 - 2 * ep)) by (apply Rmult_lt_0_compat; lra).
  assert (A1 : forall p, (p < N)%nat -> Rabs (dF n d MK WK nomask Z i 1%nat p 1%nat) <=
     (kap * (1 + ep * Rabs m12) + eye i p * (INR N * (kap * (ep * (2 + Rabs m21))))) / (INR N * (1 - 2 * ep))).
  { intros p Hp. rewrite dF_low, dU_co by lia.
    rewrite (row_low i (fun c => WK c 1%nat * MK 1%nat c) Hi). rewrite (co_low i Hi), (co_low p Hp). cbn [WK MK].
    rewrite exp_0.
    unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_right (INR N * (1 - 2 * ep))) by lra.
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
    replace (1 * (kap + - (kap * ep) * m12) + eye p i * (INR N * (- (kap * ep) * m21 + ep * (kap * 2))))
      with (kap * (1 + - ep * m12) + eye i p * (INR N * (kap * (ep * (2 + - m21))))) by (rewrite (eye_sym p i); ring).
    eapply Rle_trans; [apply Rabs_triang|].
    assert (Q1 : Rabs (1 + - ep * m12) <= 1 + ep * Rabs m12).
    { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, Rabs_Ropp, (Rabs_right ep), (Rabs_right 1) by lra.
      lra. }
    assert (Q2 : Rabs (2 + - m21) <= 2 + Rabs m21).
    { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp, (Rabs_right 2) by lra. lra. }
    apply Rplus_le_compat.
    - rewrite Rabs_mult, (Rabs_right kap) by lra. apply Rmult_le_compat_l; lra.
    - rewrite !Rabs_mult, (Rabs_right kap), (Rabs_right ep), (Rabs_right (INR N)) by lra.
      assert (0 <= eye i p) by (unfold eye; destruct Nat.eqb; lra). rewrite (Rabs_right (eye i p)) by lra.
      apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [lra|].
      apply Rmult_le_compat_l; lra. }
  assert (A2 : Rabs (dF n d MK WK nomask Z i 1%nat N 0%nat) <= INR N * (kap * (ep * ep)) / (INR N * (1 - 2 * ep))).
  { rewrite dF_low, dU_co by lia.
    rewrite (co_low i Hi), co_last, eye_diff by lia. cbn [WK MK]. rewrite exp_m12.
    unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_right (INR N * (1 - 2 * ep))) by lra.
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. rewrite Rmult_0_l, Rplus_0_r.
    replace (INR N * ep * (- (kap * ep) + kap * 0)) with (- (INR N * (kap * (ep * ep)))) by ring.
    rewrite Rabs_Ropp, Rabs_right; [lra|]. apply Rle_ge. apply Rmult_le_pos; [lra|apply Rmult_le_pos;
      [lra|apply Rmult_le_pos; lra]]. }
  assert (A3 : sum N (fun p => Rabs (dF n d MK WK nomask Z i 1%nat p 1%nat)) <=
     (INR N * (kap * (1 + ep * Rabs m12)) + INR N * (kap * (ep * (2 + Rabs m21)))) / (INR N * (1 - 2 * ep))).
  { eapply Rle_trans; [apply (sum_le N _ _ A1)|]. unfold Rdiv. rewrite sum_scal_r. rewrite sum_plus, sum_const.
    rewrite (sum_eye_l N (fun _ => INR N * (kap * (ep * (2 + Rabs m21)))) i Hi). lra. }
  assert (T : (INR N * (kap * (1 + ep * Rabs m12)) + INR N * (kap * (ep * (2 + Rabs m21)))) / (INR N * (1 - 2 * ep)) +
    INR N * (kap * (ep * ep)) / (INR N * (1 - 2 * ep)) = 1/2).
  { assert (KL : kap * lam = (1 - 2 * ep) / 2) by (unfold kap; field; lra). unfold lam in KL.
    replace (INR N * (kap * (1 + ep * Rabs m12)) + INR N * (kap * (ep * (2 + Rabs m21)))) with (INR N * ((1 - 2 * ep) /
      2 - kap * (ep * ep))) by (rewrite <- KL; ring).
    field. lra. }
  lra.
Qed.

Lemma active_last : sum n (fun p => sum d (fun b => if tangent p b then Rabs (dF n d MK WK nomask Z N 0%nat p b) else
  0)) <= 1/2.
Proof.
  rewrite (tangent_sum (fun p b => Rabs (dF n d MK WK nomask Z N 0%nat p b))).
  rewrite (sum_ext N _ (fun _ => 0)).
  - rewrite sum_zero. rewrite dF_K by lia. rewrite co_last. cbn [Nat.eqb]. rewrite dU_co by lia.
    rewrite (row_last (fun c => WK c 0%nat * MK 0%nat c)). rewrite co_last, eye_same. cbn [WK MK].
    replace (exp 2 * (1 + -2 * m21) + 1 * (exp 2 * (2 * (1 * 0) + -2 * m12))) with 0 by (unfold m12; field).
    unfold Rdiv. rewrite Rmult_0_l, Rabs_R0. lra.
  - intros p Hp. rewrite dF_K by lia. rewrite co_last. cbn [Nat.eqb]. rewrite dU_co by lia. rewrite eye_diff by lia.
    rewrite co_last, (co_low p Hp). cbn [WK MK].
    rewrite Rmult_0_l. replace (exp m21 * (-2 + 1 * 2) + 0) with 0 by ring.
    unfold Rdiv. rewrite Rmult_0_l. apply Rabs_R0.
Qed.

Lemma attracts_K : attracts n d F Z.
Proof.
  apply (attraction_active n d F Z (dF n d MK WK nomask Z) tangent (1/2) fixed_K derivative_K); [lra|exact inactive|].
  intros i a Hi Ha T. unfold tangent in T. apply Nat.eqb_eq in T. subst a. destruct (Nat.eq_dec i N) as [->|Ne].
  - rewrite co_last. exact active_last.
  - rewrite co_low by lia. apply active_low. lia.
Qed.
End AllTokens.

Theorem wu_all_n n d : (2 <= n)%nat -> (2 <= d)%nat -> exists M W : mat,
  fixed n d (sphere_map n d M W nomask) (two_clusters n) /\
  attracts n d (sphere_map n d M W nomask) (two_clusters n).
Proof.
  intros Hn Hd. destruct n as [|N]; [lia|]. exists (MK N), (WK N). split; [apply fixed_K|apply attracts_K]; lia.
Qed.
