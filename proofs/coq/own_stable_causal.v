(** own:stable-causal.  An exponentially stable equilibrium of rank two under the causal mask, two tokens.

    0 < c < a < 1, w > 0, w^2 > a(2-a), d >= 2, W_V = c I_{d-2} + [[a,w],[0,1]] (direct sum), W_QK = 0, LayerNorm on the sphere.
    There is exactly one q in (-1, a-1) with w^2(1-q^2) = (1+(1-a)q)^2, namely
        q = -((1-a) + w sqrt(w^2 - a(2-a))) / (w^2 + (1-a)^2).
    With p = -(1+(1-a)q)/w the tokens X_1 = e_d, X_2 = p e_{d-1} + q e_d are an equilibrium of rank two, and it attracts every start near it
    at an exponential rate.  (a and (1+q)/a, c and c/a are the multipliers; p, q are a unit vector and p is not zero.) *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Norms Softmax Jets SphereLayer.
Local Open Scope R_scope.

(** d = e+2; the plane is spanned by the coordinates e and e+1. *)
Definition stable_values (e : nat) (a c w : R) : mat := fun x y =>
  eye x y * (if Nat.ltb x e then c else if Nat.eqb x e then a else 1) + w * (eye x e * eye y (S e)).
Definition stable_tokens (e : nat) (p q : R) : mat := fun i =>
  match i with O => eye (S e) | _ => fun y => p * eye e y + q * eye (S e) y end.
Definition nulls : mat := fun _ _ => 0.

(** The root q. *)
Lemma root_unique a w q1 q2 : 0 < a < 1 -> 0 < w -> a * (2 - a) < w ^ 2 -> -1 < q1 < a - 1 -> -1 < q2 < a - 1 ->
  w ^ 2 * (1 - q1 ^ 2) = (1 + (1 - a) * q1) ^ 2 -> w ^ 2 * (1 - q2 ^ 2) = (1 + (1 - a) * q2) ^ 2 -> q1 = q2.
Proof.
  intros Ha Hw H H1 H2 E1 E2. destruct (Req_dec q1 q2) as [|N]; [assumption|exfalso].
  set (k := w ^ 2 + (1 - a) ^ 2) in *. assert (k0 : 0 < k) by (unfold k; nra).
  assert (S : k * (q1 + q2) = - (2 * (1 - a))).
  { apply (Rmult_eq_reg_l (q1 - q2)); [|lra]. unfold k. lra. }
  (* h(a-1) > 0, but h = -k (x - q1)(x - q2) *)
  assert (P : 0 < w ^ 2 * (1 - (a - 1) ^ 2) - (1 + (1 - a) * (a - 1)) ^ 2).
  { replace (w ^ 2 * (1 - (a - 1) ^ 2) - (1 + (1 - a) * (a - 1)) ^ 2) with (a * (2 - a) * (w ^ 2 - a * (2 - a))) by ring.
    apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra|lra]. }
  assert (Q : w ^ 2 * (1 - (a - 1) ^ 2) - (1 + (1 - a) * (a - 1)) ^ 2 = - k * ((a - 1 - q1) * (a - 1 - q2))).
  { replace (- k * ((a - 1 - q1) * (a - 1 - q2))) with (- k * (a - 1) ^ 2 + (k * (q1 + q2)) * (a - 1) - k * q1 * q2) by ring.
    assert (K : k * q1 * q2 = (k * (q1 + q2)) * q1 - k * q1 ^ 2) by ring. rewrite K, S. unfold k. lra. }
  rewrite Q in P. assert (0 < (a - 1 - q1) * (a - 1 - q2)) by (apply Rmult_lt_0_compat; lra). nra.
Qed.

Definition q_root (a w : R) : R := - ((1 - a) + w * sqrt (w ^ 2 - a * (2 - a))) / (w ^ 2 + (1 - a) ^ 2).

Lemma root_exists a w : 0 < a < 1 -> 0 < w -> a * (2 - a) < w ^ 2 ->
  -1 < q_root a w < a - 1 /\ w ^ 2 * (1 - q_root a w ^ 2) = (1 + (1 - a) * q_root a w) ^ 2.
