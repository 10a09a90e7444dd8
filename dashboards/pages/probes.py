"""Cycles by probes: whether the search explains the time."""

from __future__ import annotations

from collections.abc import Sequence

from dashboards.figures import cycles_by_probes as figure
from dashboards.loaded.series import Series
from dashboards.pages.blocks import Page, present
from dashboards.tables import cycles_by_probes as table


def probes(series: Sequence[Series]) -> Page | None:
    """Figure and table of means. None where nobody counted, and for a ramp."""
    blocks = present(figure.cycles_by_probes(series), table.cycles_by_probes(series))
    return Page("probes", "Cycles by probes", (), blocks) if blocks else None
