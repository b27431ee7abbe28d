"""Words and numbers as LaTeX: nothing a text holds can become a command, and no number gains a digit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from rankmath.certificates.certificate import Data, number
from rankmath.formula.printed import latex_letter
from rankmath.formula.prose import escape
from rankmath.printing import log_of, quotient


def code(text: str) -> str:
    r"""In typewriter type, with line breaks allowed after ``:``, ``-``, ``/``, ``_``.

    >>> code("own:tv")
    '\\texttt{own:\\allowbreak tv}'
    """
    broken = re.sub(r"([:/-]|\\_)(?=[\w])", r"\1\\allowbreak ", escape(text))
    return rf"\texttt{{{broken}}}"


def identifier(name: str, *, digits: int | None = None) -> str:
    """A certificate's id in typewriter type, breakable every eight digits, or only its first `digits`.

    >>> identifier("rm-0123456789abcdef", digits=8)
    '\\\\texttt{rm-01234567}'
    """
    shown = name.removeprefix("rm-")[:digits]
    eights = r"\allowbreak ".join(shown[i : i + 8] for i in range(0, len(shown), 8))
    return rf"\texttt{{rm-{eights}}}"


def exact(number: Fraction | int) -> str:
    """A whole number or a fraction, for mathematics and text alike.

    >>> exact(65536), exact(Fraction(-673, 64))
    ('65\\\\,536', '\\\\ensuremath{-\\\\tfrac{673}{64}}')
    """
    math = exact_math(number)
    return math if number >= 0 and Fraction(number).denominator == 1 else rf"\ensuremath{{{math}}}"


def exact_math(number: Fraction | int) -> str:
    """The same inside mathematics."""
    number = Fraction(number)
    if number.denominator == 1:
        return grouped(number.numerator)
    sign = "-" if number < 0 else ""
    return rf"{sign}\tfrac{{{abs(number.numerator)}}}{{{number.denominator}}}"


def grouped(number: int) -> str:
    """Thousands set apart, from five digits on.

    >>> grouped(3684), grouped(1000000)
    ('3684', '1\\\\,000\\\\,000')
    """
    return str(number) if abs(number) < 10_000 else f"{number:,}".replace(",", r"\,")


#: Formulas of more points that no line can break may be too wide for a quotation in one of two columns.
_WIDE = 155.0
#: Sets a formula in the largest type in which it fits a line; a paper that knows the command keeps its own.
FIT = (
    r"\providecommand{\rankmathfit}[1]{{\setbox0\hbox{$\displaystyle#1$}"
    + "".join(
        rf"\ifdim\wd0>.9\linewidth\setbox0\hbox{{\{size}\arraycolsep={gap}pt$\displaystyle#1$}}\fi"
        for size, gap in (("footnotesize", 4), ("scriptsize", 3), ("tiny", 1))
    )
    + r"\box0}}"
)


def fitting(math: str) -> str:
    """A formula that no line breaks, in smaller type where it may be too wide.

    >>> fitting("x")
    'x'
    """
    matrix = re.fullmatch(r"(.*?)\\begin{pmatrix}(.*)\\end{pmatrix}", math)
    if matrix:  # its longest row; the fractions in it are small
        flat = re.sub(r"\\tfrac\{(\d+)\}\{(\d+)\}", lambda found: max(found.groups(), key=len), matrix[2])
        widest = max(len(row) + 3 * row.count("&") for row in flat.split(r"\\"))
        return rf"\rankmathfit{{{math}}}" if len(matrix[1]) + widest > 40 else math
    return rf"\rankmathfit{{{math}}}" if points(math) > _WIDE else math


#: About how wide a sign of ten points is, by its class: the first that fits; what opens and closes is counted larger.
_SIGN_WIDTHS = (
    (r"\\(?:[Bb]igg?[lr]|left|right|displaystyle)|\s|&", 0.0),
    (r"\\[,;: ]|[.,:;|]|\\(?:ell|bigm)", 3.5),
    (r"\\(?:le|ge|to|in|ne|cdots|times|approx)(?![A-Za-z])|[-+=<>]", 13.0),
    (r"\\(?:sum|prod|max|min|log|exp|tanh|sup|inf|det|cos|sin)(?![A-Za-z])", 17.0),
    (r"[()\[\]\d]|\\[|#]", 5.0),
    (r"[A-Z]|\\(?:Delta|Sigma|Omega|mathbb|mathbf|omega)(?![A-Za-z])", 8.3),
    (r"\\[A-Za-z]+|\\.|.", 6.0),
)
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)


def points(math: str) -> float:
    """About how many points wide a formula is on paper, in type of ten points: of wide ones rather more than less.

    >>> 170 < points(r"\\frac{" + "x" * 30 + "}{2}") < 200
    True
    """
    pieces, at, width = _TOKEN.findall(math), 0, 0.0

    def argument() -> str:
        nonlocal at
        depth, begin = 0, at
        while at < len(pieces):
            depth += (pieces[at] == "{") - (pieces[at] == "}")
            at += 1
            if depth == 0:
                break
        found = pieces[begin:at]
        return "".join(found[1:-1] if found[:1] == ["{"] else found)

    while at < len(pieces):
        piece, at = pieces[at], at + 1
        if piece in (r"\frac", r"\tfrac"):
            width += (2.4 + max(points(argument()), points(argument()))) * (1.0 if piece == r"\frac" else 0.7)
        elif piece == r"\sqrt":
            width += 9.0 + points(argument())
        elif piece in (r"\operatorname", r"\text", r"\mathrm"):
            width += 1.7 + 5.2 * len(argument())
        elif piece in ("_", "^"):  # where both stand, the wider counts
            script, both = points(argument()), at < len(pieces) and pieces[at] in ("_", "^")
            if both:
                at += 1
                script = max(script, points(argument()))
            width += 0.7 * script
        elif piece not in ("{", "}"):
            width += next(wide for sign, wide in _SIGN_WIDTHS if re.fullmatch(sign, piece))
    return width


def with_fit(tex: str) -> str:
    """The text with what it needs to set formulas in smaller type, if it does."""
    return f"{FIT}%\n{tex}" if r"\rankmathfit{" in tex and FIT not in tex else tex


def breakable(math: str) -> str:
    """Mathematics for running text that goes over as many lines as it needs: its words stand outside the dollar
    signs, and a product may be broken as well as a sum; a fraction or a root too wide for a line is set smaller.

    >>> print(breakable(r"\\mu\\,n \\le 1\\text{ for all }l"))
    $\\displaystyle \\mu\\,\\allowbreak n \\le 1$ for all $\\displaystyle l$
    """
    depth, written, opened, left = 0, "", 0, 0
    for piece in re.findall(r"\\text\{[^{}$]*\}|\\[A-Za-z]+|\\.|.", math, re.DOTALL):
        depth += (piece == "{") - (piece == "}")
        if depth == 0 and piece in (r"\frac", r"\sqrt"):
            opened, left = len(written), 2 if piece == r"\frac" else 1
        elif depth == 0 and piece == "}" and left and not (left := left - 1):
            written, piece = written[:opened], fitting(written[opened:] + piece)
        if piece.startswith(r"\text{") and depth == 0:
            piece = f"$ {piece[6:-1]}".replace("$  ", "$ ") + r"$\displaystyle "
        elif depth == 0 and piece in (",", r"\,", r"\ ", r"\quad", r"\mid", r"\cdots"):
            piece += r"\allowbreak "
        written += piece
    # Where a matrix follows, the name of a function may stand in a line before it.
    written = re.sub(r"(\\operatorname\{[a-z-]+\}\()(?=\\bigl\[)", r"\1\\allowbreak ", written)
    found = rf"$\displaystyle {written}$"
    # Two texts side by side leave an empty formula between them, and a blank before their comma.
    return re.sub(r"(?<!\\) +,", ",", re.sub(r"\$\\displaystyle\s*\$", "", found)).strip()


def exact_scalar(x: Fraction) -> str:
    """A small power of two as such; anything else as it is.

    >>> exact_scalar(Fraction(1, 2**48)), exact_scalar(Fraction(1, 3))
    ('2^{-48}', '\\\\tfrac{1}{3}')
    """
    bits = x.denominator.bit_length() - 1
    power = x.numerator == 1 and x.denominator == 1 << bits and bits > 10
    return f"2^{{-{bits}}}" if power else exact_math(x)


#: A line of a page, in points, and what is taken of it: by a digit, a digit of a fraction, a sign, a column's gap,
#: a letter of a name, and parentheses with the sign of equality.
_LINE, _DIGIT, _SMALL_DIGIT, _SIGN, _GAP, _LETTER, _AROUND = 345.0, 5.5, 4.3, 8.5, 10.0, 5.8, 40.0


def exact_data(data: Mapping[str, Data], prefix: str = "") -> Iterator[str]:
    """The data of a certificate, a line of mathematics for each field: numbers, row vectors, matrices, words.

    A matrix too wide for a page is shown to six digits, and one too wide for that only named.

    >>> print(*exact_data({"A": [[1, "1/2"]], "norm": "l2"}), sep="; ")
    A=\\begin{pmatrix}1&\\tfrac{1}{2}\\end{pmatrix}; \\text{norm}=\\text{l2}
    """
    for name, value in data.items():
        shown = prefix + name
        if isinstance(value, Mapping):
            yield from exact_data(value, f"{shown}.")
        elif _is_list(value) and value and _is_told_apart(value[0]):
            for k, inner in enumerate(value):  # from 0 on, as layers and heads in claims
                yield from exact_data({f"{name}[{k}]": inner}, prefix)
        else:
            yield f"{_name(shown)}{shown_value(value, len(shown))}"


def _name(shown: str) -> str:
    """A letter, with its index and its place in a list if it has them, in mathematics; any other name in words."""
    found = re.fullmatch(r"([A-Za-z]+(?:_[A-Za-z0-9]{1,4})?)(?:\[(\d+)\])?", shown)
    if found and is_letter(found[1].partition("_")[0]):
        return latex_letter(found[1]) + (f"^{{({found[2]})}}" if found[2] else "")
    return rf"\text{{{escape(shown.replace('_', ' '))}}}"


def is_letter(name: str) -> bool:
    """Whether a name is that of a letter, a Latin or a Greek one.

    >>> is_letter("V"), is_letter("beta"), is_letter("mask")
    (True, True, False)
    """
    return len(name) == 1 or latex_letter(name) == rf"\{name}"


def shown_value(value: Data, letters: int) -> str:
    """What follows a name of so many letters: "=" and the value exactly, or what of it there is room for."""
    return _shown(value, _LINE - _LETTER * letters - _AROUND)


def exact_rows(value: Data) -> str:
    """A matrix as a certificate writes it, every entry exactly."""
    return exact_matrix([[number(x) for x in row] for row in value])


def _is_list(value: Data) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_told_apart(first: Data) -> bool:
    """Whether a list of such things is shown one by one: fields, or matrices, of which pmatrix shows one only."""
    return isinstance(first, Mapping) or (_is_list(first) and bool(first) and _is_list(first[0]))


def _shown(value: Data, room: float) -> str:
    """What follows the name: "=" and the value exactly, or what of it there is room for."""
    if not _is_list(value):
        try:
            return f"={exact_scalar(number(value))}"
        except ValueError:
            return rf"=\text{{{escape(str(value))}}}"
    rows = [[number(x) for x in row] for row in (value if value and _is_list(value[0]) else [value])]
    for sign, write in (("=", exact_math), (r"\approx ", _six_digits)):
        cells = [[write(x) for x in row] for row in rows]
        if sum(max(map(_width, column)) + _GAP for column in zip(*cells, strict=True)) <= room:
            return sign + matrix(cells)
    return rf"\in\mathbb{{Q}}^{{{len(rows)}\times{len(rows[0])}}}\text{{, in the certificate}}"


def exact_matrix(rows: Sequence[Sequence[Fraction]]) -> str:
    """The matrix, every entry exactly."""
    return matrix([[exact_math(x) for x in row] for row in rows])


def matrix(cells: Sequence[Sequence[str]]) -> str:
    """A matrix in parentheses; amsmath's own take ten columns, an array takes any number."""
    body = r"\\".join("&".join(row) for row in cells)
    if (columns := len(cells[0])) > 10:
        return rf"\left(\begin{{array}}{{*{{{columns}}}{{c}}}}{body}\end{{array}}\right)"
    return rf"\begin{{pmatrix}}{body}\end{{pmatrix}}"


