"""The figures hold the values that the synthetic runs were made of."""

from __future__ import annotations

import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboards.figures.agreement import agreement
from dashboards.figures.chart import Chart
from dashboards.figures.cycles import cycles_by_probes
from dashboards.figures.interrupt_latency import interrupt_latency, other_latency
from dashboards.figures.latency_by_depth import latency_by_depth
from dashboards.figures.ramp import ramp
from dashboards.figures.survival import latency_survival, survival
from dashboards.figures.waveform import worst_critical_section, worst_interrupt
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import Series, assign_styles, by_scenario
from dashboards.pages.catalogue import OF_SCENARIO
from dashboards.tests.as_plotly import as_plotly
from dashboards.tests.synthetic import Operation, mem_frag, write_run

NS_PER_CYCLE = 1e9 / 84e6
US_PER_CYCLE = NS_PER_CYCLE / 1000
# By hand: 512 set-up operations, then seven at each depth, the sixth of which is the third trial.
WORST_OF_SEGLIST = 512 + 255 * 7 + 5
WORST_OF_SEGLIST_CYCLES = 350 + 12 * 256 + 4


def _all_charts(series: list[Series]) -> list[Chart]:
    """Those of all pages on the scenario."""
    pages = (made(series) for made in OF_SCENARIO)
    return [chart for page in pages if page is not None for chart in page.charts()]


def _chart(chart: Chart | None) -> Chart:
    assert chart is not None
    return chart


def _line(chart: Chart, name: str, nth: int = 0) -> Any:
    lines = [trace for trace in as_plotly(chart.figure).data if trace.mode == "lines"]
    return [trace for trace in lines if str(trace.name).partition(", max ")[0] == name][nth]


def _trace(chart: Chart, name: str, nth: int = 0) -> Any:
    """The nth trace of that name; a legend's entry may add the maximum."""
    named = (
        trace for trace in as_plotly(chart.figure).data if str(trace.name).partition(", max ")[0] == name
    )
    return list(named)[nth]


def test_the_ramp_shows_every_trial_the_worst_and_the_best(frag: list[Series]) -> None:
    chart = _chart(ramp(frag))
    depths = np.arange(1, 257)
    worst = _line(chart, "seglist")
    assert list(worst.x) == list(depths)
    assert worst.name == "seglist, max 40.79 µs"
    np.testing.assert_allclose(worst.y, (354 + 12 * depths) * US_PER_CYCLE)
    assert worst.customdata[-1] == str(WORST_OF_SEGLIST)
    assert len(_trace(chart, "seglist trials").x) == 768
    best = _trace(chart, "minimum of trials")
    np.testing.assert_allclose(best.y, (350 + 12 * depths) * US_PER_CYCLE)
    assert best.visible == "legendonly"
    assert set(_line(chart, "tlsf", nth=2).y) == {2}
    np.testing.assert_array_equal(_line(chart, "seglist", nth=2).y, depths + 3)


def test_survival_ends_at_the_maximum_and_one_over_n(frag: list[Series]) -> None:
    chart = _chart(survival(frag))
    curve = _trace(chart, "seglist")
    assert (curve.y[0], curve.y[-1]) == (1.0, pytest.approx(1 / 768))
    assert curve.x[-1] == pytest.approx(WORST_OF_SEGLIST_CYCLES * US_PER_CYCLE)
    # Half of the trials lie above the one in the middle: depth 128 is the last below it.
    middle = next(i for i, x in enumerate(curve.x) if x > (354 + 12 * 128) * US_PER_CYCLE + 0.001)
    assert curve.y[middle] == pytest.approx(0.5, abs=2 / 768)
    assert curve.name == "seglist, max 40.79 µs"
    assert curve.customdata[-1] == str(WORST_OF_SEGLIST)
    # The axis ends where the least share does, with room for the marker.
    assert as_plotly(chart.figure).layout.yaxis.range[0] == pytest.approx(np.log10(1 / 768), abs=0.2)


