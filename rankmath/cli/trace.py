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

        def drawn(count: int) -> Network:
            sizes = (count, dim, heads, layers, seed)
            return Network.random(*sizes, init=init, skip=skip, mlp=mlp, norm=norm, mask=mask, biases=biases)

        net = drawn(tokens)
        if tokens >= 8 * _SAMPLE and arithmetic == "float64":

            def sampled(count: int) -> None:
                sample = drawn(count)
                run_trace(sample, sample.random_input(seed + 1, tokens=count), residual)

            _say_how_long(sampled, tokens)
    else:
        net = load(path, "--file")
    count = tokens if net.tokens is None else None
    X = net.random_input(seed + 1, tokens=count)
    result = run_trace(net, X, residual, arithmetic=arithmetic)
    rows = result.rows()
    if plot is not None:
        from rankmath.report.plots import plot_decay

        plot_decay(result, plot)
    if as_json:
        click.echo(json.dumps(result.to_dict(), indent=1))
        return
    empty = {name for name in ("order", "log_log_residual") if all(row[name] is None for row in rows)}
    rows = [{name: value for name, value in row.items() if name not in empty} for row in rows]
    cells = [["" if value is None else f"{value:.12g}" for value in row.values()] for row in rows]
    print_table(list(rows[0]), cells, optional=[name for name in ("order", "log_log_residual") if name in rows[0]])
    if "order" in empty:
        click.echo("no orders of decay: one needs a residual below 1 that the next layer shrinks")
    if plot is not None:
        click.echo(f"plot: {plot}")


#: Tokens of the passes from which the time of a longer one is estimated.
_SAMPLE = 2048


def _say_how_long(sampled: Callable[[int], None], tokens: int) -> None:
    """Say on stderr how long so many tokens take, where that is more than ten seconds: time grows as their square."""
    sampled(_SAMPLE // 8)  # what is loaded and compiled on the way does not count
    began = time.perf_counter()
    sampled(_SAMPLE)
    seconds = (time.perf_counter() - began) * (tokens / _SAMPLE) ** 2
    if seconds > 10:
        told = next(
            (f"{seconds / unit:.0f} {name}" for unit, name in _UNITS if seconds >= 2 * unit), f"{seconds:.0f} s"
        )
        click.echo(f"{tokens} tokens take about {told}, as {_SAMPLE} tokens were; Ctrl-C ends it", err=True)


_UNITS = ((86400, "days"), (3600, "hours"), (60, "minutes"))


def number(x: Number) -> float | None:
    """JSON knows no infinities: None stands for what is not a finite double."""
    value = float(x)
    return value if math.isfinite(value) else None
