"""What a network computes, as text: norms and graphs, the sublayer, attention, per-token maps, LayerNorms.

A layer is a sequence of sublayers X -> after(skip X + behind(the sum of its maps at before(X))). Records have
fields: of a sublayer s, s.maps, s.skip and the LayerNorms s.before, s.behind, s.after; what is missing is the
word none. An activation, a cap of logits and a LayerNorm of single tokens are a line of a table each.
"""

from __future__ import annotations

from rankmath.definitions.hypotheses import SWITCHES

#: Activations x -> f(x), and of each a number that |f'| does not exceed.
ACTIVATIONS = {
    "relu": ("max(0, x)", "1"),
    "tanh": ("tanh(x)", "1"),
    "gelu": ("x*(1 + erf(x/sqrt(2)))/2", "112890415/100000000"),
    "gelu_tanh": ("x*(1 + tanh(sqrt(2/pi())*(x + 44715*x**3/1000000)))/2", "112899307/100000000"),
    "silu": ("x/(1 + exp(0 - x))", "109983933/100000000"),
    "quick_gelu": ("x/(1 + exp(0 - 1702*x/1000))", "109983933/100000000"),
}
#: Caps of a logit x, with a number c > 0.
CAPS = {"tanh": "c*tanh(x/c)"}
#: LayerNorms N of a token y; those that name the gain and the offset of N take them.
LAYERNORMS = {
    "sphere": "y / length(y, 2)",
    "standard": "evenly(y - sum(y)/len(y), N.eps) * N.gain + N.offset",
    "rms": "evenly(y, N.eps) * N.gain + N.offset",
}


def add_activation(name: str, term: str, slope: str = "undefined") -> None:
    """Add an activation to the language: x -> `term`; claims may say ``mlp == name``."""
    ACTIVATIONS[name] = term, slope
    SWITCHES["mlp"][name] = f"per-token MLPs with {name}"


def add_cap(name: str, term: str) -> None:
    """Add a cap of logits: x -> `term` with a number c > 0; claims may say ``softcap == name``."""
    CAPS[name] = term
    SWITCHES["softcap"][name] = f"logits x capped to {term.replace('*', '·')}, c > 0"


def add_norm(name: str, term: str) -> None:
    """Add a LayerNorm of single tokens: y -> `term`, N its eps, gain and offset; claims: ``layernorm == name``."""
    LAYERNORMS[name] = term
    SWITCHES["layernorm"][name] = f"LayerNorm {name.replace('_', ' ')}"


SWITCHES["layernorm"] |= {name: f"LayerNorm {name}" for name in LAYERNORMS if name not in SWITCHES["layernorm"]}
SWITCHES["mlp"] |= {name: f"per-token MLPs with {name}" for name in ACTIVATIONS}
SWITCHES["softcap"] |= {name: f"logits x capped to {term.replace('*', '·')}, c > 0" for name, term in CAPS.items()}

# Norms of vectors, stochastic matrices, graphs.
GRAPHS = """
length(v, p) = sum(abs(v)) if p == 1 else sqrt(sum(v**2)) if p == 2 else max(abs(v)) if p == inf else
    undefined
stochastic(P) = all(all(p >= 0 for p in row) and sum(row) == 1 for row in P)
binary(M) = all(x == 0 or x == 1 for row in M for x in row)
support_of(M) = [[1 if x > 0 else 0 for x in row] for row in M]
walks(M) = doubled(support_of(M), 1)
doubled(M, k) = M if k >= len(M) - 1 else doubled(support_of(M @ M), 2*k)
connected(M) = all(M[i][i] > 0 for i in range(len(M))) and all(x > 0 for row in walks(M) for x in row)
steps(M, k) = support_of(M) if k <= 1 else support_of(steps(M, k - 1) @ M)
reached(M, k) = any(all(steps(M, k)[i][c] > 0 for i in range(len(M))) for c in range(len(M)))
radius_of(M) = min(k for k in range(1, len(M) + 1) if reached(M, k))
"""

