(** Lemmas of the prover: what tokens attend to themselves, attention among equal tokens, effective ranks. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Rbar Lub.
From Rankmath Require Import Definitions Functions Norms Sums Softmax Masks centred_form Quantities Lemmas_functions Lemmas_norms
  Lemmas_tokens Lemmas_attention Lemmas_entropy Lemmas_spread.
Local Open Scope R_scope.

(* ---------- what tokens attend to themselves ---------- *)
(** 0 where there is no such token, for which the language has no value. *)
Definition diagonal (n : nat) (P : mat) (k : nat) : R := if Nat.ltb k n then P k k else 0.
Definition other_share (n : nat) (P : mat) : R := maxf n (fun i => if Nat.eqb i 0 then 0 else P i i).
Theorem lemma_diagonal_max n P k : diagonal n P k <= maxentry n n P.
Proof.
  unfold diagonal. destruct (Nat.ltb_spec k n) as [L|_]; [|apply maxf_pos].
  eapply Rle_trans; [apply Rle_abs|now apply entry_le].
Qed.
Theorem lemma_other_share_max n P : other_share n P <= maxentry n n P.
Proof.
  apply maxf_lub; [apply maxf_pos|]. intros i Hi. destruct (Nat.eqb i 0); [apply maxf_pos|].
  eapply Rle_trans; [apply Rle_abs|now apply entry_le].
Qed.
Theorem lemma_epsilon_diagonal n P : (0 < n)%nat -> row_stochastic n n P -> epsilon n nomask P <= diagonal n P 0.
Proof.
  intros Hn SP. unfold diagonal. destruct (Nat.ltb_spec 0 n); [|lia]. apply (epsilon_le n nomask P SP 0 0 Hn Hn).
  unfold nomask. lra.
Qed.

(* ---------- distances from the first token ---------- *)
Definition reach (n d : nat) (X : mat) : R := maxf n (fun i => l2 d (vsub (X i) (X 0%nat))).
Theorem lemma_reach n d X : (0 < n)%nat -> reach n d X <= diam n (l2 d) X.
Proof. intros Hn. apply maxf_lub; [apply diam_nonneg|]. intros i Hi. now apply (diam_ub n (l2 d)). Qed.
Theorem lemma_diameter_reach n d X : diam n (l2 d) X <= 2 * reach n d X.
Proof.
  assert (U : forall i, (i < n)%nat -> l2 d (vsub (X i) (X 0%nat)) <= reach n d X) by (intros i Hi;
    apply (maxf_ub n (fun i => l2 d (vsub (X i) (X 0%nat))) i Hi)).
  apply diam_lub; [assert (A := maxf_pos n (fun i => l2 d (vsub (X i) (X 0%nat)))); unfold reach; lra|].
  intros i j Hi Hj. assert (A := U i Hi). assert (B := U j Hj).
  rewrite (l2_ext d _ (fun b => vsub (X i) (X 0%nat) b + -1 * vsub (X j) (X 0%nat) b)) by (intros; unfold vsub; ring).
  eapply Rle_trans; [apply (sn_add (L2 d) (vsub (X i) (X 0%nat)))|]. change (sn (L2 d)) with (l2 d).
  assert (C := sn_scal (L2 d) (-1) (vsub (X j) (X 0%nat))). replace (Rabs (-1)) with 1 in C by (rewrite Rabs_left; lra).
  rewrite Rmult_1_l in C. change (sn (L2 d)) with (l2 d) in C. rewrite C. lra.
Qed.

(* ---------- how many keys a window shows ---------- *)
Lemma count_between n a b : sum n (fun j => if (Nat.leb a j && Nat.ltb j b)%bool then 1 else 0) <= INR (Nat.min n b - a).
Proof.
  induction n as [|n IH]; [apply pos_INR|]. cbn [sum]. destruct (Nat.leb_spec a n), (Nat.ltb_spec n b); cbn [andb].
  - replace (Nat.min (S n) b - a)%nat with (S (Nat.min n b - a)) by lia. rewrite S_INR. lra.
  - replace (Nat.min (S n) b - a)%nat with (Nat.min n b - a)%nat by lia. lra.
  - rewrite Rplus_0_r. eapply Rle_trans; [exact IH|apply le_INR; lia].
  - rewrite Rplus_0_r. eapply Rle_trans; [exact IH|apply le_INR; lia].
Qed.
Lemma degree_between n G k (a b : nat -> nat) : (forall i, (b i - a i <= k)%nat) -> (forall i j, (i < n)%nat ->
  (j < n)%nat -> 0 < G i j -> (a i <= j < b i)%nat) -> in_degree n G <= INR k.
Proof.
  intros K H. apply maxf_lub; [apply pos_INR|]. intros i Hi. eapply Rle_trans; [|apply (le_INR (Nat.min n (b i) - a i));
    specialize (K i); lia]. eapply Rle_trans; [|apply count_between]. apply sum_le; intros j Hj.
  destruct Rlt_dec as [L|L]; [|destruct (_ && _)%bool; lra]. destruct (H i j Hi Hj L) as [A B].
  apply Nat.leb_le in A. apply Nat.ltb_lt in B. rewrite A, B. cbn [andb]. lra.
Qed.

(* ---------- equal tokens ---------- *)
Section Equal.
Variables (n d dq : nat) (h : head) (x : vec).
Hypothesis Hn : (0 < n)%nat.
Hypothesis Mk : proper_mask n (mask h).
Hypothesis Z : zero_one n (mask h).
Notation P := (attn n d dq h (fun _ => x)).
Lemma equal_range : logit_range n (mask h) (logit d dq h (fun _ => x)) <= 0.
Proof.
  apply maxf_lub; [lra|]. intros i Hi. unfold osc. apply maxf_lub; [lra|]. intros j Hj. apply maxf_lub; [lra|].
  intros k Hk. change (logit d dq h (fun _ => x) i k) with (logit d dq h (fun _ => x) i j). repeat destruct Rlt_dec; lra.
Qed.
Theorem lemma_consensus_degree : 1 <= in_degree n (mask h) * epsilon n (mask h) P.
Proof.
  assert (Q := lemma_epsilon_range n d dq h (fun _ => x) Hn Mk Z). assert (R := equal_range).
  assert (D := lemma_degree_one n (mask h) Mk Hn). apply exp_le in R. rewrite exp_0 in R.
  assert (E := epsilon_nonneg n (mask h) P Mk (attn_stochastic n d dq h (fun _ => x) Mk) Hn).
  assert (A : 0 <= epsilon n (mask h) P * (in_degree n (mask h) - 1)) by nra. nra.
Qed.
Theorem lemma_consensus_entropy : mask h = nomask -> ln (INR n) <= least_entropy n P.
Proof. intros M. assert (Q := lemma_entropy_range n d dq h (fun _ => x) Hn M). assert (R := equal_range). lra. Qed.
End Equal.

(* ---------- effective ranks ---------- *)
(** X = sum_c s_c u_c v_c^T, the u_c orthonormal, and the v_c; as many terms as the lesser of n and d. *)
Definition orthonormal (d m : nat) (v : mat) : Prop := forall i j, (i < m)%nat -> (j < m)%nat ->
  dot d (v i) (v j) = if Nat.eqb i j then 1 else 0.
Definition singular_values (n d : nat) (X : mat) (s : vec) : Prop := exists u v : mat,
  orthonormal n (Nat.min n d) u /\ orthonormal d (Nat.min n d) v /\ (forall c, (c < Nat.min n d)%nat -> 0 <= s c) /\
  forall i a, (i < n)%nat -> (a < d)%nat -> X i a = sum (Nat.min n d) (fun c => s c * (u c i * v c a)).
(** exp of the entropy of s/sum(s) *)
Definition spread_out (m : nat) (s : vec) : R := exp (entropy m (fun c => s c / sum m s)).
(** 1 for X = 0 here, where the language has no value. *)
Definition effective (f : R -> R) (n d : nat) (X : mat) : R := real (Lub_Rbar (fun y => y = 1 \/ exists s,
  singular_values n d X s /\ 0 < sum (Nat.min n d) s /\ y = spread_out (Nat.min n d) (fun c => f (s c)))).
Definition effective_rank_singular : nat -> nat -> mat -> R := effective (fun s => s).
Definition effective_rank_eigen : nat -> nat -> mat -> R := effective (fun s => s * s).
Lemma effective_le f n d X c : 1 <= c -> (forall s, singular_values n d X s -> 0 < sum (Nat.min n d) s ->
  spread_out (Nat.min n d) (fun i => f (s i)) <= c) -> 1 <= effective f n d X <= c.
Proof.
  intros C H. unfold effective. destruct (Lub_Rbar_correct (fun y => y = 1 \/ exists s, singular_values n d X s /\
    0 < sum (Nat.min n d) s /\ y = spread_out (Nat.min n d) (fun c => f (s c)))) as [U L]. set (b := Lub_Rbar _) in *.
  assert (A : Rbar_le b (Finite c)) by (apply L; intros y [->|[s [S [T ->]]]]; simpl; [exact C|now apply H]).
  assert (B : Rbar_le (Finite 1) b) by (apply U; now left).
  destruct b; simpl in *; [lra|contradiction|contradiction].
Qed.
(** shares of numbers, none negative *)
Lemma shares_are m f : (forall c, (c < m)%nat -> 0 <= f c) -> 0 < sum m f ->
  (forall c, (c < m)%nat -> 0 <= f c / sum m f) /\ sum m (fun c => f c / sum m f) = 1.
Proof.
  intros F S. split; [intros c Hc; apply Rmult_le_pos; [now apply F|left; now apply Rinv_0_lt_compat]|].
  unfold Rdiv. rewrite sum_scal_r. field. lra.
Qed.
Lemma squares_pos m s : (forall c, (c < m)%nat -> 0 <= s c) -> 0 < sum m s -> 0 < sum m (fun c => s c * s c).
Proof.
  intros F S. destruct (sum_pos_some m s F S) as [j [Hj L]]. apply Rlt_le_trans with (s j * s j); [nra|].
  apply (sum_term_le m (fun c => s c * s c)); [intros; nra|exact Hj].
Qed.
(** at most the number of those that are not 0 *)
Lemma spread_support m f chi D : (forall c, (c < m)%nat -> 0 <= f c) -> 0 < sum m f -> (forall c, (c < m)%nat ->
  chi c = 1 \/ (chi c = 0 /\ f c = 0)) -> sum m chi <= D -> spread_out m f <= D.
Proof.
  intros F S C B. destruct (shares_are m f F S) as [A E]. destruct (sum_pos_some m f F S) as [j [Hj L]].
  assert (K : 1 <= sum m chi).
  { destruct (C j Hj) as [Q|[_ Q]]; [|lra]. rewrite <- Q. apply (sum_term_le m chi); [|exact Hj].
    intros k Hk. destruct (C k Hk) as [->|[-> _]]; lra. }
  unfold spread_out. rewrite <- (exp_ln D) by lra. apply exp_le.
  eapply Rle_trans; [apply (entropy_support m _ chi A E)|].
  - intros c Hc. destruct (C c Hc) as [->|[-> ->]]; [now left|right; split; [reflexivity|unfold Rdiv; ring]].
  - destruct B as [B| ->]; [left; apply ln_increasing; lra|lra].
Qed.
Lemma spread_count m f : (forall c, (c < m)%nat -> 0 <= f c) -> 0 < sum m f -> spread_out m f <= INR m.
Proof.
  intros F S. apply (spread_support m f (fun _ => 1)); [exact F|exact S|now left|]. rewrite sum_const. lra.
Qed.
(** H(q) <= -sum q ln p <= H(p) for q ~ p^2: Gibbs, then Chebyshev. *)
Lemma gibbs m p q : (forall c, (c < m)%nat -> 0 <= p c) -> (forall c, (c < m)%nat -> 0 <= q c) -> sum m p = sum m q ->
  (forall c, (c < m)%nat -> p c = 0 -> q c = 0) -> entropy m q <= - sum m (fun c => q c * ln (p c)).
Proof.
  intros p0 q0 E Z. unfold entropy. apply Ropp_le_contravar.
  assert (A : sum m (fun c => q c * ln (p c)) <= sum m (fun c => q c * ln (q c) + (p c - q c))).
  { apply sum_le; intros c Hc. destruct (q0 c Hc) as [L|Q]; [|rewrite <- Q; assert (B := p0 c Hc); lra].
    destruct (p0 c Hc) as [K|Q]; [|rewrite (Z c Hc) in L by auto; lra].
    assert (R := ln_le_minus (p c / q c) ltac:(apply Rdiv_lt_0_compat; assumption)). unfold Rdiv in R.
    rewrite ln_mult, ln_Rinv in R by (try apply Rinv_0_lt_compat; assumption).
    apply (Rmult_le_compat_l (q c)) in R; [|lra]. replace (q c * (p c * / q c - 1)) with (p c - q c) in R by (field; lra).
    lra. }
  rewrite sum_plus, sum_minus, E in A. lra.
Qed.
Lemma ln_grows x y : 0 < x -> x <= y -> ln x <= ln y.
Proof. intros X [L| ->]; [left; now apply ln_increasing|lra]. Qed.
Lemma chebyshev m p g : (forall c, (c < m)%nat -> 0 <= p c) -> sum m p = 1 ->
  (forall i j, (i < m)%nat -> (j < m)%nat -> 0 <= p i * p j * ((p i - p j) * (g i - g j))) ->
  sum m (fun c => p c * p c) * sum m (fun c => p c * g c) <= sum m (fun c => p c * p c * g c).
Proof.
  intros p0 S H. assert (A : 0 <= sum m (fun i => sum m (fun j => p i * p j * ((p i - p j) * (g i - g j)))))
    by (apply sum_nonneg; intros; apply sum_nonneg; intros; now apply H).
  rewrite (sum_ext m _ (fun i => (p i * p i * g i * sum m p - p i * p i * sum m (fun j => p j * g j)) -
    (p i * g i * sum m (fun j => p j * p j) - p i * sum m (fun j => p j * p j * g j)))) in A.
  - rewrite !sum_minus, !sum_scal_r, S in A. lra.
  - intros i Hi. rewrite <- !sum_scal, <- !sum_minus. apply sum_ext; intros; cbv beta; ring.
Qed.
Lemma spread_squares m s : (forall c, (c < m)%nat -> 0 <= s c) -> 0 < sum m s ->
  spread_out m (fun c => s c * s c) <= spread_out m s.
Proof.
  intros F T. set (p := fun c => s c / sum m s). destruct (shares_are m s F T) as [p0 p1]. fold p in p0, p1.
  assert (V := squares_pos m s F T). assert (W := squares_pos m p p0 ltac:(fold p; rewrite p1; lra)).
  set (z := sum m (fun c => p c * p c)) in *. set (q := fun c => p c * p c / z).
  unfold spread_out. apply exp_le. replace (entropy m (fun c => s c * s c / sum m (fun c => s c * s c))) with (entropy m q).
  2:{ unfold entropy. f_equal. apply sum_ext; intros c _.
      assert (E : q c = s c * s c / sum m (fun c => s c * s c)).
      { assert (Zs : z = / sum m s * / sum m s * sum m (fun c => s c * s c)) by (unfold z; rewrite <- sum_scal;
          apply sum_ext; intros; unfold p, Rdiv; ring). unfold q. rewrite Zs. unfold p. field. lra. }
      now rewrite E. }
  change (entropy m q <= entropy m p). destruct (shares_are m (fun c => p c * p c)) as [q0 q1];
    [intros c Hc; assert (A := p0 c Hc); nra|exact W|]. fold z in q0, q1. fold q in q1.
  eapply Rle_trans; [apply (gibbs m p q p0 q0); [now rewrite p1, q1|intros c _ E; unfold q; rewrite E; unfold Rdiv; ring]|].
  unfold entropy. apply Ropp_le_contravar. assert (I := Rinv_0_lt_compat z W).
  rewrite (sum_ext m (fun c => q c * ln (p c)) (fun c => / z * (p c * p c * ln (p c)))) by (intros; unfold q, Rdiv; ring).
  rewrite sum_scal. apply (Rmult_le_reg_l z); [exact W|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
  apply chebyshev; [exact p0|exact p1|]. intros i j Hi Hj.
  assert (Pi := p0 i Hi). assert (Pj := p0 j Hj). change (0 <= p i) in Pi. change (0 <= p j) in Pj.
  destruct Pi as [Li|Ei]; [|rewrite <- Ei; lra]. destruct Pj as [Lj|Ej]; [|rewrite <- Ej; lra].
  assert (0 < p i * p j) by nra. apply Rmult_le_pos; [lra|].
  destruct (Rle_or_lt (p i) (p j)) as [K|K]; [assert (Q := ln_grows (p i) (p j) Li K)|
    assert (Q := ln_grows (p j) (p i) Lj ltac:(lra))]; nra.
Qed.
(** Bessel: orthonormal v_c see no more of q than there is. *)
Lemma bessel d m v q : orthonormal d m v -> sum m (fun c => dot d q (v c) * dot d q (v c)) <= dot d q q.
Proof.
  intros O. set (b := fun c => dot d q (v c)). set (w := fun a => sum m (fun c => b c * v c a)).
  assert (Dw : forall y, dot d y w = sum m (fun c => b c * dot d y (v c))).
  { intros y. unfold dot at 1, w. rewrite (sum_ext d _ (fun a => sum m (fun c => b c * (y a * v c a)))) by (intros;
      rewrite <- sum_scal; apply sum_ext; intros; ring). rewrite sum_swap. apply sum_ext; intros c _.
    unfold dot. now rewrite sum_scal. }
  assert (Ww : dot d w w = sum m (fun c => b c * b c)).
  { rewrite Dw. apply sum_ext; intros c Hc. f_equal. rewrite dot_sym, Dw.
    rewrite (sum_single m _ c Hc); [rewrite (O c c Hc Hc), Nat.eqb_refl; ring|].
    intros j Hj N. rewrite (O c j Hc Hj). destruct (Nat.eqb_spec c j); [lia|ring]. }
  assert (Qw : dot d q w = sum m (fun c => b c * b c)) by (rewrite Dw; reflexivity).
  assert (A : 0 <= dot d (vsub q w) (vsub q w)) by apply dot_pos.
  replace (dot d (vsub q w) (vsub q w)) with (dot d q q - 2 * dot d q w + dot d w w) in A.
  - rewrite Ww, Qw in A. unfold b in *. lra.
  - unfold dot, vsub. rewrite <- sum_scal, <- sum_minus, <- sum_plus. apply sum_ext; intros; ring.
Qed.
Lemma dot_sum d k (t : vec) (Q : mat) y : dot d (fun a => sum k (fun j => t j * Q j a)) y = sum k (fun j => t j * dot d (Q j) y).
Proof.
  unfold dot at 1. rewrite (sum_ext d _ (fun a => sum k (fun j => t j * (Q j a * y a)))) by (intros; rewrite <- sum_scal_r;
    apply sum_ext; intros; ring). rewrite sum_swap. apply sum_ext; intros j _. unfold dot. now rewrite sum_scal.
Qed.
(** No more singular values than the rank are positive. *)
Lemma positive_count n d X s k : singular_values n d X s -> factors n d X k ->
  sum (Nat.min n d) (fun c => if Rlt_dec 0 (s c) then 1 else 0) <= INR k.
Proof.
  intros [u [v [Ou [Ov [s0 E]]]]] [B [C F]]. set (m := Nat.min n d) in *.
  destruct (gram_schmidt d k C) as [Q [T [O [U G]]]].
  assert (V : forall c, (c < m)%nat -> 0 < s c -> exists t, forall a, (a < d)%nat -> v c a = sum k (fun j => t j * Q j a)).
  { intros c Hc L. exists (fun j => / s c * sum n (fun i => u c i * sum k (fun r => B i r * T r j))). intros a Ha.
    assert (A : sum n (fun i => u c i * X i a) = s c * v c a).
    { rewrite (sum_ext n _ (fun i => sum m (fun b => s b * v b a * (u c i * u b i)))) by (intros i Hi;
        rewrite (E i a Hi Ha), <- sum_scal; apply sum_ext; intros; ring).
      rewrite sum_swap. rewrite (sum_ext m _ (fun b => s b * v b a * dot n (u c) (u b))) by (intros; unfold dot;
        now rewrite sum_scal).
      rewrite (sum_single m _ c Hc); [rewrite (Ou c c Hc Hc), Nat.eqb_refl; ring|].
      intros j Hj N. rewrite (Ou c j Hc Hj). destruct (Nat.eqb_spec c j); [lia|ring]. }
    apply (Rmult_eq_reg_l (s c)); [|lra]. rewrite <- A, <- sum_scal.
    rewrite (sum_ext k _ (fun j => sum n (fun i => u c i * (sum k (fun r => B i r * T r j) * Q j a)))) by (intros;
      rewrite <- !Rmult_assoc, Rinv_r, Rmult_1_l by lra; rewrite <- sum_scal_r; apply sum_ext; intros; ring).
    rewrite sum_swap. apply sum_ext; intros i Hi. rewrite sum_scal. f_equal. rewrite (F i a Hi Ha).
    rewrite (sum_ext k _ (fun r => sum k (fun j => B i r * T r j * Q j a))) by (intros r Hr; rewrite (G r a Hr Ha), <-
      sum_scal; apply sum_ext; intros; ring). rewrite sum_swap. apply sum_ext; intros. now rewrite sum_scal_r. }
  apply Rle_trans with (sum m (fun c => sum k (fun j => dot d (Q j) (v c) * dot d (Q j) (v c)))).
  - apply sum_le; intros c Hc. destruct Rlt_dec as [L|L]; [|apply sum_nonneg; intros; nra].
    destruct (V c Hc L) as [t Ht]. set (w := fun a => sum k (fun j => t j * Q j a)).
    assert (W : forall y, dot d (v c) y = dot d w y) by (intros; apply sum_ext; intros a Ha; now rewrite (Ht a Ha)).
    assert (One : dot d (v c) (v c) = 1) by (rewrite (Ov c c Hc Hc); now rewrite Nat.eqb_refl).
    assert (P : forall j, (j < k)%nat -> dot d (Q j) (v c) = t j * dot d (Q j) (Q j)).
    { intros j Hj. rewrite dot_sym, W. unfold w. rewrite dot_sum.
      apply (sum_single k (fun i => t i * dot d (Q i) (Q j)) j Hj). intros i Hi N. rewrite (O i j Hi Hj N). ring. }
    rewrite <- One, W. unfold w. rewrite dot_sum. apply sum_le; intros j Hj. rewrite (P j Hj).
    destruct (U j Hj) as [Z|Z]; rewrite Z; nra.
  - rewrite sum_swap. rewrite <- (Rmult_1_r (INR k)), <- sum_const. apply sum_le; intros j Hj.
    eapply Rle_trans; [now apply bessel|]. destruct (U j Hj) as [Z|Z]; rewrite Z; lra.
Qed.
Section Bounds.
Variables (n d : nat) (X : mat).
Hypothesis Hn : (0 < n)%nat.
Hypothesis Hd : (0 < d)%nat.
Let m1 : (0 < Nat.min n d)%nat. Proof. lia. Qed.
Lemma nonneg_of s : singular_values n d X s -> forall c, (c < Nat.min n d)%nat -> 0 <= s c.
Proof. now intros [u [v [_ [_ [H _]]]]]. Qed.
Lemma singular_bounds : 1 <= effective_rank_singular n d X <= INR (Nat.min n d).
Proof. apply effective_le; [now apply one_INR|]. intros s S T. apply spread_count; [now apply nonneg_of|exact T]. Qed.
Theorem lemma_effective_order : effective_rank_eigen n d X <= effective_rank_singular n d X.
Proof.
  apply effective_le; [apply singular_bounds|]. intros s S T. eapply Rle_trans;
    [apply spread_squares; [now apply nonneg_of|exact T]|].
  unfold effective_rank_singular, effective. destruct (Lub_Rbar_correct (fun y => y = 1 \/ exists s, singular_values n d X
    s /\ 0 < sum (Nat.min n d) s /\ y = spread_out (Nat.min n d) (fun c => s c))) as [U L].
  assert (A := singular_bounds). unfold effective_rank_singular, effective in A. set (b := Lub_Rbar _) in *.
  assert (B : Rbar_le (Finite (spread_out (Nat.min n d) s)) b) by (apply U; right; now exists s).
  destruct b; simpl in *; [exact B|lra|lra].
Qed.
Theorem lemma_effective_singular_one : 1 <= effective_rank_singular n d X. Proof. apply singular_bounds. Qed.
Theorem lemma_effective_eigen_one : 1 <= effective_rank_eigen n d X.
Proof. apply (effective_le _ n d X (INR (Nat.min n d))); [now apply one_INR|]. intros s S T.
eapply Rle_trans; [apply spread_squares; [now apply nonneg_of|exact T]|apply spread_count; [now apply nonneg_of|exact T]].
Qed.
Theorem lemma_effective_n : effective_rank_singular n d X <= INR n.
Proof. eapply Rle_trans; [apply singular_bounds|apply le_INR; lia]. Qed.
Theorem lemma_effective_d : effective_rank_singular n d X <= INR d.
Proof. eapply Rle_trans; [apply singular_bounds|apply le_INR; lia]. Qed.
Theorem lemma_effective_singular_positive : 0 < effective_rank_singular n d X.
Proof. assert (A := singular_bounds). lra. Qed.
Theorem lemma_effective_eigen_positive : 0 < effective_rank_eigen n d X.
Proof. assert (A := lemma_effective_eigen_one). lra. Qed.
(** for X other than 0 *)
Theorem lemma_effective_rank : 0 < spectral n d X -> effective_rank_singular n d X <= rank n d X.
Proof.
  intros Pos. apply le_rank. intros k F. destruct (Nat.eq_dec k 0) as [->|K].
  - exfalso. destruct F as [B [C F]]. assert (Zr : forall i a, (i < n)%nat -> (a < d)%nat -> X i a = 0) by (intros;
      rewrite F by assumption; reflexivity).
    assert (Q : spectral n d X <= frob n d X) by apply lemma_token_norms_2_frobenius. assert (Q0 : frob n d X = 0); [|lra].
    unfold frob. rewrite (sum_ext n _ (fun _ => 0)); [rewrite sum_zero; apply sqrt_0|].
    intros i Hi. unfold dot. rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros a Ha.
    rewrite (Zr i a Hi Ha). ring.
  - apply effective_le; [apply one_INR; lia|]. intros s S T.
    apply (spread_support _ s (fun c => if Rlt_dec 0 (s c) then 1 else 0)); [now apply nonneg_of|exact T| |].
    + intros c Hc. destruct Rlt_dec as [L|L]; [now left|right; split; [reflexivity|]]. assert (A := nonneg_of s S c Hc). lra.
    + now apply (positive_count n d X).
Qed.
End Bounds.
