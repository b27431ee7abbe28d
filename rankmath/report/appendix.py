"""The appendix: statements, proofs, refutations and measurements as one LaTeX document.

Every number in it is taken from a certificate, from a ball, or from the report of a verification run, and reaches
the texts through the preamble's ``\\rmset``; a text that asks for a value nobody supplies is an error.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankmath.certificates.certificate import Certificate, Data, number
from rankmath.claims import statement, statements
from rankmath.claims.dong2021_many_tokens import Kinds
from rankmath.decide.campaigns.in_memory import Result
from rankmath.files import folder as make_folder
from rankmath.files import proofs_folder, write
from rankmath.formula.prose import escape, formulas
from rankmath.report.cite import software_entry
from rankmath.report.figures import FIGURES
from rankmath.report.fragments import LOOSE, STYLE, in_words, notation, notation_under, stated, told_once, written_out
from rankmath.report.latex import FIT, at_least, code, exact, grouped, identifier, measured
from rankmath.report.results import Report
from rankmath.report.sources import (
    added,
    cited_by,
    committed_certificates,
    entries,
    place_of,
    preamble,
    proof_texts,
    publication,
    stated_by,
)
from rankmath.report.theorems import FAMILIES, findings, theorem
from rankmath.validation import InvalidArgument, Number
from rankmath.verification.statement import Statement
from rankmath.version import __version__

# -- values ------------------------------------------------------------------------------------------------


def values(certificates: Mapping[str, Sequence[Certificate]], report: Report | None = None) -> dict[str, str]:
    """Everything the texts may ask for, by the name they ask for it.

    >>> found = values(committed_certificates())
    >>> found["dong2021v1:2.2:tokens"], found["dong2021v1:2.3:width"]
    ('3563', '65\\\\,536')
    """
    found: dict[str, str] = {}
    for key, family in FAMILIES.items():
        refuting = [certificate for certificate in certificates.get(key, ()) if certificate.kind == "violates"]
        if refuting:
            described = {**_described(family, refuting[0].data), "certificate": linked(refuting[0])}
            found |= {f"{key}:{name}": text for name, text in described.items()}
    for result in report.results if report is not None else ():
        found[f"report:{result.key}"] = sentence(result, certificates.get(result.key, ()))
    return found


def _described(family: type[Kinds], data: Mapping[str, Data]) -> dict[str, str]:
    """The values a text may ask for: the data, tokens, width, and what the ratio certainly reaches."""
    kinds = family(**{name: _numbers(value) for name, value in data.items()})
    texts = {name: exact(number(value)) for name, value in data.items() if not isinstance(value, list | tuple)}
    sizes = {"tokens": exact(kinds.tokens), "width": exact(kinds.width)}
    return {**texts, **sizes, "ratio": at_least(kinds.certified_ratio())}


def _numbers(value: Data) -> Number:
    """Exact numbers as the families take them: whole ones as int, lists as tuples."""
    if isinstance(value, list | tuple):
        return tuple(_numbers(item) for item in value)
    found = number(value)
    return int(found) if found.denominator == 1 else found


def linked(certificate: Certificate, *, digits: int | None = None) -> str:
    """The id, linked to its line in the table of certificates."""
    return rf"\hyperref[cert:{certificate.id}]{{{identifier(certificate.id, digits=digits)}}}"


def sentence(result: Result, certificates: Sequence[Certificate] = ()) -> str:
    """What a run showed of a statement, and no more: sampling never proves a "for all"."""
    parts = [_outcome(result, certificates)]
    if result.ratios and result.tightest > 0:
        there = " where it held" if result.outcome == "REFUTED" else ""
        parts.append(rf"The largest quotient of its two sides{there} was {measured(result.tightest)}.")
    if result.not_applicable:
        parts.append(f"A hypothesis failed in {grouped(result.not_applicable)} of them, which count for nothing.")
    if result.undecided:
        parts.append(f"Undecided: {grouped(result.undecided)}.")
    parts += [f"Compared: {escape(words)} {measured(factor)}." for words, factor in result.comparison.items()]
    if not result.as_registered:
        parts.append(rf"\textbf{{This differs from what is registered ({escape(result.status)}).}}")
    return rf"\emph{{Measured}} ({code(result.key)}). " + " ".join(parts)


def _outcome(result: Result, certificates: Sequence[Certificate]) -> str:
    held = f"{grouped(result.holds)} of {grouped(result.instances)} instances"
    if result.outcome == "REFUTED":
        known = {certificate.id: certificate for certificate in certificates}
        ids = [linked(known[name]) if name in known else identifier(name) for name in result.certificates]
        shown = f" by {', '.join(ids)}" if ids else ""
        return f"Refuted{shown}; it held on {held}." if result.holds else f"Refuted{shown}."
    if result.outcome == "UNDECIDED":
        return "No instance decided it."
    if result.certified == result.instances:
        return f"Held on {held}, decided in exact or ball arithmetic throughout."
    return f"Held on {held}, {grouped(result.certified)} of them decided in ball or exact arithmetic."


# -- the document ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Appendix:
    """The document and its bibliography, as texts."""

    tex: str
    bib: str
    figures: tuple[Path, ...] = ()
    #: Whether it is part of somebody's paper, to be read by ``\\input``; else a document of its own.
    fragment: bool = False

    def save(self, folder: str | os.PathLike[str], sources: str | os.PathLike[str] | None = None) -> Path:
        """appendix.tex, references.bib and figures/ under `folder`, a fragment's rankmath.sty; the text's path.

        The BibTeX entries go into the file `sources`, if one is named.
        """
        target = make_folder(folder)
        added(target / "references.bib" if sources is None else sources, entries(self.bib))
        for figure in self.figures:
            (target / "figures").mkdir(exist_ok=True)
            copy = target / "figures" / figure.name
            if not copy.exists() or not copy.samefile(figure):
                write(copy, figure.read_bytes())
        if self.fragment:
            write(target / "rankmath.sty", STYLE)
        path = target / "appendix.tex"
        write(path, self.tex)
        return path


def appendix(
    report: Report | None = None,
    *,
    plots: str | os.PathLike[str] | None = None,
    keys: Sequence[str] | None = None,
    theorems: Sequence[Certificate] = (),
    accepted: Mapping[str, Sequence[str]] | None = None,
    fragment: bool = False,
) -> Appendix:
    """Assemble the appendix from the registry, proofs/, its certificates and, where given, a report with its plots.

    With `keys` only these statements, their proofs and what those refer to; `theorems` are certificates that become
    theorems of a section of their own. What the checker said of certificates it has `accepted`, by their ids, is
    not asked again. A `fragment` is read by ``\\input`` in a paper that loads rankmath.sty, which lies beside it.

    >>> appendix(keys=["own:tv"]).tex.splitlines()[0]
    '\\\\documentclass[11pt]{article}'
    """
    chosen = statements() if keys is None else {key: statement(key) for key in keys}
    certificates = committed_certificates()
    listed = {key: list(certificates.get(key, ())) for key in chosen}
    for given in theorems:
        group = listed.setdefault(given.statement, [])
        group += [given] if given.id not in {known.id for known in group} else []
    supplied = values(certificates, report)
    texts = proof_texts() if keys is None else _needed(chosen)
    _demand_supplied(texts, supplied)
    figures = _figures(plots)
    name, _, rest = publication()["title"].partition(":")
    head = [
        r"\documentclass[11pt]{article}",
        r"\usepackage[utf8]{inputenc}",
        r"\usepackage[a4paper,margin=27mm]{geometry}",
        r"\usepackage{array,longtable,graphicx}",
        preamble().rstrip(),
        _OWN_PREAMBLE,
        FIT,
        *(rf"\rmset{{{name}}}{{{text}}}" for name, text in supplied.items()),
        rf"\title{{{rest.strip()[:1].upper()}{rest.strip()[1:]}:\\ proofs, refutations, measurements}}",
        rf"\author{{{name} {__version__}~\cite{{rankmath}}}}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
        r"\tableofcontents",
    ]
    body = [
        *(
            (_overview(report, chosen, listed), _summary_table(report, certificates, supplied, chosen))
            if chosen
            else ()
        ),
        _theorems(theorems),
        _measurements(figures),
        _claims(chosen) if chosen else "",
        *(_with_reports(name, text, supplied) for name, text in texts.items()),
        _further(report, supplied),
        _certificate_table(listed, accepted or {}) if chosen else "",
    ]
    foot = [r"\bibliographystyle{plain}", r"\bibliography{references}", r"\end{document}"]
    bib = (proofs_folder() / "references.bib").read_text(encoding="utf-8").rstrip()
    if fragment:
        loose = [_PASTE, r"\rankmathcolumn", rf"\begingroup{LOOSE.strip()}", *filter(None, body), r"\par\endgroup"]
        tex = _own_labels(_with_targets(written_out("\n".join(loose), supplied)))
    else:
        tex = _with_targets("\n".join(filter(None, [*head, *body, *foot])))
    return Appendix(f"{tex}\n", f"{bib}\n\n{software_entry()}\n", figures, fragment)


_PASTE = "% \\usepackage{rankmath} in the preamble, \\input{appendix} in the text, references.bib in the bibliography."


def _with_targets(tex: str) -> str:
    """The text without links to certificates that its table does not have."""
    there = set(re.findall(r"\\label\{(cert:[^}]*)\}", tex))
    return re.sub(
        r"\\hyperref\[(cert:[^]]*)\]\{(\\texttt\{[^{}]*\})\}",
        lambda found: found[0] if found[1] in there else found[2],
        tex,
    )


def _own_labels(tex: str) -> str:
    """The text with labels that are its own: two fragments of one paper may both prove a lemma."""
    own = f"rm{hashlib.sha256(tex.encode()).hexdigest()[:6]}"
    tex = re.sub(r"\\(label|ref|eqref|pageref|autoref)\{", rf"\\\1{{{own}:", tex)
    return tex.replace(r"\hyperref[", rf"\hyperref[{own}:").replace("csname once:", f"csname once:{own}:")


def relied_on(outcomes: Sequence[tuple[str, str]]) -> list[str]:
    """The statements that a run's appendix is about: all that took part if a person named them, else the refuted.

    A run of the whole registry would fill some ninety pages; nobody relies on all of them.

    >>> relied_on([("own:tv", "HOLDS"), ("dong2021v1:A.3", "REFUTED")])
    ['own:tv', 'dong2021v1:A.3']
    """
    known = [(key, outcome) for key, outcome in outcomes if key in statements()]
    whole = len(known) == len(statements())
    return [key for key, outcome in known if not whole or outcome == "REFUTED"]


_OWN_PREAMBLE = r"""\setlength{\LTcapwidth}{\textwidth}
% Sections A.1, A.2, ...: letters alone end at Z.  The table of contents needs room for them.
\renewcommand{\thesection}{A.\arabic{section}}
\makeatletter
\renewcommand*{\l@section}{\@dottedtocline{1}{0em}{2.8em}}
\renewcommand*{\l@subsection}{\@dottedtocline{2}{2.8em}{3.6em}}
\makeatother
% Long formulas of running text must not stick out; only lines that would are stretched.
\emergencystretch=10em"""


def _ragged(width: float) -> str:
    """A column of this share of the text's width. A letter for it could be one of the author's."""
    return rf">{{\raggedright\arraybackslash}}p{{{width:g}\textwidth}}"


def _demand_supplied(texts: Mapping[str, str], supplied: Mapping[str, str]) -> None:
    for file, text in texts.items():
        for name in re.findall(r"\\rmvalue\{([^}]*)\}", text):
            if name not in supplied:
                raise InvalidArgument(f"proofs: {file}.tex asks for the value {name!r}, which no certificate gives")


def _needed(chosen: Mapping[str, Statement]) -> dict[str, str]:
    """The texts that show these statements, and all that they refer to, in the order of the whole appendix."""
    texts = proof_texts()
    home = {label: name for name, text in texts.items() for label in re.findall(r"\\label\{([^}]*)\}", text)}
    todo = [Path(entry.truth).stem for entry in chosen.values()]
    todo += [home["sec:setting"]] if chosen and "sec:setting" in home else []
    wanted: set[str] = set()
    while todo:
        name = todo.pop()
        if name in texts and name not in wanted:
            wanted.add(name)
            cited = re.findall(r"\\(?:ref|eqref|autoref|pageref)\{([^}]*)\}", texts[name])
            todo += [home[label] for label in cited if label in home]
    return {name: text for name, text in texts.items() if name in wanted}


def _theorems(certificates: Sequence[Certificate]) -> str:
    """A section with one theorem for each certificate."""
    if not certificates:
        return ""
    body = "\n\n".join(theorem(certificate) for certificate in certificates)
    return f"\\section{{Certified instances}}\n\\label{{sec:certified}}\n{body}"


def _overview(
    report: Report | None, chosen: Mapping[str, Statement], listed: Mapping[str, Sequence[Certificate]]
) -> str:
    known = chosen.values()
    proved = sum(entry.status == "proved" for entry in known)
    refuted = sum(entry.status == "refuted" for entry in known)
    undecided = len(known) - proved - refuted
    rest = f", {undecided} open" if undecided else ""
    count = sum(map(len, listed.values()))
    return rf"""\section{{Overview}}
