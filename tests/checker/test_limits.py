"""What does not look at the clock is interrupted, what takes too much memory is ended, and nothing of it stays."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from rankmath.checker import checker, limits
from rankmath.checker.intervals import Rejected
from rankmath.checker.kernel import Evaluator, formula

NORM = next((Path(__file__).parents[2] / "proofs" / "certificates").glob("dong2021-norm_rm-*.json")).read_text("utf-8")


def test_what_does_not_look_at_the_clock_is_interrupted(monkeypatch: Any) -> None:
    ended = []

    def blind(content: dict[str, Any]) -> dict[str, Any]:
        """Takes twenty seconds and looks at nothing."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            pass
        ended.append(content)  # the kernel's own clock would say the rest
        return content

    before = signal.getsignal(signal.SIGALRM)
    assert checker.check_text(NORM).accepted
    monkeypatch.setattr(checker, "_fields", blind)
    result = checker.check_text(NORM, seconds=0.3)
    assert not result.accepted
    assert result.reason == "the time allowed is used up"
    assert not ended
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


class _Counting(Evaluator):
    """Counts how often the clock is looked at."""

    looks = 0

    def tick(self, held: int = 0, once: int = 0) -> None:
        self.looks += 1
        super().tick(held, once)


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("any(i < low for i in xs for j in xs)", 30 * 30),  # members are no calls
        ("sum([i * i + 1 for i in xs])", 3 * 30),
        ("double(double(double(1)))", 3 + 3),
    ],
)
def test_the_clock_is_looked_at_for_every_member_and_every_call(text: str, least: int) -> None:
    """The alarm is for what has none: without it, nothing that grows may go on unseen."""
    data = {"low": Fraction(0), "xs": [Fraction(i) for i in range(30)]}
    work = _Counting({"double": (("x",), formula("x + x"))}, data, {}, 128, time.monotonic() + 60)
    work.value(formula(text), {})
    assert work.looks >= least
    work.deadline = time.monotonic() - 1
    with pytest.raises(Rejected, match="time"):
        work.value(formula(text), {})


def test_the_alarm_of_another_is_left_alone() -> None:
    signal.setitimer(signal.ITIMER_REAL, 1000.0)
    try:
        assert checker.check_text(NORM, seconds=5).accepted
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 900
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def test_another_thread_checks_as_well() -> None:
    results = []
    thread = threading.Thread(target=lambda: results.append(checker.check_text(NORM)))
    thread.start()
    thread.join()
    assert results[0].accepted


def test_a_system_that_does_not_tell_its_memory_is_no_reason_to_reject(monkeypatch: Any, tmp_path: Path) -> None:
    asked: list[str] = []
    monkeypatch.setattr(limits, "Path", lambda name: asked.append(name) or tmp_path / "missing")
    monkeypatch.setattr(limits.threading, "active_count", lambda: 1)
    assert checker.check_text(NORM).accepted
    assert asked == ["/proc/self/statm"]


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_no_time_is_no_acceptance(seconds: float) -> None:
    assert not checker.check_text(NORM, seconds=seconds).accepted


MEMORY = """
import resource, sys
from rankmath.checker import checker
before = resource.getrlimit(resource.RLIMIT_DATA)
fields, text = checker._fields, sys.stdin.read()
checker._fields = lambda content: [bytearray(2**20) for _ in range(1000)]
print(checker.check_text(text).reason)
checker._fields = fields
print(checker.check_text(text).accepted, resource.getrlimit(resource.RLIMIT_DATA) == before)
highest = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(highest.split()[1]) < 300 * 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the system are those of Linux")
def test_too_much_memory_is_no_acceptance_and_the_next_file_is_checked() -> None:
    command = [sys.executable, "-c", MEMORY]
    done = subprocess.run(command, input=NORM, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["it needs more memory than is allowed", "True True", "True"]
