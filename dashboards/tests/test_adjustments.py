"""What a report does to samples only when asked: counted once more, from the files as they were written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from dashboards.adjustments import AS_MEASURED, Adjustments, adjusted
from dashboards.manifest import RunError
from dashboards.quantities import CONTROL, CRITICAL, DWT_CYCLES, LATENCY, PROBES, TASK, samples
from dashboards.report import write_report
from dashboards.runs import LoadedRun, load_run
from dashboards.series import Series
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


def test_nothing_is_done_unasked(run: LoadedRun) -> None:
    assert adjusted(run, AS_MEASURED) is run


def test_ticks_are_left_out_and_counted(run: LoadedRun) -> None:
    shown = adjusted(run, Adjustments(without_ticks=True))
    stimuli = pl.read_parquet(run.folder / "interrupts.parquet")
    kept = stimuli.filter(~pl.col("control") & ~pl.col("tick"))["isr_latency_ns"]
    assert LATENCY.summary(shown).n == len(kept) < LATENCY.summary(run).n
    assert LATENCY.summary(shown).max == kept.max()
    assert LATENCY.summary(shown).median == kept.sort()[(len(kept) - 1) // 2]
    assert samples(shown, LATENCY)["isr_latency_ns"].sort().equals(kept.sort())
    both = ~pl.col("control") & ~pl.col("tick") & ~pl.col("task_tick")
    assert TASK.summary(shown).n == len(stimuli.filter(both))
    answers, wakes = stimuli["tick"].sum(), stimuli["task_tick"].sum()
    assert shown.treatment == (
        f"{answers:,} answers and {wakes:,} task wakes that a tick may have delayed are left out.",
    )
    assert len(shown.interrupts) == len(stimuli)
    assert CRITICAL.summary(shown) == CRITICAL.summary(run)
    low, high = shown.manifest.certainty.intervals["interrupt_latency_ns"]["median"]
    assert low <= kept.sort()[(len(kept) - 1) // 2] <= high


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
    before, after = quantity.summary(run), quantity.summary(shown)
    assert after.n == before.n
    for name in STATISTICS:
        if getattr(before, name) is not None:
            assert getattr(after, name) == pytest.approx(getattr(before, name) - baseline)
    factor = 2 if baseline else 1
    budgets = run.manifest.certainty.budgets
    assert shown.manifest.certainty.budgets[quantity.key] == factor * budgets[quantity.key]
    assert not shown.manifest.certainty.overheads
    rows, shown_rows = samples(run, quantity)[quantity.column], samples(shown, quantity)[quantity.column]
    assert shown_rows.to_list() == pytest.approx([value - baseline for value in rows.to_list()])
    ends = run.manifest.certainty.intervals[quantity.key]["median"]
    assert shown.manifest.certainty.intervals[quantity.key]["median"] == pytest.approx(
        [end - baseline for end in ends]
    )


def test_the_report_says_what_was_done(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "mem_stress", "tlsf", mem_stress("tlsf", 300))
    both = Adjustments(subtract_baseline=True, without_ticks=True)
    page = write_report([folder], tmp_path / "report.html", both).read_text(encoding="utf-8")
    plain = write_report([folder], tmp_path / "plain.html").read_text(encoding="utf-8")
    figures = page.count("<figure>")
    for words in ("baseline is subtracted", "a tick may have delayed are left out"):
        assert page.count(words) > figures > 3
        assert words not in plain


def test_an_older_run_has_nothing_to_take_off(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "mem_stress", "tlsf", mem_stress("tlsf", 50))
    path = folder / "interrupts.parquet"
    pl.read_parquet(path).drop("tick", "task_tick", "tick_phase_cycles").write_parquet(path)
    run = load_run(folder)
    run = replace(
        run, manifest=replace(run.manifest, certainty=replace(run.manifest.certainty, baselines={}))
    )
    shown = adjusted(run, Adjustments(True, True))
    assert LATENCY.summary(shown) == LATENCY.summary(run)
    assert all("nothing is" in words for words in shown.treatment) and len(shown.treatment) == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"error_budget": {"critical_ns": {"total": {"ns": "much", "cycles": 1}}}},
        {"intervals": {"confidence": 0.95, "refused": None, "of": {"critical_ns": {"median": [1]}}}},
        {"intervals": {"confidence": 0.95, "refused": None, "of": {"critical_ns": {"median": [1, None]}}}},
        {"baselines": {"critical_ns": {"value": True}}},
        {"baselines": []},
    ],
)
def test_a_damaged_statement_is_refused_with_a_sentence(tmp_path: Path, changes: dict[str, object]) -> None:
    folder = write_run(tmp_path, "mem_stress", "tlsf", mem_stress("tlsf", 20), changes=changes)
    with pytest.raises(RunError, match="restore the file or decode the run again"):
        load_run(folder)


def test_a_run_without_the_statements_is_shown(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "mem_stress", "tlsf", mem_stress("tlsf", 20))
    text = (folder / "run.json").read_text(encoding="utf-8")
    for key in ("error_budget", "intervals", "baselines"):
        text = text.replace(f'"{key}"', f'"{key}_of_another_version"')
    (folder / "run.json").write_text(text, encoding="utf-8")
    certainty = load_run(folder).manifest.certainty
    assert not certainty.budgets and not certainty.intervals and not certainty.baselines
    assert "±" not in write_report([folder], tmp_path / "r.html").read_text(encoding="utf-8").split("<td")[5]
