"""Which bound applies to a given network, and where it lies: every registered statement, by depth or by layer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.plain import check_input, check_one_sequence
from rankmath.claims import statements, statements_like
from rankmath.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, axes_for
from rankmath.formula.evaluate import judged, sides, value
from rankmath.formula.numbers import Signed
from rankmath.formula.printing import text, words
from rankmath.formula.run import Run
from rankmath.formula.terms import (
    EXPONENTS,
    Both,
    Every,
    Formula,
    Item,
    Letter,
    Number,
    Relation,
    Term,
    relations,
    replaced,
    walk,
)
from rankmath.model.network import Network
from rankmath.printing import Sheet, Shows, digits, quotient
from rankmath.validation import ArrayLike, Axes, InvalidArgument, Json
from rankmath.verification.instance import NetworkInstance, demand_one_attention, network_instance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome

#: Networks of which balls are asked have fewer products of attention and tokens: a second or so.
_FOR_BALLS = 500_000


@dataclass(frozen=True)
class Applied:
    """One statement on one network; one of its inequalities, where it has several.

    `claim` is the inequality as text, `says` its sign. `why_not` is the hypothesis that fails at all layers, "" where
    the statement applies. `log_lhs` and `log_rhs` are its left and its right side on the network of the first l
    layers, l = 1, …, L (nan where it does not apply there, or rounding made them), natural logarithms.
    """

    key: str
    title: str
    status: str
    claim: str
    says: str
    why_not: str
    log_lhs: tuple[float, ...]
    log_rhs: tuple[float, ...]

    @property
    def applies(self) -> bool:
        """Whether it says something about this network at some depth."""
        return not self.why_not


@dataclass(frozen=True, repr=False)
class BoundsFor(Shows):
    """All statements on one network; `applied` is in the order of the registry."""

    layers: int
    applied: tuple[Applied, ...]

    def __getitem__(self, key: str) -> Applied:
        """The first inequality of this statement."""
        for one in self.applied:
            if one.key == key:
                return one
        raise KeyError(key)

    @property
    def applicable(self) -> tuple[Applied, ...]:
        """Those whose hypotheses hold at some depth."""
        return tuple(one for one in self.applied if one.applies)

    def to_dict(self) -> dict[str, Json]:
        """Everything as plain data; None where there is no number."""

        def plain(values: Sequence[float]) -> list[float | None]:
            return [x if math.isfinite(x) else None for x in values]

        rows = [{**vars(one), "log_lhs": plain(one.log_lhs), "log_rhs": plain(one.log_rhs)} for one in self.applied]
        return {"layers": self.layers, "statements": rows}

    def rows(self) -> list[tuple[str, ...]]:
        """Key, what is known, the depth at which it is read, both sides with the sign between them, their quotient; or
        the hypothesis that fails."""
        found: list[tuple[str, ...]] = []
        for one in self.applied:
            if not one.applies:
                if found and found[-1][0] == one.key and found[-1][-1]:
                    continue  # said of its first inequality
                found.append((one.key, one.status, "", "", "", "", "", one.why_not))
                continue
            depth = max(l for l, x in enumerate(one.log_rhs, start=1) if not math.isnan(x))
            lhs, rhs = one.log_lhs[depth - 1], one.log_rhs[depth - 1]
            ratio = quotient(lhs - rhs) if not math.isnan(lhs - rhs) else ""
            found.append((one.key, one.status, str(depth), digits(lhs), one.says, digits(rhs), ratio, ""))
        return found

    COLUMNS = ("key", "known", "layers", "log lhs", "", "log rhs", "lhs/rhs", "needs")

    def sheet(self) -> Sheet:
        count = f"{len(self.applicable)} of {len(self.applied)} statements"
        title = f"{count} apply to this network of {self.layers} layers, natural logarithms"
        rows = tuple(row[:7] for row in self.rows() if not row[7])
        return Sheet(title, (), self.COLUMNS[:7], rows)

    def plot(self, ax: Axes = None) -> Axes:
        """Measured sides (solid) and bounds (dashed) by depth, of the statements with more than one depth."""
        ax = axes_for(ax)
        colours = (BLUE, ORANGE, GREEN, PURPLE, GREY)
        depths = np.arange(1, self.layers + 1)
        drawn = 0
        for one in self.applicable:
            lhs, rhs = np.array(one.log_lhs) / math.log(10), np.array(one.log_rhs) / math.log(10)
            if np.isfinite(rhs).sum() < 2 or one.status == "refuted":
                continue
            colour = colours[drawn % len(colours)]
            ax.plot(depths, lhs, color=colour, marker="o", markersize=3, label=f"{one.key}, {one.says}")
            ax.plot(depths, rhs, color=colour, linestyle="--")
            drawn += 1
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlabel("layers")
        ax.set_ylabel(r"$\log_{10}$ of both sides (dashed: the right one)")
        ax.set_title("Bounds by depth" if drawn else "Bounds by depth: none applies at two depths")
        if drawn:
            ax.legend(fontsize=7)
        return ax


def bounds_for(
    net: Network, X: ArrayLike, keys: Sequence[str] = (), *, progress: Callable[[str], None] | None = None
) -> BoundsFor:
    """Which statements apply to this network and input, and both sides of each, depth by depth, in float64.

    Sides that float64 cannot tell apart and has in the wrong order are those of balls, nan for a large network.

    Parameters
    ----------
    keys : statements or patterns such as ``own:*``; all that speak of networks if none is given.
    progress : called with each key that is done.

    Examples
    --------
    >>> net = Network.random(tokens=4, dim=3, layers=2, seed=0)
    >>> found = bounds_for(net, net.random_input(seed=1), ["own:diameter", "own:skip-lower"])
    >>> found["own:diameter"].applies, found["own:skip-lower"].applies
    (True, False)
    """
    X = check_input(net, X)
    if X.ndim != 2:
        raise InvalidArgument(f"X: a batch of shape {tuple(X.shape)} given; one input is needed, tokens × dimension")
    named = [entry for pattern in keys for entry in statements_like(pattern)] if keys else statements().values()
    entries = [entry for entry in named if _speaks_of_networks(entry)]
    if keys and not entries:
        raise InvalidArgument(f"keys: {', '.join(keys)} given; none of them is an inequality about networks")
    depths = [Network.from_layers(net.sublayers[:l], net.tokens) for l in range(1, net.layers + 1)]
    found = []
    for entry in entries:
        found += [_applied(part, depths, X) for part in _inequalities(entry)]
        if progress is not None:
            progress(entry.key)
    return BoundsFor(net.layers, tuple(found))


@dataclass(frozen=True)
class LayerBound:
    """One inequality ``size(X[L]) <= …`` of a statement along the layers, natural logarithms, float64.

    Attributes
    ----------
    key, size : the statement, and the size it bounds, as text.
    measured : (L+1,) that size at every layer, the input first.
    step : (L,) the bound of layer l by itself, on the tokens that come to it; nan where a hypothesis fails there, or
        where rounding may have made the number.
    whole : (L,) the bound of the first l + 1 layers together; nan likewise.
    why_not : (L,) the hypothesis of `step` that fails, or nothing.
    """

    key: str
    size: str
    measured: tuple[float, ...]
    step: tuple[float, ...]
    whole: tuple[float, ...]
    why_not: tuple[str, ...]

    @property
    def vacuous(self) -> tuple[bool, ...]:
        """Layers at which the step's bound does not say that anything shrinks."""
        return tuple(bound >= before for bound, before in zip(self.step, self.measured[:-1], strict=True))

    @property
    def share(self) -> tuple[float, ...]:
        """The part of the measured fall of the logarithm that the step's bound says; nan where nothing falls."""
        falls = [after - before for before, after in pairwise(self.measured)]
        said = [bound - before for bound, before in zip(self.step, self.measured[:-1], strict=True)]
        return tuple(s / f if f < 0 else math.nan for s, f in zip(said, falls, strict=True))


