"""Hidden states by transformers and PyTorch in float64, the independent implementation this package is compared
with.

`python tests/model/peer.py OUT.json` needs both (they are no dependency of ours) and writes the hidden states of
the tiny checkpoints at every layer: tests/model/peer_digits.json is a run of it. `hidden_states` also takes real
folders.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

Floats = np.ndarray[Any, Any]


def hidden_states(folder: Path, what: Any, part: str | None = None) -> list[Floats]:
    """Hidden states of every layer, the embedding first, float64."""
    import torch
    from transformers import AutoModel

    # Its ViT takes softmax in single precision, whatever the weights, unless attention is PyTorch's own.
    kind = "sdpa" if np.ndim(what) == 3 else "eager"
    model = AutoModel.from_pretrained(folder, attn_implementation=kind).double().eval()
    return states_of(model, what, part, torch)


def states_of(model: Any, what: Any, part: str | None, torch: Any) -> list[Floats]:
    """The same of a model at hand."""
    options = {"output_hidden_states": True, "return_dict": True}
    with torch.no_grad():
        if part == "encoder":
            out = model.encoder(torch.tensor(np.asarray(what))[None], **options)
        elif part == "decoder":
            # No encoder states: the decoder's self-attention and maps alone.
            out = model.decoder(input_ids=torch.tensor([list(what)]), use_cache=False, **options)
        elif np.ndim(what) == 3:
            out = model(pixel_values=torch.tensor(np.asarray(what))[None], **options)
        else:
            out = model(input_ids=torch.tensor([list(what)]), **options)
    states = [state[0].numpy() for state in out.hidden_states]
    # Where a final LayerNorm follows, the last state may be given before it; ours has it.
    states[-1] = out.last_hidden_state[0].numpy()
    return states


def main(target: str) -> None:
    import torch
    import transformers

    sys.path.insert(0, str(Path(__file__).parent))
    from tiny import CONFIGS, checkpoint, given

    found: dict[str, Any] = {"torch": torch.__version__, "transformers": transformers.__version__, "states": {}}
    with tempfile.TemporaryDirectory() as folder:
        for kind in CONFIGS:
            place = checkpoint(Path(folder) / kind, kind)
            for part in ("encoder", "decoder") if kind == "whisper" else (None,):
                name = kind if part is None else f"{kind}-{part}"
                states = hidden_states(place, given(name), part)
                found["states"][name] = [[[float(f"{x:.15g}") for x in row] for row in state] for state in states]
    Path(target).write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
