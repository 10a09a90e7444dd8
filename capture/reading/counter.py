"""A wire that is read in parts: every pulse and answer is found once, however it is cut, and
counted as it comes.

What is carried from a part to the next is a few numbers a channel. So the memory does not grow, and
what is found is what one look at the whole capture finds (capture/reading/vectorised.py)."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np

from base.metrology.summaries import Summary
from base.metrology.tally import Tally
from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import NOT, EdgeList, Samples, Transitions
from capture.reading.observed import USUAL, Counts, Pair, Questions, Summaries, named
from capture.reading.vectorised import Stimuli, asked_by, late_samples, waits
from capture.reading.wire import END_FRAME_TICKS, FRAME_EDGES, FRAME_TOLERANCE, START_FRAME_TICKS, trains
from firmware.build import boards

Kind = Literal["width", "interval", "latency"]


class Spans(NamedTuple):
    """What was over within a part: from `start` to `end`, int64[n] each.

    A `width` is that of a pulse of the channel `name`, an `interval` from one's begin to the
    next's, a `latency` that of `STIM to ISR` or another pair.
    """

    kind: Kind
    name: str
    start: Samples
    end: Samples


def _no_samples() -> Samples:
    return np.empty(0, np.int64)


@dataclass
class _Pulses:
    """The pulses of a channel: when the one under way began, and the last that is over; nothing
    where there is none.
    """

    since: Samples = field(default_factory=_no_samples)
    before: Samples = field(default_factory=_no_samples)

    def take(self, name: str, moved: Transitions, was_high: bool) -> list[Spans]:
        """Those that are over now, and from each begin to the next."""
        rises, falls = moved.sample[moved.level], moved.sample[~moved.level]
        if was_high and not self.since.size:  # it was high when the capture began
            falls = falls[1:]
        array = np.append(self.since, rises)
        start, self.since = array[: falls.size], array[falls.size :]
        begins = np.append(self.before, start)
        self.before = begins[-1:]
        return [Spans("width", name, start, falls), Spans("interval", name, begins[:-1], begins[1:])]


@dataclass
class _Answers:
    """The stimuli that the next answer may be for, and how many were merged so far.

    The first of them waits, or `late` is true: then it was merged into the wait before, unless an
    answer comes next. Of those that are merged into a wait the last is enough.
    """

    stimuli: Samples = field(default_factory=_no_samples)
    late: bool = False
    merged: int = 0

    def take(self, array: Samples, rises: Samples, late: int) -> tuple[Samples, Samples]:
        """Where the waits began that are over now, and their answers."""
        if not array.size and not rises.size:
            return array, rises
        if self.late and rises.size and not (array.size and array[0] < rises[0]):
            self.merged -= 1
        elif self.late:
            self.stimuli = self.stimuli[:0]
        stimuli = np.append(self.stimuli, array)
        counted = max(self.stimuli.size - 1, 0)
        answered = waits(stimuli, rises, late)
        self.merged += int(answered.merged.sum()) - counted
        self.late = answered.late
        self.stimuli = stimuli[-1:] if self.late else stimuli[:0]
        if answered.open:
            self.merged += answered.open.merged
            self.stimuli = stimuli[[-1 - answered.open.merged, -1]] if answered.open.merged else stimuli[-1:]
        return answered.stimulus, answered.answer


@dataclass
class WireCounter:
    """Takes the parts of a capture in their order. `which` edges of STIM and CTRL are stimuli.

    `edges` counts those of each channel, and `word` has the levels at the end of what came, None
    before. Frames and calibration are taken for the program's.
    """

    which: Stimuli = "both"
    questions: Questions = USUAL
    edges: Counter[str] = field(default_factory=Counter)
    word: int | None = None
    _pulses: dict[str, _Pulses] = field(default_factory=lambda: defaultdict(_Pulses))
    _answers: dict[Pair, _Answers] = field(default_factory=lambda: defaultdict(_Answers))

    def add(self, new: NewEdges) -> list[Spans]:
        """Takes the next part; what was over in it."""
        if not new.word.size:
            return []
        pulsed, pairs = self.questions.among(new.channels)
        names = {*new.channels, *pulsed, *chain(*pairs)}
        moved = {name: self.transitions(new, name) for name in names}
        before = int(new.word[0]) if self.word is None else self.word
        spans = []
        for name in pulsed:
            bit = new.channels.index(name.removeprefix(NOT))
            was_high = bool(before >> bit & 1) != name.startswith(NOT)
            spans += self._pulses[name].take(name, moved[name], was_high)
        for pair in pairs:
            stimulus, answer = (moved[name] for name in pair)
            late = late_samples(pair[1], new.samplerate_hz)
            rises = answer.sample[answer.level]
            took = self._answers[pair].take(asked_by(stimulus, self.which), rises, late)
            spans.append(Spans("latency", named(pair), *took))
        self.edges.update({name: moved[name].sample.size for name in new.channels})
        self.word = int(new.word[-1])
        return spans

    def transitions(self, new: NewEdges, name: str) -> Transitions:
        """The edges of a channel in the next part; of `!nIRQ` with the other level."""
        words = np.append(new.word[0] if self.word is None else np.uint8(self.word), new.word)
        level = (words >> new.channels.index(name.removeprefix(NOT)) & 1 != 0) != name.startswith(NOT)
        changed = level[1:] != level[:-1]
        return Transitions(new.sample[changed], level[1:][changed])

    @property
    def since(self) -> Counts:
        """Where the pulse under way began, of the channels that have one."""
        return {name: int(pulses.since[0]) for name, pulses in self._pulses.items() if pulses.since.size}

    @property
    def waiting(self) -> Counts:
        """Where the waits began that are not over, by pair."""
        return {
            named(pair): int(answers.stimuli[0])
            for pair, answers in self._answers.items()
            if answers.stimuli.size and not answers.late
        }

    @property
    def merged(self) -> Counts:
        """Stimuli that came while an earlier one waited, by pair."""
        return {named(pair): answers.merged for pair, answers in self._answers.items()}


# A capture under way: its pulses and answers are counted as they come, each once.


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
        self, which: Stimuli = "both", tick_hz: int | None = None, questions: Questions = USUAL
    ) -> None:
        self.recent: tuple[int, EdgeList] | None = None
        """The last rows, as a capture that begins at this sample; None before the first."""
        self._tick_hz = tick_hz or boards.default().core_hz
        self._counter = WireCounter(which, questions)
        self._tallies: dict[tuple[Kind, str], Tally] = defaultdict(Tally)
        self._cut: Counts = {}
        self._sync = Transitions(_no_samples(), np.empty(0, np.bool_))
        self._frame_end, self._first, self._after = -1, 0, _NEVER

    def add(self, new: NewEdges) -> None:
        """Takes what came since the last time; nothing may lie between."""
        if "SYNC" in new.channels and new.word.size:
            self._bound(new)
        for kind, name, start, end in self._counter.add(new):
            if kind != "interval":
                inside = (start >= self._first) & (start < self._after)
                if kind == "latency":  # what is behind the frame is no answer
                    beyond = inside & (end >= self._after)
                    self._cut.update((name, at) for at in start[beyond][:1].tolist())
                    inside &= ~beyond
                self._tallies[kind, name].add((end - start)[inside])
        sample, word = new.sample, new.word
        if self.recent:
            base, rows = self.recent
            sample, word = np.append(rows.sample + base, sample), np.append(rows.word, word)
        # The first of the rows has the levels at the sample that all count from.
        sample, word = sample[-RECENT_ROWS:], word[-RECENT_ROWS:]
        base = int(sample[0]) if sample.size else 0
        self.recent = base, EdgeList(sample - base, word, new.samplerate_hz, new.end - base, new.channels)

    def widths_ns(self) -> Summaries:
        """Of the pulses that are over, by channel."""
        return self._summaries("width")

    def latencies_ns(self) -> Summaries:
        """From a stimulus to its answer, by both names: `STIM to ISR`. A wait that is not over
        counts where it is the longest so far.
        """
        summaries = self._summaries("latency")
        if self.recent is None:
            return summaries
        base, rows = self.recent
        for name, since in (self._counter.waiting | self._cut).items():
            lasted_ns = (min(base + rows.total_samples, self._after) - since) * rows.sample_ns
            if self._first <= since < self._after and lasted_ns > (summaries.get(name, _NOTHING).max or 0):
                summaries[name] = summaries.get(name, _NOTHING).waiting(lasted_ns)
        return summaries

    def _summaries(self, kind: Kind) -> Summaries:
        sample_ns = self.recent[1].sample_ns if self.recent else 0.0
        return {
            name: tally.counted.summary(sample_ns)
            for (its_kind, name), tally in self._tallies.items()
            if its_kind == kind
        }

    def _bound(self, new: NewEdges) -> None:
        """Finds the frames that are whole now, and between which samples the program runs."""
        moved = self._counter.transitions(new, "SYNC")
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
