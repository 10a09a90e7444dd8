"""Pulses too short to be the firmware's, named where a run is in doubt because of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from base.run_folder.manifest import Verdict
from capture.joining.evidence import Evidence, with_edges
from capture.reading.glitches import without_glitches

Judge = Callable[[Evidence], tuple[Verdict, tuple[str, ...]]]


def named(evidence: Evidence, reasons: tuple[str, ...], judge: Judge) -> Iterator[str]:
    """A further reason, if the run without glitches has fewer of these `reasons` and no other."""
    glitches = evidence.glitches
    if not reasons or evidence.without_glitches or glitches is None or not glitches.count:
        return
    edges = without_glitches(evidence.edges, glitches.longest_samples)
    if set(judge(with_edges(evidence, edges))[1]) < set(reasons):
        by_channel = ", ".join(f"{count:,} on {channel}" for channel, count in glitches.count.items())
        yield (
            f"Pulses too short to be the firmware's, of at most {glitches.longest_samples} samples, are "
            f"among the causes: {by_channel}. Check clips and ground, or leave them out by --ignore-glitches."
        )
