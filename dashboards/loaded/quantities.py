"""Which quantities the page and the terminal show, and a run's samples of each."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from base.run_folder.quantities import (
    CLEAR,
    CONTROL,
    CRITICAL,
    DWT_CYCLES,
    FREE_CRITICAL,
    FREE_DWT_CYCLES,
    FREE_INSTRUCTIONS,
    HIT,
    INSTRUCTIONS,
    LATENCY,
    PROBES,
    QUANTITIES,
    REFUSED,
    SERVED,
    TASK,
    Quantity,
)
from dashboards.loaded.runs import LoadedRun

ALL = QUANTITIES
_OF_REQUESTS = (PROBES, INSTRUCTIONS, DWT_CYCLES, CRITICAL)
_OF_FREES = (FREE_INSTRUCTIONS, FREE_DWT_CYCLES, FREE_CRITICAL)
_OF_OPERATIONS = (*_OF_REQUESTS, *SERVED, *REFUSED, *_OF_FREES)
REPORTED = (*_OF_OPERATIONS, HIT, CLEAR, TASK, CONTROL)
PRINTED = (*_OF_OPERATIONS, LATENCY, TASK, CONTROL)


def shown(quantities: Sequence[Quantity], runs: Sequence[LoadedRun]) -> tuple[Quantity, ...]:
    """Those of `quantities` that `runs` have something to say of.

    Not every scenario measures its frees, and not every board counts instructions. Where no request
    was refused, those that were served are all there are, and have no rows of their own.
    """
    had = {quantity.key for quantity in ALL if any(run.summary(quantity).n for run in runs)}
    may_lack = {quantity.key for quantity in (INSTRUCTIONS, *SERVED, *REFUSED, *_OF_FREES)}
    left_out = may_lack - had
    if all(quantity.key in left_out for quantity in REFUSED):
        left_out |= {quantity.key for quantity in SERVED}
    return tuple(quantity for quantity in quantities if quantity.key not in left_out)


def samples(run: LoadedRun, quantity: Quantity) -> pl.DataFrame:
    """The rows of operations or interrupts that `quantity` summarises, without missing values."""
    return quantity.samples(run.operations, run.interrupts)
