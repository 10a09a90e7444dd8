"""Distributions: how often each value occurs, down to the single worst."""

from __future__ import annotations

from collections.abc import Sequence

from dashboards.figures.cycles_by_size import cycles_by_size
from dashboards.figures.interrupt_latency import interrupt_latency
from dashboards.figures.survival import latency_survival, survival
from dashboards.loaded.series import Series
from dashboards.pages.blocks import Page, present


def distributions(series: Sequence[Series]) -> Page | None:
    """Survival curves, latencies by what they met, and cycles by size."""
    figures = (survival, latency_survival, interrupt_latency, cycles_by_size)
    blocks = present(*(figure(series) for figure in figures))
    lead = ("The right end of each curve is the worst that was seen.",)
    return Page("distributions", "Distributions", lead, blocks) if blocks else None
