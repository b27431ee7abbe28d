(** A layer on the sphere whose logits grow with L, near signed coordinate vectors at which it rests in the limit.

    Attention tends to a0; X0 rests under it.  If the derivative of the limit is triangular, group by group, with row
    sums at most lam < 1 within the groups, then for large L an equilibrium lies near X0 and attracts. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms Softmax Jets SphereLayer Spectrum Germs.
From Rankmath Require checker_rules.
Local Open Scope R_scope.

(** A jet along a line is a derivative. *)
Lemma jet_line n d (f : mat -> R) Z J D : jet n d (fun H => f (madd Z H)) (f Z) J ->
  derivable_pt_lim (fun h => f (madd Z (fun i a => h * D i a))) 0 (lin n d J D).
Proof.
  intros (K & rho & K0 & R0 & H) eps He. set (B := 1 + sumentries n d D).
  assert (B1 : 1 <= B) by (unfold B; assert (P := sumentries_pos n d D); lra).
  assert (DB : forall p q, (p < n)%nat -> (q < d)%nat -> Rabs (D p q) <= B).
  { intros p q Hp Hq. unfold B, sumentries. assert (P : Rabs (D p q) <= sum d (fun q => Rabs (D p q))) by
      (apply (sum_term_le d (fun q => Rabs (D p q)) q); [intros; apply Rabs_pos|exact Hq]).
    assert (Q : sum d (fun q => Rabs (D p q)) <= sum n (fun p => sum d (fun q => Rabs (D p q)))) by
      (apply (sum_term_le n (fun p => sum d (fun q => Rabs (D p q))) p); [intros; apply sum_nonneg; intros;
        apply Rabs_pos|exact Hp]). lra. }
  assert (KB : 0 <= K * (B * B)) by (apply Rmult_le_pos; nra).
  assert (dp : 0 < Rmin (rho / B) (eps / (K * (B * B) + 1))) by (apply Rmin_glb_lt; apply Rdiv_lt_0_compat; lra).
  exists (mkposreal _ dp). intros h Nh Hh. cbn [pos] in Hh.
  assert (M1 := Rmin_l (rho / B) (eps / (K * (B * B) + 1))). assert (M2 := Rmin_r (rho / B) (eps / (K * (B * B) + 1))).
  assert (Hr : Rabs h * B <= rho).
  { assert (Q : Rabs h <= rho / B) by lra. apply (Rmult_le_compat_r B) in Q; [|lra].
    replace (rho / B * B) with rho in Q by (field; lra). exact Q. }
  assert (P := Rabs_pos h). assert (Ph : 0 < Rabs h) by now apply Rabs_pos_lt.
  specialize (H (Rabs h * B) (fun i a => h * D i a) ltac:(split; [nra|exact Hr])).
  assert (Wi : within n d (Rabs h * B) (fun i a => h * D i a)) by (intros p q Hp Hq; rewrite Rabs_mult;
    apply Rmult_le_compat_l; auto). specialize (H Wi). cbv beta in H.
  assert (E0 : madd Z (fun i a => 0 * D i a) = Z) by (apply functional_extensionality; intro i;
    apply functional_extensionality; intro a; unfold madd; ring). rewrite Rplus_0_l, E0.
  assert (El : lin n d J (fun i a => h * D i a) = h * lin n d J D).
  { unfold lin. rewrite <- sum_scal. apply sum_ext; intros p _. rewrite <- sum_scal. apply sum_ext; intros; ring. }
  rewrite El in H.
  replace ((f (madd Z (fun i a => h * D i a)) - f Z) / h - lin n d J D) with ((f (madd Z (fun i a => h * D i a)) - f Z
    - h * lin n d J D) / h) by (field; exact Nh).
  unfold Rdiv. rewrite Rabs_mult, Rabs_inv. apply Rle_lt_trans with (K * (B * B) * Rabs h).
  - apply Rmult_le_reg_r with (Rabs h); [exact Ph|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    eapply Rle_trans; [exact H|]. right. ring.
  - assert (Q : Rabs h < eps / (K * (B * B) + 1)) by lra. apply (Rmult_lt_compat_r (K * (B * B) + 1)) in Q; [|lra].
    replace (eps / (K * (B * B) + 1) * (K * (B * B) + 1)) with eps in Q by (field; lra). nra.
Qed.

Lemma sphere_unit n d M W G (dp : (0 < d)%nat) (pm : proper_mask n G) X i : (i < n)%nat ->
  0 < l2 d (Ux n d M W G X i) -> l2 d (sphere_map n d M W G X i) = 1.
Proof.
  intros Hi P. set (s := l2 d (Ux n d M W G X i)) in *.
  assert (Sq : s * s = dot d (Ux n d M W G X i) (Ux n d M W G X i)) by (unfold s, l2; apply sqrt_sqrt, dot_pos).
  unfold l2. replace (dot d (sphere_map n d M W G X i) (sphere_map n d M W G X i)) with 1; [apply sqrt_1|].
  unfold dot. rewrite (sum_ext d _ (fun b => / (s * s) * (Ux n d M W G X i b * Ux n d M W G X i b))).
  - rewrite sum_scal. fold (dot d (Ux n d M W G X i) (Ux n d M W G X i)). rewrite <- Sq. field. lra.
  - intros b _. rewrite sphere_form by assumption. fold s. field. lra.
Qed.

Section Sharp.
Variables (n d : nat) (M : R -> mat) (W G X0 a0 : mat) (sg : R -> vec) (gam : vec).
Hypothesis d_pos : (0 < d)%nat.
Hypothesis proper : proper_mask n G.
Hypothesis M_poly : forall c i j, 0 < c -> tends n d X0 c (fun L _ => M L i j) (fun L => M L i j).
(** Attention at X0, up to the factor exp(sg) of its row: exp(-L) from its limit. *)
Hypothesis sharp : forall c i j, 0 < c <= 1 -> (i < n)%nat -> (j < n)%nat ->
  tends n d X0 c (fun L _ => G i j * exp (bil d (X0 i) (M L) (X0 j) - sg L i)) (fun _ => a0 i j).
Hypothesis gam_pos : forall i, (i < n)%nat -> 0 < gam i.
Hypothesis rests0 : forall i b, (i < n)%nat -> (b < d)%nat ->
  sum n (fun j => a0 i j * vmat d (X0 j) W b) = gam i * X0 i b.
Hypothesis units : forall i, (i < n)%nat -> dot d (X0 i) (X0 i) = 1.

Definition att (L : R) (X : mat) (i j : nat) : R := G i j * exp (bil d (X i) (M L) (X j) - sg L i).
Definition val (L : R) (X : mat) (i b : nat) : R := sum n (fun j => att L X i j * vmat d (X j) W b).
Definition slope (A X N : mat) (i b p q : nat) : R :=
  sum n (fun j => A i j * (eye p j * W q b + vmat d (X j) W b * dlogit d N X i j p q)).
(** The derivative of the limit. *)
Definition limit (L : R) (i b p q : nat) : R :=
  (slope a0 X0 (M L) i b p q - X0 i b * sum d (fun e => X0 i e * slope a0 X0 (M L) i e p q)) * / gam i.

Section Rate.
Variable c : R.
Hypothesis c_in : 0 < c <= 1.
Notation tends := (tends n d X0 c).
Let cp : 0 < c := proj1 c_in.
Lemma vmat_tends j b : (j < n)%nat -> tends (fun _ X => vmat d (X j) W b) (fun _ => vmat d (X0 j) W b).
Proof.
  intros Hj. unfold vmat. apply (tends_sum n d X0 c d (fun a _ X => X j a * W a b) (fun a _ => X0 j a * W a b)).
  intros a Ha. apply (tends_mult n d X0 c cp); [now apply tends_var|now apply tends_const].
Qed.
Lemma logit_tends i j : (i < n)%nat -> (j < n)%nat ->
  tends (fun L X => bil d (X i) (M L) (X j)) (fun L => bil d (X0 i) (M L) (X0 j)).
Proof.
  intros Hi Hj. unfold bil. apply (tends_sum n d X0 c d (fun a L X => sum d (fun b => X i a * M L a b * X j b))
    (fun a L => sum d (fun b => X0 i a * M L a b * X0 j b))). intros a Ha.
  apply (tends_sum n d X0 c d (fun b L X => X i a * M L a b * X j b) (fun b L => X0 i a * M L a b * X0 j b)).
  intros b Hb. apply (tends_mult n d X0 c cp (fun L X => X i a * M L a b) (fun L => X0 i a * M L a b));
    [apply (tends_mult n d X0 c cp)|]; [now apply tends_var|now apply M_poly|now apply tends_var].
Qed.
Lemma att_tends i j : (i < n)%nat -> (j < n)%nat -> tends (fun L X => att L X i j) (fun _ => a0 i j).
Proof.
  intros Hi Hj. assert (S := sharp c i j c_in Hi Hj).
  assert (D : tends (fun L X => bil d (X i) (M L) (X j) - bil d (X0 i) (M L) (X0 j)) (fun _ => 0)).
  { destruct (logit_tends i j Hi Hj) as [m [N P]]. exists m. split.
    - intros L X HL B. rewrite Rminus_0_r. now apply N.
    - intros L HL. rewrite Rabs_R0. apply pow_le. assert (Q := from_one m L HL). lra. }
  assert (E := tends_map n d X0 c cp exp 0 (exp 0) _ (derivable_pt_lim_exp 0) D).
  eapply tends_ext; [exact (tends_mult n d X0 c cp _ _ _ _ S E)| |].
  - intros L X. cbv beta. unfold att. rewrite Rmult_assoc, <- exp_plus. f_equal. f_equal. ring.
  - intros L. cbv beta. rewrite exp_0. ring.
Qed.
Lemma val_tends i b : (i < n)%nat -> (b < d)%nat -> tends (fun L X => val L X i b) (fun _ => gam i * X0 i b).
Proof.
  intros Hi Hb. eapply tends_ext; [apply (tends_sum n d X0 c n (fun j L X => att L X i j * vmat d (X j) W b)
    (fun j _ => a0 i j * vmat d (X0 j) W b)); intros j Hj; apply (tends_mult n d X0 c cp);
    [now apply att_tends|now apply vmat_tends]|reflexivity|]. intros L. cbv beta. now apply rests0.
Qed.
Lemma size_tends i : (i < n)%nat -> tends (fun L X => dot d (val L X i) (val L X i)) (fun _ => gam i * gam i).
Proof.
  intros Hi. eapply tends_ext; [apply (tends_sum n d X0 c d (fun b L X => val L X i b * val L X i b)
    (fun b _ => gam i * X0 i b * (gam i * X0 i b))); intros b Hb; apply (tends_mult n d X0 c cp); now apply val_tends|
    reflexivity|].
  intros L. cbv beta. rewrite (sum_ext d _ (fun b => gam i * gam i * (X0 i b * X0 i b))) by (intros; ring).
  rewrite sum_scal. fold (dot d (X0 i) (X0 i)). rewrite units by exact Hi. ring.
Qed.
Lemma invroot_derivable q : 0 < q -> exists l, derivable_pt_lim (fun x => / sqrt x) q l.
Proof.
  intros H. assert (S := sqrt_lt_R0 q H). eexists. apply is_derive_Reals. auto_derive; [split; [exact H|split; [lra|
    exact I]]|reflexivity].
Qed.
Lemma root_tends i : (i < n)%nat -> tends (fun L X => / l2 d (val L X i)) (fun _ => / gam i).
Proof.
  intros Hi. assert (P := gam_pos i Hi). destruct (invroot_derivable (gam i * gam i) ltac:(nra)) as [l D].
  eapply tends_ext; [exact (tends_map n d X0 c cp (fun x => / sqrt x) _ l _ D (size_tends i Hi))|reflexivity|].
  intros L. cbv beta. rewrite sqrt_square by lra. reflexivity.
Qed.
Lemma Ux_val L X i b : Ux n d (M L) W G X i b = exp (sg L i) * val L X i b.
Proof.
  unfold Ux, val, Ex, att. rewrite <- sum_scal. apply sum_ext; intros j _.
  replace (exp (bil d (X i) (M L) (X j))) with (exp (sg L i) * exp (bil d (X i) (M L) (X j) - sg L i)) by
    (rewrite <- exp_plus; f_equal; ring). ring.
Qed.
Lemma l2_Ux L X i : l2 d (Ux n d (M L) W G X i) = exp (sg L i) * l2 d (val L X i).
Proof.
  replace (Ux n d (M L) W G X i) with (fun b => exp (sg L i) * val L X i b) by (apply functional_extensionality; intro;
    now rewrite Ux_val).
  change (l2 d (fun b => exp (sg L i) * val L X i b)) with (L2 d (fun b => exp (sg L i) * val L X i b)).
  rewrite (sn_scal (L2 d)). rewrite Rabs_right by (left; apply exp_pos). reflexivity.
Qed.
Lemma map_form L X i b : (i < n)%nat -> sphere_map n d (M L) W G X i b = val L X i b * / l2 d (val L X i).
Proof.
  intros Hi. rewrite sphere_form by assumption. rewrite l2_Ux, Ux_val. assert (P := exp_pos (sg L i)).
  unfold Rdiv. rewrite Rinv_mult. generalize (/ l2 d (val L X i)). intro r. field. lra.
Qed.
Lemma map_tends i b : (i < n)%nat -> (b < d)%nat ->
  tends (fun L X => sphere_map n d (M L) W G X i b) (fun _ => X0 i b).
Proof.
  intros Hi Hb. assert (P := gam_pos i Hi).
  eapply tends_ext; [exact (tends_mult n d X0 c cp _ _ _ _ (val_tends i b Hi Hb) (root_tends i Hi))| |].
  - intros L X. cbv beta. now rewrite map_form.
  - intros L. cbv beta. field. lra.
Qed.
Lemma slope_tends i b p q : (i < n)%nat -> tends (fun L X => slope (att L X) X (M L) i b p q)
  (fun L => slope a0 X0 (M L) i b p q).
Proof.
  intros Hi. unfold slope, dlogit.
  apply (tends_sum n d X0 c n (fun j L X => att L X i j * (eye p j * W q b + vmat d (X j) W b * (eye p i * sum d
    (fun e => M L q e * X j e) + eye p j * sum d (fun a => X i a * M L a q)))) (fun j L => a0 i j * (eye p j * W q b +
      vmat d (X0 j) W b * (eye p i * sum d (fun e => M L q e * X0 j e) + eye p j * sum d (fun a => X0 i a * M L a
        q))))). intros j Hj.
  apply (tends_mult n d X0 c cp (fun L X => att L X i j) (fun _ => a0 i j)); [now apply att_tends|].
  apply (tends_plus n d X0 c (fun _ _ => eye p j * W q b) (fun _ => eye p j * W q b)); [now apply tends_const|].
  apply (tends_mult n d X0 c cp (fun _ X => vmat d (X j) W b) (fun _ => vmat d (X0 j) W b)); [now apply vmat_tends|].
  apply (tends_plus n d X0 c (fun L X => eye p i * sum d (fun e => M L q e * X j e)) (fun L => eye p i * sum d (fun e
    => M L q e * X0 j e))); apply (tends_mult n d X0 c cp (fun _ _ => _) (fun _ => _)); try apply tends_const;
    try exact cp.
  - apply (tends_sum n d X0 c d (fun e L X => M L q e * X j e) (fun e L => M L q e * X0 j e)). intros e He.
    apply (tends_mult n d X0 c cp); [now apply M_poly|now apply tends_var].
  - apply (tends_sum n d X0 c d (fun a L X => X i a * M L a q) (fun a L => X0 i a * M L a q)). intros a Ha.
    apply (tends_mult n d X0 c cp); [now apply tends_var|now apply M_poly].
Qed.
Lemma dU_slope L X i b p q : dU n d (M L) W G X i b p q = exp (sg L i) * slope (att L X) X (M L) i b p q.
Proof.
  unfold dU, slope, Ex, att. rewrite <- sum_scal. apply sum_ext; intros j _.
  replace (exp (bil d (X i) (M L) (X j))) with (exp (sg L i) * exp (bil d (X i) (M L) (X j) - sg L i)) by
    (rewrite <- exp_plus; f_equal; ring). ring.
Qed.
Lemma dF_form L X i b p q : (i < n)%nat -> dF n d (M L) W G X i b p q = (slope (att L X) X (M L) i b p q
  - sphere_map n d (M L) W G X i b * sum d (fun e => sphere_map n d (M L) W G X i e * slope (att L X) X (M L) i e p q))
  * / l2 d (val L X i).
Proof.
  intros Hi. unfold dF. rewrite l2_Ux, dU_slope. assert (P := exp_pos (sg L i)).
  rewrite (sum_ext d _ (fun e => exp (sg L i) * (sphere_map n d (M L) W G X i e * slope (att L X) X (M L) i e p q)))
    by (intros; rewrite dU_slope; ring). rewrite sum_scal.
  unfold Rdiv. rewrite Rinv_mult. generalize (/ l2 d (val L X i)). intro r. field. lra.
Qed.
Lemma dF_tends i b p q : (i < n)%nat -> (b < d)%nat ->
  tends (fun L X => dF n d (M L) W G X i b p q) (fun L => limit L i b p q).
Proof.
  intros Hi Hb. eapply tends_ext.
  - apply (tends_mult n d X0 c cp (fun L X => slope (att L X) X (M L) i b p q + -1 * (sphere_map n d (M L) W G X i b *
      sum d (fun e => sphere_map n d (M L) W G X i e * slope (att L X) X (M L) i e p q)))
      (fun L => slope a0 X0 (M L) i b p q + -1 * (X0 i b * sum d (fun e => X0 i e * slope a0 X0 (M L) i e p q)))
      (fun L X => / l2 d (val L X i)) (fun _ => / gam i)); [|now apply root_tends].
    apply (tends_plus n d X0 c); [now apply slope_tends|].
    apply (tends_mult n d X0 c cp (fun _ _ => -1) (fun _ => -1)); [now apply tends_const|].
    apply (tends_mult n d X0 c cp (fun L X => sphere_map n d (M L) W G X i b) (fun _ => X0 i b));
      [now apply map_tends|].
    apply (tends_sum n d X0 c d (fun e L X => sphere_map n d (M L) W G X i e * slope (att L X) X (M L) i e p q)
      (fun e L => X0 i e * slope a0 X0 (M L) i e p q)). intros e He.
    apply (tends_mult n d X0 c cp (fun L X => sphere_map n d (M L) W G X i e) (fun _ => X0 i e));
      [now apply map_tends|now apply slope_tends].
  - intros L X. cbv beta. rewrite dF_form by exact Hi. ring.
  - intros L. cbv beta. unfold limit. ring.
Qed.
(** Where the layer can be normalised. *)
Lemma rows_pos : exists L0, forall L X, L0 <= L -> box n d X0 c L X -> forall i, (i < n)%nat ->
  0 < l2 d (Ux n d (M L) W G X i).
Proof.
  destruct (uniform n (fun i m => forall L X, INR (S m) <= L -> box n d X0 c L X -> 0 < l2 d (Ux n d (M L) W G X i)))
    as [m Hm].
  - intros i m m' Hm H L X HL B. apply H; [|exact B]. destruct (pow_up m m' L Hm HL). assumption.
  - intros i Hi. assert (P := gam_pos i Hi). destruct (size_tends i Hi) as [m [N _]].
    destruct (small c cp m (gam i * gam i / 2) ltac:(nra)) as [L0 HL0]. destruct (INR_above L0) as [m0 H0].
    exists (m + m0)%nat. intros L X HL B. destruct (pow_up m (m + m0) L ltac:(lia) HL) as [A _].
    assert (INR m0 <= INR (S (m + m0))) by (apply le_INR; lia). specialize (N L X A B). specialize (HL0 L ltac:(lra)).
    rewrite l2_Ux. apply Rmult_lt_0_compat; [apply exp_pos|]. unfold l2. apply sqrt_lt_R0.
    assert (Q := Rle_trans _ _ _ N HL0). apply Rabs_le_between in Q. assert (0 < gam i * gam i) by nra. lra.
  - exists (INR (S m)). intros L X HL B i Hi. exact (Hm i Hi L X HL B).
Qed.
End Rate.

(* ---------- the limit is triangular, group by group ---------- *)
Variables (lam eta : R) (ord : nat -> nat -> nat) (top : nat) (grp : nat -> nat -> nat -> nat -> bool).
Hypothesis lam_in : 0 <= lam < 1.
Hypothesis eta_in : 0 < eta <= (1 - lam) / 2.
Hypothesis ord_top : forall i a, (i < n)%nat -> (a < d)%nat -> (ord i a <= top)%nat.
Hypothesis grp_ord : forall i a p b, grp i a p b = true -> ord p b = ord i a.
Hypothesis tri : forall L i a p b, (i < n)%nat -> (a < d)%nat -> (p < n)%nat -> (b < d)%nat ->
  grp i a p b = false -> (ord i a <= ord p b)%nat -> limit L i a p b = 0.
Hypothesis rows : forall L i a, (i < n)%nat -> (a < d)%nat ->
  sum n (fun p => sum d (fun b => if grp i a p b then Rabs (limit L i a p b) else 0)) <= lam.
Definition weight (m : nat) (L : R) (i a : nat) : R := (L ^ S m) ^ ord i a.
Definition small_rows (m : nat) (L : R) (X : mat) : Prop := forall i a, (i < n)%nat -> (a < d)%nat ->
  (forall p b, (p < n)%nat -> (b < d)%nat -> Rabs (dF n d (M L) W G X i a p b - limit L i a p b) <= eta) /\
  sum n (fun p => sum d (fun b => (if grp i a p b then Rabs (dF n d (M L) W G X i a p b - limit L i a p b)
    else Rabs (dF n d (M L) W G X i a p b)) * weight m L p b)) <= eta * weight m L i a.

Lemma weight_in m L i a : 1 <= L -> (i < n)%nat -> (a < d)%nat -> 1 <= weight m L i a <= (L ^ S m) ^ top.
Proof.
  intros HL Hi Ha. assert (T : 1 <= L ^ S m) by now apply pow_R1_Rle.
  split; [now apply pow_R1_Rle|]. apply Rle_pow; [exact T|now apply ord_top].
Qed.
Lemma rows_near c : 0 < c <= 1 -> exists m L0, 1 <= L0 /\ forall L X, L0 <= L -> box n d X0 c L X -> small_rows m L X.
Proof.
  intros Hc. destruct (uniform n (fun i m => forall a p b, (a < d)%nat -> (p < n)%nat -> (b < d)%nat ->
    near_at n d X0 c m (fun L X => dF n d (M L) W G X i a p b) (fun L => limit L i a p b) /\
    poly_at m (fun L => limit L i a p b))) as [m Hm].
  { intros i m m' L H a p b Ha Hp Hb. destruct (H a p b Ha Hp Hb). split; [now apply (near_up n d X0 c m)|
      now apply (poly_up m)]. }
  { intros i Hi. destruct (uniform d (fun a m => forall p b, (p < n)%nat -> (b < d)%nat ->
      near_at n d X0 c m (fun L X => dF n d (M L) W G X i a p b) (fun L => limit L i a p b) /\
      poly_at m (fun L => limit L i a p b))) as [m Hm].
    { intros a m m' L H p b Hp Hb. destruct (H p b Hp Hb). split; [now apply (near_up n d X0 c m)|
        now apply (poly_up m)]. }
    { intros a Ha. destruct (uniform n (fun p m => forall b, (b < d)%nat ->
        near_at n d X0 c m (fun L X => dF n d (M L) W G X i a p b) (fun L => limit L i a p b) /\
        poly_at m (fun L => limit L i a p b))) as [m Hm].
      { intros p m m' L H b Hb. destruct (H b Hb). split; [now apply (near_up n d X0 c m)|now apply (poly_up m)]. }
      { intros p Hp. destruct (uniform d (fun b m =>
          near_at n d X0 c m (fun L X => dF n d (M L) W G X i a p b) (fun L => limit L i a p b) /\
          poly_at m (fun L => limit L i a p b))) as [m Hm].
        { intros b m m' L [H1 H2]. split; [now apply (near_up n d X0 c m)|now apply (poly_up m)]. }
        { intros b Hb. destruct (dF_tends c Hc i a p b Hi Ha) as [m [N P]]. exists m. split; assumption. }
        exists m. intros b Hb. now apply Hm. }
      exists m. intros p b Hp Hb. now apply Hm. }
    exists m. intros a p b Ha Hp Hb. now apply Hm. }
  set (N := INR n * INR d). assert (N0 : 0 <= N) by (apply Rmult_le_pos; apply pos_INR).
  destruct (small c (proj1 Hc) (m + S m * top) (eta / (2 * (N + 1)))) as [L1 H1].
  { apply Rdiv_lt_0_compat; lra. }
  exists m, (Rmax (Rmax 1 (INR (S m))) (Rmax L1 (4 * (N + 1) / eta))).
  assert (R1 := Rmax_l (Rmax 1 (INR (S m))) (Rmax L1 (4 * (N + 1) / eta))).
  assert (R2 := Rmax_r (Rmax 1 (INR (S m))) (Rmax L1 (4 * (N + 1) / eta))).
  assert (R3 := Rmax_l 1 (INR (S m))). assert (R4 := Rmax_r 1 (INR (S m))).
  assert (R5 := Rmax_l L1 (4 * (N + 1) / eta)). assert (R6 := Rmax_r L1 (4 * (N + 1) / eta)).
  split; [lra|]. intros L X HL B i a Hi Ha. set (th := L ^ S m) in *.
  assert (L1' : 1 <= L) by lra. assert (th1 : 1 <= th) by now apply pow_R1_Rle.
  assert (tht : 1 <= th ^ top) by now apply pow_R1_Rle. set (e := L ^ m * exp (- (c * L))).
  assert (Lm : 1 <= L ^ m) by now apply pow_R1_Rle. assert (ep := exp_pos (- (c * L))).
  assert (e0 : 0 <= e) by (unfold e; apply Rmult_le_pos; lra).
  assert (em : e <= L ^ m).
  { unfold e. rewrite <- (Rmult_1_r (L ^ m)) at 2. apply Rmult_le_compat_l; [lra|].
    apply (decay_one c (proj1 Hc) m). lra. }
  assert (eT : e * th ^ top <= eta / (2 * (N + 1))).
  { eapply Rle_trans; [|apply (H1 L ltac:(lra))]. right. unfold e, th. rewrite <- pow_mult, pow_add. ring. }
  assert (Q : N * (eta / (2 * (N + 1))) <= eta / 2).
  { apply Rmult_le_reg_r with (2 * (N + 1)); [lra|]. replace (N * (eta / (2 * (N + 1))) * (2 * (N + 1))) with (N * eta)
      by (field; lra). nra. }
  assert (D : forall p b, (p < n)%nat -> (b < d)%nat ->
    Rabs (dF n d (M L) W G X i a p b - limit L i a p b) <= e /\ Rabs (limit L i a p b) <= L ^ m).
  { intros p b Hp Hb. destruct (Hm i Hi a p b Ha Hp Hb) as [Nr Po]. split; [apply Nr; [lra|exact B]|apply Po; lra]. }
  split.
  - intros p b Hp Hb. destruct (D p b Hp Hb) as [Nr _]. eapply Rle_trans; [exact Nr|].
    assert (e * 1 <= e * th ^ top) by (apply Rmult_le_compat_l; lra).
    assert (eta / (2 * (N + 1)) <= eta).
    { apply Rmult_le_reg_r with (2 * (N + 1)); [lra|]. replace (eta / (2 * (N + 1)) * (2 * (N + 1))) with eta by (field;
        lra). nra. } lra.
  - set (w := weight m L i a). assert (w1 : 1 <= w) by (apply (weight_in m L i a L1' Hi Ha)).
    apply Rle_trans with (sum n (fun _ => sum d (fun _ => 2 * L ^ m * (w * / th) + e * th ^ top))).
    + apply sum_le; intros p Hp. apply sum_le; intros b Hb. destruct (D p b Hp Hb) as [Nr Po].
      destruct (weight_in m L p b L1' Hp Hb) as [v1 v2]. fold th in v2.
      assert (X1 : 0 <= 2 * L ^ m * (w * / th)) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; [lra|left;
        apply Rinv_0_lt_compat; lra]]).
      assert (X2 : forall x, Rabs x <= e -> Rabs x * weight m L p b <= e * th ^ top) by (intros x Hx;
        apply Rmult_le_compat; [apply Rabs_pos|lra|exact Hx|exact v2]).
      destruct (grp i a p b) eqn:Eg; [specialize (X2 _ Nr); lra|].
      destruct (Nat.le_gt_cases (ord i a) (ord p b)) as [Le|Gt].
      * rewrite (tri L i a p b Hi Ha Hp Hb Eg Le), Rminus_0_r in Nr. specialize (X2 _ Nr). lra.
      * assert (V : weight m L p b <= w * / th).
        { unfold w, weight. fold th. replace (ord i a) with (S (ord i a - 1)) by lia. simpl pow at 2.
          replace (th * th ^ (ord i a - 1) * / th) with (th ^ (ord i a - 1)) by (field; lra).
          apply Rle_pow; [exact th1|lia]. }
        assert (Y : Rabs (dF n d (M L) W G X i a p b) <= 2 * L ^ m).
        { replace (dF n d (M L) W G X i a p b) with ((dF n d (M L) W G X i a p b - limit L i a p b) + limit L i a p b)
            by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
        assert (0 <= e * th ^ top) by (apply Rmult_le_pos; lra).
        assert (Rabs (dF n d (M L) W G X i a p b) * weight m L p b <= 2 * L ^ m * (w * / th)) by
          (apply Rmult_le_compat; [apply Rabs_pos|lra|exact Y|exact V]). lra.
    + rewrite sum_const, sum_const, <- Rmult_assoc. fold N.
      assert (Z1 : N * (2 * L ^ m * (w * / th)) <= eta / 2 * w).
      { replace (N * (2 * L ^ m * (w * / th))) with (2 * N * / L * w) by (unfold th; simpl; field; split; lra).
        apply Rmult_le_compat_r; [lra|]. apply Rmult_le_reg_r with L; [lra|].
        rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
        assert (U : 4 * (N + 1) / eta <= L) by lra. apply (Rmult_le_compat_r eta) in U; [|lra].
        replace (4 * (N + 1) / eta * eta) with (4 * (N + 1)) in U by (field; lra). lra. }
      assert (Z2 : N * (e * th ^ top) <= eta / 2) by (eapply Rle_trans; [apply Rmult_le_compat_l; [exact N0|exact eT]|
        exact Q]). assert (eta / 2 * 1 <= eta / 2 * w) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Definition rate : R := lam + eta.
Lemma rate_in : 0 < rate < 1.
Proof. unfold rate. lra. Qed.
Lemma whole_rows m L X i a : 1 <= L -> small_rows m L X -> (i < n)%nat -> (a < d)%nat ->
  sum n (fun p => sum d (fun b => Rabs (dF n d (M L) W G X i a p b) * weight m L p b)) <= rate * weight m L i a.
Proof.
  intros HL S Hi Ha. destruct (S i a Hi Ha) as [_ R]. assert (V := proj1 (weight_in m L i a HL Hi Ha)).
  assert (T := rows L i a Hi Ha). apply (Rmult_le_compat_r (weight m L i a)) in T; [|lra].
  rewrite <- sum_scal_r in T. unfold rate. rewrite Rmult_plus_distr_r.
  eapply Rle_trans; [|apply Rplus_le_compat; [exact T|exact R]]. rewrite <- sum_plus. apply sum_le; intros p Hp.
  rewrite <- sum_scal_r, <- sum_plus. apply sum_le; intros b Hb. destruct (grp i a p b) eqn:Eg; [|lra].
  assert (Ew : weight m L p b = weight m L i a) by (unfold weight; now rewrite (grp_ord i a p b Eg)). rewrite Ew.
  rewrite <- Rmult_plus_distr_r. apply Rmult_le_compat_r; [lra|].
  replace (dF n d (M L) W G X i a p b) with (limit L i a p b + (dF n d (M L) W G X i a p b - limit L i a p b)) at 1 by
    ring. apply Rabs_triang.
Qed.

(** The layer contracts the weighted distance. *)
Lemma contracts m L X Y t : 1 <= L -> (forall Z, box n d X0 (1/2) L Z -> small_rows m L Z /\
    forall i, (i < n)%nat -> 0 < l2 d (Ux n d (M L) W G Z i)) ->
  box n d X0 (1/2) L X -> box n d X0 (1/2) L Y -> 0 <= t ->
  (forall i a, (i < n)%nat -> (a < d)%nat -> Rabs (Y i a - X i a) <= t * weight m L i a) ->
  forall i a, (i < n)%nat -> (a < d)%nat ->
  Rabs (sphere_map n d (M L) W G Y i a - sphere_map n d (M L) W G X i a) <= rate * t * weight m L i a.
Proof.
  intros HL H BX BY t0 HD i a Hi Ha. set (D := fun p q => Y p q - X p q : R).
  set (at_ := fun s => (fun p q => X p q + s * D p q) : mat).
  assert (Box : forall s, 0 <= s <= 1 -> box n d X0 (1/2) L (at_ s)).
  { intros s Hs p q Hp Hq. specialize (BX p q Hp Hq). specialize (BY p q Hp Hq). cbv beta in *. unfold at_, D.
    replace (X p q + s * (Y p q - X p q) - X0 p q) with ((1 - s) * (X p q - X0 p q) + s * (Y p q - X0 p q)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_right (1 - s)), (Rabs_right s) by lra. nra. }
  destruct (MVT_cor2 (fun s => sphere_map n d (M L) W G (at_ s) i a) (fun s => lin n d (dF n d (M L) W G (at_ s) i a)
    D) 0 1 Rlt_0_1) as (s & E & Hs).
  - intros s Hs. destruct (H _ (Box s Hs)) as [_ P].
    assert (J := layer_derivative n d (M L) W G d_pos proper (at_ s) P i a Hi Ha).
    assert (Q := jet_line n d (fun Z => sphere_map n d (M L) W G Z i a) (at_ s) _ D J).
    intros e He. destruct (Q e He) as [dl Hd]. exists dl. intros h Nh Hh. specialize (Hd h Nh Hh). cbv beta in Hd.
    replace (madd (at_ s) (fun i a => (0 + h) * D i a)) with (at_ (s + h)) in Hd by (apply functional_extensionality;
      intro; apply functional_extensionality; intro; unfold madd, at_; ring).
    replace (madd (at_ s) (fun i a => 0 * D i a)) with (at_ s) in Hd by (apply functional_extensionality;
      intro; apply functional_extensionality; intro; unfold madd, at_; ring). exact Hd.
  - replace (at_ 1) with Y in E by (apply functional_extensionality; intro; apply functional_extensionality; intro;
      unfold at_, D; ring).
    replace (at_ 0) with X in E by (apply functional_extensionality; intro; apply functional_extensionality; intro;
      unfold at_, D; ring).
    rewrite E, Rminus_0_r, Rmult_1_r. destruct (H _ (Box s ltac:(lra))) as [Sr _].
    assert (Rw := whole_rows m L (at_ s) i a HL Sr Hi Ha).
    replace (rate * t * weight m L i a) with (t * (rate * weight m L i a)) by ring.
    eapply Rle_trans; [|apply Rmult_le_compat_l; [exact t0|exact Rw]]. unfold lin.
    eapply Rle_trans; [apply sum_abs|]. rewrite <- sum_scal. apply sum_le; intros p Hp.
    eapply Rle_trans; [apply sum_abs|]. rewrite <- sum_scal. apply sum_le; intros q Hq. rewrite Rabs_mult.
    replace (t * (Rabs (dF n d (M L) W G (at_ s) i a p q) * weight m L p q)) with (Rabs (dF n d (M L) W G (at_ s) i a p
      q) * (t * weight m L p q)) by ring. apply Rmult_le_compat_l; [apply Rabs_pos|now apply HD].
Qed.

Lemma flat_index p : (p < n * d)%nat -> (p / d < n)%nat /\ (p mod d < d)%nat /\ (p / d * d + p mod d)%nat = p.
Proof.
  intros H. split; [apply Nat.div_lt_upper_bound; lia|split; [apply Nat.mod_upper_bound; lia|]].
  rewrite Nat.mul_comm. symmetry. apply Nat.div_mod. lia.
Qed.
Lemma flat_at i a : (a < d)%nat -> ((i * d + a) / d = i /\ (i * d + a) mod d = a)%nat.
Proof.
  intros H. rewrite Nat.add_comm, Nat.div_add, Nat.mod_add, Nat.div_small, Nat.mod_small by lia. lia.
Qed.
Lemma flat_lt i a : (i < n)%nat -> (a < d)%nat -> (i * d + a < n * d)%nat.
Proof. intros. nia. Qed.

(** For large L an equilibrium lies near X0 and attracts; entries that the layer keeps at zero are zero. *)
Theorem sharp_rest (zero : nat -> bool) :
  (forall i b, (i < n)%nat -> (b < d)%nat -> zero b = true -> X0 i b = 0) ->
  (forall L X, (forall i b, (i < n)%nat -> (b < d)%nat -> zero b = true -> X i b = 0) ->
    forall i b, (i < n)%nat -> (b < d)%nat -> zero b = true -> sphere_map n d (M L) W G X i b = 0) ->
  exists L0, forall L, L0 <= L -> exists (m : nat) (Z : mat), let F := sphere_map n d (M L) W G in
  1 <= L /\ within n d eta (fun i a => Z i a - X0 i a) /\ fixed n d F Z /\ attracts n d F Z /\
  (forall i, (i < n)%nat -> l2 d (Z i) = 1) /\ derivative n d F Z (dF n d (M L) W G Z) /\ small_rows m L Z /\
  forall i b, (i < n)%nat -> (b < d)%nat -> zero b = true -> Z i b = 0.
Proof.
  intros Zx Zf. assert (half : 0 < 1/2 <= 1) by lra. assert (one : 0 < 1 <= 1) by lra.
  destruct (rows_near (1/2) half) as (m & L1 & L1p & H1). destruct (rows_pos (1/2) half) as (L2 & H2).
  destruct (uniform n (fun i m => forall a, (a < d)%nat ->
    near_at n d X0 1 m (fun L X => sphere_map n d (M L) W G X i a) (fun _ => X0 i a))) as [m1 Hm1].
  { intros i k k' Lk H a Ha. apply (near_up n d X0 1 k); auto. }
  { intros i Hi. destruct (uniform d (fun a m =>
      near_at n d X0 1 m (fun L X => sphere_map n d (M L) W G X i a) (fun _ => X0 i a))) as [m1 Hm1].
    { intros a k k' Lk H. now apply (near_up n d X0 1 k). }
    { intros a Ha. destruct (map_tends 1 one i a Hi Ha) as [k [N _]]. now exists k. }
    exists m1. exact Hm1. }
  assert (Rt := rate_in).
  destruct (small (1/2) ltac:(lra) (m1 + S m * top) (1 - rate) ltac:(lra)) as [L3 H3].
  destruct (small (1/2) ltac:(lra) 0 eta (proj1 eta_in)) as [L4 H4].
  exists (Rmax (Rmax L1 L2) (Rmax (INR (S m1)) (Rmax L3 L4))). intros L HL.
  assert (LB : L1 <= L /\ L2 <= L /\ INR (S m1) <= L /\ L3 <= L /\ L4 <= L).
  { assert (A1 := Rmax_l (Rmax L1 L2) (Rmax (INR (S m1)) (Rmax L3 L4))).
    assert (A2 := Rmax_r (Rmax L1 L2) (Rmax (INR (S m1)) (Rmax L3 L4))).
    assert (A3 := Rmax_l L1 L2). assert (A4 := Rmax_r L1 L2). assert (A5 := Rmax_l (INR (S m1)) (Rmax L3 L4)).
    assert (A6 := Rmax_r (INR (S m1)) (Rmax L3 L4)). assert (A7 := Rmax_l L3 L4). assert (A8 := Rmax_r L3 L4). lra. }
  destruct LB as (B1 & B2 & B3 & B4 & B5). assert (Lone : 1 <= L) by lra. specialize (H3 L B4). specialize (H4 L B5).
  set (F := sphere_map n d (M L) W G). set (th := L ^ S m). assert (th1 : 1 <= th) by now apply pow_R1_Rle.
  assert (tht : 1 <= th ^ top) by now apply pow_R1_Rle. set (e := exp (- (1/2 * L))) in *.
  assert (ep : 0 < e) by apply exp_pos. set (size := e * / th ^ top).
  assert (sp : 0 < size) by (apply Rmult_lt_0_compat; [exact ep|apply Rinv_0_lt_compat; lra]).
  assert (sw : forall i a, (i < n)%nat -> (a < d)%nat -> size * weight m L i a <= e).
  { intros i a Hi Ha. destruct (weight_in m L i a Lone Hi Ha) as [_ V]. fold th in V.
    apply Rle_trans with (size * th ^ top); [apply Rmult_le_compat_l; lra|]. unfold size. right. field. lra. }
  assert (HB : forall Z, box n d X0 (1/2) L Z -> small_rows m L Z /\ forall i, (i < n)%nat ->
    0 < l2 d (Ux n d (M L) W G Z i)) by (intros Z BZ; split; [apply H1; auto|apply H2; auto]).
  set (un := fun (y : vec) => (fun i a => y (i * d + a)%nat) : mat).
  set (Fl := fun (y : vec) (p : nat) => F (un y) (p / d)%nat (p mod d)).
  set (xl := fun p => X0 (p / d)%nat (p mod d) : R). set (wl := fun p => weight m L (p / d)%nat (p mod d)).
  assert (wlp : forall p, (p < n * d)%nat -> 0 < wl p).
  { intros p Hp. destruct (flat_index p Hp) as (I1 & I2 & _). assert (V := weight_in m L _ _ Lone I1 I2). unfold wl.
    lra. }
  assert (nearE : forall s y z, checker_rules.near (n * d) wl s y z <-> forall i a, (i < n)%nat -> (a < d)%nat ->
    Rabs (un y i a - un z i a) <= s * weight m L i a).
  { intros s y z. split.
    - intros H i a Hi Ha. specialize (H _ (flat_lt i a Hi Ha)). unfold wl in H. destruct (flat_at i a Ha) as [E1 E2].
      rewrite E1, E2 in H. exact H.
    - intros H p Hp. destruct (flat_index p Hp) as (I1 & I2 & I3). specialize (H _ _ I1 I2). unfold un in H.
      rewrite I3 in H. exact H. }
  assert (unx : forall i a, (a < d)%nat -> un xl i a = X0 i a).
  { intros i a Ha. unfold un, xl. destruct (flat_at i a Ha) as [-> ->]. reflexivity. }
  assert (unF : forall y i a, (a < d)%nat -> un (Fl y) i a = F (un y) i a).
  { intros y i a Ha. unfold un at 1, Fl. destruct (flat_at i a Ha) as [-> ->]. reflexivity. }
  assert (inbox : forall y, checker_rules.near (n * d) wl size y xl -> box n d X0 (1/2) L (un y)).
  { intros y H i a Hi Ha. cbv beta. destruct (nearE size y xl) as [N _]. specialize (N H i a Hi Ha).
    rewrite unx in N by exact Ha. fold e. specialize (sw i a Hi Ha). lra. }
  destruct (checker_rules.rule_contraction (n * d) Fl xl wl size rate wlp sp Rt) as (z & Nz & Fz & _ & It & _).
  - intros y z t Ny Nz t0 Nt. apply nearE. intros i a Hi Ha. rewrite !unF by exact Ha.
    apply (contracts m L (un z) (un y) t Lone HB (inbox z Nz) (inbox y Ny) t0); auto. now apply nearE.
  - apply nearE. intros i a Hi Ha. rewrite unF, unx by exact Ha.
    assert (Bx : box n d X0 1 L (un xl)).
    { intros p q Hp Hq. cbv beta. rewrite unx by exact Hq. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. left.
      apply exp_pos. }
    specialize (Hm1 i Hi a Ha L (un xl) B3 Bx). cbv beta in Hm1. fold F in Hm1. eapply Rle_trans; [exact Hm1|].
    apply Rle_trans with ((1 - rate) * size).
    + apply (Rmult_le_compat_r size) in H3; [|lra]. eapply Rle_trans; [|exact H3]. right. unfold size, e, th.
      replace (- (1 * L)) with (- (1/2 * L) + - (1/2 * L)) by field. rewrite exp_plus, pow_add, pow_mult. fold th.
        field.
      fold th. lra.
    + assert (V := proj1 (weight_in m L i a Lone Hi Ha)).
      assert (0 <= (1 - rate) * size) by (apply Rmult_le_pos; lra). nra.
  - assert (Bz := inbox z Nz). exists m, (un z). intro F'. change F' with F. destruct (HB _ Bz) as [Sr Ps].
    assert (Fx : fixed n d F (un z)).
    { intros i a Hi Ha. rewrite <- unF by exact Ha. unfold un at 1 2. apply Fz. now apply flat_lt. }
    assert (Dv : derivative n d F (un z) (dF n d (M L) W G (un z))) by (now apply layer_derivative).
    split; [exact Lone|]. split; [|split; [exact Fx|split; [|split; [|split; [exact Dv|split; [exact Sr|]]]]]].
    + intros i a Hi Ha. specialize (Bz i a Hi Ha). cbv beta in *. fold e in Bz. simpl in H4. lra.
    + apply (attraction_weights n d F (un z) _ (weight m L) rate Fx Dv); [lra| |].
      * intros i a Hi Ha. assert (V := weight_in m L i a Lone Hi Ha). lra.
      * intros i a Hi Ha. now apply whole_rows.
    + intros i Hi. rewrite <- (sphere_unit n d (M L) W G d_pos proper (un z) i Hi (Ps i Hi)). unfold l2. f_equal.
      apply sum_ext; intros a Ha. assert (E := Fx i a Hi Ha). unfold F in E. now rewrite E.
    + intros i b Hi Hb Hz.
      assert (Zt : forall t i b, (i < n)%nat -> (b < d)%nat -> zero b = true -> un (Nat.iter t Fl xl) i b = 0).
      { induction t as [|t IH]; intros j q Hj Hq Hz'; [simpl; rewrite unx by exact Hq; now apply Zx|].
        simpl. rewrite unF by exact Hq. now apply Zf. }
      assert (N0 : checker_rules.near (n * d) wl size xl xl).
      { intros p Hp. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. specialize (wlp p Hp). nra. }
      apply cond_eq. intros eps He. rewrite Rminus_0_r. set (A := 2 * size * weight m L i b).
      assert (V := weight_in m L i b Lone Hi Hb). assert (A0 : 0 < A) by (unfold A; nra).
      destruct (pow_lt_1_zero rate ltac:(rewrite Rabs_right; lra) (eps / A) ltac:(now apply Rdiv_lt_0_compat)) as [t
        Ht].
      specialize (Ht t (le_n t)). rewrite Rabs_right in Ht by (apply Rle_ge, pow_le; lra).
      assert (K := proj1 (nearE _ _ _) (It xl N0 t) i b Hi Hb). rewrite Zt in K by assumption.
      replace (0 - un z i b) with (- un z i b) in K by ring. rewrite Rabs_Ropp in K.
      apply (Rmult_lt_compat_r A) in Ht; [|exact A0]. replace (eps / A * A) with eps in Ht by (field; lra).
      unfold A in Ht. lra.
Qed.

(** Where every group is one entry, the eigenvalues are those of the limit up to eta. *)
Theorem sharp_discs m L Z (z : C) : (forall i a p b, (i < n)%nat -> grp i a p b = andb (Nat.eqb p i) (Nat.eqb b a)) ->
  1 <= L ->  small_rows m L Z -> eigenvalue n d (dF n d (M L) W G Z) z -> exists i a, (i < n)%nat /\ (a < d)%nat /\
    Cmod (z - RtoC (limit L i a i a))%C <= eta.
Proof.
  intros Eg HL Sr [v [[i0 [a0' [Hi0 [Ha0 N0]]]] Hv]]. set (w := weight m L).
  assert (Wp : forall i a, (i < n)%nat -> (a < d)%nat -> 0 < w i a) by (intros i a Hi Ha;
    assert (V := weight_in m L i a HL Hi Ha); unfold w; lra).
  set (f := fun i => maxf d (fun a => Cmod (v i a) / w i a)). set (mx := maxf n f).
  assert (Ub : forall i a, (i < n)%nat -> (a < d)%nat -> Cmod (v i a) <= mx * w i a).
  { intros i a Hi Ha. assert (Q : Cmod (v i a) / w i a <= mx) by (eapply Rle_trans; [apply (maxf_ub d (fun a => Cmod
      (v i a) / w i a) a Ha)|apply (maxf_ub n f i Hi)]). specialize (Wp i a Hi Ha).
    apply (Rmult_le_compat_r (w i a)) in Q; [|lra]. replace (Cmod (v i a) / w i a * w i a) with (Cmod (v i a)) in Q by
      (field; lra). exact Q. }
  assert (mp : 0 < mx).
  { specialize (Ub i0 a0' Hi0 Ha0). assert (P := Cmod_gt_0 (v i0 a0')). assert (0 < Cmod (v i0 a0')) by tauto.
    specialize (Wp i0 a0' Hi0 Ha0). destruct (Rle_lt_dec mx 0) as [Q|Q]; [nra|exact Q]. }
  destruct (maxf_attained n f) as [Q|[i [Hi Q]]]; [fold mx in Q; lra|]. fold mx in Q.
  destruct (maxf_attained d (fun a => Cmod (v i a) / w i a)) as [Q'|[a [Ha Q']]]; [unfold f in Q; lra|].
  assert (Wi := Wp i a Hi Ha).
  assert (Va : Cmod (v i a) = mx * w i a) by (unfold f in Q; rewrite Q, Q'; field; lra).
  exists i, a. split; [exact Hi|split; [exact Ha|]]. set (t := limit L i a i a). set (J := dF n d (M L) W G Z) in *.
  set (K := (fun p b => if grp i a p b then J i a p b - limit L i a p b else J i a p b) : mat).
  assert (LK : forall u : mat, lin n d K u = lin n d (J i a) u - t * u i a).
  { intro u. rewrite (lin_ext n d K (fun p b => J i a p b + - t * (eye i p * eye a b))).
    - unfold lin. rewrite (sum_ext n _ (fun p => sum d (fun b => J i a p b * u p b) + - t * (eye i p * sum d (fun b =>
        eye a b * u p b)))).
      + rewrite sum_plus, sum_scal, (sum_eye_l n (fun p => sum d (fun b => eye a b * u p b)) i Hi),
          (sum_eye_l d (fun b => u i b) a Ha). ring.
      + intros p _. rewrite <- sum_scal, <- sum_scal, <- sum_plus. apply sum_ext; intros; ring.
    - intros p b Hp Hb. unfold K. rewrite Eg by exact Hi. unfold eye.
      destruct (Nat.eqb_spec p i) as [->|Np]; [rewrite Nat.eqb_refl; destruct (Nat.eqb_spec b a) as [->|Nb];
        [rewrite Nat.eqb_refl|destruct (Nat.eqb_spec a b); [lia|]]|destruct (Nat.eqb_spec i p); [lia|]]; cbn [andb];
        unfold t; ring. }
  assert (E : ((z - RtoC t) * v i a)%C = csum n (fun p => csum d (fun b => RtoC (K p b) * v p b)%C)).
  { rewrite apply_parts, !LK. assert (E := Hv i a Hi Ha). rewrite apply_parts in E.
    unfold Cminus, Copp, Cplus, Cmult in *.
    destruct z as [zr zi]. destruct (v i a) as [x y]. unfold RtoC in *. cbn [fst snd] in *. injection E as E1 E2.
    f_equal; lra. }
  apply (f_equal Cmod) in E. rewrite Cmod_mult, Va in E.
  assert (Big : Cmod (csum n (fun p => csum d (fun b => RtoC (K p b) * v p b)%C)) <= mx * (eta * w i a)).
  { destruct (Sr i a Hi Ha) as [_ R]. eapply Rle_trans; [|apply Rmult_le_compat_l; [lra|exact R]].
    eapply Rle_trans; [apply csum_mod|]. rewrite <- sum_scal. apply sum_le; intros p Hp.
    eapply Rle_trans; [apply csum_mod|]. rewrite <- sum_scal. apply sum_le; intros b Hb. rewrite Cmod_mult, Cmod_R.
    unfold K. specialize (Ub p b Hp Hb). fold w.
    replace (mx * ((if grp i a p b then Rabs (dF n d (M L) W G Z i a p b - limit L i a p b) else Rabs (dF n d (M L) W G
      Z i a p b)) * w p b)) with (Rabs (if grp i a p b then J i a p b - limit L i a p b else J i a p b) * (mx * w p b))
      by (unfold J; destruct (grp i a p b); ring).
    apply Rmult_le_compat_l; [apply Rabs_pos|exact Ub]. }
  apply Rmult_le_reg_r with (mx * w i a); [now apply Rmult_lt_0_compat|]. rewrite E.
  eapply Rle_trans; [exact Big|]. right. ring.
Qed.
End Sharp.
