"""`bound(key)`: the right sides of the theorems as sympy expressions, derived and proved, one function for each.

To add a statement, write one more function: it derives the expression, proves it (or the claim it is handed
instead), and says what the letters mean.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import sympy as sp

from rankmath.symbolic import composite, constants, letters, masks
from rankmath.symbolic import diameter as diameters
from rankmath.symbolic.bound import Bound
from rankmath.symbolic.letters import h, over_heads, with_heads
from rankmath.symbolic.proof import Expr, NotProved, Proof, Step, chain
from rankmath.symbolic.quantities import AT_LEAST_ONE, BELOW_ONE, FRACTION, POSITIVE, SHARE, Domain, Quantity
from rankmath.symbolic.recursions import (
    power_recursion,
    prove_power_recursion,
    prove_skip_recursion,
    skip_recursion,
)
from rankmath.validation import as_choice

_Derivation: TypeAlias = Callable[[Expr | None], Bound]
_DERIVATIONS: dict[str, _Derivation] = {}


def _registered(key: str) -> Callable[[Callable[[str, Expr | None], Bound]], None]:
    """Register a derivation: a function of the key and of a claim to prove instead of the derived expression."""

    def register(derive: Callable[[str, Expr | None], Bound]) -> None:
        _DERIVATIONS[key] = lambda claim: derive(key, claim)

    return register


def bounds() -> tuple[str, ...]:
    """The keys of all bounds."""
    return tuple(_DERIVATIONS)


@cache
def _derived(key: str) -> Bound:
    return _DERIVATIONS[key](None)


def bound(key: str) -> Bound:
    """The bound of the statement `key`, derived and proved on first use.

    Examples
    --------
    >>> bound("own:tv").expression
    tanh(D/4)
    >>> bound("own:tv").symbols["D"]
    'the oscillation of g (largest entry minus least), where p_j is proportional to q_j exp(g_j)'
    >>> bound("own:no")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    rankmath.InvalidArgument: key: 'own:no' given; allowed are 'dong2021:2.2', ...
    """
    return _derived(as_choice("key", key, bounds()))


def prove(key: str, claim: Expr) -> Proof:
    """A proof that `claim` is the bound of the statement `key`; `NotProved` if sympy does not confirm it.

    Examples
    --------
    >>> prove("own:tv", sp.tanh(letters.D / 5))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    rankmath.symbolic.proof.NotProved: total variation of two softmaxes: step 1 is not proved: ...
    """
    return _DERIVATIONS[as_choice("key", key, bounds())](claim).derivation


# What the letters mean. Norms: ‖·‖₁ largest column sum, ‖·‖_∞ largest row sum, ‖·‖_{1,∞} = √(‖·‖₁‖·‖_∞).

_DEPTH = Quantity(letters.L, "the number of layers", "L", integer=True)
_HEADS = Quantity(letters.H, "the number of heads in a layer", "H", AT_LEAST_ONE, integer=True)
_KEYS = Quantity(letters.d_qk, "the dimension of queries and keys", "d_{qk}", AT_LEAST_ONE, integer=True)

_RESIDUAL = Quantity(letters.residual, "|res(X)|_{1,inf} of the input", r"\|\mathrm{res}(X)\|_{1,\infty}")
_RESIDUAL_INF = Quantity(letters.residual, "|res(X)|_inf of the input", r"\|\mathrm{res}(X)\|_{\infty}")
_DIAMETER = Quantity(letters.diameter, "the largest distance of two tokens of the input", r"\Delta")

_BETA = Quantity(letters.beta, "a bound of |W_QK,h|_1 |W_h|_{1,inf} over layers and heads", r"\beta")
_GAMMA = Quantity(
    letters.gamma, "the largest sqrt(|D1|_1 |q|_inf / |D1|_inf) over layers and heads, D_ii = osc(E_i)", r"\gamma"
)
_LIPSCHITZ = Quantity(letters.lipschitz, "the Lipschitz constant of the map applied to every token", r"\lambda")
_WEIGHTS = Quantity(letters.weights, "the largest sum over heads of |W_h| |W_QK,h|_*, over layers", r"\omega")
_WEIGHTS_INF = Quantity(
    letters.weights, "the largest sum over heads of |W_h|_inf |W_QK,h|_max, over layers", r"\omega"
)
_KAPPA = Quantity(
    letters.kappa, "the largest sum over heads of |W_h| |W_QK,h|_*/(4 sqrt(d_qk)), over layers", r"\kappa"
)
_SKIP = Quantity(letters.skip, "the weight of the skip connection", r"\lambda", POSITIVE)
_SHARE = Quantity(
    letters.u,
    "a bound, at every layer l, of the sum over heads of |W_h| tanh(|W_QK,h|_* diameter_l^2/(4 sqrt(d_qk))) "
    "(at most kappa diameter_l^2), divided by the weight of the skip connection",
    "u",
    BELOW_ONE,
)

_ROW = Quantity(letters.D, "osc(E_i), the oscillation of the logits of a row about c", "D")
_CHANGE = Quantity(
    letters.D,
    "the oscillation of g (largest entry minus least), where p_j is proportional to q_j exp(g_j)",
    "D",
)
_DELTA = Quantity(letters.delta, "the largest osc(E_i) over rows and heads", r"\delta")

_BY_HEAD = (
    Quantity(letters.W_V_of, "|W_h| of each head", r"\nu"),
    Quantity(letters.W_QK_of, "|W_QK,h|_* of each head", r"\omega"),
)
_BY_HEAD_INF = (
    Quantity(letters.W_V_of, "|W_h|_inf of each head", r"\nu"),
    Quantity(letters.W_QK_of, "|W_QK,h|_max of each head", r"\omega"),
)
_BY_HEAD_APART = (
    Quantity(letters.q_of, "|q_h|_inf of each head, q = softmax(c)", "q", FRACTION),
    Quantity(letters.W_QK_of, "|W_QK,h|_1 of each head", r"\omega"),
    Quantity(letters.W_one_of, "|W_h|_1 of each head", r"\nu^{(1)}"),
    Quantity(letters.W_inf_of, "|W_h|_inf of each head", r"\nu^{(\infty)}"),
)
_ONE_HEAD = (
    Quantity(letters.q, "|q|_inf, q = softmax(c)", r"\|q\|_\infty", FRACTION),
    Quantity(letters.W_QK, "|W_QK|_1", r"\|W_{QK}\|_1"),
    Quantity(letters.W_V, "|W_V|_{1,inf}", r"\|W_V\|_{1,\infty}"),
)

_BETA_APART = Quantity(
    letters.beta, "a bound of sqrt(max_h |W_QK,h|_1 |W_h|_1 · max_h |W_QK,h|_1 |W_h|_inf) over layers", r"\beta"
)

_TIME = Quantity(letters.L, "the number of layers", "t", integer=True)
_TOKENS = Quantity(letters.n, "the number of tokens", "n", AT_LEAST_ONE, integer=True)
_RADIUS = Quantity(letters.r, "the radius of the mask", "r", AT_LEAST_ONE, integer=True)
_LEAST = Quantity(
    letters.epsilon,
    "the least attention on an edge, or 1/(1 + (keys - 1) exp(2c)), 2c the largest oscillation of a row of logits",
    r"\varepsilon",
    FRACTION,
)
_MU = Quantity(letters.mu, "the Frobenius norm of the input about its mean token", r"\mu(X(0))")
_VALUES = Quantity(letters.W_V, "the spectral norm of the product of all W_V", r"\|\textstyle\prod W_V\|_2")
_COSINE = Quantity(letters.phi, "the least cosine of two tokens of the input", r"\varphi(0)", FRACTION)
_HEIGHT = Quantity(letters.height, "the least <X_i, v> of the input, v a unit vector", r"\gamma", SHARE)
_HEIGHT_OF_ALL = Quantity(letters.height, "(1^T (X X^T)^-1 1)^(-1/2) of the input", r"\gamma", SHARE)
_SECTION = Quantity(
    letters.diameter, "the largest distance of two of the X_i/<X_i, v>, at the input", r"\operatorname{diam}y(0)"
)
_RANK = Quantity(letters.rank, "the rank of the equilibrium", "k", Domain(2), integer=True)
_SHIFT = Quantity(letters.w, "the w of W_V = I + wS", "w", POSITIVE)

_SMALL_LOGITS = "D_ii = osc(E_i) is at most x* = 1.2564... at every layer and head"
_SEVERAL_HEADS = (
    "beta bounds sqrt(max_h |W_QK,h|_1 |W_h|_1 · max_h |W_QK,h|_1 |W_h|_inf), and not only each head's product"
)


def _iterated(
    key: str,
    claim: Expr | None,
    coefficient: Expr,
    start: Quantity,
    layer: Proof,
    others: tuple[Quantity, ...],
    hypothesis: str,
) -> Bound:
    """The closed form of a' <= coefficient · a³, from the one-layer bound that `layer` proves."""
    expression = power_recursion(coefficient, start.symbol).expression if claim is None else claim
    induction = prove_power_recursion(expression, coefficient, start.symbol)
    derivation = chain(f"{key}: the residual or diameter after L layers", layer, induction)
    return Bound(key, "upper", expression, (_DEPTH, start, *others), hypothesis, derivation)


