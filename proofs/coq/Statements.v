(** Every registered statement that can be said in the words of Language.v, as a proposition.

    Printed by [python -m rankmath.report.coq] from the formulas of the registry: do not edit.  Above each is
    its formula with what is given, as the gallery has it.  The last comment says of which of them Coq has no
    theorem, and why. *)
Require Import Reals.
From Rankmath Require Import Definitions Language.
Local Open Scope R_scope.

(** seed:closure (proved): stochastic_product(P)
    given row_stochastic(P) *)
Definition statement_seed_closure : Prop :=
  forall (t n : nat) (P : sequence t n),
    (0 < t)%nat ->
    (0 < n)%nat ->
    row_stochastic P ->
    stochastic_product P.

(** dong2021:2.1 (proved): sum_of_paths(X, P, W, bias, skip)
    given skip == 0 *)
Definition statement_dong2021_2_1 : Prop :=
  forall (t k n d : nat) (X : matrix n d) (P : stack t k n n) (W : stack t k d d) (bias : matrix t d) (skip : R),
    (0 < t)%nat ->
    (0 < k)%nat ->
    (0 < n)%nat ->
    (0 < d)%nat ->
    stochastic_heads P ->
    skip = 0 ->
    sum_of_paths X P W bias skip.

(** dong2021:2.1-skip (proved): sum_of_paths(X, P, W, bias, skip) *)
Definition statement_dong2021_2_1_skip : Prop :=
  forall (t k n d : nat) (X : matrix n d) (P : stack t k n n) (W : stack t k d d) (bias : matrix t d) (skip : R),
    (0 < t)%nat ->
    (0 < k)%nat ->
    (0 < n)%nat ->
    (0 < d)%nat ->
    stochastic_heads P ->
    sum_of_paths X P W bias skip.

(** dong2021:2.2 (proved): residual(X[L], composite) <= (4*gamma_star*beta/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0],
      composite)**(3**L)
    given H == 1
    given all_l(max_h(delta(P[l, h], composite)) <= x_star)
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where gamma_star = max_l(max_h(gamma(P[l, h])))
    where beta = max_l(max_h(norm(W_QK[l, h], 1)*norm(W[l, h], composite))) *)
Definition statement_dong2021_2_2 : Prop :=
  forall (N : network),
    proper N ->
    forall x_star, is_x_star x_star ->
    forall center, are_centers N center ->
    let gamma_star := largest (layers N) (fun l => largest (heads N) (fun h => gamma N center l h)) in
    let beta := largest (layers N) (fun l => largest (heads N) (fun h => norm_1 (W_QK N l h) * norm_composite (W N l
      h))) in
    ((heads N) = 1)%nat ->
    (forall l, (l < (layers N))%nat -> largest (heads N) (fun h => delta_composite N center l h) <= x_star) ->
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    residual_composite (X N (layers N)) <= (4 * gamma_star * beta / sqrt (d_qk N)) ^ (((3 ^ (layers N)) - 1) / 2) *
      (residual_composite (X N 0%nat)) ^ (3 ^ (layers N)).

(** dong2021:2.3 (proved): residual(X[L], composite) <= (4*gamma_star*B/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0],
      composite)**(3**L)
    given all_l(max_h(delta(P[l, h], composite)) <= x_star)
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where gamma_star = max_l(max_h(gamma(P[l, h])))
    where B = max_l(sqrt(sum_h(norm(W_QK[l, h], 1)*norm(W[l, h], 1))*sum_h(norm(W_QK[l, h], 1)*norm(W[l, h], inf)))) *)
Definition statement_dong2021_2_3 : Prop :=
  forall (N : network),
    proper N ->
    forall x_star, is_x_star x_star ->
    forall center, are_centers N center ->
    let gamma_star := largest (layers N) (fun l => largest (heads N) (fun h => gamma N center l h)) in
    let B := largest (layers N) (fun l => sqrt (sum (heads N) (fun h => norm_1 (W_QK N l h) * norm_1 (W N l h)) * sum
      (heads N) (fun h => norm_1 (W_QK N l h) * norm_inf (W N l h)))) in
    (forall l, (l < (layers N))%nat -> largest (heads N) (fun h => delta_composite N center l h) <= x_star) ->
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    residual_composite (X N (layers N)) <= (4 * gamma_star * B / sqrt (d_qk N)) ^ (((3 ^ (layers N)) - 1) / 2) *
      (residual_composite (X N 0%nat)) ^ (3 ^ (layers N)).

(** dong2021:2.3-printed (refuted): residual(X[L], composite) <= (4*gamma_star*beta*H/sqrt(d_qk))**((3**L -
      1)/2)*residual(X[0], composite)**(3**L)
    given all_l(max_h(delta(P[l, h], composite)) <= x_star)
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where gamma_star = max_l(max_h(gamma(P[l, h])))
    where beta = max_l(max_h(norm(W_QK[l, h], 1)*norm(W[l, h], composite))) *)
Definition statement_dong2021_2_3_printed : Prop :=
  forall (N : network),
    proper N ->
    forall x_star, is_x_star x_star ->
    forall center, are_centers N center ->
    let gamma_star := largest (layers N) (fun l => largest (heads N) (fun h => gamma N center l h)) in
    let beta := largest (layers N) (fun l => largest (heads N) (fun h => norm_1 (W_QK N l h) * norm_composite (W N l
      h))) in
    (forall l, (l < (layers N))%nat -> largest (heads N) (fun h => delta_composite N center l h) <= x_star) ->
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    residual_composite (X N (layers N)) <= (4 * gamma_star * beta * INR (heads N) / sqrt (d_qk N)) ^ (((3 ^ (layers N))
      - 1) / 2) * (residual_composite (X N 0%nat)) ^ (3 ^ (layers N)).

(** dong2021:3.1 (proved): residual(X[L], frobenius) >= residual(X[0], frobenius)
    given skip == 1
    given mask == any
    given disjoint_blocks()
    given layernorm == none
    given mlp == none *)
Definition statement_dong2021_3_1 : Prop :=
  forall (N : network),
    proper N ->
    (skip_of N) = 1 ->
    disjoint_blocks N ->
    layernorm_none N ->
    mlp_none N ->
    residual_frobenius (X N (layers N)) >= residual_frobenius (X N 0%nat).

(** dong2021:3.2 (proved): residual(X[L], composite) <= (4*gamma_star*B*lambda_f/sqrt(d_qk))**((3**L -
      1)/2)*residual(X[0], composite)**(3**L)
    given mlp == any
    given all_l(max_h(delta(P[l, h], composite)) <= x_star)
    given mask == none
    given layernorm == none
    given skip == 0
    where gamma_star = max_l(max_h(gamma(P[l, h])))
    where B = max_l(sqrt(sum_h(norm(W_QK[l, h], 1)*norm(W[l, h], 1))*sum_h(norm(W_QK[l, h], 1)*norm(W[l, h], inf))))
    where lambda_f = max_l(lipschitz(l)) *)
Definition statement_dong2021_3_2 : Prop :=
  forall (N : fed),
    proper N ->
    forall x_star, is_x_star x_star ->
    forall center, fed_are_centers N center ->
    let gamma_star := largest (layers N) (fun l => largest (heads N) (fun h => fed_gamma N center l h)) in
    let B := largest (layers N) (fun l => sqrt (sum (heads N) (fun h => norm_1 (W_QK N l h) * norm_1 (W N l h)) * sum
      (heads N) (fun h => norm_1 (W_QK N l h) * norm_inf (W N l h)))) in
    let lambda_f := largest (layers N) (fun l => lipschitz N l) in
    (forall l, (l < (layers N))%nat -> largest (heads N) (fun h => fed_delta_composite N center l h) <= x_star) ->
    mask_none N ->
    layernorm_none N ->
    (skip_of N) = 0 ->
    residual_composite (fed_X N (layers N)) <= (4 * gamma_star * B * lambda_f / sqrt (d_qk N)) ^ (((3 ^ (layers N)) -
      1) / 2) * (residual_composite (fed_X N 0%nat)) ^ (3 ^ (layers N)).

(** dong2021:3.3 (proved): all_p(diameter(X[1], p) <= sum_h(normalised_norm(W[0, h], p)*tanh(form_norm(W_QK[0, h],
      p)*diameter(X[0], p)**2/(4*sqrt(d_qk))))*diameter(X[0], p))
    given layernorm == column
    given L == 1
    given mask == none
    given mlp == none
    given skip == 0 *)
Definition statement_dong2021_3_3 : Prop :=
  forall (N : network) (eps : R),
    proper N ->
    0 <= eps ->
    layernorm_column N ->
    ((layers N) = 1)%nat ->
    mask_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    forall p : exponent, diameter (column_X N eps 1%nat) p <= sum (heads N) (fun h => normalised_norm N (W N 0%nat h) p
      * tanh (form_norm (W_QK N 0%nat h) p * (diameter (column_X N eps 0%nat) p) ^ 2 / (4 * sqrt (d_qk N)))) * diameter
      (column_X N eps 0%nat) p.

(** dong2021:A.3 (proved): all_i(relative_gain(c, E[i]) <= 2*osc(E[i])) and all_i(relative_loss(c, E[i]) <= osc(E[i]))
    given all_i(osc(E[i]) <= x_star) *)
Definition statement_dong2021_A_3 : Prop :=
  forall (n m : nat) (c : vector m) (E : matrix n m),
    (0 < n)%nat ->
    (0 < m)%nat ->
    forall x_star, is_x_star x_star ->
    (forall i, (i < n)%nat -> osc (row E i) <= x_star) ->
    (forall i, (i < n)%nat -> relative_gain c (row E i) <= 2 * osc (row E i)) /\ (forall i, (i < n)%nat ->
      relative_loss c (row E i) <= osc (row E i)).

(** dong2021:norm (proved): composite(A) + composite(B) < composite_sum(A, B) *)
Definition statement_dong2021_norm : Prop :=
  exists (n d : nat) (A B : matrix n d),
    (0 < n)%nat /\
    (0 < d)%nat /\
    composite A + composite B < composite_sum A B.

(** dong2021v1:2.2 (refuted): residual(X[L], composite) <= (4*beta/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0],
      composite)**(3**L)
    given H == 1
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where beta = max_l(max_h(norm(W_QK[l, h], 1)*norm(W[l, h], composite))) *)
Definition statement_dong2021v1_2_2 : Prop :=
  forall (N : network),
    proper N ->
    let beta := largest (layers N) (fun l => largest (heads N) (fun h => norm_1 (W_QK N l h) * norm_composite (W N l
      h))) in
    ((heads N) = 1)%nat ->
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    residual_composite (X N (layers N)) <= (4 * beta / sqrt (d_qk N)) ^ (((3 ^ (layers N)) - 1) / 2) *
      (residual_composite (X N 0%nat)) ^ (3 ^ (layers N)).

(** dong2021v1:2.2-mean (refuted): about_mean(X[L]) <= (4*beta/sqrt(d_qk))**((3**L - 1)/2)*about_mean(X[0])**(3**L)
    given H == 1
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where beta = max_l(max_h(norm(W_QK[l, h], 1)*norm(W[l, h], composite))) *)
Definition statement_dong2021v1_2_2_mean : Prop :=
  forall (N : network),
    proper N ->
    let beta := largest (layers N) (fun l => largest (heads N) (fun h => norm_1 (W_QK N l h) * norm_composite (W N l
      h))) in
    ((heads N) = 1)%nat ->
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    about_mean (X N (layers N)) <= (4 * beta / sqrt (d_qk N)) ^ (((3 ^ (layers N)) - 1) / 2) * (about_mean (X N 0%nat))
      ^ (3 ^ (layers N)).

(** dong2021v1:2.3 (refuted): residual(X[L], composite) <= (4*beta*H/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0],
      composite)**(3**L)
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where beta = max_l(max_h(norm(W_QK[l, h], 1)*norm(W[l, h], composite))) *)
Definition statement_dong2021v1_2_3 : Prop :=
  forall (N : network),
    proper N ->
    let beta := largest (layers N) (fun l => largest (heads N) (fun h => norm_1 (W_QK N l h) * norm_composite (W N l
      h))) in
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    residual_composite (X N (layers N)) <= (4 * beta * INR (heads N) / sqrt (d_qk N)) ^ (((3 ^ (layers N)) - 1) / 2) *
      (residual_composite (X N 0%nat)) ^ (3 ^ (layers N)).

(** dong2021v1:A.3 (refuted): all_i(relative_gain(c, E[i]) <= 2*osc(E[i])) and all_i(relative_loss(c, E[i]) <=
      osc(E[i])) *)
Definition statement_dong2021v1_A_3 : Prop :=
  forall (n m : nat) (c : vector m) (E : matrix n m),
    (0 < n)%nat ->
    (0 < m)%nat ->
    (forall i, (i < n)%nat -> relative_gain c (row E i) <= 2 * osc (row E i)) /\ (forall i, (i < n)%nat ->
      relative_loss c (row E i) <= osc (row E i)).

(** own:alibi-decay (proved): decay_tightness(E, a) <= 1
    given n >= 2 *)
Definition statement_own_alibi_decay : Prop :=
  forall (n : nat) (E : matrix n n) (a : R),
    (0 < n)%nat ->
    (forall i j, (i < n)%nat -> (j < n)%nat -> 0 < E i j) ->
    0 < a < 1 ->
    (n >= 2)%nat ->
    decay_tightness E a <= 1.

(** own:attention-shares (proved): jacobian_norm() <= norm(W[0, 0], 2)*(norm(P[0, 0], 2) + a*kappa*c*(c + norm(X[0],
      2)))
    given H == 1
    given query_bias == none
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where a = norm(W_QK[0, 0], 2)/sqrt(d_qk)
    where kappa = top_shares(P[0, 0])
    where c = centred_norm(X[0]) *)
Definition statement_own_attention_shares : Prop :=
  forall (N : network),
    proper N ->
    let a := norm_2 (W_QK N 0%nat 0%nat) / sqrt (d_qk N) in
    let kappa := top_shares (P N 0%nat 0%nat) in
    let c := centred_norm (X N 0%nat) in
    ((heads N) = 1)%nat ->
    query_bias_none N ->
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    jacobian_norm N <= norm_2 (W N 0%nat 0%nat) * (norm_2 (P N 0%nat 0%nat) + a * kappa * c * (c + norm_2 (X N 0%nat))).

(** own:causal-rate (proved): reach(X[L]) >= prod_l(diagonal(P0[l, 0], 1)*exp(-consensus_shift(P[l,
      0]))*least_singular(W[l, 0]))*first_gap(X[0]) and reach(X[L]) <= L**(n - 2)*prod_l(norm(W[l, 0], 2)*(1/L + (1 -
      1/L)*other_share(P0[l, 0])*exp(consensus_shift(P[l, 0]))))*reach(X[0])
    given mask == causal
    given n >= 2
    given H == 1
    given positions == any
    given softcap == any
    given qk_norm == any
    given layernorm == none
    given mlp == none
    given skip == 0 *)
