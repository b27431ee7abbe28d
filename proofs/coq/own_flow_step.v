(** own:flow-step, own:flow-step-odd, own:flow-step-usa.  What each is stands before its theorems. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions Functions Norms seed_closure Softmax.
Local Open Scope R_scope.

(** own:flow-step and own:flow-step-usa.  Tokens on the sphere with the cosines C follow dx_i/dt = sum_k P_ik (x_k -
  <x_k, x_i> x_i); the pair i, j has the least cosine alpha >= 0.
    P = softmax(beta C): d<x_i, x_j>/dt >= 2 rho (1 - alpha) min((1 + alpha)/(1 + rho),
      (1 + (n-1) alpha)/(1 + (n-1) rho)), rho = e^(-beta (1 - alpha))  [flow_step].
    P = e^(beta C)/n, not normalised: d<x_i, x_j>/dt >= 2 e^(beta alpha) (1 - alpha)(1 + (n-1) alpha)/n
      [flow_step_usa]. *)

(** Symmetric, ones on the diagonal, no entry beyond 1 in modulus. *)
Definition cosines (n : nat) (C : mat) : Prop := (forall a b, (a < n)%nat -> (b < n)%nat -> C a b = C b a) /\
  (forall a, (a < n)%nat -> C a a = 1) /\ (forall a b, (a < n)%nat -> (b < n)%nat -> Rabs (C a b) <= 1).
Definition least_pair (n : nat) (C : mat) (i j : nat) : Prop := (i < n)%nat /\ (j < n)%nat /\ forall a b,
  (a < n)%nat -> (b < n)%nat -> C i j <= C a b.
(** <dx_i/dt, x_j> + <x_i, dx_j/dt> under the weights P *)
Definition closing (n : nat) (P C : mat) (i j : nat) : R :=
  sum n (fun k => P i k * (C k j - C k i * C i j)) + sum n (fun k => P j k * (C k i - C k j * C i j)).

(** The chords of -y log y and of e^(-beta w): y = e^(-beta u), rho = e^(-beta D). *)
Lemma chords D beta u (rho := exp (- (beta * D))) : 0 < D -> 0 <= beta -> 0 <= u <= D -> let y := exp (- (beta * u)) in
  rho <= y <= 1 /\ rho * D * (1 - y) <= (1 - rho) * (y * u) /\ D * (y - rho) <= (1 - rho) * (D - u).
Proof.
  intros HD Hb Hu y. assert (Y : 0 < y) by apply exp_pos. assert (Q : 0 < rho) by apply exp_pos.
  assert (T : 0 <= u / D <= 1) by (split; [apply Rmult_le_pos; [lra|left;
    now apply Rinv_0_lt_compat]|apply Rmult_le_reg_r with D; [lra|]; field_simplify; lra]).
  assert (Hi : y <= 1) by (unfold y; rewrite <- exp_0; apply exp_le; nra).
  assert (Lo : rho <= y) by (unfold y, rho; apply exp_le; nra).
  assert (C1 := exp_convex (u / D) (beta * D) T). assert (C2 := exp_convex (u / D) (- (beta * D)) T). fold rho in C2.
  replace (u / D * (beta * D)) with (beta * u) in C1 by (field; lra).
  replace (u / D * - (beta * D)) with (- (beta * u)) in C2 by (field; lra). fold y in C2.
  assert (E1 : exp (beta * u) = / y) by (unfold y; rewrite exp_Ropp, Rinv_inv; reflexivity).
  assert (E2 : exp (beta * D) = / rho) by (unfold rho; rewrite exp_Ropp, Rinv_inv; reflexivity). rewrite E1, E2 in C1.
  split; [lra|split].
  - apply (Rmult_le_compat_l (rho * D * y)) in C1; [|repeat apply Rmult_le_pos; lra].
    replace (rho * D * y * / y) with (rho * D) in C1 by (field; lra).
    replace (rho * D * y * (1 - u / D + u / D * / rho)) with (rho * D * y - rho * (y * u) + y * u) in C1 by (field;
      lra). lra.
  - apply (Rmult_le_compat_l D) in C2; [|lra]. replace (D * (1 - u / D + u / D * rho)) with (D - u + u * rho) in C2 by
      (field; lra). lra.
Qed.

Section Pair.
Variables (n : nat) (C : mat) (beta : R) (i j : nat).
Hypothesis HC : cosines n C.
Hypothesis Hij : least_pair n C i j.
Let alpha := C i j.
Hypothesis alpha0 : 0 <= alpha.
Hypothesis beta0 : 0 <= beta.
Let D := 1 - alpha.
Let rho := exp (- (beta * D)).
Let u (k : nat) := 1 - C k i.
Let w (k : nat) := 1 - C k j.
Let y (k : nat) := exp (- (beta * u k)).
Let y' (k : nat) := exp (- (beta * w k)).

Lemma u_range k : (k < n)%nat -> 0 <= u k <= D.
Proof. intros Hk. destruct HC as (_ & _ & B). destruct Hij as (Hi & _ & L). unfold u, D, alpha.
assert (A := Rle_abs (C k i)). specialize (B k i Hk Hi). specialize (L k i Hk Hi). lra. Qed.
Lemma w_range k : (k < n)%nat -> 0 <= w k <= D.
Proof. intros Hk. destruct HC as (_ & _ & B). destruct Hij as (_ & Hj & L). unfold w, D, alpha.
assert (A := Rle_abs (C k j)). specialize (B k j Hk Hj). specialize (L k j Hk Hj). lra. Qed.

Lemma weight_i k : (k < n)%nat -> exp (beta * C i k) = exp beta * y k.
Proof. intros Hk. unfold y, u. rewrite <- exp_plus. f_equal. destruct HC as (S & _). destruct Hij as (Hi & _).
rewrite (S i k Hi Hk). ring. Qed.
Lemma weight_j k : (k < n)%nat -> exp (beta * C j k) = exp beta * y' k.
Proof. intros Hk. unfold y', w. rewrite <- exp_plus. f_equal. destruct HC as (S & _). destruct Hij as (_ & Hj & _).
rewrite (S j k Hj Hk). ring. Qed.

(** The speed in u and w. *)
Lemma closing_uw P : closing n P C i j = sum n (fun k => P i k * (D - w k + alpha * u k)) + sum n (fun k => P j k * (D
  - u k + alpha * w k)).
Proof. unfold closing. f_equal; apply sum_ext; intros k _; unfold D, w, u; fold alpha; ring. Qed.

Lemma at_i : 0 < D -> i <> j /\ u i = 0 /\ w i = D /\ u j = D /\ w j = 0.
Proof.
  intros HD. destruct HC as (S & O & _). destruct Hij as (Hi & Hj & _). unfold u, w, D, alpha in *.
  rewrite (O i Hi), (O j Hj), (S j i Hj Hi).
  repeat split; try ring. intro E. rewrite E, (O j Hj) in HD. lra.
Qed.

(** No pair moves apart: for D = 0 that is all. *)
Lemma speed_pos P : (forall a k, (a < n)%nat -> (k < n)%nat -> 0 <= P a k) -> 0 <= closing n P C i j.
Proof.
  intros HP. rewrite closing_uw. destruct Hij as (Hi & Hj & _).
  apply Rplus_le_le_0_compat; apply sum_nonneg; intros k Hk; assert (U := u_range k Hk); assert (W := w_range k Hk);
    apply Rmult_le_pos; try (now apply HP); assert (0 <= alpha * u k) by (apply Rmult_le_pos; lra);
    assert (0 <= alpha * w k) by (apply Rmult_le_pos; lra); lra.
Qed.

Lemma summand k : 0 < D -> (k < n)%nat -> 2 * alpha * rho * D <= y k * (D - w k + alpha * u k) + y' k * (D - u k +
  alpha * w k).
