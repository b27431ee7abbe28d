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
SMALLER = 2**16
PART = 16  # a box around the certificate's ellipsoid, times 1 - rate, is this many times as wide as that in Coq


def rest(content: Mapping[str, Any]) -> tuple[Writer, Found, list[str]]:
    """Equilibria of one layer: their places, that each is alone and attracts, and the rank of its tokens."""
    data, hints = content["data"], content["hints"]
    if data["norm"] != "sphere":
        raise Untranslatable(f"norm: {data['norm']!r} given; 'sphere' is written")
    if "equilibria" in data:
        if not data["equilibria"]:
            raise Untranslatable("equilibria: [] given; one at least is written")
        members = list(zip(data["equilibria"], hints["equilibria"], strict=True))
    else:
        members = [(data, hints)]
    n, d = len(members[0][0]["tokens"]), len(members[0][0]["tokens"][0])
    bits = max(int(of["bits"]) if "bits" in of else 200 for _, of in members)
    out, layer = Writer(bits, n, d), [exact(data[name], name) for name in ("W_QK", "W_V", "mask", "d_qk")]
    for name, value in zip(("M", "V", "mask"), layer, strict=False):
        out.lines.append(f"Definition {name} := {literal(value)}%Q.")
    out.lines += [
        f"Definition dqk := {rational(layer[3])}%Q.",
        f"Definition moved := step {n} {d} (Q2R dqk) (rows M) (rows V) (rows mask).",
    ]
    left_out = ["what is given about W_QK, W_V and the mask is not stated again: these are the exact data of the file"]
    found = []
    for k, (its, of) in enumerate(members):
        found.append(_member(out, layer, its, of, f"_{k}" if len(members) > 1 else "", left_out))
    return out, found, left_out


