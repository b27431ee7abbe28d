"""`rankmath model`."""

from __future__ import annotations

import json
import math
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, TypeAlias

import click

from rankmath.cli.app import as_json, plot_option
from rankmath.cli.trace import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankmath.attention.backend import Backend
    from rankmath.decide.bounds_for import LayerBound
    from rankmath.model.blocks import Source
    from rankmath.model.checkpoint import Model
    from rankmath.model.embedding import AudioEmbedding, PatchEmbedding
    from rankmath.validation import Floats, Json

#: The numbers of each layer, by name.
Rows: TypeAlias = "list[dict[str, str | float | None]]"


#: Statements that --bounds reads unless it is given others; they need no linear programs.
#: How many tokens are read, where the model has places for so many.
_TOKENS = 64
_BOUNDS = ("own:diameter", "wu2024:1")


def _folder_or_help(context: click.Context, parameter: click.Parameter, folder: str | None) -> str | None:
    """The folder, which only lists of names do without."""
    if folder is None and "help" not in (context.params.get("variant"), context.params.get("metric")):
        raise click.MissingParameter(ctx=context, param=parameter)
    return folder


@click.command()
@click.argument("folder", type=click.Path(), required=False, callback=_folder_or_help, metavar="FOLDER")
@click.option("--text", type=click.Path(exists=True, dir_okay=False), help="A file with the text to read.")
@click.option("--ids", help="Token ids, separated by commas, instead of a text.")
@click.option(
    "--array",
    type=click.Path(exists=True, dir_okay=False),
    help="A .npy file with the pixels of an image (ViT, DINOv2), or a spectrogram (Whisper's encoder).",
)
@click.option(
    "--tokens",
    type=int,
    help="How many; random ones without a text.  [default: 64, or all that the model has places for]",
)
@click.option("--seed", type=int, default=0, help="Of random tokens, and of weights drawn anew.")
@click.option(
    "--variant",
    help="Ablations, separated by commas; 'help' lists them. Unless given san, and san+norm where LayerNorm comes "
    "before attention, with sentences that say what happens where.",
)
@click.option("--metric", default="relative-residual", help="Columns; 'help' lists them.")
@click.option("--mask", default="own", help="complete, causal, window:4, …")
@click.option("--d-qk", type=float, help="The logits are divided by its root; the model's own unless given.")
@click.option("--weights", type=click.Choice(["trained", "redrawn", "initial"]), default="trained")
@click.option("--layers", type=int, help="Only so many of the first layers.")
@click.option("--part", type=click.Choice(["encoder", "decoder"]), help="Of Whisper.")
@click.option(
    "--arithmetic",
    type=click.Choice(["float64", "balls"]),
    default="float64",
    help="balls: a certified enclosure at every layer.",
)
@click.option(
    "--backend",
    type=click.Choice(["numpy", "cupy"]),
    default="numpy",
    help="Where the layers run; cupy needs a GPU and the extra gpu.",
)
@click.option(
    "--bounds",
    metavar="[KEYS]",
    is_flag=False,
    flag_value=",".join(_BOUNDS),
    help=f"How much of the collapse statements say, layer by layer; {', '.join(_BOUNDS)} unless keys follow.",
)
@plot_option("model.png", "Write a picture")
@as_json
def model(
    folder: str,
    text: str | None,
    ids: str | None,
    array: str | None,
    tokens: int | None,
    seed: int,
    variant: str | None,
    metric: str,
    mask: str,
    d_qk: float | None,
    weights: Source,
    layers: int | None,
    part: str | None,
    arithmetic: Literal["float64", "balls"],
    backend: Backend,
    bounds: str | None,
    plot: str | None,
    as_json: bool,
) -> None:
    """A real checkpoint, depth by depth, in any ablation.

    FOLDER holds config.json and weights (safetensors or PyTorch's), or is a file of weights (GGUF too). Nothing in it
    is run. Logarithms are natural. Without --variant sentences say what happens where, and model.png shows it.

    Example: rankmath model minilm --text story.txt --variant san,full --metric relative-residual,effective-rank
    """
    from rankmath.attention.columns import METRICS, measure
    from rankmath.attention.experiments.anatomy import anatomy
    from rankmath.attention.experiments.findings import Curve
    from rankmath.attention.trace import trace
    from rankmath.console import Progress
    from rankmath.decide.bounds_for import layer_bounds
    from rankmath.files import writable
    from rankmath.model.blocks import VARIANTS
    from rankmath.model.checkpoint import load_model
    from rankmath.printing import did_you_mean
    from rankmath.validation import InvalidArgument, as_choice

    if "help" in (variant, metric):
        click.echo("\n".join(VARIANTS if variant == "help" else METRICS))
        return
    # What is typed is looked at first: to read a model takes a minute.
    metrics, variants = metric.split(","), [] if variant is None else variant.split(",")
    for option, given, allowed in (("--metric", metrics, METRICS), ("--variant", variants, VARIANTS)):
        for name in given:
            try:
                as_choice(option, name, tuple(allowed))
            except InvalidArgument as error:
                raise InvalidArgument(f"{error}{did_you_mean(name, allowed)}") from None
    keys = [] if bounds is None else _bounding(bounds.split(","))
    sentences = variant is None and arithmetic == "float64"
    if plot is None and sentences and not as_json and find_spec("matplotlib"):
        plot = "model.png"
        writable(plot, "plot")
    whole = load_model(folder, layers=layers, part=part)
    usual = ["san", "san+norm"] if whole.order == "pre" else ["san"]
    names = usual if variant is None else variants
    results: list[dict[str, Json]] = []
    tables: list[tuple[str, Rows, Sequence[LayerBound]]] = []
    curves: list[Curve] = []
    with Progress(len(names), "variants", quiet=as_json) as progress:
        for name in names:
            chosen = whole.variant(name, mask=mask, d_qk=d_qk, weights=weights, seed=seed)
            X = _input(chosen, text, ids, array, tokens, seed, quiet=bool(results))
            net = chosen.network
            columns = measure(net, X, metrics, arithmetic=arithmetic, backend=backend)
            run = trace(net, X, arithmetic=arithmetic, backend=backend)
            rows: Rows = []
            for l in range(net.layers + 1):
                row: dict[str, str | float | None] = {"layer": l, "log_residual": number(run.log_residual[l])}
                if arithmetic == "balls":
                    row["log_residual_lower"] = number(run.log_residual_lower[l])
                    row["log_residual_upper"] = number(run.log_residual_upper[l])
                row |= {"log_diameter": number(run.log_diameter[l])}
                row["order"] = number(run.order[l - 1]) if l and run.decays[l - 1] else None
                for key in metrics:
                    row[key] = number(columns.values[key][l])
                    if key in columns.logs:
                        row[f"log {key}"] = number(columns.logs[key][l])
                    if arithmetic == "balls":
                        ball = columns.balls[key][l]
                        row[f"{key} enclosure"] = None if ball is None else str(ball.str(20))
                rows.append(row)
            result: dict[str, Json] = {"variant": name, "layers": rows}
            curves.append(Curve.of("log of the residual", name, range(net.layers + 1), run.log_residual))
            for key in metrics:
                logs = key in columns.logs
                values = (columns.logs if logs else columns.values)[key]
                curves.append(Curve.of(f"log of {key}" if logs else key, name, range(net.layers + 1), values))
            found = layer_bounds(net, X, keys) if keys else ()
            if keys:
                told = ("measured", "step", "whole", "share")
                result["bounds"] = [
                    {"key": bound.key, "size": bound.size}
                    | {name: [number(x) for x in getattr(bound, name)] for name in told}
                    | {"vacuous": list(bound.vacuous), "why_not": list(bound.why_not)}
                    for bound in found
                ]
            results.append(result)
            tables.append((name, rows, found))
            progress.step(name)
    said: list[str] = []
    if sentences:
        said = anatomy(whole.variant("full", mask=mask, d_qk=d_qk, weights=weights, seed=seed), X)
    if as_json:
        about: dict[str, Json] = {"model": whole.kind, "tokens": len(X), "dim": whole.dim}
        about |= {"weights": weights, "arithmetic": arithmetic}
        about |= {"said": said} if said else {}
        click.echo(json.dumps(about | {"variants": results}, indent=1))
    else:
        for shown in tables:
            _print(*shown)
        for line in said:
            click.echo(line)
    if plot is not None:  # last: where it cannot be written the numbers are there
        from rankmath.report.plots import plot_curves

        plot_curves(curves, {c.panel: ("layer", c.panel, "linear", "linear") for c in curves}, plot)
        if not as_json:
            click.echo(f"plot: {plot}")


