"""Words with formulas in them as LaTeX: nothing a text holds can become a command."""

from __future__ import annotations

import re

_SPECIAL = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", '"': "''"}
_SPECIAL |= {sign: f"\\{sign}" for sign in "{}$&#%_"} | {sign: f"${sign}$" for sign in "<>|"}
_LETTERS = """alpha beta gamma delta varepsilon eta theta kappa lambda mu nu xi pi rho sigma tau varphi omega Delta
    Theta Lambda Sigma le ge ne approx infty lfloor rfloor times cdot to | in nabla"""
_GREEK = dict(zip("αβγδεηθκλμνξπρστφωΔΘΛΣ≤≥≠≈∞⌊⌋×·→‖∈∇", _LETTERS.split(), strict=True))
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_TYPOGRAPHY = {"–": "--", "—": "---", "…": r"\dots{}", "“": "``", "”": "''", "‘": "`", "’": "'", "′": "'", "−": "$-$"}
_PIECE = re.compile(r"√(\w)|([₀-₉]+)|([⁰¹²³⁴-⁹]+)|(.)", re.DOTALL)

_SIGNS = {"ᵀ": r"^{\mathsf T}", "ˣ": "^{x}", "⁻": "^{-}", "′": "'", "ℓ": r"\ell", "⟨": r"\langle", "⟩": r"\rangle"}
_SIGNS |= {
    "↦": r"\mapsto",
    "⋯": r"\cdots",
    "∫": r"\int",
    "⊕": r"\oplus",
    "Σ": r"\sum",
    "∏": r"\prod",
    "ℝ": r"\mathbb{R}",
}
# An index or exponent in brackets, which may hold others.
_BRACED, _BRACKETED = r"\{(?:[^{}]|\{[^{}]*\})*\}", r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
# Signs, single letters and indices: no words.
_UNDER_ROOT = r"(?:[^()A-Za-z]|(?<=_)[A-Za-z]+|(?<![A-Za-z])[A-Za-z](?![A-Za-z]))"
_FORMULA = re.compile(
    rf"√\(((?:{_UNDER_ROOT}|\({_UNDER_ROOT}*\))*)\)|√([a-z]{{3,}}|\w(?:_\w+)?)|√|(?<=[\w‖|)\]}}∏Σ])([_^])({_BRACED}|{_BRACKETED}|[A-Za-z0-9]+|[α-ω*∞])"
    r"|⁻([⁰¹²³⁴-⁹]+)|([ᵀˣ⁻ℓ⟨⟩↦⋯∫⊕Σ∏′ℝ])"
    r"|(?<![A-Za-z0-9_])((?:[A-Z](?:_[A-Z]+)? = )+λ?I(?: \+ wS)?|I \+ wS)(?!\w)",  # what the identity is, or W is
    re.DOTALL,
)


def _math_letter(sign: str) -> str:
    """A letter inside mathematics, a Greek one by its name."""
    return rf"\{_GREEK[sign]}" if sign in _GREEK else sign


def formulas(text: str) -> str:
    """Words with formulas in them as LaTeX: subscripts, roots and signs become mathematics.

    >>> print(formulas("E = R W_QK Rᵀ/√d_qk"))
    E = R $W_{QK} R^{\\mathsf T} / \\sqrt{d_{qk}}$
    >>> print(formulas("one head, W_V = I, no bias"))
    one head, $W_{V} = I$, no bias
    >>> print(formulas("least √(‖x‖₂²/d + ε) of a token, least √(of them)"))
    least $\\sqrt{\\| x \\|_{2}^{2} /d + \\varepsilon}$ of a token, least $\\surd$(of them)
    >>> print(formulas("QᵀK a multiple of V, ‖uWvᵀ‖, dx_i, log₂ n, for βH"))
    $Q^{\\mathsf T} K$ a multiple of V, $\\| uWv^{\\mathsf T} \\|$, $dx_{i}$, log$_{2}$ n, for $\\beta H$
    """
    written, end = [], 0
    for match in _FORMULA.finditer(text):
        under, root, place, index, inverse, sign, identity = match.groups()
        base = re.search(r"[^\Wᵀ]*$", text[: match.start()])
        follows = place == "_" and text[match.end() :][:1] == "_"
        named = place == "_" and re.fullmatch("[a-z]{4,}", index)
        if place and base is not None and (len(base[0]) > 3 or "_" in base[0] or follows or named):
            continue  # a name in code, not a letter with an index
        written.append(escape(text[end : match.start()]))
        end = match.end()
        if under:
            written.append(rf"$\sqrt{{{_inside(under)}}}$")
        elif root:
            letter, _, below = root.partition("_")
            shown = rf"\mathrm{{{letter}}}" if len(letter) > 1 else _math_letter(letter)
            written.append(rf"$\sqrt{{{shown}{f'_{{{below}}}' if below else ''}}}$")
        elif identity:
            lowered = re.sub("_([A-Z]+)", r"_{\1}", identity)
            written.append("$" + lowered.replace("λ", r"\lambda ") + "$")
        elif place:
            inside = index[1:-1] if index[0] in "{(" else index
            written.append(f"${place}{{{_inside(inside)}}}$")
        else:
            power = f"$^{{-{inverse.translate(_SUPERSCRIPTS)}}}$" if inverse else r"$\surd$"
            written.append(f"${_SIGNS[sign]}$" if sign else power)
    return _joined("".join((*written, escape(text[end:]))))


