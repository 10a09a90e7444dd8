"""A run from the wire alone: its verdict, from the frames, if there are any, and the samples; and
its run.json (docs/how-to/observe.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from base.run_folder.edges import NOT
from base.run_folder.kept import Kept
from base.run_folder.manifest import BY_ANALYZER, VIRTUAL_BOARD, ToolReport
from base.run_folder.observed import (
    SCHEMA,
    Asked,
    FramesFound,
    KeptWindows,
    Longest,
    ObservedManifest,
    ObservedReport,
)
from capture.joining.evidence import Reasons
from capture.reading.observed import USUAL, ObservedWire, Questions
from capture.verdict.verdict import Judgement, by_rules


class Seen(NamedTuple):
    """What the tools said of a capture, what it tells, and what was asked of it."""

    tools: ToolReport
    edges: ObservedWire
    request: Asked

    def called(self, channel: str) -> str:
        """`CRIT (PA8)`."""
        return f"{channel} ({self.request.pins.get(channel.removeprefix(NOT), 'pin unknown')})"

    @property
    def unwatched(self) -> set[str]:
        """Channels of another tool's file of which nothing was asked, where anything was."""
        questions = Questions(self.request.pulses, self.request.latencies)
        if self.request.imported is None or questions == USUAL:
            return set()
        return self.request.pins.keys() - questions.channels.keys()


def judge(seen: Seen) -> Judgement:
    """The verdict, and a sentence for each reason: first what is missing, then what is in doubt."""
    return by_rules(seen, seen.tools, seen.edges.total_samples, TRUNCATED, INCONCLUSIVE)


def one_frame_alone(seen: Seen) -> Reasons:
    """A program that shows one frame shows both, unless it did not come to its end."""
    start, end = seen.edges.frames.start, seen.edges.frames.end
    sync = seen.called("SYNC")
    if start is not None and end is None:
        yield f"{sync} shows a start frame and no end frame; capture longer, or see why the program stopped."
    if start is None and end is not None:
        yield f"{sync} shows an end frame and no start frame; begin the capture before the program starts."


def nothing_seen(seen: Seen) -> Reasons:
    """A channel without an edge says nothing, or is clipped to nothing."""
    duration_s = seen.edges.total_samples / seen.edges.samplerate_hz
    for channel, line in seen.edges.lines.items():
        if not line.edges and channel not in seen.unwatched and not channel.startswith(NOT):
            yield (
                f"{seen.called(channel)} shows no edge in {duration_s:.6g} s, it is "
                f"{'high' if line.high else 'low'} throughout; check the pin, its clip, and that the program "
                "gets there."
            )
        elif channel in seen.edges.calibration_ns and line.greatest is None:
            yield (
                f"{seen.called(channel)} shows nothing but calibration pulses; check that the program gets "
                "there."
            )


def never_back(seen: Seen) -> Reasons:
    """A pulse that the end cuts off, and that is already longer than every whole one."""
    rate_hz = seen.edges.samplerate_hz
    for channel, line in seen.edges.lines.items():
        if line.lasted is not None and line.lasted > (line.greatest or 0):
            yield (
                f"{seen.called(channel)} rises at {(seen.edges.end - line.lasted) / rate_hz:.6g} s and does "
                f"not fall again by the end, {line.lasted / rate_hz * 1e3:.6g} ms later, longer than any "
                "whole pulse; see why, or capture longer."
            )


def at_the_limit(seen: Seen) -> Reasons:
    """Where some pulses are a sample wide, others may fall between two."""
    for channel, line in seen.edges.lines.items():
        if line.least == 1:
            yield (
                f"{seen.called(channel)} has pulses of a single sample, {seen.edges.sample_ns:.1f} ns: "
                "shorter ones are not seen, so some may be missing; use a higher samplerate."
            )


def never_answered(seen: Seen) -> Reasons:
    """A wait that the end cuts off, and that is already as long as every whole one."""
    for name, lasted in seen.edges.open_samples.items():
        greatest_ns = seen.edges.answered_ns[name].max
        if greatest_ns is not None and lasted >= round(greatest_ns / seen.edges.sample_ns):
            yield (
                f"{name}: a stimulus still waited when the capture ended, for "
                f"≥ {lasted * seen.edges.sample_ns / 1e3:.6g} µs, longer than any that was answered; "
                "see why, or capture longer."
            )


TRUNCATED = (one_frame_alone,)
INCONCLUSIVE = (nothing_seen, never_back, never_answered, at_the_limit)


