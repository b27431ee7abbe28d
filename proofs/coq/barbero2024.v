(** own:repeat, own:influence, folk:influence, barbero2024:4.2.  What each is stands before its theorems. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms seed_closure Softmax own_tv SphereLayer own_order
    own_lipschitz.
Local Open Scope R_scope.

(** own:influence.  One causal layer of one head, no query bias (a key bias does not change attention),
  with a skip of any factor lambda: the derivative of the last token in token k has
    a spectral norm of at most |W| (1 + a R Delta) P_(last, k), and |lambda| + |W| a Delta^2/4 more for k = last;
      a = |W_QK|/sqrt d_qk, R the largest norm of a token, Delta their diameter  [influence]. *)

(** Token k moves by v, the others rest. *)
Definition only (k : nat) (v : vec) : mat := fun j a => eye k j * v a.

Theorem influence n d (Ly : layer) lam (X : mat) w mq k (v : vec) : (k < n)%nat -> (0 < dqk Ly)%nat ->
  nheads Ly = 1%nat -> mask (hd Ly 0) = causal -> (forall c, bQ (hd Ly 0) c = 0) ->
  0 <= w -> (forall u, l2 d (vmat d u (WV (hd Ly 0))) <= w * l2 d u) -> 0 <= mq ->
    (forall u y, Rabs (bil d u (WQK (dqk Ly) (hd Ly 0)) y) <= mq * l2 d u * l2 d y) ->
  let last := (n - 1)%nat in let B := {| att := Ly; skip := lam; tok := fun u => u |} in
  let a := mq / sqrt (INR (dqk Ly)) in let R := rowmax n (l2 d) X in let D := diam n (l2 d) X in let P := attn n d (dqk
    Ly) (hd Ly 0) X in
  exists g : vec, (forall b, (b < d)%nat -> is_derive (fun t => block_map n d B (moved X (only k v) t) last b) 0 (g b))
    /\
    l2 d g <= (w * (1 + a * R * D) * P last k + eye k last * (Rabs lam + w * a * D ^ 2 / 4)) * l2 d v.
Proof.
  intros Hk Hd H1 Mc Hb w0 Hw mq0 Hm e B a R D P. set (h := hd Ly 0) in *.
  assert (He : (e < n)%nat) by (unfold e; lia). assert (D0 : 0 <= D) by apply diam_nonneg. set (H := only k v).
  assert (Wt : weights n (mask h e)) by (rewrite Mc; split; [intros; unfold causal; destruct Nat.leb; lra|exists e;
    split; [exact He|unfold causal; rewrite Nat.leb_refl; lra]]).
  assert (HD : forall j l, (j < n)%nat -> (l < n)%nat -> l2 d (vsub (X j) (X l)) <= D) by (intros; now apply diam_ub).
  destruct (p_prob n d (dqk Ly) h X e Wt) as [p0 p1]. fold P in p0, p1. set (p := P e) in *.
  set (s := sqrt (INR (dqk Ly))) in *. assert (sp : 0 < s) by (now apply sqrt_dqk_pos).
  assert (a0 : 0 <= a) by (unfold a, Rdiv; apply Rmult_le_pos; [exact mq0|left; now apply Rinv_0_lt_compat]).
  set (K := fun b => avg n p (fun j => H j b) + cov n p (from_key d (dqk Ly) h X H e) (fun j => X j b)).
  set (Q := fun b => cov n p (from_query d (dqk Ly) h X H e) (fun j => X j b)).
  set (M := fun b => K b + Q b). exists (fun b => lam * (eye k e * v b) + vmat d M (WV h) b). split.
  - intros b _. apply (is_derive_ext (fun t => lam * (X e b + t * H e b) + (vmat d (vmat n (attn n d (dqk Ly) h (moved
      X H t) e) (moved X H t)) (WV h) b + bout Ly b))).
    { intro t. unfold block_map, B, SA. cbn [tok skip att]. rewrite H1. cbn [sum]. fold h. unfold moved at 3. fold H.
      now rewrite Rplus_0_l. }
    apply (is_derive_plus (K := R_AbsRing) (V := R_NormedModule) (fun t => lam * (X e b + t * H e b))); [auto_derive;
      [exact I|unfold H, only; ring]|].
    apply (value_derivative d (fun c t => vmat n (attn n d (dqk Ly) h (moved X H t) e) (moved X H t) c) M). intro c.
    apply (row_derivative n d (dqk Ly) h X H e Hd Wt Hb c).
  - set (nv := l2 d v). assert (nv0 : 0 <= nv) by apply sqrt_pos.
    assert (e01 : 0 <= eye k e) by (unfold eye; destruct Nat.eqb; lra). assert (R0 : 0 <= R) by apply maxf_pos.
    assert (BQ : l2 d Q <= a * D ^ 2 / 4 * (eye k e * nv)).
    { eapply Rle_trans; [apply (query_part n d (dqk Ly) h X H e Hd Wt mq D mq0 Hm D0 HD)|right]. fold s a. f_equal.
      change (L2 d (fun b => eye k e * v b) = eye k e * nv). rewrite (sn_scal (L2 d)), Rabs_right by lra. reflexivity. }
    set (z := bil d (X e) (WQK (dqk Ly) h) v / s).
    assert (Fk : forall j, from_key d (dqk Ly) h X H e j = eye k j * z) by (intro j; unfold from_key, z, H, only;
      fold s; rewrite !bil_dot; unfold dot, Rdiv; rewrite <- Rmult_assoc, <- sum_scal; f_equal; apply sum_ext; intros;
        ring).
    assert (KE : forall b, K b = p k * (v b + z * sum n (fun j => p j * (X k b - X j b)))).
    { intro b. unfold K, cov, avg, H, only. rewrite (sum_ext n (fun j => p j * (eye k j * v b)) (fun j => eye k j * (p
        j * v b))), (sum_ext n (fun j => p j * (from_key d (dqk Ly) h X (fun j a => eye k j * v a) e j * X j b)) (fun j
          => eye k j * (p j * (z * X j b)))),
        (sum_ext n (fun j => p j * from_key d (dqk Ly) h X (fun j a => eye k j * v a) e j) (fun j => eye k j * (p j *
          z))), (sum_ext n (fun j => p j * (X k b - X j b)) (fun j => X k b * p j - p j * X j b)) by (intros;
            change (fun j a => eye k j * v a) with H; rewrite ?Fk; ring).
      rewrite (sum_eye n k (fun j => p j * v b) Hk), (sum_eye n k (fun j => p j * (z * X j b)) Hk),
        (sum_eye n k (fun j => p j * z) Hk), sum_minus, sum_scal, p1. ring. }
    assert (Zb : Rabs z <= a * R * nv).
    { unfold z, Rdiv. rewrite Rabs_mult, (Rabs_right (/ s)) by (left; now apply Rinv_0_lt_compat).
      replace (a * R * nv) with (mq * R * nv * / s) by (unfold a; field; lra).
      apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
      eapply Rle_trans; [apply Hm|]. apply Rmult_le_compat_r; [exact nv0|]. apply Rmult_le_compat_l; [exact mq0|].
      apply (maxf_ub n (fun i => l2 d (X i)) e He). }
    assert (BK : l2 d K <= p k * ((1 + a * R * D) * nv)).
    { change (L2 d K <= p k * ((1 + a * R * D) * nv)). rewrite (sn_ext (L2 d) K (fun b => p k * (v b + z * sum n (fun j
        => p j * (X k b - X j b))))) by exact KE. rewrite (sn_scal (L2 d)), Rabs_right by (apply Rle_ge; now apply p0).
        apply Rmult_le_compat_l; [now apply p0|].
      eapply Rle_trans; [apply (sn_add (L2 d))|]. rewrite (sn_scal (L2 d) z).
      change (nv + Rabs z * L2 d (fun b => sum n (fun j => p j * (X k b - X j b))) <= (1 + a * R * D) * nv).
      assert (S : L2 d (fun b => sum n (fun j => p j * (X k b - X j b))) <= D).
      { eapply Rle_trans; [apply (sn_sum (L2 d) n p (fun j => vsub (X k) (X j)))|].
        rewrite <- (Rmult_1_l D), <- p1, <- sum_scal_r. apply sum_le; intros j Hj.
        rewrite Rabs_right by (apply Rle_ge; now apply p0). apply Rmult_le_compat_l; [now apply p0|now apply HD]. }
      assert (Rabs z * L2 d (fun b => sum n (fun j => p j * (X k b - X j b))) <= a * R * nv * D) by (apply
        Rmult_le_compat; [apply Rabs_pos|apply sn_pos|exact Zb|exact S]). lra. }
    change (L2 d (fun b => lam * (eye k e * v b) + vmat d M (WV h) b) <= (w * (1 + a * R * D) * p k + eye k e * (Rabs
      lam + w * a * D ^ 2 / 4)) * nv).
    eapply Rle_trans; [apply (sn_add (L2 d) (fun b => lam * (eye k e * v b)))|].
    rewrite (sn_scal (L2 d) lam), (sn_scal (L2 d) (eye k e)), (Rabs_right (eye k e)) by lra. change (L2 d v) with nv.
    assert (BM : l2 d M <= p k * ((1 + a * R * D) * nv) + a * D ^ 2 / 4 * (eye k e * nv)) by (eapply Rle_trans;
      [apply (sn_add (L2 d) K Q)|]; now apply Rplus_le_compat).
    apply (Rmult_le_compat_l w) in BM; [|exact w0]. assert (BW : L2 d (fun b => vmat d M (WV h) b) <= w * (p k * ((1 +
      a * R * D) * nv) + a * D ^ 2 / 4 * (eye k e * nv))) by (eapply Rle_trans; [apply (Hw M)|exact BM]).
    eapply Rle_trans; [apply Rplus_le_compat_l, BW|right]. field.
Qed.

(** own:repeat.  One causal layer of one head, without a skip: the last token of an input,
  and the last token of the input in which it is repeated, differ after the layer by at most
    |W| Delta p (1 - p)/(1 + p) <= (3 - 2 sqrt 2) |W| Delta, p what the last token attends to itself,
      Delta the diameter of the tokens  [repeat_last]. *)

(** The tokens 0, ..., n-1, and the last one once more. *)
Definition repeated (n : nat) (X : mat) : mat := fun i => X (Nat.min i (n - 1)).

Theorem repeat_last n d (Ly : layer) (X : mat) w : (0 < n)%nat -> nheads Ly = 1%nat -> mask (hd Ly 0) = causal ->
  (forall v, l2 d (vmat d v (WV (hd Ly 0))) <= w * l2 d v) -> 0 <= w ->
  let p := attn n d (dqk Ly) (hd Ly 0) X (n - 1)%nat (n - 1)%nat in let gap := l2 d (vsub (SA n d Ly X (n - 1)%nat) (SA
    (n + 1) d Ly (repeated n X) n)) in
  gap <= w * diam n (l2 d) X * p * (1 - p) / (1 + p) /\ gap <= (3 - 2 * sqrt 2) * w * diam n (l2 d) X.
Proof.
  intros Hn H1 Mc Hw w0 p gap. set (h := hd Ly 0) in *. set (e := (n - 1)%nat) in *.
  assert (En : (e < n)%nat) by (unfold e; lia). set (D := diam n (l2 d) X). assert (D0 : 0 <= D) by apply diam_nonneg.
  set (P := attn n d (dqk Ly) h X e). set (P' := attn (n + 1) d (dqk Ly) h (repeated n X) n).
  set (g := logit d (dqk Ly) h X e). change p with (P e) in *. clear p.
  assert (Ca : forall j, (j < n)%nat -> causal e j = 1) by (intros j Hj; unfold causal; destruct (Nat.leb_spec j e);
    [reflexivity|unfold e in *; lia]).
  assert (W : weights n (causal e)) by (split; [intros; unfold causal; destruct Nat.leb; lra|exists e;
    rewrite Ca by exact En; split; [exact En|lra]]).
  assert (P0 : forall j, (j < n)%nat -> 0 <= P j) by (intros j Hj; unfold P, attn; rewrite Mc; now apply tilt_nonneg).
  assert (P1 : sum n P = 1) by (unfold P, attn; rewrite Mc; now apply tilt_sum).
  set (Z := sum n (fun k => causal e k * exp (g k))). assert (Zp : 0 < Z) by (apply (tilt_Z_pos n (causal e) W)).
  assert (PE : forall j, (j < n)%nat -> P j = exp (g j) / Z) by (intros j Hj; unfold P, attn, softmax, tilt;
    rewrite Mc, Ca by exact Hj; fold g; fold Z; now rewrite Rmult_1_l).
  assert (Pp : 0 < P e) by (rewrite PE by exact En; apply Rmult_lt_0_compat;
    [apply exp_pos|now apply Rinv_0_lt_compat]).
  assert (Pl : P e <= 1) by (rewrite <- P1; now apply (sum_term_le n P e P0)).
  (* the repeated token has the same logits, and one key more *)
  assert (Lo : forall j, (j <= n)%nat -> logit d (dqk Ly) h (repeated n X) n j = g (Nat.min j e)).
  { intros j Hj. unfold g, logit, repeated. fold e. now rewrite (Nat.min_r n e) by (unfold e; lia). }
  assert (Cn : forall j, (j <= n)%nat -> causal n j = 1) by (intros j Hj; unfold causal; destruct (Nat.leb_spec j n);
    [reflexivity|lia]).
  assert (Z' : sum (n + 1) (fun k => causal n k * exp (logit d (dqk Ly) h (repeated n X) n k)) = Z * (1 + P e)).
  { rewrite Nat.add_1_r. cbn [sum]. rewrite Cn, Lo, Nat.min_r by (unfold e; lia).
    rewrite (sum_ext n _ (fun k => causal e k * exp (g k))).
    - fold Z. rewrite PE by exact En. field. lra.
    - intros k Hk. rewrite Cn, Ca, Lo, Nat.min_l by (unfold e; lia). reflexivity. }
  assert (PE' : forall j, (j <= n)%nat -> P' j = P (Nat.min j e) / (1 + P e)).
  { intros j Hj. unfold P', attn, softmax, tilt. rewrite Mc, Z', Cn, Lo by exact Hj.
    rewrite (PE (Nat.min j e)) by (unfold e; lia). assert (0 < 1 + P e) by lra. field. split; lra. }
  (* it moves by p/(1+p) sum_j P_j (x_j - x_last) W *)
  assert (Mix : forall a, vmat n P X a - vmat (n + 1) P' (repeated n X) a = P e / (1 + P e) * sum n (fun j => P j * (X
    j a - X e a))).
  { intro a. unfold vmat. rewrite Nat.add_1_r. cbn [sum]. rewrite PE' by lia. unfold repeated at 2. fold e.
    rewrite (Nat.min_r n e) by (unfold e; lia).
    rewrite (sum_ext n (fun j => P' j * repeated n X j a) (fun j => / (1 + P e) * (P j * X j a))) by (intros j Hj;
      unfold repeated; fold e; rewrite PE', Nat.min_l by (unfold e; lia); field; lra).
    rewrite sum_scal, (sum_ext n (fun j => P j * (X j a - X e a)) (fun j => P j * X j a - P j * X e a)) by (intros;
      ring). rewrite sum_minus, sum_scal_r.
    change (sum n (fun j => P j)) with (sum n P). rewrite P1. field. lra. }
  set (v := fun a => P e / (1 + P e) * sum n (fun j => P j * (X j a - X e a))).
  assert (G1 : gap <= w * l2 d v).
  { eapply Rle_trans; [right|apply Hw]. unfold gap. apply (sn_ext (L2 d)). intro b. unfold vsub, SA. rewrite H1.
    cbn [sum]. fold h. fold P. fold P'.
    replace (vmat d v (WV h) b) with (vmat d (vmat n P X) (WV h) b - vmat d (vmat (n + 1) P' (repeated n X)) (WV h) b);
      [ring|]. rewrite vmat_sub. apply vmat_ext. intros a _. unfold vsub, v. apply Mix. }
  assert (C0 : 0 < P e / (1 + P e)) by (apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]).
  assert (G2 : l2 d v <= P e / (1 + P e) * ((1 - P e) * D)).
  { change (L2 d v <= P e / (1 + P e) * ((1 - P e) * D)). unfold v. rewrite (sn_scal (L2 d)), Rabs_right by lra.
    apply Rmult_le_compat_l; [lra|].
    eapply Rle_trans; [apply (sn_sum (L2 d) n P (fun j => vsub (X j) (X e)))|].
    apply Rle_trans with (sum n (fun j => P j * D - eye e j * (P j * D))).
    - apply sum_le; intros j Hj. specialize (P0 j Hj). rewrite Rabs_right by lra. unfold eye.
      destruct (Nat.eqb_spec e j) as [<-|_]; [rewrite (sn_self (L2 d)); lra|].
      assert (Q := diam_ub n (l2 d) X j e Hj En). fold D in Q.
      change (L2 d (vsub (X j) (X e))) with (l2 d (vsub (X j) (X e))).
      assert (P j * l2 d (vsub (X j) (X e)) <= P j * D) by (now apply Rmult_le_compat_l). lra.
    - rewrite sum_minus, (sum_eye n e (fun j => P j * D) En), sum_scal_r. change (sum n (fun j => P j)) with (sum n P).
      rewrite P1. lra. }
  assert (G3 : gap <= w * D * (P e * (1 - P e) / (1 + P e))).
  { eapply Rle_trans; [exact G1|]. replace (w * D * (P e * (1 - P e) / (1 + P e))) with (w * (P e / (1 + P e) * ((1 - P
      e) * D))) by (field; lra). now apply Rmult_le_compat_l. }
  split; [eapply Rle_trans; [exact G3|right; field; lra]|]. eapply Rle_trans; [exact G3|].
  rewrite (Rmult_comm _ (P e * (1 - P e) / (1 + P e))), Rmult_assoc. apply Rmult_le_compat_r; [now apply Rmult_le_pos|].
  apply Rmult_le_reg_r with (1 + P e); [lra|]. replace (P e * (1 - P e) / (1 + P e) * (1 + P e)) with (P e * (1 - P e))
    by (field; lra).
  assert (S2 : sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra). assert (Sq := Rle_0_sqr (P e - (sqrt 2 - 1))).
  unfold Rsqr in Sq. nra.
Qed.

(** barbero2024:4.2, as we read it, with an explicit bound.  A causal network with skips of a factor s and biases;
  the input X of n tokens, and X' = X with its last token once more.  The last tokens of the
    two, x after l layers and x*, are at a distance of at most b_l,
      where b_0 = 0 and b_(l+1) = b_l (|s| + sum_h w_h m_h Delta_l^2/(4 sqrt d_qk)) + rho_l sum_h w_h p_(l,h): w_h,
        m_h bound
    the norms of W and W_QK, Delta_l is the diameter, p_(l,h) what x* attends to itself,
      rho_l its largest distance from a token  [repeat_gap]. *)

Section Repeat.
Variables (n d : nat) (N : seminorm) (s : R) (Ly : nat -> layer) (w m : nat -> nat -> R) (X : mat).
Hypothesis causal_masks : forall l h, mask (hd (Ly l) h) = causal.
Hypothesis bounds : forall l, layer_bounds d N (Ly l) (w l) (m l).
Let B (l : nat) : block := {| att := Ly l; skip := s; tok := fun v => v |}.
(** The input with its last token once more, both after l layers, and the repeated token. *)
Let X' : mat := fun i => if Nat.ltb i (S n) then X i else X n.
Let Y (l : nat) : mat := net (S n) d B l X.
Let Y' (l : nat) : mat := net (S (S n)) d B l X'.
Let star (l : nat) : vec := Y' l (S n).
(** What it attends to itself, and its largest distance from a token. *)
Definition repeat_share (l h : nat) : R := attn (S (S n)) d (dqk (Ly l)) (hd (Ly l) h) (Y' l) (S n) (S n).
Definition repeat_reach (l : nat) : R := maxf (S n) (fun i => N (vsub (star l) (Y l i))).
Fixpoint gap_bound (l : nat) : R := match l with
  | O => 0
  | S k => gap_bound k * (Rabs s + sum (nheads (Ly k)) (fun h => w k h * m k h) * diam (S n) N (Y k) ^ 2 / (4 * sqrt
    (INR (dqk (Ly k)))))
           + sum (nheads (Ly k)) (fun h => w k h * repeat_share k h) * repeat_reach k end.

Lemma logit_rows dq h Z Z' i j i' j' : (forall a, Z i a = Z' i' a) -> (forall a, Z j a = Z' j' a) ->
  logit d dq h Z i j = logit d dq h Z' i' j'.
Proof. intros E E'. unfold logit. f_equal. apply sum_ext; intros c _. unfold vmat.
rewrite (sum_ext d _ (fun a => Z' i' a * WQ h a c)) by (intros; now rewrite E). f_equal. f_equal.
apply sum_ext; intros; now rewrite E'. Qed.

(** The tokens before do not see it. *)
Lemma unseen l : forall i a, (i <= n)%nat -> Y' l i a = Y l i a.
Proof.
  induction l as [|l IH]; intros i a Hi.
  - unfold Y', Y, X'. cbn [net]. destruct (Nat.ltb_spec i (S n)); [reflexivity|lia].
  - unfold Y', Y. cbn [net]. fold (Y' l) (Y l). unfold block_map, B. cbn [tok skip att]. rewrite IH by exact Hi.
    f_equal. unfold SA. f_equal. apply sum_ext; intros h _. apply vmat_ext. intros e _.
    unfold vmat. set (A := attn (S (S n)) d (dqk (Ly l)) (hd (Ly l) h) (Y' l) i).
    set (A' := attn (S n) d (dqk (Ly l)) (hd (Ly l) h) (Y l) i).
    assert (C : causal i (S n) = 0) by (unfold causal; destruct (Nat.leb_spec (S n) i); [lia|reflexivity]).
    assert (Z : sum (S (S n)) (fun k => causal i k * exp (logit d (dqk (Ly l)) (hd (Ly l) h) (Y' l) i k)) = sum (S n)
      (fun k => causal i k * exp (logit d (dqk (Ly l)) (hd (Ly l) h) (Y l) i k))).
    { change (sum (S (S n)) ?f) with (sum (S n) f + f (S n)). cbv beta. rewrite C, Rmult_0_l, Rplus_0_r.
      apply sum_ext; intros k Hk. do 2 f_equal. apply logit_rows; intros; apply IH; lia. }
    assert (E : forall j, (j <= n)%nat -> A j = A' j).
    { intros j Hj. unfold A, A', attn, softmax, tilt. rewrite causal_masks, Z. do 3 f_equal.
      apply logit_rows; intros; apply IH; lia. }
    change (sum (S (S n)) ?f) with (sum (S n) f + f (S n)). cbv beta.
    replace (A (S n)) with 0 by (unfold A, attn, softmax, tilt; rewrite causal_masks, C; unfold Rdiv; ring).
    rewrite Rmult_0_l, Rplus_0_r. apply sum_ext; intros j Hj. rewrite E, IH by lia. reflexivity.
Qed.

Section Step.
Variables (l h : nat).
Hypothesis Hh : (h < nheads (Ly l))%nat.
Let dq := dqk (Ly l).
Let hh := hd (Ly l) h.
Let D := diam (S n) N (Y l).
(** The repeated token's attention to the others alone; what the last token attends to. *)
Let q : vec := softmax (S n) (fun _ => 1) (logit d dq hh (Y' l) (S n)).
Let q0 : vec := softmax (S n) (fun _ => 1) (logit d dq hh (Y l) n).
Let p := repeat_share l h.

Lemma ones_weights k : weights (S k) (fun _ => 1).
Proof. split; [intros; lra|exists 0%nat; split; [lia|lra]]. Qed.
Lemma all_seen i j : (j <= i)%nat -> causal i j = 1.
Proof. intros H. unfold causal. apply Nat.leb_le in H. now rewrite H. Qed.

Lemma share_range : 0 <= p <= 1.
Proof.
  assert (P := attn_stochastic (S (S n)) d dq hh (Y' l)). unfold hh in P. rewrite causal_masks in P.
  destruct (P (causal_proper _)) as [P0 P1]. unfold p, repeat_share. split; [apply P0; lia|].
  rewrite <- (P1 (S n)) by lia. apply (sum_term_le (S (S n)) (attn (S (S n)) d dq (hd (Ly l) h) (Y' l) (S n)) (S n));
    [intros; apply P0; lia|lia].
Qed.

(** It receives (1 - p) of the others' mean under q, and p of itself. *)
Lemma received a : vmat (S (S n)) (attn (S (S n)) d dq hh (Y' l) (S n)) (Y' l) a = (1 - p) * sum (S n) (fun j => q j *
  Y l j a) + p * star l a.
Proof.
  set (g := logit d dq hh (Y' l) (S n)). assert (Zq := tilt_Z_pos (S n) (fun _ => 1) (ones_weights n) g).
  set (Z := sum (S n) (fun k => 1 * exp (g k))) in *. assert (E := exp_pos (g (S n))).
  assert (A : forall j, (j <= S n)%nat -> attn (S (S n)) d dq hh (Y' l) (S n) j = exp (g j) / (Z + exp (g (S n)))).
  { intros j Hj. unfold attn, softmax, tilt. replace (mask hh) with causal by (symmetry; apply causal_masks). fold g.
    rewrite all_seen by exact Hj. rewrite Rmult_1_l. f_equal.
    change (sum (S (S n)) ?f) with (sum (S n) f + f (S n)). cbv beta. rewrite all_seen, Rmult_1_l by lia. f_equal.
    unfold Z. apply sum_ext; intros k Hk. now rewrite all_seen by lia. }
  assert (Ep : p = exp (g (S n)) / (Z + exp (g (S n)))) by (apply A; lia).
  unfold vmat. change (sum (S (S n)) ?f) with (sum (S n) f + f (S n)). cbv beta. fold (star l).
  rewrite (A (S n)) by lia. rewrite <- Ep. f_equal.
  rewrite <- sum_scal. apply sum_ext; intros j Hj. rewrite A, unseen by lia. unfold q, softmax, tilt. fold g Z.
  rewrite Ep. field. lra.
Qed.

Lemma last_received a : vmat (S n) (attn (S n) d dq hh (Y l) n) (Y l) a = sum (S n) (fun j => q0 j * Y l j a).
Proof. unfold vmat. apply sum_ext; intros j Hj. f_equal. unfold attn, q0. apply tilt_ext; [|reflexivity|exact Hj].
intros k Hk. unfold hh. rewrite causal_masks. apply all_seen. lia. Qed.

Lemma head_gap : N (vsub (vmat d (vmat (S (S n)) (attn (S (S n)) d dq hh (Y' l) (S n)) (Y' l)) (WV hh)) (vmat d (vmat
  (S n) (attn (S n) d dq hh (Y l) n) (Y l)) (WV hh)))
  <= w l h * (m l h * N (vsub (star l) (Y l n)) * D ^ 2 / (4 * sqrt (INR dq)) + p * repeat_reach l).
Proof.
  set (delta := N (vsub (star l) (Y l n))). assert (d0 : 0 <= delta) by apply sn_pos.
  assert (D0 : 0 <= D) by apply diam_nonneg. assert (Bd := bounds l).
  assert (Rt := sqrt_dqk_pos dq (dqk_pos _ _ _ _ _ Bd)). assert (m0 := m_pos _ _ _ _ _ Bd h).
  set (Z := sqrt (INR dq)) in *. set (u := fun a => sum (S n) (fun j => (q j - q0 j) * Y l j a)).
  set (v := fun a => p * sum (S n) (fun j => q j * vsub (star l) (Y l j) a)).
  assert (q0n : forall j, (j < S n)%nat -> 0 <= q j) by (intros; apply tilt_nonneg; [apply ones_weights|assumption]).
  assert (q1 : sum (S n) q = 1) by (apply tilt_sum, ones_weights).
  assert (q01 : sum (S n) q0 = 1) by (apply tilt_sum, ones_weights).
  assert (Tv : tv (S n) q q0 <= tanh (m l h * delta * D / Z / 4)).
  { apply tv_softmax; [apply ones_weights|]. intros j k Hj Hk _ _.
    assert (E : forall c, (c < S n)%nat -> logit d dq hh (Y l) n c = logit d dq hh (Y' l) n c) by (intros c Hc;
      apply logit_rows; intros; symmetry; apply unseen; lia).
    rewrite !E by assumption. rewrite logit_diff2. fold Z. unfold Rdiv.
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. eapply Rle_trans; [apply Rle_abs|].
    eapply Rle_trans; [apply (m_bound _ _ _ _ _ Bd h _ _ Hh)|].
    rewrite (sn_ext N (vsub (Y' l (S n)) (Y' l n)) (vsub (star l) (Y l n))) by (intro a; unfold vsub;
      rewrite (unseen l n) by lia; reflexivity). fold delta.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; assumption|].
    rewrite (sn_ext N _ (vsub (Y l j) (Y l k))) by (intro a; unfold vsub; rewrite !unseen by lia; reflexivity).
    apply diam_ub; assumption. }
  assert (x0 : 0 <= m l h * delta * D / Z / 4) by (apply Rle_mult_inv_pos; [apply Rle_mult_inv_pos;
    [repeat apply Rmult_le_pos; assumption|exact Rt]|lra]). assert (Th := tanh_le_id _ x0).
  assert (U : N u <= m l h * delta * D ^ 2 / (4 * Z)).
  { assert (T := transport N (S n) (fun j => q j - q0 j) (Y l) D). eapply Rle_trans; [apply T|].
    - rewrite sum_minus. change (sum (S n) q - sum (S n) q0 = 0). lra.
    - intros j k Hj Hk. now apply diam_ub.
    - change (tv (S n) q q0 * D <= m l h * delta * D ^ 2 / (4 * Z)).
      apply Rle_trans with (m l h * delta * D / Z / 4 * D); [apply Rmult_le_compat_r; lra|]. right. field. lra. }
  assert (V : N v <= p * repeat_reach l).
  { unfold v. rewrite (sn_scal N p (fun a => sum (S n) (fun j => q j * vsub (star l) (Y l j) a))),
      Rabs_right by (apply Rle_ge, share_range). apply Rmult_le_compat_l; [apply share_range|].
    eapply Rle_trans; [apply (sn_sum N (S n) q (fun j => vsub (star l) (Y l j)))|].
    apply Rle_trans with (sum (S n) (fun j => q j * repeat_reach l)); [|rewrite sum_scal_r, q1; lra].
    apply sum_le; intros j Hj. rewrite Rabs_right by (apply Rle_ge; auto). apply Rmult_le_compat_l; [auto|].
    apply (maxf_ub (S n) (fun i => N (vsub (star l) (Y l i))) j Hj). }
  assert (E : forall b, vsub (vmat d (vmat (S (S n)) (attn (S (S n)) d dq hh (Y' l) (S n)) (Y' l)) (WV hh)) (vmat d
    (vmat (S n) (attn (S n) d dq hh (Y l) n) (Y l)) (WV hh)) b = vmat d (fun a => u a + v a) (WV hh) b).
  { intro b. unfold vsub at 1. rewrite vmat_sub. apply vmat_ext. intros a _. unfold vsub at 1.
    rewrite received, last_received. unfold u, v, vsub.
    rewrite (sum_ext (S n) (fun j => (q j - q0 j) * Y l j a) (fun j => q j * Y l j a - q0 j * Y l j a)) by (intros;
      ring). rewrite sum_minus.
    rewrite (sum_ext (S n) (fun j => q j * (star l a - Y l j a)) (fun j => q j * star l a - q j * Y l j a)) by (intros;
      ring). rewrite (sum_minus (S n) (fun j => q j * star l a)), sum_scal_r, q1. ring. }
  rewrite (sn_ext N _ _ E). eapply Rle_trans; [apply (w_bound _ _ _ _ _ Bd h _ Hh)|].
  apply Rmult_le_compat_l; [apply (w_pos _ _ _ _ _ Bd)|]. eapply Rle_trans; [apply sn_add|]. lra.
Qed.
End Step.

Theorem repeat_gap l : N (vsub (star l) (Y l n)) <= gap_bound l.
Proof.
  induction l as [|l IH].
  - cbn [gap_bound]. right. rewrite (sn_ext N _ (fun _ => 0)); [apply sn_zero|]. intro a. unfold vsub, star, Y', Y, X'.
    cbn [net]. destruct (Nat.ltb_spec (S n) (S n)); [lia|ring].
  - cbn [gap_bound]. set (delta := N (vsub (star l) (Y l n))) in *. set (H := nheads (Ly l)).
    set (Z := sqrt (INR (dqk (Ly l)))).
    set (g := fun h => vsub (vmat d (vmat (S (S n)) (attn (S (S n)) d (dqk (Ly l)) (hd (Ly l) h) (Y' l) (S n)) (Y' l))
      (WV (hd (Ly l) h))) (vmat d (vmat (S n) (attn (S n) d (dqk (Ly l)) (hd (Ly l) h) (Y l) n) (Y l)) (WV (hd (Ly l)
        h)))).
    rewrite (sn_ext N _ (fun a => s * vsub (star l) (Y l n) a + sum H (fun h => g h a))).
    + eapply Rle_trans; [apply sn_add|]. rewrite sn_scal. fold delta. assert (G := sn_sum1 N H g).
      assert (Hd : sum H (fun h => N (g h)) <= sum H (fun h => w l h * (m l h * delta * diam (S n) N (Y l) ^ 2 / (4 *
        Z) + repeat_share l h * repeat_reach l))) by (apply sum_le; intros h Hh; apply (head_gap l h Hh)).
      assert (Bd := bounds l). assert (Zp : 0 < Z) by (apply sqrt_dqk_pos, (dqk_pos _ _ _ _ _ Bd)).
      set (c := diam (S n) N (Y l) ^ 2 / (4 * Z)).
      assert (c0 : 0 <= c) by (apply Rle_mult_inv_pos; [apply pow2_ge_0|lra]).
      rewrite (sum_ext H (fun h => w l h * (m l h * delta * diam (S n) N (Y l) ^ 2 / (4 * Z) + repeat_share l h *
        repeat_reach l)) (fun h => w l h * m l h * (delta * c) + w l h * repeat_share l h * repeat_reach l)) in Hd by
          (intros; unfold c; field; lra).
      rewrite sum_plus, !sum_scal_r in Hd.
      assert (S0 : 0 <= sum H (fun h => w l h * m l h)) by (apply sum_nonneg; intros; apply Rmult_le_pos;
        [apply (w_pos _ _ _ _ _ Bd)|apply (m_pos _ _ _ _ _ Bd)]).
      replace (sum H (fun h => w l h * m l h) * diam (S n) N (Y l) ^ 2 / (4 * Z)) with (sum H (fun h => w l h * m l h)
        * c) by (unfold c; field; lra).
      assert (Rs := Rabs_pos s). assert (K0 : 0 <= Rabs s + sum H (fun h => w l h * m l h) * c) by (assert (0 <= sum H
        (fun h => w l h * m l h) * c) by (now apply Rmult_le_pos); lra).
      assert (M := Rmult_le_compat_r _ _ _ K0 IH). lra.
    + intro a. unfold star, Y at 1, Y' at 1. unfold vsub at 1. cbn [net]. fold (Y' l) (Y l). unfold block_map, B.
      cbn [tok skip att]. unfold SA. fold H. unfold g, vsub. rewrite sum_minus. unfold star. ring.
Qed.
End Repeat.

(** folk:influence.  "The last token sees of another token k no more than it attends to it,
  though attention moves: |d x_n/d x_k|_2 <= |W|_2 P_nk after one causal layer of one head with a
    skip."  Refuted  [influence_refuted]: two tokens -1 and 1 on the line, W_QK = 4,
      W = 1: the derivative in the first is about -7 P_21. *)

(** g is the derivative of the last token as token k < n - 1 moves along v; w bounds the spectral norm of W. *)
Definition influence_claim : Prop := forall n d (M W X : mat) k w (v g : vec), (0 < d)%nat -> (S k < n)%nat -> 0 <= w ->
  (forall u, l2 d (vmat d u W) <= w * l2 d u) ->
  let Ly := onehead d M W causal in
  (forall a, (a < d)%nat -> is_derive (fun h => block_map n d (skipped Ly) (fun i b => X i b + h * eye k i * v b) (n -
    1)%nat a) 0 (g a)) ->
  l2 d g <= w * attn n d d (hd Ly 0) X (n - 1)%nat k * l2 d v.

Definition two : mat := fun i _ => match i with O => -1 | _ => 1 end.

Theorem influence_refuted : ~ influence_claim.
Proof.
  intro H. set (e0 := exp (-4)). set (e1 := exp 4). assert (P0 : 0 < e0) by apply exp_pos.
  assert (P1 : 0 < e1) by apply exp_pos.
  assert (Lt : e0 < e1) by (apply exp_increasing; lra).
  specialize (H 2%nat 1%nat (fun _ _ => 4) (fun _ _ => 1) two 0%nat 1 (fun _ => 1) (fun _ => e0 * (e0 - 7 * e1) / ((e0
    + e1) * (e0 + e1))) ltac:(lia) ltac:(lia) ltac:(lra)). cbv zeta in H.
  assert (L1 : forall x, l2 1 (fun _ => x) = Rabs x) by (intro x; unfold l2, dot; cbn [sum];
    rewrite Rplus_0_l, <- sqrt_Rsqr_abs; reflexivity).
  assert (B : l2 1 (fun _ => e0 * (e0 - 7 * e1) / ((e0 + e1) * (e0 + e1))) <= 1 * attn 2 1 1 (hd (onehead 1 (fun _ _ =>
    4) (fun _ _ => 1) causal) 0) two 1%nat 0%nat * l2 1 (fun _ => 1)).
  { apply H.
    - intro u. right. unfold l2, dot, vmat. cbn [sum]. rewrite Rmult_1_l. f_equal. ring.
    - intros a Ha. apply (is_derive_ext (fun h => 1 + (exp (4 * (h - 1)) * (h - 1) + exp 4) / (exp (4 * (h - 1)) + exp
        4))).
      + intro h. unfold block_map. cbn [skipped tok skip att]. change (2 - 1)%nat with 1%nat.
        rewrite SA_form by (try apply causal_proper; lia). unfold Ux, Ex, vmat, bil. cbn [sum]. unfold causal, eye.
        cbn [Nat.leb Nat.eqb two].
        replace (0 + (0 + (1 + h * 0 * 1) * 4 * (-1 + h * 1 * 1))) with (4 * (h - 1)) by ring.
        replace (0 + (0 + (1 + h * 0 * 1) * 4 * (1 + h * 0 * 1))) with 4 by ring.
        match goal with |- @eq _ ?a ?b => change (@eq R a b) end. field. assert (X := exp_pos (4 * (h - 1))).
        assert (Y := exp_pos 4). lra.
      + unfold e0, e1. auto_derive.
        * repeat split. apply Rgt_not_eq. assert (X := exp_pos (4 * (0 + - (1)))). assert (Y := exp_pos 4). lra.
        * replace (4 * (0 + - (1))) with (-4) by ring. fold e0 e1. field. lra. }
  rewrite !L1, Rabs_R1 in B. unfold attn, softmax, tilt in B. cbn [sum] in B. rewrite !logit_onehead in B by lia.
  unfold bil in B. cbn [sum onehead hd mask] in B. unfold causal in B. cbn [Nat.leb two] in B.
  replace (0 + (0 + 1 * 4 * -1)) with (-4) in B by ring. replace (0 + (0 + 1 * 4 * 1)) with 4 in B by ring.
  fold e0 e1 in B.
  assert (D0 : 0 < (e0 + e1) * (e0 + e1)) by nra.
  assert (A : e0 * (7 * e1 - e0) / ((e0 + e1) * (e0 + e1)) <= e0 / (e0 + e1)).
  { eapply Rle_trans; [|eapply Rle_trans; [exact B|right; field; lra]].
    eapply Rle_trans; [|rewrite <- Rabs_Ropp; apply Rle_abs]. right. field. lra. }
  apply (Rmult_le_compat_r ((e0 + e1) * (e0 + e1))) in A; [|lra].
  replace (e0 * (7 * e1 - e0) / ((e0 + e1) * (e0 + e1)) * ((e0 + e1) * (e0 + e1))) with (e0 * (7 * e1 - e0)) in A by
    (field; lra).
  replace (e0 / (e0 + e1) * ((e0 + e1) * (e0 + e1))) with (e0 * (e0 + e1)) in A by (field; lra).
  apply Rmult_le_reg_l in A; lra.
Qed.
