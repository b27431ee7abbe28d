"""From statements to verdicts: one instance, or a battery of them.

Float64 looks at every instance; whatever it cannot tell from equality, and every seeming violation, goes to balls.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from itertools import chain
from typing import Literal, TypeAlias, overload

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.backend import Backend, mover
from rankmath.certificates.certificate import Certificate
from rankmath.claims import statement as registered
from rankmath.claims import statements
from rankmath.decide import adversary
from rankmath.decide.adversary import Tell
from rankmath.decide.prover.proof import FoundProof
from rankmath.decide.proving import Proved, Proving
from rankmath.decide.shrink import rescaled, shrinking
from rankmath.decide.space import fits, patterns, rooms, scores, starts, with_draws
from rankmath.decide.tally import Tally, looked_at
from rankmath.decide.uphill import uphill
from rankmath.drawing import draw_ratios
from rankmath.formula.terms import relations
from rankmath.linalg.masks import Mask
from rankmath.model.network import Network
from rankmath.printing import Sheet, Shows, compared, log_of, quotient
from rankmath.validation import ArrayLike, Axes, InvalidArgument, Json, NoDirection, as_choice, as_count, as_real
from rankmath.verification.instance import Instance, NetworkInstance
from rankmath.verification.judge import MOST_BITS, judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome, Verdict, ratio

#: What a statement takes: a network and tokens, or arrays and numbers by name.
Given: TypeAlias = Network | ArrayLike
Arithmetic: TypeAlias = Literal["float64", "mpmath", "balls"]

_BATCH = 64
#: So many of a batch show how long the others take.
_FEW = 4
#: Shares of the time for a claim of one's own after which no more is drawn, and of the rest, searched; and
#: how many seconds a proof, and shrinking, have at least.
_DRAWING, _SEARCHING, _PROVING = 0.4, 0.75, 5.0
#: The share of what is left that simple numbers have before the search; by turns, how many of them a room has at most:
#: half as many as the room before where that took so many seconds.
_SIMPLE, _TURNS = 0.5, ((2, math.inf), (32, 0.05), (256, 0.2), (1024, 1.0))
#: So many networks of equal tokens are judged however short the time.
_ALIKE = 3
#: A score above this is put before balls.
_SUSPECT = 1e-10
#: Seconds in which what was found by Ctrl-C is shrunk.
AFTER_CTRL_C = 0.7


@overload
def verify(
    key: str | Statement, net: Network, X: ArrayLike, *, arithmetic: Arithmetic = "float64", bits: int | None = None
) -> Verdict: ...
@overload
def verify(
    key: str | Statement,
    *data: ArrayLike,
    arithmetic: Arithmetic = "float64",
    bits: int | None = None,
    **named: ArrayLike,
) -> Verdict: ...
def verify(
    key: str | Statement, *given: Given, arithmetic: Arithmetic = "float64", bits: int | None = None, **named: Given
) -> Verdict:
    """One statement on one instance.

    Parameters
    ----------
    key : a statement's key, or a `Statement` of your own.
    given : what the statement speaks about: ``net, X`` for networks, else the arrays it declares, in order or by name.
    arithmetic : "float64" or "mpmath" (numerically), or "balls" (certified, precision raised until decided, at
    most `bits`).

    Examples
    --------
    >>> from rankmath.model.network import Network
    >>> net = Network.random(tokens=5, dim=3, heads=2, layers=2, seed=0)
    >>> verdict = verify("own:diameter", net, net.random_input(seed=1), arithmetic="balls")
    >>> verdict.outcome.value, verdict.certified, 0 < verdict.ratio < 1
    ('HOLDS', True, True)
    """
    statement = key if isinstance(key, Statement) else registered(key)
    as_choice("arithmetic", arithmetic, ("float64", "mpmath", "balls"))
    instance = _instance(statement, given, named)
    return judge(statement, instance, arithmetic, as_count("bits", MOST_BITS if bits is None else bits, least=32))


def certify(key: str | Statement, *given: Given, **named: Given) -> Certificate:
    """A certificate of one statement on one instance: decided by balls, accepted by the independent checker.

    Raises an ArithmeticError if balls cannot decide, or a hypothesis fails: nothing is issued on a float's word.

    >>> from rankmath.model.network import Network
    >>> net = Network.random(tokens=3, dim=2, layers=2, seed=0)
    >>> certificate = certify("own:diameter", net, net.random_input(seed=1))
    >>> certificate.kind, certificate.check().accepted
    ('holds', True)
    """
    statement = key if isinstance(key, Statement) else registered(key)
    if statement.certificate is None and (statement.arrays or statement.quantifier == "some"):
        having = ", ".join(k for k, s in statements().items() if s.certificate is not None or not s.arrays)
        raise InvalidArgument(f"key: {statement.key!r} given; instances are certified for {having}")
    instance = _instance(statement, given, named)
    verdict = judge(statement, instance, "balls")
    if not verdict.certified or verdict.outcome not in (Outcome.HOLDS, Outcome.VIOLATED):
        raise ArithmeticError(f"nothing to certify: {verdict}")
    return statement.certified(instance, verdict)


def _instance(statement: Statement, given: tuple[Given, ...], named: dict[str, Given]) -> Instance:
    """The checked instance; too few or too many arguments are refused by name."""
    wanted = signature(statement.instance)
    try:
        wanted.bind(*given, **named)
    except TypeError as error:
        raise InvalidArgument(f"{statement.key}: {error}; it takes {', '.join(wanted.parameters)}") from None
    instance: Instance = statement.instance(*given, **named)
    if len(instance) != 1 or instance.is_batch:
        raise InvalidArgument(f"X: a batch of {len(instance)} given; verify takes one instance")
    return instance


# -- batteries ---------------------------------------------------------------------------------------------


@dataclass(repr=False)
class Battery(Tally, Shows):
    """What a battery of instances showed of one statement.

    `tightest` is the largest lhs/rhs among instances on which the statement holds; `violations` are confirmed by
    balls or exact arithmetic, never by float64 alone; `trouble` says why an exhibit was not issued;
    `interrupted` that Ctrl-C ended it before its time; `proof` is a derivation of an open claim from lemmas, if
    one was found, and `derivation` its certificate; `cut` that the clock ended the search for one.
    """

    tightest_instance: Instance | None = None
    violations: list[tuple[Instance, Verdict]] = field(default_factory=list)
    exhibit: Certificate | None = None
    trouble: str = ""
    certificates: list[Certificate] = field(default_factory=list)
    comparison: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    interrupted: bool = False
    proof: FoundProof | None = None
    cut: bool = False

    @property
    def derivation(self) -> Certificate | None:
        """The certificate of the proof."""
        return self.proof.certificate(self.statement.key) if self.proof is not None else None

    @property
    def tightest(self) -> float:
        """The largest lhs/rhs of all instances."""
        return ratio(self.log_tightest)

    @property
    def ratios(self) -> list[float]:
        """lhs/rhs of every instance on which the statement holds and has two sides."""
        return [ratio(excess) for excess in self.excesses]

    @property
    def outcome(self) -> str:
        """REFUTED, PROVED or HELD for an open claim; for a registered one REFUTED or HOLDS; else UNDECIDED, also where
        an instance violates what was derived: then one of the two is wrong."""
        shown = self.exhibit is not None
        if self.violations and self.proof is not None:
            return "UNDECIDED"
        if self.violations or (shown and self.statement.exhibit_refutes):
            return "REFUTED"
        if self.proof is not None:
            return "PROVED"
        if not self.holds and not shown:
            return "UNDECIDED"
        return "HELD" if self.statement.status == "open" else "HOLDS"

    @property
    def counterexample(self) -> Instance | None:
        """The first violating instance: of an open claim about networks, the smallest that was found."""
        return self.violations[0][0] if self.violations else None

    def certificate(self) -> Certificate:
        """A certificate that the claim is violated, or of what it says exists, accepted by the checker."""
        if self.certificates:
            return self.certificates[0]
        if not self.violations:
            raise ArithmeticError(f"{self.statement.key}: nothing to certify; no instance violated it")
        return self.statement.certified(*self.violations[0])

    @property
    def as_registered(self) -> bool:
        """Whether what was seen is what is registered; an open statement is as registered whatever was seen."""
        known = {"proved": "HOLDS", "refuted": "REFUTED"}.get(self.statement.status)
        return known is None or self.outcome == known

    def to_dict(self) -> dict[str, Json]:
        """Verdict and counts as plain data."""
        names = ("instances", "holds", "certified", "not_applicable", "undecided", "tightest", "seconds")
        about = {"key": self.statement.key, "status": self.statement.status, "outcome": self.outcome}
        counts = {name: getattr(self, name) for name in names}
        return about | counts | {"violations": len(self.violations), "certificates": [c.id for c in self.certificates]}

    def sheet(self) -> Sheet:
        facts = [
            ("instances", f"{self.instances}: held on {self.holds}, {len(self.violations)} violations"),
            ("certified", f"{self.certified}; undecided {self.undecided}, not applicable {self.not_applicable}"),
        ]
        if self.ratios:
            facts.append((f"{self.statement.compared} where it holds", f"≤ {quotient(log_of(self.tightest), up=True)}"))
        if self.violations:
            instance, verdict = min(self.violations, key=lambda found: found[0].vector().size)
            worst = f"{verdict.compared} = {compared(verdict.log_lhs, verdict.log_rhs)}"
            facts.append(("smallest counterexample", f"{instance.label}, {worst}; in `violations`"))
        # The instance found for an open claim, and so its certificate's id, may differ from run to run.
        if self.certificates and self.statement.status != "open":
            facts.append(("certificates", ", ".join(c.id for c in self.certificates[:2])))
        if self.trouble:
            facts.append(("not issued", self.trouble))
        return Sheet(f"Battery of {self.statement.key} ({self.statement.status}): {self.outcome}", tuple(facts))

    def plot(self, ax: Axes = None) -> Axes:
        """How tight the instances were, as matplotlib axes."""
        worst = [v.log_lhs - v.log_rhs for _, v in self.violations if math.isfinite(v.log_lhs - v.log_rhs)]
        return draw_ratios(self.ratios, f"{self.statement.key}: {self.outcome}", max(worst, default=None), ax)

    def take(self, instance: Instance, verdict: Verdict) -> None:
        """Count one decided instance."""
        if self.count(verdict) and verdict.ratio > 0:
            self.tightest_instance = instance
        if verdict.outcome == Outcome.VIOLATED:
            self.violations.append((instance, verdict))


def verify_statement(
    key: str | Statement,
    *,
    instances: int = 500,
    certify: int = 10,
    seed: int = 0,
    search: int = 300,
    backend: Backend = "numpy",
    progress: Callable[[int], None] | None = None,
    seconds: float | None = None,
    tell: Tell | None = None,
) -> Battery:
    """A battery: random and structured instances, near-extremal ones, and an adversarial search.

    Parameters
    ----------
    instances : how many to draw.
    certify : how many of them balls decide, beside all that float64 leaves open.
    search : steps of the adversary, who climbs in lhs/rhs from the tightest instances found; from 1000 on also
        over all shapes that the claim allows.
    backend : "cupy" runs the layers of the float64 stage on a GPU; balls decide on the CPU as ever.
    progress : called with the number of instances done, now and then.
    seconds : how long a claim about networks whose status is open may take in all, up to a few seconds (30 unless
        given, 0 for instances alone): a counterexample is sought over all shapes that the claim allows, and shrunk;
        a proof is sought at the same time, for at most ten seconds of computing; what is found first is the answer.
    tell : called with the evaluations of that search and the largest log(lhs/rhs) so far.

    Examples
    --------
    >>> battery = verify_statement("own:tv", instances=200, certify=5, search=50)
    >>> battery.outcome, len(battery.violations), battery.tightest > 0.999999
    ('HOLDS', 0, True)
    """
    statement = with_draws(key if isinstance(key, Statement) else registered(key))
    instances = as_count("instances", instances, least=0)
    certify = as_count("certify", certify, least=0)
    search = as_count("search", search, least=0)
    seed = as_count("seed", seed, least=0)
    if seconds is not None and as_real("seconds", seconds) < 0:
        raise InvalidArgument(f"seconds: {seconds} given; 0 or a positive number is needed")
    mover(backend)  # refused before anything runs
    began = time.perf_counter()
    battery = Battery(statement)
    open_claim = statement.status == "open" and not statement.arrays and seconds != 0
    limit = 30.0 if seconds is None else seconds
    until, drawn = (began + limit, began + _DRAWING * limit) if open_claim else (math.inf, math.inf)
    proving = Proving(statement, max(until, began + _PROVING)) if open_claim else None
    try:
        try:
            _draw_all(statement, battery, instances, certify, seed, search, backend, progress, drawn)
        except KeyboardInterrupt:
            # A claim of one's own keeps what was seen.
            if statement.status != "open" or battery.instances == 0:
                raise
            battery.interrupted = True
        if proving is not None:
            with suppress(Proved):
                _hunt(statement, battery, seed, until, proving.telling(tell))
            wait = not battery.violations and not battery.interrupted
            battery.proof = proving.result(wait=wait, more=min(_PROVING, 0.3 * limit))
            battery.cut = proving.cut
            if not battery.violations and battery.proof is None and not battery.interrupted:
                _equal_tokens(statement, battery, seed, until)
    finally:
        if proving is not None:
            proving.stop()
    if battery.proof is not None and battery.violations:
        battery.trouble = "an instance violates what was derived: please report this"
    for instance, verdict in battery.violations[:3]:
        if statement.certificate is not None and verdict.certified:
            certificate = statement.certified(instance, verdict)
            if certificate.kind == "violates":  # one that says "holds" is about another statement than this one
                battery.certificates.append(certificate)
    if battery.violations and statement.status == "open" and statement.certificate is None and not statement.arrays:
        pursue(statement, battery, max(3.0, min(20.0, until - time.perf_counter())))
    if statement.exhibit is not None:
        try:
            battery.exhibit = statement.exhibited()
        except ArithmeticError as failure:  # not issued: the verdict then differs from what is registered
            battery.trouble = str(failure)
        else:
            battery.certificates.append(battery.exhibit)
    battery.certificates = list({certificate.id: certificate for certificate in battery.certificates}.values())
    battery.seconds = time.perf_counter() - began
    return battery


def pursue(statement: Statement, battery: Battery, seconds: float = 20.0) -> None:
    """A certificate that the claim is violated: of the smallest violation, else of another, at another scale, or in
    another room; what is not the smallest is shrunk as far as the checker follows.

    The checker may refuse an instance that balls decide: its numbers are too large or too small for it, say.
    """
    until, refused = time.perf_counter() + seconds, 0
    smallest = battery.violations[0][0]
    others = battery.violations[1:]
    assert isinstance(smallest, NetworkInstance)
    certificates: list[Certificate] = []

    def certified(instance: Instance, verdict: Verdict) -> bool:
        try:
            certificates.append(statement.certified(instance, verdict))
        except (ArithmeticError, InvalidArgument) as failure:
            battery.trouble = battery.trouble or str(failure)
            return False
        return True

    untried = ((other, None) for other in chain(rescaled(smallest), _elsewhere(statement)))
    for instance, verdict in chain([battery.violations[0], *others[:3]], untried):
        if refused and time.perf_counter() > until:
            break
        with suppress(ArithmeticError, InvalidArgument):
            found = judge(statement, instance, "balls", 512) if verdict is None else verdict
            if found.outcome == Outcome.VIOLATED and found.certified:
                if not certified(instance, found):
                    refused += 1
                    continue
                if verdict is None:
                    battery.violations[0] = instance, found
                else:
                    battery.violations.sort(key=lambda other: other[0] is not instance)
                left = until - time.perf_counter()
                if refused and left > 0 and isinstance(instance, NetworkInstance):
                    for smaller in shrinking(statement, instance, seconds=left, kept=certified):
                        battery.violations[0] = smaller
                battery.certificates.append(certificates[-1])
                battery.trouble = ""
                return
    battery.trouble += f" ({refused} shrinks and scales of it, and others, were tried)"


def _elsewhere(statement: Statement) -> Iterator[NetworkInstance]:
    """Networks of other rooms that violate the claim, as doubles see them, some of each room."""
    rng = np.random.default_rng(0)
    for room in rooms(statement):
        arrays = starts(rng, room, 16)
        found = scores(statement, room, arrays)
        for place in np.flatnonzero(found > _SUSPECT)[:2].tolist():
            yield room.instance({name: array[place] for name, array in arrays.items()})


def _draw_all(
    statement: Statement,
    battery: Battery,
    instances: int,
    certify: int,
    seed: int,
    search: int,
    backend: Backend,
    progress: Callable[[int], None] | None,
    until: float = math.inf,
) -> None:
    """The drawn instances, the near-extremal ones, and those to which they climb; none after `until`."""
    comparisons: dict[str, list[float]] = {}
    every = max(1, instances // max(1, certify))
    for start, batch in _drawn(statement, instances, seed):
        A = Float64(np.zeros(1), backend=backend)
        wanted = {i for i in range(len(batch)) if certify > 0 and (start + i) % every == 0}
        if until < math.inf:
            batch = _in_time(statement, batch, (until - time.perf_counter()) / 2)
        try:
            found, clear = looked_at(statement, batch, wanted, A)
        except NoDirection:  # a token of one of them is 0 to rounding, which balls look at one by one
            found, clear = None, np.zeros(len(batch), dtype=bool)
        if found is not None and statement.compare:
            applies = found.where(Outcome.HOLDS)
            for name, logs in statement.compare(statement.run(A, batch)).items():
                factors = np.broadcast_to(logs, applies.shape)
                comparisons.setdefault(name, []).extend(factors[applies & np.isfinite(factors)].tolist())
        for i in range(len(batch)):
            if battery.instances and time.perf_counter() > until:
                break
            instance = batch.select(i)
            verdict = found[i] if found is not None and clear[i] else judge(statement, instance, "balls")
            battery.take(instance, verdict)
        if progress:
            progress(battery.instances)
        if time.perf_counter() > until:
            break
    battery.comparison = {
        name: math.exp(min(700.0, float(np.median(logs)))) for name, logs in comparisons.items() if logs
    }
    refuted = statement.status == "open" and battery.violations  # then `_hunt` looks for a smaller one
    if not statement.exact and not refuted and time.perf_counter() < until:
        for instance, verdict in uphill(
            statement, battery.tightest_instance, battery.tightest, seed=seed, steps=search
        ):
            battery.take(instance, verdict)


def _in_time(statement: Statement, batch: Instance, seconds: float) -> Instance:
    """As many of a batch as doubles look at in so many seconds, as the first of them show."""
    if not isinstance(batch, NetworkInstance) or not batch.net.batch_shape or len(batch) <= _FEW:
        return batch
    began = time.perf_counter()
    with suppress(NoDirection):
        looked_at(statement, batch.part(range(_FEW)), set(), Float64(np.zeros(1)))
    most = max(_FEW, int(seconds * _FEW / (time.perf_counter() - began)))
    return batch if most >= len(batch) else batch.part(range(most))


def _hunt(statement: Statement, battery: Battery, seed: int, until: float, tell: Tell | None) -> None:
    """Search for a counterexample, smaller than any that was drawn; shrink the smallest, and put it first."""
    drawn = bool(battery.violations)
    if not battery.interrupted:
        if tell is not None:
            tell(0, -math.inf)
        if not drawn:
            try:
                for instance, verdict in _simple(statement, seed, _SIMPLE * (until - time.perf_counter()), tell):
                    battery.take(instance, verdict)
            except KeyboardInterrupt:
                battery.interrupted = True
        limit = _SEARCHING * max(0.0, until - time.perf_counter())
        if drawn or not (battery.violations or battery.interrupted):
            # What was drawn refutes already: then the search is for a smaller one, and need not be long.
            limit = min(limit / 2, 10.0) if drawn else limit
            known = None if drawn else partial(_near_extremal, seed, time.perf_counter() + 0.8 * limit)
            found = adversary.search(statement, seconds=limit, seed=seed, tell=tell, known=known)
            battery.interrupted = found.interrupted
            if found.instance is not None and (found.refutes or not battery.violations):
                bits = 128 if found.interrupted else 1024
                verdict = judge(statement, found.instance, "balls", bits) if found.verdict is None else found.verdict
                battery.take(found.instance, verdict)
    if battery.violations:
        _shrink(statement, battery, until)


def _simple(
    statement: Statement, seed: int, seconds: float, tell: Tell | None
) -> Iterator[tuple[NetworkInstance, Verdict]]:
    """The first network of simple numbers, over all rooms, that balls say violates the claim; or none in time."""
    until, rng = time.perf_counter() + seconds, np.random.default_rng([seed, 2])
    allowed = rooms(statement)
    for count, long in _TURNS:
        for room in allowed:
            if (began := time.perf_counter()) > until:
                return
            if tell is not None:
                tell(0, -math.inf)
            arrays = patterns(rng, room, count)
            found = scores(statement, room, arrays)
            if count > 2 and time.perf_counter() - began > long:
                count //= 2
            for place in np.argsort(-found)[:2].tolist():
                if found[place] > _SUSPECT:
                    instance = room.instance({name: array[place] for name, array in arrays.items()}, "simple")
                    verdict = judge(statement, instance, "balls", 512)
                    if verdict.outcome == Outcome.VIOLATED:
                        yield instance, verdict
                        return


def _shrink(statement: Statement, battery: Battery, until: float) -> None:
    """The smallest violation stands first, and what it shrinks to in its place: so the counts add up."""
    battery.violations.sort(key=lambda found: found[0].vector().size)
    instance, _ = battery.violations[0]
    assert isinstance(instance, NetworkInstance)
    left = AFTER_CTRL_C if battery.interrupted else max(_PROVING, min(30.0, 0.8 * (until - time.perf_counter())))
    try:
        for smaller in shrinking(statement, instance, seconds=left, hurried=battery.interrupted):
            battery.violations[0] = smaller
    except KeyboardInterrupt:
        battery.interrupted = True


def _equal_tokens(statement: Statement, battery: Battery, seed: int, until: float) -> None:
    """Networks of one token, and of equal tokens: a claim speaks of them where it does not exclude them. The search
    begins with two tokens that differ."""
    near = battery.tightest_instance
    strict = any(part.operator in ("<", ">") for part in relations(statement.expanded))
    # Of more than one token a claim that fails is one that another network meets: the checker asks for that.
    for n in (2, 1) if strict else (1, 2):
        until = max(until, time.perf_counter()) + 0.75  # each has a time of its own: equality may take all of it
        for count, instance in enumerate(_alike(statement, near, n, seed)):
            if count >= _ALIKE and time.perf_counter() > until:
                break
            try:
                verdict = judge(statement, instance, "balls")
            except InvalidArgument:  # a zero token under LayerNorm, or a mask of other sizes, say
                continue
            battery.take(instance, verdict)
            if battery.violations:
                _shrink(statement, battery, until)
                return


def _alike(statement: Statement, near: Instance | None, n: int, seed: int) -> Iterator[NetworkInstance]:
    """Networks of n tokens that are equal: the tightest one first, then those of small rooms."""
    if isinstance(near, NetworkInstance):
        mask = near.net.mask
        if isinstance(mask, Mask) and n == 1:  # every mask on one token is complete
            near = replace(near, net=near.net.replace(mask=None))
        yield NetworkInstance(near.net, np.asarray(near.X)[[0] * n], "equal tokens")
    found = rooms(statement)
    masked = {room.mask: room for room in reversed(found) if room.mask != "none"}.values()  # the first of each mask
    small = [(room, 1) for room in masked] + [(room, 8) for room in found[:12] if room.mask == "none"]
    for room, count in dict.fromkeys((replace(room, n=n), count) for room, count in small if fits(room.mask, n)):
        for made, size in ((patterns, 2), (starts, count)):
            drawn = room.instance(made(np.random.default_rng([seed, 1]), room, size))
            for one in (drawn.select(i) for i in range(len(drawn))):
                yield NetworkInstance(one.net, np.asarray(one.X)[[0] * n], "equal tokens")


def _near_extremal(seed: int, until: float = math.inf) -> Iterator[Instance]:
    """The instances on which the registered statements about networks are tight, by their own analysis, none after
    `until`."""
    for entry in statements().values():
        if entry.extremal is not None and not entry.arrays:
            for instance in entry.extremal(np.random.default_rng([seed, 2**32 - 1])):
                if time.perf_counter() > until:
                    return
                yield instance


def _drawn(statement: Statement, count: int, seed: int) -> Iterator[tuple[int, Instance]]:
    """Batches in a fixed order: the generator of a batch depends on its index alone."""
    done = index = 0
    while done < count and statement.draws:
        rng = np.random.default_rng([seed, index])
        batch = statement.draws[index % len(statement.draws)](rng, min(_BATCH, count - done))
        yield done, batch
        done += len(batch)
        index += 1


__all__ = ["Battery", "certify", "judge", "verify", "verify_statement"]
