"""Sizes in balls hold those of every member of a wide ball, and of an exact matrix to all their digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb

from rankmath.arithmetic.balls import Balls, precision
from rankmath.linalg import norms
from rankmath.linalg.exact_residuals import log_diameter, log_residual
from rankmath.linalg.residuals import residual

A = Balls()


def wide(middle: Any, radius: Any) -> Any:
    return np.vectorize(arb, otypes=[object])(middle, radius)


def symmetric(M: Any) -> Any:
    return (M + M.T) / 2


def pairs(X: Any, p: float) -> float:
    return float(np.linalg.norm(X[:, None] - X[None], p, axis=-1).max())


#: In balls, and in doubles.
SIZES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], float]]] = {
    "one": (lambda M: norms.norm_one(M, A), lambda M: np.linalg.norm(M, 1)),
    "inf": (lambda M: norms.norm_inf(M, A), lambda M: np.linalg.norm(M, np.inf)),
    "max": (lambda M: norms.norm_max(M, A), lambda M: abs(M).max()),
    "frobenius": (lambda M: norms.frobenius(M, A), np.linalg.norm),
    "composite": (lambda M: norms.composite(M, A), lambda M: (np.linalg.norm(M, 1) * np.linalg.norm(M, np.inf)) ** 0.5),
    "spectral": (lambda M: norms.spectral(M, A), lambda M: np.linalg.norm(M, 2)),
    "form": (lambda M: norms.bilinear_norm(M, np.inf, A).value, lambda M: norms.bilinear_norm(M, np.inf).value),
    "least eigenvalue": (
        lambda M: norms.symmetric_extremes(symmetric(M), A)[0],
        lambda M: np.linalg.eigvalsh(symmetric(M))[0],
    ),
    "largest eigenvalue": (
        lambda M: norms.symmetric_extremes(symmetric(M), A)[1],
        lambda M: np.linalg.eigvalsh(symmetric(M))[-1],
    ),
    **{
        f"diameter {p}": (lambda M, p=p: log_diameter(A, M, p).exp(), lambda M, p=p: pairs(M, p))
        for p in (1, 2, np.inf)
    },
    **{
        f"residual {kind}": (
            lambda M, kind=kind: log_residual(A, M - A.mean_row(M), kind).exp(),
            lambda M, kind=kind: residual(M, kind).value,
        )
        for kind in ("one", "inf", "composite", "frobenius")
    },
}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("scale", [1e-2, 1e-9])
def test_a_wide_ball_holds_the_sizes_of_its_members(name: str, scale: float) -> None:
    enclosed, of = SIZES[name]
    rng = np.random.default_rng(len(name))
    for _ in range(3):
        middle, radius = rng.normal(size=(3, 3)), scale * rng.uniform(0, 1, (3, 3))
        with precision(80):
            found = enclosed(wide(middle, radius))
        assert found.is_finite()
        assert float(found.rad()) < 60 * scale
        for _ in range(20):
            member = of(middle + radius * rng.choice([-1, 1], (3, 3)))
            assert abs(float(found.mid()) - member) <= float(found.rad()) + 1e-13


@pytest.mark.parametrize(("kind", "shape"), [("one", (8, 2)), ("inf", (2, 8)), ("composite", (8, 2))])
def test_a_residual_moves_by_sums_of_its_own_kind(kind: Any, shape: tuple[int, int]) -> None:
    """All entries outward, or inward, of one column for the largest column sum, of one row for the row sum."""
    middle = np.random.default_rng(2).normal(size=shape)
    radius = np.zeros(shape)
    radius[(slice(None), 0) if kind != "inf" else 0] = 1e-3
    middle[radius > 0] *= 9
    with precision(80):
        found = log_residual(A, wide(middle, radius), kind).exp()
    sides = np.sign(middle - residual(middle, kind).center)
    for turn in (1, -1):
        member = residual(middle + turn * radius * sides, kind).value
        assert abs(member - residual(middle, kind).value) > 2e-3
        assert abs(float(found.mid()) - member) <= float(found.rad()) + 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_spectra_of_exact_matrices_are_enclosed_beyond_the_digits_of_doubles(seed: int) -> None:
    """The directions are doubles, orthogonal to sixteen digits; what that costs is inside the enclosure."""
    M = np.random.default_rng(seed).integers(-9, 10, (3, 3)).astype(float)
    with mpmath.workdps(60), precision(200):
        sigma = max(mpmath.svd_r(mpmath.matrix(M.tolist()), compute_uv=False))
        eigen = mpmath.eigsy(mpmath.matrix((M + M.T).tolist()), eigvals_only=True)
        exact = A.asarray(M)
        low, high = norms.symmetric_extremes(exact + exact.T, A)
        for found, true in ((norms.spectral(exact, A), sigma), (low, min(eigen)), (high, max(eigen))):
            assert found.contains(arb(mpmath.nstr(true, 55)))
            assert float(found.rad()) < 1e-12


@pytest.mark.parametrize("scale", [1.0, 0.9, 1.05])
def test_directions_are_only_guessed(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the doubles say of singular vectors, turned or too short, the enclosures hold."""
    M = np.array([[4.0, 1, 0.5], [1, -3, 0.25], [0.5, 0.25, 1]])
    turn = np.linalg.qr(np.eye(3) + 0.1 * np.random.default_rng(0).normal(size=(3, 3)))[0]
    svd, eigh = np.linalg.svd, np.linalg.eigh
    monkeypatch.setattr(np.linalg, "svd", lambda W: (*svd(W)[:2], scale * svd(W)[2] @ turn))
    monkeypatch.setattr(np.linalg, "eigh", lambda S: (eigh(S)[0], scale * eigh(S)[1] @ turn))
    values = np.linalg.eigvalsh(M)
    with precision(80):
        low, high = norms.symmetric_extremes(A.asarray(M), A)
        for found, true in ((norms.spectral(A.asarray(M), A), abs(values).max()), (low, values[0]), (high, values[-1])):
            assert abs(float(found.mid()) - true) <= float(found.rad()) + 1e-12
            assert float(found.rad()) < 2


def test_the_norms_of_a_matrix_and_its_transpose() -> None:
    with precision(80):
        M = wide([[1.0, -2.0, 0.5], [3.0, 4.0, -1.0]], 0.25)
        assert norms.norm_one(M, A).contains(6.5)  # 3 + 1/4 and 2 + 1/4 in one column, 4 + 2 in the other
        assert norms.norm_inf(M, A).contains(8.75)
        assert not norms.norm_one(M, A).contains(6.6)
        assert not norms.norm_inf(M, A).contains(8.8)
        assert norms.norm_max(M, A).contains(4.25)
        assert not norms.norm_max(M, A).contains(3.7)
