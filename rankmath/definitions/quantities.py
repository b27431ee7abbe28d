"""Every quantity and predicate of the language of claims about networks, each defined once."""

from __future__ import annotations

from rankmath.definitions.entries import define

EXPONENTS = ("1", "2", "inf")
RESIDUALS = ("one", "inf", "composite", "frobenius")
NORMS = ("1", "2", "inf", "max", "frobenius", "composite")
CENTERS = ("composite", "mean")

# What the entries below rest on.
HELPERS = """
# The heads in which a token averages values that differ, and what they add.
mixing(l) = [h for h in range(H) if certain(any(both_seen(l)[j][k] > 0 and max(abs(A[j] - A[k])) > 0
    for A in [reads[l] @ W[l, h]] for j in range(n) for k in range(j)))]
both_seen(l) = T(attention(l).mask) @ attention(l).mask
averages(l) = sum(P[l, h] @ reads[l] @ W[l, h] for h in mixing(l))
in_degree = max(sum(row) for row in edges)
# The least number of steps in which one token reaches all others; itself it reaches in none, so loops are added.
r = radius_of(edges_and_loops) if quasi_strongly_connected() else 1
K = -floor(-L / r)
edges_and_loops = edges + identity(n)
is_center(c) = all(walks(edges_and_loops, 8)[i][c] > 0 for i in range(n))
hint(l, p) = hints_inf[l] if p == inf else hints_composite[l]
form_inf(M) = max(sum(abs(u @ M)) for u in signs(d)) if d <= 12 else sum(sum(abs(row)) for row in M)
signs(k) = [[1], [0 - 1]] if k == 1 else [[v[i] if i < k - 1 else s for i in range(k)]
    for v in signs(k - 1) for s in [1, 0 - 1]]
spread(l, at) = reads[l] - [about(l, at) for j in range(n)]
about(l, at) = mean_of(reads[l]) if at == mean else center(l) if at == composite else undefined
# The data name the composite centers: least up to a factor, and where several are as good, those that are meant.
center(l) = centers[l] if shown(around_it(l) <= at_least(reads[l], composite, hint(l, composite))*(1 + 1/2**30))
    else 0
around_it(l) = norm([abs(row - centers[l]) for row in reads[l]], composite)
tilts(l, h, at) = spread(l, at) @ W_QK[l, h] @ T(spread(l, at)) / sqrt(attention(l).d_qk) if bilinear(l)
    else undefined
oscillations(l, h, at) = [max(row) - min(row) for row in tilts(l, h, at)]
shares(l, h, at) = softmax(spread(l, at) @ (about(l, at) @ W_QK[l, h] + key_bias[l, h]) / sqrt(attention(l).d_qk),
    [1 for j in range(n)]) if bilinear(l) else undefined
logits_seen(l, h) = [[logits[l, h][i][j] for j in range(n) if attention(l).mask[i][j] > 0] for i in range(n)]
pole[t] = mean_of(X[0]) / length(mean_of(X[0]), 2) if t == 0 else pole[t - 1] @ W[t - 1, 0]
written(j) = any(abs(W[l, h][i][j]) > 0 for l in range(L) for h in range(H) for i in range(d)) or
    any(abs(attention(l).bias[j]) > 0 for l in range(L))
untouched(j) = all(W[l, h][j][i] == 0 for l in range(L) for h in range(H) for i in range(d)) and
    all(input[i][j] == 0 for i in range(n))
first(Y) = skip * Y + sum(averaged((Y @ W_QK[0, h] @ T(Y) + [Y @ key_bias[0, h] for j in range(n)]) / sqrt(d_qk),
    edges, Y) @ W[0, h] for h in range(H))
slopes = jacobian(first, X[0]) if attention_alone else undefined
attention_alone = layernorm == none and all(f == none for f in mlp) and all(bilinear(l) for l in range(L))
causal = all(edges[i][j] == (1 if j <= i else 0) for i in range(n) for j in range(n))
repeated[l] = undefined if not attention_alone or not causal else input[n - 1] if l == 0
    else skip * repeated[l - 1] + attention(l - 1).bias + sum(again[l - 1, h] @ longer(l - 1) @ W[l - 1, h]
    for h in range(H))
longer(l) = [X[l][i] if i < n else repeated[l] for i in range(n + 1)]
again[l, h] = softmax(longer(l) @ (repeated[l] @ W_QK[l, h] + key_bias[l, h]) / sqrt(d_qk), [1 for i in
    range(n + 1)])
lipschitz_of(s, m, f) = norm(slope_of(f)*(abs(s.maps[m].W_in) @ abs(s.maps[m].W_out))
    + abs(s.maps[m].skip + s.skip)*identity(d), composite) if s.before == none and s.maps[m].W_gate == none
    else undefined
# By how much logits differ from those at consensus; the map of values that carries the difference of the first two
# tokens through layer l under a causal mask.
moved_logits(l, h) = logits[l, h] - logits_of(attention(l), h, agreed[l])
second_map(l) = sum(P[l, h][1][1] * W[l, h] for h in range(H)) if n > 1 else undefined
before(l) = blocks[l][attends[l][0]].before
root_sizes(l) = [sqrt(sum(x**2)/d + before(l).eps) for x in stage[l, attends[l][0]]]
gained(l, h) = [before(l).gain[i] * W[l, h][i] for i in range(d)]
# Eigenvalues of P beside one 1 are those of its action on differences from the first token; products of k of them
# are the eigenvalues of the matrix of k by k minors.
beside_one(P) = [[P[i][j] - P[0][j] for j in range(1, n)] for i in range(1, n)]
minors(M, k) = [[minor(M, I, J) for J in choices(len(M), k)] for I in choices(len(M), k)]
minor(M, I, J) = 1 if len(I) == 0 else sum((0 - 1)**j * M[I[0]][J[j]] * minor(M, [I[i] for i in range(1, len(I))],
    [J[m] for m in range(len(J)) if not m == j]) for j in range(len(J)))
choices(m, k) = [[j] for j in range(m)] if k == 1 else [[c[i] if i < k - 1 else j for i in range(k)]
    for c in choices(m, k - 1) for j in range(c[k - 2] + 1, m)]
largest_product(M, k) = 1 if k == 0 else largest_modulus(minors(M, k))
# Queries and keys of X are at most so many times as long as its tokens, rotations included.
lengthened(a, h) = norm(a.query[h], 2)*(1 if a.key == none else norm(a.key[group(a, h)], 2))
    *turn_size(a.rotary)/sqrt(a.d_qk) if a.qk_norm == none and a.b_Q == none and a.b_K == none else undefined
turn_size(R) = 1 if R == none else max(1, max(R.cos[i][j]**2 + R.sin[i][j]**2 for i in range(n)
    for j in range(len(R.cos[i]))))
mean_square(Y) = sum(sum(y**2) for y in Y)
singular(Y) = [sqrt(max(0, t)) for t in eigenvalues(Y @ T(Y) if len(Y) <= len(Y[0]) else T(Y) @ Y)]
spread_out(v) = exp(sum(surprise(x/sum(v)) for x in v))
"""

