(** own:no-stable-orthogonal.  With orthogonal values and no more tokens than dimensions only equal tokens attract.

    One head, LayerNorm on the sphere, W_V orthogonal, any W_QK,
      a mask of zeros and ones with self-loops and a centre that reaches all tokens,
    n <= d.  Arbitrarily near every sequence of unit tokens there is one (unit tokens) with mu(X(t)) -> 0.
    So an equilibrium of unit tokens that attracts a
    neighbourhood has mu = 0: its tokens are equal.
    Proof: n-1 < d homogeneous equations have a solution v, which may be turned to make <X_i, v> >= 0 for all i;
      moving all tokens a little towards v puts
    them into an open hemisphere, and own:hemisphere applies, since the logits of unit tokens are bounded. *)
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

(** A direction from which no token looks away. *)
Lemma half_space n d X : (0 < n)%nat -> (n <= d)%nat -> exists v, l2 d v = 1 /\ forall i, (i < n)%nat ->
  0 <= dot d (X i) v.
Proof.
  intros Hn H. destruct (homogeneous (n - 1) d X ltac:(lia)) as [v [[a [Ha Na]] Hv]].
  assert (Np : 0 < dot d v v).
  { apply Rlt_le_trans with (v a * v a); [nra|]. apply (sum_term_le d (fun b => v b * v b) a); [intros; nra|exact Ha]. }
  assert (Lp : 0 < l2 d v) by (unfold l2; now apply sqrt_lt_R0).
  set (sg := if Rle_dec 0 (dot d (X (n - 1)%nat) v) then 1 else -1).
  assert (sg2 : Rabs sg = 1) by (unfold sg; destruct Rle_dec; [rewrite Rabs_right|rewrite Rabs_left]; lra).
  exists (fun b => sg * / l2 d v * v b). split.
  - change (l2 d (fun b => sg * / l2 d v * v b)) with (L2 d (fun b => sg * / l2 d v * v b)).
    rewrite (sn_scal (L2 d)), Rabs_mult, sg2.
    rewrite Rabs_right by (left; now apply Rinv_0_lt_compat). change (L2 d v) with (l2 d v). field. lra.
  - intros i Hi. rewrite dot_scal_r. destruct (Nat.eq_dec i (n - 1)) as [->|N]; [|rewrite Hv by lia; lra].
    assert (Ip : 0 < / l2 d v) by now apply Rinv_0_lt_compat. unfold sg.
    destruct Rle_dec as [L|L]; [|assert (dot d (X (n - 1)%nat) v < 0) by lra]; nra.
Qed.

(** Moving a unit token by t towards v and normalising moves it by at most 2 t. *)
Lemma nudge d x v t : l2 d x = 1 -> l2 d v = 1 -> 0 <= dot d x v -> 0 < t <= 1 ->
  let y := sphere d (fun a => x a + t * v a) in
  l2 d y = 1 /\ t / 2 <= dot d y v /\ forall a, (a < d)%nat -> Rabs (y a - x a) <= 2 * t.
Proof.
  intros X1 V1 XV Ht y. set (u := fun a => x a + t * v a).
  assert (XX : dot d x x = 1) by (rewrite <- l2_sq, X1; ring).
  assert (VV : dot d v v = 1) by (rewrite <- l2_sq, V1; ring).
  assert (Cx : dot d x v <= 1) by (eapply Rle_trans; [apply Rle_abs|]; eapply Rle_trans; [apply dot_le_l2|];
    rewrite X1, V1; lra).
  assert (UU : dot d u u = 1 + 2 * t * dot d x v + t * t).
  { unfold u, dot. rewrite (sum_ext d _ (fun a => x a * x a + 2 * t * (x a * v a) + t * t * (v a * v a))) by (intros;
      ring).
    rewrite !sum_plus, !sum_scal. fold (dot d x x) (dot d x v) (dot d v v). rewrite XX, VV. ring. }
  assert (UV : dot d u v = dot d x v + t).
  { unfold u, dot. rewrite (sum_ext d _ (fun a => x a * v a + t * (v a * v a))) by (intros; ring).
    rewrite sum_plus, sum_scal. fold (dot d x v) (dot d v v). rewrite VV. ring. }
  assert (L2u := l2_sq d u). rewrite UU in L2u. assert (Lp := l2_pos d u). set (L := l2 d u) in *.
  assert (L1 : 1 <= L) by nra. assert (Lu : L <= 1 + t) by nra.
  split; [apply sphere_unit; fold u L; lra|]. split.
  - unfold y. rewrite (dot_ext d (sphere d (fun a => x a + t * v a)) v (fun a => / L * u a) v) by (auto; intros;
      unfold sphere; fold u L; unfold u, Rdiv; ring).
    rewrite dot_scal_l, UV. apply Rmult_le_reg_l with L; [lra|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. nra.
  - intros a Ha. unfold y, sphere. change (l2 d (fun a => x a + t * v a)) with L.
    change ((fun a => x a + t * v a) a) with (u a).
    assert (xa : Rabs (x a) <= 1).
    { assert (Q : x a * x a <= 1) by (rewrite <- XX; apply (sum_term_le d (fun b => x b * x b) a); [intros;
        nra|exact Ha]). apply Rabs_le. nra. }
    assert (va : Rabs (v a) <= 1).
    { assert (Q : v a * v a <= 1) by (rewrite <- VV; apply (sum_term_le d (fun b => v b * v b) a); [intros;
        nra|exact Ha]). apply Rabs_le. nra. }
    match goal with |- Rabs ?z <= _ => replace z with ((t * v a + (1 - L) * x a) / L) by (unfold u; field; lra) end.
    unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_right L) by lra. apply Rmult_le_reg_r with L; [lra|].
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_right t), (Rabs_left1 (1 - L)) by lra.
    assert (A := Rabs_pos (x a)). assert (B := Rabs_pos (v a)). nra.
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

