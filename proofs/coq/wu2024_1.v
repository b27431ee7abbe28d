(** wu2024:1, wu2024:1-doeblin, wu2024:cor1, wu2024:cor1-step.  What each is stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms Softmax Masks own_hemisphere.
Local Open Scope R_scope.

(** wu2024:1 and wu2024:1-doeblin.  Masked attention collapses exponentially.

    One head, no skip connection, any mask in which every token sees itself and some token (a centre)
    reaches every token within r edges.  If A_ij(s) >= eps on the edges for all s < t, then
        mu(X(t)) <= sqrt(n/2) ||W(0)...W(t-1)||_2 (1 - eps^r)^(t/r) mu(X(0)),
    t/r rounded down; the spectral norm enters through any K with ||v W(0)...W(t-1)|| <= K ||v||.
    If a token sees at most Delta keys and the logits it compares differ by at most 2c, eps may be
    1/(1 + (Delta-1) e^{2c}).
    Doeblin's form: for any mask and any division of the times into m intervals, the product of the
    1 - sum_c min_i (B_k)_ic over the intervals, B_k the product of the attention matrices of
    interval k, may stand in place of (1 - eps^r)^(t/r). *)

Lemma orbit_step n d Ly X s i a : nheads (Ly s) = 1%nat ->
  plain_orbit n d Ly X (S s) i a
  = vmat d (vmat n (plain_attention n d Ly X s i) (plain_orbit n d Ly X s)) (layer_value Ly s) a + bout (Ly s) a.
Proof.
  intros H. unfold plain_orbit. simpl. unfold block_map. cbn [plain tok skip att]. unfold SA. rewrite H.
  cbn [sum]. unfold plain_attention, layer_value, plain_orbit. ring.
Qed.

Theorem masked_collapse n d (Ly : nat -> layer) (G : mat) c r eps K t X :
  (0 < n)%nat -> (0 < r)%nat -> 0 <= eps -> 0 <= K ->
  (forall s, (s < t)%nat -> nheads (Ly s) = 1%nat /\ mask (hd (Ly s) 0) = G) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j) ->
  (forall i, (i < n)%nat -> 0 < G i i) ->
  centre n G c r ->
  (forall s i j, (s < t)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= plain_attention n d Ly X s i j) ->
  (forall v, l2 d (vmat d v (values d (layer_value Ly) t)) <= K * l2 d v) ->
  mu n d (plain_orbit n d Ly X t) <= sqrt (INR n / 2) * K * (1 - eps ^ r) ^ (t / r) * mu n d X.
Proof.
  intros Hn Hr E0 K0 HL G0 G1 Hc HA HK.
  assert (St : forall s, (s < t)%nat -> row_stochastic n n (plain_attention n d Ly X s)).
  { intros s Hs. apply attn_stochastic. destruct (HL s Hs) as [_ ->]. split; [exact G0|]. intros i Hi. exists i. auto. }
  assert (E1 : (0 < t)%nat -> eps <= 1).
  { intros Ht. destruct (St 0%nat Ht) as [P0 P1]. destruct Hc as [Hc _]. rewrite <- (P1 c Hc).
    eapply Rle_trans; [apply (HA 0%nat c c); auto|]. apply (sum_term_le n (plain_attention n d Ly X 0 c) c); auto. }
  change X with (plain_orbit n d Ly X 0) at 2.
  apply (mu_contracts n d (plain_attention n d Ly X) (layer_value Ly) (fun s => bout (Ly s)) (plain_orbit n d Ly X) t K
    _ Hn K0); auto.
  - destruct t as [|t]; [rewrite Nat.div_0_l by lia; simpl; lra|]. apply pow_le.
    assert (eps ^ r <= 1) by (rewrite <- (pow1 r); apply pow_incr; specialize (E1 ltac:(lia)); lra). lra.
  - intros s i a Hs _ _. apply orbit_step. now apply HL.
  - destruct t as [|t].
    + rewrite Nat.div_0_l by lia. simpl. apply contracts_stochastic, eye_stochastic.
    + apply (contracts_power n _ G c); auto. specialize (E1 ltac:(lia)). lra.
Qed.

(** The smallest weight of a softmax over at most Delta keys whose logits differ by at most 2c. *)
Lemma softmax_floor n (m l : vec) (Delta : nat) c j :
  (forall k, (k < n)%nat -> m k = 0 \/ m k = 1) -> (j < n)%nat -> m j = 1 -> sum n m <= INR Delta ->
  (forall k, (k < n)%nat -> m k = 1 -> l k - l j <= 2 * c) -> 0 <= c ->
  1 / (1 + (INR Delta - 1) * exp (2 * c)) <= softmax n m l j.
