"""The interval of each percentile, unless the samples were chosen and not drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from base.metrology.intervals import CONFIDENCE, percentile_intervals
from base.metrology.series import LAGS, ljung_box
from base.run_folder.quantities import by_quantity

RAMP = (
    "The scenario is a ramp: its depths are chosen, not drawn, so a percentile over them has no sampling "
    "error and gets no interval."
)


def intervals(samples: Mapping[str, pl.DataFrame], ramp: bool) -> dict[str, Any]:
    """What run.json says of the intervals of the quantities' `samples`, by key.

    Where there are none, `refused` is the sentence why. An interval presumes independent draws.
    `independence_p` is what a test of that says of the samples, in the order of time. Where it is
    small, the interval is too narrow.
    """
    found = {} if ramp else by_quantity(samples, lambda q, rows: _intervals(rows[q.column]))
    return {"confidence": CONFIDENCE, "refused": RAMP if ramp else None, "of": found}


def _intervals(values: pl.Series) -> dict[str, Any]:
    samples = values.to_numpy()
    independence = ljung_box(samples).p if len(samples) > LAGS else None
    return {**percentile_intervals(samples), "independence_p": independence}
