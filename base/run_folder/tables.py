"""The Parquet tables of a run folder: their columns, and how they are read and written.

The columns are those of docs/reference/operations.md. What a replay of a run tells of its memory
are further columns of operations.parquet, and figures of run.json (docs/reference/run-json.md).

A stranger's file is read guardedly. A megabyte of Parquet can state billions of rows, or pages that
unpack to gigabytes, and its footer
can state less than its pages do. So the header of every page is read: what it states is what a
reader makes room for. The format is that of https://parquet.apache.org/docs/file-format, its
headers are written in Thrift's compact protocol. polars tells of no page.

A damaged page can end polars' Rust code in a panic. Python sees an exception, but its words are
those of the code that broke, and Rust has written them to standard error before, past Python.
"""

from __future__ import annotations

import csv
import json
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import SEEK_CUR, BytesIO
from pathlib import Path
from typing import IO, Any, BinaryIO

import polars as pl
from polars.exceptions import ComputeError, PanicException, PolarsError

from ..files.documents import Document, Model
from ..files.errors import RunError, TailscopeError, first_line
from ..files.printable import printable
from ..files.whole import open_regular
from .channels import MOST_FILE_BYTES, MOST_SAMPLES, OPERATION_KINDS
from .manifest import REMEDY, MemoryFigures

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
    return pl.Schema(
        {
            row["column"]: _TYPES.get(row["type"]) or getattr(pl, row["type"])
            for row in _COLUMNS
            if row["table"] == table
        }
    )


OPERATIONS, INTERRUPTS, SPANS, PLAN = map(schema_of, ("operations", "interrupts", "spans", "plan"))
"""SPANS, of a run from the wire alone, has each pulse and latency. PLAN is what the scenario knew
of each operation and its image does not carry.
"""

HITS = ("critical", "operation", "none")


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
                kind = schema.get(name, "missing")
                _require(path, kind == dtype, f"column {name} is {kind}, not {dtype}")
            table = frame.select(*columns).collect()
    except FileNotFoundError:
        raise RunError(f"{path}: is missing; restore it or run the scenario again.") from None
    except (PolarsError, PagesError, OSError) as error:
        raise RunError(_complaint(path, _unreadable(error))) from None
    for name, dtype in columns.items():
        if dtype == pl.String:
            within = (table[name].str.len_bytes() <= _MOST_TEXT_BYTES).all()
            _require(path, within, f"it has texts of more than {_MOST_TEXT_BYTES} bytes")
        elif dtype in (pl.Float64, pl.Int64):
            least, most = _LEAST.get(name, 0), _MOST if dtype == pl.Float64 else MOST_SAMPLES
            within = table[name].is_between(least, most).all()
            _require(path, within, f"column {name} has a value outside {least:.0f} to {most:.0f}")
    return printable_texts(table)


def printable_texts(table: pl.DataFrame) -> pl.DataFrame:
    """`table` with all texts printable (base/files/printable.py)."""
    every = {column.name: column.unique() for column in table.select(pl.col(pl.String))}
    return table.with_columns(
        pl.col(name).replace(texts, texts.map_elements(printable, pl.String)) for name, texts in every.items()
    )


def read_metadata(path: Path, model: type[Model], error: type[TailscopeError] = RunError) -> Model:
    """The JSON under the metadata key `tailscope`, as `model`. Raises `error`."""
    try:
        open_regular(path, MOST_FILE_BYTES).close()
        with without_panic():
            values = json.loads(pl.read_parquet_metadata(path)[METADATA_KEY])
    except (PolarsError, OSError) as fault:
        raise error(_complaint(path, _unreadable(fault))) from None
    except (ValueError, RecursionError):
        raise error(_complaint(path, f"its metadata key {METADATA_KEY!r} holds no JSON")) from None
    except KeyError:
        raise error(_complaint(path, f"its metadata has no key {METADATA_KEY!r}")) from None
    return Document(path, values, error, REMEDY).check(model)


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
        raise RunError(_complaint(path, complaint))


def _unreadable(fault: BaseException) -> str:
    return f"it cannot be read as Parquet ({first_line(fault)[:200]})"


def _complaint(path: Path, complaint: str) -> str:
    return f"{path}: {complaint}; {REMEDY}."


