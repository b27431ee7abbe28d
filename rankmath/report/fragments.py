"""LaTeX that pastes into a paper: our own commands written out, the notation said before it is used.

A fragment compiles by ``\\input`` in any article that loads amsmath, amssymb and amsthm.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from typing import Protocol

from rankmath.certificates.certificate import Certificate
from rankmath.checker.checker import MAX_TEXT
from rankmath.formula.printing import text
from rankmath.formula.prose import formulas
from rankmath.report.latex import FIT, breakable, with_fit
from rankmath.report.sources import preamble
from rankmath.validation import InvalidArgument
from rankmath.verification.statement import Quantifier, Statement

#: What a fragment with a theorem begins with: the author's own environment is kept where there is one.
ENVIRONMENT = "\\ifcsname theorem\\endcsname\\else\\newtheorem{theorem}{Theorem}\\fi\n"

#: Lines that would stick out are stretched instead, up to the end of the environment.
LOOSE = r"\emergencystretch=12em\hbadness=10000 "


def label(name: str) -> str:
    """A label that is set once, also where two fragments of one paper hold the same theorem.

    >>> print(label("rm-1"))
    \\ifcsname once:rm-1\\endcsname\\else\\label{rm-1}\\expandafter\\gdef\\csname once:rm-1\\endcsname{}\\fi
    """
    seen = rf"\csname once:{name}\endcsname"
    return rf"\if{seen[1:]}\else\label{{{name}}}\expandafter\gdef{seen}{{}}\fi"


def told_once(tex: str, place: str) -> str:
    """A notation, set but below itself: in its `place` also when LaTeX sets that place again, as on an overlay."""
    if not tex:
        return ""
    own, here = (f"{zlib.crc32(text.encode()):08x}" for text in (tex, place))
    named = "".join(rf"\expandafter\gdef\csname once:{name}\endcsname{{{name}}}" for name in (own, here))
    again = rf"{_same('place', here)}{FORGOTTEN}\fi"
    told = "".join(
        rf"\global\expandafter\let\csname once:{of}\expandafter\endcsname\csname once:{name}\endcsname"
        for of, name in (("notation", own), ("place", here))
    )
    return rf"{named}{again}{_same('notation', own)} The notation is that above.\else{chr(10)}{tex}{told}\fi{{}}"


def _same(of: str, name: str) -> str:
    return rf"\expandafter\ifx\csname once:{of}\expandafter\endcsname\csname once:{name}\endcsname"


#: Where a theorem has a notation of its own, that of a network is no longer "that above".
FORGOTTEN = r"\global\expandafter\let\csname once:notation\endcsname\relax{}"


# -- our own commands --------------------------------------------------------------------------------------


def _braced(tex: str, start: int) -> int:
    """The place behind the brace that closes the one at `start`."""
    depth = 0
    for place in range(start, len(tex)):
        escaped = place > 0 and tex[place - 1] == "\\"
        depth += 0 if escaped else (tex[place] == "{") - (tex[place] == "}")
        if depth == 0:
            return place + 1
    raise ValueError(f"a brace is not closed: {tex[start : start + 40]!r}")


@cache
def commands() -> Mapping[str, tuple[int, str]]:
    """The commands of proofs/preamble.tex: how many arguments each takes, and what it stands for.

    >>> commands()["norm"], commands()["softmax"]
    ((1, '\\\\lVert #1\\\\rVert'), (0, '\\\\operatorname{softmax}'))
    """
    tex = re.sub(r"(?<!\\)%.*", "", preamble())
    found = {}
    for match in re.finditer(r"\\(newcommand|DeclareMathOperator)\{\\(\w+)\}(?:\[(\d)\])?(?=\{)", tex):
        body = tex[match.end() + 1 : _braced(tex, match.end()) - 1]
        found[match[2]] = int(match[3] or 0), body if match[1] == "newcommand" else rf"\operatorname{{{body}}}"
    return {name: entry for name, entry in found.items() if not name.startswith("rm")}


def written_out(tex: str, values: Mapping[str, str] | None = None) -> str:
    """The text with every command of our own replaced by what it stands for, and `values` in their places.

    >>> print(written_out(r"$\\norm{\\WQK}_2\\le\\one\\tp x$"))
    $\\lVert W_{QK}\\rVert_2\\le\\mathbf{1}^{\\mathsf T}x$
    """
    supplied = values or {}
    tex = re.sub(r"\\rmvalue\{([^}]*)\}", lambda name: supplied[name[1]], tex)
    tex = re.sub(
        r"\\rmreport\{([^}]*)\}",
        lambda key: f"\\par\\medskip\\noindent {said}\\par" if (said := supplied.get(f"report:{key[1]}")) else "",
        tex,
    )
    known = commands()
    pattern = re.compile(rf"\\({'|'.join(sorted(known, key=len, reverse=True))})(?![A-Za-z])[ ]*")
    while (found := pattern.search(tex)) is not None:
        count, body = known[found[1]]
        end, arguments = found.end(), []
        for _ in range(count):
            # TeX takes one sign or one command where no brace opens.
            single = re.compile(r"\\[A-Za-z]+|[^{}]").match(tex, end)
            stop = _braced(tex, end) if single is None else single.end()
            arguments.append(tex[end + 1 : stop - 1] if single is None else tex[end:stop])
            end = stop
        for place, argument in enumerate(arguments, 1):
            body = body.replace(f"#{place}", argument)
        # A command that ends in a letter must not run into the next one.
        for left, right in ((tex[: found.start()], body), (body, tex[end:])):
            if re.search(r"\\[A-Za-z]+$", left) and right[:1].isalpha():
                body = f"{body} " if left is body else f" {body}"
        tex = f"{tex[: found.start()]}{body}{tex[end:]}"
    return with_fit(tex)


def without_fit(tex: str) -> str:
    """The text with every formula in one type, for what is no paper.

    >>> without_fit(r"$a\\le\\rankmathfit{\\frac{b}{c}}$")
    '$a\\\\le\\\\frac{b}{c}$'
    """
    command, tex = r"\rankmathfit{", tex.replace(f"{FIT}%\n", "")
    while (start := tex.find(command)) >= 0:
        end = _braced(tex, start + len(command) - 1)
        tex = tex[:start] + tex[start + len(command) : end - 1] + tex[end:]
    return tex


# -- notation ----------------------------------------------------------------------------------------------


def notation(entry: Statement) -> str:
    """What a network is, for the statement's hypotheses: tokens, the layer, the attention; empty for arrays.

    >>> from rankmath.claims import statement
    >>> print(notation(statement("own:skip-lower")).partition("makes ")[2].splitlines()[0])
    \\[X^{l+1}=X^{l}+\\sum_{h}P^{l,h}X^{l}W^{l,h}+\\mathbf 1o_l^{\\mathsf T},\\]
    """
    return "" if entry.arrays else notation_under({text(part) for part in entry.hypotheses})


def notation_under(given: Collection[str]) -> str:
    """The same under these hypotheses, as they are typed."""
    skip = "" if "skip == 0" in given else "X^{l}+" if "skip == 1" in given else r"\lambda X^{l}+"
    factor = r", $\lambda\in\mathbb{R}$" if "lambda" in skip else ""
    bias = "" if "bias == none" in given else r"+\mathbf 1o_l^{\mathsf T}"
    before = "norm_at == before" in given
    read = "Z^{l}" if before else "X^{l}"
    sent = rf"{skip}\sum_{{h}}P^{{l,h}}{read}W^{{l,h}}{bias}"
    steps = []
    if "mlp == none" not in given:
        steps.append("every token $y$ mapped to $f_l(y)$")
    norm = next((said for kind, said in _NORMED.items() if f"layernorm == {kind}" in given), _ANY_NORM)
    # Only what divides tokens at the end of a layer divides those of the input.
    entered = ", every token, none of them 0, divided by its length" if norm is _NORMED["sphere"] and not before else ""
    if "layernorm == none" not in given and not before:
        steps.append(norm)
    made = "Y^{l}" if steps else "X^{l+1}"
    lines = [
        rf"Tokens are the rows of $X^{{l}}\in\mathbb{{R}}^{{n\times d}}$; $X^{{0}}$ is the input{entered}. With heads",
        rf"$h=0,\dots,H-1$ layer $l=0,\dots,L-1$ ($H,L\ge1$, $d_{{qk}}>0${factor}) makes \[{made}={sent},\]",
    ]
    words = [r"$W^{l,h}=W_VW_O$", r"$W_{QK}^{l,h}=W_QW_K^{\mathsf T}$"]
    words += [r"$o_l^{\mathsf T}=\sum_hb_VW_O+b_O$"] if bias else []
    kinds = r"(positions|softcap|qk_norm) == (?!none).*"
    if scores := dict(part.split(" == ") for part in given if re.fullmatch(kinds, part)):
        # Queries and keys may be normed and turned, logits capped and moved: no bilinear form says that.
        places = scores.get("positions")
        made_of = ["normed"] * ("qk_norm" in scores) + ["turned"] * (places in ("any", "rotary"))
        changes = [f"they are {' and '.join(made_of)}"] if made_of else []
        if "softcap" in scores:
            changes.append(r"$S^{l,h}_{ij}$ is capped, $t\tanh(S^{l,h}_{ij}/t)$ with a number $t>0$")
        if places in ("any", "alibi", "relative"):
            changes.append("a term of the places $i$ and $j$ is added")
        lines += [
            r"\[P^{l,h}=\operatorname{softmax}(S^{l,h}),\quad S^{l,h}_{ij}=\langle q_i,k_j\rangle/\sqrt{d_{qk}},\]",
            rf"$q_i$ and $k_j$ the rows of ${read}W_Q+\mathbf 1b_Q$ and ${read}W_K+\mathbf 1b_K$; where the",
            f"hypotheses allow it {', and '.join(filter(None, (', '.join(changes[:-1]), changes[-1])))};",
        ]
    else:
        biased = "" if "query_bias == none" in given else rf"+\mathbf 1({read}k_{{l,h}})^{{\mathsf T}}"
        words += [r"$k_{l,h}=W_Kb_Q^{\mathsf T}$"] if biased else []
        logits = rf"{read}W_{{QK}}^{{l,h}}({read})^{{\mathsf T}}{biased}"
        lines.append(rf"\[P^{{l,h}}=\operatorname{{softmax}}(({logits})/\sqrt{{d_{{qk}}}}),\]")
    seen = "the tokens that the row's token sees, one at least: all where there is no mask"
    lines.append(f"the softmax of every row, over {seen}. Of queries, keys, values and outputs {', '.join(words)}.")
    if before:
        lines.append(rf"$Z^{{l}}$ is $X^{{l}}$ with {norm}.")
    if steps:
        lines.append(rf"$X^{{l+1}}$ is $Y^{{l}}$ with {', then '.join(steps)}.")
    return "\n".join(lines)


_ANY_NORM = "LayerNorm applied as the hypotheses say"
#: What each LayerNorm does.
_NORMED = {
    "sphere": "every token divided by its Euclidean norm, which is not 0",
    "column": r"the mean of every column taken from it, the rest $y$ divided by $\sqrt{\|y\|_2^2/n+\varepsilon}$,"
    r" $\varepsilon\ge0$ (by 1 where that is 0)",
    "standard": r"the mean of every token's entries taken from it, and the rest $x$ divided by $\sqrt{\|x\|_2^2/d+"
    r"\varepsilon}>0$, $\varepsilon\ge0$, times a gain, entry by entry, plus an offset",
    "rms": r"every token $x$ divided by $\sqrt{\|x\|_2^2/d+\varepsilon}>0$, $\varepsilon\ge0$, times a gain $g$,"
    " entry by entry, plus an offset",
}


# -- what a longer fragment asks for ------------------------------------------------------------------------

#: The environments of proofs/, each with the counter it shares.
_ENVIRONMENTS = ("lemma", "proposition", "corollary", "definition", "example", "remark")

#: Handed over beside an appendix in somebody's paper: packages, environments, and the change to one column.
STYLE = "\n".join(
    (
        r"\ProvidesPackage{rankmath}[2026/11/18 what a fragment of rankmath's appendix needs]",
        r"\@ifclassloaded{beamer}{\PackageError{rankmath}{An appendix has sections and tables over pages:",
        r"put statements on slides, by rankmath cite}{}}{}",
        # Classes such as llncs have a proof of their own, beside which amsthm cannot be loaded.
        r"\@ifundefined{proof}{\RequirePackage{amsthm}}{\providecommand{\qedhere}{}}",
        r"\RequirePackage{amsmath,amssymb,array,booktabs,longtable,graphicx,hyperref}",
        # At the document's beginning: the author may declare environments behind this package.
        r"\AtBeginDocument{\@ifundefined{theoremstyle}{}{\theoremstyle{plain}}",
        r"\@ifundefined{theorem}{\newtheorem{theorem}{Theorem}}{}",
        *(
            rf"\@ifundefined{{{name}}}{{\newtheorem{{{name}}}[theorem]{{{name.capitalize()}}}}}{{}}"
            for name in _ENVIRONMENTS
        ),
        "}",
        r"\setlength{\LTcapwidth}{\textwidth}",
        r"\setcounter{MaxMatrixCols}{40}",
        r"\allowdisplaybreaks",
        # Its tables run over pages, which LaTeX has in one column alone.
        r"\newcommand{\rankmathcolumn}{\if@twocolumn\onecolumn\fi}",
        "",
    )
)


# -- statements ----------------------------------------------------------------------------------------------


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
        given = (breakable(part.strip("$")) if part.startswith("$") else formulas(part) for part in entry.premises)
        lines.append(rf"Suppose: {'; '.join(given)}.  Then\\*[3pt]")
    return [*lines, r",\\*[3pt] ".join(map(breakable, (*entry.conclusion, *entry.letters))) + "."]


def in_words(entry: Stated) -> list[str]:
    """What each quantity of it is, as LaTeX."""
    return [
        f"In words: {formulas(said)}." if shown in entry.conclusion else f"Here {breakable(shown)}: {formulas(said)}."
        for shown, said in entry.meanings
    ]


def in_its_words(certificate: Certificate, entry: Statement) -> Certificate:
    """The certificate with the title and the source of the claim, which is the user's, as what it is about."""
    said = {"asked": _ASKED if is_lacking(certificate, entry) else "", "title": entry.title, "source": entry.source}
    lines = [f"{name}: {' '.join(words.split())}" for name, words in said.items() if words.strip()]
    return replace(certificate, about="\n".join(lines)[:MAX_TEXT]) if lines else certificate


_ASKED = "whether some network has it"


def is_lacking(certificate: Certificate, entry: Statement | None) -> bool:
    """Whether the claim is that some network has it, and this one does not: that refutes nothing."""
    return entry is not None and entry.quantifier == "some" and certificate.kind == "violates"


def of_its_own(certificate: Certificate) -> Statement | None:
    """A claim that the certificate alone carries, where it is one about networks; its title and source if it has any.

    >>> claim = Statement("mine:a", "mu(X[1]) >= 0", title="Spread", source="my notes")
    >>> certificate = Certificate("mine:a", "holds", {}, claim=claim.claim_text)
    >>> found = of_its_own(in_its_words(certificate, claim))
    >>> found.title, found.source
    ('Spread', 'my notes')
    """
    said = dict(re.findall(r"^(asked|title|source): (.+)$", certificate.about, flags=re.MULTILINE))
    try:
        asked = said.pop("asked", "") == _ASKED
        some: Quantifier = "some" if asked or certificate.kind == "exists" else "all"
        return Statement(certificate.statement, certificate.claim, tuple(certificate.given), quantifier=some, **said)
    except InvalidArgument:
        return None
