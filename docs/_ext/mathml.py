"""Mathematics as MathML, written at build time: pages need neither a network nor a script to show a formula."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert

_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
# After \Bigl and the like the converter leaves these as they are typed.
_FENCES = {r"\|": "‖", r"\{": "{", r"\}": "}"}
_BARS = ("‖", "∥", "|", "∣")
_UPRIGHT = tuple("ΓΔΘΛΞΠΣΥΦΨΩ")
# Browsers know no `mathvariant` but "normal": the letters themselves must be those of the alphabet asked for.
_ALPHABETS = {"bold": (0x1D400, 0x1D41A, 0x1D7CE), "sans-serif": (0x1D5A0, 0x1D5BA, 0x1D7E2)}


def mathml(tex: str, *, block: bool = False) -> str:
    r"""One formula; a ValueError where something of it would be shown as it is typed.

    Examples
    --------
    >>> mathml(r"\mathbf1")
    '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline"><mrow><mn>𝟏</mn></mrow></math>'
    """
    tree = ElementTree.fromstring(convert(tex, display="block" if block else "inline"))
    for element in tree.iter():
        element.text = _FENCES.get(element.text or "", element.text)
        if "\\" in (element.text or ""):
            raise ValueError(f"{element.text} is not understood")
        name = element.tag.rpartition("}")[2]
        if name == "mo" and element.text in _BARS and "stretchy" not in element.attrib:
            element.set("stretchy", "false")  # only \left and \right stretch
        if name == "mi" and element.text in _UPRIGHT:
            element.set("mathvariant", "normal")
        alphabet = _ALPHABETS.get(element.get("mathvariant", ""))
        if alphabet and element.text:
            del element.attrib["mathvariant"]
            element.text = "".join(_in_alphabet(letter, alphabet) for letter in element.text)
    ElementTree.register_namespace("", _NAMESPACE)
    return ElementTree.tostring(tree, encoding="unicode")


def _in_alphabet(letter: str, starts: tuple[int, int, int]) -> str:
    for first, start in zip("Aa0", starts, strict=True):
        if letter.isascii() and letter.isalnum() and 0 <= ord(letter) - ord(first) < (10 if first == "0" else 26):
            return chr(start + ord(letter) - ord(first))
    return letter


def setup(app: Any) -> dict[str, Any]:
    from docutils import nodes
    from sphinx.util import logging

    logger = logging.getLogger(__name__)

    def shown(node: Any, *, block: bool) -> str:
        try:
            return mathml(node.astext(), block=block)
        except Exception as error:  # whatever a converter of TeX may meet; the build must not go on in silence
            logger.warning("formula not understood (%s): %s", error, node.astext(), location=node)
            return ""

    def inline(translator: Any, node: Any) -> None:
        translator.body.append(shown(node, block=False))
        raise nodes.SkipNode

    def display(translator: Any, node: Any) -> None:
        translator.body.append(f'<div class="formula">{shown(node, block=True)}</div>\n')
        raise nodes.SkipNode

    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
