"""Answers that come before their cause, and swept edges that are off their offset."""

from __future__ import annotations

import pytest

from capture.tests.evidence import evidence_of
from capture.tests.synthetic import BIT, SyntheticRun, small_plan, small_sweep
from capture.verdict.verdict import judge


def moved(run: SyntheticRun, channel: str, number: int, by_cycles: int) -> SyntheticRun:
    """The run with an edge of the channel elsewhere, counted among those of its stimuli's time."""
    first = run.stimuli[0][0]
    places = [at for at, (cycle, bit) in enumerate(run.toggles) if bit == BIT[channel] and cycle >= first]
    at = sorted(places, key=lambda place: run.toggles[place][0])[number]
    run.toggles[at] = (run.toggles[at][0] + by_cycles, BIT[channel])
    return run


def test_a_task_that_wakes_before_its_interrupt_is_told() -> None:
    run = SyntheticRun(small_plan())
    stimulus, answer = run.stimuli[10]
    (rise,) = [cycle for cycle, bit in run.toggles if bit == BIT["TASK"] and answer < cycle < answer + 400]
    run.toggles[run.toggles.index((rise, BIT["TASK"]))] = (stimulus - 1000, BIT["TASK"])
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


def test_an_interrupt_that_holds_up_sync_excuses_the_edge() -> None:
    """SYNC comes late, so the edge seems early; CISR shows why."""
    run = SyntheticRun(small_sweep())
    swept = next(truth for truth in run.truths if truth.seq == 6)
    begin = max(cycle for cycle, bit in run.toggles if bit == BIT["SYNC"] and cycle <= swept.start)
    late = begin + 30
    run.toggles[run.toggles.index((begin, BIT["SYNC"]))] = (late, BIT["SYNC"])
    assert [reason for reason in judge(evidence_of(run))[1] if "off its offset" in reason]
    run.toggles += [(late - 25, BIT["CISR"]), (late - 5, BIT["CISR"])]
    assert not [reason for reason in judge(evidence_of(run))[1] if "off its offset" in reason]
