(** folk:softmax-gradient, folk:spectrum-real, own:softmax-gradient, own:spectrum, own:spectrum-symmetric.  What
    each is stands before its theorems. *)
Require Import Reals Lra Lia Psatz Classical.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms Spectrum Softmax own_tv own_order.
Local Open Scope R_scope.

(** Two statements that are often read, refuted by exact rationals.

    folk:softmax-gradient: "the Jacobian of softmax at temperature T has norm at most min(1/(4T), sqrt 2)".
    At equal logits of two keys the
    derivative in the direction (1,-1) is (1,-1)/(2T): its norm is 1/(2T), twice the claim.
    (1/(2T) is the right constant.)
    folk:spectrum-real: "a positive row-stochastic matrix has its eigenvalues in (-1, 1]".
    circulant(1/10, 8/10, 1/10) has
    the eigenvalues (-7 +- 7 sqrt(3) i)/20. *)

(** v -> d/dh softmax((l + h v)/T) at h = 0 *)
Definition softmax_gradient_claim : Prop := forall n T (l v g : vec), 0 < T ->
  (forall j, (j < n)%nat -> is_derive (fun h => softmax n (fun _ => 1) (fun k => (l k + h * v k) / T) j) 0 (g j)) ->
  l2 n g <= Rmin (1 / (4 * T)) (sqrt 2) * l2 n v.

Definition v0 : vec := fun i => match i with O => 1 | _ => -1 end.

Theorem folk_softmax_gradient : ~ softmax_gradient_claim.
Proof.
  intro H. specialize (H 2%nat 1 (fun _ => 0) v0 (fun j => v0 j / 2) ltac:(lra)).
  assert (D : forall j, (j < 2)%nat -> is_derive (fun h => softmax 2 (fun _ => 1) (fun k => (0 + h * v0 k) / 1) j) 0
    (v0 j / 2)).
  { intros j Hj. unfold softmax, tilt. cbn [sum]. destruct j as [|[|j]]; try lia; cbn [v0]; auto_derive;
    rewrite ?Rmult_0_l, ?Rplus_0_l; unfold Rdiv; rewrite ?Rmult_0_l, ?exp_0; try lra; try field. }
  specialize (H D). assert (M := Rmin_l (1 / (4 * 1)) (sqrt 2)).
  assert (S2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (V : l2 2 v0 = sqrt 2) by (unfold l2, dot; cbn [sum v0]; f_equal; lra).
  assert (G : l2 2 (fun j => v0 j / 2) = sqrt 2 / 2).
  { unfold l2, dot. cbn [sum v0]. replace (0 + 1 / 2 * (1 / 2) + -1 / 2 * (-1 / 2)) with (2 * (1/2 * (1/2))) by lra.
    rewrite sqrt_mult_alt by lra. rewrite sqrt_square by lra. lra. }
  rewrite V, G in H. nra.
Qed.

Definition spectrum_real_claim : Prop := forall n (P : mat), row_stochastic n n P ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 < P i j) -> forall (z : C) (v : nat -> C),
  (exists i, (i < n)%nat /\ v i <> 0%C) -> (forall i, (i < n)%nat ->
    csum n (fun j => RtoC (P i j) * v j)%C = (z * v i)%C) ->
  exists x : R, z = RtoC x /\ -1 < x <= 1.

Definition circ : mat := fun i j => match i, j with O, 1%nat => 8/10 | 1%nat, 2%nat => 8/10 | 2%nat, O => 8/10 | _,
  _ => 1/10 end.
(** The powers of exp(2 pi i/3). *)
Definition om (j : nat) : C := match j with O => (1, 0) | 1%nat => (- / 2, sqrt 3 / 2) | _ => (- / 2,
  - (sqrt 3 / 2)) end.