@_registered("dong2021:2.2")
def _(key: str, claim: Expr | None) -> Bound:
    coefficient = composite.gamma_constant()
    layer = composite.prove_gamma_constant(coefficient)
    return _iterated(
        key, claim, coefficient, _RESIDUAL, layer, (_BETA, _GAMMA, _KEYS), f"one head; {_SMALL_LOGITS}"
    )


def _with_heads() -> tuple[Expr, Proof]:
    one = composite.gamma_constant()
    several = letters.H * one
    heads = composite.prove_several_heads(several, one)
    return several, chain(heads.claim, composite.prove_gamma_constant(one), heads)


@_registered("dong2021:2.3")
def _(key: str, claim: Expr | None) -> Bound:
    coefficient, layer = _with_heads()
    others = (_BETA_APART, _GAMMA, _HEADS, _KEYS)
    return _iterated(key, claim, coefficient, _RESIDUAL, layer, others, f"{_SMALL_LOGITS}; {_SEVERAL_HEADS}")


@_registered("dong2021:3.2")
def _(key: str, claim: Expr | None) -> Bound:
    attention, layer = _with_heads()
    a = sp.Symbol("a", positive=True)
    coefficient = letters.lipschitz * attention
    mlp = Proof(
        "a Lipschitz map after attention",
        (r"$\|\mathrm{res}(f(Y))\| \le \lambda\|\mathrm{res}(Y)\|$",),
        (Step("attention, then the map", coefficient * a**3, "=", letters.lipschitz * (attention * a**3)),),
    ).check()
    others = (_BETA_APART, _GAMMA, _HEADS, _LIPSCHITZ, _KEYS)
    hypothesis = f"{_SMALL_LOGITS}; {_SEVERAL_HEADS}; the map is lipschitz-Lipschitz for the composite residual"
    return _iterated(key, claim, coefficient, _RESIDUAL, chain(mlp.claim, layer, mlp), others, hypothesis)


