(** The rules of derivations: each line of a derivation becomes an assertion,
  proved from earlier ones by a rule of this file.
    Products of powers are linear in logarithms, so that a product rule is [lra] on logarithms;
      where the smaller side is 0
    there is nothing to show, and otherwise every factor that is met is shown to be positive before its logarithm is
      taken. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import IntervalZ.
From Rankmath Require Import Definitions Functions Norms Softmax Masks Quantities Lemmas_norms Lemmas_tokens
  Lemmas_attention Lemmas_layer Lemmas_entropy Lemmas_functions Lemmas_spread Lemmas_reads Network.
Local Open Scope R_scope.

(* ---------- sums, products and extremes over an index ---------- *)
Lemma maxi_nonneg n f : (forall i, (i <= n)%nat -> 0 <= f i) -> 0 <= maxi n f.
Proof. intros H. eapply Rle_trans; [apply (H 0%nat); lia|]. apply maxi_ub. lia. Qed.
Lemma maxi_pos n f : (forall i, (i <= n)%nat -> 0 < f i) -> 0 < maxi n f.
Proof. intros H. eapply Rlt_le_trans; [apply (H 0%nat); lia|]. apply maxi_ub. lia. Qed.
Lemma minf_pos n f : (forall i, (i <= n)%nat -> 0 < f i) -> 0 < minf n f.
Proof. induction n; intros H; simpl; [apply H; lia|]. apply Rmin_glb_lt; auto. Qed.
Lemma prodf_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= prodf n f.
Proof. induction n; intros H; simpl; [lra|]. apply Rmult_le_pos; auto. Qed.
Lemma prodf_pos n f : (forall i, (i < n)%nat -> 0 < f i) -> 0 < prodf n f.
Proof. induction n; intros H; simpl; [lra|]. apply Rmult_lt_0_compat; auto. Qed.
Lemma prodf_le n f g : (forall i, (i < n)%nat -> 0 <= f i <= g i) -> prodf n f <= prodf n g.
Proof.
  induction n; intros H; simpl; [lra|]. apply Rmult_le_compat; [apply prodf_nonneg; intros; apply H; lia|apply H;
    lia|apply IHn; auto|apply H; lia].
Qed.
Lemma prodf_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> prodf n f = prodf n g.
Proof. induction n; intros H; simpl; [reflexivity|]. rewrite IHn, H; auto. Qed.
Lemma prodf_mult n f g : prodf n (fun i => f i * g i) = prodf n f * prodf n g.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.
Lemma prodf_exp_opp n f : prodf n (fun i => exp (- f i)) = / prodf n (fun i => exp (f i)).
Proof. induction n; simpl; [now rewrite Rinv_1|]. now rewrite IHn, exp_Ropp, Rinv_mult. Qed.
Lemma prodf_const n c : prodf n (fun _ => c) = c ^ n.
Proof. induction n; simpl; [reflexivity|]. rewrite IHn. ring. Qed.
Lemma maxi_le n f g : (forall i, (i <= n)%nat -> f i <= g i) -> maxi n f <= maxi n g.
Proof. intros H. apply maxi_lub. intros i Hi. eapply Rle_trans; [now apply H|]. now apply maxi_ub. Qed.
Lemma minf_mono n f g : (forall i, (i <= n)%nat -> f i <= g i) -> minf n f <= minf n g.
Proof. intros H. apply minf_ge. intros i Hi. eapply Rle_trans; [|now apply H]. now apply minf_le. Qed.
Lemma maxi_ext n f g : (forall i, (i <= n)%nat -> f i = g i) -> maxi n f = maxi n g.
Proof. induction n; intros H; simpl; [apply H; lia|]. rewrite IHn, H; auto. Qed.
Lemma minf_ext n f g : (forall i, (i <= n)%nat -> f i = g i) -> minf n f = minf n g.
Proof. induction n; intros H; simpl; [apply H; lia|]. rewrite IHn, H; auto. Qed.
Lemma sum_pos n f : (0 < n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < sum n f.
Proof. intros Hn H. eapply Rlt_le_trans; [apply (H 0%nat Hn)|].
apply (sum_term_le n f 0%nat); [intros; left; auto|exact Hn]. Qed.

(* ---------- through the layers ---------- *)
Theorem chain_product (q g : nat -> R) L : (forall l, (l < L)%nat -> 0 <= g l) -> (forall l, (l < L)%nat ->
  q (S l) <= g l * q l) -> q L <= prodf L g * q 0%nat.
Proof.
  induction L as [|l IH]; intros G H; simpl; [lra|]. eapply Rle_trans; [apply H; lia|].
  rewrite (Rmult_comm (prodf l g)), Rmult_assoc. apply Rmult_le_compat_l; [apply G; lia|].
  apply IH; intros; [apply G|apply H]; lia.
Qed.
Theorem chain_below (q g : nat -> R) L : (forall l, (l < L)%nat -> 0 <= g l) -> (forall l, (l < L)%nat ->
  g l * q l <= q (S l)) -> prodf L g * q 0%nat <= q L.
Proof.
  induction L as [|l IH]; intros G H; simpl; [lra|]. eapply Rle_trans; [|apply H; lia].
  rewrite (Rmult_comm (prodf l g)), Rmult_assoc. apply Rmult_le_compat_l; [apply G; lia|].
  apply IH; intros; [apply G|apply H]; lia.
Qed.
Theorem chain_sum (q g : nat -> R) L : (forall l, (l < L)%nat -> q (S l) <= q l + g l) -> q L <= q 0%nat + sum L g.
Proof. induction L as [|l IH]; intros H; simpl; [lra|]. assert (A := H l ltac:(lia)).
assert (B := IH ltac:(intros; apply H; lia)). lra. Qed.
(** q' <= C q^k gives C^((k^L - 1)/(k - 1)) q^(k^L) after L layers; the exponent is a real number where 0^e = 0. *)
Fixpoint tower (k L : nat) : nat := match L with O => O | S l => (k * tower k l + 1)%nat end.
Lemma tower_is k L : INR (tower k L) * (INR k - 1) = INR k ^ L - 1.
Proof. induction L as [|l IH]; [simpl; ring|]. cbn [tower]. rewrite plus_INR, mult_INR. cbn [pow INR].
replace (INR k * INR k ^ l - 1) with (INR k * (INR k ^ l - 1) + (INR k - 1)) by ring. rewrite <- IH. ring. Qed.
Lemma rpow_nat x k : 0 <= x -> (0 < k)%nat -> rpow x (INR k) = x ^ k.
Proof. intros X K. unfold rpow. destruct Rle_dec as [L|L]; [replace x with 0 by lra; now rewrite pow_ne_zero by lia|].
apply Rpower_pow. lra. Qed.
Theorem chain_power (q : nat -> R) C k L e : 0 <= C -> (forall l, 0 <= q l) -> (1 < k)%nat -> (0 < L)%nat ->
  (forall l, (l < L)%nat -> q (S l) <= C * q l ^ k) ->
  e = (INR k ^ L - 1) / (INR k - 1) -> q L <= rpow C e * q 0%nat ^ (k ^ L).
Proof.
  intros C0 Q0 K HL H ->. assert (K1 : 1 < INR k) by (apply (lt_INR 1); lia).
  replace ((INR k ^ L - 1) / (INR k - 1)) with (INR (tower k L)) by (rewrite <- tower_is; field; lra).
  rewrite rpow_nat; [|exact C0|destruct L; [lia|cbn [tower]; lia]].
  clear HL. induction L as [|l IH]; [simpl; lra|]. eapply Rle_trans; [apply H; lia|]. cbn [tower Nat.pow].
  replace (C ^ (k * tower k l + 1) * q 0%nat ^ (k * k ^ l)) with (C * (C ^ tower k l * q 0%nat ^ (k ^ l)) ^ k).
  - apply Rmult_le_compat_l; [exact C0|]. apply pow_incr. split; [apply Q0|]. apply IH. intros; apply H; lia.
  - rewrite Rpow_mult_distr, <- !pow_mult, pow_add, (Nat.mul_comm (tower k l)), (Nat.mul_comm (k ^ l)). ring.
Qed.

(* ---------- cases: a largest or least member is one of them ---------- *)
Lemma maxi_is n f : exists i, (i <= n)%nat /\ maxi n f = f i.
Proof.
  induction n as [|n [i [Hi E]]]; [now exists 0%nat|]. cbn [maxi]. destruct (Rle_dec (maxi n f) (f (S n))) as [L|L].
  - exists (S n). split; [lia|now apply Rmax_right].
  - exists i. split; [lia|]. rewrite Rmax_left by lra. exact E.
Qed.
Lemma minf_is n f : exists i, (i <= n)%nat /\ minf n f = f i.
Proof.
  induction n as [|n [i [Hi E]]]; [now exists 0%nat|]. cbn [minf]. destruct (Rle_dec (minf n f) (f (S n))) as [L|L].
  - exists i. split; [lia|]. rewrite Rmin_left by lra. exact E.
  - exists (S n). split; [lia|]. apply Rmin_right. lra.
Qed.
(** The goal with one of x, y in the place of their maximum or minimum, or with x or -x in the place of |x|. *)
Lemma max_cases x y (G : R -> Prop) : G x -> G y -> G (Rmax x y). Proof. intros A B. unfold Rmax.
now destruct (Rle_dec x y). Qed.
Lemma min_cases x y (G : R -> Prop) : G x -> G y -> G (Rmin x y). Proof. intros A B. unfold Rmin.
now destruct (Rle_dec x y). Qed.
Lemma abs_cases x (G : R -> Prop) : G x -> G (- x) -> G (Rabs x). Proof. intros A B. unfold Rabs.
now destruct (Rcase_abs x). Qed.

(* ---------- signs ---------- *)
Lemma entropy_of_nonneg n (A : matrix n n) : (0 < n)%nat -> row_stochastic n n A -> 0 <= entropy A.
Proof.
  intros Hn SP. assert (E := lemma_entropy_max n A SP Hn). assert (M := lemma_attention_max n A SP).
  assert (M0 := max_pos n A SP Hn). unfold entropy. assert (ln (maxentry n n A) <= 0); [|lra].
  rewrite <- ln_1. destruct M as [M| ->]; [left; now apply ln_increasing|lra].
Qed.
Lemma entropy_nonneg N l h : proper N -> 0 <= entropy (P N l h).
Proof. intros Hp. apply entropy_of_nonneg; [now apply Pn|now apply P_stochastic]. Qed.
Lemma entropy0_nonneg N l h : proper N -> 0 <= entropy (P0 N l h).
Proof. intros Hp. apply entropy_of_nonneg; [now apply Pn|now apply P0_stochastic]. Qed.
Lemma epsilon_pos N l h : proper N -> 0 < epsilon N l h.
Proof.
  intros Hp. unfold epsilon. destruct (as_head N Hp l h) as [d [dq [hd [Y [_ [M [-> _]]]]]]]. rewrite <- M.
  apply least_pos; rewrite ?M; [apply Pn|apply Pm|apply Pz]; exact Hp.
Qed.
Lemma epsilon0_pos N l h : proper N -> 0 < epsilon0 N l h.
Proof.
  intros Hp. unfold epsilon0. destruct (as_head0 N Hp l h) as [d [dq [hd [Y [M ->]]]]]. rewrite <- M.
  apply least_pos; rewrite ?M; [apply Pn|apply Pm|apply Pz]; exact Hp.
Qed.
Lemma in_degree_pos N : proper N -> 0 < in_degree N.
Proof. intros Hp. eapply Rlt_le_trans; [apply Rlt_0_1|]. apply lemma_degree_one; [apply Pm|apply Pn]; exact Hp. Qed.
Lemma rpow_pos x e : 0 < x -> 0 < rpow x e.
Proof. intros X. unfold rpow. destruct Rle_dec; [lra|]. apply exp_pos. Qed.
Lemma expc_pos x : 0 < expc x.
Proof.
  destruct (Rle_or_lt 0 x) as [X|X]; [assert (A := expc_ge1 x X); lra|]. rewrite <- (Ropp_involutive x), expc_neg.
  apply Rmult_lt_0_compat; [apply exp_pos|]. assert (A := expc_ge1 (- x) ltac:(lra)). lra.
Qed.
Lemma tanhc_pos x : 0 < tanhc x.
Proof.
  unfold tanhc. destruct Req_EM_T as [E|E]; [lra|]. assert (T : forall y, 0 < y -> 0 < tanh y).
  { intros y Y. assert (A := exp_increasing (- y) y ltac:(lra)). unfold tanh, sinh, cosh. assert (B := exp_pos y).
    assert (C := exp_pos (- y)). apply Rdiv_lt_0_compat; lra. }
  destruct (Rlt_or_le 0 x) as [X|X]; [apply Rdiv_lt_0_compat; auto|].
  replace (tanh x / x) with (tanh (- x) / - x); [apply Rdiv_lt_0_compat; [apply T|]; lra|].
  unfold tanh, sinh, cosh. rewrite Ropp_involutive. assert (B := exp_pos x). assert (C := exp_pos (- x)). field. lra.
Qed.
Lemma contraction_nonneg N r k : proper N -> 0 <= contraction N r k.
Proof.
  intros Hp. unfold contraction, Lemmas_layer.contraction. set (m := Nat.min r _).
  assert (D := doeblin_le (tokens N) (steps (tokens N) (fun l => P N l 0) (k * r) m) (Pn N Hp)
    (steps_stochastic (tokens N) (fun l => P N l 0%nat) (k * r) (k * r + m) ltac:(intros; now apply P_stochastic) m
    ltac:(lia))). lra.
Qed.
(** Of words that are defined later. *)
Ltac more_nonneg := fail.
Ltac word_nonneg := first
  [ more_nonneg | apply diam_nonneg | apply sqrt_pos | apply maxf_pos | apply spectral_nonneg | apply Rabs_pos | apply pos_INR
  | apply resid_nonneg; intros; first [apply maxf_pos | apply sqrt_pos]
  | apply entropy_nonneg; assumption | left; apply epsilon_pos; assumption
  | left; apply epsilon0_pos; assumption | left; apply in_degree_pos; assumption
  | apply entropy0_nonneg; assumption
  | unfold stable_rank, Quantities.stable_rank; apply pow2_ge_0
  | apply contraction_nonneg; assumption | apply first_gap_nonneg | apply participation_nonneg | apply rank_nonneg | apply second_nonneg; [apply Pn;
    assumption|first [apply P_stochastic | apply P0_stochastic]; assumption]
  | unfold least_singular, Quantities.least_singular; match goal with Hp : proper ?N |- _ => apply inf_nonneg;
      [exists (l2 (dim N) (vmat (dim N) (eye 0%nat) _)), (eye 0%nat); split;
        [apply l2_eye, (Pd N Hp)|reflexivity]|intros y [v [_ ->]]; apply l2_nonneg] end
  | unfold operator_norm, form_norm; first [apply maxf_pos | apply spectral_nonneg | unfold form_inf; eapply Rle_trans;
    [|apply lemma_form_inf_low_max]; apply maxf_pos] ].
(** By a line that holds for every l or h, at the l or h in question. *)
Ltac by_every tac := match goal with F : forall x, (x < ?n)%nat -> _, B : (_ < ?n)%nat |- _ => pose proof (F _ B);
  tac end.
Ltac nonneg := lazymatch goal with
  | |- 0 <= _ * _ => apply Rmult_le_pos; nonneg
  | |- 0 <= _ / _ => apply Rmult_le_pos; [nonneg|left; apply Rinv_0_lt_compat; posi]
  | |- 0 <= / _ => left; apply Rinv_0_lt_compat; posi
  | |- 0 <= _ ^ _ => first [apply pow_le; nonneg | apply pow2_ge_0]
  | |- 0 <= tanh _ => apply tanh_nonneg; nonneg
  | |- 0 <= exp _ => left; apply exp_pos
  | |- 0 <= expc _ => left; apply expc_pos
  | |- 0 <= tanhc _ => left; apply tanhc_pos
  | |- 0 <= rpow _ _ => apply rpow_nonneg
  | |- 0 <= ln _ => apply lemma_log_one; first [assumption | lra]
  | |- 0 <= sum _ _ => apply sum_nonneg; intros; nonneg
  | |- 0 <= prodf _ _ => apply prodf_nonneg; intros; nonneg
  | |- 0 <= maxi _ _ => apply maxi_nonneg; intros; nonneg
  | |- 0 <= minf _ _ => apply minf_ge; intros; nonneg
  | |- 0 <= Rmin _ _ => apply Rmin_glb; nonneg
  | |- 0 <= Rmax _ _ => first [eapply Rle_trans; [|apply Rmax_l]; nonneg | eapply Rle_trans; [|apply Rmax_r]; nonneg]
  | |- 0 <= _ + _ => first [apply Rplus_le_le_0_compat; nonneg | lra]
  | |- _ => first [assumption | solve [word_nonneg] | lra | left; assumption | solve [by_every lra]]
  end
with posi := lazymatch goal with
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; posi
  | |- 0 < _ / _ => apply Rmult_lt_0_compat; [posi|apply Rinv_0_lt_compat; posi]
  | |- 0 < / _ => apply Rinv_0_lt_compat; posi
  | |- 0 < _ ^ _ => apply pow_lt; posi
  | |- 0 < sqrt _ => apply sqrt_lt_R0; posi
  | |- 0 < exp _ => apply exp_pos
  | |- 0 < expc _ => apply expc_pos
  | |- 0 < prodf _ _ => first [assumption | apply prodf_pos; intros; posi]
  | |- 0 < tanhc _ => apply tanhc_pos
  | |- 0 < rpow _ _ => first [assumption | apply rpow_pos; posi]
  | |- 0 < epsilon _ _ _ => apply epsilon_pos; assumption
  | |- 0 < epsilon0 _ _ _ => apply epsilon0_pos; assumption
  | |- 0 < in_degree _ => apply in_degree_pos; assumption
  | |- 0 < Rmax _ _ => first [assumption | eapply Rlt_le_trans; [|apply Rmax_l]; posi | eapply Rlt_le_trans;
    [|apply Rmax_r]; posi]
  | |- 0 < _ + _ => first [assumption | lra | apply Rplus_lt_le_0_compat; [posi|nonneg] | apply Rplus_le_lt_0_compat;
    [nonneg|posi]]
  | |- _ => first [assumption | lra]
  end.

(** 0 < a b with a, b >= 0: both are positive; and so for powers and roots. *)
Lemma pos_l a b : 0 <= a -> 0 <= b -> 0 < a * b -> 0 < a.
Proof. intros [A|<-] B H; [exact A|lra]. Qed.
Lemma pos_r a b : 0 <= a -> 0 <= b -> 0 < a * b -> 0 < b.
Proof. intros A [B|<-] H; [exact B|lra]. Qed.
Lemma pos_pow a k : 0 <= a -> (0 < k)%nat -> 0 < a ^ k -> 0 < a.
Proof. intros [A|<-] K H; [exact A|]. rewrite pow_ne_zero in H by lia. lra. Qed.
Lemma pos_sqrt a : 0 < sqrt a -> 0 < a.
Proof. intros H. destruct (Rle_or_lt a 0) as [L|L]; [|exact L]. rewrite sqrt_neg_0 in H by exact L. lra. Qed.
Lemma pos_rpow a e : 0 < rpow a e -> 0 < a.
Proof. unfold rpow. destruct Rle_dec; lra. Qed.
Lemma pos_tanh x : 0 < tanh x -> 0 < x.
Proof. intros H. destruct (Rle_or_lt x 0) as [L|L]; [|exact L]. apply tanh_le in L. rewrite tanh_00 in L. lra. Qed.
Ltac spread H := lazymatch type of H with
  | 0 < ?a * ?b => let A := fresh "S" in let B := fresh "S" in
      assert (A : 0 < a) by (apply (pos_l a b); [nonneg|nonneg|exact H]); assert (B : 0 < b) by (apply (pos_r a b);
        [nonneg|nonneg|exact H]); spread A; spread B
  | 0 < ?a / ?b => let A := fresh "S" in assert (A : 0 < a) by (apply (pos_l a (/ b)); [nonneg|left;
    apply Rinv_0_lt_compat; posi|exact H]); spread A
  | 0 < ?a ^ ?k => let A := fresh "S" in (assert (A : 0 < a) by (apply (pos_pow a k); [nonneg|
      first [lia | apply Nat.neq_0_lt_0, Nat.pow_nonzero; lia]|exact H]); spread A)
  | 0 < sqrt ?a => let A := fresh "S" in assert (A : 0 < a) by (apply pos_sqrt; exact H); spread A
  | 0 < rpow ?a ?e => let A := fresh "S" in assert (A : 0 < a) by (apply (pos_rpow a e); exact H); spread A
  | 0 < tanh ?x => let A := fresh "S" in assert (A : 0 < x) by (apply pos_tanh; exact H); spread A
  | _ => idtac
  end.

(* ---------- logarithms ---------- *)
Lemma ln_m a b : 0 < a -> 0 < b -> ln (a * b) = ln a + ln b. Proof. apply ln_mult. Qed.
Lemma ln_d a b : 0 < a -> 0 < b -> ln (a / b) = ln a - ln b.
Proof. intros A B. unfold Rdiv. rewrite ln_mult by (try apply Rinv_0_lt_compat; assumption).
rewrite ln_Rinv by assumption. ring. Qed.
Lemma ln_s a : 0 < a -> ln (sqrt a) = ln a / 2.
Proof. intros A. assert (S := sqrt_lt_R0 a A). rewrite <- (sqrt_sqrt a) at 2 by lra. rewrite ln_mult by assumption.
field. Qed.
Lemma ln_p a k : 0 < a -> ln (a ^ k) = INR k * ln a.
Proof. intros A. rewrite <- Rpower_pow by exact A. unfold Rpower. apply ln_exp. Qed.
Lemma ln_r a e : 0 < a -> ln (rpow a e) = e * ln a.
Proof. intros A. unfold rpow. destruct Rle_dec; [lra|]. unfold Rpower. apply ln_exp. Qed.
Lemma ln_mono a b : 0 < a -> a <= b -> ln a <= ln b. Proof. apply lemma_log_grows. Qed.
Lemma ln_back a b : 0 < a -> 0 < b -> ln a <= ln b -> a <= b.
Proof. intros A B H. rewrite <- (exp_ln a A), <- (exp_ln b B). now apply exp_le. Qed.
Lemma inr2 k : INR (2 ^ k) = 2 ^ k. Proof. rewrite pow_INR. f_equal. Qed.
Lemma inr3 k : INR (3 ^ k) = 3 ^ k. Proof. rewrite pow_INR. f_equal. simpl. ring. Qed.
Ltac logs_in H := repeat first
  [ rewrite ln_m in H by posi | rewrite ln_d in H by posi | rewrite ln_s in H by posi | rewrite ln_p in H by posi |
    rewrite ln_r in H by posi | rewrite ln_exp in H | rewrite ln_1 in H | rewrite inr2 in H | rewrite inr3 in H ];
      cbn [INR] in H.
Ltac logs := repeat first
  [ rewrite ln_m by posi | rewrite ln_d by posi | rewrite ln_s by posi | rewrite ln_p by posi | rewrite ln_r by posi |
    rewrite ln_exp | rewrite ln_1 | rewrite inr2 | rewrite inr3 ]; cbn [INR].
(** Numbers: logarithms of small primes, to six digits. *)
Lemma ln2 : 0.693147 <= ln 2 <= 0.693148. Proof. interval with (i_prec 40). Qed.
Lemma ln3 : 1.098612 <= ln 3 <= 1.098613. Proof. interval with (i_prec 40). Qed.
Lemma ln5 : 1.609437 <= ln 5 <= 1.609438. Proof. interval with (i_prec 40). Qed.
Lemma ln7 : 1.945910 <= ln 7 <= 1.945911. Proof. interval with (i_prec 40). Qed.
(** ln (p m) = ln p + ln m, for a number that is printed as one *)
Lemma ln_split p m k : 0 < p -> 0 < m -> k = p * m -> ln k = ln p + ln m. Proof. intros A B ->. now apply ln_mult. Qed.

(* ---------- the tactics of a printed derivation ---------- *)
(** A cited line, to be taken once its left side is known to be positive. *)
Definition fact (A : Prop) : Prop := A.
Lemma take_le a b : fact (a <= b) -> 0 < a -> 0 < b /\ ln a <= ln b.
Proof. unfold fact. intros F A. split; [lra|now apply ln_mono]. Qed.
Lemma take_lt a b : fact (a < b) -> 0 < a -> 0 < b /\ ln a < ln b.
Proof. unfold fact. intros F A. split; [lra|now apply ln_increasing]. Qed.
Lemma ln_back_lt a b : 0 < a -> 0 < b -> ln a < ln b -> a < b.
Proof. intros A B H. rewrite <- (exp_ln a A), <- (exp_ln b B). now apply exp_increasing. Qed.
Ltac taken C th := let A := fresh "A" in let B := fresh "B" in let G := fresh "G" in
  lazymatch type of C with fact (_ ?a _) => idtac | _ => idtac end; pose proof (th C ltac:(posi)) as [B G]; clear C;
    spread B; logs_in G.
Ltac take_all := repeat match goal with
  | C : fact (?a <= ?b) |- _ => taken C (take_le a b)
  | C : fact (?a < ?b) |- _ => taken C (take_lt a b) end.
(** The goal is a product of powers of the facts, times a number. *)
Ltac by_product_then ending := lazymatch goal with
  | |- ?a <= ?b => let Z := fresh "Z" in let A := fresh "A" in assert (A : 0 <= a) by nonneg; destruct A as [Z|Z];
      [ spread Z; take_all; apply ln_back; [posi|posi|]; logs; ending | rewrite <- Z; nonneg ]
  | |- ?a < ?b => let Z := fresh "Z" in let A := fresh "A" in assert (A : 0 <= a) by nonneg; destruct A as [Z|Z];
      [ spread Z; take_all; apply ln_back_lt; [posi|posi|]; logs; ending | rewrite <- Z; posi ] end.
Ltac by_product := by_product_then ltac:(lra).
(** The mean minimises the Frobenius norm. *)
Lemma residual_frobenius_mu N t : proper N -> residual_frobenius (X N t) = mu (X N t).
Proof.
  intros Hp. unfold residual_frobenius, mu. apply Rle_antisym; [apply resid_le; intro; apply sqrt_pos|].
  apply le_resid1; [intro; apply sqrt_pos|]. intro x. apply mu_any, Pn, Hp.
Qed.
(** Two terms are equal: as polynomials or fractions, or because the arguments of tanh, exp, ...
or the terms of sums are. *)
Ltac fractions := first [reflexivity | ring | field; repeat split; apply not_eq_sym, Rlt_not_eq; posi].
Ltac eqn := first [ solve [fractions] | solve [progress (repeat rewrite sqrt_mult by nonneg); fractions]
  | match goal with |- ?A = ?B => match A with
      | context [tanh ?x] => match B with context [tanh ?y] => tryif constr_eq x y then fail else (replace (tanh x)
        with (tanh y) by (f_equal; eqn); eqn) end
      | context [exp ?x] => match B with context [exp ?y] => tryif constr_eq x y then fail else (replace (exp x) with
        (exp y) by (f_equal; eqn); eqn) end
      | context [sqrt ?x] => match B with context [sqrt ?y] => tryif constr_eq x y then fail else (replace (sqrt x) with
        (sqrt y) by (f_equal; eqn); eqn) end
      | context [rpow ?x ?e] => match B with context [rpow ?y ?f] => tryif constr_eq x y then fail else (replace (rpow x
        e) with (rpow y f) by (f_equal; eqn); eqn) end
      | context [expc ?x] => match B with context [expc ?y] => tryif constr_eq x y then fail else (replace (expc x) with
        (expc y) by (f_equal; eqn); eqn) end
      | context [tanhc ?x] => match B with context [tanhc ?y] => tryif constr_eq x y then fail else (replace (tanhc x)
        with (tanhc y) by (f_equal; eqn); eqn) end
      | context [ln ?x] => match B with context [ln ?y] => tryif constr_eq x y then fail else (replace (ln x) with (ln
        y) by (f_equal; eqn); eqn) end
      | context [sum ?n ?f] => match B with context [sum n ?g] => tryif constr_eq f g then fail else (replace (sum n f)
        with (sum n g) by (apply sum_ext; intros; cbv beta; eqn); eqn) end
      | context [prodf ?n ?f] => match B with context [prodf n ?g] => tryif constr_eq f g then fail else (replace
        (prodf n f) with (prodf n g) by (apply prodf_ext; intros; cbv beta; eqn); eqn) end
      | context [maxi ?n ?f] => match B with context [maxi n ?g] => tryif constr_eq f g then fail else (replace (maxi n
        f) with (maxi n g) by (apply maxi_ext; intros; cbv beta; eqn); eqn) end
      | context [minf ?n ?f] => match B with context [minf n ?g] => tryif constr_eq f g then fail else (replace (minf n
        f) with (minf n g) by (apply minf_ext; intros; cbv beta; eqn); eqn) end
    end end ].
(** Arguments in Q written as in the goal. *)
Ltac align Q := repeat match type of Q with
  | context [tanh ?x] => match goal with |- context [tanh ?y] => tryif constr_eq x y then fail else replace (tanh x)
    with (tanh y) in Q by (f_equal; eqn) end
  | context [sqrt ?x] => match goal with |- context [sqrt ?y] => tryif constr_eq x y then fail else replace (sqrt x)
    with (sqrt y) in Q by (f_equal; eqn) end
  | context [expc ?x] => match goal with |- context [expc ?y] => tryif constr_eq x y then fail else replace (expc x)
    with (expc y) in Q by (f_equal; eqn) end
  | context [tanhc ?x] => match goal with |- context [tanhc ?y] => tryif constr_eq x y then fail else replace (tanhc x)
    with (tanhc y) in Q by (f_equal; eqn) end
  | context [sum ?n ?f] => match goal with |- context [sum n ?g] => tryif constr_eq f g then fail else replace (sum n
    f) with (sum n g) in Q by (apply sum_ext; intros; cbv beta; eqn) end
  | context [maxi ?n ?f] => match goal with |- context [maxi n ?g] => tryif constr_eq f g then fail else replace (maxi
    n f) with (maxi n g) in Q by (apply maxi_ext; intros; cbv beta; eqn) end end.
Ltac align_logs := repeat match goal with
  | H : context [ln ?x] |- context [ln ?y] => tryif constr_eq x y then fail else replace (ln x) with (ln y) in H by
      (f_equal; eqn) end.
Lemma same_le a b a' b' : a <= b -> a' = a -> b' = b -> a' <= b'. Proof. now intros H -> ->. Qed.
Lemma same_lt a b a' b' : a < b -> a' = a -> b' = b -> a' < b'. Proof. now intros H -> ->. Qed.
(** The goal says what Q says, in another form. *)
Ltac same_as Q := try apply Rle_ge; try apply Rlt_gt; try apply Rge_le in Q; try apply Rgt_lt in Q; rewrite ?residual_frobenius_mu by assumption; rewrite
  ?residual_frobenius_mu in Q by assumption; first [ exact Q | lra
  | solve [rewrite Rmax_comm in Q; lra] | solve [rewrite Rmin_comm in Q;
    lra] | solve [let C := fresh "C" in pose proof (Q : fact _) as C; by_product] | in_words; first
  [ exact Q | lra | solve [let C := fresh "C" in pose proof (Q : fact _) as C; by_product]
  | solve [apply (same_le _ _ _ _ Q); eqn] | solve [apply (same_lt _ _ _ _ Q); eqn]
  | solve [unfold comp in *; let C := fresh "C" in pose proof (Q : fact _) as C;
    by_product] | solve [rewrite ln_s in Q by posi; lra]
  | solve [align Q; first [lra | let C := fresh "C" in pose proof (Q : fact _) as C; by_product]]
  | solve [unfold Rdiv in Q; repeat first [rewrite prodf_mult in Q | rewrite prodf_const in Q | rewrite prodf_exp_opp in
      Q]; let C := fresh "C" in pose proof (Q : fact _) as C; by_product]
  | solve [let C := fresh "C" in pose proof (Q : fact _) as C; by_product_then ltac:(align_logs; lra)]
  | solve [progress (repeat match goal with |- context [Rabs ?x] => rewrite (Rabs_pos_eq x) by nonneg end);
      first [exact Q | lra]] ] ].
Ltac same F := let Q := fresh "Q" in pose proof F as Q; same_as Q.
(** A term is at most the maximum, also where factors stand before it. *)
Ltac below_max h Q := first [ same Q | match goal with |- context [maxi ?n ?g] => let C := fresh "C" in let D := fresh
  "C" in
  pose proof (Q : fact _) as C; pose proof (maxi_ub n g h ltac:(lia) : fact _) as D; cbv beta in D; by_product end ].
Lemma none_padding N : proper N -> mask_none N -> mask_padding N.
Proof. intros Hp H. unfold mask_padding. rewrite H. apply nomask_padding, Pn, Hp. Qed.
Lemma complete_none N : mask_complete N -> mask_none N. Proof. exact (fun H => H). Qed.
Lemma window_some N x : mask_causal_window_of N x -> mask_causal_window N. Proof. now exists x. Qed.
(** A place exists; a hypothesis of a lemma holds. *)
Ltac place := lia.
Ltac met := first [ assumption | match goal with E : heads ?N = 1%nat |- INR (heads ?N) = 1 => rewrite E;
  reflexivity end | now apply none_padding | now apply complete_none
  | now apply causal_window | (eapply window_some; eassumption) | lra | lia | nonneg | posi | solve [by_product] ].
Ltac by_sum := first [ lra | nra | interval with (i_prec 40) ].
(** A number lies within its bounds, by a line or by what it is. *)
Ltac within := first [ lra | nonneg | solve [by_product] | nra ].
(** Everything under the sign of the sum. *)
Ltac into_sums := unfold Rdiv; repeat first
  [ rewrite <- sum_scal | rewrite <- sum_scal_r | match goal with |- context [INR (heads ?N) * ?c] => rewrite <-
    (sum_const (heads N) c) end ].
(** What stands outside of sums, outside of them. *)
Ltac out_of_sums C := unfold Rdiv in C; repeat first [ rewrite sum_const in C | rewrite sum_plus in C | rewrite
  sum_minus in C | rewrite sum_scal in C | rewrite sum_scal_r in C ].
(** A difference is not negative because a line says so. *)
Lemma minus_nonneg a b : a <= b -> 0 <= b - a. Proof. lra. Qed.
Ltac not_negative F := apply minus_nonneg; let Q := fresh "Q" in pose proof F as Q; first [same Q | left; same Q].
(** A cited line with its common factors taken out; sizes are positive. *)
Ltac cite F := unfold fact; pose proof F; lra.
Ltac begin N Hp := pose proof (Pn N Hp); pose proof (Pd N Hp); pose proof (PH N Hp); pose proof (PL N Hp);
  pose proof (Pq N Hp);
  pose proof (one_INR _ (Pn N Hp)); pose proof (one_INR _ (Pd N Hp)); pose proof (one_INR _ (PH N Hp));
    pose proof (one_INR _ (PL N Hp)).
