"""Dong, Cordonnier and Loukas 2021 (arXiv 2103.03404), statement by statement; notes in proofs/dong2021_*.tex."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from rankmath.attention.plain import attention_matrices
from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import Instance as ExactInstance
from rankmath.certificates.issue import (
    certify_composite_decay,
    certify_not_a_norm,
    certify_paths,
    certify_sandwich,
    stochastic_rationals,
)
from rankmath.claims.draws import ALL_TOKENS, Rng, moderate_tokens, networks, outlier_tokens
from rankmath.claims.instance import ArrayInstance, NetworkInstance, network_instance
from rankmath.claims.own import log_diameter_bound
from rankmath.claims.quantities import (
    Run,
    composite,
    form_norm,
    induced_norm,
    log,
    log_positive,
    log_sum,
    log_tanh_of_exp,
    maximum,
    norm_inf,
    norm_one,
    threshold,
    unbox,
)
from rankmath.claims.seed import rational_stochastic
from rankmath.claims.statement import Evaluation, Exact, Hypothesis, Side, Statement, attention_alone, fact
from rankmath.claims.verdict import Outcome, Verdict
from rankmath.dynamics.paths import path_counts
from rankmath.model.network import LIPSCHITZ, MLP, Network
from rankmath.validation import InvalidArgument, as_array

PAPER = "Dong, Cordonnier and Loukas 2021 (arXiv 2103.03404)"

# -- 2.1: path decomposition -------------------------------------------------------------------------------


def path_instance(net: Any, X: Any) -> ArrayInstance:
    """The network's attention matrices, rounded to rationals whose rows sum to one exactly, and its other weights.

    The identity holds for any row-stochastic matrices in the place of the P's, so rounding them changes nothing.
    """
    checked = network_instance(net, X)
    if checked.X.ndim != 2 or checked.net.norm is not None or any(checked.net.mlp):
        raise InvalidArgument(
            "net: the path decomposition is for one sequence and a network without MLP and LayerNorm"
        )
    net = checked.net
    if (net.heads + 1) ** net.layers > 4096:
        raise InvalidArgument(
            f"net: {net.heads + 1}^{net.layers} paths; enumeration in rationals takes 4096 at most"
        )
    bias = np.zeros((net.layers, net.dim)) if net.bias is None else net.bias
    arrays = {
        "X": checked.X,
        "P": stochastic_rationals(attention_matrices(net, checked.X)),
        "W": net.W,
        "bias": bias,
    }
    exact = {name: _fractions(array) for name, array in arrays.items()}
    return ArrayInstance({**exact, "skip": _fractions(np.asarray(net.skip))})


def plain_path_instance(net: Any, X: Any) -> ArrayInstance:
    """The same for a network without skips: with them, `dong2021:2.1-skip` is the statement."""
    if getattr(net, "skip", 0):
        raise InvalidArgument(
            f"net: a skip factor of {net.skip} given; dong2021:2.1 has none, use dong2021:2.1-skip"
        )
    return path_instance(net, X)


def _fractions(array: Any) -> np.ndarray[Any, Any]:
    boxed = np.empty(np.shape(array), dtype=object)
    for place, entry in np.ndenumerate(np.asarray(array, dtype=object)):
        boxed[place] = Fraction(entry)
    return boxed


def decide_paths(instance: ArrayInstance, *, skips: bool) -> Exact:
    """Layer by layer against the sum over every path, in exact rationals; with skips also the path counts."""
    X, Ps, W, bias = (instance[name] for name in ("X", "P", "W", "bias"))
    lam = _skip_of(instance) if skips else Fraction(0)
    L, H = Ps.shape[:2]
    layered = X
    for l in range(L):
        layered = lam * layered + sum(Ps[l, h] @ layered @ W[l, h] for h in range(H)) + bias[l]
    common = np.zeros(X.shape[1], dtype=object)
    for l in range(L):
        common = lam * common + sum(common @ W[l, h] for h in range(H)) + bias[l]
    total = np.zeros(X.shape, dtype=object) + common
    seen = [0] * (L + 1)
    for path in product(range(0 if skips else 1, H + 1), repeat=L):
        P: Any = np.eye(len(X), dtype=object)
        V: Any = np.eye(X.shape[1], dtype=object)
        for l, h in enumerate(path):
            P = P if h == 0 else Ps[l, h - 1] @ P
            V = lam * V if h == 0 else V @ W[l, h - 1]
        total = total + P @ X @ V
        seen[sum(h > 0 for h in path)] += 1
    counted = seen == path_counts(L, H, skip=skips)
    holds = bool((total == layered).all()) and counted
    return Exact(holds, f"{sum(seen)} paths, exact rationals" + ("" if counted else f", but counts {seen}"))


def _skip_of(instance: ArrayInstance) -> Fraction:
    skip: Any = instance["skip"]
    number: Any = skip[()] if isinstance(skip, np.ndarray) else skip
    return Fraction(number)


def draw_paths(rng: Rng, size: int, *, skips: bool) -> ArrayInstance:
    n, d, H, L = (int(k) for k in rng.integers(1, 4, 4))

    def small(*shape: int) -> np.ndarray[Any, Any]:
        return _fractions(rng.integers(-9, 10, (size, *shape)))

    Ps = np.empty((size, L, H, n, n), dtype=object)
    for place in np.ndindex(size, L, H):
        Ps[place] = rational_stochastic(rng, n)
    arrays = {"X": small(n, d), "P": Ps, "W": small(L, H, d, d), "bias": small(L, d)}
    skip = _fractions(rng.integers(-3, 4, size)) / 2 if skips else np.zeros(size, dtype=object)
    return ArrayInstance({**arrays, "skip": skip}, "random", is_batch=True)


def certify_path_instance(instance: ArrayInstance, verdict: Verdict, *, skips: bool) -> Certificate:
    skip = _skip_of(instance) if skips else None
    return certify_paths(instance["X"], instance["P"], instance["W"], instance["bias"], skip=skip)


# -- A.3: the sandwich lemma -------------------------------------------------------------------------------


def sandwich_instance(c: Any, E: Any) -> ArrayInstance:
    """Logits c (m,) of q and the perturbation E (n, m)."""
    c = as_array("c", c, ndim=1)
    return ArrayInstance({"c": c, "E": as_array("E", E, ndim=2, shape=(None, c.shape[0]))})


def evaluate_sandwich(A: Any, instance: ArrayInstance, *, hypothesis: bool) -> Evaluation:
    """1 − P_ij/q_j ≤ D_ii and P_ij/q_j − 1 ≤ 2D_ii, under D_ii ≤ x*; P = softmax(1cᵀ + E), D_ii = osc(E_i)."""
    c = A.asarray(np.asarray(instance["c"])[..., :, None])
    E = A.asarray(np.asarray(instance["E"]))
    c = c - A.row_of_largest(c, c)
    e = A.exp(c)
    q = e / A.sum(e, axis=-2)
    E = E - A.transpose(A.row_of_largest(c, A.transpose(E)))
    E = E - A.matmul(E, q)
    m = A.expm1_of_temporary(E + 0)
    mean = A.matmul(m, q)
    change = (m - mean) / (1 + mean)  # P_ij/q_j − 1
    D = A.max(E, axis=-1) + A.max(-E, axis=-1)
    sides, hypotheses = [], []
    for i in range(E.shape[-2]):
        row, at = change[..., i : i + 1, :], unbox(D[..., i : i + 1, :])
        sides.append(Side(log_positive(A, unbox(A.max(row, axis=-1))), log(A, 2 * at)))
        sides.append(Side(log_positive(A, unbox(A.max(-row, axis=-1))), log(A, at)))
        if hypothesis:
            hypotheses.append(Hypothesis(f"D_{i}{i} ≤ x*", Side(log(A, at), log(A, A.constant(1) * threshold(A)))))
    return Evaluation(sides, hypotheses)


def draw_sandwich(rng: Rng, size: int, *, log_scale: tuple[float, float] = (-6.0, 0.3)) -> ArrayInstance:
    n, m = int(rng.integers(1, 4)), int(rng.integers(2, 7))
    c = 10.0 ** rng.uniform(-1, 1, (size, 1)) * rng.standard_normal((size, m))
    E = 10.0 ** rng.uniform(*log_scale, (size, 1, 1)) * rng.uniform(-1, 1, (size, n, m))
    return ArrayInstance({"c": c, "E": E}, "random", is_batch=True)


def certify_sandwich_instance(instance: ArrayInstance, verdict: Verdict, *, hypothesis: bool) -> Certificate:
    kind: Any = "holds" if verdict.outcome == Outcome.HOLDS else "violates"
    return certify_sandwich(
        instance["E"], logits=instance["c"], decided=verdict.certified, hypothesis=hypothesis, kind=kind
    )


def near_threshold(rng: Rng) -> Iterator[ArrayInstance]:
    """Nearly all the weight on one key, the perturbation on another, D just below x*: nearly an equality."""
    for gap in (1e-2, 1e-4, 1e-6):
        D = threshold(_FLOAT) - gap
        yield ArrayInstance({"c": np.asarray([0.0, -40.0]), "E": np.asarray([[0.0, D]])}, "near threshold")


class _Float:
    unbounded = False


_FLOAT = _Float()

# -- 2.2 and 2.3: doubly exponential collapse in the composite value ---------------------------------------


def evaluate_composite(
    A: Any,
    instance: NetworkInstance,
    *,
    gamma: bool = True,
    printed: bool = False,
    heads: int | None = None,
    maps: bool = False,
    exponent: int = 0,
    head_factor: bool = True,
) -> Evaluation:
    """‖res(X^L)‖ ≤ (4γB/√d_qk)^{(3^L−1)/2} ‖res X‖^{3^L} in ‖·‖_{1,∞}.

    `gamma`: with γ_* and its hypothesis D ≤ x* (2023), else γ = 1 and none (2021). `printed`: B = βH with
    β = max ‖W_QK‖₁‖W‖_{1,∞}; else the B that sums the 1- and ∞-bounds of the heads apart (equal for one head).
    `exponent` and `head_factor` break the statement on purpose, for drills.
    """
    run = Run(A, instance.net, instance.X)
    A, net = run.A, run.net
    L = net.layers
    hypotheses = [attention_alone(A, net, maps=maps, padding=False)]
    if heads is not None:
        hypotheses.append(fact(A, f"H = {heads}", net.heads == heads))
    log_B = maximum(A, [_log_printed(run, l, head_factor) if printed else _log_heads(run, l) for l in range(L)])
    log_c = log_B + log(A, A.constant(4)) - log(A, run.root)
    constants = [_log_mlp_constant(A, f) for f in net.mlp if f is not None]
    if constants:
        # A layer without a map has the identity, of constant one.
        log_c = log_c + maximum(A, constants if len(constants) == L else [*constants, A.constant(0)])
    if gamma:
        layers = [run.sandwich(l) for l in range(L)]
        log_c = log_c + maximum(A, [s.log_gamma(A) for s in layers])
        worst = maximum(A, [D for s in layers for D in s.log_D])
        hypotheses.append(
            Hypothesis("D_ii ≤ x* at every layer and head", Side(worst, log(A, _boxed(A, threshold(A)))))
        )
    rhs = log_c * ((3**L - 1) // 2) + run.log_residual(0, "composite") * (3**L + exponent)
    return Evaluation([Side(run.log_residual(L, "composite"), rhs)], hypotheses)


def _boxed(A: Any, number: Any) -> Any:
    return A.constant(number) if not A.unbounded else number


def _log_printed(run: Run, layer: int, head_factor: bool) -> Any:
    A, net = run.A, run.net
    products = [
        norm_one(A, run.weight(net.W_QK, layer, h)) * composite(A, run.weight(net.W, layer, h))
        for h in range(net.heads)
    ]
    return log(A, maximum(A, products) * (net.heads if head_factor else 1))


def _log_heads(run: Run, layer: int) -> Any:
    A, net = run.A, run.net
    one: Any = 0
    inf: Any = 0
    for h in range(net.heads):
        size = norm_one(A, run.weight(net.W_QK, layer, h))
        one = one + size * norm_one(A, run.weight(net.W, layer, h))
        inf = inf + size * norm_inf(A, run.weight(net.W, layer, h))
    return (log(A, one) + log(A, inf)) / 2


def _log_mlp_constant(A: Any, f: Any) -> Any:
    """log ‖ |W₁||W₂| ‖_{1,∞} · sup|act'| (+ I for a skip inside): a composite Lipschitz constant of f."""
    product_ = A.matmul(A.abs(A.asarray(f.W_in)), A.abs(A.asarray(f.W_out))) * A.constant(LIPSCHITZ[f.activation])
    if f.skip:
        product_ = product_ + A.asarray(np.eye(f.dim))
    return log(A, composite(A, product_))


