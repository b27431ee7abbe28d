"""`load_model`: a trained transformer from its files, ready for every pass of this library."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rankmath.linalg.masks import MaskLike
from rankmath.model.arrays import Floats
from rankmath.model.blocks import VARIANTS, Block, Heads, Source, fresh, redrawn, sublayers
from rankmath.model.checkpoint_files import Tensors, checkpoint_files
from rankmath.model.embedding import (
    AudioEmbedding,
    Embedding,
    PatchEmbedding,
    Tokenizer,
    WordEmbedding,
    equal_lengths,
    tokenizer_beside,
)
from rankmath.model.gguf_files import GGUFTensors
from rankmath.model.layouts import Layout, NamedWeights, activation_named, layout_of
from rankmath.model.modern import FAMILIES, NAMES, PLACES, Reader, unwrapped
from rankmath.model.network import MLP, LayerNorm, Network, Sublayer
from rankmath.model.positions import Position, RelativeBuckets
from rankmath.printing import Sheet, Shows
from rankmath.validation import ArrayLike, InvalidArgument, Json, as_choice, as_count, as_real

#: More layers, or wider ones, than any model has: a damaged config.json.
_MOST = 10**5
#: MPNet's buckets of relative positions, whatever config.json says.
_BUCKETS = 32


@dataclass(frozen=True, eq=False, repr=False)
class Model(Shows):
    """A transformer with its weights; `load_model` makes one.

    Attributes
    ----------
    kind : "bert", "roberta", "mpnet", "albert", "distilbert", "gpt2", "vit", "whisper-encoder", "whisper-decoder",
        or one of `modern.FAMILIES`: "llama", "qwen3", "gemma3_text", ….
    blocks : attention, per-token map and LayerNorms of every layer.
    order : "post" if LayerNorm follows the skip connection, "pre" if it precedes the map.
    name : the ablation `network` is: a key of `VARIANTS`, "full" as loaded.
    mask : of the attention; None where every token sees every token.
    d_qk : logits are divided by its root; None for the model's own.
    spread : standard deviation of the weights before training, from config.json.
    """

    kind: str
    blocks: tuple[Block, ...]
    order: Literal["pre", "post"]
    embedding: Embedding
    final_norm: LayerNorm | None = None
    tokenizer: Tokenizer | None = None
    position: Position | None = None
    mask: MaskLike = None
    d_qk: float | None = None
    name: str = "full"
    spread: float = 0.02

    @cached_property
    def network(self) -> Network:
        """The layers as one network: `rm.trace(model.network, X)`."""
        kept = VARIANTS[self.name]
        layers = [
            sublayers(block, self.order, kept, mask=self.mask, position=self.position, d_qk=self.d_qk)
            for block in self.blocks
        ]
        if self.final_norm is not None and kept.norm:
            layers[-1].append(Sublayer(None, 1.0, after=self.final_norm))
        return Network.from_layers(layers)

    def sheet(self) -> Sheet:
        heads = " or ".join(str(count) for count in sorted({block.heads.count for block in self.blocks}))
        sizes = f"{len(self.blocks)} layers, {heads} heads, dimension {self.dim}"
        return Sheet(f"Model: {self.kind}, {sizes}", (("ablation", self.name),))

    @property
    def dim(self) -> int:
        """d, the length of a token."""
        return int(self.blocks[0].heads.query.shape[0])

    def embed(self, what: ArrayLike, *, types: ArrayLike = None, tokens: int | None = None) -> Floats:
        """X of layer 0, (n, d): of a text or of token ids; of pixels (ViT) or a spectrogram (Whisper's encoder).

        A list of texts, or of lists of ids, gives a batch (batch, n, d); `tokens` keeps the first so many of each.
        """
        if not isinstance(self.embedding, WordEmbedding):
            if types is not None or tokens is not None:
                raise InvalidArgument(f"types, tokens: given; the input of {self.kind} is no text")
            return self.embedding(what)
        texts = isinstance(what, (list, tuple)) and bool(what) and all(isinstance(text, str) for text in what)
        if isinstance(what, str) or texts:
            if self.tokenizer is None:
                raise InvalidArgument("text: given, but there is no tokenizer.json beside the weights; pass token ids")
            rows = [self.tokenizer.ids(text) for text in ([what] if isinstance(what, str) else what)]
            rows = equal_lengths("text", rows, tokens)
            what = rows[0] if isinstance(what, str) else rows
        elif tokens is not None:
            what = np.asarray(what)[..., : as_count("tokens", tokens)]
        return self.embedding(what, types)

    def random_ids(self, tokens: int, seed: int = 0) -> Floats:
        """Token ids drawn uniformly from the vocabulary."""
        if not isinstance(self.embedding, WordEmbedding):
            raise InvalidArgument(f"ids: the input of {self.kind} is no text")
        n = as_count("tokens", tokens, most=self.embedding.room)
        rng = np.random.default_rng(as_count("seed", seed, least=0))
        return rng.integers(0, self.embedding.vocabulary, n)

    def variant(
        self,
        name: str = "full",
        *,
        mask: MaskLike = "own",
        d_qk: float | None = None,
        weights: Source = "trained",
        seed: int = 0,
    ) -> Model:
        """An ablation by name, with another mask, temperature or other weights where asked.

        Parameters
        ----------
        name : "san" (attention alone), "san+mlp", "san+skip", "san+norm", …, "full"; "dong:san", … are those of
            Dong et al.'s code, which keep LayerNorm and the map's own skip connection. `VARIANTS` has all of them.
        mask : "own" keeps the model's; otherwise "complete", "causal", "window:4", "unidirectional_window", a Mask, ….
        d_qk : the logits are divided by its root; the model's own unless given.
        weights : "trained"; "redrawn", Gaussian at the scale of each trained matrix; "initial", as before training
            (Gaussian with the config's standard deviation, no biases, LayerNorms 1 and 0, embedding redrawn too).
        seed : of the weights that are drawn.
        """
        as_choice("variant", name, tuple(VARIANTS))
        as_choice("weights", weights, ("trained", "redrawn", "initial"))
        changes: dict[str, Any] = {"name": name}
        if not (isinstance(mask, str) and mask == "own"):
            changes["mask"] = "complete" if mask is None else mask
        if d_qk is not None:
            changes["d_qk"] = as_real("d_qk", d_qk, positive=True)
        if weights != "trained":
            rng = np.random.default_rng(as_count("seed", seed, least=0))
            changes["blocks"] = tuple(redrawn(block, weights, rng, self.spread) for block in self.blocks)
            if weights == "initial":
                changes["embedding"] = self.embedding.redrawn(rng, self.spread)
                changes["final_norm"] = None if self.final_norm is None else fresh(self.final_norm)
        return replace(self, **changes)


def load_model(
    path: str | os.PathLike[str], *, layers: int | Sequence[int] | None = None, part: str | None = None
) -> Model:
    """A transformer from a folder with config.json and weights, or from a file of weights.

    BERT, ALBERT, RoBERTa, MPNet, DistilBERT, GPT-2, ViT and Whisper; Llama, Mistral, Qwen 2 and 3, Gemma 2 and 3,
    Phi-3, GPT-NeoX, OLMo 2, ModernBERT, T5's encoder, DINOv2; from safetensors or PyTorch files, some from GGUF
    files. Nothing in a file is run. All numbers are widened to float64, which changes none of them.

    Parameters
    ----------
    layers : how many of the first layers, or which ones; all unless given.
    part : "encoder" or "decoder" of Whisper (the decoder without its attention to the encoder).
    """
    config, tensors = checkpoint_files(path)
    with tensors.in_its_words() if isinstance(tensors, GGUFTensors) else nullcontext():
        return _loaded(config, tensors, layers, part, path)


def _loaded(
    config: Mapping[str, Json],
    tensors: Tensors | GGUFTensors,
    layers: int | Sequence[int] | None,
    part: str | None,
    path: str | os.PathLike[str],
) -> Model:
    # A Whisper file keeps its sizes beside its tensors.
    config = {**config} | tensors.extra.get("dims", {})
    kind, own = unwrapped(str(config.get("model_type")), config)
    if kind in FAMILIES:
        if part not in (None, "encoder" if kind == "t5" else None):
            raise InvalidArgument(f"part: {part!r} given; of T5 the encoder is read, {kind!r} has no parts")
        return _modern(kind, own, tensors, layers, path)
    kind, layout = layout_of(config, tensors, part, NAMES)
    weights = NamedWeights.of(tensors, layout)
    embedding = _embedding(weights, layout, config)
    tables = (
        embedding.projection if isinstance(embedding, WordEmbedding) and embedding.projection else [embedding.positions]
    )
    assert tables[0] is not None
    d = int(tables[0].shape[1])
    depth = as_count(layout.layers[0], config.get(*layout.layers), most=_MOST)
    heads = as_count(layout.heads[0], config.get(*layout.heads), most=_MOST)
    if d % heads:
        raise InvalidArgument(f"path: {layout.heads[0]} {heads} in config.json; it must divide the width {d}")
    _agree(kind, config, tensors, d, (layout.layers[0], depth))
    eps = _eps(layout, config)
    position = None
    if layout.buckets is not None:
        table = weights.tensor(f"{layout.buckets}.weight", (None, heads))
        if len(table) < _BUCKETS:
            raise InvalidArgument(f"path: {len(table)} buckets in {layout.buckets!r}; MPNet looks up {_BUCKETS}")
        position = RelativeBuckets(table[:_BUCKETS], 128)
    final = None
    if layout.final_norm is not None:
        final = LayerNorm("standard", eps, *weights.norm(layout.final_norm, d))
    mask = "causal" if config.get("is_decoder") is True else layout.mask
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    shared: dict[tuple[str, float], Block] = {}
    blocks = tuple(_block(weights, layout, config, l, d, heads, eps, shared) for l in _chosen(layers, depth))
    spread = as_real("initializer_range", config.get("initializer_range", 0.02), positive=True)
    tokenizer = tokenizer_beside(folder)
    model = Model(kind, blocks, layout.order, embedding, final, tokenizer, position, mask, spread=spread)
    return _of_the_same_sizes(model, config)


#: The names of the width in config.json.
_WIDTHS = ("hidden_size", "n_embd", "dim", "d_model")


def _agree(
    kind: str, config: Mapping[str, Json], tensors: Mapping[str, Floats], d: int, depth: tuple[str, int]
) -> None:
    """A config.json of another model is refused: its width and its depth are those of the weights."""
    for name in _WIDTHS:
        _same(config, name, d, "width ")
    if kind in ("albert", "whisper"):  # layers that share their weights; two parts with layers of their own
        return
    _no_layer_beyond(depth, r"(?:^|\.)(?:layer|h)\.(\d+)\.", tensors)


def _no_layer_beyond(depth: tuple[str, int], pattern: str, tensors: Mapping[str, Floats]) -> None:
    """Layers of the weights that config.json does not count would be left out in silence."""
    found = (re.search(pattern, name) for name in tensors)
    there = 1 + max((int(match[1]) for match in found if match), default=-1)
    if there > depth[1]:
        raise InvalidArgument(f"path: {depth[0]} {depth[1]} in config.json, but the weights have {there} layers")


def _same(config: Mapping[str, Json], name: str, there: int, what: str = "") -> None:
    """A size that config.json says is that of the weights; null says nothing."""
    if (given := config.get(name)) is not None and as_count(name, given) != there:
        raise InvalidArgument(f"path: {name} {given} in config.json, but the weights have {what}{there}")


def _modern(
    kind: str,
    config: Mapping[str, Json],
    tensors: Mapping[str, Floats],
    layers: int | Sequence[int] | None,
    path: str | os.PathLike[str],
) -> Model:
    """A model of one of `FAMILIES`."""
    family = FAMILIES[kind]
    weights = NamedWeights(tensors, family.prefixes, family.layer.format(0) + family.output + ".weight")
    depth = as_count(family.layers, config.get(family.layers), most=_MOST)
    before, after = (re.escape(part) for part in (weights.prefix + family.layer).split("{}"))
    _no_layer_beyond((family.layers, depth), rf"^{before}(\d+){after}", tensors)
    types = config.get("layer_types")
    if isinstance(types, list) and len(types) != depth:
        raise InvalidArgument(f"path: {len(types)} layer_types in config.json; its {depth} layers need as many")
    heads = as_count(family.heads, config.get(family.heads), most=_MOST)
    width = "d_model" if kind == "t5" else "hidden_size"
    d = as_count(width, config.get(width), most=_MOST)
    reader = Reader(kind, family, config, weights, d, heads)
    position, tables = None, dict.fromkeys((False, True))
    chosen = _chosen(layers, depth)
    for l in chosen:
        if tables[reader.is_local(l)] is None:
            tables[reader.is_local(l)] = reader.rotary(l)
    blocks = tuple(reader.block(l, tables[reader.is_local(l)]) for l in chosen)
    if kind == "t5":
        first = family.layer.format(0) + "layer.0.SelfAttention.relative_attention_bias.weight"
        most = as_count("relative_attention_max_distance", config.get("relative_attention_max_distance", 128))
        buckets = weights.tensor(first, (None, heads))
        _same(config, "relative_attention_num_buckets", len(buckets))
        position = RelativeBuckets(buckets, most)
    embedding: Embedding
    if family.input == "pixels":
        embedding = _patches(weights, "embeddings.position_embeddings")
    else:
        places = [table.places for table in tables.values() if table is not None]
        words, scale = weights.tensor(f"{family.words}.weight", (None, d)), math.sqrt(d) if "gemma" in kind else 1.0
        norm, most = reader.norm(family.embedding_norm), min(places, default=PLACES)
        embedding = WordEmbedding(words, norm=norm, scale=scale, places=most)
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    key = "initializer_factor" if kind == "t5" else "initializer_range"
    spread = as_real(key, config.get(key, 0.02), positive=True)
    final = reader.norm(family.final_norm)
    model = Model(kind, blocks, "pre", embedding, final, tokenizer_beside(folder), position, None, spread=spread)
    return _of_the_same_sizes(model, config)


def _of_the_same_sizes(model: Model, config: Mapping[str, Json]) -> Model:
    """The model, if its maps and its tables of words and places are as large as config.json says."""
    inner = model.blocks[0].mlp.W_in.shape[-1]
    found = dict.fromkeys(("intermediate_size", "n_inner", "hidden_dim", "d_ff"), inner)
    if isinstance(model.embedding, WordEmbedding):
        found["vocab_size"] = model.embedding.vocabulary
        if model.embedding.positions is not None:
            found |= dict.fromkeys(("max_position_embeddings", "n_positions"), len(model.embedding.positions))
    for name, there in found.items():
        _same(config, name, there)
    return model


def _chosen(layers: int | Sequence[int] | None, depth: int) -> list[int]:
    if layers is None:
        return list(range(depth))
    if isinstance(layers, Sequence):
        if not layers:
            raise InvalidArgument("layers: none given; a number of layers, or a sequence of them, is needed")
        return [as_count("layers", l, least=0, most=depth - 1) for l in layers]
    return list(range(as_count("layers", layers, most=depth)))


def _eps(layout: Layout, config: Mapping[str, Json]) -> float:
    key, usual = layout.eps
    return usual if key is None else as_real(key, config.get(key, usual), positive=True)


def _block(
    weights: NamedWeights,
    layout: Layout,
    config: Mapping[str, Json],
    l: int,
    d: int,
    heads: int,
    eps: float,
    shared: dict[tuple[str, float], Block],
) -> Block:
    def name(template: str) -> str:
        return layout.layer_name(template, l, config)

    def linear(part: str, d_in: int, d_out: int | None) -> tuple[Floats, Floats | None]:
        return weights.linear(name(getattr(layout.block, part)), d_in, d_out, biased=layout.biased(part, config))

    # GPT-2 may switch the division by √d_qk off, or divide layer l by l + 1 as well.
    d_qk = float(d // heads) if config.get("scale_attn_weights") is not False else 1.0
    if config.get("scale_attn_by_inverse_layer_idx") is True:
        d_qk *= (l + 1) ** 2
    place = (name(layout.block.output), d_qk)
    if place in shared:  # ALBERT: one set of weights for many layers
        return shared[place]
    if layout.fused:
        whole, bias = linear("query", d, 3 * d)
        pieces = [None] * 3 if bias is None else np.split(bias, 3)
        maps = list(zip(np.split(whole, 3, axis=1), pieces, strict=True))
    else:
        maps = [linear(part, d, d) for part in ("query", "key", "value")]
    (Q, b_Q), (K, b_K), (V, b_V) = maps
    O, b_O = linear("output", d, d)
    W_in, b_in = linear("inner", d, None)
    W_out, b_out = linear("outer", W_in.shape[1], d)
    block = shared[place] = Block(
        Heads(Q, K, V, O, b_Q, b_K, b_V, b_O, heads),
        MLP(W_in, W_out, b_in, b_out, activation_named(layout.act[0], config.get(*layout.act))),
        LayerNorm("standard", eps, *weights.norm(name(layout.block.attention_norm), d)),
        LayerNorm("standard", eps, *weights.norm(name(layout.block.mlp_norm), d)),
        d_qk,
    )
    return block


def _embedding(weights: NamedWeights, layout: Layout, config: Mapping[str, Json]) -> Embedding:
    table = layout.positions if layout.positions + ".weight" not in weights else layout.positions + ".weight"
    if layout.input == "pixels":
        return _patches(weights, table)
    positions = weights.tensor(table, (None, None))
    e = positions.shape[1]
    if layout.input == "audio":
        first, second = (
            (weights.tensor(f"encoder.conv{k}.weight", (e, None, 3)), weights.tensor(f"encoder.conv{k}.bias", (e,)))
            for k in (1, 2)
        )
        return AudioEmbedding(first, second, positions)
    return WordEmbedding(
        weights.tensor(f"{layout.words}.weight", (None, e)),
        positions,
        None if layout.types is None else weights.tensor(f"{layout.types}.weight", (None, e)),
        None
        if layout.embedding_norm is None
        else LayerNorm("standard", _eps(layout, config), *weights.norm(layout.embedding_norm, e)),
        None if layout.projection is None else weights.linear(layout.projection, e, None, biased=True),
        _padding(layout, config),
    )


def _patches(weights: NamedWeights, table: str) -> PatchEmbedding:
    positions = weights.tensor(table, (1, None, None))[0]
    d = positions.shape[1]
    kernel = weights.tensor("embeddings.patch_embeddings.projection.weight", (d, None, None, None))
    bias = "embeddings.patch_embeddings.projection.bias"
    first = weights.tensor("embeddings.cls_token", (1, 1, d))[0]
    if (other := "embeddings.distillation_token") in weights:  # DeiT
        first = np.concatenate([first, weights.tensor(other, (1, 1, d))[0]])
    return PatchEmbedding(kernel, weights.tensor(bias, (d,)), first, positions)


def _padding(layout: Layout, config: Mapping[str, Json]) -> int | None:
    if layout.first_position == "zero":
        return None
    return (
        1 if layout.first_position == "after one" else as_count("pad_token_id", config.get("pad_token_id", 1), least=0)
    )
