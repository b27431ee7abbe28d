"""Hostile and broken files: rejected, in bounded time and memory."""

from __future__ import annotations

import json
import math
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import Instance, certify_arrays
from rankmath.checker import checker
from rankmath.checker.checker import check, check_text
from rankmath.checker.export import standalone
from rankmath.checker.kernel import MAX_FORMULA, MAX_HELD, MAX_LOOP
from rankmath.checker.limits import MAX_GROWTH
from rankmath.checker.reading import MAX_BYTES, MAX_DIGITS, MAX_EXPONENT, MAX_ITEMS, MAX_SIDE, Rejected, parse, read
from rankmath.checker.statements import MAX_HEADS, MAX_LAYERS, MAX_MAPS, MAX_SUBLAYERS, network_data


def plain(data: Any, *, statement: str = "dong2021:norm", kind: str = "violates", **more: Any) -> dict[str, Any]:
    claim, given = checker.wording(statement, data) or ("", ())
    wording = {"claim": claim, "given": list(given)}
    return {
        "format": checker.FORMAT,
        "statement": statement,
        **wording,
        "kind": kind,
        "data": data,
        "hints": {},
        **more,
    }


GOOD = plain({"A": [[1, 1], [0, 0]], "B": [[1, 0], [1, 0]]})
TEXT = json.dumps(GOOD)


def with_entry(entry: str) -> str:
    """The good certificate with one entry of A replaced by raw JSON."""
    return TEXT.replace("[[1, 1]", f"[[{entry}, 1]")


def test_the_certificate_the_others_are_made_from_is_good() -> None:
    assert check_text(TEXT)
    assert check_text(with_entry('"1"'))
    assert check_text(with_entry('"2/2"'))
    assert check_text(with_entry('"1*2^0"'))
    assert check_text(TEXT.encode())


