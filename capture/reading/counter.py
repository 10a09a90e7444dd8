"""A wire that is read in parts: every pulse and answer is found once, however it is cut, and
counted as it comes.

What is carried from a part to the next is a few numbers a channel. So the memory does not grow, and
what is found is what one look at the whole capture finds (capture/reading/vectorised.py)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from base.metrology.summaries import Summary
from base.metrology.tally import Tally
from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import NOT, NS_PER_S, EdgeList, Samples, Transitions
from capture.reading.observed import Questions, named
from capture.reading.vectorised import Stimuli, asked_by, late_samples, waits
from capture.reading.wire import END_FRAME_TICKS, FRAME_EDGES, FRAME_TOLERANCE, START_FRAME_TICKS, trains
from firmware.build import boards

Kind = Literal["width", "interval", "latency"]


class Found(NamedTuple):
    """What was over within a part: from `start` to `end`, int64[n] each.

    A `width` is that of a pulse of the channel `name`, an `interval` from one's begin to the
    next's, a `latency` that of `STIM to ISR` or another pair.
    """

    kind: Kind
    name: str
    start: Samples
    end: Samples


@dataclass
class _Pulses:
    """The pulses of a channel: when the one under way began, and the last that is over."""

    since: int | None = None
    before: int | None = None

    def take(self, moved: Transitions, was_high: bool) -> tuple[Samples, Samples]:
        """Begins and ends of those that are over now."""
        rises, falls = moved.sample[moved.level], moved.sample[~moved.level]
        if was_high and self.since is None:  # it was high when the capture began
            falls = falls[1:]
        array = rises if self.since is None else np.append(self.since, rises)
        self.since = int(array[-1]) if array.size > falls.size else None
        return array[: falls.size], falls

    def take_begins(self, start: Samples) -> tuple[Samples, Samples]:
        """From each begin to the next."""
        begins = start if self.before is None else np.append(self.before, start)
        if begins.size:
            self.before = int(begins[-1])
        return begins[:-1], begins[1:]


@dataclass
class _Answers:
    """The stimuli that the next answer may be for, and how many were merged so far.

    The first of them waits, or `late` is true: then it was merged into the wait before, unless an
    answer comes next. Of those that are merged into a wait the last is enough.
    """

    stimuli: Samples = field(default_factory=lambda: np.empty(0, np.int64))
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
        self.late = answered.late is not None
        self.stimuli = stimuli[-1:] if self.late else stimuli[:0]
        if answered.open:
            self.merged += answered.open.merged
            self.stimuli = stimuli[[-1 - answered.open.merged, -1]] if answered.open.merged else stimuli[-1:]
        return answered.stimulus, answered.answer

    @property
    def since(self) -> int | None:
        """Where the wait that is not over began."""
        return int(self.stimuli[0]) if self.stimuli.size and not self.late else None


@dataclass
class WireCounter:
    """Takes the parts of a capture in their order. `which` edges of STIM and CTRL are stimuli.

    `edges` counts those of each channel. Frames and calibration are taken for the program's.
    """

    which: Stimuli = "both"
    questions: Questions = field(default_factory=Questions)
    edges: dict[str, int] = field(default_factory=dict)
    _word: int | None = None
    _pulses: dict[str, _Pulses] = field(default_factory=dict)
    _answers: dict[tuple[str, str], _Answers] = field(default_factory=dict)

    def add(self, new: NewEdges) -> list[Found]:
        """Takes the next part; what was over in it."""
        for name in new.channels:
            self.edges.setdefault(name, 0)
        if not new.word.size:
            return []
        before = int(new.word[0]) if self._word is None else self._word
        moved = {name: transitions_of(new, bit, before) for bit, name in enumerate(new.channels)}
        for name, transitions in moved.items():
            self.edges[name] += transitions.sample.size
        self._word = int(new.word[-1])
        highs = {name: bool(before >> bit & 1) for bit, name in enumerate(new.channels)}
        return [*self._pulsed(moved, highs), *self._answered(moved, new.samplerate_hz)]

    def high(self, channels: tuple[str, ...]) -> dict[str, bool]:
        """The level of each channel at the end of what came."""
        return {name: bool((self._word or 0) >> bit & 1) for bit, name in enumerate(channels)}

    @property
    def since(self) -> dict[str, int]:
        """Where the pulse under way began, of the channels that have one."""
        return {name: pulses.since for name, pulses in self._pulses.items() if pulses.since is not None}

    @property
    def waiting(self) -> dict[str, int]:
        """Where the waits began that are not over, by pair."""
        every = {named(pair): answers.since for pair, answers in self._answers.items()}
        return {name: since for name, since in every.items() if since is not None}

    @property
    def merged(self) -> dict[str, int]:
        """Stimuli that came while an earlier one waited, by pair."""
        return {named(pair): answers.merged for pair, answers in self._answers.items()}

    def _pulsed(self, moved: dict[str, Transitions], highs: dict[str, bool]) -> list[Found]:
        spans = []
        for name in self.questions.among(list(moved))[0]:
            pulses = self._pulses.setdefault(name, _Pulses())
            high = highs[name.removeprefix(NOT)] != name.startswith(NOT)
            start, end = pulses.take(_as_named(moved, name), high)
            spans.append(Found("width", name, start, end))
            spans.append(Found("interval", name, *pulses.take_begins(start)))
        return spans

    def _answered(self, moved: dict[str, Transitions], samplerate_hz: int) -> list[Found]:
        spans = []
        for pair in self.questions.among(list(moved))[1]:
            stimulus, answer = (_as_named(moved, name) for name in pair)
            answers = self._answers.setdefault(pair, _Answers())
            array = asked_by(stimulus, self.which)
            late = late_samples(pair[1], samplerate_hz)
            took = answers.take(array, answer.sample[answer.level], late)
            spans.append(Found("latency", named(pair), *took))
        return spans


def _as_named(moved: dict[str, Transitions], name: str) -> Transitions:
    """The edges of a channel; of `!nIRQ` with the other level."""
    transitions = moved[name.removeprefix(NOT)]
    return Transitions(transitions.sample, transitions.level != name.startswith(NOT))


def transitions_of(new: NewEdges, bit: int, before: int) -> Transitions:
    """The edges of the channel of this bit, where `before` is the word in front of the part."""
    level = (new.word >> bit & 1).astype(np.bool_)
    changed = level != np.append(bool(before >> bit & 1), level[:-1])
    return Transitions(new.sample[changed], level[changed])


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
