(** Registered statements in the words of Network.v, for derivations that cite them; printed by
    [python -m rankmath.certificates.coq_words registered]: do not edit. *)
Require Import Reals Lra Lia.
From Rankmath Require Import Definitions Functions Norms Masks dong2021 Quantities Lemmas_layer Network Bridge.
From Rankmath Require proved_consensus proved_jacobians proved_masks proved_networks proved_order proved_positions
    proved_residuals proved_sphere proved_tokens.
Local Open Scope R_scope.

(** dong2021:2.2 *)
Theorem S_dong2021_2_2 :
  forall N, proper N ->
  forall x_star, x_star_is x_star ->
  forall center, are_centers N center ->
  plain N ->
  norm_after N ->
  heads N = 1%nat ->
  (forall l, (l < layers N)%nat -> (maxi ((heads N) - 1) (fun h => (delta_composite N center l h))) <= x_star) ->
  mask_none N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (residual_composite (X N (layers N))) <= ((rpow (((4 * (maxi ((layers N) - 1) (fun l => (maxi ((heads N) - 1) (fun h
    => (gamma N center l h)))))) * (maxi ((layers N) - 1) (fun l => (maxi ((heads N) - 1) (fun h => ((norm_1 (W_QK N l
    h)) * (norm_composite (W N l h)))))))) / (sqrt (d_qk N))) (((3 ^ (layers N)) - 1) / 2)) * ((residual_composite (X
    N 0%nat)) ^ (3 ^ (layers N))%nat)).
Proof. by_statement proved_residuals.proved_dong2021_2_2. Qed.

(** dong2021:2.3 *)
Theorem S_dong2021_2_3 :
  forall N, proper N ->
  forall x_star, x_star_is x_star ->
  forall center, are_centers N center ->
  plain N ->
  norm_after N ->
  (forall l, (l < layers N)%nat -> (maxi ((heads N) - 1) (fun h => (delta_composite N center l h))) <= x_star) ->
  mask_none N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (residual_composite (X N (layers N))) <= ((rpow (((4 * (maxi ((layers N) - 1) (fun l => (maxi ((heads N) - 1) (fun h
    => (gamma N center l h)))))) * (maxi ((layers N) - 1) (fun l => (sqrt ((sum (heads N) (fun h => ((norm_1 (W_QK N l
    h)) * (norm_1 (W N l h))))) * (sum (heads N) (fun h => ((norm_1 (W_QK N l h)) * (norm_inf (W N l h)))))))))) /
    (sqrt (d_qk N))) (((3 ^ (layers N)) - 1) / 2)) * ((residual_composite (X N 0%nat)) ^ (3 ^ (layers N))%nat)).
Proof. by_statement proved_residuals.proved_dong2021_2_3. Qed.

(** dong2021:3.1 *)
Theorem S_dong2021_3_1 :
  forall N, proper N ->
  plain N ->
  norm_after N ->
  (skip_of N) = 1 ->
  disjoint_blocks N ->
  layernorm_none N ->
  mlp_none N ->
  (residual_frobenius (X N (layers N))) >= (residual_frobenius (X N 0%nat)).
Proof. by_statement proved_tokens.proved_dong2021_3_1. Qed.

(** own:composite *)
Theorem S_own_composite :
  forall N, proper N ->
  forall x_star, x_star_is x_star ->
  forall center, are_centers N center ->
  plain N ->
  norm_after N ->
  (forall l, (l < layers N)%nat -> (maxi ((heads N) - 1) (fun h => (delta_composite N center l h))) <= x_star) ->
  mask_none N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (residual_composite (X N (layers N))) <= ((rpow (((2 * (maxi ((layers N) - 1) (fun l => (maxi ((heads N) - 1) (fun h
    => (gamma N center l h)))))) * (maxi ((layers N) - 1) (fun l => (sqrt ((sum (heads N) (fun h => ((norm_1 (W_QK N l
    h)) * (norm_1 (W N l h))))) * (sum (heads N) (fun h => ((norm_1 (W_QK N l h)) * (norm_inf (W N l h)))))))))) /
    (sqrt (d_qk N))) (((3 ^ (layers N)) - 1) / 2)) * ((residual_composite (X N 0%nat)) ^ (3 ^ (layers N))%nat)).
