"""How numbers and names are shown to people, everywhere alike."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from difflib import SequenceMatcher, get_close_matches
from fractions import Fraction
from html import escape


def quotient(log_ratio: float | None, *, up: bool = False) -> str:
    """exp(log_ratio) in four digits; near 1 its distance from 1, and beyond the doubles a power of ten.

    A logarithm carries some fifteen digits, so closer to 1 than that nothing is claimed. `up`: behind a sign ≤, where
    the digits are rounded up.

    >>> [quotient(x, up=True) for x in (math.log(0.25), math.log(0.99652), -9.49e-08, 9.41e-08)]
    ['0.25', '0.9966', '1 - 9.4e-08', '1 + 9.5e-08']

    >>> [quotient(x) for x in (math.log(0.25), -1e-7, 1e-7, 0.0, -1e-16)]
    ['0.25', '1 - 1.0e-07', '1 + 1.0e-07', '1 to 15 digits', '1 to 15 digits']
    >>> [quotient(x) for x in (-2000.0, 5000.0, -math.inf, math.inf, None)]
    ['2.577e-869', '2.968e+2171', '0', 'inf', '']
    """
    if log_ratio is None or math.isnan(log_ratio):
        return ""
    if math.isinf(log_ratio):
        return "inf" if log_ratio > 0 else "0"
    if abs(log_ratio) < 1e-15:
        return "1 to 15 digits"
    if abs(log_ratio) < 1e-3:
        gap = math.expm1(log_ratio)
        size = abs(gap)
        if up:  # but for what rounding made of the logarithm
            size = float(rounded(size - 2e-16, 2, up=True) if gap > 0 else rounded(size + 2e-16, 2, up=False))
        return f"1 {'+' if gap > 0 else '-'} {size:.1e}"
    if abs(log_ratio) > 1e12:  # no digit of a power of ten is known
        told = log_ratio + 6e-4 * abs(log_ratio) * up
        return f"e^({told:.4g})" if log_ratio > -1e307 else "e^(-1e307) or less"
    power = 0.0 if abs(log_ratio) < 700 else log_ratio / math.log(10)
    size = 10 ** (power % 1) if power else math.exp(log_ratio)
    shown = rounded(size * (1 - 1e-12), 4, up=True) if up else f"{size:.4g}"
    return f"{shown}e{math.floor(power):+d}" if power else shown


def compared(log_lhs: float, log_rhs: float) -> str:
    """The quotient of two numbers given by their logarithms, in the digits that these have; "" where they have none.

    >>> compared(-2.0, -1.0), compared(-5e5, -5e5), compared(-1e20, -1e20), compared(-2e20, -1e20)
    ('0.3679', '1 to 9 digits', '', 'e^(-1e+20)')
    """
    gap, doubt = log_lhs - log_rhs, 2.0**-51 * max(1.0, abs(log_lhs), abs(log_rhs))
    if not math.isfinite(gap) or doubt < 1e-15:
        return quotient(gap)
    if abs(gap) <= doubt:
        return f"1 to {-math.ceil(math.log10(doubt))} digits" if doubt < 0.1 else ""
    return quotient(gap) if doubt < 1e-5 else f"e^({gap:.4g})"


def rounded(number: float | Fraction, digits: int, *, up: bool) -> str:
    """A number in so many digits, rounded to the side on which what is said of it stays true.

    >>> rounded(Fraction(125, 128), 6, up=True), rounded(2.0**-48, 2, up=False), rounded(-0.25, 1, up=False)
    ('0.976563', '3.5e-15', '-0.3')
    """
    exact = Fraction(number)
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return f"{float(context.divide(Decimal(exact.numerator), Decimal(exact.denominator))):.{digits}g}"


def power_of_two(number: Fraction) -> str:
    """A number as it is, short where it is a power of two.

    >>> power_of_two(Fraction(1, 2**48)), power_of_two(Fraction(3, 4))
    ('2^-48', '3/4')
    """
    power = number.denominator.bit_length() - 1
    return f"2^-{power}" if power and number == Fraction(1, 2**power) else str(number)


def log_of(ratio: float) -> float:
    """log of a ratio that may be 0."""
    return math.log(ratio) if ratio > 0 else -math.inf


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """`; did you mean …?`, or nothing where no name is near.

    >>> did_you_mean("own:diametre", ["own:diameter", "own:tv"])
    "; did you mean 'own:diameter'?"
    >>> did_you_mean("zebra", ["own:diameter", "own:tv"])
    ''
    """
    names = list(known)
    near = get_close_matches(given, names, n=3, cutoff=0.6)
    likeness = [SequenceMatcher(None, given, name).ratio() for name in near]
    near = [name for name, alike in zip(near, likeness, strict=True) if alike > likeness[0] - 0.15]
    near = near or [name for name in names if given and given.lower() in name.lower()][:3]
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


#: Lines that a public object takes when it is printed.
MOST_LINES = 10


@dataclass(frozen=True)
class Sheet:
    """What a public object says of itself: a line, facts, and a table of which the middle may be left out."""

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()

    def text(self, most: int = MOST_LINES) -> str:
        """At most `most` lines.

        >>> print(Sheet("squares", (), ("n", "n^2"), tuple((str(n), str(n * n)) for n in range(100))).text(6))
        squares
         n   n^2
         0     0
         1     1
         …     …
        99  9801
        """
        lines = [self.title, *(f"  {name}: {value}" for name, value in self.facts)]
        if self.rows:
            shown = _middle_out(self.rows, max(3, most - len(lines) - 1))
            table = (self.columns, *shown)
            width = [max(len(row[i]) for row in table) for i in range(len(self.columns))]
            lines += ["  ".join(cell.rjust(w) for cell, w in zip(row, width, strict=True)) for row in table]
        return "\n".join(lines[:most])

    def html(self) -> str:
        """For a notebook: the same, with more of the table."""
        parts = [f"<strong>{escape(self.title)}</strong>"]
        if self.facts:
            facts = "".join(f"<tr><td>{escape(name)}</td><td>{escape(v)}</td></tr>" for name, v in self.facts)
            parts.append(f"<table>{facts}</table>")
        if self.rows:
            head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
            body = "".join(
                "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
                for row in _middle_out(self.rows, 25)
            )
            parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        return "".join(parts)


def _middle_out(rows: tuple[tuple[str, ...], ...], most: int) -> tuple[tuple[str, ...], ...]:
    if len(rows) <= most:
        return rows
    first = most // 2
    dots = tuple("…" for _ in rows[0])
    return (*rows[:first], dots, *rows[len(rows) - (most - first - 1) :])


class Shows:
    """Prints as its `sheet`, in a terminal and in a notebook."""

    def sheet(self) -> Sheet:
        """What it says of itself."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.sheet().text()

    def _repr_html_(self) -> str:
        return self.sheet().html()


def digits(x: float, count: int = 6) -> str:
    """A number for a table; nothing where there is none.

    >>> digits(-12.3456789), digits(float("nan")), digits(float("-inf"))
    ('-12.3457', '', '-inf')
    """
    return "" if math.isnan(x) else f"{x:.{count}g}"
