"""A certificate as a theorem: what it says, with every letter defined, and the argument; it compiles alone."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Protocol

from rankmath.certificates.certificate import Certificate, Data, number
from rankmath.claims import statements
from rankmath.claims.dong2021_many_tokens import Kinds, LoneQuery, MeanKinds, TokenKinds
from rankmath.claims.dong2021_two_heads import FourKeys, TwoHeads
from rankmath.report.latex import (
    breakable,
    code,
    escape,
    exact_data,
    exact_math,
    exact_matrix,
    exact_scalar,
    formulas,
    identifier,
)
from rankmath.report.sources import cited_by, preamble
from rankmath.validation import InvalidArgument
from rankmath.verification.statement import Statement

#: Certificates of equilibria of self-attention with LayerNorm.
EQUILIBRIUM = "own:layernorm-equilibrium"

#: The refutations given by a few numbers, and what these numbers are.
FAMILIES: dict[str, type[Kinds]] = {
    "dong2021v1:2.2": TokenKinds,
    "dong2021v1:2.2-mean": MeanKinds,
    "dong2021v1:2.3": TwoHeads,
    "dong2021:2.2-unhedged": LoneQuery,
    "dong2021:2.3-printed": FourKeys,
}


def letters(key: str) -> tuple[str, ...]:
    """What the letters of a certificate's few numbers stand for, line by line; none where there are no letters.

    Examples
    --------
    >>> letters("dong2021v1:2.3")[0]
    'Two heads, two tokens ±e_1 of width d = side²; both heads have W_QK/√d_qk = `logit` · e_1e_1ᵀ and no bias.'
    """
    family = FAMILIES.get(key)
    said = "" if family is None else (inspect.getdoc(family) or "").partition("Examples\n")[0]
    return tuple(line for line in said.splitlines() if line.strip())


def theorem(certificate: Certificate) -> str:
    """Theorem and proof as LaTeX for a paper's appendix; a certificate that the checker rejects is refused."""
    result = certificate.check()
    if not result.accepted:
        raise InvalidArgument(f"certificate: {certificate.id} given; the checker rejects it: {result.reason}")
    if certificate.statement == EQUILIBRIUM:
        statement, argument = equilibrium_statement(certificate), _EQUILIBRIUM_ARGUMENT
        title = "Equilibrium of self-attention with LayerNorm"
    else:
        statement, argument = _instance_statement(certificate), _INSTANCE_ARGUMENT
        title = f"Instance of {certificate.statement}"
    checked = "\n".join(rf"  \item {escape(line)}" for line in result.checked)
    return rf"""\begin{{theorem}}[{escape(title)}]\label{{{certificate.id}}}
{statement}
\end{{theorem}}
\begin{{proof}}
{argument}
All numbers are in certificate {identifier(certificate.id)}, as integers and fractions.  The checker, which trusts
nothing in the file and shares no code with the program that wrote it, finds:
\begin{{itemize}}\raggedright
{checked}
\end{{itemize}}
It is run by {code("rankmath check FILE")}.
\end{{proof}}"""


def document(certificates: Sequence[Certificate]) -> str:
    """The theorems as a document of their own: pdflatex, twice."""
    body = "\n\n".join(theorem(certificate) for certificate in certificates)
    return "\n".join(
        (
            r"\documentclass[11pt]{article}",
            r"\usepackage[utf8]{inputenc}",
            r"\usepackage[a4paper,margin=27mm]{geometry}",
            preamble().rstrip(),
            r"\emergencystretch=10em",
            r"\begin{document}",
            body,
            r"\end{document}",
            "",
        )
    )


# -- equilibria --------------------------------------------------------------------------------------------

_EQUILIBRIUM_ARGUMENT = r"""Existence and uniqueness follow from Krawczyk's test: with an approximate inverse $Y$ of
the derivative of $F(X)-X$ and an interval enclosure $D$ of that derivative over the box around $X^0$, one has
$\lvert Y(F(X^0)-X^0)\rvert+\lvert I-YD\rvert r<r$ entrywise, so a Newton-like map takes the box strictly into
itself.  The rank is bounded from below by a minor whose enclosure over the box does not contain zero.  Where
attraction is claimed, an enclosure of $R^{-1}\,\mathrm DF\,R$ over the set of starts has spectral norm below $1$,
so $F$ contracts there and, its centre moving less than the contraction gains, maps the set into itself; Banach's
theorem does the rest."""


