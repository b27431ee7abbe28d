"""A certificate as a theorem: what it says, with every letter defined, and the argument. `fragment` is for a paper."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction

from rankmath.certificates.certificate import Certificate, Data, number
from rankmath.claims import statements
from rankmath.claims.dong2021_many_tokens import Kinds, LoneQuery, MeanKinds, TokenKinds
from rankmath.claims.dong2021_two_heads import FourKeys, TwoHeads
from rankmath.definitions.hypotheses import SWITCHES
from rankmath.definitions.layer import ACTIVATIONS
from rankmath.formula import read_formula
from rankmath.formula.language import LETTERS
from rankmath.formula.printed import OwnForm, latex_letter
from rankmath.formula.printing import latex, text, words
from rankmath.formula.prose import escape, formulas, own_words
from rankmath.report.derivations import derived
from rankmath.report.fragments import (
    ENVIRONMENT,
    FORGOTTEN,
    LOOSE,
    in_words,
    is_lacking,
    label,
    notation,
    of_its_own,
    stated,
    told_once,
    written_out,
)
from rankmath.report.latex import (
    breakable,
    code,
    exact_data,
    exact_math,
    exact_matrix,
    exact_rows,
    exact_scalar,
    fitting,
    identifier,
    is_letter,
    matrix,
    shown_value,
)
from rankmath.report.sources import cited_by, ours_named
from rankmath.validation import InvalidArgument

#: Certificates of equilibria of self-attention with LayerNorm.
EQUILIBRIUM = "own:layernorm-equilibrium"
#: The same, where a layer contracts a box around them.
CONTRACTION = "own:stable-equilibrium"

#: The same of a whole block, which attracts.
BLOCKS = ("own:stable-block", "own:stable-rotary")
#: Certificates whose theorem is `equilibrium_statement`.
AT_REST = (EQUILIBRIUM, CONTRACTION, *BLOCKS)

#: The refutations given by a few numbers, and what these numbers are.
FAMILIES: dict[str, type[Kinds]] = {
    "dong2021v1:2.2": TokenKinds,
    "dong2021v1:2.2-mean": MeanKinds,
    "dong2021v1:2.3": TwoHeads,
    "unstated:large-logits": LoneQuery,
    "dong2021:2.3-printed": FourKeys,
}
#: The same of a certificate that gives a network by its attention alone, and of the letters that it is decided in.
_BY_ATTENTION = {
    "wu2024:2-step": "A is the attention P^{0,0}, X^0 = W^{0,0} = I and d = n; a token sees those to which it attends"
    " in A, and W_QK/√d_qk is log A_ij there, 0 elsewhere, without query biases.\n"
    "So X^1 is A with its rows divided by their lengths, and the least cosine of X^0 is 0: the claim is that"
    " G_ij ≥ nε²√(G_ii G_jj) for all i ≠ j, where G = AAᵀ and ε = ε(P^{0,0}) is the least entry of A that is not 0;"
    " i and j are counted from 0."
}


def letters(key: str) -> tuple[str, ...]:
    """What the letters of a certificate's few numbers stand for, line by line; none where there are no letters.

    >>> letters("dong2021v1:2.3")[0]
    'Two heads, two tokens ±e_1 of width d = side²; both heads have W_QK/√d_qk = `logit` · e_1 e_1ᵀ and no bias.'
    """
    family = FAMILIES.get(key)
    said = _BY_ATTENTION.get(key, "") if family is None else (inspect.getdoc(family) or "").partition("\n>>>")[0]
    return tuple(line for line in said.splitlines() if line.strip())


def theorem(certificate: Certificate) -> str:
    """Theorem and proof as LaTeX for a paper's appendix; a certificate that the checker rejects is refused."""
    result = certificate.check()
    if not result.accepted:
        raise InvalidArgument(f"certificate: {certificate.id} given; the checker rejects it: {result.reason}")
    registered = certificate.statement in statements()
    own = None if registered else of_its_own(certificate)
    if certificate.kind == "derivation":
        named = "" if own is None else "; ".join(map(own_words, filter(None, (own.title, own.source))))
        begin = r"\begin{theorem}"
        return derived(certificate).replace(begin, f"{begin}[{{{named}}}]" if named else begin, 1)
    if certificate.statement in AT_REST:
        boxed = certificate.statement == CONTRACTION
        radius = "" if boxed else exact_scalar(number(certificate.data["radius"]))
        argument = _CONTRACTION_ARGUMENT if boxed else _EQUILIBRIUM_ARGUMENT.replace("RADIUS", radius)
        statement = f"{FORGOTTEN}{equilibrium_statement(certificate)}"
        argument += _ATTRACTION_ARGUMENT if certificate.data.get("attracting") else ""
        title = escape("Equilibrium of self-attention with LayerNorm")
        argument += _INSTABILITY_ARGUMENT if certificate.data.get("unstable") else ""
        # The theorem states the rest of what the checker prints.
        relied = (line.partition("relied on: ")[2] for line in result.checked if line.startswith("not computed"))
        found = rf"works out again all but {'; '.join(line[:1].lower() + line[1:] for line in findings([*relied]))}"
    else:
        statement, argument = _instance_statement(certificate, result.checked), _INSTANCE_ARGUMENT
        listed = "\n".join(rf"  \item {line}" for line in findings(result.checked))
        found = f"finds:\n\\begin{{itemize}}\\raggedright\n{listed}\n\\end{{itemize}}"
        title = escape(f"Instance of {certificate.statement}" if registered else _TITLES[certificate.kind])
        if is_lacking(certificate, own):
            title = "An instance without what is asked"
            found = found.replace("so the claim fails", "so this instance does not have it")
            found = found.replace("so the claim is not true of all that meet them", "nothing is said of others")
        if own is not None and own.title:
            title = f"{{{own_words(own.title)}: {title[:1].lower()}{title[1:]}}}"
    tex = rf"""\begin{{theorem}}[{title}]{label(certificate.id)}{LOOSE}
{statement}
\end{{theorem}}
\begin{{proof}}{LOOSE}
{argument}
All numbers are in certificate {identifier(certificate.id)}, as integers and fractions.  The checker, which trusts
nothing in the file and has an arithmetic and algorithms of its own, {found}
It is run by {code("rankmath check FILE")}.
\end{{proof}}"""
    return written_out(tex)


