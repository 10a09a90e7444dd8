"""The comparison: every quantity of every run of a scenario, and how far runs lie apart."""

from __future__ import annotations

from collections.abc import Sequence

from dashboards.loaded.series import Series
from dashboards.pages.blocks import Page, present
from dashboards.tables.comparison import comparison as every_quantity
from dashboards.tables.differences import differences


def comparison(series: Sequence[Series]) -> Page:
    """The tables of one scenario."""
    lead = ("Choose a maximum to see its instant.",)
    return Page("comparison", "Comparison", lead, present(every_quantity(series), differences(series)))
