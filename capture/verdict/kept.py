"""The verdict of a run of which only windows were kept: from what was counted of all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from base.run_folder.kept import Kept
from base.run_folder.manifest import Verdict
from capture.verdict import inconclusive, truncated
from capture.verdict.observed import Named, merged
from capture.verdict.verdict import by_rules


@dataclass(frozen=True)
class SeenKept(Named):
    """A capture of which windows were kept."""

    kept: Kept

    @property
    def edges(self) -> Kept:
        return self.kept


def judge(seen: SeenKept) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict, and a sentence for each reason: first what is missing, then what is in doubt."""
    return by_rules(seen, TRUNCATED, INCONCLUSIVE)


def nothing_seen(seen: SeenKept) -> Iterator[str]:
    """A channel without an edge says nothing, or is clipped to nothing."""
    windows = seen.kept
    for channel, pin in windows.pins.items():
        if not pin.edges:
            yield seen.still(channel, windows.total_samples / windows.samplerate_hz, pin.high)


def never_back(seen: SeenKept) -> Iterator[str]:
    """A pulse that the end cuts off, and that is already longer than every whole one."""
    windows = seen.kept
    for channel, pin in windows.pins.items():
        widths = windows.counted.get(("width", channel))
        if pin.since is None or widths is None:
            continue
        lasted = windows.total_samples - pin.since
        if lasted > (widths.greatest or 0):
            yield seen.lasting(channel, pin.since, lasted, windows.samplerate_hz)


def at_the_limit(seen: SeenKept) -> Iterator[str]:
    """Where some pulses are a sample wide, others may fall between two."""
    for (kind, channel), widths in seen.kept.counted.items():
        if kind == "width" and widths.least == 1:
            yield seen.narrow(channel, seen.kept.sample_ns)


def never_answered(seen: SeenKept) -> Iterator[str]:
    """A wait that the end cuts off, and that is already longer than every whole one."""
    windows = seen.kept
    for name, lasted in windows.open_samples.items():
        latencies = windows.counted.get(("latency", name))
        if latencies and latencies.greatest is not None and lasted > latencies.greatest:
            yield seen.waiting(name, lasted * windows.sample_ns)


Rule = Callable[[SeenKept], Iterator[str]]

TRUNCATED: tuple[Rule, ...] = (
    truncated.stopped_by_the_user,
    truncated.a_tool_failed,
    truncated.fewer_samples_than_asked,
)
INCONCLUSIVE: tuple[Rule, ...] = (
    nothing_seen,
    never_back,
    never_answered,
    at_the_limit,
    inconclusive.tools_said_something_unexpected,
)


def warnings(seen: SeenKept) -> Iterator[str]:
    """What a reader should know, and what does not touch the verdict."""
    yield from merged(seen.kept.merged)
    for window in seen.kept.windows:
        if window.place.cut:
            yield (
                f"The window {window.place.name} begins later than was asked for: it has too many edges, or "
                "lasts too long."
            )
    for (kind, name), counted in seen.kept.counted.items():
        if counted.bin > 1:
            yield (
                f"The {kind}s of {name} have so many different values that percentiles are told in steps of "
                f"{counted.bin} samples; least and greatest are exact."
            )
