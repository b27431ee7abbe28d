"""Today's layouts: Llama, Mistral, Qwen, Gemma, Phi-3, GPT-NeoX, OLMo 2, ModernBERT, T5's encoder, DINOv2.

What they have beside the layouts of `layouts`: rotary positions, key-value heads that several heads share, norms
without offset before or behind each map, gated MLPs, windows, QK-norm, capped logits. One table a family; what is
the same everywhere is the default.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from rankmath.linalg.masks import MaskLike
from rankmath.model.arrays import Floats
from rankmath.model.blocks import Block, Heads
from rankmath.model.layouts import NamedWeights, activation_named
from rankmath.model.network import MLP, LayerNorm
from rankmath.model.positions import Rotary
from rankmath.validation import InvalidArgument, Json, as_count, as_real

#: Rotary tables have at most this many places.
PLACES = 8192
#: More layers, or wider ones, than any model has: a damaged config.json.
MOST = 10**5


@dataclass(frozen=True)
class Family:
    """Where a family keeps its tensors and numbers; ``{}`` is the layer. A linear map has .weight and maybe .bias.

    A key of config.json that is None here, where one is named beside a value, does not exist: the value holds.

    Attributes
    ----------
    query, key, value : of one matrix each, or (`fused`) one matrix with their rows: "rows" one after the other,
        "heads" head by head.
    gate, up, down : the MLP; `gate` None without one. `halves` says what the rows of a fused `up` are.
    before, behind : names of the norms before attention and MLP, and right behind them, or None.
    scales : DINOv2's factors of what attention and MLP add.
    plus_one : stored gains are gains minus one.
    eps, act : key of config.json, and the value it has if the file leaves it out.
    qkv_bias, output_bias, mlp_bias, norm_bias : likewise, whether these maps have biases (norms: offsets) that must
        be there. Others are read where they are.
    """

    prefixes: tuple[str, ...] = ("model.", "")
    layer: str = "layers.{}."
    words: str = "embed_tokens"
    embedding_norm: str | None = None
    final_norm: str = "norm"
    query: str = "self_attn.q_proj"
    key: str = "self_attn.k_proj"
    value: str = "self_attn.v_proj"
    output: str = "self_attn.o_proj"
    fused: Literal["rows", "heads"] | None = None
    gate: str | None = "mlp.gate_proj"
    up: str = "mlp.up_proj"
    down: str = "mlp.down_proj"
    halves: Literal["gate first"] | None = None
    before: tuple[str | None, str | None] = ("input_layernorm", "post_attention_layernorm")
    behind: tuple[str | None, str | None] = (None, None)
    qk_norm: tuple[str, str] | None = None
    scales: tuple[str, str] | None = None
    norm: Literal["rms", "standard"] = "rms"
    plus_one: bool = False
    eps: tuple[str, float] = ("rms_norm_eps", 1e-6)
    act: tuple[str, str] = ("hidden_act", "silu")
    qkv_bias: tuple[str | None, bool] = ("attention_bias", False)
    output_bias: tuple[str | None, bool] = ("attention_bias", False)
    mlp_bias: tuple[str | None, bool] = ("mlp_bias", False)
    norm_bias: tuple[str | None, bool] = (None, False)
    rotary: bool = True
    causal: bool = True
    input: Literal["ids", "pixels"] = "ids"
    layers: str = "num_hidden_layers"
    heads: str = "num_attention_heads"


_QK = ("self_attn.q_norm", "self_attn.k_norm")
_BEHIND = ("post_attention_layernorm", "post_feedforward_layernorm")
_GEMMA = Family(
    plus_one=True,
    before=("input_layernorm", "pre_feedforward_layernorm"),
    behind=_BEHIND,
    act=("hidden_activation", "gelu_pytorch_tanh"),
)

FAMILIES: dict[str, Family] = {
    "llama": Family(),
    "mistral": Family(),
    "qwen2": Family(qkv_bias=(None, True), output_bias=(None, False)),
    "qwen3": Family(qk_norm=_QK),
    "gemma2": _GEMMA,
    "gemma3_text": replace(_GEMMA, qk_norm=_QK),
    "phi3": Family(
        query="self_attn.qkv_proj", fused="rows", up="mlp.gate_up_proj", halves="gate first", eps=("rms_norm_eps", 1e-5)
    ),
    "olmo2": Family(before=(None, None), behind=_BEHIND, qk_norm=_QK, eps=("rms_norm_eps", 1e-5)),
    "gpt_neox": Family(
        prefixes=("gpt_neox.", ""),
        words="embed_in",
        final_norm="final_layer_norm",
        query="attention.query_key_value",
        fused="heads",
        output="attention.dense",
        gate=None,
        up="mlp.dense_h_to_4h",
        down="mlp.dense_4h_to_h",
        norm="standard",
        qkv_bias=("attention_bias", True),
        output_bias=("attention_bias", True),
        mlp_bias=(None, True),
        norm_bias=(None, True),
        eps=("layer_norm_eps", 1e-5),
        act=("hidden_act", "gelu"),
    ),
    "modernbert": Family(
        prefixes=("model.", ""),
        words="embeddings.tok_embeddings",
        embedding_norm="embeddings.norm",
        final_norm="final_norm",
        query="attn.Wqkv",
        fused="rows",
        output="attn.Wo",
        up="mlp.Wi",
        halves="gate first",
        down="mlp.Wo",
        before=("attn_norm", "mlp_norm"),
        norm="standard",
        norm_bias=("norm_bias", False),
        eps=("norm_eps", 1e-5),
        act=("hidden_activation", "gelu"),
        causal=False,
    ),
    "t5": Family(
        prefixes=("", "transformer."),
        layer="encoder.block.{}.",
        words="shared",
        final_norm="encoder.final_layer_norm",
        query="layer.0.SelfAttention.q",
        key="layer.0.SelfAttention.k",
        value="layer.0.SelfAttention.v",
        output="layer.0.SelfAttention.o",
        gate="layer.1.DenseReluDense.wi_0",
        up="layer.1.DenseReluDense.wi_1",
        down="layer.1.DenseReluDense.wo",
        before=("layer.0.layer_norm", "layer.1.layer_norm"),
        eps=("layer_norm_epsilon", 1e-6),
        act=("dense_act_fn", "relu"),
        rotary=False,
        causal=False,
        layers="num_layers",
        heads="num_heads",
    ),
    "dinov2": Family(
        prefixes=("", "dinov2."),
        layer="encoder.layer.{}.",
        final_norm="layernorm",
        query="attention.attention.query",
        key="attention.attention.key",
        value="attention.attention.value",
        output="attention.output.dense",
        gate=None,
        up="mlp.fc1",
        down="mlp.fc2",
        before=("norm1", "norm2"),
        scales=("layer_scale1.lambda1", "layer_scale2.lambda1"),
        norm="standard",
        qkv_bias=("qkv_bias", True),
        output_bias=(None, True),
        mlp_bias=(None, True),
        norm_bias=(None, True),
        eps=("layer_norm_eps", 1e-6),
        act=("hidden_act", "gelu"),
        rotary=False,
        causal=False,
        input="pixels",
    ),
}
#: Names of whole models whose part in text, or encoder, is one of these families.
_WHOLE = {"gemma3": "gemma3_text", "mt5": "t5"}
#: What a refusal lists: names of families as people know them stand in docs/models.md.
NAMES = (*FAMILIES, *_WHOLE)


def unwrapped(kind: str, config: Mapping[str, Json]) -> tuple[str, dict[str, Json]]:
    """A model with pictures holds its text model inside; T5's encoder alone is the encoder of T5."""
    inner = config.get("text_config")
    if kind == "gemma3" and isinstance(inner, dict):
        return "gemma3_text", dict(inner)
    return _WHOLE.get(kind, kind), dict(config)


