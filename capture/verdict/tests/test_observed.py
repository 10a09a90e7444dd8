"""The verdict of a run from the wire alone: each rule has its fault, and a healthy run none."""

from __future__ import annotations

import pytest

from base.run_folder.edges import EdgeList
from base.run_folder.manifest import ToolReport
from capture.reading.observed import read_observed
from capture.reading.tests.test_observed import framed
from capture.reading.tests.waveform import Waveform
from capture.verdict.observed import Seen, judge, warnings

PINS = {"CRIT": "PA8", "STIM": "PA0", "ISR": "PA10", "SYNC": "PB4"}


def seen(edges: EdgeList, **fields: object) -> Seen:
    report = ToolReport.model_validate({"asked_samples": edges.total_samples, **fields})
    return Seen(report, PINS, read_observed(edges))


def wire(channel: str, *samples: int, initially: int = 0) -> EdgeList:
    toggles = [*([0] if initially else []), *samples]
    return Waveform(1000, toggles={channel: toggles}, channels=(channel,)).edges()


def test_frames_and_all_samples_are_complete() -> None:
    assert judge(seen(framed())) == ("complete", ())


def test_without_frames_the_count_of_the_samples_decides() -> None:
    edges = wire("CRIT", 100, 200)
    assert judge(seen(edges)) == ("complete", ())
    verdict, reasons = judge(seen(edges, asked_samples=1001))
    assert verdict == "truncated" and reasons == (
        "The analyzer delivered 1000 of 1001 samples; run again, slower if it recurs.",
    )


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (framed(end=False), "SYNC (PB4) shows a start frame and no end frame"),
        (framed(begin=False), "SYNC (PB4) shows an end frame and no start frame"),
    ],
)
def test_one_frame_is_a_part_of_a_run(edges: EdgeList, words: str) -> None:
    verdict, reasons = judge(seen(edges))
    assert verdict == "truncated" and len(reasons) == 1
    assert words in reasons[0]


def test_what_the_tools_lost_or_said_is_a_reason() -> None:
    edges = wire("CRIT", 100, 200)
    assert judge(seen(edges, losses=("It hung.",))) == ("truncated", ("It hung.",))
    assert judge(seen(edges, oddities=("It spoke.",))) == ("inconclusive", ("It spoke.",))
    assert judge(seen(edges, interrupted=True))[0] == "truncated"


@pytest.mark.parametrize(("initially", "level"), [(0, "low"), (1, "high")])
def test_a_channel_without_an_edge_is_a_reason(initially: int, level: str) -> None:
    verdict, (reason,) = judge(seen(wire("ISR", initially=initially)))
    assert verdict == "inconclusive"
    assert reason.startswith(f"ISR (PA10) shows no edge in 1.19048e-05 s, it is {level} throughout; check")


def test_a_level_that_never_changes_back_is_a_reason() -> None:
    verdict, (reason,) = judge(seen(wire("CRIT", 100, 300, 500)))
    assert verdict == "inconclusive"
    assert "CRIT (PA8) rises at 5.95238e-06 s and does not fall again by the end" in reason


def test_a_pulse_that_the_end_cuts_off_is_none_where_whole_ones_are_longer() -> None:
    assert judge(seen(wire("CRIT", 100, 700, 900)))[0] == "complete"


def test_missed_stimuli_are_warned_of() -> None:
    wave = Waveform(1000)
    wave.toggle("STIM", 100, 300)
    wave.pulse("ISR", 340, 350)
    first, to_task = warnings(seen(wave.edges()))
    assert first.startswith("1 stimuli of STIM to ISR came while an earlier one waited")
    assert to_task.startswith("1 stimuli of STIM to TASK")


def test_pulses_of_a_single_sample_are_a_reason() -> None:
    assert judge(seen(wire("ISR", 340, 342)))[0] == "complete"
    verdict, (reason,) = judge(seen(wire("ISR", 100, 200, 340, 341)))
    assert verdict == "inconclusive"
    assert reason.startswith("ISR (PA10) has pulses of a single sample, 11.9 ns: shorter ones are not seen")
