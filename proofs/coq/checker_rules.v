(** The rules of the certificate checker ([rankmath/checker/rules.py]) that [kernel_rules.v] does not hold: what each
  text
    computes, and the theorem by which that is what the word means.
    A test lists the words of the checker's text and the theorem
    of each; together with [Acceptance.v] they say that what is accepted is true. *)
Require Import Reals ZArith Lra Lia Psatz Classical List.
From Coquelicot Require Import Coquelicot.
From Flocq Require Import Core.
From Rankmath Require Import Definitions Functions Norms Language LanguageFacts Spectrum kernel_rules.
From Rankmath Require equilibrium.
Local Open Scope R_scope.

(* ---------- functions of numbers ---------- *)
(** tanh(x) = 2/(1 + exp(0 - 2*x)) - 1 *)
Theorem rule_tanh x : tanh x = 2 / (1 + exp (0 - 2 * x)) - 1.
Proof.
  rewrite tanh_exp2. assert (P := exp_pos (2 * x)). replace (0 - 2 * x) with (- (2 * x)) by ring. rewrite exp_Ropp.
  field. lra.
Qed.
(** floor(x): whole_part(lower(x)) if that of upper(x) is the same *)
Theorem rule_floor l x u : l <= x <= u -> Zfloor l = Zfloor u -> Zfloor x = Zfloor l.
Proof. intros [A B] E. assert (C := Zfloor_le _ _ A). assert (D := Zfloor_le _ _ B). lia. Qed.
(** real_power(x, e): sqrt(x)**twice where twice == 2*e, else exp(e*log(x)); 0 at x = 0 *)
Theorem rule_real_power x e : 0 < x ->
  power x e = exp (e * ln x) /\ forall twice, IZR twice = 2 * e -> power x e = powerRZ (sqrt x) twice.
Proof.
  intros X. unfold power. destruct (Rle_dec x 0) as [|_]; [lra|]. split; [reflexivity|]. intros t E.
  rewrite <- Rpower_sqrt by exact X. rewrite powerRZ_Rpower by apply exp_pos. rewrite Rpower_mult. f_equal. lra.
Qed.
Theorem rule_power_zero e : power 0 e = 0.
Proof. unfold power. destruct (Rle_dec 0 0); [reflexivity|lra]. Qed.
(** log(x): from log_near(lower(x), g) to log_near(upper(x), h), for any g and h; log_by(t) = between(1 - 1/t, t - 1) *)
Theorem rule_log t : 0 < t -> 1 - 1 / t <= ln t <= t - 1.
Proof.
  intros T. assert (U : forall s, 0 < s -> ln s <= s - 1).
  { intros s Hs. rewrite <- (ln_exp (s - 1)). apply ln_le; [exact Hs|]. assert (Q := exp_ineq1_le (s - 1)). lra. }
  split; [|now apply U]. assert (I : 0 < / t) by (now apply Rinv_0_lt_compat). assert (V := U (/ t) I).
  rewrite ln_Rinv in V by exact T.
  unfold Rdiv. lra.
Qed.
Theorem rule_log_near x g : 0 < x -> let t := x * exp (0 - g) in
  t = x / exp g /\ g + (1 - 1 / t) <= ln x <= g + (t - 1).
Proof.
  intros X t. assert (E : exp (0 - g) = / exp g) by (rewrite Rminus_0_l; apply exp_Ropp). assert (G := exp_pos g).
  assert (T : 0 < t) by (unfold t; apply Rmult_lt_0_compat; [exact X|apply exp_pos]). assert (R := rule_log t T).
  assert (L : ln t = ln x - g) by (unfold t; rewrite ln_mult by (try exact X; apply exp_pos); rewrite ln_exp; ring).
  split; [unfold t; rewrite E; reflexivity|lra].
Qed.
Theorem rule_log_grows l x u : 0 < l -> l <= x <= u -> ln l <= ln x <= ln u.
Proof. intros L [A B]. split; apply ln_le; lra. Qed.
(** x_star: e^x - 1 - 2x changes its sign once for x > 0 *)
Theorem rule_x_star a b x : 0 < a -> exp a <= 1 + 2 * a -> a <= b -> exp b >= 1 + 2 * b -> is_x_star x -> a <= x <= b.
Proof.
  intros A Ea AB Eb [X Ex].
  (* the chord of e^x from 0: below the second zero the function is below the line, above it above *)
  assert (C : forall u v, 0 < u < v -> exp v <= 1 + 2 * v -> exp u < 1 + 2 * u).
  { intros u v Huv H. assert (T := exp_convex_strict (u / v) v). assert (0 < u / v < 1).
    { split; [apply Rdiv_lt_0_compat; lra|]. apply Rmult_lt_reg_r with v; [lra|]. unfold Rdiv.
      rewrite Rmult_assoc, Rinv_l by lra. lra. }
    specialize (T ltac:(lra) ltac:(lra)). replace (u / v * v) with u in T by (field; lra).
    assert (u / v * exp v <= u / v * (1 + 2 * v)) by (apply Rmult_le_compat_l; lra).
    replace (u / v * (1 + 2 * v)) with (u / v + 2 * u) in * by (field; lra). lra. }
  split; apply Rnot_lt_le; intro L.
  - assert (Q := C x a ltac:(lra) Ea). lra.
  - assert (Q := C b x ltac:(lra) ltac:(lra)). lra.
Qed.
(** surprise(x) = -x log x of a share: it grows up to 1/e, and is at most 1 *)
Theorem rule_surprise x : 0 < x <= 1 -> 0 <= - (x * ln x) <= 1.
Proof.
  intros H. assert (L := rule_log x ltac:(lra)). split.
  - assert (ln x <= 0) by lra. nra.
  - assert (E : x * (1 - 1 / x) <= x * ln x) by (apply Rmult_le_compat_l; lra).
    replace (x * (1 - 1 / x)) with (x - 1) in E by (field; lra). lra.
Qed.
Theorem rule_surprise_grows x u : 0 < x <= u -> u <= / 3 -> - (x * ln x) <= - (u * ln u).
Proof.
  intros H U. assert (A := rule_log (u / x) ltac:(apply Rdiv_lt_0_compat; lra)).
  rewrite ln_div in A by lra. assert (N : ln u <= - 1).
  { rewrite <- (ln_exp (- 1)). apply ln_le; [lra|]. apply Rle_trans with (/ 3); [exact U|].
    change (-1) with (Ropp 1). rewrite exp_Ropp. apply Rinv_le_contravar; [apply exp_pos|]. exact exp_le_3. }
  assert (x * (ln u - ln x) <= x * (u / x - 1)) by (apply Rmult_le_compat_l; lra).
  replace (x * (u / x - 1)) with (u - x) in * by (field; lra). nra.
Qed.
(** softmax(L, m): with e_j = m_j e^(L_j - t), for any t, and r_j the sum of the others *)
Theorem rule_softmax n (m l : vec) t j : (j < n)%nat -> 0 < sum n (fun k => m k * exp (l k)) ->
  let e := fun k => m k * exp (l k - t) in let r := sum n (fun k => if Nat.eqb j k then 0 else e k) in
  softmax n m l j = e j / (r + e j) /\ (0 < e j -> softmax n m l j = 1 / (1 + r / e j)).
Proof.
  intros Hj P e r. assert (T := exp_pos t).
  assert (E : forall k, m k * exp (l k) = e k * exp t).
  { intro k. unfold e. replace (exp (l k)) with (exp (l k - t) * exp t) by (rewrite <- exp_plus; f_equal; ring). ring. }
  assert (S : sum n (fun k => m k * exp (l k)) = sum n e * exp t) by (rewrite <- sum_scal_r; apply sum_ext; intros;
    apply E).
  assert (S0 : 0 < sum n e) by (rewrite S in P; nra).
  assert (R : sum n e = r + e j).
  { unfold r. rewrite (sum_ext n e (fun k => (if Nat.eqb j k then 0 else e k) + (if Nat.eqb j k then e k else 0))).
    - rewrite sum_plus. f_equal. rewrite (sum_single n _ j Hj); [now rewrite Nat.eqb_refl|].
      intros k _ N. destruct (Nat.eqb_spec j k); [congruence|reflexivity].
    - intros k _. destruct (Nat.eqb j k); ring. }
  assert (A : softmax n m l j = e j / (r + e j)).
  { unfold softmax, tilt. rewrite S, E, <- R. field. lra. }
  split; [exact A|]. intros Pe. rewrite A. rewrite R in S0. field. lra.
Qed.
Theorem rule_softmax_equal n (m l : vec) a j : (forall k, (k < n)%nat -> m k = 0 \/ l k = a) -> sum n m <> 0 ->
  (j < n)%nat ->
  softmax n m l j = m j / sum n m.
Proof.
  intros H N Hj. assert (E : forall k, (k < n)%nat -> m k * exp (l k) = m k * exp a) by (intros k Hk;
    destruct (H k Hk) as [-> | ->]; ring).
  unfold softmax, tilt. rewrite (E j Hj), (sum_ext n _ (fun k => m k * exp a) E), sum_scal_r. assert (P := exp_pos a).
  field. lra.
Qed.

