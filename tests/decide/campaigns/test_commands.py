"""`rankmath campaign run|status|show|export`, as people type it."""

from __future__ import annotations

import csv
import json
import os
import pty
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner, Result

from rankmath import console
from rankmath.cli import main
from rankmath.decide.battery import verify
from rankmath.decide.campaigns.exact_json import decode
from rankmath.decide.campaigns.ledger import TABLES, Ledger

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "my_statement.py"


def typed(*words: Any) -> Result:
    return CliRunner().invoke(main, ["campaign", *map(str, words)])


def test_a_campaign_as_the_documentation_tells_it(tmp_path: Path) -> None:
    plan = tmp_path / "tv.toml"
    plan.write_text('statements = ["own:tv"]\ninstances = 60\nchunk = 20\ncertify = 0.1\nworkers = 0\n')
    done = typed("run", plan)
    assert done.exit_code == 0, done.output
    assert "complete: 3 chunks" in done.output
    again = typed("run", plan)
    assert (again.exit_code, "resume it (--resume)" in again.stderr) == (2, True)
    resumed = typed("run", plan, "--resume", "--json")
    content = json.loads(resumed.stdout)
    assert (content["outcome"], content["recorded"]) == ("complete", 0)
    (standing,) = content["statements"]
    assert (standing["holds"], standing["outcome"], standing["as_registered"]) == (60, "HOLDS", True)
    assert sum(standing["histogram"]) == 60
    assert len(standing["histogram"]) == len(standing["histogram_edges_log10"]) + 1
    assert 0 < standing["tightest"] <= 1


