"""Claims about networks, read from print: a reader that knows only what is printed agrees with the judge.

The networks are small and at boundaries: one token, one dimension, masks without self-loops, negative skips, zero
weights, each bias alone. What the letters and signs mean is computed here from the definition of a layer, in NumPy.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from rankmath.claims import statements
from rankmath.model.network import Attention, LayerNorm, Network, Sublayer
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from tests.formula.test_printed_words import CONVENTIONS

Meaning = Callable[[dict[str, Any]], Any]


@dataclass
class Written:
    """A network as a person writes it down, all layers alike, and its input."""

    X: Any
    weights: dict[str, Any]
    layers: int = 1
    skip: float = 0.0
    sees: Any = None
    norm: Any = None
    biases: dict[str, Any] | None = None
    before = False
    activation = None
    choices: Any = ()

    def __post_init__(self) -> None:
        self.biases = self.biases or {}
        self.tokens, self.dim = self.X.shape
        self.heads = len(self.weights["W_Q"])
        self.mask = np.ones((self.tokens, self.tokens), bool) if self.sees is None else self.sees

    @property
    def edges(self) -> list[tuple[int, int, bool]]:
        return [(i, j, bool(self.mask[i, j])) for i, j in np.ndindex(self.mask.shape)]

    def seen_as(self, condition: Callable[[int, int], bool]) -> bool:
        return all(sees == condition(i, j) for i, j, sees in self.edges)

    def zero(self, name: str) -> bool:
        return not np.any(self.biases.get(name, 0))  # type: ignore[union-attr]

    def network(self) -> Network:
        attention = Attention.from_qkvo(**self.weights, **self.biases, mask=self.sees)  # type: ignore[arg-type]
        norm = LayerNorm(self.norm) if self.norm else None
        return Network.from_layers([[Sublayer(attention, self.skip, None, norm)]] * self.layers)

    @cached_property
    def runs(self) -> tuple[list[Any], list[list[Any]], list[Any]]:
        """Tokens before each layer and at the end, attention and logits of layers and heads, by the definition."""
        w, b, X = self.weights, self.biases or {}, self.normed(self.X)
        tokens, attention, logits = [X], [], []
        for _ in range(self.layers):
            rows, seen, made = [], [], self.skip * X + np.asarray(b.get("b_O", 0.0))
            for h in range(self.heads):
                part = {name: np.asarray(b[name])[h] if name in b else 0.0 for name in ("b_Q", "b_K", "b_V")}
                Q, K, V = (X @ w[f"W_{s}"][h] + part[f"b_{s}"] for s in "QKV")
                S = Q @ K.T / math.sqrt(w["W_Q"].shape[-1])
                e = np.where(self.mask, np.exp(S - S.max(axis=1, keepdims=True)), 0.0)
                rows.append(e / e.sum(axis=1, keepdims=True))
                seen.append(S)
                made = made + rows[-1] @ V @ w["W_O"][h]
            X = self.normed(made)
            tokens.append(X)
            attention.append(rows)
            logits.append(seen)
        return tokens, attention, logits

    def normed(self, X: Any) -> Any:
        if self.norm is None:
            return X
        lengths = np.linalg.norm(X, axis=1, keepdims=True)
        if not (lengths > 1e-12).all():
            raise Close  # a zero token has no direction
        return X / lengths


def cancels(w: Written) -> bool:
    b = w.biases or {}
    added = sum(np.asarray(b["b_V"])[h] @ w.weights["W_O"][h] for h in range(w.heads)) if "b_V" in b else 0.0
    return not np.any(added + np.asarray(b.get("b_O", 0.0)))


WORDS = {**CONVENTIONS, "no bias of values or outputs (b_V W_O + b_O = 0)": cancels}


# -- what signs mean -----------------------------------------------------------------------------------------


def steps(mask: Any, centers: bool = False) -> float:
    """Least number of steps, at least 1, in which one token reaches all; `centers`: in which all that can do."""
    n = len(mask)
    walks, found = np.linalg.matrix_power(mask.astype(int) | np.eye(n, dtype=int), n) > 0, []
    reach = [c for c in range(n) if walks[:, c].all()]
    for c in reach:
        k = next(
            k for k in range(1, n + 1) if (np.linalg.matrix_power(mask | np.eye(n, dtype=bool), k) > 0)[:, c].all()
        )
        found.append(k)
    return float((max if centers else min)(found, default=1))


def diameter(X: Any, p: float) -> float:
    return max(float(np.linalg.norm(x - y, p)) for x in X for y in X)


def norm(M: Any, kind: str) -> float:
    match kind:
        case "1":
            return float(abs(M).sum(axis=0).max())
        case r"\infty":
            return float(abs(M).sum(axis=1).max())
        case "2":
            return float(np.linalg.norm(M, 2))
        case "F":
            return float(np.linalg.norm(M))
        case r"\max":
            return float(abs(M).max())
        case r"\ell_{1}":
            return norm(M, r"\infty")
        case r"\ell_{\infty}":
            return norm(M, "1")
        case r"\ell_{2}" | "*,2":
            return norm(M, "2")
        case "*,1":
            return norm(M, r"\max")
        case r"*,\infty":
            signs = list(itertools.product((-1, 1), repeat=len(M)))
            return max(abs(float(np.asarray(u) @ M @ np.asarray(v))) for u in signs for v in signs)
    raise AssertionError(kind)


_SIGN = re.compile(
    r"\\(?:Bigl|bigl|Bigr|bigr)(?P<bracket>[(|)])|\\text\{(?P<text>[^}]*)\}|\\(?P<word>[A-Za-z]+)|(?P<number>\d+)|(?P<one>\S)"
)
_EXPONENTS = {"1": 1.0, "2": 2.0, r"\infty": math.inf}


class Reader:
    """Sums, products, quotients, powers, roots; Σ, Π, max, min over l and h; sizes of X, W and P."""

    def __init__(self, tex: str, w: Written, letters: dict[str, float], exponent: str = "") -> None:
        self.w, self.letters, self.index = w, letters, dict[str, int]()
        self.tokens, self.P, self.logits = w.runs
        self.tex = re.sub(r"(?<![A-Za-z])p(?![A-Za-z])", lambda _: exponent, tex) if exponent else tex
        self.tex = self.tex.replace(r"\,", " ").replace(r"\cdot ", " ")

    def value(self) -> Any:
        found = self.relation()
        assert not self.tex.strip(), self.tex
        return found

    def has(self, start: str) -> bool:
        self.tex = self.tex.lstrip()
        if not self.tex.startswith(start):
            return False
        self.tex = self.tex[len(start) :]
        return True

    def need(self, start: str) -> None:
        assert self.has(start), (start, self.tex)

    def relation(self) -> Any:
        left = self.sum()
        for sign, holds in ((r"\le", "le"), (r"\ge", "ge"), ("<", "lt"), (">", "gt"), ("=", "eq")):
            if self.has(sign):
                return compared(left, holds, self.sum())
        return left

    def sum(self) -> float:
        total = -self.product() if self.has("-") else self.product()
        while True:
            if self.has("+"):
                total += self.product()
            elif self.has("-"):
                total -= self.product()
            else:
                return total

    def product(self) -> float:
        total = self.power()
        while self.tex.lstrip() and not re.match(
            r"\s*(\\le(?![a-z])|\\ge|[-+<>=,)}|\]]|\\(Big|big)r|\\quad|\\ |\\rfloor|/)", self.tex
        ):
            total *= self.power()
        return total

    def power(self) -> float:
        base = self.base()
        while self.has("^"):
            self.need("{")
            exponent = self.sum()
            if self.has("/"):
                exponent /= self.power()
            self.need("}")
            base = base**exponent
        return base

    def group(self) -> float:
        self.need("{")
        found = self.sum()
        self.need("}")
        return found

    def matrix(self) -> Any:
        """X^{l}, W^{l,h}, W_{QK}^{l,h} or P^{l,h}."""
        self.tex = self.tex.lstrip()
        name = re.match(r"W_\{QK\}|[XWP]", self.tex)
        assert name is not None, self.tex
        self.need(name[0] + "^{")
        at = [int(self.sum())]
        if self.has(","):
            at.append(int(self.sum()))
        self.need("}")
        given = self.w.weights
        match name[0]:
            case "X":
                return self.tokens[at[0]]
            case "P":
                return self.P[at[0]][at[1]]
            case "W":
                return given["W_V"][at[1]] @ given["W_O"][at[1]]
        return given["W_Q"][at[1]] @ given["W_K"][at[1]].T

    def of(self) -> Any:
        self.need("(")
        found = self.matrix()
        self.need(")")
        return found

    def places(self) -> tuple[int, int]:
        """Layer and head of the attention in brackets."""
        self.need("(P^{")
        l = int(self.sum())
        self.need(",")
        h = int(self.sum())
        self.need("})")
        return l, h

    def over(self, kind: str) -> float:
        """Σ, Π, max or min over an index: what follows is one product."""
        self.need("{")
        index = self.tex[0]
        self.need(index + "}")
        ends = {"l": self.w.layers, "h": self.w.heads, "i": self.w.tokens}
        start, values = self.tex, []
        for k in range(ends[index]):
            self.tex, self.index[index] = start, k
            values.append(self.product())
        del self.index[index]
        return {"sum": math.fsum, "prod": math.prod, "max": max, "min": min}[kind](values)

    def base(self) -> float:
        self.tex = self.tex.lstrip()
        for name in sorted(self.letters, key=len, reverse=True):
            if self.tex.startswith(name) and not re.match(
                re.escape(name) + r"(?:[a-z]|_\{?(?:QK|\*)|\((?:P|X)\^)", self.tex
            ):
                self.need(name)
                return self.letters[name]
        for opening, closing in ((r"\Bigl(", r"\Bigr)"), (r"\bigl(", r"\bigr)"), ("(", ")")):
            if self.has(opening):
                found = self.sum()
                self.need(closing)
                return found
        if self.has(r"\bigl|"):
            found = abs(self.sum())
            self.need(r"\bigr|")
            return found
        if number := re.match(r"\d+", self.tex):
            self.need(number[0])
            return float(number[0])
        for kind in ("sum", "prod", "max", "min"):
            if self.has(rf"\{kind}_"):
                return self.over(kind)
            if self.has(rf"\{kind}\bigl("):
                values = [self.sum()]
                while self.has(","):
                    values.append(self.sum())
                self.need(r"\bigr)")
                return max(values) if kind == "max" else min(values)
        if self.has(r"\frac") or self.has(r"\tfrac"):
            above, below = self.group(), self.group()
            return above / below if below else math.nan
        if self.has(r"\sqrt"):
            return math.sqrt(max(self.group(), 0.0))
        if self.has(r"\lfloor"):
            found = math.floor(self.sum())
            self.need(r"\rfloor")
            return float(found)
        if self.has(r"\tanh\Bigl("):
            found = math.tanh(self.sum())
            self.need(r"\Bigr)")
            return found
        if self.has("e^{"):
            found = math.exp(self.sum())
            self.need("}")
            return found
        if self.has(r"\Delta_{"):
            kind = re.match(r"1|2|\\infty", self.tex)
            assert kind is not None, self.tex
            self.need(kind[0] + "}")
            return diameter(self.of(), _EXPONENTS[kind[0]])
        if self.has(r"\mu"):
            X = self.of()
            return float(np.linalg.norm(X - X.mean(axis=0)))
        if self.has(r"\varphi"):
            X = self.of()
            U = X / np.linalg.norm(X, axis=1, keepdims=True)
            return float((U @ U.T).min())
        if self.has(r"\sigma_{\min}"):
            return float(np.linalg.svd(self.of(), compute_uv=False).min())
        if self.has(r"\tau"):
            P = self.of()
            return max(float(abs(p - q).sum()) / 2 for p in P for q in P)
        if self.has(r"\varepsilon"):
            l, h = self.places()
            return float(self.P[l][h][self.w.mask].min())
        if self.has(r"\rho"):
            l, h = self.places()
            S = self.logits[l][h]
            return max(float(np.ptp(row[seen])) for row, seen in zip(S, self.w.mask, strict=True))
        if self.has(r"\max_i\|X^{0}_i\|_2"):
            return float(np.linalg.norm(self.tokens[0], axis=1).max())
        if self.has(r"\Bigl\|\prod_l W^{l,0}\Bigr\|_{2}"):
            W = self.w.weights["W_V"][0] @ self.w.weights["W_O"][0]
            return norm(np.linalg.matrix_power(W, self.w.layers), "2")
        if self.has(r"\|X^{L}-X^0\|_{\max}"):
            return float(abs(self.tokens[-1] - self.tokens[0]).max())
        if self.has(r"\|"):
            residual = self.has(r"\mathrm{res}(")
            M = self.matrix()
            if residual:
                self.need(")")
                M = M - M.mean(axis=0)  # least in the Frobenius norm
            self.need(r"\|_{")
            kind, depth = "", 1
            while depth:
                depth += {"{": 1, "}": -1}.get(self.tex[0], 0)
                kind, self.tex = kind + self.tex[0], self.tex[1:]
            assert not residual or kind == "F}", kind
            return norm(M, kind[:-1])
        if self.tex[0] in self.index:
            found = self.index[self.tex[0]]
            self.tex = self.tex[1:]
            return float(found)
        raise AssertionError(self.tex)


class Close(ArithmeticError):
    """Both sides agree within rounding."""


def compared(a: float, sign: str, b: float) -> bool:
    if math.isnan(a) or math.isnan(b) or not abs(a - b) > 1e-9 * max(abs(a), abs(b), 1e-3):
        if sign in ("le", "ge", "eq") and abs(a - b) <= 1e-15:
            return True
        raise Close
    return {"le": a <= b, "ge": a >= b, "lt": a < b, "gt": a > b, "eq": False}[sign]


# -- statements that are read ---------------------------------------------------------------------------------

READ = [
    "dong2021:3.1",
    "own:diameter",
    "own:diameter-cubic",
    "own:lambda-skip-lower",
    "own:lambda-skip-sphere",
    "own:lambda-skip-upper",
    "own:skip-lower",
    "own:transport",
    "own:transport-skip",
    "wu2024:1",
    "wu2024:2-step",
    "wu2024:cor1",
    "wu2024:cor1-centers",
    "wu2024:cor1-step",
    "alman2025:one-layer",
    "folk:lambda-skip",
    "unstated:diameter-rotary",
]
_TRUE_OR_NOT: dict[str, Callable[[Written], bool]] = {
    r"every }W^{l,h}\text{ is orthogonal": lambda w: all(
        np.array_equal((V @ O) @ (V @ O).T, np.eye(w.dim))
        for V, O in zip(w.weights["W_V"], w.weights["W_O"], strict=True)
    ),
    "every token sees itself": lambda w: bool(np.diagonal(w.mask).all()),
    "the mask is quasi-strongly connected": lambda w: bool(
        (np.linalg.matrix_power(w.mask.astype(int) + np.eye(w.tokens, dtype=int), w.tokens) > 0).all(axis=0).any()
    ),
    "the mask is strongly connected": lambda w: bool(
        (np.linalg.matrix_power(w.mask.astype(int) + np.eye(w.tokens, dtype=int), w.tokens) > 0).all()
    ),
}


def disjoint(w: Written) -> bool:
    W = [V @ O for V, O in zip(w.weights["W_V"], w.weights["W_O"], strict=True)]
    added = sum(np.asarray((w.biases or {}).get("b_V", np.zeros((w.heads, w.dim))))) + np.asarray(
        (w.biases or {}).get("b_O", 0.0)
    )
    written = np.any([(M != 0).any(axis=0) for M in W], axis=0) | (added != 0)
    read = np.any([(M != 0).any(axis=1) for M in W], axis=0)
    return not (written & read).any() and not w.X[:, written].any()


_TRUE_OR_NOT["heads read and write disjoint coordinates, and the input is zero where they write"] = disjoint


def outcome(statement: Statement, w: Written) -> str:
    """What the printed words, premises, letters and conclusion say of it."""
    letters = {
        "n": float(w.tokens),
        "d_{qk}": float(w.weights["W_Q"].shape[-1]),
        "d": float(w.dim),
        "H": float(w.heads),
        "L": float(w.layers),
        r"\lambda": w.skip,
        r"\Delta_{\mathrm{in}}": float(w.mask.sum(axis=1).max()),
        "r": steps(w.mask),
        "R": steps(w.mask, centers=True),
        "c": float(sum((np.linalg.matrix_power(w.mask | np.eye(w.tokens, dtype=bool), w.tokens) > 0).all(axis=0))),
    }
    formulas = []
    for premise in statement.premises:
        if not premise.startswith("$"):
            if not WORDS[premise](w):  # type: ignore[arg-type]
                return "NOT_APPLICABLE"
        elif (inner := premise.strip("$").removeprefix(r"\text{").removesuffix("}")) in _TRUE_OR_NOT:
            if not _TRUE_OR_NOT[inner](w):
                return "NOT_APPLICABLE"
        else:
            formulas.append(premise.strip("$"))
    return (
        "HOLDS"
        if all(read(part, w, statement, letters) for part in conclusion(statement, formulas, w, letters))
        else "VIOLATED"
    )


class NotMet(Exception):
    """A premise fails."""


def conclusion(statement: Statement, premises: list[str], w: Written, letters: dict[str, float]) -> tuple[str, ...]:
    for letter in statement.letters:
        name, _, tex = letter.partition("=")
        if "_{p}" not in tex and "_{*,p}" not in tex:
            letters[name] = Reader(tex, w, letters).value()
    if not all(read(part, w, statement, letters) for part in premises):
        raise NotMet
    return statement.conclusion


def read(tex: str, w: Written, statement: Statement, letters: dict[str, float]) -> bool:
    """One relation; for all l, or for p = 1, 2, ∞; a recursion from b_0 on."""
    for ending, places in (
        (r"\quad\text{for all }l", [("l", k) for k in range(w.layers)]),
        (r"\quad(p=1,2,\infty)", [("p", k) for k in _EXPONENTS]),
    ):
        if not tex.endswith(ending):
            continue
        body, found = tex.removesuffix(ending), []
        for index, k in places:
            own = dict(letters)
            if index == "p":
                for letter in statement.letters:
                    name, _, meaning = letter.partition("=")
                    own[name] = Reader(meaning, w, own, str(k)).value()
            found.append(related(body, w, own, str(k) if index == "p" else "", {"l": k} if index == "l" else {}))
        return all(found)
    return related(tex, w, letters, "", {})


def related(tex: str, w: Written, letters: dict[str, float], exponent: str, index: dict[str, Any]) -> bool:
    if r"b_L,\quad b_0=" in tex:
        head, start, step = re.split(r"b_L,\\quad b_0=|,\\ b_\{l\+1\}=", tex)
        b = Reader(start, w, letters, exponent).value()
        for l in range(w.layers):
            reader = Reader(step, w, {**letters, "b_{l}": b}, exponent)
            reader.index["l"] = l
            b = reader.value()
        tex, letters = head + "b_L", {**letters, "b_L": b}
    reader = Reader(tex, w, letters, exponent)
    reader.index |= index
    return bool(reader.value())


# -- networks at boundaries ----------------------------------------------------------------------------------


def networks() -> Iterator[tuple[str, Written]]:
    rng = np.random.default_rng(0)
    masks = {
        "none": lambda n: None,
        "causal": lambda n: np.tri(n, dtype=bool),
        "padding": lambda n: np.broadcast_to(np.arange(n) < max(1, n - 1), (n, n)).copy(),
        "no self-loops": lambda n: ~np.eye(n, dtype=bool) if n > 1 else None,
        "itself alone": lambda n: np.eye(n, dtype=bool),
    }
    for n, d, (mask, sees), norm_kind in itertools.product((1, 2, 3), (1, 2), masks.items(), (None, "sphere")):
        if d == 1 and mask in ("padding", "itself alone"):
            continue
        for values, skip in (
            ("any", 0.0),
            ("any", 1.0),
            ("any", -0.7),
            ("orthogonal", 0.0),
            ("one", 0.0),
            ("zero", 1.0),
            ("small", 2.0),
        ):
            heads, layers = (
                (2, 1) if values == "any" and norm_kind is None else (1, 1 if n == 1 or values == "one" else 2)
            )
            shape = (heads, d, d)
            W = {name: rng.integers(-8, 9, shape) / 8.0 for name in ("W_Q", "W_K", "W_V")}
            W["W_O"] = np.broadcast_to(np.eye(d), shape).copy()
            if values != "any":
                W["W_V"] = W["W_O"] * {"orthogonal": 1.0, "one": -1.0, "zero": 0.0, "small": 0.25}[values]
            X = rng.integers(1, 17, (n, d)) / 8.0
            for bias in (
                (None, "b_Q", "b_K", "b_V", "b_O")
                if mask == "none" and values in ("any", "one") and n < 3
                else (None,)
            ):
                given = {} if bias is None else {bias: np.full(d if bias == "b_O" else (heads, d), 0.5)}
                yield (
                    f"{n} {d} {mask} {norm_kind} {values} {skip} {bias}",
                    Written(X, W, layers, skip, sees(n), norm_kind, given),
                )


NETWORKS = dict(networks())


@pytest.mark.parametrize("key", READ)
def test_what_is_printed_of_a_network_is_what_it_is_judged_by(key: str) -> None:
    statement, seen = statements()[key], set()
    for number, (name, w) in enumerate(NETWORKS.items()):
        try:
            assert len(w.runs[0]) == w.layers + 1
            printed = outcome(statement, w)
        except NotMet:
            printed = "NOT_APPLICABLE"
        except Close:
            continue
        if printed == "NOT_APPLICABLE" and number % 5:  # one in five is enough of these
            continue
        coded = judge(statement, NetworkInstance(w.network(), w.X), "float64").outcome.name
        if coded == "UNDECIDED":
            continue
        assert printed == coded, name
        assert statement.status != "proved" or printed != "VIOLATED", name
        seen.add(printed)
    assert "NOT_APPLICABLE" in seen
    assert seen & {"HOLDS", "VIOLATED"}


#: Why a claim about networks is not read here: what of it is printed by a sign that has no formula.
UNREAD = {
    "residual": "a minimum over all centers, by a linear program",
    "delta": "about a center that a linear program finds, or the mean",
    "q_max": "about such a center",
    "about_mean": "",
    "jacobian_norm": "a derivative",
    "influence": "a derivative",
    "normalised_norm": "of the deviations before LayerNorm",
    "consensus_shift": "the attention of other tokens than those of the network",
    "turned_range": "of rotated queries and keys",
    "second_norm": "of a sum of matrices over heads",
    "gained_norm": "of the gains of an RMSNorm",
    "gram_height": "an inverse",
    "section": "of tokens over their heights",
    "contraction": "of products of attention",
    "mu_before": "of tokens before their LayerNorm",
    "repeat_gap": "of an input with one token more",
}


def test_every_claim_about_networks_is_read_or_says_why_not() -> None:
    unread = {key: entry for key, entry in statements().items() if not entry.arrays and key not in READ}
    assert {key for key, entry in unread.items() if not set(UNREAD) & entry.functions} == set()
