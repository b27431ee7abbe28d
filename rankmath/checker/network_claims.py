"""Registered claims about networks, as text: key | title | the claim | its hypotheses.

The library writes the same claims as formulas; a test holds the two against each other.
"""

from __future__ import annotations

import re

TABLE = """
dong2021:2.2 | Doubly exponential collapse, one head (2023 form)
    | residual(X[L], composite) <= (4*max_l(max_h(gamma(P[l, h])))*max_l(max_h(norm(W_QK[l, h], 1)*norm(W[l, h],
    composite)))/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0], composite)**(3**L)
    | H == 1; all_l(max_h(delta(P[l, h], composite)) <= x_star); mask == none; layernorm == none; mlp == none; skip
    == 0
dong2021:2.3 | Doubly exponential collapse, many heads (2023 form, heads summed norm by norm)
    | residual(X[L], composite) <= (4*max_l(max_h(gamma(P[l, h])))*max_l(sqrt(sum_h(norm(W_QK[l, h], 1)*norm(W[l,
    h], 1))*sum_h(norm(W_QK[l, h], 1)*norm(W[l, h], inf))))/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0],
    composite)**(3**L)
    | all_l(max_h(delta(P[l, h], composite)) <= x_star); mask == none; layernorm == none; mlp == none; skip == 0
dong2021:2.3-printed | Doubly exponential collapse, many heads (2023 form with βH)
    | residual(X[L], composite) <= (4*max_l(max_h(gamma(P[l, h])))*max_l(max_h(norm(W_QK[l, h], 1)*norm(W[l, h],
    composite)))*H/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0], composite)**(3**L)
    | all_l(max_h(delta(P[l, h], composite)) <= x_star); mask == none; layernorm == none; mlp == none; skip == 0
dong2021:3.1 | Skip connections can keep the residual, however small β
    | residual(X[L], frobenius) >= residual(X[0], frobenius)
    | skip == 1; mask == any; disjoint_blocks(); layernorm == none; mlp == none
dong2021:3.2 | A Lipschitz map after every layer
    | residual(X[L], composite) <= (4*max_l(max_h(gamma(P[l, h])))*max_l(sqrt(sum_h(norm(W_QK[l, h], 1)*norm(W[l,
    h], 1))*sum_h(norm(W_QK[l, h], 1)*norm(W[l, h], inf))))*max_l(lipschitz(l))/sqrt(d_qk))**((3**L -
    1)/2)*residual(X[0], composite)**(3**L)
    | mlp == any; all_l(max_h(delta(P[l, h], composite)) <= x_star); mask == none; layernorm == none; skip == 0
dong2021:3.3 | Column LayerNorm is a right multiplication
    | all_p(diameter(X[1], p) <= sum_h(normalised_norm(W[0, h], p)*tanh(form_norm(W_QK[0, h], p)*diameter(X[0],
    p)**2/(4*sqrt(d_qk))))*diameter(X[0], p))
    | layernorm == column; L == 1; mask == none; mlp == none; skip == 0
dong2021v1:2.2 | Doubly exponential collapse, one head (2021 form)
    | residual(X[L], composite) <= (4*max_l(max_h(norm(W_QK[l, h], 1)*norm(W[l, h], composite)))/sqrt(d_qk))**((3**L
    - 1)/2)*residual(X[0], composite)**(3**L)
    | H == 1; mask == none; layernorm == none; mlp == none; skip == 0
dong2021v1:2.2-mean | Doubly exponential collapse about the mean, one head (2021 form)
    | about_mean(X[L]) <= (4*max_l(max_h(norm(W_QK[l, h], 1)*norm(W[l, h], composite)))/sqrt(d_qk))**((3**L -
    1)/2)*about_mean(X[0])**(3**L)
    | H == 1; mask == none; layernorm == none; mlp == none; skip == 0
dong2021v1:2.3 | Doubly exponential collapse, many heads (2021 form)
    | residual(X[L], composite) <= (4*max_l(max_h(norm(W_QK[l, h], 1)*norm(W[l, h],
    composite)))*H/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0], composite)**(3**L)
    | mask == none; layernorm == none; mlp == none; skip == 0
own:attention-shares | The derivative of attention by the two largest shares of its rows and the spread of the
    tokens
    | jacobian_norm() <= norm(W[0, 0], 2)*(norm(P[0, 0], 2) + norm(W_QK[0, 0], 2)/sqrt(d_qk)*top_shares(P[0,
    0])*centred_norm(X[0])*(centred_norm(X[0]) + norm(X[0], 2)))
    | H == 1; L == 1; query_bias == none; mask == none; layernorm == none; mlp == none; skip == 0
own:causal-rate | Under a causal mask attention at consensus bounds the distance from the first token on both sides
    | reach(X[L]) >= prod_l(diagonal(P0[l, 0], 1)*exp(-consensus_shift(P[l, 0]))*least_singular(W[l,
    0]))*first_gap(X[0]) and reach(X[L]) <= L**(n - 2)*prod_l(norm(W[l, 0], 2)*(1/L + (1 - 1/L)*other_share(P0[l,
    0])*exp(consensus_shift(P[l, 0]))))*reach(X[0])
    | mask == causal; n >= 2; H == 1; positions == any; softcap == any; qk_norm == any; layernorm == none; mlp ==
    none; skip == 0
own:composite | Doubly exponential collapse with half of the constant of dong2021:2.3, any number of heads
    | residual(X[L], composite) <= (2*max_l(max_h(gamma(P[l, h])))*max_l(sqrt(sum_h(norm(W_QK[l, h], 1)*norm(W[l,
    h], 1))*sum_h(norm(W_QK[l, h], 1)*norm(W[l, h], inf))))/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0],
    composite)**(3**L)
    | all_l(max_h(delta(P[l, h], composite)) <= x_star); mask == none; layernorm == none; mlp == none; skip == 0
own:consensus-derivative | At consensus the derivative of attention is R ↦ Σ_h P₀ R W, with the size of what is left
    out
    | all_l(linear_gap(l) <= sum_h(norm(W[l, h], 2)*tanh(consensus_shift(P[l, h])/4))*diameter(X[l], 2))
    | mask == any; positions == any; softcap == any; qk_norm == any; layernorm == none; mlp == none; skip == 0
own:consensus-rate | Total variation at consensus and the shift of the logits bound how the diameter grows
    | all_p(diameter(X[L], p) <= prod_l(sum_h(operator_norm(W[l, h], p)*(dobrushin(P0[l, h]) +
    2*tanh(consensus_shift(P[l, h])/4))))*diameter(X[0], p))
    | mask == any; positions == any; softcap == any; qk_norm == any; layernorm == none; mlp == none; skip == 0
own:consensus-second | Under a causal mask the gap of the first two tokens follows the attention at consensus
    | first_gap(X[L]) >= prod_l(diagonal(P0[l, 0], 1)*exp(-consensus_shift(P[l, 0]))*least_singular(W[l,
    0]))*first_gap(X[0]) and first_gap(X[L]) <= prod_l(diagonal(P0[l, 0], 1)*exp(consensus_shift(P[l, 0]))*norm(W[l,
    0], 2))*first_gap(X[0])
    | mask == causal; n >= 2; H == 1; positions == any; softcap == any; qk_norm == any; layernorm == none; mlp ==
    none; skip == 0
own:consensus-spectrum | The second modulus of attention at consensus lies between |trace − 1|/(n − 1) and the total
    variation
    | all_l(all_h(abs(sum_i(diagonal(P0[l, h], i)) - 1) <= (n - 1)*second_modulus(P0[l, h]) and second_modulus(P0[l,
    h]) <= dobrushin(P0[l, h])))
    | mask == any; positions == any; softcap == any; qk_norm == any; layernorm == none; mlp == none; skip == 0
own:diameter | Sharp diameter collapse
    | all_p(diameter(X[L], p) <= recursion(b, diameter(X[0], p), sum_h(operator_norm(W[l, h],
    p)*b*tanh(form_norm(W_QK[l, h], p)*b**2/(4*sqrt(d_qk))))))
    | mask == padding; layernorm == none; mlp == none; skip == 0
own:diameter-cubic | Diameter collapse, in closed form
    | all_p(diameter(X[L], p) <= (max_l(sum_h(operator_norm(W[l, h], p)*form_norm(W_QK[l, h],
    p)))/(4*sqrt(d_qk)))**((3**L - 1)/2)*diameter(X[0], p)**(3**L))
    | mask == padding; layernorm == none; mlp == none; skip == 0
own:full-rank | Orthogonal values under sphere LayerNorm collapse from full rank, with a rate of ours
    | mu(X[L]) <= sqrt((n - 1)/2)*diameter(X[0], 2)/gram_height(X[0])*(1 - gram_height(X[0])*min_l(epsilon(P[l,
    0]))**r)**floor(L/r)
    | H == 1; mask == any; layernorm == sphere; bias == none; orthogonal_values(); self_loops(); n >= 2;
    quasi_strongly_connected(); n <= d; gram_height(X[0]) > 0; mlp == none; skip == 0
own:gamma-free | A composite bound free of γ
    | residual(X[1], composite) <= sqrt(2*expc(max_h(delta(P[0, h], composite)))/d_qk*sum_h(q_max(P[0, h],
    composite)*norm(W_QK[0, h], 1)*norm(W[0, h], 1))*sum_h(norm(W_QK[0, h], 1)*norm(W[0, h], inf)))*residual(X[0],
    composite)**3
    | L == 1; mask == none; layernorm == none; mlp == none; skip == 0
own:gamma-free-one-head | A composite bound free of γ, one head
    | residual(X[1], composite) <= sqrt(2*expc(delta(P[0, 0], composite))*tanhc(delta(P[0, 0],
    composite)/4)*q_max(P[0, 0], composite)/d_qk)*norm(W_QK[0, 0], 1)*norm(W[0, 0], composite)*residual(X[0],
    composite)**3
    | H == 1; L == 1; mask == none; layernorm == none; mlp == none; skip == 0
own:gamma-free-sharp | The constant √(32/27), sharp as the attention flattens, one head
    | residual(X[1], composite) <= sqrt(expc(delta(P[0, 0], composite))*(32/27*expc(delta(P[0, 0], composite)) +
    2*(expc(delta(P[0, 0], composite)) - 1))*q_max(P[0, 0], composite)/d_qk)*norm(W_QK[0, 0], 1)*norm(W[0, 0],
    composite)*residual(X[0], composite)**3
    | H == 1; L == 1; mask == none; layernorm == none; mlp == none; skip == 0
own:hemisphere | Orthogonal values under sphere LayerNorm collapse from any open hemisphere
    | section(X[L]) <= (1 - height()*min_l(epsilon(P[l, 0]))**r)**floor(L/r)*section(X[0]) and mu(X[L]) <= sqrt((n -
    1)/2)*(1 - height()*min_l(epsilon(P[l, 0]))**r)**floor(L/r)*section(X[0])
    | H == 1; mask == any; layernorm == sphere; bias == none; orthogonal_values(); self_loops(); n >= 2;
    quasi_strongly_connected(); height() > 0; mlp == none; skip == 0
own:influence | The last token sees of another one what it attends to it, up to a constant, though attention moves
    | all_i(influence(i) <= norm(W[0, 0], 2)*(1 + norm(W_QK[0, 0], 2)/sqrt(d_qk)*longest(X[0])*diameter(X[0],
    2))*last_share(i) + is_last(i)*(abs(skip) + norm(W[0, 0], 2)*(norm(W_QK[0, 0], 2)/sqrt(d_qk))*diameter(X[0],
    2)**2/4))
    | mask == causal; H == 1; L == 1; query_bias == none; layernorm == none; mlp == none
own:lambda-skip-lower | A λ-skip keeps a share of the diameter at every layer
    | diameter(X[L], 2) >= diameter(X[0], 2)*prod_l(abs(skip) - sum_h(norm(W[l, h], 2)*tanh(norm(W_QK[l, h],
    2)*diameter(X[l], 2)**2/(4*sqrt(d_qk)))))
    | mask == padding; all_l(sum_h(norm(W[l, h], 2)*tanh(norm(W_QK[l, h], 2)*diameter(X[l], 2)**2/(4*sqrt(d_qk)))) <
    abs(skip)); layernorm == none; mlp == none
own:lambda-skip-sphere | Skips on the sphere, |λ| ≥ 2‖W‖₂: no layer shrinks the diameter by more than a fixed factor
    | all_l(diameter(X[l + 1], 2) >= diameter(X[l], 2)*(abs(skip) - norm(W[l, 0], 2)*tanh(norm(W_QK[l, 0],
    2)*diameter(X[l], 2)**2/(4*sqrt(d_qk))))/(abs(skip) + norm(W[l, 0], 2)))
    | layernorm == sphere; H == 1; bias == none; abs(skip) > 0; all_l(2*norm(W[l, 0], 2) <= abs(skip)); mask ==
    none; mlp == none
own:lambda-skip-upper | A λ-skip lets the diameter grow by a factor at most
    | diameter(X[L], 2) <= diameter(X[0], 2)*prod_l(abs(skip) + sum_h(norm(W[l, h], 2)*tanh(norm(W_QK[l, h],
    2)*diameter(X[l], 2)**2/(4*sqrt(d_qk)))))
    | mask == padding; layernorm == none; mlp == none
own:lipschitz | How much attention stretches a change of its tokens, by their diameter and by the attention
    | jacobian_norm() <= norm(W[0, 0], 2)*(sqrt(norm(P[0, 0], 1)*(1 + (norm(W_QK[0, 0],
    2)/sqrt(d_qk)*longest(X[0])*diameter(X[0], 2)/2)**2)) + norm(W_QK[0, 0], 2)/sqrt(d_qk)*diameter(X[0], 2)**2/4)
    | H == 1; L == 1; query_bias == none; mask == none; layernorm == none; mlp == none; skip == 0
own:order | Cubic bounds on both sides, layer by layer
    | all_l(least_singular(W[l, 0])*q_min(P[l, 0], mean)/sqrt(d_qk)*(definiteness(W_QK[l, 0])/min(n - 1,
    d)*sqrt(q_min(P[l, 0], mean)/q_max(P[l, 0], mean)) - (exp(delta(P[l, 0], mean)) - 1)*norm(W_QK[l, 0],
    2))*mu(X[l])**3 <= mu(X[l + 1])) and all_l(mu(X[l + 1]) <= norm(W[l, 0], 2)*q_max(P[l, 0], mean)*exp(delta(P[l,
    0], mean))*norm(W_QK[l, 0], 2)/sqrt(d_qk)*mu(X[l])**3)
    | H == 1; n >= 2; all_l(definite(W_QK[l, 0])); all_l(definiteness(W_QK[l, 0])/min(n - 1, d)*sqrt(q_min(P[l, 0],
    mean)/q_max(P[l, 0], mean)) - (exp(delta(P[l, 0], mean)) - 1)*norm(W_QK[l, 0], 2) > 0); mask == none; layernorm
    == none; mlp == none; skip == 0
own:positions-diameter | The diameter with positions, rotary or additive: the tanh of own:diameter with what
    positions add
    | diameter(X[L], 2) <= prod_l(sum_h(norm(W[l, h], 2)*tanh((turned_range(P[l, h]) + position_range(P[l,
    h]))/4)))*diameter(X[0], 2)
    | mask == padding; positions == any; qk_norm == any; layernorm == none; mlp == none; skip == 0
own:pre-norm-depth | RMSNorm before attention, tokens that grow: the diameter changes by a power of the depth at
    most
    | diameter(X[L], 2) >= exp(-max_l(sum_h(gained_norm(W[l, h])*dobrushin(P[l, h])))/(least_root(0) -
    max_l(sum_h(gained_norm(W[l, h])*dobrushin(P[l, h])))) - max_l(sum_h(gained_norm(W[l, h])*dobrushin(P[l,
    h])))/root_growth()*log(1 + root_growth()*L/(least_root(0) - max_l(sum_h(gained_norm(W[l, h])*dobrushin(P[l,
    h]))))))*diameter(X[0], 2) and diameter(X[L], 2) <= exp(max_l(sum_h(gained_norm(W[l, h])*dobrushin(P[l,
    h])))/least_root(0) + max_l(sum_h(gained_norm(W[l, h])*dobrushin(P[l, h])))/root_growth()*log(1 +
    root_growth()*L/least_root(0)))*diameter(X[0], 2)
    | layernorm == rms; norm_at == before; skip == 1; L >= 2; mask == any; positions == any; softcap == any; qk_norm
    == any; root_growth() > 0; max_l(sum_h(gained_norm(W[l, h])*dobrushin(P[l, h]))) < least_root(0); mlp == none
own:pre-norm-diameter | With RMSNorm before attention a layer changes the diameter by a share that falls as tokens
    grow
    | diameter(X[L], 2) >= prod_l(abs(skip) - sum_h(gained_norm(W[l, h])*dobrushin(P[l,
    h]))/least_root(l))*diameter(X[0], 2) and diameter(X[L], 2) <= prod_l(abs(skip) + sum_h(gained_norm(W[l,
    h])*dobrushin(P[l, h]))/least_root(l))*diameter(X[0], 2)
    | layernorm == rms; norm_at == before; mask == any; positions == any; softcap == any; qk_norm == any;
    all_l(sum_h(gained_norm(W[l, h])*dobrushin(P[l, h]))/least_root(l) < abs(skip)); mlp == none
own:pre-norm-power | Causal attention behind RMSNorm: the exact power of the depth with which the first two
    directions meet
    | across(X[L]) >= prod_l(1 + gained_norm(W[l, 0])*diagonal(P[l, 0], 1)/largest_root(l))*across(X[0]) and
    across(X[L]) <= prod_l(1 + gained_norm(W[l, 0])*diagonal(P[l, 0], 1)/least_root(l))*across(X[0])
    | layernorm == rms; norm_at == before; skip == 1; H == 1; n >= 2; mask == causal; bias == none; positions ==
    any; softcap == any; qk_norm == any; scaling_values(); mlp == none
own:relative-shares | At consensus a later token gives itself less, with relative positions under a causal mask
    | all_l(all_h(diagonal(P0[l, h], n - 1) < diagonal(P0[l, h], 1)))
    | mask == causal; positions == relative; n >= 3; layernorm == none; mlp == none; skip == 0
own:repeat | A repeated last token differs from the last by at most 3 − 2√2 of the diameter, times the values' norm
    | repeat_gap(X[1]) <= norm(W[0, 0], 2)*diameter(X[0], 2)*last_share(n - 1)*(1 - last_share(n - 1))/(1 +
    last_share(n - 1)) and repeat_gap(X[1]) <= (3 - 2*sqrt(2))*norm(W[0, 0], 2)*diameter(X[0], 2)
    | mask == causal; H == 1; L == 1; layernorm == none; mlp == none; skip == 0
own:residual-inf | Residual form of the diameter collapse
    | residual(X[L], inf) <= (max_l(sum_h(norm(W_QK[l, h], max)*norm(W[l, h], inf)))/sqrt(d_qk))**((3**L -
    1)/2)*residual(X[0], inf)**(3**L)
    | mask == padding; layernorm == none; mlp == none; skip == 0
own:second-token | Under a causal mask the distance of the first two tokens is a product over the layers, with any
    logits
    | first_gap(X[L]) >= prod_l(second_least(l))*first_gap(X[0]) and first_gap(X[L]) <=
    prod_l(second_norm(l))*first_gap(X[0])
    | mask == causal; n >= 2; positions == any; softcap == any; qk_norm == any; layernorm == none; mlp == none; skip
    == 0
own:shrinking-values | Rotary positions, no mask, values that shrink: log of the diameter falls at least like depth
    squared
    | diameter(X[L], 2) <= max_l(sum_h(norm(W[l, h], 2)))**(L**2)*(max_l(max_h(lengthening(P[l,
    h])))*longest(X[0])**2)**L*diameter(X[0], 2)
    | mask == padding; positions == rotary; bias == none; query_bias == none; layernorm == none; mlp == none; skip
    == 0
own:skip-lower | With skips the diameter decays no faster than 1/√L, as long as no layer can undo them (θ < 1)
    | diameter(X[L], 2) >= diameter(X[0], 2)/sqrt(1 + (2 - max_l(sum_h(norm(W[l, h], 2)*tanh(norm(W_QK[l, h],
    2)*diameter(X[l], 2)**2/(4*sqrt(d_qk))))))/(1 - max_l(sum_h(norm(W[l, h], 2)*tanh(norm(W_QK[l, h],
    2)*diameter(X[l], 2)**2/(4*sqrt(d_qk))))))**2*(max_l(sum_h(norm(W[l, h], 2)*norm(W_QK[l, h],
    2)))/(4*sqrt(d_qk)))*diameter(X[0], 2)**2*L)
    | skip == 1; mask == padding; max_l(sum_h(norm(W[l, h], 2)*tanh(norm(W_QK[l, h], 2)*diameter(X[l],
    2)**2/(4*sqrt(d_qk))))) < 1; layernorm == none; mlp == none
own:transport | With any logits and any mask the diameter grows by total variation times the norm of the values at
    most
    | all_p(diameter(X[L], p) <= prod_l(sum_h(operator_norm(W[l, h], p)*dobrushin(P[l, h])))*diameter(X[0], p))
    | mask == any; positions == any; softcap == any; qk_norm == any; layernorm == none; mlp == none; skip == 0
own:transport-skip | A λ-skip keeps the diameter between two products, with any logits and any mask
    | diameter(X[L], 2) >= prod_l(abs(skip) - sum_h(norm(W[l, h], 2)*dobrushin(P[l, h])))*diameter(X[0], 2) and
    diameter(X[L], 2) <= prod_l(abs(skip) + sum_h(norm(W[l, h], 2)*dobrushin(P[l, h])))*diameter(X[0], 2)
    | mask == any; positions == any; softcap == any; qk_norm == any; all_l(sum_h(norm(W[l, h], 2)*dobrushin(P[l,
    h])) < abs(skip)); layernorm == none; mlp == none
wu2024:1 | Masked attention collapses exponentially, up to the product of its values, in explicit form
    | mu(X[L]) <= sqrt(n/2)*product_norm(2)*mu(X[0])*(1 - (1/(1 + (in_degree - 1)*exp(max_l(logit_range(P[l,
    0])))))**r)**floor(L/r) and mu(X[L]) <= sqrt(n/2)*product_norm(2)*mu(X[0])*(1 - min_l(epsilon(P[l,
    0]))**r)**floor(L/r)
    | H == 1; mask == any; self_loops(); quasi_strongly_connected(); layernorm == none; mlp == none; skip == 0
wu2024:1-doeblin | Masked attention, up to the product of its values: the computed contraction
    | mu(X[L]) <= sqrt(n/2)*product_norm(2)*mu(X[0])*prod_k(contraction(k))
    | H == 1; mask == any; layernorm == none; mlp == none; skip == 0
wu2024:2 | Orthogonal values under sphere LayerNorm collapse from full rank, at the printed rate
    | mu(X[L]) <= sqrt(2*n)*max(1, sqrt(((1 - sqrt(1 - n*min_l(epsilon(P[l, 0]))**(2*r)))/min_l(epsilon(P[l,
    0]))**r)**(-2) - 1))*(1 - n*min_l(epsilon(P[l, 0]))**(2*r))**(-(max(0, log(diameter(X[0],
    2)/gram_height(X[0])/sqrt(2*(1 - (1 - sqrt(1 - n*min_l(epsilon(P[l, 0]))**(2*r)))/min_l(epsilon(P[l,
    0]))**r)))/-log(1 - gram_height(X[0])*min_l(epsilon(P[l, 0]))**r)) + 2)/2)*(1 - n*min_l(epsilon(P[l,
    0]))**(2*r))**(L/(2*r))
    | H == 1; mask == any; layernorm == sphere; bias == none; orthogonal_values(); self_loops(); n >= 2;
    strongly_connected(); n <= d; gram_height(X[0]) > 0; n*min_l(epsilon(P[l, 0])) < 1; mlp == none; skip == 0
wu2024:2-step | A step of the printed proof of Theorem 2, with the radius
    | 1 - cosine(X[1]) <= (1 - n*epsilon(P[0, 0])**2)*(1 - cosine(X[0]))
    | H == 1; mask == any; layernorm == sphere; bias == none; orthogonal_values(); self_loops(); n >= 2; L == 1;
    strongly_connected(); r == 1; cosine(X[0]) >= 0; n*epsilon(P[0, 0]) < 1; mlp == none; skip == 0
wu2024:cor1 | Orthogonal values under sphere LayerNorm collapse from acute angles
    | mu(X[L]) <= sqrt((n - 1)*(1 - (1 - diameter(X[0], 2)**2/2)))*(1 - min_l(epsilon(P[l,
    0]))**(2*r))**(floor(L/r)/2)
    | H == 1; mask == any; layernorm == sphere; bias == none; orthogonal_values(); self_loops(); n >= 2;
    quasi_strongly_connected(); diameter(X[0], 2)**2 <= 2; mlp == none; skip == 0
wu2024:cor1-centers | Orthogonal values under sphere LayerNorm collapse from acute angles, faster by the number of
    centers
    | mu(X[L]) <= sqrt((n - 1)*(1 - (1 - diameter(X[0], 2)**2/2)))*(1 - center_count()*min_l(epsilon(P[l,
    0]))**(2*farthest()))**(floor(L/farthest())/2)
    | H == 1; mask == any; layernorm == sphere; bias == none; orthogonal_values(); self_loops(); n >= 2;
    quasi_strongly_connected(); diameter(X[0], 2)**2 <= 2; mlp == none; skip == 0
wu2024:cor1-step | In r layers the least cosine gains a share of what is missing to one
    | diameter(X[r], 2)**2 <= (1 - min_l(epsilon(P[l, 0]))**(2*r))*diameter(X[0], 2)**2
    | H == 1; mask == any; layernorm == sphere; bias == none; orthogonal_values(); self_loops(); n >= 2;
    quasi_strongly_connected(); diameter(X[0], 2)**2 <= 2; L >= r; mlp == none; skip == 0
wu2024:pre-ln | With LayerNorm in front of attention tokens collapse as with LayerNorm behind it, one layer later
    | mu_before(L - 1) <= sqrt((n - 1)*(1 - (1 - diameter(X[0], 2)**2/2)))*(1 - min_l(epsilon(P[l,
    0]))**(2*r))**(floor((L - 1)/r)/2)
    | H == 1; mask == any; layernorm == sphere; bias == none; orthogonal_values(); self_loops(); n >= 2;
    quasi_strongly_connected(); diameter(X[0], 2)**2 <= 2; mlp == none; skip == 0
alman2025:one-layer | With skips and small values the whole network is near the identity
    | moved(X[L]) <= (prod_l(1 + sum_h(norm(W[l, h], 1))) - 1)*norm(X[0], max)
    | skip == 1; bias == none; mask == any; positions == any; softcap == any; qk_norm == any; layernorm == none; mlp
    == none
barbero2024:4.2 | A repeated last token: the two last tokens come together as the input grows, explicitly
    | repeat_gap(X[L]) <= recursion(b, 0, b*(abs(skip) + sum_h(norm(W[l, h], 2)*norm(W_QK[l, h], 2))*diameter(X[l],
    2)**2/(4*sqrt(d_qk))) + sum_h(norm(W[l, h], 2)*repeat_share(P[l, h]))*repeat_reach(X[l]))
    | mask == causal; layernorm == none; mlp == none
castin2024:3.3 | Attention on a ball is Lipschitz, with a constant of order √n
    | jacobian_norm() <= sqrt(3)*norm(W[0, 0], 2)*sqrt((norm(W_QK[0, 0], 2)/sqrt(d_qk))**2*longest(X[0])**4*(4*n +
    1) + n)
    | H == 1; L == 1; query_bias == none; mask == none; layernorm == none; mlp == none; skip == 0
folk:influence | The last token sees of another one no more than it attends to it (attention not frozen)
    | all_i((1 - is_last(i))*influence(i) <= norm(W[0, 0], 2)*last_share(i))
    | mask == causal; H == 1; L == 1; skip == 1; layernorm == none; mlp == none
folk:lambda-skip | Skips on the sphere keep |λ|/(SC + |λ|) of the spread, however close the tokens
    | mu(X[1])*(norm(W[0, 0], frobenius)*norm(P[0, 0], frobenius) + abs(skip)) >= abs(skip)*mu(X[0])
    | layernorm == sphere; H == 1; bias == none; L == 1; abs(skip) > 0; mask == none; mlp == none
unstated:diameter-rotary | Doubly exponential collapse of the diameter with positions: a claim that nobody makes
    | all_p(diameter(X[L], p) <= recursion(b, diameter(X[0], p), sum_h(operator_norm(W[l, h],
    p)*b*tanh(form_norm(W_QK[l, h], p)*b**2/(4*sqrt(d_qk))))))
    | mask == padding; positions == any; layernorm == none; mlp == none; skip == 0
unstated:large-logits | Doubly exponential collapse, one head, without small logits: a claim that nobody makes
    | residual(X[L], composite) <= (4*max_l(max_h(gamma(P[l, h])))*max_l(max_h(norm(W_QK[l, h], 1)*norm(W[l, h],
    composite)))/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0], composite)**(3**L)
    | H == 1; mask == none; layernorm == none; mlp == none; skip == 0
yudin2025:attention | The derivative of attention by the two largest shares of its rows
    | jacobian_norm() <= norm(W[0, 0], 2)*(norm(P[0, 0], 2) + 2*(norm(W_QK[0, 0], 2)/sqrt(d_qk))*top_shares(P[0,
    0])*norm(X[0], 2)**2)
    | H == 1; L == 1; query_bias == none; mask == none; layernorm == none; mlp == none; skip == 0
"""


def _claim_of(entry: str) -> tuple[str, tuple[str, str, tuple[str, ...]]]:
    key, title, claim, given = " ".join(entry.split()).split(" | ")
    return key, (title, claim, tuple(given.split("; ")))


# An entry begins where a line does, and its other lines with a blank.
NETWORK_CLAIMS = dict(_claim_of(entry) for entry in re.split(r"\n(?=\S)", TABLE.strip()))