Proof.
  intros Hm Hj Mj HD Hl Hc. unfold softmax, tilt. rewrite Mj, Rmult_1_l.
  assert (Ej := exp_pos (l j)). assert (E2 := exp_ge1 (2 * c) ltac:(lra)).
  assert (m0 : forall k, (k < n)%nat -> 0 <= m k) by (intros k Hk; destruct (Hm k Hk); lra).
  assert (Dj : 1 <= sum n m) by (rewrite <- Mj; now apply sum_term_le).
  set (Z := sum n (fun k => m k * exp (l k))).
  (* Z <= e^{l_j} (1 + (Delta - 1) e^{2c}): the term j apart, every other one at most e^{l_j + 2c} *)
  assert (U : Z <= exp (l j) * (1 + (INR Delta - 1) * exp (2 * c))).
  { assert (T : sum n (fun k => m k * exp (l k) - (if Nat.eqb k j then exp (l j) else 0))
              <= sum n (fun k => (m k - (if Nat.eqb k j then 1 else 0)) * (exp (l j) * exp (2 * c)))).
    { apply sum_le; intros k Hk. destruct (Nat.eqb_spec k j) as [->|Hne]; [rewrite Mj; lra|]. rewrite !Rminus_0_r.
      destruct (Hm k Hk) as [E|E]; rewrite E; [lra|]. rewrite !Rmult_1_l, <- exp_plus. apply exp_le.
      specialize (Hl k Hk E). lra. }
    rewrite sum_minus, sum_scal_r, sum_minus in T. fold Z in T.
    rewrite (sum_single n (fun k => if Nat.eqb k j then exp (l j) else 0) j Hj) in T by (intros k _ Hk;
      destruct (Nat.eqb_spec k j); [lia|reflexivity]).
    rewrite (sum_single n (fun k => if Nat.eqb k j then 1 else 0) j Hj) in T by (intros k _ Hk;
      destruct (Nat.eqb_spec k j); [lia|reflexivity]).
    rewrite Nat.eqb_refl in T.
    assert ((sum n m - 1) * (exp (l j) * exp (2 * c)) <= (INR Delta - 1) * (exp (l j) * exp (2 * c)))
      by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]). lra. }
  assert (P : 0 < 1 + (INR Delta - 1) * exp (2 * c)) by (assert (0 <= (INR Delta - 1) * exp (2 * c)) by (apply
    Rmult_le_pos; lra); lra).
  assert (ZP : 0 < Z).
  { apply Rlt_le_trans with (m j * exp (l j)); [rewrite Mj; lra|].
    apply (sum_term_le n (fun k => m k * exp (l k)) j); [|exact Hj]. intros k Hk.
    apply Rmult_le_pos; [now apply m0|left; apply exp_pos]. }
  apply Rmult_le_reg_r with (Z * (1 + (INR Delta - 1) * exp (2 * c))); [now apply Rmult_lt_0_compat|].
  field_simplify; lra.
Qed.

Theorem masked_collapse_explicit n d (Ly : nat -> layer) (G : mat) z r (Delta : nat) c K t X :
  (0 < n)%nat -> (0 < r)%nat -> 0 <= c -> 0 <= K ->
  (forall s, (s < t)%nat -> nheads (Ly s) = 1%nat /\ mask (hd (Ly s) 0) = G) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> G i j = 0 \/ G i j = 1) ->
  (forall i, (i < n)%nat -> G i i = 1) -> (forall i, (i < n)%nat -> sum n (G i) <= INR Delta) ->
  centre n G z r ->
  (forall s i j k, (s < t)%nat -> (i < n)%nat -> (j < n)%nat -> (k < n)%nat -> G i j = 1 -> G i k = 1 ->
     logit d (dqk (Ly s)) (hd (Ly s) 0) (plain_orbit n d Ly X s) i k
     - logit d (dqk (Ly s)) (hd (Ly s) 0) (plain_orbit n d Ly X s) i j <= 2 * c) ->
  (forall v, l2 d (vmat d v (values d (layer_value Ly) t)) <= K * l2 d v) ->
  mu n d (plain_orbit n d Ly X t)
  <= sqrt (INR n / 2) * K * (1 - (1 / (1 + (INR Delta - 1) * exp (2 * c))) ^ r) ^ (t / r) * mu n d X.
Proof.
  intros Hn Hr Hc K0 HL G0 G1 GD Hz HA HK.
  apply (masked_collapse n d Ly G z r); auto.
  - assert (1 <= INR Delta).
    { eapply Rle_trans; [|apply (GD 0%nat Hn)]. rewrite <- (G1 0%nat Hn).
      apply (sum_term_le n (G 0%nat) 0%nat); [|exact Hn].
      intros j Hj. destruct (G0 0%nat j Hn Hj); lra. }
    left. apply Rdiv_lt_0_compat; [lra|]. assert (0 <= (INR Delta - 1) * exp (2 * c)) by (apply Rmult_le_pos;
      [lra|left; apply exp_pos]). lra.
  - intros i j Hi Hj. destruct (G0 i j Hi Hj); lra.
  - intros i Hi. rewrite (G1 i Hi). lra.
  - intros s i j Hs Hi Hj Gp. assert (Gj : G i j = 1) by (destruct (G0 i j Hi Hj); lra).
    unfold plain_attention, attn. destruct (HL s Hs) as [_ ->]. apply softmax_floor; auto.
Qed.

Theorem masked_collapse_doeblin n d (Ly : nat -> layer) K m (T : nat -> nat) X :
  (0 < n)%nat -> 0 <= K -> T 0%nat = 0%nat -> (forall k, (k < m)%nat -> (T k <= T (S k))%nat) ->
  (forall s, (s < T m)%nat -> nheads (Ly s) = 1%nat /\ proper_mask n (mask (hd (Ly s) 0))) ->
  (forall v, l2 d (vmat d v (values d (layer_value Ly) (T m))) <= K * l2 d v) ->
  mu n d (plain_orbit n d Ly X (T m)) <= sqrt (INR n / 2) * K
    * prodf m (fun k => 1 - doeblin n (steps n (plain_attention n d Ly X) (T k) (T (S k) - T k))) * mu n d X.
