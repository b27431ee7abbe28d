(** Eigenvalues of the derivative, a linear map on n x d matrices; triangular ones. *)
Require Import Reals Lra Lia Psatz Classical.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions.
Local Open Scope R_scope.

Lemma csum_real n (f : nat -> C) (g h : nat -> R) : (forall j, (j < n)%nat -> f j = (g j, h j)) ->
  csum n f = (sum n g, sum n h).
Proof.
  intros H. unfold csum. f_equal; apply sum_ext; intros j Hj; now rewrite H.
Qed.

Lemma csum_mod n (f : nat -> C) : Cmod (csum n f) <= sum n (fun j => Cmod (f j)).
Proof.
  induction n as [|n IH]; [change (Cmod (RtoC 0) <= 0); rewrite Cmod_0; lra|].
  replace (csum (S n) f) with (csum n f + f n)%C by (unfold csum, Cplus; simpl; reflexivity).
  eapply Rle_trans; [apply Cmod_triangle|]. cbn [sum]. lra.
Qed.

(** The real and the imaginary part of J v. *)
Lemma apply_parts n d (K : mat) (v : nat -> nat -> C) :
  csum n (fun p => csum d (fun b => RtoC (K p b) * v p b)%C)
  = (lin n d K (fun p b => fst (v p b)), lin n d K (fun p b => snd (v p b))).
Proof.
  apply csum_real. intros p _. apply csum_real. intros b _. unfold RtoC, Cmult. simpl. f_equal; ring.
Qed.

Lemma ord_bounded n d (ord : nat -> nat -> nat) : exists m, forall p b, (p < n)%nat -> (b < d)%nat -> (ord p b < m)%nat.
Proof.
  assert (B1 : forall p, exists m, forall b, (b < d)%nat -> (ord p b < m)%nat).
  { intro p. induction d as [|e [m Hm]]; [exists 0%nat; intros; lia|]. exists (S (m + ord p e)). intros b Hb.
    destruct (Nat.eq_dec b e) as [->|]; [lia|]. specialize (Hm b ltac:(lia)). lia. }
  induction n as [|k [m Hm]]; [exists 0%nat; intros; lia|]. destruct (B1 k) as [m' Hm'].
  exists (m + m')%nat. intros p b Hp Hb. destruct (Nat.eq_dec p k) as [->|]; [specialize (Hm' b Hb); lia|].
  specialize (Hm p b ltac:(lia) Hb). lia.
Qed.

Section Triangular.
Variables (n d : nat) (J : nat -> nat -> mat) (ord : nat -> nat -> nat).
Hypothesis tri : forall i a p b, (i < n)%nat -> (a < d)%nat -> (p < n)%nat -> (b < d)%nat ->
  (p, b) <> (i, a) -> (ord i a <= ord p b)%nat -> J i a p b = 0.
Hypothesis inj : forall i a p b, (i < n)%nat -> (a < d)%nat -> (p < n)%nat -> (b < d)%nat ->
  ord i a = ord p b -> (p, b) = (i, a).

(** If v vanishes below (i,a), then (J v)_ia = J_ia,ia v_ia. *)
Lemma lin_first i a v : (i < n)%nat -> (a < d)%nat ->
  (forall p b, (p < n)%nat -> (b < d)%nat -> (ord p b < ord i a)%nat -> v p b = 0) ->
    lin n d (J i a) v = J i a i a * v i a.
Proof.
  intros Hi Ha Hv.
  assert (Z : forall p b, (p < n)%nat -> (b < d)%nat -> (p, b) <> (i, a) -> J i a p b * v p b = 0).
  { intros p b Hp Hb Ne. destruct (Nat.le_gt_cases (ord i a) (ord p b)) as [L|L]; [rewrite tri by assumption;
      ring|rewrite Hv by assumption; ring]. }
  unfold lin. rewrite (sum_single n _ i Hi).
  - rewrite (sum_single d _ a Ha); [reflexivity|]. intros b Hb Ne. apply Z; auto. congruence.
  - intros p Hp Ne. rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros b Hb. apply Z; auto. congruence.
Qed.

Lemma real_eigenvector l m : (exists i a, (i < n)%nat /\ (a < d)%nat /\ (ord i a < m)%nat /\ J i a i a = l) ->
  exists v : mat, (exists i a, (i < n)%nat /\ (a < d)%nat /\ (ord i a < m)%nat /\ v i a <> 0) /\
    (forall i a, (i < n)%nat -> (a < d)%nat -> (m <= ord i a)%nat -> v i a = 0) /\
    forall i a, (i < n)%nat -> (a < d)%nat -> (ord i a < m)%nat -> lin n d (J i a) v = l * v i a.
