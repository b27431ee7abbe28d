"""`wu-fig2`, `wu-temperature`, `wu-ranks`: masks, LayerNorm and temperature at initialisation (Wu et al. 2024).

128 layers of a BERT before training, by the centred pass, which has no floor: what a plain float64 or float32 run
shows from some depth on is rounding.
"""

import math
from collections.abc import Iterator
from itertools import product

import numpy as np

from rankmath.attention.columns import measure
from rankmath.attention.experiments.findings import Curve, Findings, Part, Step, silent
from rankmath.attention.experiments.models import Init, initial_model
from rankmath.attention.softmax import row_softmax
from rankmath.attention.trace import trace
from rankmath.linalg.masks import as_mask
from rankmath.linalg.metrics import mean_cosine, singular_squares
from rankmath.model.checkpoint import Model
from rankmath.validation import Floats, InvalidArgument, Json, as_count, as_real

#: The four masks of their figure, by our names; a window reaches so many tokens to either side.
MASKS = ("complete", "causal", "window:1", "unidirectional_window")
#: Attention alone, and with LayerNorm, skip connection, both, and the whole block.
VARIANTS = ("san", "san+norm", "san+skip", "san+skip+norm", "full")


def _model(tokens: int, dim: int, heads: int, layers: int, seed: int, init: Init) -> tuple[Model, Floats]:
    as_count("tokens", tokens, least=2)
    model = initial_model(dim=dim, heads=heads, layers=layers, seed=seed, init=init)
    # Their tokens are drawn at random; ours have mean square 1, as after the embedding's LayerNorm.
    return model, np.random.default_rng(seed + 1).standard_normal((tokens, dim))


def wu_fig2(
    *,
    tokens: int = 32,
    dim: int = 64,
    heads: int = 2,
    layers: int = 128,
    seed: int = 0,
    init: Init = "orthogonal",
    progress: Step = silent,
) -> Findings:
    """log₁₀ μ(X(t)) = log₁₀ ‖X − 11ᵀX/n‖_F by layer under four masks and five variants."""
    model, X = _model(tokens, dim, heads, layers, seed, init)

    def parts() -> Iterator[Part]:
        for variant, mask in product(VARIANTS, MASKS):
            logs = trace(model.variant(variant, mask=mask).network, X).log_residual / math.log(10)
            found = f"log10 mu {logs[0]:.2f} at the input, {logs[-1]:.4g} at layer {layers}"
            name = f"{variant}, {mask}"
            yield Part(name, (Curve.of(variant, mask, np.arange(layers + 1), logs),), (f"{name}: {found}",))

    axes = dict.fromkeys(VARIANTS, ("layer", "log10 of mu(X)", "linear", "linear"))
    settings = _settings(tokens, dim, heads, layers, seed, init)
    return Findings.of("wu-fig2", settings, axes, parts(), progress)


def wu_temperature(
    *,
    tokens: int = 32,
    dim: int = 64,
    heads: int = 2,
    layers: int = 128,
    seed: int = 0,
    init: Init = "orthogonal",
    temperatures: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0, 100.0),
    progress: Step = silent,
) -> Findings:
    """Normalised μ by layer for several d_qk: the logits are divided by √d_qk, in units of the model's own d_qk."""
    model, X = _model(tokens, dim, heads, layers, seed, init)
    own = model.blocks[0].d_qk
    for factor in temperatures:
        as_real("temperatures", factor, positive=True)

    def parts() -> Iterator[Part]:
        for variant, factor in product(("san", "san+norm"), temperatures):
            d_qk = own * factor
            found = measure(model.variant(variant, d_qk=d_qk).network, X, ["mu-ratio"])
            logs = found.logs["mu-ratio"] / math.log(10)
            curve = Curve.of(variant, f"d_qk = {d_qk:g}", np.arange(layers + 1), logs)
            words = f"{variant}, d_qk = {d_qk:g}: log10 of mu(X)/|X| {logs[-1]:.4g} at layer {layers}"
            yield Part(f"{variant}, d_qk {d_qk:g}", (curve,), (words,))

    axes = dict.fromkeys(("san", "san+norm"), ("layer", "log10 of mu(X)/‖X‖_F", "linear", "linear"))
    settings = _settings(tokens, dim, heads, layers, seed, init) | {"temperatures": list(temperatures)}
    return Findings.of("wu-temperature", settings, axes, parts(), progress)