Proof. by_statement proved_residuals.proved_own_composite. Qed.

(** own:full-rank *)
Theorem S_own_full_rank :
  forall N, proper N ->
  forall r, is_radius N r ->
  plain N ->
  norm_after N ->
  heads N = 1%nat ->
  layernorm_sphere N ->
  bias_none N ->
  orthogonal_values N ->
  self_loops N ->
  (INR (tokens N)) >= 2 ->
  quasi_strongly_connected N ->
  (INR (tokens N)) <= (INR (dim N)) ->
  (gram_height (X N 0%nat)) > 0 ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (mu (X N (layers N))) <= ((((sqrt (((INR (tokens N)) - 1) / 2)) * (diameter (X N 0%nat) p_2)) / (gram_height (X N
    0%nat))) * ((1 - ((gram_height (X N 0%nat)) * ((minf ((layers N) - 1) (fun l => (epsilon N l 0%nat))) ^ r))) ^
    ((layers N) / r)%nat)).
Proof. by_statement proved_sphere.proved_own_full_rank. Qed.

(** own:gamma-free *)
Theorem S_own_gamma_free :
  forall N, proper N ->
  forall center, are_centers N center ->
  plain N ->
  norm_after N ->
  layers N = 1%nat ->
  mask_none N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (residual_composite (X N 1%nat)) <= ((sqrt ((((2 * (expc (maxi ((heads N) - 1) (fun h => (delta_composite N center
    0%nat h))))) / (d_qk N)) * (sum (heads N) (fun h => (((q_max_composite N center 0%nat h) * (norm_1 (W_QK N 0%nat
    h))) * (norm_1 (W N 0%nat h)))))) * (sum (heads N) (fun h => ((norm_1 (W_QK N 0%nat h)) * (norm_inf (W N 0%nat
    h))))))) * ((residual_composite (X N 0%nat)) ^ 3)).
Proof. by_statement proved_residuals.proved_own_gamma_free. Qed.

(** own:gamma-free-one-head *)
Theorem S_own_gamma_free_one_head :
  forall N, proper N ->
  forall center, are_centers N center ->
  plain N ->
  norm_after N ->
  heads N = 1%nat ->
  layers N = 1%nat ->
  mask_none N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (residual_composite (X N 1%nat)) <= ((((sqrt ((((2 * (expc (delta_composite N center 0%nat 0%nat))) * (tanhc
    ((delta_composite N center 0%nat 0%nat) / 4))) * (q_max_composite N center 0%nat 0%nat)) / (d_qk N))) * (norm_1
    (W_QK N 0%nat 0%nat))) * (norm_composite (W N 0%nat 0%nat))) * ((residual_composite (X N 0%nat)) ^ 3)).
Proof. by_statement proved_residuals.proved_own_gamma_free_one_head. Qed.

(** own:gamma-free-sharp *)
Theorem S_own_gamma_free_sharp :
  forall N, proper N ->
  forall center, are_centers N center ->
  plain N ->
  norm_after N ->
  heads N = 1%nat ->
  layers N = 1%nat ->
  mask_none N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (residual_composite (X N 1%nat)) <= ((((sqrt ((((expc (delta_composite N center 0%nat 0%nat)) * (((32 / 27) * (expc
    (delta_composite N center 0%nat 0%nat))) + (2 * ((expc (delta_composite N center 0%nat 0%nat)) - 1)))) *
    (q_max_composite N center 0%nat 0%nat)) / (d_qk N))) * (norm_1 (W_QK N 0%nat 0%nat))) * (norm_composite (W N 0%nat
    0%nat))) * ((residual_composite (X N 0%nat)) ^ 3)).
Proof. by_statement proved_residuals.proved_own_gamma_free_sharp. Qed.