Theorem folk_spectrum_real : ~ spectrum_real_claim.
Proof.
  intro H. assert (S3 : sqrt 3 * sqrt 3 = 3) by (apply sqrt_sqrt; lra).
  assert (P3 : 0 < sqrt 3) by (apply sqrt_lt_R0; lra).
  assert (RS : row_stochastic 3 3 circ).
  { split; [intros i j _ _; unfold circ; destruct i as [|[|[|i]]]; destruct j as [|[|[|j]]]; lra|].
    intros i Hi. destruct i as [|[|[|i]]]; try lia; cbn [sum circ]; lra. }
  destruct (H 3%nat circ RS ltac:(intros i j _ _; unfold circ; destruct i as [|[|[|i]]]; destruct j as [|[|[|j]]];
    lra) (- (7/20), 7 / 20 * sqrt 3) om) as [x [E _]].
  - exists 0%nat. split; [lia|]. cbn [om]. intro Q. injection Q. lra.
  - intros i Hi. unfold csum, RtoC, Cmult. destruct i as [|[|[|i]]]; try lia; cbn [sum circ om fst snd]; f_equal; nra.
  - unfold RtoC in E. injection E. intros E2 _. nra.
Qed.

(** own:softmax-gradient.  The derivative of softmax(l/T) in the logits l has spectral norm at most 1/(2T): if g is the
  derivative in the
    direction v, |g| <= |v|/(2T).  The derivative is g_j = p_j (v_j - v_p)/T, v_p the mean under p = softmax(l/T),
      so u.g = Cov_p(u, v)/T for every u, and
    Var_p(v) <= 2 sum_i p_i (1 - p_i) v_i^2 <= |v|^2/2. *)

Lemma var_half n p v : (forall j, (j < n)%nat -> 0 <= p j) -> sum n p = 1 -> 2 * cov n p v v <= dot n v v.
Proof.
  intros p0 p1.
  assert (A : 2 * sum n (fun i => p i * p i * (v i * v i)) <= sum n (fun i => p i * (v i * v i)) + avg n p v * avg n p
    v).
  { assert (B : sum n (fun i => 4 * (p i * p i * (v i * v i))) <= sum n (fun i => sum n (fun j => p i * p j * ((v i + v
      j) * (v i + v j))))).
    { apply sum_le; intros i Hi. replace (4 * (p i * p i * (v i * v i))) with (p i * p i * ((v i + v i) * (v i + v i)))
        by ring.
      apply (sum_term_le n (fun j => p i * p j * ((v i + v j) * (v i + v j))) i); [|exact Hi]. intros j Hj.
      apply Rmult_le_pos; [apply Rmult_le_pos; auto|apply Rle_0_sqr]. }
    rewrite sum_scal in B. rewrite (sum_ext n (fun i => sum n (fun j => p i * p j * ((v i + v j) * (v i + v j))))
      (fun i => p i * (v i * v i) + (2 * avg n p v) * (p i * v i) + sum n (fun j => p j * (v j * v j)) * p i)) in B.
    - rewrite !sum_plus, !sum_scal, p1 in B. fold (avg n p v) in B. lra.
    - intros i _. rewrite (sum_ext n _ (fun j => (p i * (v i * v i)) * p j + (2 * (p i * v i)) * (p j * v j) + p i * (p
        j * (v j * v j)))) by (intros; ring).
      rewrite !sum_plus, !sum_scal, p1. unfold avg. ring. }
  assert (C : sum n (fun i => 4 * (p i * (v i * v i)) - 4 * (p i * p i * (v i * v i))) <= dot n v v).
  { apply sum_le; intros i _. assert (S := Rle_0_sqr (2 * p i - 1)). assert (V := Rle_0_sqr (v i)). unfold Rsqr in *.
    nra. }
  rewrite sum_minus, !sum_scal in C. unfold cov. lra.
Qed.

Theorem softmax_gradient n T (l v g : vec) : 0 < T ->
  (forall j, (j < n)%nat -> is_derive (fun h => softmax n (fun _ => 1) (fun k => (l k + h * v k) / T) j) 0 (g j)) ->
  l2 n g <= / (2 * T) * l2 n v.
