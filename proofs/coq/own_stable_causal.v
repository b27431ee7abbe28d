(** own:stable-causal.  An exponentially stable equilibrium of rank two under the causal mask, two tokens.

    0 < c < a < 1, w^2 > a(2-a), d >= 2, W_V = c I_{d-2} + [[a,w],[0,1]] (direct sum), W_QK = 0,
      LayerNorm on the sphere.
    There is exactly one q in (-1, a-1) with w^2(1-q^2) = (1+(1-a)q)^2, namely
        q = -((1-a) + |w| sqrt(w^2 - a(2-a))) / (w^2 + (1-a)^2).
    With p = -(1+(1-a)q)/w the tokens X_1 = e_d, X_2 = p e_{d-1} + q e_d are an equilibrium of rank two,
      and it attracts every start near it
    at an exponential rate.  The eigenvalues of the derivative are a, (1+q)/a and 0, and for d > 2 also c and c/a. *)
Require Import Reals Lra Lia Psatz Classical.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms Softmax Jets SphereLayer Spectrum.
Local Open Scope R_scope.

(** d = e+2; the plane is spanned by the coordinates e and e+1. *)
Definition stable_values (e : nat) (a c w : R) : mat := fun x y =>
  eye x y * (if Nat.ltb x e then c else if Nat.eqb x e then a else 1) + w * (eye x e * eye y (S e)).
Definition stable_tokens (e : nat) (p q : R) : mat := fun i =>
  match i with O => eye (S e) | _ => fun y => p * eye e y + q * eye (S e) y end.

(** The root q. *)
Lemma root_unique a w q1 q2 : 0 < a < 1 -> a * (2 - a) < w ^ 2 -> -1 < q1 < a - 1 -> -1 < q2 < a - 1 ->
  w ^ 2 * (1 - q1 ^ 2) = (1 + (1 - a) * q1) ^ 2 -> w ^ 2 * (1 - q2 ^ 2) = (1 + (1 - a) * q2) ^ 2 -> q1 = q2.
Proof.
  intros Ha H H1 H2 E1 E2. destruct (Req_dec q1 q2) as [|N]; [assumption|exfalso].
  set (k := w ^ 2 + (1 - a) ^ 2) in *. assert (k0 : 0 < k) by (unfold k; nra).
  assert (S : k * (q1 + q2) = - (2 * (1 - a))).
  { apply (Rmult_eq_reg_l (q1 - q2)); [|lra]. unfold k. lra. }
  (* h(a-1) > 0, but h = -k (x - q1)(x - q2) *)
  assert (P : 0 < w ^ 2 * (1 - (a - 1) ^ 2) - (1 + (1 - a) * (a - 1)) ^ 2).
  { replace (w ^ 2 * (1 - (a - 1) ^ 2) - (1 + (1 - a) * (a - 1)) ^ 2) with (a * (2 - a) * (w ^ 2 - a * (2 - a))) by
      ring.
    apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra|lra]. }
  assert (Q : w ^ 2 * (1 - (a - 1) ^ 2) - (1 + (1 - a) * (a - 1)) ^ 2 = - k * ((a - 1 - q1) * (a - 1 - q2))).
  { replace (- k * ((a - 1 - q1) * (a - 1 - q2))) with (- k * (a - 1) ^ 2 + (k * (q1 + q2)) * (a - 1) - k * q1 * q2) by
      ring.
    assert (K : k * q1 * q2 = (k * (q1 + q2)) * q1 - k * q1 ^ 2) by ring. rewrite K, S. unfold k. lra. }
  rewrite Q in P. assert (0 < (a - 1 - q1) * (a - 1 - q2)) by (apply Rmult_lt_0_compat; lra). nra.
Qed.

Definition q_root (a w : R) : R := - ((1 - a) + w * sqrt (w ^ 2 - a * (2 - a))) / (w ^ 2 + (1 - a) ^ 2).

Lemma root_exists a w : 0 < a < 1 -> 0 < w -> a * (2 - a) < w ^ 2 ->
  -1 < q_root a w < a - 1 /\ w ^ 2 * (1 - q_root a w ^ 2) = (1 + (1 - a) * q_root a w) ^ 2.
Proof.
  intros Ha Hw H. unfold q_root. set (r := sqrt (w ^ 2 - a * (2 - a))).
  assert (r2 : r * r = w ^ 2 - a * (2 - a)) by (apply sqrt_sqrt; lra).
  assert (r0 : 0 < r) by (apply sqrt_lt_R0; lra). set (k := w ^ 2 + (1 - a) ^ 2).
  assert (k0 : 0 < k) by (unfold k; nra).
  split; [split|].
  - apply Rmult_lt_reg_r with k; [exact k0|]. replace (- (1 - a + w * r) / k * k) with (- (1 - a + w * r)) by (field;
      lra).
    assert (w * r < w ^ 2 - a * (1 - a)).
    { apply Rsqr_incrst_0; [|nra|nra]. unfold Rsqr. replace (w * r * (w * r)) with (w ^ 2 * (r * r)) by ring.
      rewrite r2.
      replace ((w ^ 2 - a * (1 - a)) * (w ^ 2 - a * (1 - a))) with (w ^ 2 * (w ^ 2 - a * (2 - a)) + a ^ 2 * (w ^ 2 + (1
        - a) ^ 2)) by ring.
      fold k. assert (0 < a ^ 2 * k) by (apply Rmult_lt_0_compat; nra). lra. }
    unfold k. nra.
  - apply Rmult_lt_reg_r with k; [exact k0|]. replace (- (1 - a + w * r) / k * k) with (- (1 - a + w * r)) by (field;
      lra).
    (* (1-a) + w r > (1-a) k  <=>  w r > (1-a) (w^2 - a(2-a)) = (1-a) r^2, and r < w *)
    assert (r < w) by (apply Rsqr_incrst_0; [|lra|lra]; unfold Rsqr; rewrite r2; nra).
    assert ((1 - a) * (r * r) < w * r) by nra. unfold k. rewrite r2 in H1. nra.
  - replace (w ^ 2 * (1 - (- (1 - a + w * r) / k) ^ 2)) with (w ^ 2 * (k ^ 2 - (1 - a + w * r) ^ 2) / k ^ 2) by (field;
      lra).
    replace ((1 + (1 - a) * (- (1 - a + w * r) / k)) ^ 2) with ((k - (1 - a) * (1 - a + w * r)) ^ 2 / k ^ 2) by (field;
      lra).
    f_equal. unfold k.
    apply Rminus_diag_uniq.
    replace (w ^ 2 * ((w ^ 2 + (1 - a) ^ 2) ^ 2 - (1 - a + w * r) ^ 2) - (w ^ 2 + (1 - a) ^ 2 - (1 - a) * (1 - a + w *
      r)) ^ 2)
      with (w ^ 2 * (w ^ 2 + (1 - a) ^ 2) * (w ^ 2 - a * (2 - a) - r * r)) by ring.
    rewrite r2. ring.
Qed.

Lemma lin_2 d K H : lin 2 d K H = sum d (fun b => K 0%nat b * H 0%nat b) + sum d (fun b => K 1%nat b * H 1%nat b).
Proof. unfold lin. simpl. ring. Qed.