\label{{sec:overview}}
Table~\ref{{tab:summary}} lists {_number_of(len(known), "statement")} about self-attention networks: {proved} proved
in the sections named there, {refuted} refuted{rest}.  A \emph{{proof}} is a written one.  A
\emph{{refutation}} is an instance on which the claim fails, given by exact numbers in a certificate or in the
section named.  Table~\ref{{tab:certificates}} has {_number_of(count, "certificate")}, checked again for this
document by a program that has an arithmetic and algorithms of its own, works with directed rounding
on integers and with exact fractions, and trusts nothing in the file.  A certificate is named by the hash of its
content.
{_run_in_words(report)}"""


def _number_of(count: int, word: str) -> str:
    return f"{count or 'no'} {word}{'' if count == 1 else 's'}"


def _run_in_words(report: Report | None) -> str:
    if report is None:
        return "No verification run was supplied, so nothing here is measured."
    settings = ", ".join(f"{escape(str(name))} {escape(str(value))}" for name, value in report.settings.items())
    return rf"""
The last column of the table is \emph{{measured}} where a statement is proved: the largest quotient of left- and
right-hand side among the instances on which it held, whether drawn at random, built to be nearly extremal, or found
by an adversary who climbs in that quotient.  Of a refuted one with two sides it is what an instance certainly
exceeds.  Sampling proves nothing; it tells how much a bound gives away.  Whatever rounding could have decided went to
ball arithmetic~\cite{{johansson2017arb}} or exact fractions; what these left open is counted as undecided.
The run was made by rankmath
{escape(report.version)} on {escape(report.date[:10])} (Python {escape(report.python)}, NumPy
{escape(report.numpy)}; {settings}; instances and search are cut where an instance costs linear programs)."""


def _where(entry: Statement) -> str:
    return place_of(entry.key) or code(entry.truth)


def _summary_table(
    report: Report | None,
    certificates: Mapping[str, Sequence[Certificate]],
    supplied: Mapping[str, str],
    chosen: Mapping[str, Statement],
) -> str:
    rows: list[tuple[str, ...]] = []
    for entry in chosen.values():
        shown = [c for c in certificates.get(entry.key, ()) if c.kind != "holds"]
        where = _where(entry).replace("~", " ") + (rf", {linked(shown[0], digits=8)}" if shown else "")
        tightness = _tightness(entry, report, supplied.get(f"{entry.key}:ratio"))
        rows.append((code(entry.key), formulas(entry.title), entry.status, where, tightness))
    for result in _unregistered(report):
        rows.append((code(result.key), formulas(result.title), escape(result.status), "--", _quotient(result)))
    header = ("statement", "claim", "status", "shown in", "tightness")
    return _longtable(
        f"@{{}}{_ragged(0.22)}{_ragged(0.29)}l{_ragged(0.14)}l@{{}}",
        header,
        rows,
        caption="The statements: what is known, where it is shown (section, and the certificate that refutes or "
        "exhibits), and the largest quotient of the two sides, where there are two: measured of a proved statement, "
        "certainly exceeded of a refuted one.",
        label="tab:summary",
        size="footnotesize",
    )


def _tightness(entry: Statement, report: Report | None, certified_ratio: str | None) -> str:
    """Of a refuted statement how far an instance exceeds the bound, for sure; of a proved one what was measured."""
    result = None if report is None else report.result(entry.key)
    if entry.status == "proved":
        return _quotient(result)
    if certified_ratio is not None:
        return rf"\ensuremath{{\ge{certified_ratio}}}"
    compared = result is not None and result.outcome == "REFUTED" and result.ratios
    return r"\ensuremath{>1}" if compared else "--"


def _quotient(result: Result | None) -> str:
    if result is None:
        return "--"
    if not result.ratios:
        return "exact" if result.holds else "--"
    return measured(result.tightest)


def _longtable(
    columns: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str, label: str, size: str = "small"
) -> str:
    head = rf"\toprule {' & '.join(header)}\\ \midrule"
    body = "\n".join(" & ".join(row) + r"\\" for row in rows)
    return "\n".join(
        (
            rf"{{\{size}\setlength{{\tabcolsep}}{{4pt}}",
            rf"\begin{{longtable}}{{{columns}}}",
            rf"\caption{{{caption}}}\label{{{label}}}\\ {head}\endfirsthead",
            rf"{head}\endhead \bottomrule\endfoot",
            body,
            r"\end{longtable}}",
        )
    )


def _claims(chosen: Mapping[str, Statement]) -> str:
    """Every registered claim as it stands, with what its letters and quantities are, and its source."""
    lines = [
        r"\section{The claims}",
        r"\label{sec:claims}",
        "Each statement as it is registered, with its notation and with who states it.  Tokens, layers and heads",
        "are counted from $0$ here; the proofs have the notation of Section~\\ref{sec:setting}: tokens from $1$ on.",
        r"\begin{description}\raggedright",
    ]
    told: dict[str, str] = {"": ""}
    for entry in chosen.values():
        cites = cited_by(entry.source)
        cited = rf"~\cite{{{','.join(cites)}}}" if cites else ""
        lines.append(rf"\item[{code(entry.key)}] \textit{{{formulas(entry.title)}.}}\\*[3pt]")
        setting = notation(entry)
        lines.append(told.get(setting, rf"{setting}\\*[3pt]"))
        told.setdefault(setting, rf"The notation is that of {code(entry.key)}.\\*[3pt]")
        lines += stated(entry)
        lines[-1] += r"\\*[3pt]"
        lines += in_words(entry)
        verb = entry.status.capitalize()
        note = f" {formulas(entry.notes)}" if entry.notes else ""
        lines.append(rf"{formulas(stated_by(entry.source))}{cited}.  {verb} in {_where(entry)}.{note}")
    return "\n".join((*filter(None, lines), r"\end{description}"))


def _with_reports(name: str, text: str, supplied: Mapping[str, str]) -> str:
    """A proof section; reports of statements shown in it that it does not ask for by name follow at its end."""
    asked = set(re.findall(r"\\rmreport\{([^}]*)\}", text))
    shown = [s.key for s in statements().values() if Path(s.truth).stem == name and s.key not in asked]
    extra = "".join(f"\\rmreport{{{key}}}\n" for key in shown if f"report:{key}" in supplied)
    return f"\n{text.rstrip()}\n{extra}"


def _unregistered(report: Report | None) -> list[Result]:
    return [result for result in report.results if result.key not in statements()] if report is not None else []


def _further(report: Report | None, supplied: Mapping[str, str]) -> str:
    """Statements of the user's own that took part in the run; there is no proof of them here."""
    found = _unregistered(report)
    if not found:
        return ""
    lines = [r"\section{Further statements}", "Examined in the same run; no proof of them is given here."]
    for result in found:
        said = _Said(result)
        lines.append(rf"\paragraph{{{formulas(result.title)}}}{{\raggedright\mbox{{}}\\*[3pt]")
        lines += [rf"{told_once(said.notation, result.key)}\\*[3pt]"] if said.notation else []
        lines += [*stated(said), *in_words(said), r"\par}", rf"\rmreport{{{result.key}}}"]
        if result.outcome == "REFUTED" and result.texts:
            certificates = (Certificate.from_text(text.encode(), result.key) for text in result.texts)
            lines += [theorem(one) for one in certificates if one.kind == "violates"][:1]
    return "\n".join(lines)