Definition statement_own_causal_rate : Prop :=
  forall (N : scored),
    proper N ->
    mask_causal N ->
    ((tokens N) >= 2)%nat ->
    ((heads N) = 1)%nat ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    (reach (scored_X N (layers N)) >= prodf (layers N) (fun l => diagonal (scored_P0 N l 0%nat) 1%nat * exp (-
      consensus_shift N l 0%nat) * least_singular (W N l 0%nat)) * first_gap (scored_X N 0%nat)) /\ (reach (scored_X N
      (layers N)) <= power (INR (layers N)) (INR (tokens N) - 2) * prodf (layers N) (fun l => norm_2 (W N l 0%nat) * (1
      / INR (layers N) + (1 - 1 / INR (layers N)) * other_share (scored_P0 N l 0%nat) * exp (consensus_shift N l
      0%nat))) * reach (scored_X N 0%nat)).

(** own:circle-three (proved): u*exp(beta*(u**2/2 - 1)) <= exp(-beta*u/2)
    given beta >= -2/3
    given u > 0
    given u <= 1 *)
Definition statement_own_circle_three : Prop :=
  forall (beta u : R),
    beta >= - 2 / 3 ->
    u > 0 ->
    u <= 1 ->
    u * exp (beta * (u ^ 2 / 2 - 1)) <= exp (- beta * u / 2).

(** own:cluster (proved): pair_speed(X, beta) + 2*kappa/(1 + kappa)*min(sqrt(g*(2 - g)), g*(1 + (2 - g)*beta)) >=
      2*g*(2 - g)*rho/(m - 1 + rho + kappa)
    given m >= 2
    given m <= n
    given inner_gap(X, m) <= g
    given g <= 1
    given beta >= 0
    where g = pair_gap(X)
    where rho = exp(-beta*g)
    where kappa = (n - m)*exp(-beta*outer_gap(X, m)) *)
Definition statement_own_cluster : Prop :=
  forall (n d : nat) (X : matrix n d) (beta : R) (m : nat),
    (0 < n)%nat ->
    (0 < d)%nat ->
    (forall i, (i < n)%nat -> 0 < l2 d (X i)) ->
    let g := pair_gap X in
    let rho := exp (- beta * g) in
    let kappa := (INR n - INR m) * exp (- beta * outer_gap X m) in
    (m >= 2)%nat ->
    (m <= n)%nat ->
    inner_gap X m <= g ->
    g <= 1 ->
    beta >= 0 ->
    pair_speed X beta + 2 * kappa / (1 + kappa) * Rmin (sqrt (g * (2 - g))) (g * (1 + (2 - g) * beta)) >= 2 * g * (2 -
      g) * rho / (INR m - 1 + rho + kappa).

(** own:cluster-speed (proved): variance_fall(B, X, s) <= 2*variance(X)*exp(w)/least_value(s) and variance_fall(B, X,
      s) >= 2*variance(X)*((1 - 3*delta/2)/most_value(s) - (exp(w) - 1)/least_value(s))
    given least_value(s) > 0
    given most_value(s)*(exp(w) - 1) < least_value(s)*(1 - 3*delta/2)
    where delta = cone(X)
    where w = form_size(B)*sqrt(2*delta) *)
Definition statement_own_cluster_speed : Prop :=
  forall (n d : nat) (B : matrix d d) (X : matrix n d) (s : vector n),
    (2 <= n)%nat ->
    (0 < d)%nat ->
    (forall i, (i < n)%nat -> 0 < l2 d (X i)) ->
    let delta := cone X in
    let w := form_size B * sqrt (2 * delta) in
    least_value s > 0 ->
    most_value s * (exp w - 1) < least_value s * (1 - 3 * delta / 2) ->
    (variance_fall B X s <= 2 * variance X * exp w / least_value s) /\ (variance_fall B X s >= 2 * variance X * ((1 - 3
      * delta / 2) / most_value s - (exp w - 1) / least_value s)).

(** own:composite (proved): residual(X[L], composite) <= (2*gamma_star*B/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0],
      composite)**(3**L)
    given all_l(max_h(delta(P[l, h], composite)) <= x_star)
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where gamma_star = max_l(max_h(gamma(P[l, h])))
    where B = max_l(sqrt(sum_h(norm(W_QK[l, h], 1)*norm(W[l, h], 1))*sum_h(norm(W_QK[l, h], 1)*norm(W[l, h], inf)))) *)
Definition statement_own_composite : Prop :=
  forall (N : network),
    proper N ->
    forall x_star, is_x_star x_star ->
    forall center, are_centers N center ->
    let gamma_star := largest (layers N) (fun l => largest (heads N) (fun h => gamma N center l h)) in
    let B := largest (layers N) (fun l => sqrt (sum (heads N) (fun h => norm_1 (W_QK N l h) * norm_1 (W N l h)) * sum
      (heads N) (fun h => norm_1 (W_QK N l h) * norm_inf (W N l h)))) in
    (forall l, (l < (layers N))%nat -> largest (heads N) (fun h => delta_composite N center l h) <= x_star) ->
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    residual_composite (X N (layers N)) <= (2 * gamma_star * B / sqrt (d_qk N)) ^ (((3 ^ (layers N)) - 1) / 2) *
      (residual_composite (X N 0%nat)) ^ (3 ^ (layers N)).

(** own:consensus-derivative (proved): all_l(linear_gap(l) <= sum_h(norm(W[l, h], 2)*tanh(consensus_shift(P[l,
      h])/4))*diameter(X[l], 2))
    given mask == any
    given positions == any
    given softcap == any
    given qk_norm == any
    given layernorm == none
    given mlp == none
    given skip == 0 *)
Definition statement_own_consensus_derivative : Prop :=
  forall (N : scored),
    proper N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    forall l, (l < (layers N))%nat -> linear_gap N l <= sum (heads N) (fun h => norm_2 (W N l h) * tanh
      (consensus_shift N l h / 4)) * diameter (scored_X N l) p_2.

(** own:consensus-rate (proved): all_p(diameter(X[L], p) <= prod_l(sum_h(operator_norm(W[l, h], p)*(dobrushin(P0[l, h])
      + 2*tanh(consensus_shift(P[l, h])/4))))*diameter(X[0], p))
    given mask == any
    given positions == any
    given softcap == any
    given qk_norm == any
    given layernorm == none
    given mlp == none
    given skip == 0 *)
Definition statement_own_consensus_rate : Prop :=
  forall (N : scored),
    proper N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    forall p : exponent, diameter (scored_X N (layers N)) p <= prodf (layers N) (fun l => sum (heads N) (fun h =>
      operator_norm (W N l h) p * (dobrushin (scored_P0 N l h) + 2 * tanh (consensus_shift N l h / 4)))) * diameter
      (scored_X N 0%nat) p.

(** own:consensus-second (proved): first_gap(X[L]) >= prod_l(diagonal(P0[l, 0], 1)*exp(-consensus_shift(P[l,
      0]))*least_singular(W[l, 0]))*first_gap(X[0]) and first_gap(X[L]) <= prod_l(diagonal(P0[l, 0],
      1)*exp(consensus_shift(P[l, 0]))*norm(W[l, 0], 2))*first_gap(X[0])
    given mask == causal
    given n >= 2
    given H == 1
    given positions == any
    given softcap == any
    given qk_norm == any
    given layernorm == none
    given mlp == none
    given skip == 0 *)
Definition statement_own_consensus_second : Prop :=
  forall (N : scored),
    proper N ->
    mask_causal N ->
    ((tokens N) >= 2)%nat ->
    ((heads N) = 1)%nat ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    (first_gap (scored_X N (layers N)) >= prodf (layers N) (fun l => diagonal (scored_P0 N l 0%nat) 1%nat * exp (-
      consensus_shift N l 0%nat) * least_singular (W N l 0%nat)) * first_gap (scored_X N 0%nat)) /\ (first_gap
      (scored_X N (layers N)) <= prodf (layers N) (fun l => diagonal (scored_P0 N l 0%nat) 1%nat * exp (consensus_shift
      N l 0%nat) * norm_2 (W N l 0%nat)) * first_gap (scored_X N 0%nat)).

(** own:consensus-spectrum (proved): all_l(all_h(abs(sum_i(diagonal(P0[l, h], i)) - 1) <= (n - 1)*second_modulus(P0[l,
      h]) and second_modulus(P0[l, h]) <= dobrushin(P0[l, h])))
    given mask == any
    given positions == any
    given softcap == any
    given qk_norm == any
    given layernorm == none
    given mlp == none
    given skip == 0 *)
Definition statement_own_consensus_spectrum : Prop :=
  forall (N : scored),
    proper N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    forall l, (l < (layers N))%nat -> forall h, (h < (heads N))%nat -> (Rabs (sum (tokens N) (fun i => diagonal
      (scored_P0 N l h) i) - 1) <= (INR (tokens N) - 1) * second_modulus (scored_P0 N l h)) /\ (second_modulus
      (scored_P0 N l h) <= dobrushin (scored_P0 N l h)).

(** own:contranorm (proved): erank(sigma) < erank_after(sigma, s)
    given s > 0
    given bottom(sigma) > 0
    given bottom(sigma) < top(sigma)
    given 1 + (1 - 2*top(sigma)**2)*s >= 0 *)
Definition statement_own_contranorm : Prop :=
  forall (m : nat) (sigma : vector m) (s : R),
    (0 < m)%nat ->
    s > 0 ->
    bottom sigma > 0 ->
    bottom sigma < top sigma ->
    1 + (1 - 2 * (top sigma) ^ 2) * s >= 0 ->
    erank sigma < erank_after sigma s.

(** own:diameter (proved): all_p(diameter(X[L], p) <= recursion(b, diameter(X[0], p), sum_h(operator_norm(W[l, h],
      p)*b*tanh(form_norm(W_QK[l, h], p)*b**2/(4*sqrt(d_qk))))))
    given mask == padding
    given layernorm == none
    given mlp == none
    given skip == 0 *)
Definition statement_own_diameter : Prop :=
  forall (N : network),
    proper N ->
    mask_padding N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    forall p : exponent, diameter (X N (layers N)) p <= recursion (layers N) (diameter (X N 0%nat) p) (fun l b => sum
      (heads N) (fun h => operator_norm (W N l h) p * b * tanh (form_norm (W_QK N l h) p * b ^ 2 / (4 * sqrt (d_qk
      N))))).

(** own:diameter-cubic (proved): all_p(diameter(X[L], p) <= (omega/(4*sqrt(d_qk)))**((3**L - 1)/2)*diameter(X[0],
      p)**(3**L))
    given mask == padding
    given layernorm == none
    given mlp == none
    given skip == 0
    where omega = max_l(sum_h(operator_norm(W[l, h], p)*form_norm(W_QK[l, h], p))) *)
Definition statement_own_diameter_cubic : Prop :=
  forall (N : network),
    proper N ->
    mask_padding N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    forall p : exponent, diameter (X N (layers N)) p <= (largest (layers N) (fun l => sum (heads N) (fun h =>
      operator_norm (W N l h) p * form_norm (W_QK N l h) p)) / (4 * sqrt (d_qk N))) ^ (((3 ^ (layers N)) - 1) / 2) *
      (diameter (X N 0%nat) p) ^ (3 ^ (layers N)).

(** own:dispersion (proved): largest_share(c) <= exp(osc(c))/(exp(osc(c)) + count(c) - 1) and 1/(1 + (count(c) -
      1)*exp(osc(c))) <= least_share(c) *)
Definition statement_own_dispersion : Prop :=
  forall (m : nat) (c : vector m),
    (0 < m)%nat ->
    (largest_share c <= exp (osc c) / (exp (osc c) + INR (count c) - 1)) /\ (1 / (1 + (INR (count c) - 1) * exp (osc
      c)) <= least_share c).

(** own:entropy-order (proved): sigma*sqrt(T*(T - 1))*beta/(1 + (T - 1)*beta) <= entropy_floor(T, sigma) and
      entropy_floor(T, sigma) <= (T - 1)*beta*(1 + sigma*sqrt(T/(T - 1)))
    given T >= 2
    given sigma > 0
    where beta = exp(-sigma*sqrt(T/(T - 1))) *)
Definition statement_own_entropy_order : Prop :=
  forall (T sigma : R),
    let beta := exp (- sigma * sqrt (T / (T - 1))) in
    T >= 2 ->
    sigma > 0 ->
    (sigma * sqrt (T * (T - 1)) * beta / (1 + (T - 1) * beta) <= entropy_floor T sigma) /\ (entropy_floor T sigma <= (T
      - 1) * beta * (1 + sigma * sqrt (T / (T - 1)))).

(** own:escape (proved): cap_fall(X, w, beta) <= sqrt(1 - cap_height(X, w)**2)*kappa/(1 + kappa)
    given m >= 1
    given m <= n
    given cap_height(X, w) <= cap_least(X, w, m)
    given cap_height(X, w) >= 0
    given beta >= 0
    where kappa = (n - m)*exp(-beta*outer_gap(X, m)) *)
Definition statement_own_escape : Prop :=
  forall (n d : nat) (X : matrix n d) (w : vector d) (beta : R) (m : nat),
    (0 < n)%nat ->
    (0 < d)%nat ->
    (forall i, (i < n)%nat -> 0 < l2 d (X i)) ->
    0 < l2 d w ->
    let kappa := (INR n - INR m) * exp (- beta * outer_gap X m) in
    (m >= 1)%nat ->
    (m <= n)%nat ->
    cap_height X w <= cap_least X w m ->
    cap_height X w >= 0 ->
    beta >= 0 ->
    cap_fall X w beta <= sqrt (1 - (cap_height X w) ^ 2) * kappa / (1 + kappa).

(** own:flow-one-cluster (proved): climb(lam, B, x, m) >= off_axis(x)*(m*first_value(lam) - s*(first_value(lam) -
      least_value(lam)))/(m + s)
    given first_is_largest(lam)
    given m > 0
    given s*(first_value(lam) - least_value(lam)) < m*first_value(lam)
    where s = exp(2*form_size(B)) *)
Definition statement_own_flow_one_cluster : Prop :=
  forall (d : nat) (lam : vector d) (B : matrix d d) (x : vector d) (m : R),
    (0 < d)%nat ->
    0 < l2 d x ->
    let s := exp (2 * form_size B) in
    first_is_largest lam ->
    m > 0 ->
    s * (first_value lam - least_value lam) < m * first_value lam ->
    climb lam B x m >= off_axis x * (m * first_value lam - s * (first_value lam - least_value lam)) / (m + s).

(** own:flow-second-value (proved): tilting(lam, B, x, m) >= (m*first_value(lam) - s*(first_value(lam) -
      second_value(lam)))/(m + s)
    given first_value(x) < 0
    given first_value(lam) >= second_value(lam)
    given first_value(lam) >= 0
    given m > 0
    where s = exp(2*form_size(B)) *)
Definition statement_own_flow_second_value : Prop :=
  forall (d : nat) (lam : vector d) (B : matrix d d) (x : vector d) (m : R),
    (2 <= d)%nat ->
    0 < l2 d x ->
    let s := exp (2 * form_size B) in
    first_value x < 0 ->
    first_value lam >= second_value lam ->
    first_value lam >= 0 ->
    m > 0 ->
    tilting lam B x m >= (m * first_value lam - s * (first_value lam - second_value lam)) / (m + s).

