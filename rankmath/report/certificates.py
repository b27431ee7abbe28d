"""The committed certificates: `python -m rankmath.report.certificates FOLDER` writes them, `--check` compares."""

from __future__ import annotations

from pathlib import Path

import click

from rankmath.decide.campaigns.committed import Refusal, build
from rankmath.report.sources import certificate_file

#: Old and new ids of what has been issued again, in the folder of the certificates.
TABLE = "renamed.txt"


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 if a file is missing, differs or is left over.")
def main(folder: Path, check: bool) -> None:
    """Write the certificates the proofs cite into FOLDER, and remove what is no longer issued.

    Example: python -m rankmath.report.certificates proofs/certificates
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
