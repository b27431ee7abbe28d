(** Five of the rules by which the certificate checker decides, as theorems; [checker_rules.v] has the others.
    1. [rule_exact]     a relation between fractions, decided on integers;
    2. [rule_interval]  a relation that holds for all members of two intervals;
    3. [rule_dual]      weights >= 0 on rows and columns bound every norm of X - 1 x^T from below;
    4. [rule_zero]      Krawczyk's test: exactly one zero in a box;
    5. [rule_congruence]  C A C^T within 1 of the identity, in the row sum norm: a symmetric A is positive definite,
                        whatever C is. *)
Require Import Reals Lra Lia Psatz QArith Qreals.
From Coquelicot Require Import Rcomplements.
From Rankmath Require Import Definitions Functions Norms.
Local Open Scope R_scope.

(* ---------- rule 1 ---------- *)
Theorem rule_exact (a b : Q) :
  (Qle_bool a b = true <-> Q2R a <= Q2R b) /\ (Qeq_bool a b = true <-> Q2R a = Q2R b) /\
  (Qle_bool b a = false <-> Q2R a < Q2R b).
Proof.
  assert (L : forall x y, Qle_bool x y = true <-> Q2R x <= Q2R y).
  { intros x y. rewrite Qle_bool_iff. split; [apply Qle_Rle|apply Rle_Qle]. }
  split; [apply L|split].
  - rewrite Qeq_bool_iff. split; [apply Qeq_eqR|apply eqR_Qeq].
  - assert (H := L b a). destruct (Qle_bool b a).
    + split; [discriminate|]. assert (Q2R b <= Q2R a) by (now apply H). lra.
    + split; [|reflexivity]. intros _. destruct (Rlt_or_le (Q2R a) (Q2R b)) as [|G]; [assumption|].
      apply H in G. discriminate.
Qed.

(* ---------- rule 2 ---------- *)
Theorem rule_interval x y a b c d : a <= x <= b -> c <= y <= d ->
  (b <= c -> x <= y) /\ (b < c -> x < y) /\ (d < a -> ~ x <= y) /\ (d <= a -> ~ x < y) /\
  (b < c \/ d < a -> x <> y).
Proof. intros Hx Hy. repeat split; intros; lra. Qed.

(* ---------- rule 3 ---------- *)
(** The least of sum_i w_i |x_i - t| over t is attained at some x_i with w_i > 0. *)
Lemma nearest n (x w : vec) (ok : nat -> bool) (t : R) :
  (exists i, (i < n)%nat /\ ok i = true) ->
  exists m, (m < n)%nat /\ ok m = true /\ forall i, (i < n)%nat -> ok i = true -> Rabs (x m - t) <= Rabs (x i - t).
Proof.
  induction n as [|n IH]; intros [i [Hi Oi]]; [lia|].
  destruct (ok n) eqn:On.
  - destruct (Bool.bool_dec (List.existsb ok (List.seq 0 n)) true) as [E|E].
    + apply List.existsb_exists in E. destruct E as [k [Hk Ok]]. apply List.in_seq in Hk.
      destruct IH as [m [Hm [Om Min]]]; [exists k; split; [lia|exact Ok]|].
      destruct (Rle_dec (Rabs (x m - t)) (Rabs (x n - t))) as [L|L].
      * exists m. split; [lia|split; [exact Om|]]. intros j Hj Oj.
        destruct (Nat.eq_dec j n) as [->|]; [exact L|apply Min; [lia|exact Oj]].
      * exists n. split; [lia|split; [exact On|]]. intros j Hj Oj.
        destruct (Nat.eq_dec j n) as [->|]; [lra|]. assert (Q := Min j ltac:(lia) Oj). lra.
    + exists n. split; [lia|split; [exact On|]]. intros j Hj Oj.
      destruct (Nat.eq_dec j n) as [->|]; [lra|]. exfalso. apply E. apply List.existsb_exists.
      exists j. split; [apply List.in_seq; lia|exact Oj].
  - destruct IH as [m [Hm [Om Min]]].
    { exists i. split; [|exact Oi]. assert (i <> n) by congruence. lia. }
    exists m. split; [lia|split; [exact Om|]]. intros j Hj Oj. apply Min; [|exact Oj]. assert (j <> n) by congruence.
    lia.
Qed.

Lemma weighted_median n (x w : vec) v t :
  (forall i, (i < n)%nat -> 0 <= w i) ->
  (forall m, (m < n)%nat -> 0 < w m -> v <= sum n (fun i => w i * Rabs (x i - x m))) ->
  ((forall i, (i < n)%nat -> w i = 0) -> v <= 0) ->
  v <= sum n (fun i => w i * Rabs (x i - t)).
