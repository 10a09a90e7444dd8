"""Makes tables again, as their publications' files say: one engine for all of them.

A figure is an expression over the operations of a run, such as `allocations p99`, `allocations
min where depth = 252` or `allocations mean + frees mean / 2`, worked out from left to right; over
the seeds of a heap study, such as `used_bytes` or `used_bytes max`; or `constructions max` and
`constructions ratio`, over the instructions of constructions on this machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import isnan, log2, nan
from operator import add, sub, truediv
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from base.metrology.quantiles import nearest_rank
from firmware.build import catalogue
from firmware.build.host_heap import HostHeapError
from scenarios.generators.worst import CONSTRUCTIONS
from studies.reproduce import published
from studies.reproduce.beside import (
    Beside,
    Figures,
    MadeFigure,
    Place,
    Remade,
    over_placements,
    over_seeds,
)
from studies.reproduce.kept import Work
from studies.reproduce.measure import (
    EMPTY_SECTION,
    BoardRun,
    Footprints,
    HeapStudy,
    Levels,
    Spread,
    Text,
    WorstOnThisMachine,
    on_the_board,
    on_this_machine,
)
from studies.reproduce.published import Making, Part, PublishedTable, Source, Way

Measure = Callable[[Work], pl.DataFrame]
Costs = Mapping[str, float]
"""The fixed cost of an allocation and of a free, by kind."""
Made = Iterator[tuple[Place, MadeFigure | None]]
"""Figures as they are made; None where nothing occurred that has one."""

_PLACEMENTS = 16
"""Heap and rest at each pair of their places in a line of the flash once."""
_REMEMBERED = 320
"""Results. A figure has up to 304 behind it, and the next figure asks for most of them again."""
_BOARD = "virtual Nucleo-F401RE, 84 MHz, no stimulus, a heap of 65,536 bytes"
_PC_BYTES = 8 << 20
_MOST_SEEDS_WITHOUT_SEARCH = 24
_EMPTY_OF_CONSTRUCTIONS = "lifetimes_small"
"""The scenario of the fixed cost of constructions, which do not run on an empty section."""
_OPERATIONS = {
    "all": "TRUE",
    "measured": "measured",
    **dict.fromkeys(("allocations", "malloc"), "measured AND kind = 'A'"),
    **dict.fromkeys(("frees", "free"), "measured AND kind = 'F'"),
}
_CALCULATIONS: Mapping[str, Callable[[float, float], float]] = {"+": add, "-": sub, "/": truediv}


class Budget(NamedTuple):
    """The amount to run: 32 seeds of the allocators that a table has, and 8 of every other; cycles
    at 16 placements of the code of the former, and at 1 of the latter.

    `quick` runs only those that a table has, with 4 seeds, at 1 placement. `processes` share the
    work, and change nothing.
    """

    quick: bool = False
    processes: int = 1

    @property
    def seeds(self) -> int:
        """How many, for the allocators that a table has."""
        return 4 if self.quick else 32

    def placements(self, of_table: bool = True) -> int:
        """Of the code of an allocator that the table has, or of another."""
        return _PLACEMENTS if of_table and not self.quick else 1


def chosen(words: Sequence[str]) -> list[str]:
    """The tables that are named, each once; all without a name. Raises TailscopeError."""
    for word in words:
        published.find(word)
    return [name for name in published.tables() if not words or name in words]


def run(names: Sequence[str], budget: Budget, measure: Measure) -> Iterator[Beside]:
    """Each table as it is done, with what `measure` gives.

    Raises TailscopeError, and Stopped where a signal asks for the end.
    """
    measure = lru_cache(_REMEMBERED)(measure)
    for name in names:
        source, table = published.find(name)
        made = Beside(source, table)
        if table.making:
            made = replace(made, remade=Bench(source, table, table.making, budget, measure).remade())
        yield made


@dataclass(frozen=True)
class Bench:
    """A table, how it is made, and what measures. Its properties are what sentences name."""

    source: Source
    table: PublishedTable
    making: Making
    budget: Budget
    measure: Measure

    @property
    def ways(self) -> list[Way]:
        return self.making.way or self.source.way or [Way()]

    @property
    def seeds(self) -> int:
        """How many there are for the allocators that the table has."""
        most = self.budget.seeds
        return most if self.making.searches else min(most, _MOST_SEEDS_WITHOUT_SEARCH)

    @property
    def further(self) -> int:
        """How many there are for every other."""
        return min(self.budget.seeds, 8)

    @property
    def first_scenario(self) -> str:
        return next(iter(self.making.scenarios.values()))[0]

    @property
    def fixed(self) -> Costs:
        """The fixed costs of the first way."""
        return self.costs(Way(net=True, art=self.ways[0].art), self.first_scenario)

    @property
    def versions(self) -> str:
        """Those of rustc."""
        (part,) = self.table.part
        return ", ".join(sorted({self.measure(Text(row))["rustc"][0] for row in part.rows}))

    @property
    def refused(self) -> str:
        """On those that did not serve everything: their means are of less work."""
        way = self.ways[0]
        refusals = [
            f"{allocator} on {trace} {count:,}"
            for trace, names in self.making.scenarios.items()
            for allocator in self.board_rows(way).values()
            if (count := self.measure(self.board_run(way, allocator, names[0]))["kind"].eq("O").sum())
        ]
        return f"Requests that were refused, of 2,500: {', '.join(refusals)}." if refusals else ""

    def remade(self) -> Remade:
        """The table made again. Raises TailscopeError."""
        making, variants = self.making, {}
        for way in self.ways:
            figures = variants[way.name] = dict[Place, MadeFigure]()
            for recipe in making.by:
                made = _change(figures) if recipe == "change" else _RECIPES[recipe](self, way)
                figures |= {place: figure for place, figure in list(made) if figure}
        way, *_ = self.ways
        witnesses = {name: variants[way.name][place] for name, place in making.witnesses.items()}
        way = way.model_copy(update={"window": "instructions"})
        for row, allocator in self.source.names.items() if making.instructions else ():
            work = self.board_run(way, allocator, self.first_scenario)
            if figure := self.figure(way, [work], making.instructions):
                witnesses[f"instructions of {row}"] = figure
        made_from, *notes = (
            words.format(bench=self, board=_BOARD) for words in (making.made_from, *making.notes)
        )
        judged = [way.name for way in self.ways if way.judged]
        return Remade(variants, made_from, [*filter(None, notes)], judged, witnesses)

    def rows(self, able: Iterable[str], further: bool = True) -> dict[str, str]:
        """Each allocator by its name in the publication, or its own. First come the table's. One
        that is called as the publication calls another is left out.
        """
        names = {**{here: row for row, here in self.source.names.items()}, **self.making.names}
        usable = set(able) - set(self.source.names)
        if self.making.counts_probes:
            usable &= {name for name, row in catalogue.own().items() if "counts_probes" in row.promises}
        for name in sorted(usable) if further and not self.budget.quick else ():
            names.setdefault(name, name)
        return {row: name for name, row in names.items() if name in usable}

    def board_rows(self, way: Way) -> dict[str, str]:
        """The allocators that run on the board in this way."""
        rows = self.rows(on_the_board(), way.further)
        return {row: name for row, name in rows.items() if not way.own_format or name in self.source.knobs}

    def cells(self, rows: Iterable[str], on_host: bool = False) -> Iterator[tuple[Place, str, list[str]]]:
        """The place of each figure of these rows that is to be made, its expression, and the
        scenarios behind it; `worst TARGET` is a construction.
        """
        for part in self.table.part:
            for row, column in product(rows, part.columns):
                expression = _chosen(self.making.figures, column, part.title, row)
                names = _chosen(self.making.scenarios, column, part.title)
                if expression and names and expression.startswith("constructions") == on_host:
                    words = expression.format(operation=part.title.split(",")[0])
                    scenarios = [name for entry in names for name in _CONSTRUCTIONS.get(entry, [entry])]
                    yield (part.title, row, column), words, scenarios

    def board_run(self, way: Way, allocator: str, scenario: str, more: Mapping[str, int] = {}) -> BoardRun:
        """The run of a scenario, or of `worst TARGET`."""
        name, _, target = scenario.partition(" ")
        knobs = {} if way.own_format else self.source.knobs.get(allocator, {})
        return BoardRun(
            *(allocator, name, way.art, {"target": target} if target else {}),
            knobs={**knobs, **more},
            optimization=way.optimization,
        )

    def placed(self, run: BoardRun, count: int) -> list[pl.DataFrame]:
        """The operations of a run at so many placements. Raises ValueError where they end otherwise
        at one.
        """
        with ThreadPoolExecutor(self.budget.processes) as threads:
            works = (replace(run, placement=number) for number in range(count))
            first, *others = frames = list(threads.map(self.measure, works))
        if not all(frame["kind"].equals(first["kind"]) for frame in others):
            raise ValueError(f"{run} comes out otherwise at another placement.")
        return frames

    def costs(self, way: Way, scenario: str) -> Costs:
        """The fixed cost in the unit of the window: the mean on an empty section, and of cycles the
        median of those over placements.
        """
        if not way.net:
            return {"A": 0, "F": 0}
        scenario = _EMPTY_OF_CONSTRUCTIONS if scenario.startswith("worst") else scenario
        run = BoardRun(EMPTY_SECTION, scenario, way.art, optimization=way.optimization)
        frames = self.placed(run, self.budget.placements())
        means = [frame.group_by("kind").agg(pl.col(way.window).mean()) for frame in frames]
        return dict(pl.concat(means).group_by("kind").agg(pl.col(way.window).median()).iter_rows())

    def figure(
        self,
        way: Way,
        runs: Sequence[BoardRun],
        expression: str,
        resolution: float = 1,
        of_table: bool = True,
    ) -> MadeFigure | None:
        """The value of the expression over the operations of runs of one image; cycles are over the
        placements of its code. None where no such operation occurred.
        """
        costs = self.costs(way, runs[0].scenario)
        cost = pl.when(pl.col("kind") == "F").then(costs["F"]).otherwise(costs["A"])
        at_a_place = way.window.endswith("cycles")
        count = self.budget.placements(of_table) if at_a_place else 1
        of_runs = [self.placed(run, count) for run in runs]
        figures = []
        for frames in zip(*of_runs, strict=True):
            frame = pl.concat(frames, how="vertical_relaxed").with_columns(value=pl.col(way.window) - cost)
            value, n = _calculated(frame, expression)
            figures += [] if isnan(value) else [MadeFigure(value, n, resolution)]
        return over_placements(figures) if at_a_place and figures else next(iter(figures), None)

    def study(
        self, row: str, allocator: str, scenarios: Iterable[str], own_format: bool = False
    ) -> pl.DataFrame | None:
        """The heap studies of an allocator, one below the other, each over the seeds; None where
        there is none.
        """
        knobs = self.source.knobs.get(allocator, {})
        studies = [
            self.measure(
                HeapStudy(
                    *(allocator, scenario, self.further if row == allocator else self.seeds),
                    self.making.heap_bytes,
                    knobs={} if own_format else knobs,
                    searches=self.making.searches,
                    processes=self.budget.processes,
                )
            )
            for scenario in scenarios
            if knobs or not own_format
        ]
        # Without a search one that refused a request has no place beside the others.
        whole = [study for study in studies if self.making.searches or not study["failures"].sum()]
        return pl.concat(whole, how="vertical_relaxed") if whole else None


def _chosen(table: Mapping[str, Any], column: str, title: str, row: str = "") -> Any:
    """What the table has for a column, a row, a title or a word of it, or for all."""
    for name in (column, row, title):
        if name and name in table:
            return table[name]
    return next((entry for name, entry in table.items() if name in title), None)


_CONSTRUCTIONS = {
    "worst all": [f"worst {name}" for name in CONSTRUCTIONS],
    "worst frees": [f"worst {name}" for name, case in CONSTRUCTIONS.items() if case.frees],
    "worst allocations": [f"worst {name}" for name, case in CONSTRUCTIONS.items() if not case.frees],
}


def _calculated(frame: pl.DataFrame, expression: str) -> tuple[float, int]:
    """The value of an expression, no number where no such operation occurred; and of how many."""
    first, *rest = re.split(r" ([-+/]) ", expression)
    value, n = _term(frame, first)
    for sign, term in zip(rest[::2], rest[1::2], strict=True):
        other, count = _term(frame, term)
        value, n = _CALCULATIONS[sign](value, other), n + count
    return value, n


def _term(frame: pl.DataFrame, term: str) -> tuple[float, int]:
    """The value of a number, or of a statistic such as `allocations p99 where probes = 3`; and of
    how many samples.
    """
    if term.isdigit():
        return int(term), 0
    words, _, where = term.partition(" where ")
    operations, statistic = words.split()
    selected = frame.filter(pl.sql_expr(_OPERATIONS[operations]))
    if statistic == "held":
        # At how many depths the rule holds for the most of the trials.
        trials = selected.filter(pl.col("depth") >= 1)
        most = trials.group_by("depth").agg(pl.col("probes").max())
        return most.filter(pl.sql_expr(where)).height, trials.height
    selected = selected.filter(pl.sql_expr(where or "TRUE"))
    if statistic == "count":
        return selected.height, frame.height
    return _statistic(statistic, selected["value"].to_list())


_OF_SAMPLES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "stdev": stdev,
    "max": max,
    "min": min,
}


def _statistic(name: str, samples: Sequence[float]) -> tuple[float, int]:
    if not samples:
        return nan, 0
    if name == "first":
        return samples[0], 1
    if name.startswith("p"):
        return nearest_rank(np.sort(np.array(samples)), int(name[1:])), len(samples)
    return _OF_SAMPLES[name](samples), len(samples)


def _board(bench: Bench, way: Way) -> Made:
    """Figures of runs on the board."""
    rows = bench.board_rows(way)
    for place, expression, scenarios in bench.cells(rows):
        row, column = place[1:]
        runs = [bench.board_run(way, rows[row], name) for name in scenarios]
        resolution = bench.making.resolution.get(column, 1)
        yield place, bench.figure(way, runs, expression, resolution, row != rows[row])


def _knob(bench: Bench, way: Way) -> Made:
    """Figures of one allocator on the longest list; a row is a value of its knob."""
    part, (allocator, knob) = bench.table.part[-1], bench.making.knob.split()
    for row, column in product(part.rows, part.columns) if not way.own_format else ():
        run = bench.board_run(way, allocator, "worst list", {knob: int(row.split()[1])})
        yield (part.title, row, column), bench.figure(way, [run], bench.making.figures[column])


def _change(averages: Figures) -> Made:
    """The average operation's change to Buddy's, in percent of the reference's median."""
    for (title, row, column), average in averages.items():
        if column == "average operation":
            reference = averages[title, "Buddy", column].value
            least, most = (
                None if edge is None else 100 * (edge / reference - 1)
                for edge in (average.least, average.most)
            )
            change = replace(average, resolution=100 / reference, least=least, most=most)
            yield (title, row, "change %"), replace(change, value=100 * (average.value / reference - 1))


