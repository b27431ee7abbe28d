"""The page's own mathematics agrees with rankmath's; its server lets nobody else in; it certifies what it shows."""

from __future__ import annotations

import io
import json
import math
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.cli.page.certify import MASKS, certificate_of, equilibrium_near
from rankmath.cli.page.page import page
from rankmath.cli.page.server import Explorer, server
from rankmath.files import NotWritten
from rankmath.linalg.masks import as_mask
from rankmath.model.positions import ALiBi, Rotary
from rankmath.model.sublayers import Attention, Sublayer


def example(**other: Any) -> dict[str, Any]:
    """Two tokens at rest, apart: W_V = diag(1, -1) under a sharp softmax."""
    stable = rm.layernorm_equilibrium(2, 2, 2, mask="complete", stable=True)
    near = stable.X + 0.01 * np.array([[1.0, -1.0], [0.5, 1.0]])
    X = near / np.linalg.norm(near, axis=1, keepdims=True)
    weights = {"W_V": stable.W_V.tolist(), "W_QK": (stable.W_QK / math.sqrt(stable.d_qk)).tolist()}
    return {"X": X.tolist(), **weights, "beta": 1.0, "mask": "complete", "skip": 0, "norm": "sphere", **other}


# -- the certificate ---------------------------------------------------------------------------------------


def test_what_the_page_shows_is_certified_and_checked(tmp_path: Path) -> None:
    found = certificate_of(example(), tmp_path / "out")
    assert found["proved"], found
    assert rm.check(found["file"]).accepted
    assert [path.name for path in (tmp_path / "out").iterdir()] == [f"{found['id']}.json"]
    assert any("converge" in line for line in found["claims"])


def test_the_python_it_hands_over_makes_the_same_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = certificate_of(example(), tmp_path)
    monkeypatch.chdir(tmp_path)
    exec(found["python"], {})
    assert json.loads((tmp_path / "equilibrium.json").read_text())["id"] == found["id"]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"norm": "none"}, "norm: none; equilibria are certified for LayerNorm"),
        ({"skip": 0.5}, "skip: 0.5 given; equilibria are certified without"),
        ({"turn": 30}, "turn: 30 given; equilibria are certified without positions"),
        ({"mask": "moon"}, "mask: 'moon' given; allowed are"),
        ({"X": [[1.0, 0.0]] * 9}, "X: 9 tokens of dimension 2 given"),
        ({"X": [[1.0, 0.0, 0.0, 0.0]] * 2}, "X: 2 tokens of dimension 4 given"),
        ({"beta": math.inf}, "beta: inf given"),
        ({"W_V": [[1.0]]}, "W_V: shape"),
        ({"W_V": [[1e3, 0.0], [0.0, 1.0]]}, "W_V: an entry 1000 given; at most 100 is allowed"),
        ({"W_QK": [[1.0, 0.0], [0.0, -101.0]]}, "W_QK: an entry 101 given"),
        ({"beta": 101}, "beta: 101 given"),
        ({"beta": -1.0}, "beta: -1 given; an inverse temperature is not negative"),
        ({"W_V": [[0, 0], [0, 0]]}, "W_V: a layer makes a token 0"),
        ({"W_V": [[0, 1], [0, 0]]}, "W_V: a layer makes a token 0"),
        ({"W_V": [[1e-300, 0], [0, 1e-300]]}, "W_V: a layer makes a token 0, or too small for doubles"),
    ],
)
def test_what_cannot_be_certified_is_refused_by_name(other: dict[str, Any], words: str) -> None:
    with pytest.raises(rm.InvalidArgument, match=words):
        equilibrium_near(example(**other))


