"""The verdict of a run from the wire alone: from the frames, if there are any, and the samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from base.run_folder.edges import EdgeList
from base.run_folder.manifest import ToolReport, Verdict
from capture.reading.observed import ObservedWire
from capture.verdict import inconclusive, truncated
from capture.verdict.verdict import by_rules


@dataclass(frozen=True)
class Named:
    """What the tools said of a capture, and the pin of each channel."""

    tools: ToolReport
    pins: Mapping[str, str]

    def called(self, channel: str) -> str:
        """`CRIT (PA8)`."""
        return f"{channel} ({self.pins.get(channel, 'pin unknown')})"

    def still(self, channel: str, duration_s: float, high: bool) -> str:
        """That it shows no edge."""
        return (
            f"{self.called(channel)} shows no edge in {duration_s:.6g} s, it is {'high' if high else 'low'} "
            "throughout; check the pin, its clip, and that the program gets there."
        )

    def lasting(self, channel: str, since: int, lasted: int, samplerate_hz: int) -> str:
        """That it rises at sample `since`, and does not fall in the `lasted` samples to the end."""
        return (
            f"{self.called(channel)} rises at {since / samplerate_hz:.6g} s and does not fall again by the "
            f"end, {lasted / samplerate_hz * 1e3:.6g} ms later, longer than any whole pulse; see why, or "
            "capture longer."
        )

    def waiting(self, name: str, lasted_ns: float) -> str:
        """That a wait of the latency `name` was not over when the capture ended."""
        return (
            f"{name}: a stimulus still waited when the capture ended, for ≥ {lasted_ns / 1e3:.6g} µs, longer "
            "than any that was answered; see why, or capture longer."
        )

    def narrow(self, channel: str, sample_ns: float) -> str:
        """That some of its pulses last a sample."""
        return (
            f"{self.called(channel)} has pulses of a single sample, {sample_ns:.1f} ns: shorter ones are not "
            "seen, so some may be missing; use a higher samplerate."
        )


@dataclass(frozen=True)
class Seen(Named):
    """A capture that is whole."""

    observed: ObservedWire

    @property
    def edges(self) -> EdgeList:
        return self.observed.edges


def judge(seen: Seen) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict, and a sentence for each reason: first what is missing, then what is in doubt."""
    return by_rules(seen, TRUNCATED, INCONCLUSIVE)


def one_frame_alone(seen: Seen) -> Iterator[str]:
    """A program that shows one frame shows both, unless it did not come to its end."""
    start, end = seen.observed.frames.start, seen.observed.frames.end
    sync = seen.called("SYNC")
    if start is not None and end is None:
        yield f"{sync} shows a start frame and no end frame; capture longer, or see why the program stopped."
    if start is None and end is not None:
        yield f"{sync} shows an end frame and no start frame; begin the capture before the program starts."


def nothing_seen(seen: Seen) -> Iterator[str]:
    """A channel without an edge says nothing, or is clipped to nothing."""
    duration_s = seen.edges.total_samples / seen.edges.samplerate_hz
    for channel in seen.edges.channels:
        if not seen.edges.transitions(channel).sample.size:
            yield seen.still(channel, duration_s, seen.edges.initial_level(channel))
        elif channel in seen.observed.calibration and not len(seen.observed.program[channel]):
            yield (
                f"{seen.called(channel)} shows nothing but calibration pulses; check that the program gets "
                "there."
            )


def never_back(seen: Seen) -> Iterator[str]:
    """A pulse that the end cuts off, and that is already longer than every whole one."""
    for channel, train in seen.observed.program.items():
        transitions = seen.edges.transitions(channel)
        before = transitions.sample < seen.observed.after
        if not before.any() or not transitions.level[before][-1]:
            continue
        since = int(transitions.sample[before][-1])
        lasted = seen.observed.after - since
        if lasted > (int(train.width.max()) if len(train) else 0):
            yield seen.lasting(channel, since, lasted, seen.edges.samplerate_hz)


def at_the_limit(seen: Seen) -> Iterator[str]:
    """Where some pulses are a sample wide, others may fall between two."""
    for channel, train in seen.observed.program.items():
        if len(train) and int(train.width.min()) == 1:
            yield seen.narrow(channel, seen.edges.sample_ns)


def never_answered(seen: Seen) -> Iterator[str]:
    """A wait that the end cuts off, and that is already longer than every whole one."""
    for name, lasted_ns in seen.observed.open_ns.items():
        summary = seen.observed.latencies_ns[name]
        if summary.n and summary.max == lasted_ns:
            yield seen.waiting(name, lasted_ns)


Rule = Callable[[Seen], Iterator[str]]

TRUNCATED: tuple[Rule, ...] = (
    truncated.stopped_by_the_user,
    truncated.a_tool_failed,
    truncated.fewer_samples_than_asked,
    one_frame_alone,
)
INCONCLUSIVE: tuple[Rule, ...] = (
    nothing_seen,
    never_back,
    never_answered,
    at_the_limit,
    inconclusive.tools_said_something_unexpected,
)


def warnings(seen: Seen) -> Iterator[str]:
    """What a reader should know, and what does not touch the verdict."""
    yield from merged(seen.observed.merged)


def merged(counts: Mapping[str, int]) -> Iterator[str]:
    """How many stimuli of a pair have no latency of their own."""
    for pair, count in counts.items():
        if count:
            yield (
                f"{count} stimuli of {pair} came while an earlier one waited: each is part of the wait that "
                "began before it."
            )