(** own:hemisphere *)
Theorem S_own_hemisphere :
  forall N, proper N ->
  forall r, is_radius N r ->
  plain N ->
  norm_after N ->
  heads N = 1%nat ->
  layernorm_sphere N ->
  bias_none N ->
  orthogonal_values N ->
  self_loops N ->
  (INR (tokens N)) >= 2 ->
  quasi_strongly_connected N ->
  (height N) > 0 ->
  mlp_none N ->
  (skip_of N) = 0 ->
  ((section N (layers N)) <= (((1 - ((height N) * ((minf ((layers N) - 1) (fun l => (epsilon N l 0%nat))) ^ r))) ^
    ((layers N) / r)%nat) * (section N 0%nat))) /\ ((mu (X N (layers N))) <= (((sqrt (((INR (tokens N)) - 1) / 2)) *
    ((1 - ((height N) * ((minf ((layers N) - 1) (fun l => (epsilon N l 0%nat))) ^ r))) ^ ((layers N) / r)%nat)) *
    (section N 0%nat))).
Proof. by_statement proved_masks.proved_own_hemisphere. Qed.

(** own:influence *)
Theorem S_own_influence :
  forall N, proper N ->
  plain N ->
  norm_after N ->
  mask_causal N ->
  heads N = 1%nat ->
  query_bias_none N ->
  layernorm_none N ->
  mlp_none N ->
  forall i, (i < tokens N)%nat -> (influence N i) <= ((((norm_2 (W N 0%nat 0%nat)) * (1 + ((((norm_2 (W_QK N 0%nat
    0%nat)) / (sqrt (d_qk N))) * (longest (X N 0%nat))) * (diameter (X N 0%nat) p_2)))) * (last_share N i)) +
    ((is_last N i) * ((Rabs (skip_of N)) + ((((norm_2 (W N 0%nat 0%nat)) * ((norm_2 (W_QK N 0%nat 0%nat)) / (sqrt
    (d_qk N)))) * ((diameter (X N 0%nat) p_2) ^ 2)) / 4)))).
Proof. by_statement proved_tokens.proved_own_influence. Qed.

(** own:lambda-skip-lower *)
Theorem S_own_lambda_skip_lower :
  forall N, proper N ->
  plain N ->
  norm_after N ->
  mask_padding N ->
  (forall l, (l < layers N)%nat -> (sum (heads N) (fun h => ((norm_2 (W N l h)) * (tanh (((norm_2 (W_QK N l h)) *
    ((diameter (X N l) p_2) ^ 2)) / (4 * (sqrt (d_qk N)))))))) < (Rabs (skip_of N))) ->
  layernorm_none N ->
  mlp_none N ->
  (diameter (X N (layers N)) p_2) >= ((diameter (X N 0%nat) p_2) * (prodf (layers N) (fun l => ((Rabs (skip_of N)) -
    (sum (heads N) (fun h => ((norm_2 (W N l h)) * (tanh (((norm_2 (W_QK N l h)) * ((diameter (X N l) p_2) ^ 2)) / (4
    * (sqrt (d_qk N)))))))))))).
Proof. by_statement proved_networks.proved_own_lambda_skip_lower. Qed.

(** own:lambda-skip-sphere *)
Theorem S_own_lambda_skip_sphere :
  forall N, proper N ->
  plain N ->
  norm_after N ->
  layernorm_sphere N ->
  heads N = 1%nat ->
  bias_none N ->
  (Rabs (skip_of N)) > 0 ->
  (forall l, (l < layers N)%nat -> (2 * (norm_2 (W N l 0%nat))) <= (Rabs (skip_of N))) ->
  mask_none N ->
  mlp_none N ->
  forall l, (l < layers N)%nat -> (diameter (X N (S l)) p_2) >= (((diameter (X N l) p_2) * ((Rabs (skip_of N)) -
    ((norm_2 (W N l 0%nat)) * (tanh (((norm_2 (W_QK N l 0%nat)) * ((diameter (X N l) p_2) ^ 2)) / (4 * (sqrt (d_qk
    N)))))))) / ((Rabs (skip_of N)) + (norm_2 (W N l 0%nat)))).
Proof. by_statement proved_networks.proved_own_lambda_skip_sphere. Qed.

