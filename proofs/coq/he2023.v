(** he2023:u-spa and he2023:e-spa, as we read them.  L_x is the lower triangular matrix with a positive diagonal and
  L_x L_x^T = Sigma_x.  The attention A = L_b L_a^-1 that carries tokens with the
    kernel Sigma_a into tokens with the kernel Sigma_b is entrywise non-negative for 0 < a < b < 1,
      for the uniform kernels (1 - x) I + x 1 1^T  [u_spa] and the exponential
    kernels x^|i-j|  [e_spa].  The factors are found in closed form; they are the only ones  [factor_unique]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Language.
From Rankmath Require Import Definitions Norms seed_closure.
Local Open Scope R_scope.

(** The factor of a kernel and the two kernels are words of the language. *)
Notation factor := Language.factor.
Notation uniform := Language.uniform.
Notation exponential := Language.exponential.

Lemma sum_to n f j : (j < n)%nat -> (forall k, (k < n)%nat -> (j < k)%nat -> f k = 0) -> sum n f = sum j f + f j.
Proof.
  intros Hj H. replace n with (S j + (n - S j))%nat by lia. rewrite sum_split,
    (sum_ext (n - S j) _ (fun _ => 0)) by (intros; apply H; lia). rewrite sum_zero. cbn [sum]. ring.
Qed.

Lemma factor_unique n S L M : factor n S L -> factor n S M -> forall j i, (j < n)%nat -> (i < n)%nat -> L i j = M i j.
Proof.
  intros [LT [LP LS]] [MT [MP MS]] j. induction j as [j IH] using lt_wf_ind; intros i Hj Hi.
  assert (Row : forall k, (k < n)%nat -> L k j * L j j = M k j * M j j).
  { intros k Hk. assert (E : dot n (L k) (L j) = dot n (M k) (M j)) by (rewrite LS, MS by assumption; reflexivity).
    unfold dot in E.
    rewrite (sum_to n (fun a => L k a * L j a) j Hj) in E by (intros a Ha Hja; rewrite (LT j a) by assumption; ring).
    rewrite (sum_to n (fun a => M k a * M j a) j Hj) in E by (intros a Ha Hja; rewrite (MT j a) by assumption; ring).
    rewrite (sum_ext j (fun a => L k a * L j a) (fun a => M k a * M j a)) in E by (intros a Ha;
      rewrite !(IH a) by (assumption || lia); reflexivity). lra. }
  assert (D : L j j = M j j) by (assert (A := LP j Hj); assert (B := MP j Hj); assert (E := Row j Hj); nra).
  assert (E := Row i Hi). rewrite D in E. assert (A := MP j Hj). apply Rmult_eq_reg_r in E; lra.
Qed.

(** If A L_a = L_b and L_a v = e_j, then column j of A is L_b v. *)
Lemma column n (A La Lb : mat) v i j : (i < n)%nat -> (j < n)%nat -> (forall l, (l < n)%nat ->
  mmul n A La i l = Lb i l) -> (forall l, (l < n)%nat -> dot n (La l) v = eye l j) ->
  A i j = dot n (Lb i) v.
Proof.
  intros Hi Hj HA Hv. rewrite <- (sum_eye_r n j (A i) Hj). rewrite (sum_ext n _ (fun l => sum n (fun k => A i l * La l
    k * v k))).
  - rewrite sum_swap. apply sum_ext; intros k Hk. rewrite sum_scal_r. f_equal. now apply HA.
  - intros l Hl. rewrite <- (Hv l Hl). unfold dot. rewrite <- sum_scal. apply sum_ext; intros; ring.
Qed.

(* ---------- exponential kernels ---------- *)
Definition Lexp (x : R) : mat := fun i j => if Nat.leb j i then (if Nat.eqb j 0 then 1 else sqrt (1 - x * x)) * x ^ (i
  - j) else 0.

Lemma Lexp_factor n x : 0 < x < 1 -> factor n (exponential x) (Lexp x).
Proof.
  intros Hx. assert (s0 : 0 < 1 - x * x) by nra. assert (s2 := sqrt_sqrt (1 - x * x) ltac:(lra)).
  assert (sp := sqrt_lt_R0 _ s0). set (s := sqrt (1 - x * x)) in *. split; [|split].
  - intros i j _ _ L. unfold Lexp. destruct (Nat.leb_spec j i); [lia|reflexivity].
  - intros i _. unfold Lexp. rewrite Nat.leb_refl, Nat.sub_diag. fold s. destruct Nat.eqb; simpl; lra.
  - assert (G : forall i j, (i < n)%nat -> (j <= i)%nat -> dot n (Lexp x i) (Lexp x j) = x ^ (i - j)).
    { intros i j Hi Hj. unfold dot. rewrite (sum_to n _ j ltac:(lia)) by (intros k Hk L; unfold Lexp;
        destruct (Nat.leb_spec k j); [lia|ring]).
      change (sum j (fun k => Lexp x i k * Lexp x j k) + Lexp x i j * Lexp x j j) with (sum (S j) (fun k => Lexp x i k
        * Lexp x j k)).
      assert (P : forall t, (t <= j)%nat -> sum (S t) (fun k => Lexp x i k * Lexp x j k) = x ^ ((i - t) + (j - t))).
      { induction t as [|t IH]; intros Ht.
        - cbn [sum]. unfold Lexp. cbn [Nat.leb Nat.eqb]. rewrite pow_add. ring.
        - change (sum (S (S t)) (fun k => Lexp x i k * Lexp x j k)) with (sum (S t) (fun k => Lexp x i k * Lexp x j k)
            + Lexp x i (S t) * Lexp x j (S t)). rewrite IH by lia. unfold Lexp.
          destruct (Nat.leb_spec (S t) i); [|lia]. destruct (Nat.leb_spec (S t) j); [|lia]. cbn [Nat.eqb]. fold s.
          replace ((i - t) + (j - t))%nat with (2 + ((i - S t) + (j - S t)))%nat by lia.
          rewrite !pow_add. replace (s * x ^ (i - S t) * (s * x ^ (j - S t))) with (s * s * (x ^ (i - S t) * x ^ (j - S
            t))) by ring. rewrite s2. simpl. ring. }
      rewrite P by lia. f_equal. lia. }
    intros i j Hi Hj. unfold Language.exponential. destruct (Nat.le_gt_cases j i) as [L|L];
      [rewrite G by assumption|rewrite dot_sym, G by lia]; f_equal; lia.
Qed.

Theorem e_spa n a b (La Lb A : mat) : 0 < a < b -> b < 1 -> factor n (exponential a) La ->
  factor n (exponential b) Lb ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> mmul n A La i j = Lb i j) -> forall i j, (i < n)%nat -> (j < n)%nat ->
    0 <= A i j.
