(** own:no-stable-orthogonal.  With orthogonal values and no more tokens than dimensions only equal tokens attract.

    One head, LayerNorm on the sphere, W_V orthogonal, any W_QK,
      a mask of zeros and ones with self-loops and a centre that reaches all tokens,
    n <= d.  Arbitrarily near every sequence of unit tokens there is one of independent unit tokens, the same for all such
    weights and masks, with mu(X(t)) -> 0.  So an equilibrium of unit tokens that attracts a neighbourhood has mu = 0:
    its tokens are equal.
    Proof: k < d homogeneous equations have a solution, so each token can be moved a little at a right angle to those
    before it; then they are independent and, all with <x, v> = 1 for some v, in an open hemisphere.  own:hemisphere
    applies, since the logits of unit tokens are bounded. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms Softmax Masks own_hemisphere wu2024_1 wu2024_2 Jets
    SphereLayer wu2024_3.
Local Open Scope R_scope.

(** m < d homogeneous equations in d unknowns have a solution that is not zero. *)
Lemma homogeneous m : forall d (A : mat), (m < d)%nat -> exists v : vec, (exists a,
  (a < d)%nat /\ v a <> 0) /\ forall i, (i < m)%nat -> dot d (A i) v = 0.
Proof.
  induction m as [|m IH]; intros d A H.
  - exists (fun _ => 1). split; [exists 0%nat; split; [lia|lra]|intros; lia].
  - destruct d as [|d]; [lia|].
    destruct (Classical_Prop.classic (exists k, (k < S m)%nat /\ A k d <> 0)) as [[k [Hk N]]|No].
    + (* eliminate the last unknown with equation k; equation m takes its place *)
      set (B := fun i => if Nat.eqb i k then A m else A i).
      destruct (IH d (fun i a => B i a - B i d / A k d * A k a) ltac:(lia)) as [v [[a [Ha Na]] Hv]].
      set (s := sum d (fun a => A k a * v a)).
      exists (fun a => if Nat.eqb a d then - s / A k d else v a). split.
      * exists a. split; [lia|]. destruct (Nat.eqb_spec a d); [lia|exact Na].
      * assert (E : forall (u : vec), dot (S d) u (fun a => if Nat.eqb a d then - s / A k d else v a) = dot d u v - u d
          * (s / A k d)).
        { intro u. unfold dot. cbn [sum]. rewrite Nat.eqb_refl.
          rewrite (sum_ext d _ (fun a => u a * v a)) by (intros b Hb; destruct (Nat.eqb_spec b d); [lia|reflexivity]).
          field. exact N. }
        assert (Ek : dot d (A k) v = s) by reflexivity.
        assert (Each : forall i, (i < m)%nat -> dot d (B i) v = B i d / A k d * s).
        { intros i Hi. specialize (Hv i Hi). unfold dot in *.
          rewrite (sum_ext d _ (fun a => B i a * v a - B i d / A k d * (A k a * v a))) in Hv by (intros; ring).
          rewrite sum_minus, sum_scal in Hv. fold s in Hv. lra. }
        intros i Hi. rewrite E. destruct (Nat.eq_dec i k) as [->|Nk]; [rewrite Ek; field; exact N|].
        assert (Q : dot d (A i) v = A i d / A k d * s).
        { destruct (Nat.eq_dec i m) as [->|Nm].
          - specialize (Each k ltac:(lia)). unfold B in Each. rewrite Nat.eqb_refl in Each. exact Each.
          - specialize (Each i ltac:(lia)). unfold B in Each. destruct (Nat.eqb_spec i k); [lia|]. exact Each. }
        rewrite Q. field. exact N.
    + exists (eye d). split; [exists d; split; [lia|rewrite eye_same; lra]|]. intros i Hi. unfold dot.
      rewrite (sum_ext (S d) _ (fun a => eye d a * A i a)) by (intros; ring).
      rewrite (sum_eye_l (S d) (A i) d ltac:(lia)). destruct (Req_dec (A i d) 0) as [|N]; [assumption|]. exfalso.
      apply No. eauto.
Qed.

(** Every token is moved by t in a direction at a right angle to those before it: they are independent then, and on one
    plane <x, v> = 1. *)
Lemma moved_apart d X t k : (k <= d)%nat -> 0 < t -> exists (Y : mat) (v : vec),
  (forall i, (i < k)%nat -> exists (w : vec) s, l2 d w = 1 /\ Rabs s = t /\ forall a, Y i a = X i a + s * w a) /\
  (forall c : vec, (forall a, (a < d)%nat -> sum k (fun i => c i * Y i a) = 0) -> forall i, (i < k)%nat -> c i = 0) /\
  forall i, (i < k)%nat -> dot d (Y i) v = 1.
Proof.
  intros Hk Ht. induction k as [|k IH]; [exists X, (fun _ => 0); repeat split; intros; lia|].
  destruct (IH ltac:(lia)) as [Y [v [Near [Ind Pl]]]].
  destruct (homogeneous k d Y ltac:(lia)) as [u [[a [Ha Na]] Hu]].
  assert (Np : 0 < dot d u u).
  { apply Rlt_le_trans with (u a * u a); [nra|]. apply (sum_term_le d (fun b => u b * u b) a); [intros; nra|exact Ha]. }
  assert (Lp : 0 < l2 d u) by (unfold l2; now apply sqrt_lt_R0).
  set (w := fun b => / l2 d u * u b). assert (W1 : l2 d w = 1).
  { unfold w. change (l2 d (fun b => / l2 d u * u b)) with (L2 d (fun b => / l2 d u * u b)). rewrite (sn_scal (L2 d)).
    rewrite Rabs_right by (left; now apply Rinv_0_lt_compat). change (L2 d u) with (l2 d u). field. lra. }
  assert (Hw : forall i, (i < k)%nat -> dot d (Y i) w = 0) by (intros i Hi; unfold w; rewrite dot_scal_r, Hu by exact Hi;
    ring).
  assert (WW : dot d w w = 1) by (rewrite <- l2_sq, W1; ring).
  set (s := if Rle_dec 0 (dot d (X k) w) then t else - t).
  assert (As : Rabs s = t) by (unfold s; destruct Rle_dec; [rewrite Rabs_right|rewrite Rabs_left]; lra).
  set (x := fun b => X k b + s * w b).
  assert (XW : dot d x w = dot d (X k) w + s).
  { unfold x, dot. rewrite (sum_ext d _ (fun b => X k b * w b + s * (w b * w b))) by (intros; ring).
    rewrite sum_plus, sum_scal. fold (dot d w w). rewrite WW. unfold dot. ring. }
  set (p := dot d (X k) w + s) in *. assert (p0 : p <> 0) by (unfold p, s; destruct Rle_dec; lra).
  exists (fun i => if Nat.eqb i k then x else Y i), (fun b => v b + (1 - dot d x v) / p * w b).
  assert (At_k : (if Nat.eqb k k then x else Y k) = x) by now rewrite Nat.eqb_refl.
  assert (Below : forall i, (i < k)%nat -> (if Nat.eqb i k then x else Y i) = Y i).
  { intros i Hi. destruct (Nat.eqb_spec i k); [lia|reflexivity]. }
  assert (Plus : forall y q, dot d y (fun b => v b + q * w b) = dot d y v + q * dot d y w).
  { intros y q. unfold dot. rewrite (sum_ext d _ (fun b => y b * v b + q * (y b * w b))) by (intros; ring).
    now rewrite sum_plus, sum_scal. }
  repeat split.
  - intros i Hi. destruct (Nat.eq_dec i k) as [->|N].
    + exists w, s. rewrite At_k. repeat split; auto.
    + rewrite Below by lia. apply Near. lia.
  - intros c Hc. cbn [sum] in Hc. rewrite At_k in Hc.
    assert (Hs : forall b, (b < d)%nat -> sum k (fun i => c i * Y i b) + c k * x b = 0).
    { intros b Hb. rewrite <- (Hc b Hb). f_equal. apply sum_ext; intros i Hi. now rewrite Below. }
    assert (Ck : c k = 0).
    { assert (Z : sum d (fun b => (sum k (fun i => c i * Y i b) + c k * x b) * w b) = 0).
      { rewrite <- (sum_zero d). apply sum_ext; intros b Hb. rewrite Hs by exact Hb. ring. }
      rewrite (sum_ext d _ (fun b => sum k (fun i => c i * (Y i b * w b)) + c k * (x b * w b))) in Z.
      - rewrite sum_plus, sum_swap, sum_scal in Z. fold (dot d x w) in Z. rewrite XW in Z.
        rewrite (sum_ext k _ (fun _ => 0)) in Z; [rewrite sum_zero in Z; nra|].
        intros i Hi. rewrite sum_scal. fold (dot d (Y i) w). rewrite Hw by exact Hi. ring.
      - intros b _. rewrite Rmult_plus_distr_r, <- sum_scal_r. f_equal; [|ring]. apply sum_ext; intros; ring. }
    assert (Rest : forall i, (i < k)%nat -> c i = 0).
    { apply Ind. intros b Hb. specialize (Hs b Hb). rewrite Ck in Hs. lra. }
    intros i Hi. destruct (Nat.eq_dec i k) as [->|N]; [exact Ck|apply Rest; lia].
  - intros i Hi. rewrite Plus. destruct (Nat.eq_dec i k) as [->|N].
    + rewrite At_k, XW. field. exact p0.
    + rewrite Below, Hw, Pl by lia. ring.
Qed.

(** Near unit tokens, no more of them than dimensions, are unit tokens that are independent and in an open half-space. *)
Lemma raised n d X eta : (0 < n)%nat -> (n <= d)%nat -> (forall i, (i < n)%nat -> l2 d (X i) = 1) -> 0 < eta ->
  exists (Y : mat) (v : vec) g, (forall i, (i < n)%nat -> l2 d (Y i) = 1) /\
  within n d eta (fun i a => Y i a - X i a) /\
  (forall c : vec, (forall a, (a < d)%nat -> sum n (fun i => c i * Y i a) = 0) -> forall i, (i < n)%nat -> c i = 0) /\
  l2 d v = 1 /\ 0 < g /\ forall i, (i < n)%nat -> g <= dot d (Y i) v.
Proof.
  intros Hn nd U He. set (t := Rmin (1 / 2) (eta / 4)).
  assert (T1 := Rmin_l (1 / 2) (eta / 4)). assert (T2 := Rmin_r (1 / 2) (eta / 4)).
  assert (T0 : 0 < t) by (apply Rmin_glb_lt; lra). fold t in T1, T2.
  destruct (moved_apart d X t n nd T0) as [Z [v [Near [Ind Pl]]]].
  assert (Len : forall i, (i < n)%nat -> 1 - t <= l2 d (Z i) <= 1 + t /\ forall a, (a < d)%nat ->
    Rabs (Z i a - X i a) <= t).
  { intros i Hi. destruct (Near i Hi) as [w [s [W1 [As E]]]]. rewrite <- (U i Hi).
    assert (A1 := sn_add (L2 d) (X i) (fun a => s * w a)). assert (A2 := sn_add (L2 d) (Z i) (fun a => - s * w a)).
    rewrite !(sn_scal (L2 d)) in A1, A2. rewrite Rabs_Ropp in A2. rewrite As in A1, A2.
    rewrite (sn_ext (L2 d) (fun a => X i a + s * w a) (Z i)) in A1 by (intro; now rewrite E).
    rewrite (sn_ext (L2 d) (fun a => Z i a + - s * w a) (X i)) in A2 by (intro; rewrite E; ring).
    change (L2 d w) with (l2 d w) in A1, A2. rewrite W1 in A1, A2.
    change (L2 d (X i)) with (l2 d (X i)) in A1, A2. change (L2 d (Z i)) with (l2 d (Z i)) in A1, A2. split; [lra|].
    intros a Ha. rewrite E. replace (X i a + s * w a - X i a) with (s * w a) by ring. rewrite Rabs_mult, As.
    assert (WW : dot d w w = 1) by (rewrite <- l2_sq, W1; ring).
    assert (w a * w a <= 1) by (rewrite <- WW; apply (sum_term_le d (fun b => w b * w b) a); [intros; nra|exact Ha]).
    assert (Rabs (w a) <= 1) by (apply Rabs_le; nra). nra. }
  assert (Lp : forall i, (i < n)%nat -> 0 < l2 d (Z i)) by (intros i Hi; destruct (Len i Hi) as [? _]; lra).
  assert (Vp : 0 < l2 d v).
  { destruct (l2_pos d v) as [V|V]; [exact V|]. exfalso. assert (Q := dot_le_l2 d (Z 0%nat) v).
    rewrite <- V, (Pl 0%nat Hn), Rabs_R1 in Q. lra. }
  exists (fun i => sphere d (Z i)), (fun b => / l2 d v * v b), (1 / (2 * l2 d v)). repeat split.
  - intros i Hi. now apply sphere_unit, Lp.
  - intros i a Hi Ha. destruct (Len i Hi) as [[L1 L2'] D]. specialize (D a Ha). assert (P := Lp i Hi). unfold sphere.
    set (L := l2 d (Z i)) in *.
    assert (xa : Rabs (X i a) <= 1).
    { assert (XX : dot d (X i) (X i) = 1) by (rewrite <- l2_sq, U by exact Hi; ring).
      assert (Q : X i a * X i a <= 1) by (rewrite <- XX; apply (sum_term_le d (fun b => X i b * X i b) a); [intros;
        nra|exact Ha]). apply Rabs_le. nra. }
    replace (Z i a / L - X i a) with ((Z i a - X i a + (1 - L) * X i a) / L) by (field; lra).
    unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_right L) by lra. apply Rmult_le_reg_r with L; [lra|].
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
    assert (B : Rabs (1 - L) <= t) by (apply Rabs_le; lra). assert (A0 := Rabs_pos (X i a)).
    assert (B0 := Rabs_pos (1 - L)). nra.
  - intros c Hc i Hi. assert (P := Lp i Hi).
    assert (E : c i / l2 d (Z i) = 0).
    { apply (Ind (fun i => c i / l2 d (Z i))); [|exact Hi]. intros a Ha. rewrite <- (Hc a Ha).
      apply sum_ext; intros k Hk. unfold sphere, Rdiv. ring. }
    apply Rmult_eq_reg_r with (/ l2 d (Z i)); [|apply Rinv_neq_0_compat; lra]. unfold Rdiv in E. lra.
  - change (l2 d (fun b => / l2 d v * v b)) with (L2 d (fun b => / l2 d v * v b)). rewrite (sn_scal (L2 d)).
    rewrite Rabs_right by (left; now apply Rinv_0_lt_compat). change (L2 d v) with (l2 d v). field. lra.
  - apply Rdiv_lt_0_compat; lra.
  - intros i Hi. destruct (Len i Hi) as [[L1 L2'] _]. assert (P := Lp i Hi).
    rewrite dot_scal_r, (dot_ext d (sphere d (Z i)) v (fun a => / l2 d (Z i) * Z i a) v) by (auto; intros; unfold sphere,
      Rdiv; ring).
    rewrite dot_scal_l, Pl by exact Hi. apply Rmult_le_reg_r with (2 * l2 d v * l2 d (Z i)); [nra|].
    replace (1 / (2 * l2 d v) * (2 * l2 d v * l2 d (Z i))) with (l2 d (Z i)) by (field; lra).
    replace (/ l2 d v * (/ l2 d (Z i) * 1) * (2 * l2 d v * l2 d (Z i))) with 2 by (field; lra). lra.
Qed.

Lemma iter_orbit n d M W G X t : Nat.iter t (sphere_map n d M W G) X = sphere_orbit n d (fun _ => onehead d M W G) X t.
Proof. induction t as [|t IH]; [reflexivity|]. simpl. rewrite IH. reflexivity. Qed.

Section Orthogonal.
Variables (n d : nat) (M W G : mat) (c r : nat).
Hypothesis n_pos : (0 < n)%nat.
Hypothesis nd : (n <= d)%nat.
Hypothesis r_pos : (0 < r)%nat.
Hypothesis G01 : forall i j, (i < n)%nat -> (j < n)%nat -> G i j = 0 \/ G i j = 1.
Hypothesis self : forall i, (i < n)%nat -> G i i = 1.
Hypothesis cen : centre n G c r.
Hypothesis orth : orthogonal d W.
Definition floor : R := 1 / (1 + (INR n - 1) * exp (2 * frob d d M)).

Lemma floor_b : 0 < floor <= 1.
Proof.
  assert (N : 1 <= INR n) by (apply (le_INR 1); lia). assert (P := exp_pos (2 * frob d d M)).
  assert (0 <= (INR n - 1) * exp (2 * frob d d M)) by (apply Rmult_le_pos; lra).
  unfold floor, Rdiv. rewrite Rmult_1_l. split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1.
  apply Rinv_le_contravar; lra.
Qed.

(** Unit tokens: every weight on the mask is at least the floor. *)
Lemma weights_floor X i j : (forall i, (i < n)%nat -> l2 d (X i) = 1) -> (i < n)%nat -> (j < n)%nat -> 0 < G i j ->
  floor <= attn n d d (hd (onehead d M W G) 0) X i j.
Proof.
  intros U Hi Hj Gp. unfold attn. cbn [onehead hd mask]. assert (F0 : 0 <= frob d d M) by apply sqrt_pos.
  assert (B : forall k, (k < n)%nat -> Rabs (bil d (X i) M (X k)) <= frob d d M).
  { intros k Hk. eapply Rle_trans; [apply l2_m|]. rewrite !U by assumption. lra. }
  apply softmax_floor; auto; [destruct (G01 i j Hi Hj); lra| | ].
  - rewrite <- (Rmult_1_r (INR n)), <- sum_const. apply sum_le; intros k Hk. destruct (G01 i k Hi Hk); lra.
  - intros k Hk _. change {| WQ := fun a c => sqrt (INR d) * M a c; WK := eye; bQ := fun _ => 0; bK := fun _ => 0;
      WV := W; mask := G |} with (hd (onehead d M W G) 0).
    rewrite !logit_onehead by lia. assert (B1 := B k Hk). assert (B2 := B j Hj). apply Rabs_le_between in B1, B2. lra.
Qed.

(** Unit tokens in an open half-space collapse. *)
Lemma cap_collapse Y v g : (forall i, (i < n)%nat -> l2 d (Y i) = 1) -> l2 d v = 1 -> 0 < g ->
  (forall i, (i < n)%nat -> g <= dot d (Y i) v) ->
  is_lim_seq (fun t => mu n d (Nat.iter t (sphere_map n d M W G) Y)) 0.
Proof.
  intros U V1 g0 Hg. assert (g1 : g <= 1).
  { eapply Rle_trans; [apply (Hg 0%nat n_pos)|]. eapply Rle_trans; [apply Rle_abs|].
    eapply Rle_trans; [apply dot_le_l2|]. rewrite (U 0%nat n_pos), V1. lra. }
  assert (Fb := floor_b).
  set (Ly := fun _ : nat => onehead d M W G).
  assert (GP : forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j) by (intros i j Hi Hj; destruct (G01 i j Hi Hj);
    lra).
  assert (GS : forall i, (i < n)%nat -> 0 < G i i) by (intros i Hi; rewrite self by exact Hi; lra).
  assert (LL : forall s, nheads (Ly s) = 1%nat /\ mask (hd (Ly s) 0) = G /\ (forall a,
    bout (Ly s) a = 0) /\ orthogonal d (WV (hd (Ly s) 0))) by (intro s; repeat split; auto).
  (* tokens stay unit, so the weights keep their floor *)
  assert (Un : forall s, (forall i, (i < n)%nat -> l2 d (sphere_orbit n d Ly Y s i) = 1) /\ forall u, (u < s)%nat ->
    forall i j, (i < n)%nat -> (j < n)%nat -> 0 < G i j -> floor <= sphere_attention n d Ly Y u i j).
  { induction s as [|s [IU IW]]; [split; [exact U|intros; lia]|].
    assert (W' : forall u, (u < S s)%nat -> forall i j, (i < n)%nat -> (j < n)%nat -> 0 < G i j ->
      floor <= sphere_attention n d Ly Y u i j).
    { intros u Hu i j Hi Hj Gp. destruct (Nat.eq_dec u s) as [->|]; [|apply IW; auto; lia]. now apply weights_floor. }
    split; [|exact W']. intros i Hi.
    destruct (hemisphere n d Ly G c r floor v g (S s) Y n_pos r_pos ltac:(lra) (fun u _ => LL u) GP GS cen
      ltac:(intros; now apply W') U V1 g0 Hg) as [A1 _].
    now apply A1. }
  set (q := 1 - g * floor ^ r). assert (fr : 0 < floor ^ r <= 1) by (split; [apply pow_lt; lra|apply pow_01; lra]).
  assert (q01 : 0 <= q < 1) by (unfold q; nra).
  set (K := sqrt ((INR n - 1) / 2) * (2 * sqrt (/ g ^ 2 - 1))).
  assert (K0 : 0 <= K) by (apply Rmult_le_pos; [apply sqrt_pos|apply Rmult_le_pos; [lra|apply sqrt_pos]]).
  assert (Bd : forall s, mu n d (sphere_orbit n d Ly Y s) <= K * q ^ (s / r)).
  { intro s. destruct (hemisphere n d Ly G c r floor v g s Y n_pos r_pos ltac:(lra) (fun u _ => LL u) GP GS cen
      ltac:(intros; now apply (proj2 (Un s))) U V1 g0 Hg) as [_ [A2 [A3 A4]]].
    fold q in A2. assert (Q0 : 0 <= q ^ (s / r)) by (apply pow_le; lra).
    eapply Rle_trans; [exact A3|]. unfold K. rewrite Rmult_assoc. apply Rmult_le_compat_l; [apply sqrt_pos|].
    eapply Rle_trans; [exact A2|].
    rewrite Rmult_comm. apply Rmult_le_compat_r; assumption. }
  apply is_lim_seq_spec. intro e. destruct (pow_lt_1_zero q ltac:(rewrite Rabs_right;
    lra) (pos e / (K + 1)) ltac:(apply Rdiv_lt_0_compat; [apply cond_pos|lra])) as [m Hm].
  exists (m * r)%nat. intros s Hs. rewrite iter_orbit, Rminus_0_r.
  assert (M0 : 0 <= mu n d (sphere_orbit n d Ly Y s)) by apply sqrt_pos. fold Ly. rewrite Rabs_right by lra.
  eapply Rle_lt_trans; [apply Bd|]. assert (Hk : (m <= s / r)%nat) by (apply Nat.div_le_lower_bound; lia).
  specialize (Hm (s / r)%nat Hk).
  assert (Q0 : 0 <= q ^ (s / r)) by (apply pow_le; lra). rewrite Rabs_right in Hm by lra. assert (Pe := cond_pos e).
  assert (Z : (K + 1) * q ^ (s / r) < pos e).
  { apply (Rmult_lt_compat_l (K + 1)) in Hm; [|lra]. replace ((K + 1) * (pos e / (K + 1))) with (pos e) in Hm by
      (field; lra). exact Hm. }
  nra.
Qed.

(** The same start for every M, W and mask: see [raised] for one whose tokens are independent besides. *)
Theorem near_collapse X eta : (forall i, (i < n)%nat -> l2 d (X i) = 1) -> 0 < eta ->
  exists Y, (forall i, (i < n)%nat -> l2 d (Y i) = 1) /\ within n d eta (fun i a => Y i a - X i a) /\
  is_lim_seq (fun t => mu n d (Nat.iter t (sphere_map n d M W G) Y)) 0.
Proof.
  intros U He. destruct (raised n d X eta n_pos nd U He) as [Y [v [g [UY [Near [_ [V1 [g0 Hg]]]]]]]].
  exists Y. repeat split; [exact UY|exact Near|]. now apply (cap_collapse Y v g).
Qed.

Theorem no_stable_orthogonal X : (forall i, (i < n)%nat -> l2 d (X i) = 1) -> attracts n d (sphere_map n d M W G) X ->
  forall i k a, (i < n)%nat -> (k < n)%nat -> (a < d)%nat -> X i a = X k a.
Proof.
  intros U At i k a Hi Hk Ha. destruct (attracts_limit _ _ _ _ At) as [eta [Ep Lim]].
  destruct (near_collapse X eta U Ep) as [Y [_ [Near Mu]]].
  assert (A := is_lim_seq_minus' _ _ _ _ (Lim Y Near i a Hi Ha) (Lim Y Near k a Hk Ha)).
  (* |Y_ia - Y_ka|^2 <= 2 mu^2 -> 0 *)
  assert (Z : is_lim_seq (fun t => Nat.iter t (sphere_map n d M W G) Y i a - Nat.iter t (sphere_map n d M W G) Y k a)
    0).
  { assert (M2 : is_lim_seq (fun t => 2 * mu n d (Nat.iter t (sphere_map n d M W G) Y)) 0) by (evar_last;
      [apply (is_lim_seq_scal_l _ 2 0 Mu)|simpl; f_equal; ring]).
    assert (M3 : is_lim_seq (fun t => - (2 * mu n d (Nat.iter t (sphere_map n d M W G) Y))) 0) by (evar_last;
      [apply (proj1 (is_lim_seq_opp _ 0) M2)|simpl; f_equal; ring]).
    apply is_lim_seq_le_le with (u := fun t => - (2 * mu n d (Nat.iter t (sphere_map n d M W G) Y))) (w := fun t => 2 *
      mu n d (Nat.iter t (sphere_map n d M W G) Y)); [|exact M3|exact M2].
    intro t. set (V := Nat.iter t (sphere_map n d M W G) Y). assert (P := pair_mu n d V i k Hi Hk).
    assert (M0 : 0 <= mu n d V) by apply sqrt_pos.
    assert (Q : (V i a - V k a) * (V i a - V k a) <= dot d (vsub (V i) (V k)) (vsub (V i) (V k))).
    { apply (sum_term_le d (fun b => vsub (V i) (V k) b * vsub (V i) (V k) b) a); [intros; apply Rle_0_sqr|exact Ha]. }
    nra. }
  assert (E : Finite (X i a - X k a) = Finite 0) by (rewrite <- (is_lim_seq_unique _ _ A);
    exact (is_lim_seq_unique _ _ Z)).
  injection E. lra.
Qed.
End Orthogonal.
