"""The page's tables, as text."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.twin.causes import Causes
from analysis.twin.comparison import Comparison
from analysis.twin.hypotheses import Trials
from analysis.twin.statistics import Row, Units
from dashboards.formatting import MISSING, grouped
from dashboards.page.sheet import Grid


def grids(found: Comparison) -> list[Grid]:
    """All tables; those of which there is nothing to say are left out."""
    made = [_residuals("Residuals", found.rows)]
    if found.trials.holds:
        left = [row for row in found.rows_left if row.kind is None]
        made.append(_residuals("Left with what holds taken out", left))
    made += [_worst(found.rows, found.units), _hypotheses(found.trials)]
    if found.causes and found.causes.ranked:
        made.append(_causes(found.causes))
    return [grid for grid in made if grid.lines]


def _residuals(title: str, rows: Sequence[Row]) -> Grid:
    headings = ("in cycles", "kind", "n", "least", "median", "mean", "p99", "greatest", "budget", "beyond")
    return Grid(
        title,
        headings,
        tuple(
            (
                row.quantity.words if row.kind is None else "",
                row.kind or "all",
                grouped(row.cycles.n),
                *(_rounded(getattr(row.cycles, name)) for name in ("min", "median", "mean", "p99", "max")),
                f"± {row.budget_cycles:.1f}" if row.quantity.wire else "0",
                f"{row.beyond:,} ({row.share_beyond:.1%})",
            )
            for row in rows
        ),
    )


def _rounded(cycles: float | None) -> str:
    # Adding zero makes of a rounded -0.0 a 0.
    return grouped(None if cycles is None else round(cycles, 1) + 0.0)


def _worst(rows: Sequence[Row], units: Units) -> Grid:
    lines = [
        (
            row.quantity.words,
            "; ".join(
                f"{'outside' if seq is None else seq}: {_rounded(cycles)} ({units.ns(cycles):,.1f} ns)"
                for seq, cycles in row.worst
            ),
        )
        for row in rows
        if row.kind is None and row.worst
    ]
    return Grid("Worst ten", ("quantity", "operation: cycles"), tuple(lines), told=True)


def _hypotheses(trials: Trials) -> Grid:
    return Grid(
        "What may explain it",
        ("hypothesis", "found", "removes", "beyond then", "left out", "holds"),
        tuple(
            (
                one.key,
                one.found,
                MISSING if one.removed is None else f"{one.removed:.1%}",
                grouped(one.beyond),
                grouped(one.left_out),
                "yes" if trials.held(one) else "no",
            )
            for one in trials.hypotheses
        ),
        told=True,
    )


def _causes(found: Causes) -> Grid:
    return Grid(
        f"What the difference goes with, in {found.undisturbed:,} operations that no interrupt met",
        ("counted", "cycles each", "share", "source"),
        tuple(
            (one.what, f"{one.cycles_each:+,.2f}", f"{one.share:.0%}", one.source or MISSING)
            for one in found.ranked
        ),
        told=True,
    )
