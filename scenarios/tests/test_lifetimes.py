"""The thesis's synthetic traces: their rules, and the peaks that its tables have."""

from __future__ import annotations

from statistics import median

import pytest

from scenarios import catalogue
from scenarios.operations import Allocate, Free

PUBLISHED_PEAK_BYTES = {"small": 5777, "large": 33923, "random": 37061, "typical": 4972}
MOST_LIVE = {"small": 35, "large": 3, "random": 10, "typical": 15}


def peaks(name: str, seed: int) -> tuple[int, int]:
    """Most bytes and most blocks that are live at a time."""
    live: dict[int, int] = {}
    most = most_blocks = 0
    for step in catalogue.load(f"lifetimes_{name}", seed=seed).generator.steps():
        operation = step.operation
        if isinstance(operation, Allocate):
            live[operation.id] = operation.size
            most = max(most, sum(live.values()))
            most_blocks = max(most_blocks, len(live))
        elif isinstance(operation, Free):
            del live[operation.id]
    assert not live
    return most, most_blocks


@pytest.mark.parametrize("name", PUBLISHED_PEAK_BYTES)
def test_the_published_peak_is_one_that_a_seed_may_give(name: str) -> None:
    results = [peaks(name, seed) for seed in range(1, 25)]
    bytes_at_peak = [most for most, _ in results]
    assert min(bytes_at_peak) < PUBLISHED_PEAK_BYTES[name] < max(bytes_at_peak)
    assert median(bytes_at_peak) == pytest.approx(PUBLISHED_PEAK_BYTES[name], rel=0.08)
    assert max(blocks for _, blocks in results) <= MOST_LIVE[name]


def test_a_block_lives_as_many_allocations_as_were_drawn_and_one_at_least() -> None:
    overrides = {"allocations": 400, "ttl_max": 5}
    lives: dict[int, int] = {}
    lengths: list[int] = []
    number = 0
    last: list[int] = []
    for step in catalogue.load("lifetimes_random", overrides).generator.steps():
        operation = step.operation
        if isinstance(operation, Allocate):
            lives[operation.id], last = number, []
            number += 1
        elif isinstance(operation, Free):
            last.append(lives[operation.id])
            assert number == 400 or last == sorted(last)
            lengths.append(number - lives[operation.id])
    assert set(lengths[: 400 - 5]) == {1, 2, 3, 4, 5}
    # A draw of 0 and a draw of 1 both live for one allocation.
    assert lengths.count(1) == pytest.approx(400 / 3, rel=0.3)
