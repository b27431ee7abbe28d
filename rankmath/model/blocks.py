"""A transformer as it was trained: its blocks, weights redrawn or at initialisation, and its ablations by name.

An ablation is four switches on every block; what is left of it is a list of sublayers, so that one definition
serves every pass. `VARIANTS` lists them.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from rankmath.linalg.masks import MaskLike
from rankmath.model.arrays import Floats
from rankmath.model.network import MLP, Attention, LayerNorm, Parallel, Sublayer
from rankmath.model.positions import Position, Rotary
from rankmath.model.sublayers import QKNorm
from rankmath.validation import as_choice

Source = Literal["trained", "redrawn", "initial"]


@dataclass(frozen=True, eq=False)
class Heads:
    """The four linear maps of an attention, heads side by side: (d, H·k), right multiplication; biases or None.

    `count` heads; keys and values of `kv_count` of them where several heads share theirs.
    """

    query: Floats
    key: Floats
    value: Floats
    output: Floats
    query_bias: Floats | None
    key_bias: Floats | None
    value_bias: Floats | None
    output_bias: Floats | None
    count: int
    kv_count: int | None = None

    def attention(self, **options: Any) -> Attention:
        """The attention these maps make; d_qk is the head size unless given."""
        H = self.count
        counts = (H, self.kv_count or H, self.kv_count or H)

        def split(weight: Floats, count: int) -> Floats:
            d, width = weight.shape
            return weight.reshape(d, count, width // count).transpose(1, 0, 2)  # a view: heads are one product there

        def rows(bias: Floats | None, count: int) -> Floats | None:
            return None if bias is None else bias.reshape(count, -1)

        width, d = self.output.shape
        Q, K, V = map(split, (self.query, self.key, self.value), counts)
        b_Q, b_K, b_V = map(rows, (self.query_bias, self.key_bias, self.value_bias), counts)
        O = np.ascontiguousarray(self.output.reshape(H, width // H, d))
        return Attention.from_qkvo(Q, K, V, O, b_Q, b_K, b_V, self.output_bias, **options)


@dataclass(frozen=True, eq=False)
class Block:
    """Attention and per-token map of one layer, each with its norms; `d_qk` divides the logits by its root.

    `attention_norm` and `mlp_norm` stand before the map or after the skip, as the model's order says; those
    `behind` norm what a map adds. `mask` is the block's own where blocks differ; `parallel` maps see one input.
    """

    heads: Heads
    mlp: MLP
    attention_norm: LayerNorm | None
    mlp_norm: LayerNorm | None
    d_qk: float
    behind_attention: LayerNorm | None = None
    behind_mlp: LayerNorm | None = None
    rotary: Rotary | None = None
    qk_norm: QKNorm | None = None
    softcap: float | None = None
    mask: MaskLike = None
    parallel: bool = False


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
    attention = block.heads.attention(
        d_qk=block.d_qk if d_qk is None else d_qk,
        mask=block.mask if mask is None else mask,
        position=position,
        rotary=block.rotary,
        qk_norm=block.qk_norm,
        softcap=block.softcap,
    )
    if block.parallel and kept.mlp:
        return [_side_by_side(block, attention, kept)]
    place = "after" if order == "post" else "before"
    norms = {place: block.attention_norm, "behind": block.behind_attention} if kept.norm else {}
    layer = [Sublayer(attention, float(kept.skip), **norms)]
    if kept.mlp:
        norms = {place: block.mlp_norm, "behind": block.behind_mlp} if kept.mlp_norm else {}
        layer.append(Sublayer(block.mlp, float(kept.mlp_skip), **norms))
    return layer


def _side_by_side(block: Block, attention: Attention, kept: Switches) -> Sublayer:
    """λX + attention(N₁(X)) + mlp(N₂(X)): the gains and offsets of both norms go into the maps behind them."""
    norm = block.attention_norm if kept.norm else None
    if norm is None:
        return Sublayer(Parallel((attention, block.mlp)), float(kept.skip))
    h, f = block.heads, block.mlp
    first, second = norm, block.mlp_norm
    assert second is not None

    def folded(own: LayerNorm, W: Floats, b: Floats | None) -> tuple[Floats, Floats | None]:
        added = None if own.offset is None else own.offset @ W
        W = W if own.gain is None else own.gain[:, None] * W
        return W, b if added is None else added if b is None else b + added

    (Q, b_Q), (K, b_K), (V, b_V) = (
        folded(first, W, b) for W, b in ((h.query, h.query_bias), (h.key, h.key_bias), (h.value, h.value_bias))
    )
    heads = replace(h, query=Q, key=K, value=V, query_bias=b_Q, key_bias=b_K, value_bias=b_V)
    W_in, b_in = folded(second, f.W_in, f.b_in)
    options = ("d_qk", "mask", "position", "rotary", "qk_norm", "softcap")
    inner = heads.attention(**{name: getattr(attention, name) for name in options})
    bare = LayerNorm(first.kind, first.eps)
    return Sublayer(Parallel((inner, replace(f, W_in=W_in, b_in=b_in))), float(kept.skip), before=bare)


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
    names = ("query", "key", "value", "output")
    drawn: dict[str, Any] = {name: matrix(getattr(h, name)) for name in names}
    heads = replace(h, **drawn | {f"{name}_bias": bias(getattr(h, f"{name}_bias")) for name in names})
    mlp = replace(f, W_in=matrix(f.W_in), W_out=matrix(f.W_out), b_in=bias(f.b_in), b_out=bias(f.b_out))
    if f.W_gate is not None:
        mlp = replace(mlp, W_gate=matrix(f.W_gate), b_gate=bias(f.b_gate))
    block = replace(block, heads=heads, mlp=mlp)
    if source == "redrawn":
        return block
    given = {name: getattr(block, name) for name in ("attention_norm", "mlp_norm", "behind_attention", "behind_mlp")}
    norms: dict[str, Any] = {name: None if norm is None else fresh(norm) for name, norm in given.items()}
    if block.qk_norm is not None:
        of_queries, of_keys, eps = block.qk_norm
        norms["qk_norm"] = (np.ones_like(of_queries), np.ones_like(of_keys), eps)
    return replace(block, **norms)


def fresh(norm: LayerNorm) -> LayerNorm:
    """The LayerNorm before training: gain 1, offset 0."""
    offset = None if norm.offset is None else np.zeros_like(norm.offset)
    return replace(norm, gain=np.ones_like(norm.gain), offset=offset)
