(** own:stable-every-rank, own:stable-complete-every-n, wu2024:3-whole: one weight pair with attracting equilibria of
    every rank.  It contains own:stable-complete and refutes wu2024:conjecture.

    n tokens in R^d, LayerNorm on the sphere, m = min(n, d), every mask in which each token sees itself and each of the
    first m its predecessor (the causal and the complete mask among them).  W_V has the rows sum_{j <= i} (-1)^{i-j}
    lam^j e_j, W_QK integer logits with a gap L.  For large L there is for every k <= m an equilibrium near e_0, ...,
    e_{k-1} and n - k times -e_0, of rank k, that attracts; at k = n the eigenvalues are near lam^{b-i}, i < b, and 0.
    In the limit the derivative is triangular, group by group (SharpLayer). *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms Softmax Jets SphereLayer Germs SharpLayer Language.
Local Open Scope R_scope.
(* ---------- a linear system near the identity ---------- *)
Lemma linear_fixed n (Q Y : mat) : (forall i, (i < n)%nat -> sum n (fun j => Rabs (Q i j)) <= 1/2) ->
  exists X : mat, forall i b, (i < n)%nat -> X i b = Y i b + sum n (fun j => Q i j * X j b).
Proof.
  revert Q Y. induction n as [|n IH]; intros Q Y HQ; [exists Y; intros; lia|].
  assert (Hn := HQ n ltac:(lia)). cbn [sum] in Hn.
  assert (P0 : forall i, 0 <= sum n (fun j => Rabs (Q i j))) by (intro; apply sum_nonneg; intros; apply Rabs_pos).
  assert (Qn : Rabs (Q n n) <= 1/2) by (specialize (P0 n); lra).
  assert (Dn : 1/2 <= 1 - Q n n) by (assert (L := Rle_abs (Q n n)); lra).
  destruct (IH (fun i j => Q i j + Q i n * Q n j / (1 - Q n n)) (fun i b => Y i b + Q i n * Y n b / (1 - Q n n))) as [X
    HX].
  - intros i Hi. specialize (HQ i ltac:(lia)). cbn [sum] in HQ.
    apply Rle_trans with (sum n (fun j => Rabs (Q i j) + Rabs (Q i n) * (2 * Rabs (Q n j)))).
    + apply sum_le; intros j Hj. eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat_l. unfold Rdiv.
      rewrite !Rabs_mult, Rmult_assoc.
      apply Rmult_le_compat_l; [apply Rabs_pos|]. rewrite Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos|].
      rewrite Rabs_inv, Rabs_right by lra. replace 2 with (/ (1/2)) by field. apply Rinv_le_contravar; lra.
    + rewrite sum_plus, sum_scal, sum_scal. assert (A := Rabs_pos (Q i n)). assert (B := Rabs_pos (Q n n)).
      assert (Rabs (Q i n) * (2 * sum n (fun j => Rabs (Q n j))) <= Rabs (Q i n) * 1) by (apply Rmult_le_compat_l;
        lra). lra.
  - exists (fun i b => if Nat.eqb i n then (Y n b + sum n (fun j => Q n j * X j b)) / (1 - Q n n) else X i b).
    intros i b Hi. cbn [sum]. rewrite Nat.eqb_refl.
    assert (ES : forall k, sum n (fun j => Q k j * (if Nat.eqb j n then (Y n b + sum n (fun j => Q n j * X j b)) / (1 -
      Q n n) else X j b)) = sum n (fun j => Q k j * X j b)).
    { intro k. apply sum_ext; intros j Hj. destruct (Nat.eqb_spec j n); [lia|reflexivity]. }
    rewrite ES. destruct (Nat.eqb_spec i n) as [->|N]; [field; lra|].
    rewrite (HX i b) by lia. rewrite (sum_ext n _ (fun j => Q i j * X j b + Q i n / (1 - Q n n) * (Q n j * X j b))) by
      (intros; field; lra).
    rewrite sum_plus, sum_scal. field. lra.
Qed.

Lemma linear_bound n (Q Y X : mat) b y : (forall i, (i < n)%nat -> sum n (fun j => Rabs (Q i j)) <= 1/2) ->
  (forall i, (i < n)%nat -> X i b = Y i b + sum n (fun j => Q i j * X j b)) -> 0 <= y -> (forall i, (i < n)%nat ->
    Rabs (Y i b) <= y) ->
  forall i, (i < n)%nat -> Rabs (X i b) <= 2 * y.
Proof.
  intros HQ HX y0 HY. set (mx := maxf n (fun i => Rabs (X i b))). assert (m0 : 0 <= mx) by apply maxf_pos.
  assert (B : forall i, (i < n)%nat -> Rabs (X i b) <= mx) by (intros i Hi;
    apply (maxf_ub n (fun i => Rabs (X i b)) i Hi)).
  assert (M : mx <= y + mx / 2).
  { apply maxf_lub; [lra|]. intros i Hi. rewrite (HX i Hi). eapply Rle_trans; [apply Rabs_triang|].
    apply Rplus_le_compat; [now apply HY|].
    eapply Rle_trans; [apply sum_abs|]. apply Rle_trans with (sum n (fun j => Rabs (Q i j) * mx)).
    - apply sum_le; intros j Hj. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|now apply B].
    - rewrite sum_scal_r. assert (sum n (fun j => Rabs (Q i j)) * mx <= 1/2 * mx) by (apply Rmult_le_compat_r; auto).
      lra. }
  intros i Hi. specialize (B i Hi). lra.
Qed.

(* ---------- alternating signs ---------- *)
Definition alt (k : nat) : R := (-1) ^ k.
Lemma alt_S k : alt (S k) = - alt k.
Proof. unfold alt. simpl. ring. Qed.
Lemma alt_sq k : alt k * alt k = 1.
Proof. induction k; [unfold alt; simpl; ring|]. rewrite alt_S. lra. Qed.
Lemma alt_abs k : Rabs (alt k) = 1.
Proof. unfold alt. apply pow_1_abs. Qed.
Lemma alt_add j k : alt (j + k) = alt j * alt k.
Proof. unfold alt. apply pow_add. Qed.
 Lemma alt_parity j k : (j <= k)%nat -> alt (k - j) = alt (j + k).
Proof.
  intros H. replace (j + k)%nat with ((k - j) + (j + j))%nat by lia. rewrite alt_add.
  replace (alt (j + j)) with 1; [ring|]. rewrite alt_add. symmetry. apply alt_sq.
Qed.