HOSTILE = {
    "empty": "",
    "not an object": "[]",
    "null": "null",
    "trailing text": TEXT + "x",
    "byte order mark": "\ufeff" + TEXT,
    "deep lists": "[" * 1_000_000,
    "deep objects": '{"a":' * 500_000,
    "deep and closed": "[" * 100_000 + "]" * 100_000,
    "deep inside": with_entry("[" * 50 + "1" + "]" * 50),
    "brackets after an escaped quote": TEXT.replace('"hints": {}', '"hints": {"\\"": ' + "[" * 99 + "]" * 99 + "}"),
    "float": with_entry("1.0"),
    "exponent": with_entry("1e999999999"),
    "exponent in a string": with_entry('"1e999999999"'),
    "huge exponent": with_entry('"1*2^999999999"'),
    "huge negative exponent": with_entry('"1*2^-999999999"'),
    "exponent just beyond": with_entry('"1*2^10001"'),
    "million digits": with_entry("1" * 1_000_000),
    "million digits in a string": with_entry('"' + "1" * 1_000_000 + '"'),
    "million digits below": with_entry('"1/' + "1" * 1_000_000 + '"'),
    "million digits in an exponent": with_entry('"1*2^' + "1" * 1_000_000 + '"'),
    "one digit too many": with_entry("1" * 4001),
    "NaN": with_entry("NaN"),
    "Infinity": with_entry("Infinity"),
    "minus Infinity": with_entry("-Infinity"),
    "division by zero": with_entry('"1/0"'),
    "negative denominator": with_entry('"1/-1"'),
    "underscores": with_entry('"1_0"'),
    "spaces": with_entry('" 1"'),
    "other digits": with_entry('"١"'),
    "newline at the end of a number": with_entry('"1\\n"'),
    "true": with_entry("true"),
    "null entry": with_entry("null"),
    "object entry": with_entry("{}"),
    "ragged": with_entry("1, 1"),
    "empty matrix": json.dumps(plain({"A": [], "B": []})),
    "empty rows": json.dumps(plain({"A": [[]], "B": [[]]})),
    "wide matrix": json.dumps(plain({"A": [[1] * 257], "B": [[1] * 257]})),
    "million entries": json.dumps(plain({"A": [[1] * 1_000_000], "B": [[1]]})),
    "object for a list": json.dumps(plain({"A": {"0": 1}, "B": [[1]]})),
    "repeated field": TEXT.replace('"kind"', '"kind": "holds", "kind"'),
    "repeated field inside": TEXT.replace('"A"', '"A": [[9]], "A"'),
    "repeated equal field": TEXT.replace('"hints": {}', '"hints": {}, "hints": {}'),
    "unknown field": json.dumps({**GOOD, "trust": 1}),
    "unknown field inside": json.dumps(plain({**GOOD["data"], "C": [[1]]})),
    "unknown hint": json.dumps({**GOOD, "hints": {"answer": 1}}),
    "missing field": json.dumps({name: value for name, value in GOOD.items() if name != "hints"}),
    "missing statement": json.dumps({name: value for name, value in GOOD.items() if name != "statement"}),
    "unknown statement": json.dumps({**GOOD, "statement": "../../etc/passwd"}),
    "statement of another type": json.dumps({**GOOD, "statement": ["dong2021:norm"]}),
    "old format": json.dumps({**GOOD, "format": "rankmath-certificate/1"}),
    "format to come": json.dumps({**GOOD, "format": "rankmath-certificate/3"}),
    "format of another type": json.dumps({**GOOD, "format": 2}),
    "another claim": json.dumps({**GOOD, "claim": "norm(A + B, composite) < norm(A, composite) + norm(B, composite)"}),
    "another hypothesis": json.dumps({**GOOD, "given": ["n >= 2"]}),
    "claim of another type": json.dumps({**GOOD, "claim": 7}),
    "hypotheses of another type": json.dumps({**GOOD, "given": "n >= 2"}),
    "a thousand hypotheses": json.dumps({**GOOD, "given": ["n >= 2"] * 1000}),
    "a key of the table's authors": json.dumps({**GOOD, "statement": "dong2021:2.9"}),
    "wrong id": json.dumps({**GOOD, "id": "rm-" + "0" * 32}),
    "id of another type": json.dumps({**GOOD, "id": 7}),
    "long text": json.dumps({**GOOD, "about": "x" * 2001}),
    "text of another type": json.dumps({**GOOD, "about": 7}),
    "too long": " " * checker.MAX_BYTES + TEXT,
    "unclosed string full of quotes": '"' + '\\"' * 500_000,
    "many objects": "[" + "{}," * 300_000 + "{}]",
    "no data for a key with two readings": json.dumps({**plain({}, statement="unstated:large-logits"), "data": 5}),
    "too many paths": json.dumps(
        plain(
            {
                "X": [[1], [1]],
                "layers": [{"heads": [{"P": [[1, 0], [0, 1]], "W": [[1]]}] * 16, "bias": [1]}] * 12,
                "output": [[1], [1]],
            },
            statement="dong2021:2.1",
            kind="holds",
        )
    ),
    "denominators that explode": json.dumps(
        plain(
            {"factors": [[[f"1/{10**3000 + 64 * i + j}" for j in range(40)] for i in range(2)]] * 2, "product": [[1]]},
            statement="seed:closure",
            kind="holds",
        )
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_rejected(name: str) -> None:
    result = check_text(HOSTILE[name])
    assert not result.accepted
    assert 0 < len(result.reason) < 600
    assert "\n" not in result.reason
    assert "the checker itself failed" not in result.reason


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (300 * 2**20, 300 * 2**20))


def test_hostile_files_need_no_more_than_300_megabytes(tmp_path: Path) -> None:
    """One process with a hard limit reads them all and says REJECTED to each."""
    for number, text in enumerate(HOSTILE.values()):
        (tmp_path / f"{number}.json").write_text(text, encoding="utf-8")
    (tmp_path / "binary.json").write_bytes(bytes(range(256)))
    (tmp_path / "billion.json").write_bytes(b"[" + b"1" * 50_000_000 + b"]")
    files = sorted(map(str, tmp_path.iterdir()))
    alone = tmp_path / "alone.py"
    alone.write_text(standalone())
    run = subprocess.run(
        [sys.executable, "-I", str(alone), *files], preexec_fn=limit_memory, capture_output=True, text=True
    )
    assert run.returncode == 1, run.stderr
    assert run.stdout.count(".json: REJECTED") == len(files), run.stdout
    assert "accepted" not in run.stdout


def test_every_truncation_is_rejected() -> None:
    for length in range(len(TEXT)):
        assert not check_text(TEXT[:length])


def test_what_is_not_a_regular_file_is_rejected(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (tmp_path, tmp_path / "absent", pipe, "/dev/zero", "nul\0byte", ""):
        result = check(path)
        assert not result.accepted
        assert "cannot be read" in result.reason
    assert not check_text(b"\xff\xfe" + TEXT.encode())


def test_a_file_just_over_the_limit_is_not_read_further(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text(TEXT + " " * (checker.MAX_BYTES - len(TEXT)))
    assert check(path)
    path.write_text(TEXT + " " * (checker.MAX_BYTES - len(TEXT) + 1))
    assert f"more than {checker.MAX_BYTES}" in check(path).reason


def test_work_beyond_the_time_budget_is_a_rejection(
    draw_instance: Callable[..., Instance], certify_registered: Callable[[str, Instance], Certificate]
) -> None:
    certificate = certify_registered("own:residual-inf", draw_instance(np.random.default_rng(0)))
    result = check_text(certificate.text(), seconds=0.0)
    assert not result.accepted
    assert "the time allowed is used up" in result.reason


def test_limits_are_those_of_the_page_and_where_they_are_said_to_be() -> None:
    page = (Path(checker.__file__).parents[2] / "docs/certificates.md").read_text(encoding="utf-8")
    sentence = page.partition("beyond the limits:")[2].partition("opened.")[0]
    said = [int(number.replace(" ", "")) for number in re.findall(r"\d[\d ]*", sentence)]
    lengths = [MAX_BYTES, MAX_ITEMS, MAX_DIGITS, MAX_EXPONENT, MAX_SIDE, MAX_LAYERS, MAX_SUBLAYERS, MAX_MAPS, MAX_HEADS]
    lengths += [checker.MAX_GIVEN, MAX_FORMULA, MAX_LOOP]
    assert said == [*lengths, checker.SECONDS, MAX_HELD // 10**6, MAX_GROWTH // 2**20]

    def refused(text: str) -> bool:
        try:
            return parse(text) is None
        except Rejected:
            return True

    for least, beyond in (
        ("[]".ljust(4_000_000), "[]".ljust(4_000_001)),
        ("[" + "1," * 99_999 + "1]", "[" + "1," * 100_000 + "1]"),
        ("[" * 100 + "1" + "]" * 100, "[" * 100_000 + "1" + "]" * 100_000),
        ("9" * 4000, "9" * 4001),
    ):
        assert not refused(least)
        assert refused(beyond)
    for value, shape, allowed in (
        ("1*2^-10000", "number", True),
        ("1*2^10001", "number", False),
        ("1*2^-10001", "number", False),
        ("7" * 4000 + "/" + "9" * 4000, "number", True),
        ("7" * 4001 + "/9", "number", False),
        ([1] * 256, "d", True),
        ([1] * 257, "d", False),
        ([[1]] * 3, ["d", 3], True),
        ([[1]] * 4, ["d", 3], False),
        ([[1, 2], [1]], "n d", False),
        ([[1, 2], [1]], ["d", 3], True),
        ([], "d", False),
        ("a", ("a", "b"), True),
        ("b", ("a", "b"), True),
        ("c", ("a", "b"), False),
        ("complete", network_data({"layernorm": "none", "mask": "complete"})["mask"], True),
        ("n n", network_data({"layernorm": "none", "mask": "n n"})["mask"], False),
        ([[1]], network_data({"layernorm": "none", "mask": [[1]]})["mask"], True),
        ([[1]], ("a", "b"), False),
        ({}, {"a?": "number"}, True),
        ({}, {"a": "number"}, False),
    ):
        try:
            read(value, shape, "here", {})
            assert allowed, (value, shape)
        except Rejected:
            assert not allowed, (value, shape)


def test_reading_looks_at_the_clock() -> None:
    for shape, value in (("n d", [[1, 2], [3, 4]]), ({"a": "number"}, {"a": 1}), (["d", 3], [[1], [2]])):
        assert read(value, shape, "here", {}, math.inf) == value
        with pytest.raises(Rejected, match="the time allowed is used up"):
            read(value, shape, "here", {}, -math.inf)
    assert check_text(TEXT, seconds=-1.0).reason == "the time allowed is used up"


def test_logits_out_of_all_proportion_are_no_danger() -> None:
    """p is (1, 0) up to e^(-2^9001): total variation 1/2 against tanh of something huge."""
    data = {"weights": [1, 1], "g": ["1*2^9000", "-1*2^9000"]}
    result = check_text(json.dumps(plain(data, statement="own:tv", kind="holds")))
    assert result.accepted
    # 1/2 up to e^(-2^20), and tanh up to as much, each rounded outward.
    assert "[0.499999, 0.500001]" in result.checked[-1]
    assert "[0.999999, " in result.checked[-1]


def test_a_bracket_in_the_free_text_is_only_text() -> None:
    assert check_text(json.dumps({**GOOD, "about": "[" * 1000 + '\\"{' * 9}))


def test_the_command_line_says_what_it_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    A = np.array([[1, 1], [0, 0]])
    good = certify_arrays("dong2021:norm", {"A": A, "B": A.T}, kind="violates").save(tmp_path / "good.json")
    bad = tmp_path / "bad.json"
    bad.write_text(good.read_text().replace("violates", "holds"))
    assert checker.main([str(good)]) == 0
    assert checker.main([str(good), str(bad)]) == 1
    assert checker.main([]) == 2
    out = capsys.readouterr().out
    assert f"{good}: accepted {Certificate.load(good).id}" in out
    assert "3 against [2.82842, 2.82843], so it fails" in out
    assert f"{bad}: REJECTED" in out


@pytest.mark.parametrize("number", ["0x1", "0b1", "1_0", "1e3", "1e9999999", ".5", "2.", "1j"])
def test_a_number_of_a_formula_has_one_spelling(number: str) -> None:
    """The claim of an instance, and every text of a derivation; what else Python reads is refused at once."""
    content = {"format": "rankmath-certificate/2", "statement": "mine:a", "given": [], "hints": {}}
    line = {"says": f"{number} <= n", "by": "lemma", "name": "n-one"}
    weighed = {"says": "0 <= 0", "by": "sum", "of": [[1, number]]}
    one = {"says": "1 <= n", "by": "lemma", "name": "n-one"}
    for claim, lines in (("1 <= n", [line]), (f"{number} <= n", [one]), ("1 <= n", [one, weighed])):
        derived = {**content, "claim": claim, "kind": "derivation", "data": {"lines": lines}}
        result = checker.check_text(json.dumps(derived))
        assert not result.accepted
        assert "is no number of a formula; 12, 0.5 and 1/3 are" in result.reason
    found = {**content, "claim": "1 <= n", "kind": "derivation", "data": {"lines": [one]}}
    assert checker.check_text(json.dumps(found)).accepted
