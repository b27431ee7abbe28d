"""Sentences of the pages that once were false: the counterexample is computed, and the page must not say it again.

Where a page has numbers in place of such a sentence, they are computed here and read from the page.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from flint import arb
from generated import write_field

import rankmath as rm
from rankmath.arithmetic.balls import precision
from rankmath.attention.experiments.models import initial_model
from rankmath.certificates.coq import text_mark, to_coq
from rankmath.certificates.issue import certify_claim
from rankmath.checker import checker, kernel
from rankmath.checker.checker import FORMATS, KINDS, check_text
from rankmath.checker.statements import ONE_LINE_DATA, sublayer_data
from rankmath.claims import statement, statements
from rankmath.claims.own_mask_rate import FORGETFUL
from rankmath.claims.own_positions import quarter_turn
from rankmath.cli import main
from rankmath.equilibria.certify import certify_design
from rankmath.equilibria.designs import causal_design, path_design, scale_factors
from rankmath.equilibria.trees import search_tree, tree_logits
from rankmath.linalg.metrics import attention_rollout
from rankmath.model.sublayers import Attention, Sublayer
from rankmath.report.cite import citation
from rankmath.report.shown import described
from rankmath.report.sources import bibliography, cited_by, field, machine_checked
from rankmath.verification.papers import FIELD
from rankmath.verification.verdict import Outcome

ROOT = Path(__file__).parents[2]


def page(name: str) -> str:
    """A page in one line, so that sentences may be looked for however they are broken."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def rate(C: np.ndarray, beta: float, key: str = "own:flow-step") -> tuple[float, float]:
    """The least speed of a pair with the least cosine, and the bound, as the statement has them."""
    verdict = rm.verify(key, C, beta)
    # closing >= bound is read from the right: the bound is the smaller side.
    return math.exp(verdict.log_rhs), math.exp(verdict.log_lhs)


def clusters(p: int, q: int, alpha: float) -> np.ndarray:
    same = np.repeat([0, 1], [p, q])
    return np.where(same[:, None] == same, 1.0, alpha)


def equal(n: int, alpha: float) -> np.ndarray:
    return np.where(np.eye(n, dtype=bool), 1.0, alpha)


# -- what was false, and why ---------------------------------------------------------------------------------


def shrinks() -> bool:
    return rate(equal(10, 0.0), 1.0)[0] < rate(equal(2, 0.0), 1.0)[0] / 2


def not_alone() -> bool:
    """n = 4, all cosines 0.2 but one 0.9: the bound without normalisation is attained all the same."""
    C = equal(4, 0.2)
    C[2, 3] = C[3, 2] = 0.9
    found, bound = rate(C, 1.0, "own:flow-step-usa")
    return abs(found / bound - 1) < 1e-12


def not_best() -> bool:
    """n = 3, α = ½, β = 4: over a grid of the two free cosines the rate stays 15 % above the bound."""
    grid = np.linspace(0.5, 1.0, 9)
    found = []
    for a in grid:
        for b in grid:
            C = np.asarray([[1.0, 0.5, a], [0.5, 1.0, b], [a, b, 1.0]])
            found.append(rate(C, 4.0))
    least, bound = min(found)
    return least > 1.15 * bound


def undone() -> bool:
    """X = (1, −1), W_QK = 1, W = −1/tanh 1, with a skip: one layer, and the tokens are one."""
    net = rm.Network.from_arrays([[[[1.0]]]], [[[[-1 / math.tanh(1)]]]], skip=1.0)
    X = np.asarray([[1.0], [-1.0]])
    inapplicable = rm.verify("own:skip-lower", net, X, arithmetic="balls").outcome == Outcome.NOT_APPLICABLE
    return bool(np.abs(np.diff(rm.forward(net, X), axis=0)) < 1e-15) and inapplicable


def swapped() -> bool:
    """Tokens ±1 in one dimension, W_QK = −1, W_V = 1: each attends mostly to the other, and they swap."""
    net = rm.Network.from_arrays([[[[-1.0]]]], [[[[1.0]]]], norm="sphere")
    return bool((rm.forward(net, np.asarray([[1.0], [-1.0]])) == [[-1.0], [1.0]]).all())


def gain(lengths: list[float]) -> tuple[float, float]:
    """What dividing by lengths gains beyond 1: exactly, and as it is printed."""
    x = np.asarray(lengths)
    return float((x**2).mean() / np.exp(2 * np.log(x).mean())) - 1, float(x.var() / x.mean() ** 2)


def more_than_twice() -> bool:
    exact, printed = gain([1.0, 100.0])
    return exact > 50 * printed


def repelled() -> bool:
    """W_QK = −3I on the circle, one token against eight opposite ones: it receives more than √9 of attention."""
    X = np.asarray([[1.0, 0.0]] + [[-1.0, 0.0]] * 8)
    logits = -3 * X @ X.T
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return bool(P.sum(axis=0).max() > 3)


def one_token() -> bool:
    """One token attends to itself with weight 1 whatever W is, also where it is 0 and so dependent."""
    return rm.verify("own:low-rank-every-input", [[0]]).outcome == Outcome.NOT_APPLICABLE


def not_tripled() -> bool:
    stored = json.loads((ROOT / "docs" / "minilm.json").read_text(encoding="utf-8"))
    return min(stored["order"]) < 0


def far_above() -> bool:
    stored = json.loads((ROOT / "docs" / "minilm.json").read_text(encoding="utf-8"))
    return max(b - x for b, x in zip(stored["bound"][1:], stored["centred"][1:], strict=True)) > 9


def first_form_is_refuted() -> bool:
    """4Hβr³ with γ = 1 is dong2021v1:2.3, which two heads and two tokens refute; dong2021:2.3 is another bound."""
    return statement("dong2021v1:2.3").status == "refuted" and "gamma" in str(statement("dong2021:2.3").expanded)


def gains_less_than_twice() -> bool:
    """One long token among 999: the gain is 1.2 times the printed one, not twice it."""
    exact, printed = gain([1.0] * 999 + [100.0])
    return printed < exact < 1.3 * printed


def collapses_at_once() -> bool:
    """Tokens 0 and 1 see each other, token 2 sees all: (1, −1, 0) is one point after one layer of equal logits."""
    seen = np.asarray([[1, 1, 0], [1, 1, 0], [1, 1, 1]])
    return not (seen / seen.sum(axis=1, keepdims=True) @ [1.0, -1.0, 0.0]).any()


def grows() -> bool:
    """Two causal tokens with W_V = 4: the distance doubles with every layer."""
    net = rm.Network.from_arrays([[[[0.0]]]], [[[[4.0]]]], mask="causal")
    return bool(np.ptp(rm.forward(net, np.asarray([[0.0], [1.0]]))) == 2)


def far_from_equality() -> bool:
    """Two causal tokens, W_QK = 0, that W_V = diag(1, 0) makes equal: the bound is not 0."""
    net = rm.Network.from_arrays(np.zeros((1, 1, 2, 2)), [[[[1.0, 0.0], [0.0, 0.0]]]], mask="causal")
    verdict = rm.verify("wu2024:1", net, [[0.0, 0.0], [0.0, 1.0]])
    return verdict.log_lhs == -math.inf and verdict.log_rhs > -2


def top_is_the_other() -> bool:
    """V = diag(½, 1), logits 4x₂y₂, first token at ξ = e₂: the second, of height h, has ḣ of one sign change only.

    It is from − to + as h grows from −1 to 1, so −ξ and ξ attract and nothing between: the conjecture holds, though
    β > ½ and λ/(λ − 1) = −1 < R.
    """
    h = np.linspace(-1, 1, 2001)[1:-1]
    signs = np.sign(1 + np.exp(4 * (h**2 - h)) * h / 2)
    return bool(signs[0] < 0 < signs[-1]) and np.count_nonzero(np.diff(signs)) == 1


def second_coordinate() -> float:
    """Of the sink for V = diag(2, 1), logits 4x₂y₂: 2 + e^{4(1 − u²)}·(−u) = 0 near u = 0.89, by bisection."""
    low, high = 0.85, 0.95
    for _ in range(60):
        u = (low + high) / 2
        low, high = (u, high) if math.exp(4 * (1 - u * u)) * u > 2 else (low, u)
    return math.sqrt(1 - low * low)


def rounded_not_cut() -> bool:
    return 0.4487 < second_coordinate() < 0.4488


def repelled_from_the_first() -> bool:
    """d = 3, V = diag(−1, −1, −2), equal logits: the second token is drawn to minus the L-part of the first."""
    V, x, y = np.diag([-1.0, -1.0, -2.0]), np.asarray([1.0, 0.0, 0.0]), np.asarray([0.6, 0.8, 0.0])
    speed = V @ (x + y) / 2
    return bool((speed - (speed @ y) * y) @ x < 0)


def leaves_the_space() -> bool:
    """V = diag(1, 1, 5), L the first two coordinates: the share of the third in the first token grows."""
    V, x = np.diag([1.0, 1.0, 5.0]), np.asarray([0.6, 0.0, 0.8])
    return bool((V @ x - (x @ V @ x) * x)[2] > 0.5)


def sharper_than_said() -> bool:
    """Theorem A with three tokens and logits x_i W_QK x_jᵀ/√3 in place of x_i W_QK x_jᵀ: X = I does not attract."""
    net = rm.Network.from_arrays(
        np.triu(np.ones((3, 3)), 1)[None, None],
        np.asarray([[[[1.0, 0, 0], [-1.0, 0.5, 0], [0, -0.5, 0.25]]]]),
        mask="causal",
        norm="sphere",
    )

    def radius(d_qk: float) -> float:
        """The spectral radius at X = I, by difference quotients."""
        step = 1e-6 * np.eye(9).reshape(9, 3, 3)
        scaled = net.replace(d_qk=d_qk)
        moved = [(rm.forward(scaled, np.eye(3) + e) - rm.forward(scaled, np.eye(3) - e)) / 2e-6 for e in step]
        return float(abs(np.linalg.eigvals(np.reshape(moved, (9, 9)))).max())

    return abs(radius(1.0) - 0.5) < 1e-6 and radius(3.0) > 1


def not_every_x() -> bool:
    """Equal logits: A X has rank one, and no W_V turns its equal rows into two different tokens."""
    A, X = np.full((2, 2), 0.5), np.eye(2)
    return bool(np.linalg.matrix_rank(A @ X) == 1)


def not_alike() -> bool:
    """Three logits, two of them the larger one: two are equal, and the largest weight is not that of the bound."""
    weights = np.exp([1.0, 1.0, 0.0]) / np.exp([1.0, 1.0, 0.0]).sum()
    return bool(weights.max() < 0.8 * math.e / (math.e + 2))


def below_the_half() -> bool:
    """A token in the middle of 99 others in orthogonal directions receives less than √100/2, at every distance."""
    x = np.linspace(0, 1, 10001)
    return bool((1 / (1 + 99 * x) + 99 * x / (1 + x + 98 * x**2)).max() < 5)


def unchanged() -> bool:
    """H = I keeps its effective rank: it does not grow where all singular values are equal."""
    s = 0.5
    return 1 + (1 - 2) * s >= 0 and bool(np.ptp(np.ones(2) * (1 + s - s)) == 0)


def first_theorem_is_true() -> bool:
    return statement("dong2021:2.1").status == "proved"


def queries_have_biases() -> bool:
    """The hypothesis is that of the output; the attention of these statements may have a query bias k."""
    return all("k_{l,h}" in citation(key).notation for key in ("wu2024:cor1", "own:hemisphere", "own:full-rank"))


def at_rest() -> bool:
    """Two opposite tokens rest, those with a cosine α, 0 ≤ α < 1, do not: cosines below 0 must be excluded."""
    opposite = np.asarray([[1.0, -1.0], [-1.0, 1.0]])
    excluded = rm.verify("own:flow-step-usa", opposite, 1.0).outcome
    return excluded == Outcome.NOT_APPLICABLE and rate(equal(2, 0.0), 1.0, "own:flow-step-usa")[0] > 0.9


def complex_ones() -> bool:
    """circulant(0.1, 0.8, 0.1) has eigenvalues that are not real: only their modulus can be at most a number."""
    return bool(np.iscomplex(np.linalg.eigvals([[0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.8, 0.1, 0.1]])).any())


def papers_are_named() -> bool:
    """Of these refuted statements we have the wording from others, and their rows name the paper."""
    keys = ("wang2022:1", "contranorm2023:2", "karagodin2024:two-clusters")
    words = ("not before us", "third-party text", "we have not seen")
    return all(
        statement(key).status == "refuted" and word in statement(key).source
        for key, word in zip(keys, words, strict=True)
    )


def one_more_kind() -> bool:
    return len(KINDS) == 4


def less_than_equal() -> bool:
    """One token x = 1, W = −1/2 with a skip: two layers move it by 3/4, and the bound is 5/4; in two dimensions a
    value that reads another coordinate moves nothing."""
    net = rm.Network.from_arrays([[[[0.0]]]] * 2, [[[[-0.5]]]] * 2, skip=1.0)
    one = rm.verify("alman2025:one-layer", net, [[1.0]], arithmetic="balls")
    idle = rm.Network.from_arrays([np.zeros((1, 2, 2))], [[[[0.0, 0.0], [0.0, 1.0]]]], skip=1.0)
    two = rm.verify("alman2025:one-layer", idle, [[1.0, 0.0]], arithmetic="balls")
    return bool(abs(one.ratio - 0.6) < 1e-12 and two.ratio == 0)


