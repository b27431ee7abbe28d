(** alcalde2025:4.2, own:hardmax-steps, unstated:mask-dichotomy, own:mask-rate.  What each is stands before its
    theorems. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Sums Norms Language LanguageFacts.
Local Open Scope R_scope.

(** own:mask-rate, own:mask-rate-symmetric.  If the powers of P, whose rows sum to one,
  bring vectors together like q^t, then tr P - 1 <= (n - 1) q [mask_rate].
    No eigenvalue is needed: the matrix T that P induces on differences to the first token has the trace tr P - 1;
      for r > q and some K the form
    S(x, y) = sum_(k<K) r^(-2k) <T^k x, T^k y> has S(Tx, Tx) <= r^2 S(x, x),
      and in a basis that is orthonormal for S the trace is a sum of m terms
    S(b_i, T b_i) <= r. *)

Definition unit_vec (j : nat) : vec := fun a => if Nat.eqb a j then 1 else 0.

(* ---------- a form that is at least the scalar product has an orthonormal basis ---------- *)
Section Form.
Variables (m : nat) (S : vec -> vec -> R).
Hypothesis Sext : forall x x' y y', (forall a, (a < m)%nat -> x a = x' a) -> (forall a, (a < m)%nat -> y a = y' a) ->
  S x y = S x' y'.
Hypothesis Ssym : forall x y, S x y = S y x.
Hypothesis Slin : forall x y z c, S z (fun a => x a + c * y a) = S z x + c * S z y.
Hypothesis Sdot : forall x, dot m x x <= S x x.

Lemma S_zero z : S z (fun _ => 0) = 0.
Proof.
  assert (H : S z (fun _ => 0) = S z (fun _ => 0) + -1 * S z (fun _ => 0)) by (rewrite <- Slin; apply Sext; intros;
    [reflexivity|ring]). lra.
Qed.

Lemma S_scal z x c : S z (fun a => c * x a) = c * S z x.
Proof.
  rewrite <- (Rplus_0_l (c * S z x)), <- (S_zero z), <- Slin. apply Sext; intros; [reflexivity|ring].
Qed.

Lemma S_sum z k (c : nat -> R) (b : nat -> vec) : S z (fun a => sum k (fun i => c i * b i a)) = sum k (fun i => c i * S
  z (b i)).
Proof.
  induction k as [|k IH]; [simpl; apply S_zero|]. cbn [sum]. rewrite <- IH.
  apply (Slin (fun a => sum k (fun i => c i * b i a)) (b k) z (c k)).
Qed.

Lemma basis k : (k <= m)%nat -> exists b : nat -> vec,
  (forall i a, (i < k)%nat -> (i < a)%nat -> b i a = 0) /\
  (forall i j, (i < k)%nat -> (j < k)%nat -> S (b i) (b j) = if Nat.eqb i j then 1 else 0) /\
  (forall j a, (j < k)%nat -> (a < m)%nat -> unit_vec j a = sum k (fun i => S (b i) (unit_vec j) * b i a)).
Proof.
  induction k as [|k IH]; intros Hk; [exists (fun _ _ => 0); repeat split; intros; lia|].
  destruct IH as [b [B0 [B1 B2]]]; [lia|].
  set (v := fun a => unit_vec k a + -1 * sum k (fun i => S (b i) (unit_vec k) * b i a)).
  assert (Vk : v k = 1).
  { unfold v, unit_vec at 1. rewrite Nat.eqb_refl. rewrite (sum_ext k _ (fun _ => 0)); [rewrite sum_zero; ring|].
    intros i Hi. rewrite B0 by lia. ring. }
  assert (Vo : forall j, (j < k)%nat -> S (b j) v = 0).
  { intros j Hj. unfold v. rewrite Slin, S_sum. rewrite (sum_ext k _ (fun i => S (b i) (unit_vec k) * (if Nat.eqb j i
      then 1 else 0))).
    2: { intros i Hi. rewrite B1 by lia. reflexivity. }
    rewrite (sum_single k _ j Hj). 2: { intros i Hi N. destruct (Nat.eqb_spec j i); [congruence|ring]. }
    rewrite Nat.eqb_refl. ring. }
  assert (Vv : 0 < S v v).
  { apply Rlt_le_trans with (dot m v v); [|apply Sdot]. apply Rlt_le_trans with (v k * v k); [rewrite Vk; lra|].
    apply (sum_term_le m (fun a => v a * v a) k); [intros; nra|lia]. }
  set (N := sqrt (S v v)). assert (N0 : 0 < N) by (now apply sqrt_lt_R0).
  assert (NN : N * N = S v v) by (apply sqrt_sqrt; lra).
  set (w := fun a => / N * v a).
  assert (Sw : forall z, S z w = / N * S z v) by (intros; apply S_scal).
  assert (Ew : forall a, v a = N * w a) by (intros; unfold w; field; lra).
  exists (fun i => if Nat.eqb i k then w else b i). split; [|split].
  - intros i a Hi Ha. destruct (Nat.eqb_spec i k) as [->|Ne]; [|apply B0; lia]. unfold w, v, unit_vec at 1.
    destruct (Nat.eqb_spec a k); [lia|]. rewrite (sum_ext k _ (fun _ => 0)); [rewrite sum_zero; ring|]. intros j Hj.
    rewrite B0 by lia. ring.
  - intros i j Hi Hj. destruct (Nat.eqb_spec i k) as [->|Ni]; destruct (Nat.eqb_spec j k) as [->|Nj].
    + rewrite Nat.eqb_refl, Sw, Ssym, Sw, <- NN. field. lra.
    + rewrite Ssym, Sw, Vo by lia. destruct (Nat.eqb_spec k j); [congruence|ring].
    + rewrite Sw, Vo by lia. destruct (Nat.eqb_spec i k); [congruence|ring].
    + apply B1; lia.
  - intros j a Hj Ha. cbn [sum]. rewrite Nat.eqb_refl.
    match goal with |- _ = sum k ?f + _ => rewrite (sum_ext k f (fun i => S (b i) (unit_vec j) * b i a)) end.
    2: { intros i Hi. destruct (Nat.eqb_spec i k); [lia|reflexivity]. }
    destruct (Nat.eq_dec j k) as [->|Nj].
    + assert (Sk : S w (unit_vec k) = N).
      { transitivity (S w (fun a => v a + 1 * sum k (fun i => S (b i) (unit_vec k) * b i a))); [apply Sext; intros;
          [reflexivity|unfold v; ring]|].
        rewrite Slin, S_sum, (sum_ext k _ (fun _ => 0)). 2: { intros i Hi. rewrite (Ssym w), Sw, Vo by lia. ring. }
        rewrite sum_zero, (Ssym w), Sw, <- NN. field. lra. }
      rewrite Sk, <- Ew. unfold v. ring.
    + rewrite <- B2 by lia. replace (S w (unit_vec j)) with 0; [ring|].
      rewrite (Sext w w (unit_vec j) (fun a => sum k (fun i => S (b i) (unit_vec j) * b i a))); [|reflexivity|intros;
        apply B2; lia].
      rewrite S_sum, (sum_ext k _ (fun _ => 0)); [rewrite sum_zero; reflexivity|]. intros i Hi.
      rewrite (Ssym w), Sw, Vo by lia. ring.
Qed.

Lemma expand (y : vec) a : (a < m)%nat -> y a = sum m (fun j => y j * unit_vec j a).
Proof.
  intros Ha. rewrite (sum_single m _ a Ha). { unfold unit_vec. rewrite Nat.eqb_refl. ring. }
  intros j Hj N. unfold unit_vec. destruct (Nat.eqb_spec a j); [congruence|ring].
Qed.

Lemma trace_form (T : mat) r : 0 <= r -> (forall x, S (fun a => dot m (T a) x) (fun a => dot m (T a) x) <= r * r * S x
  x) ->
  sum m (fun i => T i i) <= INR m * r.
Proof.
  intros r0 H. destruct (basis m (Nat.le_refl m)) as [b [_ [B1 B2]]]. set (t := fun (x : vec) a => dot m (T a) x).
  assert (E : sum m (fun j => T j j) = sum m (fun i => S (b i) (t (b i)))).
  { transitivity (sum m (fun j => sum m (fun i => S (b i) (unit_vec j) * t (b i) j))).
    - apply sum_ext; intros j Hj. transitivity (t (unit_vec j) j).
      + unfold t, dot. rewrite (sum_single m _ j Hj). { unfold unit_vec. rewrite Nat.eqb_refl. ring. }
        intros i Hi N. unfold unit_vec. destruct (Nat.eqb_spec i j); [congruence|ring].
      + unfold t, dot. rewrite (sum_ext m _ (fun a => sum m (fun i => S (b i) (unit_vec j) * (T j a * b i a)))).
        2: { intros a Ha. rewrite (B2 j a Hj Ha) at 1. rewrite <- sum_scal. apply sum_ext; intros; ring. }
        rewrite sum_swap. apply sum_ext; intros i Hi. now rewrite sum_scal.
    - rewrite sum_swap. apply sum_ext; intros i Hi. rewrite (Sext (b i) (b i) (t (b i)) (fun a => sum m (fun j => t (b
        i) j * unit_vec j a))).
      2: reflexivity. 2: { intros; now apply expand. }
      rewrite S_sum. apply sum_ext; intros; ring. }
  rewrite E, <- (sum_const m r). apply sum_le; intros i Hi. set (w := t (b i)). set (c := S (b i) w).
  assert (Sb : S (b i) (b i) = 1) by (rewrite B1 by lia; now rewrite Nat.eqb_refl).
  assert (W : S w w <= r * r) by (specialize (H (b i)); fold (t (b i)) in H; fold w in H; rewrite Sb in H; lra).
  assert (P : 0 <= S (fun a => w a + - c * b i a) (fun a => w a + - c * b i a)) by (eapply Rle_trans;
    [apply dot_pos|apply Sdot]).
  rewrite Slin, (Ssym _ w), (Ssym _ (b i)), !Slin, Sb, (Ssym w (b i)) in P. fold c in P. nra.
Qed.
End Form.

(* ---------- powers ---------- *)
Lemma applied_ext {n} (A : matrix n n) t x y : (forall a, (a < n)%nat -> x a = y a) -> forall i, (i < n)%nat ->
  applied A t x i = applied A t y i.
Proof. intros E. induction t as [|t IH]; intros i Hi; [now apply E|]. cbn [applied]. apply sum_ext; intros a Ha.
now rewrite IH. Qed.

Lemma applied_lin {n} (A : matrix n n) t x y c i : applied A t (fun a => x a + c * y a) i = applied A t x i + c *
  applied A t y i.
Proof.
  revert i. induction t as [|t IH]; intros i; [reflexivity|]. cbn [applied]. unfold dot.
  rewrite (sum_ext n _ (fun a => A i a * applied A t x a + c * (A i a * applied A t y a)));
    [rewrite sum_plus, sum_scal; reflexivity|].
  intros a Ha. rewrite IH. ring.
Qed.

Lemma applied_in {n} (A : matrix n n) t x i : applied A t (fun a => dot n (A a) x) i = applied A (S t) x i.
Proof. revert i. induction t as [|t IH]; intros i; [reflexivity|]. cbn [applied]. apply sum_ext; intros a Ha.
rewrite IH. reflexivity. Qed.

Lemma trace_power m (T : matrix m m) r K : 0 < r ->
  (forall y, dot m (applied T K y) (applied T K y) <= (r * r) ^ K * dot m y y) -> (0 < K)%nat ->
  sum m (fun i => T i i) <= INR m * r.
Proof.
  intros r0 H HK. assert (R0 : 0 < r * r) by nra. assert (RK : forall k, 0 < (r * r) ^ k) by (intros; now apply pow_lt).
  apply (trace_form m (fun x y => sum K (fun k => / (r * r) ^ k * dot m (applied T k x) (applied T k y)))).
  - intros x x' y y' Ex Ey. apply sum_ext; intros k Hk. f_equal. apply sum_ext; intros a Ha.
    now rewrite (applied_ext T k x x' Ex a Ha), (applied_ext T k y y' Ey a Ha).
  - intros x y. apply sum_ext; intros k Hk. now rewrite dot_sym.
  - intros x y z c. rewrite <- sum_scal, <- sum_plus. apply sum_ext; intros k Hk. unfold dot.
    rewrite (sum_ext m _ (fun a => applied T k z a * applied T k x a + c * (applied T k z a * applied T k y a)));
      [rewrite sum_plus, sum_scal; ring|].
    intros a Ha. rewrite applied_lin. ring.
  - intros x. replace (dot m x x) with (/ (r * r) ^ 0 * dot m (applied T 0 x) (applied T 0 x)) by (simpl; field).
    apply (sum_term_le K (fun k => / (r * r) ^ k * dot m (applied T k x) (applied T k x)) 0%nat); [|exact HK].
    intros k Hk. apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat|apply dot_pos].
  - lra.
  - intros x. set (f := fun k => / (r * r) ^ k * dot m (applied T k x) (applied T k x)).
    assert (E : sum K (fun k => / (r * r) ^ k * dot m (applied T k (fun a => dot m (T a) x)) (applied T k (fun a => dot
      m (T a) x))) = r * r * sum K (fun k => f (S k))).
    { rewrite <- sum_scal. apply sum_ext; intros k Hk. unfold f.
      replace (dot m (applied T k (fun a => dot m (T a) x)) (applied T k (fun a => dot m (T a) x)))
        with (dot m (applied T (S k) x) (applied T (S k) x)) by (apply sum_ext; intros; now rewrite !applied_in).
      cbn [pow]. field. split; [apply Rgt_not_eq, RK|lra]. }
    rewrite E. apply Rmult_le_compat_l; [lra|]. assert (S1 := sum_head K f). cbn [sum] in S1.
    assert (f K <= f 0%nat). { unfold f. simpl (_ ^ 0). rewrite Rinv_1, Rmult_1_l.
    apply Rmult_le_reg_l with ((r * r) ^ K); [apply RK|].
      rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by (apply Rgt_not_eq, RK). apply H. }
    lra.
