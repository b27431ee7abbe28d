(** Every lemma of the prover about networks, from its text; printed by
    [python -m rankmath.certificates.coq_words]: do not edit.  The words are those of Network.v,
    the proofs those of the files Lemmas_*.v. *)
Require Import Reals Lra Lia Psatz.
From Rankmath Require Import Definitions Functions Norms Masks dong2021 Quantities.
From Rankmath Require Import Lemmas_attention Lemmas_entropy Lemmas_functions Lemmas_layer Lemmas_norms Lemmas_ranks
    Lemmas_reads Lemmas_shares Lemmas_signs Lemmas_spread Lemmas_tokens Network.
Local Open Scope R_scope.

(** n-one: 1 <= n *)
Theorem L_n_one :
  forall N, proper N ->
  1 <= (INR (tokens N)).
Proof. by_theorem Lemmas_functions.lemma_n_one. Qed.

(** d-one: 1 <= d *)
Theorem L_d_one :
  forall N, proper N ->
  1 <= (INR (dim N)).
Proof. by_theorem Lemmas_functions.lemma_d_one. Qed.

(** H-one: 1 <= H *)
Theorem L_H_one :
  forall N, proper N ->
  1 <= (INR (heads N)).
Proof. by_theorem Lemmas_functions.lemma_H_one. Qed.

(** L-one: 1 <= L *)
Theorem L_L_one :
  forall N, proper N ->
  1 <= (INR (layers N)).
Proof. by_theorem Lemmas_functions.lemma_L_one. Qed.

(** x-star-low: 5/4 <= x_star *)
Theorem L_x_star_low :
  forall N, proper N ->
  forall x_star, x_star_is x_star ->
  (5 / 4) <= x_star.
Proof. by_theorem Lemmas_functions.lemma_x_star_low. Qed.

(** x-star-high: x_star <= 1257/1000 *)
Theorem L_x_star_high :
  forall N, proper N ->
  forall x_star, x_star_is x_star ->
  x_star <= (1257 / 1000).
Proof. by_theorem Lemmas_functions.lemma_x_star_high. Qed.

(** e-low: 27/10 <= exp(1) *)
Theorem L_e_low :
  forall N, proper N ->
  (27 / 10) <= (exp 1).
Proof. by_theorem Lemmas_functions.lemma_e_low. Qed.

(** e-high: exp(1) <= 272/100 *)
Theorem L_e_high :
  forall N, proper N ->
  (exp 1) <= (272 / 100).
Proof. by_theorem Lemmas_functions.lemma_e_high. Qed.

(** degree-one: 1 <= in_degree *)
Theorem L_degree_one :
  forall N, proper N ->
  1 <= (in_degree N).
Proof. by_theorem Lemmas_attention.lemma_degree_one. Qed.

(** degree-n: in_degree <= n *)
Theorem L_degree_n :
  forall N, proper N ->
  (in_degree N) <= (INR (tokens N)).
Proof. by_theorem Lemmas_attention.lemma_degree_n. Qed.

(** r-one: 1 <= r *)
Theorem L_r_one :
  forall N, proper N ->
  forall r, is_radius N r ->
  1 <= (INR r).
Proof. by_theorem Lemmas_functions.lemma_r_one. Qed.

(** whole-two: 2 <= n *)
Theorem L_whole_two :
  forall N, proper N ->
  1 < (INR (tokens N)) ->
  2 <= (INR (tokens N)).
Proof. by_theorem Lemmas_functions.lemma_whole_two. Qed.

(** n-half: n <= 2*(n - 1) *)
Theorem L_n_half :
  forall N, proper N ->
  2 <= (INR (tokens N)) ->
  (INR (tokens N)) <= (2 * ((INR (tokens N)) - 1)).
Proof. by_theorem Lemmas_functions.lemma_n_half. Qed.

(** tanh-one: tanh(x) < 1 *)
Theorem L_tanh_one :
  forall N, proper N ->
  forall x : R,
  (tanh x) < 1.
Proof. by_theorem Lemmas_functions.lemma_tanh_one. Qed.

(** tanh-id: tanh(x) <= x *)
Theorem L_tanh_id :
  forall N, proper N ->
  forall x : R,
  0 <= x ->
  (tanh x) <= x.
Proof. by_theorem Lemmas_functions.lemma_tanh_id. Qed.

(** tanh-grows: tanh(x) <= tanh(y) *)
Theorem L_tanh_grows :
  forall N, proper N ->
  forall x y : R,
  x <= y ->
  (tanh x) <= (tanh y).
Proof. by_theorem Lemmas_functions.lemma_tanh_grows. Qed.

(** tanh-concave: x*tanh(y) <= y*tanh(x) *)
Theorem L_tanh_concave :
  forall N, proper N ->
  forall x y : R,
  0 <= x ->
  x <= y ->
  (x * (tanh y)) <= (y * (tanh x)).
Proof. by_theorem Lemmas_functions.lemma_tanh_concave. Qed.

(** tanhc-one: tanhc(x) <= 1 *)
Theorem L_tanhc_one :
  forall N, proper N ->
  forall x : R,
  (tanhc x) <= 1.
Proof. by_theorem Lemmas_functions.lemma_tanhc_one. Qed.

(** tanhc: x*tanhc(x) == tanh(x) *)
Theorem L_tanhc :
  forall N, proper N ->
  forall x : R,
  (x * (tanhc x)) = (tanh x).
Proof. by_theorem Lemmas_functions.lemma_tanhc. Qed.

(** exp-line: 1 + x <= exp(x) *)
Theorem L_exp_line :
  forall N, proper N ->
  forall x : R,
  (1 + x) <= (exp x).
Proof. by_theorem Lemmas_functions.lemma_exp_line. Qed.

(** exp-e: exp(1)*x <= exp(x) *)
Theorem L_exp_e :
  forall N, proper N ->
  forall x : R,
  ((exp 1) * x) <= (exp x).
Proof. by_theorem Lemmas_functions.lemma_exp_e. Qed.

(** exp-one: 1 <= exp(x) *)
Theorem L_exp_one :
  forall N, proper N ->
  forall x : R,
  0 <= x ->
  1 <= (exp x).
Proof. by_theorem Lemmas_functions.lemma_exp_one. Qed.

(** exp-grows: exp(x) <= exp(y) *)
Theorem L_exp_grows :
  forall N, proper N ->
  forall x y : R,
  x <= y ->
  (exp x) <= (exp y).
Proof. by_theorem Lemmas_functions.lemma_exp_grows. Qed.

(** expc-one: 1 <= expc(x) *)
Theorem L_expc_one :
  forall N, proper N ->
  forall x : R,
  0 <= x ->
  1 <= (expc x).
Proof. by_theorem Lemmas_functions.lemma_expc_one. Qed.

(** expc-exp: expc(x) <= exp(x) *)
Theorem L_expc_exp :
  forall N, proper N ->
  forall x : R,
  0 <= x ->
  (expc x) <= (exp x).
Proof. by_theorem Lemmas_functions.lemma_expc_exp. Qed.

(** expc-grows: expc(x) <= expc(y) *)
Theorem L_expc_grows :
  forall N, proper N ->
  forall x y : R,
  x <= y ->
  (expc x) <= (expc y).
Proof. by_theorem Lemmas_functions.lemma_expc_grows. Qed.

(** log-line: log(x) <= x - 1 *)
Theorem L_log_line :
  forall N, proper N ->
  forall x : R,
  0 < x ->
  (ln x) <= (x - 1).
Proof. by_theorem Lemmas_functions.lemma_log_line. Qed.

(** log-e: exp(1)*log(x) <= x *)
Theorem L_log_e :
  forall N, proper N ->
  forall x : R,
  0 < x ->
  ((exp 1) * (ln x)) <= x.
Proof. by_theorem Lemmas_signs.lemma_log_e. Qed.

(** log-grows: log(x) <= log(y) *)
Theorem L_log_grows :
  forall N, proper N ->
  forall x y : R,
  0 < x ->
  x <= y ->
  (ln x) <= (ln y).
Proof. by_theorem Lemmas_functions.lemma_log_grows. Qed.

(** log-one: 0 <= log(x) *)
Theorem L_log_one :
  forall N, proper N ->
  forall x : R,
  1 <= x ->
  0 <= (ln x).
Proof. by_theorem Lemmas_functions.lemma_log_one. Qed.

(** log-product: log(x) + log(y) <= 0 *)
Theorem L_log_product :
  forall N, proper N ->
  forall x y : R,
  0 < x ->
  0 < y ->
  (x * y) <= 1 ->
  ((ln x) + (ln y)) <= 0.
Proof. by_theorem Lemmas_signs.lemma_log_product. Qed.

(** log-product-low: 0 <= log(x) + log(y) *)
Theorem L_log_product_low :
  forall N, proper N ->
  forall x y : R,
  0 < x ->
  0 < y ->
  1 <= (x * y) ->
  0 <= ((ln x) + (ln y)).
Proof. by_theorem Lemmas_signs.lemma_log_product_low. Qed.

(** floor-high: floor(x) <= x *)
Theorem L_floor_high :
  forall N, proper N ->
  forall x : R,
  (IZR (Int_part x)) <= x.
Proof. by_theorem Lemmas_functions.lemma_floor_high. Qed.

(** floor-low: x < floor(x) + 1 *)
Theorem L_floor_low :
  forall N, proper N ->
  forall x : R,
  x < ((IZR (Int_part x)) + 1).
Proof. by_theorem Lemmas_functions.lemma_floor_low. Qed.

(** abs-high: x <= abs(x) *)
Theorem L_abs_high :
  forall N, proper N ->
  forall x : R,
  x <= (Rabs x).
Proof. by_theorem Lemmas_functions.lemma_abs_high. Qed.

(** abs-minus: -x <= abs(x) *)
Theorem L_abs_minus :
  forall N, proper N ->
  forall x : R,
  (- x) <= (Rabs x).
Proof. by_theorem Lemmas_signs.lemma_abs_minus. Qed.

(** abs-id: abs(x) <= x *)
Theorem L_abs_id :
  forall N, proper N ->
  forall x : R,
  0 <= x ->
  (Rabs x) <= x.
Proof. by_theorem Lemmas_signs.lemma_abs_id. Qed.

(** abs-neg: abs(x) <= -x *)
Theorem L_abs_neg :
  forall N, proper N ->
  forall x : R,
  x <= 0 ->
  (Rabs x) <= (- x).
Proof. by_theorem Lemmas_signs.lemma_abs_neg. Qed.

(** exp-under: exp(x) <= y *)
Theorem L_exp_under :
  forall N, proper N ->
  forall x y : R,
  0 < y ->
  x <= (ln y) ->
  (exp x) <= y.
Proof. by_theorem Lemmas_signs.lemma_exp_under. Qed.

(** under-exp: x <= exp(y) *)
Theorem L_under_exp :
  forall N, proper N ->
  forall x y : R,
  0 < x ->
  (ln x) <= y ->
  x <= (exp y).
Proof. by_theorem Lemmas_signs.lemma_under_exp. Qed.

(** log-under: log(x) <= y *)
Theorem L_log_under :
  forall N, proper N ->
  forall x y : R,
  0 < x ->
  x <= (exp y) ->
  (ln x) <= y.
Proof. by_theorem Lemmas_signs.lemma_log_under. Qed.

(** under-log: x <= log(y) *)
Theorem L_under_log :
  forall N, proper N ->
  forall x y : R,
  0 < y ->
  (exp x) <= y ->
  x <= (ln y).
Proof. by_theorem Lemmas_signs.lemma_under_log. Qed.

(** max-member: x <= max(x, y) *)
Theorem L_max_member :
  forall N, proper N ->
  forall x y : R,
  x <= (Rmax x y).
Proof. by_theorem Lemmas_functions.lemma_max_member. Qed.

(** max-member-3: x <= max(x, y, z) *)
Theorem L_max_member_3 :
  forall N, proper N ->
  forall x y z : R,
  x <= (Rmax x (Rmax y z)).
Proof. by_theorem Lemmas_functions.lemma_max_member_3. Qed.

(** min-member: min(x, y) <= x *)
Theorem L_min_member :
  forall N, proper N ->
  forall x y : R,
  (Rmin x y) <= x.
Proof. by_theorem Lemmas_functions.lemma_min_member. Qed.

(** min-member-3: min(x, y, z) <= x *)
Theorem L_min_member_3 :
  forall N, proper N ->
  forall x y z : R,
  (Rmin x (Rmin y z)) <= x.
Proof. by_theorem Lemmas_functions.lemma_min_member_3. Qed.

(** am-gm: 2*sqrt(x)*sqrt(y) <= x + y *)
Theorem L_am_gm :
  forall N, proper N ->
  forall x y : R,
  0 <= x ->
  0 <= y ->
  ((2 * (sqrt x)) * (sqrt y)) <= (x + y).
Proof. by_theorem Lemmas_functions.lemma_am_gm. Qed.

(** am-gm-3: 3*x**(1/3)*y**(1/3)*z**(1/3) <= x + y + z *)
Theorem L_am_gm_3 :
  forall N, proper N ->
  forall x y z : R,
  0 <= x ->
  0 <= y ->
  0 <= z ->
  (((3 * (rpow x (1 / 3))) * (rpow y (1 / 3))) * (rpow z (1 / 3))) <= ((x + y) + z).
Proof. by_theorem Lemmas_functions.lemma_am_gm_3. Qed.

(** root-sum: sqrt(x + y) <= sqrt(x) + sqrt(y) *)
Theorem L_root_sum :
  forall N, proper N ->
  forall x y : R,
  0 <= x ->
  0 <= y ->
  (sqrt (x + y)) <= ((sqrt x) + (sqrt y)).
Proof. by_theorem Lemmas_functions.lemma_root_sum. Qed.

(** cauchy-heads: sum_h(f*g)**2 <= sum_h(f**2)*sum_h(g**2) *)
Theorem L_cauchy_heads :
  forall N, proper N ->
  forall f g : nat -> R,
  ((sum (heads N) (fun h => ((f h) * (g h)))) ^ 2) <= ((sum (heads N) (fun h => ((f h) ^ 2))) * (sum (heads N) (fun h
    => ((g h) ^ 2)))).
Proof. by_theorem Lemmas_functions.lemma_cauchy_heads. Qed.

(** square-heads: sum_h(f)**2 <= H*sum_h(f**2) *)
Theorem L_square_heads :
  forall N, proper N ->
  forall f : nat -> R,
  ((sum (heads N) (fun h => (f h))) ^ 2) <= ((INR (heads N)) * (sum (heads N) (fun h => ((f h) ^ 2)))).
Proof. by_theorem Lemmas_functions.lemma_square_heads. Qed.

(** max-heads: sum_h(f) <= H*max_h(f) *)
Theorem L_max_heads :
  forall N, proper N ->
  forall f : nat -> R,
  (sum (heads N) (fun h => (f h))) <= ((INR (heads N)) * (maxi ((heads N) - 1) (fun h => (f h)))).
Proof. by_theorem Lemmas_functions.lemma_max_heads. Qed.

(** diameter-inf-2: diameter(X[t], inf) <= diameter(X[t], 2) *)
Theorem L_diameter_inf_2 :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (diameter (X N t) p_inf) <= (diameter (X N t) p_2).
Proof. by_theorem Lemmas_tokens.lemma_diameter_inf_2. Qed.

(** diameter-2-1: diameter(X[t], 2) <= diameter(X[t], 1) *)
Theorem L_diameter_2_1 :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (diameter (X N t) p_2) <= (diameter (X N t) p_1).
Proof. by_theorem Lemmas_tokens.lemma_diameter_2_1. Qed.

(** diameter-1-2: diameter(X[t], 1) <= sqrt(d)*diameter(X[t], 2) *)
Theorem L_diameter_1_2 :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (diameter (X N t) p_1) <= ((sqrt (INR (dim N))) * (diameter (X N t) p_2)).
Proof. by_theorem Lemmas_tokens.lemma_diameter_1_2. Qed.

(** diameter-2-inf: diameter(X[t], 2) <= sqrt(d)*diameter(X[t], inf) *)
Theorem L_diameter_2_inf :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (diameter (X N t) p_2) <= ((sqrt (INR (dim N))) * (diameter (X N t) p_inf)).
Proof. by_theorem Lemmas_tokens.lemma_diameter_2_inf. Qed.

(** diameter-2-interpolates: diameter(X[t], 2)**2 <= diameter(X[t], 1)*diameter(X[t], inf) *)
Theorem L_diameter_2_interpolates :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  ((diameter (X N t) p_2) ^ 2) <= ((diameter (X N t) p_1) * (diameter (X N t) p_inf)).
Proof. by_theorem Lemmas_tokens.lemma_diameter_2_interpolates. Qed.

(** mu-diameter: mu(X[t]) <= sqrt((n - 1)/2)*diameter(X[t], 2) *)
Theorem L_mu_diameter :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (mu (X N t)) <= ((sqrt (((INR (tokens N)) - 1) / 2)) * (diameter (X N t) p_2)).
Proof. by_theorem Lemmas_tokens.lemma_mu_diameter. Qed.

