"""When two runs are told apart, and which runs share a lane."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from base.files import results
from dashboards.loaded.lanes import PLACED, lanes
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import Series, by_scenario
from dashboards.tests.synthetic import mem_frag, write_run


def test_placement_counts_as_much_as_the_widest_measured_row() -> None:
    rows = [[float(cell) for cell in cells] for _, *cells in results.read("placements")]
    for accelerated, column in ((True, 1), (False, 5)):
        ratio = max(row[column + 1] / row[column] for row in rows)
        assert 1.05 < ratio <= PLACED[accelerated] < ratio + 0.05


def run(folder: Path, allocator: str, wait_ns: float, **changed: object) -> Series:
    """A run whose longest possible wait is `wait_ns`, ±10 ns."""
    wait = {"of": "interrupt_latency_ns", "by": "section", "entry_ns": 500.0, "entry_n": 10, "open": False}
    changes = {"possible_wait": wait | {"ns": wait_ns, "budget_ns": 10.0}} | changed
    written = write_run(folder, "mem_frag", allocator, mem_frag(allocator, depths=4), changes=changes)
    (series,) = by_scenario([load_run(written)])["mem_frag"]
    return series


@pytest.mark.parametrize(
    ("less_ns", "tie"), [(10_000.0, True), (9_091.0, True), (9_090.0, False), (5_000.0, False)]
)
def test_what_placement_can_do_alone_is_a_tie(tmp_path: Path, less_ns: float, tie: bool) -> None:
    """10,000 over 1.10 is 9,090.9."""
    series = [run(tmp_path / "a", "tlsf", 10_000.0), run(tmp_path / "b", "seglist", less_ns)]
    (lane,) = lanes(series)
    assert [waiter.possible_ns for waiter in lane.waiters] == [10_000.0, less_ns]
    assert bool(lane.alike) == tie


def test_repeats_of_a_setting_are_pooled_and_the_longest_stands_for_them(tmp_path: Path) -> None:
    waits = (4_000.0, 6_000.0, 5_000.0)
    series = [run(tmp_path / f"{number}", "tlsf", ns) for number, ns in enumerate(waits)]
    (lane,) = lanes([*series, run(tmp_path / "other", "seglist", 7_000.0)])
    assert [(waiter.possible_ns, waiter.repeats) for waiter in lane.waiters] == [(7_000.0, 1), (6_000.0, 3)]


@pytest.mark.parametrize("changed", [{"parameters": {"depth": 8}}, {"seed": 7}])
def test_runs_of_other_work_are_in_no_order(tmp_path: Path, changed: dict[str, Any]) -> None:
    ordering = lanes(
        [run(tmp_path / "a", "tlsf", 4_000.0), run(tmp_path / "b", "seglist", 9_000.0, **changed)]
    )
    assert [[waiter.possible_ns for waiter in lane.waiters] for lane in ordering] == [[4_000.0], [9_000.0]]


def test_a_parameter_with_the_name_of_an_option_is_told_as_a_parameter(tmp_path: Path) -> None:
    series = [
        run(tmp_path / samplerate, "tlsf", 4_000.0, parameters={"samplerate": samplerate, "stimulus": "far"})
        for samplerate in ("slow", "fast")
    ]
    assert [lane.work for lane in lanes(series)] == [" (samplerate slow)", " (samplerate fast)"]
