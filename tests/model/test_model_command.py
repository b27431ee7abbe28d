"""`rankmath model` and `rankmath experiment` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tiny import checkpoint, given, tensors, write_zip

import rankmath as rm
from rankmath.cli import main


def typed(*words: str) -> str:
    result = CliRunner().invoke(main, list(words), standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.output


def test_the_table_is_the_trace(tmp_path: Path) -> None:
    place = checkpoint(tmp_path, "bert")
    asked = ("model", str(place), "--ids", "5,0,22,7", "--variant", "san,full", "--json")
    found = json.loads(typed(*asked, "--metric", "relative-residual,effective-rank", "--plot", str(tmp_path / "a.png")))
    model = rm.load_model(place)
    X = model.embed([5, 0, 22, 7])
    for entry in found["variants"]:
        net = model.variant(entry["variant"]).network
        logs = [row["log_residual"] for row in entry["layers"]]
        assert logs == pytest.approx(rm.trace(net, X).log_residual.tolist())
        columns = rm.measure(net, X, ["relative-residual", "effective-rank"])
        assert [row["effective-rank"] for row in entry["layers"]] == columns.values["effective-rank"].tolist()
        assert [row["log relative-residual"] for row in entry["layers"]] == columns.logs["relative-residual"].tolist()
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_a_picture_has_a_name_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As typed: --plot, and nothing behind it."""
    place = str(checkpoint(tmp_path, "bert"))
    monkeypatch.chdir(tmp_path)
    asked = ("--ids", "5,0,22,7", "--variant", "san", "--metric", "relative-residual,effective-rank", "--plot")
    assert typed("model", place, *asked).endswith("plot: model.png\n")
    assert (tmp_path / "model.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "model.png").unlink()
    said = typed("model", place, "--ids", "5,0,22,7")  # with the sentences it comes unasked
    assert "full: relative residual 10^" in said
    assert said.endswith("plot: model.png\n")
    assert (tmp_path / "model.png").exists()


def test_names_are_looked_at_before_the_model_is_read(tmp_path: Path) -> None:
    for option, name in (("--metric", "cosine"), ("--variant", "sans")):
        with pytest.raises(rm.InvalidArgument, match=f"{option}: '{name}' given; allowed are .*; did you mean '"):
            typed("model", str(tmp_path / "nowhere"), option, name)
    for pattern in ("own:skip-l*", "own:skip-lower"):
        with pytest.raises(
            rm.InvalidArgument, match=f"--bounds: '{pattern}' given; an upper bound of a size of X".replace("*", r"\*")
        ):
            typed("model", str(tmp_path / "nowhere"), "--bounds", pattern)


def test_a_pattern_of_bounds_takes_those_that_have_one(tmp_path: Path) -> None:
    asked = (
        "model",
        str(checkpoint(tmp_path, "bert")),
        "--ids",
        "5,0,22",
        "--layers",
        "1",
        "--variant",
        "san",
        "--json",
    )
    found = json.loads(typed(*asked, "--bounds", "own:d*,own:diameter"))["variants"][0]["bounds"]
    keys = {bound["key"] for bound in found}
    fit = [key for key in rm.statements() if key.startswith("own:d")]
    assert "own:diameter" in keys
    assert keys < set(fit)
    assert len(found) == len({(bound["key"], bound["size"]) for bound in found})


@pytest.mark.filterwarnings("error")
def test_activations_that_overflow_leave_cells_empty(tmp_path: Path) -> None:
    """Attention of san+mlp grows past the doubles: no number there, and no word about an X that nobody gave."""
    place, arrays = checkpoint(tmp_path, "bert", "zip"), tensors("bert")
    large = {name: 1e37 * a if name.endswith("dense.weight") else a for name, a in arrays.items()}
    write_zip(place / "pytorch_model.bin", {name: a.astype("<f4") for name, a in large.items()})
    asked = ("model", str(place), "--ids", "5,0,22,7", "--variant", "san+mlp", "--metric", "attention-entropy")
    rows = json.loads(typed(*asked, "--json"))["variants"][0]["layers"]
    assert [row["attention-entropy"] is None for row in rows] == [True, False, False, True]
    assert all(isinstance(row["log_residual"], float) for row in rows[:3])
    assert "attention-entropy" in typed(*asked)


def test_balls_and_bounds(tmp_path: Path) -> None:
    place = checkpoint(tmp_path, "distilbert")
    asked = ("model", str(place), "--ids", "5,0,22", "--metric", "effective-rank", "--arithmetic", "balls", "--bounds")
    found = json.loads(typed(*asked, "--json"))["variants"][0]
    for row in found["layers"]:
        assert row["log_residual_lower"] <= row["log_residual"] <= row["log_residual_upper"]
        assert row["effective-rank enclosure"].startswith("[")
    sizes = [(bound["key"], bound["size"]) for bound in found["bounds"]]
    assert (
        sizes == [("own:diameter", f"diameter(X[L], {p})") for p in ("1", "2", "inf")] + [("wu2024:1", "mu(X[L])")] * 2
    )
    assert "own:diameter says of the fall of log diameter(X[L], 2)" in typed(*asked)
    # Two heads: wu2024:1 speaks of one.
    # Its two inequalities need the same: said once.
    assert typed(*asked).count("wu2024:1 says of the fall of log mu(X[L]), layer by layer: needs one head") == 1
    assert "dong2021:2.3 says" in typed(*asked, "dong2021:2.3")


def test_names_are_listed_and_bad_ones_refused(tmp_path: Path) -> None:
    place = str(checkpoint(tmp_path, "gpt2"))
    assert "dong:san+mlp" in typed("model", place, "--variant", "help")
    assert "effective-rank-centred" in typed("model", place, "--metric", "help")
    for option in ("--variant", "--metric"):  # a list of names needs no model
        assert typed("model", option, "help") == typed("model", place, option, "help")
    text = tmp_path / "text.txt"
    text.write_text("hello", encoding="utf-8")
    for words, said in (
        (("--ids", "1,x"), "--ids: '1,x' given; whole numbers"),
        (("--ids", "1", "--text", str(text)), "--text, --ids: both given"),
        (("--text", str(text)), "no tokenizer.json"),
        (("--ids", "1,2", "--metric", "rank"), "--metric: 'rank' given"),
        (("--ids", "1,2", "--bounds", "own:skip-lower"), "an upper bound of a size of X"),
        (("--ids", "1,2", "--bounds", "own:diamter"), "did you mean"),
    ):
        with pytest.raises(rm.InvalidArgument, match=said):
            typed("model", place, *words)


def test_an_experiment_on_a_checkpoint(tmp_path: Path) -> None:
    place = str(checkpoint(tmp_path, "bert"))
    found = json.loads(typed("experiment", "dong-fig2", "--model", place, "--set", "tokens=5", "--json"))
    assert {curve["panel"] for curve in found["curves"]} == {"trained", "at initialisation"}
    assert "paths" in typed("experiment", "dong-paths", "--model", place, "--set", "tokens=5", "--set", "samples=2")


def test_a_text_that_is_cut_is_said_to_be_cut(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the extra `models` is not installed")
    place = checkpoint(tmp_path, "gpt2")
    tool = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    tool.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tool.save(str(place / "tokenizer.json"))
    (tmp_path / "text.txt").write_text("a b a b a", encoding="utf-8")
    asked = ["model", str(place), "--text", str(tmp_path / "text.txt"), "--variant", "san,full", "--tokens"]
    assert CliRunner().invoke(main, [*asked, "3"]).stderr == (
        "--text: it has 5 tokens; the first 3 are read (--tokens)\n"
    )
    assert CliRunner().invoke(main, [*asked, "5"]).stderr == ""
    (tmp_path / "text.txt").write_bytes("a café".encode("latin-1"))
    done = CliRunner().invoke(main, [*asked, "5"])
    assert done.exit_code == 2
    assert "not UTF-8 (byte 0xe9 in line 1)" in done.stderr


def test_an_order_of_decay_is_shown_where_trace_shows_one(tmp_path: Path) -> None:
    place = checkpoint(tmp_path, "bert")
    model, seen = rm.load_model(place), set()
    for weights in ("trained", "initial"):
        asked = ("--ids", "5,0,22,7", "--variant", "san,full", "--weights", weights, "--json")
        for entry in json.loads(typed("model", str(place), *asked))["variants"]:
            chosen = model.variant(entry["variant"], weights=weights, seed=0)
            rows = rm.trace(chosen.network, chosen.embed([5, 0, 22, 7])).rows()
            assert [row["order"] for row in entry["layers"]] == [row["order"] for row in rows]
            seen |= {row["order"] is None for row in rows[1:]}
    assert seen == {True, False}


def test_what_would_be_passed_over_in_silence_is_refused(tmp_path: Path) -> None:
    place = str(checkpoint(tmp_path, "bert"))
    with pytest.raises(rm.InvalidArgument, match="--variant: '' given; allowed are"):
        typed("model", place, "--variant", "")
    with pytest.raises(rm.InvalidArgument, match="--ids, --tokens: both given"):
        typed("model", place, "--ids", "5,0,22,7", "--tokens", "2")
    for words in (("--plot", str(tmp_path / "a.png")), ("--input", "X.npy")):
        with pytest.raises(rm.InvalidArgument, match=f"{words[0]}: given without --network"):
            typed("bound", "own:diameter", *words)


def test_numbers_are_there_where_the_picture_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for name in ("plot_curves", "plot_decay"):
        monkeypatch.setattr(f"rankmath.report.plots.{name}", full)
    place, plot = str(checkpoint(tmp_path, "bert")), ("--plot", str(tmp_path / "a.png"))
    for words in (
        ("trace",),
        ("model", place, "--ids", "5,0,22,7", "--variant", "san"),
        ("experiment", "wu-temperature", "--set", "layers=2", "--set", "tokens=4", "--set", "dim=8"),
    ):
        for more in ((), ("--json",)):
            said = typed(*words, *more)
            result = CliRunner().invoke(main, [*words, *more, *plot], standalone_mode=False)
            assert isinstance(result.exception, OSError)
            assert result.stdout.splitlines()[-1] in said
            assert len(result.stdout.splitlines()) == len(said.splitlines())


@pytest.mark.parametrize(("kind", "part"), [("vit", ()), ("whisper", ("--part", "encoder"))])
def test_what_reads_no_text_is_given_an_array_or_a_random_one(tmp_path: Path, kind: str, part: tuple[str, ...]) -> None:
    place = checkpoint(tmp_path / kind, kind)
    whole = rm.load_model(place, part="encoder" if part else None)
    pixels = given("whisper-encoder" if part else kind)
    np.save(tmp_path / "input.npy", pixels)
    asked = ["model", str(place), *part, "--variant", "san", "--json"]

    def measured(*more: str) -> list[float]:
        done = CliRunner().invoke(main, [*asked, *more])
        assert done.exit_code == 0, done.output
        return [row["log_residual"] for row in json.loads(done.stdout)["variants"][0]["layers"]]

    san = whole.variant("san").network
    assert measured("--array", str(tmp_path / "input.npy")) == list(rm.trace(san, whole.embed(pixels)).log_residual)
    rng = np.random.default_rng(5)
    drawn = whole.embedding.random(rng, 3) if part else whole.embedding.random(rng)
    more = ("--tokens", "3") if part else ()
    assert measured("--seed", "5", *more) == list(rm.trace(san, whole.embed(drawn)).log_residual)
    (tmp_path / "none.npy").write_text("no array")
    for wrong in (("--ids", "1,2"), ("--array", str(tmp_path / "none.npy"))):
        done = CliRunner().invoke(main, [*asked, *wrong], standalone_mode=False)
        assert isinstance(done.exception, rm.InvalidArgument)
        assert "--array" in str(done.exception)
