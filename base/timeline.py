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
from functools import cached_property
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

    @cached_property
    def is_flat(self) -> bool:
        """Whether no slice lies within another."""
        return bool(_outermost(self.begin, self.end).all())


@dataclass(frozen=True)
class _Fold:
    """Which slices of a row are drawn one by one, and of the others the number of their group."""

    alone: npt.NDArray[np.bool_]
    group: Times
    groups: int

    @property
    def drawn(self) -> int:
        return int(self.alone.sum()) + self.groups


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
        if not len(begin):
            return
        order = np.lexsort((begin - end, begin))
        place = self._place(group, track)
        self._rows.append(_Row(place, label or track, order, begin[order], end[order], tell))

    def keep(self, begin_ns: float, end_ns: float) -> None:
        """Folds no slice that overlaps this span."""
        self._kept.append((round(begin_ns), round(end_ns)))

    def counter(self, group: str, name: str, at_ns: float, values: Mapping[str, float]) -> None:
        """The `values` of a counter from `at_ns` on."""
        at = round(at_ns)
        self._events.append(
            (at, 0, {"ph": "C", "name": name, "pid": self._group(group), "args": dict(values)})
        )

    def draw(self) -> str:
        """Folds what are too many slices, and draws all that slices() took.

        Returns a sentence that says what was folded; an empty one if nothing was. The timeline has
        it, too.
        """
        width, folds = self._folds()
        rows, self._rows = self._rows, []
        for row, fold in zip(rows, folds, strict=True):
            self._draw(row, fold)
        folded = sum(int((~fold.alone).sum()) for fold in folds)
        if not folded:
            return ""
        every = sum(len(row.begin) for row in rows)
        drawn = sum(fold.groups for fold in folds)
        wide = f"{width // _NS_PER_US:,} µs"
        said = (
            f"{folded:,} of {every:,} slices are shorter than {wide} and folded into {drawn:,}: "
            f"those of a track that begin within the same {wide}."
        )
        first, last = (int(of(ends)) for of, ends in _extremes(rows))
        self._add_slice(self._place(_FOLDED, _FOLDED), said, first, last, {})
        return said

    def document(self) -> dict[str, Any]:
        """The whole file, events in the order of time, what lasts longer first."""
        self.draw()
        names = [_named("process_name", pid, 0, name) for name, pid in self._groups.items()]
        for (group, track), tid in self._tracks.items():
            names.append(_named("thread_name", self._groups[group], tid, track))
            order = {"ph": "M", "name": "thread_sort_index", "pid": self._groups[group], "tid": tid}
            names.append({**order, "args": {"sort_index": tid}})
        ordered = sorted(self._events, key=lambda event: event[:2])
        events = [{**event, "ts": _us(at)} for at, _, event in ordered]
        return {"displayTimeUnit": "ns", "traceEvents": [*names, *events]}

    def write(self, path: Path) -> Path:
        """Writes the file, compressed if its name ends in .gz; returns it. Raises WriteError."""
        content = json.dumps(self.document(), separators=(",", ":")).encode()
        # Without a time in its header, equal timelines are equal bytes.
        return write_bytes(path, gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)

    def _folds(self) -> tuple[int, list[_Fold]]:
        """How to draw each row: with the shortest stretch of time that leaves few enough slices."""
        length = max((int(row.end.max()) for row in self._rows), default=0)
        arrays = [_overlaps(row, self._kept) for row in self._rows]
        rows = list(zip(self._rows, arrays, strict=True))
        for width in _widths():
            last = width > length
            if not last and sum(_least_drawn(row, exact, width) for row, exact in rows) > self._most:
                continue
            folds = [_folded(row, exact, width) for row, exact in rows]
            if last or sum(fold.drawn for fold in folds) <= self._most:
                break
        return width, folds

    def _draw(self, row: _Row, fold: _Fold) -> None:
        for at in np.flatnonzero(fold.alone).tolist():
            name, facts = row.tell(int(row.number[at]))
            self._add_slice(row.place, name, int(row.begin[at]), int(row.end[at]), facts)
        inside = ~fold.alone
        begin, end, group = row.begin[inside], row.end[inside], fold.group[inside]
        firsts = np.flatnonzero(np.diff(group, prepend=-1))
        if not firsts.size:
            return
        counts = np.diff(firsts, append=len(group))
        columns = (begin[firsts], np.maximum.reduceat(end, firsts), counts)
        longest = np.maximum.reduceat(end - begin, firsts)
        covered = np.add.reduceat(_covered(begin, end), firsts)
        every = (column.tolist() for column in (*columns, longest, covered))
        for first, last, count, most_ns, total_ns in zip(*every, strict=True):
            facts = {"folded": count, "longest_ns": most_ns, "total_ns": total_ns}
            self._add_slice(row.place, f"{count:,} × {row.label}", first, last, facts)

    def _add_slice(
        self, place: dict[str, int], name: str, begin: int, end: int, facts: Mapping[str, object]
    ) -> None:
        event = {"ph": "X", "name": name, "dur": _us(end - begin), **place, "args": facts}
        self._events.append((begin, begin - end, event))

    def _place(self, group: str, track: str) -> dict[str, int]:
        pid = self._group(group)
        return {"pid": pid, "tid": self._tracks.setdefault((group, track), len(self._tracks) + 1)}

    def _group(self, group: str) -> int:
        return self._groups.setdefault(group, len(self._groups) + 1)


