(** Registered statements about RMSNorm before attention, as Statements.v prints them. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require own_tv.
From Rankmath Require Import Definitions Functions Norms Softmax Language LanguageFacts NetworkFacts Statements
    own_layernorm proved_positions.
Local Open Scope R_scope.

Section Normed.
Variable N : normed.
Hypothesis PN : proper N.
Hypothesis NN : normable N.
Let n := tokens N.
Let d := dim N.
Let Y := normed_X N.
Let root l i := root_size N l (Y l i).

Lemma size_pos : 0 < INR d.
Proof. apply lt_0_INR, (some_dim N PN). Qed.
Lemma root_pos l i : (l < layers N)%nat -> (i < n)%nat -> 0 < root l i.
Proof. apply (proj2 NN). Qed.
Lemma least_pos l : (l < layers N)%nat -> 0 < least_root N l.
Proof.
  intros Hl. destruct (least_attained n (root l) (some_tokens N PN)) as [i [Hi E]].
  change (0 < least n (root l)). rewrite E. now apply root_pos.
Qed.

(** The tokens, with one entry more: their length is the root mean square times the root of d. *)
Let longer l (x : vec) : vec := fun a => if Nat.eqb a d then sqrt (INR d * root_eps N l) else x a.
Lemma longer_dot l x y : dot (S d) (longer l x) (longer l y) = dot d x y + INR d * root_eps N l.
Proof.
  assert (D := size_pos). assert (E := proj1 NN l). unfold dot. cbn [sum]. unfold longer at 3 4. rewrite Nat.eqb_refl.
  rewrite sqrt_sqrt by nra. f_equal. apply sum_ext; intros a Ha. unfold longer.
  destruct (Nat.eqb_spec a d); [lia|reflexivity].
Qed.
Lemma longer_length l x : l2 (S d) (longer l x) = sqrt (INR d) * root_size N l x.
Proof.
  assert (D := size_pos). assert (E := proj1 NN l). assert (X := dot_pos d x). unfold l2, root_size. fold d.
  rewrite <- sqrt_mult; [|lra|]. { f_equal. rewrite longer_dot. field. lra. }
  apply Rplus_le_le_0_compat; [|exact E]. apply Rmult_le_pos; [exact X|left; now apply Rinv_0_lt_compat].
Qed.

Let over l i : vec := fun a => Y l i a / root l i.
Lemma roots_nearer l i k : (l < layers N)%nat -> (i < n)%nat -> (k < n)%nat ->
  l2 d (vsub (over l i) (over l k)) <= l2 d (vsub (Y l i) (Y l k)) / least_root N l.
Proof.
  intros Hl Hi Hk. assert (D := size_pos). assert (SD : 0 < sqrt (INR d)) by now apply sqrt_lt_R0.
  assert (Rl := least_pos l Hl). set (rho := least_root N l) in *.
  assert (Lb : forall j, (j < n)%nat -> rho <= root l j) by (intros j Hj; exact (least_lb n (root l) j Hj)).
  set (x := Y l i). set (y := Y l k).
  assert (T := sphere_nearer (S d) (sqrt (INR d) * rho) (longer l x) (longer l y)).
  rewrite !longer_length in T. specialize (T ltac:(nra) (Rmult_le_compat_l _ _ _ (Rlt_le _ _ SD) (Lb i Hi))
    (Rmult_le_compat_l _ _ _ (Rlt_le _ _ SD) (Lb k Hk))).
  set (u := vsub (sphere (S d) (longer l x)) (sphere (S d) (longer l y))) in T.
  assert (A : dot (S d) (vsub (longer l x) (longer l y)) (vsub (longer l x) (longer l y)) = dot d (vsub x y) (vsub x
    y)).
  { unfold dot at 1. cbn [sum]. unfold vsub at 3 4. unfold longer at 5 6 7 8. rewrite Nat.eqb_refl.
    rewrite (sum_ext d _ (fun a => vsub x y a * vsub x y a)); [unfold dot; ring|].
    intros a Ha. unfold vsub, longer. destruct (Nat.eqb_spec a d); [lia|reflexivity]. }
  assert (B : dot d (vsub (over l i) (over l k)) (vsub (over l i) (over l k)) <= INR d * dot (S d) u u).
  { unfold dot. cbn [sum]. rewrite Rmult_plus_distr_l, <- sum_scal.
    assert (Z : 0 <= INR d * (u d * u d)) by (apply Rmult_le_pos; [lra|nra]).
    apply Rle_trans with (sum d (fun a => INR d * (u a * u a))); [|lra].
    right. apply sum_ext; intros a Ha. unfold u, vsub, over, sphere. rewrite !longer_length. unfold longer.
    destruct (Nat.eqb_spec a d); [lia|]. fold x y. change (root_size N l x) with (root l i).
    change (root_size N l y) with (root l k). assert (Ri := root_pos l i Hl Hi). assert (Rk := root_pos l k Hl Hk).
    assert (Sq : sqrt (INR d) * sqrt (INR d) = INR d) by (apply sqrt_sqrt; lra). set (sd := sqrt (INR d)) in *.
    rewrite <- Sq. field. repeat split; lra. }
  rewrite A in T. apply Rmult_le_reg_l with rho; [exact Rl|].
  replace (rho * (l2 d (vsub x y) / rho)) with (l2 d (vsub x y)) by (field; lra).
  apply Rsqr_incr_0_var; [|apply l2_nonneg]. unfold Rsqr.
  assert (E1 : l2 d (vsub x y) * l2 d (vsub x y) = dot d (vsub x y) (vsub x y)) by (apply sqrt_sqrt, dot_pos).
  assert (E2 : l2 d (vsub (over l i) (over l k)) * l2 d (vsub (over l i) (over l k)) =
    dot d (vsub (over l i) (over l k)) (vsub (over l i) (over l k))) by (apply sqrt_sqrt, dot_pos).
  rewrite E1. apply Rle_trans with (rho * rho * (INR d * dot (S d) u u)).
  - replace (rho * l2 d (vsub (over l i) (over l k)) * (rho * l2 d (vsub (over l i) (over l k)))) with
      (rho * rho * (l2 d (vsub (over l i) (over l k)) * l2 d (vsub (over l i) (over l k)))) by ring.
    rewrite E2. apply Rmult_le_compat_l; [nra|exact B].
  - assert (Sq : sqrt (INR d) * sqrt (INR d) = INR d) by (apply sqrt_sqrt; lra).
    replace (rho * rho * (INR d * dot (S d) u u)) with (sqrt (INR d) * rho * (sqrt (INR d) * rho) * dot (S d) u u);
      [exact T|]. set (sd := sqrt (INR d)) in *. rewrite <- Sq. ring.
Qed.

Let nu l := sum (heads N) (fun h => gained_norm N l h * dobrushin (normed_P N l h)).
Lemma normed_row l h i : (i < n)%nat -> (forall j, (j < n)%nat -> 0 <= normed_P N l h i j) /\ sum n (normed_P N l h
  i) = 1.
Proof. intros Hi. apply (scored_row N PN l h (read N l (Y l)) i Hi). Qed.
Lemma nu_nonneg l : 0 <= nu l.
Proof.
  apply sum_nonneg; intros h _. apply Rmult_le_pos; [apply spectral_nonneg|].
  eapply Rle_trans; [|apply (dobrushin_ub n n (normed_P N l h) 0%nat 0%nat (some_tokens N PN) (some_tokens N PN))].
  apply Rmult_le_pos; [lra|apply sum_nonneg; intros; apply Rabs_pos].
Qed.

(** What a head makes of the normed tokens: the gain moves to the weights, the offset is the same for all. *)
Lemma head_read l h i b : (i < n)%nat -> vmat d (vmat n (normed_P N l h i) (read N l (Y l))) (W N l h) b =
  vmat d (vmat n (normed_P N l h i) (over l)) (gained N l h) b + vmat d (offset N l) (W N l h) b.
Proof.
  intros Hi. destruct (normed_row l h i Hi) as [_ P1]. unfold vmat at 1 3 5. rewrite <- sum_plus.
  apply sum_ext; intros a _. unfold gained.
  replace (vmat n (normed_P N l h i) (read N l (Y l)) a) with (vmat n (normed_P N l h i) (over l) a * gain N l a +
    offset N
    l a); [ring|].
  unfold vmat. rewrite (sum_ext n (fun j => normed_P N l h i j * read N l (Y l) j a) (fun j => normed_P N l h i j *
    over l j
    a * gain N l a + normed_P N l h i j * offset N l a)) by (intros; unfold read, over, root; ring).
  rewrite sum_plus, !sum_scal_r, P1. ring.
Qed.
Lemma normed_next l i b : (i < n)%nat -> Y (S l) i b = skip_of N * Y l i b + (sum (heads N) (fun h => vmat d (vmat n
  (normed_P N l h i) (over l)) (gained N l h) b) + (sum (heads N) (fun h => vmat d (offset N l) (W N l h) b) + bias N
    l b)).
Proof.
  intros Hi. unfold Y at 1. cbn [normed_X]. unfold made. f_equal. rewrite <- Rplus_assoc. f_equal. rewrite <- sum_plus.
  apply sum_ext; intros h _. exact (head_read l h i b Hi).
Qed.

Lemma normed_step l : (l < layers N)%nat -> let D := diameter (Y l) p_2 in let D' := diameter (Y (S l)) p_2 in
  (Rabs (skip_of N) - nu l / least_root N l) * D <= D' <= (Rabs (skip_of N) + nu l / least_root N l) * D.
Proof.
  intros Hl D D'. assert (n0 := some_tokens N PN). assert (Rl := least_pos l Hl). assert (V := nu_nonneg l).
  assert (D0 := diameter_nonneg n d (Y l) p_2). fold D in D0. assert (A := Rabs_pos (skip_of N)).
  assert (V0 : 0 <= nu l / least_root N l) by (apply Rmult_le_pos; [exact V|left; now apply Rinv_0_lt_compat]).
  assert (Apart : forall i k, (i < n)%nat -> (k < n)%nat -> l2 d (fun b => vsub (Y (S l) i) (Y (S l) k) b - skip_of N
    * vsub
    (Y l i) (Y l k) b) <= nu l / least_root N l * D).
  { intros i k Hi Hk. assert (E := averages_apart n d (heads N) p_2 (fun h => normed_P N l h) (fun h => gained N l h)
      (over l) i k Hi Hk (fun h j Hj => proj2 (normed_row l h j Hj))).
    apply Rle_trans with (nu l * diameter (over l : matrix n d) p_2).
    - eapply Rle_trans; [|exact E]. right. apply (sn_ext (L2 d)). intro b. unfold vsub.
      rewrite !normed_next by assumption.
      rewrite sum_minus. ring.
    - replace (nu l / least_root N l * D) with (nu l * (D / least_root N l)) by (unfold Rdiv; ring).
      apply Rmult_le_compat_l; [exact V|]. apply diam_lub.
      + apply Rmult_le_pos; [exact D0|left; now apply Rinv_0_lt_compat].
      + intros a c Ha Hc. eapply Rle_trans; [now apply (roots_nearer l a c)|]. apply Rmult_le_compat_r;
        [left; now apply Rinv_0_lt_compat|]. exact (diam_ub n (l2 d) (Y l) a c Ha Hc). }
  assert (Both : forall i k, (i < n)%nat -> (k < n)%nat -> let u := l2 d (vsub (Y l i) (Y l k)) in
    let u' := l2 d (vsub (Y (S l) i) (Y (S l) k)) in Rabs (skip_of N) * u - nu l / least_root N l * D <= u' <=
      Rabs (skip_of N) * u + nu l / least_root N l * D).
  { intros i k Hi Hk u u'. assert (E := Apart i k Hi Hk). set (z := fun b => _ - _) in E.
    assert (S1 : l2 d (fun b => skip_of N * vsub (Y l i) (Y l k) b) = Rabs (skip_of N) * u) by apply l2_scal. split.
    - assert (T := sn_add (L2 d) (vsub (Y (S l) i) (Y (S l) k)) (fun b => -1 * z b)).
      rewrite sn_scal, Rabs_left in T by lra.
      rewrite (sn_ext (L2 d) (fun a => vsub (Y (S l) i) (Y (S l) k) a + -1 * z a) (fun b => skip_of N * vsub (Y l i)
        (Y l k)
        b)) in T by (intro; unfold z; ring).
      change (l2 d (fun b => skip_of N * vsub (Y l i) (Y l k) b) <= u' + - -1 * l2 d z) in T. lra.
    - assert (T : u' <= l2 d (fun b => skip_of N * vsub (Y l i) (Y l k) b) + l2 d z); [|lra].
      eapply Rle_trans; [right|apply (sn_add (L2 d))]. apply (sn_ext (L2 d)). intro. unfold z. ring. }
  split.
  - assert (F : exists i k, (i < n)%nat /\ (k < n)%nat /\ D = l2 d (vsub (Y l i) (Y l k))).
    { set (g := fun i k => l2 d (vsub (Y l i) (Y l k))).
      assert (E1 : D = largest n (fun i => maxf n (g i))) by (symmetry; apply largest_maxf; intros; apply maxf_pos).
      destruct (largest_attained n (fun i => maxf n (g i)) n0) as [i [Hi E2]].
      assert (E3 : maxf n (g i) = largest n (g i)) by (symmetry; apply largest_maxf; intros; apply l2_nonneg).
      destruct (largest_attained n (g i) n0) as [k [Hk E4]]. exists i, k. split; [exact Hi|split; [exact Hk|]].
      now rewrite E1, E2, E3, E4. }
    destruct F as (i & k & Hi & Hk & E). destruct (Both i k Hi Hk) as [Lo _]. cbv zeta in Lo. rewrite <- E in Lo.
    eapply Rle_trans; [|exact (diam_ub n (l2 d) (Y (S l)) i k Hi Hk)]. lra.
  - apply diam_lub; [apply Rmult_le_pos; [now apply Rplus_le_le_0_compat|exact D0]|]. intros i k Hi Hk.
    destruct (Both i k Hi Hk) as [_ Hi'].
    eapply Rle_trans; [exact Hi'|]. rewrite Rmult_plus_distr_r. apply Rplus_le_compat_r. apply Rmult_le_compat_l;
      [exact A|].
    exact (diam_ub n (l2 d) (Y l) i k Hi Hk).
Qed.
End Normed.

Theorem proved_own_pre_norm_diameter : statement_own_pre_norm_diameter.
Proof.
  intros N PN NN _ _ Sm _. split.
  - apply Rle_ge. apply (product_lower (fun l => diameter (normed_X N l) p_2)); intros l Hl;
      [specialize (Sm l Hl); lra|now apply (normed_step N PN NN l)].
  - apply (product_upper (fun l => diameter (normed_X N l) p_2)); intros l Hl; [|now apply (normed_step N PN NN l)].
    assert (A := Rabs_pos (skip_of N)). apply Rplus_le_le_0_compat; [exact A|]. apply Rmult_le_pos;
      [apply (nu_nonneg N PN l)|left; apply Rinv_0_lt_compat; now apply least_pos].
Qed.

(* ---------- a power of the depth ---------- *)
Lemma log_step x c : 0 < x -> 0 < c -> c / (x + c) <= ln (x + c) - ln x.
Proof.
  intros x0 c0. assert (E := exp_ineq1_le (- (ln (x + c) - ln x))).
  rewrite Ropp_minus_distr in E. unfold Rminus in E at 2. rewrite exp_plus, exp_Ropp, !exp_ln in E by lra.
  replace (c / (x + c)) with (1 - x * / (x + c)) by (field; lra). lra.
Qed.
Lemma log_sum x c L : 0 < x -> 0 < c ->
  sum (S L) (fun l => / (x + c * INR l)) <= / x + / c * ln (1 + c * INR L / x).
Proof.
  intros x0 c0. induction L as [|L IH].
  - simpl. rewrite Rmult_0_r, Rplus_0_r, Rplus_0_l. unfold Rdiv. rewrite Rmult_0_l, Rplus_0_r, ln_1. lra.
  - cbn [sum] in *. set (s := sum L _) in *. assert (p := pos_INR L).
    assert (cp : 0 <= c * INR L) by (apply Rmult_le_pos; lra). set (y := x + c * INR L) in *.
    assert (E : x + c * INR (S L) = y + c) by (unfold y; rewrite S_INR; ring). rewrite E.
    assert (Q := log_step y c ltac:(unfold y; lra) c0).
    assert (E1 : ln (1 + c * INR L / x) = ln y - ln x).
    { replace (1 + c * INR L / x) with (y * / x) by (unfold y; field; lra). rewrite ln_mult, ln_Rinv; try lra;
      [unfold y; lra|now apply Rinv_0_lt_compat]. }
    assert (E2 : ln (1 + c * INR (S L) / x) = ln (y + c) - ln x).
    { replace (1 + c * INR (S L) / x) with ((y + c) * / x) by (rewrite <- E; field; lra).
      rewrite ln_mult, ln_Rinv; try lra; [unfold y; lra|now apply Rinv_0_lt_compat]. }
    rewrite E1 in IH. rewrite E2. assert (y0 : 0 < y) by (unfold y; lra).
    assert (Z : / (y + c) <= / c * (ln (y + c) - ln y)).
    { apply Rmult_le_reg_l with c; [exact c0|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. exact Q. }
    lra.
Qed.

Theorem proved_own_pre_norm_depth : statement_own_pre_norm_depth.
Proof.
  intros N PN NN nu _ _ S1 L2 G Sm _. set (L := layers N) in *. set (rho := least_root N 0%nat) in *.
  set (c := root_growth N) in *. assert (r0 : 0 < rho) by (apply least_pos; auto; fold L; lia).
  set (v := fun l => sum (heads N) (fun h => gained_norm N l h * dobrushin (normed_P N l h))).
  assert (v0 : forall l, 0 <= v l) by (intro; apply (nu_nonneg N PN)).
  assert (vn : forall l, (l < L)%nat -> v l <= nu) by (intros l Hl; exact (largest_ub L v l Hl)).
  assert (n0 : 0 <= nu) by (eapply Rle_trans; [apply (v0 0%nat)|apply vn; lia]).
  assert (Gr : forall l, (l < L)%nat -> rho + c * INR l <= least_root N l).
  { intros [|l] Hl; [simpl; fold rho; lra|].
    assert (E : c <= (least_root N (S l) - rho) / INR (S l)) by (apply (least_lb (L - 1) (fun k => (least_root N (S
      k) - rho)
      / INR (S k)) l); lia). assert (p : 0 < INR (S l)) by (apply lt_0_INR; lia).
    apply (Rmult_le_compat_r (INR (S l))) in E; [|lra]. unfold Rdiv in E. rewrite Rmult_assoc, Rinv_l in E by lra.
      lra. }
  assert (Grow : forall l, 0 <= c * INR l) by (intro; apply Rmult_le_pos; [lra|apply pos_INR]).
  assert (D0 := diameter_nonneg (tokens N) (dim N) (normed_X N 0%nat) p_2).
  set (K := (L - 1)%nat). assert (EL : L = S K) by (unfold K; lia).
  assert (IK : INR K <= INR L) by (apply le_INR; unfold K; lia).
  assert (Lg : forall x, 0 < x -> nu * sum L (fun l => / (x + c * INR l)) <= nu / x + nu / c * ln (1 + c * INR L / x)).
  { intros x x0. rewrite EL at 1. assert (Q := log_sum x c K x0 ltac:(lra)).
    assert (M : ln (1 + c * INR K / x) <= ln (1 + c * INR L / x)).
    { assert (0 <= c * INR K / x) by (apply Rmult_le_pos; [apply Grow|left; now apply Rinv_0_lt_compat]).
      assert (c * INR K / x <= c * INR L / x) by (apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|];
        apply Rmult_le_compat_l; lra).
      destruct (Req_dec (c * INR K / x) (c * INR L / x)) as [->|]; [lra|]. left. apply ln_increasing; lra. }
    apply Rle_trans with (nu * (/ x + / c * ln (1 + c * INR K / x))); [now apply Rmult_le_compat_l|].
    apply Rle_trans with (nu * (/ x + / c * ln (1 + c * INR L / x))); [|right; unfold Rdiv; ring].
    apply Rmult_le_compat_l; [exact n0|]. apply Rplus_le_compat_l. apply Rmult_le_compat_l; [left;
      apply Rinv_0_lt_compat; lra|exact M]. }
  assert (Qb : forall l, (l < L)%nat -> v l / least_root N l <= nu / (rho + c * INR l)).
  { intros l Hl. assert (Gl := Gr l Hl). assert (C := Grow l). apply Rmult_le_compat; [apply v0|left;
    apply Rinv_0_lt_compat;
      lra|now apply vn|apply Rinv_le_contravar; lra]. }
  split.
  - apply Rle_ge. set (x := rho - nu). assert (x0 : 0 < x) by (unfold x; lra).
    set (q := fun l => exp (- (nu * / (x + c * INR l)))).
    assert (Low : prodf L q * diameter (normed_X N 0%nat) p_2 <= diameter (normed_X N L) p_2).
    { apply (product_lower (fun l => diameter (normed_X N l) p_2)); intros l Hl; [left; apply exp_pos|].
      eapply Rle_trans; [|apply (normed_step N PN NN l Hl)]. apply Rmult_le_compat_r; [apply diameter_nonneg|].
      rewrite S1, Rabs_R1. assert (B := Qb l Hl). assert (C := Grow l).
      assert (y0 : 0 < x + c * INR l) by lra. set (y := x + c * INR l) in *.
      assert (Ey : rho + c * INR l = y + nu) by (unfold y, x; ring). rewrite Ey in B.
      apply Rle_trans with (1 - nu / (y + nu)); [|unfold v in B; lra].
      replace (1 - nu / (y + nu)) with (/ (1 + nu * / y)) by (field; split; lra). unfold q. fold y. rewrite exp_Ropp.
      apply Rinv_le_contravar; [|apply exp_ineq1_le].
      assert (0 <= nu * / y) by (apply Rmult_le_pos; [exact n0|left; now apply Rinv_0_lt_compat]). lra. }
    eapply Rle_trans; [|exact Low]. apply Rmult_le_compat_r; [exact D0|].
    assert (E : forall k, prodf k q = exp (- (nu * sum k (fun l => / (x + c * INR l))))).
    { induction k as [|k IH]; [simpl; rewrite Rmult_0_r, Ropp_0; symmetry; apply exp_0|]. cbn [prodf sum]. rewrite IH.
      unfold q. rewrite <- exp_plus. f_equal. ring. }
    rewrite E. apply exp_le. assert (Z := Lg x x0). unfold Rdiv in *. lra.
  - set (q := fun l => exp (nu * / (rho + c * INR l))).
    assert (Up : diameter (normed_X N L) p_2 <= prodf L q * diameter (normed_X N 0%nat) p_2).
    { apply (product_upper (fun l => diameter (normed_X N l) p_2)); intros l Hl; [left; apply exp_pos|].
      eapply Rle_trans; [apply (normed_step N PN NN l Hl)|]. apply Rmult_le_compat_r; [apply diameter_nonneg|].
      rewrite S1, Rabs_R1. eapply Rle_trans; [|apply exp_ineq1_le]. apply Rplus_le_compat_l. exact (Qb l Hl). }
    eapply Rle_trans; [exact Up|]. apply Rmult_le_compat_r; [exact D0|].
    assert (E : forall k, prodf k q = exp (nu * sum k (fun l => / (rho + c * INR l)))).
    { induction k as [|k IH]; [simpl; rewrite Rmult_0_r; symmetry; apply exp_0|]. cbn [prodf sum]. rewrite IH.
      unfold q. rewrite <- exp_plus. f_equal. ring. }
    rewrite E. apply exp_le. exact (Lg rho r0).
Qed.

(* ---------- the first two tokens ---------- *)
Definition off (d : nat) (u v : vec) : vec := fun a => v a - dot d v u / dot d u u * u a.
Lemma off_scal d u v s t w : (forall a, (a < d)%nat -> w a = s * v a + t * u a) -> forall k, k <> 0 -> forall u',
  (forall a, (a < d)%nat -> u' a = k * u a) -> forall a, (a < d)%nat -> off d u' w a = s * off d u v a.
Proof.
  intros Hw k k0 u' Hu a Ha. unfold off.
  assert (Uu : dot d u' u' = k * k * dot d u u) by (unfold dot; rewrite <- sum_scal; apply sum_ext; intros b Hb;
    rewrite Hu by exact Hb; ring).
  assert (Wu : dot d w u' = k * (s * dot d v u + t * dot d u u)) by (unfold dot;
    rewrite <- (sum_scal d s), <- (sum_scal d t), <- sum_plus, <- sum_scal; apply sum_ext; intros b Hb;
    rewrite Hu, Hw by exact Hb; ring).
  rewrite Uu, Wu, Hu, Hw by exact Ha. destruct (Req_dec (dot d u u) 0) as [Z|Z]; [|field; split; assumption].
  assert (Ua : u a = 0).
  { assert (A : u a * u a <= dot d u u) by (apply (sum_term_le d (fun a => u a * u a) a); [intros; nra|exact Ha]).
    nra. }
  rewrite Z, Ua. unfold Rdiv. ring.
Qed.

Theorem proved_own_pre_norm_power : statement_own_pre_norm_power.
Proof.
  intros N PN NN _ _ S1 H1 N2 M B0 Sc _. set (n := tokens N) in *. set (d := dim N). set (Y := normed_X N).
  set (p := fun l => normed_P N l 0%nat 1%nat 1%nat).
  assert (p0 : forall l, 0 <= p l) by (intro l; apply (normed_row N PN l 0%nat 1%nat); fold n; lia).
  assert (Step : forall l, (l < layers N)%nat -> across (Y (S l)) = (1 + gained_norm N l 0%nat * p l / root_size N l
    (Y l
    1%nat)) * across (Y l)).
  { intros l Hl. destruct (Sc l Hl) as [O0 [w [w0 Hw]]].
    assert (Rt : forall i, (i < n)%nat -> 0 < root_size N l (Y l i)) by (intros; now apply (root_pos N NN)).
    assert (d0 := some_dim N PN).
    assert (Gw : gained_norm N l 0%nat = w).
    { apply Rle_antisym.
      - apply spectral_le; [exact w0|]. intro x. right.
        rewrite <- (Rabs_pos_eq w w0) at 1. rewrite <- l2_scal. unfold l2. f_equal. apply sum_ext; intros b Hb.
          fold d in Hb.
        assert (E : vmat (dim N) x (gained N l 0) b = w * x b).
        { unfold vmat. rewrite (sum_ext (dim N) _ (fun a => w * (x a * eye a b))) by (intros a Ha;
          rewrite Hw by assumption;
            ring). rewrite sum_scal. f_equal. rewrite (sum_single (dim N) _ b Hb). { unfold eye.
              rewrite Nat.eqb_refl. ring. }
          intros a _ Na. unfold eye. destruct (Nat.eqb_spec a b); [congruence|ring]. }
        rewrite E. reflexivity.
      - assert (T := spectral_bound (dim N) (dim N) (gained N l 0) (eye 0%nat)).
        assert (E1 : l2 (dim N) (eye 0%nat) = 1).
        { unfold l2, dot. rewrite (sum_single (dim N) _ 0%nat d0); [unfold eye; simpl; rewrite Rmult_1_r;
          apply sqrt_1|].
          intros j _ Hj. unfold eye. destruct (Nat.eqb_spec 0 j); [lia|ring]. }
        assert (E2 : l2 (dim N) (vmat (dim N) (eye 0%nat) (gained N l 0)) = w).
        { transitivity (l2 (dim N) (fun b => w * eye 0%nat b)).
          - unfold l2. f_equal. apply sum_ext; intros b Hb. assert (E : vmat (dim N) (eye 0%nat) (gained N l 0) b = w
            * eye
              0%nat b).
            { unfold vmat. rewrite (sum_single (dim N) _ 0%nat d0). { rewrite Hw by assumption. unfold eye at 1.
              simpl. ring. }
              intros a _ Na. unfold eye at 1. destruct (Nat.eqb_spec 0 a); [congruence|ring]. }
            rewrite E. reflexivity.
          - rewrite l2_scal, E1, Rabs_pos_eq by exact w0. ring. }
        rewrite E1, E2 in T. unfold gained_norm. lra. }
    rewrite Gw.
    set (r0 := root_size N l (Y l 0%nat)). set (r1 := root_size N l (Y l 1%nat)).
    assert (R0 : 0 < r0) by (apply Rt; lia). assert (R1 : 0 < r1) by (apply Rt; lia).
    assert (F := first_row N PN M N2 l 0%nat (read N l (Y l))).
      destruct (second_row N PN M N2 l 0%nat (read N l (Y l))) as
      [S2 Z2]. change (scored_attention N l 0%nat (read N l (Y l))) with (normed_P N l 0%nat) in *. fold (p l) in S2.
    assert (Wg : forall (x : vec) b, (b < d)%nat -> vmat d (fun a => x a * gain N l a) (W N l 0%nat) b = w * x b).
    { intros x b Hb. unfold vmat. rewrite (sum_ext d _ (fun a => x a * (w * eye a b))).
      2: { intros a Ha. rewrite <- Hw by assumption. unfold gained. ring. }
      rewrite (sum_single d _ b Hb). { unfold eye. rewrite Nat.eqb_refl. ring. }
      intros a _ Na. unfold eye. destruct (Nat.eqb_spec a b); [congruence|ring]. }
    assert (Nx : forall i (x : vec), (forall a, vmat n (normed_P N l 0%nat i) (read N l (Y l)) a = x a * gain N l a) ->
      forall b, (b < d)%nat -> Y (S l) i b = Y l i b + w * x b).
    { intros i x Hx b Hb. unfold Y at 1. cbn [normed_X]. unfold made. rewrite S1, H1, B0. cbn [sum]. fold n d Y.
      change (scored_attention N l 0%nat (read N l (Y l)) i) with (normed_P N l 0%nat i).
      rewrite (vmat_ext d _ (fun a => x a * gain N l a)) by (intros; apply Hx). rewrite Wg by exact Hb. ring. }
    assert (Rd : forall i a, read N l (Y l) i a = Y l i a / root_size N l (Y l i) * gain N l a) by (intros; unfold read;
      rewrite O0; ring).
    assert (X0 : forall b, (b < d)%nat -> Y (S l) 0%nat b = (1 + w / r0) * Y l 0%nat b).
    { intros b Hb. rewrite (Nx 0%nat (fun a => Y l 0%nat a / r0)); [field; lra| |exact Hb]. intro a. unfold vmat.
      rewrite (sum_ext n _ (fun j => (if Nat.eqb j 0 then 1 else 0) * read N l (Y l) j a)) by (intros j Hj;
        rewrite (F j Hj); reflexivity).
      rewrite (sum_single n _ 0%nat); [|lia|intros j _ Hj; destruct (Nat.eqb_spec j 0); [congruence|ring]].
      simpl. rewrite Rd. unfold r0. ring. }
    assert (X1 : forall b, (b < d)%nat -> Y (S l) 1%nat b = (1 + w * p l / r1) * Y l 1%nat b + w * (1 - p l) / r0 * Y
      l 0%nat
      b).
    { intros b Hb. rewrite (Nx 1%nat (fun a => (1 - p l) * (Y l 0%nat a / r0) + p l * (Y l 1%nat a / r1)));
        [field; split; lra| |exact Hb]. intro a. unfold vmat.
      assert (E : n = (2 + (n - 2))%nat) by lia. rewrite E at 1. rewrite sum_split.
      rewrite (sum_ext (n - 2) _ (fun _ => 0)) by (intros j Hj; rewrite Z2 by (fold n; lia); ring).
      rewrite sum_zero. cbn [sum]. rewrite !Rd. fold r0 r1 (p l).
      replace (normed_P N l 0%nat 1%nat 0%nat) with (1 - p l) by lra. ring. }
    transitivity (l2 d (fun a => (1 + w * p l / r1) * off d (Y l 0%nat) (Y l 1%nat) a)).
    - change (across (Y (S l))) with (l2 d (off d (Y (S l) 0%nat) (Y (S l) 1%nat))). unfold l2. f_equal.
      apply sum_ext; intros a Ha.
      assert (k0 : 1 + w / r0 <> 0) by (assert (0 <= w / r0) by (apply Rmult_le_pos; [exact w0|left;
        now apply Rinv_0_lt_compat]); lra).
      assert (Q := off_scal d (Y l 0%nat) (Y l 1%nat) _ _ (Y (S l) 1%nat) X1 _ k0 (Y (S l) 0%nat) X0 a Ha).
      rewrite Q. reflexivity.
    - rewrite l2_scal, Rabs_pos_eq; [reflexivity|]. assert (0 <= w * p l / r1) by (apply Rmult_le_pos;
        [apply Rmult_le_pos; [exact w0|apply p0]|left; now apply Rinv_0_lt_compat]). lra. }
  assert (g0 : forall l, 0 <= gained_norm N l 0%nat * p l) by (intro; apply Rmult_le_pos;
    [apply spectral_nonneg|apply p0]).
  assert (Lp : forall l, (l < layers N)%nat -> 0 < least_root N l) by (intros; now apply least_pos).
  assert (Lr : forall l, least_root N l <= root_size N l (Y l 1%nat) <= largest_root N l).
  { intro l. split; [apply (least_lb n (fun i => root_size N l (normed_X N l i)) 1%nat); lia|].
    apply (largest_ub n (fun i => root_size N l (normed_X N l i)) 1%nat); lia. }
  split.
  - apply Rle_ge. apply (product_lower (fun l => across (Y l))); intros l Hl; specialize (Lp l Hl); specialize (Lr l);
      specialize (g0 l).
    + apply Rplus_le_le_0_compat; [lra|]. apply Rmult_le_pos; [exact g0|left; apply Rinv_0_lt_compat; lra].
    + rewrite (Step l Hl). apply Rmult_le_compat_r; [apply l2_nonneg|]. apply Rplus_le_compat_l.
      apply Rmult_le_compat_l; [exact g0|]. apply Rinv_le_contravar; lra.
  - apply (product_upper (fun l => across (Y l))); intros l Hl; specialize (Lp l Hl); specialize (Lr l);
      specialize (g0 l).
    + apply Rplus_le_le_0_compat; [lra|]. apply Rmult_le_pos; [exact g0|left; apply Rinv_0_lt_compat; lra].
    + rewrite (Step l Hl). apply Rmult_le_compat_r; [apply l2_nonneg|]. apply Rplus_le_compat_l.
      apply Rmult_le_compat_l; [exact g0|]. apply Rinv_le_contravar; lra.
Qed.
