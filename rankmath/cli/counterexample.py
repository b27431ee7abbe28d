"""`rankmath counterexample`."""

from __future__ import annotations

import difflib
import json
import sys
from typing import TYPE_CHECKING

import click

from rankmath.cli.app import as_json, complete_keys

if TYPE_CHECKING:
    from rankmath.certificates.certificate import Certificate
    from rankmath.report.counterexamples import Shown


@click.command()
@click.argument("what", metavar="KEY|layernorm", shell_complete=complete_keys)
@click.option("--tokens", type=int, help="layernorm: number of tokens.")
@click.option("--dim", type=int, help="layernorm: dimension of a token.")
@click.option("--rank", type=int, help="layernorm: rank of the equilibrium, from 2 on.")
@click.option("--mask", help="layernorm: causal (default), complete, window:1, …")
@click.option("--stable", is_flag=True, help="layernorm: an equilibrium that attracts, proved.")
@click.option("--rotary", is_flag=True, help="layernorm: with rotary positions; it attracts, and dim is the rank.")
@click.option("--norm", help="layernorm: sphere (default) or standard.")
@click.option("--seed", type=int, help="layernorm: of the random design or search; 0 by default.")
@click.option("--plot", is_flag=True, help="layernorm: a picture as well, with its numbers as CSV.")
@click.option("--output", type=click.Path(file_okay=False), default=".", help="Folder for the file.")
@as_json
def counterexample(
    what: str,
    tokens: int | None,
    dim: int | None,
    rank: int | None,
    mask: str | None,
    stable: bool,
    rotary: bool,
    norm: str | None,
    seed: int | None,
    plot: bool,
    output: str,
    as_json: bool,
) -> None:
    """A counterexample with its proof.

    To most refuted statements, or to collapse under LayerNorm: its certificate as a file, what the checker finds in it,
    and its data as LaTeX. Exit code 1 if not all that was asked for is proved.

    Example: rankmath counterexample dong2021v1:2.2

    Example: rankmath counterexample layernorm --tokens 2 --dim 2 --rank 2 --mask complete --stable --plot

    Example: rankmath counterexample layernorm --tokens 3 --dim 2 --rank 2 --rotary
    """
    from rankmath.drawing import need_matplotlib
    from rankmath.equilibria.wu2024 import LARGEST
    from rankmath.files import folder
    from rankmath.linalg.masks import as_mask
    from rankmath.report.counterexamples import refutation_shown
    from rankmath.validation import InvalidArgument, as_count

    options = {"--tokens": tokens, "--dim": dim, "--rank": rank, "--mask": mask, "--stable": stable or None}
    options |= {"--norm": norm, "--seed": seed, "--plot": plot or None, "--rotary": rotary or None}
    if what == "layernorm":
        if tokens is None or dim is None or rank is None:
            name = next(name for name in ("--tokens", "--dim", "--rank") if options[name] is None)
            raise InvalidArgument(f"{name}: not given; layernorm needs --tokens, --dim and --rank")
        # One token cannot collapse, and numbers have only signs for directions.
        n, d = (as_count(name, size, least=2, most=LARGEST) for name, size in (("--tokens", tokens), ("--dim", dim)))
        sizes = (n, d, as_count("--rank", rank, least=2))  # rank 1 is the collapse
        for name in ("--norm", "--seed", "--plot") if rotary else ():
            if options[name] is not None:
                raise InvalidArgument(f"{name}: {options[name]} given with --rotary, which does not take it")
        if rotary and d != rank:
            raise InvalidArgument(f"--dim: {d} given with --rotary and --rank {rank}; both must agree")
        if as_mask(mask or "causal", n).allowed.sum() == n:  # every token sees one, as a mask makes it
            raise InvalidArgument(f"--mask: {mask!r} given; a token that sees another is needed")
        folder(output, "--output")  # before any work
        if plot:
            need_matplotlib()
        if rotary:
            shown = _turned(n, rank, mask or "causal", output)
        else:
            shown = _equilibrium(sizes, mask or "causal", norm or "sphere", seed or 0, output, stable=stable, plot=plot)
    else:
        for name, value in options.items():
            if value is not None:
                told = "" if value is True else f"{value} "
                raise InvalidArgument(f"{name}: {told}given; it belongs to layernorm, not to a statement")
        exhibit = _exhibit(what)
        shown = refutation_shown(what, exhibit, folder(output, "--output"))
    if as_json:
        click.echo(json.dumps(shown.plain(), indent=1))
    else:
        click.echo(shown.text())
    sys.exit(0 if shown.proved else 1)


def _exhibit(key: str) -> Certificate:
    """The certificate that refutes the statement, or shows what it says exists."""
    from rankmath.claims import current, statement, statements
    from rankmath.report.sources import committed_certificates
    from rankmath.validation import InvalidArgument

    violating = [k for k, stored in committed_certificates().items() if any(one.kind == "violates" for one in stored)]
    key = current(key)
    known = [name for name, entry in statements().items() if entry.exhibit is not None or name in violating]
    if key not in statements() and (near := difflib.get_close_matches(key, ["layernorm", *known], 3)):
        raise InvalidArgument(f"key: {key!r} given; did you mean {' or '.join(map(repr, near))}?")
    entry = statement(key)
    if entry.exhibit is None:
        if stored := [one for one in committed_certificates().get(key, ()) if one.kind == "violates"]:
            return stored[0]
        shows = "has no counterexample" if entry.status == "proved" else "is refuted by a proof, and by no certificate"
        refuted, examples = (
            ", ".join(name for name in known if (statements()[name].status == "refuted") is wanted)
            for wanted in (True, False)
        )
        raise InvalidArgument(
            f"key: {key!r} given; it {shows}: {entry.truth}. There is one for {refuted}; an example for the proved "
            f"{examples}"
        )
    return entry.exhibited()


def _equilibrium(
    sizes: tuple[int, int, int], mask: str, norm: str, seed: int, folder: str, *, stable: bool, plot: bool
) -> Shown:
    """Construct it and prove it; a search that finds none is told, and no error."""
    from rankmath.equilibria import constructions
    from rankmath.equilibria.portraits import portrait_data
    from rankmath.report.counterexamples import Shown, equilibrium_shown

    tokens, dim, rank = sizes
    what = f"LayerNorm equilibrium, {tokens} tokens in dimension {dim}, rank {rank}, {mask} mask, norm {norm}"
    try:
        found = constructions.layernorm_equilibrium(*sizes, mask=mask, stable=stable, norm=norm, seed=seed)
    except RuntimeError as not_found:
        return Shown(what, (str(not_found),), False, "")
    proof = found.certify(stable=True if stable else None)
    portrait = None
    if plot and proof.proved:
        balls = [proof.attraction.ball] if proof.attraction else [proof.contraction.radius] if proof.contraction else []
        portrait = portrait_data(found, ball=float(balls[0]) if balls else None)
    return equilibrium_shown(what, found, proof, folder, portrait)


def _turned(tokens: int, rank: int, mask: str, folder: str) -> Shown:
    """An attracting equilibrium of a block with rotary positions."""
    from rankmath.equilibria.blocks import rotary_equilibrium
    from rankmath.report.counterexamples import refutation_shown

    block, X = rotary_equilibrium(tokens, rank, mask)
    what = f"LayerNorm equilibrium, {tokens} tokens in dimension {rank}, rank {rank}, {mask} mask, rotary positions"
    return refutation_shown(what, block.certificate(X), folder)