def _widths() -> Iterator[int]:
    """0, 1, 2, 5, 10, 20 … µs, in nanoseconds."""
    yield 0
    scale = _NS_PER_US
    while True:
        yield from (scale, 2 * scale, 5 * scale)
        scale *= 10


def _overlaps(row: _Row, spans: list[tuple[int, int]]) -> npt.NDArray[np.bool_]:
    """Which slices of a row overlap one of these spans."""
    begin = np.sort([first for first, _ in spans])
    end = np.sort([last for _, last in spans])
    # So many have begun before its end, and so many are over by its begin.
    array: npt.NDArray[np.bool_] = np.searchsorted(begin, row.end) > np.searchsorted(
        end, row.begin, side="right"
    )
    return array


def _folded(row: _Row, overlapping: npt.NDArray[np.bool_], width: int) -> _Fold:
    """The fold of a row's slices shorter than `width` that begin in the same stretch so long.

    What is `overlapping` or has something within it that stays alone stays alone, too, and parts
    the groups around it. So groups and slices lie within each other or apart, as the slices did.
    """
    exact = overlapping | (row.end - row.begin >= width)
    begins = row.begin[exact]
    exact |= np.searchsorted(begins, row.end) > np.searchsorted(begins, row.begin)
    cuts = np.sort(np.concatenate([row.begin[exact], row.end[exact]]), kind="stable")
    begin, end = row.begin[~exact], row.end[~exact]
    outer = _outermost(begin, end)
    stretch = (begin[outer] // max(width, 1))[np.cumsum(outer) - 1]
    key = np.stack([stretch, np.searchsorted(cuts, begin, side="right")])
    new = np.ones(len(begin), dtype=bool)
    new[1:] = (key[:, 1:] != key[:, :-1]).any(axis=0)
    number = np.cumsum(new) - 1
    lonely = np.bincount(number, minlength=1)[number] == 1
    group = np.full(len(exact), -1, dtype=np.int64)
    group[~exact] = np.where(lonely, -1, number)
    return _Fold(group < 0, group, int((new & ~lonely).sum()))


def _least_drawn(row: _Row, overlapping: npt.NDArray[np.bool_], width: int) -> int:
    """_folded() of these draws no fewer slices, and takes much longer to say how many."""
    exact = overlapping | (row.end - row.begin >= width)
    least = int(exact.sum())
    if row.is_flat:
        stretches = row.begin[~exact] // max(width, 1)
        least += int(np.count_nonzero(np.diff(stretches, prepend=-1)))
    return least


def _outermost(begin: Times, end: Times) -> npt.NDArray[np.bool_]:
    """Which of these slices lie in none before them."""
    outer = np.ones(len(begin), dtype=bool)
    outer[1:] = begin[1:] >= np.maximum.accumulate(end)[:-1]
    return outer


def _covered(begin: Times, end: Times) -> Times:
    """The length of each slice, 0 of one that lies in another: what they cover together."""
    return np.where(_outermost(begin, end), end - begin, 0)


def _extremes(rows: list[_Row]) -> Iterator[tuple[Callable[[list[int]], int], list[int]]]:
    yield min, [int(row.begin.min()) for row in rows]
    yield max, [int(row.end.max()) for row in rows]


def _us(ns: int) -> float:
    """Microseconds; their shortest decimal has three places or fewer up to 2^53 ns, 104 days."""
    return ns / _NS_PER_US


def _named(kind: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}}
