"""Pages written at build time: the theorem gallery, a page a statement, and the reference, a page a room."""

from __future__ import annotations

import configparser
import importlib
import inspect
import pkgutil
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from checker_table import reference as checker_page
from coq_statements import page as coq_page
from coq_statements import rules_page
from notebooks import write_pages as write_notebooks
from pictures import Sample, write
from proof_text import proof, theorem

import rankmath
from rankmath.claims import statements
from rankmath.files import proofs_folder
from rankmath.report.cite import citation
from rankmath.report.sources import certificate_file, committed_certificates, label_of, slug
from rankmath.verification.papers import FIELD, OWN
from rankmath.verification.statement import Statement

#: The source tree, and the package, which may be installed elsewhere.
ROOT = Path(__file__).parents[2]
PACKAGE = Path(rankmath.__file__).parent
PAPERS = {
    "seed": "Before the papers",
    "dong2021": "Dong, Cordonnier and Loukas 2021",
    "dong2021v1": "The first version of 2021",
    "wu2024": "Wu, Ajorlou, Wang, Jegelka and Jadbabaie 2024",
    "own": "Theorems of this library",
    **{prefix: name.partition(" (")[0] for prefix, name in FIELD.items()},
    "folk": "Often said",
    "unstated": "Stated by nobody: what shows that a hypothesis is needed",
}


def escaped(text: str) -> str:
    """Plain words as Markdown: nothing in them means anything.

    Examples
    --------
    >>> escaped("x* and W_QK <b>")
    'x\\\\* and W\\\\_QK \\\\<b\\\\>'
    """
    return re.sub(r"([\\`*_{}\[\]<>#$|^~])", r"\\\1", text)


# -- the gallery -------------------------------------------------------------------------------------------


