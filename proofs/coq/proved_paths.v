(** Registered statements about sums over paths, kernels, shares and flows of one token, as Statements.v prints them.
  *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality Binomial.
From Coquelicot Require Import Coquelicot.
From Rankmath Require dong2021 he2023 kim2021 chen2026 karagodin2024.
From Rankmath Require Import Definitions Functions Norms SphereLayer Language LanguageFacts Statements.
From Rankmath Require proved_rank.
Local Open Scope R_scope.

(* ---------- paths ---------- *)
Lemma through_turn p t h : through_heads (turn p t h) t = through_heads p t.
Proof.
  assert (G : forall s, (s <= t)%nat -> through_heads (turn p t h) s = through_heads p s); [|now apply G].
  induction s as [|s IH]; intros Hs; [reflexivity|]. cbn [through_heads]. rewrite IH by lia. unfold turn.
  destruct (Nat.eqb_spec s t); [lia|reflexivity].
Qed.

Lemma path_count k t : forall j, sum_paths (fun _ => S k) t (fun p => if Nat.eqb (through_heads p t) j then 1 else 0)
  = if Nat.leb j t then Binomial.C t j * INR k ^ j else 0.
Proof.
  induction t as [|t IH]; intro j.
  - cbn. destruct j as [|j]; cbn; [|reflexivity]. unfold Binomial.C. simpl. field.
  - cbn [sum_paths]. rewrite (dong2021.sum_paths_ext _ _ _ (fun p => (if Nat.eqb (through_heads p t) j then 1 else
    0)
      + INR k * match j with O => 0 | S i => if Nat.eqb (through_heads p t) i then 1 else 0 end)).
    + rewrite dong2021.sum_paths_plus, dong2021.sum_paths_scal. rewrite IH.
      destruct j as [|i].
      * rewrite (dong2021.sum_paths_ext _ t (fun _ => 0) (fun _ => 0 * 0)) by (intro; ring).
        rewrite dong2021.sum_paths_scal.
        cbn [Nat.leb]. assert (Z : forall m, Binomial.C m 0 = 1) by (intro m; unfold Binomial.C; rewrite Nat.sub_0_r;
          simpl; field; apply INR_fact_neq_0). rewrite !Z. simpl. ring.
      * rewrite IH. change (Nat.leb (S i) (S t)) with (Nat.leb i t).
        destruct (Nat.leb_spec i t) as [L|L]; destruct (Nat.leb_spec (S i) t) as [L'|L']; try lia; try ring.
        -- rewrite <- (pascal t i) by lia. cbn [pow]. ring.
        -- replace i with t by lia. assert (Z : forall m, Binomial.C m m = 1) by (intro m; unfold Binomial.C;
          rewrite Nat.sub_diag; simpl; field; apply INR_fact_neq_0). rewrite !Z. simpl. ring.
    + intro p. rewrite sum_head. cbn [through_heads]. rewrite !through_turn, dong2021.turn_at. cbn [Nat.add].
      f_equal. rewrite <- sum_const. apply sum_ext; intros h _. rewrite through_turn, dong2021.turn_at.
        cbn [Nat.add].
      destruct j; reflexivity.
Qed.

Theorem proved_dong2021_2_1_skip : statement_dong2021_2_1_skip.
Proof.
  intros t k n d X P W b lam Ht Hk Hn Hd St. split; [|intros j Hj; rewrite path_count; destruct (Nat.leb_spec j t);
    [reflexivity|lia]].
  set (P' := fun l => with_skip eye (P l)). set (W' := fun l => with_skip (fun a c => lam * eye a c) (W l)).
  exists (dong2021.path_bias d (fun _ => S k) W' b t). intros i a Hi Ha.
  apply (dong2021.paths n d (fun _ => S k) P' W' b (layered X P W b lam) t); auto.
  - intros l h j Hl Hh Hj. destruct h as [|h]; [|now apply (St l h Hl ltac:(lia))].
    cbn [P' with_skip]. rewrite (sum_single n (eye j) j Hj); [apply eye_same|]. intros c _ Hc.
      now apply eye_diff, not_eq_sym.
  - intros l j c Hl Hj Hc. rewrite sum_head. cbn [layered]. f_equal. f_equal.
    unfold P', W', with_skip. unfold vmat at 1.
    rewrite (sum_ext d _ (fun e => lam * layered X P W b lam l j e * eye e c)).
    + symmetry. apply (sum_eye_r d (fun e => lam * layered X P W b lam l j e) c Hc).
    + intros e _. unfold vmat. rewrite (sum_eye_l n (fun q => layered X P W b lam l q e) j Hj). ring.
Qed.

Theorem proved_dong2021_2_1 : statement_dong2021_2_1.
Proof. intros t k n d X P W b lam Ht Hk Hn Hd St _. now apply proved_dong2021_2_1_skip. Qed.

(* ---------- kernels ---------- *)
(** A lower triangular matrix with a positive diagonal has an inverse, on both sides. *)
Lemma triangular_inverse n (L : mat) : (forall i j, (i < n)%nat -> (j < n)%nat -> (i < j)%nat -> L i j = 0) -> (forall
  i, (i < n)%nat -> 0 < L i i) ->
  exists Y : mat, (forall i j, (i < n)%nat -> (j < n)%nat -> mmul n L Y i j = eye i j) /\ forall i j, (i < n)%nat ->
    (j < n)%nat -> mmul n Y L i j = eye i j.
Proof.
  intros Lo Di.
  destruct (proved_rank.right_inverse n n L) as [Y HY].
  { intros v Hv. assert (G : forall m i, (n - m <= i)%nat -> (i < n)%nat -> v i = 0); [|intros i Hi; apply (G n);
    lia].
    induction m as [|m IH]; intros i H1 H2; [lia|]. destruct (Nat.le_gt_cases (n - m) i) as [Q|Q]; [now apply IH|].
    assert (E := Hv i H2). rewrite (sum_single n _ i H2) in E.
    - apply Rmult_integral in E. destruct E as [E|E]; [exact E|]. assert (D := Di i H2). lra.
    - intros j Hj Ne. destruct (Nat.lt_ge_cases j i) as [K|K]; [rewrite (Lo j i) by assumption;
      ring|rewrite (IH j) by lia; ring]. }
  exists Y. split; [exact HY|]. intros i j Hi Hj.
  (* L (Y L - I) = 0, and L z = 0 only for z = 0 *)
  set (z := fun k => mmul n Y L k j - eye k j).
  assert (Z : forall r, (r < n)%nat -> sum n (fun k => L r k * z k) = 0).
  { intros r Hr. unfold z. rewrite (sum_ext n _ (fun k => L r k * mmul n Y L k j - L r k * eye k j)) by (intros;
    ring).
    rewrite sum_minus, (sum_eye_r n (L r) j Hj). unfold mmul. change (sum n (fun k => L r k * vmat n (Y k) L j)) with
      (vmat n (L r) (mmul n Y L) j).
    rewrite <- vmat_assoc. unfold vmat at 1. rewrite (sum_ext n _ (fun a => eye r a * L a j)) by (intros a Ha;
      rewrite (HY r a Hr Ha : vmat n (L r) Y a = _); reflexivity).
    rewrite (sum_eye_l n (fun a => L a j) r Hr). ring. }
  assert (G : forall r, (r < n)%nat -> z r = 0).
  { induction r as [r IH] using lt_wf_ind; intros Hr. assert (E := Z r Hr). rewrite (sum_single n _ r Hr) in E.
    - apply Rmult_integral in E. destruct E as [E|E]; [|exact E]. assert (D := Di r Hr). lra.
    - intros k Hk Ne. destruct (Nat.lt_ge_cases k r) as [K|K]; [rewrite (IH k) by lia; ring|rewrite (Lo r k) by lia;
      ring]. }
  assert (Q := G i Hi). unfold z in Q. lra.
Qed.

Lemma carried n (A B La Lb : mat) : factor n A La -> factor n B Lb ->
  (forall M : mat, (forall i j, (i < n)%nat -> (j < n)%nat -> mmul n M La i j = Lb i j) -> forall i j, (i < n)%nat ->
    (j < n)%nat -> 0 <= M i j) ->
  carries n A B.
Proof.
  intros Fa Fb H. destruct (triangular_inverse n La (proj1 Fa) (proj1 (proj2 Fa))) as (Y & Y1 & Y2).
  exists La, Lb, Y. split; [exact Fa|split; [exact Fb|split; [|split; [|split; [exact Y1|]]]]].
  - intros L FL i j Hi Hj. exact (he2023.factor_unique n A L La FL Fa j i Hj Hi).
  - intros L FL i j Hi Hj. exact (he2023.factor_unique n B L Lb FL Fb j i Hj Hi).
  - intros i j Hi Hj. apply (H (mmul n Lb Y)); auto. clear i j Hi Hj. intros i j Hi Hj.
    change (vmat n (vmat n (Lb i) Y) La j = Lb i j).
    rewrite vmat_assoc. unfold vmat. rewrite (sum_ext n _ (fun a => Lb i a * eye a j)) by (intros a Ha;
      now rewrite Y2).
    now apply sum_eye_r.
Qed.

Theorem proved_he2023_e_spa : statement_he2023_e_spa.
Proof.
  intros a b n Hn a0 ab b1. assert (Fa := he2023.Lexp_factor n a ltac:(lra)).
    assert (Fb := he2023.Lexp_factor n b ltac:(lra)).
  apply (carried n _ _ _ _ Fa Fb). intros M HM. apply (he2023.e_spa n a b _ _ M ltac:(lra) b1 Fa Fb HM).
Qed.

Theorem proved_he2023_u_spa : statement_he2023_u_spa.
Proof.
  intros a b n Hn a0 ab b1. assert (Fa := he2023.Luni_factor a ltac:(lra) n).
    assert (Fb := he2023.Luni_factor b ltac:(lra) n).
  apply (carried n _ _ _ _ Fa Fb). intros M HM. apply (he2023.u_spa n a b _ _ M ltac:(lra) b1 Fa Fb HM).
Qed.

Theorem proved_own_l2_lower : statement_own_l2_lower.
Proof. intros m Hm. apply Rle_ge. exact (kim2021.crowd m ltac:(lra)). Qed.

(* ---------- tokens with equal angles ---------- *)
Theorem proved_chen2026_2_1 : statement_chen2026_2_1.
Proof.
  intros g rho m r0 m2 mg g1. intros d X HX.
  set (P := fun i j => (if Nat.eqb i j then 1 else rho) / (1 + (INR m - 1) * rho)).
    set (Y := fun i => vmat m (P i) X).
  change ((forall i, (i < m)%nat -> 0 < l2 d (Y i)) /\ forall i j, (i < m)%nat -> (j < m)%nat -> i <> j ->
    dot d (Y i) (Y j) / (l2 d (Y i) * l2 d (Y j)) = 1 - (1 - rho) ^ 2 * (1 - g) /
      ((1 - rho) ^ 2 + rho * (2 - 2 * rho + INR m * rho) * (1 + (INR m - 1) * g))).
  assert (M2 := le_INR 2 m m2). change (INR 2) with 2 in M2.
  set (D := 1 + (INR m - 1) * rho). assert (D0 : 0 < D) by (unfold D; nra).
  set (sg := 1 + (INR m - 1) * g). assert (sg0 : 0 < sg) by (unfold sg; lra).
  set (y := fun i a => (1 - rho) * X i a + rho * sum m (fun j => X j a)).
  assert (E : forall i a, (i < m)%nat -> Y i a = / D * y i a).
  { intros i a Hi. unfold Y, vmat, P. fold D.
    rewrite (sum_ext m _ (fun j => / D * (rho * X j a + (if Nat.eqb j i then (1 - rho) * X j a else 0)))).
    - rewrite sum_scal, sum_plus, sum_scal, (sum_single m (fun j => if Nat.eqb j i then (1 - rho) * X j a else 0) i
      Hi).
      + rewrite Nat.eqb_refl. unfold y. ring.
      + intros j _ Ne. apply Nat.eqb_neq in Ne. now rewrite Ne.
    - intros j _. rewrite Nat.eqb_sym. destruct (Nat.eqb j i); field; lra. }
  set (q := fun i j => (1 - rho) ^ 2 * (if Nat.eqb i j then 1 else g) + 2 * rho * (1 - rho) * sg + INR m * rho ^ 2 *
    sg).
  assert (Q : forall i j, (i < m)%nat -> (j < m)%nat -> dot d (Y i) (Y j) = / D * / D * q i j).
  { intros i j Hi Hj. assert (T := chen2026.equiangular m d X g rho HX i j Hi Hj). fold sg in T. unfold q.
    rewrite <- T.
    unfold dot. rewrite <- sum_scal. apply sum_ext; intros a _. rewrite !E by assumption. unfold y. ring. }
  set (s := (1 - rho) ^ 2 + rho * (2 - 2 * rho + INR m * rho) * sg).
  assert (s0 : 0 < s).
  { unfold s. assert (0 <= (1 - rho) ^ 2) by apply pow2_ge_0. assert (0 < 2 - 2 * rho + INR m * rho) by nra.
    assert (0 < rho * (2 - 2 * rho + INR m * rho) * sg) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; lra).
      lra. }
  assert (i0 : 0 < / D) by now apply Rinv_0_lt_compat.
  assert (Ln : forall i, (i < m)%nat -> l2 d (Y i) = sqrt (/ D * / D * s)).
  { intros i Hi. unfold l2. rewrite Q by assumption. f_equal. unfold q, s. rewrite Nat.eqb_refl. ring. }
  assert (p0 : 0 < / D * / D * s) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; lra).
  split; [intros i Hi; rewrite Ln by exact Hi; now apply sqrt_lt_R0|].
  intros i j Hi Hj Ne. rewrite !Ln, sqrt_sqrt, Q by (assumption || lra). unfold q. apply Nat.eqb_neq in Ne.
    rewrite Ne. fold sg. unfold s.
  field. fold s. lra.
Qed.

(* ---------- a token that sees itself and others at e_0 ---------- *)
Theorem proved_own_flow_one_cluster : statement_own_flow_one_cluster.
Proof.
  intros d lam B x m Hd Hx s Fl Hm Hs. unfold first_value, least_value, off_axis, form_size in *. destruct d as [|d];
    [lia|].
  set (u := unit_of x). assert (U : dot (S d) u u = 1).
  { unfold u, unit_of, dot. rewrite (sum_ext (S d) _ (fun a => / l2 (S d) x * / l2 (S d) x * (x a * x a))) by (intros;
    unfold Rdiv; ring).
    rewrite sum_scal. fold (dot (S d) x x). assert (E : dot (S d) x x = l2 (S d) x * l2 (S d) x) by (symmetry;
      apply sqrt_sqrt, dot_pos).
    rewrite E. field. lra. }
  assert (Lb : forall a, (a < S d)%nat -> least (S d) lam <= lam a <= lam 0%nat) by (intros a Ha; split;
    [now apply least_lb|now apply Fl]).
  assert (s0 : 0 < s) by apply exp_pos. assert (l0 : 0 < lam 0%nat).
  { assert (Q := Lb 0%nat ltac:(lia)). assert (0 <= s * (lam 0%nat - least (S d) lam)) by (apply Rmult_le_pos; lra).
    nra. }
  assert (T := karagodin2024.one_cluster d m lam B (spectral B) u (least (S d) lam) (fun v w => bil_spectral (S d) B v
    w) U Hm l0 Lb).
  cbv zeta in T. fold s in T. replace (1 - u 0%nat ^ 2) with (1 - u 0%nat * u 0%nat) by ring.
  unfold climb. fold u. eapply Rge_trans; [right|exact T].
  assert (A : karagodin2024.axis = eye 0%nat) by (apply functional_extensionality; intro a;
    unfold karagodin2024.axis, eye; now rewrite Nat.eqb_sym).
  rewrite A. set (e := eye 0%nat). set (z := bil (S d) u B e). set (o := bil (S d) u B u).
  assert (V : forall a, (m * exp z * (lam a * e a) + exp o * (lam a * u a)) / (m * exp z + exp o) =
    karagodin2024.pulled m (exp (o - z)) lam u a).
  { intro a. unfold karagodin2024.pulled. rewrite A. fold e. replace (exp o) with (exp z * exp (o - z)) by (rewrite <-
    exp_plus; f_equal; ring).
    assert (0 < exp z) by apply exp_pos. assert (0 < exp (o - z)) by apply exp_pos. field. split; [lra|]. nra. }
  rewrite V. f_equal. f_equal. unfold dot. apply sum_ext; intros a _. now rewrite V.
Qed.

(* ---------- two tokens and a subspace ---------- *)
Lemma l2_first k d (x : vec) : (k <= d)%nat -> l2 k x <= l2 d x.
Proof.
  intros H. unfold l2, dot. apply sqrt_le_1_alt. replace d with (k + (d - k))%nat by lia. rewrite sum_split.
  assert (0 <= sum (d - k) (fun i => x (k + i)%nat * x (k + i)%nat)) by (apply sum_nonneg; intros; nra). lra.
Qed.
Lemma l2_scaled k (x : vec) c : 0 < c -> l2 k (fun a => x a / c) = l2 k x / c.
Proof.
  intros Hc. unfold l2, dot, Rdiv. rewrite (sum_ext k _ (fun a => / c * / c * (x a * x a))) by (intros; ring).
  assert (0 < / c) by now apply Rinv_0_lt_compat.
  rewrite sum_scal, sqrt_mult_alt by nra. rewrite sqrt_square by lra. ring.
Qed.

Theorem proved_karagodin2024_subspace_two : statement_karagodin2024_subspace_two.
Proof.
  intros m d lam M B X Hl Ps. assert (P : forall i, (i < 2)%nat -> 0 < l2 (d - m) (X i)) by (intros; now apply
    sqrt_lt_R0, Ps). clear Ps. set (k := (d - m)%nat) in *. assert (kd : (k <= d)%nat) by (unfold k; lia).
  assert (P0 := P 0%nat ltac:(lia)). assert (P1 := P 1%nat ltac:(lia)).
  assert (L : forall i, (i < 2)%nat -> 0 < l2 d (X i)) by (intros i Hi; eapply Rlt_le_trans; [exact (P i Hi)|now apply l2_first]).
  assert (L0 := L 0%nat ltac:(lia)). assert (L1 := L 1%nat ltac:(lia)).
  set (p := first_part M X 0). set (q := first_part M X 1). fold k in p, q.
  assert (Hp : l2 k p = l2 k (X 0%nat) / l2 d (X 0%nat)) by (apply l2_scaled; exact L0).
  assert (Hq : l2 k q = l2 k (X 1%nat) / l2 d (X 1%nat)) by (apply l2_scaled; exact L1).
  assert (p0 : 0 < l2 k p) by (rewrite Hp; now apply Rdiv_lt_0_compat).
  assert (q0 : 0 < l2 k q) by (rewrite Hq; now apply Rdiv_lt_0_compat).
  assert (q1 : l2 k q <= 1).
  { rewrite Hq. apply (Rmult_le_reg_r (l2 d (X 1%nat))); [exact L1|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
    assert (Q := l2_first k d (X 1%nat) kd). lra. }
  set (u := fun i => unit_of (row X i)) in *.
  set (s := exp (bil d (u 1%nat) B (vsub (u 1%nat) (u 0%nat)))). assert (s0 : 0 < s) by apply exp_pos.
  assert (U : forall i, (i < 2)%nat -> l2 d (u i) = 1).
  { intros i Hi. unfold u, unit_of, row. rewrite l2_scaled by now apply L. apply Rinv_r, Rgt_not_eq. now apply L. }
  assert (N0 := spectral_nonneg d d B).
  assert (Ss : s <= exp (2 * form_size B)).
  { apply exp_le. unfold form_size. eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply bil_spectral|].
    assert (UU : forall i, (i < 2)%nat -> dot d (u i) (u i) = 1).
    { intros i Hi. rewrite <- (sqrt_sqrt _ (dot_pos d (u i))). fold (l2 d (u i)). rewrite U by exact Hi. ring. }
    rewrite U by lia. assert (D := karagodin2024.unit_gap d _ _ (UU 1%nat ltac:(lia)) (UU 0%nat ltac:(lia))).
    assert (0 <= l2 d (vsub (u 1%nat) (u 0%nat))) by apply sqrt_pos. nra. }
  assert (T := karagodin2024.subspace_two k p q lam (/ (1 + s)) (s / (1 + s)) 0 (form_size B) p0 (conj q0 q1) ltac:(lra)).
  destruct T as [_ T].
  { unfold Rdiv. rewrite Rmult_1_l. apply Rinv_le_contravar; lra. }
  cbv zeta in T.
  assert (Sq : sine_square M X = 1 - karagodin2024.cosine k p q * karagodin2024.cosine k p q).
  { unfold sine_square. fold k. unfold karagodin2024.cosine. rewrite Hp, Hq.
    assert (E : forall i, (i < 2)%nat -> dot k (X i) (X i) = l2 k (X i) * l2 k (X i)) by (intros; symmetry; apply sqrt_sqrt, dot_pos).
    assert (D : dot k p q = dot k (X 0%nat) (X 1%nat) / (l2 d (X 0%nat) * l2 d (X 1%nat))).
    { unfold p, q, first_part, unit_of, row, dot, Rdiv. rewrite (sum_ext k _ (fun a => / (l2 d (X 0%nat) * l2 d (X 1%nat)) * (X 0%nat a * X 1%nat a))) by (intros; field; lra).
      rewrite sum_scal. ring. }
    rewrite !E by lia. rewrite D. field. lra. }
  rewrite Sq. unfold lead. fold k p. apply Rle_ge. eapply Rle_trans; [exact T|]. right.
  set (v := fun a => lam * (p a + s * q a) / (1 + s)).
  assert (W : forall x, dot k x (fun a => lam * (/ (1 + s) * p a + s / (1 + s) * q a) - 0 * q a) = dot k x v).
  { intro x. unfold v, dot. apply sum_ext. intros a _. field. lra. }
  change (aligning lam M B X) with ((dot k p v / l2 k p - dot k p q / (l2 k p * l2 k q) * dot k q v / l2 k q) / l2 k q).
  unfold karagodin2024.turning, karagodin2024.cosine. rewrite !W. field. lra.
Qed.
