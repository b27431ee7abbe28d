"""A tiny checkpoint in every layout, made by our own code from a seed: the same bytes everywhere."""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

Floats = np.ndarray[Any, Any]
Shapes = dict[str, tuple[int, ...]]

D, INNER, HEADS, LAYERS, WORDS, PLACES = 12, 20, 3, 3, 23, 16
#: Token ids that every text model can take; 1 is RoBERTa's padding.
IDS = [5, 0, 22, 7, 7, 1, 13]

_BERT_SIZES = {
    "hidden_size": D,
    "intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "vocab_size": WORDS,
    "max_position_embeddings": PLACES,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-5,
}

CONFIGS: dict[str, dict[str, Any]] = {
    "bert": {"model_type": "bert", **_BERT_SIZES, "hidden_act": "gelu"},
    "roberta": {"model_type": "roberta", **_BERT_SIZES, "hidden_act": "gelu", "pad_token_id": 1},
    "mpnet": {"model_type": "mpnet", **_BERT_SIZES, "hidden_act": "gelu", "pad_token_id": 1},
    "albert": {
        "model_type": "albert",
        **_BERT_SIZES,
        "hidden_act": "gelu_new",
        "embedding_size": 6,
        "num_hidden_groups": 2,
        "num_hidden_layers": 4,
    },
    "distilbert": {
        "model_type": "distilbert",
        "dim": D,
        "hidden_dim": INNER,
        "n_layers": LAYERS,
        "n_heads": HEADS,
        "vocab_size": WORDS,
        "max_position_embeddings": PLACES,
        "activation": "relu",
    },
    "gpt2": {
        "model_type": "gpt2",
        "n_embd": D,
        "n_inner": INNER,
        "n_layer": LAYERS,
        "n_head": HEADS,
        "n_positions": PLACES,
        "vocab_size": WORDS,
        "activation_function": "gelu_new",
        "layer_norm_epsilon": 1e-5,
        "scale_attn_by_inverse_layer_idx": True,
    },
    "vit": {
        "model_type": "vit",
        "hidden_size": D,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-6,
        "image_size": 6,
        "patch_size": 2,
        "num_channels": 3,
    },
    "whisper": {
        "model_type": "whisper",
        "d_model": D,
        "encoder_layers": LAYERS,
        "decoder_layers": LAYERS,
        "encoder_attention_heads": HEADS,
        "decoder_attention_heads": HEADS,
        "encoder_ffn_dim": INNER,
        "decoder_ffn_dim": INNER,
        "vocab_size": WORDS,
        "num_mel_bins": 4,
        "max_source_positions": 5,
        "max_target_positions": PLACES,
        "activation_function": "gelu",
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 1,
    },
}


def _linear(name: str, d_in: int, d_out: int, bias: bool = True) -> Shapes:
    return {f"{name}.weight": (d_out, d_in)} | ({f"{name}.bias": (d_out,)} if bias else {})


def _norm(name: str, d: int = D) -> Shapes:
    return {f"{name}.weight": (d,), f"{name}.bias": (d,)}


def _words(prefix: str, d: int = D, types: bool = True) -> Shapes:
    found: Shapes = {f"{prefix}word_embeddings.weight": (WORDS, d), f"{prefix}position_embeddings.weight": (PLACES, d)}
    if types:
        found[f"{prefix}token_type_embeddings.weight"] = (2, d)
    return found | _norm(f"{prefix}LayerNorm", d)


