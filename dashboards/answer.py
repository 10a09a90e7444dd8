"""The first screen: which allocator to take, and under each scenario how bad and how far."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from base.run_folder.quantities import LATENCY, SECTION
from base.run_index import configuration
from dashboards.blocks import ByLimit, DotLane, DotPlot, DotRow, Sample
from dashboards.formatting import grouped, microseconds, short, spoken, whole
from dashboards.headline import held, seen
from dashboards.loaded.lanes import Lane, Waiter
from dashboards.loaded.series import Series
from dashboards.waveforms import worst_key

_LEGEND = (
    "Ring: the median. Bar: up to the longest possible wait, which is the longest masked section and the "
    "entry; the number opens its instant. Tick: the most that one allocation or free can keep it waiting, "
    "by the machine code; dotted where that grows with the heap. It leaves out interrupts within the "
    "section and the kernel's calls, so a bar with those may pass it."
)
Line = tuple[tuple[float, float], ...]

_STEPS = (1, 2, 5)
# Of an axis: values stand this far from its ends, so that no mark is cut.
_ROOM = 1.25
_MOST_NAMED = 6


@dataclass(frozen=True)
class Standing:
    """An allocator on a board over all scenarios: the waiter that waits longest, and where."""

    name: str
    scenario: str
    waiter: Waiter
    flash_bytes: int | None
    words: str
    """`tlsf (9.86 µs in mem_stress)`; of the only scenario `tlsf (9.86 µs)`."""


@dataclass(frozen=True)
class Standings:
    """`ranked`, the shortest wait first, are those that ran in all of `scenarios`, complete; the
    names of the others are `left_out`.
    """

    scenarios: tuple[str, ...]
    ranked: tuple[Standing, ...]
    left_out: tuple[str, ...]


def standings(lanes: Mapping[str, Sequence[Lane]]) -> Standings:
    """The allocators that keep interrupts waiting, by the worst of their waits in any scenario."""
    of_each: dict[tuple[str, str], dict[str, Waiter]] = {}
    for scenario, of_scenario in lanes.items():
        for waiter in (waiter for lane in of_scenario if lane.quantity is LATENCY for waiter in lane.waiters):
            manifest = waiter.series.run.manifest
            if manifest.complete:
                worst = of_each.setdefault((configuration(manifest), manifest.board_folder), {})
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
        where = {1: "", 2: " over both scenarios"}.get(count, f" over all {count} scenarios")
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
    return ByLimit(tuple(steps))


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


def answer(
    scenario: str, series: Sequence[Series], lanes: Sequence[Lane], *, legend: bool = True
) -> DotPlot | None:
    """A row a run, the worst first, on one axis of time. None where nothing waited.

    `lanes` are those of `series`. Of several on a page one has the `legend`.
    """
    if not lanes:
        return None
    waiters = [waiter for lane in lanes for waiter in lane.waiters]
    values = ((waiter.possible_ns, waiter.median_ns, waiter.bound_ns or 0.0) for waiter in waiters)
    axis, ramps = Axis(value for of_waiter in values for value in of_waiter), _ramps(series)
    drawn = tuple(
        DotLane(
            f"{lane.who[0].upper()}{lane.who[1:]} can wait{lane.work}",
            tuple(_row(lane, waiter, axis, ramps) for waiter in lane.waiters),
        )
        for lane in lanes
    )
    words = _LEGEND if legend else ""
    return DotPlot(f"{scenario}: who waits how long", "µs", axis.ticks, drawn, words, axis.ends_ns)


_MOST_POINTS = 48


def _ramps(series: Sequence[Series]) -> dict[str, Line]:
    """The worst critical section by depth of each run that has depths, by its id.

    Both axes go from 0 to 100, common to all: depths from the left, sections from the top.
    """
    tables = {member.run.id: member.run.worst_by_depth for member in series}
    ramps = {run: table for run, table in tables.items() if len(table) > 1}
    if not ramps:
        return {}
    deepest, longest = pl.concat(ramps.values()).max().row(0)
    part = (pl.col("depth") * _MOST_POINTS // float(deepest)).alias("part")
    lines = {}
    for run, table in ramps.items():
        thin = table.group_by(part).agg(pl.col("depth").last(), pl.col("wire_critical_ns").max()).sort("part")
        places = thin.select(
            x=100 * pl.col("depth") / float(deepest), y=100 - 100 * pl.col("wire_critical_ns") / longest
        )
        lines[run] = tuple((float(x), float(y)) for x, y in places.rows())
    return lines


class Axis:
    """A logarithmic axis from a little below the least value above 0 to a little above the
    greatest.

    `ticks` are the places of round values, from 0 to 100, and the µs that stand there: 1, 2 and 5
    of each power of ten; on a long one the powers.
    """

    def __init__(self, values_ns: Iterable[float]) -> None:
        positive = [value for value in values_ns if value > 0] or [1.0]
        self._low = math.log10(min(positive) / _ROOM)
        self._high = math.log10(max(positive) * _ROOM)
        self.ends_ns = 10**self._low, 10**self._high
        powers = range(math.floor(self._low), math.ceil(self._high) + 1)
        steps = _STEPS if self._high - self._low < 3 else _STEPS[:1]
        every = [step * 10.0**power for power in powers for step in steps]
        self.ticks = tuple(
            (self.percent(value), f"{value / 1000:,g}")
            for value in every
            if self._low <= math.log10(value) <= self._high
        )

    def percent(self, value_ns: float) -> float:
        """Where a value stands, from 0 to 100; values of 0 and below stand at 0."""
        if value_ns <= 0:
            return 0.0
        part = (math.log10(value_ns) - self._low) / (self._high - self._low)
        return min(max(100 * part, 0.0), 100.0)


def _row(lane: Lane, waiter: Waiter, axis: Axis, ramps: dict[str, Line]) -> DotRow:
    run, wait = waiter.series.run, waiter.wait
    key = worst_key(run, SECTION if wait.by == "section" else lane.quantity)
    cells = [f"possible {waiter.possible}: {held(waiter)}", seen(waiter)]
    cells.append(f"median {microseconds(waiter.median_ns)}")
    if waiter.bound_ns is not None:
        grows = ", which grows with the heap" if waiter.grows else ""
        cells.append(f"bound {microseconds(waiter.bound_ns)}{grows}")
        if waiter.possible_ns > waiter.bound_ns:
            cells.append("which leaves out what passes it: interrupts within the section, or a call")
    return DotRow(
        name=waiter.name,
        run_id=run.id,
        badge=waiter.lock,
        median_percent=axis.percent(waiter.median_ns),
        worst_percent=axis.percent(waiter.possible_ns),
        bound_percent=None if waiter.bound_ns is None else axis.percent(waiter.bound_ns),
        bound_grows=waiter.grows,
        text=wait.at_least + short(waiter.possible_ns, "ns"),
        value=waiter.possible_ns,
        sample=None if key is None else Sample(run.id, key),
        why="; ".join(cells),
        within_ns=wait.within_ns,
        ramp=ramps.get(run.id, ()),
        whole=wait.at_least + whole(waiter.possible_ns, "ns"),
    )