Section Stable.
Variables (e : nat) (a c w q : R).
Hypothesis c_pos : 0 < c.
Hypothesis c_a : c < a.
Hypothesis a_1 : a < 1.
Hypothesis w_0 : w <> 0.
Hypothesis q_b : -1 < q < a - 1.
Hypothesis q_eq : w ^ 2 * (1 - q ^ 2) = (1 + (1 - a) * q) ^ 2.
Notation d := (S (S e)).
Definition p : R := - (1 + (1 - a) * q) / w.
Notation W := (stable_values e a c w).
Notation Z := (stable_tokens e p q).
Notation F := (sphere_map 2 d no_logits W causal).
Notation U := (Ux 2 d no_logits W causal).

Lemma wp : w * p = - (1 + (1 - a) * q).
Proof. unfold p. field. lra. Qed.
Lemma pq : p * p + q * q = 1.
Proof.
  assert (E : w ^ 2 * (p * p) = w ^ 2 * (1 - q * q)).
  { replace (w ^ 2 * (p * p)) with ((w * p) ^ 2) by ring. rewrite wp. rewrite <- (Rmult_1_l (q * q)).
    replace (w ^ 2 * (1 - 1 * (q * q))) with (w ^ 2 * (1 - q ^ 2)) by ring. rewrite q_eq. ring. }
  apply Rmult_eq_reg_l in E; [lra|]. nra.
Qed.
Lemma p_0 : p <> 0.
Proof. intro E. assert (H := wp). rewrite E in H. assert (0 < 1 + (1 - a) * q) by nra. lra. Qed.
Lemma p_1 : Rabs p <= 1.
Proof. assert (H := pq). apply Rabs_le. nra. Qed.

(** x W: multiples, and w x_e added at the end. *)
Lemma vmat_W x y : (y < d)%nat -> vmat d x W y = x y * (if Nat.ltb y e then c else if Nat.eqb y e then a else 1) + w *
  (x e * eye y (S e)).
Proof.
  intros Hy. unfold vmat, stable_values.
  rewrite (sum_ext d _ (fun b => (x b * (if Nat.ltb b e then c else if Nat.eqb b e then a else 1)) * eye b y + (w * (x
    b * eye y (S e))) * eye b e)) by (intros; ring).
  rewrite sum_plus, (sum_eye_r d (fun b => x b * (if Nat.ltb b e then c else if Nat.eqb b e then a else 1)) y Hy),
    (sum_eye_r d (fun b => w * (x b * eye y (S e))) e) by lia. reflexivity.
Qed.

Lemma E_null X i j : Ex d no_logits causal X i j = causal i j.
Proof.
  unfold Ex. replace (bil d (X i) no_logits (X j)) with 0; [rewrite exp_0; ring|]. unfold bil, no_logits.
  rewrite (sum_ext d _ (fun _ => 0)); [now rewrite sum_zero|]. intros.
  rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros; ring.
Qed.

Lemma U_Z i y : (i < 2)%nat -> (y < d)%nat -> U Z i y = (match i with O => 1 | _ => a end) * Z i y.
Proof.
  intros Hi Hy. assert (H := wp). unfold Ux. cbn [sum]. rewrite !E_null, !vmat_W by exact Hy.
  unfold stable_tokens, causal.
  destruct i as [|[|i]]; try lia; cbn [Nat.leb]; rewrite ?(eye_diff (S e) e), ?(eye_same e) by lia.
  - destruct (Nat.eq_dec y (S e)) as [->|N]; [|rewrite (eye_diff (S e) y) by lia; ring].
    destruct (Nat.ltb_spec (S e) e); [lia|]. destruct (Nat.eqb_spec (S e) e); [lia|]. ring.
  - destruct (Nat.eq_dec y (S e)) as [->|N].
    + destruct (Nat.ltb_spec (S e) e); [lia|]. destruct (Nat.eqb_spec (S e) e); [lia|].
      rewrite eye_same, (eye_diff e (S e)) by lia. lra.
    + rewrite (eye_diff (S e) y), (eye_diff y (S e)) by lia. destruct (Nat.eq_dec y e) as [->|Ne].
      * destruct (Nat.ltb_spec e e); [lia|]. rewrite Nat.eqb_refl, eye_same. ring.
      * rewrite (eye_diff e y) by lia. ring.
Qed.

Lemma Z_unit i : (i < 2)%nat -> dot d (Z i) (Z i) = 1.
Proof.
  intros Hi. assert (H := pq). unfold dot, stable_tokens. destruct i as [|i].
  - rewrite (sum_eye_l d (fun y => eye (S e) y)) by lia. apply eye_same.
  - rewrite (sum_ext d _ (fun y => eye e y * (p * (p * eye e y + q * eye (S e) y)) + eye (S e) y * (q * (p * eye e y +
      q * eye (S e) y)))) by (intros; ring).
    rewrite sum_plus, (sum_eye_l d (fun y => p * (p * eye e y + q * eye (S e) y)) e),
      (sum_eye_l d (fun y => q * (p * eye e y + q * eye (S e) y)) (S e)) by lia.
    rewrite !eye_same, (eye_diff (S e) e), (eye_diff e (S e)) by lia. lra.
Qed.

Lemma l2_U i : (i < 2)%nat -> l2 d (U Z i) = match i with O => 1 | _ => a end.
Proof.
  intros Hi. set (m := match i with O => 1 | _ => a end). assert (m0 : 0 < m) by (unfold m; destruct i; lra).
  unfold l2. replace (dot d (U Z i) (U Z i)) with (m * m * dot d (Z i) (Z i)).
  - rewrite Z_unit, Rmult_1_r by exact Hi. apply sqrt_square. lra.
  - unfold dot. rewrite <- sum_scal. apply sum_ext; intros y Hy. rewrite !U_Z by assumption. fold m. ring.
Qed.

Lemma fixed_S : fixed 2 d F Z.
Proof.
  intros i y Hi Hy. rewrite sphere_form by (try apply causal_proper; lia). rewrite l2_U, U_Z by assumption.
  destruct i; field; lra.
Qed.

Definition J := dF 2 d no_logits W causal Z.
Lemma derivative_S : derivative 2 d F Z J.
Proof.
  apply layer_derivative; [lia|apply causal_proper|]. intros i Hi. rewrite l2_U by exact Hi. destruct i; lra.
Qed.

Lemma dU_S i y r b : (r < 2)%nat -> dU 2 d no_logits W causal Z i y r b = causal i r * W b y.
Proof.
  intros Hr. unfold dU, dlogit, no_logits. rewrite (sum_ext 2 _ (fun j => eye r j * (causal i j * W b y))).
  - apply (sum_eye_l 2 (fun j => causal i j * W b y) r Hr).
  - intros j Hj. rewrite E_null. rewrite (sum_ext d (fun c0 => 0 * Z j c0) (fun _ => 0)) by (intros; ring).
    rewrite (sum_ext d (fun a0 => Z i a0 * 0) (fun _ => 0)) by (intros; ring). rewrite sum_zero. ring.
