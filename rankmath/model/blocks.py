"""A transformer as it was trained: its blocks, weights redrawn or at initialisation, and its ablations by name.

An ablation is four switches on every block; what is left of it is a list of sublayers, so that one definition
serves every pass. `VARIANTS` lists them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rankmath.linalg.masks import MaskLike
from rankmath.model.arrays import Floats
from rankmath.model.network import MLP, Attention, LayerNorm, Sublayer
from rankmath.model.positions import Position
from rankmath.validation import as_choice

Source = Literal["trained", "redrawn", "initial"]


@dataclass(frozen=True, eq=False)
class Heads:
    """The four linear maps of an attention, H heads side by side: (d, d), right multiplication; biases or None."""

    query: Floats
    key: Floats
    value: Floats
    output: Floats
    query_bias: Floats | None
    key_bias: Floats | None
    value_bias: Floats | None
    output_bias: Floats | None
    count: int

    def attention(self, *, d_qk: float | None, mask: MaskLike, position: Position | None) -> Attention:
        """The attention these maps make; d_qk is the head size unless given."""
        H = self.count

        def split(weight: Floats) -> Floats:
            d, width = weight.shape
            return weight.reshape(d, H, width // H).transpose(1, 0, 2)  # a view: all heads are one product there

        def rows(bias: Floats | None) -> Floats | None:
            return None if bias is None else bias.reshape(H, -1)

        width, d = self.output.shape
        return Attention.from_qkvo(
            split(self.query),
            split(self.key),
            split(self.value),
            np.ascontiguousarray(self.output.reshape(H, width // H, d)),
            rows(self.query_bias),
            rows(self.key_bias),
            rows(self.value_bias),
            self.output_bias,
            d_qk=d_qk,
            mask=mask,
            position=position,
        )


@dataclass(frozen=True, eq=False)
class Block:
    """Attention and per-token map of one layer, each with its LayerNorm; `d_qk` divides the logits by its root."""

    heads: Heads
    mlp: MLP
    attention_norm: LayerNorm
    mlp_norm: LayerNorm
    d_qk: float


@dataclass(frozen=True)
class Switches:
    """What of a block is kept: the attention's skip and LayerNorm, the map, the map's own skip and LayerNorm."""

    skip: bool
    norm: bool
    mlp: bool
    mlp_skip: bool = False
    mlp_norm: bool = False


#: Ablations by name. Those of Dong et al.'s code keep LayerNorm, and the map keeps its own skip connection.
VARIANTS: dict[str, Switches] = {
    "full": Switches(skip=True, norm=True, mlp=True, mlp_skip=True, mlp_norm=True),
    "san": Switches(skip=False, norm=False, mlp=False),
    "san+mlp": Switches(skip=False, norm=False, mlp=True),
    "san+skip": Switches(skip=True, norm=False, mlp=False),
    "san+norm": Switches(skip=False, norm=True, mlp=False),
    "san+skip+norm": Switches(skip=True, norm=True, mlp=False),
    "san+skip+mlp": Switches(skip=True, norm=False, mlp=True, mlp_skip=True),
    "dong:san": Switches(skip=False, norm=True, mlp=False),
    "dong:san+mlp": Switches(skip=False, norm=True, mlp=True, mlp_skip=True, mlp_norm=True),
    "dong:san+skip": Switches(skip=True, norm=True, mlp=False),
    "dong:full": Switches(skip=True, norm=True, mlp=True, mlp_skip=True, mlp_norm=True),
}


def sublayers(
    block: Block, order: str, kept: Switches, *, mask: MaskLike, position: Position | None, d_qk: float | None
) -> list[Sublayer]:
    """The sublayers of a block that the switches leave."""
    attention = block.heads.attention(d_qk=block.d_qk if d_qk is None else d_qk, mask=mask, position=position)
    place = "after" if order == "post" else "before"
    norms: dict[str, LayerNorm] = {place: block.attention_norm} if kept.norm else {}
    layer = [Sublayer(attention, float(kept.skip), **norms)]
    if kept.mlp:
        norms = {place: block.mlp_norm} if kept.mlp_norm else {}
        layer.append(Sublayer(block.mlp, float(kept.mlp_skip), **norms))
    return layer


# -- weights that were not trained -------------------------------------------------------------------------


def redrawn(block: Block, source: Source, rng: np.random.Generator, spread: float) -> Block:
    """The block with weights drawn anew.

    "redrawn": every matrix and bias Gaussian with its own root mean square; LayerNorms as trained.
    "initial": matrices Gaussian with standard deviation `spread`, biases 0, LayerNorms 1 and 0, as before training.
    """
    as_choice("weights", source, ("redrawn", "initial"))

    def matrix(weight: Floats) -> Floats:
        size = spread if source == "initial" else float(np.sqrt(np.mean(weight**2)))
        return np.asarray(rng.standard_normal(weight.shape)) * size

    def bias(vector: Floats | None) -> Floats | None:
        if vector is None:
            return None
        return np.zeros_like(vector) if source == "initial" else matrix(vector)

    h, f = block.heads, block.mlp
    heads = Heads(
        matrix(h.query),
        matrix(h.key),
        matrix(h.value),
        matrix(h.output),
        bias(h.query_bias),
        bias(h.key_bias),
        bias(h.value_bias),
        bias(h.output_bias),
        h.count,
    )
    mlp = replace(f, W_in=matrix(f.W_in), W_out=matrix(f.W_out), b_in=bias(f.b_in), b_out=bias(f.b_out))
    if source == "redrawn":
        return replace(block, heads=heads, mlp=mlp)
    return replace(
        block, heads=heads, mlp=mlp, attention_norm=fresh(block.attention_norm), mlp_norm=fresh(block.mlp_norm)
    )


def fresh(norm: LayerNorm) -> LayerNorm:
    """The LayerNorm before training: gain 1, offset 0."""
    return replace(norm, gain=np.ones_like(norm.gain), offset=np.zeros_like(norm.offset))
