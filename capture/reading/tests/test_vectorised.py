import numpy as np
import pytest

from capture.files.errors import CaptureError
from capture.reading.tests.waveform import Waveform, frame_edges
from capture.reading.vectorised import fit_clock, frames, level_at, pulses, responses
from capture.run_folder.edges import CHANNELS, EdgeList

TICK_HZ = 84_000_000


def only(channel: str, samples: list[int], total: int, samplerate_hz: int = TICK_HZ) -> EdgeList:
    """Edges of one channel alone, for captures too long to be rendered."""
    bit = 1 << CHANNELS.index(channel)
    rows = [0, *samples]
    word = [bit if n & 1 else 0 for n in range(len(rows))]
    return EdgeList(np.array(rows, np.int64), np.array(word, np.uint8), samplerate_hz, total)


def test_pulses_cut_off_by_the_capture_are_told_apart() -> None:
    wave = Waveform(100)
    wave.pulse("CRIT", 0, 7)
    wave.pulse("CRIT", 10, 11)
    wave.pulse("CRIT", 20, 50)
    wave.toggle("CRIT", 99)
    found = pulses(wave.edges(), "CRIT")
    assert (found.start.tolist(), found.end.tolist()) == ([10, 20], [11, 50])
    assert (found.open_head_end, found.open_tail_start) == (7, 99)


def test_a_channel_that_never_changes_has_no_pulses() -> None:
    low, high = Waveform(10), Waveform(10)
    high.toggle("OP", 0)
    assert pulses(low.edges(), "OP").start.size == pulses(high.edges(), "OP").start.size == 0
    assert (pulses(low.edges(), "OP").open_head_end, pulses(low.edges(), "OP").open_tail_start) == (
        None,
        None,
    )
    assert (pulses(high.edges(), "OP").open_head_end, pulses(high.edges(), "OP").open_tail_start) == (None, 0)


def test_each_stimulus_has_the_first_answer_before_the_next() -> None:
    wave = Waveform(200)
    wave.pulse("ISR", 3, 5)  # before any stimulus
    wave.toggle("STIM", 10, 40, 60, 90, 150)
    wave.pulse("ISR", 15, 20)
    wave.pulse("ISR", 25, 30)  # a second answer
    # 40 is missed: nothing until 60
    wave.pulse("ISR", 70, 80)
    wave.pulse("ISR", 149, 155)  # only just
    # 150 stays open: the capture ends
    found = responses(wave.edges(), "STIM", "ISR")
    assert found.stimulus_sample.tolist() == [10, 40, 60, 90, 150]
    assert found.answer_sample.tolist() == [15, -1, 70, 149, -1]
    assert found.missed.tolist() == [False, True, False, False, False]


def test_an_answer_at_the_sample_of_a_stimulus_belongs_to_the_one_before() -> None:
    wave = Waveform(50)
    wave.toggle("CTRL", 10, 20, 30)
    wave.pulse("CISR", 10, 12)  # too early for 10
    wave.pulse("CISR", 30, 33)  # answers 20
    found = responses(wave.edges(), "CTRL", "CISR")
    assert found.answer_sample.tolist() == [-1, 30, -1]
    assert found.missed.tolist() == [True, False, False]


def test_no_stimulus_gives_no_rows() -> None:
    wave = Waveform(50)
    wave.pulse("ISR", 10, 12)
    found = responses(wave.edges(), "STIM", "ISR")
    assert found.stimulus_sample.size == found.answer_sample.size == found.missed.size == 0


def test_the_level_at_an_edge_is_the_new_one() -> None:
    wave = Waveform(50)
    wave.pulse("CRIT", 10, 20)
    asked = np.array([0, 9, 10, 19, 20, 49])
    assert level_at(wave.edges(), "CRIT", asked).tolist() == [False, False, True, True, False, False]
    with pytest.raises(CaptureError, match="outside"):
        level_at(wave.edges(), "CRIT", np.array([50]))


@pytest.mark.parametrize("samplerate_hz", [84_000_000, 24_000_000, 200_000_000, 12_000_000])
@pytest.mark.parametrize("error_ppm", [-50, 0, 30])
def test_frames_and_clock_are_found_at_any_rate(samplerate_hz: int, error_ppm: int) -> None:
    true_hz = samplerate_hz * (1 + error_ppm * 1e-6)
    start = frame_edges(0.0012345, 840, TICK_HZ, true_hz)
    operations = [start[-1] + 50_000 + 900 * n for n in range(37)]
    end = frame_edges(operations[-1] / true_hz + 0.0003, 1260, TICK_HZ, true_hz)
    last = [*operations, operations[-1] + 700]
    edges = only("SYNC", [*start, *last, *end], end[-1] + 1000, samplerate_hz)
    found = frames(edges, TICK_HZ, samplerate_hz)
    assert found.start is not None and found.start.tolist() == start
    assert found.end is not None and found.end.tolist() == end
    fit = fit_clock(found.start, found.end, TICK_HZ, samplerate_hz)
    # Each edge is seen up to one sample late. Over the 79,380 ticks of the end frame alone, least squares
    # turns that into less than one sample in the whole span.
    assert abs(fit.ratio - true_hz / samplerate_hz) < 1 / (79_380 * samplerate_hz / TICK_HZ)
    assert fit.residual_max_samples <= 1


def test_synchronous_clocks_fit_exactly() -> None:
    start, end = (np.arange(64) * ticks + 5_000_001 for ticks in (840, 1260))
    fit = fit_clock(start, end, TICK_HZ, TICK_HZ)
    assert (fit.ratio, fit.residual_max_samples) == (1.0, 0.0)
    assert fit_clock(None, end, TICK_HZ, TICK_HZ).ratio == 1.0
    assert fit_clock(start, None, TICK_HZ, TICK_HZ).ratio == 1.0
    with pytest.raises(CaptureError, match="neither"):
        fit_clock(None, None, TICK_HZ, TICK_HZ)


def train(count: int, spacing: int, first: int = 5000) -> list[int]:
    return [first + n * spacing for n in range(count)]


@pytest.mark.parametrize(
    ("samples", "is_frame"),
    [
        (train(64, 840), True),
        (train(63, 840), False),
        (train(65, 840), False),
        (train(64, 857), True),
        (train(64, 858), False),
        (train(64, 823), True),
        (train(64, 822), False),
        ([100, *train(64, 840)], False),  # SYNC was high before: the first edge of the frame falls
        ([100, 200, *train(64, 840), 90_000, 91_000], True),
    ],
)
def test_only_64_edges_of_the_right_spacing_are_a_frame(samples: list[int], is_frame: bool) -> None:
    found = frames(only("SYNC", samples, 200_000), TICK_HZ, TICK_HZ)
    assert (found.start is not None) == is_frame
    assert found.end is None


def test_after_a_reset_the_last_start_frame_counts() -> None:
    old, new = train(64, 840, 1000), train(64, 840, 500_000)
    early, late = train(64, 1260, 200_000), train(64, 1260, 700_000)
    found = frames(only("SYNC", [*old, *early, *new, *late], 1_000_000), TICK_HZ, TICK_HZ)
    assert found.start is not None and found.start[0] == 500_000
    assert found.end is not None and found.end[0] == 700_000


def test_a_capture_without_sync_has_no_frames() -> None:
    found = frames(only("SYNC", [], 10), TICK_HZ, TICK_HZ)
    assert (found.start, found.end) == (None, None)