Proof.
  intros Ha Hb Fa Fb HA i j Hi Hj. assert (Ua := factor_unique n _ _ _ Fa (Lexp_factor n a ltac:(lra))).
  assert (Ub := factor_unique n _ _ _ Fb (Lexp_factor n b ltac:(lra))).
  assert (sa0 : 0 < sqrt (1 - a * a)) by (apply sqrt_lt_R0; nra).
  assert (sb0 : 0 < sqrt (1 - b * b)) by (apply sqrt_lt_R0; nra).
  assert (sab : sqrt (1 - b * b) <= sqrt (1 - a * a)) by (apply sqrt_le_1_alt; nra).
  set (h := if Nat.eqb j 0 then 1 else sqrt (1 - a * a)). assert (h0 : 0 < h) by (unfold h; destruct Nat.eqb; lra).
  (* e_j = (L_j - (h a/s) L_(j+1))/h, in columns of L_a *)
  set (v := fun k => eye k j / h - (if Nat.eqb k (S j) then a / sqrt (1 - a * a) else 0)).
  assert (Dv : forall (x : R) r, (r < n)%nat -> dot n (Lexp x r) v = Lexp x r j / h - a / sqrt (1 - a * a) * Lexp x r
    (S j)).
  { intros x r Hr. unfold dot, v. rewrite (sum_ext n _ (fun k => (Lexp x r k / h) * eye k j - (if Nat.eqb k (S j) then
      a / sqrt (1 - a * a) * Lexp x r k else 0))) by (intros k _; destruct (Nat.eqb k (S j)); unfold Rdiv; ring).
    rewrite sum_minus, (sum_eye_r n j (fun k => Lexp x r k / h) Hj). f_equal.
    destruct (Nat.lt_ge_cases (S j) n) as [L|L].
    - rewrite (sum_single n _ (S j) L); [rewrite Nat.eqb_refl; reflexivity|]. intros k _ Nk.
      destruct (Nat.eqb_spec k (S j)); [congruence|reflexivity].
    - rewrite (sum_ext n _ (fun _ => 0)) by (intros k Hk; destruct (Nat.eqb_spec k (S j)); [lia|reflexivity]).
      rewrite sum_zero. unfold Lexp. destruct (Nat.leb_spec (S j) r); [lia|ring]. }
  rewrite (column n A La Lb v i j Hi Hj (fun l Hl => HA i l Hi Hl)).
  - unfold dot. rewrite (sum_ext n _ (fun k => Lexp b i k * v k)) by (intros k Hk; now rewrite (Ub k i Hk Hi)).
    fold (dot n (Lexp b i) v). rewrite Dv by exact Hi. unfold Lexp. cbn [Nat.eqb].
    destruct (Nat.leb_spec j i) as [L|L]; [|destruct (Nat.leb_spec (S j) i); [lia|]; unfold Rdiv; lra].
    destruct (Nat.leb_spec (S j) i) as [L'|L'].
    + replace (i - j)%nat with (S (i - S j)) by lia. assert (p0 : 0 < b ^ (i - S j)) by (apply pow_lt; lra).
      set (p := b ^ (i - S j)) in *. unfold h. destruct Nat.eqb; cbn [pow].
      * replace (1 * (b * b ^ (i - S j)) / 1 - a / sqrt (1 - a * a) * (sqrt (1 - b * b) * p)) with (p * (b - a * (sqrt
          (1 - b * b) / sqrt (1 - a * a)))) by (unfold p; field; lra).
        apply Rmult_le_pos; [lra|]. assert (sqrt (1 - b * b) / sqrt (1 - a * a) <= 1) by (apply Rmult_le_reg_r with
          (sqrt (1 - a * a)); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra). nra.
      * replace (sqrt (1 - b * b) * (b * b ^ (i - S j)) / sqrt (1 - a * a) - a / sqrt (1 - a * a) * (sqrt (1 - b * b) *
          p)) with (p * (sqrt (1 - b * b) / sqrt (1 - a * a)) * (b - a)) by (unfold p; field; lra).
        apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [lra|]. left. now apply Rdiv_lt_0_compat.
    + rewrite Rmult_0_r, Rminus_0_r. apply Rle_mult_inv_pos; [|exact h0].
      apply Rmult_le_pos; [destruct Nat.eqb; lra|apply pow_le; lra].
  - intros l Hl. unfold dot. rewrite (sum_ext n _ (fun k => Lexp a l k * v k)) by (intros k Hk;
      now rewrite (Ua k l Hk Hl)). fold (dot n (Lexp a l) v). rewrite Dv by exact Hl. unfold Lexp, eye. cbn [Nat.eqb].
      fold h.
    destruct (Nat.leb_spec j l) as [L|L].
    + destruct (Nat.eqb_spec l j) as [->|Nl].
      * destruct (Nat.leb_spec (S j) j); [lia|]. rewrite Nat.sub_diag. simpl. field. lra.
      * destruct (Nat.leb_spec (S j) l); [|lia]. replace (l - j)%nat with (S (l - S j)) by lia. simpl pow. field. lra.
    + destruct (Nat.eqb_spec l j); [lia|]. destruct (Nat.leb_spec (S j) l); [lia|]. unfold Rdiv. ring.
