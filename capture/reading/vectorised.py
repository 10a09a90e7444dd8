"""Decodes long captures with numpy, by the same rules as the decoders for sigrok (decoders/).

All positions are samples, int64, counted from 0 at the start of the capture. Where a channel is not
one of the capture's, CaptureError is raised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from base.files.errors import CaptureError
from base.run_folder.edges import EdgeList, Levels, Samples, Transitions
from capture.reading.pulses import PulseTrain

Stimuli = Literal["both", "rising", "falling"]
"""Which edges of a channel are stimuli."""


@dataclass(frozen=True, eq=False)
class Responses:
    """One row per stimulus, with its answer.

    `stimulus_sample` and `answer_sample` (-1: none) are int64[n], `missed` is bool[n]. A stimulus
    is missed if the next one came before any answer. The last stimulus may have no answer and not
    be missed: the capture ended first.
    """

    stimulus_sample: Samples
    answer_sample: Samples
    missed: Levels


def pulses(edges: EdgeList, channel: str) -> PulseTrain:
    """The complete high pulses of `channel`, in order."""
    transitions = edges.transitions(channel)
    rises = transitions.sample[transitions.level]
    falls = transitions.sample[~transitions.level]
    if edges.initial_level(channel):
        falls = falls[1:]
    return PulseTrain(rises[: falls.size], falls)


def responses(edges: EdgeList, stimulus: str, answer: str, which: Stimuli = "both") -> Responses:
    """The edges of `stimulus`, with the first rising edge of `answer` that belongs to each.

    An answer comes at a later sample than its stimulus. One at the very sample of the next stimulus
    still belongs to the earlier one.
    """
    transitions = edges.transitions(answer)
    return answered(asked_by(edges.transitions(stimulus), which), transitions.sample[transitions.level])


def asked_by(stimuli: Transitions, which: Stimuli) -> Samples:
    """The samples of those edges that are stimuli."""
    return stimuli.sample if which == "both" else stimuli.sample[stimuli.level == (which == "rising")]


def answered(asked: Samples, rises: Samples) -> Responses:
    """The stimuli at `asked`, with those `rises` that answer them by the rule of responses()."""
    after_last = np.iinfo(np.int64).max
    next_asked = np.append(asked[1:], after_last)
    next_rise = np.append(rises, after_last)[np.searchsorted(rises, asked, side="right")]
    has_answer = (next_rise <= next_asked) & (next_rise != after_last)
    missed = ~has_answer & (next_asked != after_last)
    return Responses(asked, np.where(has_answer, next_rise, -1), missed)


def level_at(edges: EdgeList, channel: str, samples: Samples) -> Levels:
    """The level of `channel` at each of `samples`, bool[n].

    At the sample of an edge it is the new level. Raises CaptureError where a sample lies outside
    the capture.
    """
    if samples.size and not (samples.min() >= 0 and samples.max() < edges.total_samples):
        raise CaptureError(f"A sample lies outside the capture's 0 … {edges.total_samples - 1}.")
    transitions = edges.transitions(channel)
    level = np.concatenate(([edges.initial_level(channel)], transitions.level))
    found: Levels = level[np.searchsorted(transitions.sample, samples, side="right")]
    return found


def high_within(edges: EdgeList, channel: str, first: Samples, last: Samples) -> Levels:
    """Whether `channel` was high at some sample from `first` up to and including `last`, bool[n].

    Where `last` lies before `first` (-1, an answer that never came), only the sample `first`
    counts.
    """
    return _high_within(edges, channel, first, last, 0)


def surely_high_within(
    edges: EdgeList, channel: str, first: Samples, last: Samples, moved: int
) -> tuple[Levels, Levels]:
    """The same, and whether it is sure: two bool[n].

    It is sure where it is so with all pulses longer at both ends by `moved` samples, and with all
    of them shorter by as much.
    """
    found = [_high_within(edges, channel, first, last, by) for by in (0, moved, -moved)]
    return found[0], found[1] == found[2]


def _high_within(edges: EdgeList, channel: str, first: Samples, last: Samples, longer: int) -> Levels:
    """The answer of high_within if each pulse were `longer` samples longer at both ends."""
    transitions = edges.transitions(channel)
    until = np.maximum(first, last)
    rises = transitions.sample[transitions.level] - longer
    falls = transitions.sample[~transitions.level] + longer
    begun = np.searchsorted(rises, until, side="right") + int(edges.initial_level(channel))
    high: Levels = begun > np.searchsorted(falls, first, side="right")
    return high
