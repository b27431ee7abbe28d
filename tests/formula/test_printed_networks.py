"""Claims about networks, read from print: a reader that knows only what is printed agrees with the judge.

A sign is read by the sentence that is printed with it: whoever changes a sentence must say here what it means. The
networks are small and at boundaries: one token, one dimension, masks without self-loops, negative skips, zero
weights, each bias alone. What sentences and words mean is computed from the layer as a person writes it down.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest

from rankmath.arithmetic.float64 import Float64
from rankmath.claims import statements
from rankmath.definitions.entries import ENTRIES as ENTRIES_OF_LANGUAGE
from rankmath.formula import printing
from rankmath.formula.evaluate import sides
from rankmath.formula.run import Run
from rankmath.model.network import MLP, Attention, LayerNorm, Network, Sublayer
from rankmath.model.positions import PositionTable, Rotary
from rankmath.report.fragments import notation
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from tests.formula import test_printed_words as words


class Close(ArithmeticError):
    """Both sides agree within rounding, or there is no such number."""


class NotMet(Exception):
    """A premise fails: a number that it speaks of does not exist."""


@dataclass
class Written:
    """A network as a person writes it down, all layers alike, and its input."""

    X: Any
    weights: dict[str, Any]
    layers: int = 1
    skip: float = 0.0
    sees: Any = None
    norm: Any = None
    biases: dict[str, Any] = field(default_factory=dict)
    before: bool = False
    choices: dict[str, Any] = field(default_factory=dict)
    #: W₁, W₂, b₁, b₂ and the factor a of x ↦ max(xW₁ + b₁, 0)W₂ + b₂ + ax.
    map: Any = None
    #: Which of the rows that minimise ‖X − 1xᵀ‖_{1,∞} is meant, the first or the last.
    pick: int = 0

    seen_as, added_as, zero = words.Written.seen_as, words.Written.added_as, words.Written.zero
    edges = words.Written.edges
    GAIN, EPS = 1.5, 0.25
    known: dict[Any, Any] = field(default_factory=dict)
    #: Both sides of all relations that were read, the lesser side first.
    sides_read: list[tuple[float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tokens, self.dim = self.X.shape
        self.heads = len(self.weights["W_Q"])
        self.mask = np.ones((self.tokens, self.tokens), bool) if self.sees is None else self.sees
        self.d_qk = self.weights["W_Q"].shape[-1]
        self.activation = None if self.map is None else "relu"

    def network(self) -> Network:
        attention = Attention.from_qkvo(**self.weights, **self.biases, mask=self.sees, **self.choices)
        gain = {"gain": np.full(self.dim, self.GAIN), "eps": self.EPS} if self.norm == "rms" else {}
        norm = LayerNorm(self.norm, **gain) if self.norm else None
        layer = [Sublayer(attention, self.skip, norm if self.before else None)]
        if self.map is not None:
            *given, a = self.map
            layer.append(Sublayer(MLP(*given), a))
        layer[-1] = replace(layer[-1], after=None if self.before else norm)
        return Network.from_layers([layer] * self.layers)

    def sides(self, Y: Any, h: int) -> list[Any]:
        """Queries and keys of the tokens Y: with biases, normed, turned."""
        found = []
        for side, gain in (("Q", 0), ("K", 1)):
            part = Y @ self.weights[f"W_{side}"][h] + (self.biases.get(f"b_{side}", np.zeros((h + 1, 1)))[h])
            if "qk_norm" in self.choices:
                gains, eps = self.choices["qk_norm"][gain], self.choices["qk_norm"][2]
                part = part / np.sqrt((part**2).mean(axis=1, keepdims=True) + eps) * gains
            if "rotary" in self.choices:
                turns = self.choices["rotary"]
                c, s = (np.asarray(a)[: len(part)] for a in (turns.cos, turns.sin))
                part = np.column_stack([part[:, :1] * c - part[:, 1:] * s, part[:, 1:] * c + part[:, :1] * s])
            found.append(part)
        return found

    def logits(self, Y: Any, h: int) -> Any:
        Q, K = self.sides(Y, h)
        S = Q @ K.T / math.sqrt(self.d_qk)
        if "softcap" in self.choices:
            S = self.choices["softcap"] * np.tanh(S / self.choices["softcap"])
        return S + self.added(h)

    def added(self, h: int) -> Any:
        return self.choices["position"].values[h] if "position" in self.choices else np.zeros(self.mask.shape)

    def shares(self, Y: Any, h: int) -> Any:
        S = self.logits(Y, h)
        S = S - np.where(self.mask, S.real, -np.inf).max(axis=1, keepdims=True)
        e = np.where(self.mask, np.exp(np.where(self.mask, S, 0.0)), 0.0)
        return e / e.sum(axis=1, keepdims=True)

    def read(self, X: Any) -> Any:
        return self.normed(X) if self.before else X

    def made(self, X: Any) -> Any:
        """What a layer makes of tokens before a map and a LayerNorm."""
        return self.skip * X + self.attended(self.read(X))

    def attended(self, Y: Any) -> Any:
        b = self.biases
        made = np.asarray(b.get("b_O", 0.0))
        for h in range(self.heads):
            values = Y @ self.weights["W_V"][h] + (b["b_V"][h] if "b_V" in b else 0.0)
            made = made + self.shares(Y, h) @ values @ self.weights["W_O"][h]
        return made

    def layer(self, X: Any) -> Any:
        Y = self.made(X)
        if self.map is not None:
            W, V, b, c, a = self.map
            Y = np.maximum(Y @ W + b, 0.0) @ V + c + a * Y
        return Y if self.before else self.normed(Y)

    def normed(self, X: Any) -> Any:
        match self.norm:
            case "sphere":
                lengths = np.linalg.norm(X, axis=1, keepdims=True)
                if not (lengths > 1e-9).all():
                    raise Close  # a zero token has no direction
                return X / lengths
            case "column":
                return (X - X.mean(axis=0)) / deviations(X)
            case "rms":
                return X / np.sqrt((X**2).mean(axis=1, keepdims=True) + self.EPS) * self.GAIN
        return X

    @cached_property
    def X_(self) -> list[Any]:
        """The tokens before each layer and at the end."""
        found = [self.normed(self.X) if self.norm == "sphere" else self.X]
        for _ in range(self.layers):
            found.append(self.layer(found[-1]))
        return found

    def P(self, l: int, h: int) -> Any:
        if (l, h) not in self.known:
            self.known[l, h] = self.shares(self.read(self.X_[l]), h)
        return self.known[l, h]

    def agreed(self, l: int) -> Any:
        return np.repeat(self.read(self.X_[l])[:1], self.tokens, axis=0)

    def W(self, h: int) -> Any:
        return self.weights["W_V"][h] @ self.weights["W_O"][h]

    def W_QK(self, h: int) -> Any:
        return self.weights["W_Q"][h] @ self.weights["W_K"][h].T

    @cached_property
    def longer(self) -> Written:
        """The same network on the input whose last token is repeated."""
        X, sees = np.vstack([self.X, self.X[-1:]]), np.tri(self.tokens + 1, dtype=bool)
        return replace(self, X=X, sees=sees, known={}, sides_read=[])

    @cached_property
    def derivative(self) -> Any:
        """∂X¹/∂X⁰, entry (i, a, j, b), by a complex step."""
        found = np.empty((*self.X.shape, *self.X.shape))
        for place in np.ndindex(self.X.shape):
            X = self.X.astype(complex)
            X[place] += 1e-30j
            found[(..., *place)] = self.made(X).imag / 1e-30
        return found


def deviations(X: Any) -> Any:
    found = X.std(axis=0)
    return np.where(found < 1e-14, 1.0, found)


def cancels(w: Written) -> bool:
    b = w.biases
    added = sum(np.asarray(b["b_V"])[h] @ w.weights["W_O"][h] for h in range(w.heads)) if "b_V" in b else 0.0
    return not np.any(added + np.asarray(b.get("b_O", 0.0)))


#: Hypotheses in words.
WORDS: dict[str, Callable[[Any], bool]] = {
    **words.CONVENTIONS,
    "no bias of values or outputs (Σ_h b_V W_O + b_O = 0)": cancels,
}


# -- what sentences mean -------------------------------------------------------------------------------------


def walks(mask: Any, k: int) -> Any:
    return np.linalg.matrix_power((mask | np.eye(len(mask), dtype=bool)).astype(int), k) > 0


def centers(w: Written) -> list[int]:
    return [c for c in range(w.tokens) if walks(w.mask, w.tokens)[:, c].all()]


def steps(w: Written, c: int) -> int:
    """Least number of steps, at least 1, in which token c reaches all."""
    return next(k for k in range(1, w.tokens + 1) if walks(w.mask, k)[:, c].all())


def radius(w: Written) -> int:
    return min((steps(w, c) for c in centers(w)), default=1)


def diameter(X: Any, p: float) -> float:
    return max(float(np.linalg.norm(x - y, p)) for x in X for y in X)


def columns(M: Any) -> float:
    return float(abs(M).sum(axis=0).max())


def rows(M: Any) -> float:
    return float(abs(M).sum(axis=1).max())


def spectral(M: Any) -> float:
    return float(np.linalg.norm(M, 2))


def frobenius(M: Any) -> float:
    return float(np.linalg.norm(M))


def least(M: Any) -> float:
    return float(np.linalg.svd(M, compute_uv=False).min())


def composite(M: Any) -> float:
    return math.sqrt(columns(M) * rows(M))


def of_vectors(W: Any, p: float) -> float:
    """Norm of v ↦ vW in ℓ_p."""
    return {1: rows, 2: spectral, math.inf: columns}[p](W)


def form(W: Any, p: float) -> float:
    """Largest |uWvᵀ| over the unit ball: at its corners for 1 and ∞."""
    if p == 2:
        return spectral(W)
    ends = np.vstack([np.eye(len(W)), -np.eye(len(W))]) if p == 1 else list(itertools.product((-1, 1), repeat=len(W)))
    return max(abs(float(np.asarray(u) @ W @ np.asarray(v))) for u in ends for v in ends)


def corners(X: Any) -> Any:
    """Where the least value of a norm of X − 1xᵀ, or of the product of two, is attained.

    The largest column sum and the largest row sum are affine on the cells of an arrangement of lines, and a product
    of two positive affine functions is quasiconcave: it is least at a corner of a cell.
    """
    n, d = X.shape
    if d == 1:
        return np.array([(x + y) / 2 for x in X for y in X])
    signs, lines = list(itertools.product((-1, 1), repeat=2)), []
    lines += [(*np.eye(2)[c], X[i, c]) for i in range(n) for c in range(2)]
    for (s, x), (t, y) in itertools.combinations(itertools.product(signs, X), 2):  # two row sums agree
        lines.append((*np.subtract(s, t), s @ x - t @ y))
    below = [[np.where(np.argsort(np.argsort(x)) < k, -1, 1) for k in range(n + 1)] for x in X.T]
    for s, t in itertools.product(*below):  # two column sums agree
        lines.append((s.sum(), -t.sum(), s @ X[:, 0] - t @ X[:, 1]))
    a, b, c = np.array([line for line in lines if line[0] or line[1]]).T
    first, second = np.triu_indices(len(a), 1)
    det = a[first] * b[second] - a[second] * b[first]
    first, second, det = (part[abs(det) > 1e-12] for part in (first, second, det))
    x = (c[first] * b[second] - c[second] * b[first]) / det
    y = (a[first] * c[second] - a[second] * c[first]) / det
    return np.column_stack([x, y])


def residual(w: Written, l: int, kind: str) -> tuple[float, Any]:
    """The least norm of X^l − 1xᵀ, and the x that attain it, in order."""
    if (l, kind) not in w.known:
        w.known[l, kind] = least_residual(w.X_[l], kind)
    found: tuple[float, Any] = w.known[l, kind]
    return found


def least_residual(X: Any, kind: str) -> tuple[float, Any]:
    points = corners(X)
    apart = abs(X[None] - points[:, None])
    by_rows, by_columns = apart.sum(axis=2).max(axis=1), apart.sum(axis=1).max(axis=1)
    values = by_rows if kind == "rows" else np.sqrt(by_rows * by_columns)
    best = points[values <= values.min() * (1 + 1e-12) + 1e-15]
    return float(values.min()), best[np.lexsort(best.T)]


def about(w: Written, l: int, at: str) -> tuple[Any, Any]:
    """x and R = X − 1xᵀ."""
    X = w.X_[l]
    x = X.mean(axis=0) if at == "mean" else residual(w, l, "composite")[1][w.pick]
    return x, X - x


def D(w: Written, l: int, h: int, at: str) -> Any:
    _, R = about(w, l, at)
    return np.ptp(R @ w.W_QK(h) @ R.T / math.sqrt(w.d_qk), axis=1)


def q(w: Written, l: int, h: int, at: str) -> Any:
    x, R = about(w, l, at)
    k = w.weights["W_K"][h] @ (w.biases["b_Q"][h] if "b_Q" in w.biases else np.zeros(w.d_qk))
    c = (x @ w.W_QK(h) + k) @ R.T / math.sqrt(w.d_qk)
    return np.exp(c - c.max()) / np.exp(c - c.max()).sum()


def gamma(w: Written, l: int, h: int) -> float:
    d = D(w, l, h, "composite")
    return math.sqrt(d.sum() * q(w, l, h, "composite").max() / d.max()) if d.max() > 0 else 0.0


def singular(X: Any) -> Any:
    return np.linalg.svd(X, compute_uv=False)


def entropy(p: Any) -> float:
    p = p[p > 1e-15] / p.sum()
    return float(-(p * np.log(p)).sum())


def symmetric(W: Any) -> Any:
    return np.linalg.eigvalsh((W + W.T) / 2)


def definiteness(W: Any) -> float:
    return float(max(symmetric(W).min(), (-symmetric(W)).min()))


def lipschitz(w: Written) -> float:
    if w.map is None:
        return 1.0
    W, V, _, _, a = w.map
    return composite(abs(W) @ abs(V) + abs(a) * np.eye(w.dim))


def spread(S: Any, mask: Any) -> float:
    """Largest oscillation of a row over what is seen."""
    return max(float(np.ptp(row[seen])) for row, seen in zip(S, mask, strict=True))


def top_two(P: Any) -> float:
    ordered = np.sort(P, axis=1)
    return float((ordered[:, -1] * (1 - ordered[:, -1] + ordered[:, -2])).max()) if len(P) > 1 else 0.0


def contraction(w: Written, k: int) -> float:
    r, B = radius(w), np.eye(w.tokens)
    for l in range(r * k, min(r * k + r, w.layers)):
        B = w.P(l, 0) @ B
    return 1 - float(B.min(axis=0).sum())


def across(X: Any) -> float:
    if len(X) < 2:
        return 0.0
    if not X[0].any():
        raise Close
    return frobenius(X[1] - X[1] @ X[0] / (X[0] @ X[0]) * X[0])


def linear_gap(w: Written, l: int) -> float:
    Y, Z = w.read(w.X_[l]), w.agreed(l)
    linear = sum(w.shares(Z, h) @ (Y - Z) @ w.W(h) for h in range(w.heads))
    return float(np.linalg.norm(w.attended(Y) - w.attended(Z) - linear, axis=1).max())


def roots(w: Written, l: int) -> list[float]:
    return [math.sqrt((x**2).mean() + w.EPS) for x in w.X_[l]]


def root_growth(w: Written) -> float:
    if w.layers < 2:
        raise NotMet
    return min((min(roots(w, l)) - min(roots(w, 0))) / l for l in range(1, w.layers))


def second(w: Written, l: int) -> Any:
    return sum(w.P(l, h)[1, 1] * w.W(h) for h in range(w.heads))


def pole(w: Written, l: int) -> Any:
    mean = w.X_[0].mean(axis=0)
    if not np.linalg.norm(mean) > 1e-12:
        raise Close
    return mean / np.linalg.norm(mean) @ np.linalg.matrix_power(w.W(0), l)


def over_heights(X: Any, v: Any) -> Any:
    return X / (X @ v)[:, None]


def lengthening(w: Written, h: int) -> float:
    if {"b_Q", "b_K"} & set(w.biases):
        raise Close
    return math.prod(spectral(w.weights[f"W_{s}"][h]) for s in "QK") / math.sqrt(w.d_qk)


def gram_height(X: Any) -> float:
    if np.linalg.matrix_rank(X) < len(X):
        raise NotMet
    return float(1 / math.sqrt(np.linalg.inv(X @ X.T).sum()))


def moved_terms(w: Written, h: int) -> float:
    B = w.added(h)
    return max(float(np.ptp((B[i] - b)[w.mask[i]])) for i in range(w.tokens) for b in B)


def norms(kind: str, tex: str, measure: Callable[[Any], float]) -> Any:
    return f"norm of a matrix: {kind}", (rf"\|<M>\|_{{{tex}}}", lambda w, M: measure(M))


_RES, _LESS = "least norm of X − 1xᵀ over all x: ", "R the tokens less a row x: "
_ONE, _MEAN = f"{_LESS}one that minimises ‖R‖_{{1,∞}}", f"{_LESS}their mean"
_SHARE = "entry of q, the softmax of (x W_QK + kᵀ)Rᵀ/√d_qk, k = W_K b_Qᵀ, "
_D = "largest D_ii = max_j E_ij − min_j E_ij, E = R W_QK Rᵀ/√d_qk, "
_SQUARES = "root of the largest column sum times the largest row sum of absolute values"
_TURNED = "‖W_Q‖₂‖W_K‖₂/√d_qk, times the largest cos² + sin² of the rotations, as they are given, at least 1"
_OF_SECOND = "of Σ_h P^{l,h}_11 W^{l,h}, P_11 what the second token, number 1 counted from 0, attends to itself"
#: Sentences, the signs they are printed with, and what these are: <X> tokens of layer l, <P> attention and <W> a
#: weight by layer and head, <M> any matrix, <i> a number, <p> an exponent.
SIGNS: dict[str, tuple[str, Callable[..., Any]]] = dict(
    [
        norms("largest column sum of absolute values", "1", columns),
        norms("largest row sum of absolute values", r"\infty", rows),
        norms("spectral", "2", spectral),
        norms("root of the sum of squares", "F", frobenius),
        norms("largest absolute entry", r"\max", lambda M: float(abs(M).max())),
        norms(_SQUARES, r"1,\infty", composite),
    ]
) | {
    "largest ℓ_p distance of two tokens": (r"\Delta_{<p>}(<X>)", lambda w, p, l: diameter(w.X_[l], p)),
    f"{_RES}largest column sum of absolute values": (
        r"\|\mathrm{res}(<X>)\|_{1}",
        lambda w, l: columns(w.X_[l] - np.median(w.X_[l], axis=0)),
    ),
    "‖X‖_F²/‖X‖₂²": (r"\operatorname{srank}(<X>)", lambda w, l: (frobenius(w.X_[l]) / spectral(w.X_[l])) ** 2),
    "rank of a matrix": (r"\operatorname{rank}(<M>)", lambda w, M: float(np.linalg.matrix_rank(M))),
    "(Σσ²)²/Σσ⁴ of the singular values σ of X": (
        r"\operatorname{pr}(<X>)",
        lambda w, l: float((s := singular(w.X_[l]) ** 2).sum() ** 2 / (s**2).sum()),
    ),
    "exp of the entropy of p, σ the singular values of X: p_i = σ_i/Σσ": (
        r"\operatorname{erank}_{\mathrm{singular}}(<X>)",
        lambda w, l: math.exp(entropy(singular(w.X_[l]))),
    ),
    "exp of the entropy of p, σ the singular values of X: p_i = σ_i²/Σσ²": (
        r"\operatorname{erank}_{\mathrm{eigen}}(<X>)",
        lambda w, l: math.exp(entropy(singular(w.X_[l]) ** 2)),
    ),
    "least entropy −Σ_j P_ij log P_ij of a row of the attention": (
        r"\operatorname{Ent}(<M>)",
        lambda w, P: min(map(entropy, P)),
    ),
    "second largest modulus of an eigenvalue of the attention, each as often as it occurs; the largest is 1; 0 for"
    " one token": (
        r"|\lambda_2(<M>)|",
        lambda w, P: float(np.sort(abs(np.linalg.eigvals(P)))[-2]) if len(P) > 1 else 0.0,
    ),
    f"{_RES}root of the sum of squares": (
        r"\|\mathrm{res}(<X>)\|_{F}",
        lambda w, l: frobenius(w.X_[l] - w.X_[l].mean(axis=0)),
    ),
    f"{_RES}largest row sum of absolute values": (
        r"\|\mathrm{res}(<X>)\|_{\infty}",
        lambda w, l: residual(w, l, "rows")[0],
    ),
    f"{_RES}{_SQUARES}": (r"\|\mathrm{res}(<X>)\|_{1,\infty}", lambda w, l: residual(w, l, "composite")[0]),
    "‖·‖_{1,∞} of the tokens about their mean: root of largest column sum times largest row sum of absolute values": (
        r"\|<X>-\tfrac1n\mathbf1\mathbf1^{\mathsf T}<X>\|_{1,\infty}",
        lambda w, l, _: composite(w.X_[l] - w.X_[l].mean(axis=0)),
    ),
    "spectral norm of the tokens about their mean": (
        r"\|<X>-\tfrac1n\mathbf1\mathbf1^{\mathsf T}<X>\|_2",
        lambda w, l, _: spectral(w.X_[l] - w.X_[l].mean(axis=0)),
    ),
    "Frobenius norm of the tokens about their mean": (
        r"\mu(<X>)",
        lambda w, l: frobenius(w.X_[l] - w.X_[l].mean(axis=0)),
    ),
    "Frobenius norm about their mean of the tokens Y^l that the attention of layer l makes, skip"
    " connections with it, before a LayerNorm of all of it or an MLP behind it; with LayerNorm in front of attention,"
    " no skip connections and no MLP these are the tokens after l + 1 layers": (
        r"\mu(Y^{<i>})",
        lambda w, l: frobenius((Y := w.made(w.X_[l])) - Y.mean(axis=0)),
    ),
    "least cosine of the angle of two tokens": (
        r"\varphi(<X>)",
        lambda w, l: float(((U := w.X_[l] / np.linalg.norm(w.X_[l], axis=1, keepdims=True)) @ U.T).min()),
    ),
    "largest absolute entry of the difference of these tokens and of the input": (
        r"\|<X>-X^0\|_{\max}",
        lambda w, l: float(abs(w.X_[l] - w.X_[0]).max()),
    ),
    "largest ℓ₂ norm of a token": (r"\max_j\|<X>_j\|_2", lambda w, l: float(np.linalg.norm(w.X_[l], axis=1).max())),
    "(1ᵀ(XXᵀ)⁻¹1)^{−1/2}, positive for tokens of full row rank": (r"\gamma(<X>)", lambda w, l: gram_height(w.X_[l])),
    "largest ℓ₂ distance of a token from the first one": (
        r"\max_i\|<X>_i-<X>_0\|_2",
        lambda w, l, _: max(frobenius(x - w.X_[l][0]) for x in w.X_[l]),
    ),
    "ℓ₂ distance of the second token from the line through 0 and the first": (
        r"\operatorname{dist}(<X>_1,\operatorname{span}<X>_0)",
        lambda w, l, _: across(w.X_[l]),
    ),
    "largest share of its attention that a token other than the first gives itself; 0 where there is none": (
        r"\max_{i\ge1}(<M>)_{ii}",
        lambda w, P: max(np.diagonal(P)[1:], default=0.0),
    ),
    "largest ℓ₂ norm of a row of F(X) − F(C) − Σ_h P_0^h (X − C)W, P_0^h the attention where all tokens are the first"
    " of X, F what the attention of layer l makes of X, C the tokens if all were the first of X": (
        r"\max_i\Bigl\|\bigl(F_{<i>}(X^{<i>})-F_{<i>}(C)-\sum_hP_0^{<i>,h}(X^{<i>}-C)W^{<i>,h}\bigr)_i\Bigr\|_2",
        lambda w, l, *_: linear_gap(w, l),
    ),
    f"{_TURNED}; not defined where biases b_Q, b_K are rotated or capped, or queries and keys have norms; where only"
    " W_QK is given, W_K is I": (r"c(<P>)", lambda w, l, h: lengthening(w, h)),
    "k-th largest modulus of an eigenvalue of the attention, each as often as it occurs, the first, which is 1, has"
    " k = 1; not defined beyond n, nor where the one before is 0": (
        r"|\lambda_{<i>}(<M>)|",
        lambda w, k, P: float(np.sort(abs(np.linalg.eigvals(P)))[-k]),
    ),
    "largest √(‖x‖₂²/d + ε) of a token x that layer l norms before its attention, ε that of the RMSNorm": (
        r"\bar\rho_{<i>}",
        lambda w, l: max(roots(w, l)),
    ),
    "least (ρ_l − ρ_0)/l of layers l = 1, …, L − 1, ρ_l the least √(‖x‖₂²/d + ε) of a token x that layer l norms"
    " before its attention, ε that of the RMSNorm": ("c", lambda w: root_growth(w)),
    "ℓ₂ distance of the first two tokens": (r"\|<X>_1-<X>_0\|_2", lambda w, l, _: frobenius(w.X_[l][1] - w.X_[l][0])),
    "norm of the map v ↦ vW of row vectors in ℓ_p; it is the largest row sum of |W| for p = 1, the largest column"
    " sum for p = ∞, the spectral norm for p = 2": (r"\|<W>\|_{\ell_{<p>}}", lambda w, W, p: of_vectors(W, p)),
    "norm of the map v ↦ vWS⁻¹ of row vectors in ℓ_p, S the diagonal of the deviations (root mean squares about the"
    " mean, 1 in place of 0) of the columns of the first layer's output before LayerNorm": (
        r"\|<W>S^{-1}\|_{\ell_{<p>}}",
        lambda w, W, p: of_vectors(W / deviations(w.made(w.X_[0])), p),
    ),
    "largest |uWvᵀ| over u and v of ℓ_p norm at most 1; for p = ∞ and d > 12 the sum of |W_ij|, which is no less": (
        r"\|<W>\|_{*,<p>}",
        lambda w, W, p: form(W, p),
    ),
    "least singular value": (r"\sigma_{\min}(<W>)", lambda w, W: least(W)),
    "least |eigenvalue| of the symmetric part where that is definite; not positive where it is not": (
        r"m(<W>)",
        lambda w, W: definiteness(W),
    ),
    "spectral norm of the product W^{0,0} W^{1,0} ⋯ W^{L−1,0}": (
        r"\Bigl\|\prod_l W^{l,0}\Bigr\|_{2}",
        lambda w: spectral(np.linalg.matrix_power(w.W(0), w.layers)),
    ),
    "composite Lipschitz constant of the map after the attention of layer l: ‖s|W₁||W₂| + |a|I‖_{1,∞} for"
    " x ↦ φ(xW₁ + b₁)W₂ + b₂ + ax, s = sup|φ'| rounded up to 8 decimals, |·| of a matrix entry by entry; 1"
    " where there is no such map": (r"\lambda_{<i>}", lambda w, l: lipschitz(w)),
    f"{_D}{_ONE}": (r"\delta(<P>)", lambda w, l, h: float(D(w, l, h, "composite").max())),
    f"{_D}{_MEAN}": (r"\bar{\delta}(<P>)", lambda w, l, h: float(D(w, l, h, "mean").max())),
    "√(Σ_i D_ii · max_j q_j / max_i D_ii), 0 where all D_ii are 0; D_ii = max_j E_ij − min_j E_ij, E = R W_QK"
    " Rᵀ/√d_qk, q the softmax of (x W_QK + kᵀ)Rᵀ/√d_qk, k = W_K b_Qᵀ, R the tokens less a row x that"
    " minimises ‖R‖_{1,∞}": (r"\gamma(<P>)", gamma),
    f"largest {_SHARE}{_ONE}": (r"\|q(<P>)\|_\infty", lambda w, l, h: float(q(w, l, h, "composite").max())),
    f"largest {_SHARE}{_MEAN}": (r"\|\bar{q}(<P>)\|_\infty", lambda w, l, h: float(q(w, l, h, "mean").max())),
    f"least {_SHARE}{_ONE}": (r"\min_j q_j(<P>)", lambda w, l, h: float(q(w, l, h, "composite").min())),
    f"least {_SHARE}{_MEAN}": (r"\min_j \bar{q}_j(<P>)", lambda w, l, h: float(q(w, l, h, "mean").min())),
    "least attention on an edge of the mask": (r"\varepsilon(<P>)", lambda w, l, h: float(w.P(l, h)[w.mask].min())),
    "largest oscillation of a row of logits over the edges of the mask": (
        r"\rho(<P>)",
        lambda w, l, h: spread(w.logits(w.read(w.X_[l]), h), w.mask),
    ),
    "largest total variation of two rows of the attention": (
        r"\tau(<M>)",
        lambda w, P: max(float(abs(a - b).sum()) / 2 for a in P for b in P),
    ),
    "p_1(1 − p_1 + p_2) of the two largest entries p_1 ≥ p_2 of a row of the attention, the largest over the rows;"
    " 0 where there is one token": (r"\max_ip_1(1-p_1+p_2)(<M>)", lambda w, P: top_two(P)),
    "1 − Σ_c min_i (B_k)_ic, B_k = P^{m,0} ⋯ P^{rk,0}, m the lesser of rk + r − 1 and L − 1: Doeblin's contraction": (
        r"\Bigl(1-\sum_c\min_i(B_{<i>})_{ic}\Bigr)",
        contraction,
    ),
    "ℓ₂ diameter of the queries times that of the keys, over √d_qk, with their rotations, biases and norms; where"
    " only W_QK is given, queries are XW_QK and keys X": (
        r"\theta(<P>)",
        lambda w, l, h: math.prod(diameter(s, 2) for s in w.sides(w.read(w.X_[l]), h)) / math.sqrt(w.d_qk),
    ),
    "largest oscillation of B_ij − B_kj over the keys j that token i sees, B the additive position term; 0 where"
    " there is none": (r"b(<P>)", lambda w, l, h: moved_terms(w, h)),
    "largest oscillation, over the keys that a token sees, of the difference of its logits and of those where all"
    " tokens that layer l reads are the first of them": (
        r"w(<P>)",
        lambda w, l, h: spread(w.logits(w.read(w.X_[l]), h) - w.logits(w.agreed(l), h), w.mask),
    ),
    "what the token of this number, counted from 0, attends to itself": (
        r"(<M>)_{<i>,<i>}",
        lambda w, P, k, _: float(P[k, k]),
    ),
    f"spectral norm {_OF_SECOND}": (
        r"\Bigl\|\sum_h P^{<i>,h}_{11}W^{<i>,h}\Bigr\|_2",
        lambda w, l, _: spectral(second(w, l)),
    ),
    f"least singular value {_OF_SECOND}": (
        r"\sigma_{\min}\Bigl(\sum_h P^{<i>,h}_{11}W^{<i>,h}\Bigr)",
        lambda w, l, _: least(second(w, l)),
    ),
    "least √(‖x‖₂²/d + ε) of a token x that layer l norms before its attention, ε that of the RMSNorm": (
        r"\rho_{<i>}",
        lambda w, l: min(roots(w, l)),
    ),
    "spectral norm of diag(g)W, g the gain of the RMSNorm before the attention of layer l": (
        r"\|\operatorname{diag}(g)<W>\|_2",
        lambda w, W: spectral(w.GAIN * W),
    ),
    "min_i ⟨X^0_i, v⟩, v the direction of the mean of the tokens X^0_i": (
        r"\gamma",
        lambda w: float((w.X_[0] @ pole(w, 0)).min()),
    ),
    "largest ℓ₂ distance of two of y_i(X^l) = X^l_i/⟨X^l_i, vW^{0,0} ⋯ W^{l−1,0}⟩, for l = 0 X^0_i/⟨X^0_i, v⟩,"
    " v the direction of the mean of the tokens X^0_i": (
        r"\operatorname{diam}\,y(<X>)",
        lambda w, l: diameter(over_heights(w.X_[l], pole(w, l)), 2),
    ),
    "number of centers of the mask: of tokens that all others see, directly or through others": (
        "c",
        lambda w: len(centers(w)),
    ),
    "least number of steps, at least 1, in which all tokens see every center of the mask; 1 if there is none": (
        "R",
        lambda w: max((steps(w, c) for c in centers(w)), default=1),
    ),
    "radius of the mask: least k ≥ 1 where all others see some one token in at most k steps; 1 if there is none": (
        "r",
        radius,
    ),
    "L/r rounded up, the number of blocks of r layers, the last of which may be shorter": (
        "K",
        lambda w: -(-w.layers // radius(w)),
    ),
    "largest number of tokens that a token sees, itself too where it sees itself": (
        r"\Delta_{\mathrm{in}}",
        lambda w: int(w.mask.sum(axis=1).max()),
    ),
    "1.25643…, the positive root of eˣ = 1 + 2x": ("x^*", lambda w: 1.2564312086261697),
    "spectral norm of the derivative of the first layer in its input, skip connections with it, of"
    " attention without MLP, LayerNorm, positions, caps and norms of queries and keys": (
        r"\|\partial X^1/\partial X^0\|_2",
        lambda w: spectral(w.derivative.reshape(w.X.size, -1)),
    ),
    "spectral norm of the derivative of the last token, number n − 1 counted from 0, after the first"
    " layer, skip connections with it, in the token of this number of the input; of attention without MLP,"
    " LayerNorm, positions, caps and norms of queries and keys": (
        r"\|\partial X^1_{\text{last}}/\partial X^0_{<i>}\|_2",
        lambda w, i: spectral(w.derivative[-1, :, i]),
    ),
    "what the last token, number n − 1 counted from 0, attends to the token of this number in the first layer": (
        r"P^{0,0}_{\text{last},\,<i>}",
        lambda w, i: float(w.P(0, 0)[-1, i]),
    ),
    "1 where this is the number of the last token, n − 1 counted from 0, else 0": (
        r"[<i>=\text{last}]",
        lambda w, i: float(i == w.tokens - 1),
    ),
    "ℓ₂ distance of the last token, number n − 1 counted from 0, and of token n, if the last token of the input is"
    " repeated behind it, under a causal mask, of attention and skip connections alone": (
        r"\|<X>_{n-1}-<X>_{n}\|_2",
        lambda w, l, _: frobenius(w.longer.X_[l][-2] - w.longer.X_[l][-1]),
    ),
    "largest ℓ₂ distance of the repeated last token, number n counted from 0, from another token, under a causal"
    " mask, of attention and skip connections alone": (
        r"\max_{i<n}\|<X>_i-<X>_{n}\|_2",
        lambda w, l, _: max(frobenius(x - w.longer.X_[l][-1]) for x in w.longer.X_[l][:-1]),
    ),
    "what the repeated last token, number n counted from 0, attends to itself, under a causal mask, of attention"
    " and skip connections alone": (r"<P>_{n,n}", lambda w, l, h: float(w.longer.P(l, h)[-1, -1])),
}
_AS_ONE, _P0 = (
    "read as 1 where the denominator is 0",
    "the attention P^{l,h} if all tokens that layer l reads were the",
)
_COUNTS = re.compile(r"counts from 0 to (\w) − 1")


def disjoint(w: Written) -> bool:
    W = [w.W(h) for h in range(w.heads)]
    added = sum(np.asarray(w.biases.get("b_V", np.zeros((w.heads, w.dim))))) + np.asarray(w.biases.get("b_O", 0.0))
    written = np.any([(M != 0).any(axis=0) for M in W], axis=0) | (added != 0)
    read = np.any([(M != 0).any(axis=1) for M in W], axis=0)
    return not (written & read).any() and not w.X[:, written].any()


#: Premises that are said in words between formulas.
TRUTHS: dict[str, Callable[..., bool]] = {
    r"\text{every }W^{l,h}\text{ is orthogonal}": lambda w: all(
        np.array_equal(w.W(h) @ w.W(h).T, np.eye(w.dim)) for h in range(w.heads)
    ),
    r"\text{every token sees itself}": lambda w: bool(np.diagonal(w.mask).all()),
    r"\text{some token is seen by all others, directly or through others}": lambda w: bool(centers(w)),
    r"\text{every token is seen by all others, directly or through others}": lambda w: len(centers(w)) == w.tokens,
    r"\text{no head takes values where a head or a bias writes, and the input is zero there}": disjoint,
    r"\operatorname{diag}(g)W^{l,0}=w_lI\text{ with }w_l\ge0\text{, and RMSNorm has no offset}": lambda w: (
        w.W(0)[0, 0] >= 0 and np.array_equal(w.W(0), w.W(0)[0, 0] * np.eye(w.dim))
    ),
    r"\operatorname{sym}W^{0,0}\text{ is definite}": lambda w: definiteness(w.W(0)) > 0,
    r"W^{0,0}\text{ is invertible}": lambda w: least(w.W(0)) > 1e-12,
    r"\operatorname{sym}W_{QK}^{l,0}\text{ is definite}\quad\text{for all }l": lambda w: definiteness(w.W_QK(0)) > 0,
    r"W^{l,0}\text{ is invertible}\quad\text{for all }l": lambda w: least(w.W(0)) > 1e-12,
}


# -- the reader ----------------------------------------------------------------------------------------------

_EXPONENTS = {"1": 1.0, "2": 2.0, r"\infty": math.inf}
_ENDS = re.compile(r"\s*(\\le(?![a-z])|\\ge|[-+<>=,)}\]]|\|(?!\\lambda)|\\(Big|big)r|\\quad|\\ |\\rfloor|/)")


def spaced(tex: str) -> str:
    return tex.replace(r"\,", " ").replace(r"\cdot ", " ")


@cache
def letters(names: tuple[str, ...]) -> re.Pattern[str]:
    """The longest of these names, where it does not go on."""
    longest = sorted(names, key=len, reverse=True)
    return re.compile(rf"({'|'.join(map(re.escape, longest))})(?![a-z_]|\((?:P|X)[_^])")


class Reader:
    """Sums, products, quotients, powers, roots; Σ, Π, max, min over an index; signs by their sentences."""

    def __init__(self, statement: Statement, w: Written, exponent: str = "") -> None:
        self.w, self.exponent, self.index, self.tex = w, exponent, dict[str, int](), ""
        self.letters: dict[str, float] = {
            "n": w.tokens,
            "d_{qk}": w.d_qk,
            "d": w.dim,
            "H": w.heads,
            "L": w.layers,
            r"\lambda": w.skip,
        }
        self.signs, self.as_one, self.ends = [], set[str](), {"L": w.layers, "H": w.heads, "n": w.tokens}
        counted = {}
        for shown, said in statement.meanings:
            if found := _COUNTS.fullmatch(said):
                counted[shown] = found[1]
            elif said == _AS_ONE:
                self.as_one.add(spaced(shown))
            elif not said.startswith(_P0):
                for name in _EXPONENTS:  # at one exponent
                    said = re.sub(f"ℓ_{name.replace(chr(92) + 'infty', '∞')}(?=[ ;,])", "ℓ_p", said)
                pattern, meaning = SIGNS[re.sub(", here l = [^,]*$", "", said)]  # the sign has the layer as its index
                if "<" not in re.sub(r"<n\}", "", pattern) and not pattern.startswith("\\|") and len(pattern) < 25:
                    self.letters[pattern] = meaning(w)
                else:
                    self.signs.append((re.split(r"(<[XPWMip]>)", spaced(pattern)), meaning))
        self.ends = {index: int(self.letters[end]) for index, end in counted.items()}

    def read(self, tex: str) -> Any:
        tex = spaced(tex)
        if self.exponent:
            tex = re.sub(r"(?<![A-Za-z])p(?![A-Za-z])", lambda _: self.exponent, tex)
        self.tex = tex
        found = self.relation()
        assert not self.tex.strip(), self.tex
        return found

    def has(self, start: str) -> bool:
        if self.tex[:1] == " ":
            self.tex = self.tex.lstrip()
        if not self.tex.startswith(start):
            return False
        self.tex = self.tex[len(start) :]
        return True

    def need(self, start: str) -> None:
        assert self.has(start), (start, self.tex)

    def relation(self) -> Any:
        left = self.sum()
        for sign, holds in ((r"\le", "le"), (r"\ge", "ge"), ("<", "lt"), (">", "gt"), ("=", "eq")):
            if self.has(sign):
                right = self.sum()
                self.w.sides_read.append((right, left) if holds in ("ge", "gt") else (left, right))
                return compared(left, holds, right)
        return left

    def sum(self) -> float:
        total = -self.product() if self.has("-") else self.product()
        while True:
            if self.has("+"):
                total += self.product()
            elif self.has("-"):
                total -= self.product()
            else:
                return total

    def product(self) -> float:
        total = self.power()
        while self.tex.lstrip() and not _ENDS.match(self.tex):
            total *= self.power()
        return total

    def power(self) -> float:
        base = self.base()
        while self.has("^"):
            self.need("{")
            exponent = self.sum()
            if self.has("/"):
                exponent /= self.power()
            self.need("}")
            if base < 0 or (base == 0 and exponent < 0):
                raise Close
            base = base**exponent
        return base

    def group(self, opening: str = "{", closing: str = "}") -> float:
        self.need(opening)
        found = self.sum()
        self.need(closing)
        return found

    def argument(self, kind: str) -> list[Any] | None:
        """What stands at a place of a sign."""
        if kind == "<p>":
            name = next((name for name in _EXPONENTS if self.has(name)), None)
            return None if name is None else [_EXPONENTS[name]]
        if kind == "<i>":
            if not re.match(r"\s*[\dlhiknL]", self.tex):
                return None
            return [int(self.sum())]
        names = {"<X>": ("X",), "<P>": ("P",), "<W>": ("W_{QK}", "W"), "<M>": ("X", "P_{0}", "P", "W_{QK}", "W")}
        name = next((name for name in names[kind] if self.has(name + "^{")), None)
        if name is None:
            return None
        at = [int(self.sum())]
        if self.has(","):
            at.append(int(self.sum()))
        self.need("}")
        w = self.w
        if kind in ("<X>", "<P>"):
            return at
        arrays = {
            "X": lambda l: w.X_[l],
            "P": w.P,
            "P_{0}": lambda l, h: w.shares(w.agreed(l), h),
            "W": lambda l, h: w.W(h),
            "W_{QK}": lambda l, h: w.W_QK(h),
        }
        return [arrays[name](*at)]

    def sign(self) -> float | None:
        start = self.tex
        for pieces, meaning in self.signs:
            if not start.startswith(pieces[0]):
                continue
            found: list[Any] = []
            for piece in pieces:
                if piece.startswith("<") and piece.endswith(">") and len(piece) == 3:
                    part = self.argument(piece)
                    if part is None:
                        break
                    found += part
                elif not self.has(piece):
                    break
            else:
                return float(meaning(self.w, *found))
            self.tex = start
        return None

    def over(self, kind: str) -> float:
        """Σ, Π, max or min over an index: what follows is one product."""
        self.need("{")
        index = self.tex[0]
        self.need(index + "}")
        start, values = self.tex, []
        for k in range(self.ends[index]):
            self.tex, self.index[index] = start, k
            values.append(self.product())
        del self.index[index]
        return float({"sum": math.fsum, "prod": math.prod, "max": max, "min": min}[kind](values))  # type: ignore[operator]

    def base(self) -> float:
        self.tex = self.tex.lstrip()
        if number := re.match(r"\d+", self.tex):
            self.need(number[0])
            return float(number[0])
        if (found := self.sign()) is not None:
            return found
        if letter := letters(tuple(self.letters)).match(self.tex):
            self.need(letter[1])
            return float(self.letters[letter[1]])
        for opening, closing in ((r"\Bigl(", r"\Bigr)"), (r"\bigl(", r"\bigr)"), ("(", ")")):
            if self.tex.startswith(opening):
                return self.group(opening, closing)
        if self.tex.startswith(r"\bigl|"):
            return abs(self.group(r"\bigl|", r"\bigr|"))
        for kind in ("sum", "prod", "max", "min"):
            if self.has(rf"\{kind}_"):
                return self.over(kind)
            if self.has(rf"\{kind}\bigl("):
                values = [self.sum()]
                while self.has(","):
                    values.append(self.sum())
                self.need(r"\bigr)")
                return max(values) if kind == "max" else min(values)
        start = self.tex
        if self.has(r"\frac") or self.has(r"\tfrac"):
            above, below = self.group(), self.group()
            if below:
                return above / below
            if start[: len(start) - len(self.tex)] in self.as_one:
                return 1.0
            raise Close
        if self.has(r"\sqrt"):
            return math.sqrt(max(self.group(), 0.0))
        if self.has(r"\lfloor"):
            return float(math.floor(self.group("", r"\rfloor")))
        for opening, closing in ((r"\Bigl(", r"\Bigr)"), ("(", ")")):
            for name, function in (("tanh", math.tanh), ("log", math.log)):
                if self.tex.startswith(rf"\{name}{opening}"):
                    value = self.group(rf"\{name}{opening}", closing)
                    if name == "log" and value <= 0:
                        raise Close
                    return function(value)
        if self.tex.startswith("e^{"):
            return math.exp(self.group("e^{"))
        if self.tex[0] in self.index:
            found = self.index[self.tex[0]]
            self.tex = self.tex[1:]
            return float(found)
        raise AssertionError(self.tex)


def compared(a: float, sign: str, b: float) -> bool:
    if math.isnan(a) or math.isnan(b) or not abs(a - b) > 1e-9 * max(abs(a), abs(b)) + 1e-13:
        if sign in ("le", "ge", "eq") and abs(a - b) <= 1e-15:
            return True
        raise Close
    return {"le": a <= b, "ge": a >= b, "lt": a < b, "gt": a > b, "eq": False}[sign]


#: What may be done to queries, keys and logits, where a hypothesis says so.
ALLOWED = {
    "position": ("any positions", "relative positions", "ALiBi positions"),
    "rotary": ("any positions", "rotary positions"),
    "softcap": ("logits capped or not",),
    "qk_norm": ("norms of queries and keys or none",),
}


@cache
def printed_layer(key: str) -> str:
    return notation(ENTRIES[key])


def bilinear(statement: Statement, w: Written) -> bool:
    """Whether logits and what attention reads are as the printed layer has them."""
    shown = printed_layer(statement.key)
    if w.before != ("$Z^{l}$ is $X^{l}$ with" in shown):
        return False
    named = r"\langle q_i,k_j\rangle" in shown
    said = [any(part.startswith(ALLOWED[choice]) for part in statement.premises) for choice in w.choices]
    return all(said) and (named or not said)


def meets_words(statement: Statement, w: Written) -> bool:
    """Whether it is what the premises in words say."""
    parts = [premise.strip("$") for premise in statement.premises]
    return bilinear(statement, w) and all(said[part](w) for said in (WORDS, TRUTHS) for part in parts if part in said)


def outcome(statement: Statement, w: Written) -> str:
    """What the premises that are formulas, the letters and the conclusion say of it."""
    parts = [premise.strip("$") for premise in statement.premises if premise not in WORDS]
    w.sides_read.clear()
    try:
        if not all(holds(part, w, statement) for part in parts if part not in TRUTHS):
            return "NOT_APPLICABLE"
        relations = [holds(part, w, statement) for part in statement.conclusion]  # all of them: one may be close
        return "HOLDS" if all(relations) else "VIOLATED"
    except NotMet:
        return "NOT_APPLICABLE"


def holds(tex: str, w: Written, statement: Statement) -> bool:
    """One relation; for all of an index, or for p = 1, 2, ∞; a recursion from b_0 on."""
    found = True
    exponents = list(_EXPONENTS) if tex.endswith(r"\quad(p=1,2,\infty)") else [""]
    body, *indices = tex.removesuffix(r"\quad(p=1,2,\infty)").split(r"\quad\text{for all }")
    parts = [body] if "b_0=" in body else body.split(r",\quad ")
    for exponent in exponents:
        reader = Reader(statement, w, exponent)
        for letter in statement.letters:
            name, _, meaning = letter.partition("=")
            reader.letters[name] = reader.read(meaning)
        # What is said last reaches over all before it.
        for places in itertools.product(*(range(reader.ends[index]) for index in reversed(indices))):
            for part in parts:
                reader.index = dict(zip(reversed(indices), places, strict=True))
                found &= related(part, reader)
    return found


def related(tex: str, reader: Reader) -> bool:
    if r"b_L,\quad b_0=" in tex:
        head, start, step = re.split(r"b_L,\\quad b_0=|,\\ b_\{l\+1\}=", tex)
        b = reader.read(start)
        for l in range(reader.w.layers):
            reader.index["l"], reader.letters["b_{l}"] = l, b
            b = reader.read(step)
        tex, reader.letters["b_L"] = head + "b_L", b
    return bool(reader.read(tex))


# -- networks at boundaries ----------------------------------------------------------------------------------

MASKS: dict[str, Callable[[int], Any]] = {
    "none": lambda n: None,
    "causal": lambda n: np.tri(n, dtype=bool),
    "padding": lambda n: np.broadcast_to(np.arange(n) < max(1, n - 1), (n, n)).copy(),
    "no self-loops": lambda n: ~np.eye(n, dtype=bool) if n > 1 else None,
    "itself alone": lambda n: np.eye(n, dtype=bool),
}
VALUES = {"orthogonal": 1.0, "one": -1.0, "zero": 0.0, "small": 0.25}
TURNS = Rotary([[1.0], [0.0], [-1.0]], [[0.0], [1.0], [0.0]])


def networks() -> Iterator[tuple[str, Written]]:
    rng = np.random.default_rng(0)

    def weights(heads: int, d: int, values: str) -> dict[str, Any]:
        shape = (heads, d, d)
        W = {name: rng.integers(-8, 9, shape) / 8.0 for name in ("W_Q", "W_K", "W_V")}
        W["W_O"] = np.broadcast_to(np.eye(d), shape).copy()
        if values in VALUES:
            W["W_V"] = W["W_O"] * VALUES[values]
        return W

    for n, d, (mask, sees), kind in itertools.product((1, 2, 3), (1, 2), MASKS.items(), (None, "sphere")):
        if d == 1 and mask in ("padding", "itself alone"):
            continue
        for values, skip in (
            *(("any", 0.0), ("any", 1.0), ("any", -0.7), ("orthogonal", 0.0)),
            *(("one", 0.0), ("zero", 1.0), ("zero", 0.0), ("small", 2.0)),
        ):
            heads, layers = (2, 1) if values == "any" and kind is None else (1, 1 if n == 1 or values == "one" else 2)
            W, X = weights(heads, d, values), rng.integers(1, 17, (n, d)) / 8.0
            name = f"{n} {d} {mask} {kind} {values} {skip}"
            yield name, Written(X, W, layers, skip, sees(n), kind)
            if mask in ("none", "causal") and values in ("any", "one") and n < 3:
                for bias in ("b_Q", "b_K", "b_V", "b_O"):
                    given = {bias: np.full(d if bias == "b_O" else (heads, d), 0.5)}
                    yield f"{name} {bias}", Written(X, W, layers, skip, sees(n), kind, given)
                yield f"{name} one head", Written(X, {k: v[:1] for k, v in W.items()}, 1, skip, sees(n), kind)
    # Tokens that are close, so that logits are small; queries and keys of one sign; coordinates of their own.
    for n, d, heads, skip in itertools.product((1, 2, 3), (1, 2), (1, 2), (0.0, 1.0)):
        W = weights(heads, d, "any")
        X = 1 + rng.integers(0, 9, (n, d)) / 16.0
        for strength in (0.0, 0.25, 1.0, 64.0):
            W = W | {"W_K": strength * W["W_Q"], "W_V": np.broadcast_to(0.5 * np.eye(d), W["W_V"].shape)}
            yield f"close {n} {d} {heads} {skip} {strength}", Written(X, W, 2, skip)
    for n in (1, 3):
        W = weights(2, 2, "any")
        W["W_V"] = W["W_V"] * np.array([[0.0, 1.0], [0.0, 0.0]])
        yield f"apart {n}", Written(np.eye(2)[np.zeros(n, int)] * np.arange(1, n + 1)[:, None], W, 2, 1.0)
    # What stands around attention, and what is done to queries, keys and logits.
    added = PositionTable(rng.integers(-4, 5, (1, 3, 3)) / 4.0)
    choices: dict[str, dict[str, Any]] = {
        "turned": {"rotary": TURNS},
        "moved": {"position": added},
        "relative": {"position": PositionTable([[[(i - j) / 4 for j in range(3)] for i in range(3)]])},
        "capped": {"softcap": 0.5},
        "even": {"qk_norm": (np.ones(2), np.full(2, 0.5), 0.5)},
    }
    for n, (what, choice), mask in itertools.product((2, 3), choices.items(), ("none", "causal", "padding")):
        if n == 2 and "position" in choice:
            continue
        W, X = weights(1, 2, "small"), rng.integers(1, 17, (n, 2)) / 8.0
        for norm, skip in ((None, 0.0), (None, 1.0), ("rms", 2.0), ("rms", 1.0), ("rms", -1.0)):
            for biases in ({}, {"b_Q" if n == 2 else "b_K": np.ones((1, 2))}):
                yield (
                    f"{n} {what} {mask} {norm} {skip} {len(biases)}",
                    Written(X, W, 2, skip, MASKS[mask](n), norm, biases, norm == "rms", choice),
                )
    for n, d, a, w in itertools.product((1, 2, 3), (1, 2), (0.0, 1.0, -1.0), (1.0, -1.0, 0.0)):
        X, one = 1 + rng.integers(0, 9, (n, d)) / 8.0, np.eye(d)
        yield (
            f"map {n} {d} {a} {w}",
            Written(X, weights(1, d, "small"), 1, map=(one, w * one, 0.5 * one[0], one[0], a)),
        )
        if a == w:
            yield f"columns {n} {d} {a}", Written(X, weights(2, d, "any"), 1, norm="column")


def exists(w: Written) -> bool:
    """Whether no token is zero where it is to have a direction."""
    try:
        return len(w.X_) > 0
    except Close:
        return False


NETWORKS = {name: w for name, w in networks() if exists(w)}
ENTRIES = {key: entry for key, entry in statements().items() if not entry.arrays}
#: So many networks are read of each claim, and so many of each outcome judged.
READ, JUDGED = 72, {"HOLDS": 9, "VIOLATED": 5, "NOT_APPLICABLE": 4}


def some(names: list[str], count: int) -> list[str]:
    """So many evenly, and one with each bias."""
    of_bias = [next((name for name in names if name.endswith(bias)), None) for bias in ("b_Q", "b_K", "b_V", "b_O")]
    chosen = [*names[:: max(1, -(-len(names) // count))], *(name for name in of_bias if name is not None)]
    return list(dict.fromkeys(chosen))


@pytest.mark.parametrize("key", ENTRIES)
def test_what_is_printed_of_a_network_is_what_it_is_judged_by(key: str) -> None:
    agrees(ENTRIES[key])


def agrees(statement: Statement) -> None:
    """Outcome and numbers. Where several rows are centers the claim must not depend on which is taken."""
    centers_matter = any("minimises ‖R‖" in said for _, said in statement.meanings)
    found: dict[str, list[str]] = {name: [] for name in JUDGED}
    sides: dict[str, list[list[tuple[float, float]]]] = {}
    meant = {name: meets_words(statement, w) for name, w in NETWORKS.items()}
    for name in some([name for name in meant if meant[name]], READ):
        w, said, sides[name] = NETWORKS[name], set(), []
        try:
            for w.pick in (0, -1) if centers_matter else (0,):
                said.add(outcome(statement, w))
                sides[name].append(list(w.sides_read))
        except Close:
            continue
        assert statement.status != "proved" or "VIOLATED" not in said, name
        if len(said) == 1:
            found[said.pop()].append(name)
    assert found["HOLDS"] or found["VIOLATED"]
    for said, names in found.items():
        for name in some(names, JUDGED[said]):
            w = NETWORKS[name]
            instance = NetworkInstance(w.network(), w.X)
            assert judge(statement, instance, "float64").outcome.name in ("UNDECIDED", said), name
            if said != "NOT_APPLICABLE":
                evaluated = statement.evaluate(Float64(np.zeros(1)), instance)
                coded = [side for side in (*evaluated.hypotheses, *evaluated.sides) if side.truth is None]
                coded = [side for side in coded if printing.words(side.formula) == printing.text(side.formula)]
                numbers = [(as_float(side.left), as_float(side.right)) for side in coded]
                # Between several centers the code may take another one.
                one = len({str(np.round(part, 9)) for part in sides[name]}) == 1
                close = np.allclose(numbers, sides[name][0], rtol=1e-8, atol=1e-12)
                assert close or not one or np.isnan(numbers).any(), name
    for name in some([name for name in meant if not meant[name]], 3):
        w = NETWORKS[name]
        coded_as = judge(statement, NetworkInstance(w.network(), w.X), "float64").outcome.name
        assert coded_as in ("UNDECIDED", "NOT_APPLICABLE"), name


def as_float(x: Any) -> float:
    return float(x) if isinstance(x, Fraction) else float(np.ravel(x.sign * np.exp(x.log))[0])


@pytest.mark.parametrize(
    ("key", "part", "right", "wrong"),
    [
        ("own:composite", "premises", r"\le x^*", r"\le 100"),
        ("own:order", "premises", r"> 0\quad", r"< 9\quad"),
        ("own:hemisphere", "conclusion", r"\lfloor \frac{L}{r}\rfloor", "1"),
        ("own:influence", "premises", "no query biases (b_Q = 0)", "one head"),
        ("own:lambda-skip-sphere", "premises", r"2\,\|W", r"\|W"),
        ("own:skip-lower", "premises", r"\theta < 1", r"\theta < 2"),
        ("wu2024:1", "premises", r"$\text{every token sees itself}$", "one head"),
        ("unstated:diameter-rotary", "conclusion", r"b_0=\Delta", r"b_0=9\,\Delta"),
    ],
)
def test_what_parts_from_the_formula_is_seen(key: str, part: str, right: str, wrong: str) -> None:
    """Another hypothesis or another conclusion in print."""
    statement = copy(ENTRIES[key])
    printed = getattr(statement, part)
    assert any(right in line for line in printed)
    statement.__dict__[part] = tuple(line.replace(right, wrong) for line in printed)
    with pytest.raises(AssertionError):
        agrees(statement)


@pytest.mark.parametrize(
    ("key", "sentence", "wrong"),
    [
        ("dong2021:3.2", "composite Lipschitz", lambda w, l: 3.0),
        ("own:consensus-second", "largest oscillation, over the keys", lambda w, l, h: 0.0),
        ("own:full-rank", "(1ᵀ(XXᵀ)⁻¹1)", lambda w, l: least(w.X_[l]) * 9),
        ("own:pre-norm-diameter", "least √", lambda w, l: 9.0),
        ("own:second-token", "spectral norm of Σ_h", lambda w, l, _: spectral(w.W(0)) / 9),
        ("barbero2024:4.2", "what the repeated last token", lambda w, l, h: 0.0),
    ],
)
def test_another_meaning_of_a_sentence_is_seen(
    key: str, sentence: str, wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    [whole] = [said for said in SIGNS if said.startswith(sentence)]
    monkeypatch.setitem(SIGNS, whole, (SIGNS[whole][0], wrong))
    with pytest.raises(AssertionError):
        agrees(ENTRIES[key])


# -- every sign of the language --------------------------------------------------------------------------------

_ARGUMENTS = {"tokens": "X[L]", "weight": "W[0, 0]", "attention": "P[0, 0]", "matrix": "W[0, 0]", "layer": "0"}
#: What is only defined of some networks; else those without LayerNorm in front, positions and maps.
ONLY: dict[str, Callable[[Written], bool]] = {
    "gained_norm": lambda w: w.before,
    "least_root": lambda w: w.before,
    "largest_root": lambda w: w.before,
    "root_growth": lambda w: w.before,
    "scaling_values": lambda w: w.before,
    "lipschitz": lambda w: not w.before,
    **dict.fromkeys(
        ("repeat_gap", "repeat_reach", "repeat_share"),
        lambda w: w.seen_as(lambda i, j: j <= i) and not (w.norm or w.before or w.choices or w.map),
    ),
    **dict.fromkeys(("jacobian_norm", "influence"), lambda w: not (w.norm or w.before or w.choices or w.map)),
}
CALLS = [
    (name, f"{name}({', '.join(arguments)})", entry.truth)
    for name, entry in ENTRIES_OF_LANGUAGE.items()
    for arguments in itertools.product(
        *(p.words or ("2" if name == "modulus_of" and p.name == "k" else _ARGUMENTS[p.kind],) for p in entry.parameters)
    )
]


@pytest.mark.parametrize(("name", "call", "truth"), CALLS, ids=[call for _, call, _ in CALLS])
def test_every_sign_is_read_as_it_is_defined(name: str, call: str, truth: bool) -> None:
    """Also those of quantities that no registered claim has."""
    statement = Statement("mine:sign", call if truth else f"{call} <= -1")
    tex, seen = statement.conclusion[0], 0
    meant = ONLY.get(name, lambda w: not (w.before or w.choices or w.map))
    names = [at for at, w in NETWORKS.items() if meant(w)]
    for at in some(names, 40):
        w, found = NETWORKS[at], []
        try:
            for w.pick in (0, -1):
                w.sides_read.clear()
                found.append(float(TRUTHS[tex](w)) if truth else read_left(statement, w, tex))
        except (ArithmeticError, NotMet, IndexError, RuntimeWarning, np.linalg.LinAlgError):
            continue  # there is no such number, or it is too close to none
        if seen >= 8 or abs(found[0] - found[1]) > 1e-12:  # which center is meant is not said
            continue
        [side] = sides(statement.expanded, Run(Float64(np.zeros(1)), w.network(), w.X))
        coded = as_float(side.left) if side.truth is None else float(bool(side.truth.holds))
        if math.isnan(coded):  # doubles cannot tell a small number from 0
            continue
        assert np.isclose(coded, found[0], rtol=1e-8, atol=1e-12), at
        seen += 1
    assert seen >= 4


def read_left(statement: Statement, w: Written, tex: str) -> float:
    Reader(statement, w).read(tex)
    return w.sides_read[-1][0]
