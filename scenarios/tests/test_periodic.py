"""The periodic tasks: releases, memory of a period, stays, and what is refused."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

import pytest

from scenarios import catalogue
from scenarios.operations import Allocate, Free
from scenarios.parameters import Value

TESTS = ("periodic_huge", "periodic_small", "periodic_hybrid")
ONE_TASK: dict[str, Value] = {
    "tasks": 1,
    "ticks": 100,
    "period_min_ticks": 10,
    "period_max_ticks": 10,
    "memory_min_bytes": 1000,
    "memory_max_bytes": 1000,
    "stay_min_periods": 3,
    "stay_max_periods": 3,
    "small_min_bytes": 300,
    "small_max_bytes": 300,
}


def operations(overrides: dict[str, Value]) -> list[Allocate | Free]:
    steps = catalogue.load("periodic_small", overrides).generator.steps()
    return [step.operation for step in steps if isinstance(step.operation, Allocate | Free)]


def test_a_task_allocates_at_each_release_what_its_memory_holds() -> None:
    """100 ticks of a period of 10 are 10 releases; 1,000 bytes hold three blocks of 300."""
    listed = operations(ONE_TASK)
    assert sum(isinstance(operation, Allocate) for operation in listed) == 10 * 3
    assert sum(isinstance(operation, Free) for operation in listed) == 10 * 3


def test_a_block_stays_for_one_to_h_periods() -> None:
    """Of 3,000 releases, three blocks each: stays of 1, 2 and 3 are a third each."""
    born: dict[int, int] = {}
    stays: defaultdict[int, int] = defaultdict(int)
    allocated = 0
    for operation in operations({**ONE_TASK, "ticks": 30_000}):
        release = allocated // 3  # frees come before the three allocations of their release
        if isinstance(operation, Allocate):
            born[operation.id] = release
            allocated += 1
        elif release < 3000:
            stays[release - born.pop(operation.id)] += 1
    assert set(stays) == {1, 2, 3}
    for share in stays.values():
        assert share / sum(stays.values()) == pytest.approx(1 / 3, abs=0.02)


def test_no_release_passes_the_memory_of_its_period() -> None:
    overrides = {**ONE_TASK, "small_min_bytes": 8, "small_max_bytes": 128, "stay_min_periods": 1}
    total, sums = 0, []
    for operation in operations({**overrides, "stay_max_periods": 1}):
        if isinstance(operation, Free) and total:
            sums.append(total)
            total = 0
        elif isinstance(operation, Allocate):
            total += operation.size
    assert len(sums) == 10
    # The block that would have passed it has 128 bytes at most.
    assert all(1000 - 128 < each <= 1000 for each in sums)


@pytest.mark.parametrize("name", TESTS)
def test_the_live_bytes_take_about_60_percent_of_the_board_s_heap(name: str) -> None:
    peaks = []
    for seed in range(1, 25):
        live: dict[int, int] = {}
        peak = 0
        for step in catalogue.load(name, seed=seed).generator.steps():
            if isinstance(step.operation, Allocate):
                live[step.operation.id] = step.operation.size
                peak = max(peak, sum(live.values()))
            elif isinstance(step.operation, Free):
                del live[step.operation.id]
        assert not live
        peaks.append(peak)
    assert fmean(peaks) == pytest.approx(0.6 * 65_536, rel=0.15)