def fragment(certificates: Sequence[Certificate]) -> str:
    """The theorems for a paper: amsmath, amssymb and amsthm are enough to compile them by ``\\input``."""
    return ENVIRONMENT + "\n\n".join(theorem(certificate) for certificate in certificates) + "\n"


#: What is shown of a claim that no statement of ours makes: it is the user's.
_TITLES = {"holds": "An instance of the claim", "violates": "A counterexample", "exists": "An example"}
#: What the checker prints of a relation that it decided.
_DECIDED = re.compile(
    r"claim: (.*?)(?: at (.*))?: (\S.*?) against (\S.*?), so it (holds|fails)(?: \(in intervals of (\d+) bits\))?$"
)
_OWN_FORM = "the claim in the form that rankmath's page on its checker explains"
#: Lines that repeat what the theorem states already.
_STATED = re.compile(r"claim: this instance |hypotheses: |\d+ tokens of dimension \d+, \d+ layer")


def findings(checked: Sequence[str]) -> list[str]:
    """What the checker found, line by line, as LaTeX for a reader: formulas as mathematics, no program text.

    Where the checker decides a claim in a form of its own, the form is told.

    >>> print(*findings(["claim: mu(X[1]) <= 1: [1.52, 1.53] against 1, so it fails (in intervals of 128 bits)"]))
    The left side lies in $[1.52, 1.53]$ and the right side is $1$, so the claim fails (intervals of 128 bits).
    """
    lines = []
    for line in checked:
        decided = _DECIDED.match(line)
        if line.startswith(("claim: rank == most", "claim: rank == used")):
            continue  # the line about the equilibrium says it
        if decided is not None:
            relation, place, left, right, verdict, bits = decided.groups()
            how = f" (intervals of {bits} bits)" if bits else ""
            sides = f"left side {_lies(left)} and the right side {_lies(right)}, so"
            if _is_displayed(relation, place or ""):
                lines.append(f"The {sides} the claim {verdict}{how}.")
            else:
                where = f" at {formulas(place)}" if place else ""
                lines.append(f"Decided is ${_relation(relation)}${where}, {_OWN_FORM}: the {sides} it {verdict}{how}.")
        elif line.startswith("hypotheses that hold: "):
            read = [_readable(part) for part in line.partition(": ")[2].split("; ")]
            parts = list(filter(None, read))
            if left := len(read) - len(parts):
                parts.append(f"{left}{' more' if parts else ''}, which the checker names")
            lines.append(f"These hypotheses hold: {'; '.join(parts)}.")
        elif _STATED.match(line) is None:
            line = line.replace("proofs/stable_complete.tex, first lemma", "rankmath's proofs, the lemma on reductions")
            line = line.replace("rank at most `most`", "at most the rank that is claimed")
            lines.append(_told(line[:1].upper() + line[1:]).rstrip(".") + ".")
    return lines


