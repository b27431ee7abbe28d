"""Words with formulas in them as LaTeX: nothing a text holds can become a command.

A formula is the longest stretch that reads as one: letters, numbers and brackets with signs between them. What does
not read as one is text, and a mathematical sign in it is set alone.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

_SPECIAL = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
_SPECIAL |= {sign: f"\\{sign}" for sign in "{}$&#%_"} | {sign: f"${sign}$" for sign in "<>|"}
_NAMES = r"""alpha beta gamma delta varepsilon eta theta kappa lambda mu nu xi pi rho sigma tau varphi omega Delta Theta
    Lambda Sigma ell infty nabla mathbb{R} cdots le ge ne approx to mapsto in times cdot oplus pm sum prod int surd |
    langle rangle lfloor rfloor"""
_SIGNS = dict(
    zip("αβγδεηθκλμνξπρστφωΔΘΛΣℓ∞∇ℝ⋯≤≥≠≈→↦∈×·⊕±∑∏∫√‖⟨⟩⌊⌋", (f"\\{name}" for name in _NAMES.split()), strict=True)
)
_SIGNS |= {"−": "-", "…": r"\dots", "Σ": r"\sum", "∗": "*"}
_INDICES = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_POWERS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀˣ", (*"0123456789-", r"\mathsf T", "x"), strict=True))
_TYPOGRAPHY = {"–": "--", "—": "---", "…": r"\dots{}", "“": "``", "”": "''", "‘": "`", "’": "'", "′": "'"}
_PIECE = re.compile(r"√([A-Za-z0-9α-ω])(?!\w)|([₀-₉]+)|([⁰¹²³⁴-⁹⁻ᵀˣ]+)|(.)", re.DOTALL)

_DIGITS = frozenset("0123456789")
_FRACTIONS = {"½": r"\tfrac{1}{2}", "¼": r"\tfrac{1}{4}", "¾": r"\tfrac{3}{4}"}
_LETTERS = "αβγδεηθκλμνξπρστφωΔΘΛℓ∞∇ℝ⋯"
_WITH_ARGUMENT = frozenset(("sin", "cos", "tan", "exp", "log", "ln", "sinh", "cosh", "tanh", "artanh"))
_OPERATORS = frozenset(("rank", "dim", "deg", "diag", "softmax", "LN", "Re", "Im", "Var", "Lip", "tr", "det"))
_OVER = frozenset(("max", "min", "sup", "inf", "lim"))
_CLOSERS = {"(": ")", "[": "]", "⟨": "⟩", "⌊": "⌋", "‖": "‖", "|": "|"}
_RELATION = re.compile(r" ?([=<>≤≥≠≈→↦∈+−±·×⊕]|(?<= )/(?= )|(?<! )[/*](?! )|(?<= )-(?= )) ?")
# Before one of these the letter a is a number, not an article.
_ENDS = re.compile(
    r"[^\w ]|$| (?![\w(])| (?:and|or|the|for|where|if|is|are|with|of|in|at|on|by|to|then|as|but|from|stands?)\b"
)
_TWO_LETTERS = frozenset(("an", "as", "at", "by", "if", "in", "is", "it", "no", "of", "on", "or", "so", "to", "we"))
_NO_PRODUCTS = frozenset(("LN", "MLP", "RMS", "TV", "GPU", "CPU", "vs", "nth", "SPA", "GPT", "BERT"))
_ONES = re.compile(r"ᵀ|_[A-Z]|[a-z]ᵀ|·bias")
_WORD = re.compile(r"[^\W\d_][^\W_]*(?:[-/:._'’]\w+)*|\d\w*(?:[.:-]\w+)*|_\w+")


class _Read(NamedTuple):
    """A formula that was read: its LaTeX, where it ends, whether it is more than a letter or a number."""

    tex: str
    end: int
    plain: bool
    sure: bool


def formulas(text: str) -> str:
    """Words with formulas in them as LaTeX: what reads as a formula becomes mathematics, as a whole.

    >>> print(formulas("E = R W_QK Rᵀ/√d_qk, a token x of them"))
    $E = R W_{QK} R^{\\mathsf T}/\\sqrt{d_{qk}}$, a token $x$ of them
    >>> print(formulas("one head, W_V = I, no bias: 33/25 < 8/5 (see own:tv)"))
    one head, $W_{V} = I$, no bias: $33/25 < 8/5$ (see own:tv)
    >>> print(formulas("least √(‖x‖₂²/d + ε) of a token, least √(of them)"))
    least $\\sqrt{\\|x\\|_{2}^{2}/d + \\varepsilon}$ of a token, least $\\surd$(of them)
    """
    text = _quoted(text)
    written: list[str]
    reader, written, kept, at, plain = _Reader(text), [], 0, 0, False
    while at < len(text):
        found = reader.sum(at, "")
        if found is not None and reader.stands_alone(at, found):
            if text[kept:at] == " " and written and not (plain and found.plain):
                written[-1] = f"{written[-1][:-1]} {found.tex}$"
            else:
                written += [escape(text[kept:at]), f"${found.tex}$"]
            kept, plain = found.end, found.plain
            at = kept
        else:
            word = _WORD.match(text, at)
            at = word.end() if word else at + 1
    return re.sub(r"(?<!\\)\$\$(?![_^])", " ", "".join((*written, escape(text[kept:]))))  # signs side by side


class _Reader:
    """Formulas in a text, by recursive descent; None where there is none."""

    def __init__(self, text: str) -> None:
        self.text = text
        # What is inside brackets is read again where these do not close.
        self.sum = cache(self._sum)
        self.operand = cache(self._operand)

    def char(self, at: int) -> str:
        return self.text[at : at + 1]

    def stands_alone(self, at: int, found: _Read) -> bool:
        """Whether this is a formula in a sentence: not a number, an article, a word, or a part of one."""
        shown, before = self.text[at : found.end], self.text[:at]
        if re.search(r"[^\W_]$|[_\\]$", before) or re.match(r"\.\w|-[A-Z0-9]", self.text[found.end :]):
            return False
        if found.plain:
            if re.search(r"(?:[Aa]ppendix|Lemma|Theorem) $", before) or shown == "I":
                return False
            article = shown == "a" or (shown == "A" and re.search(r"(?:^|[.:;] )$", before) is not None)
            return len(shown) == 1 and shown.isalpha() and not (article and not _ENDS.match(self.text, found.end))
        return found.sure

    def _sum(self, at: int, closer: str) -> _Read | None:
        """Operands with signs between them, up to the closing bracket if there is one."""
        first = self.signed(at, closer)
        if first is None and not closer and (bare := re.compile("([≤≥<>≠]) ").match(self.text, at)):
            first = self.signed(bare.end(), closer)
            first = first and first._replace(
                tex=_glued(f"{_SIGNS.get(bare[1], bare[1])} ", first.tex), plain=False, sure=True
            )
        if first is None:
            return None
        tex, end, plain, sure = first
        while self.char(end) != closer or not closer:
            more = self.further(end, closer, plain)
            if more is None:
                break
            tex, end, plain, sure = _glued(tex, more.tex), more.end, False, True
        if self.text[end : end + 5] == ", …, " and (last := self._sum(end + 5, closer)) is not None:
            return _Read(rf"{tex}, \dots, {last.tex}", last.end, False, True)
        return _Read(tex, end, plain, sure)

    def further(self, at: int, closer: str, plain: bool) -> _Read | None:
        """A sign and what follows, or a factor."""
        sign = _RELATION.match(self.text, at)
        if sign and (closer or sign[1] != "-"):
            right = self.signed(sign.end(), closer)
            if right is not None and (sign[1] not in "=≈" or self.is_number(sign.end(), right)):
                space = "" if sign[1] in "/*" else " "
                return right._replace(tex=f"{space}{_SIGNS.get(sign[1], sign[1])}{space}{right.tex}")
        if closer and self.text[at : at + 3] == f" ·{closer}":
            return _Read(r" \cdot", at + 2, False, True)
        if self.char(at) != " ":
            factor = self.operand(at, closer)
            return None if self.char(at) in _DIGITS and self.text[at - 1] in _DIGITS else factor
        if not closer and re.search(r"(?:^|[^\w=+−·/<>≤≥] ?)a$|(?:^|[.:;] )A$", self.text[:at]):
            return None  # an article
        if self.char(at + 1) in "(|[" or (plain and self.text[at - 1] in _DIGITS):
            return None
        factor = self.operand(at + 1, closer)
        # A capital beside a formula is a matrix, and ds a differential.
        letters = "[B-HJ-Zb-z]" if closer else "[B-HJ-Z]|d[stuvxy]"
        matrix = not plain and re.compile(rf"(?:{letters})(?![\w'’-])").match(self.text, at + 1)
        return factor._replace(tex=f" {factor.tex}") if factor is not None and (factor.sure or matrix) else None

    def is_number(self, at: int, found: _Read) -> bool:
        """Whether the letter a behind a sign stands for a number."""
        return self.text[at : found.end] != "a" or _ENDS.match(self.text, found.end) is not None

    def signed(self, at: int, closer: str) -> _Read | None:
        if self.char(at) in ("−", "±"):
            found = self.operand(at + 1, closer)
            return found and found._replace(tex=_glued(_SIGNS[self.char(at)], found.tex), plain=False, sure=True)
        return self.operand(at, closer)

    def _operand(self, at: int, closer: str) -> _Read | None:
        """A number, a letter, a function or a sum of its argument, or something in brackets; with its indices."""
        char = self.char(at)
        if not char or char == closer:
            return None
        if char == "√":
            if word := re.compile("[a-z]{3,}").match(self.text, at + 1):
                return _Read(rf"\sqrt{{\mathrm{{{word[0]}}}}}", word.end(), False, True)
            under = self.bracketed(at + 1) if self.char(at + 1) == "(" else self.atom(at + 1)
            inner = under and (under.tex[1:-1] if self.char(at + 1) == "(" else under.tex)
            return under and self.indexed(_Read(rf"\sqrt{{{inner}}}", under.end, False, True))
        if char in _CLOSERS:
            found = self.bracketed(at)
            return found and self.indexed(found)
        if char in "Σ∏∫":
            found = self.indexed(_Read(_SIGNS[char], at + 1, False, True))
            return self.applied(found, closer, brackets=True)
        return self.atom(at, closer)

    def applied(self, head: _Read | None, closer: str, *, brackets: bool) -> _Read | None:
        """A function or a sum with what it is of; nothing without that."""
        if head is None:
            return None
        at = head.end + (self.char(head.end) == " ")
        if at > head.end and not brackets and self.char(at) in "([":
            return None
        if self.char(at) in "[|" and at > head.end:
            return None
        of = self.operand(at, closer)
        return of and _Read(_glued(head.tex, f" {of.tex}" if at > head.end else of.tex), of.end, False, True)

    def atom(self, at: int, closer: str = "") -> _Read | None:
        text = self.text
        char = self.char(at)
        if char == "·" and self.char(at + 1) in _CLOSERS.values():
            return _Read(r"\cdot", at + 1, True, False)
        if char == "…":
            return _Read(r"\dots", at + 1, True, False)
        if char in _FRACTIONS:
            return _Read(_FRACTIONS[char], at + 1, True, False)
        if char in _LETTERS and char:
            return self.indexed(_Read(_SIGNS[char], at + 1, False, True))
        if number := re.compile(r"\d+(?:\.\d+)?…?").match(text, at):
            if re.compile(r"(?:st|nd|rd|th)\b").match(text, number.end()):
                return None
            # The column of ones, in 1xᵀ and the like.
            ones = number[0] in ("1", "11") and (_ONES.match(text, number.end()) or text[:at].endswith("⁻¹"))
            shown = r"\mathbf 1" * len(number[0]) if ones else number[0].replace("…", r"\dots")
            return self.indexed(_Read(shown, number.end(), True, False))
        run = re.compile(r"[A-Za-z]+").match(text, at)
        if run is None:
            return None
        name, end = run[0], run.end()
        if name in _OVER:
            head = self.indexed(_Read(rf"\{name}", end, True, False))
            return self.applied(head, closer, brackets=head is not None and head.end > end)
        if name in _WITH_ARGUMENT:
            head = self.indexed(_Read(r"\operatorname{artanh}" if name == "artanh" else rf"\{name}", end, True, False))
            found = self.applied(head, closer, brackets=False)
            # cos² + sin² are numbers without a word on what of.
            return found or (head if head is not None and head.end > end else None)
        if name == "diag" and re.compile(r" [a-z](?!\w)").match(text, end):
            return self.applied(_Read(r"\operatorname{diag}", end, True, False), closer, brackets=False)
        if name in _OPERATORS:
            return self.indexed(
                _Read(rf"\operatorname{{{name}}}", end, True, False), name == "Var" or self.char(end) == "("
            )
        if len(name) > 1 and not self.is_product(name, at, end):
            if (self.char(end) == "^" and len(name) > 3) or (
                len(name) > 2 and re.compile(r"_[a-z](?![\w(])").match(text, end)
            ):
                return self.indexed(_Read(rf"\mathrm{{{name}}}", end, True, False))
            return None
        if re.compile(r"['’][a-z]|[\u00c0-\u017f]").match(text, end):
            return None
        return self.indexed(_Read(name, end, True, False))

    def is_product(self, name: str, at: int, end: int) -> bool:
        """Whether some letters are a product of single ones: PX, wS, dt, and of two what is marked as one."""
        if len(name) > 4 or name in _NO_PRODUCTS or self.char(end) == "-":
            return False
        before, behind = self.text[max(0, at - 2) : at], self.text[end : end + 2]
        if len(name) == 2 and (behind[:1] == "^" or behind == "_{" or before[1:] == "ᵀ" or before in ("+ ", "− ")):
            return name not in _TWO_LETTERS
        return any(letter.isupper() for letter in name[1:]) or not re.search("[aeiouy]", name.lower())

    def bracketed(self, at: int) -> _Read | None:
        """What stands in brackets: one formula, or some with commas between them."""
        opener, closer = self.char(at), _CLOSERS[self.char(at)]
        parts, sure, end = [], opener not in "([", at + 1
        while True:
            part = self.sum(end, closer)
            if part is None:
                return None
            parts.append(part.tex)
            sure, end = sure or part.sure or len(parts) > 1, part.end
            half_open = opener in "([" and len(parts) == 2 and self.char(end) in ("]", ")")
            if self.char(end) == closer or half_open:
                ends = [_SIGNS.get(sign, sign) for sign in (opener, self.char(end))]
                return _Read(_glued(_glued(ends[0], ", ".join(parts)), ends[1]), end + 1, False, sure)
            if self.text[end : end + 2] != ", ":
                return None
            end += 2

    def indexed(self, found: _Read | None, always: bool = False) -> _Read | None:
        """An operand with the indices, powers and primes behind it; None where these are those of a name in code."""
        if found is None:
            return None
        below, above, primes, end = "", "", "", found.end
        while char := self.char(end):
            if char in _INDICES:
                below, end = below + _INDICES[char], end + 1
            elif char in _POWERS:
                above, end = above + _POWERS[char], end + 1
            elif char in "'′" and not re.compile(r"['′]['′\w]").match(self.text, end) and self.text[end - 1].isalnum():
                primes, end = primes + "'", end + 1
            elif char == "*" and found.tex.isalpha() and not re.compile(r"\*[\w(]").match(self.text, end):
                above, end = f"{above}*", end + 1
            elif char in "_^":
                index = self.index(end + 1, char)
                if index is None:
                    return None if char == "_" else self.marked(found, below, above, primes, end)
                below, above = (below + index.tex, above) if char == "_" else (below, above + index.tex)
                end = index.end
            else:
                break
        return self.marked(found, below, above, primes, end, always)

    def marked(self, found: _Read, below: str, above: str, primes: str, end: int, always: bool = False) -> _Read:
        """An operand with these marks; one that has some, or is a formula `always`, is more than a letter."""
        some = bool(below or above or primes)
        marks = [f"_{{{below}}}" if below else "", f"^{{{above}}}" if above else ""]
        # TeX takes a power that follows a prime at once, and no other.
        tex = found.tex + primes + "".join(reversed(marks) if primes else marks)
        return _Read(tex, end, found.plain and not some, found.sure or some or always)

    def index(self, at: int, place: str) -> _Read | None:
        """An index or a power: in brackets, or some letters and digits; None for a part of a name in code."""
        opener = self.char(at)
        if opener in ("{", "("):
            closer, depth, end = {"{": "}", "(": ")"}[opener], 0, at
            while end < len(self.text):
                depth += (self.char(end) == opener) - (self.char(end) == closer)
                end += 1
                if depth == 0:
                    inside = _inside(self.text[at + 1 : end - 1])
                    return None if inside is None else _Read(inside, end, False, True)
            return None
        run = re.compile(r"[A-Za-z]+|\d+[a-z]?|[*∞]|[α-ωℓ]|−(?:\d+|[A-Za-zα-ω])").match(self.text, at)
        if run is None:
            return None
        more = re.compile(r"[A-Za-z0-9]+").match(self.text, run.end())
        if place == "_" and (self.char(run.end()) == "_" or re.fullmatch("[a-z]{4,}", run[0])):
            return None
        if more and run[0].isalnum() and run[0].isascii():
            return _Read(run[0] + more[0], more.end(), False, True)
        signs = "".join(_SIGNS.get(sign, sign) for sign in run[0])
        tex = rf"\mathrm{{{run[0]}}}" if re.fullmatch("[a-z]{3,}", run[0]) else signs
        return _Read(tex, run.end(), False, True)


def _glued(left: str, right: str) -> str:
    """Two pieces side by side; a command ends before a letter."""
    return f"{left} {right}" if right[:1].isalpha() and re.search(r"\\[A-Za-z]+$", left) else left + right


def _inside(text: str) -> str | None:
    """What stands in an index, all of it mathematics; None where it does not read as that."""
    text, parts, at = text.replace("-", "−"), [], 0
    reader = _Reader(text)
    while True:
        found = reader.sum(at, "")
        if found is None:
            return None
        parts.append(found.tex)
        comma = re.compile(", ?").match(text, found.end)
        if comma is None:
            return ",".join(parts) if found.end == len(text) else None
        at = comma.end()


def escape(text: str) -> str:
    """Plain text as LaTeX; the mathematical signs in it become mathematics.

    >>> escape("decays no faster than 1/√L, for 50 % of β_1")
    'decays no faster than 1/$\\\\sqrt{L}$, for 50 \\\\% of $\\\\beta$\\\\_1'
    """

    def piece(match: re.Match[str]) -> str:
        root, below, above, sign = match.groups()
        if root:
            return rf"$\sqrt{{{_SIGNS.get(root, root)}}}$"
        if below:
            return f"$_{{{''.join(map(_INDICES.__getitem__, below))}}}$"
        if above:
            return f"$^{{{''.join(map(_POWERS.__getitem__, above))}}}$"
        for table in (_SPECIAL, _TYPOGRAPHY):
            if sign in table:
                return table[sign]
        if sign in _SIGNS:
            return f"${_SIGNS[sign]}$"
        # Latin letters with accents are known to pdflatex; what is not is named, never dropped.
        return sign if sign in "\n\t" or 0x20 <= ord(sign) < 0x17F else f"[U+{ord(sign):04X}]"

    return _PIECE.sub(piece, _quoted(text))


def _quoted(text: str) -> str:
    """The text with quotation marks that open and close: the first of a word opens."""
    return re.sub(r'"', "”", re.sub(r'(?<![^\s(\[{–—])"(?=\S)', "“", text))


#: Commands of mathematics that somebody else's words may hold between dollar signs: none reads, writes or defines.
_ALLOWED = """alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi
    rho varrho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi
    Omega ell infty nabla partial emptyset forall exists neg le leq ge geq ne neq approx sim simeq equiv cong
    propto ll gg to mapsto rightarrow leftarrow Rightarrow Leftarrow implies iff in notin subset subseteq cup
    cap setminus times cdot cdots ldots dots oplus otimes odot circ star ast pm mp sum prod int max min sup inf
    lim log ln exp sin cos tan sinh cosh tanh det dim ker arg deg Pr sqrt frac tfrac dfrac binom mathbb mathbf
    mathcal mathrm mathit mathsf mathfrak operatorname text hat bar tilde vec dot overline underline widehat
    widetilde top bot perp prime langle rangle lfloor rfloor lceil rceil lvert rvert lVert rVert vert Vert mid
    parallel quad qquad bigl bigr Bigl Bigr"""
_SAFE = frozenset((*_ALLOWED.split(), *"|{},;: !"))
_MATHEMATICS = re.compile(r"\$(?=\S)((?:[^$\\]|\\[^$])+)(?<=\S)\$(?!\d)")


def own_words(text: str) -> str:
    r"""The words of a person as LaTeX: text, but for mathematics that stands between dollar signs as LaTeX.

    >>> print(own_words(r'W. Q. Smith, "lemma 3" on $\|W\|_\infty$, at 50% & $5'))
    W. Q. Smith, ``lemma 3'' on $\|W\|_\infty$, at 50\% \& \$5
    >>> print(own_words(r"what $\input{file}$ reads"))
    what \$\textbackslash{}input\{file\}\$ reads
    """
    text, written, kept = _quoted(" ".join(text.split())), "", 0
    for found in _MATHEMATICS.finditer(text):
        if _is_mathematics(found[1]):
            written, kept = f"{written}{escape(text[kept : found.start()])}{found[0]}", found.end()
    return written + escape(text[kept:])


def _is_mathematics(tex: str) -> bool:
    """Whether LaTeX between dollar signs is mathematics alone, and its braces are closed."""
    commands = re.findall(r"\\([A-Za-z]+|.)", tex)
    bare = re.sub(r"\\([A-Za-z]+|.)", "", tex)
    depths = [0]
    for sign in bare:
        depths.append(depths[-1] + (sign == "{") - (sign == "}"))
    closed = depths[-1] == 0 and min(depths) == 0
    plain = bare.isascii() and not set(bare) & set("#%&~") and "^^" not in bare  # ^^5c is a backslash
    return closed and plain and set(commands) <= _SAFE