def certify_composite_instance(instance: NetworkInstance, verdict: Verdict, *, statement: Any) -> Certificate:
    exact = ExactInstance.of(instance.net, instance.X)
    return certify_composite_decay(exact, decided=verdict.certified, statement=statement)


def compare_with_diameter(A: Any, instance: NetworkInstance, evaluation: Evaluation) -> dict[str, Any]:
    """log of (looseness of the 2023 bound)/(looseness of own:diameter in ℓ₁) on the same instance."""
    run = Run(A, instance.net, instance.X)
    with np.errstate(invalid="ignore"):  # a residual that is exactly zero has no looseness
        loose = evaluation.sides[0].log_rhs - evaluation.sides[0].log_lhs
        ours = log_diameter_bound(run, 1) - run.log_diameter(run.net.layers, 1)
        return {"own:diameter is tighter on the same instances by a median factor of": loose - ours}


def small_tokens(rng: Rng, size: int, n: int, d: int) -> np.ndarray[Any, Any]:
    """Scales at which D ≤ x* holds."""
    return 10.0 ** rng.uniform(-3, -0.5, (size, 1, 1)) * rng.standard_normal((size, n, d))


COMPOSITE_SHAPES = ((2, 1, 1, 1), (3, 2, 1, 1), (5, 2, 2, 1), (6, 3, 1, 2), (4, 3, 2, 2))
SINGLE_SHAPES = tuple(shape for shape in COMPOSITE_SHAPES if shape[2] == 1)


