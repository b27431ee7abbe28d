(** own:tv.  Let q be a probability vector (zero entries allowed: they model masked keys), g any
    real function and p_j = q_j e^{g_j} / sum_k q_k e^{g_k}.  If g_j - g_k <= D for all j, k with
    q_j, q_k > 0, then
        (1/2) sum_j |p_j - q_j| <= tanh(D/4).
    Equality: for D > 0 it holds exactly when there is a set S of q-mass 1/(1 + e^{D/2}) such that
    g is larger by D on S than off S wherever q > 0; so the 4 cannot be improved, not even for two
    atoms ([tv_sharp]).  The softmax form is [tv_softmax].
    Transport: if sum_j nu_j = 0 and all N(v_j - v_k) <= D then N(sum_j nu_j v_j) <= (1/2) sum_j |nu_j| D. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms Softmax.
Local Open Scope R_scope.

(** The two-point inequality: if the odds of p are at most E^2 times those of q, then
    p - q <= (E-1)/(E+1). *)
Lemma two_point (E p q : R) : 1 <= E -> 0 <= p <= 1 -> 0 <= q <= 1 ->
  p * (1 - q) <= E * E * (q * (1 - p)) -> p - q <= (E - 1) / (E + 1).
Proof.
  intros HE Hp Hq H.
  set (x := sqrt (p * (1 - q))). set (y := sqrt (q * (1 - p))).
  assert (Hx0 : 0 <= x) by apply sqrt_pos. assert (Hy0 : 0 <= y) by apply sqrt_pos.
  assert (Hx : x * x = p * (1 - q)) by (apply sqrt_sqrt; nra).
  assert (Hy : y * y = q * (1 - p)) by (apply sqrt_sqrt; nra).
  assert (Hxy : x <= E * y).
  { apply Rsqr_incr_0_var; [unfold Rsqr|apply Rmult_le_pos; lra]. rewrite Hx.
    replace (E * y * (E * y)) with (E * E * (y * y)) by ring. rewrite Hy. exact H. }
  assert (Hx1 : x <= (p + 1 - q) / 2).
  { apply Rsqr_incr_0_var; [unfold Rsqr; rewrite Hx; assert (S := Rle_0_sqr (p - 1 + q)); unfold Rsqr in S; lra|lra]. }
  assert (Hy1 : y <= (q + 1 - p) / 2).
  { apply Rsqr_incr_0_var; [unfold Rsqr; rewrite Hy; assert (S := Rle_0_sqr (q - 1 + p)); unfold Rsqr in S; lra|lra]. }
  assert (Hd : p - q = (x - y) * (x + y)) by nra.
  apply Rmult_le_reg_r with (E + 1); [lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  rewrite Hd.
  assert (Hs : 0 <= x + y <= 1) by lra.
  assert (Hm : (x - y) * (E + 1) <= (E - 1) * (x + y)) by nra.
  assert ((x - y) * (E + 1) * (x + y) <= (E - 1) * (x + y) * (x + y)) by nra.
  assert ((E - 1) * (x + y) * (x + y) <= E - 1).
  { assert ((x + y) * (x + y) <= 1) by nra. nra. }
  nra.
Qed.

(** The case of equality, for E > 1: the odds are E^2 times those of q, and q = 1/(1+E). *)
Lemma two_point_eq (E p q : R) : 1 < E -> 0 <= p <= 1 -> 0 <= q <= 1 ->
  p * (1 - q) <= E * E * (q * (1 - p)) -> p - q = (E - 1) / (E + 1) ->
  q = 1 / (1 + E) /\ p * (1 - q) = E * E * (q * (1 - p)).
Proof.
  intros HE Hp Hq H Heq.
  assert (Ep : p = q + (E - 1) / (E + 1)) by lra.
  assert (I : 0 < / (E + 1)) by (apply Rinv_0_lt_compat; lra).
  set (t := / (E + 1)) in *. assert (T : t * (E + 1) = 1) by (apply Rinv_l; lra).
  assert (Et : (E - 1) / (E + 1) = 1 - 2 * t) by (unfold t; field; lra).
  assert (Ee : E = / t - 1) by (unfold t; rewrite Rinv_inv; lra).
  rewrite Et in Ep.
  (* odds: (q + 1 - 2t)(1 - q) t^2 <= (1-t)^2 q (2t - q) , i.e. (q - t)^2 (1 - 2t) <= 0 *)
  assert (Q : (q + (1 - 2 * t)) * (1 - q) * (t * t) <= (1 - t) * (1 - t) * (q * (1 - (q + (1 - 2 * t))))).
  { assert (Ht : (1 - t) = E * t) by (rewrite <- T; ring).
    rewrite Ht. rewrite Ep in H. apply (Rmult_le_compat_r (t * t)) in H; [|nra]. nra. }
  assert (T2 : t < 1/2). { apply Rmult_lt_reg_r with (E + 1); [lra|]. rewrite T. lra. }
  assert (Z : (q - t) * (q - t) * (1 - 2 * t) <= 0) by nra.
  assert (Zq : q = t).
  { assert (S := Rle_0_sqr (q - t)). unfold Rsqr in S. destruct (Req_dec ((q - t) * (q - t)) 0) as [Z0|Z0]; [nra|].
    assert (0 < (q - t) * (q - t)) by lra. nra. }
  split.
  - rewrite Zq. unfold t. field. lra.
  - rewrite Ep, Zq. rewrite Ee. field. lra.
Qed.

Section TV.
Variables (n : nat) (q g : vec) (D : R).
Hypothesis q_pos : forall j, (j < n)%nat -> 0 <= q j.
Hypothesis q_sum : sum n q = 1.
Hypothesis osc : forall j k, (j < n)%nat -> (k < n)%nat -> 0 < q j -> 0 < q k -> g j - g k <= D.

Let Z := sum n (fun k => q k * exp (g k)).
Let p := tilt n q g.
(** S = {p > q}, as an indicator, and its masses. *)
Let chi := fun j => if Rle_dec (p j) (q j) then 0 else 1.
Let pS := sum n (fun j => chi j * p j).
Let qS := sum n (fun j => chi j * q j).

Let WT : weights n q.
Proof. now apply prob_weights. Qed.
Let ZP : 0 < Z.
Proof. apply tilt_Z_pos, WT. Qed.
Let C1 j : 0 <= chi j <= 1.
Proof. unfold chi; destruct Rle_dec; lra. Qed.

Lemma osc_nonneg : 0 <= D.
Proof. destruct WT as [_ [j [Hj Hq]]]. specialize (osc j j Hj Hj Hq Hq). lra. Qed.

Let Htv : tv n p q = pS - qS.
Proof.
  unfold tv, pS, qS. rewrite <- sum_minus.
  assert (sum n (fun j => Rabs (p j - q j)) = sum n (fun j => 2 * (chi j * p j - chi j * q j) - (p j - q j))) as ->.
  { apply sum_ext. intros j _. unfold chi. destruct (Rle_dec (p j) (q j)) as [L|L].
    - rewrite Rabs_left1 by lra. ring.
    - rewrite Rabs_right by lra. ring. }
  assert (Sp : sum n p = 1) by apply (tilt_sum n q WT g).
  rewrite !sum_minus, sum_scal, !sum_minus, Sp, q_sum. lra.
Qed.

Let HpC : sum n (fun j => (1 - chi j) * p j) = 1 - pS.
Proof.
  assert (Sp : sum n p = 1) by apply (tilt_sum n q WT g).
  replace (1 - pS) with (sum n p - pS) by lra. unfold pS. rewrite <- sum_minus. apply sum_ext; intros; ring.
Qed.
Let HqC : sum n (fun j => (1 - chi j) * q j) = 1 - qS.
Proof. replace (1 - qS) with (sum n q - qS) by lra. unfold qS. rewrite <- sum_minus. apply sum_ext; intros; ring. Qed.

Let Hp01 : 0 <= pS <= 1.
Proof.
  split.
  - apply sum_nonneg. intros. apply Rmult_le_pos; [apply C1|apply tilt_nonneg; [exact WT|assumption]].
  - assert (0 <= 1 - pS); [|lra]. rewrite <- HpC. apply sum_nonneg. intros.
    apply Rmult_le_pos; [specialize (C1 j); lra|apply tilt_nonneg; [exact WT|assumption]].
Qed.
Let Hq01 : 0 <= qS <= 1.
Proof.
  split.
  - apply sum_nonneg. intros. apply Rmult_le_pos; [apply C1|auto].
  - assert (0 <= 1 - qS); [|lra]. rewrite <- HqC. apply sum_nonneg. intros.
    apply Rmult_le_pos; [specialize (C1 j); lra|auto].
Qed.

(** One term of the double sum behind the odds. *)
Let odds_term i k : (i < n)%nat -> (k < n)%nat ->
  chi i * p i * ((1 - chi k) * q k) <= exp D * (chi i * q i * ((1 - chi k) * p k)).
Proof.
  intros Hi Hk. unfold p, tilt. fold Z.
  destruct (Rle_lt_or_eq_dec 0 (q i) (q_pos i Hi)) as [Li|Li]; [|rewrite <- Li; unfold Rdiv; apply Req_le; ring].
  destruct (Rle_lt_or_eq_dec 0 (q k) (q_pos k Hk)) as [Lk|Lk]; [|rewrite <- Lk; unfold Rdiv; apply Req_le; ring].
  assert (He : exp (g i) <= exp D * exp (g k)).
  { rewrite <- exp_plus. apply exp_le. specialize (osc i k Hi Hk Li Lk). lra. }
  assert (ZP' := ZP).
  replace (chi i * (q i * exp (g i) / Z) * ((1 - chi k) * q k))
    with ((chi i * q i * (1 - chi k) * q k / Z) * exp (g i)) by (field; lra).
  replace (exp D * (chi i * q i * ((1 - chi k) * (q k * exp (g k) / Z))))
    with ((chi i * q i * (1 - chi k) * q k / Z) * (exp D * exp (g k))) by (field; lra).
  apply Rmult_le_compat_l; [|exact He].
  assert (Ci := C1 i). assert (Ck := C1 k).
  apply Rmult_le_pos; [|left; now apply Rinv_0_lt_compat].
  apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; lra.
Qed.

Let Hodds : pS * (1 - qS) <= exp D * (qS * (1 - pS)).
Proof.
  rewrite <- HpC, <- HqC. unfold pS, qS. rewrite !sum_mult, <- sum_scal.
  apply sum_le; intros i Hi. rewrite <- sum_scal. apply sum_le; intros k Hk. now apply odds_term.
Qed.

Let E2 : exp D = exp (D / 2) * exp (D / 2).
Proof. rewrite <- exp_plus. f_equal. lra. Qed.

Theorem tv_tanh : tv n (tilt n q g) q <= tanh (D / 4).
Proof.
  fold p. assert (D0 := osc_nonneg). rewrite Htv, tanh_quarter.
  apply two_point; [apply exp_ge1; lra|exact Hp01|exact Hq01|]. rewrite <- E2. exact Hodds.
Qed.

(** Equality forces g to take two values, and the mass of the upper set. *)
Theorem tv_equality_only_if : 0 < D -> tv n (tilt n q g) q = tanh (D / 4) ->
  exists S : nat -> bool,
    sum n (fun j => if S j then q j else 0) = 1 / (1 + exp (D / 2)) /\
    (forall j k, (j < n)%nat -> (k < n)%nat -> 0 < q j -> 0 < q k -> S j = true -> S k = false -> g j - g k = D).
Proof.
  fold p. intros D0 Heq. rewrite Htv, tanh_quarter in Heq.
  assert (E1 : 1 < exp (D / 2)) by (rewrite <- exp_0; apply exp_increasing; lra).
  destruct (two_point_eq (exp (D / 2)) pS qS E1 Hp01 Hq01) as [Q1 Q2]; [rewrite <- E2; exact Hodds|exact Heq|].
  rewrite <- E2 in Q2.
  exists (fun j => if Rle_dec (p j) (q j) then false else true). split.
  - rewrite <- Q1. unfold qS, chi. apply sum_ext; intros j _. destruct Rle_dec; ring.
  - intros j k Hj Hk Lj Lk Sj Sk.
    assert (Cj : chi j = 1) by (unfold chi; destruct (Rle_dec (p j) (q j)); [discriminate|reflexivity]).
    assert (Ck : chi k = 0) by (unfold chi; destruct (Rle_dec (p k) (q k)); [reflexivity|discriminate]).
    (* every term of the double sum is an equality *)
    set (F := fun i l => exp D * (chi i * q i * ((1 - chi l) * p l)) - chi i * p i * ((1 - chi l) * q l)).
    assert (FP : forall i l, (i < n)%nat -> (l < n)%nat -> 0 <= F i l).
    { intros i l Hi Hl. unfold F. assert (T := odds_term i l Hi Hl). lra. }
    assert (FS : sum n (fun i => sum n (fun l => F i l)) = 0).
    { unfold F. rewrite (sum_ext n _ (fun i => exp D * sum n (fun l => chi i * q i * ((1 - chi l) * p l))
                                   - sum n (fun l => chi i * p i * ((1 - chi l) * q l)))).
      - rewrite sum_minus, sum_scal, <- !sum_mult, HpC, HqC. fold pS qS. lra.
      - intros i _. now rewrite sum_minus, sum_scal. }
    assert (F0 : F j k = 0).
    { apply Rle_antisym; [|now apply FP]. rewrite <- FS.
      eapply Rle_trans; [apply (sum_term_le n (fun l => F j l) k); [intros; now apply FP|exact Hk]|].
      apply (sum_term_le n (fun i => sum n (fun l => F i l)) j); [|exact Hj].
      intros i Hi. apply sum_nonneg; intros. now apply FP. }
    unfold F in F0. rewrite Cj, Ck in F0. unfold p, tilt in F0. fold Z in F0. assert (ZP' := ZP).
    assert (Hexp : exp (g j) = exp (D + g k)).
    { rewrite exp_plus. apply Rmult_eq_reg_l with (q j * q k / Z).
      - transitivity (1 * (q j * exp (g j) / Z) * ((1 - 0) * q k)); [field; lra|].
        transitivity (exp D * (1 * q j * ((1 - 0) * (q k * exp (g k) / Z)))); [lra|field; lra].
      - apply Rgt_not_eq, Rdiv_lt_0_compat; [apply Rmult_lt_0_compat|]; assumption. }
    apply exp_inv in Hexp. lra.
Qed.
End TV.

(** ... and these conditions suffice. *)
Theorem tv_equality_if n q (S : nat -> bool) c D :
  (forall j, (j < n)%nat -> 0 <= q j) -> sum n q = 1 -> 0 <= D ->
  sum n (fun j => if S j then q j else 0) = 1 / (1 + exp (D / 2)) ->
  tv n (tilt n q (fun j => if S j then c + D else c)) q = tanh (D / 4).
Proof.
  intros Hq Hs D0 Hm. assert (P := exp_pos (D / 2)). assert (Pc := exp_pos c).
  assert (G1 : 1 <= exp (D / 2)) by (apply exp_ge1; lra).
  set (E := exp (D / 2)) in *. set (m := sum n (fun j => if S j then q j else 0)) in *.
  assert (ED : exp D = E * E) by (unfold E; rewrite <- exp_plus; f_equal; lra).
  assert (Hc : sum n (fun j => if S j then 0 else q j) = 1 - m).
  { unfold m. rewrite <- Hs, <- sum_minus. apply sum_ext; intros. destruct (S j); ring. }
  assert (HZ : sum n (fun k => q k * exp (if S k then c + D else c)) = exp c * E).
  { rewrite (sum_ext n _ (fun k => exp c * E * E * (if S k then q k else 0) + exp c * (if S k then 0 else q k))).
    - rewrite sum_plus, !sum_scal, Hc. fold m. rewrite Hm. field. lra.
    - intros k _. destruct (S k); [rewrite exp_plus, ED; ring|ring]. }
  assert (T : forall j, tilt n q (fun j => if S j then c + D else c) j = if S j then q j * E else q j / E).
  { intro j. unfold tilt. rewrite HZ. destruct (S j); [rewrite exp_plus, ED|]; field; lra. }
  unfold tv. rewrite (sum_ext n _ (fun j => (E - 1) * (if S j then q j else 0) + (1 - / E) * (if S j then 0 else q j))).
  - rewrite sum_plus, !sum_scal, Hc. fold m. rewrite Hm, tanh_quarter. fold E. field. lra.
  - intros j Hj. rewrite T. specialize (Hq j Hj). destruct (S j).
    + replace (q j * E - q j) with (q j * (E - 1)) by ring. rewrite Rabs_right by nra. ring.
    + replace (q j / E - q j) with (- (q j * (1 - / E))) by (field; lra).
      assert (/ E <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
      rewrite Rabs_Ropp, Rabs_right by (apply Rle_ge, Rmult_le_pos; lra). ring.
Qed.

(** Two atoms attain the bound for every D >= 0. *)
Theorem tv_sharp D : 0 <= D -> exists q g : vec,
  (forall j, 0 < q j) /\ sum 2 q = 1 /\ (forall j k, g j - g k <= D) /\ tv 2 (tilt 2 q g) q = tanh (D / 4).
Proof.
  intros HD. assert (P := exp_pos (D / 2)).
  exists (fun j => match j with O => 1 / (1 + exp (D / 2)) | _ => exp (D / 2) / (1 + exp (D / 2)) end).
  exists (fun j => if Nat.eqb j 0 then 0 + D else 0).
  split; [|split; [|split]].
  - intros [|j]; apply Rdiv_lt_0_compat; lra.
  - simpl. field. lra.
  - intros j k. destruct (Nat.eqb j 0), (Nat.eqb k 0); lra.
  - apply tv_equality_if; [|simpl; field; lra|exact HD|simpl; ring].
    intros [|j] _; left; apply Rdiv_lt_0_compat; lra.
Qed.

(** Two softmaxes with the same mask. *)
Theorem tv_softmax n m l l' D : weights n m ->
  (forall j k, (j < n)%nat -> (k < n)%nat -> 0 < m j -> 0 < m k -> (l j - l' j) - (l k - l' k) <= D) ->
  tv n (softmax n m l) (softmax n m l') <= tanh (D / 4).
Proof.
  intros W H. unfold softmax.
  replace (tv n (tilt n m l) (tilt n m l'))
    with (tv n (tilt n (tilt n m l') (fun j => l j - l' j)) (tilt n m l')).
  - assert (Pos : forall j, (j < n)%nat -> 0 < tilt n m l' j -> 0 < m j).
    { intros j Hj. unfold tilt, Rdiv. assert (ZP := tilt_Z_pos n m W l'). intros Q.
      destruct (Rle_lt_or_eq_dec 0 (m j)) as [|E]; [now apply W|assumption|]. rewrite <- E in Q. lra. }
    apply tv_tanh; [now apply tilt_nonneg|now apply tilt_sum|].
    intros j k Hj Hk Pj Pk. apply H; try assumption; now apply Pos.
  - unfold tv. f_equal. apply sum_ext. intros j _. now rewrite <- tilt_tilt.
Qed.

(** Zero-sum combinations see only differences. *)
Theorem transport (N : seminorm) n (nu : vec) (v : mat) (D : R) :
  sum n nu = 0 ->
  (forall j k, (j < n)%nat -> (k < n)%nat -> N (vsub (v j) (v k)) <= D) ->
  N (fun a => sum n (fun j => nu j * v j a)) <= / 2 * sum n (fun j => Rabs (nu j)) * D.
Proof.
  intros H0 HD.
  set (np := fun j => Rmax (nu j) 0). set (nm := fun j => Rmax (- nu j) 0).
  assert (Pp : forall j, 0 <= np j) by (intro; apply Rmax_r).
  assert (Pm : forall j, 0 <= nm j) by (intro; apply Rmax_r).
  assert (E1 : forall j, nu j = np j - nm j)
    by (intro j; unfold np, nm, Rmax; repeat destruct Rle_dec; lra).
  assert (E2 : forall j, Rabs (nu j) = np j + nm j)
    by (intro j; unfold np, nm, Rmax, Rabs; destruct Rcase_abs; repeat destruct Rle_dec; lra).
  assert (S1 : sum n np - sum n nm = 0).
  { rewrite <- sum_minus, <- H0. apply sum_ext; intros; now rewrite E1. }
  assert (S2 : sum n (fun j => Rabs (nu j)) = sum n np + sum n nm).
  { rewrite <- sum_plus. apply sum_ext; intros; apply E2. }
  set (tau := sum n np) in *.
  assert (T0 : 0 <= tau) by (apply sum_nonneg; auto).
  replace (/ 2 * sum n (fun j => Rabs (nu j))) with tau by lra.
  destruct T0 as [T0|T0].
  - apply Rmult_le_reg_l with tau; [exact T0|].
    rewrite <- (Rabs_right tau) at 1 by lra. rewrite <- sn_scal.
    rewrite (sn_ext N _ (fun a => sum n (fun j => np j * sum n (fun k => nm k * vsub (v j) (v k) a)))).
    + eapply Rle_trans; [apply (sn_sum N n np (fun j a => sum n (fun k => nm k * vsub (v j) (v k) a)))|].
      apply Rle_trans with (sum n (fun j => np j * (tau * D))).
      * apply sum_le; intros j Hj. rewrite Rabs_right by (apply Rle_ge; auto).
        apply Rmult_le_compat_l; [auto|].
        eapply Rle_trans; [apply (sn_sum N n nm (fun k => vsub (v j) (v k)))|].
        replace tau with (sum n nm) by lra. rewrite <- sum_scal_r.
        apply sum_le; intros k Hk. rewrite Rabs_right by (apply Rle_ge; auto).
        apply Rmult_le_compat_l; auto.
      * rewrite sum_scal_r. fold tau. lra.
    + intro a. unfold vsub.
      rewrite (sum_ext n (fun j => np j * sum n (fun k => nm k * (v j a - v k a)))
                 (fun j => tau * (np j * v j a) - np j * sum n (fun k => nm k * v k a))).
      * rewrite sum_minus, sum_scal, sum_scal_r. fold tau.
        rewrite (sum_ext n (fun j => nu j * v j a) (fun j => np j * v j a - nm j * v j a))
          by (intros; rewrite E1; ring).
        rewrite sum_minus. ring.
      * intros j _.
        rewrite (sum_ext n (fun k => nm k * (v j a - v k a)) (fun k => nm k * v j a - nm k * v k a))
          by (intros; ring).
        rewrite sum_minus, sum_scal_r. replace (sum n nm) with tau by lra. ring.
  - (* tau = 0: every nu_j vanishes *)
    assert (Z : forall j, (j < n)%nat -> nu j = 0).
    { intros j Hj. assert (A := sum_term_le n np j (fun i _ => Pp i) Hj).
      assert (B := sum_term_le n nm j (fun i _ => Pm i) Hj). fold tau in A.
      specialize (Pp j). specialize (Pm j). rewrite E1. lra. }
    rewrite (sn_ext N _ (fun _ => 0)); [rewrite sn_zero, <- T0; lra|].
    intro a. rewrite <- (sum_zero n). apply sum_ext; intros j Hj. rewrite Z; [ring|exact Hj].
Qed.