def warnings(seen: Seen) -> Reasons:
    """What a reader should know, and what does not touch the verdict."""
    wire = seen.edges
    for pair, count in wire.merged.items():
        if count:
            yield (
                f"{count} stimuli of {pair} came while an earlier one waited: each is part of the wait that "
                "began before it."
            )
    still = [name for name, line in wire.lines.items() if not line.edges and name in seen.unwatched]
    if still:
        yield f"{', '.join(still)}: no edge, and nothing was asked of it."
    for name, which in wire.stimuli.items():
        if seen.request.stimulus_edges == "auto" and which != "both":
            yield (
                f"{name}: the {which} edges are the stimuli, since fewer than half of the others are "
                "answered before the next edge; --edges says otherwise."
            )
    for name, count in wire.unasked.items():
        if count:
            yield f"{name}: {count} answers came while no stimulus waited."
    if wire.kept is None:
        return
    for window in wire.kept.windows:
        if window.place.cut:
            yield (
                f"The window {window.place.name} begins later than was asked for: it has too many edges, or "
                "lasts too long."
            )
    for (kind, name), counted in wire.kept.counted.items():
        if counted.bin > 1:
            yield (
                f"The {kind}s of {name} have so many different values that percentiles are told in steps of "
                f"{counted.bin} samples; least and greatest are exact."
            )


WITHOUT_RECORDS = (
    "There are no operations and no records: no operations.parquet, interrupts.parquet, operations.bin, "
    "plan.parquet or uart.log, and nothing but the wire bears the figures out."
)
WITHOUT_LOADING = "The board was neither loaded nor reset: what was on it ran; which program, is not known."
WITHOUT_SYNC = "SYNC is not among the pins, so nothing tells whether the program ran from begin to end."
WITHOUT_FRAMES = (
    "SYNC shows no frames, so nothing tells whether the program ran from begin to end, and the analyzer's "
    "clock was not compared with the board's."
)


_AS_THE_WIRE_TELLS = (
    *("samplerate_hz", "total_samples", "clock", "merged", "widths_ns", "intervals_ns", "latencies_ns"),
    *("duty", "stimuli", "unasked", "open_ns", "calibration_ns"),
)


def summarise_observed(seen: Seen, notes: Sequence[str] = ()) -> ObservedManifest:
    """The whole content of run.json; `notes` are sentences on what was stored."""
    verdict, reasons = judge(seen)
    report = ObservedReport(**seen.tools.model_dump())
    wire, request = seen.edges, seen.request
    clock, imported, analyzed = wire.clock, request.imported, wire.kept is None
    synced = "SYNC" in wire.channels
    # What a reader must know of the figures, and what no rule can tell.
    unjudged = []
    if imported and imported.samplerate_from == "resolution" and imported.format in BY_ANALYZER:
        unjudged.append(UNKNOWN_RATE)
    if clock is None and not (request.analyzer == _LOSSLESS and VIRTUAL_BOARD in request.tools):
        unjudged.append(DROPPED)
    if request.keep:
        unjudged.append(NOT_KEPT)
    missing = [WITHOUT_RECORDS]
    if imported is None:
        missing += [WITHOUT_LOADING] if request.program.elf is None else []
        missing += [WITHOUT_SYNC] if not synced else [WITHOUT_FRAMES] if analyzed and not clock else []
    return ObservedManifest.model_validate(
        {
            **request.model_dump(by_alias=True),
            **{name: getattr(wire, name) for name in _AS_THE_WIRE_TELLS},
            "schema": SCHEMA,
            "resolution_ns": wire.sample_ns,
            "verdict": verdict,
            "reasons": list(reasons),
            "warnings": [*warnings(seen), *notes, *report.notes],
            "missing": missing,
            "frames": FramesFound(
                start=wire.frames.start is not None if analyzed and synced else None,
                end=wire.frames.end is not None if analyzed and synced else None,
            ),
            "unjudged": tuple(unjudged),
            "tool_report": report,
            "longest": {
                name: Longest(start=int(start[at]), end=int(end[at]))
                for name, (start, end) in wire.spans.items()
                if start.size and (at := int(np.argmax(end - start))) >= 0
            },
            "kept": wire.kept and _windows(wire.kept),
        }
    )


def _windows(kept: Kept) -> KeptWindows:
    places = [window.place for window in kept.windows]
    # How many samples lie in at least one of them.
    covered = end = 0
    for place in sorted(places, key=lambda place: place.begin):
        covered += max(place.until - max(place.begin, end), 0)
        end = max(end, place.until)
    return KeptWindows(
        kept_samples=covered,
        windows=places,
        bin_samples={
            f"{kind} {name}": count.bin for (kind, name), count in kept.counted.items() if count.bin > 1
        },
    )


DROPPED = (
    "Samples that the analyzer dropped without a word would not be seen: a pulse or latency around such a "
    "place is told too short, and one may be missing. With frames on SYNC the ratio of the clocks would show "
    "it; a slower samplerate makes it less likely."
)
UNKNOWN_RATE = (
    "Nobody says at which samplerate it was captured, so edges may be off by more than the resolution; give "
    "--samplerate."
)
NOT_KEPT = (
    "Only the windows were kept: all other figures were counted as the samples came, and cannot be counted "
    "again. Frames were not looked for."
)


_LOSSLESS = "beaglelogic"
"""The analyzer of the virtual board: it waits for whoever listens."""
