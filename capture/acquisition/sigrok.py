"""A run on a board, whose pins an analyzer records by sigrok-cli."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from base.run_folder.folder import RunName
from capture.acquisition.analyzers import check_analyzer, tool_versions
from capture.acquisition.observe import observe
from capture.acquisition.source import Opened, RunRequest
from capture.desk.board import RESET_WITHIN_S
from capture.desk.open_board import open_board


@dataclass(frozen=True)
class Sigrok:
    """The board of the request, its analyzer, and the line that carries its records."""

    request: RunRequest
    copied = True

    @property
    def name(self) -> RunName:
        """By scenario, allocator and board."""
        return self.request.name

    def check(self) -> None:
        """Raises CaptureError for a board or samplerate that there is not."""
        self.request.order()

    @contextmanager
    def open(self) -> Iterator[Opened]:
        """The board in use. A signal ends the capture, and what came is what was observed."""
        request, order = self.request, self.request.order()
        check_analyzer(request.resource, order.samplerate_hz, order.duration_s + RESET_WITHIN_S)
        with open_board(request.resource, request.records, request.image.looks) as board:
            account = request.account(
                order.analyzer.driver, {**tool_versions(order.analyzer), **board.tools()}
            )
            yield Opened(
                account,
                lambda place: observe(board, order, place.watch.step, place.folder, place.watch),
            )
