"""Loads the wiring firmware, captures it as a run is captured, and says what each clip sees."""

from __future__ import annotations

import tempfile
from pathlib import Path

from base.files.errors import CaptureError
from base.processes import signals
from base.run_folder.edges import EdgeList
from base.tell import Tell
from capture.acquisition.observe import Order, observe
from capture.acquisition.sigrok_options import check_analyzer
from capture.desk.bench import BoardResource
from capture.desk.board import RESET_WITHIN_S
from capture.desk.finding import Finding
from capture.desk.open_board import open_board
from capture.wiring.findings import ROUND_S, WINDOW_S, judge, read
from capture.wiring.plan import clips
from firmware.build.image import build_wiring

_CAPTURED_S = WINDOW_S + ROUND_S
"""After the reset: the window, and what passes before the firmware's first round."""


_SLOWEST_HZ = 100_000
"""Ten samples for half a pulse."""


def check(board: BoardResource, progress: Tell = lambda _: None) -> Finding:
    """Moves each pin in turn and says which input sees which.

    Raises TailscopeError where nothing can be said, and
    signals.Stopped where a signal comes.
    """
    return judge(read(_captured(board, progress)), clips(board))


def _captured(board: BoardResource, progress: Tell) -> EdgeList:
    if board.analyzer.samplerate_hz < _SLOWEST_HZ:
        raise CaptureError(
            f"The clips cannot be checked at {board.analyzer.samplerate_hz:,} samples per second: "
            f"write {_SLOWEST_HZ:,} or more into bench.toml."
        )
    order = Order(
        elf=build_wiring(board.board),
        image=b"",
        analyzer=board.analyzer,
        samplerate_hz=board.analyzer.samplerate_hz,
        duration_s=_CAPTURED_S,
        records="none",
    )
    check_analyzer(board, board.analyzer.samplerate_hz, _CAPTURED_S + RESET_WITHIN_S)
    with signals.orderly(), tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
        with open_board(board) as opened:
            observation = observe(opened, order, progress, Path(folder))
        signals.check()
    report = observation.report
    if report.losses:
        said = " ".join((report.losses[0], *report.oddities[:1]))
        raise CaptureError(f"The clips cannot be checked: {said}")
    return observation.edges
