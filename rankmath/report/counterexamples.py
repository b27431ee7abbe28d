"""A counterexample as people read it: what it shows, in words; its data, as LaTeX; its certificate, as a file."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.certificate import exact as exact_notation
from rankmath.certificates.coq import theorem_alone
from rankmath.certificates.issue import instance_of
from rankmath.decide.conjecture import in_python
from rankmath.files import folder as make_folder
from rankmath.files import write
from rankmath.formula.prose import own_words
from rankmath.report.fragments import LOOSE, in_words, notation, stated, told_once, written_out
from rankmath.report.latex import code, exact_data, identifier, matrix, with_fit
from rankmath.report.sources import certificate_file, coq_modules
from rankmath.report.theorems import data_shown, displayed, fragment, letters
from rankmath.validation import Json
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.verdict import Outcome

if TYPE_CHECKING:
    from rankmath.equilibria.certify import EquilibriumProof
    from rankmath.equilibria.equilibrium import Equilibrium
    from rankmath.equilibria.portraits import Picture
    from rankmath.verification.statement import Statement


@dataclass(frozen=True)
class Shown:
    """What is shown, line by line; whether all of it is proved; the data; where the certificate lies, if any.

    ``beside`` are the other files written with it: LaTeX, a picture, the numbers behind the picture.
    """

    what: str
    words: tuple[str, ...]
    proved: bool
    latex: str
    file: str | None = None
    id: str | None = None
    beside: tuple[str, ...] = ()

    def plain(self) -> dict[str, Json]:
        """For JSON."""
        return asdict(self)

    def text(self) -> str:
        """For a terminal."""
        where = [] if self.file is None else [f"certificate: {self.file}"]
        where += [f"beside it: {name}" for name in self.beside]
        lines = (f"  {line}" for line in self.words)
        return "\n".join((*where, f"{self.what}:", *lines, "", self.latex))


def refutation_shown(key: str, certificate: Certificate, folder: str | os.PathLike[str]) -> Shown:
    """Write the certificate that refutes (or exhibits) the statement `key`; what the checker finds in it."""
    shown = _written(key, certificate, folder, data_shown(certificate.data))
    words = (*shown.words, *letters(key))
    return replace(shown, words=words, beside=(_theorem_beside(shown, certificate), *_coq_beside(shown, key)))


def _written(what: str, certificate: Certificate, folder: str | os.PathLike[str], tex: str) -> Shown:
    path = certificate.save(make_folder(folder) / certificate_file(certificate))
    result = certificate.check()
    words = result.checked if result.accepted else (*result.checked, f"REJECTED: {result.reason}")
    tex = f"{with_fit(tex)}\nCertificate {identifier(certificate.id)}."
    return Shown(what, words, result.accepted, tex, str(path), certificate.id)


def equilibrium_shown(
    what: str,
    equilibrium: Equilibrium,
    proof: EquilibriumProof,
    folder: str | os.PathLike[str],
    portrait: Picture | None = None,
) -> Shown:
    """An equilibrium of self-attention with LayerNorm: its certificate, written, and what the checker finds in it.

    Beside the certificate lie the theorem as LaTeX for a paper, and the picture of its portrait with the
    numbers. Where balls do not prove all that was asked for there is no certificate, and the claims say why.
    """
    weights = {name: exact_notation(getattr(equilibrium, name)) for name in ("W_V", "W_QK")}
    # The weights are exact; the tokens are the nearest doubles of a proved point, so a few decimals say enough.
    tokens_shown = r"X\approx" + matrix([[f"{x:z.6f}" for x in row] for row in equilibrium.X])
    tex = with_fit(displayed([*exact_data(weights), tokens_shown]))
    if not proof.proved:
        return Shown(what, tuple(map(str, proof.claims)), False, tex)
    certificate = proof.certificate()
    shown = _written(what, certificate, folder, tex)
    words = (*map(str, proof.claims), "and by the checker, from the file alone:", *shown.words)
    beside = [_theorem_beside(shown, certificate)]
    if portrait is not None:
        from rankmath.report.portraits import plot_portrait, write_portrait

        picture = Path(beside[0]).with_suffix(".png")
        plot_portrait(portrait, picture)
        beside += [str(picture), str(write_portrait(portrait, picture.with_suffix(".csv")))]
    return replace(shown, words=words, beside=tuple(beside))


def handed_over(
    instance: NetworkInstance,
    certificate: Certificate | None,
    folder: str | os.PathLike[str],
    name: str,
    statement: Statement | None = None,
) -> list[str]:
    """Write the instance as Python (which prints both sides of the statement) and LaTeX, with a certificate as a
    theorem for a paper; their places."""
    target = make_folder(folder)
    tex = uncertified(instance, statement, f"{name}.py") if certificate is None else fragment([certificate])
    said = ""
    if statement is not None and statement.quantifier == "some":
        told = {Outcome.VIOLATED: "This one does not have it.", Outcome.HOLDS: "This one has it."}
        said = told.get(_decided(statement, instance), "Of this one it is not known.")
        said = f"# It is asked whether some network has what is claimed below. {said}\n"
    python = write(target / f"{name}.py", said + in_python(instance, statement))
    return [f"python: {python}", f"latex: {write(target / f'{name}.tex', tex)}"]


def _decided(statement: Statement, instance: NetworkInstance) -> Outcome:
    """What balls say of the claim at this instance, also where only some network is to meet it."""
    return judge(replace(statement, quantifier="all"), instance, "balls").outcome


def uncertified(instance: NetworkInstance, statement: Statement | None, file: str = "") -> str:
    """LaTeX for a paper of an instance without a certificate: the claim in full, what balls say of it, the data; a
    matrix too wide for a page stands in the `file` that is handed over with it."""
    made = Certificate("mine:instance", "holds", instance_of(instance.net, instance.X).data(), claim="mu(X[0]) >= 0")
    place = f"the file {code(file)}" if file else "its data"
    data = data_shown(json.loads(made.text())["data"], place)
    if statement is None:
        return with_fit(f"{data}\n")
    some = statement.quantifier == "some"
    outcome = _decided(statement, instance)
    claim = (r"\begin{flushleft}", *stated(statement), r"\end{flushleft}", *in_words(statement))
    named = "; ".join(map(own_words, filter(None, (statement.title, statement.source))))
    whose = f" ({named})" if named else ""
    how = "by ball arithmetic; no certificate of it was issued."
    if some:
        has = {Outcome.VIOLATED: "does not have what is asked for", Outcome.HOLDS: "has what is asked for"}
        verb = has.get(outcome, "is not told from equality in what is asked for")
        said = [f"It is asked whether the following is true{whose}:", *claim, f"The following instance {verb}, {how}"]
    else:
        verb = {Outcome.VIOLATED: "violates", Outcome.HOLDS: "satisfies"}.get(outcome, "is not told from equality in")
        said = [f"The following instance {verb} the claim{whose}, {how}", *claim]
    lines = (rf"\begingroup{LOOSE.strip()}%", told_once(notation(statement), data), *said, data, r"\par\endgroup", "")
    return written_out("\n".join(lines))


def _theorem_beside(shown: Shown, certificate: Certificate) -> str:
    """Write the theorem, for a paper, next to the certificate; its name."""
    assert shown.file is not None
    return str(write(Path(shown.file).with_suffix(".tex"), fragment([certificate])))


def _coq_beside(shown: Shown, key: str) -> list[str]:
    """Write the theorems of proofs/coq about the statement as Coq files that compile alone."""
    assert shown.file is not None
    folder = Path(shown.file).parent
    return [str(write(folder / f"{name}_alone.v", theorem_alone(name))) for name in coq_modules(key)]
