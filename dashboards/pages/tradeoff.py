"""The trade-off: the worst latency against the heap that it takes."""

from __future__ import annotations

from collections.abc import Sequence

from dashboards.figures.heap_against_worst import heap_against_worst
from dashboards.loaded.series import Series
from dashboards.pages.blocks import Page
from dashboards.tables.memory import memory


def tradeoff(series: Sequence[Series]) -> Page | None:
    """Figure and table. None where no run tells what its heap took."""
    chart = heap_against_worst(series)
    if chart is None:
        return None
    return Page("tradeoff", "Trade-off", ("Down and to the left is better.",), (chart, memory(series)))
