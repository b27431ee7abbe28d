"""Counterexamples as people read them: accepted, in words, as LaTeX, as a file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from rankmath.certificates.certificate import Certificate
from rankmath.checker import checker
from rankmath.claims import statements
from rankmath.cli import main
from rankmath.equilibria import constructions
from rankmath.equilibria.constructions import layernorm_equilibrium
from rankmath.report.counterexamples import Shown
from rankmath.report.theorems import fragment, letters


def asked(*arguments: object, folder: Path) -> Shown:
    """What `rankmath counterexample` shows."""
    told = CliRunner().invoke(
        main, ["counterexample", *map(str, arguments), "--output", str(folder), "--json"], standalone_mode=False
    )
    if told.exception is not None and not isinstance(told.exception, SystemExit):
        raise told.exception
    plain = json.loads(told.stdout)
    assert told.exit_code == (0 if plain["proved"] else 1)
    return Shown(**{name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()})


def equilibrium(*sizes: int, folder: Path, options: str = "") -> Shown:
    named = zip(("--tokens", "--dim", "--rank"), sizes, strict=True)
    return asked("layernorm", *(part for pair in named for part in pair), *options.split(), folder=folder)


@pytest.mark.parametrize("key", [key for key, entry in statements().items() if entry.exhibit is not None])
def test_the_file_is_accepted_and_its_numbers_are_in_the_latex(key: str, tmp_path: Path) -> None:
    shown = asked(key, folder=tmp_path / "new")
    assert shown.proved
    assert shown.file is not None
    assert shown.id is not None
    result = checker.check(shown.file)
    # The checker's words, then what the letters stand for, if the data are letters.
    assert (result.accepted, result.id) == (True, shown.id)
    assert shown.words == (*result.checked, *letters(key))
    assert shown.latex.count(r"\begin{align*}") == shown.latex.count(r"\end{align*}") == 1
    assert shown.id in shown.latex.replace(r"\allowbreak ", "")
    assert shown.file in shown.text()


def test_a_proved_statement_has_no_counterexample(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError,
        match=r"key: .own:tv. given; it has no counterexample: proofs/own_tv.tex\. There is one for .*dong2021v1:2.2, "
        r".*; an example for the proved .*dong2021:norm, ",
    ):
        asked("own:tv", folder=tmp_path)
    with pytest.raises(ValueError, match="key: 'own:nothing' given; `rankmath list` shows all"):
        asked("own:nothing", folder=tmp_path)


def test_an_attracting_equilibrium_of_full_rank_is_proved(tmp_path: Path) -> None:
    shown = equilibrium(2, 2, 2, folder=tmp_path, options="--mask complete --stable")
    assert shown.proved
    assert shown.file is not None
    by_balls, by_checker = "existence: proved", "and by the checker, from the file alone:"
    assert shown.words[0].startswith(by_balls)
    assert shown.words[shown.words.index(by_checker) + 1 :] == checker.check(shown.file).checked
    assert r"X\approx" in shown.latex
    assert "mathtt" not in shown.latex, "letters, not names of a program"


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 3, 3)])
def test_latex_picture_and_numbers_lie_beside_the_certificate(sizes: tuple[int, int, int], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    shown = equilibrium(*sizes, folder=tmp_path, options="--mask complete --stable --plot")
    assert shown.file is not None
    assert {Path(name).suffix for name in shown.beside} == {".tex", ".png", ".csv"}
    assert {Path(name).stem for name in shown.beside} == {Path(shown.file).stem}
    texts = {Path(name).suffix: Path(name).read_bytes() for name in shown.beside}
    # The theorem of this very certificate, for a paper.
    tex = texts[".tex"].decode()
    assert tex == fragment([Certificate.load(shown.file)])
    assert r"\documentclass" not in tex
    assert rf"\label{{{shown.id}}}" in tex
    assert texts[".png"].startswith(b"\x89PNG")
    assert texts[".csv"].startswith(b"angle_1," if sizes[1] == 2 else b"layer,")
    assert all(name in shown.text() for name in shown.beside)


def test_standard_layernorm_and_seeds_are_shown(tmp_path: Path) -> None:
    first, other = (
        equilibrium(2, 3, 2, folder=tmp_path, options=f"--mask complete --norm standard --seed {seed}")
        for seed in (1, 2)
    )
    assert first.proved
    assert other.proved
    assert first.id != other.id
    assert "norm standard" in first.what


def test_what_is_not_found_is_said_and_not_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*sizes: object, **options: object) -> None:
        raise RuntimeError("no stable equilibrium found in 60 restarts")

    monkeypatch.setattr(constructions, "layernorm_equilibrium", searched)
    shown = equilibrium(2, 2, 2, folder=tmp_path, options="--stable")
    assert (shown.proved, shown.words) == (False, ("no stable equilibrium found in 60 restarts",))


def test_what_is_not_proved_has_no_certificate_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # An equilibrium of rank two, claimed to have rank one.
    found = replace(layernorm_equilibrium(2, 2, 2), rank=1)
    monkeypatch.setattr(constructions, "layernorm_equilibrium", lambda *sizes, **options: found)
    shown = equilibrium(2, 2, 2, folder=tmp_path)
    assert not shown.proved
    assert shown.file is None
    assert any(line.startswith("rank: REFUSED") for line in shown.words)
    assert not list(tmp_path.iterdir())
