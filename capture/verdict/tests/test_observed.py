"""The verdict of a run from the wire alone: each rule has its fault, and a healthy run none."""

from __future__ import annotations

from pathlib import Path

import pytest

from base.run_folder.edges import EdgeList
from base.run_folder.manifest import ToolReport
from capture.acquisition.keeper import Keeper, Keeping
from capture.reading.observed import read_observed
from capture.reading.tests.test_observed import framed
from capture.reading.tests.waveform import Waveform
from capture.verdict.observed import Seen, judge

PINS = {"CRIT": "PA8", "STIM": "PA0", "ISR": "PA10", "SYNC": "PB4"}
SOUND = (("CRIT", 10, 40), ("STIM", 100, 300), ("ISR", 120, 130), ("ISR", 320, 330))


def drawn(*pulses: tuple[str, int, int], total: int = 900) -> EdgeList:
    wave = Waveform(total, channels=("CRIT", "STIM", "ISR"))
    for pulse in pulses:
        wave.pulse(*pulse)
    return wave.edges()


def wire(channel: str, *samples: int) -> EdgeList:
    return Waveform(1000, toggles={channel: [*samples]}, channels=(channel,)).edges()


def report(edges: EdgeList, **fields: object) -> ToolReport:
    return ToolReport.model_validate({"asked_samples": edges.total_samples, **fields})


def both(edges: EdgeList, tools: ToolReport) -> tuple[Seen, Seen]:
    """The capture, whole, and of which windows were kept."""
    keeper = Keeper(Path("nowhere"), edges.samplerate_hz, edges.channels, tools.asked_samples, Keeping(2, 9))
    keeper.append(edges.sample, edges.word, edges.total_samples)
    keeper.close()
    return Seen(tools, PINS, read_observed(edges, framed=False)), Seen(tools, PINS, keeper.kept)


@pytest.mark.parametrize(
    ("edges", "fields", "verdict", "words"),
    [
        (drawn(*SOUND), {}, "complete", None),
        (
            drawn(*SOUND[1:]),
            {},
            "inconclusive",
            "CRIT (PA8) shows no edge in 1.07143e-05 s, it is low throughout",
        ),
        (
            wire("ISR", 0),
            {},
            "inconclusive",
            "ISR (PA10) shows no edge in 1.19048e-05 s, it is high",
        ),
        (
            drawn(*SOUND, ("CRIT", 500, 501)),
            {},
            "inconclusive",
            "CRIT (PA8) has pulses of a single sample, 11.9 ns",
        ),
        (wire("ISR", 340, 342), {}, "complete", None),
        (
            wire("CRIT", 100, 300, 500),
            {},
            "inconclusive",
            "CRIT (PA8) rises at 5.95238e-06 s and does not fall again by the end, 0.00595238 ms later",
        ),
        # The pulse that the end cuts off, or the wait, is no longer than the longest whole one.
        (wire("CRIT", 100, 500, 600), {}, "complete", None),
        (wire("CRIT", 100, 499, 600), {}, "inconclusive", "does not fall again"),
        (drawn(*SOUND, ("STIM", 881, 890)), {}, "complete", None),
        (drawn(*SOUND, ("STIM", 880, 890)), {}, "inconclusive", "STIM to ISR: a stimulus still waited"),
        (drawn(*SOUND), {"asked_samples": 901}, "truncated", "The analyzer delivered 900 of 901 samples"),
        (drawn(*SOUND), {"losses": ("It died.",)}, "truncated", "It died."),
        (drawn(*SOUND), {"interrupted": True}, "truncated", "The run was interrupted"),
        (drawn(*SOUND), {"oddities": ("It muttered.",)}, "inconclusive", "It muttered."),
    ],
)
def test_a_capture_and_its_windows_get_one_verdict(
    edges: EdgeList, fields: dict[str, object], verdict: str, words: str | None
) -> None:
    for seen in both(edges, report(edges, **fields)):
        assert judge(seen)[0] == verdict
        assert len(judge(seen)[1]) == (words is not None)
        assert all(str(words) in reason for reason in judge(seen)[1])


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (framed(), None),
        (framed(end=False), "SYNC (PB4) shows a start frame and no end frame"),
        (framed(begin=False), "SYNC (PB4) shows an end frame and no start frame"),
    ],
)
def test_one_frame_is_a_part_of_a_run(edges: EdgeList, words: str | None) -> None:
    verdict, reasons = judge(Seen(report(edges), PINS, read_observed(edges)))
    assert verdict == ("truncated" if words else "complete")
    assert len(reasons) == (words is not None) and all(str(words) in reason for reason in reasons)