(** own:lambda-skip-upper *)
Theorem S_own_lambda_skip_upper :
  forall N, proper N ->
  plain N ->
  norm_after N ->
  mask_padding N ->
  layernorm_none N ->
  mlp_none N ->
  (diameter (X N (layers N)) p_2) <= ((diameter (X N 0%nat) p_2) * (prodf (layers N) (fun l => ((Rabs (skip_of N)) +
    (sum (heads N) (fun h => ((norm_2 (W N l h)) * (tanh (((norm_2 (W_QK N l h)) * ((diameter (X N l) p_2) ^ 2)) / (4
    * (sqrt (d_qk N)))))))))))).
Proof. by_statement proved_networks.proved_own_lambda_skip_upper. Qed.

(** own:lipschitz *)
Theorem S_own_lipschitz :
  forall N, proper N ->
  plain N ->
  norm_after N ->
  heads N = 1%nat ->
  query_bias_none N ->
  mask_none N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (jacobian_norm N) <= ((norm_2 (W N 0%nat 0%nat)) * ((sqrt ((norm_1 (P N 0%nat 0%nat)) * (1 + ((((((norm_2 (W_QK N
    0%nat 0%nat)) / (sqrt (d_qk N))) * (longest (X N 0%nat))) * (diameter (X N 0%nat) p_2)) / 2) ^ 2)))) + ((((norm_2
    (W_QK N 0%nat 0%nat)) / (sqrt (d_qk N))) * ((diameter (X N 0%nat) p_2) ^ 2)) / 4))).
Proof. by_statement proved_jacobians.proved_own_lipschitz. Qed.

(** own:order *)
Theorem S_own_order :
  forall N, proper N ->
  plain N ->
  norm_after N ->
  heads N = 1%nat ->
  (INR (tokens N)) >= 2 ->
  (forall l, (l < layers N)%nat -> definite (W_QK N l 0%nat)) ->
  (forall l, (l < layers N)%nat -> ((((definiteness (W_QK N l 0%nat)) / (Rmin ((INR (tokens N)) - 1) (INR (dim N)))) *
    (sqrt ((q_min_mean N l 0%nat) / (q_max_mean N l 0%nat)))) - (((exp (delta_mean N l 0%nat)) - 1) * (norm_2 (W_QK N
    l 0%nat)))) > 0) ->
  mask_none N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (forall l, (l < layers N)%nat -> (((((least_singular (W N l 0%nat)) * (q_min_mean N l 0%nat)) / (sqrt (d_qk N))) *
    ((((definiteness (W_QK N l 0%nat)) / (Rmin ((INR (tokens N)) - 1) (INR (dim N)))) * (sqrt ((q_min_mean N l 0%nat)
    / (q_max_mean N l 0%nat)))) - (((exp (delta_mean N l 0%nat)) - 1) * (norm_2 (W_QK N l 0%nat))))) * ((mu (X N l)) ^
    3)) <= (mu (X N (S l)))) /\ (forall l, (l < layers N)%nat -> (mu (X N (S l))) <= ((((((norm_2 (W N l 0%nat)) *
    (q_max_mean N l 0%nat)) * (exp (delta_mean N l 0%nat))) * (norm_2 (W_QK N l 0%nat))) / (sqrt (d_qk N))) * ((mu (X
    N l)) ^ 3))).
Proof. by_statement proved_order.proved_own_order. Qed.

(** own:repeat *)
Theorem S_own_repeat :
  forall N, proper N ->
  plain N ->
  norm_after N ->
  mask_causal N ->
  heads N = 1%nat ->
  layers N = 1%nat ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  ((repeat_gap N 1%nat) <= (((((norm_2 (W N 0%nat 0%nat)) * (diameter (X N 0%nat) p_2)) * (last_share N ((tokens N) -
    1)%nat)) * (1 - (last_share N ((tokens N) - 1)%nat))) / (1 + (last_share N ((tokens N) - 1)%nat)))) /\
    ((repeat_gap N 1%nat) <= (((3 - (2 * (sqrt 2))) * (norm_2 (W N 0%nat 0%nat))) * (diameter (X N 0%nat) p_2))).
