(** own:flow-step and own:flow-step-usa.  Tokens on the sphere with the cosines C follow dx_i/dt = sum_k P_ik (x_k -
  <x_k, x_i> x_i); the pair i, j has the least cosine alpha >= 0.
    P = softmax(beta C): d<x_i, x_j>/dt >= 2 rho (1 - alpha) min((1 + alpha)/(1 + rho),
      (1 + (n-1) alpha)/(1 + (n-1) rho)), rho = e^(-beta (1 - alpha))  [flow_step].
    P = e^(beta C)/n, not normalised: d<x_i, x_j>/dt >= 2 e^(beta alpha) (1 - alpha)(1 + (n-1) alpha)/n
      [flow_step_usa]. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms Softmax seed_closure.
Local Open Scope R_scope.

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
