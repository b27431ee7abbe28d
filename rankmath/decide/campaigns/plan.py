"""What a campaign does, from a TOML file or a mapping with the same keys; every mistake is named."""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankmath.claims import statement, statements, statements_in
from rankmath.decide.campaigns.chunks import Chunk, Recipe, check_scales, draws_for, file_digest, load_statement
from rankmath.files import read_text
from rankmath.validation import InvalidArgument, Json, as_count, as_real
from rankmath.verification.statement import Statement

#: Keys that may stand at the top, for all statements, or in a [[statement]] table, for one.
OF_A_STATEMENT = ("instances", "certify", "search", "chunk", "batch", "keep", "sizes", "scales")
#: Keys of the campaign as a whole.
OF_THE_CAMPAIGN = ("ledger", "statements", "statement", "seeds", "seconds", "workers", "attempts", "dask")

_MOST = 10**12


@dataclass(frozen=True)
class Task:
    """One statement's part of the campaign."""

    recipe: Recipe
    instances: int
    status: str
    file: str | None = None

    @property
    def chunks(self) -> int:
        return -(-self.instances // self.recipe.chunk)

    def size(self, index: int) -> int:
        """Instances of chunk `index`: the last one takes the rest."""
        return min(self.recipe.chunk, self.instances - index * self.recipe.chunk)


@dataclass(frozen=True)
class Plan:
    """A checked campaign.

    >>> plan = Plan.of({"statements": ["own:tv"], "instances": 12_000, "chunk": 5000})
    >>> [(chunk.index, chunk.size) for chunk in plan.chunks()]
    [(0, 5000), (1, 5000), (2, 2000)]
    """

    tasks: tuple[Task, ...]
    seeds: tuple[int, ...] = (0,)
    ledger: str | None = None
    seconds: float | None = None
    workers: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    attempts: int = 3
    dask: str | None = None

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Plan:
        """The plan of a TOML file; paths in it are relative to the file, its ledger is FILE.db by default."""
        source = Path(path)
        try:
            content = tomllib.loads(read_text(source, "plan"))
        except InvalidArgument:
            raise
        except ValueError as error:
            raise InvalidArgument(f"plan: {str(source)!r} given; it is no TOML file ({error})") from None
        content.setdefault("ledger", source.with_suffix(".db").name)
        return cls.of(content, folder=source.parent)

    @classmethod
    def of(cls, content: Mapping[str, object], folder: Path | None = None) -> Plan:
        """The plan of a mapping with the keys of the TOML file."""
        _known("the plan", content, OF_THE_CAMPAIGN + OF_A_STATEMENT)
        folder = Path() if folder is None else folder
        defaults = {name: content[name] for name in OF_A_STATEMENT if name in content}
        tables = [*_named(content.get("statements", ())), *_tables(content.get("statement", ()))]
        if not tables:
            raise InvalidArgument("statements: none given; name some, or 'all', or write [[statement]] tables")
        tasks = tuple(_task({**defaults, **table}, folder) for table in tables)
        keys = [task.recipe.key for task in tasks]
        for key in keys:
            if keys.count(key) > 1:
                raise InvalidArgument(f"statements: {key!r} given twice; each may be given once")
        return cls(tasks, **cls.options(content, folder))

    @staticmethod
    def options(content: Mapping[str, object], folder: Path | None = None) -> dict[str, Any]:
        """The keys of the campaign as a whole, checked."""
        checks: dict[str, Callable[[object], Any]] = {
            "seeds": _seeds,
            "ledger": lambda given: str((folder or Path()) / _text("ledger", given)),
            "seconds": lambda given: as_real("seconds", given, positive=True),
            "workers": lambda given: as_count("workers", given, least=0, most=4096),
            "attempts": lambda given: as_count("attempts", given, most=100),
            "dask": lambda given: _text("dask", given),
        }
        return {name: check(content[name]) for name, check in checks.items() if name in content}

    def chunks(self) -> Iterator[Chunk]:
        """Every chunk; statements and seeds take turns, so that a campaign cut short has seen something of each."""
        longest = max(task.chunks for task in self.tasks)
        for index in range(longest):
            for task in self.tasks:
                if index < task.chunks:
                    for seed in self.seeds:
                        yield Chunk(task.recipe, seed, index, task.size(index), task.file)

    def plain(self) -> dict[str, Json]:
        """What is planned, ready for JSON."""
        parts = [{**task.recipe.plain(), "instances": task.instances, "file": task.file} for task in self.tasks]
        return {"statements": parts, "seeds": list(self.seeds), "seconds": self.seconds}


def default_chunk(entry: Statement) -> int:
    """Seconds of work rather than minutes: fewer instances where one costs linear programs or exact arithmetic."""
    most = 5000 if not entry.exact else 500
    return max(10, int(most * entry.share**2))


def _task(table: Mapping[str, object], folder: Path) -> Task:
    key = _text("key", table["key"]) if "key" in table else ""
    file = digest = None
    if "file" in table:
        path = folder / _text("file", table["file"])
        file, digest = str(path.resolve()), file_digest(path)
        found = [entry.key for entry in statements_in(path)]
        if not key and len(found) > 1:
            raise InvalidArgument(f"key: none given; {table['file']} defines {', '.join(found)}")
        key = key or found[0]
        entry = load_statement(key, file, digest)
    else:
        entry = statement(key)
    if not entry.draws:
        raise InvalidArgument(f"statements: {key!r} given; it draws no instances, so there is nothing to repeat")
    instances = as_count("instances", table.get("instances", 10_000), most=_MOST)
    chunk = as_count("chunk", table.get("chunk", default_chunk(entry)), most=10**7)
    sizes = tuple(_size(size) for size in _listed("sizes", table.get("sizes", ())))
    scales = tuple(as_real("scales", scale, positive=True) for scale in _listed("scales", table.get("scales", ())))
    draws_for(entry, sizes)
    check_scales(entry, scales)
    recipe = Recipe(
        key=key,
        digest=digest,
        chunk=chunk,
        batch=min(chunk, as_count("batch", table.get("batch", 500), most=10**6)),
        certify=_share(table.get("certify", 0.001)),
        search=as_count("search", table.get("search", 0), least=0, most=10**9),
        keep=as_count("keep", table.get("keep", 100), least=0, most=10**6),
        sizes=sizes,
        scales=scales,
    )
    return Task(recipe, instances, entry.status, file)


def _named(given: object) -> list[dict[str, object]]:
    if given == "all":
        return [{"key": key} for key, entry in statements().items() if entry.draws]
    return [{"key": key} for key in _listed("statements", given)]


def _tables(given: object) -> list[Mapping[str, object]]:
    tables: list[Mapping[str, object]] = []
    for table in _listed("statement", given):
        if not isinstance(table, Mapping):
            raise InvalidArgument(f"statement: {table!r} given; write it as a table, [[statement]]")
        _known("a [[statement]]", table, ("key", "file", *OF_A_STATEMENT))
        if "key" not in table and "file" not in table:
            raise InvalidArgument("key: none given; every [[statement]] needs one, or a file")
        tables.append(table)
    return tables


def _known(where: str, given: object, allowed: Sequence[str]) -> None:
    if not isinstance(given, Mapping):
        raise InvalidArgument(f"plan: a {type(given).__name__} given; a mapping of settings is needed")
    for name in given:
        if name not in allowed:
            raise InvalidArgument(f"{name}: unknown key of {where}; allowed are {', '.join(allowed)}")


def _listed(name: str, given: object) -> list[object]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidArgument(f"{name}: {given!r} given; a list is needed")
    return list(given)


def _text(name: str, given: object) -> str:
    if not isinstance(given, (str, os.PathLike)) or not os.fspath(given):
        raise InvalidArgument(f"{name}: {given!r} given; a text is needed")
    return os.fspath(given)


def _seeds(given: object) -> tuple[int, ...]:
    seeds = tuple(as_count("seeds", seed, least=0, most=2**63 - 1) for seed in _listed("seeds", given))
    if not seeds or len(set(seeds)) < len(seeds):
        raise InvalidArgument(f"seeds: {given!r} given; at least one is needed, and each once")
    return seeds


def _share(given: object) -> float:
    share = as_real("certify", given)
    if not 0 <= share <= 1:
        raise InvalidArgument(f"certify: {given!r} given; a share of the instances between 0 and 1 is needed")
    return share


def _size(given: object) -> tuple[int, int, int, int]:
    numbers = _listed("sizes", given)
    if len(numbers) != 4:
        raise InvalidArgument(f"sizes: {given!r} given; each size is [tokens, dim, heads, layers]")
    n, d, H, L = (as_count("sizes", number, most=10**6) for number in numbers)
    if math.prod((n, n, H)) > 10**9 or math.prod((d, d, H, L)) > 10**9:
        raise InvalidArgument(f"sizes: {given!r} given; it does not fit into memory")
    return n, d, H, L
