"""Observes one run: board, serial line and analyzer together, from reset to the last sample.

Whatever happens on the way, what came is returned with what went wrong; and whatever was started is ended.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from capture.acquisition.record_reader import SILENCE_S, RecordReader
from capture.acquisition.rtt_reader import RttReader
from capture.acquisition.serial_reader import SerialReader
from capture.acquisition.sigrok_cli import CaptureRequest, CaptureResult, SigrokCapture
from capture.desk.bench import AnalyzerResource
from capture.desk.boards import Board
from capture.run_folder.edges import CHANNELS, EdgeList
from capture.run_folder.folder import IMAGE
from capture.run_folder.manifest import ToolReport

# After the last sample the last records are still under way, for a while on a busy host; where the capture
# broke off there may be none.
LAST_RECORDS_S = 5.0
LAST_RECORDS_OF_BROKEN_S = 1.0
# An analyzer may need seconds to arm (an upload of its firmware over USB).
ARMING_S = 10.0
ARMING_POLL_S = 0.02

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Order:
    """What is to be observed: the firmware's ELF file, the operation image, how long at which rate, and what
    carries the records (uart or rtt).

    A tool or line that says nothing for `silence_s` is taken for dead.
    """

    elf: Path
    image: bytes
    analyzer: AnalyzerResource
    samplerate_hz: int
    duration_s: float
    records: str = "uart"
    silence_s: float = SILENCE_S


@dataclass(frozen=True)
class Observation:
    """What came: the wire's edges, the records' bytes, and what the tools did."""

    edges: EdgeList
    serial_bytes: bytes
    report: ToolReport
    counts: bytes | None = None
    """The table of what the virtual board counted."""


def observe(board: Board, order: Order, progress: Progress) -> Observation:
    """Loads the board and records it until the capture is over. Raises CaptureError if none begins."""
    with tempfile.TemporaryDirectory(prefix="tailscope-") as scratch:
        image = Path(scratch) / IMAGE
        image.write_bytes(order.image)
        progress("loading the board")
        board.prepare(order.elf, image)
        request = _request(board, order)
        with _reader(board, order) as records, SigrokCapture(request) as capture:
            progress("capturing")
            capture.start()
            if board.start_delay_s:
                _wait_until_armed(capture)
            board.start(records.pull_reset if isinstance(records, RttReader) else None)
            result = capture.wait(order.silence_s, board.ended)
            interrupted = result.interrupted or _interrupted_at_the_end(records, result)
        report = _report(board, records, result, interrupted)
        return Observation(result.edges, records.data, report, board.counts())


def _reader(board: Board, order: Order) -> RecordReader:
    if order.records == "rtt":
        return RttReader(board.probe_address(), order.elf, order.silence_s)
    return SerialReader(board.serial_url(), order.silence_s)


def _request(board: Board, order: Order) -> CaptureRequest:
    named = order.analyzer.channels
    return CaptureRequest(
        driver=order.analyzer.driver,
        connection=board.analyzer_connection(),
        samplerate_hz=order.samplerate_hz,
        samples=round(order.samplerate_hz * (order.duration_s + board.start_delay_s)),
        channels=tuple(named[channel] for channel in CHANNELS) if named else None,
    )


def _wait_until_armed(capture: SigrokCapture) -> None:
    """Until the first samples come; analyzers that deliver at the end only are given the whole time."""
    deadline_s = time.monotonic() + ARMING_S
    while not capture.got_samples and time.monotonic() < deadline_s:
        time.sleep(ARMING_POLL_S)


def _interrupted_at_the_end(records: RecordReader, result: CaptureResult) -> bool:
    """Waits for the last records; True if Ctrl-C ended that."""
    try:
        records.wait(LAST_RECORDS_OF_BROKEN_S if result.problems else LAST_RECORDS_S)
    except KeyboardInterrupt:
        return True
    return False


def _report(board: Board, records: RecordReader, result: CaptureResult, interrupted: bool) -> ToolReport:
    assert result.asked_samples is not None
    return ToolReport(
        asked_samples=result.asked_samples,
        interrupted=interrupted,
        losses=(*board.problems(), *result.problems, *([records.problem] if records.problem else [])),
        oddities=(*board.oddities(), *result.oddities),
    )