_STDERR = 2


@contextmanager
def without_panic() -> Iterator[None]:
    """Raises ComputeError in place of a panic. What is written to standard error within is lost.

    For the short while of a read: standard error is the whole process's.
    """
    try:
        with silence():
            yield
    except PanicException:
        raise ComputeError("its pages contradict each other") from None


@contextmanager
def silence() -> Iterator[None]:
    """What is written to standard error within is lost."""
    try:
        descriptor = os.dup(_STDERR)
    except OSError:  # it is closed, so nothing is seen of it anyhow
        yield
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(nowhere, _STDERR)
        os.close(nowhere)
        yield
    finally:
        os.dup2(descriptor, _STDERR)
        os.close(descriptor)


MOST_UNPACKED_BYTES = 512 << 20
"""The largest table of a run takes less: 50 bytes for each
stimulus of a capture with the most edges.
"""
MOST_PAGES = 10_000

_END = struct.Struct("<I4s")
_FOOTER_MOST_BYTES = 1 << 20
_PAGE_HEADER_MOST_BYTES = 4 << 10

# Field numbers of parquet.thrift.
_ROW_GROUPS = 4
_GROUP_COLUMNS, _GROUP_ROWS = 1, 3
_COLUMN_METADATA = 3
_PACKED_BYTES, _DATA_OFFSET, _DICTIONARY_OFFSET = 7, 9, 11
_PAGE_UNPACKED_BYTES, _PAGE_PACKED_BYTES = 2, 3
_DICTIONARY_PAGE = 7
# Of each kind of data page: the field of its own header, and there the field of its encoding.
_DATA_PAGES = {5: 2, 8: 4}
_VALUES = 1
# A value can repeat the begin of the one before it, so that few bytes become any number.
_DELTA_BYTE_ARRAY = 7
_DAMAGE = (LookupError, TypeError, AttributeError, ValueError, RecursionError, OverflowError)


class PagesError(Exception):
    """What is wrong with a Parquet file, or too much of it: a predicate without its file."""


def check_extent(path: Path, most_rows: int) -> None:
    """Raises PagesError where the file is damaged, states more than `most_rows` rows, or unpacks to
    too much; OSError where it cannot be read.
    """
    with open_regular(path, MOST_FILE_BYTES) as file:
        try:
            groups = _footer(file)[_ROW_GROUPS]
            rows = sum(group[_GROUP_ROWS] for group in groups)
            if rows > most_rows:
                raise PagesError(f"it states {rows} rows, more than the {most_rows} that are accepted")
            pages = unpacked_bytes = 0
            for group in groups:
                for column in group[_GROUP_COLUMNS]:
                    rows = group[_GROUP_ROWS]
                    for of_page, of_bytes in _pages(file, column[_COLUMN_METADATA]):
                        rows, pages, unpacked_bytes = rows - of_page, pages + 1, unpacked_bytes + of_bytes
                        if pages > MOST_PAGES or unpacked_bytes > MOST_UNPACKED_BYTES:
                            words = f"{MOST_UNPACKED_BYTES:,} bytes or {MOST_PAGES:,} pages"
                            raise PagesError(f"it unpacks to more than {words}")
                    if rows:
                        raise PagesError("its pages have other numbers of rows than its footer says")
        except _DAMAGE:
            raise PagesError("its headers are damaged") from None


def _footer(file: BinaryIO) -> dict[int, Any]:
    size = file.seek(0, 2)
    file.seek(-min(size, _END.size), 2)
    end = file.read()
    length, magic = _END.unpack(end) if len(end) == _END.size else (0, b"")
    if magic != b"PAR1" or length > min(_FOOTER_MOST_BYTES, size - _END.size):
        raise PagesError("it does not end as Parquet does")
    file.seek(-_END.size - length, 2)
    return _structure(BytesIO(file.read(length)))