Proof.
  intros HD Hk. assert (U := u_range k Hk). assert (W := w_range k Hk).
  destruct (chords D beta (u k) HD beta0 U) as (Y & C1 & C2).
  destruct (chords D beta (w k) HD beta0 W) as (Y' & C3 & C4).
  fold rho (y k) in Y, C1, C2. fold rho (y' k) in Y', C3, C4. assert (Q : 0 < rho) by apply exp_pos.
  destruct beta0 as [B|B].
  - assert (Q1 : rho < 1) by (apply Rlt_le_trans with (exp 0); [apply exp_increasing;
      assert (G0 := Rmult_lt_0_compat _ _ B HD); lra|rewrite exp_0; lra]).
    apply Rmult_le_reg_l with (1 - rho); [lra|].
    apply Rle_trans with (D * (y k * (y' k - rho) + y' k * (y k - rho)) + alpha * (rho * D * (1 - y k) + rho * D * (1 -
      y' k))).
    + assert (G : 0 <= rho * (1 - alpha) * ((y k - rho) + (y' k - rho)) + 2 * ((y k - rho) * (y' k - rho))) by (apply
        Rplus_le_le_0_compat; [apply Rmult_le_pos; [apply Rmult_le_pos; [lra|fold D; lra]|lra]|apply Rmult_le_pos;
          [lra|apply Rmult_le_pos; lra]]).
      apply (Rmult_le_compat_l D) in G; [|lra]. rewrite Rmult_0_r in G. lra.
    + apply (Rmult_le_compat_l (y k)) in C4; [|lra]. apply (Rmult_le_compat_l (y' k)) in C2; [|lra].
      apply (Rmult_le_compat_l alpha) in C1; [|exact alpha0]. apply (Rmult_le_compat_l alpha) in C3; [|exact alpha0].
      lra.
  - assert (E : forall x, exp (- (beta * x)) = 1) by (intro x; rewrite <- B, Rmult_0_l, Ropp_0; apply exp_0).
    unfold rho, y, y'. rewrite !E. assert (0 <= (1 - alpha) * (D - u k + (D - w k))) by (apply Rmult_le_pos; [fold D;
      lra|lra]). lra.
Qed.

Lemma summands : 0 < D -> 2 * rho * D * (1 + (INR n - 1) * alpha) <= sum n (fun k => y k * (D - w k + alpha * u k) + y'
  k * (D - u k + alpha * w k)).
Proof.
  intros HD. destruct (at_i HD) as (N & Ui & Wi & Uj & Wj). destruct Hij as (Hi & Hj & _).
  replace (2 * rho * D * (1 + (INR n - 1) * alpha)) with (sum n (fun k => 2 * alpha * rho * D + eye i k * ((1 - alpha)
    * rho * D) + eye j k * ((1 - alpha) * rho * D))).
  - apply sum_le; intros k Hk. assert (S := summand k HD Hk). unfold eye.
    destruct (Nat.eqb_spec i k) as [<-|Ni]; [|destruct (Nat.eqb_spec j k) as [<-|Nj]; [|lra]].
    + destruct (Nat.eqb_spec j i); [congruence|]. assert (y i = 1) as -> by (unfold y; rewrite Ui, Rmult_0_r, Ropp_0;
        apply exp_0). assert (y' i = rho) as -> by (unfold y'; now rewrite Wi). rewrite Ui, Wi. lra.
    + assert (y' j = 1) as -> by (unfold y'; rewrite Wj, Rmult_0_r, Ropp_0; apply exp_0).
      assert (y j = rho) as -> by (unfold y; now rewrite Uj). rewrite Uj, Wj. lra.
  - rewrite !sum_plus, sum_const, (sum_eye n i (fun _ => (1 - alpha) * rho * D) Hi),
      (sum_eye n j (fun _ => (1 - alpha) * rho * D) Hj). ring.
Qed.

Lemma pair_usa : closing n (fun a k => exp (beta * C a k) / INR n) C i j >= 2 * exp (beta * alpha) * (1 - alpha) * (1 +
  (INR n - 1) * alpha) / INR n.
Proof.
  destruct Hij as (Hi & Hj & _). assert (N : 0 < INR n) by (apply (lt_INR 0); lia). apply Rle_ge.
  assert (D0 := u_range i Hi). assert (HD : 0 <= D) by lra. destruct HD as [HD|HD].
  - rewrite closing_uw, <- sum_plus.
    rewrite (sum_ext n _ (fun k => exp beta / INR n * (y k * (D - w k + alpha * u k) + y' k * (D - u k + alpha * w
      k)))) by (intros k Hk; rewrite weight_i, weight_j by exact Hk; field; lra).
    rewrite sum_scal. assert (S := summands HD). apply (Rmult_le_compat_l (exp beta / INR n)) in S;
      [|apply Rmult_le_pos; [left; apply exp_pos|left; now apply Rinv_0_lt_compat]]. eapply Rle_trans; [right|exact S].
    replace (exp (beta * alpha)) with (exp beta * rho) by (unfold rho, D; rewrite <- exp_plus; f_equal; ring).
    unfold D. field. lra.
  - unfold D in HD. rewrite <- HD. unfold Rdiv. rewrite Rmult_0_r, !Rmult_0_l. apply speed_pos. intros a k _ _.
    apply Rmult_le_pos; [left; apply exp_pos|left; now apply Rinv_0_lt_compat].
Qed.

Lemma pair_softmax : closing n (fun a => softmax n (fun _ => 1) (fun k => beta * C a k)) C i j >=
  2 * rho * (1 - alpha) * Rmin ((1 + alpha) / (1 + rho)) ((1 + (INR n - 1) * alpha) / (1 + (INR n - 1) * rho)).
Proof.
  destruct Hij as (Hi & Hj & _). assert (n1 : 1 <= INR n) by (apply (le_INR 1); lia). apply Rle_ge.
  assert (D0 := u_range i Hi). assert (HD : 0 <= D) by lra. assert (Q : 0 < rho) by apply exp_pos.
  assert (W1 : weights n (fun _ => 1)) by (split; [intros; lra|exists i; split; [exact Hi|lra]]).
  set (P := fun a => softmax n (fun _ => 1) (fun k => beta * C a k)).
  assert (N1 : 0 < 1 + (INR n - 1) * rho) by (assert (0 <= (INR n - 1) * rho) by (apply Rmult_le_pos; lra); lra).
  destruct HD as [HD|HD]; [|unfold D in HD; rewrite <- HD, Rmult_0_r, Rmult_0_l; apply speed_pos; intros a k _ Hk;
    now apply tilt_nonneg].
  set (A := sum n y). set (B := sum n y'). assert (Yr : forall k, (k < n)%nat -> rho <= y k <= 1) by (intros k Hk;
    apply (chords D beta (u k) HD beta0 (u_range k Hk))).
  assert (Yr' : forall k, (k < n)%nat -> rho <= y' k <= 1) by (intros k Hk;
    apply (chords D beta (w k) HD beta0 (w_range k Hk))). destruct (at_i HD) as (N & Ui & Wi & Uj & Wj).
  assert (Yi : y i = 1) by (unfold y; rewrite Ui, Rmult_0_r, Ropp_0; apply exp_0).
  assert (Yj : y' j = 1) by (unfold y'; rewrite Wj, Rmult_0_r, Ropp_0; apply exp_0).
  assert (One : forall c, (c < n)%nat -> sum n (fun k => rho + eye c k * (1 - rho)) = 1 + (INR n - 1) * rho) by (intros
    c Hc; rewrite sum_plus, sum_const, (sum_eye n c (fun _ => 1 - rho) Hc); ring).
  assert (LA : 1 + (INR n - 1) * rho <= A) by (rewrite <- (One i Hi); apply sum_le; intros k Hk; unfold eye;
    destruct (Nat.eqb_spec i k) as [<-|_]; [rewrite Yi; lra|specialize (Yr k Hk); lra]).
  assert (LB : 1 + (INR n - 1) * rho <= B) by (rewrite <- (One j Hj); apply sum_le; intros k Hk; unfold eye;
    destruct (Nat.eqb_spec j k) as [<-|_]; [rewrite Yj; lra|specialize (Yr' k Hk); lra]).
  assert (Pi : forall k, (k < n)%nat -> P i k = y k / A).
  { intros k Hk. unfold P, softmax, tilt. rewrite Rmult_1_l, weight_i by exact Hk.
    rewrite (sum_ext n _ (fun k => exp beta * y k)) by (intros; rewrite Rmult_1_l; now apply weight_i).
    rewrite sum_scal. fold A. assert (Z := exp_pos beta). field. split; lra. }
  assert (Pj : forall k, (k < n)%nat -> P j k = y' k / B).
  { intros k Hk. unfold P, softmax, tilt. rewrite Rmult_1_l, weight_j by exact Hk.
    rewrite (sum_ext n _ (fun k => exp beta * y' k)) by (intros; rewrite Rmult_1_l; now apply weight_j).
    rewrite sum_scal. fold B. assert (Z := exp_pos beta). field. split; lra. }
  destruct beta0 as [B0|B0].
  - assert (Q1 : rho < 1) by (apply Rlt_le_trans with (exp 0); [apply exp_increasing;
      assert (G0 := Rmult_lt_0_compat _ _ B0 HD); lra|rewrite exp_0; lra]).
    rewrite closing_uw. set (E := sum n (fun k => y k * y' k)).
    assert (Si : D * ((rho * alpha * INR n + E) / A - rho * (1 + alpha)) <= (1 - rho) * sum n (fun k => P i k * (D - w
      k + alpha * u k))).
    { apply Rle_trans with (/ A * sum n (fun k => D * (y k * y' k) - D * rho * (1 + alpha) * y k + D * rho * alpha)).
      - rewrite sum_plus, sum_minus, !sum_scal, sum_const. fold A E. right. field. lra.
      - rewrite <- !sum_scal. apply sum_le; intros k Hk. rewrite Pi by exact Hk.
        replace ((1 - rho) * (y k / A * (D - w k + alpha * u k))) with (/ A * ((1 - rho) * (y k * (D - w k + alpha * u
          k)))) by (field; lra).
        apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; lra|].
        destruct (chords D beta (u k) HD beta0 (u_range k Hk)) as (_ & C1 & _).
        destruct (chords D beta (w k) HD beta0 (w_range k Hk)) as (_ & _ & C2).
        fold rho (y k) in C1. fold rho (y' k) in C2. specialize (Yr k Hk).
        apply (Rmult_le_compat_l (y k)) in C2; [|lra]. apply (Rmult_le_compat_l alpha) in C1; [|exact alpha0]. lra. }
    assert (Sj : D * ((rho * alpha * INR n + E) / B - rho * (1 + alpha)) <= (1 - rho) * sum n (fun k => P j k * (D - u
      k + alpha * w k))).
    { apply Rle_trans with (/ B * sum n (fun k => D * (y k * y' k) - D * rho * (1 + alpha) * y' k + D * rho * alpha)).
      - rewrite sum_plus, sum_minus, !sum_scal, sum_const. fold B E. right. field. lra.
      - rewrite <- !sum_scal. apply sum_le; intros k Hk. rewrite Pj by exact Hk.
        replace ((1 - rho) * (y' k / B * (D - u k + alpha * w k))) with (/ B * ((1 - rho) * (y' k * (D - u k + alpha *
          w k)))) by (field; lra).
        apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; lra|].
        destruct (chords D beta (w k) HD beta0 (w_range k Hk)) as (_ & C1 & _).
        destruct (chords D beta (u k) HD beta0 (u_range k Hk)) as (_ & _ & C2).
        fold rho (y' k) in C1. fold rho (y k) in C2. specialize (Yr' k Hk).
        apply (Rmult_le_compat_l (y' k)) in C2; [|lra]. apply (Rmult_le_compat_l alpha) in C1; [|exact alpha0]. lra. }
    (* what is known of E and of T = A + B *)
    set (T := A + B). assert (E1 : rho * T - INR n * (rho * rho) <= E).
    { apply Rle_trans with (sum n (fun k => rho * (y k + y' k) - rho * rho));
        [rewrite sum_minus, sum_scal, sum_plus, sum_const; unfold T, A, B; lra|]. apply sum_le; intros k Hk.
        specialize (Yr k Hk). specialize (Yr' k Hk). assert (0 <= (y k - rho) * (y' k - rho)) by (apply Rmult_le_pos;
          lra). lra. }
    assert (E2 : T - INR n <= E).
    { apply Rle_trans with (sum n (fun k => y k + y' k - 1)); [rewrite sum_minus, sum_plus, sum_const; unfold T, A, B;
        lra|]. apply sum_le; intros k Hk. specialize (Yr k Hk). specialize (Yr' k Hk).
        assert (0 <= (1 - y k) * (1 - y' k)) by (apply Rmult_le_pos; lra). lra. }
    assert (E0 : 0 <= E) by (apply sum_nonneg; intros k Hk; specialize (Yr k Hk); specialize (Yr' k Hk);
      apply Rmult_le_pos; lra).
    set (X := rho * alpha * INR n + E) in *. assert (X0 : 0 <= X) by (unfold X;
      assert (0 <= rho * alpha * INR n) by (repeat apply Rmult_le_pos; lra); lra).
    assert (Ap : 0 < A) by lra. assert (Bp : 0 < B) by lra. assert (Tp : 0 < T) by (unfold T; lra).
    assert (H4 : 4 * X / T <= X / A + X / B).
    { apply Rmult_le_reg_r with (A * B * T); [repeat apply Rmult_lt_0_compat; lra|].
      replace (4 * X / T * (A * B * T)) with (X * (4 * (A * B))) by (field; lra).
      replace ((X / A + X / B) * (A * B * T)) with (X * (T * T)) by (unfold T; field; split; lra).
      apply Rmult_le_compat_l; [exact X0|]. unfold T. assert (S := Rle_0_sqr (A - B)). unfold Rsqr in S. lra. }
    set (m1 := (1 + alpha) / (1 + rho)). set (m2 := (1 + (INR n - 1) * alpha) / (1 + (INR n - 1) * rho)).
    assert (K : 2 * rho * (1 - rho) * Rmin m1 m2 <= 4 * X / T - 2 * rho * (1 + alpha)).
    { destruct (Rle_dec rho alpha) as [Ge|Lt].
      - apply Rle_trans with (2 * rho * (1 - rho) * m1); [apply Rmult_le_compat_l; [repeat apply Rmult_le_pos;
          lra|apply Rmin_l]|]. assert (G : rho * (1 + alpha) * T <= X * (1 + rho)).
        { destruct (Rle_dec T (INR n * (1 + rho))) as [L|L].
          - apply Rle_trans with ((rho * T + INR n * rho * (alpha - rho)) * (1 + rho)); [|apply Rmult_le_compat_r;
              [lra|unfold X; lra]]. assert (Z : 0 <= rho * (alpha - rho) * (INR n * (1 + rho) - T)) by (repeat apply
                Rmult_le_pos; lra). lra.
          - apply Rle_trans with ((T - INR n * (1 - rho * alpha)) * (1 + rho)); [|apply Rmult_le_compat_r;
              [lra|unfold X; lra]].
            assert (ra : 0 <= 1 - rho * alpha) by (assert (rho * alpha <= 1 * 1) by (apply Rmult_le_compat;
              unfold D in HD; lra); lra). assert (Z : 0 <= (1 - rho * alpha) * (T - INR n * (1 + rho))) by (apply
                Rmult_le_pos; lra). lra. }
        unfold m1. apply Rmult_le_reg_r with (T * (1 + rho)); [apply Rmult_lt_0_compat; lra|].
        replace (2 * rho * (1 - rho) * ((1 + alpha) / (1 + rho)) * (T * (1 + rho))) with (2 * rho * (1 - rho) * (1 +
          alpha) * T) by (field; lra). replace ((4 * X / T - 2 * rho * (1 + alpha)) * (T * (1 + rho))) with (4 * (X *
            (1 + rho)) - 2 * rho * (1 + alpha) * (1 + rho) * T) by (field; lra). lra.
      - apply Rle_trans with (2 * rho * (1 - rho) * m2); [apply Rmult_le_compat_l; [repeat apply Rmult_le_pos;
          lra|apply Rmin_r]|]. set (N' := 1 + (INR n - 1) * rho) in *.
        assert (XT : rho * T - INR n * rho * (rho - alpha) <= X) by (unfold X; lra).
        assert (T2 : 2 * N' <= T) by (unfold T; lra). set (z := INR n * rho * (rho - alpha)) in *.
        assert (Z : 0 <= z) by (unfold z; repeat apply Rmult_le_pos; lra).
        assert (L : 4 * rho - 2 * z / N' <= 4 * X / T).
        { apply Rle_trans with (4 * (rho * T - z) / T).
          - replace (4 * (rho * T - z) / T) with (4 * rho - 4 * z * / T) by (field; lra).
            replace (2 * z / N') with (4 * z * / (2 * N')) by (field; lra).
            assert (/ T <= / (2 * N')) by (apply Rinv_le_contravar; lra).
            assert (4 * z * / T <= 4 * z * / (2 * N')) by (apply Rmult_le_compat_l; lra). lra.
          - unfold Rdiv. apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|lra]. }
        eapply Rle_trans; [|apply Rplus_le_compat_r, L]. right. unfold m2. fold N'. unfold z, N'. field. fold N'. lra. }
    apply Rmult_le_reg_l with (1 - rho); [lra|]. fold D. apply (Rmult_le_compat_l D) in K; [|lra].
    apply (Rmult_le_compat_l D) in H4; [|lra].
    replace ((1 - rho) * (2 * rho * D * Rmin m1 m2)) with (D * (2 * rho * (1 - rho) * Rmin m1 m2)) by ring. lra.
  - assert (V := pair_usa). assert (R1 : rho = 1) by (unfold rho; rewrite <- B0, Rmult_0_l, Ropp_0; apply exp_0).
    assert (e1 : exp (beta * alpha) = 1) by (rewrite <- B0, Rmult_0_l; apply exp_0). rewrite e1 in V.
    apply Rge_le in V. eapply Rle_trans; [|eapply Rle_trans; [exact V|right]].
    + rewrite R1. apply Rle_trans with (2 * 1 * (1 - alpha) * ((1 + (INR n - 1) * alpha) / (1 + (INR n - 1) * 1)));
        [apply Rmult_le_compat_l; [fold D; lra|apply Rmin_r]|]. right. field. lra.
    + unfold closing. f_equal; apply sum_ext; intros k Hk; f_equal; unfold P, softmax, tilt;
        rewrite <- B0, !Rmult_0_l, exp_0; rewrite (sum_ext n _ (fun _ => 1)) by (intros; rewrite Rmult_0_l, exp_0;
          ring); rewrite sum_const; field; lra.
Qed.
End Pair.

Theorem flow_step n (C : mat) beta i j : cosines n C -> least_pair n C i j ->
  let alpha := C i j in let rho := exp (- beta * (1 - alpha)) in 0 <= alpha -> 0 <= beta ->
  closing n (fun a => softmax n (fun _ => 1) (fun k => beta * C a k)) C i j >=
  2 * rho * (1 - alpha) * Rmin ((1 + alpha) / (1 + rho)) ((1 + (INR n - 1) * alpha) / (1 + (INR n - 1) * rho)).
Proof.
  intros HC Hij alpha rho A B. assert (E : rho = exp (- (beta * (1 - alpha)))) by (unfold rho; f_equal; ring).
  rewrite E. now apply pair_softmax.
Qed.

Theorem flow_step_usa n (C : mat) beta i j : cosines n C -> least_pair n C i j -> let alpha := C i j in 0 <= alpha ->
  0 <= beta ->
  closing n (fun a k => exp (beta * C a k) / INR n) C i j >= 2 * exp (beta * alpha) * (1 - alpha) * (1 + (INR n - 1) *
    alpha) / INR n.
Proof. intros HC Hij alpha A B. now apply pair_usa. Qed.

(** own:flow-step-odd.  Tokens on the sphere as in v, an odd number n of them; the pair i, j has the least
    cosine alpha, and rho = e^(-beta (1 - alpha)) <= alpha < 1.  Then d<x_i, x_j>/dt >= 2 rho (1 - alpha) min(m1, m2)
      m1 = (1 + alpha)(n^2 (1 + rho) + 1 - rho)/(n^2 (1 + rho)^2 - (1 - rho)^2),
      m2 = (n (1 + alpha) - (1 - alpha))/(n (1 + rho) - (1 - rho))   [flow_step_odd].
    One token at a time is moved to where its cosines with i and with j are alpha or 1, which does not raise the rate
    [moved]; of what is left the rate is a function of how many tokens are where [counted]. *)

(** e^(lt) (P - Qt) + a + bt is not negative between 0 and 1 if it is not at 0 and at 1: it rises, and from where it
    does not rise it falls. *)
Lemma corner l P Q a b t : 0 < l -> 0 <= Q -> 0 <= b + Q -> 0 <= t <= 1 ->
  let g := fun t => exp (l * t) * (P - Q * t) + a + b * t in 0 <= g 0 -> 0 <= g 1 -> 0 <= g t.
Proof.
  intros Hl HQ Hb Ht g G0 G1. set (g' := fun t => exp (l * t) * (l * (P - Q * t) - Q) + b).
  assert (Dg : forall x, is_derive g x (g' x)).
  { intro x. unfold g, g'. auto_derive; [exact I|]. ring. }
  assert (Ex : forall s, 0 <= s -> 1 <= exp (l * s)).
  { intros s Hs. rewrite <- exp_0. apply exp_le. apply Rmult_le_pos; lra. }
  (* where the derivative is not negative it was not before *)
  assert (Mon : forall s t, 0 <= s -> s <= t -> 0 <= g' t -> 0 <= g' s).
  { intros s u Hs Su Hu. unfold g' in *. set (v := l * (P - Q * s) - Q). assert (E1 := Ex s Hs).
    destruct (Rle_dec Q v) as [Hv|Hv].
    - assert (Q <= exp (l * s) * v) by nra. lra.
    - replace (l * (P - Q * u) - Q) with (v - Q * (l * (u - s))) in Hu by (unfold v; ring).
      replace (exp (l * u)) with (exp (l * s) * exp (l * (u - s))) in Hu by (rewrite <- exp_plus; f_equal; ring).
      set (x := l * (u - s)) in *. assert (x0 : 0 <= x) by (apply Rmult_le_pos; lra).
      assert (e1 : exp x - 1 <= x * exp x).
      { assert (T := exp_ineq1_le (- x)). assert (e0 := exp_pos x). rewrite exp_Ropp in T.
        apply (Rmult_le_compat_l (exp x)) in T; [|lra]. rewrite Rinv_r in T by lra. lra. }
      assert (e2 : 1 <= exp x) by (rewrite <- exp_0; now apply exp_le).
      assert (K : exp x * (v - Q * x) <= v).
      { assert (v * (exp x - 1) <= Q * (exp x - 1)) by (apply Rmult_le_compat_r; lra).
        assert (Q * (exp x - 1) <= Q * (x * exp x)) by (apply Rmult_le_compat_l; lra). lra. }
      apply (Rmult_le_compat_l (exp (l * s))) in K; [|lra]. lra. }
  assert (Mean : forall s u, s < u -> exists c, s < c < u /\ g u - g s = g' c * (u - s)).
  { intros s u Hs. destruct (MVT_cor2 g g' s u Hs) as (c & E & Hc).
    - intros c _. apply is_derive_Reals, Dg.
    - exists c. split; [exact Hc|]. exact E. }
  destruct (Rle_dec 0 (g' t)) as [H|H].
  - destruct (Req_dec t 0) as [->|N]; [exact G0|]. destruct (Mean 0 t ltac:(lra)) as (c & Hc & E).
    assert (0 <= g' c) by (apply (Mon c t); lra). assert (0 <= g' c * (t - 0)) by (apply Rmult_le_pos; lra). lra.
  - destruct (Req_dec t 1) as [->|N]; [exact G1|]. destruct (Mean t 1 ltac:(lra)) as (c & Hc & E).
    assert (g' c < 0). { apply Rnot_le_lt. intro K. apply H, (Mon t c); lra. }
    assert (0 <= - g' c * (1 - t)) by (apply Rmult_le_pos; lra). lra.
Qed.

(* ---------- one token at a time to a corner ---------- *)
Section Rate.
Variables (n : nat) (lam al : R).
Hypothesis lam0 : 0 < lam.
Hypothesis al0 : 0 <= al.
Definition half (th ph : vec) : R :=
  sum n (fun k => exp (- (lam * th k)) * (1 - ph k + al * th k)) / sum n (fun k => exp (- (lam * th k))).
Definition rate (th ph : vec) : R := half th ph + half ph th.
Definition put (f : vec) (k : nat) (c : R) : vec := fun l => if Nat.eqb l k then c else f l.
Definition corner_at (f : vec) (k : nat) : Prop := f k = 0 \/ f k = 1.

Lemma sum_put (f : nat -> R) k : (k < n)%nat -> sum n f = sum n (fun l => if Nat.eqb l k then 0 else f l) + f k.
Proof.
  intros Hk. rewrite (sum_ext n f (fun l => (if Nat.eqb l k then 0 else f l) + eye k l * f l)).
  - rewrite sum_plus, (sum_eye n k f Hk). reflexivity.
  - intros l _. unfold eye. destruct (Nat.eqb_spec l k) as [->|N]; [rewrite Nat.eqb_refl; ring|].
    destruct (Nat.eqb_spec k l); [congruence|ring].
Qed.

Lemma moved_one th ph i k : (i < n)%nat -> (k < n)%nat -> k <> i -> th i = 0 -> 0 <= th k <= 1 -> ph k <= 1 ->
  exists c, (c = 0 \/ c = 1) /\ rate (put th k c) ph <= rate th ph.
Proof.
  intros Hi Hk Nk Ti Tk Pk.
  set (A := sum n (fun l => if Nat.eqb l k then 0 else exp (- (lam * th l)))).
  set (N := sum n (fun l => if Nat.eqb l k then 0 else exp (- (lam * th l)) * (1 - ph l + al * th l))).
  set (B := sum n (fun l => exp (- (lam * ph l)))).
  set (M := sum n (fun l => if Nat.eqb l k then 0 else exp (- (lam * ph l)) * (1 - th l + al * ph l))).
  set (y' := exp (- (lam * ph k))). set (ka := 1 - ph k).
  assert (y0 : 0 < y') by apply exp_pos.
  assert (A1 : 1 <= A).
  { unfold A. eapply Rle_trans; [|apply (sum_term_le n _ i)]; [|intros l _; destruct Nat.eqb; [lra|left;
      apply exp_pos]|exact Hi]. cbv beta.
    destruct (Nat.eqb_spec i k); [congruence|]. rewrite Ti, Rmult_0_r, Ropp_0, exp_0. lra. }
  assert (B1 : 0 < B).
  { unfold B. eapply Rlt_le_trans; [apply (exp_pos (- (lam * ph i)))|].
    apply (sum_term_le n (fun l => exp (- (lam * ph l))) i); [intros; left; apply exp_pos|exact Hi]. }
  assert (V : forall c f, (forall l, l <> k -> f l = th l) -> f k = c -> rate f ph =
    (N + exp (- (lam * c)) * (ka + al * c)) / (A + exp (- (lam * c))) + (M + y' * (1 - c + al * ph k)) / B).
  { intros c f Hf Hc. unfold rate, half. fold B.
    rewrite (sum_put (fun l => exp (- (lam * f l)) * (1 - ph l + al * f l)) k Hk).
    rewrite (sum_put (fun l => exp (- (lam * f l))) k Hk).
    rewrite (sum_put (fun l => exp (- (lam * ph l)) * (1 - f l + al * ph l)) k Hk).
    rewrite Hc. fold ka y'. f_equal; f_equal; f_equal.
    - apply sum_ext; intros l _. destruct (Nat.eqb_spec l k); [reflexivity|]. now rewrite Hf.
    - apply sum_ext; intros l _. destruct (Nat.eqb_spec l k); [reflexivity|]. now rewrite Hf.
    - apply sum_ext; intros l _. destruct (Nat.eqb_spec l k); [reflexivity|]. now rewrite Hf. }
  set (t := th k) in *. assert (Vt := V t th ltac:(reflexivity) eq_refl).
  assert (Vc : forall c, rate (put th k c) ph = _) by (intro c; apply (V c); [intros l Hl; unfold put;
    destruct (Nat.eqb_spec l k); [congruence|reflexivity]|unfold put; now rewrite Nat.eqb_refl]).
  set (m := Rmin (rate (put th k 0) ph) (rate (put th k 1) ph)).
  set (om := y' / B). assert (om0 : 0 < om) by now apply Rdiv_lt_0_compat.
  set (K := (M + y' * (1 + al * ph k)) / B).
  (* m is at most the rate at c, written without quotients *)
  assert (Eq : forall c, let r := (N + exp (- (lam * c)) * (ka + al * c)) / (A + exp (- (lam * c)))
      + (M + y' * (1 - c + al * ph k)) / B in
    (r - m) * (A + exp (- (lam * c))) * exp (lam * c) =
    exp (lam * c) * (N + (K - m) * A - A * om * c) + (ka + K - m) + (al - om) * c).
  { intros c r. assert (e0 := exp_pos (lam * c)). unfold r, K, om. rewrite exp_Ropp. field. split; [lra|split; [lra|]].
    assert (0 < A * exp (lam * c)) by (apply Rmult_lt_0_compat; lra). lra. }
  assert (Sg : forall c r, 0 <= (r - m) * (A + exp (- (lam * c))) * exp (lam * c) <-> m <= r).
  { intros c r. assert (e0 := exp_pos (lam * c)). assert (e1 := exp_pos (- (lam * c))).
    assert (Z : 0 < (A + exp (- (lam * c))) * exp (lam * c)) by (apply Rmult_lt_0_compat; lra).
    rewrite Rmult_assoc. split; intro H; [apply Rnot_lt_le; intro L; nra|apply Rmult_le_pos; lra]. }
  assert (G := corner lam (N + (K - m) * A) (A * om) (ka + K - m) (al - om) t lam0 ltac:(nra) ltac:(nra) Tk).
  cbv zeta beta in G. cbv zeta in Eq. rewrite <- !Eq in G. rewrite !Sg in G. rewrite <- (Vc 0), <- (Vc 1), <- Vt in G.
  assert (m0 : m <= rate (put th k 0) ph) by apply Rmin_l. assert (m1 : m <= rate (put th k 1) ph) by apply Rmin_r.
  specialize (G m0 m1). unfold m in G. unfold Rmin in G. destruct Rle_dec; [exists 0|exists 1]; auto.
Qed.

Lemma moved_first th ph i j : (i < n)%nat -> (j < n)%nat -> th i = 0 -> th j = 1 ->
  (forall k, (k < n)%nat -> 0 <= th k <= 1) -> (forall k, (k < n)%nat -> ph k <= 1) -> forall m, (m <= n)%nat ->
  exists f, rate f ph <= rate th ph /\ f i = 0 /\ f j = 1 /\ (forall k, (k < n)%nat -> 0 <= f k <= 1) /\
    forall k, (k < m)%nat -> corner_at f k.
Proof.
  intros Hi Hj Ti Tj Tk Pk. induction m as [|m IH]; intros Hm.
  - exists th. split; [lra|]. repeat split; try assumption; try (now apply Tk). intros k Hk; lia.
  - destruct (IH ltac:(lia)) as (f & L & Fi & Fj & Fk & Fc).
    assert (Old : (m = i \/ m = j) \/ (m <> i /\ m <> j)) by lia. destruct Old as [O|[Ni Nj]].
    + exists f. split; [exact L|]. repeat split; try assumption; try (now apply Fk). intros k Hk.
      destruct (Nat.eq_dec k m) as [->|N]; [|apply Fc; lia]. destruct O as [->| ->]; [now left|now right].
    + destruct (moved_one f ph i m Hi Hm Ni Fi (Fk m Hm) (Pk m Hm)) as (c & Hc & Lc).
      exists (put f m c). split; [lra|]. unfold put. split; [destruct (Nat.eqb_spec i m); [congruence|exact Fi]|].
      split; [destruct (Nat.eqb_spec j m); [congruence|exact Fj]|]. split.
      * intros k Hk. destruct (Nat.eqb_spec k m); [destruct Hc; lra|now apply Fk].
      * intros k Hk. unfold corner_at, put. destruct (Nat.eqb_spec k m) as [->|N]; [exact Hc|apply Fc; lia].
Qed.

Lemma moved th ph i j : (i < n)%nat -> (j < n)%nat -> th i = 0 -> th j = 1 -> ph i = 1 -> ph j = 0 ->
  (forall k, (k < n)%nat -> 0 <= th k <= 1) -> (forall k, (k < n)%nat -> 0 <= ph k <= 1) -> exists f g,
  rate f g <= rate th ph /\ f i = 0 /\ f j = 1 /\ g i = 1 /\ g j = 0 /\
  forall k, (k < n)%nat -> corner_at f k /\ corner_at g k.
Proof.
  intros Hi Hj Ti Tj Pi Pj Tk Pk.
  destruct (moved_first th ph i j Hi Hj Ti Tj Tk (fun k H => proj2 (Pk k H)) n (le_n n)) as (f & L & Fi & Fj & Fk & Fc).
  destruct (moved_first ph f j i Hj Hi Pj Pi Pk (fun k H => proj2 (Fk k H)) n (le_n n)) as (g & L' & Gj & Gi & Gk & Gc).
  exists f, g. split; [unfold rate in *; lra|]. repeat split; auto.
Qed.

(* ---------- how many tokens are in which corner ---------- *)
Definition at_corner (f g : vec) (a b : bool) (k : nat) : bool :=
  andb (Bool.eqb (if Req_EM_T (f k) 0 then false else true) a) (Bool.eqb (if Req_EM_T (g k) 0 then false else true) b).
Fixpoint count_of (m : nat) (p : nat -> bool) : nat :=
  match m with O => O | S k => (count_of k p + if p k then 1 else 0)%nat end.
Definition real_of (a : bool) : R := if a then 1 else 0.
Lemma at_corner_is f g k x y a b : f k = real_of x -> g k = real_of y ->
  at_corner f g a b k = andb (Bool.eqb x a) (Bool.eqb y b).
Proof.
  intros Hx Hy. unfold at_corner. rewrite Hx, Hy.
  destruct x, y; simpl; repeat (destruct Req_EM_T; try lra); reflexivity.
Qed.
Lemma counted_sum f g (F : R -> R -> R) m : (forall k, (k < m)%nat -> corner_at f k /\ corner_at g k) ->
  let c := fun a b => count_of m (at_corner f g a b) in
  (c false true + c true false + c true true + c false false = m)%nat /\
  sum m (fun k => F (f k) (g k)) = INR (c false true) * F 0 1 + INR (c true false) * F 1 0 + INR (c true true) * F 1 1
    + INR (c false false) * F 0 0.
Proof.
  intros H c. unfold c. clear c. induction m as [|m IH]; [split; [reflexivity|simpl; ring]|].
  destruct (IH (fun k Hk => H k (Nat.lt_lt_succ_r _ _ Hk))) as [E1 E2]. destruct (H m (Nat.lt_succ_diag_r m)) as [Hf Hg].
  assert (exists x y, f m = real_of x /\ g m = real_of y) as (x & y & Hx & Hy).
  { exists (if Req_EM_T (f m) 0 then false else true), (if Req_EM_T (g m) 0 then false else true).
    destruct Hf as [-> | ->], Hg as [-> | ->]; repeat (destruct Req_EM_T; try lra); auto. }
  cbn [count_of sum]. rewrite E2, Hx, Hy. rewrite !(at_corner_is f g m x y _ _ Hx Hy).
  destruct x, y; simpl Bool.eqb; cbn [andb real_of]; rewrite !plus_INR; simpl (INR 1); simpl (INR 0);
    (split; [lia|ring]).
Qed.
Lemma count_pos m (p : nat -> bool) k : (k < m)%nat -> p k = true -> (1 <= count_of m p)%nat.
Proof.
  intros Hk E. induction m as [|m IH]; [lia|]. simpl. destruct (Nat.eq_dec k m) as [->|N]; [rewrite E; lia|].
  assert (k < m)%nat by lia. specialize (IH H). lia.
Qed.
End Rate.

(** The rate where p tokens are at (0, 1), q at (1, 0), c at (1, 1) and e at (0, 0). *)
Section Counts.
Variables rho al : R.
Hypothesis rho0 : 0 < rho.
Hypothesis rho_al : rho <= al.
Hypothesis al1 : al < 1.
Definition at_counts (p q c e : R) : R := (q * (rho * (1 + al)) + c * (rho * al) + e) / (p + e + rho * (q + c))
  + (p * (rho * (1 + al)) + c * (rho * al) + e) / (q + e + rho * (p + c)).

Lemma counts_sym p q c e : at_counts p q c e = at_counts q p c e.
Proof. unfold at_counts. ring. Qed.

(** A token at (0, 0) may go to (0, 1), if there are not more there than at (1, 0). *)
Lemma not_both p q c e : 0 <= p -> p <= q -> 1 <= q -> 0 <= c -> 0 <= e ->
  at_counts (p + 1) q c e <= at_counts p q c (e + 1).
Proof.
  intros Hp Hpq Hq Hc He. unfold at_counts.
  assert (rc : 0 <= rho * c) by (apply Rmult_le_pos; lra). assert (rp : 0 <= rho * p) by (apply Rmult_le_pos; lra).
  assert (rq : 0 <= rho * q) by (apply Rmult_le_pos; lra).
  set (A := p + (e + 1) + rho * (q + c)). set (B := q + (e + 1) + rho * (p + c)).
  set (S := p * (rho * (1 + al)) + c * (rho * al) + (e + 1)).
  replace (p + 1 + e + rho * (q + c)) with A by (unfold A; ring).
  replace (q + e + rho * (p + 1 + c)) with (B - 1 + rho) by (unfold B; ring).
  replace ((p + 1) * (rho * (1 + al)) + c * (rho * al) + e) with (S - 1 + rho + rho * al) by (unfold S; ring).
  replace (q * (rho * (1 + al)) + c * (rho * al) + (e + 1)) with (q * (rho * (1 + al)) + c * (rho * al) + e + 1) by ring.
  set (T := q * (rho * (1 + al)) + c * (rho * al) + e).
  assert (A0 : 0 < A) by (unfold A; lra). assert (B2 : 2 <= B) by (unfold B; lra).
  assert (AB : A <= B) by (unfold A, B; assert (0 <= (q - p) * (1 - rho)) by (apply Rmult_le_pos; lra); lra).
  assert (ra : rho * al <= 1) by (assert (rho * al <= 1 * 1) by (apply Rmult_le_compat; lra); lra).
  assert (SB : S - B + 1 <= rho * al).
  { unfold S, B. assert (0 <= c * (rho * (1 - al))) by (repeat apply Rmult_le_pos; lra).
    assert (0 <= (1 - rho * al) * (q - 1)) by (apply Rmult_le_pos; lra).
    assert (0 <= rho * al * (q - p)) by (repeat apply Rmult_le_pos; lra). lra. }
  assert (M : (S - 1 + rho + rho * al) * B <= (S + 1) * (B - 1 + rho)).
  { assert (K1 : (1 - rho) * (S - B + 1) <= (1 - rho) * (rho * al)) by (apply Rmult_le_compat_l; lra).
    assert (rr : 0 <= rho * al) by (apply Rmult_le_pos; lra).
    assert (K2 : (1 - rho) * (rho * al) <= (1 - rho) * 1) by (apply Rmult_le_compat_l; lra).
    assert (K3 : 2 * (1 - rho * al) <= B * (1 - rho * al)) by (apply Rmult_le_compat_r; lra).
    assert (K4 : rho * al <= rho * 1) by (apply Rmult_le_compat_l; lra). lra. }
  assert (L : (S - 1 + rho + rho * al) / (B - 1 + rho) <= (S + 1) / B).
  { apply Rmult_le_reg_r with (B * (B - 1 + rho)); [apply Rmult_lt_0_compat; lra|].
    replace ((S - 1 + rho + rho * al) / (B - 1 + rho) * (B * (B - 1 + rho))) with ((S - 1 + rho + rho * al) * B) by
      (field; lra).
    replace ((S + 1) / B * (B * (B - 1 + rho))) with ((S + 1) * (B - 1 + rho)) by (field; lra). exact M. }
  assert (I : / B <= / A) by (apply Rinv_le_contravar; lra).
  replace ((T + 1) / A) with (T / A + / A) by (field; lra). replace ((S + 1) / B) with (S / B + / B) in L by (field;
    lra). lra.
Qed.

Lemma no_both : forall e p q c : nat, (1 <= p)%nat -> (1 <= q)%nat -> exists p' q' : nat,
  (1 <= p')%nat /\ (1 <= q')%nat /\ (p' + q' = p + q + e)%nat /\
  at_counts (INR p') (INR q') (INR c) 0 <= at_counts (INR p) (INR q) (INR c) (INR e).
Proof.
  induction e as [|e IH]; intros p q c Hp Hq.
  - exists p, q. repeat split; try assumption; [lia|simpl; lra].
  - assert (c0 := pos_INR c). assert (e0 := pos_INR e). assert (p1 := le_INR 1 p Hp). assert (q1 := le_INR 1 q Hq).
    simpl (INR 1) in p1, q1. destruct (Nat.le_ge_cases p q) as [L|L].
    + destruct (IH (S p) q c ltac:(lia) Hq) as (p' & q' & A & B & E & V). exists p', q'. repeat split; try assumption;
        [lia|].
      eapply Rle_trans; [exact V|]. rewrite !S_INR. apply not_both; try lra. now apply le_INR.
    + destruct (IH p (S q) c Hp ltac:(lia)) as (p' & q' & A & B & E & V). exists p', q'. repeat split; try assumption;
        [lia|].
      eapply Rle_trans; [exact V|]. rewrite !S_INR, (counts_sym (INR p) (INR q + 1)), (counts_sym (INR p) (INR q)).
      apply not_both; try lra. now apply le_INR.
Qed.

Definition two_clusters_rate (n : R) : R :=
  (1 + al) * (n ^ 2 * (1 + rho) + 1 - rho) / (n ^ 2 * (1 + rho) ^ 2 - (1 - rho) ^ 2).
Definition one_between_rate (n : R) : R := (n * (1 + al) - (1 - al)) / (n * (1 + rho) - (1 - rho)).

(** At the counts p, q, c the rate is 2 rho (r + ab y)/(1 - b^2 y), r = K/L and y = (p - q)^2/L^2; it grows with both. *)
Lemma rises b ab r r0 y y0 : 0 <= ab -> 0 <= r0 <= r -> 0 <= y0 <= y -> 0 < 1 - b ^ 2 * y ->
  (r0 + ab * y0) / (1 - b ^ 2 * y0) <= (r + ab * y) / (1 - b ^ 2 * y).
Proof.
  intros Ha Hr Hy Hb. assert (b2 : 0 <= b ^ 2) by apply pow2_ge_0.
  assert (Y : 0 <= b ^ 2 * (y - y0)) by (apply Rmult_le_pos; lra). assert (Z : 0 < 1 - b ^ 2 * y0) by lra.
  apply Rmult_le_reg_r with ((1 - b ^ 2 * y0) * (1 - b ^ 2 * y)); [now apply Rmult_lt_0_compat|].
  replace ((r0 + ab * y0) / (1 - b ^ 2 * y0) * ((1 - b ^ 2 * y0) * (1 - b ^ 2 * y))) with ((r0 + ab * y0) * (1 - b ^ 2
    * y)) by (field; lra).
  replace ((r + ab * y) / (1 - b ^ 2 * y) * ((1 - b ^ 2 * y0) * (1 - b ^ 2 * y))) with ((r + ab * y) * (1 - b ^ 2 *
    y0)) by (field; lra).
  assert (0 <= r0 * (b ^ 2 * (y - y0))) by (apply Rmult_le_pos; lra).
  assert (0 <= ab * (y - y0)) by (apply Rmult_le_pos; lra).
  assert (0 <= (r - r0) * (1 - b ^ 2 * y0)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma counted (p q c n : nat) : (1 <= p)%nat -> (1 <= q)%nat -> (p + q + c = n)%nat -> Nat.Odd n ->
  2 * rho * Rmin (two_clusters_rate (INR n)) (one_between_rate (INR n)) <= at_counts (INR p) (INR q) (INR c) 0.
Proof.
  intros Hp Hq Hn On. assert (p1 := le_INR 1 p Hp). assert (q1 := le_INR 1 q Hq). simpl (INR 1) in p1, q1.
  assert (c0 := pos_INR c). assert (En : INR n = INR p + INR q + INR c) by (rewrite <- Hn, !plus_INR; ring).
  set (x := INR n) in *. set (P := INR p) in *. set (Q := INR q) in *. set (c' := INR c) in *.
  set (a := (1 + al) / 2). set (b := (1 - rho) / 2).
  set (K := (x * (1 + al) - c' * (1 - al)) / 2). set (L := (x * (1 + rho) - c' * (1 - rho)) / 2).
  set (K0 := x * (1 + al) / 2). set (L0 := x * (1 + rho) / 2).
  set (K1 := (x * (1 + al) - (1 - al)) / 2). set (L1 := (x * (1 + rho) - (1 - rho)) / 2).
  assert (rc : 0 <= rho * c') by (apply Rmult_le_pos; lra). assert (rP : 0 < rho * P) by (apply Rmult_lt_0_compat; lra).
  assert (rQ : 0 < rho * Q) by (apply Rmult_lt_0_compat; lra). assert (ac : 0 <= al * c') by (apply Rmult_le_pos; lra).
  assert (aP : 0 < al * P) by (apply Rmult_lt_0_compat; lra). assert (aQ : 0 < al * Q) by (apply Rmult_lt_0_compat;
    lra).
  assert (L_0 : 0 < L) by (unfold L; rewrite En; lra). assert (K_0 : 0 < K) by (unfold K; rewrite En; lra).
  assert (L0_0 : 0 < L0) by (unfold L0; apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat|]; lra).
  assert (K0_0 : 0 < K0) by (unfold K0; apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat|]; lra).
  assert (x2 : 2 <= x) by lra.
  assert (L1_0 : 0 < L1) by (unfold L1; assert (2 * (1 + rho) <= x * (1 + rho)) by (apply Rmult_le_compat_r; lra); lra).
  assert (K1_0 : 0 < K1) by (unfold K1; assert (2 * (1 + al) <= x * (1 + al)) by (apply Rmult_le_compat_r; lra); lra).
  set (y := (P - Q) ^ 2 / L ^ 2).
  assert (y0 : 0 <= y) by (unfold y, Rdiv; apply Rmult_le_pos; [apply pow2_ge_0|left; apply Rinv_0_lt_compat, pow_lt;
    exact L_0]).
  assert (AA : P + rho * (Q + c') = L + b * (P - Q)) by (unfold L, b; rewrite En; field).
  assert (BB : Q + rho * (P + c') = L - b * (P - Q)) by (unfold L, b; rewrite En; field).
  assert (A0 : 0 < L + b * (P - Q)) by (rewrite <- AA; lra). assert (B0 : 0 < L - b * (P - Q)) by (rewrite <- BB; lra).
  assert (by1 : 0 < 1 - b ^ 2 * y).
  { replace (1 - b ^ 2 * y) with ((L + b * (P - Q)) * (L - b * (P - Q)) * / L ^ 2) by (unfold y; field; lra).
    apply Rmult_lt_0_compat; [now apply Rmult_lt_0_compat|apply Rinv_0_lt_compat, pow_lt; exact L_0]. }
  assert (Va : at_counts P Q c' 0 = 2 * rho * ((K / L + a * b * y) / (1 - b ^ 2 * y))).
  { unfold at_counts. rewrite !Rplus_0_r, AA, BB.
    replace (Q * (rho * (1 + al)) + c' * (rho * al)) with (rho * (K - a * (P - Q))) by (unfold K, a; rewrite En; field).
    replace (P * (rho * (1 + al)) + c' * (rho * al)) with (rho * (K + a * (P - Q))) by (unfold K, a; rewrite En; field).
    replace (1 - b ^ 2 * y) with ((L + b * (P - Q)) * (L - b * (P - Q)) * / L ^ 2) by (unfold y; field; lra).
    unfold y. field. repeat split; lra. }
  rewrite Va. apply Rmult_le_compat_l; [lra|].
  assert (ab0 : 0 <= a * b) by (unfold a, b; apply Rmult_le_pos; lra).
  assert (KL0 : 0 <= K / L) by (left; now apply Rdiv_lt_0_compat).
  assert (cross : forall u v u' v', 0 < v -> 0 < v' -> u * v' <= u' * v -> u / v <= u' / v').
  { intros u v u' v' Hv Hv' H. apply Rmult_le_reg_r with (v * v'); [now apply Rmult_lt_0_compat|].
    replace (u / v * (v * v')) with (u * v') by (field; lra). replace (u' / v' * (v * v')) with (u' * v) by (field; lra).
    exact H. }
  destruct (Nat.Even_or_Odd c) as [Ev|Od].
  - eapply Rle_trans; [apply Rmin_l|].
    assert (D1 : 1 <= (P - Q) ^ 2).
    { assert (N : p <> q). { intros ->. destruct Ev as [u ->]. destruct On as [v ->]. lia. }
      destruct (Nat.lt_total p q) as [H|[H|H]]; [|contradiction|]; apply le_INR in H; rewrite S_INR in H; fold P Q in H;
        nra. }
    replace (two_clusters_rate x) with ((K0 / L0 + a * b * (1 / L0 ^ 2)) / (1 - b ^ 2 * (1 / L0 ^ 2))).
    + apply rises; [exact ab0| | |exact by1].
      * split; [left; now apply Rdiv_lt_0_compat|]. apply cross; try assumption. unfold K0, L, K, L0.
        assert (0 <= x * c' * (al - rho)) by (repeat apply Rmult_le_pos; lra). lra.
      * split; [unfold Rdiv; apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat, pow_lt; exact L0_0]|].
        unfold y. apply cross; try (now apply pow_lt). assert (0 <= c' * (1 - rho)) by (apply Rmult_le_pos; lra).
        assert (LL : L <= L0) by (unfold L, L0; lra).
        assert (L ^ 2 <= L0 ^ 2) by (apply pow_incr; lra). assert (0 < L0 ^ 2) by now apply pow_lt.
        assert (1 * L0 ^ 2 <= (P - Q) ^ 2 * L0 ^ 2) by (apply Rmult_le_compat_r; lra). lra.
    + unfold two_clusters_rate. assert (Z : 0 < x ^ 2 * (1 + rho) ^ 2 - (1 - rho) ^ 2).
      { replace (x ^ 2 * (1 + rho) ^ 2 - (1 - rho) ^ 2) with ((x * (1 + rho) - (1 - rho)) * (x * (1 + rho) + (1 - rho))) by
          ring.
        apply Rmult_lt_0_compat; [unfold L1 in L1_0; lra|]. assert (0 < x * (1 + rho)) by (apply Rmult_lt_0_compat;
          lra). lra. }
      unfold K0, L0, a, b. field. split; [|split; lra]. lra.
  - eapply Rle_trans; [apply Rmin_r|]. assert (c1 : 1 <= c').
    { destruct Od as [u Hu]. assert (1 <= c)%nat by lia. now apply (le_INR 1). }
    replace (one_between_rate x) with ((K1 / L1 + a * b * 0) / (1 - b ^ 2 * 0)).
    + apply rises; [exact ab0| |lra|exact by1]. split; [left; now apply Rdiv_lt_0_compat|].
      apply cross; try assumption. unfold K1, L, K, L1.
      assert (0 <= x * (c' - 1) * (al - rho)) by (repeat apply Rmult_le_pos; lra). lra.
    + unfold one_between_rate, K1, L1. field. unfold L1 in L1_0. lra.
Qed.
End Counts.

Theorem flow_step_odd n (C : mat) beta i j : cosines n C -> least_pair n C i j -> Nat.Odd n ->
  let alpha := C i j in let rho := exp (- beta * (1 - alpha)) in rho <= alpha -> alpha < 1 -> 0 <= beta ->
  2 * rho * (1 - alpha) * Rmin (two_clusters_rate rho alpha (INR n)) (one_between_rate rho alpha (INR n)) <=
  closing n (fun a => softmax n (fun _ => 1) (fun k => beta * C a k)) C i j.
Proof.
  intros HC Hij On al rho Hr Ha Hb. destruct Hij as (Hi & Hj & Lst). destruct HC as (Sy & One & Bd).
  assert (r0 : 0 < rho) by apply exp_pos. set (D := 1 - al). assert (D0 : 0 < D) by (unfold D; lra).
  assert (b0 : 0 < beta).
  { destruct Hb as [Hb|Hb]; [exact Hb|]. exfalso. unfold rho in Hr. rewrite <- Hb, Ropp_0, Rmult_0_l, exp_0 in Hr. lra. }
  set (lam := beta * D). assert (l0 : 0 < lam) by (apply Rmult_lt_0_compat; lra).
  set (th := fun k => (1 - C k i) / D). set (ph := fun k => (1 - C k j) / D).
  assert (Le1 : forall a b, (a < n)%nat -> (b < n)%nat -> C a b <= 1).
  { intros a b A B. eapply Rle_trans; [apply Rle_abs|now apply Bd]. }
  assert (rg : forall a b, (a < n)%nat -> (b < n)%nat -> 0 <= (1 - C a b) / D <= 1).
  { intros a b A B. assert (E1 := Le1 a b A B). assert (E2 := Lst a b A B). fold al in E2. split.
    - unfold Rdiv. apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat].
    - apply Rmult_le_reg_r with D; [exact D0|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. unfold D. lra. }
  assert (Cn : closing n (fun a => softmax n (fun _ => 1) (fun k => beta * C a k)) C i j = D * rate n lam al th ph).
  { unfold closing, rate, half. rewrite Rmult_plus_distr_l.
    assert (Sm : forall a (f : nat -> R), (a < n)%nat ->
      sum n (fun k => softmax n (fun _ => 1) (fun k => beta * C a k) k * f k) =
      sum n (fun k => exp (- (lam * ((1 - C k a) / D))) * f k) / sum n (fun k => exp (- (lam * ((1 - C k a) / D))))).
    { intros a f A. assert (W : forall k, (k < n)%nat -> exp (beta * C a k) = exp beta * exp (- (lam * ((1 - C k a) / D)))).
      { intros k Hk. rewrite <- exp_plus. f_equal. rewrite (Sy a k A Hk). unfold lam. field. lra. }
      set (Z := sum n (fun k => exp (- (lam * ((1 - C k a) / D))))).
      assert (Z0 : 0 < Z).
      { unfold Z. eapply Rlt_le_trans; [apply (exp_pos (- (lam * ((1 - C a a) / D))))|].
        apply (sum_term_le n (fun l => exp (- (lam * ((1 - C l a) / D)))) a); [intros; left; apply exp_pos|exact A]. }
      unfold softmax, tilt. rewrite (sum_ext n (fun k => 1 * exp (beta * C a k)) (fun k => exp beta * exp (- (lam * ((1 -
        C k a) / D))))) by (intros; rewrite Rmult_1_l; now apply W).
      rewrite sum_scal. fold Z. symmetry. unfold Rdiv at 1. rewrite <- sum_scal_r. apply sum_ext. intros k Hk.
      rewrite W by exact Hk.
      assert (E0 := exp_pos beta). field. split; lra. }
    rewrite (Sm i (fun k => C k j - C k i * C i j) Hi), (Sm j (fun k => C k i - C k j * C i j) Hj).
    assert (Dv : forall u v z, u = D * v -> u / z = D * (v / z)) by (intros u v z ->; unfold Rdiv; ring).
    f_equal; apply Dv; rewrite <- sum_scal; apply sum_ext; intros k _; unfold th, ph; fold al; unfold D; field; unfold D in D0; lra. }
  assert (Ti : th i = 0) by (unfold th; rewrite One by exact Hi; field; lra).
  assert (Tj : th j = 1) by (unfold th; rewrite (Sy j i Hj Hi); fold al D; field; lra).
  assert (Pi : ph i = 1) by (unfold ph; fold al D; field; lra).
  assert (Pj : ph j = 0) by (unfold ph; rewrite One by exact Hj; field; lra).
  destruct (moved n lam al l0 ltac:(lra) th ph i j Hi Hj Ti Tj Pi Pj (fun k H => rg k i H Hi) (fun k H => rg k j H Hj))
    as (f & g & Le & Fi & Fj & Gi & Gj & Cor).
  assert (El : exp (- (lam * 1)) = rho) by (unfold rho, lam, D; f_equal; ring).
  assert (E0 : exp (- (lam * 0)) = 1) by (rewrite Rmult_0_r, Ropp_0; apply exp_0).
  assert (Cor' : forall k, (k < n)%nat -> corner_at g k /\ corner_at f k) by (intros k Hk; destruct (Cor k Hk); auto).
  destruct (counted_sum f g (fun u v => exp (- (lam * u)) * (1 - v + al * u)) n Cor) as [Cn1 S1].
  destruct (counted_sum f g (fun u v => exp (- (lam * u))) n Cor) as [_ S2].
  destruct (counted_sum f g (fun u v => exp (- (lam * v)) * (1 - u + al * v)) n Cor) as [_ S3].
  destruct (counted_sum f g (fun u v => exp (- (lam * v))) n Cor) as [_ S4].
  set (p := count_of n (at_corner f g false true)) in *. set (q := count_of n (at_corner f g true false)) in *.
  set (c := count_of n (at_corner f g true true)) in *. set (e := count_of n (at_corner f g false false)) in *.
  assert (Hp : (1 <= p)%nat) by (apply (count_pos n _ i Hi); rewrite (at_corner_is f g i false true); auto).
  assert (Hq : (1 <= q)%nat) by (apply (count_pos n _ j Hj); rewrite (at_corner_is f g j true false); auto).
  assert (Rt : rate n lam al f g = at_counts rho al (INR p) (INR q) (INR c) (INR e)).
  { unfold rate, half, at_counts. cbv beta in S1, S2, S3, S4. rewrite S1, S2, S3, S4, !El, !E0. f_equal; f_equal; ring. }
  destruct (no_both rho al r0 Hr Ha e p q c Hp Hq) as (p' & q' & Hp' & Hq' & En & Vv).
  assert (Ct := counted rho al r0 Hr Ha p' q' c n Hp' Hq' ltac:(lia) On).
  rewrite Cn. fold D. rewrite (Rmult_comm (2 * rho) D), Rmult_assoc.
  apply Rmult_le_compat_l; [lra|]. rewrite Rt in Le. lra.
Qed.
