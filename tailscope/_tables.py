"""The tables of a run folder as polars frames (docs/reference: operations, interrupts, edges).

A table may be a stranger's: its columns have the types of the reference, or Error is raised.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from tailscope._documents import Part, from_json
from tailscope._errors import Error
from tailscope._files import read, shown
from tailscope._texts import HIDDEN, printable

if TYPE_CHECKING:
    import polars as pl

__tracebackhide__ = True  # pytest shows the line of the test

_MOST_FILE_BYTES = 256 << 20
_MOST_TEXT_BYTES = 256
_MOST_SAMPLES = 1 << 36
_MOST = float(1 << 53)
_LEAST = {"disagreement_cycles": -_MOST, "tick_phase_cycles": -_MOST}
"""Of a column that may be negative; of all others 0."""
_REMEDY = "restore the file or decode the run again"
_STDERR = 2

OPERATIONS = {
    "seq": "UInt32",
    "kind": "String",
    "size": "UInt32",
    "measured": "Boolean",
    "probes": "UInt32",
    "instructions": "UInt32",
    "dwt_cycles": "UInt32",
    "dwt_operation_cycles": "UInt32",
    "wire_critical_ns": "Float64",
    "wire_section_ns": "Float64",
    "wire_operation_ns": "Float64",
    "wire_critical_samples": "Int64",
    "wire_operation_samples": "Int64",
    "start_sample": "Int64",
    "disagreement_cycles": "Float64",
    "interrupted": "Boolean",
    "control_hits": "UInt32",
    "isr_hits": "UInt32",
    "timer_isr_entries": "UInt32",
    "timer_isr_ticks": "UInt32",
    "timer_task_wakes": "UInt32",
    "timer_task_ticks": "UInt32",
    "timer_control_entries": "UInt32",
    "timer_control_ticks": "UInt32",
    "live": "UInt32",
    "bytes_in_use": "UInt32",
    "label": "String",
    "trial": "UInt32",
    "depth": "UInt32",
    "trials_minimum_cycles": "UInt32",
    "block_begin": "UInt32",
    "block_end": "UInt32",
    "used_bytes": "UInt32",
    "largest_free_bytes": "UInt32",
}
INTERRUPTS = {
    "control": "Boolean",
    "sample": "Int64",
    "time_ns": "Float64",
    "isr_latency_ns": "Float64",
    "task_latency_ns": "Float64",
    "operation_seq": "UInt32",
    "hit": "String",
    "critical_sure": "Boolean",
    "operation_sure": "Boolean",
    "isr_merged": "UInt32",
    "isr_open": "Boolean",
    "task_merged": "UInt32",
    "task_open": "Boolean",
    "tick_phase_cycles": "Float64",
    "tick": "Boolean",
    "task_tick": "Boolean",
}
_EDGES = {"sample": "Int64", "word": "UInt8"}
_WORDS = {"hit": ("critical", "operation", "none"), "kind": ("A", "F", "O", "N", "E", "S", "K")}
_MOST_ROWS = {"operations": 1 << 21, "interrupts": 9 << 20, "edges": 1 << 24}


class Edges(NamedTuple):
    """A capture: `frame` has `sample` and `word`, bit i of which is channel i of `channels`."""

    frame: pl.DataFrame
    channels: tuple[str, ...]
    samplerate_hz: int
    total_samples: int


def operations(path: Path) -> pl.DataFrame:
    """One row per operation, in the order of `seq`."""
    table = _read(path, read(path, _MOST_FILE_BYTES, _REMEDY), OPERATIONS)
    seq = table["seq"]
    if seq.null_count() or not (seq.is_sorted() and seq.is_unique().all()):
        _damaged(path, "seq does not count upwards")
    return table


def interrupts(path: Path) -> pl.DataFrame:
    """One row per stimulus."""
    return _read(path, read(path, _MOST_FILE_BYTES, _REMEDY), INTERRUPTS)


def edges(path: Path) -> Edges:
    """The capture, exact."""
    content = read(path, _MOST_FILE_BYTES, _REMEDY)
    frame = _read(path, content, _EDGES)
    about = _about(path, content)
    if about.whole("schema") != 1:
        _damaged(path, f"schema {about.whole('schema')} is unknown")
    capture = Edges(
        frame, about.texts("channels"), about.whole("samplerate_hz"), about.whole("total_samples")
    )
    _check_edges(path, capture)
    return capture


def _check_edges(path: Path, capture: Edges) -> None:
    import polars as pl

    sample, word = capture.frame["sample"], capture.frame["word"]
    steps = capture.frame.select(
        rising=(pl.col("sample").diff().drop_nulls() > 0).all(),
        changing=(pl.col("word").cast(pl.Int16).diff().drop_nulls() != 0).all(),
    ).row(0)
    sound = (
        not any(capture.frame.null_count().row(0))
        and 1 <= len(capture.channels) <= 8
        and capture.samplerate_hz > 0
        and (len(sample) > 0 or capture.total_samples == 0)
        and (len(sample) == 0 or (sample[0] == 0 and sample[-1] < capture.total_samples))
        and all(steps)
        and not any(value >> len(capture.channels) for value in word.unique())
    )
    if not sound:
        _damaged(path, "its rows are no list of edges")


def _about(path: Path, content: bytes) -> Part:
    """The JSON under the metadata key `tailscope`."""
    import polars as pl

    with _guarded(path):
        text = pl.read_parquet_metadata(io.BytesIO(content)).get("tailscope")
    if text is None:
        _damaged(path, "its metadata has no key tailscope")
    return from_json(text, f"{shown(path)}: its metadata", _REMEDY)


def _read(path: Path, content: bytes, columns: Mapping[str, str]) -> pl.DataFrame:
    """The columns of a Parquet file, each of its type."""
    import polars as pl

    from tailscope._pages import PagesError, check_extent

    types = {name: getattr(pl, kind) for name, kind in columns.items()}
    try:
        check_extent(io.BytesIO(content), _MOST_ROWS[path.stem])
    except PagesError as error:
        _damaged(path, str(error))
    with _guarded(path):
        frame = pl.scan_parquet(io.BytesIO(content), glob=False, hive_partitioning=False)
        schema = frame.collect_schema()
        for name, kind in types.items():
            if schema.get(name) != kind:
                _damaged(path, f"column {name} is {schema.get(name, 'missing')}, not {kind}")
        table = frame.select(*columns).collect()
    _check_values(path, table)
    return _printable(table)


def _check_values(path: Path, table: pl.DataFrame) -> None:
    """Raises Error where a value is one that nothing measured can have."""
    import polars as pl

    for name, kind in table.schema.items():
        column = table[name]
        if kind == pl.String:
            if (column.str.len_bytes().max() or 0) > _MOST_TEXT_BYTES:  # type: ignore[operator]
                _damaged(path, f"column {name} has texts of more than {_MOST_TEXT_BYTES} bytes")
            if name in _WORDS and not column.is_in(_WORDS[name]).all():
                _damaged(path, f"column {name} has values outside {', '.join(_WORDS[name])}")
        elif kind in (pl.Float64, pl.Int64):
            most = _MOST if kind == pl.Float64 else _MOST_SAMPLES
            least = _LEAST.get(name, 0)
            if not column.is_between(least, most).all():
                _damaged(path, f"column {name} has a value outside {least:.0f} to {most:.0f}")


def _printable(table: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    for name in table.select(pl.col(pl.String)).columns:
        hidden = table[name].unique().drop_nulls()
        hidden = hidden.filter(hidden.str.contains(f"[{HIDDEN}]"))
        if len(hidden):
            shown_texts = [printable(text) for text in hidden]
            table = table.with_columns(pl.col(name).replace(hidden.to_list(), shown_texts))
    return table


@contextmanager
def _guarded(path: Path) -> Iterator[None]:
    """What polars says of a damaged file becomes Error; and what its Rust code writes to standard
    error, when it gives up, is lost.
    """
    from polars.exceptions import PanicException, PolarsError

    try:
        with _silence():
            yield
    except PanicException:
        _damaged(path, "its pages contradict each other")
    except (PolarsError, OSError) as error:
        said = printable(str(error).partition("\n")[0])[:200]
        _damaged(path, f"it cannot be read as Parquet ({said})")


@contextmanager
def _silence() -> Iterator[None]:
    try:
        kept = os.dup(_STDERR)
    except OSError:  # it is closed, so nothing is seen of it anyhow
        yield
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(nowhere, _STDERR)
        os.close(nowhere)
        yield
    finally:
        os.dup2(kept, _STDERR)
        os.close(kept)


def _damaged(path: Path, complaint: str) -> NoReturn:
    raise Error(f"{shown(path)}: {complaint}; {_REMEDY}.")