# X[i] are the tokens after i layers: X[0] is the input (on the sphere, if that LayerNorm ends every layer).
LAYER = """
X[i] = entered(input) if i == 0 else stage[i - 1, len(blocks[i - 1])]
entered(Y) = [y / length(y, 2) for y in Y] if layernorm == sphere and norm_at == after else Y
# The tokens of layer l before its sublayer s.
stage[l, s] = X[l] if s == 0 else step(blocks[l][s - 1], stage[l, s - 1])
step(s, Y) = normed(s.after, joined(s, Y))
joined(s, Y) = s.skip * Y if len(s.maps) == 0
    else s.skip * Y + normed(s.behind, sum(mapped(f, normed(s.before, Y)) for f in s.maps))
mapped(f, Y) = attended(f, Y) if f.kind == attending else fed(f, Y) if f.kind == tokenwise else undefined

# Attention. Head h takes its keys and values from the group it belongs to.
attended(a, Y) = sum(weights(a, h, Y) @ Y @ value_of(a, h) for h in range(len(a.query))) + [a.bias for y in Y]
weights(a, h, Y) = [softmax(logits_of(a, h, Y)[i], a.mask[i]) for i in range(len(Y))]
logits_of(a, h, Y) = capped(a.softcap, a.cap, scores(a, h, Y)) + (0 if a.position == none else a.position[h])
scores(a, h, Y) = (queries(a, h, Y) @ T(keys(a, h, Y)) + (0 if a.key_bias == none else
    [Y @ a.key_bias[h] for y in Y])) / sqrt(a.d_qk)
queries(a, h, Y) = turned(a.rotary, evened(a, 0, h, Y))
keys(a, h, Y) = turned(a.rotary, evened(a, 1, group(a, h), Y))
group(a, h) = floor(h * len(a.value) / len(a.query))
value_of(a, h) = a.value[group(a, h)] if a.output == none else a.value[group(a, h)] @ a.output[h]
form_of(a, h) = a.query[h] if a.key == none else a.query[h] @ T(a.key[group(a, h)])
# Queries (side 0) and keys (side 1) of even size, each head by itself or all as one (QK-norm);
# rotary positions turn the pairs of entries 2j and 2j + 1.
projected(a, side, h, Y) = shifted(Y @ a.query[h], a.b_Q, h) if side == 0
    else shifted(Y if a.key == none else Y @ a.key[h], a.b_K, h)
shifted(Q, b, h) = Q if b == none else [q + b[h] for q in Q]
evened(a, side, h, Y) = projected(a, side, h, Y) if a.qk_norm == none
    else [Q[i] / sqrt(sizes(a, side, h, Y, len(Q[0]))[i] + a.qk_norm.eps) * gain_of(a, side, h, len(Q[0]))
    for Q in [projected(a, side, h, Y)] for i in range(len(Y))]
sizes(a, side, h, Y, k) = mean_sizes(a, side, Y, [h] if len(a.qk_norm.gains[side]) == k
    else range(0, len(a.query), a.qk_norm.every[side]))
mean_sizes(a, side, Y, G) = sum([sum(q**2)/len(q) for q in projected(a, side, g, Y)] for g in G)/len(G)
gain_of(a, side, h, k) = a.qk_norm.gains[side] if len(a.qk_norm.gains[side]) == k
    else [a.qk_norm.gains[side][floor(h/a.qk_norm.every[side])*k + j] for j in range(k)]
turned(R, Q) = Q if R == none else [turn(Q[i], R.cos[i], R.sin[i], len(R.cos[i])) for i in range(len(Q))]
turn(q, c, s, m) = [x for j in range(floor((len(q) + 1)/2))
    for x in ([q[2*j]*c[j] - q[2*j + 1]*s[j], q[2*j + 1]*c[j] + q[2*j]*s[j]] if j < m
    else [q[i] for i in range(2*j, min(2*j + 2, len(q)))])]

# A map of single tokens, gated where it has a gate.
fed(f, Y) = f.skip * Y + [(opened(f, y) @ f.W_out) + f.b_out for y in Y]
opened(f, y) = bent(y @ f.W_in + f.b_in, f.activation) if f.W_gate == none
    else bent(y @ f.W_gate + f.b_gate, f.activation) * (y @ f.W_in + f.b_in)

# LayerNorms: a token over its length, over its root mean square, over its deviation; columns over theirs.
evenly(y, eps) = y / sqrt(sum(y**2)/len(y) + eps)
settled(c, eps) = (c - sum(c)/len(c)) / deviation(c, eps)
deviation(c, eps) = root_of(sum((c - sum(c)/len(c))**2)/len(c) + eps)
root_of(v) = 1 if certain(v == 0) else sqrt(v)
deviations(Y, eps) = [deviation(c - c[0], eps) for c in T(Y)]
mean_of(Y) = sum(Y) / len(Y)

# Of layer l with one attention: the attention, the tokens that it reads, and what claims name.
attention(l) = blocks[l][attends[l][0]].maps[attends[l][1]]
reads[l] = normed(blocks[l][attends[l][0]].before, stage[l, attends[l][0]])
P[l, h] = weights(attention(l), h, reads[l])
# The same at consensus: if all tokens that layer l reads were the first of them.
agreed[l] = [reads[l][0] for y in reads[l]]
P0[l, h] = weights(attention(l), h, agreed[l])
logits[l, h] = logits_of(attention(l), h, reads[l])
W[l, h] = value_of(attention(l), h)
W_QK[l, h] = form_of(attention(l), h)
key_bias[l, h] = [0 for j in range(d)] if attention(l).key_bias == none else attention(l).key_bias[h]
# Logits are a bilinear form of the tokens, and no more.
bilinear(l) = attention(l).softcap == none and attention(l).position == none and attention(l).rotary == none
    and attention(l).qk_norm == none and attention(l).b_Q == none
# What layer l makes of X[l], up to its last LayerNorm, where its attention gives less by Z.
without(l, Z) = finished(l, attends[l][0], joined(blocks[l][attends[l][0]], stage[l, attends[l][0]]) - Z)
finished(l, s, Y) = Y if s == len(blocks[l]) - 1
    else finished(l, s + 1, joined(blocks[l][s + 1], normed(blocks[l][s].after, Y)))
"""


def layer_text() -> str:
    """The definitions of a layer: `LAYER`, and what the tables of activations, caps and LayerNorms say by now."""

    def cases(name: str, of: str, terms: dict[str, str], first: str = "") -> str:
        chosen = "\n    else ".join(f"{term} if {of} == {kind}" for kind, term in terms.items())
        return f"{name} = {first}{chosen} else undefined\n"

    bent = {name: f"[{term} for x in v]" for name, (term, _) in ACTIVATIONS.items()}
    capped = {name: f"[[{term} for x in row] for row in S]" for name, term in CAPS.items()}
    column = {"column": "T([settled(c - c[0], N.eps) for c in T(Y)])"}
    normed = {name: f"[{term} for y in Y]" for name, term in LAYERNORMS.items()}
    slopes = {name: slope for name, (_, slope) in ACTIVATIONS.items()}
    return (
        LAYER
        + cases("bent(v, f)", "f", bent)
        + cases("slope_of(f)", "f", slopes)
        + cases("capped(c, kind, S)", "kind", capped, "S if c == none else ")
        + cases("normed(N, Y)", "N.kind", normed | column, "Y if N == none else ")
    )
