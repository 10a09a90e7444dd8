"""The report's tables: every quantity of a scenario's runs, how far they lie apart, and the
witnesses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from base.metrology.comparison import LEAST_SAMPLES, compare
from base.metrology.summaries import CONFIDENCE, PERCENTILES, samples_needed
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
from dashboards.formatting import MISSING, every_run, grouped, short, whole
from dashboards.loaded.quantities import REPORTED, bound_of, counted, means, samples, shown
from dashboards.loaded.runs import confidence_words
from dashboards.loaded.series import Series
from dashboards.waveforms import worst_key


def line_of(series: Series, cells: tuple[Cell, ...]) -> Line:
    """A row of a run: its name opens the run's page."""
    return Line(series.name, cells, entry=series.style.entry, run_id=series.run.id)


def plain(value: float | None, unit: str, *notes: str, sign: str = "", sample: Sample | None = None) -> Cell:
    """A value in its unit, with the `sign` before it and the notes that qualify it; empty ones are
    left out. A click opens the `sample`.
    """
    there = tuple(note for note in notes if note)
    return Cell(sign + short(value, unit), value, there, sample, whole=sign + whole(value, unit))


def number(value: float | None, words: str = "") -> Cell:
    """A value in the format `words`; else with thousands apart."""
    text = words.format(value) if words and value is not None else grouped(value)
    return Cell(text, value)


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
    runs = [member.run for member in series]
    quantities, groups = shown(REPORTED, runs), []
    for quantity in quantities:
        rows, unit = among(quantity, series), quantity.unit
        lines = []
        for member in sorted(series, key=lambda series: -(series.run.summary(quantity).max or 0)):
            summary = member.run.summary(quantity)
            statistics = (plain(getattr(summary, name), unit) for name in ("min", "mean", "stdev"))
            percentiles = (_percentile(quantity, member, name) for name in PERCENTILES)
            cells = (worst(member, rows), number(summary.n), *statistics, *percentiles)
            lines.append(line_of(member, cells))
        exported = f"{quantity.words} ({unit})" if unit else quantity.words
        groups.append(Group(with_unit(quantity.words, unit), tuple(lines), rows.budget, exported))
    columns = (
        *(Column(key, key) for key in ("max", "n", "min", "mean")),
        Column("stdev", "sd"),
        *(Column(name, name.replace("_", ".")) for name in PERCENTILES),
    )
    # On the signs beside the numbers, and why some are missing.
    confidence = confidence_words(runs)
    maxima = [maximum for run in runs for maximum in run.manifest.maxima.values()]
    legend = [
        caveats.BUDGET,
        caveats.INTERVALS.format(confidence=confidence) if any(r.manifest.intervals.of for r in runs) else "",
        "sd: the standard deviation of the samples, with n − 1.",
        f"{DEPENDENT} {caveats.DEPENDENT}" if any(run.dependent for run in runs) else "",
        *dict.fromkeys(run.manifest.intervals.refused or "" for run in runs),
        caveats.TIMER if any(maximum and maximum.timer_ns is not None for maximum in maxima) else "",
        caveats.BOUND if any(bound_of(run, "allocate") for run in runs) else "",
        *placements.meaning(series),
        *placements.undecided(series),
        *dict.fromkeys(f"{member.name}: {words}" for member in series for words in member.run.adjustments),
    ]
    words = " ".join(sentence for sentence in legend if sentence)
    first = quantities.index(SECTION) if SECTION in quantities else 0
    return Grid("comparison", "Every quantity", columns, tuple(groups), legend=words, one_group=first)


def _percentile(quantity: Quantity, series: Series, name: str) -> Cell:
    summary = series.run.summary(quantity)
    value, needed = getattr(summary, name), samples_needed(PERCENTILES[name])
    if value is None and 0 < summary.n < needed:
        return Cell(MISSING, why=caveats.TOO_FEW.format(needed=grouped(needed), n=grouped(summary.n)))
    interval = series.run.intervals(quantity).get(name)
    if interval is None:
        return plain(value, quantity.unit)
    low, high = (short(end, quantity.unit) for end in interval)
    mark = DEPENDENT if quantity.key in series.run.dependent else ""
    return plain(value, quantity.unit, f"[{low}, {high}]{mark}")


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
    greatest = max((member.run.summary(quantity).max or 0 for member in series), default=0)
    shown = [member for member in table or series if member.run.summary(quantity).max is not None]
    budgets, totals = ({of(quantity, series) for series in shown} for of in (_budget, _total))
    shared, total = (words.pop() if len(words) == 1 else "" for words in (budgets, totals))
    return Among(quantity, greatest, shared, total)


