"""A counterexample as people read it: what it shows, in words; its data, as LaTeX; its certificate, as a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankmath.campaigns.conjecture import in_latex, in_python
from rankmath.certificates.certificate import Certificate
from rankmath.certificates.certificate import exact as exact_notation
from rankmath.claims import statement, statements
from rankmath.files import folder as make_folder
from rankmath.files import write
from rankmath.report.latex import exact_data, identifier
from rankmath.report.sources import certificate_file
from rankmath.report.theorems import document, letters
from rankmath.validation import InvalidArgument, Json
from rankmath.verification.instance import NetworkInstance

if TYPE_CHECKING:
    from rankmath.equilibria.certify import EquilibriumProof
    from rankmath.equilibria.equilibrium import Equilibrium


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


def refutation_shown(key: str, folder: str | os.PathLike[str]) -> Shown:
    """Write the certificate that refutes (or exhibits) the statement `key`; what the checker finds in it."""
    exhibit = statement(key).exhibit
    if exhibit is None:
        known = ", ".join(name for name, entry in statements().items() if entry.exhibit is not None)
        raise InvalidArgument(f"key: {key!r} given; no counterexample is known. There is one for {known}")
    certificate = exhibit()
    shown = _written(key, certificate, folder, data_table(exact_data(certificate.data)))
    words = (*shown.words, *letters(key))
    return replace(shown, words=words, beside=(_theorem_beside(shown, certificate),))


def _written(what: str, certificate: Certificate, folder: str | os.PathLike[str], tex: str) -> Shown:
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    path = certificate.save(target / certificate_file(certificate))
    result = certificate.check()
    words = result.checked if result.accepted else (*result.checked, f"REJECTED: {result.reason}")
    tex = f"{tex}\nCertificate {identifier(certificate.id)}."
    return Shown(what, words, result.accepted, tex, str(path), certificate.id)


def equilibrium_shown(
    tokens: int,
    dim: int,
    rank: int,
    folder: str | os.PathLike[str],
    *,
    mask: str,
    stable: bool,
    norm: str = "sphere",
    seed: int = 0,
    plot: bool = False,
) -> Shown:
    """An equilibrium of self-attention with LayerNorm: its certificate, written, and what the checker finds in it.

    Beside the certificate lie the theorem as LaTeX, which compiles alone, and, if asked for, a picture with its
    numbers (see `portraits`). Where balls do not prove all that was asked for there is no
    certificate, and the claims say why.
    """
    from rankmath.equilibria.constructions import layernorm_equilibrium

    what = f"LayerNorm equilibrium, {tokens} tokens in dimension {dim}, rank {rank}, {mask} mask, norm {norm}"
    try:
        equilibrium = layernorm_equilibrium(tokens, dim, rank, mask=mask, stable=stable, norm=norm, seed=seed)
    except RuntimeError as not_found:
        return Shown(what, (str(not_found),), False, "")
    proof = equilibrium.certify(stable=True if stable else None)
    weights = {name: exact_notation(getattr(equilibrium, name)) for name in ("W_V", "W_QK")}
    # The weights are exact; the tokens are the nearest doubles of a proved point, so a few decimals say enough.
    rows = r"\\".join("&".join(f"{x:.6f}" for x in row) for row in equilibrium.X)
    tokens_shown = rf"\mathtt{{X}}\approx\begin{{pmatrix}}{rows}\end{{pmatrix}}"
    tex = data_table([*exact_data(weights), tokens_shown])
    if not proof.proved:
        return Shown(what, tuple(map(str, proof.claims)), False, tex)
    certificate = proof.certificate()
    shown = _written(what, certificate, folder, tex)
    shown = replace(
        shown, words=(*map(str, proof.claims), "and by the checker, from the file alone:", *shown.words)
    )
    beside = (_theorem_beside(shown, certificate), *_picture_beside(shown, equilibrium, proof, plot=plot))
    return replace(shown, beside=beside)


def handed_over(
    instance: NetworkInstance, certificate: Certificate | None, folder: str | os.PathLike[str], name: str
) -> list[str]:
    """Write the instance as Python and LaTeX, with a certificate as a theorem that compiles alone; their places."""
    target = make_folder(folder)
    tex = in_latex(instance) + "\n" if certificate is None else document([certificate])
    python = write(target / f"{name}.py", in_python(instance))
    return [f"python: {python}", f"latex: {write(target / f'{name}.tex', tex)}"]


def _theorem_beside(shown: Shown, certificate: Certificate) -> str:
    """Write the theorem, a document that compiles alone, next to the certificate; its name."""
    assert shown.file is not None
    return str(write(Path(shown.file).with_suffix(".tex"), document([certificate])))


def _picture_beside(
    shown: Shown, equilibrium: Equilibrium, proof: EquilibriumProof, *, plot: bool
) -> Iterator[str]:
    """Draw the picture next to the certificate, if asked for; its name, and that of its numbers."""
    if plot:
        from rankmath.equilibria.portraits import portrait_data
        from rankmath.report.portraits import plot_portrait, write_portrait

        assert shown.file is not None
        tex = Path(shown.file).with_suffix(".tex")
        data = portrait_data(equilibrium, ball=None if proof.attraction is None else proof.attraction.ball)
        picture = tex.with_suffix(".png")
        plot_portrait(data, picture)
        yield str(picture)
        yield str(write_portrait(data, tex.with_suffix(".csv")))


def data_table(lines: Iterable[str]) -> str:
    """Lines of mathematics, displayed."""
    body = " \\\\\n".join(f"  &{line}" for line in lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"
