"""The theorems of proofs/*.tex as Markdown with formulas, where the text is simple enough; else None."""

from __future__ import annotations

import re
from functools import cache

from mathml import mathml

from rankmath.report.sources import preamble, proof_texts

_THEOREM = re.compile(
    r"\\begin\{(theorem|lemma|proposition|corollary|example)\}(?:\[((?:[^\[\]]|\[[^\]]*\])*)\])?(.*?)\\end\{\1\}",
    re.DOTALL,
)
_MATH = re.compile(
    r"(\$[^$]+\$|\\\[.*?\\\]|\\begin\{(?:equation|align|gather)\*?\}.*?\\end\{(?:equation|align|gather)\*?\})",
    re.DOTALL,
)


@cache
def macros() -> dict[str, tuple[int, str]]:
    """Name -> (arguments, body) of the commands that the shared preamble defines."""
    text = preamble()
    found = {
        name: (0, rf"\operatorname{{{body}}}")
        for name, body in re.findall(r"\\DeclareMathOperator\{\\(\w+)\}\{([^}]*)\}", text)
    }
    for name, count, body in re.findall(r"\\newcommand\{\\(\w+)\}(?:\[(\d)\])?\{(.*)\}$", text, re.MULTILINE):
        found[name] = (int(count or 0), body)
    return {name: entry for name, entry in found.items() if not name.startswith("rm")}


def expanded(tex: str) -> str:
    r"""The formula without our own commands.

    Examples
    --------
    >>> expanded(r"\norm{\one x\tp}_1")
    '\\lVert \\mathbf{1} x^{\\mathsf T}\\rVert_1'
    """
    for _ in range(5):
        before = tex
        for name, (count, body) in macros().items():
            tex = _replaced(tex, name, count, body)
        if tex == before:
            return tex
    raise ValueError(f"{tex!r}: commands within commands, five deep")


def _replaced(tex: str, name: str, count: int, body: str) -> str:
    pieces, at = [], 0
    for match in re.finditer(rf"\\{name}(?![A-Za-z])", tex):
        if match.start() < at:
            continue
        pieces.append(tex[at : match.start()])
        end, text = match.end(), body
        if body[0].isalpha() and re.search(r"\\[A-Za-z]+$", pieces[-1]):
            pieces.append(" ")  # \\le\\xstar must not become \\lex
        for k in range(count):
            argument, end = _group(tex, end)
            text = text.replace(f"#{k + 1}", argument)
        follows = tex[end : end + 1]
        pieces.append(text + (" " if re.search(r"\\[A-Za-z]+$", text) and follows.isalpha() else ""))
        at = end
    return "".join((*pieces, tex[at:]))


def _group(tex: str, at: int) -> tuple[str, int]:
    """The argument at this place: a braced group, a command, or one sign."""
    if tex[at] != "{":
        single = re.compile(r"\\[A-Za-z]+|.").match(tex, at)
        assert single is not None
        return single[0], single.end()
    depth = 0
    for end in range(at, len(tex)):
        depth += {"{": 1, "}": -1}.get(tex[end], 0) if tex[end - 1] != "\\" else 0
        if depth == 0:
            return tex[at + 1 : end], end + 1
    raise ValueError(f"{tex[at:]!r}: a brace is not closed")


def theorem(label: str) -> str | None:
    """The first theorem under this label and no other, in Markdown; None where it is too much for a page."""
    for text in proof_texts().values():
        at = text.find(f"\\label{{{label}}}")
        # A label is that of a section, or stands inside the theorem itself.
        found = next((match for match in _THEOREM.finditer(text) if match.end() > at >= 0), None)
        if found is not None:
            between = text[at + len(label) : found.start()]
            if r"\label{stmt:" in between:
                return None
            shown = _markdown(found[1], found[2], _without_references(found[3]))
            return shown if shown and _understood(shown) else None
    return None


_PROOF = re.compile(r"\\begin\{proof\}(?:\[((?:[^\[\]]|\[[^\]]*\])*)\])?(.*?)\\end\{proof\}", re.DOTALL)


