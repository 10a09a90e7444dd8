"""A capture of which only windows are kept, around its longest pulses and latencies, while the rest
is counted and forgotten. It takes the place of `edges.stream`.

Once a minute, what is kept so far goes to the disk, so that a run that is killed has it.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from base.files.whole import WriteError
from base.metrology.tally import Tally
from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import MOST_EDGES, EdgeList, Samples, Words
from base.run_folder.folder import KEPT
from base.run_folder.kept import (
    LAST,
    MOST_WINDOW_SAMPLES,
    Kept,
    PinEnd,
    Place,
    Quantity,
    Window,
    window_name,
    write_kept,
)
from base.run_folder.observed import AskedEdges, Keep
from capture.reading.counter import Spans, WireCounter
from capture.reading.observed import ANSWERED, PULSED, USUAL, Questions
from capture.reading.vectorised import Stimuli

NO_ROWS: tuple[Samples, Words] = np.empty(0, np.int64), np.empty(0, np.uint8)
EVERY_S = 60.0
"""Between two times that what is kept goes to the disk."""


@dataclass(frozen=True)
class Keeping:
    """What is to be kept: windows of so much around the `worst` longest of each quantity.

    `which` edges of STIM and CTRL are stimuli.
    """

    worst: int
    around_samples: int
    which: Stimuli = "both"
    questions: Questions = USUAL

    @staticmethod
    def of(keep: Keep | None, samplerate_hz: int, edges: AskedEdges, questions: Questions) -> Keeping | None:
        """In samples; None for all of it. Where nobody says which edges are stimuli, both are: they
        are not looked at twice.
        """
        if keep is None:
            return None
        which = "both" if edges == "auto" else edges
        return Keeping(keep.worst, round(keep.around_s * samplerate_hz), which, questions)


class Keeper:
    """Takes what an EdgeWriter takes. `kept` is what is left of it, at any time, for any thread."""

    def __init__(
        self,
        folder: Path,
        samplerate_hz: int,
        channels: tuple[str, ...],
        asked_samples: int,
        keeping: Keeping,
    ) -> None:
        self._path = folder / KEPT
        self._asked_samples = asked_samples
        self._keeping = keeping
        self._counter = WireCounter(keeping.which, keeping.questions)
        self._tallies: dict[Quantity, Tally] = defaultdict(Tally)
        self._windows = WorstWindows(keeping.worst, keeping.around_samples)
        self._last = NewEdges(*NO_ROWS, samplerate_hz, 0, 0, channels)
        self._lock = threading.Lock()
        self._unseen: list[NewEdges] | None = None
        self._over = threading.Event()
        self._storing = threading.Thread(target=self._store, name="keeper", daemon=True)
        self._storing.start()

    def append(self, sample: Samples, word: Words, total_samples: int) -> None:
        """Takes the rows, of an EdgeList, that came up to a total of `total_samples` samples."""
        with self._lock:
            last = self._last
            new = NewEdges(sample, word, last.samplerate_hz, last.end, total_samples, last.channels)
            spans = self._counter.add(new)
            for kind, name, start, end in spans:
                self._tallies[kind, name].add(end - start)
            unfinished = [*self._counter.since.values(), *self._counter.waiting.values()]
            self._windows.add(new, spans, unfinished)
            self._last = new
            if self._unseen is not None:
                self._unseen.append(new)

    def check_room(self) -> None:
        """Nothing grows."""

    def close(self) -> None:
        """Nothing goes to the disk from now on."""
        self._over.set()
        self._storing.join()

    def more(self) -> NewEdges | None:
        """What came since the last look; None if nothing did. The first look begins it."""
        with self._lock:
            parts, self._unseen = self._unseen, []
        if not parts:
            return None
        return replace(
            parts[-1],
            sample=np.concatenate([part.sample for part in parts]),
            word=np.concatenate([part.word for part in parts]),
            begin=parts[0].begin,
        )

    @property
    def kept(self) -> Kept:
        """What is kept of what came so far."""
        with self._lock:
            last, counter = self._last, self._counter
            since, word = counter.since, counter.word or 0
            return Kept(
                samplerate_hz=last.samplerate_hz,
                total_samples=last.end,
                asked_samples=self._asked_samples,
                channels=last.channels,
                worst=self._keeping.worst,
                around_samples=self._keeping.around_samples,
                pins={
                    name: PinEnd(edges=counter.edges[name], high=bool(word >> bit & 1), since=since.get(name))
                    for bit, name in enumerate(last.channels)
                },
                counted={quantity: tally.counted for quantity, tally in self._tallies.items()},
                merged=counter.merged,
                waiting=counter.waiting,
                windows=tuple(self._windows.windows(last)),
            )

    def _store(self) -> None:
        """Beside the capture: an analyzer's samples do not wait for a disk."""
        while not self._over.wait(EVERY_S):
            with suppress(WriteError):  # the end of the run tells of a disk that takes nothing
                write_kept(self._path, self.kept)


MOST_RECENT_ROWS = 1 << 20
"""That are held for what is not over yet: 9 MiB."""
_SETS = len(PULSED) + len(ANSWERED)


@dataclass
class _Candidate:
    """One of the longest so far, and its window as soon as all of that came."""

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
        self._sample, self._word = NO_ROWS
        self._best: dict[Quantity, list[_Candidate]] = defaultdict(list)

    def add(self, new: NewEdges, spans: Iterable[Spans], unfinished: Iterable[int]) -> None:
        """Takes the next part, what was over in it, and where that began which is not over yet."""
        self._sample, self._word = np.append(self._sample, new.sample), np.append(self._word, new.word)
        for kind, name, start, end in spans:
            if kind != "interval":
                longest = np.argsort(start - end, kind="stable")[: self._worst]
                best = self._best[kind, name]
                best += map(_Candidate, start[longest].tolist(), end[longest].tolist())
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
        last = (LAST, LAST), [_Candidate(new.end, new.end)]
        for (kind, of), candidates in [*self._best.items(), last]:
            for rank, candidate in enumerate(candidates, 1):
                start, end = candidate.start, candidate.end
                begin, sample, word = candidate.rows or self._cut(start, end, new.end)
                until = min(end + self._around, new.end)
                yield Window(
                    Place(
                        name=LAST if kind == LAST else window_name(of, rank),
                        kind=kind,
                        of=of,
                        rank=rank,
                        start=start,
                        end=end,
                        begin=begin,
                        until=until,
                        cut=begin > max(start - self._around, 0),
                    ),
                    EdgeList(sample - begin, word, new.samplerate_hz, until - begin, new.channels),
                )

    def _waiting(self) -> list[_Candidate]:
        return [candidate for best in self._best.values() for candidate in best if candidate.rows is None]

    def _cut(self, start: int, end: int, total: int) -> tuple[int, Samples, Words]:
        """From when on the rows of a window are there, and the rows, the first at that sample."""
        until = min(end + self._around, total)
        begin = max(start - self._around, until - MOST_WINDOW_SAMPLES, 0)
        first = max(int(np.searchsorted(self._sample, begin, "right")) - 1, 0)
        last = int(np.searchsorted(self._sample, until)) if begin < until else first
        rows = slice(max(first, last - self._most_rows), last)
        sample = np.maximum(self._sample[rows], begin)
        return (int(sample[0]) if sample.size else until), sample, self._word[rows]
