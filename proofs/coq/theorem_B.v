(** own:stable-complete-every-n (Theorem B), which refutes wu2024:conjecture and contains own:stable-complete.
Every mask in which each token sees itself and its predecessor (the causal and the complete mask among them), every n:
    an attracting equilibrium of full rank, with eigenvalues as small as one likes.

    n tokens in R^n, LayerNorm on the sphere, any delta > 0.  M = W_QK/sqrt(d_qk) has the logits s on the diagonal and
      below it, 1 further
    below, and 1 - 2 floor((j-i)/2) above, s large; so token i attends almost only to itself and its predecessor,
      evenly.  W_V solves
    A W_V = D exactly, with D_i proportional to lam^i; it is close to rows sum_{j <= i} (-1)^{i-j} lam^j e_j.
    X* = I is an exact equilibrium.
    In the order (i asc; coordinates i; n-1, ..., i+1; 0, ...,
      i-1) the derivative is triangular up to an error exp(1-s) times a polynomial in s,
    with diagonal lam^{b-i} for b > i and zeros: a weighted maximum norm contracts.
    This answers the question of Wu et al. for every n. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms Softmax Jets SphereLayer Spectrum theorem_A.
Local Open Scope R_scope.

(* ---------- a linear system near the identity ---------- *)
Lemma linear_fixed n (Q Y : mat) : (forall i, (i < n)%nat -> sum n (fun j => Rabs (Q i j)) <= 1/2) ->
  exists X : mat, forall i b, (i < n)%nat -> X i b = Y i b + sum n (fun j => Q i j * X j b).
Proof.
  revert Q Y. induction n as [|n IH]; intros Q Y HQ; [exists Y; intros; lia|].
  assert (Hn := HQ n ltac:(lia)). cbn [sum] in Hn.
  assert (P0 : forall i, 0 <= sum n (fun j => Rabs (Q i j))) by (intro; apply sum_nonneg; intros; apply Rabs_pos).
  assert (Qn : Rabs (Q n n) <= 1/2) by (specialize (P0 n); lra).
  assert (Dn : 1/2 <= 1 - Q n n) by (assert (L := Rle_abs (Q n n)); lra).
  destruct (IH (fun i j => Q i j + Q i n * Q n j / (1 - Q n n)) (fun i b => Y i b + Q i n * Y n b / (1 - Q n n))) as [X
    HX].
  - intros i Hi. specialize (HQ i ltac:(lia)). cbn [sum] in HQ.
    apply Rle_trans with (sum n (fun j => Rabs (Q i j) + Rabs (Q i n) * (2 * Rabs (Q n j)))).
    + apply sum_le; intros j Hj. eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat_l. unfold Rdiv.
      rewrite !Rabs_mult, Rmult_assoc.
      apply Rmult_le_compat_l; [apply Rabs_pos|]. rewrite Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos|].
      rewrite Rabs_inv, Rabs_right by lra. replace 2 with (/ (1/2)) by field. apply Rinv_le_contravar; lra.
    + rewrite sum_plus, sum_scal, sum_scal. assert (A := Rabs_pos (Q i n)). assert (B := Rabs_pos (Q n n)).
      assert (Rabs (Q i n) * (2 * sum n (fun j => Rabs (Q n j))) <= Rabs (Q i n) * 1) by (apply Rmult_le_compat_l;
        lra). lra.
  - exists (fun i b => if Nat.eqb i n then (Y n b + sum n (fun j => Q n j * X j b)) / (1 - Q n n) else X i b).
    intros i b Hi. cbn [sum]. rewrite Nat.eqb_refl.
    assert (ES : forall k, sum n (fun j => Q k j * (if Nat.eqb j n then (Y n b + sum n (fun j => Q n j * X j b)) / (1 -
      Q n n) else X j b)) = sum n (fun j => Q k j * X j b)).
    { intro k. apply sum_ext; intros j Hj. destruct (Nat.eqb_spec j n); [lia|reflexivity]. }
    rewrite ES. destruct (Nat.eqb_spec i n) as [->|N]; [field; lra|].
    rewrite (HX i b) by lia. rewrite (sum_ext n _ (fun j => Q i j * X j b + Q i n / (1 - Q n n) * (Q n j * X j b))) by
      (intros; field; lra).
    rewrite sum_plus, sum_scal. field. lra.
Qed.

Lemma linear_bound n (Q Y X : mat) b y : (forall i, (i < n)%nat -> sum n (fun j => Rabs (Q i j)) <= 1/2) ->
  (forall i, (i < n)%nat -> X i b = Y i b + sum n (fun j => Q i j * X j b)) -> 0 <= y -> (forall i, (i < n)%nat ->
    Rabs (Y i b) <= y) ->
  forall i, (i < n)%nat -> Rabs (X i b) <= 2 * y.
Proof.
  intros HQ HX y0 HY. set (mx := maxf n (fun i => Rabs (X i b))). assert (m0 : 0 <= mx) by apply maxf_pos.
  assert (B : forall i, (i < n)%nat -> Rabs (X i b) <= mx) by (intros i Hi;
    apply (maxf_ub n (fun i => Rabs (X i b)) i Hi)).
  assert (M : mx <= y + mx / 2).
  { apply maxf_lub; [lra|]. intros i Hi. rewrite (HX i Hi). eapply Rle_trans; [apply Rabs_triang|].
    apply Rplus_le_compat; [now apply HY|].
    eapply Rle_trans; [apply sum_abs|]. apply Rle_trans with (sum n (fun j => Rabs (Q i j) * mx)).
    - apply sum_le; intros j Hj. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|now apply B].
    - rewrite sum_scal_r. assert (sum n (fun j => Rabs (Q i j)) * mx <= 1/2 * mx) by (apply Rmult_le_compat_r; auto).
      lra. }
  intros i Hi. specialize (B i Hi). lra.
Qed.

Lemma exp_pow x k : exp x ^ k = exp (INR k * x).
Proof.
  induction k as [|k IH]; [simpl; now rewrite Rmult_0_l, exp_0|]. rewrite S_INR. simpl pow. rewrite IH, <- exp_plus.
  f_equal. ring.
Qed.

(** An exponential beats every power. *)
Lemma exp_beats C m eta Y : 0 < C -> 0 < eta -> exists y, Y <= y /\ 1 <= y /\ C * y ^ m * exp (- y) <= eta.
Proof.
  intros HC He. set (a := INR (S m)). assert (a1 : 1 <= a) by (apply (le_INR 1); lia).
  assert (ap : 0 < a ^ S m) by (apply pow_lt; lra).
  set (y := Rmax (Rmax Y 1) (C * a ^ S m / eta)). assert (R1 := Rmax_l (Rmax Y 1) (C * a ^ S m / eta)).
  assert (R2 := Rmax_r (Rmax Y 1) (C * a ^ S m / eta)).
  assert (R3 := Rmax_l Y 1). assert (R4 := Rmax_r Y 1). fold y in R1, R2. exists y. split; [lra|split; [lra|]].
  assert (E : (y / a) ^ S m <= exp y).
  { replace (exp y) with (exp (y / a) ^ S m).
    - apply pow_incr. split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
      assert (I := exp_ineq1_le (y / a)). lra.
    - rewrite exp_pow. fold a. f_equal. field. lra. }
  rewrite exp_Ropp. assert (P := exp_pos y). apply Rmult_le_reg_r with (exp y); [exact P|].
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  assert (Q : C * a ^ S m <= eta * y).
  { apply (Rmult_le_compat_r eta) in R2; [|lra]. replace (C * a ^ S m / eta * eta) with (C * a ^ S m) in R2 by (field;
      lra). lra. }
  assert (E2 : y ^ S m <= exp y * a ^ S m).
  { apply (Rmult_le_compat_r (a ^ S m)) in E; [|lra]. rewrite <- Rpow_mult_distr in E.
    replace (y / a * a) with y in E by (field; lra). exact E. }
  assert (yp : 0 < y ^ m) by (apply pow_lt; lra).
  apply Rmult_le_reg_r with (a ^ S m); [exact ap|]. apply Rle_trans with (y ^ m * (eta * y)); [nra|].
  replace (y ^ m * (eta * y)) with (eta * y ^ S m) by (simpl; ring). rewrite Rmult_assoc. apply Rmult_le_compat_l; lra.
