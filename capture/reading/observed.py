"""What a capture tells by itself, of any program: pulses, intervals between them, and latencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

import numpy as np

from base.metrology.quantiles import summarise
from base.metrology.summaries import Summary, beside_open
from base.run_folder.edges import CHANNELS, MARKED_CHANNELS, NOT, NS_PER_S, EdgeList, Samples
from base.run_folder.kept import Kept
from base.run_folder.observed import AskedEdges, ClockFound
from capture.reading.vectorised import Stimuli, pulses, stimuli_among, waits_for
from capture.reading.wire import SECTIONS_PER_END, Frames, edge_of, find_frames, fit_clock
from firmware.build import boards

Pair = tuple[str, str]
"""The channels of a stimulus and of its answer."""
Counts = dict[str, int]
Summaries = dict[str, Summary]
PULSED = ("CRIT", "OP", "ISR", "TASK", "CISR")
"""The channels whose pulses are what is looked for; an edge of another is a stimulus or SYNC's."""
_NEVER = np.iinfo(np.int64).max
ANSWERED = (("STIM", "ISR"), ("STIM", "TASK"), ("CTRL", "CISR"))
"""Stimuli, and who answers them."""


@dataclass(frozen=True)
class Questions:
    """The channels whose pulses are asked for, and pairs of stimulus and answer, `TRIG:ACK`; `!`
    before a name asks of it as if low were high. None for both asks for PULSED, ANSWERED and each
    channel of the user's own.
    """

    pulses: Sequence[str] | None = None
    latencies: Sequence[str] | None = None

    @staticmethod
    def moving(edges: EdgeList) -> Questions:
        """The usual ones, of the channels that show an edge; of a capture without any, all."""
        names = [name for name in edges.channels if edges.transitions(name).sample.size]
        pulses, pairs = USUAL.among(names)
        return Questions(pulses, [":".join(pair) for pair in pairs]) if names else USUAL

    @property
    def channels(self) -> dict[str, None]:
        """Those that are named, each once, without `!`."""
        names = [*(self.pulses or ()), *chain(*self._pairs)]
        return dict.fromkeys(name.removeprefix(NOT) for name in names)

    def among(self, channels: Sequence[str]) -> tuple[list[str], list[Pair]]:
        """What is asked of a capture of these channels."""
        if self.pulses is None and self.latencies is None:
            own = [name for name in channels if name not in CHANNELS]
            usual = [name for name in PULSED if name in channels]
            return [*usual, *own], [pair for pair in ANSWERED if set(pair) <= set(channels)]
        return [*(self.pulses or ())], self._pairs

    @property
    def _pairs(self) -> list[Pair]:
        pairs = (pair.partition(":") for pair in self.latencies or ())
        return [(stimulus, answer) for stimulus, _, answer in pairs]


USUAL = Questions()


class Line(NamedTuple):
    """A channel: its edges in the whole capture, its level at the end, the widths in samples of its
    least and greatest whole pulse, and how long the one lasted that the end cut off. None where
    there is none.
    """

    edges: int
    high: bool
    least: int | None
    greatest: int | None
    lasted: int | None


@dataclass(frozen=True, kw_only=True)
class ObservedWire:
    """What a capture tells by itself, kept whole or in windows.

    All is of the program's part, which ends at sample `end`: between the frames, without frames the
    whole capture. Of channels, by name, are `lines`, the widths and the `intervals_ns` from begin
    to begin, in ns; of latencies, by both names (`STIM to ISR`), `answered_ns`, the waits that were
    not over, and how many stimuli came while an earlier one waited.

    Of a capture that was kept whole are `clock`, the analyzer's against the program's by the
    frames; the empty sections; which edges are stimuli, how many answers nothing waited for, the
    part of whole periods in which a channel is high, and begins and ends of all pulses and
    latencies, by `CRIT, width` and `STIM to ISR`. Else `kept` are the windows.
    """

    samplerate_hz: int
    total_samples: int
    channels: tuple[str, ...]
    end: int
    lines: dict[str, Line] = field(default_factory=dict)
    widths_ns: Summaries = field(default_factory=dict)
    intervals_ns: Summaries = field(default_factory=dict)
    answered_ns: Summaries = field(default_factory=dict)
    open_samples: Counts = field(default_factory=dict)
    merged: Counts = field(default_factory=dict)
    frames: Frames = field(default_factory=Frames)
    clock: ClockFound | None = None
    calibration_ns: Summaries = field(default_factory=dict)
    stimuli: dict[str, Stimuli] = field(default_factory=dict)
    unasked: Counts = field(default_factory=dict)
    duty: dict[str, float] = field(default_factory=dict)
    spans: dict[str, tuple[Samples, Samples]] = field(default_factory=dict)
    kept: Kept | None = None

    @property
    def sample_ns(self) -> float:
        """How long a sample lasts, at the nominal samplerate."""
        return NS_PER_S / self.samplerate_hz

    @property
    def open_ns(self) -> dict[str, float]:
        """How long the waits that were not over had lasted at the end."""
        return {name: lasted * self.sample_ns for name, lasted in self.open_samples.items()}

    @property
    def latencies_ns(self) -> Summaries:
        """The maximum is at least that of a wait which was not over at the end."""
        return beside_open(self.answered_ns, self.open_ns)


