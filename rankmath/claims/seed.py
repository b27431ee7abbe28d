"""seed:closure: what everything stands on."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import certify_closure
from rankmath.claims.instance import ArrayInstance
from rankmath.claims.statement import Exact, Statement
from rankmath.claims.verdict import Verdict
from rankmath.linalg.stochastic import exact_product, is_row_stochastic
from rankmath.validation import InvalidArgument


def closure_instance(*matrices: Any) -> ArrayInstance:
    """Square row-stochastic matrices of one size, of Fractions, integers or floats that sum to one exactly."""
    if not matrices:
        raise InvalidArgument("matrices: none given; at least one row-stochastic matrix is needed")
    for k, P in enumerate(matrices):
        if not is_row_stochastic(P, tolerance=0):
            raise InvalidArgument(
                f"matrices: number {k} is not exactly row-stochastic; use Fractions or dyadic floats"
            )
    return ArrayInstance({"P": _boxed(matrices)})


def _boxed(matrices: Sequence[Any]) -> np.ndarray[Any, Any]:
    return np.asarray([[[Fraction(x) for x in row] for row in P] for P in matrices], dtype=object)


def decide_closure(instance: ArrayInstance) -> Exact:
    """Multiply in exact rationals; entries ≥ 0 and row sums 1, or not."""
    product = exact_product(*(P.tolist() for P in instance["P"]))
    holds = is_row_stochastic(product, tolerance=0)
    return Exact(holds, f"product of {len(instance['P'])} matrices, in exact rationals")


def draw_closure(rng: np.random.Generator, size: int) -> ArrayInstance:
    """Products of 2 to 6 rational matrices, extremes included: identity, rank one, permutations, reducible."""
    n, length = int(rng.integers(1, 6)), int(rng.integers(2, 7))
    return ArrayInstance({"P": np.stack([_random_product(rng, n, length) for _ in range(size)])}, is_batch=True)


def _random_product(rng: np.random.Generator, n: int, length: int) -> np.ndarray[Any, Any]:
    return np.stack([rational_stochastic(rng, n) for _ in range(length)])


def rational_stochastic(rng: np.random.Generator, n: int) -> np.ndarray[Any, Any]:
    """A random row-stochastic matrix of Fractions."""
    kind = rng.integers(5)
    if kind == 0:
        weights = np.eye(n, dtype=int)
    elif kind == 1:
        weights = np.tile(rng.integers(1, 20, n), (n, 1))
    elif kind == 2:
        weights = np.eye(n, dtype=int)[rng.permutation(n)]
    elif kind == 3:
        weights = 10**9 * np.eye(n, dtype=int) + rng.integers(0, 2, (n, n))
    else:
        weights = rng.integers(0, 100, (n, n)) + np.eye(n, dtype=int)
    return np.asarray([[Fraction(int(w), int(row.sum())) for w in row] for row in weights], dtype=object)


def certificate_of(instance: ArrayInstance, verdict: Verdict) -> Certificate:
    return certify_closure([P.tolist() for P in instance["P"]])


STATEMENTS = (
    Statement(
        key="seed:closure",
        title="Row-stochastic matrices are closed under products",
        claim=r"P^1,\dots,P^L \text{ row-stochastic} \implies P^L\cdots P^1 \text{ row-stochastic}",
        source="folklore; used throughout Dong, Cordonnier and Loukas 2021",
        status="proved",
        truth="proofs/seed_closure.tex",
        instance=closure_instance,
        decide=decide_closure,
        draws=(draw_closure,),
        certificate=certificate_of,
    ),
)
