"""`rankmath quantities`."""

from __future__ import annotations

import json

import click

from rankmath.cli.app import as_json


@click.command()
@as_json
def quantities(as_json: bool) -> None:
    """The language of claims: letters, switches, functions and quantities, with an example each.

    Example: rankmath quantities
    """
    from rankmath.console import print_table
    from rankmath.formula.arrays import ArrayRun  # noqa: F401  (registers what the language has)
    from rankmath.formula.language import ALIASES, ARRAYS, FUNCTIONS, LETTERS, SWITCHES
    from rankmath.formula.quantities import diameter  # noqa: F401

    functions = {
        f"{entry.name}({', '.join(p.name for p in entry.parameters) if not entry.variadic else '…'})": entry
        for entry in FUNCTIONS.values()
    }
    if as_json:
        plain = {
            name: {"meaning": e.meaning, "example": e.example, "value": e.value} for name, e in functions.items()
        }
        click.echo(json.dumps({"letters": LETTERS, "switches": SWITCHES, "functions": plain}, indent=1))
        return
    other = {letter: alias for alias, letter in ALIASES.items()}
    columns = ("what", "meaning", "example")
    rows = [(name, meaning, f"{other.get(name, name)} >= 1") for name, meaning in LETTERS.items()]
    rows += [
        (f"{name}[{', '.join('lh'[:k])}]", _ARRAYS[name], f"norm({name}[{', '.join('00'[:k])}], max) >= 0")
        for name, k in ARRAYS.items()
    ]
    rows += [
        (name, f"a switch, for hypotheses: {', '.join(words)}", f"{name} == {next(iter(words))}")
        for name, words in SWITCHES.items()
    ]
    rows += [(name, entry.meaning, entry.example) for name, entry in functions.items()]
    print_table(columns, rows, left=columns, optional=("example",), wrapped="meaning")


_ARRAYS = {
    "X": "tokens after l layers, X[0] the input",
    "W": "W_V W_O of layer l and head h",
    "W_QK": "W_Q W_K^T of layer l and head h",
    "P": "attention of layer l and head h",
    "P0": "the same at consensus: if all tokens that layer l reads were the first of them",
}
