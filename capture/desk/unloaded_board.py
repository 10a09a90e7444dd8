"""A board that somebody else loads and resets: only its pins are known."""

from __future__ import annotations

from pathlib import Path

from base.files.errors import CaptureError
from capture.desk.bench import BoardResource
from capture.desk.board import Board, Connections


class UnloadedBoard(Board):
    """What is on the board runs, and is neither loaded nor reset."""

    def __init__(self, resource: BoardResource) -> None:
        self._resource = resource

    def load(self, elf: Path | None, image: bytes) -> Connections:
        """Refuses both. Raises CaptureError."""
        if elf is not None or image:
            raise CaptureError(
                f"The board {self._resource.name!r} has no loader in bench.toml, so nothing can be flashed: "
                "load it yourself, and look at it by ./lab observe."
            )
        return Connections("", self._resource.analyzer.connection or None, None)