def _inside(text: str) -> str:
    """A formula, all of it mathematics."""
    return re.sub(r" +(?=[_^ ])", "", re.sub(r"(?<!\\)\$", " ", formulas(text))).strip()


# Between two formulas: numbers, letters, signs. Before one: what touches it, or a sign's left side. Then its right.
_BETWEEN = re.compile(r" ?(?:(?:\d+|[A-Zb-z](?![A-Za-z])|[()/+=]) ?)*")
_BEFORE = re.compile(r"(?<![\w\\])(?:[A-Zb-z] = |\d+|(?!ln|tr)[A-Za-z]{1,2})\(?$")
_LEFT = re.compile(r"(?<![\w\\])(?:\d+|[A-Zb-z]) ?$")
_AFTER = re.compile(r" ?\(?(?:\d+(?:/\d+)?[a-z]?|[A-Zb-z])\)?(?=[\s,;:)]|\.?$|\.\s)")
# A product of letters that touches a formula: the x of ⟨x, the K of QᵀK.
_PRODUCT = re.compile(r"(?!th)[A-Za-z]{1,3}(?![A-Za-z])")
_RELATION = r"\\(?:le|ge|ne|approx|to|cdot|times|in)(?![a-z])|[-<>]"
_OPENS, _CLOSES = re.compile(_RELATION), re.compile(rf"(?:{_RELATION})$")
_TWICE = re.compile(r"([_^])\{[^{}]*\}\1")


def _joined(latex: str) -> str:
    """Formulas that stand side by side, and the letters and numbers between them, as one: $|$$\\lambda$$|$ is
    $|\\lambda|$."""
    first, *rest = re.split(r"(?<!\\)\$", latex)
    written, pieces = [first], list(zip(rest[::2], rest[1::2], strict=True))
    while pieces:
        math, after = pieces.pop(0)
        # A second index in one place stays apart: TeX refuses it.
        while (
            pieces
            and (_BETWEEN.fullmatch(after) or _PRODUCT.fullmatch(after))
            and not _TWICE.search(math + after + pieces[0][0])
        ):
            more, following = pieces.pop(0)
            math, after = re.sub(r" (?=[_^|)])", "", f"{math} {after.strip()} {more}".replace("  ", " ")), following
        if glued := (_LEFT if _OPENS.match(math) else _BEFORE).search(written[-1]):
            written[-1], math = written[-1][: glued.start()], glued[0] + math
        if product := _PRODUCT.match(after):
            math, after = f"{math} {product[0]}", after[product.end() :]
        if _CLOSES.search(math) and (right := _AFTER.match(after)):
            math, after = f"{math} {right[0].strip()}", after[right.end() :]
        written += [f"${math}$", after]
    # A prime belongs to the letter before it; two are quotation marks.
    return re.sub(r"(?<!\\)\$'(?![A-Za-z'$])", "'$", "".join(written))


def escape(text: str) -> str:
    """Plain text as LaTeX; the mathematical signs in it become mathematics.

    >>> escape("decays no faster than 1/√L, for 50 % of β_1")
    'decays no faster than 1/$\\\\sqrt{L}$, for 50 \\\\% of $\\\\beta$\\\\_1'
    """

    def piece(match: re.Match[str]) -> str:
        root, below, above, sign = match.groups()
        if root:
            return rf"$\sqrt{{{_math_letter(root)}}}$"
        if below:
            return f"$_{{{below.translate(_SUBSCRIPTS)}}}$"
        if above:
            return f"$^{{{above.translate(_SUPERSCRIPTS)}}}$"
        if sign in _GREEK:
            return rf"$\{_GREEK[sign]}$"
        for table in (_SPECIAL, _TYPOGRAPHY):
            if sign in table:
                return table[sign]
        # Latin letters with accents are known to pdflatex; what is not is named, never dropped.
        return sign if sign in "\n\t" or 0x20 <= ord(sign) < 0x17F else f"[U+{ord(sign):04X}]"

    return _PIECE.sub(piece, text)
