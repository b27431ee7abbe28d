"""The page in a real browser: it opens from disk without a word on the console, filters, sorts, and fits."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
pytest.importorskip("jinja2", reason="the extra `report` is not installed")
pytest.importorskip("selenium", reason="selenium is not installed")

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from rankmath.report.html import anchor, write
from rankmath.report.results import Report
from rankmath.report.subject import subject

pytestmark = pytest.mark.needs("chromium")

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
)


@pytest.fixture(scope="module")
def address(report: Report, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = report.save(tmp_path_factory.mktemp("run"))
    return write(subject(folder), folder)["page"].as_uri()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield browser
    finally:
        browser.quit()


@pytest.fixture
def opened(chromium: Any, address: str) -> Iterator[Any]:
    """The page, freshly opened on a wide light screen; no test may leave a message on the console."""
    _screen(chromium, 1280)
    _system(chromium, "light")
    chromium.get(address)
    chromium.execute_script("localStorage.clear()")
    chromium.refresh()
    yield chromium
    assert chromium.get_log("browser") == []


def _screen(browser: Any, width: int) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def _system(browser: Any, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def _shown(browser: Any) -> list[str]:
    """The keys of the lines of the verdict table that can be seen, from top to bottom."""
    lines = browser.find_elements(By.CSS_SELECTOR, "#table tbody tr")
    return [line.find_element(By.TAG_NAME, "code").text for line in lines if line.is_displayed()]


def _announced(browser: Any) -> str:
    return str(browser.find_element(By.ID, "shown").text)


def test_all_lines_and_pictures_are_seen(opened: Any, report: Report) -> None:
    assert _shown(opened) == [result.key for result in report.results]
    pictures = opened.find_elements(By.CSS_SELECTOR, "[role=img] svg")
    assert pictures
    for picture in pictures:
        assert picture.size["width"] > 150
        assert picture.size["height"] > 100
        drawn = opened.execute_script("const b = arguments[0].getBBox(); return b.width * b.height", picture)
        assert drawn > 1000


def test_filters_narrow_the_table_and_say_how_far(opened: Any, report: Report) -> None:
    every = [result.key for result in report.results]
    search = opened.find_element(By.ID, "search")
    search.send_keys("DIAMETER")
    assert _shown(opened) == ["own:diameter"]
    assert _announced(opened) == f"1 of {len(every)} statements shown"
    search.send_keys(" nowhere")
    assert _shown(opened) == []
    assert _announced(opened) == f"0 of {len(every)} statements shown"
    opened.find_element(By.CSS_SELECTOR, "#filters button[type=reset]").click()
    assert _shown(opened) == every
    for name, field in (("status", "status"), ("outcome", "outcome")):
        choice = Select(opened.find_element(By.ID, name))
        value = "refuted" if name == "status" else "REFUTED"
        choice.select_by_value(value)
        assert _shown(opened) == [r.key for r in report.results if getattr(r, field) == value]
        choice.select_by_value("")
    Select(opened.find_element(By.ID, "paper")).select_by_visible_text("this library")
    assert _shown(opened) == [key for key in every if key.startswith("own:")]
    Select(opened.find_element(By.ID, "outcome")).select_by_value("!")
    assert _shown(opened) == []


def test_a_link_to_a_hidden_line_shows_it(opened: Any) -> None:
    opened.find_element(By.ID, "search").send_keys("closure")
    opened.execute_script("location.hash = arguments[0]", anchor("own:tv"))
    assert "own:tv" in _shown(opened)


def test_columns_sort_by_number_and_by_word(opened: Any, report: Report) -> None:
    def head(column: int) -> Any:
        return opened.find_elements(By.CSS_SELECTOR, "#table thead th")[column]

    def click(column: int) -> str:
        head(column).find_element(By.TAG_NAME, "button").click()
        return str(head(column).get_attribute("aria-sort"))

    certified = {result.key: result.certified for result in report.results}
    assert click(6) == "ascending"
    assert [certified[key] for key in _shown(opened)] == sorted(certified.values())
    assert click(6) == "descending"
    assert [certified[key] for key in _shown(opened)] == sorted(certified.values(), reverse=True)
    assert click(2) == "ascending"
    assert head(6).get_attribute("aria-sort") == "none"
    status = {result.key: result.status for result in report.results}
    assert [status[key] for key in _shown(opened)] == sorted(status.values())
    # Quotients: what has none comes last, whichever way they are sorted.
    without = [result.key for result in report.results if not result.ratios]
    tightest = {result.key: result.tightest for result in report.results if result.ratios}
    for direction in ("ascending", "descending"):
        assert click(10) == direction
        keys = _shown(opened)
        assert keys[len(tightest) :] == [key for key in keys if key in without]
        ratios = [tightest[key] for key in keys[: len(tightest)]]
        assert ratios == sorted(ratios, reverse=direction == "descending")
    assert click(0) == "ascending"
    assert _shown(opened) == [result.key for result in report.results]


def _colours(browser: Any) -> tuple[str, str]:
    script = """
        const glyph = document.querySelector("[role=img] svg g[style*='--ink']");
        return [getComputedStyle(document.body).backgroundColor, getComputedStyle(glyph).fill];
    """
    paper, ink = browser.execute_script(script)
    return paper, ink


def test_the_theme_follows_the_system_until_the_reader_chooses(opened: Any) -> None:
    button = opened.find_element(By.ID, "theme")
    light = _colours(opened)
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    dark = _colours(opened)
    assert button.get_attribute("aria-pressed") == "true"
    # Paper and the words in the pictures change together, and stay apart.
    assert all(_contrast(*pair) > 7 for pair in (light, dark))
    assert light[0] != dark[0]
    opened.refresh()
    assert _colours(opened) == dark
    opened.execute_script("localStorage.clear()")
    opened.refresh()
    assert _colours(opened) == light
    _system(opened, "dark")
    assert _colours(opened) == dark
    opened.find_element(By.ID, "theme").click()
    assert _colours(opened) == light


def _contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours rgb(r, g, b), from 1 to 21, as the web's guidelines define it."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in colour[4:-1].split(",")]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_words_can_be_read_and_all_lines_told_from_the_paper(opened: Any, scheme: str) -> None:
    _system(opened, scheme)
    script = "return getComputedStyle(document.documentElement).getPropertyValue(arguments[0]).trim()"

    def colour(name: str) -> str:
        text = opened.execute_script(script, name)
        return f"rgb({', '.join(str(int(text[i : i + 2], 16)) for i in (1, 3, 5))})"

    for name in ("--ink", "--soft", "--link", "--good", "--bad"):
        assert _contrast(colour(name), colour("--paper")) >= 4.5, name
    for name in ("--blue", "--orange", "--green", "--purple", "--grey"):
        assert _contrast(colour(name), colour("--paper")) >= 3, name


def test_the_keyboard_reaches_everything_in_reading_order(opened: Any) -> None:
    def focused() -> Any:
        return opened.switch_to.active_element

    def tab() -> None:
        focused().send_keys(Keys.TAB)

    body = opened.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    assert focused().get_attribute("class") == "skip"
    assert focused().is_displayed()
    assert focused().location["x"] >= 0
    reached = []
    for _ in range(40):
        tab()
        reached.append(focused().get_attribute("id") or focused().tag_name)
        if focused().get_attribute("data-column") == "0":
            break
    order = ["theme", "search", "status", "paper", "outcome"]
    assert [name for name in reached if name in order] == order
    outline = opened.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    focused().send_keys(Keys.ENTER)
    assert opened.find_element(By.CSS_SELECTOR, "#table thead th").get_attribute("aria-sort") == "ascending"


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_sticks_out(opened: Any, width: int) -> None:
    _screen(opened, width)
    # With all that can be opened open.
    opened.execute_script("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width
    script = """
        return [...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll, .skip, svg"))
            .filter((e) => e.getBoundingClientRect().right > arguments[0] + 1).map((e) => e.outerHTML.slice(0, 80));
    """
    assert opened.execute_script(script, width) == []


def test_verdicts_are_seen_on_a_narrow_screen_without_scrolling_sideways(opened: Any, report: Report) -> None:
    _screen(opened, 360)
    verdicts = [e for e in opened.find_elements(By.CLASS_NAME, "verdict") if e.is_displayed()]
    assert len(verdicts) > len(report.results)
    for verdict in verdicts:
        assert verdict.location["x"] + verdict.size["width"] <= 360


def test_without_scripts_the_page_still_shows_everything(chromium: Any, address: str, report: Report) -> None:
    chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        chromium.get(address)
        assert _shown(chromium) == [result.key for result in report.results]
        assert not chromium.find_element(By.ID, "filters").is_displayed()
        assert not chromium.find_element(By.ID, "theme").is_displayed()
    finally:
        chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