Proof.
  intros HT Hg. destruct (Nat.eq_dec n 0) as [->|Hn]; [unfold l2, dot; cbn [sum]; rewrite sqrt_0; lra|].
  set (p := softmax n (fun _ => 1) (fun k => l k / T)).
  assert (W : weights n (fun _ => 1)) by (split; [intros; lra|exists 0%nat; split; [lia|lra]]).
  assert (p0 : forall j, (j < n)%nat -> 0 <= p j) by (intros; now apply tilt_nonneg).
  assert (p1 : sum n p = 1) by (now apply tilt_sum).
  set (Z := fun h => sum n (fun k => 1 * exp ((l k + h * v k) / T))).
  assert (Zp : forall h, 0 < Z h) by (intro h; apply (tilt_Z_pos n (fun _ => 1) W (fun k => (l k + h * v k) / T))).
  assert (DZ : is_derive Z 0 (sum n (fun k => v k / T * exp ((l k + 0 * v k) / T)))).
  { apply (derive_sum n (fun k h => 1 * exp ((l k + h * v k) / T)) (fun k h => v k / T * exp ((l k + h * v k) / T))).
    intros k _. auto_derive; [exact I|unfold Rdiv; ring]. }
  assert (pE : forall j, p j = exp ((l j + 0 * v j) / T) / Z 0).
  { intro j. unfold p, softmax, tilt, Z. rewrite Rmult_1_l. f_equal; [f_equal; f_equal; ring|].
    apply sum_ext; intros k _. do 2 f_equal. f_equal. ring. }
  assert (G : forall j, (j < n)%nat -> g j = p j * (v j - avg n p v) / T).
  { intros j Hj. assert (D : is_derive (fun h => softmax n (fun _ => 1) (fun k => (l k + h * v k) / T) j) 0
      ((v j / T * exp ((l j + 0 * v j) / T) * Z 0 - sum n (fun k => v k / T * exp ((l k + 0 * v k) / T)) * (1 * exp ((l
        j + 0 * v j) / T))) / (Z 0) ^ 2)).
    { evar_last; [apply (is_derive_div (fun h => 1 * exp ((l j + h * v j) / T)) Z 0 (v j / T * exp ((l j + 0 * v j) /
        T)) (sum n (fun k => v k / T * exp ((l k + 0 * v k) / T)))); [auto_derive; [exact I|unfold Rdiv;
          ring]|exact DZ|apply Rgt_not_eq, Zp]|].
      field. split; [lra|apply Rgt_not_eq, Zp]. }
    rewrite <- (is_derive_unique _ _ _ (Hg j Hj)), (is_derive_unique _ _ _ D).
    assert (Sv : sum n (fun k => v k / T * exp ((l k + 0 * v k) / T)) = avg n p v / T * Z 0).
    { unfold avg. replace (sum n (fun k => p k * v k) / T * Z 0) with (sum n (fun k => p k * v k) * (Z 0 / T)) by
        (field; lra). rewrite <- sum_scal_r. apply sum_ext; intros k _. rewrite pE. assert (Z0 := Zp 0). field.
        split; lra. }
    rewrite Sv, pE. assert (Z0 := Zp 0). field. split; lra. }
  set (x := dot n g g). assert (X0 : 0 <= x) by apply dot_pos.
  assert (E : T * x = cov n p g v).
  { unfold x, dot, cov. rewrite <- sum_scal. unfold avg at 1. rewrite <- sum_scal_r, <- sum_minus.
    apply sum_ext; intros j Hj. rewrite (G j Hj) at 2. field. lra. }
  assert (CS := cov_cs n p p0 p1 g v). rewrite <- E in CS. assert (V1 := var_half n p g p0 p1).
  assert (V2 := var_half n p v p0 p1). fold x in V1.
  assert (P1 := var_pos n p p0 p1 g). assert (P2 := var_pos n p p0 p1 v). assert (Y0 := dot_pos n v).
  assert (B : T * x * (T * x) <= (x / 2) * (dot n v v / 2)) by (eapply Rle_trans; [exact CS|]; apply Rmult_le_compat;
    lra).
  assert (H : x <= / (2 * T) * / (2 * T) * dot n v v).
  { destruct X0 as [X0|X0]; [|rewrite <- X0; apply Rmult_le_pos; [apply Rle_0_sqr|exact Y0]].
    apply Rmult_le_reg_l with (4 * T * T * x); [repeat apply Rmult_lt_0_compat; lra|].
    replace (4 * T * T * x * (/ (2 * T) * / (2 * T) * dot n v v)) with (x * dot n v v) by (field; lra). lra. }
  unfold l2. fold x. assert (I0 : 0 < / (2 * T)) by (apply Rinv_0_lt_compat; lra).
  rewrite <- (sqrt_square (/ (2 * T))) by lra. rewrite <- sqrt_mult_alt by (apply Rle_0_sqr). apply sqrt_le_1_alt, H.
