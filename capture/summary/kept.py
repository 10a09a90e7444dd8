"""run.json of a run of which only windows were kept (docs/reference/observed.md)."""

from __future__ import annotations

from collections.abc import Sequence

from base.metrology.quantiles import Summary, beside_open
from base.run_folder.kept import Kept
from base.run_folder.observed import (
    SCHEMA,
    Asked,
    FramesFound,
    KeptWindows,
    ObservedManifest,
    ObservedReport,
)
from capture.summary.observed import WITHOUT_SYNC, without
from capture.summary.unjudged import unjudged
from capture.verdict.kept import SeenKept, judge, warnings


def summarise_kept(seen: SeenKept, request: Asked, notes: Sequence[str] = ()) -> ObservedManifest:
    """The whole content of run.json; `notes` are sentences on what was stored."""
    windows = seen.kept
    verdict, reasons = judge(seen)
    open_ns = {name: lasted * windows.sample_ns for name, lasted in windows.open_samples.items()}
    report = ObservedReport(**seen.tools.model_dump())
    content = {
        **request.model_dump(by_alias=True),
        "schema": SCHEMA,
        "samplerate_hz": windows.samplerate_hz,
        "total_samples": windows.total_samples,
        "resolution_ns": windows.sample_ns,
        "verdict": verdict,
        "reasons": list(reasons),
        "warnings": [*warnings(seen), *notes, *report.notes],
        "missing": [*without(request), *([] if "SYNC" in windows.channels else [WITHOUT_SYNC])],
        "frames": FramesFound(start=None, end=None),
        "clock": None,
        "widths_ns": _summaries(windows, "width"),
        "intervals_ns": _summaries(windows, "interval"),
        "latencies_ns": beside_open(_summaries(windows, "latency"), open_ns),
        "merged": dict(windows.merged),
        "open_ns": open_ns,
        "calibration_ns": {},
        "tool_report": report,
        "unjudged": tuple(unjudged(request, framed=False)),
        "kept": _windows(windows),
    }
    return ObservedManifest.model_validate(content)


def _summaries(windows: Kept, kind: str) -> dict[str, Summary]:
    """In ns, of all that was seen, by name."""
    return {
        name: counted.summary(windows.sample_ns)
        for (its_kind, name), counted in windows.counted.items()
        if its_kind == kind
    }


def _windows(windows: Kept) -> KeptWindows:
    places = [window.place for window in windows.windows]
    return KeptWindows(
        kept_samples=_covered([(place.begin, place.until) for place in places]),
        windows=places,
        bin_samples={
            f"{kind} {name}": count.bin for (kind, name), count in windows.counted.items() if count.bin > 1
        },
    )


def _covered(stretches: Sequence[tuple[int, int]]) -> int:
    """How many samples lie in at least one of the stretches."""
    covered, end = 0, 0
    for begin, until in sorted(stretches):
        covered += max(until - max(begin, end), 0)
        end = max(end, until)
    return covered
