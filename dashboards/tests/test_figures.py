"""The figures hold the values that the synthetic runs were made of."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from base.run_folder.quantities import LATENCY
from dashboards.figures.chart import Chart
from dashboards.figures.interrupts import at_depth, interrupt_latency, latency_by_depth, other_latency
from dashboards.figures.sections import cycles_by_probes, cycles_by_size
from dashboards.figures.waveform import worst_waveform
from dashboards.loaded.series import Series
from dashboards.pages.catalogue import OF_SCENARIO
from dashboards.tests.as_plotly import as_plotly
from dashboards.tests.synthetic import Operation, mem_frag

US_PER_CYCLE = 1 / 84
# By hand: 512 set-up operations, then seven at each depth, the sixth of which is the third trial.


def charts_of(series: list[Series]) -> list[Chart]:
    """Those of all pages on the scenario."""
    pages = (made(series) for made in OF_SCENARIO)
    return [chart for page in pages if page is not None for chart in page.charts()]


def plotted(chart: Chart | None) -> Any:
    assert chart is not None
    return as_plotly(chart.figure)


def trace(chart: Chart | None, name: str) -> Any:
    """The trace of that name; a legend's entry may add the maximum."""
    return next(drawn for drawn in plotted(chart).data if str(drawn.name).partition(", max ")[0] == name)


def interrupts(operations: list[Operation]) -> list[tuple[int | None, str, float]]:
    """(operation, what it met, latency in µs) of each stimulus, walked through one by one."""
    spans, sample = [], 10_000
    for operation in operations:
        start = sample + 40
        spans.append((start, start + 20, start + 20 + operation.cycles, start + 40 + operation.cycles))
        sample += 80 + operation.cycles + 2_400
    result: list[tuple[int | None, str, float]] = []
    seq = 0
    for stimulus in range(9_000, spans[-1][3] + 10_000, 5_003):
        while seq < len(spans) and spans[seq][3] <= stimulus:
            seq += 1
        start, crit_start, crit_end, _ = spans[min(seq, len(spans) - 1)]
        if seq == len(spans) or stimulus < start:
            result.append((None, "none", 38 * US_PER_CYCLE))
        elif crit_start <= stimulus < crit_end:
            result.append((seq, "critical", (crit_end - stimulus + 46) * US_PER_CYCLE))
        else:
            result.append((seq, "operation", 38 * US_PER_CYCLE))
    return result


def test_interrupts_are_counted_by_what_they_met_and_ticks_have_their_rings(frag: list[Series]) -> None:
    counts = Counter(hit for _, hit, _ in interrupts(mem_frag("seglist")))
    figures = [plotted(drawn(frag)) for drawn in (interrupt_latency, other_latency)]
    notes = [note.text for figure in figures for note in figure.layout.annotations]
    result = {text.partition(", max ")[0]: text.rpartition("n = ")[2] for text in notes}
    assert result["met a critical section: seglist"] == f"{counts['critical']}"
    assert result["in an operation, not critical: seglist"] == f"{counts['operation']}"
    assert result["outside operations: seglist"] == f"{counts['none']:,}"
    drawn = [trace for figure in figures for trace in figure.data]
    rings = [len(trace.x) for trace in drawn if trace.marker.symbol == "circle-open"]
    tables = [series.run.answered.filter("tick").select("hit", "isr_latency_ns") for series in frag]
    control = [series.run.answered_control.filter("tick")["isr_latency_ns"] for series in frag]
    touched = sum(len(set(table.rows())) for table in tables) + sum(len(set(series)) for series in control)
    assert sum(rings) == touched > 10


def test_the_worst_latency_of_each_band_is_found(frag: list[Series]) -> None:
    operations = mem_frag("seglist")
    worst: dict[int, float] = {}
    for seq, _, latency in interrupts(operations):
        depth = operations[seq].depth if seq is not None else None
        if depth is not None:
            band = (depth - 1) // 16
            worst[band] = max(worst.get(band, 0.0), latency)
    chart = latency_by_depth(frag, [at_depth(series.run) for series in frag])
    line = trace(chart, "seglist")
    np.testing.assert_allclose(line.x, [16 * band + 8.5 for band in sorted(worst)])
    np.testing.assert_allclose(line.y, [worst[band] for band in sorted(worst)])
    np.testing.assert_allclose(trace(chart, "control interrupt").y, 26 * US_PER_CYCLE)


def test_the_worst_interrupt_is_answered_after_the_critical_section(frag: list[Series]) -> None:
    chart = worst_waveform(frag[0], LATENCY)
    crit, stimulus, handler = (trace(chart, name) for name in ("CRIT", "STIM", "ISR"))
    assert crit.x[1] <= stimulus.x[1] < crit.x[2] < handler.x[1]
    worst = max(latency for _, _, latency in interrupts(mem_frag("seglist")))
    assert handler.x[1] - stimulus.x[1] == pytest.approx(worst)


def test_every_figure_has_units_counts_resolution_and_runs(frag: list[Series], stress: list[Series]) -> None:
    charts = charts_of(frag) + charts_of(stress)
    # Those that all runs of a scenario share; four that runs have of their own.
    assert len(charts) == 4 + 4 + 5 + 4
    for chart in charts:
        assert "n = " in chart.subtitle
        assert "84 MS/s (±0.01 µs)" in chart.subtitle
        runs = [name for name in ("seglist", "tlsf") if f"-{name}-virtual" in chart.subtitle]
        assert runs == ["seglist", "tlsf"] or [chart.title.partition(":")[0]] == runs
        assert not chart.badges
        assert any(axis.title.text for axis in plotted(chart).select_xaxes())
    assert cycles_by_probes(frag) is None and cycles_by_size(frag) is None
