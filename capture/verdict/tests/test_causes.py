"""Answers that come before their cause, and swept edges that are off their offset."""

from __future__ import annotations

import pytest

from capture.tests.evidence import evidence_of
from capture.tests.synthetic import SyntheticRun, small_plan, small_sweep
from capture.verdict.verdict import judge


def moved(run: SyntheticRun, channel: str, number: int, by_cycles: int) -> SyntheticRun:
    """The run with an edge of the channel elsewhere, counted among those of its stimuli's time."""
    edges = [cycle for cycle in run.edges_of(channel) if cycle >= run.stimuli[0][0]]
    run.move(channel, edges[number], by_cycles)
    return run


def test_a_task_that_wakes_before_its_interrupt_is_told() -> None:
    run = SyntheticRun(small_plan())
    stimulus, answer = run.stimuli[10]
    (rise,) = [cycle for cycle in run.edges_of("TASK") if answer < cycle < answer + 400]
    run.move("TASK", rise, stimulus - 1000 - rise)
    verdict, reasons = judge(evidence_of(run))
    assert verdict == "inconclusive"
    assert [reason for reason in reasons if "ISR shows nothing that it could answer (1 of" in reason], reasons


@pytest.mark.parametrize("samplerate_hz", [24_000_000, 84_000_000, 200_000_000])
@pytest.mark.parametrize("by_cycles", [-40, 40])
def test_a_swept_edge_off_its_offset_is_told(samplerate_hz: int, by_cycles: int) -> None:
    run = SyntheticRun(small_sweep())
    assert judge(evidence_of(run, samplerate_hz)) == ("complete", ())
    verdict, reasons = judge(evidence_of(moved(run, "STIM", 7, by_cycles), samplerate_hz))
    assert verdict == "inconclusive"
    mentions = [reason for reason in reasons if "samples off its offset from operation" in reason]
    assert len(mentions) == 1
    assert f"{40 * samplerate_hz / 84e6:.0f}"[:1] in mentions[0]
