"""The verdict of a run from the wire alone: from the frames, if there are any, and the samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from base.run_folder.edges import NOT, EdgeList
from base.run_folder.kept import Kept
from base.run_folder.manifest import ToolReport, Verdict
from base.run_folder.observed import AskedEdges
from capture.reading.observed import ObservedWire, named
from capture.reading.wire import Frames
from capture.verdict import verdict


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


@dataclass(frozen=True)
class Seen:
    """What the tools said of a capture, the pin of each channel, what was kept of it, which edges
    were to be stimuli, and the channels of which nothing was asked.
    """

    tools: ToolReport
    pins: Mapping[str, str]
    capture: ObservedWire | Kept
    asked_edges: AskedEdges = "both"
    unwatched: frozenset[str] = frozenset()

    @property
    def edges(self) -> EdgeList | Kept:
        """The capture, whole or in windows."""
        return self.capture.edges if isinstance(self.capture, ObservedWire) else self.capture

    @property
    def frames(self) -> Frames:
        """None are looked for where windows were kept."""
        return self.capture.frames if isinstance(self.capture, ObservedWire) else Frames(None, None)

    @property
    def end(self) -> int:
        """The sample at which the program's part ends."""
        return self.capture.after if isinstance(self.capture, ObservedWire) else self.edges.total_samples

    def lines(self) -> Iterator[tuple[str, Line]]:
        """The channels, by name."""
        if isinstance(self.capture, ObservedWire):
            wire = self.capture
            for name in dict.fromkeys([*wire.edges.channels, *wire.program]):
                moved = wire.edges.transitions(name)
                before = moved.sample < wire.after
                high = bool(moved.level[before][-1]) if before.any() else wire.edges.initial_level(name)
                train, lasted = wire.program.get(name), None
                if train is not None and high and before.any():
                    lasted = wire.after - int(moved.sample[before][-1])
                least, greatest = (int(train.width.min()), int(train.width.max())) if train else (None, None)
                yield name, Line(moved.sample.size, high, least, greatest, lasted)
            return
        for name, pin in self.capture.pins.items():
            widths = self.capture.counted.get(("width", name))
            least, greatest = (widths.least, widths.greatest) if widths else (None, None)
            lasted = None if pin.since is None or not widths else self.end - pin.since
            yield name, Line(pin.edges, pin.high, least, greatest, lasted)
        for (kind, name), widths in self.capture.counted.items():
            if kind == "width" and name.startswith(NOT):
                pin = self.capture.pins[name.removeprefix(NOT)]
                yield name, Line(pin.edges, not pin.high, widths.least, widths.greatest, None)

    def waits(self) -> Iterator[tuple[str, int, int | None]]:
        """Those that were not over: the name of the latency, how many samples it lasted, and the
        longest of those that were over.
        """
        if isinstance(self.capture, ObservedWire):
            for pair, waits in self.capture.answers.items():
                if waits.open:
                    greatest = int(waits.length.max()) if waits.length.size else None
                    yield named(pair), self.end - waits.open.since, greatest
            return
        for name, lasted in self.capture.open_samples.items():
            latencies = self.capture.counted.get(("latency", name))
            yield name, lasted, latencies.greatest if latencies else None

    def called(self, channel: str) -> str:
        """`CRIT (PA8)`."""
        return f"{channel} ({self.pins.get(channel.removeprefix(NOT), 'pin unknown')})"


