(** dong2021:A.3, the softmax sandwich.  Let q be a probability vector, p_j = q_j e^{E_j} / sum_k q_k e^{E_k}
    and E_j - E_k <= D wherever q_j, q_k > 0.  Then e^{-D} q_j <= p_j <= e^D q_j and (1 - D) q_j <= p_j; and
    if e^D <= 1 + 2D, then p_j <= (1 + 2D) q_j and |p_j - q_j| <= 2D q_j   [sandwich].
    The positive root x* of e^x = 1 + 2x is unique, 1.2564 < x* < 1.2565, and for D >= 0 the hypothesis
    is D <= x*   [x_star_spec].  dong2021v1:A.3 (no hypothesis on D) is false: for every D > x* two atoms
    have p_0 > (1 + 2D) q_0   [sandwich_fails_beyond]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms Softmax.
Local Open Scope R_scope.

Theorem sandwich n (q E : vec) (D : R) :
  (forall j, (j < n)%nat -> 0 <= q j) -> sum n q = 1 ->
  (forall j k, (j < n)%nat -> (k < n)%nat -> 0 < q j -> 0 < q k -> E j - E k <= D) ->
  forall j, (j < n)%nat ->
  exp (- D) * q j <= tilt n q E j <= exp D * q j /\
  (1 - D) * q j <= tilt n q E j /\
  (exp D <= 1 + 2 * D -> tilt n q E j <= (1 + 2 * D) * q j /\ Rabs (tilt n q E j - q j) <= 2 * D * q j).
Proof.
  intros Hq Hs Ho j Hj. assert (W : weights n q) by now apply prob_weights.
  assert (Zp := tilt_Z_pos n q W E). set (Z := sum n (fun k => q k * exp (E k))) in *.
  assert (D0 : 0 <= D). { destruct W as [_ [k [Hk Pk]]]. specialize (Ho k k Hk Hk Pk Pk). lra. }
  assert (Qj := Hq j Hj). assert (Pj := exp_pos (E j)).
  assert (main : exp (- D) * q j <= tilt n q E j <= exp D * q j).
  { destruct (Rle_lt_or_eq_dec 0 (q j) Qj) as [Lj|Lj].
    2:{ unfold tilt. rewrite <- Lj. unfold Rdiv. split; right; ring. }
    assert (Z1 : Z <= exp (E j) * exp D).
    { rewrite <- (Rmult_1_l (exp (E j) * exp D)), <- Hs, <- sum_scal_r. apply sum_le; intros k Hk.
      destruct (Rle_lt_or_eq_dec 0 (q k) (Hq k Hk)) as [Lk|Lk]; [|rewrite <- Lk; lra].
      apply Rmult_le_compat_l; [lra|]. rewrite <- exp_plus. apply exp_le. specialize (Ho k j Hk Hj Lk Lj). lra. }
    assert (Z2 : exp (E j) * exp (- D) <= Z).
    { rewrite <- (Rmult_1_l (exp (E j) * exp (- D))), <- Hs, <- sum_scal_r. apply sum_le; intros k Hk.
      destruct (Rle_lt_or_eq_dec 0 (q k) (Hq k Hk)) as [Lk|Lk]; [|rewrite <- Lk; lra].
      apply Rmult_le_compat_l; [lra|]. rewrite <- exp_plus. apply exp_le. specialize (Ho j k Hj Hk Lj Lk). lra. }
    assert (Ed : exp D * exp (- D) = 1) by (rewrite <- exp_plus, <- exp_0; f_equal; ring).
    assert (PD := exp_pos D). assert (PD' := exp_pos (- D)).
    unfold tilt. fold Z. split; (apply Rmult_le_reg_r with Z; [exact Zp|]); unfold Rdiv;
      rewrite (Rmult_assoc _ (/ Z) Z), Rinv_l, Rmult_1_r by lra.
    - rewrite (Rmult_comm (exp (- D))), Rmult_assoc. apply Rmult_le_compat_l; [lra|]. nra.
    - rewrite (Rmult_comm (exp D)), Rmult_assoc. apply Rmult_le_compat_l; [lra|]. nra. }
  assert (low : (1 - D) * q j <= tilt n q E j).
  { eapply Rle_trans; [|apply main]. apply Rmult_le_compat_r; [exact Qj|].
    assert (A := exp_ineq1_le (- D)). lra. }
  split; [exact main|split; [exact low|]]. intros Hx.
  assert (up : tilt n q E j <= (1 + 2 * D) * q j) by (eapply Rle_trans; [apply main|now apply Rmult_le_compat_r]).
  split; [exact up|]. apply Rabs_le. nra.
Qed.

(* ---------- the number x* ---------- *)
Definition x_star_is (x : R) : Prop := 0 < x /\ exp x = 1 + 2 * x.

Lemma x_star_order x D : x_star_is x -> 0 <= D -> (exp D <= 1 + 2 * D <-> D <= x).
Proof.
  intros [X0 Ex] D0. split; intros H.
  - destruct (Rle_or_lt D x) as [|G]; [assumption|exfalso].
    assert (T : 0 < x / D < 1).
    { split; [apply Rdiv_lt_0_compat; lra|]. apply Rmult_lt_reg_r with D; [lra|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (C := exp_convex_strict (x / D) D T ltac:(lra)). replace (x / D * D) with x in C by (field; lra).
    rewrite Ex in C. assert (x / D * exp D <= x / D * (1 + 2 * D)) by (apply Rmult_le_compat_l; lra).
    replace (x / D * (1 + 2 * D)) with (x / D + 2 * x) in H0 by (field; lra). lra.
  - assert (T : 0 <= D / x <= 1).
    { split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
      apply Rmult_le_reg_r with x; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (C := exp_convex (D / x) x T). replace (D / x * x) with D in C by (field; lra). rewrite Ex in C.
    replace (1 - D / x + D / x * (1 + 2 * x)) with (1 + 2 * D) in C by (field; lra). exact C.
Qed.

Lemma exp_below : exp 1.2564 - 1 - 2 * 1.2564 < 0.
Proof.
  assert (exp 1.2564 <= 3.51279); [|lra].
  replace 1.2564 with (2 * (2 * (2 * (2 * 0.078525)))) by lra. assert (N := exp_near 0.078525 ltac:(lra)).
  apply (exp_double_high _ 1.874237183); [|lra]. apply (exp_double_high _ 1.369027824); [|lra].
  apply (exp_double_high _ 1.170054624); [|lra]. apply (exp_double_high _ 1.081690632); [|lra]. lra.
Qed.
Lemma exp_above : 0 < exp 1.2565 - 1 - 2 * 1.2565.
Proof.
  assert (3.51306 <= exp 1.2565); [|lra].
  replace 1.2565 with (2 * (2 * (2 * (2 * 0.07853125)))) by lra. assert (N := exp_near 0.07853125 ltac:(lra)).
  apply (exp_double_low _ 1.874327619); [split; [lra|]|lra]. apply (exp_double_low _ 1.369060853); [split; [lra|]|lra].
  apply (exp_double_low _ 1.170068739); [split; [lra|]|lra]. apply (exp_double_low _ 1.081697157); [|lra]. split; lra.
Qed.
Theorem x_star_spec : exists x, x_star_is x /\ 1.2564 < x < 1.2565 /\
  (forall y, x_star_is y -> y = x) /\ (forall D, 0 <= D -> (exp D <= 1 + 2 * D <-> D <= x)).
Proof.
  destruct (IVT (fun x => exp x - 1 - 2 * x) 1.2564 1.2565) as [x [Hx Ex]].
  - apply derivable_continuous. reg.
  - lra.
  - exact exp_below.
  - exact exp_above.
  - assert (X : x_star_is x) by (split; lra).
    exists x. split; [exact X|]. split; [|split].
    + assert (L := exp_below). assert (H := exp_above).
      destruct Hx as [[A|A] [B|B]]; subst; lra.
    + intros y Y. apply Rle_antisym.
      * apply (x_star_order x y X); [destruct Y; lra|destruct Y as [_ ->]; lra].
      * apply (x_star_order y x Y); [lra|lra].
    + intros D D0. now apply x_star_order.
Qed.

Theorem sandwich_fails_beyond D : 0 <= D -> 1 + 2 * D < exp D ->
  exists q E : vec, (forall j, 0 < q j) /\ sum 2 q = 1 /\ (forall j k, E j - E k <= D) /\
    (1 + 2 * D) * q 0%nat < tilt 2 q E 0%nat.
Proof.
  intros D0 H.
  (* any q_0 with (1 + 2D)(1 + q_0 (e^D - 1)) < e^D *)
  set (t := (exp D - 1 - 2 * D) / (2 * (1 + 2 * D) * exp D)).
  assert (Pe := exp_pos D). assert (T0 : 0 < t) by (apply Rdiv_lt_0_compat; [lra|nra]).
  assert (Td : t * (2 * (1 + 2 * D) * exp D) = exp D - 1 - 2 * D) by (unfold t; field; split; nra).
  assert (De : 0 <= D * exp D) by (apply Rmult_le_pos; lra).
  assert (Tlt1 : t < 1).
  { apply Rmult_lt_reg_r with (2 * (1 + 2 * D) * exp D); [nra|]. rewrite Td. nra. }
  exists (fun j => match j with O => t | _ => 1 - t end), (fun j => match j with O => D | _ => 0 end).
  split; [|split; [|split]].
  - intros [|j]; lra.
  - simpl. ring.
  - intros [|j] [|k]; lra.
  - unfold tilt. cbn [sum]. rewrite exp_0.
    assert (Zp : 0 < 0 + t * exp D + (1 - t) * 1) by nra.
    apply Rmult_lt_reg_r with (0 + t * exp D + (1 - t) * 1); [exact Zp|].
    replace (t * exp D / (0 + t * exp D + (1 - t) * 1) * (0 + t * exp D + (1 - t) * 1)) with (t * exp D) by (field;
      lra).
    replace ((1 + 2 * D) * t * (0 + t * exp D + (1 - t) * 1)) with (t * ((1 + 2 * D) * (1 + t * (exp D - 1)))) by ring.
    apply Rmult_lt_compat_l; [exact T0|].
    assert (t * (1 + 2 * D) * exp D = (exp D - 1 - 2 * D) / 2) by lra. nra.
Qed.