def _is_displayed(relation: str, place: str) -> bool:
    """Whether a relation that was decided is in the language of claims, and so the one that the theorem displays."""
    for letter in re.findall(r"(\w+) = ", place):
        relation = f"all_{letter}({relation})"
    try:
        read_formula(relation)
    except InvalidArgument:
        return False
    return True


def _relation(relation: str) -> str:
    r"""A relation of a form of the claim that is the checker's own; its letters are those of that form.

    >>> print(_relation("w ** 2 * y[d - 2] ** 2 >= gain(y) @ y"))
    w^{2}\,(y_{d-2})^{2}\ge \operatorname{gain}(y)\cdot y
    """
    tree = ast.parse(relation, mode="eval").body
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    shown = {name: latex_letter(name) for name in names}
    words = {name: rf"\mathrm{{{escape(name)}}}" for name in names if shown[name].startswith(r"\mathrm")}
    return OwnForm(shown | words).show(tree)


def _told(line: str) -> str:
    """A line of the checker, or of what letters stand for, as LaTeX: its formulas as mathematics.

    >>> print(_told("starts |z|_2 <= 1/65536: a layer contracts |R^-1 .|_2, rho is at most `most`"))
    starts $|z|_{2} \\le 2^{-16}$: a layer contracts $|R^{-1} \\cdot|_{2}$, $\\rho$ is at most \\texttt{most}
    """
    said = re.sub(r"`([^`]*)`", r"\\texttt{\1}", formulas(in_signs(line)))
    said = re.sub(r"(Theorem|Proposition) \$?(\w+)\$?-([\w-]+)", r"\1 \\texttt{\2-\3}", said)
    return re.sub(r"\*([a-z]+)\*", r"\\emph{\1}", said)


def in_signs(line: str) -> str:
    """A line of the checker with signs in the place of their names in a program, and small numbers as powers of two."""
    for program, sign in (("<=", "≤"), (">=", "≥"), ("R^-1 .", "R⁻¹ ·"), ("+-", "±")):
        line = line.replace(program, sign)
    line = re.sub(r"\^(-?\d+)", lambda power: power[1].translate(_RAISED), line)
    line = re.sub(r"\b1/(\d{5,})\b", lambda found: _halved(found[0], int(found[1])), line).replace("sum_j", "Σ_j")
    return re.sub(r"\b(rho|pi|sigma)\b", lambda name: {"rho": "ρ", "pi": "π", "sigma": "σ"}[name[0]], line)


def said_alone(certificate: Certificate, checked: Sequence[str]) -> str:
    """What the checker says of a claim that no statement of ours makes, its numbers put in; else the claim itself."""
    return checked[0].partition(f" {certificate.statement}: ")[2] or certificate.claim


def _halved(shown: str, whole: int) -> str:
    """1/65536 as 2⁻¹⁶; what is no power of two as it is shown."""
    power = whole.bit_length() - 1
    return f"2{str(-power).translate(_RAISED)}" if whole == 1 << power else shown


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _lies(shown: str) -> str:
    """A number or an interval, as the checker prints it."""
    shown = re.sub(r"(?<=[\d.])e([+-]?)0*(\d+)", lambda e: rf"\cdot10^{{{e[1].strip('+')}{e[2]}}}", shown)
    return f"{'lies in' if shown.startswith('[') else 'is'} ${shown}$"


_SIGNS = {"<=": r"\le", ">=": r"\ge", "==": "=", "<": "<", ">": ">"}


def _readable(part: str) -> str:
    """A hypothesis as the checker words it: as a formula of the language where it is one, else its words; "" where
    they are those of a program."""
    with suppress(InvalidArgument):
        formula = read_formula(part)
        if (said := words(formula)) != text(formula):
            return formulas(said)
    if compared := re.fullmatch(r"([A-Za-z_]+) (<=|>=|==|<|>) (-?\d+)", part):
        name, sign, number = compared.groups()
        shown = latex_letter(name) if is_letter(name) or name in LETTERS else rf"\mathrm{{{escape(name)}}}"
        return f"${shown} {_SIGNS[sign]} {number}$"
    try:
        formula = read_formula(part)
    except InvalidArgument:
        if re.search(r"[\[@]|==|\bif\b|\w\(", part):
            return ""
        with suppress(SyntaxError, TypeError, KeyError):
            return f"${_relation(part)}$"
        return formulas(part.replace("<=", "≤").replace(">=", "≥"))
    return breakable(latex(formula))


# -- equilibria --------------------------------------------------------------------------------------------

