"""Collects the changes of a few channels while a file is read, within a bound."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from capture.importing.lines import check_count
from capture.importing.timed import Seconds


class Changes:
    """What is told of `names`, in the order of time. A level that stays the same is no change."""

    def __init__(self, names: Iterable[str]) -> None:
        self._level: dict[str, bool | None] = dict.fromkeys(names)
        self._initial: dict[str, bool] = {}
        self._times = {name: array("d") for name in self._level}
        self._count = 0

    def add(self, name: str, level: bool, time: float) -> None:
        """`name` is at `level` from `time` on. Raises CaptureError for one change too many."""
        before = self._level[name]
        if before is level:
            return
        self._level[name] = level
        if before is None:
            self._initial[name] = level
            return
        self._times[name].append(time)
        self._count += 1
        check_count(self._count)

    def known(self, name: str) -> bool:
        """Whether anything was told of `name` so far."""
        return self._level[name] is not None

    @property
    def initial(self) -> dict[str, bool]:
        """The first level of each; low where nothing was told."""
        return {name: self._initial.get(name, False) for name in self._level}

    def times(self, begin: float, unit: float) -> dict[str, Seconds]:
        """When each changed: `unit` times the time since `begin`."""
        return {name: (np.array(found, np.float64) - begin) * unit for name, found in self._times.items()}
