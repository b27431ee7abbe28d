(** karagodin2024:two-clusters-symmetric refuted: the conjecture of two clusters fails for a symmetric V as well.

    Two causal tokens on the circle, V = diag(2, 1), Q = K = (0 1), beta = 25/9 ln(5/2) = 2.545...: e_1 and (-4/5,
      3/5) rest, as the second attends to itself 5/2 times as much as to
    the first.  L = 8 (1 - <x_1, e_1>) + 2 (1 - <x_2, (-4/5, 3/5)>) does not grow while it is at most 1/2500,
      so every solution that starts within 1/30000 of these tokens keeps x_2 off
    xi and -xi for ever [symmetric_refuted]. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import IntervalZ.
From Rankmath Require Import Definitions Norms Softmax karagodin2024.
Local Open Scope R_scope.

Lemma exp_near y : y <= 1/2 -> 1 + y <= exp y <= 1 + y + 2 * (y * y).
Proof.
  intros H. split; [apply exp_ineq1_le|]. assert (A := exp_ineq1_le (- y)). rewrite exp_Ropp in A.
  assert (P : 0 < exp y) by apply exp_pos.
  assert (B : exp y * (1 - y) <= 1).
  { apply (Rmult_le_compat_l (exp y)) in A; [|lra]. rewrite Rinv_r in A by lra. lra. }
  assert (1 <= (1 + y + 2 * (y * y)) * (1 - y)) by nra. assert (0 < 1 - y) by lra.
  apply Rmult_le_reg_r with (1 - y); lra.
Qed.

Lemma small_square y r : 0 <= r -> y * y <= r * r -> - r <= y <= r.
Proof. intros; split; nra. Qed.
Lemma square_small y r : - r <= y <= r -> 0 <= y * y <= r * r.
Proof. intros; split; nra. Qed.
Lemma between_mul a b x y lo hi lo' hi' : 0 <= lo -> 0 <= lo' -> lo <= x <= hi -> lo' <= y <= hi' -> a <= lo * lo' ->
  hi * hi' <= b -> a <= x * y <= b.
Proof. intros P P' X Y A B. assert (lo * lo' <= x * y) by (apply Rmult_le_compat; lra).
assert (x * y <= hi * hi') by (apply Rmult_le_compat; lra). lra. Qed.
Lemma mixed x z r : - r <= x <= r -> 0 <= z -> - (r * z) <= x * z <= r * z.
Proof. intros X Z. split; [replace (- (r * z)) with (- r * z) by ring|]; apply Rmult_le_compat_r; lra. Qed.

Lemma on_circle x y : x * x + y * y = 1 -> x <= 1 /\ y * y <= 2 * (1 - x) /\ (0 <= x -> 1 - x <= y * y).
Proof. intros H. assert (x <= 1) by nra. assert (-1 <= x) by nra. repeat split; [lra|nra|]. intros. nra. Qed.

(** q and v are small, g = 1 - u; s = 3/5 - 3/5 g - 4/5 v, -c = 4/5 - 4/5 g + 3/5 v; attention is 1 : 5/2 e^y. *)
Lemma falls_symmetric b p q g v : 254/100 <= b <= 255/100 -> -1/100 <= q <= 1/100 -> -1/50 <= v <= 1/50 ->
  0 <= g <= v * v -> 0 <= 1 - p <= q * q ->
  let s := 3/5 - 3/5 * g - 4/5 * v in let c := - (4/5) + 4/5 * g - 3/5 * v in let e := exp (b * (s * s - 9/25 - s * q))
    in
  v * (c * q - 2 * s * p - 5/2 * e * (s * c)) - 4 * (p * (q * q)) * (1 + 5/2 * e) <= 0.
Proof.
  intros Hb Hq Hv Hg Hp s c e. assert (VV := square_small v (1/50) ltac:(lra)).
  assert (QQ := square_small q (1/100) ltac:(lra)).
  assert (V2 : v * v <= 1/2500) by lra. assert (Q2 : q * q <= 1/10000) by lra. assert (V0 : 0 <= v * v) by lra.
  assert (Q0 : 0 <= q * q) by lra.
  assert (Hs : 57/100 <= s <= 62/100) by (unfold s; lra). assert (Hc : -82/100 <= c <= -78/100) by (unfold c; lra).
  pose (b1 := 4/5 * v + 3/5 * g). pose (h := s + 3/5). assert (Hh : 117/100 <= h <= 122/100) by (unfold h; lra).
  pose (y := - (b * h) * b1 - b * s * q). assert (Ey : b * (s * s - 9/25 - s * q) = y) by (unfold y, h, b1, s; field).
  assert (VG0 := mixed v g (1/50) ltac:(lra) ltac:(lra)). assert (VG : - (v * v) / 50 <= v * g <= v * v / 50) by lra.
  assert (GG0 := mixed g g (1/2500) ltac:(lra) ltac:(lra)). assert (GG1 : 0 <= g * g) by apply Rle_0_sqr.
  assert (GG : 0 <= g * g <= v * v / 2500) by lra.
  assert (F1 : 77/100 * (v * v) <= v * b1) by (unfold b1; lra).
  assert (F2 : 0 <= b1 * b1 <= 7/10 * (v * v)) by (split; [apply Rle_0_sqr|]; unfold b1; lra).
  assert (BH : 297/100 <= b * h <= 312/100) by (apply (between_mul _ _ _ _ (254/100) (255/100) (117/100) (122/100));
    lra).
  assert (BS : 0 <= b * s <= 159/100) by (apply (between_mul _ _ _ _ (254/100) (255/100) (57/100) (62/100)); lra).
  assert (BH2 : 0 <= (b * h) * (b * h) <= 974/100) by (apply (between_mul _ _ _ _ 0 (312/100) 0 (312/100)); lra).
  assert (BS2 : 0 <= (b * s) * (b * s) <= 254/100) by (apply (between_mul _ _ _ _ 0 (159/100) 0 (159/100)); lra).
  assert (F4 : y * y <= 14 * (v * v) + 6 * (q * q)).
  { apply Rle_trans with (2 * ((b * h) * (b * h) * (b1 * b1)) + 2 * ((b * s) * (b * s) * (q * q))).
    - unfold y. assert (0 <= (b * h * b1 - b * s * q) * (b * h * b1 - b * s * q)) by apply Rle_0_sqr. lra.
    - assert ((b * h) * (b * h) * (b1 * b1) <= 974/100 * (7/10 * (v * v))) by (apply Rmult_le_compat; lra).
      assert ((b * s) * (b * s) * (q * q) <= 254/100 * (q * q)) by (apply Rmult_le_compat_r; lra). lra. }
  assert (Hy := small_square y (1/10) ltac:(lra) ltac:(lra)).
  assert (Y2 : 0 <= y * y <= 1/100) by (split; [apply Rle_0_sqr|lra]).
  assert (E : 1 + y <= e <= 1 + y + 2 * (y * y)) by (unfold e; rewrite Ey; apply exp_near; lra).
  assert (He : 9/10 <= e <= 113/100) by lra.
  assert (F3 : 45/10 * (v * v) - (v * v / 2 + 52/10 * (q * q)) <= - 2 * (v * y)).
  { unfold y. replace (- 2 * (v * (- (b * h) * b1 - b * s * q))) with (2 * (b * h) * (v * b1) + 2 * (b * s) * (v * q))
      by ring.
    assert (297/100 * (77/100 * (v * v)) <= b * h * (v * b1)) by (apply Rmult_le_compat; lra).
    assert (0 <= (v + 2 * (b * s) * q) * (v + 2 * (b * s) * q)) by apply Rle_0_sqr.
    assert ((b * s) * (b * s) * (q * q) <= 254/100 * (q * q)) by (apply Rmult_le_compat_r; lra). lra. }
  assert (F5 : - 2 * (v * (e - 1)) >= 45/10 * (v * v) - v * v / 2 - 52/10 * (q * q) - (4/50) * (14 * (v * v) + 6 * (q *
    q))).
  { pose (r := e - 1 - y). assert (R0 : 0 <= r <= 2 * (y * y)) by (unfold r; lra).
    replace (v * (e - 1)) with (v * y + v * r) by (unfold r; ring).
    assert (M := mixed v r (1/50) ltac:(lra) ltac:(lra)). lra. }
  assert (F6 : e * (3/2 * (v * v) - 2 * (v * g)) <= 175/100 * (v * v)).
  { apply Rle_trans with (113/100 * (154/100 * (v * v))); [apply Rmult_le_compat; lra|lra]. }
  assert (T : 1 * (v * v) - 58/10 * (q * q) <= v * (2 * p + 5/2 * e * c)).
  { replace (v * (2 * p + 5/2 * e * c)) with (- 2 * (v * (1 - p)) - 2 * (v * (e - 1)) - e * (3/2 * (v * v) - 2 * (v *
      g))) by (unfold c; field).
    assert (M := mixed v (1 - p) (1/50) ltac:(lra) ltac:(lra)). lra. }
  assert (ST : 57/100 * (v * v) - 36/10 * (q * q) <= s * (v * (2 * p + 5/2 * e * c))).
  { apply Rle_trans with (s * (1 * (v * v) - 58/10 * (q * q))); [|apply Rmult_le_compat_l; lra].
    assert (57/100 * (v * v) <= s * (v * v)) by (apply Rmult_le_compat_r; lra).
    assert (s * (q * q) <= 62/100 * (q * q)) by (apply Rmult_le_compat_r; lra). lra. }
  assert (CQ : v * (c * q) <= v * v / 2 + 35/100 * (q * q)).
  { assert (0 <= (v - c * q) * (v - c * q)) by apply Rle_0_sqr. assert (C2 := square_small c (82/100) ltac:(lra)).
    assert (c * c <= 68/100) by lra. assert (c * c * (q * q) <= 68/100 * (q * q)) by (apply Rmult_le_compat_r; lra).
    lra. }
  assert (PQ : 12 * (q * q) <= 4 * (p * (q * q)) * (1 + 5/2 * e)).
  { assert (99/100 <= p) by lra. assert (99/100 * (q * q) <= p * (q * q)) by (apply Rmult_le_compat_r; lra).
    assert (4 * (99/100 * (q * q)) * (325/100) <= 4 * (p * (q * q)) * (1 + 5/2 * e)) by (apply Rmult_le_compat; lra).
    lra. }
  replace (v * (c * q - 2 * s * p - 5/2 * e * (s * c))) with (v * (c * q) - s * (v * (2 * p + 5/2 * e * c))) by ring.
  lra.
Qed.

Definition V1 : mat := fun a b => match a, b with O, O => 2 | 1%nat, 1%nat => 1 | _, _ => 0 end.
Definition second : mat := fun a b => match a, b with O, 1%nat => 1 | _, _ => 0 end.
Definition beta1 : R := 25/9 * ln (5/2).

Lemma sent_one X a : sent 2 2 1 V1 second second beta1 causal X 0 a = applied 2 V1 (X 0%nat) a.
Proof.
  unfold sent, softmax, tilt, causal. cbn [sum Nat.leb]. set (w := exp _). set (w' := exp _).
  assert (0 < w) by apply exp_pos. field. lra.
Qed.
Lemma sent_two X a (q := X 0%nat 1%nat) (s := X 1%nat 1%nat) (D := 5/2 * exp (beta1 * (s * s - 9/25 - s * q))) :
  sent 2 2 1 V1 second second beta1 causal X 1 a = (applied 2 V1 (X 0%nat) a + D * applied 2 V1 (X 1%nat) a) / (1 + D).
Proof.
  assert (Lg : forall i k, beta1 * dot 1 (applied 2 second (X i)) (applied 2 second (X k)) = beta1 * (X i 1%nat * X k
    1%nat))
    by (intros; unfold dot, applied; cbn [sum second]; ring).
  unfold sent, softmax, tilt, causal. cbn [sum Nat.leb]. rewrite !Lg. fold q s.
  assert (ED : exp (beta1 * (s * s)) = exp (beta1 * (s * q)) * D).
  { unfold D. replace (5/2) with (exp (beta1 * (9/25))) by (unfold beta1;
      replace (25/9 * ln (5/2) * (9/25)) with (ln (5/2)) by field; apply exp_ln; lra).
    rewrite <- !exp_plus. f_equal. ring. }
  rewrite ED. assert (0 < exp (beta1 * (s * q))) by apply exp_pos.
  assert (0 < D) by (unfold D; assert (0 < exp (beta1 * (s * s - 9/25 - s * q))) by apply exp_pos; lra).
  field. repeat split; nra.
Qed.

Theorem symmetric_refuted : exists (V Q K : mat) (beta : R) (xi eta : vec) (Z : mat),
  (forall a b, (a < 2)%nat -> (b < 2)%nat -> V a b = V b a) /\
  (forall a, (a < 2)%nat -> applied 2 V xi a = 2 * xi a) /\ (forall a, (a < 2)%nat -> applied 2 V eta a = 1 * eta a) /\
  dot 2 xi xi = 1 /\ dot 2 eta eta = 1 /\ 0 <= beta /\ (forall i, (i < 2)%nat -> dot 2 (Z i) (Z i) = 1) /\
  forall X, flows 2 2 1 V Q K beta causal X ->
  (forall i a, (i < 2)%nat -> (a < 2)%nat -> Rabs (X 0 i a - Z i a) < 1/30000) ->
  forall t, 0 <= t -> 1/10 < sum 2 (fun a => (X t 1%nat a - xi a) ^ 2) /\ 1/10 < sum 2 (fun a => (X t 1%nat a + xi a) ^
    2).
Proof.
  exists V1, second, second, beta1, (fun a => match a with O => 1 | _ => 0 end),
    (fun a => match a with O => 0 | _ => 1 end), Z0.
  assert (Hb : 254/100 <= beta1 <= 255/100) by (unfold beta1; split; interval with (i_prec 40)).
  split; [intros [|[|a]] [|[|b]] Ha Hb'; try lia; reflexivity|].
  split; [intros [|[|a]] Ha; try lia; unfold applied; cbn [sum V1]; lra|].
  split; [intros [|[|a]] Ha; try lia; unfold applied; cbn [sum V1]; lra|].
  split; [unfold dot; cbn [sum]; lra|]. split; [unfold dot; cbn [sum]; lra|]. split; [lra|].
  split; [intros [|[|i]] Hi; try lia; unfold dot; cbn [sum Z0]; lra|].
  intros X F H0.
  pose (L := fun t => 8 * (1 - X t 0%nat 0%nat) + 2 * (1 - (-4/5 * X t 1%nat 0%nat + 3/5 * X t 1%nat 1%nat))).
  pose (S := fun t i a => sent 2 2 1 V1 second second beta1 causal (X t) i a - dot 2 (X t i) (sent 2 2 1 V1 second
    second beta1 causal (X t) i) * X t i a).
  assert (DL : forall t, 0 <= t -> is_derive L t (8 * (0 - S t 0%nat 0%nat) + 2 * (0 - (-4/5 * S t 1%nat 0%nat + 3/5 *
    S t 1%nat 1%nat)))).
  { intros t Ht. destruct (F t 0%nat Ht ltac:(lia)) as [_ D0]. destruct (F t 1%nat Ht ltac:(lia)) as [_ D1].
    assert (A0 := D0 0%nat ltac:(lia)). assert (A1 := D1 0%nat ltac:(lia)). assert (A2 := D1 1%nat ltac:(lia)).
    cbv zeta in A0, A1, A2.
    exact (combined (fun t => X t 0%nat 0%nat) (fun t => X t 1%nat 0%nat) (fun t => X t 1%nat 1%nat) t _ _ _ A0 A1 A2).
    }
  assert (Small : forall t, 0 <= t -> L t < 1/2500).
  { apply (barrier L _ (1/2500) DL).
    - intros t Ht Lt. destruct (F t 0%nat Ht ltac:(lia)) as [N0 _]. destruct (F t 1%nat Ht ltac:(lia)) as [N1 _].
      unfold dot in N0, N1. cbn [sum] in N0, N1. unfold L in Lt.
      set (p := X t 0%nat 0%nat) in *. set (q := X t 0%nat 1%nat) in *. set (c := X t 1%nat 0%nat) in *.
      set (s := X t 1%nat 1%nat) in *.
      pose (u := -4/5 * c + 3/5 * s). pose (v := -3/5 * c - 4/5 * s). pose (g := 1 - u).
      assert (UV : u * u + v * v = 1) by (unfold u, v; lra).
      destruct (on_circle u v UV) as [U1 [U2 U3]]. destruct (on_circle p q ltac:(lra)) as [P1 [P2 P3]].
      assert (Hu : 4999/5000 <= u) by (unfold u in *; lra). assert (Hp : 19999/20000 <= p) by (unfold u in *; lra).
      assert (Hq := small_square q (1/100) ltac:(lra) ltac:(lra)).
      assert (Hv := small_square v (1/50) ltac:(lra) ltac:(lra)).
      assert (G : 0 <= g <= v * v) by (unfold g; split; [lra|apply U3; lra]).
      assert (E : 0 <= 1 - p <= q * q) by (split; [lra|apply P3; lra]).
      assert (Q0 := falls_symmetric beta1 p q g v Hb ltac:(lra) ltac:(lra) G E). cbv zeta in Q0.
      replace (3/5 - 3/5 * g - 4/5 * v) with s in Q0 by (unfold g, u, v; field).
      replace (- (4/5) + 4/5 * g - 3/5 * v) with c in Q0 by (unfold g, u, v; field).
      set (D := 5/2 * exp (beta1 * (s * s - 9/25 - s * q))) in *.
      assert (HD : 0 < D) by (unfold D; assert (P := exp_pos (beta1 * (s * s - 9/25 - s * q))); lra).
      unfold S, dot. rewrite ?sent_one, ?sent_two. cbn [sum]. rewrite ?sent_one, ?sent_two. fold q s. fold D.
      unfold applied. cbn [sum V1]. fold p q c s.
      match goal with |- ?g0 <= 0 =>
        replace g0 with (2 / (1 + D) * (v * (c * q - 2 * s * p - D * (s * c)) - 4 * (p * (q * q)) * (1 + D)) + (16 * p)
          * (p * p + q * q - 1)
          + (- (16/5) * (p / (1 + D)) + 6/5 * (q / (1 + D)) - 16/5 * (D / (1 + D) * c) + 6/5 * (D / (1 + D) * s)) * (c
              * c + s * s - 1)) by (unfold v; field; lra) end.
      replace (p * p + q * q - 1) with 0 by lra. replace (c * c + s * s - 1) with 0 by lra.
      rewrite !Rmult_0_r, !Rplus_0_r.
      assert (PD : 0 < 2 / (1 + D)) by (apply Rdiv_lt_0_compat; lra). set (k := v * _ - _). assert (k <= 0) by exact Q0.
      replace 0 with (2 / (1 + D) * 0) by ring. apply Rmult_le_compat_l; lra.
    - assert (A := H0 0%nat 0%nat ltac:(lia) ltac:(lia)). assert (B := H0 1%nat 0%nat ltac:(lia) ltac:(lia)).
      assert (C := H0 1%nat 1%nat ltac:(lia) ltac:(lia)). cbn [Z0] in A, B, C. apply Rabs_def2 in A, B, C. unfold L.
      lra. }
  intros t Ht. assert (Lt := Small t Ht). unfold L in Lt.
  destruct (F t 0%nat Ht ltac:(lia)) as [N0 _]. destruct (F t 1%nat Ht ltac:(lia)) as [N1 _]. unfold dot in N0, N1.
  cbn [sum] in N0, N1. cbn [sum].
  destruct (on_circle (X t 0%nat 0%nat) (X t 0%nat 1%nat) ltac:(lra)) as [P1 _]. set (c := X t 1%nat 0%nat) in *.
  set (s := X t 1%nat 1%nat) in *.
  pose (u := -4/5 * c + 3/5 * s). pose (v := -3/5 * c - 4/5 * s). assert (UV : u * u + v * v = 1) by (unfold u, v; lra).
  destruct (on_circle u v UV) as [U1 [U2 _]]. assert (U : 49/50 <= u <= 1) by (split; [unfold u; lra|exact U1]).
  assert (Hv := small_square v (1/5) ltac:(lra) ltac:(lra)).
  assert (Ec : c = -4/5 * u - 3/5 * v) by (unfold u, v; lra). assert (-93/100 <= c <= 0) by lra.
  split; ring_simplify; lra.
Qed.
