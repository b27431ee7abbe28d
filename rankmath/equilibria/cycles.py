"""Stable periodic orbits under LayerNorm: tokens that exchange places, layer after layer.

A mask that a permutation of the tokens does not change makes F commute with it. So F(X) = X[order] gives
Fᵗ(X) = X[orderᵗ], an orbit whose period is that of the permutation. W_V = (A X)⁺ D X[order] makes it so, for any X
with A(X) X of full row rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from rankmath.attention.backend import Backend
from rankmath.equilibria.certify import EquilibriumProof, as_order, certify_equilibrium
from rankmath.equilibria.constructions import on_grid
from rankmath.equilibria.equilibrium import Equilibrium
from rankmath.equilibria.map import Floats, jacobian, layer, newton, reordered
from rankmath.equilibria.search import stable_search
from rankmath.equilibria.wu2024 import LARGEST
from rankmath.linalg.masks import Mask
from rankmath.model.network import Network
from rankmath.validation import as_count

_LEAST_SINGULAR_VALUE = 0.2
_ATTEMPTS = 5


@dataclass(frozen=True, eq=False)
class Cycle:
    """Tokens with F(X) = X[order] up to rounding, under the complete mask on the sphere; `certify` proves it."""

    X: Floats
    W_V: Floats
    W_QK: Floats
    order: tuple[int, ...]

    @property
    def _frame(self) -> Equilibrium:
        return Equilibrium(X=self.X, W_V=self.W_V, W_QK=self.W_QK, mask=Mask.complete(len(self.X)), rank=self.rank)

    @property
    def network(self) -> Network:
        """One layer with these weights, for `limit` and `basins`."""
        return self._frame.network

    @property
    def rank(self) -> int:
        """All tokens are independent."""
        return len(self.X)

    @property
    def period(self) -> int:
        """The period of the permutation."""
        return len(self.states)

    @cached_property
    def states(self) -> tuple[Floats, ...]:
        """X, X[order], X[order][order], …, one period."""
        found = [self.X]
        while not np.array_equal(found[-1][list(self.order)], self.X):
            found.append(found[-1][list(self.order)])
        return tuple(found)

    @cached_property
    def residual(self) -> float:
        """Largest entry of |F(X) − X[order]|."""
        return float(np.abs(layer(self.X, *self._frame.system) - self.X[list(self.order)]).max())

    @cached_property
    def spectral_radius(self) -> float:
        """Of F followed by the way back, at X: its p-th power is that of F^p along the orbit."""
        J = jacobian(self.X, *self._frame.system)
        return float(np.abs(np.linalg.eigvals(reordered(J, np.array(self.order), self.X.shape[1]))).max())

    def certify(self) -> EquilibriumProof:
        """Prove in balls that the orbit exists, its rank, and that it attracts a ball of starts."""
        given = (self.X, self.W_V, self.W_QK, "complete")
        return certify_equilibrium(*given, rank=self.rank, stable=True, order=self.order)


def stable_cycle(
    tokens: int,
    seed: int = 0,
    *,
    order: Sequence[int] | None = None,
    restarts: int = 60,
    backend: Backend = "numpy",
    progress: Callable[[int, float], None] | None = None,
) -> Cycle:
    """A stable periodic orbit of n independent tokens in n dimensions under the complete mask.

    Parameters
    ----------
    order : F(X) = X[order]; by default every token moves on to the place of the next, and the period is n.
    backend : "cupy" computes the gradients of the search on a GPU.
    progress : called with the restart's number and the smallest spectral radius so far.

    Examples
    --------
    >>> cycle = stable_cycle(3)
    >>> cycle.period, cycle.residual < 1e-13, cycle.spectral_radius < 1
    (3, True, True)
    >>> cycle.certify().proved
    True
    """
    n = as_count("tokens", tokens, least=2, most=LARGEST)
    seed = as_count("seed", seed, least=0)
    mask = Mask.complete(n)
    places = as_order([*range(1, n), 0] if order is None else order, mask)
    smallest = np.inf
    for attempt in (seed, *np.random.SeedSequence(seed).generate_state(_ATTEMPTS).tolist()):
        search = partial(stable_search, restarts=restarts, order=places, backend=backend, progress=progress)
        found = search(mask, list(range(n)), seed=attempt, least_singular_value=_LEAST_SINGULAR_VALUE)
        smallest = min(smallest, found.radius)
        W_V, W_QK = on_grid(found.W_V), on_grid(found.W)
        X = newton(found.X, W_V, W_QK, mask.allowed.astype(float), "sphere", order=np.array(places))
        # Some designs are so close to a shear that rounding the weights moves the tokens away.
        if found.radius < 1 and X is not None and np.abs(X - found.X).max() < 1e-2:
            return Cycle(X=X, W_V=W_V, W_QK=W_QK, order=places)
    raise RuntimeError(f"no stable cycle found in {_ATTEMPTS + 1} searches; smallest spectral radius {smallest:.4f}")