def opening() -> dict[str, Any]:
    """The state that the page opens with, read from its script."""
    script = (Path(rm.__file__).parent / "cli/page/templates/explore.js").read_text(encoding="utf-8")
    found = re.search(r"apart: \(d\) => \[block\((.*?), d\), block\((.*?), d\)\]", script)
    assert found is not None
    W_V, W_QK = (json.loads(text) for text in found.groups())
    angles = 0.35 + 1.9 * np.pi * np.arange(3) / 3  # `regular` of the page
    X = np.stack([np.cos(angles), np.sin(angles)], axis=1).tolist()
    return {"X": X, "W_V": W_V, "W_QK": W_QK, "beta": 2, "mask": "complete", "skip": 0, "norm": "sphere"}


def test_the_state_it_opens_with_moves_and_is_certified_to_rest_apart(tmp_path: Path) -> None:
    found = equilibrium_near(opening())
    assert np.abs(found.X - opening()["X"]).max() > 0.5
    assert min(np.linalg.norm(found.X[i] - found.X[j]) for i in range(3) for j in range(i)) > 0.5
    proof = certificate_of(opening(), tmp_path)
    assert proof["proved"], proof
    assert any("converge" in line for line in proof["claims"])


MATHEMATICS = """const f = new Function(process.argv[1] + "; return { layer };")();
const [X, s] = JSON.parse(process.argv[2]);
console.log(JSON.stringify(f.layer(X, s)));"""


@pytest.mark.needs("node")
@pytest.mark.parametrize("mask", MASKS)
def test_a_layer_with_positions_is_a_layer_of_rankmath_without_a_browser(mask: str) -> None:
    script = (Path(rm.__file__).parent / "cli/page/templates/explore.js").read_text(encoding="utf-8")
    script = script[script.index("const dot =") : script.index("// ---- bounds")]
    rng, n, d = np.random.default_rng(len(mask)), 5, 3
    X, W_V, W_QK = rng.standard_normal((n, d)), rng.standard_normal((d, d)), rng.standard_normal((d, d))
    weights = {"W_V": W_V.tolist(), "W_QK": W_QK.tolist(), "beta": 1.25, "skip": 0.5}
    state = {**weights, "mask": mask, "norm": "none", "turn": 37, "slope": 0.4}
    said = subprocess.run(
        ["node", "-e", MATHEMATICS, script, json.dumps([X.tolist(), state])], capture_output=True, check=True
    )
    turns = Rotary.of_frequencies([math.radians(37)], n)
    attention = Attention.from_arrays(
        *(1.25 * W_QK[None], W_V[None], 1), mask=as_mask(mask, n), rotary=turns, position=ALiBi([0.4])
    )
    net = rm.Network.from_layers([[Sublayer(attention, 0.5)]])
    np.testing.assert_allclose(json.loads(said.stdout), rm.forward(net, X), rtol=0, atol=1e-12)


@pytest.mark.needs("node")
def test_a_step_of_the_page_in_continuous_time_is_that_of_the_flow() -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((3, 2))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    V, B = rng.standard_normal((2, 2, 2))
    state = {"W_V": V.tolist(), "W_QK": B.tolist(), "beta": 1.5, "skip": 0, "mask": "causal", "norm": "flow"}
    script = (Path(rm.__file__).parent / "cli/page/templates/explore.js").read_text(encoding="utf-8")
    script = script[script.index("const dot =") : script.index("// ---- bounds")]
    ran = subprocess.run(
        ["node", "-e", MATHEMATICS, script, json.dumps([X.tolist(), state])], capture_output=True, check=True
    )
    flow = rm.Flow(V.T, query=B.T, beta=1.5, mask="causal")
    assert np.array(json.loads(ran.stdout)) == pytest.approx(flow.trajectory(X, 0.125).tokens[-1], abs=1e-4)