Proof. by_statement proved_tokens.proved_own_repeat. Qed.

(** own:residual-inf *)
Theorem S_own_residual_inf :
  forall N, proper N ->
  plain N ->
  norm_after N ->
  mask_padding N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (residual_inf (X N (layers N))) <= ((rpow ((maxi ((layers N) - 1) (fun l => (sum (heads N) (fun h => ((norm_max
    (W_QK N l h)) * (norm_inf (W N l h))))))) / (sqrt (d_qk N))) (((3 ^ (layers N)) - 1) / 2)) * ((residual_inf (X N
    0%nat)) ^ (3 ^ (layers N))%nat)).
Proof. by_statement proved_residuals.proved_own_residual_inf. Qed.

(** own:skip-lower *)
Theorem S_own_skip_lower :
  forall N, proper N ->
  plain N ->
  norm_after N ->
  (skip_of N) = 1 ->
  mask_padding N ->
  (maxi ((layers N) - 1) (fun l => (sum (heads N) (fun h => ((norm_2 (W N l h)) * (tanh (((norm_2 (W_QK N l h)) *
    ((diameter (X N l) p_2) ^ 2)) / (4 * (sqrt (d_qk N)))))))))) < 1 ->
  layernorm_none N ->
  mlp_none N ->
  (diameter (X N (layers N)) p_2) >= ((diameter (X N 0%nat) p_2) / (sqrt (1 + (((((2 - (maxi ((layers N) - 1) (fun l
    => (sum (heads N) (fun h => ((norm_2 (W N l h)) * (tanh (((norm_2 (W_QK N l h)) * ((diameter (X N l) p_2) ^ 2)) /
    (4 * (sqrt (d_qk N))))))))))) / ((1 - (maxi ((layers N) - 1) (fun l => (sum (heads N) (fun h => ((norm_2 (W N l
    h)) * (tanh (((norm_2 (W_QK N l h)) * ((diameter (X N l) p_2) ^ 2)) / (4 * (sqrt (d_qk N))))))))))) ^ 2)) * ((maxi
    ((layers N) - 1) (fun l => (sum (heads N) (fun h => ((norm_2 (W N l h)) * (norm_2 (W_QK N l h))))))) / (4 * (sqrt
    (d_qk N))))) * ((diameter (X N 0%nat) p_2) ^ 2)) * (INR (layers N)))))).
Proof. by_statement proved_networks.proved_own_skip_lower. Qed.

(** wu2024:1 *)
Theorem S_wu2024_1 :
  forall N, proper N ->
  forall r, is_radius N r ->
  plain N ->
  norm_after N ->
  heads N = 1%nat ->
  self_loops N ->
  quasi_strongly_connected N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  ((mu (X N (layers N))) <= ((((sqrt ((INR (tokens N)) / 2)) * (product_norm N p_2)) * (mu (X N 0%nat))) * ((1 - ((1 /
    (1 + (((in_degree N) - 1) * (exp (maxi ((layers N) - 1) (fun l => (logit_range N l 0%nat))))))) ^ r)) ^ ((layers
    N) / r)%nat))) /\ ((mu (X N (layers N))) <= ((((sqrt ((INR (tokens N)) / 2)) * (product_norm N p_2)) * (mu (X N
    0%nat))) * ((1 - ((minf ((layers N) - 1) (fun l => (epsilon N l 0%nat))) ^ r)) ^ ((layers N) / r)%nat))).
Proof. by_statement proved_masks.proved_wu2024_1. Qed.

(** wu2024:1-doeblin *)
Theorem S_wu2024_1_doeblin :
  forall N, proper N ->
  forall r, is_radius N r ->
  plain N ->
  norm_after N ->
  heads N = 1%nat ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (mu (X N (layers N))) <= ((((sqrt ((INR (tokens N)) / 2)) * (product_norm N p_2)) * (mu (X N 0%nat))) * (prodf
    (blocks r (layers N)) (fun k => (contraction N r k)))).
