"""What a replay of a run tells of its memory: columns of operations.parquet, figures of run.json.

docs/reference/run-json.md has both.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ..files.errors import RunError
from .manifest import MemoryFigures
from .tables import MOST_OPERATIONS, MOST_ROWS, read_operations, read_table

COLUMNS = pl.Schema(
    {
        "block_begin": pl.UInt32,
        "block_end": pl.UInt32,
        "used_bytes": pl.UInt32,
        "largest_free_bytes": pl.UInt32,
    }
)
_TABLE = pl.Schema([("seq", pl.UInt32()), *COLUMNS.items()])


@dataclass(frozen=True)
class Memory:
    """`columns` has `seq` and COLUMNS, a row for each operation on the heap; none if unknown."""

    figures: MemoryFigures
    columns: pl.DataFrame

    @classmethod
    def unknown(cls, why_not: str) -> Memory:
        """`why_not` is a sentence."""
        return cls(MemoryFigures(why_not=why_not), pl.DataFrame(schema=_TABLE))


def with_memory(operations: pl.DataFrame, memory: Memory | None) -> pl.DataFrame:
    """The table with COLUMNS behind its own, null where nothing is known."""
    columns = memory.columns if memory else pl.DataFrame(schema=_TABLE)
    return operations.join(columns, on="seq", how="left", maintain_order="left")


def read_stored_operations(path: Path) -> pl.DataFrame:
    """Reads operations.parquet with COLUMNS behind its own. Raises RunError, as read_operations."""
    return pl.concat([read_operations(path), read_table(path, COLUMNS, MOST_ROWS)], how="horizontal")


def read_memory(path: Path, figures: MemoryFigures | None) -> Memory | None:
    """The memory figures from the table at `path` and run.json; None if they have none."""
    if figures is None or figures.why_not is not None:
        return Memory.unknown(figures.why_not) if figures and figures.why_not else None
    try:
        return Memory(figures, read_table(path, _TABLE, MOST_OPERATIONS))
    except RunError:
        return Memory.unknown("The table of operations was damaged, and with it where the blocks lay.")