Qed.

Lemma trace_power_abs m (T : matrix m m) r K : 0 < r ->
  (forall y, dot m (applied T K y) (applied T K y) <= (r * r) ^ K * dot m y y) -> (0 < K)%nat ->
  Rabs (sum m (fun i => T i i)) <= INR m * r.
Proof.
  intros r0 H HK. apply Rabs_le. split; [|now apply (trace_power m T r K)].
  set (U := (fun i j => - T i j) : matrix m m).
  assert (A : forall t y i, applied U t y i = (-1) ^ t * applied T t y i).
  { induction t as [|t IH]; intros y i; [simpl; ring|]. cbn [applied pow]. unfold dot.
    rewrite (sum_ext m _ (fun a => -1 * (-1) ^ t * (T i a * applied T t y a))) by (intros a _; rewrite IH; unfold U;
      ring). now rewrite sum_scal. }
  assert (C : sum m (fun i => U i i) <= INR m * r).
  { apply (trace_power m U r K r0); [|exact HK]. intros y.
    replace (dot m (applied U K y) (applied U K y)) with (dot m (applied T K y) (applied T K y)); [apply H|].
    apply sum_ext; intros a _. rewrite A. assert (E : (-1) ^ K * (-1) ^ K = 1) by (rewrite <- Rpow_mult_distr;
      replace (-1 * -1) with 1 by ring; apply pow1).
    transitivity ((-1) ^ K * (-1) ^ K * (applied T K y a * applied T K y a)); [rewrite E|]; ring. }
  unfold U in C. rewrite (sum_ext m _ (fun i => -1 * T i i)), sum_scal in C by (intros; ring). lra.
