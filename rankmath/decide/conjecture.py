"""Is a claim true? REFUTED with the smallest counterexample found, PROVED from lemmas, or HELD, and how tightly."""

from __future__ import annotations

import math
import re
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.claims.own_flows import own_claim
from rankmath.decide.adversary import Floats, Place, Tell, search
from rankmath.decide.battery import AFTER_CTRL_C, Battery, pursue, verify_statement
from rankmath.decide.closed_forms import constant, function, rises
from rankmath.decide.existence import negation
from rankmath.decide.hints import implying, lacking
from rankmath.decide.prover import prove, weaker
from rankmath.decide.prover.proof import FoundProof
from rankmath.decide.prover.reading import lines_of
from rankmath.decide.shrink import shrinking
from rankmath.decide.space import Room, rooms
from rankmath.definitions.hypotheses import SWITCHES
from rankmath.formula.evaluate import NUMBERS, judged, sides
from rankmath.formula.printing import text
from rankmath.formula.reader import hypotheses_in
from rankmath.formula.terms import (
    Both,
    Every,
    Formula,
    Item,
    Letter,
    Number,
    Operation,
    Relation,
    negated,
    relations,
    walk,
)
from rankmath.model.network import MLP, Attention, LayerNorm, Network, Sublayer
from rankmath.printing import compared, quotient
from rankmath.validation import InvalidArgument, NoDirection, NumpyArray
from rankmath.verification.instance import Instance, NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome, Verdict, ratio

#: The share of the time that what is said of a claim that held may take, and how many seconds it has at least.
_HINTS, _LEAST = 0.2, 4.0
#: Seconds of computing in which hypotheses may be found to contradict each other.
_DENYING = 3.0
#: Constants that are tried where a letter is no factor of a whole side.
_ROUND = [Fraction(x) for x in ("1/16", "1/8", "1/4", "1/3", "1/2", "1", "3/2", "2", "4", "8")]
#: At so many of its values a size is searched alone.
_MOST_SIZES = {"n": 8, "d": 4, "H": 4}
#: Above this a constant is not told as one.
_UNBOUNDED = 1e6
#: Constants are told from their logarithms' range, up and down; bits with which one instance is decided.
_RANGE, _BITS = 40.0, 512


