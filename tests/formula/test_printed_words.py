"""Hypotheses in words, read back: what a person wrote down of a network meets the words where the code says so."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from rankmath.arithmetic.float64 import Float64
from rankmath.claims import statements
from rankmath.definitions.hypotheses import MASKS, SWITCHES, said
from rankmath.definitions.layer import ACTIVATIONS
from rankmath.formula.evaluate import sides
from rankmath.formula.printing import text, words
from rankmath.formula.reader import read_formula
from rankmath.formula.run import Run
from rankmath.model.network import MLP, Attention, LayerNorm, Network, Sublayer
from rankmath.model.positions import PositionTable, Rotary

VALUES, OUTPUTS = np.array([[[1.0, 2.0], [0.0, 1.0]]]), np.array([[[1.0, 0.0], [1.0, 1.0]]])


@dataclass(frozen=True)
class Written:
    """A network as it is written down: all layers alike; who sees whom, and what stands around the maps."""

    heads: int = 1
    layers: int = 1
    biases: dict[str, Any] = field(default_factory=dict)
    sees: Any = None
    norm: Any = None
    before: bool = False
    activation: Any = None
    skip: float = 0.0
    tokens: int = 3
    choices: dict[str, Any] = field(default_factory=dict)

    def network(self) -> Network:
        def many(array: Any) -> Any:
            return np.repeat(array, self.heads, axis=0)

        biases = {name: b if name == "b_O" else many(b) for name, b in self.biases.items()}
        given = dict(zip(("W_Q", "W_K", "W_V", "W_O"), map(many, (VALUES, OUTPUTS, VALUES, OUTPUTS)), strict=True))
        maps: list[Any] = [Attention.from_qkvo(**given, mask=self.sees, **biases, **self.choices)]
        if self.activation:
            maps.append(MLP(np.eye(2), np.eye(2), activation=self.activation))
        norm = LayerNorm(self.norm) if self.norm else None
        layer = [Sublayer(f, 0.0 if k else self.skip, norm if self.before else None) for k, f in enumerate(maps)]
        if not self.before:
            layer[-1] = replace(layer[-1], after=norm)
        return Network.from_layers([layer] * self.layers)

    @property
    def edges(self) -> list[tuple[int, int, bool]]:
        n = self.tokens
        mask = np.ones((n, n)) if self.sees is None else self.sees
        return [(i, j, bool(mask[i][j])) for i in range(n) for j in range(n)]

    def seen_as(self, condition: Callable[[int, int], bool]) -> bool:
        return all(sees == condition(i, j) for i, j, sees in self.edges)

    def added_as(self, term: Callable[[int, int], float]) -> bool:
        if "position" not in self.choices or "rotary" in self.choices:
            return False
        return all(self.choices["position"].values[0][i][j] == term(i, j) for i, j, _ in self.edges)

    def zero(self, name: str) -> bool:
        return not np.any(self.biases.get(name, 0))


def no_bias_of_outputs(w: Written) -> bool:
    added = w.heads * (np.asarray(w.biases.get("b_V", np.zeros((1, 2)))) @ OUTPUTS[0])[0]
    return not np.any(added + w.biases.get("b_O", np.zeros(2)))


def only_padding(w: Written) -> bool:
    """Every token sees the same tokens."""
    return all(w.edges[j][2] == sees for _, j, sees in w.edges)


#: What the words mean, of what was written down.
CONVENTIONS: dict[str, Callable[[Written], bool]] = {
    "one head": lambda w: w.heads == 1,
    "one layer": lambda w: w.layers == 1,
    "skip connections of factor 1": lambda w: w.skip == 1,
    "no skip connections": lambda w: w.skip == 0,
    "no mask": lambda w: w.seen_as(lambda i, j: True),
    "the complete mask": lambda w: w.seen_as(lambda i, j: True),
    "the causal mask": lambda w: w.seen_as(lambda i, j: j <= i),
    "any mask": lambda w: True,
    "no mask, or all tokens see the same ones (key padding)": only_padding,
    "no LayerNorm": lambda w: w.norm is None,
    "sphere LayerNorm (every token is divided by its norm, the input's too)": lambda w: w.norm == "sphere",
    "column LayerNorm": lambda w: w.norm == "column",
    "standard LayerNorm": lambda w: w.norm == "standard",
    "RMSNorm": lambda w: w.norm == "rms",
    "any LayerNorm": lambda w: True,
    "LayerNorm before every map": lambda w: w.norm is not None and w.before,
    "LayerNorms anywhere": lambda w: True,
    "no MLP": lambda w: w.activation is None,
    "per-token MLPs or none": lambda w: True,
    "no bias of values or outputs (Σ_h b_V W_O + b_O = 0)": no_bias_of_outputs,
    "no query biases (b_Q = 0)": lambda w: w.zero("b_Q"),
    "no positions": lambda w: not {"position", "rotary"} & {*w.choices},
    "any positions": lambda w: True,
    "rotary positions (pairs of entries of queries and keys are turned as tables of cos and sin of their place"
    " say)": lambda w: {"position", "rotary"} & {*w.choices} == {"rotary"},
    "ALiBi positions (logits less m|i − j|, with a number m ≥ 0 for every head)": lambda w: any(
        w.added_as(lambda i, j, m=m: -m * abs(i - j)) for m in (0.0, 0.5, 3.0)
    ),
    "relative positions (a term of the logits that depends on i − j alone)": lambda w: w.added_as(
        lambda i, j: w.choices["position"].values[0][max(i - j, 0)][max(j - i, 0)]
    ),
    "logits that are not capped": lambda w: "softcap" not in w.choices,
    "logits capped or not": lambda w: True,
    "logits x capped to c·tanh(x/c), c > 0": lambda w: "softcap" in w.choices,
    "no norms of queries and keys": lambda w: "qk_norm" not in w.choices,
    "norms of queries and keys or none": lambda w: True,
}


def with_activation(name: str) -> Callable[[Written], bool]:
    return lambda w: bool(w.activation == name)


CONVENTIONS |= {f"per-token MLPs with {name}": with_activation(name) for name in ACTIVATIONS}


def meaning(printed: str) -> Callable[[Written], bool]:
    """The words' meaning; the masks with a number say it themselves."""
    if printed in CONVENTIONS:
        return CONVENTIONS[printed]
    *_, rule = printed.partition("the mask under which token i sees token j where ")
    number = r"(\d+)"
    rules: dict[str, Callable[[int, int, int], bool]] = {
        rf"\|i − j\| ≤ {number}": lambda i, j, k: abs(i - j) <= k,
        rf"i − {number} < j ≤ i": lambda i, j, k: i - k < j <= i,
        rf"j ≤ i, or both i and j are below {number}": lambda i, j, k: j <= i or (i < k and j < k),
        rf"i = j, or one of them is {number}": lambda i, j, k: i == j or k in (i, j),
    }
    [(k, sees)] = [(int(m[1]), sees) for form, sees in rules.items() if (m := re.fullmatch(form, rule))]
    return lambda w: w.seen_as(lambda i, j: sees(i, j, k))


