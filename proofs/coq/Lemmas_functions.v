(** Lemmas of the prover: numbers, tanh, exp and log, and statements on arrays. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms Softmax Masks own_flow_step own_position_bias dong2021
    Quantities Lemmas_norms Lemmas_tokens Lemmas_attention.
Local Open Scope R_scope.

(* ---------- numbers: n, d, H, L, r are positive integers ---------- *)
Theorem lemma_n_one n : (0 < n)%nat -> 1 <= INR n. Proof. apply one_INR. Qed.
Theorem lemma_d_one d : (0 < d)%nat -> 1 <= INR d. Proof. apply one_INR. Qed.
Theorem lemma_H_one H : (0 < H)%nat -> 1 <= INR H. Proof. apply one_INR. Qed.
Theorem lemma_L_one L : (0 < L)%nat -> 1 <= INR L. Proof. apply one_INR. Qed.
Theorem lemma_r_one r : (0 < r)%nat -> 1 <= INR r. Proof. apply one_INR. Qed.
Theorem lemma_x_star_low x : x_star_is x -> 5 / 4 <= x.
Proof. intros X. destruct x_star_spec as [y [_ [B [U _]]]]. rewrite (U x X). lra. Qed.
Theorem lemma_x_star_high x : x_star_is x -> x <= 1257 / 1000.
Proof. intros X. destruct x_star_spec as [y [_ [B [U _]]]]. rewrite (U x X). lra. Qed.
Theorem lemma_e_low : 27 / 10 <= exp 1.
Proof.
  replace 1 with (2 * (2 * (2 * (2 * 0.0625)))) by lra. assert (N := exp_near 0.0625 ltac:(lra)).
  apply (exp_double_low _ 1.648712); [split; [lra|]|lra]. apply (exp_double_low _ 1.284022); [split; [lra|]|lra].
  apply (exp_double_low _ 1.133147); [split; [lra|]|lra]. apply (exp_double_low _ 1.064494); [|lra]. split; lra.
Qed.
Theorem lemma_e_high : exp 1 <= 272 / 100.
Proof.
  replace 1 with (2 * (2 * (2 * (2 * 0.0625)))) by lra. assert (N := exp_near 0.0625 ltac:(lra)).
  apply (exp_double_high _ 1.648731); [|lra]. apply (exp_double_high _ 1.284029); [|lra].
  apply (exp_double_high _ 1.13315); [|lra]. apply (exp_double_high _ 1.064495); [|lra]. lra.
Qed.

(* ---------- arrays ---------- *)
(** a vector has an entry *)
Theorem lemma_count_one m : (0 < m)%nat -> 1 <= INR m. Proof. apply one_INR. Qed.
(** a is the least of f 0, ..., f (m-1), attained at i, and b the least of the others *)
Definition least_two (m : nat) (f : vec) (a b : R) : Prop := exists i k,
  (i < m)%nat /\ (k < m)%nat /\ i <> k /\ f i = a /\ f k = b /\
  (forall j, (j < m)%nat -> a <= f j) /\ (forall j, (j < m)%nat -> j <> i -> b <= f j).
Theorem lemma_length_order m d (Y : mat) a b : least_two m (fun i => l2 d (Y i)) a b -> a <= b.
Proof. intros [i [k [_ [Hk [_ [_ [E [A _]]]]]]]]. rewrite <- E. now apply A. Qed.
(** Needs that C is a matrix of cosines: the least entry of any matrix has no bound. *)
Theorem lemma_cosine_one n C i j : cosines n C -> least_pair n C i j -> C i j <= 1.
Proof.
  intros [_ [D _]] [Hi [_ L]]. rewrite <- (D i Hi). now apply L.
Qed.
(** Needs that the layers are stochastic (or only not negative). *)
Theorem lemma_share_tail n (P : nat -> mat) T j : (forall s, (s < T)%nat -> row_stochastic n n (P s)) -> (j < n)%nat ->
  maxf n (fun m => steps n P 0 T m j) <= maxf n (tail_from n j (steps n P 0 T)).
Proof.
  intros St Hj. apply maxf_lub; [apply maxf_pos|]. intros m Hm.
  eapply Rle_trans; [|apply (maxf_ub n (tail_from n j (steps n P 0 T)) m Hm)].
  destruct (steps_stochastic n P 0 T ltac:(intros; apply St; lia) T ltac:(lia)) as [S0 _]. unfold tail_from.
  eapply Rle_trans; [|apply (sum_term_le n (fun k => steps n P 0 T m k * from j k) j)].
  - cbv beta. unfold from. rewrite Nat.leb_refl. lra.
  - intros k Hk. apply Rmult_le_pos; [now apply S0|]. unfold from. destruct Nat.leb; lra.
  - exact Hj.
Qed.

(* ---------- functions of real numbers ---------- *)
Theorem lemma_whole_two n : 1 < INR n -> 2 <= INR n.
Proof. intros H. apply (le_INR 2). apply (INR_lt 1) in H. lia. Qed.
Theorem lemma_n_half n : 2 <= INR n -> INR n <= 2 * (INR n - 1). Proof. lra. Qed.
Theorem lemma_tanh_one x : tanh x < 1. Proof. apply tanh_lt1. Qed.
Theorem lemma_tanh_id x : 0 <= x -> tanh x <= x. Proof. apply tanh_le_id. Qed.
Theorem lemma_tanh_grows x y : x <= y -> tanh x <= tanh y. Proof. apply tanh_le. Qed.
(** tanh(t)/t falls: t tanh(x) - x tanh(t) grows from t = x on, as tanh(x) >= x (1 - tanh(x)^2) *)
Theorem lemma_tanh_concave x y : 0 <= x -> x <= y -> x * tanh y <= y * tanh x.
Proof.
  intros x0 [xy|<-]; [|lra]. destruct x0 as [x0|<-]; [|rewrite tanh_00; lra].
  set (g := fun t => t * tanh x - x * (1 - 2 / (exp (2 * t) + 1))).
  destruct (MVT_cor2 g (fun t => tanh x - x * (4 * exp (2 * t) / (exp (2 * t) + 1) ^ 2)) x y xy) as [c [Hc1 Hc2]].
  - intros c Hc. apply is_derive_Reals. assert (e := exp_pos (2 * c)). unfold g. auto_derive; [lra|field; lra].
  - assert (G : 0 <= tanh x - x * (4 * exp (2 * c) / (exp (2 * c) + 1) ^ 2)).
    { assert (E : exp (2 * x) <= exp (2 * c)) by (apply exp_le; lra). set (a := exp (2 * x)) in *.
      set (b := exp (2 * c)) in *.
      assert (a1 : 1 <= a) by (apply exp_ge1; lra).
      assert (M : 4 * b / (b + 1) ^ 2 <= 4 * a / (a + 1) ^ 2).
      { apply Rmult_le_reg_r with ((b + 1) ^ 2 * (a + 1) ^ 2); [nra|].
        replace (4 * b / (b + 1) ^ 2 * ((b + 1) ^ 2 * (a + 1) ^ 2)) with (4 * b * (a + 1) ^ 2) by (field; lra).
        replace (4 * a / (a + 1) ^ 2 * ((b + 1) ^ 2 * (a + 1) ^ 2)) with (4 * a * (b + 1) ^ 2) by (field; lra).
        replace (4 * a * (b + 1) ^ 2) with (4 * b * (a + 1) ^ 2 + 4 * ((b - a) * (a * b - 1))) by ring.
        assert (0 <= (b - a) * (a * b - 1)) by (apply Rmult_le_pos; [lra|nra]). lra. }
      assert (T : x * (4 * a / (a + 1) ^ 2) <= tanh x).
      { rewrite tanh_exp2. fold a. apply Rmult_le_reg_r with ((a + 1) ^ 2); [nra|].
        replace (x * (4 * a / (a + 1) ^ 2) * (a + 1) ^ 2) with (4 * x * a) by (field; lra).
        replace ((1 - 2 / (a + 1)) * (a + 1) ^ 2) with (a * a - 1) by (field; lra).
        (* sinh (2x) >= 2x *)
        set (k := fun t => exp (2 * t) * exp (2 * t) - 1 - 4 * t * exp (2 * t)). assert (K : k 0 <= k x).
        { destruct (MVT_cor2 k (fun t => 4 * exp (2 * t) * (exp (2 * t) - 1 - 2 * t)) 0 x x0) as [s [S1 S2]].
          - intros s Hs. apply is_derive_Reals. unfold k. auto_derive; [exact I|ring].
          - assert (es := exp_pos (2 * s)). assert (q := exp_ineq1_le (2 * s)).
            assert (0 <= 4 * exp (2 * s) * (exp (2 * s) - 1 - 2 * s)) by (apply Rmult_le_pos; lra). nra. }
        unfold k in K. rewrite Rmult_0_r, exp_0 in K. fold a in K. lra. }
      nra. }
    unfold g in Hc1. rewrite <- !tanh_exp2 in Hc1. assert (0 <= (tanh x - x * (4 * exp (2 * c) / (exp (2 * c) + 1) ^
      2)) * (y - x)) by (apply Rmult_le_pos; lra). lra.
Qed.
Theorem lemma_tanhc_one x : tanhc x <= 1.
Proof.
  unfold tanhc. destruct Req_EM_T as [|N]; [lra|]. destruct (Rlt_or_le 0 x) as [L|L].
  - apply Rmult_le_reg_r with x; [exact L|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
    assert (T := tanh_le_id x (Rlt_le _ _ L)). lra.
  - apply Rmult_le_reg_r with (- x); [lra|]. replace (tanh x / x * - x) with (- tanh x) by (field; exact N).
    assert (O : - tanh x = tanh (- x)). { unfold tanh, sinh, cosh. rewrite Ropp_involutive. assert (a := exp_pos x).
    assert (b := exp_pos (- x)). field. lra. }
    rewrite O. assert (T := tanh_le_id (- x) ltac:(lra)). lra.
Qed.
Theorem lemma_tanhc x : x * tanhc x = tanh x. Proof. rewrite Rmult_comm. apply tanhc_spec. Qed.
Theorem lemma_exp_line x : 1 + x <= exp x. Proof. apply exp_ineq1_le. Qed.
Theorem lemma_exp_e x : exp 1 * x <= exp x.
Proof. replace (exp x) with (exp 1 * exp (x - 1)) by (rewrite <- exp_plus; f_equal; ring).
apply Rmult_le_compat_l; [left; apply exp_pos|]. assert (q := exp_ineq1_le (x - 1)). lra. Qed.
Theorem lemma_exp_one x : 0 <= x -> 1 <= exp x. Proof. apply exp_ge1. Qed.
Theorem lemma_exp_grows x y : x <= y -> exp x <= exp y. Proof. apply exp_le. Qed.
Theorem lemma_expc_one x : 0 <= x -> 1 <= expc x. Proof. apply expc_ge1. Qed.
Theorem lemma_expc_exp x : 0 <= x -> expc x <= exp x.
Proof.
  intros H. unfold expc. destruct Req_EM_T as [->|N]; [rewrite exp_0; lra|]. apply Rmult_le_reg_r with x; [lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by exact N.
  assert (q := exp_ineq1_le (- x)). rewrite exp_Ropp in q. assert (e := exp_pos x).
  assert (exp x * (1 + - x) <= exp x * / exp x) by (apply Rmult_le_compat_l; lra). rewrite Rinv_r in H0 by lra. lra.
Qed.
(** expc(-x) = e^(-x) expc(x) *)
Lemma expc_neg x : expc (- x) = exp (- x) * expc x.
Proof.
  unfold expc. destruct (Req_EM_T x 0) as [->|N]; [rewrite Ropp_0, exp_0; destruct Req_EM_T; lra|].
  destruct Req_EM_T as [E|_]; [lra|].
  rewrite exp_Ropp. assert (e := exp_pos x). field. lra.
Qed.
Lemma expc_le1 x : x <= 0 -> expc x <= 1.
Proof.
  intros H. unfold expc. destruct Req_EM_T as [|N]; [lra|]. assert (q := exp_ineq1_le x).
  apply Rmult_le_reg_r with (- x); [lra|]. replace ((exp x - 1) / x * - x) with (1 - exp x) by (field; exact N). lra.
Qed.
Theorem lemma_expc_grows x y : x <= y -> expc x <= expc y.
Proof.
  intros H. destruct (Rle_or_lt 0 x) as [L|L]; [apply expc_mono; lra|].
  destruct (Rle_or_lt 0 y) as [M|M]; [assert (A := expc_le1 x ltac:(lra)); assert (B := expc_ge1 y M); lra|].
  (* both negative: 1 - e^x over -x falls in -x; e^x lies below the chord from x to 0 *)
  assert (C := exp_convex (y / x) x). assert (T : 0 <= y / x <= 1).
  { split; [left; replace (y / x) with (- y * / - x) by (field; lra); apply Rmult_lt_0_compat;
      [lra|apply Rinv_0_lt_compat; lra]|].
    replace (y / x) with (- y * / - x) by (field; lra). apply Rmult_le_reg_r with (- x); [lra|].
    rewrite Rmult_assoc, Rinv_l by lra. lra. }
  specialize (C T). replace (y / x * x) with y in C by (field; lra). unfold expc. destruct (Req_EM_T x 0); [lra|].
  destruct (Req_EM_T y 0); [lra|].
  apply Rmult_le_reg_r with (- y); [lra|]. replace ((exp y - 1) / y * - y) with (1 - exp y) by (field; lra).
  replace ((exp x - 1) / x * - y) with (y / x * (1 - exp x)) by (field; lra). lra.
Qed.
Theorem lemma_log_line x : 0 < x -> ln x <= x - 1. Proof. apply ln_le_minus. Qed.
Theorem lemma_log_grows x y : 0 < x -> x <= y -> ln x <= ln y.
Proof. intros X [L|<-]; [left; now apply ln_increasing|lra]. Qed.
Theorem lemma_log_one x : 1 <= x -> 0 <= ln x.
Proof. intros H. rewrite <- ln_1. apply lemma_log_grows; lra. Qed.
(** floor(x) is IZR (Int_part x) *)
Theorem lemma_floor_high x : IZR (Int_part x) <= x. Proof. apply base_Int_part. Qed.
Theorem lemma_floor_low x : x < IZR (Int_part x) + 1. Proof. destruct (base_Int_part x). lra. Qed.
Theorem lemma_abs_high x : x <= Rabs x. Proof. apply Rle_abs. Qed.
Theorem lemma_max_member x y : x <= Rmax x y. Proof. apply Rmax_l. Qed.
Theorem lemma_max_member_3 x y z : x <= Rmax x (Rmax y z). Proof. apply Rmax_l. Qed.
Theorem lemma_min_member x y : Rmin x y <= x. Proof. apply Rmin_l. Qed.
Theorem lemma_min_member_3 x y z : Rmin x (Rmin y z) <= x. Proof. apply Rmin_l. Qed.
Theorem lemma_am_gm x y : 0 <= x -> 0 <= y -> 2 * sqrt x * sqrt y <= x + y.
Proof. intros X Y. assert (A := sqrt_sqrt x X). assert (B := sqrt_sqrt y Y). assert (Q := Rle_0_sqr (sqrt x - sqrt y)).
unfold Rsqr in Q. nra. Qed.
Theorem lemma_am_gm_3 x y z : 0 <= x -> 0 <= y -> 0 <= z -> 3 * rpow x (1 / 3) * rpow y (1 / 3) * rpow z (1 / 3) <= x +
  y + z.
Proof.
  intros X Y Z. assert (C : forall t, 0 <= t -> rpow t (1 / 3) ^ 3 = t) by (intros t T;
    replace 3 with (INR 3) by (simpl; lra); apply (rpow_root t 3 T); lia).
    assert (P : forall t, 0 <= rpow t (1 / 3)) by (intro; apply rpow_nonneg).
  assert (Cx := C x X). assert (Cy := C y Y). assert (Cz := C z Z). assert (a := P x). assert (b := P y).
  assert (c := P z).
  set (u := rpow x (1 / 3)) in *. set (v := rpow y (1 / 3)) in *. set (w := rpow z (1 / 3)) in *.
  assert (E : u ^ 3 + v ^ 3 + w ^ 3 - 3 * u * v * w = (u + v + w) * ((u - v) ^ 2 + (v - w) ^ 2 + (w - u) ^ 2) / 2) by
    field.
  assert (0 <= (u + v + w) * ((u - v) ^ 2 + (v - w) ^ 2 + (w - u) ^ 2)) by (apply Rmult_le_pos; [lra|];
    assert (S1 := pow2_ge_0 (u - v)); assert (S2 := pow2_ge_0 (v - w)); assert (S3 := pow2_ge_0 (w - u)); lra). lra.
Qed.
Theorem lemma_root_sum x y : 0 <= x -> 0 <= y -> sqrt (x + y) <= sqrt x + sqrt y.
Proof.
  intros X Y. assert (A := sqrt_pos x). assert (B := sqrt_pos y). apply sqrt_le_of; [lra|].
  assert (E := sqrt_sqrt x X). assert (F := sqrt_sqrt y Y). nra.
Qed.
Theorem lemma_cauchy_heads H (f g : vec) : sum H (fun h => f h * g h) ^ 2 <= sum H (fun h => f h ^ 2) * sum H (fun h =>
  g h ^ 2).
Proof.
  assert (C := cauchy_schwarz H f g). unfold dot in C. rewrite (sum_ext H (fun h => f h ^ 2) (fun a => f a * f a)),
    (sum_ext H (fun h => g h ^ 2) (fun a => g a * g a)) by (intros; ring). nra.
Qed.
Theorem lemma_square_heads H (f : vec) : sum H f ^ 2 <= INR H * sum H (fun h => f h ^ 2).
Proof.
  assert (C := lemma_cauchy_heads H (fun _ => 1) f). cbv beta in C.
  rewrite (sum_ext H (fun h => 1 * f h) f), (sum_ext H (fun _ => 1 ^ 2) (fun _ => 1)), sum_const,
    Rmult_1_r in C by (intros; ring). exact C.
Qed.
Theorem lemma_max_heads H (f : vec) : (0 < H)%nat -> sum H f <= INR H * maxi (H - 1) f.
Proof. intros P. rewrite <- sum_const. apply sum_le; intros j Hj. apply maxi_ub. lia. Qed.
