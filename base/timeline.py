"""The Trace Event Format: slices, counters and the names of tracks.

The format is that of "Trace Event Format" (Google, catapult project). Times there are microseconds;
here they have three decimals, so that no nanosecond is lost. Viewers draw a slice below another one
of its track if it lies within it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from base.files.whole import write_bytes

_NS_PER_US = 1000


class Timeline:
    """Tracks in groups, in the order in which they are first named. Times are nanoseconds."""

    def __init__(self) -> None:
        self._groups: dict[str, int] = {}
        self._tracks: dict[tuple[str, str], int] = {}
        self._events: list[tuple[int, int, dict[str, Any]]] = []

    def slice(
        self, group: str, track: str, name: str, begin_ns: float, end_ns: float, **told: object
    ) -> None:
        """Something named `name` that lasts from `begin_ns` to `end_ns`, with what is `told` of it.

        Slices of a track must lie within each other or apart.
        """
        begin, end = round(begin_ns), round(end_ns)
        event = {"ph": "X", "name": name, "dur": _us(end - begin), **self._place(group, track)}
        self._events.append((begin, begin - end, {**event, "args": told}))

    def counter(self, group: str, name: str, at_ns: float, values: Mapping[str, float]) -> None:
        """The `values` of a counter from `at_ns` on."""
        at = round(at_ns)
        self._events.append(
            (at, 0, {"ph": "C", "name": name, "pid": self._group(group), "args": dict(values)})
        )

    def document(self) -> dict[str, Any]:
        """The whole file, events in the order of time, what lasts longer first."""
        names = [_named("process_name", pid, 0, name) for name, pid in self._groups.items()]
        for (group, track), tid in self._tracks.items():
            names.append(_named("thread_name", self._groups[group], tid, track))
            order = {"ph": "M", "name": "thread_sort_index", "pid": self._groups[group], "tid": tid}
            names.append({**order, "args": {"sort_index": tid}})
        ordered = sorted(self._events, key=lambda event: event[:2])
        events = [{**event, "ts": _us(at)} for at, _, event in ordered]
        return {"displayTimeUnit": "ns", "traceEvents": [*names, *events]}

    def write(self, path: Path) -> Path:
        """Writes the file and returns its path. Raises WriteError."""
        return write_bytes(path, json.dumps(self.document(), separators=(",", ":")).encode())

    def _place(self, group: str, track: str) -> dict[str, int]:
        pid = self._group(group)
        return {"pid": pid, "tid": self._tracks.setdefault((group, track), len(self._tracks) + 1)}

    def _group(self, group: str) -> int:
        return self._groups.setdefault(group, len(self._groups) + 1)


def _us(ns: int) -> float:
    """Microseconds; their shortest decimal has three places or fewer up to 2^53 ns, 104 days."""
    return ns / _NS_PER_US


def _named(kind: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}}