_FALSE = "no other was printed, and without one the statement is false"


def _printed_in_2021() -> Proof:
    premise = r"one layer obeys $a' \le c a^3$ with $\gamma = 1$: as printed, and false in general"
    return Proof("one layer, as printed in 2021", (premise,), ())


@_registered("dong2021v1:2.2")
def _(key: str, claim: Expr | None) -> Bound:
    coefficient = composite.gamma_constant().subs(letters.gamma, 1)
    return _iterated(
        key, claim, coefficient, _RESIDUAL, _printed_in_2021(), (_BETA, _KEYS), "one head; none other (false)"
    )


@_registered("dong2021v1:2.3")
def _(key: str, claim: Expr | None) -> Bound:
    coefficient = letters.H * composite.gamma_constant().subs(letters.gamma, 1)
    others = (_BETA, _HEADS, _KEYS)
    return _iterated(key, claim, coefficient, _RESIDUAL, _printed_in_2021(), others, _FALSE)


@_registered("dong2021:A.3")
def _(key: str, claim: Expr | None) -> Bound:
    expression = constants.sandwich_upper() if claim is None else claim
    proof = constants.prove_sandwich_upper(expression)
    return Bound(
        key, "upper", expression, (_ROW,), "D is at most x* = 1.2564..., the root of exp(x) = 1 + 2x", proof
    )


@_registered("dong2021:A.3-lower")
def _(key: str, claim: Expr | None) -> Bound:
    expression = constants.sandwich_lower() if claim is None else claim
    return Bound(key, "lower", expression, (_ROW,), "none", constants.prove_sandwich_lower(expression))


@_registered("own:tv")
def _(key: str, claim: Expr | None) -> Bound:
    expression = diameters.total_variation() if claim is None else claim
    return Bound(key, "upper", expression, (_CHANGE,), "none", diameters.prove_total_variation(expression))


