"""Bounds beside what a run showed, against the cycles that it was made from."""

from __future__ import annotations

import json

import pytest

from base.run_folder.manifest import SectionBound
from capture.summary.figures import compare_bounds, exceeded_bounds
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import CORE_HZ, CRITICAL_COST, SyntheticRun
from scenarios.generator import Step
from scenarios.operations import Allocate, Free
from scenarios.plan import compile_steps
from scenarios.stimulus import Stimulus

# Names as run.json has them, read and not written here.
PLAIN, ALIGNED, FREE = json.loads('["allocate", "allocate_aligned", "free"]')


@pytest.fixture
def run() -> SyntheticRun:
    """Twelve times a plain block, an aligned one, and the free of either."""
    steps = [
        Step(operation)
        for _ in range(12)
        for operation in (Allocate(0, 40), Allocate(1, 40, align_log2=6), Free(0), Free(1))
    ]
    return SyntheticRun(compile_steps("aligned", {}, Stimulus("periodic", 5003, 7919), steps))


def longest(run: SyntheticRun, places: tuple[int, ...]) -> int:
    """Of the operations at these places of each four, but those that a control interrupt met."""
    return max(
        truth.critical_cycles
        for truth in run.truths
        if truth.seq % 4 in places
        and not any(
            0 <= answer - truth.critical_start < truth.critical_cycles + CRITICAL_COST
            for _, answer in run.controls
        )
    )


def bound(cycles: int | None) -> SectionBound:
    return SectionBound(instructions=9, cycles=cycles, region_decided=True, why_not=None)


def test_each_bound_stands_beside_the_longest_section_of_its_name(run: SyntheticRun) -> None:
    due = {PLAIN: longest(run, (0,)), ALIGNED: longest(run, (1,)), FREE: longest(run, (2, 3))}
    assert len(set(due.values())) == 3
    bounds = compare_bounds({name: bound(8400) for name in due}, evidence_of(run))
    for name, cycles in due.items():
        assert bounds[name]["observed_cycles"] == cycles, name
        assert bounds[name]["ratio"] == pytest.approx(8400 / cycles)
        assert bounds[name]["ns"] == pytest.approx(8400e9 / CORE_HZ)
        assert bounds[name]["cycles"] == 8400


def test_a_bound_is_refuted_by_one_cycle_more(run: SyntheticRun) -> None:
    cycles = longest(run, (0,))
    evidence = evidence_of(run)
    assert exceeded_bounds(compare_bounds({PLAIN: bound(cycles), FREE: bound(None)}, evidence)) == []
    (sentence,) = exceeded_bounds(compare_bounds({PLAIN: bound(cycles - 1)}, evidence))
    assert f"took {cycles:,} cycles, more than its bound of {cycles - 1:,} (allocate)" in sentence
