"""Weights from PyTorch files without PyTorch, and without running anything a file says.

A pickle is a program for a small stack machine. Here it is read by a machine of our own that knows only the
instructions that write dictionaries, lists, tuples, numbers, strings and references to tensors. The few functions a
checkpoint names are recognised by their name and never called: each stands for a description of data. Everything
else is refused, by its name.
"""

import math
import pickletools
import struct
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from rankmath.model.arrays import Floats, widened
from rankmath.validation import InvalidArgument

#: What a pickle is rebuilt as: lists, tuples and mappings, text and numbers, descriptions of tensors.
Tree: TypeAlias = Any

#: The magic number with which files of before 2020 begin.
_MAGIC = 0x1950A86A20F9469CFC6C
#: A description of weights, without the weights, is never larger than this.
MOST_PICKLE_BYTES = 64 * 2**20

#: PyTorch's storages and our name of their numbers.
_STORAGES = {
    "FloatStorage": "F32",
    "DoubleStorage": "F64",
    "HalfStorage": "F16",
    "BFloat16Storage": "BF16",
    "LongStorage": "I64",
    "IntStorage": "I32",
    "ShortStorage": "I16",
    "CharStorage": "I8",
    "ByteStorage": "U8",
    "BoolStorage": "BOOL",
}
#: Names a checkpoint may mention besides storages; none of them is ever called.
_PLAIN = {
    "collections.OrderedDict": "dict",
    "torch._utils._rebuild_tensor_v2": "tensor",
    "torch._utils._rebuild_tensor": "tensor",
    "torch._utils._rebuild_parameter": "parameter",
    "torch.Size": "tuple",
}


class Refused(Exception):
    """What the file asks for is not on the list."""


@dataclass(frozen=True)
class _Name:
    """A function or class the file mentions."""

    text: str


@dataclass(frozen=True)
class _Storage:
    key: str
    kind: str
    count: int


@dataclass(frozen=True)
class _Tensor:
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def read_pickled(path: Path) -> dict[str, Floats | dict[str, Tree]]:
    """Every tensor of a .bin, .pt or .pth file under its dotted name, and plain dictionaries of numbers beside
    them.

    Both formats are read: the zip archive (torch.save since 1.6), and the sequence of pickles before it.
    """
    try:
        tree, load = _from_zip(path) if zipfile.is_zipfile(path) else _from_legacy(path)
        return _flattened(tree, load)
    except (Refused, zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise InvalidArgument(f"path: {str(path)!r} given; not a PyTorch file of weights: {error}") from None


_Loader = Callable[[_Storage], Floats]


def _from_zip(path: Path) -> tuple[Tree, _Loader]:
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: info for info in archive.infolist()}
        names = [name for name in members if name.endswith("/data.pkl") or name == "data.pkl"]
        if len(names) != 1:
            raise Refused(f"{len(names)} members data.pkl; a checkpoint has one")
        # Weights are stored as they are; a compressed member may unpack to any size.
        packed = [name for name, info in members.items() if info.compress_type != zipfile.ZIP_STORED]
        if packed:
            raise Refused(f"member {packed[0]!r} is compressed; checkpoints store theirs plainly")
        if members[names[0]].file_size > MOST_PICKLE_BYTES:
            raise Refused(f"data.pkl has {members[names[0]].file_size} bytes; at most {MOST_PICKLE_BYTES} are read")
        prefix = names[0][: -len("data.pkl")]
        order = f"{prefix}byteorder"
        if order in members and archive.read(order).strip() != b"little":
            raise Refused("its numbers are not little-endian")
        tree = _run(archive.read(names[0]))[0]

    def load(storage: _Storage) -> Floats:
        name = f"{prefix}data/{storage.key}"
        if name not in members:
            raise Refused(f"member {name!r} is missing")
        with zipfile.ZipFile(path) as archive:
            return _numbers(storage, archive.read(name))

    return tree, load


