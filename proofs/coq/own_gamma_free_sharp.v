(** own:gamma-free-sharp (thm:gf-sharp).  One head, kappa = (e^delta - 1)/delta with delta the largest oscillation of a
  row of E:
        comp(res SA(X)) <= (kappa (32/27 kappa + 2 (kappa - 1)) |q|_inf)^(1/2) norm1 W_QK comp W / sqrt d_qk comp(R)^3
    about any centre [gamma_free_sharp].  The constant tends to sqrt(32/27) as the attention flattens. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms Softmax own_tv centred_form own_gamma_free.
Local Open Scope R_scope.

(* ---------- one row ---------- *)
(** e^s - 1 - s is the larger for s > 0. *)
Lemma exp_even s : 0 <= s -> exp (- s) - 1 + s <= exp s - 1 - s.
Proof.
  intros Hs. set (g := fun x => exp x - exp (- x) - 2 * x).
  assert (G : g 0 <= g s); [|unfold g in G; rewrite Ropp_0, exp_0 in G; lra].
  destruct Hs as [Hs|<-]; [|lra]. destruct (MVT_cor2 g (fun x => exp x + exp (- x) - 2) 0 s Hs) as [c [E _]].
  - intros c _. apply is_derive_Reals. unfold g. auto_derive; [exact I|ring].
  - assert (P := exp_pos c). assert (Q := Rle_0_sqr (exp c - 1)). unfold Rsqr in Q. rewrite exp_Ropp in E.
    assert (0 <= exp c + / exp c - 2); [|nra]. apply Rmult_le_reg_r with (exp c); [exact P|].
    rewrite Rmult_0_l. replace ((exp c + / exp c - 2) * exp c) with ((exp c - 1) * (exp c - 1)) by (field; lra).
    exact Q.
Qed.

Lemma exp_second t delta : Rabs t <= delta -> exp t - 1 - t <= (expc delta - 1) * Rabs t.
Proof.
  intros H. assert (A := Rabs_pos t). assert (C := exp_chord (Rabs t) delta ltac:(lra)).
  destruct (Rcase_abs t) as [N|P].
  - rewrite (Rabs_left t N) in *. assert (E := exp_even (- t) ltac:(lra)). rewrite Ropp_involutive in E. lra.
  - rewrite (Rabs_right t P) in *. lra.
Qed.

Section Row.
Variables (n : nat) (q E : vec) (delta : R).
Hypothesis Hq : forall j, (j < n)%nat -> 0 <= q j.
Hypothesis Hs : sum n q = 1.
Hypothesis Ho : forall j k, (j < n)%nat -> (k < n)%nat -> 0 < q j -> 0 < q k -> E j - E k <= delta.
Let K := expc delta.
Let m := sum n (fun k => q k * E k).
Let A := sum n (fun k => q k * Rabs (E k - m)).
Let Z := sum n (fun k => q k * exp (E k - m)).

Let D0 : 0 <= delta.
Proof. destruct (prob_weights n q Hq Hs) as [_ [k [Hk Pk]]]. specialize (Ho k k Hk Hk Pk Pk). lra. Qed.

Let near j : (j < n)%nat -> 0 < q j -> Rabs (E j - m) <= delta.
Proof.
  intros Hj Pj. assert (S : forall c, E j * c - sum n (fun k => q k * (E k * c)) = sum n (fun k => q k * ((E j - E k) *
    c))).
  { intro c. rewrite <- (Rmult_1_l (E j * c)), <- Hs, <- sum_scal_r, <- sum_minus. apply sum_ext; intros; ring. }
  assert (B : forall c, (c = 1 \/ c = -1) -> sum n (fun k => q k * ((E j - E k) * c)) <= delta).
  { intros c Hc. rewrite <- (Rmult_1_l delta), <- Hs, <- sum_scal_r. apply sum_le; intros k Hk.
    destruct (Rle_lt_or_eq_dec 0 (q k) (Hq k Hk)) as [Lk|Lk]; [|rewrite <- Lk; lra]. apply Rmult_le_compat_l; [lra|].
    assert (X := Ho j k Hj Hk Pj Lk). assert (Y := Ho k j Hk Hj Lk Pj). destruct Hc; subst c; lra. }
  assert (B1 := B 1 (or_introl eq_refl)). assert (B2 := B (-1) (or_intror eq_refl)). rewrite <- S in B1, B2.
  rewrite (sum_ext n _ (fun k => q k * E k)) in B1 by (intros; ring).
  rewrite (sum_ext n _ (fun k => -1 * (q k * E k))) in B2 by (intros; ring).
  rewrite sum_scal in B2. fold m in B1, B2. apply Rabs_le. lra.
Qed.

Let centred_mean : sum n (fun k => q k * (E k - m)) = 0.
Proof. rewrite (sum_ext n _ (fun k => q k * E k - q k * m)) by (intros; ring). rewrite sum_minus, sum_scal_r, Hs.
fold m. ring. Qed.

Let Z_low : 1 <= Z.
Proof.
  apply Rle_trans with (sum n (fun k => q k + q k * (E k - m))); [rewrite sum_plus, centred_mean, Hs; lra|].
  apply sum_le; intros k Hk. assert (T := exp_ineq1_le (E k - m)). specialize (Hq k Hk). nra.
Qed.
Let Z_high : Z - 1 <= (K - 1) * A.
Proof.
  replace (Z - 1) with (sum n (fun k => q k * (exp (E k - m) - 1 - (E k - m)))).
  - unfold A. rewrite <- sum_scal. apply sum_le; intros k Hk.
    destruct (Rle_lt_or_eq_dec 0 (q k) (Hq k Hk)) as [Lk|Lk]; [|rewrite <- Lk; lra].
    assert (T := exp_second (E k - m) delta (near k Hk Lk)). fold K in T. nra.
  - rewrite (sum_ext n _ (fun k => q k * exp (E k - m) - (q k + q k * (E k - m)))) by (intros; ring).
    rewrite sum_minus, sum_plus, centred_mean, Hs. fold Z. ring.
Qed.
Let tilt_Z j : tilt n q E j = q j * (exp (E j - m) / Z).
Proof.
  unfold tilt. replace (sum n (fun k => q k * exp (E k))) with (exp m * Z).
  - assert (P := exp_pos m). assert (ZL := Z_low). unfold Rminus at 1. rewrite exp_plus, exp_Ropp. field. lra.
  - unfold Z. rewrite <- sum_scal. apply sum_ext; intros k _. unfold Rminus. rewrite exp_plus, exp_Ropp.
    assert (P := exp_pos m). field. lra.
Qed.

Lemma entry_above j : (j < n)%nat -> tilt n q E j - q j <= K * (q j * Rmax 0 (E j - m)).
Proof.
  intros Hj. assert (ZL := Z_low). assert (P := exp_pos (E j - m)). assert (Q := Hq j Hj).
  assert (K1 := expc_ge1 delta D0). fold K in K1.
  destruct (Rle_lt_or_eq_dec 0 (q j) Q) as [Lj|Lj]; [|rewrite tilt_Z, <- Lj; lra].
  assert (U : exp (E j - m) / Z <= exp (E j - m)) by (rewrite <- (Rdiv_1 (exp (E j - m))) at 2;
    apply Rmult_le_compat_l; [lra|apply Rinv_le_contravar; lra]).
  rewrite tilt_Z. replace (q j * (exp (E j - m) / Z) - q j) with (q j * (exp (E j - m) / Z - 1)) by ring.
  replace (K * (q j * Rmax 0 (E j - m))) with (q j * (K * Rmax 0 (E j - m))) by ring.
  apply Rmult_le_compat_l; [lra|]. destruct (Rle_or_lt (E j - m) 0) as [L|L].
  - rewrite Rmax_left by exact L. assert (exp (E j - m) <= 1) by (rewrite <- exp_0; now apply exp_le). lra.
  - rewrite Rmax_right by lra. assert (B := near j Hj Lj). rewrite Rabs_right in B by lra.
    assert (C := exp_chord (E j - m) delta ltac:(lra)). fold K in C. lra.
Qed.

Lemma entry_below j : (j < n)%nat -> q j - tilt n q E j <= q j * (Rabs (E j - m) + (K - 1) * A).
Proof.
  intros Hj. assert (ZL := Z_low). assert (ZH := Z_high). assert (P := exp_ineq1_le (E j - m)). assert (Q := Hq j Hj).
  assert (R := Rle_abs (- (E j - m))). rewrite Rabs_Ropp in R.
  rewrite tilt_Z. replace (q j - q j * (exp (E j - m) / Z)) with (q j * (1 - exp (E j - m) / Z)) by ring.
  apply Rmult_le_compat_l; [lra|].
  apply Rmult_le_reg_r with Z; [lra|]. replace ((1 - exp (E j - m) / Z) * Z) with (Z - exp (E j - m)) by (field; lra).
  assert (B : 0 <= Rabs (E j - m) + (K - 1) * A) by (assert (X := Rabs_pos (E j - m)); lra). nra.
Qed.

Lemma entry_sharp j : (j < n)%nat -> Rabs (tilt n q E j - q j) <= q j * (K * Rabs (E j - m) + (K - 1) * A).
Proof.
  intros Hj. assert (U := entry_above j Hj). assert (L := entry_below j Hj). assert (Q := Hq j Hj).
  assert (K1 := expc_ge1 delta D0). fold K in K1.
  assert (B := Rabs_pos (E j - m)). assert (S : 0 <= (K - 1) * A) by (assert (X := Z_low); assert (Y := Z_high); lra).
  assert (M : Rmax 0 (E j - m) <= Rabs (E j - m)) by (apply Rmax_lub; [exact B|apply Rle_abs]).
  apply Rabs_le. split.
  - apply Rle_trans with (- (q j * (Rabs (E j - m) + (K - 1) * A))); [|lra].
    apply Ropp_le_contravar, Rmult_le_compat_l; [exact Q|]. nra.
  - eapply Rle_trans; [exact U|]. replace (K * (q j * Rmax 0 (E j - m))) with (q j * (K * Rmax 0 (E j - m))) by ring.
    apply Rmult_le_compat_l; [exact Q|]. nra.
Qed.

(** The row sum: twice the sum of the positive entries. *)
Lemma row_sharp : sum n (fun j => Rabs (tilt n q E j - q j)) <= K * A.
Proof.
  assert (K1 := expc_ge1 delta D0). fold K in K1.
  assert (T : sum n (fun j => tilt n q E j - q j) = 0) by (rewrite sum_minus, tilt_sum, Hs by (now apply prob_weights);
    ring).
  apply Rle_trans with (sum n (fun j => 2 * (K * (q j * Rmax 0 (E j - m))) - (tilt n q E j - q j))).
  - apply sum_le; intros j Hj. assert (U := entry_above j Hj).
    assert (V : 0 <= K * (q j * Rmax 0 (E j - m))) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos;
      [auto|apply Rmax_l]]).
    apply Rabs_le. lra.
  - rewrite sum_minus, T, Rminus_0_r. right. unfold A. rewrite <- sum_scal.
    replace (sum n (fun j => K * (q j * Rabs (E j - m)))) with (sum n (fun j => 2 * (K * (q j * Rmax 0 (E j - m))) - K
      * (q j * (E j - m)))).
    + rewrite sum_minus, (sum_scal n K (fun j => q j * (E j - m))), centred_mean. ring.
    + apply sum_ext; intros j _. destruct (Rcase_abs (E j - m)) as [N|P];
        [rewrite Rabs_left, Rmax_left by lra|rewrite Rabs_right, Rmax_right by lra]; ring.