def worst(series: Series, rows: Among) -> Cell:
    """The maximum, with what qualifies it; a click opens its instant."""
    quantity, summary = rows.quantity, series.run.summary(rows.quantity)
    key = worst_key(series.run, quantity)
    if summary.max is None or key is None:
        return plain(summary.max, quantity.unit)
    maximum = series.run.manifest.maxima.get(quantity.key)
    of_requests = quantity in (PROBES, INSTRUCTIONS, DWT_CYCLES, CRITICAL)
    notes = [
        "" if rows.budget else _budget(quantity, series),
        # What the second witness told of this very answer.
        f"by the timer {short(maximum.timer_ns, quantity.unit)}"
        if maximum and maximum.timer_ns is not None
        else "",
        _bound(quantity, series),
        "of a refused request" if of_requests and maximum and maximum.kind == "O" else "",
        placements.note(quantity, series),
    ]
    sample, share = Sample(series.run.id, key), 100 * summary.max / rows.greatest if rows.greatest else 0
    cell = plain(summary.max, quantity.unit, *notes, sign=summary.at_least, sample=sample)
    return replace(cell, share_percent=share)


def brief(series: Series, rows: Among) -> Cell:
    """The cell of `worst`, with the error budget and the range over placements as notes.

    The budget is left to the heading where all rows share it.
    """
    cell, quantity = worst(series, rows), rows.quantity
    total = "" if rows.total else _total(quantity, series)
    notes = (total, placements.note(quantity, series)) if cell.sample else ()
    return replace(cell, notes=tuple(filter(None, notes)))


def possible(series: Series) -> Cell:
    """The longest wait that the run shows to be possible; a click opens the section behind it."""
    wait = series.run.manifest.possible_wait
    if wait is None:
        return Cell(MISSING)
    quantity = TASK if wait.of == TASK.key else LATENCY
    key = worst_key(series.run, SECTION if wait.by == "section" else quantity)
    budget = "" if wait.budget_ns is None else f"±{short(wait.budget_ns, 'ns')}"
    sample = None if key is None else Sample(series.run.id, key)
    return plain(wait.ns, "ns", budget, sign=wait.at_least, sample=sample)


def _total(quantity: Quantity, series: Series) -> str:
    total = series.run.budget(quantity)
    return "" if total is None else f"±{short(total, quantity.unit)}"


def _budget(quantity: Quantity, series: Series) -> str:
    """`±0.01, overhead 0.26`: how wrong it may be, and the part of it that is the bench's own."""
    total, own = _total(quantity, series), series.run.budget(quantity, "overhead")
    return f"{total}, overhead {short(own, quantity.unit)}" if total and own else total


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


def differences(series: Sequence[Series]) -> Grid | None:
    """Each run against the one of its board whose worst critical section is shortest. None where no
    board has two.
    """
    by_board: dict[str, list[Series]] = {}
    for member in series:
        if member.run.summary(SECTION).max is not None:
            by_board.setdefault(member.run.manifest.board_folder, []).append(member)
    pairs = [
        (min(board, key=lambda series: series.run.summary(SECTION).max or 0), board)
        for board in by_board.values()
        if len(board) > 1
    ]
    if not pairs:
        return None
    groups = tuple(Group(quantity.words, tuple(_apart(quantity, pairs))) for quantity in (CRITICAL, LATENCY))
    name = " or ".join(reference.name for reference, _ in pairs)
    legend = (
        "Share longer: Cliff's delta. Of all pairs of samples it is the share in which this allocator's is "
        f"longer, minus the share in which {name}'s is: 1 is always, 0 is equally often. Shift: the "
        f"Hodges–Lehmann estimate of the difference. In brackets: {100 * CONFIDENCE:g} % intervals, which "
        "presume independent draws."
    )
    columns = Column("delta", "share longer"), Column("shift_ns", "shift (µs)")
    title = f"How far apart? Each against {name}{' of its board' if len(pairs) > 1 else ''}"
    return Grid("differences", title, columns, groups, legend=legend, pinned=0, folded=True)


