"""GGUF files (llama.cpp's) through the package `gguf`, as a config.json and tensors under the names of `modern`.

Quantised numbers are the exact products that the format stands for, computed by that package in single precision.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rankmath.model.arrays import Floats
from rankmath.validation import InvalidArgument, Json, as_count, as_real

#: general.architecture, and what we call it.
ARCHITECTURES = {"llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "gemma2": "gemma2", "gemma3": "gemma3_text"}
#: Keys of the file behind its architecture's name, and those of config.json.
_KEYS = {
    "block_count": "num_hidden_layers",
    "embedding_length": "hidden_size",
    "feed_forward_length": "intermediate_size",
    "vocab_size": "vocab_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "attention.layer_norm_rms_epsilon": "rms_norm_eps",
    "attention.sliding_window": "sliding_window",
    "attn_logit_softcapping": "attn_logit_softcapping",
    "context_length": "max_position_embeddings",
    "rope.freq_base": "rope_theta",
    "rope.freq_base_swa": "rope_local_base_freq",
}
_OF_KEYS = {name: key for key, name in _KEYS.items()}
#: Keys that leave the hidden states alone, or are looked at one by one.
_OTHERS = shlex.split("""
    attention.value_length final_logit_softcapping rope.dimension_count rope.scaling.factor
    rope.scaling.finetuned rope.scaling.original_context_length rope.scaling.type tensor_data_layout