Qed.

(* ---------- uniform kernels ---------- *)
(** 1 + (k - 1) x; the weight x/(1 + (k-1) x) of each earlier token in the best prediction of token k;
  the deviation of the error. *)
Definition den (x : R) (k : nat) : R := 1 + (INR k - 1) * x.
Definition wt (x : R) (k : nat) : R := x / den x k.
Definition dev (x : R) (k : nat) : R := sqrt ((1 - x) * (den x (S k) / den x k)).
Definition Luni (x : R) : mat := fun i j => if Nat.eqb i j then dev x j else if Nat.ltb j i then wt x (S j) * dev x j
  else 0.

Section Uniform.
Variable x : R.
Hypothesis Hx : 0 < x < 1.
Lemma den_pos k : 0 < den x k.
Proof. unfold den. assert (P := pos_INR k). nra. Qed.
Lemma den_S k : den x (S k) = den x k + x.
Proof. unfold den. rewrite S_INR. ring. Qed.
Lemma wt_pos k : 0 < wt x k. Proof. apply Rdiv_lt_0_compat; [lra|apply den_pos]. Qed.
Lemma dev_sq k : dev x k * dev x k = (1 - x) * (den x (S k) / den x k).
Proof. apply sqrt_sqrt. apply Rmult_le_pos; [lra|]. left. apply Rdiv_lt_0_compat; apply den_pos. Qed.
Lemma dev_pos k : 0 < dev x k.
Proof. apply sqrt_lt_R0. apply Rmult_lt_0_compat; [lra|]. apply Rdiv_lt_0_compat; apply den_pos. Qed.
Lemma wt_step k : wt x k * wt x (S k) = wt x k - wt x (S k).
Proof. unfold wt. assert (A := den_pos k). assert (B := den_pos (S k)). rewrite den_S in *. field. lra. Qed.

