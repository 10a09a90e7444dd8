"""The page's tables, as text."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.program.masks.measure import Found
from analysis.program.masks.text import microseconds
from analysis.program.masks.worst import Worst, name_of
from dashboards.formatting import MISSING, grouped
from dashboards.page.sheet import Grid

# The page shows so many places; the JSON has all.
_MOST_PLACES = 100


def grids(found: Found) -> list[Grid]:
    """All tables; those of which there is nothing to say are left out."""
    made = [
        _places("The longest at each place", found.worst[:_MOST_PLACES]),
        _priorities(found),
        _open(found.still_open),
        _stacks(found.worst[:_MOST_PLACES]),
    ]
    return [grid for grid in made if grid.lines]


def _places(title: str, worst: Sequence[Worst]) -> Grid:
    headings = ("kind", "cycles", "", "×", "raised by", "called by, or interrupted", "ended by")
    return Grid(
        title,
        headings,
        tuple(
            (
                one.name,
                grouped(one.cycles),
                microseconds(one.ns),
                grouped(one.count),
                str(one.begin),
                str(one.caller or MISSING),
                str(one.end or MISSING),
            )
            for one in worst
        ),
        told=True,
    )


def _priorities(found: Found) -> Grid:
    lines = []
    for one in found.priorities:
        longest = one.longest
        if longest is None:
            continue
        parts = (f"{name_of(p.kind, p.level, found.places)}: {p.end - p.begin:,}" for p in one.parts)
        share = one.ended["cycles"].sum() / max(found.cycles, 1)
        lines.append(
            (
                f"{one.priority:#04x}",
                ", ".join(one.exceptions),
                grouped(one.ended.height),
                grouped(longest["cycles"]),
                microseconds(longest["ns"]),
                f"{share:.1%}",
                " + ".join(parts) or MISSING,
            )
        )
    headings = ("priority", "interrupts", "count", "longest", "", "of all time", "what held the longest")
    return Grid("Not taken, by priority, in cycles", headings, tuple(lines), told=True)


def _open(worst: Sequence[Worst]) -> Grid:
    lines = tuple((one.name, grouped(one.begin_cycle), str(one.begin)) for one in worst)
    return Grid(
        "Still open at the end, and not counted", ("kind", "since cycle", "raised by"), lines, told=True
    )


def _stacks(worst: Sequence[Worst]) -> Grid:
    lines = tuple(
        (
            one.name,
            grouped(one.cycles),
            " ← ".join(str(frame) for frame in one.stack),
            one.task or MISSING,
            ", ".join(one.held) or "nothing that was enabled",
        )
        for one in worst
    )
    headings = ("kind", "cycles", "calls, innermost first", "task", "it held off")
    return Grid("Call stacks, and what was held off", headings, lines, told=True)
