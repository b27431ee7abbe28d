(** own:order, the sequences (thm:order-seq).  If r_L > 0 and c1 r_L^3 <= r_{L+1} <= c2 r_L^3 for all L, 0 < c1, then
    there is ell with (1/2) log c1 <= 3^L ell - log r_L <= (1/2) log c2 for every L (so ell = lim 3^-L log r_L, with
    certified digits); and if sqrt c2 r_L < 1 for some L, then ell < 0 and log r_{L+1} / log r_L -> 3.
    The two-sided bound of one layer is a hypothesis here. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Rcomplements.
From Rankmath Require Import Definitions Functions.
Local Open Scope R_scope.

Section Order.
Variables (r : nat -> R) (c1 c2 : R).
Hypothesis c1_pos : 0 < c1.
Hypothesis r_pos : forall L, 0 < r L.
Hypothesis cubic : forall L, c1 * r L ^ 3 <= r (S L) <= c2 * r L ^ 3.

Let s L := ln (r L).
Let p L := 3 ^ L.

Lemma p_pos L : 0 < p L. Proof. apply pow_lt. lra. Qed.

Lemma c2_pos : 0 < c2.
Proof.
  assert (H := cubic 0%nat). assert (P : 0 < r 0%nat ^ 3) by (apply pow_lt, r_pos). assert (Q := r_pos 1%nat).
  destruct (Rlt_or_le 0 c2) as [|G]; [assumption|exfalso]. nra.
Qed.

(** log c1 <= log r_{L+1} - 3 log r_L <= log c2 *)
Lemma step L : ln c1 <= s (S L) - 3 * s L <= ln c2.
Proof.
  assert (C2 := c2_pos). assert (R := r_pos L). assert (P : 0 < r L ^ 3) by (now apply pow_lt). unfold s.
  assert (E : forall c, 0 < c -> ln (c * r L ^ 3) = ln c + 3 * ln (r L)).
  { intros c Hc. rewrite ln_mult by assumption. simpl. rewrite Rmult_1_r, !ln_mult by nra. ring. }
  destruct (cubic L) as [H1 H2]. split.
  - assert (Q : ln (c1 * r L ^ 3) <= ln (r (S L))) by (apply ln_le; [nra|exact H1]). rewrite E in Q by assumption. lra.
  - assert (Q : ln (r (S L)) <= ln (c2 * r L ^ 3)) by (apply ln_le; [apply r_pos|exact H2]).
    rewrite E in Q by assumption. lra.
Qed.

Let low L := (s L + ln c1 / 2) / p L.
Let high L := (s L + ln c2 / 2) / p L.

Lemma low_step L : low L <= low (S L).
Proof.
  assert (P := p_pos L). assert (S1 := step L). unfold low. replace (p (S L)) with (3 * p L) by reflexivity.
  apply Rmult_le_reg_r with (3 * p L); [lra|].
  replace ((s L + ln c1 / 2) / p L * (3 * p L)) with (3 * s L + 3 * ln c1 / 2) by (field; lra).
  replace ((s (S L) + ln c1 / 2) / (3 * p L) * (3 * p L)) with (s (S L) + ln c1 / 2) by (field; lra). lra.
Qed.
Lemma high_step L : high (S L) <= high L.
Proof.
  assert (P := p_pos L). assert (S1 := step L). unfold high. replace (p (S L)) with (3 * p L) by reflexivity.
  apply Rmult_le_reg_r with (3 * p L); [lra|].
  replace ((s L + ln c2 / 2) / p L * (3 * p L)) with (3 * s L + 3 * ln c2 / 2) by (field; lra).
  replace ((s (S L) + ln c2 / 2) / (3 * p L) * (3 * p L)) with (s (S L) + ln c2 / 2) by (field; lra). lra.
Qed.
Lemma low_mono L k : low L <= low (k + L)%nat.
Proof. induction k; simpl; [lra|]. eapply Rle_trans; [exact IHk|apply low_step]. Qed.
Lemma high_mono L k : high (k + L)%nat <= high L.
Proof. induction k; simpl; [lra|]. eapply Rle_trans; [apply high_step|exact IHk]. Qed.
Lemma low_high L : low L <= high L.
Proof.
  assert (P := p_pos L). assert (S1 := step 0%nat). unfold low, high, Rdiv.
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. lra.
Qed.
Lemma low_le_high L K : low L <= high K.
Proof.
  destruct (Nat.le_ge_cases L K) as [H|H].
  - eapply Rle_trans; [apply (low_mono L (K - L))|]. replace (K - L + L)%nat with K by lia. apply low_high.
  - eapply Rle_trans; [|apply (high_mono K (L - K))]. replace (L - K + K)%nat with L by lia. apply low_high.
Qed.

Theorem cubic_order : exists ell,
  (forall L, / 2 * ln c1 <= 3 ^ L * ell - ln (r L) <= / 2 * ln c2) /\
  ((exists L, sqrt c2 * r L < 1) -> ell < 0 /\
   forall eps, 0 < eps -> exists L0, forall L, (L0 <= L)%nat -> Rabs (ln (r (S L)) / ln (r L) - 3) <= eps).
Proof.
  destruct (completeness (fun y => exists L, y = low L)) as [ell [Ub Lb]].
  - exists (high 0%nat). intros y [L ->]. apply low_le_high.
  - exists (low 0%nat). now exists 0%nat.
  - exists ell.
    assert (Tail : forall L, / 2 * ln c1 <= 3 ^ L * ell - ln (r L) <= / 2 * ln c2).
    { intro L. assert (P := p_pos L). assert (A : low L <= ell) by (apply Ub; now exists L).
      assert (B : ell <= high L) by (apply Lb; intros y [K ->]; apply low_le_high).
      unfold low, high in A, B. fold (p L). fold (s L).
      apply (Rmult_le_compat_l (p L)) in A; [|lra]. apply (Rmult_le_compat_l (p L)) in B; [|lra].
      replace (p L * ((s L + ln c1 / 2) / p L)) with (s L + ln c1 / 2) in A by (field; lra).
      replace (p L * ((s L + ln c2 / 2) / p L)) with (s L + ln c2 / 2) in B by (field; lra). lra. }
    split; [exact Tail|]. intros [L1 H1].
    assert (C2 := c2_pos). assert (E0 : ell < 0).
    { assert (R := r_pos L1). assert (Sp : 0 < sqrt c2) by (now apply sqrt_lt_R0).
      assert (Q : ln (sqrt c2 * r L1) < 0) by (rewrite <- ln_1; apply ln_increasing; [apply Rmult_lt_0_compat;
        assumption|exact H1]).
      rewrite ln_mult in Q by assumption.
      assert (Hs : ln c2 = 2 * ln (sqrt c2)) by (rewrite <- (sqrt_sqrt c2) at 1 by lra; rewrite ln_mult by assumption;
        ring).
      assert (T := Tail L1). assert (P := p_pos L1). fold (p L1) in T.
      assert (p L1 * ell < 0) by lra. nra. }
    split; [exact E0|]. intros eps He.
    set (M := Rmax (Rabs (ln c1)) (Rabs (ln c2))). assert (M0 : 0 <= M) by (eapply Rle_trans;
      [apply Rabs_pos|apply Rmax_l]).
    assert (M1 : Rabs (ln c1) <= M) by apply Rmax_l. assert (M2 : Rabs (ln c2) <= M) by apply Rmax_r.
    set (big := (M / eps + M + 1) / (- ell)).
    destruct (Pow_x_infinity 3 ltac:(rewrite Rabs_right; lra) big) as [L0 HL0].
    exists L0. intros L HL. assert (B := HL0 L HL). rewrite Rabs_right in B by (apply Rle_ge, pow_le; lra).
    assert (T := Tail L). fold (s L) (s (S L)) in *.
    assert (A1 := Rabs_le_between (ln c1) M). destruct (proj1 A1 M1) as [A1l A1u].
    assert (Gr : M / eps + M + 1 <= 3 ^ L * (- ell)).
    { apply Rge_le in B. apply (Rmult_le_compat_r (- ell)) in B; [|lra]. unfold big in B.
      replace ((M / eps + M + 1) / - ell * - ell) with (M / eps + M + 1) in B by (field; lra). exact B. }
    assert (Me : 0 <= M / eps) by (apply Rmult_le_pos; [exact M0|left; now apply Rinv_0_lt_compat]).
    assert (Neg : s L <= - (M / eps) - 1) by lra.
    assert (St := step L). assert (Ab : Rabs (s (S L) - 3 * s L) <= M).
    { apply Rabs_le. assert (A2 := Rabs_le_between (ln c2) M). destruct (proj1 A2 M2) as [_ A2u]. lra. }
    replace (s (S L) / s L - 3) with ((s (S L) - 3 * s L) / s L) by (field; lra).
    unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_left (s L)) by lra.
    apply Rmult_le_reg_r with (- s L); [lra|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rle_trans with M; [exact Ab|]. apply Rle_trans with (eps * (M / eps)); [right; field; lra|].
    apply Rmult_le_compat_l; lra.
Qed.
End Order.
