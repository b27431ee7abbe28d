"""`rankmath check`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from rankmath.cli.app import as_json


@click.command()
@click.argument("files", nargs=-1, type=click.Path())
@click.option(
    "--export", type=click.Path(dir_okay=False), help="Write the checker itself, as one file that runs alone."
)
@click.option(
    "--coq", is_flag=True, help="Also write each certificate that is accepted as a Coq theorem, a .v file here."
)
@as_json
def check(files: tuple[str, ...], export: str | None, coq: bool, as_json: bool) -> None:
    """The independent checker: accept or reject certificates.

    Says in words what was checked. Exit code 1 if one is rejected or left undecided, or with --coq not written. A
    folder stands for the .json files in it, - for standard input.

    Example: rankmath check proofs/certificates/*.json
    """
    from rankmath.checker import checker
    from rankmath.checker.export import standalone
    from rankmath.console import Progress
    from rankmath.files import write
    from rankmath.report.sources import WITHOUT, is_instance
    from rankmath.validation import InvalidArgument

    if export is not None:
        write(export, standalone(), name="export")
        click.echo(f"{export}: the checker in one file; run it with python -I {export} FILE...")
    elif not files:
        raise InvalidArgument("files: none given; name certificates to check, or --export FILE")
    with TemporaryDirectory() as folder:
        names = [name for given in files for name in _certificates(given, Path(folder))]
        alone = {name for name in names if is_instance(name)}
        with Progress(len(names), "files", quiet=as_json or len(names) < 2) as progress:

            def counted() -> Iterator[str]:
                for name in names:
                    yield name
                    progress.step(Path(name).name)

            def say(told: str) -> None:
                for name in alone:  # the checker knows certificates alone
                    told = re.sub(rf"({re.escape(name)}.*?){_NO_FORMAT}", rf"\1{WITHOUT}", told, flags=re.DOTALL)
                click.echo(told.replace(f"{folder}/", ""))

            code = checker.run(counted(), as_json=as_json, say=say)
        sys.exit(max(code, *(_write_coq(name) for name in names)) if coq and names else code)


#: What the checker says of any other JSON object.
_NO_FORMAT = re.escape("certificate.format is missing")


def _certificates(given: str, folder: Path) -> list[str]:
    """The files that an argument names: itself, those of a folder, or standard input as a file in `folder`."""
    from rankmath.validation import InvalidArgument

    if given == "-":
        typed = folder / "standard-input.json"
        typed.write_bytes(sys.stdin.buffer.read())
        return [str(typed)]
    path = Path(given)
    if path.is_dir():
        found = sorted(map(str, path.glob("*.json")))
        if not found:
            raise InvalidArgument(f"files: {given!r} given; the folder holds no .json file")
        return found
    if not path.exists():
        raise InvalidArgument(f"files: {given!r} given; there is no such file or folder")
    return [given]


def _write_coq(name: str) -> int:
    """Write the certificate as rm_ID.v, or say why not: 0 or 1."""
    from rankmath.certificates.coq import to_coq
    from rankmath.certificates.coq_derivation import derivation_file
    from rankmath.certificates.coq_terms import Untranslatable
    from rankmath.certificates.coq_words import NoCoq
    from rankmath.checker import checker
    from rankmath.files import read, write

    result = checker.check(name)
    if not result.accepted:
        return 1
    try:
        content = json.loads(read(name, name="files"))
        left_out: list[str] = []
        if proved := content["kind"] == "derivation":
            text = derivation_file(content["claim"], content["given"], content["data"]["lines"])
        else:
            text, left_out = to_coq(content)
    except (Untranslatable, NoCoq) as why:
        said = "PROVED; not written for Coq, because" if content["kind"] == "derivation" else "no Coq file:"
        click.echo(f"{name}: {said} {why}")
        return 1
    target = f"{str(result.id).replace('-', '_')}.v"  # a file need not name its id
    write(target, text, name="coq")
    # A derivation rests on the lemmas of proofs/coq, which `make` compiles; an instance on nothing of ours.
    command = f"coqc -R proofs/coq Rankmath {target}" if proved else f"coqc {target}"
    click.echo(f"{name}: {target} states it as a theorem; {command} checks it")
    for line in left_out:
        click.echo(f"  left out: {line}")
    return 0
