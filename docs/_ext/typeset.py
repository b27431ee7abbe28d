"""Formulas that a page writes in Unicode, such as ‖W_QK‖₂ ≤ 1, are set in type; the page itself stays plain text.

A formula is a word with a sign that prose has not (a norm, a root, an index, a power, a Greek letter), or what
stands around = ≤ < + −; brackets bring all words up to the one that closes them. What does not read as a formula to
its last sign stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mathml import mathml

_NAMES = r"""\alpha \beta \gamma \delta \varepsilon \zeta \eta \theta \iota \kappa \lambda \mu \nu \xi \pi \rho
\sigma \tau \varphi \chi \psi \omega \Gamma \Delta \Theta \Lambda \Xi \Pi \Sigma \Phi \Psi \Omega"""
_GREEK = dict(zip("αβγδεζηθικλμνξπρστφχψωΓΔΘΛΞΠΣΦΨΩ", re.findall(r"\S+", _NAMES), strict=True))
_SIGNS = _GREEK | {
    "≤": r"\le",
    "≥": r"\ge",
    "±": r"\pm",
    "∓": r"\mp",
    "·": r"\cdot",
    "×": r"\times",
    "∞": r"\infty",
    "−": "-",
    "⌊": r"\lfloor",
    "⌋": r"\rfloor",
    "⌈": r"\lceil",
    "⌉": r"\rceil",
    "⟨": r"\langle",
    "⟩": r"\rangle",
    "‖": r"\|",
    "∏": r"\prod",
    "→": r"\to",
    "½": r"\tfrac12",
    "¼": r"\tfrac14",
    "¾": r"\tfrac34",
    "ℓ": r"\ell",
    "∈": r"\in",
    "≈": r"\approx",
    "…": r"\ldots",
}
_PLAIN = "+=<>/,()[]|"
_LOW = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_HIGH = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ˡ", "0123456789-+l", strict=True))
_ACCENTS = {"\N{COMBINING MACRON}": r"\bar", "\N{COMBINING CIRCUMFLEX ACCENT}": r"\hat"}
_FUNCTIONS = re.compile("tanh|sinh|cosh|softmax|diag|log|exp|max|min|mean|Var|LN|rank|res|det|deg|tr|binom")
_OPEN, _CLOSE = "([{⌊⌈⟨", ")]}⌋⌉⟩"
_STRONG = re.compile(r"[‖√ᵀ₀-₉⁰¹²³⁴-⁹⁻½¼¾⌊⌈∞]|\w_[\w{*]|\w\^|[)\]}‖]\^|[" + "".join(_GREEK) + "]")
_OPERATOR = re.compile(r"[=<>≤≥+−·±×≈∈→]")
_WEAK = re.compile(r"[A-Za-z]|−?\d+([.,]\d+)?(/\d+)?[A-Za-z]?")
_SKIPPED = ("literal", "literal_block", "math", "math_block", "raw", "title", "image", "comment")


class Prose(ValueError):
    """This is no formula."""


def tex(text: str) -> str:
    r"""A formula in TeX, sign by sign.

    Examples
    --------
    >>> tex("‖W_QK‖₂ ≤ √(n/2)ε^{2r}")
    '\\| W_{QK}\\| _{2}\\le \\sqrt{n/2}\\varepsilon ^{2r}'
    >>> tex("max_j E_ij − 1xᵀ")
    '\\operatorname{max} _{j}E_{ij}-1x^{\\mathsf T}'
    >>> tex("⟨x₁, y⟩ ≤ Σ 1/deg_i")
    '\\langle x_{1},y\\rangle \\le \\Sigma 1/\\operatorname{deg} _{i}'
    >>> tex("mu_{i-1}")
    'mu_{i-1}'
    >>> tex("the norm")
    Traceback (most recent call last):
    ...
    typeset.Prose: the norm
    """
    found, place = [], 0
    while place < len(text):
        written, place = _sign(text, place)
        found.append(written)
    return "".join(found).strip()


def _sign(text: str, at: int) -> tuple[str, int]:
    """What stands at a place, in TeX, and the place after it."""
    sign = text[at]
    if sign == " ":
        return "", at + 1
    if text[at + 1 : at + 2] in _ACCENTS:
        return rf"{_ACCENTS[text[at + 1]]}{{{sign}}}", at + 2
    name = _FUNCTIONS.match(text, at)
    if name and not text[name.end() : name.end() + 1].isalpha():
        return rf"\operatorname{{{name[0]}}} ", name.end()
    if sign in _LOW or sign in _HIGH:
        digits, end = _LOW if sign in _LOW else _HIGH, at
        while end < len(text) and text[end] in digits:
            end += 1
        return f"{'_' if sign in _LOW else '^'}{{{''.join(digits[x] for x in text[at:end])}}}", end
    if sign == "ᵀ":
        return r"^{\mathsf T}", at + 1
    if sign in "_^" and not (sign == "_" and text[at - 1 : at].isdigit()):  # x86_64 is a name
        inner, end = _script(text, at + 1)
        return f"{sign}{{{inner}}}", end
    if sign == "√":
        if text[at + 1 : at + 2] == "(":
            end = _closing(text, at + 1)
            return rf"\sqrt{{{tex(text[at + 2 : end])}}}", end + 1
        root = re.compile(r"\d+|[A-Za-z]_[a-z]+|[^\W_]").match(text, at + 1)
        if root is None:
            raise Prose(text)
        return rf"\sqrt{{{tex(root[0])}}}", root.end()
    if sign in _SIGNS:
        return _SIGNS[sign] + (" " if _SIGNS[sign].startswith("\\") else ""), at + 1
    if sign in _PLAIN:
        return sign, at + 1
    number = re.compile(r"\d+(\.\d+)?…?").match(text, at)
    if number:
        return number[0].replace("…", r"\ldots "), number.end()
    letters = re.compile("[A-Za-z]+").match(text, at)
    if letters and len(letters[0]) <= 2:
        return letters[0], letters.end()
    raise Prose(text)


def _script(text: str, at: int) -> tuple[str, int]:
    """An index or an exponent: in braces, or the letters, the number or the one sign that follow."""
    if text[at : at + 1] == "{":
        end = _closing(text, at)
        return tex(text[at + 1 : end].replace("-", "−")), end + 1
    if text[at : at + 1] in tuple("⌊⌈("):
        end = _closing(text, at)
        return tex(text[at : end + 1]), end + 1
    found = re.compile(r"[A-Za-z]+(,[a-z]\b)?|-?\d+(\.\d+)?").match(text, at)
    if found:
        word = found[0] if len(found[0]) <= 2 or not found[0].isalpha() else rf"\mathrm{{{found[0]}}}"
        return word, found.end()
    if text[at : at + 1] == "*":
        return "*", at + 1
    if at < len(text):
        return _sign(text, at)
    raise Prose(text)


def _closing(text: str, at: int) -> int:
    """The place of the bracket that closes the one at a place."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] in _OPEN) - (text[place] in _CLOSE)
        if not depth:
            return place
    raise Prose(text)


