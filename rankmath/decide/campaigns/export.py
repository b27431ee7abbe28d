"""The tables of a ledger as CSV, JSON or Parquet; the file appears whole or not at all."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from rankmath.decide.campaigns.ledger import TABLES, Ledger, Row
from rankmath.files import replacing
from rankmath.validation import InvalidArgument, as_choice

#: Rows of a Parquet row group.
_GROUP = 10_000


def export(ledger: Ledger, path: str | os.PathLike[str], table: str = "chunks", key: str | None = None) -> int:
    """Write a table (of one statement, with `key`) in the format the ending of `path` names; the number of rows."""
    target = Path(path)
    as_choice("table", table, TABLES)
    write = _WRITERS.get(target.suffix)
    if write is None:
        raise InvalidArgument(f"output: {str(target)!r} given; its ending must be one of {', '.join(_WRITERS)}")
    if key is not None and "statement" not in ledger.columns(table):
        raise InvalidArgument(f"key: {key!r} given; the table {table} is not by statement")
    with replacing(target, "output") as partial:
        return write(partial, ledger.columns(table), ledger.rows(table, key=key))


def _write_csv(path: Path, columns: list[str], rows: Iterator[Row]) -> int:
    count = 0
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        for row in rows:
            count += 1
            # repr is the shortest text that reads back as the same double.
            writer.writerow({name: repr(x) if isinstance(x, float) else x for name, x in row.items()})
    return count


def _write_json(path: Path, columns: list[str], rows: Iterator[Row]) -> int:
    count = 0
    with open(path, "w", encoding="utf-8") as file:
        file.write("[")
        for count, row in enumerate(rows, 1):
            file.write(("" if count == 1 else ",") + "\n" + json.dumps(plain(row), allow_nan=False))
        file.write("\n]\n")
    return count


def _write_parquet(path: Path, columns: list[str], rows: Iterator[Row]) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InvalidArgument(
            "output: a .parquet file needs pyarrow; pip install pyarrow, or choose .csv or .json"
        ) from None

    kinds = {**dict.fromkeys(_INTEGERS, pa.int64()), **dict.fromkeys(_REALS, pa.float64())}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in columns])
    count = 0
    group: list[Row] = []
    with pq.ParquetWriter(path, schema) as writer:
        for row in rows:
            count += 1
            group.append(row)
            if len(group) == _GROUP:
                writer.write_table(pa.Table.from_pylist(group, schema=schema))
                group.clear()
        writer.write_table(pa.Table.from_pylist(group, schema=schema))
    return count


_REALS = ("log_tightest", "log_lhs", "log_rhs", "seconds")
_INTEGERS = (
    *("seed", "chunk", "instances", "extra", "holds", "violated", "undecided", "not_applicable", "certified"),
    *("tightest_position", "position", "attempts", "run", "pid"),
)


def plain(row: Row) -> Row:
    """JSON knows no infinities: they become the words "inf" and "-inf"; columns that hold JSON become values."""
    row = {name: str(x) if isinstance(x, float) and not math.isfinite(x) else x for name, x in row.items()}
    inner = ("histogram", "data", "versions", "plan", "recipe")
    return {name: json.loads(x) if name in inner and x is not None else x for name, x in row.items()}


_WRITERS: dict[str, Callable[[Path, list[str], Iterator[Row]], int]] = {
    ".csv": _write_csv,
    ".json": _write_json,
    ".parquet": _write_parquet,
}
