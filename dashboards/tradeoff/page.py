"""The page as a file: one HTML text that needs no other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.fragmentation.study import Row, Study, notes
from base.files.whole import write_bytes
from base.run_index import configuration
from dashboards.formatting import microseconds
from dashboards.loaded.series import by_scenario, caveats
from dashboards.page.templates import sheet
from dashboards.tradeoff import figures, tables
from dashboards.tradeoff.needs import Need, Run, gather


def write(study: Study, rows: Sequence[Row], runs: Sequence[Run], output: Path) -> Path:
    """Writes the page on `rows`, which `study` gave, and `runs` of its traces; returns `output`.

    Raises WriteError.
    """
    return write_bytes(output, html(study, rows, runs).encode())


def html(study: Study, rows: Sequence[Row], runs: Sequence[Run]) -> str:
    """The whole page. The same rows and runs give the same text."""
    needs = gather(rows, runs)
    chart = figures.tradeoff(needs, _provenance(study))
    remarks = [*_refusals(needs), *_not_replayed(needs, runs), *_as_built(runs), *notes(rows)]
    grids = [tables.heaps(needs), tables.fragmentation(needs), tables.traces(study.traces)]
    grids += [tables.runs(runs)] if runs else []
    return sheet("tradeoff.html", _headline(study, needs), remarks, [chart] if chart else [], grids)


def _headline(study: Study, needs: Sequence[Need]) -> str:
    best = figures.best_of(figures.points(needs))
    words = f"{study.traces[0].name} on {len(needs)} allocators, in a heap of {study.heap_bytes:,} bytes."
    if not best:
        return words
    least, shortest = best[0], best[-1]
    longest = microseconds(least.worst_ns)
    if least is shortest:
        return (
            f"{words} Of those that ran, {least.need.name} has both the least heap, "
            f"{least.heap_bytes:,} bytes, and the shortest worst critical section, {longest}."
        )
    return (
        f"{words} Of those that ran, {least.need.name} needs the least heap, {least.heap_bytes:,} bytes, "
        f"with a worst critical section of {longest}; {shortest.need.name} has the shortest, "
        f"{microseconds(shortest.worst_ns)}, with {shortest.heap_bytes:,} bytes."
    )


def _provenance(study: Study) -> str:
    seeds = [f"{trace.seed:#x}" for trace in study.traces if trace.seed is not None]
    text = (
        f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}" if seeds else "no seed"
    )
    first = study.traces[0]
    knobs = "".join(f" · {name}={value}" for name, value in sorted(study.knobs.items()))
    return (
        f"{first.name}, {len(first.operations):,} operations, {text} · replayed on the PC in a heap of "
        f"{study.heap_bytes:,} bytes{knobs} · sources below"
    )


def _refusals(needs: Sequence[Need]) -> list[str]:
    return [
        f"{need.name} refused {need.failures:,} requests in the given heap: what it used says "
        "little, for less was live."
        for need in needs
        if need.failures
    ]


def _not_replayed(needs: Sequence[Need], runs: Sequence[Run]) -> list[str]:
    replayed = {need.name for need in needs}
    return [
        f"{run.allocator} was not replayed, so it is in no figure; its worst critical section was "
        f"{microseconds(run.worst_ns)} ({run.loaded.id})."
        for run in runs
        if run.allocator not in replayed
    ]


def _as_built(runs: Sequence[Run]) -> list[str]:
    """Sentences on runs with other settings than usual, and whom their locks hold off."""
    named = [
        f"{run.loaded.id} ran as {configuration(run.loaded.manifest)}."
        for run in runs
        if configuration(run.loaded.manifest) != run.allocator
    ]
    groups = by_scenario([run.loaded for run in runs]).values()
    words = caveats([member for series in groups for member in series])
    return [*named, *([words] if words else [])]
