"""A chunk: the unit of work, of repetition after a crash, and of one transaction of the ledger.

What a chunk finds depends on its recipe, its seed and its index, on nothing else: not on the other chunks, not on
how many processes there are, not on the order in which they run.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Iterator, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from rankmath.claims import statement as registered
from rankmath.claims import statements_in
from rankmath.decide.campaigns.exact_json import encode
from rankmath.decide.campaigns.work import Tell
from rankmath.decide.tally import Tally, cleared, looked_at_all
from rankmath.decide.uphill import uphill
from rankmath.files import read
from rankmath.validation import InvalidArgument, Json
from rankmath.verification.draws import ALL_TOKENS, networks
from rankmath.verification.instance import Instance, NetworkInstance
from rankmath.verification.judge import Verdicts, decided
from rankmath.verification.statement import Draw, Statement
from rankmath.verification.verdict import Outcome, Verdict

#: Bins of log₁₀(lhs/rhs): below the first edge, half a decade each, and from the last edge up to 0.
HISTOGRAM_EDGES: tuple[float, ...] = tuple(-12 + k / 2 for k in range(24))

# Hold batches until they have this many instances in all, then evaluate those of one shape in one call.
_TOGETHER = 5000

# The precision of balls is a setting of the whole process; a Dask worker may have several threads.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Recipe:
    """All that determines the chunks of one statement, apart from seed and index.

    Attributes
    ----------
    key : the statement.
    digest : SHA-256 of the user's file that defines it; None for a registered statement.
    chunk, batch : instances of a chunk, drawn and evaluated so many at a time.
    certify : the share of the instances that balls decide, beside all that float64 leaves open.
    search : steps of the adversary in every chunk; with any, near-extremal instances are tried too, from 1000 on
        other shapes as well.
    keep : violations and undecided instances of a chunk that are kept whole; all are counted.
    sizes : (tokens, dim, heads, layers) to draw from, instead of the statement's own.
    scales : the tokens of a batch are multiplied by one of these, in turn.
    """

    key: str
    digest: str | None
    chunk: int
    batch: int
    certify: float
    search: int
    keep: int
    sizes: tuple[tuple[int, int, int, int], ...] = ()
    scales: tuple[float, ...] = ()

    def plain(self) -> dict[str, Json]:
        """Ready for JSON."""
        return {**asdict(self), "sizes": [list(size) for size in self.sizes], "scales": list(self.scales)}


@dataclass(frozen=True)
class Chunk:
    """Chunk `index` of a statement under one seed: `size` instances (the last one may be short)."""

    recipe: Recipe
    seed: int
    index: int
    size: int
    file: str | None = None

    @property
    def key(self) -> str:
        return self.recipe.key

    @property
    def entropy(self) -> int:
        """128 bits from (seed, key, index) alone.

        >>> recipe = Recipe("own:tv", None, chunk=10, batch=5, certify=0.0, search=0, keep=1)
        >>> Chunk(recipe, 0, 3, 10).entropy == Chunk(replace(recipe, batch=7), 0, 3, 8).entropy
        True
        """
        words = f"{self.seed}\n{self.key}\n{self.index}".encode()
        return int.from_bytes(hashlib.sha256(words).digest()[:16], "big")

    def run(self, tell: Tell) -> Findings:
        """Its findings; `tell` hears how many instances are done."""
        return run_chunk(self)

    def generator(self, number: int) -> np.random.Generator:
        """The random numbers of one batch of the chunk."""
        return np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=(number,)))


@dataclass(frozen=True)
class Record:
    """One instance worth keeping whole: exact data, and what was decided of it.

    `why` lists the reasons: certified, violated, undecided, tightest, extremal (near equality, or found by search).
    """

    position: int
    why: str
    outcome: str
    certified: bool
    log_lhs: float
    log_rhs: float
    arithmetic: str
    reason: str
    label: str
    data: str


@dataclass(frozen=True)
class Findings:
    """What a chunk showed. `extra` instances came from near-extremal families and from search.

    holds + violated + undecided + not_applicable = instances + extra. `log_tightest` is the largest
    log(lhs/rhs) among instances that hold, None where there is none with two positive sides.
    """

    instances: int
    extra: int
    holds: int
    violated: int
    undecided: int
    not_applicable: int
    certified: int
    log_tightest: float | None
    tightest_position: int | None
    histogram: tuple[int, ...]
    records: tuple[Record, ...] = field(repr=False)


@cache
def load_statement(key: str, file: str | None, digest: str | None) -> Statement:
    """The registered statement, or the one of the user's file as it was when the campaign was planned."""
    if file is None:
        return registered(key)
    if file_digest(file) != digest:
        raise InvalidArgument(f"file: {file} is not the file the campaign was planned with (SHA-256 {digest})")
    found = {entry.key: entry for entry in statements_in(file)}
    if key not in found:
        raise InvalidArgument(f"key: {key!r} given; {file} defines {', '.join(found)}")
    return found[key]


