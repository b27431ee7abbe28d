(** wu2024:1 and wu2024:1-doeblin.  Masked attention collapses exponentially.

    One head, no skip connection, any mask in which every token sees itself and some token (a centre)
    reaches every token within r edges.  If A_ij(s) >= eps on the edges for all s < t, then
        mu(X(t)) <= sqrt(n/2) ||W(0)...W(t-1)||_2 (1 - eps^r)^(t/r) mu(X(0)),
    t/r rounded down; the spectral norm enters through any K with ||v W(0)...W(t-1)|| <= K ||v||.
    If a token sees at most Delta keys and the logits it compares differ by at most 2c, eps may be
    1/(1 + (Delta-1) e^{2c}).
    Doeblin's form: for any mask and any division of the times into m intervals, the product of the
    1 - sum_c min_i (B_k)_ic over the intervals, B_k the product of the attention matrices of
    interval k, may stand in place of (1 - eps^r)^(t/r). *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms Softmax Masks.
Local Open Scope R_scope.

Lemma orbit_step n d Ly X s i a : nheads (Ly s) = 1%nat ->
  plain_orbit n d Ly X (S s) i a
  = vmat d (vmat n (plain_attention n d Ly X s i) (plain_orbit n d Ly X s)) (layer_value Ly s) a + bout (Ly s) a.
Proof.
  intros H. unfold plain_orbit. simpl. unfold block_map. cbn [plain tok skip att]. unfold SA. rewrite H.
  cbn [sum]. unfold plain_attention, layer_value, plain_orbit. ring.
Qed.

Theorem masked_collapse n d (Ly : nat -> layer) (G : mat) c r eps K t X :
  (0 < n)%nat -> (0 < r)%nat -> 0 <= eps -> 0 <= K ->
  (forall s, (s < t)%nat -> nheads (Ly s) = 1%nat /\ mask (hd (Ly s) 0) = G) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j) ->
  (forall i, (i < n)%nat -> 0 < G i i) ->
  centre n G c r ->
  (forall s i j, (s < t)%nat -> (i < n)%nat -> (j < n)%nat -> 0 < G i j -> eps <= plain_attention n d Ly X s i j) ->
  (forall v, l2 d (vmat d v (values d (layer_value Ly) t)) <= K * l2 d v) ->
  mu n d (plain_orbit n d Ly X t) <= sqrt (INR n / 2) * K * (1 - eps ^ r) ^ (t / r) * mu n d X.
Proof.
  intros Hn Hr E0 K0 HL G0 G1 Hc HA HK.
  assert (St : forall s, (s < t)%nat -> row_stochastic n n (plain_attention n d Ly X s)).
  { intros s Hs. apply attn_stochastic. destruct (HL s Hs) as [_ ->]. split; [exact G0|]. intros i Hi. exists i. auto. }
  assert (E1 : (0 < t)%nat -> eps <= 1).
  { intros Ht. destruct (St 0%nat Ht) as [P0 P1]. destruct Hc as [Hc _]. rewrite <- (P1 c Hc).
    eapply Rle_trans; [apply (HA 0%nat c c); auto|]. apply (sum_term_le n (plain_attention n d Ly X 0 c) c); auto. }
  change X with (plain_orbit n d Ly X 0) at 2.
  apply (mu_contracts n d (plain_attention n d Ly X) (layer_value Ly) (fun s => bout (Ly s)) (plain_orbit n d Ly X) t K
    _ Hn K0); auto.
  - destruct t as [|t]; [rewrite Nat.div_0_l by lia; simpl; lra|]. apply pow_le.
    assert (eps ^ r <= 1) by (rewrite <- (pow1 r); apply pow_incr; specialize (E1 ltac:(lia)); lra). lra.
  - intros s i a Hs _ _. apply orbit_step. now apply HL.
  - destruct t as [|t].
    + rewrite Nat.div_0_l by lia. simpl. apply contracts_stochastic, eye_stochastic.
    + apply (contracts_power n _ G c); auto. specialize (E1 ltac:(lia)). lra.
Qed.

(** The smallest weight of a softmax over at most Delta keys whose logits differ by at most 2c. *)
Lemma softmax_floor n (m l : vec) (Delta : nat) c j :
  (forall k, (k < n)%nat -> m k = 0 \/ m k = 1) -> (j < n)%nat -> m j = 1 -> sum n m <= INR Delta ->
  (forall k, (k < n)%nat -> m k = 1 -> l k - l j <= 2 * c) -> 0 <= c ->
  1 / (1 + (INR Delta - 1) * exp (2 * c)) <= softmax n m l j.
