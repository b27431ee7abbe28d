"""Certificates as Coq theorems: a self-contained file that states the instance and proves it by computation.

`to_coq` reads a certificate and writes the text of a .v file that needs Coq and coq-interval alone. The file
begins with proofs/coq/certificate.v (the quantities over the reals, and proved enclosures of each), then has the
exact data, and what the certificate claims (or its negation, for the kind "violates") with a proof: Coq computes
the enclosures, layer by layer, and they decide. Balls here only find out beforehand what Coq can decide; nothing
here is believed. What cannot be written is refused with the reason.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from rankmath.arithmetic.balls import precision
from rankmath.certificates.coq_claim import network
from rankmath.certificates.coq_general import general
from rankmath.certificates.coq_rest import rest
from rankmath.certificates.coq_statement import statement
from rankmath.certificates.coq_terms import TooNear, Untranslatable, Writer
from rankmath.checker.statements import STATEMENTS
from rankmath.files import proofs_folder

PRECISIONS = (100, 200, 400)  # bits of Coq's intervals; the balls here have fewer, so that Coq decides what they do

_IMPORTED = """Require Import Reals QArith Qreals List Lra Lia ZArith Psatz.
From Interval Require Import Interval Xreal Float Basic Sig.
Import ListNotations.
Local Open Scope R_scope."""
_OURS = re.compile(r"^From Rankmath Require (Import|Export|)([\w\s]+)\.", re.MULTILINE)


def text_mark(text: str) -> str:
    """The beginning of the text's hash, without the vectors that proofs of spectral norms try: machines round them."""
    return hashlib.sha256(re.sub(r"(ispectral_ok p [^(]*\(entries )\[[^]]*\]", r"\1", text).encode()).hexdigest()[:12]


def to_coq(content: Mapping[str, Any], *, shared: bool = True) -> tuple[str, list[str]]:
    """The text of a .v file for a certificate, and what of the claim it leaves out, in words.

    What all such files share (certificate.v, equilibrium.v) stands in the text or, if not ``shared``, is imported.

    >>> content = {"id": "rm-0", "statement": "own:tv", "kind": "holds", "data": {"g": [1, 0, 0]}}
    >>> text, left_out = to_coq(content)
    >>> "Theorem certified" in text, left_out
    (True, [])
    """
    key, kind = content.get("statement", ""), content.get("kind", "")
    before = ["certificate.v"]
    for bits in PRECISIONS:
        try:
            with precision(bits - 16):
                if _of_network(content):
                    out, found, left_out = _network(content, bits)
                elif {"W_V", "tokens"} <= set(content.get("data", {})) or "equilibria" in content.get("data", {}):
                    out, found, left_out = rest(content)
                    before.append("equilibrium.v")
                elif key in STATEMENTS and kind in ("holds", "violates"):
                    out, found, left_out = statement(content, bits)
                else:
                    raise Untranslatable(f"statement {key!r} is not written in Coq")
            break
        except TooNear:
            if bits == PRECISIONS[-1]:
                raise
    said = [f"{key}: {content.get('claim', '')}", *(f"given {text}" for text in content.get("given", []))]
    said += [f"left out: {text}" for text in left_out]
    header = "\n".join(f"   {line}".rstrip() for line in said).replace("*)", "* )").replace("(*", "( *")
    stated = " /\\\n  ".join(text for text, _ in found)
    proofs = "\n".join(f"  {'- ' if len(found) > 1 else ''}{proof}" for _, proof in found)
    imported = [_IMPORTED, f"Require Import {' '.join(name[:-2] for name in before)}."]
    split = f"  refine ({_conjunction(len(found))}).\n" if len(found) > 1 else ""
    return "\n".join(
        [
            f"(* Certificate {content.get('id', '')} ({kind}), as a theorem about real numbers.\n{header} *)",
            *(map(_library, before) if shared else imported),
            "(* ---------- the instance ---------- *)",
            *out.lines,
            "",
            "(* ---------- what is certified ---------- *)",
            f"Theorem certified :\n  {stated}.\nProof.\n{split}{proofs}\nQed.\n",
        ]
    ), left_out


def _of_network(content: Mapping[str, Any]) -> bool:
    """Whether the data are a network and its input; dong2021:2.1 has layers too, but their attention is given."""
    data = content.get("data", {})
    return "claim" in content and {"layers", "X"} <= set(data) and "output" not in data


def _network(content: Mapping[str, Any], bits: int) -> tuple[Writer, list[tuple[str, str]], list[str]]:
    """By matrices where layers are heads and no more; else, or for other words, by the text, entry by entry."""
    if "d_qk" not in content["data"]:
        return general(content, bits)
    try:
        return network(content, bits)
    except TooNear:
        raise
    except Untranslatable as why:
        try:
            return general(content, bits)
        except TooNear:
            raise
        except Untranslatable as other:  # the shorter reason is about less
            raise min(why, other, key=lambda reason: len(str(reason))) from None


def _conjunction(count: int) -> str:
    return "_" if count == 1 else f"conj _ {'_' if count == 2 else '(' + _conjunction(count - 1) + ')'}"


def _library(name: str) -> str:
    """The text of a file of proofs/coq; one that rests on another comes without what that has imported already."""
    text = (proofs_folder() / "coq" / name).read_text(encoding="utf-8")
    if "From Rankmath Require Import" not in text:
        return text
    return re.sub(r"^(Require Import|From|Import|Local Open Scope) .*\n", "", text, flags=re.MULTILINE)


def theorem_alone(module: str) -> str:
    """The file MODULE.v of proofs/coq with all it rests on in one text, that needs Coq and its libraries alone.

    Every file becomes a module of its name, before those that import it.

    >>> text = theorem_alone("Norms")
    >>> [line for line in text.splitlines() if line.startswith("Module")]
    ['Module Sums.', 'Module Definitions.', 'Module Norms.']
    >>> "From Rankmath" in text
    False
    """
    parts: dict[str, str] = {}

    def add(name: str) -> None:
        if name in parts:
            return
        text = (proofs_folder() / "coq" / f"{name}.v").read_text(encoding="utf-8")
        for line in _OURS.findall(text):
            for other in line[1].split():
                add(other)
        text = _OURS.sub(lambda found: f"{found[1]}{found[2]}." if found[1] else "", text)
        parts[name] = f"Module {name}.\n{text.rstrip()}\nEnd {name}.\n"

    add(module)
    return "\n".join(parts.values())