def test_a_violation_of_what_is_registered_as_proved_is_exit_code_one(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(EXAMPLE.read_text().replace("bound / 2,", "bound / 2, status='proved',"))
    plan = tmp_path / "plan.toml"
    table = '[[statement]]\nfile = "mine.py"\nkey = "example:always-halves"\n'
    plan.write_text(f"instances = 50\nworkers = 0\n{table}")
    assert typed("run", plan).exit_code == 1
    plan.write_text(f'instances = 50\nworkers = 0\nledger = "other.db"\n{table}'.replace("mine.py", str(EXAMPLE)))
    done = typed("run", plan)
    assert (done.exit_code, "REFUTED" in done.output) == (0, True)


def test_status_tells_how_far_and_who(undisturbed_ledger: Path) -> None:
    done = typed("status", undisturbed_ledger)
    assert done.exit_code == 0
    assert "1230 (100 %)" in done.output
    assert "run 1: began 2" in done.output
    assert "complete at 2" in done.output
    content = json.loads(typed("status", undisturbed_ledger, "--json").stdout)
    assert {part["statement"]: part["planned"] for part in content["statements"]} == {
        "example:always-halves": 160,
        "own:diameter": 1230,
        "seed:closure": 48,
    }
    assert content["runs"][0]["plan"]["seeds"] == [0, 1]


def test_tables_of_a_campaign_fit_a_narrow_terminal(undisturbed_ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "PIPE_WIDTH", 60)
    told = typed("status", undisturbed_ledger)
    assert told.exit_code == 0, told.output
    assert "left out for want of width: held on, held: lhs/rhs ≤, known" in told.output
    shown = typed("show", undisturbed_ledger, "own:diameter")
    assert shown.exit_code == 0, shown.output


def test_show_hands_out_instances_that_can_be_verified_again(undisturbed_ledger: Path) -> None:
    done = typed("show", undisturbed_ledger, "own:diameter", "--why", "certified", "--limit", 3, "--json")
    rows = json.loads(done.stdout)
    assert len(rows) == 3
    ratios = [row["log_lhs"] - row["log_rhs"] for row in rows]
    assert ratios == sorted(ratios, reverse=True), "tightest first"
    for row in rows:
        instance = decode(json.dumps(row["data"]))
        verdict = verify("own:diameter", instance.net, instance.X, arithmetic="balls")
        assert (verdict.log_lhs, verdict.log_rhs, verdict.outcome) == (row["log_lhs"], row["log_rhs"], row["outcome"])
    text = typed("show", undisturbed_ledger, "example:always-halves", "--why", "violated").output
    assert "VIOLATED" in text
    assert "balls at 128 bits" in text


def test_show_failures(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from dataclasses import replace\n"
        "from rankmath.claims import statement\n"
        "mine = replace(statement('own:tv'), key='mine:broken', draws=(lambda rng, size: 1 / 0,))\n"
    )
    plan = tmp_path / "plan.toml"
    plan.write_text('instances = 10\nworkers = 0\nattempts = 2\n[[statement]]\nfile = "mine.py"\n')
    done = typed("run", plan)
    assert done.exit_code == 1
    assert "1 chunks failed: rankmath campaign show" in done.output
    text = typed("show", tmp_path / "plan.db", "--failures").output
    assert "mine:broken 0/0: ZeroDivisionError: division by zero (2 attempts)" in text
    assert "lambda rng, size: 1 / 0" in text


@pytest.mark.parametrize("table", TABLES)
def test_export_writes_every_row_in_every_format(table: str, undisturbed_ledger: Path, tmp_path: Path) -> None:
    with Ledger.read(undisturbed_ledger) as book:
        expected = list(book.rows(table))
    for ending in ("csv", "json", "parquet"):
        done = typed("export", undisturbed_ledger, tmp_path / f"out.{ending}", "--table", table)
        if ending == "parquet" and "needs pyarrow" in done.stderr:
            assert done.exit_code == 2
            continue
        assert (done.exit_code, done.output.split()[0]) == (0, str(len(expected)))
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    assert [list(row.values()) for row in read] == [
        ["" if x is None else repr(x) if isinstance(x, float) else str(x) for x in row.values()] for row in expected
    ]
    loaded = json.loads((tmp_path / "out.json").read_text())
    assert [list(row) for row in loaded] == [list(row) for row in expected]
    numbers = [[x for x in row.values() if isinstance(x, int)] for row in loaded]
    assert numbers == [[x for x in row.values() if isinstance(x, int)] for row in expected]
    assert {path.suffix for path in tmp_path.iterdir()} <= {".csv", ".json", ".parquet"}


@pytest.mark.parametrize("table", TABLES)
def test_parquet_reads_back_the_same_values(table: str, undisturbed_ledger: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert typed("export", undisturbed_ledger, tmp_path / "out.parquet", "--table", table).exit_code == 0
    with Ledger.read(undisturbed_ledger) as book:
        assert parquet.read_table(tmp_path / "out.parquet").to_pylist() == list(book.rows(table))


def test_export_of_one_statement(undisturbed_ledger: Path, tmp_path: Path) -> None:
    done = typed("export", undisturbed_ledger, tmp_path / "out.json", "--key", "seed:closure")
    assert done.exit_code == 0
    assert {row["statement"] for row in json.loads((tmp_path / "out.json").read_text())} == {"seed:closure"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("export", "LEDGER", "out.txt"), "its ending must be one of .csv, .json, .parquet"),
        (("export", "LEDGER", "out.csv", "--table", "sqlite_master"), "table: 'sqlite_master' given; allowed are"),
        (("export", "LEDGER", "out.csv", "--table", "runs", "--key", "own:tv"), "the table runs is not by statement"),
        (("export", "LEDGER", "nowhere/out.csv"), "there is no folder nowhere"),
        (("show", "LEDGER", "own:nonsense"), "key: 'own:nonsense' given; the ledger holds"),
        (("show", "LEDGER", "--why", "fun"), "--why: 'fun' given; allowed are"),
        (("show", "LEDGER", "--limit", "0"), "--limit: 0 given"),
        (("status", "nowhere.db"), "there is no such file"),
        (("run", "nowhere.toml"), "plan: 'nowhere.toml' given; it cannot be read"),
        (("run", "bad.toml"), "instance: unknown key of the plan; allowed are ledger, statements"),
        (("run", "good.toml", "--workers", "-1"), "workers: -1 given"),
        (("run", "good.toml", "--seconds", "nan"), "seconds: nan given"),
        (("run", "good.toml", "--ledger", "nowhere/a.db"), "there is no folder nowhere"),
    ],
)
def test_mistakes_are_exit_code_two(
    words: tuple[str, ...], message: str, undisturbed_ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.toml").write_text('statements = ["own:tv"]\ninstance = 5\n')
    (tmp_path / "good.toml").write_text('statements = ["own:tv"]\n')
    before = sorted(tmp_path.iterdir())
    done = typed(*(str(undisturbed_ledger) if word == "LEDGER" else word for word in words))
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert sorted(tmp_path.iterdir()) == before


def _heed_interrupts() -> None:
    # A shell starts what runs in the background deaf to Ctrl-C, and so would be all that it starts.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_cleanly(how: signal.Signals, command: list[str], tmp_path: Path) -> None:
    # Far more than is done before the signal.
    plan, ledger = tmp_path / "long.toml", tmp_path / "a.db"
    plan.write_text('statements = ["own:diameter"]\ninstances = 1_000_000\nchunk = 50\n')
    run = [*command, "run", str(plan), "--ledger", str(ledger), "--workers", "2", "--resume", "--quiet"]
    process = psutil.Popen(run, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=_heed_interrupts)
    deadline = time.monotonic() + 60
    while not (ledger.exists() and rows_so_far(ledger)) and time.monotonic() < deadline:
        time.sleep(0.01)
    workers = process.children()
    assert workers
    # As a terminal does: to the whole group.
    os.killpg(process.pid, how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "rankmath: interrupted; what is recorded is kept, go on with --resume\n"
    assert not psutil.wait_procs(workers, timeout=30)[1]
    assert not ledger.with_name("a.db-wal").exists(), "the ledger was closed"
    with Ledger.read(ledger) as book:
        assert [row["outcome"] for row in book.rows("runs")] == ["interrupted"]
    assert rows_so_far(ledger) > 0


def rows_so_far(ledger: Path) -> int:
    try:
        with Ledger.read(ledger) as book:
            return sum(standing.chunks for standing in book.standings())
    except ValueError:
        return 0


def test_the_bars_on_a_terminal_show_rate_time_and_tightest_ratio(command: list[str], tmp_path: Path) -> None:
    plan = tmp_path / "tv.toml"
    plan.write_text('statements = ["own:tv"]\ninstances = 40\nchunk = 10\nworkers = 1\n')
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160"}
    process = subprocess.Popen([*command, "run", str(plan)], stderr=theirs, stdout=subprocess.DEVNULL, env=environment)
    os.close(theirs)
    shown = b""
    # Reading from a terminal that is closed at the other end is an error, not an end of file.
    with suppress(OSError):
        while piece := os.read(ours, 4096):
            shown += piece
    os.close(ours)
    assert process.wait(timeout=60) == 0
    text = shown.decode()
    # What is drawn on the way hangs on the clock; the last state is always drawn.
    for word in ("own:tv", "40/40 instances", "0:00:0", "lhs/rhs ≤"):
        assert word in text


def test_a_line_now_and_then_where_there_is_no_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "PAUSE", 0.001)
    plan = tmp_path / "tv.toml"
    plan.write_text('statements = ["own:tv"]\ninstances = 4000\nchunk = 20\nworkers = 0\n')
    lines = [line for line in typed("run", plan).stderr.splitlines() if not line.startswith("rankmath campaign: ")]
    counts = [int(line.partition("/4,000 instances, ")[0].replace(",", "")) for line in lines]
    assert counts == sorted(counts)
    assert len(set(counts)) > 1, "it moves"
    assert any("; own:tv  held: lhs/rhs ≤ " in line for line in lines)
    assert typed("run", plan, "--resume", "--quiet").stderr == ""