_EQUILIBRIUM_ARGUMENT = r"""Existence and uniqueness follow from Krawczyk's test: with an approximate inverse $Y$ of
the derivative of $F(X)-X$ and an interval enclosure $D$ of that derivative over the box of these entries around
$X^0$, whose radius is $r=RADIUS$, one has $\lvert Y(F(X^0)-X^0)\rvert+\lvert I-YD\rvert r<r$ entrywise, so a
Newton-like map takes the box strictly into itself.  The rank is bounded from below by a minor whose enclosure over
the box does not contain zero."""
_CONTRACTION_ARGUMENT = r"""An interval enclosure of the derivative of $F$ over a box around $X^0$ that holds these
starts has weighted row sums below $1$, and $F$ moves $X^0$ by less than the contraction gains; so $F$ maps the box
into itself, and Banach's theorem gives the one fixed point in it.  A minor that does not vanish over the box bounds
the rank from below."""
_INSTABILITY_ARGUMENT = r"""  For some symmetric matrix $P$ and vector $h$ with $h\tp Ph>0$ the matrix $J\tp PJ-s^2P$ is
positive definite, $s$ the bound on the spectral radius, whatever the derivative $J$ of $F$ in the box: so
$\norm{J^th}$ grows faster than $s^t$."""
_ATTRACTION_ARGUMENT = r"""  An
enclosure of $R^{-1}\,\mathrm DF\,R$ over the set of starts has spectral norm below $1$,
so $F$ contracts there and, its centre moving less than the contraction gains, maps the set into itself; Banach's
theorem does the rest."""


def equilibrium_statement(certificate: Certificate) -> str:
    """What a certificate of an equilibrium says: the map, the LayerNorm, the ball, the rank, the attraction."""
    data = certificate.data
    tokens = [[number(x) for x in row] for row in data["tokens"]]
    n, d = len(tokens), len(tokens[0])
    allowed = data["mask"]
    complete = all(entry for row in allowed for entry in row)
    layer = _block_defined(data) if certificate.statement in BLOCKS else _layer_defined(data)
    sees = "all of them" if complete else "those of the mask below"
    parts = [
        rf"Let $n={n}$ tokens of dimension $d={d}$ be the rows $x_1,\dots,x_n$ of $X$, and let",
        *layer,
        rf"runs over the tokens that token $i$ sees, {sees}.",
    ]
    if not complete:
        rows = [[Fraction(int(entry)) for entry in row] for row in allowed]
        parts.append(rf"Token $i$ sees token $j$ if entry $(i,j)$ of ${exact_matrix(rows)}$ is $1$.")
    if certificate.statement == CONTRACTION:
        rate, ball = number(data["rate"]), number(data["ball"])
        parts.append(
            rf"Then $F$ has a fixed point $X^\star$ of rank ${int(data['rank'])}$ that attracts:"
            r" $F^t(X)\to X^\star$ as $t\to\infty$ for all tokens $X$ of norm $1$ whose entries differ by"
            rf" at most ${exact_scalar(ball)}$ from those of $X^0{shown_value(data['tokens'], 3)}$, so that no"
            rf" other fixed point is there; every layer multiplies the distance by at most ${exact_math(rate)}$, in a"
            r" weighted maximum norm."
        )
        return "\n".join(parts)
    radius = number(data["radius"])
    parts.append(
        rf"Then $F$ has a fixed point $X^\star$ whose entries differ by at most ${exact_scalar(radius)}$ from those"
        rf" of $X^0\approx{_decimals(tokens)}$, whose exact entries are in the certificate; it is the only one"
        rf" there{_alike(certificate)}."
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
            rf" distance $\norm{{R^{{-1}}\cdot}}_2$ multiplied by at most ${exact_math(rate)}$ in every layer."
        )
    if unstable := data.get("unstable"):
        growth = exact_math(number(unstable["growth"]))
        parts.append(
            rf"It is unstable: the spectral radius of the derivative of $F$ at $X^\star$ is more than ${growth}$."
        )
    return "\n".join(parts)


def _normed(data: Mapping[str, Data], made: str) -> tuple[str, str]:
    """What LayerNorm makes of the rows `made`, and what is said of their means."""
    if data["norm"] == "sphere":
        return rf"{made}_i/\norm{{{made}_i}}_2", ""
    centred = rf"({made}_i-\bar {made}_i\one\tp)"
    mean = rf", where $\bar {made}_i$ is the mean of the entries of ${made}_i$"
    return rf"\sqrt{{{len(data['tokens'][0])}}}\,{centred}/\norm{{{centred}}}_2", mean


def _weights(*named: tuple[str, Data]) -> list[str]:
    """Matrices that are written out, line by line."""
    rows = ",\\\\\n".join(f"  {letter}&{shown_value(value, len(letter))}" for letter, value in named)
    return [r"{\renewcommand{\arraystretch}{1.35}%", rf"\begin{{align*}}{chr(10)}{rows}.{chr(10)}\end{{align*}}}}"]