def forgets_at_once() -> bool:
    """An incomplete mask under which P² has equal rows, and padding, under which every P has."""
    P = np.asarray(FORGETFUL, dtype=float)
    twice = P @ P
    net = rm.Network.from_arrays([[[[0.0]]]], [[[[1.0]]]], mask=np.asarray([[1, 1, 0]] * 3, dtype=bool))
    alike = rm.forward(net, [[1.0], [2.0], [4.0]])
    return bool((abs(twice - twice[0]) < 1e-15).all() and (P == 0).any() and (alike == alike[0]).all())


def change_places() -> bool:
    """Without self-loops, W_V = 1 on the sphere: two acute tokens swap for ever."""
    net = rm.Network.from_arrays(
        [np.zeros((1, 2, 2))] * 7, [np.eye(2)[None]] * 7, mask=~np.eye(2, dtype=bool), norm="sphere"
    )
    X = np.asarray([[1.0, 0.0], [0.8, 0.6]])
    return bool(np.allclose(rm.forward(net, X), X[::-1], atol=1e-15))


def faster_where_they_meet() -> bool:
    """Three causal tokens, equal logits, W = 1: where X_1 = X_0 the third comes by 1/3 a layer, not 1/2."""
    net = rm.Network.from_arrays([[[[0.0]]]], [[[[1.0]]]], mask="causal")
    return abs(float(rm.forward(net, [[0.0], [0.0], [1.0]])[2, 0]) - 1 / 3) < 1e-15


def wider_by_the_number_of_tokens() -> bool:
    """The same tokens and β are in the cone for two tokens, and not for four: its width depends on n."""
    X = [[1.0, 0.0], [0.9999, math.sqrt(1 - 0.9999**2)]]
    width = 1 - X[1][0]
    return width < 1 / (100 * 2**2) and not width < 1 / (100 * 12**2)


def at_once() -> bool:
    """W_QK = 0: one layer makes all tokens equal, so no order is exactly three."""
    made = rm.forward(rm.Network.from_arrays([[[[0.0]]]], [[[[1.0]]]]), [[1.0], [2.0]])
    return bool(made[0, 0] == made[1, 0])


def below_two_powers() -> bool:
    return 2 * math.log(10) > 4.3


def symmetric_logits_forget() -> bool:
    """FORGETFUL, times 1, 3, 6 row by row, is symmetric on the edges that go both ways: the logits are symmetric,
    the mask is not, and two layers make all rows equal."""
    P = np.asarray(FORGETFUL, dtype=float)
    weights = np.asarray([[1.0], [3.0], [6.0]]) * P
    both = (P > 0) & (P.T > 0)
    twice = P @ P
    return bool(np.allclose(weights[both], weights.T[both]) and (abs(twice - twice[0]) < 1e-15).all())


def turned(weights: np.ndarray, depth: int) -> rm.Network:
    """One head, W = 1, queries x times the weights, the places 0, 1, 2 turned by as many radians; repeated."""
    angle = np.arange(3.0)[:, None]
    one = np.eye(2)[None]
    layer = Attention.from_qkvo(weights[None], one, one, one, rotary=rm.Rotary(np.cos(angle), np.sin(angle)))
    return rm.Network.from_layers([[Sublayer(layer)]] * depth)


NEARLY_EQUAL = np.asarray([[1.0, 0.0], [1.001, 0.0005], [0.9995, 0.002]])


def at_once_though_turned() -> bool:
    """Rotary positions and W_QK = 0: one layer makes all tokens equal."""
    made = rm.forward(turned(np.zeros((2, 2)), 1), NEARLY_EQUAL)
    return bool((abs(made - made[0]) < 1e-15).all())


def alternates() -> bool:
    """λ₂(P₀) is not real: the factors of single layers go up and down for ever, their geometric mean does not."""
    quarter = np.asarray([[0.0, 2.0], [-2.0, 0.0]])
    P = rm.attention_matrices(turned(quarter, 1), np.tile(NEARLY_EQUAL[:1], (3, 1)))[0, 0]
    factors = np.exp(np.diff(np.asarray(rm.trace(turned(quarter, 101), NEARLY_EQUAL).log_residual)))[-80:]
    mean = float(np.exp(np.log(factors).mean()))
    return bool(np.iscomplex(np.linalg.eigvals(P)).any() and factors.max() > 1.5 * factors.min()) and bool(
        abs(mean / np.sort(abs(np.linalg.eigvals(P)))[-2] - 1) < 0.05
    )


def drawn_to_the_bias() -> bool:
    """λ = 1, W = ½, W_QK = 0 on the sphere and a bias of 50: the distance falls to less than a fiftieth."""
    net = rm.Network.from_arrays(
        [np.zeros((1, 2, 2))], [np.eye(2)[None] / 2], skip=1.0, norm="sphere", bias=[[50.0, 0.0]]
    )
    X = np.asarray([[1.0, 0.0], [math.cos(1), math.sin(1)]])
    return bool(rm.diameter(rm.forward(net, X)) < rm.diameter(X) / 50)


def less_than_eta() -> bool:
    """One token, W = η/2 ≥ 0 in one layer: it moves by η/2, and the formula says η."""
    eta = 0.5
    net = rm.Network.from_arrays([[[[0.0]]]], [[[[eta / 2]]]], skip=1.0)
    return abs(float(rm.forward(net, [[1.0]])[0, 0]) - 1) < ((1 + eta) ** 1 - 1) * 0.9


def still_a_rate() -> bool:
    """Five tokens on a path with equal logits: nε = 5/3, r = 2, and 1 − nε^{2r} = 76/81."""
    mask = rm.Mask.window(5, 1)
    n, eps, r = 5, 1 / 3, mask.radius
    return n * eps > 1 and 0 < 1 - n * eps ** (2 * r) < 1


def backwards_it_falls() -> bool:
    """σ = (1, ½), s = −0.1: 1 + (1 − 2σ_max²)s = 1.1 ≥ 0, and the smaller singular value falls alone."""
    sigma, s = np.asarray([1.0, 0.5]), -0.1
    after = sigma * (1 + s - s * sigma**2)
    return 1 + (1 - 2) * s >= 0 and bool(after[0] == 1 and after[1] < 0.5)


def resolved() -> bool:
    return bool(re.search(r"\| 2 \| causal \| 1 \| .*? \| 10\^-4\.3 \|", page("docs/equilibria.md")))


def norms_exceed_one() -> bool:
    """(1, 1, 1, −1) about its mean: 3/2 in the largest entry, which is a norm."""
    x = np.asarray([1.0, 1.0, 1.0, -1.0])
    return bool(abs(x - x.mean()).max() > abs(x).max())


def took_longer() -> bool:
    return int(re.findall(r"1000000 instances in (\d+) s", page("CLAIMS.md"))[0]) > 60


def hull_has_another_best() -> bool:
    cells = re.search(r"\| convex hull, terms \|([^\n]*)", (ROOT / "docs/experiments.md").read_text(encoding="utf-8"))
    assert cells is not None
    by_length = [float(x) for x in cells[1].split("|")[2:-1]]
    return by_length[1] < max(by_length)


def definitions_are_shared() -> bool:
    """The library and the checker read one text of the definitions."""
    text = (ROOT / "rankmath/formula/text.py").read_text(encoding="utf-8")
    checker = (ROOT / "rankmath/checker/statements.py").read_text(encoding="utf-8")
    return all("from rankmath.definitions.entries import" in one for one in (text, checker))


def thousands_of_lines() -> bool:
    return sum(path.read_text(encoding="utf-8").count("\n") for path in (ROOT / "rankmath/checker").glob("*.py")) > 2000


def positions_break_order_three() -> bool:
    found = quarter_turn(height=2.0**-7)
    return rm.verify("unstated:diameter-rotary", found.net, found.X).ratio > 1000


def grows_faster_than_width() -> bool:
    """256 tokens, on the page's first machine: a head of width 256 takes over four times as long as one of 64."""
    text = page("docs/performance.md")
    times = {d: re.search(rf"\| 256 \| {d} \| (\d+) \| 1 \| ([\d.]+) \|", text) for d in (64, 256)}
    narrow, wide = (float(found[2]) / int(found[1]) for found in times.values() if found)
    return wide > 4 * narrow


def all_must_be_asked_for() -> bool:
    return any("--all" in option.opts for option in main.commands["appendix"].params)


def heads_that_cancel() -> bool:
    """Values 4 and −7/2, of sum ½, one head sees itself, the other all tokens: differences grow threefold."""
    itself = np.exp(4 * np.eye(3))
    layer = 4 * itself / itself.sum(axis=1, keepdims=True) - 3.5 / 3
    return abs(layer.sum(axis=1)[0] - 0.5) < 1e-12 and bool(abs(np.linalg.eigvals(layer)).max() > 3)


def more_than_half_of_x() -> bool:
    """x = 40, β = 80, u₀ = ½: e^x/u₀ over 2e^x/x + e^x/(βu₀) is x/(1 + u₀), a third more than x/2."""
    x, beta, u = 40.0, 80.0, 0.5
    return abs((1 / u) / (2 / x + 1 / (beta * u)) - x / (1 + u)) < 1e-12 and x / (1 + u) > 1.3 * x / 2


def close_tokens_meet() -> bool:
    """β = −5: three tokens on the circle that are close fall towards each other all the same."""
    angle = np.asarray([0.0, 0.1, 0.25])
    gap = angle[None] - angle[:, None]
    speed = (np.exp(-5 * np.cos(gap)) * np.sin(gap)).sum(axis=1)
    return bool(speed[0] > 0 > speed[2])


def tenfold() -> bool:
    """Every token sees itself alone, W = 10: total variation 1, and the diameter grows tenfold."""
    net = rm.Network.from_arrays([[[[0.0]]]], [[[[10.0]]]], mask=np.eye(2, dtype=bool))
    return bool(np.ptp(rm.forward(net, [[0.0], [1.0]])) == 10)


def moved_by_a_bias() -> bool:
    """W = 1 and a bias move the first token; with rotary positions its share at consensus changes with it."""

    def share(x: float) -> float:
        return 1 / (1 + math.exp(x * x * (math.cos(1) - 1)))

    return abs(share(1.0) - share(2.0)) > 0.1


def falls_faster() -> bool:
    """d = 2, the density 1 + cos θ/2: W₂ falls like e^{−t/2}, and (d − 1)/4 is 1/4."""
    angle = (np.arange(400_000) + 0.5) * np.pi / 200_000
    v, weight = (1 + np.cos(angle)) / 2, 1 + np.cos(angle) / 2
    far = [math.sqrt(np.mean(weight * 2 * (1 - v) / (1 + math.expm1(2 * tau) * v))) for tau in (6.0, 7.0)]
    return far[1] / far[0] < math.exp(-0.45)


def half_a_step() -> bool:
    return math.sin(0.01 / 2) < 0.51 * 0.01


def without_logits() -> bool:
    """W_QK = 0: both bounds of the derivative are ‖W‖₂‖P‖₂, so both tend to ‖W‖₂ as tokens come together."""
    net = rm.Network.from_arrays(np.zeros((1, 1, 2, 2)), np.eye(2)[None, None])
    X = [[1.0, 0.0], [1.0, 2.0**-20]]
    bounds = [rm.verify(key, net, X).log_rhs for key in ("own:attention-shares", "yudin2025:attention")]
    return abs(bounds[0]) < 1e-9 and bounds[0] == bounds[1]


def far_from_the_others() -> bool:
    x = 1e-9
    return 1 / (1 + 99 * x) + 99 * x / (1 + x + 98 * x**2) < 2


def edges_the_other_way() -> bool:
    """Token 2 sees 0 and 1, which see themselves alone: edges from who sees lead from 2 to all; 0 and 1 stay."""
    seen = np.asarray([[1, 0, 0], [0, 1, 0], [1, 1, 1]], dtype=bool)
    net = rm.Network.from_arrays([[[[0.0]]]], [[[[1.0]]]], mask=seen)
    made = rm.forward(net, [[0.0], [1.0], [5.0]])
    excluded = rm.verify("wu2024:1", net, [[0.0], [1.0], [5.0]]).outcome
    return bool(made[0, 0] == 0 and made[1, 0] == 1) and excluded == Outcome.NOT_APPLICABLE


def rounded_away() -> bool:
    """A ratio so near 1 that its powers, rounded to 24 bits, are all 1: nothing is claimed there."""
    near = 1 - 2.0**-40
    verdict = rm.verify("own:stable-complete-every-n", np.ones((2, 2), dtype=int), near)
    return bool((scale_factors(3, near) == 1).all()) and verdict.outcome == Outcome.UNDECIDED


def slower_with_2048_tokens() -> bool:
    text = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
    return "| `trace` of one layer, with all that it measures | H200 | 1 | 2048 |" in text


def stays_apart() -> bool:
    """Two tokens ±4, W_QK = W = 1: each attends to itself, nearly, and ten layers leave them apart."""
    made = rm.forward(rm.Network.from_arrays(np.ones((10, 1, 1, 1)), np.ones((10, 1, 1, 1))), [[4.0], [-4.0]])
    return bool(np.ptp(made) > 7.99)


def certified_with_gelu() -> bool:
    net = rm.Network.random(tokens=3, dim=2, layers=1, seed=0, mlp="gelu")
    claim = "diameter(X[1], 2) <= 100*diameter(X[0], 2)"
    return certify_claim("mine:gelu", claim, ["mlp == gelu", "H == 1"], net, net.random_input(seed=1)).check().accepted


def sink_of_uniform_attention() -> bool:
    """V = [[2, −2], [0, 1]], Q = K = 0: (−4/5, 3/5) rests beside e_0, and is drawn back when it is moved."""
    V, rest, across = np.asarray([[2.0, -2.0], [0.0, 1.0]]), np.asarray([-0.8, 0.6]), np.asarray([0.6, 0.8])
    speed = V @ (np.asarray([1.0, 0.0]) + rest) / 2
    return bool(abs(speed @ across) < 1e-15 and across @ V @ across / 2 < speed @ rest)


