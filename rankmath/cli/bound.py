"""`rankmath bound`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
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

    As text, as LaTeX, or as a number once every letter has a value; a value is held to the hypotheses on its letter
    alone. With --network every statement (or those named,
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
    from rankmath.claims import statement

    if len(keys) + (claim is not None) != 1:
        raise InvalidArgument(f"KEY: {len(keys) or 'none'} given; one is needed, or --claim, or --network FILE")
    if claim is None:
        (key,) = keys
        entry = statement(key)
        bounds = (statement(entry.closed) if entry.closed else entry).bounds()
    else:
        from rankmath.verification.statement import Statement

        key, bounds = "mine:claim", Statement("mine:claim", claim).bounds()
    if derive:
        _derived(bounds, as_latex, as_json)
        return
    values = dict(_setting(text) for text in given)
    letters = {name for found in bounds for name in found.symbols}
    if unknown := [name for name in values if name not in letters]:
        known = ", ".join(dict.fromkeys(name for found in bounds for name in found.symbols))
        raise InvalidArgument(f"--set: {unknown[0]} given; the letters of {key} are {known}")
    shown = [_Shown(found, values) for found in bounds]
    if as_json:
        plain, *more = (each.plain(key) for each in shown)
        click.echo(json.dumps({**plain, "further": more} if more else plain, indent=1))
        return
    if as_latex:  # one formula of several bounds, which are no product
        click.echo("\n\\quad\\text{and}\\quad\n".join(each.tex for each in shown))
        return
    for each in shown:
        closed = "" if each.bound.key == key else f" (a closed form that is not less, {each.bound.key})"
        click.echo("\n".join(each.lines(f"{key}, {each.bound.claimed}{closed}")))


class _Shown:
    """A bound with the values given for some of its letters."""

    def __init__(self, found: Bound, values: dict[str, list[Number]]) -> None:
        import mpmath

        self.bound, self.values = found, {name: values[name] for name in found.symbols if name in values}
        # A single number for a letter with one value a head is the case of one head.
        per_head = {quantity.name for quantity in found.quantities if quantity.per_head}
        given: dict[str, Number] = {
            name: listed if name in per_head or len(listed) > 1 else listed[0] for name, listed in self.values.items()
        }
        self.numbers: dict[str, Number] = {}
        #: The bound where its logarithm leaves the doubles.
        self.beyond = ""
        complete = set(found.symbols) <= set(given)
        if complete:
            self.numbers["value"] = found.evaluate(log=False, **given)
            self.numbers["log"] = found.evaluate(**given) if self.numbers["value"] >= 0 else math.nan
            log = found.evaluate(arithmetic="mpmath", **given) if math.isinf(self.numbers["log"]) else math.inf
            if mpmath.isfinite(log):
                self.beyond = f"exp({mpmath.nstr(log, 15)})"
        self.expression = found.subs(**given) if given and not complete else found.expression
        self.tex = found.latex_of(self.expression)

    def plain(self, key: str) -> dict[str, Json]:
        """As plain data, under the key that was asked for."""
        about = self.bound.to_dict() | {"key": key, "expression": str(self.expression), "latex": self.tex}
        numbers = {name: number(value) for name, value in self.numbers.items()}
        return about | numbers | ({"beyond": self.beyond} if self.beyond else {})

    def lines(self, first: str) -> Iterator[str]:
        """In words; `first` says of what it is a bound."""
        import sympy

        shown = str(self.expression)
        if len(shown) > _MOST_DIGITS:
            shown = f"{sympy.N(self.expression, 6)} (six digits; --json has all {len(shown)} characters)"
        yield f"{first}: {shown}"
        for name, meaning in self.bound.symbols.items():
            value = f" = {', '.join(map(str, self.values[name]))}" if name in self.values else ""
            yield f"  {name}{value}: {meaning}"
        if self.bound.exponents:
            yield "  p: 1, 2 or inf, the same wherever it stands"
        yield f"hypothesis: {self.bound.hypothesis}"
        if self.numbers:
            # A bound that shrinks doubly exponentially soon leaves the doubles; its logarithm stays.
            value, log = self.numbers["value"], self.numbers["log"]
            in_range = value != 0 and math.isfinite(value)
            told = [f"{value:.12g}"] * in_range + [f"exp({log:.15g})"] * math.isfinite(log)
            yield f"bound: {self.beyond or ' = '.join(told) or f'{value:g}'}"


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
    rows = sorted(found.rows(), key=lambda row: row[7] != "")
    print_table(found.COLUMNS, rows, left=("key", "known"), optional=("log lhs", "log rhs", "layers"), wrapped="needs")
    click.echo(f"{len(found.applicable)} of {len(found.applied)} statements apply; logarithms are natural")
    if plot is not None:
        click.echo(f"plot: {plot}")


#: What --set reads: decimals and fractions of a sane length, so that 1e999999999 is refused, not computed.
_NUMBER = re.compile(r"-?\d{1,60}(?:\.\d{1,60})?(?:[eE][+-]?\d{1,3})?|-?\d{1,60}/\d{1,60}")


def _derived(bounds: Sequence[Bound], as_latex: bool, as_json: bool) -> None:
    """The steps of the derivations, as text, LaTeX or plain data."""
    proofs = [found.derivation for found in bounds]
    if as_json:
        shown: list[dict[str, Json]] = []
        for found, proof in zip(bounds, proofs, strict=True):
            steps: list[Json] = (
                [] if proof is None else [{"text": str(step), "latex": step.latex(found.names)} for step in proof.steps]
            )
            shown.append(found.to_dict() | {"steps": steps})
        first, *more = shown
        click.echo(json.dumps({**first, "further": more} if more else first, indent=1))
        return
    for found, proof in zip(bounds, proofs, strict=True):
        what = f"{found.key}, {found.claimed}: {found.expression}"
        if as_latex:
            click.echo(f"% {what}: no step is derived from it here" if proof is None else proof.latex(found.names))
        else:
            click.echo(f"{what}: no step is derived from it here" if proof is None else f"{what}\n{proof}")


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
