(** The layer of wu2024_conjecture.v in scalars: t1 = x01/x00 and t2 = x10/x11 shrink, by interval arithmetic. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import IntervalZ.
Local Open Scope R_scope.

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
