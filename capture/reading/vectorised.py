"""The decoding of long captures for statistics, by the same rules as the sigrok decoders beside this file.

All positions are samples, int64, counted from 0 at the start of the capture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from capture.files.errors import CaptureError
from capture.run_folder.edges import EdgeList, Levels, Samples


@dataclass(frozen=True, eq=False)
class Pulses:
    """The complete high pulses of a channel: `start` (rising edge) and `end` (falling edge), int64[n].

    A pulse cut off by an end of the capture has no width and is told apart: `open_head_end` is where a pulse
    that was high at sample 0 ends, `open_tail_start` where one begins that is high at the last sample (0 when
    the channel is high throughout).
    """

    start: Samples
    end: Samples
    open_head_end: int | None
    open_tail_start: int | None


@dataclass(frozen=True, eq=False)
class Responses:
    """One row per stimulus: `stimulus_sample` and `answer_sample` (-1: none) int64[n], `missed` bool[n].

    `missed` says that the next stimulus came before any answer. The last stimulus may have neither: the
    capture ended first.
    """

    stimulus_sample: Samples
    answer_sample: Samples
    missed: Levels


def pulses(edges: EdgeList, channel: str) -> Pulses:
    """The high pulses of `channel`."""
    transitions = edges.transitions(channel)
    rises = transitions.sample[transitions.level]
    falls = transitions.sample[~transitions.level]
    open_head_end = open_tail_start = None
    if edges.initial_level(channel):
        rises = np.concatenate((np.zeros(1, np.int64), rises))
    if rises.size > falls.size:
        open_tail_start = int(rises[-1])
        rises = rises[:-1]
    if edges.initial_level(channel) and falls.size:
        open_head_end = int(falls[0])
        rises, falls = rises[1:], falls[1:]
    return Pulses(rises, falls, open_head_end, open_tail_start)


def responses(edges: EdgeList, stimulus: str, answer: str) -> Responses:
    """Every edge of `stimulus` with the first rising edge of `answer` that belongs to it.

    A cause precedes its effect: an answer comes at a later sample than its stimulus, and one at the very
    sample of the next stimulus still belongs to the earlier.
    """
    asked = edges.transitions(stimulus).sample
    transitions = edges.transitions(answer)
    rises = transitions.sample[transitions.level]
    after_last = np.iinfo(np.int64).max
    next_asked = np.append(asked[1:], after_last)
    next_rise = np.append(rises, after_last)[np.searchsorted(rises, asked, side="right")]
    answered = (next_rise <= next_asked) & (next_rise != after_last)
    missed = ~answered & (next_asked != after_last)
    return Responses(asked, np.where(answered, next_rise, -1), missed)


def level_at(edges: EdgeList, channel: str, samples: Samples) -> Levels:
    """The level of `channel` at each of `samples`, bool[n]; at the sample of an edge, the new level."""
    if samples.size and not (samples.min() >= 0 and samples.max() < edges.total_samples):
        raise CaptureError(f"A sample lies outside the capture's 0 … {edges.total_samples - 1}.")
    transitions = edges.transitions(channel)
    level = np.concatenate(([edges.initial_level(channel)], transitions.level))
    found: Levels = level[np.searchsorted(transitions.sample, samples, side="right")]
    return found


def high_within(edges: EdgeList, channel: str, first: Samples, last: Samples) -> Levels:
    """Whether `channel` was high at some sample from `first` up to and including `last`, bool[n].

    Where `last` lies before `first` (an answer that never came, -1) only the sample `first` counts.
    """
    transitions = edges.transitions(channel)
    rises = transitions.sample[transitions.level]
    until = np.maximum(first, last)
    rises_until: Levels = np.searchsorted(rises, until, side="right") > np.searchsorted(
        rises, first, side="right"
    )
    return level_at(edges, channel, first) | rises_until