# -- tokens --------------------------------------------------------------------------------------------------

define(
    "diameter(X, p) = max(length(X[i] - X[j], p) for i in range(len(X)) for j in range(i)) if len(X) > 1 else 0",
    "largest ℓ_p distance of two tokens",
    words={"p": EXPONENTS},
    latex=r"\Delta_{{{1}}}({0})",
    example="diameter(X[1], 2) <= diameter(X[0], 2)",
)
define(
    """residual(X[l], norm) = max(min(sum(abs(c - t)) for t in c) for c in T(X[l])) if norm == one
    else residual_of(X[l], norm, hint(l, norm)) if norm == inf or norm == composite
    else mu(X[l]) if norm == frobenius else undefined""",
    "least norm of X − 1xᵀ over all x: one (largest column sum of absolute values), inf (largest row sum of"
    " absolute values), composite (root of the largest column sum times the largest row sum of absolute values),"
    " frobenius (root of the sum of squares)",
    words={"norm": RESIDUALS},
    latex=r"\|\mathrm{{res}}({0})\|_{{{1:sub}}}",
    example="residual(X[L], inf) <= residual(X[0], inf)",
    degree=1,
    known="residual",
)
define(
    "mu(X) = norm(X - [mean_of(X) for x in X], frobenius)",
    "Frobenius norm of the tokens about their mean",
    latex=r"\mu({0})",
    example="mu(X[L]) <= mu(X[0])",
)
define(
    "centred_norm(X) = norm(X - [mean_of(X) for x in X], 2)",
    "spectral norm of the tokens about their mean",
    latex=r"\|{0}-\tfrac1n\mathbf1\mathbf1^{{\mathsf T}}{0}\|_2",
    example="centred_norm(X[1]) <= mu(X[1])",
)
define(
    "about_mean(X) = norm(X - [mean_of(X) for x in X], composite)",
    "‖·‖_{1,∞} of the tokens about their mean: root of largest column sum times largest row sum of absolute values",
    latex=r"\|{0}-\tfrac1n\mathbf1\mathbf1^{{\mathsf T}}{0}\|_{{1,\infty}}",
    example="about_mean(X[1]) >= residual(X[1], composite)",
)
define(
    """cosine(X) = min(X[i] @ X[j] / (length(X[i], 2) * length(X[j], 2)) for i in range(len(X)) for j in range(i))
    if len(X) > 1 else 1""",
    "least cosine of the angle of two tokens",
    latex=r"\varphi({0})",
    example="cosine(X[1]) >= -1",
)
define(
    "stable_rank(X) = mean_square(X) / norm(X, 2)**2",
    "‖X‖_F²/‖X‖₂²",
    latex=r"\operatorname{{srank}}({0})",
    example="stable_rank(X[1]) >= 1",
)
define(
    "rank(M) = matrix_rank(M)",
    "rank of a matrix",
    latex=r"\operatorname{{rank}}({0})",
    example="rank(X[1]) <= min(n, d)",
)
define(
    """participation_ratio(X) = mean_square(X)**2 / mean_square(X @ T(X) if len(X) <= len(X[0]) else T(X) @ X)""",
    "(Σσ²)²/Σσ⁴ of the singular values σ of X",
    latex=r"\operatorname{{pr}}({0})",
    example="participation_ratio(X[1]) <= min(n, d)",
)
define(
    """effective_rank(X, of) = spread_out(singular(X)**2 if of == eigen else singular(X) if of == singular
    else undefined)""",
    "exp of the entropy of p, σ the singular values of X: singular (p_i = σ_i/Σσ), eigen (p_i = σ_i²/Σσ²)",
    words={"of": ("singular", "eigen")},
    latex=r"\operatorname{{erank}}_{{{1}}}({0})",
    example="effective_rank(X[1], eigen) <= effective_rank(X[1], singular)",
    degree=0,
)
define(
    "moved(X[l]) = norm(X[l] - X[0], max)",
    "largest absolute entry of the difference of these tokens and of the input",
    latex=r"\|{0}-X^0\|_{{\max}}",
    example="moved(X[1]) <= 1",
    known="any",
)
define(
    "longest(X) = max(length(x, 2) for x in X)",
    "largest ℓ₂ norm of a token",
    latex=r"\max_j\|{0}_j\|_2",
    example="longest(X[0]) <= norm(X[0], 2)",
)
define(
    "gram_height(X) = 1 / sqrt(sum(solve(X @ T(X), [1 for x in X])))",
    "(1ᵀ(XXᵀ)⁻¹1)^{−1/2}, positive for tokens of full row rank",
    latex=r"\gamma({0})",
    example="gram_height(X[0]) <= 1",
    degree=1,
)

