(** own:gaussian-length: a Gaussian vector of k entries is longer than sqrt k + t with probability exp(-t^2/2) at most.

    Its length has the density r^(k-1) exp(-r^2/2), up to a factor.  With r = u + t, u >= sqrt k,
    (u + t)^(k-1) exp(-(u+t)^2/2) <= u^(k-1) exp(-u^2/2) exp(-t^2/2), for (1 + t/u)^(k-1) <= exp(kt/u) <= exp(ut). *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Language.
Local Open Scope R_scope.

Lemma radial_continuous k r : continuous (radial k) r.
Proof. apply (ex_derive_continuous (radial k)). unfold radial. auto_derive. exact I. Qed.
Lemma radial_integrable k a b : ex_RInt (radial k) a b.
Proof. apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros; apply radial_continuous. Qed.
Lemma radial_pos k r : 0 <= r -> 0 <= radial k r.
Proof. intros H. unfold radial. apply Rmult_le_pos; [now apply pow_le|left; apply exp_pos]. Qed.
Lemma power_exp m r : 0 <= r -> exists C, 0 <= C /\ forall s, 0 <= s -> s ^ m <= C * exp s.
Proof.
  intros _. destruct m as [|m]; [exists 1; split; [lra|]; intros s Hs; assert (E := exp_ineq1_le s); simpl; lra|].
  set (a := INR (S m)). assert (a1 : 0 < a) by (apply lt_0_INR; lia). exists (a ^ S m). split; [apply pow_le; lra|].
  intros s Hs. replace (exp s) with (exp (s / a) ^ S m).
  - rewrite <- Rpow_mult_distr. apply pow_incr. split; [exact Hs|]. assert (E := exp_ineq1_le (s / a)).
    apply Rle_trans with (a * (s / a)); [right; field; lra|]. apply Rmult_le_compat_l; lra.
  - assert (P : forall x j, exp x ^ j = exp (INR j * x)).
    { intros x j. induction j as [|j IH]; [simpl; now rewrite Rmult_0_l, exp_0|]. rewrite S_INR. simpl pow.
      rewrite IH, <- exp_plus. f_equal. ring. }
    rewrite P. fold a. f_equal. field. lra.
Qed.
Lemma exp_mono x y : x <= y -> exp x <= exp y.
Proof. intros [H| ->]; [left; now apply exp_increasing|lra]. Qed.
(** Below C exp(-r), so that its integrals are bounded. *)
Lemma radial_below k : exists C, 0 <= C /\ forall r, 0 <= r -> radial k r <= C * exp (- r).
Proof.
  destruct (power_exp (k - 1) 0 (Rle_refl 0)) as (C & C0 & H). exists (C * exp 2).
  split; [apply Rmult_le_pos; [lra|left; apply exp_pos]|]. intros r Hr. unfold radial.
  apply Rle_trans with (C * exp r * exp (- (2 * r) + 2)).
  - apply Rmult_le_compat; [now apply pow_le|left; apply exp_pos|now apply H|]. apply exp_mono.
    assert (Q := Rle_0_sqr (r - 2)).
    unfold Rsqr in Q. lra.
  - right. rewrite !Rmult_assoc, <- !exp_plus. f_equal. f_equal. ring.
Qed.
Lemma integral_bounded k a : 0 <= a -> exists B, forall b, a <= b -> RInt (radial k) a b <= B.
Proof.
  intros Ha. destruct (radial_below k) as (C & C0 & H). exists C. intros b Hb.
  assert (I : is_RInt (fun r => C * exp (- r)) a b (- C * exp (- b) - - C * exp (- a))).
  { apply (is_RInt_derive (fun r => - C * exp (- r)) (fun r => C * exp (- r))).
    - intros x _. auto_derive; [exact I|ring].
    - intros x _. apply (ex_derive_continuous (fun r => C * exp (- r))). auto_derive. exact I. }
  apply Rle_trans with (RInt (fun r => C * exp (- r)) a b).
  - apply RInt_le; [exact Hb|apply radial_integrable|now exists (- C * exp (- b) - - C * exp (- a))|].
    intros x Hx. apply H. lra.
  - rewrite (is_RInt_unique _ _ _ _ I). assert (E := exp_pos (- b)).
    assert (E' : exp (- a) <= 1) by (rewrite <- exp_0; apply exp_mono; lra). nra.
Qed.
(** The integral from a on is the least upper bound of those that end. *)
Lemma from_on_sup k a : 0 <= a -> is_lim (fun b => RInt (radial k) a b) p_infty (from_on (radial k) a) /\
  forall b, a <= b -> RInt (radial k) a b <= from_on (radial k) a.
Proof.
  intros Ha. set (F := fun b => RInt (radial k) a b).
  assert (Mono : forall b c, a <= b -> b <= c -> F b <= F c).
  { intros b c Hb Hc. unfold F. rewrite <- (RInt_Chasles (radial k) a b c) by apply radial_integrable.
    assert (P : 0 <= RInt (radial k) b c) by (apply RInt_ge_0; [exact Hc|apply radial_integrable|]; intros x Hx;
      apply radial_pos; lra). unfold plus. simpl. lra. }
  destruct (integral_bounded k a Ha) as [B HB].
  destruct (completeness (fun y => exists b, a <= b /\ y = F b)) as [l [U L]].
  - exists B. intros y (b & Hb & ->). now apply HB.
  - exists (F a), a. split; [lra|reflexivity].
  - assert (Lm : is_lim F p_infty l).
    { apply is_lim_spec. intros eps. assert (W : exists b, a <= b /\ l - eps < F b).
      { apply Classical_Prop.NNPP. intro N. assert (Q := L (l - eps)). assert (P := cond_pos eps).
        assert (Q' : l <= l - eps); [|lra]. apply Q. intros y (b & Hb & ->).
        destruct (Rle_lt_dec (F b) (l - eps)) as [G|G]; [exact G|]. exfalso. apply N. exists b. split; assumption. }
      destruct W as (b & Hb & G). exists b. intros x Hx. assert (Fb := Mono b x Hb ltac:(lra)).
      assert (Fx : F x <= l) by (apply U; exists x; split; [lra|reflexivity]). apply Rabs_def1; lra. }
    assert (E : from_on (radial k) a = l) by (unfold from_on; fold F; now rewrite (is_lim_unique _ _ _ Lm)).
    rewrite E. split; [exact Lm|]. intros b Hb. apply U. exists b. split; [exact Hb|reflexivity].
Qed.
Lemma power_ratio m u t : 0 < u -> 0 <= t -> (u + t) ^ m <= u ^ m * exp (INR m * (t / u)).
Proof.
  intros Hu Ht. induction m as [|m IH]; [simpl; rewrite Rmult_0_l, exp_0; lra|]. rewrite S_INR. simpl pow.
  replace ((INR m + 1) * (t / u)) with (INR m * (t / u) + t / u) by ring. rewrite exp_plus.
  assert (E := exp_ineq1_le (t / u)). assert (P : 0 <= (u + t) ^ m) by (apply pow_le; lra).
  assert (Q : u + t <= u * exp (t / u)) by (apply Rle_trans with (u * (1 + t / u)); [right; field; lra|
    apply Rmult_le_compat_l; lra]).
  apply Rle_trans with ((u * exp (t / u)) * (u ^ m * exp (INR m * (t / u)))); [|right; ring].
  apply Rmult_le_compat; lra.
Qed.
Lemma shifted_below k t u : (0 < k)%nat -> 0 <= t -> sqrt (INR k) <= u ->
  radial k (u + t) <= exp (- t ^ 2 / 2) * radial k u.
Proof.
  intros Hk Ht Hu. assert (Kp : 0 < INR k) by now apply lt_0_INR. assert (S := sqrt_lt_R0 _ Kp).
  assert (Sq : sqrt (INR k) * sqrt (INR k) = INR k) by (apply sqrt_sqrt; lra). assert (ku : INR k <= u * u) by nra.
  unfold radial. assert (Q := power_ratio (k - 1) u t ltac:(lra) Ht).
  apply Rle_trans with (u ^ (k - 1) * exp (INR (k - 1) * (t / u)) * exp (- (u + t) ^ 2 / 2)).
  - apply Rmult_le_compat_r; [left; apply exp_pos|exact Q].
  - replace (exp (- t ^ 2 / 2) * (u ^ (k - 1) * exp (- u ^ 2 / 2))) with (u ^ (k - 1) * (exp (- t ^ 2 / 2) * exp (- u ^
      2 / 2))) by ring.
    rewrite Rmult_assoc, <- !exp_plus. apply Rmult_le_compat_l; [apply pow_le; lra|]. apply exp_mono.
    assert (T : INR (k - 1) * (t / u) <= u * t).
    { assert (INR (k - 1) <= INR k) by (apply le_INR; lia).
      apply Rle_trans with (u * u * (t / u)); [|right; field; lra]. apply Rmult_le_compat_r; [|lra].
      apply Rmult_le_pos; [exact Ht|left; apply Rinv_0_lt_compat; lra]. }
    nra.
Qed.
Lemma tail_shift k t a b : 0 <= a -> RInt (radial k) (a + t) (b + t) = RInt (fun u => radial k (u + t)) a b.
Proof.
  intros _. assert (H := RInt_comp_lin (V := R_CompleteNormedModule) (radial k) 1 t a b (radial_integrable k _ _)).
  replace (a + t) with (1 * a + t) by ring. replace (b + t) with (1 * b + t) by ring. rewrite <- H.
  apply RInt_ext. intros x _. unfold scal. simpl. unfold mult. simpl. now rewrite !Rmult_1_l.
Qed.
Theorem gaussian_length k t : (0 < k)%nat -> 0 <= t -> 0 < from_on (radial k) 0 /\
  from_on (radial k) (sqrt (INR k) + t) <= exp (- t ^ 2 / 2) * from_on (radial k) 0.
Proof.
  intros Hk Ht. set (s := sqrt (INR k)). assert (Sp : 0 < s) by (apply sqrt_lt_R0, lt_0_INR; exact Hk).
  destruct (from_on_sup k 0 (Rle_refl 0)) as [_ U0]. destruct (from_on_sup k s ltac:(lra)) as [_ Us].
  destruct (from_on_sup k (s + t) ltac:(lra)) as [Lt _]. assert (E := exp_pos (- t ^ 2 / 2)).
  assert (I1 : 0 < RInt (radial k) 0 1).
  { apply RInt_gt_0; [lra| |intros; apply radial_continuous]. intros x Hx. unfold radial.
    apply Rmult_lt_0_compat; [apply pow_lt; lra|apply exp_pos]. }
  split; [specialize (U0 1 ltac:(lra)); lra|].
  assert (B : forall b, s <= b -> RInt (radial k) (s + t) (b + t) <= exp (- t ^ 2 / 2) * from_on (radial k) 0).
  { intros b Hb. rewrite tail_shift by lra.
    apply Rle_trans with (RInt (fun u => scal (exp (- t ^ 2 / 2)) (radial k u)) s b).
    - apply RInt_le; [exact Hb| |apply (ex_RInt_scal (radial k)), radial_integrable|].
      + apply (ex_RInt_continuous (V := R_CompleteNormedModule) (fun u => radial k (u + t))). intros z _.
        apply (ex_derive_continuous (fun u => radial k (u + t))). unfold radial. auto_derive. exact I.
      + intros x Hx. unfold scal. simpl. unfold mult. simpl. apply shifted_below; auto. fold s. lra.
    - assert (Sc := RInt_scal (V := R_CompleteNormedModule) (radial k) s b (exp (- t ^ 2 / 2)) (radial_integrable k s
        b)). eapply Rle_trans; [right; exact Sc|]. unfold scal. simpl. unfold mult. simpl.
      apply Rmult_le_compat_l; [left; apply exp_pos|]. eapply Rle_trans; [|apply (U0 b ltac:(lra))].
      rewrite <- (RInt_Chasles (radial k) 0 s b) by apply radial_integrable.
      assert (P : 0 <= RInt (radial k) 0 s) by (apply RInt_ge_0; [lra|apply radial_integrable|]; intros;
        apply radial_pos; lra). unfold plus. simpl. lra. }
  destruct (Rle_lt_dec (from_on (radial k) (s + t)) (exp (- t ^ 2 / 2) * from_on (radial k) 0)) as [G|G]; [exact G|].
  exfalso. apply is_lim_spec in Lt. set (e := from_on (radial k) (s + t) - exp (- t ^ 2 / 2) * from_on (radial k) 0).
  assert (ep : 0 < e) by (unfold e; lra). destruct (Lt (mkposreal e ep)) as [M HM]. cbn [pos] in HM.
  set (x := Rmax (M + 1) (s + t)). assert (X1 := Rmax_l (M + 1) (s + t)). assert (X2 := Rmax_r (M + 1) (s + t)).
  fold x in X1, X2. specialize (HM x ltac:(lra)). specialize (B (x - t) ltac:(lra)).
  replace (x - t + t) with x in B by ring. apply Rabs_def2 in HM. unfold e in HM. lra.
Qed.