def test_a_sink_of_a_flow_is_certified_and_a_moving_one_is_not(tmp_path: Path) -> None:
    """The page's matrices act on rows: this is the third sink of two causal tokens."""
    state = example(X=[[1, 0], [-0.6, 0.8]], W_V=[[2, 0], [-2, 1]], W_QK=[[0, 0], [0, 0]], mask="causal")
    answer = certificate_of({**state, "norm": "flow"}, tmp_path)
    assert answer["proved"]
    assert answer["claims"][0] == "A sink of the flow, proved"
    turning = {**state, "norm": "flow", "W_V": [[0, 1], [-1, 0]]}
    with pytest.raises(rm.InvalidArgument, match=r"^X: after the time 60, no proof"):
        certificate_of(turning, tmp_path)


# -- the server --------------------------------------------------------------------------------------------


def asked(explorer: Explorer, path: str, host: str = "127.0.0.1:1", body: bytes | None = None) -> tuple[str, bytes]:
    said: list[Any] = []
    environ = {
        "REQUEST_METHOD": "GET" if body is None else "POST",
        "PATH_INFO": path,
        "HTTP_HOST": host,
        "CONTENT_LENGTH": str(len(body or b"")),
        "wsgi.input": io.BytesIO(body or b""),
    }
    answer = b"".join(explorer(environ, lambda status, headers: said.append(status)))
    return said[0], answer


def test_only_the_address_that_was_printed_is_answered(tmp_path: Path) -> None:
    explorer = Explorer(tmp_path / "out")
    assert len(explorer.token) >= 32
    assert explorer.token != Explorer(tmp_path).token
    assert asked(explorer, f"/{explorer.token}/")[0] == "200 OK"
    for path in ("/", "/certify", f"/{explorer.token[:-1]}/", f"/{explorer.token}/../etc/passwd", "/é/"):
        assert asked(explorer, path)[0] == "404 Not Found"
    for host in ("evil.example", "evil.example:80", "", "127.0.0.1.evil.example:1"):
        assert asked(explorer, f"/{explorer.token}/", host)[0] == "403 Forbidden"
    assert not (tmp_path / "out").exists()


def test_what_is_posted_is_limited_and_read_with_care(tmp_path: Path) -> None:
    explorer = Explorer(tmp_path / "out")
    post = f"/{explorer.token}/certify"
    assert asked(explorer, post, body=b"x" * 70_000)[0].startswith("413")
    assert asked(explorer, post, body=b"{")[0].startswith("400")
    assert asked(explorer, post, body=b"[" * 60_000)[0].startswith("400")
    for body in (b"[]", b"{}", b'{"X": 1, "W_V": 2, "W_QK": 3, "beta": 4, "mask": 5, "skip": 0, "norm": "sphere"}'):
        status, answer = asked(explorer, post, body=body)
        assert (status, json.loads(answer)["proved"]) == ("200 OK", False)
    assert not (tmp_path / "out").exists()
    status, answer = asked(explorer, post, body=json.dumps(example()).encode())
    assert (status, json.loads(answer)["proved"]) == ("200 OK", True)


def test_a_full_disk_is_told_to_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise NotWritten(OSError(28, "No space left on device"), tmp_path / "a.json")

    monkeypatch.setattr("rankmath.cli.page.server.certificate_of", full)
    explorer = Explorer(tmp_path)
    status, answer = asked(explorer, f"/{explorer.token}/certify", body=b"{}")
    assert status == "200 OK"
    assert "a.json: not written" in json.loads(answer)["refused"]


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    ready, address = server(Explorer(tmp_path))
    port = int(address.split(":")[2].split("/")[0])
    assert address.startswith("http://127.0.0.1:")
    try:
        with pytest.raises(rm.InvalidArgument, match=f"--port: {port} given; it cannot be used"):
            server(Explorer(tmp_path), port)
    finally:
        ready.close()


# -- in a browser ------------------------------------------------------------------------------------------

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.select import Select  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

