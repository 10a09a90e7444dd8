"""The figures hold the values that the synthetic runs were made of; calls of the kernel, and what a
click on one shows; and drawn in part, a trace keeps every bucket's greatest and least.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import polars as pl
import pytest

from dashboards.blocks import Chart
from dashboards.figures.chart import COLUMNS, thin
from dashboards.figures.interrupts import interrupt_latency, latency_by_depth, masking_by_call, worst_by_call
from dashboards.figures.sections import cycles_by_probes, cycles_by_size
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import Series, by_scenario
from dashboards.page.embedded import embed
from dashboards.pages.catalogue import OF_SCENARIO
from dashboards.tests.synthetic import RATE_HZ, Operation, interrupt_rows, mem_frag, write_run
from tests.run_folders import seal

US_PER_CYCLE = 1 / 84
# By hand: 512 set-up operations, then seven at each depth, the sixth of which is the third trial.


def charts_of(series: list[Series]) -> list[Chart]:
    """Those of all pages on the scenario."""
    pages = (made(series) for made in OF_SCENARIO.values())
    return [block for page in pages if page is not None for block in page.blocks if isinstance(block, Chart)]


def plotted(chart: Chart | None) -> Any:
    assert chart is not None
    return chart.figure


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


def test_interrupts_are_counted_by_what_they_met(frag: list[Series]) -> None:
    counts = Counter(hit for _, hit, _ in interrupts(mem_frag("seglist")))
    texts = [drawn.text for drawn in plotted(interrupt_latency(frag)).data if drawn.text]
    result = {text.partition(", max ")[0]: text.rpartition("n = ")[2] for text in texts}
    assert result["met a critical section: seglist"] == f"{counts['critical']}"
    assert result["in an operation, not critical: seglist"] == f"{counts['operation']}"
    assert result["outside operations: seglist"] == f"{counts['none']:,}"


def test_the_worst_latency_of_each_band_is_found(frag: list[Series]) -> None:
    operations = mem_frag("seglist")
    worst: dict[int, float] = {}
    for seq, _, latency in interrupts(operations):
        depth = operations[seq].depth if seq is not None else None
        if depth is not None:
            band = (depth - 1) // 16
            worst[band] = max(worst.get(band, 0.0), latency)
    chart = latency_by_depth(frag)
    line = trace(chart, "seglist")
    np.testing.assert_allclose(line.x, [16 * band + 8.5 for band in sorted(worst)])
    np.testing.assert_allclose(line.y, [worst[band] for band in sorted(worst)])
    np.testing.assert_allclose(trace(chart, "seglist control interrupt").y, 26 * US_PER_CYCLE)


def test_every_figure_has_units_counts_resolution_and_runs(frag: list[Series], stress: list[Series]) -> None:
    charts = charts_of(frag) + charts_of(stress)
    # Ramp, latency by depth, strips; probes, two curves, strips.
    assert len(charts) == 3 + 4
    for chart in charts:
        assert "n = " in chart.subtitle
        assert "84 MS/s (±0.01 µs)" in chart.subtitle
        assert all(f"-{name}-virtual" in chart.subtitle for name in ("seglist", "tlsf"))
        assert not chart.badges
        assert any(axis.title.text for axis in plotted(chart).select_xaxes())
    assert cycles_by_probes(frag) is None and cycles_by_size(frag) is None


CALLS = {"empty": 0, "timer_start": 7, "heap_stats": 9}
ROUNDS = 40
WAITED = 100


@pytest.fixture
def swept(tmp_path: Path) -> Series:
    """A sweep: one stimulus per operation, answered after WAITED samples, plus one a round."""
    once = [Operation("A", 120, 2, 400, label="allocate"), Operation("F", 120, 0, 190, label="free")]
    once += [Operation("K", number, 0, 200, label=name) for name, number in CALLS.items()]
    operations = once * ROUNDS
    changes = {"stimulus": {"mode": "sweep", "period_ticks": 0, "control_period_ticks": 0, "parameter": 0}}
    run = write_run(tmp_path, "kernel_masking", "tlsf", operations, changes=changes)
    started = pl.read_parquet(run / "operations.parquet")["start_sample"].to_numpy()
    stimulus = started + 30
    answer = stimulus + WAITED + np.repeat(np.arange(ROUNDS), len(once))
    inside = np.ones(len(operations), dtype=bool)
    rows = interrupt_rows(False, stimulus, answer, np.arange(len(operations)), inside)
    rows.write_parquet(run / "interrupts.parquet")
    seal(run)
    return by_scenario([load_run(run)])["kernel_masking"][0]


def test_each_call_has_a_bar_of_its_worst_answer(swept: Series) -> None:
    chart = masking_by_call([swept])
    assert chart is not None
    (bars,) = chart.figure.data
    assert list(bars.y) == ["allocate", "free", *CALLS]
    assert list(bars.x) == pytest.approx([(WAITED + ROUNDS - 1) * 1e6 / RATE_HZ] * 5, abs=0.00005)


def test_the_waveform_behind_each_bar_is_kept(swept: Series) -> None:
    # All calls of a round wait equally long, so that no latency names but one of them.
    samples = embed(swept, 1)["samples"]
    assert len(worst_by_call(swept)) == 5
    assert {str(seq) for seq in worst_by_call(swept)["seq"]} <= set(samples)


POINTS = 60_000


def buckets(x: np.ndarray, count: int) -> list[list[int]]:
    """The rows of each bucket, worked out one by one."""
    low, high = min(x), max(x)
    bucket_list: list[list[int]] = [[] for _ in range(count)]
    for row, value in enumerate(x):
        bucket_list[min(int((value - low) / (high - low) * count), count - 1)].append(row)
    return [rows for rows in bucket_list if rows]


@pytest.mark.parametrize("mode", ["lines", "markers"])
def test_every_bucket_keeps_its_greatest_and_its_least(mode: str) -> None:
    random = np.random.default_rng(3)
    x, y = np.sort(random.uniform(0, 1e6, POINTS)), random.pareto(1.5, POINTS)
    figure = go.Figure(go.Scatter(x=x, y=y, mode=mode, customdata=[str(n) for n in range(POINTS)]))
    count_drawn, _ = thin(figure)
    (trace,) = figure.data
    drawn = set(map(int, trace.customdata))
    for rows in buckets(x, COLUMNS):
        assert max(rows, key=lambda row: y[row]) in drawn
        assert min(rows, key=lambda row: y[row]) in drawn
    assert len(trace.x) == len(trace.y) == len(drawn) == count_drawn < POINTS / 2
    # Each point is one of the trace, in its order.
    assert list(trace.customdata) == [str(row) for row in sorted(drawn)]
    assert np.array_equal(trace.y, y[sorted(drawn)])


def test_a_lonely_maximum_among_a_million_is_drawn() -> None:
    y = np.ones(1_000_000)
    y[654_321] = 1.0000001
    figure = go.Figure(go.Scatter(x=np.arange(1_000_000), y=y, mode="lines"))
    thin(figure)
    (trace,) = figure.data
    assert trace.y.max() == y[654_321]
    assert trace.x[trace.y.argmax()] == 654_321
    assert len(trace.x) < 10_000


def test_a_logarithm_has_buckets_of_its_own() -> None:
    figure = go.Figure(go.Scatter(x=np.logspace(0, 6, 20_000), y=np.linspace(1, 9, 20_000), mode="lines"))
    figure.update_xaxes(type="log")
    drawn, _ = thin(figure)
    # Points even on a logarithmic axis fill its buckets evenly, each with its first and last.
    assert drawn > 1.9 * COLUMNS
