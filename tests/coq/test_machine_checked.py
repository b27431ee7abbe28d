"""The Coq library compiles, rests on the axioms of the classical reals alone, and its table of theorems is true."""

from __future__ import annotations

import fcntl
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import rankmath as rm
from rankmath.certificates.coq_words import lemma_rows, lemmas_file
from rankmath.checker.checker import check_text
from rankmath.report.sources import committed_certificates

sys.path[:0] = [str(Path(__file__).parents[2] / "benchmarks")]

import coq_assumptions  # noqa: E402

COQ = Path(__file__).parents[2] / "proofs" / "coq"
TABLE = tomllib.loads((COQ / "theorems.toml").read_text())["theorem"]
#: What the standard library's classical reals rest on; no theorem may use more.
ALLOWED = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
#: The names that users cite, and where they live.
EXPORTED = [
    *("tv_tanh", "transport", "diameter_layer", "diameter_depth", "skip_lower", "closure_stochastic"),
    *("path_decomposition", "sandwich", "composite_not_norm", "two_heads_refuted", "wu_conjecture_refuted"),
    *("theorem_A", "gamma_free", "masked_collapse", "hemisphere"),
]
FORBIDDEN = re.compile(
    r"\b(Admitted|admit|Axiom|Axioms|Parameter|Parameters|Conjecture|Abort|Unset\s+Guard|bypass_check)\b"
)
#: The unfolded statements: (name, statement).
UNFOLDED = re.findall(r"^Theorem (\w+) :\s(.*?)\.\nProof\.", (COQ / "unfolded.v").read_text(), re.MULTILINE | re.DOTALL)


needs_coq = pytest.mark.needs("coqc")


def without_comments(text: str) -> str:
    """The Coq text with its comments, which nest, taken out."""
    out, depth = [], 0
    for piece in re.split(r"(\(\*|\*\))", text):
        depth += {"(*": 1, "*)": -1}.get(piece, 0)
        if not depth and piece != "*)":
            out.append(piece)
    return "".join(out)


def axioms(printed: str) -> list[set[str]]:
    """The names in each answer of `Print Assumptions`."""
    answers = printed.split("Axioms:")[1:]
    return [set(re.findall(r"^([A-Za-z_][\w.']*)\s*(?::|$)", text, re.MULTILINE)) for text in answers]


