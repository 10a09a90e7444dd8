"""The report's tables: every quantity of a scenario's runs, and the witnesses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from base.metrology.summaries import PERCENTILES
from base.microseconds import with_unit
from base.run_folder.quantities import (
    CRITICAL,
    DWT_CYCLES,
    INSTRUCTIONS,
    LATENCY,
    PROBES,
    SECTION,
    TASK,
    Quantity,
)
from dashboards import caveats, placements
from dashboards.blocks import Cell, Column, Grid, Group, Line, Sample
from dashboards.formatting import MISSING, grouped, short, whole
from dashboards.loaded.runs import REPORTED, bound_of, confidence_words, shown
from dashboards.loaded.series import Members, Series
from dashboards.waveforms import worst_key


def line_of(series: Series, cells: Sequence[Cell]) -> Line:
    """A row of a run: its name opens the run's page."""
    return Line(series.name, cells, entry=series.style.entry, run_id=series.run.id)


def plain(value: float | None, unit: str, *notes: str, sign: str = "", sample: Sample | None = None) -> Cell:
    """A value in its unit, with the `sign` before it and the notes that qualify it; empty ones are
    left out. A click opens the `sample`.
    """
    there = tuple(filter(None, notes))
    return Cell(sign + short(value, unit), value, there, sample, whole=sign + whole(value, unit))


def number(value: float | None, words: str = "") -> Cell:
    """A value in the format `words`; else with thousands apart."""
    text = words.format(value) if words and value is not None else grouped(value)
    return Cell(text, value)


_STATISTICS = ("min", "mean", "stdev")
_BOUNDED = {
    "critical_ns": "allocate",
    "dwt_cycles": "allocate",
    "free_critical_ns": "free",
    "free_dwt_cycles": "free",
}


def comparison(series: Members) -> Grid:
    """Every quantity that the runs of one scenario tell: its maximum, then the rest."""
    runs = [member.run for member in series]
    groups = []
    for quantity in shown(REPORTED, runs):
        rows, unit = among(quantity, series), quantity.unit
        lines = []
        for member in sorted(series, key=lambda series: -(series.run.summary(quantity).max or 0)):
            summary = member.run.summary(quantity)
            statistics = (plain(getattr(summary, name), unit) for name in _STATISTICS)
            percentiles = (_percentile(quantity, member, name) for name in PERCENTILES)
            cells = (worst(member, rows), number(summary.n), *statistics, *percentiles)
            lines.append(line_of(member, cells))
        groups.append(Group(with_unit(quantity.words, unit), lines, rows.budget))
    columns = [
        Column(key, "sd" if key == "stdev" else key.replace("_", "."))
        for key in ("max", "n", *_STATISTICS, *PERCENTILES)
    ]
    # On the signs beside the numbers, and why some are missing.
    legend = (
        caveats.LEGEND.format(confidence=confidence_words(runs)),
        *dict.fromkeys(run.manifest.intervals.refused or "" for run in runs),
        *placements.undecided(series),
    )
    words = " ".join(filter(None, legend))
    return Grid("comparison", "Every quantity", columns, groups, legend=words)


def _percentile(quantity: Quantity, series: Series, name: str) -> Cell:
    summary = series.run.summary(quantity)
    value = getattr(summary, name)
    interval = series.run.intervals(quantity).get(name)
    if interval is None:
        return plain(value, quantity.unit)
    low, high = (short(end, quantity.unit) for end in interval)
    mark = caveats.DEPENDENT if quantity.key in series.run.dependent else ""
    return plain(value, quantity.unit, f"[{low}, {high}]{mark}")


class Among(NamedTuple):
    """What rows have in common that show the maximum of `quantity`.

    `greatest` is that of all, in the quantity's unit: bars are by it. `budget` are the words on the
    error that all share, to stand once above them; empty where the rows differ.
    """

    quantity: Quantity
    greatest: float
    budget: str


def among(quantity: Quantity, series: Members, table: Members = ()) -> Among:
    """Of the rows `series`; `table` are all rows that stand under the same heading, if more."""
    greatest = max((member.run.summary(quantity).max or 0 for member in series), default=0)
    shown = [member for member in table or series if member.run.summary(quantity).max is not None]
    budgets = {_budget(quantity, series) for series in shown}
    return Among(quantity, greatest, budgets.pop() if len(budgets) == 1 else "")