Qed.
End Row.

(** The mean deviation of numbers in [-eps, eps] with mean nu >= 0. *)
Lemma deviation n (q x : vec) eps : (forall j, (j < n)%nat -> 0 <= q j) -> sum n q = 1 -> 0 < eps ->
  (forall j, (j < n)%nat -> Rabs (x j) <= eps) ->
  let nu := sum n (fun k => q k * x k) in 0 <= nu ->
  eps * sum n (fun k => q k * Rabs (x k - nu)) <= (eps - nu) * (sum n (fun k => q k * Rabs (x k)) + nu).
Proof.
  intros Hq Hs He Hx nu N0.
  assert (N1 : nu <= eps).
  { unfold nu. rewrite <- (Rmult_1_l eps), <- Hs, <- sum_scal_r. apply sum_le; intros k Hk.
    apply Rmult_le_compat_l; [auto|]. eapply Rle_trans; [apply Rle_abs|auto]. }
  apply Rle_trans with (sum n (fun k => q k * ((eps - nu) * (Rabs (x k) + x k) - eps * (x k - nu)))).
  - rewrite <- sum_scal. apply sum_le; intros k Hk. specialize (Hx k Hk).
    replace (eps * (q k * Rabs (x k - nu))) with (q k * (eps * Rabs (x k - nu))) by ring.
    apply Rmult_le_compat_l; [auto|].
    unfold Rabs in *. destruct (Rcase_abs (x k)), (Rcase_abs (x k - nu)); nra.
  - right. rewrite (sum_ext n _ (fun k => (eps - nu) * (q k * Rabs (x k)) + (eps - nu) * (q k * x k) - (eps * (q k * x
      k) - q k * (eps * nu)))) by (intros; ring).
    rewrite sum_minus, sum_plus, sum_minus, !sum_scal, sum_scal_r, Hs. fold nu. ring.
