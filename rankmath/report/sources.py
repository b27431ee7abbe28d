"""The written proofs, the committed certificates and the bibliography: where they lie, and what is in them."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from rankmath.certificates.certificate import Certificate
from rankmath.files import proofs_folder, read_text, write
from rankmath.validation import InvalidArgument

#: Section order of the appendix; a text that is not named here follows, by name.
_NAMES = """centred_form seed_closure dong2021_2_1 dong2021_norm dong2021_A_3 own_tv own_diameter own_residual_inf
    own_gamma_free dong2021_2_3 dong2021v1 dong2021_3 own_skip_lower own_order wu2024_1 wu2024_2 own_hemisphere wu2024_3
    wu2024_L13 wu2024_anisotropy stable_causal stable_complete stable_every_n stable_trees"""
ORDER = tuple(_NAMES.split())


@cache
def machine_checked() -> dict[str, tuple[tuple[str, str], ...]]:
    """For each machine-checked statement the theorem of proofs/coq that is its proposition or the negation of it.

    Theorems that are about a statement in other words do not count.

    >>> machine_checked()["own:tv"][0][0]
    'Rankmath.proved_vectors.proved_own_tv'
    """
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for entry in _theorems():
        if entry["key"] and entry["proves"] != "related":
            pair = (entry["name"], entry["scope"])
            found[entry["key"]] = (*found.get(entry["key"], ()), pair)
    return found


def coq_modules(key: str) -> list[str]:
    """The files of proofs/coq, without their ending, with a theorem that proves, refutes or is about a statement.

    >>> coq_modules("karagodin2024:two-clusters")
    ['proved_flows', 'karagodin2024']
    """
    return list(dict.fromkeys(entry["name"].split(".")[1] for entry in _theorems() if entry["key"] == key))


def without_theorem(key: str) -> str:
    """Why a statement has no theorem of Coq, where that is written down.

    >>> without_theorem("own:stable-connected").partition(";")[2]
    ' own_stable_every_rank has the masks with a Hamiltonian path'
    """
    reason: str = _table().get("without", {}).get(key, "")
    return reason


def _theorems() -> list[dict[str, str]]:
    found: list[dict[str, str]] = _table().get("theorem", [])
    return found


@cache
def _table() -> dict[str, Any]:
    path = proofs_folder() / "coq" / "theorems.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def preamble() -> str:
    """The shared LaTeX preamble."""
    return (proofs_folder() / "preamble.tex").read_text(encoding="utf-8")


@cache
def proof_texts() -> Mapping[str, str]:
    """The proof sections by file name without its ending, in the order in which they are read.

    >>> next(iter(proof_texts()))
    'centred_form'
    """
    found = {path.stem: path.read_text(encoding="utf-8") for path in sorted(proofs_folder().glob("*.tex"))}
    del found["preamble"]
    ordered = [name for name in ORDER if name in found]
    return {name: found[name] for name in (*ordered, *(name for name in found if name not in ORDER))}


def label_of(key: str) -> str | None:
    """The LaTeX label of the place in the proofs that shows the statement `key`; None if there is none.

    >>> label_of("own:tv"), label_of("mine:1")
    ('stmt:own-tv', None)
    """
    own = f"stmt:{slug(key)}"
    return own if any(f"\\label{{{own}}}" in text for text in proof_texts().values()) else None


def place_of(key: str) -> str:
    """The section or the theorem of the proofs that shows the statement `key`, with its number; "" if none does.

    >>> place_of("own:tv"), place_of("own:causal-rate"), place_of("mine:1")
    ('Section~\\\\ref{stmt:own-tv}', 'Theorem~\\\\ref{stmt:own-causal-rate}', '')
    """
    if (label := label_of(key)) is None:
        return ""
    (before,) = (text[:at] for text in proof_texts().values() if (at := text.find(f"\\label{{{label}}}")) >= 0)
    numbered = "|".join(re.findall(r"\\newtheorem\{(\w+)\}", preamble()))
    *_, (edge, name) = [("end", ""), *re.findall(rf"\\(begin|end)\{{({numbered})\}}", before)]
    return rf"{name.capitalize() if edge == 'begin' else 'Section'}~\ref{{{label}}}"


def slug(key: str) -> str:
    """The key as it stands in labels and file names.

    >>> slug("dong2021v1:2.2")
    'dong2021v1-2.2'
    """
    return key.replace(":", "-")


@cache
def committed_certificates() -> Mapping[str, tuple[Certificate, ...]]:
    """The certificates of proofs/certificates by statement, those that refute or exhibit first, then by file name.

    >>> committed_certificates()["dong2021:norm"][0].kind
    'violates'
    """
    found: dict[str, list[Certificate]] = {}
    for path in sorted((proofs_folder() / "certificates").glob("*.json")):
        certificate = Certificate.load(path)
        found.setdefault(certificate.statement, []).append(certificate)
    rank = {"violates": 0, "exists": 0, "holds": 1}
    return {key: tuple(sorted(group, key=lambda c: rank[c.kind])) for key, group in found.items()}


def certificate_in(path: str | os.PathLike[str]) -> Certificate:
    """The certificate in a file; an instance that has none is called that."""
    if is_instance(path):
        raise InvalidArgument(f"what: {os.fspath(path)} given; {WITHOUT}")
    return Certificate.load(path)


#: What is said of an instance that was handed over without a certificate.
WITHOUT = "it is an instance in exact numbers without a certificate, so that there is nothing to check or to cite"


def is_instance(path: str | os.PathLike[str]) -> bool:
    """Whether a file holds an instance alone, as it is written where no certificate was issued."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_INSTANCE)) == _INSTANCE
    except OSError:
        return False


