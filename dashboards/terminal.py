"""The comparison for the terminal: a short table per scenario, the worst first, and the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from base.microseconds import with_unit
from base.run_folder.alike import options_of
from base.run_folder.quantities import CRITICAL, FREE_CRITICAL, LATENCY, SECTION, TASK, UNINTERRUPTED
from base.text_table import TextTable, printed
from dashboards import placements
from dashboards.formatting import MISSING, grouped, short
from dashboards.headline import headline, holders
from dashboards.loaded.lanes import Lanes, lanes
from dashboards.loaded.runs import PRINTED, LoadedRun, bounds_sentence, by_size, shown
from dashboards.loaded.series import Members, Series, by_scenario

# The columns of an output that has no width of its own.
WIDTH_COLUMNS = 80

_SHOWN = (SECTION, UNINTERRUPTED, CRITICAL, FREE_CRITICAL)
_SHORT = ("allocator", "wait", "seen", "section", "without", "allocate", "free")

# Of a summary, with the heading of each.
_STATISTICS = {"min": "min", "mean": "mean", "stdev": "sd", "median": "median", "p99": "p99", "max": "max"}
_FULL = ("allocator", "n", *_STATISTICS.values(), "±")


def terminal_report(runs: Sequence[LoadedRun], full: bool = False, width_columns: int = WIDTH_COLUMNS) -> str:
    """The tables of `runs`, as wide as that; names say which are not complete.

    Under each stands the sentence of the overview. With `full` there are all statistics.
    """
    parts: list[str | TextTable] = []
    for scenario, series in by_scenario(runs).items():
        ordering, loaded = lanes(series), [member.run for member in series]
        parts += _full(scenario, series) if full else _short(scenario, series, ordering)
        parts += (table for of in (_by_size, _heap_waits, placements.table) if (table := of(series)).lines)
        parts += placements.undecided(series)
        parts += dict.fromkeys(words for run in loaded if (words := run.origin))
        if full:
            bounds = ((member.name, bounds_sentence(member.run)) for member in series)
            parts += (f"{name}: {words}" for name, words in bounds if words)
        parts += (
            f"{member.name}: {sentence}"
            for member in series
            for sentence in (*member.run.manifest.reasons, *member.run.notes)
        )
        parts += (*headline(scenario, ordering), *holders(ordering), "")
    return printed(parts, width_columns)


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
                "configuration": run.configuration,
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


def _table(title: str, headings: Sequence[str], lines: Sequence[Sequence[str]]) -> TextTable:
    """All columns but the first are numbers."""
    return TextTable(title, headings, lines, range(1, len(headings)))


def _short(scenario: str, series: Members, ordering: Lanes) -> Iterator[str | TextTable]:
    """A table for each lane, a row for each setting, and one of runs in which nothing waited."""

    def line(member: Series, name: str, possible: str, seen: str) -> tuple[str, ...]:
        return name, possible, seen, *(short(member.run.summary(of).max, "ns") for of in _SHOWN)

    waiters = [waiter for lane in ordering for waiter in lane.waiters]
    for lane in ordering:
        title = scenario if len(ordering) == 1 else f"{scenario}: {lane.who} waits{lane.work}"
        lines = []
        for waiter in lane.waiters:
            summary = waiter.series.run.summary(waiter.quantity)
            possible = waiter.wait.at_least + short(waiter.possible_ns, "ns")
            seen = summary.at_least + short(summary.max, "ns")
            lines.append(line(waiter.series, waiter.name, possible, seen))
        yield _table(title, _SHORT, lines)
    # Of runs that wait, one stands for all of its setting.
    pooled = {options_of(waiter.series.run.manifest) for waiter in waiters}
    rest = [member for member in series if options_of(member.run.manifest) not in pooled]
    if rest:
        lines = [line(member, member.name, MISSING, MISSING) for member in rest]
        yield _table(f"{scenario}: nothing waited", _SHORT, lines)
    # The error budgets of what the table shows.
    budgets = [member.run.budget(quantity) for member in series for quantity in (*_SHOWN, LATENCY, TASK)]
    budgets += [wait.budget_ns or None for member in series if (wait := member.run.manifest.possible_wait)]
    widest = short(max(filter(None, budgets), default=None), "ns")
    yield (
        f"In µs, ±{widest} at most. wait: the longest possible, of the longest section and the entry; seen: "
        "the longest that was. section: of any operation; without: that no interrupt ran in. allocate, free: "
        "those measured. --full prints all statistics."
    )


def _full(scenario: str, series: Members) -> Iterator[str | TextTable]:
    """All statistics: a table for each quantity, with a row for each run."""
    yield scenario
    for quantity in shown(PRINTED, [member.run for member in series]):
        lines = []
        for member in series:
            summary = member.run.summary(quantity)
            *values, longest = (short(getattr(summary, name), quantity.unit) for name in _STATISTICS)
            budget = short(member.run.budget(quantity), quantity.unit)
            lines.append((member.name, grouped(summary.n), *values, summary.at_least + longest, budget))
        yield _table(with_unit(quantity.words, quantity.unit), _FULL, lines)


def _by_size(series: Members) -> TextTable:
    """Of the scenario `sizes`: a row for each size on each allocator."""
    headings = ("allocator", "bytes", "fresh", "max", "fragmented", "max", "ratio", "of maxima")
    lines = [
        (member.name, *map(grouped, row), f"{row[3] / row[1]:.2f}", f"{row[4] / row[2]:.2f}")
        for member in series
        for row in by_size(member.run).rows()
    ]
    return _table("allocations, cycles by DWT", headings, lines)


def _heap_waits(series: Members) -> TextTable:
    """Where a second task uses the heap: a row for each run, the longest wait first."""
    waits = [(member, wait) for member in series if (wait := member.run.manifest.heap_wait)]
    lines = []
    for member, wait in sorted(waits, key=lambda pair: (-(pair[1].max or 0), pair[0].name)):
        numbers = (wait.median, wait.p99, wait.max, wait.resolution_ns, wait.undisturbed_ns)
        median, p99, longest, *others = (short(value, "ns") for value in numbers)
        cells = (grouped(wait.n), median, p99, wait.at_least + longest, *others)
        lines.append((member.name, *cells, member.run.manifest.locking or MISSING))
    headings = ("allocator", "n", "median", "p99", "max", "±", "without", "lock")
    return _table("wait of the urgent task for the other's section (µs)", headings, lines)
