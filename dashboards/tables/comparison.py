"""Tables of a scenario's runs side by side: a row a run under each quantity, and each heap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from base.metrology.summaries import PERCENTILES, samples_needed
from base.microseconds import with_unit
from base.run_folder.quantities import LATENCY, SECTION, TASK, Quantity
from dashboards import caveats, placements
from dashboards.blocks import Cell, Column, Grid, Group, Line, Sample
from dashboards.formatting import MISSING, grouped, short, whole
from dashboards.loaded.certainty import confidence_words
from dashboards.loaded.quantities import REPORTED, bound_of, shown
from dashboards.loaded.series import Series
from dashboards.waveforms import worst_key

_PERCENTILES = {"median": "median", "p90": "p90", "p99": "p99", "p99_9": "p99.9", "p99_99": "p99.99"}
_COMPARISON_COLUMNS = (
    Column("max", "max"),
    Column("n", "n"),
    Column("min", "min"),
    Column("mean", "mean"),
    Column("stdev", "sd"),
    *(Column(name, _PERCENTILES[name]) for name in PERCENTILES),
)
DEPENDENT = "†"
_BOUNDED = {
    "critical_ns": "allocate",
    "dwt_cycles": "allocate",
    "served_critical_ns": "allocate",
    "served_dwt_cycles": "allocate",
    "refused_critical_ns": "allocate",
    "refused_dwt_cycles": "allocate",
    "free_critical_ns": "free",
    "free_dwt_cycles": "free",
}


def comparison(series: Sequence[Series]) -> Grid:
    """Every quantity that the runs of one scenario tell: its maximum, then the rest."""
    quantities = shown(REPORTED, [member.run for member in series])
    groups = tuple(_group(quantity, series) for quantity in quantities)
    legend = " ".join(_legend(series))
    first = quantities.index(SECTION) if SECTION in quantities else 0
    return Grid("comparison", "Every quantity", _COMPARISON_COLUMNS, groups, legend=legend, one_group=first)


def _legend(series: Sequence[Series]) -> list[str]:
    """Sentences on the signs beside the numbers, and why some are missing."""
    certainties = [member.run.certainty for member in series]
    dependent = any(certainty.dependent for certainty in certainties)
    bounded = any(bound_of(member.run, "allocate") for member in series)
    any_interval = any(certainty.intervals for certainty in certainties)
    return [
        caveats.BUDGET,
        *([caveats.INTERVALS.format(confidence=confidence_words(certainties))] if any_interval else []),
        "sd: the standard deviation of the samples, with n − 1.",
        *([f"{DEPENDENT} {caveats.DEPENDENT}"] if dependent else []),
        *dict.fromkeys(certainty.refused for certainty in certainties if certainty.refused),
        *([caveats.TIMER] if any(_timed(member) for member in series) else []),
        *([caveats.BOUND] if bounded else []),
        *placements.meaning(series),
        *placements.undecided(series),
        *dict.fromkeys(f"{member.name}: {words}" for member in series for words in member.run.adjustments),
    ]


def _timed(series: Series) -> bool:
    return any(maximum and maximum.timer_ns is not None for maximum in series.run.manifest.maxima.values())


def _group(quantity: Quantity, series: Sequence[Series]) -> Group:
    ordered = sorted(series, key=lambda series: -(series.run.summary(quantity).max or 0))
    rows = among(quantity, series)
    return Group(
        with_unit(quantity.words, quantity.unit),
        tuple(_comparison_line(series, rows) for series in ordered),
        note=rows.budget,
        exported=f"{quantity.words} ({quantity.unit})" if quantity.unit else quantity.words,
    )


def _comparison_line(series: Series, rows: Among) -> Line:
    quantity = rows.quantity
    summary = series.run.summary(quantity)
    cells = (
        worst(series, rows),
        Cell(grouped(summary.n), summary.n),
        *(_plain(getattr(summary, name), quantity) for name in ("min", "mean", "stdev")),
        *(_percentile(quantity, series, name) for name in PERCENTILES),
    )
    return line_of(series, cells)


def line_of(series: Series, cells: tuple[Cell, ...]) -> Line:
    """A row of a run: its name opens the run's page."""
    return Line(series.name, cells, entry=series.style.entry, run_id=series.run.id)


def _plain(value: float | None, quantity: Quantity) -> Cell:
    return Cell(short(value, quantity.unit), value, whole=whole(value, quantity.unit))


def _percentile(quantity: Quantity, series: Series, name: str) -> Cell:
    summary = series.run.summary(quantity)
    value = getattr(summary, name)
    needed = samples_needed(PERCENTILES[name])
    if value is None and 0 < summary.n < needed:
        return Cell(MISSING, why=caveats.TOO_FEW.format(needed=grouped(needed), n=grouped(summary.n)))
    certainty = series.run.certainty
    interval = certainty.intervals.get(quantity.key, {}).get(name)
    if interval is None:
        return _plain(value, quantity)
    low, high = (short(end, quantity.unit) for end in interval)
    mark = DEPENDENT if quantity.key in certainty.dependent else ""
    notes = (f"[{low}, {high}]{mark}",)
    return Cell(short(value, quantity.unit), value, notes, whole=whole(value, quantity.unit))