def _bounding(given: list[str]) -> list[str]:
    """Keys as they are typed; a pattern stands for those that fit it and have a bound to tell."""
    from rankmath.claims import statements_like
    from rankmath.decide.bounds_for import _sizes, _speaks_of_networks
    from rankmath.validation import InvalidArgument

    keys: list[str] = []
    for pattern in given:
        fit = [entry.key for entry in statements_like(pattern) if _speaks_of_networks(entry) and any(_sizes(entry))]
        if not fit:
            raise InvalidArgument(f"--bounds: {pattern!r} given; an upper bound of a size of X[L] is needed")
        keys += fit
    return list(dict.fromkeys(keys))


def _input(
    chosen: Model, text: str | None, ids: str | None, array: str | None, tokens: int | None, seed: int, *, quiet: bool
) -> Floats:
    """The tokens that are asked for; a text that is cut is said to be cut, unless `quiet`."""
    from rankmath.files import read_text
    from rankmath.model.embedding import WordEmbedding
    from rankmath.validation import InvalidArgument

    if not isinstance(chosen.embedding, WordEmbedding):
        if text is not None or ids is not None:
            raise InvalidArgument(f"--text, --ids: given; the input of {chosen.kind} is no text, but --array")
        return chosen.embedding(_array(chosen.embedding, array, tokens, seed, quiet=quiet))
    if array is not None:
        raise InvalidArgument(f"--array: given; the input of {chosen.kind} is a text, --text or --ids")
    if text is not None and ids is not None:
        raise InvalidArgument("--text, --ids: both given; one of them is the input")
    if text is not None:
        content = read_text(text, "--text")
        if chosen.tokenizer is None:
            return chosen.embed(content)
        found = chosen.tokenizer.ids(content)
        most = _usual(chosen) if tokens is None else tokens
        if len(found) > most and not quiet:
            click.echo(f"--text: it has {len(found)} tokens; the first {most} are read (--tokens)", err=True)
        return chosen.embed(found[:most])
    if ids is not None:
        if tokens is not None:
            raise InvalidArgument("--ids, --tokens: both given; the ids are all that is read")
        try:
            return chosen.embed([int(token) for token in ids.split(",")])
        except ValueError as error:
            if isinstance(error, InvalidArgument):
                raise
            raise InvalidArgument(f"--ids: {ids[:60]!r} given; whole numbers separated by commas are needed") from None
    most = _usual(chosen) if tokens is None else tokens
    drawn = chosen.random_ids(most, seed)
    if not quiet:
        click.echo(f"input: {most} random token ids, seed {seed}", err=True)
    return chosen.embed(drawn)


