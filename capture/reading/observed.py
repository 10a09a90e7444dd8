"""What a capture tells by itself, of any program: pulses, intervals between them, and latencies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from base.metrology.quantiles import summarise
from base.metrology.summaries import Summary, beside_open
from base.run_folder.edges import CHANNELS, MARKED_CHANNELS, NOT, EdgeList, Samples
from base.run_folder.observed import AskedEdges
from capture.reading.vectorised import PulseTrain, Stimuli, Waits, pulses, stimuli_among, waits_for
from capture.reading.wire import SECTIONS_PER_END, ClockFit, Frames, find_frames, fit_clock
from firmware.build import boards

PULSED = ("CRIT", "OP", "ISR", "TASK", "CISR")
"""The channels whose pulses are what is looked for; an edge of another is a stimulus or SYNC's."""
_NEVER = np.iinfo(np.int64).max
ANSWERED = (("STIM", "ISR"), ("STIM", "TASK"), ("CTRL", "CISR"))
"""Stimuli, and who answers them."""


@dataclass(frozen=True)
class Questions:
    """The channels whose pulses are asked for, and pairs of stimulus and answer; `!` before a name
    asks of it as if low were high. None for both asks for PULSED, ANSWERED and each channel of the
    user's own.
    """

    pulses: Sequence[str] | None = None
    latencies: Sequence[tuple[str, str]] | None = None

    @staticmethod
    def of(pulses: Sequence[str] | None, latencies: Sequence[str] | None) -> Questions:
        """Of pairs that are written `TRIG:ACK`."""
        if latencies is None:
            return Questions(pulses)
        pairs = [pair.partition(":") for pair in latencies]
        return Questions(pulses, [(stimulus, answer) for stimulus, _, answer in pairs])

    @staticmethod
    def moving(edges: EdgeList) -> Questions:
        """The usual ones, of the channels that show an edge; of a capture without any, all."""
        names = [name for name in edges.channels if edges.transitions(name).sample.size]
        return Questions(*Questions().among(names)) if names else Questions()

    @property
    def channels(self) -> dict[str, None]:
        """Those that are named, each once, without `!`."""
        names = [*(self.pulses or ()), *(name for pair in self.latencies or () for name in pair)]
        return dict.fromkeys(name.removeprefix(NOT) for name in names)

    def among(self, channels: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
        """What is asked of a capture of these channels."""
        if self.pulses is None and self.latencies is None:
            own = [name for name in channels if name not in CHANNELS]
            usual = [name for name in PULSED if name in channels]
            return [*usual, *own], [pair for pair in ANSWERED if set(pair) <= set(channels)]
        return [*(self.pulses or ())], [*(self.latencies or ())]


@dataclass(frozen=True)
class ObservedWire:
    """One capture, of the channels that it has.

    `program` are the pulses of PULSED that begin within the program's part, from sample `first` up
    to but not including `after`, and `answers` those of ANSWERED. Without frames that is the whole
    capture. `calibration` are the empty sections. `clock` is the analyzer's against the program's,
    from the frames; None without.
    """

    edges: EdgeList
    frames: Frames
    clock: ClockFit | None
    first: int
    after: int
    program: dict[str, PulseTrain]
    calibration: dict[str, PulseTrain]
    answers: dict[tuple[str, str], Waits]
    stimuli: dict[str, Stimuli] = field(default_factory=dict)

    def spans(self) -> Iterator[tuple[str, Samples, Samples]]:
        """Begins and ends of all pulses and latencies, by `CRIT, width` and `STIM to ISR`."""
        for name, train in self.program.items():
            yield f"{name}, width", train.start, train.end
        for pair, waits in self.answers.items():
            yield named(pair), waits.stimulus, waits.answer

    @property
    def duty(self) -> dict[str, float]:
        """The part of whole periods, of the first begin to the last, in which a channel is high."""
        return {
            name: float(train.width[:-1].sum() / (train.start[-1] - train.start[0]))
            for name, train in self.program.items()
            if len(train) > 1
        }

    @property
    def unasked(self) -> dict[str, int]:
        """How many answers nothing waited for, by the names of latencies_ns."""
        return {named(pair): int(waits.unasked.size) for pair, waits in self.answers.items()}

    @property
    def widths_ns(self) -> dict[str, Summary]:
        """Of the program's pulses, by channel."""
        return _widths_ns(self.program, self.edges.sample_ns)

    @property
    def calibration_ns(self) -> dict[str, Summary]:
        """Of the empty sections: what a pulse has in it that is no part of the section."""
        return _widths_ns(self.calibration, self.edges.sample_ns)

    @property
    def intervals_ns(self) -> dict[str, Summary]:
        """From the begin of a pulse to that of the next one."""
        sample_ns = self.edges.sample_ns
        return {name: summarise(np.diff(train.start) * sample_ns) for name, train in self.program.items()}

    @property
    def latencies_ns(self) -> dict[str, Summary]:
        """From a stimulus to its answer, by both names: `STIM to ISR`. The maximum is at least that
        of a wait which was not over at the end.
        """
        summaries = {
            named(pair): summarise(waits.length * self.edges.sample_ns)
            for pair, waits in self.answers.items()
        }
        return beside_open(summaries, self.open_ns)

    @property
    def merged(self) -> dict[str, int]:
        """How many stimuli came while an earlier one waited, by the names of latencies_ns."""
        return {
            named(pair): int(waits.merged.sum()) + (waits.open.merged if waits.open else 0)
            for pair, waits in self.answers.items()
        }

    @property
    def open_ns(self) -> dict[str, float]:
        """How long the waits that were not over had lasted at the end, by the same names."""
        return {
            named(pair): (self.after - waits.open.since) * self.edges.sample_ns
            for pair, waits in self.answers.items()
            if waits.open
        }


def named(pair: tuple[str, str]) -> str:
    """`STIM to ISR`."""
    return f"{pair[0]} to {pair[1]}"


def read_observed(
    edges: EdgeList,
    which: AskedEdges = "both",
    framed: bool = True,
    core_hz: int | None = None,
    questions: Questions | None = None,
) -> ObservedWire:
    """Reads what is asked of `edges`. `which` edges are stimuli; `auto` leaves that to the capture.

    Unless it may be `framed`, frames and calibration pulses are taken for the program's. `core_hz`
    is the clock that counts the frames; None is that of the default board.
    """
    tick_hz = core_hz or boards.default().core_hz
    frames = find_frames(edges, tick_hz) if framed and "SYNC" in edges.channels else Frames(None, None)
    start, end = frames.start, frames.end
    is_framed = start is not None or end is not None
    asked, pairs = (questions or Questions()).among(edges.channels)
    trains = {name: pulses(edges, name) for name in asked}
    before_end = edges if end is None else edges.until(int(end[0]))
    after = edges.total_samples if end is None else int(end[0])
    # The program's part begins behind the calibration, where SYNC changes again. Without such an
    # edge it begins at the start frame, without a frame at sample 0.
    first = 0 if start is None else int(start[-1])
    if start is not None:
        sync = edges.transitions("SYNC").sample
        first = int(next(iter(sync[(sync > first) & (sync < after)]), first))
    calibration = {}
    for name, train in trains.items():
        if is_framed and name in MARKED_CHANNELS:  # the empty sections behind either frame
            opening = train.starting_within(0 if start is None else int(start[-1]), first)
            closing = train.starting_within(edges.total_samples if end is None else int(end[-1]), _NEVER)
            closing = closing.numbered(None, SECTIONS_PER_END)
            calibration[name] = PulseTrain(
                np.concatenate((opening.start, closing.start)), np.concatenate((opening.end, closing.end))
            )
    stimuli = {pair: stimuli_among(before_end, *pair, first) if which == "auto" else which for pair in pairs}
    answers = {pair: waits_for(before_end, *pair, first, edge) for pair, edge in stimuli.items()}
    return ObservedWire(
        edges=edges,
        frames=frames,
        clock=fit_clock(start, end, tick_hz, edges.samplerate_hz) if is_framed else None,
        first=first,
        after=after,
        program={name: train.starting_within(first, after) for name, train in trains.items()},
        calibration=calibration,
        answers=answers,
        stimuli={named(pair): edge for pair, edge in stimuli.items()},
    )


def _widths_ns(trains: dict[str, PulseTrain], sample_ns: float) -> dict[str, Summary]:
    return {name: summarise(train.width * sample_ns) for name, train in trains.items()}