Proof. by_statement proved_masks.proved_wu2024_1_doeblin. Qed.

(** wu2024:2 *)
Theorem S_wu2024_2 :
  forall N, proper N ->
  forall r, is_radius N r ->
  plain N ->
  norm_after N ->
  heads N = 1%nat ->
  layernorm_sphere N ->
  bias_none N ->
  orthogonal_values N ->
  self_loops N ->
  (INR (tokens N)) >= 2 ->
  strongly_connected N ->
  (INR (tokens N)) <= (INR (dim N)) ->
  (gram_height (X N 0%nat)) > 0 ->
  ((INR (tokens N)) * (minf ((layers N) - 1) (fun l => (epsilon N l 0%nat)))) < 1 ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (mu (X N (layers N))) <= ((((sqrt (2 * (INR (tokens N)))) * (Rmax 1 (sqrt ((rpow ((1 - (sqrt (1 - ((INR (tokens N))
    * (rpow (minf ((layers N) - 1) (fun l => (epsilon N l 0%nat))) (2 * (INR r))))))) / ((minf ((layers N) - 1) (fun l
    => (epsilon N l 0%nat))) ^ r)) (- 2)) - 1)))) * (rpow (1 - ((INR (tokens N)) * (rpow (minf ((layers N) - 1) (fun l
    => (epsilon N l 0%nat))) (2 * (INR r))))) ((- ((Rmax 0 ((ln (((diameter (X N 0%nat) p_2) / (gram_height (X N
    0%nat))) / (sqrt (2 * (1 - ((1 - (sqrt (1 - ((INR (tokens N)) * (rpow (minf ((layers N) - 1) (fun l => (epsilon N
    l 0%nat))) (2 * (INR r))))))) / ((minf ((layers N) - 1) (fun l => (epsilon N l 0%nat))) ^ r))))))) / (- (ln (1 -
    ((gram_height (X N 0%nat)) * ((minf ((layers N) - 1) (fun l => (epsilon N l 0%nat))) ^ r))))))) + 2)) / 2))) *
    (rpow (1 - ((INR (tokens N)) * (rpow (minf ((layers N) - 1) (fun l => (epsilon N l 0%nat))) (2 * (INR r))))) ((INR
    (layers N)) / (2 * (INR r))))).
Proof. by_statement proved_sphere.proved_wu2024_2. Qed.

(** wu2024:cor1 *)
Theorem S_wu2024_cor1 :
  forall N, proper N ->
  forall r, is_radius N r ->
  plain N ->
  norm_after N ->
  heads N = 1%nat ->
  layernorm_sphere N ->
  bias_none N ->
  orthogonal_values N ->
  self_loops N ->
  (INR (tokens N)) >= 2 ->
  quasi_strongly_connected N ->
  ((diameter (X N 0%nat) p_2) ^ 2) <= 2 ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (mu (X N (layers N))) <= ((sqrt (((INR (tokens N)) - 1) * (1 - (1 - (((diameter (X N 0%nat) p_2) ^ 2) / 2))))) *
    (rpow (1 - (rpow (minf ((layers N) - 1) (fun l => (epsilon N l 0%nat))) (2 * (INR r)))) ((IZR (Int_part ((INR
    (layers N)) / (INR r)))) / 2))).
Proof. by_statement proved_masks.proved_wu2024_cor1. Qed.

(** wu2024:cor1-step *)
Theorem S_wu2024_cor1_step :
  forall N, proper N ->
  forall r, is_radius N r ->
  plain N ->
  norm_after N ->
  heads N = 1%nat ->
  layernorm_sphere N ->
  bias_none N ->
  orthogonal_values N ->
  self_loops N ->
  (INR (tokens N)) >= 2 ->
  quasi_strongly_connected N ->
  ((diameter (X N 0%nat) p_2) ^ 2) <= 2 ->
  (INR (layers N)) >= (INR r) ->
  mlp_none N ->
  (skip_of N) = 0 ->
  ((diameter (X N r) p_2) ^ 2) <= ((1 - (rpow (minf ((layers N) - 1) (fun l => (epsilon N l 0%nat))) (2 * (INR r)))) *
    ((diameter (X N 0%nat) p_2) ^ 2)).
