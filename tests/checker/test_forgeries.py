"""No mutated certificate is accepted unless what it now says is true.

Whether it is true is judged here by other means: python-flint balls, NumPy's singular values, medians and linear
programs; no line of the checker is used.
"""

from __future__ import annotations

import copy
import functools
import json
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import flint
import numpy as np
import pytest
from flint import arb, fmpq

from rankmath.certificates.certificate import Certificate
from rankmath.checker import checker
from rankmath.checker.checker import check_text
from rankmath.linalg.exact_residuals import ExactResidual, exact_residual_bounds
from rankmath.linalg.masks import Mask
from rankmath.linalg.residuals import ResidualNorm

MUTATIONS = 300
FORGERIES = 200
BITS = 500
MINE = "diameter(X[1], 1) <= sum_h(norm(W[0, h], inf))*diameter(X[0], 1)"
# Singular values and the like come from float64.
FLOAT_SLACK = 1 + 1e-9


# -- the judge ------------------------------------------------------------------------------------------------


def number(value: int | str) -> Fraction:
    if isinstance(value, str) and "*2^" in value:
        mantissa, exponent = value.split("*2^")
        return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return Fraction(value)


def exact(value: Any) -> Any:
    """Vectors and matrices become arrays of Fractions."""
    if isinstance(value, dict):
        return {name: exact(inner) for name, inner in value.items()}
    if isinstance(value, list) and (isinstance(value[0], dict) or np.ndim(value[0]) == 2):
        return [exact(inner) for inner in value]
    if isinstance(value, list):
        return np.vectorize(number, otypes=[object])(np.array(value, dtype=object))
    return value


def ball(x: Fraction) -> arb:
    return arb(fmpq(x.numerator, x.denominator))


def balls(A: Any) -> Any:
    return np.vectorize(ball, otypes=[object])(A)


def softmax(logits: Any) -> Any:
    weights = np.vectorize(arb.exp, otypes=[object])(logits)
    return weights / weights.sum(axis=-1, keepdims=True)


def largest(values: Any) -> arb:
    return max((x for x in values), key=float)


def tokens(data: Any) -> list[Any]:
    X = balls(data["X"])
    root = ball(number(data["d_qk"])).sqrt()
    result = [X]
    for layer in data["layers"]:
        after = balls(layer["bias"])[None, :]
        for head in layer["heads"]:
            P = softmax((X @ balls(head["W_QK"]) @ X.T + (X @ balls(head["key_bias"]))[None, :]) / root)
            after = after + P @ X @ balls(head["W"])
        X = after
        result.append(X)
    return result


def is_stochastic(P: Any) -> bool:
    return bool((P >= 0).all()) and all(total == 1 for total in P.sum(axis=1))


def closure_is_true(data: Any) -> bool:
    factors = data["factors"]
    if len(factors) < 2 or any(factor.shape[1] < 2 for factor in factors):
        return False
    result = factors[0]
    for factor in factors[1:]:
        result = result @ factor
    stored = data.get("product", result)
    return (
        all(map(is_stochastic, [*factors, result])) and result.shape == stored.shape and bool((result == stored).all())
    )


def paths_are_true(data: Any) -> bool:
    """Paths grouped by layer: Y^{l+1} = Σ_h P_h Y^l W_h with the bias carried as a token of its own."""
    layers, n = data["layers"], len(data["X"])
    if n < 2 or not all(is_stochastic(head["P"]) for layer in layers for head in layer["heads"]):
        return False
    if "skip" in data and number(data["skip"]) == 0:
        return False
    factor = number(data["skip"]) if "skip" in data else Fraction(0)
    Y, b = data["X"], 0 * data["X"][:1]
    everything = [data["X"]]
    for layer in layers:
        everything = [
            *(factor * Z for Z in everything),
            *(head["P"] @ Z @ head["W"] for Z, head in product(everything, layer["heads"])),
        ]
        b = layer["bias"][None, :] + factor * b + sum(b @ head["W"] for head in layer["heads"])
        Y = factor * Y + layer["bias"][None, :] + sum(head["P"] @ Y @ head["W"] for head in layer["heads"])
    by_paths = sum(everything) + np.repeat(b, n, axis=0)
    return bool((by_paths == Y).all()) and bool((data.get("output", Y) == Y).all())


def threshold() -> arb:
    """x* = −1/2 − W₋₁(−1/(2√e)), the positive root of e^x = 1 + 2x."""
    return -arb(0.5) - (-(-arb(0.5)).exp() / 2).lambertw(-1)