def _array(
    embedding: PatchEmbedding | AudioEmbedding, array: str | None, tokens: int | None, seed: int, *, quiet: bool
) -> Floats:
    """Pixels or a spectrogram: those of a file, or random ones."""
    import numpy as np

    from rankmath.model.embedding import PatchEmbedding
    from rankmath.validation import InvalidArgument

    patches = isinstance(embedding, PatchEmbedding)
    if tokens is not None and (patches or array is not None):
        raise InvalidArgument("--tokens: given; an image, or the file of --array, has as many as it has")
    if array is not None:
        try:
            given: Floats = np.load(array, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InvalidArgument(f"--array: {array!r} given; no .npy file ({str(error)[:80]})") from None
        return given
    rng = np.random.default_rng(seed)
    if isinstance(embedding, PatchEmbedding):
        made = embedding.random(rng)
    else:
        made = embedding.random(rng, min(_TOKENS, embedding.room) if tokens is None else tokens)
    if not quiet:
        click.echo(f"input: random {'pixels' if patches else 'spectrogram'}, shape {made.shape}, seed {seed}", err=True)
    return made


def _usual(chosen: Model) -> int:
    """How many tokens are read where no number is given."""
    room = getattr(chosen.embedding, "room", _TOKENS)
    return min(_TOKENS, room)


def _print(variant: str, rows: Rows, bounds: Sequence[LayerBound]) -> None:
    from rankmath.console import print_table

    click.echo(f"{variant}:")
    cells = [[f"{x:.10g}" if isinstance(x, float | int) else x or "" for x in row.values()] for row in rows]
    print_table(list(rows[0]), cells, optional=("order", "log_diameter"))
    said = []
    for bound in bounds:
        told = zip(bound.share, bound.vacuous, bound.why_not, strict=True)
        steps = [
            f"needs {why}" if why else "vacuous" if empty else "" if math.isnan(share) else f"{share:.3f}"
            for share, empty, why in told
        ]
        if len(set(steps)) == 1 and steps[0].startswith("needs"):
            steps = [f"{steps[0]}, at every layer"]
        said.append(f"  {bound.key} says of the fall of log {bound.size}, layer by layer: {', '.join(steps)}")
    for line in dict.fromkeys(said):  # two inequalities of one statement may say the same
        click.echo(line)