Qed.

(** The derivative applied to H: the mean's change, without its part along the token. *)
Lemma J_apply i y H : (i < 2)%nat -> (y < d)%nat ->
  let u := fun b => match i with O => H 0%nat b | _ => H 0%nat b + H 1%nat b end in
  lin 2 d (J i y) H = (vmat d u W y - Z i y * dot d (vmat d u W) (Z i)) / (match i with O => 1 | _ => a end).
Proof.
  intros Hi Hy u. set (m := match i with O => 1 | _ => a end). assert (m0 : 0 < m) by (unfold m; destruct i; lra).
  assert (E : forall r b, (r < 2)%nat -> J i y r b = causal i r * (W b y - Z i y * sum d (fun k => Z i k * W b k)) / m).
  { intros r b Hr. unfold J, dF. rewrite l2_U by exact Hi. fold m. rewrite dU_S by exact Hr.
    rewrite fixed_S by assumption.
    rewrite (sum_ext d _ (fun k => causal i r * (Z i k * W b k))) by (intros k Hk; rewrite fixed_S, dU_S by assumption;
      ring).
    rewrite sum_scal. unfold Rdiv. ring. }
  assert (D : dot d (vmat d u W) (Z i) = sum d (fun b => u b * sum d (fun k => Z i k * W b k))).
  { unfold dot, vmat. rewrite (sum_ext d _ (fun k => sum d (fun b => u b * (Z i k * W b k)))) by (intros;
      rewrite <- sum_scal_r; apply sum_ext; intros; ring).
    rewrite sum_swap. apply sum_ext; intros b _. now rewrite sum_scal. }
  rewrite D, lin_2, <- sum_plus. unfold vmat. unfold Rdiv. rewrite <- (sum_scal d (Z i y)), <- sum_minus, <- sum_scal_r.
  apply sum_ext; intros b _. rewrite !E by lia. unfold u, causal.
  destruct i as [|[|i]]; try lia; cbn [Nat.leb]; unfold Rdiv; ring.
Qed.

(** Coordinates: those of the tokens, but for the plane of token 2, where they are along t = (-q,
  p) and along the token (p, q). *)
Definition Sf (i y : nat) : mat := fun r b => eye r i *
  (match i with O => eye b y | _ => if Nat.ltb y e then eye b y else if Nat.eqb y e then - q * eye b e + p * eye b (S
    e) else p * eye b e + q * eye b (S e) end).

Lemma Sf_apply i y H : (i < 2)%nat -> (y < d)%nat -> lin 2 d (Sf i y) H =
  match i with O => H 0%nat y | _ => if Nat.ltb y e then H 1%nat y else if Nat.eqb y e then - q * H 1%nat e + p * H
    1%nat (S e) else p * H 1%nat e + q * H 1%nat (S e) end.
Proof.
  intros Hi Hy. unfold lin. rewrite (sum_single 2 _ i Hi).
  2: { intros r _ Hr. unfold Sf. rewrite eye_diff by lia. rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|].
       intros; ring. }
  unfold Sf. rewrite eye_same.
  destruct i as [|[|i]]; try lia.
  - rewrite (sum_ext d _ (fun b => H 0%nat b * eye b y)) by (intros; ring). apply (sum_eye_r d (H 0%nat) y Hy).
  - destruct (Nat.ltb_spec y e); [|destruct (Nat.eqb_spec y e)].
    + rewrite (sum_ext d _ (fun b => H 1%nat b * eye b y)) by (intros; ring). apply (sum_eye_r d (H 1%nat) y Hy).
    + rewrite (sum_ext d _ (fun b => (- q * H 1%nat b) * eye b e + (p * H 1%nat b) * eye b (S e))) by (intros; ring).
      rewrite sum_plus, (sum_eye_r d (fun b => - q * H 1%nat b) e),
        (sum_eye_r d (fun b => p * H 1%nat b) (S e)) by lia. reflexivity.
    + rewrite (sum_ext d _ (fun b => (p * H 1%nat b) * eye b e + (q * H 1%nat b) * eye b (S e))) by (intros; ring).
      rewrite sum_plus, (sum_eye_r d (fun b => p * H 1%nat b) e), (sum_eye_r d (fun b => q * H 1%nat b) (S e)) by lia.
      reflexivity.
Qed.