def coqc(folder: Path, name: str, text: str) -> subprocess.CompletedProcess[str]:
    """Compile `text` as NAME.v in `folder`, against the compiled library."""
    (folder / f"{name}.v").write_text(text)
    return subprocess.run(
        ["coqc", "-q", "-R", str(COQ), "Rankmath", "-w", "none", f"{name}.v"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="session")
def compiled() -> Path:
    """The library, compiled where it changed, on two cores; a second process waits and finds it done."""
    with (COQ / "Makefile").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(["make", "-j2", "-C", str(COQ)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return COQ


def test_nothing_is_admitted() -> None:
    for path in sorted(COQ.glob("*.v")):
        found = FORBIDDEN.findall(without_comments(path.read_text()))
        assert not found, f"{path.name}: {found}"


def test_the_reader_of_comments_is_not_fooled() -> None:
    assert FORBIDDEN.findall(without_comments("(* a (* nested *) Axiom *) Lemma x : True. Admitted. (* Axiom *)")) == [
        "Admitted"
    ]


def test_every_row_names_a_theorem_of_its_file() -> None:
    for row in TABLE:
        assert set(row) == {"key", "name", "file", "proves", "scope"}, row
        assert row["proves"] in ("holds", "refuted", "related"), row
        assert row["scope"] or row["proves"] != "related", row
        module, name = row["name"].removeprefix("Rankmath.").split(".")
        assert row["file"] == f"{module}.v", row
        text = without_comments((COQ / row["file"]).read_text())
        assert re.search(rf"^(Theorem|Lemma|Corollary) {name}\b", text, re.MULTILINE), row


def test_every_key_is_a_registered_statement() -> None:
    assert {row["key"] for row in TABLE} <= {"", *rm.statements()}


def test_networks_that_coq_has_no_words_for_are_refused_or_said() -> None:
    """A network of Language.v has one mask. Where a statement takes masks that differ, its theorem says so."""
    value = np.zeros((2, 1, 4, 4))
    value[..., :2, 2:] = 1 / 8
    X = np.array([[1, 2, 0, 0], [3, -1, 0, 0], [0, 1, 0, 0.0]])
    for skip in (0.0, 1.0):
        full = rm.Network.from_arrays(np.ones((2, 1, 4, 4)), value, skip=skip)
        net = rm.Network.from_layers([full.sublayers[0], full.replace(mask="causal").sublayers[1]], 3)
        for row in TABLE:
            entry = row["proves"] != "related" and rm.statements()[row["key"]]
            if not entry or entry.arrays or "one mask for all layers" in row["scope"]:
                continue
            try:
                assert rm.verify(row["key"], net, X, arithmetic="balls").outcome is rm.Outcome.NOT_APPLICABLE, row
            except rm.InvalidArgument:
                continue


def test_certificates_that_coq_has_no_words_for_are_rejected_or_said() -> None:
    """The same of what the checker accepts: committed certificates whose layers are given masks that differ."""
    accepted = set()
    for row in TABLE:
        if row["proves"] == "related" or "one mask for all layers" in row["scope"]:
            continue
        for certificate in committed_certificates().get(row["key"], ()):
            content = json.loads(certificate.text())
            layers = content["data"].get("layers", ())
            if not all(isinstance(layer, list) for layer in layers):
                continue
            maps = [part["attention"] for layer in layers for s in layer for part in s["maps"] if "attention" in part]
            n = len(content["data"].get("X", ()))
            for l, attention in enumerate(maps):
                seen = ((j <= i if l % 2 else (j - i) % n <= 1 for j in range(n)) for i in range(n))
                attention["mask"] = [list(map(int, row)) for row in seen]
            del content["id"]
            if len(maps) > 1 and check_text(json.dumps(content)).accepted:
                accepted.add(row["key"])
    assert not accepted


def test_files_begin_with_the_claim_and_its_key() -> None:
    for row in TABLE:
        text = (COQ / row["file"]).read_text()
        assert text.startswith("(**"), row["file"]
        assert row["proves"] != "related" or row["key"] in text[: text.index("Require")], row


def test_the_names_people_cite_are_there() -> None:
    assert not set(EXPORTED) - {row["name"].rpartition(".")[2] for row in TABLE}


def test_the_page_prints_the_definitions_as_they_are() -> None:
    page = (COQ.parents[1] / "docs" / "machine-checked.md").read_text()
    for name in ("Language.v", "Definitions.v"):
        assert f"```{{literalinclude}} ../proofs/coq/{name}\n" in page
        assert (COQ / name).is_file()


@needs_coq
def test_assumptions(compiled: Path, tmp_path: Path) -> None:
    """All theorems of the table, their unfolded forms and all lemmas rest on the reals' axioms and on nothing else."""
    names = {f"Rankmath.{name}" for name in coq_assumptions.theorems()}
    names |= {f"Rankmath.{str(row['file'])[:-2]}.{row['theorem']}" for row in lemma_rows()}
    names |= {f"Rankmath.Lemmas.{name}" for name in re.findall(r"^Theorem (\w+)", lemmas_file(), re.MULTILINE)}
    modules = sorted({name.split(".")[1] for name in names})
    together = ", ".join(f"@{name}" for name in sorted(names))
    text = f"From Rankmath Require {' '.join(modules)}.\nDefinition all := ({together}).\nPrint Assumptions all.\n"
    planted = "Axiom free : False. Lemma bad : 0 = 1. case free. Qed. Print Assumptions bad."
    done = coqc(tmp_path, "Assumptions", text + planted)
    assert done.returncode == 0, done.stderr
    assert axioms(done.stdout) == [ALLOWED, {"free"}]  # an axiom is noticed


PLANTED = [
    # the 4 of tanh(D/4), made stronger (false) and weaker (another statement), in the bound and its equality case
    ("own_tv.v", "Theorem tv_tanh : tv n (tilt n q g) q <= tanh (D / 4).", "D / 4)", "D / 4.01)"),
    ("own_tv.v", "Theorem tv_tanh : tv n (tilt n q g) q <= tanh (D / 4).", "D / 4)", "D / 3.99)"),
    ("own_tv.v", "  tv n (tilt n q (fun j => if S j then c + D else c)) q = tanh (D / 4).", "D / 4)", "D / 4.01)"),
    ("own_tv.v", "<= / 2 * sum n (fun j => Rabs (nu j)) * D.", "/ 2 *", "/ 2.01 *"),
    ("seed_closure.v", "0 <= t <= 1 -> row_stochastic", "t <= 1", "t <= 2"),
    ("dong2021.v", "Theorem composite_not_norm n : (2 <= n)%nat ->", "2 <=", "1 <="),
    ("wu2024_1.v", "<= sqrt (INR n / 2) * K * (1 - eps ^ r)", "n / 2)", "n / 2.01)"),
    ("theorem_A.v", "-> m k < m i) ->", "<", "<="),
    ("kim2021.v", "<= sqrt (INR n).", "n).", "n / 1.01)."),
    ("own_skip_lower.v", "l2 d (vsub x1 x2) * ((1 - nu) / (1 + s)) <=", "(1 + s)", "(1 + 0.99 * s)"),
]


@needs_coq
@pytest.mark.parametrize(("file", "where", "old", "new"), PLANTED, ids=range(len(PLANTED)))
def test_a_changed_statement_is_refused(
    compiled: Path, tmp_path: Path, file: str, where: str, old: str, new: str
) -> None:
    """The same proof with another constant, or a weaker hypothesis, does not compile; the file up to there does."""
    text = (COQ / file).read_text()
    start = text.index(where)
    end = text.index("Qed.", start) + len("Qed.")
    planted = text[:start] + text[start:end].replace(old, new, 1)
    done = coqc(tmp_path, "Planted", planted)
    line = re.search(r"line (\d+), characters", done.stderr)
    assert done.returncode != 0
    assert line, done.stderr
    assert int(line[1]) > text[:start].count("\n"), done.stderr


@needs_coq
def test_unfolded_statements_need_the_standard_library_alone(tmp_path: Path) -> None:
    """The statements of unfolded.v are about the reals: they compile without this library."""
    assert {f"{name}_unfolded" for name in EXPORTED} <= {name for name, _ in UNFOLDED}
    stated = "\n".join(f"Definition {name} : Prop := {text}." for name, text in UNFOLDED)
    (tmp_path / "Stated.v").write_text(f"Require Import Reals.\nLocal Open Scope R_scope.\n{stated}\n")
    command = ["coqc", "-q", "-w", "none", "Stated.v"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_file_of_assumptions_names_every_theorem_and_no_axiom_but_the_four() -> None:
    lines = coq_assumptions.FILE.read_text(encoding="utf-8").splitlines()[1:]
    named = [line for line in lines if line and not line.startswith("[")]
    assert sorted(named) == coq_assumptions.theorems()
    axioms = {axiom for line in lines if line.startswith("[") for axiom in line[1:-1].split(", ")}
    assert axioms - {"no axiom"} <= ALLOWED


#: What follows from a proposition in a few lines: it would not if its quantifiers stood in another order.
CONSEQUENCES = {
    "one start near dependent tokens is independent and collapses whatever W_QK is": (
        "proved_sphere",
        (
            "forall (n d : nat) (X : matrix n d) W allowed eta, (0 < n)%nat -> (0 < d)%nat -> is_mask allowed ->"
            " orthogonal_rest X W allowed -> 0 < eta -> exists Y : matrix n d, independent Y /\\"
            " within n d eta (fun i a => Y i a - X i a) /\\ forall W_QK : matrix d d,"
            " is_lim_seq (fun t => Definitions.mu n d (Nat.iter t (sphere_map n d W_QK W allowed) Y)) 0"
        ),
        (
            "intros n d X W allowed eta Hn Hd M R He."
            " destruct (proved_own_no_stable_orthogonal n d X W allowed Hn Hd M R eta He) as (Y & N & _ & I & L)."
            " exists Y. repeat split; try assumption. intro Q. now apply (L Q W allowed)."
        ),
    )
}


@needs_coq
@pytest.mark.parametrize("name", CONSEQUENCES)
def test_what_follows_from_a_proposition(compiled: Path, tmp_path: Path, name: str) -> None:
    module, statement, proof = CONSEQUENCES[name]
    text = (
        "Require Import Reals. From Coquelicot Require Import Coquelicot.\n"
        f"From Rankmath Require Import Definitions Language Statements {module}.\nLocal Open Scope R_scope.\n"
        f"Theorem consequence : {statement}.\nProof. {proof} Qed.\n"
    )
    done = coqc(tmp_path, "Consequence", text)
    assert done.returncode == 0, done.stderr


@needs_coq
def test_what_the_readme_imports_is_there(compiled: Path, tmp_path: Path) -> None:
    """Each theorem of the table comes with the one file that the table names, and the table names no other kind."""
    table = (COQ / "README.md").read_text(encoding="utf-8").partition("## What to import")[2]
    rows = re.findall(r"^\| `(\w+)` \| ((?:`\w+`(?:, )?)+) \| .+ \|$", table, re.MULTILINE)
    assert len(rows) == table.count("\n| `")
    files = [(file, re.findall(r"`(\w+)`", names)) for file, names in rows]
    text = "".join(
        f"Module m{i}. From Rankmath Require Import {file}. {' '.join(f'Check {name}.' for name in names)} End m{i}.\n"
        for i, (file, names) in enumerate(files)
    )
    done = coqc(tmp_path, "Imported", text)
    assert done.returncode == 0, done.stderr
    assert coqc(tmp_path, "Missing", "From Rankmath Require Import own_tv. Check flow_step_odd.").returncode != 0
