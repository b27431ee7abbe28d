(** karagodin2024:two-clusters, own:flow-one-cluster, karagodin2024:subspace-two, karagodin2025:4.3.  What each
    is stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms Softmax.
From Rankmath Require Language.
Local Open Scope R_scope.

(** karagodin2024:two-clusters refuted: a causal flow on the circle with a third kind of sink.

    x_k' = y_k - <x_k, y_k> x_k, y_k = sum_{j <= k} a_kj V x_j, a the softmax of beta <Q x_k, K x_j>.
    Conjectured: if V has
    distinct positive eigenvalues, every token tends to xi or -xi from almost every start, xi the top eigenvector.
    False for two tokens on the circle, V = [[2,-2],[0,1]] (eigenvalues 2 and 1), Q = K = 0: near e_1, (-4/5,
      3/5) the function
    L = 8 (1 - <x_1, e_1>) + 2 (1 - <x_2, (-4/5, 3/5)>) does not grow while it is at most 1/25,
      so every solution that starts
    within 1/300 of these tokens keeps x_2 off xi and -xi for ever [two_clusters_refuted].
    True instead: own:flow-one-cluster [one_cluster] and karagodin2024:subspace-two [subspace_two]. *)

(** V x, with e rows and d columns; what a token is sent; a solution for t >= 0. *)
Notation applied := Language.times.
Notation sent := Language.drawn.
Notation flows := Language.flows.

Lemma close f m (e : posreal) : continuous f m -> exists k, 0 < k /\ forall x, Rabs (x - m) < k -> Rabs (f x - f m) < e.
Proof. intros C. destruct (proj1 (filterlim_locally f (f m)) C e) as [k H]. exists k. split; [apply cond_pos|].
intros x Hx. now apply H. Qed.

(** What does not grow below r, and begins below it, stays below it. *)
Lemma barrier (f f' : R -> R) r : (forall t, 0 <= t -> is_derive f t (f' t)) ->
  (forall t, 0 <= t -> f t < r -> f' t <= 0) -> f 0 < r -> forall t, 0 <= t -> f t < r.
Proof.
  intros D N H0 T HT. destruct (Rlt_or_le (f T) r) as [|Bad]; [assumption|exfalso].
  assert (Cf : forall t, 0 <= t -> continuous f t) by (intros t Ht; apply (ex_derive_continuous f); exists (f' t);
    now apply D).
  pose (E := fun t => 0 <= t <= T /\ forall u, 0 <= u <= t -> f u < r).
  assert (E0 : E 0) by (split; [lra|intros u Hu; replace u with 0 by lra; exact H0]).
  destruct (completeness E) as [m [Ub Least]]; [exists T; intros t [Ht _]; lra|now exists 0|].
  assert (M : 0 <= m <= T) by (split; [now apply Ub|apply Least; intros t [Ht _]; lra]).
  assert (Below : forall u, 0 <= u < m -> f u < r).
  { intros u Hu. destruct (Rlt_or_le (f u) r) as [|B]; [assumption|exfalso].
    assert (m <= u); [|lra]. apply Least. intros t [Ht Hall]. destruct (Rle_or_lt t u) as [|L]; [assumption|].
    assert (f u < r) by (apply Hall; lra). lra. }
  assert (Fm : f m < r).
  { destruct (Req_dec m 0) as [->|Hm]; [exact H0|].
    destruct (MVT_gen f 0 m f') as [c [Hc Eq]].
    - intros x Hx. rewrite Rmin_left, Rmax_right in Hx by lra. apply D. lra.
    - intros x Hx. rewrite Rmin_left, Rmax_right in Hx by lra. apply continuity_pt_filterlim. apply Cf. lra.
    - rewrite Rmin_left, Rmax_right in Hc by lra. destruct (Rlt_or_le c m) as [Lc|Gc].
      + assert (f' c <= 0) by (apply N; [lra|apply Below; lra]).
        assert (f' c * (m - 0) <= 0 * (m - 0)) by (apply Rmult_le_compat_r; lra). lra.
      + assert (c = m) by lra. subst c. destruct (Rlt_or_le (f m) r) as [|B]; [assumption|exfalso].
        (* f m >= r > f 0: take the mean value on [0, x], x just below m *)
        assert (Pos : 0 < f m - f 0) by lra. destruct (close f m (mkposreal _ Pos)) as [e [Pe He]]; [apply Cf; lra|].
        simpl in He.
        pose (x := Rmax (m / 2) (m - e / 2)).
        assert (X1 : m / 2 <= x) by apply Rmax_l. assert (X2 : m - e / 2 <= x) by apply Rmax_r.
        assert (X3 : x < m) by (apply Rmax_lub_lt; lra).
        assert (Near : Rabs (f x - f m) < f m - f 0) by (apply He; apply Rabs_def1; lra).
        destruct (MVT_gen f 0 x f') as [c [Hx Ex]].
        * intros z Hz. rewrite Rmin_left, Rmax_right in Hz by lra. apply D. lra.
        * intros z Hz. rewrite Rmin_left, Rmax_right in Hz by lra. apply continuity_pt_filterlim. apply Cf. lra.
        * rewrite Rmin_left, Rmax_right in Hx by lra. assert (f' c <= 0) by (apply N; [lra|apply Below; lra]).
          apply Rabs_def2 in Near. assert (f' c * (x - 0) <= 0 * (x - 0)) by (apply Rmult_le_compat_r; lra). lra. }
  destruct (Req_dec m T) as [->|Hm]; [lra|].
  assert (Pos : 0 < r - f m) by lra. destruct (close f m (mkposreal _ Pos)) as [e [Pe He]]; [apply Cf; lra|].
  simpl in He.
  pose (x := Rmin T (m + e / 2)).
  assert (X1 : x <= T) by apply Rmin_l. assert (X2 : x <= m + e / 2) by apply Rmin_r.
  assert (X3 : m < x) by (apply Rmin_glb_lt; lra).
  assert (x <= m); [|lra]. apply Ub. split; [lra|]. intros u Hu. destruct (Rlt_or_le u m) as [L|L]; [apply Below; lra|].
  assert (Near : Rabs (f u - f m) < r - f m) by (apply He; apply Rabs_def1; lra).
  apply Rabs_def2 in Near. lra.
Qed.

(** The instance: the first token is (p, q), the second u (-4/5, 3/5) + v (-3/5, -4/5). *)
Definition V0 : mat := fun a b => match a, b with O, O => 2 | O, 1%nat => -2 | 1%nat, 1%nat => 1 | _, _ => 0 end.
Definition Z0 : mat := fun i a => match i, a with O, O => 1 | 1%nat, O => -4/5 | 1%nat, 1%nat => 3/5 | _, _ => 0 end.
Definition zeros : mat := fun _ _ => 0.

(** -4 <x_1', e_1> + <x_2', ..> is at most 0, in these coordinates: s = 3/5 u - 4/5 v is the height of x_2. *)
Lemma falls p q u v : p * p + q * q = 1 -> u * u + v * v = 1 -> 8 * (1 - p) + 2 * (1 - u) < 1/25 ->
  - 4 * (q * q * (p - 2 * q)) - (3/5 * u - 4/5 * v) / 2 * v * (v + 2 * (1 - u))
  + v * ((3/5 * u - 4/5 * v) * (1 - p) + q * (u / 5 - 11/10 * v)) <= 0.
Proof.
  intros P U L. assert (p <= 1) by nra. assert (u <= 1) by nra. assert (Hp : 199/200 <= p) by lra.
  assert (Hu : 49/50 <= u) by lra.
  assert (Hq : -1/10 <= q <= 1/10) by nra. assert (Hv : -1/5 <= v <= 1/5) by nra.
  assert (E : 0 <= 1 - p <= q * q) by nra. assert (G : 0 <= 1 - u <= v * v) by nra.
  pose (s := 3/5 * u - 4/5 * v). assert (S : 2/5 <= s <= 4/5) by (unfold s; lra). fold s.
  assert (A : 3/5 * (v * v) <= v * (v + 2 * (1 - u))) by nra.
  assert (A' : 3/25 * (v * v) <= s / 2 * v * (v + 2 * (1 - u))).
  { apply Rle_trans with (s / 2 * (3/5 * (v * v))); [nra|]. rewrite Rmult_assoc. apply Rmult_le_compat_l; lra. }
  assert (B : v * (s * (1 - p)) <= 4/25 * (q * q)).
  { apply Rle_trans with (1/5 * (4/5 * (q * q))); [|lra].
    assert (s * (1 - p) <= 4/5 * (q * q)) by nra. assert (0 <= s * (1 - p)) by nra. nra. }
  assert (C : 3 * (q * q) <= 4 * (q * q * (p - 2 * q))) by nra.
  assert (F : v * (q * (u / 5 - 11/10 * v)) <= 1/10 * (v * v) + 1/2 * (q * q)).
  { pose (w := u / 5 - 11/10 * v). assert (W : -21/50 <= w <= 21/50) by (unfold w; lra). fold w.
    assert (0 <= (v - 5 * w * q) * (v - 5 * w * q)) by apply Rle_0_sqr. assert (w * w <= 9/50) by nra.
    assert (0 <= q * q) by nra. nra. }
  rewrite Rmult_plus_distr_l. assert (0 <= q * q) by nra. assert (0 <= v * v) by nra. lra.
Qed.

Lemma sent_first X a : sent 2 2 1 V0 zeros zeros 1 causal X 0 a = applied 2 V0 (X 0%nat) a.
Proof.
  unfold sent, softmax, tilt, causal, dot. cbn [sum Nat.leb]. unfold applied, zeros. cbn [sum].
  replace (1 * (0 + (0 + 0 * X 0%nat 0%nat + 0 * X 0%nat 1%nat) * (0 + 0 * X 0%nat 0%nat + 0 * X 0%nat 1%nat))) with 0
    by ring.
  rewrite exp_0. field.
Qed.
Lemma sent_second X a : sent 2 2 1 V0 zeros zeros 1 causal X 1 a = (applied 2 V0 (X 0%nat) a + applied 2 V0 (X 1%nat)
  a) / 2.
Proof.
  unfold sent, softmax, tilt, causal, dot. cbn [sum Nat.leb]. unfold applied, zeros. cbn [sum].
  replace (1 * (0 + (0 + 0 * X 1%nat 0%nat + 0 * X 1%nat 1%nat) * (0 + 0 * X 0%nat 0%nat + 0 * X 0%nat 1%nat))) with 0
    by ring.
  replace (1 * (0 + (0 + 0 * X 1%nat 0%nat + 0 * X 1%nat 1%nat) * (0 + 0 * X 1%nat 0%nat + 0 * X 1%nat 1%nat))) with 0
    by ring.
  rewrite exp_0. field.
Qed.

Lemma combined (f g h : R -> R) t a b c : is_derive f t a -> is_derive g t b -> is_derive h t c ->
  is_derive (fun s => 8 * (1 - f s) + 2 * (1 - (-4/5 * g s + 3/5 * h s))) t (8 * (0 - a) + 2 * (0 - (-4/5 * b + 3/5 *
    c))).
Proof.
  intros A B C. auto_derive; [repeat split; eexists; eassumption|].
  apply is_derive_unique in A, B, C. change (Derive (fun x => f x)) with (Derive f).
  change (Derive (fun x => g x)) with (Derive g).
  change (Derive (fun x => h x)) with (Derive h). rewrite A, B, C. field.
Qed.

Theorem two_clusters_refuted : exists (V Q K : mat) (beta : R) (xi eta : vec) (Z : mat),
  (forall a, (a < 2)%nat -> applied 2 V xi a = 2 * xi a) /\ (forall a, (a < 2)%nat -> applied 2 V eta a = 1 * eta a) /\
  dot 2 xi xi = 1 /\ 0 < dot 2 eta eta /\ 0 <= beta /\ (forall i, (i < 2)%nat -> dot 2 (Z i) (Z i) = 1) /\
  forall X, flows 2 2 1 V Q K beta causal X ->
  (forall i a, (i < 2)%nat -> (a < 2)%nat -> Rabs (X 0 i a - Z i a) < 1/300) ->
  forall t, 0 <= t -> 1/10 < sum 2 (fun a => (X t 1%nat a - xi a) ^ 2) /\ 1/10 < sum 2 (fun a => (X t 1%nat a + xi a) ^
    2).
Proof.
  exists V0, zeros, zeros, 1, (fun a => match a with O => 1 | _ => 0 end), (fun a => match a with O => 2 | _ => 1 end),
    Z0.
  split; [intros [|[|a]] Ha; try lia; unfold applied; cbn [sum V0]; lra|].
  split; [intros [|[|a]] Ha; try lia; unfold applied; cbn [sum V0]; lra|].
  split; [unfold dot; cbn [sum]; lra|]. split; [unfold dot; cbn [sum]; lra|]. split; [lra|].
  split; [intros [|[|i]] Hi; try lia; unfold dot; cbn [sum Z0]; lra|].
  intros X F H0.
  pose (L := fun t => 8 * (1 - X t 0%nat 0%nat) + 2 * (1 - (-4/5 * X t 1%nat 0%nat + 3/5 * X t 1%nat 1%nat))).
  pose (S := fun t i a => sent 2 2 1 V0 zeros zeros 1 causal (X t) i a - dot 2 (X t i) (sent 2 2 1 V0 zeros zeros 1
    causal (X t) i) * X t i a).
  assert (DL : forall t, 0 <= t -> is_derive L t (8 * (0 - S t 0%nat 0%nat) + 2 * (0 - (-4/5 * S t 1%nat 0%nat + 3/5 *
    S t 1%nat 1%nat)))).
  { intros t Ht. destruct (F t 0%nat Ht ltac:(lia)) as [_ D0]. destruct (F t 1%nat Ht ltac:(lia)) as [_ D1].
    assert (A0 := D0 0%nat ltac:(lia)). assert (A1 := D1 0%nat ltac:(lia)). assert (A2 := D1 1%nat ltac:(lia)).
    cbv zeta in A0, A1, A2.
    exact (combined (fun t => X t 0%nat 0%nat) (fun t => X t 1%nat 0%nat) (fun t => X t 1%nat 1%nat) t _ _ _ A0 A1 A2).
    }
  assert (Small : forall t, 0 <= t -> L t < 1/25).
  { apply (barrier L _ (1/25) DL).
    - intros t Ht Lt. destruct (F t 0%nat Ht ltac:(lia)) as [N0 _]. destruct (F t 1%nat Ht ltac:(lia)) as [N1 _].
      unfold dot in N0, N1. cbn [sum] in N0, N1. unfold L in Lt.
      set (p := X t 0%nat 0%nat) in *. set (q := X t 0%nat 1%nat) in *. set (c := X t 1%nat 0%nat) in *.
      set (s := X t 1%nat 1%nat) in *.
      assert (Q0 := falls p q (-4/5 * c + 3/5 * s) (-3/5 * c - 4/5 * s) ltac:(lra) ltac:(nra) ltac:(lra)).
      unfold S, dot. rewrite ?sent_first, ?sent_second. cbn [sum]. rewrite ?sent_first, ?sent_second. unfold applied.
      cbn [sum V0]. fold p q c s.
      match goal with |- ?g <= 0 => match type of Q0 with ?k <= 0 =>
        replace g with (2 * k + (16 * p - 16 * q) * (p * p + q * q - 1)
          + (- (8/5) * c - 8/5 * p + 11/5 * q + 11/5 * s) * (c * c + s * s - 1)) by field end end.
      replace (p * p + q * q - 1) with 0 by lra. replace (c * c + s * s - 1) with 0 by lra. lra.
    - assert (A := H0 0%nat 0%nat ltac:(lia) ltac:(lia)). assert (B := H0 1%nat 0%nat ltac:(lia) ltac:(lia)).
      assert (C := H0 1%nat 1%nat ltac:(lia) ltac:(lia)). cbn [Z0] in A, B, C. apply Rabs_def2 in A, B, C. unfold L.
      lra. }
  intros t Ht. assert (Lt := Small t Ht). unfold L in Lt.
  destruct (F t 0%nat Ht ltac:(lia)) as [N0 _]. destruct (F t 1%nat Ht ltac:(lia)) as [N1 _]. unfold dot in N0, N1.
  cbn [sum] in N0, N1. cbn [sum].
  assert (X t 0%nat 0%nat <= 1) by nra. set (c := X t 1%nat 0%nat) in *. set (s := X t 1%nat 1%nat) in *.
  pose (u := -4/5 * c + 3/5 * s). pose (v := -3/5 * c - 4/5 * s). assert (UV : u * u + v * v = 1) by (unfold u, v; lra).
  assert (U : 49/50 <= u <= 1) by (split; [unfold u; lra|nra]). assert (-1/5 <= v <= 1/5) by nra.
  assert (Ec : c = -4/5 * u - 3/5 * v) by (unfold u, v; lra). assert (-93/100 <= c <= 0) by lra. split; nra.
Qed.

(* ---------- what is true ---------- *)

(** own:flow-one-cluster: a token u that sees itself and m tokens at e_0 under V = diag(lam);
  E = e^(u B (u - e_0)) against 1. *)
Definition axis : vec := fun a => if Nat.eqb a 0 then 1 else 0.
Definition pulled (m E : R) (lam u : vec) : vec := fun a => (m * (lam a * axis a) + E * (lam a * u a)) / (m + E).
(** N bounds the spectral norm of B. *)
Definition bounded_form (d : nat) (B : mat) (N : R) : Prop := forall v w, Rabs (bil d v B w) <= N * l2 d v * l2 d w.

Lemma bil_minus d u B v w : bil d u B v - bil d u B w = bil d u B (vsub v w).
Proof. rewrite !bil_dot. unfold dot, vsub. rewrite <- sum_minus. apply sum_ext. intros; ring. Qed.
Lemma unit_gap d u v : dot d u u = 1 -> dot d v v = 1 -> l2 d (vsub u v) <= 2.
Proof.
  intros U V. unfold l2. replace 2 with (sqrt (2 * 2)) by (apply sqrt_square; lra). apply sqrt_le_1_alt.
  assert (C := cauchy_schwarz d u v). rewrite U, V in C.
  replace (dot d (vsub u v) (vsub u v)) with (dot d u u - 2 * dot d u v + dot d v v)
    by (unfold dot, vsub; rewrite <- sum_scal, <- sum_minus, <- sum_plus; apply sum_ext; intros; ring).
  rewrite U, V. nra.
Qed.
Lemma axis_unit d : dot (S d) axis axis = 1.
Proof. unfold dot. rewrite sum_head. rewrite (sum_ext d _ (fun _ => 0)) by (intros; unfold axis; simpl; ring).
rewrite sum_zero. unfold axis. simpl. ring. Qed.

Theorem one_cluster d m lam B N u b : bounded_form (S d) B N -> dot (S d) u u = 1 -> 0 < m -> 0 < lam 0%nat ->
  (forall a, (a < S d)%nat -> b <= lam a <= lam 0%nat) -> let s := exp (2 * N) in
  let y := pulled m (exp (bil (S d) u B u - bil (S d) u B axis)) lam u in
  y 0%nat - dot (S d) u y * u 0%nat >= (1 - u 0%nat * u 0%nat) * (m * lam 0%nat - s * (lam 0%nat - b)) / (m + s).
Proof.
  intros HB U Hm Hl Hb s y. unfold y. set (E := exp _).
  assert (PE : 0 < E) by apply exp_pos. assert (Ps : 0 < s) by apply exp_pos.
  assert (ES : E <= s).
  { unfold E, s. rewrite bil_minus. set (z := bil _ _ _ _). assert (z <= 2 * N).
    { assert (Z := HB u (vsub u axis)). fold z in Z. assert (G := unit_gap (S d) u axis U (axis_unit d)).
      assert (L : l2 (S d) u = 1) by (unfold l2; rewrite U; apply sqrt_1). rewrite L in Z.
      assert (P : 0 <= l2 (S d) (vsub u axis)) by apply sqrt_pos.
      assert (0 <= N). { assert (Y := HB u u). rewrite L in Y. assert (0 <= Rabs (bil (S d) u B u)) by apply Rabs_pos.
      lra. }
      apply Rabs_le_between in Z. nra. }
    destruct (Rle_lt_or_eq_dec _ _ H) as [L|L]; [left; now apply exp_increasing|right; now rewrite L]. }
  set (h := u 0%nat). set (D := sum (S d) (fun a => (lam 0%nat - lam a) * (u a * u a))).
  assert (UU : sum (S d) (fun a => u a * u a) = 1) by exact U.
  assert (D0 : 0 <= D). { apply sum_nonneg. intros a Ha. specialize (Hb a Ha). assert (0 <= u a * u a) by nra. nra. }
  assert (D1 : D <= (lam 0%nat - b) * (1 - h * h)).
  { assert (T := sum_term_le (S d) (fun a => (lam a - b) * (u a * u a)) 0). cbv beta in T.
    assert (T' : (lam 0%nat - b) * (u 0%nat * u 0%nat) <= sum (S d) (fun a => (lam a - b) * (u a * u a))).
    { apply T; [|lia]. intros a Ha. specialize (Hb a Ha). assert (0 <= u a * u a) by nra. nra. }
    assert (Q : sum (S d) (fun a => (lam a - b) * (u a * u a)) = (lam 0%nat - b) - D).
    { unfold D. rewrite <- (Rmult_1_r (lam 0%nat - b)). rewrite <- UU at 1. rewrite <- sum_scal, <- sum_minus.
      apply sum_ext. intros; ring. }
    rewrite Q in T'. unfold h. nra. }
  assert (HH : 0 <= 1 - h * h).
  { assert (T := sum_term_le (S d) (fun a => u a * u a) 0). cbv beta in T. unfold h. rewrite <- UU.
    enough (u 0%nat * u 0%nat <= sum (S d) (fun a => u a * u a)) by lra.
    apply T; [|lia]. intros; nra. }
  assert (Y : dot (S d) u (pulled m E lam u) = (m * (lam 0%nat * h) + E * (lam 0%nat - D)) / (m + E)).
  { unfold dot, pulled. rewrite (sum_ext (S d) _ (fun a => / (m + E) * (m * (lam a * (axis a * u a)) + E * (lam a * (u
      a * u a))))) by (intros; unfold Rdiv; ring).
    rewrite sum_scal, sum_plus, !sum_scal. replace (sum (S d) (fun a => lam a * (axis a * u a))) with (lam 0%nat * h).
    2:{ rewrite sum_head. rewrite (sum_ext d _ (fun _ => 0)) by (intros; unfold axis; simpl; ring). rewrite sum_zero.
        unfold axis, h. simpl. ring. }
    replace (sum (S d) (fun a => lam a * (u a * u a))) with (lam 0%nat - D); [unfold Rdiv; ring|].
    unfold D. rewrite <- (Rmult_1_r (lam 0%nat)) at 1. rewrite <- UU at 1. rewrite <- sum_scal, <- sum_minus.
    apply sum_ext. intros; ring. }
  rewrite Y. unfold pulled. replace (axis 0%nat) with 1 by reflexivity. fold h.
  replace ((m * (lam 0%nat * 1) + E * (lam 0%nat * h)) / (m + E) - (m * (lam 0%nat * h) + E * (lam 0%nat - D)) / (m +
    E) * h)
    with ((m * lam 0%nat * (1 - h * h) + E * (h * D)) / (m + E)) by (field; lra).
  set (c := lam 0%nat - b) in *. set (l := lam 0%nat) in *. assert (C : 0 <= c) by (unfold c, l;
    specialize (Hb 0%nat ltac:(lia)); lra).
  assert (Cl : 0 <= l + c). { lra. }
  assert (HD : - (c * (1 - h * h)) <= h * D). { assert (-1 <= h) by nra. nra. }
  apply Rle_ge. apply Rle_trans with ((1 - h * h) * (m * l - E * c) / (m + E)).
  - unfold Rdiv. rewrite !Rmult_assoc. apply Rmult_le_compat_l; [exact HH|].
    apply Rmult_le_reg_r with ((m + s) * (m + E)); [apply Rmult_lt_0_compat; lra|].
    replace ((m * l - s * c) * / (m + s) * ((m + s) * (m + E))) with ((m * l - s * c) * (m + E)) by (field; lra).
    replace ((m * l - E * c) * / (m + E) * ((m + s) * (m + E))) with ((m * l - E * c) * (m + s)) by (field; lra).
    assert (0 <= (s - E) * (m * (l + c))) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]). nra.
  - apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
    assert (E * - (c * (1 - h * h)) <= E * (h * D)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** karagodin2024:subspace-two: p, q are the parts of the two tokens in L; q moves with lam (a p + b q) - mu q. *)
Definition cosine (l : nat) (p q : vec) : R := dot l p q / (l2 l p * l2 l q).
Definition turning (l : nat) (p q w : vec) : R := (dot l p w / l2 l p - cosine l p q * (dot l q w / l2 l q)) / l2 l q.

Theorem subspace_two l p q lam a b mu N : 0 < l2 l p -> 0 < l2 l q <= 1 -> 0 <= lam -> 1 / (1 + exp (2 * N)) <= a ->
  let w := fun k => lam * (a * p k + b * q k) - mu * q k in let c := cosine l p q in
  turning l p q w = a * lam * (l2 l p / l2 l q) * (1 - c * c) /\
  lam * l2 l p * (1 - c * c) / (1 + exp (2 * N)) <= turning l p q w.
Proof.
  intros Hp Hq Hl Ha w c. assert (PP : dot l p p = l2 l p * l2 l p) by (symmetry; apply sqrt_sqrt, dot_pos).
  assert (QQ : dot l q q = l2 l q * l2 l q) by (symmetry; apply sqrt_sqrt, dot_pos).
  assert (DW : forall v, dot l v w = lam * a * dot l v p + (lam * b - mu) * dot l v q).
  { intros v. unfold dot, w. rewrite <- !sum_scal, <- sum_plus. apply sum_ext. intros; ring. }
  assert (Eq : turning l p q w = a * lam * (l2 l p / l2 l q) * (1 - c * c)).
  { unfold turning. fold c. rewrite !DW, PP, QQ, (dot_sym l q p).
    replace (dot l p q) with (c * (l2 l p * l2 l q)) by (unfold c, cosine; field; lra). field. lra. }
  split; [exact Eq|]. rewrite Eq. assert (C1 : 0 <= 1 - c * c).
  { assert (CS := cauchy_schwarz l p q). rewrite PP, QQ in CS. unfold c, cosine.
    replace (dot l p q / (l2 l p * l2 l q) * (dot l p q / (l2 l p * l2 l q))) with (dot l p q * dot l p q / (l2 l p *
      l2 l p * (l2 l q * l2 l q))) by (field; lra).
    set (D := l2 l p * l2 l p * (l2 l q * l2 l q)) in *. assert (HD : 0 < D) by (unfold D;
      repeat apply Rmult_lt_0_compat; lra).
    apply (Rmult_le_compat_r (/ D)) in CS; [|left; now apply Rinv_0_lt_compat]. rewrite Rinv_r in CS by lra.
    unfold Rdiv. lra. }
  assert (P : 0 < 1 + exp (2 * N)) by (assert (0 < exp (2 * N)) by apply exp_pos; lra).
  replace (lam * l2 l p * (1 - c * c) / (1 + exp (2 * N))) with (1 / (1 + exp (2 * N)) * (lam * l2 l p * (1 - c * c) *
    1)) by (field; lra).
  replace (a * lam * (l2 l p / l2 l q) * (1 - c * c)) with (a * (lam * l2 l p * (1 - c * c) * / l2 l q)) by (field;
    lra).
  assert (0 <= lam * l2 l p * (1 - c * c)) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|exact C1]).
  apply Rmult_le_compat; [left; apply Rdiv_lt_0_compat; lra|lra|exact Ha|].
  apply Rmult_le_compat_l; [assumption|]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
Qed.

(** karagodin2025:4.3.  Tokens that are all u or -u, |u| = 1, rest under x_i' = P_{x_i} (sum_k a_ik x_k),
  whatever the weights a [opposite_rest]; so their
    variance does not fall.  With n = 2 and beta = 1/100 they satisfy 1 - <x_j,
      x_k> < 1/(100 n^2 beta^2) [in_the_cone]. *)

Section Opposite.
Variables (n d : nat) (u : vec) (sign : nat -> R) (a : mat).
Hypothesis unit : dot d u u = 1.
Hypothesis signs : forall k, sign k = 1 \/ sign k = -1.
Let X : mat := fun k c => sign k * u c.
Let y (i : nat) : vec := fun c => sum n (fun k => a i k * X k c).

Theorem opposite_rest i c : y i c - dot d (X i) (y i) * X i c = 0.
Proof.
  set (t := sum n (fun k => a i k * sign k)).
  assert (E : forall b, y i b = t * u b). { intros b. unfold y, t, X. rewrite <- sum_scal_r. apply sum_ext.
  intros; ring. }
  assert (D : dot d (X i) (y i) = sign i * t).
  { unfold dot. rewrite (sum_ext d _ (fun b => sign i * t * (u b * u b))) by (intros b _; rewrite E; unfold X; ring).
    rewrite sum_scal. fold (dot d u u). rewrite unit. ring. }
  rewrite D, E. unfold X. destruct (signs i) as [-> | ->]; ring.
Qed.

Theorem in_the_cone j k : 1 - dot d (X j) (X k) < 1 / (100 * 2 ^ 2 * (/ 100) ^ 2).
Proof.
  replace (dot d (X j) (X k)) with (sign j * sign k).
  - destruct (signs j) as [-> | ->], (signs k) as [-> | ->]; lra.
  - unfold dot, X. rewrite (sum_ext d _ (fun b => sign j * sign k * (u b * u b))) by (intros; ring). rewrite sum_scal.
    fold (dot d u u). rewrite unit. ring.
Qed.
End Opposite.
