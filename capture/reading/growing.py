"""A capture under way: its pulses and answers are counted as they come, each once."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from base.metrology.summaries import Summary
from base.metrology.tally import Tally
from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import NS_PER_S, EdgeList, Transitions
from capture.reading.counter import Kind, WireCounter, transitions_of
from capture.reading.frames import (
    END_FRAME_TICKS,
    FRAME_EDGES,
    FRAME_TOLERANCE,
    START_FRAME_TICKS,
    trains,
)
from capture.reading.observed import Questions
from capture.reading.vectorised import Stimuli
from firmware.build import boards

RECENT_ROWS = 512
"""Rows that are kept to be drawn."""

_NEVER = np.iinfo(np.int64).max
_NOTHING = Summary(n=0)
_SYNC_EDGES = FRAME_EDGES + 2
"""A frame and an edge on either side, which show that no more edges belong to it."""


class Growing:
    """What a capture has shown so far. `which` edges of STIM and CTRL are stimuli.

    A start frame, made of ticks of `tick_hz`, begins the count anew at the next edge of SYNC; an
    end frame ends it. So calibration is left out. Until a frame comes, everything counts. The
    memory does not grow.
    """

    def __init__(
        self, which: Stimuli = "both", tick_hz: int | None = None, questions: Questions | None = None
    ) -> None:
        self._tick_hz = tick_hz or boards.default().core_hz
        self._sync = Transitions(np.empty(0, np.int64), np.empty(0, np.bool_))
        self._frame_end = -1
        self._first, self._after = 0, _NEVER
        self._counter = WireCounter(which, questions or Questions())
        self._tallies: dict[tuple[Kind, str], Tally] = defaultdict(Tally)
        self._cut: dict[str, int] = {}
        self._base = self._end = 0
        self._rows: EdgeList | None = None
        self._samplerate_hz = NS_PER_S

    @property
    def recent(self) -> tuple[int, EdgeList] | None:
        """The last rows, as a capture that begins at this sample; None before the first."""
        return None if self._rows is None else (self._base, self._rows)

    def add(self, new: NewEdges) -> None:
        """Takes what came since the last time; nothing may lie between."""
        self._bound(new)
        for span in self._counter.add(new):
            if span.kind != "interval":
                inside = (span.start >= self._first) & (span.start < self._after)
                if span.kind == "latency":  # what is behind the frame is no answer
                    beyond = inside & (span.end >= self._after)
                    if beyond.any():
                        self._cut[span.name] = int(span.start[beyond][0])
                    inside &= ~beyond
                self._tallies[span.kind, span.name].add((span.end - span.start)[inside])
        self._samplerate_hz, self._end = new.samplerate_hz, new.end
        self._keep(new)

    def widths_ns(self) -> dict[str, Summary]:
        """Of the pulses that are over, by channel."""
        return self._summaries("width")

    def latencies_ns(self) -> dict[str, Summary]:
        """From a stimulus to its answer, by both names: `STIM to ISR`. A wait that is not over
        counts where it is the longest so far.
        """
        summaries = self._summaries("latency")
        for name, since in (self._counter.waiting | self._cut).items():
            lasted_ns = (min(self._end, self._after) - since) * NS_PER_S / self._samplerate_hz
            if self._first <= since < self._after and lasted_ns > (summaries.get(name, _NOTHING).max or 0):
                summaries[name] = summaries.get(name, _NOTHING).waiting(lasted_ns)
        return summaries

    def _summaries(self, kind: Kind) -> dict[str, Summary]:
        unit_ns = NS_PER_S / self._samplerate_hz
        return {
            name: tally.counted().summary(unit_ns)
            for (its_kind, name), tally in self._tallies.items()
            if its_kind == kind
        }

    def _bound(self, new: NewEdges) -> None:
        """Finds the frames that are whole now, and between which samples the program runs."""
        if "SYNC" not in new.channels or not new.word.size:
            return
        rows = self._rows
        before = int(new.word[0] if rows is None or not rows.word.size else rows.word[-1])
        moved = transitions_of(new, new.channels.index("SYNC"), before)
        sync = Transitions(
            np.append(self._sync.sample, moved.sample), np.append(self._sync.level, moved.level)
        )
        tick = new.samplerate_hz / self._tick_hz
        for start in trains(sync, START_FRAME_TICKS * tick, FRAME_TOLERANCE):
            if start[-1] > self._frame_end:
                self._tallies.clear()
                self._cut.clear()
                self._frame_end, self._first, self._after = int(start[-1]), _NEVER, _NEVER
        toggles = sync.sample[sync.sample > self._frame_end]
        if self._first == _NEVER and toggles.size:
            self._first = int(toggles[0])
        for end in trains(sync, END_FRAME_TICKS * tick, FRAME_TOLERANCE):
            if end[0] > self._frame_end:
                self._after = min(self._after, int(end[0]))
        self._sync = Transitions(sync.sample[-_SYNC_EDGES:], sync.level[-_SYNC_EDGES:])

    def _keep(self, new: NewEdges) -> None:
        """Keeps the last rows: the first has the levels at the sample that all count from."""
        edges = self._rows
        sample = new.sample if edges is None else np.append(edges.sample + self._base, new.sample)
        word = new.word if edges is None else np.append(edges.word, new.word)
        sample, word = sample[-RECENT_ROWS:], word[-RECENT_ROWS:]
        self._base = int(sample[0]) if sample.size else 0
        self._rows = EdgeList(
            sample - self._base, word, new.samplerate_hz, new.end - self._base, new.channels
        )