def antipodal_pair(rng: Rng) -> Iterator[NetworkInstance]:
    """±a with small a: the one-layer bound is loose by a factor of four only."""
    for a in (0.3, 0.1):
        ones = np.ones((1, 1, 1, 1))
        yield NetworkInstance(Network.from_arrays(ones, ones), np.asarray([[a], [-a]]), "two tokens")


def antipodal_pair_with_map(rng: Rng) -> Iterator[NetworkInstance]:
    """The same pair, followed by tanh of small arguments: nearly the identity, of constant one."""
    unit = np.ones((1, 1))
    for instance in antipodal_pair(rng):
        net = replace(instance.net, mlp=(MLP(unit / 64, unit * 64, activation="tanh"),))
        yield NetworkInstance(net, instance.X, instance.label)


# -- 3: skips, token-wise maps, column normalisation -------------------------------------------------------


def evaluate_conserved_block(A: Any, instance: NetworkInstance) -> Evaluation:
    """‖res(X)‖_F ≤ ‖res(X^L)‖_F for skip networks whose heads write only into coordinates the input leaves zero."""
    net = instance.net
    written: Any = np.abs(np.asarray(net.W)).max(axis=tuple(range(net.W.ndim - 1))) > 0
    if net.bias is not None:
        written |= np.abs(np.asarray(net.bias)).max(axis=tuple(range(net.bias.ndim - 1))) > 0
    read = np.abs(np.asarray(net.W)).max(axis=(*range(net.W.ndim - 2), net.W.ndim - 1)) > 0
    blank: Any = ~np.asarray(instance.X).any(axis=tuple(range(instance.X.ndim - 1)))
    run = Run(A, net, instance.X)
    hypotheses = [
        fact(run.A, "λ = 1, no MLP, no LayerNorm", net.skip == 1 and net.norm is None and not any(net.mlp)),
        fact(run.A, "heads read and write disjoint coordinates", not (written & read).any()),
        fact(run.A, "the input is zero where heads write", bool(blank[written].all())),
    ]
    sides = [Side(run.log_residual(0, "frobenius"), run.log_residual(net.layers, "frobenius"))]
    return Evaluation(sides, hypotheses)


