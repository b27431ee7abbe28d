"""Hidden states of today's layouts by transformers and PyTorch in float64: what this package is compared with.

`python tests/model/modern_peer.py OUT.json` needs both (they are no dependency of ours);
tests/model/modern_digits.json is a run of it. transformers computes norms, softmax and angles in single precision
whatever the weights are: here its modules see a `torch` whose single precision is double.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

_SIZES = {
    "hidden_size": 8,
    "intermediate_size": 10,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "vocab_size": 23,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "initializer_range": 0.02,
}
_GROUPED = {**_SIZES, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4}
_IMAGES = {"image_size": 6, "patch_size": 2, "num_channels": 3, "hidden_size": 8, "num_hidden_layers": 2}

#: name -> (class of the model, config)
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "llama": ("llama", "Llama", {**_SIZES, "rms_norm_eps": 1e-5}),
    "llama3": (
        "llama",
        "Llama",
        {
            **_GROUPED,
            "attention_bias": True,
            "mlp_bias": True,
            "rope_parameters": {
                "rope_type": "llama3",
                "rope_theta": 500.0,
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 16,
            },
        },
    ),
    "llama-linear": (
        "llama",
        "Llama",
        {**_SIZES, "rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 10000.0}},
    ),
    "smollm": ("llama", "Llama", {**_GROUPED, "tie_word_embeddings": True, "rope_theta": 1e5, "rms_norm_eps": 1e-5}),
    "mistral": ("mistral", "Mistral", {**_GROUPED, "sliding_window": 3}),
    "qwen2": ("qwen2", "Qwen2", {**_GROUPED, "use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}),
    "qwen3": ("qwen3", "Qwen3", {**_GROUPED, "head_dim": 6}),
    "gemma2": (
        "gemma2",
        "Gemma2",
        {**_GROUPED, "sliding_window": 3, "query_pre_attn_scalar": 7, "attn_logit_softcapping": 2.0},
    ),
    "gemma3_text": (
        "gemma3",
        "Gemma3Text",
        {
            **_GROUPED,
            "sliding_window": 3,
            "num_hidden_layers": 3,
            "query_pre_attn_scalar": 4,
            "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
        },
    ),
    "phi3": (
        "phi3",
        "Phi3",
        {
            **_GROUPED,
            "head_dim": None,
            "hidden_size": 16,
            "max_position_embeddings": 128,
            "original_max_position_embeddings": 32,
            "sliding_window": 5,
            "rope_parameters": {
                "rope_type": "longrope",
                "rope_theta": 10000.0,
                "short_factor": [1.1, 1.4],
                "long_factor": [2.0, 3.0],
                "original_max_position_embeddings": 32,
                "factor": 4.0,
            },
        },
    ),
    # As files of the hub have them: keys of before rope_parameters, and what is usual left out.
    "phi3-128k": (
        "phi3",
        "Phi3",
        {
            **_GROUPED,
            "head_dim": None,
            "hidden_size": 16,
            "model_type": "phi3",
            "rope_theta": 10000.0,
            "max_position_embeddings": 128,
            "original_max_position_embeddings": 32,
            "rope_scaling": {"type": "longrope", "short_factor": [1.1, 1.4], "long_factor": [2.0, 3.0]},
        },
    ),
    "qwen3-yarn": (
        "qwen3",
        "Qwen3",
        {
            **_GROUPED,
            "model_type": "qwen3",
            "rope_theta": 100.0,
            "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16},
        },
    ),
    "mistral-yarn": (
        "mistral",
        "Mistral",
        {
            **_GROUPED,
            "model_type": "mistral",
            "head_dim": 8,
            "rope_theta": 100.0,
            "rope_scaling": {
                "type": "yarn",
                "factor": 8.0,
                "original_max_position_embeddings": 16,
                "beta_fast": 4,
                "mscale": 1.0,
                "mscale_all_dim": 0.5,
                "truncate": False,
            },
        },
    ),
    "embeddinggemma": (
        "gemma3",
        "Gemma3Text",
        {
            **_GROUPED,
            "model_type": "gemma3_text",
            "rope_theta": 10000.0,
            "rope_local_base_freq": 100.0,
            "sliding_window": 4,
            "sliding_window_pattern": 2,
            "num_hidden_layers": 3,
            "use_bidirectional_attention": True,
        },
    ),
    "gpt_neox-usual": ("gpt_neox", "GPTNeoX", {**_SIZES, "hidden_size": 16, "model_type": "gpt_neox"}),
    "modernbert-usual": (
        "modernbert",
        "ModernBert",
        {**_SIZES, "num_hidden_layers": 4, "model_type": "modernbert", "global_rope_theta": 1600.0},
    ),
    "gpt_neox": (
        "gpt_neox",
        "GPTNeoX",
        {
            **_SIZES,
            "rotary_pct": 0.5,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
        },
    ),
    "gpt_neox-serial": (
        "gpt_neox",
        "GPTNeoX",
        {
            **_SIZES,
            "use_parallel_residual": False,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0},
        },
    ),
    "olmo2": ("olmo2", "Olmo2", {**_GROUPED, "head_dim": None}),
    "modernbert": (
        "modernbert",
        "ModernBert",
        {**_SIZES, "num_hidden_layers": 4, "global_attn_every_n_layers": 3, "local_attention": 4},
    ),
    "t5": (
        "t5",
        "T5Encoder",
        {
            "d_model": 8,
            "d_kv": 3,
            "d_ff": 10,
            "num_layers": 2,
            "num_heads": 2,
            "vocab_size": 23,
            "relative_attention_num_buckets": 8,
            "relative_attention_max_distance": 6,
            "feed_forward_proj": "gated-gelu",
        },
    ),
    "t5-relu": (
        "t5",
        "T5Encoder",
        {
            "d_model": 8,
            "d_kv": 3,
            "d_ff": 10,
            "num_layers": 2,
            "num_heads": 2,
            "vocab_size": 23,
            "relative_attention_num_buckets": 8,
            "relative_attention_max_distance": 6,
            "feed_forward_proj": "relu",
        },
    ),
    "dinov2": ("dinov2", "Dinov2", {**_IMAGES, "num_attention_heads": 2, "mlp_ratio": 2}),
    "dinov2-swiglu": (
        "dinov2",
        "Dinov2",
        {**_IMAGES, "num_attention_heads": 2, "mlp_ratio": 2, "use_swiglu_ffn": True},
    ),
}


class _Double:
    """A `torch` whose single precision is double."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._torch, "float64" if name in ("float32", "float") else name)


