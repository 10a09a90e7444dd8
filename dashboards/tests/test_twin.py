"""The page of a board and its twin: what it says, and how it looks in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.twin.comparison import Comparison, compare
from analysis.twin.tests.made import made_run
from dashboards import twin
from dashboards.tests.browser import assert_draws
from scenarios import catalogue


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """A board whose accelerator is off, and whose clock is slow."""
    plan = catalogue.load("mem_frag", {"depth": 8}).compile()
    return compare(made_run(tmp_path_factory.mktemp("runs"), plan, flash_acr=0x002, ppm=120))


def test_the_page_says_the_verdict_and_has_every_table(comparison: Comparison) -> None:
    text = twin.sheet(comparison).html()
    assert comparison.verdict.replace("'", "&#39;") in text
    for table in comparison.tables():
        assert f"<h3>{table.title}</h3>" in text
    assert text == twin.sheet(comparison).html()


def test_every_residual_is_drawn(comparison: Comparison) -> None:
    """Bars count all values; points are one an operation, before and after."""
    cycles, operations, latencies = twin.charts(comparison)
    assert [len(trace.x) for trace in cycles.figure.data] == [72, 72]
    first = comparison.first
    assert sum(len(trace.x) for trace in latencies.figure.data) == sum(
        first.filter(quantity=key).height for key in ("interrupt_latency", "task_latency", "control_latency")
    )
    assert [len(trace.x) for trace in operations.figure.data] == [72, 72]
    assert set(operations.figure.data[1].y) == {0.0}


def test_the_page_draws_its_figures_and_asks_for_nothing(comparison: Comparison, tmp_path: Path) -> None:
    assert_draws(twin.sheet(comparison).write(tmp_path / "twin.html"), 3)
