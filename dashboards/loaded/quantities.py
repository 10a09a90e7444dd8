"""Which quantities the page and the terminal show, and a run's samples of each."""

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
from dashboards.loaded.runs import LoadedRun

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