def matrix(n: int, sees: Callable[[int, int], bool]) -> Any:
    return np.array([[sees(i, j) for j in range(n)] for i in range(n)])


def added(term: Callable[[int, int], float]) -> PositionTable:
    return PositionTable([[[term(i, j) for j in range(3)] for i in range(3)]])


TURNS = Rotary([[1.0], [0.0], [-1.0]], [[0.0], [1.0], [0.0]])
ONE, COLUMN = np.array([[1.0, 0.0]]), np.array([1.0, 0.0])
NETWORKS: dict[str, Written] = {
    "attention alone": Written(),
    "two heads": Written(heads=2),
    "two layers": Written(layers=2),
    "skip 1": Written(skip=1.0),
    "skip 1/2": Written(skip=0.5),
    "one token": Written(tokens=1),
    "one causal token": Written(tokens=1, sees=np.ones((1, 1), dtype=bool)),
    **{
        f"{name} alone": Written(biases={name: COLUMN if name == "b_O" else ONE})
        for name in ("b_Q", "b_K", "b_V", "b_O")
    },
    "b_V that b_O undoes": Written(biases={"b_V": ONE, "b_O": -(ONE @ OUTPUTS[0])[0]}),
    "b_Q and capped logits": Written(biases={"b_Q": ONE}, choices={"softcap": 2.0}),
    "b_K and capped logits": Written(biases={"b_K": ONE}, choices={"softcap": 2.0}),
    "norms of queries": Written(choices={"qk_norm": (np.ones(2), np.ones(2), 0.5)}),
    "turned": Written(choices={"rotary": TURNS}),
    "turned and moved": Written(choices={"rotary": TURNS, "position": PositionTable(np.ones((1, 3, 3)))}),
    "slope 1/2": Written(choices={"position": added(lambda i, j: -abs(i - j) / 2)}),
    "slope -1/2": Written(choices={"position": added(lambda i, j: abs(i - j) / 2)}),
    "slope on one side": Written(choices={"position": added(lambda i, j: min(j - i, 0) / 2)}),
    "slope and one entry": Written(choices={"position": added(lambda i, j: -abs(i - j) / 2 - (i == j == 2))}),
    **{f"norm {kind}": Written(norm=kind) for kind in ("sphere", "column", "standard", "rms")},
    "norm before": Written(norm="rms", before=True),
    **{f"mlp {name}": Written(activation=name) for name in ACTIVATIONS},
    "causal": Written(sees=matrix(3, lambda i, j: j <= i)),
    "causal and one edge more": Written(sees=matrix(3, lambda i, j: j <= i or (i, j) == (0, 1))),
    "causal and one edge less": Written(sees=matrix(3, lambda i, j: j <= i and (i, j) != (2, 0))),
    "window": Written(sees=matrix(3, lambda i, j: abs(i - j) <= 1)),
    "complete": Written(sees=matrix(3, lambda i, j: True)),
    "padding": Written(sees=matrix(3, lambda i, j: j < 2)),
    "padding but for the last token": Written(sees=matrix(3, lambda i, j: j < 2 or i == 2)),
    "star": Written(sees=matrix(3, lambda i, j: i == j or 1 in (i, j))),
    "causal window": Written(sees=matrix(3, lambda i, j: i - 2 < j <= i)),
    "prefix": Written(sees=matrix(3, lambda i, j: j <= i or (i < 2 and j < 2))),
}


