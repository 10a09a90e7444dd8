"""A capture under way: its pulses and answers are counted as they come, each once."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from base.metrology.quantiles import Summary, summarise
from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import EdgeList, Samples
from capture.reading.observed import ANSWERED, PULSED, named
from capture.reading.vectorised import Stimuli, pulses, responses

RECENT_ROWS = 512
"""Rows that are kept to be drawn."""
MOST_ROWS = 1 << 18
"""That are kept for a pulse or a stimulus that is not over: a pin that stays high ends it there."""


class Growing:
    """What a capture has shown so far. `which` edges of STIM and CTRL are stimuli.

    Frames and calibration are counted like the rest: only the end of a capture tells them apart.
    """

    def __init__(self, which: Stimuli = "both") -> None:
        self._which = which
        self._base = 0
        self._seen = 0
        self._rows: EdgeList | None = None
        self._widths: dict[str, list[Samples]] = defaultdict(list)
        self._waits: dict[tuple[str, str], list[Samples]] = defaultdict(list)

    @property
    def recent(self) -> tuple[int, EdgeList] | None:
        """The last rows, as a capture that begins at this sample; None before the first."""
        return None if self._rows is None else (self._base, self._rows)

    def add(self, new: NewEdges) -> None:
        """Takes what came since the last time; nothing may lie between."""
        rows = self._joined(new)
        first = self._seen - self._base  # what was over before it is counted already
        open_since = [rows.total_samples]
        for name in _among(PULSED, new):
            train = pulses(rows, name)
            self._widths[name].append(train.width[train.end >= first])
            open_since += _last_rise(rows, name)
        for pair in ANSWERED:
            if set(pair) <= set(new.channels):
                found = responses(rows, *pair, self._which)
                over = found.answer_sample >= first
                self._waits[pair].append(found.answer_sample[over] - found.stimulus_sample[over])
                waiting = found.stimulus_sample[(found.answer_sample < 0) & ~found.missed]
                open_since += waiting.tolist()
        self._seen = new.end
        self._keep(rows, min(open_since))

    def widths_ns(self) -> dict[str, Summary]:
        """Of the pulses that are over, by channel."""
        return {name: self._summary(pieces) for name, pieces in self._widths.items()}

    def latencies_ns(self) -> dict[str, Summary]:
        """From a stimulus to its answer, by both names: `STIM to ISR`."""
        return {named(pair): self._summary(pieces) for pair, pieces in self._waits.items()}

    def _summary(self, pieces: list[Samples]) -> Summary:
        assert self._rows is not None
        return summarise(_joined_pieces(pieces) * self._rows.sample_ns)

    def _joined(self, new: NewEdges) -> EdgeList:
        """The kept rows with the new ones behind them, counted from `_base`."""
        kept = self._rows
        samples = [] if kept is None else [kept.sample]
        words = [] if kept is None else [kept.word]
        return EdgeList(
            np.concatenate([*samples, new.sample - self._base]),
            np.concatenate([*words, new.word]),
            new.samplerate_hz,
            new.end - self._base,
            new.channels,
        )

    def _keep(self, rows: EdgeList, needed: int) -> None:
        """Keeps the rows from before sample `needed` on, and at least the recent ones.

        The row before is kept, too: an edge shows only against it.
        """
        size = rows.sample.size
        first = min(int(np.searchsorted(rows.sample, needed)) - 1, size - RECENT_ROWS)
        first = max(first, 0, size - MOST_ROWS)
        begin = int(rows.sample[first]) if size else 0
        self._base += begin
        self._rows = EdgeList(
            rows.sample[first:] - begin,
            rows.word[first:],
            rows.samplerate_hz,
            rows.total_samples - begin,
            rows.channels,
        )


def _among(names: tuple[str, ...], new: NewEdges) -> list[str]:
    return [name for name in names if name in new.channels]


def _last_rise(rows: EdgeList, channel: str) -> list[int]:
    """Where the pulse under way began; none if there is no such pulse."""
    transitions = rows.transitions(channel)
    high = transitions.sample.size and transitions.level[-1]
    return [int(transitions.sample[-1])] if high else []


def _joined_pieces(pieces: list[Samples]) -> Samples:
    """All values; they are one piece from then on."""
    pieces[:] = [np.concatenate([np.empty(0, np.int64), *pieces])]
    return pieces[0]