def worst(series: Series, rows: Among, *, brief: bool = False) -> Cell:
    """The maximum, with what qualifies it, or if `brief` its error and placements alone; a click
    opens its instant.
    """
    quantity, summary = rows.quantity, series.run.summary(rows.quantity)
    key = worst_key(series.run, quantity)
    if summary.max is None or key is None:
        return plain(summary.max, quantity.unit)
    maximum = series.run.manifest.maxima.get(quantity.key)
    of_requests = quantity in (PROBES, INSTRUCTIONS, DWT_CYCLES, CRITICAL)
    notes = ["" if rows.budget else _budget(quantity, series), placements.note(quantity, series)]
    if not brief:
        notes += [
            # What the second witness told of this very answer.
            f"by the timer {short(maximum.timer_ns, quantity.unit)}"
            if maximum and maximum.timer_ns is not None
            else "",
            _bound(quantity, series),
            "of a refused request" if of_requests and maximum and maximum.kind == "O" else "",
        ]
    sample, share = Sample(series.run.id, key), 100 * summary.max / rows.greatest if rows.greatest else 0
    cell = plain(summary.max, quantity.unit, *notes, sign=summary.at_least, sample=sample)
    return cell._replace(share_percent=share)


def behind(series: Series) -> Sample | None:
    """The instant that makes the longest possible wait: a section, or a wait that was longer."""
    wait = series.run.manifest.possible_wait
    quantity = SECTION if wait is None or wait.by == "section" else TASK if wait.of == TASK.key else LATENCY
    key = worst_key(series.run, quantity)
    return None if key is None else Sample(series.run.id, key)


def possible(series: Series) -> Cell:
    """The longest wait that the run shows to be possible; a click opens the section behind it."""
    wait = series.run.manifest.possible_wait
    if wait is None:
        return Cell(MISSING)
    budget = "" if wait.budget_ns is None else f"±{short(wait.budget_ns, 'ns')}"
    return plain(wait.ns, "ns", budget, sign=wait.at_least, sample=behind(series))


def _budget(quantity: Quantity, series: Series) -> str:
    """`±0.01`: how wrong it may be."""
    total = series.run.budget(quantity)
    return "" if total is None else f"±{short(total, quantity.unit)}"


def _bound(quantity: Quantity, series: Series) -> str:
    """`bound 128.63, 3.7 ×, grows with the heap`: the most that it can be, and its ratio to the
    longest that was seen of what it bounds.
    """
    bound = bound_of(series.run, _BOUNDED.get(quantity.key, ""))
    if bound is None:
        return ""
    words = f"bound {short(bound.cycles if quantity.unit == 'cycles' else bound.ns, quantity.unit)}"
    words += "" if bound.ratio is None else f", {bound.ratio:.1f} ×"
    return f"{words}, grows with the heap" if bound.region_decided else words


def agreement(series: Members) -> Grid:
    """A row for each run: how far the wire and DWT were apart at most, and how far they may be."""
    columns = (
        Column("furthest_cycles", "furthest apart (cycles)"),
        Column("tolerance_cycles", "tolerance (cycles)"),
        Column("n", "n"),
    )
    lines = []
    for member in series:
        agreed = member.run.manifest.agreement
        values = (agreed.wire_minus_dwt_cycles_max_abs, agreed.tolerance_cycles)
        lines.append(line_of(member, (*(number(value, "{:,.2f}") for value in values), number(agreed.n))))
    legend = (
        "Each critical section is measured twice: on the wire, and by the core's cycle counter. They may "
        "differ by the tolerance, which is a bound of the errors of both."
    )
    return Grid("agreement", "Wire and DWT", columns, [Group("", lines)], legend=legend)


def error_budget(series: Members) -> Grid | None:
    """The terms of each value's error. None if no run states them."""
    if not any(member.run.manifest.error_budget for member in series):
        return None
    terms, groups = ("total", "resolution", "clock", "skew", "overhead"), []
    for quantity in (CRITICAL, LATENCY, TASK):
        lines = [
            line_of(member, [plain(member.run.budget(quantity, term), "ns") for term in terms])
            for member in series
        ]
        groups.append(Group(quantity.words, lines))
    legend = (
        "Total: the value is true to plus or minus this. It is the sum of resolution, clock and skew. "
        "Overhead is no error: it is the part of the value that is the bench's own, its markers."
    )
    columns = [Column(f"{term}_ns", f"{term} (µs)") for term in terms]
    return Grid("error-budget", "Error budget", columns, groups, legend=legend)