(** Rows near coordinate vectors, no entries beyond: the rank. *)
Lemma rank_near n d k (Z : mat) : (k <= n)%nat -> (k <= d)%nat -> (0 < k)%nat ->
  (forall i a, (i < k)%nat -> (a < k)%nat -> Rabs (Z i a - eye i a) <= / (2 * INR k)) ->
  (forall i b, (i < n)%nat -> (b < d)%nat -> (k <= b)%nat -> Z i b = 0) -> has_rank n d Z k.
Proof.
  intros kn kd k0 Near Zero. assert (k1 : 1 <= INR k) by (apply (le_INR 1); lia).
  set (Q := (fun a j => - (Z j a - eye j a)) : mat).
  assert (HQ : forall a, (a < k)%nat -> sum k (fun j => Rabs (Q a j)) <= 1/2).
  { intros a Ha. apply Rle_trans with (sum k (fun _ => / (2 * INR k))).
    - apply sum_le; intros j Hj. unfold Q. rewrite Rabs_Ropp. now apply Near.
    - rewrite sum_const. right. field. lra. }
  assert (Sys : forall (c : vec) a, (a < k)%nat -> sum k (fun j => c j * Z j a) = c a - sum k (fun j => Q a j * c j)).
  { intros c a Ha. rewrite (sum_ext k _ (fun j => c j * eye j a - Q a j * c j)) by (intros; unfold Q; ring).
    rewrite sum_minus, (sum_eye_r k c a Ha). ring. }
  exists (fun j => j). split; [intros; lia|split].
  - intros c H j Hj.
    assert (B := linear_bound k Q (fun _ _ => 0) (fun i _ => c i) 0%nat 0 HQ).
    assert (R : Rabs (c j) <= 2 * 0).
    { apply B; [|lra|intros; rewrite Rabs_R0; lra|exact Hj]. intros i Hi. specialize (H i ltac:(lia)).
      rewrite (Sys c i Hi) in H. lra. }
    assert (P := Rabs_pos (c j)). apply Rabs_eq_0. lra.
  - intros i Hi. destruct (linear_fixed k Q (fun a b => Z b a) HQ) as [X HX]. exists (fun j => X j i). intros a Ha.
    destruct (Nat.lt_ge_cases a k) as [La|La].
    + rewrite (Sys (fun j => X j i) a La). specialize (HX a i La). lra.
    + rewrite (Zero i a Hi Ha La), (sum_ext k _ (fun _ => 0)); [now rewrite sum_zero|].
      intros j Hj. rewrite (Zero j a ltac:(lia) Ha La). ring.
Qed.

Section Chain.
Variables (n d m k : nat) (G : mat) (lam : R).
Hypothesis k_in : (0 < k <= m)%nat.
Hypothesis m_n : (m <= n)%nat.
Hypothesis m_d : (m <= d)%nat.
Hypothesis lam_in : 0 < lam < 1.
Hypothesis G01 : forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j <= 1.
Hypothesis Gself : forall i, (i < n)%nat -> G i i = 1.
Hypothesis Gprev : forall i, (S i < m)%nat -> G (S i) i = 1.
Notation W := (chain_values m lam).
Notation M := (chain_logits m).
Notation X0 := (chain_tokens k).
Definition place (i : nat) : nat := if Nat.ltb i k then i else 0%nat.
Definition side (i : nat) : R := if Nat.ltb i k then 1 else -1.
Definition focus : mat := fun i j =>
  if Nat.ltb i k then eye i j + eye i (S j) else if Nat.ltb j k then 0 else G i j.
Definition scale (i : nat) : R := if Nat.ltb i k then lam ^ i else sum n (focus i).
Definition peak (L : R) (i : nat) : R := chain_top m L (place i).

Lemma place_k i : (place i < k)%nat.
Proof. unfold place. destruct (Nat.ltb_spec i k); lia. Qed.
Lemma side_sq i : side i * side i = 1.
Proof. unfold side. destruct Nat.ltb; ring. Qed.
Lemma low i : (i < k)%nat -> place i = i /\ side i = 1.
Proof. intros H. unfold place, side. destruct (Nat.ltb_spec i k); [auto|lia]. Qed.
Lemma high i : (k <= i)%nat -> place i = 0%nat /\ side i = -1.
Proof. intros H. unfold place, side. destruct (Nat.ltb_spec i k); [lia|auto]. Qed.
Lemma X0_form i a : X0 i a = side i * eye (place i) a.
Proof. unfold chain_tokens, side, place. destruct Nat.ltb; ring. Qed.
Lemma row_X0 (f : vec) i : sum d (fun a => X0 i a * f a) = side i * f (place i).
Proof.
  rewrite (sum_ext d _ (fun a => side i * (eye (place i) a * f a))) by (intros; rewrite X0_form; ring).
  assert (P := place_k i). rewrite sum_scal, (sum_eye_l d f (place i)) by lia. reflexivity.
Qed.
Lemma bil_X0 N i j : bil d (X0 i) N (X0 j) = side i * side j * N (place i) (place j).
Proof.
  unfold bil. rewrite (sum_ext d _ (fun a => X0 i a * sum d (fun b => X0 j b * N a b))).
  - rewrite (row_X0 (fun a => sum d (fun b => X0 j b * N a b))), (row_X0 (fun b => N (place i) b)). ring.
  - intros a _. rewrite <- sum_scal. apply sum_ext; intros; ring.
Qed.
Lemma vmat_X0 j b : vmat d (X0 j) W b = side j * W (place j) b.
Proof. unfold vmat. apply (row_X0 (fun a => W a b)). Qed.
Lemma dlogit_X0 N i j p q :
  dlogit d N X0 i j p q = eye p i * (side j * N q (place j)) + eye p j * (side i * N (place i) q).
Proof.
  unfold dlogit. rewrite (sum_ext d _ (fun c => X0 j c * N q c)) by (intros; ring).
  now rewrite (row_X0 (fun c => N q c)), (row_X0 (fun a => N a q)).
Qed.

(* ---------- the values ---------- *)
Lemma W_out i b : (m <= i)%nat \/ (i < b)%nat -> W i b = 0.
Proof.
  intros H. unfold chain_values. destruct (Nat.ltb_spec i m), (Nat.leb_spec b i); cbn [andb]; try reflexivity. lia.
Qed.
Lemma W_in i b : (i < m)%nat -> (b <= i)%nat -> W i b = alt (i + b) * lam ^ b.
Proof.
  intros H H'. unfold chain_values. destruct (Nat.ltb_spec i m), (Nat.leb_spec b i); cbn [andb]; try lia. reflexivity.