def _from_legacy(path: Path) -> tuple[Tree, _Loader]:
    """Four pickles (magic number, protocol, sizes of numbers, the tree), the storages' keys, then count and
    bytes.
    """
    size = path.stat().st_size
    with open(path, "rb") as file:
        head = file.read(MOST_PICKLE_BYTES)
    place, parts = 0, []
    for _ in range(5):
        part, used = _run(head[place:])
        parts.append(part)
        place += used
        if len(parts) == 1 and part != _MAGIC:
            raise Refused("it does not begin with PyTorch's magic number")
    system, tree, keys = parts[2:]
    if not isinstance(system, dict) or system.get("little_endian") is not True:
        raise Refused("its numbers are not little-endian")
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise Refused("the list of its storages is damaged")
    kinds = {storage.key: storage for storage in _storages_of(tree)}
    places: dict[str, int] = {}
    with open(path, "rb") as file:
        for key in keys:
            if key not in kinds:
                raise Refused(f"storage {key!r} belongs to no tensor")
            file.seek(place)
            counted = file.read(8)
            if len(counted) < 8 or struct.unpack("<q", counted)[0] != kinds[key].count:
                raise Refused(f"storage {key!r} is truncated or of another size")
            places[key] = place + 8
            place += 8 + kinds[key].count * _itemsize(kinds[key].kind)
            if place > size:
                raise Refused(f"truncated: {size} bytes, storage {key!r} ends at {place}")

    def load(storage: _Storage) -> Floats:
        if storage.key not in places:
            raise Refused(f"storage {storage.key!r} is missing")
        with open(path, "rb") as file:
            file.seek(places[storage.key])
            return _numbers(storage, file.read(storage.count * _itemsize(storage.kind)))

    return tree, load


def _itemsize(kind: str) -> int:
    return 1 if kind == "BOOL" else int(kind.lstrip("BFIU")) // 8


def _numbers(storage: _Storage, data: bytes) -> Floats:
    expected = storage.count * _itemsize(storage.kind)
    if len(data) != expected:
        raise Refused(f"storage {storage.key!r} has {len(data)} bytes; its {storage.count} numbers take {expected}")
    return widened(data, storage.kind)


# -- from the tree to arrays -------------------------------------------------------------------------------


def _storages_of(tree: Tree) -> list[_Storage]:
    found, left = [], [tree]
    seen: set[int] = set()
    while left:
        node = left.pop()
        if isinstance(node, (dict, list, tuple)):
            if id(node) in seen:
                continue
            seen.add(id(node))
            left += node.values() if isinstance(node, dict) else node
        elif isinstance(node, _Tensor):
            found.append(node.storage)
    return found


def _flattened(tree: Tree, load: _Loader) -> dict[str, Floats | dict[str, Tree]]:
    """Tensors under dotted names; a dictionary without tensors (Whisper's "dims") as it is."""
    if not isinstance(tree, dict):
        raise Refused(f"a {type(tree).__name__} at the top; a dictionary of tensors is needed")
    storages: dict[str, Floats] = {}
    out: dict[str, Floats | dict[str, Tree]] = {}
    left: list[tuple[str, Tree, int]] = [("", tree, 0)]
    while left:
        prefix, node, depth = left.pop()
        if depth > 8:
            raise Refused("dictionaries nested more than 8 deep")
        for name, value in node.items():
            if not isinstance(name, str):
                continue
            if isinstance(value, _Tensor):
                key = value.storage.key
                if key not in storages:
                    storages[key] = load(value.storage)
                out[prefix + name] = _view(prefix + name, value, storages[key])
            elif isinstance(value, dict):
                if _storages_of(value):
                    left.append((f"{prefix}{name}.", value, depth + 1))
                else:
                    out[prefix + name] = {k: v for k, v in value.items() if isinstance(v, (int, float, str, bool))}
    if not any(isinstance(value, np.ndarray) for value in out.values()):
        raise Refused("it holds no tensors")
    return out


def _view(name: str, tensor: _Tensor, numbers: Floats) -> Floats:
    if len(tensor.shape) != len(tensor.strides) or min((*tensor.shape, *tensor.strides, tensor.offset), default=0) < 0:
        raise Refused(f"tensor {name!r} has a damaged shape")
    last = tensor.offset + sum(stride * (size - 1) for size, stride in zip(tensor.shape, tensor.strides, strict=True))
    # A stride of zero could make few numbers look like any number of them.
    count = math.prod(map(int, tensor.shape))
    if count > numbers.size or (count and last >= numbers.size):
        raise Refused(f"tensor {name!r} of shape {tensor.shape} does not fit its {numbers.size} stored numbers")
    size = numbers.itemsize
    view = np.lib.stride_tricks.as_strided(
        numbers[tensor.offset :], tensor.shape, tuple(s * size for s in tensor.strides), writeable=False
    )
    return np.ascontiguousarray(view)


# -- the machine -------------------------------------------------------------------------------------------


class _Mark:
    pass


_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple}
_LITERALS = (
    *("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"),
    *("BINUNICODE", "SHORT_BINUNICODE", "BINSTRING", "SHORT_BINSTRING", "SHORT_BINBYTES", "BINBYTES"),
)


