"""Random certificates of every family, small enough to be checked in milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import Instance, certify_arrays, certify_claim, issue, stochastic_rationals
from rankmath.checker import checker
from rankmath.claims import dong2021_2_1, wu2024_4_3_1
from rankmath.linalg.stochastic import exact_product
from rankmath.verification.instance import ArrayInstance
from rankmath.verification.verdict import Outcome, Verdict

Draw: TypeAlias = Callable[[np.random.Generator], Certificate]

HELD = Verdict("", Outcome.HOLDS, 0.0, 0.0, certified=True, arithmetic="exact")


def registered(key: str, instance: Instance) -> Certificate:
    """The claim about a network that the checker's table has under this key."""
    wording = checker.wording(key)
    assert wording is not None
    return certify_claim(key, *wording, instance)


def rational_rows(rng: np.random.Generator, rows: int, columns: int) -> list[list[Fraction]]:
    weights = rng.integers(0, 9, (rows, columns)) + np.eye(rows, columns, dtype=int)
    weights[:, 0] += weights.sum(axis=1) == 0
    return [[Fraction(int(w), int(row.sum())) for w in row] for row in weights]


def closure(rng: np.random.Generator) -> Certificate:
    sizes = [int(rng.integers(1, 5)), *rng.integers(2, 5, rng.integers(2, 5))]
    factors = [rational_rows(rng, rows, columns) for rows, columns in pairwise(sizes)]
    return issue(Certificate("seed:closure", "holds", {"factors": factors, "product": exact_product(*factors)}))


def paths(rng: np.random.Generator, *, skip: bool) -> Certificate:
    n, d, L, H = (int(rng.integers(least, most + 1)) for least, most in ((2, 4), (1, 3), (1, 3), (1, 2)))
    P = stochastic_rationals(rng.dirichlet(np.ones(n), (L, H, n)))
    W, bias = rng.integers(-4, 5, (L, H, d, d)), rng.integers(-3, 4, (L, d))
    factor = Fraction(int(rng.choice([-3, -2, -1, 1, 2, 3])), 2) if skip else None
    return path_certificate(rng.normal(size=(n, d)), P, W, bias, skip=factor)


def path_certificate(X: Any, P: Any, W: Any, bias: Any, skip: Any = None) -> Certificate:
    """dong2021:2.1, or dong2021:2.1-skip with a skip factor."""
    arrays = {"X": X, "P": P, "W": W, "bias": bias, "skip": skip or 0}
    exact = {name: np.vectorize(Fraction, otypes=[object])(array) for name, array in arrays.items()}
    return dong2021_2_1.certify(ArrayInstance(exact), HELD, skips=skip is not None)


def sandwich(rng: np.random.Generator) -> Certificate:
    m = int(rng.integers(2, 5))
    E = rng.uniform(0, 1.25, (int(rng.integers(1, 4)), m))
    if rng.random() < 0.5:
        return certify_arrays("dong2021:A.3", {"weights": rng.integers(1, 20, m), "E": E})
    return certify_arrays("dong2021:A.3", {"logits": rng.normal(size=m), "E": E})


def broken_sandwich(rng: np.random.Generator) -> Certificate:
    """One rare token whose logit rises by D > x*: its share grows by nearly e^D > 1 + 2D."""
    m = int(rng.integers(2, 5))
    weights = [Fraction(1, 10**6), *(Fraction(int(w)) for w in rng.integers(1, 20, m - 1))]
    E = [[float(rng.uniform(1.4, 4)), *np.zeros(m - 1)]]
    return certify_arrays("dong2021v1:A.3", {"weights": weights, "E": E}, kind="violates")


def not_a_norm(rng: np.random.Generator) -> Certificate:
    n = int(rng.integers(2, 6))
    A = np.zeros((n, n), dtype=int)
    A[0] = rng.integers(1, 30)
    return certify_arrays("dong2021:norm", {"A": A, "B": A.T}, kind="violates")


def total_variation(rng: np.random.Generator) -> Certificate:
    m = int(rng.integers(2, 6))
    return certify_arrays("own:tv", {"g": rng.normal(size=m) * 2, "weights": rng.integers(1, 30, m)})


