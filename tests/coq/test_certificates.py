"""Certificates become Coq files: Coq accepts them and refuses changed ones; what cannot be written is said."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankmath.certificates.coq import to_coq
from rankmath.certificates.coq_terms import Untranslatable

FOLDER = Path(__file__).parents[2] / "proofs" / "certificates"
LIBRARIES = Path("user-contrib/Interval")


def missing() -> str:
    if not shutil.which("coqc"):
        return "coqc is not installed"
    where = subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=True).stdout.strip()
    return "" if (Path(where) / LIBRARIES).is_dir() else "coq-interval is not installed"


REASON = missing()
needs_coq = pytest.mark.skipif(bool(REASON), reason=REASON)


def network(claim: str, *, kind: str = "holds", **more: Any) -> dict[str, Any]:
    """Two tokens in the plane, one head, a causal mask."""
    heads = [{"W": [["1/2", "1/3"], [0, "-1/4"]], "W_QK": [["1/5", 0], ["1/3", "1*2^-3"]], "key_bias": [0, "1/9"]}]
    data = {
        "X": [[1, 0], ["-1/3", "1/7"]],
        "d_qk": 2,
        "skip": 0,
        "layernorm": "none",
        "mask": [[1, 0], [1, 1]],
        "layers": [{"heads": heads, "bias": [0, 1]}],
    }
    return {
        "id": "rm-1",
        "statement": "my:claim",
        "kind": kind,
        "claim": claim,
        "given": ["H == 1"],
        "data": data | more,
    }


def stored(pattern: str) -> dict[str, Any]:
    (path,) = sorted(FOLDER.glob(pattern))[:1]
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def accepted(folder: Path, text: str) -> bool:
    (folder / "certificate.v").write_text(text)
    run = subprocess.run(
        ["coqc", "-q", "-w", "none", "certificate.v"], cwd=folder, capture_output=True, check=False
    )
    return run.returncode == 0


@needs_coq
@pytest.mark.parametrize(
    "content",
    [
        lambda: stored("dong2021-norm_*.json"),
        lambda: {"statement": "own:tv", "kind": "holds", "data": {"g": ["3/2", 0, "1/4"], "logits": [0, 1, -1]}},
        lambda: {"statement": "dong2021v1:A.3", "kind": "violates", "data": {"E": [[3, 0]], "weights": [1, 9999]}},
        lambda: {"statement": "seed:closure", "kind": "holds", "data": {
            "factors": [[["1/3", "2/3"], [1, 0]], [["1/2", "1/2"], ["1/4", "3/4"]]],
            "product": [["1/3", "2/3"], ["1/2", "1/2"]],
        }},
        lambda: network(
            "diameter(X[1], 1) <= norm(W[0, 0], inf)*diameter(X[0], 1) and diameter(X[1], 2) < 1 and n >= 2"
            " and norm(W_QK[0, 0], 2) < 1/2 and mu(X[1]) <= norm(W[0, 0], 2)*mu(X[0])"
        ),
        lambda: network("diameter(X[1], inf) <= diameter(X[0], inf)**3/9", kind="violates"),
    ],
    ids=["norm", "total variation", "sandwich", "closure", "network", "violated network"],
)  # fmt: skip
def test_coq_accepts(tmp_path: Path, content: Callable[[], dict[str, Any]]) -> None:
    text, left_out = to_coq(content())
    assert not left_out
    assert accepted(tmp_path, text)


@needs_coq
@pytest.mark.parametrize(
    ("old", "new"),
    [("[(-1 / 3); (1 / 7)]", "[(-1 / 3); (1 / 6)]"), ("[(1 / 3); (1 / 8)]", "[(1 / 3); (1 / 7)]")],
    ids=["token", "weight"],
)
def test_coq_refuses_a_changed_number(tmp_path: Path, old: str, new: str) -> None:
    """The proof is the instance's: with another token, or another matrix under its spectral norm, there is none."""
    text, _ = to_coq(network("norm(W_QK[0, 0], 2)*diameter(X[1], 1) <= 1"))
    assert "spectral 2 M_0_0 s_M_0_0" in text
    assert old in text
    assert not accepted(tmp_path, text.replace(old, new))


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (network("residual(X[1], inf) <= 1"), "residual"),
        (network("norm(W[0, 0], 2) <= 1/100"), "too near to equality"),
        ({"statement": "dong2021:2.1", "kind": "holds", "claim": "", "data": {"layers": []}}, "dong2021:2.1"),
        (network("diameter(X[1], 1) <= 1", layernorm="sphere"), "layernorm"),
        (network("diameter(X[1], 1) <= diameter(X[1], 1)"), "too near to equality"),
        (network("diameter(X[1], 1) <= 1/1000"), "too near to equality"),
        ({"statement": "wu2024:3", "kind": "exists", "data": {}}, "kind"),
        ({"statement": "wu2024:2-step", "kind": "violates", "data": {"A": [[1]]}}, "wu2024:2-step"),
        ({"statement": "own:tv", "kind": "holds", "data": {"g": [0.5, 0]}}, "0.5"),
    ],
)
def test_what_cannot_be_written_is_said(content: dict[str, Any], word: str) -> None:
    with pytest.raises(Untranslatable, match=word):
        to_coq(content)
