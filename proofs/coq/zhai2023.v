(** own:entropy-order, noci2022:zero-grad, own:zero-grad, folk:entropy-order, zhai2023:3.1.  What each is stands
    before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms seed_closure Softmax own_tv Quantities own_order.
Local Open Scope R_scope.

(** own:entropy-order.  The least entropy Phi_T(sigma) of a softmax over T keys with logits of length at most sigma is,
  with beta = e^(-sigma sqrt(T/(T-1))), at least
    sigma sqrt(T(T-1)) beta/(1 + (T-1) beta) and at most (T-1) beta (1 + sigma sqrt(T/(T-1)))  [entropy_order]. *)

Definition decay (T s : R) : R := exp (- (s * sqrt (T / (T - 1)))).
(** log(1 + (T-1) beta) + s sqrt(T(T-1)) beta/(1 + (T-1) beta) *)
Definition entropy_floor (T s : R) : R := ln (1 + (T - 1) * decay T s) + s * sqrt (T * (T - 1)) * decay T s / (1 + (T -
  1) * decay T s).

Theorem entropy_order T sigma : 2 <= T -> 0 < sigma -> let beta := exp (- sigma * sqrt (T / (T - 1))) in
  sigma * sqrt (T * (T - 1)) * beta / (1 + (T - 1) * beta) <= entropy_floor T sigma /\
  entropy_floor T sigma <= (T - 1) * beta * (1 + sigma * sqrt (T / (T - 1))).
Proof.
  intros HT Hs beta. assert (B : decay T sigma = beta) by (unfold decay, beta; f_equal; ring). unfold entropy_floor.
  rewrite B.
  assert (Bp : 0 < beta) by apply exp_pos. set (x := (T - 1) * beta).
  assert (X : 0 < x) by (apply Rmult_lt_0_compat; lra).
  assert (L0 : 0 < ln (1 + x)) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (L1 : ln (1 + x) <= x) by (rewrite <- (ln_exp x) at 2; left; apply ln_increasing; [lra|apply exp_ineq1; lra]).
  split; [lra|]. set (r := sqrt (T / (T - 1))). assert (R0 : 0 <= r) by apply sqrt_pos.
  assert (E : sqrt (T * (T - 1)) = (T - 1) * r).
  { unfold r. rewrite <- (sqrt_square (T - 1)) at 2 by lra. rewrite <- sqrt_mult_alt by nra. f_equal. field. lra. }
  rewrite E. replace (sigma * ((T - 1) * r) * beta) with (x * (sigma * r)) by (unfold x; ring).
  assert (S0 : 0 <= x * (sigma * r)) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]).
  assert (Q : x * (sigma * r) / (1 + x) <= x * (sigma * r)).
  { rewrite <- (Rmult_1_r (x * (sigma * r))) at 2. apply Rmult_le_compat_l; [exact S0|]. rewrite <- Rinv_1 at 2.
    apply Rinv_le_contravar; lra. }
  lra.
Qed.

(** noci2022:zero-grad and own:zero-grad.  Row i of softmax(Z M Z^T) Z V, moved along M + h G,
  has the derivative sum_j p_j (f_j - f_p) y_j, f_j = z_i G z_j, y_j = z_j V; its length
    is at most osc(f) max |y_j - y_k| / 4  [zero_grad].  So on equal tokens no weight of W_QK has a gradient
      [no_grad]. *)

