"""The ramp: what an allocation and an interrupt cost behind ever more fragments."""

from __future__ import annotations

from collections.abc import Sequence

from dashboards.figures import ramp as figure
from dashboards.figures.latency_by_depth import latency_by_depth
from dashboards.figures.task_latency_by_depth import task_latency_by_depth
from dashboards.loaded.series import Series
from dashboards.pages.blocks import Page, present


def ramp(series: Sequence[Series]) -> Page | None:
    """Cost and latency against depth. None without depths."""
    charts = (figure.ramp(series), latency_by_depth(series), task_latency_by_depth(series))
    blocks = present(*charts)
    lead = ("A line that rises is a search that grows with the heap's fragments.",)
    return Page("ramp", "Ramp", lead, blocks) if blocks else None