def _heap(bench: Bench, way: Way) -> Made:
    """Figures of heap studies over the seeds."""
    rows = bench.rows(on_this_machine(bench.making.heap_bytes))
    for place, expression, scenarios in bench.cells(rows):
        row, column = place[1:]
        study = bench.study(row, rows[row], scenarios, way.own_format)
        if study is None:
            continue
        resolution = bench.making.resolution
        step = resolution.get(column, resolution.get(expression, 1))
        key, *rest = expression.split()
        samples = study[key].to_list()
        if not rest:
            share = 100 / int(study["peak_live_bytes"].to_numpy().max())
            yield place, over_seeds(samples, share if key.endswith("_percent") else step)
        elif rest[0] == "of":
            reference = bench.study(rest[1], bench.source.names[rest[1]], scenarios, way.own_format)
            assert reference is not None
            pairs = zip(samples, reference[key], strict=False)
            yield place, over_seeds([None if a is None else a * 100 / b for a, b in pairs], step)
        else:
            value, n = _statistic(rest[0], samples)
            yield place, MadeFigure(value, n, step, samples=samples if rest[0] == "mean" else ())


def _peak(bench: Bench, way: Way) -> Made:
    """The live memory of traces, which is the same on every allocator."""
    part, (row, allocator) = bench.table.part[0], next(iter(bench.source.names.items()))
    for trace, scenarios in bench.making.scenarios.items() if way == bench.ways[0] else ():
        study = bench.study(row, allocator, scenarios)
        assert study is not None
        yield (part.title, trace, part.columns[0]), over_seeds(study["peak_live_bytes"], 1)


