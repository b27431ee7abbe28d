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
    import textwrap

    from rankmath.definitions.hypotheses import ALIASES, MASKS, SWITCHES
    from rankmath.formula.language import ARRAYS, FUNCTIONS, LETTERS

    of_any_claim = [*FUNCTIONS]
    from rankmath.claims.own_flows import FLOW  # its file has speed and growth, and others for its own statements

    functions = {
        f"{entry.name}({', '.join(p.name for p in entry.parameters) if not entry.variadic else '…'})": entry
        for entry in (FUNCTIONS[name] for name in (*of_any_claim, "speed", "growth"))
    }
    if as_json:
        plain = {
            name: {"meaning": e.meaning, "example": e.example, "value": e.value, **_attributes(e.name)}
            for name, e in functions.items()
        }
        click.echo(json.dumps({"letters": LETTERS, "switches": SWITCHES, "functions": plain}, indent=1))
        return
    rows = [(name, meaning, _LETTERS.get(name, f"{name} >= 1")) for name, meaning in LETTERS.items()]
    other = {letter: f" (or {alias})" for alias, letter in ALIASES.items()}
    rows = [(f"{name}{other.get(name, '')}", meaning, example) for name, meaning, example in rows]
    rows += [
        (f"{name}[{', '.join('lh'[:k])}]", _ARRAYS[name], f"norm({name}[{', '.join('00'[:k])}], max) <= 1")
        for name, k in ARRAYS.items()
    ]
    numbered = [f"{name}(k)" for name, (seen, _) in MASKS.items() if "k" in seen]
    rows += [
        (
            name,
            f"a switch, for hypotheses: {', '.join([*words, *(numbered if name == 'mask' else ())])}",
            f"{name} == {[*words][-1]}",
        )
        for name, words in SWITCHES.items()
    ]
    of_networks, of_flows, of_arrays = (list[tuple[str, str, str]]() for _ in range(3))
    for name, entry in functions.items():
        kinds = {parameter.kind for parameter in entry.parameters}
        names = [parameter.name for parameter in entry.parameters]
        place = of_networks if "array" not in kinds else of_flows if names == [*FLOW] else of_arrays
        place.append((name, entry.meaning, entry.example))
    for heading, listed in (
        ("A claim is about all networks; with `exists` in front it is about some network.", rows + of_networks),
        ("A claim with one of the following is about all flows of all tokens on the sphere.", of_flows),
        (
            "The following are of arrays: of V, B, G, X in claims about flows, and in Python of those declared.",
            of_arrays,
        ),
    ):
        click.echo(textwrap.fill(heading, 80))
        for name, meaning, example in listed:
            click.echo(name)
            for line in (meaning, f"example: {example}"):
                click.echo(textwrap.fill(line, 80, initial_indent="    ", subsequent_indent="    "))


def _attributes(name: str) -> dict[str, object]:
    """What the text of a quantity says of its sign and of how it scales with its first argument."""
    from rankmath.definitions.attributes import never_negative, scaling
    from rankmath.definitions.entries import ENTRIES

    if name not in ENTRIES or ENTRIES[name].truth:
        return {}
    degree = scaling(ENTRIES[name])
    return {"never_negative": never_negative(ENTRIES[name]), "degree": None if degree is None else str(degree)}


_LETTERS = {"n": "n == 3", "d": "d <= 2", "H": "heads == 1", "L": "layers == 2", "skip": "skip == 1"}
_LETTERS |= {"d_qk": "d_qk == 1", "x_star": "logit_range(P[0, 0]) <= x_star", "r": "r == 1", "K": "L <= r*K"}
_LETTERS |= {"in_degree": "epsilon(P[0, 0]) <= 1/in_degree"}
_ARRAYS = {
    "X": "tokens after l layers, X[0] the input, on the sphere with its tokens over their lengths",
    "W": "W_V W_O of layer l and head h",
    "W_QK": "W_Q W_K^T of layer l and head h",
    "P": "attention of layer l and head h",
    "P0": "the same at consensus: if all tokens that layer l reads were the first of them",
}