def shapes(kind: str) -> Shapes:
    """Names and shapes of the tensors, as the architecture's own files have them."""
    found: Shapes = {}
    if kind in ("bert", "roberta", "mpnet"):
        found |= _words("embeddings.", types=kind != "mpnet")
        for l in range(LAYERS):
            layer = f"encoder.layer.{l}."
            names = [f"attention.self.{x}" for x in ("query", "key", "value")] + ["attention.output.dense"]
            if kind == "mpnet":
                names = [f"attention.attn.{x}" for x in "qkvo"]
            for name in names:
                found |= _linear(layer + name, D, D)
            found |= _norm(layer + ("attention.LayerNorm" if kind == "mpnet" else "attention.output.LayerNorm"))
            found |= _linear(layer + "intermediate.dense", D, INNER) | _linear(layer + "output.dense", INNER, D)
            found |= _norm(layer + "output.LayerNorm")
        if kind == "mpnet":
            found["encoder.relative_attention_bias.weight"] = (32, HEADS)
    elif kind == "albert":
        found |= _words("embeddings.", 6) | _linear("encoder.embedding_hidden_mapping_in", 6, D)
        for group in range(2):
            layer = f"encoder.albert_layer_groups.{group}.albert_layers.0."
            for name in ("query", "key", "value", "dense"):
                found |= _linear(f"{layer}attention.{name}", D, D)
            found |= _norm(layer + "attention.LayerNorm") | _norm(layer + "full_layer_layer_norm")
            found |= _linear(layer + "ffn", D, INNER) | _linear(layer + "ffn_output", INNER, D)
    elif kind == "distilbert":
        found |= _words("embeddings.", types=False)
        for l in range(LAYERS):
            layer = f"transformer.layer.{l}."
            for name in ("q_lin", "k_lin", "v_lin", "out_lin"):
                found |= _linear(f"{layer}attention.{name}", D, D)
            found |= _norm(layer + "sa_layer_norm") | _norm(layer + "output_layer_norm")
            found |= _linear(layer + "ffn.lin1", D, INNER) | _linear(layer + "ffn.lin2", INNER, D)
    elif kind == "gpt2":
        found |= {"wte.weight": (WORDS, D), "wpe.weight": (PLACES, D)} | _norm("ln_f")
        for l in range(LAYERS):
            layer = f"h.{l}."
            found |= _norm(layer + "ln_1") | _norm(layer + "ln_2")
            # Stored (in, out), unlike all others.
            for name, d_in, d_out in (
                ("attn.c_attn", D, 3 * D),
                ("attn.c_proj", D, D),
                ("mlp.c_fc", D, INNER),
                ("mlp.c_proj", INNER, D),
            ):
                found |= {f"{layer}{name}.weight": (d_in, d_out), f"{layer}{name}.bias": (d_out,)}
    elif kind == "vit":
        found |= {"embeddings.cls_token": (1, 1, D), "embeddings.position_embeddings": (1, 10, D)}
        found |= {"embeddings.patch_embeddings.projection.weight": (D, 3, 2, 2)}
        found |= {"embeddings.patch_embeddings.projection.bias": (D,)} | _norm("layernorm")
        for l in range(LAYERS):
            layer = f"encoder.layer.{l}."
            for name in ("attention.attention.query", "attention.attention.key", "attention.attention.value"):
                found |= _linear(layer + name, D, D)
            found |= _linear(layer + "attention.output.dense", D, D) | _norm(layer + "layernorm_before")
            found |= _norm(layer + "layernorm_after") | _linear(layer + "intermediate.dense", D, INNER)
            found |= _linear(layer + "output.dense", INNER, D)
    else:
        found |= _whisper_shapes()
    return found


def _whisper_shapes() -> Shapes:
    found: Shapes = {"model.encoder.conv1.weight": (D, 4, 3), "model.encoder.conv1.bias": (D,)}
    found |= {"model.encoder.conv2.weight": (D, D, 3), "model.encoder.conv2.bias": (D,)}
    found |= {"model.encoder.embed_positions.weight": (5, D), "model.decoder.embed_positions.weight": (PLACES, D)}
    found |= {"model.decoder.embed_tokens.weight": (WORDS, D)}
    for part in ("encoder", "decoder"):
        found |= _norm(f"model.{part}.layer_norm")
        for l in range(LAYERS):
            layer = f"model.{part}.layers.{l}."
            for attention in ("self_attn",) if part == "encoder" else ("self_attn", "encoder_attn"):
                for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    found |= _linear(f"{layer}{attention}.{name}", D, D, bias=name != "k_proj")
                found |= _norm(f"{layer}{attention}_layer_norm")
            found |= _norm(layer + "final_layer_norm")
            found |= _linear(layer + "fc1", D, INNER) | _linear(layer + "fc2", INNER, D)
    return found


