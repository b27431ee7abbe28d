"""The page of a report: one file that needs no network, and the folder of files around it."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Set
from importlib.util import find_spec
from pathlib import Path
from string import ascii_letters, digits
from typing import Any

from rankmath.decide.campaigns.crews import is_done
from rankmath.decide.campaigns.work import Work
from rankmath.drawing import NoMatplotlib, need_matplotlib
from rankmath.files import folder as make_folder
from rankmath.files import write as write_file
from rankmath.report.appendix import appendix, relied_on
from rankmath.report.figures import FIGURES, drawings, drawn
from rankmath.report.plots import Figure, Table, panel_svgs
from rankmath.report.subject import LISTINGS, Subject, planned, unchecked
from rankmath.validation import InvalidArgument, Json
from rankmath.version import __version__

_TEMPLATES = Path(__file__).parent / "templates"
#: What marks an index.html as ours: another is not overwritten.
_MARK = '<meta name="generator" content="rankmath'
#: Lines of a table of data that the page itself shows; its file has all.
_SHOWN = 400

#: Fewer pieces are not worth doing ahead of time.
_MANY = 16

#: How often `write` says what it does.
STEPS = len(FIGURES) + 2

_VERDICTS = {"HOLDS": "holds", "HELD": "held", "PROVED": "proved", "REFUTED": "refuted", "UNDECIDED": "undecided"}


def page(subject: Subject, figures: list[Figure], omitted: list[str]) -> str:
    """The whole page as text; what it is made of alone decides every byte."""
    environment = _jinja()
    assets = (_TEMPLATES / name for name in ("report.css", "report.js"))
    style, script = (path.read_text(encoding="utf-8").strip() for path in assets)
    shown = [(figure, list(zip(figure.panels, map(_trusted, panel_svgs(figure)), strict=True))) for figure in figures]
    # Typed in the report's folder; a pattern that no file fits would be refused as a missing file.
    stored = [Path(check.file) for check in subject.checks if check.content is not None]
    patterns = sorted({f"{file.parent.as_posix()}/*.json" for file in stored})
    return str(
        environment.get_template("report.html").render(
            subject=subject,
            figures=shown,
            omitted=[*omitted, *subject.omissions],
            style=_trusted(style),
            script=_trusted(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            rows=subject.rows,
            papers=sorted({row.paper for row in subject.rows}),
            statuses=sorted({row.status for row in subject.rows}),
            outcomes=sorted({row.outcome for row in subject.rows}),
            accepted=sum(check.accepted for check in subject.checks),
            check_again=" ".join(["rankmath check", *patterns]),
            verdicts=_VERDICTS,
            shown=_SHOWN,
            version=__version__,
        )
    )


def write(
    subject: Subject, folder: str | os.PathLike[str], step: Callable[[str], None] = lambda name: None
) -> dict[str, Path]:
    """The report's folder: index.html, data/, certificates/, figures/, appendix.tex and references.bib, by name."""
    need_matplotlib()
    _jinja()
    target = writable(folder)
    places = {name: target / name for name in ("figures", "data", "certificates")}
    for place in places.values():
        place.mkdir(exist_ok=True)
    _forget(places, {piece.key for piece in drawings(subject, places["figures"]) if is_done(piece)})
    figures, omitted = drawn(subject, places["figures"], step)
    step("page")
    text = page(subject, figures, omitted)
    for name, data in _tables(subject, figures).items():
        write_file(places["data"] / f"{name}.csv", data.csv().encode())
    for check in subject.checks:
        if check.content is not None:
            (target / check.file).parent.mkdir(exist_ok=True)
            write_file(target / check.file, check.content)
    step("appendix")
    report = subject.report
    keys = relied_on([(row.key, row.outcome) for row in subject.rows])
    accepted = {check.id: check.checked for check in subject.checks if check.accepted}
    document = appendix(report, plots=None if report is None else places["figures"], keys=keys, accepted=accepted)
    tex = document.save(target)
    write_file(target / "index.html", text.encode())
    return {"page": target / "index.html", **places, "appendix": tex, "bibliography": target / "references.bib"}


def ahead(keys: Iterable[str], settings: Mapping[str, Json], folder: str | os.PathLike[str]) -> list[Work]:
    """What the page of a run will need and no verdict changes: figures, and checks of the proofs' certificates."""
    if find_spec("matplotlib") is None or find_spec("jinja2") is None:
        return []
    plan = planned(keys, settings)
    pieces: list[Work] = [
        *(piece for piece in drawings(plan, Path(folder) / "figures") if FIGURES[piece.key].about),
        *unchecked(plan.verified),
    ]
    return pieces if len(pieces) >= _MANY else []


def _tables(subject: Subject, figures: list[Figure]) -> dict[str, Table]:
    """Everything in data/, by name."""
    found = {"verdicts": verdict_table(subject)}
    found |= {listing.name: listing.data for listing in subject.listings if listing.data.rows}
    return found | {figure.name: figure.data for figure in figures}


def verdict_table(subject: Subject) -> Table:
    """The verdict table as data."""
    names = (
        *("key", "title", "source", "status", "truth", "outcome", "as_registered", "instances", "holds"),
        *("certified", "undecided", "not_applicable", "violations", "log_tightest", "seconds"),
    )
    rows = tuple((*(getattr(row, name) for name in names), " ".join(row.certificates)) for row in subject.rows)
    return Table((*names, "certificates"), rows)


# -- files -------------------------------------------------------------------------------------------------


def writable(folder: str | os.PathLike[str]) -> Path:
    """The folder, made if need be; refused, before anything is written, if a report cannot be written there."""
    target = make_folder(folder, "--output")
    index = target / "index.html"
    if index.exists() and (index.is_dir() or _MARK not in index.read_text(encoding="utf-8", errors="replace")):
        raise InvalidArgument(f"--output: {target} given; {index} is not a report of rankmath's: it is not overwritten")
    return target


def _forget(places: dict[str, Path], kept: Set[str]) -> None:
    """A picture, table or certificate of an earlier report, of other statements, says nothing about this one."""
    for name in (*FIGURES, *LISTINGS):
        for ending in ("pdf", "png", "txt") if name not in kept else ():
            (places["figures"] / f"{name}.{ending}").unlink(missing_ok=True)
        (places["data"] / f"{name}.csv").unlink(missing_ok=True)
    for old in places["certificates"].glob("proofs/rm-*.json"):
        old.unlink()


# -- templates ---------------------------------------------------------------------------------------------


def _jinja() -> Any:
    try:
        import jinja2
    except ImportError:
        raise NoMatplotlib("report: jinja2 is not installed; pip install 'rankmath[report]'") from None
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["number"] = _number
    environment.filters["anchor"] = anchor
    return environment


def _trusted(text: str) -> Any:
    """Our own style, script and pictures, which are not escaped."""
    import markupsafe

    return markupsafe.Markup(text)


def _number(x: float | None) -> str:
    """A number of a data table for people; its file has all digits.

    >>> _number(1 / 3), _number(7), _number(None), _number(-float('inf'))
    ('0.333333', '7', '', '−inf')
    """
    if x is None:
        return ""
    return f"{x:.6g}".replace("-", "−") if isinstance(x, float) else str(x)


def anchor(key: str) -> str:
    """A statement's key as the id of its line; what may not stand there is replaced by its number.

    >>> anchor("own:tv"), anchor('a" b')
    ('s-own:tv', 's-a_22__20_b')
    """
    kept = set(ascii_letters + digits + ".:-")
    return "s-" + "".join(c if c in kept else f"_{ord(c):x}_" for c in key)