Qed.
Lemma W_first b : W 0%nat b = eye 0%nat b.
Proof.
  destruct b as [|b]; [rewrite W_in, eye_same by lia; unfold alt; simpl; ring|]. rewrite W_out, eye_diff by lia.
  reflexivity.
Qed.
Lemma W_step i b : (i < m)%nat -> W i b + match i with O => 0 | S r => W r b end = lam ^ i * eye i b.
Proof.
  intros Hi. destruct i as [|r]; [rewrite W_first; simpl; ring|]. destruct (Nat.lt_trichotomy b (S r)) as [H|[->|H]].
  - rewrite !W_in, eye_diff by lia. simpl (S r + b)%nat. rewrite alt_S. ring.
  - rewrite W_in, W_out, eye_same, alt_add, alt_sq by lia. ring.
  - rewrite !W_out, eye_diff by lia. ring.
Qed.

(* ---------- who attends to whom ---------- *)
Lemma M_out L i j : (m <= i)%nat \/ (m <= j)%nat -> M L i j = 0.
Proof.
  intros H. unfold chain_logits. destruct (Nat.ltb_spec i m), (Nat.ltb_spec j m); cbn [andb]; try reflexivity. lia.
Qed.
Lemma M_cases L i j : (i < m)%nat -> (j < m)%nat -> M L i j = if Nat.ltb i j then chain_top m L i - L - 2 * INR
  (Nat.div2 (j - i)) else if Nat.leb i (S j) then chain_top m L i else 1.
Proof.
  intros Hi Hj. unfold chain_logits. destruct (Nat.ltb_spec i m), (Nat.ltb_spec j m); cbn [andb]; try lia. reflexivity.
Qed.
Lemma M_poly c i j : 0 < c -> tends n d X0 c (fun L _ => M L i j) (fun L => M L i j).
Proof.
  intros Hc. assert (T : tends n d X0 c (fun L _ => chain_top m L i) (fun L => chain_top m L i)).
  { unfold chain_top. destruct i.
    - apply (tends_plus n d X0 c (fun L _ => 2 * L) (fun L => 2 * L)); [|apply tends_const].
      apply (tends_mult n d X0 c Hc (fun _ _ => 2) (fun _ => 2)); [apply tends_const|apply tends_large].
    - apply (tends_plus n d X0 c (fun L _ => L) (fun L => L)); [apply tends_large|apply tends_const]. }
  unfold chain_logits. destruct (andb _ _); [|apply tends_const]. destruct (Nat.ltb i j).
  - eapply tends_ext; [apply (tends_plus n d X0 c _ _ (fun L _ => -1 * L + - (2 * INR (Nat.div2 (j - i)))) (fun L =>
    -1 *
      L + - (2 * INR (Nat.div2 (j - i)))) T)| |].
    + apply (tends_plus n d X0 c (fun L _ => -1 * L) (fun L => -1 * L)); [|apply tends_const].
      apply (tends_mult n d X0 c Hc (fun _ _ => -1) (fun _ => -1)); [apply tends_const|apply tends_large].
    + intros; cbv beta; ring.
    + intros; cbv beta; ring.
  - destruct (Nat.leb i (S j)); [exact T|apply tends_const].
Qed.
Lemma half_le j : 2 * INR (Nat.div2 j) <= INR j.
Proof.
  assert (D := Nat.div2_odd j). replace 2 with (INR 2) by reflexivity. rewrite <- mult_INR. apply le_INR. lia.
Qed.
(** The logits, up to the peak of the row: equal to it, or smaller by L. *)
Lemma logit_peak L i j : 1 <= L -> (i < n)%nat -> (j < n)%nat ->
  let x := side i * side j * M L (place i) (place j) - peak L i in
  (x = 0 /\ G i j = focus i j) \/ (x <= - L /\ focus i j = 0).
Proof.
  intros HL Hi Hj x. unfold x, peak, focus. assert (m1 : 1 <= INR m) by (apply (le_INR 1); lia).
  destruct (Nat.ltb_spec i k) as [Li|Li].
  - destruct (low i Li) as [-> ->]. destruct (Nat.lt_ge_cases j k) as [Lj|Lj].
    + destruct (low j Lj) as [-> ->]. rewrite M_cases by lia. destruct (Nat.ltb_spec i j).
      * right. rewrite !eye_diff by lia. assert (P := pos_INR (Nat.div2 (j - i))). split; lra.
      * destruct (Nat.leb_spec i (S j)).
        -- left. split; [ring|]. destruct (Nat.eq_dec i j) as [->|]; [rewrite eye_same, eye_diff, Gself by lia; ring|].
           assert (i = S j) by lia. subst i. rewrite eye_same, eye_diff, Gprev by lia. ring.
        -- right. rewrite !eye_diff by lia. destruct i; [lia|]. cbn [chain_top]. split; lra.
    + destruct (high j Lj) as [-> ->]. right. rewrite !eye_diff by lia. rewrite M_cases by lia. split; [|ring].
      destruct (Nat.ltb_spec i 0); [lia|]. destruct (Nat.leb_spec i 1); destruct i; cbn [chain_top]; try lia; lra.
  - destruct (high i Li) as [-> ->]. cbn [chain_top]. destruct (Nat.ltb_spec j k) as [Lj|Lj].
    + destruct (low j Lj) as [-> ->]. right. split; [|reflexivity]. rewrite M_cases by lia.
      destruct (Nat.ltb_spec 0 j).
      * rewrite Nat.sub_0_r. cbn [chain_top]. assert (H2 := half_le j).
        assert (INR j <= INR m) by (apply le_INR; lia). lra.
      * destruct (Nat.leb_spec 0 (S j)); [cbn [chain_top]; lra|lia].
    + destruct (high j Lj) as [-> ->]. left. split; [|reflexivity]. rewrite M_cases by lia. cbn [Nat.ltb Nat.leb].
      cbn [chain_top]. ring.
Qed.
Lemma focus_in i j : (i < n)%nat -> (j < n)%nat -> 0 <= focus i j <= 1.
Proof.
  intros Hi Hj. unfold focus. destruct (Nat.ltb i k); [|destruct (Nat.ltb j k); [lra|now apply G01]].
  unfold eye. destruct (Nat.eqb_spec i j), (Nat.eqb_spec i (S j)); try lia; lra.
Qed.
Lemma sharp_M c i j : 0 < c <= 1 -> (i < n)%nat -> (j < n)%nat ->
  tends n d X0 c (fun L _ => G i j * exp (bil d (X0 i) (M L) (X0 j) - peak L i)) (fun _ => focus i j).