def hypotheses() -> dict[str, str]:
    """What is printed in words of every hypothesis of a registered statement, and of every word of every switch."""
    found = {}
    for statement in statements().values():
        for part in statement.hypotheses if not statement.arrays else ():
            if words(part) not in ("", text(part)):
                found[text(part)] = words(part)
    for switch, its in SWITCHES.items():
        found |= {f"{switch} == {word}": shown for word, shown in its.items() if shown}
    for name in MASKS:
        for k in (1, 2) if name != "causal" else ():
            found[f"mask == {name}({k})"] = said("mask", f"{name}({k})")
    return found


HYPOTHESES = hypotheses()


def coded(hypothesis: str, w: Written) -> bool:
    net = w.network()
    X = np.arange(2.0 * w.tokens).reshape(w.tokens, 2) + 1
    [side] = sides(read_formula(hypothesis), Run(Float64(np.zeros(1)), net, X))
    return bool(side.left == side.right) if side.truth is None else bool(side.truth.holds)


@pytest.mark.parametrize("hypothesis", sorted(HYPOTHESES))
def test_words_mean_what_is_evaluated(hypothesis: str) -> None:
    means = meaning(HYPOTHESES[hypothesis])
    # A mask with a number is refused where there are too few tokens for it.
    networks = {name: w for name, w in NETWORKS.items() if "(" not in hypothesis or w.tokens == 3}
    assert [name for name, w in networks.items() if means(w) != coded(hypothesis, w)] == []


@pytest.mark.parametrize(
    ("hypothesis", "wrong", "where"),
    [
        ("query_bias == none", lambda w: w.zero("b_K"), {"b_Q alone", "b_K alone"}),
        ("bias == none", lambda w: not w.biases, {"b_Q alone", "b_K alone", "b_V that b_O undoes"}),
        ("mask == padding", CONVENTIONS["no mask"], {"padding"}),
        ("mask == causal", lambda w: w.seen_as(lambda i, j: j < i), {"causal"}),
    ],
)
def test_wrong_words_are_seen(hypothesis: str, wrong: Callable[[Written], bool], where: set[str]) -> None:
    assert where <= {name for name, w in NETWORKS.items() if wrong(w) != coded(hypothesis, w)}
