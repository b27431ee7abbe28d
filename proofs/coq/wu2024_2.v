(** wu2024:2-step, wu2024:2.  What each is stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms Softmax Masks SphereLayer own_hemisphere.
Local Open Scope R_scope.

(** wu2024:2.  Theorem 2 of Wu et al., as printed, with n eps < 1.

    One head, orthogonal values, LayerNorm on the sphere, a mask with self-loops and a centre that reaches every token
      within
    r edges, attention weights at least eps > 0 on the edges at all times, n eps < 1.
    If X(0) has full row rank (a right inverse),
    then there is a constant C with mu(X(t)) <= C (1 - n eps^{2r})^{t/2r} for all t.
    (Strong connectivity and n <= d are not needed.)  Proof: own:hemisphere brings the tokens together;
      started afresh at
    a late time its factor is as near as one likes to 1 - eps^r, and (1 - eps^r)^2 < 1 - n eps^{2r}. *)

Lemma orbit_shift n d Ly X T t : sphere_orbit n d Ly X (T + t) = sphere_orbit n d (fun s => Ly (T + s)%nat)
  (sphere_orbit n d Ly X T) t.
Proof.
  induction t as [|t IH]; [rewrite Nat.add_0_r; reflexivity|]. rewrite Nat.add_succ_r.
  unfold sphere_orbit in *. simpl. now rewrite IH.
Qed.

(** |X_i - X_k|^2 <= 2 mu^2 *)
Lemma pair_mu n d X i k : (i < n)%nat -> (k < n)%nat -> dot d (vsub (X i) (X k)) (vsub (X i) (X k)) <= 2 * (mu n d X *
  mu n d X).
Proof.
  intros Hi Hk. rewrite mu_sq, sqrt_sqrt by (apply sum_nonneg; intros; apply sum_nonneg; intros; apply pow2_ge_0).
  rewrite sum_swap, <- sum_scal. apply sum_le; intros a _. unfold vsub.
  assert (H := spread_low n (fun j => X j a) (mean n X a) i k Hi Hk). cbv beta in H. lra.
Qed.

Section Thm2.
Variables (n d : nat) (Ly : nat -> layer) (G : mat) (c r : nat) (eps : R).
Hypothesis n2 : (2 <= n)%nat.
Hypothesis r_pos : (0 < r)%nat.
Hypothesis eps0 : 0 < eps.
Hypothesis small : INR n * eps < 1.
Hypothesis HL : forall s, nheads (Ly s) = 1%nat /\ mask (hd (Ly s) 0) = G /\
     (forall a, bout (Ly s) a = 0) /\ orthogonal d (WV (hd (Ly s) 0)).
Hypothesis G0 : forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j.
Hypothesis G1 : forall i, (i < n)%nat -> 0 < G i i.
Hypothesis cen : centre n G c r.
Variable X : mat.
Hypothesis edge : forall s i j, (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= sphere_attention n d Ly X s i j.
Hypothesis U0 : forall i, (i < n)%nat -> l2 d (X i) = 1.

(** The hemisphere theorem from time T on. *)
Lemma restart T v gamma : l2 d v = 1 -> 0 < gamma -> (forall i, (i < n)%nat -> l2 d (sphere_orbit n d Ly X T i) = 1) ->
  (forall i, (i < n)%nat -> gamma <= dot d (sphere_orbit n d Ly X T i) v) ->
  forall t, (forall i, (i < n)%nat -> l2 d (sphere_orbit n d Ly X (T + t) i) = 1) /\
    mu n d (sphere_orbit n d Ly X (T + t)) <= sqrt ((INR n - 1) / 2) * ((1 - gamma * eps ^ r) ^ (t / r) * (2 * sqrt (/
      gamma ^ 2 - 1))) .
Proof.
  intros V1 Gp UT Hv t. rewrite orbit_shift. set (XT := sphere_orbit n d Ly X T) in *.
  destruct (hemisphere n d (fun s => Ly (T + s)%nat) G c r eps v gamma t XT ltac:(lia) r_pos ltac:(lra)) as [A1 [A2 [A3
    A4]]]; auto.
  - intros s i j _ Hi Hj Gp'. specialize (edge (T + s)%nat i j Hi Hj Gp'). unfold sphere_attention in *.
    rewrite orbit_shift in edge. exact edge.
  - split; [intros; now apply A1|]. eapply Rle_trans; [exact A3|]. apply Rmult_le_compat_l; [apply sqrt_pos|].
    eapply Rle_trans; [exact A2|].
    assert (Hi0 : (0 < n)%nat) by lia.
    assert (g1 : gamma <= 1).
    { eapply Rle_trans; [apply (Hv 0%nat Hi0)|]. eapply Rle_trans; [apply Rle_abs|].
      eapply Rle_trans; [apply dot_le_l2|]. rewrite UT, V1 by exact Hi0. lra. }
    assert (e1 : eps ^ r <= 1).
    { rewrite <- (pow1 r). apply pow_incr. split; [lra|]. assert (2 <= INR n) by (apply (le_INR 2); lia). nra. }
    assert (e0 := pow_lt eps r eps0).
    apply Rmult_le_compat_l; [apply pow_le; nra|exact A4].
Qed.

Theorem wu_2_rate (Y : mat) : (forall i k, (i < n)%nat -> (k < n)%nat -> sum d (fun a => X i a * Y a k) = eye i k) ->
  exists C, forall t, mu n d (sphere_orbit n d Ly X t) <= C * Rpower (1 - INR n * eps ^ (2 * r)) (INR t / (2 * INR r)).
Proof.
  intros HY. assert (Pn : 2 <= INR n) by (apply (le_INR 2); lia). assert (Pr : 1 <= INR r) by (apply (le_INR 1); lia).
  assert (Hi0 : (0 < n)%nat) by lia.
  set (e := eps ^ r). assert (e0 : 0 < e) by (apply pow_lt; exact eps0).
  assert (eps1 : eps <= 1) by nra.
  assert (ee : e <= eps).
  { unfold e. destruct r as [|r']; [lia|]. simpl. rewrite <- (Rmult_1_r eps) at 3. apply Rmult_le_compat_l; [lra|].
    rewrite <- (pow1 r'). apply pow_incr; lra. }
  assert (ne : INR n * e < 1) by nra.
  set (B := 1 - INR n * eps ^ (2 * r)). assert (EB : B = 1 - INR n * (e * e)) by (unfold B, e;
    replace (2 * r)%nat with (r + r)%nat by lia; rewrite pow_add; reflexivity).
  assert (B01 : 0 < B < 1) by (rewrite EB; split; nra).
  set (sg := sqrt B). assert (sg0 : 0 < sg) by (apply sqrt_lt_R0; lra).
  assert (sg2 : sg * sg = B) by (apply sqrt_sqrt; lra). assert (sg1 : sg < 1) by nra.
  assert (key : 1 - e < sg) by (assert ((1 - e) * (1 - e) < sg * sg) by (rewrite sg2, EB; nra); nra).
  (* a unit vector that sees all tokens alike *)
  set (v0 := fun a => sum n (fun k => Y a k)).
  assert (D0 : forall i, (i < n)%nat -> dot d (X i) v0 = 1).
  { intros i Hi. unfold dot, v0. rewrite (sum_ext d _ (fun a => sum n (fun k => X i a * Y a k))) by (intros;
      now rewrite sum_scal).
    rewrite sum_swap, (sum_ext n _ (eye i)) by (intros; now apply HY). now apply eye_stochastic. }
  assert (N0 : 0 < l2 d v0).
  { assert (C0 := dot_le_l2 d (X 0%nat) v0). rewrite D0, U0, Rmult_1_l in C0 by exact Hi0.
    rewrite Rabs_right in C0 by lra. lra. }
  set (g := / l2 d v0). assert (g0 : 0 < g) by now apply Rinv_0_lt_compat.
  assert (R0 := restart 0 (fun a => g * v0 a) g).
  destruct R0 with (t := 0%nat) as [_ _]; auto.
  { change (l2 d (fun a => g * v0 a)) with (L2 d (fun a => g * v0 a)). rewrite (sn_scal (L2 d)), Rabs_right by lra.
    change (L2 d v0) with (l2 d v0). unfold g. field. lra. }
  { intros i Hi. change (sphere_orbit n d Ly X 0) with X. rewrite dot_scal_r, D0 by exact Hi. lra. }
  assert (R1 : forall t, (forall i, (i < n)%nat -> l2 d (sphere_orbit n d Ly X t i) = 1) /\
     mu n d (sphere_orbit n d Ly X t) <= sqrt ((INR n - 1) / 2) * ((1 - g * e) ^ (t / r) * (2 * sqrt (/ g ^ 2 - 1)))).
  { intro t. apply (R0).
    - change (l2 d (fun a => g * v0 a)) with (L2 d (fun a => g * v0 a)). rewrite (sn_scal (L2 d)), Rabs_right by lra.
      change (L2 d v0) with (l2 d v0). unfold g. field. lra.
    - exact g0.
    - exact U0.
    - intros i Hi. change (sphere_orbit n d Ly X 0) with X. rewrite dot_scal_r, D0 by exact Hi. lra. }
  clear R0.
  assert (g1 : g <= 1).
  { assert (Q : 1 <= l2 d v0) by (assert (C0 := dot_le_l2 d (X 0%nat) v0);
      rewrite D0, U0, Rmult_1_l in C0 by exact Hi0; rewrite Rabs_right in C0; lra).
    unfold g. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  (* a late time T at which all tokens are within the wanted angle of token 0 *)
  set (g' := (1 - sg) / e). assert (g'e : g' * e = 1 - sg) by (unfold g'; field; lra).
  assert (g'0 : 0 < g') by (unfold g'; apply Rdiv_lt_0_compat; lra). assert (g'1 : g' < 1) by nra.
  set (K := sqrt ((INR n - 1) / 2) * (2 * sqrt (/ g ^ 2 - 1)) + 1).
  assert (K0 : 1 <= K) by (unfold K; assert (0 <= sqrt ((INR n - 1) / 2) * (2 * sqrt (/ g ^ 2 - 1))) by (apply
    Rmult_le_pos; [apply sqrt_pos|apply Rmult_le_pos; [lra|apply sqrt_pos]]); lra).
  assert (q01 : 0 <= 1 - g * e < 1) by nra.
  assert (Late : exists T, mu n d (sphere_orbit n d Ly X T) * mu n d (sphere_orbit n d Ly X T) <= 1 - g').
  { destruct (pow_lt_1_zero (1 - g * e) ltac:(rewrite Rabs_right;
      lra) ((1 - g') / (K * K)) ltac:(apply Rdiv_lt_0_compat; nra)) as [m Hm].
    exists (m * r)%nat. destruct (R1 (m * r)%nat) as [_ Mb]. rewrite Nat.div_mul in Mb by lia.
    specialize (Hm m (le_n m)).
    set (x := (1 - g * e) ^ m) in *. assert (x0 : 0 <= x) by (apply pow_le; lra). rewrite Rabs_right in Hm by lra.
    assert (x1 : x <= 1) by (apply pow_01; lra).
    assert (M0 : 0 <= mu n d (sphere_orbit n d Ly X (m * r))) by apply sqrt_pos.
    assert (MK : mu n d (sphere_orbit n d Ly X (m * r)) <= K * x) by (unfold K; nra).
    assert (xK : x * (K * K) <= 1 - g').
    { apply Rlt_le in Hm. apply (Rmult_le_compat_r (K * K)) in Hm; [|nra].
      replace ((1 - g') / (K * K) * (K * K)) with (1 - g') in Hm by (field; lra). exact Hm. }
    apply Rle_trans with (K * x * (K * x)); [apply Rmult_le_compat; assumption|].
    replace (K * x * (K * x)) with (x * (x * (K * K))) by ring. 
    assert (0 <= x * (K * K)) by (apply Rmult_le_pos; [|apply Rmult_le_pos]; lra).
    apply Rle_trans with (1 * (x * (K * K))); [apply Rmult_le_compat_r|]; lra. }
  destruct Late as [T HT].
  destruct (R1 T) as [UT _]. set (XT := sphere_orbit n d Ly X T) in *.
  assert (R2 := restart T (XT 0%nat) g' (UT 0%nat Hi0) g'0 UT).
  assert (Near : forall i, (i < n)%nat -> g' <= dot d (XT i) (XT 0%nat)).
  { intros i Hi. assert (P := pair_mu n d XT i 0%nat Hi Hi0).
    assert (E : dot d (vsub (XT i) (XT 0%nat)) (vsub (XT i) (XT 0%nat)) = dot d (XT i) (XT i) - 2 * dot d (XT i) (XT
      0%nat) + dot d (XT 0%nat) (XT 0%nat)).
    { unfold dot, vsub. rewrite <- sum_scal, <- sum_minus, <- sum_plus. apply sum_ext; intros; ring. }
    rewrite E in P. rewrite <- (l2_sq d (XT i)), <- (l2_sq d (XT 0%nat)), !UT in P by assumption. lra. }
  specialize (R2 Near). set (C1 := sqrt ((INR n - 1) / 2) * (2 * sqrt (/ g' ^ 2 - 1))).
  assert (C10 : 0 <= C1) by (apply Rmult_le_pos; [apply sqrt_pos|apply Rmult_le_pos; [lra|apply sqrt_pos]]).
  assert (lnB : ln B < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (Anti : forall x y, x <= y -> Rpower B y <= Rpower B x) by (intros x y Hxy; unfold Rpower; apply exp_le; nra).
  assert (Pow : forall k, sg ^ k = Rpower B (INR k / 2)).
  { intro k. rewrite <- Rpower_pow by exact sg0. unfold sg. rewrite <- Rpower_sqrt by lra. rewrite Rpower_mult.
    f_equal. field. }
  exists ((K + C1) * Rpower B (- ((INR T + INR r) / (2 * INR r)))). intro t.
  set (Q := Rpower B (- ((INR T + INR r) / (2 * INR r)))). assert (Q0 : 0 < Q) by apply exp_pos.
  assert (QR : Q * Rpower B (INR t / (2 * INR r)) = Rpower B (INR t / (2 * INR r) - (INR T + INR r) / (2 * INR r))).
  { unfold Q. rewrite <- Rpower_plus. f_equal. ring. }
  rewrite Rmult_assoc, QR. set (y := INR t / (2 * INR r) - (INR T + INR r) / (2 * INR r)).
  assert (Py : 0 < Rpower B y) by apply exp_pos.
  destruct (Nat.le_gt_cases T t) as [Ht|Ht].
  - set (s := (t - T)%nat). destruct (R2 s) as [_ Mb]. replace (T + s)%nat with t in Mb by (unfold s; lia).
    fold e in Mb. rewrite g'e in Mb. replace (1 - (1 - sg)) with sg in Mb by ring. rewrite Pow in Mb.
    assert (Hk : INR s <= INR r * INR (s / r) + INR r).
    { assert (Dm := Nat.div_mod s r ltac:(lia)). assert (M := Nat.mod_upper_bound s r ltac:(lia)). rewrite Dm at 1.
      rewrite plus_INR, mult_INR.
      apply Rplus_le_compat_l. apply le_INR. lia. }
    assert (Es : INR s = INR t - INR T) by (unfold s; now rewrite minus_INR by exact Ht).
    assert (Yk : y <= INR (s / r) / 2).
    { unfold y. apply Rmult_le_reg_r with (2 * INR r); [lra|].
      replace ((INR t / (2 * INR r) - (INR T + INR r) / (2 * INR r)) * (2 * INR r)) with (INR t - INR T - INR r) by
        (field; lra). lra. }
    assert (A := Anti _ _ Yk). assert (0 < Rpower B (INR (s / r) / 2)) by apply exp_pos.
    apply Rle_trans with (C1 * Rpower B (INR (s / r) / 2)); [unfold C1; lra|]. apply Rmult_le_compat; lra.
  - destruct (R1 t) as [_ Mb].
    assert (MK : mu n d (sphere_orbit n d Ly X t) <= K).
    { assert (x0 : 0 <= (1 - g * e) ^ (t / r)) by (apply pow_le; lra).
      assert (x1 : (1 - g * e) ^ (t / r) <= 1) by (apply pow_01; lra).
      assert (0 <= sqrt ((INR n - 1) / 2)) by apply sqrt_pos.
      assert (0 <= 2 * sqrt (/ g ^ 2 - 1)) by (apply Rmult_le_pos; [lra|apply sqrt_pos]).
      eapply Rle_trans; [exact Mb|].
      assert (sqrt ((INR n - 1) / 2) * ((1 - g * e) ^ (t / r) * (2 * sqrt (/ g ^ 2 - 1))) <= sqrt ((INR n - 1) / 2) *
        (1 * (2 * sqrt (/ g ^ 2 - 1))))
        by (apply Rmult_le_compat_l; [assumption|apply Rmult_le_compat_r; assumption]). unfold K. lra. }
    assert (Yn : y <= 0).
    { unfold y. apply Rmult_le_reg_r with (2 * INR r); [lra|].
      replace ((INR t / (2 * INR r) - (INR T + INR r) / (2 * INR r)) * (2 * INR r)) with (INR t - INR T - INR r) by
        (field; lra).
      apply lt_INR in Ht. lra. }
    assert (1 <= Rpower B y) by (rewrite <- (Rpower_O B) by lra; now apply Anti).
    apply Rle_trans with ((K + C1) * 1); [lra|apply Rmult_le_compat_l; lra].
Qed.
End Thm2.

Theorem wu_2 n d (Ly : nat -> layer) (G : mat) c r eps X (Y : mat) :
  (2 <= n)%nat -> (0 < r)%nat -> 0 < eps -> INR n * eps < 1 ->
  (forall s, nheads (Ly s) = 1%nat /\ mask (hd (Ly s) 0) = G /\
     (forall a, bout (Ly s) a = 0) /\ orthogonal d (WV (hd (Ly s) 0))) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j) ->
  (forall i, (i < n)%nat -> 0 < G i i) ->
  centre n G c r ->
  (forall s i j, (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= sphere_attention n d Ly X s i j) ->
  (forall i, (i < n)%nat -> l2 d (X i) = 1) ->
  (forall i k, (i < n)%nat -> (k < n)%nat -> sum d (fun a => X i a * Y a k) = eye i k) ->
  exists C, forall t, mu n d (sphere_orbit n d Ly X t) <= C * Rpower (1 - INR n * eps ^ (2 * r)) (INR t / (2 * INR r)).
Proof. intros. now apply (wu_2_rate n d Ly G c r eps) with (Y := Y). Qed.

(** wu2024:2-step refuted.  The step from which the rate of Theorem 2 was to follow.

    The step, for unit tokens with all cosines at least phi >= 0, orthogonal W, a strongly connected mask with
    self-loops and radius r, weights at least eps on the edges, n eps < 1:
        1 - cos(X_i(t+r), X_k(t+r)) <= (1 - n eps^{2r}) (1 - phi).
    A star of three tokens refutes it: the hub sees all alike, each leaf gives 1/4 to the hub and 3/4 to itself,
    X = W = I, r = 1, eps = 1/4, phi = 0: the leaves meet at the hub only, their cosine after one layer
    is 1/10 < 3/16.  (The rate itself is right: wu2024:2.) *)

Definition strongly_connected (n : nat) (G : mat) : Prop :=
  forall c, (c < n)%nat -> exists r, centre n G c r.

Definition wu_step : Prop := forall n d (M W G : mat) c r eps phi (X : mat),
  (0 < n)%nat -> (0 < r)%nat -> 0 < eps -> INR n * eps < 1 -> 0 <= phi ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> G i j = 0 \/ G i j = 1) -> (forall i, (i < n)%nat -> G i i = 1) ->
  centre n G c r -> strongly_connected n G -> orthogonal d W ->
  (forall i, (i < n)%nat -> l2 d (X i) = 1) ->
  (forall i k, (i < n)%nat -> (k < n)%nat -> phi <= dot d (X i) (X k)) ->
  (forall s i j, (s < r)%nat -> (i < n)%nat -> (j < n)%nat -> G i j = 1 ->
     eps <= attn n d d (hd (onehead d M W G) 0) (Nat.iter s (sphere_map n d M W G) X) i j) ->
  forall i k, (i < n)%nat -> (k < n)%nat ->
    1 - dot d (Nat.iter r (sphere_map n d M W G) X i) (Nat.iter r (sphere_map n d M W G) X k)
    <= (1 - INR n * eps ^ (2 * r)) * (1 - phi).

Definition star : mat := fun i j => if orb (Nat.eqb i 0) (orb (Nat.eqb j 0) (Nat.eqb i j)) then 1 else 0.
(** exp of the logits: the hub's row is constant, the leaves' rows are proportional to 1 : 3. *)
Definition star_logits : mat := fun i j => if andb (negb (Nat.eqb i 0)) (Nat.eqb i j) then ln 3 else 0.

Lemma star_E i j : (i < 3)%nat -> (j < 3)%nat -> Ex 3 star_logits star eye i j =
  match i, j with O, _ => 1 | 1%nat, O => 1 | 1%nat, 1%nat => 3 | 2%nat, O => 1 | 2%nat, 2%nat => 3 | _, _ => 0 end.
Proof.
  intros Hi Hj. unfold Ex, bil. destruct i as [|[|[|i]]]; try lia; destruct j as [|[|[|j]]]; try lia;
  unfold star, star_logits, eye; cbn [sum Nat.eqb orb andb negb];
  match goal with |- _ * exp ?x = _ => first [replace x with 0 by ring; rewrite exp_0|replace x with (ln 3) by ring;
    rewrite exp_ln by lra] end; lra.
Qed.

Theorem wu_step_refuted : ~ wu_step.
Proof.
  intro H.
  assert (PM : proper_mask 3 star).
  { split; [intros i j _ _; unfold star; destruct orb; lra|]. intros i Hi. exists 0%nat. split; [lia|]. unfold star.
    cbn [Nat.eqb]. rewrite Bool.orb_true_r. lra. }
  assert (U : forall i b, (i < 3)%nat -> (b < 3)%nat -> Ux 3 3 star_logits eye star eye i b = Ex 3 star_logits star eye
    i b).
  { intros i b Hi Hb. unfold Ux. rewrite (sum_ext 3 _ (fun j => Ex 3 star_logits star eye i j * eye j b)).
    - now rewrite (sum_eye_r 3 (fun j => Ex 3 star_logits star eye i j) b Hb).
    - intros j Hj. unfold vmat. now rewrite (sum_eye_l 3 (fun a => eye a b) j Hj). }
  assert (Reach : forall c, (c < 3)%nat -> centre 3 star c 2).
  { intros c Hc. split; [exact Hc|]. intros i Hi. destruct (Nat.eq_dec i c) as [->|]; [exists 0%nat; split;
      [lia|reflexivity]|].
    exists 2%nat. split; [lia|]. simpl. exists 0%nat. split; [lia|].
    split; [unfold star; cbn [Nat.eqb]; rewrite Bool.orb_true_r; lra|].
    exists c. split; [exact Hc|]. split; [|reflexivity]. unfold star. cbn [Nat.eqb orb]. lra. }
  assert (Row : forall i, (i < 3)%nat -> sum 3 (Ex 3 star_logits star eye i) = match i with O => 3 | _ => 4 end).
  { intros i Hi. cbn [sum]. rewrite !star_E by lia. destruct i as [|[|[|i]]]; try lia; lra. }
  specialize (H 3%nat 3%nat star_logits eye star 0%nat 1%nat (1/4) 0 eye ltac:(lia) ltac:(lia)).
  assert (Bad : 1 - dot 3 (sphere_map 3 3 star_logits eye star eye 1%nat) (sphere_map 3 3 star_logits eye star eye
    2%nat) = 9/10).
  { assert (L : forall i, (i = 1 \/ i = 2)%nat -> l2 3 (Ux 3 3 star_logits eye star eye i) = sqrt 10).
    { intros i Hi. unfold l2, dot. cbn [sum]. rewrite !U by lia. rewrite !star_E by lia. f_equal.
      destruct Hi as [->| ->]; ring. }
    unfold dot. cbn [sum]. rewrite !sphere_form by (auto; lia). rewrite !L, !U by lia. rewrite !star_E by lia.
    assert (S : sqrt 10 * sqrt 10 = 10) by (apply sqrt_sqrt; lra). assert (P : 0 < sqrt 10) by (apply sqrt_lt_R0; lra).
    replace (0 + 1 / sqrt 10 * (1 / sqrt 10) + 3 / sqrt 10 * (0 / sqrt 10) + 0 / sqrt 10 * (3 / sqrt 10)) with (/ (sqrt
      10 * sqrt 10)) by (field; lra).
    rewrite S. lra. }
  assert (Le : 1 - dot 3 (sphere_map 3 3 star_logits eye star eye 1%nat) (sphere_map 3 3 star_logits eye star eye
    2%nat) <= (1 - 3 * (1/4) ^ 2) * (1 - 0)).
  { replace 3 with (INR 3) by (simpl; lra). change 2%nat with (2 * 1)%nat at 3. apply H; try lra; try lia.
    - simpl. lra.
    - intros i j _ _. unfold star. destruct orb; auto.
    - intros i _. unfold star. rewrite Nat.eqb_refl, !Bool.orb_true_r. reflexivity.
    - split; [lia|]. intros i Hi. exists 1%nat. split; [lia|]. simpl. exists 0%nat. split; [lia|].
      split; [|reflexivity].
      unfold star. cbn [Nat.eqb]. rewrite Bool.orb_true_r. lra.
    - intros c Hc. exists 2%nat. now apply Reach.
    - intros a b Ha Hb. unfold dot. apply (sum_eye_l 3 (fun k => eye b k)) in Ha. rewrite Ha. apply eye_sym.
    - intros i Hi. unfold l2, dot. rewrite (sum_eye_l 3 (fun k => eye i k) i Hi), eye_same. apply sqrt_1.
    - intros i k Hi Hk. unfold dot. rewrite (sum_eye_l 3 (fun a => eye k a) i Hi). unfold eye. destruct Nat.eqb; lra.
    - intros s i j Hs Hi Hj Gij. replace s with 0%nat by lia. simpl Nat.iter.
      assert (E : attn 3 3 3 (hd (onehead 3 star_logits eye star) 0) eye i j = Ex 3 star_logits star eye i j / sum 3
        (Ex 3 star_logits star eye i)).
      { unfold attn, softmax, tilt. rewrite logit_onehead by lia. unfold Ex. cbn [onehead hd mask].
        apply (f_equal2 Rdiv); [reflexivity|].
        apply sum_ext; intros k _. change {| WQ := fun a c => sqrt (INR 3) * star_logits a c; WK := eye;
          bQ := fun _ => 0; bK := fun _ => 0; WV := eye; mask := star |} with (hd (onehead 3 star_logits eye star) 0).
        now rewrite logit_onehead by lia. }
      rewrite E, Row, star_E by assumption. revert Gij. unfold star.
      destruct i as [|[|[|i]]]; try lia; destruct j as [|[|[|j]]]; try lia; cbn [Nat.eqb orb]; intros; lra. }
  lra.
Qed.
