"""The Coq library compiles, rests on the axioms of the classical reals alone, and its table of theorems is true."""

from __future__ import annotations

import fcntl
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import rankmath as rm

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


def missing() -> str:
    """Why the proofs cannot be compiled here, or nothing."""
    if not shutil.which("coqc") or not shutil.which("make"):
        return "coqc or make is not installed"
    where = subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=True).stdout.strip()
    contrib = Path(where) / "user-contrib"
    lacking = [name for name in ("Coquelicot", "Interval") if not (contrib / name).is_dir()]
    return f"the Coq libraries {' and '.join(lacking)} are not installed" if lacking else ""


REASON = missing()
needs_coq = pytest.mark.skipif(bool(REASON), reason=REASON)


def without_comments(text: str) -> str:
    """The Coq text with its comments, which nest, taken out."""
    out, depth, i = [], 0, 0
    while i < len(text):
        pair = text[i : i + 2]
        if pair in ("(*", "*)"):
            depth += 1 if pair == "(*" else -1
            i += 2
            continue
        if not depth:
            out.append(text[i])
        i += 1
    return "".join(out)


def axioms(printed: str) -> set[str]:
    """The names in one answer of `Print Assumptions`."""
    return set(re.findall(r"^([A-Za-z_][\w.']*)\s*(?::|$)", printed.partition("Axioms:")[2], re.MULTILINE))


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


@pytest.fixture(scope="module")
def compiled() -> Path:
    """The library, compiled where it changed; one process at a time."""
    with (COQ / "Makefile").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(["make", "-C", str(COQ)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return COQ


def test_nothing_is_admitted() -> None:
    for path in sorted(COQ.glob("*.v")):
        found = FORBIDDEN.findall(without_comments(path.read_text()))
        assert not found, f"{path.name}: {found}"


def test_the_reader_of_comments_is_not_fooled() -> None:
    assert FORBIDDEN.findall(
        without_comments("(* a (* nested *) Axiom *) Lemma x : True. Admitted. (* Axiom *)")
    ) == ["Admitted"]


def test_every_row_names_a_theorem_of_its_file() -> None:
    for row in TABLE:
        assert set(row) == {"key", "name", "file", "proves", "scope"}, row
        assert row["proves"] in ("holds", "refuted"), row
        module, name = row["name"].removeprefix("Rankmath.").split(".")
        assert row["file"] == f"{module}.v", row
        text = without_comments((COQ / row["file"]).read_text())
        assert re.search(rf"^(Theorem|Lemma|Corollary) {name}\b", text, re.MULTILINE), row


def test_every_key_is_a_registered_statement_and_agrees_with_it() -> None:
    """What Coq proves is not registered as refuted, nor what it refutes as proved."""
    registered = rm.statements()
    for row in TABLE:
        if row["key"]:
            assert row["key"] in registered, row
            status = registered[row["key"]].status
            assert status != {"holds": "refuted", "refuted": "proved"}[row["proves"]], (row, status)


def test_files_begin_with_the_claim_and_its_key() -> None:
    for row in TABLE:
        text = (COQ / row["file"]).read_text()
        assert text.startswith("(**"), row["file"]
        assert row["key"] in text[: text.index("Require")], row


def test_the_names_people_cite_are_there() -> None:
    assert not set(EXPORTED) - {row["name"].rpartition(".")[2] for row in TABLE}


def test_the_page_prints_the_definitions_as_they_are() -> None:
    assert (COQ / "Definitions.v").read_text() in (COQ.parents[1] / "docs" / "machine-checked.md").read_text()


@needs_coq
def test_assumptions(compiled: Path, tmp_path: Path) -> None:
    """All theorems of the table together rest on the reals' axioms and on nothing else."""
    names = sorted({row["name"] for row in TABLE})
    modules = sorted({row["file"].removesuffix(".v") for row in TABLE})
    together = ", ".join(f"@{name}" for name in names)
    done = coqc(
        tmp_path,
        "Assumptions",
        f"From Rankmath Require {' '.join(modules)}.\nDefinition all := ({together}).\nPrint Assumptions all.",
    )
    assert done.returncode == 0, done.stderr
    assert axioms(done.stdout) == ALLOWED


@needs_coq
def test_an_axiom_is_noticed(compiled: Path, tmp_path: Path) -> None:
    done = coqc(
        tmp_path, "Planted", "Axiom free : False. Lemma all : 0 = 1. case free. Qed. Print Assumptions all."
    )
    assert axioms(done.stdout) - ALLOWED == {"free"}


@needs_coq
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("own_tv.v", "Theorem tv_tanh : tv n (tilt n q g) q <= tanh (D / 4).", "<= tanh (D / 4.01)."),
        ("own_tv.v", "<= / 2 * sum n (fun j => Rabs (nu j)) * D.", "<= / 2.01 * sum n (fun j => Rabs (nu j)) * D."),
        ("seed_closure.v", "0 <= t <= 1 -> row_stochastic", "0 <= t <= 2 -> row_stochastic"),
        (
            "dong2021_norm.v",
            "Theorem composite_not_norm n : (2 <= n)%nat ->",
            "Theorem composite_not_norm n : (1 <= n)%nat ->",
        ),
        ("wu2024_1.v", "<= sqrt (INR n / 2) * K * (1 - eps ^ r)", "<= sqrt (INR n / 2.01) * K * (1 - eps ^ r)"),
        ("theorem_A.v", "-> m k < m i) ->", "-> m k <= m i) ->"),
    ],
)
def test_a_weakened_constant_is_refused(compiled: Path, tmp_path: Path, file: str, old: str, new: str) -> None:
    """The same proof with a better constant, or a weaker hypothesis, does not compile."""
    text = (COQ / file).read_text()
    assert old in text
    planted = text.replace(old, old.replace("<= tanh (D / 4).", new) if new.startswith("<= tanh") else new)
    assert coqc(tmp_path, "Sound", text).returncode == 0
    assert coqc(tmp_path, "Planted", planted).returncode != 0


@needs_coq
def test_statements_unfolded_to_the_reals(compiled: Path, tmp_path: Path) -> None:
    """Statements written with the standard library's words alone follow from the theorems."""
    done = coqc(tmp_path, "Unfolded", (Path(__file__).parent / "unfolded.v").read_text())
    assert done.returncode == 0, done.stderr
