"""Which quantities are set side by side where, and where the samples of each lie in a run."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from capture.run_folder.quantities import (
    CLEAR,
    CONTROL,
    CRITICAL,
    DWT_CYCLES,
    FREE_CRITICAL,
    FREE_DWT_CYCLES,
    HIT,
    LATENCY,
    PROBES,
    QUANTITIES,
    TASK,
    Quantity,
)
from dashboards.runs import LoadedRun
from dashboards.selection import interrupt_keys, operation_keys

ALL = QUANTITIES
REPORTED = (PROBES, DWT_CYCLES, CRITICAL, FREE_DWT_CYCLES, FREE_CRITICAL, HIT, CLEAR, TASK, CONTROL)
PRINTED = (PROBES, DWT_CYCLES, CRITICAL, FREE_DWT_CYCLES, FREE_CRITICAL, LATENCY, TASK, CONTROL)
OF_FREES = (FREE_DWT_CYCLES, FREE_CRITICAL)


def shown(quantities: Sequence[Quantity], runs: Sequence[LoadedRun]) -> tuple[Quantity, ...]:
    """Those of `quantities` that `runs` can have: not every scenario measures its frees."""
    return tuple(
        quantity
        for quantity in quantities
        if quantity not in OF_FREES or any(run.summary(quantity).n for run in runs)
    )


def samples(run: LoadedRun, quantity: Quantity) -> pl.DataFrame:
    """The rows of operations or interrupts that `quantity` summarises, without missing values."""
    return quantity.samples(run.operations, run.interrupts)


def worst_key(run: LoadedRun, quantity: Quantity) -> str | None:
    """The selection key of the first sample with the greatest value; None without samples."""
    worst = samples(run, quantity).sort(quantity.column, descending=True, maintain_order=True).head(1)
    if worst.is_empty():
        return None
    if quantity.table == "operations":
        return operation_keys(worst["seq"])[0]
    return interrupt_keys(worst["sample"], worst["operation_seq"])[0]