Proof.
  intros Hc Hi Hj. destruct (G01 i j Hi Hj) as [g0 g1]. destruct (focus_in i j Hi Hj) as [f0 f1].
  assert (K := fun L HL => logit_peak L i j HL Hi Hj). cbv zeta in K.
  destruct (Req_dec (focus i j) 0) as [Z|Z].
  - rewrite Z. apply tends_zero. intros L HL. rewrite bil_X0. assert (P := exp_pos (side i * side j * M L (place i)
      (place j) - peak L i)). split; [apply Rmult_le_pos; lra|].
    destruct (K L HL) as [[_ E]|[E _]]; [rewrite E, Z, Rmult_0_l; left; apply exp_pos|].
    assert (Q : exp (side i * side j * M L (place i) (place j) - peak L i) <= exp (- (c * L))).
    { destruct (Rle_lt_or_eq_dec (side i * side j * M L (place i) (place j) - peak L i) (- (c * L))) as [Lt|Eq];
        [nra|left; now apply exp_increasing|rewrite Eq; lra]. } nra.
  - apply (tends_from_one n d X0 c (fun _ _ => focus i j)); [apply tends_const|]. intros L X HL. rewrite bil_X0.
    destruct (K L HL) as [[E1 E2]|[_ E]]; [|contradiction]. rewrite E1, exp_0, E2. ring.
Qed.

(* ---------- the limit rests ---------- *)
Lemma focus_sum i (f : vec) : (i < k)%nat -> sum n (fun j => focus i j * f j) = f i + match i with O => 0 | S r => f r
  end.
Proof.
  intros Hi. rewrite (sum_ext n _ (fun j => eye i j * f j + eye i (S j) * f j)) by (intros j _; unfold focus;
    destruct (Nat.ltb_spec i k); [ring|lia]).
  rewrite sum_plus, (sum_eye_l n f i) by lia. f_equal. destruct i as [|r].
  - rewrite (sum_ext n _ (fun _ => 0)) by (intros; rewrite eye_diff by lia; ring). apply sum_zero.
  - rewrite (sum_single n _ r) by (try lia; intros j _ Hj; rewrite eye_diff by lia; ring). rewrite eye_same. ring.
Qed.
Lemma focus_high i (f g : vec) : (k <= i)%nat -> (forall j, (k <= j)%nat -> f j = g j) ->
  sum n (fun j => focus i j * f j) = sum n (fun j => focus i j * g j).
Proof.
  intros Hi H. apply sum_ext; intros j _. unfold focus. destruct (Nat.ltb_spec i k); [lia|].
  destruct (Nat.ltb_spec j k); [ring|now rewrite H].
Qed.
Lemma scale_pos i : (i < n)%nat -> 0 < scale i.
Proof.
  intros Hi. unfold scale. destruct (Nat.ltb_spec i k); [apply pow_lt; lra|].
  apply Rlt_le_trans with (focus i i).
  - unfold focus. destruct (Nat.ltb_spec i k); [lia|]. rewrite Gself by exact Hi. lra.
  - apply (sum_term_le n (focus i) i); [|exact Hi]. intros j Hj. now apply focus_in.
Qed.
Lemma rests_X0 i b : (i < n)%nat -> (b < d)%nat -> sum n (fun j => focus i j * vmat d (X0 j) W b) = scale i * X0 i b.
Proof.
  intros Hi Hb. rewrite (sum_ext n _ (fun j => focus i j * (side j * W (place j) b))) by (intros; now rewrite vmat_X0).
  rewrite X0_form. unfold scale. destruct (Nat.ltb_spec i k) as [Li|Li].
  - rewrite (focus_sum i (fun j => side j * W (place j) b) Li). destruct (low i Li) as [-> ->].
    replace (lam ^ i * (1 * eye i b)) with (lam ^ i * eye i b) by ring. rewrite <- W_step by lia.
    destruct i as [|r]; [ring|]. destruct (low r ltac:(lia)) as [-> ->]. ring.
  - rewrite (focus_high i _ (fun _ => - eye 0%nat b) Li).
    + rewrite sum_scal_r. destruct (high i Li) as [-> ->]. ring.
    + intros j Hj. destruct (high j Hj) as [-> ->]. rewrite W_first. ring.
Qed.
Lemma units_X0 i : (i < n)%nat -> dot d (X0 i) (X0 i) = 1.
Proof.
  intros Hi. unfold dot. rewrite (row_X0 (fun a => X0 i a)), X0_form, eye_same. assert (S := side_sq i). lra.
Qed.

(* ---------- its derivative ---------- *)
Notation lim := (limit n d M W X0 focus scale).
Notation slo L := (SharpLayer.slope n d W focus X0 (M L)).
Lemma lim_form L i b p q : (i < n)%nat -> (b < d)%nat ->
  lim L i b p q = if Nat.eqb b (place i) then 0 else slo L i b p q / scale i.
Proof.
  intros Hi Hb. unfold limit. rewrite (row_X0 (fun e => SharpLayer.slope n d W focus X0 (M L) i e p q)), X0_form.
  assert (S := side_sq i). destruct (Nat.eqb_spec b (place i)) as [->|Ne].
  - rewrite eye_same. replace (side i * 1 * (side i * SharpLayer.slope n d W focus X0 (M L) i (place i) p q)) with
      (side i * side i * SharpLayer.slope n d W focus X0 (M L) i (place i) p q) by ring. rewrite S. ring.
  - rewrite eye_diff by lia. unfold Rdiv. ring.
Qed.
Lemma slope_low L i b p q : (i < k)%nat -> slo L i b p q =
  (eye p i * W q b + W i b * (eye p i * M L q i + eye p i * M L i q)) + match i with O => 0 | S r =>
    eye p r * W q b + W r b * (eye p i * M L q r + eye p r * M L i q) end.
Proof.
  intros Hi. unfold SharpLayer.slope. rewrite (focus_sum i (fun j => eye p j * W q b + vmat d (X0 j) W b * dlogit d
    (M L) X0 i j p
    q) Hi). rewrite vmat_X0, dlogit_X0. destruct (low i Hi) as [Ei Si]. rewrite Ei, Si.
  destruct i as [|r]; [ring|]. rewrite vmat_X0, dlogit_X0, Ei, Si. destruct (low r ltac:(lia)) as [-> ->]. ring.
