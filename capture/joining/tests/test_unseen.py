"""An edge that is moved by more than a run calls unseen is told."""

from __future__ import annotations

import numpy as np
import pytest

from base.run_folder.quantities import QUANTITIES
from capture.joining.evidence import Evidence
from capture.joining.unseen import rank_ns
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import BIT, CORE_HZ, SyntheticRun, small_plan
from capture.verdict.verdict import judge

CYCLE_NS = 1e9 / CORE_HZ


def moved(channel: str, cycle: int, by_cycles: int) -> Evidence:
    run = SyntheticRun(small_plan())
    run.move(channel, cycle, by_cycles)
    return evidence_of(run)


def longest_answer() -> int:
    """When the handler of the longest latency that met an operation raised its pin."""
    run = SyntheticRun(small_plan())
    met = [(answer - stimulus, answer) for stimulus, answer in run.stimuli if run.met(answer) is not None]
    return max(met)[1]


def longest_section() -> int:
    """When the longest critical section ended."""
    run = SyntheticRun(small_plan())
    longest = max(run.truths, key=lambda truth: truth.critical_cycles)
    return min(cycle for cycle, bit in run.toggles if bit == BIT["CRIT"] and cycle > longest.critical_start)


@pytest.mark.parametrize(
    ("key", "channel", "cycle"),
    [("interrupt_latency_ns", "ISR", longest_answer()), ("critical_ns", "CRIT", longest_section())],
)
def test_what_is_moved_by_more_is_told(key: str, channel: str, cycle: int) -> None:
    unseen_ns = moved(channel, cycle, 0).budgets[key].unseen_ns
    assert unseen_ns is not None
    unseen_cycles = int(unseen_ns / CYCLE_NS)
    assert 1 <= unseen_cycles <= 10
    assert judge(moved(channel, cycle, 0))[0] == "complete"
    for by_cycles in (unseen_cycles + 1, -unseen_cycles - 1, 50, -50):
        assert judge(moved(channel, cycle, by_cycles))[0] == "inconclusive", by_cycles


def test_twice_what_wire_and_dwt_may_differ_by_is_unseen() -> None:
    """At the core clock that is a cycle and a little for the clock. An edge one cycle off to one
    side may go two to the other, and no third.
    """
    unseen_ns = moved("CRIT", longest_section(), 0).budgets["critical_ns"].unseen_ns
    assert unseen_ns is not None
    assert 2 <= unseen_ns / CYCLE_NS < 3


@pytest.mark.parametrize(
    ("values", "step"),
    [([7.0], 0.0), ([1.0, 4.0], 3.0), ([9.0, 1.0, 3.0], 6.0), ([*range(100), 500.0, 900.0], 401.0)],
)
def test_a_percentile_may_shift_by_the_step_to_the_sample_beside_it(values: list[float], step: float) -> None:
    """Of 102 samples the 99th percentile is the 101st, 500: 401 beyond that before it."""
    latency = next(quantity for quantity in QUANTITIES if quantity.key == "interrupt_latency_ns")
    section = next(quantity for quantity in QUANTITIES if quantity.key == "critical_ns")
    assert rank_ns(latency, np.array(values)) == step
    assert rank_ns(section, np.array(values)) == 0.0