Qed.

(** own:spectrum and own:spectrum-symmetric.  Every eigenvalue but 1 of a row-stochastic matrix is at most its
  Dobrushin coefficient in modulus, the largest total
    variation of two rows [spectrum_dobrushin].  A symmetric matrix whose rows have been divided by their sums,
      positive, has real eigenvalues [spectrum_symmetric]. *)

(** Also where the eigenvector is one up to constants: A v = z v + c 1, v not constant. *)
Theorem spectrum_besides n (P : mat) tau (z c : C) (v : nat -> C) : row_stochastic n n P ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> tv n (P i) (P j) <= tau) ->
  (exists i j, (i < n)%nat /\ (j < n)%nat /\ v i <> v j) ->
  (forall i, (i < n)%nat -> csum n (fun j => RtoC (P i j) * v j)%C = (z * v i + c)%C) -> Cmod z <= tau.
Proof.
  intros [P0 P1] HT [i0 [j0 [Hi0 [Hj0 N0]]]] HE.
  set (V := fun k a => match a with O => fst (v k) | _ => snd (v k) end).
  assert (NM : forall k l, L2 2 (vsub (V k) (V l)) = Cmod (v k - v l)%C).
  { intros k l. unfold L2, l2, dot, vsub, V, Cmod, Cminus, Cplus, Copp. cbn [sum sn fst snd]. f_equal. ring. }
  assert (Re : forall i, (i < n)%nat -> csum n (fun j => RtoC (P i j) * v j)%C = (sum n (fun j => P i j * fst (v j)),
    sum n (fun j => P i j * snd (v j)))).
  { intros i _. apply csum_real. intros j _. unfold RtoC, Cmult. simpl. f_equal; ring. }
  set (D := diam n (L2 2) V).
  assert (St : forall i j, (i < n)%nat -> (j < n)%nat -> Cmod z * L2 2 (vsub (V i) (V j)) <= tau * D).
  { intros i j Hi Hj. rewrite NM, <- Cmod_mult. replace (z * (v i - v j))%C with (z * v i + c - (z * v j + c))%C by
      ring.
    assert (T := transport (L2 2) n (fun k => P i k - P j k) V D). cbv beta in T.
    assert (T' : L2 2 (fun a => sum n (fun k => (P i k - P j k) * V k a)) <= / 2 * sum n (fun k => Rabs (P i k - P j
      k)) * D).
    { apply T; [rewrite sum_minus, !P1 by assumption; ring|]. intros; now apply diam_ub. }
    replace (Cmod (z * v i + c - (z * v j + c))%C) with (L2 2 (fun a => sum n (fun k => (P i k - P j k) * V k a))).
    - eapply Rle_trans; [exact T'|]. apply Rmult_le_compat_r; [apply diam_nonneg|]. now apply HT.
    - rewrite <- (HE i Hi), <- (HE j Hj), (Re i Hi), (Re j Hj). unfold L2, l2, dot, V, Cmod, Cminus, Cplus, Copp.
      cbn [sum sn fst snd]. f_equal.
      rewrite (sum_ext n (fun k => (P i k - P j k) * fst (v k)) (fun k => P i k * fst (v k) - P j k * fst (v k))) by
        (intros; ring).
      rewrite (sum_ext n (fun k => (P i k - P j k) * snd (v k)) (fun k => P i k * snd (v k) - P j k * snd (v k))) by
        (intros; ring). rewrite !sum_minus. ring. }
  destruct (Rle_lt_or_eq_dec 0 D (diam_nonneg _ _ _)) as [Dp|Dz].
  - destruct (maxf_attained n (fun i => maxf n (fun k => L2 2 (vsub (V i) (V k))))) as [Q|[i [Hi Q]]];
      [unfold D, diam in Dp; rewrite Q in Dp; lra|].
    destruct (maxf_attained n (fun k => L2 2 (vsub (V i) (V k)))) as [Q2|[j [Hj Q2]]]; [unfold D, diam in Dp;
      rewrite Q, Q2 in Dp; lra|].
    assert (E : D = L2 2 (vsub (V i) (V j))) by (unfold D, diam; now rewrite Q, Q2).
    apply Rmult_le_reg_r with D; [exact Dp|]. rewrite E at 1. now apply St.
  - exfalso. apply N0. assert (U := diam_ub n (L2 2) V i0 j0 Hi0 Hj0). fold D in U. rewrite <- Dz, NM in U.
    assert (C0 : Cmod (v i0 - v j0)%C = 0) by (apply Rle_antisym; [exact U|apply Cmod_ge_0]). apply Cmod_eq_0 in C0.
    replace (v i0) with (v i0 - v j0 + v j0)%C by ring. rewrite C0. ring.
