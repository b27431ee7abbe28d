"""Where each architecture keeps its weights: one table a layout, from config.json to names of tensors.

Every layout here is a stack of blocks: attention, then a map applied to every token alike, each with a skip
connection and a LayerNorm after it (BERT, ALBERT, RoBERTa, MPNet, DistilBERT) or before it (GPT-2, ViT, Whisper).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from rankmath.model.arrays import Floats
from rankmath.model.sublayers import Activation
from rankmath.validation import InvalidArgument, Json, as_count

#: Names of activations in a config.json, and ours.
ACTIVATIONS: dict[str, Activation] = {
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_accurate": "gelu_tanh",
    "gelu_fast": "gelu_tanh",  # with ten digits of √(2/π)
    "gelu_pytorch_tanh": "gelu_tanh",
    "quick_gelu": "quick_gelu",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
}


def activation_named(key: str, given: Json) -> Activation:
    """Our name of what config.json has under a key."""
    if not isinstance(given, str) or given not in ACTIVATIONS:
        allowed = ", ".join(ACTIVATIONS)
        raise InvalidArgument(f"path: {key} {str(given)[:40]!r} in config.json; allowed are {allowed}")
    return ACTIVATIONS[given]


class Names(NamedTuple):
    """Where a block keeps its linear maps and its two LayerNorms; ``{}`` is the layer."""

    query: str
    key: str
    value: str
    output: str
    inner: str
    outer: str
    attention_norm: str
    mlp_norm: str


def _block(layer: str, names: str) -> Names:
    return Names(*(layer + name for name in names.split()))


@dataclass(frozen=True)
class Layout:
    """One architecture; a linear map has .weight and .bias.

    Attributes
    ----------
    prefixes : what may stand before every name, tried in this order.
    block : the tensors of a layer; where they are `fused`, query, key and value are one.
    final_norm : a LayerNorm; None where there is none.
    order : "post" if LayerNorm follows the skip connection, "pre" if it precedes the map.
    transposed : linear maps are stored (out, in), as PyTorch's Linear does, or (in, out).
    layers, heads, act, eps : keys of config.json, each with the value it has if the file leaves it out.
    words, positions, types, embedding_norm, projection : of the embedding.
    first_position : the position of the first token; "after padding" counts from the padding id + 1, as RoBERTa
        does; "after one" from 2 and takes 1 for padding whatever config.json says, as MPNet does.
    no_bias : which of `Names` may lack a bias; all others have one.
    refused : keys of config.json that change the function unless they have one of these values.
    """

    prefixes: tuple[str, ...]
    block: Names
    order: Literal["pre", "post"]
    layers: tuple[str, int]
    heads: tuple[str, int]
    act: tuple[str, str]
    eps: tuple[str | None, float]
    words: str
    positions: str
    types: str | None = None
    embedding_norm: str | None = None
    projection: str | None = None
    final_norm: str | None = None
    fused: bool = False
    mask: str | None = None
    transposed: bool = True
    first_position: Literal["zero", "after padding", "after one"] = "zero"
    input: Literal["ids", "pixels", "audio"] = "ids"
    buckets: str | None = None
    no_bias: tuple[str, ...] = ()
    refused: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)

    def layer_name(self, name: str, l: int, config: Mapping[str, Json]) -> str:
        """The name of a tensor of layer l."""
        return name.format(l)

    def biased(self, part: str, config: Mapping[str, Json]) -> bool:
        """Whether this one of `Names` has a bias in every such file; ViT's config.json may say otherwise."""
        switched_off = self.input == "pixels" and config.get("qkv_bias") is False
        return part not in (*self.no_bias, *(("query", "key", "value") if switched_off else ()))