def _depth(text: str) -> int:
    return sum((sign in _OPEN) - (sign in _CLOSE) for sign in text)


def pieces(text: str) -> Iterator[tuple[bool, str]]:
    """The text in order: formulas, in TeX, and what stands between them.

    Examples
    --------
    >>> list(pieces("with β, ‖W_h‖_F and a rate (1 − α)/2: so n ≥ 2."))[1::2]
    [(True, '\\\\beta'), (True, '\\\\| W_{h}\\\\| _{F}'), (True, '(1-\\\\alpha )/2'), (True, 'n\\\\ge 2')]
    """
    words = re.findall(r"\s+|\S+", text)
    prose, at = "", 0
    while at < len(words):
        end = _reach(words, at)
        found = _formula("".join(words[at:end])) if end > at else None
        if found is None:
            prose, at = prose + words[at], at + 1
            continue
        before, formula, after = found
        if prose + before:
            yield False, prose + before
        yield True, formula
        prose, at = after, end
    if prose:
        yield False, prose


def _reach(words: list[str], at: int) -> int:
    """How far a formula that begins here may go: over open brackets, and over operators between its parts."""
    end = at
    while end < len(words):
        part = _bracketed(words, end)
        if not _is_part("".join(words[end:part])):
            return max(at, end - 3)  # not the operator before it either
        end = part
        ended = end + 2 >= len(words) or re.search(r"[,;:.]$", words[end - 1])
        if ended or not _OPERATOR.fullmatch(words[end + 1]):
            return end
        end += 3  # the space, the operator and the space after it
    return min(end, len(words))


def _bracketed(words: list[str], at: int) -> int:
    """The place after the word that closes all brackets that this word opens, if those between are formulas too."""
    for text in (words[at], words[at].lstrip("(")):  # a bracket in front may be that of a sentence
        depth, part, formulas = _depth(text), at + 1, True
        while part < len(words) and depth > 0:
            depth, part = depth + _depth(words[part]), part + 1
            formulas = formulas and not _is_prose(words[part - 1])
        if depth <= 0 and formulas:
            return part
    return at + 1


def _is_prose(word: str) -> bool:
    core = word.strip("().,;:")
    short = len(core) == 2 and core.isalpha() and core.isascii() and core.islower()
    return short or bool(re.search("[A-Za-z]{3,}", _FUNCTIONS.sub(" ", core)))


def _is_part(text: str) -> bool:
    core = text.strip("().,;:")
    return bool(_STRONG.search(text) or _WEAK.fullmatch(core) or _OPERATOR.search(core))


def _formula(text: str) -> tuple[str, str, str] | None:
    """What stands before, the formula, and what stands after; or nothing if this is prose."""
    after = re.search(r"[.,;:]*$", text)
    core, tail = text[: after.start()], after[0]  # type: ignore[index, union-attr]
    if core.startswith("(") and _depth(core) > 0:
        head, core = "(", core[1:]
    else:
        head = ""
    if core.endswith(")") and _depth(core) < 0:
        core, tail = core[:-1], ")" + tail
    if _depth(core) or not (_STRONG.search(core) or re.search(r"\S [=<>≤≥+−] \S", core)):
        return None
    try:
        written = tex(core)
        mathml(written)
    except Exception:  # prose, or what the converter does not know: it stays as it is written
        return None
    return head, written, tail


def setup(app: Any) -> dict[str, Any]:
    from docutils import nodes

    def typeset(app: Any, tree: Any) -> None:
        if app.env.docname.startswith("reference/"):  # names and signatures; docstrings are plain text
            return
        for node in list(tree.findall(nodes.Text)):
            above, kinds = node.parent, set()
            while above is not None:
                kinds.add(above.tagname)
                above = above.parent
            if kinds.isdisjoint(_SKIPPED):
                found = list(pieces(node.astext()))
                if any(formula for formula, _ in found):
                    made = (nodes.math("", t) if formula else nodes.Text(t) for formula, t in found)
                    node.parent.replace(node, list(made))

    app.connect("doctree-read", typeset)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