def largest(quantity: Quantity, series: Sequence[Series]) -> float:
    """The greatest value of all runs, in the quantity's unit; 0 where no run has one."""
    return max((member.run.summary(quantity).max or 0 for member in series), default=0)


@dataclass(frozen=True)
class Among:
    """What rows have in common that show the maximum of `quantity`.

    `greatest` is that of all, in the quantity's unit: bars are by it. `budget` and `total` are the
    words on the error that all share, with the overhead and without, to stand once above them.
    Empty where the rows differ.
    """

    quantity: Quantity
    greatest: float
    budget: str
    total: str


def among(quantity: Quantity, series: Sequence[Series], table: Sequence[Series] = ()) -> Among:
    """Of the rows `series`; `table` are all rows that stand under the same heading, if more."""
    shown = [member for member in table or series if member.run.summary(quantity).max is not None]
    budgets, totals = ({of(quantity, series) for series in shown} for of in (budget, _total))
    return Among(
        quantity,
        largest(quantity, series),
        budgets.pop() if len(budgets) == 1 else "",
        totals.pop() if len(totals) == 1 else "",
    )


def worst(series: Series, rows: Among) -> Cell:
    """The maximum, with what qualifies it; a click opens its instant."""
    quantity, greatest = rows.quantity, rows.greatest
    value, sign = series.run.summary(quantity).max, series.run.summary(quantity).at_least
    key = worst_key(series.run, quantity)
    if value is None or key is None:
        return _plain(value, quantity)
    own = "" if rows.budget else budget(quantity, series)
    notes = (own, *(say(quantity, series) for say in (_timer, _bound, _refusal, placements.note)))
    return Cell(
        sign + short(value, quantity.unit),
        value,
        notes=tuple(note for note in notes if note),
        sample=Sample(series.run.id, key),
        share_percent=100 * value / greatest if greatest else 0,
        whole=sign + whole(value, quantity.unit),
    )


def possible(series: Series) -> Cell:
    """The longest wait that the run shows to be possible; a click opens the section behind it."""
    wait = series.run.manifest.possible_wait
    if wait is None:
        return Cell(MISSING)
    quantity = TASK if wait.of == TASK.key else LATENCY
    key = worst_key(series.run, SECTION if wait.by == "section" else quantity)
    budget = () if wait.budget_ns is None else (f"±{short(wait.budget_ns, 'ns')}",)
    return Cell(
        wait.at_least + short(wait.ns, "ns"),
        wait.ns,
        notes=budget,
        sample=None if key is None else Sample(series.run.id, key),
        whole=wait.at_least + whole(wait.ns, "ns"),
    )


def brief(series: Series, rows: Among) -> Cell:
    """The cell of `worst`, with the error budget and the range over placements as notes.

    The budget is left to the heading where all rows share it.
    """
    cell, quantity = worst(series, rows), rows.quantity
    total = "" if rows.total else _total(quantity, series)
    if cell.sample is None:
        return replace(cell, notes=())
    notes = (total, placements.note(quantity, series))
    return replace(cell, notes=tuple(note for note in notes if note))


def _total(quantity: Quantity, series: Series) -> str:
    total = series.run.certainty.budgets.get(quantity.key)
    return "" if total is None else f"±{short(total, quantity.unit)}"


def _timer(quantity: Quantity, series: Series) -> str:
    """`by the timer 9.80`: what the second witness told of this very answer."""
    maximum = series.run.manifest.maxima.get(quantity.key)
    timer_ns = maximum.timer_ns if maximum else None
    return "" if timer_ns is None else f"by the timer {short(timer_ns, quantity.unit)}"


def _refusal(quantity: Quantity, series: Series) -> str:
    """A note if the greatest of all requests is a refused one, else nothing."""
    return "of a refused request" if series.run.worst_was_refused(quantity) else ""


def _bound(quantity: Quantity, series: Series) -> str:
    """`bound 128.63, 3.7 × the 34.60 without interrupts`: the most that it can be, and its ratio to
    the longest that was seen of what it bounds.
    """
    section = _BOUNDED.get(quantity.key, "")
    bound, manifest_bound = bound_of(series.run, section), series.run.manifest.bounds.get(section)
    if bound is None or manifest_bound is None:
        return ""
    in_cycles = quantity.key.endswith("cycles")
    words = f"bound {short(bound.cycles if in_cycles else bound.ns, quantity.unit)}"
    if bound.ratio is None or manifest_bound.observed_cycles is None:
        return words
    undisturbed = manifest_bound.observed_cycles if in_cycles else bound.ns / bound.ratio
    return f"{words}, {bound.ratio:.1f} × the {short(undisturbed, quantity.unit)} by DWT without interrupts"


def budget(quantity: Quantity, series: Series) -> str:
    """`±0.01, overhead 0.26`: how wrong it may be, and the part of it that is the bench's own."""
    certainty = series.run.certainty
    total, own = certainty.budgets.get(quantity.key), certainty.overheads.get(quantity.key)
    if total is None:
        return ""
    overhead = f", overhead {short(own, quantity.unit)}" if own else ""
    return f"±{short(total, quantity.unit)}{overhead}"
