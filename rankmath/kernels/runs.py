"""What a compiled call of some layers is given, and what it makes, on a CPU or a GPU."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from rankmath.validation import Array, Floats

#: A mantissa beyond 2^1000 hands 2^512 to the exponent (`rankmath.arithmetic.scales`): until then it is a double.
LARGE = 2.0**1000
STEP = 512.0

#: query, value, key bias and bias of each layer (of each network of a batch, or of all).
Arrays: TypeAlias = tuple[tuple[Array, Array, Array | None, Array | None], ...]


class Run(NamedTuple):
    """How far some layers went in one call, and what they made."""

    #: (networks, 1 + layers, 7), the input first: ξ, mantissa and exponent of σ, lost bits; ‖R‖_F, Δ₂, ‖x‖ in
    #: their units
    log: Floats
    center: Array
    residual: Array

    @property
    def layers(self) -> int:
        return len(self.log[0]) - 1
