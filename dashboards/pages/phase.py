"""The phase: when within an operation the stimulus came, and how long it waited."""

from __future__ import annotations

from collections.abc import Sequence

from dashboards.figures.latency_by_phase import latency_by_phase
from dashboards.figures.masking_by_call import masking_by_call
from dashboards.loaded.series import Series
from dashboards.pages.blocks import Page, present


def phase(series: Sequence[Series]) -> Page | None:
    """Latency against phase, and who masks. None without a sweep."""
    blocks = present(masking_by_call(series), latency_by_phase(series))
    lead = ("Stimuli met each call at phases all through it.",)
    return Page("phase", "Phase", lead, blocks) if blocks else None
