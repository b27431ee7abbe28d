(** A centre that minimises the composite value of X - 1 x^T exists; so the centres that statements speak of are there.
*)
Require Import Reals Lra Lia Psatz FunctionalExtensionality Classical.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms Language LanguageFacts.
Local Open Scope R_scope.

Definition in_box (d : nat) (M : R) (x : vec) : Prop := forall a, (a < d)%nat -> Rabs (x a) <= M.
Definition cons (t : R) (z : vec) : vec := fun a => match a with O => t | S b => z b end.

(** A Lipschitz function on a box has a least value there: coordinate by coordinate. *)
Lemma box_minimum d M K (F : vec -> R) : 0 <= M -> 0 <= K ->
  (forall x y, in_box d M x -> in_box d M y -> F x - F y <= K * sum d (fun a => Rabs (x a - y a))) ->
  exists x, in_box d M x /\ forall y, in_box d M y -> F x <= F y.
Proof.
  revert F. induction d as [|d IH]; intros F M0 K0 Lip.
  - exists (fun _ => 0). split; [intros a Ha; lia|]. intros y Hy.
    assert (Q := Lip (fun _ => 0) y ltac:(intros a Ha; lia) Hy). cbn [sum] in Q. lra.
  - assert (Bx : forall t z, Rabs t <= M -> in_box d M z -> in_box (S d) M (cons t z)).
    { intros t z Ht Hz [|a] Ha; cbn; [exact Ht|apply Hz; lia]. }
    assert (LS : forall t z s w, Rabs t <= M -> in_box d M z -> Rabs s <= M -> in_box d M w ->
      F (cons t z) - F (cons s w) <= K * (Rabs (t - s) + sum d (fun a => Rabs (z a - w a)))).
    { intros t z s w Ht Hz Hs Hw. assert (Q := Lip (cons t z) (cons s w) (Bx t z Ht Hz) (Bx s w Hs Hw)).
      rewrite sum_head in Q. exact Q. }
    assert (Mt : forall t, Rabs t <= M -> exists z, in_box d M z /\ forall y, in_box d M y ->
      F (cons t z) <= F (cons t y)).
    { intros t Ht. apply (IH (fun z => F (cons t z))); auto. intros x y Hx Hy.
      assert (Q := LS t x t y Ht Hx Ht Hy). replace (t - t) with 0 in Q by ring. rewrite Rabs_R0 in Q. lra. }
    set (g := fun t => inf_of (fun v => exists z, in_box d M z /\ v = F (cons t z))).
    assert (Gz : forall t z, Rabs t <= M -> in_box d M z -> (forall y, in_box d M y -> F (cons t z) <= F (cons t y)) ->
      g t = F (cons t z)).
    { intros t z Ht Hz Hm. apply inf_is; [now exists z|]. intros v [y [Hy ->]]. now apply Hm. }
    assert (GL : forall t s, Rabs t <= M -> Rabs s <= M -> g t - g s <= K * Rabs (t - s)).
    { intros t s Ht Hs. destruct (Mt t Ht) as [z [Hz Zm]]. destruct (Mt s Hs) as [w [Hw Wm]].
      rewrite (Gz t z Ht Hz Zm), (Gz s w Hs Hw Wm). assert (Q := LS t w s w Ht Hw Hs Hw). assert (R := Zm w Hw).
      rewrite (sum_ext d (fun a => Rabs (w a - w a)) (fun _ => 0)) in Q by (intros k _;
        replace (w k - w k) with 0 by ring; apply Rabs_R0).
      rewrite sum_zero in Q. lra. }
    (* g beyond the box is continued, so that it is continuous everywhere *)
    set (c := fun t => Rmax (- M) (Rmin M t)).
    assert (Cb : forall t, Rabs (c t) <= M).
    { intro t. apply Rabs_le. unfold c, Rmax, Rmin. repeat destruct Rle_dec; lra. }
    assert (Ci : forall t, - M <= t <= M -> c t = t) by (intros t Ht; unfold c, Rmax, Rmin; repeat destruct Rle_dec;
      lra).
    assert (Cl : forall t s, Rabs (c t - c s) <= Rabs (t - s)).
    { intros t s. unfold c, Rmax, Rmin. repeat destruct Rle_dec; unfold Rabs; repeat destruct Rcase_abs; lra. }
    assert (Cont : forall t, - M <= t <= M -> continuity_pt (fun t => g (c t)) t).
    { intros t _ eps He. exists (eps / (K + 1)). split; [apply Rdiv_lt_0_compat; lra|]. intros s [_ Hs]. simpl in *.
      unfold R_dist in *.
      assert (A := GL (c s) (c t) (Cb s) (Cb t)). assert (B := GL (c t) (c s) (Cb t) (Cb s)). assert (L := Cl s t).
      rewrite (Rabs_minus_sym (c t)) in B.
      assert (D : K * Rabs (c s - c t) <= K * Rabs (s - t)) by (apply Rmult_le_compat_l; lra).
      assert (X : (K + 1) * Rabs (s - t) < eps) by (apply (Rmult_lt_compat_l (K + 1)) in Hs; [|lra];
        replace ((K + 1) * (eps / (K + 1))) with eps in Hs by (field; lra); exact Hs).
      assert (P := Rabs_pos (s - t)). apply Rabs_def1; nra. }
    destruct (continuity_ab_min (fun t => g (c t)) (- M) M ltac:(lra) Cont) as [t [Tm Ht]].
    destruct (Mt t ltac:(apply Rabs_le; lra)) as [z [Hz Zm]]. exists (cons t z).
    split; [apply Bx; [apply Rabs_le; lra|exact Hz]|].
    intros y Hy. set (s := y 0%nat). set (w := fun a => y (S a)).
    assert (Ey : y = cons s w) by (apply functional_extensionality; intros [|a]; reflexivity).
    assert (Hs : Rabs s <= M) by (apply Hy; lia). assert (Hw : in_box d M w) by (intros a Ha; apply Hy; lia).
    rewrite Ey. apply Rabs_le_between in Hs. assert (Q := Tm s Hs). cbv beta in Q. rewrite !Ci in Q by lra.
    rewrite (Gz t z ltac:(apply Rabs_le; lra) Hz Zm) in Q. destruct (Mt s ltac:(apply Rabs_le; lra)) as [z' [Hz' Zm']].
    rewrite (Gz s z' ltac:(apply Rabs_le; lra) Hz' Zm') in Q. eapply Rle_trans; [exact Q|now apply Zm'].
Qed.

(* ---------- the composite value ---------- *)
Section Composite.
Variables (n d : nat) (Y : mat).
Hypothesis Hn : (0 < n)%nat.
Let f x := comp n d (centred Y x).
Let B := maxentry n d Y.

Lemma norm1_lip x y : norm1 n d (centred Y x) <= norm1 n d (centred Y y) + INR n * sum d (fun a => Rabs (x a - y a)).
Proof.
  assert (S0 : 0 <= sum d (fun a => Rabs (x a - y a))) by (apply sum_nonneg; intros; apply Rabs_pos).
  apply maxf_lub; [apply Rplus_le_le_0_compat; [apply maxf_pos|apply Rmult_le_pos; [apply pos_INR|exact S0]]|].
  intros a Ha.
  apply Rle_trans with (sum n (fun i => Rabs (centred Y y i a)) + INR n * Rabs (x a - y a)).
  - rewrite <- sum_const, <- sum_plus. apply sum_le; intros i _. unfold centred, vsub.
    replace (Y i a - x a) with ((Y i a - y a) + - (x a - y a)) by ring. eapply Rle_trans; [apply Rabs_triang|].
    rewrite Rabs_Ropp. lra.
  - apply Rplus_le_compat; [now apply col_le|]. apply Rmult_le_compat_l; [apply pos_INR|].
    apply (sum_term_le d (fun a => Rabs (x a - y a)) a); [intros; apply Rabs_pos|exact Ha].
Qed.
Lemma norminf_lip x y : norminf n d (centred Y x) <= norminf n d (centred Y y) + sum d (fun a => Rabs (x a - y a)).
Proof.
  assert (S0 : 0 <= sum d (fun a => Rabs (x a - y a))) by (apply sum_nonneg; intros; apply Rabs_pos).
  apply maxf_lub; [apply Rplus_le_le_0_compat; [apply maxf_pos|exact S0]|]. intros i Hi.
  apply Rle_trans with (sum d (fun a => Rabs (centred Y y i a)) + sum d (fun a => Rabs (x a - y a))).
  - rewrite <- sum_plus. apply sum_le; intros a _. unfold centred, vsub.
    replace (Y i a - x a) with ((Y i a - y a) + - (x a - y a)) by ring. eapply Rle_trans; [apply Rabs_triang|].
    rewrite Rabs_Ropp. lra.
  - apply Rplus_le_compat_r. now apply row_le.
Qed.

Theorem composite_minimiser : exists x, minimiser (comp n d) Y x.
Proof.
  set (M := B + f (fun _ => 0)). assert (B0 : 0 <= B) by apply maxf_pos.
  assert (F0 : 0 <= f (fun _ => 0)) by apply comp_pos.
  set (F := fun x => norm1 n d (centred Y x) * norminf n d (centred Y x)). set (Z := fun _ : nat => 0).
  set (A1 := norm1 n d (centred Y Z) + INR n * (INR d * M)). set (A2 := norminf n d (centred Y Z) + INR d * M).
  assert (SM : forall x, in_box d M x -> sum d (fun a => Rabs (x a - Z a)) <= INR d * M).
  { intros x Hx. rewrite <- sum_const. apply sum_le; intros a Ha. unfold Z. rewrite Rminus_0_r. now apply Hx. }
  assert (N1 : forall x, in_box d M x -> norm1 n d (centred Y x) <= A1).
  { intros x Hx. eapply Rle_trans; [apply (norm1_lip x Z)|]. apply Rplus_le_compat_l, Rmult_le_compat_l;
      [apply pos_INR|now apply SM]. }
  assert (N2 : forall x, in_box d M x -> norminf n d (centred Y x) <= A2).
  { intros x Hx. eapply Rle_trans; [apply (norminf_lip x Z)|]. apply Rplus_le_compat_l. now apply SM. }
  assert (M0 : 0 <= M) by (unfold M; lra).
  assert (A10 : 0 <= A1) by (apply Rplus_le_le_0_compat; [apply maxf_pos|repeat apply Rmult_le_pos; try apply pos_INR;
    exact M0]).
  assert (A20 : 0 <= A2) by (apply Rplus_le_le_0_compat; [apply maxf_pos|apply Rmult_le_pos; [apply pos_INR|exact M0]]).
  destruct (box_minimum d M (A1 + INR n * A2) F M0) as [x [Hx Xm]].
  - apply Rplus_le_le_0_compat; [exact A10|apply Rmult_le_pos; [apply pos_INR|exact A20]].
  - intros x y Hx Hy. unfold F. set (s := sum d (fun a => Rabs (x a - y a))).
    assert (S0 : 0 <= s) by (apply sum_nonneg; intros; apply Rabs_pos).
    assert (L1 := norm1_lip x y). assert (L2 := norminf_lip x y). fold s in L1, L2. assert (P1 := N1 x Hx).
    assert (P2 := N2 y Hy).
    set (p := norm1 n d (centred Y x)) in *. set (p' := norm1 n d (centred Y y)) in *.
    set (q := norminf n d (centred Y x)) in *. set (q' := norminf n d (centred Y y)) in *.
    assert (p0 : 0 <= p) by apply maxf_pos. assert (q0' : 0 <= q') by apply maxf_pos.
    assert (In := pos_INR n). replace (p * q - p' * q') with (p * (q - q') + (p - p') * q') by ring.
    assert (p * (q - q') <= p * s) by (apply Rmult_le_compat_l; lra).
    assert (p * s <= A1 * s) by (apply Rmult_le_compat_r; lra).
    assert ((p - p') * q' <= INR n * s * q') by (apply Rmult_le_compat_r; lra).
    assert (INR n * s * q' <= INR n * s * A2) by (apply Rmult_le_compat_l; [now apply Rmult_le_pos|exact P2]). lra.
  - exists x. assert (inside : forall y, in_box d M y -> f x <= f y) by (intros y Hy; apply sqrt_le_1_alt, Xm;
      exact Hy).
    intro y. change (f x <= f y). destruct (classic (in_box d M y)) as [Hy|Hy]; [now apply inside|].
    assert (E : exists a, (a < d)%nat /\ M < Rabs (y a)).
    { apply NNPP. intro Q. apply Hy. intros a Ha. apply Rnot_lt_le. intro L. apply Q. now exists a. }
    destruct E as [a [Ha La]]. apply Rle_trans with (f Z); [apply inside; intros b _; unfold Z; rewrite Rabs_R0;
      exact M0|].
    assert (D : f Z <= Rabs (Y 0%nat a - y a)).
    { assert (Q := entry_le n d Y 0 a Hn Ha). fold B in Q. assert (T := Rabs_triang_inv (y a) (Y 0%nat a)).
      rewrite Rabs_minus_sym in T.
      change (f Z) with (f (fun _ => 0)). unfold M in La. lra. }
    assert (C1 : Rabs (Y 0%nat a - y a) <= norm1 n d (centred Y y)).
    { eapply Rle_trans; [|apply (col_le n d (centred Y y) a Ha)].
      apply (sum_term_le n (fun i => Rabs (centred Y y i a)) 0); [intros; apply Rabs_pos|exact Hn]. }
    assert (C2 : Rabs (Y 0%nat a - y a) <= norminf n d (centred Y y)).
    { eapply Rle_trans; [|apply (row_le n d (centred Y y) 0 Hn)].
      apply (sum_term_le d (fun a => Rabs (centred Y y 0%nat a)) a); [intros; apply Rabs_pos|exact Ha]. }
    eapply Rle_trans; [exact D|]. unfold f, comp. set (t := Rabs (Y 0%nat a - y a)) in *.
    assert (t0 : 0 <= t) by apply Rabs_pos.
    rewrite <- (sqrt_square t t0). apply sqrt_le_1_alt. apply Rmult_le_compat; assumption.
Qed.
End Composite.
