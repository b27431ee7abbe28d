"""`rankmath explore`."""

from __future__ import annotations

import click


@click.command()
@click.option("--export", type=click.Path(dir_okay=False), help="Write the page as one file, and serve nothing.")
@click.option("--port", type=int, default=0, help="0 takes any that is free.")
@click.option(
    "--output", type=click.Path(file_okay=False), default="rankmath-explore", help="Folder for the certificates."
)
@click.option("--browser/--no-browser", default=True, help="Open the page.")
def explore(export: str | None, port: int, output: str, browser: bool) -> None:
    """A page to play with: tokens on a circle or sphere, layer by layer.

    Drag two to eight tokens; choose mask, positions, weights, temperature, skip and LayerNorm; see equilibria,
    their basins and spectral radius, the residual and its bound. "Certify this" hands over a certificate. The page
    is served to this machine alone, under an address that nobody can guess; Ctrl-C ends it.

    Example: rankmath explore

    Example: rankmath explore --export explore.html
    """
    from rankmath.cli.page.page import page
    from rankmath.files import write

    if export is not None:
        click.echo(f"page: {write(export, page(), '--export')}")
        return
    from contextlib import closing

    from rankmath.cli.page.server import Explorer, server
    from rankmath.console import Progress
    from rankmath.validation import as_count

    ready, address = server(Explorer(output), as_count("--port", port, least=0, most=65535))
    click.echo(f"open {address}")
    click.echo("Ctrl-C ends it")
    if browser:
        import webbrowser

        webbrowser.open(address)
    with Progress(0, quiet=True), closing(ready):
        ready.run()