in_browser = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,1000")
    for flag in (*flags, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    browser.set_script_timeout(120)
    try:
        yield browser
    finally:
        browser.quit()


@pytest.fixture
def opened(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    """The exported file; nothing may be left on the console."""
    (tmp_path / "explore.html").write_text(page(), encoding="utf-8")
    chromium.get((tmp_path / "explore.html").as_uri())
    yield chromium
    assert chromium.get_log("browser") == []


def text(browser: Any, name: str) -> str:
    return str(browser.find_element(By.ID, name).text)


@in_browser
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("norm", ["sphere", "none"])
def test_a_layer_of_the_page_is_a_layer_of_rankmath(opened: Any, mask: str, norm: str) -> None:
    rng = np.random.default_rng([len(mask), len(norm)])
    for n, d in ((2, 2), (5, 3), (8, 2)):
        X = rng.standard_normal((n, d))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        W_V, W_QK = rng.standard_normal((d, d)), rng.standard_normal((d, d))
        beta, skip = float(rng.uniform(0, 8)), float(rng.choice([0.0, 0.7]))
        turn, slope = float(rng.integers(180)), float(rng.uniform(0, 2))
        state = {"W_V": W_V.tolist(), "W_QK": W_QK.tolist(), "beta": beta, "skip": skip, "mask": mask, "norm": norm}
        state |= {"turn": turn, "slope": slope}
        mine = opened.execute_script("return rankmathExplore.layer(arguments[0], arguments[1])", X.tolist(), state)
        kind = None if norm == "none" else rm.LayerNorm("sphere", eps=0.0)
        turns = Rotary.of_frequencies([math.radians(turn)], n)
        attention = Attention.from_arrays(
            *(beta * W_QK[None], W_V[None], 1), mask=as_mask(mask, n), rotary=turns, position=ALiBi([slope])
        )
        net = rm.Network.from_layers([[Sublayer(attention, skip, after=kind)]])
        np.testing.assert_allclose(mine, rm.forward(net, X), rtol=0, atol=1e-12)
        assert (
            abs(
                opened.execute_script("return rankmathExplore.residual(arguments[0])", X.tolist())
                - rm.residual(X, "frobenius").value
            )
            < 1e-12
        )


@in_browser
def test_the_spectral_radius_is_rankmaths(opened: Any) -> None:
    stable = rm.layernorm_equilibrium(2, 2, 2, mask="complete", stable=True)
    state = example(X=stable.X.tolist())
    radius = opened.execute_script(
        "return rankmathExplore.spectralRadius(arguments[0], arguments[1])", stable.X.tolist(), state
    )
    assert abs(radius - stable.spectral_radius) < 1e-5


PATH = """const [X, s, layers] = arguments, path = [X];
for (let l = 0; l < layers; l++) path.push(rankmathExplore.layer(path[l], s));
return rankmathExplore.bounds(path, s);"""


@in_browser
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("norm", "skip"), [("none", 0.0), ("none", 2.5), ("sphere", 0.0), ("sphere", 0.5)])
def test_the_bounds_are_those_of_the_theorems_and_drawn_where_they_apply(
    opened: Any, mask: str, norm: str, skip: float
) -> None:
    rng = np.random.default_rng(len(mask))
    n, d, layers = 5, 3, 4
    X = np.array([1.0, 0, 0]) + 0.3 * rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    W_V, W_QK = np.array([[0.0, 1, 0], [0, 0, -1], [1, 0, 0]]), rng.standard_normal((d, d))  # exactly orthogonal
    state = {"W_V": W_V.tolist(), "W_QK": W_QK.tolist(), "beta": 0.5, "skip": skip, "mask": mask, "norm": norm}
    found = opened.execute_script(PATH, X.tolist(), state, layers)
    kind = rm.LayerNorm("sphere", eps=0.0) if norm == "sphere" else None
    told = {bound["key"]: bound for bound in found["apply"]}
    refused = {bound["key"] for bound in found["fail"]}
    own = ("diameter", "transport", "lambda-skip-upper", "lambda-skip-lower")
    assert told.keys() | refused == {f"own:{k}" for k in own} | {f"wu2024:{k}" for k in ("1", "cor1")}
    assert not told.keys() & refused
    for L in range(1, layers + 1):
        weights = np.array([[0.5 * W_QK]] * L), np.array([[W_V]] * L)
        net = rm.Network.from_arrays(*weights, d_qk=1, skip=skip, norm=kind, mask=as_mask(mask, n))
        for key in sorted(refused):
            # The two of a skip connection are true without one too, and say nothing new there.
            if not (key.startswith("own:lambda-skip") and skip == 0):
                assert rm.verify(key, net, X).outcome == "NOT_APPLICABLE", key
        for key, bound in told.items():
            verdict = rm.verify(key, net, X, arithmetic="balls")  # doubles do not tell a shrunk P's rows apart
            assert verdict.outcome == "HOLDS", key
            if key == "own:transport":  # the same, of three norms: its factor does not depend on the norm but for W
                assert bound["values"][L] <= bound["values"][L - 1] * (1 + 1e-9)
                continue
            if key == "own:diameter":  # rankmath tells the tightest of three norms, the page is Euclidean
                D = float(rm.diameter(X, 2))
                for value in bound["values"]:
                    assert value == pytest.approx(D, rel=1e-9)
                    D *= math.tanh(0.5 * np.linalg.norm(W_QK, 2) * D * D / 4)
                continue
            theirs = verdict.log_rhs if bound["side"] == "upper" else verdict.log_lhs
            assert math.log(bound["values"][L]) == pytest.approx(theirs, abs=1e-8), key


@in_browser
def test_the_bounds_are_drawn_beside_the_curves_and_named(opened: Any) -> None:
    Select(opened.find_element(By.ID, "norm")).select_by_value("none")
    for _ in range(3):
        opened.find_element(By.ID, "step").click()
    assert len(opened.find_elements(By.CSS_SELECTOR, "#chart polyline.bound")) == 3
    said = text(opened, "bounds")
    assert "own:diameter: diameter ≤" in said
    assert "wu2024:1: residual ≤" in said
    assert "wu2024:cor1 does not apply: there is no LayerNorm" in said


@in_browser
def test_tokens_are_moved_by_hand_and_by_key_and_layers_are_counted(opened: Any) -> None:
    opened.find_element(By.ID, "reset").click()  # it moves when it opens
    tokens = opened.find_elements(By.CSS_SELECTOR, ".token")
    assert len(tokens) == 3
    before = opened.execute_script("return rankmathExplore.state.X[0]")
    ActionChains(opened).drag_and_drop_by_offset(tokens[0], -60, -80).perform()
    after = opened.execute_script("return rankmathExplore.state.X[0]")
    assert after != before
    assert abs(np.linalg.norm(after) - 1) < 1e-12
    opened.find_element(By.CSS_SELECTOR, '[data-token="1"]').send_keys(Keys.ARROW_LEFT * 4)
    assert opened.switch_to.active_element.get_attribute("data-token") == "1", "the focus stays on the token"
    for _ in range(3):
        opened.find_element(By.ID, "step").click()
    assert text(opened, "where") == "Layer 3."
    opened.find_element(By.ID, "reset").click()
    assert text(opened, "where") == "Layer 0."


@in_browser
def test_collapse_is_named_and_basins_are_drawn(opened: Any) -> None:
    assert text(opened, "limit") == "a rest of rank 2"
    Select(opened.find_element(By.ID, "preset")).select_by_value("collapse")
    assert text(opened, "limit") == "collapse: all tokens equal"
    assert float(text(opened, "radius").split()[0]) <= 1.0001
    opened.find_element(By.ID, "basins").click()
    WebDriverWait(opened, 60).until(
        lambda browser: browser.execute_script("return document.getElementById('basin').dataset.done") == "yes"
    )
    lines = opened.find_elements(By.CSS_SELECTOR, "#basin-legend li")
    shares = [float(line.text.split(": ")[-1].split()[0]) for line in lines]
    assert abs(sum(shares) - 100) < 0.5


@in_browser
def test_it_opens_with_something_that_moves_and_stops_at_rest(opened: Any) -> None:
    WebDriverWait(opened, 60).until(
        lambda browser: text(browser, "play") == "Play" and text(browser, "where") > "Layer 1"
    )
    moved = opened.execute_script("const e = rankmathExplore; return [e.state.X, e.layer(e.state.X, e.state)]")
    assert np.abs(np.subtract(*moved)).max() < 1e-11
    assert opened.execute_script("return rankmathExplore.rank(rankmathExplore.state.X)") == 2


@in_browser
@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("1/3 -2/4 ; .5, 1e-2", [[1 / 3, -0.5], [0.5, 0.01]]),
        ("100 0; 0 -100", [[100, 0], [0, -100]]),
        *((wrong, None) for wrong in ("1 2", "1 2; 3", "101 0; 0 1", "1/0 0; 0 1", "1/2/3 0; 0 1", "0x10 0; 0 1")),
        *((wrong, None) for wrong in ("alert(1) 0; 0 1", "Infinity 0; 0 1", "1/ 0; 0 1", "")),
    ],
)
def test_entries_are_decimals_or_fractions_and_bounded(
    opened: Any, typed: str, found: list[list[float]] | None
) -> None:
    assert opened.execute_script("return rankmathExplore.matrix(arguments[0], 2)", typed) == found