class _Said:
    """A statement as a report has it."""

    def __init__(self, result: Result) -> None:
        plain: Mapping[str, Any] = {"premises": (), "conclusion": (result.claim,), "letters": (), "meanings": ()}
        plain = {**plain, **result.stated}
        try:
            self.premises, self.conclusion, self.letters = (
                tuple(map(str, plain[name])) for name in ("premises", "conclusion", "letters")
            )
            self.meanings = tuple((str(shown), str(said)) for shown, said in plain["meanings"])
            self.notation = notation_under({*map(str, plain["given"])}) if "given" in plain else ""
        except (TypeError, ValueError):
            raise InvalidArgument(f"report: what is stated of {result.key} is no list of texts") from None


def _checked(certificate: Certificate) -> Sequence[str]:
    """What the checker says of a certificate it accepts."""
    result = certificate.check()
    if not result.accepted:
        raise InvalidArgument(f"proofs: the checker rejects certificate {certificate.id}: {result.reason}")
    return result.checked


def _certificate_table(listed: Mapping[str, Sequence[Certificate]], accepted: Mapping[str, Sequence[str]]) -> str:
    rows: list[tuple[str, ...]] = []
    for key, group in listed.items():
        title = f", {formulas(statements()[key].title)}" if key in statements() else ""
        if group:
            rows.append((rf"\multicolumn{{3}}{{@{{}}{_ragged(1)}@{{}}}}{{{code(key)}{title}}}",))
        for certificate in group:
            checked = accepted.get(certificate.id) or _checked(certificate)
            name = rf"\phantomsection\label{{cert:{certificate.id}}}{identifier(certificate.id)}"
            rows.append((name, certificate.kind, findings(checked)[-1]))
        if group:
            rows[-1] = (*rows[-1][:-1], rows[-1][-1] + r"\smallskip")
    table = _longtable(
        f"@{{}}{_ragged(0.3)}l{_ragged(0.5)}@{{}}",
        ("certificate", "kind", "what the checker concludes"),
        rows,
        caption="The certificates, each accepted by the checker for this document.",
        label="tab:certificates",
        size="footnotesize",
    )
    return f"\\section{{Certificates}}\n\\label{{sec:certificates}}\n{table}"


# -- figures -----------------------------------------------------------------------------------------------


def _figures(plots: str | os.PathLike[str] | None) -> tuple[Path, ...]:
    if plots is None:
        return ()
    return tuple(path for name in FIGURES if (path := Path(plots) / f"{name}.pdf").is_file())


def _measurements(figures: Sequence[Path]) -> str:
    """A section with the figures of the run, each of them named in its text; nothing without figures."""
    if not figures:
        return ""
    refs = [rf"Figure~\ref{{fig:{path.stem}}} shows {FIGURES[path.stem].shows}" for path in figures]
    words = "The figures belong to the same run.  " + ".  ".join(refs) + "."
    return "\n".join((r"\section{Measurements}", r"\label{sec:measurements}", words, *map(_figure, figures)))


def _figure(path: Path) -> str:
    caption = path.with_suffix(".txt")
    words = formulas(caption.read_text(encoding="utf-8").strip()) if caption.is_file() else ""
    return "\n".join(
        (
            r"\begin{figure}[htbp]",
            r"\centering",
            rf"\includegraphics[width=\textwidth]{{figures/{path.name}}}",
            rf"\caption{{{words}}}",
            rf"\label{{fig:{path.stem}}}",
            r"\end{figure}",
        )
    )