class _Albert(Layout):
    """Layers share their weights in groups: layer l of L belongs to group ⌊l·groups/L⌋."""

    def layer_name(self, name: str, l: int, config: Mapping[str, Json]) -> str:
        groups = as_count("num_hidden_groups", config.get("num_hidden_groups", 1))
        depth = as_count("num_hidden_layers", config.get(*self.layers))
        return name.format(l * groups // depth)


_BERT = Layout(
    prefixes=("", "bert."),
    block=_block(
        "encoder.layer.{}.",
        "attention.self.query attention.self.key attention.self.value attention.output.dense "
        "intermediate.dense output.dense attention.output.LayerNorm output.LayerNorm",
    ),
    order="post",
    layers=("num_hidden_layers", 12),
    heads=("num_attention_heads", 12),
    act=("hidden_act", "gelu"),
    eps=("layer_norm_eps", 1e-12),
    words="embeddings.word_embeddings",
    positions="embeddings.position_embeddings",
    types="embeddings.token_type_embeddings",
    embedding_norm="embeddings.LayerNorm",
    refused={"position_embedding_type": ("absolute", None), "add_cross_attention": (False, None)},
)


def _like_bert(kind: type[Layout] = Layout, **changes: Any) -> Layout:
    return kind(**{**vars(_BERT), **changes})


def _whisper(part: Literal["encoder", "decoder"]) -> Layout:
    text = part == "decoder"
    return Layout(
        prefixes=("model.", ""),
        block=_block(
            f"{part}.layers.{{}}.",
            "self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.out_proj fc1 fc2 self_attn_layer_norm "
            "final_layer_norm",
        ),
        order="pre",
        layers=(f"{part}_layers", 4),
        heads=(f"{part}_attention_heads", 6),
        act=("activation_function", "gelu"),
        eps=(None, 1e-5),
        words="decoder.embed_tokens" if text else "encoder",
        positions=f"{part}.embed_positions.weight",
        final_norm=f"{part}.layer_norm",
        mask="causal" if text else None,
        input="ids" if text else "audio",
        no_bias=("key",),
    )


def _whisper_openai(part: Literal["encoder", "decoder"]) -> Layout:
    """The same model under the names of its authors' own files."""
    text = part == "decoder"
    return replace(
        _whisper(part),
        prefixes=("model_state_dict.", ""),
        block=_block(f"{part}.blocks.{{}}.", "attn.query attn.key attn.value attn.out mlp.0 mlp.2 attn_ln mlp_ln"),
        layers=("n_text_layer" if text else "n_audio_layer", 4),
        heads=("n_text_head" if text else "n_audio_head", 6),
        words="decoder.token_embedding" if text else "encoder",
        positions=f"{part}.positional_embedding",
        final_norm="decoder.ln" if text else "encoder.ln_post",
    )


LAYOUTS: dict[str, Layout] = {
    "bert": _BERT,
    "roberta": _like_bert(prefixes=("", "roberta."), first_position="after padding"),
    "mpnet": _like_bert(
        prefixes=("", "mpnet."),
        block=_block(
            "encoder.layer.{}.",
            "attention.attn.q attention.attn.k attention.attn.v attention.attn.o intermediate.dense output.dense "
            "attention.LayerNorm output.LayerNorm",
        ),
        types=None,
        first_position="after one",
        buckets="encoder.relative_attention_bias",
        refused={},
    ),
    "albert": _like_bert(
        _Albert,
        prefixes=("", "albert."),
        block=_block(
            "encoder.albert_layer_groups.{}.albert_layers.0.",
            "attention.query attention.key attention.value attention.dense ffn ffn_output attention.LayerNorm "
            "full_layer_layer_norm",
        ),
        heads=("num_attention_heads", 64),
        act=("hidden_act", "gelu_new"),
        projection="encoder.embedding_hidden_mapping_in",
        refused={"position_embedding_type": ("absolute", None), "inner_group_num": (1, None)},
    ),
    "distilbert": _like_bert(
        prefixes=("", "distilbert."),
        block=_block(
            "transformer.layer.{}.",
            "attention.q_lin attention.k_lin attention.v_lin attention.out_lin ffn.lin1 ffn.lin2 sa_layer_norm "
            "output_layer_norm",
        ),
        layers=("n_layers", 6),
        heads=("n_heads", 12),
        act=("activation", "gelu"),
        eps=(None, 1e-12),
        types=None,
        refused={},
    ),
    "gpt2": Layout(
        prefixes=("", "transformer."),
        block=_block("h.{}.", "attn.c_attn attn.c_attn attn.c_attn attn.c_proj mlp.c_fc mlp.c_proj ln_1 ln_2"),
        fused=True,
        final_norm="ln_f",
        order="pre",
        layers=("n_layer", 12),
        heads=("n_head", 12),
        act=("activation_function", "gelu_new"),
        eps=("layer_norm_epsilon", 1e-5),
        words="wte",
        positions="wpe",
        mask="causal",
        transposed=False,
        refused={"add_cross_attention": (False, None)},
    ),
    "vit": _like_bert(
        prefixes=("", "vit."),
        block=_block(
            "encoder.layer.{}.",
            "attention.attention.query attention.attention.key attention.attention.value attention.output.dense "
            "intermediate.dense output.dense layernorm_before layernorm_after",
        ),
        final_norm="layernorm",
        order="pre",
        words="embeddings",
        types=None,
        embedding_norm=None,
        input="pixels",
        refused={},
    ),
    "whisper-encoder": _whisper("encoder"),
    "whisper-decoder": _whisper("decoder"),
    "whisper-openai-encoder": _whisper_openai("encoder"),
    "whisper-openai-decoder": _whisper_openai("decoder"),
}

# The names that newer libraries give these tensors in memory.
_FLAT = "attention.q_proj attention.k_proj attention.v_proj attention.o_proj mlp.fc1 mlp.fc2"
LAYOUTS["vit-flat"] = replace(LAYOUTS["vit"], block=_block("layers.{}.", f"{_FLAT} layernorm_before layernorm_after"))

#: What `load_model` calls architectures; the part of Whisper is chosen by `part`.
ARCHITECTURES = ("bert", "roberta", "mpnet", "albert", "distilbert", "gpt2", "vit", "whisper")
#: Names some families give to a layout that is one of ours.
ALIASES = {"camembert": "roberta", "xlm-roberta": "roberta", "deit": "vit"}


def layout_of(
    config: Mapping[str, Json], tensors: Mapping[str, Floats], part: str | None, others: tuple[str, ...] = ()
) -> tuple[str, Layout]:
    """The architecture a config.json names (a lone Whisper file tells it by its sizes), and its table."""
    kind = config.get("model_type")
    if kind is None:
        kind = "whisper-openai" if "n_text_layer" in config else _named_by_tensors(tensors)
    kind = ALIASES.get(str(kind), kind)
    if kind not in (*ARCHITECTURES, "whisper-openai"):
        given = "no model_type" if kind is None else f"model_type {str(kind)[:60]!r}"
        names = ", ".join((*ARCHITECTURES, *ALIASES, *others))
        raise InvalidArgument(f"path: {given} in config.json; allowed are {names}")
    if str(kind).startswith("whisper"):
        if part not in ("encoder", "decoder"):
            raise InvalidArgument(f"part: {part!r} given; for Whisper allowed are 'encoder', 'decoder'")
        layout = LAYOUTS[f"{kind}-{part}"]
        return f"whisper-{part}", layout
    if part is not None:
        raise InvalidArgument(f"part: {part!r} given; only Whisper has parts, this is {kind!r}")
    flat = kind == "vit" and any(name.endswith("layers.0.attention.q_proj.weight") for name in tensors)
    layout = LAYOUTS["vit-flat" if flat else str(kind)]
    for key, allowed in layout.refused.items():
        if config.get(key) not in allowed:
            raise InvalidArgument(f"path: {key} {config[key]!r} in config.json; only {allowed[0]!r} is read")
    return str(kind), layout


def _named_by_tensors(tensors: Mapping[str, Floats]) -> str | None:
    """The architecture of files older than model_type, where the names of its tensors leave one.

    BERT and RoBERTa share theirs; BERT has two types of tokens, RoBERTa one.
    """
    found = []
    for kind, layout in LAYOUTS.items():
        name = layout.layer_name(layout.block.query, 0, {}) + ".weight"
        if kind in ARCHITECTURES and any(prefix + name in tensors for prefix in layout.prefixes):
            found.append(kind)
    if found == ["bert", "roberta"]:
        types = tensors.get("embeddings.token_type_embeddings.weight")
        found = [] if types is None else ["bert" if len(types) == 2 else "roberta"]
    return found[0] if len(found) == 1 else None


class NamedWeights:
    """The tensors of one checkpoint under the names of its layout, with shapes checked."""

    def __init__(
        self, tensors: Mapping[str, Floats], prefixes: tuple[str, ...], first: str, *, transposed: bool = True
    ) -> None:
        """`first` is the name of a tensor that every such file has, without the prefix that is to be found."""
        self.tensors, self.transposed = tensors, transposed
        found = [prefix for prefix in prefixes if prefix + first in tensors]
        # Else what stands before the names in this file, a model inside another one.
        found = found or [name.removesuffix(first) for name in tensors if name.endswith("." + first)]
        if not found:
            raise InvalidArgument(f"path: tensor {prefixes[-1] + first!r} is missing; this is another architecture")
        if len(found) > 1 and found[0] not in prefixes:
            raise InvalidArgument(f"path: {len(found)} models in one file, {', '.join(found)[:80]}; one is needed")
        self.prefix = found[0]

    @classmethod
    def of(cls, tensors: Mapping[str, Floats], layout: Layout) -> NamedWeights:
        first = layout.layer_name(layout.block.query, 0, {}) + ".weight"
        return cls(tensors, layout.prefixes, first, transposed=layout.transposed)

    def __contains__(self, name: str) -> bool:
        return self.prefix + name in self.tensors

    def tensor(self, name: str, shape: tuple[int | None, ...]) -> Floats:
        """A tensor of the shape asked for (None: any length)."""
        full = self.prefix + name
        if full not in self.tensors:
            raise InvalidArgument(f"path: tensor {full!r} is missing")
        array = self.tensors[full]
        fits = array.ndim == len(shape) and all(w in (None, s) for w, s in zip(shape, array.shape, strict=True))
        if not fits or 0 in array.shape:
            wanted = ", ".join("any" if s is None else str(s) for s in shape)
            raise InvalidArgument(f"path: tensor {full!r} has shape {array.shape}; it must be ({wanted})")
        return array

    def linear(self, name: str, d_in: int, d_out: int | None, *, biased: bool) -> tuple[Floats, Floats | None]:
        """A linear map as (in, out), for tokens that are rows, and its bias, which must be there where it is `biased`.

        Without a bias that the model has always had the map would be another function.
        """
        if self.transposed:
            weight = self.tensor(f"{name}.weight", (d_out, d_in)).T
        else:
            weight = self.tensor(f"{name}.weight", (d_in, d_out))
        bias = f"{name}.bias"
        return weight, self.tensor(bias, (weight.shape[1],)) if biased or bias in self else None

    def norm(self, name: str, d: int) -> tuple[Floats, Floats]:
        """Gain and offset of a LayerNorm; files of before 2019 call them gamma and beta."""
        old = f"{name}.gamma" in self or f"{name}.beta" in self
        gain, offset = ("gamma", "beta") if old else ("weight", "bias")
        return self.tensor(f"{name}.{gain}", (d,)), self.tensor(f"{name}.{offset}", (d,))