def equilibrium_statement(certificate: Certificate) -> str:
    """What a certificate of an equilibrium says: the map, the LayerNorm, the ball, the rank, the attraction."""
    data = certificate.data
    tokens = [[number(x) for x in row] for row in data["tokens"]]
    n, d = len(tokens), len(tokens[0])
    allowed = data["mask"]
    complete = all(entry for row in allowed for entry in row)
    centred = data["norm"] == "standard"
    y = r"(y_i-\bar y_i\one\tp)" if centred else "y_i"
    factor = rf"\sqrt{{{d}}}\," if centred else ""
    mean = r", where $\bar y_i$ is the mean of the entries of $y_i$" if centred else ""
    weights = "\n".join(
        rf"  {letter}&={exact_matrix([[number(x) for x in row] for row in data[name]])}{end}"
        for name, letter, end in (("W_V", "W_V", r",\\"), ("W_QK", r"\WQK", r".\\"))
    )
    sees = "all of them" if complete else "those of the mask below"
    root = int(data["d_qk"])
    scale = "" if root == 1 else rf"/\sqrt{{{root}}}"
    parts = [
        rf"Let $n={n}$ tokens of dimension $d={d}$ be the rows $x_1,\dots,x_n$ of $X$, and let",
        rf"\begin{{align*}}{chr(10)}{weights.rstrip(chr(92))}{chr(10)}\end{{align*}}",
        rf"One layer $F$ of self-attention with LayerNorm maps $x_i$ to ${factor}{y}/\norm{{{y}}}_2$, where",
        rf"$y_i=\sum_jA_{{ij}}\,x_jW_V${mean}, and the attention",
        rf"$A_{{ij}}=\exp(x_i\WQK x_j\tp{scale})/\sum_k\exp(x_i\WQK x_k\tp{scale})$ runs over the tokens that",
        rf"token $i$ sees, {sees}.",
    ]
    if not complete:
        rows = [[Fraction(int(entry)) for entry in row] for row in allowed]
        parts.append(rf"Token $i$ sees token $j$ if entry $(i,j)$ of ${exact_matrix(rows)}$ is $1$.")
    radius = number(data["radius"])
    parts.append(
        rf"Then $F$ has a fixed point $X^\star$ whose entries differ by at most ${exact_scalar(radius)}$ from those"
        rf" of $X^0\approx{_decimals(tokens)}$, whose exact entries are in the certificate; it is the only one"
        r" there (where the certificate records equal tokens or zeros, the only one that shares them)."
    )
    if data.get("rank") is not None:
        rank = int(data["rank"])
        parts.append(rf"Its rank is ${rank}$" + ("." if rank <= 1 else ": the tokens do not collapse."))
    attracting = data.get("attracting")
    if attracting:
        rate, ball = number(attracting["rate"]), number(attracting["radius"])
        parts.append(
            rf"It attracts: for all $X=X^0+Rz$ with $\norm{{z}}_2\le{exact_scalar(ball)}$, $R$ the invertible"
            rf" matrix of the certificate acting on the stacked tokens, $F^t(X)\to X^\star$ as $t\to\infty$, the"
            rf" distance $\norm{{R^{{-1}}\cdot}}_2$ shrinking by ${exact_math(rate)}$ in every layer."
        )
    if data.get("repelling"):
        parts.append(r"It is unstable: some directions grow under the derivative of $F$ at $X^\star$.")
    return "\n".join(parts)


def _decimals(rows: Sequence[Sequence[Fraction]]) -> str:
    body = r"\\".join("&".join(f"{float(x):.6f}" for x in row) for row in rows)
    return rf"\begin{{pmatrix}}{body}\end{{pmatrix}}"


# -- instances of statements -------------------------------------------------------------------------------

_INSTANCE_ARGUMENT = r"""Both sides are enclosed in interval arithmetic with directed rounding on integers, or
computed exactly, from the data alone."""

_VERBS = {"holds": "satisfies", "violates": "violates", "exists": "is one that there is according to"}
#: Above this many entries data are left to the certificate.
_MOST_LINES = 40


class Stated(Protocol):
    """A statement, or what is quoted of one: hypotheses, conclusions, letters of its own, quantities in words."""

    @property
    def premises(self) -> tuple[str, ...]: ...
    @property
    def conclusion(self) -> tuple[str, ...]: ...
    @property
    def letters(self) -> tuple[str, ...]: ...
    @property
    def meanings(self) -> tuple[tuple[str, str], ...]: ...


def stated(entry: Stated) -> list[str]:
    """Hypotheses, conclusion and what its letters stand for, as LaTeX whose lines may be broken anywhere."""
    lines = []
    if entry.premises:
        given = (breakable(part.strip("$")) if part.startswith("$") else escape(part) for part in entry.premises)
        lines.append(rf"Suppose: {'; '.join(given)}.  Then\\*[3pt]")
    return [*lines, r",\\*[3pt] ".join(map(breakable, (*entry.conclusion, *entry.letters))) + "."]


def in_words(entry: Stated) -> list[str]:
    """What each quantity of it is, as LaTeX."""
    return [
        f"In words: {formulas(said)}." if shown in entry.conclusion else f"Here ${shown}$: {formulas(said)}."
        for shown, said in entry.meanings
    ]


def _instance_statement(certificate: Certificate) -> str:
    entry = statements().get(certificate.statement) or _of_its_own(certificate)
    source, claim, meanings = "", code(certificate.claim), ""
    if entry is not None:
        cites = cited_by(entry.source)
        source = f" ({escape(entry.source)})" if entry.source else ""
        source += f" % cite: {', '.join(cites)}" if cites else ""
        claim = "\n".join((r"\begin{flushleft}", *stated(entry), r"\end{flushleft}"))
        meanings = "".join(f"{line}\n" for line in in_words(entry))
    verb = _VERBS[certificate.kind]
    meaning = letters(certificate.statement)
    explained = f"{escape(' '.join(meaning))}\n" if meaning else ""
    return (
        f"The following instance {verb} the claim{source}\n{claim}\n{meanings}{explained}{_data(certificate.data)}"
    )


def _of_its_own(certificate: Certificate) -> Statement | None:
    """A claim that the certificate alone carries, where it is one about networks."""
    try:
        return Statement(certificate.statement, certificate.claim, tuple(certificate.given))
    except InvalidArgument:
        return None


def _data(data: Mapping[str, Data]) -> str:
    lines = list(exact_data(data))
    if len(lines) > _MOST_LINES or sum(map(len, lines)) > 6000:
        return "Its data are those of the certificate, too long to be printed."
    body = " \\\\\n".join(f"  &{line}" for line in lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"


__all__ = ["EQUILIBRIUM", "Stated", "document", "equilibrium_statement", "in_words", "stated", "theorem"]
