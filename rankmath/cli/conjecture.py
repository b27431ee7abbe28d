"""`rankmath verify --claim`: is a claim of one's own true?"""

from __future__ import annotations

import json
import math
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rankmath.decide.conjecture import Answer
    from rankmath.validation import Json
    from rankmath.verification.statement import Statement


def statements_of(
    claim: str | None, given: tuple[str, ...], files: list[str], letter: str | None
) -> list[Statement]:
    """The claims typed and those in files."""
    from rankmath.decide.conjecture import claims_in
    from rankmath.files import read_text
    from rankmath.validation import InvalidArgument
    from rankmath.verification.statement import Statement

    found = []
    if claim is not None:
        where = {letter: "1"} if letter else {}
        found.append(Statement("mine:claim", claim, given, where))
    elif given or letter:
        raise InvalidArgument("--given, --sharpen: given without --claim; they belong to one")
    for name in files:
        found += claims_in(name, read_text(name))
    return found


def answer_all(
    entries: list[Statement],
    *,
    letter: str | None,
    seconds: float,
    seed: int,
    instances: int,
    output: str,
    as_json: bool,
) -> None:
    """Examine each claim, say what was found, and leave counterexample or proof and certificate in the folder."""
    from rankmath.console import Progress
    from rankmath.decide import conjecture

    answers = []
    for entry in entries:
        with Progress(seconds, "s", quiet=as_json) as progress:
            if letter:
                answer = conjecture.sharpen(entry, letter, seconds=seconds, seed=seed)
            else:
                began = time.monotonic()

                def tell(count: int, score: float, began: float = began, progress: Progress = progress) -> None:
                    best = f"lhs/rhs <= {math.exp(score):.6g}" if score > -700 else "none near yet"
                    progress.at(time.monotonic() - began, f"{count} evaluations, {best}")

                answer = conjecture.examine(entry, seconds=seconds, seed=seed, instances=instances, tell=tell)
        answers.append(answer)
        if not as_json:
            for line in (*answer.lines(), *saved(answer, output)):
                click.echo(line)
        if answer.battery.interrupted:
            break
    if as_json:
        click.echo(json.dumps([plain(answer, output) for answer in answers], indent=1))
    if answers[-1].battery.interrupted:
        left = len(entries) - len(answers)
        rest = f"; {left} claims were not reached" if left else ""
        raise KeyboardInterrupt(f"what was found by then is above{rest}")


def saved(answer: Answer, output: str) -> list[str]:
    """Certificate, Python and LaTeX of the counterexample, or certificate and LaTeX of the proof, written; where
    they are, in words."""
    from rankmath.report.counterexamples import handed_over
    from rankmath.verification.instance import NetworkInstance

    if answer.proved:
        return _saved_proof(answer, Path(output) / "claims")
    instance = answer.battery.counterexample
    if not answer.refuted or not isinstance(instance, NetworkInstance):
        return []
    name = _slug(answer.battery.statement.key)
    folder = Path(output) / "claims"
    try:
        certificate = answer.battery.certificate()
    except ArithmeticError as refusal:
        return [*handed_over(instance, None, folder, name), f"no certificate: {refusal}"]
    lines = handed_over(instance, certificate, folder, name)
    path = certificate.save(folder / f"{name}.json")
    return [*lines, f"certificate: {path} ({certificate.id}, accepted by the checker)"]


def _saved_proof(answer: Answer, folder: Path) -> list[str]:
    """The derivation as a certificate and as LaTeX."""
    from rankmath.decide.prover.reading import in_latex
    from rankmath.files import folder as make_folder
    from rankmath.files import write

    battery = answer.battery
    certificate = battery.derivation
    assert certificate is not None
    assert battery.proof is not None
    name = _slug(battery.statement.key)
    make_folder(folder)
    path = certificate.save(folder / f"{name}.json")
    tex = write(folder / f"{name}.tex", in_latex(battery.proof, name))
    accepted = "accepted by the checker" if certificate.check().accepted else "refused by the checker"
    return [f"LaTeX: {tex}", f"derivation: {path} ({certificate.id}, {accepted})"]


def _slug(key: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", key)


def plain(answer: Answer, output: str) -> dict[str, Json]:
    """The answer as plain data."""
    battery = answer.battery
    return {
        **battery.to_dict(),
        "claim": battery.statement.claim_text,
        "given": list(battery.statement.given_texts),
        "answer": answer.lines(),
        "lemmas": sorted(battery.proof.lemmas) if battery.proof is not None else [],
        "implied_by": list(answer.implied_by),
        "constant": None if answer.letter == "" else answer.constant,
        "proved_factor": answer.factor or None,
        "files": saved(answer, output),
    }