def _layer_defined(data: Mapping[str, Data]) -> list[str]:
    result, mean = _normed(data, "y")
    root = int(data["d_qk"])
    scale = "" if root == 1 else rf"/\sqrt{{{root}}}"
    return [
        *_weights(("W_V", data["W_V"]), (r"\WQK", data["W_QK"])),
        rf"One layer $F$ of self-attention with LayerNorm maps $x_i$ to ${result}$, where",
        rf"$y_i=\sum_jA_{{ij}}\,x_jW_V${mean}, and the attention",
        rf"$A_{{ij}}=\exp(x_i\WQK x_j\tp{scale})/\allowbreak\sum_k\exp(x_i\WQK x_k\tp{scale})$",
    ]


def _block_defined(data: Mapping[str, Data]) -> list[str]:
    """A block: the heads, rotary positions, the skip connection and the MLP that it has, and LayerNorm."""
    heads = range(len(data["W_V"]))
    named = [(rf"W_V^{{({h})}}", data["W_V"][h]) for h in heads] + [
        (rf"\WQK^{{({h})}}", data["W_QK"][h]) for h in heads
    ]
    bent, turned = not any(all(map(_is_zero, data[name])) for name in ("up", "down")), "cos" in data
    named += [("U", data["up"]), ("D", data["down"])] * bent + [("C", data.get("cos")), ("S", data.get("sin"))] * turned
    result, mean = _normed(data, "z" if bent else "y")
    skip = number(data["skip"])
    kept = "" if skip == 0 else "x_i+" if skip == 1 else rf"{exact_math(skip)}\,x_i+"
    mlp = r" and $z_i=y_i+s(y_iU)D$, $s(t)=t/(1+e^{-t})$ entry by entry" if bent else ""
    query, key = r"x_i\WQK^{(h)}", "x_j"
    parts = _weights(*named)
    if turned:
        query, key = rf"\rho_i({query})", rf"\rho_j({key})"
        parts.append(
            r"Let $\rho_i$ turn entries $2m$ and $2m+1$ of a row, counted from $0$, by the angle of cosine $C_{im}$"
            r" and sine $S_{im}$: $\rho_i(v)_{2m}=v_{2m}C_{im}-v_{2m+1}S_{im}$ and"
            r" $\rho_i(v)_{2m+1}=v_{2m+1}C_{im}+v_{2m}S_{im}$."
        )
    form = rf"{query}\,\allowbreak {key}\tp"
    return [
        *parts,
        rf"One block $F$ maps $x_i$ to ${result}$, where",
        rf"$y_i={kept}\sum_h\sum_jA^{{(h)}}_{{ij}}\,x_jW_V^{{(h)}}${mlp}{mean}, and the attention",
        rf"$A^{{(h)}}_{{ij}}=\exp({form})/\allowbreak\sum_k\exp({form.replace('_j', '_k')})$",
    ]


def _alike(certificate: Certificate) -> str:
    """Which tokens are equal, and which entries zero, among those of which the fixed point is the only one."""
    clusters, support = (certificate.hints.get(name, ()) for name in ("clusters", "support"))
    groups = {c: [rf"x_{{{i}}}" for i, own in enumerate(clusters, 1) if own == c] for c in clusters}
    said = ["=".join(group) for group in groups.values() if len(group) > 1]
    zeros = [f"{i},{a}" for i, c in enumerate(clusters, 1) for a, used in enumerate(support[int(c)], 1) if not used]
    if len(zeros) > 12:
        said.append(r"\text{the zeros that the certificate names}")
    elif zeros:
        said.append("".join(f"x_{{{place}}}=" for place in zeros) + "0")
    return f" with {', '.join(f'${part}$' for part in said)}" if said else ""


def _decimals(rows: Sequence[Sequence[Fraction]]) -> str:
    # Whole numbers are written so: the sixth digit of a token that is 0 or 1 says nothing.
    return matrix([[str(x) if x.denominator == 1 else f"{float(x):z.6f}" for x in row] for row in rows])


# -- instances of statements -------------------------------------------------------------------------------

_INSTANCE_ARGUMENT = r"""What is decided is enclosed in interval arithmetic with directed rounding on integers, or
computed exactly, from the data alone."""

_VERBS = {"holds": "satisfies", "violates": "violates", "exists": "shows"}
#: Above this many entries data are left to the certificate.
_MOST_LINES = 40


