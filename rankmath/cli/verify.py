"""`rankmath verify`."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankmath.cli.app import complete_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankmath.attention.backend import Backend
    from rankmath.console import Progress
    from rankmath.decide.campaigns.in_memory import Result
    from rankmath.decide.campaigns.work import Work
    from rankmath.report.results import Report
    from rankmath.validation import Json
    from rankmath.verification.statement import Statement


#: The share of the time that figures, page and appendix take after the last verdict.
_WRITING = 0.1
#: At most so many numbers of a counterexample are printed.
_FEW = 60


@click.command()
@click.argument("what", nargs=-1, metavar="[KEY|PATTERN|FILE]...", shell_complete=complete_keys)
@click.option(
    "--instances",
    type=int,
    default=400,
    help="Instances drawn of each statement, fewer of one whose instances are costly; near-extremal and searched "
    "ones come on top.",
)
@click.option("--certify", type=int, default=8, help="How many of them balls decide at least.")
@click.option("--seed", type=int, default=0)
@click.option("--thorough", is_flag=True, help="Ten times the instances, certificates and search.")
@click.option("--jobs", type=int, default=2, help="Worker processes.")
@click.option(
    "--backend",
    type=click.Choice(["numpy", "cupy"]),
    default="numpy",
    help="Where the float64 stage runs its layers; balls decide on the CPU as ever.",
)
@click.option(
    "--claim",
    multiple=True,
    help="A claim of your own, in the language of `rankmath quantities`: is it true? May be repeated; with "
    "`exists` in front: is there such a network?",
)
@click.option("--given", multiple=True, help="Hypotheses of the claims, with commas between them; may be repeated.")
@click.option(
    "--sharpen",
    metavar="LETTER",
    multiple=True,
    help="Find the best constant seen in the place of a letter of the claim.",
)
@click.option("--coq", is_flag=True, help="Write the proof of a claim as a Coq file too, and compile it.")
@click.option(
    "--seconds",
    type=float,
    default=60.0,
    help="Seconds for a claim, to search, prove and shrink; some seconds of computing may follow, more if busy.",
)
@click.option("--output", type=click.Path(file_okay=False), default="rankmath-report")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON instead of the table.")
def verify(
    what: tuple[str, ...],
    instances: int,
    certify: int,
    seed: int,
    thorough: bool,
    jobs: int,
    backend: Backend,
    claim: tuple[str, ...],
    given: tuple[str, ...],
    sharpen: tuple[str, ...],
    coq: bool,
    seconds: float,
    output: str,
    as_json: bool,
) -> None:
    """The main job: verify statements, and leave a report folder.

    All of them, or the KEYs, PATTERNs such as 'own:*', and FILEs named. Exit code 1 if one that is registered as
    proved or refuted has another verdict; an open one may have any. Beside the instances drawn there are a few
    near-extremal ones, where the statement names some, and those that a search finds.

    With --claim, or a file of claims (.toml, .txt), a claim of your own is examined: REFUTED with the smallest
    counterexample found and its certificate, PROVED with a derivation from lemmas, or HELD, and how tightly;
    UNDECIDED where no instance is decided, CONTRADICTORY where the hypotheses are (on sight: refused, exit code 2),
    and of `exists` a network, NONE FOUND, or REFUTED. The exit code is 0 whatever the answer.

    Example: rankmath verify own:diameter 'dong2021v1:*' --instances 1000

    Example: rankmath verify --claim "mu(X[1]) <= norm(W[0,0], 2)*mu(X[0])" --given "heads == 1"
    """
    from rankmath.attention.backend import mover
    from rankmath.claims import statements, statements_in, statements_like
    from rankmath.cli.conjecture import answer_all, statements_of
    from rankmath.console import Progress
    from rankmath.decide.campaigns.crews import kept_workers
    from rankmath.decide.campaigns.in_memory import run_all, works
    from rankmath.report.html import ahead, writable
    from rankmath.report.results import Report
    from rankmath.validation import InvalidArgument, as_count

    factor = 10 if thorough else 1
    counts = {
        "instances": as_count("--instances", instances, most=10**9) * factor,
        "certify": as_count("--certify", certify, least=0) * factor,
        "seed": as_count("--seed", seed, least=0),
        "search": 300 * factor,
    }
    jobs = as_count("--jobs", jobs, most=256)
    mover(backend)  # refused before anything runs
    if not math.isfinite(seconds) or not 0 < seconds <= 1e6:
        raise InvalidArgument(f"--seconds: {seconds} given; a positive number of at most a million is needed")
    files = [name for name in what if name.endswith((".toml", ".txt"))]
    if len(sharpen) > 1:
        raise InvalidArgument(f"--sharpen: {', '.join(sharpen)} given; one letter is sharpened at a time")
    letter = sharpen[0] if sharpen else None
    typed = [option for option, values in (("--given", given), ("--sharpen", sharpen)) if values]
    if typed and not claim:
        raise InvalidArgument(f"{', '.join(typed)}: given without --claim, to which it belongs")
    if typed and files:
        raise InvalidArgument(
            f"{', '.join(typed)}: given with {', '.join(files)}; a claim in a file has its own, and --claim is "
            "examined in a run of its own"
        )
    mine = statements_of(claim, given, files, letter)
    if mine and len(files) < len(what):
        raise InvalidArgument("KEY, --claim: both given; examine claims of your own in a run of their own")
    entries: dict[str, tuple[Statement, str | None]] = {}
    for name in () if mine else what or ("*",):
        if name.endswith(".py"):
            entries |= {entry.key: (entry, name) for entry in statements_in(name)}
        elif name == "*":
            entries |= {entry.key: (entry, None) for entry in statements().values()}
        else:
            entries |= {entry.key: (entry, None) for entry in statements_like(name)}
    if coq and not mine:
        raise InvalidArgument("--coq: given without --claim; it writes the proof of a claim")
    writable(output)
    if mine:
        answer_all(
            mine,
            letter=letter,
            seconds=seconds,
            seed=seed,
            instances=instances,
            output=output,
            as_json=as_json,
            coq=coq,
        )
        return
    batteries = works(list(entries.values()), backend=backend, **counts)
    results: dict[str, Result] = {}
    done: dict[str, int] = {}

    settings: dict[str, Json] = {**counts, "backend": backend, "jobs": jobs}

    def report_of() -> Report:
        return Report.of([results[key] for key in entries if key in results], settings)

    whole = {work.key: work for work in batteries}
    # The processes that run the batteries look at certificates and draw figures as well, some of them ahead.
    wanted = ahead(entries, settings, output)
    click.get_current_context().with_resource(kept_workers())
    with Progress(sum(work.cost for work in batteries) / (1 - _WRITING), "%", quiet=as_json) as progress:

        def show() -> None:
            at_hand = [key for key in done if key not in results]
            # Drawing is most of the work, not all of it: near-extremal instances, search and certificates follow.
            shares = (0.8 * min(1.0, done[key] / whole[key].instances) * whole[key].cost for key in at_hand)
            now = f", at {', '.join(at_hand)}" if at_hand else ", figures" if len(results) == len(entries) else ""
            told = f"{len(results)}/{len(entries)} statements{now}"
            progress.at(sum(whole[key].cost for key in results) + sum(shares), told)

        def hear(work: Work, count: int) -> None:
            done[work.key] = count
            show()

        try:
            for result in run_all(batteries, jobs=jobs, hear=hear, ahead=wanted):
                results[result.key] = result
                show()
        except KeyboardInterrupt:
            if not results:
                raise KeyboardInterrupt("no statement was done yet, nothing is kept") from None
            folder = report_of().save(output)
            kept = f"{len(results)} of {len(entries)} statements are in {folder}/report.json"
            raise KeyboardInterrupt(f"{kept}; `rankmath report {folder}` makes their page") from None
        report = report_of()
        try:
            folder = report.save(output)
            notes = _write_page_and_appendix(folder, report, progress)
        except OSError:  # a full disk: what minutes of work have found is told all the same
            progress.__exit__()
            _print_results(report.results, Path(output), ["not all of the report could be written"])
            raise
    if as_json:
        click.echo((folder / "report.json").read_text(encoding="utf-8"))
    else:
        _print_results(report.results, folder, [f"report: {folder}/report.json", *notes])
    sys.exit(0 if all(result.as_registered for result in report.results) else 1)


def _write_page_and_appendix(folder: Path, report: Report, progress: Progress) -> list[str]:
    """Both into the report's folder; what was written, or what is missing for it, in words."""
    from rankmath.claims import statements
    from rankmath.drawing import NoMatplotlib
    from rankmath.report.appendix import appendix as assemble
    from rankmath.report.html import STEPS, write
    from rankmath.report.subject import subject_of_run

    began, steps = (1 - _WRITING) * progress.total, iter(range(1, 10 * STEPS))

    def step(name: str) -> None:
        """The share that writing takes fills up, and is full when the page is written."""
        progress.at(began + min(0.99, next(steps) / STEPS) * _WRITING * progress.total, name)

    try:
        written = write(subject_of_run(report, folder), folder, step)
    except NoMatplotlib as missing:
        keys = [result.key for result in report.results if result.key in statements()]
        return [f"no page and no figures: {missing}", f"appendix: {assemble(report, keys=keys).save(folder)}"]
    return [f"{name}: {written[name]}" for name in ("page", "figures", "appendix")]


