"""Captures of which only windows are kept, streamed by a tool that stands in for sigrok-cli."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from base.files.errors import CaptureError
from base.run_folder import folder as names
from base.run_folder.edges import MOST_EDGES, EdgeList
from base.run_folder.kept import MOST_KEPT_SAMPLES, read_kept, write_kept
from capture.acquisition import keeper, sigrok_cli
from capture.acquisition.keeper import Keeper, Keeping
from capture.acquisition.sigrok_cli import CaptureRequest, CaptureResult, SigrokCapture
from capture.acquisition.tests.test_sigrok_cli import MANY_S, forget_peak, install, peak_bytes
from capture.reading.observed import read_observed

HZ = 24_000_000
TAKEN = ("CRIT", "STIM", "ISR")
CRIT, STIM, ISR = 1, 4, 8
"""Their bits in what an analyzer with all channels in our order sends."""


def capture(folder: Path, body: str, samples: int, keeping: Keeping | None) -> CaptureResult:
    folder.mkdir(exist_ok=True)
    install(folder / "sigrok-cli", body)
    tool = str(folder / "sigrok-cli")
    request = CaptureRequest("demo", None, HZ, samples, taken=TAKEN, tool=tool, keeping=keeping)
    with SigrokCapture(request, folder / names.EDGE_STREAM) as running:
        running.start()
        return running.wait(MANY_S)


RANDOM = """
import random
draw = random.Random(5)
levels = [bytes([draw.choice([0, 1, 4, 5, 8, 9, 12])]) for _ in range(3000)]
all_of(b"".join(level * draw.choice([1, 3, 40, 700]) for level in levels)[:500000].ljust(600000, b"\\0"))
"""


def test_streamed_it_is_what_keeping_all_and_picking_then_gives(tmp_path: Path) -> None:
    samples = 600_000
    whole = capture(tmp_path / "all", RANDOM, samples, None).edges
    result = capture(tmp_path / "some", RANDOM, samples, Keeping(3, 100))
    kept = result.kept
    assert kept is not None and not result.edges.total_samples
    assert (result.problems, result.oddities) == ((), ())
    assert kept.total_samples == whole.total_samples == samples
    wire = read_observed(whole, framed=False)
    ns = kept.sample_ns
    assert kept.counted["width", "CRIT"].summary(ns) == wire.widths_ns["CRIT"]
    assert kept.counted["interval", "ISR"].summary(ns) == wire.intervals_ns["ISR"]
    open_ns = kept.open_samples["STIM to ISR"] * ns
    answered = kept.counted["latency", "STIM to ISR"].summary(ns)
    assert answered.waiting(open_ns) == wire.latencies_ns["STIM to ISR"]
    assert kept.merged == wire.merged
    train = wire.program["CRIT"]
    widths = sorted(train.width.tolist(), reverse=True)[:3]
    windows = [window for window in kept.windows if window.place.of == "CRIT"]
    assert [window.place.end - window.place.start for window in windows] == widths
    for window in windows:
        place = window.place
        first = int(np.searchsorted(whole.sample, place.begin, side="right")) - 1
        last = int(np.searchsorted(whole.sample, place.until))
        sample = np.clip(whole.sample[first:last], place.begin, None) - place.begin
        cut = EdgeList(sample, whole.word[first:last], HZ, place.until - place.begin, TAKEN)
        assert window.edges == cut


BUSY = """
block = bytes([1, 0] * (1 << 19))
long = bytes([1] * 77)
for number in range({blocks}):
    all_of(block)
    if number == 2: all_of(long + bytes(1))
all_of(bytes({rest}))
"""


def test_more_edges_than_a_whole_capture_may_have_are_counted_in_flat_memory(tmp_path: Path) -> None:
    blocks, rest = 8, 1 << 20
    samples = (blocks << 20) + 78 + rest
    assert blocks << 20 > MOST_EDGES + (1 << 20)
    forget_peak()
    before = peak_bytes()
    result = capture(tmp_path, BUSY.format(blocks=blocks, rest=rest), samples, Keeping(2, 10))
    assert peak_bytes() - before < 96 << 20
    assert result.problems == () and result.kept is not None
    widths = result.kept.counted["width", "CRIT"]
    whole = (blocks << 19) - 1  # the first began before the capture
    assert widths.values.tolist() == [1, 77] and widths.counts.tolist() == [whole, 1]
    longest = result.kept.windows[0].place
    assert (longest.start, longest.end) == (3 << 20, (3 << 20) + 77)
    refused = capture(tmp_path / "all", BUSY.format(blocks=blocks, rest=rest), samples, None)
    assert f"More than {MOST_EDGES} edges" in refused.problems[0]


def test_a_tool_that_counts_in_32_bits_and_never_ends_is_ended_without_blame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sigrok_cli, "MOST_COUNTED", 1000)
    body = "signal.signal(signal.SIGPIPE, signal.SIG_DFL)\nwhile True: all_of(bytes([1, 0]) * 500)"
    for keeping in (None, Keeping(1, 5)):
        result = capture(tmp_path / str(keeping), body, 100_000, keeping)
        assert (result.problems, result.oddities, result.interrupted) == ((), (), False)
        total = result.kept.total_samples if result.kept else result.edges.total_samples
        assert total == 100_000


def test_what_is_kept_goes_to_the_disk_while_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "EVERY_S", 0.01)
    kept = Keeper(tmp_path, HZ, ("CRIT",), 1000, Keeping(1, 4))
    kept.append(np.array([0, 10, 30]), np.array([0, 1, 0], np.uint8), 100)
    while not (tmp_path / names.KEPT).exists() or read_kept(tmp_path).total_samples < 100:
        time.sleep(0.01)
    kept.close()
    assert read_kept(tmp_path).windows[0].place.start == 10
    assert {path.name for path in tmp_path.iterdir()} <= {names.KEPT, f"{names.KEPT}.part"}


def test_what_is_drawn_is_handed_on_once() -> None:
    watched = Keeper(Path("nowhere"), HZ, ("CRIT",), 1000, Keeping(1, 4), watched=True)
    assert watched.more() is None
    watched.append(np.array([0, 10]), np.array([0, 1], np.uint8), 50)
    watched.append(np.array([60]), np.array([0], np.uint8), 100)
    new = watched.more()
    watched.close()
    assert new is not None and (new.sample.tolist(), new.begin, new.end) == ([0, 10, 60], 0, 100)
    assert watched.more() is None


def test_nothing_at_all_is_a_capture_too(tmp_path: Path) -> None:
    empty = Keeper(tmp_path, HZ, ("CRIT",), 1000, Keeping(1, 4))
    empty.close()
    windows = empty.kept
    assert (windows.total_samples, len(windows.windows), windows.pins["CRIT"].edges) == (0, 1, 0)
    write_kept(tmp_path / names.KEPT, windows)
    assert read_kept(tmp_path).total_samples == 0


def test_more_samples_than_are_counted_are_refused() -> None:
    CaptureRequest("demo", None, HZ, MOST_KEPT_SAMPLES, keeping=Keeping(1, 1))
    with pytest.raises(CaptureError, match="samples are more than the"):
        CaptureRequest("demo", None, HZ, MOST_KEPT_SAMPLES + 1, keeping=Keeping(1, 1))
    with pytest.raises(CaptureError, match="or keep windows only"):
        CaptureRequest("demo", None, HZ, MOST_KEPT_SAMPLES)