def _instance_statement(certificate: Certificate, checked: Sequence[str]) -> str:
    registered = statements().get(certificate.statement)
    entry = registered or of_its_own(certificate)
    before, source, meanings = "", "", ""
    if entry is None:
        claim = f"\\begin{{flushleft}}\n{_told(said_alone(certificate, checked))}.\n\\end{{flushleft}}"
    else:
        words = formulas(ours_named(entry.source)) if registered else own_words(entry.source)
        source = f" ({words})" if entry.source else ""
        claim = "\n".join((r"\begin{flushleft}", *stated(entry), r"\end{flushleft}"))
        meanings = "".join(f"{line}\n" for line in in_words(entry))
        before = f"{told_once(notation(entry), certificate.id)}\n"
    # Whom somebody else's claim is to be cited by is theirs to say.
    cites = f" % cite: {', '.join(keys)}" if registered and (keys := cited_by(registered.source)) else ""
    if is_lacking(certificate, entry):
        begins = f"It is asked whether the following is true{source}:"
        meanings += "The following instance meets the hypotheses, and does not have what is asked for:\n"
    else:
        begins = f"The following instance {_VERBS[certificate.kind]} the claim{source}:{cites}"
    explained = letters_told(certificate)
    if entry is not None and "c" in entry.arrays:
        given = (said for name, said in _LOGITS_FROM.items() if name in certificate.data)
        explained += "".join(f"Entry by entry $c$ is {said}.\n" for said in given)
    return f"{before}{begins}\n{claim}\n{meanings}{explained}{data_shown(certificate.data)}"


def letters_told(certificate: Certificate) -> str:
    """What the letters of a certificate's data stand for, as LaTeX; empty where the claim itself says it."""
    meaning = letters(certificate.statement)
    flow = _FLOW if {"beta", "Q"} <= set(certificate.data) else ""
    return flow + (f"{_told(' '.join(meaning))}\n" if meaning else "")


#: What the letters of a flow are.
_FLOW = r"""Tokens are the rows of $X$; here $x_i$ is row $i$ as a column, $P_x=I-xx^{\mathsf T}$ and $P=P_{x_i}$;
$a_{ij}$ is $e^{\beta\langle Qx_i,Kx_j\rangle}$ where token $i$ sees token $j$, that is where entry $(i,j)$ of the
mask is $1$, and $0$ elsewhere, divided by its sum over $j$ where attention is normalised and by the number of tokens
where not.
"""
#: What the logits c of a claim are, by what a certificate gives of them.
_LOGITS_FROM = {"logits": "what is named logits below", "weights": "the logarithm of the weights below"}
#: How the arrays of a layer are printed: those of every head, then those of the whole layer.
_OF_HEAD = {"P": "P^{{{l},{h}}}", "W_QK": "W_{{QK}}^{{{l},{h}}}", "W": "W^{{{l},{h}}}", "key_bias": "k_{{{l},{h}}}"}
_OF_LAYER = {"bias": "o_{{{l}}}"}
_SEES = r"\text{token }i\text{ sees token }j\text{ where entry }(i,j)\text{ is 1 in }"


def network_data(data: Mapping[str, Data]) -> Iterator[str]:
    """The data of a network, a line of mathematics each; what is zero, empty or meant anyway is left out."""
    if _is_divided(data):
        yield rf"\text{{the input}}{shown_value(data['X'], 9)}"
        yield r"\text{whose tokens, divided by their lengths, are the rows of }X^{0}"
    else:
        yield f"X^{{0}}{shown_value(data['X'], 3)}"
    if "d_qk" in data:
        yield f"d_{{qk}}{shown_value(data['d_qk'], 4)}"
    if "skip" in data and number(data["skip"]) != 0:
        yield rf"\text{{factor of the skip connections }}\lambda{shown_value(data['skip'], 30)}"
    if "mask" in data and not isinstance(data["mask"], str):
        yield _SEES + exact_rows(data["mask"])
    rest: dict[str, Data] = {
        name: value
        for name, value in data.items()
        if name not in ("X", "d_qk", "skip", "mask", "layernorm", "layers", "output")
        and value not in ([], {}, None, "none")
    }
    for l, layer in enumerate(data["layers"]):
        if not isinstance(layer, Mapping):  # sublayer by sublayer
            yield from _sublayers(l, layer)
            continue
        for h, head in enumerate(layer["heads"]):
            for name, letter in _OF_HEAD.items():
                if name in head and not (name == "key_bias" and _is_zero(head[name])):
                    yield letter.format(l=l, h=h) + shown_value(head[name], 8)
        for name, letter in _OF_LAYER.items():
            if name in layer and not _is_zero(layer[name]):
                yield letter.format(l=l) + shown_value(layer[name], 4)
        others = {name: value for name, value in layer.items() if name not in ("heads", *_OF_LAYER) and value}
        if isinstance(others.get("mlp"), Mapping):
            yield from _map_of_tokens(rf"_{{{l}}}", others.pop("mlp"))
        if others and others != {"mlp": "none"}:
            rest[f"layer {l}"] = others
    if "output" in data:
        yield f"X^{{{len(data['layers'])}}}{shown_value(data['output'], 3)}"
    yield from exact_data(rest)