@_registered("own:diameter")
def _(key: str, claim: Expr | None) -> Bound:
    layer = diameters.prove_cubic_form(diameters.cubic_form())
    coefficient = _per_cube(diameters.cubic_form(), letters.diameter)
    return _iterated(key, claim, coefficient, _DIAMETER, layer, (_WEIGHTS, _KEYS), "none")


@_registered("own:diameter-tanh")
def _(key: str, claim: Expr | None) -> Bound:
    one = diameters.tanh_form()
    expression = _summed(one) if claim is None else claim
    attained = diameters.prove_sharpness(one)
    proof = chain(attained.claim, diameters.prove_tanh_form(one), attained, _prove_sum(expression, one))
    return Bound(key, "upper", expression, (_DIAMETER, *_BY_HEAD, _KEYS), "none; one layer", proof)


@_registered("own:residual-inf")
def _(key: str, claim: Expr | None) -> Bound:
    cubic = diameters.linearised(diameters.residual_tanh_form())
    layer = diameters.prove_residual_form(cubic)
    coefficient = _per_cube(cubic, letters.residual)
    return _iterated(key, claim, coefficient, _RESIDUAL_INF, layer, (_WEIGHTS_INF, _KEYS), "the minimising center")


@_registered("own:residual-inf-tanh")
def _(key: str, claim: Expr | None) -> Bound:
    one = diameters.residual_tanh_form()
    expression = _summed(one) if claim is None else claim
    layer = diameters.prove_residual_form(diameters.linearised(one))
    proof = chain(layer.claim, layer, _prove_sum(expression, one))
    return Bound(key, "upper", expression, (_RESIDUAL_INF, *_BY_HEAD_INF, _KEYS), "none; one layer", proof)


def _per_cube(form: Expr, letter: Expr) -> Expr:
    """The coefficient of letter³, with `weights` for the product of the two norms of a head."""
    return sp.simplify((form / letter**3).subs(letters.W_V, letters.weights / letters.W_QK))


def _summed(one: Expr) -> Expr:
    """The form of one head, summed over heads."""
    term = one.subs({letters.W_V: letters.W_V_of[h], letters.W_QK: letters.W_QK_of[h]})
    constant, varying = term.as_independent(letters.W_V_of, letters.W_QK_of)
    return constant * over_heads(varying)


def _prove_sum(claim: Expr, one: Expr) -> Proof:
    """`claim` adds the forms of the heads: checked with one head and with two."""

    def form(k: int) -> Expr:
        return one.subs({letters.W_V: letters.W_V_of[k], letters.W_QK: letters.W_QK_of[k]})

    return Proof(
        "heads add",
        ("heads add by the triangle inequality",),
        (
            Step("one head", with_heads(claim, 1), "=", form(1)),
            Step("two heads", with_heads(claim, 2), "=", form(1) + form(2)),
        ),
    ).check()


_DELTA_HYPOTHESIS = "one layer; delta bounds osc(E_i) for the rows of E = R W_QK R^T/sqrt(d_qk) and every head"


@_registered("own:gamma-free")
def _(key: str, claim: Expr | None) -> Bound:
    expression = composite.several_heads() if claim is None else claim
    proof = composite.prove_gamma_free(expression)
    return Bound(key, "upper", expression, (_DELTA, _RESIDUAL, *_BY_HEAD_APART, _KEYS), _DELTA_HYPOTHESIS, proof)


@_registered("own:gamma-free-one-head")
def _(key: str, claim: Expr | None) -> Bound:
    expression = composite.one_head(composite.one_head_constant()) if claim is None else claim
    proof = composite.prove_one_head(expression)
    return Bound(
        key, "upper", expression, (_DELTA, _RESIDUAL, *_ONE_HEAD, _KEYS), f"one head; {_DELTA_HYPOTHESIS}", proof
    )


@_registered("own:gamma-free-crude")
def _(key: str, claim: Expr | None) -> Bound:
    expression = composite.one_head(composite.crude_constant()) if claim is None else claim
    proof = composite.prove_crude(expression)
    return Bound(
        key, "upper", expression, (_DELTA, _RESIDUAL, *_ONE_HEAD, _KEYS), f"one head; {_DELTA_HYPOTHESIS}", proof
    )


@_registered("own:skip-lower")
def _(key: str, claim: Expr | None) -> Bound:
    return _skip(key, claim, sign=-1)


@_registered("own:skip-upper")
def _(key: str, claim: Expr | None) -> Bound:
    return _skip(key, claim, sign=+1)