@dataclass(frozen=True)
class Answer:
    """What was found out about a claim.

    `near` is the instance on which it was tightest; `shrinking` the quotient of its two sides as that instance's tokens
    shrink by 1, 1/10, 1/100; `implied_by` registered theorems whose bound was at most the claim's on every instance
    compared, a hint and no proof; `constant` the best value seen for the letter that was to be sharpened, `sizes` what
    was seen of it at several values of a size; `factor` the least factor on the larger side with which the claim is
    proved, and `proof` that proof. Of a claim of existence (`sought`) the battery is that of its negation.
    """

    battery: Battery
    near: NetworkInstance | None = None
    shrinking: tuple[float, ...] = ()
    implied_by: tuple[str, ...] = ()
    letter: str = ""
    constant: float = math.nan
    seconds: float = 0.0
    notes: tuple[str, ...] = field(default=())
    factor: str = ""
    proof: FoundProof | None = None
    sizes: tuple[str, ...] = ()
    sought: Statement | None = None
    #: The hypothesis that the others deny, by the battery's proof; empty where none is known to be.
    denied: str = ""
    #: The letter stands on the smaller side: a larger one makes the claim stronger, and `constant` is 1 over the best.
    upside_down: bool = False
    #: Whether an instance was found of which balls can tell that it meets the hypotheses.
    met: bool = True
    #: The sizes with which the constant seen grows, as far as was searched.
    grows: tuple[str, ...] = ()

    @property
    def refuted(self) -> bool:
        return self.battery.outcome == "REFUTED" and not self.letter

    @property
    def proved(self) -> bool:
        return self.battery.outcome == "PROVED"

    @property
    def statement(self) -> Statement:
        """The claim as it was made."""
        return self.sought or self.battery.statement

    @property
    def failing(self) -> Statement:
        """The claim with the constant that was seen to fail."""
        seen = Number(Fraction(_above(1 / self.constant) if self.upside_down else _below(self.constant)))
        return replace(self.statement, where={**self.statement.where, self.letter: seen})

    @property
    def outcome(self) -> str:
        """REFUTED, PROVED, HELD or UNDECIDED; NONE FOUND of a claim of existence; CONTRADICTORY hypotheses."""
        if self.denied:
            return "CONTRADICTORY" if self.sought is None else "REFUTED"
        if self.letter:
            return "SHARPENED" if self.constant > 0 else "UNDECIDED"
        if self.sought is None:
            return self.battery.outcome
        return {"REFUTED": "PROVED", "PROVED": "REFUTED"}.get(self.battery.outcome, "NONE FOUND")

    def lines(self) -> list[str]:
        """The answer in words, line by line."""
        battery = self.battery
        said = [str(self.statement)]
        said[0] += "".join(f"\n  {name}: {meaning}" for name, meaning in self.statement.quantities.items())
        if self.denied:
            assert battery.proof is not None
            what = "REFUTED: there is none, for no network has all that is asked:"
            empty = "CONTRADICTORY: no network meets all the hypotheses, so the claim says nothing:"
            shown = (line.replace(": the claim.", f", but {self.denied} is given.") for line in lines_of(battery.proof))
            return [*said, empty if self.sought is None else what, *(f"  {line}" for line in shown)]
        if self.letter:
            # What is looked for has no value yet.
            unsettled = re.sub(rf"\n  where: {self.letter} = [^,\n]*(?=\n|$)", "", said[0])
            return [unsettled, *self._sharpened(), *self.notes]
        if self.refuted:
            instance, verdict = battery.violations[0]
            sides = self._compared(verdict, instance)
            refuted = f"REFUTED{': ' if sides else ''}{sides} at this instance, by balls:"
            said.append(refuted if self.sought is None else "PROVED: this network has it, by balls:")
            if isinstance(instance, NetworkInstance):
                said += [f"  {line}" for line in in_words(instance)]
                if (
                    len(instance.X) > 1 and (instance.X[0] == instance.X).all()
                ):  # looked at where nothing else was found
                    said.append("tokens are equal here: none was found with tokens that differ")
                given = self.statement.given_texts
                if instance.net.key_bias is not None and "bias == none" in given and "query_bias == none" not in given:
                    said.append('query biases are allowed: --given "query_bias == none" leaves them out')
            else:
                said += [f"  {name} = {np.asarray(array).tolist()}" for name, array in instance.arrays.items()]
            return said
        if battery.proof is not None and battery.violations:
            instance, _ = battery.violations[0]
            said.append("UNDECIDED: an instance violates what was derived; one of them is wrong, please report this:")
            said += [f"  {line}" for line in in_words(instance)] if isinstance(instance, NetworkInstance) else []
            return [*said, *(f"  {line}" for line in lines_of(battery.proof))]
        if battery.proof is not None:
            verdict_of = "PROVED" if self.sought is None else "REFUTED: there is none"
            said.append(f"{verdict_of}, in {_counted(len(battery.proof.lines), 'line')} that the checker accepts:")
            end = ": the claim." if self.sought is None else ": so there is none."
            shown = (re.sub(": the claim[.]$", end, line) for line in lines_of(battery.proof))
            return [*said, *(f"  {line}" for line in shown), *self.notes]
        if self.sought is not None:
            said.append(
                f"none found: of {_counted(battery.instances, 'network')} looked at one by one, and of those of "
                f"the search, none is known to have it; no proof that there is none{_cut(battery.cut)}"
            )
        elif battery.outcome == "UNDECIDED":
            open_ = _counted(battery.undecided, "instance")
            alike = f"none of {open_} is decided: the sides are equal, or one is no number, as far as can be told"
            none = f"none of {_counted(battery.instances, 'instance')} was found to meet the hypotheses"
            return [*said, f"UNDECIDED: {alike if battery.undecided else none}", *self.notes]
        else:
            said.append(
                f"HELD: on {_counted(battery.holds, 'instance')}, {battery.certified} of them by balls; "
                f"{_tightest(battery)}; neither refuted nor proved{_cut(battery.cut)}"
            )
        if battery.undecided:
            undecided = _counted(battery.undecided, "instance")
            said.append(f"  {undecided} cannot be told from equality, or have a side that is no number")
        if self.near is not None:
            told = self._told(self.near)
            sides = self._compared(told, self.near)
            said.append(f"tightest near this instance{f', {sides} at it' if sides else ''}:")
            said += [f"  {line}" for line in in_words(self.near)]
        if len(self.shrinking) > 1:
            quotients = ", ".join(f"{x:.6g}" for x in self.shrinking)
            said.append(f"quotient there as the tokens shrink by 1, 1/10, 1/100: {quotients}")
        if self.factor and self.proof is not None:
            changes = [f"the factor {self.factor} on the larger side"] * (self.factor != "1" or not self.weakened)
            said.append(f"with {' and '.join([*changes, *self._weaker_sign])}: PROVED")
            said += self._proof_lines
        for key in self.implied_by:
            said.append(f"hint: on every instance compared {key} gives at least as strong a bound")
        return [*said, *self.notes]

    @property
    def weakened(self) -> bool:
        """Whether what is proved with the factor has <= in the place of the claim's <."""
        relations = [part for part in walk(self.battery.statement.expanded) if isinstance(part, Relation)]
        strict = any(part.operator in ("<", ">") for part in relations)
        return strict and self.proof is not None and not re.search(r"[<>](?!=)", self.proof.claim)

    @property
    def _weaker_sign(self) -> list[str]:
        return ["<= in the place of <"] if self.weakened else []

    @property
    def _proof_lines(self) -> Iterator[str]:
        assert self.proof is not None
        for line in lines_of(self.proof):
            yield f"  {line.removesuffix(': the claim.')}{': this.' if line.endswith(': the claim.') else ''}"

    def _compared(self, verdict: Verdict, instance: Instance) -> str:
        if not (math.isnan(verdict.log_lhs) or math.isnan(verdict.log_rhs)):
            return compared_at(verdict)
        return compared_at(verdict, sides_at(self.battery.statement, instance, verdict))

    def _told(self, near: NetworkInstance) -> Verdict:
        """Both sides by balls, as the tightest quotient is; by floats where balls do not decide, or have no time."""
        if not self.battery.interrupted:
            told = judge(self.battery.statement, near, "balls")
            if told.outcome != Outcome.UNDECIDED:
                return told
        return judge(self.battery.statement, near, "float64")

    def _sharpened(self) -> list[str]:
        """The letter from both sides: what an instance shows, and what is proved."""
        letter, said = self.letter, []
        if self.near is not None and self.constant > 0:
            guess, seen = constant(self.constant), _below(self.constant)
            if self.upside_down:
                seen, guess = _above(1 / self.constant), f"1/({guess})" if guess else ""
                guess = constant(1 / self.constant, up=False) or guess
            named = f"the best {letter} seen is {seen}{f' ({guess}?)' if guess else ''}: with it"
            if self.constant > _UNBOUNDED:
                named = f"no {letter} is in sight: with {letter} = {seen}"
            elif self.grows:
                way = f"{'falls' if self.upside_down else 'grows'} as {' and '.join(self.grows)} grows"
                named = f"no {letter} for all {' and '.join(self.grows)} is in sight: the best {letter} seen {way}; "
                named += f"with {letter} = {seen}"
            said.append(f"{named} the claim fails at this instance, by balls:")
            said += [f"  {line}" for line in in_words(self.near)]
        elif self.met:
            said.append(f"no {letter} was found to fail")
        else:
            said.append(f"no {letter} was tried: no instance was found that meets the hypotheses")
        said += self.sizes
        if self.factor and self.proof is not None:
            value = f"1/({self.factor})" if self.upside_down and self.factor != "1" else self.factor
            how = "".join(f" with {sign}" for sign in self._weaker_sign)
            said.append(f"{letter} = {value} is PROVED{how}, in {_counted(len(self.proof.lines), 'line')}:")
            return [*said, *self._proof_lines]
        return [*said, f"no {letter} is proved{_cut(self.battery.cut)}"]


def _cut(cut: bool) -> str:
    return " in the time there was (more --seconds may)" if cut else ""


def _below(value: float) -> str:
    """Six digits of a number, rounded down."""
    digits = 5 - math.floor(math.log10(value))
    return f"{math.floor(value * 10.0**digits) / 10.0**digits:.6g}"


