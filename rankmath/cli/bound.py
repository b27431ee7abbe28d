"""`rankmath bound`."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from typing import Any

import click

from rankmath.cli.app import as_json, complete_keys
from rankmath.cli.trace import number


@click.command()
@click.argument("key", shell_complete=complete_keys)
@click.option(
    "--set", "given", multiple=True, metavar="NAME=NUMBER", help="A letter's value; numbers of heads by commas."
)
@click.option("--latex", "as_latex", is_flag=True, help="LaTeX instead of plain text.")
@as_json
def bound(key: str, given: tuple[str, ...], as_latex: bool, as_json: bool) -> None:
    """The bound of a statement: as text, LaTeX, or a number.

    A number once every letter has a value.

    Example: rankmath bound own:diameter --set L=6 --set diameter=0.1 --set omega=2 --set d_qk=16
    """
    import sympy

    from rankmath.claims import bound as bound_of
    from rankmath.validation import InvalidArgument

    found = bound_of(key)
    values = dict(_setting(text) for text in given)
    # A single number for a letter with one value a head is the case of one head.
    per_head = {quantity.name for quantity in found.quantities if quantity.per_head}
    arguments: dict[str, Any] = {}
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
        plain: dict[str, Any] = {"key": key, "side": found.side, "expression": str(expression), "latex": tex}
        plain |= {"symbols": dict(found.symbols), "hypothesis": found.hypothesis}
        plain |= {name: number(value) for name, value in numbers.items()}
        click.echo(json.dumps(plain, indent=1))
        return
    if as_latex:
        click.echo(tex)
        return
    click.echo(f"{key}, {'an upper' if found.side == 'upper' else 'a lower'} bound: {expression}")
    for name, meaning in found.symbols.items():
        value = f" = {', '.join(map(str, values[name]))}" if name in values else ""
        click.echo(f"  {name}{value}: {meaning}")
    click.echo(f"hypothesis: {found.hypothesis}")
    if complete:
        # A bound that shrinks doubly exponentially soon leaves the doubles; its logarithm stays.
        in_range = numbers["value"] != 0 and math.isfinite(numbers["value"])
        value = f"{numbers['value']:.12g} = " if in_range else ""
        click.echo(f"bound: {value}exp({numbers['log']:.15g})")


#: What --set reads: decimals and fractions of a sane length, so that 1e999999999 is refused, not computed.
_NUMBER = re.compile(r"-?\d{1,60}(?:\.\d{1,60})?(?:[eE][+-]?\d{1,3})?|-?\d{1,60}/\d{1,60}")


def _setting(text: str) -> tuple[str, list[Any]]:
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
