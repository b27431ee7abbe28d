"""The certificate: exact data, a claim, and an id that is the hash of all that stands in it."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from numbers import Integral, Rational
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from rankmath.checker import checker
from rankmath.files import read, write
from rankmath.printing import Sheet, Shows
from rankmath.validation import InvalidArgument, as_choice

#: What a certificate is about: exact numbers (floats are dyadics) and words, in arrays, lists and mappings.
#: Their nesting is the statement's own; the checker's table describes it.
Data: TypeAlias = Any

KINDS = ("holds", "violates", "exists", "derivation")

# What the checker said of each text it has accepted here.
_ACCEPTED: dict[str, checker.CheckResult] = {}
_MOST_ACCEPTED = 4096

# Larger integers are written as strings: many JSON readers keep 53 bits.
_LARGEST_JSON_INTEGER = 2**53


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Shows):
    """A claim about one instance, with what is needed to check it, in exact numbers.

    Parameters
    ----------
    statement : the statement's key, such as "own:diameter".
    kind : "holds" (the instance satisfies it), "violates" (the instance refutes it) or "exists".
    data : what the claim is about. Nested mappings, sequences and arrays of integers, Fractions and
        floats (each float stands for the dyadic number it is); strings are words and kept.
    hints : what makes the check easy but is never believed.
    about : free text, not checked.
    claim, given : the claim and its hypotheses in the language of claims; those of the checker's table for a key
    that
        it knows. They are part of what the id names.

    Examples
    --------
    >>> A = np.array([[1, 1], [0, 0]])
    >>> certificate = Certificate("dong2021:norm", "violates", {"A": A, "B": A.T})
    >>> certificate.id
    'rm-333424c78decb2ecc011f00516a6aecb'
    >>> certificate.check().accepted
    True
    """

    statement: str
    kind: str
    data: Mapping[str, Data]
    hints: Mapping[str, Data] = field(default_factory=dict)
    about: str = ""
    claim: str = ""
    given: Sequence[str] = ()

    def __post_init__(self) -> None:
        as_choice("kind", self.kind, KINDS)
        for name in ("statement", "about"):
            if not isinstance(getattr(self, name), str):
                raise InvalidArgument(f"{name}: {type(getattr(self, name)).__name__} given; a string is needed")
        for name in ("data", "hints"):
            if not isinstance(getattr(self, name), Mapping):
                raise InvalidArgument(f"{name}: {type(getattr(self, name)).__name__} given; a mapping is needed")
            object.__setattr__(self, name, exact(getattr(self, name), name=name))
        if not self.claim:
            wording = checker.wording(self.statement, self.data)
            if wording is None:
                raise InvalidArgument(f"claim: none given, and {self.statement!r} is not in the checker's table")
            object.__setattr__(self, "claim", wording[0])
            object.__setattr__(self, "given", wording[1])
        object.__setattr__(self, "given", tuple(self.given))
        if not isinstance(self.claim, str) or not all(isinstance(text, str) for text in self.given):
            raise InvalidArgument("claim, given: a formula and a list of formulas are needed, each as text")

    @property
    def id(self) -> str:
        """rm- and 32 hex digits of the SHA-256 of the canonical JSON of everything else."""
        return "rm-" + hashlib.sha256(_canonical(self._content()).encode("ascii")).hexdigest()[:32]

    def _content(self) -> dict[str, Data]:
        content: dict[str, Data] = {
            "format": checker.FORMAT_OF_SUBLAYERS if _of_sublayers(self.data) else checker.FORMAT,
            "statement": self.statement,
            "claim": self.claim,
            "given": list(self.given),
            "kind": self.kind,
            "data": self.data,
            "hints": self.hints,
        }
        return {**content, "about": self.about} if self.about else content

    def sheet(self) -> Sheet:
        data = ", ".join(self.data)
        size = f"{len(self.text())} characters; `check()` re-derives the claim"
        facts = (("exact data", data if len(data) < 90 else data[:87] + "…"), ("size", size))
        return Sheet(f"Certificate {self.id}: {self.statement}, {self.kind}", facts)

    def text(self) -> str:
        """Canonical JSON: sorted keys, no spaces, ASCII; the id included."""
        return _canonical({**self._content(), "id": self.id})

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the certificate to `path`, whole or not at all."""
        return write(path, self.text() + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a certificate back, under the checker's limits; nothing is checked but form and id."""
        return cls.from_text(read(path, most=checker.MAX_BYTES + 1), os.fspath(path))

    @classmethod
    def from_text(cls, raw: bytes, where: str) -> Certificate:
        """The certificate that is written so; `where` is named in errors."""
        try:
            if len(raw) > checker.MAX_BYTES:
                raise checker.Rejected(f"more than {checker.MAX_BYTES} bytes")
            content = checker.parse(raw.decode("utf-8"))
        except (checker.Rejected, UnicodeDecodeError) as error:
            why = "not UTF-8" if isinstance(error, UnicodeDecodeError) else error
            raise InvalidArgument(f"path: {where} is not a certificate: {why}") from None
        return cls._from_content(content, where)

    @classmethod
    def _from_content(cls, content: object, where: str) -> Certificate:
        needed = {"format", "statement", "claim", "given", "kind", "data", "hints"}
        if not isinstance(content, dict) or not needed <= set(content) <= needed | {"id", "about"}:
            raise InvalidArgument(f"path: {where} must be an object with the fields {', '.join(sorted(needed))}")
        if content["format"] not in checker.FORMATS:
            raise InvalidArgument(f"path: {where} must have the format {' or '.join(checker.FORMATS)}")
        rest = {name: value for name, value in content.items() if name not in ("format", "id")}
        certificate = cls(**rest)
        if content.get("id", certificate.id) != certificate.id:
            raise InvalidArgument(f"path: {where} carries an id that is not the hash of its content, {certificate.id}")
        return certificate

    def check(self, *, seconds: float = checker.SECONDS) -> checker.CheckResult:
        """What the independent checker says about the certificate as it would be written.

        A text that it has accepted in this process is not put before it again.
        """
        text = self.text()
        result = _ACCEPTED.get(text) or checker.check_text(text, seconds=seconds)
        if result.accepted and len(_ACCEPTED) < _MOST_ACCEPTED:
            _ACCEPTED[text] = result
        return result

    def __eq__(self, other: object) -> bool:
        return self.text() == other.text() if isinstance(other, Certificate) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)


