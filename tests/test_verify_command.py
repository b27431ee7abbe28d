"""`rankmath verify` under Ctrl-C, with mistakes in one's own file, with patterns, and into a folder used before."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner, Result

import rankmath as rm
from rankmath import console
from rankmath.cli import main

EXAMPLE = (Path(__file__).parents[1] / "docs" / "examples" / "my_statement.py").read_text()
SMALL = ("--instances", "10", "--certify", "1", "--jobs", "1")


def rankmath(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_an_interrupt_ends_at_once_and_keeps_what_is_done(tmp_path: Path) -> None:
    # One statement is done at once, the other never: it draws forever.
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from dataclasses import replace\nfrom rankmath.claims import statement\nimport time\n"
        "def slow(rng, size):\n    open('drawing', 'w').close()\n    time.sleep(600)\n"
        "quick = replace(statement('own:tv'), key='mine:quick', cost=2.0)\n"
        "endless = replace(statement('own:tv'), key='mine:endless', draws=(slow,))\n"
    )
    program = [sys.executable, "-c", "from rankmath.cli import main; main()", "verify", "mine.py"]
    process = psutil.Popen(
        [*program, "--instances", "5", "--output", "out", "--jobs", "2"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell starts what runs in the background deaf to Ctrl-C, and so would be all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "1/2 statements" in line and (tmp_path / "drawing").exists():
            break
    workers = process.children()
    assert workers
    os.killpg(process.pid, signal.SIGINT)
    began = time.monotonic()
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert out == ""
    last = errors.splitlines()[-1]
    assert last == (
        "rankmath: interrupted; 1 of 2 statements are in out/report.json; `rankmath report out` makes their page"
    )
    assert "Traceback" not in errors
    assert time.monotonic() - began < 30, "far less than what was left to do"
    assert not psutil.wait_procs(workers, timeout=30)[1]
    assert [r["key"] for r in json.loads((tmp_path / "out/report.json").read_text())["results"]] == ["mine:quick"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("bound = norm(", "bound = = norm(", "line 9: SyntaxError: invalid syntax"),
        ("import moderate_tokens", "import tokens_of_mine", "line 5: ImportError: cannot import name"),
        ("diameter(X[0], 1)", "perimeter(X[0], 1)", "line 9: NameError: name 'perimeter' is not defined"),
        ('"heads == 1"', '"heads = 1"', "line 11: InvalidArgument: "),
        ('"proved"', '"conjecture"', "line 11: InvalidArgument: status: 'conjecture' given; allowed are"),
        (
            "    draws=one_layer,",
            "    draws=(lambda rng, size: rng.nonsense(),),",
            "line 19: example:never-grows: AttributeError",
        ),
    ],
)
def test_a_mistake_in_ones_own_file_is_one_line_that_names_it(
    old: str, new: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # files are named as people name them, not from the root
    mine = Path("mine.py")
    mine.write_text(EXAMPLE.replace(old, new, 1))
    for jobs in ("1", "2") if "draws" in old else ("1",):
        done = rankmath("verify", mine, "--instances", 5, "--jobs", jobs, "--output", tmp_path / "out")
        assert done.exit_code == 2, done.output
        assert done.stderr.splitlines()[-1].startswith(f"rankmath: {mine}, {words}")
        assert "Traceback" not in done.stderr


def test_hypotheses_typed_are_not_dropped_beside_claims_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mu(X[1]) <= mu(X[0]) given heads == 1\n")
    done = rankmath("verify", tmp_path / "mine.txt", "--claim", "mu(X[1]) <= 1", "--given", "n <= 4")
    assert done.exit_code == 2
    assert done.stderr.startswith("rankmath: --given: given with ")
    done = rankmath("verify", tmp_path / "mine.txt", "--given", "n <= 4")
    assert done.stderr == "rankmath: --given: given without --claim, to which it belongs\n"


def test_a_key_that_is_nearly_right_gets_the_right_one() -> None:
    done = rankmath("verify", "own:diametre")
    assert done.exit_code == 2
    assert "key: 'own:diametre' given; did you mean 'own:diameter'" in done.stderr
    assert "a claim of certificates alone" in rankmath("verify", "own:stable-rotary").stderr
    for claim in ("mu(X[1]) <= mu(X[0])", "diagonal(P[0,0], 1) == 1/2"):
        assert "a claim of your own is given by `--claim`" in rankmath("verify", claim).stderr


def test_a_pattern_stands_for_all_that_fit_it(tmp_path: Path) -> None:
    report = json.loads(rankmath("verify", "dong2021:n*", "own:t?", *SMALL, "--output", tmp_path, "--json").stdout)
    assert [result["key"] for result in report["results"]] == ["dong2021:norm", "own:tv"]
    done = rankmath("verify", "theirs:*")
    assert (done.exit_code, "no statement fits it" in done.stderr) == (2, True)


def test_a_folder_used_again_holds_what_is_of_this_run(tmp_path: Path) -> None:
    assert rankmath("verify", "dong2021v1:A.3", *SMALL, "--output", tmp_path).exit_code == 0
    first = set(tmp_path.glob("certificates/*.json"))
    assert set(tmp_path.glob("counterexamples/*.json")) == {tmp_path / "counterexamples/dong2021v1-A.3.json"}
    assert rankmath("verify", "dong2021:norm", *SMALL, "--output", tmp_path).exit_code == 0
    second = set(tmp_path.glob("certificates/*.json"))
    assert first
    assert second
    assert not first & second
    assert not list(tmp_path.glob("counterexamples/*.json"))
    (result,) = json.loads((tmp_path / "report.json").read_text())["results"]
    assert {path.stem for path in second} == set(result["certificates"])


def test_the_counterexample_is_handed_over_and_violates(tmp_path: Path) -> None:
    from rankmath.claims import statements_in
    from rankmath.decide.campaigns.exact_json import decode

    mine = tmp_path / "mine.py"
    mine.write_text(EXAMPLE)
    done = rankmath("verify", mine, "--instances", 50, "--jobs", 1, "--output", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "example:always-halves: refuted by " in done.output
    assert "lhs/rhs = " in done.output
    file = tmp_path / "out/counterexamples/example-always-halves.json"
    assert f"counterexample: {file}" in done.output
    (certificate,) = (tmp_path / "out/certificates").glob("*.json")
    assert f"certificate: {certificate} (accepted by the checker)" in done.output
    assert rankmath("check", certificate).exit_code == 0
    assert certificate.stem in file.with_suffix(".tex").read_text(), "the theorem is that of the certificate"
    made: dict[str, Any] = {}
    exec(file.with_suffix(".py").read_text(), made)
    from rankmath.decide.battery import verify

    instance = decode(file.read_text())
    assert (made["X"] == instance.X).all()
    assert (made["net"].W_QK == instance.net.W_QK).all()
    false_claim = next(entry for entry in statements_in(mine) if entry.key == "example:always-halves")
    verdict = verify(false_claim, instance.net, instance.X, arithmetic="balls")
    assert (verdict.outcome, verdict.certified) == ("VIOLATED", True)


@pytest.mark.parametrize("key", ["own:gamma-free", "own:gamma-free-one-head", "dong2021:2.2"])
def test_the_supremum_that_is_printed_is_approached_and_not_passed(key: str) -> None:
    from rankmath.claims.own_gamma_free import three_keys
    from rankmath.cli.verify import _number
    from rankmath.verification.judge import judge

    entry = rm.statements()[key]
    known = _number(entry.supremum)
    few, more = (judge(entry, three_keys(idle, 2.0**-12), "float64").ratio for idle in (10, 60))
    assert few < more < known < 1.02 * more


def test_what_is_reached_is_printed_beside_what_is_known(tmp_path: Path) -> None:
    said = rankmath("verify", "own:tv", *SMALL, "--output", tmp_path).stdout
    assert re.search(r"own:tv: lhs/rhs reached [\d.]+.*; what is known to be approached is 1\n", said)


def test_it_is_at_100_percent_when_the_page_is_written_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures, page and appendix take their share of the bar, and it never falls."""
    told: list[tuple[float, str]] = []

    class Heard(console.Progress):
        def at(self, done: float, words: str = "", *, left: float | None = None) -> None:
            super().at(done, words, left=left)
            told.append((done / self.total, words))

    monkeypatch.setattr(console, "Progress", Heard)
    done = CliRunner().invoke(main, ["verify", "own:tv", "--instances", "5", "--jobs", "1", "--output", str(tmp_path)])
    assert done.exit_code == 0, done.output
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert max(shares) < 1
    assert told[-1][1] == "appendix"
    assert max(share for share, words in told if words.startswith("1/1")) == pytest.approx(0.9)