(** own:flow-step (proved): closing(C, beta) >= 2*rho*(1 - alpha)*min((1 + alpha)/(1 + rho), (1 + (n - 1)*alpha)/(1 +
      (n - 1)*rho))
    given cosines(C)
    given alpha >= 0
    given beta >= 0
    where alpha = least_cosine(C)
    where rho = exp(-beta*(1 - alpha)) *)
Definition statement_own_flow_step : Prop :=
  forall (n : nat) (C : matrix n n) (beta : R),
    (0 < n)%nat ->
    let alpha := least_cosine C in
    let rho := exp (- beta * (1 - alpha)) in
    cosines C ->
    alpha >= 0 ->
    beta >= 0 ->
    closing C beta >= 2 * rho * (1 - alpha) * Rmin ((1 + alpha) / (1 + rho)) ((1 + (INR n - 1) * alpha) / (1 + (INR n -
      1) * rho)).

(** own:flow-step-odd (proved): closing(C, beta) >= 2*rho*(1 - alpha)*min((1 + alpha)*(n**2*(1 + rho) + 1 -
      rho)/(n**2*(1 + rho)**2 - (1 - rho)**2), (n*(1 + alpha) - (1 - alpha))/(n*(1 + rho) - (1 - rho)))
    given cosines(C)
    given n >= 3
    given n == 2*floor(n/2) + 1
    given alpha >= rho
    given alpha < 1
    given beta >= 0
    where alpha = least_cosine(C)
    where rho = exp(-beta*(1 - alpha)) *)
Definition statement_own_flow_step_odd : Prop :=
  forall (n : nat) (C : matrix n n) (beta : R),
    (0 < n)%nat ->
    let alpha := least_cosine C in
    let rho := exp (- beta * (1 - alpha)) in
    cosines C ->
    (n >= 3)%nat ->
    (n = ((2 * (n / 2)) + 1))%nat ->
    alpha >= rho ->
    alpha < 1 ->
    beta >= 0 ->
    closing C beta >= 2 * rho * (1 - alpha) * Rmin ((1 + alpha) * ((INR n) ^ 2 * (1 + rho) + 1 - rho) / ((INR n) ^ 2 *
      (1 + rho) ^ 2 - (1 - rho) ^ 2)) ((INR n * (1 + alpha) - (1 - alpha)) / (INR n * (1 + rho) - (1 - rho))).

(** own:flow-step-usa (proved): closing_usa(C, beta) >= 2*exp(beta*alpha)*(1 - alpha)*(1 + (n - 1)*alpha)/n
    given cosines(C)
    given alpha >= 0
    given beta >= 0
    where alpha = least_cosine(C) *)
Definition statement_own_flow_step_usa : Prop :=
  forall (n : nat) (C : matrix n n) (beta : R),
    (0 < n)%nat ->
    let alpha := least_cosine C in
    cosines C ->
    alpha >= 0 ->
    beta >= 0 ->
    closing_usa C beta >= 2 * exp (beta * alpha) * (1 - alpha) * (1 + (INR n - 1) * alpha) / INR n.

(** own:flow-subspace (proved): rise(lam, c, x, m) >= (m + 1)*exp(0 - abs(c)*largest_size(lam))*pace(lam, c, x, m)**2
    given m > 0 *)
Definition statement_own_flow_subspace : Prop :=
  forall (d : nat) (lam : vector d) (c : R) (x : vector d) (m : R),
    (0 < d)%nat ->
    0 < l2 d x ->
    m > 0 ->
    rise lam c x m >= (m + 1) * exp (0 - Rabs c * largest_size lam) * (pace lam c x m) ^ 2.

(** own:frozen-sign (proved): far_slope(w, b) <= 33/25 and near_slope(w, eps) >= 8/5
    given w > 0
    given (b + 1)*w <= 1
    given b >= 1
    given eps > 0
    given 5*eps <= 2 *)
Definition statement_own_frozen_sign : Prop :=
  forall (w b eps : R),
    w > 0 ->
    (b + 1) * w <= 1 ->
    b >= 1 ->
    eps > 0 ->
    5 * eps <= 2 ->
    (far_slope w b <= 33 / 25) /\ (near_slope w eps >= 8 / 5).

(** own:full-rank (proved): mu(X[L]) <= sqrt((n - 1)/2)*diameter(X[0], 2)/height*(1 - height*least**r)**floor(L/r)
    given H == 1
    given mask == any
    given layernorm == sphere
    given bias == none
    given orthogonal_values()
    given self_loops()
    given n >= 2
    given quasi_strongly_connected()
    given n <= d
    given gram_height(X[0]) > 0
    given mlp == none
    given skip == 0
    where height = gram_height(X[0])
    where least = min_l(epsilon(P[l, 0])) *)
Definition statement_own_full_rank : Prop :=
  forall (N : network),
    proper N ->
    forall r, is_radius N r ->
    let height' := gram_height (X N 0%nat) in
    let least' := least (layers N) (fun l => epsilon N l 0%nat) in
    ((heads N) = 1)%nat ->
    layernorm_sphere N ->
    bias_none N ->
    orthogonal_values N ->
    self_loops N ->
    ((tokens N) >= 2)%nat ->
    quasi_strongly_connected N ->
    ((tokens N) <= (dim N))%nat ->
    gram_height (X N 0%nat) > 0 ->
    mlp_none N ->
    (skip_of N) = 0 ->
    mu (X N (layers N)) <= sqrt ((INR (tokens N) - 1) / 2) * diameter (X N 0%nat) p_2 / height' * (1 - height' * least'
      ^ r) ^ ((layers N) / r).

(** own:gamma-free (proved): residual(X[1], composite) <= sqrt(2*expc(eta)/d_qk*columns*rows)*residual(X[0],
      composite)**3
    given L == 1
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where eta = max_h(delta(P[0, h], composite))
    where columns = sum_h(q_max(P[0, h], composite)*norm(W_QK[0, h], 1)*norm(W[0, h], 1))
    where rows = sum_h(norm(W_QK[0, h], 1)*norm(W[0, h], inf)) *)
Definition statement_own_gamma_free : Prop :=
  forall (N : network),
    proper N ->
    forall center, are_centers N center ->
    let eta := largest (heads N) (fun h => delta_composite N center 0%nat h) in
    let columns := sum (heads N) (fun h => q_max_composite N center 0%nat h * norm_1 (W_QK N 0%nat h) * norm_1 (W N
      0%nat h)) in
    let rows := sum (heads N) (fun h => norm_1 (W_QK N 0%nat h) * norm_inf (W N 0%nat h)) in
    ((layers N) = 1)%nat ->
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    residual_composite (X N 1%nat) <= sqrt (2 * expc eta / (d_qk N) * columns * rows) * (residual_composite (X N
      0%nat)) ^ 3.

(** own:gamma-free-one-head (proved): residual(X[1], composite) <= sqrt(2*expc(eta)*tanhc(eta/4)*q_max(P[0, 0],
      composite)/d_qk)*norm(W_QK[0, 0], 1)*norm(W[0, 0], composite)*residual(X[0], composite)**3
    given H == 1
    given L == 1
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where eta = delta(P[0, 0], composite) *)
Definition statement_own_gamma_free_one_head : Prop :=
  forall (N : network),
    proper N ->
    forall center, are_centers N center ->
    let eta := delta_composite N center 0%nat 0%nat in
    ((heads N) = 1)%nat ->
    ((layers N) = 1)%nat ->
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    residual_composite (X N 1%nat) <= sqrt (2 * expc eta * tanhc (eta / 4) * q_max_composite N center 0%nat 0%nat /
      (d_qk N)) * norm_1 (W_QK N 0%nat 0%nat) * norm_composite (W N 0%nat 0%nat) * (residual_composite (X N 0%nat)) ^ 3.

(** own:gamma-free-sharp (proved): residual(X[1], composite) <= sqrt(kappa*(32/27*kappa + 2*(kappa - 1))*q_max(P[0, 0],
      composite)/d_qk)*norm(W_QK[0, 0], 1)*norm(W[0, 0], composite)*residual(X[0], composite)**3
    given H == 1
    given L == 1
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where kappa = expc(delta(P[0, 0], composite)) *)
Definition statement_own_gamma_free_sharp : Prop :=
  forall (N : network),
    proper N ->
    forall center, are_centers N center ->
    let kappa := expc (delta_composite N center 0%nat 0%nat) in
    ((heads N) = 1)%nat ->
    ((layers N) = 1)%nat ->
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    residual_composite (X N 1%nat) <= sqrt (kappa * (32 / 27 * kappa + 2 * (kappa - 1)) * q_max_composite N center
      0%nat 0%nat / (d_qk N)) * norm_1 (W_QK N 0%nat 0%nat) * norm_composite (W N 0%nat 0%nat) * (residual_composite (X
      N 0%nat)) ^ 3.

(** own:gaussian-length (proved): gaussian_tail(k, t) <= exp(-t**2/2)
    given k > 0
    given t >= 0 *)
Definition statement_own_gaussian_length : Prop :=
  forall (k : nat) (t : R),
    (k > 0)%nat ->
    t >= 0 ->
    gaussian_tail k t <= exp (- t ^ 2 / 2).

(** own:hardmax-steps (proved): left_over(g) + total(g) >= 1 and left_over(g) <= exp(-total(g))
    given proper_steps(g) *)
Definition statement_own_hardmax_steps : Prop :=
  forall (t : nat) (g : vector t),
    (0 < t)%nat ->
    proper_steps g ->
    (left_over g + total g >= 1) /\ (left_over g <= exp (- total g)).

(** own:hemisphere (proved): section(X[L]) <= (1 - height()*least**r)**floor(L/r)*section(X[0]) and mu(X[L]) <= sqrt((n
      - 1)/2)*(1 - height()*least**r)**floor(L/r)*section(X[0])
    given H == 1
    given mask == any
    given layernorm == sphere
    given bias == none
    given orthogonal_values()
    given self_loops()
    given n >= 2
    given quasi_strongly_connected()
    given height() > 0
    given mlp == none
    given skip == 0
    where least = min_l(epsilon(P[l, 0])) *)
