"""The verdict of kept windows is that of the whole capture, where both can tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from base.run_folder.edges import EdgeList
from base.run_folder.manifest import ToolReport
from capture.acquisition.keeper import Keeper, Keeping
from capture.reading.observed import read_observed
from capture.reading.tests.waveform import Waveform
from capture.verdict import kept as of_windows
from capture.verdict import observed as of_all
from capture.verdict.kept import SeenKept

PINS = {"CRIT": "PA8", "STIM": "PA0", "ISR": "PA10"}


def both(edges: EdgeList, **fields: object) -> tuple[of_all.Seen, SeenKept]:
    report = ToolReport.model_validate({"asked_samples": edges.total_samples, **fields})
    keeper = Keeper(Path("nowhere"), edges.samplerate_hz, edges.channels, report.asked_samples, Keeping(2, 9))
    keeper.append(edges.sample, edges.word, edges.total_samples)
    keeper.close()
    whole = of_all.Seen(report, PINS, read_observed(edges, framed=False))
    return whole, SeenKept(report, PINS, keeper.kept)


def drawn(*pulses: tuple[str, int, int], total: int = 900) -> EdgeList:
    wave = Waveform(total, channels=("CRIT", "STIM", "ISR"))
    for pulse in pulses:
        wave.pulse(*pulse)
    return wave.edges()


SOUND = (("CRIT", 10, 40), ("STIM", 100, 300), ("ISR", 120, 130), ("ISR", 320, 330))


@pytest.mark.parametrize(
    ("edges", "told", "verdict", "words"),
    [
        (drawn(*SOUND), {}, "complete", ""),
        (drawn(*SOUND[1:]), {}, "inconclusive", "CRIT (PA8) shows no edge"),
        (drawn(*SOUND, ("CRIT", 500, 501)), {}, "inconclusive", "pulses of a single sample"),
        (drawn(*SOUND, ("CRIT", 500, 901), total=901), {}, "inconclusive", "does not fall again"),
        (drawn(*SOUND), {"asked_samples": 1000}, "truncated", "900 of 1000 samples"),
        (drawn(*SOUND), {"losses": ("It died.",)}, "truncated", "It died."),
        (drawn(*SOUND), {"interrupted": True}, "truncated", "interrupted"),
        (drawn(*SOUND), {"oddities": ("It muttered.",)}, "inconclusive", "It muttered."),
    ],
)
def test_both_verdicts_have_the_same_words(
    edges: EdgeList, told: dict[str, object], verdict: str, words: str
) -> None:
    whole, windows = both(edges, **told)
    assert of_windows.judge(windows) == of_all.judge(whole)
    assert of_windows.judge(windows)[0] == verdict
    assert words in " ".join(of_windows.judge(windows)[1])


def test_stimuli_that_came_again_are_told() -> None:
    whole, windows = both(drawn(*SOUND, ("STIM", 400, 410)))
    assert [*of_windows.warnings(windows)] == [*of_all.warnings(whole)]
    assert "1 stimuli of STIM to ISR" in next(of_windows.warnings(windows))
