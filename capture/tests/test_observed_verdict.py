"""The verdict of a run from the wire alone: each rule has its fault, and a healthy run none."""

from __future__ import annotations

import re
from pathlib import Path

from base.run_folder.edges import EdgeList
from base.run_folder.manifest import ToolReport
from capture.acquisition.keeper import Keeper, Keeping
from capture.reading.observed import of_windows, read_observed
from capture.summary.observed import Seen, judge
from capture.tests.test_observed import framed
from capture.tests.waveform import Waveform
from tests.tables import table

PINS = {"CRIT": "PA8", "STIM": "PA0", "ISR": "PA10", "SYNC": "PB4"}


def report(edges: EdgeList, **fields: object) -> ToolReport:
    return ToolReport.model_validate({"asked_samples": edges.total_samples, **fields})


def both(edges: EdgeList, tools: ToolReport) -> tuple[Seen, Seen]:
    """The capture, whole, and of which windows were kept."""
    keeper = Keeper(Path("nowhere"), edges.samplerate_hz, edges.channels, tools.asked_samples, Keeping(2, 9))
    keeper.append(edges.sample, edges.word, edges.total_samples)
    keeper.close()
    return Seen(tools, PINS, read_observed(edges, framed=False)), Seen(tools, PINS, of_windows(keeper.kept))


@table
def test_a_capture_and_its_windows_get_one_verdict(
    pulses: str, fields: dict[str, object], verdict: str, words: str | None
) -> None:
    wave = Waveform(900, channels=("CRIT", "STIM", "ISR"))
    for channel, begin, end in re.findall(r"(\w+) (\d+)-(\d+)", pulses):
        wave.pulse(channel, int(begin), int(end))
    for seen in both(wave.edges(), report(wave.edges(), **fields)):
        told(seen, verdict, words)


def told(seen: Seen, verdict: str, words: str | None) -> None:
    assert judge(seen)[0] == verdict
    assert len(judge(seen)[1]) == (words is not None)
    assert all(str(words) in reason for reason in judge(seen)[1])


@table
def test_a_pulse_that_the_end_cuts_off(channel: str, toggles: tuple[int, ...], words: str | None) -> None:
    edges = Waveform(1000, toggles={channel: [*toggles]}, channels=(channel,)).edges()
    for seen in both(edges, report(edges)):
        told(seen, "inconclusive" if words else "complete", words)


@table
def test_one_frame_is_a_part_of_a_run(of_frames: dict[str, bool], words: str | None) -> None:
    edges = framed(**of_frames)
    told(Seen(report(edges), PINS, read_observed(edges)), "truncated" if words else "complete", words)
