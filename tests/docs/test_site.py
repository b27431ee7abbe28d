"""The site builds without a warning, has a page for every statement, and documents every public name."""

from __future__ import annotations

import html
import inspect
import re
import shutil
from pathlib import Path
from urllib.parse import unquote

import pytest
from site_build import Site, build
from sphinx.util.inventory import InventoryFile

import rankmath
from rankmath.claims import statements
from rankmath.report.cite import citation
from rankmath.report.sources import committed_certificates, slug
from rankmath.verification.papers import FIELD

ROOT = Path(__file__).parents[2]


def test_the_site_builds_without_a_warning(site: Site) -> None:
    assert site.exit_code == 0, site.said
    assert site.said.strip() == ""


@pytest.mark.parametrize("key", list(statements()))
def test_every_statement_has_a_page_with_all_it_needs(site: Site, key: str) -> None:
    entry = statements()[key]
    page = (site.pages / "gallery" / f"{slug(key)}.html").read_text(encoding="utf-8")
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    assert entry.title in text
    assert "$$" not in text, "a display that is not set in type"
    assert f"{key}, {entry.status}." in text
    claim, _, rest = page.partition('id="hypotheses"')
    assert "<math" in claim
    assert "<math" in claim.partition('id="claim"')[2], "the claim is shown as mathematics"
    assert ('id="proof"' if entry.status == "proved" else 'id="refutation"') in rest
    for certificate in committed_certificates().get(key, ()):
        assert certificate.id in text
    for line in citation(key).text("bibtex").splitlines():
        assert line in text
    # The line named is the line at which the statement stands.
    path, line = re.search(r"Registered in (\S+), line (\d+):", text).groups()
    assert (ROOT / path).read_text(encoding="utf-8").splitlines()[int(line) - 1].strip() == f'"{key}",'
    # The formula that is evaluated stands on the page, with its hypotheses.
    assert str(entry) in text


@pytest.mark.parametrize("key", list(statements()))
def test_every_page_shows_its_own_picture_and_says_it_in_words(site: Site, key: str) -> None:
    page = (site.pages / "gallery" / f"{slug(key)}.html").read_text(encoding="utf-8")
    (image,) = re.findall(r"<img [^>]*class=\"picture[^>]*>", page)
    source = re.search(r'src="\.\./(_images/[^"]*)"', image)[1]
    assert (site.pages / source).read_bytes() == (site.source / "gallery/pictures" / f"{slug(key)}.svg").read_bytes()
    words = html.unescape(re.search(r'alt="([^"]*)"', image)[1])
    assert words.startswith((f"{key}: ", f"{key} "))
    assert re.search(r"\d+ instances?", words)


def test_the_overview_links_every_page(site: Site) -> None:
    page = (site.pages / "gallery/index.html").read_text(encoding="utf-8")
    for key in statements():
        assert f'href="{slug(key)}.html"' in page


def test_the_field_has_a_row_for_every_statement_near_a_paper(site: Site) -> None:
    page = (site.pages / "field.html").read_text(encoding="utf-8")
    rows = {row.count("<td") and re.sub(r"<[^>]*>", " ", row) for row in page.split("<tr")}
    for key, entry in statements().items():
        if key.split(":")[0] in {*FIELD, "folk"}:
            [row] = [row for row in rows if row and f" {key} " in row]
            assert entry.status in row
            named = {name for name in FIELD.values() if name.partition(" (")[0] in html.unescape(row)}
            if key.startswith("folk:"):  # the paper whose words it has, if they are one paper's
                assert named == {name for name in FIELD.values() if entry.source.startswith(name)}


def test_every_link_leads_to_a_place_that_is_there(site: Site) -> None:
    pages = {path.resolve(): path.read_text(encoding="utf-8") for path in site.pages.rglob("*.html")}
    places = {path: set(re.findall(r'\b(?:id|name)="([^"]+)"', text)) for path, text in pages.items()}
    lost = []
    for path, text in pages.items():
        for target in re.findall(r'<[^>]*\b(?:href|src)="([^":]+)"', text):
            name, _, place = html.unescape(target).partition("#")
            there = (path.parent / unquote(name.partition("?")[0])).resolve() if name else path
            if not there.exists() or (place and there in places and unquote(place) not in places[there]):
                lost.append(f"{path.name}: {target}")
    assert not lost