def tensors(kind: str) -> dict[str, Floats]:
    """Single-precision weights of moderate size; gains lie around 1."""
    rng = np.random.default_rng(sorted(CONFIGS).index(kind))
    found = {}
    for name, shape in shapes(kind).items():
        values = rng.standard_normal(shape) * 0.5
        gain = len(shape) == 1 and name.endswith(".weight")
        found[name] = (values * 0.3 + 1 if gain else values).astype("<f4")
    return found


def checkpoint(folder: Path, kind: str, form: str = "safetensors") -> Path:
    """A folder with config.json and the weights, in "safetensors", "zip" or "legacy" form."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIGS[kind]), encoding="utf-8")
    if form == "safetensors":
        from safetensors.numpy import save_file

        save_file(tensors(kind), folder / "model.safetensors", metadata={"format": "pt"})
    else:
        write = write_zip if form == "zip" else write_legacy
        write(folder / "pytorch_model.bin", tensors(kind))
    return folder


# -- PyTorch's two formats, written opcode by opcode --------------------------------------------------------


def _text(text: str) -> bytes:
    data = text.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def _int(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def _tuple(*items: bytes) -> bytes:
    return b"(" + b"".join(items) + b"t"


def _tensor(key: str, array: Floats) -> bytes:
    steps = np.array(array.strides) // array.itemsize
    storage = _tuple(_text("storage"), b"ctorch\nFloatStorage\n", _text(key), _text("cpu"), _int(array.size)) + b"Q"
    shape, strides = (_tuple(*(_int(int(x)) for x in values)) for values in (array.shape, steps))
    hooks = b"ccollections\nOrderedDict\n)R"
    call = _tuple(storage, _int(0), shape, strides, b"\x89", hooks)
    return b"ctorch._utils\n_rebuild_tensor_v2\n" + call + b"R"


def tree(arrays: dict[str, Floats]) -> bytes:
    """The pickle of an OrderedDict of tensors; storages are named 0, 1, …."""
    items = b"".join(_text(name) + _tensor(str(k), array) for k, (name, array) in enumerate(arrays.items()))
    return b"\x80\x02ccollections\nOrderedDict\n)R(" + items + b"u."


def write_zip(path: Path, arrays: dict[str, Floats], pickle: bytes | None = None) -> None:
    """What torch.save writes since version 1.6."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", tree(arrays) if pickle is None else pickle)
        for k, array in enumerate(arrays.values()):
            archive.writestr(f"archive/data/{k}", array.tobytes())
        archive.writestr("archive/version", "3\n")


def write_legacy(path: Path, arrays: dict[str, Floats]) -> None:
    """What it wrote before."""
    magic = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
    system = b"\x80\x02}(" + _text("little_endian") + b"\x88u."
    keys = b"\x80\x02](" + b"".join(_text(str(k)) for k in range(len(arrays))) + b"e."
    data = b"".join(struct.pack("<q", array.size) + array.tobytes() for array in arrays.values())
    path.write_bytes(magic + b"\x80\x02M\xe9\x03." + system + tree(arrays) + keys + data)


def given(kind: str) -> Any:
    """An input: ids, pixels (ViT) or a spectrogram (Whisper's encoder)."""
    rng = np.random.default_rng(99)
    if kind == "vit":
        return rng.standard_normal((3, 6, 6))
    if kind == "whisper-encoder":
        return rng.standard_normal((4, 10))
    return IDS if kind in ("roberta", "mpnet") else [5, 0, 22, 7, 7, 3, 13]
