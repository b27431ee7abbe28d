"""`rankmath trace`."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import click

from rankmath.cli.app import as_json, plot_option

if TYPE_CHECKING:
    from rankmath.linalg.residuals import ResidualNorm
    from rankmath.model.sublayers import Activation, NormKind
    from rankmath.validation import Number


@click.command()
@click.option("--file", "path", type=click.Path(dir_okay=False), help="A network saved with Network.save (npz).")
@click.option("--tokens", type=int, default=16)
@click.option("--dim", type=int, default=8)
@click.option("--heads", type=int, default=1)
@click.option("--layers", type=int, default=8)
@click.option("--seed", type=int, default=0, help="Of the network; the input has seed + 1.")
@click.option("--init", default="gaussian", help="gaussian, xavier or orthogonal.")
@click.option("--skip", type=float, default=0.0, help="λ of the skip connection.")
@click.option("--mlp", help="relu, tanh, gelu, gelu_tanh, silu or quick_gelu; gated swiglu, geglu or reglu.")
@click.option("--norm", help="sphere, standard, rms or column.")
@click.option("--mask", help="causal, window:1, …")
@click.option("--biases", is_flag=True)
@click.option("--residual", default="frobenius", help="frobenius, one, inf or composite.")
@click.option("--arithmetic", default="float64", help="float64, mpmath or balls.")
@plot_option("trace.png", "Write the decay as a picture")
@as_json
def trace(
    path: str | None,
    tokens: int,
    dim: int,
    heads: int,
    layers: int,
    seed: int,
    init: Literal["gaussian", "xavier", "orthogonal"],
    skip: float,
    mlp: Activation | None,
    norm: NormKind | None,
    mask: str | None,
    biases: bool,
    residual: ResidualNorm,
    arithmetic: Literal["float64", "mpmath", "balls"],
    plot: str | None,
    as_json: bool,
) -> None:
    """One network, depth by depth: residual, diameter, order of decay.

    Logarithms are natural.

    Example: rankmath trace --tokens 32 --dim 16 --heads 4 --layers 10 --plot decay.png
    """
    from rankmath.attention.trace import MOST_BITS
    from rankmath.attention.trace import trace as run_trace
    from rankmath.console import print_table
    from rankmath.linalg.residuals import RESIDUAL_NORMS
    from rankmath.model.files import load
    from rankmath.model.network import Network
    from rankmath.validation import InvalidArgument, as_choice

    as_choice("--residual", residual, RESIDUAL_NORMS)  # --norm is the LayerNorm's
    if residual != "frobenius" and arithmetic == "mpmath":
        raise InvalidArgument(f"--residual: {residual!r} given with --arithmetic mpmath; balls and float64 take all")
    if path is None:

        def drawn(count: int, depth: int) -> Network:
            sizes = (count, dim, heads, depth, seed)
            return Network.random(*sizes, init=init, skip=skip, mlp=mlp, norm=norm, mask=mask, biases=biases)

        def seconds(count: int, depth: int) -> float:
            sample = drawn(count, depth)
            X = sample.random_input(seed + 1, tokens=count)
            began = time.perf_counter()
            run_trace(sample, X, residual, arithmetic=arithmetic, bits=bits)
            return time.perf_counter() - began

        # Precision grows with the depth, which is that of the whole network.
        bits = min(MOST_BITS, 128 + 8 * layers) if arithmetic == "balls" else None
        each = 1 if arithmetic == "float64" else _OF_OBJECTS * max(1, (bits or 0) // 256)
        net = drawn(tokens, layers)
        _say_how_long(seconds, tokens, dim, layers, heads * each)
    else:
        net = load(path, "--file")
    count = tokens if net.tokens is None else None
    X = net.random_input(seed + 1, tokens=count)
    result = run_trace(net, X, residual, arithmetic=arithmetic)
    rows = result.rows()
    if as_json:
        click.echo(json.dumps(result.to_dict(), indent=1))
    else:
        empty = {name for name in ("order", "log_log_residual") if all(row[name] is None for row in rows)}
        rows = [{name: value for name, value in row.items() if name not in empty} for row in rows]
        cells = [["" if value is None else f"{value:.12g}" for value in row.values()] for row in rows]
        print_table(list(rows[0]), cells, optional=[name for name in ("order", "log_log_residual") if name in rows[0]])
        if "order" in empty:
            click.echo("no orders of decay: one needs a residual below 1 that the next layer shrinks")
    if plot is not None:  # last: where it cannot be written the numbers are there
        from rankmath.report.plots import plot_decay

        plot_decay(result, plot)
        if not as_json:
            click.echo(f"plot: {plot}")


#: A trace of this many multiply-adds in float64 takes seconds; one of a 16th of them is its sample.
_MANY = 2**35
#: What a layer takes beside its products, as many of these.
_OF_LAYER = 2**17
#: One of the other arithmetics takes as long as some thousand in float64.
_OF_OBJECTS = 2000


def _say_how_long(seconds: Callable[[int, int], float], tokens: int, dim: int, layers: int, each: int) -> None:
    """Say on stderr how long a long trace takes, from one of fewer layers and, where one takes long, fewer tokens."""

    def work(count: int, depth: int) -> float:
        return float(depth) * (count * (count + dim) * (dim + 16) * each + _OF_LAYER)

    whole, count = work(tokens, layers), tokens
    if whole < _MANY:
        return
    while work(count, 1) > _MANY / 16 and count > 8:
        count = count * 3 // 4
    depth = max(1, min(layers, int(_MANY / 16 / work(count, 1))))
    seconds(max(2, count // 8), 1)  # what is loaded and compiled on the way does not count
    long = seconds(count, depth) * whole / work(count, depth)
    if long > 10:
        told = next((f"{long / unit:.0f} {name}" for unit, name in _UNITS if long >= 2 * unit), f"{long:.0f} s")
        sizes = [
            f"{t} token{'s' * (t > 1)} through {l} layer{'s' * (l > 1)}" for t, l in ((tokens, layers), (count, depth))
        ]
        click.echo(f"{sizes[0]} take about {told}, as {sizes[1]} did; Ctrl-C ends it", err=True)


_UNITS = ((86400, "days"), (3600, "hours"), (60, "minutes"))


def number(x: Number) -> float | None:
    """JSON knows no infinities: None stands for what is not a finite double."""
    value = float(x)
    return value if math.isfinite(value) else None