def wu_ranks(
    *,
    tokens: int = 32,
    dim: int = 64,
    heads: int = 2,
    layers: int = 128,
    seed: int = 0,
    init: Init = "bert",
    dropout: float = 0.1,
    progress: Step = silent,
) -> Findings:
    """Does LayerNorm keep the rank at initialisation? Mean cosine, effective rank and σ₂/σ₁, with and without
    dropout.

    Without dropout by the centred pass; with dropout (a model in training mode, which a freshly made one is) by the
    plain pass, zeroing entries of attention and of its output with the given probability.
    """
    if not 0 < as_real("dropout", dropout) < 1:
        raise InvalidArgument(f"dropout: {dropout} given; a number between 0 and 1 is needed")
    model, X = _model(tokens, dim, heads, layers, seed, init)
    depth, ten = np.arange(layers + 1), math.log(10)

    def parts() -> Iterator[Part]:
        for mask in MASKS:
            net = model.variant("san+norm", mask=mask).network
            found = measure(net, X, ["cosine-gap", "effective-rank", "mu-ratio"])
            dropped = _with_dropout(model, X, mask, dropout, seed)
            # A token whose every weight was dropped is zero: it has no direction and does not count.
            gaps = [1 - float(mean_cosine(state[np.abs(state).max(axis=1) > 0])) for state in dropped]
            squares = [singular_squares(state) for state in dropped]
            ratios = [math.sqrt(float(second / first)) for first, second, *_ in squares]
            curves = (
                Curve.of("log10 of 1 − mean cosine", mask, depth, found.logs["cosine-gap"] / ten),
                Curve.of("log10 of 1 − mean cosine", f"{mask}, dropout {dropout:g}", depth, np.log10(gaps)),
                Curve.of("effective rank", mask, depth, found.values["effective-rank"]),
                Curve.of("σ₂/σ₁ with dropout", mask, depth, ratios),
            )
            words = (
                f"{mask}: with LayerNorm and no dropout log10 of 1 − mean cosine is "
                f"{found.logs['cosine-gap'][-1] / ten:.4g} at layer {layers}, effective rank "
                f"{found.values['effective-rank'][-1]:.4g}; with dropout {dropout:g} it is "
                f"{math.log10(gaps[-1]):.4g}, sigma2/sigma1 {ratios[-1]:.3g}"
            )
            yield Part(mask, curves, (words,))

    axes = {
        "log10 of 1 − mean cosine": ("layer", "log10", "linear", "linear"),
        "effective rank": ("layer", "exp of the entropy of σ/Σσ", "linear", "linear"),
        "σ₂/σ₁ with dropout": ("layer", "σ₂/σ₁", "linear", "linear"),
    }
    settings = _settings(tokens, dim, heads, layers, seed, init) | {"dropout": dropout}
    return Findings.of("wu-ranks", settings, axes, parts(), progress)


def _settings(tokens: int, dim: int, heads: int, layers: int, seed: int, init: str) -> dict[str, Json]:
    return {"tokens": tokens, "dim": dim, "heads": heads, "layers": layers, "seed": seed, "init": init}


def _with_dropout(model: Model, X: Floats, mask: str, p: float, seed: int) -> list[Floats]:
    """States of attention with LayerNorm, entries of P and of the output dropped and the rest scaled up."""
    rng = np.random.default_rng(seed + 2)
    seen = as_mask(mask, len(X))

    def dropped(a: Floats) -> Floats:
        return np.where(rng.random(a.shape) < p, 0.0, a / (1 - p))

    states = [X]
    for block in model.blocks:
        h = block.heads
        k = X.shape[1] // h.count
        out = []
        for head in range(h.count):
            part = slice(head * k, (head + 1) * k)
            logits = (X @ h.query[:, part]) @ (X @ h.key[:, part]).T / math.sqrt(block.d_qk)
            out.append(dropped(row_softmax(logits, seen)) @ (X @ h.value[:, part]))
        X = dropped(np.concatenate(out, axis=1) @ h.output)
        X = X - X.mean(axis=1, keepdims=True)
        assert block.attention_norm is not None, "BERT has one"
        X = X / np.sqrt((X * X).mean(axis=1, keepdims=True) + block.attention_norm.floor)
        states.append(X)
    return states
