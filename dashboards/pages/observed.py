"""One run from the wire alone (`./lab observe`): its verdict, its figures, and its run.json.

It has no operations, and so nothing of what the other pages show.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from base.metrology.summaries import Summary
from base.run_folder.observed import ObservedManifest
from dashboards.blocks import Cell, Column, Grid, Group, Line, Page, Prose, Verbatim, present
from dashboards.formatting import grouped, microseconds, short, whole

_SHOWN = ("max", "min", "median", "p99")
_COLUMNS = (*(Column(f"{name}_ns", f"{name} (µs)") for name in _SHOWN), Column("n", "n"))


def observed(identity: str, manifest: ObservedManifest) -> Page:
    """The page of the run that is called `identity`."""
    program = manifest.program.elf or "what was on the board"
    pins = ", ".join(f"{channel} on {pin}" for channel, pin in manifest.pins.items())
    sentences = (
        *(*manifest.reasons, *manifest.unjudged, *_kept(manifest)),
        *(*manifest.missing, *manifest.warnings),
    )
    lead = (
        f"{program} on {manifest.board}, from the wire alone: {pins}. It has no operations.",
        f"The run is {manifest.verdict}. Its folder: {identity}.",
        f"Each edge is known to a sample of {microseconds(manifest.resolution_ns)}.",
    )
    groups = (
        _group("width of a pulse", manifest.widths_ns),
        _group("from one begin to the next", manifest.intervals_ns),
        _group("latency", manifest.latencies_ns),
        _group("empty section, of the calibration", manifest.calibration_ns),
    )
    there = tuple(group for group in groups if group.lines)
    text = json.dumps(manifest.model_dump(mode="json", by_alias=True), indent=2, ensure_ascii=False)
    blocks = present(
        Prose("What to know", sentences, listed=True) if sentences else None,
        Grid("observed", "What the pins did", _COLUMNS, there, names="channel") if there else None,
        Verbatim("run.json", text),
    )
    return Page("run", program, lead, blocks)


def _kept(manifest: ObservedManifest) -> Iterator[str]:
    """Which windows were kept, of a capture that was not kept whole."""
    if manifest.kept:
        kept_s = manifest.kept.kept_samples / manifest.samplerate_hz
        windows = ", ".join(place.name for place in manifest.kept.windows)
        yield (
            f"Of {manifest.total_samples / manifest.samplerate_hz:.6g} s, {kept_s:.6g} s were kept, in the "
            f"windows {windows}: ./lab pulseview RUN --window NAME opens one."
        )


def _group(words: str, summaries: dict[str, Summary]) -> Group:
    return Group(words, tuple(Line(name, _cells(summary)) for name, summary in summaries.items()))


def _cells(summary: Summary) -> tuple[Cell, ...]:
    values = [getattr(summary, name) for name in _SHOWN]
    return (
        *(
            Cell(sign + short(value, "ns"), value, whole=sign + whole(value, "ns"))
            for sign, value in zip((summary.at_least, "", "", ""), values, strict=True)
        ),
        Cell(grouped(summary.n), summary.n),
    )
