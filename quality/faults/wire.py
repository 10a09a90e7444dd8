"""Faults of the wire: what an analyzer, its clips or its cable may do to a capture, one at a time.

Each kind is a function of a healthy capture and a generator of random numbers. It returns the
capture with the fault in it, and a few words on where and how large the fault is. The total of
samples stays as it was: what only changes the total is found by counting. Half of all places are
drawn evenly over the run, the other half close to an edge of some channel. Faults of the analyzer
itself are in every sample of the capture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from base.run_folder.edges import CHANNELS, EdgeList, Samples, Words, settled
from capture.reading.observed import ANSWERED

Random = np.random.Generator
Planted = tuple[EdgeList, str]
Kind = Callable[[EdgeList, Random], Planted]

# How many samples come twice or not at all, how far an edge is moved, how long a pulse is that is
# not the board's: one to these, all orders of magnitude alike.
SLIPPED_SAMPLES, MOVED_SAMPLES, PULSE_SAMPLES = 10_000, 5_000, 2_000
FLIPPED_SAMPLES, BURST_SAMPLES, BURST_FLIPS = 3, 1_000, 40
# How near to each other two edges are of which one may have come first or last.
TOGETHER_SAMPLES = 2
# How often a sample is repeated at most, and how wrong a told samplerate is at most.
REPEATED, MISTOLD_PPM = 4, 30_000
# How late a whole channel is at most, and how many edges of SYNC a frame has.
LATE_SAMPLES, FRAME_EDGES = 8, 64
ALL = "all channels"
STIMULUS_OF = {answer: stimulus for stimulus, answer in ANSWERED}
"""The stimulus that a channel answers."""
# How near to an edge every other fault is.
NEAR_SAMPLES = 500


def _with_rows(edges: EdgeList, at: npt.ArrayLike) -> tuple[Samples, Words]:
    """The samples of the edges, with those of `at` in between, and a copy of the word at each."""
    sample = np.union1d(edges.sample, at)
    return sample, edges.word[np.searchsorted(edges.sample, sample, side="right") - 1]


def insert_samples(edges: EdgeList, at: int, count: int) -> EdgeList:
    """The capture with its sample `at` repeated `count` times more, and as many lost at its end."""
    return _settled(edges, np.where(edges.sample > at, edges.sample + count, edges.sample), edges.word)


def delete_samples(edges: EdgeList, at: int, count: int) -> EdgeList:
    """The capture without `count` samples from `at` on; its last sample is repeated as often."""
    sample, word = _with_rows(edges, [at + count])
    stays = (sample < at) | (sample >= at + count)
    sample, word = sample[stays], word[stays]
    return _settled(edges, np.where(sample >= at + count, sample - count, sample), word)


def flip(edges: EdgeList, bits: int, begin: int, end: int) -> EdgeList:
    """The capture with the channels of `bits` inverted from sample `begin` up to but not `end`."""
    sample, word = _with_rows(edges, [at for at in (begin, end) if at < edges.total_samples])
    word[(sample >= begin) & (sample < end)] ^= np.uint8(bits)
    return _settled(edges, sample, word)


def _settled(edges: EdgeList, sample: Samples, word: Words) -> EdgeList:
    """The capture with these words, as far as it goes; of several at one sample the last holds."""
    inside = sample < edges.total_samples
    sample, word = settled(sample[inside], word[inside])
    return replace(edges, sample=sample, word=word)


def kinds(edges: EdgeList) -> Iterator[tuple[str, Kind]]:
    """The kinds that can be planted in this capture, by name. A silent
    channel has no edge to lose.
    """
    for kind in (
        *(inserted_samples, deleted_samples, flipped_samples, noise_burst, swapped_edges),
        *(repeated_samples, told_samplerate, late_edges),
    ):
        yield kind.__name__, kind
    for channel in CHANNELS:
        of_channel = [extra_pulse]
        if len(edges.transitions(channel).sample) > 1:
            of_channel = [shifted_edge, lost_pulse, extra_pulse]
        if channel != "SYNC" and len(edges.transitions("SYNC").sample) > 2 * FRAME_EDGES:
            of_channel.append(late_channel)
        if channel in STIMULUS_OF and len(answers_before_a_stimulus(edges, channel)):
            of_channel.append(slow_answer)
        for planted in of_channel:
            yield f"{planted.__name__}.{channel}", partial(planted, channel=channel)


def inserted_samples(edges: EdgeList, random: Random) -> Planted:
    """Samples that come twice."""
    at, count = _place(edges, random), _magnitude(random, SLIPPED_SAMPLES)
    return insert_samples(edges, at, count), f"sample {at:,} comes {count:,} times more"


def deleted_samples(edges: EdgeList, random: Random) -> Planted:
    """Samples that never come."""
    count = _magnitude(random, SLIPPED_SAMPLES)
    at = min(_place(edges, random), edges.total_samples - 1 - count)
    return delete_samples(edges, at, count), f"{count:,} samples are lost from {at:,} on"


def flipped_samples(edges: EdgeList, random: Random) -> Planted:
    """A few samples of one channel that have the wrong level, wherever they fall."""
    channel = str(random.choice(CHANNELS))
    at, count = _place(edges, random), int(random.integers(1, FLIPPED_SAMPLES + 1))
    words = f"{channel} has the wrong level in {count} samples from {at:,} on"
    return flip(edges, _bit(channel), at, at + count), words


def noise_burst(edges: EdgeList, random: Random) -> Planted:
    """A burst on one channel or on all, such as a motor that starts."""
    bits = _bit(str(random.choice(CHANNELS))) if random.random() < 0.5 else 0xFF
    begin, length = _place(edges, random), int(random.integers(10, BURST_SAMPLES + 1))
    count, noisy = int(random.integers(2, BURST_FLIPS + 1)), edges
    for at in np.sort(random.integers(begin, begin + length, count)).tolist():
        noisy = flip(noisy, bits & int(random.integers(1, 256)) or bits, at, at + 1)
    names = ALL if bits == 0xFF else ", ".join(name for name in CHANNELS if bits & _bit(name))
    return noisy, f"{count} flips on {names} within {length:,} samples from {begin:,} on"


def shifted_edge(edges: EdgeList, random: Random, channel: str) -> Planted:
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


def swapped_edges(edges: EdgeList, random: Random) -> Planted:
    """Of two channels' edges that came almost together one is a sample off: which was first?"""
    changed = edges.word[1:] ^ edges.word[:-1]
    close = np.flatnonzero(np.diff(edges.sample[1:]) <= TOGETHER_SAMPLES)
    row = int(random.choice(close)) if close.size else int(random.integers(len(changed) - 1))
    row += int(random.integers(2))
    channel = str(random.choice([name for name in CHANNELS if changed[row] & _bit(name)]))
    edge, later = int(edges.sample[row + 1]), bool(random.integers(2))
    begin = edge if later else edge - 1
    words = f"the edge of {channel} at {edge:,} comes a sample {'later' if later else 'earlier'}"
    return flip(edges, _bit(channel), begin, begin + 1), words