def _above(value: float) -> str:
    """Six digits of a number, rounded up."""
    digits = 5 - math.floor(math.log10(value))
    return f"{math.ceil(value * 10.0**digits) / 10.0**digits:.6g}"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _tightest(battery: Battery) -> str:
    if battery.log_tightest > -math.inf:
        return f"tightest quotient {quotient(battery.log_tightest)}"
    return "the smaller side was 0 or less on all of them" if battery.excesses else "no two sides to compare"


def sides_at(statement: Statement, instance: Instance, verdict: Verdict) -> tuple[float, float]:
    """Both sides of the claim at an instance, the one that is claimed to be the smaller first; nan where there is none.

    Of several relations it is that of the verdict, which has logarithms alone: none of a negative number.

    >>> net, X = Network.random(tokens=2, dim=1, layers=1, seed=0), np.array([[1.0], [3.0]])
    >>> claim, instance = Statement("mine:x", "-mu(X[0])**2 >= -1"), NetworkInstance(net, X)
    >>> sides_at(claim, instance, judge(claim, instance, "balls"))
    (-1.0, -2.0)
    """
    from rankmath.arithmetic.balls import Balls, precision

    found, rank = (math.nan, math.nan), -1
    with precision(256), suppress(NoDirection):
        for side in statement.evaluate(Balls(), instance).sides:
            known = judged(side, 1, NUMBERS["balls"])
            logs = float(known.log_left[0]), float(known.log_right[0])
            alike = np.allclose(logs, (verdict.log_lhs, verdict.log_rhs), rtol=1e-6, equal_nan=True)
            # Relations with the same logarithms, or none, are told apart by what is known of them.
            level = 4 * alike + (2 if known.above[0] else int(not known.below[0]))
            if side.truth is None and level > rank:
                found, rank = (_as_float(side.left), _as_float(side.right)), level
    return found


