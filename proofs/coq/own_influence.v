(** own:influence.  One causal layer of one head, no query bias (a key bias does not change attention),
  with a skip of any factor lambda: the derivative of the last token in token k has
    a spectral norm of at most |W| (1 + a R Delta) P_(last, k), and |lambda| + |W| a Delta^2/4 more for k = last;
      a = |W_QK|/sqrt d_qk, R the largest norm of a token, Delta their diameter  [influence]. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms Softmax own_order_layer seed_closure own_lipschitz.
Local Open Scope R_scope.

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