@dataclass(frozen=True)
class Reader:
    """One checkpoint of a family: its blocks, one after the other."""

    kind: str
    family: Family
    config: Mapping[str, Json]
    weights: NamedWeights
    d: int
    heads: int

    def _count(self, key: str, usual: Json = None, *, least: int = 1) -> int:
        return as_count(key, self.config.get(key, usual), least=least)

    def _says(self, setting: tuple[str | None, bool]) -> bool:
        key, usual = setting
        return usual if key is None else self.config.get(key, usual) is True

    @property
    def kv_heads(self) -> int:
        given = self.config.get("num_key_value_heads")
        count = self.heads if given is None else as_count("num_key_value_heads", given, most=self.heads)
        if self.heads % count:
            raise InvalidArgument(f"path: num_key_value_heads {count} in config.json; it must divide {self.heads}")
        return count

    @property
    def width(self) -> int:
        """k, the length of a query."""
        key = "d_kv" if self.kind == "t5" else "head_dim"
        given = self.config.get(key)
        if given is None and self.d % self.heads:
            raise InvalidArgument(f"path: {self.family.heads} {self.heads} in config.json; it must divide {self.d}")
        return self.d // self.heads if given is None else as_count(key, given, most=MOST)

    @property
    def eps(self) -> float:
        key, usual = self.family.eps
        return as_real(key, self.config.get(key, usual), positive=True)

    def norm(self, name: str | None, size: int | None = None) -> LayerNorm | None:
        """A norm by its name; some layers of ModernBERT have none where others do."""
        if name is None or (self.kind == "modernbert" and f"{name}.weight" not in self.weights):
            return None
        shape = (self.d if size is None else size,)
        gain = self.weights.tensor(f"{name}.weight", shape)
        there = self._says(self.family.norm_bias) or f"{name}.bias" in self.weights
        offset = self.weights.tensor(f"{name}.bias", shape) if there else None
        return LayerNorm(self.family.norm, self.eps, self._gain(gain), offset)

    def _gain(self, stored: Floats) -> Floats:
        return 1.0 + stored if self.family.plus_one and not self.config.get("gains_include_one") else stored

    def is_local(self, l: int) -> bool:
        """Whether layer l sees a window."""
        types = self.config.get("layer_types")
        if isinstance(types, list) and len(types) > l:
            if types[l] not in ("full_attention", "sliding_attention"):
                raise InvalidArgument(f"path: layer_types {str(types[l])[:40]!r} in config.json; it is not known")
            return bool(types[l] == "sliding_attention")
        if self.kind == "modernbert":
            return bool(l % self._count("global_attn_every_n_layers", 3))
        if self._window() is None:
            return False
        if self.kind == "gemma2":
            return l % 2 == 0
        if self.kind == "gemma3_text":
            usual = self.config.get("_sliding_window_pattern", 6)
            return bool((l + 1) % self._count("sliding_window_pattern", usual))
        if self.kind in ("qwen2", "qwen3"):
            first = self._count("max_window_layers", 28, least=0)
            return self.config.get("use_sliding_window") is True and l >= first
        return self.kind in ("mistral", "phi3")

    def _window(self) -> Json:
        """The window of local layers; a file that says nothing has the one that its family is made with."""
        return self.config.get("sliding_window", None if self.kind == "phi3" else 4096)

    def mask(self, l: int) -> MaskLike:
        if self.kind == "modernbert":
            return f"window:{self._count('local_attention', 128) // 2}" if self.is_local(l) else None
        if not self.family.causal:
            return None
        window = as_count("sliding_window", self._window()) if self.is_local(l) else None
        if self.kind == "gemma3_text" and self.config.get("use_bidirectional_attention"):
            return None if window is None else f"window:{window // 2}"
        return "causal" if window is None else f"causal_window:{window}"

    def rotary(self, l: int) -> Rotary | None:
        if not self.family.rotary:
            return None
        local = self.is_local(l)
        theta, scaling = _rope(self.kind, self.config, local)
        key = "rotary_pct" if "rotary_pct" in self.config else "partial_rotary_factor"
        key = "partial_rotary_factor" if "partial_rotary_factor" in self.config else key
        part = self.config.get(key, 0.25 if self.kind == "gpt_neox" else 1.0)
        rope = self.config.get("rope_parameters")
        if isinstance(rope, dict) and rope.get("partial_rotary_factor") is not None:
            key, part = "partial_rotary_factor", rope["partial_rotary_factor"]
        turned = int(self.width * as_real(key, part, positive=True, most=1))
        if turned % 2 or turned < 2:
            raise InvalidArgument(
                f"path: {key} {part} in config.json turns {turned} of {self.width} entries of a query; "
                "an even number of at least 2 is needed"
            )
        known = self._count("max_position_embeddings", PLACES)
        old = self.config.get("original_max_position_embeddings")
        if old is not None and scaling:  # Phi-3 keeps this beside the scaling; there it has priority
            scaling = {**scaling, "original_max_position_embeddings": old}
        if self.kind == "phi3" and _name_of(scaling) in ("su", "yarn"):
            scaling = {**scaling, "rope_type": "longrope"}
        frequencies, factor, most = _scaled(theta, turned, scaling, known)
        return Rotary.of_frequencies(frequencies, min(most, PLACES), factor)

    def block(self, l: int, rotary: Rotary | None) -> Block:
        """Layer l."""
        family, H, K, k = self.family, self.heads, self.kv_heads, self.width
        here = family.layer.format(l)
        (Q, b_Q), (K_, b_K), (V, b_V) = self._projections(here)
        O, b_O = self.weights.linear(here + family.output, H * k, self.d, biased=self._says(family.output_bias))
        qk_norm = None
        if family.qk_norm is not None:
            names = [here + name + ".weight" for name in family.qk_norm]
            sizes = [(k,), (k,)] if self.kind != "olmo2" else [(H * k,), (K * k,)]
            gains = [self._gain(self.weights.tensor(n, s)) for n, s in zip(names, sizes, strict=True)]
            qk_norm = (gains[0], gains[1], self.eps)
        if rotary is not None:
            # Pairs (m, m + w/2) of these files become pairs (2m, 2m + 1).
            order, w = np.arange(k), rotary.width
            order[0:w:2], order[1:w:2] = np.arange(w // 2), np.arange(w // 2, w)
            of_q, of_k = (np.concatenate([order + h * k for h in range(count)]) for count in (H, K))
            Q, K_ = Q[:, of_q], K_[:, of_k]
            b_Q, b_K = (None if b is None else b[places] for b, places in ((b_Q, of_q), (b_K, of_k)))
            if qk_norm is not None:
                places = (order, order) if len(qk_norm[0]) == k else (of_q, of_k)
                qk_norm = (qk_norm[0][places[0]], qk_norm[1][places[1]], self.eps)
        mlp = self._mlp(here)
        if family.scales is not None:
            first, second = (self.weights.tensor(here + name, (self.d,)) for name in family.scales)
            O, b_O = O * first, None if b_O is None else b_O * first
            mlp = replace(mlp, W_out=mlp.W_out * second, b_out=None if mlp.b_out is None else mlp.b_out * second)
        a, f, a_behind, f_behind = (
            self.norm(None if name is None else here + name) for name in (*family.before, *family.behind)
        )
        parallel = self.kind == "gpt_neox" and self.config.get("use_parallel_residual", True) is True
        heads = Heads(Q, K_, V, O, b_Q, b_K, b_V, b_O, H, K)
        more = (rotary, qk_norm, self._softcap(), self.mask(l), parallel)
        return Block(heads, mlp, a, f, self._d_qk(), a_behind, f_behind, *more)

    def _d_qk(self) -> float:
        if self.kind == "t5":
            return 1.0
        if self.kind.startswith("gemma"):
            usual = self.width if self.config.get("gains_include_one") else 256
            return as_real("query_pre_attn_scalar", self.config.get("query_pre_attn_scalar", usual), positive=True)
        return float(self.width)

    def _softcap(self) -> float | None:
        given = self.config.get("attn_logit_softcapping", 50.0 if self.kind == "gemma2" else None)
        if given is None:
            return None
        if self.kind != "gemma2":
            raise InvalidArgument(
                f"path: attn_logit_softcapping {str(given)[:20]} in config.json; only Gemma 2 has one, null is needed"
            )
        return as_real("attn_logit_softcapping", given, positive=True)

    def _projections(self, here: str) -> list[tuple[Floats, Floats | None]]:
        family, H, K, k = self.family, self.heads, self.kv_heads, self.width
        sizes = (H * k, K * k, K * k)
        linear = partial(self.weights.linear, biased=self._says(family.qkv_bias))
        if family.fused is None:
            names = (family.query, family.key, family.value)
            return [linear(here + name, self.d, size) for name, size in zip(names, sizes, strict=True)]
        W, b = linear(here + family.query, self.d, sum(sizes))
        if family.fused == "rows":
            cuts = np.cumsum(sizes)[:-1]
            parts = [None] * 3 if b is None else np.split(b, cuts)
            return list(zip(np.split(W, cuts, axis=1), parts, strict=True))
        by_head = [part.reshape(*part.shape[:-1], H, 3, k) for part in (W, b) if part is not None]
        each = [[part[..., j, :].reshape(*part.shape[:-3], H * k) for part in by_head] for j in range(3)]
        return [(one, more[0] if more else None) for one, *more in each]

    def _mlp(self, here: str) -> MLP:
        family, d = self.family, self.d
        act = self.config.get(*family.act)
        if self.kind == "t5":
            given = str(self.config.get("feed_forward_proj", "relu"))
            act = "gelu_new" if given == "gated-gelu" else given.removeprefix("gated-")
            if not given.startswith("gated-"):
                family = replace(family, gate=None, up="layer.1.DenseReluDense.wi")
        if self.kind == "dinov2" and self.config.get("use_swiglu_ffn") is True:
            fused = replace(family, up="mlp.weights_in", down="mlp.weights_out", halves="gate first")
            family, act = fused, "silu"
        activation = activation_named(family.act[0], act)
        linear = partial(self.weights.linear, biased=self._says(family.mlp_bias))
        W, b = linear(here + family.up, d, None)
        gate, of_gate = None, None
        if family.halves is not None:
            if W.shape[1] % 2:
                raise InvalidArgument(f"path: tensor {here + family.up!r} has {W.shape[1]} rows; two halves are needed")
            gate, W = np.split(W, 2, axis=1)
            of_gate, b = (None, None) if b is None else np.split(b, 2)
        elif family.gate is not None:
            gate, of_gate = linear(here + family.gate, d, W.shape[1])
        W_out, b_out = linear(here + family.down, W.shape[1], d)
        return MLP(W, W_out, b, b_out, activation, W_gate=gate, b_gate=of_gate)


def _rope(kind: str, config: Mapping[str, Json], local: bool) -> tuple[float, Mapping[str, Json]]:
    """The base of the frequencies, and what is done to them; newer files keep both in one place."""
    rope, given = _object(config, "rope_parameters"), _object(config, "rope_scaling")
    own = rope.get("sliding_attention" if local else "full_attention")
    rope = own if isinstance(own, dict) else rope
    key: str = "rope_theta"
    usual: Json = 10000.0
    if kind == "gemma3_text":
        key, usual = ("rope_local_base_freq", 10000.0) if local else ("rope_theta", 1e6)
    elif kind == "modernbert":
        key, usual = ("local_rope_theta", 10000.0) if local else ("global_rope_theta", 160000.0)
        if local and not rope and config.get(key, usual) is None:  # null stands for the other base
            key, usual = "global_rope_theta", 160000.0
    elif kind == "gpt_neox":
        key = "rotary_emb_base"
    theta = rope.get("rope_theta", config.get(key, config.get("rope_theta", usual) if kind == "gpt_neox" else usual))
    scaling = rope if rope.get("rope_type", "default") != "default" else given
    if kind == "gemma3_text" and local and own is None:
        scaling = {}
    return as_real("rope_theta", theta, positive=True), scaling


def _object(config: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """What config.json has under a name; null is as good as nothing."""
    given = config.get(name) if config.get(name) is not None else {}
    if not isinstance(given, dict):
        raise InvalidArgument(f"path: {name} {str(given)[:40]!r} in config.json; an object or null is needed")
    return given


def _name_of(scaling: Mapping[str, Json]) -> str:
    """What is done to the frequencies."""
    return str(scaling.get("rope_type", scaling.get("type", "default")))


def _scaled(theta: float, turned: int, scaling: Mapping[str, Json], known: int) -> tuple[Floats, float, int]:
    """The frequencies of as many turned entries, a factor of the tables, and for how many places they are these."""
    name = _name_of(scaling)
    frequencies = 1.0 / theta ** (np.arange(0, turned, 2) / turned)

    def number(key: str, usual: float | None = None) -> float:
        given = scaling.get(key)
        if given is None and usual is None:
            raise InvalidArgument(f"path: rope_scaling {name!r} without {key!r} in config.json")
        return as_real(key, usual if given is None else given, positive=True)

    if name in ("default", "None"):
        return frequencies, 1.0, known
    if name == "linear":
        return frequencies / number("factor"), 1.0, known
    old = number("original_max_position_embeddings", known)
    if name == "dynamic":  # beyond these places the frequencies depend on the length of the text
        return frequencies, 1.0, as_count("places", int(old))
    if name == "llama3":
        factor, low, high = (number(key) for key in ("factor", "low_freq_factor", "high_freq_factor"))
        length = 2 * math.pi / frequencies
        smooth = (old / length - low) / (high - low)
        between = (1 - smooth) * frequencies / factor + smooth * frequencies
        found = np.where(length > old / low, frequencies / factor, frequencies)
        return np.where((length >= old / high) & (length <= old / low), between, found), 1.0, known
    if name == "yarn":  # Peng et al. 2023, arXiv 2309.00071, section 3.2: a ramp between the two frequencies
        factor = number("factor")
        turns = np.asarray([number("beta_fast", 32.0), number("beta_slow", 1.0)])
        low, high = turned * np.log(old / (2 * math.pi * turns)) / (2 * math.log(theta))
        if scaling.get("truncate", True):
            low, high = np.floor(low), np.ceil(high)
        low, high = max(low, 0), min(high, turned - 1)
        ramp = np.clip((np.arange(turned // 2) - low) / (high - low or 1e-3), 0, 1)
        grown = 0.1 * math.log(factor) if factor > 1 else 0.0
        upper, lower = (scaling.get(key) or 0.0 for key in ("mscale", "mscale_all_dim"))
        both = as_real("mscale", upper), as_real("mscale_all_dim", lower)
        stretch = (1 + grown * both[0]) / (1 + grown * both[1]) if all(both) else 1 + grown
        return frequencies * (1 - ramp + ramp / factor), number("attention_factor", stretch), known
    if name == "longrope":
        short = scaling.get("short_factor")
        listed = short if isinstance(short, list) else []
        factors = np.asarray([as_real("short_factor", x, positive=True) for x in listed])
        if factors.shape != frequencies.shape:
            raise InvalidArgument(f"path: short_factor of shape {factors.shape}; {frequencies.shape} is needed")
        ratio = number("factor", known / old)
        stretch = math.sqrt(1 + math.log(ratio) / math.log(old)) if ratio > 1 else 1.0
        return frequencies / factors, number("attention_factor", stretch), as_count("places", int(old))
    allowed = "default, linear, dynamic, llama3, yarn, longrope"
    raise InvalidArgument(f"path: rope_scaling {name[:40]!r} in config.json; allowed are {allowed}")
