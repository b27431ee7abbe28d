"""A certificate's network in Coq: the layers as definitions, each with its enclosure, and their quantities."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from flint import arb

from rankmath.arithmetic.balls import ball
from rankmath.certificates.coq_terms import (
    Term,
    TooNear,
    Untranslatable,
    Writer,
    constant,
    exact,
    fraction,
    literal,
    rational,
)

Balls: TypeAlias = list[list[arb]]
Line: TypeAlias = tuple[str, Fraction, Fraction, Fraction]  # as Coq writes it: alpha a + beta b >= v
SQUARINGS = 60  # of A A^T, for the spectral norm from above: off by a factor of at most n^(2^-60)


def total(values: Sequence[arb]) -> arb:
    return sum(values, arb(0))


def largest(values: Sequence[arb]) -> arb:
    value = arb(0)
    for other in values:
        value = value.max(other)
    return value


def product(A: Balls, B: Balls) -> Balls:
    columns = list(zip(*B, strict=True))
    return [[total([a * b for a, b in zip(row, c, strict=True)]) for c in columns] for row in A]


def transpose(A: Balls) -> Balls:
    return [list(c) for c in zip(*A, strict=True)]


def softmax(logits: Sequence[arb], weights: Sequence[arb]) -> list[arb]:
    e = [w * x.exp() for w, x in zip(weights, logits, strict=True)]
    return [x / total(e) for x in e]


def euclid(v: Sequence[arb]) -> arb:
    return total([x * x for x in v]).nonnegative_part().sqrt()  # equal tokens have balls around 0


def spectral(out: Writer, name: str, A: Balls) -> Term:
    """The spectral norm: at least |vA|/|v| for one v, at most |(A A^T)^(2^k)|^(2^-k-1) in a simpler norm."""
    n, m = len(A), len(A[0])
    mid = np.array([[float(x.mid()) for x in row] for row in A])
    v = [Fraction(float(x)) for x in np.linalg.svd(mid)[0][:, 0]]
    low = euclid(product([[ball(x) for x in v]], A)[0]) / euclid([ball(x) for x in v])
    high, power = A, arb(1)
    for _ in range(SQUARINGS):
        high, power = product(high, transpose(high)), power / 2
    one = largest([total([abs(x) for x in c]) for c in transpose(high)])
    sums = one * largest([total([abs(x) for x in r]) for r in high])
    above = arb(0) if sums == 0 else (sums.sqrt().log() * power).exp()
    proof = (
        f"refine (ispectral_ok p {SQUARINGS} {n} {m} _ _ _ (entries {literal(v)}%Q) _ (entries_ok p _) _); "
        f"[encl {out.at} | eapply pos_by; [eapply (il2_ok p), (entries_ok p) | vm_compute; reflexivity]]"
    )
    return out.number(f"(spectral {n} {m} {name})", low.union(above), proof)


class Network:
    """The layers of a certificate: X_l, P_l_h, W_l_h, M_l_h (W_QK), k_l_h, b_l, mask; each with its balls."""

    def __init__(self, content: Mapping[str, Any], bits: int) -> None:
        data = content["data"]
        X = exact(data["X"], "X")
        self.n, self.d, self.L = len(X), len(X[0]), len(data["layers"])
        self.H = [len(layer["heads"]) for layer in data["layers"]]
        self.d_qk, self.skip = exact(data["d_qk"], "d_qk"), exact(data.get("skip", 0), "skip")
        self.hints = content.get("hints", {})
        self.sphere = {"none": False, "sphere": True}.get(data.get("layernorm", "none"))
        if self.sphere is None:
            raise Untranslatable(f"layernorm: {data['layernorm']!r} given; 'none' and 'sphere' are written")
        if any(set(layer) - {"heads", "bias"} for layer in data["layers"]):
            raise Untranslatable("layers: a map after the attention is not written")
        mask = data.get("mask", "complete")
        self.edges = [[Fraction(1)] * self.n for _ in X] if mask == "complete" else exact(mask, "mask")
        self.out = out = Writer(bits, self.n, self.d)
        self.balls: dict[str, Balls] = {}
        self.matrix("mask", self.edges)
        self.dqk, self.root = constant(self.d_qk).coq, ball(self.d_qk).sqrt()
        out.data("zero", [0] * self.d)
        self.matrix("Y_0" if self.sphere else "X_0", X)
        if self.sphere:
            self.held("X_0", f"sphere {self.d} Y_0", self.unit(self.balls["Y_0"]))
        self.biases: list[list[Fraction]] = []
        for index, layer in enumerate(data["layers"]):
            self._layer(index, layer)

    def matrix(self, name: str, value: list[list[Fraction]]) -> str:
        self.out.data(name, value)
        self.balls[name] = [[ball(x) for x in row] for row in value]
        return name

    def held(self, name: str, body: str, value: Balls) -> str:
        self.out.hold(name, body, "encm")
        self.balls[name] = value
        return name

    def vector(self, name: str, body: str, value: Sequence[arb]) -> str:
        self.out.hold(name, body, "encv")
        self.balls[name] = [list(value)]
        return name

    def unit(self, Y: Balls) -> Balls:
        return [[y / euclid(row) for y in row] for row in Y]

    def _layer(self, index: int, layer: Mapping[str, Any]) -> None:
        n, d, X = self.n, self.d, self.balls[f"X_{index}"]
        bias = exact(layer.get("bias", [0] * d), "bias")
        self.biases.append(bias)
        y = [[ball(self.skip) * X[i][b] + ball(bias[b]) for b in range(d)] for i in range(n)]
        pairs = []
        for h, given in enumerate(layer["heads"]):
            at = f"{index}_{h}"
            W, M = (
                self.matrix(f"W_{at}", exact(given["W"], "W")),
                self.matrix(f"M_{at}", exact(given["W_QK"], "W_QK")),
            )
            key = exact(given.get("key_bias", [0] * d), "key_bias")
            self.out.data(f"k_{at}", key)
            self.balls[f"k_{at}"] = [[ball(x) for x in key]]
            logits = self.logits(index, h)
            P = [softmax(row, w) for row, w in zip(logits, self.balls["mask"], strict=True)]
            self.held(f"P_{at}", f"attention {n} {d} {self.dqk} {M} k_{at} mask X_{index}", P)
            for row, more in zip(y, product(product(P, X), self.balls[W]), strict=True):
                row[:] = [a + b for a, b in zip(row, more, strict=True)]
            pairs.append(f"(P_{at}, {W})")
        self.out.data(f"b_{index}", bias)
        body = f"layer {n} {d} {constant(self.skip).coq} [{'; '.join(pairs)}] b_{index} X_{index}"
        if self.sphere:
            self.held(f"X_{index + 1}", f"sphere {d} ({body})", self.unit(y))
        else:
            self.held(f"X_{index + 1}", body, y)

    def logits(self, index: int, h: int) -> Balls:
        X, M, key = self.balls[f"X_{index}"], self.balls[f"M_{index}_{h}"], self.balls[f"k_{index}_{h}"][0]
        more = [total([k * x for k, x in zip(key, row, strict=True)]) for row in X]
        return [
            [(x + m) / self.root for x, m in zip(row, more, strict=True)]
            for row in product(product(X, M), transpose(X))
        ]

    # -- quantities ------------------------------------------------------------------------------------------
    def gaps(self, name: str, p: str) -> arb:
        X = self.balls[name]
        size = {"1": total, "2": euclid, "inf": largest}[p]
        pairs = [(r, s) for i, r in enumerate(X) for s in X[:i]]
        return largest([size([abs(u - v) for u, v in zip(r, s, strict=True)]) for r, s in pairs])

    def diameter(self, name: str, p: str) -> Term:
        norm = {"1": "l1", "2": "l2", "inf": "linf"}[p]
        return self.out.number(f"(diam {self.n} ({norm} {self.d}) {name})", self.gaps(name, p))

    def norm(self, name: str, kind: str) -> Term:
        A = self.balls[name]
        rows, columns = len(A), len(A[0])
        one = largest([total([abs(x) for x in c]) for c in transpose(A)])
        inf = largest([total([abs(x) for x in r]) for r in A])
        sizes: dict[str, tuple[str, arb]] = {
            "1": ("norm1", one),
            "inf": ("norminf", inf),
            "max": ("normmax", largest([abs(x) for r in A for x in r])),
            "frobenius": ("frob", euclid([x for r in A for x in r])),
            "composite": ("comp", (one * inf).sqrt()),
        }
        if kind == "2":
            return spectral(self.out, name, A)
        if kind not in sizes:
            raise Untranslatable(f"norm(…, {kind}) is not written")
        function, size = sizes[kind]
        return self.out.number(f"({function} {rows} {columns} {name})", size)

    def mu(self, name: str) -> Term:
        X = self.balls[name]
        means = [total(c) / self.n for c in transpose(X)]
        size = euclid([x - m for row in X for x, m in zip(row, means, strict=True)])
        return self.out.number(f"(mu {self.n} {self.d} {name})", size)

    # -- residuals: weights on rows and columns from below, a centre from above -----------------------------------
    def hint(self, index: int, kind: str) -> tuple[list[Fraction], list[tuple[list[Fraction], list[Fraction]]]]:
        """The centre and the weights that the certificate stores for a residual of X_index."""
        found = self.hints.get(f"X[{index}] {kind}")
        if not found or "center" not in found or "lines" not in found:
            raise Untranslatable(f"residual(X[{index}], {kind}): the certificate stores no centre or no weights")
        lines = [(exact(line["columns"], "columns"), exact(line["rows"], "rows")) for line in found["lines"]]
        return exact(found["center"], "center"), lines

    def line(self, index: int, columns: list[Fraction], rows: list[Fraction]) -> Line:
        """Signed weights s, |s_ia| <= columns_a + rows_i, whose columns sum to 0, with sum s_ia X_ia largest."""
        X, n, d = self.balls[f"X_{index}"], self.n, self.d
        s = [[Fraction(0)] * d for _ in range(n)]
        for a in range(d):
            weight = [columns[a] + rows[i] for i in range(n)]
            order = sorted(range(n), key=lambda i: fraction(X[i][a].mid()))
            below, half = Fraction(0), sum(weight, Fraction(0)) / 2
            for i in order:
                s[i][a] = weight[i] - 2 * min(weight[i], max(half - below, Fraction(0)))
                below += weight[i]
        value = total([ball(s[i][a]) * X[i][a] for i in range(n) for a in range(d)])
        low = fraction(value.lower()) * (1 - Fraction(1, 2 ** (self.out.bits // 2)))
        text = f"({literal(s)}, {literal(columns)}, {literal(rows)}, {rational(low)})"
        return text, sum(columns, Fraction(0)), sum(rows, Fraction(0)), low

    def residual(self, index: int, kind: str) -> Term:
        if kind == "frobenius":
            return self.mu(f"X_{index}")
        centre, hinted = self.hint(index, kind)
        name, n, d = f"X_{index}", self.n, self.d
        X = self.balls[name]
        about = [[x - ball(c) for x, c in zip(row, centre, strict=True)] for row in X]
        lines = [line for line in (self.line(index, *one) for one in hinted) if line[3] > 0]
        if not lines:
            raise TooNear(f"residual(X[{index}], {kind}): no weights show that it is not 0")
        coq, at = literal(centre), f"p {n} {d} {name}_i {name}"
        inf = largest([total([abs(x) for x in row]) for row in about])
        if kind == "inf":
            text, _, beta, v = max((x for x in lines if x[1] == 0), key=lambda x: x[3] / x[2])
            G = v / beta
            given = f"({text}%Q) {rational(G)} {coq}%Q {name}_ok"
            proof = f"refine (inf_residual_ok {at} {given} _); vm_compute; reflexivity"
            return self.out.number(f"(residual (norminf {n} {d}) {name})", ball(G).union(inf), proof)
        one = largest([total([abs(x) for x in c]) for c in transpose(about)])
        first, last, steps, G = polygon(lines, n, d)
        path = "; ".join(f"({rational(a)}, {text})" for a, text in steps[1:])
        proof = (
            f"refine (comp_residual_ok {at} {rational(G)} {rational(steps[0][0])} {first}%Q ([{path}]%Q) {last}%Q "
            f"{coq}%Q {name}_ok _); vm_compute; reflexivity"
        )
        return self.out.number(f"(residual (comp {n} {d}) {name})", ball(G).sqrt().union((one * inf).sqrt()), proof)

    # -- about a centre -----------------------------------------------------------------------------------------
    def about(self, index: int, at: str) -> tuple[str, list[arb]]:
        name = f"{'c' if at == 'composite' else 'm'}_{index}"
        if at == "composite":
            centre = self.hint(index, at)[0]
            if name not in self.out.names:
                self.out.data(name, centre)
            return name, [ball(x) for x in centre]
        means = [total(c) / self.n for c in transpose(self.balls[f"X_{index}"])]
        return self.vector(name, f"mean {self.n} X_{index}", means), means

    def tilts(self, index: int, h: int, at: str) -> tuple[str, list[arb]]:
        """The matrix of tilts, and how much each row swings."""
        centre, c = self.about(index, at)
        X = [[x - y for x, y in zip(row, c, strict=True)] for row in self.balls[f"X_{index}"]]
        T = product(product(X, self.balls[f"M_{index}_{h}"]), transpose(X))
        T = [[x / self.root for x in row] for row in T]
        name = self.held(f"T_{index}_{h}_{centre[0]}", f"tilts {self.d} {self.dqk} M_{index}_{h} X_{index} {centre}", T)
        return name, [largest([x - y for x in row for y in row]) for row in T]

    def shares(self, index: int, h: int, at: str) -> tuple[str, list[arb]]:
        centre, c = self.about(index, at)
        key = self.balls[f"k_{index}_{h}"][0]
        w = [x + k for x, k in zip(product([c], self.balls[f"M_{index}_{h}"])[0], key, strict=True)]
        logits = [
            total([(x - y) * z for x, y, z in zip(row, c, w, strict=True)]) / self.root
            for row in self.balls[f"X_{index}"]
        ]
        q = softmax(logits, [arb(1)] * self.n)
        body = f"shares {self.n} {self.d} {self.dqk} M_{index}_{h} k_{index}_{h} X_{index} {centre}"
        return self.vector(f"Q_{index}_{h}_{centre[0]}", body, q), q


def polygon(lines: Sequence[Line], n: int, d: int) -> tuple[str, str, list[tuple[Fraction, str]], Fraction]:
    """The corners of a, b >= 0, alpha a + beta b >= v, the line before each, the ends, the least product."""
    nothing = literal([[0] * d] * n)
    axes = [
        (
            f"({nothing}, {literal([1] + [0] * (d - 1))}, {literal([0] * n)}, (0 # 1))",
            Fraction(1),
            Fraction(0),
            Fraction(0),
        ),
        (
            f"({nothing}, {literal([0] * d)}, {literal([1] + [0] * (n - 1))}, (0 # 1))",
            Fraction(0),
            Fraction(1),
            Fraction(0),
        ),
    ]
    every = [*lines, *axes]
    corners = set()
    for (_, p, q, v), (_, r, s, w) in itertools.combinations(every, 2):
        if det := p * s - q * r:
            a, b = (v * s - q * w) / det, (p * w - v * r) / det
            if all(alpha * a + beta * b >= bound for _, alpha, beta, bound in every):
                corners.add((a, b))
    path = sorted(corners, key=lambda c: (c[0], -c[1]))
    first = next(t for t, p, q, v in every if q == 0 < p and p * path[0][0] <= v)
    last = next(t for t, p, q, v in every if p == 0 < q and q * path[-1][1] <= v)
    steps = [(path[0][0], "")]
    for (a, b), (c, e) in itertools.pairwise(path):
        steps.append((c, next(t for t, p, q, v in every if q > 0 and p * a + q * b == v == p * c + q * e)))
    return first, last, steps, min(a * b for a, b in path)