Qed.

(* ---------- what P does to differences ---------- *)
Definition induced (P : mat) : mat := fun i j => P (S i) (S j) - P 0%nat (S j).
Definition lift (y : vec) : vec := fun a => match a with O => 0 | S b => y b end.

Lemma induced_applied m (P : matrix (S m) (S m)) t y i : (forall j, (j < S m)%nat -> sum (S m) (P j) = 1) ->
  (i < m)%nat ->
  @applied m (induced P) t y i = applied P t (lift y) (S i) - applied P t (lift y) 0%nat.
Proof.
  intros H. revert i. induction t as [|t IH]; intros i Hi; [simpl; ring|]. cbn [applied].
  set (x := applied P t (lift y)) in *.
  assert (E : dot (S m) (P (S i)) x - dot (S m) (P 0%nat) x = sum (S m) (fun a => (P (S i) a - P 0%nat a) * (x a - x
    0%nat))).
  { unfold dot. rewrite (sum_ext (S m) (fun a => (P (S i) a - P 0%nat a) * (x a - x 0%nat)) (fun a => (P (S i) a * x a
      - P 0%nat a * x a) - (P (S i) a - P 0%nat a) * x 0%nat)) by (intros; ring).
    rewrite !sum_minus, sum_scal_r, sum_minus, (H (S i)), (H 0%nat) by lia. ring. }
  rewrite E, sum_head. replace ((P (S i) 0%nat - P 0%nat 0%nat) * (x 0%nat - x 0%nat)) with 0 by ring.
  rewrite Rplus_0_l.
  apply sum_ext; intros j Hj. rewrite IH by exact Hj. reflexivity.