def double(torch: Any, family: str) -> None:
    """Let the modules of a family, and what makes its angles, compute in double precision."""
    torch.set_default_dtype(torch.float64)
    torch.Tensor.float = torch.Tensor.double
    for name in (f"transformers.models.{family}.modeling_{family}", "transformers.modeling_rope_utils"):
        module = importlib.import_module(name)
        if not isinstance(module.torch, _Double):
            module.torch = _Double(module.torch)


def states_of(family: str, name: str, given: dict[str, Any]) -> dict[str, Any]:
    import torch
    import transformers
    from modern_tiny import IDS, drawn, pixels
    from safetensors.numpy import load_file, save_file

    double(torch, family)
    config_class = getattr(transformers, f"{name.removesuffix('Encoder')}Config")
    model_class = getattr(transformers, f"{name}Model")
    of_hub = {key: value for key, value in given.items() if value is not None}
    config = config_class(
        **{key: value for key, value in json.loads(json.dumps(of_hub)).items() if key != "model_type"}
    )
    options = {"output_hidden_states": True, "return_dict": True}
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        # Names and shapes as they stand in a file; the numbers in it are ours.
        model_class(config).save_pretrained(folder)
        place = Path(folder) / "model.safetensors"
        shapes = {key: list(tensor.shape) for key, tensor in load_file(place).items()}
        save_file({key: drawn(key, tuple(shape)) for key, shape in shapes.items()}, place, {"format": "pt"})
        if "model_type" in of_hub:
            (Path(folder) / "config.json").write_text(json.dumps(of_hub), encoding="utf-8")
        kept = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
        model = model_class.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager").eval()
        if family == "dinov2":
            out = model(pixel_values=torch.tensor(pixels())[None], **options)
        else:
            out = model(input_ids=torch.tensor([IDS]), **options)
    states = [state[0].numpy() for state in out.hidden_states]
    states[-1] = out.last_hidden_state[0].numpy()
    digits = [[[float(f"{x:.15g}") for x in row] for row in state] for state in states]
    for key in ("transformers_version", "architectures", "dtype"):
        kept.pop(key, None)
    return {"config": kept, "shapes": shapes, "states": digits}


def main(target: str) -> None:
    import torch
    import transformers

    sys.path.insert(0, str(Path(__file__).parent))
    found: dict[str, Any] = {"torch": torch.__version__, "transformers": transformers.__version__, "models": {}}
    for kind, (family, name, given) in MODELS.items():
        found["models"][kind] = states_of(family, name, given)
        print(kind, len(found["models"][kind]["states"]))
    Path(target).write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