Proof.
  intros Hn K0 T0 TS HL HK.
  assert (St : forall s, (s < T m)%nat -> row_stochastic n n (plain_attention n d Ly X s)).
  { intros s Hs. apply attn_stochastic. now apply HL. }
  assert (TM : forall j k, (j <= k)%nat -> (k <= m)%nat -> (T j <= T k)%nat).
  { intros j k H. induction H as [|k H IH]; intros Hk; [lia|]. specialize (TS k ltac:(lia)).
    specialize (IH ltac:(lia)). lia. }
  assert (P : forall k, (k <= m)%nat ->
    contracts n (steps n (plain_attention n d Ly X) 0 (T k)) (prodf k (fun k => 1 - doeblin n (steps n (plain_attention
      n d Ly X) (T k) (T (S k) - T k)))) /\
    0 <= prodf k (fun k => 1 - doeblin n (steps n (plain_attention n d Ly X) (T k) (T (S k) - T k)))).
  { induction k; intros Hk.
    - rewrite T0. simpl. split; [|lra]. replace 1 with (1 - sum n (fun _ => 0)) by (rewrite sum_zero; ring).
      apply contracts_doeblin; [apply eye_stochastic|]. intros. destruct (eye_stochastic n); auto.
    - destruct IHk as [C C0]; [lia|]. simpl. set (B := steps n (plain_attention n d Ly X) (T k) (T (S k) - T k)).
      assert (SB : row_stochastic n n B).
      { apply (steps_stochastic n _ (T k) (T (S k))); [|specialize (TS k ltac:(lia)); lia].
        intros u Hu. apply St. specialize (TM (S k) m ltac:(lia) ltac:(lia)). lia. }
      assert (Mn : forall i c, (i < n)%nat -> (c < n)%nat -> minf (n - 1) (fun i => B i c) <= B i c)
        by (intros i c Hi Hcn; apply (minf_le (n - 1) (fun i => B i c)); lia).
      assert (D1 : doeblin n B <= 1).
      { destruct SB as [_ B1]. rewrite <- (B1 0%nat Hn). apply sum_le; intros; now apply Mn. }
      split; [|apply Rmult_le_pos; lra]. rewrite Rmult_comm.
      apply (contracts_ext n (mmul n (steps n (plain_attention n d Ly X) (0 + T k) (T (S k) - T k)) (steps n
        (plain_attention n d Ly X) 0 (T k)))).
      + intros i j Hi Hj. rewrite steps_split by assumption. f_equal. specialize (TS k ltac:(lia)). lia.
      + apply contracts_mul; [exact C0| |exact C]. simpl. fold B.
        now apply (contracts_doeblin n B (fun c => minf (n - 1) (fun i => B i c))). }
  destruct (P m (le_n m)) as [C C0].
  change X with (plain_orbit n d Ly X 0) at 3.
  apply (mu_contracts n d (plain_attention n d Ly X) (layer_value Ly) (fun s => bout (Ly s)) (plain_orbit n d Ly X) (T
    m) K _ Hn K0); auto.
  intros s i a Hs _ _. apply orbit_step. now apply HL.
Qed.

(** wu2024:cor1 and wu2024:cor1-step.  Corollary 1 of Wu et al.: tokens at acute angles meet, at an explicit rate.

    Setting of own:hemisphere (one head, orthogonal values, LayerNorm on the sphere,
      a mask with self-loops and a centre that reaches
    all tokens within r edges, A_ij(s) >= eps on the edges), unit tokens with all cosines at least phi >= 0 at the
      start.  Then
    all cosines 1 - <X_i(t), X_k(t)> are at most (1 - eps^{2r})^(t/r) (1 - phi), and
        mu(X(t)) <= sqrt((n-1)(1-phi)) (1 - eps^{2r})^{(t/r)/2},     t/r rounded down. *)

Lemma two_sums p x y : 0 <= p -> 1 <= x -> 1 <= y -> p <= x * (y * p).
Proof. intros Hp Hx Hy. assert (p <= y * p) by nra. assert (0 <= y * p) by nra. nra. Qed.

Lemma one_minus x y : 0 <= x <= 1 -> 0 <= y <= 1 -> 0 <= 1 - x * y.
Proof. intros Hx Hy. nra. Qed.

Section Acute.
Variables (n d : nat) (A W : nat -> mat) (X : nat -> mat) (t : nat) (phi : R) (G : mat) (c r : nat) (eps : R).
Hypothesis n_pos : (0 < n)%nat.
Hypothesis St : forall s, (s < t)%nat -> row_stochastic n n (A s).
Hypothesis Or : forall s, (s < t)%nat -> orthogonal d (W s).
Hypothesis HX : forall s i a, (s < t)%nat -> (i < n)%nat -> (a < d)%nat ->
  X (S s) i a = sphere d (vmat d (vmat n (A s i) (X s)) (W s)) a.
Hypothesis U0 : forall i, (i < n)%nat -> l2 d (X 0%nat i) = 1.
Hypothesis phi0 : 0 <= phi.
Hypothesis acute : forall i k, (i < n)%nat -> (k < n)%nat -> phi <= dot d (X 0%nat i) (X 0%nat k).
Hypothesis eps0 : 0 < eps.
Hypothesis self : forall i, (i < n)%nat -> 0 < G i i.
Hypothesis cen : centre n G c r.
Hypothesis edge : forall s i j, (s < t)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= A s i j.

(** The products of the weights A_ij/N_i: all rows are non-negative, and X(s+k) = alpha X(s) W. *)
Fixpoint alpha (s k : nat) : mat := match k with
  | O => eye
  | S l => fun i j => vmat n (A (s + l)%nat i) (alpha s l) j / lift n d A X (s + l) i
  end.

(** Unit tokens with cosines at least p >= 0 at time s: what holds after one step. *)
Lemma acute_step s p : (s < t)%nat -> 0 <= p -> (forall i, (i < n)%nat -> l2 d (X s i) = 1) ->
  (forall i k, (i < n)%nat -> (k < n)%nat -> p <= dot d (X s i) (X s k)) ->
  (forall i, (i < n)%nat -> 0 < lift n d A X s i <= 1 /\ l2 d (X (S s) i) = 1 /\
     forall a, (a < d)%nat -> X (S s) i a = vmat d (vmat n (A s i) (X s)) (W s) a / lift n d A X s i).