def judge(seen: Seen) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict, and a sentence for each reason: first what is missing, then what is in doubt."""
    return verdict.by_rules(seen, TRUNCATED, INCONCLUSIVE)


def one_frame_alone(seen: Seen) -> Iterator[str]:
    """A program that shows one frame shows both, unless it did not come to its end."""
    start, end = seen.frames.start, seen.frames.end
    sync = seen.called("SYNC")
    if start is not None and end is None:
        yield f"{sync} shows a start frame and no end frame; capture longer, or see why the program stopped."
    if start is None and end is not None:
        yield f"{sync} shows an end frame and no start frame; begin the capture before the program starts."


def nothing_seen(seen: Seen) -> Iterator[str]:
    """A channel without an edge says nothing, or is clipped to nothing."""
    duration_s = seen.edges.total_samples / seen.edges.samplerate_hz
    calibrated = seen.capture.calibration if isinstance(seen.capture, ObservedWire) else {}
    for channel, line in seen.lines():
        if not line.edges and channel not in seen.unwatched and not channel.startswith(NOT):
            yield (
                f"{seen.called(channel)} shows no edge in {duration_s:.6g} s, it is "
                f"{'high' if line.high else 'low'} throughout; check the pin, its clip, and that the program "
                "gets there."
            )
        elif channel in calibrated and line.greatest is None:
            yield (
                f"{seen.called(channel)} shows nothing but calibration pulses; check that the program gets "
                "there."
            )


def never_back(seen: Seen) -> Iterator[str]:
    """A pulse that the end cuts off, and that is already longer than every whole one."""
    rate_hz = seen.edges.samplerate_hz
    for channel, line in seen.lines():
        if line.lasted is not None and line.lasted > (line.greatest or 0):
            yield (
                f"{seen.called(channel)} rises at {(seen.end - line.lasted) / rate_hz:.6g} s and does not "
                f"fall again by the end, {line.lasted / rate_hz * 1e3:.6g} ms later, longer than any whole "
                "pulse; see why, or capture longer."
            )


def at_the_limit(seen: Seen) -> Iterator[str]:
    """Where some pulses are a sample wide, others may fall between two."""
    for channel, line in seen.lines():
        if line.least == 1:
            yield (
                f"{seen.called(channel)} has pulses of a single sample, {seen.edges.sample_ns:.1f} ns: "
                "shorter ones are not seen, so some may be missing; use a higher samplerate."
            )


def never_answered(seen: Seen) -> Iterator[str]:
    """A wait that the end cuts off, and that is already as long as every whole one."""
    for name, lasted, greatest in seen.waits():
        if greatest is not None and lasted >= greatest:
            yield (
                f"{name}: a stimulus still waited when the capture ended, for "
                f"≥ {lasted * seen.edges.sample_ns / 1e3:.6g} µs, longer than any that was answered; "
                "see why, or capture longer."
            )


TRUNCATED: tuple[Callable[[Seen], Iterator[str]], ...] = (
    verdict.stopped_by_the_user,
    verdict.a_tool_failed,
    verdict.fewer_samples_than_asked,
    one_frame_alone,
)
INCONCLUSIVE: tuple[Callable[[Seen], Iterator[str]], ...] = (
    nothing_seen,
    never_back,
    never_answered,
    at_the_limit,
    verdict.tools_said_something_unexpected,
)


def warnings(seen: Seen) -> Iterator[str]:
    """What a reader should know, and what does not touch the verdict."""
    for pair, count in seen.capture.merged.items():
        if count:
            yield (
                f"{count} stimuli of {pair} came while an earlier one waited: each is part of the wait that "
                "began before it."
            )
    still = [name for name, line in seen.lines() if not line.edges and name in seen.unwatched]
    if still:
        yield f"{', '.join(still)}: no edge, and nothing was asked of it."
    if isinstance(seen.capture, ObservedWire):
        for (stimulus, answer), waits in seen.capture.answers.items():
            name = named((stimulus, answer))
            edges = seen.capture.edges.transitions(stimulus).sample.size
            which = seen.capture.stimuli[name]
            if seen.asked_edges == "auto" and which != "both":
                yield (
                    f"{name}: the {which} edges of {stimulus}, of {edges} in all, are the stimuli, since "
                    "fewer than half of the others are answered before the next edge; --edges says "
                    "otherwise."
                )
            if waits.unasked.size:
                yield f"{waits.unasked.size} rises of {answer} came while no stimulus of {stimulus} waited."
        return
    for window in seen.capture.windows:
        if window.place.cut:
            yield (
                f"The window {window.place.name} begins later than was asked for: it has too many edges, or "
                "lasts too long."
            )
    for (kind, name), counted in seen.capture.counted.items():
        if counted.bin > 1:
            yield (
                f"The {kind}s of {name} have so many different values that percentiles are told in steps of "
                f"{counted.bin} samples; least and greatest are exact."
            )