def named(pair: Pair) -> str:
    """`STIM to ISR`."""
    return f"{pair[0]} to {pair[1]}"


def of_windows(kept: Kept) -> ObservedWire:
    """What was counted of a capture of which windows were kept. No frames were looked for."""
    wire = ObservedWire(
        samplerate_hz=kept.samplerate_hz,
        total_samples=kept.total_samples,
        channels=kept.channels,
        end=kept.total_samples,
        open_samples=kept.open_samples,
        merged=kept.merged,
        kept=kept,
    )
    summaries = {"width": wire.widths_ns, "interval": wire.intervals_ns, "latency": wire.answered_ns}
    for (kind, name), counted in kept.counted.items():
        summaries[kind][name] = counted.summary(kept.sample_ns)
    for name in dict.fromkeys([*kept.pins, *wire.widths_ns]):
        pin, widths = kept.pins[name.removeprefix(NOT)], kept.counted.get(("width", name))
        since = pin.since if widths and not name.startswith(NOT) else None
        wire.lines[name] = Line(
            edges=pin.edges,
            high=pin.high != name.startswith(NOT),
            least=widths.least if widths else None,
            greatest=widths.greatest if widths else None,
            lasted=None if since is None else kept.total_samples - since,
        )
    return wire


def read_observed(
    edges: EdgeList,
    which: AskedEdges = "both",
    framed: bool = True,
    core_hz: int | None = None,
    questions: Questions = USUAL,
) -> ObservedWire:
    """Reads what is asked of `edges`. `which` edges are stimuli; `auto` leaves that to the capture.

    Unless it may be `framed`, frames and calibration pulses are taken for the program's. `core_hz`
    is the clock that counts the frames; None is that of the default board.
    """
    tick_hz, total, sample_ns = core_hz or boards.default().core_hz, edges.total_samples, edges.sample_ns
    frames = find_frames(edges, tick_hz) if framed and "SYNC" in edges.channels else Frames()
    start, end = frames.start, frames.end
    pulsed, pairs = questions.among(edges.channels)
    after = edge_of(end, 0, total)
    before_end = edges if end is None else edges.until(after)
    # The program's part begins behind the calibration, where SYNC changes again. Without such an
    # edge it begins at the start frame, without a frame at sample 0.
    first = begin = edge_of(start, -1, 0)
    if start is not None:
        sync = edges.transitions("SYNC").sample
        first = int(next(iter(sync[(sync > first) & (sync < after)]), first))
    wire = ObservedWire(
        samplerate_hz=edges.samplerate_hz,
        total_samples=total,
        channels=edges.channels,
        end=after,
        frames=frames,
        clock=fit_clock(start, end, tick_hz, edges.samplerate_hz),
    )
    least, greatest = {}, {}
    for name in pulsed:
        every = pulses(edges, name)
        train = every.starting_within(first, after)
        if len(train):
            least[name], greatest[name] = int(train.width.min()), int(train.width.max())
        wire.widths_ns[name] = summarise(train.width * sample_ns)
        wire.intervals_ns[name] = summarise(np.diff(train.start) * sample_ns)
        wire.spans[f"{name}, width"] = train.start, train.end
        if len(train) > 1:
            wire.duty[name] = float(train.width[:-1].sum() / (train.start[-1] - train.start[0]))
        if wire.clock and name in MARKED_CHANNELS:  # the empty sections behind either frame
            opening = every.starting_within(begin, first)
            closing = every.starting_within(edge_of(end, -1, total), _NEVER)
            lengths = np.append(opening.width, closing.width[:SECTIONS_PER_END])
            wire.calibration_ns[name] = summarise(lengths * sample_ns)
    for name in dict.fromkeys([*edges.channels, *pulsed]):
        moved = edges.transitions(name)
        count = int(np.searchsorted(moved.sample, after))
        high = bool(moved.level[count - 1]) if count else edges.initial_level(name)
        wire.lines[name] = Line(
            edges=moved.sample.size,
            high=high,
            least=least.get(name),
            greatest=greatest.get(name),
            lasted=after - int(moved.sample[count - 1]) if name in pulsed and high and count else None,
        )
    for pair in pairs:
        name = named(pair)
        wire.stimuli[name] = stimuli_among(before_end, *pair, first) if which == "auto" else which
        waits = waits_for(before_end, *pair, first, wire.stimuli[name])
        wire.answered_ns[name] = summarise(waits.length * sample_ns)
        wire.merged[name] = int(waits.merged.sum())
        if waits.open:
            wire.open_samples[name] = after - waits.open.since
            wire.merged[name] += waits.open.merged
        wire.unasked[name] = int(waits.unasked.size)
        wire.spans[name] = waits.stimulus, waits.answer
    return wire
