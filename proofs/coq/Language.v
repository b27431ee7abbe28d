(** The words of the language of claims, in Coq: what [Statements.v] is written in.

    [Statements.v] is printed from the registry by [python -m rankmath.report.coq]; this file is written by hand, and
    the comment of every quantity begins with its name and its meaning in the registry: a test compares the two.
    Nothing about a word is proved here; [LanguageFacts.v] does that.

    An array has its size in its type: [vector m] has the entries v 0, ..., v (m-1), [matrix n m] the entries A i j,
      i < n and
    j < m; what a function does beyond is never looked at.  [sequence t n] is t square matrices, the first layer first.
    *)
Require Import Reals ZArith.
From Coquelicot Require Import Coquelicot.
From Rankmath Require Import Definitions.
Local Open Scope R_scope.

Definition vector (m : nat) := nat -> R.
Definition matrix (n m : nat) := nat -> nat -> R.
Definition sequence (t n : nat) := nat -> matrix n n.
Definition row {n m} (A : matrix n m) (i : nat) : vector m := A i.

(* ---------- numbers ---------- *)
(** The largest and the least of f 0, ..., f (n-1); 0 for n = 0. *)
Fixpoint largest (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => match m with O => f m | _ => Rmax (largest m f) (f m) end end.
Fixpoint least (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => match m with O => f m | _ => Rmin (least m f) (f m) end end.
(** The least upper and greatest lower bound of a set of numbers. *)
Definition sup_of (S : R -> Prop) : R := real (Lub_Rbar S).
Definition inf_of (S : R -> Prop) : R := real (Glb_Rbar S).
(** x to a real power, for x >= 0: 0 at x = 0. *)
Definition power (x y : R) : R := if Rle_dec x 0 then 0 else Rpower x y.
(** expc: (eˣ − 1)/x, 1 at x = 0 *)
Definition expc (x : R) : R := if Req_EM_T x 0 then 1 else (exp x - 1) / x.
(** tanhc: tanh(x)/x, 1 at x = 0 *)
Definition tanhc (x : R) : R := if Req_EM_T x 0 then 1 else tanh x / x.
(** 1.25643…, the positive root of eˣ = 1 + 2x *)
Definition is_x_star (x : R) : Prop := 0 < x /\ exp x = 1 + 2 * x.

(* ---------- vectors ---------- *)
(** count: how many entries a vector has *)
Definition count {m} (v : vector m) : nat := m.
(** top: the largest entry *)
Definition top {m} (v : vector m) : R := largest m v.
(** bottom: the least entry *)
Definition bottom {m} (v : vector m) : R := least m v.
(** osc: largest minus least entry of a vector, or of a row of a matrix *)
Definition osc {m} (v : vector m) : R := largest m v - least m v.
(** range_of: largest minus least entry, exactly *)
Definition range_of {m} (z : vector m) : R := largest m z - least m z.
(** positive: every entry is positive *)
Definition positive {m} (v : vector m) : Prop := forall j, (j < m)%nat -> 0 < v j.
(** distinct: no two entries are equal *)
Definition distinct {m} (v : vector m) : Prop := forall i j, (i < m)%nat -> (j < m)%nat -> v i = v j -> i = j.
(** unit_vector: x has norm 1 *)
Definition unit_vector {d} (x : vector d) : Prop := l2 d x = 1.

(** e^(c_j)/sum_k e^(c_k) *)
Definition shares {m} (c : vector m) : vector m := softmax m (fun _ => 1) c.
Definition vplus {m} (c g : vector m) : vector m := fun j => c j + g j.
(** tv: total variation ½‖p − q‖₁ of q = softmax(c) and p = softmax(c + g) *)
Definition tv {m} (c g : vector m) : R := / 2 * sum m (fun j => Rabs (shares (vplus c g) j - shares c j)).
(** relative_gain: largest P_ij/q_j − 1 over j, P_i = softmax(c + E_i) and q = softmax(c) *)
Definition relative_gain {m} (c E : vector m) : R := largest m (fun j => shares (vplus c E) j / shares c j - 1).
(** relative_loss: largest 1 − P_ij/q_j over j, P_i = softmax(c + E_i) and q = softmax(c) *)
Definition relative_loss {m} (c E : vector m) : R := largest m (fun j => 1 - shares (vplus c E) j / shares c j).
(** largest_share: the largest entry of softmax(c) *)
Definition largest_share {m} (c : vector m) : R := largest m (shares c).
(** least_share: the least entry of softmax(c) *)
Definition least_share {m} (c : vector m) : R := least m (shares c).

Definition entropy_of {m} (p : vector m) : R := - sum m (fun i => p i * ln (p i)).
Definition normalised_sum {m} (v : vector m) : vector m := fun i => v i / sum m v.
(** erank: exp of the entropy of σ/Σσ, σ the singular values of H (Roy and Vetterli 2007) *)
Definition erank {m} (sigma : vector m) : R := exp (entropy_of (normalised_sum sigma)).
(** erank_after: the same after the step, whose singular values are |σ(1 + s − sσ²)| *)
Definition erank_after {m} (sigma : vector m) (s : R) : R :=
  erank ((fun i => Rabs (sigma i * (1 + s - s * sigma i ^ 2))) : vector m).
(** entropy_floor: log(1 + (T − 1)β) + s√(T(T − 1))β/(1 + (T − 1)β), β = e^(−s√(T/(T − 1))), for T tokens *)
Definition entropy_floor (T s : R) : R := let beta := exp (- (s * sqrt (T / (T - 1)))) in
  ln (1 + (T - 1) * beta) + s * sqrt (T * (T - 1)) * beta / (1 + (T - 1) * beta).

(** y = (x + e_d)(I + wS), S with ones on the superdiagonal. *)
Definition shifted {d} (x : vector d) (w : R) : vector d := fun b =>
  let v := fun a => x a + (if Nat.eqb a (d - 1) then 1 else 0) in v b + w * (if Nat.eqb b 0 then 0 else v (b - 1)%nat).
Definition unit_of {d} (y : vector d) : vector d := fun a => y a / l2 d y.
(** in_printed_set: x_i < 0 for i < d − 2, x_{d−2} ≤ −1/w and Σ_{i<d−2} (x_i/x_{d−2})² ≤ √(w² − 1), counted from 0;
    nothing on x_{d−1} *)
Definition in_printed_set {d} (x : vector d) (w : R) : Prop :=
  (forall a, (a < d - 2)%nat -> x a < 0) /\ x (d - 2)%nat <= - / w /\
  sum (d - 2) (fun a => (x a / x (d - 2)%nat) ^ 2) <= sqrt (w ^ 2 - 1).
(** stays_far: y/‖y‖ with y = (x + e_{d−1})(I + wS), S with ones on the superdiagonal, has coordinate d − 2, counted
    from 0, at most −1/w *)
Definition stays_far {d} (x : vector d) (w : R) : Prop := unit_of (shifted x w) (d - 2)%nat <= - / w.
Definition is_log_concave {d} (x : vector d) : Prop := forall b c, (b < c)%nat -> (S c < d - 1)%nat ->
  Rabs (x b) * Rabs (x (S c)) <= Rabs (x (S b)) * Rabs (x c).
Definition is_graded {d} (x : vector d) (w : R) : Prop := forall b, (S b < d - 1)%nat ->
  w * Rabs (x b) <= sqrt (w ^ 2 - 1) * Rabs (x (S b)).
Definition far_and_negative {d} (x : vector d) (w : R) : Prop :=
  (forall a, (a < d - 1)%nat -> x a <= 0) /\ x (d - 2)%nat <= - / w.
(** in_repaired_set: x_i ≤ 0 for i < d − 1, x_{d−2} ≤ −1/w, and |x_0|, …, |x_{d−2}| log-concave without gaps, or
    w|x_b| ≤ √(w² − 1)|x_{b+1}| for b < d − 2, counted from 0; x_{d−1} has any sign *)
Definition in_repaired_set {d} (x : vector d) (w : R) : Prop :=
  far_and_negative x w /\ (is_log_concave x \/ is_graded x w).
(** stays_in_repaired_set: y/‖y‖ with y = (x + e_{d−1})(I + wS), S with ones on the superdiagonal, is in the set
    again: log-concave where x was, graded where x was *)
Definition stays_in_repaired_set {d} (x : vector d) (w : R) : Prop := let y := unit_of (shifted x w) in
  far_and_negative y w /\ (is_log_concave x -> is_log_concave y) /\ (is_graded x w -> is_graded y w).

(* ---------- matrices ---------- *)
(** The spectral norm: the largest l2 norm of v A over |v| <= 1. *)
Definition spectral {n m} (A : matrix n m) : R := sup_of (fun x => exists v : vec,
  l2 n v <= 1 /\ x = l2 m (vmat n v A)).
(** composite: √(‖A‖₁‖A‖_∞): the root of the largest column sum times the largest row sum of absolute values *)
Definition composite {n m} (A : matrix n m) : R := comp n m A.
(** composite_sum: the same of A + B *)
Definition composite_sum {n m} (A B : matrix n m) : R := comp n m (madd A B).
(** positive_stochastic: every entry is positive, and every row sums to 1 exactly *)
Definition positive_stochastic {n m} (A : matrix n m) : Prop :=
  (forall i j, (i < n)%nat -> (j < m)%nat -> 0 < A i j) /\ forall i, (i < n)%nat -> sum m (A i) = 1.
(** dobrushin_of: Dobrushin's coefficient: the largest total variation ½‖A_i − A_j‖₁ of two rows *)
Definition dobrushin_of {n m} (A : matrix n m) : R :=
  largest n (fun i => largest n (fun j => / 2 * sum m (fun k => Rabs (A i k - A j k)))).
Definition attention_of {n m} (L : matrix n m) : matrix n m := fun i => shares (row L i).
(** z is an eigenvalue of the square A; of what A induces on vectors modulo constants,
  which for rows that sum to one are the
    eigenvalues besides one eigenvalue 1. *)
Definition eigenvalue_of {n} (A : matrix n n) (z : C) : Prop := exists v : nat ->
  C, (exists i, (i < n)%nat /\ v i <> 0%C) /\
  forall i, (i < n)%nat -> csum n (fun j => RtoC (A i j) * v j)%C = (z * v i)%C.
Definition eigenvalue_besides {n} (A : matrix n n) (z : C) : Prop := exists (v : nat -> C) (c : C),
  (exists i j, (i < n)%nat /\ (j < n)%nat /\ v i <> v j) /\
  forall i, (i < n)%nat -> csum n (fun j => RtoC (A i j) * v j)%C = (z * v i + c)%C.
(** subdominant: largest modulus of an eigenvalue of softmax(L), row by row, besides the simple eigenvalue 1 *)
Definition subdominant {n} (L : matrix n n) : R := sup_of (fun x => exists z,
  eigenvalue_besides (attention_of L) z /\ x = Cmod z).
(** mixing: Dobrushin's coefficient of softmax(L): the largest total variation of two rows *)
Definition mixing {n} (L : matrix n n) : R := dobrushin_of (attention_of L).
(** symmetric: the matrix is symmetric and its entries are positive *)
Definition symmetric {n} (K : matrix n n) : Prop :=
  forall i j, (i < n)%nat -> (j < n)%nat -> K i j = K j i /\ 0 < K i j.
(** real_attention: all eigenvalues of K with its rows divided by their sums are real (and in (-1, 1]) *)
Definition real_attention {n} (K : matrix n n) : Prop :=
  forall z, eigenvalue_of ((fun i => normalised_sum (row K i)) : matrix n n) z -> exists x, z = RtoC x /\ -1 < x <= 1.
(** real_spectrum: all eigenvalues are real (and then in (−1, 1], for positive row-stochastic matrices) *)
Definition real_spectrum {n} (A : matrix n n) : Prop := forall z, eigenvalue_of A z -> exists x, z = RtoC x.
(** cosines: C is symmetric with ones on its diagonal and no entry beyond ±1, as the cosines ⟨x_i, x_j⟩ of tokens are *)
Definition cosines {n} (C : matrix n n) : Prop := (forall a b, (a < n)%nat -> (b < n)%nat -> C a b = C b a) /\
  (forall a, (a < n)%nat -> C a a = 1) /\ (forall a b, (a < n)%nat -> (b < n)%nat -> Rabs (C a b) <= 1).
(** least_cosine: least entry *)
Definition least_cosine {n} (C : matrix n n) : R := least n (fun i => least n (C i)).
(** d⟨x_i, x_j⟩/dt where dx_i/dt = Σ_k P_ik (x_k − ⟨x_k, x_i⟩x_i). *)
Definition closing_rate {n} (P C : matrix n n) (i j : nat) : R :=
  sum n (fun k => P i k * (C k j - C k i * C i j)) + sum n (fun k => P j k * (C k i - C k j * C i j)).
Definition over_least_pairs {n} (C : matrix n n) (f : nat -> nat -> R) : R := inf_of (fun x =>
  exists i j, (i < n)%nat /\ (j < n)%nat /\ C i j = least_cosine C /\ x = f i j).
(** closing: least d⟨x_i, x_j⟩/dt over the pairs with the least cosine,
  for tokens with the cosines C on the sphere that follow dx_i/dt = Σ_k P_ik
    (x_k − ⟨x_k, x_i⟩x_i), P = softmax(βC) *)
Definition closing {n} (C : matrix n n) (beta : R) : R := over_least_pairs C
  (closing_rate ((fun a => shares ((fun k => beta * C a k) : vector n)) : matrix n n) C).
(** closing_usa: least d⟨x_i, x_j⟩/dt over the pairs with the least cosine,
  for tokens with the cosines C on the sphere that follow dx_i/dt = Σ_k
    e^{βC_ik}(x_k − ⟨x_k, x_i⟩x_i)/n: attention that is not normalised *)
Definition closing_usa {n} (C : matrix n n) (beta : R) : R := over_least_pairs C
  (closing_rate (fun a k => exp (beta * C a k) / INR n) C).
(** row_mu: Frobenius norm of the rows about their mean *)
Definition row_mu {n d} (Y : matrix n d) : R := Definitions.mu n d Y.
(** normed_mu: Frobenius norm about their mean of the rows, each divided by its ℓ₂ norm *)
Definition normed_mu {n d} (Y : matrix n d) : R := Definitions.mu n d (fun i => unit_of (row Y i)).
(** length_mu: root of the sum of the squares of the rows' ℓ₂ norms about their mean *)
Definition length_mu {n d} (Y : matrix n d) : R := Definitions.mu n 1 (fun i _ => l2 d (Y i)).
(** least_length: the least ℓ₂ norm of a row (k = 0), or the least but one (k = 1), and so on *)
Definition least_length {n d} (Y : matrix n d) (k : nat) : R := inf_of (fun x => exists f : nat -> nat,
  (forall i j, (i <= k)%nat -> (j <= k)%nat -> f i = f j -> i = j) /\
  forall j, (j <= k)%nat -> (f j < n)%nat /\ l2 d (Y (f j)) <= x).
(** received: the most attention that one token receives in all, P_ij in proportion to e^{−‖z_i − z_j‖²} *)
Definition received {n d} (Z : matrix n d) : R := largest n (fun j => sum n (fun i =>
  shares ((fun k => - dot d (vsub (Z i) (Z k)) (vsub (Z i) (Z k))) : vector n) j)).
(** logit_size: spectral norm of W times that of XXᵀ *)
Definition logit_size {n d} (X : matrix n d) (W : matrix d d) : R :=
  spectral W * spectral ((fun i j => dot d (X i) (X j)) : matrix n n).
(** row_entropy: least entropy of a row of softmax(XWXᵀ), in nats *)
Definition row_entropy {n d} (X : matrix n d) (W : matrix d d) : R :=
  least n (fun i => entropy_of (shares ((fun j => bil d (X i) W (X j)) : vector n))).
(** equal_tokens: all rows are equal *)
Definition equal_tokens {n d} (Z : matrix n d) : Prop :=
  forall j k a, (j < n)%nat -> (k < n)%nat -> (a < d)%nat -> Z j a = Z k a.
(** Entry a of token i of softmax(Z(M + hG)Zᵀ)ZV. *)
Definition mixed_along {n d m} (Z : matrix n d) (M G : matrix d d) (V : matrix d m) (i a : nat) (h : R) : R :=
  sum n (fun j => shares ((fun k => bil d (Z i) M (Z k) + h * bil d (Z i) G (Z k)) : vector n) j * vmat d (Z j) V a).
(** no_gradient: Σ_j (f_ij − Σ_k f_ik/n) z_j V = 0 for f = ZGZᵀ: attention on equal tokens is 1/n,
    whatever M; here: the derivative of every token of softmax(ZMZᵀ)ZV along G exists and is 0 *)
Definition no_gradient {n d m} (Z : matrix n d) (M : matrix d d) (V : matrix d m) (G : matrix d d) : Prop :=
  forall i a, (i < n)%nat -> (a < m)%nat -> is_derive (mixed_along Z M G V i a) 0 0.
(** weight_gradient: ℓ₂ norm of the derivative of token i of softmax(ZMZᵀ)ZV when M moves along G *)
Definition weight_gradient {n d m} (Z : matrix n d) (M : matrix d d) (V : matrix d m) (G : matrix d d) (i : nat) : R :=
  l2 m (fun a => Derive (mixed_along Z M G V i a) 0).
(** value_spread: largest ℓ₂ distance of two rows of Z V *)
Definition value_spread {n d m} (Z : matrix n d) (V : matrix d m) : R :=
  largest n (fun j => largest n (fun k => l2 m (vsub (vmat d (Z j) V) (vmat d (Z k) V)))).
(** logit_shift: largest minus least z_i G z_jᵀ over j: how far row i of the logits moves along G *)
Definition logit_shift {n d} (Z : matrix n d) (M : matrix d d) (G : matrix d d) (i : nat) : R :=
  osc ((fun j => bil d (Z i) G (Z j)) : vector n).
(** softmax_slope: spectral norm of the derivative (diag p − ppᵀ)/T of c ↦ p = softmax(c/T) *)
Definition softmax_slope {m} (c : vector m) (T : R) : R := spectral
  ((fun i j => Derive (fun h => shares ((fun k => (c k + h * eye i k) / T) : vector m) j) 0) : matrix m m).
(** distance_jacobian_norm: spectral norm of the derivative of f(Z)_i = Σ_j P_ij z_j,
  P_ij in proportion to e^{−‖z_i − z_j‖²} *)
Definition distance_jacobian_norm {n d} (Z : matrix n d) : R :=
  let f := fun (Z : mat) i a => sum n (fun j =>
    shares ((fun k => - dot d (vsub (Z i) (Z k)) (vsub (Z i) (Z k))) : vector n) j * Z j a) in
  sup_of (fun x => exists H : mat, frob n d H <= 1 /\
    x = frob n d (fun i a => Derive (fun t => f (fun p q => Z p q + t * H p q) i a) 0)).
(** inverse_phi: of a number x, Lambert's function at x/e: the y ≥ 0 with y e^{y+1} = x *)
Definition inverse_phi (x : R) : R := sup_of (fun y => 0 <= y /\ y * exp (y + 1) <= x).
(** dependent: the rows are linearly dependent, as they are where d < n *)
Definition dependent {n d} (X : matrix n d) : Prop := exists v : vec, (exists i, (i < n)%nat /\ v i <> 0) /\
  forall a, (a < d)%nat -> sum n (fun i => v i * X i a) = 0.
(** independent: the rows are linearly independent *)
Definition independent {n d} (X : matrix n d) : Prop := forall v : vec,
  (forall a, (a < d)%nat -> sum n (fun i => v i * X i a) = 0) -> forall i, (i < n)%nat -> v i = 0.
(** Some W gives the tokens X the attention P. *)
Definition is_attention {n d} (X : matrix n d) (P : matrix n n) : Prop := exists W : matrix d d,
  forall i j, (i < n)%nat -> (j < n)%nat -> attention_of ((fun i j => bil d (X i) W (X j)) : matrix n n) i j = P i j.
(** reachable: some W_QK gives the tokens X the attention softmax(L), exactly: a linear system has a solution *)
Definition reachable {n d} (X : matrix n d) (L : matrix n n) : Prop := is_attention X (attention_of L).
(** some_unreachable: the attention with logits v e_0ᵀ, vᵀX = 0, v not 0, is that of no W_QK *)
Definition some_unreachable {n d} (X : matrix n d) : Prop := exists v : vec, (exists i, (i < n)%nat /\ v i <> 0) /\
  (forall a, (a < d)%nat -> sum n (fun i => v i * X i a) = 0) /\
  ~ is_attention X (attention_of ((fun i j => v i * eye 0%nat j) : matrix n n)).
(** The rank: the largest number of independent rows. *)
Definition rank_of {n m} (A : matrix n m) : R := sup_of (fun x => exists (k : nat) (f : nat -> nat),
  (forall j, (j < k)%nat -> (f j < n)%nat) /\ independent ((fun j => A (f j)) : matrix k m) /\ x = INR k).
(** softmax_rank: rank of the attention with queries q and keys log x, one number each: head size 1 (evaluated for
    whole q) *)
Definition softmax_rank {n} (q x : vector n) : R :=
  rank_of (attention_of ((fun i j => q i * ln (x j)) : matrix n n)).
(** equiangular_flow: m tokens whose cosines are all γ: every d⟨x_i, x_j⟩/dt is 2ρ(1 − γ)((m − 1)γ + 1)/(1 + (m − 1)ρ),
  where ρ = e^{−β(1 − γ)} stands
    for any positive number *)
Definition equiangular_flow (gamma rho : R) (m : nat) : Prop :=
  let P := fun i j => (if Nat.eqb i j then 1 else rho) / (1 + (INR m - 1) * rho) in
  let C := fun i j => if Nat.eqb i j then 1 else gamma in
  forall i j, (i < m)%nat -> (j < m)%nat -> i <> j ->
  closing_rate (P : matrix m m) C i j = 2 * rho * (1 - gamma) * ((INR m - 1) * gamma + 1) / (1 + (INR m - 1) * rho).
(** isometry: det(XXᵀ)^(1/n) over the mean squared length of a token: 1 where tokens are orthogonal and of one length *)
Fixpoint determinant (n : nat) (M : mat) : R := match n with
  | O => 1
  | S m => sum (S m) (fun j => (-1) ^ j * M 0%nat j * determinant m (fun i k => M (S i) (if Nat.ltb k j then k else S
    k))) end.
Definition isometry {n d} (X : matrix n d) : R :=
  power (determinant n (fun i j => dot d (X i) (X j))) (/ INR n) / (sum n (fun i => dot d (X i) (X i)) / INR n).
(** unit_isometry: the same of the tokens divided by their lengths *)
Definition unit_isometry {n d} (X : matrix n d) : R := isometry ((fun i => unit_of (row X i)) : matrix n d).
(** length_spread: 1 + variance over squared mean of the lengths of tokens *)
Definition length_spread {n d} (X : matrix n d) : R := let mean := sum n (fun i => l2 d (X i)) / INR n in
  1 + sum n (fun i => (l2 d (X i) - mean) ^ 2) / INR n / mean ^ 2.

(* ---------- products of attention matrices ---------- *)
(** A^t z *)
Fixpoint applied {n} (A : matrix n n) (t : nat) (z : vector n) : vector n :=
  match t with O => z | S s => fun i => dot n (A i) (applied A s z) end.
Definition along_one {n} (z : vector n) : vector n := fun _ => sum n z / INR n.
(** high_square: squared norm of A^t z minus its mean *)
Definition high_square {n} (A : matrix n n) (z : vector n) (t : nat) : R :=
  let y := vsub (applied A t z) (along_one (applied A t z)) in dot n y y.
(** low_square: squared norm of the mean of A^t z, as a constant vector *)
Definition low_square {n} (A : matrix n n) (z : vector n) (t : nat) : R :=
  let y := along_one (applied A t z) in dot n y y.
(** never_zero: A^t z is never 0: it is not 0 at t = n *)
Definition never_zero {n} (A : matrix n n) (z : vector n) : Prop :=
  forall t, exists i, (i < n)%nat /\ applied A t z i <> 0.
(** low_pass: ‖HC[A^t z]‖/‖DC[A^t z]‖ → 0, DC the part along 1 and HC the rest: so it is exactly where πᵀz ≠ 0,
  π the stationary distribution; here: from some t on the part along 1 is not 0, by which the quotient divides *)
Definition low_pass {n} (A : matrix n n) (z : vector n) : Prop :=
  (exists s, forall t, (s <= t)%nat -> 0 < low_square A z t) /\
  is_lim_seq (fun t => sqrt (high_square A z t) / sqrt (low_square A z t)) 0.
(** row_stochastic: every matrix of a sequence has entries ≥ 0 and row sums 1 *)
Definition row_stochastic {t n} (P : sequence t n) : Prop := forall s, (s < t)%nat ->
  Definitions.row_stochastic n n (P s).
(** P(0) P(1) ... P(t-1), and the other way: later layers on the left. *)
Fixpoint from_left {n} (P : nat -> matrix n n) (t : nat) : matrix n n :=
  match t with O => eye | S s => mmul n (from_left P s) (P s) end.
(** stochastic_product: the product of a sequence of matrices is row-stochastic *)
Definition stochastic_product {t n} (P : sequence t n) : Prop := Definitions.row_stochastic n n (from_left P t).
(** steps: the number of layers *)
Definition steps {t n} (P : sequence t n) : nat := t.
(** The weight of token k in token m after all layers. *)
Definition weight {t n} (P : sequence t n) : matrix n n := Definitions.steps n P 0 t.
(** share: largest weight of a token on the token of this number in the product of all layers; the first has number 0,
    and beyond the last it is 0 *)
Definition share {t n} (P : sequence t n) (j : nat) : R :=
  largest n (fun m => sum n (fun k => if Nat.eqb k j then weight P m k else 0)).
(** tail: largest weight of a token on all tokens from this number on, in the product of all layers; the first has
    number 0, and beyond the last it is 0 *)
Definition tail {t n} (P : sequence t n) (j : nat) : R :=
  largest n (fun m => sum n (fun k => if Nat.leb j k then weight P m k else 0)).
(** windowed: every token sees itself and the w − 1 before it, as far as there are any, and no other; w = n is the
    causal mask *)
Definition windowed {t n} (P : sequence t n) (w : nat) : Prop := forall s a b, (s < t)%nat -> (a < n)%nat ->
  (b < n)%nat ->
  (0 < P s a b <-> (b <= a < b + w)%nat).
(** least_within: least attention in any layer of a token to one that it sees under the mask of this window *)
Definition least_within {t n} (P : sequence t n) (w : nat) : R := inf_of (fun x => exists s a b,
  (s < t)%nat /\ (a < n)%nat /\ (b < n)%nat /\ (b <= a < b + w)%nat /\ x = P s a b).
(** prefixed: every token sees itself, the tokens before it and the first k tokens, and no other; counted from 0 *)
Definition prefixed {t n} (P : sequence t n) (k : nat) : Prop := forall s a b, (s < t)%nat -> (a < n)%nat ->
  (b < n)%nat ->
  (0 < P s a b <-> (b < Nat.max k (a + 1))%nat).
(** least_prefixed: least attention in any layer of a token to one that it sees under the mask with this prefix *)
Definition least_prefixed {t n} (P : sequence t n) (k : nat) : R := inf_of (fun x => exists s a b,
  (s < t)%nat /\ (a < n)%nat /\ (b < n)%nat /\ (b < Nat.max k (a + 1))%nat /\ x = P s a b).
(** prefix_floor: least weight of a token on one of the prefix in the product of all layers *)
Definition prefix_floor {t n} (P : sequence t n) (k : nat) : R := inf_of (fun x => exists m j,
  (m < n)%nat /\ (j < n)%nat /\ (j < k)%nat /\ x = weight P m j).
(** Row i of softmax(I_ij − (i − j)m) under the causal mask, E = e^I, a = e^−m. *)
Definition decaying {n} (E : matrix n n) (a : R) (i : nat) : vector n := fun j =>
  causal i j * E i j * a ^ (i - j) / sum n (fun k => causal i k * E i k * a ^ (i - k)).
(** The largest and the least of e^I on the causal mask. *)
Definition most_causal {n} (E : matrix n n) : R := largest n (fun i => largest (S i) (E i)).
Definition least_causal {n} (E : matrix n n) : R := least n (fun i => least (S i) (E i)).
(** spread: largest over least of E_ij = e^(I_ij) on the causal mask, I the logits without decay *)
Definition spread {n} (E : matrix n n) : R := most_causal E / least_causal E.
(** decay_constant: least C with A_ij ≤ C e^(−(i−j)m) for all j ≤ i and all tokens i after the first,
  which has number 0; E_ij = e^(I_ij), A_ij = e^(I_ij − (i − j)m)/Σ_{k≤i} e^(I_ik − (i − k)m), a = e^(−m), m > 0 *)
Definition decay_constant {n} (E : matrix n n) (a : R) : R := sup_of (fun x => exists i j,
  (0 < i)%nat /\ (i < n)%nat /\ (j <= i)%nat /\ x = decaying E a i j / a ^ (i - j)).
(** decay_tightness: largest A_ij(1 + e^(I_min − I_max) Σ_{k≤i, k≠j} e^((k−j)m)) over j ≤ i and all tokens i after the
    first, which has number 0, I_min and I_max the least and the largest logit I_ij with j ≤ i, E_ij = e^(I_ij), a =
    e^(−m), m > 0 and A_ij = e^(I_ij − (i − j)m)/Σ_{k≤i} e^(I_ik − (i − k)m) *)
Definition decay_tightness {n} (E : matrix n n) (a : R) : R := largest (n - 1) (fun i => largest (S (S i)) (fun j =>
  decaying E a (S i) j * (1 + least_causal E / most_causal E *
    sum (S (S i)) (fun k => if Nat.eqb k j then 0 else a ^ (j - k) / a ^ (k - j))))).
(** kept: the second of two tokens with equal logits and decay a = e^(−m) keeps at least c of itself at every depth *)
Definition kept (a c : R) : Prop := forall t,
  c <= Definitions.steps 2 (fun _ => decaying ((fun _ _ => 1) : matrix 2 2) a) 0 (S t) 1%nat 1%nat.

(* ---------- networks ---------- *)
(** A network with its input: L layers of H heads on n tokens of dimension d,
  all with the same mask (edges i j = 1 where token i
    sees token j, 0 where not) and the same factor of the skip connection; lnorm says whether every token is divided
    by its length, the input first (LayerNorm on the sphere).  There is no MLP; [fed] has them. *)
Record network := {
  tokens : nat; dim : nat; heads : nat; layers : nat; d_qk : R; skip_of : R; lnorm : bool;
  W : nat -> nat -> matrix dim dim; W_QK : nat -> nat -> matrix dim dim;
  key_bias : nat -> nat -> vector dim; bias : nat -> vector dim; edges : matrix tokens tokens;
  input : matrix tokens dim }.

(** P[l, h] = softmax((X W_QK Xᵀ + 1 (X k)ᵀ)/√d_qk) over the edges, and what layer l makes of tokens Y. *)
Definition logits_of (N : network) (l h : nat) (Y : mat) : mat := fun i j =>
  (bil (dim N) (Y i) (W_QK N l h) (Y j) + dot (dim N) (Y j) (key_bias N l h)) / sqrt (d_qk N).
Definition attention_on (N : network) (l h : nat) (Y : mat) : mat := fun i =>
  softmax (tokens N) (edges N i) (logits_of N l h Y i).
Definition sent (N : network) (l : nat) (Y : mat) : mat := fun i b => skip_of N * Y i b
  + sum (heads N) (fun h => vmat (dim N) (vmat (tokens N) (attention_on N l h Y i) Y) (W N l h) b) + bias N l b.
Definition laid (N : network) (Y : mat) : mat := if lnorm N then fun i => sphere (dim N) (Y i) else Y.
(** X[l], the tokens after l layers, and P[l, h], the attention of head h of layer l. *)
Fixpoint X (N : network) (l : nat) : matrix (tokens N) (dim N) :=
  match l with O => laid N (input N) | S k => laid N (sent N k (X N k)) end.
Definition P (N : network) (l h : nat) : matrix (tokens N) (tokens N) := attention_on N l h (X N l).

(** What every network of the registry has: sizes of at least 1, d_qk > 0,
  a mask of zeros and ones in which every token sees some
    token, and under LayerNorm no token that is zero where it is to be divided by its length. *)
Record proper (N : network) : Prop := {
  some_tokens : (0 < tokens N)%nat; some_dim : (0 < dim N)%nat; some_heads : (0 < heads N)%nat;
  some_layers : (0 < layers N)%nat; some_d_qk : 0 < d_qk N;
  binary : forall i j, (i < tokens N)%nat -> (j < tokens N)%nat -> edges N i j = 0 \/ edges N i j = 1;
  sees_some : forall i, (i < tokens N)%nat -> exists j, (j < tokens N)%nat /\ edges N i j = 1;
  input_not_zero : lnorm N = true -> forall i, (i < tokens N)%nat -> 0 < l2 (dim N) (input N i);
  sent_not_zero : lnorm N = true -> forall l i, (l < layers N)%nat -> (i < tokens N)%nat ->
    0 < l2 (dim N) (sent N l (X N l) i) }.

Definition layernorm_none (N : network) : Prop := lnorm N = false.
Definition layernorm_sphere (N : network) : Prop := lnorm N = true.
(** A network of this file has no MLP. *)
Definition mlp_none (N : network) : Prop := True.
(** Entries beyond the sizes are never looked at; of no bias and no mask they are taken to be like the others. *)
Definition key_bias_none (N : network) : Prop := forall l h a, key_bias N l h a = 0.
(** Biases of the queries act as a bias of the keys' logits: they are what key_bias holds. *)
Definition query_bias_none (N : network) : Prop := key_bias_none N.
(** No bias of values or outputs. *)
Definition bias_none (N : network) : Prop := forall l a, bias N l a = 0.
Definition mask_none (N : network) : Prop := forall i j, edges N i j = 1.
Definition mask_padding (N : network) : Prop :=
  forall i k j, (i < tokens N)%nat -> (k < tokens N)%nat -> (j < tokens N)%nat -> edges N i j = edges N k j.
Definition mask_causal (N : network) : Prop :=
  forall i j, (i < tokens N)%nat -> (j < tokens N)%nat -> edges N i j = if Nat.leb j i then 1 else 0.

(** LayerNorm over columns: every column about its mean, over the root of its mean square plus eps, 1 in place of 0. *)
Definition deviation (n : nat) (eps : R) (c : vec) : R :=
  let v := sum n (fun i => (c i - sum n c / INR n) ^ 2) / INR n + eps in if Req_EM_T v 0 then 1 else sqrt v.
Fixpoint column_X (N : network) (eps : R) (l : nat) : matrix (tokens N) (dim N) := match l with
  | O => X N 0
  | S k => fun i b => let c := fun j => sent N k (column_X N eps k) j b in
      (c i - sum (tokens N) c / INR (tokens N)) / deviation (tokens N) eps c end.
(** The network itself divides nothing: [column_X] does. *)
Definition layernorm_column (N : network) : Prop := lnorm N = false.
(** b after L steps: b = start, then b = step l b for l = 0, …, L − 1. *)
(** recursion: b after L steps: b = start, then b = step for l = 0, …, L − 1, where step may use b and l *)
Fixpoint recursion (L : nat) (start : R) (step : nat -> R -> R) : R :=
  match L with O => start | S l => step l (recursion l start step) end.

Inductive exponent := p_1 | p_2 | p_inf.
Definition length_of (d : nat) (p : exponent) (v : vec) : R :=
  match p with p_1 => l1 d v | p_2 => l2 d v | p_inf => linf d v end.
(** diameter: largest ℓ_p distance of two tokens *)
Definition diameter {n d} (Y : matrix n d) (p : exponent) : R := diam n (length_of d p) Y.
(** norm: norm of a matrix: 1 (largest column sum of absolute values), 2 (spectral), inf (largest row sum of absolute
    values), max (largest absolute entry), frobenius (root of the sum of squares), composite (root of the largest column
    sum times the largest row sum of absolute values) *)
Definition norm_1 {n m} (A : matrix n m) : R := norm1 n m A.
Definition norm_2 {n m} (A : matrix n m) : R := spectral A.
Definition norm_inf {n m} (A : matrix n m) : R := norminf n m A.
Definition norm_max {n m} (A : matrix n m) : R := maxentry n m A.
Definition norm_frobenius {n m} (A : matrix n m) : R := frob n m A.
Definition norm_composite {n m} (A : matrix n m) : R := comp n m A.
(** operator_norm: norm of the map v ↦ vW of row vectors in ℓ_p; it is the largest row sum of |W| for p = 1, the
    largest column sum for p = ∞, the spectral norm for p = 2 *)
Definition operator_norm {n m} (A : matrix n m) (p : exponent) : R :=
  match p with p_1 => norminf n m A | p_2 => spectral A | p_inf => norm1 n m A end.
(** normalised_norm: norm of the map v ↦ vWS⁻¹ of row vectors in ℓ_p,
  S the diagonal of the deviations (root mean squares about
    the mean, 1 in place of 0) of the columns of the first layer's output before LayerNorm *)
Definition normalised_norm {d} (N : network) (A : matrix d d) (p : exponent) : R :=
  operator_norm ((fun a b => A a b / deviation (tokens N) 0 (fun i => sent N 0 (X N 0) i b)) : matrix d d) p.
(** form_norm: largest |uWvᵀ| over u and v of ℓ_p norm at most 1; for p = ∞ and d > 12 the sum of |W_ij|, which is
    no less; here it is the supremum for every d, of which the other is an upper bound *)
Definition form_norm {n m} (A : matrix n m) (p : exponent) : R := sup_of (fun x => exists u v : vec,
  length_of n p u <= 1 /\ length_of n p v <= 1 /\ x = Rabs (bil n u A v)).
(** mu: Frobenius norm of the tokens about their mean *)
Definition mu {n d} (Y : matrix n d) : R := Definitions.mu n d Y.
(** residual: least norm of X − 1xᵀ over all x: one (largest column sum of absolute values), inf (largest row sum of
    absolute values), composite (root of the largest column sum times the largest row sum of absolute values),
    frobenius (root of the sum of squares) *)
Definition residual_in (norm : mat -> R) (Y : mat) : R := inf_of (fun r => exists x : vec, r = norm (centred Y x)).
Definition residual_one {n d} (Y : matrix n d) : R := residual_in (norm1 n d) Y.
Definition residual_inf {n d} (Y : matrix n d) : R := residual_in (norminf n d) Y.
Definition residual_composite {n d} (Y : matrix n d) : R := residual_in (comp n d) Y.
Definition residual_frobenius {n d} (Y : matrix n d) : R := residual_in (frob n d) Y.

(* ---------- attention about a centre ---------- *)
(** The centres that minimise ‖X − 1xᵀ‖_{1,∞}, one for every layer;
  where several are as good, a statement is about all. *)
Definition are_centers (N : network) (center : nat -> vec) : Prop := forall l, (l <= layers N)%nat ->
  minimiser (comp (tokens N) (dim N)) (X N l) (center l).
Definition tilts (N : network) (x : vec) (l h : nat) : mat := fun i j =>
  bil (dim N) (centred (X N l) x i) (W_QK N l h) (centred (X N l) x j) / sqrt (d_qk N).
Definition oscillation (N : network) (x : vec) (l h i : nat) : R := osc (tilts N x l h i : vector (tokens N)).
Definition centred_shares (N : network) (x : vec) (l h : nat) : vector (tokens N) := shares ((fun j =>
  (bil (dim N) x (W_QK N l h) (centred (X N l) x j) + dot (dim N) (centred (X N l) x j) (key_bias N l h)) / sqrt (d_qk
    N))
  : vector (tokens N)).
(** delta: largest D_ii = max_j E_ij − min_j E_ij, E = R W_QK Rᵀ/√d_qk, R the tokens less a row x: composite (one that
    minimises ‖R‖_{1,∞}), mean (their mean) *)
Definition delta_composite (N : network) (center : nat -> vec) (l h : nat) : R :=
  largest (tokens N) (oscillation N (center l) l h).
Definition delta_mean (N : network) (l h : nat) : R :=
  largest (tokens N) (oscillation N (mean (tokens N) (X N l)) l h).
(** q_max: largest entry of q, the softmax of (x W_QK + kᵀ)Rᵀ/√d_qk, k = W_K b_Qᵀ, R the tokens less a row x: composite
    (one that minimises ‖R‖_{1,∞}), mean (their mean) *)
Definition q_max_composite (N : network) (center : nat -> vec) (l h : nat) : R :=
  largest (tokens N) (centred_shares N (center l) l h).
Definition q_max_mean (N : network) (l h : nat) : R :=
  largest (tokens N) (centred_shares N (mean (tokens N) (X N l)) l h).
(** q_min: least entry of q, the softmax of (x W_QK + kᵀ)Rᵀ/√d_qk, k = W_K b_Qᵀ, R the tokens less a row x: composite
    (one that minimises ‖R‖_{1,∞}), mean (their mean) *)
Definition q_min_mean (N : network) (l h : nat) : R :=
  least (tokens N) (centred_shares N (mean (tokens N) (X N l)) l h).
(** gamma: √(Σ_i D_ii · max_j q_j / max_i D_ii), 0 where all D_ii are 0; D_ii = max_j E_ij − min_j E_ij, E = R W_QK
    Rᵀ/√d_qk, q the softmax of (x W_QK + kᵀ)Rᵀ/√d_qk, k = W_K b_Qᵀ, R the tokens less a row x that minimises
    ‖R‖_{1,∞} *)
Definition gamma (N : network) (center : nat -> vec) (l h : nat) : R :=
  if Req_EM_T (delta_composite N center l h) 0 then 0 else
  sqrt (sum (tokens N) (oscillation N (center l) l h) * q_max_composite N center l h / delta_composite N center l h).
(** about_mean: ‖·‖_{1,∞} of the tokens about their mean: root of largest column sum times largest row sum of absolute
    values *)
Definition about_mean {n d} (Y : matrix n d) : R := comp n d (centred Y (mean n Y)).

(* ---------- maps of single tokens ---------- *)
(** A network with a map x ↦ φ(xW₁ + b₁)W₂ + b₂ + ax of single tokens after the attention of a layer, or none where
    mapped is false; φ is any function, and its slope any s with |φ(x) − φ(y)| ≤ s|x − y|. *)
Record fed := {
  network_fed :> network; mapped : nat -> bool; width : nat -> nat;
  W_in : forall l, matrix (dim network_fed) (width l); b_in : forall l, vector (width l);
  W_out : forall l, matrix (width l) (dim network_fed); b_out : nat -> vector (dim network_fed);
  kept_part : nat -> R; bend : nat -> R -> R; slope : nat -> R;
  slope_bounds : forall l x y, Rabs (bend l x - bend l y) <= slope l * Rabs (x - y) }.
Definition token_map (N : fed) (l : nat) (x : vec) : vec := if mapped N l then fun b =>
  sum (width N l) (fun c => bend N l (vmat (dim N) x (W_in N l) c + b_in N l c) * W_out N l c b) + b_out N l b
  + kept_part N l * x b else x.
Fixpoint fed_X (N : fed) (l : nat) : matrix (tokens N) (dim N) := match l with
  | O => laid N (input N)
  | S k => laid N (fun i => token_map N k (sent N k (fed_X N k) i)) end.
(** Layer l by itself on the tokens that it reads: what is said of its attention is said of this. *)
Definition fed_layer (N : fed) (l : nat) : network := {| tokens := tokens N; dim := dim N; heads := heads N;
  layers := 1; d_qk := d_qk N; skip_of := skip_of N; lnorm := lnorm N; W := fun _ => W N l; W_QK := fun _ => W_QK N l;
  key_bias := fun _ => key_bias N l; bias := fun _ => bias N l; edges := edges N; input := fed_X N l |}.
Definition fed_are_centers (N : fed) (center : nat -> vec) : Prop := forall l, (l <= layers N)%nat ->
  minimiser (comp (tokens N) (dim N)) (fed_X N l) (center l).
Definition fed_delta_composite (N : fed) (center : nat -> vec) (l h : nat) : R :=
  delta_composite (fed_layer N l) (fun _ => center l) 0 h.
Definition fed_gamma (N : fed) (center : nat -> vec) (l h : nat) : R :=
  gamma (fed_layer N l) (fun _ => center l) 0 h.
(** lipschitz: composite Lipschitz constant of the map after the attention of layer l: ‖s|W₁||W₂| + |a|I‖_{1,∞} for x
    ↦ φ(xW₁ + b₁)W₂ + b₂ + ax, s = sup|φ'| rounded up to 8 decimals, |·| of a matrix entry by entry; 1 where there
    is no such map;
    here: for every s that is a Lipschitz constant of φ *)
Definition lipschitz (N : fed) (l : nat) : R := if mapped N l then comp (dim N) (dim N) (fun a b =>
  slope N l * sum (width N l) (fun c => Rabs (W_in N l a c) * Rabs (W_out N l c b)) + Rabs (kept_part N l) * eye a b)
  else 1.

(* ---------- masks ---------- *)
(** self_loops: every token sees itself *)
Definition self_loops (N : network) : Prop := forall i, (i < tokens N)%nat -> edges N i i = 1.
(** Token c reaches every token within r steps along the edges. *)
Definition reached (N : network) (r : nat) : Prop := exists c, centre (tokens N) (edges N) c r.
(** quasi_strongly_connected: the mask is quasi-strongly connected: some token is seen by all others, directly or
  through others *)
Definition quasi_strongly_connected (N : network) : Prop := exists r, reached N r.
(** strongly_connected: the mask is strongly connected: every token is seen by all others, directly or through
  others *)
Definition strongly_connected (N : network) : Prop := forall c, (c < tokens N)%nat ->
  exists r, centre (tokens N) (edges N) c r.
(** radius of the mask: least number ≥ 1 of steps in which all tokens see some one token; 1 if there is none *)
Definition is_radius (N : network) (r : nat) : Prop := (1 <= r)%nat /\
  (quasi_strongly_connected N -> reached N r /\ forall k, (1 <= k)%nat -> reached N k -> (r <= k)%nat) /\
  (~ quasi_strongly_connected N -> r = 1%nat).
(** largest number of tokens that a token sees, itself too where it sees itself *)
Definition in_degree (N : network) : R := largest (tokens N) (fun i => sum (tokens N) (edges N i)).
(** epsilon: least attention on an edge of the mask *)
Definition epsilon (N : network) (l h : nat) : R := inf_of (fun x => exists i j,
  (i < tokens N)%nat /\ (j < tokens N)%nat /\ edges N i j = 1 /\ x = P N l h i j).
(** logit_range: largest oscillation of a row of logits over the edges of the mask *)
Definition logit_range (N : network) (l h : nat) : R := sup_of (fun x => exists i j k,
  (i < tokens N)%nat /\ (j < tokens N)%nat /\ (k < tokens N)%nat /\ edges N i j = 1 /\ edges N i k = 1 /\
  x = logits_of N l h (X N l) i j - logits_of N l h (X N l) i k).
(** orthogonal_values: every W^{l,h} is exactly orthogonal *)
Definition orthogonal_values (N : network) : Prop := forall l h, (l < layers N)%nat -> (h < heads N)%nat ->
  orthogonal (dim N) (W N l h).
(** product_norm: spectral norm of the product W^{0,0} W^{1,0} ⋯ W^{L−1,0} *)
Definition product_norm_2 (N : network) : R :=
  spectral (values (dim N) (fun l => W N l 0%nat) (layers N) : matrix (dim N) (dim N)).
(** contraction: 1 − Σ_c min_i (B_k)_ic, B_k = P^{m,0} ⋯ P^{rk,0}, m the lesser of rk + r − 1 and L − 1: Doeblin's
    contraction *)
Definition contraction (N : network) (r k : nat) : R := 1 - doeblin (tokens N)
  (Definitions.steps (tokens N) (fun l => P N l 0) (r * k) (Nat.min (layers N) (r * k + r) - r * k)).
(** height: min_i ⟨X^0_i, v⟩, v the direction of the mean of the tokens X^0_i *)
Definition pole (N : network) : vec := sphere (dim N) (mean (tokens N) (X N 0)).
Definition height (N : network) : R := least (tokens N) (fun i => dot (dim N) (X N 0 i) (pole N)).
(** section: largest ℓ₂ distance of two of y_i(X^l) = X^l_i/⟨X^l_i, vW^{0,0} ⋯ W^{l−1,0}⟩, for l = 0 X^0_i/⟨X^0_i, v⟩, v the direction of the mean of
    the tokens X^0_i *)
Definition section (N : network) (l : nat) : R := diam (tokens N) (l2 (dim N)) (fun i a => X N l i a /
  dot (dim N) (X N l i) (vmat (dim N) (pole N) (values (dim N) (fun l => W N l 0%nat) l))).
(** cosine: least cosine of the angle of two tokens *)
Definition cosine {n d} (Y : matrix n d) : R := least n (fun i => least n (fun j =>
  dot d (Y i) (Y j) / (l2 d (Y i) * l2 d (Y j)))).

(* ---------- the first layer as a map ---------- *)
(** longest: largest ℓ₂ norm of a token *)
Definition longest {n d} (Y : matrix n d) : R := rowmax n (l2 d) Y.
(** jacobian_norm: spectral norm of the derivative of the first layer in its input, skip connections with it, of
    attention without MLP, LayerNorm, positions, caps and norms of queries and keys *)
Definition jacobian_norm (N : network) : R := sup_of (fun x => exists H : mat, frob (tokens N) (dim N) H <= 1 /\
  x = frob (tokens N) (dim N) (fun i b => Derive (fun t => sent N 0 (fun p q => X N 0 p q + t * H p q) i b) 0)).
(** top_shares: p_1(1 − p_1 + p_2) of the two largest entries p_1 ≥ p_2 of a row of the attention,
  the largest over the rows;
    0 where there is one token *)
Definition top_shares {n m} (P : matrix n m) : R := sup_of (fun x => exists i j k,
  (i < n)%nat /\ (j < m)%nat /\ (k < m)%nat /\
  j <> k /\ x = P i j * (1 - P i j + P i k)).
(** centred_norm: spectral norm of the tokens about their mean *)
Definition centred_norm {n d} (Y : matrix n d) : R := spectral (centred Y (mean n Y) : matrix n d).

(* ---------- sums over paths ---------- *)
(** [stack t k n m] is t layers of k heads with an n x m matrix each. *)
Definition stack (t k n m : nat) := nat -> nat -> matrix n m.
Definition stochastic_heads {t k n} (P : stack t k n n) : Prop := forall l h, (l < t)%nat -> (h < k)%nat ->
  Definitions.row_stochastic n n (P l h).
(** The path p with its step at layer l set to h, and the sum of F p over all p in {0..H 0 - 1} x ...
x {0..H (L-1) - 1}. *)
Definition turn (p : nat -> nat) (l h : nat) : nat -> nat := fun k => if Nat.eqb k l then h else p k.
Fixpoint sum_paths (H : nat -> nat) (L : nat) (F : (nat -> nat) -> R) : R :=
  match L with O => F (fun _ => O) | S l => sum_paths H l (fun p => sum (H l) (fun h => F (turn p l h))) end.
(** P_path = P^{L-1} ... P^0 (later layers on the left), W_path = W^0 ... W^{L-1}. *)
Fixpoint P_path (n : nat) (P : nat -> nat -> mat) (L : nat) (p : nat -> nat) : mat :=
  match L with O => eye | S l => mmul n (P l (p l)) (P_path n P l p) end.
Fixpoint W_path (d : nat) (W : nat -> nat -> mat) (L : nat) (p : nat -> nat) : mat :=
  match L with O => eye | S l => mmul d (W_path d W l p) (W l (p l)) end.
(** Step 0 of a path is the skip connection, step h + 1 is head h; how many heads the first t steps of p go through. *)
Definition with_skip {n m} (skip : mat) (A : nat -> matrix n m) : nat -> mat :=
  fun h => match h with O => skip | S k => A k end.
Fixpoint through_heads (p : nat -> nat) (t : nat) : nat :=
  match t with O => O | S l => ((match p l with O => 0 | S _ => 1 end) + through_heads p l)%nat end.
Fixpoint layered {t k n d} (X : matrix n d) (P : stack t k n n) (W : stack t k d d) (bias : matrix t d) (skip : R)
  (l : nat) : matrix n d := match l with
  | O => X
  | S s => let Y := layered X P W bias skip s in
      fun i a => skip * Y i a + sum k (fun h => vmat d (vmat n (P s h i) Y) (W s h) a) + bias s a end.
(** sum_of_paths: X^{l+1} = λX^l + Σ_h P^l_h X^l W^l_h + 1·bias_l for l = 0, …, L − 1 makes X^L the sum over all paths
    (h_0, …, h_{L−1}) of P^{L−1}_{h_{L−1}} ⋯ P^0_{h_0} X W^0_{h_0} ⋯ W^{L−1}_{h_{L−1}} plus one row bᵀ for all
    tokens, where each h_l is one of the H heads or the skip connection (for which P = I and W = λI), and C(L, k)H^k
    paths go through k heads *)
Definition sum_of_paths {t k n d} (X : matrix n d) (P : stack t k n n) (W : stack t k d d) (bias : matrix t d) (skip :
  R) : Prop :=
  let H := fun _ : nat => S k in
  let P' := fun l => with_skip eye (P l) in
  let W' := fun l => with_skip (fun a b => skip * eye a b) (W l) in
  (exists common : vector d, forall i a, (i < n)%nat -> (a < d)%nat -> layered X P W bias skip t i a =
     sum_paths H t (fun p => mmul d (mmul n (P_path n P' t p) X) (W_path d W' t p) i a) + common a) /\
  forall j, (j <= t)%nat -> sum_paths H t (fun p => if Nat.eqb (through_heads p t) j then 1 else 0)
    = Binomial.C t j * INR k ^ j.

(* ---------- kernels, shares, distances ---------- *)
(** L Lᵀ = S, L lower triangular with a positive diagonal. *)
Definition factor (n : nat) (S L : mat) : Prop :=
  (forall i j, (i < n)%nat -> (j < n)%nat -> (i < j)%nat -> L i j = 0) /\ (forall i, (i < n)%nat -> 0 < L i i) /\
  (forall i j, (i < n)%nat -> (j < n)%nat -> dot n (L i) (L j) = S i j).
Definition uniform (x : R) : mat := fun i j => if Nat.eqb i j then 1 else x.
Definition exponential (x : R) : mat := fun i j => x ^ ((i - j) + (j - i)).
(** Both kernels have a factor, only one each; that of the first has an inverse, and L_b L_a^-1 is not negative. *)
Definition carries (n : nat) (A B : mat) : Prop := exists La Lb inverse : mat, factor n A La /\ factor n B Lb /\
  (forall L, factor n A L -> forall i j, (i < n)%nat -> (j < n)%nat -> L i j = La i j) /\
  (forall L, factor n B L -> forall i j, (i < n)%nat -> (j < n)%nat -> L i j = Lb i j) /\
  (forall i j, (i < n)%nat -> (j < n)%nat -> mmul n La inverse i j = eye i j) /\
  forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= mmul n Lb inverse i j.
(** carries_uniform: the lower triangular factor, of positive diagonal, of the uniform kernel with correlation b, times
    the inverse of that with a, is non-negative *)
Definition carries_uniform (a b : R) (size : nat) : Prop := carries size (uniform a) (uniform b).
(** carries_exponential: the lower triangular factor, of positive diagonal, of the kernel b to the |i − j|, times the
    inverse of that with a, is non-negative *)
Definition carries_exponential (a b : R) (size : nat) : Prop := carries size (exponential a) (exponential b).
(** top_share: the k-th largest entry of p = softmax(c/T), k = 1 the largest; 0 where there are fewer entries *)
Definition top_share {m} (c : vector m) (T : R) (k : nat) : R := sup_of (fun x => exists f : nat -> nat,
  (forall i j, (i < k)%nat -> (j < k)%nat -> f i = f j -> i = j) /\ (forall j, (j < k)%nat -> (f j < m)%nat) /\
  x = least k (fun j => shares ((fun i => c i / T) : vector m) (f j))).
(** crowd_gain: ‖P1_M‖²/‖1_M‖² of attention by distances, M a set of m equal tokens and 1_M its indicator, among m²/4
    others
    that lie in orthogonal directions at the distance r from them, e^{−r²} = 2/m *)
Definition crowd_gain (m : R) : R := let others := m * m / 4 in let near := 2 / m in
  let inside := m / (m + others * near) in
  let outside := m * near / (m * near + 1 + (others - 1) * (near * near)) in
  (m * (inside * inside) + others * (outside * outside)) / m.
(** stationary_mean: πᵀz, π the stationary distribution of A *)
Definition stationary {n} (A : matrix n n) (pi : vector n) : Prop :=
  (forall i, (i < n)%nat -> 0 <= pi i) /\ sum n pi = 1 /\ forall j, (j < n)%nat -> vmat n pi A j = pi j.
Definition stationary_mean {n} (A : matrix n n) (z : vector n) : R :=
  sup_of (fun x => exists pi, stationary A pi /\ x = dot n pi z).
(** equiangular_layer: m unit tokens whose cosines are all γ go, under attention with the logits β⟨x_i, x_j⟩ and W = I,
    to tokens whose cosines are all 1 − (1 − ρ)²(1 − γ)/((1 − ρ)² + ρ(2 − 2ρ + mρ)(1 + (m − 1)γ)); ρ = e^{−β(1 − γ)}
    stands for any positive number *)
Definition equiangular_layer (gamma rho : R) (m : nat) : Prop :=
  let P := fun i j => (if Nat.eqb i j then 1 else rho) / (1 + (INR m - 1) * rho) in
  forall (d : nat) (X : matrix m d),
  (forall i j, (i < m)%nat -> (j < m)%nat -> dot d (X i) (X j) = if Nat.eqb i j then 1 else gamma) ->
  let Y := fun i => vmat m (P i) X in
  (forall i, (i < m)%nat -> 0 < l2 d (Y i)) /\
  forall i j, (i < m)%nat -> (j < m)%nat -> i <> j -> dot d (Y i) (Y j) / (l2 d (Y i) * l2 d (Y j)) =
    1 - (1 - rho) ^ 2 * (1 - gamma) /
      ((1 - rho) ^ 2 + rho * (2 - 2 * rho + INR m * rho) * (1 + (INR m - 1) * gamma)).
(** x_i minus the mean of its entries, and the dimension of the least affine space that holds all rows. *)
Definition centred_row {n d} (X : matrix n d) (i : nat) : vector d := fun a => X i a - sum d (X i) / INR d.
Definition affine_rank {n d} (X : matrix n d) : R := rank_of ((fun i => vsub (X i) (X 0%nat)) : matrix n d).
(** normed_by: no token is constant, and s > 0 are the factors by which LayerNorm multiplies the centred tokens, up to
    one common factor: s_i² times the squared length of the centred token i is the same for all i *)
Definition normed_by {n d} (X : matrix n d) (s : vector n) : Prop := positive s /\
  (forall i, (i < n)%nat -> 0 < dot d (centred_row X i) (centred_row X i)) /\
  forall i k, (i < n)%nat -> (k < n)%nat ->
    s i ^ 2 * dot d (centred_row X i) (centred_row X i) = s k ^ 2 * dot d (centred_row X k) (centred_row X k).
(** keeps_affine_rank: LayerNorm of the single tokens leaves the affine rank of their set, the dimension of the least
    affine space that holds them all *)
Definition keeps_affine_rank {n d} (X : matrix n d) (s : vector n) : Prop :=
  affine_rank ((fun i a => s i * centred_row X i a) : matrix n d) = affine_rank X.

(* ---------- equilibria of one head with LayerNorm on the sphere ---------- *)
(** A mask of zeros and ones in which every token sees some token.  W_QK stands for W_QK/√d_qk. *)
Definition is_mask {n} (allowed : matrix n n) : Prop :=
  (forall i j, (i < n)%nat -> (j < n)%nat -> allowed i j = 0 \/ allowed i j = 1) /\
  forall i, (i < n)%nat -> exists j, (j < n)%nat /\ allowed i j = 1.
Definition unit_rows {n d} (X : matrix n d) : Prop := forall i, (i < n)%nat -> l2 d (X i) = 1.
(** at_rest: unit tokens that rest under uniform attention over the mask, values W_V and division by their norms *)
Definition at_rest {n d} (X : matrix n d) (W_V : matrix d d) (allowed : matrix n n) : Prop :=
  unit_rows X /\ fixed n d (sphere_map n d no_logits W_V allowed) X.
(** collapses: tokens at rest collapse only if all are equal *)
Definition collapses {n d} (X : matrix n d) : Prop := equal_tokens X.
(** undirected: the mask is symmetric, every token sees itself, and it is in one piece *)
Definition undirected {n d} (X : matrix n d) (W_V W_QK : matrix d d) (allowed : matrix n n) : Prop :=
  (forall i j, (i < n)%nat -> (j < n)%nat -> allowed i j = allowed j i) /\
  (forall i, (i < n)%nat -> allowed i i = 1) /\ forall c, (c < n)%nat -> exists r, centre n allowed c r.
(** none_attracts: no equilibrium of rank above one of X ↦ LN(A(X)XW_V) attracts a neighbourhood, A(X) the softmax of
    X W_QK Xᵀ over the pairs of the mask, LN the division of every token by its norm
    *)
Definition none_attracts {n d} (X : matrix n d) (W_V W_QK : matrix d d) (allowed : matrix n n) : Prop :=
  forall (Z : matrix n d) (k : nat), unit_rows Z -> fixed n d (sphere_map n d W_QK W_V allowed) Z ->
  has_rank n d Z k -> (1 < k)%nat -> ~ attracts n d (sphere_map n d W_QK W_V allowed) Z.
(** no_mask: every token sees every token, and there are as many tokens as dimensions *)
Definition no_mask {n d} (X : matrix n d) (W_V W_QK : matrix d d) (allowed : matrix n n) : Prop :=
  (forall i j, (i < n)%nat -> (j < n)%nat -> allowed i j = 1) /\ n = d.
(** attracts_at_full_rank: near X there is an equilibrium Z of full rank that attracts a neighbourhood, of Z ↦
    LN(A(Z)ZW_V), A(Z) the softmax of Z W_QK Zᵀ over the pairs of the mask, LN the division of every token by its
    norm; here: X itself is one, of unit tokens *)
Definition attracts_at_full_rank {n d} (X : matrix n d) (W_V W_QK : matrix d d) (allowed : matrix n n) : Prop :=
  unit_rows X /\ fixed n d (sphere_map n d W_QK W_V allowed) X /\ has_rank n d X n /\
  attracts n d (sphere_map n d W_QK W_V allowed) X.
(** [shape n d] stands for n tokens of dimension d; [shift n k sgn] for a number w with which W_V = I + wS has,
  on n tokens
    of dimension k, an equilibrium of rank k whose last coordinates have the signs sgn. *)
Definition shape (n d : nat) := unit.
Definition shift (n k : nat) (sgn : nat -> R) := R.
(** tokens_of: the number of tokens *)
Definition tokens_of {n d} (sizes : shape n d) : nat := n.
(** token_count: the number of tokens *)
Definition token_count {n d} (tokens : shape n d) : nat := n.
(** I + wS, S with ones on the superdiagonal. *)
Definition shift_values (w : R) : mat := fun a b => eye a b + w * eye (S a) b.
(** every_rank: under the causal mask, W_QK = 0 and W_V = I + wS (S with ones on the superdiagonal) there is for every
    1 ≤ k ≤ min(n, d) an X of unit rows and rank k with AXW_V = DX, D > 0 diagonal, n and d the two sizes, of tokens and
    dimensions, A_ij = 1/(i + 1) for j ≤ i; by exact algebra *)
Definition every_rank {n d} (sizes : shape n d) (w : R) : Prop := forall k, (1 <= k)%nat -> (k <= n)%nat ->
  (k <= d)%nat ->
  exists (X : matrix n d) (D : vector n), unit_rows X /\ has_rank n d X k /\ positive D /\
  forall i a, (i < n)%nat -> (a < d)%nat ->
    vmat d (vmat n (softmax n (causal i) (fun _ => 0)) X) (shift_values w) a = D i * X i a.
(** The equilibrium: n - k + 1 tokens e_{k-1}, and then each the one before it, shifted to the left. *)
Definition shift_scale (n k j : nat) : R := match j with O => INR (n - k + 1) | _ => 1 end.
Fixpoint shift_token (n d k : nat) (w : R) (sgn : nat -> R) (j : nat) : vec := match j with
  | O => eye (d - 1)%nat
  | S l => fun a => if Nat.ltb (S a) d then - (shift_scale n k l / w) * shift_token n d k w sgn l (S a)
      else sgn l * sqrt (1 - (shift_scale n k l / w) ^ 2) end.
(** shift_tokens: the number of tokens, at least 2 *)
Definition shift_tokens {n k sgn} (w : shift n k sgn) : nat := n.
(** shift_rank: the rank of the equilibrium, from 2 to n *)
Definition shift_rank {n k sgn} (w : shift n k sgn) : nat := k.
(** spectral_gap: n − ‖X‖₂², X the equilibrium of rank k of n tokens in k dimensions under the causal mask, W_QK = 0
    and W_V = I + wS, S with ones on the superdiagonal: the first n − k + 1 tokens are (0, …, 0, 1),
      then one is (−px_1/w,
    …, −px_{k−1}/w, ±√(1 − p²/w²)), x_0, …, x_{k−1} the entries of the one before it,
      p = n − k + 1 for the first of these
    and 1 for the others, with the signs + or by turns − and + *)
Definition spectral_gap {n k sgn} (w : shift n k sgn) : R :=
  INR n - spectral ((fun i => shift_token n k k w sgn (i - (n - k))) : matrix n k) ^ 2.
(** two_token_equilibria: beside a first token at (0, 1), under the causal mask, W_QK = 0 and W_V = [[1, w], [0, 1]],
  the
    second token rests at (0, 1), (−1/w, s) and (−1/w, −s), s = √(1 − 1/w²), with multipliers ½, 1 + s, 1 − s, and
    nowhere else; by exact algebra *)
Definition rests_at (w x y l : R) : Prop := forall X : matrix 2 2,
  X 0%nat 0%nat = 0 -> X 0%nat 1%nat = 1 -> X 1%nat 0%nat = x -> X 1%nat 1%nat = y ->
  let F := sphere_map 2 2 no_logits (shift_values w) causal in
  (forall a, (a < 2)%nat -> F X 1%nat a = X 1%nat a) /\ exists J, derivative 2 2 F X J /\
  J 1%nat 0%nat 1%nat 0%nat * - y + J 1%nat 0%nat 1%nat 1%nat * x = l * - y /\
  J 1%nat 1%nat 1%nat 0%nat * - y + J 1%nat 1%nat 1%nat 1%nat * x = l * x.
Definition two_token_equilibria (w : R) : Prop := let s := sqrt (1 - 1 / w ^ 2) in
  rests_at w 0 1 (1 / 2) /\ rests_at w (- / w) s (1 + s) /\ rests_at w (- / w) (- s) (1 - s) /\
  forall X : matrix 2 2, X 0%nat 0%nat = 0 -> X 0%nat 1%nat = 1 -> l2 2 (X 1%nat) = 1 ->
  (forall a, (a < 2)%nat -> sphere_map 2 2 no_logits (shift_values w) causal X 1%nat a = X 1%nat a) ->
  (X 1%nat 0%nat = 0 /\ X 1%nat 1%nat = 1) \/ (X 1%nat 0%nat = - / w /\ (X 1%nat 1%nat = s \/ X 1%nat 1%nat = - s)).
(** decreasing: at least two numbers, all positive, each smaller than the one before *)
Definition decreasing {n} (mu : vector n) : Prop := (2 <= n)%nat /\ positive mu /\
  forall i, (S i < n)%nat -> mu (S i) < mu i.
(** The weights of Theorem A: ones above the diagonal; rows μ_0 e_0 and μ_i e_i − μ_{i−1} e_{i−1}. *)
Definition ones_above : mat := fun a b => if Nat.ltb a b then 1 else 0.
Definition differences {n} (mu : vector n) : mat := fun i b => mu b * (eye i b - eye i (S b)).
(** spares_an_open_set: under the causal mask there are weights, those of own:stable-causal-every-n, and a ball of
    starts that all converge to an equilibrium of rank n ≥ 2 *)
Definition spares_an_open_set {n d} (tokens : shape n d) : Prop := exists (mu : vector n) (Z : matrix n n) (eta : R),
  let F := sphere_map n n ones_above (differences mu) causal in
  decreasing mu /\ unit_rows Z /\ fixed n n F Z /\ has_rank n n Z n /\ 0 < eta /\
  forall X, within n n eta (fun i a => X i a - Z i a) -> forall i a, (i < n)%nat -> (a < n)%nat ->
    is_lim_seq (fun t => Nat.iter t F X i a) (Z i a).
(** The weights of own:stable-every-rank in m dimensions: rows Σ_{j≤i} (−1)^{i−j} g^j e_j of W_V; the logits of a token
    to itself and to its predecessor are larger by L at least than all others. *)
Definition chain_values (m : nat) (g : R) : mat := fun i b =>
  if andb (Nat.ltb i m) (Nat.leb b i) then (-1) ^ (i + b) * g ^ b else 0.
Definition chain_top (m : nat) (L : R) (i : nat) : R := match i with O => 2 * L + 2 * INR m | _ => L + 1 end.
Definition chain_logits (m : nat) (L : R) : mat := fun i j => if andb (Nat.ltb i m) (Nat.ltb j m) then
  (if Nat.ltb i j then chain_top m L i - L - 2 * INR (Nat.div2 (j - i))
   else if Nat.leb i (S j) then chain_top m L i else 1) else 0.
(** e_0, …, e_{k−1}, and −e_0 from then on. *)
Definition chain_tokens (k : nat) : mat := fun i => if Nat.ltb i k then eye i else fun a => - eye 0%nat a.
(** sees_predecessor: at least two tokens, each of which sees itself and its predecessor, and a number g between 0 and
    1 *)
Definition sees_predecessor {n} (allowed : matrix n n) (ratio : R) : Prop := (2 <= n)%nat /\
  (forall i, (i < n)%nat -> allowed i i = 1) /\ (forall i, (S i < n)%nat -> allowed (S i) i = 1) /\ 0 < ratio < 1.
(** path_attracts: for some whole number L these weights have near X = I an equilibrium of rank n of X ↦ LN(A(X)XW_V)
    that attracts a ball of starts, A(X) the softmax of X W_QK Xᵀ over the pairs of the mask, LN the division of every
    token by its norm, with every eigenvalue of the Jacobian within 2⁻²⁴ of g^{k−i}, i < k, g the ratio, or 0; row i of
    W_V is Σ_{j≤i} (−1)^{i−j} g^j e_j, that of W_QK has s_i at i and i − 1, 1 before and s_i − L − 2⌊(j−i)/2⌋ at j > i,
    where s_0 = 2L + 2n and s_i = L + 1 else; here: within 2⁻²⁴ of
    I *)
Definition path_attracts {n} (allowed : matrix n n) (ratio : R) : Prop := exists (L : nat) (Z : matrix n n),
  let F := sphere_map n n (chain_logits n (INR L)) (chain_values n ratio) allowed in
  within n n (/ 2 ^ 24) (fun i a => Z i a - eye i a) /\ unit_rows Z /\ fixed n n F Z /\ has_rank n n Z n /\
  attracts n n F Z /\ exists J, derivative n n F Z J /\ forall z : C, eigenvalue n n J z -> Cmod z <= / 2 ^ 24 \/
    exists i k, (i < k)%nat /\ (k < n)%nat /\ Cmod (z - RtoC (ratio ^ (k - i)))%C <= / 2 ^ 24.
(** every_rank_attracts: for some whole number L this one weight pair has for every k = 1, …, n an equilibrium of rank
    k of X ↦ LN(A(X)XW_V) that attracts a ball of starts, A(X) the softmax of X W_QK Xᵀ over the pairs of the mask, LN
    the division of every token by its norm: near e_0, …, e_{k−1} and n − k times −e_0; with g the ratio row i of W_V
    is Σ_{j≤i} (−1)^{i−j} g^j e_j, that of W_QK has s_i at i and i − 1, 1 before and s_i − L − 2⌊(j−i)/2⌋ at j > i,
    where s_0 = 2L + 2n and s_i = L + 1 else; here: within 2⁻²⁴ of
    these tokens *)
Definition every_rank_attracts {n} (allowed : matrix n n) (ratio : R) : Prop := exists L : nat, forall k,
  (1 <= k <= n)%nat -> exists Z : matrix n n,
  let F := sphere_map n n (chain_logits n (INR L)) (chain_values n ratio) allowed in
  within n n (/ 2 ^ 24) (fun i a => Z i a - chain_tokens k i a) /\ unit_rows Z /\ fixed n n F Z /\ has_rank n n Z k /\
  attracts n n F Z.
(** undirected_connected: at least two tokens, each of which sees itself, a mask that is undirected and connected, and a
    number g between 0 and 1 *)
Definition undirected_connected {n} (allowed : matrix n n) (ratio : R) : Prop := (2 <= n)%nat /\
  (forall i, (i < n)%nat -> allowed i i = 1) /\
  (forall i j, (i < n)%nat -> (j < n)%nat -> allowed i j = allowed j i) /\
  (forall c, (c < n)%nat -> exists r, centre n allowed c r) /\ 0 < ratio < 1.
(** identity_attracts: for some real W_QK and W_V the tokens X = I rest under X ↦ LN(A(X)XW_V), A(X) the softmax of
    X W_QK Xᵀ over the pairs of the mask, LN the division of every token by its norm, and the Jacobian there has a
    spectral radius below √g, g the ratio *)
Definition identity_attracts {n} (allowed : matrix n n) (ratio : R) : Prop := exists W_QK W_V : matrix n n,
  let F := sphere_map n n W_QK W_V allowed in fixed n n F eye /\
  exists J, derivative n n F eye J /\ forall z : C, eigenvalue n n J z -> Cmod z < sqrt ratio.
(** tokens_and_dimensions: at least two tokens and two dimensions *)
Definition tokens_and_dimensions {n d} (sizes : shape n d) : Prop := (2 <= n)%nat /\ (2 <= d)%nat.
(** causal_ranks_attract: under the causal mask one weight pair, that of own:stable-every-rank with g = 1/2 in min(n, d)
    dimensions and zeros beyond, has for some whole number L and every k up to min(n, d) an equilibrium of rank k that
    attracts a ball of starts *)
Definition causal_ranks_attract {n d} (sizes : shape n d) : Prop := let m := Nat.min n d in exists L : nat,
  let F := sphere_map n d (chain_logits m (INR L)) (chain_values m (1 / 2)) causal in forall k,
  (1 <= k <= m)%nat -> exists Z : matrix n d, unit_rows Z /\ fixed n d F Z /\ has_rank n d Z k /\ attracts n d F Z.
(** rank_two_attracts: without a mask, in two dimensions, there are weights with an equilibrium of rank two near n − 1
    tokens e_0 and one e_1 that attracts a ball of starts;
    here: at these tokens *)
Definition rank_two_attracts {n d} (tokens : shape n d) : Prop := exists W_QK W_V : matrix 2 2,
  let Z : matrix n 2 := fun i => if Nat.ltb i (n - 1) then eye 0%nat else eye 1%nat in
  let F := sphere_map n 2 W_QK W_V nomask in fixed n 2 F Z /\ has_rank n 2 Z 2 /\ attracts n 2 F Z.
(** causal_identity_attracts: under the causal mask with W_QK/√d_qk the ones above the diagonal and rows μ_0 e_0 and,
  for
    i ≥ 1, μ_i e_i − μ_{i−1} e_{i−1} of W_V, X = I rests, and the characteristic polynomial of its Jacobian is that of
    μ_k/μ_i, i < k, and zeros: by exact algebra; here: the Jacobian is triangular in some order of its entries, with
    these on its diagonal, and X = I attracts *)
Definition causal_identity_attracts {n} (mu : vector n) : Prop :=
  let F := sphere_map n n ones_above (differences mu) causal in fixed n n F eye /\ attracts n n F eye /\
  exists (J : nat -> nat -> mat) (order : nat -> nat -> nat), derivative n n F eye J /\
  (forall i a p b, (i < n)%nat -> (a < n)%nat -> (p < n)%nat -> (b < n)%nat -> (order i a <= order p b)%nat ->
    (order i a = order p b -> (p, b) = (i, a)) /\ ((p, b) <> (i, a) -> J i a p b = 0)) /\
  forall i k, (i < n)%nat -> (k < n)%nat -> J i k i k = if Nat.ltb i k then mu k / mu i else 0.
(** gaussian_tail: probability that a vector of k independent standard normal numbers is at least √k + t long; here: its
    length has the density r^{k−1} e^{−r²/2}, up to a factor *)
Definition radial (k : nat) (r : R) : R := r ^ (k - 1) * exp (- r ^ 2 / 2).
Definition from_on (f : R -> R) (a : R) : R := real (Lim (fun b => RInt f a b) p_infty).
Definition gaussian_tail (k : nat) (t : R) : R := from_on (radial k) (sqrt (INR k) + t) / from_on (radial k) 0.
(** stable_range: 0 < c < a < 1 and w² > a(2 − a) *)
Definition stable_range (parameters : vector 3) : Prop := let a := parameters 0%nat in let w := parameters 1%nat in
  let c := parameters 2%nat in 0 < c < a /\ a < 1 /\ w ^ 2 > a * (2 - a).

(* ---------- flows on the sphere ---------- *)
(** form_size: spectral norm of a matrix *)
Definition form_size {n m} (B : matrix n m) : R := spectral B.
(** first_value: first entry *)
Definition first_value {m} (lam : vector m) : R := lam 0%nat.
(** least_value: least entry *)
Definition least_value {m} (lam : vector m) : R := least m lam.
(** first_is_largest: no entry is larger than the first *)
Definition first_is_largest {m} (lam : vector m) : Prop := forall i, (i < m)%nat -> lam i <= lam 0%nat.
(** off_axis: 1 − ⟨x, e_0⟩², x divided by its length *)
Definition off_axis {m} (x : vector m) : R := 1 - unit_of x 0%nat ^ 2.
(** climb: d⟨x, e_0⟩/dt of a unit token x that sees itself and m tokens at e_0 under V = diag(λ), with the logits xᵀBy;
    x is divided by its length *)
Definition climb {d} (lam : vector d) (B : matrix d d) (x : vector d) (m : R) : R :=
  let u := unit_of x in let e := eye 0%nat in
  let near := m * exp (bil d u B e) in let own := exp (bil d u B u) in
  let y := fun a => (near * (lam a * e a) + own * (lam a * u a)) / (near + own) in
  y 0%nat - dot d u y * u 0%nat.

(** second_value: second entry *)
Definition second_value {m} (lam : vector m) : R := lam 1%nat.
(** tilting: d log(|x_1|/|x_0|)/dt, with its limit where x_1 = 0, of a unit token x, x_0 < 0, that sees itself and m
    tokens at e_0 under V = diag(λ), with the logits xᵀBy; x is divided by its length *)
Definition tilting {d} (lam : vector d) (B : matrix d d) (x : vector d) (m : R) : R :=
  let u := unit_of x in let near := m * exp (bil d u B (eye 0%nat)) in let own := exp (bil d u B u) in
  (near * lam 0%nat / - u 0%nat - own * (lam 0%nat - lam 1%nat)) / (near + own).
(** largest_size: largest absolute value of an entry *)
Definition largest_size {m} (lam : vector m) : R := largest m (fun i => Rabs (lam i)).
(** The sum of weights of a unit token u that sees itself and m tokens at e_0 with the logits c xᵀVy, V = diag(λ), and
    the
    part at a right angle to u of what it is drawn to, times that sum. *)
Definition drive_sum {d} (lam : vector d) (c : R) (u : vector d) (m : R) : R :=
  m * exp (c * (lam 0%nat * u 0%nat)) + exp (c * sum d (fun a => lam a * u a ^ 2)).
Definition drive {d} (lam : vector d) (c : R) (u : vector d) (m : R) : vector d := fun a =>
  m * exp (c * (lam 0%nat * u 0%nat)) * (lam a * eye 0%nat a) + exp (c * sum d (fun b => lam b * u b ^ 2)) * (lam a * u a).
Definition across_drive {d} (lam : vector d) (c : R) (u : vector d) (m : R) : vector d :=
  let g := drive lam c u m in fun a => g a - dot d g u * u a.
(** rise: df/dt, its limit for c = 0, f = (m e^(cλ_0 x_0) + e^(c⟨x, Vx⟩)/2)/c, along the path of a unit token x that
    sees itself and m tokens at e_0 under V = diag(λ), with the logits c xᵀVy; x is divided by its length *)
Definition rise {d} (lam : vector d) (c : R) (x : vector d) (m : R) : R :=
  let u := unit_of x in dot d (drive lam c u m) (across_drive lam c u m) / drive_sum lam c u m.
(** pace: length of the velocity of that token *)
Definition pace {d} (lam : vector d) (c : R) (x : vector d) (m : R) : R :=
  let u := unit_of x in l2 d (across_drive lam c u m) / drive_sum lam c u m.

(** The part of x_i, divided by its length, in the first d − m coordinates. *)
Definition first_part {m d} (M : matrix m m) (X : matrix 2 d) (i : nat) : vector (d - m) := unit_of (row X i).
(** aligning: d cos φ/dt, φ the angle of p_0 and p_1, p_i the part of x_i in L, the first coordinates; two causal tokens
    under V = λ on L and M on the others, with the logits x_iᵀBx_j; tokens are divided by their lengths *)
Definition aligning {m d} (lam : R) (M : matrix m m) (B : matrix d d) (X : matrix 2 d) : R :=
  let k := (d - m)%nat in let u := fun i => unit_of (row X i) in
  let p := first_part M X 0 in let q := first_part M X 1 in
  let s := exp (bil d (u 1%nat) B (vsub (u 1%nat) (u 0%nat))) in
  let v := fun a => lam * (p a + s * q a) / (1 + s) in
  let c := dot k p q / (l2 k p * l2 k q) in (dot k p v / l2 k p - c * dot k q v / l2 k q) / l2 k q.
(** lead: length of the part p_0 of the first token in L *)
Definition lead {m d} (M : matrix m m) (X : matrix 2 d) : R := l2 (d - m) (first_part M X 0).
(** parts_in_space: neither of the parts p_0 and p_1 of the two tokens in L is 0 *)
Definition parts_in_space {m d} (M : matrix m m) (X : matrix 2 d) : Prop :=
  forall i, (i < 2)%nat -> 0 < dot (d - m) (X i) (X i).
(** sine_square: squared sine of the angle of the parts p_0 and p_1 of two tokens in L *)
Definition sine_square {m d} (M : matrix m m) (X : matrix 2 d) : R := let k := (d - m)%nat in
  1 - dot k (X 0%nat) (X 1%nat) ^ 2 / (dot k (X 0%nat) (X 0%nat) * dot k (X 1%nat) (X 1%nat)).

(* ---------- a causal token behind RMSNorm ---------- *)
(** root_square: root mean square of the entries *)
Definition root_square {d} (x : vector d) : R := sqrt (sum d (fun i => x i ^ 2) / INR d).
(** largest_rest: largest entry beside the first *)
Definition largest_rest {d} (lam : vector d) : R := largest (d - 1) (fun i => lam (S i)).
(** least_rest: least entry beside the first *)
Definition least_rest {d} (lam : vector d) : R := least (d - 1) (fun i => lam (S i)).
(** The length of a vector beside its first entry. *)
Definition beside {d} (x : vector d) : R := sqrt (sum (d - 1) (fun i => x (S i) ^ 2)).
(** ahead: x_0 > 0, and x is no multiple of e_0 *)
Definition ahead {d} (x : vector d) : Prop := x 0%nat > 0 /\ 0 < sum (d - 1) (fun i => x (S i) ^ 2).
(** narrowing: tan φ′/tan φ, φ the angle of a causal token x with e_0, x_0 > 0, and φ′ that of x + p N(x)V +
    (1 − p) N(e_0)V, V = diag(λ), N the division by the root mean square *)
Definition narrowing {d} (lam x : vector d) (p : R) : R :=
  let y : vector d := fun i => x i * (1 + p * lam i / root_square x)
    + (if Nat.eqb i 0 then (1 - p) * lam 0%nat * sqrt (INR d) else 0) in
  beside y * x 0%nat / (y 0%nat * beside x).
(** forward: factor of x_0 in that step *)
Definition forward {d} (lam x : vector d) (p : R) : R :=
  1 + p * lam 0%nat / root_square x + (1 - p) * lam 0%nat * sqrt (INR d) / x 0%nat.

(* ---------- clusters on the sphere ---------- *)
(** x_i divided by its length, the cosines of such tokens, and attention with the logits beta times the cosines. *)
Definition unit_row {n d} (X : matrix n d) (i : nat) : vector d := unit_of (row X i).
Definition row_cosine {n d} (X : matrix n d) : matrix n n := fun i j => dot d (unit_row X i) (unit_row X j).
Definition cosine_shares {n d} (X : matrix n d) (beta : R) : matrix n n :=
  fun i => shares ((fun k => beta * row_cosine X i k) : vector n).
(** pair_gap: 1 − ⟨x_0, x_1⟩; rows are divided by their lengths *)
Definition pair_gap {n d} (X : matrix n d) : R := 1 - row_cosine X 0%nat 1%nat.
(** inner_gap: the largest 1 − ⟨x_i, x_j⟩ of a pair of the first m rows, the pair of the first two left out, 0 if
    there is none; rows are divided by their lengths *)
Definition inner_gap {n d} (X : matrix n d) (m : nat) : R :=
  largest m (fun i => largest m (fun j => if Nat.ltb j 2 then 0 else 1 - row_cosine X i j)).
(** outer_gap: the least 1 − ⟨x_i, x_j⟩ of one of the first m rows and one of the others, 2 if there is no other;
    rows are divided by their lengths *)
Definition outer_gap {n d} (X : matrix n d) (m : nat) : R :=
  least m (fun i => least n (fun j => if Nat.ltb j m then 2 else 1 - row_cosine X i j)).
(** pair_speed: d⟨x_0, x_1⟩/dt for tokens on the sphere that follow dx_i/dt = Σ_k P_ik (x_k − ⟨x_k, x_i⟩x_i), P the
    softmax of the logits β⟨x_i, x_k⟩; rows are divided by their lengths *)
Definition pair_speed {n d} (X : matrix n d) (beta : R) : R := closing_rate (cosine_shares X beta) (row_cosine X)
  0%nat 1%nat.
(** cap_height: ⟨x_0, w⟩; rows of X and w are divided by their lengths *)
Definition cap_height {n d} (X : matrix n d) (w : vector d) : R := dot d (unit_row X 0%nat) (unit_of w).
(** cap_least: the least ⟨x_i, w⟩ of the first m rows other than the first, 1 if there is none; rows of X and w are
    divided by their lengths *)
Definition cap_least {n d} (X : matrix n d) (w : vector d) (m : nat) : R :=
  least m (fun i => if Nat.eqb i 0 then 1 else dot d (unit_row X i) (unit_of w)).
(** cap_fall: −d⟨x_0, w⟩/dt for tokens on the sphere that follow dx_i/dt = Σ_k P_ik (x_k − ⟨x_k, x_i⟩x_i), P the
    softmax of the logits β⟨x_i, x_k⟩; rows of X and w are divided by their lengths *)
Definition cap_fall {n d} (X : matrix n d) (w : vector d) (beta : R) : R :=
  sum n (fun k => cosine_shares X beta 0%nat k * (row_cosine X k 0%nat * cap_height X w - dot d (unit_row X k)
    (unit_of w))).
(** most_value: largest entry *)
Definition most_value {m} (s : vector m) : R := largest m s.
(** cone: 1 − ⟨x_i, x_j⟩, the largest over two rows, divided by their lengths *)
Definition cone {n d} (X : matrix n d) : R := largest n (fun i => largest n (fun j => 1 - row_cosine X i j)).
(** variance: Σ_j‖x_j − m‖²/n about the mean m of the n rows, divided by their lengths *)
Definition variance {n d} (X : matrix n d) : R := let mean := fun b => sum n (fun k => unit_row X k b) / INR n in
  sum n (fun j => dot d (vsub (unit_row X j) mean) (vsub (unit_row X j) mean)) / INR n.
(** variance_fall: −d Var/dt, Var = Σ_j‖x_j − m‖²/n about the mean m, of unit tokens with x_j' = P_{x_j}(Σ_k a_jk
    x_k)/s_j, P_x the projection off x, a the softmax of the logits x_jᵀBx_k; tokens are divided by their lengths *)
Definition variance_fall {n d} (B : matrix d d) (X : matrix n d) (s : vector n) : R := let u := unit_row X in
  let y := fun j b => sum n (fun k => shares ((fun k => bil d (u j) B (u k)) : vector n) k * u k b) in
  let v := fun j b => (y j b - dot d (y j) (u j) * u j b) / s j in
  2 * sum n (fun i => sum n (fun j => dot d (u i) (v j))) / INR n ^ 2.
(** variance_falls: under x_j' = P_{x_j}Σ_k a_jk x_k, P_x the projection off x, a the softmax of β⟨x_j, x_k⟩, the
    variance of the tokens about their mean falls; it does not where every token is one of ±x_0 and both occur, for
    then all rest, whatever the weights *)
Definition variance_falls {n d} (beta : R) (X : matrix n d) : Prop :=
  0 < variance_fall ((fun a b => beta * eye a b) : matrix d d) X ((fun _ => 1) : vector n).
(** in_printed_cone: all tokens have length 1, not all are equal, and 1 − ⟨x_j, x_k⟩ < 1/(100n²β²) for all j and k *)
Definition in_printed_cone {n d} (beta : R) (X : matrix n d) : Prop :=
  (forall i, (i < n)%nat -> dot d (X i) (X i) = 1) /\
  (forall i j, (i < n)%nat -> (j < n)%nat -> 1 - dot d (X i) (X j) < 1 / (100 * INR n ^ 2 * beta ^ 2)) /\
  exists i a, (i < n)%nat /\ (a < d)%nat /\ X i a <> X 0%nat a.
(** near_slope: s g(εs)/h(εs), with h(x) = e^{β(cos x − 1)} sin x, g its derivative, β = 1/s², s = πw *)
Definition near_slope (w eps : R) : R := let s := PI * w in s * cos (eps * s) / sin (eps * s) - sin (eps * s) / s.
(** far_slope: −s g((b + 1)s)/h(bs), with h(x) = e^{β(cos x − 1)} sin x, g its derivative, β = 1/s², s = πw *)
Definition far_slope (w b : R) : R := let s := PI * w in let x := b * s in let y := (b + 1) * s in
  exp ((cos y - cos x) / s ^ 2) * (sin y ^ 2 - s ^ 2 * cos y) / (s * sin x).
(** equiangular_gradient: the square of the Frobenius norm of the derivative of attention of the tokens divided by
    their lengths, logits β⟨x_i, x_j⟩, W = I, at m unit tokens in d dimensions whose cosines are all γ, is m times
    (a² + (m − 1)b²)(d − 1) + 2β(m − 1)b(1 − γ)((1 + γ)(a − b(a − b)) − b(1 + (m − 1)γ)(a + b)) + β²(m − 1)b²(1 −
    γ)(2(1 + γ)e + (m − 2)γ(e − 1 + γ)), a and b = ρa what a token gives itself and any other one, e = 1 − 2(a − b)γ
    + (a − b)² − mb²(1 + (m − 1)γ); ρ = e^{−β(1 − γ)} stands for any positive number; here: this equation between
    sums, in which no derivative is taken *)
Definition equiangular_gradient (gamma rho beta : R) (m d : nat) : Prop :=
  let C := fun i j => if Nat.eqb i j then 1 else gamma in
  let P := fun i j => (if Nat.eqb i j then 1 else rho) / (1 + (INR m - 1) * rho) in
  let M := fun i j => sum m (fun k => P i k * C k j) in let N := fun i => sum m (fun k => M i k * P i k) in
  let a := P 0%nat 0%nat in let b := P 0%nat 1%nat in
  let e := 1 - 2 * (a - b) * gamma + (a - b) ^ 2 - INR m * b ^ 2 * (1 + (INR m - 1) * gamma) in
  sum m (fun i => sum m (fun j => if Nat.eqb i j then 0 else P i j ^ 2 * (INR d - 1 + 2 * beta * (C i j * M i j - M i
    i) +
      beta ^ 2 * (1 - 2 * M i j + N i) * (1 - C i j ^ 2)))) +
    sum m (fun i => P i i ^ 2 * (INR d - 1) +
      2 * beta * P i i * sum m (fun k => P i k * (1 - C k i ^ 2 - M i k + M i i * C k i)) +
      beta ^ 2 * sum m (fun k => sum m (fun l => P i k * P i l * (C k l - M i k - M i l + N i) * (C k l - C k i * C l
        i)))) =
  INR m * ((a ^ 2 + (INR m - 1) * b ^ 2) * (INR d - 1) +
    2 * beta * (INR m - 1) * b * (1 - gamma) * ((1 + gamma) * (a - b * (a - b)) - b * (1 + (INR m - 1) * gamma) * (a
      + b)) +
    beta ^ 2 * (INR m - 1) * b ^ 2 * (1 - gamma) * (2 * (1 + gamma) * e + (INR m - 2) * gamma * (e - 1 + gamma))).

(* ---------- one token of a network ---------- *)
(** last_share: what the last token, number n − 1 counted from 0, attends to the token of this number in the first
    layer *)
Definition last_share (N : network) (k : nat) : R := P N 0 0 (tokens N - 1)%nat k.
(** is_last: 1 where this is the number of the last token, n − 1 counted from 0, else 0 *)
Definition is_last (N : network) (k : nat) : R := eye k (tokens N - 1)%nat.
(** influence: spectral norm of the derivative of the last token, number n − 1 counted from 0, after the first layer,
    skip connections with it, in the token of this number of the input; of attention without MLP, LayerNorm, positions,
    caps and norms of queries and keys *)
Definition influence (N : network) (k : nat) : R := sup_of (fun x => exists v : vec, l2 (dim N) v <= 1 /\
  x = l2 (dim N) (fun b => Derive (fun t => laid N (sent N 0 (fun p q => X N 0 p q + t * (eye k p * v q)))
    (tokens N - 1)%nat b) 0)).
(** The network with its last token twice, under the causal mask. *)
Definition with_last_repeated (N : network) : network := {| tokens := S (tokens N); dim := dim N; heads := heads N;
  layers := layers N; d_qk := d_qk N; skip_of := skip_of N; lnorm := lnorm N; W := W N; W_QK := W_QK N;
  key_bias := key_bias N; bias := bias N; edges := causal;
  input := fun i => input N (Nat.min i (tokens N - 1)) |}.
(** repeat_gap: ℓ₂ distance of the last token, number n − 1 counted from 0, and of token n, if the last token of the
    input is repeated behind it, under a causal mask, of attention and skip connections alone *)
Definition repeat_gap (N : network) (l : nat) : R :=
  l2 (dim N) (vsub (X N l (tokens N - 1)%nat) (X (with_last_repeated N) l (tokens N))).
(** repeat_share: what the repeated last token, number n counted from 0, attends to itself, under a causal mask, of
    attention and skip connections alone *)
Definition repeat_share (N : network) (l h : nat) : R := P (with_last_repeated N) l h (tokens N) (tokens N).
(** repeat_reach: largest ℓ₂ distance of the repeated last token, number n counted from 0, from another token, under a
    causal mask, of attention and skip connections alone *)
Definition repeat_reach (N : network) (l : nat) : R := let Y := X (with_last_repeated N) l in
  largest (tokens N) (fun i => l2 (dim N) (vsub (Y (tokens N)) (Y i))).
(** mu_before: Frobenius norm about their mean of the tokens Y^l that the attention of layer l makes, skip connections
    with it, before a LayerNorm of all of it or an MLP behind it; with LayerNorm in front of attention, no skip
    connections and no MLP these are the tokens after l + 1 layers *)
Definition mu_before (N : network) (l : nat) : R := Definitions.mu (tokens N) (dim N) (sent N l (X N l)).
(** disjoint_blocks: no head takes values where a head or a bias writes, and the input is zero there *)
Definition written (N : network) (b : nat) : Prop := exists l, (l < layers N)%nat /\
  (bias N l b <> 0 \/ exists h a, (h < heads N)%nat /\ (a < dim N)%nat /\ W N l h a b <> 0).
Definition disjoint_blocks (N : network) : Prop := forall b, (b < dim N)%nat -> written N b ->
  (forall l h c, (l < layers N)%nat -> (h < heads N)%nat -> (c < dim N)%nat -> W N l h b c = 0) /\
  forall i, (i < tokens N)%nat -> input N i b = 0.
(** gram_height: (1ᵀ(XXᵀ)⁻¹1)^{−1/2}, positive for tokens of full row rank *)
Definition gram_height {n d} (Y : matrix n d) : R := sup_of (fun x => exists g : vector n, independent Y /\
  (forall i, (i < n)%nat -> sum n (fun j => dot d (Y i) (Y j) * g j) = 1) /\ x = / sqrt (sum n g)).
(** The centres of the mask, in number, and the steps in which each of them reaches all tokens, at least 1. *)
Definition is_center (N : network) (c : nat) : Prop := exists r, centre (tokens N) (edges N) c r.
(** center_count: number of centers of the mask: of tokens that all others see, directly or through others *)
Definition is_center_count (N : network) (k : nat) : Prop := exists f : nat -> nat,
  (forall i j, (i < k)%nat -> (j < k)%nat -> f i = f j -> i = j) /\
  (forall j, (j < k)%nat -> is_center N (f j)) /\ forall c, is_center N c -> exists j, (j < k)%nat /\ f j = c.
(** farthest: least number of steps, at least 1, in which all tokens see every center of the mask; 1 if there is
  none *)
Definition is_farthest (N : network) (s : nat) : Prop := (1 <= s)%nat /\
  (forall c, is_center N c -> centre (tokens N) (edges N) c s) /\
  forall k, (1 <= k)%nat -> (forall c, is_center N c -> centre (tokens N) (edges N) c k) -> (s <= k)%nat.

(* ---------- square matrices ---------- *)
(** definite: the symmetric part of W is positive or negative definite *)
Definition definite {n m} (W : matrix n m) : Prop :=
  (forall v : vec, 0 < l2 n v -> 0 < bil n v W v) \/ (forall v : vec, 0 < l2 n v -> bil n v W v < 0).
(** definiteness: least |eigenvalue| of the symmetric part where that is definite; not positive where it is not *)
Definition definiteness {n m} (W : matrix n m) : R :=
  Rmax (inf_of (fun x => exists v : vec, l2 n v = 1 /\ x = bil n v W v))
       (inf_of (fun x => exists v : vec, l2 n v = 1 /\ x = - bil n v W v)).
(** least_singular: least singular value *)
Definition least_singular {n m} (W : matrix n m) : R :=
  inf_of (fun x => exists v : vec, l2 n v = 1 /\ x = l2 m (vmat n v W)).
(** invertible: W is invertible *)
Definition invertible {n m} (W : matrix n m) : Prop := n = m /\ exists V : mat,
  forall i j, (i < n)%nat -> (j < n)%nat -> mmul n W V i j = eye i j /\ mmul n V W i j = eye i j.
(** orthogonal_rest: W_V is orthogonal, there are no more tokens than dimensions, the mask has self-loops and a token
  that all others see, directly or through others, and the unit tokens are not all equal *)
Definition orthogonal_rest {n d} (X : matrix n d) (W_V : matrix d d) (allowed : matrix n n) : Prop :=
  orthogonal d W_V /\ (n <= d)%nat /\ (forall i, (i < n)%nat -> allowed i i = 1) /\
  (exists c r, centre n allowed c r) /\ unit_rows X /\ ~ equal_tokens X.
(** collapsing_neighbours: arbitrarily near X there are tokens of full row rank, which collapse (own:full-rank)
    under X ↦ LN(A(X)XW_V), LN the division of every token by its norm and A(X) the softmax of X W_QK Xᵀ over
    the pairs of the mask, whatever W_QK: det of the Gram matrix of X + t(B − X), B the first n unit vectors, is
    a polynomial in t that is not zero at t = 1, so not zero for small t but at finitely many; here: as near to X
    as one likes is a start of unit tokens, of full row rank, that collapses for every W_QK and all orthogonal W_V and
    masks as above *)
Definition collapsing_neighbours {n d} (X : matrix n d) : Prop := forall eta, 0 < eta -> exists Y : matrix n d,
  within n d eta (fun i a => Y i a - X i a) /\ unit_rows Y /\ independent Y /\
  forall (W_QK W_V : matrix d d) (allowed : matrix n n), is_mask allowed -> orthogonal_rest X W_V allowed ->
  is_lim_seq (fun t => Definitions.mu n d (Nat.iter t (sphere_map n d W_QK W_V allowed) Y)) 0.
(** stable_pair: W_V = cI_{d−2} ⊕ [[a, w], [0, 1]] with the causal mask and W_QK = 0 has the equilibrium of two tokens
    X_0 = e_{d−1}, X_1 = pe_{d−2} + qe_{d−1}, counted from 0, of rank two, where w²(1 − q²) = (1 + (1 − a)q)², q < a − 1
    and p = −(1 + (1 − a)q)/w; the eigenvalues of its Jacobian on the tangent spaces are a, (1 + q)/a and, for d > 2, c,
    c/a, all below 1; a, w, c are the parameters, d the dimension; by exact algebra;
      here: of the whole Jacobian these and
    0, and the equilibrium attracts *)
Definition pair_values (e : nat) (a c w : R) : mat := fun x y =>
  eye x y * (if Nat.ltb x e then c else if Nat.eqb x e then a else 1) + w * (eye x e * eye y (S e)).
Definition pair_tokens (e : nat) (p q : R) : mat := fun i =>
  match i with O => eye (S e) | _ => fun y => p * eye e y + q * eye (S e) y end.
Definition stable_pair (parameters : vector 3) (dim : nat) : Prop :=
  let a := parameters 0%nat in let w := parameters 1%nat in let c := parameters 2%nat in exists q,
  (-1 < q < a - 1 /\ w ^ 2 * (1 - q ^ 2) = (1 + (1 - a) * q) ^ 2) /\
  (forall q', -1 < q' < a - 1 -> w ^ 2 * (1 - q' ^ 2) = (1 + (1 - a) * q') ^ 2 -> q' = q) /\
  let p := - (1 + (1 - a) * q) / w in let Z := pair_tokens (dim - 2) p q in
  let F := sphere_map 2 dim no_logits (pair_values (dim - 2) a c w) causal in
  @unit_rows 2 dim Z /\ has_rank 2 dim Z 2 /\ fixed 2 dim F Z /\ attracts 2 dim F Z /\
  (exists J, derivative 2 dim F Z J /\ forall z : C, eigenvalue 2 dim J z <->
    z = RtoC 0 \/ z = RtoC a \/ z = RtoC ((1 + q) / a) \/ ((2 < dim)%nat /\ (z = RtoC c \/ z = RtoC (c / a)))) /\
  Rabs a < 1 /\ Rabs ((1 + q) / a) < 1 /\ Rabs c < 1 /\ Rabs (c / a) < 1.

(* ---------- flows of many tokens on the sphere ---------- *)
(** V x, with e rows and d columns; what a token is sent; a solution for t >= 0. *)
Definition times (d : nat) (V : mat) (x : vec) : vec := fun a => sum d (fun b => V a b * x b).
Definition drawn (n d e : nat) (V Q K : mat) (beta : R) (G X : mat) (i : nat) : vec := fun a =>
  sum n (fun j => softmax n (G i) (fun k => beta * dot e (times d Q (X i)) (times d K (X k))) j * times d V (X j) a).
Definition flows (n d e : nat) (V Q K : mat) (beta : R) (G : mat) (X : R -> mat) : Prop :=
  forall t i, 0 <= t -> (i < n)%nat -> dot d (X t i) (X t i) = 1 /\
  forall a, (a < d)%nat -> let y := drawn n d e V Q K beta G (X t) i in
    is_derive (fun s => X s i a) t (y a - dot d (X t i) y * X t i a).
(** distinct_positive: V has d distinct eigenvalues, all real and positive; in balls *)
Definition distinct_positive {n d e} (V : matrix d d) (Q K : matrix e d) (beta : R) (X : matrix n d) : Prop :=
  exists (lam : vector d) (E : matrix d d), positive lam /\ distinct lam /\ forall k, (k < d)%nat ->
  0 < l2 d (E k) /\ forall a, (a < d)%nat -> times d V (E k) a = lam k * E k a.
(** symmetric_values: V is symmetric *)
Definition symmetric_values {n d e} (V : matrix d d) (Q K : matrix e d) (beta : R) (X : matrix n d) : Prop :=
  forall a b, (a < d)%nat -> (b < d)%nat -> V a b = V b a.
(** xi is a unit eigenvector of V to its largest eigenvalue. *)
Definition top_direction {d} (V : matrix d d) (xi : vector d) : Prop := l2 d xi = 1 /\ exists lam,
  (forall a, (a < d)%nat -> times d V xi a = lam * xi a) /\
  forall m (v : vec), 0 < l2 d v -> (forall a, (a < d)%nat -> times d V v a = m * v a) -> m <= lam.
(** two_clusters: under the causal flow x_k' = P(Σ_{j≤k} a_kj V x_j), a the softmax of β⟨Qx_k, Kx_j⟩, P the projection
    off x_k, every token tends to ξ or −ξ, ξ the unit eigenvector of the largest eigenvalue of V,
      from almost every start
    near X;
    here: from some start in every neighbourhood of X, which is less *)
Definition two_clusters {n d e} (V : matrix d d) (Q K : matrix e d) (beta : R) (X : matrix n d) : Prop :=
  forall xi : vector d, top_direction V xi -> forall eta, 0 < eta -> exists Y : R -> mat,
  flows n d e V Q K beta causal Y /\ within n d eta (fun i a => Y 0 i a - X i a) /\
  forall i, (i < n)%nat -> exists s, (s = 1 \/ s = -1) /\
    forall a, (a < d)%nat -> is_lim (fun t => Y t i a) p_infty (s * xi a).

(* ---------- positions ---------- *)
(** A network whose logits are any functions of the tokens that a layer reads: rotations, additive terms,
  caps and norms of
    queries and keys are such functions.  Its W_QK and biases of queries and keys are not used. *)
Record scored := { plain_network :> network; score : nat -> nat -> mat -> mat }.
Definition scored_attention (N : scored) (l h : nat) (Y : mat) : mat := fun i =>
  softmax (tokens N) (edges N i) (score N l h Y i).
Fixpoint scored_X (N : scored) (l : nat) : matrix (tokens N) (dim N) := match l with
  | O => laid N (input N)
  | S k => let Y := scored_X N k in laid N (fun i b => skip_of N * Y i b + sum (heads N) (fun h =>
      vmat (dim N) (vmat (tokens N) (scored_attention N k h Y i) Y) (W N k h) b) + bias N k b) end.
Definition scored_P (N : scored) (l h : nat) : matrix (tokens N) (tokens N) := scored_attention N l h (scored_X N l).
(** dobrushin: largest total variation of two rows of the attention *)
Definition dobrushin {n m} (P : matrix n m) : R := dobrushin_of P.
(** first_gap: ℓ₂ distance of the first two tokens *)
Definition first_gap {n d} (X : matrix n d) : R := l2 d (vsub (X 0%nat) (X 1%nat)).
(** The sum of P_11 W over the heads of layer l. *)
Definition second_matrix (N : scored) (l : nat) : matrix (dim N) (dim N) := fun a b =>
  sum (heads N) (fun h => scored_P N l h 1%nat 1%nat * W N l h a b).
(** second_least: least singular value of Σ_h P^{l,h}_11 W^{l,h}, P_11 what the second token, number 1 counted from 0,
  attends to
    itself *)
Definition second_least (N : scored) (l : nat) : R := least_singular (second_matrix N l).
(** second_norm: spectral norm of Σ_h P^{l,h}_11 W^{l,h}, P_11 what the second token, number 1 counted from 0,
  attends to itself
    *)
Definition second_norm (N : scored) (l : nat) : R := spectral (second_matrix N l).
(** All tokens equal to the first of those that layer l reads, and the attention there. *)
Definition consensus (N : scored) (l : nat) : mat := fun _ => scored_X N l 0%nat.
Definition scored_P0 (N : scored) (l h : nat) : matrix (tokens N) (tokens N) := scored_attention N l h (consensus N l).
(** consensus_shift: largest oscillation, over the keys that a token sees, of the difference of its logits and of
    those where all tokens that layer l reads are the first of them *)
Definition consensus_shift (N : scored) (l h : nat) : R := sup_of (fun x => exists i j k,
  (i < tokens N)%nat /\ (j < tokens N)%nat /\ (k < tokens N)%nat /\ edges N i j = 1 /\ edges N i k = 1 /\
  let g := fun j => score N l h (scored_X N l) i j - score N l h (consensus N l) i j in x = g j - g k).
(** diagonal: what the token of this number, counted from 0, attends to itself *)
Definition diagonal {n m} (P : matrix n m) (k : nat) : R := P k k.
(** reach: largest ℓ₂ distance of a token from the first one *)
Definition reach {n d} (X : matrix n d) : R := largest n (fun i => l2 d (vsub (X i) (X 0%nat))).
(** other_share: largest share of its attention that a token other than the first gives itself; 0 where there is none *)
Definition other_share {n m} (P : matrix n m) : R := largest (n - 1) (fun i => P (S i) (S i)).
(** What the attention of layer l makes of tokens Y. *)
Definition made (N : scored) (l : nat) (Y : mat) : mat := fun i b => sum (heads N) (fun h =>
  vmat (dim N) (vmat (tokens N) (scored_attention N l h Y i) Y) (W N l h) b) + bias N l b.
(** linear_gap: largest ℓ₂ norm of a row of F(X) − F(C) − Σ_h P_0^h (X − C)W, P_0^h the attention where all tokens are
    the first of X, F what the attention of layer l makes of X, C the tokens if all were the first of X *)
Definition linear_gap (N : scored) (l : nat) : R := let Y := scored_X N l in let C := consensus N l in
  largest (tokens N) (fun i => l2 (dim N) (fun b => made N l Y i b - made N l C i b - sum (heads N) (fun h =>
    vmat (dim N) (vmat (tokens N) (scored_P0 N l h i) (fun j a => Y j a - C j a)) (W N l h) b))).
(** A term that depends on i − j alone is added to the logits of W_QK. *)
Definition positions_relative (N : scored) : Prop := exists B : nat -> nat -> Z -> R, forall l h Y i j,
  score N l h Y i j = logits_of N l h Y i j + B l h (Z.of_nat i - Z.of_nat j)%Z.
(** A network whose logits are products of queries and keys, any functions of the tokens (turned, normed, with biases),
    with a term of the key and one of the two places. *)
Record placed := {
  scored_placed :> scored; key_size : nat; queries : nat -> nat -> mat -> mat; keys : nat -> nat -> mat -> mat;
  key_term : nat -> nat -> mat -> vec; position : nat -> nat -> mat;
  placed_scores : forall l h Y i j, score scored_placed l h Y i j = dot key_size (queries l h Y i) (keys l h Y j)
    / sqrt (d_qk scored_placed) + key_term l h Y j + position l h i j }.
(** turned_range: ℓ₂ diameter of the queries times that of the keys, over √d_qk, with their rotations, biases and norms;
    where only W_QK is given, queries are XW_QK and keys X *)
Definition turned_range (N : placed) (l h : nat) : R := let Y := scored_X N l in
  diam (tokens N) (l2 (key_size N)) (queries N l h Y) * diam (tokens N) (l2 (key_size N)) (keys N l h Y) / sqrt (d_qk
    N).
(** position_range: largest oscillation of B_ij − B_kj over the keys j that token i sees, B the additive position term;
    0 where there is none *)
Definition position_range (N : placed) (l h : nat) : R := sup_of (fun x => exists i k j m,
  (i < tokens N)%nat /\ (k < tokens N)%nat /\ (j < tokens N)%nat /\ (m < tokens N)%nat /\
  edges N i j = 1 /\ edges N i m = 1 /\
  let B := position N l h in x = (B i j - B k j) - (B i m - B k m)).
(** Pairs of entries of a row, turned by the cosines c and the sines s of its place. *)
Definition turned (pairs : nat) (c s q : vec) : vec := fun a => let j := Nat.div2 a in
  if Nat.ltb j pairs then if Nat.even a then q a * c j - q (S a) * s j else q a * c j + q (pred a) * s j else q a.
(** A network with rotary positions and no biases of queries and keys: entries 2j and 2j + 1 of queries and keys at
    place i are turned by the tables of their layer, j below the number of pairs; the tables need not be those of
    angles. *)
Record rotated := {
  scored_network :> scored; head_size : nat; pairs : nat; cosine_of : nat -> mat; sine_of : nat -> mat;
  W_Q : nat -> nat -> matrix (dim scored_network) head_size; W_K : nat -> nat -> matrix (dim scored_network) head_size;
  pairs_fit : (2 * pairs <= head_size)%nat;
  turned_scores : forall l h Y i j, let place := fun k => turned pairs (cosine_of l k) (sine_of l k) in
    score scored_network l h Y i j = dot head_size (place i (vmat (dim scored_network) (Y i) (W_Q l h)))
      (place j (vmat (dim scored_network) (Y j) (W_K l h))) / sqrt (d_qk scored_network) }.
Definition positions_rotary (N : rotated) : Prop := True.
(** With rotations by angles and W_QK = W_Q W_Kᵀ: of these networks a refuted claim about positions is printed. *)
Definition turns_heads (N : rotated) : Prop :=
  (forall l i j, cosine_of N l i j ^ 2 + sine_of N l i j ^ 2 = 1) /\
  forall l h a b, (l < layers N)%nat -> (h < heads N)%nat -> (a < dim N)%nat -> (b < dim N)%nat ->
    W_QK N l h a b = dot (head_size N) (W_Q N l h a) (W_K N l h b).
(** lengthening: ‖W_Q‖₂‖W_K‖₂/√d_qk, times the largest cos² + sin² of the rotations, as they are given, at least 1; not defined where biases b_Q, b_K are rotated or capped, or queries and keys have norms; where only W_QK is given, W_K is I *)
Definition lengthening (N : rotated) (l h : nat) : R := spectral (W_Q N l h) * spectral (W_K N l h) / sqrt (d_qk N)
  * Rmax 1 (largest (tokens N) (fun i => largest (pairs N) (fun j => cosine_of N l i j ^ 2 + sine_of N l i j ^ 2))).

(* ---------- RMSNorm before attention ---------- *)
(** A network with RMSNorm, of its own eps, gain and offset, before the attention of every layer. *)
Record normed := {
  scored_before :> scored; root_eps : nat -> R; gain : nat -> vector (dim scored_before);
  offset : nat -> vector (dim scored_before) }.
Definition root_size (N : normed) (l : nat) (x : vec) : R := sqrt (dot (dim N) x x / INR (dim N) + root_eps N l).
Definition read (N : normed) (l : nat) (Y : mat) : mat := fun i a =>
  Y i a / root_size N l (Y i) * gain N l a + offset N l a.
Fixpoint normed_X (N : normed) (l : nat) : matrix (tokens N) (dim N) := match l with
  | O => input N
  | S k => let Y := normed_X N k in fun i b => skip_of N * Y i b + made N k (read N k Y) i b end.
Definition normed_P (N : normed) (l h : nat) : matrix (tokens N) (tokens N) :=
  scored_attention N l h (read N l (normed_X N l)).
(** No token that is normed has a root mean square of 0. *)
Definition normable (N : normed) : Prop := (forall l, 0 <= root_eps N l) /\
  forall l i, (l < layers N)%nat -> (i < tokens N)%nat -> 0 < root_size N l (normed_X N l i).
(** [normed_X] norms, and no token is divided by its length besides. *)
Definition layernorm_rms (N : normed) : Prop := lnorm N = false.
Definition norm_at_before (N : normed) : Prop := True.
(** least_root: least √(‖x‖₂²/d + ε) of a token x that layer l norms before its attention, ε that of the RMSNorm *)
Definition least_root (N : normed) (l : nat) : R := least (tokens N) (fun i => root_size N l (normed_X N l i)).
(** largest_root: largest √(‖x‖₂²/d + ε) of a token x that layer l norms before its attention, ε that of the RMSNorm *)
Definition largest_root (N : normed) (l : nat) : R := largest (tokens N) (fun i => root_size N l (normed_X N l i)).
(** root_growth: least (ρ_l − ρ_0)/l of layers l = 1, …, L − 1, ρ_l the least √(‖x‖₂²/d + ε) of a token x that layer l
    norms before its attention, ε that of the RMSNorm *)
Definition root_growth (N : normed) : R := least (layers N - 1) (fun k =>
  (least_root N (S k) - least_root N 0) / INR (S k)).
(** gained_norm: spectral norm of diag(g)W, g the gain of the RMSNorm before the attention of layer l *)
Definition gained (N : normed) (l h : nat) : matrix (dim N) (dim N) := fun a b => gain N l a * W N l h a b.
Definition gained_norm (N : normed) (l h : nat) : R := spectral (gained N l h).
(** scaling_values: diag(g)W[l, 0] is a multiple ≥ 0 of the identity in every layer, g the gain of the RMSNorm before
    attention, which has no offset *)
Definition scaling_values (N : normed) : Prop := forall l, (l < layers N)%nat -> (forall a, offset N l a = 0) /\
  exists w, 0 <= w /\ forall a b, (a < dim N)%nat -> (b < dim N)%nat -> gained N l 0 a b = w * eye a b.
(** across: ℓ₂ distance of the second token from the line through 0 and the first *)
Definition across {n d} (X : matrix n d) : R := l2 d (fun a =>
  X 1%nat a - dot d (X 1%nat) (X 0%nat) / dot d (X 0%nat) (X 0%nat) * X 0%nat a).
(** moved: largest absolute entry of the difference of these tokens and of the input *)
Definition moved (N : scored) (l : nat) : R :=
  maxentry (tokens N) (dim N) (fun i a => scored_X N l i a - scored_X N 0 i a).

(* ---------- masks near consensus ---------- *)
(** Every row divided by its sum. *)
Definition divided {n} (K : matrix n n) : matrix n n := fun i => normalised_sum (row K i).
(** second_modulus: second largest modulus of an eigenvalue of the attention, each as often as it occurs;
  the largest is 1; 0 for one token.
    It is the spectral radius of what the matrix does to vectors modulo constants,
      so by Gelfand's formula the least factor at
    which its powers fall there. *)
Definition second_modulus {n} (P : matrix n n) : R := inf_of (fun q => 0 <= q /\ exists c, 0 <= c /\
  forall t (z : vector n), osc (applied P t z) <= c * q ^ t * osc z).
(** zero_one: entries are 0 and 1, and every token sees one *)
Definition zero_one {n} (G : matrix n n) : Prop :=
  (forall i j, (i < n)%nat -> (j < n)%nat -> G i j = 0 \/ G i j = 1) /\ forall i, (i < n)%nat ->
    exists j, (j < n)%nat /\ G i j = 1.
(** mask_trace: the trace of uniform attention over the mask: the sum of 1/deg_i over the tokens i that see themselves,
  deg_i the
    number of tokens that i sees *)
Definition mask_trace {n} (G : matrix n n) : R := sum n (fun i => divided G i i).
(** mask_second: second largest modulus of an eigenvalue of uniform attention over the mask, with multiplicities *)
Definition mask_second {n} (G : matrix n n) : R := second_modulus (divided G).
(** symmetric_weights: K is symmetric, no entry is negative, and those on the diagonal are positive *)
Definition symmetric_weights {n} (K : matrix n n) : Prop :=
  (forall i j, (i < n)%nat -> (j < n)%nat -> K i j = K j i /\ 0 <= K i j) /\ forall i, (i < n)%nat -> 0 < K i i.
(** returns: the sum of all P_ij P_ji, P the matrix K with each row divided by its sum *)
Definition returns {n} (K : matrix n n) : R := sum n (fun i => sum n (fun j => divided K i j * divided K j i)).
(** weights_second: second largest modulus, with multiplicities, of an eigenvalue of the matrix K,
  each row divided by its sum *)
Definition weights_second {n} (K : matrix n n) : R := second_modulus (divided K).
(** incomplete_attention: rows sum to 1, no entry is negative, those on the diagonal are positive,
  and some entry is 0 *)
Definition incomplete_attention {n} (P : matrix n n) : Prop := Definitions.row_stochastic n n P /\
  (forall i, (i < n)%nat -> 0 < P i i) /\ exists i j, (i < n)%nat /\ (j < n)%nat /\ P i j = 0.
(** never_forgets: an eigenvalue of P besides one 1 is not 0: no power of P has equal rows *)
Definition never_forgets {n} (P : matrix n n) : Prop := forall t, exists i j k,
  (i < n)%nat /\ (j < n)%nat /\ (k < n)%nat /\
  from_left (fun _ => P) t i j <> from_left (fun _ => P) t k j.

(* ---------- hardmax steps ---------- *)
(** left_over: the product of all 1 − g_i: what is left of the distance to the vertex after the steps g_i *)
Definition left_over {t} (g : vector t) : R := prodf t (fun s => 1 - g s).
(** total: sum of the entries *)
Definition total {t} (g : vector t) : R := sum t g.
(** proper_steps: every entry is between 0 and 1 *)
Definition proper_steps {t} (g : vector t) : Prop := forall s, (s < t)%nat -> 0 < g s < 1.
(** arrives_exponentially: with the steps γ^t = aq^t a token, x ↦ x + γ^t(v − x),
  comes to its vertex v at least exponentially fast;
    where q < 1 it does not: for every m with aq^m < 1 − q the product of 1 − aq^s over s < m,
    times 1 − aq^m/(1 − q), is left of the distance at least, after any number of steps *)
Definition arrives_exponentially (a q : R) : Prop := exists c r, 0 <= r < 1 /\
  forall t, left_over ((fun s => a * q ^ s) : vector t) <= c * r ^ t.

(* ---------- times that are integrals ---------- *)
(** meeting_time: the time in which the common cosine of m orthogonal tokens comes from 0 to γ on the sphere
    under dx_i/dt = Σ_k P_ik (x_k − ⟨x_k, x_i⟩x_i), P the softmax of the logits β⟨x_i, x_k⟩ *)
Definition meeting_time (gamma beta m : R) : R :=
  RInt (fun c => (exp (beta * (1 - c)) + m - 1) / (2 * (1 - c) * (1 + (m - 1) * c))) 0 gamma.
(** until_collapse: the time in which u' = u(1 − u)e^{β(u − 1)} comes from u to 1 − e^{−cβ} *)
Definition until_collapse (beta u c : R) : R :=
  RInt (fun v => exp (beta * v) / (v * (1 - v))) (exp (- c * beta)) (1 - u).
(** pair_time: the time, times e^{−β(1 − u)}, in which two tokens of one weight on the sphere come from the cosine u to
  the cosine v under x_i' = P_{x_i}Σ_j a_ij x_j, P_x the projection off x, a the softmax of β⟨x_i, x_j⟩ *)
Definition pair_time (beta u v : R) : R :=
  RInt (fun c => (exp (- beta * (c - u)) + exp (- beta * (1 - u))) / (2 * (1 - c ^ 2))) u v.
