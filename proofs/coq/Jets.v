(** First-order expansions with quadratic remainder, of functions of an n x d matrix H near 0:
    [jet n d f a J] says |f(H) - a - sum_pq J_pq H_pq| <= K r^2 whenever all |H_pq| <= r <= rho, for some K and rho > 0.
    Closed under sums, products and smooth functions, so that the derivative of a layer comes out by composition. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Rankmath Require Import Definitions.
Local Open Scope R_scope.

Lemma lin_ext n d J J' H : (forall p q, (p < n)%nat -> (q < d)%nat -> J p q = J' p q) -> lin n d J H = lin n d J' H.
Proof. intros E. unfold lin. apply sum_ext; intros; apply sum_ext; intros. now rewrite E. Qed.
Lemma lin_ext_r n d J H H' : (forall p q, H p q = H' p q) -> lin n d J H = lin n d J H'.
Proof. intros E. unfold lin. apply sum_ext; intros; apply sum_ext; intros. now rewrite E. Qed.
Lemma lin_plus n d J J' H : lin n d (fun p q => J p q + J' p q) H = lin n d J H + lin n d J' H.
Proof.
  unfold lin. rewrite <- sum_plus. apply sum_ext; intros. rewrite <- sum_plus. apply sum_ext; intros; ring.
Qed.
Lemma lin_scal n d c J H : lin n d (fun p q => c * J p q) H = c * lin n d J H.
Proof.
  unfold lin. rewrite <- sum_scal. apply sum_ext; intros. rewrite <- sum_scal. apply sum_ext; intros; ring.
Qed.
Lemma lin_abs n d J H r : within n d r H -> Rabs (lin n d J H) <= sumentries n d J * r.
Proof.
  intros W. unfold lin, sumentries. eapply Rle_trans; [apply sum_abs|]. rewrite <- sum_scal_r.
  apply sum_le; intros p Hp.
  eapply Rle_trans; [apply sum_abs|]. rewrite <- sum_scal_r. apply sum_le; intros q Hq. rewrite Rabs_mult.
  apply Rmult_le_compat_l; [apply Rabs_pos|now apply W].
Qed.
Lemma sumentries_pos n d J : 0 <= sumentries n d J.
Proof. apply sum_nonneg; intros; apply sum_nonneg; intros; apply Rabs_pos. Qed.

Section Rules.
Variables n d : nat.
Notation jet := (jet n d).

