"""A capture on its way to the disk: all of its edges, block by block, or windows of them alone,
while the rest is counted and forgotten.

Once a minute, what is kept so far goes to the disk, so that a run that is killed has it."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from base.files.whole import WriteError
from base.metrology.tally import Tally
from base.run_folder import folder as names
from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import Samples, Words
from base.run_folder.kept import Kept, PinEnd, Quantity, write_kept
from base.run_folder.observed import AskedEdges, Keep
from capture.reading.counter import WireCounter
from capture.reading.observed import Questions
from capture.reading.vectorised import Stimuli
from capture.reading.worst import WorstWindows

EVERY_S = 60.0
"""Between two times that what is kept goes to the disk."""
_NO_EDGES = (np.empty(0, np.int64), np.empty(0, np.uint8))


@dataclass(frozen=True)
class Keeping:
    """What is to be kept: windows of so much around the `worst` longest of each quantity.

    `which` edges of STIM and CTRL are stimuli.
    """

    worst: int
    around_samples: int
    which: Stimuli = "both"
    questions: Questions = field(default_factory=Questions)

    @staticmethod
    def of(keep: Keep, samplerate_hz: int, edges: AskedEdges, questions: Questions) -> Keeping:
        """In samples. Where nobody says which edges are stimuli, both are: they are not looked at
        twice.
        """
        around = round(keep.around_s * samplerate_hz)
        return Keeping(keep.worst, around, "both" if edges == "auto" else edges, questions)


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
        self._path = folder / names.KEPT
        self._asked_samples = asked_samples
        self._keeping = keeping
        self._counter = WireCounter(keeping.which, keeping.questions)
        self._tallies: dict[Quantity, Tally] = defaultdict(Tally)
        self._windows = WorstWindows(keeping.worst, keeping.around_samples)
        self._last = NewEdges(*_NO_EDGES, samplerate_hz, 0, 0, channels)
        self._lock = threading.Lock()
        self._unseen: list[NewEdges] | None = None
        self._stored_s = time.monotonic()

    def append(self, sample: Samples, word: Words, total_samples: int) -> None:
        """Takes the rows, of an EdgeList, that came up to a total of `total_samples` samples."""
        with self._lock:
            last = self._last
            new = NewEdges(sample, word, last.samplerate_hz, last.end, total_samples, last.channels)
            pulses = self._counter.add(new)
            for pulse in pulses:
                self._tallies[pulse.kind, pulse.name].add(pulse.end - pulse.start)
            unfinished = [*self._counter.since.values(), *self._counter.waiting.values()]
            self._windows.add(new, pulses, unfinished)
            self._last = new
            if self._unseen is not None:
                self._unseen.append(new)
        if time.monotonic() - self._stored_s >= EVERY_S:
            self._stored_s = time.monotonic()
            with suppress(WriteError):  # the end of the run tells of a disk that takes nothing
                write_kept(self._path, self.kept)

    def check_room(self) -> None:
        """Nothing grows."""

    def close(self) -> None:
        """Nothing is open."""

    def more(self) -> NewEdges | None:
        """What came since the last look; None if nothing did. The first look begins it."""
        with self._lock:
            parts, self._unseen = self._unseen, []
        if not parts:
            return None
        sample = np.concatenate([part.sample for part in parts])
        word = np.concatenate([part.word for part in parts])
        first, last = parts[0], parts[-1]
        return NewEdges(sample, word, first.samplerate_hz, first.begin, last.end, first.channels)

    @property
    def kept(self) -> Kept:
        """What is kept of what came so far."""
        with self._lock:
            last, counter = self._last, self._counter
            high, since = counter.high(last.channels), counter.since
            return Kept(
                samplerate_hz=last.samplerate_hz,
                total_samples=last.end,
                asked_samples=self._asked_samples,
                channels=last.channels,
                worst=self._keeping.worst,
                around_samples=self._keeping.around_samples,
                pins={
                    name: PinEnd(edges=counter.edges.get(name, 0), high=high[name], since=since.get(name))
                    for name in last.channels
                },
                counted={quantity: tally.counted() for quantity, tally in self._tallies.items()},
                merged=counter.merged,
                waiting=counter.waiting,
                windows=tuple(self._windows.windows(last)),
            )