Definition statement_own_hemisphere : Prop :=
  forall (N : network),
    proper N ->
    forall r, is_radius N r ->
    let least' := least (layers N) (fun l => epsilon N l 0%nat) in
    ((heads N) = 1)%nat ->
    layernorm_sphere N ->
    bias_none N ->
    orthogonal_values N ->
    self_loops N ->
    ((tokens N) >= 2)%nat ->
    quasi_strongly_connected N ->
    height N > 0 ->
    mlp_none N ->
    (skip_of N) = 0 ->
    (section N (layers N) <= (1 - height N * least' ^ r) ^ ((layers N) / r) * section N 0%nat) /\ (mu (X N (layers N))
      <= sqrt ((INR (tokens N) - 1) / 2) * (1 - height N * least' ^ r) ^ ((layers N) / r) * section N 0%nat).

(** own:influence (proved): all_i(influence(i) <= norm(W[0, 0], 2)*(1 + a*longest(X[0])*diameter(X[0],
      2))*last_share(i) + is_last(i)*(abs(skip) + norm(W[0, 0], 2)*a*diameter(X[0], 2)**2/4))
    given mask == causal
    given H == 1
    given query_bias == none
    given layernorm == none
    given mlp == none
    where a = norm(W_QK[0, 0], 2)/sqrt(d_qk) *)
Definition statement_own_influence : Prop :=
  forall (N : network),
    proper N ->
    let a := norm_2 (W_QK N 0%nat 0%nat) / sqrt (d_qk N) in
    mask_causal N ->
    ((heads N) = 1)%nat ->
    query_bias_none N ->
    layernorm_none N ->
    mlp_none N ->
    forall i, (i < (tokens N))%nat -> influence N i <= norm_2 (W N 0%nat 0%nat) * (1 + a * longest (X N 0%nat) *
      diameter (X N 0%nat) p_2) * last_share N i + is_last N i * (Rabs (skip_of N) + norm_2 (W N 0%nat 0%nat) * a *
      (diameter (X N 0%nat) p_2) ^ 2 / 4).

(** own:l2-lipschitz (proved): distance_jacobian_norm(Z) <= n**(1/4) + 2*phi + 2*sqrt(phi*min((n - 1)*tau,
      sqrt(n)*log(n)/2))
    where phi = inverse_phi(n - 1)
    where tau = inverse_phi(1) *)
Definition statement_own_l2_lipschitz : Prop :=
  forall (n d : nat) (Z : matrix n d),
    (0 < n)%nat ->
    (0 < d)%nat ->
    let phi := inverse_phi (INR n - 1) in
    let tau := inverse_phi 1 in
    distance_jacobian_norm Z <= power (INR n) (1 / 4) + 2 * phi + 2 * sqrt (phi * Rmin ((INR n - 1) * tau) (sqrt (INR
      n) * ln (INR n) / 2)).

(** own:l2-lower (proved): crowd_gain(m) >= m/16 + 4/9
    given m >= 4 *)
Definition statement_own_l2_lower : Prop :=
  forall (m : R),
    m >= 4 ->
    crowd_gain m >= m / 16 + 4 / 9.

(** own:lambda-skip-lower (proved): diameter(X[L], 2) >= diameter(X[0], 2)*prod_l(abs(skip) - sum_h(norm(W[l, h],
      2)*tanh(norm(W_QK[l, h], 2)*diameter(X[l], 2)**2/(4*sqrt(d_qk)))))
    given mask == padding
    given all_l(sum_h(norm(W[l, h], 2)*tanh(norm(W_QK[l, h], 2)*diameter(X[l], 2)**2/(4*sqrt(d_qk)))) < abs(skip))
    given layernorm == none
    given mlp == none *)
Definition statement_own_lambda_skip_lower : Prop :=
  forall (N : network),
    proper N ->
    mask_padding N ->
    (forall l, (l < (layers N))%nat -> sum (heads N) (fun h => norm_2 (W N l h) * tanh (norm_2 (W_QK N l h) * (diameter
      (X N l) p_2) ^ 2 / (4 * sqrt (d_qk N)))) < Rabs (skip_of N)) ->
    layernorm_none N ->
    mlp_none N ->
    diameter (X N (layers N)) p_2 >= diameter (X N 0%nat) p_2 * prodf (layers N) (fun l => Rabs (skip_of N) - sum
      (heads N) (fun h => norm_2 (W N l h) * tanh (norm_2 (W_QK N l h) * (diameter (X N l) p_2) ^ 2 / (4 * sqrt (d_qk
      N))))).

(** own:lambda-skip-sphere (proved): all_l(diameter(X[l + 1], 2) >= diameter(X[l], 2)*(abs(skip) - norm(W[l, 0],
      2)*tanh(norm(W_QK[l, 0], 2)*diameter(X[l], 2)**2/(4*sqrt(d_qk))))/(abs(skip) + norm(W[l, 0], 2)))
    given layernorm == sphere
    given H == 1
    given bias == none
    given abs(skip) > 0
    given all_l(2*norm(W[l, 0], 2) <= abs(skip))
    given mask == none
    given mlp == none *)
Definition statement_own_lambda_skip_sphere : Prop :=
  forall (N : network),
    proper N ->
    layernorm_sphere N ->
    ((heads N) = 1)%nat ->
    bias_none N ->
    Rabs (skip_of N) > 0 ->
    (forall l, (l < (layers N))%nat -> 2 * norm_2 (W N l 0%nat) <= Rabs (skip_of N)) ->
    mask_none N ->
    mlp_none N ->
    forall l, (l < (layers N))%nat -> diameter (X N (l + 1)%nat) p_2 >= diameter (X N l) p_2 * (Rabs (skip_of N) -
      norm_2 (W N l 0%nat) * tanh (norm_2 (W_QK N l 0%nat) * (diameter (X N l) p_2) ^ 2 / (4 * sqrt (d_qk N)))) / (Rabs
      (skip_of N) + norm_2 (W N l 0%nat)).

(** own:lambda-skip-upper (proved): diameter(X[L], 2) <= diameter(X[0], 2)*prod_l(abs(skip) + sum_h(norm(W[l, h],
      2)*tanh(norm(W_QK[l, h], 2)*diameter(X[l], 2)**2/(4*sqrt(d_qk)))))
    given mask == padding
    given layernorm == none
    given mlp == none *)
Definition statement_own_lambda_skip_upper : Prop :=
  forall (N : network),
    proper N ->
    mask_padding N ->
    layernorm_none N ->
    mlp_none N ->
    diameter (X N (layers N)) p_2 <= diameter (X N 0%nat) p_2 * prodf (layers N) (fun l => Rabs (skip_of N) + sum
      (heads N) (fun h => norm_2 (W N l h) * tanh (norm_2 (W_QK N l h) * (diameter (X N l) p_2) ^ 2 / (4 * sqrt (d_qk
      N))))).

(** own:late (proved): 1 - gamma <= exp(-(m + 1)*(t - s)/(m - 1 + exp(beta/2)))/2
    given gamma >= 0
    given gamma < 1
    given beta >= 0
    given m >= 2
    given t >= s
    where t = meeting_time(gamma, beta, m)
    where s = (exp(beta) + m - 1)/3 *)
Definition statement_own_late : Prop :=
  forall (gamma beta m : R),
    let t := meeting_time gamma beta m in
    let s := (exp beta + m - 1) / 3 in
    gamma >= 0 ->
    gamma < 1 ->
    beta >= 0 ->
    m >= 2 ->
    t >= s ->
    1 - gamma <= exp (- (m + 1) * (t - s) / (m - 1 + exp (beta / 2))) / 2.

(** own:layernorm (proved): normed_mu(Y)**2 <= (row_mu(Y)**2 - length_mu(Y)**2)/(r_1*r_2)
    given n >= 2
    given r_1 > 0
    where r_1 = least_length(Y, 0)
    where r_2 = least_length(Y, 1) *)
Definition statement_own_layernorm : Prop :=
  forall (n d : nat) (Y : matrix n d),
    (0 < n)%nat ->
    (0 < d)%nat ->
    let r_1 := least_length Y 0%nat in
    let r_2 := least_length Y 1%nat in
    (n >= 2)%nat ->
    r_1 > 0 ->
    (normed_mu Y) ^ 2 <= ((row_mu Y) ^ 2 - (length_mu Y) ^ 2) / (r_1 * r_2).

(** own:lipschitz (proved): jacobian_norm() <= norm(W[0, 0], 2)*(sqrt(c*(1 + (a*R*diameter(X[0], 2)/2)**2)) +
      a*diameter(X[0], 2)**2/4)
    given H == 1
    given query_bias == none
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where a = norm(W_QK[0, 0], 2)/sqrt(d_qk)
    where R = longest(X[0])
    where c = norm(P[0, 0], 1) *)
Definition statement_own_lipschitz : Prop :=
  forall (N : network),
    proper N ->
    let a := norm_2 (W_QK N 0%nat 0%nat) / sqrt (d_qk N) in
    let R := longest (X N 0%nat) in
    let c := norm_1 (P N 0%nat 0%nat) in
    ((heads N) = 1)%nat ->
    query_bias_none N ->
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    jacobian_norm N <= norm_2 (W N 0%nat 0%nat) * (sqrt (c * (1 + (a * R * diameter (X N 0%nat) p_2 / 2) ^ 2)) + a *
      (diameter (X N 0%nat) p_2) ^ 2 / 4).

(** own:low-rank-every-input (proved): some_unreachable(X)
    given n >= 2
    given dependent(X) *)
Definition statement_own_low_rank_every_input : Prop :=
  forall (n d : nat) (X : matrix n d),
    (0 < n)%nat ->
    (0 < d)%nat ->
    (n >= 2)%nat ->
    dependent X ->
    some_unreachable X.

(** own:mask-rate (proved): mask_trace(G) - 1 <= (n - 1)*mask_second(G)
    given n >= 2
    given zero_one(G) *)
Definition statement_own_mask_rate : Prop :=
  forall (n : nat) (G : matrix n n),
    (n >= 2)%nat ->
    zero_one G ->
    mask_trace G - 1 <= (INR n - 1) * mask_second G.

(** own:mask-rate-symmetric (proved): returns(K) - 1 <= (n - 1)*weights_second(K)**2
    given n >= 2
    given symmetric_weights(K) *)
Definition statement_own_mask_rate_symmetric : Prop :=
  forall (n : nat) (K : matrix n n),
    (n >= 2)%nat ->
    symmetric_weights K ->
    returns K - 1 <= (INR n - 1) * (weights_second K) ^ 2.

(** own:mean-field-rate (proved): (1 - v)/(1 + s*v) <= exp(-a*log(s*v))
    given v > 0
    given v <= 1
    given tau > 0
    given a >= 0
    given a <= 1
    where s = exp(2*tau) - 1 *)
Definition statement_own_mean_field_rate : Prop :=
  forall (v tau a : R),
    let s := exp (2 * tau) - 1 in
    v > 0 ->
    v <= 1 ->
    tau > 0 ->
    a >= 0 ->
    a <= 1 ->
    (1 - v) / (1 + s * v) <= exp (- a * ln (s * v)).

(** own:merge-time (proved): pair_time(beta, u, v) <= 1/(2*beta*(1 - max(u**2, v**2))) + (v - u)*exp(-beta*(1 -
      u))/(2*(1 - max(u**2, v**2))) and pair_time(beta, u, v) <= (v - u)*(1 + exp(-beta*(1 - u)))/(2*(1 - max(u**2,
      v**2)))
    given beta > 0
    given u > -1
    given v > u
    given v < 1 *)
Definition statement_own_merge_time : Prop :=
  forall (beta u v : R),
    beta > 0 ->
    u > - 1 ->
    v > u ->
    v < 1 ->
    (pair_time beta u v <= 1 / (2 * beta * (1 - Rmax (u ^ 2) (v ^ 2))) + (v - u) * exp (- beta * (1 - u)) / (2 * (1 -
      Rmax (u ^ 2) (v ^ 2)))) /\ (pair_time beta u v <= (v - u) * (1 + exp (- beta * (1 - u))) / (2 * (1 - Rmax (u ^ 2)
      (v ^ 2)))).

(** own:no-stable-orthogonal (proved): collapsing_neighbours(X)
    given orthogonal_rest(X, W_V, allowed) *)
Definition statement_own_no_stable_orthogonal : Prop :=
  forall (n d : nat) (X : matrix n d) (W_V : matrix d d) (allowed : matrix n n),
    (0 < n)%nat ->
    (0 < d)%nat ->
    is_mask allowed ->
    orthogonal_rest X W_V allowed ->
    collapsing_neighbours X.

(** own:off-grid (proved): C*exp(C*eta)*eta*(eta + 1)*eta < eta/2 - eta**3/48
    given C >= 1
    given eta > 0
    given 8*C*exp(C)*eta <= 1 *)
Definition statement_own_off_grid : Prop :=
  forall (C eta : R),
    C >= 1 ->
    eta > 0 ->
    8 * C * exp C * eta <= 1 ->
    C * exp (C * eta) * eta * (eta + 1) * eta < eta / 2 - eta ^ 3 / 48.

(** own:order (proved): all_l(least_singular(W[l, 0])*q_min(P[l, 0], mean)/sqrt(d_qk)*(definiteness(W_QK[l, 0])/min(n -
      1, d)*sqrt(q_min(P[l, 0], mean)/q_max(P[l, 0], mean)) - (exp(delta(P[l, 0], mean)) - 1)*norm(W_QK[l, 0],
      2))*mu(X[l])**3 <= mu(X[l + 1])) and all_l(mu(X[l + 1]) <= norm(W[l, 0], 2)*q_max(P[l, 0], mean)*exp(delta(P[l,
      0], mean))*norm(W_QK[l, 0], 2)/sqrt(d_qk)*mu(X[l])**3)
    given H == 1
    given n >= 2
    given all_l(definite(W_QK[l, 0]))
    given all_l(definiteness(W_QK[l, 0])/min(n - 1, d)*sqrt(q_min(P[l, 0], mean)/q_max(P[l, 0], mean)) -
      (exp(delta(P[l, 0], mean)) - 1)*norm(W_QK[l, 0], 2) > 0)
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0 *)
Definition statement_own_order : Prop :=
  forall (N : network),
    proper N ->
    ((heads N) = 1)%nat ->
    ((tokens N) >= 2)%nat ->
    (forall l, (l < (layers N))%nat -> definite (W_QK N l 0%nat)) ->
    (forall l, (l < (layers N))%nat -> definiteness (W_QK N l 0%nat) / Rmin (INR (tokens N) - 1) (INR (dim N)) * sqrt
      (q_min_mean N l 0%nat / q_max_mean N l 0%nat) - (exp (delta_mean N l 0%nat) - 1) * norm_2 (W_QK N l 0%nat) > 0)
      ->
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    (forall l, (l < (layers N))%nat -> least_singular (W N l 0%nat) * q_min_mean N l 0%nat / sqrt (d_qk N) *
      (definiteness (W_QK N l 0%nat) / Rmin (INR (tokens N) - 1) (INR (dim N)) * sqrt (q_min_mean N l 0%nat /
      q_max_mean N l 0%nat) - (exp (delta_mean N l 0%nat) - 1) * norm_2 (W_QK N l 0%nat)) * (mu (X N l)) ^ 3 <= mu (X N
      (l + 1)%nat)) /\ (forall l, (l < (layers N))%nat -> mu (X N (l + 1)%nat) <= norm_2 (W N l 0%nat) * q_max_mean N l
      0%nat * exp (delta_mean N l 0%nat) * norm_2 (W_QK N l 0%nat) / sqrt (d_qk N) * (mu (X N l)) ^ 3).

(** own:position-bias (proved): all_i(tail(P, i + 1) <= (1 - (i + 1)*eps**reach)**floor(steps(P)/reach))
    given n >= 2
    given w >= 2
    given windowed(P, w)
    where eps = least_within(P, w)
    where reach = -floor(-(n - 1)/(w - 1)) *)
Definition statement_own_position_bias : Prop :=
  forall (t n : nat) (P : sequence t n) (w : nat),
    (0 < t)%nat ->
    (0 < n)%nat ->
    row_stochastic P ->
    let eps := least_within P w in
    let reach' := (((n - 1) + (w - 1) - 1) / (w - 1))%nat in
    (n >= 2)%nat ->
    (w >= 2)%nat ->
    windowed P w ->
    forall i, (i < n)%nat -> tail P (i + 1)%nat <= (1 - (INR i + 1) * eps ^ reach') ^ ((steps P) / reach').

(** own:position-bias-prefix (proved): all_i(tail(P, prefix + i) <= max(0, 1 - (prefix + i)*eps)**steps(P)) and
      prefix_floor(P, prefix) >= eps
    given prefix >= 1
    given prefix <= n
    given prefixed(P, prefix)
    where eps = least_prefixed(P, prefix) *)
Definition statement_own_position_bias_prefix : Prop :=
  forall (t n : nat) (P : sequence t n) (prefix : nat),
    (0 < t)%nat ->
    (0 < n)%nat ->
    row_stochastic P ->
    let eps := least_prefixed P prefix in
    (prefix >= 1)%nat ->
    (prefix <= n)%nat ->
    prefixed P prefix ->
    (forall i, (i < n)%nat -> tail P (prefix + i)%nat <= (Rmax 0 (1 - (INR prefix + INR i) * eps)) ^ (steps P)) /\
      (prefix_floor P prefix >= eps).

(** own:positions-diameter (proved): diameter(X[L], 2) <= prod_l(sum_h(norm(W[l, h], 2)*tanh((turned_range(P[l, h]) +
      position_range(P[l, h]))/4)))*diameter(X[0], 2)
    given mask == padding
    given positions == any
    given qk_norm == any
    given layernorm == none
    given mlp == none
    given skip == 0 *)
Definition statement_own_positions_diameter : Prop :=
  forall (N : placed),
    proper N ->
    mask_padding N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    diameter (scored_X N (layers N)) p_2 <= prodf (layers N) (fun l => sum (heads N) (fun h => norm_2 (W N l h) * tanh
      ((turned_range N l h + position_range N l h) / 4))) * diameter (scored_X N 0%nat) p_2.

(** own:pre-norm-depth (proved): diameter(X[L], 2) >= exp(-nu/(least_root(0) - nu) - nu/root_growth()*log(1 +
      root_growth()*L/(least_root(0) - nu)))*diameter(X[0], 2) and diameter(X[L], 2) <= exp(nu/least_root(0) +
      nu/root_growth()*log(1 + root_growth()*L/least_root(0)))*diameter(X[0], 2)
    given layernorm == rms
    given norm_at == before
    given skip == 1
    given L >= 2
    given mask == any
    given positions == any
    given softcap == any
    given qk_norm == any
    given root_growth() > 0
    given nu < least_root(0)
    given mlp == none
    where nu = max_l(sum_h(gained_norm(W[l, h])*dobrushin(P[l, h]))) *)
Definition statement_own_pre_norm_depth : Prop :=
  forall (N : normed),
    proper N ->
    normable N ->
    let nu := largest (layers N) (fun l => sum (heads N) (fun h => gained_norm N l h * dobrushin (normed_P N l h))) in
    layernorm_rms N ->
    norm_at_before N ->
    (skip_of N) = 1 ->
    ((layers N) >= 2)%nat ->
    root_growth N > 0 ->
    nu < least_root N 0%nat ->
    mlp_none N ->
    (diameter (normed_X N (layers N)) p_2 >= exp (- nu / (least_root N 0%nat - nu) - nu / root_growth N * ln (1 +
      root_growth N * INR (layers N) / (least_root N 0%nat - nu))) * diameter (normed_X N 0%nat) p_2) /\ (diameter
      (normed_X N (layers N)) p_2 <= exp (nu / least_root N 0%nat + nu / root_growth N * ln (1 + root_growth N * INR
      (layers N) / least_root N 0%nat)) * diameter (normed_X N 0%nat) p_2).

(** own:pre-norm-diameter (proved): diameter(X[L], 2) >= prod_l(abs(skip) - sum_h(gained_norm(W[l, h])*dobrushin(P[l,
      h]))/least_root(l))*diameter(X[0], 2) and diameter(X[L], 2) <= prod_l(abs(skip) + sum_h(gained_norm(W[l,
      h])*dobrushin(P[l, h]))/least_root(l))*diameter(X[0], 2)
    given layernorm == rms
    given norm_at == before
    given mask == any
    given positions == any
    given softcap == any
    given qk_norm == any
    given all_l(sum_h(gained_norm(W[l, h])*dobrushin(P[l, h]))/least_root(l) < abs(skip))
    given mlp == none *)
Definition statement_own_pre_norm_diameter : Prop :=
  forall (N : normed),
    proper N ->
    normable N ->
    layernorm_rms N ->
    norm_at_before N ->
    (forall l, (l < (layers N))%nat -> sum (heads N) (fun h => gained_norm N l h * dobrushin (normed_P N l h)) /
      least_root N l < Rabs (skip_of N)) ->
    mlp_none N ->
    (diameter (normed_X N (layers N)) p_2 >= prodf (layers N) (fun l => Rabs (skip_of N) - sum (heads N) (fun h =>
      gained_norm N l h * dobrushin (normed_P N l h)) / least_root N l) * diameter (normed_X N 0%nat) p_2) /\ (diameter
      (normed_X N (layers N)) p_2 <= prodf (layers N) (fun l => Rabs (skip_of N) + sum (heads N) (fun h => gained_norm
      N l h * dobrushin (normed_P N l h)) / least_root N l) * diameter (normed_X N 0%nat) p_2).

(** own:pre-norm-power (proved): across(X[L]) >= prod_l(1 + gained_norm(W[l, 0])*diagonal(P[l, 0],
      1)/largest_root(l))*across(X[0]) and across(X[L]) <= prod_l(1 + gained_norm(W[l, 0])*diagonal(P[l, 0],
      1)/least_root(l))*across(X[0])
    given layernorm == rms
    given norm_at == before
    given skip == 1
    given H == 1
    given n >= 2
    given mask == causal
    given bias == none
    given positions == any
    given softcap == any
    given qk_norm == any
    given scaling_values()
    given mlp == none *)
Definition statement_own_pre_norm_power : Prop :=
  forall (N : normed),
    proper N ->
    normable N ->
    layernorm_rms N ->
    norm_at_before N ->
    (skip_of N) = 1 ->
    ((heads N) = 1)%nat ->
    ((tokens N) >= 2)%nat ->
    mask_causal N ->
    bias_none N ->
    scaling_values N ->
    mlp_none N ->
    (across (normed_X N (layers N)) >= prodf (layers N) (fun l => 1 + gained_norm N l 0%nat * diagonal (normed_P N l
      0%nat) 1%nat / largest_root N l) * across (normed_X N 0%nat)) /\ (across (normed_X N (layers N)) <= prodf (layers
      N) (fun l => 1 + gained_norm N l 0%nat * diagonal (normed_P N l 0%nat) 1%nat / least_root N l) * across (normed_X
      N 0%nat)).

(** own:pre-norm-symmetric (proved): narrowing(lam, x, p)*forward(lam, x, p) <= 1 + p*largest_rest(lam)/root_square(x)
      and narrowing(lam, x, p)*forward(lam, x, p) >= 1 + p*least_rest(lam)/root_square(x)
    given ahead(x)
    given least_value(lam) >= 0
    given p >= 0
    given p <= 1 *)
Definition statement_own_pre_norm_symmetric : Prop :=
  forall (d : nat) (lam x : vector d) (p : R),
    (2 <= d)%nat ->
    ahead x ->
    least_value lam >= 0 ->
    p >= 0 ->
    p <= 1 ->
    (narrowing lam x p * forward lam x p <= 1 + p * largest_rest lam / root_square x) /\ (narrowing lam x p * forward
      lam x p >= 1 + p * least_rest lam / root_square x).

(** own:received (proved): received(Z) <= sqrt(n) *)
Definition statement_own_received : Prop :=
  forall (n d : nat) (Z : matrix n d),
    (0 < n)%nat ->
    (0 < d)%nat ->
    received Z <= sqrt (INR n).

(** own:relative-shares (proved): all_l(all_h(diagonal(P0[l, h], n - 1) < diagonal(P0[l, h], 1)))
    given mask == causal
    given positions == relative
    given n >= 3
    given layernorm == none
    given mlp == none
    given skip == 0 *)
Definition statement_own_relative_shares : Prop :=
  forall (N : scored),
    proper N ->
    mask_causal N ->
    positions_relative N ->
    ((tokens N) >= 3)%nat ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    forall l, (l < (layers N))%nat -> forall h, (h < (heads N))%nat -> diagonal (scored_P0 N l h) ((tokens N) - 1)%nat
      < diagonal (scored_P0 N l h) 1%nat.

(** own:repeat (proved): repeat_gap(X[1]) <= norm(W[0, 0], 2)*diameter(X[0], 2)*p*(1 - p)/(1 + p) and repeat_gap(X[1])
      <= (3 - 2*sqrt(2))*norm(W[0, 0], 2)*diameter(X[0], 2)
    given mask == causal
    given H == 1
    given L == 1
    given layernorm == none
    given mlp == none
    given skip == 0
    where p = last_share(n - 1) *)
Definition statement_own_repeat : Prop :=
  forall (N : network),
    proper N ->
    let p := last_share N ((tokens N) - 1)%nat in
    mask_causal N ->
    ((heads N) = 1)%nat ->
    ((layers N) = 1)%nat ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    (repeat_gap N 1%nat <= norm_2 (W N 0%nat 0%nat) * diameter (X N 0%nat) p_2 * p * (1 - p) / (1 + p)) /\ (repeat_gap
      N 1%nat <= (3 - 2 * sqrt 2) * norm_2 (W N 0%nat 0%nat) * diameter (X N 0%nat) p_2).

(** own:residual-inf (proved): residual(X[L], inf) <= (omega/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0], inf)**(3**L)
    given mask == padding
    given layernorm == none
    given mlp == none
    given skip == 0
    where omega = max_l(sum_h(norm(W_QK[l, h], max)*norm(W[l, h], inf))) *)
Definition statement_own_residual_inf : Prop :=
  forall (N : network),
    proper N ->
    let omega := largest (layers N) (fun l => sum (heads N) (fun h => norm_max (W_QK N l h) * norm_inf (W N l h))) in
    mask_padding N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    residual_inf (X N (layers N)) <= (omega / sqrt (d_qk N)) ^ (((3 ^ (layers N)) - 1) / 2) * (residual_inf (X N
      0%nat)) ^ (3 ^ (layers N)).

(** own:second-token (proved): first_gap(X[L]) >= prod_l(second_least(l))*first_gap(X[0]) and first_gap(X[L]) <=
      prod_l(second_norm(l))*first_gap(X[0])
    given mask == causal
    given n >= 2
    given positions == any
    given softcap == any
    given qk_norm == any
    given layernorm == none
    given mlp == none
    given skip == 0 *)
Definition statement_own_second_token : Prop :=
  forall (N : scored),
    proper N ->
    mask_causal N ->
    ((tokens N) >= 2)%nat ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    (first_gap (scored_X N (layers N)) >= prodf (layers N) (fun l => second_least N l) * first_gap (scored_X N 0%nat))
      /\ (first_gap (scored_X N (layers N)) <= prodf (layers N) (fun l => second_norm N l) * first_gap (scored_X N
      0%nat)).

(** own:shrinking-values (proved): diameter(X[L], 2) <= s**(L**2)*(c*longest(X[0])**2)**L*diameter(X[0], 2)
    given mask == padding
    given positions == rotary
    given bias == none
    given query_bias == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where s = max_l(sum_h(norm(W[l, h], 2)))
    where c = max_l(max_h(lengthening(P[l, h]))) *)
Definition statement_own_shrinking_values : Prop :=
  forall (N : rotated),
    proper N ->
    let s := largest (layers N) (fun l => sum (heads N) (fun h => norm_2 (W N l h))) in
    let c := largest (layers N) (fun l => largest (heads N) (fun h => lengthening N l h)) in
    mask_padding N ->
    positions_rotary N ->
    bias_none N ->
    query_bias_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    diameter (scored_X N (layers N)) p_2 <= power s ((INR (layers N)) ^ 2) * (c * (longest (scored_X N 0%nat)) ^ 2) ^
      (layers N) * diameter (scored_X N 0%nat) p_2.

(** own:skip-lower (proved): diameter(X[L], 2) >= diameter(X[0], 2)/sqrt(1 + (2 - theta)/(1 -
      theta)**2*kappa*diameter(X[0], 2)**2*L)
    given skip == 1
    given mask == padding
    given theta < 1
    given layernorm == none
    given mlp == none
    where theta = max_l(sum_h(norm(W[l, h], 2)*tanh(norm(W_QK[l, h], 2)*diameter(X[l], 2)**2/(4*sqrt(d_qk)))))
    where kappa = max_l(sum_h(norm(W[l, h], 2)*norm(W_QK[l, h], 2)))/(4*sqrt(d_qk)) *)
Definition statement_own_skip_lower : Prop :=
  forall (N : network),
    proper N ->
    let theta := largest (layers N) (fun l => sum (heads N) (fun h => norm_2 (W N l h) * tanh (norm_2 (W_QK N l h) *
      (diameter (X N l) p_2) ^ 2 / (4 * sqrt (d_qk N))))) in
    let kappa := largest (layers N) (fun l => sum (heads N) (fun h => norm_2 (W N l h) * norm_2 (W_QK N l h))) / (4 *
      sqrt (d_qk N)) in
    (skip_of N) = 1 ->
    mask_padding N ->
    theta < 1 ->
    layernorm_none N ->
    mlp_none N ->
    diameter (X N (layers N)) p_2 >= diameter (X N 0%nat) p_2 / sqrt (1 + (2 - theta) / (1 - theta) ^ 2 * kappa *
      (diameter (X N 0%nat) p_2) ^ 2 * INR (layers N)).

(** own:softmax-gradient (proved): softmax_slope(c, T) <= 1/(2*T)
    given T > 0 *)
Definition statement_own_softmax_gradient : Prop :=
  forall (m : nat) (c : vector m) (T : R),
    (0 < m)%nat ->
    T > 0 ->
    softmax_slope c T <= 1 / (2 * T).

(** own:softmax-rank (proved): softmax_rank(q, x) == count(q)
    given positive(x)
    given count(q) == count(x)
    given distinct(q)
    given distinct(x) *)
Definition statement_own_softmax_rank : Prop :=
  forall (n : nat) (q x : vector n),
    (0 < n)%nat ->
    positive x ->
    ((count q) = (count x))%nat ->
    distinct q ->
    distinct x ->
    softmax_rank q x = INR (count q).

(** own:spectrum (proved): subdominant(L) <= mixing(L)
    given n >= 2 *)
Definition statement_own_spectrum : Prop :=
  forall (n : nat) (L : matrix n n),
    (0 < n)%nat ->
    (n >= 2)%nat ->
    subdominant L <= mixing L.

(** own:spectrum-symmetric (proved): real_attention(K)
    given symmetric(K) *)
Definition statement_own_spectrum_symmetric : Prop :=
  forall (n : nat) (K : matrix n n),
    (0 < n)%nat ->
    symmetric K ->
    real_attention K.

(** own:stable-causal (proved): stable_pair(parameters, dim)
    given stable_range(parameters) *)
Definition statement_own_stable_causal : Prop :=
  forall (parameters : vector 3) (dim : nat),
    (2 <= dim)%nat ->
    stable_range parameters ->
    stable_pair parameters dim.

(** own:stable-causal-every-n (proved): causal_identity_attracts(mu)
    given decreasing(mu) *)
Definition statement_own_stable_causal_every_n : Prop :=
  forall (n : nat) (mu : vector n),
    decreasing mu ->
    causal_identity_attracts mu.

(** own:stable-complete (proved): attracts_at_full_rank(X, W_V, W_QK, allowed)
    given no_mask(X, W_V, W_QK, allowed) *)
Definition statement_own_stable_complete : Prop :=
  exists (n d : nat) (X : matrix n d) (W_V : matrix d d) (W_QK : matrix d d) (allowed : matrix n n),
    (2 <= n)%nat /\
    no_mask X W_V W_QK allowed /\
    attracts_at_full_rank X W_V W_QK allowed.

(** own:stable-complete-every-n (proved): path_attracts(allowed, ratio)
    given sees_predecessor(allowed, ratio) *)
Definition statement_own_stable_complete_every_n : Prop :=
  forall (n : nat) (allowed : matrix n n) (ratio : R),
    is_mask allowed ->
    sees_predecessor allowed ratio ->
    path_attracts allowed ratio.

(** own:stable-connected (proved): identity_attracts(allowed, ratio)
    given undirected_connected(allowed, ratio) *)
Definition statement_own_stable_connected : Prop :=
  forall (n : nat) (allowed : matrix n n) (ratio : R),
    is_mask allowed ->
    undirected_connected allowed ratio ->
    identity_attracts allowed ratio.

(** own:stable-every-rank (proved): every_rank_attracts(allowed, ratio)
    given sees_predecessor(allowed, ratio) *)
Definition statement_own_stable_every_rank : Prop :=
  forall (n : nat) (allowed : matrix n n) (ratio : R),
    is_mask allowed ->
    sees_predecessor allowed ratio ->
    every_rank_attracts allowed ratio.

(** own:stable-rank-two-every-n (proved): rank_two_attracts(tokens)
    given token_count(tokens) >= 2 *)
Definition statement_own_stable_rank_two_every_n : Prop :=
  forall (n : nat) (tokens : shape n 2),
    ((token_count tokens) >= 2)%nat ->
    rank_two_attracts tokens.

(** own:transport (proved): all_p(diameter(X[L], p) <= prod_l(sum_h(operator_norm(W[l, h], p)*dobrushin(P[l,
      h])))*diameter(X[0], p))
    given mask == any
    given positions == any
    given softcap == any
    given qk_norm == any
    given layernorm == none
    given mlp == none
    given skip == 0 *)
Definition statement_own_transport : Prop :=
  forall (N : scored),
    proper N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    forall p : exponent, diameter (scored_X N (layers N)) p <= prodf (layers N) (fun l => sum (heads N) (fun h =>
      operator_norm (W N l h) p * dobrushin (scored_P N l h))) * diameter (scored_X N 0%nat) p.

(** own:transport-skip (proved): diameter(X[L], 2) >= prod_l(abs(skip) - sum_h(norm(W[l, h], 2)*dobrushin(P[l,
      h])))*diameter(X[0], 2) and diameter(X[L], 2) <= prod_l(abs(skip) + sum_h(norm(W[l, h], 2)*dobrushin(P[l,
      h])))*diameter(X[0], 2)
    given mask == any
    given positions == any
    given softcap == any
    given qk_norm == any
    given all_l(sum_h(norm(W[l, h], 2)*dobrushin(P[l, h])) < abs(skip))
    given layernorm == none
    given mlp == none *)
Definition statement_own_transport_skip : Prop :=
  forall (N : scored),
    proper N ->
    (forall l, (l < (layers N))%nat -> sum (heads N) (fun h => norm_2 (W N l h) * dobrushin (scored_P N l h)) < Rabs
      (skip_of N)) ->
    layernorm_none N ->
    mlp_none N ->
    (diameter (scored_X N (layers N)) p_2 >= prodf (layers N) (fun l => Rabs (skip_of N) - sum (heads N) (fun h =>
      norm_2 (W N l h) * dobrushin (scored_P N l h))) * diameter (scored_X N 0%nat) p_2) /\ (diameter (scored_X N
      (layers N)) p_2 <= prodf (layers N) (fun l => Rabs (skip_of N) + sum (heads N) (fun h => norm_2 (W N l h) *
      dobrushin (scored_P N l h))) * diameter (scored_X N 0%nat) p_2).

(** own:tv (proved): tv(c, g) <= tanh(osc(g)/4) *)
Definition statement_own_tv : Prop :=
  forall (m : nat) (c g : vector m),
    (0 < m)%nat ->
    tv c g <= tanh (osc g / 4).

(** own:until-collapse (proved): until_collapse(beta, u, c) <= c*beta + log(1 - u) + 2*(exp(x) - 1 - x)/x + (exp(x) -
      1)/(beta*u)
    given beta > 0
    given u > 0
    given exp(-c*beta) < 1 - u
    where x = beta*(1 - u) *)
Definition statement_own_until_collapse : Prop :=
  forall (beta u c : R),
    let x := beta * (1 - u) in
    beta > 0 ->
    u > 0 ->
    exp (- c * beta) < 1 - u ->
    until_collapse beta u c <= c * beta + ln (1 - u) + 2 * (exp x - 1 - x) / x + (exp x - 1) / (beta * u).

(** own:zero-grad (proved): all_i(weight_gradient(Z, M, V, G, i) <= value_spread(Z, V)*logit_shift(Z, M, G, i)/4) *)
Definition statement_own_zero_grad : Prop :=
  forall (n d m : nat) (Z : matrix n d) (M : matrix d d) (V : matrix d m) (G : matrix d d),
    (0 < n)%nat ->
    (0 < d)%nat ->
    (0 < m)%nat ->
    forall i, (i < n)%nat -> weight_gradient Z M V G i <= value_spread Z V * logit_shift Z M G i / 4.

(** wu2024:1 (proved): mu(X[L]) <= sqrt(n/2)*product_norm(2)*mu(X[0])*(1 - epsilon**r)**floor(L/r) and mu(X[L]) <=
      sqrt(n/2)*product_norm(2)*mu(X[0])*(1 - least**r)**floor(L/r)
    given H == 1
    given mask == any
    given self_loops()
    given quasi_strongly_connected()
    given layernorm == none
    given mlp == none
    given skip == 0
    where epsilon = 1/(1 + (in_degree - 1)*exp(max_l(logit_range(P[l, 0]))))
    where least = min_l(epsilon(P[l, 0])) *)
Definition statement_wu2024_1 : Prop :=
  forall (N : network),
    proper N ->
    forall r, is_radius N r ->
    let epsilon' := 1 / (1 + ((in_degree N) - 1) * exp (largest (layers N) (fun l => logit_range N l 0%nat))) in
    let least' := least (layers N) (fun l => epsilon N l 0%nat) in
    ((heads N) = 1)%nat ->
    self_loops N ->
    quasi_strongly_connected N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    (mu (X N (layers N)) <= sqrt (INR (tokens N) / 2) * product_norm_2 N * mu (X N 0%nat) * (1 - epsilon' ^ r) ^
      ((layers N) / r)) /\ (mu (X N (layers N)) <= sqrt (INR (tokens N) / 2) * product_norm_2 N * mu (X N 0%nat) * (1 -
      least' ^ r) ^ ((layers N) / r)).

(** wu2024:1-doeblin (proved): mu(X[L]) <= sqrt(n/2)*product_norm(2)*mu(X[0])*prod_k(contraction(k))
    given H == 1
    given mask == any
    given layernorm == none
    given mlp == none
    given skip == 0 *)
Definition statement_wu2024_1_doeblin : Prop :=
  forall (N : network),
    proper N ->
    forall r, is_radius N r ->
    ((heads N) = 1)%nat ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    mu (X N (layers N)) <= sqrt (INR (tokens N) / 2) * product_norm_2 N * mu (X N 0%nat) * prodf ((layers N + r - 1) /
      r)%nat (fun k => contraction N r k).

(** wu2024:2 (proved): mu(X[L]) <= sqrt(2*n)*max(1, sqrt(goal**(-2) - 1))*rate**(-(steps + 2)/2)*rate**(L/(2*r))
    given H == 1
    given mask == any
    given layernorm == sphere
    given bias == none
    given orthogonal_values()
    given self_loops()
    given n >= 2
    given strongly_connected()
    given n <= d
    given gram_height(X[0]) > 0
    given n*min_l(epsilon(P[l, 0])) < 1
    given mlp == none
    given skip == 0
    where least = min_l(epsilon(P[l, 0]))
    where rate = 1 - n*least**(2*r)
    where goal = (1 - sqrt(rate))/least**r
    where height = gram_height(X[0])
    where steps = max(0, log(diameter(X[0], 2)/height/sqrt(2*(1 - goal)))/-log(1 - height*least**r)) *)
Definition statement_wu2024_2 : Prop :=
  forall (N : network),
    proper N ->
    forall r, is_radius N r ->
    let least' := least (layers N) (fun l => epsilon N l 0%nat) in
    let rate := 1 - INR (tokens N) * least' ^ (2 * r) in
    let goal := (1 - sqrt rate) / least' ^ r in
    let height' := gram_height (X N 0%nat) in
    let steps' := Rmax 0 (ln (diameter (X N 0%nat) p_2 / height' / sqrt (2 * (1 - goal))) / - ln (1 - height' * least'
      ^ r)) in
    ((heads N) = 1)%nat ->
    layernorm_sphere N ->
    bias_none N ->
    orthogonal_values N ->
    self_loops N ->
    ((tokens N) >= 2)%nat ->
    strongly_connected N ->
    ((tokens N) <= (dim N))%nat ->
    gram_height (X N 0%nat) > 0 ->
    INR (tokens N) * least (layers N) (fun l => epsilon N l 0%nat) < 1 ->
    mlp_none N ->
    (skip_of N) = 0 ->
    mu (X N (layers N)) <= sqrt (2 * INR (tokens N)) * Rmax 1 (sqrt (power goal (- 2) - 1)) * power rate (- (steps' +
      2) / 2) * power rate (INR (layers N) / (2 * INR r)).

(** wu2024:2-step (refuted): 1 - cosine(X[1]) <= (1 - n*epsilon(P[0, 0])**2)*(1 - cosine(X[0]))
    given H == 1
    given mask == any
    given layernorm == sphere
    given bias == none
    given orthogonal_values()
    given self_loops()
    given n >= 2
    given L == 1
    given strongly_connected()
    given r == 1
    given cosine(X[0]) >= 0
    given n*epsilon(P[0, 0]) < 1
    given mlp == none
    given skip == 0 *)
Definition statement_wu2024_2_step : Prop :=
  forall (N : network),
    proper N ->
    forall r, is_radius N r ->
    ((heads N) = 1)%nat ->
    layernorm_sphere N ->
    bias_none N ->
    orthogonal_values N ->
    self_loops N ->
    ((tokens N) >= 2)%nat ->
    ((layers N) = 1)%nat ->
    strongly_connected N ->
    (r = 1)%nat ->
    cosine (X N 0%nat) >= 0 ->
    INR (tokens N) * epsilon N 0%nat 0%nat < 1 ->
    mlp_none N ->
    (skip_of N) = 0 ->
    1 - cosine (X N 1%nat) <= (1 - INR (tokens N) * (epsilon N 0%nat 0%nat) ^ 2) * (1 - cosine (X N 0%nat)).

(** wu2024:3 (proved): every_rank(sizes, w)
    given w > tokens_of(sizes) - 1 *)
Definition statement_wu2024_3 : Prop :=
  forall (n d : nat) (sizes : shape n d) (w : R),
    (0 < n)%nat ->
    (0 < d)%nat ->
    w > INR (tokens_of sizes) - 1 ->
    every_rank sizes w.

(** wu2024:3-measure (proved): spares_an_open_set(tokens)
    given token_count(tokens) >= 2 *)
Definition statement_wu2024_3_measure : Prop :=
  forall (n : nat) (tokens : shape n n),
    ((token_count tokens) >= 2)%nat ->
    spares_an_open_set tokens.

(** wu2024:3-whole (proved): causal_ranks_attract(sizes)
    given tokens_and_dimensions(sizes) *)
Definition statement_wu2024_3_whole : Prop :=
  forall (n d : nat) (sizes : shape n d),
    tokens_and_dimensions sizes ->
    causal_ranks_attract sizes.

(** wu2024:4.3.1 (proved): two_token_equilibria(w)
    given w > 1 *)
Definition statement_wu2024_4_3_1 : Prop :=
  forall (w : R),
    w > 1 ->
    two_token_equilibria w.

(** wu2024:L13 (refuted): stays_far(x, w)
    given w > 1
    given unit_vector(x)
    given in_printed_set(x, w) *)
Definition statement_wu2024_L13 : Prop :=
  forall (d : nat) (x : vector d) (w : R),
    (2 <= d)%nat ->
    w > 1 ->
    unit_vector x ->
    in_printed_set x w ->
    stays_far x w.

(** wu2024:L13-repaired (proved): stays_in_repaired_set(x, w)
    given w > 1
    given unit_vector(x)
    given in_repaired_set(x, w) *)
Definition statement_wu2024_L13_repaired : Prop :=
  forall (d : nat) (x : vector d) (w : R),
    (2 <= d)%nat ->
    w > 1 ->
    unit_vector x ->
    in_repaired_set x w ->
    stays_in_repaired_set x w.

(** wu2024:anisotropy (proved): spectral_gap(w) <= ((shift_tokens(w) - shift_rank(w) + 1)**2 + shift_rank(w) - 2)/w**2
    given w > shift_tokens(w) - 1 *)
Definition statement_wu2024_anisotropy : Prop :=
  forall (n k : nat) (sgn : nat -> R) (w : shift n k sgn),
    (2 <= k)%nat ->
    (k <= n)%nat ->
    (forall j, sgn j = 1 \/ sgn j = -1) ->
    w > INR (shift_tokens w) - 1 ->
    spectral_gap w <= ((INR (shift_tokens w) - INR (shift_rank w) + 1) ^ 2 + INR (shift_rank w) - 2) / w ^ 2.

(** wu2024:conjecture (refuted): none_attracts(X, W_V, W_QK, allowed)
    given undirected(X, W_V, W_QK, allowed) *)
Definition statement_wu2024_conjecture : Prop :=
  forall (n d : nat) (X : matrix n d) (W_V : matrix d d) (W_QK : matrix d d) (allowed : matrix n n),
    (0 < n)%nat ->
    (0 < d)%nat ->
    is_mask allowed ->
    undirected X W_V W_QK allowed ->
    none_attracts X W_V W_QK allowed.

(** wu2024:cor1 (proved): mu(X[L]) <= sqrt((n - 1)*(1 - phi))*(1 - least**(2*r))**(floor(L/r)/2)
    given H == 1
    given mask == any
    given layernorm == sphere
    given bias == none
    given orthogonal_values()
    given self_loops()
    given n >= 2
    given quasi_strongly_connected()
    given diameter(X[0], 2)**2 <= 2
    given mlp == none
    given skip == 0
    where phi = 1 - diameter(X[0], 2)**2/2
    where least = min_l(epsilon(P[l, 0])) *)
Definition statement_wu2024_cor1 : Prop :=
  forall (N : network),
    proper N ->
    forall r, is_radius N r ->
    let phi := 1 - (diameter (X N 0%nat) p_2) ^ 2 / 2 in
    let least' := least (layers N) (fun l => epsilon N l 0%nat) in
    ((heads N) = 1)%nat ->
    layernorm_sphere N ->
    bias_none N ->
    orthogonal_values N ->
    self_loops N ->
    ((tokens N) >= 2)%nat ->
    quasi_strongly_connected N ->
    (diameter (X N 0%nat) p_2) ^ 2 <= 2 ->
    mlp_none N ->
    (skip_of N) = 0 ->
    mu (X N (layers N)) <= sqrt ((INR (tokens N) - 1) * (1 - phi)) * power (1 - least' ^ (2 * r)) (INR ((layers N) /
      r)%nat / 2).

(** wu2024:cor1-centers (proved): mu(X[L]) <= sqrt((n - 1)*(1 - phi))*(1 -
      center_count()*least**(2*farthest()))**(floor(L/farthest())/2)
    given H == 1
    given mask == any
    given layernorm == sphere
    given bias == none
    given orthogonal_values()
    given self_loops()
    given n >= 2
    given quasi_strongly_connected()
    given diameter(X[0], 2)**2 <= 2
    given mlp == none
    given skip == 0
    where phi = 1 - diameter(X[0], 2)**2/2
    where least = min_l(epsilon(P[l, 0])) *)
Definition statement_wu2024_cor1_centers : Prop :=
  forall (N : network),
    proper N ->
    forall center_count, is_center_count N center_count ->
    forall farthest, is_farthest N farthest ->
    let phi := 1 - (diameter (X N 0%nat) p_2) ^ 2 / 2 in
    let least' := least (layers N) (fun l => epsilon N l 0%nat) in
    ((heads N) = 1)%nat ->
    layernorm_sphere N ->
    bias_none N ->
    orthogonal_values N ->
    self_loops N ->
    ((tokens N) >= 2)%nat ->
    quasi_strongly_connected N ->
    (diameter (X N 0%nat) p_2) ^ 2 <= 2 ->
    mlp_none N ->
    (skip_of N) = 0 ->
    mu (X N (layers N)) <= sqrt ((INR (tokens N) - 1) * (1 - phi)) * power (1 - INR center_count * least' ^ (2 *
      farthest)) (INR ((layers N) / farthest)%nat / 2).

(** wu2024:cor1-step (proved): diameter(X[r], 2)**2 <= (1 - least**(2*r))*diameter(X[0], 2)**2
    given H == 1
    given mask == any
    given layernorm == sphere
    given bias == none
    given orthogonal_values()
    given self_loops()
    given n >= 2
    given quasi_strongly_connected()
    given diameter(X[0], 2)**2 <= 2
    given L >= r
    given mlp == none
    given skip == 0
    where least = min_l(epsilon(P[l, 0])) *)
Definition statement_wu2024_cor1_step : Prop :=
  forall (N : network),
    proper N ->
    forall r, is_radius N r ->
    let least' := least (layers N) (fun l => epsilon N l 0%nat) in
    ((heads N) = 1)%nat ->
    layernorm_sphere N ->
    bias_none N ->
    orthogonal_values N ->
    self_loops N ->
    ((tokens N) >= 2)%nat ->
    quasi_strongly_connected N ->
    (diameter (X N 0%nat) p_2) ^ 2 <= 2 ->
    ((layers N) >= r)%nat ->
    mlp_none N ->
    (skip_of N) = 0 ->
    (diameter (X N r) p_2) ^ 2 <= (1 - least' ^ (2 * r)) * (diameter (X N 0%nat) p_2) ^ 2.

(** wu2024:pre-ln (proved): mu_before(L - 1) <= sqrt((n - 1)*(1 - phi))*(1 - least**(2*r))**(floor((L - 1)/r)/2)
    given H == 1
    given mask == any
    given layernorm == sphere
    given bias == none
    given orthogonal_values()
    given self_loops()
    given n >= 2
    given quasi_strongly_connected()
    given diameter(X[0], 2)**2 <= 2
    given mlp == none
    given skip == 0
    where phi = 1 - diameter(X[0], 2)**2/2
    where least = min_l(epsilon(P[l, 0])) *)
Definition statement_wu2024_pre_ln : Prop :=
  forall (N : network),
    proper N ->
    forall r, is_radius N r ->
    let phi := 1 - (diameter (X N 0%nat) p_2) ^ 2 / 2 in
    let least' := least (layers N) (fun l => epsilon N l 0%nat) in
    ((heads N) = 1)%nat ->
    layernorm_sphere N ->
    bias_none N ->
    orthogonal_values N ->
    self_loops N ->
    ((tokens N) >= 2)%nat ->
    quasi_strongly_connected N ->
    (diameter (X N 0%nat) p_2) ^ 2 <= 2 ->
    mlp_none N ->
    (skip_of N) = 0 ->
    mu_before N ((layers N) - 1)%nat <= sqrt ((INR (tokens N) - 1) * (1 - phi)) * power (1 - least' ^ (2 * r)) (INR
      (((layers N) - 1) / r)%nat / 2).

(** alcalde2025:4.2 (refuted): arrives_exponentially(a, q)
    given a > 0
    given a < 1
    given q > 0
    given q <= 1 *)
Definition statement_alcalde2025_4_2 : Prop :=
  forall (a q : R),
    a > 0 ->
    a < 1 ->
    q > 0 ->
    q <= 1 ->
    arrives_exponentially a q.

(** alman2025:one-layer (proved): moved(X[L]) <= (prod_l(1 + sum_h(norm(W[l, h], 1))) - 1)*norm(X[0], max)
    given skip == 1
    given bias == none
    given mask == any
    given positions == any
    given softcap == any
    given qk_norm == any
    given layernorm == none
    given mlp == none *)
Definition statement_alman2025_one_layer : Prop :=
  forall (N : scored),
    proper N ->
    (skip_of N) = 1 ->
    bias_none N ->
    layernorm_none N ->
    mlp_none N ->
    moved N (layers N) <= (prodf (layers N) (fun l => 1 + sum (heads N) (fun h => norm_1 (W N l h))) - 1) * norm_max
      (scored_X N 0%nat).

(** barbero2024:4.2 (proved): repeat_gap(X[L]) <= recursion(b, 0, b*(abs(skip) + sum_h(norm(W[l, h], 2)*norm(W_QK[l,
      h], 2))*diameter(X[l], 2)**2/(4*sqrt(d_qk))) + sum_h(norm(W[l, h], 2)*repeat_share(P[l, h]))*repeat_reach(X[l]))
    given mask == causal
    given layernorm == none
    given mlp == none *)
Definition statement_barbero2024_4_2 : Prop :=
  forall (N : network),
    proper N ->
    mask_causal N ->
    layernorm_none N ->
    mlp_none N ->
    repeat_gap N (layers N) <= recursion (layers N) 0 (fun l b => b * (Rabs (skip_of N) + sum (heads N) (fun h =>
      norm_2 (W N l h) * norm_2 (W_QK N l h)) * (diameter (X N l) p_2) ^ 2 / (4 * sqrt (d_qk N))) + sum (heads N) (fun
      h => norm_2 (W N l h) * repeat_share N l h) * repeat_reach N l).

(** bhojanapalli2020:1 (proved): reachable(X, L)
    given independent(X) *)
Definition statement_bhojanapalli2020_1 : Prop :=
  forall (n d : nat) (X : matrix n d) (L : matrix n n),
    (0 < n)%nat ->
    (0 < d)%nat ->
    independent X ->
    reachable X L.

(** castin2024:3.3 (proved): jacobian_norm() <= sqrt(3)*norm(W[0, 0], 2)*sqrt(a**2*R**4*(4*n + 1) + n)
    given H == 1
    given L == 1
    given query_bias == none
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where a = norm(W_QK[0, 0], 2)/sqrt(d_qk)
    where R = longest(X[0]) *)
Definition statement_castin2024_3_3 : Prop :=
  forall (N : network),
    proper N ->
    let a := norm_2 (W_QK N 0%nat 0%nat) / sqrt (d_qk N) in
    let R := longest (X N 0%nat) in
    ((heads N) = 1)%nat ->
    ((layers N) = 1)%nat ->
    query_bias_none N ->
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    jacobian_norm N <= sqrt 3 * norm_2 (W N 0%nat 0%nat) * sqrt (a ^ 2 * R ^ 4 * (4 * INR (tokens N) + 1) + INR (tokens
      N)).

(** chen2026:2.1 (proved): equiangular_layer(gamma, rho, m)
    given rho > 0
    given m >= 2
    given (m - 1)*gamma > -1
    given gamma <= 1 *)
Definition statement_chen2026_2_1 : Prop :=
  forall (gamma rho : R) (m : nat),
    rho > 0 ->
    (m >= 2)%nat ->
    (INR m - 1) * gamma > - 1 ->
    gamma <= 1 ->
    equiangular_layer gamma rho m.

(** chen2026:2.4 (proved): equiangular_gradient(gamma, rho, beta, m, d)
    given rho > 0
    given m >= 2
    given d >= m
    given (m - 1)*gamma > -1
    given gamma <= 1 *)
Definition statement_chen2026_2_4 : Prop :=
  forall (gamma rho beta : R) (m d : nat),
    rho > 0 ->
    (m >= 2)%nat ->
    (d >= m)%nat ->
    (INR m - 1) * gamma > - 1 ->
    gamma <= 1 ->
    equiangular_gradient gamma rho beta m d.

(** contranorm2023:2 (refuted): erank(sigma) < erank_after(sigma, s)
    given s > 0
    given bottom(sigma) > 0
    given bottom(sigma) < top(sigma)
    given 1 + (1 - top(sigma)**2)*s > 0 *)
Definition statement_contranorm2023_2 : Prop :=
  forall (m : nat) (sigma : vector m) (s : R),
    (0 < m)%nat ->
    s > 0 ->
    bottom sigma > 0 ->
    bottom sigma < top sigma ->
    1 + (1 - (top sigma) ^ 2) * s > 0 ->
    erank sigma < erank_after sigma s.

(** folk:affine-rank (refuted): keeps_affine_rank(X, s)
    given normed_by(X, s) *)
Definition statement_folk_affine_rank : Prop :=
  forall (n d : nat) (X : matrix n d) (s : vector n),
    (0 < n)%nat ->
    (0 < d)%nat ->
    normed_by X s ->
    keeps_affine_rank X s.

(** folk:alibi-theta (refuted): kept(a, c)
    given a > 0
    given a < 1
    given c > 0
    given (1 + a)*c <= 1 *)
Definition statement_folk_alibi_theta : Prop :=
  forall (a c : R),
    a > 0 ->
    a < 1 ->
    c > 0 ->
    (1 + a) * c <= 1 ->
    kept a c.

(** folk:entropy-order (refuted): c*T*sigma*exp(-sigma) <= entropy_floor(T, sigma)
    given T >= 2
    given sigma > 0
    given c > 0
    given c*T*sigma*exp(-sigma) <= log(T) *)
Definition statement_folk_entropy_order : Prop :=
  forall (T sigma c : R),
    T >= 2 ->
    sigma > 0 ->
    c > 0 ->
    c * T * sigma * exp (- sigma) <= ln T ->
    c * T * sigma * exp (- sigma) <= entropy_floor T sigma.

(** folk:influence (refuted): all_i((1 - is_last(i))*influence(i) <= norm(W[0, 0], 2)*last_share(i))
    given mask == causal
    given H == 1
    given L == 1
    given skip == 1
    given layernorm == none
    given mlp == none *)
Definition statement_folk_influence : Prop :=
  forall (N : network),
    proper N ->
    mask_causal N ->
    ((heads N) = 1)%nat ->
    ((layers N) = 1)%nat ->
    (skip_of N) = 1 ->
    layernorm_none N ->
    mlp_none N ->
    forall i, (i < (tokens N))%nat -> (1 - is_last N i) * influence N i <= norm_2 (W N 0%nat 0%nat) * last_share N i.

(** folk:lambda-skip (refuted): mu(X[1])*(norm(W[0, 0], frobenius)*norm(P[0, 0], frobenius) + abs(skip)) >=
      abs(skip)*mu(X[0])
    given layernorm == sphere
    given H == 1
    given bias == none
    given L == 1
    given abs(skip) > 0
    given mask == none
    given mlp == none *)
Definition statement_folk_lambda_skip : Prop :=
  forall (N : network),
    proper N ->
    layernorm_sphere N ->
    ((heads N) = 1)%nat ->
    bias_none N ->
    ((layers N) = 1)%nat ->
    Rabs (skip_of N) > 0 ->
    mask_none N ->
    mlp_none N ->
    mu (X N 1%nat) * (norm_frobenius (W N 0%nat 0%nat) * norm_frobenius (P N 0%nat 0%nat) + Rabs (skip_of N)) >= Rabs
      (skip_of N) * mu (X N 0%nat).

(** folk:softmax-gradient (refuted): softmax_slope(c, T) <= 1/(4*T) and softmax_slope(c, T) <= sqrt(2)
    given T > 0 *)
Definition statement_folk_softmax_gradient : Prop :=
  forall (m : nat) (c : vector m) (T : R),
    (0 < m)%nat ->
    T > 0 ->
    (softmax_slope c T <= 1 / (4 * T)) /\ (softmax_slope c T <= sqrt 2).

(** folk:softmax-rank (refuted): softmax_rank(q, x) <= 1
    given positive(x)
    given count(q) == count(x) *)
Definition statement_folk_softmax_rank : Prop :=
  forall (n : nat) (q x : vector n),
    (0 < n)%nat ->
    positive x ->
    ((count q) = (count x))%nat ->
    softmax_rank q x <= 1.

(** folk:spectrum-real (refuted): real_spectrum(A)
    given positive_stochastic(A) *)
Definition statement_folk_spectrum_real : Prop :=
  forall (n : nat) (A : matrix n n),
    (0 < n)%nat ->
    positive_stochastic A ->
    real_spectrum A.

(** geshkovski2023:late (proved): 1 - gamma <= exp(m**2*exp(beta)/(2*c) - m*t/c)/2
    given gamma >= 0
    given gamma < 1
    given beta >= 0
    given m >= 2
    given t >= m*exp(beta)/2
    where t = meeting_time(gamma, beta, m)
    where c = m + exp(beta/2) *)
Definition statement_geshkovski2023_late : Prop :=
  forall (gamma beta m : R),
    let t := meeting_time gamma beta m in
    let c := m + exp (beta / 2) in
    gamma >= 0 ->
    gamma < 1 ->
    beta >= 0 ->
    m >= 2 ->
    t >= m * exp beta / 2 ->
    1 - gamma <= exp (m ^ 2 * exp beta / (2 * c) - m * t / c) / 2.

(** geshkovski2023:late-printed (refuted): 1 - gamma <= exp(m**2*exp(beta)/(2*c) - m*t/c)/2
    given gamma >= 0
    given gamma < 1
    given beta >= 0
    given m >= 2
    where t = meeting_time(gamma, beta, m)
    where c = m + exp(beta/2) *)
Definition statement_geshkovski2023_late_printed : Prop :=
  forall (gamma beta m : R),
    let t := meeting_time gamma beta m in
    let c := m + exp (beta / 2) in
    gamma >= 0 ->
    gamma < 1 ->
    beta >= 0 ->
    m >= 2 ->
    1 - gamma <= exp (m ^ 2 * exp beta / (2 * c) - m * t / c) / 2.

(** geshkovski2023:orthogonal (proved): equiangular_flow(gamma, rho, m)
    given rho > 0 *)
Definition statement_geshkovski2023_orthogonal : Prop :=
  forall (gamma rho : R) (m : nat),
    (2 <= m)%nat ->
    rho > 0 ->
    equiangular_flow gamma rho m.

(** geshkovski2023:step (proved): closing(C, beta) >= (1 - alpha)/(2*n*exp(2*beta))
    given cosines(C)
    given alpha >= 1/2
    given beta >= 0
    where alpha = least_cosine(C) *)
Definition statement_geshkovski2023_step : Prop :=
  forall (n : nat) (C : matrix n n) (beta : R),
    (0 < n)%nat ->
    let alpha := least_cosine C in
    cosines C ->
    alpha >= 1 / 2 ->
    beta >= 0 ->
    closing C beta >= (1 - alpha) / (2 * INR n * exp (2 * beta)).

(** geshkovski2024:cluster (proved): pair_speed(X, beta) + 2*n*exp(-beta*outer_gap(X, m)) >= 2*(1 - g)*g*exp(-beta*g)/n
    given m >= 2
    given m <= n
    given inner_gap(X, m) <= g
    given g <= 1
    given beta >= 0
    where g = pair_gap(X) *)
Definition statement_geshkovski2024_cluster : Prop :=
  forall (n d : nat) (X : matrix n d) (beta : R) (m : nat),
    (0 < n)%nat ->
    (0 < d)%nat ->
    (forall i, (i < n)%nat -> 0 < l2 d (X i)) ->
    let g := pair_gap X in
    (m >= 2)%nat ->
    (m <= n)%nat ->
    inner_gap X m <= g ->
    g <= 1 ->
    beta >= 0 ->
    pair_speed X beta + 2 * INR n * exp (- beta * outer_gap X m) >= 2 * (1 - g) * g * exp (- beta * g) / INR n.

(** geshkovski2024:escape (proved): cap_fall(X, w, beta) <= n*exp(-beta*outer_gap(X, m))
    given m >= 1
    given m <= n
    given cap_height(X, w) <= cap_least(X, w, m)
    given cap_height(X, w) >= 0
    given beta >= 0 *)
Definition statement_geshkovski2024_escape : Prop :=
  forall (n d : nat) (X : matrix n d) (w : vector d) (beta : R) (m : nat),
    (0 < n)%nat ->
    (0 < d)%nat ->
    (forall i, (i < n)%nat -> 0 < l2 d (X i)) ->
    0 < l2 d w ->
    (m >= 1)%nat ->
    (m <= n)%nat ->
    cap_height X w <= cap_least X w m ->
    cap_height X w >= 0 ->
    beta >= 0 ->
    cap_fall X w beta <= INR n * exp (- beta * outer_gap X m).

(** geshkovski2024:until-collapse (proved): until_collapse(beta, u, c) <= exp(beta*(1 - u))/u + beta**2*c*exp(1)/(beta
      - 1)
    given beta > 1
    given u > 0
    given exp(-c*beta) < 1 - u *)
Definition statement_geshkovski2024_until_collapse : Prop :=
  forall (beta u c : R),
    beta > 1 ->
    u > 0 ->
    exp (- c * beta) < 1 - u ->
    until_collapse beta u c <= exp (beta * (1 - u)) / u + beta ^ 2 * c * exp 1 / (beta - 1).

(** he2023:e-spa (proved): carries_exponential(a, b, size)
    given a > 0
    given a < b
    given b < 1 *)
Definition statement_he2023_e_spa : Prop :=
  forall (a b : R) (size : nat),
    (0 < size)%nat ->
    a > 0 ->
    a < b ->
    b < 1 ->
    carries_exponential a b size.

(** he2023:u-spa (proved): carries_uniform(a, b, size)
    given a > 0
    given a < b
    given b < 1 *)
Definition statement_he2023_u_spa : Prop :=
  forall (a b : R) (size : nat),
    (0 < size)%nat ->
    a > 0 ->
    a < b ->
    b < 1 ->
    carries_uniform a b size.

(** joudaki2023:isometry (proved): isometry(X)*length_spread(X) <= unit_isometry(X)
    given isometry(X) > 0 *)
Definition statement_joudaki2023_isometry : Prop :=
  forall (n d : nat) (X : matrix n d),
    (0 < n)%nat ->
    (0 < d)%nat ->
    isometry X > 0 ->
    isometry X * length_spread X <= unit_isometry X.

(** karagodin2024:subspace-two (proved): aligning(lam, M, B, X) >= lam*lead(M, X)*sine_square(M, X)/(1 +
      exp(2*form_size(B)))
    given lam > 0
    given parts_in_space(M, X) *)
Definition statement_karagodin2024_subspace_two : Prop :=
  forall (m d : nat) (lam : R) (M : matrix m m) (B : matrix d d) (X : matrix 2 d),
    lam > 0 ->
    parts_in_space M X ->
    aligning lam M B X >= lam * lead M X * sine_square M X / (1 + exp (2 * form_size B)).

(** karagodin2024:two-clusters (refuted): two_clusters(V, Q, K, beta, X)
    given distinct_positive(V, Q, K, beta, X) *)
Definition statement_karagodin2024_two_clusters : Prop :=
  forall (n d e : nat) (V : matrix d d) (Q K : matrix e d) (beta : R) (X : matrix n d),
    (0 < n)%nat ->
    (0 < d)%nat ->
    (0 < e)%nat ->
    0 <= beta ->
    unit_rows X ->
    distinct_positive V Q K beta X ->
    two_clusters V Q K beta X.

(** karagodin2024:two-clusters-symmetric (refuted): two_clusters(V, Q, K, beta, X)
    given distinct_positive(V, Q, K, beta, X)
    given symmetric_values(V, Q, K, beta, X) *)
Definition statement_karagodin2024_two_clusters_symmetric : Prop :=
  forall (n d e : nat) (V : matrix d d) (Q K : matrix e d) (beta : R) (X : matrix n d),
    (0 < n)%nat ->
    (0 < d)%nat ->
    (0 < e)%nat ->
    0 <= beta ->
    unit_rows X ->
    distinct_positive V Q K beta X ->
    symmetric_values V Q K beta X ->
    two_clusters V Q K beta X.

(** karagodin2025:4.3 (refuted): variance_falls(beta, X)
    given beta > 0
    given in_printed_cone(beta, X) *)
Definition statement_karagodin2025_4_3 : Prop :=
  forall (beta : R) (n d : nat) (X : matrix n d),
    (2 <= n)%nat ->
    (0 < d)%nat ->
    beta > 0 ->
    in_printed_cone beta X ->
    variance_falls beta X.

(** kim2021:3.2 (proved): distance_jacobian_norm(Z) <= sqrt(n)*(4*phi + 1)
    where phi = inverse_phi(n - 1) *)
Definition statement_kim2021_3_2 : Prop :=
  forall (n d : nat) (Z : matrix n d),
    (0 < n)%nat ->
    (0 < d)%nat ->
    let phi := inverse_phi (INR n - 1) in
    distance_jacobian_norm Z <= sqrt (INR n) * (4 * phi + 1).

(** noci2022:zero-grad (proved): no_gradient(Z, M, V, G)
    given equal_tokens(Z) *)
Definition statement_noci2022_zero_grad : Prop :=
  forall (n d m : nat) (Z : matrix n d) (M : matrix d d) (V : matrix d m) (G : matrix d d),
    (0 < n)%nat ->
    (0 < d)%nat ->
    (0 < m)%nat ->
    equal_tokens Z ->
    no_gradient Z M V G.

(** shi2022:layernorm (proved): normed_mu(Y) <= row_mu(Y)/r_1
    given r_1 > 0
    where r_1 = least_length(Y, 0) *)
Definition statement_shi2022_layernorm : Prop :=
  forall (n d : nat) (Y : matrix n d),
    (0 < n)%nat ->
    (0 < d)%nat ->
    let r_1 := least_length Y 0%nat in
    r_1 > 0 ->
    normed_mu Y <= row_mu Y / r_1.

(** unstated:diameter-rotary (refuted): all_p(diameter(X[L], p) <= recursion(b, diameter(X[0], p),
      sum_h(operator_norm(W[l, h], p)*b*tanh(form_norm(W_QK[l, h], p)*b**2/(4*sqrt(d_qk))))))
    given mask == padding
    given positions == any
    given layernorm == none
    given mlp == none
    given skip == 0 *)
Definition statement_unstated_diameter_rotary : Prop :=
  forall (N : rotated),
    proper N ->
    turns_heads N ->
    mask_padding N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    forall p : exponent, diameter (scored_X N (layers N)) p <= recursion (layers N) (diameter (scored_X N 0%nat) p)
      (fun l b => sum (heads N) (fun h => operator_norm (W N l h) p * b * tanh (form_norm (W_QK N l h) p * b ^ 2 / (4 *
      sqrt (d_qk N))))).

(** unstated:large-logits (refuted): residual(X[L], composite) <= (4*gamma_star*beta/sqrt(d_qk))**((3**L -
      1)/2)*residual(X[0], composite)**(3**L)
    given H == 1
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where gamma_star = max_l(max_h(gamma(P[l, h])))
    where beta = max_l(max_h(norm(W_QK[l, h], 1)*norm(W[l, h], composite))) *)
Definition statement_unstated_large_logits : Prop :=
  forall (N : network),
    proper N ->
    forall center, are_centers N center ->
    let gamma_star := largest (layers N) (fun l => largest (heads N) (fun h => gamma N center l h)) in
    let beta := largest (layers N) (fun l => largest (heads N) (fun h => norm_1 (W_QK N l h) * norm_composite (W N l
      h))) in
    ((heads N) = 1)%nat ->
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    residual_composite (X N (layers N)) <= (4 * gamma_star * beta / sqrt (d_qk N)) ^ (((3 ^ (layers N)) - 1) / 2) *
      (residual_composite (X N 0%nat)) ^ (3 ^ (layers N)).

(** unstated:ln-sphere (refuted): collapses(X)
    given at_rest(X, W_V, allowed) *)
Definition statement_unstated_ln_sphere : Prop :=
  forall (n d : nat) (X : matrix n d) (W_V : matrix d d) (allowed : matrix n n),
    (0 < n)%nat ->
    (0 < d)%nat ->
    is_mask allowed ->
    at_rest X W_V allowed ->
    collapses X.

(** unstated:mask-dichotomy (refuted): never_forgets(P)
    given incomplete_attention(P) *)
Definition statement_unstated_mask_dichotomy : Prop :=
  forall (n : nat) (P : matrix n n),
    (0 < n)%nat ->
    incomplete_attention P ->
    never_forgets P.

(** velickovic2024:2.2 (proved): largest_share(c) <= exp(osc(c))/count(c) and exp(-osc(c))/count(c) <= least_share(c) *)
Definition statement_velickovic2024_2_2 : Prop :=
  forall (m : nat) (c : vector m),
    (0 < m)%nat ->
    (largest_share c <= exp (osc c) / INR (count c)) /\ (exp (- osc c) / INR (count c) <= least_share c).

(** wang2022:1 (refuted): low_pass(A, z)
    given positive_stochastic(A)
    given never_zero(A, z) *)
Definition statement_wang2022_1 : Prop :=
  forall (n : nat) (A : matrix n n) (z : vector n),
    (0 < n)%nat ->
    positive_stochastic A ->
    never_zero A z ->
    low_pass A z.

(** wang2022:1-repaired (proved): 4*high_square(A, z, t)*(abs(stationary_mean(A, z)) - beta*(n - 1)/n)**2 <=
      beta**2*low_square(A, z, t)
    given positive_stochastic(A)
    given beta*(n - 1)/n < abs(stationary_mean(A, z))
    where beta = dobrushin_of(A)**t*range_of(z) *)
Definition statement_wang2022_1_repaired : Prop :=
  forall (n : nat) (A : matrix n n) (z : vector n) (t : nat),
    (0 < n)%nat ->
    let beta := (dobrushin_of A) ^ t * range_of z in
    positive_stochastic A ->
    beta * (INR n - 1) / INR n < Rabs (stationary_mean A z) ->
    4 * high_square A z t * (Rabs (stationary_mean A z) - beta * (INR n - 1) / INR n) ^ 2 <= beta ^ 2 * low_square A z
      t.

(** wu2025:4.1 (proved): all_i(share(P, i + 1) <= (1 - (i + 1)*eps)**(steps(P) - 1))
    given n >= 2
    given windowed(P, n)
    where eps = least_within(P, n) *)
Definition statement_wu2025_4_1 : Prop :=
  forall (t n : nat) (P : sequence t n),
    (0 < t)%nat ->
    (0 < n)%nat ->
    row_stochastic P ->
    let eps := least_within P n in
    (n >= 2)%nat ->
    windowed P n ->
    forall i, (i < n)%nat -> share P (i + 1)%nat <= (1 - (INR i + 1) * eps) ^ ((steps P) - 1).

(** wu2025:4.2 (proved): all_i(share(P, i + 1)**(2*reach)*(1 - (i + 1)*eps**reach)**reach <= (1 - (i +
      1)*eps**reach)**(steps(P) - 1))
    given n >= 2
    given w >= 2
    given windowed(P, w)
    where eps = least_within(P, w)
    where reach = -floor(-(n - 1)/(w - 1)) *)
Definition statement_wu2025_4_2 : Prop :=
  forall (t n : nat) (P : sequence t n) (w : nat),
    (0 < t)%nat ->
    (0 < n)%nat ->
    row_stochastic P ->
    let eps := least_within P w in
    let reach' := (((n - 1) + (w - 1) - 1) / (w - 1))%nat in
    (n >= 2)%nat ->
    (w >= 2)%nat ->
    windowed P w ->
    forall i, (i < n)%nat -> (share P (i + 1)%nat) ^ (2 * reach') * (1 - (INR i + 1) * eps ^ reach') ^ reach' <= (1 -
      (INR i + 1) * eps ^ reach') ^ ((steps P) - 1).

(** wu2025:4.3 (proved): all_i(share(P, prefix + i) <= max(0, 1 - (i + 1)*eps)**(steps(P) - 1)) and prefix_floor(P,
      prefix) > 0
    given prefix >= 1
    given prefix <= n
    given prefixed(P, prefix)
    where eps = least_prefixed(P, prefix) *)
Definition statement_wu2025_4_3 : Prop :=
  forall (t n : nat) (P : sequence t n) (prefix : nat),
    (0 < t)%nat ->
    (0 < n)%nat ->
    row_stochastic P ->
    let eps := least_prefixed P prefix in
    (prefix >= 1)%nat ->
    (prefix <= n)%nat ->
    prefixed P prefix ->
    (forall i, (i < n)%nat -> share P (prefix + i)%nat <= (Rmax 0 (1 - (INR i + 1) * eps)) ^ ((steps P) - 1)) /\
      (prefix_floor P prefix > 0).

(** wu2025:4.4 (proved): decay_constant(E, a) <= spread(E)/(1 + a)
    given n >= 2 *)
Definition statement_wu2025_4_4 : Prop :=
  forall (n : nat) (E : matrix n n) (a : R),
    (0 < n)%nat ->
    (forall i j, (i < n)%nat -> (j < n)%nat -> 0 < E i j) ->
    0 < a < 1 ->
    (n >= 2)%nat ->
    decay_constant E a <= spread E / (1 + a).

(** yudin2025:attention (proved): jacobian_norm() <= norm(W[0, 0], 2)*(norm(P[0, 0], 2) + 2*a*kappa*norm(X[0], 2)**2)
    given H == 1
    given L == 1
    given query_bias == none
    given mask == none
    given layernorm == none
    given mlp == none
    given skip == 0
    where a = norm(W_QK[0, 0], 2)/sqrt(d_qk)
    where kappa = top_shares(P[0, 0]) *)
Definition statement_yudin2025_attention : Prop :=
  forall (N : network),
    proper N ->
    let a := norm_2 (W_QK N 0%nat 0%nat) / sqrt (d_qk N) in
    let kappa := top_shares (P N 0%nat 0%nat) in
    ((heads N) = 1)%nat ->
    ((layers N) = 1)%nat ->
    query_bias_none N ->
    mask_none N ->
    layernorm_none N ->
    mlp_none N ->
    (skip_of N) = 0 ->
    jacobian_norm N <= norm_2 (W N 0%nat 0%nat) * (norm_2 (P N 0%nat 0%nat) + 2 * a * kappa * (norm_2 (X N 0%nat)) ^ 2).

(** yudin2025:softmax (proved): softmax_slope(c, T) <= top_share(c, T, 1)*(1 - top_share(c, T, 1) + top_share(c, T,
      2))/T
    given T > 0 *)
Definition statement_yudin2025_softmax : Prop :=
  forall (m : nat) (c : vector m) (T : R),
    (0 < m)%nat ->
    T > 0 ->
    softmax_slope c T <= top_share c T 1%nat * (1 - top_share c T 1%nat + top_share c T 2%nat) / T.

(** zhai2023:3.1 (proved): entropy_floor(n, logit_size(X, W)) <= row_entropy(X, W)
    given n >= 2 *)
Definition statement_zhai2023_3_1 : Prop :=
  forall (n d : nat) (X : matrix n d) (W : matrix d d),
    (0 < n)%nat ->
    (0 < d)%nat ->
    (n >= 2)%nat ->
    entropy_floor (INR n) (logit_size X W) <= row_entropy X W.

(* Without a theorem:
    own:stable-connected: its weights place eigenvalues by Ackermann's formula at every step of a search, and tend to
      infinity: the libraries used have neither that formula nor that the roots of a polynomial depend continuously on
      it; own_stable_every_rank has the masks with a Hamiltonian path *)
