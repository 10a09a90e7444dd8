"""The quantities that a run is summed up in: which rows each is of, in which words and unit it is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

import polars as pl

T = TypeVar("T")

_ALLOCATIONS = pl.col("measured") & pl.col("kind").is_in(["A", "O"])
_FREES = pl.col("measured") & (pl.col("kind") == "F")
_STIMULI = ~pl.col("control")
_CONTROLS = pl.col("control")
_CRITICAL = pl.col("hit") == "critical"
_SECTION = ("CRIT", "CRIT")


@dataclass(frozen=True)
class Quantity:
    """`key` names it in run.json, its unit included. `rows` of `table` have it in `column`.

    `interval` are the channels of the edges that begin and end it, for what is read off the wire.
    """

    key: str
    words: str
    unit: Literal["", "cycles", "ns"]
    table: Literal["operations", "interrupts"]
    rows: pl.Expr
    column: str
    interval: tuple[str, str] | None = None

    def samples(self, operations: pl.DataFrame, interrupts: pl.DataFrame) -> pl.DataFrame:
        """The rows that have the quantity, in the order of time."""
        table = operations if self.table == "operations" else interrupts
        return table.filter(self.rows).drop_nulls(self.column)


PROBES = Quantity("probes", "probes of an allocation", "", "operations", _ALLOCATIONS, "probes")
DWT_CYCLES = Quantity(
    "dwt_cycles", "critical section by DWT", "cycles", "operations", _ALLOCATIONS, "dwt_cycles"
)
CRITICAL = Quantity(
    "critical_ns",
    "critical section on the wire",
    "ns",
    "operations",
    _ALLOCATIONS,
    "wire_critical_ns",
    _SECTION,
)
FREE_DWT_CYCLES = Quantity(
    "free_dwt_cycles", "critical section of a free, by DWT", "cycles", "operations", _FREES, "dwt_cycles"
)
FREE_CRITICAL = Quantity(
    "free_critical_ns",
    "critical section of a free, on the wire",
    "ns",
    "operations",
    _FREES,
    "wire_critical_ns",
    _SECTION,
)


def _latency(key: str, words: str, rows: pl.Expr, interval: tuple[str, str]) -> Quantity:
    column = "task_latency_ns" if interval[1] == "TASK" else "isr_latency_ns"
    return Quantity(key, words, "ns", "interrupts", rows, column, interval)


_ISR = ("STIM", "ISR")
LATENCY = _latency("interrupt_latency_ns", "interrupt latency", _STIMULI, _ISR)
HIT = _latency(
    "interrupt_latency_hit_ns", "interrupt latency, critical section hit", _STIMULI & _CRITICAL, _ISR
)
CLEAR = _latency("interrupt_latency_clear_ns", "interrupt latency, otherwise", _STIMULI & ~_CRITICAL, _ISR)
CONTROL = _latency("control_latency_ns", "control interrupt latency", _CONTROLS, ("CTRL", "CISR"))
TASK = _latency("task_latency_ns", "task latency", _STIMULI, ("STIM", "TASK"))

QUANTITIES = (
    PROBES,
    DWT_CYCLES,
    CRITICAL,
    FREE_DWT_CYCLES,
    FREE_CRITICAL,
    LATENCY,
    HIT,
    CLEAR,
    CONTROL,
    TASK,
)
KEYS = tuple(quantity.key for quantity in QUANTITIES)


def of_each(
    operations: pl.DataFrame, interrupts: pl.DataFrame, found: Callable[[Quantity, pl.DataFrame], T]
) -> dict[str, T]:
    """`found` of each quantity and its samples, by key."""
    return {
        quantity.key: found(quantity, quantity.samples(operations, interrupts)) for quantity in QUANTITIES
    }
