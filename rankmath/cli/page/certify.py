"""A state of the page as an equilibrium, and its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rankmath.certificates.certificate import Certificate
from rankmath.equilibria.certify import certify_equilibrium
from rankmath.equilibria.equilibrium import Equilibrium
from rankmath.equilibria.flow import Flow
from rankmath.equilibria.flow_proof import FlowProof, NotProved
from rankmath.equilibria.map import newton
from rankmath.files import folder as make_folder
from rankmath.linalg.masks import Mask, as_mask
from rankmath.validation import Floats, InvalidArgument, Json, as_array, as_choice, as_real

MASKS = ("complete", "causal", "window:1", "star")
_MOST_TOKENS = 8
# The largest number of a state: beyond it softmax is a step, and nothing moves.
_MOST = 100
# Layers applied before Newton's method takes over.
_LAYERS = 2000
# How long a flow runs before its equilibrium is sought.
_TIME = 60


def equilibrium_near(state: Mapping[str, Json]) -> Equilibrium:
    """The equilibrium that the tokens of the page run into, polished by Newton's method.

    Parameters
    ----------
    state : "X" (n × d unit vectors), "W_V", "W_QK", "beta", "mask", "skip" and "norm", as the page sends them.
    """
    X, W_V, W_QK, mask = _read(state)
    frame = Equilibrium(X, W_V, W_QK, mask, rank=0)
    with np.errstate(all="ignore"):
        *_, last = frame.iterate(X, _LAYERS)
    if not np.isfinite(last).all():
        raise InvalidArgument("W_V: a layer makes a token 0, or too small for doubles; LayerNorm gives it no direction")
    polished = newton(last, *frame.system)
    # Newton's method may leave for another equilibrium; the page shows where the layers lead.
    near = polished is not None and np.abs(polished - last).max() < 1e-3
    X = polished if near and polished is not None else last
    values = np.linalg.svd(X, compute_uv=False)
    found = Equilibrium(X, W_V, W_QK, mask, rank=int((values > 1e-9 * values[0]).sum()))
    if found.residual > 1e-6:
        raise InvalidArgument(
            f"X: the tokens move by {found.residual:.2g} a layer after {_LAYERS} layers: no equilibrium is near"
        )
    return found


def _read(state: Mapping[str, Json]) -> tuple[Floats, Floats, Floats, Mask]:
    """Tokens, W_V, βW_QK and mask of a state, or what is wrong with it."""
    if not isinstance(state, Mapping):
        raise InvalidArgument(f"state: a {type(state).__name__} given; an object is needed")
    for name in ("X", "W_V", "W_QK", "beta", "mask", "skip", "norm"):
        if name not in state:
            raise InvalidArgument(f"{name}: missing from the state")
    if as_choice("norm", state["norm"], ("sphere", "none", "flow")) == "none":
        raise InvalidArgument("norm: none; equilibria are certified for LayerNorm on the sphere, and of flows")
    if as_real("skip", state["skip"]) != 0:
        raise InvalidArgument(f"skip: {state['skip']} given; equilibria are certified without a skip connection")
    for name in ("turn", "slope"):
        if as_real(name, state.get(name, 0)) != 0:
            raise InvalidArgument(f"{name}: {state[name]} given; equilibria are certified without positions")
    X = as_array("X", state["X"], ndim=2)
    n, d = X.shape
    if not 2 <= n <= _MOST_TOKENS or d not in (2, 3):
        raise InvalidArgument(f"X: {n} tokens of dimension {d} given; 2 to {_MOST_TOKENS} of dimension 2 or 3 fit")
    W_V, W_QK = (as_array(name, state[name], ndim=2, shape=(d, d)) for name in ("W_V", "W_QK"))
    for name, entries in (("X", X), ("W_V", W_V), ("W_QK", W_QK)):
        if np.abs(entries).max() > _MOST:
            raise InvalidArgument(f"{name}: an entry {np.abs(entries).max():g} given; at most {_MOST} is allowed")
    beta = as_real("beta", state["beta"], most=_MOST)
    if beta < 0:
        raise InvalidArgument(f"beta: {beta:g} given; an inverse temperature is not negative")
    return X, W_V, beta * W_QK, as_mask(as_choice("mask", state["mask"], MASKS), n)


def flow_near(state: Mapping[str, Json]) -> FlowProof:
    """The equilibrium that the page's flow leads to, proved; the page's matrices act on rows, those of `Flow` on
    columns."""
    X, W_V, W_QK, mask = _read(state)
    flow = Flow(W_V.T, query=W_QK.T, mask=mask)
    try:
        return flow.certify(flow.trajectory(X, _TIME, points=2, tolerance=1e-9).tokens[-1])
    except NotProved as failure:
        raise InvalidArgument(f"X: after the time {_TIME}, {failure}") from None


def certificate_of(state: Mapping[str, Json], output: str | Path) -> dict[str, Json]:
    """Certify the equilibrium the page shows: the certificate, its file, what is proved, and the Python for it."""
    if isinstance(state, Mapping) and state.get("norm") == "flow":
        rest = flow_near(state)
        told: dict[str, Json] = {"claims": str(rest).splitlines(), "python": _python_of_flow(rest.flow, rest)}
        return _handed(rest.certificate(), told, output) if rest.kind == "sink" else {**told, "proved": False}
    found = equilibrium_near(state)
    stable = None if abs(found.spectral_radius - 1) < 1e-6 else found.spectral_radius < 1
    proof = certify_equilibrium(
        found.X, found.W_V, found.W_QK, found.mask, found.d_qk, found.norm, rank=found.rank, stable=stable
    )
    answer: dict[str, Json] = {"claims": [str(claim) for claim in proof.claims], "python": python_of(found, stable)}
    if not proof.proved:
        return {**answer, "proved": False}
    return _handed(proof.certificate(), answer, output)


def _handed(certificate: Certificate, answer: Mapping[str, Json], output: str | Path) -> dict[str, Json]:
    """The answer with the certificate, saved and checked."""
    path = certificate.save(make_folder(output) / f"{certificate.id}.json")
    checked = certificate.check()
    return {
        **answer,
        "proved": checked.accepted,
        "id": certificate.id,
        "file": str(path),
        "checked": list(checked.checked),
        "text": certificate.text(),
    }


def _python_of_flow(flow: Flow, proof: FlowProof) -> str:
    """The lines of Python that prove the equilibrium of a flow again."""
    allowed = flow.mask_for(len(proof.tokens)).allowed.tolist()
    return (
        "import rankmath as rm\n"
        f"flow = rm.Flow({flow.value.astype(float).tolist()}, query={flow.query.astype(float).tolist()}, "
        f"mask=rm.Mask({allowed}))\n"
        f"print(flow.certify({proof.tokens.tolist()}))\n"
    )


def python_of(found: Equilibrium, stable: bool | None) -> str:
    """The lines of Python that make the certificate again."""
    allowed = found.mask.allowed.tolist()
    return (
        "import rankmath as rm\n"
        f"X = {found.X.tolist()}\n"
        f"W_V, W_QK = {found.W_V.tolist()}, {found.W_QK.tolist()}\n"
        f"mask = rm.Mask({allowed})\n"
        f"proof = rm.certify_equilibrium(X, W_V, W_QK, mask, rank={found.rank}, stable={stable})\n"
        'proof.certificate().save("equilibrium.json")\n'
    )
