"""The program around the commands: how it ends, what narrow terminals and old encodings show, what is written."""

from __future__ import annotations

import io
import math
import os
import re
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from rankmath import console, files
from rankmath.cli import main
from rankmath.cli.app import App
from rankmath.printing import quotient
from rankmath.validation import InvalidArgument
from rankmath.version import __version__

PROGRAM = [sys.executable, "-c", "from rankmath.cli import main; main()"]
FULL = OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (InvalidArgument("x: 1 given; 2 is needed"), 2, "rankmath: x: 1 given; 2 is needed\n"),
        (ValueError("a bug that looks like bad input"), 3, "rankmath: internal error"),
        (KeyError("status"), 3, "rankmath: internal error"),
        (
            OSError(28, "No space left on device"),
            3,
            "rankmath: the output could not be written: No space left on device\n",
        ),
        (OSError(5, "Input/output error", "a.txt"), 3, "rankmath: [Errno 5] Input/output error: 'a.txt'\n"),
        (files.NotWritten(OSError(28, "No space left on device"), Path("a.txt")), 3, "rankmath: a.txt: not written, "),
        (MemoryError(), 3, "rankmath: out of memory; smaller sizes need less\n"),
        (KeyboardInterrupt("half is kept"), 130, "rankmath: interrupted; half is kept\n"),
        (KeyboardInterrupt(), 130, "rankmath: interrupted\n"),
    ],
)
def test_only_invalid_argument_reads_as_bad_input(error: BaseException, code: int, words: str) -> None:
    @click.group(cls=App)
    def program() -> None:
        pass

    @program.command()
    def fail() -> None:
        raise error

    done = CliRunner().invoke(program, ["fail"])
    assert done.exit_code == code
    assert words in done.stderr
    assert ("Traceback" in done.stderr) == (words == "rankmath: internal error")


def test_invalid_argument_survives_the_way_from_a_worker() -> None:
    import pickle

    import rankmath as rm

    again = pickle.loads(pickle.dumps(InvalidArgument("x: 1 given")))
    assert type(again) is InvalidArgument is rm.InvalidArgument
    assert str(again) == "x: 1 given"


def test_a_reader_that_has_had_enough_is_no_error() -> None:
    done = subprocess.run(
        f"{sys.executable} -c 'from rankmath.cli import main; main()' list --json | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("[\n", "")


@pytest.mark.parametrize("words", [["quantities"], ["--help"], ["list"]])
def test_nobody_reads_the_output_is_an_exit_code_of_its_own(words: list[str]) -> None:
    read, written = os.pipe()
    os.close(read)
    try:
        done = subprocess.run([*PROGRAM, *words], stdout=written, stderr=subprocess.PIPE)
    finally:
        os.close(written)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-"])
def test_a_closed_output_is_no_error(closed: str) -> None:
    done = subprocess.run(f'"{sys.executable}" -m rankmath list own:tv {closed}', shell=True, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_encoding_without_mathematics_gets_words() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*PROGRAM, "list"], capture_output=True, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    done.stdout.decode("ascii")
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="cp1252", errors="rankmath")
    stream.write("lhs/rhs ≤ 1 − 1e-9, λ → ∞, 漢")
    stream.flush()
    assert raw.getvalue().decode("cp1252") == "lhs/rhs <= 1 - 1e-9, lambda -> inf, ?"


@pytest.mark.parametrize("width", [30, 50, 160])
def test_a_table_that_is_too_wide_is_several_and_no_number_is_broken(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "PIPE_WIDTH", width)
    rows = [[str(layer), *(f"-{layer}.{metric:02}345678901" for metric in range(19))] for layer in range(3)]
    console.print_table(["layer", *(f"metric-{metric}" for metric in range(19))], rows)
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= width for line in lines)
    for layer, *numbers in rows:
        said = [number for line in lines if line.split()[0] == layer for number in line.split()[1:]]
        assert said == numbers


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_width_cuts_a_key_or_a_verdict(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "PIPE_WIDTH", width)
    key = "dong2021v1:A.3-lower"
    row = (key, ("UNDECIDED", "red"), "proved", "106", "12", "1 to 15 digits", "3.1")
    columns = ("key", "verdict", "known", "held on", "certified", "lhs/rhs ≤", "seconds")
    console.print_table(
        columns, [row], left=columns[:3], optional=("held on", "known", "lhs/rhs ≤", "certified", "seconds")
    )
    shown = capsys.readouterr().out
    assert all(len(line) <= width for line in shown.splitlines()[:2])
    assert f"{key}  UNDECIDED" in shown
    if width == 60:
        assert "left out for want of width" in shown
    if width == 200:
        assert "3.1" in shown


def test_a_column_that_may_give_way_is_a_column_at_any_width() -> None:
    with pytest.raises(ValueError, match=r"^optional: size given; there are the columns key, length$"):
        console.print_table(["key", "length"], [["a", "1"]], optional=["length", "size"])


def test_a_quotient_near_one_is_never_printed_as_one() -> None:
    for gap in (1e-3, 1e-6, 1e-9, 1e-12, 1e-14):
        assert quotient(math.log1p(-gap)).startswith("1 - " if gap < 1e-3 else "0.99")
        assert quotient(math.log1p(gap)).startswith("1 + ")
    assert quotient(math.nextafter(0, -1)) == quotient(0.0) == "1 to 15 digits"


# -- files -------------------------------------------------------------------------------------------------


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    files.write(target, "first")
    with pytest.raises(TypeError), files.replacing(target) as partial:
        partial.write_text(b"no text")  # type: ignore[arg-type]
    assert target.read_text() == "first"
    assert os.listdir(tmp_path) == ["a.txt"]
    before = target.stat().st_ino
    files.write(target, "first")
    assert target.stat().st_ino == before, "what is right is left alone"
    files.write(target, b"second")
    assert target.read_bytes() == b"second"
    assert target.stat().st_mode & 0o777 == 0o644


