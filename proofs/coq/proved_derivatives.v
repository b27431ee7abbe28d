(** Registered statements about derivatives, as Statements.v prints them: that the derivatives exist is proved here
  too. [softmax_gradient_both] says of each half of folk:softmax-gradient where it fails. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require own_l2_lipschitz kim2021 zhai2023 folk yudin2025.
From Rankmath Require Import Definitions Functions Norms Softmax own_order Language LanguageFacts Statements.
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
Lemma softmax_along m (c v : vec) T j : (0 < m)%nat -> (j < m)%nat -> T <> 0 ->
  let p := softmax m (fun _ => 1) (fun k => c k / T) in
  is_derive (fun h => softmax m (fun _ => 1) (fun k => (c k + h * v k) / T) j) 0 (p j * (v j - avg m p v) / T).
Proof.
  intros Hm Hj HT p.
  assert (Sel : forall q : vec, sum m (fun k => q k * eye k j) = q j).
  { intro q. rewrite (sum_single m _ j Hj); [unfold eye; rewrite Nat.eqb_refl; ring|].
    intros k _ N. unfold eye. apply Nat.eqb_neq in N. rewrite N. ring. }
  apply (is_derive_ext (fun h => sum m (fun k => softmax m (fun _ => 1) (fun k => c k / T + h * (v k / T)) k * eye k
    j))).
  { intro h. rewrite Sel. unfold softmax. apply tilt_ext; [reflexivity|intros; unfold Rdiv; ring|exact Hj]. }
  evar_last.
  - apply (kim2021.mean_derivative m (fun k h => c k / T + h * (v k / T)) (fun k _ => eye k j) (fun k => v k / T) (fun
      _ => 0) Hm);
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
  intros m c T Hm HT. change (spectral (slope_matrix m c T) <= 1 / (2 * T)).
  replace (1 / (2 * T)) with (/ (2 * T)) by (field; lra).
  apply spectral_le; [left; apply Rinv_0_lt_compat; lra|]. intro v.
  apply (folk.softmax_gradient m T c v); [lra|]. intros j Hj. rewrite slope_along by (auto; lra).
  apply softmax_along; auto; lra.
Qed.

(** Two equal logits: the norm is 1/(2T) at least. *)
Lemma equal_logits T : 0 < T -> 1 / (2 * T) <= softmax_slope ((fun _ => 0) : vector 2) T.
Proof.
  intro HT. set (c := (fun _ => 0) : vector 2). change (1 / (2 * T) <= spectral (slope_matrix 2 c T)).
  set (v := fun i => match i with O => 1 | _ => -1 end : R).
  assert (B := spectral_bound 2 2 (slope_matrix 2 c T) v).
  assert (p : forall j, softmax 2 (fun _ => 1) (fun k => c k / T) j = 1 / 2).
  { intro j. unfold softmax, tilt, c. cbn [sum]. unfold Rdiv. rewrite Rmult_0_l, exp_0. field. }
  assert (E : forall j, (j < 2)%nat -> vmat 2 v (slope_matrix 2 c T) j = v j / (2 * T)).
  { intros j Hj. rewrite slope_along by (auto; lra || lia). unfold avg. cbn [sum]. rewrite !p. cbn [v].
    destruct j as [|j]; cbn [v]; field; lra. }
  assert (T0 : 0 < / (2 * T)) by (apply Rinv_0_lt_compat; lra).
  assert (L : l2 2 (vmat 2 v (slope_matrix 2 c T)) = l2 2 v * / (2 * T)).
  { unfold l2, dot. cbn [sum]. rewrite !E by lia. cbn [v].
    replace (0 + 1 / (2 * T) * (1 / (2 * T)) + -1 / (2 * T) * (-1 / (2 * T)))
      with ((0 + 1 * 1 + -1 * -1) * (/ (2 * T) * / (2 * T))) by (field; lra).
    rewrite sqrt_mult_alt by lra. rewrite sqrt_square by lra. reflexivity. }
  rewrite L in B. assert (V : 0 < l2 2 v) by (unfold l2, dot; cbn [sum v]; apply sqrt_lt_R0; lra).
  unfold Rdiv. rewrite Rmult_1_l. apply Rmult_le_reg_l with (l2 2 v); [exact V|]. lra.
Qed.

(** 1/(4T) is wrong for every T, and the root of 2 for every T below 1/sqrt 8. *)
Theorem softmax_gradient_both T : 0 < T -> exists (m : nat) (c : vector m), (0 < m)%nat /\
  ~ softmax_slope c T <= 1 / (4 * T) /\ (T < 1 / sqrt 8 -> ~ softmax_slope c T <= sqrt 2).
Proof.
  intro HT. exists 2%nat, (fun _ => 0). assert (B := equal_logits T HT). split; [lia|split].
  - intro H. assert (G : 1 / (4 * T) < 1 / (2 * T)); [|lra].
    unfold Rdiv. rewrite !Rmult_1_l. apply Rinv_lt_contravar; [nra|lra].
  - intros L H. assert (r0 : 0 < sqrt 8) by (apply sqrt_lt_R0; lra).
    assert (E : sqrt 8 = 2 * sqrt 2).
    { replace 8 with (2 * 2 * 2) by ring. rewrite sqrt_mult_alt by lra. now rewrite sqrt_square by lra. }
    assert (G : sqrt 2 < 1 / (2 * T)); [|lra]. apply Rmult_lt_reg_r with (2 * T); [lra|].
    replace (1 / (2 * T) * (2 * T)) with 1 by (field; lra). apply Rmult_lt_compat_l with (r := sqrt 8) in L; [|exact r0].
    replace (sqrt 8 * (1 / sqrt 8)) with 1 in L by (field; lra). rewrite E in L. lra.
Qed.

Theorem refuted_folk_softmax_gradient : ~ statement_folk_softmax_gradient.
Proof.
  intro H. destruct (softmax_gradient_both 1 ltac:(lra)) as [m [c [Hm [N _]]]]. apply N, (H m c 1 Hm). lra.
Qed.

(* ---------- attention along a direction of the weights ---------- *)
Theorem proved_own_zero_grad : statement_own_zero_grad.
Proof.
  intros n d m Z M V G Hn Hd Hm i Hi. unfold weight_gradient, logit_shift, value_spread.
  apply (zhai2023.zero_grad n d m Z M G V i); [exact Hi| | |].
  - intros a Ha. apply Derive_correct. apply (mix_exists n (fun k => bil d (Z i) M (Z k)) (fun k => bil d (Z i) G (Z
      k)) (fun j => vmat d (Z j) V a) Hn).
  - intros j k Hj Hk. apply (osc_spec n (fun j => bil d (Z i) G (Z j)) j k Hj Hk).
  - intros j k Hj Hk. eapply Rle_trans; [|apply (largest_ub n (fun j => largest n (fun k => l2 m (vsub (vmat d (Z j) V)
      (vmat d (Z k) V)))) j Hj)].
    apply (largest_ub n (fun k => l2 m (vsub (vmat d (Z j) V) (vmat d (Z k) V))) k Hk).
Qed.

Theorem proved_noci2022_zero_grad : statement_noci2022_zero_grad.
Proof.
  intros n d m Z M V G Hn Hd Hm Eq i a Hi Ha.
  assert (D : forall a, is_derive (mixed_along Z M G V i a) 0 (Derive (mixed_along Z M G V i a) 0)).
  { intro b. apply Derive_correct, (mix_exists n (fun k => bil d (Z i) M (Z k)) (fun k => bil d (Z i) G (Z k)) (fun j
      => vmat d (Z j) V b) Hn). }
  assert (E := zhai2023.no_grad n d m Z M G V i (fun a => Derive (mixed_along Z M G V i a) 0) Hi Eq (fun a _ => D a) a
    Ha).
  assert (Da := D a). cbv beta in E. rewrite E in Da. exact Da.
Qed.

(* ---------- attention by distances ---------- *)
Lemma inverse_phi_spec x : 0 <= x -> 0 <= inverse_phi x /\ inverse_phi x * exp (inverse_phi x + 1) = x.
Proof.
  intros Hx. set (f := fun y => y * exp (y + 1)).
  assert (Mono : forall a b, 0 <= a -> a < b -> f a < f b).
  { intros a b Ha Hab. unfold f. assert (E := exp_increasing (a + 1) (b + 1) ltac:(lra)).
    assert (P := exp_pos (a + 1)). nra. }
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
    frob n d J <= (Rpower (INR n) (/ 4) + 2 * phi + 2 * sqrt (phi * Rmin ((INR n - 1) * tau) (sqrt (INR n) * ln (INR n)
      / 2))) * frob n d H.
Proof.
  intros Hn. assert (N1 : 0 <= INR n - 1) by (assert (1 <= INR n) by (apply (le_INR 1); lia); lra).
  destruct (inverse_phi_spec (INR n - 1) N1) as [A1 A2]. destruct (inverse_phi_spec 1 ltac:(lra)) as [B1 B2].
  destruct (own_l2_lipschitz.l2_lipschitz n d Z H _ _ Hn A1 A2 B1 B2) as [J [D _]].
  exists J. split; [exact D|]. intros phi tau P1 P2 T1 T2.
  destruct (own_l2_lipschitz.l2_lipschitz n d Z H phi tau Hn P1 P2 T1 T2) as [J' [D' L]].
  replace (frob n d J) with (frob n d J'); [exact L|]. unfold frob, dot. f_equal. apply sum_ext; intros i Hi.
  apply sum_ext; intros a Ha.
  assert (E : J' i a = J i a) by (rewrite <- (is_derive_unique _ _ _ (D i a Hi Ha)); symmetry;
    exact (is_derive_unique _ _ _ (D' i a Hi Ha))).
  now rewrite E.
Qed.

Lemma jacobian_le n d (Z : matrix n d) b : (0 < n)%nat -> 0 <= b ->
  (forall H J : mat, (forall i a, (i < n)%nat -> (a < d)%nat ->
     is_derive (fun t => kim2021.distance_attention n d (fun p q => Z p q + t * H p q) i a) 0 (J i a)) ->
       frob n d J <= b * frob n d H) ->
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
    replace (frob n d J) with (frob n d J'); [now apply L|]. unfold frob, dot. f_equal. apply sum_ext; intros i Hi.
    apply sum_ext; intros a Ha.
    assert (E : J' i a = J i a) by (rewrite <- (is_derive_unique _ _ _ (D i a Hi Ha)); symmetry;
      exact (is_derive_unique _ _ _ (D' i a Hi Ha))).
    now rewrite E.
Qed.

(* ---------- the two largest shares ---------- *)
Definition besides (i j : nat) : nat := if Nat.ltb j i then j else S j.
Lemma sum_besides k f i : (i <= k)%nat -> sum (S k) f = f i + sum k (fun j => f (besides i j)).
Proof.
  revert i. induction k as [|k IH]; intros i Hi; [replace i with 0%nat by lia; simpl; ring|].
  change (sum (S (S k)) f) with (sum (S k) f + f (S k)). destruct (Nat.eq_dec i (S k)) as [->|N].
  - rewrite (sum_ext (S k) (fun j => f (besides (S k) j)) f); [ring|]. intros j Hj. unfold besides.
    destruct (Nat.ltb_spec j (S k)); [reflexivity|lia].
  - rewrite (IH i) by lia. cbn [sum]. unfold besides at 3. destruct (Nat.ltb_spec k i); [lia|]. ring.
Qed.

(** p_i the largest entry, p2 a bound of the others: two_shares, wherever the largest is. *)
Lemma two_shares_at m (p v : vec) i p2 : (i < m)%nat -> (forall j, (j < m)%nat -> 0 <= p j) -> sum m p = 1 ->
  (forall j, (j < m)%nat -> j <> i -> p j <= p2) -> 0 <= p2 <= p i ->
  sum m (fun j => p j * (v j * v j)) - sum m (fun j => p j * v j) * sum m (fun j => p j * v j)
  <= p i * (1 - p i + p2) * sum m (fun j => v j * v j).
Proof.
  intros Hi P0 P1 P2 H2. destruct m as [|k]; [lia|].
  assert (T := yudin2025.two_shares k (fun j => match j with O => p i | S l => p (besides i l) end)
    (fun j => match j with O => v i | S l => v (besides i l) end) p2).
  assert (B : forall j, (j < k)%nat -> (besides i j < S k)%nat /\ besides i j <> i) by (intros j Hj; unfold besides;
    destruct (Nat.ltb_spec j i); lia).
  rewrite !sum_head in T. cbv beta iota in T.
  rewrite !(sum_besides k _ i) by lia. apply T.
  - intros [|j] Hj; [apply P0; lia|apply P0, B; lia].
  - rewrite <- P1. symmetry. apply (sum_besides k p i). lia.
  - intros j Hj. apply P2; now apply B.
  - exact H2.
Qed.

Lemma top_share_one m (c : vector m) T i : (i < m)%nat -> let p := shares ((fun k => c k / T) : vector m) in
  (forall j, (j < m)%nat -> p j <= p i) -> top_share c T 1 = p i.
Proof.
  intros Hi p Top. apply sup_is.
  - exists (fun _ => i). split; [intros; lia|split; [auto|reflexivity]].
  - intros y (f & _ & Hf & ->). cbn [least]. apply Top. apply Hf. lia.
Qed.
Lemma top_share_two m (c : vector m) T i j : (i < m)%nat -> (j < m)%nat -> j <> i ->
  let p := shares ((fun k => c k / T) : vector m) in (forall l, (l < m)%nat -> p l <= p i) -> p j <= top_share c T 2.
Proof.
  intros Hi Hj Ne p Top. apply (sup_ub _ (p i)).
  - intros y (f & _ & Hf & ->). eapply Rle_trans; [apply (least_lb 2 _ 0%nat); lia|]. apply Top, Hf. lia.
  - exists (fun l => match l with O => i | _ => j end). split; [intros [|[|a]] [|[|b]] Ha Hb E; try lia; congruence|].
    split; [intros [|l] _; assumption|]. cbn [least]. specialize (Top j Hj). unfold Rmin.
    destruct Rle_dec; [|reflexivity].
    apply Rle_antisym; assumption.
Qed.

Theorem proved_yudin2025_softmax : statement_yudin2025_softmax.
Proof.
  intros m c T Hm HT. change (spectral (slope_matrix m c T) <= top_share c T 1 * (1 - top_share c T 1 + top_share c T
    2) / T).
  set (p := shares ((fun k => c k / T) : vector m)). destruct (largest_attained m p Hm) as [i [Hi Li]].
  assert (Top : forall j, (j < m)%nat -> p j <= p i) by (intros j Hj; rewrite <- Li; now apply largest_ub).
  assert (p0 : forall j, 0 < p j) by (intro; now apply shares_pos). assert (p1 : sum m p = 1) by now apply shares_sum.
  rewrite (top_share_one m c T i Hi Top). fold p. set (p2 := top_share c T 2).
  assert (P2 : forall j, (j < m)%nat -> j <> i -> p j <= p2) by (intros j Hj N; now apply (top_share_two m c T i j)).
  assert (B2 : 0 <= p2 <= p i).
  { split.
    - destruct (Nat.eq_dec m 1) as [E|E].
      + unfold p2, top_share. right. symmetry. unfold sup_of. rewrite (is_lub_Rbar_unique _ m_infty); [reflexivity|].
        split.
        * intros x (f & Inj & Hf & _). exfalso. assert (A := Hf 0%nat ltac:(lia)). assert (B := Hf 1%nat ltac:(lia)).
          assert (Q := Inj 0%nat 1%nat ltac:(lia) ltac:(lia) ltac:(lia)). lia.
        * intros b _. now destruct b.
      + set (j := if Nat.eqb i 0 then 1%nat else 0%nat). assert (Hj : (j < m)%nat /\ j <> i) by (unfold j;
          destruct (Nat.eqb_spec i 0); lia).
        eapply Rle_trans; [left; apply (p0 j)|now apply P2].
    - apply sup_le_nonneg; [left; apply p0|]. intros y (f & _ & Hf & ->).
      eapply Rle_trans; [apply (least_lb 2 _ 0%nat); lia|]. apply Top, Hf. lia. }
  assert (P3 : p i <= 1) by (rewrite <- p1; apply (sum_term_le m p i); [intros; left; apply p0|exact Hi]).
  set (K := p i * (1 - p i + p2)). assert (K0 : 0 <= K) by (unfold K; apply Rmult_le_pos; [left; apply p0|lra]).
  (* |v (diag p - p p^T)|^2 = <w, A w> with A <= K and A >= 0 *)
  assert (Quad : forall v, 0 <= sum m (fun j => p j * (v j * v j)) - avg m p v * avg m p v <= K * sum m (fun j => v j *
    v j)).
  { intro v. split.
    - replace (sum m (fun j => p j * (v j * v j)) - avg m p v * avg m p v) with (sum m (fun j => p j * ((v j - avg m p
        v) * (v j - avg m p v)))).
      + apply sum_nonneg; intros j _. apply Rmult_le_pos; [left; apply p0|apply Rle_0_sqr].
      + rewrite (sum_ext m _ (fun j => p j * (v j * v j) - 2 * avg m p v * (p j * v j) + avg m p v * avg m p v * p j))
          by (intros; ring).
        rewrite sum_plus, sum_minus, !sum_scal, p1. fold (avg m p v). ring.
    - apply (two_shares_at m p v i p2 Hi (fun j _ => Rlt_le _ _ (p0 j)) p1 P2 B2). }
  apply spectral_le; [apply Rle_mult_inv_pos; assumption|]. intro v.
  set (w := fun j => p j * (v j - avg m p v)).
  assert (E : l2 m (vmat m v (slope_matrix m c T)) = / T * l2 m w).
  { rewrite <- (Rabs_right (/ T)) by (left; now apply Rinv_0_lt_compat). rewrite <- l2_scal. unfold l2, dot. f_equal.
    apply sum_ext; intros j Hj.
    rewrite slope_along by (auto; lra). unfold w. fold (shares ((fun k => c k / T) : vector m)). fold p. unfold Rdiv.
    ring. }
  rewrite E. replace (K / T * l2 m v) with (/ T * (K * l2 m v)) by (unfold Rdiv; ring).
  apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|].
  (* semidefinite forms: <v, A w>^2 <= <v, A v><w, A w> *)
  set (q := fun x y => sum m (fun j => p j * (x j * y j)) - avg m p x * avg m p y).
  assert (Q1 : dot m w w = q v w).
  { unfold q, dot. rewrite (sum_ext m (fun a => w a * w a) (fun j => p j * (v j * w j) - avg m p v * (p j * w j))) by
      (intros; unfold w; ring).
    rewrite sum_minus, sum_scal. reflexivity. }
  assert (Lin : forall t, q (fun j => v j - t * w j) (fun j => v j - t * w j) = q v v - 2 * t * q v w + t * t * q w w).
  { intro t. unfold q. assert (A : avg m p (fun j => v j - t * w j) = avg m p v - t * avg m p w).
    { unfold avg. rewrite <- sum_scal, <- sum_minus. apply sum_ext; intros; ring. }
    rewrite A. rewrite (sum_ext m _ (fun j => p j * (v j * v j) - 2 * t * (p j * (v j * w j)) + t * t * (p j * (w j * w
      j)))) by (intros; ring).
    rewrite sum_plus, sum_minus, !sum_scal. ring. }
  assert (Qw := Quad w). assert (Qv := Quad v). fold (q w w) in Qw. fold (q v v) in Qv.
  assert (Sq : forall x, sum m (fun j => x j * x j) = l2 m x * l2 m x) by (intro x; symmetry; apply sqrt_sqrt, dot_pos).
  rewrite (Sq w) in Qw. rewrite (Sq v) in Qv. assert (W0 := l2_nonneg m w). assert (V0 := l2_nonneg m v).
  assert (WW : l2 m w * l2 m w = q v w) by (rewrite <- Q1; apply sqrt_sqrt, dot_pos).
  destruct (Req_dec (q w w) 0) as [Z|Z].
  - (* then q v w = 0 as well *)
    assert (q v w = 0).
    { apply Rle_antisym; [|rewrite <- WW; nra]. destruct (Rle_or_lt (q v w) 0) as [|P]; [assumption|exfalso].
      set (t := (q v v + 1) / (2 * q v w)). assert (N : 0 <= q (fun j => v j - t * w j) (fun j => v j - t * w j)) by
        apply (Quad (fun j => v j - t * w j)).
      rewrite Lin, Z in N. assert (2 * t * q v w = q v v + 1) by (unfold t; field; lra). nra. }
    assert (l2 m w = 0) by nra. nra.
  - set (t := q v w / q w w). assert (N : 0 <= q (fun j => v j - t * w j) (fun j => v j - t * w j)) by apply (Quad (fun
      j => v j - t * w j)).
    rewrite Lin in N. assert (CS : q v w * q v w <= q v v * q w w).
    { replace (q v v - 2 * t * q v w + t * t * q w w) with (q v v - q v w * q v w / q w w) in N by (unfold t; field;
        lra).
      assert (P : 0 < q w w) by lra. apply Rmult_le_reg_r with (/ q w w); [now apply Rinv_0_lt_compat|].
      replace (q v v * q w w * / q w w) with (q v v) by (field; lra). unfold Rdiv in N. lra. }
    rewrite <- WW in CS. set (a := l2 m w) in *. set (b := l2 m v) in *.
    assert (a * a * (a * a) <= K * (b * b) * (K * (a * a))) by (eapply Rle_trans; [exact CS|apply Rmult_le_compat;
      lra]).
    destruct W0 as [W0|W0]; [|rewrite <- W0; now apply Rmult_le_pos].
    assert (a * a <= K * b * (K * b)) by (apply Rmult_le_reg_r with (a * a); [nra|]; lra).
    apply Rsqr_incr_0; [unfold Rsqr; assumption|lra|now apply Rmult_le_pos].
Qed.
