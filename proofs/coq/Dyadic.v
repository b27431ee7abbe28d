(** The checker's intervals: ends are whole numbers times a power of two, and every operation rounds outward.

    The functions below compute what [rankmath/checker/intervals.py] computes,
      step by step on whole numbers: [Z.shiftr] is
    Python's [>>], [Z.div] its [//], [Z.sqrt] its [isqrt].  For each of them a theorem says that the result holds every
      value that
    members of the arguments can give.  A result [None] is the checker's "undecided" or "rejected". *)
Require Import Reals ZArith Lia Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Flocq Require Import Core.
From Rankmath Require Import Sums Functions.
Local Open Scope R_scope.

(** The reals from lo 2^scale to hi 2^scale. *)
Record interval := Iv { lo : Z; hi : Z; scale : Z }.
Notation two := (bpow radix2).
Definition within (I : interval) (x : R) : Prop := IZR (lo I) * two (scale I) <= x <= IZR (hi I) * two (scale I).

(** Python's bit_length, and an integer divided by 2^e, rounded down and up. *)
Definition length (z : Z) : Z := if Z.eqb z 0 then 0 else Z.log2 (Z.abs z) + 1.
Definition down (z e : Z) : Z := Z.shiftr z e.
Definition up (z e : Z) : Z := - Z.shiftr (- z) e.

Lemma two_pos e : 0 < two e. Proof. apply bpow_gt_0. Qed.
Lemma two_power e : (0 <= e)%Z -> IZR (2 ^ e) = two e.
Proof. intros H. rewrite <- (IZR_Zpower radix2) by exact H. reflexivity. Qed.
Lemma two_shift z e s : (0 <= e)%Z -> IZR (z * 2 ^ e) * two s = IZR z * two (s + e).
Proof. intros H. rewrite mult_IZR, two_power, bpow_plus by exact H. ring. Qed.
Lemma length_spec z : IZR (Z.abs z) < two (length z).
Proof.
  unfold length. destruct (Z.eqb_spec z 0) as [->|N]; [simpl; lra|].
  assert (P : (0 < Z.abs z)%Z) by lia. assert (L := Z.log2_spec _ P). assert (G := Z.log2_nonneg (Z.abs z)).
  rewrite <- two_power by lia. apply IZR_lt. replace (Z.log2 (Z.abs z) + 1)%Z with (Z.succ (Z.log2 (Z.abs z))) by lia.
  apply L.
Qed.
Lemma length_least z : z <> 0%Z -> two (length z - 1) <= IZR (Z.abs z).
Proof.
  intros N. unfold length. destruct (Z.eqb_spec z 0); [contradiction|].
  assert (P : (0 < Z.abs z)%Z) by lia. assert (L := Z.log2_spec _ P). assert (G := Z.log2_nonneg (Z.abs z)).
  replace (Z.log2 (Z.abs z) + 1 - 1)%Z with (Z.log2 (Z.abs z)) by lia. rewrite <- two_power by lia. apply IZR_le, L.
Qed.

Lemma down_le z e s : (0 <= e)%Z -> IZR (down z e) * two (s + e) <= IZR z * two s.
Proof.
  intros H. unfold down. rewrite Z.shiftr_div_pow2 by exact H. rewrite <- two_shift by exact H.
  apply Rmult_le_compat_r; [left; apply two_pos|]. apply IZR_le. rewrite Z.mul_comm. apply Z.mul_div_le. lia.
Qed.
Lemma up_ge z e s : (0 <= e)%Z -> IZR z * two s <= IZR (up z e) * two (s + e).
Proof. intros H. assert (D := down_le (- z) e s H). unfold up. fold (down (- z) e). rewrite opp_IZR in *. lra. Qed.

(** Rounds outward to [bits] bits, and to 64 bits of the width. *)
Definition rounded (bits l h s : Z) : interval :=
  let excess := Z.max (length l - bits) (Z.max (length h - bits) (length (h - l) - 64)) in
  if Z.ltb 0 excess then Iv (down l excess) (up h excess) (s + excess) else Iv l h s.
Lemma rounded_within bits l h s x : IZR l * two s <= x <= IZR h * two s -> within (rounded bits l h s) x.
Proof.
  intros H. unfold rounded. set (e := Z.max _ _). destruct (Z.ltb_spec 0 e) as [L|L]; [|exact H].
  unfold within. cbn [lo hi scale]. assert (A := down_le l e s ltac:(lia)). assert (B := up_ge h e s ltac:(lia)). lra.
Qed.

(** A narrow interval around the fraction p/q, q > 0; exact where q is a power of two. *)
Definition of_fraction (bits p q : Z) : interval :=
  let shift := if Z.eqb (Z.land q (q - 1)) 0 then (length q - 1)%Z else Z.max 0 (bits + 2 + length q - length p) in
  rounded bits ((p * 2 ^ shift) / q) (- ((- p * 2 ^ shift) / q)) (- shift).
Lemma div_le a b : b <> 0%Z -> IZR (a / b) <= IZR a / IZR b.
Proof.
  intros N. assert (E := Z.div_mod a b N). assert (Q : IZR a = IZR b * IZR (a / b) + IZR (a mod b)).
  { rewrite <- mult_IZR, <- plus_IZR. now f_equal. }
  assert (B : IZR b <> 0) by (now apply IZR_neq).
  replace (IZR a / IZR b) with (IZR (a / b) + IZR (a mod b) / IZR b) by (rewrite Q; field; exact B).
  assert (0 <= IZR (a mod b) / IZR b); [|lra].
  destruct (Z.lt_ge_cases 0 b) as [P|P].
  - assert (M := Z.mod_pos_bound a b P). apply Rmult_le_pos; [apply IZR_le; lia|].
    left. apply Rinv_0_lt_compat, IZR_lt, P.
  - assert (M := Z.mod_neg_bound a b ltac:(lia)). replace (IZR (a mod b) / IZR b) with (- IZR (a mod b) * / - IZR b) by
      (field; exact B).
    rewrite <- !opp_IZR. apply Rmult_le_pos; [apply IZR_le; lia|]. left. apply Rinv_0_lt_compat, IZR_lt. lia.
Qed.
Lemma of_fraction_within bits p q : (0 < q)%Z -> within (of_fraction bits p q) (IZR p / IZR q).
Proof.
  intros Hq. unfold of_fraction. set (e := if Z.eqb _ _ then _ else _).
  assert (He : (0 <= e)%Z).
  { unfold e. destruct (Z.eqb _ _); [|lia]. unfold length. destruct (Z.eqb_spec q 0); [lia|].
    assert (G := Z.log2_nonneg (Z.abs q)). lia. }
  apply rounded_within. assert (Q : IZR q <> 0) by (apply IZR_neq; lia). assert (T := two_pos (- e)).
  assert (E : forall z, IZR (z * 2 ^ e) / IZR q * two (- e) = IZR z / IZR q).
  { intro z. unfold Rdiv. rewrite (Rmult_comm (IZR _)), Rmult_assoc, two_shift by exact He.
    replace (- e + e)%Z with 0%Z by lia. simpl. ring. }
  assert (A := div_le (p * 2 ^ e) q ltac:(lia)). assert (B := div_le (- p * 2 ^ e) q ltac:(lia)).
  apply (Rmult_le_compat_r (two (- e))) in A; [|lra]. apply (Rmult_le_compat_r (two (- e))) in B; [|lra].
  rewrite E in A, B. rewrite opp_IZR in *. split; [exact A|]. unfold Rdiv in *. lra.
Qed.
Definition of_whole (bits z : Z) : interval := of_fraction bits z 1.
Lemma of_whole_within bits z : within (of_whole bits z) (IZR z).
Proof. assert (H := of_fraction_within bits z 1 ltac:(lia)). unfold Rdiv in H. now rewrite Rinv_1, Rmult_1_r in H. Qed.

(** Both ends in units of 2^s, rounded outward; and one scale for two intervals: what lies 2 bits below the larger
  number is
    rounded. *)
Definition low_end (I : interval) (s : Z) : Z :=
  if Z.leb s (scale I) then lo I * 2 ^ (scale I - s) else down (lo I) (s - scale I).
Definition high_end (I : interval) (s : Z) : Z :=
  if Z.leb s (scale I) then hi I * 2 ^ (scale I - s) else up (hi I) (s - scale I).
Lemma ends_within I s x : within I x -> IZR (low_end I s) * two s <= x <= IZR (high_end I s) * two s.
Proof.
  unfold within, low_end, high_end. intros H. destruct (Z.leb_spec s (scale I)) as [L|L].
  - rewrite !two_shift by lia. replace (s + (scale I - s))%Z with (scale I) by lia. exact H.
  - assert (A := down_le (lo I) (s - scale I) (scale I) ltac:(lia)).
    assert (B := up_ge (hi I) (s - scale I) (scale I) ltac:(lia)).
    replace (scale I + (s - scale I))%Z with s in A, B by lia. lra.
Qed.
Definition is_zero (I : interval) : bool := (Z.eqb (lo I) 0 && Z.eqb (hi I) 0)%bool.
Definition common (bits : Z) (I J : interval) : Z :=
  if is_zero I then (if is_zero J then 0 else scale J) else if is_zero J then scale I
  else Z.max (Z.min (scale I) (scale J)) (Z.max (scale I) (scale J) - 2 * bits).

Definition add (bits : Z) (I J : interval) : interval := let s := common bits I J in
  rounded bits (low_end I s + low_end J s) (high_end I s + high_end J s) s.
Theorem add_within bits I J x y : within I x -> within J y -> within (add bits I J) (x + y).
Proof.
  intros Hx Hy. unfold add. set (s := common bits I J). apply rounded_within. rewrite !plus_IZR.
  assert (A := ends_within I s x Hx). assert (B := ends_within J s y Hy). lra.
Qed.

Definition neg (bits : Z) (I : interval) : interval := rounded bits (- hi I) (- lo I) (scale I).
Theorem neg_within bits I x : within I x -> within (neg bits I) (- x).
Proof. intros H. apply rounded_within. rewrite !opp_IZR. unfold within in H. lra. Qed.

Definition mul (bits : Z) (I J : interval) : interval :=
  let a := lo I in let b := hi I in let c := lo J in let d := hi J in
  if (Z.leb 0 a && Z.leb 0 c)%bool then rounded bits (Z.min (a * c) (b * d)) (Z.max (a * c) (b * d)) (scale I + scale J)
  else rounded bits (Z.min (Z.min (a * c) (a * d)) (Z.min (b * c) (b * d)))
    (Z.max (Z.max (a * c) (a * d)) (Z.max (b * c) (b * d))) (scale I + scale J).
Lemma product_between a b c d x y : a <= x <= b -> c <= y <= d ->
  Rmin (Rmin (a * c) (a * d)) (Rmin (b * c) (b * d)) <= x * y <= Rmax (Rmax (a * c) (a * d)) (Rmax (b * c) (b * d)).
Proof.
  intros Hx Hy.
  assert (L1 := Rmin_l (Rmin (a * c) (a * d)) (Rmin (b * c) (b * d))).
  assert (L2 := Rmin_r (Rmin (a * c) (a * d)) (Rmin (b * c) (b * d))).
  assert (U1 := Rmax_l (Rmax (a * c) (a * d)) (Rmax (b * c) (b * d))).
  assert (U2 := Rmax_r (Rmax (a * c) (a * d)) (Rmax (b * c) (b * d))).
  assert (Y : forall k, Rmin (k * c) (k * d) <= k * y <= Rmax (k * c) (k * d)).
  { intro k. assert (M := Rmin_l (k * c) (k * d)). assert (M' := Rmin_r (k * c) (k * d)).
    assert (W := Rmax_l (k * c) (k * d)). assert (W' := Rmax_r (k * c) (k * d)). destruct (Rle_or_lt 0 k).
    - assert (k * c <= k * y <= k * d) by (split; apply Rmult_le_compat_l; lra). lra.
    - assert (k * d <= k * y <= k * c) by (split; apply Rmult_le_compat_neg_l; lra). lra. }
  assert (Ya := Y a). assert (Yb := Y b). destruct (Rle_or_lt 0 y).
  - assert (a * y <= x * y <= b * y) by (split; apply Rmult_le_compat_r; lra). lra.
  - assert (y * b <= y * x <= y * a) by (split; apply Rmult_le_compat_neg_l; lra). lra.
Qed.
Lemma IZR_min a b : IZR (Z.min a b) = Rmin (IZR a) (IZR b).
Proof.
  destruct (Z.min_spec a b) as [[L ->]|[L ->]].
  - rewrite Rmin_left; [reflexivity|apply IZR_le; lia].
  - rewrite Rmin_right; [reflexivity|now apply IZR_le].
Qed.
Lemma IZR_max a b : IZR (Z.max a b) = Rmax (IZR a) (IZR b).
Proof.
  destruct (Z.max_spec a b) as [[L ->]|[L ->]].
  - rewrite Rmax_right; [reflexivity|apply IZR_le; lia].
  - rewrite Rmax_left; [reflexivity|now apply IZR_le].
Qed.
Theorem mul_within bits I J x y : within I x -> within J y -> within (mul bits I J) (x * y).
Proof.
  unfold within. intros Hx Hy. assert (S := two_pos (scale I)). assert (T := two_pos (scale J)).
  set (u := x / two (scale I)). set (v := y / two (scale J)).
  assert (Eu : x = u * two (scale I)) by (unfold u; field; lra).
  assert (Ev : y = v * two (scale J)) by (unfold v; field; lra).
  rewrite Eu in Hx. rewrite Ev in Hy.
  assert (Hu : IZR (lo I) <= u <= IZR (hi I)) by (split; apply Rmult_le_reg_r with (two (scale I)); lra).
  assert (Hv : IZR (lo J) <= v <= IZR (hi J)) by (split; apply Rmult_le_reg_r with (two (scale J)); lra).
  assert (P : 0 < two (scale I + scale J)) by apply two_pos.
  replace (x * y) with (u * v * two (scale I + scale J)) by (rewrite Eu, Ev, bpow_plus; ring).
  unfold mul. destruct (Z.leb_spec 0 (lo I)) as [A|A]; [destruct (Z.leb_spec 0 (lo J)) as [C|C]|]; cbn [andb].
  1: { apply rounded_within. rewrite IZR_min, IZR_max, !mult_IZR. apply IZR_le in A, C.
       assert (IZR (lo I) * IZR (lo J) <= u * v <= IZR (hi I) * IZR (hi J)) by (split; apply Rmult_le_compat; lra).
       assert (L := Rmin_l (IZR (lo I) * IZR (lo J)) (IZR (hi I) * IZR (hi J))).
       assert (U := Rmax_r (IZR (lo I) * IZR (lo J)) (IZR (hi I) * IZR (hi J))). split; apply Rmult_le_compat_r; lra. }
  all: apply rounded_within; rewrite !IZR_min, !IZR_max, !mult_IZR; assert (B := product_between _ _ _ _ _ _ Hu Hv);
    split; apply Rmult_le_compat_r; lra.
Qed.

(** 1/x: undecided where 0 is a member. *)
Definition inv (bits : Z) (I : interval) : option interval :=
  if (Z.leb (lo I) 0 && Z.leb 0 (hi I))%bool then None else
  let shift := (bits + 2 + Z.max (length (lo I)) (length (hi I)))%Z in
  if Z.ltb shift 0 then None else
  Some (rounded bits (2 ^ shift / hi I) (- (- 2 ^ shift / lo I)) (- shift - scale I)).
(** The inverse falls between numbers of one sign. *)
Lemma inv_between s a b : s * s = 1 -> 0 < s * a -> 0 < s * b -> a <= b -> / b <= / a.
Proof.
  intros S1 Ha Hb H. assert (a <> 0) by (intro Z; rewrite Z in Ha; lra).
  assert (b <> 0) by (intro Z; rewrite Z in Hb; lra).
  assert (P : 0 < a * b) by (replace (a * b) with (s * a * (s * b)) by (replace (s * a * (s * b)) with (s * s * (a *
    b)) by ring; rewrite S1; ring); nra).
  apply Rmult_le_reg_r with (a * b); [exact P|].
  replace (/ b * (a * b)) with a by (field; assumption). replace (/ a * (a * b)) with b by (field; assumption). exact H.
Qed.
Lemma inv_ends e l h k x s : s * s = 1 -> 0 < s * IZR l -> 0 < s * IZR h -> 0 < s * x -> (0 <= e)%Z ->
  IZR l * two k <= x <= IZR h * two k ->
  IZR (2 ^ e / h) * two (- e - k) <= / x <= IZR (- (- 2 ^ e / l)) * two (- e - k).
Proof.
  intros S1 Sl Sh Sx He H. assert (K := two_pos k). assert (E0 := two_pos e). assert (T := two_pos (- e - k)).
  assert (L0 : IZR l <> 0) by (intro Z; rewrite Z in Sl; lra).
  assert (H0 : IZR h <> 0) by (intro Z; rewrite Z in Sh; lra).
  assert (E : forall z, z <> 0 -> two e / z * two (- e - k) = / (z * two k)).
  { intros z Hz. replace (- e - k)%Z with (- (e + k))%Z by lia. rewrite bpow_opp, bpow_plus. field. repeat split; lra. }
  assert (Q1 := div_le (2 ^ e) h ltac:(intro Z; apply H0; now rewrite Z)).
  assert (Q2 := div_le (- 2 ^ e) l ltac:(intro Z; apply L0; now rewrite Z)).
  rewrite opp_IZR, two_power in Q2 by exact He. rewrite two_power in Q1 by exact He.
  apply (Rmult_le_compat_r (two (- e - k))) in Q1; [|lra]. apply (Rmult_le_compat_r (two (- e - k))) in Q2; [|lra].
  rewrite (E _ H0) in Q1. replace (- two e / IZR l * two (- e - k)) with (- (two e / IZR l * two (- e - k))) in Q2 by
    (field; exact L0).
  rewrite (E _ L0) in Q2. rewrite opp_IZR.
  assert (Pl : 0 < s * (IZR l * two k)) by (rewrite <- Rmult_assoc; apply Rmult_lt_0_compat; lra).
  assert (Ph : 0 < s * (IZR h * two k)) by (rewrite <- Rmult_assoc; apply Rmult_lt_0_compat; lra).
  assert (I1 := inv_between s _ _ S1 Sx Ph (proj2 H)). assert (I2 := inv_between s _ _ S1 Pl Sx (proj1 H)). lra.
Qed.
Theorem inv_within bits I J x : inv bits I = Some J -> within I x -> x <> 0 /\ within J (/ x).
Proof.
  unfold inv. set (e := (bits + 2 + _)%Z). intros E H. unfold within in H. assert (S := two_pos (scale I)).
  assert (Le : IZR (lo I) <= IZR (hi I)) by (apply Rmult_le_reg_r with (two (scale I)); lra). apply le_IZR in Le.
  destruct (Z.leb_spec (lo I) 0) as [A|A]; destruct (Z.leb_spec 0 (hi I)) as [B|B]; cbn [andb] in E; try discriminate;
    try lia;
    destruct (Z.ltb_spec e 0) as [|Pe]; try discriminate; injection E as <-.
  - apply IZR_lt in B. apply IZR_le in Le. assert (X : IZR (hi I) * two (scale I) < 0) by nra.
    split; [lra|]. apply rounded_within, (inv_ends e _ _ _ x (-1)); try lra; exact Pe.
  - apply IZR_lt in A. apply IZR_le in Le. assert (X : 0 < IZR (lo I) * two (scale I)) by nra.
    split; [lra|]. apply rounded_within, (inv_ends e _ _ _ x 1); try lra; exact Pe.
Qed.

Definition absolute (bits : Z) (I : interval) : interval :=
  rounded bits (Z.max 0 (Z.max (lo I) (- hi I))) (Z.max (- lo I) (hi I)) (scale I).
Theorem absolute_within bits I x : within I x -> within (absolute bits I) (Rabs x).
Proof.
  unfold within. intros H. assert (S := two_pos (scale I)). apply rounded_within. rewrite !IZR_max, !opp_IZR.
  assert (A : 0 <= Rabs x) by apply Rabs_pos. assert (B := Rle_abs x). assert (C := Rle_abs (- x)).
  rewrite Rabs_Ropp in C.
  split.
  - apply Rmax_case; [lra|]. apply Rmax_case; nra.
  - unfold Rabs. destruct (Rcase_abs x).
    + apply Rle_trans with (- IZR (lo I) * two (scale I)); [lra|]. apply Rmult_le_compat_r; [lra|apply Rmax_l].
    + apply Rle_trans with (IZR (hi I) * two (scale I)); [lra|]. apply Rmult_le_compat_r; [lra|apply Rmax_r].
Qed.

(** The root: undecided or rejected where a member is negative. *)
Definition root (bits : Z) (I : interval) : option interval :=
  if Z.ltb (lo I) 0 then None else
  let first := Z.max 0 (2 * bits + 2 - length (hi I)) in
  let shift := (first + (scale I - first) mod 2)%Z in
  Some (rounded bits (Z.sqrt (lo I * 2 ^ shift)) (if Z.eqb (hi I) 0 then 0 else Z.sqrt (hi I * 2 ^ shift - 1) + 1)
    ((scale I - shift) / 2)).
Theorem root_within bits I J x : root bits I = Some J -> within I x -> 0 <= x /\ within J (sqrt x).
Proof.
  unfold root. destruct (Z.ltb_spec (lo I) 0) as [|A]; [discriminate|]. set (f := Z.max _ _). set (e := (f + _)%Z).
  intros [= <-] H. unfold within in H. assert (S := two_pos (scale I)). apply IZR_le in A.
  assert (X : 0 <= x) by nra. split; [exact X|].
  assert (Hm := Z.mod_pos_bound (scale I - f) 2 eq_refl). assert (Hf : (0 <= f)%Z) by apply Z.le_max_l.
  assert (He : (0 <= e)%Z) by (unfold e; lia).
  set (k := ((scale I - e) / 2)%Z).
  assert (K : (scale I - e = 2 * k)%Z).
  { unfold k. assert (M : ((scale I - e) mod 2 = 0)%Z).
    { unfold e. replace (scale I - (f + (scale I - f) mod 2))%Z with ((scale I - f) - (scale I - f) mod 2)%Z by lia.
      rewrite Zminus_mod, Zmod_mod, Z.sub_diag. reflexivity. }
    assert (D := Z.div_mod (scale I - e) 2 ltac:(lia)). lia. }
  assert (T := two_pos k). apply rounded_within.
  set (y := x / (two k * two k)). assert (Ey : x = y * (two k * two k)) by (unfold y; field; lra).
  assert (Y0 : 0 <= y) by (unfold y; apply Rmult_le_pos; [exact X|left; apply Rinv_0_lt_compat; nra]).
  assert (Rt : sqrt x = sqrt y * two k) by (rewrite Ey, sqrt_mult by nra; now rewrite sqrt_square by lra).
  assert (In : IZR (lo I * 2 ^ e) <= y <= IZR (hi I * 2 ^ e)).
  { assert (E : forall z, IZR z * two (scale I) = IZR (z * 2 ^ e) * (two k * two k)).
    { intro z. rewrite <- bpow_plus, two_shift by exact He. f_equal. f_equal. lia. }
    rewrite !E in H. assert (P : 0 < two k * two k) by (now apply Rmult_lt_0_compat).
    split; apply Rmult_le_reg_r with (two k * two k); try exact P; rewrite <- Ey; apply H. }
  assert (Lo : (0 <= lo I * 2 ^ e)%Z) by (apply Z.mul_nonneg_nonneg; [now apply le_IZR|lia]).
  rewrite Rt. split; apply Rmult_le_compat_r; try lra.
  - assert (Q := Z.sqrt_spec _ Lo). assert (N := Z.sqrt_nonneg (lo I * 2 ^ e)). apply IZR_le in N.
    rewrite <- (sqrt_square _ N). apply sqrt_le_1_alt. rewrite <- mult_IZR.
    eapply Rle_trans; [apply IZR_le, Q|apply In].
  - destruct (Z.eqb_spec (hi I) 0) as [Z|N].
    + rewrite Z in In. simpl in In. replace y with 0 by lra. rewrite sqrt_0. lra.
    + assert (Hi : (0 <= hi I * 2 ^ e - 1)%Z).
      { assert (0 <= IZR (hi I * 2 ^ e)) by lra. assert (G : (0 <= hi I * 2 ^ e)%Z) by (now apply le_IZR).
        assert (hi I * 2 ^ e <> 0)%Z by (apply Z.neq_mul_0; split; [exact N|lia]). lia. }
      assert (Q := Z.sqrt_spec _ Hi). assert (M := Z.sqrt_nonneg (hi I * 2 ^ e - 1)).
      assert (M' : 0 <= IZR (Z.sqrt (hi I * 2 ^ e - 1) + 1)) by (apply IZR_le; lia).
      rewrite <- (sqrt_square _ M'). apply sqrt_le_1_alt. rewrite <- mult_IZR. eapply Rle_trans; [apply In|].
      apply IZR_le. cbv zeta in Q. unfold Z.succ in Q. lia.
Qed.

(** The hull of two intervals, and the larger and the smaller of two numbers. *)
Definition merged (bits : Z) (low high : Z -> Z -> Z) (I J : interval) : interval := let s := common bits I J in
  rounded bits (low (low_end I s) (low_end J s)) (high (high_end I s) (high_end J s)) s.
Ltac ends I J x y := match goal with Hx : within I x, Hy : within J y |- _ =>
  unfold merged; set (s := common _ I J); apply rounded_within; rewrite ?IZR_min, ?IZR_max;
  assert (A := ends_within I s x Hx); assert (B := ends_within J s y Hy); assert (S := two_pos s) end.
Lemma min_scaled a b s : 0 < s -> Rmin a b * s = Rmin (a * s) (b * s).
Proof. intros P. unfold Rmin. destruct (Rle_dec a b), (Rle_dec (a * s) (b * s)); try reflexivity; exfalso; nra. Qed.
Lemma max_scaled a b s : 0 < s -> Rmax a b * s = Rmax (a * s) (b * s).
Proof. intros P. unfold Rmax. destruct (Rle_dec a b), (Rle_dec (a * s) (b * s)); try reflexivity; exfalso; nra. Qed.
Theorem hull_within bits I J x y z : within I x -> within J y -> Rmin x y <= z <= Rmax x y ->
  within (merged bits Z.min Z.max I J) z.
Proof.
  intros Hx Hy Hz. ends I J x y. rewrite min_scaled, max_scaled by exact S. unfold Rmin, Rmax in *.
  repeat match goal with |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b) end; destruct (Rle_dec x y); lra.
Qed.
Theorem larger_within bits I J x y : within I x -> within J y -> within (merged bits Z.max Z.max I J) (Rmax x y).
Proof.
  intros Hx Hy. ends I J x y. rewrite !max_scaled by exact S. unfold Rmax.
  repeat match goal with |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b) end; lra.
Qed.
Theorem smaller_within bits I J x y : within I x -> within J y -> within (merged bits Z.min Z.min I J) (Rmin x y).
Proof.
  intros Hx Hy. ends I J x y. rewrite !min_scaled by exact S. unfold Rmin.
  repeat match goal with |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b) end; lra.
Qed.

(** A relation of two intervals: it holds for all members, it fails for all, or the intervals cannot tell. *)
Inductive relation := LT | LE | GT | GE | EQ.
Definition related (r : relation) (x y : R) : Prop :=
  match r with LT => x < y | LE => x <= y | GT => x > y | GE => x >= y | EQ => x = y end.
Definition compare (bits : Z) (r : relation) (I J : interval) : option bool :=
  let c := add bits J (neg bits I) in let l := lo c in let h := hi c in
  let holds := match r with LT => Z.ltb 0 l | LE => Z.leb 0 l | GT => Z.ltb h 0 | GE => Z.leb h 0
    | EQ => (Z.eqb l 0 && Z.eqb h 0)%bool end in
  let fails := match r with LT => Z.leb h 0 | LE => Z.ltb h 0 | GT => Z.leb 0 l | GE => Z.ltb 0 l
    | EQ => (Z.ltb 0 l || Z.ltb h 0)%bool end in
  if holds then Some true else if fails then Some false else None.
Theorem compare_true bits r I J x y : within I x -> within J y ->
  (compare bits r I J = Some true -> related r x y) /\ (compare bits r I J = Some false -> ~ related r x y).
Proof.
  intros Hx Hy. assert (H := add_within bits J (neg bits I) y (- x) Hy (neg_within bits I x Hx)).
  unfold compare. set (c := add bits J (neg bits I)) in *. unfold within in H. assert (S := two_pos (scale c)).
  assert (L : forall k, (k <= lo c)%Z -> IZR k * two (scale c) <= y - x) by (intros k Hk; apply IZR_le in Hk; nra).
  assert (U : forall k, (hi c <= k)%Z -> y - x <= IZR k * two (scale c)) by (intros k Hk; apply IZR_le in Hk; nra).
  assert (L' : (0 < lo c)%Z -> 0 < y - x) by (intro K; apply (Z.le_succ_l 0), L in K; simpl in K; lra).
  assert (U' : (hi c < 0)%Z -> y - x < 0).
  { intro K. assert (K' : (hi c <= -1)%Z) by lia. apply U in K'. lra. }
  specialize (L 0%Z). specialize (U 0%Z). rewrite Rmult_0_l in L, U.
  destruct r; cbn [related];
    repeat match goal with |- context [Z.ltb ?a ?b] => destruct (Z.ltb_spec a b) | |- context [Z.leb ?a ?b] => destruct
      (Z.leb_spec a b)
      | |- context [Z.eqb ?a ?b] => destruct (Z.eqb_spec a b) end; cbn [andb orb]; (split; [intro E;
        try discriminate E|intro E; try discriminate E]);
    repeat match goal with K : (0 < lo c)%Z |- _ => apply L' in K | K : (hi c < 0)%Z |- _ => apply U' in K
      | K : (0 <= lo c)%Z |- _ => apply L in K | K : (hi c <= 0)%Z |- _ => apply U in K
      | K : lo c = 0%Z |- _ => assert (0 <= y - x) by (apply L; lia); clear K
      | K : hi c = 0%Z |- _ => assert (y - x <= 0) by (apply U; lia); clear K end; lra.
Qed.

(** Products of matrices: |x - m 2^s| <= r 2^s and |y - m' 2^s'| <= r' 2^s', middles and radii whole numbers. *)
Fixpoint total (n : nat) (f : nat -> Z) : Z := match n with O => 0%Z | S k => (total k f + f k)%Z end.
Definition dot (bits : Z) (n : nat) (m r m' r' : nat -> Z) (s : Z) : interval :=
  let middle := total n (fun k => m k * m' k)%Z in
  let radius := (total n (fun k => Z.abs (m k) * r' k) + total n (fun k => r k * (Z.abs (m' k) + r' k)))%Z in
  rounded bits (middle - radius) (middle + radius) s.
Lemma product_near x y m r m' r' : Rabs (x - m) <= r -> Rabs (y - m') <= r' ->
  Rabs (x * y - m * m') <= Rabs m * r' + r * (Rabs m' + r').
Proof.
  intros Hx Hy. replace (x * y - m * m') with (m * (y - m') + (x - m) * (m' + (y - m'))) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult. apply Rplus_le_compat.
  - apply Rmult_le_compat_l; [apply Rabs_pos|exact Hy].
  - apply Rmult_le_compat; try apply Rabs_pos; [exact Hx|]. eapply Rle_trans; [apply Rabs_triang|lra].
Qed.
Theorem dot_within bits n (m r m' r' : nat -> Z) (s s' : Z) (x y : nat -> R) :
  (forall k, (k < n)%nat -> Rabs (x k - IZR (m k) * two s) <= IZR (r k) * two s) ->
  (forall k, (k < n)%nat -> Rabs (y k - IZR (m' k) * two s') <= IZR (r' k) * two s') ->
  within (dot bits n m r m' r' (s + s')) (sum n (fun k => x k * y k)).
Proof.
  intros Hx Hy. apply rounded_within. rewrite minus_IZR, !plus_IZR, bpow_plus. assert (S := two_pos s).
  assert (T := two_pos s').
  induction n as [|n IH]; [simpl; lra|].
  specialize (IH (fun k K => Hx k (Nat.lt_lt_succ_r _ _ K)) (fun k K => Hy k (Nat.lt_lt_succ_r _ _ K))).
  specialize (Hx n (Nat.lt_succ_diag_r n)). specialize (Hy n (Nat.lt_succ_diag_r n)).
  assert (N := product_near _ _ _ _ _ _ Hx Hy). rewrite !Rabs_mult, (Rabs_right (two s)),
    (Rabs_right (two s')) in N by lra.
  cbn [sum total]. rewrite !plus_IZR, !mult_IZR, plus_IZR, !abs_IZR. apply Rabs_le_between in N. nra.
Qed.
(** How an interval becomes a middle and a radius, in half units of a scale s. *)
Theorem spread_within I s x : within I x ->
  Rabs (x - IZR (low_end I s + high_end I s) * two (s - 1)) <= IZR (high_end I s - low_end I s) * two (s - 1).
Proof.
  intros H. assert (A := ends_within I s x H). replace s with (s - 1 + 1)%Z in A at 2 4 by lia. rewrite !bpow_plus in A.
  change (two 1) with 2 in A. rewrite plus_IZR, minus_IZR. apply Rabs_le. lra.
Qed.

(* ---------- the exponential function ---------- *)
Lemma exp_times n y : exp y ^ n = exp (INR n * y).
Proof.
  induction n as [|n IH]; [simpl; rewrite Rmult_0_l, exp_0; reflexivity|].
  rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus, <- IH. simpl. ring.
Qed.
(** power <- power t + factorial, for k = K, ..., 1, where factorial is K ... k: the sum times K!. *)
Fixpoint horner (bits : Z) (t : interval) (k : nat) (factorial : Z) (power : interval) : interval * Z := match k with
  | O => (power, factorial)
  | S j => let f := (factorial * Z.of_nat k)%Z in horner bits t j f (add bits (mul bits power t) (of_whole bits f)) end.
Fixpoint horner_real (t : R) (k : nat) (factorial : Z) (power : R) : R := match k with
  | O => power
  | S j => let f := (factorial * Z.of_nat k)%Z in horner_real t j f (power * t + IZR f) end.
Lemma horner_within bits I t k f J p : within I t -> within J p ->
  within (fst (horner bits I k f J)) (horner_real t k f p).
Proof.
  intros Ht. revert f J p. induction k as [|k IH]; intros f J p Hp; [exact Hp|].
  apply IH, add_within; [now apply mul_within|apply of_whole_within].
Qed.
Lemma horner_factor bits I k f J : snd (horner bits I k f J) = (f * Z.of_nat (fact k))%Z.
Proof.
  revert f J. induction k as [|k IH]; intros f J; [cbn; lia|]. cbn [horner]. rewrite IH, fact_simpl, Nat2Z.inj_mul.
  ring.
Qed.
Lemma horner_sum t k f p :
  horner_real t k f p = p * t ^ k + IZR f * INR (fact k) * sum k (fun j => t ^ j / INR (fact j)).
Proof.
  revert f p. induction k as [|k IH]; intros f p; [simpl; ring|]. cbn [horner_real]. rewrite IH, mult_IZR. cbn [sum].
  rewrite <- INR_IZR_INZ, fact_simpl, mult_INR. assert (F := INR_fact_neq_0 k).
  assert (G := not_0_INR (S k) ltac:(lia)). simpl pow. field. exact F.
Qed.

Definition size (I : interval) : Z := Z.max (length (lo I)) (length (hi I)) + scale I.
(** Some member may be 2^20 or more in modulus, as far as the size says; 0 has no size, whatever its scale. *)
Definition far (I : interval) : bool := (negb (is_zero I) && Z.ltb 20 (size I))%bool.
Fixpoint squared (bits : Z) (n : nat) (I : interval) : interval :=
  match n with O => I | S k => squared bits k (mul bits I I) end.
Lemma squared_within bits n I x : within I x -> within (squared bits n I) (x ^ (2 ^ n)).
Proof.
  revert I x. induction n as [|n IH]; intros I x H; [simpl; now rewrite Rmult_1_r|].
  replace (x ^ (2 ^ S n)) with ((x * x) ^ (2 ^ n)); [apply IH; now apply mul_within|].
  replace (x * x) with (x ^ 2) by ring. rewrite <- pow_mult. f_equal.
Qed.

(** e^x for members that are not negative: e^x = (e^t)^(2^s), t = x/2^s. *)
Definition exp_above (bits : Z) (I : interval) : option interval :=
  if far I then None else
  let small := (4 + Z.sqrt (2 * bits))%Z in
  let squarings := if is_zero I then 0%Z else Z.max 0 (size I + small) in
  let work := (bits + squarings + 16)%Z in
  let t := rounded work (lo I) (hi I) (scale I - squarings) in
  let (power, factorial) := horner work t (Z.to_nat (work / small + 1)) 1 (rounded work 1 1 0) in
  let e := add work (mul work power (of_fraction work 1 factorial)) (rounded work 0 1 (- work)) in
  let found := squared work (Z.to_nat squarings) e in
  Some (rounded bits (lo found) (hi found) (scale found)).
Lemma size_above I x : within I x -> 0 <= x -> x <= two (size I).
Proof.
  unfold within, size. intros H X. eapply Rle_trans; [apply H|]. rewrite bpow_plus.
  apply Rmult_le_compat_r; [left; apply two_pos|].
  apply Rle_trans with (IZR (Z.abs (hi I))); [apply IZR_le; lia|]. left. eapply Rlt_le_trans; [apply length_spec|].
  apply bpow_le. lia.
Qed.
Theorem exp_above_within bits I J x : (0 <= bits)%Z -> (0 <= lo I)%Z -> exp_above bits I = Some J -> within I x ->
  within J (exp x).
Proof.
  intros Hb Hl. unfold exp_above. destruct (far I); [discriminate|]. set (small := (4 + _)%Z).
  set (sq := if is_zero I then _ else _). set (work := (bits + sq + 16)%Z). set (t := rounded work _ _ _).
  set (k := Z.to_nat (work / small + 1)).
  destruct (horner work t k 1 (rounded work 1 1 0)) as [power factorial] eqn:Eh. intros [= <-] H.
  assert (X : 0 <= x) by (apply IZR_le in Hl; assert (S := two_pos (scale I)); unfold within in H; nra).
  assert (Hs : (4 <= small)%Z) by (unfold small; assert (Q := Z.sqrt_nonneg (2 * bits)); lia).
  assert (Hq : (0 <= sq)%Z) by (unfold sq; destruct (is_zero I); lia).
  set (y := x * two (- sq)). assert (Tq := two_pos (- sq)). assert (Y0 : 0 <= y) by (unfold y; nra).
  assert (Ht : within t y).
  { apply rounded_within. unfold y. replace (scale I - sq)%Z with (scale I + - sq)%Z by lia. rewrite bpow_plus.
    unfold within in H. nra. }
  assert (Y1 : y <= two (- small)).
  { unfold y, sq. destruct (is_zero I) eqn:Ez.
    - unfold is_zero in Ez. apply andb_prop in Ez. destruct Ez as [E1 E2]. apply Z.eqb_eq in E1, E2.
      unfold within in H. rewrite E1, E2 in H.
      replace x with 0 by lra. rewrite Rmult_0_l. left. apply two_pos.
    - apply Rle_trans with (two (size I) * two (- Z.max 0 (size I + small))).
      + apply Rmult_le_compat_r; [left; apply two_pos|now apply size_above].
      + rewrite <- bpow_plus. apply bpow_le. lia. }
  assert (Y2 : y <= / 2) by (eapply Rle_trans; [exact Y1|]; change (/ 2) with (two (-1)); apply bpow_le; lia).
  assert (Hw : (16 <= work)%Z) by (unfold work; lia).
  assert (Hk : (1 <= k)%nat) by (unfold k; assert (D := Z.div_pos work small ltac:(lia) ltac:(lia)); lia).
  assert (K : (work <= small * Z.of_nat (S k))%Z).
  { unfold k. assert (D := Z.div_pos work small ltac:(lia) ltac:(lia)). rewrite Nat2Z.inj_succ, Z2Nat.id by lia.
    assert (M := Z.div_mod work small ltac:(lia)). assert (B := Z.mod_pos_bound work small ltac:(lia)). nia. }
  assert (Rest : 0 <= y ^ S k <= two (- work)).
  { split; [now apply pow_le|]. apply Rle_trans with (two (- small) ^ S k).
    - now apply pow_incr.
    - assert (E : two (- small) ^ S k = two (- small * Z.of_nat (S k))).
      { generalize (S k). intro n. induction n as [|n IH]; [rewrite Z.mul_0_r; reflexivity|].
        rewrite Nat2Z.inj_succ. replace (- small * Z.succ (Z.of_nat n))%Z with (- small + - small * Z.of_nat n)%Z by
          lia. rewrite bpow_plus, <- IH. reflexivity. }
      rewrite E. apply bpow_le. lia. }
  assert (Ex := exp_taylor y k (conj Y0 Y2) Hk).
  assert (F : factorial = Z.of_nat (fact k)).
  { assert (G := horner_factor work t k 1 (rounded work 1 1 0)). rewrite Eh in G. cbn [snd] in G. lia. }
  assert (Hp : within power (horner_real y k 1 1)).
  { assert (G := horner_within work t y k 1 (rounded work 1 1 0) 1 Ht). rewrite Eh in G. apply G. apply rounded_within.
    simpl. lra. }
  rewrite horner_sum in Hp.
  assert (Fp : (0 < factorial)%Z) by (rewrite F; assert (Q := lt_O_fact k); lia).
  assert (F0 : INR (fact k) <> 0) by apply INR_fact_neq_0.
  assert (Hm := mul_within work _ _ _ _ Hp (of_fraction_within work 1 factorial Fp)).
  replace ((1 * y ^ k + 1 * INR (fact k) * sum k (fun j => y ^ j / INR (fact j))) * (1 / IZR factorial))
    with (sum (S k) (fun j => y ^ j / INR (fact j))) in Hm.
  2: { cbn [sum]. rewrite F, <- INR_IZR_INZ. field. exact F0. }
  assert (He : within (add work (mul work power (of_fraction work 1 factorial)) (rounded work 0 1 (- work))) (exp y)).
  { set (s := sum (S k) _) in *. replace (exp y) with (s + (exp y - s)) by ring. apply add_within; [exact Hm|].
    apply rounded_within. rewrite Rmult_0_l, Rmult_1_l. lra. }
  apply (squared_within work (Z.to_nat sq)) in He.
  replace (exp y ^ (2 ^ Z.to_nat sq)) with (exp x) in He; [apply rounded_within; exact He|].
  rewrite exp_times. f_equal. unfold y. rewrite (Rmult_comm _ (x * _)), Rmult_assoc. rewrite <- (Rmult_1_r x) at 1.
  f_equal.
  rewrite pow_INR. change (INR 2) with 2.
  replace (2 ^ Z.to_nat sq) with (two sq); [rewrite <- bpow_plus; replace (- sq + sq)%Z with 0%Z by lia; reflexivity|].
  rewrite <- two_power by exact Hq. rewrite <- (Z2Nat.id sq Hq) at 1. rewrite <- pow_IZR. reflexivity.
Qed.

(** For members that are not positive: 1/e^(-x), with fewer bits where e^x is small. *)
Definition one_over (bits fewer : Z) (J : interval) : option interval := match inv fewer J with
  | Some K => Some (mul bits (of_whole bits 1) (mul fewer K (of_whole fewer 1))) | None => None end.
Definition exp_below (bits : Z) (I : interval) : option interval :=
  let fewer := Z.max 128 (bits + high_end I 0) in
  let J := rounded fewer (- hi I) (- lo I) (scale I) in
  if Z.ltb (lo J) 0 then None else
  match exp_above fewer J with Some K => one_over bits fewer K | None => None end.
Theorem exp_below_within bits I J x : exp_below bits I = Some J -> within I x -> within J (exp x).
Proof.
  unfold exp_below. set (fewer := Z.max _ _). set (M := rounded fewer _ _ _).
  destruct (Z.ltb_spec (lo M) 0) as [|L]; [discriminate|].
  destruct (exp_above fewer M) as [K|] eqn:E; [|discriminate]. unfold one_over.
  destruct (inv fewer K) as [K'|] eqn:V; [|discriminate]. intros [= <-] H.
  assert (HM : within M (- x)) by (now apply (neg_within fewer)).
  assert (HK := exp_above_within fewer M K (- x) ltac:(unfold fewer; lia) L E HM).
  destruct (inv_within _ _ _ _ V HK) as [_ HV]. rewrite exp_Ropp, Rinv_inv in HV.
  replace (exp x) with (1 * (exp x * 1)) by ring. apply mul_within; [apply of_whole_within|].
  apply mul_within; [exact HV|apply of_whole_within].
Qed.

Definition exp_sign (bits : Z) (I : interval) : option interval :=
  if far I then None else
  if Z.ltb (lo I) 0 then exp_below bits I else exp_above bits I.
(** Members of both signs are taken apart; far below 0 the bound is a power of two, and far above it is undecided. *)
Definition exponential (bits : Z) (I : interval) : option interval :=
  if (Z.ltb (hi I) 0 && Z.ltb 20 (length (hi I) + scale I))%bool then Some (rounded bits 0 1 (- 2 ^ 20)) else
  if far I then None else
  if (Z.ltb (lo I) 0 && Z.ltb 0 (hi I))%bool then
    match exp_sign bits (rounded bits (lo I) 0 (scale I)), exp_sign bits (rounded bits 0 (hi I) (scale I)) with
    | Some A, Some B => Some (merged bits Z.min Z.max A B) | _, _ => None end
  else exp_sign bits I.
Lemma exp_sign_within bits I J x : (0 <= bits)%Z -> exp_sign bits I = Some J -> within I x -> within J (exp x).
Proof.
  intros Hb. unfold exp_sign. destruct (far I); [discriminate|]. destruct (Z.ltb_spec (lo I) 0).
  - apply exp_below_within.
  - now apply exp_above_within.
Qed.
Lemma two_below_exp k : (0 <= k)%Z -> two k <= exp (IZR k).
Proof.
  intros H. rewrite <- (Z2Nat.id k H). generalize (Z.to_nat k). intro n.
  rewrite <- INR_IZR_INZ, <- (Rmult_1_r (INR n)), <- exp_times.
  replace (two (Z.of_nat n)) with (2 ^ n); [apply pow_incr; assert (Q := exp_ineq1_le 1); lra|].
  rewrite <- two_power by lia. now rewrite <- pow_IZR.
Qed.
Theorem exponential_within bits I J x : (0 <= bits)%Z -> exponential bits I = Some J -> within I x -> within J (exp x).
Proof.
  intros Hb. unfold exponential. assert (Sc := two_pos (scale I)).
  destruct (Z.ltb_spec (hi I) 0) as [A|A]; [destruct (Z.ltb_spec 20 (length (hi I) + scale I)) as [B|B]|]; cbn [andb].
  { intros [= <-] H. apply rounded_within. rewrite Rmult_0_l, Rmult_1_l. split; [left; apply exp_pos|].
    assert (X : x <= - two 20).
    { unfold within in H. eapply Rle_trans; [apply H|]. assert (L := length_least (hi I) ltac:(lia)).
      replace (IZR (hi I)) with (- IZR (Z.abs (hi I))) by (rewrite <- opp_IZR; f_equal; lia).
      assert (two 20 <= IZR (Z.abs (hi I)) * two (scale I)); [|lra].
      apply Rle_trans with (two (length (hi I) - 1) * two (scale I)); [|now apply Rmult_le_compat_r; [lra|]].
      rewrite <- bpow_plus. apply bpow_le. lia. }
    apply Rle_trans with (exp (- two 20)); [destruct X as [X| ->]; [left; now apply exp_increasing|lra]|].
    change (-1048576)%Z with (Z.opp 1048576). rewrite bpow_opp, exp_Ropp. apply Rinv_le_contravar; [apply two_pos|].
    replace (two 20) with (IZR 1048576) by (rewrite <- two_power by lia; reflexivity). apply two_below_exp. lia. }
  all: destruct (far I); [discriminate|].
  all: destruct (Z.ltb_spec (lo I) 0) as [C|C]; [destruct (Z.ltb_spec 0 (hi I)) as [D|D]|]; cbn [andb];
         try (apply exp_sign_within; exact Hb).
  - lia.
  - destruct (exp_sign bits (rounded bits (lo I) 0 (scale I))) as [K|] eqn:E1; [|discriminate].
    destruct (exp_sign bits (rounded bits 0 (hi I) (scale I))) as [M|] eqn:E2; [|discriminate].
    intros [= <-] H. unfold within in H. apply IZR_lt in C, D.
    destruct (Rle_or_lt x 0) as [X|X].
    + assert (HK := exp_sign_within _ _ _ x Hb E1 ltac:(apply rounded_within; lra)).
      assert (HM := exp_sign_within _ _ _ 0 Hb E2 ltac:(apply rounded_within; nra)).
      apply (hull_within _ _ _ _ _ _ HK HM). split; [apply Rmin_l|apply Rmax_l].
    + assert (HK := exp_sign_within _ _ _ 0 Hb E1 ltac:(apply rounded_within; nra)).
      assert (HM := exp_sign_within _ _ _ x Hb E2 ltac:(apply rounded_within; lra)).
      apply (hull_within _ _ _ _ _ _ HK HM). split; [apply Rmin_r|apply Rmax_r].
Qed.