def test_a_place_that_cannot_be_written_or_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"plot: '.*nowhere/a.png' given; there is no folder .*nowhere"):
        files.write(tmp_path / "nowhere" / "a.png", "", "plot")
    with pytest.raises(InvalidArgument, match=r"plot: .* it cannot be written: Is a directory"):
        files.write(tmp_path, "", "plot")
    with pytest.raises(InvalidArgument, match=r"report: .* it cannot be read: No such file"):
        files.read(tmp_path / "a.json", "report")
    # /dev/zero has no end to read to, and a file would take the place of a device.
    with pytest.raises(InvalidArgument, match=r"sources: '/dev/zero' given; it is a device, a file is needed"):
        files.read("/dev/zero", "sources")
    with pytest.raises(InvalidArgument, match=r"plot: '/dev/full' given; it cannot be written: a device, no file"):
        files.write("/dev/full", "", "plot")


def test_an_interrupt_while_the_program_is_loaded_is_one_line_too() -> None:
    program = """
import builtins
load = builtins.__import__
def interrupted(name, *rest):
    if name.startswith("rankmath.cli"):
        raise KeyboardInterrupt
    return load(name, *rest)
builtins.__import__ = interrupted
from rankmath.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "rankmath: interrupted\n")


def test_the_program_runs_as_a_module_and_loads_no_arrays_to_say_its_version() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "rankmath", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"rankmath, version {__version__}\n")
    assert not re.search(r"\| +numpy$", done.stderr, re.M)


@pytest.mark.parametrize("told", [False, True])
def test_a_command_that_tells_nothing_is_seen_to_be_at_work(told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "PAUSE", 0.01)
    monkeypatch.delenv("RANKMATH_PROGRESS")
    over = threading.Event()

    @click.group(cls=App)
    def program() -> None:
        pass

    @program.command()
    def wait() -> None:
        with console.Progress(0, quiet=True) if told else nullcontext():
            over.wait(0.2)

    said = CliRunner().invoke(program, ["wait"]).stderr.splitlines()
    assert all(line == "rankmath wait: 0 s" for line in said)
    assert bool(said) != told


def test_an_estimate_that_is_given_counts_down_and_is_not_the_mean_speed() -> None:
    progress = console.Progress(100, "instances", quiet=True)
    progress._began -= 10
    progress.at(50)
    assert "about 10 s left" in progress.line()
    progress.at(50, left=1000.0)
    assert "about 17 min left" in progress.line()
    progress.at(50, left=20000.0)
    assert "about 5.6 h left" in progress.line()
    progress._told = (1000.0, progress._told[1] - 940) if progress._told else None
    assert "about 60 s left" in progress.line()


def test_a_text_that_is_not_utf_8_is_refused_by_its_place(tmp_path: Path) -> None:
    story = tmp_path / "story.txt"
    story.write_bytes("one\ntwo\nthe café".encode("latin-1"))
    for command in (
        ["experiment", "dong-paths", "--model", str(tmp_path), "--text", str(story)],
        ["verify", str(story)],
        ["campaign", "run", str(story)],
    ):
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 2
        assert re.fullmatch(
            r"rankmath: [\w-]+: .*story.txt' given; not UTF-8 \(byte 0xe9 in line 3\); .*\n", done.stderr
        )


def test_sizes_that_do_not_fit_into_memory_are_refused_before_any_is_taken() -> None:
    for sizes in (("--tokens", "100000000000000"), ("--dim", "1000000"), ("--layers", "1000000000000")):
        done = CliRunner().invoke(main, ["trace", *sizes])
        assert done.exit_code == 2, done.stderr
        assert re.fullmatch(r"rankmath: .* given.*; about [\d,.]+ GiB of memory are needed, .* are free\n", done.stderr)
    done = CliRunner().invoke(main, ["trace", "--tokens", "10000000", "--dim", "1", "--mask", "causal"])
    assert "tokens: 10000000 given with a mask; about 186,264.5 GiB" in done.stderr
    done = CliRunner().invoke(main, ["trace", "--tokens", "10000000", "--dim", "1", "--arithmetic", "balls"])
    assert "tokens given with arithmetic 'balls'; about " in done.stderr


def test_a_long_trace_without_the_compiler_says_once_what_is_faster(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import rankmath as rm

    net = rm.Network.random(2, 2)
    room = sys.modules["rankmath.attention.trace"]
    room._say_what_is_faster.cache_clear()
    monkeypatch.setattr(room, "_LONG", 0.0)
    monkeypatch.setattr("rankmath.kernels.compiled.has_compiler", lambda: False)
    for _ in range(2):
        rm.trace(net, net.random_input())
    assert [record.message for record in caplog.records] == [caplog.records[0].message]
    assert "pip install 'rankmath[fast]'" in caplog.records[0].message
    room._say_what_is_faster.cache_clear()


def test_a_search_shows_one_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("rankmath.console.time.monotonic", lambda: now[0])
    progress = console.Progress(8, "s", quiet=True)
    now[0] += 21
    progress.at(0, "1024 evaluations")
    assert progress.line() == "21 s (the search is over: proving and shrinking); 1024 evaluations"


def test_all_is_done_where_100_percent_is_said() -> None:
    progress = console.Progress(1000.0, "%", quiet=True)
    progress.at(999.9)
    assert progress.line().startswith("99 %")
    progress.at(290.0)  # 0.29*100 is below 29 in doubles
    assert progress.line().startswith("29 %")
    progress.at(1000.0)
    assert progress.line().startswith("100 %")