Proof.
  intros Ha Hw H. unfold q_root. set (r := sqrt (w ^ 2 - a * (2 - a))). assert (r2 : r * r = w ^ 2 - a * (2 - a)) by (apply sqrt_sqrt; lra).
  assert (r0 : 0 < r) by (apply sqrt_lt_R0; lra). set (k := w ^ 2 + (1 - a) ^ 2). assert (k0 : 0 < k) by (unfold k; nra).
  split; [split|].
  - apply Rmult_lt_reg_r with k; [exact k0|]. replace (- (1 - a + w * r) / k * k) with (- (1 - a + w * r)) by (field; lra).
    assert (w * r < w ^ 2 - a * (1 - a)).
    { apply Rsqr_incrst_0; [|nra|nra]. unfold Rsqr. replace (w * r * (w * r)) with (w ^ 2 * (r * r)) by ring. rewrite r2.
      replace ((w ^ 2 - a * (1 - a)) * (w ^ 2 - a * (1 - a))) with (w ^ 2 * (w ^ 2 - a * (2 - a)) + a ^ 2 * (w ^ 2 + (1 - a) ^ 2)) by ring.
      fold k. assert (0 < a ^ 2 * k) by (apply Rmult_lt_0_compat; nra). lra. }
    unfold k. nra.
  - apply Rmult_lt_reg_r with k; [exact k0|]. replace (- (1 - a + w * r) / k * k) with (- (1 - a + w * r)) by (field; lra).
    (* (1-a) + w r > (1-a) k  <=>  w r > (1-a) (w^2 - a(2-a)) = (1-a) r^2, and r < w *)
    assert (r < w) by (apply Rsqr_incrst_0; [|lra|lra]; unfold Rsqr; rewrite r2; nra).
    assert ((1 - a) * (r * r) < w * r) by nra. unfold k. rewrite r2 in H1. nra.
  - replace (w ^ 2 * (1 - (- (1 - a + w * r) / k) ^ 2)) with (w ^ 2 * (k ^ 2 - (1 - a + w * r) ^ 2) / k ^ 2) by (field; lra).
    replace ((1 + (1 - a) * (- (1 - a + w * r) / k)) ^ 2) with ((k - (1 - a) * (1 - a + w * r)) ^ 2 / k ^ 2) by (field; lra).
    f_equal. unfold k.
    apply Rminus_diag_uniq.
    replace (w ^ 2 * ((w ^ 2 + (1 - a) ^ 2) ^ 2 - (1 - a + w * r) ^ 2) - (w ^ 2 + (1 - a) ^ 2 - (1 - a) * (1 - a + w * r)) ^ 2)
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
Hypothesis w_pos : 0 < w.
Hypothesis q_b : -1 < q < a - 1.
Hypothesis q_eq : w ^ 2 * (1 - q ^ 2) = (1 + (1 - a) * q) ^ 2.
Notation d := (S (S e)).
Definition p : R := - (1 + (1 - a) * q) / w.
Notation W := (stable_values e a c w).
Notation Z := (stable_tokens e p q).
Notation F := (sphere_map 2 d nulls W causal).
Notation U := (Ux 2 d nulls W causal).

Lemma wp : w * p = - (1 + (1 - a) * q).
Proof. unfold p. field. lra. Qed.
Lemma pq : p * p + q * q = 1.
Proof.
  assert (E : w ^ 2 * (p * p) = w ^ 2 * (1 - q * q)).
  { replace (w ^ 2 * (p * p)) with ((w * p) ^ 2) by ring. rewrite wp. rewrite <- (Rmult_1_l (q * q)). replace (w ^ 2 * (1 - 1 * (q * q))) with (w ^ 2 * (1 - q ^ 2)) by ring. rewrite q_eq. ring. }
  apply Rmult_eq_reg_l in E; [lra|]. nra.
Qed.
Lemma p_neg : p < 0.
Proof. assert (H := wp). assert (0 < 1 + (1 - a) * q) by nra. nra. Qed.

