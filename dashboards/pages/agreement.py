"""Agreement: whether wire and cycle counter tell the same, and how wrong a value may be."""

from __future__ import annotations

from collections.abc import Sequence

from dashboards.figures.agreement import agreement as figure
from dashboards.loaded.series import Series
from dashboards.pages.blocks import Page, per_run, present
from dashboards.tables.agreement import agreement as table
from dashboards.tables.agreement import error_budget


def agreement(series: Sequence[Series]) -> Page:
    """Tables of agreement and error budget, and each run's differences."""
    figures = per_run("differences", "Wire minus DWT", ((one.style.entry, figure(one)) for one in series))
    blocks = present(table(series), error_budget(series), figures)
    return Page("agreement", "Agreement and error budget", (), blocks)