Proof.
  intros Hs p0 U Ac i Hi. destruct (St s Hs) as [A0 A1]. set (u := vmat n (A s i) (X s)).
  assert (L1 : lift n d A X s i <= 1).
  { unfold lift. eapply Rle_trans; [apply (sn_sum (L2 d) n (A s i) (X s))|]. rewrite <- (A1 i Hi).
    apply sum_le; intros j Hj.
    rewrite Rabs_right by (apply Rle_ge; now apply A0). change (L2 d (X s j)) with (l2 d (X s j)).
    rewrite U by exact Hj. lra. }
  (* <u, X_i> >= A_ii > 0 *)
  assert (D : 0 < dot d u (X s i)).
  { unfold u. rewrite dot_vmat_l. apply Rlt_le_trans with (A s i i * dot d (X s i) (X s i)).
    - apply Rmult_lt_0_compat; [apply Rlt_le_trans with eps; [exact eps0|apply edge; auto]|].
      rewrite <- l2_sq, U by exact Hi. lra.
    - apply (sum_term_le n (fun j => A s i j * dot d (X s j) (X s i)) i); [|exact Hi]. intros j Hj.
      apply Rmult_le_pos; [now apply A0|].
      eapply Rle_trans; [exact p0|now apply Ac]. }
  assert (L0 : 0 < lift n d A X s i).
  { unfold lift. fold u. assert (C := dot_le_l2 d u (X s i)). rewrite U, Rmult_1_r in C by exact Hi.
    assert (Q := Rle_abs (dot d u (X s i))). lra. }
  assert (OW := Or s Hs).
  assert (EX : forall a, (a < d)%nat -> X (S s) i a = vmat d u (W s) a / lift n d A X s i).
  { intros a Ha. rewrite HX by auto. unfold sphere. fold u. rewrite orthogonal_l2 by exact OW. reflexivity. }
  split; [split; assumption|split; [|exact EX]].
  rewrite (l2_ext d _ (sphere d (vmat d u (W s)))) by (intros; now apply HX). apply sphere_unit.
  rewrite orthogonal_l2 by exact OW. exact L0.
Qed.

(** k steps from time s. *)
Lemma acute_run s p : 0 <= p -> (forall i, (i < n)%nat -> l2 d (X s i) = 1) ->
  (forall i k, (i < n)%nat -> (k < n)%nat -> p <= dot d (X s i) (X s k)) ->
  forall k, (s + k <= t)%nat ->
  (forall i, (i < n)%nat -> l2 d (X (s + k)%nat i) = 1) /\
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= alpha s k i j) /\
  (forall i j, (i < n)%nat -> (j < n)%nat -> dot d (X (s + k)%nat i) (X (s + k)%nat j) = sum n (fun a => alpha s k i a
    * sum n (fun b => alpha s k j b * dot d (X s a) (X s b)))) /\
  (forall i, (i < n)%nat -> 1 <= sum n (alpha s k i)) /\
  (forall i, (i < n)%nat -> walk n G c k i -> eps ^ k <= alpha s k i c) /\
  (forall i j, (i < n)%nat -> (j < n)%nat -> p <= dot d (X (s + k)%nat i) (X (s + k)%nat j)).
