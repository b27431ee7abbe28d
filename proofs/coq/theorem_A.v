(** own:stable-causal-every-n (Theorem A).  Causal mask, every n: an attracting equilibrium of full rank,
  with its spectrum.

    n tokens in R^n, causal mask, LayerNorm on the sphere.  M = W_QK/sqrt(d_qk) has ones strictly above the
    diagonal and zeros elsewhere; row i of W_V is mu_i e_i - mu_{i-1} e_{i-1} (row 0: mu_0 e_0), where
    mu_0 > mu_1 > ... > mu_{n-1} > 0.  Then X* = I, of rank n, is an exact equilibrium; the eigenvalues of the
    derivative there are 0 and mu_k/mu_i for i < k; and X* attracts every start near it, normalised or
    not, at an exponential rate: none of these sequences collapses. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Norms Softmax Jets SphereLayer Spectrum.
Local Open Scope R_scope.

Definition above : mat := fun a b => if Nat.ltb a b then 1 else 0.
(** mu_b (delta_ab - delta_a,b+1): row a is mu_a e_a - mu_{a-1} e_{a-1}. *)
Definition telescope (m : vec) : mat := fun a b => m b * (eye a b - eye a (S b)).

Lemma bil_eye d M i j : (i < d)%nat -> (j < d)%nat -> bil d (eye i) M (eye j) = M i j.
Proof.
  intros Hi Hj. unfold bil. rewrite (sum_ext d _ (fun a => eye i a * sum d (fun b => eye j b * M a b))).
  - rewrite (sum_eye_l d (fun a => sum d (fun b => eye j b * M a b)) i Hi). apply (sum_eye_l d (fun b => M i b) j Hj).
  - intros a _. rewrite <- sum_scal. apply sum_ext; intros; ring.
Qed.
Lemma vmat_eye_row d W i b : (i < d)%nat -> vmat d (eye i) W b = W i b.
Proof. intros Hi. unfold vmat. now rewrite (sum_eye_l d (fun a => W a b) i Hi). Qed.

Section A.
Variables (n : nat) (m : vec).
Hypothesis n_pos : (0 < n)%nat.
Hypothesis m_pos : forall i, (i < n)%nat -> 0 < m i.
Hypothesis m_dec : forall i k, (i < k)%nat -> (k < n)%nat -> m k < m i.
Notation W := (telescope m).
Notation F := (sphere_map n n above W causal).

Lemma sum_causal i c (f : vec) : (i < n)%nat -> sum n (fun j => causal i j * (eye j c * f j)) = causal i c * f c.
Proof.
  intros Hi. destruct (Nat.lt_ge_cases c n) as [Hc|Hc].
  - rewrite (sum_single n _ c Hc); [rewrite eye_same; ring|]. intros j _ Hj. rewrite eye_diff by lia. ring.
  - rewrite (sum_ext n _ (fun _ => 0)); [rewrite sum_zero|intros j Hj; rewrite eye_diff by lia; ring].
    unfold causal. destruct (Nat.leb_spec c i); [lia|ring].
Qed.

Lemma Ex_A i j : (i < n)%nat -> (j < n)%nat -> Ex n above causal eye i j = causal i j.
Proof.
  intros Hi Hj. unfold Ex, causal. rewrite bil_eye by assumption. destruct (Nat.leb_spec j i); [|ring].
  unfold above. destruct (Nat.ltb_spec i j); [lia|]. rewrite exp_0. ring.
Qed.

Lemma Ux_A i b : (i < n)%nat -> Ux n n above W causal eye i b = m b * eye i b.
Proof.
  intros Hi. unfold Ux.
  rewrite (sum_ext n _ (fun j => causal i j * (eye j b * m b) - causal i j * (eye j (S b) * m b))).
  - rewrite sum_minus, (sum_causal i b (fun _ => m b) Hi), (sum_causal i (S b) (fun _ => m b) Hi). unfold causal, eye.
    destruct (Nat.leb_spec b i), (Nat.leb_spec (S b) i), (Nat.eqb_spec i b); try lia; ring.
  - intros j Hj. rewrite Ex_A, vmat_eye_row by assumption. unfold telescope. ring.
Qed.

Lemma dU_A i b p q : (i < n)%nat -> (b < n)%nat -> (p < n)%nat -> (q < n)%nat ->
  dU n n above W causal eye i b p q = causal i p * (W q b + W p b * above i q)
    + eye p i * m b * (causal i b * above q b - causal i (S b) * above q (S b)).
Proof.
  intros Hi Hb Hp Hq. unfold dU.
  rewrite (sum_ext n _ (fun j => causal i j * (eye j p * (W q b + W j b * above i q))
    + (eye p i * m b * (causal i j * (eye j b * above q j)) - eye p i * m b * (causal i j * (eye j (S b) * above q
        j))))).
  - rewrite sum_plus, sum_minus, !sum_scal.
    rewrite (sum_causal i p (fun j => W q b + W j b * above i q) Hi), (sum_causal i b (fun j => above q j) Hi),
      (sum_causal i (S b) (fun j => above q j) Hi). ring.
  - intros j Hj. rewrite Ex_A, vmat_eye_row by assumption. unfold dlogit.
    rewrite (sum_ext n (fun c => above q c * eye j c) (fun c => eye j c * above q c)) by (intros; ring).
    rewrite (sum_eye_l n (fun c => above q c) j Hj), (sum_eye_l n (fun a => above a q) i Hi), (eye_sym p j).
    unfold telescope. ring.
Qed.

Definition JA := dF n n above W causal eye.
Definition ordA (i b : nat) : nat := (i * n + (n - 1 - b))%nat.

Lemma JA_form i b p q : (i < n)%nat -> (b < n)%nat -> JA i b p q = if Nat.eqb b i then 0 else dU n n above W causal eye
  i b p q / m i.
Proof.
  intros Hi Hb. assert (P := m_pos i Hi). unfold JA.
  rewrite (dF_coord n n above W causal n_pos (causal_proper n) eye i i b p q Hi Hi).
  - rewrite Ux_A, eye_same, Rmult_1_r by assumption. reflexivity.
  - rewrite Ux_A, eye_same by assumption. lra.
  - intros c _ Nc. rewrite Ux_A, eye_diff by (auto; lia). ring.
  - exact Hb.
Qed.

Lemma JA_diag i b : (i < n)%nat -> (b < n)%nat -> JA i b i b = if Nat.ltb i b then m b / m i else 0.
Proof.
  intros Hi Hb. assert (P := m_pos i Hi). rewrite JA_form by assumption.
  destruct (Nat.eqb_spec b i) as [->|Ne]; [destruct (Nat.ltb_spec i i); [lia|reflexivity]|].
  rewrite dU_A by assumption. unfold telescope, causal, above, eye.
  destruct (Nat.leb_spec i i); [|lia]. destruct (Nat.eqb_spec b b); [|lia]. destruct (Nat.eqb_spec b (S b)); [lia|].
  destruct (Nat.eqb_spec i i); [|lia]. destruct (Nat.eqb_spec i b); [lia|]. destruct (Nat.ltb_spec b b); [lia|].
  destruct (Nat.ltb_spec b (S b)); [|lia].
  destruct (Nat.ltb_spec i b), (Nat.leb_spec b i), (Nat.leb_spec (S b) i), (Nat.eqb_spec i (S b)); try lia; field; lra.
Qed.

Lemma JA_tri i b p q : (i < n)%nat -> (b < n)%nat -> (p < n)%nat -> (q < n)%nat -> (p, q) <> (i, b) ->
  (ordA i b <= ordA p q)%nat -> JA i b p q = 0.
Proof.
  intros Hi Hb Hp Hq Ne Ho. rewrite JA_form by assumption. destruct (Nat.eqb_spec b i) as [->|Nb]; [reflexivity|].
  rewrite dU_A by assumption.
  assert (Cs : (i < p)%nat \/ (p = i /\ q < b)%nat).
  { unfold ordA in Ho. destruct (Nat.lt_trichotomy p i) as [L|[E|L]]; [exfalso; nia| |left; exact L].
    right. subst p. split; [reflexivity|]. assert (q <> b) by congruence. lia. }
  replace (causal i p * (W q b + W p b * above i q) + eye p i * m b * (causal i b * above q b - causal i (S b) * above
    q (S b))) with 0; [unfold Rdiv; ring|].
  destruct Cs as [L|[-> L]].
  - unfold causal at 1. destruct (Nat.leb_spec p i); [lia|]. rewrite eye_diff by lia. ring.
  - unfold telescope, causal, above, eye.
    destruct (Nat.leb_spec i i); [|lia]. destruct (Nat.eqb_spec q b); [lia|]. destruct (Nat.eqb_spec q (S b)); [lia|].
    destruct (Nat.eqb_spec i i); [|lia]. destruct (Nat.eqb_spec i b); [lia|]. destruct (Nat.ltb_spec q b); [|lia].
    destruct (Nat.ltb_spec q (S b)); [|lia].
    destruct (Nat.leb_spec b i), (Nat.leb_spec (S b) i), (Nat.eqb_spec i (S b)), (Nat.ltb_spec i q); try lia; ring.
Qed.

Lemma ordA_inj i b p q : (i < n)%nat -> (b < n)%nat -> (p < n)%nat -> (q < n)%nat -> ordA i b = ordA p q ->
  (p, q) = (i, b).
Proof.
  unfold ordA. intros Hi Hb Hp Hq E. assert (p = i) by (destruct (Nat.lt_trichotomy p i) as [L|[L|L]]; [exfalso;
    nia|exact L|exfalso; nia]).
  subst p. f_equal. lia.
Qed.

Lemma fixed_A : fixed n n F eye.
Proof.
  intros i b Hi Hb. apply (sphere_coord n n above W causal n_pos (causal_proper n) eye i i Hi Hi); auto.
  - rewrite Ux_A, eye_same by assumption. assert (P := m_pos i Hi). lra.
  - intros c _ Nc. rewrite Ux_A, eye_diff by (auto; lia). ring.
Qed.

Lemma derivative_A : derivative n n F eye JA.
Proof.
  apply layer_derivative; [exact n_pos|apply causal_proper|]. intros i Hi.
  rewrite (l2_coord n (Ux n n above W causal eye i) i Hi).
  - rewrite Ux_A, eye_same by assumption. assert (P := m_pos i Hi). lra.
  - rewrite Ux_A, eye_same by assumption. assert (P := m_pos i Hi). lra.
  - intros c _ Nc. rewrite Ux_A, eye_diff by (auto; lia). ring.
Qed.
End A.

Theorem theorem_A n (m : vec) : (0 < n)%nat ->
  (forall i, (i < n)%nat -> 0 < m i) -> (forall i k, (i < k)%nat -> (k < n)%nat -> m k < m i) ->
  let F := sphere_map n n above (telescope m) causal in
  fixed n n F eye /\
  (exists J, derivative n n F eye J /\ forall z : C,
     eigenvalue n n J z <-> (z = RtoC 0 \/ exists i k, (i < k)%nat /\ (k < n)%nat /\ z = RtoC (m k / m i))) /\
  attracts n n F eye.
Proof.
  intros Hn Pm Dm F. split; [|split].
  - now apply fixed_A.
  - exists (JA n m). split; [now apply derivative_A|]. intro z.
    rewrite (triangular_spectrum n n (JA n m) (ordA n) (JA_tri n m Hn Pm) (ordA_inj n Hn)). split.
    + intros [i [b [Hi [Hb ->]]]]. rewrite JA_diag by assumption.
      destruct (Nat.ltb_spec i b) as [L|L]; [right; eauto|now left].
    + intros [->|[i [k [L [Hk ->]]]]].
      * exists 0%nat, 0%nat. rewrite JA_diag by assumption. auto.
      * exists i, k. rewrite JA_diag by (auto; lia). destruct (Nat.ltb_spec i k); [|lia]. repeat split; auto; lia.
  - assert (Bd : forall i b, (i < n)%nat -> (b < n)%nat -> 0 <= JA n m i b i b < 1).
    { intros i b Hi Hb. rewrite JA_diag by assumption. destruct (Nat.ltb_spec i b) as [L|L]; [|lra].
      assert (P1 := Pm i Hi). assert (P2 := Pm b Hb). assert (D := Dm i b L Hb).
      split; [apply Rlt_le, Rdiv_lt_0_compat; lra|].
      apply Rmult_lt_reg_r with (m i); [lra|]. replace (m b / m i * m i) with (m b) by (field; lra). lra. }
    destruct (common_delta2 n n (fun i b r => r <= 1 - JA n m i b i b)) as [dl [D1 D2]].
    { intros i b Hi Hb. exists (1 - JA n m i b i b). specialize (Bd i b Hi Hb). split; [lra|auto]. }
    assert (M1 := Rmin_l dl 1). assert (M2 := Rmin_r dl 1). assert (M0 : 0 < Rmin dl 1) by (apply Rmin_glb_lt; lra).
    apply (attraction_triangular n n F eye (JA n m) (ordA n) (1 - Rmin dl 1)).
    + now apply fixed_A.
    + now apply derivative_A.
    + lra.
    + now apply JA_tri.
    + intros i b Hi Hb. specialize (Bd i b Hi Hb). specialize (D2 i b (Rmin dl 1) Hi Hb M1). rewrite Rabs_right by lra.
      lra.
Qed.
