"""An instance as JSON and back, bit for bit: floats in hexadecimal, fractions as fractions."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from rankmath.validation import InvalidArgument, Json, NumpyArray

#: Numbers, arrays, tuples, dicts and dataclasses of them.
Decoded: TypeAlias = Any


def encode(value: object) -> str:
    """`value` (numbers, arrays, tuples, dicts and dataclasses of them) as JSON; dicts keep their order.

    >>> encode({"x": np.asarray([0.1, 2.0])})
    '{"dict":{"x":{"shape":[2],"dtype":"float64","entries":["0x1.999999999999ap-4","0x1.0000000000000p+1"]}}}'
    """
    return json.dumps(_node(value), separators=(",", ":"), allow_nan=False)


def decode(text: str) -> Decoded:
    """What `encode` wrote; classes come from this library only, anything else is refused.

    >>> decode(encode((0.1, Fraction(1, 3), None)))
    (0.1, Fraction(1, 3), None)
    """
    try:
        return _value(json.loads(text))
    except (KeyError, TypeError, ValueError, AttributeError, ImportError) as error:
        raise InvalidArgument(f"text: no instance can be read from it ({error})") from None


def _node(value: object) -> Json:
    if isinstance(value, (np.ndarray, np.generic)):
        return _array_node(np.asarray(value))
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, (tuple, list)):
        return {"tuple": [_node(part) for part in value]}
    if isinstance(value, dict):
        return {"dict": {str(name): _node(part) for name, part in value.items()}}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        # Most fields of a network are None; their absence says as much.
        parts = {slot.name: getattr(value, slot.name) for slot in dataclasses.fields(value) if slot.init}
        fields = {name: _node(part) for name, part in parts.items() if part is not None}
        return {"class": f"{kind.__module__}:{kind.__qualname__}", "fields": fields}
    raise TypeError(f"a {type(value).__name__} cannot be written exactly")


def _array_node(array: NumpyArray) -> dict[str, Json]:
    kind = array.dtype.kind
    flat = array.ravel().tolist()
    if kind == "f" and array.dtype.itemsize <= 8:
        entries: list[Json] = [float(x).hex() for x in flat]
    elif kind in "iub":
        entries = flat
    elif kind == "O":
        entries = [_node(x) for x in flat]
    else:
        raise TypeError(f"an array of dtype {array.dtype} cannot be written exactly")
    return {"shape": list(array.shape), "dtype": array.dtype.name, "entries": entries}


def _value(node: Decoded) -> Decoded:
    if not isinstance(node, dict):
        return node
    if "shape" in node:
        return _array(node)
    if "float" in node:
        return float.fromhex(node["float"])
    if "fraction" in node:
        return Fraction(node["fraction"])
    if "tuple" in node:
        return tuple(_value(part) for part in node["tuple"])
    if "dict" in node:
        return {name: _value(part) for name, part in node["dict"].items()}
    kind = _class(node["class"])
    return kind(**{name: _value(part) for name, part in node["fields"].items()})


def _array(node: dict[str, Decoded]) -> NumpyArray:
    dtype = np.dtype(node["dtype"])
    array = np.empty(len(node["entries"]), dtype=dtype)
    for i, entry in enumerate(node["entries"]):
        if dtype.kind == "f":
            array[i] = float.fromhex(entry)
        else:
            array[i] = _value(entry) if dtype.kind == "O" else entry
    return array.reshape(node["shape"])[()]


def _class(name: str) -> type:
    module, _, qualname = name.partition(":")
    found = getattr(import_module(module), qualname) if module.startswith("rankmath.") else None
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
        raise InvalidArgument(f"the class {name} is none of this library's")
    return found