@_registered("own:lambda-skip-lower")
def _(key: str, claim: Expr | None) -> Bound:
    return _lambda_skip(key, claim, sign=-1)


@_registered("own:lambda-skip-upper")
def _(key: str, claim: Expr | None) -> Bound:
    return _lambda_skip(key, claim, sign=+1)


def _skip(key: str, claim: Expr | None, *, sign: int) -> Bound:
    one = sp.Integer(1)
    expression = skip_recursion(one, sign=sign).expression if claim is None else claim
    proof = prove_skip_recursion(expression, one, sign=sign)
    if sign < 0:
        hypothesis = "u is below 1 and bounds, at every layer, the share that attention may take from the diameter"
        return Bound(key, "lower", expression, (_DEPTH, _DIAMETER, _KAPPA, _SHARE), hypothesis, proof)
    return Bound(key, "upper", expression, (_DEPTH, _DIAMETER, _KAPPA), "2 kappa diameter^2 L is below 1", proof)


def _lambda_skip(key: str, claim: Expr | None, *, sign: int) -> Bound:
    cases = (sp.Integer(1), letters.skip)
    forms = [skip_recursion(weight, sign=sign).expression for weight in cases]
    at_one = sp.Eq(letters.skip, 1)
    expression = sp.Piecewise((forms[0], at_one), (forms[1], True)) if claim is None else claim
    if not isinstance(expression, sp.Piecewise) or [case.cond for case in expression.args] != [at_one, sp.true]:
        raise NotProved(f"{key}: two cases are needed, the first for skip = 1")
    proofs = (
        prove_skip_recursion(case.expr, weight, sign=sign)
        for case, weight in zip(expression.args, cases, strict=True)
    )
    base = _skip(key, forms[0], sign=sign)
    hypothesis = base.hypothesis if sign < 0 else "the radicand is positive"
    return Bound(
        key, base.side, expression, (*base.quantities, _SKIP), hypothesis, chain(f"{key}: both cases", *proofs)
    )


_MASK = "one head; every token sees itself; the mask is quasi-strongly connected"
_SPHERE = f"{_MASK}; LayerNorm divides tokens by their norms; every W_V is orthogonal"


@_registered("wu2024:1")
def _(key: str, claim: Expr | None) -> Bound:
    expression = masks.mask_bound() if claim is None else claim
    quantities = (_TIME, _RADIUS, _LEAST, _TOKENS, _VALUES, _MU)
    return Bound(key, "upper", expression, quantities, _MASK, masks.prove_mask_bound(expression))


@_registered("wu2024:2")
def _(key: str, claim: Expr | None) -> Bound:
    expression = masks.full_rank_bound() if claim is None else claim
    quantities = (_TIME, _RADIUS, _LEAST, _TOKENS, _HEIGHT_OF_ALL, _DIAMETER)
    proof = masks.prove_hemisphere_bound(expression, masks.full_rank_start())
    return Bound(key, "upper", expression, quantities, f"{_SPHERE}; the tokens are linearly independent", proof)


@_registered("wu2024:cor1")
def _(key: str, claim: Expr | None) -> Bound:
    expression = masks.cosine_bound() if claim is None else claim
    quantities = (_TIME, _RADIUS, _LEAST, _TOKENS, _COSINE)
    hypothesis = f"{_SPHERE}; no two tokens are at an obtuse angle"
    return Bound(key, "upper", expression, quantities, hypothesis, masks.prove_cosine_bound(expression))


@_registered("own:hemisphere")
def _(key: str, claim: Expr | None) -> Bound:
    expression = masks.hemisphere_bound() if claim is None else claim
    quantities = (_TIME, _RADIUS, _LEAST, _HEIGHT, _SECTION)
    hypothesis = f"{_SPHERE}; all tokens lie in the open hemisphere of v"
    return Bound(key, "upper", expression, quantities, hypothesis, masks.prove_hemisphere_bound(expression))


@_registered("wu2024:anisotropy")
def _(key: str, claim: Expr | None) -> Bound:
    expression = masks.anisotropy_bound() if claim is None else claim
    hypothesis = "the equilibrium of rank at least 2 of W_V = I + wS under the causal mask; w is above n - 1"
    proof = masks.prove_anisotropy_bound(expression)
    return Bound(key, "upper", expression, (_TOKENS, _RANK, _SHIFT), hypothesis, proof)
