"""Equilibria in Coq: a box of tokens that a layer contracts into itself, by proofs/coq/equilibrium.v."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankmath.attention.plain import forward
from rankmath.certificates.coq_terms import Untranslatable, Writer, exact, literal, rational
from rankmath.linalg.rationals import from_flint, to_flint
from rankmath.model.network import Network

Found = list[tuple[str, str]]
Rational = list[list[Fraction]]
PART = 16  # a box around the certificate's ellipsoid, times 1 - rate, is this many times as wide as that in Coq


def rest(content: Mapping[str, Any]) -> tuple[Writer, Found, list[str]]:
    """One equilibrium: its place, that it is alone and attracts, and that its tokens have full rank."""
    data, hints = content["data"], content["hints"]
    if "equilibria" in data:
        raise Untranslatable("equilibria of several ranks: a rank below the full one is not shown in Coq")
    if data["norm"] != "sphere":
        raise Untranslatable(f"norm: {data['norm']!r} given; 'sphere' is written")
    n, d = len(data["tokens"]), len(data["tokens"][0])
    if data["rank"] != min(n, d):
        raise Untranslatable(f"rank {data['rank']} of {n} tokens in dimension {d}: only full rank is shown in Coq")
    M, V, mask = (exact(data[name], name) for name in ("W_QK", "W_V", "mask"))
    tokens = exact(data["tokens"], "tokens")
    d_qk, c = exact(data["d_qk"], "d_qk"), [x for row in tokens for x in row]
    left_out = ["what is given about W_QK, W_V and the mask is not stated again: these are the exact data of the file"]
    if "weights" in hints:  # a box of the certificate's own
        weights = [w for row in exact(hints["weights"], "weights") for w in row]
        T = [[w * (i == j) for j in range(n * d)] for i, w in enumerate(weights)]
        S = [[(i == j) / w for j in range(n * d)] for i, w in enumerate(weights)]
        size, rate, ball = exact(hints["size"], "size"), exact(data["rate"], "rate"), exact(data["ball"], "ball")
        bits, near = int(hints["bits"]), size / 2**20
        if "spectrum" in data:
            left_out.append("the eigenvalues (within `within` of `values`) are not stated")
    elif "attracting" in data:
        T, rate = _coordinates(tokens, M, V, mask, d_qk)
        S, bits = from_flint(to_flint(T).inv()), 200
        R, rho = exact(data["attracting"]["R"], "R"), float(exact(data["attracting"]["radius"], "radius"))
        axes = rho * np.linalg.inv(np.array(R, dtype=float))  # the ellipsoid |R(x - tokens)| <= rho
        around = np.linalg.norm(np.array(S, dtype=float) @ axes, axis=1).max()
        size = Fraction(2) ** math.floor(math.log2(around * (1 - rate) / PART))
        ball = size / max(sum(map(abs, row)) for row in S)
        near = exact(data["radius"], "radius") / max(sum(map(abs, row)) for row in T)
        reach = np.linalg.norm(axes, axis=1)
        left_out.append(
            f"attraction is stated for the box of tokens with entries within {float(ball):.1e} of these; the"
            f" certificate's ellipsoid reaches between {reach.min():.1e} and {reach.max():.1e} along the axes, so it is"
            f" {reach.max() / float(ball):.0f} times as long at most"
        )
    else:
        raise Untranslatable("an equilibrium that is not shown to attract is not written")
    wide = max(sum(map(abs, row)) for row in T)
    rows, columns = ([int(p[k]) for p in hints["pivots"]] for k in (0, 1))
    minor = np.array([[float(tokens[i][a]) for a in columns] for i in rows])
    K = [[Fraction(float(x)) for x in row] for row in np.linalg.inv(minor)]
    out = Writer(bits, n, d)
    for name, value in (("M", M), ("V", V), ("mask", mask), ("turn", S), ("back", T), ("tokens", c), ("K", K)):
        out.lines.append(f"Definition {name} := {literal(value)}%Q.")
    for name, number in (("dqk", d_qk), ("size", size), ("near", near), ("rate", rate), ("ball", ball), ("wide", wide)):
        out.lines.append(f"Definition {name} := {rational(number)}%Q.")
    given = f"p {n} {d} dqk M V mask turn back tokens size near rate ball wide"
    out.lines += [
        f"Definition layer_rests := certified_ok {given}.",
        f"Lemma computed_box : certifiedb {given} = true.\nProof. vm_cast_no_check (eq_refl true). Qed.",
        f"Definition moved := step {n} {d} (Q2R dqk) (rows M) (rows V) (rows mask).",
    ]
    N, at = n * d, f"(fun k => nth k {_naturals(rows)} O) (fun q => nth q {_naturals(columns)} O)"
    layer = f"rest_map {n} {d} (Q2R dqk) (rows M) (rows V) (rows mask) (unfold_ {d} z) i a = unfold_ {d} z i a"
    close = f"(forall k, (k < {N})%nat -> Rabs ({{0}} k - entries tokens k) <= Q2R ball)"
    statement = "\n  ".join(
        [
            "exists z : nat -> R,",
            f"(forall k, (k < {N})%nat -> Rabs (z k - entries tokens k) <= Q2R (wide * near)) /\\",
            f"(forall i a, (i < {n})%nat -> (a < {d})%nat -> {layer}) /\\",
            f"(forall y, {close.format('y')} -> (forall k, (k < {N})%nat -> moved y k = y k) ->",
            f"  forall k, (k < {N})%nat -> y k = z k) /\\",
            f"(forall x, {close.format('x')} -> forall t k, (k < {N})%nat ->",
            "  Rabs (Nat.iter t moved x k - z k) <= Q2R rate ^ t * Q2R (2 * wide * size)) /\\",
            f"independent {len(rows)} (unfold_ {d} z) {at}",
        ]
    )
    proof = (
        "destruct (layer_rests computed_box) as [z [Z1 [Z2 [Z3 Z4]]]]. exists z. "
        "refine (conj Z1 (conj Z2 (conj Z3 (conj Z4 _)))).\n  apply (minorb_ok p "
        f"{d} tokens (wide * near) {_naturals(rows)} {_naturals(columns)} K); [|vm_compute; reflexivity].\n"
        f"  intros k q Hk Hq. apply Z1. simpl in Hk, Hq. unfold place. {_cases(len(rows))}"
    )
    return out, [(statement, proof)], left_out


def _naturals(values: list[int]) -> str:
    return f"[{'; '.join(map(str, values))}]%nat"


def _cases(r: int) -> str:
    """k and q are below r: each case is a computation."""
    k, q = (f"{'[|' * r}{name}{']' * r}" for name in "kq")
    return f"destruct k as {k}; try lia; destruct q as {q}; try lia; simpl; lia."


def _coordinates(
    tokens: Rational, M: Rational, V: Rational, mask: Rational, d_qk: Fraction
) -> tuple[Rational, Fraction]:
    """Coordinates in which the derivative at the tokens has small rows: its eigenvectors."""
    X, m, v, seen = (np.array([[float(x) for x in row] for row in A]) for A in (tokens, M, V, mask))
    size, step = X.size, 2.0**-17
    net = Network.from_arrays(m[None, None], v[None, None], float(d_qk), norm="sphere", mask=seen > 0)
    moves = step * np.eye(size).reshape(size, *X.shape)
    up, down = forward(net, X + moves), forward(net, X - moves)
    J = (up - down).reshape(size, size).T / (2 * step)
    values, vectors = np.linalg.eig(J)
    T = np.real(vectors)
    for k in range(size):
        if values[k].imag < 0:
            T[:, k] = np.imag(vectors[:, k])
    if np.linalg.cond(T) > 1e6:
        T = _schur(J)
    rate = float(np.abs(np.linalg.solve(T, J @ T)).sum(axis=1).max())
    if not rate < 1:
        raise Untranslatable(
            f"attraction: no coordinates were found in which a row of the derivative is below one ({rate:.3f})"
        )
    rounded = [[Fraction(round(float(x) * 2**30), 2**30) for x in row] for row in T]
    return rounded, Fraction(math.ceil((1 + rate) / 2 * 2**10), 2**10)


def _schur(J: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.linalg import schur

    _, Q = schur(J)
    return np.asarray(Q * 0.05 ** np.arange(len(J)))