Qed.

Lemma osc_lub m (v : vector m) b : (0 < m)%nat -> (forall j k, (j < m)%nat -> (k < m)%nat -> v j - v k <= b) ->
  osc v <= b.
Proof.
  intros Hm H. unfold osc. destruct (largest_attained m v Hm) as [j [Hj ->]].
  destruct (least_attained m v Hm) as [k [Hk ->]]. now apply H.
Qed.

Theorem mask_rate_abs m (P : matrix (S m) (S m)) q c : (forall i, (i < S m)%nat -> sum (S m) (P i) = 1) -> 0 <= q ->
  0 <= c ->
  (forall t (z : vector (S m)), osc (applied P t z) <= c * q ^ t * osc z) ->
    Rabs (sum (S m) (fun i => P i i) - 1) <= INR m * q.
Proof.
  intros Rows q0 c0 H. set (T := induced P : matrix m m).
  assert (Tr : sum (S m) (fun i => P i i) - 1 = sum m (fun i => T i i)).
  { unfold T, induced. rewrite sum_minus, sum_head. assert (A := Rows 0%nat ltac:(lia)). rewrite sum_head in A. lra. }
  rewrite Tr. apply le_epsilon. intros e e0. assert (m0 := pos_INR m). set (r := q + e / (INR m + 1)).
  assert (d0 : 0 < e / (INR m + 1)) by (apply Rdiv_lt_0_compat; lra). assert (r0 : 0 < r) by (unfold r; lra).
  apply Rle_trans with (INR m * r).
  2: { unfold r. rewrite Rmult_plus_distr_l. apply Rplus_le_compat_l. apply Rmult_le_reg_r with (INR m + 1); [lra|].
       replace (INR m * (e / (INR m + 1)) * (INR m + 1)) with (INR m * e) by (field; lra). nra. }
  set (B := 4 * INR m * (c * c) + 1). assert (B0 : 0 < B) by (unfold B; nra).
  assert (x1 : Rabs (q / r * (q / r)) < 1).
  { assert (0 <= q / r) by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
    assert (q / r < 1) by (apply Rmult_lt_reg_r with r; [lra|]; replace (q / r * r) with q by (field; lra); unfold r;
      lra). rewrite Rabs_pos_eq; nra. }
  destruct (pow_lt_1_zero _ x1 (/ B) ltac:(now apply Rinv_0_lt_compat)) as [K0 HK0]. set (K := S K0).
  assert (HK : B * (q * q) ^ K <= (r * r) ^ K).
  { specialize (HK0 K ltac:(unfold K; lia)). assert (E : q / r * (q / r) = q * q * / (r * r)) by (field; lra).
    assert (0 <= q * q * / (r * r)) by (apply Rmult_le_pos; [nra|left; apply Rinv_0_lt_compat; nra]).
    rewrite E, Rpow_mult_distr, pow_inv in HK0. assert (RK : 0 < (r * r) ^ K) by (apply pow_lt; nra).
    assert (QK : 0 <= (q * q) ^ K) by (apply pow_le; nra).
    rewrite Rabs_pos_eq in HK0 by (apply Rmult_le_pos; [exact QK|left; now apply Rinv_0_lt_compat]).
    apply Rmult_le_reg_r with (/ (r * r) ^ K); [now apply Rinv_0_lt_compat|]. rewrite Rinv_r by lra.
    apply Rmult_le_reg_l with (/ B); [now apply Rinv_0_lt_compat|].
    replace (/ B * (B * (q * q) ^ K * / (r * r) ^ K)) with ((q * q) ^ K * / (r * r) ^ K) by (field; split; lra). lra. }
  apply (trace_power_abs m T r K r0); [|unfold K; lia]. intros y. set (D := dot m y y).
  assert (Dm : forall a, (a < m)%nat -> y a * y a <= D) by (intros a Ha; apply (sum_term_le m (fun a => y a * y a) a);
    [intros; nra|exact Ha]).
  assert (D0 : 0 <= D) by apply dot_pos. set (s := sqrt D). assert (s0 : 0 <= s) by apply sqrt_pos.
  assert (ss : s * s = D) by now apply sqrt_sqrt.
  assert (Ly : forall a, (a < S m)%nat -> - s <= lift y a <= s).
  { intros [|a] Ha; simpl; [lra|]. specialize (Dm a ltac:(lia)). rewrite <- ss in Dm. split; nra. }
  assert (O : osc (lift y : vector (S m)) <= 2 * s).
  { apply osc_lub; [lia|]. intros j k Hj Hk. assert (A := Ly j Hj). assert (A' := Ly k Hk). lra. }
  assert (qK : 0 <= q ^ K) by now apply pow_le.
  assert (G : osc (applied P K (lift y : vector (S m))) <= c * q ^ K * (2 * s)) by (eapply Rle_trans; [apply H|];
    apply Rmult_le_compat_l; [nra|exact O]).
  set (g := c * q ^ K * (2 * s)) in *. assert (g0 : 0 <= g) by (unfold g; apply Rmult_le_pos; nra).
  apply Rle_trans with (INR m * (g * g)).
  - rewrite <- sum_const. apply sum_le; intros i Hi. unfold T. rewrite (induced_applied m P K y i Rows Hi).
    assert (A := osc_spec (S m) (applied P K (lift y)) (S i) 0 ltac:(lia) ltac:(lia)).
    assert (A' := osc_spec (S m) (applied P K (lift y)) 0 (S i) ltac:(lia) ltac:(lia)).
    set (u := applied P K (lift y) (S i) - applied P K (lift y) 0%nat) in *.
    assert (- g <= u <= g) by (split; unfold u in *; lra). nra.
  - replace (INR m * (g * g)) with (4 * INR m * (c * c) * ((q * q) ^ K * D)) by (unfold g;
      rewrite Rpow_mult_distr, <- ss; ring).
    apply Rle_trans with (B * (q * q) ^ K * D); [|apply Rmult_le_compat_r; assumption].
    assert (0 <= (q * q) ^ K * D) by (apply Rmult_le_pos; [apply pow_le; nra|exact D0]). unfold B. nra.
Qed.

Theorem mask_rate m (P : matrix (S m) (S m)) q c : (forall i, (i < S m)%nat -> sum (S m) (P i) = 1) -> 0 <= q ->
  0 <= c -> (forall t (z : vector (S m)), osc (applied P t z) <= c * q ^ t * osc z) ->
    sum (S m) (fun i => P i i) - 1 <= INR m * q.
Proof. intros Rows q0 c0 H. eapply Rle_trans; [apply Rle_abs|]. now apply (mask_rate_abs m P q c). Qed.

(** The powers of P P: the trace of P P. *)
Lemma applied_square n (P : matrix n n) t z i : @applied n (mmul n P P) t z i = applied P (t + t) z i.
Proof.
  revert i. induction t as [|t IH]; intros i; [reflexivity|]. replace (S t + S t)%nat with (S (S (t + t))) by lia.
  cbn [applied]. unfold dot, mmul, vmat.
  rewrite (sum_ext n _ (fun a => sum n (fun b => P i b * (P b a * applied P (t + t) z a)))).
  2: { intros a Ha. rewrite IH, <- sum_scal_r. apply sum_ext; intros; ring. }
  rewrite sum_swap. apply sum_ext; intros b Hb. now rewrite sum_scal.
Qed.

Theorem mask_rate_square m (P : matrix (S m) (S m)) q c : (forall i, (i < S m)%nat -> sum (S m) (P i) = 1) -> 0 <= q ->
  0 <= c ->
  (forall t (z : vector (S m)), osc (applied P t z) <= c * q ^ t * osc z) ->
  sum (S m) (fun i => sum (S m) (fun j => P i j * P j i)) - 1 <= INR m * (q * q).
Proof.
  intros Rows q0 c0 H. apply (mask_rate m (mmul (S m) P P) (q * q) c); [|nra|exact c0|].
  - intros i Hi. unfold mmul, vmat. rewrite sum_swap. rewrite (sum_ext (S m) _ (P i)); [now apply Rows|]. intros j Hj.
    rewrite sum_scal, Rows by exact Hj. ring.
  - intros t z. eapply Rle_trans; [|eapply Rle_trans; [apply (H (t + t)%nat z)|right; rewrite pow_add, Rpow_mult_distr;
      reflexivity]].
    right. unfold osc. f_equal; [apply largest_ext|apply least_ext]; intros; apply applied_square.
Qed.

(** Averages do not spread. *)
Lemma average_osc n (P : matrix n n) t z : (0 < n)%nat -> Definitions.row_stochastic n n P ->
  osc (applied P t z) <= 1 * 1 ^ t * osc z.
Proof.
  intros Hn [P0 P1]. rewrite pow1, !Rmult_1_l. induction t as [|t IH]; [apply Rle_refl|].
  eapply Rle_trans; [|exact IH]. set (x := applied P t z).
  apply osc_lub; [exact Hn|]. intros j k Hj Hk. cbn [applied]. fold x.
  assert (U : dot n (P j) x <= largest n x).
  { apply Rle_trans with (sum n (fun a => P j a * largest n x)); [|rewrite sum_scal_r, P1 by exact Hj; lra].
    apply sum_le; intros a Ha. apply Rmult_le_compat_l; [now apply P0|now apply largest_ub]. }
  assert (L : least n x <= dot n (P k) x).
  { apply Rle_trans with (sum n (fun a => P k a * least n x)); [rewrite sum_scal_r, P1 by exact Hk; lra|].
    apply sum_le; intros a Ha. apply Rmult_le_compat_l; [now apply P0|now apply least_lb]. }
  unfold osc. lra.
Qed.

(** unstated:mask-dichotomy.  Three tokens, every edge but one, self-loops,
  and attention whose square has equal rows: after two layers of it with
    W = 1 every input is at consensus. *)

Definition forgetful : mat := fun i j => match i, j with
  | O, O | O, S O => / 2 | O, _ => 0 | S O, O | S O, S O => / 6 | S O, _ => 2 / 3 | _, _ => / 3 end.

Theorem consensus_in_two_layers : exists P : mat, Definitions.row_stochastic 3 3 P /\ (forall i, (i < 3)%nat ->
  0 < P i i) /\ P 0%nat 2%nat = 0 /\
  (forall i j, (i < 3)%nat -> (j < 3)%nat -> (i, j) <> (0, 2)%nat -> 0 < P i j) /\
  forall (X : mat) i k a, (i < 3)%nat -> (k < 3)%nat -> mmul 3 P (mmul 3 P X) i a = mmul 3 P (mmul 3 P X) k a.
Proof.
  exists forgetful. split; [split|split; [|split; [|split]]].
  - intros i j Hi Hj. do 3 (destruct i as [|i]; [do 3 (destruct j as [|j]; [simpl; lra|]); lia|]). lia.
  - intros i Hi. do 3 (destruct i as [|i]; [unfold sum; simpl; lra|]). lia.
  - intros i Hi. do 3 (destruct i as [|i]; [simpl; lra|]). lia.
  - reflexivity.
  - intros i j Hi Hj Hne. do 3 (destruct i as [|i]; [do 3 (destruct j as [|j]; [simpl; try lra; exfalso;
      now apply Hne|]); lia|]). lia.
  - intros X i k a Hi Hk. do 3 (destruct i as [|i]; [do 3 (destruct k as [|k]; [unfold mmul, vmat, sum; simpl; lra|]);
      lia|]). lia.
Qed.

(** alcalde2025:4.2 and own:hardmax-steps.  A hardmax step moves a token from x to x + g (v - x),
  so what is left of the distance to its vertex v after
    the steps g 0, ..., g (t-1) is the product of all 1 - g s [left].
    It lies between 1 - sum g and exp (- sum g) [hardmax_steps]; with
    g s = 2^(-s-1) it is not O(q^t) for any q < 1 [not_exponential]. *)

Fixpoint left (g : nat -> R) (t : nat) : R := match t with O => 1 | S s => left g s * (1 - g s) end.

(** The distance itself: a token that moves towards v in every step. *)
Theorem token_steps g (x : nat -> R) v : (forall t, x (S t) = x t + g t * (v - x t)) ->
  forall t, x t - v = left g t * (x O - v).
Proof. intros H t. induction t as [|t IH]; simpl; [ring | rewrite H].
replace (x t + g t * (v - x t) - v) with ((1 - g t) * (x t - v)) by ring. rewrite IH. ring. Qed.

Theorem hardmax_steps g t : (forall s, (s < t)%nat -> 0 < g s < 1) -> 1 - sum t g <= left g t <= exp (- sum t g).
Proof.
  intros H. assert (A : 0 <= left g t <= 1 /\ 1 - sum t g <= left g t <= exp (- sum t g)).
  { induction t as [|t IH].
    - simpl. rewrite Ropp_0, exp_0. lra.
    - destruct IH as [[L0 L1] [L2 L3]]; [intros s Hs; apply H; lia|]. assert (G := H t (Nat.lt_succ_diag_r t)).
      simpl left. change (sum (S t) g) with (sum t g + g t). split; [split; nra|]. split; [nra|].
      replace (- (sum t g + g t)) with (- sum t g + - g t) by ring. rewrite exp_plus.
      apply Rmult_le_compat; try lra. assert (E := exp_ineq1_le (- g t)). lra. }
  apply A.
Qed.

Definition halving (s : nat) : R := (/ 2) ^ (S s).
Theorem a_quarter_is_left t : / 4 + (/ 2) ^ (t + 2) <= left halving (S t).
Proof.
  induction t as [|t IH]; [simpl; unfold halving; simpl; lra|].
  change (left halving (S (S t))) with (left halving (S t) * (1 - (/ 2) ^ (S (S t)))).
  replace ((/ 2) ^ (S t + 2)) with (/ 2 * (/ 2) ^ (t + 2)) by (replace (S t + 2)%nat with (S (t + 2)) by lia;
    reflexivity).
  replace (S (S t)) with (t + 2)%nat by lia. set (h := (/ 2) ^ (t + 2)) in *. set (l := left halving (S t)) in *.
  assert (Hh : 0 < h <= / 4). { unfold h. replace (t + 2)%nat with (2 + t)%nat by lia. rewrite pow_add. simpl.
    assert (P := pow_lt (/ 2) t ltac:(lra)). assert (Q : (/ 2) ^ t <= 1) by (rewrite <- (pow1 t); apply pow_incr; lra).
    lra. }
  assert (M : (/ 4 + h) * (1 - h) <= l * (1 - h)) by (apply Rmult_le_compat_r; lra). nra.
Qed.

Theorem not_exponential : ~ exists C q, 0 <= q < 1 /\ forall t, left halving t <= C * q ^ t.
Proof.
  intros (C & q & Hq & H).
  assert (HC : 0 < C). { specialize (H O). simpl in H. lra. }
  destruct (pow_lt_1_zero q) with (y := / (4 * C)) as [N HN]; [rewrite Rabs_pos_eq; lra | apply Rinv_0_lt_compat;
    lra |].
  specialize (HN (S N) ltac:(lia)). specialize (H (S N)). assert (L := a_quarter_is_left N).
  assert (P := pow_lt (/ 2) (N + 2) ltac:(lra)).
  assert (A := Rle_abs (q ^ S N)). assert (B : C * q ^ S N <= C * / (4 * C)) by (apply Rmult_le_compat_l; lra).
  replace (C * / (4 * C)) with (/ 4) in B by (field; lra). lra.
Qed.
