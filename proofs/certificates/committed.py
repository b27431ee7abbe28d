"""The committed certificates: `python proofs/certificates/committed.py FOLDER` writes them, `--check` compares.

One for every exhibit of the registry, and some instances of each statement.

Near-extremal and drawn instances, their numbers cut to a few bits, so that a certificate is short and does not hang
on the last digit of a libm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import NotIssued
from rankmath.claims import statements
from rankmath.decide.battery import judge
from rankmath.model.network import Network
from rankmath.model.positions import ALiBi, Rotary
from rankmath.model.sublayers import Sublayer
from rankmath.report.sources import certificate_file
from rankmath.validation import NumpyArray
from rankmath.verification.instance import ArrayInstance, Instance, NetworkInstance
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome

#: Certified instances of one statement, beside its exhibit.
INSTANCES = 3
#: Drawn instances looked at before a generator is given up.
_TRIES = 12
#: Significant bits that are kept of every number.
_BITS = 20


@dataclass(frozen=True)
class Refusal:
    """A certificate that should have been issued and was not."""

    key: str
    reason: str


def build() -> Iterator[Certificate | Refusal]:
    """Every certificate the registry can give, in its order; the same ones each time."""
    for statement in statements().values():
        if statement.exhibit is not None:
            try:
                yield statement.exhibited()
            except NotIssued as refused:
                yield Refusal(statement.key, str(refused))
        if statement.certificate is not None or (statement.exhibit is None and not statement.arrays):
            yield from _instances(statement)


def _instances(statement: Statement) -> Iterator[Certificate | Refusal]:
    issued: dict[str, Certificate] = {}
    reason = "no instance of the registered status was drawn"
    for source in _sources(statement):
        for instance in source:
            if not _carried(instance):
                reason = ""
                continue
            try:
                certificate = _certify(statement, shortened(instance))
            except NotIssued as refused:
                reason = str(refused)
                continue
            if certificate is not None and certificate.id not in issued:
                issued[certificate.id] = certificate
                yield certificate
                break
        if len(issued) == INSTANCES:
            return
    if not issued and reason:
        yield Refusal(statement.key, reason)


def _certify(statement: Statement, instance: Instance) -> Certificate | None:
    """The certificate of an instance that shows what is registered; None if it shows nothing of the kind."""
    verdict = judge(statement, instance, "balls")
    wanted = Outcome.VIOLATED if statement.status == "refuted" else Outcome.HOLDS
    if not verdict.certified or verdict.outcome != wanted:
        return None
    return statement.certified(instance, verdict)


def _carried(instance: Instance) -> bool:
    """Whether a certificate can carry the instance: in one line, maps are relu or tanh, without LayerNorm."""
    if isinstance(instance, ArrayInstance) or not instance.net.is_one_line:
        return True
    net = instance.net
    if any(net.mlp):
        return net.norm is None and all(f is None or f.activation in ("relu", "tanh") for f in net.mlp)
    return net.norm is None or net.norm.kind in ("sphere", "column")


def _sources(statement: Statement) -> Iterator[Iterator[Instance]]:
    """The near-extremal instances, then the generators in turn, each with its own fixed seed."""
    if statement.extremal is not None:
        yield statement.extremal(np.random.default_rng(0))
    for index in range(INSTANCES if statement.draws else 0):
        yield _members(statement.draws[index % len(statement.draws)](np.random.default_rng([0, index]), _TRIES))


def _members(batch: Instance) -> Iterator[Instance]:
    return (batch.select(i) for i in range(len(batch)))


def shortened(instance: Instance, bits: int = _BITS) -> Instance:
    """The instance with every float cut to `bits` significant bits; exact numbers and masks stay.

    >>> shortened(ArrayInstance({"c": np.asarray([0.1, -3.0])}), bits=4)["c"].tolist()
    [0.1015625, -3.0]
    """

    def short(array: NumpyArray) -> NumpyArray:
        if array is None or np.asarray(array).dtype.kind != "f":
            return array
        mantissa, exponent = np.frexp(np.asarray(array, dtype=float))
        return np.asarray(np.ldexp(np.round(mantissa * 2.0**bits), exponent - bits))

    if isinstance(instance, ArrayInstance):
        return ArrayInstance({name: short(array) for name, array in instance.arrays.items()}, instance.label)
    net = instance.net
    if not net.is_one_line:
        layers = [[_shortened(part, short) for part in layer] for layer in net.sublayers]
        return NetworkInstance(Network.from_layers(layers, net.tokens), short(instance.X), instance.label)
    weights = (short(net.W_QK), short(net.W), net.d_qk, short(net.key_bias), short(net.bias))
    cut = Network.from_arrays(*weights, net.skip, net.mlp, net.norm, net.mask)
    return NetworkInstance(cut, short(instance.X), instance.label)


def _shortened(part: Sublayer, short: Callable[[NumpyArray], NumpyArray]) -> Sublayer:
    """The sublayer with the numbers of its attention cut, those of its positions too."""
    a = part.attention
    if a is None:
        return part
    names = ("query", "key", "value", "output", "key_bias", "bias", "b_Q", "b_K")
    changes: dict[str, Any] = {name: short(getattr(a, name)) for name in names if getattr(a, name) is not None}
    if a.rotary is not None:
        changes["rotary"] = Rotary(short(a.rotary.cos), short(a.rotary.sin))
    if isinstance(a.position, ALiBi):
        changes["position"] = ALiBi(short(a.position.slopes))
    return part.with_attention(**changes)


#: Old and new ids of what has been issued again, in the folder of the certificates.
TABLE = "renamed.txt"


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 if a file is missing, differs or is left over.")
def main(folder: Path, check: bool) -> None:
    """Write the certificates the proofs cite into FOLDER, and remove what is no longer issued.

    Example: python proofs/certificates/committed.py proofs/certificates
    """
    refused, texts = [], {}
    for certificate in build():
        if isinstance(certificate, Refusal):
            refused.append(certificate)
            click.echo(f"not issued: {certificate.reason}", err=True)
        else:
            texts[certificate_file(certificate)] = certificate
    present = {path.name for path in folder.glob("*.json")}
    # What an id of the first format was renamed to stays, whatever is issued today.
    table = folder / TABLE
    renamed = set(table.read_text(encoding="utf-8").split()) if table.is_file() else set()
    present = {name for name in present if name in texts or Path(name).stem.rpartition("_")[2] not in renamed}
    if check:
        differing = sorted(present ^ texts.keys())
        for name in differing:
            click.echo(f"{'left over' if name in present else 'missing'}: {name}", err=True)
        raise SystemExit(1 if differing or refused else 0)
    folder.mkdir(parents=True, exist_ok=True)
    for name, certificate in texts.items():
        certificate.save(folder / name)
        click.echo(name)
    # What could not be issued this time is kept, not thrown away.
    for name in sorted(present - texts.keys()) if not refused else ():
        (folder / name).unlink()
        click.echo(f"removed {name}")
    raise SystemExit(1 if refused else 0)


if __name__ == "__main__":
    main()