def _is_divided(data: Mapping[str, Data]) -> bool:
    """Whether X^0 is the input with every token divided by its length: every layer ends with that, and has no other
    LayerNorm."""
    if any(isinstance(layer, Mapping) for layer in data["layers"]):  # in one line
        return bool(data.get("layernorm") == "sphere")
    sides = ("before", "behind", "after")
    norms = [(side, part[side]["kind"]) for layer in data["layers"] for part in layer for side in sides if side in part]
    ended = all("after" in layer[-1] for layer in data["layers"])
    return ended and norms == [("after", "sphere")] * len(data["layers"])


def _sublayers(l: int, layer: Sequence[Mapping[str, Data]]) -> Iterator[str]:
    """The numbers of a layer that is given sublayer by sublayer, under their letters."""
    maps = [pair for part in layer for f in part.get("maps", ()) for pair in f.items()]
    several = sum(kind == "mlp" for kind, _ in maps) > 1
    for s, part in enumerate(layer):
        inside = {"mlp" if kind == "mlp" else "attention" for f in part.get("maps", ()) for kind in f}
        around = " and ".join({"attention": "the attention", "mlp": "the map"}[kind] for kind in sorted(inside))
        # Where a layer has two of a kind they are told apart by their number.
        around = around if not several and around else f"sublayer {s}"
        if number(part["skip"]) != 0:
            where = f"around {around} of layer {l}"
            yield rf"\text{{factor of the skip connection {where}}}{shown_value(part['skip'], 30)}"
        if (norm := part.get("before")) is not None:
            yield from _norm(l, f"before {around}", norm)
        for kind, fields in (pair for f in part.get("maps", ()) for pair in f.items()):
            if kind == "mlp":
                yield from _map_of_tokens(rf"_{{{l},{s}}}" if several else rf"_{{{l}}}", fields)
            else:
                yield from _attention(l, fields)
        for place in ("behind", "after"):
            if (norm := part.get(place)) is not None:
                yield from _norm(l, f"{'of what comes from' if place == 'behind' else 'after'} {around}", norm)


def _attention(l: int, fields: Mapping[str, Data]) -> Iterator[str]:
    of_heads = {"query": "W_{QK}" if "key" not in fields else "W_Q", "key": "W_K"}
    of_heads |= {"value": "W" if "output" not in fields else "W_V", "output": "W_O"}
    of_heads |= {"position": r"\text{added to the logits: }B"}
    of_heads |= {"key_bias": r"(W_Kb_Q^{\mathsf T})", "b_Q": "b_Q", "b_K": "b_K"}
    for name, letter in of_heads.items():
        for h, rows in enumerate(fields.get(name, ())):
            yield f"{letter}^{{{l},{h}}}" + shown_value(rows, 8)
    yield rf"d_{{qk}}{shown_value(fields['d_qk'], 4)}"
    if "bias" in fields and not _is_zero(fields["bias"]):
        yield f"o_{{{l}}}" + shown_value(fields["bias"], 4)
    if "softcap" in fields:
        yield rf"\text{{logits capped with }}c{shown_value(fields['softcap'], 3)}"
    if "mask" in fields:
        yield _SEES + exact_rows(fields["mask"])
    if "rotary" in fields:
        keys = "X^{l}W_K" if "key" in fields else "X^{l}"
        queries = "W_Q" if "key" in fields else "W_{QK}"
        yield rf"\text{{queries are the rows of }}X^{{l}}{queries}\text{{, keys those of }}{keys}\text{{; of row }}i"
        yield r"\text{the entries }u,v\text{ in places }2m,2m+1\text{ become }cu-sv,\,su+cv\text{, with}"
        yield r"c\text{ and }s\text{ entry }(i,m)\text{ of the cosines and sines, counted from 0}"
    for name, table in fields.get("rotary", {}).items():
        yield rf"\text{{{name} of the rotations}}" + shown_value(table, 20)
    if "qk_norm" in fields:
        norm = fields["qk_norm"]
        for side, gains in zip(("queries", "keys"), norm["gains"], strict=True):
            yield rf"\text{{{side} normed, with the gains }}" + shown_value(gains, 30).removeprefix("=")
        yield rf"\text{{and }}\varepsilon{_small(norm['eps'])}"
    told = (*of_heads, "d_qk", "bias", "softcap", "mask", "rotary", "qk_norm")
    yield from exact_data({name: given for name, given in fields.items() if name not in told}, f"layer {l}: ")


