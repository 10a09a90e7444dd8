"""Decodes long captures with numpy, by the same rules as the decoders for sigrok (decoders/).

All positions are samples, int64, counted from 0 at the start of the capture. Where a channel is not
one of the capture's, CaptureError is raised.

A wait (docs/reference/wire.md) runs from the first stimulus that is not answered yet to the answer.
The stimuli that come meanwhile are merged into it: an interrupt has one pending bit, and a task is
notified once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from base.files.errors import CaptureError
from base.run_folder.edges import NS_PER_S, EdgeList, Levels, Samples, Transitions

Numbers = npt.NDArray[np.intp]
Stimuli = Literal["both", "rising", "falling"]
"""Which edges of a channel are stimuli."""


def pulses(edges: EdgeList, channel: str) -> PulseTrain:
    """The complete high pulses of `channel`, in order."""
    transitions = edges.transitions(channel)
    rises = transitions.sample[transitions.level]
    falls = transitions.sample[~transitions.level]
    if edges.initial_level(channel):
        falls = falls[1:]
    return PulseTrain(rises[: falls.size], falls)


def waits_for(edges: EdgeList, stimulus: str, answer: str, first: int = 0, which: Stimuli = "both") -> Waits:
    """The waits from the edges of `stimulus` to the rises of `answer`, from sample `first` on."""
    moved = edges.transitions(answer)
    array, rises = asked_by(edges.transitions(stimulus), which), moved.sample[moved.level]
    late = late_samples(answer, edges.samplerate_hz)
    return waits(array[array >= first], rises[rises >= first], late)


def stimuli_among(edges: EdgeList, stimulus: str, answer: str, first: int = 0) -> Stimuli:
    """Which edges of `stimulus` an answer follows: both where at least half of the rising and half
    of the falling ones have one before the next edge; else those that begin its pulses, by the
    level at which it is for most of the time.
    """
    moved, answered = edges.transitions(stimulus), edges.transitions(answer)
    late = moved.sample >= first
    sample, level = moved.sample[late], moved.level[late]
    rises = answered.sample[answered.level]
    if not sample.size or not rises.size:
        return "both"
    until = np.append(sample[1:], edges.total_samples)
    at = np.append(rises, edges.total_samples + 1)[np.searchsorted(rises, sample, "right")]
    if all((at <= until)[level == way].mean() >= 0.5 for way in (True, False) if (level == way).any()):
        return "both"
    high = (until - sample)[level].sum()
    return "rising" if 2 * high <= until[-1] - sample[0] else "falling"


def asked_by(stimuli: Transitions, which: Stimuli) -> Samples:
    """The samples of those edges that are stimuli."""
    return stimuli.sample if which == "both" else stimuli.sample[stimuli.level == (which == "rising")]


def level_at(edges: EdgeList, channel: str, samples: Samples) -> Levels:
    """The level of `channel` at each of `samples`, bool[n].

    At the sample of an edge it is the new level. Raises CaptureError where a sample lies outside
    the capture.
    """
    if samples.size and not (samples.min() >= 0 and samples.max() < edges.total_samples):
        raise CaptureError(f"A sample lies outside the capture's 0 … {edges.total_samples - 1}.")
    transitions = edges.transitions(channel)
    level = np.concatenate(([edges.initial_level(channel)], transitions.level))
    return level[np.searchsorted(transitions.sample, samples, side="right")]


def high_within(edges: EdgeList, channel: str, first: Samples, last: Samples, longer: int = 0) -> Levels:
    """Whether `channel` was high at some sample from `first` up to and including `last`, bool[n],
    if each of its pulses were `longer` samples longer at both ends.

    Where `last` lies before `first` (-1, an answer that never came), only the sample `first`
    counts.
    """
    transitions = edges.transitions(channel)
    until = np.maximum(first, last)
    rises = transitions.sample[transitions.level] - longer
    falls = transitions.sample[~transitions.level] + longer
    rises_before = np.searchsorted(rises, until, side="right") + int(edges.initial_level(channel))
    return rises_before > np.searchsorted(falls, first, side="right")


def surely_high_within(
    edges: EdgeList, channel: str, first: Samples, last: Samples, moved: int
) -> tuple[Levels, Levels]:
    """The same, and whether it is sure: two bool[n].

    It is sure where it is so with all pulses longer at both ends by `moved` samples, and with all
    of them shorter by as much.
    """
    high, more, less = (high_within(edges, channel, first, last, by) for by in (0, moved, -moved))
    return high, more == less


@dataclass(frozen=True)
class Windows:
    """Stretches from sample `start` up to but not `end`, int64[n] each; on SYNC those of
    operations.
    """

    start: Samples
    end: Samples

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True)
class PulseTrain(Windows):
    """The complete high pulses of a channel: the samples of their edges.

    `start` are the rising edges, `end` the falling ones, int64[n] each. A pulse that an end of the
    capture cuts off has no width and is not among them.
    """

    @property
    def width(self) -> Samples:
        """Widths in samples, int64[n]."""
        return self.end - self.start

    def starting_within(self, first: int, last: int) -> PulseTrain:
        """The pulses that start at sample `first` or later, and before sample `last`."""
        inside = (self.start >= first) & (self.start < last)
        return PulseTrain(self.start[inside], self.end[inside])

    def __getitem__(self, numbers: slice) -> PulseTrain:
        """The pulses of these numbers."""
        return PulseTrain(self.start[numbers], self.end[numbers])

    def ranges_in(self, windows: Windows) -> tuple[Numbers, Numbers]:
        """Which pulses start in each window: the first number and the one after the last.

        Two intp[windows]. They are equal where no pulse starts in the window.
        """
        return np.searchsorted(self.start, windows.start), np.searchsorted(self.start, windows.end)

    def counts_in(self, windows: Windows) -> Samples:
        """How many pulses start in each window, int64[windows]."""
        first, after = self.ranges_in(windows)
        return (after - first).astype(np.int64)

    def widths_in(self, windows: Windows) -> Samples:
        """The sum of the widths of the pulses that start in each window, int64[windows]."""
        total = np.concatenate(([0], np.cumsum(self.width)))
        first, after = self.ranges_in(windows)
        return total[after] - total[first]

    def longest_in(self, windows: Windows) -> Samples:
        """The width of the longest pulse that starts in each window, int64[windows]; 0 without."""
        first, after = self.ranges_in(windows)
        longest = np.zeros(len(windows), dtype=np.int64)
        some = after > first
        if some.any():
            ends = np.column_stack((first, after))[some].ravel()
            longest[some] = np.maximum.reduceat(np.append(self.width, 0), ends)[::2]
        return longest


LATE_NS = {"ISR": 250, "CISR": 250, "TASK": 20_000}
"""A stimulus that comes so short before the answer's edge may have come too late for it: a handler
clears its interrupt, and a task takes its notification, a little before the pin rises or after.
Then another answer follows.
"""


def late_samples(answer: str, samplerate_hz: int) -> int:
    """LATE_NS of the channel `answer` in samples; 0 of one of the user's own."""
    return LATE_NS.get(answer, 0) * samplerate_hz // NS_PER_S


