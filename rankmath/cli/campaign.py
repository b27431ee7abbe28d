"""`rankmath campaign …`. Exit code 1 also if a chunk failed, 2 also for a ledger that cannot be used."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from rankmath.cli.app import App, as_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankmath.console import Cell
    from rankmath.decide.campaigns.ledger import Row, Standing
    from rankmath.validation import Json


@click.group(cls=App)
def campaign() -> None:
    """Millions of instances, with a ledger that survives a crash.

    On many processes or a Dask cluster.

    Example: rankmath campaign run diameter.toml
    """


@campaign.command("run")
@click.argument("file", metavar="FILE.toml", type=click.Path())
@click.option("--ledger", type=click.Path(), help="Instead of the plan's; FILE.db if neither names one.")
@click.option("--resume", is_flag=True, help="Go on with a ledger that holds chunks already.")
@click.option("--workers", type=int, help="Processes; 0 runs in this one.")
@click.option("--seconds", type=float, help="Start no chunk after so many seconds.")
@click.option("--dask", metavar="ADDRESS", help="Run on the workers of this scheduler, such as tcp://10.0.0.1:8786.")
@as_json
@click.option("--quiet", is_flag=True, help="No progress.")
def run_(
    file: str,
    ledger: str | None,
    resume: bool,
    workers: int | None,
    seconds: float | None,
    dask: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run a campaign; what is recorded is skipped with --resume.

    Ctrl-C ends it; chunks at hand are lost, and run again with --resume.

    Example: rankmath campaign run diameter.toml --workers 8 --resume
    """
    from rankmath.decide.campaigns.progress import Watcher
    from rankmath.decide.campaigns.run import campaign as run_campaign

    try:
        with Watcher(quiet=quiet) as watch:
            summary = run_campaign(
                file, ledger=ledger, resume=resume, workers=workers, seconds=seconds, dask=dask, watch=watch
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("what is recorded is kept, go on with --resume") from None
    counted = ("outcome", "recorded", "failed", "seconds", "versions")
    content = {"ledger": str(summary.ledger), **{name: getattr(summary, name) for name in counted}}
    if as_json:
        click.echo(json.dumps({**content, "statements": [_plain(s, None) for s in summary.standings]}, indent=1))
    else:
        _print_standings(summary.standings, {})
        click.echo(f"{summary.outcome}: {summary.recorded} chunks in {summary.seconds:.1f} s, ledger {summary.ledger}")
        if summary.versions > 1:
            click.echo(f"note: {summary.versions} different versions have computed chunks of this ledger; see status")
        if summary.failed:
            click.echo(f"{summary.failed} chunks failed: rankmath campaign show {summary.ledger} --failures")
    sys.exit(0 if summary.as_registered and not summary.failed else 1)


@campaign.command()
@click.argument("ledger", type=click.Path())
@as_json
def status(ledger: str, as_json: bool) -> None:
    """How far a campaign is, and what it has shown.

    Example: rankmath campaign status diameter.db
    """
    from rankmath.decide.campaigns.export import plain
    from rankmath.decide.campaigns.ledger import Ledger

    with Ledger.read(ledger) as book:
        standings, planned = book.standings(), book.planned()
        runs = [plain(row) for row in book.rows("runs")]
    if as_json:
        parts = [_plain(standing, planned.get(standing.statement)) for standing in standings]
        click.echo(json.dumps({"ledger": ledger, "statements": parts, "runs": runs}, indent=1))
        return
    _print_standings(standings, planned)
    for row in runs:
        ended = "has not ended" if row["ended"] is None else f"{row['outcome']} at {row['ended']}"
        about = row["versions"]
        versions = f"rankmath {about['rankmath']}, source {about['source']}, numpy {about['numpy']}"
        who = f"{row['user']}@{row['host']}"
        click.echo(f"run {row['run']}: began {row['began']} by {who} ({versions}), {ended}")


@campaign.command()
@click.argument("ledger", type=click.Path())
@click.argument("key", required=False)
@click.option("--why", help="certified, violated, undecided, tightest or extremal.")
@click.option("--limit", type=int, default=20, help="At most so many instances.")
@click.option("--failures", is_flag=True, help="Chunks that failed, with their tracebacks, instead of instances.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output, with the instances' exact data.")
def show(ledger: str, key: str | None, why: str | None, limit: int, failures: bool, as_json: bool) -> None:
    """The instances kept whole, tightest first: certified, violated, undecided, and the tightest of every chunk.

    Example: rankmath campaign show diameter.db own:diameter --why violated --json
    """
    from rankmath.decide.campaigns.export import plain
    from rankmath.decide.campaigns.ledger import Ledger
    from rankmath.validation import InvalidArgument, as_choice, as_count

    limit = as_count("--limit", limit)
    if why is not None:
        as_choice("--why", why, ("certified", "violated", "undecided", "tightest", "extremal"))
    with Ledger.read(ledger) as book:
        keys = [standing.statement for standing in book.standings()]
        if key is not None and key not in keys:
            raise InvalidArgument(f"key: {key!r} given; the ledger holds {', '.join(keys)}")
        table = "failures" if failures else "records"
        rows = list(book.rows(table, key=key, why=None if failures else why, limit=limit))
    if as_json:
        click.echo(json.dumps([plain(row) for row in rows], indent=1))
    elif failures:
        for row in rows:
            click.echo(f"{_place(row)}: {row['error']} ({row['attempts']} attempts)")
            click.echo(row["traceback"])
    else:
        _print_records(rows)


@campaign.command()
@click.argument("ledger", type=click.Path())
@click.argument("output", metavar="FILE.csv|.json|.parquet", type=click.Path(dir_okay=False))
@click.option("--table", default="chunks", help="chunks, records, failures, provenance, runs, …")
@click.option("--key", help="Of this statement alone.")
def export(ledger: str, output: str, table: str, key: str | None) -> None:
    """A table of the ledger as CSV, JSON or (with pyarrow) Parquet.

    Example: rankmath campaign export diameter.db tightest.csv --table records
    """
    from rankmath.decide.campaigns.export import export as write
    from rankmath.decide.campaigns.ledger import Ledger

    with Ledger.read(ledger) as book:
        count = write(book, output, table, key)
    click.echo(f"{count} rows: {output}")


def _plain(standing: Standing, planned: int | None) -> dict[str, Json]:
    from rankmath.decide.campaigns.chunks import HISTOGRAM_EDGES

    about = {"outcome": standing.outcome, "as_registered": standing.as_registered, "planned": planned}
    ratio = {"tightest": standing.tightest, "histogram_edges_log10": HISTOGRAM_EDGES}
    return {**vars(standing), **about, **ratio}


def _print_standings(standings: Sequence[Standing], planned: dict[str, int]) -> None:
    from rankmath.console import print_table
    from rankmath.printing import quotient

    numbers = ("instances", "held on", "violated", "undecided", "n/a", "certified", "held: lhs/rhs ≤", "failed")
    rows: list[tuple[Cell, ...]] = []
    for s in standings:
        share = f" ({100 * s.instances / planned[s.statement]:.0f} %)" if planned.get(s.statement) else ""
        verdict = (s.outcome, "green" if s.as_registered else "bold red")
        counts = (s.holds, s.violated or "", s.undecided or "", s.not_applicable or "", s.certified)
        last = (quotient(s.log_tightest, up=True), str(s.failures or ""))
        rows.append((s.statement, verdict, s.status, f"{s.instances}{share}", *map(str, counts), *last))
    first = ("key", "verdict", "known")
    optional = ("held on", "held: lhs/rhs ≤", "known", "certified", "undecided", "n/a")
    print_table((*first, *numbers), rows, left=first, optional=optional)


def _print_records(rows: list[Row]) -> None:
    from rankmath.console import print_table

    columns = ("instance", "why", "verdict", "by", "log lhs", "log rhs", "kind")
    cells: list[list[Cell]] = []
    for row in rows:
        sides = ["" if row[name] is None else f"{row[name]:.17g}" for name in ("log_lhs", "log_rhs")]
        note = f"{row['label']}{': ' if row['reason'] else ''}{row['reason']}"
        place = f"{_place(row)}/{row['position']}"
        cells.append([place, row["why"], row["outcome"], row["arithmetic"], *sides, note])
    words = ("instance", "why", "verdict", "by")
    print_table(columns, cells, left=words, optional=("why", "log rhs", "log lhs", "by"), wrapped="kind")


def _place(row: Row) -> str:
    return f"{row['statement']} {row['seed']}/{row['chunk']}"