Definition theta : R := Rmax a (Rmax (c / a) ((1 + q) / a)).
Definition small : R := a * (1 - theta) / 8.
(** Weight 1 on token 2's tangent coordinates, small elsewhere. *)
Definition wt : mat := fun i y => match i with O => small | _ => if Nat.leb y e then 1 else small end.

Lemma theta_b : a <= theta /\ c / a <= theta /\ (1 + q) / a <= theta /\ 0 < theta < 1.
Proof.
  unfold theta. assert (A1 := Rmax_l a (Rmax (c / a) ((1 + q) / a))).
  assert (A2 := Rmax_r a (Rmax (c / a) ((1 + q) / a))).
  assert (B1 := Rmax_l (c / a) ((1 + q) / a)). assert (B2 := Rmax_r (c / a) ((1 + q) / a)).
  assert (c / a < 1) by (apply Rmult_lt_reg_r with a; [lra|]; replace (c / a * a) with c by (field; lra); lra).
  assert ((1 + q) / a < 1) by (apply Rmult_lt_reg_r with a; [lra|]; replace ((1 + q) / a * a) with (1 + q) by (field;
    lra); lra).
  repeat split; try lra. apply Rmax_lub_lt; [lra|now apply Rmax_lub_lt].
Qed.

Lemma attracts_S : attracts 2 d F Z.
Proof.
  destruct theta_b as [Ta [Tc [Tq T01]]]. assert (H := wp). assert (N := pq). 
  assert (s0 : 0 < small) by (unfold small; apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat|]; lra).
  assert (s1 : small <= 1) by (unfold small; assert (a * (1 - theta) <= 1 * 1) by (apply Rmult_le_compat; lra); lra).
  assert (sa : small / a = (1 - theta) / 8) by (unfold small; field; lra).
  assert (p1 := p_1).
  assert (q1 : Rabs q <= 1) by (unfold Rabs; destruct Rcase_abs; lra).
  apply (attraction_functionals 2 d F Z J Sf wt ((1 + theta) / 2) 2 fixed_S derivative_S); [lra|lra| | |].
  - intros i y _ _. unfold wt. destruct i; [lra|]. destruct Nat.leb; lra.
  - (* the coordinates bound the entries *)
    intros rho X r0 HX i y Hi Hy. destruct i as [|[|i]]; try lia.
    + specialize (HX 0%nat y ltac:(lia) Hy). rewrite Sf_apply in HX by (auto; lia). unfold wt in HX. nra.
    + destruct (Nat.lt_ge_cases y e) as [L|L].
      * specialize (HX 1%nat y ltac:(lia) Hy). rewrite Sf_apply in HX by (auto; lia). unfold wt in HX.
        destruct (Nat.ltb_spec y e); [|lia]. destruct (Nat.leb_spec y e); [|lia]. lra.
      * assert (At := HX 1%nat e ltac:(lia) ltac:(lia)). assert (Ax := HX 1%nat (S e) ltac:(lia) ltac:(lia)).
        rewrite Sf_apply in At, Ax by lia.
        unfold wt in At, Ax. destruct (Nat.ltb_spec e e); [lia|]. destruct (Nat.ltb_spec (S e) e); [lia|].
        rewrite Nat.eqb_refl in At. destruct (Nat.eqb_spec (S e) e); [lia|].
        destruct (Nat.leb_spec e e); [|lia]. destruct (Nat.leb_spec (S e) e); [lia|].
        set (al := - q * X 1%nat e + p * X 1%nat (S e)) in *. set (be := p * X 1%nat e + q * X 1%nat (S e)) in *.
        assert (Be : Rabs be <= rho) by (assert (rho * small <= rho * 1) by (apply Rmult_le_compat_l; lra); lra).
        assert (Ee : X 1%nat e = - q * al + p * be) by (unfold al, be;
          replace (- q * (- q * X 1%nat e + p * X 1%nat (S e)) + p * (p * X 1%nat e + q * X 1%nat (S e))) with ((p * p
            + q * q) * X 1%nat e) by ring; rewrite N; ring).
        assert (Es : X 1%nat (S e) = p * al + q * be) by (unfold al, be;
          replace (p * (- q * X 1%nat e + p * X 1%nat (S e)) + q * (p * X 1%nat e + q * X 1%nat (S e))) with ((p * p +
            q * q) * X 1%nat (S e)) by ring; rewrite N; ring).
        assert (Two : forall x z, Rabs x <= 1 -> Rabs z <= 1 -> Rabs (x * al + z * be) <= 2 * rho).
        { intros x z Hx Hz. eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult. assert (A1 := Rabs_pos al).
          assert (A2 := Rabs_pos be).
          assert (Rabs x * Rabs al <= 1 * rho) by (apply Rmult_le_compat; auto using Rabs_pos; lra).
          assert (Rabs z * Rabs be <= 1 * rho) by (apply Rmult_le_compat; auto using Rabs_pos). lra. }
        destruct (Nat.eq_dec y e) as [->|]; [rewrite Ee; apply Two; [rewrite Rabs_Ropp|]; assumption|].
        replace y with (S e) by lia. rewrite Es. now apply Two.
  - (* the derivative shrinks them *)
    intros rho X r0 HX i y Hi Hy.
    assert (X0 : forall b, (b < d)%nat -> Rabs (X 0%nat b) <= rho * small).
    { intros b Hb. specialize (HX 0%nat b ltac:(lia) Hb). rewrite Sf_apply in HX by (auto; lia). exact HX. }
    rewrite Sf_apply by assumption. destruct i as [|[|i]]; try lia.
    + (* token 1 *)
      rewrite (J_apply 0 y X ltac:(lia) Hy). unfold wt.
      rewrite vmat_W by exact Hy. set (k := dot d (vmat d (fun b => X 0%nat b) W) (Z 0%nat)).
      assert (B := X0 y Hy). assert (rs : 0 <= rho * small) by (apply Rmult_le_pos; lra). unfold stable_tokens.
      replace ((1:R) * 1) with 1 by ring. unfold Rdiv. rewrite Rinv_1, Rmult_1_r.
      destruct (Nat.lt_ge_cases y (S e)) as [L|L].
      * rewrite (eye_diff (S e) y), (eye_diff y (S e)) by lia. rewrite !Rmult_0_r, Rmult_0_l, Rminus_0_r, Rplus_0_r.
        assert (M : forall x, 0 < x <= theta -> Rabs (X 0%nat y * x) <= (1 + theta) / 2 * rho * small).
        { intros x Hx. rewrite Rabs_mult, (Rabs_right x) by lra. assert (Px := Rabs_pos (X 0%nat y)).
          assert (Rabs (X 0%nat y) * x <= rho * small * theta) by (apply Rmult_le_compat; lra).
          assert (rho * small * theta <= rho * small * ((1 + theta) / 2)) by (apply Rmult_le_compat_l; lra). lra. }
        destruct (Nat.ltb_spec y e); [apply M; lra|]. destruct (Nat.eqb_spec y e); [apply M; lra|lia].
      * assert (y = S e) by lia. subst y.
        assert (K : k = vmat d (fun b => X 0%nat b) W (S e)).
        { unfold k, dot, stable_tokens. rewrite (sum_ext d _ (fun b => eye (S e) b * vmat d (fun b => X 0%nat b) W b))
            by (intros; ring). apply (sum_eye_l d (vmat d (fun b => X 0%nat b) W)). lia. }
        rewrite K, vmat_W by lia. rewrite eye_same. match goal with |- Rabs ?x <= _ => replace x with 0 by ring end.
        rewrite Rabs_R0. apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra].
    + (* token 2 *)
      set (u := fun b => X 0%nat b + X 1%nat b).
      set (k := dot d (vmat d u W) (Z 1%nat)).
      assert (JA : forall z, (z < d)%nat -> lin 2 d (J 1%nat z) X = (vmat d u W z - Z 1%nat z * k) / a) by (intros z
        Hz; rewrite (J_apply 1 z X ltac:(lia) Hz); reflexivity).
      assert (Ve : vmat d u W e = a * u e) by (rewrite vmat_W by lia; destruct (Nat.ltb_spec e e); [lia|];
        rewrite Nat.eqb_refl, eye_diff by lia; ring).
      assert (Vs : vmat d u W (S e) = u (S e) + w * u e) by (rewrite vmat_W by lia; destruct (Nat.ltb_spec (S e) e);
        [lia|]; destruct (Nat.eqb_spec (S e) e); [lia|]; rewrite eye_same; ring).
      assert (Ze : Z 1%nat e = p) by (unfold stable_tokens; rewrite eye_same, (eye_diff (S e) e) by lia; ring).
      assert (Zs : Z 1%nat (S e) = q) by (unfold stable_tokens; rewrite eye_same, (eye_diff e (S e)) by lia; ring).
      assert (Kv : k = p * (a * u e) + q * (u (S e) + w * u e)).
      { unfold k, dot, stable_tokens. rewrite (sum_ext d _ (fun b => eye e b * (p * vmat d u W b) + eye (S e) b * (q *
          vmat d u W b))) by (intros; ring).
        rewrite sum_plus, (sum_eye_l d (fun b => p * vmat d u W b) e),
          (sum_eye_l d (fun b => q * vmat d u W b) (S e)) by lia. now rewrite Ve, Vs. }
      unfold wt. destruct (Nat.ltb_spec y e) as [L|L]; [|destruct (Nat.eqb_spec y e) as [->|Ne]].
      * destruct (Nat.leb_spec y e); [|lia]. rewrite JA by lia. rewrite vmat_W by exact Hy.
        destruct (Nat.ltb_spec y e); [|lia].
        unfold stable_tokens. rewrite (eye_diff y (S e)), (eye_diff e y), (eye_diff (S e) y) by lia.
        replace ((u y * c + w * (u e * 0) - (p * 0 + q * 0) * k) / a) with (c / a * u y) by (field; lra).
        assert (A1 := HX 1%nat y ltac:(lia) Hy). rewrite Sf_apply in A1 by lia. destruct (Nat.ltb_spec y e); [|lia].
        unfold wt in A1. destruct (Nat.leb_spec y e); [|lia].
        assert (A0 := X0 y Hy). assert (Uy : Rabs (u y) <= rho * (1 + small)) by (unfold u; eapply Rle_trans;
          [apply Rabs_triang|]; lra).
        assert (ca : 0 < c / a) by (apply Rdiv_lt_0_compat; lra). rewrite Rabs_mult, (Rabs_right (c / a)) by lra.
        assert (sm : small <= (1 - theta) / 8) by (rewrite <- sa; apply Rmult_le_reg_r with a; [lra|];
          replace (small / a * a) with small by (field; lra);
          assert (small * a <= small * 1) by (apply Rmult_le_compat_l; lra); lra).
        assert (Pu := Rabs_pos (u y)).
        apply Rle_trans with (theta * (rho * (1 + small))); [apply Rmult_le_compat; lra|].
        assert (theta * (1 + small) <= (1 + theta) / 2).
        { assert (theta * small <= 1 * small) by (apply Rmult_le_compat_r; lra). lra. }
        assert (rho * (theta * (1 + small)) <= rho * ((1 + theta) / 2)) by (apply Rmult_le_compat_l; lra). lra.
      * destruct (Nat.leb_spec e e); [|lia]. rewrite !JA by lia. rewrite Ve, Vs, Ze, Zs.
        assert (At := HX 1%nat e ltac:(lia) ltac:(lia)). assert (Ax := HX 1%nat (S e) ltac:(lia) ltac:(lia)).
        rewrite Sf_apply in At, Ax by lia.
        unfold wt in At, Ax. destruct (Nat.ltb_spec e e); [lia|]. destruct (Nat.ltb_spec (S e) e); [lia|].
        rewrite Nat.eqb_refl in At. destruct (Nat.eqb_spec (S e) e); [lia|].
        destruct (Nat.leb_spec e e); [|lia]. destruct (Nat.leb_spec (S e) e); [lia|].
        set (al := - q * X 1%nat e + p * X 1%nat (S e)) in *. set (be := p * X 1%nat e + q * X 1%nat (S e)) in *.
        assert (Key : - q * ((a * u e - p * k) / a) + p * ((u (S e) + w * u e - q * k) / a)
          = (1 + q) / a * al + (- p / a) * be + (- (1 + q) / a) * X 0%nat e + p / a * X 0%nat (S e)).
        { replace (- q * ((a * u e - p * k) / a) + p * ((u (S e) + w * u e - q * k) / a)) with ((- q * (a * u e) + p *
            u (S e) + (w * p) * u e) / a) by (field; lra).
          replace ((1 + q) / a * al + (- p / a) * be) with ((- q * X 1%nat e - (p * p + q * q) * X 1%nat e + p * X
            1%nat (S e)) / a) by (unfold al, be; field; lra).
          rewrite H, N. unfold u. field. lra. }
        rewrite Key.
        assert (B0 := X0 e ltac:(lia)). assert (B1 := X0 (S e) ltac:(lia)).
        assert (ia : 0 < / a) by (apply Rinv_0_lt_compat; lra).
        assert (C1 : Rabs ((1 + q) / a * al) <= theta * rho).
        { assert (0 < (1 + q) / a) by (apply Rdiv_lt_0_compat; lra).
          rewrite Rabs_mult, (Rabs_right ((1 + q) / a)) by lra. assert (Pa := Rabs_pos al). apply Rmult_le_compat; lra.
          }
        assert (C2 : forall x z, Rabs x <= 1 -> Rabs z <= rho * small -> Rabs (x / a * z) <= rho * ((1 - theta) / 8)).
        { intros x z Hx Hz. rewrite <- sa. unfold Rdiv. rewrite !Rabs_mult, (Rabs_right (/ a)) by lra.
          replace (rho * (small * / a)) with (1 * / a * (rho * small)) by ring. assert (Px := Rabs_pos x).
          assert (Pz := Rabs_pos z).
          apply Rmult_le_compat; [apply Rmult_le_pos; lra|lra|apply Rmult_le_compat_r; lra|exact Hz]. }
        assert (D2 := C2 (- p) be ltac:(rewrite Rabs_Ropp; exact p1) Ax).
        assert (D3 := C2 (- (1 + q)) (X 0%nat e) ltac:(rewrite Rabs_Ropp, Rabs_right; lra) B0).
        assert (D4 := C2 p (X 0%nat (S e)) p1 B1).
        eapply Rle_trans; [apply Rabs_triang|]. assert (T1 := Rabs_triang ((1 + q) / a * al + - p / a * be) (- (1 + q)
          / a * X 0%nat e)).
        assert (T2 := Rabs_triang ((1 + q) / a * al) (- p / a * be)).
        assert (0 <= rho * ((1 - theta) / 8)) by (apply Rmult_le_pos; lra). lra.
      * destruct (Nat.leb_spec y e); [lia|]. rewrite !JA by lia. rewrite Ve, Vs, Ze, Zs.
        replace (p * ((a * u e - p * k) / a) + q * ((u (S e) + w * u e - q * k) / a)) with ((p * (a * u e) + q * (u (S
          e) + w * u e) - (p * p + q * q) * k) / a) by (field; lra).
        rewrite N, Kv. replace ((p * (a * u e) + q * (u (S e) + w * u e) - 1 * (p * (a * u e) + q * (u (S e) + w * u
          e))) / a) with 0 by (field; lra).
        rewrite Rabs_R0. apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra].
