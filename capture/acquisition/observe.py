"""Observes one run: board, records and analyzer together, from reset to the last sample.

Whatever happens on the way, what came is returned with what
went wrong; and whatever was started is ended.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from base.processes import signals
from base.run_folder.edges import EdgeList
from base.run_folder.folder import EDGE_STREAM, SERIAL_LOG
from base.run_folder.kept import Kept
from base.run_folder.manifest import ToolReport
from base.run_folder.observed import ObservedReport
from base.tell import Tell
from capture.acquisition.live import Sources, Watch
from capture.acquisition.record_reader import RecordReader, RttReader, SerialReader
from capture.acquisition.saleae import SaleaeCapture
from capture.acquisition.sigrok_cli import CaptureRequest, SigrokCapture
from capture.desk.board import RESET_WITHIN_S, Board
from scenarios.operations import DEFAULT_BAUD

SILENCE_S = 10.0
# After the last sample the last records are still under way, on a busy host with pauses. Where the
# capture broke off there may be none.
LAST_RECORDS_S = 5.0
LAST_RECORDS_OF_BROKEN_S = 1.0
# An analyzer may need seconds to arm (an upload of its firmware over USB).
ARMING_S = 10.0
ARMING_POLL_S = 0.02


@dataclass(frozen=True, kw_only=True)
class Order(CaptureRequest):
    """What is to be observed: firmware and operations, and what of them is captured.

    `elf` is the firmware's file; None leaves the board alone, and what is on it runs. `image` is
    the operation image, empty for a firmware that needs none. `records` says what carries the
    records, uart, rtt or none, and `baud` how fast the serial line is. An analyzer, or the line
    behind it, that says nothing for `silence_s` is taken for dead. The `samples` count from the
    reset of a board that is reset.
    """

    elf: Path | None
    image: bytes = b""
    records: str = "uart"
    silence_s: float = SILENCE_S
    baud: int = DEFAULT_BAUD


@dataclass(frozen=True)
class Observation:
    """What came: the wire's edges, the records' bytes, and what the tools did."""

    edges: EdgeList
    serial_bytes: bytes
    report: ToolReport
    counts: bytes | None = None
    """The table of what the virtual board counted."""
    kept: Kept | None = None
    """Where only windows of the capture were kept; then `edges` has nothing."""


def observe(
    board: Board, order: Order, progress: Tell, folder: Path, watch: Watch | None = None
) -> Observation:
    """Loads the board and records it until the capture is over, or a signal comes.

    Edges and records are written to `folder` as they come, so that a killed run has them. `watch`
    looks at them meanwhile.

    Raises TailscopeError where no capture begins, and
    signals.Stopped where a signal comes before it does.
    """
    progress("loading the board")
    connections, log = board.load(order.elf, order.image), folder / SERIAL_LOG
    records: RecordReader | None = None
    if order.records == "rtt":
        assert connections.probe is not None and order.elf is not None
        records = RttReader(connections.probe, order.elf, log)
    elif order.records != "none":
        records = SerialReader(connections.serial_url, log, connections.find_serial, order.baud)
    with records or nullcontext():
        resetter = board.resetter(records.debugger if records else None) if order.elf else None
        # The run's whole duration, and what passes before the reset.
        before = 0 if resetter is None else round(order.samplerate_hz * RESET_WITHIN_S)
        request = replace(order, connection=connections.analyzer, samples=before + order.samples)
        signals.check()
        capture: SigrokCapture | SaleaeCapture
        if order.analyzer.by_saleae:
            capture = SaleaeCapture(request)
        else:
            capture = SigrokCapture(request, folder / EDGE_STREAM)
        with capture:
            progress("capturing")
            capture.start()
            arriving = capture.arriving if watch and watch.request.wire else None
            since = records.since if records else lambda _: b""
            sources = Sources(since, lambda: capture.got_samples, request.samples, arriving)
            with watch.following(sources) if watch else nullcontext():
                if resetter is not None or order.elf is None:
                    # An analyzer that delivers at the end only is given the whole time.
                    armed_by_s = time.monotonic() + ARMING_S
                    while not (
                        capture.armed
                        or capture.over
                        or signals.asked() is not None
                        or time.monotonic() >= armed_by_s
                    ):
                        time.sleep(ARMING_POLL_S)
                    capture.check_begun()
                if resetter is not None:
                    resetter.reset()
                result = capture.wait(order.silence_s, board.ended)
                last_s = LAST_RECORDS_OF_BROKEN_S if result.problems else LAST_RECORDS_S
                whole = records is None or records.wait(min(last_s, order.silence_s))
            interrupted = result.interrupted or (not whole and signals.asked() is not None)
    silent = records is not None and not (records.whole or interrupted)
    advice = board.post_mortem(order.elf) if silent and order.elf else ()
    report = ToolReport(
        asked_samples=request.samples,
        interrupted=interrupted,
        losses=(
            *board.problems(),
            *result.problems,
            *([records.problem] if records and records.problem else []),
        ),
        oddities=(*board.oddities(), *advice, *result.oddities),
    )
    if records is None:
        report = ObservedReport(**dict(report), notes=board.notes())
    return Observation(
        edges=result.edges,
        serial_bytes=records.data if records else b"",
        report=report,
        counts=board.counts(),
        kept=result.kept,
    )