def sandwich_is_true(data: Any, kind: str, *, hypothesis: bool) -> bool:
    E = data["E"]
    D = E.max(axis=1) - E.min(axis=1)
    if not any(D) or (hypothesis and not all(ball(d) <= threshold() for d in D)):
        return False
    logits = (
        balls(data["logits"]) if "logits" in data else np.vectorize(arb.log, otypes=[object])(balls(data["weights"]))
    )
    q, P = softmax(logits), softmax(logits[None, :] + balls(E))
    failures = [
        p < (1 - ball(d)) * s or p > (1 + 2 * ball(d)) * s
        for d, row in zip(D, P, strict=True)
        for p, s in zip(row, q, strict=True)
    ]
    return any(failures) == (kind == "violates")


def norm_is_broken(data: Any) -> bool:
    def value(A: Any) -> arb:
        return (ball(abs(A).sum(axis=0).max()) * ball(abs(A).sum(axis=1).max())).sqrt()

    return bool(value(data["A"]) + value(data["B"]) < value(data["A"] + data["B"]))


def variation_is_true(data: Any, kind: str) -> bool:
    if "logits" in data:
        return False  # no seed certificate has logits, so a mutation that does has weights beside them
    q = balls(data["weights"]) / ball(sum(data["weights"]))
    p = softmax(np.vectorize(arb.log, otypes=[object])(q) + balls(data["g"]))
    osc = data["g"].max() - data["g"].min()
    holds = not bool(abs(p - q).sum() / 2 > (ball(osc) / 4).tanh())
    return min(data["weights"]) > 0 and osc > 0 and holds == (kind == "holds")


def token_norm(v: Any, norm: str) -> arb:
    if norm == "l2":
        return (v * v).sum().sqrt()
    return abs(v).sum() if norm == "l1" else largest(abs(v))


def diameter(X: Any, norm: str) -> arb:
    return largest([arb(0), *(token_norm(u - v, norm) for u, v in combinations(X, 2))])


def head_norms(head: Any, norm: str) -> tuple[float, float]:
    W, M = head["W"].astype(float), head["W_QK"].astype(float)
    if norm == "l1":
        return abs(W).sum(axis=1).max(), abs(M).max()
    if norm == "l2":
        return np.linalg.norm(W, 2), np.linalg.norm(M, 2)
    signs = np.array(list(product((-1, 1), repeat=len(M))))
    return abs(W).sum(axis=0).max(), (signs @ M @ signs.T).max()