def _host(bench: Bench, _way: Way) -> Made:
    """The most instructions of constructions on this machine, or that over the least. Those that an
    allocator refuses are left out.
    """
    rows = bench.rows(on_this_machine(_PC_BYTES))
    for place, expression, scenarios in bench.cells(rows, on_host=True):
        row, column = place[1:]
        counts = []
        for name in scenarios:
            with suppress(HostHeapError):
                work = WorstOnThisMachine(rows[row], name.split()[1])
                counts.append(int(bench.measure(work)["instructions"][0]))
        if counts:
            value = max(counts) / min(counts) if expression.endswith("ratio") else max(counts)
            yield place, MadeFigure(value, len(counts), bench.making.resolution.get(column, 1))


def _footprint(bench: Bench, _way: Way) -> Made:
    """Bytes of images and of indexes, and what TLSF takes more."""
    whole, less = bench.table.part
    rows = bench.rows(on_the_board())
    sizes = {row: bench.measure(Footprints(name)).row(0, named=True) for row, name in rows.items()}
    for column, key in bench.making.figures.items():
        for row, of_row in sizes.items():
            if of_row[key] is not None:
                yield (whole.title, row, column), MadeFigure(of_row[key], 1, 1)
        difference = sizes["TLSF"][key] - sizes["SEGLIST"][key]
        yield (less.title, "TLSF less SEGLIST", column), MadeFigure(difference, 2, 1)