Lemma argmax n (f : vec) : (0 < n)%nat -> exists i, (i < n)%nat /\ forall j, (j < n)%nat -> f j <= f i.
Proof.
  induction n as [|n IH]; intros H; [lia|]. destruct (Nat.eq_dec n 0) as [->|Hn]; [exists 0%nat; split; [lia|];
    intros j Hj; replace j with 0%nat by lia; lra|].
  destruct IH as [i [Hi M]]; [lia|]. destruct (Rle_or_lt (f n) (f i)) as [L|L]; [exists i|exists n]; (split; [lia|]);
    intros j Hj; (destruct (Nat.eq_dec j n) as [->|Hj']; [lra|]); specialize (M j ltac:(lia)); lra.
Qed.

(** The mean deviation is at most half the oscillation. *)
Lemma mean_deviation n p f D : (forall j, (j < n)%nat -> 0 <= p j) -> sum n p = 1 -> (forall j k, (j < n)%nat ->
  (k < n)%nat -> f j - f k <= D) ->
  sum n (fun j => p j * Rabs (f j - avg n p f)) <= D / 2.
Proof.
  intros p0 p1 Ho. destruct (Nat.eq_dec n 0) as [->|Hn]; [simpl in p1; lra|].
  destruct (argmax n f ltac:(lia)) as [i [Hi Mi]]. destruct (argmax n (fun j => - f j) ltac:(lia)) as [k [Hk Mk]].
  cbv beta in Mk. assert (Dik := Ho i k Hi Hk). assert (Dii := Ho i i Hi Hi).
  set (c := (f i + f k) / 2). set (g := fun j => Rabs (f j - avg n p f)).
  assert (V := var_pos n p p0 p1 g). assert (W := var_about n p p1 f c).
  assert (Eq : sum n (fun j => p j * (g j * g j)) = cov n p f f).
  { transitivity (sum n (fun j => p j * ((f j - avg n p f) * (f j - avg n p f)))); [|rewrite (cov_about n p p1); ring].
    apply sum_ext; intros j _. unfold g. rewrite <- Rabs_mult, Rabs_right by (apply Rle_ge, Rle_0_sqr). reflexivity. }
  assert (B : sum n (fun j => p j * ((f j - c) * (f j - c))) <= D / 2 * (D / 2)).
  { rewrite <- (Rmult_1_l (D / 2 * (D / 2))), <- p1, <- sum_scal_r. apply sum_le; intros j Hj.
    apply Rmult_le_compat_l; [auto|]. assert (A1 := Mi j Hj). assert (A2 := Mk j Hj).
    assert (Rabs (f j - c) <= D / 2) by (apply Rabs_le; unfold c; lra). assert (P := Rabs_pos (f j - c)).
    replace ((f j - c) * (f j - c)) with (Rabs (f j - c) * Rabs (f j - c)) by (rewrite <- Rabs_mult;
      apply Rabs_right, Rle_ge, Rle_0_sqr).
    apply Rmult_le_compat; assumption. }
  unfold cov in V. rewrite Eq in V. change (sum n (fun j => p j * Rabs (f j - avg n p f))) with (avg n p g).
  apply Rsqr_incr_0_var; [|lra]. unfold Rsqr. lra.
Qed.

(** The output of one query along a direction of its logits. *)
Lemma mix_derivative n (l f y : vec) g : (0 < n)%nat -> is_derive (fun h => sum n (fun j => softmax n (fun _ => 1) (fun
  k => l k + h * f k) j * y j)) 0 g ->
  let p := softmax n (fun _ => 1) l in g = sum n (fun j => p j * (f j - avg n p f) * y j).
Proof.
  intros Hn Hg p. assert (W : weights n (fun _ => 1)) by (split; [intros; lra|exists 0%nat; split; [lia|lra]]).
  set (Z := fun h => sum n (fun k => 1 * exp (l k + h * f k))).
  set (A := fun h => sum n (fun k => y k * exp (l k + h * f k))).
  assert (Zp : forall h, 0 < Z h) by (intro h; apply (tilt_Z_pos n (fun _ => 1) W (fun k => l k + h * f k))).
  assert (DZ : is_derive Z 0 (sum n (fun k => f k * exp (l k + 0 * f k)))).
  { apply (derive_sum n (fun k h => 1 * exp (l k + h * f k)) (fun k h => f k * exp (l k + h * f k))). intros k _.
    auto_derive; [exact I|ring]. }
  assert (DA : is_derive A 0 (sum n (fun k => y k * (f k * exp (l k + 0 * f k))))).
  { apply (derive_sum n (fun k h => y k * exp (l k + h * f k)) (fun k h => y k * (f k * exp (l k + h * f k)))).
    intros k _. auto_derive; [exact I|ring]. }
  assert (D : is_derive (fun h => A h / Z h) 0 g).
  { apply (is_derive_ext (fun h => sum n (fun j => softmax n (fun _ => 1) (fun k => l k + h * f k) j * y j)));
      [|exact Hg]. intro h. unfold A, Rdiv. rewrite <- sum_scal_r. apply sum_ext; intros j _.
    unfold softmax, tilt. fold (Z h). unfold Rdiv. ring. }
  assert (D2 := is_derive_div A Z 0 _ _ DA DZ (Rgt_not_eq _ _ (Zp 0))).
  assert (Eg := eq_trans (eq_sym (is_derive_unique _ _ _ D)) (is_derive_unique _ _ _ D2)). rewrite Eg.
  assert (pE : forall j, p j = exp (l j + 0 * f j) / Z 0).
  { intro j. unfold p, softmax, tilt, Z. rewrite Rmult_1_l. f_equal; [f_equal; ring|]. apply sum_ext; intros k _.
    do 2 f_equal. ring. }
  assert (Z0 := Zp 0).
  assert (E1 : sum n (fun k => f k * exp (l k + 0 * f k)) = avg n p f * Z 0) by (unfold avg; rewrite <- sum_scal_r;
    apply sum_ext; intros; rewrite pE; field; lra).
  assert (E2 : A 0 = sum n (fun k => p k * y k) * Z 0) by (unfold A; rewrite <- sum_scal_r; apply sum_ext; intros;
    rewrite pE; field; lra).
  assert (E3 : sum n (fun k => y k * (f k * exp (l k + 0 * f k))) = sum n (fun k => p k * f k * y k) * Z 0) by (rewrite
    <- sum_scal_r; apply sum_ext; intros; rewrite pE; field; lra).
  rewrite E1, E2, E3. match goal with |- @eq _ ?a ?b => change (@eq R a b) end.
  rewrite (sum_ext n (fun j => p j * (f j - avg n p f) * y j) (fun j => p j * f j * y j - avg n p f * (p j * y j))) by
    (intros; ring). rewrite sum_minus, sum_scal. field. lra.
Qed.

Theorem zero_grad n d e (Z M G V : mat) i (g : vec) F D : (i < n)%nat ->
  (forall a, (a < e)%nat -> is_derive (fun h => sum n (fun j => softmax n (fun _ => 1) (fun k => bil d (Z i) M (Z k) +
    h * bil d (Z i) G (Z k)) j * vmat d (Z j) V a)) 0 (g a)) ->
  (forall j k, (j < n)%nat -> (k < n)%nat -> bil d (Z i) G (Z j) - bil d (Z i) G (Z k) <= F) ->
  (forall j k, (j < n)%nat -> (k < n)%nat -> l2 e (vsub (vmat d (Z j) V) (vmat d (Z k) V)) <= D) ->
  l2 e g <= D * F / 4.
Proof.
  intros Hi Hg HF HD. set (l := fun k => bil d (Z i) M (Z k)). set (f := fun k => bil d (Z i) G (Z k)).
  set (p := softmax n (fun _ => 1) l).
  assert (W : weights n (fun _ => 1)) by (split; [intros; lra|exists 0%nat; split; [lia|lra]]).
  assert (p0 : forall j, (j < n)%nat -> 0 <= p j) by (intros; now apply tilt_nonneg).
  assert (p1 : sum n p = 1) by (now apply tilt_sum).
  set (nu := fun j => p j * (f j - avg n p f)).
  assert (N0 : sum n nu = 0) by (unfold nu; rewrite (sum_ext n _ (fun j => p j * f j - p j * avg n p f)) by (intros;
    ring); rewrite sum_minus, sum_scal_r, p1; unfold avg; ring).
  assert (D0 : 0 <= D) by (eapply Rle_trans; [apply sqrt_pos|apply (HD i i Hi Hi)]).
  assert (T := transport (L2 e) n nu (fun j => vmat d (Z j) V) D N0 HD).
  assert (E : l2 e g = l2 e (fun a => sum n (fun j => nu j * vmat d (Z j) V a))).
  { unfold l2, dot. f_equal. apply sum_ext; intros a Ha. rewrite (mix_derivative n l f (fun j => vmat d (Z j) V a) (g
      a) ltac:(lia) (Hg a Ha)). reflexivity. }
  rewrite E. eapply Rle_trans; [exact T|]. assert (MD := mean_deviation n p f F p0 p1 HF).
  rewrite (sum_ext n (fun j => Rabs (nu j)) (fun j => p j * Rabs (f j - avg n p f))) by (intros j Hj; unfold nu;
    rewrite Rabs_mult, (Rabs_right (p j)) by (apply Rle_ge; auto); reflexivity).
  apply Rle_trans with (/ 2 * (F / 2) * D); [|right; field]. apply Rmult_le_compat_r; [exact D0|]. lra.
Qed.

Theorem no_grad n d e (Z M G V : mat) i (g : vec) : (i < n)%nat -> (forall j k a, (j < n)%nat -> (k < n)%nat ->
  (a < d)%nat -> Z j a = Z k a) ->
  (forall a, (a < e)%nat -> is_derive (fun h => sum n (fun j => softmax n (fun _ => 1) (fun k => bil d (Z i) M (Z k) +
    h * bil d (Z i) G (Z k)) j * vmat d (Z j) V a)) 0 (g a)) ->
  forall a, (a < e)%nat -> g a = 0.
Proof.
  intros Hi Eq Hg a Ha. assert (S := zero_grad n d e Z M G V i g 0 0 Hi Hg).
  assert (L : l2 e g <= 0 * 0 / 4).
  { apply S.
    - intros j k Hj Hk. right. apply Rminus_diag_eq. unfold bil. apply sum_ext; intros u Hu.
      apply sum_ext; intros w Hw. now rewrite (Eq j k w Hj Hk Hw).
    - intros j k Hj Hk. right. unfold l2, dot. rewrite (sum_ext e _ (fun _ => 0)); [rewrite sum_zero; apply sqrt_0|].
      intros b _. unfold vsub. rewrite (vmat_ext d (Z j) (Z k)) by (intros; now apply Eq). ring. }
  assert (Q : dot e g g <= 0).
  { assert (P := dot_pos e g). assert (R := sqrt_sqrt (dot e g g) P). unfold l2 in L.
    assert (sqrt (dot e g g) = 0) by (apply Rle_antisym; [lra|apply sqrt_pos]). rewrite H in R. lra. }
  assert (T := sum_term_le e (fun b => g b * g b) a (fun b _ => Rle_0_sqr (g b)) Ha). cbv beta in T. unfold dot in Q.
  assert (g a * g a <= 0) by lra. nra.
Qed.

(** zhai2023:3.1, as we read it.  Every row of softmax(X W X^T), for T >= 2 tokens,
  has an entropy of at least Phi_T(sigma), sigma = |W|_2 |X X^T|_2  [zhai_3_1]; Phi_T(sigma) is that of one logit
    above T - 1 equal ones, of length sigma.  For logits of length at most sigma that is [entropy_low].
    The proof: let G = sigma sqrt(T/(T-1)), b = 1 + G e^G/(e^G + T - 1), and psi(y) = (b + (b-1) y - (b-y) e^y)/y^2,
      the integral of (1 - b + b t) e^(t y) over 0 <= t <= 1.  The integrand times
    e^(-(1-1/b) y) grows with y for every t, so psi(y) <= psi(G) for y <= G if psi(G) >= 0,
      and psi(y) <= 0 else  [psi_grows].  Both bound sum_k (b - y_k) e^(y_k) from below by
    e^G + T - 1: for y_k = u_k + G/T by the squares of the y_k, else for y_k = u_k - max u + G by their sum.
    And log is concave. *)

Definition psi (b y : R) : R := (b + (b - 1) * y - (b - y) * exp y) / (y * y).

Lemma psi_grows b y1 y2 : 1 < b -> y1 <> 0 -> y2 <> 0 -> y1 <= y2 ->
  psi b y1 * exp (- ((b - 1) / b) * y1) <= psi b y2 * exp (- ((b - 1) / b) * y2).
Proof.
  intros Hb N1 N2 L. set (t0 := (b - 1) / b). assert (bt : b * t0 = b - 1) by (unfold t0; field; lra).
  set (A := fun y t => ((1 - b + b * t) / y - b / (y * y)) * exp (t * y) * exp (- t0 * y)).
  set (D := fun t => A y2 t - A y1 t).
  set (D' := fun t => (1 - b + b * t) * (exp (t * y2) * exp (- t0 * y2) - exp (t * y1) * exp (- t0 * y1))).
  assert (E : forall y, y <> 0 -> A y 1 - A y 0 = psi b y * exp (- t0 * y)) by (intros y N; unfold A, psi;
    rewrite Rmult_1_l, Rmult_0_l, exp_0; field; exact N).
  destruct (MVT_gen D 0 1 D') as [c [Hc Eq]].
  - intros t _. unfold D, D', A. auto_derive; [repeat split; assumption|]. field. split; assumption.
  - intros t _. apply continuity_pt_filterlim, (ex_derive_continuous D). unfold D, A. auto_derive.
    repeat split; assumption.
  - rewrite Rmin_left, Rmax_right in Hc by lra. assert (P : 0 <= D' c).
    { unfold D'. rewrite <- !exp_plus. replace (1 - b + b * c) with (b * (c - t0)) by (rewrite Rmult_minus_distr_l, bt;
        ring).
      replace (c * y2 + - t0 * y2) with ((c - t0) * y2) by ring.
      replace (c * y1 + - t0 * y1) with ((c - t0) * y1) by ring. destruct (Rle_or_lt 0 (c - t0)) as [S|S].
      - assert (exp ((c - t0) * y1) <= exp ((c - t0) * y2)) by (apply exp_le, Rmult_le_compat_l; lra).
        apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra].
      - assert (exp ((c - t0) * y2) <= exp ((c - t0) * y1)) by (apply exp_le; nra).
        replace (b * (c - t0) * (exp ((c - t0) * y2) - exp ((c - t0) * y1))) with (b * (t0 - c) * (exp ((c - t0) * y1)
          - exp ((c - t0) * y2))) by ring.
        apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]. }
    assert (X := E y2 N2). assert (Y := E y1 N1). unfold D in Eq. lra.
Qed.

(** (b - y) e^y from below for y <= G. *)
Lemma chord b G y : 1 < b -> 0 < G -> y <= G -> b + (b - 1) * y - (b - y) * exp y <= Rmax 0 (psi b G) * (y * y).
Proof.
  intros Hb HG L. destruct (Req_dec y 0) as [->|N]; [rewrite exp_0; lra|]. assert (yy : 0 < y * y) by nra.
  replace (b + (b - 1) * y - (b - y) * exp y) with (psi b y * (y * y)) by (unfold psi; field; exact N).
  apply Rmult_le_compat_r; [lra|].
  assert (M := psi_grows b y G Hb N ltac:(lra) L). set (t0 := (b - 1) / b) in *.
  assert (t1 : 0 < t0) by (apply Rdiv_lt_0_compat; lra).
  assert (e1 := exp_pos (- t0 * y)). assert (e2 := exp_pos (- t0 * G)).
  assert (e3 : exp (- t0 * G) <= exp (- t0 * y)) by (apply exp_le; nra).
  destruct (Rle_or_lt 0 (psi b G)) as [K|K]; [rewrite Rmax_right by lra|rewrite Rmax_left by lra].
  - apply Rmult_le_reg_r with (exp (- t0 * y)); [exact e1|]. eapply Rle_trans; [exact M|]. now apply Rmult_le_compat_l.
  - apply Rmult_le_reg_r with (exp (- t0 * y)); [exact e1|]. nra.
Qed.

(** If sum_k (b - y_k) e^(y_k) >= z, the entropy is at least log z + 1 - b. *)
Lemma entropy_from n (y : vec) b z : (0 < n)%nat -> 0 < z -> z <= sum n (fun k => (b - y k) * exp (y k)) ->
  ln z + 1 - b <= entropy n (softmax n (fun _ => 1) y).
Proof.
  intros Hn z0 H. assert (Wt : weights n (fun _ => 1)) by (split; [intros; lra|exists 0%nat; split; [lia|lra]]).
  set (p := softmax n (fun _ => 1) y). assert (Zp := tilt_Z_pos n (fun _ => 1) Wt y).
  set (Z := sum n (fun k => 1 * exp (y k))) in *.
  assert (pE : forall j, p j = exp (y j) / Z) by (intro j; unfold p, softmax, tilt; fold Z; now rewrite Rmult_1_l).
  assert (p1 : sum n p = 1) by (now apply tilt_sum).
  assert (E : entropy n p = ln Z - sum n (fun j => p j * y j)).
  { unfold entropy. rewrite (sum_ext n (fun j => p j * ln (p j)) (fun j => p j * y j - p j * ln Z));
      [rewrite sum_minus, sum_scal_r, p1; ring|]. intros j _. rewrite (pE j) at 2. unfold Rdiv.
    rewrite ln_mult by (try apply exp_pos; now apply Rinv_0_lt_compat). rewrite ln_exp, ln_Rinv by exact Zp. ring. }
  assert (S : sum n (fun k => (b - y k) * exp (y k)) = (b - sum n (fun j => p j * y j)) * Z).
  { rewrite Rmult_minus_distr_r, <- sum_scal_r. unfold Z at 1. rewrite <- sum_scal, <- sum_minus.
    apply sum_ext; intros k _. rewrite pE. field. lra. }
  rewrite S in H. rewrite E. assert (q0 : 0 < z / Z) by (now apply Rdiv_lt_0_compat).
  assert (L : ln (z / Z) <= z / Z - 1).
  { rewrite <- (ln_exp (z / Z - 1)). assert (X := exp_ineq1_le (z / Z - 1)).
    destruct (Rle_lt_or_eq_dec _ _ X) as [Y|Y]; [left; apply ln_increasing; lra|right; f_equal; lra]. }
  unfold Rdiv in L at 1. rewrite ln_mult, ln_Rinv in L by (try exact z0; try exact Zp; now apply Rinv_0_lt_compat).
  assert (z / Z <= b - sum n (fun j => p j * y j)) by (apply Rmult_le_reg_r with Z; [exact Zp|]; unfold Rdiv;
    rewrite Rmult_assoc, Rinv_l by lra; lra). lra.
Qed.

Theorem entropy_low n (u : vec) s : (2 <= n)%nat -> 0 <= s -> dot n u u <= s * s ->
  entropy_floor (INR n) s <= entropy n (softmax n (fun _ => 1) u).
Proof.
  intros Hn s0 Hu. set (T := INR n). assert (T2 : 2 <= T) by (apply (le_INR 2); lia). set (root := sqrt (T / (T - 1))).
  assert (q0 : 0 < T / (T - 1)) by (apply Rdiv_lt_0_compat; lra).
  assert (r0 : 0 < root) by (now apply sqrt_lt_R0). assert (rr : root * root = T / (T - 1)) by (apply sqrt_sqrt; lra).
  set (G := s * root). assert (GG : (T - 1) * (G * G) = T * (s * s)) by (unfold G;
    replace (s * root * (s * root)) with (s * s * (root * root)) by ring; rewrite rr; field; lra).
  set (Z := exp G + T - 1). assert (eG := exp_pos G). assert (Z0 : 0 < Z) by (unfold Z; lra).
  set (b := 1 + G * (exp G / Z)).
  assert (Fl : entropy_floor T s = ln Z + 1 - b).
  { unfold entropy_floor, decay. fold root. fold G. rewrite exp_Ropp. assert (sq : sqrt (T * (T - 1)) = (T - 1) * root).
    { unfold root. rewrite <- (sqrt_square (T - 1)) at 2 by lra. rewrite <- sqrt_mult by nra. f_equal. field. lra. }
    rewrite sq. replace (1 + (T - 1) * / exp G) with (Z * / exp G) by (unfold Z; field; lra).
    rewrite ln_mult, ln_Rinv, ln_exp by (try apply Rinv_0_lt_compat; assumption).
    replace (s * ((T - 1) * root) * / exp G / (Z * / exp G)) with (s * root * ((T - 1) / Z)) by (field; split; lra).
    fold G. unfold b. replace ((T - 1) / Z) with (1 - exp G / Z) by (unfold Z; field; unfold Z in Z0; lra). ring. }
  rewrite Fl. set (c := sum n u / T). set (x := fun k => u k - c).
  assert (Sx : sum n x = 0) by (unfold x; rewrite sum_minus, sum_const; fold T; unfold c; field; lra).
  assert (Sxx : sum n (fun k => x k * x k) <= s * s).
  { eapply Rle_trans; [|exact Hu]. unfold x, dot. rewrite (sum_ext n (fun k => (u k - c) * (u k - c)) (fun k => (u k *
      u k - 2 * c * u k) + c * c)) by (intros; ring). rewrite sum_plus, sum_minus, sum_scal, sum_const. fold T.
    assert (Su : sum n u = T * c) by (unfold c; field; lra). rewrite Su.
    assert (0 <= T * (c * c)) by (apply Rmult_le_pos; [lra|apply Rle_0_sqr]). lra. }
  (* every y in place of u: a constant is added *)
  assert (Shift : forall a, (forall k, softmax n (fun _ => 1) u k = softmax n (fun _ => 1) (fun k => x k + a) k)).
  { intros a k. unfold softmax. rewrite <- (tilt_shift n (fun _ => 1) u (a - c) k). unfold tilt, x.
    rewrite (sum_ext n (fun k => 1 * exp (a - c + u k)) (fun k => 1 * exp (u k - c + a))) by (intros; do 2 f_equal;
      ring). do 3 f_equal. ring. }
  assert (Go : forall a, Z <= sum n (fun k => (b - (x k + a)) * exp (x k + a)) ->
    ln Z + 1 - b <= entropy n (softmax n (fun _ => 1) u)).
  { intros a H. eapply Rle_trans; [apply (entropy_from n (fun k => x k + a) b Z ltac:(lia) Z0 H)|]. right.
    unfold entropy. f_equal. apply sum_ext; intros k _. now rewrite <- Shift. }
  destruct (Rle_lt_or_eq_dec 0 s s0) as [sp|sz].
  2: { apply (Go 0). assert (x0 : forall k, (k < n)%nat -> x k = 0) by (intros k Hk;
         assert (Y := sum_term_le n (fun k => x k * x k) k (fun k _ => Rle_0_sqr (x k)) Hk); cbv beta in Y;
           rewrite <- sz in Sxx; nra).
    rewrite (sum_ext n _ (fun _ => 1)); [rewrite sum_const; fold T; unfold Z, G; rewrite <- sz, Rmult_0_l, exp_0;
      lra|]. intros k Hk. rewrite x0 by exact Hk. unfold b, G. rewrite <- sz, Rplus_0_l, exp_0. ring. }
  assert (Gp : 0 < G) by (now apply Rmult_lt_0_compat). assert (b1 : 1 < b) by (unfold b;
    assert (0 < G * (exp G / Z)) by (apply Rmult_lt_0_compat; [exact Gp|now apply Rdiv_lt_0_compat]); lra).
  assert (Zb : (b - G) * exp G + (T - 1) * b = Z) by (unfold b, Z; field; unfold Z in Z0; lra).
  (* no x_k is above G (T - 1)/T *)
  assert (Top : forall k, (k < n)%nat -> T * x k <= G * (T - 1)).
  { intros k Hk. set (o := fun j => x j * (1 - eye k j)). assert (So : sum n o = - x k).
    { unfold o. rewrite (sum_ext n _ (fun j => x j - eye k j * x j)) by (intros; ring).
      rewrite sum_minus, (sum_eye n k x Hk). change (sum n (fun j => x j)) with (sum n x). rewrite Sx. ring. }
    assert (Soo : sum n (fun j => o j * o j) = sum n (fun j => x j * x j) - x k * x k).
    { unfold o. rewrite (sum_ext n _ (fun j => x j * x j - eye k j * (x j * x j))) by (intros j _; unfold eye;
        destruct Nat.eqb; ring). rewrite sum_minus, (sum_eye n k (fun j => x j * x j) Hk). reflexivity. }
    assert (CS := cauchy_schwarz n o (fun j => 1 - eye k j)). unfold dot in CS. rewrite Soo in CS.
    rewrite (sum_ext n (fun i => o i * (1 - eye k i)) o) in CS by (intros j _; unfold o, eye; destruct Nat.eqb; ring).
    rewrite So in CS.
    rewrite (sum_ext n (fun i => (1 - eye k i) * (1 - eye k i)) (fun i => 1 - eye k i * 1)) in CS by (intros j _;
      unfold eye; destruct Nat.eqb; ring). rewrite sum_minus, sum_const, (sum_eye n k (fun _ => 1) Hk) in CS.
      fold T in CS.
    assert (Q : T * (x k * x k) <= (T - 1) * (s * s)) by nra. apply Rsqr_incr_0_var; [|apply Rmult_le_pos; lra].
    unfold Rsqr.
    replace (T * x k * (T * x k)) with (T * (T * (x k * x k))) by ring.
    replace (G * (T - 1) * (G * (T - 1))) with ((T - 1) * ((T - 1) * (G * G))) by ring. rewrite GG. nra. }
  destruct (Rle_or_lt 0 (psi b G)) as [K|K].
  - apply (Go (G / T)). assert (L : sum n (fun k => (b + (b - 1) * (x k + G / T)) - psi b G * ((x k + G / T) * (x k + G
      / T))) <= sum n (fun k => (b - (x k + G / T)) * exp (x k + G / T))).
    { apply sum_le; intros k Hk. assert (Y : x k + G / T <= G) by (apply Rmult_le_reg_l with T; [lra|];
        replace (T * (x k + G / T)) with (T * x k + G) by (field; lra); specialize (Top k Hk); lra).
      assert (C := chord b G _ b1 Gp Y). rewrite Rmax_right in C by exact K. lra. }
    eapply Rle_trans; [|exact L]. rewrite sum_minus, sum_scal, sum_plus, sum_const, sum_scal, sum_plus, sum_const.
    change (sum n (fun k => x k)) with (sum n x). rewrite Sx. fold T.
    assert (Sq : sum n (fun k => (x k + G / T) * (x k + G / T)) <= G * G).
    { rewrite (sum_ext n _ (fun k => (x k * x k + 2 * (G / T) * x k) + G / T * (G / T))) by (intros; ring).
      rewrite sum_plus, sum_plus, sum_scal, sum_const, Sx. fold T.
      replace (T * (G / T * (G / T))) with (G * G / T) by (field; lra).
      assert (s * s = G * G - G * G / T) by (apply Rmult_eq_reg_l with T; [|lra]; rewrite <- GG; field; lra). lra. }
    assert (KG : psi b G * (G * G) = b + (b - 1) * G - (b - G) * exp G) by (unfold psi; field; lra).
    assert (psi b G * sum n (fun k => (x k + G / T) * (x k + G / T)) <= psi b G * (G * G)) by (now apply
      Rmult_le_compat_l).
    replace (T * (G / T)) with G by (field; lra). lra.
  - destruct (argmax n x ltac:(lia)) as [i [Hi Mx]]. apply (Go (G - x i)).
    assert (L : sum n (fun k => b + (b - 1) * (x k + (G - x i)) + eye i k * ((b - G) * exp G - (b + (b - 1) * G))) <=
      sum n (fun k => (b - (x k + (G - x i))) * exp (x k + (G - x i)))).
    { apply sum_le; intros k Hk. unfold eye. destruct (Nat.eqb_spec i k) as [<-|_]; [right;
        replace (x i + (G - x i)) with G by ring; ring|]. assert (Y : x k + (G - x i) <= G) by (specialize (Mx k Hk);
          lra).
      assert (C := chord b G _ b1 Gp Y). rewrite Rmax_left in C by lra. lra. }
    eapply Rle_trans; [|exact L]. rewrite sum_plus, (sum_eye n i (fun _ => (b - G) * exp G - (b + (b - 1) * G)) Hi),
      sum_plus, sum_const, sum_scal, sum_plus, sum_const. change (sum n (fun k => x k)) with (sum n x). rewrite Sx.
      fold T.
    specialize (Top i Hi). assert (0 <= (b - 1) * (T * (G - x i) - G)) by (apply Rmult_le_pos; lra). lra.
Qed.

(** The logits of one query: |x_i W X^T|_2 <= w g, w and g bounds of |W|_2 and |X X^T|_2. *)
Lemma logits_short n d (X W : mat) w g i : (i < n)%nat -> 0 <= w -> 0 <= g ->
  (forall v, l2 d (vmat d v W) <= w * l2 d v) ->
  (forall c, l2 n (vmat n c (fun i j => dot d (X i) (X j))) <= g * l2 n c) ->
    dot n (fun j => bil d (X i) W (X j)) (fun j => bil d (X i) W (X j)) <= (w * g) * (w * g).
Proof.
  intros Hi w0 g0 HW HG. set (u := fun j => bil d (X i) W (X j)). set (v := vmat d (X i) W). set (y := vmat n u X).
  assert (U0 := dot_pos n u). assert (V0 := dot_pos d v).
  assert (Quad : forall c, dot d (vmat n c X) (vmat n c X) <= g * dot n c c).
  { intro c. replace (dot d (vmat n c X) (vmat n c X)) with (dot n (vmat n c (fun i j => dot d (X i) (X j))) c).
    - eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply dot_le_l2|].
      assert (E : l2 n c * l2 n c = dot n c c) by (apply sqrt_sqrt, dot_pos). rewrite <- E, <- Rmult_assoc.
      apply Rmult_le_compat_r; [apply sqrt_pos|apply HG].
    - unfold dot, vmat. rewrite (sum_ext n _ (fun j => sum d (fun a => sum n (fun k => c k * X k a) * (c j * X j a)))).
      + rewrite sum_swap. apply sum_ext; intros a _. now rewrite sum_scal.
      + intros j _. rewrite <- sum_scal_r. rewrite (sum_ext n _ (fun k => sum d (fun a => c k * X k a * (c j * X j
          a)))) by (intros; rewrite <- sum_scal, <- sum_scal_r; apply sum_ext; intros; ring). rewrite sum_swap.
          apply sum_ext; intros; now rewrite sum_scal_r. }
  assert (Uv : dot n u u = dot d y v).
  { unfold dot at 1. rewrite (sum_ext n _ (fun j => sum d (fun a => u j * X j a * v a))) by (intros j _; unfold u at 2;
      rewrite bil_dot; fold v; unfold dot; rewrite <- sum_scal; apply sum_ext; intros; ring).
    rewrite sum_swap. unfold dot, y, vmat. apply sum_ext; intros a _. now rewrite sum_scal_r. }
  assert (CS := cauchy_schwarz d y v). rewrite <- Uv in CS. assert (Qy := Quad u). fold y in Qy.
  assert (Xi : dot d (X i) (X i) <= g).
  { assert (Q := Quad (eye i)). assert (E : dot n (eye i) (eye i) = 1) by (unfold dot;
      rewrite (sum_eye n i (eye i) Hi); unfold eye; now rewrite Nat.eqb_refl).
    rewrite E, Rmult_1_r in Q. eapply Rle_trans; [|exact Q]. right. unfold dot. apply sum_ext; intros a _. unfold vmat.
    now rewrite (sum_eye n i (fun k => X k a) Hi). }
  assert (Vv : dot d v v <= w * w * g).
  { assert (H := HW (X i)). fold v in H. assert (E1 : l2 d v * l2 d v = dot d v v) by (apply sqrt_sqrt, dot_pos).
    assert (E2 : l2 d (X i) * l2 d (X i) = dot d (X i) (X i)) by (apply sqrt_sqrt, dot_pos).
    assert (0 <= l2 d v) by apply sqrt_pos. rewrite <- E1.
    apply Rle_trans with (w * l2 d (X i) * (w * l2 d (X i))); [apply Rmult_le_compat; assumption|].
    replace (w * l2 d (X i) * (w * l2 d (X i))) with (w * w * (l2 d (X i) * l2 d (X i))) by ring. rewrite E2.
    apply Rmult_le_compat_l; [apply Rle_0_sqr|exact Xi]. }
  destruct (Rle_lt_or_eq_dec 0 (dot n u u) U0) as [Up|Uz]; [|rewrite <- Uz; apply Rle_0_sqr].
  apply Rmult_le_reg_l with (dot n u u); [exact Up|].
  eapply Rle_trans; [exact CS|]. apply Rle_trans with (g * dot n u u * (w * w * g)); [apply Rmult_le_compat;
    try apply dot_pos; assumption|]. right. ring.
Qed.

Theorem zhai_3_1 n d (X W : mat) w g i : (2 <= n)%nat -> (i < n)%nat -> 0 <= w -> 0 <= g ->
  (forall v, l2 d (vmat d v W) <= w * l2 d v) ->
  (forall c, l2 n (vmat n c (fun i j => dot d (X i) (X j))) <= g * l2 n c) ->
  entropy_floor (INR n) (w * g) <= entropy n (softmax n (fun _ => 1) (fun j => bil d (X i) W (X j))).
Proof. intros Hn Hi w0 g0 HW HG. apply entropy_low; [exact Hn|now apply Rmult_le_pos|now apply logits_short]. Qed.

(** folk:entropy-order.  "The least entropy of attention over T tokens with logits of size sigma, Phi_T(sigma),
  is at least of the order of T sigma e^-sigma."  For every number
    T >= 2 of tokens and every constant c > 0 it fails from some sigma on  [entropy_order_fails];
      so no c holds for all T and sigma  [entropy_order_refuted]. *)

Theorem entropy_order_fails T c : 2 <= T -> 0 < c -> exists s, 0 < s /\ entropy_floor T s < c * T * s * exp (- s).
Proof.
  intros HT Hc. assert (g1 : 1 < sqrt (T / (T - 1))).
  { rewrite <- sqrt_1 at 1. apply sqrt_lt_1_alt. split; [lra|]. apply Rmult_lt_reg_r with (T - 1); [lra|]. unfold Rdiv.
    rewrite Rmult_assoc, Rinv_l by lra. lra. }
  set (g := sqrt (T / (T - 1))) in *. set (s := 1 + (1 + g) / (c * (g - 1))).
  assert (q0 : 0 < (1 + g) / (c * (g - 1))) by (apply Rdiv_lt_0_compat; [lra|apply Rmult_lt_0_compat; lra]).
  assert (s1 : 1 < s) by (unfold s; lra).
  exists s. split; [lra|]. destruct (entropy_order T s HT ltac:(lra)) as [_ U]. eapply Rle_lt_trans; [exact U|]. fold g.
  replace (- s * g) with (- (s * (g - 1)) + - s) by ring. rewrite exp_plus. assert (e0 := exp_pos (- s)).
  set (k := s * (g - 1)). assert (k0 : 0 < k) by (unfold k; apply Rmult_lt_0_compat; lra).
  assert (e1 : exp (- k) <= / (1 + k)) by (rewrite exp_Ropp; apply Rinv_le_contravar; [lra|apply exp_ineq1_le]).
  assert (ck : 1 + g < c * k).
  { unfold k, s. replace (c * ((1 + (1 + g) / (c * (g - 1))) * (g - 1))) with (c * (g - 1) + (1 + g)) by (field; lra).
    assert (0 < c * (g - 1)) by (apply Rmult_lt_0_compat; lra). lra. }
  assert (A : exp (- k) * (1 + s * g) < c * s).
  { apply Rle_lt_trans with (/ (1 + k) * (1 + s * g)); [apply Rmult_le_compat_r; [nra|exact e1]|].
    apply Rmult_lt_reg_l with (1 + k); [lra|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
    assert (0 < c * s) by nra. nra. }
  apply Rlt_le_trans with (T * (c * s) * exp (- s)); [|right; ring].
  replace ((T - 1) * (exp (- k) * exp (- s)) * (1 + s * g)) with ((T - 1) * (exp (- k) * (1 + s * g)) * exp (- s)) by
    ring.
  apply Rmult_lt_compat_r; [exact e0|]. assert (0 < exp (- k) * (1 + s * g)) by (apply Rmult_lt_0_compat;
    [apply exp_pos|nra]). nra.
Qed.

Definition entropy_order_claim : Prop := forall T s c, 2 <= T -> 0 < s -> 0 < c ->
  c * T * s * exp (- s) <= entropy_floor T s.
Theorem entropy_order_refuted : ~ entropy_order_claim.
Proof. intros H. destruct (entropy_order_fails 2 1 ltac:(lra) ltac:(lra)) as [s [Hs L]].
specialize (H 2 s 1 ltac:(lra) Hs ltac:(lra)). lra. Qed.
