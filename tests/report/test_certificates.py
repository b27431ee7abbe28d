"""The committed certificates: accepted, complete, and issued again from the registry as they stand."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from rankmath.certificates.certificate import _ACCEPTED, Certificate
from rankmath.checker import checker
from rankmath.claims import statements
from rankmath.files import proofs_folder
from rankmath.model.network import Network
from rankmath.report.sources import certificate_file, committed_certificates
from rankmath.verification.instance import ArrayInstance, NetworkInstance, network_instance

sys.path[:0] = [str(Path(__file__).parents[2] / "proofs" / "certificates")]

import committed as script  # noqa: E402
from committed import TABLE, Refusal, build, main, shortened  # noqa: E402

RENAMED = {line.split()[1] for line in (proofs_folder() / "certificates" / TABLE).read_text().splitlines()}
FILES = sorted((proofs_folder() / "certificates").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_checker_accepts_it_and_it_bears_its_own_name(path: Path, checked: dict[str, checker.CheckResult]) -> None:
    result = checked[path.name]
    assert result.accepted, result.reason
    assert path.name == certificate_file(Certificate.load(path))
    assert path.name.endswith(f"_{result.id}.json")


def test_every_statement_that_can_be_certified_has_certificates() -> None:
    committed = committed_certificates()
    for key, entry in statements().items():
        kinds = {certificate.kind for certificate in committed.get(key, ())}
        if entry.exhibit is not None:
            assert kinds & {"violates", "exists"}, key
        elif not entry.arrays:
            assert {"proved": "holds", "refuted": "violates"}[entry.status] in kinds, key
        if entry.certificate is not None:
            assert {"proved": "holds", "refuted": "violates"}[entry.status] in kinds, key
    assert set(committed) <= set(statements())


@pytest.fixture(scope="module")
def issued(checked: dict[str, checker.CheckResult]) -> list[Certificate | Refusal]:
    """What the script would write, made once; a text that the checker has accepted is not put before it again."""
    _ACCEPTED.update({path.read_text(encoding="utf-8").strip(): checked[path.name] for path in FILES})
    return list(build())


def test_they_are_issued_again_with_the_same_data(issued: list[Certificate | Refusal]) -> None:
    """The same claims about the same exact data; ids too, where no hint comes out of a LAPACK routine."""
    assert not [entry for entry in issued if isinstance(entry, Refusal)]
    committed = {c.id: c for group in committed_certificates().values() for c in group}

    # Where an equilibrium lies to the last bit, and the norm in which it attracts, depend on LAPACK too.
    approximate = {"tokens", "radius", "attracting", "equilibria"}

    def claim(certificate: Certificate) -> tuple[str, str, object]:
        data = {name: value for name, value in certificate.data.items() if name not in approximate}
        return certificate.statement, certificate.kind, data

    assert committed.keys() >= RENAMED
    again = [entry for entry in issued if isinstance(entry, Certificate)]
    claims = [claim(certificate) for certificate in committed.values()]
    for certificate in again:
        assert certificate.hints or certificate.id in committed
        assert claim(certificate) in claims
    claims = [claim(certificate) for certificate in again]
    for name, certificate in committed.items():
        assert name in RENAMED or claim(certificate) in claims


def test_an_instance_keeps_its_leading_bits_and_its_shape() -> None:
    net = Network.random(tokens=4, dim=3, heads=2, layers=2, seed=0, biases=True)
    instance = network_instance(net, net.random_input(seed=1))
    cut = shortened(instance, bits=8)
    assert isinstance(cut, NetworkInstance)
    for whole, part in ((instance.X, cut.X), (net.W, cut.net.W), (net.bias, cut.net.bias), (net.W_QK, cut.net.W_QK)):
        assert np.abs(part - whole).max() <= 2.0**-8 * np.abs(whole).max()
        assert part.shape == whole.shape
        mantissa, _ = np.frexp(part)
        assert (mantissa * 2.0**8 == np.round(mantissa * 2.0**8)).all()
    exact = ArrayInstance({"P": np.asarray([1, 2], dtype=object)})
    kept = shortened(exact)
    assert isinstance(kept, ArrayInstance)
    assert kept["P"] is exact["P"]


def test_the_script_writes_them_and_sees_what_is_missing_or_left_over(
    tmp_path: Path, issued: list[Certificate | Refusal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "build", lambda: iter(issued))
    written = CliRunner().invoke(main, [str(tmp_path)])
    assert written.exit_code == 0, written.output
    assert {path.stem.partition("_")[0] for path in tmp_path.glob("*.json")} == {
        path.stem.partition("_")[0] for path in FILES
    }
    first, *_ = sorted(tmp_path.glob("*.json"))
    first.rename(tmp_path / "own-tv_rm-0.json")
    checked = CliRunner().invoke(main, [str(tmp_path), "--check"])
    assert checked.exit_code == 1
    assert f"missing: {first.name}" in checked.output
    assert "left over: own-tv_rm-0.json" in checked.output