def _run(data: bytes) -> tuple[Tree, int]:
    """What one pickle describes, and how many bytes it took."""
    stack: list[Tree] = []
    memo: dict[int, Tree] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old string literals, which are refused right after
            for opcode, argument, place in pickletools.genops(data):
                if opcode.name == "STOP":
                    return stack.pop(), int(place or 0) + 1
                _step(opcode.name, argument, stack, memo)
    except Refused:
        raise
    # pickletools: ValueError; a stack too short: IndexError; a wrong operand: TypeError, AttributeError, KeyError.
    except (ValueError, IndexError, TypeError, AttributeError, KeyError, UnicodeDecodeError) as error:
        raise Refused(f"its pickle is damaged ({type(error).__name__}: {str(error)[:80]})") from None
    raise Refused("its pickle is truncated")


def _step(name: str, argument: Tree, stack: list[Tree], memo: dict[int, Tree]) -> None:
    if name in ("PROTO", "FRAME"):
        return
    if name in _CONSTANTS:
        stack.append(_CONSTANTS[name])
    elif name in _LITERALS:
        stack.append(argument)
    elif name in _EMPTY:
        stack.append(_EMPTY[name]())
    elif name == "MARK":
        stack.append(_Mark)
    elif name == "TUPLE":
        stack.append(tuple(_above_mark(stack)))
    elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
        count = int(name[-1])
        items = stack[-count:]
        if len(items) < count:
            raise IndexError("stack too short")
        del stack[-count:]
        stack.append(tuple(items))
    elif name in ("SETITEM", "SETITEMS"):
        items = _above_mark(stack) if name == "SETITEMS" else [stack.pop(-2), stack.pop()]
        _plain(stack[-1], dict).update(zip(items[::2], items[1::2], strict=True))
    elif name in ("APPEND", "APPENDS"):
        items = _above_mark(stack) if name == "APPENDS" else [stack.pop()]
        _plain(stack[-1], list).extend(items)
    elif name in ("BINPUT", "LONG_BINPUT"):
        memo[argument] = stack[-1]
    elif name == "MEMOIZE":
        memo[len(memo)] = stack[-1]
    elif name in ("BINGET", "LONG_BINGET"):
        stack.append(memo[argument])
    elif name == "GLOBAL":
        stack.append(_named(*argument.split(" ", 1)))
    elif name == "STACK_GLOBAL":
        function, module = stack.pop(), stack.pop()
        stack.append(_named(_plain(module, str), _plain(function, str)))
    elif name == "BINPERSID":
        stack.append(_storage(stack.pop()))
    elif name == "REDUCE":
        arguments, function = stack.pop(), stack.pop()
        stack.append(_described(_plain(function, _Name), _plain(arguments, tuple)))
    elif name == "BUILD":
        # The attributes of an OrderedDict (_metadata of a state_dict): no weights.
        stack.pop()
        _plain(stack[-1], dict)
    else:
        raise Refused(f"its pickle asks for the instruction {name}, which no file of weights needs")


def _above_mark(stack: list[Tree]) -> list[Tree]:
    place = len(stack) - 1
    while stack[place] is not _Mark:
        place -= 1
        if place < 0:
            raise IndexError("no mark")
    items = stack[place + 1 :]
    del stack[place:]
    return items


def _plain(value: Tree, kind: type) -> Tree:
    if type(value) is not kind:
        raise TypeError(f"a {type(value).__name__} where a {kind.__name__} belongs")
    return value


def _named(module: str, function: str) -> _Name:
    text = f"{module}.{function}"
    if text in _PLAIN or (module == "torch" and function in _STORAGES):
        return _Name(text)
    raise Refused(f"its pickle names {text[:80]}, which is not on the list of what is read (nothing was run)")


def _storage(reference: Tree) -> _Storage:
    tag, kind, key, _, count = _plain(reference, tuple)[:5]
    if tag != "storage" or type(kind) is not _Name or not kind.text.startswith("torch."):
        raise Refused("a reference that is no storage")
    name = kind.text.removeprefix("torch.")
    if name not in _STORAGES or type(key) is not str or type(count) is not int or not 0 <= count <= sys.maxsize // 8:
        raise Refused("a damaged reference to a storage")
    return _Storage(key, _STORAGES[name], count)


def _described(function: _Name, arguments: tuple[Tree, ...]) -> Tree:
    """What a call would have made, as data."""
    kind = _PLAIN.get(function.text)
    if kind == "dict":
        if not arguments:
            return {}
        return dict(_plain(pair, tuple) if type(pair) is tuple else _plain(pair, list) for pair in arguments[0])
    if kind == "tuple":
        return tuple(arguments[0])
    if kind == "parameter":
        return _plain(arguments[0], _Tensor)
    if kind == "tensor":
        storage, offset, shape, strides = arguments[:4]
        whole = (offset, *_plain(shape, tuple), *_plain(strides, tuple))
        if type(storage) is not _Storage or not all(type(x) is int for x in whole):
            raise Refused("a damaged tensor")
        return _Tensor(storage, offset, shape, strides)
    raise Refused(f"its pickle calls {function.text}")