class Open(NamedTuple):
    """A wait that has no answer yet: where it began, and how many stimuli were merged into it."""

    since: int
    merged: int


class Waits(NamedTuple):
    """The waits of one kind of answer, in their order.

    `stimulus`, `answer` and `merged` are int64[n]: the samples where each wait began and ended, and
    how many stimuli were merged into it. `open` is the wait that had no answer when the capture
    ended. `unasked`, int64[m], are the answers that nothing waited for. `late`: the
    last stimulus came late for the last answer and counts as merged; another answer would be its.
    """

    stimulus: Samples
    answer: Samples
    merged: Samples
    open: Open | None
    unasked: Samples
    late: bool

    @property
    def length(self) -> Samples:
        """How many samples each wait lasted that is over, int64[n]."""
        return self.answer - self.stimulus


def waits(stimuli: Samples, answers: Samples, late: int) -> Waits:
    """Which of the `answers` each of the `stimuli` waited for; both are samples in their order.

    An answer comes at a later sample than its stimulus. A stimulus that comes at most `late`
    samples before an answer, and not alone, waits on if another answer follows before another
    stimulus.
    """
    count = len(answers)
    at = np.searchsorted(answers, stimuli, "right")
    waiting = np.bincount(at, minlength=count + 2)
    is_last = np.append(at[1:] != at[:-1], True)[: len(at)]
    padded = np.append(answers, np.iinfo(np.int64).max)
    too_late = is_last & (waiting[at] > 1) & (padded[at] - stimuli <= late)
    waits_on = too_late & (at + 1 < count) & (waiting[at + 1] == 0)
    at = at + waits_on
    waiting = np.bincount(at, minlength=count + 1)
    is_first = np.append(True, at[1:] != at[:-1])[: len(at)]
    begin, number = stimuli[is_first], at[is_first]
    over = number < count
    still = stimuli[at == count]
    return Waits(
        stimulus=begin[over],
        answer=answers[number[over]],
        merged=waiting[number[over]] - 1,
        open=Open(int(still[0]), len(still) - 1) if len(still) else None,
        unasked=answers[waiting[:count] == 0],
        late=bool(len(stimuli) and too_late[-1] and at[-1] == count - 1),
    )