Proof.
  intros Hw Hv H0.
  destruct (List.existsb (fun i => if Rlt_dec 0 (w i) then true else false) (List.seq 0 n)) eqn:Ex.
  2:{ apply Rle_trans with 0.
      - apply H0. intros i Hi. destruct (Rlt_dec 0 (w i)) as [L|L]; [|specialize (Hw i Hi); lra].
        exfalso. assert (F : List.existsb (fun i => if Rlt_dec 0 (w i) then true else false) (List.seq 0 n) = true);
          [|congruence].
        apply List.existsb_exists. exists i. split; [apply List.in_seq; lia|].
        destruct (Rlt_dec 0 (w i)); [reflexivity|lra].
      - apply sum_nonneg; intros i Hi. apply Rmult_le_pos; [auto|apply Rabs_pos]. }
  apply List.existsb_exists in Ex. destruct Ex as [k0 [Hk0 Wk0]]. apply List.in_seq in Hk0.
  destruct (Rlt_dec 0 (w k0)) as [Pk0|]; [clear Wk0|discriminate].
  (* masses to the right and to the left of t *)
  set (right := fun i => if Rle_dec t (x i) then w i else 0).
  set (left := fun i => if Rle_dec t (x i) then 0 else w i).
  (* move t to the nearest point on one side: the sum does not grow when that side is the heavier *)
  assert (Mv : forall (side : nat -> bool) (s : R), (s = 1 \/ s = -1) ->
     (forall i, (i < n)%nat -> side i = true -> 0 < w i /\ 0 <= s * (x i - t)) ->
     (forall i, (i < n)%nat -> side i = false -> w i = 0 \/ s * (x i - t) <= 0) ->
     (exists i, (i < n)%nat /\ side i = true) ->
     sum n (fun i => if side i then 0 else w i) <= sum n (fun i => if side i then w i else 0) ->
     v <= sum n (fun i => w i * Rabs (x i - t))).
  { intros side s Hs Hin Hout Hex Hm. destruct (nearest n x w side t Hex) as [m [Hm' [Sm Min]]].
    destruct (Hin m Hm' Sm) as [Wm Sg].
    eapply Rle_trans; [apply (Hv m Hm' Wm)|].
    set (g := s * (x m - t)). fold g in Sg.
    apply Rle_trans with (sum n (fun i => w i * Rabs (x i - t) + g * ((if side i then 0 else w i) - (if side i then w i
      else 0)))).
    - apply sum_le; intros i Hi. assert (Wi := Hw i Hi). destruct (side i) eqn:Si.
      + destruct (Hin i Hi Si) as [_ Gi]. assert (Q := Min i Hi Si).
        assert (Ai : Rabs (x i - t) = s * (x i - t)) by (destruct Hs; subst s; [rewrite Rabs_right|rewrite Rabs_left1];
          lra).
        assert (Am : Rabs (x m - t) = g) by (unfold g in *; destruct Hs; subst s;
          [rewrite Rabs_right|rewrite Rabs_left1]; lra).
        rewrite Ai, Am in Q. rewrite Ai.
        assert (D : Rabs (x i - x m) = s * (x i - t) - g).
        { unfold g in *. destruct Hs; subst s; [rewrite Rabs_right|rewrite Rabs_left1]; lra. }
        rewrite D. right. ring.
      + destruct (Hout i Hi Si) as [Z|Le]; [rewrite Z; right; ring|].
        assert (Ai : Rabs (x i - t) = - (s * (x i - t))) by (destruct Hs; subst s;
          [rewrite Rabs_left1|rewrite Rabs_right]; lra).
        assert (D : Rabs (x i - x m) = g - s * (x i - t)).
        { unfold g in *. destruct Hs; subst s; [rewrite Rabs_left1|rewrite Rabs_right]; lra. }
        rewrite Ai, D. right. ring.
    - rewrite sum_plus, sum_scal, sum_minus. nra. }
  set (pos := fun i => if Rlt_dec 0 (w i) then true else false).
  set (R1 := fun i => (pos i && (if Rle_dec t (x i) then true else false))%bool).
  set (L1 := fun i => (pos i && (if Rle_dec t (x i) then false else true))%bool).
  assert (P0 : forall i, (i < n)%nat -> pos i = false -> w i = 0).
  { intros i Hi. unfold pos. destruct Rlt_dec; [discriminate|]. specialize (Hw i Hi). lra. }
  assert (Sw : forall i, (i < n)%nat -> (if R1 i then 0 else w i) = (if L1 i then w i else 0)
                                /\ (if L1 i then 0 else w i) = (if R1 i then w i else 0)).
  { intros i Hi. unfold R1, L1. destruct (pos i) eqn:Pi; cbn [andb].
    - destruct (Rle_dec t (x i)); split; reflexivity.
    - rewrite (P0 i Hi Pi). split; reflexivity. }
  assert (Tot : sum n (fun i => if R1 i then w i else 0) + sum n (fun i => if L1 i then w i else 0) = sum n w).
  { rewrite <- sum_plus. apply sum_ext; intros i Hi. unfold R1, L1. destruct (pos i) eqn:Pi; cbn [andb].
    - destruct (Rle_dec t (x i)); ring.
    - rewrite (P0 i Hi Pi). ring. }
  assert (TP : 0 < sum n w) by (apply Rlt_le_trans with (w k0); [exact Pk0|apply sum_term_le; [exact Hw|lia]]).
  assert (Ex1 : forall S : nat -> bool, 0 < sum n (fun i => if S i then w i else 0) ->
    exists i, (i < n)%nat /\ S i = true).
  { intros S HS. destruct (List.existsb S (List.seq 0 n)) eqn:E.
    - apply List.existsb_exists in E. destruct E as [i [Hi Si]]. apply List.in_seq in Hi. exists i.
      split; [lia|exact Si].
    - exfalso. rewrite (sum_ext n _ (fun _ => 0)) in HS; [rewrite sum_zero in HS; lra|].
      intros i Hi. destruct (S i) eqn:Si; [|reflexivity]. exfalso.
      assert (F : List.existsb S (List.seq 0 n) = true); [|congruence].
      apply List.existsb_exists. exists i. split; [apply List.in_seq; lia|exact Si]. }
  destruct (Rle_dec (sum n (fun i => if L1 i then w i else 0)) (sum n (fun i => if R1 i then w i else 0))) as [Hr|Hr].
  - apply (Mv R1 1); [now left| | |apply Ex1; lra|].
    + intros i Hi. unfold R1, pos. destruct (Rlt_dec 0 (w i)); cbn [andb]; [|discriminate].
      destruct (Rle_dec t (x i)); [intros; lra|discriminate].
    + intros i Hi. unfold R1. destruct (pos i) eqn:Pi; cbn [andb]; [|intros; left; now apply P0].
      destruct (Rle_dec t (x i)); [discriminate|right; lra].
    + rewrite (sum_ext n _ _ (fun i Hi => proj1 (Sw i Hi))). exact Hr.
  - apply (Mv L1 (-1)); [now right| | |apply Ex1|].
    + intros i Hi. unfold L1, pos. destruct (Rlt_dec 0 (w i)); cbn [andb]; [|discriminate].
      destruct (Rle_dec t (x i)); [discriminate|intros; lra].
    + intros i Hi. unfold L1. destruct (pos i) eqn:Pi; cbn [andb]; [|intros; left; now apply P0].
      destruct (Rle_dec t (x i)); [right; lra|discriminate].
    + assert (0 <= sum n (fun i => if R1 i then w i else 0)); [|lra].
      apply sum_nonneg; intros i Hi. destruct (R1 i); [auto|lra].
    + rewrite (sum_ext n _ _ (fun i Hi => proj2 (Sw i Hi))). lra.
Qed.

Theorem rule_dual n d (X : mat) (p q v : vec) (x : vec) :
  (forall k, (k < d)%nat -> 0 <= p k) -> (forall i, (i < n)%nat -> 0 <= q i) ->
  (forall k m, (k < d)%nat -> (m < n)%nat -> 0 < p k + q m -> v k <= sum n (fun i => (p k + q i) * Rabs (X i k - X m
    k))) ->
  (forall k, (k < d)%nat -> (forall i, (i < n)%nat -> p k + q i = 0) -> v k <= 0) ->
  sum d v <= sum d p * norm1 n d (centred X x) + sum n q * norminf n d (centred X x).
Proof.
  intros Hp Hq Hv H0.
  apply Rle_trans with (sum d (fun k => sum n (fun i => (p k + q i) * Rabs (X i k - x k)))).
  - apply sum_le; intros k Hk. apply (weighted_median n (fun i => X i k) (fun i => p k + q i)).
    + intros i Hi. specialize (Hp k Hk). specialize (Hq i Hi). lra.
    + intros m Hm Pm. now apply Hv.
    + now apply H0.
  - rewrite (sum_ext d _ (fun k => p k * sum n (fun i => Rabs (centred X x i k)) + sum n (fun i => q i * Rabs (centred
      X x i k)))).
    + rewrite sum_plus. apply Rplus_le_compat.
      * rewrite <- sum_scal_r. apply sum_le; intros k Hk. apply Rmult_le_compat_l; [auto|now apply col_le].
      * rewrite sum_swap, <- sum_scal_r. apply sum_le; intros i Hi. rewrite sum_scal.
        apply Rmult_le_compat_l; [auto|now apply row_le].
    + intros k _. rewrite <- sum_scal, <- sum_plus. apply sum_ext; intros i _. unfold centred, vsub. ring.
Qed.

(** Two norms a >= a0 > 0, b >= b0 > 0 with alpha a + beta b >= v: their product is at least what it is at the two
    vertices of that polygon. *)
Theorem rule_dual_product a b a0 b0 alpha beta v G : 0 <= a0 <= a -> 0 <= b0 <= b -> 0 < alpha -> 0 < beta ->
  v <= alpha * a + beta * b -> alpha * a0 + beta * b0 <= v ->
  G <= a0 * ((v - alpha * a0) / beta) -> G <= b0 * ((v - beta * b0) / alpha) -> G <= a * b.
Proof.
  intros Ha Hb Pa Pb Hv Hc G1 G2.
  set (A := (v - beta * b0) / alpha) in *. set (B := (v - alpha * a0) / beta) in *.
  assert (EA : alpha * A = v - beta * b0) by (unfold A; field; lra).
  assert (EB : beta * B = v - alpha * a0) by (unfold B; field; lra).
  destruct (Rle_or_lt A a) as [L|L].
  - (* a beyond the vertex (A, b0) *)
    eapply Rle_trans; [exact G2|]. rewrite Rmult_comm. apply Rmult_le_compat; try lra. unfold A.
    apply Rmult_le_pos; [nra|left; now apply Rinv_0_lt_compat].
  - (* between the vertices: b >= (v - alpha a)/beta and a (v - alpha a) is concave *)
    assert (Hb' : (v - alpha * a) / beta <= b).
    { apply Rmult_le_reg_r with beta; [exact Pb|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (Pos : 0 <= a) by lra.
    apply Rle_trans with (a * ((v - alpha * a) / beta)); [|now apply Rmult_le_compat_l].
    assert (G1' : G * beta <= a0 * (v - alpha * a0)).
    { apply (Rmult_le_compat_r beta) in G1; [|lra]. replace (a0 * B * beta) with (a0 * (beta * B)) in G1 by ring.
      rewrite EB in G1. exact G1. }
    assert (G2' : G * beta <= A * (v - alpha * A)).
    { rewrite EA. replace (v - (v - beta * b0)) with (beta * b0) by ring. apply (Rmult_le_compat_r beta) in G2; [|lra].
      nra. }
    apply Rmult_le_reg_r with beta; [exact Pb|]. replace (a * ((v - alpha * a) / beta) * beta) with (a * (v - alpha *
      a)) by (field; lra).
    (* on [a0, A] a concave quadratic is above its chord *)
    assert (Q : 0 <= (a - a0) * (A - a)) by (apply Rmult_le_pos; lra).
    destruct (Req_dec a0 A) as [Eq|Ne]; [replace a with a0 by lra; exact G1'|].
    set (t := (a - a0) / (A - a0)). assert (T : a = a0 + t * (A - a0)) by (unfold t; field; lra).
    assert (T01 : 0 <= t <= 1).
    { unfold t. split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
      apply Rmult_le_reg_r with (A - a0); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (Ch : a * (v - alpha * a) = (1 - t) * (a0 * (v - alpha * a0)) + t * (A * (v - alpha * A)) + alpha * (t * (1
      - t)) * ((A - a0) * (A - a0))).
    { rewrite T. ring. }
    rewrite Ch. assert (0 <= t * (1 - t)) by (apply Rmult_le_pos; lra).
    assert (0 <= (A - a0) * (A - a0)) by (apply Rmult_le_pos; lra).
    assert (0 <= alpha * (t * (1 - t)) * ((A - a0) * (A - a0))) by pos.
    assert ((1 - t) * (G * beta) <= (1 - t) * (a0 * (v - alpha * a0))) by (apply Rmult_le_compat_l; lra).
    assert (t * (G * beta) <= t * (A * (v - alpha * A))) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* ---------- rule 4 ---------- *)
(** m + 1 vectors of R^m are dependent. *)
Lemma skip_sum n j (g : nat -> R) : (j <= n)%nat ->
  sum (S n) g = g j + sum n (fun i => g (if Nat.ltb i j then i else S i)).
Proof.
  intros Hj. replace (S n) with (j + S (n - j))%nat by lia. rewrite sum_split, sum_head.
  replace (sum n (fun i => g (if Nat.ltb i j then i else S i))) with
    (sum (j + (n - j)) (fun i => g (if Nat.ltb i j then i else S i))) by (f_equal; lia).
  rewrite sum_split. rewrite Nat.add_0_r.
  rewrite (sum_ext j (fun i => g (if Nat.ltb i j then i else S i)) g).
  - rewrite (sum_ext (n - j) (fun i => g (if Nat.ltb (j + i) j then (j + i)%nat else S (j + i))) (fun i => g (j + S
      i)%nat)).
    + ring.
    + intros i _. rewrite (proj2 (Nat.ltb_ge _ _)) by lia. f_equal. lia.
  - intros i Hi. now rewrite (proj2 (Nat.ltb_lt _ _)) by lia.
Qed.

Lemma dependent m (v : mat) : exists c : vec, (exists i, (i < S m)%nat /\ c i <> 0) /\
  forall a, (a < m)%nat -> sum (S m) (fun i => c i * v i a) = 0.
Proof.
  revert v. induction m as [|m IH]; intros v.
  - exists (fun _ => 1). split; [exists 0%nat; split; [lia|lra]|]. intros a Ha. lia.
  - destruct (List.existsb (fun i => if Req_EM_T (v i m) 0 then false else true) (List.seq 0 (S (S m)))) eqn:E.
    + apply List.existsb_exists in E. destruct E as [j [Hj Vj]]. apply List.in_seq in Hj.
      destruct (Req_EM_T (v j m) 0) as [|N]; [discriminate|]. clear Vj.
      set (s := fun i => if Nat.ltb i j then i else S i).
      destruct (IH (fun i a => v (s i) a - v (s i) m / v j m * v j a)) as [c [[i0 [Hi0 Ci0]] Hc]].
      set (t := - (sum (S m) (fun i => c i * (v (s i) m / v j m)))).
      set (c' := fun k => if Nat.eqb k j then t else c (if Nat.ltb k j then k else pred k)).
      assert (Cj : c' j = t) by (unfold c'; now rewrite Nat.eqb_refl).
      assert (Cs : forall i, c' (s i) = c i).
      { intro i. unfold c', s. destruct (Nat.ltb_spec i j) as [L|L].
        - rewrite (proj2 (Nat.eqb_neq _ _)) by lia. now rewrite (proj2 (Nat.ltb_lt i j)) by lia.
        - rewrite (proj2 (Nat.eqb_neq _ _)) by lia. rewrite (proj2 (Nat.ltb_ge (S i) j)) by lia. reflexivity. }
      exists c'. split.
      * exists (s i0). split; [unfold s; destruct (Nat.ltb i0 j); lia|]. now rewrite Cs.
      * intros a Ha. rewrite (skip_sum (S m) j) by lia. rewrite Cj.
        rewrite (sum_ext (S m) _ (fun i => c i * v (s i) a)) by (intros i _; fold (s i); now rewrite Cs).
        destruct (Nat.eq_dec a m) as [->|Na].
        -- unfold t. rewrite (sum_ext (S m) (fun i => c i * (v (s i) m / v j m)) (fun i => c i * v (s i) m * / v j m))
             by (intros; unfold Rdiv; ring).
           rewrite sum_scal_r. field. exact N.
        -- assert (Q := Hc a ltac:(lia)).
           rewrite (sum_ext (S m) _ (fun i => c i * v (s i) a - c i * (v (s i) m / v j m) * v j a)) in Q by (intros;
             ring).
           rewrite sum_minus, sum_scal_r in Q. unfold t. lra.
    + (* the last coordinate vanishes throughout *)
      assert (Z : forall i, (i < S (S m))%nat -> v i m = 0).
      { intros i Hi. destruct (Req_EM_T (v i m) 0) as [|N]; [assumption|exfalso].
        assert (F : List.existsb (fun i => if Req_EM_T (v i m) 0 then false else true) (List.seq 0 (S (S m))) = true);
          [|congruence].
        apply List.existsb_exists. exists i. split; [apply List.in_seq; lia|].
        destruct (Req_EM_T (v i m) 0); [contradiction|reflexivity]. }
      destruct (IH v) as [c [[i0 [Hi0 Ci0]] Hc]].
      exists (fun k => if Nat.ltb k (S m) then c k else 0). split.
      * exists i0. split; [lia|]. now rewrite (proj2 (Nat.ltb_lt _ _)) by lia.
      * intros a Ha. change (sum (S (S m)) ?f) with (sum (S m) f + f (S m)). cbv beta.
        rewrite (proj2 (Nat.ltb_ge (S m) (S m))) by lia. rewrite Rmult_0_l, Rplus_0_r.
        destruct (Nat.eq_dec a m) as [->|Na].
        -- rewrite (sum_ext (S m) _ (fun _ => 0)); [apply sum_zero|]. intros i Hi. rewrite Z by lia. ring.
        -- rewrite <- (Hc a ltac:(lia)). apply sum_ext; intros i Hi. now rewrite (proj2 (Nat.ltb_lt _ _)) by lia.
Qed.

Definition mvec (m : nat) (A : mat) (x : vec) : vec := fun i => sum m (fun j => A i j * x j).

(** An injective square matrix is onto. *)
Lemma injective_onto m (A : mat) (w : vec) :
  (forall x, (forall i, (i < m)%nat -> mvec m A x i = 0) -> forall j, (j < m)%nat -> x j = 0) ->
  exists s, forall i, (i < m)%nat -> mvec m A s i = w i.
Proof.
  intros Inj.
  destruct (dependent m (fun k a => if Nat.ltb k m then A a k else w a)) as [c [[i0 [Hi0 Ci0]] Hc]].
  assert (Eq : forall a, (a < m)%nat -> mvec m A c a + c m * w a = 0).
  { intros a Ha. rewrite <- (Hc a Ha). change (sum (S m) ?f) with (sum m f + f m). cbv beta.
    rewrite (proj2 (Nat.ltb_ge m m)) by lia. f_equal. unfold mvec. apply sum_ext; intros k Hk.
    rewrite (proj2 (Nat.ltb_lt k m)) by lia. ring. }
  destruct (Req_dec (c m) 0) as [Z|N].
  - exfalso. apply Ci0. destruct (Nat.eq_dec i0 m) as [->|]; [exact Z|]. apply Inj; [|lia].
    intros i Hi. specialize (Eq i Hi). rewrite Z in Eq. lra.
  - exists (fun j => - c j / c m). intros i Hi. unfold mvec.
    rewrite (sum_ext m _ (fun j => A i j * c j * (- / c m))) by (intros; field; exact N). rewrite sum_scal_r.
    fold (mvec m A c i). specialize (Eq i Hi). apply Rmult_eq_reg_r with (c m); [|exact N].
    transitivity (- mvec m A c i); [field; exact N|lra].
Qed.

Section Krawczyk.
Variables (m : nat) (f : vec -> vec) (Y : mat) (x : vec) (r : R) (w : vec).
(** The box: all z with |z_i - x_i| <= r. *)
Definition in_box (z : vec) : Prop := forall i, (i < m)%nat -> Rabs (z i - x i) <= r.
Hypothesis r_pos : 0 < r.
(** Slopes: on the box f(u) - f(v) = A (u - v), and row i of |I - Y A| sums to at most w_i; the derivative's enclosure
    over the box gives such an A by the mean value theorem, row by row. *)
Hypothesis slopes : forall u v, in_box u -> in_box v -> exists A : mat,
  (forall i, (i < m)%nat -> f u i - f v i = mvec m A (fun j => u j - v j) i) /\
  (forall i, (i < m)%nat -> sum m (fun j => Rabs (eye i j - mmul m Y A i j)) <= w i).
(** Krawczyk's test. *)
Hypothesis test : forall i, (i < m)%nat -> Rabs (mvec m Y (f x) i) + r * w i < r.

Let T (u : vec) : vec := fun i => u i - mvec m Y (f u) i.

Lemma w_lt1 i : (i < m)%nat -> w i < 1.
Proof. intros Hi. assert (Q := test i Hi). assert (P := Rabs_pos (mvec m Y (f x) i)). nra. Qed.

Lemma x_in_box : in_box x.
Proof. intros i _. rewrite Rminus_diag_eq by reflexivity. rewrite Rabs_R0. lra. Qed.

(** |T u - T v|_i <= w_i max_j |u_j - v_j| *)
Lemma T_contracts u v D : in_box u -> in_box v -> (forall j, (j < m)%nat -> Rabs (u j - v j) <= D) -> 0 <= D ->
  forall i, (i < m)%nat -> Rabs (T u i - T v i) <= w i * D.
Proof.
  intros Hu Hv HD D0 i Hi. destruct (slopes u v Hu Hv) as [A [HA HW]].
  assert (E : T u i - T v i = sum m (fun j => (eye i j - mmul m Y A i j) * (u j - v j))).
  { unfold T. replace (u i - mvec m Y (f u) i - (v i - mvec m Y (f v) i))
      with ((u i - v i) - (mvec m Y (f u) i - mvec m Y (f v) i)) by ring.
    unfold mvec at 1 2. rewrite <- sum_minus.
    rewrite (sum_ext m (fun j => Y i j * f u j - Y i j * f v j) (fun j => Y i j * mvec m A (fun j => u j - v j) j))
      by (intros j Hj; rewrite <- HA by exact Hj; ring).
    rewrite (sum_ext m (fun j => (eye i j - mmul m Y A i j) * (u j - v j))
       (fun j => (if Nat.eqb i j then u j - v j else 0) - mmul m Y A i j * (u j - v j))) by (intros j _; unfold eye;
         destruct (Nat.eqb i j); ring).
    rewrite sum_minus. f_equal.
    - rewrite (sum_single m _ i Hi); [now rewrite Nat.eqb_refl|]. intros j _ Hj.
      destruct (Nat.eqb_spec i j); [congruence|reflexivity].
    - unfold mvec, mmul, vmat.
      rewrite (sum_ext m (fun j => Y i j * sum m _) (fun j => sum m (fun k => Y i j * (A j k * (u k - v k))))) by
        (intros; now rewrite sum_scal).
      rewrite sum_swap. apply sum_ext; intros k _. rewrite <- sum_scal_r. apply sum_ext; intros; ring. }
  rewrite E. eapply Rle_trans; [apply sum_abs|].
  apply Rle_trans with (sum m (fun j => Rabs (eye i j - mmul m Y A i j) * D)).
  - apply sum_le; intros j Hj. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|now apply HD].
  - rewrite sum_scal_r. apply Rmult_le_compat_r; [exact D0|now apply HW].
Qed.

Lemma T_box u : in_box u -> in_box (T u).
Proof.
  intros Hu i Hi. assert (C := T_contracts u x r Hu x_in_box Hu (Rlt_le _ _ r_pos) i Hi).
  assert (Q := test i Hi). assert (E : T x i - x i = - mvec m Y (f x) i) by (unfold T; ring).
  replace (T u i - x i) with ((T u i - T x i) + (T x i - x i)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite E, Rabs_Ropp. lra.
Qed.

(** One contraction factor for all entries. *)
Let q := maxf m w.
Lemma q_lt1 : 0 <= q < 1.
Proof.
  split; [apply maxf_pos|]. unfold q. destruct (maxf_attained m w) as [->|[j [Hj ->]]]; [lra|now apply w_lt1].
Qed.
Lemma w_le_q i : (i < m)%nat -> w i <= q.
Proof. intros Hi. now apply maxf_ub. Qed.

Fixpoint orbit (k : nat) : vec := match k with O => x | S l => T (orbit l) end.
Lemma orbit_box k : in_box (orbit k).
Proof. induction k; simpl; [apply x_in_box|now apply T_box]. Qed.
Lemma orbit_step k i : (i < m)%nat -> Rabs (orbit (S k) i - orbit k i) <= q ^ k * r.
Proof.
  revert i. induction k; intros i Hi.
  - simpl. rewrite Rmult_1_l. apply (T_box x x_in_box i Hi).
  - assert (Q := q_lt1). assert (P : 0 <= q ^ k * r) by (apply Rmult_le_pos; [now apply pow_le|lra]).
    eapply Rle_trans; [apply (T_contracts (orbit (S k)) (orbit k) (q ^ k * r) (orbit_box _) (orbit_box _) IHk P i Hi)|].
    simpl. rewrite Rmult_assoc. apply Rmult_le_compat_r; [exact P|now apply w_le_q].
Qed.

(** A sequence whose steps shrink like q^k r converges, and its limit is q^k r / (1 - q) near. *)
Lemma geometric_limit (a : nat -> R) : (forall k, Rabs (a (S k) - a k) <= q ^ k * r) ->
  exists l, forall k, Rabs (l - a k) <= q ^ k * r / (1 - q).
Proof.
  intros H. assert (Q := q_lt1). set (t := r / (1 - q)). assert (T0 : 0 <= t) by (apply Rmult_le_pos; [lra|left;
    apply Rinv_0_lt_compat; lra]).
  (* a_k - t q^k grows, a_k + t q^k falls *)
  assert (Et : t * (1 - q) = r) by (unfold t; field; lra).
  assert (Up : forall k n, a k - t * q ^ k <= a (n + k)%nat - t * q ^ (n + k)).
  { intros k n. induction n; simpl; [lra|]. eapply Rle_trans; [exact IHn|].
    assert (S := H (n + k)%nat). apply Rabs_le_between in S. assert (Pq : 0 <= q ^ (n + k)) by (now apply pow_le).
    assert (q ^ (n + k) * r = t * q ^ (n + k) - t * (q * q ^ (n + k))) by (rewrite <- Et; ring). lra. }
  assert (Dn : forall k n, a (n + k)%nat + t * q ^ (n + k) <= a k + t * q ^ k).
  { intros k n. induction n; simpl; [lra|]. eapply Rle_trans; [|exact IHn].
    assert (S := H (n + k)%nat). apply Rabs_le_between in S.
    assert (q ^ (n + k) * r = t * q ^ (n + k) - t * (q * q ^ (n + k))) by (rewrite <- Et; ring). lra. }
  assert (Le : forall k k', a k - t * q ^ k <= a k' + t * q ^ k').
  { intros k k'. assert (Pn : forall n, 0 <= t * q ^ n) by (intro; apply Rmult_le_pos; [exact T0|now apply pow_le]).
    destruct (Nat.le_ge_cases k k') as [L|L].
    - assert (U := Up k (k' - k)%nat). replace (k' - k + k)%nat with k' in U by lia. assert (P := Pn k'). lra.
    - assert (U := Dn k' (k - k')%nat). replace (k - k' + k')%nat with k in U by lia. assert (P := Pn k). lra. }
  destruct (completeness (fun y => exists k, y = a k - t * q ^ k)) as [l [Ub Lb]].
  - exists (a 0%nat + t * q ^ 0). intros y [k ->]. apply Le.
  - exists (a 0%nat - t * q ^ 0). now exists 0%nat.
  - exists l. intro k. replace (q ^ k * r / (1 - q)) with (t * q ^ k) by (unfold t; field; lra).
    assert (A1 : a k - t * q ^ k <= l) by (apply Ub; now exists k).
    assert (A2 : l <= a k + t * q ^ k) by (apply Lb; intros y [k' ->]; apply Le).
    apply Rabs_le. lra.
Qed.

Lemma small_pow e : 0 < e -> exists k, q ^ k * r / (1 - q) < e.
Proof.
  intros He. assert (Q := q_lt1). assert (Pe : 0 < e * (1 - q) / r) by (apply Rdiv_lt_0_compat; [nra|lra]).
  destruct (pow_lt_1_zero q ltac:(rewrite Rabs_right; lra) _ Pe) as [k Hk].
  exists k. specialize (Hk k (le_n k)). rewrite Rabs_right in Hk by (apply Rle_ge, pow_le; lra).
  apply Rmult_lt_reg_r with (1 - q); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  apply (Rmult_lt_compat_r r) in Hk; [|lra]. replace (e * (1 - q) / r * r) with (e * (1 - q)) in Hk by (field; lra).
  exact Hk.
Qed.

Lemma zero_of_le a : (forall e, 0 < e -> Rabs a <= e) -> a = 0.
Proof.
  intros H. destruct (Req_dec a 0) as [|N]; [assumption|exfalso].
  assert (P := Rabs_pos_lt a N). specialize (H (Rabs a / 2) ltac:(lra)). lra.
Qed.

(** Y has no kernel: Y A is near the identity, so A is injective, hence onto, hence Y is injective. *)
Lemma Y_injective (v : vec) : (forall i, (i < m)%nat -> mvec m Y v i = 0) -> forall i, (i < m)%nat -> v i = 0.
Proof.
  intros H. destruct (slopes x x x_in_box x_in_box) as [A [_ HW]]. assert (Q := q_lt1).
  assert (YA : forall s, (forall i, (i < m)%nat -> mvec m (mmul m Y A) s i = 0) -> forall j, (j < m)%nat -> s j = 0).
  { intros s Hs. set (D := maxf m (fun j => Rabs (s j))).
    assert (B : forall i, (i < m)%nat -> Rabs (s i) <= q * D).
    { intros i Hi. assert (E : s i = sum m (fun j => (eye i j - mmul m Y A i j) * s j)).
      { rewrite (sum_ext m _ (fun j => (if Nat.eqb i j then s j else 0) - mmul m Y A i j * s j)) by (intros j _;
          unfold eye; destruct (Nat.eqb i j); ring).
        rewrite sum_minus. fold (mvec m (mmul m Y A) s i). rewrite (Hs i Hi), (sum_single m _ i Hi);
          [rewrite Nat.eqb_refl; ring|].
        intros j _ Hj. destruct (Nat.eqb_spec i j); [congruence|reflexivity]. }
      rewrite E. eapply Rle_trans; [apply sum_abs|].
      apply Rle_trans with (sum m (fun j => Rabs (eye i j - mmul m Y A i j) * D)).
      - apply sum_le; intros j Hj. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|].
        apply (maxf_ub m (fun j => Rabs (s j)) j Hj).
      - rewrite sum_scal_r. apply Rmult_le_compat_r; [apply maxf_pos|].
        eapply Rle_trans; [now apply HW|now apply w_le_q]. }
    assert (D0 : D = 0).
    { assert (P : 0 <= D) by apply maxf_pos.
      assert (D <= q * D) by (apply maxf_lub; [apply Rmult_le_pos; lra|exact B]). nra. }
    intros j Hj. specialize (B j Hj). rewrite D0, Rmult_0_r in B. apply zero_of_le. intros e He. lra. }
  assert (YAs : forall s i, mvec m (mmul m Y A) s i = mvec m Y (mvec m A s) i).
  { intros s i. unfold mvec, mmul, vmat.
    rewrite (sum_ext m (fun j => Y i j * sum m (fun j0 => A j j0 * s j0)) (fun j => sum m (fun k => Y i j * (A j k * s
      k)))) by (intros; now rewrite sum_scal).
    rewrite sum_swap. apply sum_ext; intros k _. rewrite <- sum_scal_r. apply sum_ext; intros; ring. }
  destruct (injective_onto m A v) as [s Hs].
  { intros z Hz. apply YA. intros i Hi. rewrite YAs. unfold mvec at 1.
    rewrite (sum_ext m _ (fun _ => 0)); [apply sum_zero|].
    intros j Hj. rewrite Hz by exact Hj. ring. }
  assert (S0 : forall j, (j < m)%nat -> s j = 0).
  { apply YA. intros i Hi. rewrite YAs. rewrite <- (H i Hi). unfold mvec at 1 3. apply sum_ext; intros j Hj.
    now rewrite Hs. }
  intros i Hi. rewrite <- (Hs i Hi). unfold mvec. rewrite (sum_ext m _ (fun _ => 0)); [apply sum_zero|].
  intros j Hj. rewrite S0 by exact Hj. ring.
Qed.

Theorem rule_zero : exists z, in_box z /\ (forall i, (i < m)%nat -> f z i = 0) /\
  forall z', in_box z' -> (forall i, (i < m)%nat -> f z' i = 0) -> forall i, (i < m)%nat -> z' i = z i.
Proof.
  assert (Q := q_lt1).
  assert (Lim : forall i, exists l, (i < m)%nat -> forall k, Rabs (l - orbit k i) <= q ^ k * r / (1 - q)).
  { intro i. destruct (Nat.lt_ge_cases i m) as [Hi|Hi]; [|exists 0; lia].
    destruct (geometric_limit (fun k => orbit k i) (fun k => orbit_step k i Hi)) as [l Hl]. now exists l. }
  (* a limit in every entry, finitely many choices *)
  assert (Ch : forall n, exists z : vec, forall i, (i < n)%nat -> (i < m)%nat ->
    forall k, Rabs (z i - orbit k i) <= q ^ k * r / (1 - q)).
  { induction n as [|n [z Hz]]; [exists x; lia|]. destruct (Lim n) as [l Hl].
    exists (fun i => if Nat.eqb i n then l else z i). intros i Hi Him k.
    destruct (Nat.eqb_spec i n) as [->|Ne]; [now apply Hl|apply Hz; [lia|exact Him]]. }
  destruct (Ch m) as [z Hz0]. assert (Hz : forall i, (i < m)%nat ->
    forall k, Rabs (z i - orbit k i) <= q ^ k * r / (1 - q)) by (intros; now apply Hz0).
  assert (Bz : in_box z).
  { intros i Hi. apply Rnot_lt_le. intro G. destruct (small_pow (Rabs (z i - x i) - r)) as [k Hk]; [lra|].
    assert (A := Hz i Hi k). assert (B := orbit_box k i Hi).
    assert (C := Rabs_triang (z i - orbit k i) (orbit k i - x i)).
    replace (z i - orbit k i + (orbit k i - x i)) with (z i - x i) in C by ring. lra. }
  assert (Fix : forall i, (i < m)%nat -> T z i = z i).
  { intros i Hi. apply Rminus_diag_uniq. apply zero_of_le. intros e He.
    destruct (small_pow (e / 2)) as [k Hk]; [lra|].
    set (D := q ^ k * r / (1 - q)) in *.
    assert (D0 : 0 <= D) by (apply Rmult_le_pos; [apply Rmult_le_pos; [now apply pow_le|lra]|left;
      apply Rinv_0_lt_compat; lra]).
    assert (A := T_contracts z (orbit k) D Bz (orbit_box k) (fun j Hj => Hz j Hj k) D0 i Hi).
    assert (B := Hz i Hi (S k)). change (orbit (S k) i) with (T (orbit k) i) in B.
    assert (W1 := w_lt1 i Hi).
    assert (D1 : q ^ S k * r / (1 - q) <= D).
    { unfold D. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. apply Rmult_le_compat_r; [lra|]. simpl.
      assert (0 <= q ^ k) by (now apply pow_le). nra. }
    replace (T z i - z i) with ((T z i - T (orbit k) i) + - (z i - T (orbit k) i)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. assert (w i * D <= D) by nra. lra. }
  exists z. split; [exact Bz|split].
  - apply Y_injective. intros i Hi. assert (E := Fix i Hi). unfold T in E. lra.
  - intros z' Bz' Hf. assert (Fix' : forall i, (i < m)%nat -> T z' i = z' i).
    { intros i Hi. unfold T, mvec. rewrite (sum_ext m _ (fun _ => 0)); [rewrite sum_zero; ring|].
      intros j Hj. rewrite Hf by exact Hj. ring. }
    set (D := maxf m (fun j => Rabs (z' j - z j))). assert (D0 : 0 <= D) by apply maxf_pos.
    assert (B : forall i, (i < m)%nat -> Rabs (z' i - z i) <= q * D).
    { intros i Hi. rewrite <- (Fix i Hi), <- (Fix' i Hi).
      eapply Rle_trans; [apply (T_contracts z' z D Bz' Bz); [|exact D0|exact Hi]|].
      - intros j Hj. apply (maxf_ub m (fun j => Rabs (z' j - z j)) j Hj).
      - apply Rmult_le_compat_r; [exact D0|now apply w_le_q]. }
    assert (DZ : D = 0).
    { assert (D <= q * D) by (apply maxf_lub; [apply Rmult_le_pos; lra|exact B]). nra. }
    intros i Hi. specialize (B i Hi). rewrite DZ, Rmult_0_r in B. apply Rminus_diag_uniq, zero_of_le. intros e He. lra.
Qed.
End Krawczyk.

(* ---------- rule 5 ---------- *)
(** x^T A x *)
Definition symmetric (n : nat) (A : mat) : Prop := forall i j, (i < n)%nat -> (j < n)%nat -> A i j = A j i.
(** C A C^T *)
Definition congruent (n : nat) (C A : mat) : mat := fun i j => bil n (C i) A (C j).

(** A symmetric G near the identity, in the row sum norm, is positive definite: |E_ij x_i x_j| <= |E_ij| (x_i^2 +
  x_j^2)/2. *)
Lemma near_identity n G x : symmetric n G ->
  (forall i, (i < n)%nat -> sum n (fun j => Rabs (eye i j - G i j)) < 1) ->
  (exists i, (i < n)%nat /\ x i <> 0) -> 0 < bil n x G x.
Proof.
  intros Sy Near [k [Hk Xk]].
  set (s := fun i => sum n (fun j => Rabs (eye i j - G i j))).
  assert (E : bil n x G x = sum n (fun i => x i ^ 2) - sum n (fun i => sum n (fun j => x i * (eye i j - G i j) * x j))).
  { unfold bil. rewrite <- sum_minus. apply sum_ext; intros i Hi.
    rewrite (sum_ext n (fun j => x i * (eye i j - G i j) * x j)
      (fun j => (if Nat.eqb i j then x i * x j else 0) - x i * G i j * x j)).
    - rewrite sum_minus, (sum_single n (fun j => if Nat.eqb i j then x i * x j else 0) i Hi).
      + rewrite Nat.eqb_refl. ring.
      + intros j _ Hj. destruct (Nat.eqb_spec i j); [congruence|reflexivity].
    - intros j _. unfold eye. destruct (Nat.eqb i j); ring. }
  assert (B : sum n (fun i => sum n (fun j => x i * (eye i j - G i j) * x j)) <= sum n (fun i => s i * x i ^ 2)).
  { apply Rle_trans with (sum n (fun i => sum n (fun j => Rabs (eye i j - G i j) * (x i ^ 2 / 2) + Rabs (eye i j - G i
      j) * (x j ^ 2 / 2)))).
    - apply sum_le; intros i _. apply sum_le; intros j _. set (e := eye i j - G i j).
      assert (P := Rabs_pos e). assert (U := Rle_abs e). assert (L := Rle_abs (- e)). rewrite Rabs_Ropp in L.
      assert (Q := pow2_ge_0 (x i - x j)). assert (Q2 := pow2_ge_0 (x i + x j)). nra.
    - rewrite (sum_ext n _ (fun i => s i * (x i ^ 2 / 2) + sum n (fun j => Rabs (eye i j - G i j) * (x j ^ 2 / 2)))).
      2:{ intros i _. rewrite sum_plus, sum_scal_r. reflexivity. }
      rewrite sum_plus, (sum_swap n n (fun i j => Rabs (eye i j - G i j) * (x j ^ 2 / 2))).
      rewrite (sum_ext n (fun j => sum n (fun i => Rabs (eye i j - G i j) * (x j ^ 2 / 2))) (fun j => s j * (x j ^ 2 /
        2))).
      + rewrite <- sum_plus. right. apply sum_ext; intros; field.
      + intros j Hj. rewrite sum_scal_r. f_equal. apply sum_ext; intros i Hi. rewrite (Sy i j) by assumption.
        unfold eye. now rewrite Nat.eqb_sym. }
  assert (P : 0 < sum n (fun i => (1 - s i) * x i ^ 2)).
  { apply Rlt_le_trans with ((1 - s k) * x k ^ 2).
    - apply Rmult_lt_0_compat; [assert (H := Near k Hk); fold (s k) in H; lra|]. nra.
    - apply (sum_term_le n (fun i => (1 - s i) * x i ^ 2) k); [|exact Hk]. intros j Hj.
      apply Rmult_le_pos; [assert (H := Near j Hj); fold (s j) in H; lra|apply pow2_ge_0]. }
  rewrite (sum_ext n _ (fun i => x i ^ 2 - s i * x i ^ 2)) in P by (intros; ring). rewrite sum_minus in P. lra.
Qed.

Lemma congruent_form n C A x : let y := fun a => sum n (fun i => x i * C i a) in
  bil n x (congruent n C A) x = bil n y A y.
Proof.
  cbv zeta. unfold congruent, bil.
  rewrite (sum_ext n (fun i => sum n (fun j => x i * sum n (fun a => sum n (fun b => C i a * A a b * C j b)) * x j))
    (fun i => sum n (fun a => x i * C i a * sum n (fun b => A a b * sum n (fun j => x j * C j b))))).
  - rewrite sum_swap. apply sum_ext; intros a _.
    rewrite sum_scal_r, <- sum_scal. apply sum_ext; intros b _. ring.
  - intros i _.
    rewrite (sum_ext n _ (fun j => sum n (fun a => x i * C i a * sum n (fun b => A a b * C j b * x j)))).
    + rewrite sum_swap. apply sum_ext; intros a _. rewrite sum_scal. f_equal. rewrite sum_swap.
      apply sum_ext; intros b _. rewrite <- sum_scal. apply sum_ext; intros; ring.
    + intros j _. rewrite <- sum_scal, <- sum_scal_r. apply sum_ext; intros a _.
      rewrite <- sum_scal, <- sum_scal, <- sum_scal_r. apply sum_ext; intros; ring.
Qed.

(** If C A C^T is within 1 of the identity in the row sum norm, A is positive definite: C^T is one to one, so every
    y is some C^T x, and y^T A y = x^T (C A C^T) x. *)
Theorem rule_congruence n (A C : mat) y : symmetric n A ->
  (forall i, (i < n)%nat -> sum n (fun j => Rabs (eye i j - congruent n C A i j)) < 1) ->
  (exists i, (i < n)%nat /\ y i <> 0) -> 0 < bil n y A y.
Proof.
  intros Sy Near Hy.
  assert (SG : symmetric n (congruent n C A)).
  { intros i j Hi Hj. unfold congruent, bil. rewrite sum_swap. apply sum_ext; intros a Ha. apply sum_ext; intros b Hb.
    rewrite (Sy b a) by assumption. ring. }
  destruct (dependent n (fun i => if Nat.eqb i n then y else C i)) as [c [[k [Hk Ck]] Hc]].
  assert (Z : forall a, (a < n)%nat -> sum n (fun i => c i * C i a) + c n * y a = 0).
  { intros a Ha. rewrite <- (Hc a Ha). simpl. rewrite Nat.eqb_refl. f_equal. apply sum_ext; intros i Hi.
    rewrite (proj2 (Nat.eqb_neq i n)) by lia. reflexivity. }
  destruct (Req_dec (c n) 0) as [C0|Cn].
  - exfalso. assert (Kn : (k < n)%nat).
    { destruct (Nat.eq_dec k n) as [->|]; [contradiction|lia]. }
    assert (P := near_identity n (congruent n C A) c SG Near (ex_intro _ k (conj Kn Ck))).
    rewrite congruent_form in P. revert P. apply Rle_not_lt. right. unfold bil.
    rewrite (sum_ext n _ (fun _ => 0)); [apply sum_zero|]. intros a Ha.
    rewrite (sum_ext n _ (fun _ => 0)); [apply sum_zero|]. intros b _.
    assert (H := Z a Ha). rewrite C0 in H. replace (sum n (fun i => c i * C i a)) with 0 by lra. ring.
  - set (x := fun i => - c i / c n).
    assert (Y : forall a, (a < n)%nat -> sum n (fun i => x i * C i a) = y a).
    { intros a Ha. rewrite (sum_ext n _ (fun i => (- / c n) * (c i * C i a))) by (intros; unfold x; field; exact Cn).
      rewrite sum_scal. assert (H := Z a Ha). replace (sum n (fun i => c i * C i a)) with (- (c n * y a)) by lra.
      field. exact Cn. }
    assert (Q : bil n x (congruent n C A) x = bil n y A y).
    { rewrite congruent_form. unfold bil. apply sum_ext; intros a Ha. apply sum_ext; intros b Hb.
      rewrite (Y a Ha), (Y b Hb). reflexivity. }
    rewrite <- Q. apply near_identity; [exact SG|exact Near|].
    destruct Hy as [i [Hi Yi]].
    destruct (List.existsb (fun j => if Req_EM_T (x j) 0 then false else true) (List.seq 0 n)) eqn:E.
    + apply List.existsb_exists in E. destruct E as [j [Hj Xj]]. apply List.in_seq in Hj. exists j. split; [lia|].
      destruct (Req_EM_T (x j) 0); [discriminate|assumption].
    + exfalso. apply Yi. rewrite <- (Y i Hi). rewrite (sum_ext n _ (fun _ => 0)); [apply sum_zero|]. intros j Hj.
      destruct (Req_EM_T (x j) 0) as [->|N]; [ring|exfalso].
      assert (F : List.existsb (fun j => if Req_EM_T (x j) 0 then false else true) (List.seq 0 n) = true);
        [|congruence].
      apply List.existsb_exists. exists j. split; [apply List.in_seq; lia|].
      destruct (Req_EM_T (x j) 0); [contradiction|reflexivity].
Qed.