@in_browser
def test_settings_change_the_picture_and_mistakes_are_said(opened: Any) -> None:
    Select(opened.find_element(By.ID, "dim")).select_by_value("3")
    script = "const n = document.getElementById('tokens'); n.value = 8; n.dispatchEvent(new Event('change'))"
    opened.execute_script(script)
    assert len(opened.find_elements(By.CSS_SELECTOR, ".token")) == 8
    assert len(opened.execute_script("return rankmathExplore.state.X[7]")) == 3
    field = opened.find_element(By.ID, "wv")
    field.clear()
    field.send_keys("1 2 ; 3 4", Keys.TAB)
    assert text(opened, "complaint") == (
        "W_V: 3 rows of 3 numbers are needed, such as 2, -0.5 or 1/3, none beyond 100; rows set apart by ;"
    )
    assert "own:diameter does not apply: there is LayerNorm" in text(opened, "bounds")
    opened.find_element(By.ID, "certify").click()
    assert text(opened, "certificate-words") == f"Not certified: {text(opened, 'complaint')}"
    assert text(opened, "python") == ""
    Select(opened.find_element(By.ID, "preset")).select_by_value("minus")
    opened.find_element(By.ID, "certify").click()
    assert "certificate_of" in text(opened, "python")


SET = """const e = document.getElementById(arguments[0]);
e.value = arguments[1]; e.dispatchEvent(new Event("input")); e.dispatchEvent(new Event("change"));"""