def instance(
    rng: np.random.Generator, *, n: int | None = None, d: int | None = None, L: int | None = None, H: int | None = None
) -> Instance:
    """A random network; token spread 0.4, so that D ≤ x* and the cubic bound is in its useful range."""
    n, d = n or int(rng.integers(2, 5)), d or int(rng.integers(1, 3))
    L, H = L or int(rng.integers(1, 3)), H or int(rng.integers(1, 3))
    return Instance(
        rng.normal(size=(n, d)) * 0.4 + rng.normal(size=d),
        rng.uniform(-1, 1, (L, H, d, d)),
        rng.uniform(-1, 1, (L, H, d, d)),
        rng.normal(size=(L, H, d)),
        rng.normal(size=(L, d)),
    )


def diameter(rng: np.random.Generator) -> Certificate:
    # With two tokens on a line the tanh bound is nearly an equality, which is another test's subject.
    return registered("own:diameter", instance(rng, n=3, d=2))


def own_words(rng: np.random.Generator) -> Certificate:
    """A claim that no table knows."""
    claim = "diameter(X[1], 1) <= sum_h(norm(W[0, h], inf))*diameter(X[0], 1)"
    return certify_claim("mine:step", claim, ["L >= 1"], instance(rng, n=3, d=2))


def leaving(rng: np.random.Generator) -> Certificate:
    """A unit vector of the set near -(4, 1, 4, 4)/7: by stereographic projection, w from 1.9 to 2.1."""
    middle = (364 + rng.integers(-4, 5), 91 + rng.integers(-4, 5), 364 + rng.integers(-4, 5))
    t = [Fraction(int(k), 1000) for k in middle]
    square = sum(v * v for v in t)
    x = [*(-2 * v / (1 + square) for v in t), -abs(1 - square) / (1 + square)]
    return certify_arrays("wu2024:L13", {"x": x, "w": Fraction(int(rng.integers(190, 211)), 100)}, kind="violates")


def star(rng: np.random.Generator) -> Certificate:
    n = int(rng.integers(3, 6))
    least = Fraction(1, int(rng.integers(n + 1, 30)))
    leaves = [[least, *(1 - least if j == i else Fraction(0) for j in range(1, n))] for i in range(1, n)]
    return certify_arrays("wu2024:2-step", {"A": [[Fraction(1, n)] * n, *leaves]}, kind="violates")


def second_token(rng: np.random.Generator) -> Certificate:
    t = Fraction(int(rng.integers(11, 60)), 10)
    return wu2024_4_3_1.certify(ArrayInstance({"w": (t + 1 / t) / 2}), HELD)


FAMILIES: dict[str, Draw] = {
    "seed:closure": closure,
    "dong2021:2.1": lambda rng: paths(rng, skip=False),
    "dong2021:2.1-skip": lambda rng: paths(rng, skip=True),
    "dong2021:A.3": sandwich,
    "dong2021v1:A.3": broken_sandwich,
    "dong2021:norm": not_a_norm,
    "dong2021:2.2": lambda rng: registered("dong2021:2.2", instance(rng, H=1)),
    "dong2021:2.3": lambda rng: registered("dong2021:2.3", instance(rng)),
    "own:tv": total_variation,
    "own:diameter": diameter,
    "own:residual-inf": lambda rng: registered("own:residual-inf", instance(rng)),
    "wu2024:L13": leaving,
    "wu2024:2-step": star,
    "wu2024:4.3.1": second_token,
    "mine:step": own_words,
}


@pytest.fixture(scope="session")
def families() -> dict[str, Draw]:
    return FAMILIES


@pytest.fixture(scope="session")
def draw_instance() -> Callable[..., Instance]:
    return instance


@pytest.fixture(scope="session")
def certify_registered() -> Callable[[str, Instance], Certificate]:
    return registered


@pytest.fixture(scope="session")
def certify_paths() -> Callable[..., Certificate]:
    return path_certificate


@pytest.fixture(scope="session")
def twenty_each(made_once: Callable[[str, Callable[[Path], None]], Path]) -> dict[str, list[Certificate]]:
    """20 certificates of every family, each already accepted once by the checker."""

    def fill(folder: Path) -> None:
        for number, draw in enumerate(FAMILIES.values()):
            rng = np.random.default_rng(number)
            for k in range(20):
                draw(rng).save(folder / f"{number}-{k}.json")

    folder = made_once("twenty each", fill)
    return {
        key: [Certificate.load(folder / f"{number}-{k}.json") for k in range(20)] for number, key in enumerate(FAMILIES)
    }
