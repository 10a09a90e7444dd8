"""Captures of which only windows are kept, streamed by a tool that stands in for sigrok-cli."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from base.run_folder import folder as names
from base.run_folder.edges import MOST_EDGES
from base.run_folder.kept import read_kept
from capture.acquisition import keeper, sigrok_cli
from capture.acquisition.keeper import Keeper, Keeping
from capture.acquisition.sigrok_cli import CaptureRequest, CaptureResult, SigrokCapture
from capture.acquisition.tests.test_sigrok_cli import MANY_S, forget_peak, install, peak_bytes

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