# -- weights -------------------------------------------------------------------------------------------------

define(
    """norm(M, p) = max(sum(abs(c)) for c in T(M)) if p == 1 else max(sum(abs(r)) for r in M) if p == inf
    else max(max(abs(r)) for r in M) if p == max else sqrt(sum(sum(r**2) for r in M)) if p == frobenius
    else sqrt(norm(M, 1) * norm(M, inf)) if p == composite else spectral(M) if p == 2 else undefined""",
    "norm of a matrix: 1 (largest column sum of absolute values), 2 (spectral), inf (largest row sum of absolute"
    " values), max (largest absolute entry), frobenius (root of the sum of squares), composite (root of the largest"
    " column sum times the largest row sum of absolute values)",
    words={"p": NORMS},
    latex=r"\|{0}\|_{{{1:sub}}}",
    example="norm(W[0, 0], inf) <= d*norm(W[0, 0], max)",
)
define(
    """operator_norm(W, p) = norm(W, inf) if p == 1 else norm(W, 1) if p == inf else norm(W, 2) if p == 2 else
    undefined""",
    "norm of the map v ↦ vW of row vectors in ℓ_p; it is the largest row sum of |W| for p = 1, the largest column"
    " sum for p = ∞, the spectral norm for p = 2",
    words={"p": EXPONENTS},
    latex=r"\|{0}\|_{{\ell_{{{1}}}}}",
    example="operator_norm(W[0, 0], 1) == norm(W[0, 0], inf)",
)
define(
    """form_norm(W, p) = norm(W, max) if p == 1 else norm(W, 2) if p == 2 else form_inf(W) if p == inf else
    undefined""",
    "largest |uWvᵀ| over u and v of ℓ_p norm at most 1; for p = ∞ and d > 12 the sum of |W_ij|, which is no less",
    words={"p": EXPONENTS},
    latex=r"\|{0}\|_{{*,{1}}}",
    example="form_norm(W_QK[0, 0], 1) == norm(W_QK[0, 0], max)",
)
define(
    "least_singular(W) = sqrt(max(0, least_eigenvalue(T(W) @ W)))",
    "least singular value",
    latex=r"\sigma_{{\min}}({0})",
    example="least_singular(W[0, 0]) <= norm(W[0, 0], 2)",
)
define(
    "definiteness(W) = max(least_eigenvalue((W + T(W)) / 2), least_eigenvalue((W + T(W)) / (0 - 2)))",
    "least |eigenvalue| of the symmetric part where that is definite; not positive where it is not",
    latex=r"m({0})",
    example="definiteness(W_QK[0, 0]) <= norm(W_QK[0, 0], 2)",
)
define(
    "definite(W) = positive_definite(W + T(W)) or positive_definite(0 - W - T(W))",
    "the symmetric part of W is positive or negative definite, decided in exact rationals",
    latex=r"\operatorname{{sym}}{0}\text{{ is definite}}",
    example="definite(W_QK[0, 0])",
    truth=True,
)
define(
    "invertible(W) = matrix_rank(W) == d",
    "W is invertible, decided in exact rationals",
    latex=r"{0}\text{{ is invertible}}",
    example="invertible(W[0, 0])",
    truth=True,
)
define(
    "product_norm(p) = norm(chain([W[l, 0] for l in range(L)]), p)",
    "spectral norm of the product W^{0,0} W^{1,0} ⋯ W^{L−1,0}",
    words={"p": ("2",)},
    latex=r"\Bigl\|\prod_l W^{{l,0}}\Bigr\|_{{{0}}}",
    example="product_norm(2) <= prod_l(norm(W[l, 0], 2))",
)
define(
    "lipschitz(l) = 1 if mlp[l] == none else undefined if feeds[l][0] <= attends[l][0]"
    " or sum(1 for s in blocks[l] for f in s.maps if f.kind == tokenwise) > 1"
    " else lipschitz_of(blocks[l][feeds[l][0]], feeds[l][1], mlp[l])",
    "composite Lipschitz constant of the map after the attention of layer l: ‖s|W₁||W₂| + |a|I‖_{1,∞} for"
    " x ↦ φ(xW₁ + b₁)W₂ + b₂ + ax, s = sup|φ'|; 1 where there is no such map",
    latex=r"\lambda_{{{0}}}",
    example="lipschitz(0) <= 1",
)
define(
    "normalised_norm(W, p) = operator_norm([row / deviations(without(0, 0), 0) for row in W], p)",
    "norm of the map v ↦ vWS⁻¹ of row vectors in ℓ_p, S the diagonal of the deviations (root mean squares about the"
    " mean, 1 in place of 0) of the columns of the first layer's output before LayerNorm",
    words={"p": EXPONENTS},
    latex=r"\|{0}S^{{-1}}\|_{{\ell_{{{1}}}}}",
    example="diameter(X[1], 2) <= normalised_norm(W[0, 0], 2)*diameter(X[0], 2)",
)

