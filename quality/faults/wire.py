"""Faults of the wire: what an analyzer, its clips or its cable may do to a capture, one at a time.

Each kind is a function of a healthy capture and a generator of random numbers. It returns the
capture with the fault in it, and a few words on where and how large the fault is. The total of
samples stays as it was: what only changes the total is found by counting. Half of all places are
drawn evenly over the run, the other half close to an edge of some channel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from base.run_folder.edges import CHANNELS, EdgeList, Samples, Words

Planted = tuple[EdgeList, str]
Kind = Callable[[EdgeList, np.random.Generator], Planted]

# How many samples come twice or not at all, how far an edge is moved, how long a pulse is that is
# not the board's: one to these, all orders of magnitude alike.
SLIPPED_SAMPLES, MOVED_SAMPLES, PULSE_SAMPLES = 10_000, 5_000, 2_000
FLIPPED_SAMPLES, BURST_SAMPLES, BURST_FLIPS = 3, 1_000, 40
# How near to an edge every other fault is.
NEAR_SAMPLES = 500


def insert_samples(edges: EdgeList, at: int, count: int) -> EdgeList:
    """The capture with its sample `at` repeated `count` times more, and as many lost at its end."""
    sample = np.where(edges.sample > at, edges.sample + count, edges.sample)
    inside = sample < edges.total_samples
    return EdgeList(
        sample[inside], edges.word[inside], edges.samplerate_hz, edges.total_samples, edges.channels
    )


def delete_samples(edges: EdgeList, at: int, count: int) -> EdgeList:
    """The capture without `count` samples from `at` on; its last sample is repeated as often."""
    sample = np.union1d(edges.sample, [at + count])
    word = edges.word[np.searchsorted(edges.sample, sample, side="right") - 1]
    kept = (sample < at) | (sample >= at + count)
    sample, word = sample[kept], word[kept]
    return _without_repeats(edges, np.where(sample >= at + count, sample - count, sample), word)


def flip(edges: EdgeList, bits: int, begin: int, end: int) -> EdgeList:
    """The capture with the channels of `bits` inverted from sample `begin` up to but not `end`."""
    sample = np.union1d(edges.sample, [at for at in (begin, end) if at < edges.total_samples])
    word = edges.word[np.searchsorted(edges.sample, sample, side="right") - 1].copy()
    word[(sample >= begin) & (sample < end)] ^= np.uint8(bits)
    return _without_repeats(edges, sample, word)


def _without_repeats(edges: EdgeList, sample: Samples, word: Words) -> EdgeList:
    new = np.append(True, word[1:] != word[:-1])
    return EdgeList(sample[new], word[new], edges.samplerate_hz, edges.total_samples, edges.channels)


def kinds(edges: EdgeList) -> Iterator[tuple[str, Kind]]:
    """The kinds that can be planted in this capture, by name. A silent
    channel has no edge to lose.
    """
    yield "inserted_samples", inserted_samples
    yield "deleted_samples", deleted_samples
    yield "flipped_samples", flipped_samples
    yield "noise_burst", noise_burst
    for channel in CHANNELS:
        if len(edges.transitions(channel).sample) > 1:
            yield f"shifted_edge.{channel}", partial(shifted_edge, channel=channel)
            yield f"lost_pulse.{channel}", partial(lost_pulse, channel=channel)
        yield f"extra_pulse.{channel}", partial(extra_pulse, channel=channel)


def inserted_samples(edges: EdgeList, random: np.random.Generator) -> Planted:
    """Samples that come twice."""
    at, count = _place(edges, random), _magnitude(random, SLIPPED_SAMPLES)
    return insert_samples(edges, at, count), f"sample {at:,} comes {count:,} times more"


def deleted_samples(edges: EdgeList, random: np.random.Generator) -> Planted:
    """Samples that never come."""
    count = _magnitude(random, SLIPPED_SAMPLES)
    at = min(_place(edges, random), edges.total_samples - 1 - count)
    return delete_samples(edges, at, count), f"{count:,} samples are lost from {at:,} on"


def flipped_samples(edges: EdgeList, random: np.random.Generator) -> Planted:
    """A few samples of one channel that have the wrong level, wherever they fall."""
    channel = str(random.choice(CHANNELS))
    at, count = _place(edges, random), int(random.integers(1, FLIPPED_SAMPLES + 1))
    words = f"{channel} has the wrong level in {count} samples from {at:,} on"
    return flip(edges, _bit(channel), at, at + count), words


def noise_burst(edges: EdgeList, random: np.random.Generator) -> Planted:
    """A burst on one channel or on all, such as a motor that starts."""
    bits = _bit(str(random.choice(CHANNELS))) if random.random() < 0.5 else 0xFF
    begin, length = _place(edges, random), int(random.integers(10, BURST_SAMPLES + 1))
    count = int(random.integers(2, BURST_FLIPS + 1))
    noisy = edges
    for at in np.sort(random.integers(begin, begin + length, count)).tolist():
        noisy = flip(noisy, bits & int(random.integers(1, 256)) or bits, at, at + 1)
    names = _names(bits)
    return noisy, f"{count} flips on {names} within {length:,} samples from {begin:,} on"


def shifted_edge(edges: EdgeList, random: np.random.Generator, channel: str) -> Planted:
    """An edge that is seen earlier or later, without passing its neighbours on the channel."""
    own = edges.transitions(channel).sample
    bounds = np.concatenate(([-1], own, [edges.total_samples]))
    while True:
        number, later = int(random.integers(len(own))), bool(random.integers(2))
        edge = int(own[number])
        room = int(bounds[number + 2]) - edge if later else edge - int(bounds[number])
        by = min(_magnitude(random, MOVED_SAMPLES), room - 1)
        if by > 0 and edge - by > 0:
            break
    begin, end = (edge, edge + by) if later else (edge - by, edge)
    words = f"the edge of {channel} at {edge:,} comes {by:,} samples {'later' if later else 'earlier'}"
    return flip(edges, _bit(channel), begin, end), words


def lost_pulse(edges: EdgeList, random: np.random.Generator, channel: str) -> Planted:
    """A pulse, high or low, that is not seen: two edges in sequence are gone."""
    own = edges.transitions(channel).sample
    first = int(random.integers(len(own) - 1))
    begin, end = int(own[first]), int(own[first + 1])
    return flip(edges, _bit(channel), begin, end), f"the pulse of {channel} from {begin:,} to {end:,} is gone"


def extra_pulse(edges: EdgeList, random: np.random.Generator, channel: str) -> Planted:
    """A pulse, high or low, that the board did not make."""
    bounds = np.concatenate(([0], edges.transitions(channel).sample, [edges.total_samples]))
    while True:
        begin, width = _place(edges, random), _magnitude(random, PULSE_SAMPLES)
        after = int(np.searchsorted(bounds, begin, side="right"))
        if begin > bounds[after - 1] and begin + width < bounds[after]:
            break
    words = f"{channel} shows a pulse of its own from {begin:,} to {begin + width:,}"
    return flip(edges, _bit(channel), begin, begin + width), words


def _place(edges: EdgeList, random: np.random.Generator) -> int:
    """A sample between the first edge of the capture and its last."""
    first, last = int(edges.sample[1]), int(edges.sample[-1])
    if random.random() < 0.5:
        return int(random.integers(first, last))
    near = int(random.choice(edges.sample[1:])) + int(random.integers(-NEAR_SAMPLES, NEAR_SAMPLES))
    return min(max(near, first), last - 1)


def _magnitude(random: np.random.Generator, most: int) -> int:
    """A number from 1 to `most`, every order of magnitude as often as the next."""
    return round(float(np.exp(random.uniform(0.0, np.log(most)))))


def _bit(channel: str) -> int:
    return 1 << CHANNELS.index(channel)


def _names(bits: int) -> str:
    found: Sequence[str] = [name for name in CHANNELS if bits & _bit(name)]
    return "all channels" if len(found) == len(CHANNELS) else ", ".join(found)