Qed.
Lemma slope_high L i b p q : (k <= i)%nat -> (p < n)%nat -> b <> 0%nat -> slo L i b p q = focus i p * W q b.
Proof.
  intros Hi Hp Hb. unfold SharpLayer.slope. rewrite (focus_high i _ (fun j => eye p j * W q b) Hi).
  - rewrite (sum_ext n _ (fun j => eye p j * (focus i j * W q b))) by (intros; ring).
    apply (sum_eye_l n (fun j => focus i j * W q b) p Hp).
  - intros j Hj. rewrite vmat_X0. destruct (high j Hj) as [-> ->]. rewrite W_first, (eye_diff 0 b) by lia. ring.
Qed.
Lemma slope_out L i b p q : (i < n)%nat -> (p < n)%nat -> b <> place i -> (m <= b)%nat \/ (m <= q)%nat ->
  slo L i b p q = 0.
Proof.
  intros Hi Hp Nb H. destruct (Nat.lt_ge_cases i k) as [Li|Li].
  - rewrite slope_low by exact Li. destruct H as [H|H].
    + assert (Z : forall r, W r b = 0) by (intro r; apply W_out; lia). destruct i; rewrite !Z; ring.
    + assert (Z : forall r, M L q r = 0) by (intro r; apply M_out; lia).
      assert (Z' : forall r, M L r q = 0) by (intro r; apply M_out; lia).
      destruct i; rewrite ?(W_out q b), ?Z, ?Z' by lia; ring.
  - destruct (high i Li) as [Ei _]. rewrite Ei in Nb. rewrite slope_high by assumption. rewrite W_out by lia. ring.
Qed.
(** M_iq + M_qi - M_q,i-1 = -(-1)^{i+q} for q < i *)
Lemma c_sum L i q : (S i < m)%nat -> (q < S i)%nat -> M L (S i) q + M L q (S i) - M L q i = - alt (S i + q).
Proof.
  intros Hm H. assert (Q : forall t, (1 <= t)%nat -> 2 * INR (Nat.div2 (S t)) - 2 * INR (Nat.div2 t) = 1 + alt (S t)).
  { intro t. induction t as [t IH] using lt_wf_ind. intros Ht. destruct t as [|[|t]]; [lia|unfold alt; simpl; lra|].
    change (Nat.div2 (S (S (S t)))) with (S (Nat.div2 (S t))). change (Nat.div2 (S (S t))) with (S (Nat.div2 t)).
    rewrite !S_INR.
    destruct t as [|t]; [unfold alt; simpl; lra|]. specialize (IH (S t) ltac:(lia) ltac:(lia)). rewrite !alt_S in *.
    lra. }
  rewrite !M_cases by lia. destruct (Nat.ltb_spec (S i) q); [lia|]. destruct (Nat.ltb_spec q (S i)); [|lia].
  destruct (Nat.eq_dec q i) as [->|N].
  - destruct (Nat.leb_spec (S i) (S i)); [|lia]. destruct (Nat.ltb_spec i i); [lia|].
    destruct (Nat.leb_spec i (S i)); [|lia].
    replace (S i - i)%nat with 1%nat by lia. simpl (Nat.div2 1). simpl (INR 0). simpl (S i + i)%nat.
    rewrite alt_S, alt_add, alt_sq. cbn [chain_top]. ring.
  - destruct (Nat.leb_spec (S i) (S q)); [lia|]. destruct (Nat.ltb_spec q i); [|lia].
    replace (S i - q)%nat with (S (i - q)) by lia. specialize (Q (i - q)%nat ltac:(lia)).
    simpl (S i + q)%nat. rewrite alt_S in *. rewrite alt_parity in Q by lia. rewrite (Nat.add_comm i q). lra.
Qed.

Definition rank_of (i b : nat) : nat := if Nat.ltb i k
  then (i * m + (if Nat.eqb b i then 0 else if Nat.ltb i b then m - b else m - i + b))%nat else (k * m + (m - b))%nat.
Definition same (i a p b : nat) : bool :=
  if Nat.ltb i k then andb (Nat.eqb p i) (Nat.eqb b a) else andb (Nat.leb k p) (Nat.eqb b a).
Lemma rank_top i b : (i < n)%nat -> (b < d)%nat -> (rank_of i b <= k * m + m)%nat.
Proof.
  intros Hi Hb. unfold rank_of. destruct (Nat.ltb_spec i k); [|lia]. destruct (Nat.eqb_spec b i); [nia|].
  destruct (Nat.ltb_spec i b); nia.
Qed.
Lemma same_rank i a p b : same i a p b = true -> rank_of p b = rank_of i a.
Proof.
  unfold same, rank_of. destruct (Nat.ltb_spec i k); intros H'; apply andb_prop in H' as [H1 H2];
    apply Nat.eqb_eq in H2; subst b.
  - apply Nat.eqb_eq in H1. subst p. destruct (Nat.ltb_spec i k); [reflexivity|lia].
  - apply Nat.leb_le in H1. destruct (Nat.ltb_spec p k); [lia|reflexivity].
Qed.
Lemma tri_low L i b q : (i < k)%nat -> (b < m)%nat -> (q < m)%nat -> b <> i -> q <> b ->
  (rank_of i b <= rank_of i q)%nat -> slo L i b i q = 0.
Proof.
  intros Hi Hb Hq Nb Nq Ho. rewrite slope_low by exact Hi. rewrite eye_same.
  unfold rank_of in Ho. destruct (Nat.ltb_spec i k); [|lia]. destruct (Nat.eqb_spec b i); [lia|].
  destruct (Nat.ltb_spec i b) as [Lb|Lb].
  - assert (qb : (q < b)%nat) by (destruct (Nat.eqb_spec q i); destruct (Nat.ltb_spec i q); lia).
    rewrite (W_out q b), (W_out i b) by lia. destruct i as [|r]; [ring|]. rewrite (W_out r b) by lia.
    rewrite eye_diff by lia. ring.
  - assert (qb : (b < q < i)%nat) by (destruct (Nat.eqb_spec q i); destruct (Nat.ltb_spec i q); lia).
    destruct i as [|r]; [lia|]. assert (C := c_sum L r q ltac:(lia) ltac:(lia)). rewrite (eye_diff (S r) r) by lia.
    rewrite !W_in by lia. simpl (S r + b)%nat. rewrite alt_S.
    replace (1 * (alt (q + b) * lam ^ b) + - alt (r + b) * lam ^ b * (1 * M L q (S r) + 1 * M L (S r) q) + (0 * (alt (q
      + b) * lam ^ b) + alt (r + b) * lam ^ b * (1 * M L q r + 0 * M L (S r) q)))
      with (lam ^ b * (alt (q + b) - alt (r + b) * (M L (S r) q + M L q (S r) - M L q r))) by ring.
    rewrite C. simpl (S r + q)%nat. rewrite alt_S, !alt_add.
    replace (alt q * alt b - alt r * alt b * - - (alt r * alt q)) with (alt q * alt b * (1 - alt r * alt r)) by ring.
    rewrite alt_sq. ring.
Qed.
Lemma tri_chain L i a p b : (i < n)%nat -> (a < d)%nat -> (p < n)%nat -> (b < d)%nat -> same i a p b = false ->
  (rank_of i a <= rank_of p b)%nat -> lim L i a p b = 0.
Proof.
  intros Hi Ha Hp Hb Ns Ho. rewrite lim_form by assumption. destruct (Nat.eqb_spec a (place i)) as [|Na];
    [reflexivity|].
  replace (SharpLayer.slope n d W focus X0 (M L) i a p b) with 0; [unfold Rdiv; ring|]. symmetry.
  destruct (Nat.lt_ge_cases a m) as [La|La]; [|apply slope_out; auto].
  destruct (Nat.lt_ge_cases b m) as [Lb|Lb]; [|apply slope_out; auto].
  unfold same in Ns. destruct (Nat.ltb_spec i k) as [Li|Li].
  - destruct (low i Li) as [Ei _]. rewrite Ei in Na. destruct (Nat.lt_trichotomy p i) as [H|[->|H]].
    + exfalso. unfold rank_of in Ho. destruct (Nat.ltb_spec i k); [|lia]. destruct (Nat.ltb_spec p k); [|lia].
      destruct (Nat.eqb_spec a i); [lia|]. destruct (Nat.eqb_spec b p); destruct (Nat.ltb_spec i a);
        destruct (Nat.ltb_spec p b); nia.
    + rewrite Nat.eqb_refl in Ns. cbn [andb] in Ns. apply Nat.eqb_neq in Ns. apply (tri_low L i a b); auto.
    + rewrite slope_low by exact Li. rewrite (eye_diff p i) by lia. destruct i; [ring|].
      rewrite (eye_diff p i) by lia. ring.
  - destruct (high i Li) as [Ei _]. rewrite Ei in Na. rewrite slope_high by assumption.
    destruct (Nat.leb_spec k p) as [Lp|Lp].
    + cbn [andb] in Ns. apply Nat.eqb_neq in Ns. unfold rank_of in Ho. destruct (Nat.ltb_spec i k); [lia|].
      destruct (Nat.ltb_spec p k); [lia|]. rewrite W_out by lia. ring.
    + unfold focus. destruct (Nat.ltb_spec i k); [lia|]. destruct (Nat.ltb_spec p k); [ring|lia].
Qed.
Lemma lam_pow b : 0 <= lam ^ S b <= lam.
Proof.
  assert (0 <= lam ^ b <= 1) by (split; [apply pow_le; lra|rewrite <- (pow1 b); apply pow_incr; lra]). simpl. nra.
Qed.
Lemma diag_low L i b : (i < k)%nat -> (b < d)%nat ->
  lim L i b i b = if andb (Nat.ltb i b) (Nat.ltb b m) then lam ^ (b - i) else 0.
Proof.
  intros Hi Hb. rewrite lim_form by lia. destruct (low i Hi) as [Ei _]. rewrite Ei.
  destruct (Nat.eqb_spec b i) as [->|Nb]; [destruct (Nat.ltb_spec i i); [lia|reflexivity]|].
  unfold scale. destruct (Nat.ltb_spec i k); [|lia]. assert (P := pow_lt lam i ltac:(lra)).
  destruct (Nat.ltb_spec b m) as [Lb|Lb].
  2: { rewrite Bool.andb_false_r, slope_out by (auto; lia). unfold Rdiv. ring. }
  rewrite slope_low by exact Hi. rewrite eye_same. rewrite (W_in b b), alt_add, alt_sq by lia.
  destruct (Nat.ltb_spec i b) as [L1|L1]; cbn [andb].
  - rewrite (W_out i b) by lia. replace (lam ^ b) with (lam ^ (b - i) * lam ^ i) by (rewrite <- pow_add; f_equal; lia).
    destruct i as [|r]; [field; lra|]. rewrite (W_out r b), eye_diff by lia. field. lra.
  - destruct i as [|r]; [lia|]. assert (C := c_sum L r b ltac:(lia) ltac:(lia)). rewrite (eye_diff (S r) r) by lia.
    rewrite (W_in (S r) b), (W_in r b) by lia. simpl (S r + b)%nat. rewrite alt_S.
    replace (1 * (1 * lam ^ b) + - alt (r + b) * lam ^ b * (1 * M L b (S r) + 1 * M L (S r) b) + (0 * (1 * lam ^ b) +
      alt (r + b) * lam ^ b * (1 * M L b r + 0 * M L (S r) b)))
      with (lam ^ b * (1 - alt (r + b) * (M L (S r) b + M L b (S r) - M L b r))) by ring.
    rewrite C. simpl (S r + b)%nat. rewrite alt_S.
    replace (1 - alt (r + b) * - - alt (r + b)) with (1 - alt (r + b) * alt (r + b)) by ring. rewrite alt_sq.
    unfold Rdiv. ring.
Qed.
Lemma rows_chain L i a : (i < n)%nat -> (a < d)%nat ->
  sum n (fun p => sum d (fun b => if same i a p b then Rabs (lim L i a p b) else 0)) <= lam.
Proof.
  intros Hi Ha. destruct (Nat.lt_ge_cases i k) as [Li|Li].
  - rewrite (sum_single n _ i Hi).
    + rewrite (sum_single d _ a Ha).
      * unfold same. destruct (Nat.ltb_spec i k); [|lia]. rewrite !Nat.eqb_refl. cbn [andb]. rewrite diag_low by lia.
        destruct (andb _ _) eqn:E; [|rewrite Rabs_R0; lra]. apply andb_prop in E as [E _]. apply Nat.ltb_lt in E.
        replace (a - i)%nat with (S (a - i - 1)) by lia. assert (Q := lam_pow (a - i - 1)). rewrite Rabs_right; lra.
      * intros b Hb Nb. unfold same. destruct (Nat.ltb_spec i k); [|lia]. rewrite Nat.eqb_refl.
        destruct (Nat.eqb_spec b a); [lia|reflexivity].
    + intros p Hp Np. rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros b Hb. unfold same.
      destruct (Nat.ltb_spec i k); [|lia]. destruct (Nat.eqb_spec p i); [lia|reflexivity].
  - assert (P := scale_pos i Hi).
    apply Rle_trans with (sum n (fun p => focus i p * (lam * / scale i))).
    + apply sum_le; intros p Hp. destruct (focus_in i p Hi Hp) as [f0 _].
      assert (R0 : 0 <= focus i p * (lam * / scale i)) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; [lra|left;
        now apply Rinv_0_lt_compat]]).
      rewrite (sum_single d _ a Ha).
      * unfold same. destruct (Nat.ltb_spec i k); [lia|]. rewrite Nat.eqb_refl.
        destruct (Nat.leb k p); cbn [andb]; [|exact R0]. rewrite lim_form by assumption.
        destruct (high i Li) as [Ei _]. rewrite Ei. destruct (Nat.eqb_spec a 0) as [|Na]; [rewrite Rabs_R0; exact R0|].
        rewrite slope_high by assumption. destruct (Nat.lt_ge_cases a m) as [La|La].
        -- rewrite W_in, alt_add, alt_sq, Rmult_1_l by lia. destruct a as [|a]; [lia|]. assert (Q := lam_pow a).
           unfold Rdiv. rewrite Rabs_right.
           ++ rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r; [left;
                now apply Rinv_0_lt_compat|lra].
           ++ apply Rle_ge, Rmult_le_pos; [apply Rmult_le_pos; lra|left; now apply Rinv_0_lt_compat].
        -- rewrite W_out by lia. unfold Rdiv. rewrite Rmult_0_r, Rmult_0_l, Rabs_R0. exact R0.
      * intros b Hb Nb. unfold same. destruct (Nat.ltb_spec i k); [lia|]. destruct (Nat.eqb_spec b a); [lia|].
        now rewrite Bool.andb_false_r.
    + rewrite sum_scal_r. unfold scale in *. destruct (Nat.ltb_spec i k); [lia|]. right. field. lra.
