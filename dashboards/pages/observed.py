"""One run from the wire alone (`./lab observe`): its verdict, its figures, and its run.json.

It has no operations, and so nothing of what the other pages show.
"""

from __future__ import annotations

import json

from base.run_folder.observed import ObservedManifest
from dashboards.blocks import Column, Grid, Group, Line, Page, Prose, Verbatim, present
from dashboards.formatting import microseconds
from dashboards.tables import number, plain

_SHOWN = ("max", "min", "median", "p99")
_COLUMNS = (*(Column(f"{name}_ns", f"{name} (µs)") for name in _SHOWN), Column("n", "n"))


def observed(identity: str, manifest: ObservedManifest) -> Page:
    """The page of the run that is called `identity`."""
    program = manifest.program.elf or "what was on the board"
    pins = ", ".join(f"{channel} on {pin}" for channel, pin in manifest.pins.items())
    sentences = [*manifest.reasons, *manifest.unjudged]
    if manifest.kept:  # of a capture that was not kept whole
        kept_s = manifest.kept.kept_samples / manifest.samplerate_hz
        windows = ", ".join(place.name for place in manifest.kept.windows)
        sentences.append(
            f"Of {manifest.total_samples / manifest.samplerate_hz:.6g} s, {kept_s:.6g} s were kept, in the "
            f"windows {windows}: ./lab pulseview RUN --window NAME opens one."
        )
    sentences += [*manifest.missing, *manifest.warnings]
    lead = (
        f"{program} on {manifest.board}, from the wire alone: {pins}. It has no operations.",
        f"The run is {manifest.verdict}. Its folder: {identity}.",
        f"Each edge is known to a sample of {microseconds(manifest.resolution_ns)}.",
    )
    groups = []
    for words, summaries in (
        ("width of a pulse", manifest.widths_ns),
        ("from one begin to the next", manifest.intervals_ns),
        ("latency", manifest.latencies_ns),
        ("empty section, of the calibration", manifest.calibration_ns),
    ):
        lines = []
        for name, summary in summaries.items():
            longest, *others = (getattr(summary, statistic) for statistic in _SHOWN)
            cells = (plain(longest, "ns", sign=summary.at_least), *(plain(value, "ns") for value in others))
            lines.append(Line(name, (*cells, number(summary.n))))
        groups += [Group(words, lines)] if lines else []
    grid = Grid("observed", "What the pins did", _COLUMNS, groups, names="channel")
    text = json.dumps(manifest.model_dump(mode="json", by_alias=True), indent=2, ensure_ascii=False)
    blocks = present(
        Prose("What to know", sentences, listed=True) if sentences else None,
        grid if groups else None,
        Verbatim("run.json", text),
    )
    return Page("run", program, lead, blocks)
