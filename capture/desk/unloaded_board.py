"""A board that somebody else loads and resets: only its pins are known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from base.files.errors import CaptureError
from capture.desk.bench import BoardResource
from capture.desk.board import Connections, Resetter


class UnloadedBoard:
    """What is on the board runs, and is neither loaded nor reset."""

    counter = None

    def __init__(self, resource: BoardResource) -> None:
        self._resource = resource

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing was opened."""

    def load(self, elf: Path | None, image: bytes) -> Connections:
        """Refuses both. Raises CaptureError."""
        if elf is not None or image:
            raise CaptureError(
                f"The board {self._resource.name!r} has no loader in bench.toml, so nothing can be flashed: "
                "load it yourself, and look at it by ./lab observe."
            )
        return Connections("", self._resource.analyzer.connection or None, None)

    def resetter(self, debugger: Resetter | None) -> None:
        """Nobody."""

    def ended(self) -> bool:
        """Never: a dead board cannot be told from a silent one."""
        return False

    def problems(self) -> tuple[str, ...]:
        """None."""
        return ()

    def oddities(self) -> tuple[str, ...]:
        """None."""
        return ()

    def notes(self) -> tuple[str, ...]:
        """None."""
        return ()

    def post_mortem(self, _elf: Path) -> tuple[str, ...]:
        """Nothing: nobody can ask the core."""
        return ()

    def tools(self) -> Mapping[str, str]:
        """None."""
        return {}