Qed.
Lemma G_proper : proper_mask n G.
Proof.
  split; [intros i j Hi Hj; now apply G01|]. intros i Hi. exists i. split; [exact Hi|]. rewrite Gself by exact Hi. lra.
Qed.
Lemma keeps_zero L X : (forall i b, (i < n)%nat -> (b < d)%nat -> Nat.leb k b = true -> X i b = 0) ->
  forall i b, (i < n)%nat -> (b < d)%nat -> Nat.leb k b = true -> sphere_map n d (M L) W G X i b = 0.
Proof.
  intros H i b Hi Hb Hz. rewrite sphere_form by (auto using G_proper; lia). unfold Ux.
  rewrite (sum_ext n _ (fun _ => 0)); [rewrite sum_zero; unfold Rdiv; ring|]. intros j Hj. unfold vmat.
  rewrite (sum_ext d _ (fun _ => 0)); [rewrite sum_zero; ring|]. intros a Ha. apply Nat.leb_le in Hz.
  destruct (Nat.le_gt_cases k a) as [Lk|Lk]; [rewrite (H j a Hj Ha) by (now apply Nat.leb_le); ring|].
  rewrite W_out by lia. ring.
Qed.

(** An equilibrium of rank k, for all large L. *)
Theorem chain_rest eta : 0 < eta <= (1 - lam) / 2 -> eta <= / (2 * INR n) -> exists L0, forall L, L0 <= L ->
  exists Z : mat, let F := sphere_map n d (M L) W G in
  within n d eta (fun i a => Z i a - X0 i a) /\ (forall i, (i < n)%nat -> l2 d (Z i) = 1) /\ fixed n d F Z /\
  has_rank n d Z k /\ attracts n d F Z /\ exists J, derivative n d F Z J /\
  (k = n -> forall z : C, eigenvalue n d J z -> Cmod z <= eta \/ exists i b, (i < b)%nat /\ (b < n)%nat /\
    Cmod (z - RtoC (lam ^ (b - i)))%C <= eta).
