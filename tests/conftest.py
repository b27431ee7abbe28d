"""Shared settings: deterministic hypothesis, slow tests on request, long ones first, no program unless needed."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

from programs import OPTIONAL, bare_path, lacking

# Derandomised: a red run is red for everybody, and again tomorrow.
# They are the same examples every time: more of them are for --run-slow.
COMMON = {"deadline": None, "derandomize": True, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("rankmath", max_examples=25, **COMMON)
settings.register_profile("slow", max_examples=400, **COMMON)
# A slow machine must not change what a command says.
os.environ.setdefault("RANKMATH_PROGRESS", "bars")
# As the Makefile of proofs/coq has it: Coq sweeps its memory less often.
os.environ.setdefault("OCAMLRUNPARAM", "o=1000")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-slow", action="store_true", help="also run the tests marked slow")
    text = "fail, rather than skip, where this program is missing"
    parser.addoption("--have", action="append", default=[], choices=[*OPTIONAL], help=text)
    text = "keep here what costs much to make, for another run of the same sources"
    parser.addoption("--made", type=Path, metavar="FOLDER", help=text)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("slow" if config.getoption("--run-slow") else "rankmath")


def needed(item: pytest.Item) -> list[str]:
    """The programs that the markers `needs` name."""
    return [name for marker in item.iter_markers("needs") for name in marker.args]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test and its fixtures see no program beyond Python and POSIX, unless it says that it needs one."""
    if needed(item):
        return (yield)
    with bare_path():
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for name in needed(item):
        reason = lacking(name)
        if reason and name in item.config.getoption("--have"):
            pytest.fail(f"{reason}; --have {name} was given", pytrace=False)
        if reason:
            pytest.skip(reason)


@pytest.fixture(scope="session")
def made_once(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, Callable[[Path], None]], Path]:
    """The folder of this run, by its name, that whichever worker comes first fills; the others wait for it."""
    base = tmp_path_factory.getbasetemp()
    shared = request.config.getoption("--made") or (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)
    shared.mkdir(parents=True, exist_ok=True)

    def folder(name: str, fill: Callable[[Path], None]) -> Path:
        (shared / name).mkdir(exist_ok=True)
        with (shared / f"{name}.lock").open("a+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.seek(0)
            if not lock.read():
                fill(shared / name)
                lock.write("filled")
        return shared / name

    return folder


@pytest.fixture(scope="session")
def coq_texts(made_once: Callable[[str, Callable[[Path], None]], Path]) -> dict[str, tuple[str, str]]:
    """Every committed certificate as a Coq file that stands alone, or why there is none, by the names of the files."""
    from rankmath.certificates.coq import to_coq
    from rankmath.certificates.coq_terms import Untranslatable
    from rankmath.files import proofs_folder

    def fill(folder: Path) -> None:
        found = {}
        for path in sorted((proofs_folder() / "certificates").glob("*.json")):
            try:
                found[path.name] = to_coq(json.loads(path.read_text(encoding="utf-8")), shared=False)[0], ""
            except Untranslatable as why:
                found[path.name] = "", str(why)
        (folder / "texts.json").write_text(json.dumps(found))

    read = json.loads((made_once("coq texts", fill) / "texts.json").read_text())
    return {name: (text, why) for name, (text, why) in read.items()}


#: Rooms whose single tests take a minute or two: begun first, they leave no processor idle at the end.
LONG = ("tests/coq/", "tests/docs/")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))
    if config.getoption("--run-slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow: run with --run-slow"))