def _handed_over(result: Result, folder: Path) -> list[str]:
    """The counterexample to a claim of the user's own: in numbers, as Python and LaTeX, and its certificate."""
    if not result.counterexample or result.status != "open":
        return []
    from rankmath.certificates.certificate import Certificate
    from rankmath.decide.campaigns.exact_json import decode
    from rankmath.decide.conjecture import in_words
    from rankmath.report.counterexamples import handed_over
    from rankmath.report.sources import slug
    from rankmath.verification.instance import NetworkInstance

    instance = decode(result.counterexample)
    if not isinstance(instance, NetworkInstance):
        return []
    paths = [folder / "certificates" / f"{name}.json" for name in result.certificates[:1]]
    certificate = Certificate.load(paths[0]) if paths else None
    lines = in_words(instance) if instance.vector().size <= _FEW else in_words(instance)[:1]
    lines += handed_over(instance, certificate, folder / "counterexamples", slug(result.key))
    return [*lines, *(f"certificate: {path} (accepted by the checker)" for path in paths)]


def _number(text: str) -> float:
    """The value of a term of numbers alone."""
    import numpy as np

    from rankmath.arithmetic.float64 import Float64
    from rankmath.formula import read_term
    from rankmath.formula.arrays import ArrayRun
    from rankmath.formula.evaluate import value
    from rankmath.verification.instance import ArrayInstance

    nothing = ArrayRun(Float64(np.zeros(1)), ArrayInstance({}))
    return math.exp(float(value(read_term(text), nothing, {}).log))