# -- attention -----------------------------------------------------------------------------------------------

define(
    "delta(P[l, h], center) = max(oscillations(l, h, center))",
    "largest D_ii = max_j E_ij − min_j E_ij, E = R W_QK Rᵀ/√d_qk, R the tokens less a row x: composite (one that"
    " minimises ‖R‖_{1,∞}), mean (their mean)",
    words={"center": CENTERS},
    latex=r"{1:bar \delta}({0})",
    example="delta(P[0, 0], mean) <= x_star",
    known="any",
)
define(
    """gamma(P[l, h]) = 0 if delta(l, h, composite) == 0 else
    sqrt(sum(oscillations(l, h, composite)) * q_max(l, h, composite) / delta(l, h, composite))""",
    "√(Σ_i D_ii · max_j q_j / max_i D_ii), 0 where all D_ii are 0; D_ii = max_j E_ij − min_j E_ij, E = R W_QK"
    " Rᵀ/√d_qk, q the softmax of (x W_QK + kᵀ)Rᵀ/√d_qk, k = W_K b_Qᵀ, R the tokens less a row x that"
    " minimises ‖R‖_{1,∞}",
    latex=r"\gamma({0})",
    example="gamma(P[0, 0]) <= sqrt(n)",
    known="share*sqrt(n)",
)
define(
    "q_max(P[l, h], center) = max(shares(l, h, center))",
    "largest entry of q, the softmax of (x W_QK + kᵀ)Rᵀ/√d_qk, k = W_K b_Qᵀ, R the tokens less a row x:"
    " composite (one that minimises ‖R‖_{1,∞}), mean (their mean)",
    words={"center": CENTERS},
    latex=r"\|{1:bar q}({0})\|_\infty",
    example="q_max(P[0, 0], mean) >= 1/n",
    known="(1 + share*(n - 1))/n",
    sign=">",
)
define(
    "q_min(P[l, h], center) = min(shares(l, h, center))",
    "least entry of q, the softmax of (x W_QK + kᵀ)Rᵀ/√d_qk, k = W_K b_Qᵀ, R the tokens less a row x:"
    " composite (one that minimises ‖R‖_{1,∞}), mean (their mean)",
    words={"center": CENTERS},
    latex=r"\min_j {1:bar q}_j({0})",
    example="q_min(P[0, 0], mean) <= 1/n",
    known="max(1 - (n - 1)*q_max(A, w), (share + 1/2**50)/(1 + 1/2**49)*(1 - q_max(A, w))/(n - 1))",
    sign=">",
)
define(
    "epsilon(P) = min(P[i][j] for i in range(n) for j in range(n) if edges[i][j] > 0)",
    "least attention on an edge of the mask",
    latex=r"\varepsilon({0})",
    example="epsilon(P[0, 0]) <= 1/in_degree + 1",
    sign=">",
)
define(
    "logit_range(P[l, h]) = max(max(row) - min(row) for row in logits_seen(l, h))",
    "largest oscillation of a row of logits over the edges of the mask",
    latex=r"\rho({0})",
    example="dobrushin(P[0, 0]) <= tanh(logit_range(P[0, 0])/2)",
    known="any",
)
define(
    "dobrushin(P) = max(sum(abs(P[i] - P[j])) / 2 for i in range(n) for j in range(i)) if n > 1 else 0",
    "largest total variation of two rows of the attention",
    latex=r"\tau({0})",
    example="dobrushin(P[0, 0]) <= 1",
)
define(
    "entropy(P) = min(0 - sum(P[i][j] * log(P[i][j]) for j in range(n) if edges[i][j] > 0) for i in range(n))",
    "least entropy −Σ_j P_ij log P_ij of a row of the attention",
    latex=r"\operatorname{{Ent}}({0})",
    example="entropy(P[0, 0]) <= log(n)",
    sign="+",
)
define(
    """top_shares(P) = max(P[i][j] * (1 - P[i][j] + P[i][k]) for i in range(n) for j in range(n) for k in range(n)
    if j < k or k < j) if n > 1 else 0""",
    "p_1(1 − p_1 + p_2) of the two largest entries p_1 ≥ p_2 of a row of the attention, the largest over the rows;"
    " 0 where there is one token",
    latex=r"\max_ip_1(1-p_1+p_2)({0})",
    example="top_shares(P[0, 0]) <= 1",
    sign="+",
)
define(
    """contraction(k) = 1 - sum(min(c) for s in [range(K)[k] * r] for c in T(chain([P[min(L, s + r) - 1 - t, 0]
    for t in range(min(L, s + r) - s)])))""",
    "1 − Σ_c min_i (B_k)_ic, B_k = P^{m,0} ⋯ P^{rk,0}, m the lesser of rk + r − 1 and L − 1: Doeblin's contraction",
    latex=r"\Bigl(1-\sum_c\min_i(B_{{{0}}})_{{ic}}\Bigr)",
    example="contraction(0) <= 1",
    sign="+",
)

