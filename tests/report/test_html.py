"""The page of a report says what the run or the ledger says, stands alone, and gives nothing of a user's to run."""

from __future__ import annotations

import csv
import json
import pickle
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
pytest.importorskip("jinja2", reason="the extra `report` is not installed")

from rankmath.cli import main
from rankmath.decide.campaigns.run import campaign
from rankmath.report.figures import FIGURES, drawings, figures_of
from rankmath.report.html import anchor, page, write
from rankmath.report.plots import Figure
from rankmath.report.results import Report
from rankmath.report.sources import committed_certificates
from rankmath.report.subject import Histogram, Subject, subject, subject_of_ledger, subject_of_run

EVIL = '<script>alert("1")</script><img src=x onerror=alert(1)>'
_VOID = {"meta", "link", "input", "br", "img", "hr"}


class Page(HTMLParser):
    """The elements of a page with their attributes and text; every element is closed in turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[dict[str, Any]] = []
        self._open: list[dict[str, Any]] = []
        self.feed(text)
        self.close()
        assert not self._open, f"not closed: {[e['tag'] for e in self._open]}"

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        element = {"tag": tag, "text": "", "within": [e["tag"] for e in self._open], **dict(attributes)}
        element["parents"] = list(self._open)
        self.elements.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append({"tag": tag, "text": "", "within": [], "parents": list(self._open), **dict(attributes)})

    def handle_endtag(self, tag: str) -> None:
        closed = self._open.pop()
        assert closed["tag"] == tag, f"<{closed['tag']}> closed by </{tag}>"

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element["text"] += data

    def all(self, tag: str) -> list[dict[str, Any]]:
        return [element for element in self.elements if element["tag"] == tag]

    def inside(self, outer: dict[str, Any], *tags: str) -> list[dict[str, Any]]:
        return [e for e in self.elements if e["tag"] in tags and any(p is outer for p in e["parents"])]


def rankmath(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def run_folder(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report.save(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def written(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("page")
    write(subject(run_folder), target)
    return target


@pytest.fixture(scope="module")
def parsed(written: Path) -> Page:
    return Page((written / "index.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "small.db"
    plan = {"statements": ["own:diameter", "dong2021v1:A.3", "seed:closure"], "instances": 120, "chunk": 60}
    campaign(plan, ledger=path, workers=0)
    return path


@pytest.fixture(scope="module")
def ledger_page(ledger: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """The folder of the ledger's report, and what the command printed."""
    folder = tmp_path_factory.mktemp("ledger-page")
    return folder, rankmath("report", ledger, "--output", folder, "--json")


@pytest.fixture(scope="module")
def made(run_folder: Path) -> tuple[list[Figure], list[str]]:
    """The figures of the run, and what is left out."""
    return figures_of(subject(run_folder))


# -- what the page says ------------------------------------------------------------------------------------


def test_every_result_has_its_line_with_the_numbers_of_the_report(run_folder: Path, parsed: Page) -> None:
    results = json.loads((run_folder / "report.json").read_text())["results"]
    lines = [element for element in parsed.all("tr") if "data-status" in element]
    assert [line["id"] for line in lines] == [anchor(result["key"]) for result in results]
    for line, result in zip(lines, results, strict=True):
        assert line["data-status"] == result["status"]
        assert line["data-outcome"] == result["outcome"]
        cells = [cell["text"].strip() for cell in parsed.inside(line, "th", "td")]
        assert cells[0].startswith(result["key"])
        counts = ("instances", "holds", "certified", "violations", "undecided", "not_applicable")
        assert [int(cell) for cell in cells[4:10]] == [result[name] for name in counts]
        if result["ratios"] and result["tightest"] < 0.999:
            assert result["tightest"] * (1 - 1e-11) <= float(cells[10]) <= result["tightest"] * 1.001  # rounded up
        assert cells[11] == f"{result['seconds']:.1f}"
        assert cells[12].split()[0] == str(len(result["certificates"]))


def test_the_command_that_checks_again_names_files_that_are_there(
    written: Path, ledger_page: tuple[Path, Result]
) -> None:
    for folder, patterns in (
        (written, ["certificates/*.json", "certificates/proofs/*.json"]),
        (ledger_page[0], ["certificates/proofs/*.json"]),
    ):
        read = Page((folder / "index.html").read_text(encoding="utf-8"))
        (command,) = [e["text"] for e in read.all("code") if e["text"].startswith("rankmath check ")]
        assert command.split()[2:] == patterns
        for pattern in patterns:
            files = list(folder.glob(pattern))
            assert files
            assert rankmath("check", *files).exit_code == 0


