"""What people type. Exit codes: 0 as expected, 1 a verdict differs, 2 bad input."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankmath.campaigns.commands import campaign, speaks_plainly
from rankmath.version import __version__

if TYPE_CHECKING:
    from rankmath.attention.backend import Backend


class Tidy(click.Group):
    """Lists commands in the order they are written here, and turns bad input into one line and exit code 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=Tidy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rankmath")
def main() -> None:
    """Decides whether a statement about attention and rank collapse is true, and hands over the proof."""


@main.command("list")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@speaks_plainly
def list_(as_json: bool) -> None:
    """The statements, with source and status.

    Example: rankmath list
    """
    from rankmath.claims.registry import statements

    entries = list(statements().values())
    if as_json:
        fields = ("key", "title", "claim", "source", "status", "truth")
        click.echo(json.dumps([{name: getattr(entry, name) for name in fields} for entry in entries], indent=1))
        return
    from rich.table import Table

    table = Table("key", "statement", "status", "shown in", box=None, header_style="bold")
    for entry in entries:
        table.add_row(entry.key, entry.title, entry.status, entry.truth)
    _console().print(table)


@main.command()
@click.argument("what", nargs=-1, metavar="[KEY|FILE.py]...")
@click.option(
    "--instances",
    type=int,
    default=400,
    show_default=True,
    help="Instances of each statement; fewer where each costs linear programs.",
)
@click.option("--certify", type=int, default=8, show_default=True, help="How many of them balls decide at least.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--thorough", is_flag=True, help="Ten times the instances, certificates and search.")
@click.option("--jobs", type=int, default=2, show_default=True, help="Worker processes.")
@click.option(
    "--backend",
    type=click.Choice(["numpy", "cupy"]),
    default="numpy",
    show_default=True,
    help="Where the float64 stage runs its layers; balls decide on the CPU as ever.",
)
@click.option("--output", type=click.Path(file_okay=False), default="rankmath-report", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON instead of the table.")
@speaks_plainly
def verify(
    what: tuple[str, ...],
    instances: int,
    certify: int,
    seed: int,
    thorough: bool,
    jobs: int,
    backend: Backend,
    output: str,
    as_json: bool,
) -> None:
    """The main job: verify statements (all, or the KEYs and FILEs named), and leave a report folder.

    Exit code 0 only if every verdict is the registered status.

    Example: rankmath verify own:diameter dong2021v1:2.2 --instances 1000
    """
    from rankmath.attention.backend import mover
    from rankmath.claims.registry import statement, statements, statements_in
    from rankmath.report.html import writable
    from rankmath.report.results import Report, Result, run
    from rankmath.validation import as_count

    factor = 10 if thorough else 1
    settings: dict[str, Any] = {
        "instances": as_count("--instances", instances) * factor,
        "certify": as_count("--certify", certify, least=0) * factor,
        "seed": as_count("--seed", seed, least=0),
        "search": 300 * factor,
        "jobs": as_count("--jobs", jobs, most=256),
        "backend": backend,
    }
    mover(backend)  # refused before anything runs
    entries: list[tuple[Any, str | None]] = []
    for name in what:
        if name.endswith(".py"):
            entries += [(entry, name) for entry in statements_in(name)]
        else:
            entries.append((statement(name), None))
    if not what:
        entries = [(entry, None) for entry in statements().values()]
    order = [entry.key for entry, _ in entries]
    writable(output)
    results: list[Result] = []
    with _progress(len(entries), quiet=as_json) as step:
        for result in run(entries, **settings):
            results.append(result)
            step(result.key)
    results.sort(key=lambda result: order.index(result.key))
    report = Report.of(results, settings)
    folder = report.save(output)
    notes = _write_page_and_appendix(folder, report, quiet=as_json)
    if as_json:
        click.echo((folder / "report.json").read_text(encoding="utf-8"))
    else:
        _print_results(results, [f"report: {folder}/report.json", *notes])
    sys.exit(0 if all(result.as_registered for result in results) else 1)


def _write_page_and_appendix(folder: Path, report: Any, *, quiet: bool) -> list[str]:
    """Both into the report's folder; what was written, or what is missing for it, in words."""
    from rankmath.report.appendix import appendix as assemble
    from rankmath.report.html import STEPS, write
    from rankmath.report.plots import NoMatplotlib
    from rankmath.report.subject import subject_of_run

    try:
        with _progress(STEPS, quiet=quiet) as step:
            written = write(subject_of_run(report, folder), folder, step)
    except NoMatplotlib as missing:
        return [f"no page and no figures: {missing}", f"appendix: {assemble(report).save(folder)}"]
    return [f"{name}: {written[name]}" for name in ("page", "figures", "appendix")]


def _print_results(results: list[Any], notes: list[str]) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for name in ("key", "verdict", "known", "held on", "certified", "lhs/rhs ≤", "undecided", "n/a", "seconds"):
        right = name in ("held on", "certified", "lhs/rhs ≤", "undecided", "n/a", "seconds")
        table.add_column(name, justify="right" if right else "left", no_wrap=name == "key")
    for r in results:
        colour = "green" if r.as_registered else "bold red"
        table.add_row(
            r.key,
            f"[{colour}]{r.outcome}[/]",
            r.status,
            str(r.holds),
            str(r.certified),
            _ratio(r.tightest) if r.ratios else "",
            str(r.undecided or ""),
            str(r.not_applicable or ""),
            f"{r.seconds:.1f}",
        )
    console = _console()
    console.print(table)
    for r in results:
        if r.outcome == "REFUTED":
            console.print(f"{r.key}: {r.sentence}")
        for name, factor in r.comparison.items():
            console.print(f"{r.key}: {name}: {factor:.3g} times")
    differing = [r.key for r in results if not r.as_registered]
    for note in notes:
        console.print(note, markup=False)
    console.print(
        f"[bold red]differs from what is registered: {', '.join(differing)}" if differing else "all as registered"
    )


def _ratio(value: float) -> str:
    """A tightness just below 1 must not be printed as 1."""
    if 0.999 < value < 1:
        return f"1 - {1 - value:.1e}"
    if value == 1:
        return "1 - 1e-16"  # balls see it below 1; as a double it is not
    return f"{value:.4g}"


@main.command()
@click.argument("what", metavar="LEDGER|RUN", type=click.Path())
@click.option(
    "--output",
    type=click.Path(),
    help="Folder to write to; the run's own, or LEDGER-report in the current folder, if none is named.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the paths written, machine-readable.")
@speaks_plainly
def report(what: str, output: str | None, as_json: bool) -> None:
    """A page to open, filter and show: of a campaign's ledger (.db), or of a run (its folder or report.json).

    Writes index.html, which needs no network; beside it data (CSV), certificates, figures (PDF, PNG) and
    appendix.tex. Certificates are checked on the way; exit code 1 if one is rejected or a verdict differs.

    Example: rankmath report rankmath-report

    Example: rankmath report diameter.db --output diameter-page
    """
    from rankmath.report.html import STEPS, write
    from rankmath.report.subject import subject

    with _progress(STEPS, quiet=as_json) as step:
        about = subject(what)
        given = Path(what)
        if output is None and about.kind == "ledger":
            output = f"{given.stem}-report"
        elif output is None:
            output = str(given if given.is_dir() else given.parent)
        written = write(about, output, step)
    if as_json:
        click.echo(json.dumps({name: str(path) for name, path in written.items()}, indent=1))
    else:
        for sentence in about.words:
            click.echo(sentence)
        for name, path in written.items():
            click.echo(f"{name}: {path}")
    sound = all(row.as_registered for row in about.rows) and all(c.accepted for c in about.checks)
    sys.exit(0 if sound else 1)


@main.command()
@click.option("--file", "path", type=click.Path(dir_okay=False), help="A network saved with Network.save (npz).")
@click.option("--tokens", type=int, default=16, show_default=True)
@click.option("--dim", type=int, default=8, show_default=True)
@click.option("--heads", type=int, default=1, show_default=True)
@click.option("--layers", type=int, default=8, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the network; the input has seed + 1.")
@click.option("--init", default="gaussian", show_default=True, help="gaussian, xavier or orthogonal.")
@click.option("--skip", type=float, default=0.0, show_default=True, help="λ of the skip connection.")
@click.option("--mlp", help="relu, tanh or gelu.")
@click.option("--norm", help="sphere, standard or column.")
@click.option("--mask", help="causal, window:1, …")
@click.option("--biases", is_flag=True)
@click.option("--residual", default="frobenius", show_default=True, help="frobenius, one, inf or composite.")
@click.option("--arithmetic", default="float64", show_default=True, help="float64, mpmath or balls.")
@click.option("--plot", type=click.Path(dir_okay=False), help="Write the decay as a picture (png, pdf, svg).")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@speaks_plainly
def trace(
    path: str | None,
    tokens: int,
    dim: int,
    heads: int,
    layers: int,
    seed: int,
    init: Any,
    skip: float,
    mlp: str | None,
    norm: str | None,
    mask: str | None,
    biases: bool,
    residual: Any,
    arithmetic: Any,
    plot: str | None,
    as_json: bool,
) -> None:
    """One network, depth by depth: log of the residual and the diameter, and the order of decay.

    Example: rankmath trace --tokens 32 --dim 16 --heads 4 --layers 10 --plot decay.png
    """
    from rankmath.dynamics.trace import trace as run_trace
    from rankmath.model.network import Network

    if path is None:
        options: Any = {"skip": skip, "mlp": mlp, "norm": norm, "mask": mask, "biases": biases}
        net = Network.random(tokens, dim, heads, layers, seed, init=init, **options)
    else:
        net = Network.load(path)
    count = tokens if net.tokens is None else None
    X = net.random_input(seed + 1, tokens=count)
    result = run_trace(net, X, residual, arithmetic=arithmetic)
    rows: list[dict[str, Any]] = [
        {
            "layer": l,
            "log_residual": _number(result.log_residual[l]),
            "log_log_residual": _number(result.log_log_residual[l]),
            "log_diameter": _number(result.log_diameter[l]),
            "order": None if l == 0 else _number(result.order[l - 1]),
        }
        for l in range(net.layers + 1)
    ]
    if arithmetic == "balls":
        for row in rows:
            row["log_residual_lower"] = _number(result.log_residual_lower[row["layer"]])
            row["log_residual_upper"] = _number(result.log_residual_upper[row["layer"]])
    if plot is not None:
        from rankmath.report.plots import plot_decay

        plot_decay(result, plot)
    if as_json:
        click.echo(json.dumps({"norm": result.norm, "arithmetic": arithmetic, "layers": rows}, indent=1))
        return
    from rich.table import Table

    table = Table(*rows[0], box=None, header_style="bold")
    for row in rows:
        table.add_row(*("" if value is None else f"{value:.12g}" for value in row.values()))
    _console().print(table)
    if plot is not None:
        _console().print(f"plot: {plot}")


def _number(x: Any) -> float | None:
    """JSON knows no infinities: None stands for what is not a finite double."""
    value = float(x)
    return value if math.isfinite(value) else None


@main.command()
@click.argument("key")
@click.option(
    "--set", "given", multiple=True, metavar="NAME=NUMBER", help="A letter's value; numbers of heads by commas."
)
@click.option("--latex", "as_latex", is_flag=True, help="LaTeX instead of plain text.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@speaks_plainly
def bound(key: str, given: tuple[str, ...], as_latex: bool, as_json: bool) -> None:
    """The bound of a statement: as text, as LaTeX, or as a number once every letter has a value.

    Example: rankmath bound own:diameter --set L=6 --set diameter=0.1 --set weights=2 --set d_qk=16
    """
    import sympy

    from rankmath.symbolic.bounds import bound as bound_of
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
        plain |= {name: _number(value) for name, value in numbers.items()}
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


@main.command()
@click.argument("what", metavar="KEY|layernorm")
@click.option("--tokens", type=int, help="layernorm: number of tokens.")
@click.option("--dim", type=int, help="layernorm: dimension of a token.")
@click.option("--rank", type=int, help="layernorm: rank of the equilibrium.")
@click.option("--mask", help="layernorm: causal (default), complete, window:1, …")
@click.option("--stable", is_flag=True, help="layernorm: an equilibrium that attracts, proved.")
@click.option("--norm", help="layernorm: sphere (default) or standard.")
@click.option("--seed", type=int, help="layernorm: of the random design or search; 0 by default.")
@click.option("--plot", is_flag=True, help="layernorm: a picture as well, with its numbers as CSV.")
@click.option(
    "--output", type=click.Path(file_okay=False), default=".", show_default=True, help="Folder for the file."
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@speaks_plainly
def counterexample(
    what: str,
    tokens: int | None,
    dim: int | None,
    rank: int | None,
    mask: str | None,
    stable: bool,
    norm: str | None,
    seed: int | None,
    plot: bool,
    output: str,
    as_json: bool,
) -> None:
    """A counterexample with its proof: to a refuted statement, or to collapse under LayerNorm.

    Its certificate as a file, what the checker finds in it, and its data as LaTeX. Exit code 1 if not all that was
    asked for is proved.

    Example: rankmath counterexample dong2021v1:2.2

    Example: rankmath counterexample layernorm --tokens 2 --dim 2 --rank 2 --mask complete --stable --plot
    """
    from rankmath.report.counterexamples import equilibrium_shown, refutation_shown
    from rankmath.validation import InvalidArgument

    options = {"--tokens": tokens, "--dim": dim, "--rank": rank, "--mask": mask, "--stable": stable or None}
    options |= {"--norm": norm, "--seed": seed, "--plot": plot or None}
    if what == "layernorm":
        for name in ("--tokens", "--dim", "--rank"):
            if options[name] is None:
                raise InvalidArgument(f"{name}: not given; layernorm needs --tokens, --dim and --rank")
        shown = equilibrium_shown(
            tokens,
            dim,
            rank,
            output,
            mask=mask or "causal",
            stable=stable,
            norm=norm or "sphere",
            seed=seed or 0,
            plot=plot,
        )
    else:
        for name, value in options.items():
            if value is not None:
                raise InvalidArgument(f"{name}: {value} given; it belongs to layernorm, not to a statement")
        shown = refutation_shown(what, output)
    if as_json:
        click.echo(json.dumps(shown.plain(), indent=1))
    else:
        click.echo(shown.text())
    sys.exit(0 if shown.proved else 1)


@main.command()
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@speaks_plainly
def check(files: tuple[str, ...], as_json: bool) -> None:
    """The independent checker: accept or reject certificates, and say in words what was checked.

    Exit code 1 if one is rejected.

    Example: rankmath check proofs/certificates/*.json
    """
    from rankmath.checker.checker import check as run_check

    outcomes = [(name, run_check(name)) for name in files]
    if as_json:
        rows = [
            {"file": name, "accepted": r.accepted, "reason": r.reason, "id": r.id, "checked": list(r.checked)}
            for name, r in outcomes
        ]
        click.echo(json.dumps(rows, indent=1))
    else:
        for name, result in outcomes:
            click.echo(f"{name}: {'accepted' if result.accepted else 'REJECTED'} {result.id or ''}".rstrip())
            for line in result.checked:
                click.echo(f"  {line}")
            if not result.accepted:
                click.echo(f"  {result.reason}")
    sys.exit(0 if all(result.accepted for _, result in outcomes) else 1)


@main.command()
@click.argument("what", metavar="KEY|CERTIFICATE")
@click.option("--format", "format_", default="latex", show_default=True, help="latex, bibtex or markdown.")
@click.option("--json", "as_json", is_flag=True, help="All three formats, machine-readable.")
@speaks_plainly
def cite(what: str, format_: str, as_json: bool) -> None:
    """How to cite a statement or a certificate: the claim, what is known of it, ids, and BibTeX of the sources.

    Example: rankmath cite own:diameter --format bibtex
    """
    from rankmath.report.cite import FORMATS, citation

    found = citation(what)
    if as_json:
        click.echo(json.dumps({name: found.text(name) for name in FORMATS}, indent=1))
    else:
        click.echo(found.text(format_))


@main.command()
@click.option(
    "--output", type=click.Path(file_okay=False), default=".", show_default=True, help="Folder to write to."
)
@click.option(
    "--report",
    "report_path",
    type=click.Path(),
    help="report.json of `rankmath verify`, for what is measured; its figures are taken along.",
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@speaks_plainly
def appendix(output: str, report_path: str | None, as_json: bool) -> None:
    """The LaTeX appendix: statements, proofs, refutations, certificates; with --report also what was measured.

    Writes appendix.tex and references.bib; pdflatex, bibtex, pdflatex, pdflatex makes the PDF.

    Example: rankmath appendix --output paper --report rankmath-report/report.json
    """
    from rankmath.report.appendix import appendix as assemble
    from rankmath.report.results import Report

    report = None if report_path is None else Report.load(report_path)
    plots = None if report_path is None else Path(report_path).parent / "figures"
    path = assemble(report, plots=plots).save(output)
    if as_json:
        click.echo(json.dumps({"appendix": str(path), "bibliography": str(path.with_name("references.bib"))}))
        return
    click.echo(f"appendix: {path}")
    if report is None:
        click.echo("nothing measured is in it: run `rankmath verify` and pass --report rankmath-report/report.json")


def _console() -> Any:
    from rich.console import Console

    # A pipe gets full lines, not the width of a terminal that is not there.
    return Console(emoji=False) if sys.stdout.isatty() else Console(width=160, emoji=False)


class _progress:
    """A bar on a terminal, nothing elsewhere."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        self.total, self.quiet = total, quiet or not sys.stderr.isatty()
        self.bar: Any = None

    def __enter__(self) -> Callable[[str], None]:
        if self.quiet:
            return lambda name: None
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.bar.start()
        task = self.bar.add_task("", total=self.total)
        return lambda name: self.bar.update(task, advance=1, description=name)

    def __exit__(self, *exception: object) -> None:
        if self.bar is not None:
            self.bar.stop()


main.add_command(campaign)