def rests_about_the_mean_zero() -> bool:
    """β = 0, the uniform density on the circle: its mean is 0, so no token moves, and W₂ does not fall."""
    angle = (np.arange(1000) + 0.5) * np.pi / 500
    return abs(np.exp(1j * angle).mean()) < 1e-12


def opposite_tokens_rest() -> bool:
    """Two tokens x and −x: every Σ_j a_j x_j is a multiple of x, so its part off x is 0."""
    x = np.asarray([0.6, 0.8])
    drawn = 0.25 * x - 0.75 * x
    return bool(abs(drawn - (drawn @ x) * x).max() < 1e-15)


def gains_fifty() -> bool:
    """Lengths 1 and 100: the mean square over the squared geometric mean is 50.005, not 49.0."""
    return abs((1 + 100**2) / 2 / 100 - 50.005) < 1e-12


def skip_is_seen() -> bool:
    """One token with a skip, W = 1: its derivative in itself is 2, and with Δ = 0 the sum without it is 1."""
    net = rm.Network.from_arrays(np.ones((1, 1, 1, 1)), np.ones((1, 1, 1, 1)), mask="causal", skip=1.0)
    step = np.full((1, 1), 0.5)
    return bool((rm.forward(net, 1 + step) - rm.forward(net, 1 - step))[0, 0] == 2)


def norms_keep_apart() -> bool:
    """Tokens ±10⁻⁹ in one dimension: divided by their root mean squares the queries are ±1."""
    x = np.asarray([1e-9, -1e-9])
    return bool(np.ptp(x / np.sqrt(x**2)) == 2)


def one_direction_after_a_layer() -> bool:
    """|λ| = 1, uniform attention, W large: both tokens have one direction after a layer, so no factor is kept."""
    X = np.asarray([[1.0, 0.0], [0.0, 1.0]])
    mean, drawn = X.mean(axis=0), (X[0] - X[1]) * 0.5 - X[1]
    Y = X + X.mean(axis=0) @ (np.outer(mean, drawn) / (mean @ mean))
    return bool(np.ptp(Y / np.linalg.norm(Y, axis=1, keepdims=True), axis=0).max() < 1e-12)


def more_than_half_as_printed() -> bool:
    """Two heads, W one column and one row of nine ones, ‖W_QK‖₁ = 1: 2B = 20, and half of 4βH is 12."""
    W = np.zeros((2, 9, 9))
    W[0, :, 0] = W[1, 0] = 1
    columns, rows = abs(W).sum(axis=1).max(axis=1), abs(W).sum(axis=2).max(axis=1)
    return bool(2 * math.sqrt(columns.sum() * rows.sum()) > 2 * 2 * math.sqrt((columns * rows).max()))


def rank_one_stays() -> bool:
    """One singular value: the effective rank is 1 before the step and after it."""
    sigma, s = np.asarray([0.5]), 0.5
    after = sigma * (1 + s - s * sigma**2)
    return bool((sigma / sigma.sum() == after / after.sum()).all())


def mask_slows_the_start() -> bool:
    """Causal tokens −0.1 and 0, d = m = σ = 1, t = 3: Δ' is |w|Δ/2, w normal, above the bound too often."""
    t, far = 3.0, 0.1
    bound = (1 + t) * math.tanh(t * (1 + t) * far**2 / 4)
    return math.erfc(2 * bound / math.sqrt(2)) > 2**4 * math.exp(-(t**2) / 2) / 4