Qed.

(* ---------- the eigenvalues ---------- *)
Lemma J_first y H : (y < d)%nat -> lin 2 d (J 0%nat y) H = if Nat.ltb y e then c * H 0%nat y else if Nat.eqb y e then a
  * H 0%nat y else 0.
Proof.
  intros Hy. rewrite (J_apply 0 y H ltac:(lia) Hy). set (u := fun b => H 0%nat b).
  assert (K : dot d (vmat d u W) (Z 0%nat) = vmat d u W (S e)).
  { unfold dot, stable_tokens. rewrite (sum_ext d _ (fun b => eye (S e) b * vmat d u W b)) by (intros; ring).
    apply (sum_eye_l d (vmat d u W)). lia. }
  rewrite K. unfold stable_tokens. destruct (Nat.ltb_spec y e) as [L|L]; [|destruct (Nat.eqb_spec y e) as [->|N]].
  - rewrite vmat_W by exact Hy. destruct (Nat.ltb_spec y e); [|lia].
    rewrite (eye_diff (S e) y), (eye_diff y (S e)) by lia. unfold u. field.
  - rewrite vmat_W by exact Hy. destruct (Nat.ltb_spec e e); [lia|].
    rewrite Nat.eqb_refl, (eye_diff (S e) e), (eye_diff e (S e)) by lia. unfold u. field.
  - replace y with (S e) by lia. rewrite eye_same. field.
Qed.

