(** Registered statement own:order, as Statements.v prints it: mu falls to the third power, from both sides. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require own_order centred_form proved_residuals proved_positions.
From Rankmath Require Import Definitions Functions Norms Softmax Language LanguageFacts NetworkFacts Statements.
Local Open Scope R_scope.

Lemma unit_first n : (0 < n)%nat -> l2 n (eye 0%nat) = 1.
Proof.
  intros Hn. unfold l2, dot. rewrite (sum_single n _ 0%nat Hn); [unfold eye; simpl; rewrite Rmult_1_r; apply sqrt_1|].
  intros j _ Hj. unfold eye. destruct (Nat.eqb_spec 0 j); [lia|ring].
Qed.

(** inf over unit vectors of a form bounds the form. *)
Lemma form_below n (A : matrix n n) s : s = 1 \/ s = -1 -> forall v,
  inf_of (fun x => exists v : vec, l2 n v = 1 /\ x = s * bil n v A v) * dot n v v <= s * bil n v A v.
Proof.
  intros Hs v. assert (E : dot n v v = l2 n v * l2 n v) by (symmetry; apply sqrt_sqrt, dot_pos). rewrite E.
  assert (V := l2_nonneg n v). destruct V as [V|V].
  - set (u := fun a => / l2 n v * v a).
    assert (B : s * bil n v A v = s * bil n u A u * (l2 n v * l2 n v)) by (unfold u; rewrite bil_scal; field; lra).
    rewrite B. apply Rmult_le_compat_r; [nra|].
    apply (inf_lb _ (- spectral A)).
    + intros y (w & Hw & ->). assert (Q := bil_spectral n A w w). rewrite Hw in Q. apply Rabs_le_between in Q.
      destruct Hs as [-> | ->]; lra.
    + exists u. split; [|reflexivity]. unfold u. rewrite l2_scal, Rabs_right by (left; now apply Rinv_0_lt_compat).
      apply Rinv_l. lra.
  - assert (Q := bil_spectral n A v v). rewrite <- V in *. assert (Z : bil n v A v = 0) by (apply Rabs_le_between in
    Q; lra). rewrite Z. lra.
Qed.

Lemma definiteness_bound n (A : matrix n n) : (forall v, definiteness A * dot n v v <= bil n v A v) \/ (forall v, bil
  n v A v <= - (definiteness A * dot n v v)).
Proof.
  unfold definiteness, Rmax. set (a := inf_of _). set (b := inf_of (fun x => exists v : vec, l2 n v = 1 /\ x = - bil n
    v A v)).
  assert (Fa : forall v, a * dot n v v <= bil n v A v).
  { intro v. assert (Q := form_below n A 1 (or_introl eq_refl) v). rewrite Rmult_1_l in Q. eapply Rle_trans;
    [right|exact Q]. f_equal. unfold a. f_equal.
    apply functional_extensionality; intro x. f_equal. apply functional_extensionality; intro w.
      now rewrite Rmult_1_l. }
  assert (Fb : forall v, b * dot n v v <= - bil n v A v).
  { intro v. assert (Q := form_below n A (-1) (or_intror eq_refl) v). replace (-1 * bil n v A v) with (- bil n v A v)
    in Q by ring. eapply Rle_trans; [right|exact Q]. f_equal. unfold b. f_equal.
    apply functional_extensionality; intro x. f_equal. apply functional_extensionality; intro w.
      now replace (-1 * bil n w A w) with (- bil n w A w) by ring. }
  destruct Rle_dec; [right; intro v; specialize (Fb v); lra|left; exact Fa].
Qed.
(** Of a definite form it is not negative. *)
Lemma definiteness_nonneg n (A : matrix n n) : (0 < n)%nat -> definite A -> 0 <= definiteness A.
Proof.
  intros Hn [P|P]; unfold definiteness; [eapply Rle_trans; [|apply Rmax_l]|eapply Rle_trans; [|apply Rmax_r]];
    apply inf_ge;
    try (eexists; exists (eye 0%nat); split; [now apply unit_first|reflexivity]); intros x (v & Hv & ->);
      assert (Q := P v ltac:(lra)); lra.
Qed.

Section Layer.
Variable N : network.
Hypothesis PN : proper N.
Hypothesis MN : mask_none N.
Hypothesis LN : layernorm_none N.
Hypothesis S0 : skip_of N = 0.
Hypothesis H1 : heads N = 1%nat.
Hypothesis N2 : (tokens N >= 2)%nat.
Variable l : nat.
Hypothesis Df : definite (W_QK N l 0%nat).
Let n := tokens N.
Let d := dim N.
Let x := mean n (X N l).

Lemma order_both :
  mu (X N (S l)) <= norm_2 (W N l 0%nat) * q_max_mean N l 0 * exp (delta_mean N l 0) * norm_2 (W_QK N l 0%nat) / sqrt
    (d_qk N) * mu (X N l) ^ 3 /\
  (definiteness (W_QK N l 0%nat) / Rmin (INR n - 1) (INR d) * sqrt (q_min_mean N l 0 / q_max_mean N l 0) - (exp
    (delta_mean N l 0) - 1) * norm_2 (W_QK N l 0%nat) > 0 ->
   least_singular (W N l 0%nat) * q_min_mean N l 0 / sqrt (d_qk N) *
   (definiteness (W_QK N l 0%nat) / Rmin (INR n - 1) (INR d) * sqrt (q_min_mean N l 0 / q_max_mean N l 0) - (exp
     (delta_mean N l 0) - 1) * norm_2 (W_QK N l 0%nat)) * mu (X N l) ^ 3
   <= mu (X N (S l))).
Proof.
  assert (n0 := some_tokens N PN). assert (d0 := some_dim N PN). assert (sc := scale_pos N PN).
    assert (A := dim_root N PN). assert (B := qk_root N PN).
  set (qm := q_min_mean N l 0). set (qM := q_max_mean N l 0). set (dl := delta_mean N l 0).
    set (w := norm_2 (W N l 0%nat)). set (mq := norm_2 (W_QK N l 0%nat)).
  set (df := definiteness (W_QK N l 0%nat)). set (sg := least_singular (W N l 0%nat)).
  assert (Qp : forall j, 0 < centred_shares N x l 0 j) by (intro j; now apply shares_pos).
  assert (QB : forall j, (j < n)%nat -> qm <= centred_shares N x l 0 j <= qM) by (intros j Hj; split;
    [now apply least_lb|now apply largest_ub]).
  assert (q0 : 0 <= qm) by (apply least_glb; [exact n0|]; intros j _; left; apply Qp).
  assert (qM0 : 0 < qM) by (eapply Rlt_le_trans; [apply (Qp 0%nat)|apply (QB 0%nat n0)]).
  assert (KP : key_padding n (edges N)) by (apply (padding_is N PN); now apply (none_is_padding N)).
  assert (T := own_order.order_layer n d (layer_of N l) (X N l) qm qM dl (scale N * mq) (scale N * df) w sg
    ltac:(unfold n; lia) d0 d0 H1 KP). cbv zeta in T.
  change (dqk (layer_of N l)) with d in T. fold x in T. 
  assert (EQ : centred_form.q_of n d d (hd (layer_of N l) 0) x (centred (X N l) x) = centred_shares N x l 0) by (apply
    proved_residuals.q_of_is; assumption).
  assert (EE : forall i j, centred_form.E_of d d (hd (layer_of N l) 0) (centred (X N l) x) i j = tilts N x l 0 i j) by
    (intros; apply proved_residuals.E_of_is; assumption).
  rewrite EQ in T.
  assert (Rm : INR (Nat.min (n - 1) d) = Rmin (INR n - 1) (INR d)).
  { assert (E : INR n - 1 = INR (n - 1)) by (rewrite minus_INR by (unfold n; lia); simpl; ring). rewrite E.
    unfold Rmin. destruct Rle_dec as [Q|Q].
    - apply INR_le in Q. now rewrite Nat.min_l.
    - rewrite Nat.min_r; [reflexivity|]. apply Rnot_le_lt, INR_lt in Q. lia. }
  rewrite Rm in T. set (r := Rmin (INR n - 1) (INR d)) in *.
  destruct T as [Up Low].
  - exact q0.
  - exact qM0.
  - exact QB.
  - intros i j k Hi Hj Hk. rewrite !EE. eapply Rle_trans; [apply (osc_spec n (tilts N x l 0 i) j k Hj Hk)|].
    exact (largest_ub n (oscillation N x l 0) i Hi).
  - apply Rmult_le_pos; [lra|apply spectral_nonneg].
  - intro v. change (WQK d (hd (layer_of N l) 0)) with (WQK (dim N) (hd (layer_of N l) 0)).
    assert (E : l2 d (vmat d v (WQK (dim N) (hd (layer_of N l) 0))) = l2 d (fun b => scale N * vmat d v (W_QK N l
      0%nat) b)).
    { unfold l2, dot. f_equal. apply sum_ext; intros b Hb. assert (V : vmat d v (WQK (dim N) (hd (layer_of N l) 0)) b
      = scale N * vmat d v (W_QK N l 0%nat) b).
      { unfold vmat. rewrite <- sum_scal. apply sum_ext; intros a _. rewrite (WQK_entry N) by exact Hb. ring. }
      now rewrite V. }
    rewrite E, l2_scal, Rabs_right, Rmult_assoc by lra. apply Rmult_le_compat_l; [lra|apply spectral_bound].
  - apply Rmult_le_pos; [lra|now apply definiteness_nonneg].
  - destruct (definiteness_bound d (W_QK N l 0%nat)) as [Q|Q]; [left|right]; intro v;
      replace (bil d v (WQK d (hd (layer_of N l) 0)) v) with (scale N * bil d v (W_QK N l 0%nat) v) by (symmetry;
        apply (bil_WQK N)).
    + rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|exact (Q v)].
    + replace (- (scale N * df * dot d v v)) with (scale N * - (df * dot d v v)) by ring. apply Rmult_le_compat_l;
      [lra|exact (Q v)].
  - apply proved_positions.least_singular_nonneg. exact d0.
  - intro v. apply proved_positions.least_singular_bound.
  - apply spectral_nonneg.
  - intro v. apply spectral_bound.
  - assert (E : mu (X N (S l)) = Definitions.mu n d (SA n d (layer_of N l) (X N l))).
    { unfold mu. f_equal. apply functional_extensionality; intro i. apply functional_extensionality; intro b. cbn [X].
      unfold laid. rewrite LN, (sent_is N PN), S0. fold n d. ring. }
    rewrite E. change (Definitions.mu n d (X N l)) with (mu (X N l)) in *. set (u := mu (X N l)) in *.
    assert (Sc : scale N / sqrt (INR d) = / sqrt (d_qk N)) by (unfold scale; fold d; field; split; fold d in A; lra).
    split.
    + eapply Rle_trans; [exact Up|right]. transitivity (w * qM * exp dl * mq * (scale N / sqrt (INR d)) * u ^ 3);
      [unfold Rdiv; ring|]. rewrite Sc. unfold Rdiv. ring.
    + intros Br. set (br := df / r * sqrt (qm / qM) - (exp dl - 1) * mq) in *.
      assert (Eb : scale N * df / r * sqrt (qm / qM) - (exp dl - 1) * (scale N * mq) = scale N * br) by (unfold br,
        Rdiv; ring). rewrite Eb in Low.
      eapply Rle_trans; [right|apply Low; apply Rmult_le_pos; lra].
      transitivity (sg * qm * (scale N / sqrt (INR d)) * br * u ^ 3); [rewrite Sc; unfold Rdiv; ring|]. unfold Rdiv.
        ring.
Qed.
End Layer.

Theorem proved_own_order : statement_own_order.
Proof.
  intros N PN H1 N2 Df Br MN LN _ S0. split; intros l Hl; replace (l + 1)%nat with (S l) by lia;
    destruct (order_both N PN MN LN S0 H1 N2 l (Df l Hl)) as [Up Low]; [apply Low; now apply Br|exact Up].
Qed.
