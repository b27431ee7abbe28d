"""A network of any kind in Coq, printed from the text that the checker reads.

Positions, capped logits, norms of queries and keys, LayerNorms before and after, gated maps: the layers of
`rankmath.definitions.layer` and the claim are unrolled into terms about the entries of the data, a number each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rankmath.certificates.coq_statement import Found, Reader
from rankmath.certificates.coq_terms import Untranslatable, Writer
from rankmath.checker.intervals import Rejected
from rankmath.checker.network import hypotheses, read_network, spelled


def general(content: Mapping[str, Any], bits: int) -> tuple[Writer, Found, list[str]]:
    """The lines of a network's file, its statements with their proofs, and what is left out."""
    reader, given = held(content, bits)
    layers = int(reader.held["L"])
    found = [one for text in given for one in reader.shown(spelled(text, layers), {}, holds=True)]
    found += reader.shown(spelled(content["claim"], layers), {}, holds=content["kind"] != "violates")
    return reader.out, found, reader.left_out


def held(content: Mapping[str, Any], bits: int) -> tuple[Reader, list[str]]:
    """A reader over the network's data, and the hypotheses that are formulas; the others hold of the data."""
    try:
        data, _ = read_network(content["data"], content.get("hints", {}), math.inf)
        given = hypotheses(content["claim"], list(content.get("given", [])), data)
    except Rejected as why:
        raise Untranslatable(str(why)) from None
    reader = Reader.over(Writer(bits), data)
    for name in ("input", "blocks"):
        data[name] = _named(reader, name, data[name])
    reader.out.at = "p 16%nat 16%nat"
    return reader, given


def _named(reader: Reader, name: str, value: Any) -> Any:
    """Arrays of numbers with a name in Coq each; words stay words."""
    if isinstance(value, dict):
        return {key: _named(reader, f"{name}_{key}", one) for key, one in value.items()}
    if isinstance(value, list) and value and _deep(value):
        return [_named(reader, f"{name}_{k}", one) for k, one in enumerate(value)]
    return value if isinstance(value, str) or value == [] else reader.named(name, value)


def _deep(value: Any, depth: int = 0) -> bool:
    """Whether a list is no vector and no matrix: it holds records, or matrices."""
    return _deep(value[0], depth + 1) if isinstance(value, list) and value else isinstance(value, dict) or depth > 2