def _member(
    out: Writer, layer: list[Any], data: Mapping[str, Any], hints: Mapping[str, Any], mark: str, left_out: list[str]
) -> tuple[str, str]:
    """One equilibrium. ``mark`` ends its names; what is not stated of it goes to ``left_out``."""
    M, V, mask, d_qk = layer
    tokens = exact(data["tokens"], "tokens")
    n, d = len(tokens), len(tokens[0])
    c = [x for row in tokens for x in row]
    if "weights" in hints:  # a box of the certificate's own
        weights = [w for row in exact(hints["weights"], "weights") for w in row]
        T = [[w * (i == j) for j in range(n * d)] for i, w in enumerate(weights)]
        S = [[(i == j) / w for j in range(n * d)] for i, w in enumerate(weights)]
        size, rate, ball = exact(hints["size"], "size"), exact(data["rate"], "rate"), exact(data["ball"], "ball")
        if mark:  # of several, some have logits far apart: slopes enclose their derivative on a smaller box alone
            left_out.append(
                f"attraction is stated for entries within {float(ball / SMALLER):.1e}, not {float(ball):.1e}"
            )
            size, ball = size / SMALLER, ball / SMALLER
        near = size / 2**20
        if "spectrum" in data:
            left_out.append("the eigenvalues (within `within` of `values`) are not stated")
    elif "attracting" in data:
        T, rate = _coordinates(tokens, M, V, mask, d_qk)
        S = from_flint(to_flint(T).inv())
        R, rho = exact(data["attracting"]["R"], "R"), float(exact(data["attracting"]["radius"], "radius"))
        axes = rho * np.linalg.inv(np.array(R, dtype=float))  # the ellipsoid |R(x - tokens)| <= rho
        around = np.linalg.norm(np.array(S, dtype=float) @ axes, axis=1).max()
        size = Fraction(2) ** math.floor(math.log2(around * (1 - rate) / PART))
        ball = size / max(sum(map(abs, row)) for row in S)
        near = exact(data["radius"], "radius") / max(sum(map(abs, row)) for row in T)
        reach = np.linalg.norm(axes, axis=1)
        left_out.append(
            f"attraction is stated for the box of tokens with entries within {float(ball):.1e} of these;"
            f" the certificate's ellipsoid reaches between {reach.min():.1e} and {reach.max():.1e} along the axes,"
            f" so it is {reach.max() / float(ball):.0f} times as long at most"
        )
    else:
        raise Untranslatable("an equilibrium that is not shown to attract is not written")
    rows, columns = ([int(p[k]) for p in hints["pivots"]] for k in (0, 1))
    others = [b for b in range(d) if b not in columns]
    if data["rank"] != len(rows):
        raise Untranslatable(f"rank {data['rank']} given; a minor of order {len(rows)} shows another")
    vanish = all(row[b] == 0 for row in tokens for b in others) and all(V[a][b] == 0 for a in columns for b in others)
    if len(rows) < min(n, d) and not vanish:
        raise Untranslatable(
            f"rank {len(rows)} of {n} tokens in dimension {d}: below full rank it is shown in Coq where"
            " all columns but as many vanish at the tokens, and W_V keeps that"
        )
    wide = max(sum(map(abs, row)) for row in T)
    minor = np.array([[float(tokens[i][a]) for a in columns] for i in rows])
    K = [[Fraction(float(x)) for x in row] for row in np.linalg.inv(minor)]
    for name, value in (("turn", S), ("back", T), ("tokens", c), ("K", K)):
        out.lines.append(f"Definition {name}{mark} := {literal(value)}%Q.")
    for name, number in (("size", size), ("near", near), ("rate", rate), ("ball", ball), ("wide", wide)):
        out.lines.append(f"Definition {name}{mark} := {rational(number)}%Q.")
    its = " ".join(f"{name}{mark}" for name in ("turn", "back", "tokens", "size", "near", "rate", "ball", "wide"))
    given = f"p {n} {d} dqk M V mask {its}"
    out.lines += [
        f"Definition layer_rests{mark} := certified_ok {given}.",
        f"Lemma computed_box{mark} : certifiedb {given} = true.\nProof. vm_cast_no_check (eq_refl true). Qed.",
    ]
    N, at = n * d, f"(fun k => nth k {_naturals(rows)} O) (fun q => nth q {_naturals(columns)} O)"
    still = f"rest_map {n} {d} (Q2R dqk) (rows M) (rows V) (rows mask) (unfold_ {d} z) i a = unfold_ {d} z i a"
    close = f"(forall k, (k < {N})%nat -> Rabs ({{0}} k - entries tokens{mark} k) <= Q2R ball{mark})"
    parts = [
        "exists z : nat -> R,",
        f"(forall k, (k < {N})%nat -> Rabs (z k - entries tokens{mark} k) <= Q2R (wide{mark} * near{mark})) /\\",
        f"(forall i a, (i < {n})%nat -> (a < {d})%nat -> {still}) /\\",
        f"(forall y, {close.format('y')} -> (forall k, (k < {N})%nat -> moved y k = y k) ->",
        f"  forall k, (k < {N})%nat -> y k = z k) /\\",
        f"(forall x, {close.format('x')} -> forall t k, (k < {N})%nat ->",
        f"  Rabs (Nat.iter t moved x k - z k) <= Q2R rate{mark} ^ t * Q2R (2 * wide{mark} * size{mark})) /\\",
        f"independent {len(rows)} (unfold_ {d} z) {at}",
    ]
    below = vanish and len(rows) < d  # all other columns are zero: the rank is no more either
    if below:
        parts[-1] += " /\\"
        parts.append(f"flat {n} {d} {_naturals(columns)} z")
    proof = (
        f"destruct (layer_rests{mark} computed_box{mark}) as [z [Z1 [Z2 [Z3 Z4]]]]. exists z. "
        f"refine (conj Z1 (conj Z2 (conj Z3 (conj Z4 {'(conj _ _)' if below else '_'})))).\n  "
        f"{'{ ' if below else ''}apply (minorb_ok p {d} tokens{mark} (wide{mark} * near{mark}) {_naturals(rows)}"
        f" {_naturals(columns)} K{mark}); [|vm_compute; reflexivity].\n"
        f"  intros k q Hk Hq. apply Z1. simpl in Hk, Hq. unfold place. {_cases(len(rows))}"
    )
    if below:
        proof += (
            f" }}\n  apply (zeros_stay_b {n} {d} (Q2R dqk) (rows M) V (rows mask) tokens{mark} {_naturals(columns)} z"
            f" (Q2R rate{mark}) (Q2R (2 * wide{mark} * size{mark}))); [vm_compute; reflexivity|unfold rate{mark}, Q2R;"
            f" cbn [Qnum Qden]; lra|].\n  apply Z4. intros k _. rewrite Rminus_diag_eq by reflexivity. rewrite Rabs_R0."
            f" unfold ball{mark}, Q2R. cbn [Qnum Qden]. lra."
        )
    stated = "\n  ".join(parts)
    return f"({stated})" if mark else stated, proof


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