(* ---------- derivatives ---------- *)
(** The kernel's operations and their slopes: +, -, *, /, powers, sqrt, exp. *)
Theorem rule_slopes (f g : R -> R) (t f' g' : R) : is_derive f t f' -> is_derive g t g' ->
  is_derive (fun s => f s + g s) t (1 * f' + 1 * g') /\ is_derive (fun s => f s - g s) t (1 * f' + -1 * g') /\
  is_derive (fun s => f s * g s) t (g t * f' + f t * g') /\
  (g t <> 0 -> is_derive (fun s => f s / g s) t (1 / g t * f' + - (f t / g t) * (1 / g t) * g')) /\
  (forall k, is_derive (fun s => f s ^ S k) t (INR (S k) * f t ^ k * f')) /\
  (0 < f t -> is_derive (fun s => sqrt (f s)) t (1 / (2 * sqrt (f t)) * f')) /\
  is_derive (fun s => exp (f s)) t (exp (f t) * f').
Proof.
  intros Hf Hg. refine (conj _ (conj _ (conj _ (conj _ (conj _ (conj _ _)))))).
  - replace (1 * f' + 1 * g') with (f' + g') by ring. exact (is_derive_plus f g t f' g' Hf Hg).
  - replace (1 * f' + -1 * g') with (f' - g') by ring. exact (is_derive_minus f g t f' g' Hf Hg).
  - replace (g t * f' + f t * g') with (f' * g t + f t * g') by ring.
    exact (is_derive_mult f g t f' g' Hf Hg Rmult_comm).
  - intros N. assert (D := is_derive_div f g t f' g' Hf Hg N).
    replace (1 / g t * f' + - (f t / g t) * (1 / g t) * g') with ((f' * g t - f t * g') / g t ^ 2) by (field; exact N).
    exact D.
  - intros k. assert (D := is_derive_pow f (S k) t f' Hf). cbn [pred] in D.
    replace (INR (S k) * f t ^ k * f') with (INR (S k) * f' * f t ^ k) by ring. exact D.
  - intros P. assert (D := is_derive_sqrt f t f' Hf P). replace (1 / (2 * sqrt (f t)) * f') with (f' / (2 * sqrt (f
      t))) by (field; apply Rgt_not_eq, sqrt_lt_R0, P). exact D.
  - assert (D := is_derive_comp exp f t (exp (f t)) f' (is_derive_exp (f t)) Hf). unfold scal in D. simpl in D.
    unfold mult in D. simpl in D.
    rewrite Rmult_comm in D. exact D.
Qed.
Lemma derive_sum n (f : nat -> R -> R) (f' : vec) (t : R) : (forall j, (j < n)%nat -> is_derive (f j) t (f' j)) ->
  is_derive (fun s => sum n (fun j => f j s)) t (sum n f').
Proof.
  induction n as [|n IH]; intros H; [exact (is_derive_const (0 : R) t)|].
  apply (is_derive_plus (fun s => sum n (fun j => f j s)) (f n)); [apply IH; intros; apply H; lia|apply H; lia].
Qed.
(** unit(y): for u = y/r, r = |y|, du = dy (I - u^T u)/r *)
Theorem rule_unit d (y : nat -> R -> R) (dy : vec) (t : R) b : (b < d)%nat -> (forall c, (c < d)%nat ->
  is_derive (y c) t (dy c)) ->
  let Y := fun s c => y c s in let r := l2 d (Y t) in let u := fun c => Y t c / r in 0 < r ->
  is_derive (fun s => y b s / l2 d (Y s)) t (sum d (fun c => (if Nat.eqb c b then 1 - u b ^ 2 else 0 - u b * u c) / r *
    dy c)).
Proof.
  intros Hb H Y r u P.
  assert (Q : 0 < dot d (Y t) (Y t)) by (apply sqrt_lt_0_alt; rewrite sqrt_0; exact P).
  assert (R2 : r * r = dot d (Y t) (Y t)) by (apply sqrt_sqrt; lra).
  assert (D1 : is_derive (fun s => dot d (Y s) (Y s)) t (sum d (fun c => 2 * Y t c * dy c))).
  { unfold dot. apply (derive_sum d (fun c s => Y s c * Y s c)). intros c Hc.
    destruct (rule_slopes _ _ t _ _ (H c Hc) (H c Hc)) as [_ [_ [M _]]].
    replace (2 * Y t c * dy c) with (y c t * dy c + y c t * dy c) by (unfold Y; ring). exact M. }
  destruct (rule_slopes _ _ t _ _ D1 D1) as [_ [_ [_ [_ [_ [Sq _]]]]]]. specialize (Sq Q).
  destruct (rule_slopes _ _ t _ _ (H b Hb) Sq) as [_ [_ [_ [Dv _]]]]. fold (l2 d (Y t)) in Dv. fold r in Dv.
  specialize (Dv ltac:(lra)).
  eapply is_derive_ext_loc; [apply filter_forall; intro s; reflexivity|].
  match type of Dv with is_derive _ _ ?v => match goal with |- is_derive _ _ ?w => replace w with v;
    [exact Dv|] end end.
  rewrite (sum_ext d (fun c => (if Nat.eqb c b then 1 - u b ^ 2 else 0 - u b * u c) / r * dy c)
    (fun c => (if Nat.eqb c b then 1 / r * dy b else 0) + - (u b / r) * (u c * dy c))).
  - rewrite sum_plus, sum_scal. rewrite (sum_single d (fun c => if Nat.eqb c b then 1 / r * dy b else 0) b Hb) by
      (intros c _ N; destruct (Nat.eqb_spec c b); [congruence|reflexivity]).
    rewrite Nat.eqb_refl. rewrite (sum_ext d (fun c => 2 * Y t c * dy c) (fun c => 2 * r * (u c * dy c))) by (intros;
      unfold u; field; lra).
    rewrite sum_scal. generalize (sum d (fun c => u c * dy c)). intro T. change (u b) with (y b t / r). field. lra.
  - intros c _. destruct (Nat.eqb_spec c b) as [->|]; unfold Rdiv; ring.
Qed.
(** averaged(L, m, X): for y = sum_j p_j x_j, p = softmax(L, m), dy = sum_j p_j (dx_j + (x_j - y) dL_j) *)
Theorem rule_averaged n (m : vec) (l x : nat -> R -> R) (dl dx : vec) (t : R) :
  (forall j, (j < n)%nat -> is_derive (l j) t (dl j)) -> (forall j, (j < n)%nat -> is_derive (x j) t (dx j)) ->
  (forall s, 0 < sum n (fun k => m k * exp (l k s))) ->
  let p := fun s => softmax n m (fun j => l j s) in let y := fun s => sum n (fun j => p s j * x j s) in
  is_derive y t (sum n (fun j => p t j * dx j) + sum n (fun j => p t j * (x j t - y t) * dl j)).
Proof.
  intros Hl Hx Z p y. set (N := fun s => sum n (fun j => m j * exp (l j s) * x j s)).
  set (W := fun s => sum n (fun j => m j * exp (l j s))).
  assert (Wt : 0 < W t) by apply Z.
  assert (Y : forall s, y s = N s / W s).
  { intro s. unfold y, p, N, W, softmax, tilt, Rdiv. rewrite <- sum_scal_r. apply sum_ext; intros; ring. }
  assert (E : forall j, (j < n)%nat -> is_derive (fun s => m j * exp (l j s)) t (m j * exp (l j t) * dl j)).
  { intros j Hj. destruct (rule_slopes _ _ t _ _ (Hl j Hj) (Hl j Hj)) as [_ [_ [_ [_ [_ [_ D]]]]]].
    rewrite Rmult_assoc. now apply is_derive_scal. }
  assert (DW : is_derive W t (sum n (fun j => m j * exp (l j t) * dl j))) by (apply (derive_sum n (fun j s => m j * exp
    (l j s))), E).
  assert (DN : is_derive N t (sum n (fun j => x j t * (m j * exp (l j t) * dl j) + m j * exp (l j t) * dx j))).
  { apply (derive_sum n (fun j s => m j * exp (l j s) * x j s)). intros j Hj.
    destruct (rule_slopes _ _ t _ _ (E j Hj) (Hx j Hj)) as [_ [_ [M _]]]. exact M. }
  destruct (rule_slopes _ _ t _ _ DN DW) as [_ [_ [_ [Dv _]]]]. specialize (Dv (Rgt_not_eq _ _ Wt)).
  apply (is_derive_ext (fun s => N s / W s)); [intro s; now rewrite Y|].
  match type of Dv with is_derive _ _ ?v => match goal with |- is_derive _ _ ?w => replace w with v;
    [exact Dv|] end end.
  rewrite <- Y. assert (Pj : forall j, p t j = m j * exp (l j t) * / W t) by reflexivity.
  rewrite (sum_ext n (fun j => p t j * dx j) (fun j => / W t * (m j * exp (l j t) * dx j))) by (intros; rewrite Pj;
    ring).
  rewrite (sum_ext n (fun j => p t j * (x j t - y t) * dl j)
    (fun j => / W t * (x j t * (m j * exp (l j t) * dl j)) - y t * / W t * (m j * exp (l j t) * dl j))) by (intros;
      rewrite Pj; ring).
  rewrite sum_minus, !sum_scal, sum_plus. unfold Rdiv. ring.
Qed.

(** The derivative of a layer y_i/|y_i|, y_i = sum_j a_j x_j V, a = softmax(x_i W x_j^T),
  along H: the formula of [own], [apart]
    and [together] *)
Lemma bil_line d (x y h k : vec) (W : mat) s : bil d (fun a => x a + s * h a) W (fun a => y a + s * k a) =
  bil d x W y + s * (bil d h W y + bil d x W k) + s * s * bil d h W k.
Proof.
  unfold bil. rewrite <- sum_plus, <- !sum_scal, <- !sum_plus. apply sum_ext; intros a _.
  rewrite <- sum_plus, <- !sum_scal, <- !sum_plus. apply sum_ext; intros; ring.
Qed.
Theorem rule_layer n d (m : vec) (W V X H : mat) i b : (b < d)%nat ->
  (forall l : vec, 0 < sum n (fun k => m k * exp (l k))) ->
  let at_ s := fun j a => X j a + s * H j a in
  let p s := softmax n m (fun j => bil d (at_ s i) W (at_ s j)) in let v s j := vmat d (at_ s j) V in
  let y s := fun c => sum n (fun j => p s j * v s j c) in let r := l2 d (y 0) in let u := fun c => y 0 c / r in 0 < r ->
  is_derive (fun s => y s b / l2 d (y s)) 0 (sum d (fun c => (if Nat.eqb c b then 1 - u b ^ 2 else 0 - u b * u c) / r *
    (sum n (fun j => p 0 j * vmat d (H j) V c) +
     sum n (fun j => p 0 j * (v 0 j c - y 0 c) * (bil d (H i) W (X j) + bil d (X i) W (H j)))))).
Proof.
  intros Hb Z at_ p v y r u P.
  apply (rule_unit d (fun c s => y s c) (fun c => sum n (fun j => p 0 j * vmat d (H j) V c) +
     sum n (fun j => p 0 j * (v 0 j c - y 0 c) * (bil d (H i) W (X j) + bil d (X i) W (H j)))) 0 b Hb); [|exact P].
  intros c _. apply (rule_averaged n m (fun j s => bil d (at_ s i) W (at_ s j)) (fun j s => v s j c)
    (fun j => bil d (H i) W (X j) + bil d (X i) W (H j)) (fun j => vmat d (H j) V c) 0).
  - intros j _. unfold at_. apply (is_derive_ext (fun s => bil d (X i) W (X j) + s * (bil d (H i) W (X j) + bil d (X i)
      W (H j))
      + s * s * bil d (H i) W (H j))); [intro s; now rewrite bil_line|]. auto_derive; [exact I|ring].
  - intros j _. apply (is_derive_ext (fun s => vmat d (X j) V c + s * vmat d (H j) V c)).
    + intro s. unfold v, at_, vmat. rewrite <- sum_scal, <- sum_plus. apply sum_ext; intros; ring.
    + auto_derive; [exact I|ring].
  - intro s. apply Z.
Qed.

(** The mean value theorem along a segment: what an enclosure of the derivative over a box says of differences. *)
Theorem rule_mean_value m (f : vec -> R) (x y : vec) (g : R -> vec) :
  (forall s, 0 <= s <= 1 -> is_derive (fun s => f (fun q => x q + s * (y q - x q))) s (sum m (fun q => g s q * (y q - x
    q)))) ->
  f (fun q => x q + 1 * (y q - x q)) = f y -> f (fun q => x q + 0 * (y q - x q)) = f x ->
  exists s, 0 <= s <= 1 /\ f y - f x = sum m (fun q => g s q * (y q - x q)).
Proof.
  intros H E1 E0.
  destruct (MVT_gen (fun s => f (fun q => x q + s * (y q - x q))) 0 1 (fun s => sum m (fun q => g s q * (y q - x q))))
    as [s [Hs E]].
  - intros s. rewrite Rmin_left, Rmax_right by lra. intros Hs. apply H. lra.
  - intros s. rewrite Rmin_left, Rmax_right by lra. intros Hs. apply continuity_pt_filterlim.
    apply (ex_derive_continuous (fun s => f (fun q => x q + s * (y q - x q)))). eexists. apply H. exact Hs.
  - rewrite Rmin_left, Rmax_right in Hs by lra. exists s. split; [exact Hs|]. rewrite E1, E0 in E. lra.
Qed.
Theorem rule_weighted_slope m (w g v : vec) c t : 0 <= t -> (forall q, (q < m)%nat -> Rabs (v q) <= t * w q) ->
  sum m (fun q => Rabs (g q) * w q) <= c -> Rabs (sum m (fun q => g q * v q)) <= c * t.
Proof.
  intros T V G. eapply Rle_trans; [apply sum_abs|]. apply Rle_trans with (sum m (fun q => Rabs (g q) * w q * t)).
  - apply sum_le; intros q Hq. rewrite Rabs_mult, Rmult_assoc. apply Rmult_le_compat_l; [apply Rabs_pos|].
    rewrite (Rmult_comm (w q)). now apply V.
  - rewrite sum_scal_r. now apply Rmult_le_compat_r.
Qed.

(* ---------- regular matrices, solving, rank ---------- *)
Lemma mvec_mmul m (C A : mat) x i : mvec m (mmul m C A) x i = mvec m C (mvec m A x) i.
Proof.
  unfold mvec, mmul, vmat. rewrite (sum_ext m (fun j => C i j * sum m (fun k => A j k * x k)) (fun j => sum m (fun k =>
    C i j * (A j k * x k))))
    by (intros; now rewrite sum_scal).
  rewrite sum_swap. apply sum_ext; intros k _. rewrite <- sum_scal_r. apply sum_ext; intros; ring.
Qed.
Lemma near_row m (E : mat) x i : (i < m)%nat ->
  x i - mvec m E x i = sum m (fun j => (eye i j - E i j) * x j).
Proof.
  intros Hi. rewrite (sum_ext m (fun j => (eye i j - E i j) * x j) (fun j => (if Nat.eqb i j then x j else 0) - E i j *
    x j))
    by (intros j _; unfold eye; destruct (Nat.eqb i j); ring).
  rewrite sum_minus. rewrite (sum_single m (fun j => if Nat.eqb i j then x j else 0) i Hi); [now rewrite Nat.eqb_refl|].
  intros j _ N. destruct (Nat.eqb_spec i j); [congruence|reflexivity].
Qed.
(** solve(A, b): around(C b, |C b| e/(1 - e)), e the row sum norm of I - C A, below 1, for any C *)
Theorem rule_solve m (A C : mat) (x b : vec) e s : e < 1 -> 0 <= e ->
  (forall i, (i < m)%nat -> sum m (fun j => Rabs (eye i j - mmul m C A i j)) <= e) ->
  (forall i, (i < m)%nat -> mvec m A x i = b i) -> (forall i, (i < m)%nat -> Rabs (mvec m C b i) <= s) -> 0 <= s ->
  forall i, (i < m)%nat -> Rabs (x i - mvec m C b i) <= e * s / (1 - e).
Proof.
  intros E1 E0 Hr Ax Hs S0. set (M := maxf m (fun j => Rabs (x j))). assert (M0 : 0 <= M) by apply maxf_pos.
  assert (B : forall i, (i < m)%nat -> Rabs (x i - mvec m C b i) <= e * M).
  { intros i Hi. replace (mvec m C b i) with (mvec m (mmul m C A) x i).
    - rewrite near_row by exact Hi. eapply Rle_trans; [apply sum_abs|].
      apply Rle_trans with (sum m (fun j => Rabs (eye i j - mmul m C A i j) * M)).
      + apply sum_le; intros j Hj. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|].
        apply (maxf_ub m (fun j => Rabs (x j)) j Hj).
      + rewrite sum_scal_r. apply Rmult_le_compat_r; [exact M0|now apply Hr].
    - rewrite mvec_mmul. unfold mvec at 1 3. apply sum_ext; intros j Hj. now rewrite Ax. }
  assert (ML : M <= s + e * M).
  { apply maxf_lub; [assert (0 <= e * M) by (now apply Rmult_le_pos); lra|]. intros i Hi.
    replace (x i) with (mvec m C b i + (x i - mvec m C b i)) by ring. eapply Rle_trans; [apply Rabs_triang|].
    specialize (B i Hi). specialize (Hs i Hi). lra. }
  assert (M <= s / (1 - e)).
  { apply Rmult_le_reg_r with (1 - e); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  intros i Hi. eapply Rle_trans; [now apply B|]. unfold Rdiv. rewrite Rmult_assoc. now apply Rmult_le_compat_l.
Qed.
(** nonsingular(A): the row sums of I - C A are below 1 *)
Theorem rule_nonsingular m (A C : mat) x :
  (forall i, (i < m)%nat -> sum m (fun j => Rabs (eye i j - mmul m C A i j)) < 1) ->
  (forall i, (i < m)%nat -> mvec m A x i = 0) -> forall i, (i < m)%nat -> x i = 0.
Proof.
  intros Hr Ax. set (r := fun i => sum m (fun j => Rabs (eye i j - mmul m C A i j))). set (e := maxf m r).
  assert (E0 : 0 <= e) by apply maxf_pos.
  assert (E1 : e < 1) by (unfold e; destruct (maxf_attained m r) as [->|[j [Hj ->]]]; [lra|now apply Hr]).
  assert (Z : forall i, mvec m C (fun _ => 0) i = 0).
  { intro i. unfold mvec. rewrite (sum_ext m _ (fun _ => 0)) by (intros; ring). apply sum_zero. }
  intros i Hi. assert (Q := rule_solve m A C x (fun _ => 0) e 0 E1 E0 (fun k Hk => maxf_ub m r k Hk) Ax
    (fun k _ => ltac:(rewrite Z, Rabs_R0; lra)) ltac:(lra) i Hi).
  rewrite Z, Rminus_0_r, Rmult_0_r in Q. unfold Rdiv in Q. rewrite Rmult_0_l in Q. apply zero_of_le. intros; lra.
Qed.
(** The rank is at least the size of a regular minor *)
Theorem rule_rank_low n m k (A C : mat) (I J : nat -> nat) : (forall i, (i < k)%nat -> (I i < n)%nat) ->
  (forall j, (j < k)%nat -> (J j < m)%nat) ->
  (forall i, (i < k)%nat -> sum k (fun j => Rabs (eye i j - mmul k C (fun a b => A (I a) (J b)) i j)) < 1) ->
  INR k <= @rank_of n m A.
Proof.
  intros HI HJ Near. set (M := fun a b => A (I a) (J b)) in *. apply sup_ub with (b := INR m).
  - intros y [p [f [Hf [Ind ->]]]]. apply le_INR. destruct (Nat.le_gt_cases p m) as [|L]; [assumption|exfalso].
    destruct (kernel_rules.dependent m (fun i => A (f i))) as [c [[i0 [Hi0 Ci0]] Hc]].
    apply Ci0. assert (Q := Ind (fun i => if Nat.ltb i (S m) then c i else 0)). specialize (Q ltac:(intros a Ha;
      replace p with (S m + (p - S m))%nat by lia; rewrite sum_split;
      rewrite (sum_ext (S m) _ (fun i => c i * A (f i) a)) by (intros i Hi;
        now rewrite (proj2 (Nat.ltb_lt _ _)) by lia);
      rewrite Hc by exact Ha; rewrite (sum_ext _ _ (fun _ => 0)) by (intros i Hi;
        rewrite (proj2 (Nat.ltb_ge _ _)) by lia; ring);
      rewrite sum_zero; ring) i0 ltac:(lia)). cbv beta in Q. now rewrite (proj2 (Nat.ltb_lt _ _)) in Q by lia.
  - exists k, I. split; [exact HI|split; [|reflexivity]]. intros v Hv j Hj.
    destruct (injective_onto k M (fun i => if Nat.eqb i j then 1 else 0)) as [s Hs].
    { intros z Hz. exact (rule_nonsingular k M C z Near Hz). }
    assert (E : sum k (fun i => v i * mvec k M s i) = 0).
    { unfold mvec. rewrite (sum_ext k _ (fun i => sum k (fun b => v i * M i b * s b))) by (intros; rewrite <- sum_scal;
        apply sum_ext; intros; ring).
      rewrite sum_swap, (sum_ext k _ (fun _ => 0)); [apply sum_zero|]. intros b Hb. rewrite sum_scal_r. unfold M.
      rewrite Hv by (now apply HJ). ring. }
    rewrite (sum_ext k _ (fun i => v i * (if Nat.eqb i j then 1 else 0))) in E by (intros i Hi; now rewrite Hs).
    rewrite (sum_single k (fun i => v i * (if Nat.eqb i j then 1 else 0)) j Hj) in E.
    + rewrite Nat.eqb_refl in E. lra.
    + intros i _ N. destruct (Nat.eqb_spec i j); [congruence|ring].
Qed.
(** The rank is at most the number of columns J if D A = A[:, J] B, D not 0 *)
Theorem rule_rank_high n m k (A B : mat) (J : nat -> nat) D : D <> 0 ->
  (forall i b, (i < n)%nat -> (b < m)%nat -> D * A i b = sum k (fun j => A i (J j) * B j b)) -> @rank_of n m A <= INR k.
Proof.
  intros D0 H. apply sup_le_nonneg; [apply pos_INR|]. intros y [p [f [Hf [Ind ->]]]]. apply le_INR.
  destruct (Nat.le_gt_cases p k) as [|L]; [assumption|exfalso].
  destruct (kernel_rules.dependent k (fun i j => A (f i) (J j))) as [c [[i0 [Hi0 Ci0]] Hc]].
  apply Ci0. assert (Q := Ind (fun i => if Nat.ltb i (S k) then c i else 0)).
  assert (Z : forall b, (b < m)%nat -> sum (S k) (fun i => c i * A (f i) b) = 0).
  { intros b Hb. apply Rmult_eq_reg_l with D; [|exact D0]. rewrite Rmult_0_r, <- sum_scal.
    rewrite (sum_ext (S k) _ (fun i => sum k (fun j => c i * A (f i) (J j) * B j b))).
    - rewrite sum_swap, (sum_ext k _ (fun _ => 0)); [apply sum_zero|]. intros j Hj. rewrite sum_scal_r, Hc by exact Hj.
      ring.
    - intros i Hi. replace (D * (c i * A (f i) b)) with (c i * (D * A (f i) b)) by ring.
      rewrite H by (try apply Hf; lia).
      rewrite <- sum_scal. apply sum_ext; intros; ring. }
  specialize (Q ltac:(intros a Ha; replace p with (S k + (p - S k))%nat by lia; rewrite sum_split;
    rewrite (sum_ext (S k) _ (fun i => c i * A (f i) a)) by (intros i Hi; now rewrite (proj2 (Nat.ltb_lt _ _)) by lia);
    rewrite Z by exact Ha; rewrite (sum_ext _ _ (fun _ => 0)) by (intros i Hi; rewrite (proj2 (Nat.ltb_ge _ _)) by lia;
      ring);
    rewrite sum_zero; ring) i0 ltac:(lia)). cbv beta in Q. now rewrite (proj2 (Nat.ltb_lt _ _)) in Q by lia.
Qed.

Lemma sum_opp n f : sum n (fun j => - f j) = - sum n f.
Proof. rewrite (sum_ext n _ (fun j => -1 * f j)) by (intros; ring). rewrite sum_scal. ring. Qed.
(* ---------- definiteness, eigenvalues, norms ---------- *)
Lemma form_transposed n (A : mat) v : bil n v (fun i j => A i j + A j i) v = 2 * bil n v A v.
Proof.
  unfold bil. rewrite (sum_ext n (fun i => sum n (fun j => v i * (A i j + A j i) * v j))
    (fun i => sum n (fun j => v i * A i j * v j) + sum n (fun j => v j * A j i * v i))).
  - rewrite sum_plus, (sum_swap n n (fun i j => v j * A j i * v i)). ring.
  - intros i _. rewrite <- sum_plus. apply sum_ext; intros; ring.
Qed.
(** positive_definite(A): a congruence of A + A^T near the identity; a negative entry c B c^T on the diagonal says no *)
Theorem rule_definite n (A C : mat) v : let B := fun i j => A i j + A j i in
  (forall i, (i < n)%nat -> sum n (fun j => Rabs (eye i j - congruent n C B i j)) < 1) ->
  (exists i, (i < n)%nat /\ v i <> 0) -> 0 < bil n v A v.
Proof.
  intros B Near V. assert (Q := rule_congruence n B C v ltac:(intros i j _ _; unfold B; ring) Near V).
  unfold B in Q. rewrite form_transposed in Q. lra.
Qed.
Theorem rule_not_definite n (A C : mat) i : congruent n C (fun i j => A i j + A j i) i i < 0 ->
  bil n (C i) A (C i) < 0.
Proof. unfold congruent. fold (bil n (C i) (fun i j => A i j + A j i) (C i)). rewrite form_transposed. lra. Qed.
(** least_eigenvalue(A), A symmetric: t where A - tI is definite, v A v^T/v v^T from above,
  and the row sums for its size *)
Definition is_least_eigenvalue (n : nat) (A : mat) (l : R) : Prop :=
  (forall v, l * dot n v v <= bil n v A v) /\ exists v, 0 < dot n v v /\ bil n v A v = l * dot n v v.
Theorem rule_least_eigenvalue n (A : mat) l : is_least_eigenvalue n A l ->
  (forall v, 0 < dot n v v -> l <= bil n v A v / dot n v v) /\
  (forall t, (forall v, 0 < dot n v v -> 0 < bil n v (fun i j => A i j - t * eye i j) v) -> t <= l) /\
  (forall s, symmetric n A -> (forall i, (i < n)%nat -> sum n (fun j => Rabs (A i j)) <= s) -> - s <= l).
Proof.
  intros [L [w [W E]]]. split; [|split].
  - intros v V. apply Rmult_le_reg_r with (dot n v v); [exact V|]. unfold Rdiv.
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. apply L.
  - intros t D. specialize (D w W). assert (Q : bil n w (fun i j => A i j - t * eye i j) w = bil n w A w - t * dot n
    w w).
    { unfold bil, dot. rewrite <- sum_scal, <- sum_minus. apply sum_ext; intros i Hi.
      rewrite (sum_ext n _ (fun j => w i * A i j * w j - t * (if Nat.eqb i j then w i * w j else 0)))
        by (intros j _; unfold eye; destruct (Nat.eqb i j); ring).
      rewrite sum_minus, sum_scal. f_equal. f_equal. rewrite (sum_single n _ i Hi); [now rewrite Nat.eqb_refl|].
      intros j _ N. destruct (Nat.eqb_spec i j); [congruence|reflexivity]. }
    rewrite Q, E in D. nra.
  - intros s Sy R. assert (B : - (s * dot n w w) <= bil n w A w).
    { apply Rle_trans with (- sum n (fun i => sum n (fun j => Rabs (A i j) * (w i ^ 2 / 2) + Rabs (A i j) * (w j ^ 2 /
        2)))).
      - apply Ropp_le_contravar.
        rewrite (sum_ext n _ (fun i => sum n (fun j => Rabs (A i j)) * (w i ^ 2 / 2) + sum n (fun j => Rabs (A i j) *
          (w j ^ 2 / 2))))
          by (intros i _; now rewrite sum_plus, sum_scal_r).
        rewrite sum_plus, (sum_swap n n (fun i j => Rabs (A i j) * (w j ^ 2 / 2))).
        rewrite (sum_ext n (fun j => sum n (fun i => Rabs (A i j) * (w j ^ 2 / 2))) (fun j => sum n (fun i => Rabs (A j
          i)) * (w j ^ 2 / 2))).
        + rewrite <- sum_plus. unfold dot. rewrite <- sum_scal. apply sum_le; intros i Hi. specialize (R i Hi).
          assert (Q := pow2_ge_0 (w i)). nra.
        + intros j Hj. rewrite sum_scal_r. f_equal. apply sum_ext; intros i Hi. now rewrite (Sy i j).
      - unfold bil. rewrite <- sum_opp. apply sum_le; intros i _. rewrite <- sum_opp. apply sum_le; intros j _.
        assert (Ab := Rabs_pos (A i j)). assert (U := Rle_abs (A i j)). assert (V := Rle_abs (- A i j)).
        rewrite Rabs_Ropp in V.
        assert (Q := pow2_ge_0 (w i - w j)). assert (Q2 := pow2_ge_0 (w i + w j)). nra. }
    rewrite E in B. nra.
Qed.
Lemma less_diagonal n (g f : vec) c p : (p < n)%nat ->
  sum n (fun q => (g q - (if Nat.eqb p q then c else 0)) * f q) = sum n (fun q => g q * f q) - c * f p.
Proof.
  intros Hp. rewrite (sum_ext n _ (fun q => g q * f q - (if Nat.eqb p q then c * f q else 0))) by (intros q _;
    destruct (Nat.eqb p q); ring).
  rewrite sum_minus, (sum_single n (fun q => if Nat.eqb p q then c * f q else 0) p Hp); [now rewrite Nat.eqb_refl|].
  intros q _ N. destruct (Nat.eqb_spec p q); [congruence|reflexivity].
Qed.
(** Eigenvalues in discs, with weights u and a centre v_p of each row (Gershgorin);
  for v = 0 and one radius, a bound of all
    moduli *)
Theorem rule_discs n (D : mat) (v u s : vec) (z : C) : (forall p, (p < n)%nat -> 0 < u p) ->
  (forall p, (p < n)%nat -> sum n (fun q => Rabs (D p q - (if Nat.eqb p q then v p else 0)) * u q) <= s p * u p) ->
  @eigenvalue_of n D z -> exists p, (p < n)%nat /\ Cmod (z - RtoC (v p))%C <= s p.
Proof.
  intros U H [x [[i0 [Hi0 N0]] E]].
  destruct (largest_attained n (fun q => Cmod (x q) / u q) ltac:(lia)) as [p [Hp Lp]]. exists p. split; [exact Hp|].
  set (t := Cmod (x p) / u p). assert (Up := U p Hp).
  assert (Xq : forall q, (q < n)%nat -> Cmod (x q) <= t * u q).
  { intros q Hq. assert (G := largest_ub n (fun q => Cmod (x q) / u q) q Hq). rewrite Lp in G. fold t in G.
    cbv beta in G.
    apply (Rmult_le_compat_r (u q)) in G; [|left; now apply U]. assert (Uq := U q Hq). unfold Rdiv in G.
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r in G by lra. exact G. }
  assert (T : 0 < t).
  { assert (P := Cmod_gt_0 (x i0)). assert (0 < Cmod (x i0)) by (now apply P). specialize (Xq i0 Hi0).
    assert (U0 := U i0 Hi0). nra. }
  assert (Xp : Cmod (x p) = t * u p) by (unfold t; field; lra).
  assert (Q : ((z - RtoC (v p)) * x p)%C = csum n (fun q => RtoC (D p q - (if Nat.eqb p q then v p else 0)) * x q)%C).
  { specialize (E p Hp). replace ((z - RtoC (v p)) * x p)%C with (z * x p - RtoC (v p) * x p)%C by ring. rewrite <- E.
    assert (Re : forall g : vec, csum n (fun q => RtoC (g q) * x q)%C = (sum n (fun q => g q * fst (x q)),
      sum n (fun q => g q * snd (x q)))).
    { intro g. apply csum_real. intros q _. unfold Cmult, RtoC. cbn [fst snd]. f_equal; ring. }
    rewrite (Re (D p)), (Re (fun q => D p q - (if Nat.eqb p q then v p else 0))), !less_diagonal by exact Hp.
    unfold Cminus, Cplus, Copp, Cmult, RtoC. cbn [fst snd]. f_equal; ring. }
  assert (M : Cmod (z - RtoC (v p))%C * Cmod (x p) <= s p * Cmod (x p)).
  { rewrite <- Cmod_mult, Q, Xp. eapply Rle_trans; [apply csum_mod|].
    apply Rle_trans with (sum n (fun q => Rabs (D p q - (if Nat.eqb p q then v p else 0)) * u q * t)).
    - apply sum_le; intros q Hq. rewrite Cmod_mult, Cmod_R. rewrite Rmult_assoc, (Rmult_comm (u q)).
      apply Rmult_le_compat_l; [apply Rabs_pos|now apply Xq].
    - rewrite sum_scal_r. replace (s p * (t * u p)) with (s p * u p * t) by ring.
      apply Rmult_le_compat_r; [lra|now apply H]. }
  apply Rmult_le_reg_r with (Cmod (x p)); [rewrite Xp; nra|exact M].
Qed.
(** A and B = V^-1 A V have the same real eigenvalues *)
Theorem rule_similar n (A B V : mat) l x :
  (forall y, (forall i, (i < n)%nat -> mvec n V y i = 0) -> forall i, (i < n)%nat -> y i = 0) ->
  (forall y i, (i < n)%nat -> mvec n V (mvec n B y) i = mvec n A (mvec n V y) i) ->
  (forall i, (i < n)%nat -> mvec n A x i = l * x i) -> (exists i, (i < n)%nat /\ x i <> 0) ->
  exists y, (exists i, (i < n)%nat /\ y i <> 0) /\ forall i, (i < n)%nat -> mvec n B y i = l * y i.
Proof.
  intros Inj S E [i0 [Hi0 N0]]. destruct (injective_onto n V x Inj) as [y Hy]. exists y. split.
  - apply NNPP. intro No. apply N0. rewrite <- (Hy i0 Hi0). unfold mvec.
    rewrite (sum_ext n _ (fun _ => 0)); [apply sum_zero|].
    intros j Hj. destruct (Req_dec (y j) 0) as [->|N]; [ring|]. exfalso. apply No. now exists j.
  - intros i Hi. apply Rminus_diag_uniq. apply (Inj (fun i => mvec n B y i - l * y i)); [|exact Hi]. intros k Hk.
    unfold mvec at 1. rewrite (sum_ext n _ (fun j => V k j * mvec n B y j - l * (V k j * y j))) by (intros; ring).
    rewrite sum_minus, sum_scal. fold (mvec n V (mvec n B y) k). fold (mvec n V y k). rewrite S, Hy by exact Hk.
    rewrite <- E by exact Hk. change (sum n (fun j => A k j * mvec n V y j) - sum n (fun j => A k j * x j) = 0).
    rewrite <- sum_minus, (sum_ext n _ (fun _ => 0)); [apply sum_zero|].
    intros j Hj. rewrite Hy by exact Hj. ring.
Qed.
(** spectral(M): no row or column is longer; its square is at most |M|_1 |M|_inf;
  and it is the root of the largest eigenvalue
    of M^T M *)
Theorem rule_spectral_rows n m (A : matrix n m) i : (i < n)%nat -> l2 m (A i) <= spectral A.
Proof.
  intros Hi. assert (B := spectral_bound n m A (eye i)). replace (l2 m (vmat n (eye i) A)) with (l2 m (A i)) in B.
  - replace (l2 n (eye i)) with 1 in B; [lra|]. unfold l2, dot.
    rewrite (sum_single n _ i Hi); [unfold eye; rewrite Nat.eqb_refl, Rmult_1_l; symmetry; apply sqrt_1|].
    intros j _ N. unfold eye. destruct (Nat.eqb_spec i j); [congruence|ring].
  - unfold l2. f_equal. unfold dot. apply sum_ext. intros b _.
    enough (E : A i b = vmat n (eye i) A b) by now rewrite E. unfold vmat.
    rewrite (sum_single n _ i Hi); [unfold eye; rewrite Nat.eqb_refl; ring|].
    intros j _ N. unfold eye. destruct (Nat.eqb_spec i j); [congruence|ring].
Qed.
Theorem rule_spectral_root n m (A : matrix n m) l : is_least_eigenvalue m (fun a b => - sum n (fun i => A i a * A i b))
  l ->
  spectral A = sqrt (- l).
Proof.
  set (image := fun (v : vec) i => sum m (fun a => A i a * v a)).
  assert (Q : forall v, bil m v (fun a b => - sum n (fun i => A i a * A i b)) v = - dot n (image v) (image v)).
  { intro v. unfold bil, dot, image. rewrite <- sum_opp.
    rewrite (sum_ext m _ (fun a => sum n (fun i => - (A i a * v a) * sum m (fun b => A i b * v b)))).
    - rewrite sum_swap. apply sum_ext; intros i _. rewrite sum_scal_r.
      rewrite (sum_ext m (fun a => - (A i a * v a)) (fun a => -1 * (A i a * v a))) by (intros; ring). rewrite sum_scal.
      ring.
    - intros a _. rewrite (sum_ext m _ (fun b => sum n (fun i => - (A i a * v a) * (A i b * v b)))).
      + rewrite sum_swap. apply sum_ext; intros i _. now rewrite sum_scal.
      + intros b _. rewrite <- sum_opp, <- sum_scal, <- sum_scal_r. apply sum_ext; intros; ring. }
  intros [L [w [W E]]]. assert (L' : forall v, dot n (image v) (image v) <= - l * dot m v v) by (intro v;
    specialize (L v); rewrite Q in L; lra).
  rewrite Q in E. assert (P : 0 <= - l) by (assert (D : 0 <= dot n (image w) (image w)) by (apply sum_nonneg; intros;
    nra); nra).
  assert (D : forall u v, dot m (vmat n u A) v = dot n u (image v)).
  { intros u v. unfold dot, image, vmat.
    rewrite (sum_ext m _ (fun b => sum n (fun i => u i * A i b * v b))) by (intros; now rewrite sum_scal_r).
    rewrite sum_swap. apply sum_ext; intros i _. rewrite <- sum_scal. apply sum_ext; intros; ring. }
  assert (Sq : forall k v, l2 k v * l2 k v = dot k v v) by (intros; apply sqrt_sqrt, sum_nonneg; intros; nra).
  apply Rle_antisym.
  - apply spectral_le; [apply sqrt_pos|]. intro u. set (v := vmat n u A).
    assert (B : dot m v v <= l2 n u * l2 n (image v)).
    { assert (G : dot m v v = dot n u (image v)) by (unfold v at 1; apply D). rewrite G.
      eapply Rle_trans; [apply Rle_abs|apply dot_le_l2]. }
    assert (I : l2 n (image v) <= sqrt (- l) * l2 m v).
    { unfold l2 at 2. rewrite <- sqrt_mult by (try exact P; apply sum_nonneg; intros; nra). apply sqrt_le_1_alt, L'. }
    assert (V := l2_nonneg m v). assert (U := l2_nonneg n u). assert (R := sqrt_pos (- l)). rewrite <- Sq in B.
    destruct (Req_dec (l2 m v) 0) as [Z|N]; [rewrite Z; nra|]. apply Rmult_le_reg_r with (l2 m v); [lra|].
    eapply Rle_trans; [exact B|]. replace (sqrt (- l) * l2 n u * l2 m v) with (l2 n u * (sqrt (- l) * l2 m v)) by ring.
    now apply Rmult_le_compat_l.
  - set (y := image w). assert (B := spectral_bound n m A y).
    assert (G : dot n y y <= l2 m (vmat n y A) * l2 m w) by (unfold y at 2; rewrite <- D; eapply Rle_trans;
      [apply Rle_abs|apply dot_le_l2]).
    assert (Wl : 0 < l2 m w) by (apply sqrt_lt_R0, W). assert (Y := l2_nonneg n y).
    assert (S := spectral_nonneg n m A). rewrite <- Sq in G.
    assert (Yl : l2 n y = sqrt (- l) * l2 m w).
    { unfold l2 at 2. rewrite <- sqrt_mult by lra. unfold l2. f_equal. unfold y. lra. }
    destruct (Req_dec (l2 n y) 0) as [Z|N].
    + rewrite Z in Yl. assert (Q0 : sqrt (- l) = 0) by (symmetry in Yl; apply Rmult_integral in Yl; destruct Yl; lra).
      lra.
    + assert (l2 n y <= spectral A * l2 m w).
      { apply Rmult_le_reg_r with (l2 n y); [lra|]. eapply Rle_trans; [exact G|].
        replace (spectral A * l2 m w * l2 n y) with (spectral A * l2 n y * l2 m w) by ring.
        apply Rmult_le_compat_r; lra. }
      rewrite Yl in *. apply Rmult_le_reg_r with (l2 m w); lra.
Qed.

(* ---------- residuals: polygons of several lines ---------- *)
(** A line (p, q, v) says p a + q b >= v; the polygon of several has a least product a b at a corner of two of its
  lines, the
    axes a >= 0 and b >= 0 among them. *)
Definition line := (R * R * R)%type.
Definition above (u : line) (a b : R) : Prop := let '(p, q, v) := u in v <= p * a + q * b.
Definition cross (u v : line) : R := let '(p, q, _) := u in let '(p', q', _) := v in p * q' - q * p'.
Definition corner (u v : line) : R * R := let '(p, q, c) := u in let '(p', q', c') := v in
  ((c * q' - q * c') / cross u v, (p * c' - c * p') / cross u v).
Lemma least_of (l : list line) (key : line -> R) (ok : line -> Prop) : (exists u, In u l /\ ok u) ->
  exists u, In u l /\ ok u /\ forall w, In w l -> ok w -> key u <= key w.
Proof.
  induction l as [|h l IH]; intros [u [Hu Ou]]; [destruct Hu|].
  destruct (classic (exists u, In u l /\ ok u)) as [X|X].
  - destruct (IH X) as [w [Hw [Ow Lw]]]. destruct (classic (ok h /\ key h < key w)) as [[Oh Lh]|N].
    + exists h. split; [now left|split; [exact Oh|]]. intros y [<-|Hy] Oy; [lra|]. specialize (Lw y Hy Oy). lra.
    + exists w. split; [now right|split; [exact Ow|]]. intros y [<-|Hy] Oy; [|now apply Lw].
      destruct (Rle_lt_dec (key w) (key h)); [assumption|]. exfalso. apply N. now split.
  - destruct Hu as [<-|Hu]; [|exfalso; apply X; now exists u]. exists h. split; [now left|split; [exact Ou|]].
    intros w [<-|Hw] Ow; [lra|]. exfalso. apply X. now exists w.
Qed.
Theorem rule_polygon (l : list line) a b : (forall u, In u l -> let '(p, q, _) := u in 0 <= p /\ 0 <= q) ->
  In (1, 0, 0) l -> In (0, 1, 0) l -> (forall u, In u l -> above u a b) ->
  exists u v, In u l /\ In v l /\ 0 < cross u v /\ (forall w, In w l ->
    above w (fst (corner u v)) (snd (corner u v))) /\
    fst (corner u v) * snd (corner u v) <= a * b.
Proof.
  intros Nn Ax Ay H.
  assert (A0 : 0 <= a) by (assert (Q := H _ Ax); cbn in Q; lra).
  assert (B0 : 0 <= b) by (assert (Q := H _ Ay); cbn in Q; lra).
  (* go down from (a, b) to the first line *)
  destruct (least_of l (fun u => let '(p, q, v) := u in - ((v - p * a) / q)) (fun u => let '(p, q,
    v) := u in 0 < q)) as [[[p q] v] [Hu [Pq Mx]]].
  { exists (0, 1, 0). split; [exact Ay|lra]. }
  set (c := (v - p * a) / q). assert (Ec : p * a + q * c = v) by (unfold c; field; lra).
  assert (P0 : 0 <= p) by apply (Nn _ Hu).
  assert (C : c <= b) by (assert (Q := H _ Hu); cbn in Q; unfold c; apply Rmult_le_reg_r with q; [exact Pq|];
    unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra).
  assert (Fe : forall w, In w l -> above w a c).
  { intros [[p' q'] v'] Hw. cbn. destruct (Nn _ Hw) as [Np Nq]. destruct Nq as [Nq|<-].
    - assert (M := Mx _ Hw Nq). cbn in M. fold c in M. assert (K : (v' - p' * a) / q' <= c) by lra.
      apply (Rmult_le_compat_r q') in K; [|lra]. unfold Rdiv in K. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in K by lra.
      lra.
    - assert (Q := H _ Hw). cbn in Q. lra. }
  assert (C0 : 0 <= c) by (assert (Q := Fe _ Ay); cbn in Q; lra).
  (* along this line the constraints say s x >= t; to the left the largest lower bound,
    to the right the least upper one *)
  set (on := fun x => (v - p * x) / q). assert (On : forall x, p * x + q * on x = v) by (intro x; unfold on; field;
    lra).
  set (u := (p, q, v)) in *.
  assert (Key : forall w x, above w x (on x) <-> let '(p', q', v') := w in v' * q - q' * v <= cross w u * x).
  { intros [[p' q'] v'] x. cbn. assert (E := On x). split; intro K.
    - apply (Rmult_le_compat_l q) in K; [|lra]. assert (q * (p' * x + q' * on x) = p' * q * x + q' * (v - p * x)) by
        (rewrite <- E; ring). lra.
    - apply Rmult_le_reg_l with q; [exact Pq|]. assert (q * (p' * x + q' * on x) = p' * q * x + q' * (v - p * x)) by
        (rewrite <- E; ring). lra. }
  assert (Oa : on a = c) by reflexivity.
  assert (At : forall w, In w l -> cross w u <> 0 -> let x := fst (corner w u) in snd (corner w u) = on x).
  { intros [[p' q'] v'] Hw N. cbn in *. apply Rmult_eq_reg_l with q; [|lra].
    assert (E := On ((v' * q - q' * v) / (p' * q - q' * p))).
    assert (G : p * ((v' * q - q' * v) / (p' * q - q' * p)) + q * ((p' * v - v' * p) / (p' * q - q' * p)) = v) by
      (field; lra). lra. }
  (* the left end *)
  destruct (least_of l (fun w => - fst (corner w u)) (fun w => 0 < cross w u)) as [w1 [H1 [X1 M1]]].
  { exists (1, 0, 0). split; [exact Ax|]. cbn. lra. }
  set (x1 := fst (corner w1 u)).
  assert (L1 : x1 <= a).
  { assert (K := proj1 (Key w1 a) (eq_ind_r (fun z => above w1 a z) (Fe w1 H1) Oa)). unfold x1.
    destruct w1 as [[p1 q1] v1]. cbn in *.
    apply Rmult_le_reg_r with (p1 * q - q1 * p); [exact X1|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (F1 : forall w, In w l -> above w x1 (on x1)).
  { intros w Hw. apply Key. destruct (Rtotal_order (cross w u) 0) as [N|[Z|P]].
    - (* an upper bound, which holds at a already *)
      assert (K := proj1 (Key w a) (eq_ind_r (fun z => above w a z) (Fe w Hw) Oa)). destruct w as [[p' q'] v'].
      cbn -[cross] in *. nra.
    - assert (K := proj1 (Key w a) (eq_ind_r (fun z => above w a z) (Fe w Hw) Oa)). destruct w as [[p' q'] v'].
      cbn -[cross] in *. rewrite Z in *. lra.
    - assert (M := M1 w Hw P). fold x1 in M. destruct w as [[p' q'] v']. cbn in *.
      assert (K : (v' * q - q' * v) / (p' * q - q' * p) <= x1) by lra.
      apply (Rmult_le_compat_r (p' * q - q' * p)) in K; [|lra].
      unfold Rdiv in K. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in K by lra. lra. }
  assert (X10 : 0 <= x1) by (assert (Q := F1 _ Ax); cbn in Q; lra).
  assert (Prod : a * c <= a * b) by (now apply Rmult_le_compat_l).
  destruct (Rle_lt_dec (x1 * on x1) (a * c)) as [Le|Gt].
  { exists w1, u. split; [exact H1|split; [exact Hu|split; [exact X1|]]]. rewrite (At w1 H1 ltac:(lra)). fold x1.
    split; [exact F1|lra]. }
  (* else the product is less to the right of x1: then p > 0, and the right end is a corner *)
  assert (Pp : 0 < p).
  { destruct P0 as [|<-]; [assumption|exfalso]. assert (E : on x1 = c) by (unfold on, c; f_equal; ring).
    rewrite E in Gt. nra. }
  destruct (least_of l (fun w => fst (corner u w)) (fun w => 0 < cross u w)) as [w2 [H2 [X2 M2]]].
  { exists (0, 1, 0). split; [exact Ay|]. unfold u. cbn. lra. }
  assert (Sw : forall w, cross u w = - cross w u) by (intros [[p' q'] v']; unfold u; cbn; ring).
  assert (Cs : forall w, cross w u <> 0 -> corner u w = corner w u).
  { intros [[p' q'] v'] N. unfold u in *. cbn in *. f_equal; field; lra. }
  set (x2 := fst (corner u w2)).
  assert (L2 : a <= x2).
  { assert (K := proj1 (Key w2 a) (eq_ind_r (fun z => above w2 a z) (Fe w2 H2) Oa)). rewrite Sw in X2. unfold x2.
    rewrite Cs by lra.
    destruct w2 as [[p2 q2] v2]. cbn in *. apply Rmult_le_reg_r with (- (p2 * q - q2 * p)); [lra|].
    replace ((v2 * q - q2 * v) / (p2 * q - q2 * p) * - (p2 * q - q2 * p)) with (- (v2 * q - q2 * v)) by (field; lra).
    lra. }
  assert (F2 : forall w, In w l -> above w x2 (on x2)).
  { intros w Hw. apply Key. assert (K := proj1 (Key w a) (eq_ind_r (fun z => above w a z) (Fe w Hw) Oa)).
    destruct (Rtotal_order (cross w u) 0) as [N|[Z|P]].
    - assert (M := M2 w Hw ltac:(rewrite Sw; lra)). fold x2 in M. rewrite Cs in M by lra. destruct w as [[p' q'] v'].
      cbn in *.
      apply (Rmult_le_compat_r (- (p' * q - q' * p))) in M; [|lra].
      replace ((v' * q - q' * v) / (p' * q - q' * p) * - (p' * q - q' * p)) with (- (v' * q - q' * v)) in M by (field;
        lra). lra.
    - destruct w as [[p' q'] v']. cbn -[cross] in *. rewrite Z in *. lra.
    - destruct w as [[p' q'] v']. cbn -[cross] in *. nra. }
  exists u, w2. split; [exact Hu|split; [exact H2|split; [exact X2|]]].
  assert (N2 : cross w2 u <> 0) by (rewrite Sw in X2; lra).
  assert (E2 : snd (corner u w2) = on x2) by (unfold x2; rewrite (Cs w2 N2); apply (At w2 H2 N2)). fold x2. rewrite E2.
  split; [exact F2|].
  (* x (v - p x) is concave, and less at a than at x1 < a: so it falls from a on *)
  assert (E : forall x, x * on x = x * (v - p * x) / q) by (intro x; unfold on; field; lra).
  apply Rle_trans with (a * c); [|exact Prod]. rewrite <- Oa in *. rewrite !E in *.
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
  apply Rmult_lt_reg_r in Gt; [|now apply Rinv_0_lt_compat].
  assert (D1 : (a - x1) * (v - p * (a + x1)) < 0) by (replace ((a - x1) * (v - p * (a + x1))) with (a * (v - p * a) -
    x1 * (v - p * x1)) by ring; lra).
  assert (Ne : 0 < a - x1) by (destruct (Rle_lt_or_eq_dec x1 a L1) as [|Eq]; [lra|exfalso; rewrite Eq in D1; lra]).
  assert (Ng : v - p * (a + x1) < 0) by (apply Rmult_lt_reg_l with (a - x1); lra).
  assert ((x2 - a) * (v - p * (x2 + a)) <= 0).
  { assert (p * x1 <= p * x2) by (apply Rmult_le_compat_l; lra).
    rewrite <- (Rmult_0_r (x2 - a)). apply Rmult_le_compat_l; lra. }
  replace (x2 * (v - p * x2)) with (a * (v - p * a) + (x2 - a) * (v - p * (x2 + a))) by ring. lra.
Qed.

(* ---------- contraction of a box ---------- *)
(** contracts: |F(x) - x|_p <= (1 - rate) size w_p and, by the derivative,
  |F(y) - F(z)|_p <= rate w_p max |y - z|/w on the box
    |y - x| <= size w.  Then one equilibrium lies in it and attracts every start there; it lies within core w of x if
    |F(x) - x|_p <= (1 - rate) core w_p. *)
Section Contraction.
Variables (m : nat) (F : vec -> vec) (x w : vec) (size rate : R).
Definition near (t : R) (y z : vec) : Prop := forall p, (p < m)%nat -> Rabs (y p - z p) <= t * w p.
Hypothesis w_pos : forall p, (p < m)%nat -> 0 < w p.
Hypothesis size_pos : 0 < size.
Hypothesis rate_in : 0 < rate < 1.
Hypothesis slopes : forall y z t, near size y x -> near size z x -> 0 <= t -> near t y z -> near (rate * t) (F y) (F z).
Hypothesis rests : near ((1 - rate) * size) (F x) x.
Let S : mat := fun i j => if Nat.eqb i j then / w i else 0.
Let T : mat := fun i j => if Nat.eqb i j then w i else 0.
Lemma scaled_gap y z t : 0 <= t -> (equilibrium.gap m S y z <= t <-> near t y z).
Proof.
  intros T0. assert (E : forall k, (k < m)%nat -> certificate.sum m (fun l => S k l * (y l - z l)) = / w k * (y k - z
    k)).
  { intros k Hk. rewrite (certificate.sum_ext m _ (fun l => (if Nat.eqb k l then 1 else 0) * (/ w k * (y l - z l))))
      by (intros l _; unfold S; destruct (Nat.eqb k l); ring).
    exact (equilibrium.sum_pick m k (fun l => / w k * (y l - z l)) Hk). }
  split.
  - intros G p Hp. assert (Q := certificate.maxf_ge m (fun k => Rabs (equilibrium.apply_to m S (fun l => y l - z l) k))
      p Hp).
    unfold equilibrium.gap in G. cbv beta in Q. unfold equilibrium.apply_to at 1 in Q. rewrite E in Q by exact Hp.
    rewrite Rabs_mult, Rabs_right in Q.
    2: { apply Rle_ge. left. apply Rinv_0_lt_compat, w_pos, Hp. }
    assert (W := w_pos p Hp). apply Rmult_le_reg_l with (/ w p); [now apply Rinv_0_lt_compat|].
    replace (/ w p * (t * w p)) with t by (field; lra). unfold equilibrium.apply_to in *. lra.
  - intros N. apply certificate.maxf_le; [exact T0|]. intros k Hk. unfold equilibrium.apply_to. rewrite E by exact Hk.
    assert (W := w_pos k Hk). rewrite Rabs_mult, Rabs_right by (apply Rle_ge; left; now apply Rinv_0_lt_compat).
    specialize (N k Hk). apply Rmult_le_reg_l with (w k); [exact W|]. rewrite <- Rmult_assoc, Rinv_r by lra. lra.
Qed.
Theorem rule_contraction : exists z, near size z x /\ (forall p, (p < m)%nat -> F z p = z p) /\
  (forall y, near size y x -> (forall p, (p < m)%nat -> F y p = y p) -> forall p, (p < m)%nat -> y p = z p) /\
  (forall y, near size y x -> forall t, near (rate ^ t * (2 * size)) (Nat.iter t F y) z) /\
  forall core, 0 <= core <= size -> near ((1 - rate) * core) (F x) x -> near core z x.
Proof.
  assert (ST : equilibrium.inverse m S T /\ equilibrium.inverse m T S).
  { assert (Q : forall i j, (i < m)%nat -> certificate.sum m (fun k => S i k * T k j) = if Nat.eqb i j then 1 else 0).
    { intros i j Hi. rewrite (certificate.sum_ext m _ (fun k => (if Nat.eqb i k then 1 else 0) * (/ w i * T k j)))
        by (intros k _; unfold S; destruct (Nat.eqb i k); ring).
      rewrite (equilibrium.sum_pick m i (fun k => / w i * T k j) Hi). unfold T. assert (W := w_pos i Hi).
      destruct (Nat.eqb i j); field; lra. }
    assert (Q' : forall i j, (i < m)%nat -> certificate.sum m (fun k => T i k * S k j) = if Nat.eqb i j then 1 else 0).
    { intros i j Hi. rewrite (certificate.sum_ext m _ (fun k => (if Nat.eqb i k then 1 else 0) * (w i * S k j)))
        by (intros k _; unfold T; destruct (Nat.eqb i k); ring).
      rewrite (equilibrium.sum_pick m i (fun k => w i * S k j) Hi). unfold S. assert (W := w_pos i Hi).
      destruct (Nat.eqb i j); field; lra. }
    split; intros i j Hi Hj; [now apply Q|now apply Q']. }
  destruct ST as [ST TS].
  assert (Ga := equilibrium.gauge_gap m S).
  assert (Gp : forall y z, 0 <= equilibrium.gap m S y z) by apply (equilibrium.far_pos _ _ _ _ Ga).
  destruct (equilibrium.one_equilibrium m S T 1 (equilibrium.gap m S) x size rate F Ga ST TS ltac:(lra) size_pos
    ltac:(lra)) as [z [Bz [Fz [Un At]]]].
  - intros y z Y Z. apply scaled_gap in Y; [|lra]. apply scaled_gap in Z; [|lra].
    assert (G := Gp y z). apply scaled_gap; [now apply Rmult_le_pos; [lra|]|].
    apply slopes; [exact Y|exact Z|exact G|]. apply scaled_gap; [exact G|lra].
  - apply scaled_gap; [apply Rmult_le_pos; lra|exact rests].
  - assert (Nz : near size z x) by (apply scaled_gap; lra). exists z.
    split; [exact Nz|split; [exact Fz|split; [|split]]].
    + intros y Y Fy p Hp. apply (Un y); [apply scaled_gap; [lra|exact Y]|exact Fy|exact Hp].
    + intros y Y t. assert (0 <= rate ^ t * (2 * size)) by (apply Rmult_le_pos; [apply pow_le; lra|lra]).
      apply scaled_gap; [assumption|].
      apply scaled_gap in Y; [|lra]. eapply Rle_trans; [apply (At y Y)|]. apply Rmult_le_compat_l; [apply pow_le; lra|].
      eapply Rle_trans; [apply (equilibrium.far_triangle _ _ _ _ Ga y x z)|].
      rewrite (equilibrium.far_sym _ _ _ _ Ga x z). lra.
    + intros core [C0 C1] R. apply scaled_gap; [exact C0|].
      assert (X0 : near size x x) by (intros p Hp; rewrite Rminus_diag_eq by reflexivity; rewrite Rabs_R0;
        assert (W := w_pos p Hp); nra).
      set (g := equilibrium.gap m S z x). assert (G := Gp z x). fold g in G.
      assert (Ng : near g z x) by (apply scaled_gap; unfold g in *; lra).
      assert (Q := slopes z x g Nz X0 G Ng).
      assert (K : g <= rate * g + (1 - rate) * core).
      { apply scaled_gap; [assert (0 <= rate * g) by (apply Rmult_le_pos; lra); nra|]. intros p Hp.
        rewrite <- (Fz p Hp).
        replace (F z p - x p) with ((F z p - F x p) + (F x p - x p)) by ring. eapply Rle_trans; [apply Rabs_triang|].
        specialize (Q p Hp). specialize (R p Hp). lra. }
      nra.
Qed.
End Contraction.

(* ---------- the largest modulus of an eigenvalue ---------- *)
Definition cimage (n : nat) (M : mat) (v : nat -> C) (i : nat) : C := csum n (fun j => RtoC (M i j) * v j)%C.
Lemma cimage_parts n M v i : cimage n M v i = (sum n (fun j => M i j * fst (v j)), sum n (fun j => M i j * snd (v j))).
Proof. apply csum_real. intros q _. unfold Cmult, RtoC. cbn [fst snd]. f_equal; ring. Qed.
Lemma cimage_linear n M (u v : nat -> C) z i : cimage n M (fun j => u j + z * v j)%C i = (cimage n M u i + z * cimage n
  M v i)%C.
Proof.
  rewrite !cimage_parts. destruct z as [a b]. unfold Cplus, Cmult. cbn [fst snd]. f_equal.
  - rewrite <- !sum_scal, <- sum_minus, <- sum_plus. apply sum_ext; intros; ring.
  - rewrite <- !sum_scal, <- !sum_plus. apply sum_ext; intros; ring.
Qed.
Lemma cimage_ext n M u v i : (forall j, (j < n)%nat -> u j = v j) -> cimage n M u i = cimage n M v i.
Proof. intros H. rewrite !cimage_parts. f_equal; apply sum_ext; intros j Hj; now rewrite H. Qed.
Lemma cimage_twice n M v i : cimage n (mmul n M M) v i = cimage n M (cimage n M v) i.
Proof.
  rewrite !cimage_parts. f_equal.
  - rewrite (sum_ext n (fun j => M i j * fst (cimage n M v j)) (fun j => M i j * mvec n M (fun k => fst (v k)) j)) by
      (intros; now rewrite cimage_parts).
    exact (mvec_mmul n M M (fun k => fst (v k)) i).
  - rewrite (sum_ext n (fun j => M i j * snd (cimage n M v j)) (fun j => M i j * mvec n M (fun k => snd (v k)) j)) by
      (intros; now rewrite cimage_parts).
    exact (mvec_mmul n M M (fun k => snd (v k)) i).
Qed.
Lemma complex_root (z : C) : exists s : C, (s * s)%C = z.
Proof.
  destruct z as [a b]. set (r := sqrt (a ^ 2 + b ^ 2)). assert (R2 : r * r = a ^ 2 + b ^ 2) by (apply sqrt_sqrt; nra).
  assert (R0 : 0 <= r) by apply sqrt_pos.
  assert (A1 : 0 <= (r + a) / 2) by (assert (Q := pow2_ge_0 b); destruct (Rle_lt_dec 0 a); nra).
  assert (A2 : 0 <= (r - a) / 2) by (assert (Q := pow2_ge_0 b); destruct (Rle_lt_dec 0 a); nra).
  set (x := sqrt ((r + a) / 2)). set (y := sqrt ((r - a) / 2)).
  assert (X : x * x = (r + a) / 2) by (now apply sqrt_sqrt). assert (Y : y * y = (r - a) / 2) by (now apply sqrt_sqrt).
  assert (XY : x * y = Rabs b / 2).
  { unfold x, y. rewrite <- sqrt_mult by assumption. replace ((r + a) / 2 * ((r - a) / 2)) with ((Rabs b / 2) * (Rabs b
      / 2)).
    - apply sqrt_square. assert (Q := Rabs_pos b). lra.
    - assert (Q : Rabs b * Rabs b = b * b) by (rewrite <- Rabs_mult; apply Rabs_right; nra). nra. }
  destruct (Rle_lt_dec 0 b) as [B|B].
  - exists (x, y). unfold Cmult. cbn [fst snd]. rewrite Rabs_right in XY by lra. f_equal; lra.
  - exists (x, - y). unfold Cmult. cbn [fst snd]. rewrite Rabs_left in XY by lra. f_equal; lra.
Qed.
(** The eigenvalues of M^2 are the squares of those of M: so the largest modulus of M^2 is the square of that of M *)
Theorem rule_square n (M : mat) (z : C) : @eigenvalue_of n M z -> @eigenvalue_of n (mmul n M M) (z * z)%C.
Proof.
  intros [v [N E]]. exists v. split; [exact N|]. intros i Hi. fold (cimage n (mmul n M M) v i). rewrite cimage_twice.
  rewrite (cimage_ext n M (cimage n M v) (fun j => RtoC 0 + z * v j)%C) by (intros j Hj; rewrite Cplus_0_l;
    now apply E).
  rewrite (cimage_linear n M (fun _ => RtoC 0) v z i). replace (cimage n M v i) with (z * v i)%C by (symmetry;
    now apply E).
  replace (cimage n M (fun _ => RtoC 0) i) with (RtoC 0); [ring|]. rewrite cimage_parts. unfold RtoC. cbn [fst snd].
  f_equal; rewrite (sum_ext n _ (fun _ => 0)) by (intros; ring); now rewrite sum_zero.
Qed.
Theorem rule_square_back n (M : mat) (y : C) : @eigenvalue_of n (mmul n M M) y ->
  exists z, (z * z)%C = y /\ @eigenvalue_of n M z.
Proof.
  intros [v [N E]]. destruct (complex_root y) as [s S].
  set (u := fun j => (cimage n M v j + s * v j)%C).
  destruct (classic (exists i, (i < n)%nat /\ u i <> 0%C)) as [U|U].
  - exists s. split; [exact S|]. exists u. split; [exact U|]. intros i Hi. fold (cimage n M u i). unfold u.
    rewrite (cimage_linear n M (cimage n M v) v s i), <- cimage_twice. unfold cimage at 1. rewrite E, <- S by exact Hi.
    ring.
  - exists (- s)%C. split; [rewrite <- S; ring|]. exists v. split; [exact N|]. intros i Hi. fold (cimage n M v i).
    assert (Z : u i = 0%C) by (apply NNPP; intro Q; apply U; now exists i). unfold u in Z.
    replace (cimage n M v i) with (cimage n M v i + s * v i - s * v i)%C by ring. rewrite Z. ring.
Qed.
(** Of a triangular M the eigenvalues are its diagonal *)
Theorem rule_triangular n (M : mat) (z : C) : (forall i j, (i < n)%nat -> (j < i)%nat -> M i j = 0) ->
  @eigenvalue_of n M z ->
  exists i, (i < n)%nat /\ z = RtoC (M i i).
Proof.
  intros Tri [v [[i0 [Hi0 N0]] E]].
  destruct (triangular_spectrum n 1 (fun i _ p _ => M i p) (fun i _ => n - i)%nat) with (z := z) as [G _].
  - intros i a p b Hi Ha Hp Hb Ne Le. apply Tri; [exact Hi|]. assert (p <> i) by (intros ->; apply Ne; f_equal; lia).
    lia.
  - intros i a p b Hi Ha Hp Hb Eq. f_equal; lia.
  - destruct G as [i [a [Hi [Ha ->]]]]; [|now exists i].
    exists (fun i _ => v i). split; [exists i0, 0%nat; repeat split; auto; lia|]. intros i a Hi Ha. rewrite <- (E i Hi).
    unfold csum. f_equal; apply sum_ext; intros j _; cbn [sum fst snd]; ring.
Qed.