Lemma J_second H : 
  (forall y, (y < e)%nat -> lin 2 d (J 1%nat y) H = c / a * (H 0%nat y + H 1%nat y)) /\
  - q * lin 2 d (J 1%nat e) H + p * lin 2 d (J 1%nat (S e)) H
    = ((1 + q) * (- q * H 1%nat e + p * H 1%nat (S e)) - p * (p * H 1%nat e + q * H 1%nat (S e)) - (1 + q) * H 0%nat e
      + p * H 0%nat (S e)) / a /\
  p * lin 2 d (J 1%nat e) H + q * lin 2 d (J 1%nat (S e)) H = 0.
Proof.
  assert (Hw := wp). assert (N := pq). set (u := fun b => H 0%nat b + H 1%nat b).
  set (k := dot d (vmat d u W) (Z 1%nat)).
  assert (JA : forall z, (z < d)%nat -> lin 2 d (J 1%nat z) H = (vmat d u W z - Z 1%nat z * k) / a) by (intros z Hz;
    rewrite (J_apply 1 z H ltac:(lia) Hz); reflexivity).
  assert (Ve : vmat d u W e = a * u e) by (rewrite vmat_W by lia; destruct (Nat.ltb_spec e e); [lia|];
    rewrite Nat.eqb_refl, eye_diff by lia; ring).
  assert (Vs : vmat d u W (S e) = u (S e) + w * u e) by (rewrite vmat_W by lia; destruct (Nat.ltb_spec (S e) e);
    [lia|]; destruct (Nat.eqb_spec (S e) e); [lia|]; rewrite eye_same; ring).
  assert (Ze : Z 1%nat e = p) by (unfold stable_tokens; rewrite eye_same, (eye_diff (S e) e) by lia; ring).
  assert (Zs : Z 1%nat (S e) = q) by (unfold stable_tokens; rewrite eye_same, (eye_diff e (S e)) by lia; ring).
  assert (Kv : k = p * (a * u e) + q * (u (S e) + w * u e)).
  { unfold k, dot, stable_tokens. rewrite (sum_ext d _ (fun b => eye e b * (p * vmat d u W b) + eye (S e) b * (q * vmat
      d u W b))) by (intros; ring).
    rewrite sum_plus, (sum_eye_l d (fun b => p * vmat d u W b) e),
      (sum_eye_l d (fun b => q * vmat d u W b) (S e)) by lia. now rewrite Ve, Vs. }
  split; [|split].
  - intros y Hy. rewrite JA by lia. rewrite vmat_W by lia. destruct (Nat.ltb_spec y e); [|lia].
    unfold stable_tokens. rewrite (eye_diff y (S e)), (eye_diff e y), (eye_diff (S e) y) by lia. unfold u. field. lra.
  - rewrite !JA by lia. rewrite Ve, Vs, Ze, Zs.
    replace (- q * ((a * u e - p * k) / a) + p * ((u (S e) + w * u e - q * k) / a)) with ((- q * (a * u e) + p * u (S
      e) + (w * p) * u e) / a) by (field; lra).
    replace ((1 + q) * (- q * H 1%nat e + p * H 1%nat (S e)) - p * (p * H 1%nat e + q * H 1%nat (S e))) with (- q * H
      1%nat e - (p * p + q * q) * H 1%nat e + p * H 1%nat (S e)) by ring.
    rewrite Hw, N. unfold u. field. lra.
  - rewrite !JA by lia. rewrite Ve, Vs, Ze, Zs.
    replace (p * ((a * u e - p * k) / a) + q * ((u (S e) + w * u e - q * k) / a)) with ((p * (a * u e) + q * (u (S e) +
      w * u e) - (p * p + q * q) * k) / a) by (field; lra).
    rewrite N, Kv. field. lra.
Qed.

(** l x = Re(z (x + iy)), l y = Im(z (x + iy)): z = l or x = y = 0. *)
Lemma real_pair l zr zi x y : l * x = zr * x - zi * y -> l * y = zr * y + zi * x -> (zr, zi) <> (l, 0) ->
  x = 0 /\ y = 0.
Proof.
  intros E1 E2 N. assert (S : ((l - zr) * (l - zr) + zi * zi) * (x * x + y * y) = 0).
  { replace (((l - zr) * (l - zr) + zi * zi) * (x * x + y * y)) with (((l - zr) * x + zi * y) * ((l - zr) * x + zi * y)
      + ((l - zr) * y - zi * x) * ((l - zr) * y - zi * x)) by ring.
    replace ((l - zr) * x + zi * y) with 0 by lra. replace ((l - zr) * y - zi * x) with 0 by lra. ring. }
  assert (S1 := Rle_0_sqr (l - zr)). assert (S2 := Rle_0_sqr zi). assert (S3 := Rle_0_sqr x).
  assert (S4 := Rle_0_sqr y). unfold Rsqr in *.
  assert (P : (l - zr) * (l - zr) + zi * zi <> 0).
  { intro Q. apply N. assert (l - zr = 0) by (apply Rsqr_0_uniq; unfold Rsqr; lra).
    assert (zi = 0) by (apply Rsqr_0_uniq; unfold Rsqr; lra). f_equal; lra. }
  apply Rmult_integral in S. destruct S as [S|S]; [lra|]. split; apply Rsqr_0_uniq; unfold Rsqr; lra.
Qed.

(** An eigenvector with real entries. *)
Lemma real_eigen l (v : mat) i0 y0 : (i0 < 2)%nat -> (y0 < d)%nat -> v i0 y0 <> 0 ->
  (forall i y, (i < 2)%nat -> (y < d)%nat -> lin 2 d (J i y) v = l * v i y) -> eigenvalue 2 d J (RtoC l).
Proof.
  intros Hi Hy N H. exists (fun i y => RtoC (v i y)). split; [exists i0, y0; repeat split; auto; intro Q; apply N;
    injection Q; auto|].
  intros i y Hi' Hy'. rewrite apply_parts. change (fun p0 b => fst (RtoC (v p0 b))) with v. rewrite H by assumption.
  replace (lin 2 d (J i y) (fun p0 b => snd (RtoC (v p0 b)))) with 0; [unfold RtoC, Cmult; simpl; f_equal; ring|].
  unfold lin. rewrite (sum_ext 2 _ (fun _ => 0)); [now rewrite sum_zero|]. intros.
  rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros; simpl; ring.
Qed.

(** Token 2 from its coordinates along t and along itself. *)
Lemma from_plane x y l A B : - q * x + p * y = l * (- q * A + p * B) -> p * x + q * y = l * (p * A + q * B) ->
  x = l * A /\ y = l * B.
Proof.
  intros E1 E2. assert (N := pq). split.
  - replace x with ((p * p + q * q) * x) by (rewrite N; ring).
    replace ((p * p + q * q) * x) with (- q * (- q * x + p * y) + p * (p * x + q * y)) by ring.
    rewrite E1, E2. replace (- q * (l * (- q * A + p * B)) + p * (l * (p * A + q * B))) with (l * ((p * p + q * q) *
      A)) by ring. rewrite N. ring.
  - replace y with ((p * p + q * q) * y) by (rewrite N; ring).
    replace ((p * p + q * q) * y) with (p * (- q * x + p * y) + q * (p * x + q * y)) by ring.
    rewrite E1, E2. replace (p * (l * (- q * A + p * B)) + q * (l * (p * A + q * B))) with (l * ((p * p + q * q) * B))
      by ring. rewrite N. ring.