(** diameter-mu: diameter(X[t], 2) <= sqrt(2)*mu(X[t]) *)
Theorem L_diameter_mu :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (diameter (X N t) p_2) <= ((sqrt 2) * (mu (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_diameter_mu. Qed.

(** mu-frobenius: mu(X[t]) <= norm(X[t], frobenius) *)
Theorem L_mu_frobenius :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (mu (X N t)) <= (norm_frobenius (X N t)).
Proof. by_theorem Lemmas_tokens.lemma_mu_frobenius. Qed.

(** mu-longest: mu(X[t]) <= sqrt(n)*longest(X[t]) *)
Theorem L_mu_longest :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (mu (X N t)) <= ((sqrt (INR (tokens N))) * (longest (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_mu_longest. Qed.

(** mu-diameter-inf: mu(X[t]) <= sqrt(n*d)*diameter(X[t], inf)/2 *)
Theorem L_mu_diameter_inf :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (mu (X N t)) <= (((sqrt ((INR (tokens N)) * (INR (dim N)))) * (diameter (X N t) p_inf)) / 2).
Proof. by_theorem Lemmas_tokens.lemma_mu_diameter_inf. Qed.

(** residual-product: residual(X[t], one)*residual(X[t], inf) <= residual(X[t], composite)**2 *)
Theorem L_residual_product :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  ((residual_one (X N t)) * (residual_inf (X N t))) <= ((residual_composite (X N t)) ^ 2).
Proof. by_theorem Lemmas_tokens.lemma_residual_product. Qed.

(** residual-inf-diameter: residual(X[t], inf) <= diameter(X[t], 1) *)
Theorem L_residual_inf_diameter :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (residual_inf (X N t)) <= (diameter (X N t) p_1).
Proof. by_theorem Lemmas_tokens.lemma_residual_inf_diameter. Qed.

(** diameter-residual-inf: diameter(X[t], 1) <= 2*residual(X[t], inf) *)
Theorem L_diameter_residual_inf :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (diameter (X N t) p_1) <= (2 * (residual_inf (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_diameter_residual_inf. Qed.

(** diameter-residual-one: diameter(X[t], inf) <= residual(X[t], one) *)
Theorem L_diameter_residual_one :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (diameter (X N t) p_inf) <= (residual_one (X N t)).
Proof. by_theorem Lemmas_tokens.lemma_diameter_residual_one. Qed.

(** residual-one-diameter: residual(X[t], one) <= n*diameter(X[t], inf)/2 *)
Theorem L_residual_one_diameter :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (residual_one (X N t)) <= (((INR (tokens N)) * (diameter (X N t) p_inf)) / 2).
Proof. by_theorem Lemmas_tokens.lemma_residual_one_diameter. Qed.

(** diameter-residual-composite: diameter(X[t], 2) <= sqrt(2)*residual(X[t], composite) *)
Theorem L_diameter_residual_composite :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (diameter (X N t) p_2) <= ((sqrt 2) * (residual_composite (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_diameter_residual_composite. Qed.

(** mu-residual-composite-n: mu(X[t]) <= sqrt(n)*residual(X[t], composite) *)
Theorem L_mu_residual_composite_n :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (mu (X N t)) <= ((sqrt (INR (tokens N))) * (residual_composite (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_mu_residual_composite_n. Qed.

(** mu-residual-composite-d: mu(X[t]) <= sqrt(d)*residual(X[t], composite) *)
Theorem L_mu_residual_composite_d :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (mu (X N t)) <= ((sqrt (INR (dim N))) * (residual_composite (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_mu_residual_composite_d. Qed.

(** mu-residual-inf: mu(X[t]) <= sqrt(n)*residual(X[t], inf) *)
Theorem L_mu_residual_inf :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (mu (X N t)) <= ((sqrt (INR (tokens N))) * (residual_inf (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_mu_residual_inf. Qed.

(** mu-residual-one: mu(X[t]) <= sqrt(d)*residual(X[t], one) *)
Theorem L_mu_residual_one :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (mu (X N t)) <= ((sqrt (INR (dim N))) * (residual_one (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_mu_residual_one. Qed.

(** residual-inf-mu: residual(X[t], inf) <= sqrt(d)*mu(X[t]) *)
Theorem L_residual_inf_mu :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (residual_inf (X N t)) <= ((sqrt (INR (dim N))) * (mu (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_residual_inf_mu. Qed.

(** residual-one-mu: residual(X[t], one) <= sqrt(n)*mu(X[t]) *)
Theorem L_residual_one_mu :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (residual_one (X N t)) <= ((sqrt (INR (tokens N))) * (mu (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_residual_one_mu. Qed.

(** residual-composite-inf: residual(X[t], composite)**2 <= n*residual(X[t], inf)**2 *)
Theorem L_residual_composite_inf :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  ((residual_composite (X N t)) ^ 2) <= ((INR (tokens N)) * ((residual_inf (X N t)) ^ 2)).
Proof. by_theorem Lemmas_tokens.lemma_residual_composite_inf. Qed.

(** residual-composite-one: residual(X[t], composite)**2 <= d*residual(X[t], one)**2 *)
Theorem L_residual_composite_one :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  ((residual_composite (X N t)) ^ 2) <= ((INR (dim N)) * ((residual_one (X N t)) ^ 2)).
Proof. by_theorem Lemmas_tokens.lemma_residual_composite_one. Qed.

(** residual-composite-mu: residual(X[t], composite)**2 <= sqrt(n*d)*mu(X[t])**2 *)
Theorem L_residual_composite_mu :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  ((residual_composite (X N t)) ^ 2) <= ((sqrt ((INR (tokens N)) * (INR (dim N)))) * ((mu (X N t)) ^ 2)).
Proof. by_theorem Lemmas_tokens.lemma_residual_composite_mu. Qed.

(** residual-inf-one: residual(X[t], inf) <= d*residual(X[t], one) *)
Theorem L_residual_inf_one :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (residual_inf (X N t)) <= ((INR (dim N)) * (residual_one (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_residual_inf_one. Qed.

(** residual-one-inf: residual(X[t], one) <= n*residual(X[t], inf) *)
Theorem L_residual_one_inf :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (residual_one (X N t)) <= ((INR (tokens N)) * (residual_inf (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_residual_one_inf. Qed.

(** residual-norm[one,1]: residual(X[t], one) <= norm(X[t], 1) *)
Theorem L_residual_norm_one_1 :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (residual_one (X N t)) <= (norm_1 (X N t)).
Proof. by_theorem Lemmas_tokens.lemma_residual_norm_one. Qed.

(** residual-norm[inf,inf]: residual(X[t], inf) <= norm(X[t], inf) *)
Theorem L_residual_norm_inf_inf :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (residual_inf (X N t)) <= (norm_inf (X N t)).
Proof. by_theorem Lemmas_tokens.lemma_residual_norm_inf. Qed.

(** residual-norm[composite,composite]: residual(X[t], composite) <= norm(X[t], composite) *)
Theorem L_residual_norm_composite_composite :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (residual_composite (X N t)) <= (norm_composite (X N t)).
Proof. by_theorem Lemmas_tokens.lemma_residual_norm_composite. Qed.

(** diameter-longest: diameter(X[t], 2) <= 2*longest(X[t]) *)
Theorem L_diameter_longest :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (diameter (X N t) p_2) <= (2 * (longest (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_diameter_longest. Qed.

(** diameter-norm[1,inf]: diameter(X[t], 1) <= 2*norm(X[t], inf) *)
Theorem L_diameter_norm_1_inf :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (diameter (X N t) p_1) <= (2 * (norm_inf (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_diameter_norm_1_inf. Qed.

(** diameter-norm[inf,max]: diameter(X[t], inf) <= 2*norm(X[t], max) *)
Theorem L_diameter_norm_inf_max :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (diameter (X N t) p_inf) <= (2 * (norm_max (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_diameter_norm_inf_max. Qed.

(** diameter-spectral: diameter(X[t], 2) <= sqrt(2)*norm(X[t], 2) *)
Theorem L_diameter_spectral :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (diameter (X N t) p_2) <= ((sqrt 2) * (norm_2 (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_diameter_spectral. Qed.

(** longest-norm[2]: longest(X[t]) <= norm(X[t], 2) *)
Theorem L_longest_norm_2 :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (longest (X N t)) <= (norm_2 (X N t)).
Proof. by_theorem Lemmas_tokens.lemma_longest_norm_2. Qed.

(** longest-norm[inf]: longest(X[t]) <= norm(X[t], inf) *)
Theorem L_longest_norm_inf :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (longest (X N t)) <= (norm_inf (X N t)).
Proof. by_theorem Lemmas_tokens.lemma_longest_norm_inf. Qed.

(** longest-norm[frobenius]: longest(X[t]) <= norm(X[t], frobenius) *)
Theorem L_longest_norm_frobenius :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (longest (X N t)) <= (norm_frobenius (X N t)).
Proof. by_theorem Lemmas_tokens.lemma_longest_norm_frobenius. Qed.

(** frobenius-longest: norm(X[t], frobenius) <= sqrt(n)*longest(X[t]) *)
Theorem L_frobenius_longest :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_frobenius (X N t)) <= ((sqrt (INR (tokens N))) * (longest (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_frobenius_longest. Qed.

(** inf-longest: norm(X[t], inf) <= sqrt(d)*longest(X[t]) *)
Theorem L_inf_longest :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_inf (X N t)) <= ((sqrt (INR (dim N))) * (longest (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_inf_longest. Qed.

(** max-longest: norm(X[t], max) <= longest(X[t]) *)
Theorem L_max_longest :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_max (X N t)) <= (longest (X N t)).
Proof. by_theorem Lemmas_tokens.lemma_max_longest. Qed.

(** longest-max: longest(X[t]) <= sqrt(d)*norm(X[t], max) *)
Theorem L_longest_max :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (longest (X N t)) <= ((sqrt (INR (dim N))) * (norm_max (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_longest_max. Qed.

(** stable-rank-one: 1 <= stable_rank(X[t]) *)
Theorem L_stable_rank_one :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_2 (X N t)) > 0 ->
  1 <= (stable_rank (X N t)).
Proof. by_theorem Lemmas_tokens.lemma_stable_rank_one. Qed.

(** stable-rank-n: stable_rank(X[t]) <= n *)
Theorem L_stable_rank_n :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (stable_rank (X N t)) <= (INR (tokens N)).
Proof. by_theorem Lemmas_tokens.lemma_stable_rank_n. Qed.

(** stable-rank-d: stable_rank(X[t]) <= d *)
Theorem L_stable_rank_d :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (stable_rank (X N t)) <= (INR (dim N)).
Proof. by_theorem Lemmas_tokens.lemma_stable_rank_d. Qed.

(** stable-rank: stable_rank(X[t])*norm(X[t], 2)**2 == norm(X[t], frobenius)**2 *)
Theorem L_stable_rank :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  ((stable_rank (X N t)) * ((norm_2 (X N t)) ^ 2)) = ((norm_frobenius (X N t)) ^ 2).
Proof. by_theorem Lemmas_tokens.lemma_stable_rank. Qed.

(** token-norms[max,1,1]: norm(X[t], max) <= 1*norm(X[t], 1) *)
Theorem L_token_norms_max_1_1 :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_max (X N t)) <= (1 * (norm_1 (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_max_1. Qed.

(** token-norms[max,1,inf]: norm(X[t], max) <= 1*norm(X[t], inf) *)
Theorem L_token_norms_max_1_inf :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_max (X N t)) <= (1 * (norm_inf (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_max_inf. Qed.

(** token-norms[max,1,2]: norm(X[t], max) <= 1*norm(X[t], 2) *)
Theorem L_token_norms_max_1_2 :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_max (X N t)) <= (1 * (norm_2 (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_max_2. Qed.

(** token-norms[2,1,frobenius]: norm(X[t], 2) <= 1*norm(X[t], frobenius) *)
Theorem L_token_norms_2_1_frobenius :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_2 (X N t)) <= (1 * (norm_frobenius (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_2_frobenius. Qed.

(** token-norms[frobenius,sqrt(n),2]: norm(X[t], frobenius) <= sqrt(n)*norm(X[t], 2) *)
Theorem L_token_norms_frobenius_sqrt_n_2 :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_frobenius (X N t)) <= ((sqrt (INR (tokens N))) * (norm_2 (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_frobenius_n_2. Qed.

(** token-norms[frobenius,sqrt(d),2]: norm(X[t], frobenius) <= sqrt(d)*norm(X[t], 2) *)
Theorem L_token_norms_frobenius_sqrt_d_2 :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_frobenius (X N t)) <= ((sqrt (INR (dim N))) * (norm_2 (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_frobenius_d_2. Qed.

(** token-norms[1,n,max]: norm(X[t], 1) <= n*norm(X[t], max) *)
Theorem L_token_norms_1_n_max :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_1 (X N t)) <= ((INR (tokens N)) * (norm_max (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_1_max. Qed.

(** token-norms[inf,d,max]: norm(X[t], inf) <= d*norm(X[t], max) *)
Theorem L_token_norms_inf_d_max :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_inf (X N t)) <= ((INR (dim N)) * (norm_max (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_inf_max. Qed.

(** token-norms[1,sqrt(n),2]: norm(X[t], 1) <= sqrt(n)*norm(X[t], 2) *)
Theorem L_token_norms_1_sqrt_n_2 :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_1 (X N t)) <= ((sqrt (INR (tokens N))) * (norm_2 (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_1_2. Qed.

(** token-norms[inf,sqrt(d),2]: norm(X[t], inf) <= sqrt(d)*norm(X[t], 2) *)
Theorem L_token_norms_inf_sqrt_d_2 :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_inf (X N t)) <= ((sqrt (INR (dim N))) * (norm_2 (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_inf_2. Qed.

(** token-norms[2,sqrt(d),1]: norm(X[t], 2) <= sqrt(d)*norm(X[t], 1) *)
Theorem L_token_norms_2_sqrt_d_1 :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_2 (X N t)) <= ((sqrt (INR (dim N))) * (norm_1 (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_2_1. Qed.

(** token-norms[2,sqrt(n),inf]: norm(X[t], 2) <= sqrt(n)*norm(X[t], inf) *)
Theorem L_token_norms_2_sqrt_n_inf :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_2 (X N t)) <= ((sqrt (INR (tokens N))) * (norm_inf (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_2_inf. Qed.

(** token-norms[frobenius,sqrt(n),inf]: norm(X[t], frobenius) <= sqrt(n)*norm(X[t], inf) *)
Theorem L_token_norms_frobenius_sqrt_n_inf :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_frobenius (X N t)) <= ((sqrt (INR (tokens N))) * (norm_inf (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_frobenius_inf. Qed.

(** token-norms[frobenius,sqrt(d),1]: norm(X[t], frobenius) <= sqrt(d)*norm(X[t], 1) *)
Theorem L_token_norms_frobenius_sqrt_d_1 :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_frobenius (X N t)) <= ((sqrt (INR (dim N))) * (norm_1 (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_frobenius_1. Qed.

(** token-norms[frobenius,sqrt(n*d),max]: norm(X[t], frobenius) <= sqrt(n*d)*norm(X[t], max) *)
Theorem L_token_norms_frobenius_sqrt_n_d_max :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_frobenius (X N t)) <= ((sqrt ((INR (tokens N)) * (INR (dim N)))) * (norm_max (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_frobenius_max. Qed.

(** token-norms[2,1,composite]: norm(X[t], 2) <= 1*norm(X[t], composite) *)
Theorem L_token_norms_2_1_composite :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_2 (X N t)) <= (1 * (norm_composite (X N t))).
Proof. by_theorem Lemmas_norms.lemma_token_norms_2_composite. Qed.

(** matrix-norms[W,max,1,1]: norm(W[l, h], max) <= 1*norm(W[l, h], 1) *)
Theorem L_matrix_norms_W_max_1_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_max (W N l h)) <= (1 * (norm_1 (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_max_1. Qed.

(** matrix-norms[W,max,1,inf]: norm(W[l, h], max) <= 1*norm(W[l, h], inf) *)
Theorem L_matrix_norms_W_max_1_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_max (W N l h)) <= (1 * (norm_inf (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_max_inf. Qed.

(** matrix-norms[W,max,1,2]: norm(W[l, h], max) <= 1*norm(W[l, h], 2) *)
Theorem L_matrix_norms_W_max_1_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_max (W N l h)) <= (1 * (norm_2 (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_max_2. Qed.

(** matrix-norms[W,2,1,frobenius]: norm(W[l, h], 2) <= 1*norm(W[l, h], frobenius) *)
Theorem L_matrix_norms_W_2_1_frobenius :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_2 (W N l h)) <= (1 * (norm_frobenius (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_2_frobenius. Qed.

(** matrix-norms[W,frobenius,sqrt(d),2]: norm(W[l, h], frobenius) <= sqrt(d)*norm(W[l, h], 2) *)
Theorem L_matrix_norms_W_frobenius_sqrt_d_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_frobenius (W N l h)) <= ((sqrt (INR (dim N))) * (norm_2 (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_frobenius_2. Qed.

(** matrix-norms[W,1,sqrt(d),2]: norm(W[l, h], 1) <= sqrt(d)*norm(W[l, h], 2) *)
Theorem L_matrix_norms_W_1_sqrt_d_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_1 (W N l h)) <= ((sqrt (INR (dim N))) * (norm_2 (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_1_2. Qed.

(** matrix-norms[W,inf,sqrt(d),2]: norm(W[l, h], inf) <= sqrt(d)*norm(W[l, h], 2) *)
Theorem L_matrix_norms_W_inf_sqrt_d_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_inf (W N l h)) <= ((sqrt (INR (dim N))) * (norm_2 (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_inf_2. Qed.

(** matrix-norms[W,2,sqrt(d),1]: norm(W[l, h], 2) <= sqrt(d)*norm(W[l, h], 1) *)
Theorem L_matrix_norms_W_2_sqrt_d_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_2 (W N l h)) <= ((sqrt (INR (dim N))) * (norm_1 (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_2_1. Qed.

(** matrix-norms[W,2,sqrt(d),inf]: norm(W[l, h], 2) <= sqrt(d)*norm(W[l, h], inf) *)
Theorem L_matrix_norms_W_2_sqrt_d_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_2 (W N l h)) <= ((sqrt (INR (dim N))) * (norm_inf (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_2_inf. Qed.

(** matrix-norms[W,1,d,max]: norm(W[l, h], 1) <= d*norm(W[l, h], max) *)
Theorem L_matrix_norms_W_1_d_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_1 (W N l h)) <= ((INR (dim N)) * (norm_max (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_1_max. Qed.

(** matrix-norms[W,inf,d,max]: norm(W[l, h], inf) <= d*norm(W[l, h], max) *)
Theorem L_matrix_norms_W_inf_d_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_inf (W N l h)) <= ((INR (dim N)) * (norm_max (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_inf_max. Qed.

(** matrix-norms[W,frobenius,d,max]: norm(W[l, h], frobenius) <= d*norm(W[l, h], max) *)
Theorem L_matrix_norms_W_frobenius_d_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_frobenius (W N l h)) <= ((INR (dim N)) * (norm_max (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_frobenius_max. Qed.

(** matrix-norms[W,2,1,composite]: norm(W[l, h], 2) <= 1*norm(W[l, h], composite) *)
Theorem L_matrix_norms_W_2_1_composite :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_2 (W N l h)) <= (1 * (norm_composite (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_2_composite. Qed.

(** matrix-norms[W,frobenius,sqrt(d),1]: norm(W[l, h], frobenius) <= sqrt(d)*norm(W[l, h], 1) *)
Theorem L_matrix_norms_W_frobenius_sqrt_d_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_frobenius (W N l h)) <= ((sqrt (INR (dim N))) * (norm_1 (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_frobenius_1. Qed.

(** matrix-norms[W,frobenius,sqrt(d),inf]: norm(W[l, h], frobenius) <= sqrt(d)*norm(W[l, h], inf) *)
Theorem L_matrix_norms_W_frobenius_sqrt_d_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_frobenius (W N l h)) <= ((sqrt (INR (dim N))) * (norm_inf (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_frobenius_inf. Qed.

(** matrix-norms[W_QK,max,1,1]: norm(W_QK[l, h], max) <= 1*norm(W_QK[l, h], 1) *)
Theorem L_matrix_norms_W_QK_max_1_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_max (W_QK N l h)) <= (1 * (norm_1 (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_max_1. Qed.

(** matrix-norms[W_QK,max,1,inf]: norm(W_QK[l, h], max) <= 1*norm(W_QK[l, h], inf) *)
Theorem L_matrix_norms_W_QK_max_1_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_max (W_QK N l h)) <= (1 * (norm_inf (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_max_inf. Qed.

(** matrix-norms[W_QK,max,1,2]: norm(W_QK[l, h], max) <= 1*norm(W_QK[l, h], 2) *)
Theorem L_matrix_norms_W_QK_max_1_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_max (W_QK N l h)) <= (1 * (norm_2 (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_max_2. Qed.

(** matrix-norms[W_QK,2,1,frobenius]: norm(W_QK[l, h], 2) <= 1*norm(W_QK[l, h], frobenius) *)
Theorem L_matrix_norms_W_QK_2_1_frobenius :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_2 (W_QK N l h)) <= (1 * (norm_frobenius (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_2_frobenius. Qed.

(** matrix-norms[W_QK,frobenius,sqrt(d),2]: norm(W_QK[l, h], frobenius) <= sqrt(d)*norm(W_QK[l, h], 2) *)
Theorem L_matrix_norms_W_QK_frobenius_sqrt_d_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_frobenius (W_QK N l h)) <= ((sqrt (INR (dim N))) * (norm_2 (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_frobenius_2. Qed.

(** matrix-norms[W_QK,1,sqrt(d),2]: norm(W_QK[l, h], 1) <= sqrt(d)*norm(W_QK[l, h], 2) *)
Theorem L_matrix_norms_W_QK_1_sqrt_d_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_1 (W_QK N l h)) <= ((sqrt (INR (dim N))) * (norm_2 (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_1_2. Qed.

(** matrix-norms[W_QK,inf,sqrt(d),2]: norm(W_QK[l, h], inf) <= sqrt(d)*norm(W_QK[l, h], 2) *)
Theorem L_matrix_norms_W_QK_inf_sqrt_d_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_inf (W_QK N l h)) <= ((sqrt (INR (dim N))) * (norm_2 (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_inf_2. Qed.

(** matrix-norms[W_QK,2,sqrt(d),1]: norm(W_QK[l, h], 2) <= sqrt(d)*norm(W_QK[l, h], 1) *)
Theorem L_matrix_norms_W_QK_2_sqrt_d_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_2 (W_QK N l h)) <= ((sqrt (INR (dim N))) * (norm_1 (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_2_1. Qed.

(** matrix-norms[W_QK,2,sqrt(d),inf]: norm(W_QK[l, h], 2) <= sqrt(d)*norm(W_QK[l, h], inf) *)
Theorem L_matrix_norms_W_QK_2_sqrt_d_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_2 (W_QK N l h)) <= ((sqrt (INR (dim N))) * (norm_inf (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_2_inf. Qed.

(** matrix-norms[W_QK,1,d,max]: norm(W_QK[l, h], 1) <= d*norm(W_QK[l, h], max) *)
Theorem L_matrix_norms_W_QK_1_d_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_1 (W_QK N l h)) <= ((INR (dim N)) * (norm_max (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_1_max. Qed.

(** matrix-norms[W_QK,inf,d,max]: norm(W_QK[l, h], inf) <= d*norm(W_QK[l, h], max) *)
Theorem L_matrix_norms_W_QK_inf_d_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_inf (W_QK N l h)) <= ((INR (dim N)) * (norm_max (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_inf_max. Qed.

(** matrix-norms[W_QK,frobenius,d,max]: norm(W_QK[l, h], frobenius) <= d*norm(W_QK[l, h], max) *)
Theorem L_matrix_norms_W_QK_frobenius_d_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_frobenius (W_QK N l h)) <= ((INR (dim N)) * (norm_max (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_frobenius_max. Qed.

(** matrix-norms[W_QK,2,1,composite]: norm(W_QK[l, h], 2) <= 1*norm(W_QK[l, h], composite) *)
Theorem L_matrix_norms_W_QK_2_1_composite :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_2 (W_QK N l h)) <= (1 * (norm_composite (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_2_composite. Qed.

(** matrix-norms[W_QK,frobenius,sqrt(d),1]: norm(W_QK[l, h], frobenius) <= sqrt(d)*norm(W_QK[l, h], 1) *)
Theorem L_matrix_norms_W_QK_frobenius_sqrt_d_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_frobenius (W_QK N l h)) <= ((sqrt (INR (dim N))) * (norm_1 (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_frobenius_1. Qed.

(** matrix-norms[W_QK,frobenius,sqrt(d),inf]: norm(W_QK[l, h], frobenius) <= sqrt(d)*norm(W_QK[l, h], inf) *)
Theorem L_matrix_norms_W_QK_frobenius_sqrt_d_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_frobenius (W_QK N l h)) <= ((sqrt (INR (dim N))) * (norm_inf (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_matrix_norms_frobenius_inf. Qed.

(** frobenius-mixed[W,1]: norm(W[l, h], frobenius)**2 <= d*norm(W[l, h], 1)*norm(W[l, h], max) *)
Theorem L_frobenius_mixed_W_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  ((norm_frobenius (W N l h)) ^ 2) <= (((INR (dim N)) * (norm_1 (W N l h))) * (norm_max (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_frobenius_mixed_1. Qed.

(** frobenius-mixed[W,inf]: norm(W[l, h], frobenius)**2 <= d*norm(W[l, h], inf)*norm(W[l, h], max) *)
Theorem L_frobenius_mixed_W_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  ((norm_frobenius (W N l h)) ^ 2) <= (((INR (dim N)) * (norm_inf (W N l h))) * (norm_max (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_frobenius_mixed_inf. Qed.

(** frobenius-mixed[W_QK,1]: norm(W_QK[l, h], frobenius)**2 <= d*norm(W_QK[l, h], 1)*norm(W_QK[l, h], max) *)
Theorem L_frobenius_mixed_W_QK_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  ((norm_frobenius (W_QK N l h)) ^ 2) <= (((INR (dim N)) * (norm_1 (W_QK N l h))) * (norm_max (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_frobenius_mixed_1. Qed.

(** frobenius-mixed[W_QK,inf]: norm(W_QK[l, h], frobenius)**2 <= d*norm(W_QK[l, h], inf)*norm(W_QK[l, h], max) *)
Theorem L_frobenius_mixed_W_QK_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  ((norm_frobenius (W_QK N l h)) ^ 2) <= (((INR (dim N)) * (norm_inf (W_QK N l h))) * (norm_max (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_frobenius_mixed_inf. Qed.

(** form-inf-high[W,1]: form_norm(W[l, h], inf) <= d*norm(W[l, h], 1) *)
Theorem L_form_inf_high_W_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (form_norm (W N l h) p_inf) <= ((INR (dim N)) * (norm_1 (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_form_inf_high_1. Qed.

(** form-inf-high[W,inf]: form_norm(W[l, h], inf) <= d*norm(W[l, h], inf) *)
Theorem L_form_inf_high_W_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (form_norm (W N l h) p_inf) <= ((INR (dim N)) * (norm_inf (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_form_inf_high_inf. Qed.

(** form-inf-high[W,frobenius]: form_norm(W[l, h], inf) <= d*norm(W[l, h], frobenius) *)
Theorem L_form_inf_high_W_frobenius :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (form_norm (W N l h) p_inf) <= ((INR (dim N)) * (norm_frobenius (W N l h))).
Proof. by_theorem Lemmas_norms.lemma_form_inf_high_frobenius. Qed.

(** form-inf-high[W_QK,1]: form_norm(W_QK[l, h], inf) <= d*norm(W_QK[l, h], 1) *)
Theorem L_form_inf_high_W_QK_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (form_norm (W_QK N l h) p_inf) <= ((INR (dim N)) * (norm_1 (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_form_inf_high_1. Qed.

(** form-inf-high[W_QK,inf]: form_norm(W_QK[l, h], inf) <= d*norm(W_QK[l, h], inf) *)
Theorem L_form_inf_high_W_QK_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (form_norm (W_QK N l h) p_inf) <= ((INR (dim N)) * (norm_inf (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_form_inf_high_inf. Qed.

(** form-inf-high[W_QK,frobenius]: form_norm(W_QK[l, h], inf) <= d*norm(W_QK[l, h], frobenius) *)
Theorem L_form_inf_high_W_QK_frobenius :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (form_norm (W_QK N l h) p_inf) <= ((INR (dim N)) * (norm_frobenius (W_QK N l h))).
Proof. by_theorem Lemmas_norms.lemma_form_inf_high_frobenius. Qed.

(** form-inf-low[W,1]: norm(W[l, h], 1) <= form_norm(W[l, h], inf) *)
Theorem L_form_inf_low_W_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_1 (W N l h)) <= (form_norm (W N l h) p_inf).
Proof. by_theorem Lemmas_norms.lemma_form_inf_low_1. Qed.

(** form-inf-low[W,inf]: norm(W[l, h], inf) <= form_norm(W[l, h], inf) *)
Theorem L_form_inf_low_W_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_inf (W N l h)) <= (form_norm (W N l h) p_inf).
Proof. by_theorem Lemmas_norms.lemma_form_inf_low_inf. Qed.

(** form-inf-low[W,2]: norm(W[l, h], 2) <= form_norm(W[l, h], inf) *)
Theorem L_form_inf_low_W_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_2 (W N l h)) <= (form_norm (W N l h) p_inf).
Proof. by_theorem Lemmas_norms.lemma_form_inf_low_2. Qed.

(** form-inf-low[W,max]: norm(W[l, h], max) <= form_norm(W[l, h], inf) *)
Theorem L_form_inf_low_W_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_max (W N l h)) <= (form_norm (W N l h) p_inf).
Proof. by_theorem Lemmas_norms.lemma_form_inf_low_max. Qed.

(** form-inf-low[W_QK,1]: norm(W_QK[l, h], 1) <= form_norm(W_QK[l, h], inf) *)
Theorem L_form_inf_low_W_QK_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_1 (W_QK N l h)) <= (form_norm (W_QK N l h) p_inf).
Proof. by_theorem Lemmas_norms.lemma_form_inf_low_1. Qed.

(** form-inf-low[W_QK,inf]: norm(W_QK[l, h], inf) <= form_norm(W_QK[l, h], inf) *)
Theorem L_form_inf_low_W_QK_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_inf (W_QK N l h)) <= (form_norm (W_QK N l h) p_inf).
Proof. by_theorem Lemmas_norms.lemma_form_inf_low_inf. Qed.

(** form-inf-low[W_QK,2]: norm(W_QK[l, h], 2) <= form_norm(W_QK[l, h], inf) *)
Theorem L_form_inf_low_W_QK_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_2 (W_QK N l h)) <= (form_norm (W_QK N l h) p_inf).
Proof. by_theorem Lemmas_norms.lemma_form_inf_low_2. Qed.

(** form-inf-low[W_QK,max]: norm(W_QK[l, h], max) <= form_norm(W_QK[l, h], inf) *)
Theorem L_form_inf_low_W_QK_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_max (W_QK N l h)) <= (form_norm (W_QK N l h) p_inf).
Proof. by_theorem Lemmas_norms.lemma_form_inf_low_max. Qed.

(** least-singular[W]: sqrt(d)*least_singular(W[l, h]) <= norm(W[l, h], frobenius) *)
Theorem L_least_singular_W :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  ((sqrt (INR (dim N))) * (least_singular (W N l h))) <= (norm_frobenius (W N l h)).
Proof. by_theorem Lemmas_norms.lemma_least_singular. Qed.

(** least-singular[W_QK]: sqrt(d)*least_singular(W_QK[l, h]) <= norm(W_QK[l, h], frobenius) *)
Theorem L_least_singular_W_QK :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  ((sqrt (INR (dim N))) * (least_singular (W_QK N l h))) <= (norm_frobenius (W_QK N l h)).
Proof. by_theorem Lemmas_norms.lemma_least_singular. Qed.

(** least-singular-spectral[W]: least_singular(W[l, h]) <= norm(W[l, h], 2) *)
Theorem L_least_singular_spectral_W :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (least_singular (W N l h)) <= (norm_2 (W N l h)).
Proof. by_theorem Lemmas_norms.lemma_least_singular_spectral. Qed.

(** least-singular-spectral[W_QK]: least_singular(W_QK[l, h]) <= norm(W_QK[l, h], 2) *)
Theorem L_least_singular_spectral_W_QK :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (least_singular (W_QK N l h)) <= (norm_2 (W_QK N l h)).
Proof. by_theorem Lemmas_norms.lemma_least_singular_spectral. Qed.

(** product-norm: product_norm(2) <= prod_l(norm(W[l, 0], 2)) *)
Theorem L_product_norm :
  forall N, proper N ->
  (product_norm N p_2) <= (prodf (layers N) (fun l => (norm_2 (W N l 0%nat)))).
Proof. intros. exact (lemma_product_norm (dim N) (fun l => W N l 0%nat) (layers N)). Qed.

(** attention-max: norm(P[l, h], max) <= 1 *)
Theorem L_attention_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_max (P N l h)) <= 1.
Proof. by_theorem Lemmas_attention.lemma_attention_max. Qed.

(** attention-max[P0]: norm(P0[l, h], max) <= 1 *)
Theorem L_attention_max_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_max (P0 N l h)) <= 1.
Proof. by_theorem Lemmas_attention.lemma_attention_max. Qed.

(** attention-max-low: 1 <= n*norm(P[l, h], max) *)
Theorem L_attention_max_low :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  1 <= ((INR (tokens N)) * (norm_max (P N l h))).
Proof. by_theorem Lemmas_attention.lemma_attention_max_low. Qed.

(** attention-max-low[P0]: 1 <= n*norm(P0[l, h], max) *)
Theorem L_attention_max_low_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  1 <= ((INR (tokens N)) * (norm_max (P0 N l h))).
Proof. by_theorem Lemmas_attention.lemma_attention_max_low. Qed.

(** attention-one: norm(P[l, h], 1) <= n*norm(P[l, h], max) *)
Theorem L_attention_one :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_1 (P N l h)) <= ((INR (tokens N)) * (norm_max (P N l h))).
Proof. by_theorem Lemmas_attention.lemma_attention_one. Qed.

(** attention-one[P0]: norm(P0[l, h], 1) <= n*norm(P0[l, h], max) *)
Theorem L_attention_one_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_1 (P0 N l h)) <= ((INR (tokens N)) * (norm_max (P0 N l h))).
Proof. by_theorem Lemmas_attention.lemma_attention_one. Qed.

(** attention-one-low: 1 <= norm(P[l, h], 1) *)
Theorem L_attention_one_low :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  1 <= (norm_1 (P N l h)).
Proof. by_theorem Lemmas_attention.lemma_attention_one_low. Qed.

(** attention-one-low[P0]: 1 <= norm(P0[l, h], 1) *)
Theorem L_attention_one_low_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  1 <= (norm_1 (P0 N l h)).
Proof. by_theorem Lemmas_attention.lemma_attention_one_low. Qed.

(** attention-spectral: norm(P[l, h], 2) <= sqrt(norm(P[l, h], 1)) *)
Theorem L_attention_spectral :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_2 (P N l h)) <= (sqrt (norm_1 (P N l h))).
Proof. by_theorem Lemmas_attention.lemma_attention_spectral. Qed.

(** attention-spectral[P0]: norm(P0[l, h], 2) <= sqrt(norm(P0[l, h], 1)) *)
Theorem L_attention_spectral_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_2 (P0 N l h)) <= (sqrt (norm_1 (P0 N l h))).
Proof. by_theorem Lemmas_attention.lemma_attention_spectral. Qed.

(** attention-spectral-low: 1 <= norm(P[l, h], 2) *)
Theorem L_attention_spectral_low :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  1 <= (norm_2 (P N l h)).
Proof. by_theorem Lemmas_attention.lemma_attention_spectral_low. Qed.

(** attention-spectral-low[P0]: 1 <= norm(P0[l, h], 2) *)
Theorem L_attention_spectral_low_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  1 <= (norm_2 (P0 N l h)).
Proof. by_theorem Lemmas_attention.lemma_attention_spectral_low. Qed.

(** attention-frobenius: norm(P[l, h], frobenius) <= sqrt(n*norm(P[l, h], max)) *)
Theorem L_attention_frobenius :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_frobenius (P N l h)) <= (sqrt ((INR (tokens N)) * (norm_max (P N l h)))).
Proof. by_theorem Lemmas_attention.lemma_attention_frobenius. Qed.

(** attention-frobenius[P0]: norm(P0[l, h], frobenius) <= sqrt(n*norm(P0[l, h], max)) *)
Theorem L_attention_frobenius_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_frobenius (P0 N l h)) <= (sqrt ((INR (tokens N)) * (norm_max (P0 N l h)))).
Proof. by_theorem Lemmas_attention.lemma_attention_frobenius. Qed.

(** attention-2F: norm(P[l, h], 2) <= norm(P[l, h], frobenius) *)
Theorem L_attention_2F :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_2 (P N l h)) <= (norm_frobenius (P N l h)).
Proof. by_theorem Lemmas_attention.lemma_attention_2F. Qed.

(** attention-2F[P0]: norm(P0[l, h], 2) <= norm(P0[l, h], frobenius) *)
Theorem L_attention_2F_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_2 (P0 N l h)) <= (norm_frobenius (P0 N l h)).
Proof. by_theorem Lemmas_attention.lemma_attention_2F. Qed.

(** attention-inf: norm(P[l, h], inf) == 1 *)
Theorem L_attention_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_inf (P N l h)) = 1.
Proof. by_theorem Lemmas_signs.lemma_attention_inf. Qed.

(** attention-inf[P0]: norm(P0[l, h], inf) == 1 *)
Theorem L_attention_inf_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_inf (P0 N l h)) = 1.
Proof. by_theorem Lemmas_signs.lemma_attention_inf. Qed.

(** attention-positive[max]: 0 < norm(P[l, h], max) *)
Theorem L_attention_positive_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  0 < (norm_max (P N l h)).
Proof. by_theorem Lemmas_signs.lemma_attention_max_positive. Qed.

(** attention-positive[max][P0]: 0 < norm(P0[l, h], max) *)
Theorem L_attention_positive_max_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  0 < (norm_max (P0 N l h)).
Proof. by_theorem Lemmas_signs.lemma_attention_max_positive. Qed.

(** attention-positive[1]: 0 < norm(P[l, h], 1) *)
Theorem L_attention_positive_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  0 < (norm_1 (P N l h)).
Proof. by_theorem Lemmas_signs.lemma_attention_one_positive. Qed.

(** attention-positive[1][P0]: 0 < norm(P0[l, h], 1) *)
Theorem L_attention_positive_1_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  0 < (norm_1 (P0 N l h)).
Proof. by_theorem Lemmas_signs.lemma_attention_one_positive. Qed.

(** attention-positive[2]: 0 < norm(P[l, h], 2) *)
Theorem L_attention_positive_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  0 < (norm_2 (P N l h)).
Proof. by_theorem Lemmas_signs.lemma_attention_spectral_positive. Qed.

(** attention-positive[2][P0]: 0 < norm(P0[l, h], 2) *)
Theorem L_attention_positive_2_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  0 < (norm_2 (P0 N l h)).
Proof. by_theorem Lemmas_signs.lemma_attention_spectral_positive. Qed.

(** attention-positive[frobenius]: 0 < norm(P[l, h], frobenius) *)
Theorem L_attention_positive_frobenius :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  0 < (norm_frobenius (P N l h)).
Proof. by_theorem Lemmas_signs.lemma_attention_frobenius_positive. Qed.

(** attention-positive[frobenius][P0]: 0 < norm(P0[l, h], frobenius) *)
Theorem L_attention_positive_frobenius_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  0 < (norm_frobenius (P0 N l h)).
Proof. by_theorem Lemmas_signs.lemma_attention_frobenius_positive. Qed.

(** dobrushin-one: dobrushin(P[l, h]) <= 1 *)
Theorem L_dobrushin_one :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (dobrushin (P N l h)) <= 1.
Proof. by_theorem Lemmas_attention.lemma_dobrushin_one. Qed.

(** dobrushin-one[P0]: dobrushin(P0[l, h]) <= 1 *)
Theorem L_dobrushin_one_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (dobrushin (P0 N l h)) <= 1.
Proof. by_theorem Lemmas_attention.lemma_dobrushin_one. Qed.

(** dobrushin-epsilon: dobrushin(P[l, h]) <= 1 - n*epsilon(P[l, h]) *)
Theorem L_dobrushin_epsilon :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  (dobrushin (P N l h)) <= (1 - ((INR (tokens N)) * (epsilon N l h))).
Proof. by_theorem Lemmas_attention.lemma_dobrushin_epsilon. Qed.

(** dobrushin-epsilon[P0]: dobrushin(P0[l, h]) <= 1 - n*epsilon(P0[l, h]) *)
Theorem L_dobrushin_epsilon_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  (dobrushin (P0 N l h)) <= (1 - ((INR (tokens N)) * (epsilon0 N l h))).
Proof. by_theorem Lemmas_attention.lemma_dobrushin_epsilon. Qed.

(** epsilon-n: n*epsilon(P[l, h]) <= 1 *)
Theorem L_epsilon_n :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  ((INR (tokens N)) * (epsilon N l h)) <= 1.
Proof. by_theorem Lemmas_attention.lemma_epsilon_n. Qed.

(** epsilon-n[P0]: n*epsilon(P0[l, h]) <= 1 *)
Theorem L_epsilon_n_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  ((INR (tokens N)) * (epsilon0 N l h)) <= 1.
Proof. by_theorem Lemmas_attention.lemma_epsilon_n. Qed.

(** epsilon-degree: in_degree*epsilon(P[l, h]) <= 1 *)
Theorem L_epsilon_degree :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  ((in_degree N) * (epsilon N l h)) <= 1.
Proof. by_theorem Lemmas_attention.lemma_epsilon_degree. Qed.

(** epsilon-degree[P0]: in_degree*epsilon(P0[l, h]) <= 1 *)
Theorem L_epsilon_degree_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  ((in_degree N) * (epsilon0 N l h)) <= 1.
Proof. by_theorem Lemmas_attention.lemma_epsilon_degree. Qed.

(** epsilon-range: 1 <= epsilon(P[l, h])*(1 + (in_degree - 1)*exp(logit_range(P[l, h]))) *)
Theorem L_epsilon_range :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  1 <= ((epsilon N l h) * (1 + (((in_degree N) - 1) * (exp (logit_range N l h))))).
Proof. by_theorem Lemmas_attention.lemma_epsilon_range. Qed.

(** epsilon-one: epsilon(P[l, h]) <= 1 *)
Theorem L_epsilon_one :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (epsilon N l h) <= 1.
Proof. by_theorem Lemmas_attention.lemma_epsilon_one. Qed.

(** epsilon-one[P0]: epsilon(P0[l, h]) <= 1 *)
Theorem L_epsilon_one_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (epsilon0 N l h) <= 1.
Proof. by_theorem Lemmas_attention.lemma_epsilon_one. Qed.

(** entropy-log: entropy(P[l, h]) <= log(n) *)
Theorem L_entropy_log :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (entropy (P N l h)) <= (ln (INR (tokens N))).
Proof. by_theorem Lemmas_attention.lemma_entropy_log. Qed.

(** entropy-log[P0]: entropy(P0[l, h]) <= log(n) *)
Theorem L_entropy_log_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (entropy (P0 N l h)) <= (ln (INR (tokens N))).
Proof. by_theorem Lemmas_attention.lemma_entropy_log. Qed.

(** q-max[mean]: q_max(P[l, h], mean) <= 1 *)
Theorem L_q_max_mean :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  plain N ->
  (q_max_mean N l h) <= 1.
Proof. by_theorem Lemmas_attention.lemma_q_max. Qed.

(** q-max[composite]: q_max(P[l, h], composite) <= 1 *)
Theorem L_q_max_composite :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  forall center, are_centers N center ->
  plain N ->
  (q_max_composite N center l h) <= 1.
Proof. by_theorem Lemmas_attention.lemma_q_max. Qed.

(** q-max-low[mean]: 1 <= n*q_max(P[l, h], mean) *)
Theorem L_q_max_low_mean :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  plain N ->
  1 <= ((INR (tokens N)) * (q_max_mean N l h)).
Proof. by_theorem Lemmas_attention.lemma_q_max_low. Qed.

(** q-max-low[composite]: 1 <= n*q_max(P[l, h], composite) *)
Theorem L_q_max_low_composite :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  forall center, are_centers N center ->
  plain N ->
  1 <= ((INR (tokens N)) * (q_max_composite N center l h)).
Proof. by_theorem Lemmas_attention.lemma_q_max_low. Qed.

(** q-min[mean]: n*q_min(P[l, h], mean) <= 1 *)
Theorem L_q_min_mean :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  plain N ->
  ((INR (tokens N)) * (q_min_mean N l h)) <= 1.
Proof. by_theorem Lemmas_attention.lemma_q_min. Qed.

(** q-min[composite]: n*q_min(P[l, h], composite) <= 1 *)
Theorem L_q_min_composite :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  forall center, are_centers N center ->
  plain N ->
  ((INR (tokens N)) * (q_min_composite N center l h)) <= 1.
Proof. by_theorem Lemmas_attention.lemma_q_min. Qed.

(** gamma: gamma(P[l, h])**2 <= n*q_max(P[l, h], composite) *)
Theorem L_gamma :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  forall center, are_centers N center ->
  plain N ->
  ((gamma N center l h) ^ 2) <= ((INR (tokens N)) * (q_max_composite N center l h)).
Proof. by_gamma. Qed.

(** delta-mean[1]: delta(P[l, h], mean) <= form_norm(W_QK[l, h], 1)*diameter(X[l], 1)**2/sqrt(d_qk) *)
Theorem L_delta_mean_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  plain N ->
  norm_after N ->
  (delta_mean N l h) <= (((form_norm (W_QK N l h) p_1) * ((diameter (X N l) p_1) ^ 2)) / (sqrt (d_qk N))).
Proof. by_form delta_form_N. Qed.

(** delta-mean[2]: delta(P[l, h], mean) <= form_norm(W_QK[l, h], 2)*diameter(X[l], 2)**2/sqrt(d_qk) *)
Theorem L_delta_mean_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  plain N ->
  norm_after N ->
  (delta_mean N l h) <= (((form_norm (W_QK N l h) p_2) * ((diameter (X N l) p_2) ^ 2)) / (sqrt (d_qk N))).
Proof. by_form delta_form_N. Qed.

(** delta-mean[inf]: delta(P[l, h], mean) <= form_norm(W_QK[l, h], inf)*diameter(X[l], inf)**2/sqrt(d_qk) *)
Theorem L_delta_mean_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  plain N ->
  norm_after N ->
  (delta_mean N l h) <= (((form_norm (W_QK N l h) p_inf) * ((diameter (X N l) p_inf) ^ 2)) / (sqrt (d_qk N))).
Proof. by_form delta_form_N. Qed.

(** dobrushin-tanh[1]: dobrushin(P[l, h]) <= tanh(form_norm(W_QK[l, h], 1)*diameter(X[l], 1)**2/(4*sqrt(d_qk))) *)
Theorem L_dobrushin_tanh_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  plain N ->
  norm_after N ->
  mask_padding N ->
  (dobrushin (P N l h)) <= (tanh (((form_norm (W_QK N l h) p_1) * ((diameter (X N l) p_1) ^ 2)) / (4 * (sqrt (d_qk
    N))))).
Proof. by_form dobrushin_form_N. Qed.

(** dobrushin-tanh[2]: dobrushin(P[l, h]) <= tanh(form_norm(W_QK[l, h], 2)*diameter(X[l], 2)**2/(4*sqrt(d_qk))) *)
Theorem L_dobrushin_tanh_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  plain N ->
  norm_after N ->
  mask_padding N ->
  (dobrushin (P N l h)) <= (tanh (((form_norm (W_QK N l h) p_2) * ((diameter (X N l) p_2) ^ 2)) / (4 * (sqrt (d_qk
    N))))).
Proof. by_form dobrushin_form_N. Qed.

(** dobrushin-tanh[inf]: dobrushin(P[l, h]) <= tanh(form_norm(W_QK[l, h], inf)*diameter(X[l], inf)**2/(4*sqrt(d_qk)))
    *)
Theorem L_dobrushin_tanh_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  plain N ->
  norm_after N ->
  mask_padding N ->
  (dobrushin (P N l h)) <= (tanh (((form_norm (W_QK N l h) p_inf) * ((diameter (X N l) p_inf) ^ 2)) / (4 * (sqrt (d_qk
    N))))).
Proof. by_form dobrushin_form_N. Qed.

(** dobrushin-range: dobrushin(P[l, h]) <= tanh(logit_range(P[l, h])/2) *)
Theorem L_dobrushin_range :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_padding N ->
  (dobrushin (P N l h)) <= (tanh ((logit_range N l h) / 2)).
Proof. by_theorem Lemmas_attention.lemma_dobrushin_range. Qed.

(** layer-dobrushin[1]: diameter(X[l+1], 1) <= sum_h(operator_norm(W[l, h], 1)*dobrushin(P[l, h]))*diameter(X[l], 1)
    *)
Theorem L_layer_dobrushin_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  (diameter (X N (S l)) p_1) <= ((sum (heads N) (fun h => ((operator_norm (W N l h) p_1) * (dobrushin (P N l h))))) *
    (diameter (X N l) p_1)).
Proof. by_theorem Lemmas_layer.lemma_layer_dobrushin_1. Qed.

(** layer-dobrushin[2]: diameter(X[l+1], 2) <= sum_h(operator_norm(W[l, h], 2)*dobrushin(P[l, h]))*diameter(X[l], 2)
    *)
Theorem L_layer_dobrushin_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  (diameter (X N (S l)) p_2) <= ((sum (heads N) (fun h => ((operator_norm (W N l h) p_2) * (dobrushin (P N l h))))) *
    (diameter (X N l) p_2)).
Proof. by_theorem Lemmas_layer.lemma_layer_dobrushin_2. Qed.

(** layer-dobrushin[inf]: diameter(X[l+1], inf) <= sum_h(operator_norm(W[l, h], inf)*dobrushin(P[l,
    h]))*diameter(X[l], inf) *)
Theorem L_layer_dobrushin_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  (diameter (X N (S l)) p_inf) <= ((sum (heads N) (fun h => ((operator_norm (W N l h) p_inf) * (dobrushin (P N l
    h))))) * (diameter (X N l) p_inf)).
Proof. by_theorem Lemmas_layer.lemma_layer_dobrushin_inf. Qed.

(** layer-skip[1]: diameter(X[l+1], 1) <= abs(skip)*diameter(X[l], 1) + sum_h(operator_norm(W[l, h], 1)*dobrushin(P[l,
    h]))*diameter(X[l], 1) *)
Theorem L_layer_skip_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  (diameter (X N (S l)) p_1) <= (((Rabs (skip_of N)) * (diameter (X N l) p_1)) + ((sum (heads N) (fun h =>
    ((operator_norm (W N l h) p_1) * (dobrushin (P N l h))))) * (diameter (X N l) p_1))).
Proof. by_theorem Lemmas_layer.lemma_layer_skip_1. Qed.

(** layer-skip[2]: diameter(X[l+1], 2) <= abs(skip)*diameter(X[l], 2) + sum_h(operator_norm(W[l, h], 2)*dobrushin(P[l,
    h]))*diameter(X[l], 2) *)
Theorem L_layer_skip_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  (diameter (X N (S l)) p_2) <= (((Rabs (skip_of N)) * (diameter (X N l) p_2)) + ((sum (heads N) (fun h =>
    ((operator_norm (W N l h) p_2) * (dobrushin (P N l h))))) * (diameter (X N l) p_2))).
Proof. by_theorem Lemmas_layer.lemma_layer_skip_2. Qed.

(** layer-skip[inf]: diameter(X[l+1], inf) <= abs(skip)*diameter(X[l], inf) + sum_h(operator_norm(W[l, h],
    inf)*dobrushin(P[l, h]))*diameter(X[l], inf) *)
Theorem L_layer_skip_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  (diameter (X N (S l)) p_inf) <= (((Rabs (skip_of N)) * (diameter (X N l) p_inf)) + ((sum (heads N) (fun h =>
    ((operator_norm (W N l h) p_inf) * (dobrushin (P N l h))))) * (diameter (X N l) p_inf))).
Proof. by_theorem Lemmas_layer.lemma_layer_skip_inf. Qed.

(** layer-mu-one: mu(X[l+1]) <= sum_h(norm(W[l, h], 2)*norm(P[l, h], 2))*mu(X[l]) *)
Theorem L_layer_mu_one :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  (mu (X N (S l))) <= ((sum (heads N) (fun h => ((norm_2 (W N l h)) * (norm_2 (P N l h))))) * (mu (X N l))).
Proof. by_theorem Lemmas_layer.lemma_layer_mu_one. Qed.

(** sphere-unit: longest(X[t]) == 1 *)
Theorem L_sphere_unit :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  norm_after N ->
  layernorm_sphere N ->
  (longest (X N t)) = 1.
Proof. by_theorem Lemmas_layer.lemma_sphere_unit. Qed.

(** stable-tokens: diameter(X[t], 2) <= 2 *)
Theorem L_stable_tokens :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  norm_after N ->
  layernorm_sphere N ->
  (diameter (X N t) p_2) <= 2.
Proof. by_theorem Lemmas_layer.lemma_stable_tokens. Qed.

(** lipschitz-none: lipschitz(l) == 1 *)
Theorem L_lipschitz_none :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  mlp_none N ->
  (lipschitz N l) = 1.
Proof. by_no_mlp. Qed.

(** layer-residual-inf: residual(X[l+1], inf) <= sum_h(norm(W[l, h], inf))*residual(X[l], inf) *)
Theorem L_layer_residual_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  (residual_inf (X N (S l))) <= ((sum (heads N) (fun h => (norm_inf (W N l h)))) * (residual_inf (X N l))).
Proof. by_theorem Lemmas_layer.lemma_layer_residual_inf. Qed.

(** layer-residual-one: residual(X[l+1], one) <= sum_h(norm(P[l, h], 1)*norm(W[l, h], 1))*residual(X[l], one) *)
Theorem L_layer_residual_one :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  (residual_one (X N (S l))) <= ((sum (heads N) (fun h => ((norm_1 (P N l h)) * (norm_1 (W N l h))))) * (residual_one
    (X N l))).
Proof. by_theorem Lemmas_layer.lemma_layer_residual_one. Qed.

(** layer-residual-composite: residual(X[l+1], composite)**2 <= sum_h(norm(P[l, h], 1)*norm(W[l, h],
    1))*sum_h(norm(W[l, h], inf))*residual(X[l], composite)**2 *)
Theorem L_layer_residual_composite :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  ((residual_composite (X N (S l))) ^ 2) <= (((sum (heads N) (fun h => ((norm_1 (P N l h)) * (norm_1 (W N l h))))) *
    (sum (heads N) (fun h => (norm_inf (W N l h))))) * ((residual_composite (X N l)) ^ 2)).
Proof. by_theorem Lemmas_layer.lemma_layer_residual_composite. Qed.

(** layer-mu-radius: mu(X[l+1]) <= sqrt(n)*sum_h(norm(W[l, h], 2))*residual(X[l], inf) *)
Theorem L_layer_mu_radius :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  (mu (X N (S l))) <= (((sqrt (INR (tokens N))) * (sum (heads N) (fun h => (norm_2 (W N l h))))) * (residual_inf (X N
    l))).
Proof. by_theorem Lemmas_layer.lemma_layer_mu_radius. Qed.

(** layer-cross: diameter(X[l+1], inf) <= sum_h(norm(W[l, h], max)*dobrushin(P[l, h]))*diameter(X[l], 1) *)
Theorem L_layer_cross :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  (diameter (X N (S l)) p_inf) <= ((sum (heads N) (fun h => ((norm_max (W N l h)) * (dobrushin (P N l h))))) *
    (diameter (X N l) p_1)).
Proof. by_theorem Lemmas_layer.lemma_layer_cross. Qed.

(** layer-row: diameter(X[l+1], 2) <= sum_h(sqrt(d)*norm(W[l, h], max)*dobrushin(P[l, h]))*diameter(X[l], 1) *)
Theorem L_layer_row :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  (diameter (X N (S l)) p_2) <= ((sum (heads N) (fun h => (((sqrt (INR (dim N))) * (norm_max (W N l h))) * (dobrushin
    (P N l h))))) * (diameter (X N l) p_1)).
Proof. by_theorem Lemmas_layer.lemma_layer_row. Qed.

(** residual-composite-diameter: residual(X[t], composite)**2 <= (n - 1)*diameter(X[t], 1)*diameter(X[t], inf) *)
Theorem L_residual_composite_diameter :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  ((residual_composite (X N t)) ^ 2) <= ((((INR (tokens N)) - 1) * (diameter (X N t) p_1)) * (diameter (X N t)
    p_inf)).
Proof. by_theorem Lemmas_tokens.lemma_residual_composite_diameter. Qed.

(** residual-inf-centroid: n*residual(X[t], inf) <= (n - 1)*diameter(X[t], 1) *)
Theorem L_residual_inf_centroid :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  ((INR (tokens N)) * (residual_inf (X N t))) <= (((INR (tokens N)) - 1) * (diameter (X N t) p_1)).
Proof. by_theorem Lemmas_tokens.lemma_residual_inf_centroid. Qed.

(** mu-rank[norm(X[t], 2)]: mu(X[t]) <= sqrt(n - 1)*norm(X[t], 2) *)
Theorem L_mu_rank_norm_X_t_2 :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (mu (X N t)) <= ((sqrt ((INR (tokens N)) - 1)) * (norm_2 (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_mu_rank_2. Qed.

(** mu-rank[residual(X[t], composite)]: mu(X[t]) <= sqrt(n - 1)*residual(X[t], composite) *)
Theorem L_mu_rank_residual_X_t_composite :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (mu (X N t)) <= ((sqrt ((INR (tokens N)) - 1)) * (residual_composite (X N t))).
Proof. by_theorem Lemmas_tokens.lemma_mu_rank_composite. Qed.

(** contraction-blocks: prod_k(contraction(k)) <= (1 - min_l(epsilon(P[l, 0]))**r)**floor(L/r) *)
Theorem L_contraction_blocks :
  forall N, proper N ->
  forall r, is_radius N r ->
  self_loops N ->
  quasi_strongly_connected N ->
  (prodf (blocks r (layers N)) (fun k => (contraction N r k))) <= ((1 - ((minf ((layers N) - 1) (fun l => (epsilon N l
    0%nat))) ^ r)) ^ ((layers N) / r)%nat).
Proof. by_blocks. Qed.

(** entropy-degree: entropy(P[l, h]) <= log(in_degree) *)
Theorem L_entropy_degree :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (entropy (P N l h)) <= (ln (in_degree N)).
Proof. by_theorem Lemmas_entropy.lemma_entropy_degree. Qed.

(** entropy-degree[P0]: entropy(P0[l, h]) <= log(in_degree) *)
Theorem L_entropy_degree_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (entropy (P0 N l h)) <= (ln (in_degree N)).
Proof. by_theorem Lemmas_entropy.lemma_entropy_degree. Qed.

(** entropy-causal: entropy(P[l, h]) <= 0 *)
Theorem L_entropy_causal :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_causal_window N ->
  (entropy (P N l h)) <= 0.
Proof. intros N Hp l Hl h Hh C. in_words. match goal with |- context [P N l h] => destruct (as_head N Hp l h) as [d
    [dq [hd [Y [_ [M [-> _]]]]]]] | _ => destruct (as_head0 N Hp l h) as [d [dq [hd [Y [M ->]]]]] end. apply
    lemma_entropy_causal; rewrite ?M; first [now apply first_alone|needed]. Qed.

(** entropy-causal[P0]: entropy(P0[l, h]) <= 0 *)
Theorem L_entropy_causal_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_causal_window N ->
  (entropy (P0 N l h)) <= 0.
Proof. intros N Hp l Hl h Hh C. in_words. match goal with |- context [P N l h] => destruct (as_head N Hp l h) as [d
    [dq [hd [Y [_ [M [-> _]]]]]]] | _ => destruct (as_head0 N Hp l h) as [d [dq [hd [Y [M ->]]]]] end. apply
    lemma_entropy_causal; rewrite ?M; first [now apply first_alone|needed]. Qed.

(** attention-max-causal: 1 <= norm(P[l, h], max) *)
Theorem L_attention_max_causal :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_causal_window N ->
  1 <= (norm_max (P N l h)).
Proof. intros N Hp l Hl h Hh C. in_words. match goal with |- context [P N l h] => destruct (as_head N Hp l h) as [d
    [dq [hd [Y [_ [M [-> _]]]]]]] | _ => destruct (as_head0 N Hp l h) as [d [dq [hd [Y [M ->]]]]] end. apply
    lemma_attention_max_causal; rewrite ?M; first [now apply first_alone|needed]. Qed.

(** attention-max-causal[P0]: 1 <= norm(P0[l, h], max) *)
Theorem L_attention_max_causal_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_causal_window N ->
  1 <= (norm_max (P0 N l h)).
Proof. intros N Hp l Hl h Hh C. in_words. match goal with |- context [P N l h] => destruct (as_head N Hp l h) as [d
    [dq [hd [Y [_ [M [-> _]]]]]]] | _ => destruct (as_head0 N Hp l h) as [d [dq [hd [Y [M ->]]]]] end. apply
    lemma_attention_max_causal; rewrite ?M; first [now apply first_alone|needed]. Qed.

(** entropy-hoeffding: log(n) <= entropy(P[l, h]) + logit_range(P[l, h])**2/8 *)
Theorem L_entropy_hoeffding :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  (ln (INR (tokens N))) <= ((entropy (P N l h)) + (((logit_range N l h) ^ 2) / 8)).
Proof. by_theorem Lemmas_entropy.lemma_entropy_hoeffding. Qed.

(** entropy-range: log(n) <= entropy(P[l, h]) + logit_range(P[l, h]) *)
Theorem L_entropy_range :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  (ln (INR (tokens N))) <= ((entropy (P N l h)) + (logit_range N l h)).
Proof. by_theorem Lemmas_entropy.lemma_entropy_range. Qed.

(** entropy-max: 0 <= entropy(P[l, h]) + log(norm(P[l, h], max)) *)
Theorem L_entropy_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  0 <= ((entropy (P N l h)) + (ln (norm_max (P N l h)))).
Proof. by_theorem Lemmas_entropy.lemma_entropy_max. Qed.

(** entropy-max[P0]: 0 <= entropy(P0[l, h]) + log(norm(P0[l, h], max)) *)
Theorem L_entropy_max_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  0 <= ((entropy (P0 N l h)) + (ln (norm_max (P0 N l h)))).
Proof. by_theorem Lemmas_entropy.lemma_entropy_max. Qed.

(** entropy-epsilon: n*epsilon(P[l, h])*log(n) <= entropy(P[l, h]) *)
Theorem L_entropy_epsilon :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  (((INR (tokens N)) * (epsilon N l h)) * (ln (INR (tokens N)))) <= (entropy (P N l h)).
Proof. by_theorem Lemmas_entropy.lemma_entropy_epsilon. Qed.

(** entropy-epsilon[P0]: n*epsilon(P0[l, h])*log(n) <= entropy(P0[l, h]) *)
Theorem L_entropy_epsilon_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  (((INR (tokens N)) * (epsilon0 N l h)) * (ln (INR (tokens N)))) <= (entropy (P0 N l h)).
Proof. by_theorem Lemmas_entropy.lemma_entropy_epsilon. Qed.

(** epsilon-max: epsilon(P[l, h]) <= norm(P[l, h], max) *)
Theorem L_epsilon_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (epsilon N l h) <= (norm_max (P N l h)).
Proof. by_theorem Lemmas_entropy.lemma_epsilon_max. Qed.

(** epsilon-max[P0]: epsilon(P0[l, h]) <= norm(P0[l, h], max) *)
Theorem L_epsilon_max_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (epsilon0 N l h) <= (norm_max (P0 N l h)).
Proof. by_theorem Lemmas_entropy.lemma_epsilon_max. Qed.

(** max-epsilon: norm(P[l, h], max) + (n - 1)*epsilon(P[l, h]) <= 1 *)
Theorem L_max_epsilon :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  ((norm_max (P N l h)) + (((INR (tokens N)) - 1) * (epsilon N l h))) <= 1.
Proof. by_theorem Lemmas_entropy.lemma_max_epsilon. Qed.

(** max-epsilon[P0]: norm(P0[l, h], max) + (n - 1)*epsilon(P0[l, h]) <= 1 *)
Theorem L_max_epsilon_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  ((norm_max (P0 N l h)) + (((INR (tokens N)) - 1) * (epsilon0 N l h))) <= 1.
Proof. by_theorem Lemmas_entropy.lemma_max_epsilon. Qed.

(** attention-one-epsilon: norm(P[l, h], 1) + n*(n - 1)*epsilon(P[l, h]) <= n *)
Theorem L_attention_one_epsilon :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  ((norm_1 (P N l h)) + (((INR (tokens N)) * ((INR (tokens N)) - 1)) * (epsilon N l h))) <= (INR (tokens N)).
Proof. by_theorem Lemmas_entropy.lemma_attention_one_epsilon. Qed.

(** attention-one-epsilon[P0]: norm(P0[l, h], 1) + n*(n - 1)*epsilon(P0[l, h]) <= n *)
Theorem L_attention_one_epsilon_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  ((norm_1 (P0 N l h)) + (((INR (tokens N)) * ((INR (tokens N)) - 1)) * (epsilon0 N l h))) <= (INR (tokens N)).
Proof. by_theorem Lemmas_entropy.lemma_attention_one_epsilon. Qed.

(** attention-frobenius-low: 1 <= norm(P[l, h], frobenius) *)
Theorem L_attention_frobenius_low :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  1 <= (norm_frobenius (P N l h)).
Proof. by_theorem Lemmas_entropy.lemma_attention_frobenius_low. Qed.

(** attention-frobenius-low[P0]: 1 <= norm(P0[l, h], frobenius) *)
Theorem L_attention_frobenius_low_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  1 <= (norm_frobenius (P0 N l h)).
Proof. by_theorem Lemmas_entropy.lemma_attention_frobenius_low. Qed.

(** attention-F2: norm(P[l, h], frobenius) <= sqrt(n)*norm(P[l, h], 2) *)
Theorem L_attention_F2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_frobenius (P N l h)) <= ((sqrt (INR (tokens N))) * (norm_2 (P N l h))).
Proof. by_theorem Lemmas_entropy.lemma_attention_F2. Qed.

(** attention-F2[P0]: norm(P0[l, h], frobenius) <= sqrt(n)*norm(P0[l, h], 2) *)
Theorem L_attention_F2_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_frobenius (P0 N l h)) <= ((sqrt (INR (tokens N))) * (norm_2 (P0 N l h))).
Proof. by_theorem Lemmas_entropy.lemma_attention_F2. Qed.

(** attention-2max: norm(P[l, h], max) <= norm(P[l, h], 2) *)
Theorem L_attention_2max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_max (P N l h)) <= (norm_2 (P N l h)).
Proof. by_theorem Lemmas_entropy.lemma_attention_2max. Qed.

(** attention-2max[P0]: norm(P0[l, h], max) <= norm(P0[l, h], 2) *)
Theorem L_attention_2max_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_max (P0 N l h)) <= (norm_2 (P0 N l h)).
Proof. by_theorem Lemmas_entropy.lemma_attention_2max. Qed.

(** attention-max-one: norm(P[l, h], max) <= norm(P[l, h], 1) *)
Theorem L_attention_max_one :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_max (P N l h)) <= (norm_1 (P N l h)).
Proof. by_theorem Lemmas_entropy.lemma_attention_max_one. Qed.

(** attention-max-one[P0]: norm(P0[l, h], max) <= norm(P0[l, h], 1) *)
Theorem L_attention_max_one_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_max (P0 N l h)) <= (norm_1 (P0 N l h)).
Proof. by_theorem Lemmas_entropy.lemma_attention_max_one. Qed.

(** attention-one-spectral: norm(P[l, h], 1) <= sqrt(n)*norm(P[l, h], 2) *)
Theorem L_attention_one_spectral :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_1 (P N l h)) <= ((sqrt (INR (tokens N))) * (norm_2 (P N l h))).
Proof. by_theorem Lemmas_entropy.lemma_attention_one_spectral. Qed.

(** attention-one-spectral[P0]: norm(P0[l, h], 1) <= sqrt(n)*norm(P0[l, h], 2) *)
Theorem L_attention_one_spectral_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_1 (P0 N l h)) <= ((sqrt (INR (tokens N))) * (norm_2 (P0 N l h))).
Proof. by_theorem Lemmas_entropy.lemma_attention_one_spectral. Qed.

(** dobrushin-max: dobrushin(P[l, h]) <= n*norm(P[l, h], max)/2 *)
Theorem L_dobrushin_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (dobrushin (P N l h)) <= (((INR (tokens N)) * (norm_max (P N l h))) / 2).
Proof. by_theorem Lemmas_entropy.lemma_dobrushin_max. Qed.

(** dobrushin-max[P0]: dobrushin(P0[l, h]) <= n*norm(P0[l, h], max)/2 *)
Theorem L_dobrushin_max_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (dobrushin (P0 N l h)) <= (((INR (tokens N)) * (norm_max (P0 N l h))) / 2).
Proof. by_theorem Lemmas_entropy.lemma_dobrushin_max. Qed.

(** epsilon-exp: epsilon(P[l, h])*exp(logit_range(P[l, h])) <= 1 *)
Theorem L_epsilon_exp :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  ((epsilon N l h) * (exp (logit_range N l h))) <= 1.
Proof. by_theorem Lemmas_entropy.lemma_epsilon_exp. Qed.

(** max-exp: norm(P[l, h], max)*(exp(logit_range(P[l, h])) + n - 1) <= exp(logit_range(P[l, h])) *)
Theorem L_max_exp :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  ((norm_max (P N l h)) * (((exp (logit_range N l h)) + (INR (tokens N))) - 1)) <= (exp (logit_range N l h)).
Proof. by_theorem Lemmas_entropy.lemma_max_exp. Qed.

(** epsilon-low: 1 <= in_degree*epsilon(P[l, h])*exp(logit_range(P[l, h])) *)
Theorem L_epsilon_low :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  1 <= (((in_degree N) * (epsilon N l h)) * (exp (logit_range N l h))).
Proof. by_theorem Lemmas_reads.lemma_epsilon_low_degree. Qed.

(** max-range: n*norm(P[l, h], max) <= exp(logit_range(P[l, h])) *)
Theorem L_max_range :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  ((INR (tokens N)) * (norm_max (P N l h))) <= (exp (logit_range N l h)).
Proof. by_theorem Lemmas_entropy.lemma_max_range. Qed.

(** range-longest: logit_range(P[l, h]) <= norm(W_QK[l, h], 2)*longest(X[l])*diameter(X[l], 2)/sqrt(d_qk) *)
Theorem L_range_longest :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  plain N ->
  norm_after N ->
  query_bias_none N ->
  (logit_range N l h) <= ((((norm_2 (W_QK N l h)) * (longest (X N l))) * (diameter (X N l) p_2)) / (sqrt (d_qk N))).
Proof. intros. in_words. now apply range_longest_N. Qed.

(** layer-skip-low[1]: abs(skip)*diameter(X[l], 1) <= diameter(X[l+1], 1) + sum_h(operator_norm(W[l, h],
    1)*dobrushin(P[l, h]))*diameter(X[l], 1) *)
Theorem L_layer_skip_low_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  ((Rabs (skip_of N)) * (diameter (X N l) p_1)) <= ((diameter (X N (S l)) p_1) + ((sum (heads N) (fun h =>
    ((operator_norm (W N l h) p_1) * (dobrushin (P N l h))))) * (diameter (X N l) p_1))).
Proof. by_theorem Lemmas_layer.lemma_layer_skip_low_1. Qed.

(** layer-skip-low[2]: abs(skip)*diameter(X[l], 2) <= diameter(X[l+1], 2) + sum_h(operator_norm(W[l, h],
    2)*dobrushin(P[l, h]))*diameter(X[l], 2) *)
Theorem L_layer_skip_low_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  ((Rabs (skip_of N)) * (diameter (X N l) p_2)) <= ((diameter (X N (S l)) p_2) + ((sum (heads N) (fun h =>
    ((operator_norm (W N l h) p_2) * (dobrushin (P N l h))))) * (diameter (X N l) p_2))).
Proof. by_theorem Lemmas_layer.lemma_layer_skip_low_2. Qed.

(** layer-skip-low[inf]: abs(skip)*diameter(X[l], inf) <= diameter(X[l+1], inf) + sum_h(operator_norm(W[l, h],
    inf)*dobrushin(P[l, h]))*diameter(X[l], inf) *)
Theorem L_layer_skip_low_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  ((Rabs (skip_of N)) * (diameter (X N l) p_inf)) <= ((diameter (X N (S l)) p_inf) + ((sum (heads N) (fun h =>
    ((operator_norm (W N l h) p_inf) * (dobrushin (P N l h))))) * (diameter (X N l) p_inf))).
Proof. by_theorem Lemmas_layer.lemma_layer_skip_low_inf. Qed.

(** layer-mu-skip: mu(X[l+1]) <= abs(skip)*mu(X[l]) + sum_h(norm(W[l, h], 2)*norm(P[l, h], 2))*mu(X[l]) *)
Theorem L_layer_mu_skip :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  (mu (X N (S l))) <= (((Rabs (skip_of N)) * (mu (X N l))) + ((sum (heads N) (fun h => ((norm_2 (W N l h)) * (norm_2
    (P N l h))))) * (mu (X N l)))).
Proof. by_theorem Lemmas_layer.lemma_layer_mu_skip. Qed.

(** layer-mu-skip-low: abs(skip)*mu(X[l]) <= mu(X[l+1]) + sum_h(norm(W[l, h], 2)*norm(P[l, h], 2))*mu(X[l]) *)
Theorem L_layer_mu_skip_low :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  ((Rabs (skip_of N)) * (mu (X N l))) <= ((mu (X N (S l))) + ((sum (heads N) (fun h => ((norm_2 (W N l h)) * (norm_2
    (P N l h))))) * (mu (X N l)))).
Proof. by_theorem Lemmas_layer.lemma_layer_mu_skip_low. Qed.

(** layer-residual-inf-skip: residual(X[l+1], inf) <= abs(skip)*residual(X[l], inf) + sum_h(norm(W[l, h],
    inf))*residual(X[l], inf) *)
Theorem L_layer_residual_inf_skip :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  (residual_inf (X N (S l))) <= (((Rabs (skip_of N)) * (residual_inf (X N l))) + ((sum (heads N) (fun h => (norm_inf
    (W N l h)))) * (residual_inf (X N l)))).
Proof. by_theorem Lemmas_layer.lemma_layer_residual_inf_skip. Qed.

(** layer-residual-one-skip: residual(X[l+1], one) <= abs(skip)*residual(X[l], one) + sum_h(norm(P[l, h], 1)*norm(W[l,
    h], 1))*residual(X[l], one) *)
Theorem L_layer_residual_one_skip :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  (residual_one (X N (S l))) <= (((Rabs (skip_of N)) * (residual_one (X N l))) + ((sum (heads N) (fun h => ((norm_1 (P
    N l h)) * (norm_1 (W N l h))))) * (residual_one (X N l)))).
Proof. by_theorem Lemmas_layer.lemma_layer_residual_one_skip. Qed.

(** layer-longest: longest(X[l+1]) <= abs(skip)*longest(X[l]) + sum_h(norm(W[l, h], 2))*longest(X[l]) *)
Theorem L_layer_longest :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  bias_none N ->
  (longest (X N (S l))) <= (((Rabs (skip_of N)) * (longest (X N l))) + ((sum (heads N) (fun h => (norm_2 (W N l h))))
    * (longest (X N l)))).
Proof. by_theorem Lemmas_layer.lemma_layer_longest. Qed.

(** layer-norm-inf: norm(X[l+1], inf) <= abs(skip)*norm(X[l], inf) + sum_h(norm(W[l, h], inf))*norm(X[l], inf) *)
Theorem L_layer_norm_inf :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  bias_none N ->
  (norm_inf (X N (S l))) <= (((Rabs (skip_of N)) * (norm_inf (X N l))) + ((sum (heads N) (fun h => (norm_inf (W N l
    h)))) * (norm_inf (X N l)))).
Proof. by_theorem Lemmas_layer.lemma_layer_norm_inf. Qed.

(** layer-norm-max: norm(X[l+1], max) <= abs(skip)*norm(X[l], max) + sum_h(norm(W[l, h], 1))*norm(X[l], max) *)
Theorem L_layer_norm_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  bias_none N ->
  (norm_max (X N (S l))) <= (((Rabs (skip_of N)) * (norm_max (X N l))) + ((sum (heads N) (fun h => (norm_1 (W N l
    h)))) * (norm_max (X N l)))).
Proof. by_theorem Lemmas_layer.lemma_layer_norm_max. Qed.

(** layer-norm-2[2]: norm(X[l+1], 2) <= abs(skip)*norm(X[l], 2) + sum_h(norm(W[l, h], 2)*norm(P[l, h], 2))*norm(X[l],
    2) *)
Theorem L_layer_norm_2_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  bias_none N ->
  (norm_2 (X N (S l))) <= (((Rabs (skip_of N)) * (norm_2 (X N l))) + ((sum (heads N) (fun h => ((norm_2 (W N l h)) *
    (norm_2 (P N l h))))) * (norm_2 (X N l)))).
Proof. by_theorem Lemmas_layer.lemma_layer_norm_2. Qed.

(** layer-norm-2[frobenius]: norm(X[l+1], frobenius) <= abs(skip)*norm(X[l], frobenius) + sum_h(norm(W[l, h],
    2)*norm(P[l, h], 2))*norm(X[l], frobenius) *)
Theorem L_layer_norm_2_frobenius :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  bias_none N ->
  (norm_frobenius (X N (S l))) <= (((Rabs (skip_of N)) * (norm_frobenius (X N l))) + ((sum (heads N) (fun h =>
    ((norm_2 (W N l h)) * (norm_2 (P N l h))))) * (norm_frobenius (X N l)))).
Proof. by_theorem Lemmas_layer.lemma_layer_norm_frobenius. Qed.

(** layer-norm-one: norm(X[l+1], 1) <= abs(skip)*norm(X[l], 1) + sum_h(norm(P[l, h], 1)*norm(W[l, h], 1))*norm(X[l],
    1) *)
Theorem L_layer_norm_one :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  bias_none N ->
  (norm_1 (X N (S l))) <= (((Rabs (skip_of N)) * (norm_1 (X N l))) + ((sum (heads N) (fun h => ((norm_1 (P N l h)) *
    (norm_1 (W N l h))))) * (norm_1 (X N l)))).
Proof. by_theorem Lemmas_layer.lemma_layer_norm_one. Qed.

(** sphere-frobenius: norm(X[t], frobenius) == sqrt(n) *)
Theorem L_sphere_frobenius :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  norm_after N ->
  layernorm_sphere N ->
  (norm_frobenius (X N t)) = (sqrt (INR (tokens N))).
Proof. by_theorem Lemmas_layer.lemma_sphere_frobenius. Qed.

(** sphere-cosine: diameter(X[t], 2)**2 == 2 - 2*cosine(X[t]) *)
Theorem L_sphere_cosine :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  norm_after N ->
  layernorm_sphere N ->
  ((diameter (X N t) p_2) ^ 2) = (2 - (2 * (cosine (X N t)))).
Proof. by_theorem Lemmas_layer.lemma_sphere_cosine. Qed.

(** cosine-high: cosine(X[t]) <= 1 *)
Theorem L_cosine_high :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (cosine (X N t)) <= 1.
Proof. by_theorem Lemmas_layer.lemma_cosine_high. Qed.

(** cosine-low: -1 <= cosine(X[t]) *)
Theorem L_cosine_low :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (- 1) <= (cosine (X N t)).
Proof. by_theorem Lemmas_layer.lemma_cosine_low. Qed.

(** residual-jung: residual(X[t], inf) <= sqrt(d/2)*diameter(X[t], 2) *)
Theorem L_residual_jung :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (residual_inf (X N t)) <= ((sqrt ((INR (dim N)) / 2)) * (diameter (X N t) p_2)).
Proof. by_theorem Lemmas_spread.lemma_jung. Qed.

(** centred-mu: centred_norm(X[t]) <= mu(X[t]) *)
Theorem L_centred_mu :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (centred_norm (X N t)) <= (mu (X N t)).
Proof. by_theorem Lemmas_spread.lemma_centred_mu. Qed.

(** mu-centred-d: mu(X[t]) <= sqrt(d)*centred_norm(X[t]) *)
Theorem L_mu_centred_d :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (mu (X N t)) <= ((sqrt (INR (dim N))) * (centred_norm (X N t))).
Proof. by_theorem Lemmas_spread.lemma_mu_centred_d. Qed.

(** mu-centred-n: mu(X[t]) <= sqrt(n - 1)*centred_norm(X[t]) *)
Theorem L_mu_centred_n :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (mu (X N t)) <= ((sqrt ((INR (tokens N)) - 1)) * (centred_norm (X N t))).
Proof. by_theorem Lemmas_spread.lemma_mu_centred_n. Qed.

(** centred-spectral: centred_norm(X[t]) <= norm(X[t], 2) *)
Theorem L_centred_spectral :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (centred_norm (X N t)) <= (norm_2 (X N t)).
Proof. by_theorem Lemmas_spread.lemma_centred_spectral. Qed.

(** diameter-centred: diameter(X[t], 2) <= sqrt(2)*centred_norm(X[t]) *)
Theorem L_diameter_centred :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (diameter (X N t) p_2) <= ((sqrt 2) * (centred_norm (X N t))).
Proof. by_theorem Lemmas_spread.lemma_diameter_centred. Qed.

(** centred-residual[1,composite]: centred_norm(X[t]) <= 1*residual(X[t], composite) *)
Theorem L_centred_residual_1_composite :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (centred_norm (X N t)) <= (1 * (residual_composite (X N t))).
Proof. by_theorem Lemmas_spread.lemma_centred_residual. Qed.

(** centred-residual[sqrt(n),inf]: centred_norm(X[t]) <= sqrt(n)*residual(X[t], inf) *)
Theorem L_centred_residual_sqrt_n_inf :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (centred_norm (X N t)) <= ((sqrt (INR (tokens N))) * (residual_inf (X N t))).
Proof. by_theorem Lemmas_spread.lemma_centred_residual_inf. Qed.

(** centred-residual[sqrt(d),one]: centred_norm(X[t]) <= sqrt(d)*residual(X[t], one) *)
Theorem L_centred_residual_sqrt_d_one :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (centred_norm (X N t)) <= ((sqrt (INR (dim N))) * (residual_one (X N t))).
Proof. by_theorem Lemmas_spread.lemma_centred_residual_one. Qed.

(** centred-about: centred_norm(X[t]) <= about_mean(X[t]) *)
Theorem L_centred_about :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (centred_norm (X N t)) <= (about_mean (X N t)).
Proof. by_theorem Lemmas_spread.lemma_centred_about. Qed.

(** residual-about: residual(X[t], composite) <= about_mean(X[t]) *)
Theorem L_residual_about :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (residual_composite (X N t)) <= (about_mean (X N t)).
Proof. by_theorem Lemmas_spread.lemma_residual_about. Qed.

(** residuals-about: residual(X[t], one)*residual(X[t], inf) <= about_mean(X[t])**2 *)
Theorem L_residuals_about :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  ((residual_one (X N t)) * (residual_inf (X N t))) <= ((about_mean (X N t)) ^ 2).
Proof. by_theorem Lemmas_spread.lemma_residuals_about. Qed.

(** about-centred: about_mean(X[t])**2 <= sqrt(n*d)*centred_norm(X[t])**2 *)
Theorem L_about_centred :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  ((about_mean (X N t)) ^ 2) <= ((sqrt ((INR (tokens N)) * (INR (dim N)))) * ((centred_norm (X N t)) ^ 2)).
Proof. by_theorem Lemmas_spread.lemma_about_centred. Qed.

(** about-residuals: about_mean(X[t])**2 <= 4*residual(X[t], one)*residual(X[t], inf) *)
Theorem L_about_residuals :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  ((about_mean (X N t)) ^ 2) <= ((4 * (residual_one (X N t))) * (residual_inf (X N t))).
Proof. by_theorem Lemmas_spread.lemma_about_residuals. Qed.

(** about-residual: about_mean(X[t]) <= 2*residual(X[t], composite) *)
Theorem L_about_residual :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (about_mean (X N t)) <= (2 * (residual_composite (X N t))).
Proof. by_theorem Lemmas_spread.lemma_about_residual. Qed.

(** about-diameter: about_mean(X[t])**2 <= 2*residual(X[t], one)*diameter(X[t], 1) *)
Theorem L_about_diameter :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  ((about_mean (X N t)) ^ 2) <= ((2 * (residual_one (X N t))) * (diameter (X N t) p_1)).
Proof. by_theorem Lemmas_spread.lemma_about_diameter. Qed.

(** first-gap: first_gap(X[t]) <= diameter(X[t], 2) *)
Theorem L_first_gap :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (first_gap (X N t)) <= (diameter (X N t) p_2).
Proof. by_theorem Lemmas_spread.lemma_first_gap. Qed.

(** participation-n: participation_ratio(X[t]) <= n *)
Theorem L_participation_n :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (participation_ratio (X N t)) <= (INR (tokens N)).
Proof. by_theorem Lemmas_spread.lemma_participation_n. Qed.

(** participation-d: participation_ratio(X[t]) <= d *)
Theorem L_participation_d :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (participation_ratio (X N t)) <= (INR (dim N)).
Proof. by_theorem Lemmas_spread.lemma_participation_d. Qed.

(** participation-one: 1 <= participation_ratio(X[t]) *)
Theorem L_participation_one :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_2 (X N t)) > 0 ->
  1 <= (participation_ratio (X N t)).
Proof. by_theorem Lemmas_spread.lemma_participation_one. Qed.

(** stable-participation: stable_rank(X[t]) <= participation_ratio(X[t]) *)
Theorem L_stable_participation :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (stable_rank (X N t)) <= (participation_ratio (X N t)).
Proof. by_theorem Lemmas_spread.lemma_stable_participation. Qed.

(** participation-stable: participation_ratio(X[t]) <= stable_rank(X[t])**2 *)
Theorem L_participation_stable :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (participation_ratio (X N t)) <= ((stable_rank (X N t)) ^ 2).
Proof. by_theorem Lemmas_spread.lemma_participation_stable. Qed.

(** rank-n: rank(X[t]) <= n *)
Theorem L_rank_n :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (rank (X N t)) <= (INR (tokens N)).
Proof. by_theorem Lemmas_spread.lemma_rank_n. Qed.

(** rank-d: rank(X[t]) <= d *)
Theorem L_rank_d :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (rank (X N t)) <= (INR (dim N)).
Proof. by_theorem Lemmas_spread.lemma_rank_d. Qed.

(** rank-weights[W]: rank(W[l, h]) <= d *)
Theorem L_rank_weights_W :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (rank (W N l h)) <= (INR (dim N)).
Proof. by_theorem Lemmas_spread.lemma_rank_n. Qed.

(** rank-weights[W_QK]: rank(W_QK[l, h]) <= d *)
Theorem L_rank_weights_W_QK :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (rank (W_QK N l h)) <= (INR (dim N)).
Proof. by_theorem Lemmas_spread.lemma_rank_n. Qed.

(** participation-rank: participation_ratio(X[t]) <= rank(X[t]) *)
Theorem L_participation_rank :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (participation_ratio (X N t)) <= (rank (X N t)).
Proof. by_theorem Lemmas_spread.lemma_participation_rank. Qed.

(** layer-centred: centred_norm(X[l+1]) <= abs(skip)*centred_norm(X[l]) + sum_h(norm(W[l, h], 2)*norm(P[l, h],
    2))*centred_norm(X[l]) *)
Theorem L_layer_centred :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  (centred_norm (X N (S l))) <= (((Rabs (skip_of N)) * (centred_norm (X N l))) + ((sum (heads N) (fun h => ((norm_2 (W
    N l h)) * (norm_2 (P N l h))))) * (centred_norm (X N l)))).
Proof. by_theorem Lemmas_spread.lemma_layer_centred. Qed.

(** layer-max-cross: norm(X[l+1], max) <= abs(skip)*norm(X[l], max) + sum_h(norm(W[l, h], max))*norm(X[l], inf) *)
Theorem L_layer_max_cross :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  bias_none N ->
  (norm_max (X N (S l))) <= (((Rabs (skip_of N)) * (norm_max (X N l))) + ((sum (heads N) (fun h => (norm_max (W N l
    h)))) * (norm_inf (X N l)))).
Proof. by_theorem Lemmas_spread.lemma_layer_max_cross. Qed.

(** layer-longest-cross: longest(X[l+1]) <= abs(skip)*longest(X[l]) + sum_h(sqrt(d)*norm(W[l, h], max))*norm(X[l],
    inf) *)
Theorem L_layer_longest_cross :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  bias_none N ->
  (longest (X N (S l))) <= (((Rabs (skip_of N)) * (longest (X N l))) + ((sum (heads N) (fun h => ((sqrt (INR (dim N)))
    * (norm_max (W N l h))))) * (norm_inf (X N l)))).
Proof. by_theorem Lemmas_spread.lemma_layer_longest_cross. Qed.

(** form-inf-frobenius[W]: norm(W[l, h], frobenius) <= form_norm(W[l, h], inf) *)
Theorem L_form_inf_frobenius_W :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_frobenius (W N l h)) <= (form_norm (W N l h) p_inf).
Proof. by_theorem Lemmas_spread.lemma_form_inf_low_frobenius. Qed.

(** form-inf-frobenius[W_QK]: norm(W_QK[l, h], frobenius) <= form_norm(W_QK[l, h], inf) *)
Theorem L_form_inf_frobenius_W_QK :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (norm_frobenius (W_QK N l h)) <= (form_norm (W_QK N l h) p_inf).
Proof. by_theorem Lemmas_spread.lemma_form_inf_low_frobenius. Qed.

(** definiteness-max[W]: definiteness(W[l, h]) <= norm(W[l, h], max) *)
Theorem L_definiteness_max_W :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (definiteness (W N l h)) <= (norm_max (W N l h)).
Proof. by_theorem Lemmas_spread.lemma_definiteness_max. Qed.

(** definiteness-max[W_QK]: definiteness(W_QK[l, h]) <= norm(W_QK[l, h], max) *)
Theorem L_definiteness_max_W_QK :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (definiteness (W_QK N l h)) <= (norm_max (W_QK N l h)).
Proof. by_theorem Lemmas_spread.lemma_definiteness_max. Qed.

(** top-shares-max: top_shares(P[l, h]) <= norm(P[l, h], max) *)
Theorem L_top_shares_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (top_shares (P N l h)) <= (norm_max (P N l h)).
Proof. by_theorem Lemmas_spread.lemma_top_shares_max. Qed.

(** top-shares-max[P0]: top_shares(P0[l, h]) <= norm(P0[l, h], max) *)
Theorem L_top_shares_max_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (top_shares (P0 N l h)) <= (norm_max (P0 N l h)).
Proof. by_theorem Lemmas_spread.lemma_top_shares_max. Qed.

(** top-shares-log: top_shares(P[l, h]) <= 3/2*log(n) *)
Theorem L_top_shares_log :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (top_shares (P N l h)) <= ((3 / 2) * (ln (INR (tokens N)))).
Proof. by_theorem Lemmas_spread.lemma_top_shares_log. Qed.

(** top-shares-log[P0]: top_shares(P0[l, h]) <= 3/2*log(n) *)
Theorem L_top_shares_log_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (top_shares (P0 N l h)) <= ((3 / 2) * (ln (INR (tokens N)))).
Proof. by_theorem Lemmas_spread.lemma_top_shares_log. Qed.

(** second-dobrushin: second_modulus(P[l, h]) <= dobrushin(P[l, h]) *)
Theorem L_second_dobrushin :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (second_modulus (P N l h)) <= (dobrushin (P N l h)).
Proof. by_theorem Lemmas_spread.lemma_second_dobrushin. Qed.

(** second-dobrushin[P0]: second_modulus(P0[l, h]) <= dobrushin(P0[l, h]) *)
Theorem L_second_dobrushin_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (second_modulus (P0 N l h)) <= (dobrushin (P0 N l h)).
Proof. by_theorem Lemmas_spread.lemma_second_dobrushin. Qed.

(** dobrushin-log: dobrushin(P[l, h]) <= 3/2*log(n) *)
Theorem L_dobrushin_log :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (dobrushin (P N l h)) <= ((3 / 2) * (ln (INR (tokens N)))).
Proof. by_theorem Lemmas_spread.lemma_dobrushin_log. Qed.

(** dobrushin-log[P0]: dobrushin(P0[l, h]) <= 3/2*log(n) *)
Theorem L_dobrushin_log_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (dobrushin (P0 N l h)) <= ((3 / 2) * (ln (INR (tokens N)))).
Proof. by_theorem Lemmas_spread.lemma_dobrushin_log. Qed.

(** epsilon-room: (n - 1)*epsilon(P[l, h]) < 1 *)
Theorem L_epsilon_room :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  (((INR (tokens N)) - 1) * (epsilon N l h)) < 1.
Proof. by_theorem Lemmas_spread.lemma_epsilon_room. Qed.

(** epsilon-room[P0]: (n - 1)*epsilon(P0[l, h]) < 1 *)
Theorem L_epsilon_room_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  (((INR (tokens N)) - 1) * (epsilon0 N l h)) < 1.
Proof. by_theorem Lemmas_spread.lemma_epsilon_room. Qed.

(** degree-none: in_degree == n *)
Theorem L_degree_none :
  forall N, proper N ->
  mask_none N ->
  (in_degree N) = (INR (tokens N)).
Proof. by_theorem Lemmas_spread.lemma_degree_none. Qed.

(** degree-causal: in_degree == n *)
Theorem L_degree_causal :
  forall N, proper N ->
  mask_causal N ->
  (in_degree N) = (INR (tokens N)).
Proof. intros N Hp C. in_words. unfold mask_causal in C. rewrite C. apply lemma_degree_causal. Qed.

(** entropy-least: entropy(P[l, h]) + log(epsilon(P[l, h])) <= 0 *)
Theorem L_entropy_least :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  ((entropy (P N l h)) + (ln (epsilon N l h))) <= 0.
Proof. by_theorem Lemmas_reads.lemma_entropy_least. Qed.

(** entropy-least[P0]: entropy(P0[l, h]) + log(epsilon(P0[l, h])) <= 0 *)
Theorem L_entropy_least_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  ((entropy (P0 N l h)) + (ln (epsilon0 N l h))) <= 0.
Proof. by_theorem Lemmas_reads.lemma_entropy_least. Qed.

(** attention-rank: 1 <= rank(P[l, h]) *)
Theorem L_attention_rank :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  1 <= (rank (P N l h)).
Proof. by_theorem Lemmas_reads.lemma_attention_rank. Qed.

(** attention-rank[P0]: 1 <= rank(P0[l, h]) *)
Theorem L_attention_rank_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  1 <= (rank (P0 N l h)).
Proof. by_theorem Lemmas_reads.lemma_attention_rank. Qed.

(** attention-rank-n: rank(P[l, h]) <= n *)
Theorem L_attention_rank_n :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (rank (P N l h)) <= (INR (tokens N)).
Proof. by_theorem Lemmas_spread.lemma_rank_n. Qed.

(** attention-rank-n[P0]: rank(P0[l, h]) <= n *)
Theorem L_attention_rank_n_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (rank (P0 N l h)) <= (INR (tokens N)).
Proof. by_theorem Lemmas_spread.lemma_rank_n. Qed.

(** consensus-max: n*norm(P0[l, h], max) <= 1 *)
Theorem L_consensus_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  plain N ->
  mask_none N ->
  ((INR (tokens N)) * (norm_max (P0 N l h))) <= 1.
Proof. intros N Hp l _ h _ S K. in_words. rewrite P0_plain by assumption. apply lemma_consensus_max; first [exact
    K|needed]. Qed.

(** consensus-dobrushin: dobrushin(P0[l, h]) <= 0 *)
Theorem L_consensus_dobrushin :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  plain N ->
  mask_padding N ->
  (dobrushin (P0 N l h)) <= 0.
Proof. intros N Hp l _ h _ S K. in_words. rewrite P0_plain by assumption. apply lemma_consensus_dobrushin; first
    [exact K|needed]. Qed.

(** rank-one: 1 <= rank(X[t]) *)
Theorem L_rank_one :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_2 (X N t)) > 0 ->
  1 <= (rank (X N t)).
Proof. by_theorem Lemmas_reads.lemma_rank_one. Qed.

(** layer-mu-heads: mu(X[l+1]) <= abs(skip)*mu(X[l]) + sqrt((n - 1)/2)*sum_h(norm(W[l, h], 2)*dobrushin(P[l,
    h]))*diameter(X[l], 2) *)
Theorem L_layer_mu_heads :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  (mu (X N (S l))) <= (((Rabs (skip_of N)) * (mu (X N l))) + (((sqrt (((INR (tokens N)) - 1) / 2)) * (sum (heads N)
    (fun h => ((norm_2 (W N l h)) * (dobrushin (P N l h)))))) * (diameter (X N l) p_2))).
Proof. by_theorem Lemmas_ranks.lemma_layer_mu_heads. Qed.

(** layer-mu-heads-low: abs(skip)*mu(X[l]) <= mu(X[l+1]) + sqrt((n - 1)/2)*sum_h(norm(W[l, h], 2)*dobrushin(P[l,
    h]))*diameter(X[l], 2) *)
Theorem L_layer_mu_heads_low :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  ((Rabs (skip_of N)) * (mu (X N l))) <= ((mu (X N (S l))) + (((sqrt (((INR (tokens N)) - 1) / 2)) * (sum (heads N)
    (fun h => ((norm_2 (W N l h)) * (dobrushin (P N l h)))))) * (diameter (X N l) p_2))).
Proof. by_theorem Lemmas_ranks.lemma_layer_mu_heads_low. Qed.

(** rank-heads[sum_h(rank(P[l, h]))]: rank(X[l+1]) <= sum_h(rank(P[l, h])) + 1 *)
Theorem L_rank_heads_sum_h_rank_P_l_h :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  (rank (X N (S l))) <= ((sum (heads N) (fun h => (rank (P N l h)))) + 1).
Proof. by_theorem Lemmas_ranks.lemma_rank_attention. Qed.

(** rank-heads[sum_h(rank(W[l, h]))]: rank(X[l+1]) <= sum_h(rank(W[l, h])) + 1 *)
Theorem L_rank_heads_sum_h_rank_W_l_h :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  (rank (X N (S l))) <= ((sum (heads N) (fun h => (rank (W N l h)))) + 1).
Proof. by_theorem Lemmas_ranks.lemma_rank_values. Qed.

(** rank-heads[H*rank(X[l])]: rank(X[l+1]) <= H*rank(X[l]) + 1 *)
Theorem L_rank_heads_H_rank_X_l :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  (rank (X N (S l))) <= (((INR (heads N)) * (rank (X N l))) + 1).
Proof. by_theorem Lemmas_ranks.lemma_rank_tokens. Qed.

(** rank-heads-free[sum_h(rank(P[l, h]))]: rank(X[l+1]) <= sum_h(rank(P[l, h])) *)
Theorem L_rank_heads_free_sum_h_rank_P_l_h :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  bias_none N ->
  (rank (X N (S l))) <= (sum (heads N) (fun h => (rank (P N l h)))).
Proof. by_theorem Lemmas_ranks.lemma_rank_attention_free. Qed.

(** rank-heads-free[sum_h(rank(W[l, h]))]: rank(X[l+1]) <= sum_h(rank(W[l, h])) *)
Theorem L_rank_heads_free_sum_h_rank_W_l_h :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  bias_none N ->
  (rank (X N (S l))) <= (sum (heads N) (fun h => (rank (W N l h)))).
Proof. by_theorem Lemmas_ranks.lemma_rank_values_free. Qed.

(** rank-heads-free[H*rank(X[l])]: rank(X[l+1]) <= H*rank(X[l]) *)
Theorem L_rank_heads_free_H_rank_X_l :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  bias_none N ->
  (rank (X N (S l))) <= ((INR (heads N)) * (rank (X N l))).
Proof. by_theorem Lemmas_ranks.lemma_rank_tokens_free. Qed.

(** rank-skip[sum_h(rank(P[l, h]))]: rank(X[l+1]) <= rank(X[l]) + sum_h(rank(P[l, h])) + 1 *)
Theorem L_rank_skip_sum_h_rank_P_l_h :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  (rank (X N (S l))) <= (((rank (X N l)) + (sum (heads N) (fun h => (rank (P N l h))))) + 1).
Proof. by_theorem Lemmas_ranks.lemma_rank_skip_attention. Qed.

(** rank-skip[sum_h(rank(W[l, h]))]: rank(X[l+1]) <= rank(X[l]) + sum_h(rank(W[l, h])) + 1 *)
Theorem L_rank_skip_sum_h_rank_W_l_h :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  (rank (X N (S l))) <= (((rank (X N l)) + (sum (heads N) (fun h => (rank (W N l h))))) + 1).
Proof. by_theorem Lemmas_ranks.lemma_rank_skip_values. Qed.

(** rank-skip[H*rank(X[l])]: rank(X[l+1]) <= rank(X[l]) + H*rank(X[l]) + 1 *)
Theorem L_rank_skip_H_rank_X_l :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  (rank (X N (S l))) <= (((rank (X N l)) + ((INR (heads N)) * (rank (X N l)))) + 1).
Proof. by_theorem Lemmas_ranks.lemma_rank_skip_tokens. Qed.

(** rank-skip-free[sum_h(rank(P[l, h]))]: rank(X[l+1]) <= rank(X[l]) + sum_h(rank(P[l, h])) *)
Theorem L_rank_skip_free_sum_h_rank_P_l_h :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  bias_none N ->
  (rank (X N (S l))) <= ((rank (X N l)) + (sum (heads N) (fun h => (rank (P N l h))))).
Proof. by_theorem Lemmas_ranks.lemma_rank_skip_attention_free. Qed.

(** rank-skip-free[sum_h(rank(W[l, h]))]: rank(X[l+1]) <= rank(X[l]) + sum_h(rank(W[l, h])) *)
Theorem L_rank_skip_free_sum_h_rank_W_l_h :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  bias_none N ->
  (rank (X N (S l))) <= ((rank (X N l)) + (sum (heads N) (fun h => (rank (W N l h))))).
Proof. by_theorem Lemmas_ranks.lemma_rank_skip_values_free. Qed.

(** rank-skip-free[H*rank(X[l])]: rank(X[l+1]) <= rank(X[l]) + H*rank(X[l]) *)
Theorem L_rank_skip_free_H_rank_X_l :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  layernorm_none N ->
  mlp_none N ->
  bias_none N ->
  (rank (X N (S l))) <= ((rank (X N l)) + ((INR (heads N)) * (rank (X N l)))).
Proof. by_theorem Lemmas_ranks.lemma_rank_skip_tokens_free. Qed.

(** rank-depth: rank(X[t]) <= rank(X[0]) + 1 *)
Theorem L_rank_depth :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (INR (heads N)) = 1 ->
  (skip_of N) = 0 ->
  layernorm_none N ->
  mlp_none N ->
  (rank (X N t)) <= ((rank (X N 0%nat)) + 1).
Proof. intros N Hp t Bt H1 S A M. in_words. apply (lemma_rank_depth (tokens N) (dim N) (block_of N) (X N) (layers N));
    [intros; now apply X_next|reflexivity|intros; exact S|intros; apply INR_eq; exact H1|intros; now apply Ph|exact
    Bt]. Qed.

(** dobrushin-causal: dobrushin(P[l, h]) + epsilon(P[l, h]) <= 1 *)
Theorem L_dobrushin_causal :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_causal N ->
  ((dobrushin (P N l h)) + (epsilon N l h)) <= 1.
Proof. intros N Hp l _ h _ C. in_words. unfold mask_causal in C. rewrite C. apply lemma_dobrushin_causal; needed. Qed.

(** dobrushin-causal[P0]: dobrushin(P0[l, h]) + epsilon(P0[l, h]) <= 1 *)
Theorem L_dobrushin_causal_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_causal N ->
  ((dobrushin (P0 N l h)) + (epsilon0 N l h)) <= 1.
Proof. intros N Hp l _ h _ C. in_words. unfold mask_causal in C. rewrite C. apply lemma_dobrushin_causal; needed. Qed.

(** layer-first: first_gap(X[l+1]) <= abs(skip)*first_gap(X[l]) + sum_h(norm(W[l, h], 2))*first_gap(X[l]) *)
Theorem L_layer_first :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  mask_causal N ->
  layernorm_none N ->
  mlp_none N ->
  (first_gap (X N (S l))) <= (((Rabs (skip_of N)) * (first_gap (X N l))) + ((sum (heads N) (fun h => (norm_2 (W N l
    h)))) * (first_gap (X N l)))).
Proof. by_theorem Lemmas_reads.lemma_layer_first. Qed.

(** reach: reach(X[t]) <= diameter(X[t], 2) *)
Theorem L_reach :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (reach (X N t)) <= (diameter (X N t) p_2).
Proof. by_theorem Lemmas_shares.lemma_reach. Qed.

(** diameter-reach: diameter(X[t], 2) <= 2*reach(X[t]) *)
Theorem L_diameter_reach :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (diameter (X N t) p_2) <= (2 * (reach (X N t))).
Proof. by_theorem Lemmas_shares.lemma_diameter_reach. Qed.

(** diagonal-first: diagonal(P[l, h], 0) == 1 *)
Theorem L_diagonal_first :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_causal_window N ->
  (diagonal (P N l h) 0%nat) = 1.
Proof. intros N Hp l Hl h Hh C. in_words. match goal with |- context [P N l h] => destruct (as_head N Hp l h) as [d
    [dq [hd [Y [_ [M [-> _]]]]]]] | _ => destruct (as_head0 N Hp l h) as [d [dq [hd [Y [M ->]]]]] end. apply
    lemma_diagonal_first; rewrite ?M; first [now apply first_alone|needed]. Qed.

(** diagonal-first[P0]: diagonal(P0[l, h], 0) == 1 *)
Theorem L_diagonal_first_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_causal_window N ->
  (diagonal (P0 N l h) 0%nat) = 1.
Proof. intros N Hp l Hl h Hh C. in_words. match goal with |- context [P N l h] => destruct (as_head N Hp l h) as [d
    [dq [hd [Y [_ [M [-> _]]]]]]] | _ => destruct (as_head0 N Hp l h) as [d [dq [hd [Y [M ->]]]]] end. apply
    lemma_diagonal_first; rewrite ?M; first [now apply first_alone|needed]. Qed.

(** diagonal-max[0]: diagonal(P[l, h], 0) <= norm(P[l, h], max) *)
Theorem L_diagonal_max_0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (diagonal (P N l h) 0%nat) <= (norm_max (P N l h)).
Proof. by_theorem Lemmas_shares.lemma_diagonal_max. Qed.

(** diagonal-max[0][P0]: diagonal(P0[l, h], 0) <= norm(P0[l, h], max) *)
Theorem L_diagonal_max_0_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (diagonal (P0 N l h) 0%nat) <= (norm_max (P0 N l h)).
Proof. by_theorem Lemmas_shares.lemma_diagonal_max. Qed.

(** diagonal-max[1]: diagonal(P[l, h], 1) <= norm(P[l, h], max) *)
Theorem L_diagonal_max_1 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (diagonal (P N l h) 1%nat) <= (norm_max (P N l h)).
Proof. by_theorem Lemmas_shares.lemma_diagonal_max. Qed.

(** diagonal-max[1][P0]: diagonal(P0[l, h], 1) <= norm(P0[l, h], max) *)
Theorem L_diagonal_max_1_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (diagonal (P0 N l h) 1%nat) <= (norm_max (P0 N l h)).
Proof. by_theorem Lemmas_shares.lemma_diagonal_max. Qed.

(** diagonal-max[2]: diagonal(P[l, h], 2) <= norm(P[l, h], max) *)
Theorem L_diagonal_max_2 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (diagonal (P N l h) 2%nat) <= (norm_max (P N l h)).
Proof. by_theorem Lemmas_shares.lemma_diagonal_max. Qed.

(** diagonal-max[2][P0]: diagonal(P0[l, h], 2) <= norm(P0[l, h], max) *)
Theorem L_diagonal_max_2_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (diagonal (P0 N l h) 2%nat) <= (norm_max (P0 N l h)).
Proof. by_theorem Lemmas_shares.lemma_diagonal_max. Qed.

(** epsilon-diagonal: epsilon(P[l, h]) <= diagonal(P[l, h], 0) *)
Theorem L_epsilon_diagonal :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  (epsilon N l h) <= (diagonal (P N l h) 0%nat).
Proof. by_theorem Lemmas_shares.lemma_epsilon_diagonal. Qed.

(** epsilon-diagonal[P0]: epsilon(P0[l, h]) <= diagonal(P0[l, h], 0) *)
Theorem L_epsilon_diagonal_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  mask_none N ->
  (epsilon0 N l h) <= (diagonal (P0 N l h) 0%nat).
Proof. by_theorem Lemmas_shares.lemma_epsilon_diagonal. Qed.

(** other-share-max: other_share(P[l, h]) <= norm(P[l, h], max) *)
Theorem L_other_share_max :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (other_share (P N l h)) <= (norm_max (P N l h)).
Proof. by_theorem Lemmas_shares.lemma_other_share_max. Qed.

(** other-share-max[P0]: other_share(P0[l, h]) <= norm(P0[l, h], max) *)
Theorem L_other_share_max_P0 :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  (other_share (P0 N l h)) <= (norm_max (P0 N l h)).
Proof. by_theorem Lemmas_shares.lemma_other_share_max. Qed.

(** degree-causal-window: in_degree <= k *)
Theorem L_degree_causal_window :
  forall N, proper N ->
  forall k : R,
  mask_causal_window_of N k ->
  (in_degree N) <= k.
Proof. intros N Hp k C. in_words. now apply degree_causal_window. Qed.

(** degree-window: in_degree <= 2*k + 1 *)
Theorem L_degree_window :
  forall N, proper N ->
  forall k : R,
  mask_window_of N k ->
  (in_degree N) <= ((2 * k) + 1).
Proof. intros N Hp k C. in_words. now apply degree_window. Qed.

(** consensus-degree: 1 <= in_degree*epsilon(P0[l, h]) *)
Theorem L_consensus_degree :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  plain N ->
  1 <= ((in_degree N) * (epsilon0 N l h)).
Proof. intros N Hp l _ h _ S. in_words. rewrite P0_plain by assumption. apply (lemma_consensus_degree (tokens N) (dim
    N) (dim N) (plain_head N l h)); needed. Qed.

(** consensus-entropy: log(n) <= entropy(P0[l, h]) *)
Theorem L_consensus_entropy :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  forall h, (h < heads N)%nat ->
  plain N ->
  mask_none N ->
  (ln (INR (tokens N))) <= (entropy (P0 N l h)).
Proof. intros N Hp l _ h _ S K. in_words. rewrite P0_plain by assumption. apply lemma_consensus_entropy; first [exact
    K|needed]. Qed.

(** effective-one[singular]: 1 <= effective_rank(X[t], singular) *)
Theorem L_effective_one_singular :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  1 <= (effective_rank_singular (X N t)).
Proof. by_theorem Lemmas_shares.lemma_effective_singular_one. Qed.

(** effective-one[eigen]: 1 <= effective_rank(X[t], eigen) *)
Theorem L_effective_one_eigen :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  1 <= (effective_rank_eigen (X N t)).
Proof. by_theorem Lemmas_shares.lemma_effective_eigen_one. Qed.

(** effective-positive[singular]: 0 < effective_rank(X[t], singular) *)
Theorem L_effective_positive_singular :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  0 < (effective_rank_singular (X N t)).
Proof. by_theorem Lemmas_shares.lemma_effective_singular_positive. Qed.

(** effective-positive[eigen]: 0 < effective_rank(X[t], eigen) *)
Theorem L_effective_positive_eigen :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  0 < (effective_rank_eigen (X N t)).
Proof. by_theorem Lemmas_shares.lemma_effective_eigen_positive. Qed.

(** effective-order: effective_rank(X[t], eigen) <= effective_rank(X[t], singular) *)
Theorem L_effective_order :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (effective_rank_eigen (X N t)) <= (effective_rank_singular (X N t)).
Proof. by_theorem Lemmas_shares.lemma_effective_order. Qed.

(** effective-n: effective_rank(X[t], singular) <= n *)
Theorem L_effective_n :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (effective_rank_singular (X N t)) <= (INR (tokens N)).
Proof. by_theorem Lemmas_shares.lemma_effective_n. Qed.

(** effective-d: effective_rank(X[t], singular) <= d *)
Theorem L_effective_d :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (effective_rank_singular (X N t)) <= (INR (dim N)).
Proof. by_theorem Lemmas_shares.lemma_effective_d. Qed.

(** effective-rank: effective_rank(X[t], singular) <= rank(X[t]) *)
Theorem L_effective_rank :
  forall N, proper N ->
  forall t, (t <= layers N)%nat ->
  (norm_2 (X N t)) > 0 ->
  (effective_rank_singular (X N t)) <= (rank (X N t)).
Proof. by_theorem Lemmas_shares.lemma_effective_rank. Qed.

(** front-diameter: diameter(X[l+1], 2) <= abs(skip)*diameter(X[l], 2) + 2*sum_h(norm(W[l, h], 2)*dobrushin(P[l, h]))
    *)
Theorem L_front_diameter :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  norm_before N ->
  layernorm_sphere N ->
  mlp_none N ->
  (diameter (X N (S l)) p_2) <= (((Rabs (skip_of N)) * (diameter (X N l) p_2)) + (2 * (sum (heads N) (fun h =>
    ((norm_2 (W N l h)) * (dobrushin (P N l h))))))).
Proof. by_theorem Lemmas_reads.lemma_front_diameter. Qed.

(** front-diameter-low: abs(skip)*diameter(X[l], 2) <= diameter(X[l+1], 2) + 2*sum_h(norm(W[l, h], 2)*dobrushin(P[l,
    h])) *)
Theorem L_front_diameter_low :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  norm_before N ->
  layernorm_sphere N ->
  mlp_none N ->
  ((Rabs (skip_of N)) * (diameter (X N l) p_2)) <= ((diameter (X N (S l)) p_2) + (2 * (sum (heads N) (fun h =>
    ((norm_2 (W N l h)) * (dobrushin (P N l h))))))).
Proof. by_theorem Lemmas_reads.lemma_front_diameter_low. Qed.

(** front-mu: mu(X[l+1]) <= abs(skip)*mu(X[l]) + sqrt(n)*sum_h(norm(W[l, h], 2)) *)
Theorem L_front_mu :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  norm_before N ->
  layernorm_sphere N ->
  mlp_none N ->
  (mu (X N (S l))) <= (((Rabs (skip_of N)) * (mu (X N l))) + ((sqrt (INR (tokens N))) * (sum (heads N) (fun h =>
    (norm_2 (W N l h)))))).
Proof. by_theorem Lemmas_reads.lemma_front_mu. Qed.

(** front-mu-low: abs(skip)*mu(X[l]) <= mu(X[l+1]) + sqrt(n)*sum_h(norm(W[l, h], 2)) *)
Theorem L_front_mu_low :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  norm_before N ->
  layernorm_sphere N ->
  mlp_none N ->
  ((Rabs (skip_of N)) * (mu (X N l))) <= ((mu (X N (S l))) + ((sqrt (INR (tokens N))) * (sum (heads N) (fun h =>
    (norm_2 (W N l h)))))).
Proof. by_theorem Lemmas_reads.lemma_front_mu_low. Qed.

(** front-longest: longest(X[l+1]) <= abs(skip)*longest(X[l]) + sum_h(norm(W[l, h], 2)) *)
Theorem L_front_longest :
  forall N, proper N ->
  forall l, (l < layers N)%nat ->
  norm_before N ->
  layernorm_sphere N ->
  mlp_none N ->
  bias_none N ->
  (longest (X N (S l))) <= (((Rabs (skip_of N)) * (longest (X N l))) + (sum (heads N) (fun h => (norm_2 (W N l h))))).
Proof. by_theorem Lemmas_reads.lemma_front_longest. Qed.