Proof.
  intros He He'. assert (n1 : 1 <= INR n) by (apply (le_INR 1); lia).
  assert (lam' : 0 <= lam < 1) by lra. assert (dp : (0 < d)%nat) by lia.
  destruct (sharp_rest n d M W G X0 focus peak scale dp G_proper M_poly sharp_M scale_pos rests_X0 units_X0 lam eta
    rank_of (k * m + m) same lam' He rank_top same_rank tri_chain rows_chain (fun b => Nat.leb k b)) as [L0 HL0].
  - intros i b Hi Hb Hz. apply Nat.leb_le in Hz. rewrite X0_form. assert (P := place_k i). rewrite eye_diff by lia.
    ring.
  - exact keeps_zero.
  - exists L0. intros L HL. destruct (HL0 L HL) as (mm & Z & L1 & Wi & Fx & At & Un & Dv & Sr & Zr). exists Z.
    intro F. split; [exact Wi|split; [exact Un|split; [exact Fx|split; [|split; [exact At|]]]]].
    + apply rank_near; try lia.
      * intros i a Hi Ha. specialize (Wi i a ltac:(lia) ltac:(lia)). cbv beta in Wi. unfold chain_tokens in Wi.
        destruct (Nat.ltb_spec i k); [|lia]. eapply Rle_trans; [exact Wi|]. eapply Rle_trans; [exact He'|].
        assert (1 <= INR k) by (apply (le_INR 1); lia). assert (INR k <= INR n) by (apply le_INR; lia).
        apply Rinv_le_contravar; lra.
      * intros i b Hi Hb Hz. apply Zr; auto. now apply Nat.leb_le.
    + exists (dF n d (M L) W G Z). split; [exact Dv|]. intros Ek z Hz.
      destruct (sharp_discs n d M W G X0 focus scale dp lam eta rank_of (k * m + m) same lam' He rank_top mm L Z z)
        as (i & a & Hi & Ha & Q); [|exact L1|exact Sr|exact Hz|].
      * intros i a p b Hi. unfold same. destruct (Nat.ltb_spec i k); [reflexivity|lia].
      * rewrite diag_low in Q by lia. destruct (andb _ _) eqn:E.
        -- apply andb_prop in E as [E1 E2]. apply Nat.ltb_lt in E1, E2. right. exists i, a. repeat split; auto. lia.
        -- left. replace z with (z - RtoC 0)%C by (unfold Cminus, Copp, Cplus, RtoC; destruct z; simpl; f_equal; ring).
           exact Q.
Qed.
End Chain.

(** One gap for all ranks. *)
Theorem chain_ranks n d m (G : mat) lam eta : (0 < m <= n)%nat -> (m <= d)%nat -> 0 < lam < 1 ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= G i j <= 1) -> (forall i, (i < n)%nat -> G i i = 1) ->
  (forall i, (S i < m)%nat -> G (S i) i = 1) -> 0 < eta ->
  exists L : nat, let F := sphere_map n d (chain_logits m (INR L)) (chain_values m lam) G in
  forall k, (1 <= k <= m)%nat -> exists Z : mat,
  within n d eta (fun i a => Z i a - chain_tokens k i a) /\ (forall i, (i < n)%nat -> l2 d (Z i) = 1) /\
  fixed n d F Z /\ has_rank n d Z k /\ attracts n d F Z /\ exists J, derivative n d F Z J /\
  (k = n -> forall z : C, eigenvalue n d J z -> Cmod z <= eta \/ exists i b, (i < b)%nat /\ (b < n)%nat /\
    Cmod (z - RtoC (lam ^ (b - i)))%C <= eta).
Proof.
  intros Hm Hd Hl G01 G1 G2 He. assert (n1 : 1 <= INR n) by (apply (le_INR 1); lia).
  set (e := Rmin eta (Rmin ((1 - lam) / 2) (/ (2 * INR n)))).
  assert (E1 := Rmin_l eta (Rmin ((1 - lam) / 2) (/ (2 * INR n)))).
  assert (E2 := Rmin_r eta (Rmin ((1 - lam) / 2) (/ (2 * INR n)))).
  assert (E3 := Rmin_l ((1 - lam) / 2) (/ (2 * INR n))). assert (E4 := Rmin_r ((1 - lam) / 2) (/ (2 * INR n))).
  assert (e0 : 0 < e) by (unfold e; repeat apply Rmin_glb_lt; [lra|lra|apply Rinv_0_lt_compat; lra]). fold e in E1, E2.
  destruct (Germs.uniform (S m) (fun k L => forall L', INR L <= L' -> (1 <= k)%nat -> exists Z : mat,
    let F := sphere_map n d (chain_logits m L') (chain_values m lam) G in
    within n d e (fun i a => Z i a - chain_tokens k i a) /\ (forall i, (i < n)%nat -> l2 d (Z i) = 1) /\
    fixed n d F Z /\ has_rank n d Z k /\ attracts n d F Z /\ exists J, derivative n d F Z J /\
    (k = n -> forall z : C, eigenvalue n d J z -> Cmod z <= e \/ exists i b, (i < b)%nat /\ (b < n)%nat /\
      Cmod (z - RtoC (lam ^ (b - i)))%C <= e))) as [L HL].
  - intros k L L' LL H L'' HL. apply H. assert (INR L <= INR L') by now apply le_INR. lra.
  - intros k Hk. destruct k as [|k]; [exists 0%nat; intros; lia|].
    destruct (chain_rest n d m (S k) G lam ltac:(lia) (proj2 Hm) Hd Hl G01 G1 G2 e ltac:(lra) ltac:(lra)) as [L0 H0].
    destruct (INR_above L0) as [L HL]. exists L. intros L' HL' _. apply H0. lra.
  - exists L. intros F k Hk. destruct (HL k ltac:(lia) (INR L) (Rle_refl _) ltac:(lia)) as (Z & Wi & Un & Fx & Rk & At &
      J & Dv & Ev). exists Z.
    split; [intros i a Hi Ha; specialize (Wi i a Hi Ha); cbv beta in *; lra|].
    split; [exact Un|split; [exact Fx|split; [exact Rk|split; [exact At|exists J; split; [exact Dv|]]]]].
    intros Ek z Hz. destruct (Ev Ek z Hz) as [Q|(i & b & Q1 & Q2 & Q3)]; [left; lra|right; exists i, b].
    repeat split; auto; lra.
Qed.

(** No mask, every number of tokens: an equilibrium of full rank attracts, with eigenvalues below any bound. *)
Theorem chain_complete n dl : (0 < n)%nat -> 0 < dl -> exists M W Z : mat, let F := sphere_map n n M W nomask in
  within n n (/ (2 * INR n)) (fun i a => Z i a - eye i a) /\ (forall i, (i < n)%nat -> l2 n (Z i) = 1) /\
  fixed n n F Z /\ has_rank n n Z n /\ attracts n n F Z /\
  exists J, derivative n n F Z J /\ forall z : C, eigenvalue n n J z -> Cmod z <= dl.
Proof.
  intros Hn D. set (lam := Rmin dl 1 / 2). assert (M1 := Rmin_l dl 1). assert (M2 := Rmin_r dl 1).
  assert (M0 : 0 < Rmin dl 1) by (apply Rmin_glb_lt; lra).
  assert (n1 : 1 <= INR n) by (apply (le_INR 1); lia). set (e := Rmin lam (/ (2 * INR n))).
  assert (E1 := Rmin_l lam (/ (2 * INR n))). assert (E2 := Rmin_r lam (/ (2 * INR n))). fold e in E1, E2.
  assert (e0 : 0 < e) by (apply Rmin_glb_lt; [unfold lam; lra|apply Rinv_0_lt_compat; lra]).
  destruct (chain_ranks n n n nomask lam e) as [L HL]; try lia; try (intros; unfold nomask; lra);
    try (unfold lam; lra).
  destruct (HL n ltac:(lia)) as (Z & Wi & Un & Fx & Rk & At & J & Dv & Ev).
  exists (chain_logits n (INR L)), (chain_values n lam), Z. intro F.
  split; [intros i a Hi Ha; specialize (Wi i a Hi Ha); cbv beta in *; unfold chain_tokens in Wi;
    destruct (Nat.ltb_spec i n); [lra|lia]|].
  split; [exact Un|split; [exact Fx|split; [exact Rk|split; [exact At|exists J; split; [exact Dv|]]]]].
  intros z Hz. destruct (Ev eq_refl z Hz) as [Q|(i & b & Lb & _ & Q)]; [unfold lam in E1; lra|].
  replace z with ((z - RtoC (lam ^ (b - i))) + RtoC (lam ^ (b - i)))%C by ring.
  eapply Rle_trans; [apply Cmod_triangle|]. rewrite Cmod_R. replace (b - i)%nat with (S (b - i - 1)) by lia.
  assert (P := lam_pow lam ltac:(unfold lam; lra) (b - i - 1)). rewrite Rabs_right by lra.
  replace (S (b - i - 1)) with (b - i)%nat in * by lia. assert (Lh : lam <= dl / 2) by (unfold lam; lra). lra.
Qed.
