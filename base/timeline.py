"""The Trace Event Format: slices, counters and the names of tracks.

The format is that of "Trace Event Format" (Google, catapult project). Times there are microseconds;
here they have three decimals, so that no nanosecond is lost. Viewers draw a slice below another one
of its track if it lies within it.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from .files.whole import write_bytes


class Timeline:
    """Tracks in groups, in the order in which they are first named. Times are nanoseconds."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, ...], int] = {}
        self._events: list[dict[str, Any]] = []

    def slice(
        self, group: str, track: str, name: str, begin_ns: float, end_ns: float, **facts: object
    ) -> None:
        """Something named `name` that lasts from `begin_ns` to `end_ns`, with `facts` of it.

        Slices of a track must lie within each other or apart.
        """
        begin, end = round(begin_ns), round(end_ns)
        tid, pid = self._number(group, track), self._number(group)
        times_us = {"dur": (end - begin) / 1000, "ts": begin / 1000}
        self._events.append({"ph": "X", "name": name, "pid": pid, "tid": tid, **times_us, "args": facts})

    def counter(self, group: str, name: str, at_ns: float, value: float) -> None:
        """The value of a counter from `at_ns` on."""
        # The shortest decimal has three places or fewer up to 2^53 ns, 104 days.
        ts, args = round(at_ns) / 1000, {name: value}
        self._events.append({"ph": "C", "name": name, "pid": self._number(group), "ts": ts, "args": args})

    def document(self) -> dict[str, Any]:
        """The whole file, events in the order of time, what lasts longer first."""
        names = []
        for (group, *track), number in self._numbers.items():
            names.append(
                {
                    "ph": "M",
                    "pid": self._numbers[(group,)],
                    "tid": number if track else 0,
                    "name": "thread_name" if track else "process_name",
                    "args": {"name": [group, *track][-1]},
                }
            )
        events = sorted(self._events, key=lambda event: (event["ts"], -event.get("dur", 0)))
        return {"displayTimeUnit": "ns", "traceEvents": [*names, *events]}

    def write(self, path: Path) -> Path:
        """Writes the file, compressed if its name ends in .gz; returns it. Raises WriteError."""
        content = json.dumps(self.document(), separators=(",", ":")).encode()
        # Without a time in its header, equal timelines are equal bytes.
        return write_bytes(path, gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)

    def _number(self, *place: str) -> int:
        return self._numbers.setdefault(place, len(self._numbers) + 1)
