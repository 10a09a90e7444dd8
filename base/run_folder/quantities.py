"""The quantities that a run is summed up in: those of quantities.csv, where conditions are SQL, so
that their keys can be read without polars.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..metrology.summaries import Reach

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")

OPERATION_COLUMNS = (
    *("seq", "kind", "size", "label", "depth", "trial", "probes", "live", "bytes_in_use", "measured"),
    *("interrupted", "start_sample"),
)
STIMULUS_COLUMNS = ("sample", "hit", "tick", "task_tick", "tick_phase_cycles")


@dataclass(frozen=True)
class Quantity:
    """One quantity of a run.

    `key` names it in run.json, its unit included; `words` name it to a reader. The rows of `table`
    that `rows` selects, a condition in SQL, have it in `column`. What is read off the wire has an
    `interval`: the channels of the edges at which it begins and ends. The rows that `undecided`
    selects may have it or not: the wire does not tell. None where it tells of every row.
    """

    key: str
    words: str
    unit: Literal["", "cycles", "ns"]
    table: Literal["operations", "interrupts"]
    rows: str
    column: str
    interval: tuple[str, str] | None = None
    undecided: str | None = None

    def still_open(self, samples: pl.DataFrame) -> int:
        """How many of the `samples` are waits that were not over."""
        column = {"isr_latency_ns": "isr_open", "task_latency_ns": "task_open"}.get(self.column)
        return int(samples[column].sum()) if column else 0

    @property
    def counted(self) -> bool:
        """True if it is a bare number, neither cycles nor time."""
        return not self.unit

    def samples(self, operations: pl.DataFrame, interrupts: pl.DataFrame) -> pl.DataFrame:
        """The rows that have the quantity: those of `rows` where `column` is not null, in order."""
        import polars as pl

        return self._rows(operations, interrupts).filter(pl.sql_expr(self.rows))

    def reach(self, operations: pl.DataFrame, interrupts: pl.DataFrame) -> Reach | None:
        """How far each statistic can move with the undecided rows; None where there are none."""
        if self.undecided is None:
            return None
        import polars as pl

        from ..metrology.quantiles import reach

        rows = self._rows(operations, interrupts)
        perhaps = rows.filter(pl.sql_expr(self.undecided))[self.column]
        surely = rows.filter(pl.sql_expr(f"({self.rows}) AND NOT ({self.undecided})"))
        return reach(surely[self.column], perhaps)

    def maximum(self, samples: pl.DataFrame, operations: pl.DataFrame) -> dict[str, Any] | None:
        """The first of the greatest samples, and how many are as great; None without samples.

        Of an interrupt it also says where in its operation the stimulus fell, in samples after the
        rise of OP; None where its window shows no such rise. The operation's fields are None where
        the stimulus fell outside all operations. Where a wait is `open`, the value is a least one.
        """
        if samples.is_empty():
            return None
        import polars as pl

        greatest = samples[self.column].max()
        first = samples.row(samples[self.column].arg_max() or 0, named=True)
        fields = {"value": greatest, "times": int((samples[self.column] == greatest).sum())}
        if self.table == "operations":
            return {**fields, **{name: first[name] for name in OPERATION_COLUMNS}}
        rows = operations.filter(pl.col("seq").eq_missing(first["operation_seq"])).rows(named=True)
        operation = rows[0] if rows else dict.fromkeys(OPERATION_COLUMNS)
        start = operation["start_sample"]
        return {
            **fields,
            **{name: first[name] for name in STIMULUS_COLUMNS},
            "open": self.still_open(samples) > 0,
            **{name: operation[name] for name in OPERATION_COLUMNS},
            "into_operation_samples": None if start is None else first["sample"] - start,
        }

    def _rows(self, operations: pl.DataFrame, interrupts: pl.DataFrame) -> pl.DataFrame:
        table = operations if self.table == "operations" else interrupts
        return table.drop_nulls(self.column)


def _of(row: dict[str, Any]) -> Quantity:
    interval = tuple(row["interval"].split()) or None
    return Quantity(**{**row, "interval": interval, "undecided": row["undecided"] or None})


with Path(__file__).with_name("quantities.csv").open(encoding="utf-8") as _file:
    QUANTITIES = tuple(map(_of, csv.DictReader(_file)))
SECTION, UNINTERRUPTED, PROBES, INSTRUCTIONS, DWT_CYCLES, CRITICAL = QUANTITIES[:6]
SERVED, REFUSED = QUANTITIES[6:10], QUANTITIES[10:14]
"""Served and refused requests apart; those before have both (docs/design/README.md)."""
FREE_INSTRUCTIONS, FREE_DWT_CYCLES, FREE_CRITICAL, LATENCY, HIT, CLEAR, CONTROL, TASK = QUANTITIES[14:]
KEYS = tuple(quantity.key for quantity in QUANTITIES)


def by_quantity(
    samples: Mapping[str, pl.DataFrame], compute: Callable[[Quantity, pl.DataFrame], T]
) -> dict[str, T]:
    """The result of `compute` for the samples of each quantity, by key."""
    return {quantity.key: compute(quantity, samples[quantity.key]) for quantity in QUANTITIES}