def _apart(quantity: Quantity, pairs: Sequence[tuple[Series, Sequence[Series]]]) -> Iterator[Line]:
    for reference, board in pairs:
        theirs = samples(reference.run, quantity)[quantity.column].to_numpy()
        for series in board:
            if series is reference:
                continue
            ours = samples(series.run, quantity)[quantity.column].to_numpy()
            if min(len(ours), len(theirs)) < LEAST_SAMPLES:
                yield line_of(series, (Cell(MISSING), Cell(MISSING)))
                continue
            apart = compare(ours, theirs)
            delta, shift = Cell(f"{apart.delta:+.3f}", apart.delta), plain(apart.shift, "ns")
            if any(member.run.manifest.intervals.refused for member in (series, reference)):
                shift = replace(shift, whole="", why=caveats.NO_INTERVAL)
                delta = replace(delta, why=caveats.NO_INTERVAL)
            else:
                low, high = apart.delta_interval
                least, most = (short(end, "ns") for end in apart.shift_interval)
                delta = replace(delta, notes=(f"[{low:+.3f}, {high:+.3f}]",))
                shift = replace(shift, notes=(f"[{least}, {most}]",))
            yield line_of(series, (delta, shift))


def agreement(series: Sequence[Series]) -> Grid:
    """A row for each run: how far the wire and DWT were apart at most, and how far they may be."""
    columns = (
        Column("furthest_cycles", "furthest apart (cycles)"),
        Column("tolerance_cycles", "tolerance (cycles)"),
        Column("resolution_cycles", "of it resolution (cycles)"),
        Column("clock_cycles", "of it clock (cycles)"),
        Column("n", "n"),
    )
    lines = []
    for member in series:
        agreed = member.run.manifest.agreement
        tolerances = (agreed.tolerance_cycles, agreed.resolution_cycles, agreed.clock_cycles)
        values = (agreed.wire_minus_dwt_cycles_max_abs, *tolerances)
        lines.append(line_of(member, (*(number(value, "{:,.2f}") for value in values), number(agreed.n))))
    legend = (
        "Each critical section is measured twice: on the wire, and by the core's cycle counter. They may "
        "differ by the tolerance, which is a bound of the errors of both."
    )
    return Grid("agreement", "Wire and DWT", columns, (Group("", tuple(lines)),), legend=legend)


def error_budget(series: Sequence[Series]) -> Grid | None:
    """The terms of each value's error: a row for each run, one for all where they do not differ as
    they are read. None if no run states them.
    """
    if not any(member.run.manifest.error_budget for member in series):
        return None
    terms, groups = ("total", "resolution", "clock", "skew", "overhead"), []
    for quantity in (CRITICAL, LATENCY, TASK):
        lines = [
            line_of(member, tuple(plain(member.run.budget(quantity, term), "ns") for term in terms))
            for member in series
        ]
        if len(lines) > 1 and len({tuple(cell.text for cell in line.cells) for line in lines}) == 1:
            lines = [Line(every_run(len(lines)), lines[0].cells)]
        groups.append(Group(quantity.words, tuple(lines)))
    legend = (
        "Total: the value is true to plus or minus this. It is the sum of resolution, clock and skew. "
        "Overhead is no error: it is the part of the value that is the bench's own, its markers."
    )
    columns = tuple(Column(f"{term}_ns", f"{term} (µs)") for term in terms)
    return Grid("error-budget", "Error budget", columns, tuple(groups), legend=legend)


def cycles_by_probes(series: Sequence[Series]) -> Grid | None:
    """The table of one scenario. None where the figure of the same name has nothing to show."""
    if counted(series) is None:
        return None
    columns = (
        Column("probes", "probes"),
        Column("critical_cycles", "critical section (cycles)"),
        Column("operation_cycles", "operation (cycles)"),
        Column("n", "n"),
    )
    lines = tuple(
        line_of(member, tuple(map(number, row)))
        for member in series
        for row in means(member.run).select("probes", "critical", "operation", "n").iter_rows()
    )
    legend = "Of the measured requests that were served. Cycles are by DWT."
    if any(member.run.adjustments for member in series):
        legend += " Operations are as measured: a baseline is of a section."
    title = "Mean cycles by probes"
    return Grid("cycles-by-probes", title, columns, (Group("", lines),), legend=legend)