def draw_conserved_block(rng: Rng, size: int) -> NetworkInstance:
    """d = d₁ + d₂: W reads the first block and writes the second, with β from 1e-6 up."""
    d1, d2 = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    shape = (int(rng.integers(2, 6)), d1 + d2, int(rng.integers(1, 3)), int(rng.integers(1, 5)))
    batch = networks(moderate_tokens, shapes=(shape,), log_weights=(-6.0, 0.5), skip=1.0)(rng, size)
    W = np.array(batch.net.value)
    W[..., d1:, :] = 0
    W[..., :, :d1] = 0
    bias = np.array(batch.net.bias)
    bias[..., :d1] = 0
    X = np.array(batch.X)
    X[..., d1:] = 0
    return NetworkInstance(replace(batch.net, value=W, bias=bias), X, "conserved block")


def evaluate_column_norm(A: Any, instance: NetworkInstance) -> Evaluation:
    """own:diameter for column LayerNorm after one layer, with W_h S⁻¹ in place of W_h, S the column deviations."""
    net = instance.net
    bare = replace(net, norm=None)
    before, after = Run(A, bare, instance.X), Run(A, net, instance.X)
    A = before.A
    hypotheses = [
        fact(
            A,
            "column LayerNorm without eps",
            net.norm is not None and net.norm.kind == "column" and net.norm.floor == 0,
        ),
        fact(A, "one layer, no skip, no MLP", net.layers == 1 and net.skip == 0 and not any(net.mlp)),
    ]
    tokens = before.tokens[1]
    R = tokens.residual
    deviation = A.sqrt(A.sum(R * R, axis=-2) / R.shape[-2])  # (..., 1, d), in units of e^σ
    unit: Any = 0
    if not A.unbounded:
        log_unit = tokens.log_residual.to_float()[..., 0, 0]
        unit = np.where(np.isfinite(log_unit), log_unit, 0.0)  # nothing left to normalise: any unit will do
    sides = []
    for p in (1, 2, math.inf):
        log_b = before.log_diameter(0, p)
        terms = []
        for h in range(net.heads):
            value = log(A, induced_norm(A, before.weight(net.W, 0, h) / A.nonzero(deviation), p)) - unit
            size = log(A, form_norm(A, before.weight(net.W_QK, 0, h), p)) - log(A, 4 * before.root)
            terms.append(value + log_b + log_tanh_of_exp(A, size + 2 * log_b))
        sides.append(Side(after.log_diameter(1, p), log_sum(A, terms)))
    return Evaluation(sides, hypotheses)


