"""The Parquet tables of a run folder: their columns, and how they are read and written.

The columns are those of docs/reference/operations.md.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import polars as pl
from polars.exceptions import PolarsError

from ..files.documents import Model, check
from ..files.errors import RunError, TailscopeError, first_line
from ..files.printable import HIDDEN, printable
from ..files.whole import open_regular
from .channels import MOST_SAMPLES
from .pages import MOST_FILE_BYTES, PagesError, check_extent
from .panics import without_panic
from .records import OPERATION_KINDS

MOST_OPERATIONS = 21_840
"""As many as an image holds (docs/reference/operation-image.md)."""
MOST_ROWS = 1 << 21
"""Of operations.parquet as it is read: a reader is no narrower than a capture can be made."""
MOST_STIMULI = 9 << 20
"""STIM and CTRL may both move in each row of the longest edge list."""
_MOST_TEXT_BYTES = 256
_MOST = float(1 << 53)
"""Of a fraction: as ns more than a hundred days, and all below are exact."""
_LEAST = {"disagreement_cycles": -_MOST, "tick_phase_cycles": -_MOST}
"""Of a column that may be negative; of all others 0."""

METADATA_KEY = "tailscope"

_TYPES: Mapping[str, pl.DataType] = {"Datetime": pl.Datetime("us", "UTC")}
with Path(__file__).with_name("columns.csv").open(encoding="utf-8") as _file:
    _COLUMNS = [*csv.DictReader(_file)]


def schema_of(table: str) -> pl.Schema:
    """The columns of a table, by columns.csv."""
    rows = [row for row in _COLUMNS if row["table"] == table]
    return pl.Schema({row["column"]: _TYPES.get(row["type"]) or getattr(pl, row["type"]) for row in rows})


OPERATIONS, INTERRUPTS, SPANS, PLAN = map(schema_of, ("operations", "interrupts", "spans", "plan"))
"""SPANS, of a run from the wire alone, has each pulse and latency. PLAN is what the scenario knew
of each operation and its image does not carry.
"""

HITS = ("critical", "operation", "none")

_REMEDY = "restore the file or decode the run again"


def read_operations(path: Path, columns: Mapping[str, pl.DataType] = OPERATIONS) -> pl.DataFrame:
    """Reads operations.parquet: one row per operation, in the order of `seq`. `columns` are those
    that are read, and `seq` and `kind` among them.

    Raises RunError where it is missing, damaged or not such a table.
    """
    table = read_table(path, columns, MOST_ROWS)
    _require(path, table["seq"].is_sorted() and table["seq"].is_unique().all(), "seq does not count upwards")
    _require(path, table["kind"].is_in(OPERATION_KINDS).all(), f"kind has values outside {OPERATION_KINDS}")
    return table


def read_interrupts(path: Path, columns: Mapping[str, pl.DataType] = INTERRUPTS) -> pl.DataFrame:
    """Reads interrupts.parquet: one row per stimulus of either class. `columns` are those that are
    read, and `hit` among them.

    Raises RunError where it is missing, damaged or not such a table.
    """
    table = read_table(path, columns, MOST_STIMULI)
    _require(path, table["hit"].is_in(HITS).all(), f"hit has values outside {HITS}")
    return table


def read_table(
    path: Path, columns: Mapping[str, pl.DataType | type[pl.DataType]], most_rows: int
) -> pl.DataFrame:
    """The `columns` of a Parquet file of at most `most_rows` rows, each of its type.

    Texts come without control characters. Raises RunError where the file is missing or damaged, or
    a column is missing or of another type, or has a value that nothing measured can have.
    """
    try:
        check_extent(path, most_rows)
        with without_panic():
            frame = pl.scan_parquet(path, glob=False, hive_partitioning=False)
            schema = frame.collect_schema()
            for name, dtype in columns.items():
                if schema.get(name) != dtype:
                    raise _damaged(path, f"column {name} is {schema.get(name, 'missing')}, not {dtype}")
            table = frame.select(*columns).collect()
    except FileNotFoundError:
        raise RunError(f"{path}: is missing; restore it or run the scenario again.") from None
    except (PolarsError, PagesError, OSError) as error:
        raise _damaged(path, _unreadable(error)) from None
    longest = table.select(pl.col(pl.String).str.len_bytes().max()).rows()
    _require(
        path,
        all((length or 0) <= _MOST_TEXT_BYTES for row in longest for length in row),
        f"it has texts of more than {_MOST_TEXT_BYTES} bytes",
    )
    numbers = [name for name, dtype in columns.items() if dtype in (pl.Float64, pl.Int64)]
    limits = {
        name: (_LEAST.get(name, 0), _MOST if columns[name] == pl.Float64 else MOST_SAMPLES)
        for name in numbers
    }
    within = table.select(pl.col(name).is_between(*ends).all() for name, ends in limits.items())
    for name, (least, most) in limits.items():
        _require(path, within[name].item(), f"column {name} has a value outside {least:.0f} to {most:.0f}")
    return printable_texts(table)


def printable_texts(table: pl.DataFrame) -> pl.DataFrame:
    """`table` with all texts printable (base/files/printable.py)."""
    hidden = table.select(pl.col(pl.String).unique().str.contains(f"[{HIDDEN}]").any())
    every = {column.name: table[column.name].unique() for column in hidden if column.any()}
    return table.with_columns(
        pl.col(name).replace(texts, texts.map_elements(printable, pl.String)) for name, texts in every.items()
    )


def read_metadata(path: Path, model: type[Model], error: type[TailscopeError] = RunError) -> Model:
    """The JSON under the metadata key `tailscope`, as `model`. Raises `error`."""
    try:
        open_regular(path, MOST_FILE_BYTES).close()
        with without_panic():
            text = pl.read_parquet_metadata(path).get(METADATA_KEY)
        values = None if text is None else json.loads(text)
    except (PolarsError, OSError) as fault:
        raise error(_complaint(path, _unreadable(fault))) from None
    except (ValueError, RecursionError):
        raise error(_complaint(path, f"its metadata key {METADATA_KEY!r} holds no JSON")) from None
    if text is None:
        raise error(_complaint(path, f"its metadata has no key {METADATA_KEY!r}"))
    return check(values, model, path, error=error, remedy=_REMEDY)


def write_table(
    path: Path | IO[bytes],
    table: pl.DataFrame,
    metadata: Mapping[str, Any] | None = None,
    *,
    statistics: bool = True,
    row_group_size: int | None = None,
) -> None:
    """Writes `table` as Parquet, with `metadata` as JSON under the key `tailscope`.

    The bytes depend on the arguments alone. `statistics` and `row_group_size` are those of polars.
    """
    text = json.dumps(metadata, separators=(",", ":")) if metadata is not None else None
    table.write_parquet(
        path,
        compression="zstd",
        compression_level=3,
        statistics=statistics,
        row_group_size=row_group_size,
        metadata=None if text is None else {METADATA_KEY: text},
    )


def _require(path: Path, holds: bool, complaint: str) -> None:
    if not holds:
        raise _damaged(path, complaint)


def _unreadable(fault: BaseException) -> str:
    return f"it cannot be read as Parquet ({first_line(fault)[:200]})"


def _damaged(path: Path, complaint: str) -> RunError:
    return RunError(_complaint(path, complaint))


def _complaint(path: Path, complaint: str) -> str:
    return f"{path}: {complaint}; {_REMEDY}."