Proof.
  induction m as [|m IH]; intros [i0 [a0 [Hi0 [Ha0 [Ho E0]]]]]; [lia|].
  destruct (classic (exists i a, (i < n)%nat /\ (a < d)%nat /\ ord i a = m)) as [[i [a [Hi [Ha Om]]]]|No].
  - destruct (Req_dec (J i a i a) l) as [Ed|Nd].
    + exists (fun p b => if andb (Nat.eqb p i) (Nat.eqb b a) then 1 else 0). split; [|split].
      * exists i, a. rewrite !Nat.eqb_refl. repeat split; auto; try lia. simpl. lra.
      * intros p b Hp Hb L. destruct (Nat.eqb_spec p i) as [->|]; [destruct (Nat.eqb_spec b a) as [->|]|]; simpl;
          try reflexivity. lia.
      * intros p b Hp Hb L. rewrite lin_first; auto.
        -- destruct (Nat.eqb_spec p i) as [->|]; [destruct (Nat.eqb_spec b a) as [->|]|]; simpl; [rewrite Ed|..]; ring.
        -- intros p' b' Hp' Hb' L'. destruct (Nat.eqb_spec p' i) as [->|]; [destruct (Nat.eqb_spec b' a) as [->|]|];
             simpl; try reflexivity. lia.
    + destruct IH as [v [[i1 [a1 [Hi1 [Ha1 [Ho1 N1]]]]] [V0 V1]]].
      { exists i0, a0. repeat split; auto. destruct (Nat.eq_dec (ord i0 a0) m) as [E|]; [|lia].
        exfalso. apply Nd. assert (Q := inj i a i0 a0 Hi Ha Hi0 Ha0 ltac:(lia)). injection Q; intros; subst.
        reflexivity. }
      set (x := lin n d (J i a) v / (l - J i a i a)).
      exists (fun p b => v p b + x * (eye p i * eye b a)).
      assert (Lx : forall p b, lin n d (J p b) (fun p b => v p b + x * (eye p i * eye b a)) = lin n d (J p b) v + x * J
        p b i a).
      { intros p b. unfold lin. rewrite (sum_ext n _ (fun p' => sum d (fun b' => J p b p' b' * v p' b') + x * (eye p' i
          * sum d (fun b' => J p b p' b' * eye b' a)))).
        - rewrite sum_plus, sum_scal. f_equal. f_equal. rewrite (sum_single n _ i Hi); unfold eye.
          + rewrite Nat.eqb_refl. rewrite (sum_single d _ a Ha); [rewrite Nat.eqb_refl; ring|]. intros j _ Hj.
            destruct (Nat.eqb_spec j a); [lia|ring].
          + intros j _ Hj. destruct (Nat.eqb_spec j i); [lia|ring].
        - intros p' _. rewrite <- sum_scal, <- sum_scal, <- sum_plus. apply sum_ext; intros; ring. }
      assert (Off : forall p b, (p, b) <> (i, a) -> eye p i * eye b a = 0).
      { intros p b Ne. unfold eye. destruct (Nat.eqb_spec p i) as [->|]; [destruct (Nat.eqb_spec b a) as [->|]|];
          try ring. congruence. }
      split; [|split].
      * exists i1, a1. repeat split; auto. rewrite Off by (intro Q; injection Q; intros; subst; lia).
        rewrite Rmult_0_r, Rplus_0_r. exact N1.
      * intros p b Hp Hb L. rewrite V0 by (auto; lia). rewrite Off by (intro Q; injection Q; intros; subst; lia). ring.
      * intros p b Hp Hb L. rewrite Lx. destruct (Nat.eq_dec (ord p b) m) as [E|Ne].
        -- assert (Q := inj i a p b Hi Ha Hp Hb ltac:(lia)). injection Q; intros; subst p b.
           rewrite (V0 i a) by (auto; lia). unfold eye. rewrite !Nat.eqb_refl. unfold x. field. lra.
        -- rewrite V1 by (auto; lia).
           assert (Jz : J p b i a = 0) by (apply tri; auto; first [lia|intro Q; injection Q; intros; subst; lia]).
           rewrite Jz.
           rewrite Off by (intro Q; injection Q; intros; subst; lia). ring.
  - destruct IH as [v [V2 [V0 V1]]].
    { exists i0, a0. repeat split; auto. destruct (Nat.eq_dec (ord i0 a0) m); [exfalso; apply No; eauto|lia]. }
    exists v. split; [|split].
    + destruct V2 as [i1 [a1 [? [? [? ?]]]]]. exists i1, a1. repeat split; auto.
    + intros p b Hp Hb L. apply V0; auto; lia.
    + intros p b Hp Hb L. apply V1; auto. destruct (Nat.eq_dec (ord p b) m); [exfalso; apply No; eauto|lia].
Qed.

(** The eigenvalues of a triangular map are its diagonal entries. *)
Theorem triangular_spectrum (z : C) : eigenvalue n d J z <-> exists i a,
  (i < n)%nat /\ (a < d)%nat /\ z = RtoC (J i a i a).
Proof.
  split.
  - intros [v [[i0 [a0 [Hi0 [Ha0 N0]]]] Hv]]. apply NNPP. intro No.
    assert (Z : forall m i a, (i < n)%nat -> (a < d)%nat -> (ord i a < m)%nat -> v i a = 0%C).
    { induction m as [|m IH]; intros i a Hi Ha Ho; [lia|].
      assert (E := Hv i a Hi Ha). rewrite apply_parts in E.
      rewrite !lin_first in E; auto; try (intros p b Hp Hb L; rewrite (IH p b) by (auto; lia); reflexivity).
      destruct (v i a) as [x y] eqn:Ev. destruct z as [zr zi]. unfold Cmult in E. simpl in E. injection E as E1 E2.
      assert (Nz : J i a i a - zr <> 0 \/ zi <> 0).
      { apply NNPP. intro Q. apply No. exists i, a. split; [exact Hi|split; [exact Ha|]]. unfold RtoC.
        destruct (Req_dec (J i a i a - zr) 0) as [Q1|]; [|exfalso; auto].
        destruct (Req_dec zi 0) as [Q2|]; [|exfalso; auto]. f_equal; lra. }
      assert (S : ((J i a i a - zr) * (J i a i a - zr) + zi * zi) * (x * x + y * y) = 0).
      { assert (A1 : (J i a i a - zr) * x + zi * y = 0) by lra. assert (A2 : (J i a i a - zr) * y - zi * x = 0) by lra.
        replace (((J i a i a - zr) * (J i a i a - zr) + zi * zi) * (x * x + y * y)) with
          (((J i a i a - zr) * x + zi * y) * ((J i a i a - zr) * x + zi * y) + ((J i a i a - zr) * y - zi * x) * ((J i
            a i a - zr) * y - zi * x)) by ring.
        rewrite A1, A2. ring. }
      assert (P : 0 < (J i a i a - zr) * (J i a i a - zr) + zi * zi).
      { assert (S1 := Rle_0_sqr (J i a i a - zr)). assert (S2 := Rle_0_sqr zi).
        destruct Nz as [Q|Q]; apply Rsqr_pos_lt in Q; unfold Rsqr in *; lra. }
      assert (XY : x * x + y * y = 0) by (apply Rmult_integral in S; destruct S; lra).
      assert (S1 := Rle_0_sqr x). assert (S2 := Rle_0_sqr y). unfold Rsqr in *.
      assert (x = 0) by (apply Rsqr_0_uniq; unfold Rsqr; lra). assert (y = 0) by (apply Rsqr_0_uniq; unfold Rsqr; lra).
      subst. reflexivity. }
    apply N0. apply (Z (S (ord i0 a0))); auto.
  - intros [i [a [Hi [Ha ->]]]].
    destruct (ord_bounded n d ord) as [m Bm]. destruct (real_eigenvector (J i a i a) m) as [v [[i1 [a1 [Hi1 [Ha1 [_
      N1]]]]] [_ V1]]].
    { exists i, a. repeat split; auto. }
    exists (fun p b => RtoC (v p b)). split.
    + exists i1, a1. repeat split; auto. intro Q. apply N1. injection Q. auto.
    + intros p b Hp Hb. rewrite apply_parts. change (fun p b => fst (RtoC (v p b))) with v. rewrite (V1 p b) by auto.
      replace (lin n d (J p b) (fun p0 b0 => snd (RtoC (v p0 b0)))) with 0.
      * unfold RtoC, Cmult. simpl. f_equal; ring.
      * unfold lin. rewrite (sum_ext n _ (fun _ => 0)); [now rewrite sum_zero|]. intros.
        rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros; simpl; ring.
Qed.
End Triangular.