Proof.
  intros p0 U Ac. destruct cen as [Hc _].
  assert (XX : forall i, (i < n)%nat -> dot d (X s i) (X s i) = 1) by (intros; rewrite <- l2_sq, U by assumption; ring).
  induction k as [|k IH]; intros Hk.
  - rewrite Nat.add_0_r. simpl. destruct (eye_stochastic n) as [E0 E1]. repeat split; auto.
    + intros i j Hi Hj. rewrite (sum_single n _ i Hi); unfold eye.
      * rewrite Nat.eqb_refl, Rmult_1_l. rewrite (sum_single n _ j Hj); [rewrite Nat.eqb_refl; ring|]. intros b _ Hb.
        destruct (Nat.eqb_spec j b); [lia|ring].
      * intros a _ Ha. destruct (Nat.eqb_spec i a); [lia|ring].
    + intros i Hi. rewrite E1 by exact Hi. lra.
    + intros i _ ->. unfold eye. rewrite Nat.eqb_refl. lra.
  - destruct IH as [U' [P' [D' [S' [Wk Ac']]]]]; [lia|]. replace (s + S k)%nat with (S (s + k)) by lia.
    set (v := (s + k)%nat) in *. assert (Hv : (v < t)%nat) by lia. destruct (St v Hv) as [A0 A1].
    assert (OW := Or v Hv).
    assert (Stp := acute_step v p Hv p0 U' Ac').
    assert (Un : forall i, (i < n)%nat -> l2 d (X (S v) i) = 1) by (intros; now apply Stp).
    assert (Al : forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= alpha s (S k) i j).
    { intros i j Hi Hj. simpl. fold v. destruct (Stp i Hi) as [L _].
      apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra].
      apply sum_nonneg; intros a Ha. apply Rmult_le_pos; [now apply A0|now apply P']. }
    assert (Dt : forall i j, (i < n)%nat -> (j < n)%nat -> dot d (X (S v) i) (X (S v) j) = sum n (fun a => alpha s (S
      k) i a * sum n (fun b => alpha s (S k) j b * dot d (X s a) (X s b)))).
    { intros i j Hi Hj. destruct (Stp i Hi) as [Li [_ Ei]]. destruct (Stp j Hj) as [Lj [_ Ej]].
      rewrite (dot_ext d _ _ (fun a => / lift n d A X v i * vmat d (vmat n (A v i) (X v)) (W v) a) (fun a => / lift n d
        A X v j * vmat d (vmat n (A v j) (X v)) (W v) a))
        by (intros a Ha; rewrite ?Ei, ?Ej by exact Ha; unfold Rdiv; ring).
      rewrite dot_scal_l, dot_scal_r, orthogonal_dot by exact OW. rewrite dot_vmat_l.
      rewrite (sum_ext n _ (fun a => A v i a * sum n (fun b => A v j b * sum n (fun a' => alpha s k a a' * sum n (fun
        b' => alpha s k b b' * dot d (X s a') (X s b')))))).
      2: { intros a Ha. f_equal. rewrite dot_sym, dot_vmat_l. apply sum_ext; intros b Hb. f_equal. rewrite dot_sym.
           now apply D'. }
      (* bilinear expansion *)
      set (g := fun a' b' => dot d (X s a') (X s b')).
      assert (B1 : forall (q : vec) a', sum n (fun b => q b * sum n (fun b' => alpha s k b b' * g a' b')) = sum n (fun
        b' => vmat n q (alpha s k) b' * g a' b')).
      { intros q a'. unfold vmat. rewrite (sum_ext n _ (fun b => sum n (fun b' => q b * alpha s k b b' * g a' b'))) by
          (intros; rewrite <- sum_scal; apply sum_ext; intros; ring).
        rewrite sum_swap. apply sum_ext; intros b' _. rewrite <- sum_scal_r. apply sum_ext; intros; ring. }
      rewrite (sum_ext n _ (fun a => sum n (fun a' => A v i a * alpha s k a a' * sum n (fun b' => vmat n (A v j) (alpha
        s k) b' * g a' b')))).
      2: { intros a Ha. rewrite (sum_ext n _ (fun b => sum n (fun a' => alpha s k a a' * (A v j b * sum n (fun b' =>
             alpha s k b b' * g a' b'))))) by (intros; rewrite <- sum_scal; apply sum_ext; intros; unfold g; ring).
           rewrite sum_swap, <- sum_scal. apply sum_ext; intros a' _. rewrite sum_scal, B1. ring. }
      rewrite sum_swap. rewrite <- !sum_scal. apply sum_ext; intros a' _. rewrite sum_scal_r. simpl. fold v.
      change (sum n (fun a => A v i a * alpha s k a a')) with (vmat n (A v i) (alpha s k) a').
      unfold Rdiv. rewrite (sum_ext n (fun b => vmat n (A v j) (alpha s k) b * / lift n d A X v j * dot d (X s a') (X s
        b)) (fun b => / lift n d A X v j * (vmat n (A v j) (alpha s k) b * g a' b))) by (intros; unfold g; ring).
      rewrite sum_scal. ring. }
    assert (S1 : forall i, (i < n)%nat -> 1 <= sum n (alpha s (S k) i)).
    { intros i Hi. assert (Q : dot d (X (S v) i) (X (S v) i) = 1) by (rewrite <- l2_sq, Un by exact Hi; ring).
      rewrite Dt in Q by assumption. assert (P := Al i).
      assert (UB : sum n (fun a => alpha s (S k) i a * sum n (fun b => alpha s (S k) i b * dot d (X s a) (X s b))) <=
        sum n (alpha s (S k) i) * sum n (alpha s (S k) i)).
      { rewrite <- sum_scal_r. apply sum_le; intros a Ha. apply Rmult_le_compat_l; [now apply P|].
        apply sum_le; intros b Hb.
        rewrite <- (Rmult_1_r (alpha s (S k) i b)) at 2. apply Rmult_le_compat_l; [now apply P|].
        eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply dot_le_l2|]. rewrite !U by assumption. lra. }
      assert (0 <= sum n (alpha s (S k) i)) by (apply sum_nonneg; intros; now apply P). nra. }
    assert (Gn : forall i j, (i < n)%nat -> (j < n)%nat -> p <= dot d (X (S v) i) (X (S v) j)).
    { intros i j Hi Hj. rewrite Dt by assumption. specialize (S1 i Hi) as Si. specialize (S1 j Hj) as Sj.
      apply Rle_trans with (sum n (fun a => alpha s (S k) i a * (sum n (alpha s (S k) j) * p))).
      - rewrite sum_scal_r. now apply two_sums.
      - apply sum_le; intros a Ha. apply Rmult_le_compat_l; [now apply Al|]. rewrite <- sum_scal_r.
        apply sum_le; intros b Hb.
        apply Rmult_le_compat_l; [now apply Al|now apply Ac]. }
    repeat split; auto.
    intros i Hi Hw. simpl in Hw. destruct Hw as [j [Hj [Gj Hw]]]. specialize (Wk j Hj Hw). destruct (Stp i Hi) as [L _].
    simpl. fold v. assert (E : eps * eps ^ k <= vmat n (A v i) (alpha s k) c).
    { eapply Rle_trans; [|apply (sum_term_le n (fun a => A v i a * alpha s k a c) j); [|exact Hj]].
      - apply Rmult_le_compat; [lra|apply pow_le; lra|now apply edge|exact Wk].
      - intros a Ha. apply Rmult_le_pos; [now apply A0|now apply P']. }
    assert (Ep := pow_le eps k ltac:(lra)). assert (0 <= eps * eps ^ k) by nra.
    apply Rmult_le_reg_r with (lift n d A X v i); [lra|]. unfold Rdiv.
    rewrite (Rmult_assoc _ (/ _)), Rinv_l, Rmult_1_r by lra. nra.
Qed.

(** r steps: 1 - phi shrinks by 1 - eps^{2r}. *)
Lemma acute_block s p : 0 <= p -> (forall i, (i < n)%nat -> l2 d (X s i) = 1) ->
  (forall i k, (i < n)%nat -> (k < n)%nat -> p <= dot d (X s i) (X s k)) -> (s + r <= t)%nat ->
  forall i j, (i < n)%nat -> (j < n)%nat -> p + eps ^ (2 * r) * (1 - p) <= dot d (X (s + r)%nat i) (X (s + r)%nat j).
Proof.
  intros p0 U Ac Hr i j Hi Hj. destruct (acute_run s p p0 U Ac r Hr) as [_ [P [D [S1 [Wk _]]]]].
  destruct cen as [Hc Rc].
  assert (p1 : p <= 1) by (rewrite <- (Rmult_1_r 1), <- (U c Hc) at 1; rewrite <- (U c Hc), l2_sq; now apply Ac).
  assert (Low : forall i, (i < n)%nat -> eps ^ r <= alpha s r i c).
  { intros k Hk. apply Wk; [exact Hk|]. destruct (Rc k Hk) as [m [Hm Hw]]. now apply (walk_longer n G c m k r). }
  rewrite D by assumption.
  (* <X_a, X_b> >= p + (1-p) [a = b = c] *)
  apply Rle_trans with (sum n (fun a => alpha s r i a * (p * sum n (alpha s r j) + (if Nat.eqb a c then (1 - p) * alpha
    s r j c else 0)))).
  - rewrite (sum_ext n _ (fun a => alpha s r i a * (p * sum n (alpha s r j)) + (if Nat.eqb a c then alpha s r i c * ((1
      - p) * alpha s r j c) else 0)))
      by (intros a _; destruct (Nat.eqb_spec a c) as [->|]; ring).
    rewrite sum_plus, sum_scal_r, (sum_single n (fun a => if Nat.eqb a c then alpha s r i c * ((1 - p) * alpha s r j c)
      else 0) c Hc) by (intros a _ Ha; destruct (Nat.eqb_spec a c); [lia|reflexivity]).
    rewrite Nat.eqb_refl. specialize (S1 i Hi) as Si. specialize (S1 j Hj) as Sj. specialize (Low i Hi) as Li.
    specialize (Low j Hj) as Lj.
    assert (Ep := pow_lt eps r eps0). replace (2 * r)%nat with (r + r)%nat by lia. rewrite pow_add.
    assert (p <= sum n (alpha s r i) * (p * sum n (alpha s r j))) by (rewrite (Rmult_comm p); now apply two_sums).
    assert (eps ^ r * eps ^ r <= alpha s r i c * alpha s r j c) by (apply Rmult_le_compat; lra). nra.
  - apply sum_le; intros a Ha. apply Rmult_le_compat_l; [now apply P|].
    apply Rle_trans with (sum n (fun b => alpha s r j b * p + (if andb (Nat.eqb b c) (Nat.eqb a c) then alpha s r j c *
      (1 - p) else 0))).
    + rewrite sum_plus, sum_scal_r. destruct (Nat.eqb_spec a c) as [->|].
      * rewrite (sum_single n (fun b => if andb (Nat.eqb b c) true then alpha s r j c * (1 - p) else 0) c Hc) by
          (intros b _ Hb; destruct (Nat.eqb_spec b c); [lia|reflexivity]).
        rewrite Nat.eqb_refl. simpl. lra.
      * rewrite (sum_ext n (fun b => if andb (Nat.eqb b c) false then alpha s r j c * (1 - p) else 0) (fun _ => 0)) by
          (intros; now rewrite Bool.andb_false_r). rewrite sum_zero. lra.
    + apply sum_le; intros b Hb. assert (Pb := P j b Hj Hb). assert (Q := Ac a b Ha Hb).
      destruct (Nat.eqb_spec b c) as [->|]; [destruct (Nat.eqb_spec a c) as [->|]|]; cbn [andb]; [|nra|nra].
      rewrite <- l2_sq, U by assumption. nra.
Qed.

Lemma acute_rate : (0 < r)%nat -> forall k, (k * r <= t)%nat ->
  (forall i, (i < n)%nat -> l2 d (X (k * r)%nat i) = 1) /\
  forall i j, (i < n)%nat -> (j < n)%nat -> 1 - (1 - eps ^ (2 * r)) ^ k * (1 - phi) <= dot d (X (k * r)%nat i) (X (k *
    r)%nat j).
Proof.
  intros Hr. destruct cen as [Hc _].
  assert (phi1 : phi <= 1) by (eapply Rle_trans; [apply (acute c c Hc Hc)|]; rewrite <- l2_sq, U0 by exact Hc; lra).
  induction k as [|k IH]; intros Hk.
  - simpl. split; [exact U0|]. intros i j Hi Hj. specialize (acute i j Hi Hj). lra.
  - destruct IH as [U D]; [simpl in Hk; lia|]. simpl in Hk.
    assert (e1 : 0 < eps ^ (2 * r) <= 1).
    { split; [now apply pow_lt|]. rewrite <- (pow1 (2 * r)). apply pow_incr. split; [lra|].
      destruct (St 0%nat ltac:(lia)) as [A0 A1]. rewrite <- (A1 c Hc).
      eapply Rle_trans; [apply (edge 0%nat c c); auto; lia|]. apply (sum_term_le n (A 0%nat c) c); auto. }
    set (p := 1 - (1 - eps ^ (2 * r)) ^ k * (1 - phi)) in *.
    assert (Q : 0 <= (1 - eps ^ (2 * r)) ^ k <= 1) by (apply pow_01; lra).
    assert (p0 : 0 <= p) by (unfold p; apply one_minus; lra).
    replace (S k * r)%nat with (k * r + r)%nat by (simpl; lia).
    split; [apply (acute_run (k * r) p p0 U D r ltac:(lia))|]. intros i j Hi Hj.
    eapply Rle_trans; [|apply (acute_block (k * r) p p0 U D ltac:(lia) i j Hi Hj)]. right. unfold p. simpl pow. ring.
Qed.
End Acute.

Theorem wu_cor1 n d (Ly : nat -> layer) (G : mat) c r eps phi t X :
  (0 < n)%nat -> (0 < r)%nat -> 0 < eps -> 0 <= phi ->
  (forall s, (s < t)%nat -> nheads (Ly s) = 1%nat /\ mask (hd (Ly s) 0) = G /\
     (forall a, bout (Ly s) a = 0) /\ orthogonal d (WV (hd (Ly s) 0))) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j) ->
  (forall i, (i < n)%nat -> 0 < G i i) ->
  centre n G c r ->
  (forall s i j, (s < t)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= sphere_attention n d Ly X s i j) ->
  (forall i, (i < n)%nat -> l2 d (X i) = 1) ->
  (forall i k, (i < n)%nat -> (k < n)%nat -> phi <= dot d (X i) (X k)) ->
  let q := (1 - eps ^ (2 * r)) ^ (t / r) in
  (forall i k, (i < n)%nat -> (k < n)%nat -> 1 - dot d (sphere_orbit n d Ly X t i) (sphere_orbit n d Ly X t k) <= q *
    (1 - phi)) /\
  mu n d (sphere_orbit n d Ly X t) <= sqrt ((INR n - 1) * (1 - phi)) * sqrt q.
Proof.
  intros Hn Hr E0 P0 HL G0 G1 Hc HA U0 Ac q.
  set (A := sphere_attention n d Ly X). set (W := fun s => WV (hd (Ly s) 0)). set (Z := sphere_orbit n d Ly X).
  assert (St : forall s, (s < t)%nat -> row_stochastic n n (A s)).
  { intros s Hs. apply attn_stochastic. destruct (HL s Hs) as [_ [-> _]]. split; [exact G0|]. intros i Hi. exists i.
    auto. }
  assert (Or : forall s, (s < t)%nat -> orthogonal d (W s)) by (intros; now apply HL).
  assert (HZ : forall s i a, (s < t)%nat -> (i < n)%nat -> (a < d)%nat ->
    Z (S s) i a = sphere d (vmat d (vmat n (A s i) (Z s)) (W s)) a).
  { intros s i a Hs _ _. unfold Z at 1. rewrite sphere_orbit_step by now apply HL. reflexivity. }
  assert (D := Nat.div_mod t r ltac:(lia)). assert (M := Nat.mod_upper_bound t r ltac:(lia)).
  set (k := (t / r)%nat) in *.
  assert (Hk : (k * r <= t)%nat) by lia.
  destruct (acute_rate n d A W Z t phi G c r eps Hn St Or HZ U0 P0 Ac E0 G1 Hc HA Hr k Hk) as [U1 D1].
  assert (phi1 : phi <= 1) by (destruct Hc as [Hc _]; eapply Rle_trans; [apply (Ac c c Hc Hc)|];
    rewrite <- l2_sq, U0 by exact Hc; lra).
  assert (q01 : 0 <= q <= 1).
  { unfold q. destruct k as [|k]; [simpl; lra|]. assert (e1 : eps <= 1).
    { destruct (St 0%nat ltac:(simpl in Hk; lia)) as [A0 A1]. destruct Hc as [Hc _]. rewrite <- (A1 c Hc).
      eapply Rle_trans; [apply (HA 0%nat c c); auto; simpl in Hk; lia|]. apply (sum_term_le n (A 0%nat c) c); auto. }
    assert (0 < eps ^ (2 * r) <= 1) by (split; [now apply pow_lt|rewrite <- (pow1 (2 * r)); apply pow_incr; lra]).
    apply pow_01; lra. }
  set (p := 1 - q * (1 - phi)). assert (p0 : 0 <= p) by (unfold p; apply one_minus; lra).
  destruct (acute_run n d A W Z t G c r eps Hn St Or HZ E0 G1 Hc HA (k * r) p p0 U1 D1 (t mod r) ltac:(lia)) as [Ut [_
    [_ [_ [_ Dt]]]]].
  replace (k * r + t mod r)%nat with t in Ut, Dt by lia.
  assert (Main : forall i j, (i < n)%nat -> (j < n)%nat -> 1 - dot d (Z t i) (Z t j) <= q * (1 - phi)).
  { intros i j Hi Hj. specialize (Dt i j Hi Hj). unfold p in Dt. lra. }
  split; [exact Main|].
  assert (Pn : 1 <= INR n) by (apply (le_INR 1); lia).
  eapply Rle_trans; [apply (mu_diam n d (Z t) (sqrt (2 * (q * (1 - phi)))) Hn (sqrt_pos _))|].
  - intros i j Hi Hj. unfold l2. apply sqrt_le_1_alt.
    assert (E : dot d (vsub (Z t i) (Z t j)) (vsub (Z t i) (Z t j)) = dot d (Z t i) (Z t i) - 2 * dot d (Z t i) (Z t j)
      + dot d (Z t j) (Z t j)).
    { unfold dot, vsub. rewrite <- sum_scal, <- sum_minus, <- sum_plus. apply sum_ext; intros; ring. }
    rewrite E. rewrite <- !l2_sq, !Ut by assumption. specialize (Main i j Hi Hj). lra.
  - right. rewrite <- !sqrt_mult_alt by (try apply Rmult_le_pos; lra). f_equal. field.
Qed.

(** Tokens stay unit vectors, with cosines at least phi. *)
Lemma hemisphere_units n d (Ly : nat -> layer) (G : mat) c r eps t X :
  (0 < n)%nat ->
  (forall s, (s < t)%nat -> nheads (Ly s) = 1%nat /\ mask (hd (Ly s) 0) = G /\
     (forall a, bout (Ly s) a = 0) /\ orthogonal d (WV (hd (Ly s) 0))) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j) -> (forall i, (i < n)%nat -> 0 < G i i) -> centre n G c r ->
  (forall s i j, (s < t)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= sphere_attention n d Ly X s i j) ->
  (forall i, (i < n)%nat -> l2 d (X i) = 1) -> forall phi, 0 <= phi -> 0 < eps ->
  (forall i k, (i < n)%nat -> (k < n)%nat -> phi <= dot d (X i) (X k)) ->
  (forall i, (i < n)%nat -> l2 d (sphere_orbit n d Ly X t i) = 1) /\
  (forall i k, (i < n)%nat -> (k < n)%nat -> phi <= dot d (sphere_orbit n d Ly X t i) (sphere_orbit n d Ly X t k)).
Proof.
  intros Hn HL G0 G1 Hc HA U0 phi P0 E0 Ac.
  set (A := sphere_attention n d Ly X). set (W := fun s => WV (hd (Ly s) 0)). set (Z := sphere_orbit n d Ly X).
  assert (St : forall s, (s < t)%nat -> row_stochastic n n (A s)).
  { intros s Hs. apply attn_stochastic. destruct (HL s Hs) as [_ [-> _]]. split; [exact G0|]. intros i Hi. exists i.
    auto. }
  assert (Or : forall s, (s < t)%nat -> orthogonal d (W s)) by (intros; now apply HL).
  assert (HZ : forall s i a, (s < t)%nat -> (i < n)%nat -> (a < d)%nat ->
    Z (S s) i a = sphere d (vmat d (vmat n (A s i) (Z s)) (W s)) a).
  { intros s i a Hs _ _. unfold Z at 1. rewrite sphere_orbit_step by now apply HL. reflexivity. }
  destruct (acute_run n d A W Z t G c r eps Hn St Or HZ E0 G1 Hc HA 0 phi P0 U0 Ac t ltac:(lia)) as [Ut [_ [_ [_ [_
    Dt]]]]].
  split; assumption.
Qed.

(** wu2024:cor1-step.  In r layers the squared diameter shrinks by 1 - eps^{2r}, if it is at most two. *)
Theorem wu_cor1_step n d (Ly : nat -> layer) (G : mat) c r eps X :
  (0 < n)%nat -> (0 < r)%nat -> 0 < eps ->
  (forall s, (s < r)%nat -> nheads (Ly s) = 1%nat /\ mask (hd (Ly s) 0) = G /\
     (forall a, bout (Ly s) a = 0) /\ orthogonal d (WV (hd (Ly s) 0))) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j) ->
  (forall i, (i < n)%nat -> 0 < G i i) ->
  centre n G c r ->
  (forall s i j, (s < r)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= sphere_attention n d Ly X s i j) ->
  (forall i, (i < n)%nat -> l2 d (X i) = 1) -> diam n (l2 d) X ^ 2 <= 2 ->
  diam n (l2 d) (sphere_orbit n d Ly X r) ^ 2 <= (1 - eps ^ (2 * r)) * diam n (l2 d) X ^ 2.
Proof.
  intros Hn Hr E0 HL G0 G1 Hc HA U0 D2. set (D := diam n (l2 d) X) in *. assert (Dp : 0 <= D) by apply diam_nonneg.
  assert (Sq : forall (Y : mat) i k, l2 d (Y i) = 1 -> l2 d (Y k) = 1 ->
    l2 d (vsub (Y i) (Y k)) ^ 2 = 2 * (1 - dot d (Y i) (Y k))).
  { intros Y i k Hi Hk. replace (l2 d (vsub (Y i) (Y k)) ^ 2) with (l2 d (vsub (Y i) (Y k)) * l2 d (vsub (Y i) (Y k)))
      by ring. rewrite l2_sq.
    replace (dot d (vsub (Y i) (Y k)) (vsub (Y i) (Y k))) with (dot d (Y i) (Y i) - 2 * dot d (Y i) (Y k) + dot d (Y k)
      (Y k)).
    - rewrite <- !l2_sq, Hi, Hk. ring.
    - unfold dot, vsub. rewrite <- sum_scal, <- sum_minus, <- sum_plus. apply sum_ext; intros; ring. }
  assert (Ac : forall i k, (i < n)%nat -> (k < n)%nat -> 1 - D ^ 2 / 2 <= dot d (X i) (X k)).
  { intros i k Hi Hk. assert (Q := Sq X i k (U0 i Hi) (U0 k Hk)). assert (L := diam_ub n (l2 d) X i k Hi Hk).
    fold D in L.
    assert (P := l2_pos d (vsub (X i) (X k))). assert (l2 d (vsub (X i) (X k)) ^ 2 <= D ^ 2) by (apply pow_incr; lra).
    lra. }
  destruct (wu_cor1 n d Ly G c r eps (1 - D ^ 2 / 2) r X Hn Hr E0 ltac:(lra) HL G0 G1 Hc HA U0 Ac) as [Main _].
  rewrite Nat.div_same, pow_1 in Main by lia. replace (1 - (1 - D ^ 2 / 2)) with (D ^ 2 / 2) in Main by ring.
  destruct (hemisphere_units n d Ly G c r eps r X Hn HL G0 G1 Hc HA U0 (1 - D ^ 2 / 2) ltac:(lra) E0 Ac) as [U1 _].
  assert (q0 : 0 <= (1 - eps ^ (2 * r)) * D ^ 2).
  { destruct Hc as [Hc _]. specialize (Main c c Hc Hc). rewrite <- l2_sq, U1 in Main by exact Hc. lra. }
  replace ((1 - eps ^ (2 * r)) * D ^ 2) with (sqrt ((1 - eps ^ (2 * r)) * D ^ 2) ^ 2) by (rewrite <- Rsqr_pow2;
    now apply Rsqr_sqrt).
  apply pow_incr. split; [apply diam_nonneg|]. apply diam_lub; [apply sqrt_pos|]. intros i k Hi Hk.
  assert (Q := Sq (sphere_orbit n d Ly X r) i k (U1 i Hi) (U1 k Hk)). specialize (Main i k Hi Hk).
  rewrite <- (sqrt_pow2 (l2 d _)) by apply l2_pos. apply sqrt_le_1_alt. rewrite Q. lra.
Qed.
