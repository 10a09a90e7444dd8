"""The quantities that are set side by side, and where each one's samples lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from dashboards.manifest import Summary
from dashboards.runs import LoadedRun
from dashboards.waveforms.keys import interrupt_keys, operation_keys


@dataclass(frozen=True)
class Quantity:
    """`key` is the summary in run.json; `source` and `column` say which rows it summarises."""

    key: str
    words: str
    unit: str
    source: str
    column: str

    def summary(self, run: LoadedRun) -> Summary:
        return run.manifest.summaries[self.key]


PROBES = Quantity("probes", "probes of an allocation", "", "allocations", "probes")
DWT_CYCLES = Quantity("dwt_cycles", "critical section by DWT", "cycles", "allocations", "dwt_cycles")
CRITICAL = Quantity("critical_ns", "critical section on the wire", "ns", "allocations", "wire_critical_ns")
FREE_DWT_CYCLES = Quantity(
    "free_dwt_cycles", "critical section of a free, by DWT", "cycles", "frees", "dwt_cycles"
)
FREE_CRITICAL = Quantity(
    "free_critical_ns", "critical section of a free, on the wire", "ns", "frees", "wire_critical_ns"
)
LATENCY = Quantity("interrupt_latency_ns", "interrupt latency", "ns", "interrupts", "isr_latency_ns")
HIT = Quantity(
    "interrupt_latency_hit_ns", "interrupt latency, critical section hit", "ns", "hit", "isr_latency_ns"
)
CLEAR = Quantity(
    "interrupt_latency_clear_ns", "interrupt latency, otherwise", "ns", "clear", "isr_latency_ns"
)
TASK = Quantity("task_latency_ns", "task latency", "ns", "interrupts", "task_latency_ns")
CONTROL = Quantity("control_latency_ns", "control interrupt latency", "ns", "control", "isr_latency_ns")

ALL = (PROBES, DWT_CYCLES, CRITICAL, FREE_DWT_CYCLES, FREE_CRITICAL, LATENCY, HIT, CLEAR, TASK, CONTROL)
REPORTED = (PROBES, DWT_CYCLES, CRITICAL, FREE_DWT_CYCLES, FREE_CRITICAL, HIT, CLEAR, TASK, CONTROL)
PRINTED = (PROBES, DWT_CYCLES, CRITICAL, FREE_CRITICAL, LATENCY, TASK, CONTROL)


def shown(quantities: Sequence[Quantity], runs: Sequence[LoadedRun]) -> tuple[Quantity, ...]:
    """Those of `quantities` that `runs` can have: not every scenario measures its frees."""
    frees = any(FREE_CRITICAL.summary(run).n for run in runs)
    return tuple(quantity for quantity in quantities if frees or quantity.source != "frees")


def samples(run: LoadedRun, quantity: Quantity) -> pl.DataFrame:
    """The rows of operations or interrupts that `quantity` summarises, without missing values."""
    critical = pl.col("hit") == "critical"
    tables = {
        "allocations": lambda: run.measured_allocations,
        "frees": lambda: run.measured_frees,
        "interrupts": lambda: run.answered,
        "hit": lambda: run.answered.filter(critical),
        "clear": lambda: run.answered.filter(~critical),
        "control": lambda: run.answered_control,
    }
    return tables[quantity.source]().drop_nulls(quantity.column)


def worst_key(run: LoadedRun, quantity: Quantity) -> str | None:
    """The selection key of the first sample with the greatest value; None without samples."""
    worst = samples(run, quantity).sort(quantity.column, descending=True, maintain_order=True).head(1)
    if worst.is_empty():
        return None
    if quantity.source in ("allocations", "frees"):
        return operation_keys(worst["seq"])[0]
    return interrupt_keys(worst["sample"], worst["operation_seq"])[0]