def proof(label: str) -> str | None:
    """The proof that follows the theorem under this label, in Markdown; None where it is too much for a page."""
    for text in proof_texts().values():
        at = text.find(f"\\label{{{label}}}")
        if at < 0:
            continue
        stated = next((match for match in _THEOREM.finditer(text) if match.end() > at), None)
        if stated is None:
            return None
        written = _PROOF.search(text, stated.end())
        another = _THEOREM.search(text, stated.end())
        if written is None or (another is not None and another.start() < written.start()):
            return None
        shown = _markdown("proof", written[1], _without_references(written[2]))
        return shown if shown and _understood(shown) else None
    return None


def _understood(markdown: str) -> bool:
    """Whether every formula of it can be shown on a page."""
    for display, inline in re.findall(r"\$\$\n(.*?)\n\$\$|\$([^$]+)\$", markdown, re.DOTALL):
        try:
            mathml(display or inline, block=bool(display))
        except Exception:  # whatever a converter of TeX may meet: the page then names the file instead
            return False
    return True


def _without_references(body: str) -> str:
    """References by their names: an equation that is referred to carries its name before it."""
    asked = set(re.findall(r"\\eqref\{([^}]*)\}", body))

    def named(match: re.Match[str]) -> str:
        labels = [name for name in re.findall(r"\\label\{([^}]*)\}", match[0]) if name in asked]
        return "".join(f" ({_short(name)}) " for name in labels) + match[0]

    body = re.sub(r"\\begin\{(equation|align|gather)\}.*?\\end\{\1\}", named, body, flags=re.DOTALL)
    body = re.sub(r"\\eqref\{([^}]*)\}", lambda match: f"({_short(match[1])})", body)
    body = re.sub(
        r"(Theorem|Lemma|Proposition|Corollary|Section|Remark|Example|Table|Definition)s?~\\ref\{([^}]*)\}",
        lambda match: f"{match[1]} “{_short(match[2])}”",
        body,
    )
    return re.sub(r"\\ref\{([^}]*)\}", lambda match: f"“{_short(match[1])}”", body)


def _short(label: str) -> str:
    return label.partition(":")[2].replace("_", "-") or label


def _markdown(kind: str, name: str | None, body: str) -> str | None:
    body = re.sub(r"\\label\{[^}]*\}|\\qedhere|(?<!\\)%.*", "", body)
    if re.search(r"\\(ref|eqref|rmvalue|rmreport|hyperref)\b", body):
        return None
    parts = _MATH.split(body.strip())
    shown = []
    for k, part in enumerate(parts):
        if k % 2 == 0:
            words = _words(part)
            if words is None:
                return None
            shown.append(words)
        elif part.startswith("$"):
            shown.append(f"${_one_line(part[1:-1])}$")
        else:
            inner = re.sub(r"^\\\[|\\\]$|\\(begin|end)\{(equation|align|gather)\*?\}", "", part.strip())
            if part.startswith(r"\begin{align"):
                inner = rf"\begin{{aligned}}{inner}\end{{aligned}}"
            shown.append(f"\n\n$$\n{_one_line(inner)}\n$$\n\n")
    heading = f"**{kind.capitalize()}**" + (f" ({_words(name) or name})" if name else "") + "."
    text = "".join(shown).strip()
    return heading + ("\n\n" if text.startswith("$$") else " ") + text  # a display begins a line


def _one_line(tex: str) -> str:
    return re.sub(r"\s+", " ", expanded(tex)).strip()


def _words(text: str) -> str | None:
    text = re.sub(r"\\(?:emph|textit)\{([^{}]*)\}", r"*\1*", text)
    text = re.sub(r"\\begin\{(enumerate|itemize)\}(\[[^\]]*\])?|\\end\{(enumerate|itemize)\}", "\n\n", text)
    text = re.sub(r"\s*\\item(\[[^\]]*\])?\s*", "\n- ", text)
    text = re.sub(r"~?\\cite(\[[^\]]*\])?\{[^}]*\}", "", text)
    text = text.replace("~", " ").replace(r"\ ", " ").replace("``", "“").replace("''", "”").replace("--", "–")
    return None if re.search(r"[\\{}&]", text) else re.sub(r"[ \t]*\n(?!\n|- )[ \t]*", " ", text)
