"""Windows around the longest pulses and latencies of a capture, while the rest is forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import MOST_EDGES, EdgeList, Samples, Words
from base.run_folder.kept import LAST, MOST_WINDOW_SAMPLES, Place, Quantity, Window, window_name
from capture.reading.counter import Found
from capture.reading.observed import ANSWERED, PULSED

MOST_RECENT_ROWS = 1 << 20
"""That are held for what is not over yet: 9 MiB."""
_SETS = len(PULSED) + len(ANSWERED)


@dataclass
class _Candidate:
    """One of the longest so far, and its window as soon as all of that came."""

    quantity: Quantity
    start: int
    end: int
    rows: tuple[int, Samples, Words] | None = None


class WorstWindows:
    """Keeps a window around each of the `worst` longest of every width and latency.

    A window reaches `around` samples to either side. Of two of one length the first counts as the
    longer one. The memory does not grow: all windows together have at most MOST_EDGES rows.
    """

    def __init__(self, worst: int, around: int, most_recent_rows: int = MOST_RECENT_ROWS) -> None:
        self._worst = worst
        self._around = around
        self._most_rows = MOST_EDGES // (_SETS * worst + 1)
        self._most_recent_rows = most_recent_rows
        self._sample, self._word = np.empty(0, np.int64), np.empty(0, np.uint8)
        self._best: dict[Quantity, list[_Candidate]] = {}

    def add(self, new: NewEdges, spans: Iterable[Found], unfinished: Iterable[int]) -> None:
        """Takes the next part, what was over in it, and where that began which is not over yet."""
        self._sample, self._word = np.append(self._sample, new.sample), np.append(self._word, new.word)
        for span in spans:
            if span.kind == "interval":
                continue
            best = self._best.setdefault((span.kind, span.name), [])
            lengths = span.end - span.start
            floor = best[-1].end - best[-1].start if len(best) == self._worst else 0
            longer = np.flatnonzero(lengths > floor)
            longer = longer[np.argsort(-lengths[longer], kind="stable")[: self._worst]]
            for number in longer.tolist():
                start, end = int(span.start[number]), int(span.end[number])
                best.append(_Candidate((span.kind, span.name), start, end))
            best.sort(key=lambda candidate: (candidate.start - candidate.end, candidate.start))
            del best[self._worst :]
        for candidate in self._waiting():
            if candidate.end + self._around <= new.end:
                candidate.rows = self._cut(candidate.start, candidate.end, new.end)
        begins = [*unfinished, *(candidate.start for candidate in self._waiting()), new.end]
        # The last row before what is needed tells the levels there.
        first = int(np.searchsorted(self._sample, min(begins) - self._around, "right")) - 1
        first = max(first, self._sample.size - self._most_recent_rows, 0)
        self._sample, self._word = self._sample[first:], self._word[first:]

    def windows(self, new: NewEdges) -> Iterator[Window]:
        """All of them, as after the last part; the last is that at the end of the capture."""
        for (_, of), best in self._best.items():
            for rank, candidate in enumerate(best, 1):
                yield self._window(new, window_name(of, rank), rank, candidate)
        yield self._window(new, LAST, 1, _Candidate((LAST, LAST), new.end, new.end))

    def _waiting(self) -> list[_Candidate]:
        return [candidate for best in self._best.values() for candidate in best if candidate.rows is None]

    def _cut(self, start: int, end: int, total: int) -> tuple[int, Samples, Words]:
        """From when on the rows of a window are there, and the rows, the first at that sample."""
        until = min(end + self._around, total)
        begin = max(start - self._around, until - MOST_WINDOW_SAMPLES, 0)
        first = max(int(np.searchsorted(self._sample, begin, "right")) - 1, 0)
        last = int(np.searchsorted(self._sample, until)) if begin < until else first
        sample = np.maximum(self._sample[first:last][-self._most_rows :], begin)
        return (int(sample[0]) if sample.size else until), sample, self._word[first:last][-self._most_rows :]

    def _window(self, new: NewEdges, name: str, rank: int, candidate: _Candidate) -> Window:
        start, end = candidate.start, candidate.end
        begin, sample, word = candidate.rows or self._cut(start, end, new.end)
        until = min(end + self._around, new.end)
        place = Place(
            name=name,
            kind=candidate.quantity[0],
            of=candidate.quantity[1],
            rank=rank,
            start=start,
            end=end,
            begin=begin,
            until=until,
            cut=begin > max(start - self._around, 0),
        )
        edges = EdgeList(sample - begin, word, new.samplerate_hz, until - begin, new.channels)
        return Window(place, edges)
