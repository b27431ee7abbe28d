"""The certificate: exact numbers in, the same numbers out, one name for one content."""

from __future__ import annotations

import json
import math
import os
from dataclasses import FrozenInstanceError
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankmath.certificates.certificate import Certificate, exact
from rankmath.checker import checker
from rankmath.checker.checker import content_id, read

A = np.array([[1, 1], [0, 0]])


def example(**changes: Any) -> Certificate:
    return Certificate(**{"statement": "dong2021:norm", "kind": "violates", "data": {"A": A, "B": A.T}, **changes})


@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(-(10**300), 10**300),
        st.fractions(),
        st.floats(allow_nan=False, allow_infinity=False, width=32).map(np.float32),
        st.integers(-(2**63), 2**63 - 1).map(np.int64),
    )
)
def test_the_checker_reads_exactly_the_number_that_was_written(value: Any) -> None:
    written = json.loads(json.dumps(exact(value)))
    assert read(written, "number", "value", {}) == Fraction(value.item() if isinstance(value, np.generic) else value)


def test_one_spelling_for_one_number() -> None:
    for same in (0.75, Fraction(3, 4), np.float64(0.75), np.float32(0.75)):
        assert exact(same) == "3*2^-2"
    assert exact([2**53, 2**53 + 1, -(2**60), 0.0]) == (2**53, "9007199254740993*2^0", "-1*2^60", 0)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.nan, "value: nan"),
        (math.inf, "value: inf"),
        ([1, [2, math.inf]], r"value\[1\]\[1\]: inf"),
        (True, "value: True"),
        (1j, "value: complex"),
        (None, "value: NoneType"),
        ({1: 2}, "value: key 1"),
        ({"a": {"b": object()}}, "value.a.b: object"),
        (10**4001, "value: a number of more than 4000 digits"),
        (Fraction(1, 10**4001), "value: a number of more than 4000 digits"),
    ],
)
def test_what_is_no_exact_number_is_refused_by_name(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        exact(value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "proved"}, "kind: 'proved'"),
        ({"statement": 7}, "statement: int"),
        ({"about": b"x"}, "about: bytes"),
        ({"data": [1]}, "data: list"),
        ({"hints": None}, "hints: NoneType"),
        ({"data": {"A": [[math.nan]]}}, r"data.A\[0\]\[0\]: nan"),
    ],
)
def test_bad_fields_are_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        example(**changes)


def test_the_id_names_the_content_and_nothing_else() -> None:
    certificate = example()
    assert certificate.id == content_id(json.loads(certificate.text()))
    assert certificate.id.startswith("rm-")
    assert len(certificate.id) == 35
    assert example(data={"B": A.T.tolist(), "A": A.astype(float)}) == certificate
    assert hash(example(data={"B": A.T, "A": A})) == hash(certificate)
    others = [example(about="x"), example(hints={"x": 1}), example(kind="holds"), example(data={"A": A, "B": A})]
    assert len({certificate.id, *(other.id for other in others)}) == 5
    assert certificate != "rm-"


def test_a_certificate_cannot_be_changed_after_it_was_made() -> None:
    matrix = A.copy()
    certificate = example(data={"A": matrix, "B": A.T})
    before = certificate.id
    matrix[0, 0] = 7
    assert certificate.id == before
    with pytest.raises(TypeError):
        certificate.data["A"] = 1  # type: ignore[index]
    with pytest.raises(TypeError):
        certificate.data["A"][0][0] = 1
    with pytest.raises(FrozenInstanceError):
        certificate.kind = "holds"  # type: ignore[misc]


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    certificate = example(data={"A": [[0.1, Fraction(1, 3)], [2**80, -5]], "B": A}, about="größer als ½ \u2028")
    path = certificate.save(tmp_path / "c.json")
    assert Certificate.load(path) == certificate
    assert Certificate.load(path).about == certificate.about
    assert path.read_bytes().isascii()
    assert json.loads(path.read_text())["id"] == certificate.id
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.json"]


def test_a_failed_save_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = example().save(tmp_path / "c.json")
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        example(about="new").save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_files_that_are_no_certificates_are_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    content = json.loads(example().text())
    wrong = {
        "[]": "must be an object",
        "{": "not JSON",
        json.dumps({**content, "extra": 1}): "must be an object with the fields",
        json.dumps({**content, "format": "rankmath-certificate/0"}): "must have the format",
        json.dumps({**content, "about": "changed"}): "id that is not the hash",
        json.dumps({**content, "kind": "proved"}): "kind: 'proved'",
        json.dumps({**content, "data": {"A": 0.5}}): "not exact",
        " " * (checker.MAX_BYTES + 1): "more than",
    }
    for text, message in wrong.items():
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            Certificate.load(path)
    with pytest.raises(ValueError, match="cannot be read"):
        Certificate.load(tmp_path / "absent.json")


def test_what_the_checker_has_accepted_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    check_text = checker.check_text

    def heard(text: str, *, seconds: float) -> checker.CheckResult:
        asked.append(text)
        return check_text(text, seconds=seconds)

    monkeypatch.setattr(checker, "check_text", heard)
    true, false = (example(kind=kind, about="asked") for kind in ("violates", "holds"))
    for certificate, times in ((true, 1), (false, 2)):
        verdicts = [certificate.check().accepted for _ in range(2)]
        assert verdicts == [certificate is true] * 2
        assert asked.count(certificate.text()) == times