def no_constant_is_needed() -> bool:
    """Windows of w = 2, 3 on 7 tokens: the largest share that token j can have is within the rate with C = 1."""
    within = True
    for w, j, part in itertools.product((2, 3), range(1, 7), (1.0, 0.9, 0.5, 0.1)):
        eps, reach, most = part / w, -(-6 // (w - 1)), np.eye(7)[j]
        for layers in range(1, 3 * reach):
            seen = [most[max(0, i - w + 1) : i + 1] for i in range(7)]
            most = np.asarray([eps * v.sum() + (1 - len(v) * eps) * v.max() for v in seen])
            within &= bool(most.max() <= (1 - j * eps**reach) ** ((layers - 1) / (2 * reach)))
    return within


def moved_by_less_than_a_quarter() -> bool:
    """Tokens 1 and 2, M = V = G = 1: token 0 has shares 1 − p and p = e/(1 + e), and moves by p(1 − p) < 1/4."""
    verdict = rm.verify("own:zero-grad", [[1.0], [2.0]], [[1.0]], [[1.0]], [[1.0]])
    p = math.e / (1 + math.e)
    return verdict.outcome == Outcome.HOLDS and p * (1 - p) < 0.2


def leaves_its_place() -> bool:
    """wu2024:3 with 16 tokens: its first token e_d, moved a little to one side, tends to −e_d."""
    one = rm.all_ranks(16, 16, w=17)[-1]
    assert one.X[0].tolist() == [0.0] * 15 + [1.0]
    x = one.X[0] - 1e-6 * np.eye(16)[0]
    for _ in range(2000):
        x = x @ one.W_V
        x /= np.linalg.norm(x)
    return bool(x[-1] < -0.999)


def gained_with_a_skip() -> bool:
    """One token (1, 1)/√2 rests under a skip and W = 1; with the gain (1, 2) its image does not."""
    net = rm.Network.from_arrays([np.zeros((1, 2, 2))], [np.diag([1.0, 0.5])[None]], skip=1.0)
    X = np.asarray([[1.0, 2.0]])  # √d Z diag(g)
    Y = rm.forward(net, X)
    return bool(np.abs(np.sqrt(2) * Y / np.linalg.norm(Y) * [1, 2] - X).max() > 0.1)


def complete_forgets() -> bool:
    """The complete mask is undirected, and equal logits are symmetric: the second modulus is 0."""
    return bool(np.sort(np.abs(np.linalg.eigvals(np.full((3, 3), 1 / 3))))[1] < 1e-15)


def cancelled() -> bool:
    """Tokens e_i and W_QK = −B: the logits take the additive positions B away, and the rows agree."""
    B = np.random.default_rng(0).standard_normal((3, 3))
    return bool((np.eye(3) @ -B @ np.eye(3) + B == 0).all())


def in_the_plane() -> bool:
    """Three tokens on the circle, β = 0, α = 0.2: the rate stays a quarter above the bound."""
    theta = math.acos(0.2)
    found = []
    for s in np.linspace(0, theta, 41):
        angle = np.asarray([0.0, theta, s])
        found.append(rate(np.cos(angle[:, None] - angle), 0.0))
    least, bound = min(found)
    return least > 1.25 * bound


def causal_rows_differ() -> bool:
    """W_QK = 0 under the causal mask: two tokens, and the second modulus is ½."""
    return bool(np.linalg.eigvals(np.asarray([[1.0, 0.0], [0.5, 0.5]])).min() == 0.5)


def proved_there() -> bool:
    return "'PROVED'" in page("docs/notebooks/is-my-conjecture-true.ipynb")


def never_meet() -> bool:
    """RMSNorm, a skip, W = 1 and the causal mask: of tokens ±1 the second one rests, opposite the first."""
    x, y = 1.0, -1.0
    for _ in range(100):
        x, y = x + np.sign(x), y + (np.sign(x) + np.sign(y)) / 2
    return x == 101 and y == -1


def matrices_are_left_out() -> bool:
    return "`own:spectrum`" not in page("docs/architectures.md") and statement("own:spectrum").status == "proved"


def some_are_not_run() -> bool:
    return "<!-- Not run by the tests" in page("docs/models.md")


def unequal_shares() -> bool:
    """Shares ½, 3/10, 1/5 and one that tends to 0: the norm stays below 0.39, the bound is 0.4."""
    p = np.asarray([0.5, 0.3, 0.2, 1e-12])
    return bool(np.linalg.norm(np.diag(p) - np.outer(p, p), 2) < 0.39)


def three_tokens() -> bool:
    """Tokens 0, ½, 1, the last one with √2 − 1 of its attention, the others alike: less than the bound."""
    p = math.sqrt(2) - 1
    once, twice = p + (1 - p) / 4, (2 * p + (1 - p) / 4) / (1 + p)
    return 0 < twice - once < 0.8 * (3 - 2 * math.sqrt(2))


def two_thirds_are_left() -> bool:
    """Tokens 0, 1, 1 under the causal mask, W_QK = 0, W = 1: one layer leaves 2/3, the largest share is ½."""
    net = rm.Network.from_arrays(np.zeros((1, 1, 1, 1)), np.ones((1, 1, 1, 1)), mask="causal")
    return bool(np.ptp(rm.forward(net, [[0.0], [1.0], [1.0]])) > 0.66)


def turned_key_bias() -> bool:
    """Tokens (±r, 0), all weights 1, the second place turned by 90°, b_K = (1, ½): more is left than c r² allows."""
    r, turn = 1e-3, np.asarray([[0.0, 1.0], [-1.0, 0.0]])
    X = np.asarray([[r, 0.0], [-r, 0.0]])
    places = (np.eye(2), turn)
    S = np.asarray([[(X[i] @ places[i]) @ ((X[j] + [1, 0.5]) @ places[j]) for j in (0, 1)] for i in (0, 1)])
    P = np.exp(S / math.sqrt(2))
    Y = (P / P.sum(axis=1, keepdims=True)) @ X
    return bool(rm.diameter(Y) > 100 * r**2 / math.sqrt(2) * rm.diameter(X)) and "b_K = 0" in str(
        citation("own:shrinking-values")
    )


def not_at_once() -> bool:
    """No positions, no mask: total variation at consensus is 0, and the layer of two tokens leaves tanh ¼."""
    made = rm.forward(rm.Network.from_arrays([[[[1.0]]]], [[[[1.0]]]]), [[0.5], [-0.5]])
    return abs(float(np.ptp(made)) - math.tanh(0.25)) < 1e-15


def keeps_angles() -> bool:
    """The gain (1, −1) is not constant, and orthogonal."""
    gain = np.diag([1.0, -1.0])
    return bool((gain @ gain.T == np.eye(2)).all())


def without_certificate() -> bool:
    names = [path.name.split("_rm-")[0] for path in (ROOT / "proofs/certificates").glob("*.json")]
    return statement("alcalde2025:4.2").status == "refuted" and "alcalde2025-4.2" not in names


def smaller_by_more() -> bool:
    """The first of three tokens: logits s, s − L, s − L − 2."""
    row = np.asarray(path_design(3).W_QK)[0]
    return bool(row[1] - row[2] == 2)


def nothing_falls() -> bool:
    """Self-loops alone: P = I, and the residual stays."""
    return bool((np.linalg.eigvals(np.eye(2)) == 1).all())


def skew_biases() -> bool:
    """W_Q = W_K = 0, b_Q = (1, 0), b_K = (0, 1), turned by the place: the logits are not symmetric."""
    turned = [np.asarray([[math.cos(i), math.sin(i)], [-math.sin(i), math.cos(i)]]) for i in range(2)]
    S = [[np.asarray([1.0, 0.0]) @ turned[i] @ turned[j].T @ [0.0, 1.0] for j in range(2)] for i in range(2)]
    return bool(abs(S[0][1] + S[1][0]) < 1e-15 < abs(S[0][1]))


def shrinks_the_rest() -> bool:
    """Two tokens of length 2: dividing by the length halves their spread."""
    return bool(np.ptp(np.asarray([2.0, -2.0]) / 2) < np.ptp([2.0, -2.0]))


def third_meets_the_first() -> bool:
    """Three causal tokens 0, 1, −1, equal logits: the third is at the first after one layer, the second is not."""
    net = rm.Network.from_arrays([[[[0.0]]]], [[[[1.0]]]], mask="causal")
    made = rm.forward(net, [[0.0], [1.0], [-1.0]])[:, 0]
    return bool(made[2] == made[0] != made[1])


def faster_than_the_square() -> bool:
    """Two tokens at a small angle, Q = K = 100 I, β = 1: within the cone, and nearly at rest."""
    X = np.asarray([[1.0, 0.0], [math.cos(0.05), math.sin(0.05)]])
    assert 1 - X[0] @ X[1] < 1 / (100 * 2**2)
    V, B = np.eye(2), 1e4 * np.eye(2)
    speed = rm.Flow(V, np.eye(2), B).field(X)
    fall = -2 * ((X - X.mean(axis=0)) * speed).sum() / 2
    return bool(0 <= fall < 1e-3 * ((X - X.mean(axis=0)) ** 2).sum() / 2)


def collapses_with_positions() -> bool:
    """Rotary positions, W = I, each token divided by its length: from a hemisphere tokens meet."""
    angle = np.arange(3.0)[:, None]
    one = np.eye(2)[None]
    layer = Attention.from_qkvo(one, one, one, one, rotary=rm.Rotary(np.cos(angle), np.sin(angle)))
    net = rm.Network.from_layers([[Sublayer(layer, after=rm.LayerNorm("sphere"))]] * 60)
    at = np.asarray([-1.0, 0.3, 1.2])
    return bool(rm.diameter(rm.forward(net, np.stack([np.cos(at), np.sin(at)], axis=1))) < 1e-6)


def has_zeros() -> bool:
    """Three tokens on a path: e to the logits on the edges, and 0 elsewhere, are not all positive."""
    with pytest.raises(rm.InvalidArgument, match="K: 0 given; > 0 is needed"):
        rm.verify("own:spectrum-symmetric", [[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    return True


def loses_digits() -> bool:
    """Three heads whose values cancel but for rounding: the trace says that digits are lost."""
    W = np.asarray([0.1, 0.2, -0.3])[None, :, None, None] * np.eye(2)
    net = rm.Network.from_arrays(0 * W, W, mask="causal")
    return bool(rm.trace(net, [[1.0, 0.0], [-1.0, 0.5], [0.0, 1.0]]).lost_bits.max() > 26)


def smaller_still() -> bool:
    return bool(rm.layernorm_equilibrium(2, 2, 2, mask="complete", stable=True, radius=1 / 32).certify().proved)


def below_the_equator() -> bool:
    """Two tokens alone, below the equator on either side of −w: they fall, and nobody else is there to pull."""
    X, w = np.asarray([[0.8, -0.6], [-0.8, -0.6]]), np.asarray([0.0, 1.0])
    found = rm.verify("geshkovski2024:escape", X, w, 1.0, 2)
    return (
        found.outcome == Outcome.NOT_APPLICABLE and float(rm.Flow(np.eye(2), np.eye(2), np.eye(2)).field(X)[0] @ w) < 0
    )


def grows_no_more() -> bool:
    """aR² = 1: own:lipschitz on the ball, with c ≤ ne²/(e² + n − 1), stays below 5 for a million tokens."""
    n = 1e6
    c = n * math.exp(2) / (math.exp(2) + n - 1)
    return math.sqrt(2 * c) + 1 < 5 < math.sqrt(n) / 100


def slower_on_a_star() -> bool:
    """A star of three tokens, ε = 1/5: three centers, that all are seen in two steps, against one seen in one."""
    eps, n = 0.2, 3
    return (1 - n * eps**4) ** (1 / 4) > (1 - eps**2) ** (1 / 2)


def slow_where_close() -> bool:
    """Two tokens of cosine 1 − 10⁻⁶ close up more slowly than two orthogonal ones: both pairs are alike."""
    return rate(equal(2, 1 - 1e-6), 1.0, "own:flow-step-usa")[0] < rate(equal(2, 0.0), 1.0, "own:flow-step-usa")[0] / 10


def farther_after_two_layers() -> bool:
    """Two causal tokens, equal logits, W = 1, a skip of 10, two layers: the repeated token is farther away."""
    net = rm.Network.from_arrays([[[[0.0]]]] * 2, [[[[1.0]]], [[[1.0]]]], skip=10.0, mask="causal")
    made = rm.forward(net, [[0.0], [1.0], [1.0]])[:, 0]
    return bool(abs(made[2] - made[1]) > 3 - 2 * math.sqrt(2))


def doubled_by_the_skip() -> bool:
    """Attention adds nothing, the skip is 2: a layer doubles the diameter, however long the tokens."""
    zero = Attention.from_qkvo(*[np.zeros((1, 1, 1))] * 4)
    net = rm.Network.from_layers([[Sublayer(zero, 2.0, before=rm.LayerNorm("rms"))]])
    return all(bool(np.ptp(rm.forward(net, [[size], [size + 1.0]])) == 2) for size in (1.0, 2.0**20))


def defined_in_coq() -> bool:
    return {"eigenvalue_of", "rank_of"} <= set(re.findall(r"^Definition (\w+)", _coq("Language.v"), flags=re.M))


def papers_have_their_own_years() -> bool:
    """`--sources` writes the entry of the paper too, and its year is the paper's."""
    found = cited_by(statement("dong2021:2.2").source)
    return any(field(bibliography()[key], "year") == "2021" for key in found)


def written_by_neither() -> bool:
    """A network with an MLP and a residual about a centre: there is no Coq file of it."""
    return bool(re.search(r"`dong2021-3\.2_rm-\w+\.json` \| +\| layers: a map", page("docs/coq-certificates.md")))


def gain_of_minus_one() -> bool:
    """RMSNorm with the gain −1 in two dimensions: the length is √2, not −√2."""
    x = np.asarray([3.0, 4.0])
    return bool(abs(np.linalg.norm(-x / np.sqrt((x**2).mean())) - math.sqrt(2)) < 1e-12)


def another_root() -> bool:
    """eˣ = 1 + 2x at x = 0, too."""
    return math.exp(0) == 1 + 2 * 0


def obtuse_step() -> bool:
    """Two tokens of cosine −0.99 and shares .9 and .1: 1 − φ keeps more than the share 1 − nε² = .98."""
    X = np.asarray([[1.0, 0.0], [-0.99, math.sqrt(1 - 0.99**2)]])
    Y = np.asarray([[0.9, 0.1], [0.1, 0.9]]) @ X
    Y /= np.linalg.norm(Y, axis=1, keepdims=True)
    return float(1 - Y[0] @ Y[1]) > 0.99 * (1 + 0.99)


def window_with_positions() -> bool:
    """Logits 1 outward, −1 inward and 0 on the token itself in a window ±1: the rate is exponentially near 1."""

    def gap(n: int) -> float:
        P = np.zeros((n, n))
        for i in range(n):
            keys = [j for j in (i - 1, i, i + 1) if 0 <= j < n]
            outward = [(j - i) * (1 if 2 * i >= n else -1) for j in keys]
            P[i, keys] = np.exp(outward) / np.exp(outward).sum()
        return float(1 - np.sort(np.abs(np.linalg.eigvals(P)))[-2])

    return gap(10) < 1e-3 and gap(20) < 1e-3 * gap(10)


def halved_each_layer() -> bool:
    """Tokens ±a, W = −1, W_QK = 4 artanh(½)/Δ²: θ is ½ in every layer, and the diameter halves."""
    X, sizes = np.asarray([[1.0], [-1.0]]), []
    for _ in range(6):
        logits = X @ X.T * 4 * math.atanh(0.5) / float(np.ptp(X)) ** 2
        P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        X = X - P @ X
        sizes.append(float(np.ptp(X)))
    return sizes == pytest.approx([2.0 * 0.5 ** (l + 1) for l in range(6)], rel=1e-9)


def refuses_balls() -> bool:
    """The rollout is for doubles."""
    with pytest.raises(rm.InvalidArgument, match="a real numeric array is needed"):
        attention_rollout(np.asarray([[[[arb(1)]]]]))
    return True


def twelve_digits_after_four_layers() -> bool:
    net = rm.Network.random(tokens=16, dim=8, layers=6, seed=0)
    apart = [np.ptp(Y, axis=0).max() / np.abs(Y).max() for Y in rm.hidden_states(net, net.random_input(seed=1))]
    return bool(apart[4] > 1e-13 and apart[5] < 2e-15)


def place_is_not_the_angle() -> bool:
    """Causal, equal tokens, angles 0, 0 and 90° in place of angles proportional to the place: the share of token 1."""
    turns = [np.eye(2), np.eye(2), np.asarray([[0.0, 1.0], [-1.0, 0.0]])]
    x = np.asarray([2.0, 0.0])
    S = np.asarray([[(x @ turns[i]) @ (x @ turns[j]) for j in range(3)] for i in range(3)])
    P = np.tril(np.exp(S))
    P /= P.sum(axis=1, keepdims=True)
    return bool(P[2, 2] > 1.5 * P[1, 1])


def no_paths_through_norms_and_maps() -> bool:
    """Paths are sums of products: a norm before the map, or an MLP, is refused."""
    for part in ({"norm": "rms", "norm_at": "before"}, {"mlp": "swiglu"}):
        net = rm.Network.random(tokens=3, dim=2, layers=1, seed=0, **part)  # type: ignore[arg-type]
        with pytest.raises(rm.InvalidArgument, match="the path decomposition needs neither"):
            rm.path_sums(net, net.random_input(seed=1))
    return True


def no_unit_length() -> bool:
    """RMSNorm as it comes has ε = 10⁻⁵: a short token has not the length √d."""
    norm = rm.LayerNorm("rms")
    x = np.asarray([1e-3, 0.0])
    return norm.floor == 1e-5 and bool(np.linalg.norm(x / np.sqrt((x @ x) / 2 + norm.floor)) < 0.5)


def wide_at_the_threshold() -> bool:
    """a² + (n − 1)b² − ¼ with ρ = 1/n, times d − 1: for d = 10⁶ and n = 1000 it is 500, and γ log²n/16 is 1.5."""
    n, d = 1000, 10**6
    a, b = n / (2 * n - 1), 1 / (2 * n - 1)
    return (a * a + (n - 1) * b * b - 0.25) * (d - 1) > 100 * 0.5 * math.log(n) ** 2 / 16


def prefix_of_all() -> bool:
    """No token is masked, shares ½: token 1 keeps ½ for ever, and (1 − ½)^(t + 1) goes to 0."""
    P = np.full((2, 2), 0.5)
    return float(np.linalg.matrix_power(P, 10)[0, 1]) > 0.5**10


def sharpens_as_it_meets() -> bool:
    """Causal tokens 1 and 1 − δ, W = 1, W_QK = 1000·3^l: the distance falls by a third a layer, not by a half."""
    far, logits = 1e-3, []
    for l in range(60):
        logits.append(-1000.0 * 3**l * far * (1 - far))  # of the second token: to itself, less that to the first
        share = 1 / (1 + math.exp(-logits[-1]))
        far *= share
    return abs(share - 1 / 3) < 1e-12 and max(map(abs, logits)) < 1


def order_one_at_every_layer() -> bool:
    """Tokens ±a, W = 1 and W_QK = 1/Δ² in every layer, its Δ: √κ Δ = ½, and Δ′ = tanh(¼)Δ."""
    x, factors = np.asarray([[1.0], [-1.0]]), []
    for _ in range(5):
        far = float(np.ptp(x))
        x = rm.forward(rm.Network.from_arrays([[[[1 / far**2]]]], [[[[1.0]]]]), x)
        factors.append(float(np.ptp(x)) / far)
    return bool(np.allclose(factors, math.tanh(0.25), rtol=1e-12))


def stays_as_logits_grow() -> bool:
    """Two tokens on the circle, W_V = 1, W_QK = 100·4^l: each attends to itself, and they stay apart."""
    W_QK = [100 * 4.0**l * np.eye(2)[None] for l in range(30)]
    net = rm.Network.from_arrays(W_QK, [np.eye(2)[None]] * 30, norm="sphere")
    return bool(np.linalg.norm(np.diff(rm.forward(net, [[1.0, 0.0], [0.8, 0.6]]), axis=0)) > 0.63)


def tree_sizes(mask: rm.Mask) -> float:
    """The largest logit of own:stable-connected with a gap of 48 and the ratio ¼."""
    order, parents = search_tree(mask)
    with precision(48 * 48):
        M = tree_logits(mask.allowed[np.ix_(order, order)], parents, [arb(0.25) ** k for k in range(mask.n)], 48)
        return max(abs(float(x.mid())) for x in M.entries())


def branches_and_not_depth() -> bool:
    """A star is a tree of depth one: its W_QK has an entry of 10⁴¹, that of a path of four tokens 122."""
    star, path = tree_sizes(rm.Mask.star(4)), tree_sizes(rm.Mask.window(4, 1))
    said = re.search(r"for four tokens, the largest is (\d+) on a path, and 10⁴¹ on a star", page("docs/equilibria.md"))
    return said is not None and int(said[1]) == path and round(math.log10(star)) == 41


def rests_on_a_line() -> bool:
    """One dimension: the derivative on the tangent spaces, which are points, has spectral radius 0."""
    return [one.spectral_radius for one in rm.isolated_ranks(4, 1)] == [0.0]


def moved_by_less() -> bool:
    """How far rotations move the logits of four tokens, at rank 2, 3 and 4: rounding turns their basis."""
    found = []
    for rank in (2, 3, 4):
        block, X = rm.rotary_equilibrium(4, rank, "complete")
        W, turns = block.W_QK[0], block.turns(rank)
        queries, keys = (np.einsum("ia,iab->ib", one, turns) for one in (X @ W, X))
        found.append(float(np.abs(queries @ keys.T - X @ W @ X.T).max()))
    return min(found) > 0.1 and "where rotations still move logits." in page("docs/equilibria.md")


def no_way_back() -> bool:
    """Three tokens, correlations from 0.6 to 0.3: what carries either kernel has negative entries."""
    apart = np.abs(np.subtract.outer(np.arange(3), np.arange(3)))
    kernels = (lambda r: np.where(apart == 0, 1.0, r), lambda r: r**apart)
    factors = [[np.linalg.cholesky(kernel(r)) for r in (0.3, 0.6)] for kernel in kernels]
    return all((low @ np.linalg.inv(high)).min() < -0.1 for low, high in factors)


def far_below_eta() -> bool:
    """One token x = 1 in one dimension, W = −100: its entry is at most η = 1, and x moves by 100 > (1 + η) − 1."""
    net = rm.Network.from_arrays([[[[0.0]]]], [[[[-100.0]]]], skip=1.0)
    return bool(rm.forward(net, np.asarray([[1.0]])) == -99.0)


def line_through_the_middle() -> bool:
    """(1, 0, 0), (2, 0, 0) and (3, 0, 0): LayerNorm makes them one token."""
    Y = np.outer([1.0, 2.0, 3.0], [2.0, -1.0, -1.0])
    Z = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    return bool(np.abs(Z - Z[0]).max() < 1e-15)


def key_bias_is_seen() -> bool:
    """Tokens 0 and 1, W_Q = W_K = 1, b_K = 1 and b_Q = 0: the logits x_i(x_j + 1) are not symmetric."""
    x = np.asarray([0.0, 1.0])
    logits = np.outer(x, x + 1)
    return bool(logits[0, 1] != logits[1, 0])


def less_steep() -> bool:
    """Three equal logits: the slope of an entry in its own logit is 2/9."""
    p = np.full(3, 1 / 3)
    return bool(np.abs(p * (1 - p) - 2 / 9).max() < 1e-15)


def pair_turned_away() -> bool:
    """V = diag(2, 1), QᵀK = I, β = −1: e² > 2, and the pair (e_0, −e_0) is a saddle; at β = 1 it is a sink."""
    V, pair = [[2, 0], [0, 1]], [[1, 0], [-1, 0]]
    kinds = [rm.Flow(V, beta=beta, mask="causal").certify(pair).kind for beta in (-1, 1)]
    return kinds == ["saddle", "sink"] and math.exp(2) > 2


def kept_by_its_skip() -> bool:
    """Two causal tokens, equal logits, W = I, skip 1: a layer multiplies the residual by 3/2, and λ₂ is 1/2."""
    net = rm.Network.from_arrays([[[[0.0]]]], [[[[1.0]]]], mask="causal", skip=True)
    states = rm.hidden_states(net, [[0.0], [1.0]])
    return bool(abs(np.ptp(states[1]) / np.ptp(states[0]) - 1.5) < 1e-15)


def tilted_by_its_key_bias() -> bool:
    """Two causal tokens, W_QK = 0, W = I and a key bias: logits differ, and `wu2024:1` is no equality."""
    net = rm.Network.from_arrays([[[[0.0]]]] * 2, [[[[1.0]]]] * 2, mask="causal", key_bias=[[[1.0]]] * 2)
    found = rm.verify("wu2024:1", net, [[0.0], [1.0]], arithmetic="balls")
    return bool(found.certified and found.log_rhs - found.log_lhs > 0.05)


def rests_as_one() -> bool:
    """Two equal tokens, β = 1: κ = 0 and ρ = 1, and their distance stays 0."""
    X = np.array([[1.0, 0.0], [1.0, 0.0]])
    held = rm.verify("own:cluster", X, 1.0, 2, arithmetic="balls").certified
    return bool(held and not rm.Flow(np.eye(2)).field(X).any())


def steeper_by_its_weights() -> bool:
    """The complete mask: 1 − mean cosine with BERT's weights, and with the orthogonal ones of the tables above."""
    X, found = np.random.default_rng(1).standard_normal((32, 64)), {}
    for init in ("bert", "orthogonal"):
        model = initial_model(dim=64, heads=2, layers=128, seed=0, init=init)
        found[init] = rm.measure(model.variant("san+norm").network, X, ["cosine-gap"]).logs["cosine-gap"][128]
    return bool(found["bert"] < 5 * found["orthogonal"] < -1e60)


def refuted_by_one_token() -> bool:
    """Of one token at 0 it is false that its norm is positive, and the certificate is accepted."""
    net = rm.Network.from_arrays([[[[0.0]]]], [[[[1.0]]]])
    return certify_claim("mine:x", "norm(X[0], 2) > 0", ["n == 1"], net, [[0.0]], "violates").check().accepted


def meets_with_no_values() -> bool:
    """W = 0: some network has mu(X[1]) <= 0, and no certificate of it is issued."""
    net = rm.Network.from_arrays([[[[0.0]]]], [[[[0.0]]]])
    with pytest.raises(rm.NotIssued, match="every W is 0"):
        certify_claim("mine:x", "mu(X[1]) <= 0", ["H == 1"], net, [[0.0], [1.0]], "holds")
    return bool(np.ptp(rm.forward(net, [[0.0], [1.0]])) == 0)


def names_formats_alone() -> bool:
    """A file of the first format is refused with the formats that are read, and no version."""
    text = rm.certify("own:tv", [0.0, 1.0], [0.5, -0.5]).text()
    refused = check_text(re.sub(r"rankmath-certificate/\d", "rankmath-certificate/1", text))
    return not refused.accepted and all(name in refused.reason for name in FORMATS) and "version" not in refused.reason


def paths_without_norms() -> bool:
    for parts in ({"norm": "rms", "norm_at": "before"}, {"mlp": "swiglu"}):
        net = rm.Network.random(tokens=3, dim=2, layers=2, seed=0, **parts)
        with pytest.raises(rm.InvalidArgument, match="the path decomposition needs neither"):
            rm.path_sums(net, net.random_input(seed=1))
    return True


def swap_for_ever_though_turned() -> bool:
    """Rotary positions, two tokens that see only each other, W = 1: λ₂(P₀) = −1, and they never meet."""
    angle = np.arange(2.0)[:, None]
    one = np.eye(2)[None]
    layer = Attention.from_qkvo(
        one, one, one, one, rotary=rm.Rotary(np.cos(angle), np.sin(angle)), mask=rm.Mask(~np.eye(2, dtype=bool))
    )
    made = rm.forward(rm.Network.from_layers([[Sublayer(layer)]] * 100), NEARLY_EQUAL[:2])
    return bool((made == NEARLY_EQUAL[:2]).all())


def bounded_weights_are_needed() -> bool:
    """W_QK = 1/Δ² grows with the layers: each of them leaves tanh ¼ of the distance, and no order three."""
    return order_one_at_every_layer()


def loses_its_mean() -> bool:
    """LayerNorm "standard" takes the mean away: (3, 1) becomes (1, −1), and no multiple of that is (3, 1)."""
    y = np.asarray([3.0, 1.0])
    x = (y - y.mean()) / y.std()
    return bool(x[0] * y[1] != x[1] * y[0])


def held_by_its_mask() -> bool:
    return rm.Mask.window(8, 2).allowed.shape == (8, 8)


def biased_queries() -> bool:
    """One token apart, W_QK = 0 and the key bias 1: the logits are the tokens, and c = R W_QKᵀx says 0."""
    net = rm.Network.from_arrays([[[[0.0]]]], [[[[1.0]]]], key_bias=[[[1.0]]])
    return bool(rm.attention_matrices(net, np.asarray([[0.0], [1.0]]))[0, 0, 0, 1] > 0.7)


def proved_by_a_derivation() -> bool:
    claim = rm.Statement("mine:never", "mu(X[1]) <= sqrt(n)*norm(W[0,0], 2)*mu(X[0])", given="heads == 1")
    return rm.verify_statement(claim, instances=20).outcome == "PROVED"


def logits_grow_with_the_gain() -> bool:
    """Gain 1 in the plane, λ = 2, W = 1, W_QK = −100: tokens of length √2 have the logits of 2W_QK at length 1."""
    X = math.sqrt(2) * np.asarray([[math.cos(0.05), math.sin(0.05)], [math.cos(0.05), -math.sin(0.05)]])
    P = np.exp(-100 * X @ X.T)
    Y = 2 * X + P / P.sum(axis=1, keepdims=True) @ X
    far, near = (float(np.linalg.norm(np.diff(Z, axis=0) / np.linalg.norm(Z[0]))) for Z in (X, Y))
    least = [far * (2 - math.tanh(W_QK * far**2 / 4)) / 3 for W_QK in (100, 200)]
    return bool(least[0] > 1.1 * near and least[1] <= near)


def two_heads_that_grow() -> bool:
    """Two heads with W = 0.9, the second place turned by a right angle: tokens grow, and so does their distance."""
    one = np.eye(2)[None].repeat(2, 0)
    turned = rm.Rotary(np.asarray([[1.0], [0.0]]), np.asarray([[0.0], [1.0]]))
    layer = Sublayer(Attention.from_qkvo(one, one, 0.9 * one, one, rotary=turned))
    net = rm.Network.from_layers([[layer]] * 20, 2)
    return bool(np.ptp(rm.forward(net, np.asarray([[1.0, 0.1], [1.0, -0.1]])), axis=0).max() > 0.2 * 1e4)


def heads_add() -> bool:
    """Two equal heads: the residual of a layer is twice that of one, and so is not that of one head."""
    rng = np.random.default_rng(0)
    query, value, X = rng.normal(size=(2, 2)), rng.normal(size=(2, 2)), rng.normal(size=(3, 2))
    one, two = (rm.trace(rm.Network.from_arrays([[query] * H], [[value] * H]), X).log_residual[-1] for H in (1, 2))
    return bool(abs(two - one - math.log(2)) < 1e-12)


def hardly_nearer() -> bool:
    """Two tokens near the equator: their distance falls by less than γε, though that of their projections does not."""
    X = np.asarray([[1.0, 100.0], [1.0, -100.0]]) / math.hypot(1, 100)
    P = np.exp(2 * X @ X.T)
    P /= P.sum(axis=1, keepdims=True)
    Y = P @ X
    height, least = X[0, 0], float(P.min())
    sizes = [float(np.linalg.norm(np.diff(Z, axis=0)) / np.linalg.norm(Z[0])) for Z in (X, Y)]
    flat = [float(np.ptp(Z[:, 1] / Z[:, 0])) for Z in (X, Y)]
    return bool(sizes[1] > (1 - height * least) * sizes[0] and flat[1] <= (1 - height * least) * flat[0])


def swap_has_radius_one() -> bool:
    """Two tokens that see each other alone: in no number of steps do both see the same one, and the radius is 1."""
    swap = ~np.eye(2, dtype=bool)
    seen = [np.linalg.matrix_power(swap.astype(int), steps).all(axis=0).any() for steps in range(1, 7)]
    return rm.Mask(swap).radius == 1 and not any(seen)


def rejected_though_true() -> bool:
    """A derivation without its last line: the claim is a theorem all the same."""
    claim = rm.Statement("mine:x", "mu(X[1]) <= sqrt(n)*norm(W[0, 0], 2)*mu(X[0])", given="heads == 1")
    found = rm.verify_statement(claim, instances=5).derivation
    assert found is not None
    content = json.loads(found.text())
    del content["id"], content["data"]["lines"][-1]
    result = check_text(json.dumps(content))
    return result.verdict == "rejected" and result.reason.startswith("it is not derived that")


def equal_tokens_drift() -> bool:
    """W_V = I has no other eigenvalue than the double 1: equal tokens rest, and so do those beside them."""
    net = rm.Network.from_arrays(np.eye(2)[None, None], np.eye(2)[None, None], norm="sphere")
    angles = (0.0, 1e-1, 1e-3, 1e-5)
    starts = [np.tile((math.cos(angle), math.sin(angle)), (3, 1)) for angle in angles]
    return all(np.allclose(rm.forward(net, X), X, rtol=0, atol=1e-15) for X in starts)


def refuted_though_nobody_says_it() -> bool:
    """The findings are about what others say: two refuted statements that nobody makes are on other pages alone."""
    refuted = (key for key, entry in statements().items() if entry.status == "refuted")
    return any(key.startswith("unstated:") and key not in page("docs/findings.md") for key in refuted)


FALSE: list[tuple[str, str, Callable[[], bool]]] = [
    ("README.md", "What it found false is in the", refuted_though_nobody_says_it),
    ("docs/equilibria.md", "attract where all other eigenvalues", equal_tokens_drift),
    ("proofs/wu2024_3.tex", "attract if all other eigenvalues", equal_tokens_drift),
    ("docs/architectures.md", "they hold for the tokens divided by √d |c|", logits_grow_with_the_gain),
    ("docs/positions.md", "values of norm at most s < 1", two_heads_that_grow),
    ("docs/positions.md", "while the least attention on an edge stays positive", stays_as_logits_grow),
    ("docs/centring.md", r"\log\|\hat Q\hat RW\|", heads_add),
    ("docs/masks.md", "still close up, by a factor 1 − γε^r", hardly_nearer),
    ("docs/masks.md", "all tokens see some one token in k steps", swap_has_radius_one),
    ("docs/what-a-certificate-claims.md", "if a limit is reached, or if its claim is false", rejected_though_true),
    ("CLAIMS.md", "with skip connections that no layer can undo, no faster than 1/√L", halved_each_layer),
    ("README.md", "tokens that are close enough equal, doubly exponentially fast", bounded_weights_are_needed),
    ("paper/paper.md", "tokens that are close enough equal, doubly exponentially fast", bounded_weights_are_needed),
    ("docs/background.md", "without anything else between the layers tokens that", bounded_weights_are_needed),
    ("README.md", "**With rotary positions or a causal mask one matrix says", swap_for_ever_though_turned),
    ("README.md", "The centred pass has no floor", loses_digits),
    ("README.md", "its residual keeps its digits", loses_digits),
    ("CLAIMS.md", "## Residuals are not lost to rounding", loses_digits),
    ("docs/certificates.md", "$DX = A X W_V$ with a positive diagonal D", loses_its_mean),
    ("docs/performance.md", "no n × n matrix is held", held_by_its_mask),
    ("docs/centring.md", "drop out of softmax, so the logits are", biased_queries),
    ("docs/balls.md", "a written proof in `proofs/`. No number", proved_by_a_derivation),
    ("docs/what-a-certificate-claims.md", "the checker imports none of it", definitions_are_shared),
    ("docs/campaigns.md", "takes about a minute on two", took_longer),
    ("docs/masks.md", "under which collapse is doubly exponential", stays_apart),
    ("docs/positions.md", "doubly exponential once they are near", order_one_at_every_layer),
    ("docs/positions.md", "| exponential from any open hemisphere", at_once),
    ("docs/certificates.md", "*of every network*: one token, all tokens equal", refuted_by_one_token),
    ("docs/conjectures.md", "with a certificate that it has what is asked; *REFUTED*", meets_with_no_values),
    ("docs/versioning.md", "or says which version does", names_formats_alone),
    ("docs/modern.md", "balls and path sums take", paths_without_norms),
    ("docs/models.md", "that every part of the library takes", paths_without_norms),
    ("CHANGELOG.md", "run in every pass and every arithmetic", paths_without_norms),
    ("docs/masks.md", "With W_V = I and no positions it is the rate in the end", sharpens_as_it_meets),
    ("docs/positions.md", "Δ' ≤ κΔ³, κ = Σ_h", order_one_at_every_layer),
    ("docs/positions.md", "over its length after the map, any logits, one head", stays_as_logits_grow),
    ("docs/equilibria.md", "logits grow fast with the depth", branches_and_not_depth),
    ("docs/equilibria.md", "They are isolated, unstable", rests_on_a_line),
    ("docs/equilibria.md", "move logits by", moved_by_less),
    ("docs/masks.md", "in place of the radius the step is right too", obtuse_step),
    ("docs/masks.md", "A local mask\ndoes slow collapse down, but polynomially", window_with_positions),
    ("docs/flows.md", "smaller on its orthogonal complement: all tokens tend", opposite_tokens_rest),
    ("docs/positions.md", "over the layers | no faster than 1/√L", halved_each_layer),
    ("docs/findings.md", "O(log n))/(qd). |", wide_at_the_threshold),
    ("docs/metrics.md", "All take doubles, and balls", refuses_balls),
    ("docs/models.md", "that every part of the library takes", no_paths_through_norms_and_maps),
    ("docs/modern.md", "balls and path sums take", no_paths_through_norms_and_maps),
    ("docs/centring.md", "After four layers or so", twelve_digits_after_four_layers),
    ("docs/positions.md", "no bias, rotary, ALiBi, relative or no positions", place_is_not_the_angle),
    ("docs/architectures.md", "With a constant gain that", no_unit_length),
    ("rankmath/claims/chen2026.py", "O(log m))/(qd).", wide_at_the_threshold),
    ("docs/findings.md", "with constant 1, r = ⌈(n − 1)/(w − 1)⌉ for a window w ≥ 2; attained", prefix_of_all),
    ("README.md", "address of every entry are those", papers_have_their_own_years),
    ("paper/paper.md", "no shared code", definitions_are_shared),
    ("docs/machine-checked.md", "All others are printed from the text", written_by_neither),
    ("docs/architectures.md", "have length √d times the gain", gain_of_minus_one),
    ("docs/findings.md", "1.2564…, the root of", another_root),
    ("docs/background.md", "With self-loops and W = 1 it is no faster", complete_forgets),
    ("ARCHITECTURE.md", "Coq has no eigenvalues", defined_in_coq),
    ("rankmath/claims/own_positions.py", "a layer changes the diameter by a share", doubled_by_the_skip),
    ("rankmath/claims/wu2024_2.py", "faster by the number of centers", slower_on_a_star),
    ("rankmath/claims/geshkovski2023.py", "more slowly than those with all cosines alike", slow_where_close),
    ("rankmath/claims/barbero2024.py", '"A repeated last token differs', farther_after_two_layers),
    ("docs/findings.md", "up at the rate Θ(Var/scale); the hypothesis", faster_than_the_square),
    ("docs/positions.md", "LayerNorm after the map, with positions | open", collapses_with_positions),
    ("rankmath/claims/folk_spectrum.py", "or an undirected one with self-loops", has_zeros),
    ("docs/modern.md", "No digit is lost at any depth", loses_digits),
    ("docs/equilibria.md", "The most stable in doubles", smaller_still),
    ("rankmath/claims/geshkovski2024.py", "caps ⟨x, w⟩ ≥ 1 − ε are in", below_the_equator),
    ("rankmath/claims/castin2024.py", "with a constant of order √n", grows_no_more),
    ("rankmath/definitions/quantities.py", "of queries and keys without biases", turned_key_bias),
    ("rankmath/claims/own_positions.py", "and the factor is 0", not_at_once),
    ("rankmath/claims/own_positions.py", "grows by total variation there times", not_at_once),
    ("docs/architectures.md", "with any other gain some two tokens", keeps_angles),
    ("docs/background.md", "what is false has a certificate", without_certificate),
    ("docs/background.md", "Collapse is then exponential at least under the hypotheses", grows),
    ("rankmath/claims/wu2024_1.py", "collapses exponentially, in explicit form", grows),
    ("docs/equilibria.md", "smaller by an integer L:", smaller_by_more),
    ("rankmath/claims/own_mask_rate.py", "the residual falls in the end by", nothing_falls),
    ("rankmath/claims/own_mask_rate.py", "rotary positions with W_Q = W_K at consensus", skew_biases),
    ("rankmath/claims/shi2022.py", "and spreads the rest", shrinks_the_rest),
    ("proofs/own_positions.tex", "The other tokens are not faster than the second", third_meets_the_first),
    ("docs/positions.md", "of W, up to L^(n−2): the share", two_thirds_are_left),
    ("docs/findings.md", "approached where some of them tend to 0", unequal_shares),
    ("docs/findings.md", "attained where the last token attends", three_tokens),
    ("CLAIMS.md", "Every block of code, the pictures' numbers", some_are_not_run),
    ("docs/equilibria.md", "w = 17 is stable or unstable is not decided", leaves_its_place),
    ("docs/findings.md", "d ≥ 2; these equilibria even attract", leaves_its_place),
    ("docs/equilibria.md", "So every equilibrium here is one of a post-norm", gained_with_a_skip),
    ("docs/masks.md", "symmetric ones under an undirected mask", complete_forgets),
    ("docs/models.md", "differ whatever the tokens are", cancelled),
    ("docs/findings.md", "the other: so it is the best rate for even n", in_the_plane),
    ("rankmath/claims/geshkovski2023.py", "are all α: so it is the best one", in_the_plane),
    ("docs/positions.md", "where one layer is repeated, the largest modulus", moved_by_a_bias),
    ("docs/modern.md", "as with W_QK = 0. Two tokens", causal_rows_differ),
    ("docs/notebooks/is-my-conjecture-true.ipynb", "a proof is for you to write", proved_there),
    ("docs/notebooks/rank-collapse-in-ten-minutes.ipynb", "skip connections the residual no longer", undone),
    ("docs/notebooks/transformers-of-today.ipynb", "With a skip connection the tokens grow", never_meet),
    ("docs/notebooks/transformers-of-today.ipynb", "says of every theorem what becomes", matrices_are_left_out),
    ("docs/certificates.md", "Gelu and its kin, whose steepest slope", certified_with_gelu),
    ("rankmath/claims/own_flows.py", "if β > −2/3, and do not", close_tokens_meet),
    ("rankmath/claims/own_positions.py", "multiplies the diameter by the attention's total variation", tenfold),
    ("rankmath/claims/own_positions.py", "diameter is multiplied by the total variation", tenfold),
    ("rankmath/claims/own_positions.py", "Under a causal mask collapse is exponential", grows),
    ("rankmath/claims/own_positions.py", "W = 1 and logits that are Lipschitz is repeated", moved_by_a_bias),
    ("rankmath/claims/own_flows.py", "β(1 − u)/2, and the factor", more_than_half_of_x),
    ("rankmath/claims/own_flows.py", "from densities in L², and no faster", falls_faster),
    ("rankmath/claims/own_flows.py", "continuous time as a step is long", half_a_step),
    ("rankmath/claims/yudin2025.py", 'attention does " "not, unless', without_logits),
    ("rankmath/claims/own_skip_lower.py", "answers a question", undone),
    ("rankmath/claims/kim2021.py", "directions receives about", far_from_the_others),
    ("rankmath/definitions/quantities.txt", "reaches every other along its edges", edges_the_other_way),
    ("rankmath/claims/stable_every_n.py", "these weights, ν_j the j-th power", rounded_away),
    *(
        (name, "shares no code", definitions_are_shared)
        for name in (
            "SECURITY.md",
            "docs/notebooks/a-counterexample-for-my-appendix.ipynb",
            "rankmath/checker/checker.py",
            "rankmath/report/theorems.py",
            "rankmath/report/appendix.py",
            "rankmath/report/templates/report.html",
        )
    ),
    ("docs/notebooks/transformers-of-today.ipynb", "The factor of a layer tends to", alternates),
    ("docs/notebooks/rank-collapse-in-ten-minutes.ipynb", "make all tokens equal", stays_apart),
    ("CLAIMS.md", "both sides: with invertible values, unequal tokens", at_once),
    ("CLAIMS.md", "is slower below some 1000 tokens", slower_with_2048_tokens),
    ("docs/findings.md", "for large x smaller by about x/2", more_than_half_of_x),
    ("docs/positions.md", "the factor ρ at 0, for one head", heads_that_cancel),
    ("docs/tutorial.md", "without a key, all statements", all_must_be_asked_for),
    ("docs/findings.md", "does not shrink as n grows", shrinks),
    ("docs/findings.md", "attained by equal cosines alone", not_alone),
    ("docs/findings.md", "The best rate, for every α ≥ 0", not_best),
    ("CLAIMS.md", "with skip connections it is no faster than 1/√L", undone),
    ("docs/equilibria.md", "rest whatever the weights", swapped),
    ("docs/findings.md", "exactly: about twice as much", more_than_twice),
    ("docs/findings.md", "with W_QK = βI.", repelled),
    ("docs/findings.md", "some attention matrix | All tokens do.", one_token),
    ("docs/models.md", "`dong2021:2.3` (as printed in 2021, γ = 1)", first_form_is_refuted),
    ("docs/findings.md", "as is printed, others more", gains_less_than_twice),
    ("rankmath/claims/joudaki2023.py", "and more elsewhere", gains_less_than_twice),
    ("rankmath/claims/own_mask_rate.py", "collapse is never faster", collapses_at_once),
    ("docs/masks.md", "skip connections collapses exponentially (`wu2024:1`", grows),
    ("docs/masks.md", "with W_QK = 0 are an equality", far_from_equality),
    ("docs/flows.md", "With V = diag(λ, 1) and logits", top_is_the_other),
    ("docs/flows.md", "0.4488…", rounded_not_cut),
    ("rankmath/claims/karagodin2024.py", "0.4488…", rounded_not_cut),
    ("docs/flows.md", "(V = λ on a space L", repelled_from_the_first),
    ("rankmath/claims/karagodin2024.py", "So both tokens tend", leaves_the_space),
    ("docs/equilibria.md", "tokens can travel for ever. The proofs are", sharper_than_said),
    ("docs/equilibria.md", "makes any X do it.", not_every_x),
    ("rankmath/claims/velickovic2024.py", "Attained where all logits but one are equal", not_alike),
    ("rankmath/claims/kim2021.py", "directions receives √n/2", below_the_half),
    ("docs/findings.md", "True, for matrices of every rank, if", unchanged),
    ("CLAIMS.md", "The theorems of 2021 as first printed are false", first_theorem_is_true),
    ("rankmath/claims/geshkovski2023.py", "no flow on the sphere is slower", at_rest),
    ("rankmath/claims/folk_spectrum.py", "besides 1 is at most", complex_ones),
    ("docs/field.md", "uncertain and the statement false, the row names no paper", papers_are_named),
    ("docs/what-a-certificate-claims.md", "The three kinds are", one_more_kind),
    ("rankmath/definitions/hypotheses.py", '"no biases"', queries_have_biases),
    ("README.md", "residual triples with every layer", not_tripled),
    ("README.md", "of every step lies just above", far_above),
    ("README.md", "lies two to four powers of ten above", below_two_powers),
    ("CLAIMS.md", "Collapse is of order three, sharply", at_once),
    ("docs/background.md", "collapse is exponential and no longer doubly so", forgets_at_once),
    ("docs/masks.md", "Dividing each token by its norm changes less than", change_places),
    ("docs/positions.md", "exp(g(1) − g(0))): 1/2 without positions", faster_where_they_meet),
    ("docs/findings.md", "one token is an equality", less_than_equal),
    ("rankmath/claims/alman2025.py", "One token is an equality", less_than_equal),
    ("rankmath/claims/karagodin2025.py", "width depends on β alone", wider_by_the_number_of_tokens),
    ("docs/masks.md", "symmetric ones still leave a positive limit", symmetric_logits_forget),
    ("docs/background.md", "no faster with equal or symmetric logits", symmetric_logits_forget),
    ("rankmath/claims/own_mask_rate.py", "for symmetric ones (own:mask-rate-symmetric)", symmetric_logits_forget),
    ("README.md", "a causal mask collapse is exponential, and one matrix", at_once_though_turned),
    ("docs/modern.md", "a causal mask collapse is exponential, not doubly", at_once_though_turned),
    ("docs/modern.md", "the factor of a layer tends to", alternates),
    ("docs/findings.md", "what we prove beside them. Where they are not explained", drawn_to_the_bias),
    ("docs/findings.md", "one head and W ≥ 0", less_than_eta),
    ("docs/findings.md", "its expression would be no rate", still_a_rate),
    ("docs/findings.md", "True, for matrices of every rank whose", backwards_it_falls),
    ("docs/equilibria.md", "the balls, far below what doubles resolve", resolved),
    ("docs/metrics.md", "no norm, so it may exceed 1", norms_exceed_one),
    ("docs/performance.md", "of half a minute", took_longer),
    ("docs/performance.md", "twice d, H or L up to twice as long", grows_faster_than_width),
    ("docs/performance.md", "takes 4Hn²d operations", grows_faster_than_width),
    ("docs/experiments.md", "long ones none; the best length is one", hull_has_another_best),
    ("docs/certificates.md", "shares no code with what issued", definitions_are_shared),
    ("README.md", "no shared code", definitions_are_shared),
    ("docs/what-a-certificate-claims.md", "a few short files", thousands_of_lines),
    ("CLAIMS.md", "## Collapse is of order three at least", positions_break_order_three),
    ("rankmath/claims/karagodin2024.py", "Where attention is not too sharp it", sink_of_uniform_attention),
    ("rankmath/claims/karagodin2024.py", "if the top eigenspace is no line", repelled_from_the_first),
    ("rankmath/claims/own_flows.py", "from every density in L² if", rests_about_the_mean_zero),
    ("rankmath/claims/rigollet2025.py", "from any cosine to any other below 1", opposite_tokens_rest),
    ("rankmath/claims/joudaki2023.py", "two lengths 1 and 100 gain 49.0", gains_fifty),
    ("rankmath/claims/barbero2024.py", "for the token itself, a term aΔ²/4 it is true", skip_is_seen),
    ("rankmath/claims/own_positions.py", "Without positions queries and keys come together", norms_keep_apart),
    ("docs/findings.md", "(1 + aRΔ), and ‖W‖aΔ²/4 more for the token itself", skip_is_seen),
    ("rankmath/claims/own_positions.py", "head with W = 1 is repeated", moved_by_a_bias),
    ("rankmath/claims/joseph2024.py", "True with another factor", one_direction_after_a_layer),
    ("rankmath/claims/dong2021_2_3.py", "half of the constant of 2023", more_than_half_as_printed),
    ("rankmath/claims/contranorm2023.py", "for matrices of every rank", rank_one_stays),
    ("rankmath/claims/own_initialisation.py", "at initialisation: with independent Gaussian", mask_slows_the_start),
    ("rankmath/claims/wu2025.py", "C = 1 will not do", no_constant_is_needed),
    ("proofs/wu2025.tex", "$C=1$ is not enough", no_constant_is_needed),
    ("rankmath/claims/noci2022.py", "move a token by a quarter", moved_by_less_than_a_quarter),
    ("rankmath/claims/he2023.py", "into one another", no_way_back),
    ("docs/findings.md", "kernels are carried into one another", no_way_back),
    ("rankmath/claims/alman2025.py", "entries at most η", far_below_eta),
    ("docs/findings.md", "entries at most η", far_below_eta),
    ("proofs/alman2025.tex", "entries at most $\\eta$", far_below_eta),
    ("rankmath/claims/folk_affine_rank.py", "Three tokens on a line leave it", line_through_the_middle),
    ("rankmath/claims/folk_spectrum.py", "no query bias and no mask: K is e to the logits", key_bias_is_seen),
    ("docs/flows.md", "with QᵀK = I, n ≥ 2", pair_turned_away),
    ("docs/masks.md", "no bias and no positions is repeated", kept_by_its_skip),
    ("docs/masks.md", "W_QK = 0 and W_V = I are an equality", tilted_by_its_key_bias),
    ("rankmath/claims/own_mask_rate.py", "not all pairs, a layer multiplies", kept_by_its_skip),
    ("rankmath/claims/own_mask_rate.py", "and W = I a layer then", kept_by_its_skip),
    ("rankmath/claims/geshkovski2024.py", "within a cluster falls as long", rests_as_one),
    ("docs/experiments.md", "measures 1 − mean cosine: |", steeper_by_its_weights),
    ("rankmath/claims/folk_softmax_gradient.py", "1/4 is the slope of one entry in its own logit", less_steep),
]


@pytest.mark.parametrize(
    ("name", "sentence", "shown"), FALSE, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_is_false_is_not_said(name: str, sentence: str, shown: Callable[[], bool]) -> None:
    assert shown()
    assert sentence not in page(name)


# -- numbers that stand in their place -----------------------------------------------------------------------


def test_the_rates_of_the_flow_are_attained() -> None:
    """Two clusters that differ by one, and orthogonal tokens, whose rate falls like 1/n."""
    two_and_one, bound = rate(clusters(2, 1, 0.5), 4.0, "own:flow-step-odd")
    assert two_and_one == pytest.approx(bound, rel=1e-12)
    for n, alpha, beta in ((3, 0.5, 4.0), (5, 0.9, 40.0), (7, 0.3, 6.0)):
        rho = math.exp(-beta * (1 - alpha))
        kappa = (1 - rho) / (1 + rho)
        found, bound = rate(clusters((n + 1) // 2, n // 2, alpha), beta)
        assert found / bound == pytest.approx((n**2 + kappa) / (n**2 - kappa**2), rel=1e-12)
    for n in (2, 10, 100):
        found, bound = rate(equal(n, 0.0), 1.0)
        assert found == pytest.approx(bound, rel=1e-12)
        assert found == pytest.approx(2 * math.exp(-1) / (1 + (n - 1) * math.exp(-1)), rel=1e-12)


def erank(sigma: np.ndarray) -> float:
    share = sigma / sigma.sum()
    return math.exp(-(share * np.log(share)).sum())


def test_numbers_of_the_findings_are_computed() -> None:
    text = page("docs/findings.md")
    sigma = np.asarray([7 / 5, 1 / 2])
    assert f"takes the effective rank from {erank(sigma):.2f} to {erank(sigma * (2 - sigma**2)):.2f}" in text
    A, z = np.asarray([[2 / 3, 1 / 3], [1 / 2, 1 / 2]]), np.asarray([2.0, -3.0])
    assert np.allclose(A @ z, z / 6)
    assert f"keep a ratio of {abs(np.ptp(z) / z.sum()):.0f} for ever" in text
    turns = np.linalg.eigvals([[0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.8, 0.1, 0.1]])
    eigenvalue = turns[turns.imag.argmax()]
    assert f"−{-eigenvalue.real:.2f} ± {eigenvalue.imag:.3f}i" in text


def test_where_the_bound_of_2021_is_true_for_any_number_of_tokens() -> None:
    """own:gamma-free with q ≤ 1 has √(2 expc(δ)) in place of 4, and expc grows."""
    said = re.search(r"where all D_ii are at most (\d+) at every layer", page("docs/findings.md"))
    assert said is not None
    delta = int(said[1])
    assert math.sqrt(2 * math.expm1(delta) / delta) < 4 < math.sqrt(2 * math.expm1(delta + 1) / (delta + 1))
    assert "sqrt(2*expc(eta)/d_qk*columns*rows)" in str(statement("own:gamma-free"))


def test_the_captions_have_the_numbers_of_the_run() -> None:
    stored = json.loads((ROOT / "docs" / "minilm.json").read_text(encoding="utf-8"))
    text = page("README.md")
    orders = re.search(r"each of the last three multiplies its logarithm by ([\d.]+), ([\d.]+) and ([\d.]+);", text)
    assert orders is not None
    assert list(orders.groups()) == [f"{x:.2f}" for x in stored["order"][-3:]]
    above = [(b - x) / math.log(10) for b, x in zip(stored["bound"][1:], stored["centred"][1:], strict=True)]
    assert [round(min(above)), round(max(above))] == [2, 4]
    assert "lies about two to four powers of ten above" in text
    assert min(stored["order"][2:]) > 3  # "from layer 3 on … a factor of three and more a layer"


def test_the_heads_have_the_numbers_of_the_run() -> None:
    stored = json.loads((ROOT / "docs" / "heads.json").read_text(encoding="utf-8"))
    near = [head for head in stored if abs(head["factor"] / head["second modulus"] - 1) < 1e-13]
    far = [head for head in stored if head not in near]
    assert (len(stored), len(near), len(far)) == (36, 34, 2)
    (first, one), (second, other) = ([f"{head[name]:.3f}" for name in ("factor", "second modulus")] for head in far)
    assert f"with factors {first} and {second} where |λ₂(P₀)| is {one} and {other}" in page("docs/modern.md")
    assert min(head["factor"] for head in far) > 0.99


def test_the_distance_of_the_two_computations_of_a_trained_model_is_the_one_that_is_printed() -> None:
    stored = json.loads((ROOT / "docs" / "minilm.json").read_text(encoding="utf-8"))
    pairs = zip(stored["centred"], stored["mpmath_222_digits"], strict=True)
    said = re.search(r"the same seven logarithms to ([\d.]+)·10⁻¹⁵, relatively", page("docs/models.md"))
    assert said is not None
    assert max(abs(a / b - 1) for a, b in pairs) * 1e15 <= float(said[1])


def test_what_is_shown_of_a_statement_explains_its_words() -> None:
    """All functions but those of every textbook, and loops over layers, heads, blocks and tokens."""
    known = {"sqrt", "exp", "log", "tanh", "abs", "floor", "min", "max"}
    for key in statements():
        found = described(key)
        used = set(re.findall(r"([a-z]\w*)\(", " ".join((found["claim"], *found["where"].values()))))
        loops = {name for name in used if re.fullmatch(r"(sum|prod|all|any|min|max)_[lhki]", name)}
        assert used - loops - known <= set(found["quantities"]), key


def test_no_letter_of_a_citation_means_two_things() -> None:
    """What a definition binds (with …, sums, integrals) is no letter of the statement: arrays, sizes, where."""
    for key in statements():
        arrays = statement(key).arrays or {}
        sizes = {size for shape in arrays.values() for size in shape.split(",")[0].split() if size.isalpha()}
        letters, found = {*arrays, *sizes} - {"n", "d"}, described(key)
        for meaning in found["quantities"].values():
            text = meaning.partition("as a formula: ")[2]
            bound = set(re.findall(r"(?:^|; )(\w+) = |for (\w+) in", text))
            assert not {a or b for a, b in bound} & (letters | set(found["where"])), (key, text)
    notation = citation("own:diameter").notation
    assert "o_l" in notation
    assert "b_l" not in notation  # b_l are the steps of the bound


def test_the_changelog_counts_what_is_machine_checked() -> None:
    said = f"Coq: {len(machine_checked())} of {len(statements())} statements are machine-checked"
    assert said in page("CHANGELOG.md")


def test_pages_say_with_how_many_bits_the_checker_decides() -> None:
    most, more = max(kernel.PRECISIONS), checker.MAX_BITS
    assert f"128, 256, …, {most} bits" in page("docs/certificates.md")
    assert f"may begin with more, up to {more})" in page("docs/certificates.md")
    assert f"none of them longer than {kernel.MAX_EXACT_BITS} bits, and in intervals" in page("docs/certificates.md")
    said = f"intervals of {most} bits cannot tell, or of as many more, up to {more}, as a hint asks for"
    assert said in page("docs/what-a-certificate-claims.md")


def test_the_claims_have_the_numbers_of_the_stored_results() -> None:
    cpu, gpu = (
        json.loads((ROOT / f"benchmarks/results/{name}.json").read_text("utf-8"))["tables"] for name in ("cpu", "gpu")
    )
    text, faster, traced = page("CLAIMS.md"), "faster of torch/centred", "faster of torch/trace"
    assert all(row[faster] > 1 for row in cpu["layer"] + gpu["layer"])
    level = sum(row[faster] < 1.1 for row in cpu["layer"])
    said = (
        f"at {len(cpu['layer']) - level} of the {len(cpu['layer'])} sizes that were measured and level, within a tenth,"
    )
    assert (level, f"{said} at two, and the trace" in text) == (2, True)
    assert [sum(row[traced] > 1.1 for row in cpu["depth"]), len(cpu["depth"])] == [5, 7]
    assert sum(1 / 1.1 < row[traced] < 1.1 for row in cpu["depth"]) == 2
    assert "of eight layers at five of seven and level at two, as is a layer of a model in use" in text
    assert abs(cpu["model"][0]["torch/ours"] - 1) < 0.1
    assert min(row["one by one/sums"] for row in cpu["paths"]) > 30
    (large,) = (row for row in cpu["large"] if row["n"] == 65536)
    assert large["held, GiB"] < 1 / 4
    assert f"at all {len(gpu['layer'])} sizes that were measured, and more than twice" in text
    (wide,) = (row for row in gpu["layer"] if (row["n"], row["d"], row["H"]) == (4096, 64, 16))
    assert wide[faster] > 2
    slower = [row["n"] for row in gpu["layer"] if row[traced] < 1]
    assert f"is slower or level at {len(slower)} of them, the largest of {max(slower)} tokens" in text
    assert "262 144 tokens fit in 8 GiB" in text
    assert max(row["held, GiB"] for row in gpu["large"] if row["n"] == 262144) < 8
    assert [int(row["Newton, cpu/gpu"]) for row in gpu["searches"] if row["n = d"] == 8] == [9]


def test_the_page_says_which_spectra_coq_leaves_out() -> None:
    """Of the stored files with a spectrum one takes longer numbers than the page says; the others state theirs."""
    long = int(re.findall(r"a spectrum that takes more than (\d+) bits", page("docs/machine-checked.md"))[0])
    left = {}
    for path in (ROOT / "proofs/certificates").glob("*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        if "spectrum" in content["data"] and "weights" in content["hints"]:
            text, left_out = to_coq(content, shared=False)
            assert ("derivative_at" in text) == (content["hints"]["spectral_bits"] <= long)
            left[content["statement"]] = any(line.startswith("the eigenvalues") for line in left_out)
    assert [key for key, without in left.items() if without] == ["own:stable-complete-every-n"]
    assert len(left) == 3


def test_the_claims_count_the_certificates_that_are_accepted() -> None:
    """Undecided ones are not rejected, so the page counts those that are accepted."""
    stored = len(list((ROOT / "proofs/certificates").glob("*.json")))
    assert f"*.json | wc -l {stored} " in page("CLAIMS.md")
    assert f"grep -c ': accepted' {stored} " in page("CLAIMS.md")


def test_the_changelog_counts_decided_claims_and_rooms() -> None:
    text = page("CHANGELOG.md")
    rows = (ROOT / "benchmarks/claims/decided.jsonl").read_text(encoding="utf-8").splitlines()
    assert f"{len(rows)} decided claims in `benchmarks/claims`" in text
    assert len(list((ROOT / "rankmath").glob("*/__init__.py"))) == 15
    assert "Fifteen rooms" in text


def test_the_times_of_two_sizes_grow_as_the_page_says() -> None:
    """Of all pairs of rows of one machine, the larger no smaller in n, d, H or L; the third more is needed."""
    text = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
    table = text.partition("<!-- table: time -->")[2].partition("\n\n")[0].strip().splitlines()[2:]
    rows = [[cell.strip().replace(",", "") for cell in line.strip("|").split("|")] for line in table]
    excess = []
    for machine in (4, 5, 6):
        timed = [(*map(int, row[:4]), float(row[machine])) for row in rows if row[machine]]
        for (n, d, H, L, t), (N, D, G, M, s) in itertools.permutations(timed, 2):
            if n <= N and d <= D and G >= H and M >= L:
                wider = D / d if 4 * D <= N else (D / d) ** 2
                excess.append(s / t / ((N / n) ** 2 * wider * G / H * M / L))
    assert len(excess) > 200
    assert 1.25 < max(excess) <= 4 / 3


def test_the_readme_names_every_notebook() -> None:
    names = [path.stem.replace("-", " ") for path in (ROOT / "docs/notebooks").glob("*.ipynb")]
    assert names
    assert [name for name in names if name not in page("README.md")] == []


def test_the_shares_of_the_fall_are_those_of_the_run() -> None:
    stored = json.loads((ROOT / "docs" / "minilm.json").read_text(encoding="utf-8"))["shares"]
    text = (ROOT / "docs/models.md").read_text(encoding="utf-8")
    for p, sign in (("1", "ℓ₁"), ("2", "ℓ₂"), ("inf", "ℓ_∞")):
        cells = ["vacuous" if x is None else f"{x:.0%}".replace("%", " %") for x in stored[f"diameter(X[L], {p})"]]
        assert f"| `own:diameter`, {sign} | {' | '.join(cells)} |" in text


def test_the_bound_with_skips_names_its_hypothesis() -> None:
    assert "θ < 1" in statement("own:skip-lower").title
    assert "θ < 1" in page("CLAIMS.md")


def test_certificates_that_the_page_names_are_issued() -> None:
    """The tables of equilibria name certificates that are made anew: the small ones are, with the same ids."""
    text = page("docs/equilibria.md")
    for n in (2, 3):
        for key, design in (("complete-every-n", path_design), ("causal-every-n", causal_design)):
            assert certify_design(design(n)).certificate(f"own:stable-{key}").id in text
    pair = rm.layernorm_equilibrium(4, 2, 2, "complete", stable=True).certify()
    assert pair.certificate("own:stable-equilibrium").id in text
    rows = re.findall(r"\| (\d+) \| (\d+) \| (?:complete|causal) \| \d+ \| [\d.]+ \| 10\^-[\d.]+ \| rm-", text)
    assert len(rows) >= 7
    assert all(int(d) >= 2 for _, d in rows)  # in one dimension the checker accepts none
    with pytest.raises(ArithmeticError, match="d >= 2"):
        rm.layernorm_equilibrium(2, 1, 1, "complete", stable=True).certify().certificate("own:stable-equilibrium")


def test_the_rules_that_no_theorem_covers_are_named() -> None:
    """The page names the words of the checker of which the table of rules says that something is left."""
    left = [rule["words"][0] for rule in tomllib.loads(_coq("rules.toml"))["rule"] if "left" in rule]
    said = page("docs/machine-checked.md").partition("Left: ")[2].partition("\n\n")[0]
    assert {f"`{word}`" for word in left} <= set(re.findall(r"`\w+`", said))
    assert len(left) == 5


def test_how_near_a_centre_is_to_the_least_is_said_as_it_is_asked_for() -> None:
    """Coq's files and the checker ask for different factors 1 + 2^−k; both pages have theirs."""
    written = (ROOT / "rankmath/certificates/coq_claim.py").read_text(encoding="utf-8")
    asked = (ROOT / "rankmath/definitions/quantities.txt").read_text(encoding="utf-8")
    [in_coq] = set(re.findall(r"\{2\*\*(\d+) \+ 1\} # \{2\*\*\1\}", written))
    [in_checker] = re.findall(r"^center\(l\) = .*\(1 \+ 1/2\*\*(\d+)\)", asked, flags=re.M)
    coq, checker = (f"1 + 2⁻{k.translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}" for k in (in_coq, in_checker))
    assert f"factor {coq} (the checker asks for {checker})" in page("docs/machine-checked.md")
    assert f"factor {checker}" in page("docs/certificates.md")


def _coq(name: str) -> str:
    return (ROOT / "proofs" / "coq" / name).read_text(encoding="utf-8")


def test_what_is_trusted_is_counted_by_a_command_and_by_no_number() -> None:
    """All modules of the checker and the definitions it reads, but those that guess, print, refuse, or write it out."""
    assert not re.search(r"\d+ lines", page("ARCHITECTURE.md"))
    command = re.search(r"ls (\S+) (\S+) \| grep -vE '/\((\S+)\)\.py'", page("docs/referee.md"))
    assert command is not None
    rooms = [f"rankmath/{room}/*.[pt]*" for room in ("checker", "definitions")]
    assert command.groups() == (*rooms, "advice|words|limits|vacuity|export|__init__")
    for name in ("advice", "words", "limits", "vacuity", "export"):
        assert (ROOT / "rankmath" / "checker" / f"{name}.py").is_file()
    # What stands alone imports nothing else of the package.
    for room in ("checker", "definitions"):
        for path in (ROOT / "rankmath" / room).glob("*.py"):
            rooms = set(re.findall(r"^from rankmath\.(\w+)", path.read_text(encoding="utf-8"), flags=re.M))
            assert rooms <= {"checker", "definitions"}, path


def test_the_page_of_the_format_names_every_file_of_the_checker() -> None:
    """In the table of what is trusted, or in the sentence after it as one that need not be."""
    text = (ROOT / "docs/certificates.md").read_text(encoding="utf-8")
    trusted, _, rest = text.partition("### What must be trusted")[2].partition("To believe one certificate")
    table = set(re.findall(r"`(\w+)\.py`", trusted))
    spared = set(
        re.findall(r"`(\w+)\.py`", rest.partition("The first three are the kernel")[0].partition("names. ")[2])
    )
    files = {path.stem for path in (ROOT / "rankmath/checker").glob("*.py")}
    assert table & spared == set()
    assert table | spared == files - {"__init__", "export"}


def test_no_page_tells_its_readers_about_the_tests() -> None:
    for path in [ROOT / "README.md", ROOT / "CLAIMS.md", *(ROOT / "docs").glob("*.md")]:
        shown = re.sub(r"<!--.*?-->", "", path.read_text(encoding="utf-8"), flags=re.S)
        assert "Not run by the tests" not in shown, path.name


def test_what_was_known_before_us_is_not_called_ours(tmp_path: Path) -> None:
    """The table of the field: a source that says "classical" or "well known" is not followed by "ours"."""
    write_field(tmp_path / "field.inc")
    rows = (tmp_path / "field.inc").read_text(encoding="utf-8").splitlines()[2:]
    whose = {cells[-2].strip(" `"): cells[1].strip() for cells in (re.split(r"(?<!\\)\|", row) for row in rows)}
    known = {key for key in whose if re.search("classical|well known", statement(key).source)}
    assert known >= {"own:spectrum", "own:softmax-gradient"}
    assert {key for key, name in whose.items() if name.partition(",")[0] == "classical"} == known
    assert whose["own:received"].startswith("ours, beside Kim")


def test_what_names_a_neighbouring_paper_is_in_the_table_of_the_field(tmp_path: Path) -> None:
    """Once, whatever file its proof is in."""
    write_field(tmp_path / "field.inc")
    rows = re.findall(r"`([\w.:-]+)` \|$", (tmp_path / "field.inc").read_text(encoding="utf-8"), flags=re.M)
    near = {key for key, one in statements().items() if any(paper in one.source for paper in FIELD.values())}
    assert len(rows) == len(set(rows))
    assert near - set(rows) == set()


def fields(shape: object) -> set[str]:
    """The names of a shape of data, at every depth."""
    if isinstance(shape, dict):
        return {name.rstrip("?") for name in shape}.union(*map(fields, shape.values()))
    return fields(shape[0]) if isinstance(shape, list) else set()


def test_the_page_of_the_format_names_every_field_and_every_rule() -> None:
    text = (ROOT / "docs/certificates.md").read_text(encoding="utf-8").split("## Issuing")[0]
    rules = set(re.findall(r'by == "(\w+)"', (ROOT / "rankmath/checker/derivation.py").read_text(encoding="utf-8")))
    assert len(rules) == 12
    for name in (*FORMATS, *KINDS):
        assert f'`"{name}"`' in text, name
    known = fields(sublayer_data()) | fields(ONE_LINE_DATA)
    assert {name for name in known if f"`{name}`" not in text and f'"{name}"' not in text} == set()
    assert {name for name in rules if f"`{name}`" not in text} == set()


def test_every_stored_certificate_is_in_the_table_of_coq() -> None:
    """Each with its statement, and seconds, or why there is no theorem; the sentence above counts them."""
    text = (ROOT / "docs/coq-certificates.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w.:-]+)` \| `([^`]+\.json)` \| .* \| (.+) \|$", text, flags=re.M)
    paths = (ROOT / "proofs" / "certificates").glob("*.json")
    stored = {path.name: json.loads(path.read_text(encoding="utf-8"))["statement"] for path in paths}
    assert {name: key for key, name, _ in rows} == stored
    seconds = [float(said) for *_, said in rows if re.fullmatch(r"[\d.]+", said)]
    assert f"Of {len(rows)} certificates {len(seconds)} are theorems" in text
    assert max(seconds) < 120


def test_what_the_table_of_coq_says_is_of_the_theorems_that_are_printed_today(
    coq_texts: dict[str, tuple[str, str]],
) -> None:
    """The hash of each text, or why there is none: `python benchmarks/coq_certificates.py` goes on from there."""
    text = (ROOT / "docs/coq-certificates.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `[\w.:-]+` \| `([^`]+\.json)` \| `?(\w*)`? \| (.+) \|$", text, flags=re.M)
    printed = {name: mark or said for name, mark, said in rows}
    said = {name: text_mark(text) if text else why.replace("|", "\\|") for name, (text, why) in coq_texts.items()}
    assert printed == said


def test_no_claim_is_said_to_be_open_that_two_tokens_refute() -> None:
    """W = w 1 e_0ᵀ, sharp logits: the distance of two tokens grows about √d w times; the claim allows 2√2 (1 + w)."""
    claim, d, w = "mu(X[1]) <= n*(1 + norm(W[0, 0], inf))*diameter(X[0], 2)", 16, 4.0
    W = np.zeros((1, 1, d, d))
    W[..., 0] = w
    net = rm.Network.from_arrays(W_QK=np.full((1, 1, d, d), 1 / d), W=W, skip=1.0)
    said = rm.Statement("mine:claim", claim, given="heads == 1, skip == 1")
    verdict = rm.verify(said, net, np.array([[1.0] * d, [-1.0] * d]), arithmetic="balls")
    assert verdict.outcome == Outcome.VIOLATED
    assert verdict.certified
    rows = [json.loads(row) for row in (ROOT / "benchmarks/claims/decided.jsonl").read_text("utf-8").splitlines()]
    assert {row["answer"] for row in rows if row["claim"] == claim and "skip == 1" in row["given"]} == {"REFUTED"}
    assert not any(claim in path.read_text("utf-8") for path in ROOT.glob("docs/*.toml"))
    assert f"There are {len(rows)}: " in page("benchmarks/claims/README.md")


def displayed(key: str) -> tuple[str, str]:
    """What a citation displays, and what follows it."""
    shown, _, after = citation(key).text("latex").partition(r"\end{quote}")
    return shown.partition(r"\begin{quote}")[2], after


def test_letters_of_a_display_are_explained_below_it() -> None:
    """LN is no letter of the notation, nor is the size of tokens that a map makes."""
    maps = 0
    for key in statements():
        shown, after = displayed(key)
        if r"\mathrm{LN}" in shown:
            maps += 1
            assert re.search("LN (is )?the division of every token by its norm", after), key
        if r"\mu(X(t))" in shown:
            assert "Frobenius norm of the tokens about their mean" in after, key
    assert maps > 5


def test_what_is_displayed_as_machine_checked_is_what_coq_says() -> None:
    """Coq has a ball of starts and no measure; products of factors, and no power of the depth."""
    for key in machine_checked():
        if key in statements():
            assert "measure" not in displayed(key)[0], key
    for key in ("wu2024:3-measure", "wu2024:3-whole"):
        assert "A ball of starts has positive measure" in statement(key).notes


def test_a_window_of_one_token_keeps_attention_where_it_is() -> None:
    """Nine layers of such a window move nothing, so the hypothesis excludes that width."""
    with pytest.raises(rm.InvalidArgument, match="w"):
        rm.verify("own:position-bias", [np.eye(3).tolist()] * 9, 1)
    assert rm.verify("own:position-bias", [np.eye(3).tolist()] * 9, 2).outcome == Outcome.NOT_APPLICABLE


def test_a_boost_keeps_its_axis() -> None:
    """So what takes the axis w to another point e is the rotation after it."""
    w, tau = np.array([0.6, 0.8]), 0.7
    null = np.append(1.0, w)
    boost = np.eye(3) + np.sinh(tau) * (np.outer(np.append(0, w), [1, 0, 0]) + np.outer([1, 0, 0], np.append(0, w)))
    boost += (np.cosh(tau) - 1) * (np.outer([1, 0, 0], [1, 0, 0]) + np.outer(np.append(0, w), np.append(0, w)))
    image = boost @ null
    assert np.allclose(image[1:] / image[0], w, rtol=0, atol=1e-14)
    assert "a rotation, which takes w to e" in statement("own:mean-field-rate").notes


def test_what_is_classical_is_not_said_to_be_of_rankmath() -> None:
    """Traces bound eigenvalues of every matrix, and every stochastic matrix is a contraction of diameters."""
    for key, one in statements().items():
        assert "classical" not in one.notes or "classical" in one.source, key
    for key in ("own:mask-rate", "own:mask-rate-symmetric", "own:consensus-spectrum", "own:transport"):
        assert "classical" in statement(key).source
        assert "Statement and proof are of rankmath" not in citation(key).text("latex")