Qed.

Lemma deviation_any n (q x : vec) eps : (forall j, (j < n)%nat -> 0 <= q j) -> sum n q = 1 -> 0 < eps ->
  (forall j, (j < n)%nat -> Rabs (x j) <= eps) ->
  let nu := sum n (fun k => q k * x k) in
  eps * sum n (fun k => q k * Rabs (x k - nu)) <= (eps - Rabs nu) * (sum n (fun k => q k * Rabs (x k)) + Rabs nu).
Proof.
  intros Hq Hs He Hx nu. destruct (Rle_or_lt 0 nu) as [P|N]; [rewrite (Rabs_right nu) by lra; now apply deviation|].
  assert (E : sum n (fun k => q k * - x k) = - nu) by (unfold nu;
    rewrite (sum_ext n _ (fun k => -1 * (q k * x k))) by (intros; ring); rewrite sum_scal; ring).
  assert (D := deviation n q (fun k => - x k) eps Hq Hs He). cbv beta zeta in D. rewrite E in D.
  rewrite (Rabs_left nu N). rewrite (sum_ext n _ (fun k => q k * Rabs (- x k - - nu))).
  - rewrite (sum_ext n (fun k => q k * Rabs (x k)) (fun k => q k * Rabs (- x k))) by (intros; now rewrite Rabs_Ropp).
    apply D; [|lra]. intros; rewrite Rabs_Ropp; auto.
  - intros k _. rewrite <- Rabs_Ropp. f_equal. f_equal. ring.
