"""run.json of a run from the wire alone (docs/how-to/observe.md)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from base.run_folder.kept import Kept
from base.run_folder.manifest import BY_ANALYZER, VIRTUAL_BOARD
from base.run_folder.observed import (
    SCHEMA,
    Asked,
    ClockFound,
    FramesFound,
    KeptWindows,
    Longest,
    ObservedManifest,
    ObservedReport,
)
from capture.verdict.observed import Seen, judge, warnings

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


def summarise_observed(seen: Seen, request: Asked, notes: Sequence[str] = ()) -> ObservedManifest:
    """The whole content of run.json; `notes` are sentences on what was stored."""
    verdict, reasons = judge(seen)
    report = ObservedReport(**seen.tools.model_dump())
    wire = seen.edges
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
    content = {
        **request.model_dump(by_alias=True),
        "schema": SCHEMA,
        "samplerate_hz": wire.samplerate_hz,
        "total_samples": wire.total_samples,
        "resolution_ns": wire.sample_ns,
        "verdict": verdict,
        "reasons": list(reasons),
        "warnings": [*warnings(seen), *notes, *report.notes],
        "missing": missing,
        "frames": FramesFound(
            start=wire.frames.start is not None if analyzed and synced else None,
            end=wire.frames.end is not None if analyzed and synced else None,
        ),
        "clock": clock
        and ClockFound(
            ratio=clock.ratio,
            ratio_uncertainty=clock.ratio_uncertainty,
            residual_max_samples=clock.residual_max_samples,
        ),
        "merged": wire.merged,
        "unjudged": tuple(unjudged),
        "tool_report": report,
        "widths_ns": wire.widths_ns,
        "intervals_ns": wire.intervals_ns,
        "latencies_ns": wire.latencies_ns,
        "longest": {
            name: Longest(start=int(start[at]), end=int(end[at]))
            for name, (start, end) in wire.spans.items()
            if start.size and (at := int(np.argmax(end - start))) >= 0
        },
        "duty": wire.duty,
        "stimuli": wire.stimuli,
        "unasked": wire.unasked,
        "open_ns": wire.open_ns,
        "calibration_ns": wire.calibration_ns,
        "kept": _windows(wire.kept) if wire.kept else None,
    }
    return ObservedManifest.model_validate(content)


def _windows(kept: Kept) -> KeptWindows:
    places = [window.place for window in kept.windows]
    return KeptWindows(
        kept_samples=_covered([(place.begin, place.until) for place in places]),
        windows=places,
        bin_samples={
            f"{kind} {name}": count.bin for (kind, name), count in kept.counted.items() if count.bin > 1
        },
    )


def _covered(stretches: Sequence[tuple[int, int]]) -> int:
    """How many samples lie in at least one of the stretches."""
    covered, end = 0, 0
    for begin, until in sorted(stretches):
        covered += max(until - max(begin, end), 0)
        end = max(end, until)
    return covered


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
