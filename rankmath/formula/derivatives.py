"""The derivative of the first layer by formula, in any arithmetic, and what is measured of it.

Let m_i = Σ_j P_ij x_j, q_i = (x_i W_QK + k)/√d_qk, and K_i the covariance of the tokens under row i of P.
The derivative of token i after the layer in token k before it is P_ik (W + q_iᵀ(x_k − m_i)W), and for k = i more by
W_QK K_i W/√d_qk + skip I; heads add up.
"""

from __future__ import annotations

import numpy as np

from rankmath.formula.evaluate import Scalar
from rankmath.formula.language import fast
from rankmath.formula.run import Run
from rankmath.linalg import norms
from rankmath.validation import Array


def block(run: Run, k: int, i: int) -> Array:
    """The derivative of token i after the first layer in token k of the input, (..., d, d), rows the input."""
    A, net, X = run.A, run.net, run.plain_tokens(0)
    root = run.root if A.unbounded else np.asarray(run.root)[..., None, None]
    total: Array = 0
    for h in range(net.heads):
        P, W, M = run.attention(0, h), run.weight("W", 0, h), run.weight("W_QK", 0, h)
        row, x = P[..., i : i + 1, :], X[..., i : i + 1, :]
        q = A.matmul(x, M)
        if net.key_bias is not None:
            q = q + A.asarray(net.key_bias[0, h][..., None, :])
        R = X - A.matmul(row, X)
        part = W + A.matmul(A.transpose(q) / root, A.matmul(R[..., k : k + 1, :], W))
        total = total + P[..., i : i + 1, k : k + 1] * part
        if k == i:
            covariance = A.matmul(A.transpose(R), A.transpose(row) * R)
            total = total + A.matmul(A.matmul(M, covariance), W) / root
    if k == i and net.skip:
        total = total + A.asarray(float(net.skip) * np.eye(net.dim))
    return total


def jacobian(run: Run) -> Array:
    """All blocks, (..., nd, nd): rows are entries of the input, columns entries of the output."""
    n = int(run.X.shape[-2])
    rows = [run.A.concat([block(run, k, i) for i in range(n)], axis=-1) for k in range(n)]
    return run.A.concat(rows, axis=-2)


@fast("jacobian_norm")
def jacobian_norm(run: Run) -> Scalar:
    return run.number(norms.spectral(jacobian(run), run.A))


@fast("influence")
def influence(run: Run, k: int) -> Scalar:
    return run.number(norms.spectral(block(run, k, int(run.X.shape[-2]) - 1), run.A))
