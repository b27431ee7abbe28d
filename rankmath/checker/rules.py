"""The rules: what no formula gives at once is shown by a theorem whose hypotheses are checked.

Every rule is a definition in the language of the kernel, below the theorem it rests on. It holds whatever the hints
say, those of the file (`hint`) and the guesses made on the way (`advice`): a bad one costs a certificate its
acceptance, never the checker its soundness. `shown` turns False into None: where a sufficient condition fails,
nothing is known.

Rules 1 and 2 are the kernel's own: relations of fractions, and of intervals. 3: a lower bound of a residual from
dual weights. 4: a unique zero in a box (Krawczyk). 5: definiteness by a congruence. 6: a contraction of a box in a
weighted maximum norm, and eigenvalues in discs. The others are functions (softmax, log, norms, rank).
"""

RULES = """
# Functions and arrays. Where x may be 0 but need not, the quotients are undecided.
tanh(x) = 2/(1 + exp(0 - 2*x)) - 1
expc(x) = 1 if x == 0 else (exp(x) - 1)/x
tanhc(x) = 1 if x == 0 else tanh(x)/x
upper(x) = 0 - lower(0 - x)
middle(x) = (lower(x) + upper(x))/2
around(x, r) = between(x - r, x + r)
floor(x) = whole_part(lower(x)) if shown(whole_part(lower(x)) == whole_part(upper(x))) else 0
real_power(x, e) = 0 if certain(x == 0 and e > 0) else power_by(x, e, whole_part(2*lower(e)))
power_by(x, e, twice) = sqrt(x)**twice if certain(twice == 2*e) else exp(e*log(x))
identity(n) = [[1 if i == j else 0 for j in range(n)] for i in range(n)]
flat(X) = [x for row in X for x in row]
possible(truth) = not certain(not truth)

# P_j = m_j e^(L_j)/sum_k m_k e^(L_k), exact where all logits are equal. With e_j = m_j e^(L_j - t), for any t, it
# is 1/(1 + r_j/e_j), r_j the sum of the others: every logit occurs once.
softmax(L, m) = m/sum(m) if certain(all(m[j] == 0 or L[j] == largest(L, m) for j in range(len(m)))) else
    [0 if certain(e[j] == 0) else 1/(1 + r[j]/e[j]) if certain(e[j] > 0) else e[j]/(r[j] + e[j])
    for t in [middle(largest(L, m))]
    for e in [[0 if m[j] == 0 else m[j]*exp(L[j] - t) for j in range(len(m))]]
    for r in [e @ others(len(e))] for j in range(len(m))]
largest(L, m) = max(L[j] for j in range(len(m)) if not m[j] == 0)
others(n) = [[0 if i == j else 1 for j in range(n)] for i in range(n)]

# Two derivatives that the chain rule alone encloses too widely: linked(y, f, x) is y, with dy = sum_j f_j dx_j. For
# u = y/r, r = |y|: du = dy (I - u^T u)/r. For a row y = P X, P = softmax(L, m):
#     dy = sum_j P_j (dx_j + (x_j - y) dL_j).
unit(y) = unit_of(y, sqrt(sum(plain(y)**2)))
unit_of(y, r) = unit_by(y, plain(y)/r, r)
unit_by(y, u, r) = [linked(u[b], [(1 - u[b]**2 if c == b else 0 - u[b]*u[c])/r for c in range(len(u))], y)
    for b in range(len(u))]
averaged(L, m, X) = [average_of(p, L[i], T(X), p @ plain(X)) for i in range(len(L))
    for p in [softmax(plain(L[i]), m[i])]]
average_of(p, l, C, y) = [linked(y[a], p, C[a]) + linked(0, p*(plain(C[a]) - y[a]), l) for a in range(len(C))]

# The logarithm: 1 - 1/t <= log t <= t - 1, at t = x e^-g for any g. It increases, so its ends are at the ends of x.
log(x) = 0 if certain(x == 1) else between(log_near(lower(x), advice(logarithm, lower(x))),
    log_near(upper(x), advice(logarithm, upper(x)))) if x > 0 else no_logarithm
log_near(x, g) = g + log_by(x/exp(g) if x > 1 else x*exp(0 - g))
log_by(t) = between(1 - 1/t, t - 1)

# x*, the positive root of e^x = 1 + 2x: e^x - 1 - 2x is convex and 0 at 0, so for x > 0 it changes its sign once.
x_star = x_star_in(advice(threshold))
x_star_in(v) = between(v[0], v[1]) if shown(v[0] > 0 and exp(v[0]) <= 1 + 2*v[0] and v[0] <= v[1]
    and exp(v[1]) >= 1 + 2*v[1]) else 0

# Rules 1 and 2, exact relations and relations of intervals, are the kernel's own. Regular matrices: let the row sum
# norm e = |I - C A| be below 1. Then C A is invertible, and so is A. If A x = b, then x = C b + (I - C A) x, so
# |x - C b| <= |C b| e/(1 - e) in every entry, b a vector.
small_rows(E) = all(sum(abs(row)) < 1 for row in E)
nonsingular(A) = shown(small_rows(identity(len(A)) - advice(inverse, A) @ A))
solve(A, b) = solved(A, b, advice(inverse, A))
solved(A, b, C) = solved_near(C @ b, max(sum(abs(row)) for row in identity(len(A)) - C @ A))
solved_near(x, e) = around(x, e*max(abs(x))/(1 - e)) if shown(e < 1 and max(abs(x)) >= 0) else 0

# The rank is at least the size of a regular minor A[I, J], and at most the number of columns J if D A = A[:, J] B,
# D not 0.
matrix_rank(A) = 0 if certain(all(x == 0 for row in A for x in row)) else rank_by(A, advice(basis, A))
rank_by(A, v) = rank_between(A, v[0], v[1], v[2][0], v[3])
rank_between(A, I, J, D, B) = between(len(I) if certain(nonsingular([[A[i][j] for j in J] for i in I])) else 0,
    len(J) if certain(abs(D) > 0 and D*A == [[row[j] for j in J] for row in A] @ B) else min(len(A), len(A[0])))

# Rule 5, definiteness: v A v^T > 0 for all v but 0, which is that of the symmetric B = A + A^T. Let G = C B C^T. If
# |I - G| < 1 in the row sum norm, all eigenvalues of G are positive, so a square C is invertible and B positive
# definite. If G_ii = c B c^T < 0 for a row c of C, B is not.
positive_definite(A) = definite_by(A + T(A))
definite_by(B) = dominant(congruent(B, advice(congruence, B)), len(B))
congruent(A, C) = C @ A @ T(C)
dominant(G, n) = all(G[i][i] >= 0 for i in range(len(G))) and shown(len(G) == n and small_rows(identity(n) - G))

# The least eigenvalue of a symmetric A is at most v A v^T/v v^T, at least t if A - tI is definite, and its size is
# at most the largest row sum.
least_eigenvalue(A) = least_by(A, advice(eigenpair, A))
least_by(A, v) = between(v[0][0] if certain(positive_definite(A - v[0][0]*identity(len(A)))) else
    0 - max(sum(abs(row)) for row in A), v[1] @ A @ v[1]/(v[1] @ v[1]))

# All eigenvalues of a symmetric A are those of the similar B = V^-1 A V, V regular, and lie in its discs of row
# sums (Gershgorin); discs that meet, one by one, hold together as many as they are.
eigenvalues(A) = eigenvalues_by(A, advice(eigenvectors, A))
eigenvalues_by(A, E) = eigenvalues_in([row_disc(B, i) for B in [T([solved(T(E), c, E) for c in T(A @ T(E))])]
    for i in range(len(B))])
row_disc(B, i) = around(B[i][i], sum(abs(B[i][j]) for j in range(len(B)) if not j == i))
eigenvalues_in(D) = [between(min(lower(D[j]) for j in range(len(D)) if N[i][j] > 0),
    max(upper(D[j]) for j in range(len(D)) if N[i][j] > 0))
    for N in [walks([[1 if possible(u == v) else 0 for v in D] for u in D])] for i in range(len(D))]
# The largest modulus R of an eigenvalue of M, N of them: of a triangular M the largest entry on the diagonal. Else
# a times the root of that of (M/a)^2, for any a > 0, forty times. In the end R <= |M|, and the elementary symmetric
# functions e_j of the eigenvalues, made of the traces of powers (Newton), are sums of binomial(N, j) products, so
# |e_j| <= binomial(N, j) R^j.
largest_modulus(M) = max(abs(M[i][i]) for i in range(len(M)))
    if certain(triangular(M)) or certain(triangular(T(M))) else modulus(M, 40)
triangular(M) = all(M[i][j] == 0 for i in range(len(M)) for j in range(i))
modulus(M, k) = modulus_by(M, k, max(sum(abs(row)) for row in M))
modulus_by(M, k, a) = between(0, a) if not certain(lower(a) > 0) else
    between(max(real_power(lower(abs(symmetric(M, j)))/binomial(len(M), j), 1/j) for j in range(1, len(M) + 1)), a)
    if k == 0 else lower(a)*sqrt(modulus((M/lower(a)) @ (M/lower(a)), k - 1))
symmetric(S, j) = 1 if j == 0
    else sum((0 - 1)**(i - 1)*symmetric(S, j - i)*trace_of(S, i) for i in range(1, j + 1))/j
trace_of(S, i) = sum(A[k][k] for A in [chain([S for t in range(i)])] for k in range(len(S)))
binomial(N, j) = prod((N - i)/(i + 1) for i in range(j))
# -x log x of a share x in [0, 1], 0 at 0; it increases up to 1/e.
surprise(x) = 0 if certain(x == 0) else 0 - x*log(x) if certain(x > 0) else
    between(0, 0 - upper(x)*log(upper(x))) if upper(x) <= 1/3 else between(0, 1)

# The spectral norm: the root of the largest eigenvalue of M^T M. No row or column is longer, and its square is
# at most |M|_1 |M|_inf; where the two meet it is exact.
spectral(M) = sqrt(longest_line(M)) if certain(longest_line(M) == norm(M, 1) * norm(M, inf)) else
    sqrt(max(longest_line(M), 0 - least_eigenvalue(0 - T(M) @ M)))
longest_line(M) = max(max(sum(v**2) for v in M), max(sum(v**2) for v in T(M)))

# Rule 3, dual lower bounds. Let a = |X - 1x^T|_1 (the largest column sum), b = |X - 1x^T|_inf (the largest row
# sum). A largest sum is at least any mean of the sums: for weights p >= 0 on columns and q >= 0 on rows, and
# for every x,
#     sum(p) a + sum(q) b >= sum_k min_t sum_i (p_k + q_i) |X_ik - t|,
# and the best t is one of the X_ik. So (a, b) lies in a polygon a, b >= 0 cut out by lines, on which ab is
# quasi-concave and increasing: it is least at a corner. Corners that lie outside only lower the bound. A center
# bounds from above. A hint is a center, or none, and lines of weights.
center_of(X, hint) = hint[0] if len(hint[0]) > 0 else [middle((max(c) + min(c))/2) for c in T(X)]
at_most(X, kind, hint) = norm([abs(row - center_of(X, hint)) for row in X], kind)
weights_of(X, kind, hint) = hint[1] if len(hint[1]) > 0 else
    [[[1 if kind == composite else 0 for c in X[0]], [1 if kind == inf else 0 for row in X]]]
line(C, p, q) = [sum(p), sum(q), lower(sum(least_at(C[k], p[k] + q) for k in range(len(C))))]
    if all(w >= 0 for w in p) and all(w >= 0 for w in q) else a_weight_is_negative
least_at(c, w) = min(sum(w*abs(c - t)) for t in c)
lines(X, kind, hint) = [line(T(X), w[0], w[1]) for w in weights_of(X, kind, hint)]
cross(u, v, i, j) = u[i]*v[j] - u[j]*v[i]
corner(u, v) = [cross(u, v, 2, 1)/cross(u, v, 0, 1), cross(u, v, 0, 2)/cross(u, v, 0, 1)]
inside(c, lines) = all(possible(w[0]*c[0] + w[1]*c[1] >= w[2]) for w in lines)
corners(lines) = [corner(u, v) for u in lines for v in lines
    if cross(u, v, 0, 1) > 0 if inside(corner(u, v), lines)]
with_axes(lines) = [lines[i] if i < len(lines) else [1, 0, 0] if i == len(lines) else [0, 1, 0]
    for i in range(len(lines) + 2)]
at_least(X, kind, hint) = max(v[2]/v[1] if v[0] == 0 and v[1] > 0 else 0 for v in lines(X, kind, hint))
    if kind == inf else sqrt(min(c[0]*c[1] for c in corners(with_axes(lines(X, kind, hint)))))
    if kind == composite else no_rule_for_this_norm
residual_of(X, kind, hint) = between(at_least(X, kind, hint), at_most(X, kind, hint))

# Rule 4, a unique zero (Krawczyk). Let |Y f(x)| + |I - Y Df(B)| r < r in every entry, over the box B of all
# points within r of x. Then z -> z - Y f(z) maps B into B and contracts the largest entry, so it has one fixed
# point there; the row sums of |I - Y Df| are below 1, so the square Y is invertible, and that is the one zero of f
# in B.
unique_zero(f, x, r, Y) = shown(krawczyk(Y @ f(x), identity(len(x)) - Y @ jacobian(f, around(x, r)), r)
    and r > 0 and len(Y[0]) == len(x))
krawczyk(step, wrong, r) = all(abs(step[i]) + r*sum(abs(wrong[i])) < r for i in range(len(step)))

# Rule 6, contraction in a weighted maximum norm. F(X)_i = y_i/|y_i|, y_i = sum_j A_ij x_j V, A_ij proportional
# to m_ij e^(x_i W x_j^T), m >= 0. Let w > 0, and E the box |X - x| <= size w. If for every entry p
#     sum_q |dF_p/dX_q| w_q <= rate w_p  on E,  and  |F(x) - x|_p <= (1 - rate) size w_p,
# then F maps E into E and contracts max |.|/w by the rate < 1 (mean value theorem): there is one equilibrium in
# E, every start in E converges to it, and the spectral radius of DF there is at most the rate. If even |F(x) -
# x|_p <= (1 - rate) core w_p, it lies within core w of x. If also for every entry p, on |X - x| <= core w, with
# scales u > 0,
#     |dF_p/dX_p - v_p| u_p + sum_{q != p} |dF_p/dX_q| u_q <= s u_p,
# then every eigenvalue of DF at the equilibrium is within s of a v_p, and near v_p that are more than 2s from
# all others there are as many as listed (Gershgorin).
# The derivative, with a = A_i, y = y_i, r = |y|, u = y/r, P = I - u^T u, v_k = x_k V:
#     r dF_i/dx_k = a_k (V + (x_i W)^T (v_k - y)) P + [k = i] sum_j a_j (W x_j^T) (v_j - y) P,
# entries of x_k down, of F_i across: dy = sum_j a_j (dx_j V + dL_j (v_j - y)), dL_j = dx_i W x_j^T + x_i W dx_j^T,
# r du = dy P. S = V P, Z has the rows (v_k - y) P, K the rows x_j W^T, q = x_i W; `own` is the block k = i. For
# other k, in o, the two terms are bounded one by one if that suffices, else where a_k is small.
boxed(x, w, size) = around(x, size*w)
rests(x, W, V, m, w, most) = all(abs(z[b] - x[i][b]) <= most*w[i][b] for Y in [x @ V] for i in range(len(x))
    for y in [softmax(x[i] @ W @ T(x), m[i]) @ Y] for z in [y/sqrt(sum(y**2))] for b in range(len(V)))
own(a, r, v, i, K, q, S, Z) = a[i]*S - r*v*identity(len(v))
    + T([K[j] + q if j == i else K[j] for j in range(len(a))]) @ (a*Z)
apart(o, w, q, S, Z) = o @ w @ abs(S) + (o*(w @ abs(q))) @ abs(Z)
together(o, w, q, S, Z) = apart([t if small(t) else 0 for t in o], w, q, S, Z)
    + sum(o[k]*(w[k] @ abs(S + [t*Z[k] for t in q])) for k in range(len(o)) if not small(o[k]))
small(t) = certain(t <= 1/2**64)
none_above(s, t, most) = all(s[b] + t[b] <= most[b] for b in range(len(s)))
rows_below(X, W, V, m, v, w, rate) = all(
    certain(none_above(s, apart(o, w, q, S, Z), rate*r*w[i])) or none_above(s, together(o, w, q, S, Z), rate*r*w[i])
    for Y in [X @ V] for K in [X @ T(W)] for i in range(len(X))
    for q in [X[i] @ W] for a in [softmax(q @ T(X), m[i])] for y in [a @ Y] for r in [length(y, 2)] for u in [y / r]
    for P in [identity(len(u)) - [t*u for t in u]] for S in [V @ P] for Z in [[p - y for p in Y] @ P]
    for o in [[0 if k == i else a[k] for k in range(len(a))]]
    for s in [w[i] @ abs(own(a, r, v[i], i, K, q, S, Z))])
contracts(x, W, V, m, w, size, rate, bits) = shown(size > 0 and rate > 0 and rate < 1
    and all(u > 0 for row in w for u in row) and all(t >= 0 for row in m for t in row)
    and rests(x, W, V, m, w, (1 - rate)*size)
    and rows_below(boxed(x, w, size), W, V, m, 0*x, w, rate))
# (`resolves` is asked for beside `contracts` alone, of the same map and rate.)
resolves(x, W, V, m, w, core, rate, v, s, u, bits) = shown(all(t > 0 for row in u for t in row)
    and rests(x, W, V, m, w, (1 - rate)*core) and rows_below(boxed(x, w, core), W, V, m, v, u, s))
"""
