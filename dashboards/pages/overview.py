"""The overview: what each scenario showed, in three lines, and its runs with their verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from base.run_folder.quantities import CRITICAL, LATENCY
from dashboards.formatting import grouped, samplerate
from dashboards.headline import headline
from dashboards.loaded.series import Series
from dashboards.pages.blocks import Block, Cell, Column, Grid, Group, Line, Page, Prose
from dashboards.tables.comparison import brief, largest, line_of

_COLUMNS = (
    Column("critical_ns", "worst critical section (ns)"),
    Column("interrupt_ns", "worst interrupt (ns)"),
    Column("verdict", "verdict", numeric=False),
    Column("board", "board", numeric=False),
    Column("samplerate_hz", "samplerate"),
    Column("operations", "operations"),
    Column("run", "run", numeric=False),
)


def overview(scenarios: Mapping[str, Sequence[Series]]) -> Page:
    """All scenarios and all runs."""
    blocks: list[Block] = [
        Prose(scenario, headline(scenario, series)) for scenario, series in scenarios.items()
    ]
    groups = tuple(Group(scenario, _lines(series)) for scenario, series in scenarios.items())
    return Page("overview", "Overview", _lead(scenarios), (*blocks, Grid("runs", "Runs", _COLUMNS, groups)))


def _lead(scenarios: Mapping[str, Sequence[Series]]) -> tuple[str, ...]:
    """What must be known before any number; nothing where every run is complete."""
    doubtful = sum(not one.run.manifest.complete for series in scenarios.values() for one in series)
    if not doubtful:
        return ()
    noun, verb = ("run", "is") if doubtful == 1 else ("runs", "are")
    return (f"{doubtful} {noun} shown here {verb} not complete: see the reasons before any number.",)


def _lines(series: Sequence[Series]) -> tuple[Line, ...]:
    greatest = {quantity.key: largest(quantity, series) for quantity in (CRITICAL, LATENCY)}
    return tuple(_line(one, greatest) for one in series)


def _line(one: Series, greatest: Mapping[str, float]) -> Line:
    manifest = one.run.manifest
    maxima = tuple(brief(quantity, one, greatest[quantity.key]) for quantity in (CRITICAL, LATENCY))
    told = (
        Cell(manifest.verdict, manifest.verdict, why=" ".join(manifest.reasons)),
        Cell(manifest.board, manifest.board),
        Cell(samplerate(manifest.samplerate_hz), manifest.samplerate_hz),
        Cell(grouped(manifest.counts.operations), manifest.counts.operations),
        Cell(one.run.id, one.run.id),
    )
    return line_of(one, (*maxima, *told))
