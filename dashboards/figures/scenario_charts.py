"""All figures, in the order in which they tell a scenario."""

from __future__ import annotations

from collections.abc import Sequence

from dashboards.figures.agreement import agreement
from dashboards.figures.chart import Chart
from dashboards.figures.cycles_by_probes import cycles_by_probes
from dashboards.figures.cycles_by_size import cycles_by_size
from dashboards.figures.heap_state import heap_state
from dashboards.figures.interrupt_latency import interrupt_latency
from dashboards.figures.latency_by_depth import latency_by_depth
from dashboards.figures.latency_by_phase import latency_by_phase
from dashboards.figures.masking_by_call import masking_by_call
from dashboards.figures.ramp import ramp
from dashboards.figures.survival import survival
from dashboards.figures.task_latency_by_depth import task_latency_by_depth
from dashboards.figures.waveform import worst_critical_section, worst_interrupt
from dashboards.loaded.series import Series

FIGURES = (
    ramp,
    masking_by_call,
    latency_by_phase,
    latency_by_depth,
    task_latency_by_depth,
    survival,
    cycles_by_size,
    cycles_by_probes,
    interrupt_latency,
    worst_critical_section,
    worst_interrupt,
    heap_state,
    agreement,
)


def scenario_charts(series: Sequence[Series]) -> list[Chart]:
    """The figures that apply to one scenario."""
    return [chart for figure in FIGURES if (chart := figure(series)) is not None]