def _as_float(x: Any) -> float:
    """A number, or the middle of a ball, as a double."""
    try:
        return float(x.mid() if hasattr(x, "mid") else x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def compared_at(verdict: Verdict, numbers: tuple[float, float] = (math.nan, math.nan)) -> str:
    """The quotient of the sides at an instance; both sides where one is 0 or negative (then `numbers` are told)."""
    logs = verdict.log_lhs, verdict.log_rhs
    if math.isfinite(logs[0] - logs[1]):
        said = compared(*logs)
        return f"{verdict.compared} = {said}" if said else ""
    if all(map(math.isnan, (*logs, *numbers))):
        return ""
    # As many digits as tell them apart.
    digits = next((k for k in (4, 8, 12, 17) if len({f"{x:.{k}g}" for x in numbers}) == 2), 17)
    negative = [f"{x:.{digits}g}" if x < 0 else "negative" for x in numbers]
    sides = (said if math.isnan(log) else _side(log) for log, said in zip(logs, negative, strict=True))
    return ", ".join(f"{name} = {side}" for name, side in zip(verdict.compared.split("/"), sides, strict=True))


def _side(log: float) -> str:
    return f"{ratio(log):.4g}" if abs(log) < 700 or math.isinf(log) else quotient(log)


def examine(
    statement: Statement, *, seconds: float = 60.0, seed: int = 0, instances: int = 300, tell: Tell | None = None
) -> Answer:
    """Draw, search, prove and shrink: the answer to "is my conjecture true?", within `seconds` or a few more.

    >>> claim = Statement("mine:halves", "diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)/2", "heads == 1")
    >>> answer = examine(claim, seconds=20)
    >>> answer.refuted, answer.battery.counterexample.X.shape
    (True, (2, 1))
    """
    began = time.perf_counter()
    if statement.quantifier == "some":
        found = examine(negation(statement), seconds=seconds, seed=seed, instances=instances, tell=tell)
        return replace(found, sought=statement, shrinking=(), implied_by=(), factor="", proof=None)
    if (denied := _denied(statement, seconds / 4)) is not None:
        return Answer(Battery(statement, proof=denied[1]), denied=denied[0], seconds=time.perf_counter() - began)
    battery = verify_statement(
        statement,
        instances=instances,
        certify=6,
        seed=seed,
        seconds=(1 - _HINTS) * seconds,
        tell=tell,
        progress=None if tell is None else lambda count: tell(count, -math.inf),
    )
    until = max(began + seconds, time.perf_counter() + _LEAST)

    def left() -> float:
        return max(0.0, until - time.perf_counter())

    near = battery.tightest_instance if battery.outcome != "REFUTED" else None
    near = near if isinstance(near, NetworkInstance) else None
    if battery.interrupted and near is not None and battery.proof is None:
        with suppress(KeyboardInterrupt):
            near = _shorter(statement, near, battery.tightest, AFTER_CTRL_C)
    if battery.outcome in ("REFUTED", "PROVED") or battery.interrupted or statement.arrays:
        return Answer(battery, near, seconds=time.perf_counter() - began)
    try:
        if near is not None:
            near = _shorter(statement, near, battery.tightest, min(5.0, left() / 4))
            if (seen := judge(statement, near, "balls")).outcome == Outcome.VIOLATED:  # smaller, it may fail
                battery.take(near, seen)
                pursue(statement, battery, min(5.0, left()))
                return Answer(battery, seconds=time.perf_counter() - began)
            if math.isfinite(tight := seen.log_lhs - seen.log_rhs):  # shorter, it may be tighter
                battery.log_tightest = max(battery.log_tightest, tight)
        shrinks = _as_tokens_shrink(statement, near) if near is not None else ()
        half = until - left() / 2
        weak = weaker(statement.claim_text, statement.given_texts, stop=lambda: time.perf_counter() > half)
        missing = lacking(statement, seed, left()) if weak is None or weak[0] != "1" else None
        implied = tuple(implying(statement, seed, until))
    except KeyboardInterrupt:
        return Answer(replace(battery, interrupted=True), near, seconds=time.perf_counter() - began)
    factor, proof = ("", None) if weak is None else weak
    if proof is not None and proof.claim == statement.claim_text:  # the search for a proof had too little time
        return Answer(replace(battery, proof=proof), near, seconds=time.perf_counter() - began)
    answer = Answer(battery, near, shrinks, implied, factor=factor, proof=proof)
    return replace(answer, notes=(missing,) if missing else (), seconds=time.perf_counter() - began)


def allowed(statement: Statement) -> list[Room]:
    """The rooms in which a claim is examined; refused where there are none."""
    if statement.arrays:
        return []
    return rooms(negation(statement) if statement.quantifier == "some" else statement)


def _denied(statement: Statement, seconds: float) -> tuple[str, FoundProof] | None:
    """A hypothesis that measures something and that the others contradict, with the derivation of the contrary.

    `seconds` are by the clock. On a busy machine they are more than those of computing, which end it otherwise.
    """
    until, spent = time.perf_counter() + seconds, time.thread_time() + _DENYING

    def over() -> bool:
        return time.thread_time() > spent or time.perf_counter() > until

    for part in () if statement.arrays else statement.hypotheses:
        if not isinstance(part, Relation) or not any(isinstance(term, Item) for term in walk(part)):
            continue
        others = [other for other in statement.given_texts if other != text(part)]
        signs = ("<", ">") if part.operator == "==" else ("",)
        for contrary in (Relation(sign, part.left, part.right) if sign else negated(part) for sign in signs):
            proof = prove(text(contrary), others, key=statement.key, stop=over)
            if proof is not None:
                return text(part), proof
    return None


def _shorter(statement: Statement, instance: NetworkInstance, tight: float, seconds: float) -> NetworkInstance:
    """An instance in short numbers on which the claim is nearly as tight."""
    if not 0 < tight < math.inf:
        return instance
    # With this much less on its larger side the claim fails at the instance, and the shrinker keeps it so.
    short_of = replace(statement, formula=_scaled(statement.expanded, Fraction(tight * (1 - 1e-4))), where={})
    return _shrunk(short_of, instance, seconds)


def _shrunk(statement: Statement, instance: NetworkInstance, seconds: float) -> NetworkInstance:
    """The smallest instance to which an instance shrinks that violates the claim; else the instance itself."""
    with suppress(InvalidArgument):
        for smaller, _ in shrinking(statement, instance, seconds=seconds, hurried=seconds == AFTER_CTRL_C):
            instance = smaller
    return instance


def _scaled(formula: Formula, factor: Fraction) -> Formula:
    """Every inequality of a formula with a factor on its larger side."""
    match formula:
        case Relation(operator="<=" | "<" as sign, left=left, right=right):
            return Relation(sign, left, Operation("*", (Number(factor), right)))
        case Relation(operator=">=" | ">" as sign, left=left, right=right):
            return Relation(sign, Operation("*", (Number(factor), left)), right)
        case Both(formulas=parts):
            return Both(tuple(_scaled(part, factor) for part in parts))
        case Every(index=index, formula=inner):
            return Every(index, _scaled(inner, factor))
    return formula


def sharpen(
    statement: Statement,
    letter: str,
    *,
    seconds: float = 60.0,
    seed: int = 0,
    evaluations: int | None = None,
    tell: Tell | None = None,
) -> Answer:
    """The best constant seen in the place of a letter: the claim fails for smaller ones at an instance found.

    The letter is one of the statement's `where`, whose value there is where the search starts. Where it is a factor of
    the smaller side the claim fails for larger ones, and 1 over it is what is looked for. `evaluations`: eight
    searches of so many each, and one at every size, in at most `seconds`.

    >>> claim = Statement("mine:c", "diameter(X[1], 1) <= c*norm(W[0,0], inf)*diameter(X[0], 1)", "heads == 1",
    ...                   where={"c": "1/2"})
    >>> round(sharpen(claim, "c", evaluations=200).constant, 3)
    1.0
    """
    if letter not in statement.where:
        raise InvalidArgument(
            f"letter: {letter!r} given; the claim's own letters are {', '.join(statement.where) or 'none'}"
        )
    if statement.quantifier == "some":
        raise InvalidArgument(f"--sharpen: {letter!r} given with a claim of existence; one of all networks is needed")
    if not any(isinstance(term, Letter) and term.name == letter for term in walk(statement.claimed)):
        raise InvalidArgument(f"letter: {letter!r} given; it is not in the claim {text(statement.claimed)}")

    reverse = _is_a_factor(statement, letter, of_smaller=True)

    def at(value: float, of: Statement = statement) -> Statement:
        number = Fraction(f"{value:.15g}")
        return replace(of, where={**of.where, letter: Number(1 / number if reverse else number)})

    def best_of(
        seconds: float, trial: float, most: int = 8, among: list[Room] | None = None, near: Place | None = None
    ) -> float:
        """The least constant that fails nowhere among what is found in so many seconds, in these rooms alone where
        there are some; `near` is where the search begins."""
        until = time.perf_counter() + seconds
        best, place, slices, share = 0.0, near, 0, 0.12
        while (slices == 0 or time.perf_counter() < until) and not (evaluations is not None and slices >= most):
            limit = max(0.0, min(until - time.perf_counter(), share * seconds))
            found = search(
                at(trial),
                seconds=limit,
                seed=seed + slices,
                evaluations=evaluations,
                tell=tell,
                among=among,
                near=place,
            )
            slices += 1
            if found.instance is not None:
                if not met and (found.refutes or _speaks(at(trial), found.instance)):
                    met.append(True)
                threshold = _threshold(at, found.instance)
                if threshold > best:
                    best, place = threshold, found.place
                    seen_at.append((best, place, found.instance))
                elif best == 0:  # it may be near to meeting the hypotheses
                    place = found.place
            if found.interrupted:
                interrupted.append(True)
            if found.instance is None or found.interrupted or best > _UNBOUNDED:
                break
            # Just above what is known, so that only something better refutes it; far below what nothing refutes.
            trial, share = (best * (1 + 1e-7), 0.3) if best > 0 else (trial / (8 if met else 1), share)
            if trial < math.exp(-_RANGE):
                break
            least.append(trial)
        return best

    interrupted: list[bool] = []
    met: list[bool] = []
    least: list[float] = []
    #: Constants, rising in each search, with where they were seen.
    seen_at: list[tuple[float, Place | None, NetworkInstance]] = []
    start = statement.where[letter]
    first = float(start.value) if isinstance(start, Number) else 1.0
    until = time.perf_counter() + seconds
    searched = rooms(statement)
    best_of(0.4 * seconds, first)
    scaling = ""
    if seen_at and not interrupted and seen_at[-1][0] <= _UNBOUNDED:
        *_, (least_seen, place, _) = seen_at
        for name, factor, instance in _scales(place):
            if (threshold := _threshold(at, instance, least=1.001 * _UNBOUNDED)) > 0:
                seen_at.append((threshold, None, instance))
                before, after = (_above(1 / x) if reverse else _below(x) for x in (least_seen, threshold))
                scaling = f"{name} times {factor} takes the best {letter} seen from {before} to {after}"
                break
    begun = interrupted[:]
    sizes = {name: sorted({getattr(room, name) for room in searched}) for name in ("n", "d", "H", "L")}
    told = [scaling] if scaling else []
    told.append("search over: " if begun else "searched: ")
    told[-1] += "; ".join(f"{name} = {', '.join(map(str, some))}" for name, some in sizes.items())
    if not seen_at and met:
        last = min((first, *least))
        told[-1] += f"; {letter} " + (f"up to {1 / last:.3g}" if reverse else f"down to {last:.3g}")
    by_size, alone = {}, {}
    tables = {size: table for size, table in _by_size(searched).items() if len(table[1]) >= 3}
    share = 0.45 * seconds / max(1, sum(len(values) for _, values in tables.values()))
    for size, (others, values) in tables.items():
        seen: dict[int, float] = {}
        for value in values:
            if interrupted or not seen_at or (best := max(seen_at, key=_first)[0]) > _UNBOUNDED:
                break
            wanted = others | {size: value}
            if (key := tuple(sorted(wanted.items()))) not in alone:
                among = [room for room in searched if all(getattr(room, k) == v for k, v in wanted.items())]
                smaller = (place for _, place, _ in sorted(seen_at, key=_first) if place and _fit(place, wanted))
                alone[key] = best_of(share, best, 1, among, [None, *smaller][-1])
            seen[value] = alone[key]
        if len(seen) == len(values) and min(seen.values()) > 0:
            by_size[size] = others, seen
    best, _, near = max(seen_at, key=_first) if seen_at else (0.0, None, None)
    if near is not None and best > 0:
        try:
            # Short numbers are worth some digits of a constant: more where time is short, most where none is best.
            kept = min(best * (1 - (1e-3 if interrupted else 1e-5)), 1.001 * _UNBOUNDED)
            small = _shrunk(at(kept), near, AFTER_CTRL_C if interrupted else min(5.0, seconds / 8))
            if (threshold := _threshold(at, small)) > 0:
                best, near = threshold, small
            elif judge(at(best), small, "balls").outcome == Outcome.VIOLATED:  # as with every constant
                near = small
        except KeyboardInterrupt:
            interrupted.append(True)

    # What is said of it is decided in balls.
    def shown_at(constant: float) -> Statement:
        return at(1 / float(_above(1 / constant)) if reverse else float(_below(constant)))

    while near is not None and best > 0 and judge(shown_at(best), near, "balls").outcome != Outcome.VIOLATED:
        best *= 1 - 1e-6
    grows = []
    for size, (others, seen) in by_size.items():
        if rises([*seen], [*seen.values()]) and _is_allowed(statement, Letter(size).equals(2 * max(seen))):
            grows.append(size)
        if near is not None and _size(near) == {**others, size: (own := _size(near)[size])}:
            seen[own] = max(best, seen.get(own, 0.0))  # the instance that is shown may lie between the sizes
        seen = dict(sorted(seen.items()))
        # A function of a size is guessed where it fits all; of the constant on the other side, where it fits 1 over it.
        guess = function(size, [*seen], [*seen.values()])
        guess = f"1/({guess})" if reverse and guess else guess
        numbers = ", ".join(_above(1 / x) if reverse else _below(x) for x in seen.values())
        words = ", ".join(f"{name} = {value}" for name, value in others.items())
        told.append(
            f"seen in a short search at {size} = {', '.join(map(str, seen))} with {words}: {numbers}"
            + (f": {guess}?" if guess else "")
        )
    battery = Battery(statement, interrupted=bool(interrupted))
    found = Answer(battery, near, (), (), letter, best, seconds, sizes=tuple(told), upside_down=reverse)
    found = replace(found, met=bool(met), grows=tuple(grows))
    if interrupted:
        return found
    until = max(until, time.perf_counter() + max(_LEAST, 0.2 * seconds))

    def late() -> bool:
        return time.perf_counter() > until

    factor, proof = "", None
    if reverse or _is_a_factor(statement, letter):
        factor, proof = weaker(at(1.0).claim_text, statement.given_texts, stop=late) or ("", None)
    else:  # beside other terms: a round number above what fails
        for rounded in [x for x in _ROUND if x >= best][:4]:
            with_value = replace(statement, where={**statement.where, letter: Number(rounded)})
            proof = prove(with_value.claim_text, statement.given_texts, key=statement.key, stop=late)
            if proof is not None:
                factor = str(rounded)
                break
    battery.cut = proof is None and late()
    return replace(found, factor=factor, proof=proof)


def _first(seen: tuple[Any, ...]) -> Any:
    return seen[0]


def _fit(place: Place, sizes: dict[str, int]) -> bool:
    """Whether the instance of a place can be made larger to these sizes."""
    return all(getattr(place[0], name) <= value for name, value in sizes.items())


def _is_allowed(statement: Statement, also: Formula) -> bool:
    """Whether networks are searched that meet one hypothesis more."""
    try:
        return bool(rooms(replace(statement, given=(*statement.hypotheses, also))))
    except InvalidArgument:
        return False


def _scales(place: Place | None) -> Iterator[tuple[str, str, NetworkInstance]]:
    """The instance of a place with tokens or weights at scales far from its own, also such that logits stay as they
    are; what was multiplied, and by what."""
    if place is None:
        return
    room, arrays = place
    for names in (("W",), ("W_QK",), ("X",), ("X", "W_QK")):
        if set(names) & set(room.fixed):
            continue
        for power in (40, -40, 80, -80):
            scaled: dict[str, Floats] = dict(arrays)
            scaled[names[0]] = arrays[names[0]] * 2.0**power
            if len(names) > 1:
                scaled[names[1]] = arrays[names[1]] * 2.0 ** (-2 * power)
            yield " and ".join(names), f"2^{power}" + f" and 2^{-2 * power}" * (len(names) > 1), room.instance(scaled)


def _size(instance: NetworkInstance) -> dict[str, int]:
    (n, d), heads = np.asarray(instance.X).shape, instance.net.heads
    return {"n": n, "d": d, "H": heads}


def _by_size(searched: list[Room]) -> dict[str, tuple[dict[str, int], list[int]]]:
    """For n, d and H: the least values of the others, and those of its own of which there are rooms with them."""
    sizes = {letter: sorted({getattr(room, letter) for room in searched}) for letter in _MOST_SIZES}
    table = {}
    for letter, values in sizes.items():
        others = {name: some[0] for name, some in sizes.items() if name != letter}
        beside = {getattr(room, letter) for room in searched if all(getattr(room, k) == v for k, v in others.items())}
        table[letter] = (others, [value for value in values if value in beside][: _MOST_SIZES[letter]])
    return table


def _is_a_factor(statement: Statement, letter: str, *, of_smaller: bool = False) -> bool:
    """Whether the letter multiplies the claim's larger (or smaller) side, and stands nowhere else: then what is proved
    of that side is proved of it."""
    claimed = statement.claimed
    if not isinstance(claimed, Relation) or claimed.operator == "==":
        return False
    sides = (claimed.left, claimed.right) if claimed.operator in ("<=", "<") else (claimed.right, claimed.left)
    other, side = sides[::-1] if of_smaller else sides
    if sum(term == Letter(letter) for whole in (other, side) for term in walk(whole)) != 1:
        return False
    while isinstance(side, Operation) and side.operator in ("*", "/"):
        if Letter(letter) in (side.terms[0], *(side.terms[1:] if side.operator == "*" else ())):
            return True
        side = side.terms[0]
    return side == Letter(letter)


def _speaks(statement: Statement, instance: NetworkInstance) -> bool:
    """Whether balls can tell that an instance meets the hypotheses; its two sides may be equal."""
    verdict = judge(statement, instance, "balls", _BITS)
    doubtful = verdict.outcome == Outcome.UNDECIDED and verdict.reason.startswith("cannot tell whether ")
    return verdict.outcome != Outcome.NOT_APPLICABLE and not doubtful


def _threshold(at: Callable[[float], Statement], instance: NetworkInstance, *, least: float = 0.0) -> float:
    """The least constant with which the claim holds on an instance, by bisection in doubles; 0 where balls do not
    confirm that it fails just below, and the end of the range where it fails with every constant. One that is at
    most `least` is not looked for.

    Doubles cannot tell whether an instance meets a hypothesis that is an equation, such as norm(W[0,0], 2) == 1: balls
    decide that.
    """
    low, high = max(-_RANGE, math.log(least) if least else -_RANGE), _RANGE
    try:
        subject = at(1.0).run(Float64(np.zeros(1)), instance)
    except NoDirection:
        return 0.0

    def fails(log: float) -> bool:
        of = at(math.exp(log))
        return _is_false(of.expanded, subject) and not any(
            _is_false(part, subject)
            for part, whole in zip(of.hypotheses, of.expanded_hypotheses, strict=True)
            if part != whole
        )

    def certainly(log: float) -> bool:
        return judge(at(math.exp(log)), instance, "balls", _BITS).outcome == Outcome.VIOLATED

    if not fails(low):
        # Above a side that is 0 doubles decide nothing.
        return math.exp(high) if certainly(high) and certainly(low) else 0.0
    if fails(high):
        return math.exp(high) if certainly(high) else 0.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if fails(middle) else (low, middle)
    return math.exp(low) if certainly(low - 1e-6) else 0.0


def _is_false(formula: Formula, subject: Any) -> bool:
    """Whether doubles tell that a relation of a formula fails."""
    return any(bool(judged(side, 1, subject.numbers).above[0]) for side in sides(formula, subject))


def _as_tokens_shrink(statement: Statement, instance: NetworkInstance) -> tuple[float, ...]:
    """lhs/rhs as the tokens of an instance shrink: whether equality is approached there."""
    found = []
    for factor in (1.0, 0.1, 0.01):
        verdict = judge(statement, replace(instance, X=factor * np.asarray(instance.X)), "float64")
        found.append(verdict.ratio)
    return tuple(found) if all(math.isfinite(x) for x in found) else ()


# -- handing over ------------------------------------------------------------------------------------------


def short(value: float) -> str:
    """A double, exactly: whole, as a fraction of a power of two, or as mantissa and exponent.

    >>> short(3.0), short(-0.375), short(2.0**-30)
    ('3', '-3/8', '2^-30')
    """
    exact = Fraction(value)
    if exact.denominator == 1 and abs(exact) < 10**9:
        return str(exact)
    if exact.denominator <= 4096:
        return str(exact)
    exponent = exact.denominator.bit_length() - 1
    return f"2^-{exponent}" if exact.numerator == 1 else f"{exact.numerator}*2^-{exponent}"


def _rows(array: NumpyArray) -> str:
    matrix = np.atleast_2d(np.asarray(array))
    return "[" + "; ".join(" ".join(short(float(x)) for x in row) for row in matrix) + "]"


def in_words(instance: NetworkInstance) -> list[str]:
    """The instance in exact numbers, a line each; what is zero or absent is left out."""
    net, X = instance.net, np.asarray(instance.X)
    n, d = X.shape
    heads = "one head" if net.heads == 1 else f"{net.heads} heads"
    layers = "one layer" if net.layers == 1 else f"{net.layers} layers"
    extras = [f"skip {short(net.skip)}"] if net.skip else []
    lines = [
        f"{_counted(n, 'token')} in dimension {d}, {heads}, {layers}, d_qk = {short(float(net.d_qk))}"
        + "".join(f", {e}" for e in extras)
    ]
    norms = [[*_norms(layer)] for layer in net.sublayers]
    if all(told == norms[0] for told in norms):
        lines += norms[0]
    else:
        lines += [f"layer {l}: {line}" for l, told in enumerate(norms) for line in told]
    mask = net.mask_for(n)
    if mask is not None and not mask.is_complete:
        lines.append(f"mask = {'; '.join(''.join('1' if seen else '0' for seen in row) for row in mask.allowed)}")
    lines.append(f"X = {_rows(X)}")
    for l in range(net.layers):
        for h in range(net.heads):
            place = "" if net.layers == net.heads == 1 else f"[{l},{h}]"
            lines.append(f"W_QK{place} = {_rows(net.W_QK[l, h])}, W{place} = {_rows(net.W[l, h])}")
            if net.key_bias is not None and np.any(net.key_bias[l, h]):
                lines.append(f"key_bias{place} = {_rows(net.key_bias[l, h])}, that is W_K b_Q")
        if net.bias is not None and np.any(net.bias[l]):
            lines.append(f"bias[{l}] = {_rows(net.bias[l])}, that is Σ_h b_V W_O + b_O")
        lines += [f"{name}[{l}] = {_rows(table)}" for name, table in _placed(net.attentions[l], n)]
        lines += [f"layer {l}: {told}" for told in _bent(net.attentions[l])]
        lines += [line for s in net.sublayers[l] if isinstance(s.map, MLP) for line in _mapped(s.map, l)]
    return lines


def _norms(layer: Sequence[Sublayer]) -> Iterator[str]:
    """The LayerNorms of a layer: kind, place, and what it divides by and multiplies with."""
    for s in layer:
        of = "the MLP" if isinstance(s.map, MLP) else "attention"
        places = ((s.before, f"before {of}"), (s.behind, f"behind {of}"), (s.after, "at the end of the layer"))
        for norm, place in places:
            if norm is not None:
                told = [f"gain = {_rows(norm.gain)}"] if norm.gain is not None else []
                told += [f"offset = {_rows(norm.offset)}"] if norm.offset is not None else []
                told += [f"eps = {short(norm.floor)}"] if norm.floor else []
                kind = SWITCHES["layernorm"][norm.kind].partition(" (")[0]
                yield f"{kind} {place}" + (f": {', '.join(told)}" if told else "")


def _mapped(f: MLP, l: int) -> Iterator[str]:
    """What the MLP of layer l makes of a token y, and its arrays; biases that are zero are left out."""
    arrays = {name: getattr(f, name) for name in ("W_gate", "b_gate", "W_in", "b_in", "W_out", "b_out")}
    arrays = {name: a for name, a in arrays.items() if a is not None and (name[0] == "W" or np.any(a))}
    inner, gate, outer = (
        f"{matrix} + {bias}" if bias in arrays else matrix
        for matrix, bias in (("y W_in", "b_in"), ("y W_gate", "b_gate"), ("W_out", "b_out"))
    )
    opened = f"{f.activation}({inner})" if "W_gate" not in arrays else f"{f.activation}({gate})*({inner})"
    yield f"MLP of layer {l}: y -> {'y + ' if f.skip else ''}{opened} {outer}"
    yield ", ".join(f"{name} = {_rows(a)}" for name, a in arrays.items())


def _bent(attention: Attention) -> Iterator[str]:
    """What W_QK and W do not tell of an attention: norms of queries and keys, their cap, and groups of heads."""
    if attention.qk_norm is not None:
        queries, keys, eps = attention.qk_norm
        gains = f"gains {_rows(queries)} of queries, {_rows(keys)} of keys"
        yield f"RMSNorm of queries X W_QK and keys X: {gains}, eps = {short(eps)}"
    if attention.softcap is not None:
        yield f"logits are capped, by {attention.cap}, with c = {short(attention.softcap)}"
    if attention.kv_heads is not None and attention.kv_heads != attention.heads:
        yield f"key and value heads: {attention.kv_heads}"


def _placed(attention: Attention, n: int) -> list[tuple[str, NumpyArray]]:
    """What tells the places of n tokens apart: cosines and sines of the rotations, terms of the logits by head."""
    turns, terms = attention.rotary, attention.position
    placed = [] if turns is None else [("cos", turns.cos[..., :n, :]), ("sin", turns.sin[..., :n, :])]
    heads = range(attention.heads if terms is not None else 0)
    return [*placed, *((f"position of head {h}", terms.block(h, 0, n, n)) for h in heads if terms is not None)]


def in_python(instance: NetworkInstance, statement: Statement | None = None) -> str:
    """Python that builds the instance, and prints both sides of the statement at it."""
    built = _built(instance)
    if statement is None:
        return built
    given = "".join(f"    {part!r},\n" for part in statement.given_texts)
    told = {"title": statement.title, "source": statement.source}
    words = "".join(f"    {name}={said!r},\n" for name, said in told.items() if said)
    signs = {part.operator.replace(">", "<") for part in relations(statement.expanded)}
    says = {"<": "is less than", "<=": "is no more than", "==": "equals"}.get("".join(signs), "is compared with")
    # Beyond the doubles a number is told by its logarithm, and a negative one, which has none, as it is.
    number = 'f"{np.exp(log):.12g}" if abs(log) <= 700 or np.isinf(log) else f"exp({log:.12g})"'
    number = f'"a number below exp(-1e307)" if -np.inf < log < -1e307 else {number}'
    sides = f"""from rankmath.decide.conjecture import NetworkInstance, sides_at
numbers = sides_at(claim, NetworkInstance(net, X), verdict)
logs = verdict.log_lhs, verdict.log_rhs
left, right = (f"{{x:.12g}}" if np.isnan(log) else {number} for x, log in zip(numbers, logs))
print(f"the claim says that {{left}} {says} {{right}}")
"""
    return f"""{built}
claim = rm.Statement(
    {statement.key!r},
    {statement.claim_text!r},
    given=[
{textwrap.indent(given, "    ")}    ],
{words})
verdict = rm.verify(claim, net, X, arithmetic="balls")
print(verdict)
{sides if signs else ""}"""


def _built(instance: NetworkInstance) -> str:
    net, head = instance.net, "import numpy as np\nimport rankmath as rm\n"
    instance = replace(instance, X=np.asarray(instance.X) + 0.0)  # no −0
    if not _is_short(net):
        layers = [[_sublayer_in_python(part, len(instance.X)) for part in layer] for layer in net.sublayers]
        made = ", ".join(f"[{', '.join(layer)}]" for layer in layers)
        head += "from rankmath.model.network import MLP, Attention, LayerNorm, Sublayer\n"
        head += "from rankmath.linalg.masks import Mask\nfrom rankmath.model.positions import PositionTable, Rotary\n"
        tokens = f"X = np.array({np.asarray(instance.X).tolist()})\n"
        return f"{head}net = rm.Network.from_layers([{made}])\n{tokens}"
    arrays = {"W_QK": np.asarray(net.W_QK) + 0.0, "W": np.asarray(net.W) + 0.0}  # no −0
    parts = [*(f"{name}={array.tolist()}" for name, array in arrays.items()), f"d_qk={net.d_qk!r}"]
    parts += [f"key_bias={np.asarray(net.key_bias).tolist()}"] if net.key_bias is not None else []
    parts += [f"bias={np.asarray(net.bias).tolist()}"] if net.bias is not None else []
    parts += [f"skip={net.skip!r}"] if net.skip else []
    parts += [f"norm={net.norm.kind!r}"] if net.norm is not None else []
    mask = net.mask_for(len(instance.X))
    parts += [f"mask=np.array({mask.allowed.tolist()})"] if mask is not None and not mask.is_complete else []
    made = f"net = rm.Network.from_arrays({', '.join(parts)})"
    return f"{head}{made}\nX = np.array({np.asarray(instance.X).tolist()})\n"


def _is_short(net: Network) -> bool:
    """Whether the arrays of attention, one factor, one mask and the kind of one LayerNorm say all of a network."""
    if not net.is_one_line or any(net.mlp) or net.attentions[0].kv_heads is not None:
        return False
    told = {(s.skip, a.d_qk, s.after) for (s,), a in zip(net.sublayers, net.attentions, strict=True)}
    return net.has_one_mask and len(told) == 1 and (net.norm is None or net.norm == LayerNorm(net.norm.kind))


def _sublayer_in_python(part: Sublayer, n: int) -> str:
    """A sublayer with one attention of fused weights, or one MLP, as Python."""

    def named(thing: object, names: str) -> list[str]:
        given = [(name, getattr(thing, name)) for name in names.split()]
        return [f"{name}={literal(value)}" for name, value in given if value is not None]

    def literal(value: object) -> str:
        if isinstance(value, tuple):
            return f"({', '.join(map(literal, value))})"
        return f"np.array({(value + 0.0).tolist()})" if isinstance(value, np.ndarray) else repr(value)  # no −0

    f = part.map
    if isinstance(f, Attention):
        mask = f.mask_for(n)
        parts = named(f, "query value d_qk key output key_bias bias kv_heads qk_norm b_Q b_K")
        parts += named(f, "softcap cap") if f.softcap is not None else []
        parts += [] if mask is None else [f"mask=Mask(np.array({mask.allowed.tolist()}))"]
        if f.rotary is not None:
            parts.append(f"rotary=Rotary({', '.join(named(f.rotary, 'cos sin'))})")
        if f.position is not None:
            table = [(np.asarray(f.position.block(h, 0, n, n)) + 0.0).tolist() for h in range(f.heads)]
            parts.append(f"position=PositionTable(np.array({table}))")
        made = f"Attention({', '.join(parts)})"
    else:
        made = f"MLP({', '.join(named(f, 'W_in W_out b_in b_out activation skip W_gate b_gate'))})"
    norms = [(side, getattr(part, side)) for side in ("before", "behind", "after")]
    texts = [f"{side}=LayerNorm({', '.join(named(norm, 'kind eps gain offset'))})" for side, norm in norms if norm]
    return f"Sublayer({', '.join([made, repr(part.skip), *texts])})"


def claims_in(path: str, content: str) -> list[Statement]:
    """The claims of a .toml or .txt file: one a table, or one a line, with `given`, name and source.

    In a .txt file a line is ``name: claim  given  hypothesis, hypothesis``; ``#`` begins a comment.

    >>> [str(s.formula) for s in claims_in("a.txt", "one: mu(X[1]) <= mu(X[0]) given heads == 1  # a guess")]
    ['mu(X[1]) <= mu(X[0])']
    """
    if path.endswith(".toml"):
        return _claims_of_toml(path, content)
    found: list[Statement] = []
    for number, line in enumerate(content.splitlines(), start=1):
        bare = line.partition("#")[0].strip()
        if not bare:
            continue
        name, colon, rest = bare.partition(": ")
        claim, _, given = (rest if colon else bare).partition(" given ")
        if colon and any(entry.key == f"mine:{name.strip()}" for entry in found):
            raise InvalidArgument(f"{path}, line {number}: the name {name.strip()!r} is taken by a line above")
        try:
            found.append(
                own_claim(f"mine:{name.strip()}" if colon else f"mine:{number}", claim.strip(), hypotheses_in(given))
            )
        except InvalidArgument as error:
            raise InvalidArgument(f"{path}, line {number}: {error}") from None
    if not found:
        raise InvalidArgument(f"path: {path!r} given; it holds no claim")
    return found


def _claims_of_toml(path: str, content: str) -> list[Statement]:
    import tomllib

    try:
        tables = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise InvalidArgument(f"path: {path} is not TOML: {error}") from None
    lines = content.splitlines()
    found = []
    for name, table in tables.items():
        # A table is named by the line that begins it.
        heads = (k for k, line in enumerate(lines, 1) if re.fullmatch(rf"\[\s*\"?{re.escape(name)}\"?\s*\].*", line))
        place = f"{path}, line {next(heads, 1)}: [{name}]"
        if not isinstance(table, dict) or not isinstance(table.get("claim"), str):
            raise InvalidArgument(f'{place} needs a line claim = "…"')
        extra = set(table) - {"claim", "given", "where", "source", "title"}
        if extra:
            raise InvalidArgument(
                f"{place} has {', '.join(sorted(extra))}; claim, given, where, source, title are read"
            )
        given, where = table.get("given", []), table.get("where", {})
        given = hypotheses_in(given) if isinstance(given, str) else given
        texts = [*given, *where.values()] if isinstance(given, list) and isinstance(where, dict) else [None]
        if not all(isinstance(text, str) for text in (*texts, table.get("source", ""), table.get("title", ""))):
            raise InvalidArgument(f"{place}: given is a list of texts, where a table of texts, source and title texts")
        try:
            found.append(
                own_claim(
                    f"mine:{name}",
                    table["claim"],
                    given,
                    where,
                    source=table.get("source", ""),
                    title=table.get("title", ""),
                )
            )
        except InvalidArgument as error:
            raise InvalidArgument(f"{place}: {error}") from None
    if not found:
        raise InvalidArgument(f"path: {path!r} given; it holds no claim")
    return found
