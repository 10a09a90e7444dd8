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
    REFUSED,
    SERVED,
    TASK,
    Quantity,
)
from dashboards.loaded.runs import LoadedRun

ALL = QUANTITIES
OF_FREES = (FREE_DWT_CYCLES, FREE_CRITICAL)
_OF_OPERATIONS = (PROBES, DWT_CYCLES, CRITICAL, *SERVED, *REFUSED, *OF_FREES)
REPORTED = (*_OF_OPERATIONS, HIT, CLEAR, TASK, CONTROL)
PRINTED = (*_OF_OPERATIONS, LATENCY, TASK, CONTROL)


def shown(quantities: Sequence[Quantity], runs: Sequence[LoadedRun]) -> tuple[Quantity, ...]:
    """Those of `quantities` that `runs` have something to say of.

    Not every scenario measures its frees. Where no request was refused, those that were served are
    all there are, and have no rows of their own.
    """
    left_out = [
        *((*SERVED, *REFUSED) if not _any_has(REFUSED, runs) else ()),
        *(quantity for quantity in OF_FREES if not _any_has([quantity], runs)),
    ]
    return tuple(quantity for quantity in quantities if quantity not in left_out)


def _any_has(quantities: Sequence[Quantity], runs: Sequence[LoadedRun]) -> bool:
    return any(run.summary(quantity).n for run in runs for quantity in quantities)


def samples(run: LoadedRun, quantity: Quantity) -> pl.DataFrame:
    """The rows of operations or interrupts that `quantity` summarises, without missing values."""
    return quantity.samples(run.operations, run.interrupts)