Proof. by_statement proved_masks.proved_wu2024_cor1_step. Qed.

(** barbero2024:4.2 *)
Theorem S_barbero2024_4_2 :
  forall N, proper N ->
  plain N ->
  norm_after N ->
  mask_causal N ->
  layernorm_none N ->
  mlp_none N ->
  (repeat_gap N (layers N)) <= (Language.recursion (layers N) 0 (fun l b => ((b * ((Rabs (skip_of N)) + (((sum (heads
    N) (fun h => ((norm_2 (W N l h)) * (norm_2 (W_QK N l h))))) * ((diameter (X N l) p_2) ^ 2)) / (4 * (sqrt (d_qk
    N)))))) + ((sum (heads N) (fun h => ((norm_2 (W N l h)) * (repeat_share N l h)))) * (repeat_reach N l))))).
Proof. by_statement proved_tokens.proved_barbero2024_4_2. Qed.

(** own:attention-shares *)
Theorem S_own_attention_shares :
  forall N, proper N ->
  plain N ->
  norm_after N ->
  heads N = 1%nat ->
  query_bias_none N ->
  mask_none N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (jacobian_norm N) <= ((norm_2 (W N 0%nat 0%nat)) * ((norm_2 (P N 0%nat 0%nat)) + (((((norm_2 (W_QK N 0%nat 0%nat)) /
    (sqrt (d_qk N))) * (top_shares (P N 0%nat 0%nat))) * (centred_norm (X N 0%nat))) * ((centred_norm (X N 0%nat)) +
    (norm_2 (X N 0%nat)))))).
Proof. by_statement proved_jacobians.proved_own_attention_shares. Qed.

(** own:consensus-derivative *)
Theorem S_own_consensus_derivative :
  forall N, proper N ->
  norm_after N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  forall l, (l < layers N)%nat -> (linear_gap N l) <= ((sum (heads N) (fun h => ((norm_2 (W N l h)) * (tanh
    ((consensus_shift N l h) / 4))))) * (diameter (X N l) p_2)).
Proof. by_statement proved_consensus.proved_own_consensus_derivative. Qed.

(** own:consensus-rate *)
Theorem S_own_consensus_rate :
  forall N, proper N ->
  norm_after N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  ((diameter (X N (layers N)) p_1) <= ((prodf (layers N) (fun l => (sum (heads N) (fun h => ((operator_norm (W N l h)
    p_1) * ((dobrushin (P0 N l h)) + (2 * (tanh ((consensus_shift N l h) / 4))))))))) * (diameter (X N 0%nat) p_1)))
    /\ (((diameter (X N (layers N)) p_2) <= ((prodf (layers N) (fun l => (sum (heads N) (fun h => ((operator_norm (W N
    l h) p_2) * ((dobrushin (P0 N l h)) + (2 * (tanh ((consensus_shift N l h) / 4))))))))) * (diameter (X N 0%nat)
    p_2))) /\ ((diameter (X N (layers N)) p_inf) <= ((prodf (layers N) (fun l => (sum (heads N) (fun h =>
    ((operator_norm (W N l h) p_inf) * ((dobrushin (P0 N l h)) + (2 * (tanh ((consensus_shift N l h) / 4))))))))) *
    (diameter (X N 0%nat) p_inf)))).
Proof. by_statement proved_positions.proved_own_consensus_rate. Qed.

(** own:second-token *)
Theorem S_own_second_token :
  forall N, proper N ->
  norm_after N ->
  mask_causal N ->
  (INR (tokens N)) >= 2 ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  ((first_gap (X N (layers N))) >= ((prodf (layers N) (fun l => (second_least N l))) * (first_gap (X N 0%nat)))) /\
    ((first_gap (X N (layers N))) <= ((prodf (layers N) (fun l => (second_norm N l))) * (first_gap (X N 0%nat)))).
Proof. by_statement proved_positions.proved_own_second_token. Qed.