def layer_bounds(net: Network, X: ArrayLike, keys: Sequence[str]) -> tuple[LayerBound, ...]:
    """The inequalities of these statements layer by layer, each evaluated from its registered formula.

    >>> net = Network.random(tokens=6, dim=4, heads=2, layers=3, seed=0, head_dim=2)
    >>> for bound in layer_bounds(net, 0.1 * net.random_input(seed=1), ["own:diameter", "dong2021:2.3"]):
    ...     print(bound.key, bound.size, bound.vacuous)
    own:diameter diameter(X[L], 1) (False, False, False)
    own:diameter diameter(X[L], 2) (False, False, False)
    own:diameter diameter(X[L], inf) (False, False, False)
    dong2021:2.3 residual(X[L], composite) (True, False, False)
    """
    X = check_one_sequence(net, X, "layer_bounds")
    demand_one_attention(net)
    run = Run(Float64(np.zeros(1)), net, X)
    single = [run.part(l, l + 1) for l in range(net.layers)]
    first = [run.part(0, l + 1) for l in range(net.layers)]
    found = []
    for entry in (entry for pattern in keys for entry in statements_like(pattern)):
        sizes = list(_sizes(entry)) if _speaks_of_networks(entry) else []
        if not sizes:
            raise InvalidArgument(f"keys: {entry.key} given; an upper bound of a size of X[L] is needed")
        why, failing = ([_failing(entry, part) for part in parts] for parts in (single, first))
        for left, right in sizes:
            start, end = (replaced(left, {"L": Number(Fraction(l))}) for l in (0, 1))
            measured = (_log(start, single[0]), *(_log(end, part) for part in single))
            step, whole = (
                tuple(math.nan if no else _log(right, part) for part, no in zip(parts, reasons, strict=True))
                for parts, reasons in ((single, why), (first, failing))
            )
            found.append(LayerBound(entry.key, text(left), measured, step, whole, tuple(why)))
    return tuple(found)