Proof.
  intros Hm Hj Mj HD Hl Hc. unfold softmax, tilt. rewrite Mj, Rmult_1_l.
  assert (Ej := exp_pos (l j)). assert (E2 := exp_ge1 (2 * c) ltac:(lra)).
  assert (m0 : forall k, (k < n)%nat -> 0 <= m k) by (intros k Hk; destruct (Hm k Hk); lra).
  assert (Dj : 1 <= sum n m) by (rewrite <- Mj; now apply sum_term_le).
  set (Z := sum n (fun k => m k * exp (l k))).
  (* Z <= e^{l_j} (1 + (Delta - 1) e^{2c}): the term j apart, every other one at most e^{l_j + 2c} *)
  assert (U : Z <= exp (l j) * (1 + (INR Delta - 1) * exp (2 * c))).
  { assert (T : sum n (fun k => m k * exp (l k) - (if Nat.eqb k j then exp (l j) else 0))
              <= sum n (fun k => (m k - (if Nat.eqb k j then 1 else 0)) * (exp (l j) * exp (2 * c)))).
    { apply sum_le; intros k Hk. destruct (Nat.eqb_spec k j) as [->|Hne]; [rewrite Mj; lra|]. rewrite !Rminus_0_r.
      destruct (Hm k Hk) as [E|E]; rewrite E; [lra|]. rewrite !Rmult_1_l, <- exp_plus. apply exp_le.
      specialize (Hl k Hk E). lra. }
    rewrite sum_minus, sum_scal_r, sum_minus in T. fold Z in T.
    rewrite (sum_single n (fun k => if Nat.eqb k j then exp (l j) else 0) j Hj) in T by (intros k _ Hk;
      destruct (Nat.eqb_spec k j); [lia|reflexivity]).
    rewrite (sum_single n (fun k => if Nat.eqb k j then 1 else 0) j Hj) in T by (intros k _ Hk;
      destruct (Nat.eqb_spec k j); [lia|reflexivity]).
    rewrite Nat.eqb_refl in T.
    assert ((sum n m - 1) * (exp (l j) * exp (2 * c)) <= (INR Delta - 1) * (exp (l j) * exp (2 * c)))
      by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]). lra. }
  assert (P : 0 < 1 + (INR Delta - 1) * exp (2 * c)) by (assert (0 <= (INR Delta - 1) * exp (2 * c)) by (apply
    Rmult_le_pos; lra); lra).
  assert (ZP : 0 < Z).
  { apply Rlt_le_trans with (m j * exp (l j)); [rewrite Mj; lra|].
    apply (sum_term_le n (fun k => m k * exp (l k)) j); [|exact Hj]. intros k Hk.
    apply Rmult_le_pos; [now apply m0|left; apply exp_pos]. }
  apply Rmult_le_reg_r with (Z * (1 + (INR Delta - 1) * exp (2 * c))); [now apply Rmult_lt_0_compat|].
  field_simplify; lra.
Qed.

Theorem masked_collapse_explicit n d (Ly : nat -> layer) (G : mat) z r (Delta : nat) c K t X :
  (0 < n)%nat -> (0 < r)%nat -> 0 <= c -> 0 <= K ->
  (forall s, (s < t)%nat -> nheads (Ly s) = 1%nat /\ mask (hd (Ly s) 0) = G) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> G i j = 0 \/ G i j = 1) ->
  (forall i, (i < n)%nat -> G i i = 1) -> (forall i, (i < n)%nat -> sum n (G i) <= INR Delta) ->
  centre n G z r ->
  (forall s i j k, (s < t)%nat -> (i < n)%nat -> (j < n)%nat -> (k < n)%nat -> G i j = 1 -> G i k = 1 ->
     logit d (dqk (Ly s)) (hd (Ly s) 0) (plain_orbit n d Ly X s) i k
     - logit d (dqk (Ly s)) (hd (Ly s) 0) (plain_orbit n d Ly X s) i j <= 2 * c) ->
  (forall v, l2 d (vmat d v (values d (layer_value Ly) t)) <= K * l2 d v) ->
  mu n d (plain_orbit n d Ly X t)
  <= sqrt (INR n / 2) * K * (1 - (1 / (1 + (INR Delta - 1) * exp (2 * c))) ^ r) ^ (t / r) * mu n d X.
