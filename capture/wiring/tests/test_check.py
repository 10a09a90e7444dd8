"""The check against the virtual board: its clips are exchanged in the entry of bench.toml."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from base.files.errors import CaptureError
from base.run_folder.edges import CHANNELS
from capture.acquisition.tests.socket_board import put_tool, samples_of
from capture.desk.bench import AnalyzerResource, BoardResource, read_bench
from capture.wiring import pattern
from capture.wiring.check import check
from capture.wiring.tests.desk import Desk

INPUTS = ("P8_45", "P8_46", "P8_43", "P8_44", "P8_41", "P8_42", "P8_39", "P8_40")
BENCH = """\
default = "virtual"
[boards.virtual.loader]
kind = "virtual-nucleo"
[boards.virtual.serial]
port = "tcp"
[boards.virtual.analyzer]
preset = "beaglelogic"
samplerate_hz = 25_000_000
[boards.virtual.analyzer.channels]
"""


def board(folder: Path, inputs: Sequence[str] = INPUTS) -> BoardResource:
    """The virtual board, of which bench.toml says that these inputs see CRIT, OP and so on."""
    path = folder / "bench.toml"
    lines = (f'{channel} = "{name}"\n' for channel, name in zip(CHANNELS, inputs, strict=True))
    path.write_text(BENCH + "".join(lines))
    return read_bench(path).board()


def test_clips_that_are_where_they_belong(tmp_path: Path) -> None:
    assert check(board(tmp_path)).state == "right"


def test_clips_that_are_exchanged_are_named(tmp_path: Path) -> None:
    """STIM and OP changed places, and the last three went round."""
    inputs = [INPUTS[at] for at in (0, 2, 1, 3, 4, 6, 7, 5)]
    findings = check(board(tmp_path, inputs))
    assert [clip.sees for clip in findings.clips] == [
        (channel,) for channel in ("CRIT", "STIM", "OP", "ISR", "TASK", "CISR", "SYNC", "CTRL")
    ]
    assert findings.remedies == (
        "P8_43 sees STIM and P8_46 sees OP: swap the clips of P8_43 and P8_46.",
        "P8_39 sees CISR: move its clip to CTRL (A1, CN8-2).",
        "P8_40 sees SYNC: move its clip to CISR (D4, CN9-5).",
        "P8_42 sees CTRL: move its clip to SYNC (D5, CN9-6).",
    )


def slow_board(folder: Path) -> BoardResource:
    resource = board(folder)
    return replace(resource, analyzer=resource.analyzer.model_copy(update={"samplerate_hz": 1_000_000}))


CAPTURED_US = round((pattern.WINDOW_S + pattern.ROUND_S) * 1e6)


def test_a_clip_that_is_off_and_two_that_touch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk((0, 1, 2, None, 4, 5, 6, 7), [frozenset({6, 7})], total_us=CAPTURED_US)
    put_tool(tmp_path, monkeypatch, samples_of(desk.edges())[:CAPTURED_US], "")
    findings = check(slow_board(tmp_path))
    assert findings.remedies == (
        "P8_44 stays low: clip it on ISR (D2, CN9-3).",
        "P8_39 and P8_40 always move together, with CISR and SYNC: "
        "part their clips at CISR (D4, CN9-5), SYNC (D5, CN9-6).",
    )


def test_a_samplerate_that_is_too_low_is_refused(tmp_path: Path) -> None:
    slow = replace(slow_board(tmp_path), analyzer=AnalyzerResource(driver="demo", samplerate_hz=99_999))
    with pytest.raises(CaptureError, match=r"cannot be checked at 99,999 samples per second: write 100,000"):
        check(slow)


def test_of_a_capture_that_is_short_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = samples_of(Desk(total_us=CAPTURED_US).edges())
    put_tool(tmp_path, monkeypatch, samples[: CAPTURED_US // 2], "")
    with pytest.raises(CaptureError, match=r"The clips cannot be checked: The capture is short: .* again\."):
        check(slow_board(tmp_path))
