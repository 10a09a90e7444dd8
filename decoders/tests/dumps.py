"""The waveforms that are drawn for the tests in the form of sigrok-test (decoders/upstream)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from base.run_folder.edges import EdgeList
from capture.reading.tests.waveform import Waveform

UPSTREAM = Path(__file__).resolve().parents[1] / "upstream"
DUMPS = UPSTREAM / "sigrok-dumps"
TESTS = UPSTREAM / "sigrok-test" / "decoder" / "test"
FX2_HZ = 24_000_000


def three_operations() -> EdgeList:
    """A start frame, a calibration pulse, and three operations, at one sample per tick."""
    wave = Waveform(80_000)
    wave.toggle("SYNC", *range(1000, 1000 + 64 * 840, 840))
    wave.pulse("CRIT", 56_000, 56_004)
    for seq, width in enumerate((100, 400, 300)):
        begin = 60_000 + 2000 * seq
        wave.toggle("SYNC", begin)
        wave.pulse("OP", begin + 10, begin + 30 + width)
        wave.pulse("CRIT", begin + 20, begin + 20 + width)
    return wave.edges()


def cut_at_both_ends() -> EdgeList:
    """Pulses that begin before the capture, or end behind it, at 24 MS/s; one of a sample."""
    wave = Waveform(1000, FX2_HZ)
    wave.pulse("CRIT", 0, 50)
    wave.pulse("CRIT", 100, 101)
    wave.pulse("OP", 90, 130)
    wave.pulse("CRIT", 300, 420)
    wave.pulse("CRIT", 900, 1001)
    return wave.edges()


def long_train() -> EdgeList:
    """65 edges, which are no frame: what follows belongs to no operation."""
    wave = Waveform(70_000)
    wave.toggle("SYNC", *range(1000, 1000 + 65 * 840, 840), 60_000)
    wave.pulse("CRIT", 60_100, 60_200)
    return wave.edges()


def stimuli() -> EdgeList:
    """An answer behind a critical section, an answer to two stimuli, and a control."""
    wave = Waveform(1000)
    wave.toggle("STIM", 100, 300, 500)
    wave.pulse("CRIT", 90, 140)
    wave.pulse("ISR", 145, 160)
    wave.pulse("TASK", 170, 180)
    wave.pulse("ISR", 520, 530)
    wave.toggle("CTRL", 110)
    wave.pulse("CISR", 122, 125)
    return wave.edges()


def coincidences() -> EdgeList:
    """Answers at the sample of a stimulus, before any one, and twice; a section that touches."""
    wave = Waveform(1000, FX2_HZ)
    wave.pulse("ISR", 20, 30)
    wave.toggle("STIM", 100, 200, 400, 600)
    wave.pulse("ISR", 100, 110)
    wave.pulse("ISR", 200, 210)
    wave.pulse("ISR", 420, 430)
    wave.pulse("ISR", 440, 450)
    wave.pulse("CRIT", 200, 201)
    wave.pulse("CRIT", 419, 421)
    wave.pulse("TASK", 500, 520)
    return wave.edges()


def controls() -> EdgeList:
    """Control stimuli, of which two have one answer, and a task that no section delays."""
    wave = Waveform(1000)
    wave.toggle("CTRL", 100, 200, 300)
    wave.pulse("CISR", 112, 120)
    wave.pulse("CISR", 312, 320)
    wave.toggle("STIM", 400)
    wave.pulse("ISR", 420, 430)
    wave.pulse("TASK", 440, 460)
    wave.pulse("CRIT", 500, 520)
    return wave.edges()


DRAWN: dict[str, Callable[[], EdgeList]] = {
    "three_operations": three_operations,
    "cut_at_both_ends": cut_at_both_ends,
    "long_train": long_train,
    "stimuli": stimuli,
    "coincidences": coincidences,
    "controls": controls,
}
FOLDER = DUMPS / "critical_sections" / "tailscope"
