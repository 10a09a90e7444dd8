"""Calls of the kernel: their figure, and what a click on one of them shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from dashboards.figures.interrupts import masking_by_call, worst_by_call
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import Series, by_scenario
from dashboards.page.embedded import embed
from dashboards.tests.as_plotly import as_plotly
from dashboards.tests.synthetic import RATE_HZ, Operation, interrupt_rows, write_run
from tests.run_folders import seal

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
    (bars,) = as_plotly(chart.figure).data
    assert list(bars.y) == ["allocate", "free", *CALLS]
    assert list(bars.x) == pytest.approx([(WAITED + ROUNDS - 1) * 1e6 / RATE_HZ] * 5, abs=0.00005)


def test_the_waveform_behind_each_bar_is_kept(swept: Series) -> None:
    # All calls of a round wait equally long, so that no latency names but one of them.
    samples = embed(swept, 1)["samples"]
    assert len(worst_by_call(swept)) == 5
    assert {str(seq) for seq in worst_by_call(swept)["seq"]} <= set(samples)
