"""What people type: output that reads or parses, errors that name the argument, exit codes 0, 1 and 2."""

from __future__ import annotations

import errno
import json
import math
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import click
import mpmath
import pytest
from click.testing import CliRunner, Result

import rankmath as rm
from rankmath.claims import bound, statements
from rankmath.claims.own_flows import FLOW
from rankmath.cli import main
from rankmath.cli.conjecture import statements_of
from rankmath.definitions.entries import ENTRIES
from rankmath.files import proofs_folder
from rankmath.report.sources import committed_certificates
from rankmath.verification.verdict import Outcome


def rankmath(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def parsed(*arguments: object) -> Any:
    done = rankmath(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", main.commands)
def test_every_command_has_an_example_in_its_help(name: str) -> None:
    done = rankmath(name, "--help")
    assert done.exit_code == 0
    assert f"Example: rankmath {name}" in done.output


def test_the_list_is_the_registry() -> None:
    rows = parsed("list")
    assert [row["key"] for row in rows] == list(statements())
    shown = rankmath("list").output
    for key in statements():
        assert key in shown


def test_the_language_is_listed_in_eighty_columns_with_examples_that_say_something() -> None:
    shown = rankmath("quantities").output
    assert max(map(len, shown.splitlines())) <= 80
    assert "window(k), causal_window(k), prefix(k), star(k)" in " ".join(shown.split())
    for entry in ENTRIES.values():
        assert f"example: {entry.example}" in " ".join(shown.split())
        assert entry.truth or entry.name.startswith("consensus") or not entry.example.endswith(">= 0"), entry.name


def test_every_example_of_the_language_is_read_as_a_claim_but_those_of_arrays() -> None:
    """Run alone, as a person runs it: what other claims define for themselves is not in the list."""
    done = subprocess.run([sys.executable, "-m", "rankmath", "quantities"], capture_output=True, text=True, check=True)
    of_claims, of_arrays = done.stdout.split("The following are of arrays")
    examples = re.findall(r"example: (.+?)\n(?=\S|$)", of_claims, flags=re.S)
    assert "speed(V, B, G, X) <= form_size(V)" in examples
    for example in (" ".join(text.split()) for text in examples):
        (found,) = statements_of((example,), (), [], None) if "==" not in example and "(" in example else (None,)
        assert found is None or found.arrays == (FLOW if "V, B, G, X" in example else {})
    with pytest.raises(rm.InvalidArgument, match="an array of the instance is needed"):
        statements_of((" ".join(of_arrays.partition("example: ")[2].splitlines()[0].split()),), (), [], None)


@pytest.mark.parametrize("option", ["init", "mlp", "norm", "residual", "arithmetic"])
def test_the_help_of_trace_names_every_word_that_is_allowed(option: str) -> None:
    (said,) = [o.help for o in main.commands["trace"].params if isinstance(o, click.Option) and o.name == option]
    allowed = re.findall(r"'(\w+)'", rankmath("trace", f"--{option}", "nothing").output.partition("allowed are")[2])
    assert allowed
    assert set(allowed) <= set(re.findall(r"\w+", str(said)))


def test_what_is_printed_of_a_claim_names_every_hypothesis_that_is_asked_for() -> None:
    """With rotary positions, capped logits or QK-norm own:diameter does not apply: so all of them must be named."""
    hidden = ("no positions", "logits that are not capped", "no norms of queries and keys")
    for text in (str(statements()["own:diameter"]), rankmath("bound", "own:diameter").output):
        for said in hidden:
            assert said in text
    net = rm.Network.random(tokens=3, dim=2, layers=1, positions="rotary", seed=0)
    assert rm.verify("own:diameter", net, net.random_input(seed=1)).outcome == Outcome.NOT_APPLICABLE


def test_a_trace_with_one_order_has_a_residual_that_was_not_small_from_the_start() -> None:
    rows = parsed("trace", "--tokens", 3, "--dim", 2, "--layers", 2, "--mask", "star")["layers"]
    assert rows[0]["log_residual"] > 0
    assert rows[2]["order"] > 1


# -- verify ------------------------------------------------------------------------------------------------

SMALL = ("--instances", 10, "--certify", 1, "--jobs", 1)


def test_verify_leaves_a_report_with_certificates_plots_and_appendix(tmp_path: Path) -> None:
    done = rankmath("verify", "own:tv", "dong2021v1:A.3", "dong2021:norm", *SMALL, "--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert "all as registered" in done.output
    report = json.loads((tmp_path / "report.json").read_text())
    outcomes = {result["key"]: result["outcome"] for result in report["results"]}
    assert outcomes == {"own:tv": "HOLDS", "dong2021v1:A.3": "REFUTED", "dong2021:norm": "HOLDS"}
    named = {name for result in report["results"] for name in result["certificates"]}
    assert {path.stem for path in (tmp_path / "certificates").glob("*.json")} == named
    assert r"\rmset{report:own:tv}" in (tmp_path / "appendix.tex").read_text()
    assert rankmath("check", *(tmp_path / "certificates").glob("*.json")).exit_code == 0


def test_verify_without_matplotlib_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = rankmath("verify", "own:tv", *SMALL, "--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert "pip install 'rankmath[report]'" in done.output
    assert (tmp_path / "appendix.tex").is_file()
    assert not (tmp_path / "figures").exists()
    assert not (tmp_path / "index.html").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("trace", "--plot"),
        ("experiment", "wu-ranks", "--plot"),
        ("model", ".", "--plot"),
        ("bound", "--network", "net.npz", "--plot"),
    ],
)
def test_a_picture_that_cannot_be_is_refused_before_any_work(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def works(*_: object, **__: object) -> None:
        raise AssertionError("it has begun")

    for place in ("attention.trace.trace", "attention.experiments.registry.run", "model.checkpoint.load_model"):
        monkeypatch.setattr(f"rankmath.{place}", works)
    monkeypatch.setattr("rankmath.model.files.load", works)
    done = rankmath(*words, "nowhere/a.png")
    assert (done.exit_code, done.stderr) == (2, "rankmath: plot: 'nowhere/a.png' given; there is no folder nowhere\n")
    done = rankmath(*words, "a.xyz")
    assert done.exit_code == 2
    assert done.stderr.startswith("rankmath: plot: 'a.xyz' given; the name must end in one of")
    monkeypatch.setattr("rankmath.drawing.find_spec", lambda name: None)
    done = rankmath(*words, "a.png")
    assert (done.exit_code, done.stderr) == (
        2,
        "rankmath: plot: matplotlib is not installed; pip install 'rankmath[report]'\n",
    )


def test_a_folder_that_takes_no_picture_is_told_before_a_model_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("rankmath.files.tempfile.TemporaryFile", refused)
    done = rankmath("model", "nowhere")
    assert (done.exit_code, done.stderr) == (
        2,
        "rankmath: plot: 'model.png' given; it cannot be written: Read-only file system\n",
    )


def test_a_picture_of_an_equilibrium_needs_matplotlib_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankmath.drawing.find_spec", lambda name: None)
    sizes = ("--tokens", 2, "--dim", 2, "--rank", 2, "--stable", "--output", tmp_path)
    monkeypatch.setattr("rankmath.equilibria.constructions.layernorm_equilibrium", None)
    done = rankmath("counterexample", "layernorm", *sizes, "--plot")
    assert done.exit_code == 2, done.output
    assert "plot: matplotlib is not installed" in done.stderr


def test_verify_on_a_gpu_without_cupy_is_refused_before_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    done = rankmath("verify", "own:tv", "--backend", "cupy", "--output", tmp_path / "report")
    assert done.exit_code == 2
    assert "pip install 'rankmath[gpu]'" in done.output
    assert not (tmp_path / "report").exists()


def test_verify_speaks_json_alone_when_asked(tmp_path: Path) -> None:
    report = parsed("verify", "own:tv", *SMALL, "--output", tmp_path)
    assert report == json.loads((tmp_path / "report.json").read_text())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("own:nothing",), "key: 'own:nothing' given; `rankmath list` shows all"),
        (("--instances", 0), "--instances: 0 given; a whole number of at least 1 and at most"),
        (("--instances", 10**21), "--instances: 1000000000000000000000 given; a whole number of at least 1 and at"),
        (("--jobs", 1000), "--jobs: 1000 given"),
        (("--claim", "mu(X[1]) <= 1", "--claim", "mu(X[1] <= 1"), "claim 2, column"),
        (("--claim", "mu(X[1]) <= 1", "--given", "heads == 1, n ="), "given, column"),
        (("--claim", "mu(X[1]) <= c*n", "--sharpen", "q"), "--sharpen: 'q' given; it is not in the claim mu(X[1]) <="),
        (("--claim", "mu(X[2]) <= 1", "--given", "layers == 1"), "claim: it speaks of 2 layers; L == 1 given"),
        (("--given", "heads == 1"), "rankmath: --given: given without --claim"),
        (("missing.py",), "path: 'missing.py' given; a Python file with Statement objects is needed"),
    ],
)
def test_verify_refuses_by_name(arguments: tuple[object, ...], message: str) -> None:
    done = rankmath("verify", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


# -- check -------------------------------------------------------------------------------------------------


def test_check_accepts_what_is_committed_and_rejects_what_is_changed(tmp_path: Path) -> None:
    path = next((proofs_folder() / "certificates").glob("dong2021-norm_*.json"))
    rows = parsed("check", path)
    assert rows[0]["accepted"] is True
    assert rows[0]["id"] == committed_certificates()["dong2021:norm"][0].id
    changed = tmp_path / "changed.json"
    changed.write_text(path.read_text().replace("[1,1,1]", "[1,1,2]"))
    done = rankmath("check", path, changed)
    assert done.exit_code == 1
    assert "REJECTED" in done.output
    assert "id is not the hash" in done.output


# -- bound -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["own:tv", "own:diameter", "dong2021:2.3", "wu2024:1", "dong2021:3.3"])
def test_every_bound_is_shown_with_the_meaning_of_its_letters(key: str) -> None:
    shown = parsed("bound", key)
    assert shown["expression"] == str(bound(key).expression)
    each = [shown, *shown.get("further", ())]
    between = "\n\\quad\\text{and}\\quad\n"  # no product
    assert rankmath("bound", key, "--latex").output.strip() == between.join(one["latex"] for one in each)
    assert [one["latex"] for one in each] == [bound(key, part).latex() for part in range(len(each))]
    for name, meaning in bound(key).symbols.items():
        assert f"  {name}: {meaning}" in rankmath("bound", key).output


def test_what_is_refuted_or_not_proved_is_told_as_no_bound() -> None:
    for key in ("folk:lambda-skip", "dong2021v1:2.2"):
        assert parsed("bound", key)["status"] == "refuted"
        assert rankmath("bound", key).output.startswith(f"{key}, refuted, stated here as a")
    assert "What would follow, were it true" in rankmath("bound", "dong2021v1:2.2", "--derive").output
    own = rankmath("bound", "--claim", "mu(X[2]) <= norm(W[0,0], 2)*norm(W[1,0], 2)*mu(X[0])").output
    assert own.startswith("mine:claim, not proved, stated here as an upper bound of mu(X[2]): mu*norm_W_2*norm_W_2_b\n")


def test_a_bound_beyond_every_double_is_no_zero() -> None:
    letters = ("--set", "diameter=0.1", "--set", "omega=8", "--set", "d_qk=4")
    deep = rankmath("bound", "own:diameter", "--set", "L=700", *letters).output
    log = mpmath.mpf(3) ** 700 * mpmath.log(mpmath.mpf(1) / 10)  # the factor of the power is 1
    assert f"bound: exp({mpmath.nstr(log, 15)})" in deep
    assert "inf" not in deep.splitlines()[-1]
    assert rankmath("bound", "own:tv", "--set", "osc=0").output.splitlines()[-1] == "bound: 0"


def test_a_part_of_a_refuted_claim_is_not_called_refuted() -> None:
    """The second part of Lemma A.3's first form is true."""
    assert {one.status for one in statements()["dong2021v1:A.3"].bounds()} == {"of a refuted claim"}
    assert "part of what is refuted" in rankmath("bound", "dong2021v1:A.3").output


@pytest.mark.parametrize("key", ["dong2021:2.2", "own:diameter", "own:attention-shares", "own:late"])
def test_a_derivation_in_latex_has_no_program_text(key: str) -> None:
    tex = rankmath("bound", key, "--derive", "--latex").output
    words = re.sub(r"\$.*?\$|\\\[.*?\\\]|^%.*", "", tex, flags=re.M)
    assert not re.search(r"[_^*]|sqrt", words)


def test_a_bound_says_what_its_arrays_are_and_each_inequality() -> None:
    assert (
        "hypothesis: P: an array t × n × n, stochastic; n >= 2, windowed(P, n)"
        in rankmath("bound", "wu2025:4.1").output
    )
    order = parsed("bound", "own:order")
    assert order["expression"] == "mu_l_plus_1"
    assert [one["of"] for one in order["further"]] == ["mu(X[l + 1])"]


@pytest.mark.parametrize(
    ("letters", "value"),
    [
        (("own:lambda-skip-sphere", "skip=-4", "norm_W_2=1", "diameter_l=1", "norm_W_QK_2=0", "d_qk=1"), 0.8),
        (
            ("own:influence", "skip=-1", "norm_W_2=1/2", "a=0", "longest=1", "diameter=0", "last_share=1", "is_last=1"),
            1.5,
        ),
        (("own:position-bias", "i=0", "eps=1/4", "steps=4", "reach=2"), (1 - 1 / 16) ** 2),
        (("own:flow-subspace", "m=1", "c=-1", "largest_size=0", "pace=1"), 2.0),
        (("own:merge-time", "u=-1/2", "v=1/2", "beta=1"), (1 + math.exp(-1.5)) / 1.5),
    ],
)
def test_letters_may_be_negative_where_the_hypotheses_let_them(letters: tuple[str, ...], value: float) -> None:
    settings = [part for letter in letters[1:] for part in ("--set", letter)]
    shown = parsed("bound", letters[0], *settings)
    last = [shown, *shown.get("further", ())][-1]
    assert last["value"] == pytest.approx(value, rel=1e-14)


def test_a_bound_with_every_letter_set_is_a_number_read_exactly() -> None:
    letters = ("--set", "L=2", "--set", "diameter=0.1", "--set", "omega=8", "--set", "d_qk=4")
    shown = parsed("bound", "own:diameter", *letters)
    # (8/(4·2))⁴ · (1/10)⁹
    assert shown["value"] == 1e-9
    assert "bound: 1e-09 = exp(-20.7232658369464)" in rankmath("bound", "own:diameter", *letters).output


def test_a_bound_beyond_the_doubles_is_shown_by_its_logarithm() -> None:
    letters = ("--set", "L=9", "--set", "diameter=0.1", "--set", "omega=8", "--set", "d_qk=4")
    assert "bound: exp(-" in rankmath("bound", "own:diameter", *letters).output


def test_a_bound_names_the_statement_it_is_of_and_what_p_may_be() -> None:
    shown = rankmath("bound", "own:diameter").output
    assert shown.startswith(
        "own:diameter, an upper bound of diameter(X[L], p) (a closed form that is not less, own:diameter-cubic): "
    )
    assert "\n  p: 1, 2 or inf" in shown
    of = "own:diameter-cubic, an upper bound of diameter(X[L], p): "
    assert rankmath("bound", "own:diameter-cubic").output.startswith(of)
    assert "  p: " not in rankmath("bound", "own:pre-norm-symmetric").output.replace("  p: the number p", "")
    assert "  p: " not in rankmath("bound", "wu2024:1").output


def test_some_letters_set_leave_an_expression() -> None:
    assert parsed("bound", "own:diameter", "--set", "L=1", "--set", "d_qk=4")["expression"] == "diameter**3*omega/8"


def test_numbers_of_heads_are_given_by_commas() -> None:
    heads = (
        "--set",
        "diameter=1",
        "--set",
        "normalised_norm_W=1,1/2",
        "--set",
        "form_norm_W_QK=2,0.5",
        "--set",
        "d_qk=1",
    )
    shown = parsed("bound", "dong2021:3.3", *heads)
    values = {"normalised_norm_W": [1, 0.5], "form_norm_W_QK": [2, 0.5]}
    assert shown["value"] == bound("dong2021:3.3").evaluate(log=False, diameter=1, d_qk=1, **values)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("own:nothing",), "key: 'own:nothing' given"),
        (("own:tv", "--set", "osc"), "--set: 'osc' given; NAME=NUMBER is needed"),
        (("own:tv", "--set", "osc=one"), "--set: 'osc=one' given"),
        (("own:tv", "--set", "osc=nan"), "--set: 'osc=nan' given"),
        (("own:tv", "--set", "osc=1/0"), "a denominator that is not 0"),
        (("own:tv", "--set", "osc=1e999999999"), "--set: 'osc=1e999999999' given"),
        (("own:tv", "--set", "bits=64"), "--set: bits given; the letters of own:tv are osc"),
        (("own:tv", "--set", "osc=-1"), "osc: -1 given; a number in [0, inf) is needed"),
        (("own:tv", "--set", "osc=1,2"), "osc: [1, 2] given"),
        (("own:diameter", "--set", "L=1/3"), "L: 1/3 given; a whole number"),
        (("dong2021:norm",), "key: 'dong2021:norm' given; it says that something exists"),
        (("own:pre-norm-symmetric", "--set", "p=3"), "p: 3 given; a number in [0, 1] is needed"),
        (("own:merge-time", "--set", "u=-1"), "u: -1 given; a number in (-1, inf) is needed"),
        (("wu2024:3",), "key: 'wu2024:3' given; its claim is no inequality"),
    ],
)
def test_bound_refuses_by_name(arguments: tuple[str, ...], message: str) -> None:
    done = rankmath("bound", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


# -- counterexample ----------------------------------------------------------------------------------------


def test_a_counterexample_is_a_certificate_and_its_words(tmp_path: Path) -> None:
    done = rankmath("counterexample", "dong2021v1:2.3", "--output", tmp_path)
    assert done.exit_code == 0, done.output
    (path,) = tmp_path.glob("dong2021v1-2.3_rm-*.json")
    assert str(path) in done.output
    assert "claim: this instance violates dong2021v1:2.3" in done.output
    assert rankmath("check", path).exit_code == 0
    shown = parsed("counterexample", "dong2021v1:2.3", "--output", tmp_path)
    assert shown["proved"] is True
    assert shown["file"] == str(path)


def test_a_layernorm_equilibrium_is_a_certificate_too(tmp_path: Path) -> None:
    sizes = ("--tokens", 3, "--dim", 3, "--rank", 2, "--output", tmp_path)
    shown = parsed("counterexample", "layernorm", *sizes)
    assert shown["proved"] is True
    assert rankmath("check", shown["file"]).exit_code == 0
    assert any("rank 2" in line for line in shown["words"])
    cited = rankmath("cite", shown["file"], "--format", "markdown")
    assert cited.exit_code == 0, cited.output
    assert f"`{shown['id']}`" in cited.output


def test_a_refutation_of_committed_instances_shows_the_first(tmp_path: Path) -> None:
    shown = parsed("counterexample", "wu2024:2-step", "--output", tmp_path)
    assert shown["proved"] is True
    assert shown["id"] == committed_certificates()["wu2024:2-step"][0].id


def test_with_rotary_positions_one_attracts(tmp_path: Path) -> None:
    sizes = ("--tokens", 2, "--dim", 2, "--rank", 2, "--rotary", "--output", tmp_path)
    shown = parsed("counterexample", "layernorm", *sizes)
    assert shown["proved"] is True
    assert "cos" in json.loads(Path(shown["file"]).read_text(encoding="utf-8"))["data"]
    assert any("converge to it" in line for line in shown["words"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("own:tv",), "key: 'own:tv' given; it has no counterexample: proofs/own_tv.tex"),
        (("alcalde2025:4.2",), "it is refuted by a proof, and by no certificate: proofs/alcalde2025.tex"),
        (("layernrm",), "key: 'layernrm' given; did you mean 'layernorm'?"),
        (
            ("layernorm", "--tokens", 2000, "--dim", 2, "--rank", 2),
            "--tokens: 2000 given; a whole number of at least 2 and at most 256 is needed",
        ),
        (("dong2021:norm", "--rank", 2), "--rank: 2 given; it belongs to layernorm"),
        (("dong2021:norm", "--stable"), "--stable: given; it belongs to layernorm"),
        (("layernorm", "--tokens", 3, "--dim", 3), "--rank: not given"),
        (("layernorm", "--tokens", 3, "--dim", 3, "--rank", 2, "--rotary"), "--dim: 3 given with --rotary"),
        (("layernorm", "--tokens", 3, "--dim", 2, "--rank", 2, "--rotary", "--seed", 1), "--seed: 1 given with"),
        (("layernorm", "--tokens", 1, "--dim", 1, "--rank", 1), "--tokens: 1 given; a whole number of at least 2"),
        (("layernorm", "--tokens", 3, "--dim", 3, "--rank", 4), "rank: 4 given"),
        (
            ("layernorm", "--tokens", 3, "--dim", 3, "--rank", 2, "--mask", "causal_window:1"),
            "--mask: 'causal_window:1'",
        ),
        (("layernorm", "--tokens", 2, "--dim", 2, "--rank", 2, "--mask", "window:0"), "a token that sees another"),
        (("layernorm", "--tokens", 3, "--dim", 3, "--rank", 2, "--mask", "moon"), "'moon'"),
    ],
)
def test_counterexample_refuses_by_name(arguments: tuple[object, ...], message: str) -> None:
    done = rankmath("counterexample", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


# -- cite and appendix -------------------------------------------------------------------------------------


def test_cite_writes_the_format_asked_for() -> None:
    assert rankmath("cite", "own:tv", "--format", "bibtex").output.startswith("@misc{rankmath:own:tv,")
    assert rankmath("cite", "own:tv", "--format", "markdown").output.startswith("**Total variation")
    assert set(parsed("cite", "dong2021v1:2.2")) == {"latex", "bibtex", "markdown", "sources"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("own:nothing",), "what: 'own:nothing' given"),
        (("own:tv", "--format", "html"), "format: 'html' given; allowed are 'latex', 'bibtex', 'markdown'"),
    ],
)
def test_cite_refuses_by_name(arguments: tuple[str, ...], message: str) -> None:
    done = rankmath("cite", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_appendix_writes_document_and_bibliography(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert rankmath("verify", "own:tv", *SMALL, "--output", run).exit_code == 0
    paper = tmp_path / "paper"
    shown = parsed("appendix", "own:tv", "--output", paper, "--report", run / "report.json")
    assert shown == {"appendix": str(paper / "appendix.tex"), "bibliography": str(paper / "references.bib")}
    assert r"\rmset{report:own:tv}" in (paper / "appendix.tex").read_text()
    alone = rankmath("appendix", "own:tv", "--output", tmp_path / "alone")
    assert alone.exit_code == 0
    assert "nothing measured is in it" in alone.output


def test_appendix_refuses_what_is_no_report(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    for path in (wrong, tmp_path / "missing.json"):
        done = rankmath("appendix", "--output", tmp_path, "--report", path)
        assert done.exit_code == 2
        assert path.name in done.stderr


# -- trace -------------------------------------------------------------------------------------------------


def test_trace_tells_each_layer_and_refuses_by_name() -> None:
    rows = parsed("trace", "--tokens", 4, "--dim", 3, "--layers", 5)["layers"]
    assert [row["layer"] for row in rows] == list(range(6))
    assert abs(rows[-1]["order"] - 3) < 0.5
    named = rankmath("trace", "--residual", "sphere").stderr
    assert "--residual: 'sphere' given; allowed are 'one'" in named  # --norm is the LayerNorm's
    for command, option in (("trace", "--file"), ("bound", "--network")):
        missing = rankmath(command, option, "nowhere.npz").stderr
        assert f"{option}: 'nowhere.npz' given; not a readable npz file (No such file or directory)" in missing
    done = rankmath("trace", "--tokens", 0)
    assert done.exit_code == 2
    assert "tokens: 0 given" in done.stderr


# -- doctor and completion ---------------------------------------------------------------------------------


def test_the_doctor_names_what_is_missing_and_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    parts = {part["name"]: part for part in parsed("doctor")["parts"]}
    assert parts["numpy"]["version"] == __import__("numpy").__version__
    assert parts["pdflatex"] == {
        "name": "pdflatex",
        "version": "missing",
        "for": "the appendix as PDF",
        "get it": "the program pdflatex, from your system's packages",
    }
    monkeypatch.setattr(sys.modules["rankmath.cli.doctor"], "_package", lambda name: "")
    done = rankmath("doctor")
    assert done.exit_code == 1
    assert "pip install 'rankmath[report]'" in done.output


def test_the_doctor_names_what_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["rankmath.cli.doctor"], "_package", lambda name: "0.44.0")
    parts = {part["name"]: part for part in json.loads(rankmath("doctor", "--json").stdout)["parts"]}
    least = re.search(r"llvmlite *>= *([\d.]+)", (Path(__file__).parents[1] / "setup.cfg").read_text(encoding="utf-8"))
    assert least is not None
    assert parts["llvmlite"]["version"] == f"0.44.0, too old: {least[1]} or later"
    assert parts["llvmlite"]["get it"] == "pip install 'rankmath[fast]'"
    assert parts["pyarrow"]["get it"] == ""  # no version is asked for


def test_the_doctor_answers_where_rankmath_lies_on_the_path_and_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> list[str]:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.requires", missing)
    assert {part["name"] for part in parsed("doctor")["parts"]} >= {"numpy", "llvmlite"}


def test_the_doctor_lists_every_package_of_every_extra() -> None:
    listed = {(name, extra) for name, _, extra in sys.modules["rankmath.cli.doctor"].PACKAGES}
    wanted = set()
    for line in requires("rankmath") or ():
        name, extra = re.match(r"[\w-]+", line), re.search(r"extra == ['\"](\w+)", line)
        wanted.add((name and name[0], extra[1] if extra else ""))
    # docs brings report, and test all but the GPU: what another extra brings is listed there.
    brought = {name for name, extra in wanted if extra not in ("docs", "test")}
    own = {(name, extra) for name, extra in wanted if extra not in ("docs", "test") or name not in brought}
    assert {pair for pair in own if pair[1] != "test"} <= listed
    assert ("pytest", "test") in listed
    assert listed - wanted == {("pyarrow", "pyarrow")}


def test_the_shell_completes_commands_and_keys() -> None:
    import os
    import subprocess

    script = rankmath("completion", "bash").output
    assert "_RANKMATH_COMPLETE=bash_complete" in script
    program = [sys.executable, "-c", "from rankmath.cli import main; main(prog_name='rankmath')"]
    for words, place, wanted in (("rankmath ver", 1, "plain,verify"), ("rankmath cite own:tv", 2, "plain,own:tv")):
        environment = {
            **os.environ,
            "_RANKMATH_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(place),
        }
        done = subprocess.run(program, env=environment, capture_output=True, text=True)
        assert done.stdout.split() == [wanted], done.stderr