def _print_results(results: Sequence[Result], folder: Path, notes: list[str]) -> None:
    from rankmath.claims import statements
    from rankmath.console import print_table
    from rankmath.printing import log_of, quotient
    from rankmath.report.sources import slug

    optional = ("held on", "violated", "lhs/rhs ≤", "known", "certified", "undecided", "n/a", "seconds")
    columns = ("key", "verdict", "known", "held on", "violated", "certified", "lhs/rhs ≤", *optional[-3:])
    rows = [
        (
            r.key,
            (r.outcome, "green" if r.as_registered else "bold red"),
            r.status,
            str(r.holds),
            str(r.violations or ""),
            str(r.certified),
            quotient(r.log_worst if r.log_worst is not None else log_of(r.tightest), up=True)
            if r.log_worst is not None or r.ratios
            else "",
            str(r.undecided or ""),
            str(r.not_applicable or ""),
            f"{r.seconds:.1f}",
        )
        for r in results
    ]
    print_table(columns, rows, left=("key", "verdict", "known"), optional=optional)
    for r in results:
        if r.outcome == "REFUTED":
            click.echo(f"{r.key}: {r.sentence}")
            if r.counterexample:
                click.echo(f"  counterexample: {folder}/counterexamples/{slug(r.key)}.json")
            for line in _handed_over(r, folder):
                click.echo(f"  {line}")
        entry = statements().get(r.key)
        if entry is not None and (entry.supremum or entry.sharp) and r.ratios:
            known = f"{entry.supremum} = {_number(entry.supremum):.6g}" if entry.supremum else "1"
            reached = quotient(log_of(r.tightest))
            click.echo(f"{r.key}: lhs/rhs reached {reached}; what is known to be approached is {known}")
        for name, factor in r.comparison.items():
            click.echo(f"{r.key}: {name}: {factor:.3g} times")
    for note in notes:
        click.echo(note)
    differing = [r.key for r in results if not r.as_registered]
    if differing:
        click.secho(f"differs from what is registered: {', '.join(differing)}", fg="red", bold=True)
    else:
        click.echo("all as registered")
