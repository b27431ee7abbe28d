(** own:late.  gamma is the common cosine of m orthogonal tokens under attention: gamma 0 = 0 and gamma' = 2 (1 -
  gamma) (1 + (m-1) gamma) /
    (e^(beta (1 - gamma)) + m - 1).  From the time s = (e^beta + m - 1)/3 on 1 - gamma <=
      e^(-(m+1)(t-s)/(m-1+e^(beta/2)))/2. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
Local Open Scope R_scope.

Lemma grows (f df : R -> R) a b : a <= b -> (forall t, a <= t <= b -> is_derive f t (df t)) ->
  (forall t, a <= t <= b -> 0 <= df t) -> f a <= f b.
Proof.
  intros Hab D P. destruct (MVT_gen f a b df) as (c & Hc & E).
  - intros t Ht. rewrite Rmin_left, Rmax_right in Ht by lra. apply D. lra.
  - intros t Ht. rewrite Rmin_left, Rmax_right in Ht by lra. apply continuity_pt_filterlim, (ex_derive_continuous f t).
    exists (df t). apply D. lra.
  - rewrite Rmin_left, Rmax_right in Hc by lra. specialize (P c Hc). nra.
Qed.

Section Late.
Variables (m beta : R) (gamma : R -> R).
Hypothesis Hm : 2 <= m.
Hypothesis Hb : 0 <= beta.
Let F (g : R) : R := 2 * (1 - g) * (1 + (m - 1) * g) / (exp (beta * (1 - g)) + m - 1).
Hypothesis start : gamma 0 = 0.
Hypothesis between : forall t, 0 <= t -> 0 <= gamma t < 1.
Hypothesis flow : forall t, 0 <= t -> is_derive gamma t (F (gamma t)).
Let s : R := (exp beta + m - 1) / 3.
Let k : R := (m + 1) / (m - 1 + exp (beta / 2)).

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [H | ->]; [left; now apply exp_increasing | lra]. Qed.
Lemma F_pos g : 0 <= g < 1 -> 0 <= F g.
Proof. intros H. unfold F. assert (E := exp_pos (beta * (1 - g))). apply Rdiv_le_0_compat; [|lra].
apply Rmult_le_pos; nra. Qed.
Lemma F_early g : 0 <= g <= / 2 -> 1 / 2 / s <= F g.
Proof.
  intros H. unfold F, s. assert (E0 := exp_pos (beta * (1 - g))). assert (E1 := exp_pos beta).
  assert (E : exp (beta * (1 - g)) <= exp beta) by (apply exp_le; nra).
  replace (1 / 2 / ((exp beta + m - 1) / 3)) with (3 / 2 / (exp beta + m - 1)) by (field; lra).
  apply Rle_trans with (3 / 2 / (exp (beta * (1 - g)) + m - 1)).
  - apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
  - apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. assert (A : g <= (m - 1) * g) by nra.
    assert (B : (1 - g) * (1 + g) <= (1 - g) * (1 + (m - 1) * g)) by (apply Rmult_le_compat_l; lra). nra.
Qed.
Lemma F_later g : / 2 <= g < 1 -> k * (1 - g) <= F g.
Proof.
  intros H. unfold F, k. assert (E0 := exp_pos (beta * (1 - g))). assert (E1 := exp_pos (beta / 2)).
  assert (E : exp (beta * (1 - g)) <= exp (beta / 2)) by (apply exp_le; nra).
  apply Rle_trans with ((m + 1) * (1 - g) / (exp (beta * (1 - g)) + m - 1)).
  - replace ((m + 1) / (m - 1 + exp (beta / 2)) * (1 - g)) with ((m + 1) * (1 - g) * / (m - 1 + exp (beta / 2))) by
      (field; lra).
    apply Rmult_le_compat_l; [nra|]. apply Rinv_le_contravar; lra.
  - apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. assert (A : m + 1 <= 2 * (1 + (m - 1) * g)) by nra.
    nra.
Qed.

Lemma s_pos : 0 < s. Proof. unfold s. assert (E := exp_pos beta). lra. Qed.
Lemma monotone a b : 0 <= a <= b -> gamma a <= gamma b.
Proof. intros H. apply (grows gamma (fun t => F (gamma t))); [lra | intros t Ht; apply flow; lra | intros t Ht;
  apply F_pos, between; lra]. Qed.

Lemma half_way : / 2 <= gamma s.
Proof.
  assert (S := s_pos). destruct (Rle_lt_dec (/ 2) (gamma s)) as [|L]; [assumption|]. exfalso.
  assert (G : 0 - 1 / 2 / s * 0 <= gamma s - 1 / 2 / s * s).
  { rewrite <- start at 1. apply (grows (fun t => gamma t - 1 / 2 / s * t) (fun t => F (gamma t) - 1 / 2 / s));
      [lra| |].
    - intros t Ht. auto_derive; [exists (F (gamma t)); apply flow; lra|].
      change (Derive (fun x => gamma x) t) with (Derive gamma t).
      rewrite (is_derive_unique gamma t (F (gamma t))) by (apply flow; lra). ring.
    - intros t Ht. assert (M := monotone t s Ht). destruct (between t) as [B _]; [lra|].
      assert (E := F_early (gamma t)). lra. }
  replace (1 / 2 / s * s) with (1 / 2) in G by (field; lra). lra.
Qed.

Theorem late t : s <= t -> 1 - gamma t <= / 2 * exp (- (k * (t - s))).
Proof.
  intros Ht. assert (S := s_pos). assert (Hh := half_way).
  assert (G : - ((1 - gamma s) * exp (k * (s - s))) <= - ((1 - gamma t) * exp (k * (t - s)))).
  { apply (grows (fun u => - ((1 - gamma u) * exp (k * (u - s)))) (fun u => (F (gamma u) - k * (1 - gamma u)) * exp (k
      * (u - s)))); [exact Ht| |].
    - intros u Hu. auto_derive; [exists (F (gamma u)); apply flow; lra|].
      change (Derive (fun x => gamma x) u) with (Derive gamma u).
      rewrite (is_derive_unique gamma u (F (gamma u))) by (apply flow; lra). generalize (F (gamma u)). intros v.
      unfold Rminus. ring.
    - intros u Hu. apply Rmult_le_pos; [|left; apply exp_pos]. assert (M := monotone s u ltac:(lra)).
      destruct (between u) as [_ B]; [lra|]. assert (E := F_later (gamma u)). lra. }
  replace (k * (s - s)) with 0 in G by ring. rewrite exp_0 in G. rewrite exp_Ropp.
  apply Rmult_le_reg_r with (exp (k * (t - s))); [apply exp_pos|].
  rewrite Rmult_assoc, Rinv_l by (apply Rgt_not_eq, exp_pos). lra.
Qed.
End Late.