def test_a_quotient_of_one_is_never_printed_as_one(report: Report, run_folder: Path) -> None:
    tight = replace(report.results[3], tightest=1.0)
    assert tight.ratios
    shown = subject_of_run(replace(report, results=(tight,)), run_folder).rows[0]
    assert shown.tightest == "1 to 15 digits"


def test_the_header_says_what_was_run_when_and_with_which_versions(report: Report, parsed: Page) -> None:
    header = parsed.all("header")[0]["text"]
    for words in (f"rankmath {report.version}", report.python, report.numpy, report.date[:10], "instances 20"):
        assert words in header
    assert "Every verdict is what is registered" in header


def test_a_verdict_that_differs_is_said_in_words(report: Report, run_folder: Path) -> None:
    wrong = replace(report.results[0], as_registered=False)
    about = subject_of_run(replace(report, results=(wrong,)), run_folder)
    text = page(about, [], [])
    assert f"Differs from what is registered: {wrong.key}" in text
    assert "<strong>differs from registered</strong>" in text


def test_the_histogram_of_a_statement_counts_its_ratios(report: Report, run_folder: Path, written: Path) -> None:
    about = subject_of_run(report, run_folder)
    with open(written / "data" / "tightness.csv", newline="") as file:
        counted: dict[str, int] = {}
        for row in csv.DictReader(file):
            counted[row["statement"]] = counted.get(row["statement"], 0) + int(row["instances"])
    assert counted == {r.key: len(r.ratios) for r in report.results if r.ratios}
    for histogram in about.histograms:
        result = report.result(histogram.key)
        assert result is not None
        assert sum(histogram.counts) == sum(ratio > 0 for ratio in result.ratios)


def test_edges_and_extremes_fall_into_bins() -> None:
    found = Histogram.of_ratios("k", [1.0, 1e-300, 0.1, 0.0, 3.0])
    assert (sum(found.counts), found.beyond) == (4, 1)
    assert found.edges[0] <= -300
    assert found.edges[-1] >= 0.47
    assert sum(Histogram.of_ratios("k", [0.0]).counts) == 0


def test_the_tables_of_data_are_those_of_the_figures(run_folder: Path, written: Path) -> None:
    about = subject(run_folder)
    figures, _ = figures_of(about)
    for figure in figures:
        assert (written / "data" / f"{figure.name}.csv").read_text(encoding="utf-8") == figure.data.csv()
    with open(written / "data" / "verdicts.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["key"] for row in rows] == [row.key for row in about.rows]
    assert [int(row["holds"]) for row in rows] == [row.holds for row in about.rows]


def test_certificates_are_checked_and_linked(report: Report, written: Path, parsed: Page) -> None:
    links = {e["href"] for e in parsed.all("a") if e.get("href", "").startswith("certificates/")}
    assert {f"certificates/{name}.json" for result in report.results for name in result.certificates} <= links
    assert all((written / link).is_file() for link in links)
    done = rankmath("check", *(written / link for link in links))
    assert done.exit_code == 0, done.output
    assert f"{len(links)} of {len(links)} accepted" in parsed.all("main")[0]["text"]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda path: path.write_text("{}"), "REJECTED"),
        (lambda path: path.write_bytes(b"\xff{}"), "REJECTED: the file is not text"),
        (lambda path: path.unlink(), "not checked: its file is not in the run"),
    ],
)
def test_a_certificate_that_fails_is_said_so(
    damage: Callable[[Path], None], says: str, report: Report, tmp_path: Path
) -> None:
    refuted = next(result for result in report.results if result.certificates)
    folder = replace(report, results=(refuted,)).save(tmp_path / "run")
    first = refuted.certificates[0]
    damage(folder / "certificates" / f"{first}.json")
    bad = [check for check in subject(folder).checks if not check.accepted]
    assert [check.id for check in bad] == [first]
    assert says in page(subject(folder), [], [])
    before = {path: path.read_bytes() for path in (folder / "certificates").glob("*.json")}
    assert rankmath("report", folder).exit_code == 1
    # What is wrong with it stays to be looked at.
    assert {path: path.read_bytes() for path in (folder / "certificates").glob("*.json")} == before


def test_another_certificate_under_the_name_of_one_is_rejected(report: Report, tmp_path: Path) -> None:
    folder = report.save(tmp_path)
    first, second = [name for result in report.results for name in result.certificates][:2]
    (folder / "certificates" / f"{first}.json").write_bytes((folder / "certificates" / f"{second}.json").read_bytes())
    check = next(check for check in subject(folder).checks if check.id == first)
    assert check.status == f"REJECTED: the file holds another certificate, {second}"


