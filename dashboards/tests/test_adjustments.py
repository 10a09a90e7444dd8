"""What a report does to samples when asked, counted once more from the files."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from base.run_folder.quantities import CONTROL, CRITICAL, DWT_CYCLES, LATENCY, PROBES, TASK
from dashboards.loaded.adjustments import Adjustments, adjusted
from dashboards.loaded.quantities import samples
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series
from dashboards.report import write_report
from dashboards.tests.synthetic import (
    EMPTY_CYCLES,
    ENTRY_CLEAR,
    ENTRY_CONTROL,
    RATE_HZ,
    mem_stress,
    write_run,
)

SAMPLE_NS = 1e9 / RATE_HZ
STATISTICS = ("median", "p90", "p99", "max")


@pytest.fixture
def run(stress: list[Series]) -> LoadedRun:
    return stress[0].run


def test_ticks_are_left_out_and_counted(run: LoadedRun) -> None:
    shown = adjusted(run, Adjustments(without_ticks=True))
    stimuli = pl.read_parquet(run.folder / "interrupts.parquet")
    series = stimuli.filter(~pl.col("control") & ~pl.col("tick"))["isr_latency_ns"]
    assert shown.summary(LATENCY).n == len(series) < run.summary(LATENCY).n
    assert shown.summary(LATENCY).max == series.max()
    assert shown.summary(LATENCY).median == series.sort()[(len(series) - 1) // 2]
    assert samples(shown, LATENCY)["isr_latency_ns"].sort().equals(series.sort())
    both = ~pl.col("control") & ~pl.col("tick") & ~pl.col("task_tick")
    assert shown.summary(TASK).n == len(stimuli.filter(both))
    answers, wakes = stimuli["tick"].sum(), stimuli["task_tick"].sum()
    assert shown.adjustments == (
        f"{answers:,} answers and {wakes:,} task wakes that a tick may have delayed are left out.",
    )
    assert len(shown.interrupts) == len(stimuli)
    assert shown.summary(CRITICAL) == run.summary(CRITICAL)
    low, high = shown.intervals(LATENCY)["median"]
    assert low <= series.sort()[(len(series) - 1) // 2] <= high


@pytest.mark.parametrize(
    ("quantity", "baseline"),
    [
        (CRITICAL, EMPTY_CYCLES * SAMPLE_NS),
        (DWT_CYCLES, EMPTY_CYCLES),
        (LATENCY, ENTRY_CLEAR * SAMPLE_NS),
        (CONTROL, ENTRY_CONTROL * SAMPLE_NS),
        (TASK, (ENTRY_CLEAR + 300) * SAMPLE_NS),
        (PROBES, 0),
    ],
)
def test_a_baseline_is_taken_off_everything_or_nothing(run: LoadedRun, quantity, baseline: float) -> None:  # type: ignore[no-untyped-def]
    shown = adjusted(run, Adjustments(subtract_baseline=True))
    before, after = run.summary(quantity), shown.summary(quantity)
    assert after.n == before.n
    for name in STATISTICS:
        if getattr(before, name) is not None:
            assert getattr(after, name) == pytest.approx(getattr(before, name) - baseline)
    factor = 2 if baseline else 1
    budget = run.budget(quantity)
    assert budget is not None and shown.budget(quantity) == factor * budget
    assert shown.budget(quantity, "overhead") is None
    rows, shown_rows = samples(run, quantity)[quantity.column], samples(shown, quantity)[quantity.column]
    assert shown_rows.to_list() == pytest.approx([value - baseline for value in rows.to_list()])
    ends = run.intervals(quantity)["median"]
    assert shown.intervals(quantity)["median"] == pytest.approx([end - baseline for end in ends])


def test_the_report_says_what_was_done(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "mem_stress", "tlsf", mem_stress("tlsf", 300))
    both = Adjustments(subtract_baseline=True, without_ticks=True)
    page = write_report([folder], tmp_path / "report.html", both).read_text(encoding="utf-8")
    plain = write_report([folder], tmp_path / "plain.html").read_text(encoding="utf-8")
    figures = page.count("<figure>")
    for words in ("baseline is subtracted", "a tick may have delayed are left out"):
        assert page.count(words) > figures > 3
        assert words not in plain