@in_browser
def test_what_is_handed_to_the_prover_is_all_that_moves_the_tokens(opened: Any) -> None:
    """With positions the map is another, and the prover is to refuse."""
    for name, value in (("turn", 30), ("slope", 0.5)):
        opened.execute_script(SET, name, value)
        opened.find_element(By.ID, "certify").click()
        sent = json.loads(re.search(r"certificate_of\((\{.*\}), ", text(opened, "python"))[1])
        with pytest.raises(rm.InvalidArgument, match=f"{name}: {value} given; equilibria are certified without"):
            equilibrium_near(sent)
        opened.execute_script(SET, name, 0)


@in_browser
def test_what_is_shown_is_what_is_used(opened: Any) -> None:
    opened.find_element(By.ID, "reset").click()
    for typed, used in (("100", 8), ("-3", 2), ("2.6", 3), ("", 2)):
        opened.execute_script(SET, "tokens", typed)
        assert opened.find_element(By.ID, "tokens").get_attribute("value") == str(used)
        assert len(opened.execute_script("return rankmathExplore.state.X")) == used
    opened.execute_script(SET, "norm", "none")
    stated = re.search(r"own:diameter: diameter ≤ (\S+) after layer (\d+)", text(opened, "bounds"))
    start = opened.execute_script("return rankmathExplore.diameter(rankmathExplore.state.X)")
    assert float(stated[1]) == pytest.approx(start, rel=5e-3)
    assert stated[2] == "0"
    opened.execute_script(SET, "preset", "turn")
    shown = opened.find_element(By.ID, "wv").get_attribute("value")
    used, read = opened.execute_script(
        "const e = rankmathExplore; return [e.state.W_V, e.matrix(arguments[0], 2)]", shown
    )
    assert used == read
    assert opened.execute_script("return rankmathExplore.matrix('−1 0; 0 −1/2', 2)") == [[-1, 0], [0, -0.5]]