_INSTANCE = b'{"class":"rankmath.verification.instance:'


def certificate_file(certificate: Certificate) -> str:
    """The name of a committed certificate's file: its statement and its id."""
    return f"{slug(certificate.statement)}_{certificate.id}.json"


@cache
def publication() -> Mapping[str, str]:
    """What CITATION.cff says of rankmath: title, version, license, date-released, author; url and doi where given.

    >>> publication()["title"].partition(":")[0], publication()["license"]
    ('rankmath', 'MIT')
    """
    text = (proofs_folder() / "CITATION.cff").read_text(encoding="utf-8")
    fields = re.findall(r'^(\w[\w-]*): "?(.+?)"?$', text, flags=re.MULTILINE)
    (author,) = re.findall(r'^authors:\n  - name: "(.*)"$', text, flags=re.MULTILINE)
    return {**dict(fields), "author": author}


def stated_by(source: str) -> str:
    """Who states a claim, in words for somebody else's paper, where "this library" names nothing.

    >>> stated_by("this library"), stated_by("this library; classical")
    ('Statement and proof are of rankmath', 'Source: rankmath; classical')
    """
    return "Statement and proof are of rankmath" if source == "this library" else f"Source: {ours_named(source)}"


def ours_named(source: str) -> str:
    """The source, rankmath by its name."""
    return source.replace("this library", "rankmath")


# -- bibliography -------------------------------------------------------------------------------------------


@cache
def bibliography() -> Mapping[str, str]:
    """The entries of references.bib by citation key, each as it is written there.

    >>> print(bibliography()["birkhoff1957extensions"].splitlines()[0])
    @article{birkhoff1957extensions,
    """
    return entries((proofs_folder() / "references.bib").read_text(encoding="utf-8"))


def entries(text: str) -> dict[str, str]:
    """The entries of a text in BibTeX by key."""
    parts = re.split(r"^(?=\s*@)", text, flags=re.MULTILINE)
    keyed = ((re.match(r"\s*@\w+\s*\{\s*([^,\s]+)\s*,", part), part.strip()) for part in parts)
    return {match[1]: part for match, part in keyed if match}


def added(path: str | os.PathLike[str], new: Mapping[str, str]) -> Path:
    """Add BibTeX entries to a file; those whose keys stand in it already are left as they are."""
    target = Path(path)
    before = read_text(target).rstrip() if target.exists() else ""
    there = entries(before)
    more = (entry for key, entry in new.items() if key not in there)
    return write(target, "\n\n".join(filter(None, (before, *more))) + "\n", name="sources")


def field(entry: str, name: str) -> str | None:
    """One field of a BibTeX entry, without its outer braces.

    >>> field(bibliography()["dong2021attention"], "eprint")
    '2103.03404'
    """
    found = re.search(rf"^\s*{name}\s*=\s*\{{(.*)\}},?\s*$", entry, flags=re.MULTILINE)
    return found[1] if found else None


def cited_by(source: str) -> tuple[str, ...]:
    """The citation keys of the papers a statement's `source` names, by arXiv number or by first author and year.

    >>> cited_by("folklore; used throughout Dong, Cordonnier and Loukas 2021")
    ('dong2021attention',)
    >>> cited_by("this library")
    ()
    """

    def named(entry: str) -> bool:
        number, author, year = (field(entry, name) for name in ("eprint", "author", "year"))
        if number is not None and number in source:
            return True
        first = rf"(?<!, )(?<!and )\b{re.escape((author or ' ').split(',')[0])}\b"
        return year is not None and year in source and re.search(first, source) is not None

    return tuple(key for key, entry in bibliography().items() if named(entry))
