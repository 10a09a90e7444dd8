"""Text line by line, and the changes of a few channels in it, both within a bound."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import numpy as np

from base.files.errors import CaptureError
from base.run_folder.edges import MOST_EDGES
from capture.importing.timed import Ticks

LINE_MOST_BYTES = 64 << 10
TEXT_MOST_BYTES = 256 << 20
"""Of a file in which a line stands for a change: what is more has more edges than are read."""


class Lines:
    """The lines of `file`, without their ends. Iterating raises CaptureError for one that is too
    long.

    `unended`: the line that came last has no end, so that the file may have been cut within it.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.unended = False

    def __iter__(self) -> Iterator[str]:
        while line := self._file.readline(LINE_MOST_BYTES + 1):
            if len(line) > LINE_MOST_BYTES:
                raise CaptureError(f"a line in it has more than {LINE_MOST_BYTES:,} bytes.")
            self.unended = not line.endswith(b"\n")
            yield line.decode("utf-8", errors="replace").strip().lstrip("\ufeff")


def check_count(changes: int) -> None:
    """Raises CaptureError where there are more changes than are read."""
    if changes > MOST_EDGES:
        raise CaptureError(
            f"it has more than {MOST_EDGES:,} edges: an input was probably floating; leave that channel out."
        )


class Changes:
    """What is told of `names`, in the order of time. A level that stays the same is no change."""

    def __init__(self, names: Iterable[str]) -> None:
        self._level: dict[str, bool | None] = dict.fromkeys(names)
        self._initial: dict[str, bool] = {}
        self._ticks = {name: array("q") for name in self._level}
        self._count = 0

    def add(self, name: str, level: bool, tick: int, first: bool = False) -> None:
        """`name` is at `level` from `tick` on; of several at the `first` the last is where it
        begins. Raises CaptureError for one change too many.
        """
        before = self._level[name]
        if before is level:
            return
        self._level[name] = level
        if before is None or first:
            self._initial[name] = level
            return
        self._ticks[name].append(tick)
        self._count += 1
        check_count(self._count)

    def known(self, name: str) -> bool:
        """Whether anything was told of `name` so far."""
        return self._level[name] is not None

    @property
    def initial(self) -> dict[str, bool]:
        """The first level of each; low where nothing was told."""
        return {name: self._initial.get(name, False) for name in self._level}

    def times(self, begin: int) -> dict[str, Ticks]:
        """When each changed, in ticks since `begin`."""
        return {name: np.array(ticks, np.int64) - begin for name, ticks in self._ticks.items()}
