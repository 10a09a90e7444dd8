"""All pages, in the order in which they are offered. The report draws all of them at once, the app
one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dashboards.loaded.series import Series
from dashboards.pages.agreement import agreement
from dashboards.pages.blocks import Page
from dashboards.pages.comparison import comparison
from dashboards.pages.distributions import distributions
from dashboards.pages.matrix import matrix
from dashboards.pages.overview import overview
from dashboards.pages.phase import phase
from dashboards.pages.probes import probes
from dashboards.pages.ramp import ramp
from dashboards.pages.run import run
from dashboards.pages.tradeoff import tradeoff
from dashboards.pages.waveforms import waveforms

OF_ALL: tuple[Callable[[Mapping[str, Sequence[Series]]], Page], ...] = (overview, matrix)
"""Pages on all scenarios at once."""

OF_SCENARIO: tuple[Callable[[Sequence[Series]], Page | None], ...] = (
    comparison,
    ramp,
    phase,
    distributions,
    probes,
    tradeoff,
    waveforms,
    agreement,
)
"""Pages on one scenario, by its runs. None where the scenario has nothing of it."""

OF_RUN: Callable[[Series], Page] = run
"""The page on one run."""