def cubic(c: float | arb, start: arb, L: int) -> arb:
    return arb(c) ** ((3**L - 1) // 2) * start ** (3**L)


def diameter_is_true(data: Any, kind: str) -> bool:
    root, (X, *_, Y) = float(number(data["d_qk"])) ** 0.5, tokens(data)
    every = []
    for norm in ("l1", "l2", "linf"):
        bound = diameter(X, norm)
        for layer in data["layers"]:
            norms = [head_norms(head, norm) for head in layer["heads"]]
            bound = bound * sum(N * (M * bound**2 / (4 * root)).tanh() for N, M in norms)
        slack = FLOAT_SLACK if kind == "holds" else 1 / FLOAT_SLACK
        every.append(bool(diameter(Y, norm) <= bound * slack))
    return all(every) == (kind == "holds")


def step_of_mine_is_true(data: Any, kind: str) -> bool:
    X, Y, *_ = tokens(data)
    total = sum(float(abs(head["W"]).sum(axis=1).max()) for head in data["layers"][0]["heads"])
    return bool(diameter(Y, "l1") <= total * diameter(X, "l1") * FLOAT_SLACK) == (kind == "holds")


def sums(A: Any, axis: int) -> arb:
    return largest(abs(A).sum(axis=axis))


def residual_bounds(X: Any, norm: ResidualNorm) -> tuple[arb, arb]:
    """A lower and an upper bound on the residual, by linear programs on the tokens, rounded to 300 bits."""
    scale = Fraction(2) ** 300
    middles = (int(m) * Fraction(2) ** int(e) for m, e in (x.mid().man_exp() for x in X.flat))
    bounds = programs(tuple(round(x * scale) / scale for x in middles), X.shape, norm)
    lower, upper = (ball(b) if bounds.power == 1 else ball(b).sqrt() for b in (bounds.lower, bounds.upper))
    return lower, upper


@functools.cache
def programs(entries: tuple[Fraction, ...], shape: tuple[int, int], norm: ResidualNorm) -> ExactResidual:
    # Most mutations leave most layers as they were.
    return exact_residual_bounds(np.array(entries, dtype=object).reshape(shape), norm)


def residual_is_true(data: Any) -> bool:
    X, *_, Y = tokens(data)
    root = float(number(data["d_qk"])) ** 0.5
    c = max(
        sum(float(abs(h["W_QK"]).max() * abs(h["W"]).sum(axis=1).max()) for h in layer["heads"])
        for layer in data["layers"]
    )
    L = len(data["layers"])
    # Half the diameter bounds the residual from below; only when that is not enough, the linear program.
    easy = cubic(c / root, diameter(X, "l1") / 2, L) * FLOAT_SLACK
    return bool(sums(Y - Y[0], 1) <= easy) or bool(
        residual_bounds(Y, "inf")[1] <= cubic(c / root, residual_bounds(X, "inf")[0], L) * FLOAT_SLACK
    )


def decay_is_true(data: Any) -> bool:
    """The 2023 bound with gamma at the centers of the data, each of which must be nearly least."""
    every, root = tokens(data), ball(number(data["d_qk"])).sqrt()
    gammas, B_squared = [arb(0)], []
    centers = data["centers"]
    for X, x, layer in zip(every, map(balls, centers), data["layers"], strict=False):
        R = X - x
        if not (sums(R, 0) * sums(R, 1)).sqrt() <= residual_bounds(X, "composite")[1] * (1 + arb(2) ** -19):
            return False
        one = inf = Fraction(0)
        for head in layer["heads"]:
            W_QK = balls(head["W_QK"])
            E = R @ W_QK @ R.T / root
            D = [largest(row) - min(row, key=float) for row in E]
            if any(d > threshold() for d in D):
                return False
            q = softmax((R @ W_QK.T @ x + R @ balls(head["key_bias"])) / root)
            if largest(D) > 0:
                gammas.append((sum(D) * largest(q) / largest(D)).sqrt())
            size = abs(head["W_QK"]).sum(axis=0).max()
            one += size * abs(head["W"]).sum(axis=0).max()
            inf += size * abs(head["W"]).sum(axis=1).max()
        B_squared.append(one * inf)
    L = len(data["layers"])
    c = 4 * largest(gammas) * ball(max(B_squared)).sqrt() / root
    bound = cubic(c, residual_bounds(every[0], "composite")[0], L)
    return bool(residual_bounds(every[-1], "composite")[1] <= bound * FLOAT_SLACK)


def leaves_the_set(x: Any, w: Fraction) -> bool:
    """By the matrix I + wS, and a quotient in balls in place of squares."""
    y = (x + np.eye(len(x), dtype=int)[-1]) @ (np.eye(len(x), dtype=int) + w * np.eye(len(x), k=1, dtype=int))
    quotient = ball(y[-2]) / token_norm(balls(y), "l2")
    return bool(quotient > -1 / ball(w))


def invariance_is_true(data: Any, kind: str) -> bool:
    x, w = data["x"], number(data["w"])
    inside = len(x) > 2 and w > 1 and x @ x == 1 and x[-2] <= -1 / w and all(v < 0 for v in x[:-2])
    inside = inside and ball(sum((v / x[-2]) ** 2 for v in x[:-2])) <= ball(w * w - 1).sqrt()
    return bool(inside) and leaves_the_set(x, w) == (kind == "violates")


def step_is_true(A: Any, kind: str) -> bool:
    if len(A) < 2 or not is_stochastic(A):
        return False
    graph = Mask(A != 0)
    if not (graph.has_self_loops and graph.is_strongly_connected and graph.radius == 1):
        return False
    units = [balls(row) / token_norm(balls(row), "l2") for row in A]
    if len(A) * min(x for x in A.flat if x) >= 1:
        return False
    asked = ball(len(A) * min(x for x in A.flat if x) ** 2)
    broken = any((u * v).sum() < asked for u, v in combinations(units, 2))
    return broken == (kind == "violates")


def second_token_is_true(w: Fraction, s: Fraction) -> bool:
    """At rest, and with the slope of the angle that a difference quotient shows."""
    if not (w > 1 and s > 0 and s * s == 1 - 1 / (w * w)):
        return False

    def moved(angle: float) -> float:
        x, y = np.cos(angle), np.sin(angle)
        return float(np.arctan2(float(w) * x + y + 1, x))

    for (x, y), slope in (((0, 1), 0.5), ((-1 / w, s), 1 + s), ((-1 / w, -s), 1 - s)):
        angle = float(np.arctan2(float(y), float(x)))
        if abs(moved(angle) - angle) > 1e-9:
            return False
        if abs((moved(angle + 1e-6) - moved(angle - 1e-6)) / 2e-6 - float(slope)) > 1e-5 * float(w):
            return False
    return True


def is_true(content: Any) -> bool:
    statement, kind, data = content["statement"], content["kind"], exact(content["data"])
    if "d_qk" in data:
        # A network: what every claim supposes of it, and the tokens are not all equal.
        plain = number(data["skip"]) == 0 and data["layernorm"] == "none" and isinstance(data["mask"], str)
        plain = plain and number(data["d_qk"]) > 0 and any((row != data["X"][0]).any() for row in data["X"])
        if not plain:
            return False
    judges: dict[str, Any] = {
        "seed:closure": lambda: kind == "holds" and closure_is_true(data),
        "dong2021:2.1": lambda: kind == "holds" and paths_are_true(data),
        "dong2021:2.1-skip": lambda: kind == "holds" and paths_are_true(data),
        "dong2021:A.3": lambda: sandwich_is_true(data, kind, hypothesis=True),
        "dong2021v1:A.3": lambda: sandwich_is_true(data, kind, hypothesis=False),
        "dong2021:norm": lambda: kind == "violates" and norm_is_broken(data),
        "own:tv": lambda: variation_is_true(data, kind),
        "own:diameter": lambda: diameter_is_true(data, kind),
        "own:residual-inf": lambda: kind == "holds" and residual_is_true(data),
        "wu2024:L13": lambda: invariance_is_true(data, kind),
        "wu2024:2-step": lambda: step_is_true(data["A"], kind),
        "wu2024:4.3.1": lambda: kind == "holds" and second_token_is_true(number(data["w"]), number(data["s"])),
        "mine:step": lambda: step_of_mine_is_true(data, kind),
        "dong2021:2.3": lambda: kind == "holds" and decay_is_true(data),
        "dong2021:2.2": lambda: (
            kind == "holds" and all(len(layer["heads"]) == 1 for layer in data["layers"]) and decay_is_true(data)
        ),
    }
    return bool(judges[statement]())


# -- the mutations --------------------------------------------------------------------------------------------

WORDS = [
    "holds",
    "violates",
    "exists",
    "sphere",
    "none",
    "complete",
    "H == 1",
    "mu(X[1]) >= 0",
    "rankmath-certificate/1",
    "own:diameter",
]
JUNK = [None, True, 1.5, "1e9", "nan", "1/0", "1.0", "0x10", " 1", "+1", "1*2^99999999", "2^3", "١", "", [], {}, [[1]]]


def nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) below value."""
    for key in value if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from nodes(value[key])


def is_number(value: Any) -> bool:
    return type(value) is int or (isinstance(value, str) and value[:1] in "-0123456789")


def spelled(value: Fraction) -> int | str:
    return int(value) if value.denominator == 1 else f"{value.numerator}/{value.denominator}"


def perturbed(rng: random.Random, value: Any, others: list[Any]) -> Any:
    x = number(value)
    changes = [
        -x,
        x + 1,
        x * 2,
        x / 3,
        Fraction(0),
        x + Fraction(rng.choice((1, -1)), 2 ** rng.randint(1, 80)),
        x * (1 + Fraction(rng.choice((1, -1)), 2 ** rng.randint(1, 40))),
        number(rng.choice(others)),
        x * 10 ** rng.randint(1, 40),
    ]
    return spelled(rng.choice(changes))


def mutate(rng: random.Random, content: Any) -> str:
    """The text of the certificate with one field or number changed, dropped, repeated or replaced."""
    everywhere = list(nodes(content))
    numbers = [(container, key) for container, key in everywhere if is_number(container[key])]
    if rng.random() < 0.5:
        container, key = rng.choice(numbers)
        container[key] = perturbed(rng, container[key], [c[k] for c, k in numbers])
        return json.dumps(content)
    container, key = rng.choice(everywhere)
    how = rng.choice(("drop", "repeat", "swap", "junk", "word", "extra"))
    if how == "drop":
        del container[key]
    elif how == "repeat" and isinstance(container, dict):
        container["@"] = container[key]
        return json.dumps(content).replace('"@"', json.dumps(key))
    elif how == "repeat":
        container.insert(key, copy.deepcopy(container[key]))
    elif how == "swap":
        other = rng.choice(list(container) if isinstance(container, dict) else range(len(container)))
        container[key], container[other] = container[other], container[key]
    elif how == "junk":
        container[key] = rng.choice(JUNK)
    elif how == "word":
        container, key = rng.choice([(c, k) for c, k in everywhere if isinstance(c[k], str) and not is_number(c[k])])
        container[key] = rng.choice(WORDS)
    else:
        (container if isinstance(container, dict) else content)["extra"] = 1
    return json.dumps(content)


@pytest.fixture(autouse=True)
def many_bits() -> Iterator[None]:
    before = flint.ctx.prec
    flint.ctx.prec = BITS
    yield
    flint.ctx.prec = before


def judged(text: str) -> bool:
    """Whether the checker accepts; if it does, what is said must be true."""
    if not check_text(text).accepted:
        return False
    content = json.loads(text)
    known = checker.wording(content["statement"], content["data"])
    if known is not None:
        assert same_text(content["claim"], known[0]), text
        assert [same_text(a, b) for a, b in zip(content["given"], known[1], strict=True)].count(False) == 0, text
    elif content["claim"] != MINE:
        return True  # another claim of one's own, which this judge cannot read
    assert is_true(content), text
    return True


def same_text(a: str, b: str) -> bool:
    return "".join(a.split()) == "".join(b.split())


def test_no_mutation_is_accepted_unless_it_is_true(twenty_each: dict[str, list[Certificate]]) -> None:
    rng = random.Random(0)
    certificates = [certificate for drawn in twenty_each.values() for certificate in drawn]
    accepted: dict[str, int] = dict.fromkeys(twenty_each, 0)
    rejected = dict(accepted)
    for trial in range(MUTATIONS):
        certificate = certificates[trial % len(certificates)]
        content = json.loads(certificate.text())
        if rng.random() < 0.8:
            del content["id"]  # or else the hash would catch everything
        counts = accepted if judged(mutate(rng, content)) else rejected
        counts[certificate.statement] += 1
    # Each statement says yes to some changes and no to others: neither half of the test is empty.
    assert min(accepted.values()) > 0, accepted
    assert min(rejected.values()) > 5, rejected


FLIPPED = {"holds": "violates", "violates": "holds", "exists": "violates"}


def forged(rng: random.Random, content: Any, others: list[Any]) -> str:
    """Several changes at once, as a forger makes them: the kind and the data together, another's data or hints, no
    id."""
    content.pop("id", None)
    for _ in range(rng.randint(1, 3)):
        how = rng.choice(("kind", "numbers", "scale", "data", "hints", "statement", "wording", "degenerate"))
        numbers = [(c, k) for c, k in nodes(content["data"]) if is_number(c[k])]
        if how == "kind":
            content["kind"] = FLIPPED[content["kind"]]
        elif how == "numbers":
            for container, key in rng.sample(numbers, min(len(numbers), rng.randint(1, 6))):
                container[key] = perturbed(rng, container[key], [c[k] for c, k in numbers])
        elif how == "scale":
            factor = Fraction(rng.choice((2, 10, 1000, -1)), rng.choice((1, 3, 1000)))
            for container, key in numbers:
                container[key] = spelled(number(container[key]) * factor)
        elif how == "degenerate":
            for container, key in numbers:
                container[key] = rng.choice((0, 1)) if rng.random() < 0.5 else container[key]
        else:
            other = copy.deepcopy(rng.choice(others))
            fields = {"data": ["data"], "hints": ["hints"], "statement": ["statement"], "wording": ["claim", "given"]}[
                how
            ]
            if how == "statement" and rng.random() < 0.5:
                fields = ["statement", "claim", "given"]
            content.update({field: other[field] for field in fields})
    return json.dumps(content)


def test_no_forgery_of_several_changes_is_accepted_unless_it_is_true(twenty_each: dict[str, list[Certificate]]) -> None:
    """A single mutation never changes the kind and the data together; a forger does."""
    rng = random.Random("forgeries")
    contents = [json.loads(certificate.text()) for drawn in twenty_each.values() for certificate in drawn[:6]]
    accepted = sum(judged(forged(rng, copy.deepcopy(rng.choice(contents)), contents)) for _ in range(FORGERIES))
    assert FORGERIES * 0.02 < accepted < FORGERIES * 0.5


def test_the_judge_agrees_with_every_certificate_and_can_say_no(twenty_each: dict[str, list[Certificate]]) -> None:
    for drawn in twenty_each.values():
        assert all(is_true(json.loads(certificate.text())) for certificate in drawn[:5])
    for key in ("dong2021:A.3", "dong2021v1:A.3", "own:diameter", "own:tv", "wu2024:L13", "wu2024:2-step", "mine:step"):
        content = json.loads(twenty_each[key][0].text())
        content["kind"] = "holds" if content["kind"] == "violates" else "violates"
        assert not is_true(content)


def test_a_changed_content_under_the_old_id_is_rejected(twenty_each: dict[str, list[Certificate]]) -> None:
    for drawn in twenty_each.values():
        for certificate in drawn:
            content = json.loads(certificate.text())
            content["about"] = "changed"
            result = check_text(json.dumps(content))
            assert not result.accepted
            assert "hash" in result.reason