# -- positions -----------------------------------------------------------------------------------------------

define(
    """turned_range(P[l, h]) = diameter(queries(attention(l), h, reads[l]), 2)
    * diameter(keys(attention(l), h, reads[l]), 2) / sqrt(attention(l).d_qk)""",
    "ℓ₂ diameter of the queries times that of the keys, over √d_qk, with their rotations, biases and norms; where"
    " only W_QK is given, queries are XW_QK and keys X",
    latex=r"\theta({0})",
    example="turned_range(P[0, 0]) <= 1",
    known="any",
)
define(
    """position_range(P[l, h]) = 0 if attention(l).position == none else max(max(v) - min(v)
    for B in [attention(l).position[h]] for i in range(n) for k in range(n)
    for v in [[B[i][j] - B[k][j] for j in range(n) if attention(l).mask[i][j] > 0]])""",
    "largest oscillation of B_ij − B_kj over the keys j that token i sees, B the additive position term; 0 where"
    " there is none",
    latex=r"b({0})",
    example="position_range(P[0, 0]) <= 1",
    known="any",
)
define(
    """consensus_shift(P[l, h]) = max(max(v) - min(v) for S in [moved_logits(l, h)] for i in range(n)
    for v in [[S[i][j] for j in range(n) if attention(l).mask[i][j] > 0]])""",
    "largest oscillation, over the keys that a token sees, of the difference of its logits and of those where all"
    " tokens that layer l reads are the first of them",
    latex=r"w({0})",
    example="consensus_shift(P[0, 0]) >= 0",
    known="any",
)
define(
    "diagonal(P, k) = P[k][k] if k < n else undefined",
    "what the token of this number, counted from 0, attends to itself",
    latex=r"({0})_{{{1},{1}}}",
    example="diagonal(P0[0, 0], 0) <= 1",
)
define(
    "second_modulus(P) = largest_modulus(beside_one(P)) if n > 1 else 0",
    "second largest modulus of an eigenvalue of the attention, each as often as it occurs; the largest is 1; 0 for"
    " one token",
    latex=r"|\lambda_2({0})|",
    example="second_modulus(P0[0, 0]) <= dobrushin(P0[0, 0])",
)
define(
    """modulus_of(P, k) = 1 if k == 1 else undefined if k < 1 or k > n
    else largest_product(beside_one(P), k - 1)/largest_product(beside_one(P), k - 2)""",
    "k-th largest modulus of an eigenvalue of the attention, each as often as it occurs, the first, which is 1, has"
    " k = 1; not defined beyond n, nor where the one before is 0",
    latex=r"|\lambda_{{{1}}}({0})|",
    example="modulus_of(P0[0, 0], 2) <= dobrushin(P0[0, 0])",
)
define(
    "other_share(P) = max(P[i][i] for i in range(1, n)) if n > 1 else 0",
    "largest share of its attention that a token other than the first gives itself; 0 where there is none",
    latex=r"\max_{{i\ge1}}({0})_{{ii}}",
    example="other_share(P[0, 0]) <= 1",
)
define(
    """linear_gap(l) = sqrt(max(y @ y for y in attended(attention(l), reads[l])
    - attended(attention(l), agreed[l]) - sum(P0[l, h] @ (reads[l] - agreed[l]) @ W[l, h] for h in range(H))))""",
    "largest ℓ₂ norm of a row of F(X) − F(C) − Σ_h P0 (X − C)W, F what the attention of layer l makes of X, C the"
    " tokens if all were the first of X",
    latex=r"\max_i\Bigl\|\bigl(F_{{{0}}}(X)-F_{{{0}}}(C)-\sum_hP_0^{{{0},h}}(X-C)W^{{{0},h}}\bigr)_i\Bigr\|_2",
    example="linear_gap(0) <= diameter(X[0], 2)",
)
define(
    "lengthening(P[l, h]) = lengthened(attention(l), h)",
    "‖W_Q‖₂‖W_K‖₂/√d_qk, times the largest c² + s² of a rotation, at least 1; defined where queries and keys have no"
    " biases (b_Q = b_K = 0) and no norms; where only W_QK is given, W_K is 1",
    latex=r"c({0})",
    example="lengthening(P[0, 0]) <= 1",
    known="any",
)
define(
    "reach(X) = max(length(X[i] - X[0], 2) for i in range(1, len(X))) if len(X) > 1 else 0",
    "largest ℓ₂ distance of a token from the first one",
    latex=r"\max_i\|{0}_i-{0}_0\|_2",
    example="reach(X[0]) <= diameter(X[0], 2)",
    degree=1,
)
define(
    "across(X) = length(X[1] - (X[1] @ X[0])/(X[0] @ X[0])*X[0], 2) if len(X) > 1 else 0",
    "ℓ₂ distance of the second token from the line through 0 and the first",
    latex=r"\operatorname{{dist}}({0}_1,\mathbb{{R}}{0}_0)",
    example="across(X[0]) <= first_gap(X[0])",
    degree=1,
)
define(
    "first_gap(X) = length(X[1] - X[0], 2) if len(X) > 1 else 0",
    "ℓ₂ distance of the first two tokens",
    latex=r"\|{0}_1-{0}_0\|_2",
    example="first_gap(X[0]) <= diameter(X[0], 2)",
)
define(
    "second_norm(l) = norm(second_map(l), 2)",
    "spectral norm of Σ_h P^{l,h}_11 W^{l,h}, P_11 what the second token, number 1 counted from 0, attends to itself",
    latex=r"\Bigl\|\sum_h P^{{{0},h}}_{{11}}W^{{{0},h}}\Bigr\|_2",
    example="second_norm(0) <= sum_h(norm(W[0, h], 2))",
)
define(
    "second_least(l) = least_singular(second_map(l))",
    "least singular value of Σ_h P^{l,h}_11 W^{l,h}, P_11 what the second token, number 1 counted from 0, attends"
    " to itself",
    latex=r"\sigma_{{\min}}\Bigl(\sum_h P^{{{0},h}}_{{11}}W^{{{0},h}}\Bigr)",
    example="second_least(0) <= second_norm(0)",
)
define(
    "least_root(l) = min(root_sizes(l))",
    "least √(‖x‖₂²/d + ε) of a token x that layer l norms before its attention, ε that of the RMSNorm",
    latex=r"\rho_{{{0}}}",
    example="least_root(0) >= 1",
)
define(
    "largest_root(l) = max(root_sizes(l))",
    "largest √(‖x‖₂²/d + ε) of a token x that layer l norms before its attention, ε that of the RMSNorm",
    latex=r"\bar\rho_{{{0}}}",
    example="largest_root(0) >= least_root(0)",
)
define(
    "root_growth() = min((least_root(l) - least_root(0))/l for l in range(1, L)) if L > 1 else undefined",
    "least (ρ_l − ρ_0)/l of layers l = 1, …, L − 1, ρ_l the least √(‖x‖₂²/d + ε) of a token x that layer l norms"
    " before its attention, ε that of the RMSNorm",
    latex="c",
    example="root_growth() <= 1",
    sign="",
)
define(
    """scaling_values() = all(all(x == 0 for x in before(l).offset) and gained(l, 0)[0][0] >= 0 and
    gained(l, 0) == gained(l, 0)[0][0]*identity(d) for l in range(L))""",
    "diag(g)W[l, 0] is a multiple ≥ 0 of the identity in every layer, g the gain of the RMSNorm before attention,"
    " which has no offset",
    latex=r"\operatorname{{diag}}(g)W^{{l,0}}=w_lI\text{{ with }}w_l\ge0\text{{, and RMSNorm has no offset}}",
    truth=True,
)
define(
    "gained_norm(W[l, h]) = norm(gained(l, h), 2)",
    "spectral norm of diag(g)W, g the gain of the RMSNorm before the attention of layer l",
    latex=r"\|\operatorname{{diag}}(g){0}\|_2",
    example="gained_norm(W[0, 0]) <= norm(W[0, 0], 2)",
    known="any",
)