Qed.

(** The largest value of the product, at nu = eps/3. *)
Lemma product_sharp K eps s nu : 1 <= K -> 0 <= nu <= s -> s <= eps ->
  (K * ((eps - nu) * (s + nu))) * (K * (2 * eps + nu - s) + 2 * (K - 1) * eps) <= K * (32 / 27 * K + 2 * (K - 1)) * eps
    ^ 3.
Proof.
  intros HK Hn Hs.
  assert (A : (s + nu) * (2 * eps + nu - s) <= (eps + nu) * (eps + nu)) by (assert (Q := Rle_0_sqr (eps - s));
    unfold Rsqr in Q; nra).
  assert (B : (eps - nu) * ((eps + nu) * (eps + nu)) <= 32 / 27 * eps ^ 3).
  { assert (Q := Rle_0_sqr (nu - eps / 3)). unfold Rsqr in Q.
    assert (0 <= (nu - eps / 3) * (nu - eps / 3) * (nu + 5 * eps / 3)) by (apply Rmult_le_pos; lra).
    replace (32 / 27 * eps ^ 3 - (eps - nu) * ((eps + nu) * (eps + nu))) with ((nu - eps / 3) * (nu - eps / 3) * (nu +
      5 * eps / 3)) by field. lra || nra. }
  assert (C : (eps - nu) * (s + nu) <= eps * eps) by nra.
  assert (AB : (eps - nu) * ((s + nu) * (2 * eps + nu - s)) <= 32 / 27 * eps ^ 3) by (eapply Rle_trans;
    [apply Rmult_le_compat_l; [lra|exact A]|exact B]).
  replace (K * ((eps - nu) * (s + nu)) * (K * (2 * eps + nu - s) + 2 * (K - 1) * eps))
    with (K * (K * ((eps - nu) * ((s + nu) * (2 * eps + nu - s))) + 2 * (K - 1) * eps * ((eps - nu) * (s + nu)))) by
      ring.
  replace (K * (32 / 27 * K + 2 * (K - 1)) * eps ^ 3) with (K * (K * (32 / 27 * eps ^ 3) + 2 * (K - 1) * eps * (eps *
    eps))) by ring.
  apply Rmult_le_compat_l; [lra|]. apply Rplus_le_compat; [apply Rmult_le_compat_l; lra|].
  apply Rmult_le_compat_l; [|exact C]. apply Rmult_le_pos; lra.