Lemma J_eq f g a b J J' : jet f a J -> (forall H, f H = g H) -> a = b ->
  (forall p q, (p < n)%nat -> (q < d)%nat -> J p q = J' p q) -> jet g b J'.
Proof.
  intros [K [rho [K0 [R0 H]]]] E1 <- E2. exists K, rho. split; [exact K0|split; [exact R0|]]. intros r X Hr W.
  rewrite <- E1, <- (lin_ext n d J J' X E2). now apply H.
Qed.

Lemma J_const c : jet (fun _ => c) c (fun _ _ => 0).
Proof.
  exists 0, 1. split; [lra|split; [lra|]]. intros r H Hr W. assert (lin n d (fun _ _ => 0) H = 0).
  { unfold lin. rewrite (sum_ext n _ (fun _ => 0)); [apply sum_zero|]. intros.
    rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros; ring. }
  rewrite H0. replace (c - c - 0) with 0 by ring. rewrite Rabs_R0. lra.
Qed.

Lemma lin_unit i b H : (i < n)%nat -> (b < d)%nat -> lin n d (fun p q => eye p i * eye q b) H = H i b.
Proof.
  intros Hi Hb. unfold lin. rewrite (sum_single n _ i Hi).
  - rewrite (sum_single d _ b Hb).
    + unfold eye. rewrite !Nat.eqb_refl. ring.
    + intros q _ Hq. unfold eye. destruct (Nat.eqb_spec q b); [lia|ring].
  - intros p _ Hp. rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros q _. unfold eye.
    destruct (Nat.eqb_spec p i); [lia|ring].
Qed.

(** The entry c + H_ib. *)
Lemma J_var c i b : (i < n)%nat -> (b < d)%nat -> jet (fun H => c + H i b) c (fun p q => eye p i * eye q b).
Proof.
  intros Hi Hb. exists 0, 1. split; [lra|split; [lra|]]. intros r H Hr W. rewrite lin_unit by assumption.
  replace (c + H i b - c - H i b) with 0 by ring. rewrite Rabs_R0. lra.
Qed.

Lemma J_plus f a J g b L : jet f a J -> jet g b L -> jet (fun H => f H + g H) (a + b) (fun p q => J p q + L p q).
Proof.
  intros [K [rho [K0 [R0 HK]]]] [K' [rho' [K0' [R0' HK']]]]. exists (K + K'), (Rmin rho rho').
  assert (M1 := Rmin_l rho rho'). assert (M2 := Rmin_r rho rho').
  split; [lra|split; [split; [apply Rmin_glb_lt; lra|lra]|]]. intros r H Hr W.
  specialize (HK r H ltac:(lra) W). specialize (HK' r H ltac:(lra) W). rewrite lin_plus.
  replace (f H + g H - (a + b) - (lin n d J H + lin n d L H)) with ((f H - a - lin n d J H) + (g H - b - lin n d L H))
    by ring.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma J_mult f a J g b L : jet f a J -> jet g b L -> jet (fun H => f H * g H) (a * b) (fun p q => a * L p q + b * J p
  q).
Proof.
  intros [K [rho [K0 [R0 HK]]]] [K' [rho' [K0' [R0' HK']]]].
  assert (M1 := Rmin_l rho rho'). assert (M2 := Rmin_r rho rho').
  set (SJ := sumentries n d J). set (SL := sumentries n d L).
  assert (SJ0 : 0 <= SJ) by apply sumentries_pos. assert (SL0 : 0 <= SL) by apply sumentries_pos.
  assert (Aa := Rabs_pos a). assert (Ab := Rabs_pos b).
  exists ((Rabs a + SJ + K) * K' + K * (Rabs b + SL) + SJ * SL), (Rmin rho rho').
  split; [|split; [split; [apply Rmin_glb_lt; lra|lra]|]].
  { assert (0 <= (Rabs a + SJ + K) * K') by (apply Rmult_le_pos; lra).
    assert (0 <= K * (Rabs b + SL)) by (apply Rmult_le_pos; lra).
    assert (0 <= SJ * SL) by (apply Rmult_le_pos; lra). lra. }
  intros r H Hr W. specialize (HK r H ltac:(lra) W). specialize (HK' r H ltac:(lra) W).
  assert (BJ := lin_abs n d J H r W). assert (BL := lin_abs n d L H r W). fold SJ in BJ. fold SL in BL.
  rewrite lin_plus, !lin_scal. set (x := f H - a - lin n d J H) in *. set (y := g H - b - lin n d L H) in *.
  set (j := lin n d J H) in *. set (l := lin n d L H) in *.
  replace (f H * g H - a * b - (a * l + b * j)) with ((a + j + x) * y + x * (b + l) + j * l) by (unfold x, y; ring).
  assert (Less : forall u v, 0 <= u -> v <= 1 -> u * v <= u)
    by (intros u v U V; rewrite <- (Rmult_1_r u) at 2; now apply Rmult_le_compat_l).
  assert (Rr : 0 <= r * r <= 1) by (split; [apply Rmult_le_pos|apply Rle_trans with r; [apply Less|]]; lra).
  assert (SJr : SJ * r <= SJ) by (apply Less; lra). assert (SLr : SL * r <= SL) by (apply Less; lra).
  assert (Kr : K * (r * r) <= K) by (apply Less; lra).
  assert (T1 : Rabs (a + j + x) <= Rabs a + SJ + K).
  { eapply Rle_trans; [apply Rabs_triang|]. assert (T := Rabs_triang a j). lra. }
  assert (T2 : Rabs (b + l) <= Rabs b + SL) by (eapply Rle_trans; [apply Rabs_triang|]; lra).
  assert (Px := Rabs_pos x). assert (Py := Rabs_pos y). assert (Pj := Rabs_pos j). assert (Pl := Rabs_pos l).
  assert (U1 : Rabs ((a + j + x) * y) <= (Rabs a + SJ + K) * (K' * (r * r))) by (rewrite Rabs_mult;
    apply Rmult_le_compat; auto using Rabs_pos).
  assert (U2 : Rabs (x * (b + l)) <= (K * (r * r)) * (Rabs b + SL)) by (rewrite Rabs_mult; apply Rmult_le_compat;
    auto using Rabs_pos).
  assert (U3 : Rabs (j * l) <= (SJ * r) * (SL * r)) by (rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos).
  eapply Rle_trans; [apply Rabs_triang|]. assert (T3 := Rabs_triang ((a + j + x) * y) (x * (b + l))). lra.
Qed.

Lemma J_scal c f a J : jet f a J -> jet (fun H => c * f H) (c * a) (fun p q => c * J p q).
Proof.
  intros Hf. eapply J_eq; [apply (J_mult _ _ _ _ _ _ (J_const c) Hf)|reflexivity|reflexivity|]. intros; simpl; ring.
Qed.

Lemma J_sum m (f : nat -> mat -> R) (a : vec) (J : nat -> mat) : (forall j, (j < m)%nat -> jet (f j) (a j) (J j)) ->
  jet (fun H => sum m (fun j => f j H)) (sum m a) (fun p q => sum m (fun j => J j p q)).
Proof.
  induction m; intros Hf; [exact (J_const 0)|]. simpl.
  apply (J_plus (fun H => sum m (fun j => f j H))); [apply IHm; auto|apply Hf; lia].
Qed.

(** A function g with g(a+y) = g(a) + g'(a) y + O(y^2). *)
Lemma J_comp (g : R -> R) g' C dl f a J : 0 <= C -> 0 < dl ->
  (forall y, Rabs y <= dl -> Rabs (g (a + y) - g a - g' * y) <= C * (y * y)) ->
  jet f a J -> jet (fun H => g (f H)) (g a) (fun p q => g' * J p q).
Proof.
  intros C0 D0 Hg [K [rho [K0 [R0 HK]]]]. set (SJ := sumentries n d J). assert (SJ0 : 0 <= SJ) by apply sumentries_pos.
  assert (Ag := Rabs_pos g'). set (S := SJ + K + 1).
  exists (Rabs g' * K + C * ((SJ + K) * (SJ + K))), (Rmin rho (dl / S)).
  assert (M1 := Rmin_l rho (dl / S)). assert (M2 := Rmin_r rho (dl / S)).
  assert (DS : 0 < dl / S) by (apply Rdiv_lt_0_compat; unfold S; lra).
  split; [assert (0 <= C * ((SJ + K) * (SJ + K))) by (apply Rmult_le_pos; nra); nra|split; [split; [apply Rmin_glb_lt;
    lra|lra]|]].
  intros r H Hr W. specialize (HK r H ltac:(lra) W). assert (BJ := lin_abs n d J H r W). fold SJ in BJ.
  rewrite lin_scal. set (j := lin n d J H) in *. set (x := f H - a - j) in *. set (y := j + x).
  assert (Y : Rabs y <= (SJ + K) * r) by (assert (K * (r * r) <= K * r) by (apply Rmult_le_compat_l; nra); unfold y;
    eapply Rle_trans; [apply Rabs_triang|]; lra).
  assert (RS : r * S <= dl).
  { assert (Q : r <= dl / S) by lra. apply (Rmult_le_compat_r S) in Q; [|unfold S; lra].
    replace (dl / S * S) with dl in Q by (field; unfold S; lra). exact Q. }
  assert (Yd : Rabs y <= dl) by (unfold S in RS; lra).
  specialize (Hg y Yd). replace (f H) with (a + y) by (unfold y, x; ring).
  replace (g (a + y) - g a - g' * j) with ((g (a + y) - g a - g' * y) + g' * x) by (unfold y; ring).
  eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rabs_mult g' x).
  assert (Y2 : y * y <= (SJ + K) * (SJ + K) * (r * r)).
  { assert (y * y = Rabs y * Rabs y) by (rewrite <- Rabs_mult; symmetry; apply Rabs_right, Rle_ge, Rle_0_sqr).
    rewrite H0.
    replace ((SJ + K) * (SJ + K) * (r * r)) with (((SJ + K) * r) * ((SJ + K) * r)) by ring. assert (P := Rabs_pos y).
    apply Rmult_le_compat; assumption. }
  assert (C * (y * y) <= C * ((SJ + K) * (SJ + K) * (r * r))) by now apply Rmult_le_compat_l.
  assert (Rabs g' * Rabs x <= Rabs g' * (K * (r * r))) by now apply Rmult_le_compat_l. lra.
Qed.

Lemma exp_quad y : Rabs (exp y - 1 - y) <= y * y * exp (Rabs y).
Proof.
  assert (A := exp_ineq1_le y). assert (B := exp_ineq1_le (- y)).
  assert (P := exp_pos y). assert (E : exp (- y) * exp y = 1) by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  rewrite Rabs_right by lra.
  assert (U : exp y - 1 - y <= y * (exp y - 1)) by nra.
  destruct (Rle_or_lt 0 y) as [H|H].
  - rewrite (Rabs_right y) by lra. assert (exp y - 1 <= y * exp y) by nra. nra.
  - rewrite (Rabs_left y) by lra. assert (V := exp_ineq1_le (- y)).
    assert (y * (exp y - 1) <= y * y) by nra. assert (0 <= y * y) by nra. nra.
Qed.

Lemma J_exp f a J : jet f a J -> jet (fun H => exp (f H)) (exp a) (fun p q => exp a * J p q).
Proof.
  assert (Pa := exp_pos a). assert (P1 := exp_pos 1).
  apply (J_comp exp (exp a) (exp a * exp 1) 1); [apply Rmult_le_pos; lra|lra|]. intros y Hy. rewrite exp_plus.
  replace (exp a * exp y - exp a - exp a * y) with (exp a * (exp y - 1 - y)) by ring.
  rewrite Rabs_mult, (Rabs_right (exp a)) by lra. rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|].
  eapply Rle_trans; [apply exp_quad|]. rewrite (Rmult_comm (exp 1)). apply Rmult_le_compat_l; [nra|].
  destruct Hy as [Hy|Hy]; [left; now apply exp_increasing|rewrite Hy; lra].
Qed.

(** 1/sqrt(x) at a > 0. *)
Lemma J_isqrt f a J : 0 < a -> jet f a J -> jet (fun H => / sqrt (f H)) (/ sqrt a) (fun p q => - / (2 * a * sqrt a) * J
  p q).
Proof.
  intros Ha. assert (Sa : 0 < sqrt a) by now apply sqrt_lt_R0.
  assert (Sq : sqrt a * sqrt a = a) by (apply sqrt_sqrt; lra).
  apply (J_comp (fun x => / sqrt x) (- / (2 * a * sqrt a)) (4 / (a * a * sqrt a)) (a / 2)); [|lra|].
  { apply Rlt_le, Rdiv_lt_0_compat; [lra|]. apply Rmult_lt_0_compat; [nra|lra]. }
  intros y Hy. assert (Y : - (a / 2) <= y <= a / 2) by (revert Hy; unfold Rabs; destruct Rcase_abs; lra).
  set (s := sqrt a) in *. set (u := sqrt (a + y)). assert (Su : 0 < u) by (apply sqrt_lt_R0; lra).
  assert (Uq : u * u = a + y) by (apply sqrt_sqrt; lra).
  assert (Ey : y = u * u - s * s) by lra.
  (* with x = u/s: (1/u - 1/s + (u^2-s^2)/(2 s^3)) = (u-s)^2 (u+2s)/(2 s^3 u) *)
  replace (/ u - / s - - / (2 * a * s) * y) with ((u - s) * (u - s) * (u + 2 * s) / (2 * (s * s * s) * u)).
  2: { rewrite Ey, <- Sq. field. lra. }
  assert (D : 0 < 2 * (s * s * s) * u) by (repeat apply Rmult_lt_0_compat; lra).
  assert (N0 : 0 <= (u - s) * (u - s) * (u + 2 * s)) by (apply Rmult_le_pos; [apply Rle_0_sqr|lra]).
  rewrite Rabs_right by (apply Rle_ge, Rmult_le_pos; [exact N0|left; now apply Rinv_0_lt_compat]).
  (* y^2 = (u-s)^2 (u+s)^2, and u^2 >= a/2 *)
  rewrite <- Sq. replace (y * y) with ((u - s) * (u - s) * ((u + s) * (u + s))) by (rewrite Ey; ring).
  apply Rmult_le_reg_r with (2 * (s * s * s) * u); [exact D|].
  replace ((u - s) * (u - s) * (u + 2 * s) / (2 * (s * s * s) * u) * (2 * (s * s * s) * u)) with ((u - s) * (u - s) *
    (u + 2 * s)) by (field; lra).
  replace (4 / (s * s * (s * s) * s) * ((u - s) * (u - s) * ((u + s) * (u + s))) * (2 * (s * s * s) * u))
    with ((u - s) * (u - s) * (8 * u * ((u + s) * (u + s)) / (s * s))) by (field; lra).
  apply Rmult_le_compat_l; [apply Rle_0_sqr|].
  apply Rmult_le_reg_r with (s * s); [nra|]. replace (8 * u * ((u + s) * (u + s)) / (s * s) * (s * s)) with (8 * u *
    ((u + s) * (u + s))) by (field; lra).
  assert (U2 : s * s <= 2 * (u * u)) by lra. assert (SU : s <= 2 * u) by nra.
  assert ((u + 2 * s) * (s * s) <= (u + 2 * s) * (2 * u * s)) by (apply Rmult_le_compat_l; nra). nra.
Qed.
End Rules.

(** One delta for finitely many conditions. *)
Lemma common_delta (n : nat) (Q : nat -> R -> Prop) :
  (forall i, (i < n)%nat -> exists dl, 0 < dl /\ forall r, r <= dl -> Q i r) ->
  exists dl, 0 < dl /\ forall i r, (i < n)%nat -> r <= dl -> Q i r.
Proof.
  induction n; intros H; [exists 1; split; [lra|intros; lia]|].
  destruct IHn as [d1 [P1 H1]]; [intros; apply H; lia|]. destruct (H n ltac:(lia)) as [d2 [P2 H2]].
  exists (Rmin d1 d2). split; [now apply Rmin_glb_lt|]. intros i r Hi Hr.
  assert (L1 := Rmin_l d1 d2). assert (L2 := Rmin_r d1 d2).
  destruct (Nat.eq_dec i n) as [->|]; [apply H2; lra|apply H1; [lia|lra]].
Qed.

Lemma common_delta2 (n d : nat) (Q : nat -> nat -> R -> Prop) :
  (forall i a, (i < n)%nat -> (a < d)%nat -> exists dl, 0 < dl /\ forall r, r <= dl -> Q i a r) ->
  exists dl, 0 < dl /\ forall i a r, (i < n)%nat -> (a < d)%nat -> r <= dl -> Q i a r.
Proof.
  intros H. destruct (common_delta n (fun i r => forall a, (a < d)%nat -> Q i a r)) as [dl [P H1]].
  - intros i Hi. destruct (common_delta d (fun a r => Q i a r)) as [dl [P H1]]; [intros; now apply H|].
    exists dl. split; [exact P|]. intros; now apply H1.
  - exists dl. split; [exact P|]. intros; now apply H1.
Qed.

Theorem attraction_weights n d F Z J (w : mat) q :
  fixed n d F Z -> derivative n d F Z J ->
  0 <= q < 1 -> (forall i a, (i < n)%nat -> (a < d)%nat -> 0 < w i a) ->
  (forall i a, (i < n)%nat -> (a < d)%nat -> sum n (fun p => sum d (fun b => Rabs (J i a p b) * w p b)) <= q * w i a) ->
  attracts n d F Z.
Proof.
  intros Fix HJ Hq Hw HS. set (q' := (q + 1) / 2). set (Wm := 1 + sum n (fun p => sum d (fun b => Rabs (w p b)))).
  assert (W1 : 1 <= Wm) by (unfold Wm; assert (0 <= sum n (fun p => sum d (fun b => Rabs (w p b)))) by (apply
    sum_nonneg; intros; apply sum_nonneg; intros; apply Rabs_pos); lra).
  assert (WB : forall p b, (p < n)%nat -> (b < d)%nat -> w p b <= Wm).
  { intros p b Hp Hb. unfold Wm.
    assert (w p b <= sum d (fun b => Rabs (w p b))).
    { eapply Rle_trans; [apply Rle_abs|]. apply (sum_term_le d (fun b => Rabs (w p b)) b); [intros;
        apply Rabs_pos|exact Hb]. }
    assert (sum d (fun b => Rabs (w p b)) <= sum n (fun p => sum d (fun b => Rabs (w p b)))).
    { apply (sum_term_le n (fun p => sum d (fun b => Rabs (w p b))) p); [intros; apply sum_nonneg; intros;
        apply Rabs_pos|exact Hp]. }
    lra. }
  (* one step, on balls of the weighted maximum norm *)
  destruct (common_delta2 n d (fun i a rho => 0 <= rho -> forall H, (forall p b, (p < n)%nat -> (b < d)%nat ->
    Rabs (H p b) <= rho * w p b) ->
    Rabs (F (madd Z H) i a - Z i a) <= q' * rho * w i a)) as [dl [DP Step]].
  { intros i a Hi Ha. destruct (HJ i a Hi Ha) as [K [rho [K0 [R0 HK]]]]. assert (wp := Hw i a Hi Ha).
    set (d1 := (q' - q) * w i a / (K * (Wm * Wm) + 1)).
    assert (KW : 0 <= K * (Wm * Wm)) by (apply Rmult_le_pos; nra).
    assert (d1p : 0 < d1) by (unfold d1, q'; apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat|]; lra).
    assert (d2p : 0 < rho / Wm) by (apply Rdiv_lt_0_compat; lra).
    exists (Rmin d1 (rho / Wm)). split; [now apply Rmin_glb_lt|]. intros s Hs s0 H HH.
    assert (M1 := Rmin_l d1 (rho / Wm)). assert (M2 := Rmin_r d1 (rho / Wm)).
    assert (sW : s * Wm <= rho).
    { assert (Q : s <= rho / Wm) by lra. apply (Rmult_le_compat_r Wm) in Q; [|lra].
      replace (rho / Wm * Wm) with rho in Q by (field; lra). exact Q. }
    assert (sK : s * (K * (Wm * Wm) + 1) <= (q' - q) * w i a).
    { assert (Q : s <= d1) by lra. apply (Rmult_le_compat_r (K * (Wm * Wm) + 1)) in Q; [|lra]. unfold d1 in Q.
      replace ((q' - q) * w i a / (K * (Wm * Wm) + 1) * (K * (Wm * Wm) + 1)) with ((q' - q) * w i a) in Q by (field;
        lra). exact Q. }
    assert (Hin : within n d (s * Wm) H).
    { intros p b Hp Hb. eapply Rle_trans; [now apply HH|]. apply Rmult_le_compat_l; [exact s0|now apply WB]. }
    specialize (HK (s * Wm) H ltac:(split; [nra|exact sW]) Hin). rewrite (Fix i a Hi Ha) in HK.
    assert (BL : Rabs (lin n d (J i a) H) <= q * w i a * s).
    { unfold lin. eapply Rle_trans; [apply sum_abs|]. eapply Rle_trans; [|apply Rmult_le_compat_r;
        [exact s0|apply (HS i a Hi Ha)]].
      rewrite <- sum_scal_r. apply sum_le; intros p Hp. eapply Rle_trans; [apply sum_abs|]. rewrite <- sum_scal_r.
      apply sum_le; intros b Hb.
      rewrite Rabs_mult, Rmult_assoc. apply Rmult_le_compat_l; [apply Rabs_pos|]. rewrite Rmult_comm. now apply HH. }
    replace (F (madd Z H) i a - Z i a) with ((F (madd Z H) i a - Z i a - lin n d (J i a) H) + lin n d (J i a) H) by
      ring.
    eapply Rle_trans; [apply Rabs_triang|].
    assert (K * (s * Wm * (s * Wm)) <= s * ((q' - q) * w i a)).
    { replace (K * (s * Wm * (s * Wm))) with (s * (s * (K * (Wm * Wm)))) by ring. apply Rmult_le_compat_l; [exact s0|].
      nra. }
    nra. }
  destruct (common_delta2 n d (fun i a r => r <= w i a)) as [wm [Wp Wmin]].
  { intros i a Hi Ha. exists (w i a). split; [now apply Hw|auto]. }
  exists (dl * wm), (dl * Wm), q'. assert (q'b : 0 <= q' < 1) by (unfold q'; lra).
  split; [apply Rmult_lt_0_compat; lra|split; [nra|split; [exact q'b|]]].
  intros X HX.
  assert (Inv : forall k i a, (i < n)%nat -> (a < d)%nat -> Rabs (Nat.iter k F X i a - Z i a) <= dl * q' ^ k * w i a).
  { induction k as [|k IH]; intros i a Hi Ha.
    - simpl. eapply Rle_trans; [now apply HX|]. rewrite Rmult_1_r. apply Rmult_le_compat_l; [lra|].
      apply Wmin; auto; lra.
    - simpl Nat.iter. set (Y := Nat.iter k F X) in *. assert (P : 0 <= q' ^ k <= 1) by (split; [apply pow_le;
        lra|rewrite <- (pow1 k); apply pow_incr; lra]).
      replace Y with (madd Z (fun i a => Y i a - Z i a)) by (apply functional_extensionality; intro;
        apply functional_extensionality; intro; unfold madd; ring).
      eapply Rle_trans; [apply (Step i a (dl * q' ^ k)); auto; nra|]. simpl. right. ring. }
  intros k i a Hi Ha. eapply Rle_trans; [now apply Inv|].
  assert (P : 0 <= q' ^ k) by (apply pow_le; lra). assert (0 <= dl * q' ^ k) by nra.
  assert (w i a <= Wm) by now apply WB. nra.
Qed.

(** A triangular derivative, diagonal at most q < 1 in modulus: the weights are powers of a large number. *)
Theorem attraction_triangular n d F Z J (ord : nat -> nat -> nat) q :
  fixed n d F Z -> derivative n d F Z J -> 0 <= q < 1 ->
  (forall i a p b, (i < n)%nat -> (a < d)%nat -> (p < n)%nat -> (b < d)%nat -> (p, b) <> (i, a) ->
    (ord i a <= ord p b)%nat -> J i a p b = 0) ->
  (forall i a, (i < n)%nat -> (a < d)%nat -> Rabs (J i a i a) <= q) ->
  attracts n d F Z.
Proof.
  intros Fix HJ Hq Tri Diag. set (q' := (q + 1) / 2).
  set (T := sum n (fun i => sum d (fun a => sumentries n d (J i a)))).
  assert (T0 : forall i a, (i < n)%nat -> (a < d)%nat -> 0 <= sumentries n d (J i a) <= T).
  { intros i a Hi Ha. split; [apply sumentries_pos|]. unfold T.
    eapply Rle_trans; [apply (sum_term_le d (fun a => sumentries n d (J i a)) a); [intros;
      apply sumentries_pos|exact Ha]|].
    apply (sum_term_le n (fun i => sum d (fun a => sumentries n d (J i a))) i); [intros; apply sum_nonneg; intros;
      apply sumentries_pos|exact Hi]. }
  assert (Tp : 0 <= T) by (apply sum_nonneg; intros; apply sum_nonneg; intros; apply sumentries_pos).
  set (B := 1 + T / (q' - q)). assert (dq : 0 < q' - q) by (unfold q'; lra).
  assert (B1 : 1 <= B) by (unfold B; assert (0 <= T / (q' - q)) by (apply Rmult_le_pos; [lra|left;
    apply Rinv_0_lt_compat; lra]); lra).
  assert (TB : T / B <= q' - q).
  { apply Rmult_le_reg_r with B; [lra|]. replace (T / B * B) with T by (field; lra). unfold B.
    replace ((q' - q) * (1 + T / (q' - q))) with (q' - q + T) by (field; lra). lra. }
  apply (attraction_weights n d F Z J (fun i a => B ^ ord i a) q'); auto.
  - unfold q'; lra.
  - intros; apply pow_lt; lra.
  - intros i a Hi Ha. assert (Bp : 0 < B ^ ord i a) by (apply pow_lt; lra).
    apply Rle_trans with (sum n (fun p => sum d (fun b => (if andb (Nat.eqb p i) (Nat.eqb b a) then q * B ^ ord i a
      else 0) + Rabs (J i a p b) * (B ^ ord i a / B)))).
    + apply sum_le; intros p Hp. apply sum_le; intros b Hb. assert (Pj := Rabs_pos (J i a p b)).
      assert (0 <= Rabs (J i a p b) * (B ^ ord i a / B)) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; [lra|left;
        apply Rinv_0_lt_compat; lra]]).
      destruct (Nat.eqb_spec p i) as [->|Np]; [destruct (Nat.eqb_spec b a) as [->|Nb]|]; cbn [andb].
      * assert (Rabs (J i a i a) * B ^ ord i a <= q * B ^ ord i a) by (apply Rmult_le_compat_r; [lra|now apply Diag]).
        lra.
      * destruct (Nat.le_gt_cases (ord i a) (ord i b)) as [L|L].
        { rewrite (Tri i a i b) by (auto; congruence). rewrite Rabs_R0. lra. }
        rewrite Rplus_0_l. apply Rmult_le_compat_l; [lra|]. replace (ord i a) with (S (ord i a - 1)) by lia. simpl.
        replace (B * B ^ (ord i a - 1) / B) with (B ^ (ord i a - 1)) by (field; lra). apply Rle_pow; [lra|lia].
      * destruct (Nat.le_gt_cases (ord i a) (ord p b)) as [L|L].
        { rewrite (Tri i a p b) by (auto; congruence). rewrite Rabs_R0. lra. }
        rewrite Rplus_0_l. apply Rmult_le_compat_l; [lra|]. replace (ord i a) with (S (ord i a - 1)) by lia. simpl.
        replace (B * B ^ (ord i a - 1) / B) with (B ^ (ord i a - 1)) by (field; lra). apply Rle_pow; [lra|lia].
    + rewrite (sum_ext n _ (fun p => (if Nat.eqb p i then q * B ^ ord i a else 0) + sum d (fun b => Rabs (J i a p b)) *
        (B ^ ord i a / B))).
      * rewrite sum_plus, sum_scal_r, (sum_single n (fun p => if Nat.eqb p i then q * B ^ ord i a else 0) i Hi) by
          (intros p _ Hp; destruct (Nat.eqb_spec p i); [lia|reflexivity]).
        rewrite Nat.eqb_refl. fold (sumentries n d (J i a)). destruct (T0 i a Hi Ha) as [_ TT].
        assert (sumentries n d (J i a) * (B ^ ord i a / B) <= T / B * B ^ ord i a).
        { replace (T / B * B ^ ord i a) with (T * (B ^ ord i a / B)) by (field; lra).
          apply Rmult_le_compat_r; [|exact TT].
          apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]. }
        nra.
      * intros p Hp. rewrite sum_plus, sum_scal_r. f_equal. destruct (Nat.eqb_spec p i) as [->|]; cbn [andb].
        { rewrite (sum_single d _ a Ha); [now rewrite Nat.eqb_refl|]. intros b _ Hb.
          destruct (Nat.eqb_spec b a); [lia|reflexivity]. }
        { apply sum_zero. }
Qed.

(** Only some entries of the derivative's rows are not zero: the others need not be counted. *)
Theorem attraction_active n d F Z J (act : nat -> nat -> bool) q : fixed n d F Z -> derivative n d F Z J ->
  0 <= q < 1 ->
  (forall i a p b, (i < n)%nat -> (a < d)%nat -> (p < n)%nat -> (b < d)%nat -> act i a = false -> J i a p b = 0) ->
  (forall i a, (i < n)%nat -> (a < d)%nat -> act i a = true ->
     sum n (fun p => sum d (fun b => if act p b then Rabs (J i a p b) else 0)) <= q) ->
  attracts n d F Z.
Proof.
  intros Fix HJ Hq Zero Sum. set (q' := (q + 1) / 2).
  set (T := sum n (fun i => sum d (fun a => sumentries n d (J i a)))).
  assert (T0 : forall i a, (i < n)%nat -> (a < d)%nat -> sumentries n d (J i a) <= T).
  { intros i a Hi Ha. unfold T.
    eapply Rle_trans; [apply (sum_term_le d (fun a => sumentries n d (J i a)) a); [intros;
      apply sumentries_pos|exact Ha]|].
    apply (sum_term_le n (fun i => sum d (fun a => sumentries n d (J i a))) i); [intros; apply sum_nonneg; intros;
      apply sumentries_pos|exact Hi]. }
  assert (Tp : 0 <= T) by (apply sum_nonneg; intros; apply sum_nonneg; intros; apply sumentries_pos).
  set (dl := (q' - q) / (T + 1)). assert (Dp : 0 < dl) by (unfold dl, q'; apply Rdiv_lt_0_compat; lra).
  assert (DT : dl * T <= q' - q).
  { replace (q' - q) with (dl * (T + 1)) by (unfold dl; field; lra). nra. }
  apply (attraction_weights n d F Z J (fun i a => if act i a then 1 else dl) q'); auto.
  - unfold q'; lra.
  - intros. destruct act; lra.
  - intros i a Hi Ha. destruct (act i a) eqn:E.
    + specialize (Sum i a Hi Ha E).
      apply Rle_trans with (sum n (fun p => sum d (fun b => if act p b then Rabs (J i a p b) else 0)) + dl * sumentries
        n d (J i a)).
      * unfold sumentries. rewrite <- sum_scal, <- sum_plus. apply sum_le; intros p Hp.
        rewrite <- sum_scal, <- sum_plus. apply sum_le; intros b Hb.
        assert (P := Rabs_pos (J i a p b)). assert (0 <= dl * Rabs (J i a p b)) by (apply Rmult_le_pos; lra).
        destruct (act p b); lra.
      * specialize (T0 i a Hi Ha). assert (dl * sumentries n d (J i a) <= dl * T) by (apply Rmult_le_compat_l; lra).
        lra.
    + rewrite (sum_ext n _ (fun _ => 0)); [rewrite sum_zero; unfold q'; nra|]. intros p Hp.
      rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros b Hb. rewrite Zero by assumption. rewrite Rabs_R0.
      ring.
Qed.

(** The same in other linear coordinates: finitely many functionals S i a with weights w i a bound H, and the derivative
    shrinks the box |S i a H| <= rho w i a by q. *)
Lemma lin_plus_r n d J H H' : lin n d J (fun p b => H p b + H' p b) = lin n d J H + lin n d J H'.
Proof.
  unfold lin. rewrite <- sum_plus. apply sum_ext; intros. rewrite <- sum_plus. apply sum_ext; intros; ring.
Qed.

Theorem attraction_functionals n d F Z J (S : nat -> nat -> mat) (w : mat) q C :
  fixed n d F Z -> derivative n d F Z J -> 0 <= q < 1 -> 0 <= C -> (forall i a, (i < n)%nat -> (a < d)%nat ->
    0 < w i a) ->
  (forall rho H, 0 <= rho -> (forall i a, (i < n)%nat -> (a < d)%nat -> Rabs (lin n d (S i a) H) <= rho * w i a) ->
    within n d (C * rho) H) ->
  (forall rho H, 0 <= rho -> (forall i a, (i < n)%nat -> (a < d)%nat -> Rabs (lin n d (S i a) H) <= rho * w i a) ->
     forall i a, (i < n)%nat -> (a < d)%nat -> Rabs (lin n d (S i a) (fun p b => lin n d (J p b) H)) <= q * rho * w i
       a) ->
  attracts n d F Z.
Proof.
  intros Fix HJ Hq C0 Hw HB HC. set (q' := (q + 1) / 2).
  (* theta: how small the remainder must be *)
  destruct (common_delta2 n d (fun i a th => 0 <= th -> sumentries n d (S i a) * th <= (q' - q) * w i a)) as [th [Tp
    Th]].
  { intros i a Hi Ha. set (s := sumentries n d (S i a)). assert (s0 : 0 <= s) by apply sumentries_pos.
    assert (wp := Hw i a Hi Ha).
    assert (D : 0 < (q' - q) * w i a / (s + 1)) by (apply Rdiv_lt_0_compat; [unfold q'; apply Rmult_lt_0_compat|]; lra).
    exists ((q' - q) * w i a / (s + 1)). split; [exact D|]. intros r Hr r0.
    apply (Rmult_le_compat_r (s + 1)) in Hr; [|lra].
    replace ((q' - q) * w i a / (s + 1) * (s + 1)) with ((q' - q) * w i a) in Hr by (field; lra). nra. }
  destruct (common_delta2 n d (fun p b rho => 0 <= rho -> forall H, within n d (C * rho) H ->
    Rabs (F (madd Z H) p b - Z p b - lin n d (J p b) H) <= th * rho)) as [d1 [D1p D1]].
  { intros p b Hp Hb. destruct (HJ p b Hp Hb) as [K [rho [K0 [R0 HK]]]]. rewrite (Fix p b Hp Hb) in HK.
    assert (KC : 0 <= K * (C * C)) by (apply Rmult_le_pos; nra).
    set (e1 := th / (K * (C * C) + 1)). set (e2 := rho / (C + 1)).
    assert (e1p : 0 < e1) by (apply Rdiv_lt_0_compat; lra). assert (e2p : 0 < e2) by (apply Rdiv_lt_0_compat; lra).
    assert (M1 := Rmin_l e1 e2). assert (M2 := Rmin_r e1 e2). exists (Rmin e1 e2). split; [now apply Rmin_glb_lt|].
    intros r Hr r0 H HH. assert (Cr : C * r <= rho).
    { assert (Q : r <= e2) by lra. apply (Rmult_le_compat_r (C + 1)) in Q; [|lra]. unfold e2 in Q.
      replace (rho / (C + 1) * (C + 1)) with rho in Q by (field; lra). nra. }
    specialize (HK (C * r) H ltac:(split; [nra|exact Cr]) HH). eapply Rle_trans; [exact HK|].
    assert (Q : r * (K * (C * C)) <= th).
    { assert (Q : r <= e1) by lra. apply (Rmult_le_compat_r (K * (C * C) + 1)) in Q; [|lra]. unfold e1 in Q.
      replace (th / (K * (C * C) + 1) * (K * (C * C) + 1)) with th in Q by (field; lra). nra. }
    replace (K * (C * r * (C * r))) with (r * (K * (C * C)) * r) by ring. now apply Rmult_le_compat_r. }
  assert (Step : forall rho H, 0 <= rho <= d1 -> (forall i a, (i < n)%nat -> (a < d)%nat ->
    Rabs (lin n d (S i a) H) <= rho * w i a) ->
    forall i a, (i < n)%nat -> (a < d)%nat -> Rabs (lin n d (S i a) (fun p b => F (madd Z H) p b - Z p b)) <= q' * rho
      * w i a).
  { intros rho H Hr HH i a Hi Ha. assert (Wi := HB rho H ltac:(lra) HH).
    rewrite (lin_ext_r n d (S i a) _ (fun p b => lin n d (J p b) H + (F (madd Z H) p b - Z p b - lin n d (J p b) H)))
      by (intros; ring).
    rewrite lin_plus_r. eapply Rle_trans; [apply Rabs_triang|]. assert (A := HC rho H ltac:(lra) HH i a Hi Ha).
    assert (B := lin_abs n d (S i a) (fun p b => F (madd Z H) p b - Z p b - lin n d (J p b) H) (th * rho) (fun p b Hp
      Hb => D1 p b rho Hp Hb ltac:(lra) ltac:(lra) H Wi)).
    specialize (Th i a th Hi Ha ltac:(lra) ltac:(lra)).
    assert (sumentries n d (S i a) * (th * rho) <= (q' - q) * w i a * rho) by (rewrite <- Rmult_assoc;
      apply Rmult_le_compat_r; lra). lra. }
  destruct (common_delta2 n d (fun i a r => 0 <= r -> sumentries n d (S i a) * r <= d1 * w i a)) as [eta [Ep E]].
  { intros i a Hi Ha. set (s := sumentries n d (S i a)). assert (s0 : 0 <= s) by apply sumentries_pos.
    assert (wp := Hw i a Hi Ha).
    assert (D : 0 < d1 * w i a / (s + 1)) by (apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat|]; lra).
    exists (d1 * w i a / (s + 1)). split; [exact D|]. intros r Hr r0. apply (Rmult_le_compat_r (s + 1)) in Hr; [|lra].
    replace (d1 * w i a / (s + 1) * (s + 1)) with (d1 * w i a) in Hr by (field; lra). nra. }
  assert (q'b : 0 <= q' < 1) by (unfold q'; lra).
  exists eta, (C * d1), q'. split; [exact Ep|split; [nra|split; [exact q'b|]]]. intros X HX.
  assert (P : forall k, 0 <= q' ^ k <= 1) by (intro k; split; [apply pow_le; lra|rewrite <- (pow1 k); apply pow_incr;
    lra]).
  assert (Inv : forall k i a, (i < n)%nat -> (a < d)%nat -> Rabs (lin n d (S i a) (fun p b => Nat.iter k F X p b - Z p
    b)) <= d1 * q' ^ k * w i a).
  { induction k as [|k IH]; intros i a Hi Ha.
    - simpl Nat.iter. simpl pow. rewrite Rmult_1_r. eapply Rle_trans; [apply (lin_abs n d (S i a) _ eta HX)|].
      apply E; auto; lra.
    - simpl Nat.iter. set (Y := Nat.iter k F X) in *. specialize (P k).
      replace Y with (madd Z (fun i a => Y i a - Z i a)) by (apply functional_extensionality; intro;
        apply functional_extensionality; intro; unfold madd; ring).
      eapply Rle_trans; [apply (Step (d1 * q' ^ k)); auto; nra|]. simpl. right. ring. }
  intros k. replace (C * d1 * q' ^ k) with (C * (d1 * q' ^ k)) by ring. apply HB; [specialize (P k); nra|exact (Inv k)].
Qed.