def _row(part: Part, row: str, numbers: Iterable[float]) -> Made:
    """The figures of a row, each of one sample."""
    for column, number in zip(part.columns, numbers, strict=False):
        yield (part.title, row, column), MadeFigure(number, 1, 1)


def _levels(bench: Bench, _way: Way) -> Made:
    """The largest request that is served, its bits, and the structure's size."""
    for fll, header, largest in bench.measure(Levels()).rows():
        yield from _row(bench.table.part[0], f"FLL {fll}", (largest.bit_length(), largest, header))


def _text(bench: Bench, _way: Way) -> Made:
    (part,) = bench.table.part
    for row in part.rows:
        yield from _row(part, row, bench.measure(Text(row))["bytes"])


def _bounds(bench: Bench, _way: Way) -> Made:
    """Used memory on the trace that a search found worst, and the deck's formula.

    M is the most that live blocks took at a time and m the largest block, in bytes, headers
    included. A formula in O() has no constant, and so no figure.
    """
    for row, allocator in {**bench.source.names, "FF by address": "first_fit_ordered"}.items():
        ((used, live, largest),) = bench.measure(Spread(allocator)).rows()
        binary = log2(largest)
        formulae = {"FF": 1 + binary, "FF by address": 1 + binary, "BB": 2 * binary}
        formula = [live * formulae[row]] if row in formulae else []
        yield from _row(bench.table.part[1], row, [used, live, largest, *formula])


