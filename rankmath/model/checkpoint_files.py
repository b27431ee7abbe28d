"""The files of a checkpoint: config.json and the weights, in safetensors or PyTorch's formats, or one GGUF file.

Nothing in a file is trusted or run: sizes are compared with the file before memory is asked for, and what cannot be
read is refused in one line.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankmath.model.arrays import DTYPES, Floats, widened
from rankmath.model.gguf_files import GGUFTensors
from rankmath.model.pickled import read_pickled
from rankmath.validation import InvalidArgument, Json

#: Where weights lie in a folder, first match first.
WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
_ENDINGS = (".safetensors", ".bin", ".pt", ".pth")
#: A description longer than this is none.
MOST_JSON_BYTES = 64 * 2**20


class Tensors(Mapping[str, Floats]):
    """The tensors of a checkpoint by name, each read when asked for, as float64.

    `extra` holds plain dictionaries that lay beside them (the sizes in a Whisper file).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.extra: dict[str, dict[str, Json]] = {}
        self._home: dict[str, Path] = {}
        self._read: dict[str, Floats] = {}
        for file in _parts(path):
            if file.suffix == ".safetensors":
                with _open_safetensors(file) as opened:
                    self._home |= dict.fromkeys(opened.keys(), file)
            else:
                if instead := _stands_in(file):
                    raise InvalidArgument(f"path: {str(file)!r} given; no weights ({instead})")
                for name, value in read_pickled(file).items():
                    if isinstance(value, dict):
                        self.extra[name] = value
                    else:
                        self._read[name] = value

    def __getitem__(self, name: str) -> Floats:
        raw = self._read[name] if name in self._read else _safetensor(self._home[name], name)
        if raw.dtype.kind != "f":  # its scales lie elsewhere, and are not read
            raise InvalidArgument(
                f"path: {str(self.path)!r} given; tensor {name!r} holds {raw.dtype}; weights that are no "
                "floating-point numbers, such as quantised ones, are read from GGUF files alone"
            )
        with np.errstate(invalid="ignore"):  # a signalling nan; refused below
            array: Floats = np.asarray(raw, dtype=np.float64)
        if not np.isfinite(array).all():
            raise InvalidArgument(f"path: {str(self.path)!r} given; tensor {name!r} has an entry that is not finite")
        return array

    def __iter__(self) -> Iterator[str]:
        yield from self._home
        yield from self._read

    def __len__(self) -> int:
        return len(self._home) + len(self._read)


def checkpoint_files(path: str | os.PathLike[str]) -> tuple[dict[str, Json], Tensors | GGUFTensors]:
    """config.json (empty where a lone file has none beside it) and the weights of a folder or a file."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidArgument(f"path: {path!r} given; the name of a folder or file is needed")
    place = Path(path)
    if not place.exists():
        raise InvalidArgument(f"path: {os.fspath(path)!r} given; there is no such file or folder")
    if place.is_dir():
        config = place / "config.json"
        lone = sorted(place.glob("*.gguf"))
        if not config.exists() and len(lone) == 1:
            place = lone[0]
        elif not config.exists():
            raise InvalidArgument(f"path: {os.fspath(path)!r} given; the folder has no config.json")
        else:
            return read_json(config), Tensors(_weights_in(place))
    if place.suffix == ".gguf":
        tensors = GGUFTensors(place)
        return tensors.config, tensors
    if place.suffix not in _ENDINGS:
        endings = ", ".join((*_ENDINGS, ".gguf"))
        raise InvalidArgument(f"path: {os.fspath(path)!r} given; a folder or a file ending in {endings} is needed")
    beside = place.with_name("config.json")
    return (read_json(beside) if beside.exists() else {}), Tensors(place)


def read_json(path: Path) -> dict[str, Json]:
    """A JSON object, or one line that says why there is none."""
    try:
        if path.stat().st_size > MOST_JSON_BYTES:
            raise InvalidArgument(f"{path.stat().st_size} bytes, at most {MOST_JSON_BYTES} are read")
        content = json.loads(path.read_text(encoding="utf-8"))
    # RecursionError: brackets nested a hundred thousand deep.
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidArgument(f"path: {str(path)!r} given; not readable as JSON ({str(error)[:120]})") from None
    if not isinstance(content, dict):
        raise InvalidArgument(f"path: {str(path)!r} given; a JSON object is needed, this is a {type(content).__name__}")
    return content


def _weights_in(folder: Path) -> Path:
    for name in WEIGHTS:
        if (folder / name).exists():
            return folder / name
    found = sorted(p for p in folder.iterdir() if p.suffix in _ENDINGS and p.name != "training_args.bin")
    if not found:
        raise InvalidArgument(f"path: {str(folder)!r} given; no weights in it: {WEIGHTS[0]} or {WEIGHTS[2]} is needed")
    if len(found) > 1:
        names = ", ".join(file.name for file in found)
        raise InvalidArgument(f"path: {str(folder)!r} given; several files of weights: name one of {names}")
    return found[0]


def _parts(path: Path) -> list[Path]:
    """The file itself, or the files an index names, all of them in its folder."""
    if path.suffix != ".json":
        return [path]
    names = read_json(path).get("weight_map")
    if not isinstance(names, dict) or not names:
        raise InvalidArgument(f"path: {str(path)!r} given; an index needs a weight_map of tensors and files")
    parts = []
    for name in sorted({str(value) for value in names.values()}):
        if Path(name).name != name or Path(name).suffix not in _ENDINGS:
            raise InvalidArgument(
                f"path: {str(path)!r} given; its weight_map names {name[:80]!r}, no file of this folder"
            )
        if not path.with_name(name).exists():
            raise InvalidArgument(f"path: {str(path)!r} given; the file {name!r} of its weight_map is missing")
        parts.append(path.with_name(name))
    return parts


def _open_safetensors(path: Path) -> Any:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        raise InvalidArgument("path: reading safetensors needs the extra: pip install 'rankmath[models]'") from None
    try:
        return safe_open(path, framework="np")
    except (SafetensorError, OSError) as error:
        raise InvalidArgument(
            f"path: {str(path)!r} given; not a safetensors file ({_stands_in(path) or str(error)[:120]})"
        ) from None


def _stands_in(path: Path) -> str:
    """What lies in the place of weights that were not fetched, or "" where it is nothing known."""
    with open(path, "rb") as file:
        start = file.read(200).lstrip()
    if start.startswith(b"version https://git-lfs"):
        return "a pointer of Git LFS; `git lfs pull` fetches the weights"
    return "a web page, perhaps the refusal of a download" if re.match(rb"<(!doctype|html)", start, re.I) else ""


def _safetensor(path: Path, name: str) -> Floats:
    with _open_safetensors(path) as file:
        part = file.get_slice(name)
        kind, shape = str(part.get_dtype()), tuple(part.get_shape())
        if kind not in DTYPES:
            raise InvalidArgument(
                f"path: {str(path)!r} given; tensor {name!r} holds {kind}; read are {', '.join(DTYPES)}"
            )
        if kind != "BF16":
            return np.asarray(file.get_tensor(name))
    # NumPy knows no brain floats: take the bytes from where the header, checked above, says they are.
    with open(path, "rb") as raw:
        length = int.from_bytes(raw.read(8), "little")
        start, end = json.loads(raw.read(length))[name]["data_offsets"]
        raw.seek(8 + length + start)
        return widened(raw.read(end - start), kind).reshape(shape)
