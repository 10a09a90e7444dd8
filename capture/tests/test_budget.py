from __future__ import annotations

import polars as pl
import pytest

from base.run_folder.quantities import QUANTITIES
from base.run_folder.records import CostRecord, RecordLog
from capture.joining.evidence import Evidence, pin_cost_cycles
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import BIT, CORE_HZ, CRITICAL_COST, SyntheticRun, small_plan
from capture.verdict.verdict import judge
from tests.tables import table

RATES = [(84_000_000, 0), (84_000_000, 80), (24_000_000, 30), (200_000_000, -50)]


@table
def test_wire_and_dwt_may_differ_by_one_sample_at_the_core_clock_and_above(
    samplerate_hz: int, samples: int
) -> None:
    """Below it the marker cost is known to a sample only."""
    evidence = evidence_of(SyntheticRun(small_plan(depth=2)), samplerate_hz)
    assert evidence.agreement_cycles == pytest.approx(samples * CORE_HZ / samplerate_hz, rel=1e-6)


def test_a_pin_costs_the_most_of_its_own_less_the_least_of_a_read() -> None:
    costs = (CostRecord("PIN", 1, 9), CostRecord("READ", 2, 3), CostRecord("TIMER", 1, 99))
    assert pin_cost_cycles(RecordLog(costs)) == 9 - 2
    assert pin_cost_cycles(RecordLog(costs[:1])) is None
    assert pin_cost_cycles(RecordLog(costs[1:])) is None


@pytest.mark.parametrize(("samplerate_hz", "ppm"), RATES)
@pytest.mark.parametrize("skew", [{}, {"ISR": 4, "CISR": -6, "TASK": 9, "CRIT": 5}])
def test_no_value_is_off_by_more_than_its_budget(samplerate_hz: int, ppm: int, skew: dict[str, int]) -> None:
    """The truth is laid down in cycles. Channels are late by `skew`, in run and calibration."""
    run = SyntheticRun(small_plan(), skew=skew)
    run.delay_run(skew)
    evidence = evidence_of(run, samplerate_hz, ppm)
    budgets = evidence.budgets
    stimuli = evidence.joined.interrupts.filter(~pl.col("control"))
    control = evidence.joined.interrupts.filter("control")
    seen = {
        "critical_ns": evidence.joined.operations["wire_critical_ns"].to_list(),
        "interrupt_latency_ns": stimuli["isr_latency_ns"].to_list(),
        "task_latency_ns": stimuli["task_latency_ns"].to_list(),
        "control_latency_ns": control["isr_latency_ns"].to_list(),
    }
    true_cycles = {
        "critical_ns": [truth.critical_cycles + CRITICAL_COST for truth in run.truths],
        "interrupt_latency_ns": [answer - stimulus for stimulus, answer in run.stimuli],
        "task_latency_ns": [answer - stimulus + 300 for stimulus, answer in run.stimuli],
        "control_latency_ns": [answer - stimulus for stimulus, answer in run.controls],
    }
    for key, values in seen.items():
        total_ns = budgets[key].total_ns
        assert total_ns is not None
        apart = [abs(v - c * 1e9 / CORE_HZ) for v, c in zip(values, true_cycles[key], strict=True)]
        assert max(apart) <= total_ns
        # Each channel may be off the other class's, too, and the task's read a cycle sooner.
        of_others = 2 * max(map(abs, skew.values()), default=0) + (key == "task_latency_ns")
        assert total_ns < 3 * 1e9 / samplerate_hz + 12 * 2 * of_others


def test_each_quantity_has_its_terms() -> None:
    run = SyntheticRun(small_plan())
    budgets = evidence_of(run).budgets
    assert set(budgets) == {quantity.key for quantity in QUANTITIES}
    sample_ns = 1e9 / CORE_HZ
    assert budgets["probes"].total_ns == budgets["dwt_cycles"].total_ns == 0
    assert budgets["dwt_cycles"].overhead_ns == pytest.approx(4 * sample_ns)
    assert budgets["critical_ns"].resolution_ns == pytest.approx(sample_ns)
    assert budgets["critical_ns"].skew_ns == 0
    assert budgets["critical_ns"].overhead_ns == pytest.approx((4 + CRITICAL_COST) * sample_ns)
    assert budgets["interrupt_latency_ns"].skew_ns == pytest.approx(sample_ns)
    # PIN took 8 or 9 cycles with a read of 1 or 2: at most 8 by itself.
    assert budgets["interrupt_latency_ns"].overhead_ns == pytest.approx(8 * sample_ns)
    in_cycles = budgets["critical_ns"].as_json(CORE_HZ)["resolution"]
    assert in_cycles == {"ns": pytest.approx(sample_ns), "cycles": pytest.approx(1)}


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
