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
    from rankmath.validation import InvalidArgument
    from rankmath.verification.statement import Statement

    found = []
    if claim is not None:
        where = {letter: "1"} if letter else {}
        found.append(Statement("mine:claim", claim, given, where))
    elif given or letter:
        raise InvalidArgument("--given, --sharpen: given without --claim; they belong to one")
    for name in files:
        try:
            content = Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidArgument(f"path: {name!r} given; not readable ({error})") from None
        found += claims_in(name, content)
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
    """Examine each claim, say what was found, and leave the counterexample with its certificate in the folder."""
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
    """Certificate, Python and LaTeX of the counterexample, written; where they are, in words."""
    from rankmath.report.counterexamples import handed_over
    from rankmath.verification.instance import NetworkInstance

    instance = answer.battery.counterexample
    if not answer.refuted or not isinstance(instance, NetworkInstance):
        return []
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", answer.battery.statement.key)
    folder = Path(output) / "claims"
    try:
        certificate = answer.battery.certificate()
    except ArithmeticError as refusal:
        return [*handed_over(instance, None, folder, name), f"no certificate: {refusal}"]
    lines = handed_over(instance, certificate, folder, name)
    path = certificate.save(folder / f"{name}.json")
    return [*lines, f"certificate: {path} ({certificate.id}, accepted by the checker)"]


def plain(answer: Answer, output: str) -> dict[str, Json]:
    """The answer as plain data."""
    battery = answer.battery
    return {
        **battery.to_dict(),
        "claim": battery.statement.claim_text,
        "given": list(battery.statement.given_texts),
        "answer": answer.lines(),
        "implied_by": list(answer.implied_by),
        "constant": None if answer.letter == "" else answer.constant,
        "files": saved(answer, output),
    }
