"""run.json of a run from the wire alone (docs/reference/observed.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from base.run_folder.observed import (
    SCHEMA,
    Asked,
    ClockFound,
    FramesFound,
    ObservedManifest,
    ObservedReport,
)
from capture.reading.observed import ObservedWire
from capture.summary.unjudged import unjudged
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
    observed = seen.observed
    verdict, reasons = judge(seen)
    report = ObservedReport(**seen.tools.model_dump())
    content = {
        "schema": SCHEMA,
        "kind": request.kind,
        "board": request.board,
        "analyzer": request.analyzer,
        "pins": request.pins,
        "stimulus_edges": request.stimulus_edges,
        "program": request.program,
        "core_hz": request.core_hz,
        "samplerate_hz": observed.edges.samplerate_hz,
        "total_samples": observed.edges.total_samples,
        "resolution_ns": observed.edges.sample_ns,
        "verdict": verdict,
        "reasons": list(reasons),
        "warnings": [*warnings(seen), *notes, *report.notes],
        "missing": list(_missing(observed, request)),
        "frames": _frames(observed),
        "clock": _clock(observed),
        "widths_ns": observed.widths_ns,
        "intervals_ns": observed.intervals_ns,
        "latencies_ns": observed.latencies_ns,
        "merged": observed.merged,
        "open_ns": observed.open_ns,
        "calibration_ns": observed.calibration_ns,
        "unjudged": tuple(unjudged(request, observed.clock is not None)),
        "tools": request.tools,
        "tool_report": report,
    }
    return ObservedManifest.model_validate(content)


def without(request: Asked) -> Iterator[str]:
    """What no run from the wire alone has, and one that was not loaded has not."""
    yield WITHOUT_RECORDS
    if request.program.elf is None:
        yield WITHOUT_LOADING


def _missing(observed: ObservedWire, request: Asked) -> Iterator[str]:
    """What other runs have and this one has not."""
    yield from without(request)
    if "SYNC" not in observed.edges.channels:
        yield WITHOUT_SYNC
    elif observed.clock is None:
        yield WITHOUT_FRAMES


def _frames(observed: ObservedWire) -> FramesFound:
    if "SYNC" not in observed.edges.channels:
        return FramesFound(start=None, end=None)
    return FramesFound(start=observed.frames.start is not None, end=observed.frames.end is not None)


def _clock(observed: ObservedWire) -> ClockFound | None:
    if observed.clock is None:
        return None
    return ClockFound(
        ratio=observed.clock.ratio,
        ratio_uncertainty=observed.clock.ratio_uncertainty,
        residual_max_samples=observed.clock.residual_max_samples,
    )
