"""`rankmath bound`."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING

import click

from rankmath.cli.app import as_json, complete_keys, drawable
from rankmath.cli.trace import number

if TYPE_CHECKING:
    from rankmath.formula.symbolic.bound import Bound
    from rankmath.validation import Json, Number


@click.command()
@click.argument("keys", nargs=-1, metavar="[KEY]...", shell_complete=complete_keys)
@click.option(
    "--set", "given", multiple=True, metavar="NAME=NUMBER", help="A letter's value; numbers of heads by commas."
)
@click.option("--latex", "as_latex", is_flag=True, help="LaTeX instead of plain text.")
@click.option("--claim", help="A claim of one's own in the place of a KEY.")
@click.option("--derive", is_flag=True, help="What follows from the bound, step by step, each confirmed by sympy.")
@click.option("--network", type=click.Path(), help="A network saved with Network.save: which bounds apply to it?")
@click.option("--input", "tokens", type=click.Path(), help="Its input, saved by numpy.save; random if none.")
@click.option("--seed", type=int, default=0, help="Of a random input.")
@click.option(
    "--plot",
    type=click.Path(dir_okay=False),
    callback=drawable,
    help="With --network: both sides by depth, as a picture.",
)
@as_json
def bound(
    keys: tuple[str, ...],
    given: tuple[str, ...],
    as_latex: bool,
    claim: str | None,
    derive: bool,
    network: str | None,
    tokens: str | None,
    seed: int,
    plot: str | None,
    as_json: bool,
) -> None:
    """The bound of a statement; or which bounds apply to a network.

    As text, as LaTeX, or as a number once every letter has a value. With --network every statement (or those named,
    patterns such as 'own:*' among them): whether it applies, which hypothesis fails, and both sides by depth.

    Example: rankmath bound --network net.npz --plot bounds.png

    Example: rankmath bound own:diameter --derive

    Example: rankmath bound own:diameter --set L=6 --set diameter=0.1 --set omega=2 --set d_qk=16
    """
    from rankmath.validation import InvalidArgument

    if network is None and (plot is not None or tokens is not None):
        option = "--input" if plot is None else "--plot"
        raise InvalidArgument(f"{option}: given without --network; a bound as a formula has no depths and no input")
    if network is not None:
        _of_network(network, tokens, seed, keys, plot, as_json)
        return
    import sympy

    from rankmath.claims import bound as bound_of

    if len(keys) + (claim is not None) != 1:
        raise InvalidArgument(f"KEY: {len(keys) or 'none'} given; one is needed, or --claim, or --network FILE")
    if claim is None:
        (key,) = keys
        found = bound_of(key)
    else:
        from rankmath.verification.statement import Statement

        key, found = "mine:claim", Statement("mine:claim", claim).bound()
    if derive:
        _derived(found, as_latex, as_json)
        return
    values = dict(_setting(text) for text in given)
    # A single number for a letter with one value a head is the case of one head.
    per_head = {quantity.name for quantity in found.quantities if quantity.per_head}
    arguments: dict[str, Number] = {}
    for name, listed in values.items():
        if name not in found.symbols:
            raise InvalidArgument(f"--set: {name} given; the letters of {key} are {', '.join(found.symbols)}")
        arguments[name] = listed if name in per_head or len(listed) > 1 else listed[0]
    complete = set(found.symbols) <= set(arguments)
    numbers = {}
    if complete:
        numbers["log"] = found.evaluate(**arguments)
        numbers["value"] = found.evaluate(log=False, **arguments)
    expression = found.subs(**arguments) if arguments and not complete else found.expression
    names = {q.symbol.label if q.per_head else q.symbol: q.latex for q in found.quantities}
    tex = str(sympy.latex(expression, symbol_names=names))
    if as_json:
        plain: dict[str, Json] = {"key": key, "side": found.side, "expression": str(expression), "latex": tex}
        plain |= {"symbols": dict(found.symbols), "hypothesis": found.hypothesis}
        plain |= {name: number(value) for name, value in numbers.items()}
        click.echo(json.dumps(plain, indent=1))
        return
    if as_latex:
        click.echo(tex)
        return
    shown = str(expression)
    if len(shown) > _MOST_DIGITS:
        shown = f"{sympy.N(expression, 6)} (six digits; --json has all {len(shown)} characters)"
    closed = "" if found.key == key else f" (the closed form, {found.key})"
    click.echo(f"{key}, {'an upper' if found.side == 'upper' else 'a lower'} bound{closed}: {shown}")
    for name, meaning in found.symbols.items():
        value = f" = {', '.join(map(str, values[name]))}" if name in values else ""
        click.echo(f"  {name}{value}: {meaning}")
    if any(re.search(r"\bp\b", meaning) for meaning in found.symbols.values()):
        click.echo("  p: 1, 2 or inf, the same wherever it stands")
    click.echo(f"hypothesis: {found.hypothesis}")
    if complete:
        # A bound that shrinks doubly exponentially soon leaves the doubles; its logarithm stays.
        in_range = numbers["value"] != 0 and math.isfinite(numbers["value"])
        value = f"{numbers['value']:.12g} = " if in_range else ""
        click.echo(f"bound: {value}exp({numbers['log']:.15g})")


#: An expression longer than this, such as a power of a fraction written out, is shown in decimals.
_MOST_DIGITS = 150


def _of_network(
    path: str, tokens: str | None, seed: int, keys: tuple[str, ...], plot: str | None, as_json: bool
) -> None:
    import io

    import numpy as np

    from rankmath.claims import statements
    from rankmath.console import Progress, print_table
    from rankmath.decide.bounds_for import bounds_for
    from rankmath.files import read
    from rankmath.model.files import load
    from rankmath.validation import InvalidArgument

    net = load(path, "--network")
    if tokens is None:
        X = net.random_input(seed, tokens=None if net.tokens is not None else 16)
    else:
        try:
            X = np.load(io.BytesIO(read(tokens, "--input")), allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise InvalidArgument(f"--input: {tokens!r} given; it is no .npy file ({error})") from None
    with Progress(len(keys) or len(statements()), "statements", quiet=as_json) as progress:
        found = bounds_for(net, X, keys, progress=progress.step)
    if plot is not None:
        from rankmath.drawing import pyplot
        from rankmath.report.plots import save_figure

        plt = pyplot(screen=False)
        figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
        found.plot(axes)
        save_figure(figure, plot)
        plt.close(figure)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=1))
        return
    rows = sorted(found.rows(), key=lambda row: row[6] != "")
    print_table(found.COLUMNS, rows, left=("key", "known"), optional=("log lhs", "log rhs", "layers"), wrapped="needs")
    click.echo(f"{len(found.applicable)} of {len(found.applied)} statements apply; logarithms are natural")
    if plot is not None:
        click.echo(f"plot: {plot}")


#: What --set reads: decimals and fractions of a sane length, so that 1e999999999 is refused, not computed.
_NUMBER = re.compile(r"-?\d{1,60}(?:\.\d{1,60})?(?:[eE][+-]?\d{1,3})?|-?\d{1,60}/\d{1,60}")


def _derived(found: Bound, as_latex: bool, as_json: bool) -> None:
    """The steps of the derivation, as text, LaTeX or plain data."""
    proof = found.derivation
    if as_json:
        steps = [] if proof is None else [{"text": str(step), "latex": step.latex()} for step in proof.steps]
        click.echo(json.dumps({"key": found.key, "expression": str(found.expression), "steps": steps}, indent=1))
    elif proof is None:
        click.echo(f"{found.key}: {found.expression}: nothing follows from it by calculation alone")
    else:
        click.echo(proof.latex() if as_latex else f"{found.key}: {found.expression}\n{proof}")


def _setting(text: str) -> tuple[str, list[Number]]:
    """NAME=NUMBER, or NAME=NUMBER,NUMBER,… for one number a head; numbers are taken exactly."""
    from rankmath.validation import InvalidArgument

    name, equals, listed = text.partition("=")
    numbers = listed.split(",")
    if not name or not equals or not all(_NUMBER.fullmatch(part) for part in numbers):
        raise InvalidArgument(f"--set: {text!r} given; NAME=NUMBER is needed, such as L=6, c=0.1, q=1/3 or W=1,2")
    if any(re.fullmatch(r".*/0+", part) for part in numbers):
        raise InvalidArgument(f"--set: {text!r} given; a fraction needs a denominator that is not 0")
    fractions = [Fraction(part) for part in numbers]
    return name, [int(x) if x.denominator == 1 else x for x in fractions]
