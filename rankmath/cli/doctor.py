"""`rankmath doctor`."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import re
import shutil
import subprocess
import sys

import click

from rankmath.cli.app import as_json

#: What is installed with pip: name, what it is for, and the extra that brings it: "" for the core,
#: its own name where there is no extra.
PACKAGES = (
    ("numpy", "everything", ""),
    ("scipy", "residuals by linear programs, searches", ""),
    ("sympy", "bounds as formulas", ""),
    ("mpmath", "any precision", ""),
    ("python-flint", "ball arithmetic: certified verdicts, certificates", ""),
    ("array-api-compat", "arrays of other libraries", ""),
    ("threadpoolctl", "threads of BLAS", ""),
    ("click", "the commands", ""),
    ("rich", "tables and progress", ""),
    ("matplotlib", "figures, plots", "report"),
    ("jinja2", "the report's page", "report"),
    ("llvmlite", "compiled layers: 1.5 to 3 times as fast with hundreds of tokens, 20 to 300 with few", "fast"),
    ("safetensors", "checkpoints of real models", "models"),
    ("tokenizers", "texts for real models", "models"),
    ("gguf", "checkpoints in GGUF files", "models"),
    ("waitress", "the page of `rankmath explore`, served", "explore"),
    ("dask", "campaigns on a cluster", "scale"),
    ("joblib", "campaigns under joblib", "scale"),
    ("cupy-cuda13x", "layers on a GPU", "gpu"),
    ("pyarrow", "campaigns as Parquet", "pyarrow"),
    ("sphinx", "the site", "docs"),
    ("furo", "the site's theme", "docs"),
    ("myst-parser", "the site's pages", "docs"),
    ("latex2mathml", "the site's formulas", "docs"),
    ("pytest", "the tests, with all that they run", "test"),
)
#: Programs: name, the option that prints a version, what it is for.
PROGRAMS = (
    ("pdflatex", "--version", "the appendix as PDF"),
    ("bibtex", "--version", "its bibliography"),
    ("coqc", "--version", "the machine-checked proofs in proofs/coq"),
    ("git", "--version", "installing from the source tree"),
)


def diagnosis() -> list[dict[str, str]]:
    """One row for everything rankmath can use: its version, what it is for, and how to get what is missing."""
    rows = [_row("python", platform.python_version(), "everything", "")]
    least = _least_versions()
    for name, purpose, extra in PACKAGES:
        wanted = f"'rankmath[{extra}]'" if extra else "rankmath"
        missing = f"pip install {wanted if extra != name else name}"
        version = _package(name)
        row = _row(name, version, purpose, missing)
        if version and _parts(version) < _parts(least.get(name, "0")):
            row |= {"version": f"{version}, too old: {least[name]} or later", "get it": missing}
        rows.append(row)
    rows.append(_row("BLAS", _blas(), "matrix products", ""))
    device = _device()
    rows.append(_row("CUDA device", device, "layers on a GPU", "an NVIDIA GPU with its driver"))
    for name, option, purpose in PROGRAMS:
        rows.append(_row(name, _program(name, option), purpose, f"the program {name}, from your system's packages"))
    return rows


def _row(name: str, version: str, purpose: str, missing: str) -> dict[str, str]:
    return {"name": name, "version": version or "missing", "for": purpose, "get it": "" if version else missing}


def _package(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _least_versions() -> dict[str, str]:
    """The least version of each package that setup.cfg allows; nothing is known where rankmath is not installed."""
    try:
        wanted = importlib.metadata.requires("rankmath") or []
    except importlib.metadata.PackageNotFoundError:
        wanted = []
    found = (re.match(r"([\w-]+)[^;]*>= ?([\d.]+)", line) for line in wanted)
    return {match[1]: match[2] for match in found if match}


def _parts(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)[:3]]


def _blas() -> str:
    import numpy  # noqa: F401  (its BLAS is what is asked about)
    from threadpoolctl import threadpool_info

    found = [part for part in threadpool_info() if part["user_api"] == "blas"]
    words = (f"{part['internal_api']} {part['version']}, {part['num_threads']} threads" for part in found)
    return "; ".join(dict.fromkeys(words))[:60]


def _device() -> str:
    try:
        import cupy

        return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())
    except Exception:  # no CuPy, no driver, no device: all mean that there is none to use
        return ""


def _program(name: str, option: str) -> str:
    path = shutil.which(name)
    if path is None:
        return ""
    said = subprocess.run([path, option], capture_output=True, text=True, timeout=20, check=False).stdout
    return said.strip().splitlines()[0][:60] if said.strip() else "found"


@click.command()
@as_json
def doctor(as_json: bool) -> None:
    """What is installed, and what is missing for what.

    Exit code 1 if something is missing that every command needs.

    Example: rankmath doctor
    """
    from rankmath.console import print_table
    from rankmath.version import __version__

    rows = diagnosis()
    if as_json:
        click.echo(json.dumps({"rankmath": __version__, "parts": rows}, indent=1))
    else:
        click.echo(f"rankmath {__version__} on {platform.platform()}, {sys.executable}")
        columns = ("name", "version", "for", "get it")
        cells = [
            (row["name"], (row["version"], "red" if row["get it"] else "green"), row["for"], row["get it"])
            for row in rows
        ]
        print_table(columns, cells, left=columns, wrapped="for")
    core = {name for name, _, extra in PACKAGES if not extra}
    sys.exit(1 if any(row["name"] in core and row["get it"] for row in rows) else 0)
