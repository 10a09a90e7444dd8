"""The table of the scenario `sizes`, from runs whose cycles are known."""

from __future__ import annotations

import io
from dataclasses import astuple
from pathlib import Path

import pytest
from rich.console import Console

from dashboards.loaded.quantities import by_size
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import Series, by_scenario
from dashboards.terminal import terminal_report
from dashboards.tests.synthetic import Operation, write_run


def of_state(label: str, cycles: dict[int, tuple[int, ...]]) -> list[Operation]:
    """Pairs of allocation and free; a free takes 999 cycles, which no figure here may show."""
    return [
        operation
        for size, each in cycles.items()
        for trial, took in enumerate(each, 1)
        for operation in (
            Operation("A", size, 1, took, label=label, trial=trial),
            Operation("F", size, 0, 999, label=label, trial=trial),
        )
    ]


@pytest.fixture
def series(tmp_path: Path) -> list[Series]:
    operations = [
        *of_state("fresh", {8: (200, 210, 290), 16: (220, 220, 220)}),
        Operation("A", 72, 1, 500, False, "setup"),
        *of_state("fragmented", {8: (840, 800, 870), 16: (220, 440, 330)}),
    ]
    return by_scenario([load_run(write_run(tmp_path, "sizes", "first_fit", operations))])["sizes"]


def test_medians_maxima_and_ratios_are_those_of_the_allocations(series: list[Series]) -> None:
    first, second = by_size(series[0].run)
    # The synthetic run's DWT is off by a cycle now and then.
    assert astuple(first) == pytest.approx((8, 210, 290, 840, 870), abs=1)
    assert astuple(second) == pytest.approx((16, 220, 220, 330, 440), abs=1)
    assert first.ratios == pytest.approx((4, 3), rel=0.01)
    assert second.ratios == pytest.approx((1.5, 2), rel=0.01)


def test_the_terminal_has_a_row_for_each_size(series: list[Series]) -> None:
    console = Console(file=io.StringIO(), width=100, color_system=None)
    console.print(terminal_report([series[0].run]))
    assert isinstance(console.file, io.StringIO)
    lines = [line.split() for line in console.file.getvalue().splitlines()]
    rows = [line for line in lines if line[:1] == ["first_fit"] and len(line) == 8]
    assert [row[1] for row in rows] == ["8", "16"]
    assert [float(word) for word in rows[0][2:]] == pytest.approx([210, 290, 840, 870, 4, 3], abs=1)
    assert [float(word) for word in rows[1][6:]] == pytest.approx([1.5, 2], rel=0.02)
