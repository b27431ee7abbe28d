(** Registered statements about derivatives, as Statements.v prints them: that the derivatives exist is proved here too. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require own_l2_lipschitz kim2021 noci2022 folk_softmax_gradient.
From Rankmath Require Import Definitions Functions Norms Softmax own_order_layer Language LanguageFacts Statements.
Local Open Scope R_scope.

(* ---------- softmax ---------- *)
Lemma is_derive_line (x f : R) : is_derive (fun h => x + h * f) 0 f.
Proof. auto_derive; [exact I|ring]. Qed.
Lemma is_derive_flat (x : R) : is_derive (fun _ : R => x) 0 0.
Proof. auto_derive; [exact I|ring]. Qed.

Lemma mix_exists n (l f y : vec) : (0 < n)%nat ->
  ex_derive (fun h => sum n (fun j => softmax n (fun _ => 1) (fun k => l k + h * f k) j * y j)) 0.
Proof.
  intros Hn. eexists.
  apply (kim2021.mean_derivative n (fun k h => l k + h * f k) (fun k _ => y k) f (fun _ => 0) Hn);
    intros k _; [apply is_derive_line|apply is_derive_flat].
Qed.

(** The derivative of softmax(c/T) along v. *)
Lemma softmax_along m (c v : vec) T j : (0 < m)%nat -> (j < m)%nat -> T <> 0 -> let p := softmax m (fun _ => 1) (fun k => c k / T) in
  is_derive (fun h => softmax m (fun _ => 1) (fun k => (c k + h * v k) / T) j) 0 (p j * (v j - avg m p v) / T).
Proof.
  intros Hm Hj HT p.
  assert (Sel : forall q : vec, sum m (fun k => q k * eye k j) = q j).
  { intro q. rewrite (sum_single m _ j Hj); [unfold eye; rewrite Nat.eqb_refl; ring|].
    intros k _ N. unfold eye. apply Nat.eqb_neq in N. rewrite N. ring. }
  apply (is_derive_ext (fun h => sum m (fun k => softmax m (fun _ => 1) (fun k => c k / T + h * (v k / T)) k * eye k j))).
  { intro h. rewrite Sel. unfold softmax. apply tilt_ext; [reflexivity|intros; unfold Rdiv; ring|exact Hj]. }
  evar_last.
  - apply (kim2021.mean_derivative m (fun k h => c k / T + h * (v k / T)) (fun k _ => eye k j) (fun k => v k / T) (fun _ => 0) Hm);
      intros k _; [apply is_derive_line|apply is_derive_flat].
  - cbv beta. match goal with |- @eq _ ?a ?b => change (@eq R a b) end.
    assert (P : softmax m (fun _ => 1) (fun k => c k / T + 0 * (v k / T)) = p).
    { unfold p. f_equal. apply functional_extensionality; intro k. ring. }
    rewrite P. rewrite (sum_ext m (fun k => p k * 0) (fun _ => 0)) by (intros; ring). rewrite sum_zero, Rplus_0_l.
    rewrite (Sel (fun k => p k * (v k / T - avg m p (fun k => v k / T)))).
    assert (A : avg m p (fun k => v k / T) = avg m p v / T).
    { unfold avg, Rdiv. rewrite <- sum_scal_r. apply sum_ext; intros; ring. }
    rewrite A. field. exact HT.
Qed.

Definition slope_matrix m (c : vector m) (T : R) : matrix m m := fun i j =>
  Derive (fun h => shares ((fun k => (c k + h * eye i k) / T) : vector m) j) 0.

Lemma slope_entry m (c : vector m) T i j : (0 < m)%nat -> (i < m)%nat -> (j < m)%nat -> T <> 0 ->
  let p := softmax m (fun _ => 1) (fun k => c k / T) in slope_matrix m c T i j = p j * (eye i j - p i) / T.
Proof.
  intros Hm Hi Hj HT p. unfold slope_matrix.
  etransitivity; [exact (is_derive_unique _ _ _ (softmax_along m c (eye i) T j Hm Hj HT))|]. fold p.
  do 3 f_equal. unfold avg. rewrite (sum_single m _ i Hi); [unfold eye; rewrite Nat.eqb_refl; ring|].
  intros k _ N. unfold eye. apply not_eq_sym, Nat.eqb_neq in N. rewrite N. ring.
Qed.

Lemma slope_along m (c : vector m) T v j : (0 < m)%nat -> (j < m)%nat -> T <> 0 ->
  let p := softmax m (fun _ => 1) (fun k => c k / T) in vmat m v (slope_matrix m c T) j = p j * (v j - avg m p v) / T.
Proof.
  intros Hm Hj HT p. unfold vmat.
  rewrite (sum_ext m _ (fun i => p j / T * (v i * eye i j) - p j / T * (p i * v i)))
    by (intros i Hi; rewrite slope_entry by assumption; fold p; field; exact HT).
  rewrite sum_minus, !sum_scal. unfold avg. rewrite (sum_single m (fun i => v i * eye i j) j Hj).
  - unfold eye. rewrite Nat.eqb_refl. field. exact HT.
  - intros i _ N. unfold eye. apply Nat.eqb_neq in N. rewrite N. ring.
Qed.

Theorem proved_own_softmax_gradient : statement_own_softmax_gradient.
Proof.
  intros m c T Hm HT. change (spectral (slope_matrix m c T) <= 1 / (2 * T)). replace (1 / (2 * T)) with (/ (2 * T)) by (field; lra).
  apply spectral_le; [left; apply Rinv_0_lt_compat; lra|]. intro v.
  apply (folk_softmax_gradient.softmax_gradient m T c v); [lra|]. intros j Hj. rewrite slope_along by (auto; lra).
  apply softmax_along; auto; lra.
Qed.

(** Two equal logits, T = 1: the norm is 1/2. *)
Theorem refuted_folk_softmax_gradient : ~ statement_folk_softmax_gradient.
Proof.
  intro H. set (c := (fun _ => 0) : vector 2). destruct (H 2%nat c 1 ltac:(lia) ltac:(lra)) as [G _].
  change (spectral (slope_matrix 2 c 1) <= 1 / (4 * 1)) in G.
  set (v := fun i => match i with O => 1 | _ => -1 end : R).
  assert (B := spectral_bound 2 2 (slope_matrix 2 c 1) v).
  assert (p : forall j, softmax 2 (fun _ => 1) (fun k => c k / 1) j = 1 / 2).
  { intro j. unfold softmax, tilt, c. cbn [sum]. unfold Rdiv. rewrite Rmult_0_l, exp_0. field. }
  assert (E : forall j, (j < 2)%nat -> vmat 2 v (slope_matrix 2 c 1) j = v j / 2).
  { intros j Hj. rewrite slope_along by (auto; lra || lia). unfold avg. cbn [sum]. rewrite !p. cbn [v].
    destruct j as [|j]; cbn [v]; field. }
  assert (L : l2 2 (vmat 2 v (slope_matrix 2 c 1)) = l2 2 v / 2).
  { unfold l2, dot. cbn [sum]. rewrite !E by lia. cbn [v].
    replace (0 + 1 / 2 * (1 / 2) + -1 / 2 * (-1 / 2)) with ((0 + 1 * 1 + -1 * -1) * (/ 2 * / 2)) by field.
    rewrite sqrt_mult_alt by lra. rewrite sqrt_square by lra. reflexivity. }
  rewrite L in B. assert (V : 0 < l2 2 v) by (unfold l2, dot; cbn [sum v]; apply sqrt_lt_R0; lra). nra.
Qed.

(* ---------- attention along a direction of the weights ---------- *)
Theorem proved_own_zero_grad : statement_own_zero_grad.
Proof.
  intros n d m Z M V G Hn Hd Hm i Hi. unfold weight_gradient, logit_shift, value_spread.
  apply (noci2022.zero_grad n d m Z M G V i); [exact Hi| | |].
  - intros a Ha. apply Derive_correct. apply (mix_exists n (fun k => bil d (Z i) M (Z k)) (fun k => bil d (Z i) G (Z k)) (fun j => vmat d (Z j) V a) Hn).
  - intros j k Hj Hk. apply (osc_spec n (fun j => bil d (Z i) G (Z j)) j k Hj Hk).
  - intros j k Hj Hk. eapply Rle_trans; [|apply (largest_ub n (fun j => largest n (fun k => l2 m (vsub (vmat d (Z j) V) (vmat d (Z k) V)))) j Hj)].
    apply (largest_ub n (fun k => l2 m (vsub (vmat d (Z j) V) (vmat d (Z k) V))) k Hk).
Qed.

Theorem proved_noci2022_zero_grad : statement_noci2022_zero_grad.
Proof.
  intros n d m Z M0 V G Hn Hd Hm Eq M i a Hi Ha.
  assert (D : forall a, is_derive (mixed_along Z M G V i a) 0 (Derive (mixed_along Z M G V i a) 0)).
  { intro b. apply Derive_correct, (mix_exists n (fun k => bil d (Z i) M (Z k)) (fun k => bil d (Z i) G (Z k)) (fun j => vmat d (Z j) V b) Hn). }
  assert (E := noci2022.no_grad n d m Z M G V i (fun a => Derive (mixed_along Z M G V i a) 0) Hi Eq (fun a _ => D a) a Ha).
  assert (Da := D a). cbv beta in E. rewrite E in Da. exact Da.
Qed.

(* ---------- attention by distances ---------- *)
Lemma inverse_phi_spec x : 0 <= x -> 0 <= inverse_phi x /\ inverse_phi x * exp (inverse_phi x + 1) = x.
Proof.
  intros Hx. set (f := fun y => y * exp (y + 1)).
  assert (Mono : forall a b, 0 <= a -> a < b -> f a < f b).
  { intros a b Ha Hab. unfold f. assert (E := exp_increasing (a + 1) (b + 1) ltac:(lra)). assert (P := exp_pos (a + 1)). nra. }
  destruct (IVT_cor (fun y => f y - x) 0 x) as [y [Hy E]].
  - unfold f. reg.
  - exact Hx.
  - unfold f. assert (P := exp_ineq1_le (x + 1)). nra.
  - assert (Q : inverse_phi x = y).
    { apply sup_is; [split; [lra|fold (f y); lra]|]. intros y' [Y0 Y1]. fold (f y') in Y1. apply Rnot_lt_le. intro L.
      assert (M := Mono y y' ltac:(lra) L). lra. }
    rewrite Q. fold (f y). lra.
Qed.

Lemma moved_derivatives n d (Z H : mat) : (0 < n)%nat -> exists J : mat,
  (forall i a, (i < n)%nat -> (a < d)%nat ->
     is_derive (fun t => kim2021.distance_attention n d (fun p q => Z p q + t * H p q) i a) 0 (J i a)) /\
  forall phi tau, 0 <= phi -> phi * exp (phi + 1) = INR n - 1 -> 0 <= tau -> tau * exp (tau + 1) = 1 ->
    frob n d J <= (Rpower (INR n) (/ 4) + 2 * phi + 2 * sqrt (phi * Rmin ((INR n - 1) * tau) (sqrt (INR n) * ln (INR n) / 2))) * frob n d H.
Proof.
  intros Hn. assert (N1 : 0 <= INR n - 1) by (assert (1 <= INR n) by (apply (le_INR 1); lia); lra).
  destruct (inverse_phi_spec (INR n - 1) N1) as [A1 A2]. destruct (inverse_phi_spec 1 ltac:(lra)) as [B1 B2].
  destruct (own_l2_lipschitz.l2_lipschitz n d Z H _ _ Hn A1 A2 B1 B2) as [J [D _]].
  exists J. split; [exact D|]. intros phi tau P1 P2 T1 T2.
  destruct (own_l2_lipschitz.l2_lipschitz n d Z H phi tau Hn P1 P2 T1 T2) as [J' [D' L]].
  replace (frob n d J) with (frob n d J'); [exact L|]. unfold frob, dot. f_equal. apply sum_ext; intros i Hi. apply sum_ext; intros a Ha.
  assert (E : J' i a = J i a) by (rewrite <- (is_derive_unique _ _ _ (D i a Hi Ha)); symmetry; exact (is_derive_unique _ _ _ (D' i a Hi Ha))).
  now rewrite E.