(** sum_(j < k < l) w_k w_(k+1) = w_(j+1) - w_l *)
Lemma telescope j l : (j < l)%nat -> sum l (fun k => if Nat.ltb j k then wt x k * wt x (S k) else 0) = wt x (S j) - wt
  x l.
Proof.
  induction l as [|l IH]; intros H; [lia|]. cbn [sum]. destruct (Nat.ltb_spec j l) as [L|L];
    [rewrite IH, wt_step by exact L; ring|].
  replace l with j by lia. rewrite (sum_ext j _ (fun _ => 0)) by (intros k Hk; destruct (Nat.ltb_spec j k);
    [lia|reflexivity]). rewrite sum_zero. ring.
Qed.

Lemma Luni_factor n : factor n (uniform x) (Luni x).
Proof.
  split; [|split].
  - intros i j _ _ L. unfold Luni. destruct (Nat.eqb_spec i j); [lia|]. destruct (Nat.ltb_spec j i); [lia|reflexivity].
  - intros i _. unfold Luni. rewrite Nat.eqb_refl. apply dev_pos.
  - assert (T : forall t i j, (t <= i)%nat -> (t <= j)%nat -> sum t (fun k => Luni x i k * Luni x j k) = x - x * (1 -
      x) / den x t).
    { induction t as [|t IH]; intros i j Ti Tj; cbn [sum]; [unfold den; simpl; field; lra|]. rewrite IH by lia.
      unfold Luni.
      destruct (Nat.eqb_spec i t); [lia|]. destruct (Nat.eqb_spec j t); [lia|]. destruct (Nat.ltb_spec t i); [|lia].
      destruct (Nat.ltb_spec t j); [|lia].
      replace (wt x (S t) * dev x t * (wt x (S t) * dev x t)) with (wt x (S t) * wt x (S t) * (dev x t * dev x t)) by
        ring. rewrite dev_sq. unfold wt. assert (A := den_pos t). assert (B := den_pos (S t)). rewrite den_S in *.
        field. lra. }
    assert (G : forall i j, (i < n)%nat -> (j <= i)%nat -> dot n (Luni x i) (Luni x j) = uniform x i j).
    { intros i j Hi Hj. unfold dot. rewrite (sum_to n _ j ltac:(lia)) by (intros k Hk L; unfold Luni;
        destruct (Nat.eqb_spec j k); [lia|]; destruct (Nat.ltb_spec k j); [lia|ring]).
      rewrite T by lia. unfold Luni, uniform. rewrite Nat.eqb_refl. assert (A := den_pos j).
      assert (B := den_pos (S j)). destruct (Nat.eqb_spec i j) as [E|E].
      - rewrite dev_sq, den_S. field. lra.
      - destruct (Nat.ltb_spec j i); [|lia]. rewrite Rmult_assoc, dev_sq. unfold wt. rewrite den_S in *. field. lra. }
    intros i j Hi Hj. destruct (Nat.le_gt_cases j i) as [L|L]; [now apply G|]. rewrite dot_sym, G by lia.
    unfold Language.uniform. now rewrite Nat.eqb_sym.