def _sizes(entry: Statement) -> Iterator[tuple[Term, Term]]:
    """Both sides of the inequalities ``size(X[L]) <= …`` of a statement, one for each p."""
    for part in entry.expanded.formulas if isinstance(entry.expanded, Both) else (entry.expanded,):
        found: list[Term] = [part]
        if isinstance(part, Every) and part.index == "p":
            found = [replaced(part.formula, {"p": Letter(p)}) for p in EXPONENTS]
        for relation in found:
            output = any(isinstance(term, Item) and term.index == (Letter("L"),) for term in walk(relation))
            if isinstance(relation, Relation) and relation.operator == "<=" and output:
                yield relation.left, relation.right


def _failing(entry: Statement, run: Run) -> str:
    """The first hypothesis that is not certain on this run; "" where all are. One of which a quantity is not defined
    there comes last: another one says why."""
    undefined = ""
    for part in (*entry.unsaid, *entry.expanded_hypotheses):
        try:
            if not all(judged(side, 1, run.numbers).below[0] for side in sides(part, run)):
                return words(part)
        except InvalidArgument:
            undefined = undefined or words(part)
    return undefined


def _log(term: Term, run: Run) -> float:
    found = value(term, run, {})
    if isinstance(found, Signed):
        return float(found.log) if found.is_told[()] else math.nan
    return math.log(found) if found else -math.inf


def _speaks_of_networks(entry: Statement) -> bool:
    return entry.instance is network_instance and not entry.exact and entry.quantifier == "all"


def _inequalities(entry: Statement) -> Iterator[Statement]:
    """The statement with each of its inequalities alone."""
    parts = entry.claimed.formulas if isinstance(entry.claimed, Both) else (entry.claimed,)
    yield from (replace(entry, formula=part) for part in parts)


def _applied(entry: Statement, depths: Sequence[Network], X: ArrayLike) -> Applied:
    lhs, rhs, why = [], [], list[str]()
    signs = " ".join(dict.fromkeys(part.operator for part in relations(entry.claimed)))
    for net in depths:
        sides = math.nan, math.nan
        try:
            verdict = judge(entry, NetworkInstance(net, X), "float64")
            if verdict.outcome == Outcome.UNDECIDED and verdict.log_lhs > verdict.log_rhs:
                n, d = np.shape(X)
                if n * n * d * sum(a.heads for a in net.attentions) < _FOR_BALLS:
                    verdict = judge(entry, NetworkInstance(net, X), "balls")
                else:
                    verdict = replace(verdict, log_lhs=math.nan, log_rhs=math.nan)
            if verdict.outcome == Outcome.NOT_APPLICABLE:
                why.append(verdict.reason.removesuffix(" fails"))
            # A verdict's sides are the smaller one and the larger one, as the claim has it.
            sides = verdict.log_lhs, verdict.log_rhs
            if signs.startswith(">"):
                sides = sides[1], sides[0]
        except InvalidArgument as refusal:
            why.append(str(refusal))
        lhs.append(sides[0])
        rhs.append(sides[1])
    applies = any(not math.isnan(x) for x in rhs)
    about = entry.key, entry.title, entry.status, entry.claim_text, signs
    # Of another number of layers something may be said; what fails beside is the reason.
    of_depth = {words(part) for part in entry.expanded_hypotheses if {*_letters(part)} == {"L"}}
    reason = next((said for said in reversed(why) if said not in of_depth), why[-1] if why else "")
    return Applied(*about, "" if applies else reason, tuple(lhs), tuple(rhs))


def _letters(part: Formula) -> Iterator[str]:
    return (
        term.name if isinstance(term, Letter) else "of more"
        for term in walk(part)
        if not isinstance(term, Number | Relation)
    )