Theorem near_collapse X eta : (forall i, (i < n)%nat -> l2 d (X i) = 1) -> 0 < eta ->
  exists Y, (forall i, (i < n)%nat -> l2 d (Y i) = 1) /\ within n d eta (fun i a => Y i a - X i a) /\
  is_lim_seq (fun t => mu n d (Nat.iter t (sphere_map n d M W G) Y)) 0.
Proof.
  intros U He. destruct (half_space n d X n_pos nd) as [v [V1 Hv]].
  set (t := Rmin 1 (eta / 2)). assert (T1 := Rmin_l 1 (eta / 2)). assert (T2 := Rmin_r 1 (eta / 2)).
  assert (T0 : 0 < t) by (apply Rmin_glb_lt; lra). fold t in T1, T2.
  set (Y := fun i => sphere d (fun a => X i a + t * v a)).
  assert (NY : forall i, (i < n)%nat -> l2 d (Y i) = 1 /\ t / 2 <= dot d (Y i) v /\ forall a, (a < d)%nat ->
    Rabs (Y i a - X i a) <= 2 * t) by (intros i Hi; apply nudge; auto; lra).
  exists Y. split; [intros; now apply NY|]. split; [intros i a Hi Ha; eapply Rle_trans; [now apply NY|lra]|].
  assert (Fb := floor_b). assert (N : 1 <= INR n) by (apply (le_INR 1); lia).
  set (Ly := fun _ : nat => onehead d M W G).
  assert (GP : forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j) by (intros i j Hi Hj; destruct (G01 i j Hi Hj);
    lra).
  assert (GS : forall i, (i < n)%nat -> 0 < G i i) by (intros i Hi; rewrite self by exact Hi; lra).
  assert (LL : forall s, nheads (Ly s) = 1%nat /\ mask (hd (Ly s) 0) = G /\ (forall a,
    bout (Ly s) a = 0) /\ orthogonal d (WV (hd (Ly s) 0))) by (intro s; repeat split; auto).
  (* tokens stay unit, so the weights keep their floor *)
  assert (Un : forall s, (forall i, (i < n)%nat -> l2 d (sphere_orbit n d Ly Y s i) = 1) /\ forall u, (u < s)%nat ->
    forall i j, (i < n)%nat -> (j < n)%nat -> 0 < G i j -> floor <= sphere_attention n d Ly Y u i j).
  { induction s as [|s [IU IW]]; [split; [intros; now apply NY|intros; lia]|].
    assert (W' : forall u, (u < S s)%nat -> forall i j, (i < n)%nat -> (j < n)%nat -> 0 < G i j ->
      floor <= sphere_attention n d Ly Y u i j).
    { intros u Hu i j Hi Hj Gp. destruct (Nat.eq_dec u s) as [->|]; [|apply IW; auto; lia]. now apply weights_floor. }
    split; [|exact W']. intros i Hi.
    destruct (hemisphere n d Ly G c r floor v (t / 2) (S s) Y n_pos r_pos ltac:(lra) (fun u _ => LL u) GP GS cen
      ltac:(intros; now apply W') ltac:(intros; now apply NY) V1 ltac:(lra) ltac:(intros; now apply NY)) as [A1 _].
    now apply A1. }
  set (q := 1 - t / 2 * floor ^ r). assert (fr : 0 < floor ^ r <= 1) by (split; [apply pow_lt; lra|apply pow_01; lra]).
  assert (q01 : 0 <= q < 1) by (unfold q; nra).
  set (K := sqrt ((INR n - 1) / 2) * (2 * sqrt (/ (t / 2) ^ 2 - 1))).
  assert (K0 : 0 <= K) by (apply Rmult_le_pos; [apply sqrt_pos|apply Rmult_le_pos; [lra|apply sqrt_pos]]).
  assert (Bd : forall s, mu n d (sphere_orbit n d Ly Y s) <= K * q ^ (s / r)).
  { intro s. destruct (hemisphere n d Ly G c r floor v (t / 2) s Y n_pos r_pos ltac:(lra) (fun u _ => LL u) GP GS cen
      ltac:(intros; now apply (proj2 (Un s))) ltac:(intros; now apply NY) V1 ltac:(lra) ltac:(intros;
        now apply NY)) as [_ [A2 [A3 A4]]].
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