""")
#: Layers of the models with 27 billion weights, whose logits are divided by √(d/H), not √k: no key says so.
_SCALED = {"gemma2": 46, "gemma3": 62}
_FACTORS = "rope_freqs.weight"
_TENSORS = {_FACTORS: _FACTORS, "token_embd.weight": "embed_tokens.weight", "output_norm.weight": "norm.weight"}
_OF_LAYER = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
}


class GGUFTensors(Mapping[str, Floats]):
    """The tensors of a GGUF file by name, each dequantised when asked for, as float64."""

    def __init__(self, path: Path) -> None:
        gguf = _package()
        self.path = path
        self.extra: dict[str, dict[str, Json]] = {}
        try:
            reader = gguf.GGUFReader(path)
            fields = {name: field.contents() for name, field in reader.fields.items() if _is_plain(name)}
        except Exception as error:  # the package raises whatever struct, NumPy and enum raise
            raise InvalidArgument(f"path: {str(path)!r} given; {_why_unread(path, error)}") from None
        self.config = _config(path, fields)
        kind = self.kind = str(fields["general.architecture"])
        self._dequantize: Callable[..., Any] = gguf.quants.dequantize
        self._found: dict[str, Any] = {}
        self._heads: dict[str, int] = {}
        for tensor in reader.tensors:
            if (given := str(tensor.name)) in ("output.weight", "output.bias"):  # behind the last hidden states
                continue
            name = _renamed(given, kind)
            if name is None:
                raise InvalidArgument(f"path: tensor {given!r} in {path.name!r} is not known")
            self._found[name] = tensor
            # llama.cpp stores the rows of Q and K of Llama's files as pairs (2m, 2m + 1).
            for part, key in (("q_proj", "num_attention_heads"), ("k_proj", "num_key_value_heads")):
                if kind == "llama" and f".self_attn.{part}." in name:
                    usual = self.config.get("num_attention_heads")  # a file without the second has as many
                    self._heads[name] = as_count(f"{kind}.{_OF_KEYS[key]}", self.config.get(key, usual))
        if _FACTORS in self._found:  # those of Llama 3: every frequency is divided by its own
            factors = self[_FACTORS].tolist()
            places = self.config.get("max_position_embeddings")
            scaling = {"rope_type": "longrope", "short_factor": factors, "attention_factor": 1.0}
            self.config["rope_scaling"] = scaling | {"original_max_position_embeddings": places}

    def __getitem__(self, name: str) -> Floats:
        tensor = self._found[name]
        try:
            array: Floats = np.asarray(self._dequantize(tensor.data, tensor.tensor_type), dtype=np.float64)
        except NotImplementedError as error:
            raise InvalidArgument(f"path: {str(self.path)!r} given; tensor {name!r}: {error}") from None
        array = array.reshape([int(s) for s in reversed(tensor.shape)])
        if not np.isfinite(array).all():
            raise InvalidArgument(f"path: {str(self.path)!r} given; tensor {name!r} has an entry that is not finite")
        if name in self._heads:
            heads = self._heads[name]
            if len(array) % (2 * heads):
                key = "num_attention_heads" if ".q_proj." in name else "num_key_value_heads"
                there = f"the {len(array)} rows of tensor {name!r} are not pairs of so many heads"
                raise InvalidArgument(f"path: {key} {heads} in config.json, but {there}")
            halves = array.reshape(heads, len(array) // heads // 2, 2, *array.shape[1:]).swapaxes(1, 2)
            array = halves.reshape(array.shape)
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    @contextmanager
    def in_its_words(self) -> Iterator[None]:
        """Refusals name the keys and tensors of this file, not those of the config.json they are read as."""
        try:
            yield
        except InvalidArgument as error:
            told = str(error).replace("in config.json", f"in {self.path.name!r}")
            told = re.sub(rf"\b({'|'.join(_OF_KEYS)})\b", lambda found: f"{self.kind}.{_OF_KEYS[found[1]]}", told)
            theirs = {ours: name for name, ours in reversed(_parts(self.kind).items())}
            names = "|".join(re.escape(name) for name in theirs)
            told = re.sub(rf"\blayers\.(\d+)\.({names})\.", lambda m: f"blk.{m[1]}.{theirs[m[2]]}.", told)
            raise InvalidArgument(told) from None


def _package() -> Any:
    try:
        import gguf
        import gguf.quants
    except ImportError:
        raise InvalidArgument("path: reading GGUF files needs the extra: pip install 'rankmath[models]'") from None
    return gguf


def _why_unread(path: Path, error: Exception) -> str:
    """What the package raises is about its own arrays."""
    if isinstance(error, OSError):
        return f"not readable ({error.strerror or error})"
    with open(path, "rb") as file:
        start = file.read(8)
    if start[:4] != b"GGUF"[: len(start)]:
        return "not a GGUF file"
    version = int.from_bytes(start[4:], "little")
    if len(start) == 8 and version not in (2, 3):
        return f"not a GGUF file that is read: its version is {version}, not 2 or 3"
    return "not a GGUF file that is whole: the file is cut off or damaged"


def _is_plain(name: str) -> bool:
    return not name.startswith(("tokenizer.", "GGUF."))


def _config(path: Path, fields: Mapping[str, Json]) -> dict[str, Json]:
    """What config.json would say."""
    kind = str(fields.get("general.architecture"))
    if kind not in ARCHITECTURES:
        raise InvalidArgument(
            f"path: general.architecture {kind[:60]!r} in {path.name!r}; allowed are {', '.join(ARCHITECTURES)}"
        )
    config: dict[str, Json] = {"model_type": ARCHITECTURES[kind], "gains_include_one": True}
    for key, name in _KEYS.items():
        if (value := fields.get(f"{kind}.{key}")) is not None:
            # Single precision stands for the short decimal it was made of: 1e-5, not 9.99999974737875e-06.
            config[name] = float(str(np.float32(value))) if isinstance(value, float) else value
    own = {name.removeprefix(f"{kind}.") for name in fields if name.startswith(f"{kind}.")}
    if unknown := sorted(own - _KEYS.keys() - set(_OTHERS)):
        raise InvalidArgument(f"path: {kind}.{unknown[0]} in {path.name!r} is not known")
    for key in ("rope.dimension_count", "attention.value_length"):
        H, d = (config.get(name) for name in ("num_attention_heads", "hidden_size"))
        usual = config.get("head_dim") or (d // H if isinstance(d, int) and isinstance(H, int) and H else None)
        if (value := fields.get(f"{kind}.{key}")) not in (None, usual):
            raise InvalidArgument(
                f"path: {kind}.{key} {value} in {path.name!r}; it must be {usual}, the length of a query"
            )
    scaling = fields.get(f"{kind}.rope.scaling.type", "none")
    if scaling == "linear":
        given = as_real("rope.scaling.factor", fields.get(f"{kind}.rope.scaling.factor", 1.0), positive=True)
        factor = float(str(np.float32(given)))
        config["rope_scaling"] = {"rope_type": "linear", "factor": factor}
    elif scaling != "none":
        raise InvalidArgument(f"path: rope.scaling.type {str(scaling)[:40]!r} in {path.name!r}; allowed is 'linear'")
    if kind in ("qwen2", "qwen3"):
        config.pop("sliding_window", None)
    if kind in _SCALED and config.get("num_hidden_layers") == _SCALED[kind]:
        names = ("hidden_size", "num_attention_heads")
        sizes = [as_count(f"{kind}.{_OF_KEYS[name]}", config.get(name)) for name in names]
        config["query_pre_attn_scalar"] = sizes[0] / sizes[1]
    return config


def _renamed(name: str, kind: str) -> str | None:
    """Our name of a tensor; None of one that is not known."""
    if name in _TENSORS:
        return _TENSORS[name]
    head, _, rest = name.partition(".")
    if head != "blk" or rest.count(".") < 2:
        return None
    layer, part, end = rest.split(".", 2)
    names = _parts(kind)
    return f"layers.{layer}.{names[part]}.{end}" if part in names else None


def _parts(kind: str) -> dict[str, str]:
    """What a layer's tensors are called there, and here."""
    gemma = kind.startswith("gemma")
    return _OF_LAYER | {
        "ffn_norm": "pre_feedforward_layernorm" if gemma else "post_attention_layernorm",
        "post_attention_norm": "post_attention_layernorm",
        "post_ffw_norm": "post_feedforward_layernorm",
    }