def _map_of_tokens(place: str, fields: Mapping[str, Data]) -> Iterator[str]:
    """What an MLP makes of a token, then its numbers; biases that are zero are left out."""
    bias = {
        name: "" if name not in fields or _is_zero(fields[name]) else rf"+{_IN[name]}" for name in _IN if name[0] == "b"
    }
    inner = rf"yW_{{\mathrm{{in}}}}{bias['b_in']}"
    opened = rf"\sigma({inner})"
    if "W_gate" in fields:
        opened = rf"\bigl(\sigma(yW_{{\mathrm{{gate}}}}{bias['b_gate']})\odot({inner})\bigr)"
    skip = "" if number(fields["skip"]) == 0 else "y+"
    said = rf",\quad\sigma(x)={_bent(fields['activation'])}\text{{ entry by entry}}"
    yield rf"f{place}(y)={skip}{opened}\,W_{{\mathrm{{out}}}}{bias['b_out']}{said}"
    for name, letter in _IN.items():
        if name in fields and not (name[0] == "b" and not bias[name]):
            yield letter + shown_value(fields[name], 6)


def _bent(activation: str) -> str:
    """An activation as a formula in x."""
    import sympy

    term, _ = ACTIVATIONS[activation]
    found = sympy.sympify(term.replace("pi()", "pi"), {"max": sympy.Max, "min": sympy.Min})
    shown: str = sympy.latex(found)
    return shown


_IN = {"W_in": r"W_{\mathrm{in}}", "b_in": r"b_{\mathrm{in}}", "W_gate": r"W_{\mathrm{gate}}"}
_IN |= {"b_gate": r"b_{\mathrm{gate}}", "W_out": r"W_{\mathrm{out}}", "b_out": r"b_{\mathrm{out}}"}


def _norm(l: int, place: str, norm: Mapping[str, Data]) -> Iterator[str]:
    eps = rf"\text{{, }}\varepsilon{_small(norm['eps'])}" if number(norm.get("eps", 0)) != 0 else ""
    kind = SWITCHES["layernorm"][norm["kind"]].partition(" (")[0]
    yield rf"\text{{{escape(kind)} {place} of layer {l}}}{eps}"
    for name, value in norm.items():
        if name in ("gain", "offset"):
            yield rf"\text{{its {name}}}" + shown_value(value, 10)


def _small(value: Data) -> str:
    """A double such as 1e-05 by its shortest decimal, which names it; any other number as it is."""
    exact = number(value)
    mantissa, _, power = f"{float(exact):e}".partition("e")
    if Fraction(float(exact)) == exact != 0 and float(mantissa) == 1:
        return rf"=10^{{{int(power)}}}\text{{ (as a double)}}"
    return shown_value(value, 3)


def _is_zero(value: Data) -> bool:
    return all(number(entry) == 0 for entry in value)


#: What is printed for the fields of a flow's certificate.
_OF_FLOW = {"tokens": "X", "values": "eigenvalues of V", "vectors": "its eigenvectors, as rows"}
_OF_FLOW |= {"normalised": "attention normalised (else 0)", "radius": "bound on the distance from the equilibrium"}


def data_shown(data: Mapping[str, Data], place: str = "the certificate") -> str:
    """The data of a certificate as displayed mathematics; what is long is said to stand in `place`, in LaTeX."""
    if {"tokens", "normalised"} <= set(data):
        data = {_OF_FLOW.get(name, name): value for name, value in data.items()}
    of_network = {"layers", "X"} <= set(data)
    lines = list(network_data(data) if of_network else exact_data(data))
    if len(lines) > _MOST_LINES or sum(map(len, lines)) > 6000:
        return f"Its data stand in {place}: they are too long to be printed."
    found = displayed(lines).replace(r"\text{, in the certificate}", rf"\text{{, in {place}}}")
    return f"{found}\n{_UNLISTED}" if of_network else found


#: What a list of a network's data leaves out.
_UNLISTED = "Of what is not listed, biases and factors of skip connections are $0$, and the rest is absent."


def displayed(lines: Iterable[str]) -> str:
    """Lines of mathematics, displayed; rows of matrices stand apart so that their fractions do not touch."""
    body = " \\\\\n".join(f"  &{fitting(line)}" for line in lines)
    spaced = r"\allowdisplaybreaks\renewcommand{\arraystretch}{1.35}%"
    return f"{{{spaced}\n\\begin{{align*}}\n{body}\n\\end{{align*}}}}"
