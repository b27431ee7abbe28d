"""A report says what a run showed, survives being written, and does not depend on how many processes ran."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rankmath.checker import checker
from rankmath.claims import statement
from rankmath.decide.campaigns import in_memory
from rankmath.decide.campaigns.crews import done_ahead, is_done, kept_workers, shared
from rankmath.decide.campaigns.in_memory import Result, run_all, works
from rankmath.report import subject
from rankmath.report.results import Report


def test_what_is_written_is_read_back(report: Report, tmp_path: Path) -> None:
    folder = report.save(tmp_path / "run")
    read = Report.load(folder / "report.json")
    assert (read.version, read.settings, read.date) == (report.version, report.settings, report.date)
    for before, after in zip(report.results, read.results, strict=True):
        assert after == replace(before, texts=(), checked={}, counterexample="")


def test_the_backend_reaches_the_battery_and_the_command_that_repeats_it(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Reached(Exception):
        pass

    def verify_statement(*_: Any, backend: str, **__: Any) -> None:
        raise Reached(backend)

    monkeypatch.setattr(in_memory, "verify_statement", verify_statement)
    (work,) = works([(statement("own:tv"), None)], instances=1, certify=0, seed=0, search=0, backend="cupy")
    with pytest.raises(Reached, match="cupy"):
        work.run(lambda done: None)
    on_gpu = replace(report, settings={**report.settings, "backend": "cupy"})
    assert subject._verify_command(on_gpu.settings, FILE=False).endswith(" --backend cupy")
    assert "--backend" not in subject._verify_command(report.settings, FILE=False)


def test_the_certificates_of_a_run_are_accepted(report: Report, tmp_path: Path) -> None:
    folder = report.save(tmp_path)
    named = [name for result in report.results for name in result.certificates]
    assert named
    assert {path.stem for path in (folder / "certificates").glob("*.json")} == set(named)
    assert all(checker.check(path).accepted for path in (folder / "certificates").glob("*.json"))


def test_what_the_run_has_checked_is_checked_again_only_where_its_file_is_another(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def check_text(text: str) -> checker.CheckResult:
        asked.append(text.strip())
        return checker.CheckResult(False, "asked again", (), None)

    monkeypatch.setattr(subject.checker, "check_text", check_text)
    folder = report.save(tmp_path)
    texts = {
        name: text for result in report.results for name, text in zip(result.certificates, result.texts, strict=True)
    }
    checks = {check.id: check for check in subject.subject_of_run(report, folder).checks}
    assert not set(asked) & set(texts.values())
    assert all(checks[name].accepted and checks[name].checked for name in texts)
    # A file that was changed, and a report that was read, are looked at.
    changed, *others = texts
    (folder / "certificates" / f"{changed}.json").write_text("{}")
    checks = {check.id: check for check in subject.subject_of_run(report, folder).checks}
    assert checks[changed].status == "REJECTED: asked again"
    assert all(checks[name].accepted for name in others)
    asked.clear()
    assert not any(c.accepted for c in subject.subject_of_run(Report.load(folder / "report.json"), folder).checks)
    assert {texts[name] for name in others} < set(asked)


def test_what_is_done_ahead_is_not_done_again(report: Report) -> None:
    entries = [(statement(result.key), None) for result in report.results[-2:]]
    pieces = subject.unchecked(["own:tv", "own:diameter"])
    assert len(pieces) >= 2
    with kept_workers():
        found = list(run_all(works(entries, **report.settings), jobs=2, ahead=pieces[1:]))
        assert {result.key for result in found} == {entry.key for entry, _ in entries}
        assert [is_done(piece) for piece in pieces] == [False, *(True for _ in pieces[1:])]
        came = {attempt.chunk: attempt for attempt in shared(pieces, workers=1)}
        # What was done ahead was done by another process; what failed there is tried once more.
        assert {piece for piece in pieces if came[piece].worker.endswith(f":{os.getpid()}")} == {pieces[0]}
        assert all(came[piece].findings.accepted for piece in pieces)
        done_ahead(replace(came[pieces[0]], error="it failed"))
        assert not is_done(pieces[0])
    assert not any(map(is_done, pieces))


def test_refuted_statements_name_their_certificates_and_proved_ones_their_proof(report: Report) -> None:
    refuted, proved = report.result("dong2021v1:A.3"), report.result("own:tv")
    assert refuted is not None
    assert proved is not None
    # Both were drawn 20 times; near-extremal instances and the search come on top, and are said to.
    assert refuted.sentence.endswith(f"certificates {', '.join(refuted.certificates)}")
    assert f"refuted by {refuted.violations} of {refuted.instances} instances" in refuted.sentence
    assert proved.extra == proved.instances - 20 > 0
    drawn = f"{proved.instances} instances (20 drawn, {proved.extra} near-extremal or searched)"
    assert proved.sentence == f"proved in proofs/own_tv.tex; held on {drawn}, {proved.certified} certified".replace(
        "held on", f"held on {proved.holds} of"
    )
    assert report.result("own:nothing") is None


def test_two_processes_find_what_one_finds(report: Report) -> None:
    entries = [(statement(result.key), None) for result in report.results[-2:]]
    again = {result.key: result for result in run_all(works(entries, **report.settings), jobs=2)}

    def timeless(result: Result) -> Result:
        return replace(result, seconds=0.0)

    for result in report.results[-2:]:
        assert timeless(again[result.key]) == timeless(result)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda content: content.pop("settings"), "'settings'"),
        (lambda content: content.update(format="other/1"), "the format is 'other/1'"),
        (lambda content: content.update(results=5), "not iterable"),
        (lambda content: content["results"][0].update(holds="many"), "holds is a str, not int"),
        (lambda content: content["results"][0].pop("key"), "'key'"),
    ],
)
def test_a_damaged_report_is_refused(
    damage: Callable[[dict[str, Any]], None], reason: str, report: Report, tmp_path: Path
) -> None:
    path = report.save(tmp_path) / "report.json"
    content = json.loads(path.read_text())
    damage(content)
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"report: .*report\.json given; it is no report") as refused:
        Report.load(path)
    assert reason in str(refused.value)


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("[1, 2")
    with pytest.raises(ValueError, match="it is no report"):
        Report.load(path)
    path.write_text("[]")
    with pytest.raises(ValueError, match="it is no report"):
        Report.load(path)
