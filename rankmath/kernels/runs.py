"""What a compiled call of some layers is given, and what it makes, on a CPU or a GPU."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

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


class Layers(Protocol):
    """Compiled layers of attention alone for tokens of one size: all that `rankmath.attention` asks of a CPU's
    `compiled_network.LayerPlan` and a GPU's `cuda_layer.Plan`."""

    def run(
        self,
        x: Array | None,
        R: Array,
        state: Floats | Sequence[float],
        arrays: Arrays,
        numbers: Floats,
        limits: Mapping[str, float],
        *,
        measure: bool = False,
    ) -> Run:
        """As many of these layers as can be made of tokens e^ξ 1x + e^σ R, or of R where x is None."""
        ...