def _ranges(bench: Bench, _way: Way) -> Made:
    """The slide's formula for its example of a list (i, j), with its J of 5."""
    (part,) = bench.table.part
    (row,) = part.rows
    octave, slot = map(int, row.strip("()").split(","))
    yield from _row(part, row, [2**octave + number * 2 ** (octave - 5) for number in (slot, slot + 1)])


def _suitability(bench: Bench, way: Way) -> Made:
    """The figures behind the words of the thesis, of all four traces."""
    (part,) = bench.table.part
    traces = bench.making.scenarios["traces"]
    for row, allocator in bench.rows(on_the_board(), further=False).items():
        runs = [bench.board_run(way, allocator, name) for name in (*traces, *_CONSTRUCTIONS["worst all"])]
        of_traces = (bench.figure(way, [run], "allocations mean + frees mean / 2") for run in runs[:4])
        averages = [figure for figure in of_traces if figure]
        average = over_seeds([figure.value for figure in averages], 1)
        worst = bench.figure(way, runs[4:], "allocations max")
        study = bench.study(row, allocator, traces)
        assert study is not None
        static_ram = bench.measure(Footprints(allocator))["static_ram"][0]
        overheads = static_ram + study["cost_metric_bytes"] - study["used_there_bytes"]
        numbers = (
            average and replace(average, placements=averages[0].placements),
            worst and replace(worst, n=len(runs[4:])),
            over_seeds(study["fragmentation_there_percent"], 0.01),
            over_seeds(overheads, 8),
        )
        for column, figure in zip(part.columns[2:], numbers, strict=True):
            yield (part.title, row, column), figure


_RECIPES: Mapping[str, Callable[[Bench, Way], Made]] = {
    "board": _board,
    "knob": _knob,
    "heap": _heap,
    "peak": _peak,
    "host": _host,
    "footprint": _footprint,
    "levels": _levels,
    "text": _text,
    "bounds": _bounds,
    "ranges": _ranges,
    "suitability": _suitability,
}
