"""The Trace Event Format: slices, counters and the names of tracks.

The format is that of "Trace Event Format" (Google, catapult project). Times there are microseconds;
here they have three decimals, so that no nanosecond is lost. Viewers draw a slice below another one
of its track if it lies within it.

Of more slices than a viewer draws with ease, short ones are folded.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .files.whole import write_bytes

_NS_PER_US = 1000
MOST_SLICES = 40_000
"""Of more slices short ones are folded."""
_FOLDED = "folded"

Times = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Tell = Callable[[int], tuple[str, Mapping[str, object]]]


@dataclass(frozen=True)
class _Row:
    """Slices of one track, in the order of their begin, what lasts longer first.

    `number` is that of each slice for `tell`, which gives its name and what is told of it.
    """

    place: dict[str, int]
    label: str
    number: Times
    begin: Times
    end: Times
    tell: Tell

    def overlapping(self, spans: list[tuple[int, int]]) -> Flags:
        """Which slices overlap one of these spans."""
        first, last = np.sort(np.array(spans, dtype=np.int64).reshape(-1, 2), axis=0).T
        # So many have begun before its end, and so many are over by its begin.
        over = np.searchsorted(last, self.begin, side="right")
        return np.asarray(np.searchsorted(first, self.end) > over)

    def groups(self, exact: Flags, width: int) -> Times:
        """For each slice the number of the group that it is folded into, -1 where it is drawn
        alone: of slices that begin in the same stretch so long, unless there is but one.

        What is `exact` or has something exact within it stays alone, and parts the groups around
        it. So groups and slices lie within each other or apart, as the slices did.
        """
        begins = self.begin[exact]
        exact = exact | (np.searchsorted(begins, self.end) > np.searchsorted(begins, self.begin))
        cuts = np.sort(np.concatenate([self.begin[exact], self.end[exact]]), kind="stable")
        begin, end = self.begin[~exact], self.end[~exact]
        outer = _outermost(begin, end)
        stretch = (begin[outer] // max(width, 1))[np.cumsum(outer) - 1]
        key = np.stack([stretch, np.searchsorted(cuts, begin, side="right")])
        number = np.cumsum((np.diff(key, prepend=-1) != 0).any(axis=0)) - 1
        group = np.full(len(exact), -1, dtype=np.int64)
        group[~exact] = np.where(np.bincount(number, minlength=1)[number] == 1, -1, number)
        return group


class Timeline:
    """Tracks in groups, in the order in which they are first named. Times are nanoseconds."""

    def __init__(self, most_slices: int = MOST_SLICES) -> None:
        self._most = most_slices
        self._groups: dict[str, int] = {}
        self._tracks: dict[tuple[str, str], int] = {}
        self._events: list[tuple[int, int, dict[str, Any]]] = []
        self._rows: list[_Row] = []
        self._kept: list[tuple[int, int]] = []

    def slice(
        self, group: str, track: str, name: str, begin_ns: float, end_ns: float, **facts: object
    ) -> None:
        """Something named `name` that lasts from `begin_ns` to `end_ns`, with `facts` of it.

        Slices of a track must lie within each other or apart.
        """
        self._add_slice(self._place(group, track), name, round(begin_ns), round(end_ns), facts)

    def slices(
        self,
        group: str,
        track: str,
        begin_ns: npt.ArrayLike,
        end_ns: npt.ArrayLike,
        tell: Tell,
        *,
        label: str = "",
    ) -> None:
        """All slices of a track, of which `tell` gives each one's name and what is told of it.

        They must lie within each other or apart. Where there are too many, those that are short and
        that keep() does not keep become one for each stretch of time, named by their count and
        `label`, which is the track's if it is empty.
        """
        begin, end = (np.rint(np.asarray(times)).astype(np.int64) for times in (begin_ns, end_ns))
        if len(begin):
            order = np.lexsort((begin - end, begin))
            place = self._place(group, track)
            self._rows.append(_Row(place, label or track, order, begin[order], end[order], tell))

    def keep(self, begin_ns: float, end_ns: float) -> None:
        """Folds no slice that overlaps this span."""
        self._kept.append((round(begin_ns), round(end_ns)))

    def counter(self, group: str, name: str, at_ns: float, values: Mapping[str, float]) -> None:
        """The `values` of a counter from `at_ns` on."""
        event = {"ph": "C", "name": name, "pid": self._group(group), "args": dict(values)}
        self._events.append((round(at_ns), 0, event))

    def draw(self) -> str:
        """Folds what are too many slices, and draws all that slices() took.

        Returns a sentence that says what was folded; an empty one if nothing was. The timeline has
        it, too.
        """
        rows, self._rows = self._rows, []
        length = max((int(row.end.max()) for row in rows), default=0)
        overlapping = [row.overlapping(self._kept) for row in rows]
        # The shortest stretch of time that leaves few enough slices.
        for width in _widths():
            exact = [o | (row.end - row.begin >= width) for row, o in zip(rows, overlapping, strict=True)]
            last = width > length
            if not last and sum(map(np.count_nonzero, exact)) > self._most:
                continue
            folds = [row.groups(array, width) for row, array in zip(rows, exact, strict=True)]
            drawn = [len(np.unique(group[group >= 0])) for group in folds]
            if last or sum(map(np.count_nonzero, (group < 0 for group in folds))) + sum(drawn) <= self._most:
                break
        for row, group in zip(rows, folds, strict=True):
            self._draw(row, group)
        folded = sum(int((group >= 0).sum()) for group in folds)
        if not folded:
            return ""
        wide = f"{width // _NS_PER_US:,} µs"
        said = (
            f"{folded:,} of {sum(map(len, folds)):,} slices are shorter than {wide} and folded into "
            f"{sum(drawn):,}: those of a track that begin within the same {wide}."
        )
        first = min(int(row.begin.min()) for row in rows)
        self._add_slice(self._place(_FOLDED, _FOLDED), said, first, length, {})
        return said

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

    def _draw(self, row: _Row, group: Times) -> None:
        for at in np.flatnonzero(group < 0).tolist():
            name, facts = row.tell(int(row.number[at]))
            self._add_slice(row.place, name, int(row.begin[at]), int(row.end[at]), facts)
        inside = group >= 0
        begin, end = row.begin[inside], row.end[inside]
        firsts = np.flatnonzero(np.diff(group[inside], prepend=-1))
        if not firsts.size:
            return
        columns = (
            begin[firsts],
            np.maximum.reduceat(end, firsts),
            np.diff(firsts, append=len(begin)),
            np.maximum.reduceat(end - begin, firsts),
            # What lies in another covers nothing more.
            np.add.reduceat(np.where(_outermost(begin, end), end - begin, 0), firsts),
        )
        for first, last, number, most_ns, total_ns in zip(*(c.tolist() for c in columns), strict=True):
            facts = {"folded": number, "longest_ns": most_ns, "total_ns": total_ns}
            self._add_slice(row.place, f"{number:,} × {row.label}", first, last, facts)

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


def _widths() -> Iterator[int]:
    """0, 1, 2, 5, 10, 20 … µs, in nanoseconds."""
    yield 0
    for zeros in count():
        yield from (digit * _NS_PER_US * 10**zeros for digit in (1, 2, 5))


def _outermost(begin: Times, end: Times) -> Flags:
    """Which of these slices lie in none before them."""
    outer = np.ones(len(begin), dtype=bool)
    outer[1:] = begin[1:] >= np.maximum.accumulate(end)[:-1]
    return outer