def test_survival_of_the_interrupts_is_that_of_each_stimulus(frag: list[Series]) -> None:
    curve = _trace(_chart(latency_survival(frag)), "seglist")
    latencies = [latency for _, _, latency in _interrupts(mem_frag("seglist"))]
    for x, share in list(zip(curve.x, curve.y, strict=True))[:: len(curve.x) // 7]:
        assert share == pytest.approx(
            sum(latency >= 1000 * x - 0.01 for latency in latencies) / len(latencies)
        )


def test_cycles_by_probes_joins_the_worst(stress: list[Series], frag: list[Series]) -> None:
    chart = _chart(cycles_by_probes(stress))
    worst = _trace(chart, "seglist max")
    probes = np.round(worst.x).astype(int)
    assert list(probes) == list(range(1, 9))
    # The table's DWT cycles differ from the wire by the planted disagreement of at most one cycle.
    assert np.all(np.abs(worst.y - (331 + 25 * probes)) <= 1)
    assert cycles_by_probes(frag) is None


def test_cycles_by_probes_has_the_mean_of_each_bin(stress: list[Series]) -> None:
    chart = _chart(cycles_by_probes(stress))
    mean, (_, tlsf) = _trace(chart, "seglist mean"), stress
    assert list(np.round(mean.x).astype(int)) == list(range(1, 9))
    table = stress[0].run.operations
    for x, y in zip(np.round(mean.x), mean.y, strict=True):
        cycles = table.filter((table["probes"] == x) & (table["kind"] == "A"))["dwt_cycles"].to_list()
        assert y == pytest.approx(statistics.fmean(cycles))
    assert len(_trace(chart, f"{tlsf.label} mean").x) == 2
    # A mean is no operation: a click on it must not open one.
    assert mean.meta == {"entry": 0} and mean.customdata is None


def test_interrupts_are_counted_by_what_they_met(frag: list[Series]) -> None:
    counts = Counter(hit for _, hit, _ in _interrupts(mem_frag("seglist")))
    names = [
        annotation.text
        for drawn in (interrupt_latency, other_latency)
        for annotation in as_plotly(_chart(drawn(frag)).figure).layout.annotations
    ]
    result = {text.partition(", max ")[0]: text.rpartition("n = ")[2] for text in names}
    assert result["met a critical section: seglist"] == f"{counts['critical']}"
    assert result["in an operation, not critical: seglist"] == f"{counts['operation']}"
    assert result["outside operations: seglist"] == f"{counts['none']:,}"


def test_the_worst_latency_of_each_band_is_found(frag: list[Series]) -> None:
    chart = _chart(latency_by_depth(frag))
    operations = mem_frag("seglist")
    worst: dict[int, float] = {}
    for seq, _, latency in _interrupts(operations):
        depth = operations[seq].depth if seq is not None else None
        if depth is not None:
            band = (depth - 1) // 16
            worst[band] = max(worst.get(band, 0.0), latency)
    trace = _trace(chart, "seglist")
    np.testing.assert_allclose(trace.x, [16 * band + 8.5 for band in sorted(worst)])
    np.testing.assert_allclose(trace.y, [worst[band] / 1000 for band in sorted(worst)])
    np.testing.assert_allclose(_trace(chart, "control interrupt").y, 26 * US_PER_CYCLE)


def test_agreement_shows_each_difference_and_the_tolerance(frag: list[Series]) -> None:
    chart = _chart(agreement(frag[1]))
    assert Counter(_trace(chart, "tlsf").y) == {0.0: 1152, 1.0: 576, -1.0: 576}
    assert "0 of 2,304 beyond ±1.50 cycles" in chart.explanation
    bands = {(shape.y0, shape.y1) for shape in as_plotly(chart.figure).layout.shapes}
    assert bands == {(-1.5, 1.5)}


def test_a_difference_beyond_the_tolerance_is_counted(tmp_path: Path) -> None:
    tight = {
        "n": 36, "wire_minus_dwt_cycles_max_abs": 1.0, "tolerance_cycles": 0.5, "resolution_cycles": 0.5,
        "clock_cycles": 0.0,
    }  # fmt: skip
    folder = write_run(tmp_path, "mem_frag", "tlsf", mem_frag("tlsf", depths=4), changes={"agreement": tight})
    chart = _chart(agreement(by_scenario([load_run(folder)])["mem_frag"][0]))
    assert "18 of 36 beyond ±0.50 cycles" in chart.explanation


def test_the_waveform_is_that_of_the_worst_operation(frag: list[Series]) -> None:
    chart = _chart(worst_critical_section(frag[0]))
    assert chart.title == f"seglist: operation {WORST_OF_SEGLIST}"
    crit, op = _trace(chart, "CRIT"), _trace(chart, "OP")
    us_per_cycle = 1 / 84
    np.testing.assert_allclose(crit.x[1:3], np.array([20, 20 + WORST_OF_SEGLIST_CYCLES]) * us_per_cycle)
    np.testing.assert_allclose(op.x[1:3], np.array([0, 40 + WORST_OF_SEGLIST_CYCLES]) * us_per_cycle)
    assert list(crit.y - min(crit.y)) == [0, 1, 0, 0]
    assert crit.line.shape == "hv"


def test_the_worst_interrupt_is_answered_after_the_critical_section(frag: list[Series]) -> None:
    chart = _chart(worst_interrupt(frag[0]))
    crit, stimulus, handler = (_trace(chart, name) for name in ("CRIT", "STIM", "ISR"))
    assert crit.x[1] <= stimulus.x[1] < crit.x[2] < handler.x[1]
    worst = max(latency for _, _, latency in _interrupts(mem_frag("seglist")))
    assert handler.x[1] - stimulus.x[1] == pytest.approx(worst / 1000)


def test_every_figure_has_units_counts_resolution_and_runs(frag: list[Series], stress: list[Series]) -> None:
    charts = _all_charts(frag) + _all_charts(stress)
    # Those that all runs of a scenario share; four that runs have of their own.
    assert len(charts) == 6 + 4 + 5 + 4
    for chart in charts:
        assert "n = " in chart.subtitle
        assert "84 MS/s (±0.01 µs)" in chart.subtitle
        runs = [name for name in ("seglist", "tlsf") if f"-{name}-virtual" in chart.subtitle]
        assert runs == ["seglist", "tlsf"] or [chart.title.partition(":")[0]] == runs
        assert not chart.badges
        assert any(axis.title.text for axis in as_plotly(chart.figure).select_xaxes())


def test_a_run_that_is_not_complete_is_badged_everywhere(tmp_path: Path) -> None:
    reasons = ("The capture ended early; capture again.",)
    operations = mem_frag("tlsf", depths=20)
    folder = write_run(tmp_path, "mem_frag", "tlsf", operations, verdict="truncated", reasons=reasons)
    charts = _all_charts(by_scenario([load_run(folder)])["mem_frag"])
    assert charts
    for chart in charts:
        assert chart.badges == (f"{folder.name} is truncated: {reasons[0]}",)
        # Also in the figure itself, which can be saved as a picture without the page around it.
        # A picture that is saved has the title and the badges in it (figures.js).
        assert "tlsf (truncated)" in chart.title + chart.figure.to_json()


def test_runs_of_one_allocator_are_told_apart(tmp_path: Path) -> None:
    operations = [Operation("A", 16, 1, 300)]
    folders = [
        write_run(tmp_path, "mem_stress", "tlsf", operations, board=board) for board in ("virtual", "nucleo")
    ]
    again = write_run(tmp_path / "again", "mem_stress", "tlsf", operations, board="nucleo")
    names = [
        series.name
        for series in by_scenario([load_run(folder) for folder in (*folders, again)])["mem_stress"]
    ]
    assert names[-1] == "tlsf on virtual"
    two = [series.name for series in by_scenario([load_run(folder) for folder in folders])["mem_stress"]]
    assert two == ["tlsf on nucleo", "tlsf on virtual"]


def _interrupts(operations: list[Operation]) -> list[tuple[int | None, str, float]]:
    """(operation, what it met, latency in ns) of each stimulus, walked through one by one."""
    spans, sample = [], 10_000
    for operation in operations:
        start = sample + 40
        spans.append((start, start + 20, start + 20 + operation.cycles, start + 40 + operation.cycles))
        sample += 80 + operation.cycles + 2_400
    end = spans[-1][3] + 10_000
    result: list[tuple[int | None, str, float]] = []
    seq = 0
    for stimulus in range(9_000, end, 5_003):
        while seq < len(spans) and spans[seq][3] <= stimulus:
            seq += 1
        start, crit_start, crit_end, _ = spans[min(seq, len(spans) - 1)]
        if seq == len(spans) or stimulus < start:
            result.append((None, "none", 38 * NS_PER_CYCLE))
        elif crit_start <= stimulus < crit_end:
            result.append((seq, "critical", (crit_end - stimulus + 46) * NS_PER_CYCLE))
        else:
            result.append((seq, "operation", 38 * NS_PER_CYCLE))
    return result


def test_eleven_allocators_look_different() -> None:
    looks = assign_styles([f"allocator {i}" for i in range(9)] + ["seglist", "tlsf"])
    assert len({(style.colour, style.dash, style.symbol) for style in looks.values()}) == 11
    assert (looks["seglist"], looks["tlsf"]) == tuple(assign_styles(["seglist", "tlsf"]).values())


def test_ticks_have_their_rings(frag: list[Series]) -> None:
    charts = [_chart(interrupt_latency(frag)), _chart(other_latency(frag))]
    assert all("A ring" in chart.explanation for chart in charts)
    every = [trace for chart in charts for trace in as_plotly(chart.figure).data]
    rings = [trace for trace in every if trace.marker.symbol == "circle-open"]
    tables = [series.run.answered.filter("tick").select("hit", "isr_latency_ns") for series in frag]
    control = [series.run.answered_control.filter("tick")["isr_latency_ns"] for series in frag]
    touched = sum(len(set(table.rows())) for table in tables) + sum(len(set(series)) for series in control)
    assert sum(len(trace.x) for trace in rings) == touched > 10


def test_survival_has_bars_at_its_percentiles(stress: list[Series], frag: list[Series]) -> None:
    chart, ramp = survival(stress), survival(frag)
    assert chart is not None and ramp is not None
    bars = [
        trace for trace in as_plotly(chart.figure).data if trace.error_x.array is not None and len(trace.x)
    ]
    assert [(list(trace.y), list(trace.error_x.array)) for trace in bars] == [
        ([0.5], [pytest.approx(0.005)])
    ] * 2
    assert not [
        trace for trace in as_plotly(ramp.figure).data if trace.error_x.array is not None and len(trace.x)
    ]