# -- the sphere ----------------------------------------------------------------------------------------------

define(
    "mu_before(l) = mu(joined(blocks[l][attends[l][0]], stage[l, attends[l][0]]))",
    "Frobenius norm about their mean of the tokens Y^l that layer l makes before its LayerNorm; with LayerNorm in"
    " front of attention and no skip connections these are the tokens after l + 1 layers",
    latex=r"\mu(Y^{{{0}}})",
    example="mu_before(0) <= mu(X[1])",
)
define(
    "height() = min(X[0] @ pole[0])",
    "min_i ⟨X^0_i, v⟩, v the direction of the mean of the tokens X^0_i",
    latex=r"\gamma",
    example="height() <= 1",
)
define(
    "section(X[l]) = diameter([x / (x @ pole[l]) for x in X[l]], 2)",
    "largest ℓ₂ distance of two of y_i = X^l_i/⟨X^l_i, vW^{0,0} ⋯ W^{l−1,0}⟩, v the direction of the mean of the"
    " tokens X^0_i",
    latex=r"\operatorname{{diam}}\,y({0})",
    example="section(X[L]) <= section(X[0])",
    known="any",
)

# -- the mask, and what weights are like ---------------------------------------------------------------------

define(
    "self_loops() = all(edges[i][i] == 1 for i in range(n))",
    "every token sees itself",
    latex=r"\text{{every token sees itself}}",
    truth=True,
)
define(
    """quasi_strongly_connected() = any(all(walks(edges_and_loops, 8)[i][c] > 0 for i in range(n)) for c in
    range(n))""",
    "the mask is quasi-strongly connected: some token is seen by all others, directly or through others",
    latex=r"\text{{some token is seen by all others, directly or through others}}",
    truth=True,
)
define(
    "strongly_connected() = all(x > 0 for row in walks(edges_and_loops, 8) for x in row)",
    "the mask is strongly connected: every token is seen by all others, directly or through others",
    latex=r"\text{{every token is seen by all others, directly or through others}}",
    truth=True,
)
define(
    "orthogonal_values() = all(T(W[l, h]) @ W[l, h] == identity(d) for l in range(L) for h in range(H))",
    "every W^{l,h} is exactly orthogonal",
    latex=r"\text{{every }}W^{{l,h}}\text{{ is orthogonal}}",
    truth=True,
)
define(
    "disjoint_blocks() = all(untouched(j) for j in range(d) if written(j))",
    "no head takes values where a head or a bias writes, and the input is zero there",
    latex=r"\text{{no head takes values where a head or a bias writes, and the input is zero there}}",
    truth=True,
)