@pytest.mark.needs("coqc")
def test_the_pages_of_the_coq_files_show_formulas_as_they_are_written(tmp_path: Path) -> None:
    from generated import coqdoc

    coqdoc(shutil.which("coqdoc"), ROOT / "proofs/coq", tmp_path)
    toc = (tmp_path / "toc.html").read_text(encoding="utf-8")
    for path in sorted((ROOT / "proofs/coq").glob("*.v")):
        assert f'href="Rankmath.{path.stem}.html"' in toc
        page = (tmp_path / f"Rankmath.{path.stem}.html").read_text(encoding="utf-8")
        shown = re.sub(r"[\s\[\]]", "", html.unescape(re.sub(r"</?[a-z][^>]*>", "", page)))
        for comment in re.findall(r"\(\*\*(?!\*)(.*?)\*\)", path.read_text(encoding="utf-8"), re.DOTALL):
            title, words = re.match(r"(\**)(.*)", comment.strip(), re.DOTALL).groups()
            # In brackets after a space Coq's own signs may be set in type.
            for part in re.split(r"(?<![\w)\]}])\[[^\]]*\]", words):
                assert re.sub(r"[\s\[\]]", "", part) in shown, (path.name, title, part)


def test_what_coqdoc_complains_of_is_an_error(tmp_path: Path) -> None:
    from generated import coqdoc

    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho 'a bracket is not closed' >&2\n")
    program.chmod(0o755)
    with pytest.raises(ValueError, match="coqdoc: a bracket is not closed"):
        coqdoc(str(program), tmp_path, tmp_path / "pages")


def test_keys_are_links_and_blocks_show_their_statements(site: Site) -> None:
    source = (ROOT / "docs/findings.md").read_text(encoding="utf-8")
    page = (site.pages / "findings.html").read_text(encoding="utf-8")
    keys = [key for line in re.findall(r"^```\{statement\} (.*)$", source, flags=re.MULTILINE) for key in line.split()]
    assert len(keys) > 60
    for key in keys:
        assert re.search(rf'href="gallery/{slug(key)}.html"><code[^>]*>(<span[^>]*>)?{re.escape(key)}<', page), key
        assert html.escape(statements()[key].title.split()[0], quote=False) in page
    assert page.count('class="statement') >= len(keys)
    assert page.count("<details>") == page.count("</details>") > 40


def test_every_public_name_is_documented(site: Site) -> None:
    inventory = InventoryFile.loads((site.pages / "objects.inv").read_bytes(), uri="").data
    documented = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    assert {f"rankmath.{name}" for name in rankmath.__all__} <= documented


@pytest.mark.parametrize("name", [name for name in rankmath.__all__ if name != "__version__"])
def test_every_public_name_says_what_it_is(name: str) -> None:
    thing = getattr(rankmath, name)
    assert thing.__doc__
    if inspect.isclass(thing):
        assert vars(thing)["__doc__"], "its own words, not those of a class it inherits from"
        for member, value in vars(thing).items():
            if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property | classmethod)):
                assert inspect.getdoc(getattr(thing, member, value)), f"{name}.{member}"


BROKEN = {
    "[nowhere](missing.md)": "missing.md",
    "{py:func}`rankmath.no_such_name`": "rankmath.no_such_name",
    "$\\nosuchcommand{x}$": "formula not understood",
    "```{image} missing.svg\n```": "missing.svg",
}


def test_what_is_broken_fails_the_build(tmp_path: Path) -> None:
    conf = (ROOT / "docs/conf.py").read_text(encoding="utf-8")
    conf = conf.replace("Path(__file__).parent", f"Path({str(ROOT / 'docs')!r})").replace('    "generated",\n', "")
    (tmp_path / "conf.py").write_text(conf.replace('"_static"', f'"{ROOT}/docs/_static"'), encoding="utf-8")
    (tmp_path / "index.md").write_text("# A\n\nAll is well: $x$.\n", encoding="utf-8")
    sound = build(tmp_path, tmp_path / "pages")
    assert sound.returncode == 0, sound.stderr
    shown = (tmp_path / "pages/index.html").read_text(encoding="utf-8")
    assert "_static/styles/furo.css" in shown
    assert "_static/site.css" in shown
    (tmp_path / "index.md").write_text("\n\n".join(["# A", *BROKEN]) + "\n", encoding="utf-8")
    broken = build(tmp_path, tmp_path / "pages")
    assert broken.returncode != 0
    for words in BROKEN.values():
        assert words in broken.stderr


@pytest.mark.parametrize("name", ["findings", "equilibria", "flows", "masks", "metrics", "models", "positions"])
def test_formulas_of_a_page_are_set_in_type(site: Site, name: str) -> None:
    page = (site.pages / f"{name}.html").read_text(encoding="utf-8")
    # Without the list of all pages; the theme of the tests is the basic one.
    page = page.partition('role="main"')[2].partition('<div class="sphinxsidebar"')[0]
    body = re.sub(r"<(head|nav|title|pre|code|h\d|script|details)\b.*?</\1>", " ", page, flags=re.DOTALL)
    assert body.count("<math") > 10
    prose = html.unescape(re.sub(r"<[^>]*>", "", re.sub(r"<math.*?</math>", " ", body, flags=re.DOTALL)))
    assert not re.search(r"[‖√ᵀ₁₂]|\b[A-Z]_[A-Za-z]|\^", prose), re.findall(r".{20}(?:[‖√ᵀ₁₂]|\^).{20}", prose)