(** x W: multiples, and w x_e added at the end. *)
Lemma vmat_W x y : (y < d)%nat -> vmat d x W y = x y * (if Nat.ltb y e then c else if Nat.eqb y e then a else 1) + w * (x e * eye y (S e)).
Proof.
  intros Hy. unfold vmat, stable_values.
  rewrite (sum_ext d _ (fun b => (x b * (if Nat.ltb b e then c else if Nat.eqb b e then a else 1)) * eye b y + (w * (x b * eye y (S e))) * eye b e)) by (intros; ring).
  rewrite sum_plus, (sum_eye_r d (fun b => x b * (if Nat.ltb b e then c else if Nat.eqb b e then a else 1)) y Hy), (sum_eye_r d (fun b => w * (x b * eye y (S e))) e) by lia. reflexivity.
Qed.

Lemma E_null X i j : Ex d nulls causal X i j = causal i j.
Proof.
  unfold Ex. replace (bil d (X i) nulls (X j)) with 0; [rewrite exp_0; ring|]. unfold bil, nulls.
  rewrite (sum_ext d _ (fun _ => 0)); [now rewrite sum_zero|]. intros. rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros; ring.
Qed.

Lemma U_Z i y : (i < 2)%nat -> (y < d)%nat -> U Z i y = (match i with O => 1 | _ => a end) * Z i y.
Proof.
  intros Hi Hy. assert (H := wp). unfold Ux. cbn [sum]. rewrite !E_null, !vmat_W by exact Hy. unfold stable_tokens, causal.
  destruct i as [|[|i]]; try lia; cbn [Nat.leb]; rewrite ?(eye_diff (S e) e), ?(eye_same e) by lia.
  - destruct (Nat.eq_dec y (S e)) as [->|N]; [|rewrite (eye_diff (S e) y) by lia; ring].
    destruct (Nat.ltb_spec (S e) e); [lia|]. destruct (Nat.eqb_spec (S e) e); [lia|]. ring.
  - destruct (Nat.eq_dec y (S e)) as [->|N].
    + destruct (Nat.ltb_spec (S e) e); [lia|]. destruct (Nat.eqb_spec (S e) e); [lia|]. rewrite eye_same, (eye_diff e (S e)) by lia. lra.
    + rewrite (eye_diff (S e) y), (eye_diff y (S e)) by lia. destruct (Nat.eq_dec y e) as [->|Ne].
      * destruct (Nat.ltb_spec e e); [lia|]. rewrite Nat.eqb_refl, eye_same. ring.
      * rewrite (eye_diff e y) by lia. ring.
Qed.

Lemma Z_unit i : (i < 2)%nat -> dot d (Z i) (Z i) = 1.
Proof.
  intros Hi. assert (H := pq). unfold dot, stable_tokens. destruct i as [|i].
  - rewrite (sum_eye_l d (fun y => eye (S e) y)) by lia. apply eye_same.
  - rewrite (sum_ext d _ (fun y => eye e y * (p * (p * eye e y + q * eye (S e) y)) + eye (S e) y * (q * (p * eye e y + q * eye (S e) y)))) by (intros; ring).
    rewrite sum_plus, (sum_eye_l d (fun y => p * (p * eye e y + q * eye (S e) y)) e), (sum_eye_l d (fun y => q * (p * eye e y + q * eye (S e) y)) (S e)) by lia.
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
  intros i y Hi Hy. rewrite sphere_form by (try apply causal_proper; lia). rewrite l2_U, U_Z by assumption. destruct i; field; lra.
Qed.

Definition J := dF 2 d nulls W causal Z.
Lemma derivative_S : derivative 2 d F Z J.
Proof.
  apply layer_derivative; [lia|apply causal_proper|]. intros i Hi. rewrite l2_U by exact Hi. destruct i; lra.
Qed.

Lemma dU_S i y r b : (r < 2)%nat -> dU 2 d nulls W causal Z i y r b = causal i r * W b y.
Proof.
  intros Hr. unfold dU, dlogit, nulls. rewrite (sum_ext 2 _ (fun j => eye r j * (causal i j * W b y))).
  - apply (sum_eye_l 2 (fun j => causal i j * W b y) r Hr).
  - intros j Hj. rewrite E_null. rewrite (sum_ext d (fun c0 => 0 * Z j c0) (fun _ => 0)) by (intros; ring). rewrite (sum_ext d (fun a0 => Z i a0 * 0) (fun _ => 0)) by (intros; ring). rewrite sum_zero. ring.
