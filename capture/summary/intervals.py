"""The interval of each percentile, where the samples may be taken for draws at all."""

from __future__ import annotations

from typing import Any

import polars as pl

from analysis.metrology.intervals import CONFIDENCE, percentile_intervals
from analysis.metrology.series import LAGS, ljung_box
from capture.run_folder.quantities import of_each

RAMP = (
    "The scenario is a ramp: its depths are chosen, not drawn, so a percentile over them has no sampling "
    "error and gets no interval."
)


def intervals(operations: pl.DataFrame, interrupts: pl.DataFrame, ramp: bool) -> dict[str, Any]:
    """The intervals for run.json; `refused` is a sentence where there are none.

    An interval presumes independent draws. `independence_p` is what a test of that says of the samples in the
    order of time: where it is small, the interval is too narrow.
    """
    found = {} if ramp else of_each(operations, interrupts, lambda q, rows: _of(rows[q.column]))
    return {"confidence": CONFIDENCE, "refused": RAMP if ramp else None, "of": found}


def _of(values: pl.Series) -> dict[str, Any]:
    samples = values.to_numpy()
    independence = ljung_box(samples).p if len(samples) > LAGS else None
    return {**percentile_intervals(samples), "independence_p": independence}
