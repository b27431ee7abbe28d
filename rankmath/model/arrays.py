"""Numbers as checkpoints store them, and as we compute with them: every one of them is a double."""

from typing import Any

import numpy as np

Floats = np.ndarray[Any, Any]

#: What a checkpoint calls its numbers; brain floats are the upper halves of single precision.
DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "<i1",
    "U8": "<u1",
    "BOOL": "?",
}


def widened(data: bytes | bytearray, kind: str) -> Floats:
    """The stored numbers; brain floats become the single-precision numbers they are.

    >>> widened(bytes([0x80, 0x3F, 0x00, 0x40]), "BF16")
    array([1., 2.], dtype=float32)
    """
    numbers = np.frombuffer(data, dtype=DTYPES[kind])
    return (numbers.astype("<u4") << 16).view("<f4") if kind == "BF16" else numbers
