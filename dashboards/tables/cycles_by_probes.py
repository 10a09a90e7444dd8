"""Mean cycles by the probes of an allocation: what one more look of the search takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.formatting import MISSING, grouped
from dashboards.loaded.by_probes import counted, means
from dashboards.loaded.series import Series

_COLUMNS = ("n", "critical", "operation")


@dataclass(frozen=True)
class Row:
    """One number of probes. `cells` are n, critical section and operation, of each run in turn."""

    probes: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class CyclesByProbes:
    """`names` are those of the runs."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    explanation: str


def cycles_by_probes(series: Sequence[Series]) -> CyclesByProbes | None:
    """The table of one scenario. None where the figure of the same name has nothing to show."""
    if counted(series) is None:
        return None
    found = [{row["probes"]: row for row in means(one.run).iter_rows(named=True)} for one in series]
    rows = (
        Row(
            grouped(probes),
            tuple(
                grouped(of_run[probes][name]) if probes in of_run else MISSING
                for of_run in found
                for name in _COLUMNS
            ),
        )
        for probes in sorted(set().union(*found))
    )
    return CyclesByProbes(tuple(one.name for one in series), tuple(rows), _explanation(series))


def _explanation(series: Sequence[Series]) -> str:
    words = "Of the measured requests that were served. Cycles are by DWT."
    adjusted = any(one.run.adjustments for one in series)
    return f"{words} Operations are as measured: a baseline is of a section." if adjusted else words