Qed.

Theorem spectrum_dobrushin n (P : mat) tau (z : C) (v : nat -> C) : row_stochastic n n P ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> tv n (P i) (P j) <= tau) ->
  (exists i, (i < n)%nat /\ v i <> 0%C) ->
  (forall i, (i < n)%nat -> csum n (fun j => RtoC (P i j) * v j)%C = (z * v i)%C) -> z <> RtoC 1 -> Cmod z <= tau.
Proof.
  intros St HT [i0 [Hi0 N0]] HE Z1. destruct (classic (exists j, (j < n)%nat /\ v i0 <> v j)) as [[j [Hj N]]|Eq].
  - apply (spectrum_besides n P tau z 0%C v St HT); [now exists i0, j|]. intros i Hi. rewrite HE by exact Hi. ring.
  - exfalso. destruct St as [P0 P1].
    assert (Ec : forall k, (k < n)%nat -> v k = v i0).
    { intros k Hk. destruct (classic (v i0 = v k)) as [<-|Q]; [reflexivity|]. exfalso. apply Eq. now exists k. }
    assert (H := HE i0 Hi0).
    rewrite (csum_real n _ (fun j => P i0 j * fst (v i0)) (fun j => P i0 j * snd (v i0))) in H.
    2: { intros j Hj. rewrite Ec by exact Hj. unfold RtoC, Cmult. simpl. f_equal; ring. }
    rewrite !sum_scal_r, P1, !Rmult_1_l in H by exact Hi0. rewrite <- surjective_pairing in H.
    assert (M : ((z - 1) * v i0)%C = 0%C) by (replace ((z - 1) * v i0)%C with (z * v i0 - v i0)%C by ring;
      rewrite <- H; ring).
    apply (Cmult_neq_0 (z - 1)%C (v i0)); [|exact N0|exact M].
    intro Q. apply Z1. replace z with (z - 1 + 1)%C by ring. rewrite Q. ring.
Qed.