@cache
def _registered() -> dict[str, tuple[str, int]]:
    """File and line at which each key begins an entry of the registry; the first, where two lines do."""
    found: dict[str, tuple[str, int]] = {}
    for path in sorted((PACKAGE / "claims").rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            key = re.match(r'(?:key=|Statement\()?"([^"]*)",', line.strip())
            if key:
                found.setdefault(key[1], (path.relative_to(PACKAGE.parent).as_posix(), number))
    return found


def registered_at(entry: Statement) -> tuple[str, int]:
    """File and line at which the statement is registered."""
    if entry.key not in _registered():
        raise ValueError(f"key: {entry.key!r} is registered by no line of rankmath/claims")
    return _registered()[entry.key]


def page(entry: Statement, found: Sample) -> str:
    """One statement, from its claim to its BibTeX."""
    name = slug(entry.key)
    parts = [
        f"({name})=",
        f"# {escaped(entry.title)}",
        f"`{entry.key}`, **{entry.status}**. {escaped(entry.source[:1].upper() + entry.source[1:])}.",
        "## Claim",
        *(f"$$\n{part}\n$$" for part in (*entry.conclusion, *entry.letters)),
    ]
    if entry.notes:
        parts.append(escaped(entry.notes))
    demanded = [part if part.startswith("$") else escaped(part) for part in entry.premises]
    parts += ["## Hypotheses", "\n".join(f"- {part}" for part in demanded) if demanded else "None beyond the claim."]
    if entry.meanings:
        quantities = (
            f"- {escaped(said)}." if shown in entry.conclusion else f"- ${shown}$: {escaped(said)}."
            for shown, said in entry.meanings
        )
        parts += ["## Quantities", "\n".join(quantities)]
    parts += ["## " + ("Proof" if entry.status == "proved" else "Refutation"), *_shown(entry)]
    parts += ["## Instances" if found.outcomes else "## Tightness", *_picture(entry, found)]
    path, line = registered_at(entry)
    parts += [
        "## Formula",
        f"Registered in `{path}`, line {line}:",
        f"```text\n{entry}\n```",
        "## Cite",
        f"`rankmath cite {entry.key} --format bibtex`:",
        f"```bibtex\n{citation(entry.key).text('bibtex')}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def _shown(entry: Statement) -> list[str]:
    """Where it is shown: the written proof, and the certificates that refute or exhibit."""
    parts = []
    if (proofs_folder().parent / entry.truth).is_file():
        label = label_of(entry.key)
        under = f", under the label `{label}`" if label else ""
        parts.append(
            f"Written out in {{download}}`{entry.truth} <../../{entry.truth}>`{under}; "
            "`rankmath appendix` sets it in type."
        )
        own = theorem(f"stmt:{slug(entry.key)}") if entry.status == "proved" else None
        if own:
            parts += ["Its theorem there:", "\n".join(f"> {line}".rstrip() for line in own.splitlines())]
            written = proof(f"stmt:{slug(entry.key)}")
            if written:
                parts += [written, "Names in quotes are labels of the text above. □"]
    else:
        parts.append(escaped(entry.truth[:1].upper() + entry.truth[1:]) + ".")
    certificates = committed_certificates().get(entry.key, ())
    if certificates:
        rows = [
            f"- {{download}}`{c.id} <../../proofs/certificates/{certificate_file(c)}>` ({c.kind})" for c in certificates
        ]
        parts += ["Certificates, each checked by `rankmath check FILE`:", "\n".join(rows)]
    return parts


def _picture(entry: Statement, found: Sample) -> list[str]:
    name = slug(entry.key)
    parts = [f"```{{image}} pictures/{name}.svg\n:alt: {found.words()}\n:class: picture\n```"]
    if found.outcomes:
        words = f"Decided in exact or ball arithmetic on {_plural(found)}, by kind of instance."
    else:
        words = (
            f"lhs/rhs on {_plural(found)}, in float64; whatever float64 cannot tell from equality, and every "
            "seeming violation, is decided by balls."
        )
        words += " The claim is sharp: equality is approached." if entry.sharp else ""
    if found.zero:
        words += f" {found.zero} have a left side of zero and are not drawn."
    if found.not_applicable:
        words += f" A hypothesis fails on {found.not_applicable} more."
    if found.undecided:
        words += f" {found.undecided} more are equalities, or too close to tell."
    if found.exceeds is not None:
        words += f" The committed counterexample has lhs/rhs above {found.exceeds:.6g}."
    words += f" Numbers: {{download}}`{name}.json <pictures/{name}.json>`."
    words += f" Drawn by `python docs/_ext/pictures.py {entry.key}`. Sampling proves nothing."
    return [*parts, words]


def _plural(found: Sample) -> str:
    return f"{found.count} seeded instance" + ("" if found.count == 1 else "s")


def write_gallery(folder: Path) -> None:
    """The pages, their pictures, and an overview."""
    pictures = folder / "pictures"
    rows: dict[str, list[str]] = {}
    for key, entry in statements().items():
        found = write(key, pictures)
        (folder / f"{slug(key)}.md").write_text(page(entry, found), encoding="utf-8")
        row = f"| [{escaped(entry.title)}]({slug(key)}.md) | `{key}` | {entry.status} |"
        rows.setdefault(key.split(":")[0], []).append(row)
    known = list(statements().values())
    proved = sum(entry.status == "proved" for entry in known)
    summary = (
        f"{len(known)} statements, {proved} proved and {len(known) - proved} refuted; a page each, written when "
        "this site was built, from the objects that `rankmath verify` runs. "
        "[Formula and Coq theorem, side by side](coq.md)."
    )
    parts = ["# Theorem gallery", summary]
    for prefix, title in PAPERS.items():
        if prefix in rows:
            parts += [f"## {title}", "\n".join(("| statement | key | status |", "|---|---|---|", *rows.pop(prefix)))]
    if rows:
        raise ValueError(f"gallery: no heading for {', '.join(rows)}")
    link = '\n<p><a href="../coq/toc.html">All definitions and theorems, file by file</a> (coqdoc).</p>\n'
    linked = link if shutil.which("coqdoc") else ""
    (folder / "coq.md").write_text(coq_page(statements()) + linked, encoding="utf-8")
    (folder / "rules.md").write_text(rules_page(), encoding="utf-8")
    (folder / "checker.md").write_text(checker_page(), encoding="utf-8")
    names = "\n".join(("coq", "rules", "checker", *(slug(key) for key in statements())))
    parts.append(f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{names}\n```")
    (folder / "index.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def write_field(file: Path) -> None:
    """The table of the page on neighbouring papers: what each says, what is known of it, and our own form of it.

    A row belongs to the paper after which the file of its proof is named or, in a file of ours, to the one that its
    source names; what is only often said names no paper.
    """
    rows = ["| paper | statement | verdict | sharp | key |", "|---|---|---|---|---|"]
    for prefix in (*FIELD, "folk"):
        near = []
        for entry in statements().values():
            file_of = Path(entry.truth).stem.split("_")[0]
            said = prefix in FIELD and FIELD[prefix] in entry.source
            if file_of == "folk" and entry.source.startswith(tuple(FIELD.values())):
                theirs = said  # the one paper that says it
            else:
                theirs = file_of == prefix or (file_of == "own" and said)
            if theirs:
                near.append(entry)
        # What is printed comes first, then ours, then what others knew before us, then what is only said.
        for whose in ("", "ours", "classical", "often said"):
            for entry in near:
                key = entry.key
                if whose_is(entry) == whose:
                    paper = escaped(FIELD[prefix]) if prefix in FIELD and whose != "often said" else ""
                    title = f"[{escaped(entry.title)}](gallery/{slug(key)}.md)"
                    named = ", beside ".join(filter(None, (whose, paper)))
                    rows.append(f"| {named} | {title} | {entry.status} | {'yes' if entry.sharp else ''} | `{key}` |")
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")


def whose_is(entry: Statement) -> str:
    """Whether a statement is ours, classical (its source says so), often said, or a paper's."""
    if entry.source.startswith(OWN):
        return "classical" if any(word in entry.source for word in ("classical", "well known")) else "ours"
    said = entry.key.startswith("folk:") and not entry.source.startswith(tuple(FIELD.values()))
    return "often said" if said else ""


# -- the reference -----------------------------------------------------------------------------------------


def _rooms() -> tuple[str, ...]:
    """The rooms from the top down, as the import contract lists them; commands are not for calling."""
    contract = configparser.ConfigParser()
    contract.read(ROOT / "setup.cfg", encoding="utf-8")
    names = contract["importlinter:contract:rooms"]["layers"].split()
    return tuple(name.removeprefix("rankmath.") for name in names if name != "rankmath.cli")


ROOMS = _rooms()


def modules(room: str) -> list[ModuleType]:
    """A room's modules; a room that is one file is its own."""
    package = importlib.import_module(f"rankmath.{room}")
    if not hasattr(package, "__path__"):
        return [package]
    names = sorted(found.name for found in pkgutil.walk_packages(package.__path__, f"rankmath.{room}."))
    # CUDA kernels cannot be imported without CuPy.
    return [importlib.import_module(name) for name in names if name != "rankmath.kernels.cuda"]


def write_reference(folder: Path) -> None:
    """Every public name, and every room module by module."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [name for name in rankmath.__all__ if name != "__version__"]
    directives = []
    for name in names:
        kind = "autoclass" if inspect.isclass(getattr(rankmath, name)) else "autofunction"
        options = "\n   :members:" if kind == "autoclass" else ""
        directives.append(f".. {kind}:: rankmath.{name}{options}\n")
    directives.append(".. autodata:: rankmath.__version__\n   :no-value:\n")
    body = "\n".join(directives)
    (folder / "names.md").write_text(
        f"# Public names\n\n`import rankmath as rm`; each name is loaded on first use.\n\n```{{eval-rst}}\n{body}```\n",
        encoding="utf-8",
    )
    for room in ROOMS:
        found = modules(room)
        entries = []
        for module in found:
            name = module.__name__
            heading = f"{name}\n{'-' * len(name)}\n\n" if len(found) > 1 else ""
            entries.append(f"{heading}.. automodule:: {name}\n   :members:\n   :ignore-module-all:\n")
        listed = "\n".join(entries)
        text = f"# rankmath.{room}\n\n```{{eval-rst}}\n{listed}```\n"
        (folder / f"{room}.md").write_text(text, encoding="utf-8")
    listing = "\n".join(("names", *ROOMS))
    (folder / "index.md").write_text(
        "# Reference\n\nWhat people use is on the first page. The rooms follow, from the top down: imports go "
        "down only.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{listing}\n```\n",
        encoding="utf-8",
    )


def write_pages(app: Any) -> None:
    source = Path(app.srcdir)
    write_gallery(source / "gallery")
    write_field(source / "gallery" / "field.inc")
    write_reference(source / "reference")
    write_notebooks(source / "notebooks")


def write_coqdoc(app: Any, exception: Exception | None) -> None:
    """The pages that coqdoc makes of proofs/coq, in the folder coq of the site."""
    program = shutil.which("coqdoc")
    if exception is None and program is not None and app.builder.format == "html":
        coqdoc(program, proofs_folder() / "coq", Path(app.outdir) / "coq")


def coqdoc(program: str, coq: Path, folder: Path) -> None:
    """The pages of all files of a folder, with `toc.html`; what coqdoc complains of is an error."""
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as copies:
        for path in coq.glob("*.v"):
            Path(copies, path.name).write_text(plain_comments(path.read_text(encoding="utf-8")), encoding="utf-8")
        files = [str(path) for path in sorted(Path(copies).glob("*.v"))]
        options = ["--html", "--toc", "--utf8", "--quiet", "--no-glob", "-R", copies, "Rankmath", "-d", str(folder)]
        said = subprocess.run([program, *options, *files], check=True, capture_output=True, text=True).stderr
    if said.strip():
        raise ValueError(f"coqdoc: {said.strip()}")


_DOC_COMMENT = re.compile(r"\(\*\*(?!\*).*?\*\)", re.DOTALL)
# A name or a term in brackets is code; X[0], an interval, a matrix and an index are what they are.
_CODE_OR_SIGN = re.compile(r"(?<![\w)\]}\[])\[[^\[\],]+\](?!\])|[\[\]_]+|^(\s*|\(\*\* *)-", re.MULTILINE)


def plain_comments(text: str) -> str:
    """Coq text for coqdoc, in whose comments only a term in brackets means anything, and it means code.

    Examples
    --------
    >>> plain_comments("(** mu(X[L]) <= x_j on [0, 1), see [attn_rows].\\n   - 1 *) Lemma a_b : x[0].")
    '(** mu(X#[#L#]#) <= x#&lowbar;#j on #[#0, 1), see [attn_rows].\\n   #-# 1 *) Lemma a_b : x[0].'
    """

    def shown(match: re.Match[str]) -> str:
        if match[1] is not None:
            return f"{match[1]}#-#"
        run = match[0]
        return run if set(run) - set("[]_") else f"#{run.replace('_', '&lowbar;')}#"

    return _DOC_COMMENT.sub(lambda comment: _CODE_OR_SIGN.sub(shown, comment[0]), text)


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    app.connect("build-finished", write_coqdoc)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
