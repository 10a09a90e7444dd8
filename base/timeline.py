"""The Trace Event Format: slices, counters and the names of tracks.

The format is that of "Trace Event Format" (Google, catapult project). Times there are microseconds;
here they have three decimals, so that no nanosecond is lost. Viewers draw a slice below another one
of its track if it lies within it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .files.whole import write_bytes

_NS_PER_US = 1000
MOST_SLICES = 40_000
"""Of more slices, which no viewer draws with ease, the shortest are left out."""

Times = npt.NDArray[np.int64]
Tell = Callable[[int], tuple[str, Mapping[str, object]]]


class Timeline:
    """Tracks in groups, in the order in which they are first named. Times are nanoseconds."""

    def __init__(self, most_slices: int = MOST_SLICES) -> None:
        self._most = most_slices
        self._groups: dict[str, int] = {}
        self._tracks: dict[tuple[str, str], int] = {}
        self._events: list[tuple[int, int, dict[str, Any]]] = []
        self._rows: list[tuple[dict[str, int], Times, Times, Tell]] = []
        self._kept: list[tuple[int, int]] = []

    def slice(
        self, group: str, track: str, name: str, begin_ns: float, end_ns: float, **facts: object
    ) -> None:
        """Something named `name` that lasts from `begin_ns` to `end_ns`, with `facts` of it.

        Slices of a track must lie within each other or apart.
        """
        self._add_slice(self._place(group, track), name, round(begin_ns), round(end_ns), facts)

    def slices(
        self, group: str, track: str, begin_ns: npt.ArrayLike, end_ns: npt.ArrayLike, tell: Tell
    ) -> None:
        """All slices of a track, of which `tell` gives each one's name and what is told of it.

        They must lie within each other or apart. Where there are too many, those that are short and
        that keep() does not keep are left out.
        """
        begin, end = (np.rint(np.asarray(times)).astype(np.int64) for times in (begin_ns, end_ns))
        if len(begin):
            self._rows.append((self._place(group, track), begin, end, tell))

    def keep(self, begin_ns: float, end_ns: float) -> None:
        """Leaves out no slice that overlaps this span."""
        self._kept.append((round(begin_ns), round(end_ns)))

    def counter(self, group: str, name: str, at_ns: float, values: Mapping[str, float]) -> None:
        """The `values` of a counter from `at_ns` on."""
        event = {"ph": "C", "name": name, "pid": self._group(group), "args": dict(values)}
        self._events.append((round(at_ns), 0, event))

    def draw(self) -> str:
        """Draws all that slices() took.

        Returns a sentence that says what was left out; an empty one if nothing was.
        """
        rows, self._rows = self._rows, []
        lengths = np.sort(np.concatenate([np.empty(0, np.int64), *(row[2] - row[1] for row in rows)]))
        total = len(lengths)
        least_ns = int(lengths[-self._most]) if total > self._most else 0
        drawn = 0
        for place, begin, end, tell in rows:
            wanted = end - begin >= least_ns
            for first, last in self._kept:
                wanted |= (begin < last) & (end > first)
            for number in np.flatnonzero(wanted).tolist():
                name, facts = tell(number)
                self._add_slice(place, name, int(begin[number]), int(end[number]), facts)
                drawn += 1
        if drawn == total:
            return ""
        left_out = f"{total - drawn:,} of {total:,} slices, shorter than {least_ns / _NS_PER_US:,.3f} µs"
        return f"The timeline leaves out {left_out}."

    def document(self) -> dict[str, Any]:
        """The whole file, events in the order of time, what lasts longer first."""
        self.draw()

        def named(what: str, pid: int, tid: int, **facts: object) -> dict[str, object]:
            return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": facts}

        names = [named("process_name", pid, 0, name=name) for name, pid in self._groups.items()]
        for (group, track), tid in self._tracks.items():
            names.append(named("thread_name", self._groups[group], tid, name=track))
            names.append(named("thread_sort_index", self._groups[group], tid, sort_index=tid))
        ordered = sorted(self._events, key=lambda event: event[:2])
        # The shortest decimal has three places or fewer up to 2^53 ns, 104 days.
        events = [{**event, "ts": at / _NS_PER_US} for at, _, event in ordered]
        return {"displayTimeUnit": "ns", "traceEvents": [*names, *events]}

    def write(self, path: Path) -> Path:
        """Writes the file, compressed if its name ends in .gz; returns it. Raises WriteError."""
        content = json.dumps(self.document(), separators=(",", ":")).encode()
        # Without a time in its header, equal timelines are equal bytes.
        return write_bytes(path, gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)

    def _add_slice(
        self, place: dict[str, int], name: str, begin: int, end: int, facts: Mapping[str, object]
    ) -> None:
        event = {"ph": "X", "name": name, "dur": (end - begin) / _NS_PER_US, **place, "args": facts}
        self._events.append((begin, begin - end, event))

    def _place(self, group: str, track: str) -> dict[str, int]:
        pid = self._group(group)
        return {"pid": pid, "tid": self._tracks.setdefault((group, track), len(self._tracks) + 1)}

    def _group(self, group: str) -> int:
        return self._groups.setdefault(group, len(self._groups) + 1)
