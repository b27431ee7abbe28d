(** own:repeat.  One causal layer of one head, without a skip: the last token of an input,
  and the last token of the input in which it is repeated, differ after the layer by at most
    |W| Delta p (1 - p)/(1 + p) <= (3 - 2 sqrt 2) |W| Delta, p what the last token attends to itself,
      Delta the diameter of the tokens  [repeat_last]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms Softmax seed_closure.
Local Open Scope R_scope.

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