Qed.
End Uniform.

Lemma wt_grows a b k : 0 < a < b -> b < 1 -> wt a k <= wt b k.
Proof.
  intros Ha Hb. assert (A := den_pos a ltac:(lra) k). assert (B := den_pos b ltac:(lra) k). unfold wt.
  apply Rmult_le_reg_r with (den a k * den b k); [now apply Rmult_lt_0_compat|].
  replace (a / den a k * (den a k * den b k)) with (a * den b k) by (field; lra).
  replace (b / den b k * (den a k * den b k)) with (b * den a k) by (field; lra). unfold den. nra.
Qed.

(** dev_b k/dev_a k does not grow with k. *)
Lemma ratio_falls a b j k : 0 < a < b -> b < 1 -> (j <= k)%nat -> dev b k / dev a k <= dev b j / dev a j.
Proof.
  intros Ha Hb H. induction H as [|k H IH]; [lra|]. eapply Rle_trans; [|exact IH]. assert (ha : 0 < a < 1) by lra.
  assert (hb : 0 < b < 1) by lra.
  assert (a0 := dev_pos a ha k). assert (a1 := dev_pos a ha (S k)). assert (b0 := dev_pos b hb k).
  assert (b1 := dev_pos b hb (S k)).
  apply Rmult_le_reg_r with (dev a k * dev a (S k)); [now apply Rmult_lt_0_compat|].
  replace (dev b (S k) / dev a (S k) * (dev a k * dev a (S k))) with (dev b (S k) * dev a k) by (field; lra).
  replace (dev b k / dev a k * (dev a k * dev a (S k))) with (dev b k * dev a (S k)) by (field; lra).
  apply Rsqr_incr_0_var; [|apply Rmult_le_pos; lra]. unfold Rsqr.
  replace (dev b (S k) * dev a k * (dev b (S k) * dev a k)) with ((dev b (S k) * dev b (S k)) * (dev a k * dev a k)) by
    ring.
  replace (dev b k * dev a (S k) * (dev b k * dev a (S k))) with ((dev b k * dev b k) * (dev a (S k) * dev a (S k))) by
    ring. rewrite !dev_sq by assumption.
  assert (A := den_pos a ha k). assert (B := den_pos b hb k). assert (A1 := den_pos a ha (S k)).
  assert (B1 := den_pos b hb (S k)). rewrite !den_S. rewrite den_S in A1, B1.
  set (p := den a k) in *. set (q := den b k) in *. assert (W := wt_grows a b (S k) Ha Hb). unfold wt in W.
  rewrite !den_S in W. fold p q in W.
  (* (u + 2x) u/(u + x)^2 = 1 - (x/(u + x))^2 *)
  assert (W0 : 0 < a / (p + a)) by (apply Rdiv_lt_0_compat; lra).
  replace ((1 - b) * ((q + b + b) / (q + b)) * ((1 - a) * ((p + a) / p))) with ((1 - a) * (1 - b) * ((p + a) / p * ((q
    + b) / q)) * (1 - b / (q + b) * (b / (q + b)))) by (field; lra).
  replace ((1 - b) * ((q + b) / q) * ((1 - a) * ((p + a + a) / (p + a)))) with ((1 - a) * (1 - b) * ((p + a) / p * ((q
    + b) / q)) * (1 - a / (p + a) * (a / (p + a)))) by (field; lra).
  apply Rmult_le_compat_l; [|nra]. apply Rmult_le_pos; [apply Rmult_le_pos; lra|].
  apply Rmult_le_pos; left; apply Rdiv_lt_0_compat; lra.
