"""From statements to verdicts: one instance, or a battery of them.

Float64 looks at every instance; whatever it cannot tell from equality, and every seeming violation, goes to balls.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Literal

import numpy as np

from rankmath.arithmetic.float64 import Float64, to_numpy
from rankmath.attention.backend import Backend, mover
from rankmath.certificates.certificate import Certificate
from rankmath.claims.instance import Instance
from rankmath.claims.registry import statement as registered
from rankmath.claims.registry import statements
from rankmath.claims.statement import Evaluation, Side, Statement
from rankmath.claims.verdict import Outcome, Verdict
from rankmath.validation import InvalidArgument, as_choice, as_count

#: Float64 says "holds" or "violated" only beyond this distance, relative to the larger of 1 and the logarithms.
FLOAT_MARGIN = 1e-9
#: Balls are refined up to here before they give up.
MOST_BITS = 4096

_BATCH = 64


def verify(
    key: str | Statement,
    *given: Any,
    arithmetic: Literal["float64", "balls"] = "float64",
    bits: int | None = None,
    **named: Any,
) -> Verdict:
    """One statement on one instance.

    Parameters
    ----------
    key : a statement's key, or a `Statement` of your own.
    given : what the statement speaks about: ``net, X`` for networks (see `Statement.instance`).
    arithmetic : "float64" (numerically) or "balls" (certified, precision raised until decided, at most `bits`).

    Examples
    --------
    >>> from rankmath.model.network import Network
    >>> net = Network.random(tokens=5, dim=3, heads=2, layers=2, seed=0)
    >>> verdict = verify("own:diameter", net, net.random_input(seed=1), arithmetic="balls")
    >>> verdict.outcome.value, verdict.certified, 0 < verdict.ratio < 1
    ('HOLDS', True, True)
    """
    statement = key if isinstance(key, Statement) else registered(key)
    as_choice("arithmetic", arithmetic, ("float64", "balls"))
    instance = _instance(statement, given, named)
    if len(instance) != 1 or instance.is_batch:
        raise InvalidArgument(f"X: a batch of {len(instance)} given; verify takes one instance")
    return judge(statement, instance, arithmetic, as_count("bits", MOST_BITS if bits is None else bits, least=32))


def certify(key: str | Statement, *given: Any, **named: Any) -> Certificate:
    """A certificate of one statement on one instance: decided by balls, accepted by the independent checker.

    Raises an ArithmeticError if balls cannot decide, or a hypothesis fails: nothing is issued on a float's word.

    Examples
    --------
    >>> from rankmath.model.network import Network
    >>> net = Network.random(tokens=3, dim=2, layers=2, seed=0)
    >>> certificate = certify("own:diameter", net, net.random_input(seed=1))
    >>> certificate.kind, certificate.check().accepted
    ('holds', True)
    """
    statement = key if isinstance(key, Statement) else registered(key)
    if statement.certificate is None:
        having = ", ".join(k for k, entry in statements().items() if entry.certificate is not None)
        raise InvalidArgument(f"key: {statement.key!r} given; instances are certified for {having}")
    verdict = verify(statement, *given, arithmetic="balls", **named)
    if not verdict.certified or verdict.outcome not in (Outcome.HOLDS, Outcome.VIOLATED):
        raise ArithmeticError(f"nothing to certify: {verdict}")
    return statement.certificate(_instance(statement, given, named), verdict)


def _instance(statement: Statement, given: tuple[Any, ...], named: dict[str, Any]) -> Instance:
    """The checked instance; too few or too many arguments are refused by name."""
    wanted = signature(statement.instance)
    try:
        wanted.bind(*given, **named)
    except TypeError as error:
        raise InvalidArgument(f"{statement.key}: {error}; it takes {', '.join(wanted.parameters)}") from None
    instance: Instance = statement.instance(*given, **named)
    return instance


def judge(statement: Statement, instance: Instance, arithmetic: str, most_bits: int = MOST_BITS) -> Verdict:
    """The verdict on one checked instance."""
    if statement.decide is not None:
        exact = statement.decide(instance)
        outcome = Outcome.HOLDS if exact.holds else Outcome.VIOLATED
        return Verdict(statement.key, outcome, math.nan, math.nan, True, "exact", exact.reason)
    assert statement.evaluate is not None
    if arithmetic == "float64":
        evaluation = statement.evaluate(Float64(np.zeros(1)), instance)
        return float_verdicts(statement.key, evaluation, 1)[0]
    return _ball_verdict(statement, instance, most_bits)


def _ball_verdict(statement: Statement, instance: Instance, most_bits: int) -> Verdict:
    from rankmath.arithmetic.balls import Balls, precision

    assert statement.evaluate is not None
    bits = min(128, most_bits)
    while True:
        with precision(bits):
            verdict = _decide_balls(statement.key, statement.evaluate(Balls(), instance), bits)
        if verdict.outcome != Outcome.UNDECIDED or bits >= most_bits:
            return verdict
        bits = min(2 * bits, most_bits)


def _decide_balls(key: str, evaluation: Evaluation, bits: int) -> Verdict:
    """HOLDS, VIOLATED or NOT_APPLICABLE only where every point of the balls says so."""
    name = f"balls at {bits} bits"

    def verdict(outcome: Outcome, side: Side, reason: str = "") -> Verdict:
        decided = outcome != Outcome.UNDECIDED
        lhs, rhs = _middle(side.log_lhs), _middle(side.log_rhs)
        return Verdict(key, outcome, lhs, rhs, decided, name, reason)

    for hypothesis in evaluation.hypotheses:
        if _certainly_above(hypothesis.side):
            return verdict(Outcome.NOT_APPLICABLE, hypothesis.side, hypothesis.name)
    for hypothesis in evaluation.hypotheses:
        if not _certainly_below(hypothesis.side):
            return verdict(Outcome.UNDECIDED, hypothesis.side, f"cannot tell whether {hypothesis.name}")
    critical = max(evaluation.sides, key=_middle_excess)
    broken = [side for side in evaluation.sides if _certainly_above(side)]
    if broken:
        return verdict(Outcome.VIOLATED, max(broken, key=_middle_excess))
    if all(_certainly_below(side) for side in evaluation.sides):
        return verdict(Outcome.HOLDS, critical)
    return verdict(Outcome.UNDECIDED, critical, "the two sides are equal as far as these balls can tell")


def _middle_excess(side: Side) -> float:
    return _excess(_middle(side.log_lhs), _middle(side.log_rhs))


def _certainly_below(side: Side) -> bool:
    from flint import arb

    if side.log_lhs == arb.neg_inf():
        return True
    return bool(side.log_lhs <= side.log_rhs)


def _certainly_above(side: Side) -> bool:
    return bool(side.log_lhs > side.log_rhs)


def _middle(x: Any) -> float:
    from rankmath.arithmetic.balls import Balls

    mantissa, exponent = Balls().float_and_exponent(x)
    return mantissa if exponent == 0 else math.copysign(math.inf, mantissa)


def _excess(log_lhs: float, log_rhs: float) -> float:
    if log_lhs == -math.inf:
        return -math.inf
    difference = log_lhs - log_rhs
    return math.inf if math.isnan(difference) else difference


def float_verdicts(key: str, evaluation: Evaluation, size: int) -> list[Verdict]:
    """Numerical verdicts over a batch: beyond the margin, or undecided."""

    def values(x: Any) -> np.ndarray[Any, Any]:
        return np.broadcast_to(np.asarray(to_numpy(x), dtype=float), (size,))

    def excess_of(side: Side) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """log lhs − log rhs, and the distance from equality that rounding could explain."""
        lhs, rhs = values(side.log_lhs), values(side.log_rhs)
        with np.errstate(invalid="ignore"):
            excess = np.where(lhs == -np.inf, -np.inf, lhs - rhs)
        size = [np.abs(np.where(np.isfinite(x), x, 0.0)) for x in (lhs, rhs)]
        return excess, FLOAT_MARGIN * np.maximum(1.0, np.maximum(*size))

    outcomes = np.full(size, Outcome.HOLDS, dtype=object)
    reasons = np.full(size, "", dtype=object)
    lhs, rhs = np.full(size, -np.inf), np.full(size, 0.0)
    worst = np.full(size, -np.inf)
    for side in evaluation.sides:
        excess, margin = excess_of(side)
        critical = ~(excess <= worst)
        lhs = np.where(critical, values(side.log_lhs), lhs)
        rhs = np.where(critical, values(side.log_rhs), rhs)
        worst = np.where(critical, excess, worst)
        outcomes[~(excess <= -margin) & (outcomes == Outcome.HOLDS)] = Outcome.UNDECIDED
        outcomes[excess > margin] = Outcome.VIOLATED
    for hypothesis in evaluation.hypotheses:
        excess, margin = excess_of(hypothesis.side)
        close = ~(excess <= -margin) & (outcomes != Outcome.NOT_APPLICABLE)
        outcomes[close], reasons[close] = Outcome.UNDECIDED, f"cannot tell whether {hypothesis.name}"
        fails = excess > margin
        outcomes[fails], reasons[fails] = Outcome.NOT_APPLICABLE, hypothesis.name
    return [
        Verdict(key, Outcome(outcomes[i]), float(lhs[i]), float(rhs[i]), False, "float64", str(reasons[i]))
        for i in range(size)
    ]


# -- batteries ---------------------------------------------------------------------------------------------


@dataclass
class Battery:
    """What a battery of instances showed of one statement.

    `tightest` is the largest lhs/rhs among instances on which the statement holds; `violations` are confirmed by
    balls or exact arithmetic, never by float64 alone; `trouble` says why an exhibit was not issued.
    """

    statement: Statement
    instances: int = 0
    holds: int = 0
    certified: int = 0
    not_applicable: int = 0
    undecided: int = 0
    tightest: float = 0.0
    tightest_instance: Instance | None = None
    violations: list[tuple[Instance, Verdict]] = field(default_factory=list)
    exhibit: Certificate | None = None
    trouble: str = ""
    certificates: list[Certificate] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    comparison: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def outcome(self) -> str:
        """REFUTED, HOLDS or UNDECIDED, from what was seen."""
        shown = self.exhibit is not None
        if self.violations or (shown and self.statement.exhibit_refutes):
            return "REFUTED"
        return "HOLDS" if self.holds or shown else "UNDECIDED"

    @property
    def as_registered(self) -> bool:
        return self.outcome == {"proved": "HOLDS", "refuted": "REFUTED"}[self.statement.status]

    def take(self, instance: Instance, verdict: Verdict) -> None:
        """Count one decided instance."""
        self.instances += 1
        self.certified += verdict.certified and verdict.outcome in (Outcome.HOLDS, Outcome.VIOLATED)
        if verdict.outcome == Outcome.HOLDS:
            self.holds += 1
            if not math.isnan(verdict.log_lhs):
                self.ratios.append(verdict.ratio)
                if verdict.ratio > self.tightest:
                    self.tightest, self.tightest_instance = verdict.ratio, instance
        elif verdict.outcome == Outcome.VIOLATED:
            self.violations.append((instance, verdict))
        elif verdict.outcome == Outcome.NOT_APPLICABLE:
            self.not_applicable += 1
        else:
            self.undecided += 1


def verify_statement(
    key: str | Statement,
    *,
    instances: int = 500,
    certify: int = 10,
    seed: int = 0,
    search: int = 300,
    backend: Backend = "numpy",
    progress: Callable[[int], None] | None = None,
) -> Battery:
    """A battery: random and structured instances, near-extremal ones, and an adversarial search.

    Parameters
    ----------
    instances : how many to draw.
    certify : how many of them balls decide, beside all that float64 leaves open.
    search : steps of the adversary, who climbs in lhs/rhs from the tightest instances found.
    backend : "cupy" runs the layers of the float64 stage on a GPU; balls decide on the CPU as ever.
    progress : called with the number of instances done, now and then.

    Examples
    --------
    >>> battery = verify_statement("own:tv", instances=200, certify=5, search=50)
    >>> battery.outcome, len(battery.violations), battery.tightest > 0.999999
    ('HOLDS', 0, True)
    """
    statement = key if isinstance(key, Statement) else registered(key)
    instances = as_count("instances", instances, least=0)
    certify = as_count("certify", certify, least=0)
    search = as_count("search", search, least=0)
    seed = as_count("seed", seed, least=0)
    mover(backend)  # refused before anything runs
    began = time.perf_counter()
    battery = Battery(statement)
    if statement.decide is not None:
        for _, batch in _drawn(statement, instances, seed):
            for i in range(len(batch)):
                battery.take(batch.select(i), judge(statement, batch.select(i), "exact"))
            if progress:
                progress(battery.instances)
    elif statement.evaluate is not None:
        comparisons: dict[str, list[float]] = {}
        every = max(1, instances // max(1, certify))
        for start, batch in _drawn(statement, instances, seed):
            A = Float64(np.zeros(1), backend=backend)
            evaluation = statement.evaluate(A, batch)
            verdicts = float_verdicts(statement.key, evaluation, len(batch))
            if statement.compare is not None:
                applies = np.asarray([verdict.outcome == Outcome.HOLDS for verdict in verdicts])
                for name, logs in statement.compare(A, batch, evaluation).items():
                    factors = np.broadcast_to(logs, applies.shape)
                    comparisons.setdefault(name, []).extend(factors[applies & np.isfinite(factors)].tolist())
            for i, verdict in enumerate(verdicts):
                wanted = certify > 0 and (start + i) % every == 0
                if wanted or verdict.outcome in (Outcome.VIOLATED, Outcome.UNDECIDED):
                    verdict = judge(statement, batch.select(i), "balls")
                battery.take(batch.select(i), verdict)
            if progress:
                progress(battery.instances)
        battery.comparison = {
            name: math.exp(min(700.0, float(np.median(logs)))) for name, logs in comparisons.items() if logs
        }
        climb(statement, battery, seed, search)
    for instance, verdict in battery.violations[:3]:
        if statement.certificate is not None and verdict.certified:
            certificate = statement.certificate(instance, verdict)
            if certificate.kind == "violates":  # one that says "holds" is about another statement than this one
                battery.certificates.append(certificate)
    if statement.exhibit is not None:
        try:
            battery.exhibit = statement.exhibit()
        except ArithmeticError as failure:  # not issued: the verdict then differs from what is registered
            battery.trouble = str(failure)
        else:
            battery.certificates.append(battery.exhibit)
    battery.seconds = time.perf_counter() - began
    return battery


def _drawn(statement: Statement, count: int, seed: int) -> Iterator[tuple[int, Instance]]:
    """Batches in a fixed order: the generator of a batch depends on its index alone."""
    done = index = 0
    while done < count and statement.draws:
        rng = np.random.default_rng([seed, index])
        batch = statement.draws[index % len(statement.draws)](rng, min(_BATCH, count - done))
        yield done, batch
        done += len(batch)
        index += 1


def climb(statement: Statement, battery: Battery, seed: int, steps: int) -> None:
    """Near-extremal instances, then a simplex search uphill in log(lhs/rhs) from the tightest."""
    from scipy.optimize import minimize

    assert statement.evaluate is not None
    rng = np.random.default_rng([seed, 2**32 - 1])
    for instance in statement.extremal(rng) if statement.extremal else ():
        battery.take(instance, judge(statement, instance, "balls"))
    start = battery.tightest_instance
    if start is None or steps == 0 or battery.tightest > 1 - 1e-9:
        return

    def height(vector: np.ndarray[Any, Any]) -> float:
        verdict = judge(statement, start.at(vector), "float64")
        if verdict.outcome == Outcome.NOT_APPLICABLE or verdict.log_lhs == -math.inf:
            return 1e6
        return verdict.log_rhs - verdict.log_lhs

    origin = start.vector()
    simplex = origin + np.vstack(
        [np.zeros(origin.size), np.diag(0.05 * np.abs(origin) + 0.01 * np.abs(origin).max())]
    )
    options: Any = {"maxfev": steps, "initial_simplex": simplex, "adaptive": True}
    found = minimize(height, origin, method="Nelder-Mead", options=options)
    peak = start.at(found.x)
    battery.take(peak, judge(statement, peak, "balls"))


__all__ = ["Battery", "certify", "judge", "verify", "verify_statement"]