Qed.

(** The derivative applied to H: the mean's change, without its part along the token. *)
Lemma J_apply i y H : (i < 2)%nat -> (y < d)%nat ->
  let u := fun b => match i with O => H 0%nat b | _ => H 0%nat b + H 1%nat b end in
  lin 2 d (J i y) H = (vmat d u W y - Z i y * dot d (vmat d u W) (Z i)) / (match i with O => 1 | _ => a end).
Proof.
  intros Hi Hy u. set (m := match i with O => 1 | _ => a end). assert (m0 : 0 < m) by (unfold m; destruct i; lra).
  assert (E : forall r b, (r < 2)%nat -> J i y r b = causal i r * (W b y - Z i y * sum d (fun k => Z i k * W b k)) / m).
  { intros r b Hr. unfold J, dF. rewrite l2_U by exact Hi. fold m. rewrite dU_S by exact Hr. rewrite fixed_S by assumption.
    rewrite (sum_ext d _ (fun k => causal i r * (Z i k * W b k))) by (intros k Hk; rewrite fixed_S, dU_S by assumption; ring).
    rewrite sum_scal. unfold Rdiv. ring. }
  assert (D : dot d (vmat d u W) (Z i) = sum d (fun b => u b * sum d (fun k => Z i k * W b k))).
  { unfold dot, vmat. rewrite (sum_ext d _ (fun k => sum d (fun b => u b * (Z i k * W b k)))) by (intros; rewrite <- sum_scal_r; apply sum_ext; intros; ring).
    rewrite sum_swap. apply sum_ext; intros b _. now rewrite sum_scal. }
  rewrite D, lin_2, <- sum_plus. unfold vmat. unfold Rdiv. rewrite <- (sum_scal d (Z i y)), <- sum_minus, <- sum_scal_r.
  apply sum_ext; intros b _. rewrite !E by lia. unfold u, causal. destruct i as [|[|i]]; try lia; cbn [Nat.leb]; unfold Rdiv; ring.
Qed.

(** Coordinates: those of the tokens, but for the plane of token 2, where they are along t = (-q, p) and along the token (p, q). *)
Definition Sf (i y : nat) : mat := fun r b => eye r i *
  (match i with O => eye b y | _ => if Nat.ltb y e then eye b y else if Nat.eqb y e then - q * eye b e + p * eye b (S e) else p * eye b e + q * eye b (S e) end).

Lemma Sf_apply i y H : (i < 2)%nat -> (y < d)%nat -> lin 2 d (Sf i y) H =
  match i with O => H 0%nat y | _ => if Nat.ltb y e then H 1%nat y else if Nat.eqb y e then - q * H 1%nat e + p * H 1%nat (S e) else p * H 1%nat e + q * H 1%nat (S e) end.
Proof.
  intros Hi Hy. unfold lin. rewrite (sum_single 2 _ i Hi).
  2: { intros r _ Hr. unfold Sf. rewrite eye_diff by lia. rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros; ring. }
  unfold Sf. rewrite eye_same.
  destruct i as [|[|i]]; try lia.
  - rewrite (sum_ext d _ (fun b => H 0%nat b * eye b y)) by (intros; ring). apply (sum_eye_r d (H 0%nat) y Hy).
  - destruct (Nat.ltb_spec y e); [|destruct (Nat.eqb_spec y e)].
    + rewrite (sum_ext d _ (fun b => H 1%nat b * eye b y)) by (intros; ring). apply (sum_eye_r d (H 1%nat) y Hy).
    + rewrite (sum_ext d _ (fun b => (- q * H 1%nat b) * eye b e + (p * H 1%nat b) * eye b (S e))) by (intros; ring).
      rewrite sum_plus, (sum_eye_r d (fun b => - q * H 1%nat b) e), (sum_eye_r d (fun b => p * H 1%nat b) (S e)) by lia. reflexivity.
    + rewrite (sum_ext d _ (fun b => (p * H 1%nat b) * eye b e + (q * H 1%nat b) * eye b (S e))) by (intros; ring).
      rewrite sum_plus, (sum_eye_r d (fun b => p * H 1%nat b) e), (sum_eye_r d (fun b => q * H 1%nat b) (S e)) by lia. reflexivity.
Qed.

Definition theta : R := Rmax a (Rmax (c / a) ((1 + q) / a)).
Definition small : R := a * (1 - theta) / 8.
(** Weight 1 on token 2's tangent coordinates, small elsewhere. *)
Definition wt : mat := fun i y => match i with O => small | _ => if Nat.leb y e then 1 else small end.

Lemma theta_b : a <= theta /\ c / a <= theta /\ (1 + q) / a <= theta /\ 0 < theta < 1.
Proof.
  unfold theta. assert (A1 := Rmax_l a (Rmax (c / a) ((1 + q) / a))). assert (A2 := Rmax_r a (Rmax (c / a) ((1 + q) / a))).
  assert (B1 := Rmax_l (c / a) ((1 + q) / a)). assert (B2 := Rmax_r (c / a) ((1 + q) / a)).
  assert (c / a < 1) by (apply Rmult_lt_reg_r with a; [lra|]; replace (c / a * a) with c by (field; lra); lra).
  assert ((1 + q) / a < 1) by (apply Rmult_lt_reg_r with a; [lra|]; replace ((1 + q) / a * a) with (1 + q) by (field; lra); lra).
  repeat split; try lra. apply Rmax_lub_lt; [lra|now apply Rmax_lub_lt].
Qed.

Lemma attracts_S : attracts 2 d F Z.
Proof.
  destruct theta_b as [Ta [Tc [Tq T01]]]. assert (H := wp). assert (N := pq). assert (Pn := p_neg).
  assert (s0 : 0 < small) by (unfold small; apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat|]; lra).
  assert (s1 : small <= 1) by (unfold small; assert (a * (1 - theta) <= 1 * 1) by (apply Rmult_le_compat; lra); lra).
  assert (sa : small / a = (1 - theta) / 8) by (unfold small; field; lra).
  assert (p1 : Rabs p <= 1) by (rewrite Rabs_left by lra; nra). assert (q1 : Rabs q <= 1) by (unfold Rabs; destruct Rcase_abs; lra).
  apply (attraction_functionals 2 d F Z J Sf wt ((1 + theta) / 2) 2 fixed_S derivative_S); [lra|lra| | |].
  - intros i y _ _. unfold wt. destruct i; [lra|]. destruct Nat.leb; lra.
  - (* the coordinates bound the entries *)
    intros rho X r0 HX i y Hi Hy. destruct i as [|[|i]]; try lia.
    + specialize (HX 0%nat y ltac:(lia) Hy). rewrite Sf_apply in HX by (auto; lia). unfold wt in HX. nra.
    + destruct (Nat.lt_ge_cases y e) as [L|L].
      * specialize (HX 1%nat y ltac:(lia) Hy). rewrite Sf_apply in HX by (auto; lia). unfold wt in HX. destruct (Nat.ltb_spec y e); [|lia]. destruct (Nat.leb_spec y e); [|lia]. lra.
      * assert (At := HX 1%nat e ltac:(lia) ltac:(lia)). assert (Ax := HX 1%nat (S e) ltac:(lia) ltac:(lia)). rewrite Sf_apply in At, Ax by lia.
        unfold wt in At, Ax. destruct (Nat.ltb_spec e e); [lia|]. destruct (Nat.ltb_spec (S e) e); [lia|]. rewrite Nat.eqb_refl in At. destruct (Nat.eqb_spec (S e) e); [lia|].
        destruct (Nat.leb_spec e e); [|lia]. destruct (Nat.leb_spec (S e) e); [lia|].
        set (al := - q * X 1%nat e + p * X 1%nat (S e)) in *. set (be := p * X 1%nat e + q * X 1%nat (S e)) in *.
        assert (Be : Rabs be <= rho) by nra.
        assert (Ee : X 1%nat e = - q * al + p * be) by (unfold al, be; replace (- q * (- q * X 1%nat e + p * X 1%nat (S e)) + p * (p * X 1%nat e + q * X 1%nat (S e))) with ((p * p + q * q) * X 1%nat e) by ring; rewrite N; ring).
        assert (Es : X 1%nat (S e) = p * al + q * be) by (unfold al, be; replace (p * (- q * X 1%nat e + p * X 1%nat (S e)) + q * (p * X 1%nat e + q * X 1%nat (S e))) with ((p * p + q * q) * X 1%nat (S e)) by ring; rewrite N; ring).
        assert (Two : forall x z, Rabs x <= 1 -> Rabs z <= 1 -> Rabs (x * al + z * be) <= 2 * rho).
        { intros x z Hx Hz. eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult. assert (A1 := Rabs_pos al). assert (A2 := Rabs_pos be).
          assert (Rabs x * Rabs al <= 1 * rho) by (apply Rmult_le_compat; auto using Rabs_pos; lra). assert (Rabs z * Rabs be <= 1 * rho) by (apply Rmult_le_compat; auto using Rabs_pos). lra. }
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
      assert (B := X0 y Hy). assert (rs : 0 <= rho * small) by nra. unfold stable_tokens. replace ((1:R) * 1) with 1 by ring. unfold Rdiv. rewrite Rinv_1, Rmult_1_r.
      destruct (Nat.lt_ge_cases y (S e)) as [L|L].
      * rewrite (eye_diff (S e) y), (eye_diff y (S e)) by lia. rewrite !Rmult_0_r, Rmult_0_l, Rminus_0_r, Rplus_0_r.
        assert (M : forall x, 0 < x <= theta -> Rabs (X 0%nat y * x) <= (1 + theta) / 2 * rho * small).
        { intros x Hx. rewrite Rabs_mult, (Rabs_right x) by lra. assert (Px := Rabs_pos (X 0%nat y)).
          assert (Rabs (X 0%nat y) * x <= rho * small * theta) by (apply Rmult_le_compat; lra). assert (rho * small * theta <= rho * small * ((1 + theta) / 2)) by (apply Rmult_le_compat_l; lra). lra. }
        destruct (Nat.ltb_spec y e); [apply M; lra|]. destruct (Nat.eqb_spec y e); [apply M; lra|lia].
      * assert (y = S e) by lia. subst y.
        assert (K : k = vmat d (fun b => X 0%nat b) W (S e)).
        { unfold k, dot, stable_tokens. rewrite (sum_ext d _ (fun b => eye (S e) b * vmat d (fun b => X 0%nat b) W b)) by (intros; ring). apply (sum_eye_l d (vmat d (fun b => X 0%nat b) W)). lia. }
        rewrite K, vmat_W by lia. rewrite eye_same. match goal with |- Rabs ?x <= _ => replace x with 0 by ring end. rewrite Rabs_R0. nra.
    + (* token 2 *)
      set (u := fun b => X 0%nat b + X 1%nat b).
      set (k := dot d (vmat d u W) (Z 1%nat)).
      assert (JA : forall z, (z < d)%nat -> lin 2 d (J 1%nat z) X = (vmat d u W z - Z 1%nat z * k) / a) by (intros z Hz; rewrite (J_apply 1 z X ltac:(lia) Hz); reflexivity).
      assert (Ve : vmat d u W e = a * u e) by (rewrite vmat_W by lia; destruct (Nat.ltb_spec e e); [lia|]; rewrite Nat.eqb_refl, eye_diff by lia; ring).
      assert (Vs : vmat d u W (S e) = u (S e) + w * u e) by (rewrite vmat_W by lia; destruct (Nat.ltb_spec (S e) e); [lia|]; destruct (Nat.eqb_spec (S e) e); [lia|]; rewrite eye_same; ring).
      assert (Ze : Z 1%nat e = p) by (unfold stable_tokens; rewrite eye_same, (eye_diff (S e) e) by lia; ring).
      assert (Zs : Z 1%nat (S e) = q) by (unfold stable_tokens; rewrite eye_same, (eye_diff e (S e)) by lia; ring).
      assert (Kv : k = p * (a * u e) + q * (u (S e) + w * u e)).
      { unfold k, dot, stable_tokens. rewrite (sum_ext d _ (fun b => eye e b * (p * vmat d u W b) + eye (S e) b * (q * vmat d u W b))) by (intros; ring).
        rewrite sum_plus, (sum_eye_l d (fun b => p * vmat d u W b) e), (sum_eye_l d (fun b => q * vmat d u W b) (S e)) by lia. now rewrite Ve, Vs. }
      unfold wt. destruct (Nat.ltb_spec y e) as [L|L]; [|destruct (Nat.eqb_spec y e) as [->|Ne]].
      * destruct (Nat.leb_spec y e); [|lia]. rewrite JA by lia. rewrite vmat_W by exact Hy. destruct (Nat.ltb_spec y e); [|lia].
        unfold stable_tokens. rewrite (eye_diff y (S e)), (eye_diff e y), (eye_diff (S e) y) by lia.
        replace ((u y * c + w * (u e * 0) - (p * 0 + q * 0) * k) / a) with (c / a * u y) by (field; lra).
        assert (A1 := HX 1%nat y ltac:(lia) Hy). rewrite Sf_apply in A1 by lia. destruct (Nat.ltb_spec y e); [|lia]. unfold wt in A1. destruct (Nat.leb_spec y e); [|lia].
        assert (A0 := X0 y Hy). assert (Uy : Rabs (u y) <= rho * (1 + small)) by (unfold u; eapply Rle_trans; [apply Rabs_triang|]; lra).
        assert (ca : 0 < c / a) by (apply Rdiv_lt_0_compat; lra). rewrite Rabs_mult, (Rabs_right (c / a)) by lra.
        assert (sm : small <= (1 - theta) / 8) by (rewrite <- sa; apply Rmult_le_reg_r with a; [lra|]; replace (small / a * a) with small by (field; lra); nra).
        assert (Pu := Rabs_pos (u y)).
        apply Rle_trans with (theta * (rho * (1 + small))); [apply Rmult_le_compat; lra|].
        assert (theta * (1 + small) <= (1 + theta) / 2) by nra. assert (rho * (theta * (1 + small)) <= rho * ((1 + theta) / 2)) by (apply Rmult_le_compat_l; lra). lra.
      * destruct (Nat.leb_spec e e); [|lia]. rewrite !JA by lia. rewrite Ve, Vs, Ze, Zs.
        assert (At := HX 1%nat e ltac:(lia) ltac:(lia)). assert (Ax := HX 1%nat (S e) ltac:(lia) ltac:(lia)). rewrite Sf_apply in At, Ax by lia.
        unfold wt in At, Ax. destruct (Nat.ltb_spec e e); [lia|]. destruct (Nat.ltb_spec (S e) e); [lia|]. rewrite Nat.eqb_refl in At. destruct (Nat.eqb_spec (S e) e); [lia|].
        destruct (Nat.leb_spec e e); [|lia]. destruct (Nat.leb_spec (S e) e); [lia|].
        set (al := - q * X 1%nat e + p * X 1%nat (S e)) in *. set (be := p * X 1%nat e + q * X 1%nat (S e)) in *.
        assert (Key : - q * ((a * u e - p * k) / a) + p * ((u (S e) + w * u e - q * k) / a)
          = (1 + q) / a * al + (- p / a) * be + (- (1 + q) / a) * X 0%nat e + p / a * X 0%nat (S e)).
        { replace (- q * ((a * u e - p * k) / a) + p * ((u (S e) + w * u e - q * k) / a)) with ((- q * (a * u e) + p * u (S e) + (w * p) * u e) / a) by (field; lra).
          replace ((1 + q) / a * al + (- p / a) * be) with ((- q * X 1%nat e - (p * p + q * q) * X 1%nat e + p * X 1%nat (S e)) / a) by (unfold al, be; field; lra).
          rewrite H, N. unfold u. field. lra. }
        rewrite Key.
        assert (B0 := X0 e ltac:(lia)). assert (B1 := X0 (S e) ltac:(lia)).
        assert (ia : 0 < / a) by (apply Rinv_0_lt_compat; lra).
        assert (C1 : Rabs ((1 + q) / a * al) <= theta * rho).
        { assert (0 < (1 + q) / a) by (apply Rdiv_lt_0_compat; lra). rewrite Rabs_mult, (Rabs_right ((1 + q) / a)) by lra. assert (Pa := Rabs_pos al). apply Rmult_le_compat; lra. }
        assert (C2 : forall x z, Rabs x <= 1 -> Rabs z <= rho * small -> Rabs (x / a * z) <= rho * ((1 - theta) / 8)).
        { intros x z Hx Hz. rewrite <- sa. unfold Rdiv. rewrite !Rabs_mult, (Rabs_right (/ a)) by lra.
          replace (rho * (small * / a)) with (1 * / a * (rho * small)) by ring. assert (Px := Rabs_pos x). assert (Pz := Rabs_pos z).
          apply Rmult_le_compat; [apply Rmult_le_pos; lra|lra|apply Rmult_le_compat_r; lra|exact Hz]. }
        assert (D2 := C2 (- p) be ltac:(rewrite Rabs_Ropp; exact p1) Ax).
        assert (D3 := C2 (- (1 + q)) (X 0%nat e) ltac:(rewrite Rabs_Ropp, Rabs_right; lra) B0).
        assert (D4 := C2 p (X 0%nat (S e)) p1 B1).
        eapply Rle_trans; [apply Rabs_triang|]. assert (T1 := Rabs_triang ((1 + q) / a * al + - p / a * be) (- (1 + q) / a * X 0%nat e)).
        assert (T2 := Rabs_triang ((1 + q) / a * al) (- p / a * be)). nra.
      * destruct (Nat.leb_spec y e); [lia|]. rewrite !JA by lia. rewrite Ve, Vs, Ze, Zs.
        replace (p * ((a * u e - p * k) / a) + q * ((u (S e) + w * u e - q * k) / a)) with ((p * (a * u e) + q * (u (S e) + w * u e) - (p * p + q * q) * k) / a) by (field; lra).
        rewrite N, Kv. replace ((p * (a * u e) + q * (u (S e) + w * u e) - 1 * (p * (a * u e) + q * (u (S e) + w * u e))) / a) with 0 by (field; lra).
        rewrite Rabs_R0. assert (0 <= rho * small) by nra. nra.
Qed.
End Stable.

Theorem stable_causal d a c w : (2 <= d)%nat -> 0 < c < a -> a < 1 -> 0 < w -> a * (2 - a) < w ^ 2 -> exists q,
  (-1 < q < a - 1 /\ w ^ 2 * (1 - q ^ 2) = (1 + (1 - a) * q) ^ 2) /\
  (forall q', -1 < q' < a - 1 -> w ^ 2 * (1 - q' ^ 2) = (1 + (1 - a) * q') ^ 2 -> q' = q) /\
  q = - ((1 - a) + w * sqrt (w ^ 2 - a * (2 - a))) / (w ^ 2 + (1 - a) ^ 2) /\
  let p := - (1 + (1 - a) * q) / w in let Z := stable_tokens (d - 2) p q in
  let F := sphere_map 2 d nulls (stable_values (d - 2) a c w) causal in
  p <> 0 /\ p ^ 2 + q ^ 2 = 1 /\ fixed 2 d F Z /\ attracts 2 d F Z.
Proof.
  intros Hd Hc Ha Hw H. destruct (root_exists a w ltac:(lra) Hw H) as [B E]. exists (q_root a w).
  split; [split; assumption|]. split; [intros q' B' E'; apply (root_unique a w); auto; lra|]. split; [reflexivity|].
  destruct d as [|[|e]]; try lia. replace (S (S e) - 2)%nat with e by lia. intros p0 Z F.
  assert (N : p a w (q_root a w) < 0) by (first [apply p_neg with (c := c)|apply p_neg]; auto; lra).
  split; [change (p a w (q_root a w) <> 0); lra|]. split.
  - assert (P : p a w (q_root a w) * p a w (q_root a w) + q_root a w * q_root a w = 1) by (first [apply pq with (c := c)|apply pq]; auto; lra). fold (p a w (q_root a w)) in p0. unfold p0. simpl. lra.
  - split; [apply fixed_S|apply attracts_S]; auto; lra.
Qed.
