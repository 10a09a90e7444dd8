"""The comparison for the terminal: a short table per scenario, the worst first, and the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from base.microseconds import with_unit
from base.run_folder.alike import Options
from base.run_folder.quantities import (
    CRITICAL,
    FREE_CRITICAL,
    LATENCY,
    SECTION,
    TASK,
    UNINTERRUPTED,
    Quantity,
)
from base.run_index import configuration
from dashboards import placements
from dashboards.formatting import MISSING, grouped, short
from dashboards.headline import headline, holders
from dashboards.loaded.lanes import lanes
from dashboards.loaded.quantities import PRINTED, bounds_sentence, by_size, shown
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series, by_scenario

# The columns of an output that has no width of its own.
WIDTH_COLUMNS = 80

_SHORT = ("allocator", "wait", "seen", "section", "without", "allocate", "free")
_SHOWN = (SECTION, UNINTERRUPTED, CRITICAL, FREE_CRITICAL)

# Of a summary, with the heading of each.
_STATISTICS = {"min": "min", "mean": "mean", "stdev": "sd", "median": "median", "p99": "p99", "max": "max"}
_LEAST_WIDTH = 6
_VERDICT_STYLES = {"complete": "green", "truncated": "bold red", "inconclusive": "bold yellow"}


def terminal_report(runs: Sequence[LoadedRun], full: bool = False) -> RenderableType:
    """The tables of `runs` to print, WIDTH_COLUMNS wide; names say which are not complete.

    Under each stands the sentence of the overview. With `full` there are all statistics.
    """
    parts: list[RenderableType] = []
    for scenario, series in by_scenario(runs).items():
        parts += _full(scenario, series) if full else _short(scenario, series)
        parts += [*_by_size(series), *_heap_waits(series), *_placements(series), *_origins(series)]
        parts += [*(_bounds(series) if full else ()), *_reasons(series)]
        ordering = lanes(series)
        parts += [*map(Text, (*headline(scenario, ordering), *holders(ordering))), Text()]
    return Group(*parts)


def as_json(runs: Sequence[LoadedRun], page: Path) -> dict[str, Any]:
    """For each run its folder, settings, verdict, possible wait and statistics as in run.json; the
    ranges of its worst cases over placements, None where its image was linked once.
    """
    return {
        "runs": [
            {
                "folder": str(run.folder),
                "scenario": run.manifest.scenario,
                "allocator": run.manifest.allocator,
                "configuration": configuration(run.manifest),
                "board": run.manifest.board,
                "verdict": run.manifest.verdict,
                "reasons": list(run.manifest.reasons),
                "possible_wait": run.manifest.possible_wait and run.manifest.possible_wait.model_dump(),
                "statistics": {
                    name: summary.model_dump() for name, summary in run.manifest.statistics.items()
                },
                "placements": (
                    {key: spread.model_dump() for key, spread in run.placements.headlines.items()}
                    if run.placements
                    else None
                ),
            }
            for run in runs
        ],
        "dashboard": str(page),
    }


def _placements(series: Sequence[Series]) -> list[RenderableType]:
    return [*placements.table(series), *map(Text, placements.undecided(series))]


def _short(scenario: str, series: Sequence[Series]) -> Iterator[RenderableType]:
    """A table for each lane, a row for each setting, and one of runs in which nothing waited."""
    ordering = lanes(series)
    waiting = {waiter.series.run.id for lane in ordering for waiter in lane.waiters}
    for lane in ordering:
        title = scenario if len(ordering) == 1 else f"{scenario}: {lane.who} waits{lane.work}"
        table = _titled(title)
        for waiter in lane.waiters:
            seen = waiter.series.run.summary(waiter.quantity)
            waits = (_told(waiter.possible_ns, waiter.wait.at_least), _told(seen.max, seen.at_least))
            _add(table, waiter.series, waiter.name, (*waits, *_longest(waiter.series)))
        yield table
    pooled = {Options.of(waiter.series.run.manifest) for lane in ordering for waiter in lane.waiters}
    rest = [
        member
        for member in series
        if member.run.id not in waiting and Options.of(member.run.manifest) not in pooled
    ]
    if rest:
        table = _titled(f"{scenario}: nothing waited")
        for one in rest:
            _add(table, one, one.name, (MISSING, MISSING, *_longest(one)))
        yield table
    yield Text(
        f"µs{_budgets(series)}. wait: the longest possible, of the longest section and the entry; seen: the "
        "longest that was. section: of any operation; without: that no interrupt ran in. allocate, free: "
        "those measured. --full prints all statistics.",
        style="dim",
    )


def _titled(title: str) -> Table:
    table = Table(title=Text(title, style="bold"), title_justify="left", box=None, padding=(0, 2, 0, 0))
    table.add_column(_SHORT[0], overflow="fold")
    for heading in _SHORT[1:]:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _longest(series: Series) -> tuple[str, ...]:
    return tuple(short(series.run.summary(of).max, "ns") for of in _SHOWN)


def _told(value_ns: float | None, at_least: str) -> str:
    return at_least + short(value_ns, "ns")


def _add(table: Table, series: Series, name: str, values: Sequence[str]) -> None:
    worst, *others = values
    style = "" if series.run.manifest.complete else _VERDICT_STYLES[series.run.manifest.verdict]
    table.add_row(Text(name), Text(worst, style="bold"), *map(Text, others), style=style)


def _budgets(series: Sequence[Series]) -> str:
    """`, ±0.01 to 0.02`: the error budgets of what the short table shows."""
    budgets = [
        budget
        for member in series
        for quantity in (*_SHOWN, LATENCY, TASK)
        if (budget := member.run.certainty.budgets.get(quantity.key)) is not None
    ]
    budgets += [
        wait.budget_ns for member in series if (wait := member.run.manifest.possible_wait) and wait.budget_ns
    ]
    ends = dict.fromkeys(short(end, "ns") for end in (min(budgets), max(budgets))) if budgets else ()
    return f", ±{' to '.join(ends)}" if ends else ""


def _full(scenario: str, series: Sequence[Series]) -> Iterator[RenderableType]:
    """All statistics: a table for each quantity, with a row for each run."""
    yield Text(scenario, style="bold")
    for quantity in shown(PRINTED, [member.run for member in series]):
        yield _statistics(quantity, series)


def _statistics(quantity: Quantity, series: Sequence[Series]) -> Table:
    title = Text(with_unit(quantity.words, quantity.unit), style="bold")
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0))
    table.add_column("allocator", overflow="fold")
    for heading in ("n", *_STATISTICS.values(), "±"):
        table.add_column(heading, justify="right", no_wrap=True, min_width=_LEAST_WIDTH)
    for member in series:
        table.add_row(*_row(quantity, member))
    return table


def _row(quantity: Quantity, series: Series) -> list[Text]:
    summary = series.run.summary(quantity)
    values = [short(getattr(summary, name), quantity.unit) for name in _STATISTICS]
    values[-1] = summary.at_least + values[-1]
    budget = short(series.run.certainty.budgets.get(quantity.key), quantity.unit)
    counted = grouped(summary.n)
    cells = [Text(cell) for cell in (series.name, counted, *values, budget)]
    cells[1 + list(_STATISTICS).index("max") + 1].stylize("bold")
    return cells


def _origins(series: Sequence[Series]) -> list[Text]:
    """Each recording that was replayed, once."""
    return [Text(words) for words in dict.fromkeys(member.run.origin for member in series) if words]


def _by_size(series: Sequence[Series]) -> list[Table]:
    """A table for the scenario `sizes`: a row for each size on each allocator."""
    rows = [(member.name, of_size) for member in series for of_size in by_size(member.run)]
    if not rows:
        return []
    table = Table(title="\nallocations, cycles by DWT", title_justify="left", box=None, padding=(0, 1, 0, 0))
    table.add_column("allocator", overflow="fold")
    headings = ("bytes", "fresh", "max", "fragmented", "max", "ratio", "of maxima")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for name, sizes in rows:
        numbers = (
            sizes.size,
            sizes.fresh_median,
            sizes.fresh_max,
            sizes.fragmented_median,
            sizes.fragmented_max,
        )
        cells = [short(value, "cycles") for value in numbers]
        table.add_row(Text(name), *cells, *(f"{ratio:.2f}" for ratio in sizes.ratios))
    return [table]


def _heap_waits(series: Sequence[Series]) -> list[Table]:
    """A table where a second task uses the heap: a row for each run, the longest wait first."""
    waits = [(member, wait) for member in series if (wait := member.run.manifest.heap_wait)]
    if not waits:
        return []
    title = "\nwait of the urgent task for the other's section (µs)"
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0))
    for heading in ("allocator", "lock"):
        table.add_column(heading, overflow="fold")
    for heading in ("n", "median", "p99", "max", "±", "without"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one, wait in sorted(waits, key=lambda pair: (-(pair[1].max or 0), pair[0].name)):
        texts = [short(value, "ns") for value in (wait.median, wait.p99, wait.max)]
        texts[-1] = wait.at_least + texts[-1]
        texts += [short(value, "ns") for value in (wait.resolution_ns, wait.undisturbed_ns)]
        cells = [grouped(wait.n), *texts]
        table.add_row(Text(one.name), Text(one.run.manifest.locking or MISSING), *cells)
    return [table]


def _bounds(series: Sequence[Series]) -> list[Text]:
    """One line for each run whose critical section has a bound."""
    return [Text(f"{member.name}: {words}") for member in series if (words := bounds_sentence(member.run))]


def _reasons(series: Sequence[Series]) -> list[Text]:
    """A paragraph for each sentence. Text takes it literally, whatever markup a file holds."""
    return [
        Text(f"{member.name}: {sentence}", style=_VERDICT_STYLES[member.run.manifest.verdict])
        for member in series
        for sentence in (*member.run.manifest.reasons, *member.run.notes)
    ]