@in_browser
def test_a_token_that_is_zero_is_no_rest(opened: Any) -> None:
    opened.execute_script(SET, "wv", "0 0; 0 0")
    assert text(opened, "limit") == "a token that is 0, which has no direction"
    opened.find_element(By.ID, "step").click()
    assert np.isfinite(opened.execute_script("return rankmathExplore.state.X")).all()


@in_browser
def test_a_flow_counts_time_and_basins_go_when_the_settings_do(opened: Any) -> None:
    opened.find_element(By.ID, "basins").click()
    assert opened.find_element(By.ID, "basin-section").is_displayed()
    opened.execute_script(SET, "norm", "flow")
    assert not opened.find_element(By.ID, "basin-section").is_displayed()
    opened.find_element(By.ID, "reset").click()
    for _ in range(4):
        opened.find_element(By.ID, "step").click()
    assert text(opened, "where") == "Time 0.50."
    assert "time 0.50" in text(opened, "chart")
    assert "layer" not in text(opened, "chart")
    assert "of the flow over the time 0.125" in text(opened, "radius")


@in_browser
def test_a_bound_is_drawn_at_its_layers(opened: Any) -> None:
    """Of a long path only the last 400 states have bounds; they stand at the right end."""
    for name, value in (("preset", "collapse"), ("norm", "none"), ("beta", 0), ("skip", 1)):
        opened.execute_script(SET, name, value)  # the diameter stays, and so does its bound
    opened.execute_script("for (let k = 0; k < 500; k++) document.getElementById('step').click()")
    drawn = opened.find_elements(By.CSS_SELECTOR, "#chart polyline.bound")
    starts = [float(line.get_attribute("points").split(",")[0]) for line in drawn if line.get_attribute("points")]
    assert starts
    assert min(starts) > 56 + (470 - 56) * 100 / 500


@in_browser
@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_follows_the_theme(opened: Any, width: int, scheme: str) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    opened.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width
    paper = opened.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 28)")
    opened.find_element(By.ID, "theme").click()
    assert opened.execute_script("return getComputedStyle(document.body).backgroundColor") != paper
    opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@in_browser
def test_served_it_certifies(chromium: Any, tmp_path: Path) -> None:
    ready, address = server(Explorer(tmp_path / "out"))
    thread = threading.Thread(target=ready.run, daemon=True)
    thread.start()
    try:
        chromium.get(address)
        state = example()
        chromium.execute_script(
            "const e = rankmathExplore; const s = arguments[0]; Object.assign(e.state, s); e.begin(s.X)", state
        )
        chromium.find_element(By.ID, "certify").click()
        WebDriverWait(chromium, 60).until(lambda browser: "Proving" not in text(browser, "certificate-words"))
        assert "the checker accepts it" in text(chromium, "certificate-words")
        (file,) = (tmp_path / "out").iterdir()
        assert rm.check(file).accepted
        assert text(chromium, "certificate-words").startswith(file.stem)
        assert chromium.get_log("browser") == []
    finally:
        ready.close()
        thread.join(timeout=10)