# -- the composite value is not a norm ---------------------------------------------------------------------


def exhibit_not_a_norm() -> Certificate:
    """A = e₁1ᵀ, B = Aᵀ for n = 3: 2√3 on the parts, 4 on the sum."""
    A = np.asarray([[1, 1, 1], [0, 0, 0], [0, 0, 0]])
    return certify_not_a_norm(A, A.T)


def norm_instance(A: Any, B: Any) -> ArrayInstance:
    A = as_array("A", A, ndim=2)
    return ArrayInstance({"A": A, "B": as_array("B", B, ndim=2, shape=A.shape)})


def evaluate_triangle(A: Any, instance: ArrayInstance) -> Evaluation:
    """‖A‖ + ‖B‖ ≤ ‖A + B‖ in ‖·‖_{1,∞}: the triangle inequality turned round, which holds for this pair."""
    first, second = A.asarray(instance["A"]), A.asarray(instance["B"])
    parts = composite(A, first) + composite(A, second)
    return Evaluation([Side(log(A, parts), log(A, composite(A, first + second)))])


def draw_crosses(rng: Rng, size: int) -> ArrayInstance:
    """e₁uᵀ and its transpose, positive u: the sum is a cross."""
    n = int(rng.integers(3, 8))
    u = 10.0 ** rng.uniform(-3, 3, (size, 1)) * rng.uniform(0.9, 1.1, (size, n))
    A = np.zeros((size, n, n))
    A[:, 0, :] = u
    return ArrayInstance({"A": A, "B": np.swapaxes(A, -1, -2)}, "crosses", is_batch=True)