Qed.

Theorem spectrum_S (z : C) : eigenvalue 2 d J z <->
  z = RtoC 0 \/ z = RtoC a \/ z = RtoC ((1 + q) / a) \/ ((0 < e)%nat /\ (z = RtoC c \/ z = RtoC (c / a))).
Proof.
  assert (N := pq). split.
  - intros [v [[i0 [y0 [Hi0 [Hy0 Nv]]]] Hv]]. destruct z as [zr zi]. apply NNPP. intro No. unfold RtoC in No.
    set (X := fun i y => fst (v i y)). set (Y := fun i y => snd (v i y)).
    assert (R : forall i y, (i < 2)%nat -> (y < d)%nat -> lin 2 d (J i y) X = zr * X i y - zi * Y i y /\ lin 2 d (J i
      y) Y = zr * Y i y + zi * X i y).
    { intros i y Hi Hy. assert (E := Hv i y Hi Hy). rewrite apply_parts in E. fold X Y in E. unfold Cmult in E.
      injection E. intros. split; assumption. }
    assert (T1 : forall y, (y < d)%nat -> X 0%nat y = 0 /\ Y 0%nat y = 0).
    { intros y Hy. destruct (R 0%nat y ltac:(lia) Hy) as [E1 E2]. rewrite J_first in E1, E2 by exact Hy.
      destruct (Nat.ltb_spec y e) as [L|L]; [|destruct (Nat.eqb_spec y e)].
      - apply (real_pair c zr zi); [exact E1|exact E2|intro Q; apply No; right; right; right; split; [lia|left;
          exact Q]].
      - apply (real_pair a zr zi); [exact E1|exact E2|intro Q; apply No; right; left; exact Q].
      - apply (real_pair 0 zr zi); [lra|lra|intro Q; apply No; left; exact Q]. }
    destruct (J_second X) as [XA [XB XC]]. destruct (J_second Y) as [YA [YB YC]].
    assert (T2 : forall y, (y < d)%nat -> X 1%nat y = 0 /\ Y 1%nat y = 0).
    { assert (Low : forall y, (y < e)%nat -> X 1%nat y = 0 /\ Y 1%nat y = 0).
      { intros y Hy. destruct (R 1%nat y ltac:(lia) ltac:(lia)) as [E1 E2]. rewrite XA in E1 by exact Hy.
        rewrite YA in E2 by exact Hy.
        destruct (T1 y ltac:(lia)) as [Z1 Z2]. rewrite Z1 in E1. rewrite Z2 in E2.
        apply (real_pair (c / a) zr zi); [lra|lra|intro Q; apply No; right; right; right; split; [lia|right; exact Q]].
        }
      destruct (R 1%nat e ltac:(lia) ltac:(lia)) as [E1 E2]. destruct (R 1%nat (S e) ltac:(lia) ltac:(lia)) as [E3 E4].
      destruct (T1 e ltac:(lia)) as [Z1 Z2]. destruct (T1 (S e) ltac:(lia)) as [Z3 Z4].
      rewrite E1, E3, Z1, Z3 in XB. rewrite E2, E4, Z2, Z4 in YB. rewrite E1, E3 in XC. rewrite E2, E4 in YC.
      set (xb := p * X 1%nat e + q * X 1%nat (S e)) in *. set (yb := p * Y 1%nat e + q * Y 1%nat (S e)) in *.
      set (xa := - q * X 1%nat e + p * X 1%nat (S e)) in *. set (ya := - q * Y 1%nat e + p * Y 1%nat (S e)) in *.
      assert (B0 : xb = 0 /\ yb = 0).
      { apply (real_pair 0 zr zi); [unfold xb, yb; lra|unfold xb, yb; lra|]. intro Q. apply No. left. exact Q. }
      destruct B0 as [xb0 yb0]. rewrite xb0 in XB. rewrite yb0 in YB.
      assert (A0 : xa = 0 /\ ya = 0).
      { apply (real_pair ((1 + q) / a) zr zi).
        - transitivity (((1 + q) * xa - p * 0 - (1 + q) * 0 + p * 0) / a); [field; lra|]. rewrite <- XB. unfold xa, ya.
          ring.
        - transitivity (((1 + q) * ya - p * 0 - (1 + q) * 0 + p * 0) / a); [field; lra|]. rewrite <- YB. unfold xa, ya.
          ring.
        - intro Q. apply No. right; right; left. exact Q. }
      destruct A0 as [xa0 ya0].
      destruct (from_plane (X 1%nat e) (X 1%nat (S e)) 0 0 0) as [P1 P2]; [unfold xa in xa0; lra|unfold xb in xb0;
        lra|].
      destruct (from_plane (Y 1%nat e) (Y 1%nat (S e)) 0 0 0) as [P3 P4]; [unfold ya in ya0; lra|unfold yb in yb0;
        lra|].
      intros y Hy. destruct (Nat.lt_ge_cases y e) as [L|L]; [now apply Low|].
      destruct (Nat.eq_dec y e) as [->|]; [split; lra|]. replace y with (S e) by lia. split; lra. }
    apply Nv. rewrite (surjective_pairing (v i0 y0)). destruct i0 as [|[|i0]]; try lia.
    + destruct (T1 y0 Hy0) as [A1 A2]. unfold X, Y in A1, A2. rewrite A1, A2. reflexivity.
    + destruct (T2 y0 Hy0) as [A1 A2]. unfold X, Y in A1, A2. rewrite A1, A2. reflexivity.
  - (* eigenvectors *)
    assert (Build : forall l (v : mat) i0 y0, (i0 < 2)%nat -> (y0 < d)%nat -> v i0 y0 <> 0 ->
      (forall y, (y < e)%nat -> c * v 0%nat y = l * v 0%nat y) -> a * v 0%nat e = l * v 0%nat e ->
        0 = l * v 0%nat (S e) ->
      (forall y, (y < e)%nat -> c / a * (v 0%nat y + v 1%nat y) = l * v 1%nat y) ->
      ((1 + q) * (- q * v 1%nat e + p * v 1%nat (S e)) - p * (p * v 1%nat e + q * v 1%nat (S e)) - (1 + q) * v 0%nat e
        + p * v 0%nat (S e)) / a = l * (- q * v 1%nat e + p * v 1%nat (S e)) ->
      0 = l * (p * v 1%nat e + q * v 1%nat (S e)) -> eigenvalue 2 d J (RtoC l)).
    { intros l v i0 y0 Hi Hy Nv A1 A2 A3 B1 B2 B3. apply (real_eigen l v i0 y0); auto.
      destruct (J_second v) as [XA [XB XC]].
      assert (PL := from_plane (lin 2 d (J 1%nat e) v) (lin 2 d (J 1%nat (S e)) v) l (v 1%nat e) (v 1%nat (S e))
        ltac:(lra) ltac:(lra)). destruct PL as [P1 P2].
      intros i y Hi' Hy'. destruct i as [|[|i]]; try lia.
      - rewrite J_first by exact Hy'. destruct (Nat.ltb_spec y e); [now apply A1|].
        destruct (Nat.eqb_spec y e) as [->|]; [exact A2|]. replace y with (S e) by lia. lra.
      - destruct (Nat.lt_ge_cases y e); [rewrite XA by assumption; now apply B1|].
        destruct (Nat.eq_dec y e) as [->|]; [exact P1|]. replace y with (S e) by lia. exact P2. }
    assert (Tq : eigenvalue 2 d J (RtoC ((1 + q) / a))).
    { assert (Nt : q <> 0) by lra.
      apply (Build ((1 + q) / a) (fun i y => match i with O => 0 | _ => - q * eye y e + p * eye y (S e) end) 1%nat e
        ltac:(lia) ltac:(lia)).
      - rewrite eye_same, eye_diff by lia. lra.
      - intros; ring.
      - ring.
      - ring.
      - intros y Hy. rewrite !eye_diff by lia. ring.
      - rewrite !eye_same, (eye_diff e (S e)), (eye_diff (S e) e) by lia.
        replace (- q * (- q * 1 + p * 0) + p * (- q * 0 + p * 1)) with (p * p + q * q) by ring.
        replace (p * (- q * 1 + p * 0) + q * (- q * 0 + p * 1)) with 0 by ring. rewrite N. field. lra.
      - rewrite !eye_same, (eye_diff e (S e)), (eye_diff (S e) e) by lia. ring. }
    intros [->|[->|[->|[He [->| ->]]]]].
    + apply (Build 0 (fun i y => match i with O => eye y (S e) | _ => - eye y (S e) end) 0%nat (S e) ltac:(lia)
        ltac:(lia)).
      * rewrite eye_same. lra.
      * intros y Hy. rewrite eye_diff by lia. ring.
      * rewrite eye_diff by lia. ring.
      * ring.
      * intros y Hy. rewrite eye_diff by lia. ring.
      * rewrite eye_same, eye_diff by lia. field. lra.
      * ring.
    + destruct (Req_dec (a * a) (1 + q)) as [Q|Q].
      { replace a with ((1 + q) / a) by (rewrite <- Q; field; lra). exact Tq. }
      set (k := (1 + q) / (1 + q - a * a)). assert (Dk : 1 + q - a * a <> 0) by lra.
      apply (Build a (fun i y => match i with O => eye y e | _ => k * (- q * eye y e + p * eye y (S e)) end) 0%nat e
        ltac:(lia) ltac:(lia)).
      * rewrite eye_same. lra.
      * intros y Hy. rewrite eye_diff by lia. ring.
      * ring.
      * rewrite eye_diff by lia. ring.
      * intros y Hy. rewrite !eye_diff by lia. ring.
      * rewrite !eye_same, (eye_diff e (S e)), (eye_diff (S e) e) by lia.
        replace (- q * (k * (- q * 1 + p * 0)) + p * (k * (- q * 0 + p * 1))) with (k * (p * p + q * q)) by ring.
        replace (p * (k * (- q * 1 + p * 0)) + q * (k * (- q * 0 + p * 1))) with 0 by ring. rewrite N. unfold k. field.
        split; lra.
      * rewrite !eye_same, (eye_diff e (S e)), (eye_diff (S e) e) by lia. ring.
    + exact Tq.
    + apply (Build c (fun i y => match i with O => eye y 0%nat | _ => / (a - 1) * eye y 0%nat end) 0%nat 0%nat
        ltac:(lia) ltac:(lia)).
      * rewrite eye_same. lra.
      * intros; ring.
      * rewrite eye_diff by lia. ring.
      * rewrite eye_diff by lia. ring.
      * intros y Hy. field. split; lra.
      * rewrite !(eye_diff e 0), !(eye_diff (S e) 0) by lia. field. split; lra.
      * rewrite !(eye_diff e 0), !(eye_diff (S e) 0) by lia. ring.
    + apply (Build (c / a) (fun i y => match i with O => 0 | _ => eye y 0%nat end) 1%nat 0%nat ltac:(lia) ltac:(lia)).
      * rewrite eye_same. lra.
      * intros; ring.
      * ring.
      * ring.
      * intros; ring.
      * rewrite !(eye_diff e 0), !(eye_diff (S e) 0) by lia. field. lra.
      * rewrite !(eye_diff e 0), !(eye_diff (S e) 0) by lia. ring.