(** own:transport *)
Theorem S_own_transport :
  forall N, proper N ->
  norm_after N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  ((diameter (X N (layers N)) p_1) <= ((prodf (layers N) (fun l => (sum (heads N) (fun h => ((operator_norm (W N l h)
    p_1) * (dobrushin (P N l h))))))) * (diameter (X N 0%nat) p_1))) /\ (((diameter (X N (layers N)) p_2) <= ((prodf
    (layers N) (fun l => (sum (heads N) (fun h => ((operator_norm (W N l h) p_2) * (dobrushin (P N l h))))))) *
    (diameter (X N 0%nat) p_2))) /\ ((diameter (X N (layers N)) p_inf) <= ((prodf (layers N) (fun l => (sum (heads N)
    (fun h => ((operator_norm (W N l h) p_inf) * (dobrushin (P N l h))))))) * (diameter (X N 0%nat) p_inf)))).
Proof. by_statement proved_positions.proved_own_transport. Qed.

(** own:transport-skip *)
Theorem S_own_transport_skip :
  forall N, proper N ->
  norm_after N ->
  (forall l, (l < layers N)%nat -> (sum (heads N) (fun h => ((norm_2 (W N l h)) * (dobrushin (P N l h))))) < (Rabs
    (skip_of N))) ->
  layernorm_none N ->
  mlp_none N ->
  ((diameter (X N (layers N)) p_2) >= ((prodf (layers N) (fun l => ((Rabs (skip_of N)) - (sum (heads N) (fun h =>
    ((norm_2 (W N l h)) * (dobrushin (P N l h)))))))) * (diameter (X N 0%nat) p_2))) /\ ((diameter (X N (layers N))
    p_2) <= ((prodf (layers N) (fun l => ((Rabs (skip_of N)) + (sum (heads N) (fun h => ((norm_2 (W N l h)) *
    (dobrushin (P N l h)))))))) * (diameter (X N 0%nat) p_2))).
Proof. by_statement proved_positions.proved_own_transport_skip. Qed.

(** alman2025:one-layer *)
Theorem S_alman2025_one_layer :
  forall N, proper N ->
  norm_after N ->
  (skip_of N) = 1 ->
  bias_none N ->
  layernorm_none N ->
  mlp_none N ->
  (moved N (layers N)) <= (((prodf (layers N) (fun l => (1 + (sum (heads N) (fun h => (norm_1 (W N l h))))))) - 1) *
    (norm_max (X N 0%nat))).
Proof. by_statement proved_positions.proved_alman2025_one_layer. Qed.

(** yudin2025:attention *)
Theorem S_yudin2025_attention :
  forall N, proper N ->
  plain N ->
  norm_after N ->
  heads N = 1%nat ->
  layers N = 1%nat ->
  query_bias_none N ->
  mask_none N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (jacobian_norm N) <= ((norm_2 (W N 0%nat 0%nat)) * ((norm_2 (P N 0%nat 0%nat)) + (((2 * ((norm_2 (W_QK N 0%nat
    0%nat)) / (sqrt (d_qk N)))) * (top_shares (P N 0%nat 0%nat))) * ((norm_2 (X N 0%nat)) ^ 2)))).
Proof. by_statement proved_jacobians.proved_yudin2025_attention. Qed.

(** castin2024:3.3 *)
Theorem S_castin2024_3_3 :
  forall N, proper N ->
  plain N ->
  norm_after N ->
  heads N = 1%nat ->
  layers N = 1%nat ->
  query_bias_none N ->
  mask_none N ->
  layernorm_none N ->
  mlp_none N ->
  (skip_of N) = 0 ->
  (jacobian_norm N) <= (((sqrt 3) * (norm_2 (W N 0%nat 0%nat))) * (sqrt ((((((norm_2 (W_QK N 0%nat 0%nat)) / (sqrt
    (d_qk N))) ^ 2) * ((longest (X N 0%nat)) ^ 4)) * ((4 * (INR (tokens N))) + 1)) + (INR (tokens N))))).
Proof. by_statement proved_jacobians.proved_castin2024_3_3. Qed.