COMPOSITE_DRAWS = tuple(
    networks(t, shapes=COMPOSITE_SHAPES) for t in (small_tokens, moderate_tokens, outlier_tokens)
)
SINGLE_DRAWS = tuple(networks(t, shapes=SINGLE_SHAPES) for t in (small_tokens, moderate_tokens, outlier_tokens))

STATEMENTS = (
    Statement(
        key="dong2021:2.1",
        title="Path decomposition",
        claim=r"\mathrm{SAN}(X)=\sum_{h_1,\dots,h_L}P^L_{h_L}\cdots P^1_{h_1}X\,W^1_{h_1}\cdots W^L_{h_L}"
        r"+\mathbf1b^{\mathsf T}",
        source=f"{PAPER}, Theorem 2.1",
        status="proved",
        truth="proofs/dong2021_2_1.tex",
        instance=plain_path_instance,
        decide=partial(decide_paths, skips=False),
        draws=(partial(draw_paths, skips=False),),
        certificate=partial(certify_path_instance, skips=False),
        share=0.25,
    ),
    Statement(
        key="dong2021:2.1-skip",
        title="Path decomposition with skip connections, and the path counts",
        claim=r"\mathrm{SAN}(X)=\sum_{k}\sum_{\text{paths of length }k}P_{\mathrm{path}}XW_{\mathrm{path}}"
        r"+\mathbf1b^{\mathsf T},\quad\binom LkH^k\text{ paths of length }k",
        source=f"{PAPER}, section 3.1",
        status="proved",
        truth="proofs/dong2021_2_1.tex",
        instance=path_instance,
        decide=partial(decide_paths, skips=True),
        draws=(partial(draw_paths, skips=True),),
        certificate=partial(certify_path_instance, skips=True),
        share=0.25,
    ),
    Statement(
        key="dong2021:A.3",
        title="Sandwich lemma, under its hypothesis",
        claim=r"D_{ii}\le x^*\implies(1-D_{ii})q_j\le P_{ij}\le(1+2D_{ii})q_j,\quad e^{x^*}=1+2x^*",
        source=f"{PAPER}, Lemma A.3 with the hypothesis of the 2023 revision",
        status="proved",
        truth="proofs/dong2021_A_3.tex",
        instance=sandwich_instance,
        evaluate=partial(evaluate_sandwich, hypothesis=True),
        draws=(draw_sandwich,),
        extremal=near_threshold,
        certificate=partial(certify_sandwich_instance, hypothesis=True),
        sharp=True,
    ),
    Statement(
        key="dong2021:2.2",
        title="Doubly exponential collapse, one head (2023 form)",
        claim=r"\|\mathrm{res}(X^L)\|_{1,\infty}\le(4\gamma_*\beta/\sqrt{d_{qk}})^{(3^L-1)/2}\|\mathrm{res}(X)\|_{1,\infty}^{3^L}",
        source=f"{PAPER}, Theorem 2.2, 2023 revision",
        status="proved",
        truth="proofs/dong2021_2_3.tex",
        instance=network_instance,
        evaluate=partial(evaluate_composite, heads=1),
        certificate=partial(certify_composite_instance, statement="dong2021:2.2"),
        draws=SINGLE_DRAWS,
        extremal=antipodal_pair,
        compare=compare_with_diameter,
        share=0.15,
        cost=5,
    ),
    Statement(
        key="dong2021:2.3",
        title="Doubly exponential collapse, many heads (2023 form, heads summed norm by norm)",
        claim=r"\|\mathrm{res}(X^L)\|_{1,\infty}\le(4\gamma_*B/\sqrt{d_{qk}})^{(3^L-1)/2}"
        r"\|\mathrm{res}(X)\|_{1,\infty}^{3^L},\quad "
        r"B=\max_l\bigl(\textstyle\sum_h\|W_{QK,h}\|_1\|W_h\|_1\bigr)^{1/2}"
        r"\bigl(\textstyle\sum_h\|W_{QK,h}\|_1\|W_h\|_\infty\bigr)^{1/2}",
        source=f"{PAPER}, Theorem 2.3, 2023 revision, repaired: B in place of βH",
        status="proved",
        truth="proofs/dong2021_2_3.tex",
        instance=network_instance,
        evaluate=evaluate_composite,
        certificate=partial(certify_composite_instance, statement="dong2021:2.3"),
        draws=COMPOSITE_DRAWS,
        extremal=antipodal_pair,
        compare=compare_with_diameter,
        share=0.15,
        cost=5,
        notes="With the printed βH the claim is false for two heads: see dong2021:2.3-printed.",
    ),
    Statement(
        key="dong2021:3.1",
        title="Skip connections can keep the residual, however small β",
        claim=r"\exists\text{ infinitely many networks with skips and }\|\mathrm{res}(X^L)\|\ge\|\mathrm{res}(X)\|"
        r"\text{ for all }L,\ \beta>0\text{ arbitrary}",
        source=f"{PAPER}, section 3.1",
        status="proved",
        truth="proofs/dong2021_3.tex",
        instance=network_instance,
        evaluate=evaluate_conserved_block,
        draws=(draw_conserved_block,),
    ),
    Statement(
        key="dong2021:3.2",
        title="A Lipschitz map after every layer",
        claim=r"\|\mathrm{res}(X^L)\|_{1,\infty}\le(4\gamma_*B\lambda/\sqrt{d_{qk}})^{(3^L-1)/2}\|\mathrm{res}(X)\|_{1,\infty}^{3^L},"
        r"\quad\lambda=\|\,|W_1||W_2|\,\|_{1,\infty}\sup|\phi'|",
        source=f"{PAPER}, section 3.2, with λ a composite Lipschitz constant",
        status="proved",
        truth="proofs/dong2021_3.tex",
        instance=network_instance,
        evaluate=partial(evaluate_composite, maps=True),
        draws=tuple(networks(small_tokens, shapes=COMPOSITE_SHAPES, mlp=f) for f in LIPSCHITZ),
        extremal=antipodal_pair_with_map,
        share=0.1,
        cost=3,
    ),
    Statement(
        key="dong2021:3.3",
        title="Column LayerNorm is a right multiplication",
        claim=r"\mathrm{LN}(\mathrm{SA}(X))=\textstyle\sum_hP_hXW_hS^{-1}+\mathbf1\tilde b^{\mathsf T},"
        r"\text{ and the layer bounds hold with }W_hS^{-1}",
        source=f"{PAPER}, section 3.3",
        status="proved",
        truth="proofs/dong2021_3.tex",
        instance=network_instance,
        evaluate=evaluate_column_norm,
        draws=tuple(
            networks(t, shapes=((2, 2, 1, 1), (4, 3, 2, 1), (6, 2, 1, 1)), norm="column") for t in ALL_TOKENS[:3]
        ),
    ),
    Statement(
        key="dong2021:norm",
        title="The composite value is not a norm",
        claim=r"\exists A,B:\ \|A\|_{1,\infty}+\|B\|_{1,\infty}<\|A+B\|_{1,\infty},"
        r"\quad\|A\|_{1,\infty}=\sqrt{\|A\|_1\|A\|_\infty}",
        source=f"{PAPER} uses it as one",
        status="proved",
        truth="proofs/dong2021_norm.tex",
        instance=norm_instance,
        evaluate=evaluate_triangle,
        draws=(draw_crosses,),
        exhibit=exhibit_not_a_norm,
        exhibit_refutes=False,
    ),
)