Qed.

Theorem u_spa n a b (La Lb A : mat) : 0 < a < b -> b < 1 -> factor n (uniform a) La -> factor n (uniform b) Lb ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> mmul n A La i j = Lb i j) -> forall i j, (i < n)%nat -> (j < n)%nat ->
    0 <= A i j.
Proof.
  intros Ha Hb Fa Fb HA i j Hi Hj. assert (ha : 0 < a < 1) by lra. assert (hb : 0 < b < 1) by lra.
  assert (Ua := factor_unique n _ _ _ Fa (Luni_factor a ha n)).
  assert (Ub := factor_unique n _ _ _ Fb (Luni_factor b hb n)).
  set (v := fun k => if Nat.eqb k j then / dev a j else if Nat.ltb j k then - (wt a k / dev a k) else 0).
  assert (Row : forall x l, (l < n)%nat -> dot n (Luni x l) v = sum l (fun k => Luni x l k * v k) + Luni x l l * v l).
  { intros x l Hl. unfold dot. apply sum_to; [exact Hl|]. intros k Hk L. unfold Luni.
    destruct (Nat.eqb_spec l k); [lia|]. destruct (Nat.ltb_spec k l); [lia|ring]. }
  assert (Low : forall x l, (l < n)%nat -> (l < j)%nat -> dot n (Luni x l) v = 0).
  { intros x l Hl L. rewrite Row by exact Hl. assert (V : forall k, (k <= l)%nat -> v k = 0) by (intros k Hk; unfold v;
      destruct (Nat.eqb_spec k j); [lia|]; destruct (Nat.ltb_spec j k); [lia|reflexivity]).
    rewrite (V l) by lia. rewrite (sum_ext l _ (fun _ => 0)) by (intros k Hk; rewrite V by lia; ring).
    rewrite sum_zero. ring. }
  assert (Dia : forall x, dot n (Luni x j) v = dev x j / dev a j).
  { intro x. rewrite Row by exact Hj. rewrite (sum_ext j _ (fun _ => 0)) by (intros k Hk; unfold v;
      destruct (Nat.eqb_spec k j); [lia|]; destruct (Nat.ltb_spec j k); [lia|ring]).
    rewrite sum_zero. unfold Luni, v. rewrite !Nat.eqb_refl. unfold Rdiv. ring. }
  assert (Up : forall x l, (l < n)%nat -> (j < l)%nat -> dot n (Luni x l) v =
    wt x (S j) * (dev x j / dev a j) - sum l (fun k => if Nat.ltb j k then wt x (S k) * wt a k * (dev x k / dev a k)
      else 0) - wt a l * (dev x l / dev a l)).
  { intros x l Hl L. rewrite Row by exact Hl. rewrite (sum_ext l _ (fun k => (wt x (S k) * dev x k * / dev a k) * eye k
      j - (if Nat.ltb j k then wt x (S k) * wt a k * (dev x k / dev a k) else 0))).
    - rewrite sum_minus, (sum_eye_r l j (fun k => wt x (S k) * dev x k * / dev a k) L). unfold Luni, v.
      rewrite Nat.eqb_refl. destruct (Nat.eqb_spec l j); [lia|]. destruct (Nat.ltb_spec j l); [|lia]. unfold Rdiv. ring.
    - intros k Hk. unfold Luni, v, eye. destruct (Nat.eqb_spec l k); [lia|]. destruct (Nat.ltb_spec k l); [|lia].
      destruct (Nat.eqb_spec k j) as [->|]; [destruct (Nat.ltb_spec j j); [lia|]|destruct (Nat.ltb j k)]; unfold Rdiv;
        ring. }
  rewrite (column n A La Lb v i j Hi Hj (fun l Hl => HA i l Hi Hl)).
  - unfold dot. rewrite (sum_ext n _ (fun k => Luni b i k * v k)) by (intros k Hk; now rewrite (Ub k i Hk Hi)).
    fold (dot n (Luni b i) v).
    destruct (Nat.lt_total i j) as [L|[->|L]]; [rewrite Low by assumption; lra|rewrite Dia; left;
      apply Rdiv_lt_0_compat; now apply dev_pos|]. rewrite Up by assumption.
    set (r := fun k => dev b k / dev a k). fold (r j) (r i). assert (r0 : forall k, 0 < r k) by (intro k;
      apply Rdiv_lt_0_compat; now apply dev_pos).
    assert (S1 : sum i (fun k => if Nat.ltb j k then wt b (S k) * wt a k * r k else 0) <= r j * sum i (fun k => if
      Nat.ltb j k then wt b k * wt b (S k) else 0)).
    { rewrite <- sum_scal. apply sum_le; intros k Hk. destruct (Nat.ltb_spec j k) as [Ljk|Ljk]; [|lra].
      assert (Rf := ratio_falls a b j k Ha Hb ltac:(lia)). fold (r k) (r j) in Rf.
      assert (w1 := wt_grows a b k Ha Hb). assert (w2 := wt_pos b hb (S k)). assert (w3 := wt_pos a ha k).
      assert (rk := r0 k). replace (r j * (wt b k * wt b (S k))) with (wt b (S k) * wt b k * r j) by ring.
      apply Rmult_le_compat; [apply Rmult_le_pos; lra|lra|apply Rmult_le_compat_l; lra|exact Rf]. }
    rewrite (telescope b hb j i L) in S1. assert (Ri := ratio_falls a b j i Ha Hb ltac:(lia)). fold (r i) (r j) in Ri.
    assert (w1 := wt_grows a b i Ha Hb). assert (w3 := wt_pos a ha i). assert (ri := r0 i).
    assert (wt a i * r i <= wt b i * r j) by (apply Rmult_le_compat; lra). unfold r in S1 at 1. lra.
  - intros l Hl. unfold dot. rewrite (sum_ext n _ (fun k => Luni a l k * v k)) by (intros k Hk;
      now rewrite (Ua k l Hk Hl)). fold (dot n (Luni a l) v). unfold eye.
    destruct (Nat.lt_total l j) as [L|[->|L]].
    + rewrite Low by assumption. destruct (Nat.eqb_spec l j); [lia|reflexivity].
    + rewrite Dia, Nat.eqb_refl. assert (X := dev_pos a ha j). field. lra.
    + rewrite Up by assumption. destruct (Nat.eqb_spec l j); [lia|].
      assert (One : forall k, dev a k / dev a k = 1) by (intro k; assert (X := dev_pos a ha k); field; lra).
      rewrite !One.
      rewrite (sum_ext l _ (fun k => if Nat.ltb j k then wt a k * wt a (S k) else 0)) by (intros k _; rewrite One;
        destruct Nat.ltb; ring). rewrite (telescope a ha j l L). ring.
Qed.