Qed.

(* ---------- one head ---------- *)
Section Head.
Variables (n d dq : nat) (h : head) (X : mat) (x : vec).
Hypothesis Hn : (0 < n)%nat.
Hypothesis Hq : (0 < dq)%nat.
Hypothesis M : key_padding n (mask h).
Let q := q_of n d dq h x (centred X x).
Let E := E_of d dq h (centred X x).
Let Q := Q_of n d dq h X x.
Let eps := norm1 d d (WQK dq h) * comp n d (centred X x) ^ 2 / sqrt (INR dq).
Let K := expc (delta_of n d dq h X x).

Lemma Q_sharp : norm1 n n Q * norminf n n Q <= qmax_of n d dq h X x * (K * (32 / 27 * K + 2 * (K - 1))) * eps ^ 2.
Proof.
  destruct (q_prob n d dq h X x Hn M) as [Hp Hs]. fold q in Hp, Hs.
  assert (D0 : 0 <= delta_of n d dq h X x) by apply maxf_pos. assert (K1 : 1 <= K) by (now apply expc_ge1).
  assert (Ho := delta_osc n d dq h X x _ (Rle_refl _)). fold q E in Ho.
  assert (e0 : 0 <= eps) by (apply (eps_nonneg n d dq h X x Hq)). assert (QM := maxf_pos n q).
  change (maxf n q) with (qmax_of n d dq h X x) in QM.
  assert (QE : forall i j, (i < n)%nat -> (j < n)%nat -> Q i j = tilt n q (E i) j - q j) by (intros; now apply Q_eq).
  destruct (Rle_lt_or_eq_dec 0 eps e0) as [Ep|Ez].
  2:{ assert (Z := Q_inf n d dq h X x Hn Hq M). fold Q eps in Z.
      assert (Z0 : norminf n n Q = 0) by (apply Rle_antisym; [lra|apply maxf_pos]). rewrite Z0, <- Ez. simpl.
      rewrite !Rmult_0_r, Rmult_0_l, Rmult_0_r. lra. }
  assert (Col : forall j, (j < n)%nat -> sum n (fun i => Rabs (E i j)) <= eps) by (intros; now apply E_col).
  assert (Ent : forall i j, (i < n)%nat -> (j < n)%nat -> Rabs (E i j) <= eps) by (intros; now apply E_entry).
  set (a := fun i => sum n (fun k => q k * Rabs (E i k))). set (mm := fun i => sum n (fun k => q k * E i k)).
  assert (Ma : forall i, Rabs (mm i) <= a i).
  { intro i. unfold mm, a. eapply Rle_trans; [apply sum_abs|]. apply sum_le; intros k Hk.
    rewrite Rabs_mult, (Rabs_right (q k)) by (apply Rle_ge; auto). lra. }
  assert (Sa : forall c : vec, (forall k, (k < n)%nat -> c k <= eps) -> sum n (fun k => q k * c k) <= eps).
  { intros c Hc. rewrite <- (Rmult_1_l eps), <- Hs, <- sum_scal_r. apply sum_le; intros k Hk.
    apply Rmult_le_compat_l; auto. }
  assert (SA : sum n a <= eps).
  { unfold a. rewrite sum_swap. rewrite (sum_ext n _ (fun k => q k * sum n (fun i => Rabs (E i k)))) by (intros;
      now rewrite sum_scal). now apply Sa. }
  assert (QP : 0 <= norm1 n n Q) by apply maxf_pos.
  destruct (maxf_attained n (fun i => sum n (fun j => Rabs (Q i j)))) as [Z0|[i [Hi Ei]]].
  { unfold norminf. rewrite Z0, Rmult_0_r. apply Rmult_le_pos; [apply Rmult_le_pos; [exact QM|apply Rmult_le_pos;
      lra]|apply pow_le; lra]. }
  set (nu := Rabs (mm i)). set (s := a i).
  assert (ns : 0 <= nu <= s) by (split; [apply Rabs_pos|apply Ma]).
  assert (se : s <= eps) by (unfold s, a; apply Sa; intros; now apply Ent).
  assert (RI : eps * norminf n n Q <= K * ((eps - nu) * (s + nu))).
  { unfold norminf. rewrite Ei. rewrite (sum_ext n _ (fun j => Rabs (tilt n q (E i) j - q j))) by (intros;
      now rewrite QE).
    assert (R := row_sharp n q (E i) _ Hp Hs (fun j k Hj Hk => Ho i j k Hi Hj Hk)). fold K (mm i) in R.
    assert (V := deviation_any n q (E i) eps Hp Hs Ep (fun j Hj => Ent i j Hi Hj)). cbv zeta in V.
    fold (mm i) nu (a i) s in V.
    apply Rle_trans with (K * (eps * sum n (fun k => q k * Rabs (E i k - mm i)))); [|apply Rmult_le_compat_l;
      [lra|exact V]].
    rewrite <- (Rmult_assoc K), (Rmult_comm K eps), Rmult_assoc. apply Rmult_le_compat_l; [lra|exact R]. }
  assert (SM : sum n (fun i => Rabs (mm i)) <= eps - s + nu).
  { assert (G := sum_term_le n (fun i => a i - Rabs (mm i)) i). cbv beta in G. rewrite sum_minus in G. fold s nu in G.
    assert (G' := G ltac:(intros k _; specialize (Ma k); lra) Hi). lra. }
  assert (CO : norm1 n n Q <= qmax_of n d dq h X x * (K * (2 * eps + nu - s) + 2 * (K - 1) * eps)).
  { assert (B0 : 0 <= K * (2 * eps + nu - s) + 2 * (K - 1) * eps) by (apply Rplus_le_le_0_compat; [apply Rmult_le_pos;
      lra|apply Rmult_le_pos; [lra|exact e0]]).
    apply maxf_lub; [now apply Rmult_le_pos|]. intros j Hj.
    apply Rle_trans with (sum n (fun i => q j * (K * Rabs (E i j - mm i) + (K - 1) * sum n (fun k => q k * Rabs (E i k
      - mm i))))).
    - apply sum_le; intros i0 Hi0. rewrite QE by assumption. exact (entry_sharp n q (E i0) _ Hp Hs (fun j k Hj Hk => Ho
        i0 j k Hi0 Hj Hk) j Hj).
    - rewrite sum_scal. apply Rmult_le_compat; [auto| |now apply (maxf_ub n q j)|].
      + apply sum_nonneg; intros i0 _. apply Rplus_le_le_0_compat; (apply Rmult_le_pos; [lra|]); [apply Rabs_pos|].
        apply sum_nonneg; intros k Hk. apply Rmult_le_pos; [auto|apply Rabs_pos].
      + rewrite sum_plus, !sum_scal. apply Rplus_le_compat.
        * apply Rmult_le_compat_l; [lra|]. apply Rle_trans with (sum n (fun i0 => Rabs (E i0 j)) + sum n (fun i0 =>
            Rabs (mm i0))); [|specialize (Col j Hj); lra].
          rewrite <- sum_plus. apply sum_le; intros i0 _. unfold Rminus. eapply Rle_trans; [apply Rabs_triang|].
          rewrite Rabs_Ropp. lra.
        * rewrite (Rmult_comm 2), Rmult_assoc. apply Rmult_le_compat_l; [lra|].
          apply Rle_trans with (sum n (fun i0 => 2 * a i0)); [|rewrite sum_scal; lra].
          apply sum_le; intros i0 _. apply Rle_trans with (sum n (fun k => q k * Rabs (E i0 k) + q k * Rabs (mm i0))).
          -- apply sum_le; intros k Hk. rewrite <- Rmult_plus_distr_l. apply Rmult_le_compat_l; [auto|]. unfold Rminus.
             eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra.
          -- rewrite sum_plus, sum_scal_r, Hs. fold (a i0). specialize (Ma i0). lra. }
  apply Rmult_le_reg_l with eps; [exact Ep|].
  assert (PS := product_sharp K eps s nu K1 ns se).
  apply Rle_trans with (qmax_of n d dq h X x * (K * ((eps - nu) * (s + nu)) * (K * (2 * eps + nu - s) + 2 * (K - 1) *
    eps))).
  - replace (eps * (norm1 n n Q * norminf n n Q)) with (norm1 n n Q * (eps * norminf n n Q)) by ring.
    replace (qmax_of n d dq h X x * (K * ((eps - nu) * (s + nu)) * (K * (2 * eps + nu - s) + 2 * (K - 1) * eps)))
      with (qmax_of n d dq h X x * (K * (2 * eps + nu - s) + 2 * (K - 1) * eps) * (K * ((eps - nu) * (s + nu)))) by
        ring.
    apply Rmult_le_compat; [exact QP|apply Rmult_le_pos; [lra|apply maxf_pos]|exact CO|exact RI].
  - eapply Rle_trans; [apply Rmult_le_compat_l; [exact QM|exact PS]|]. right. ring.
Qed.
End Head.

Theorem gamma_free_sharp n d Ly X x r' : (0 < n)%nat -> (0 < dqk Ly)%nat -> nheads Ly = 1%nat ->
  key_padding n (mask (hd Ly 0)) ->
  residual (comp n d) (SA n d Ly X) r' ->
  let kappa := expc (delta_of n d (dqk Ly) (hd Ly 0) X x) in
  r' <= sqrt (kappa * (32 / 27 * kappa + 2 * (kappa - 1)) * qmax_of n d (dqk Ly) (hd Ly 0) X x) / sqrt (INR (dqk Ly))
        * norm1 d d (WQK (dqk Ly) (hd Ly 0)) * comp d d (WV (hd Ly 0)) * comp n d (centred X x) ^ 3.
Proof.
  intros Hn Hq H1 M [y [Hy <-]] kappa. eapply Rle_trans; [apply (Hy (new_centre n d Ly X x))|].
  assert (SP := sqrt_dqk_pos _ Hq). set (rho := comp n d (centred X x)). assert (R0 : 0 <= rho) by apply comp_pos.
  assert (K1 : 1 <= kappa) by (apply expc_ge1, maxf_pos). assert (QM : 0 <= qmax_of n d (dqk Ly) (hd Ly 0) X x) by
    apply maxf_pos.
  set (N1 := norm1 n n (Q_of n d (dqk Ly) (hd Ly 0) X x)). set (Ni := norminf n n (Q_of n d (dqk Ly) (hd Ly 0) X x)).
  set (W1 := norm1 d d (WV (hd Ly 0))). set (Wi := norminf d d (WV (hd Ly 0))).
  set (al := norm1 d d (WQK (dqk Ly) (hd Ly 0))).
  assert (P1 : 0 <= N1) by apply maxf_pos. assert (P2 : 0 <= Ni) by apply maxf_pos.
  assert (P3 : 0 <= W1) by apply maxf_pos. assert (P4 : 0 <= Wi) by apply maxf_pos.
  assert (P5 : 0 <= al) by apply maxf_pos.
  assert (L := layer_from_Q n d Ly X x (fun h Hh => ltac:(replace h with 0%nat by lia;
    exact M)) (fun _ => N1) (fun _ => Ni)
    (fun h Hh => ltac:(replace h with 0%nat by lia; apply Rle_refl)) (fun h Hh => ltac:(replace h with 0%nat by lia;
      apply Rle_refl))).
  rewrite H1 in L. cbn [sum] in L. rewrite !Rplus_0_l in L. fold W1 Wi rho in L. eapply Rle_trans; [exact L|].
  assert (S := Q_sharp n d (dqk Ly) (hd Ly 0) X x Hn Hq M). fold N1 Ni kappa rho al in S.
  set (C := kappa * (32 / 27 * kappa + 2 * (kappa - 1))) in *.
  assert (C0 : 0 <= C) by (unfold C; apply Rmult_le_pos; lra).
  set (ep := al * rho ^ 2 / sqrt (INR (dqk Ly))) in *. assert (E0 : 0 <= ep) by (apply Rmult_le_pos;
    [apply Rmult_le_pos; [lra|apply pow2_ge_0]|left; now apply Rinv_0_lt_compat]).
  replace (sqrt (C * qmax_of n d (dqk Ly) (hd Ly 0) X x) / sqrt (INR (dqk Ly)) * al * comp d d (WV (hd Ly 0)) * rho ^ 3)
    with (sqrt (C * qmax_of n d (dqk Ly) (hd Ly 0) X x) * ep * comp d d (WV (hd Ly 0)) * rho) by (unfold ep; field;
      lra).
  apply Rmult_le_compat_r; [exact R0|]. unfold comp. fold W1 Wi.
  rewrite <- sqrt_mult_alt by (apply Rmult_le_pos; assumption).
  replace (N1 * W1 * (Ni * Wi)) with (N1 * Ni * (W1 * Wi)) by ring.
  rewrite sqrt_mult_alt by (apply Rmult_le_pos; assumption). apply Rmult_le_compat_r; [apply sqrt_pos|].
  replace ep with (sqrt (ep ^ 2)) by (replace (ep ^ 2) with (ep * ep) by ring; now apply sqrt_square).
  rewrite <- sqrt_mult_alt by (apply Rmult_le_pos; lra). apply sqrt_le_1_alt. eapply Rle_trans; [exact S|]. right. ring.
Qed.