def _of_sublayers(data: Mapping[str, Data]) -> bool:
    """Whether the layers of a network are written as sublayers, one by one."""
    return isinstance(data.get("layers"), tuple) and isinstance(data["layers"][0], tuple)


def _canonical(content: Mapping[str, Data]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=dict)


def exact(value: Data, *, name: str = "value") -> Data:
    """`value` in the certificate's exact notation, read-only: integers, "p/q", "m*2^e", words, tuples, mappings.

    >>> from fractions import Fraction
    >>> exact([0.75, Fraction(1, 3), 2**60, -7])
    ('3*2^-2', '1/3', '1*2^60', -7)
    """
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InvalidArgument(f"{name}: key {key!r} given; every key must be a string")
        return MappingProxyType({key: exact(inner, name=f"{name}.{key}") for key, inner in value.items()})
    if isinstance(value, str):
        return str(value)
    if isinstance(value, np.ndarray):
        return exact(value.tolist(), name=name)
    if isinstance(value, Sequence):
        return tuple(exact(item, name=f"{name}[{i}]") for i, item in enumerate(value))
    return _exact_number(value, name)


def number(value: int | str) -> Fraction:
    """A number in the certificate's exact notation.

    >>> number("3*2^-2"), number("-1/3"), number(7)
    (Fraction(3, 4), Fraction(-1, 3), Fraction(7, 1))
    """
    mantissa, _, exponent = str(value).partition("*2^")
    return Fraction(mantissa) * Fraction(2) ** int(exponent or 0)


@cache
def _too_long() -> int:
    return int(10**checker.MAX_DIGITS)


def _exact_number(value: Data, name: str) -> int | str:
    if isinstance(value, (bool, np.bool_)):
        raise InvalidArgument(f"{name}: {value!r} given; a number is needed")
    if isinstance(value, (float, np.floating)):
        if not math.isfinite(value):
            raise InvalidArgument(f"{name}: {value!r} given; every number must be finite")
        p, q = value.as_integer_ratio()
    elif isinstance(value, (Integral, Rational)):
        p, q = int(value.numerator), int(value.denominator)
    else:
        raise InvalidArgument(f"{name}: {type(value).__name__} given; allowed are integers, Fractions and floats")
    if max(abs(p), q) >= _too_long():
        raise InvalidArgument(f"{name}: a number of more than {checker.MAX_DIGITS} digits given; that is the limit")
    if q == 1 and abs(p) <= _LARGEST_JSON_INTEGER:
        return p
    if q & (q - 1) == 0:
        twos = (p & -p).bit_length() - 1
        return f"{p >> twos}*2^{twos - q.bit_length() + 1}"
    return f"{p}/{q}"
