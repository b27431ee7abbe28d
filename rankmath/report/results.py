"""A verification run as plain data, and the folder it is written to."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from rankmath.decide.campaigns.in_memory import Result
from rankmath.files import folder as make_folder
from rankmath.files import read, write
from rankmath.report.sources import slug
from rankmath.validation import InvalidArgument, Json
from rankmath.version import __version__

FORMAT = "rankmath-report/3"


@dataclass(frozen=True)
class Report:
    """A verification run: what ran, where, with which settings, and what it showed."""

    version: str
    date: str
    python: str
    numpy: str
    settings: dict[str, Json]
    results: tuple[Result, ...]

    @classmethod
    def of(cls, results: Iterable[Result], settings: dict[str, Json]) -> Report:
        """The report of a run that has just ended here."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(__version__, now, platform.python_version(), np.__version__, dict(settings), tuple(results))

    def result(self, key: str) -> Result | None:
        """The result of one statement; None if it did not take part."""
        return next((result for result in self.results if result.key == key), None)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """report.json, certificates/ and counterexamples/ under `folder`, without those of an earlier run."""
        target = make_folder(folder)
        certificates = make_folder(target / "certificates")
        for old in (*certificates.glob("rm-*.json"), *target.glob("counterexamples/*.*")):
            old.unlink()
        for result in self.results:
            for name, text in zip(result.certificates, result.texts, strict=True):
                write(certificates / f"{name}.json", text + "\n")
            if result.counterexample:
                write(make_folder(target / "counterexamples") / f"{slug(result.key)}.json", result.counterexample)
        content = {"format": FORMAT, **vars(self), "results": [_plain(result) for result in self.results]}
        write(target / "report.json", json.dumps(content, indent=1, allow_nan=False))
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Report:
        """Read report.json back; a ValueError names what is wrong with it."""
        raw = read(path, "report")
        try:
            content = json.loads(raw.decode())
            if content["format"] != FORMAT:
                number = re.fullmatch(r"rankmath-report/([1-9]\d{0,5})", str(content["format"]))
                age = "" if number is None else f", of {'a newer' if int(number[1]) > 3 else 'an older'} rankmath"
                raise InvalidArgument(f"the format is {content['format']!r}{age}")
            results = tuple(_with_texts(Result(**_typed(Result, entry)), path) for entry in content["results"])
            return cls(**_typed(cls, {**content, "results": results}))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidArgument(
                f"report: {os.fspath(path)} given; it is no report of `rankmath verify` ({FORMAT}): {error}"
            ) from None


def _with_texts(result: Result, report: str | os.PathLike[str]) -> Result:
    """The result with its certificates, where they lie beside the report; a registered statement has others."""
    files = [Path(report).parent / "certificates" / f"{name}.json" for name in result.certificates]
    if not result.stated or not all(map(Path.is_file, files)):
        return result
    return replace(result, texts=tuple(file.read_text(encoding="utf-8") for file in files))


#: What lies beside report.json, in files of its own.
_BESIDE = ("texts", "checked", "counterexample")

_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
    "float | None": (float, int, type(None)),
    "list[float]": (list,),
    "tuple[str, ...]": (list, tuple),
    "tuple[Result, ...]": (tuple,),
    "dict[str, float]": (dict,),
    "dict[str, Json]": (dict,),
}


def _typed(kind: Any, entry: dict[str, Any]) -> dict[str, Any]:
    """The fields of a dataclass out of a JSON object, each of the type that is declared for it."""
    found: dict[str, Any] = {}
    for slot in fields(kind):
        if slot.name in _BESIDE:
            continue
        value = entry[slot.name]
        declared = str(slot.type)
        if not isinstance(value, _TYPES[declared]) or (isinstance(value, bool) and declared != "bool"):
            raise InvalidArgument(f"{slot.name} is a {type(value).__name__}, not {declared}")
        if declared in _MEMBERS:
            wanted, words = _MEMBERS[declared]
            members: Any = value.values() if isinstance(value, dict) else value
            if not all(wanted(member) for member in members):
                raise InvalidArgument(f"{slot.name} holds something else than {words}")
        if declared.startswith("float") and value is not None and not _is_finite(value):
            raise InvalidArgument(f"{slot.name} is {value}, not a finite number")
        found[slot.name] = tuple(value) if isinstance(value, list) and "tuple" in declared else value
    # Certificates are files of this name: nothing else may be read or written by way of a report.
    for name in found.get("certificates", ()):
        if not re.fullmatch(r"rm-[0-9a-f]{32}", name):
            raise InvalidArgument(f"certificates holds {name!r}, which is no id of a certificate")
    return found


def _is_finite(x: object) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and abs(x) <= sys.float_info.max


#: What a list, or the values of an object, must consist of, by the declared type.
_MEMBERS: dict[str, tuple[Callable[[object], bool], str]] = {
    "list[float]": (_is_finite, "finite numbers"),
    "dict[str, float]": (_is_finite, "finite numbers"),
    "tuple[str, ...]": (lambda x: isinstance(x, str), "words"),
}


def _plain(result: Result) -> dict[str, Json]:
    plain = {name: value for name, value in vars(result).items() if name not in _BESIDE}
    # JSON knows no infinities.
    ratios = [r for r in result.ratios if np.isfinite(r)]
    return {**plain, "ratios": ratios, "sentence": result.sentence}