Qed.

Lemma jacobian_le n d (Z : matrix n d) b : (0 < n)%nat -> 0 <= b ->
  (forall H J : mat, (forall i a, (i < n)%nat -> (a < d)%nat ->
     is_derive (fun t => kim2021.distance_attention n d (fun p q => Z p q + t * H p q) i a) 0 (J i a)) -> frob n d J <= b * frob n d H) ->
  distance_jacobian_norm Z <= b.
Proof.
  intros Hn Hb G. apply sup_le_nonneg; [exact Hb|]. intros x [H [H1 ->]].
  destruct (moved_derivatives n d Z H Hn) as [J [D _]].
  match goal with |- frob n d ?A <= b => replace (frob n d A) with (frob n d J) end.
  - eapply Rle_trans; [apply (G H J D)|]. assert (0 <= frob n d H) by apply sqrt_pos. nra.
  - unfold frob, dot. f_equal. apply sum_ext; intros i Hi. apply sum_ext; intros a Ha.
    assert (E := is_derive_unique _ _ _ (D i a Hi Ha)). cbv beta in *.
    f_equal; (etransitivity; [symmetry; exact E|reflexivity]).
Qed.

Theorem proved_kim2021_3_2 : statement_kim2021_3_2.
Proof.
  intros n d Z Hn Hd phi. assert (N1 : 0 <= INR n - 1) by (assert (1 <= INR n) by (apply (le_INR 1); lia); lra).
  destruct (inverse_phi_spec (INR n - 1) N1) as [A1 A2]. fold phi in A1, A2.
  apply jacobian_le; [exact Hn|apply Rmult_le_pos; [apply sqrt_pos|lra]|]. intros H J D.
  apply (kim2021.kim_3_2 n d Z H J phi Hn A1 A2 D).
