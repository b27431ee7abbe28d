"""`rankmath verify --claim`: is a claim of one's own true?"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rankmath.decide.conjecture import Answer
    from rankmath.decide.prover.proof import FoundProof
    from rankmath.validation import Json
    from rankmath.verification.statement import Statement


def statements_of(
    claims: tuple[str, ...], given: tuple[str, ...], files: list[str], letter: str | None
) -> list[Statement]:
    """The claims typed and those in files."""
    from rankmath.claims.own_flows import own_claim
    from rankmath.decide.conjecture import claims_in
    from rankmath.definitions.hypotheses import ALIASES
    from rankmath.files import read_text
    from rankmath.formula.language import ARRAYS, FUNCTIONS, LETTERS
    from rankmath.formula.reader import hypotheses_in
    from rankmath.formula.terms import INDICES
    from rankmath.validation import InvalidArgument

    found = []
    if letter is not None and not letter.isidentifier():
        raise InvalidArgument(f"--sharpen: {letter!r} given; a letter of the claim is needed, such as c")
    if letter in (*LETTERS, *ALIASES, *ARRAYS, *INDICES, *FUNCTIONS):
        raise InvalidArgument(f"--sharpen: {letter!r} given; it has a meaning in the language; a new letter is needed")
    where = {letter: "1"} if letter else {}
    hypotheses = [part for text in given for part in hypotheses_in(text)]
    for number, claim in enumerate(claims, 1):
        if letter and not re.search(rf"\b{re.escape(letter)}\b", claim):
            raise InvalidArgument(f"--sharpen: {letter!r} given; it is not in the claim {claim}")
        key = "mine:claim" if len(claims) == 1 else f"mine:claim-{number}"
        try:
            found.append(own_claim(key, claim, hypotheses, where))
        except InvalidArgument as error:
            # Of several claims the message names which.
            which = f"claim {number}" if len(claims) > 1 else "claim"
            raise InvalidArgument(re.sub(r"^claim", which, str(error))) from None
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
    coq: bool = False,
) -> None:
    """Examine each claim, say what was found, and leave counterexample or proof and certificate in the folder."""
    from rankmath.console import Progress
    from rankmath.decide import conjecture
    from rankmath.validation import InvalidArgument

    answers, refused = [], []
    for entry in entries if len(entries) > 1 else ():  # what is no claim is said, and of which, before any search
        try:
            conjecture.allowed(entry)
        except InvalidArgument as error:
            raise InvalidArgument(f"{entry.key}: {error}") from None
    for entry in entries:
        compared = entry.compared
        with Progress(seconds, "s", quiet=as_json) as progress:

            def tell(count: int, score: float, progress: Progress = progress, compared: str = compared) -> None:
                best = f"{compared} <= {math.exp(score):.6g}" if -700 < score < 700 else "none near yet"
                progress.at(0, f"{count} evaluations, {best}")

            try:
                if letter:
                    answer = conjecture.sharpen(entry, letter, seconds=seconds, seed=seed, tell=tell)
                else:
                    answer = conjecture.examine(entry, seconds=seconds, seed=seed, instances=instances, tell=tell)
            except InvalidArgument as error:  # the other claims are answered
                refused.append(f"{entry.key}: {error}")
                continue
        answers.append(answer)
        if not as_json:
            told = (f"{name}: {said}" for name, said in _words(entry).items() if said)
            for line in (*told, *answer.lines(), *saved(answer, output, coq=coq)):
                click.echo(line)
        if answer.battery.interrupted:
            break
    if as_json and answers:
        click.echo(json.dumps([plain(answer, output, coq=coq) for answer in answers], indent=1))
    if answers and answers[-1].battery.interrupted:
        left = len(entries) - len(answers) - len(refused)
        rest = f"; {left} claims were not reached" if left else ""
        raise KeyboardInterrupt(f"what was found by then is above{rest}")
    if refused:
        raise InvalidArgument("\n".join(refused) if len(entries) > 1 else refused[0].partition(": ")[2])


def saved(answer: Answer, output: str, *, coq: bool = False) -> list[str]:
    """Certificate, Python and LaTeX of the counterexample, witness or tightest instance, or certificate and LaTeX
    of the proof (both where a constant was sharpened), written; where they are, in words."""
    from rankmath.decide.campaigns.exact_json import encode
    from rankmath.decide.existence import certificate_at
    from rankmath.files import write
    from rankmath.report.counterexamples import handed_over
    from rankmath.report.fragments import in_its_words, is_lacking
    from rankmath.validation import InvalidArgument
    from rankmath.verification.instance import NetworkInstance

    folder, battery, statement = Path(output) / "claims", answer.battery, answer.statement
    for name in (_slug(statement.key), f"{_slug(statement.key)}-tightest"):
        for file in (*(f"{name}.{ending}" for ending in ("json", "py", "tex")), _coq_file(name)):
            (folder / file).unlink(missing_ok=True)  # those of another claim in a run before
    if battery.proof is not None and not answer.denied:
        return _saved_proof(answer, battery.proof, folder, coq)
    # Of the constant that was looked for, beside the instance with which a smaller one fails.
    proved = _saved_proof(answer, answer.proof, folder, coq) if answer.letter and answer.proof is not None else []
    instance = battery.counterexample if answer.refuted else answer.near
    if answer.denied or not isinstance(instance, NetworkInstance):
        return proved
    name = _slug(statement.key) + ("" if answer.refuted else "-tightest")
    if answer.letter:  # the claim with the constant that fails
        statement = answer.failing
    certificate, refusal = None, battery.trouble
    try:
        if answer.refuted and answer.sought is None:
            certificate = battery.certificates[0] if battery.certificates else None
        else:
            certificate = certificate_at(statement, instance)
    except (ArithmeticError, InvalidArgument) as failure:
        refusal = str(failure)
    certificate = certificate and in_its_words(certificate, statement)
    lines = [*handed_over(instance, certificate, folder, name, statement), *proved]
    if certificate is None:
        path = write(folder / f"{name}.json", encode(instance))
        return [*lines, f"json: {path}", f"no certificate: {refusal}"]
    path = certificate.save(folder / f"{name}.json")
    lacks = ", that this network does not have it" if is_lacking(certificate, statement) else ""
    return [*lines, f"certificate: {path} ({certificate.id}, accepted by the checker{lacks})"]


def _saved_proof(answer: Answer, proof: FoundProof, folder: Path, coq: bool) -> list[str]:
    """The derivation as a certificate and as LaTeX; and as a Coq file, compiled where Coq is at hand."""
    from rankmath.certificates.coq_derivation import compiled, derivation_file
    from rankmath.certificates.coq_words import NoCoq
    from rankmath.files import folder as make_folder
    from rankmath.files import write
    from rankmath.report.fragments import in_its_words
    from rankmath.report.theorems import fragment

    key = answer.battery.statement.key
    certificate, name = in_its_words(proof.certificate(key), answer.statement), _slug(key)
    make_folder(folder)
    path = certificate.save(folder / f"{name}.json")
    tex = write(folder / f"{name}.tex", fragment([certificate]))
    accepted = "accepted by the checker" if certificate.check().accepted else "refused by the checker"
    lines = [f"LaTeX: {tex}", f"derivation: {path} ({certificate.id}, {accepted})"]
    if coq:
        try:
            file = write(folder / _coq_file(name), derivation_file(proof.claim, proof.given, proof.lines))
            lines.append(f"Coq: {file} ({compiled(file)})")
        except NoCoq as why:
            lines.append(f"PROVED; not written for Coq, because {why}")
    return lines


def _words(entry: Statement) -> dict[str, str]:
    """What a file of claims says of a claim beside it."""
    return {"title": entry.title, "source": entry.source}


def _slug(key: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", key)


def _coq_file(name: str) -> str:
    """The name of a file that coqc takes: a module's name has letters, digits and underscores alone."""
    return f"{re.sub(r'[^A-Za-z0-9_]', '_', name)}.v"


def plain(answer: Answer, output: str, *, coq: bool = False) -> dict[str, Json]:
    """The answer as plain data."""
    from rankmath.formula.printing import text
    from rankmath.report.fragments import in_its_words

    battery = answer.battery
    proof = answer.proof if answer.letter else battery.proof
    files = saved(answer, output, coq=coq)
    # Those that are written: title and source stand in them, and of a witness the claim that it exists.
    ids = [in_its_words(one, answer.statement).id for one in battery.certificates]
    if answer.sought is not None:
        ids = re.findall(r"\((rm-[0-9a-f]{32}),", " ".join(files))
    return {
        **battery.to_dict(),
        **_words(answer.statement),
        "certificates": ids,
        "outcome": answer.outcome,
        "claim": text(answer.statement.claimed) if answer.letter else answer.statement.claim_text,
        "given": list(answer.statement.given_texts),
        "answer": answer.lines(),
        "lemmas": sorted(proof.lemmas) if proof is not None else [],
        "implied_by": list(answer.implied_by),
        "constant": None if not answer.letter else 1 / answer.constant if answer.upside_down else answer.constant,
        "proved_factor": answer.factor or None,
        "proved_with_equality": answer.weakened,
        "files": files,
    }
