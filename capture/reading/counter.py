"""A wire that is read in parts: every pulse and answer is found once, however it is cut.

What is carried from a part to the next is a few numbers a channel. So the memory does not grow, and
what is found is what one look at the whole capture finds (capture/reading/vectorised.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import NOT, Samples, Transitions
from capture.reading.observed import Questions, named
from capture.reading.vectorised import Stimuli, asked_by
from capture.reading.waits import late_samples, waits

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
