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
from base.run_folder.quantities import CRITICAL, FREE_CRITICAL, LATENCY, SECTION, TASK, UNINTERRUPTED
from base.run_index import configuration
from dashboards import placements
from dashboards.formatting import MISSING, grouped, short
from dashboards.headline import headline, holders
from dashboards.loaded.lanes import Lane, lanes
from dashboards.loaded.quantities import PRINTED, bounds_sentence, by_size, shown
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series, by_scenario

# The columns of an output that has no width of its own.
WIDTH_COLUMNS = 80

_SHORT = ("wait", "seen", "section", "without", "allocate", "free")
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
        ordering, loaded = lanes(series), [member.run for member in series]
        parts += _full(scenario, series) if full else _short(scenario, series, ordering)
        parts += [*_by_size(series), *_heap_waits(series), *placements.table(series)]
        parts += map(Text, placements.undecided(series))
        parts += [Text(words) for words in dict.fromkeys(run.origin for run in loaded) if words]
        for member in series if full else ():
            if words := bounds_sentence(member.run):
                parts.append(Text(f"{member.name}: {words}"))
        # Text takes a sentence literally, whatever markup a file holds.
        parts += [
            Text(f"{member.name}: {sentence}", style=_VERDICT_STYLES[member.run.manifest.verdict])
            for member in series
            for sentence in (*member.run.manifest.reasons, *member.run.notes)
        ]
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


def _table(
    title: str | Text,
    words: Sequence[str],
    numbers: Sequence[str],
    padding: int = 1,
    width: int | None = None,
) -> Table:
    """With columns of `words`, and of `numbers` at least so wide."""
    table = Table(title=title, title_justify="left", box=None, padding=(0, padding, 0, 0))
    for heading in words:
        table.add_column(heading, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True, min_width=width)
    return table


def _short(scenario: str, series: Sequence[Series], ordering: Sequence[Lane]) -> Iterator[RenderableType]:
    """A table for each lane, a row for each setting, and one of runs in which nothing waited."""
    groups = []
    for lane in ordering:
        title = scenario if len(ordering) == 1 else f"{scenario}: {lane.who} waits{lane.work}"
        rows = []
        for waiter in lane.waiters:
            summary = waiter.series.run.summary(waiter.quantity)
            possible = waiter.wait.at_least + short(waiter.possible_ns, "ns")
            seen = summary.at_least + short(summary.max, "ns")
            rows.append((waiter.series, waiter.name, possible, seen))
        groups.append((title, rows))
    waiters = [waiter for lane in ordering for waiter in lane.waiters]
    waiting = {waiter.series.run.id for waiter in waiters}
    pooled = {Options.of(waiter.series.run.manifest) for waiter in waiters}
    rest = [
        (member, member.name, MISSING, MISSING)
        for member in series
        if member.run.id not in waiting and Options.of(member.run.manifest) not in pooled
    ]
    for title, rows in (*groups, *([(f"{scenario}: nothing waited", rest)] if rest else [])):
        table = _table(Text(title, style="bold"), ["allocator"], _SHORT, padding=2)
        for member, name, possible, seen in rows:
            verdict = member.run.manifest.verdict
            style = "" if verdict == "complete" else _VERDICT_STYLES[verdict]
            longest = (Text(short(member.run.summary(of).max, "ns")) for of in _SHOWN)
            table.add_row(Text(name), Text(possible, style="bold"), Text(seen), *longest, style=style)
        yield table
    # The error budgets of what the table shows.
    budgets = [member.run.budget(quantity) for member in series for quantity in (*_SHOWN, LATENCY, TASK)]
    budgets += [wait.budget_ns or None for member in series if (wait := member.run.manifest.possible_wait)]
    ends = [budget for budget in budgets if budget is not None]
    listed = dict.fromkeys(short(end, "ns") for end in (min(ends), max(ends))) if ends else ()
    yield Text(
        f"µs{', ±' if listed else ''}{' to '.join(listed)}. wait: the longest possible, of the longest "
        "section and the entry; seen: the longest that was. section: of any operation; without: that no "
        "interrupt ran in. allocate, free: those measured. --full prints all statistics.",
        style="dim",
    )


def _full(scenario: str, series: Sequence[Series]) -> Iterator[RenderableType]:
    """All statistics: a table for each quantity, with a row for each run."""
    yield Text(scenario, style="bold")
    for quantity in shown(PRINTED, [member.run for member in series]):
        title = Text(with_unit(quantity.words, quantity.unit), style="bold")
        table = _table(title, ["allocator"], ("n", *_STATISTICS.values(), "±"), width=_LEAST_WIDTH)
        for member in series:
            summary = member.run.summary(quantity)
            *values, longest = (short(getattr(summary, name), quantity.unit) for name in _STATISTICS)
            budget = short(member.run.budget(quantity), quantity.unit)
            cells = map(Text, (member.name, grouped(summary.n), *values))
            table.add_row(*cells, Text().append(summary.at_least + longest, "bold"), Text(budget))
        yield table


def _by_size(series: Sequence[Series]) -> list[Table]:
    """A table for the scenario `sizes`: a row for each size on each allocator."""
    headings = ("bytes", "fresh", "max", "fragmented", "max", "ratio", "of maxima")
    table = _table("\nallocations, cycles by DWT", ["allocator"], headings)
    for member in series:
        for sizes in by_size(member.run):
            fresh = sizes.fresh_median, sizes.fresh_max
            numbers = (sizes.size, *fresh, sizes.fragmented_median, sizes.fragmented_max)
            cells = (short(value, "cycles") for value in numbers)
            table.add_row(Text(member.name), *cells, *(f"{ratio:.2f}" for ratio in sizes.ratios))
    return [table] if table.rows else []


def _heap_waits(series: Sequence[Series]) -> list[Table]:
    """A table where a second task uses the heap: a row for each run, the longest wait first."""
    waits = [(member, wait) for member in series if (wait := member.run.manifest.heap_wait)]
    title = "\nwait of the urgent task for the other's section (µs)"
    table = _table(title, ["allocator", "lock"], ("n", "median", "p99", "max", "±", "without"))
    for member, wait in sorted(waits, key=lambda pair: (-(pair[1].max or 0), pair[0].name)):
        numbers = (wait.median, wait.p99, wait.max, wait.resolution_ns, wait.undisturbed_ns)
        median, p99, longest, *others = (short(value, "ns") for value in numbers)
        cells = (grouped(wait.n), median, p99, wait.at_least + longest, *others)
        table.add_row(Text(member.name), Text(member.run.manifest.locking or MISSING), *cells)
    return [table] if table.rows else []
