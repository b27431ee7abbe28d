(** own:spectrum and own:spectrum-symmetric.  Every eigenvalue but 1 of a row-stochastic matrix is at most its
  Dobrushin coefficient in modulus, the largest total
    variation of two rows [spectrum_dobrushin].  A symmetric matrix whose rows have been divided by their sums,
      positive, has real eigenvalues [spectrum_symmetric]. *)
Require Import Reals Lra Lia Psatz Classical.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms own_tv Spectrum.
Local Open Scope R_scope.

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
