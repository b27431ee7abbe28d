(** noci2022:zero-grad and own:zero-grad.  Row i of softmax(Z M Z^T) Z V, moved along M + h G,
  has the derivative sum_j p_j (f_j - f_p) y_j, f_j = z_i G z_j, y_j = z_j V; its length
    is at most osc(f) max |y_j - y_k| / 4  [zero_grad].  So on equal tokens no weight of W_QK has a gradient
      [no_grad]. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms Softmax own_tv own_order_layer.
Local Open Scope R_scope.

Lemma argmax n (f : vec) : (0 < n)%nat -> exists i, (i < n)%nat /\ forall j, (j < n)%nat -> f j <= f i.
Proof.
  induction n as [|n IH]; intros H; [lia|]. destruct (Nat.eq_dec n 0) as [->|Hn]; [exists 0%nat; split; [lia|];
    intros j Hj; replace j with 0%nat by lia; lra|].
  destruct IH as [i [Hi M]]; [lia|]. destruct (Rle_or_lt (f n) (f i)) as [L|L]; [exists i|exists n]; (split; [lia|]);
    intros j Hj; (destruct (Nat.eq_dec j n) as [->|Hj']; [lra|]); specialize (M j ltac:(lia)); lra.
Qed.

(** The mean deviation is at most half the oscillation. *)
Lemma mean_deviation n p f D : (forall j, (j < n)%nat -> 0 <= p j) -> sum n p = 1 -> (forall j k, (j < n)%nat ->
  (k < n)%nat -> f j - f k <= D) ->
  sum n (fun j => p j * Rabs (f j - avg n p f)) <= D / 2.
Proof.
  intros p0 p1 Ho. destruct (Nat.eq_dec n 0) as [->|Hn]; [simpl in p1; lra|].
  destruct (argmax n f ltac:(lia)) as [i [Hi Mi]]. destruct (argmax n (fun j => - f j) ltac:(lia)) as [k [Hk Mk]].
  cbv beta in Mk. assert (Dik := Ho i k Hi Hk). assert (Dii := Ho i i Hi Hi).
  set (c := (f i + f k) / 2). set (g := fun j => Rabs (f j - avg n p f)).
  assert (V := var_pos n p p0 p1 g). assert (W := var_about n p p1 f c).
  assert (Eq : sum n (fun j => p j * (g j * g j)) = cov n p f f).
  { transitivity (sum n (fun j => p j * ((f j - avg n p f) * (f j - avg n p f)))); [|rewrite (cov_about n p p1); ring].
    apply sum_ext; intros j _. unfold g. rewrite <- Rabs_mult, Rabs_right by (apply Rle_ge, Rle_0_sqr). reflexivity. }
  assert (B : sum n (fun j => p j * ((f j - c) * (f j - c))) <= D / 2 * (D / 2)).
  { rewrite <- (Rmult_1_l (D / 2 * (D / 2))), <- p1, <- sum_scal_r. apply sum_le; intros j Hj.
    apply Rmult_le_compat_l; [auto|]. assert (A1 := Mi j Hj). assert (A2 := Mk j Hj).
    assert (Rabs (f j - c) <= D / 2) by (apply Rabs_le; unfold c; lra). assert (P := Rabs_pos (f j - c)).
    replace ((f j - c) * (f j - c)) with (Rabs (f j - c) * Rabs (f j - c)) by (rewrite <- Rabs_mult;
      apply Rabs_right, Rle_ge, Rle_0_sqr).
    apply Rmult_le_compat; assumption. }
  unfold cov in V. rewrite Eq in V. change (sum n (fun j => p j * Rabs (f j - avg n p f))) with (avg n p g).
  apply Rsqr_incr_0_var; [|lra]. unfold Rsqr. lra.
Qed.

(** The output of one query along a direction of its logits. *)
Lemma mix_derivative n (l f y : vec) g : (0 < n)%nat -> is_derive (fun h => sum n (fun j => softmax n (fun _ => 1) (fun
  k => l k + h * f k) j * y j)) 0 g ->
  let p := softmax n (fun _ => 1) l in g = sum n (fun j => p j * (f j - avg n p f) * y j).
Proof.
  intros Hn Hg p. assert (W : weights n (fun _ => 1)) by (split; [intros; lra|exists 0%nat; split; [lia|lra]]).
  set (Z := fun h => sum n (fun k => 1 * exp (l k + h * f k))).
  set (A := fun h => sum n (fun k => y k * exp (l k + h * f k))).
  assert (Zp : forall h, 0 < Z h) by (intro h; apply (tilt_Z_pos n (fun _ => 1) W (fun k => l k + h * f k))).
  assert (DZ : is_derive Z 0 (sum n (fun k => f k * exp (l k + 0 * f k)))).
  { apply (derive_sum n (fun k h => 1 * exp (l k + h * f k)) (fun k h => f k * exp (l k + h * f k))). intros k _.
    auto_derive; [exact I|ring]. }
  assert (DA : is_derive A 0 (sum n (fun k => y k * (f k * exp (l k + 0 * f k))))).
  { apply (derive_sum n (fun k h => y k * exp (l k + h * f k)) (fun k h => y k * (f k * exp (l k + h * f k)))).
    intros k _. auto_derive; [exact I|ring]. }
  assert (D : is_derive (fun h => A h / Z h) 0 g).
  { apply (is_derive_ext (fun h => sum n (fun j => softmax n (fun _ => 1) (fun k => l k + h * f k) j * y j)));
      [|exact Hg]. intro h. unfold A, Rdiv. rewrite <- sum_scal_r. apply sum_ext; intros j _.
    unfold softmax, tilt. fold (Z h). unfold Rdiv. ring. }
  assert (D2 := is_derive_div A Z 0 _ _ DA DZ (Rgt_not_eq _ _ (Zp 0))).
  assert (Eg := eq_trans (eq_sym (is_derive_unique _ _ _ D)) (is_derive_unique _ _ _ D2)). rewrite Eg.
  assert (pE : forall j, p j = exp (l j + 0 * f j) / Z 0).
  { intro j. unfold p, softmax, tilt, Z. rewrite Rmult_1_l. f_equal; [f_equal; ring|]. apply sum_ext; intros k _.
    do 2 f_equal. ring. }
  assert (Z0 := Zp 0).
  assert (E1 : sum n (fun k => f k * exp (l k + 0 * f k)) = avg n p f * Z 0) by (unfold avg; rewrite <- sum_scal_r;
    apply sum_ext; intros; rewrite pE; field; lra).
  assert (E2 : A 0 = sum n (fun k => p k * y k) * Z 0) by (unfold A; rewrite <- sum_scal_r; apply sum_ext; intros;
    rewrite pE; field; lra).
  assert (E3 : sum n (fun k => y k * (f k * exp (l k + 0 * f k))) = sum n (fun k => p k * f k * y k) * Z 0) by (rewrite
    <- sum_scal_r; apply sum_ext; intros; rewrite pE; field; lra).
  rewrite E1, E2, E3. match goal with |- @eq _ ?a ?b => change (@eq R a b) end.
  rewrite (sum_ext n (fun j => p j * (f j - avg n p f) * y j) (fun j => p j * f j * y j - avg n p f * (p j * y j))) by
    (intros; ring). rewrite sum_minus, sum_scal. field. lra.
Qed.

Theorem zero_grad n d e (Z M G V : mat) i (g : vec) F D : (i < n)%nat ->
  (forall a, (a < e)%nat -> is_derive (fun h => sum n (fun j => softmax n (fun _ => 1) (fun k => bil d (Z i) M (Z k) +
    h * bil d (Z i) G (Z k)) j * vmat d (Z j) V a)) 0 (g a)) ->
  (forall j k, (j < n)%nat -> (k < n)%nat -> bil d (Z i) G (Z j) - bil d (Z i) G (Z k) <= F) ->
  (forall j k, (j < n)%nat -> (k < n)%nat -> l2 e (vsub (vmat d (Z j) V) (vmat d (Z k) V)) <= D) ->
  l2 e g <= D * F / 4.
Proof.
  intros Hi Hg HF HD. set (l := fun k => bil d (Z i) M (Z k)). set (f := fun k => bil d (Z i) G (Z k)).
  set (p := softmax n (fun _ => 1) l).
  assert (W : weights n (fun _ => 1)) by (split; [intros; lra|exists 0%nat; split; [lia|lra]]).
  assert (p0 : forall j, (j < n)%nat -> 0 <= p j) by (intros; now apply tilt_nonneg).
  assert (p1 : sum n p = 1) by (now apply tilt_sum).
  set (nu := fun j => p j * (f j - avg n p f)).
  assert (N0 : sum n nu = 0) by (unfold nu; rewrite (sum_ext n _ (fun j => p j * f j - p j * avg n p f)) by (intros;
    ring); rewrite sum_minus, sum_scal_r, p1; unfold avg; ring).
  assert (D0 : 0 <= D) by (eapply Rle_trans; [apply sqrt_pos|apply (HD i i Hi Hi)]).
  assert (T := transport (L2 e) n nu (fun j => vmat d (Z j) V) D N0 HD).
  assert (E : l2 e g = l2 e (fun a => sum n (fun j => nu j * vmat d (Z j) V a))).
  { unfold l2, dot. f_equal. apply sum_ext; intros a Ha. rewrite (mix_derivative n l f (fun j => vmat d (Z j) V a) (g
      a) ltac:(lia) (Hg a Ha)). reflexivity. }
  rewrite E. eapply Rle_trans; [exact T|]. assert (MD := mean_deviation n p f F p0 p1 HF).
  rewrite (sum_ext n (fun j => Rabs (nu j)) (fun j => p j * Rabs (f j - avg n p f))) by (intros j Hj; unfold nu;
    rewrite Rabs_mult, (Rabs_right (p j)) by (apply Rle_ge; auto); reflexivity).
  apply Rle_trans with (/ 2 * (F / 2) * D); [|right; field]. apply Rmult_le_compat_r; [exact D0|]. lra.
Qed.

Theorem no_grad n d e (Z M G V : mat) i (g : vec) : (i < n)%nat -> (forall j k a, (j < n)%nat -> (k < n)%nat ->
  (a < d)%nat -> Z j a = Z k a) ->
  (forall a, (a < e)%nat -> is_derive (fun h => sum n (fun j => softmax n (fun _ => 1) (fun k => bil d (Z i) M (Z k) +
    h * bil d (Z i) G (Z k)) j * vmat d (Z j) V a)) 0 (g a)) ->
  forall a, (a < e)%nat -> g a = 0.
Proof.
  intros Hi Eq Hg a Ha. assert (S := zero_grad n d e Z M G V i g 0 0 Hi Hg).
  assert (L : l2 e g <= 0 * 0 / 4).
  { apply S.
    - intros j k Hj Hk. right. apply Rminus_diag_eq. unfold bil. apply sum_ext; intros u Hu.
      apply sum_ext; intros w Hw. now rewrite (Eq j k w Hj Hk Hw).
    - intros j k Hj Hk. right. unfold l2, dot. rewrite (sum_ext e _ (fun _ => 0)); [rewrite sum_zero; apply sqrt_0|].
      intros b _. unfold vsub. rewrite (vmat_ext d (Z j) (Z k)) by (intros; now apply Eq). ring. }
  assert (Q : dot e g g <= 0).
  { assert (P := dot_pos e g). assert (R := sqrt_sqrt (dot e g g) P). unfold l2 in L.
    assert (sqrt (dot e g g) = 0) by (apply Rle_antisym; [lra|apply sqrt_pos]). rewrite H in R. lra. }
  assert (T := sum_term_le e (fun b => g b * g b) a (fun b _ => Rle_0_sqr (g b)) Ha). cbv beta in T. unfold dot in Q.
  assert (g a * g a <= 0) by lra. nra.
Qed.
