"""Models for the experiments: a checkpoint where one is named, else a transformer as it is before training."""

import math
import os
from typing import Literal

import numpy as np

from rankmath.model.blocks import Block, Heads
from rankmath.model.checkpoint import Model, load_model
from rankmath.model.embedding import WordEmbedding
from rankmath.model.network import MLP, LayerNorm
from rankmath.validation import Floats, InvalidArgument, as_choice, as_count

Init = Literal["bert", "xavier", "orthogonal"]


def initial_model(
    *, dim: int, heads: int, layers: int, seed: int, init: Init = "bert", vocabulary: int = 1000, places: int = 512
) -> Model:
    """A BERT before training: LayerNorm after the skips, GELU map of width 4d, biases 0.

    `init`: "bert" draws every matrix with standard deviation 0.02, "xavier" with √(2/(in + out)), "orthogonal"
    makes the square ones orthogonal (of Haar measure) and draws the map as "xavier" does.
    """
    d, H, L = as_count("dim", dim, least=2), as_count("heads", heads), as_count("layers", layers)
    as_choice("init", init, ("bert", "xavier", "orthogonal"))
    if d % H:
        raise InvalidArgument(f"dim: {d} given; it must be a multiple of the {H} heads")
    rng = np.random.default_rng(as_count("seed", seed, least=0))

    def draw(rows: int, columns: int) -> Floats:
        if init == "orthogonal" and rows == columns:
            Q, R = np.linalg.qr(rng.standard_normal((rows, rows)))
            return np.asarray(Q * np.sign(np.diagonal(R)))
        return rng.standard_normal((rows, columns)) * (0.02 if init == "bert" else math.sqrt(2 / (rows + columns)))

    def norm() -> LayerNorm:
        return LayerNorm("standard", 1e-12, np.ones(d), np.zeros(d))

    def block() -> Block:
        Q, K, V, O = (draw(d, d) for _ in range(4))
        mlp = MLP(draw(d, 4 * d), draw(4 * d, d), activation="gelu")
        return Block(Heads(Q, K, V, O, None, None, None, None, H), mlp, norm(), norm(), float(d // H))

    blocks = tuple(block() for _ in range(L))
    words, positions = rng.standard_normal((vocabulary, d)) * 0.02, rng.standard_normal((places, d)) * 0.02
    return Model("bert", blocks, "post", WordEmbedding(words, positions, None, norm(), None, None))


def given_model(
    model: str | os.PathLike[str] | Model | None, *, dim: int, heads: int, layers: int, seed: int
) -> tuple[Model, bool]:
    """The checkpoint, and True; or a model before training of the given sizes, and False."""
    if model is None:
        return initial_model(dim=dim, heads=heads, layers=layers, seed=seed), False
    return (model if isinstance(model, Model) else load_model(model)), True


def first_tokens(model: Model, *, text: str | None, tokens: int, seed: int) -> Floats:
    """X of a text's first tokens, or of random ids."""
    if text is None:
        return model.embed(model.random_ids(tokens, seed))
    return model.embed(text, tokens=tokens)
