"""Allocations by the probes of their search, where that says something."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series


def counted(series: Sequence[Series]) -> list[pl.DataFrame] | None:
    """The measured allocations of each run whose probes were counted.

    None where none were, and for a ramp, whose own figure says it better.
    """
    tables = [one.run.measured_allocations.drop_nulls("probes") for one in series]
    ramp = any(table["depth"].is_not_null().any() for table in tables)
    return None if ramp or not any(len(table) for table in tables) else tables


def means(run: LoadedRun) -> pl.DataFrame:
    """The mean cycles of the served allocations, a row for each number of probes, in order.

    Columns: `probes`; `n`, how many there are; `critical` and `operation`, means of `dwt_cycles`
    and `dwt_operation_cycles`.
    """
    served = run.measured_allocations.filter(pl.col("kind") == "A").drop_nulls("probes")
    return (
        served.group_by("probes")
        .agg(n=pl.len(), critical=pl.mean("dwt_cycles"), operation=pl.mean("dwt_operation_cycles"))
        .sort("probes")
    )
