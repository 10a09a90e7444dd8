"""The first screen: which allocator to take, and under each scenario how bad and how far."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from base.run_folder.quantities import LATENCY
from dashboards.blocks import ByLimit, Cell, Column, Grid, Group
from dashboards.formatting import grouped, spoken
from dashboards.loaded.lanes import Lanes, Waiter
from dashboards.loaded.series import Members
from dashboards.tables import behind, line_of, plain

_LEGEND = (
    "The longest possible wait is the longest masked section and the entry; the number opens its instant. "
    "By depth: the longest section of an allocation against the free blocks that do not fit. Bound: the "
    "most that one allocation or free can keep it waiting, by the machine code. It leaves out interrupts "
    "within the section and the kernel's calls, so a wait with those may pass it."
)
_MOST_NAMED = 6


class Standing(NamedTuple):
    """An allocator on a board over all scenarios: the waiter that waits longest, and where."""

    name: str
    scenario: str
    waiter: Waiter
    flash_bytes: int | None
    words: str
    """`tlsf (9.86 µs in mem_stress)`; of the only scenario `tlsf (9.86 µs)`."""


class Standings(NamedTuple):
    """`ranked`, the shortest wait first, are those that ran in all of `scenarios`, complete; the
    names of the others are `left_out`.
    """

    scenarios: tuple[str, ...]
    ranked: tuple[Standing, ...]
    left_out: tuple[str, ...]


def standings(lanes: Mapping[str, Lanes]) -> Standings:
    """The allocators that keep interrupts waiting, by the worst of their waits in any scenario."""
    of_each: dict[tuple[str, str], dict[str, Waiter]] = {}
    for scenario, of_scenario in lanes.items():
        for waiter in (waiter for lane in of_scenario if lane.quantity is LATENCY for waiter in lane.waiters):
            manifest = waiter.series.run.manifest
            if manifest.complete:
                worst = of_each.setdefault((waiter.series.run.configuration, manifest.board_folder), {})
                worst[scenario] = max(
                    worst.get(scenario, waiter), waiter, key=lambda waiter: waiter.possible_ns
                )
    scenarios = tuple(dict.fromkeys(scenario for worst in of_each.values() for scenario in worst))
    boards = {board for _, board in of_each}
    ranked, left_out = [], []
    for (name, board), worst in of_each.items():
        full = f"{spoken(name)} on {board}" if len(boards) > 1 else spoken(name)
        if len(worst) < len(scenarios):
            left_out.append(full)
            continue
        scenario, waiter = max(worst.items(), key=lambda pair: pair[1].possible_ns)
        footprint = waiter.series.run.manifest.footprint
        where = f" in {scenario}" if len(scenarios) > 1 else ""
        words = f"{full} ({waiter.possible}{where})"
        ranked.append(Standing(full, scenario, waiter, footprint.flash_bytes if footprint else None, words))
    ranked.sort(key=lambda standing: (standing.waiter.possible_ns, standing.name))
    return Standings(scenarios, tuple(ranked), tuple(left_out))


def recommended(among: Standings) -> Iterator[str]:
    """Which allocator keeps an interrupt waiting least over all scenarios, and what it costs."""
    if len(among.ranked) > 1:
        best, worst = among.ranked[0], among.ranked[-1]
        count = len(among.scenarios)
        where = f" over all {count} scenarios" if count > 1 else ""
        words = f"{best.words} keeps an interrupt waiting least{where}, and {worst.words} longest."
        yield words + _cost(best, among.ranked)
    if among.ranked and among.left_out:
        yield f"Not in every scenario, and so not ranked: {_named(among.left_out)}."


def under_limits(among: Standings) -> ByLimit | None:
    """The sentence for each limit at which another allocator begins to keep it."""
    keeping = [(within, standing) for standing in among.ranked if (within := standing.waiter.wait.within_ns)]
    keeping.sort(key=lambda pair: (pair[0], pair[1].name))
    if not keeping:
        return None
    count = len(among.ranked)
    steps = [(0.0, f"none of {count} stays within it; the least is {among.ranked[0].words}.")]
    for place, (within, _) in enumerate(keeping, start=1):
        passing = [passed for _, passed in keeping[:place]]
        over = [other.words for other in among.ranked if other not in passing]
        words = f"{place} of {count} stay within it: {_named([passed.words for passed in passing])}."
        words += f" Over it: {_named(over)}." if over else ""
        steps.append((within, words + _cost(passing[0], passing)))
    return ByLimit(steps)


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:_MOST_NAMED])} and {more} more"


def _cost(best: Standing, others: Sequence[Standing]) -> str:
    """What the shortest wait takes in flash, beside the least of the others."""
    sizes = [(standing.flash_bytes, standing.name) for standing in others if standing.flash_bytes is not None]
    if best.flash_bytes is None:
        return ""
    words = f" {best.name} takes {grouped(best.flash_bytes)} bytes of flash"
    least, name = min(sizes, key=lambda size: size[0])
    if name == best.name:
        return f"{words}, the least." if len(others) > 1 else f"{words}."
    return f"{words}; the least is {name}, {grouped(least)}."


_COLUMNS = (
    Column("possible_ns", "longest possible wait (µs)"),
    Column("ramp", "by depth", numeric=False),
    Column("seen_ns", "longest seen (µs)"),
    Column("median_ns", "median (µs)"),
    Column("bound_ns", "bound (µs)"),
    Column("lock", "lock", numeric=False),
)


def answer(scenario: str, series: Members, lanes: Lanes, *, legend: bool = True) -> Grid:
    """A row a run, the worst first, with a bar to the longest possible wait.

    `lanes` are those of `series`. Of several on a page one has the `legend`.
    """
    ramps, groups = _ramps(series), []
    longest = max((waiter.possible_ns for lane in lanes for waiter in lane.waiters), default=0.0)
    for lane in lanes:
        lines = []
        for waiter in lane.waiters:
            run, wait = waiter.series.run, waiter.wait
            worst = plain(waiter.possible_ns, "ns", sign=wait.at_least, sample=behind(waiter.series))
            summary = run.summary(lane.quantity)
            cells = (
                worst._replace(share_percent=100 * waiter.possible_ns / longest if longest else 0.0),
                Cell("", line=ramps.get(run.id, ())),
                plain(summary.max, "ns", sign=summary.at_least),
                plain(waiter.median_ns, "ns"),
                plain(waiter.bound_ns, "ns", "grows with the heap" if waiter.grows else ""),
                Cell(waiter.lock, waiter.lock),
            )
            line = line_of(waiter.series, cells)
            within_ns = math.inf if wait.within_ns is None else wait.within_ns
            lines.append(line._replace(name=waiter.name, within_ns=within_ns))
        words = f"{lane.who[0].upper()}{lane.who[1:]} can wait{lane.work}"
        groups.append(Group(words, lines))
    words = _LEGEND if legend else ""
    title = f"Who waits how long in {scenario}"
    return Grid(f"answer-{scenario}", title, _COLUMNS, groups, legend=words)


_MOST_POINTS = 48


def _ramps(series: Members) -> dict[str, list[tuple[float, float]]]:
    """The worst critical section by depth of each run that has depths, by its id.

    Both axes go from 0 to 100, common to all: depths from the left, sections from the top.
    """
    worst, tables = pl.col("wire_critical_ns").max(), {}
    for member in series:
        table = member.run.by_depth.drop_nulls("wire_critical_ns").group_by("depth").agg(worst).sort("depth")
        if len(table) > 1:
            tables[member.run.id] = table
    if not tables:
        return {}
    deepest, longest = pl.concat(tables.values()).max().row(0)
    part = (pl.col("depth") * _MOST_POINTS // float(deepest)).alias("part")
    lines = {}
    for run, table in tables.items():
        thin = table.group_by(part).agg(pl.col("depth").last(), worst).sort("part")
        x, y = 100 * thin["depth"] / float(deepest), 100 - 100 * thin["wire_critical_ns"] / longest
        lines[run] = [*zip(x.to_list(), y.to_list(), strict=True)]
    return lines