Qed.

(** A derivative that is triangular up to a small error. *)
Theorem attraction_nearly n d F Z J (ord : nat -> nat -> nat) lam K1 dl : fixed n d F Z -> derivative n d F Z J ->
  0 < lam <= 1/4 -> 1 <= K1 -> 0 <= dl ->
  let N := INR n * INR d in let th := 1 + 4 * N * K1 / lam in
  (forall i a, (i < n)%nat -> (a < d)%nat -> (ord i a <= n * d)%nat) ->
  N * dl * th ^ (n * d) <= lam / 4 -> 1 <= N ->
  (forall i a p b, (i < n)%nat -> (a < d)%nat -> (p < n)%nat -> (b < d)%nat -> Rabs (J i a p b) <= K1) ->
  (forall i a p b, (i < n)%nat -> (a < d)%nat -> (p < n)%nat -> (b < d)%nat -> (p, b) <> (i, a) ->
    (ord i a <= ord p b)%nat -> Rabs (J i a p b) <= dl) ->
  (forall i a, (i < n)%nat -> (a < d)%nat -> Rabs (J i a i a) <= lam + dl) ->
  attracts n d F Z /\ forall z : C, eigenvalue n d J z -> Cmod z <= 2 * lam.
Proof.
  intros Fix HJ Hl HK D0 N th Ord Sm N1 All Up Diag.
  assert (th1 : 1 <= th) by (unfold th; assert (0 <= 4 * N * K1 / lam) by (apply Rmult_le_pos; [nra|left;
    apply Rinv_0_lt_compat; lra]); lra).
  assert (NK : N * K1 <= lam / 4 * th).
  { unfold th. replace (lam / 4 * (1 + 4 * N * K1 / lam)) with (lam / 4 + N * K1) by (field; lra). lra. }
  assert (thm : 1 <= th ^ (n * d)) by (apply pow_R1_Rle; exact th1).
  assert (dls : dl <= lam / 4) by (assert (dl <= N * dl) by nra;
    assert (N * dl <= N * dl * th ^ (n * d)) by (rewrite <- (Rmult_1_r (N * dl)) at 1; apply Rmult_le_compat_l; nra);
      lra).
  assert (Row : forall i a, (i < n)%nat -> (a < d)%nat -> sum n (fun p => sum d (fun b => Rabs (J i a p b) * th ^ ord p
    b)) <= 2 * lam * th ^ ord i a).
  { intros i a Hi Ha. assert (Wp : 1 <= th ^ ord i a) by (apply pow_R1_Rle; exact th1).
    apply Rle_trans with (sum n (fun p => sum d (fun b => (if andb (Nat.eqb p i) (Nat.eqb b a) then (lam + dl) * th ^
      ord i a else 0) + (K1 * (th ^ ord i a / th) + dl * th ^ (n * d))))).
    - apply sum_le; intros p Hp. apply sum_le; intros b Hb. assert (Pj := Rabs_pos (J i a p b)).
      assert (X1 : 0 <= K1 * (th ^ ord i a / th)) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; [lra|left;
        apply Rinv_0_lt_compat; lra]]).
      assert (X2 : 0 <= dl * th ^ (n * d)) by nra.
      destruct (andb (Nat.eqb p i) (Nat.eqb b a)) eqn:Eq.
      + apply andb_prop in Eq. destruct Eq as [E1 E2]. apply Nat.eqb_eq in E1, E2. subst p b.
        assert (Rabs (J i a i a) * th ^ ord i a <= (lam + dl) * th ^ ord i a) by (apply Rmult_le_compat_r;
          [lra|now apply Diag]). lra.
      + assert (Ne : (p, b) <> (i, a)) by (intro Q; injection Q; intros; subst; rewrite !Nat.eqb_refl in Eq;
          discriminate).
        destruct (Nat.le_gt_cases (ord i a) (ord p b)) as [L|L].
        * specialize (Up i a p b Hi Ha Hp Hb Ne L). assert (th ^ ord p b <= th ^ (n * d)) by (apply Rle_pow;
            [exact th1|now apply Ord]).
          assert (0 < th ^ ord p b) by (apply pow_lt; lra). assert (Rabs (J i a p b) * th ^ ord p b <= dl * th ^ (n *
            d)) by (apply Rmult_le_compat; lra). lra.
        * assert (th ^ ord p b <= th ^ ord i a / th).
          { replace (ord i a) with (S (ord i a - 1)) by lia. simpl.
            replace (th * th ^ (ord i a - 1) / th) with (th ^ (ord i a - 1)) by (field; lra).
            apply Rle_pow; [exact th1|lia]. }
          assert (0 < th ^ ord p b) by (apply pow_lt; lra). assert (Rabs (J i a p b) * th ^ ord p b <= K1 * (th ^ ord i
            a / th)) by (apply Rmult_le_compat; auto; lra). lra.
    - rewrite (sum_ext n _ (fun p => (if Nat.eqb p i then (lam + dl) * th ^ ord i a else 0) + INR d * (K1 * (th ^ ord i
        a / th) + dl * th ^ (n * d)))).
      + rewrite sum_plus, sum_const, (sum_single n (fun p => if Nat.eqb p i then (lam + dl) * th ^ ord i a else 0) i
          Hi) by (intros p _ Hp; destruct (Nat.eqb_spec p i); [lia|reflexivity]).
        rewrite Nat.eqb_refl. rewrite <- Rmult_assoc. fold N.
        assert (Y1 : N * (K1 * (th ^ ord i a / th)) <= lam / 4 * th ^ ord i a).
        { replace (N * (K1 * (th ^ ord i a / th))) with (N * K1 * / th * th ^ ord i a) by (field; lra).
          apply Rmult_le_compat_r; [lra|].
          apply Rmult_le_reg_r with th; [lra|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. lra. }
        assert (Y2 : N * (dl * th ^ (n * d)) <= lam / 4 * th ^ ord i a) by (rewrite <- Rmult_assoc; nra).
        assert (Y3 : (lam + dl) * th ^ ord i a <= (lam + lam / 4) * th ^ ord i a) by (apply Rmult_le_compat_r; lra).
        assert (0 <= lam * th ^ ord i a) by nra. lra.
      + intros p Hp. rewrite sum_plus, sum_const. f_equal. destruct (Nat.eqb_spec p i) as [->|]; cbn [andb].
        * rewrite (sum_single d _ a Ha); [now rewrite Nat.eqb_refl|]. intros b _ Hb.
          destruct (Nat.eqb_spec b a); [lia|reflexivity].
        * apply sum_zero. }
  split.
  - apply (attraction_weights n d F Z J (fun i a => th ^ ord i a) (2 * lam)); auto; [lra|]. intros; apply pow_lt; lra.
  - (* Gershgorin *)
    intros z [v [[i0 [a0 [Hi0 [Ha0 N0]]]] Hv]].
    set (f := fun i => maxf d (fun a => Cmod (v i a) / th ^ ord i a)). set (mx := maxf n f).
    assert (Ub : forall i a, (i < n)%nat -> (a < d)%nat -> Cmod (v i a) / th ^ ord i a <= mx).
    { intros i a Hi Ha. eapply Rle_trans; [apply (maxf_ub d (fun a => Cmod (v i a) / th ^ ord i a) a Ha)|].
      apply (maxf_ub n f i Hi). }
    assert (mp : 0 < mx).
    { eapply Rlt_le_trans; [|apply (Ub i0 a0 Hi0 Ha0)]. apply Rdiv_lt_0_compat; [now apply Cmod_gt_0|apply pow_lt;
        lra]. }
    destruct (maxf_attained n f) as [Q|[i [Hi Q]]]; [fold mx in Q; lra|]. fold mx in Q.
    destruct (maxf_attained d (fun a => Cmod (v i a) / th ^ ord i a)) as [Q'|[a [Ha Q']]]; [unfold f in Q; lra|].
    assert (Va : Cmod (v i a) = mx * th ^ ord i a).
    { unfold f in Q. rewrite Q, Q'. assert (0 < th ^ ord i a) by (apply pow_lt; lra). field. lra. }
    assert (Wp : 0 < th ^ ord i a) by (apply pow_lt; lra).
    assert (E := f_equal Cmod (Hv i a Hi Ha)). rewrite Cmod_mult, Va in E.
    assert (Big : Cmod (csum n (fun p => csum d (fun b => RtoC (J i a p b) * v p b)%C)) <= sum n (fun p => sum d (fun b
      => Rabs (J i a p b) * Cmod (v p b)))).
    { eapply Rle_trans; [apply csum_mod|]. apply sum_le; intros p Hp. eapply Rle_trans; [apply csum_mod|].
      apply sum_le; intros b Hb. rewrite Cmod_mult, Cmod_R. lra. }
    assert (Big2 : sum n (fun p => sum d (fun b => Rabs (J i a p b) * Cmod (v p b))) <= mx * (2 * lam * th ^ ord i a)).
    { eapply Rle_trans; [|apply Rmult_le_compat_l; [lra|apply (Row i a Hi Ha)]]. rewrite <- sum_scal.
      apply sum_le; intros p Hp. rewrite <- sum_scal. apply sum_le; intros b Hb.
      specialize (Ub p b Hp Hb). assert (Wb : 0 < th ^ ord p b) by (apply pow_lt; lra).
      assert (Cmod (v p b) <= mx * th ^ ord p b) by (apply (Rmult_le_compat_r (th ^ ord p b)) in Ub; [|lra];
        replace (Cmod (v p b) / th ^ ord p b * th ^ ord p b) with (Cmod (v p b)) in Ub by (field; lra); exact Ub).
      replace (mx * (Rabs (J i a p b) * th ^ ord p b)) with (Rabs (J i a p b) * (mx * th ^ ord p b)) by ring.
      apply Rmult_le_compat_l; [apply Rabs_pos|assumption]. }
    apply Rmult_le_reg_r with (mx * th ^ ord i a); [now apply Rmult_lt_0_compat|]. lra.
Qed.

(* ---------- the design ---------- *)
Definition alt (k : nat) : R := (-1) ^ k.
Lemma alt_S k : alt (S k) = - alt k.
Proof. unfold alt. simpl. ring. Qed.
Lemma alt_sq k : alt k * alt k = 1.
Proof. induction k; [unfold alt; simpl; ring|]. rewrite alt_S. lra. Qed.
Lemma alt_abs k : Rabs (alt k) = 1.
Proof. unfold alt. apply pow_1_abs. Qed.
Lemma alt_add j k : alt (j + k) = alt j * alt k.
Proof. unfold alt. apply pow_add. Qed.
Lemma alt_twice j k : alt (j + k) * alt (j + k) = 1.
Proof. apply alt_sq. Qed.
Lemma alt_parity j k : (j <= k)%nat -> alt (k - j) = alt (j + k).
Proof.
  intros H. replace (j + k)%nat with ((k - j) + (j + j))%nat by lia. rewrite alt_add.
  replace (alt (j + j)) with 1; [ring|]. rewrite alt_add. symmetry. apply alt_sq.
Qed.

Definition path_logits (s : R) : mat := fun i j =>
  if Nat.ltb i j then 1 - 2 * INR (Nat.div2 (j - i)) else if Nat.leb i (S j) then s else 1.
Definition path_values (lam : R) : mat := fun i b => if Nat.leb b i then alt (i + b) * lam ^ b else 0.
(** The attention of the limit, times the number of keys. *)
Definition path_keys : mat := fun i j => eye i j + eye i (S j).

Section Path.
Variables (n : nat) (G : mat) (s lam : R).
Hypothesis n_pos : (0 < n)%nat.
Hypothesis G01 : forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j <= 1.
Hypothesis Gself : forall i, (i < n)%nat -> G i i = 1.
Hypothesis Gprev : forall i, (S i < n)%nat -> G (S i) i = 1.
Hypothesis s1 : 1 <= s.
Hypothesis lam01 : 0 < lam <= 1.
Notation M := (path_logits s).
Notation W0 := (path_values lam).
Notation B0 := path_keys.
Definition eps : R := exp (1 - s).
Definition Bm : mat := fun i j => G i j * exp (M i j - s).
Definition Rm : mat := fun i j => Bm i j - B0 i j.
Definition KM : R := s + 2 * INR n.
Hypothesis small : INR n * INR n * eps <= 1/2.

Lemma eps_b : 0 < eps <= 1.
Proof. unfold eps. split; [apply exp_pos|]. apply Rle_trans with (exp 0); [|rewrite exp_0; lra].
destruct s1 as [L|<-]; [left; apply exp_increasing; lra|right; f_equal; ring]. Qed.
Lemma n1 : 1 <= INR n.
Proof. apply (le_INR 1). lia. Qed.

Lemma M_same i : M i i = s.
Proof. unfold path_logits. destruct (Nat.ltb_spec i i); [lia|]. destruct (Nat.leb_spec i (S i)); [reflexivity|lia]. Qed.
Lemma M_prev i : M (S i) i = s.
Proof. unfold path_logits. destruct (Nat.ltb_spec (S i) i); [lia|].
destruct (Nat.leb_spec (S i) (S i)); [reflexivity|lia]. Qed.
Lemma M_other i j : i <> j -> i <> S j -> M i j <= 1.
Proof.
  intros N1 N2. unfold path_logits. destruct (Nat.ltb_spec i j); [assert (P := pos_INR (Nat.div2 (j - i))); lra|].
  destruct (Nat.leb_spec i (S j)); [lia|lra].
Qed.
Lemma M_abs i j : (i < n)%nat -> (j < n)%nat -> Rabs (M i j) <= KM.
Proof.
  intros Hi Hj. unfold path_logits, KM. assert (N := n1). destruct (Nat.ltb_spec i j).
  - assert (P := pos_INR (Nat.div2 (j - i))). assert (Q : 2 * INR (Nat.div2 (j - i)) <= INR n).
    { assert (D := Nat.div2_odd (j - i)). replace 2 with (INR 2) by reflexivity. rewrite <- mult_INR. apply le_INR.
      lia. }
    apply Rabs_le. lra.
  - destruct Nat.leb; rewrite Rabs_right; lra.
Qed.

(** Who attends to whom. *)
Lemma R_bound i j : (i < n)%nat -> (j < n)%nat -> Rabs (Rm i j) <= eps.
Proof.
  intros Hi Hj. assert (E := eps_b). unfold Rm, Bm, path_keys. destruct (Nat.eq_dec i j) as [->|N1].
  - rewrite M_same, Gself, eye_same, eye_diff by (auto; lia). replace (s - s) with 0 by ring. rewrite exp_0.
    replace (1 * 1 - (1 + 0)) with 0 by ring. rewrite Rabs_R0. lra.
  - destruct (Nat.eq_dec i (S j)) as [->|N2].
    + rewrite M_prev, Gprev, eye_same, eye_diff by (auto; lia). replace (s - s) with 0 by ring. rewrite exp_0.
      replace (1 * 1 - (0 + 1)) with 0 by ring. rewrite Rabs_R0. lra.
    + rewrite !eye_diff by lia. assert (L := M_other i j N1 N2). destruct (G01 i j Hi Hj) as [g0 g1].
      assert (P := exp_pos (M i j - s)).
      assert (exp (M i j - s) <= eps) by (unfold eps; destruct (Rle_lt_or_eq_dec (M i j) 1 L) as [Q|Q]; [left;
        apply exp_increasing; lra|right; f_equal; lra]).
      rewrite Rabs_right by nra. nra.
Qed.

(* ---------- the values: W = W0 - B0^{-1} R W ---------- *)
Definition Binv : mat := fun i l => if Nat.leb l i then alt (i + l) else 0.
Definition Qm : mat := fun i j => - sum n (fun l => Binv i l * Rm l j).

Lemma Binv_abs i l : Rabs (Binv i l) <= 1.
Proof. unfold Binv. destruct Nat.leb; [rewrite alt_abs; lra|rewrite Rabs_R0; lra]. Qed.
Lemma Binv_step i l : (l < n)%nat -> Binv (S i) l + Binv i l = eye (S i) l.
Proof.
  intros Hl. unfold Binv. destruct (Nat.leb_spec l (S i)), (Nat.leb_spec l i); try lia.
  - simpl. rewrite alt_S, eye_diff by lia. ring.
  - assert (l = S i) by lia. subst l. rewrite eye_same, alt_add, alt_sq. ring.
  - rewrite eye_diff by lia. ring.
Qed.
Lemma Qm_abs i j : (j < n)%nat -> Rabs (Qm i j) <= INR n * eps.
Proof.
  intros Hj. unfold Qm. rewrite Rabs_Ropp. eapply Rle_trans; [apply sum_abs|]. rewrite <- sum_const.
  apply sum_le; intros l Hl.
  rewrite Rabs_mult. assert (A := Binv_abs i l). assert (B := R_bound l j Hl Hj). assert (P := Rabs_pos (Binv i l)).
  assert (P' := Rabs_pos (Rm l j)). nra.
Qed.
Lemma Qm_rows i : sum n (fun j => Rabs (Qm i j)) <= 1/2.
Proof.
  eapply Rle_trans; [apply (sum_le n _ (fun _ => INR n * eps)); intros; now apply Qm_abs|]. rewrite sum_const. lra.
Qed.

Variable W : mat.
Hypothesis HW : forall i b, (i < n)%nat -> W i b = W0 i b + sum n (fun j => Qm i j * W j b).

Lemma W0_abs i b : Rabs (W0 i b) <= 1.
Proof.
  unfold path_values. destruct Nat.leb; [|rewrite Rabs_R0; lra]. rewrite Rabs_mult, alt_abs, Rmult_1_l.
  assert (P := pow_lt lam b ltac:(lra)). rewrite Rabs_right by lra. rewrite <- (pow1 b). apply pow_incr. lra.
Qed.
Lemma W_abs i b : (i < n)%nat -> Rabs (W i b) <= 2.
Proof.
  intros Hi. replace 2 with (2 * 1) by ring. apply (linear_bound n Qm W0 W b 1); auto; [intros;
    apply Qm_rows|lra|intros; apply W0_abs].
Qed.
Lemma W_near i b : (i < n)%nat -> Rabs (W i b - W0 i b) <= 2 * (INR n * INR n) * eps.
Proof.
  intros Hi. rewrite HW by exact Hi. replace (W0 i b + sum n (fun j => Qm i j * W j b) - W0 i b) with (sum n (fun j =>
    Qm i j * W j b)) by ring.
  eapply Rle_trans; [apply sum_abs|]. apply Rle_trans with (sum n (fun _ => INR n * eps * 2)).
  - apply sum_le; intros j Hj. rewrite Rabs_mult. apply Rmult_le_compat; auto using Rabs_pos;
      [now apply Qm_abs|now apply W_abs].
  - rewrite sum_const. lra.
Qed.

Lemma B0_sum i (f : vec) : (i < n)%nat -> sum n (fun j => B0 i j * f j) = f i + match i with O => 0 | S k => f k end.
Proof.
  intros Hi. unfold path_keys. rewrite (sum_ext n _ (fun j => eye i j * f j + eye i (S j) * f j)) by (intros; ring).
  rewrite sum_plus, (sum_eye_l n f i Hi). f_equal. destruct i as [|k].
  - rewrite (sum_ext n _ (fun _ => 0)) by (intros; rewrite eye_diff by lia; ring). apply sum_zero.
  - rewrite (sum_single n _ k ltac:(lia)); [rewrite eye_same; ring|]. intros j _ Hj. rewrite eye_diff by lia. ring.
Qed.
Lemma W0_step i b : W0 i b + match i with O => 0 | S k => W0 k b end = lam ^ i * eye i b.
Proof.
  unfold path_values. destruct i as [|k].
  - destruct (Nat.leb_spec b 0).
    + assert (b = 0)%nat by lia. subst b. unfold alt. simpl. rewrite eye_same. ring.
    + rewrite eye_diff by lia. ring.
  - destruct (Nat.leb_spec b (S k)), (Nat.leb_spec b k); try lia.
    + simpl (S k + b)%nat. rewrite alt_S, eye_diff by lia. ring.
    + assert (b = S k) by lia. subst b. rewrite alt_add, alt_sq, eye_same. ring.
    + rewrite eye_diff by lia. ring.
Qed.

(** The values are exact: A W is diagonal. *)
Lemma exact i b : (i < n)%nat -> sum n (fun j => Bm i j * W j b) = lam ^ i * eye i b.
Proof.
  intros Hi. rewrite (sum_ext n _ (fun j => B0 i j * W j b + Rm i j * W j b)) by (intros; unfold Rm; ring).
  rewrite sum_plus, (B0_sum i (fun j => W j b) Hi). rewrite <- (W0_step i b).
  assert (E : W i b + match i with O => 0 | S k => W k b end = W0 i b + match i with O => 0 | S k => W0 k b end - sum n
    (fun j => Rm i j * W j b)).
  { destruct i as [|k].
    - rewrite (HW 0%nat b) by lia. rewrite (sum_ext n (fun j => Qm 0%nat j * W j b) (fun j => -1 * (Rm 0%nat j * W j
        b))); [rewrite sum_scal; ring|].
      intros j Hj. unfold Qm. rewrite (sum_single n _ 0%nat n_pos).
      + unfold Binv, alt. simpl. ring.
      + intros l _ Hl. unfold Binv. destruct (Nat.leb_spec l 0); [lia|ring].
    - rewrite (HW (S k) b), (HW k b) by lia.
      assert (S1 : sum n (fun j => Qm (S k) j * W j b) + sum n (fun j => Qm k j * W j b) = - sum n (fun j => Rm (S k) j
        * W j b)).
      { rewrite <- sum_plus. rewrite (sum_ext n _ (fun j => -1 * (Rm (S k) j * W j b))); [rewrite sum_scal; ring|].
        intros j Hj. unfold Qm. replace (- sum n (fun l => Binv (S k) l * Rm l j) * W j b + - sum n (fun l => Binv k l
          * Rm l j) * W j b)
          with (- (sum n (fun l => Binv (S k) l * Rm l j) + sum n (fun l => Binv k l * Rm l j)) * W j b) by ring.
        rewrite <- sum_plus. rewrite (sum_ext n _ (fun l => eye (S k) l * Rm l j)) by (intros l Hl;
          rewrite <- (Binv_step k l Hl); ring).
        rewrite (sum_eye_l n (fun l => Rm l j) (S k) Hi). ring. }
      lra. }
  rewrite E. ring.
Qed.

(* ---------- the layer ---------- *)
Notation F := (sphere_map n n M W G).
Lemma Gproper : proper_mask n G.
Proof. split; [intros i j Hi Hj; now apply G01|]. intros i Hi. exists i. split; [exact Hi|]. rewrite Gself by exact Hi.
lra. Qed.
Lemma E_path i j : (i < n)%nat -> (j < n)%nat -> Ex n M G eye i j = exp s * Bm i j.
Proof.
  intros Hi Hj. unfold Ex, Bm. rewrite bil_eye by assumption.
  replace (exp (M i j)) with (exp s * exp (M i j - s)) by (rewrite <- exp_plus; f_equal; ring). ring.
Qed.
Lemma U_path i b : (i < n)%nat -> Ux n n M W G eye i b = exp s * (lam ^ i * eye i b).
Proof.
  intros Hi. rewrite <- (exact i b Hi), <- sum_scal. unfold Ux. apply sum_ext; intros j Hj.
  rewrite E_path, vmat_eye_row by assumption. ring.
Qed.
Lemma U_diag i : (i < n)%nat -> 0 < Ux n n M W G eye i i.
Proof. intros Hi. rewrite U_path, eye_same by exact Hi. assert (P := exp_pos s). assert (Q := pow_lt lam i ltac:(lra)).
nra. Qed.
Lemma U_zero i b : (i < n)%nat -> (b < n)%nat -> b <> i -> Ux n n M W G eye i b = 0.
Proof. intros Hi Hb N. rewrite U_path, eye_diff by (auto; lia). ring. Qed.
Lemma fixed_P : fixed n n F eye.
Proof.
  intros i b Hi Hb. apply (sphere_coord n n M W G n_pos Gproper eye i i Hi Hi (U_diag i Hi)); auto. intros c Hc N.
  now apply U_zero.
Qed.
Lemma derivative_P : derivative n n F eye (dF n n M W G eye).
Proof.
  apply layer_derivative; [exact n_pos|exact Gproper|]. intros i Hi.
  rewrite (l2_coord n _ i Hi (U_diag i Hi)); [now apply U_diag|]. intros c Hc N. now apply U_zero.
Qed.

(** The derivative as a function of the attention B and the values V. *)
Definition Jf (B V : mat) (i b p q : nat) : R :=
  (B i p * (V q b + V p b * M i q) + eye p i * sum n (fun j => B i j * V j b * M q j)) / lam ^ i.
Lemma dF_P i b p q : (i < n)%nat -> (b < n)%nat -> (p < n)%nat -> (q < n)%nat ->
  dF n n M W G eye i b p q = if Nat.eqb b i then 0 else Jf Bm W i b p q.
Proof.
  intros Hi Hb Hp Hq. rewrite (dF_coord n n M W G n_pos Gproper eye i i b p q Hi Hi (U_diag i Hi) (fun c Hc N => U_zero
    i c Hi Hc N) Hb).
  destruct (Nat.eqb b i); [reflexivity|]. rewrite U_path, eye_same by exact Hi. unfold dU, Jf.
  assert (P := exp_pos s). assert (Q := pow_lt lam i ltac:(lra)).
  replace (sum n (fun j => Ex n M G eye i j * (eye p j * W q b + vmat n (eye j) W b * dlogit n M eye i j p q)))
    with (exp s * (Bm i p * (W q b + W p b * M i q) + eye p i * sum n (fun j => Bm i j * W j b * M q j))); [field;
      lra|].
  rewrite <- sum_scal. rewrite <- (sum_eye_l n (fun j => Bm i j * (W q b + W j b * M i q)) p Hp) at 1.
  rewrite <- sum_plus, <- sum_scal.
  apply sum_ext; intros j Hj. rewrite E_path, vmat_eye_row by assumption. unfold dlogit.
  rewrite (sum_ext n (fun c => M q c * eye j c) (fun c => eye j c * M q c)) by (intros; ring).
  rewrite (sum_eye_l n (fun c => M q c) j Hj), (sum_eye_l n (fun a => M a q) i Hi). ring.
Qed.

(* ---------- the limit is triangular ---------- *)
Definition ordP (i b : nat) : nat := (i * n + (if Nat.eqb b i then 0 else if Nat.ltb i b then n - b else n - i +
  b))%nat.
Lemma ordP_b i b : (i < n)%nat -> (b < n)%nat -> (ordP i b <= n * n)%nat.
Proof. intros Hi Hb. unfold ordP. destruct (Nat.eqb_spec b i); [nia|]. destruct (Nat.ltb_spec i b); nia. Qed.

(** M_iq + M_qi - M_q,i-1 = -(-1)^{i+q} for q < i *)
Lemma c_sum i q : (q < S i)%nat -> M (S i) q + M q (S i) - M q i = - alt (S i + q).
Proof.
  intros H. assert (Q : forall t, (1 <= t)%nat -> 2 * INR (Nat.div2 (S t)) - 2 * INR (Nat.div2 t) = 1 + alt (S t)).
  { intro t. induction t as [t IH] using lt_wf_ind. intros Ht. destruct t as [|[|t]]; [lia|unfold alt; simpl; lra|].
    change (Nat.div2 (S (S (S t)))) with (S (Nat.div2 (S t))). change (Nat.div2 (S (S t))) with (S (Nat.div2 t)).
    rewrite !S_INR.
    destruct t as [|t]; [unfold alt; simpl; lra|]. specialize (IH (S t) ltac:(lia) ltac:(lia)). rewrite !alt_S in *.
    lra. }
  unfold path_logits. destruct (Nat.ltb_spec (S i) q); [lia|]. destruct (Nat.ltb_spec q (S i)); [|lia].
  destruct (Nat.eq_dec q i) as [->|N].
  - destruct (Nat.leb_spec (S i) (S i)); [|lia]. destruct (Nat.ltb_spec i i); [lia|].
    destruct (Nat.leb_spec i (S i)); [|lia].
    replace (S i - i)%nat with 1%nat by lia. simpl (Nat.div2 1). simpl (INR 0). simpl (S i + i)%nat.
    rewrite alt_S, alt_add, alt_sq. ring.
  - destruct (Nat.leb_spec (S i) (S q)); [lia|]. destruct (Nat.ltb_spec q i); [|lia].
    replace (S i - q)%nat with (S (i - q)) by lia. specialize (Q (i - q)%nat ltac:(lia)).
    simpl (S i + q)%nat. rewrite alt_S in *. rewrite alt_parity in Q by lia. rewrite (Nat.add_comm i q). lra.
Qed.

Lemma T_upper i b p q : (i < n)%nat -> (b < n)%nat -> (p < n)%nat -> (q < n)%nat -> b <> i -> (p, q) <> (i, b) ->
  (ordP i b <= ordP p q)%nat -> Jf B0 W0 i b p q = 0.
Proof.
  intros Hi Hb Hp Hq Nb Ne Ho. unfold Jf. assert (L := pow_lt lam i ltac:(lra)).
  assert (Cs : (i < p)%nat \/ p = i).
  { destruct (Nat.lt_trichotomy p i) as [H|[H|H]]; auto. exfalso. unfold ordP in Ho.
    destruct (Nat.eqb_spec b i); [lia|]. destruct (Nat.eqb_spec q p); destruct (Nat.ltb_spec i b);
      destruct (Nat.ltb_spec p q); nia. }
  destruct Cs as [H|H].
  - unfold path_keys. rewrite !eye_diff by lia. unfold Rdiv. ring.
  - subst p. assert (Nq : q <> b) by congruence. rewrite eye_same.
    rewrite (sum_ext n _ (fun j => B0 i j * (W0 j b * M q j))) by (intros; ring).
    rewrite (B0_sum i (fun j => W0 j b * M q j) Hi).
    assert (Bi : B0 i i = 1) by (unfold path_keys; rewrite eye_same, eye_diff by lia; ring). rewrite Bi.
    assert (Z : W0 q b + W0 i b * M i q + (W0 i b * M q i + match i with O => 0 | S k => W0 k b * M q k end) = 0);
      [|unfold Rdiv; replace (1 * (W0 q b + W0 i b * M i q) + 1 * (W0 i b * M q i + match i with O => 0 | S k => W0 k b
        * M q k end)) with 0 by lra; ring].
    unfold ordP in Ho. destruct (Nat.eqb_spec b i); [lia|].
    destruct (Nat.ltb_spec i b) as [Lb|Lb].
    + (* b > i: rows i and i-1 of the values end before b *)
      assert (qb : (q < b)%nat) by (destruct (Nat.eqb_spec q i); destruct (Nat.ltb_spec i q); lia).
      unfold path_values. destruct (Nat.leb_spec b q); [lia|]. destruct (Nat.leb_spec b i); [lia|].
      destruct i as [|k]; [ring|]. destruct (Nat.leb_spec b k); [lia|]. ring.
    + (* b < i: b <= q < i, and the terms cancel *)
      assert (qb : (b < q < i)%nat) by (destruct (Nat.eqb_spec q i); destruct (Nat.ltb_spec i q); lia).
      destruct i as [|k]; [lia|]. assert (C := c_sum k q ltac:(lia)).
      unfold path_values. destruct (Nat.leb_spec b q); [|lia]. destruct (Nat.leb_spec b (S k)); [|lia].
      destruct (Nat.leb_spec b k); [|lia].
      simpl (S k + b)%nat. rewrite alt_S.
      replace (alt (q + b) * lam ^ b + - alt (k + b) * lam ^ b * M (S k) q + (- alt (k + b) * lam ^ b * M q (S k) + alt
        (k + b) * lam ^ b * M q k))
        with (lam ^ b * (alt (q + b) - alt (k + b) * (M (S k) q + M q (S k) - M q k))) by ring.
      rewrite C. simpl (S k + q)%nat. rewrite alt_S, !alt_add.
      replace (alt q * alt b - alt k * alt b * - - (alt k * alt q)) with (alt q * alt b * (1 - alt k * alt k)) by ring.
      rewrite alt_sq. ring.
Qed.

Lemma T_diag i b : (i < n)%nat -> (b < n)%nat -> b <> i -> 0 <= Jf B0 W0 i b i b <= lam.
Proof.
  intros Hi Hb Nb. unfold Jf. assert (L := pow_lt lam i ltac:(lra)). rewrite eye_same.
  rewrite (sum_ext n _ (fun j => B0 i j * (W0 j b * M b j))) by (intros; ring).
  rewrite (B0_sum i (fun j => W0 j b * M b j) Hi).
  assert (Bi : B0 i i = 1) by (unfold path_keys; rewrite eye_same, eye_diff by lia; ring). rewrite Bi.
  assert (Wb : W0 b b = lam ^ b) by (unfold path_values; destruct (Nat.leb_spec b b); [|lia]; rewrite alt_add, alt_sq;
    ring). rewrite Wb.
  destruct (Nat.lt_ge_cases i b) as [Lb|Lb].
  - replace ((1 * (lam ^ b + W0 i b * M i b) + 1 * (W0 i b * M b i + match i with O => 0 | S k => W0 k b * M b k end))
      / lam ^ i) with (lam ^ (b - i)).
    + split; [apply pow_le; lra|]. replace (b - i)%nat with (S (b - i - 1)) by lia. simpl.
      assert (Q : lam ^ (b - i - 1) <= 1) by (rewrite <- (pow1 (b - i - 1)); apply pow_incr; lra).
      assert (0 <= lam ^ (b - i - 1)) by (apply pow_le; lra). nra.
    + unfold path_values. destruct (Nat.leb_spec b i); [lia|].
      replace (lam ^ b) with (lam ^ (b - i) * lam ^ i) by (rewrite <- pow_add; f_equal; lia).
      destruct i as [|k]; [field; lra|]. destruct (Nat.leb_spec b k); [lia|]. field. lra.
  - destruct i as [|k]; [lia|]. assert (C := c_sum k b ltac:(lia)).
    replace ((1 * (lam ^ b + W0 (S k) b * M (S k) b) + 1 * (W0 (S k) b * M b (S k) + W0 k b * M b k)) / lam ^ S k) with
      0; [lra|].
    unfold path_values. destruct (Nat.leb_spec b (S k)); [|lia]. destruct (Nat.leb_spec b k); [|lia].
    simpl (S k + b)%nat. rewrite alt_S.
    replace (1 * (lam ^ b + - alt (k + b) * lam ^ b * M (S k) b) + 1 * (- alt (k + b) * lam ^ b * M b (S k) + alt (k +
      b) * lam ^ b * M b k))
      with (lam ^ b * (1 - alt (k + b) * (M (S k) b + M b (S k) - M b k))) by ring.
    rewrite C. simpl (S k + b)%nat. rewrite alt_S. replace (1 - alt (k + b) * - - alt (k + b)) with (1 - alt (k + b) *
      alt (k + b)) by ring. rewrite alt_sq. unfold Rdiv. ring.
Qed.

(* ---------- the error ---------- *)
Definition C0 : R := (INR n + 1) * (3 + 2 * (INR n * INR n)) / lam ^ n.
Lemma pow_n i : (i < n)%nat -> / lam ^ i <= / lam ^ n.
Proof.
  intros Hi. assert (P := pow_lt lam n ltac:(lra)). apply Rinv_le_contravar; [exact P|].
  replace n with (i + (n - i))%nat by lia. rewrite pow_add.
  assert (Q := pow_lt lam i ltac:(lra)). assert (lam ^ (n - i) <= 1) by (rewrite <- (pow1 (n - i)); apply pow_incr;
    lra). nra.
Qed.
Lemma B0_abs i j : Rabs (B0 i j) <= 1.
Proof.
  unfold path_keys. destruct (Nat.eq_dec i j) as [->|]; [rewrite eye_same, (eye_diff j (S j)) by lia;
    rewrite Rabs_right; lra|].
  rewrite (eye_diff i j) by lia. unfold eye. destruct Nat.eqb; rewrite Rplus_0_l; [rewrite Rabs_right;
    lra|rewrite Rabs_R0; lra].
Qed.

Lemma J_error i b p q : (i < n)%nat -> (b < n)%nat -> (p < n)%nat -> (q < n)%nat ->
  Rabs (Jf Bm W i b p q - Jf B0 W0 i b p q) <= C0 * (1 + KM) * eps.
Proof.
  intros Hi Hb Hp Hq. unfold Jf. assert (L := pow_lt lam i ltac:(lra)). assert (N := n1). assert (E := eps_b).
  assert (KM0 : 0 <= KM) by (unfold KM; lra).
  set (nn := INR n * INR n). assert (nn1 : 1 <= nn) by (unfold nn; nra).
  replace ((Bm i p * (W q b + W p b * M i q) + eye p i * sum n (fun j => Bm i j * W j b * M q j)) / lam ^ i
    - (B0 i p * (W0 q b + W0 p b * M i q) + eye p i * sum n (fun j => B0 i j * W0 j b * M q j)) / lam ^ i)
    with ((Rm i p * (W q b + W p b * M i q) + B0 i p * ((W q b - W0 q b) + (W p b - W0 p b) * M i q)
      + eye p i * sum n (fun j => (Rm i j * W j b + B0 i j * (W j b - W0 j b)) * M q j)) / lam ^ i).
  2: { rewrite (sum_ext n (fun j => (Rm i j * W j b + B0 i j * (W j b - W0 j b)) * M q j) (fun j => Bm i j * W j b * M
         q j - B0 i j * W0 j b * M q j)) by (intros; unfold Rm; ring).
       rewrite sum_minus. unfold Rm. field. lra. }
  assert (T1 : forall j m k, (j < n)%nat -> Rabs m <= KM -> (k < n)%nat -> Rabs (W k b + W j b * m) <= 2 * (1 + KM)).
  { intros j m k Hj Hm Hk. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult. assert (A := W_abs k b Hk).
    assert (A' := W_abs j b Hj). assert (P := Rabs_pos (W j b)). assert (P' := Rabs_pos m).
    assert (Rabs (W j b) * Rabs m <= 2 * KM) by (apply Rmult_le_compat; lra). lra. }
  assert (Mi := M_abs i q Hi Hq).
  assert (X1 : Rabs (Rm i p * (W q b + W p b * M i q)) <= eps * (2 * (1 + KM))) by (rewrite Rabs_mult;
    apply Rmult_le_compat; auto using Rabs_pos; now apply R_bound).
  assert (X2 : Rabs (B0 i p * (W q b - W0 q b + (W p b - W0 p b) * M i q)) <= 1 * (2 * nn * eps * (1 + KM))).
  { rewrite Rabs_mult. apply Rmult_le_compat; auto using Rabs_pos; [apply B0_abs|].
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
    assert (A := W_near q b Hq). assert (A' := W_near p b Hp). fold nn in A, A'.
    assert (P := Rabs_pos (W p b - W0 p b)). assert (P' := Rabs_pos (M i q)).
    assert (Rabs (W p b - W0 p b) * Rabs (M i q) <= 2 * nn * eps * KM) by (apply Rmult_le_compat; lra). lra. }
  assert (X3 : Rabs (eye p i * sum n (fun j => (Rm i j * W j b + B0 i j * (W j b - W0 j b)) * M q j)) <= 1 * (INR n *
    ((eps * 2 + 1 * (2 * nn * eps)) * KM))).
  { rewrite Rabs_mult. apply Rmult_le_compat; auto using Rabs_pos; [unfold eye; destruct Nat.eqb;
      [rewrite Rabs_right|rewrite Rabs_R0]; lra|].
    eapply Rle_trans; [apply sum_abs|]. rewrite <- sum_const. apply sum_le; intros j Hj. rewrite Rabs_mult.
    apply Rmult_le_compat; auto using Rabs_pos; [|now apply M_abs].
    eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
    apply Rplus_le_compat; apply Rmult_le_compat; auto using Rabs_pos;
      [now apply R_bound|now apply W_abs|apply B0_abs|now apply W_near]. }
  unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_right (lam ^ i)) by lra.
  replace (C0 * (1 + KM) * eps) with (((INR n + 1) * (3 + 2 * nn) * (1 + KM) * eps) * / lam ^ n) by (unfold C0, nn;
    unfold Rdiv; ring).
  apply Rmult_le_compat; [apply Rabs_pos|left; now apply Rinv_0_lt_compat| |now apply pow_n].
  eapply Rle_trans; [apply Rabs_triang|]. assert (TT := Rabs_triang (Rm i p * (W q b + W p b * M i q)) (B0 i p * (W q b
    - W0 q b + (W p b - W0 p b) * M i q))).
  assert (e0 : 0 < eps) by lra. set (k1 := 1 + KM) in *. assert (k1p : 1 <= k1) by (unfold k1; lra).
  replace KM with (k1 - 1) in X3 by (unfold k1; ring).
  assert (Y1 : INR n * ((eps * 2 + 1 * (2 * nn * eps)) * (k1 - 1)) <= INR n * ((2 + 2 * nn) * (eps * k1))).
  { apply Rmult_le_compat_l; [lra|]. assert (0 <= (2 + 2 * nn) * eps) by nra. nra. }
  assert (Z1 : 0 <= eps * k1) by nra. assert (0 <= INR n * (eps * k1)) by nra.
  replace ((INR n + 1) * (3 + 2 * nn) * k1 * eps) with ((INR n * ((2 + 2 * nn) * (eps * k1)) + INR n * (eps * k1)) + (3
    + 2 * nn) * (eps * k1)) by ring. lra.
Qed.

Lemma T_abs i b p q : (i < n)%nat -> (b < n)%nat -> (p < n)%nat -> (q < n)%nat ->
  Rabs (Jf B0 W0 i b p q) <= (INR n + 1) * (1 + KM) / lam ^ n.
Proof.
  intros Hi Hb Hp Hq. unfold Jf. assert (L := pow_lt lam i ltac:(lra)). assert (N := n1).
  assert (KM0 : 0 <= KM) by (unfold KM; lra).
  unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_right (lam ^ i)) by lra.
  apply Rmult_le_compat; [apply Rabs_pos|left; now apply Rinv_0_lt_compat| |now apply pow_n].
  eapply Rle_trans; [apply Rabs_triang|].
  assert (X1 : Rabs (B0 i p * (W0 q b + W0 p b * M i q)) <= 1 * (1 + KM)).
  { rewrite Rabs_mult. apply Rmult_le_compat; auto using Rabs_pos; [apply B0_abs|].
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
    assert (A := W0_abs q b). assert (A' := W0_abs p b). assert (Mi := M_abs i q Hi Hq).
    assert (Rabs (W0 p b) * Rabs (M i q) <= 1 * KM) by (apply Rmult_le_compat; auto using Rabs_pos). lra. }
  assert (X2 : Rabs (eye p i * sum n (fun j => B0 i j * W0 j b * M q j)) <= 1 * (INR n * (1 * 1 * KM))).
  { rewrite Rabs_mult. apply Rmult_le_compat; auto using Rabs_pos; [unfold eye; destruct Nat.eqb;
      [rewrite Rabs_right|rewrite Rabs_R0]; lra|].
    eapply Rle_trans; [apply sum_abs|]. rewrite <- sum_const. apply sum_le; intros j Hj. rewrite !Rabs_mult.
    apply Rmult_le_compat; auto using Rabs_pos; [apply Rmult_le_pos; apply Rabs_pos| |now apply M_abs].
    apply Rmult_le_compat; auto using Rabs_pos; [apply B0_abs|apply W0_abs]. }
  nra.
Qed.
End Path.

Theorem theorem_B n dl (G : mat) : (0 < n)%nat -> 0 < dl ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j <= 1) ->
  (forall i, (i < n)%nat -> G i i = 1) -> (forall i, (S i < n)%nat -> G (S i) i = 1) ->
  exists M W : mat, let F := sphere_map n n M W G in
  fixed n n F eye /\ attracts n n F eye /\
  exists J, derivative n n F eye J /\ forall z : C, eigenvalue n n J z -> Cmod z < dl.
Proof.
  intros Hn D G01 G1 G2. set (lam := Rmin dl 1 / 4). assert (M1 := Rmin_l dl 1). assert (M2 := Rmin_r dl 1).
  assert (M0 : 0 < Rmin dl 1) by (apply Rmin_glb_lt; lra).
  assert (lb : 0 < lam <= 1/4) by (unfold lam; lra). assert (ld : 2 * lam < dl) by (unfold lam; lra).
  assert (N1 : 1 <= INR n) by (apply (le_INR 1); lia). set (N := INR n * INR n).
  assert (NN : 1 <= N) by (unfold N; nra).
  set (c := C0 n lam).
  assert (lp : 0 < lam ^ n <= 1) by (split; [apply pow_lt; lra|rewrite <- (pow1 n); apply pow_incr; lra]).
  assert (il : 1 <= / lam ^ n) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  assert (c1 : (INR n + 1) / lam ^ n <= c) by (unfold c, C0; fold N; unfold Rdiv; apply Rmult_le_compat_r; [lra|]; nra).
  assert (c2 : 1 <= c) by (assert (1 * 1 <= (INR n + 1) * / lam ^ n) by (apply Rmult_le_compat; lra);
    unfold Rdiv in c1; lra).
  set (ct := 1 + 8 * N * c / lam). assert (Nc : 0 <= N * c) by nra.
  assert (ct1 : 1 <= ct) by (unfold ct; assert (0 <= 8 * N * c / lam) by (apply Rmult_le_pos; [lra|left;
    apply Rinv_0_lt_compat; lra]); lra).
  set (E := exp (2 * INR n + 2)). assert (E1 : 1 <= E) by (unfold E; assert (I := exp_ineq1_le (2 * INR n + 2)); lra).
  assert (ctp : 1 <= ct ^ (n * n)) by (now apply pow_R1_Rle).
  set (Cb := N * c * E * ct ^ (n * n)). assert (NcE : 1 <= N * c * E) by (assert (1 <= N * c) by nra; nra).
  assert (Cb1 : N * c * E <= Cb) by (unfold Cb; nra). assert (Cbp : 0 < Cb) by lra.
  destruct (exp_beats Cb (S (n * n)) (lam / 4) (2 * INR n + 2) Cbp ltac:(lra)) as [y [y1 [y2 Hy]]].
  set (s := y - 1 - 2 * INR n). assert (s1 : 1 <= s) by (unfold s; lra).
  assert (Ey : eps s = E * exp (- y)) by (unfold eps, E, s; rewrite <- exp_plus; f_equal; ring).
  assert (Ky : 1 + KM n s = y) by (unfold KM, s; ring). assert (ey := exp_pos (- y)).
  assert (yp : 1 <= y ^ (n * n)) by (now apply pow_R1_Rle).
  assert (ys : 1 <= y ^ S (n * n)) by (now apply pow_R1_Rle).
  assert (small : INR n * INR n * eps s <= 1/2).
  { rewrite Ey. fold N. apply Rle_trans with (Cb * y ^ S (n * n) * exp (- y)); [|lra]. rewrite <- Rmult_assoc.
    apply Rmult_le_compat_r; [lra|].
    assert (N * E * 1 <= N * E * c) by (apply Rmult_le_compat_l; [apply Rmult_le_pos|]; lra). assert (Cb * 1 <= Cb * y ^ S (n * n)) by (apply Rmult_le_compat_l; lra). lra. }
  destruct (linear_fixed n (Qm n G s) (path_values lam)) as [W HW].
  { intros i _. apply Qm_rows; auto. }
  assert (l01 : 0 < lam <= 1) by lra.
  exists (path_logits s), W. intro F.
  assert (Fx : fixed n n F eye) by (apply (fixed_P n G s lam); auto).
  assert (Dv : derivative n n F eye (dF n n (path_logits s) W G eye)) by (apply (derivative_P n G s lam); auto).
  assert (e01 := eps_b s s1).
  assert (Main : attracts n n F eye /\ forall z : C, eigenvalue n n (dF n n (path_logits s) W G eye) z ->
    Cmod z <= 2 * lam).
  { assert (cy : 1 <= c * y) by (rewrite <- (Rmult_1_l 1); apply Rmult_le_compat; lra).
    apply (attraction_nearly n n F eye (dF n n (path_logits s) W G eye) (ordP n) lam (2 * (c * y)) (c * y * eps s) Fx
      Dv lb).
    - lra.
    - apply Rmult_le_pos; lra.
    - intros. now apply ordP_b.
    - fold N. assert (th : 1 + 4 * N * (2 * (c * y)) / lam <= ct * y).
      { unfold ct. replace ((1 + 8 * N * c / lam) * y) with (y + 4 * N * (2 * (c * y)) / lam) by (field; lra). lra. }
      assert (th0 : 0 <= 1 + 4 * N * (2 * (c * y)) / lam) by (assert (0 <= 4 * N * (2 * (c * y)) / lam) by (apply
        Rmult_le_pos; [assert (0 <= N * (c * y)) by (apply Rmult_le_pos; lra); lra|left; apply Rinv_0_lt_compat; lra]);
        lra).
      assert (tp : (1 + 4 * N * (2 * (c * y)) / lam) ^ (n * n) <= (ct * y) ^ (n * n)) by (apply pow_incr; lra).
      rewrite Rpow_mult_distr in tp. eapply Rle_trans; [|exact Hy]. rewrite Ey.
      replace (Cb * y ^ S (n * n) * exp (- y)) with (N * (c * y * (E * exp (- y))) * (ct ^ (n * n) * y ^ (n * n))) by
        (unfold Cb; simpl; ring).
      apply Rmult_le_compat_l; [|exact tp]. apply Rmult_le_pos; [lra|].
      apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra].
    - fold N. exact NN.
    - intros i a p b Hi Ha Hp Hb. rewrite (dF_P n G s lam) by auto. destruct (Nat.eqb a i); [rewrite Rabs_R0; lra|].
      assert (Er := J_error n G s lam Hn G01 G1 G2 s1 l01 small W HW i a p b Hi Ha Hp Hb).
      assert (Tb := T_abs n s lam Hn s1 l01 i a p b Hi Ha Hp Hb).
      fold c in Er. rewrite Ky in Er, Tb.
      replace (Jf n s lam (Bm G s) W i a p b) with ((Jf n s lam (Bm G s) W i a p b - Jf n s lam path_keys (path_values
        lam) i a p b) + Jf n s lam path_keys (path_values lam) i a p b) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. assert ((INR n + 1) * y / lam ^ n <= c * y) by (replace ((INR n + 1) * y
        / lam ^ n) with ((INR n + 1) / lam ^ n * y) by (field; lra); apply Rmult_le_compat_r; lra).
      assert (c * y * eps s <= c * y * 1) by (apply Rmult_le_compat_l; lra). lra.
    - intros i a p b Hi Ha Hp Hb Ne Ho. rewrite (dF_P n G s lam) by auto.
      destruct (Nat.eqb_spec a i) as [|Na]; [rewrite Rabs_R0; apply Rmult_le_pos; lra|].
      assert (Er := J_error n G s lam Hn G01 G1 G2 s1 l01 small W HW i a p b Hi Ha Hp Hb). fold c in Er.
      rewrite Ky in Er.
      rewrite (T_upper n s lam Hn l01 i a p b Hi Ha Hp Hb Na Ne Ho), Rminus_0_r in Er. exact Er.
    - intros i a Hi Ha. rewrite (dF_P n G s lam) by auto. destruct (Nat.eqb_spec a i) as [|Na]; [rewrite Rabs_R0;
        assert (0 <= c * y * eps s) by (apply Rmult_le_pos; lra); lra|].
      assert (Er := J_error n G s lam Hn G01 G1 G2 s1 l01 small W HW i a i a Hi Ha Hi Ha). fold c in Er.
      rewrite Ky in Er.
      assert (Td := T_diag n s lam Hn l01 i a Hi Ha Na).
      replace (Jf n s lam (Bm G s) W i a i a) with ((Jf n s lam (Bm G s) W i a i a - Jf n s lam path_keys (path_values
        lam) i a i a) + Jf n s lam path_keys (path_values lam) i a i a) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rabs_right (Jf n s lam path_keys (path_values lam) i a i a)) by
        lra. lra. }
  destruct Main as [At Sp]. split; [exact Fx|split; [exact At|]]. exists (dF n n (path_logits s) W G eye).
  split; [exact Dv|].
  intros z Hz. specialize (Sp z Hz). lra.
Qed.

(** In particular for the complete and for the causal mask. *)
Theorem theorem_B_complete n dl : (0 < n)%nat -> 0 < dl -> exists M W : mat, let F := sphere_map n n M W nomask in
  fixed n n F eye /\ attracts n n F eye /\
  exists J, derivative n n F eye J /\ forall z : C, eigenvalue n n J z -> Cmod z < dl.
Proof. intros Hn D. apply theorem_B; auto; intros; unfold nomask; lra. Qed.