def repeated_samples(edges: EdgeList, random: Random) -> Planted:
    """An analyzer that samples more slowly than it says, and repeats each sample."""
    times = int(random.integers(2, REPEATED + 1))
    return hold(edges, times), f"each sample is repeated: the true rate is one in {times}"


def hold(edges: EdgeList, times: int) -> EdgeList:
    """The capture of an analyzer that looks at every `times`-th sample alone."""
    return _settled(edges, -(-edges.sample // times) * times, edges.word)


def told_samplerate(edges: EdgeList, random: Random) -> Planted:
    """A clock that is not what it says: by a crystal's error, by that of no crystal."""
    ppm = _magnitude(random, MISTOLD_PPM) * int(random.choice((-1, 1)))
    rate_hz = round(edges.samplerate_hz * (1 + ppm / 1e6))
    return replace(edges, samplerate_hz=rate_hz), f"the samplerate is told as {rate_hz:,} Hz, {ppm:+,} ppm"


def late_edges(edges: EdgeList, random: Random) -> Planted:
    """A threshold that is not in the middle: each rise, or each fall, is seen a sample late."""
    channel, rising = str(random.choice((*CHANNELS, ALL))), bool(random.integers(2))
    late = edges
    for name in CHANNELS if channel == ALL else (channel,):
        own = late.transitions(name)
        fits = ~np.isin(own.sample + 1, own.sample) & (own.sample + 1 < edges.total_samples)
        late = _moved(late, name, own.sample + (fits & (own.level == rising)))
    return late, f"each {'rise' if rising else 'fall'} of {channel} is seen a sample late"


def late_channel(edges: EdgeList, random: Random, channel: str) -> Planted:
    """A channel that is seen late or early while operations run, and right in the calibration."""
    sync = edges.transitions("SYNC").sample
    first, last = int(sync[FRAME_EDGES]), int(sync[-FRAME_EDGES])
    by = int(random.integers(1, LATE_SAMPLES + 1)) * int(random.choice((-1, 1)))
    words = f"{channel} is seen {abs(by)} samples {'late' if by > 0 else 'early'} while operations run"
    return shift(edges, channel, by, first, last), words


def slow_answer(edges: EdgeList, random: Random, channel: str) -> Planted:
    """An answer that comes behind the next stimulus. The answer that follows comes too, or not."""
    begin, end, stimulus, following = random.choice(answers_before_a_stimulus(edges, channel)).tolist()
    behind = min(_magnitude(random, MOVED_SAMPLES), (following - stimulus) // 2)
    slow = flip(edges, _bit(channel), begin, end)
    words = (
        f"the answer on {channel} at {begin:,} comes {behind:,} samples behind the stimulus at {stimulus:,}"
    )
    if random.integers(2):
        own = slow.transitions(channel).sample
        at = int(np.searchsorted(own, following))
        slow = flip(slow, _bit(channel), following, int(own[at + 1]))
        words += ", and the next answer is gone"
    width = min(end - begin, following - stimulus - behind - 1)
    return flip(slow, _bit(channel), stimulus + behind, stimulus + behind + width), words


def answers_before_a_stimulus(edges: EdgeList, channel: str) -> Samples:
    """Of each answer on `channel` between the frames: its rise and its fall, the next stimulus, and
    the rise of the next answer, which comes behind that; int64[n, 4].
    """
    sync = edges.transitions("SYNC").sample
    if len(sync) <= 2 * FRAME_EDGES:
        return np.empty((0, 4), dtype=np.int64)
    first, last = sync[FRAME_EDGES - 1], sync[-FRAME_EDGES]
    stimuli, own = edges.transitions(STIMULUS_OF[channel]).sample, edges.transitions(channel)
    stimuli = stimuli[(stimuli > first) & (stimuli < last)]
    begin, end = own.sample[own.level], own.sample[~own.level]
    begin = begin[(begin > first) & (begin < last)]
    end = end[np.minimum(np.searchsorted(end, begin, "right"), len(end) - 1)]
    before_next = np.append(stimuli, edges.total_samples)[np.searchsorted(stimuli, end, "right")]
    rows = np.stack([begin[:-1], end[:-1], before_next[:-1], begin[1:]], axis=1)
    return rows[rows[:, 3] > rows[:, 2] + 1]


def shift(edges: EdgeList, channel: str, by: int, first: int, last: int) -> EdgeList:
    """The capture with the edges of a channel between two samples moved `by` samples."""
    own = edges.transitions(channel).sample
    return _moved(edges, channel, np.where((own > first) & (own < last), own + by, own))


def _moved(edges: EdgeList, channel: str, places: Samples) -> EdgeList:
    """The capture with the edges of a channel at these samples. A pulse that is pushed into one
    that stays is gone with it.
    """
    places, times = np.unique(places, return_counts=True)
    toggles = places[times % 2 == 1]
    sample, word = _with_rows(edges, toggles)
    word &= ~np.uint8(_bit(channel))
    level = (np.searchsorted(toggles, sample, side="right") + edges.initial_level(channel)) % 2
    return _settled(edges, sample, word | np.where(level == 1, _bit(channel), 0).astype(np.uint8))


def lost_pulse(edges: EdgeList, random: Random, channel: str) -> Planted:
    """A pulse, high or low, that is not seen: two edges in sequence are gone."""
    own = edges.transitions(channel).sample
    first = int(random.integers(len(own) - 1))
    begin, end = own[first : first + 2].tolist()
    return flip(edges, _bit(channel), begin, end), f"the pulse of {channel} from {begin:,} to {end:,} is gone"


def extra_pulse(edges: EdgeList, random: Random, channel: str) -> Planted:
    """A pulse, high or low, that the board did not make."""
    bounds = np.concatenate(([0], edges.transitions(channel).sample, [edges.total_samples]))
    while True:
        begin, width = _place(edges, random), _magnitude(random, PULSE_SAMPLES)
        after = int(np.searchsorted(bounds, begin, side="right"))
        if begin > bounds[after - 1] and begin + width < bounds[after]:
            break
    words = f"{channel} shows a pulse of its own from {begin:,} to {begin + width:,}"
    return flip(edges, _bit(channel), begin, begin + width), words


def _place(edges: EdgeList, random: Random) -> int:
    """A sample between the first edge of the capture and its last."""
    first, last = int(edges.sample[1]), int(edges.sample[-1])
    if random.random() < 0.5:
        return int(random.integers(first, last))
    near = int(random.choice(edges.sample[1:])) + int(random.integers(-NEAR_SAMPLES, NEAR_SAMPLES))
    return min(max(near, first), last - 1)


def _magnitude(random: Random, most: int) -> int:
    """A number from 1 to `most`, every order of magnitude as often as the next."""
    return round(float(np.exp(random.uniform(0.0, np.log(most)))))


def _bit(channel: str) -> int:
    return 1 << CHANNELS.index(channel)