Qed.

Theorem proved_own_l2_lipschitz : statement_own_l2_lipschitz.
Proof.
  intros n d Z Hn Hd phi tau. assert (N1 : 0 <= INR n - 1) by (assert (1 <= INR n) by (apply (le_INR 1); lia); lra).
  destruct (inverse_phi_spec (INR n - 1) N1) as [A1 A2]. fold phi in A1, A2.
  destruct (inverse_phi_spec 1 ltac:(lra)) as [B1 B2]. fold tau in B1, B2.
  replace (power (INR n) (1 / 4)) with (Rpower (INR n) (/ 4)).
  2: { unfold power. destruct Rle_dec; [lra|]. f_equal. lra. }
  apply jacobian_le; [exact Hn| |].
  - assert (S := sqrt_pos (phi * Rmin ((INR n - 1) * tau) (sqrt (INR n) * ln (INR n) / 2))).
    assert (P := exp_pos (/ 4 * ln (INR n))). fold (Rpower (INR n) (/ 4)) in P. lra.
  - intros H J D. destruct (moved_derivatives n d Z H Hn) as [J' [D' L]].
    replace (frob n d J) with (frob n d J'); [now apply L|]. unfold frob, dot. f_equal. apply sum_ext; intros i Hi. apply sum_ext; intros a Ha.
    assert (E : J' i a = J i a) by (rewrite <- (is_derive_unique _ _ _ (D i a Hi Ha)); symmetry; exact (is_derive_unique _ _ _ (D' i a Hi Ha))).
    now rewrite E.
Qed.
