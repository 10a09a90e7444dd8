"""A capture under way: its pulses and answers are counted as they come, each once."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from base.metrology.quantiles import Summary
from base.metrology.tally import Tally
from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import NS_PER_S, EdgeList
from capture.reading.counter import Kind, WireCounter
from capture.reading.vectorised import Stimuli

RECENT_ROWS = 512
"""Rows that are kept to be drawn."""


class Growing:
    """What a capture has shown so far. `which` edges of STIM and CTRL are stimuli.

    Frames and calibration are counted like the rest: only the end of a capture tells them apart.
    The memory does not grow.
    """

    def __init__(self, which: Stimuli = "both") -> None:
        self._counter = WireCounter(which)
        self._tallies: dict[tuple[Kind, str], Tally] = defaultdict(Tally)
        self._base = 0
        self._rows: EdgeList | None = None
        self._samplerate_hz = NS_PER_S

    @property
    def recent(self) -> tuple[int, EdgeList] | None:
        """The last rows, as a capture that begins at this sample; None before the first."""
        return None if self._rows is None else (self._base, self._rows)

    def add(self, new: NewEdges) -> None:
        """Takes what came since the last time; nothing may lie between."""
        for found in self._counter.add(new):
            if found.kind != "interval":
                self._tallies[found.kind, found.name].add(found.end - found.start)
        self._samplerate_hz = new.samplerate_hz
        self._keep(new)

    def widths_ns(self) -> dict[str, Summary]:
        """Of the pulses that are over, by channel."""
        return self._summaries("width")

    def latencies_ns(self) -> dict[str, Summary]:
        """From a stimulus to its answer, by both names: `STIM to ISR`."""
        return self._summaries("latency")

    def _summaries(self, kind: Kind) -> dict[str, Summary]:
        unit_ns = NS_PER_S / self._samplerate_hz
        return {
            name: tally.counted().summary(unit_ns)
            for (its_kind, name), tally in self._tallies.items()
            if its_kind == kind
        }

    def _keep(self, new: NewEdges) -> None:
        """Keeps the last rows: the first has the levels at the sample that all count from."""
        kept = self._rows
        sample = new.sample if kept is None else np.append(kept.sample + self._base, new.sample)
        word = new.word if kept is None else np.append(kept.word, new.word)
        sample, word = sample[-RECENT_ROWS:], word[-RECENT_ROWS:]
        self._base = int(sample[0]) if sample.size else 0
        self._rows = EdgeList(
            sample - self._base, word, new.samplerate_hz, new.end - self._base, new.channels
        )
