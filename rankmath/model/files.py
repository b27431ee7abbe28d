"""Networks in npz files: a JSON header that describes the sublayers, and one member an array."""

import json
import os
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np
from array_api_compat import is_array_api_obj

from rankmath.definitions.layer import CAPS
from rankmath.files import replacing
from rankmath.linalg.masks import Mask
from rankmath.model.network import MLP, Attention, LayerNorm, Network, Parallel, Sublayer
from rankmath.model.positions import ALiBi, PositionTable, RelativeBuckets, Rotary, as_position, as_rotary
from rankmath.model.sublayers import as_qk_norm, as_softcap, checked_mask
from rankmath.validation import Array, InvalidArgument, as_array, as_choice, as_count, as_real

FORMAT = 2
Arrays: TypeAlias = dict[str, Array]

_PARTS: dict[str, Callable[..., object]] = {
    part.__name__: part
    for part in (Sublayer, Parallel, Attention, MLP, LayerNorm, ALiBi, RelativeBuckets, PositionTable, Rotary)
}


def save(net: Network, path: str | os.PathLike[str]) -> None:
    """Write the network; the old file stays until the new one is whole."""
    if net.batch_shape:
        raise InvalidArgument("net: a stack of networks given; save its members one by one")
    arrays: Arrays = {}
    layers = [
        [_packed(sublayer, f"layer{l}.{k}", arrays) for k, sublayer in enumerate(layer)]
        for l, layer in enumerate(net.sublayers)
    ]
    arrays["header"] = np.asarray(json.dumps({"format": FORMAT, "tokens": net.tokens, "layers": layers}))
    with replacing(path) as partial, open(partial, "wb") as file:
        np.savez_compressed(file, **arrays)


def load(path: str | os.PathLike[str], name: str = "path") -> Network:
    """Read what `save` wrote; a file that is not one is refused with the reason."""
    # What zipfile, zlib and NumPy raise: damage, an encrypted member, a gigantic claimed shape.
    damaged = (OSError, ValueError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error)
    try:
        with open(path, "rb") as opened, np.lib.npyio.NpzFile(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except damaged as error:
        why = (isinstance(error, OSError) and error.strerror) or error
        raise InvalidArgument(f"{name}: {os.fspath(path)!r} given; not a readable npz file ({why})") from None
    try:
        header = json.loads(str(arrays["header"]))
        if header["format"] != FORMAT:
            raise InvalidArgument(f"format {header['format']!r}; this version reads format {FORMAT}")
        layers = [[_unpacked(entry, arrays) for entry in layer] for layer in header["layers"]]
        return Network.from_layers(layers, header["tokens"])
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        reason = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
        raise InvalidArgument(f"{name}: {os.fspath(path)!r} given; not a rankmath network: {reason}") from None


def _packed(value: object, name: str, arrays: Arrays) -> object:
    """`value` as JSON, its arrays put into `arrays` under names that begin with `name`."""
    if isinstance(value, Mask):
        # One mask of all layers is written once.
        known = (other for other, array in arrays.items() if array is value.allowed)
        name = next(known, name)
        arrays[name] = value.allowed
    elif is_array_api_obj(value):
        arrays[name] = np.asarray(value)
    elif is_dataclass(value):
        # What is None unless given is not written: a file of before there was such a part is read, too.
        given = [f.name for f in fields(value) if f.default is not None or getattr(value, f.name) is not None]
        entries = {field: _packed(getattr(value, field), f"{name}.{field}", arrays) for field in given}
        return {"part": type(value).__name__, **entries}
    elif isinstance(value, tuple):
        return [_packed(entry, f"{name}.{k}", arrays) for k, entry in enumerate(value)]
    else:
        return value
    return {"array": name}


def _unpacked(entry: object, arrays: Arrays) -> Any:
    if isinstance(entry, list):
        return tuple(_unpacked(part, arrays) for part in entry)
    if not isinstance(entry, dict):
        return entry
    if "array" in entry:
        return arrays[entry["array"]]
    given = {name: _unpacked(part, arrays) for name, part in entry.items() if name != "part"}
    kind = _PARTS.get(entry["part"])
    if kind is None:
        raise InvalidArgument(f"a part {entry['part']!r}; this version knows {', '.join(_PARTS)}")
    return _attention(**given) if kind is Attention else kind(**given)


def _attention(query: object, value: object, d_qk: object, cap: str = "tanh", **more: Any) -> Attention:
    """An attention of checked arrays: a file may say anything."""
    H, d, k = as_array("query", query, ndim=3).shape
    width, key, output, kv_heads = as_array("value", value, ndim=3).shape[-1], *map(more.get, _OF_HEADS)
    groups = H if kv_heads is None else as_count("kv_heads", kv_heads, most=H)
    if H % groups:
        raise InvalidArgument(f"kv_heads: {groups} given; a number that divides the {H} heads is needed")
    shapes: dict[str, tuple[int, ...]] = {"key": (H, d, k), "output": (H, width, d), "key_bias": (H, d), "bias": (d,)}
    shapes |= {"query": (H, d, d if key is None else k), "value": (H, d, d if output is None else width)}
    shapes |= {"b_Q": (H, k), "b_K": (H, k)}
    given = {name: a for name, a in (("query", query), ("value", value), *more.items()) if a is not None}
    checked = {name: as_array(name, given[name], ndim=len(s), shape=s) for name, s in shapes.items() if name in given}
    about = {
        "d_qk": as_real("d_qk", d_qk, positive=True),
        "mask": checked_mask(more.get("mask")),
        "position": as_position(more.get("position"), H),
        "rotary": as_rotary(more.get("rotary"), k),
        "qk_norm": as_qk_norm(more.get("qk_norm"), H, groups, k),
        "softcap": as_softcap(more.get("softcap")),
        "cap": as_choice("cap", cap, tuple(CAPS)),
    }
    return Attention(**more | checked | about)


_OF_HEADS = ("key", "output", "kv_heads")
