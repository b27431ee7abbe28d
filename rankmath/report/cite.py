"""How to cite a statement, a certificate, or rankmath itself: LaTeX, BibTeX, Markdown."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

from rankmath.certificates.certificate import Certificate
from rankmath.checker.statements import STATEMENTS
from rankmath.claims import current, statement, statements
from rankmath.formula.printing import latex
from rankmath.formula.prose import escape, formulas, own_words
from rankmath.printing import did_you_mean
from rankmath.report.fragments import (
    LOOSE,
    in_words,
    is_lacking,
    notation,
    of_its_own,
    stated,
    told_once,
    without_fit,
    written_out,
)
from rankmath.report.latex import code, identifier
from rankmath.report.sources import (
    bibliography,
    certificate_file,
    certificate_in,
    cited_by,
    committed_certificates,
    field,
    machine_checked,
    publication,
    stated_by,
)
from rankmath.report.theorems import AT_REST, data_shown, equilibrium_statement, in_signs, letters_told, said_alone
from rankmath.validation import InvalidArgument, as_choice
from rankmath.verification.statement import Statement
from rankmath.version import __version__

FORMATS = ("latex", "bibtex", "markdown")


def software_entry() -> str:
    """The BibTeX entry of this version of rankmath.

    >>> print(software_entry().splitlines()[0])
    @misc{rankmath,
    """
    name, _, rest = publication()["title"].partition(":")
    return _entry("rankmath", {"title": f"{{{name}}}:{rest}", "note": f"Version {_licensed()}"})


def software(format: str) -> str:
    """How to cite this version of rankmath, as "latex", "bibtex" or "markdown".

    >>> print(software("latex"))
    \\texttt{rankmath} \\cite{rankmath}
    """
    as_choice("format", format, FORMATS)
    return {"latex": r"\texttt{rankmath} \cite{rankmath}", "bibtex": software_entry(), "markdown": _itself()}[format]


def _itself() -> str:
    """The library as one line of Markdown; with an address, if it has one."""
    said = publication()
    where = f"https://doi.org/{said['doi']}" if "doi" in said else said.get("url", "")
    return f"{said['author']}. *{said['title']}*. Version {__version__}. {where}".rstrip()


def _licensed() -> str:
    return f"{__version__}, {publication()['license']} license"


def _entry(key: str, fields: dict[str, str]) -> str:
    """A BibTeX entry of ours: author, year and address (a DOI, a URL) are those of CITATION.cff."""
    said = publication()
    whole = {"author": f"{{{said['author']}}}", "year": said["date-released"][:4], "howpublished": "Python package"}
    whole |= {name: said[name] for name in ("doi", "url") if name in said} | fields
    return _misc(key, whole)


def _misc(key: str, fields: dict[str, str]) -> str:
    lines = "".join(f"  {name:<12} = {{{value}}},\n" for name, value in fields.items())
    return f"@misc{{{key},\n{lines}}}"


@dataclass(frozen=True)
class Citation:
    """What is cited: a statement's claim, what is known of it and where, the certificates, the sources."""

    key: str
    title: str
    claim: tuple[str, ...]
    source: str
    truth: str
    certificates: tuple[tuple[str, str], ...]
    bibtex: tuple[str, ...]
    #: Hypotheses, letters of its own, quantities in words, and what else is known.
    premises: tuple[str, ...] = ()
    letters: tuple[str, ...] = ()
    meanings: tuple[tuple[str, str], ...] = ()
    notes: str = ""
    #: Whether the claim is formulas, to be displayed; else it is a text with formulas in it.
    displayed: bool = True
    #: What tokens, layers and attention are, as LaTeX.
    notation: str = ""
    #: Whether the claim is the user's own, and not a registered statement.
    users: bool = False
    #: The id of the certificate whose file is cited, if it is one.
    file: str = ""
    #: The claim as LaTeX in one line, where it has no title: what tells two such claims apart in a list.
    formula: tuple[str, ...] = ()

    def text(self, format: str) -> str:
        """The citation as "latex", "bibtex" or "markdown"."""
        write: dict[str, Callable[[], str]] = {"latex": self._latex, "bibtex": self._bibtex, "markdown": self._markdown}
        return write[as_choice("format", format, FORMATS)]()

    def _latex(self) -> str:
        cites = ",".join((*self.bibtex, self.entry_key))
        lines = [
            f"{self._worded(self.title)} ({code(self.key)}, \\cite{{{cites}}}).",
            *((told_once(self.notation, self.key),) if self.notation else ()),
            *(("The following is false.",) if self.truth.startswith("refuted") else ()),
            *self._quoted(),
            f"{_breaking(escape(self.truth[0].upper() + self.truth[1:]))}.",
            *((formulas(self.notes),) if self.notes else ()),
        ]
        lines += [f"Certificate {identifier(name)}: {_SHOWS[kind]}." for name, kind in self.certificates]
        lines.append(f"{self._worded(self._stated_by)}.")
        return written_out("\n".join((rf"\begingroup{LOOSE.strip()}%", *lines, r"\par\endgroup")))

    @property
    def entry_key(self) -> str:
        """The key of the BibTeX entry of what is cited: one for each statement and certificate file, so that two
        never collide."""
        return f"rankmath:{self.file or self.key}"

    def _worded(self, words: str) -> str:
        """Words as LaTeX: of a user's, mathematics is what is marked as such."""
        return own_words(words) if self.users else formulas(words)

    @property
    def _stated_by(self) -> str:
        if self.users:
            did = "proved it" if self.certificates[0][1] == "derivation" else "decided this instance of it"
            return f"{self._whose}; rankmath {did}"
        return stated_by(self.source)

    @property
    def _whose(self) -> str:
        """Where a claim that is the user's is from."""
        return f"The claim is from {self.source}" if self.source else "The claim is the author's"

    def _bibtex(self) -> str:
        """The entry of this statement or certificate; those of its papers stand in `sources`."""
        where = f"{self.truth[0].upper()}{self.truth[1:]}".partition(";")[0]
        where += f"; {self._whose[:1].lower()}{self._whose[1:]}" if self.users else ""
        ids = ", ".join(name for name, _ in self.certificates)
        note = f"{where}{f'; certificate {ids}' if ids else ''}; rankmath {_licensed()}"
        # Styles turn capitals outside of braces into small letters, and so matrices into vectors.
        if self.users:  # nobody knows its author; styles sort by the key what has none
            title = own_words(self.title) + "".join(f": {formula}" for formula in self.formula)
            year = publication()["date-released"][:4]
            fields = {"key": self.key, "title": f"{{{written_out(title)}}}", "year": year, "note": own_words(note)}
            return _misc(self.entry_key, fields)
        title = f"{{{escape(self.key)}}}, as {{rankmath}} has it: {{{formulas(self.title)}}}"
        return _entry(self.entry_key, {"title": title, "note": escape(note)})

    @property
    def sources(self) -> dict[str, str]:
        """The BibTeX entries of the papers it comes from, by their keys."""
        return {key: bibliography()[key] for key in self.bibtex}

    def _quoted(self) -> tuple[str, ...]:
        """The same in LaTeX, whose lines may be broken: a formula wider than a column is no display."""
        if not self.displayed:
            return self.claim
        return (r"\begin{quote}\raggedright", *stated(self), r"\end{quote}", *in_words(self))

    @property
    def conclusion(self) -> tuple[str, ...]:
        return self.claim

    def _statement(self) -> list[str]:
        """Hypotheses, conclusion, letters, and what the quantities are, in Markdown."""
        if not self.displayed:
            return [_as_markdown(part) for part in self.claim]
        lines = [f"Suppose: {'; '.join(self.premises)}. Then"] if self.premises else []
        lines += [f"$$\n{part}\n$$" for part in self.claim]
        if self.letters:
            lines.append(f"where {', '.join(f'${letter}$' for letter in self.letters)}.")
        for shown, meaning in self.meanings:
            lines.append(f"In words: {meaning}." if shown in self.claim else f"Here ${shown}$: {meaning}.")
        return lines

    def _markdown(self) -> str:
        lines = [
            f"**{self.title}** (`{self.key}`)",
            *((_as_markdown(self.notation),) if self.notation else ()),
            *(("The following is false.",) if self.truth.startswith("refuted") else ()),
            "\n".join(self._statement()),
            f"{self._stated_by}.",
            f"{self.truth[0].upper() + self.truth[1:]}." + (f" {self.notes}" if self.notes else ""),
        ]
        lines += [f"Certificate `{name}`: {_SHOWS[kind]}." for name, kind in self.certificates]
        papers = [_in_words(bibliography()[key]) for key in self.bibtex]
        return "\n\n".join([*filter(None, lines), "\n".join(f"- {line}" for line in (*papers, _itself()))])


#: What a certificate of each kind shows.
_SHOWS = {
    "holds": "an instance that satisfies it",
    "violates": "an instance that refutes it",
    "exists": "an instance of what it says exists",
    "derivation": "a derivation of it from lemmas, line by line",
    "lacks": "an instance that does not have what is asked",
}
#: What a certificate says of a claim that is the user's: a title, and what is known.
_OWN = {
    "violates": ("A claim that is false", "refuted"),
    "holds": ("An instance of a claim", "held at one instance"),
    "exists": ("A claim of existence", "shown at one instance"),
    "derivation": ("A claim that is proved", "proved"),
    "lacks": ("A claim of existence", "open: one instance does not have what is asked"),
}


def _breaking(tex: str) -> str:
    """Lines may break inside the names of files and theorems."""
    return re.sub(r"(?<=[/.]|_)(?=[a-z])", r"\\allowbreak ", tex)


def _as_markdown(tex: str) -> str:
    """A text with formulas: displays between dollar signs, our own commands written out."""
    display = r"\n\n$$\n\\begin{aligned}\1\\end{aligned}\n$$\n\n"
    lined = re.sub(r"\\begin\{align\*\}(.*?)\\end\{align\*\}", display, without_fit(written_out(tex)), flags=re.S)
    lined = re.sub(
        r"\{(?:\\allowdisplaybreaks)?\\renewcommand\{\\arraystretch\}\{[\d.]+\}%?\n?(.*?\$\$\s*)\}",
        r"\1",
        lined,
        flags=re.S,
    )
    # Behind a second backslash the bracket is that of a line break.
    return re.sub(r"\s*(?<!\\)\\\[(.*?)\\\]\s*", lambda found: f"\n$$\n{found[1]}\n$$\n", lined, flags=re.S)


def _in_words(entry: str) -> str:
    """Authors, title, year and number of a BibTeX entry, as one line."""
    authors, title, year, number = (field(entry, name) for name in ("author", "title", "year", "eprint"))
    people = [" ".join(reversed(name.split(", "))) for name in (authors or "").split(" and ")]
    listed = people[0] if len(people) == 1 else f"{', '.join(people[:-1])} and {people[-1]}"
    listed, plain = (_ACCENT.sub(_accented, words).replace("{", "").replace("}", "") for words in (listed, title or ""))
    where = f" https://arxiv.org/abs/{number}" if number else ""
    return f"{listed}. *{plain}*. {year}.{where}"


#: An accent of LaTeX and its letter; the combining characters that these accents are.
_ACCENT = re.compile(r"\{?\\([\"'`^~=.]|[cvuHkr](?=[ {]))\s*\{?\\?([A-Za-z])\}?\}?")
_COMBINING = dict(
    zip("\"'`^~=.cvuHkr", "\u0308\u0301\u0300\u0302\u0303\u0304\u0307\u0327\u030c\u0306\u030b\u0328\u030a", strict=True)
)


def _accented(found: re.Match[str]) -> str:
    return normalize("NFC", found[2] + _COMBINING[found[1]])


def citation(what: str | os.PathLike[str]) -> Citation:
    """The citation of a statement's key, or of a certificate's file, which must pass the checker.

    >>> citation("own:tv").bibtex
    ()
    >>> print(citation("own:tv").text("latex").splitlines()[-3].partition(";")[0].replace(r"\\allowbreak ", ""))
    Proved in proofs/own\\_tv.tex
    """
    name = current(os.fspath(what))
    if name in statements():
        return _of_statement(name, tuple(c for c in committed_certificates().get(name, ()) if c.kind != "holds"))
    if not Path(name).is_file():
        if name in STATEMENTS:
            files = [f"proofs/certificates/{certificate_file(c)}" for c in committed_certificates().get(name, ())]
            raise InvalidArgument(
                f"what: {name!r} given; it is a claim of certificates alone, so that only a certificate's file of it"
                f" can be cited{f', such as {files[0]}' if files else ''}"
            )
        raise InvalidArgument(
            f"what: {name!r} given; a certificate file or a statement is needed"
            f"{did_you_mean(name, statements()) or '; `rankmath list` shows all'}"
        )
    certificate = certificate_in(name)
    key = current(certificate.statement)
    result = certificate.check()
    if not result.accepted:
        raise InvalidArgument(f"what: {name} given; the checker rejects it: {result.reason}")
    if certificate.statement in AT_REST:
        found = _of_equilibrium(certificate)
    elif key not in statements():
        found = _of_family(certificate, result.checked)
    else:
        found = _of_statement(key, (certificate,))
    return replace(found, file=certificate.id)


def _of_equilibrium(certificate: Certificate) -> Citation:
    """What the certificate says, in full: the map, the ball, the rank, the attraction."""
    data = certificate.data
    n, d = len(data["tokens"]), len(data["tokens"][0])
    attracts = ", attracting" if "ball" in data or data.get("attracting") else ""
    return Citation(
        key=certificate.statement,
        title=f"LayerNorm equilibrium: {n} tokens of dimension {d}, rank {data.get('rank')}{attracts}",
        claim=(equilibrium_statement(certificate),),
        source="this library",
        truth="proved by the certificate, which the command rankmath check re-derives",
        certificates=((certificate.id, certificate.kind),),
        bibtex=(),
        displayed=False,
    )


def _of_family(certificate: Certificate, checked: Sequence[str]) -> Citation:
    """A claim that no registered statement makes: the user's, or one that the checker alone knows."""
    entry = of_its_own(certificate)
    if entry is not None:
        kind = "lacks" if is_lacking(certificate, entry) else certificate.kind
        return Citation(
            key=certificate.statement,
            title=entry.title or _OWN[kind][0],
            source=entry.source,
            truth=f"{_OWN[kind][1]}, by the certificate",
            certificates=((certificate.id, kind),),
            bibtex=(),
            users=True,
            formula=() if entry.title else (f"${latex(entry.claimed)}$",),
            **_stated_in(entry),
        )
    # The sentence is all that it says; a display of it would be a line that nothing breaks.
    sentence = in_signs(said_alone(certificate, checked))
    return Citation(
        key=certificate.statement,
        title=sentence[:1].upper() + sentence[1:],
        claim=(f"{letters_told(certificate)}{data_shown(certificate.data)}",),
        source="this library",
        truth="shown by the certificate alone",
        certificates=((certificate.id, certificate.kind),),
        bibtex=(),
        displayed=False,
    )


def _of_statement(key: str, certificates: tuple[Certificate, ...]) -> Citation:
    entry = statement(key)
    known = {"proved": "proved in", "refuted": "refuted in", "open": "open; see"}[entry.status]
    # Seen from the statement: what violates the triangle inequality exists, says dong2021:norm.
    shows = {"violates": "exists"} if entry.status == "proved" else {}
    return Citation(
        key=key,
        title=entry.title,
        notes=entry.notes,
        source=entry.source,
        truth=f"{known} {entry.truth}{_machine_checked(entry.key)}",
        certificates=tuple((c.id, shows.get(c.kind, c.kind)) for c in certificates),
        bibtex=cited_by(entry.source),
        **_stated_in(entry),
    )


def _stated_in(entry: Statement) -> dict[str, Any]:
    """What is quoted of a statement: conclusion, hypotheses, letters, quantities in words, and the notation."""
    quoted = {name: getattr(entry, name) for name in ("premises", "letters", "meanings")}
    return {**quoted, "claim": entry.conclusion, "notation": notation(entry)}


def _machine_checked(key: str) -> str:
    """The Coq theorems that prove or refute the displayed formula (a note may say more)."""
    theorems = machine_checked().get(key, ())
    parts = [f"{name.removeprefix('Rankmath.')}{f' ({scope})' if scope else ''}" for name, scope in theorems]
    return f"; the formula as displayed machine-checked in proofs/coq: {'; '.join(parts)}" if parts else ""
