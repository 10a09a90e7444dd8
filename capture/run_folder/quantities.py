"""The quantities that run.json sums up: which rows of the join each is of, and what it is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import polars as pl

T = TypeVar("T")

_ALLOCATIONS = pl.col("measured") & pl.col("kind").is_in(["A", "O"])
_FREES = pl.col("measured") & (pl.col("kind") == "F")
_STIMULI = ~pl.col("control")
_CRITICAL = pl.col("hit") == "critical"


@dataclass(frozen=True)
class Quantity:
    """`key` names it in run.json, its unit included; `rows` of `table` (operations or interrupts) have it in
    `column`. `interval` are the channels of the edges that begin and end it, for what is read off the wire.
    """

    key: str
    table: str
    rows: pl.Expr
    column: str
    interval: tuple[str, str] | None = None

    def samples(self, operations: pl.DataFrame, interrupts: pl.DataFrame) -> pl.DataFrame:
        """The rows that have the quantity, in the order of time."""
        table = operations if self.table == "operations" else interrupts
        return table.filter(self.rows).drop_nulls(self.column)


def _operation(key: str, rows: pl.Expr, column: str, interval: tuple[str, str] | None = None) -> Quantity:
    return Quantity(key, "operations", rows, column, interval)


def _latency(key: str, rows: pl.Expr, answer: str, column: str = "isr_latency_ns") -> Quantity:
    return Quantity(key, "interrupts", rows, column, ("CTRL" if answer == "CISR" else "STIM", answer))


QUANTITIES = (
    _operation("probes", _ALLOCATIONS, "probes"),
    _operation("dwt_cycles", _ALLOCATIONS, "dwt_cycles"),
    _operation("critical_ns", _ALLOCATIONS, "wire_critical_ns", ("CRIT", "CRIT")),
    _operation("free_dwt_cycles", _FREES, "dwt_cycles"),
    _operation("free_critical_ns", _FREES, "wire_critical_ns", ("CRIT", "CRIT")),
    _latency("interrupt_latency_ns", _STIMULI, "ISR"),
    _latency("interrupt_latency_hit_ns", _STIMULI & _CRITICAL, "ISR"),
    _latency("interrupt_latency_clear_ns", _STIMULI & ~_CRITICAL, "ISR"),
    _latency("control_latency_ns", pl.col("control"), "CISR"),
    _latency("task_latency_ns", _STIMULI, "TASK", "task_latency_ns"),
)


def of_each(
    operations: pl.DataFrame, interrupts: pl.DataFrame, found: Callable[[Quantity, pl.DataFrame], T]
) -> dict[str, T]:
    """`found` of each quantity and its samples, by key."""
    return {
        quantity.key: found(quantity, quantity.samples(operations, interrupts)) for quantity in QUANTITIES
    }