def _six_digits(x: Fraction) -> str:
    mantissa, _, exponent = f"{float(x):.6g}".partition("e")
    return mantissa + (rf"\cdot10^{{{int(exponent)}}}" if exponent else "")


def _width(cell: str) -> float:
    """About how wide a number is on paper, in points."""
    fraction = re.search(r"\\tfrac\{(\d+)\}\{(\d+)\}", cell)
    sign = _SIGN if cell.startswith("-") else 0.0
    if fraction:
        return sign + _SMALL_DIGIT * max(map(len, fraction.groups()))
    return sign + _DIGIT * len(re.sub(r"\D", "", cell)) + 3 * cell.count("\\")


def at_least(number: Fraction, places: int = 6) -> str:
    """A decimal that the number certainly reaches: cut off, never rounded up.

    >>> at_least(Fraction(197119, 196608)), at_least(Fraction(1, 3), 2)
    ('1.002599', '0.33')
    """
    scaled = number.numerator * 10**places // number.denominator
    sign, scaled = ("-" if scaled < 0 else ""), abs(scaled)
    return f"{sign}{scaled // 10**places}.{scaled % 10**places:0{places}d}"


def measured(value: float) -> str:
    """A measured quotient as `quotient` prints it, in LaTeX.

    >>> measured(0.12634), measured(1 - 2.0**-31), measured(3e-7)
    ('\\\\ensuremath{0.1263}', '\\\\ensuremath{1-4.7\\\\cdot10^{-10}}', '\\\\ensuremath{3\\\\cdot10^{-7}}')
    """
    text = quotient(log_of(value)).replace("inf", r"\infty").replace(" to 15 digits", r"\text{ to 15 digits}")
    text = re.sub(r" ([+-]) ", r"\1", text)
    power = re.sub(r"(?:\.0)?e([+-])0*(\d+)", lambda e: rf"\cdot10^{{{e[1].strip('+')}{e[2]}}}", text)
    return rf"\ensuremath{{{re.sub(r'(?<![.0-9])1.cdot10', '10', power)}}}"
