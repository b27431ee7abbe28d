"""The map X ↦ N(A(X) X W_V) and its Jacobian over boxes: enclosures of all true values.

Differences of tokens are formed before anything is multiplied by them (x_k − Σ_j A_ij x_j = Σ_j A_ij (x_k − x_j)),
and attention is 1/Σ exp(differences of logits): on a wide box this keeps the enclosures near the true ranges.
Squares are written x * x: a power of a ball around zero is not a number in python-flint.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import arb, arb_mat

from rankmath.equilibria.map import Floats


@dataclass(frozen=True, eq=False)
class Factors:
    """∂F_i/∂x_k = A_ik (S + qᵀ z_k) for k ≠ i that are seen, and `own` for k = i; d × d, entries of x_k down."""

    i: int
    seen: tuple[int, ...]
    A: tuple[arb, ...]
    q: arb_mat
    S: arb_mat
    Z: arb_mat
    own: arb_mat

    def block(self, s: int) -> arb_mat:
        """A_ik (S + qᵀ z_k) for the s-th token that is seen."""
        return (self.S + self.q.transpose() * row_of(self.Z, s)) * self.A[s]


@dataclass(frozen=True, eq=False)
class BallMap:
    """F(X) = N(A(X) X W_V) with A_ij ∝ weights_ij exp(x_i W x_jᵀ), W = W_QK/√d_qk; run inside `precision(bits)`.

    With an ``order`` it is G, where G(X)[order] = F(X): the fixed points of G are the X with F(X) = X[order].
    """

    W_V: arb_mat
    W: arb_mat
    weights: Sequence[Sequence[int]]
    norm: str
    order: tuple[int, ...] | None = None

    def layer(self, X: arb_mat) -> arb_mat:
        """An enclosure of F on the box X."""
        image = [row * scale for row, scale in self._rows(self._attention(X) * X * self.W_V)]
        rows = [row for _, row in sorted(zip(self._places(len(image)), image, strict=True), key=lambda pair: pair[0])]
        return arb_mat(len(rows), X.ncols(), [x for row in rows for x in row.entries()])

    def jacobian(self, X: arb_mat) -> arb_mat:
        """An enclosure of DF on the box X, an nd × nd matrix on row-stacked tokens."""
        n, d = X.nrows(), X.ncols()
        A = self._attention(X)
        out: list[arb] = [arb(0)] * (n * d) ** 2
        places = self._places(n)
        for i, (row, scale) in enumerate(self._rows(A * X * self.W_V)):
            # The derivative of y ↦ scale·y at the (centred) row is (I − n̂ᵀn̂)·scale, on the right.
            unit = row * (scale / self._radius(d))
            tangent = (self._centring(d) - unit.transpose() * unit) * scale
            offsets = self._offsets(X, A, i)
            spread = offsets * self.W_V
            query = row_of(X, i) * self.W
            weighted = arb_mat(n, d, [A[i, k] * spread[k, b] for k in range(n) for b in range(d)])
            covariance = offsets.transpose() * weighted
            for k in range(n):
                if not self.weights[i][k] and k != i:
                    continue
                block = query.transpose() * row_of(weighted, k) + self.W_V * A[i, k]
                if k == i:
                    block = block + self.W * covariance
                entries = (block * tangent).entries()
                for a in range(d):
                    for b in range(d):
                        out[(places[i] * d + b) * n * d + k * d + a] = entries[a * d + b]
        return arb_mat(n * d, n * d, out)

    def layer_at(self, X: arb_mat) -> arb_mat:
        """`layer` with one exponential a pair: for points and narrow boxes."""
        rows = [unit * self._radius(X.ncols()) for _, _, unit, _ in self._attended(X)]
        return arb_mat(X.nrows(), X.ncols(), [x for row in rows for x in row.entries()])

    def factors(self, X: arb_mat) -> Iterator[Factors]:
        """The derivative of every token over a narrow box X: the formula of `jacobian`, one exponential a pair."""
        d = X.ncols()
        queries, keys, V = X * self.W, X * self.W.transpose(), X * self.centred_values()
        for i, (seen, A, unit, length) in enumerate(self._attended(X)):
            tangent = (self._centring(d) - unit.transpose() * unit) * (self._radius(d) / length)
            mean = [sum((a * V[j, b] for a, j in zip(A, seen, strict=True)), arb(0)) for b in range(d)]
            spread = arb_mat(len(seen), d, [V[j, b] - mean[b] for j in seen for b in range(d)]) * tangent
            weighted = arb_mat(len(seen), d, [a * spread[s, b] for s, a in enumerate(A) for b in range(d)])
            own = submatrix(keys, seen, range(d)).transpose() * weighted
            found = Factors(i, tuple(seen), tuple(A), row_of(queries, i), self.W_V * tangent, spread, own)
            yield replace(found, own=own + found.block(seen.index(i))) if i in seen else found

    def _attended(self, X: arb_mat) -> Iterator[tuple[list[int], list[arb], arb_mat, arb]]:
        """For each token: whom it sees, with which attention, and its (centred) image as unit row and length."""
        n = X.nrows()
        queries, V = X * self.W, X * self.centred_values()
        for i in range(n):
            seen = [j for j in range(n) if self.weights[i][j]]
            logits = (submatrix(X, seen, range(X.ncols())) * row_of(queries, i).transpose()).entries()
            top = max(logits, key=lambda x: x.mid()).mid()
            powers = [self.weights[i][j] * (x - top).exp() for j, x in zip(seen, logits, strict=True)]
            total = sum(powers, arb(0))
            A = [x / total for x in powers]
            y = arb_mat(1, len(seen), A) * submatrix(V, seen, range(X.ncols()))
            length = sum((x * x for x in y.entries()), arb(0)).sqrt()
            yield seen, A, y * (1 / length), length

    def centred_values(self) -> arb_mat:
        """W_V, followed by the centring under standard LayerNorm: F keeps a subspace that this matrix keeps."""
        return self.W_V * self._centring(self.W_V.ncols())

    def _places(self, n: int) -> Sequence[int]:
        """Where the image of each token stands."""
        return range(n) if self.order is None else self.order

    def _attention(self, X: arb_mat) -> arb_mat:
        n, d = X.nrows(), X.ncols()
        queries = X * self.W
        entries: list[arb] = [arb(0)] * n**2
        for i in range(n):
            seen = [j for j in range(n) if self.weights[i][j]]
            query = row_of(queries, i).transpose()
            for j in seen:
                gaps = arb_mat(len(seen), d, [_gap(X, m, j, a) for m in seen for a in range(d)]) * query
                total = sum((self.weights[i][m] * gaps[s, 0].exp() for s, m in enumerate(seen)), arb(0))
                entries[i * n + j] = self.weights[i][j] / total
        return arb_mat(n, n, entries)

    def _offsets(self, X: arb_mat, A: arb_mat, i: int) -> arb_mat:
        """Row k: x_k − Σ_j A_ij x_j."""
        n, d = X.nrows(), X.ncols()
        seen = [j for j in range(n) if self.weights[i][j]]
        weights = arb_mat(1, len(seen), [A[i, j] for j in seen])
        rows = [
            (weights * arb_mat(len(seen), d, [_gap(X, k, j, a) for j in seen for a in range(d)])).entries()
            for k in range(n)
        ]
        return arb_mat(n, d, [x for row in rows for x in row])

    def _rows(self, Y: arb_mat) -> list[tuple[arb_mat, arb]]:
        """The (centred) rows of Y, each with the factor that normalises it."""
        Y = Y * self._centring(Y.ncols())
        rows = [row_of(Y, i) for i in range(Y.nrows())]
        return [(row, self._radius(Y.ncols()) / sum((x * x for x in row.entries()), arb(0)).sqrt()) for row in rows]

    def _radius(self, d: int) -> arb:
        return arb(d).sqrt() if self.norm == "standard" else arb(1)

    def _centring(self, d: int) -> arb_mat:
        if self.norm == "sphere":
            return _diagonal([arb(1)] * d)
        return arb_mat(d, d, [arb(int(a == b)) - arb(1) / d for a in range(d) for b in range(d)])


def exact_matrix(values: Floats) -> arb_mat:
    """A float64 matrix as exact balls of radius zero."""
    rows, columns = values.shape
    return arb_mat(rows, columns, [arb(float(v)) for v in values.ravel()])


def middle_floats(M: arb_mat) -> Floats:
    """Midpoints as doubles: for guidance only, never for a proof."""
    return np.array([float(x.mid()) for x in M.entries()]).reshape(M.nrows(), M.ncols())


def box(centre: arb_mat, radii: Sequence[arb]) -> arb_mat:
    """The box centre ± radii, entry by entry."""
    widened = [arb(x.mid(), r) for x, r in zip(centre.entries(), radii, strict=True)]
    return arb_mat(centre.nrows(), centre.ncols(), widened)


def identity(size: int) -> arb_mat:
    """The identity matrix."""
    return _diagonal([arb(1)] * size)


def submatrix(M: arb_mat, rows: Sequence[int], columns: Sequence[int]) -> arb_mat:
    """The rows and columns named, in that order."""
    return arb_mat(len(rows), len(columns), [M[i, j] for i in rows for j in columns])


def maximum(values: Sequence[arb]) -> arb:
    """An upper bound of all |values|, exact zero for none."""
    largest = arb(0)
    for value in values:
        largest = largest.max(value.abs_upper())
    return largest


def row_sum_norm(M: arb_mat) -> arb:
    """An upper bound of ‖M‖_∞, the largest row sum of absolute values."""
    width = M.ncols()
    sizes = [x.abs_upper() for x in M.entries()]
    return maximum([sum(sizes[i * width : (i + 1) * width], arb(0)) for i in range(M.nrows())])


def euclidean(values: Sequence[arb]) -> arb:
    """An upper bound of √Σ value²."""
    return sum((x.abs_upper() * x.abs_upper() for x in values), arb(0)).sqrt().abs_upper()


def is_positive_definite(M: arb_mat) -> bool:
    """Whether every symmetric matrix in the box is positive definite, proved by an LDLᵀ elimination in balls."""
    rows = M.tolist()
    for k in range(len(rows)):
        pivot = rows[k][k]
        if not pivot > 0:
            return False
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / pivot
            for j in range(i, len(rows)):
                rows[j][i] = rows[j][i] - rows[j][k] * factor
    return True


def spectral_norm(M: arb_mat) -> arb:
    """An upper bound of ‖M‖₂ over the box M₀ ± Δ: t + min(√(‖Δ‖₁‖Δ‖_∞), ‖Δ‖_F), where t² I − M₀ᵀM₀ ≻ 0 is proved.

    >>> bound = spectral_norm(exact_matrix(np.array([[3.0, 0.0], [4.0, 0.0]])))
    >>> bound >= 5 and bound < 5.01
    True
    """
    if not all(x.is_finite() for x in M.entries()):
        return arb.pos_inf()
    centre, slack = M.mid(), spread(M)
    guess = float(np.linalg.norm(middle_floats(centre), 2))
    t = arb(guess * (1 + 1e-9) + 1e-30)
    gram = centre.transpose() * centre
    if not is_positive_definite(identity(M.ncols()) * (t * t) - gram):
        return arb.pos_inf()
    return (t + slack).abs_upper()


def spread(M: arb_mat) -> arb:
    """An upper bound of ‖Δ‖₂ for the box M₀ ± Δ: min(√(‖Δ‖₁‖Δ‖_∞), ‖Δ‖_F)."""
    radii = arb_mat(M.nrows(), M.ncols(), [x.rad() for x in M.entries()])
    return (row_sum_norm(radii) * row_sum_norm(radii.transpose())).sqrt().min(euclidean(radii.entries()))


def _gap(X: arb_mat, i: int, j: int, a: int) -> arb:
    """x_i − x_j in coordinate a; a token's distance to itself is zero, which subtracting balls does not see."""
    return arb(0) if i == j else X[i, a] - X[j, a]


def row_of(M: arb_mat, i: int) -> arb_mat:
    """Row i, as a matrix."""
    return arb_mat(1, M.ncols(), [M[i, a] for a in range(M.ncols())])


def _diagonal(values: Sequence[arb]) -> arb_mat:
    out = arb_mat(len(values), len(values))
    for i, value in enumerate(values):
        out[i, i] = value
    return out