def _pages(file: BinaryIO, column: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """The rows that each page of a column chunk states, none of a dictionary, and the bytes that it
    unpacks to. They are where polars looks for them.
    """
    at = column.get(_DICTIONARY_OFFSET) or column[_DATA_OFFSET]
    end = at + column[_PACKED_BYTES]
    while at < end:
        file.seek(at)
        header = BytesIO(file.read(_PAGE_HEADER_MOST_BYTES))
        fields = _structure(header)
        unpacked_bytes, packed_bytes = fields[_PAGE_UNPACKED_BYTES], fields[_PAGE_PACKED_BYTES]
        values = 0
        if _DICTIONARY_PAGE in fields:
            sound = fields[_DICTIONARY_PAGE][_VALUES] <= unpacked_bytes
        else:
            kind = next(kind for kind in (*_DATA_PAGES, -1) if kind in fields or kind < 0)
            values = fields[kind][_VALUES]
            sound = fields[kind][_DATA_PAGES[kind]] != _DELTA_BYTE_ARRAY
        if not sound or min(unpacked_bytes, packed_bytes, values) < 0:
            raise PagesError("it has pages that the bench does not write")
        yield values, unpacked_bytes
        at += header.tell() + packed_bytes


def _structure(data: BytesIO) -> dict[int, Any]:
    """Reads a structure of Thrift's compact protocol: numbers, lists and structures by field
    number. Raises one of _DAMAGE where there is none.
    """
    fields: dict[int, Any] = {}
    number = 0
    while byte := _byte(data):
        number = number + (byte >> 4) if byte >> 4 else _zigzag(data)
        # A truth has its value in a field's kind.
        fields[number] = None if byte & 15 in (1, 2) else _value(data, byte & 15)
    return fields


def _value(data: BytesIO, kind: int) -> object:
    match kind:
        case 1 | 2 | 3:
            return _byte(data)
        case 4 | 5 | 6:
            return _zigzag(data)
        case 7 | 8:  # nobody asks for a fraction or a text
            data.seek(8 if kind == 7 else _varint(data), SEEK_CUR)
            return None
        case 9 | 10:
            head = _byte(data)
            count = head >> 4 if head >> 4 < 15 else _varint(data)
            return [_value(data, head & 15) for _ in range(min(count, len(data.getbuffer())))]
        case 12:
            return _structure(data)
    raise ValueError(kind)


def _byte(data: BytesIO) -> int:
    return data.read(1)[0]


def _varint(data: BytesIO) -> int:
    byte = _byte(data)
    return byte if byte < 128 else byte & 127 | _varint(data) << 7


def _zigzag(data: BytesIO) -> int:
    value = _varint(data)
    return value >> 1 ^ -(value & 1)


MEMORY_COLUMNS = pl.Schema(
    {
        "block_begin": pl.UInt32,
        "block_end": pl.UInt32,
        "used_bytes": pl.UInt32,
        "largest_free_bytes": pl.UInt32,
    }
)
_TABLE = pl.Schema([("seq", pl.UInt32()), *MEMORY_COLUMNS.items()])


@dataclass(frozen=True)
class Memory:
    """`columns` has `seq` and MEMORY_COLUMNS, a row for each operation on the heap; none if
    unknown.
    """

    figures: MemoryFigures
    columns: pl.DataFrame

    @classmethod
    def unknown(cls, why_not: str) -> Memory:
        """`why_not` is a sentence."""
        return cls(MemoryFigures(why_not=why_not), pl.DataFrame(schema=_TABLE))


def with_memory(operations: pl.DataFrame, memory: Memory | None) -> pl.DataFrame:
    """The table with MEMORY_COLUMNS behind its own, null where nothing is known."""
    columns = memory.columns if memory else pl.DataFrame(schema=_TABLE)
    return operations.join(columns, on="seq", how="left", maintain_order="left")


def read_stored_operations(path: Path) -> pl.DataFrame:
    """Reads operations.parquet with MEMORY_COLUMNS behind its own. Raises RunError, as
    read_operations.
    """
    return pl.concat([read_operations(path), read_table(path, MEMORY_COLUMNS, MOST_ROWS)], how="horizontal")


def read_memory(path: Path, figures: MemoryFigures | None) -> Memory | None:
    """The memory figures from the table at `path` and run.json; None if they have none."""
    if figures is None or figures.why_not is not None:
        return Memory.unknown(figures.why_not) if figures and figures.why_not else None
    try:
        return Memory(figures, read_table(path, _TABLE, MOST_OPERATIONS))
    except RunError:
        return Memory.unknown("The table of operations was damaged, and with it where the blocks lay.")