# -- how the page is made ----------------------------------------------------------------------------------


def test_nothing_is_loaded_from_elsewhere(written: Path, parsed: Page) -> None:
    text = (written / "index.html").read_text(encoding="utf-8")
    for element in parsed.elements:
        for name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
            value = element.get(name)
            if element["tag"] == "a" or value is None:
                continue
            assert value.startswith(("#", "data:")), (element["tag"], name, value[:60])
        assert not any(name.startswith("on") for name in element)
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert [e for e in parsed.all("script") if "src" in e] == []
    policy = next(e["content"] for e in parsed.all("meta") if e.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")


def test_links_lead_somewhere(written: Path, parsed: Page) -> None:
    ids = [element["id"] for element in parsed.elements if "id" in element]
    assert len(ids) == len(set(ids))
    for link in parsed.all("a"):
        target = link["href"]
        assert target[1:] in ids if target.startswith("#") else (written / target).is_file(), target


def test_every_picture_has_words_and_every_control_a_label(parsed: Page) -> None:
    pictures = parsed.all("svg")
    assert pictures
    for picture in pictures:
        around = picture["parents"][-1]
        assert around["role"] == "img"
        assert len(around["aria-label"]) > 40
    assert parsed.all("img") == []
    labelled = {element.get("for") for element in parsed.all("label")}
    for control in (*parsed.all("input"), *parsed.all("select")):
        assert control["id"] in labelled
    assert all(element["text"].strip() for element in parsed.all("button"))
    assert all(cell.get("scope") in ("col", "row") for cell in parsed.all("th"))
    assert [element["tag"] for element in parsed.elements if element["tag"] in ("header", "nav", "main", "footer")]
    assert parsed.all("html")[0]["lang"] == "en"
    assert next(e for e in parsed.all("p") if e.get("id") == "shown")["aria-live"] == "polite"


def test_a_figure_that_was_drawn_can_be_sent_from_another_process(run_folder: Path, tmp_path: Path) -> None:
    """`rankmath verify` draws by several processes, and a process sends by pickle."""
    piece = next(piece for piece in drawings(subject(run_folder), tmp_path) if piece.key == "ranked")
    figure = piece.run(lambda *told: None)
    sent = pickle.loads(pickle.dumps(figure))
    assert figure is not None
    assert [panel.alt for panel in sent.panels] == [panel.alt for panel in figure.panels]


def test_every_figure_has_caption_data_and_command(made: tuple[list[Figure], list[str]], parsed: Page) -> None:
    figures, _ = made
    sections = {e["id"]: e for e in parsed.all("section")}
    for figure in figures:
        text = sections[figure.name]["text"]
        assert figure.caption in text
        assert figure.command in text
        assert f"({len(figure.data.rows)} lines)" in text
        assert figure.command.startswith("rankmath verify ")


def test_what_is_not_there_is_left_out_with_a_sentence(made: tuple[list[Figure], list[str]], parsed: Page) -> None:
    figures, omitted = made
    drawn = {figure.name for figure in figures}
    assert len(omitted) == len([name for name, kind in FIGURES.items() if kind.kind is None]) - len(drawn)
    files = next(e for e in parsed.all("section") if e["id"] == "files")["text"]
    assert all(sentence in files for sentence in omitted)


def test_the_same_run_gives_the_same_bytes(run_folder: Path, written: Path, tmp_path: Path) -> None:
    write(subject(run_folder), tmp_path)
    names = sorted(path.relative_to(written) for path in written.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    for name in names:
        assert (tmp_path / name).read_bytes() == (written / name).read_bytes(), name


def test_what_a_user_writes_is_never_markup(report: Report, run_folder: Path, tmp_path: Path) -> None:
    mine = replace(
        report.results[3],
        key=f"my:$x^ {EVIL}",
        title=EVIL,
        claim=EVIL,
        source=EVIL,
        status=EVIL,
        outcome=EVIL,
        truth=EVIL,
        comparison={EVIL: 2.0},
    )
    hostile = replace(report, results=(mine,), version=EVIL, settings={EVIL: EVIL, "instances": 3})
    about = subject_of_run(hostile, run_folder)
    figures, omitted = figures_of(about)
    text = page(about, figures, omitted)
    assert "<img" not in text
    assert text.count("<script") == 1
    read = Page(text)
    assert len(read.all("script")) == 1
    assert not any(name.startswith("on") for element in read.elements for name in element)
    line = next(element for element in read.all("tr") if "data-status" in element)
    assert line["data-status"] == EVIL
    assert f"my:$x^ {EVIL}" in line["text"]


# -- a ledger ----------------------------------------------------------------------------------------------


def test_the_page_of_a_ledger_has_its_counts(ledger: Path, ledger_page: tuple[Path, Result]) -> None:
    folder, done = ledger_page
    assert done.exit_code == 0, done.output
    assert Path(json.loads(done.output)["page"]) == folder / "index.html"
    read = Page((folder / "index.html").read_text(encoding="utf-8"))
    with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True) as book:
        command = "SELECT statement, SUM(instances + extra), SUM(holds), SUM(certified) FROM chunks GROUP BY statement"
        counts = {row[0]: row[1:] for row in book.execute(command)}
        histograms = dict(book.execute("SELECT statement, histogram FROM chunks WHERE seed = 0 AND chunk = 0"))
    book.close()
    lines = [element for element in read.all("tr") if "data-status" in element]
    for line, (_, numbers) in zip(lines, sorted(counts.items()), strict=True):
        cells = [cell["text"].strip() for cell in read.inside(line, "th", "td")]
        assert tuple(int(cell) for cell in cells[4:7]) == numbers
    about = subject_of_ledger(ledger)
    shown = {histogram.key: histogram for histogram in about.histograms}
    assert set(shown) == {"own:diameter", "dong2021v1:A.3"}
    for key, histogram in shown.items():
        assert len(histogram.counts) + 1 == len(json.loads(histograms[key]))
        assert sum(histogram.counts) + histogram.beyond == next(r.holds for r in about.rows if r.key == key)
    for name in ("tightest", "runs", "throughput", "tightness", "verdicts"):
        assert (folder / "data" / f"{name}.csv").is_file()
    assert not (folder / "data" / "failures.csv").exists()
    assert (folder / "figures" / "throughput.pdf").is_file()
    # The appendix is that of the campaign's statements.
    tex = (folder / "appendix.tex").read_text(encoding="utf-8").replace(r"\allowbreak ", "")
    assert r"\end{document}" in tex
    known = committed_certificates()
    assert set(re.findall(r"\\label\{cert:([^}]*)\}", tex)) == {c.id for row in about.rows for c in known[row.key]}


def test_failures_of_a_ledger_are_shown(ledger: Path, tmp_path: Path) -> None:
    copy = tmp_path / "failed.db"
    copy.write_bytes(ledger.read_bytes())
    with sqlite3.connect(copy) as book:
        row = ("own:diameter", 0, 9, 3, EVIL, "Traceback: line 1", 1, "2026-01-01T00:00:00.000+00:00")
        book.execute("INSERT INTO failures VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    book.close()
    about = subject_of_ledger(copy)
    text = page(about, [], [])
    assert "1 chunk failed" in text
    assert "Traceback: line 1" in text
    assert "<img" not in text


# -- the command -------------------------------------------------------------------------------------------


def test_verify_ends_with_the_page(tmp_path: Path) -> None:
    done = rankmath("verify", "own:tv", "--instances", 5, "--certify", 1, "--jobs", 1, "--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert f"page: {tmp_path}/index.html" in done.output
    before = (tmp_path / "index.html").read_bytes()
    again = rankmath("report", tmp_path / "report.json")
    assert again.exit_code == 0, again.output
    assert (tmp_path / "index.html").read_bytes() == before


def _damaged(report: Report, folder: Path) -> Iterator[tuple[str, Path | str, str]]:
    run = report.save(folder / "run") / "report.json"

    def changed(name: str, change: Callable[[dict[str, Any]], object]) -> Path:
        content = json.loads(run.read_text())
        change(content)
        path = folder / name
        path.write_text(json.dumps(content))
        return path

    (folder / "empty").mkdir()
    (folder / "text.db").write_text("no ledger")
    (folder / "cut.json").write_text(run.read_text()[:500])
    (folder / "deep.json").write_text("[" * 100_000)
    with sqlite3.connect(folder / "other.db") as book:
        book.execute("CREATE TABLE t (x)")
    book.close()
    yield "no name", "", "run: '' given; the name of a file or folder is needed"
    yield "nothing there", folder / "absent", "run: .*absent given; there is no such file"
    yield "a folder without a run", folder / "empty", r"run: .*empty given; there is no report\.json"
    yield "a device", Path("/dev/zero"), "run: /dev/zero given; it is neither a file nor a folder"
    yield "not SQLite", folder / "text.db", r"ledger: .*text\.db given; it is no ledger"
    yield "another SQLite file", folder / "other.db", "it is an SQLite file of something else"
    yield "cut short", folder / "cut.json", r"report: .*cut\.json given; it is no report"
    yield "nested without end", folder / "deep.json", "it is no report"
    newer = changed("newer.json", lambda content: content.update(format="rankmath-report/4"))
    yield "a newer format", newer, "of a newer rankmath"
    outside = changed("outside.json", lambda content: content["results"][1].update(certificates=["../../secret"]))
    yield "a path for an id", outside, "no id of a certificate"
    words = changed("words.json", lambda content: content["results"][1].update(ratios=["many"]))
    yield "words for numbers", words, "ratios holds something else than finite numbers"
    endless = changed("endless.json", lambda content: content["results"][1].update(tightest=float("nan")))
    yield "not a number", endless, "tightest is nan, not a finite number"


def test_bad_input_is_refused_by_name_and_nothing_is_written(report: Report, tmp_path: Path) -> None:
    for what, path, says in _damaged(report, tmp_path):
        target = tmp_path / "target"
        done = rankmath("report", path, "--output", target)
        assert done.exit_code == 2, (what, done.output)
        assert re.search(says, done.output), (what, done.output)
        assert not target.exists(), what


def test_a_damaged_ledger_is_refused(ledger: Path, tmp_path: Path) -> None:
    content = bytearray(ledger.read_bytes())
    for start in range(4096, len(content), 4096):
        content[start : start + 200] = b"\xff" * 200
    broken = tmp_path / "broken.db"
    broken.write_bytes(content)
    done = rankmath("report", broken, "--output", tmp_path / "target")
    assert done.exit_code == 2, done.output
    assert "it is damaged" in done.output
    with sqlite3.connect(ledger) as book, sqlite3.connect(tmp_path / "odd.db") as copy:
        book.backup(copy)
        copy.execute("UPDATE chunks SET histogram = '[1, 2]' WHERE chunk = 0")
    book.close()
    copy.close()
    done = rankmath("report", tmp_path / "odd.db", "--output", tmp_path / "target")
    assert done.exit_code == 2, done.output
    assert "it is damaged" in done.output
    assert not (tmp_path / "target").exists()


def test_what_is_not_ours_is_not_overwritten(run_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<p>mine</p>")
    for target, says in ((tmp_path / "file", "is a file"), (tmp_path / "site", "not a report of rankmath's")):
        done = rankmath("report", run_folder, "--output", target)
        assert done.exit_code == 2
        assert f"--output: {target} given" in done.output
        assert says in done.output
    deeper = rankmath("report", run_folder, "--output", tmp_path / "file" / "deeper")
    assert deeper.exit_code == 2
    nameless = rankmath("report", run_folder, "--output", "")
    assert nameless.exit_code == 2
    assert "--output: '' given" in nameless.output
    assert (tmp_path / "file").read_text() == "mine"
    assert [path.name for path in (tmp_path / "site").iterdir()] == ["index.html"]
    assert (tmp_path / "site" / "index.html").read_text() == "<p>mine</p>"
    # verify refuses such a folder before it runs, not after.
    early = rankmath("verify", "own:tv", "--output", tmp_path / "site")
    assert early.exit_code == 2
    assert not (tmp_path / "site" / "report.json").exists()


def test_a_folder_that_cannot_be_written_to_is_named(
    run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **named: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("rankmath.files.tempfile.TemporaryFile", refuse)
    done = rankmath("report", run_folder, "--output", tmp_path)
    assert done.exit_code == 2
    assert f"--output: {tmp_path} given; it cannot be written to: Permission denied" in done.output
    assert list(tmp_path.iterdir()) == []


def test_figures_of_an_earlier_report_are_not_left_behind(run_folder: Path, tmp_path: Path) -> None:
    about: Subject = subject(run_folder)
    for place in ("figures/masks.pdf", "data/masks.csv", "data/failures.csv"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text("of an earlier run")
    write(about, tmp_path)
    assert not (tmp_path / "figures" / "masks.pdf").exists()
    assert not (tmp_path / "data" / "masks.csv").exists()
    assert not (tmp_path / "data" / "failures.csv").exists()


def test_keys_become_ids_that_differ() -> None:
    keys = ["own:tv", "own-tv", "a b", "a_20_b", 'a"b', "ä:b", ""]
    assert all(re.fullmatch(r"s-[A-Za-z0-9_.:-]*", anchor(key)) for key in keys)
    assert len({anchor(key) for key in keys}) == len(keys)
