"""Gradients without a framework, and the small attention networks that the experiments train by them.

Values remember what they were made of, and `gradients` walks back: few operations, each with its adjoint beside it.
Tests compare every one of them with finite differences and with complex steps. The layer is the library's,
λX + Σ_h softmax((X W_Q + b_Q)(X W_K)ᵀ/√k) (X W_V) W_O + b, heads side by side, with a map applied to every token alike
where asked; so a trained one becomes a `Network` and every pass of the library takes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

from rankmath.model.network import MLP, Network
from rankmath.validation import ArrayLike, Floats, Ints

Adjoint = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Var:
    """A value, and for each value it was made of the map from its own gradient to that one's."""

    value: Floats
    parents: tuple[tuple[Var, Adjoint], ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.value.shape)

    def __add__(self, other: Var | Floats | float) -> Var:
        b = var(other)
        value = self.value + b.value
        return Var(value, ((self, lambda g: _like(g, self.shape)), (b, lambda g: _like(g, b.shape))))

    def __sub__(self, other: Var | Floats | float) -> Var:
        return self + var(other) * -1.0

    def __mul__(self, other: Var | Floats | float) -> Var:
        b = var(other)
        return Var(
            self.value * b.value,
            ((self, lambda g: _like(g * b.value, self.shape)), (b, lambda g: _like(g * self.value, b.shape))),
        )

    def __matmul__(self, other: Var | Floats) -> Var:
        b = var(other)

        def right(g: Floats) -> Floats:
            if b.value.ndim == 2:  # one matrix for the whole batch
                return _flat(self.value).T @ _flat(g)
            return np.swapaxes(self.value, -1, -2) @ g

        return Var(_times(self.value, b.value), ((self, lambda g: _times(g, np.swapaxes(b.value, -1, -2))), (b, right)))

    def split(self, heads: int) -> Var:
        """(..., n, H·k) -> (..., H, n, k)."""
        *lead, n, width = self.shape
        value = np.swapaxes(self.value.reshape(*lead, n, heads, width // heads), -2, -3)
        return Var(value, ((self, lambda g: np.swapaxes(g, -2, -3).reshape(self.shape)),))

    def joined(self) -> Var:
        """(..., H, n, k) -> (..., n, H·k)."""
        *lead, H, n, k = self.shape
        value = np.swapaxes(self.value, -2, -3).reshape(*lead, n, H * k)
        return Var(value, ((self, lambda g: np.swapaxes(g.reshape(*lead, n, H, k), -2, -3)),))

    @property
    def T(self) -> Var:
        return Var(np.swapaxes(self.value, -1, -2), ((self, lambda g: np.swapaxes(g, -1, -2)),))

    def sum(self) -> Var:
        return Var(np.asarray(self.value.sum()), ((self, lambda g: np.broadcast_to(g, self.shape)),))


def var(value: Var | ArrayLike) -> Var:
    """A constant or parameter."""
    return value if isinstance(value, Var) else Var(np.asarray(value))


def _flat(a: Floats) -> Floats:
    """The rows of the whole batch, one below the other."""
    return a.reshape(-1, a.shape[-1])


def _times(a: Floats, b: Floats) -> Floats:
    """a @ b; one matrix for a whole batch is one product, where NumPy makes one for every sequence."""
    return (_flat(a) @ b).reshape(*a.shape[:-1], b.shape[-1]) if a.ndim > b.ndim == 2 else a @ b


def _like(g: Floats, shape: tuple[int, ...]) -> Floats:
    """The adjoint of broadcasting: sums over the axes that were repeated."""
    if g.shape == shape:
        return g
    if len(shape) == 1 and g.shape[-1] == shape[0]:  # a bias of every token
        return np.asarray(np.ones(g.size // shape[0]) @ _flat(g))
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return np.asarray(g.sum(axis=tuple(k for k, size in enumerate(shape) if size == 1), keepdims=True))


def softmax(a: Var) -> Var:
    """Rows e^{a_ij}/Σ_k e^{a_ik}; adjoint P ∘ (g − ⟨g, P⟩)."""
    weights = np.exp(a.value - a.value.real.max(axis=-1, keepdims=True))
    P = weights / weights.sum(axis=-1, keepdims=True)
    return Var(P, ((a, lambda g: P * (g - (g * P).sum(axis=-1, keepdims=True))),))


def gelu(a: Var) -> Var:
    """xΦ(x), derivative Φ(x) + xφ(x)."""
    x, below = a.value, ndtr(a.value)
    slope = below + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return Var(x * below, ((a, lambda g: g * slope),))


def layer_norm(a: Var, eps: float = 1e-5) -> Var:
    """(x − mean)/√(variance + eps) along the last axis; adjoint (g − mean g − y·mean(g y))/√(variance + eps)."""
    x = a.value - a.value.mean(axis=-1, keepdims=True)
    root = np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    y = x / root

    def back(g: Floats) -> Floats:
        across = g - g.mean(axis=-1, keepdims=True) - y * (g * y).mean(axis=-1, keepdims=True)
        return np.asarray(across / root)

    return Var(y, ((a, back),))


def rows(table: Var, index: Ints) -> Var:
    """table[index], an embedding; adjoint adds each gradient to its row."""

    def back(g: Floats) -> Floats:
        out = np.zeros_like(table.value)
        np.add.at(out, index, g)
        return out

    return Var(table.value[index], ((table, back),))


def mean_square(a: Var, target: Floats) -> Var:
    """The mean of (a − target)²."""
    difference = a - target
    return (difference * difference).sum() * (1.0 / a.value.size)


def cross_entropy(logits: Var, labels: Ints) -> Var:
    """The mean of −log softmax(logits)[label]; adjoint (P − one-hot)/count."""
    shifted = logits.value - logits.value.real.max(axis=-1, keepdims=True)
    log_sum = np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    chosen = np.take_along_axis(shifted - log_sum, labels[..., None], axis=-1)
    P = np.exp(shifted - log_sum)

    def back(g: Floats) -> Floats:
        out = P.copy()
        np.put_along_axis(out, labels[..., None], np.take_along_axis(P, labels[..., None], axis=-1) - 1, axis=-1)
        return np.asarray(g * out / labels.size)

    return Var(np.asarray(-chosen.mean()), ((logits, back),))


def gradients(loss: Var, of: Sequence[Var]) -> list[Floats]:
    """d loss/d v for each v, by one walk back through what the loss was made of."""
    order: list[Var] = []
    seen: set[int] = set()
    left: list[tuple[Var, bool]] = [(loss, False)]
    while left:
        node, done = left.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            left.append((node, True))
            left += [(parent, False) for parent, _ in node.parents]
    grads: dict[int, Floats] = {id(loss): np.ones_like(loss.value)}
    for node in reversed(order):
        for parent, adjoint in node.parents:
            piece = adjoint(grads[id(node)])
            grads[id(parent)] = grads[id(parent)] + piece if id(parent) in grads else piece
    return [grads.get(id(v), np.zeros_like(v.value)) for v in of]


# -- training ----------------------------------------------------------------------------------------------

Parameters = dict[str, Floats]
Loss = Callable[[Mapping[str, Var]], Var]


def value_and_gradient(loss: Loss, at: Parameters) -> tuple[float, Parameters]:
    """The loss and its gradient, by name."""
    given = {name: Var(value) for name, value in at.items()}
    out = loss(given)
    found = gradients(out, list(given.values()))
    return float(out.value), dict(zip(given, found, strict=True))


def train(
    loss: Loss, start: Parameters, *, steps: int, progress: Callable[[str], None] | None = None
) -> tuple[Parameters, float]:
    """Full-batch L-BFGS (scipy) from `start`; what it ended at, and the loss there."""
    names, shapes = list(start), [start[name].shape for name in start]
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]

    def unpacked(flat: Floats) -> Parameters:
        parts = np.split(flat, ends)
        return {name: part.reshape(shape) for name, part, shape in zip(names, parts, shapes, strict=True)}

    def objective(flat: Floats) -> tuple[float, Floats]:
        value, gradient = value_and_gradient(loss, unpacked(flat))
        return value, np.concatenate([gradient[name].ravel() for name in names])

    first = np.concatenate([start[name].ravel() for name in names])
    # Products too small for a second thread of BLAS: it would only wait for them, on a core.
    with threadpool_limits(1, user_api="blas"):
        result = minimize(
            objective,
            first,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": steps, "maxfun": 2 * steps, "maxcor": 20, "ftol": 1e-15, "gtol": 1e-10},
            callback=None if progress is None else lambda _: progress("step"),
        )
    return unpacked(result.x), float(result.fun)


def initial_layers(
    rng: np.random.Generator, *, dim: int, layers: int, mlp: bool, spread: float | None = None
) -> Parameters:
    """Gaussian weights with variance 1/d (or `spread`²), biases 0; names end in the layer."""
    size = 1 / math.sqrt(dim) if spread is None else spread
    found: Parameters = {}
    for l in range(layers):
        for name in ("query", "key", "value", "output"):
            found[f"{name}{l}"] = rng.standard_normal((dim, dim)) * size
        found[f"query_bias{l}"], found[f"bias{l}"] = np.zeros(dim), np.zeros(dim)
        if mlp:
            found[f"inner{l}"] = rng.standard_normal((dim, dim)) * size
            found[f"outer{l}"] = rng.standard_normal((dim, dim)) * size
            found[f"inner_bias{l}"], found[f"outer_bias{l}"] = np.zeros(dim), np.zeros(dim)
    return found


def attention_layer(p: Mapping[str, Var], X: Var, l: int, *, heads: int, skip: float, mlp: bool) -> Var:
    """One layer, Y = λX + SA(X), and with a map Y + f(Y): it keeps its own skip connection, as in Dong et
    al.'s code.
    """
    d = X.shape[-1]
    Q = (X @ p[f"query{l}"] + p[f"query_bias{l}"]).split(heads)
    K, V = (X @ p[f"key{l}"]).split(heads), (X @ p[f"value{l}"]).split(heads)
    P = softmax(Q @ K.T * (1 / math.sqrt(d // heads)))
    Y = (P @ V).joined() @ p[f"output{l}"] + p[f"bias{l}"]
    Y = Y + X * skip if skip else Y
    if mlp:
        Y = Y + gelu(Y @ p[f"inner{l}"] + p[f"inner_bias{l}"]) @ p[f"outer{l}"] + p[f"outer_bias{l}"]
    return Y


def as_network(p: Parameters, *, layers: int, heads: int, skip: float, mlp: bool) -> Network:
    """The trained layers as a network of the library."""
    d = p["query0"].shape[0]
    k = d // heads

    def split(name: str) -> Floats:
        return np.stack([p[f"{name}{l}"].reshape(d, heads, k).transpose(1, 0, 2) for l in range(layers)])

    maps = None
    if mlp:
        maps = [
            MLP(p[f"inner{l}"], p[f"outer{l}"], p[f"inner_bias{l}"], p[f"outer_bias{l}"], "gelu", skip=True)
            for l in range(layers)
        ]
    return Network.from_qkvo(
        split("query"),
        split("key"),
        split("value"),
        np.stack([p[f"output{l}"].reshape(heads, k, d) for l in range(layers)]),
        b_Q=np.stack([p[f"query_bias{l}"].reshape(heads, k) for l in range(layers)]),
        b_O=np.stack([p[f"bias{l}"] for l in range(layers)]),
        skip=skip,
        mlp=maps,
    )