def file_digest(path: str | Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(read(path, "file")).hexdigest()


def run_chunk(chunk: Chunk) -> Findings:
    """Draw the chunk's instances, look at all in float64, decide in balls what needs it.

    >>> recipe = Recipe("own:tv", None, chunk=200, batch=50, certify=0.05, search=0, keep=5)
    >>> found = run_chunk(Chunk(recipe, seed=0, index=0, size=200))
    >>> found.holds, found.certified >= 10, found.log_tightest <= 0
    (200, True, True)
    """
    with _ONE_AT_A_TIME:
        statement = load_statement(chunk.key, chunk.file, chunk.recipe.digest)
        tally = _Tally(statement, keep=chunk.recipe.keep)
        wanted = _to_certify(chunk)
        drawing = _batches(chunk, draws_for(statement, chunk.recipe.sizes))
        while some := list(islice(drawing, max(1, _TOGETHER // chunk.recipe.batch))):
            for (start, batch), found in zip(some, looked_at_all(statement, [b for _, b in some]), strict=True):
                tally.take_all(start, batch, found, {position - start for position in wanted})
        drawn = tally.instances
        if chunk.recipe.search > 0 and not statement.exact:
            tally.climb(chunk)
        return tally.findings(drawn)


def draws_for(statement: Statement, sizes: Sequence[tuple[int, int, int, int]]) -> tuple[Draw, ...]:
    """The statement's own draws; with `sizes`, its networks in those sizes, tokens of every kind."""
    if not sizes:
        return statement.draws
    net = _sample(statement, "sizes").net
    if not (net.norm is None and net.mask is None and not any(net.mlp)):
        raise InvalidArgument(f"sizes: given for {statement.key}; its networks carry a mask, a norm or an MLP")
    return tuple(networks(tokens, shapes=(size,), skip=net.skip) for size in sizes for tokens in ALL_TOKENS)


def check_scales(statement: Statement, scales: Sequence[float]) -> None:
    """Scales multiply tokens: refused for statements that do not speak of networks."""
    if scales:
        _sample(statement, "scales")


def _sample(statement: Statement, name: str) -> NetworkInstance:
    instance = statement.draws[0](np.random.default_rng(0), 1)
    if not isinstance(instance, NetworkInstance):
        raise InvalidArgument(f"{name}: given for {statement.key}; only statements about networks take {name}")
    return instance


def _batches(chunk: Chunk, draws: Sequence[Draw]) -> Iterator[tuple[int, Instance]]:
    """(position, batch) pairs; kinds of draws and scales go round over all batches of the campaign."""
    recipe = chunk.recipe
    first = chunk.index * -(-recipe.chunk // recipe.batch)
    done = number = 0
    while done < chunk.size:
        turn = first + number
        batch = draws[turn % len(draws)](chunk.generator(number), min(recipe.batch, chunk.size - done))
        if not 0 < len(batch) <= chunk.size - done:
            raise InvalidArgument(f"draws: {chunk.key} drew {len(batch)} instances where {chunk.size - done} were left")
        if recipe.scales and isinstance(batch, NetworkInstance):
            scale = recipe.scales[turn // len(draws) % len(recipe.scales)]
            batch = replace(batch, X=scale * batch.X)
        yield done, batch
        done += len(batch)
        number += 1


def _to_certify(chunk: Chunk) -> frozenset[int]:
    """Positions for balls: ⌊Ns⌋ of the first N instances for every chunk end N, at random within the chunk."""
    share = Fraction(str(chunk.recipe.certify))
    start = chunk.index * chunk.recipe.chunk
    count = math.floor((start + chunk.size) * share) - math.floor(start * share)
    rng = np.random.default_rng([chunk.entropy, 1])
    return frozenset(rng.choice(chunk.size, count, replace=False).tolist())


@dataclass
class _Tally(Tally):
    """Keeps what is worth keeping: `keep` violations and undecided instances, and the tightest."""

    keep: int = 0
    tightest: tuple[int, Instance, int, Verdict] | None = None
    records: dict[int, tuple[list[str], Instance, int, Verdict]] = field(default_factory=dict)

    def take(self, position: int, batch: Instance, i: int, verdict: Verdict, reason: str) -> None:
        """Count instance `i` of a batch; `reason` is what it was chosen for ("" for most)."""
        why = [] if not reason or (reason == "certified" and not verdict.certified) else [reason]
        if self.count(verdict):
            self.tightest = (position, batch, i, verdict)
        kept = {Outcome.VIOLATED: self.violated, Outcome.UNDECIDED: self.undecided}
        if kept.get(verdict.outcome, math.inf) <= self.keep:
            why.append(verdict.outcome.lower())
        if why:
            self.records[position] = (why, batch, i, verdict)

    def take_all(self, start: int, batch: Instance, found: Verdicts | None, wanted: Set[int]) -> None:
        """A batch whose first place is `start`: what is clear in float64 at once, the others one by one."""
        clear = np.zeros(len(batch), dtype=bool) if found is None else cleared(found, wanted)
        if found is not None and (best := self.count_clear(found, clear)) is not None:
            self.tightest = (start + best, batch, best, found[best])
        left = np.flatnonzero(~clear).tolist()
        for i, decision in zip(left, decided(self.statement, batch, left), strict=True):
            self.take(start + i, batch, i, decision, "certified" if i in wanted else "")

    def climb(self, chunk: Chunk) -> None:
        """Near-extremal instances, and where the search gets from the tightest of this chunk."""
        start, tightest = None, 0.0
        if self.tightest is not None:
            _, batch, i, verdict = self.tightest
            start, tightest = batch.select(i), verdict.ratio
        for found in uphill(self.statement, start, tightest, seed=chunk.entropy, steps=chunk.recipe.search):
            self.take(self.instances, found[0], 0, found[1], "extremal")

    def findings(self, drawn: int) -> Findings:
        if self.tightest is not None:
            position, batch, i, verdict = self.tightest
            self.records.setdefault(position, ([], batch, i, verdict))[0].append("tightest")
        # 0/0 counts in the first bin.
        tenfold = np.nan_to_num(np.asarray(self.excesses) / math.log(10), nan=-math.inf, neginf=-math.inf)
        counts = np.bincount(
            np.searchsorted(HISTOGRAM_EDGES, tenfold, side="right"), minlength=len(HISTOGRAM_EDGES) + 1
        )
        counted = ("holds", "violated", "undecided", "not_applicable", "certified")
        return Findings(
            instances=drawn,
            extra=self.instances - drawn,
            **{name: getattr(self, name) for name in counted},
            log_tightest=None if self.tightest is None else self.log_tightest,
            tightest_position=None if self.tightest is None else self.tightest[0],
            histogram=tuple(counts.tolist()),
            records=tuple(_record(position, *kept) for position, kept in sorted(self.records.items())),
        )


def _record(position: int, why: list[str], batch: Instance, i: int, verdict: Verdict) -> Record:
    instance, outcome = batch.select(i), str(Outcome(verdict.outcome))
    known = (verdict.certified, verdict.log_lhs, verdict.log_rhs, verdict.arithmetic, verdict.reason)
    return Record(position, ",".join(why), outcome, *known, instance.label, encode(instance))
