"""The wires of the runs under way, as their captures grow."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from base.files.errors import CaptureError, TailscopeError
from base.run_folder.edge_stream import EdgeFollower
from base.run_folder.folder import EDGE_STREAM
from base.run_folder.progress_file import SoFar
from capture.desk.bench import read_bench
from capture.reading.growing import Growing
from dashboards.growing_wire import picture


class Wires:
    """Follows the captures below `runs`. Its methods may be called from several threads."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs
        self._followed: dict[str, tuple[EdgeFollower, Growing]] = {}
        self._lock = threading.Lock()

    def pictures(self, going: Mapping[str, SoFar]) -> dict[str, str]:
        """What each run shows by now, by id; none of a run whose capture is not there."""
        with self._lock:
            self._followed = {identity: self._of(identity, so_far) for identity, so_far in going.items()}
            return {identity: found for identity in self._followed if (found := self._picture(identity))}

    def _of(self, identity: str, so_far: SoFar) -> tuple[EdgeFollower, Growing]:
        return self._followed.get(identity) or (
            EdgeFollower(self._runs / identity / EDGE_STREAM),
            Growing(tick_hz=_core_hz(so_far.board)),
        )

    def _picture(self, identity: str) -> str:
        follower, growing = self._followed[identity]
        with suppress(CaptureError):  # not there yet, or no longer
            new = follower.more()
            if new is not None:
                growing.add(new)
        return "" if growing.recent is None else "\n".join(picture(growing))


def _core_hz(board: str) -> int | None:
    """The clock of a board of bench.toml; None of one that is not in it."""
    try:
        return read_bench().board(board).board.core_hz
    except TailscopeError:
        return None
