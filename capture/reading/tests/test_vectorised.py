import numpy as np

from capture.reading.tests.waveform import Waveform
from capture.reading.vectorised import PulseTrain, Windows, pulses


def test_pulses_that_the_capture_cuts_off_are_left_out() -> None:
    wave = Waveform(100)
    wave.pulse("CRIT", 0, 7)
    wave.pulse("CRIT", 10, 11)
    wave.pulse("CRIT", 20, 50)
    wave.toggle("CRIT", 99)
    whole = pulses(wave.edges(), "CRIT")
    assert (whole.start.tolist(), whole.end.tolist()) == ([10, 20], [11, 50])


def test_a_width_is_from_rise_to_fall_and_a_windows_widths_are_added() -> None:
    """A pulse belongs to the window in which it rises, even where it falls in another."""
    train = PulseTrain(np.array([10, 60, 70, 99]), np.array([50, 61, 90, 130]))
    windows = Windows(np.array([0, 10, 70, 100]), np.array([10, 70, 100, 200]))
    assert train.width.tolist() == [40, 1, 20, 31]
    assert train.counts_in(windows).tolist() == [0, 2, 2, 0]
    assert train.widths_in(windows).tolist() == [0, 41, 51, 0]
    assert train.starting_within(60, 99).start.tolist() == [60, 70]