define(
    "center_count() = sum(1 if is_center(c) else 0 for c in range(n))",
    "number of centers of the mask: of tokens that all others see, directly or through others",
    latex="c",
    example="center_count() <= n",
)
define(
    """farthest() = min(k for k in range(1, n + 1) if all(steps(edges_and_loops, k)[i][c] > 0
    for c in range(n) if is_center(c) for i in range(n)))""",
    "least number of steps, at least 1, in which all tokens see every center of the mask; 1 if there is none",
    latex="R",
    example="farthest() >= r",
)

# -- the derivative of the first layer, and a repeated last token --------------------------------------------

define(
    "jacobian_norm() = norm(slopes, 2)",
    "spectral norm of the derivative of the first layer in its input",
    latex=r"\|\partial X^1/\partial X^0\|_2",
    example="jacobian_norm() <= norm(W[0, 0], 2)",
    known="any",
)
define(
    """influence(k) = norm([[slopes[(n - 1)*d + b][range(n)[k]*d + a] for a in range(d)] for b in range(d)], 2)""",
    "spectral norm of the derivative of the last token, number n − 1 counted from 0, after the first layer in the"
    " token of this number of the input",
    latex=r"\|\partial X^1_{{\text{{last}}}}/\partial X^0_{{{0}}}\|_2",
    example="influence(0) <= norm(W[0, 0], 2)",
    known="share*jacobian_norm()",
)
define(
    "last_share(k) = P[0, 0][n - 1][k]",
    "what the last token, number n − 1 counted from 0, attends to the token of this number in the first layer",
    latex=r"P^{{0,0}}_{{\text{{last}},\,{0}}}",
    example="last_share(0) <= 1",
)
define(
    "is_last(k) = 1 if range(n)[k] == n - 1 else 0",
    "1 where this is the number of the last token, n − 1 counted from 0, else 0",
    latex=r"[{0}=\text{{last}}]",
    example="is_last(0) <= 1",
)
define(
    "repeat_gap(X[l]) = length(repeated[l] - X[l][n - 1], 2)",
    "ℓ₂ distance of the last token, number n − 1 counted from 0, and of token n, if the last token of the input is"
    " repeated behind it",
    latex=r"\|{0}_{{n-1}}-{0}_{{n}}\|_2",
    example="repeat_gap(X[1]) <= repeat_reach(X[0])",
    known="any",
)
define(
    "repeat_reach(X[l]) = max(length(x - repeated[l], 2) for x in X[l])",
    "largest ℓ₂ distance of the repeated last token, number n counted from 0, from another token",
    latex=r"\max_{{i<n}}\|{0}_i-{0}_{{n}}\|_2",
    example="repeat_reach(X[0]) <= diameter(X[0], 2)",
    known="max(repeat_gap(A), share*(diameter(A, 2) + repeat_gap(A)))",
)
define(
    "repeat_share(P[l, h]) = again[l, h][n]",
    "what the repeated last token, number n counted from 0, attends to itself",
    latex=r"{0}_{{n,n}}",
    example="repeat_share(P[0, 0]) <= 1",
    known="(share + 1/2**50)/(1 + 1/2**49)",
    sign="+",
)
