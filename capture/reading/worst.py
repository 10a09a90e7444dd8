"""Windows around the longest pulses and latencies of a capture, while the rest is forgotten."""

from __future__ import annotations

from collections import deque
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
_NO_ROWS = np.empty(0, np.int64), np.empty(0, np.uint8)
_SETS = len(PULSED) + len(ANSWERED)


class _Recent:
    """The last rows of the capture; what came before them is forgotten."""

    def __init__(self, most_rows: int) -> None:
        self._most_rows = most_rows
        self._blocks: deque[tuple[Samples, Words]] = deque()
        self._rows = 0
        self._before: tuple[int, int] | None = None

    def add(self, sample: Samples, word: Words) -> None:
        if sample.size:
            self._blocks.append((sample, word))
            self._rows += sample.size

    def forget(self, needed: int) -> None:
        """Lets blocks go that end before sample `needed`, and the first of too many."""
        while len(self._blocks) > 1:
            sample, word = self._blocks[0]
            if sample[-1] >= needed and self._rows <= self._most_rows:
                return
            self._before = int(sample[-1]), int(word[-1])
            self._rows -= sample.size
            self._blocks.popleft()

    def cut(self, begin: int, until: int, most_rows: int) -> tuple[int, Samples, Words]:
        """From when on the rows of a window are there, and the rows, the first at that sample."""
        sample, word = self._within(begin, until) if begin < until else _NO_ROWS
        if sample.size and sample[0] < begin:
            first = int(np.searchsorted(sample, begin, side="right")) - 1
            sample, word = sample[first:], word[first:]
            sample[0] = begin
        sample, word = sample[-most_rows:].copy(), word[-most_rows:].copy()
        return (int(sample[0]) if sample.size else until), sample, word

    def _within(self, begin: int, until: int) -> tuple[Samples, Words]:
        """The rows before `until` of all blocks that reach to `begin`, and the row before these."""
        samples, words = [np.empty(0, np.int64)], [np.empty(0, np.uint8)]
        before = self._before
        for sample, word in self._blocks:
            if sample[0] >= until:
                break
            if sample[-1] < begin:
                before = int(sample[-1]), int(word[-1])
            else:
                samples.append(sample)
                words.append(word)
        if before is not None:
            samples.insert(0, np.array([before[0]]))
            words.insert(0, np.array([before[1]], np.uint8))
        all_samples = np.concatenate(samples)
        last = int(np.searchsorted(all_samples, until))
        return all_samples[:last], np.concatenate(words)[:last]


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
        self._recent = _Recent(most_recent_rows)
        self._best: dict[Quantity, list[_Candidate]] = {}

    def add(self, new: NewEdges, spans: Iterable[Found], unfinished: Iterable[int]) -> None:
        """Takes the next part, what was over in it, and where that began which is not over yet."""
        self._recent.add(new.sample, new.word)
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
        self._recent.forget(min(begins) - self._around)

    def windows(self, new: NewEdges) -> Iterator[Window]:
        """All of them, as after the last part; the last is that at the end of the capture."""
        for (_, of), best in self._best.items():
            for rank, candidate in enumerate(best, 1):
                yield self._window(new, window_name(of, rank), rank, candidate)
        yield self._window(new, LAST, 1, _Candidate((LAST, LAST), new.end, new.end))

    def _waiting(self) -> list[_Candidate]:
        return [candidate for best in self._best.values() for candidate in best if candidate.rows is None]

    def _cut(self, start: int, end: int, total: int) -> tuple[int, Samples, Words]:
        until = min(end + self._around, total)
        begin = max(start - self._around, until - MOST_WINDOW_SAMPLES, 0)
        return self._recent.cut(begin, until, self._most_rows)

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
