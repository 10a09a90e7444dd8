"""Waveforms: the worst critical section and the worst interrupt of each run, as captured."""

from __future__ import annotations

from collections.abc import Sequence

from dashboards.figures.heap_state import heap_state
from dashboards.figures.waveform import worst_critical_section, worst_interrupt
from dashboards.loaded.series import Series
from dashboards.pages.blocks import Page, per_run, present


def waveforms(series: Sequence[Series]) -> Page | None:
    """Captures and the course of the heap, each run's own. None where there are none."""
    made = (
        ("pulse", "The worst critical section, as captured", worst_critical_section),
        ("interrupt", "The worst interrupt, as captured", worst_interrupt),
        ("heap", "The heap at the worst instant", heap_state),
    )
    blocks = present(
        *(
            per_run(key, title, ((one.style.entry, figure(one)) for one in series))
            for key, title, figure in made
        )
    )
    return Page("waveforms", "Waveforms", (), blocks) if blocks else None