Theorem spectrum_symmetric n (K : mat) (z : C) (v : nat -> C) :
  (forall i j, (i < n)%nat -> (j < n)%nat -> K i j = K j i) -> (forall i, (i < n)%nat -> 0 < sum n (K i)) ->
  (exists i, (i < n)%nat /\ v i <> 0%C) -> (forall i, (i < n)%nat ->
    csum n (fun j => RtoC (K i j / sum n (K i)) * v j)%C = (z * v i)%C) ->
  exists x : R, z = RtoC x.
Proof.
  intros Sy Sp [i0 [Hi0 N0]] HE. destruct z as [x y]. exists x. set (s := fun i => sum n (K i)).
  set (a := fun i => fst (v i)). set (b := fun i => snd (v i)).
  assert (E : forall i, (i < n)%nat -> sum n (fun j => K i j * a j) = s i * (x * a i - y * b i) /\ sum n (fun j => K i
    j * b j) = s i * (x * b i + y * a i)).
  { intros i Hi. assert (H := HE i Hi). rewrite (csum_real n _ (fun j => K i j * a j * / s i) (fun j => K i j * b j * /
      s i)) in H
      by (intros j _; unfold RtoC, Cmult, a, b, s, Rdiv; simpl; f_equal; ring).
    rewrite !sum_scal_r in H. unfold Cmult in H. simpl in H. fold (a i) (b i) in H. injection H as H1 H2.
    assert (P := Sp i Hi). fold (s i) in P.
    split; [apply (f_equal (Rmult (s i))) in H1|apply (f_equal (Rmult (s i))) in H2];
      rewrite <- Rmult_assoc, Rinv_r_simpl_m in * by lra; lra. }
  assert (Q : sum n (fun i => b i * (s i * (x * a i - y * b i))) = sum n (fun i => a i * (s i * (x * b i + y * a i)))).
  { rewrite (sum_ext n _ (fun i => sum n (fun j => K i j * (b i * a j)))) by (intros i Hi; destruct (E i Hi) as [<- _];
      rewrite <- sum_scal; apply sum_ext; intros; ring).
    rewrite (sum_ext n (fun i => a i * _) (fun i => sum n (fun j => K i j * (a i * b j)))) by (intros i Hi;
      destruct (E i Hi) as [_ <-]; rewrite <- sum_scal; apply sum_ext; intros; ring).
    rewrite sum_swap. apply sum_ext; intros i Hi. apply sum_ext; intros j Hj. rewrite (Sy j i Hj Hi). ring. }
  assert (Y : y * sum n (fun i => s i * (a i * a i + b i * b i)) = 0).
  { rewrite <- sum_scal. replace 0 with (sum n (fun i => a i * (s i * (x * b i + y * a i))) - sum n (fun i => b i * (s
      i * (x * a i - y * b i)))) by lra. rewrite <- sum_minus. apply sum_ext; intros; ring. }
  assert (Pos : 0 < sum n (fun i => s i * (a i * a i + b i * b i))).
  { assert (T : forall i, (i < n)%nat -> 0 <= s i * (a i * a i + b i * b i)) by (intros i Hi; apply Rmult_le_pos;
      [left; now apply Sp|]; assert (A := Rle_0_sqr (a i)); assert (B := Rle_0_sqr (b i)); unfold Rsqr in *; lra).
    eapply Rlt_le_trans; [|apply (sum_term_le n (fun i => s i * (a i * a i + b i * b i)) i0 T Hi0)].
    apply Rmult_lt_0_compat; [now apply Sp|].
    assert (A := Rle_0_sqr (a i0)). assert (B := Rle_0_sqr (b i0)). unfold Rsqr in *.
    destruct (Req_dec (a i0) 0) as [A0|A0]; [|assert (0 < a i0 * a i0) by nra; lra].
    destruct (Req_dec (b i0) 0) as [B0|B0]; [|assert (0 < b i0 * b i0) by nra; lra]. exfalso. apply N0.
    unfold a, b in *. destruct (v i0). simpl in *. subst. reflexivity. }
  assert (y = 0) by (apply Rmult_integral in Y; destruct Y; [assumption|lra]). subst. reflexivity.
Qed.