Proof.
  intros Hn Hr Hc K0 HL G0 G1 GD Hz HA HK.
  apply (masked_collapse n d Ly G z r); auto.
  - assert (1 <= INR Delta).
    { eapply Rle_trans; [|apply (GD 0%nat Hn)]. rewrite <- (G1 0%nat Hn).
      apply (sum_term_le n (G 0%nat) 0%nat); [|exact Hn].
      intros j Hj. destruct (G0 0%nat j Hn Hj); lra. }
    left. apply Rdiv_lt_0_compat; [lra|]. assert (0 <= (INR Delta - 1) * exp (2 * c)) by (apply Rmult_le_pos;
      [lra|left; apply exp_pos]). lra.
  - intros i j Hi Hj. destruct (G0 i j Hi Hj); lra.
  - intros i Hi. rewrite (G1 i Hi). lra.
  - intros s i j Hs Hi Hj Gp. assert (Gj : G i j = 1) by (destruct (G0 i j Hi Hj); lra).
    unfold plain_attention, attn. destruct (HL s Hs) as [_ ->]. apply softmax_floor; auto.
Qed.

Theorem masked_collapse_doeblin n d (Ly : nat -> layer) K m (T : nat -> nat) X :
  (0 < n)%nat -> 0 <= K -> T 0%nat = 0%nat -> (forall k, (k < m)%nat -> (T k <= T (S k))%nat) ->
  (forall s, (s < T m)%nat -> nheads (Ly s) = 1%nat /\ proper_mask n (mask (hd (Ly s) 0))) ->
  (forall v, l2 d (vmat d v (values d (layer_value Ly) (T m))) <= K * l2 d v) ->
  mu n d (plain_orbit n d Ly X (T m)) <= sqrt (INR n / 2) * K
    * prodf m (fun k => 1 - doeblin n (steps n (plain_attention n d Ly X) (T k) (T (S k) - T k))) * mu n d X.
Proof.
  intros Hn K0 T0 TS HL HK.
  assert (St : forall s, (s < T m)%nat -> row_stochastic n n (plain_attention n d Ly X s)).
  { intros s Hs. apply attn_stochastic. now apply HL. }
  assert (TM : forall j k, (j <= k)%nat -> (k <= m)%nat -> (T j <= T k)%nat).
  { intros j k H. induction H as [|k H IH]; intros Hk; [lia|]. specialize (TS k ltac:(lia)).
    specialize (IH ltac:(lia)). lia. }
  assert (P : forall k, (k <= m)%nat ->
    contracts n (steps n (plain_attention n d Ly X) 0 (T k)) (prodf k (fun k => 1 - doeblin n (steps n (plain_attention
      n d Ly X) (T k) (T (S k) - T k)))) /\
    0 <= prodf k (fun k => 1 - doeblin n (steps n (plain_attention n d Ly X) (T k) (T (S k) - T k)))).
  { induction k; intros Hk.
    - rewrite T0. simpl. split; [|lra]. replace 1 with (1 - sum n (fun _ => 0)) by (rewrite sum_zero; ring).
      apply contracts_doeblin; [apply eye_stochastic|]. intros. destruct (eye_stochastic n); auto.
    - destruct IHk as [C C0]; [lia|]. simpl. set (B := steps n (plain_attention n d Ly X) (T k) (T (S k) - T k)).
      assert (SB : row_stochastic n n B).
      { apply (steps_stochastic n _ (T k) (T (S k))); [|specialize (TS k ltac:(lia)); lia].
        intros u Hu. apply St. specialize (TM (S k) m ltac:(lia) ltac:(lia)). lia. }
      assert (Mn : forall i c, (i < n)%nat -> (c < n)%nat -> minf (n - 1) (fun i => B i c) <= B i c)
        by (intros i c Hi Hcn; apply (minf_le (n - 1) (fun i => B i c)); lia).
      assert (D1 : doeblin n B <= 1).
      { destruct SB as [_ B1]. rewrite <- (B1 0%nat Hn). apply sum_le; intros; now apply Mn. }
      split; [|apply Rmult_le_pos; lra]. rewrite Rmult_comm.
      apply (contracts_ext n (mmul n (steps n (plain_attention n d Ly X) (0 + T k) (T (S k) - T k)) (steps n
        (plain_attention n d Ly X) 0 (T k)))).
      + intros i j Hi Hj. rewrite steps_split by assumption. f_equal. specialize (TS k ltac:(lia)). lia.
      + apply contracts_mul; [exact C0| |exact C]. simpl. fold B.
        now apply (contracts_doeblin n B (fun c => minf (n - 1) (fun i => B i c))). }
  destruct (P m (le_n m)) as [C C0].
  change X with (plain_orbit n d Ly X 0) at 3.
  apply (mu_contracts n d (plain_attention n d Ly X) (layer_value Ly) (fun s => bout (Ly s)) (plain_orbit n d Ly X) (T
    m) K _ Hn K0); auto.
  intros s i a Hs _ _. apply orbit_step. now apply HL.
Qed.