Qed.
End Stable.

Theorem stable_causal d a c w : (2 <= d)%nat -> 0 < c < a -> a < 1 -> a * (2 - a) < w ^ 2 -> exists q,
  (-1 < q < a - 1 /\ w ^ 2 * (1 - q ^ 2) = (1 + (1 - a) * q) ^ 2) /\
  (forall q', -1 < q' < a - 1 -> w ^ 2 * (1 - q' ^ 2) = (1 + (1 - a) * q') ^ 2 -> q' = q) /\
  q = - ((1 - a) + Rabs w * sqrt (w ^ 2 - a * (2 - a))) / (w ^ 2 + (1 - a) ^ 2) /\
  let p := - (1 + (1 - a) * q) / w in let Z := stable_tokens (d - 2) p q in
  let F := sphere_map 2 d no_logits (stable_values (d - 2) a c w) causal in
  p <> 0 /\ p ^ 2 + q ^ 2 = 1 /\ fixed 2 d F Z /\ attracts 2 d F Z /\
  exists J, derivative 2 d F Z J /\ forall z : C, eigenvalue 2 d J z <->
    z = RtoC 0 \/ z = RtoC a \/ z = RtoC ((1 + q) / a) \/ ((2 < d)%nat /\ (z = RtoC c \/ z = RtoC (c / a))).
Proof.
  intros Hd Hc Ha H. assert (Hw : w <> 0) by (intros ->; assert (0 < a * (2 - a)) by (apply Rmult_lt_0_compat; lra);
    simpl in H; lra).
  assert (Sq : Rabs w ^ 2 = w ^ 2) by apply pow2_abs.
  destruct (root_exists a (Rabs w) ltac:(lra) ltac:(now apply Rabs_pos_lt) ltac:(lra)) as [B E]. rewrite Sq in E.
  exists (q_root a (Rabs w)). set (q := q_root a (Rabs w)) in *.
  split; [split; assumption|]. split; [intros q' B' E'; apply (root_unique a w); auto; lra|].
  split; [unfold q, q_root; now rewrite Sq|].
  destruct d as [|[|e]]; try lia. replace (S (S e) - 2)%nat with e by lia. intros p0 Z F.
  split; [apply (p_0 a w q Ha Hw B)|]. split.
  - assert (P := pq a w q Hw E). fold (p a w q) in p0. unfold p0. simpl. lra.
  - split; [apply fixed_S; auto; lra|]. split; [apply attracts_S; auto; lra|]. exists (J e a c w q).
    split; [apply derivative_S; auto; lra|]. intro z. rewrite (spectrum_S e a c w q) by (auto; lra).
    assert (Q : (2 < S (S e))%nat <-> (0 < e)%nat) by lia. rewrite Q. reflexivity.
Qed.
